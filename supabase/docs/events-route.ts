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
  // Your code. It keeps each webhook-id, and drops one that it has. Of subscription.updated it also keeps the greatest
  // data.version of the user, and drops a lower one.
  await apply(event);
  return Response.json({ received: true });
}
