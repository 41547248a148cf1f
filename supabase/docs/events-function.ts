// Receives events: supabase/functions/events/index.ts of the app, with verify_jwt = false. `receive` serves in any runtime
// that has Request and Response.
import { Webhook } from 'npm:standardwebhooks@1.1.1';

Deno.serve((request) => receive(request, Deno.env.get('EVENTS_SECRET')!));

export async function receive(request: Request, secret: string): Promise<Response> {
  let event;
  try {
    event = new Webhook(secret).verify(await request.text(), Object.fromEntries(request.headers));
  } catch {
    return Response.json({ error: 'Unauthorized' }, { status: 401 });
  }
  // Your code. It keeps each webhook-id, and drops one that it has. Of subscription.updated it also keeps the greatest
  // data.version of the user, and drops a lower one.
  await apply(event);
  return Response.json({ received: true });
}
