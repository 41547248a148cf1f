// Receives events: app/api/events/route.ts of a Next.js app with the package standardwebhooks.
import { Webhook } from 'standardwebhooks';

export async function POST(request: Request) {
  const webhook = new Webhook(process.env.EVENTS_SECRET!);
  let event;
  try {
    event = webhook.verify(await request.text(), Object.fromEntries(request.headers));
  } catch {
    return Response.json({ error: 'Unauthorized' }, { status: 401 });
  }
  await apply(event); // your code: keep data.version, and drop an older one
  return Response.json({ received: true });
}
