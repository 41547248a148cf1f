import { beforeAll, expect, test } from 'vitest';
import { renderEmail } from '../../supabase/functions/api/outbox/render-email.ts';
import { useShop } from '../helpers/gateway/shop.ts';
import { call, send } from '../helpers/http/requests.ts';
import { poolThenRest, useProject } from '../helpers/project/use-project.ts';

// The real gateway's cycles end at midnight in India: 18:30 in UTC, where the day before is not over.
const project = useProject();
const { database, newUser } = project;
const shop = useShop(poolThenRest, project);
beforeAll(() => database.query("update public.plans set gateway_plan_id = 'plan_' || tier where tier = 'basic'"));

const dayIn = (at: string, timeZone: string) =>
  new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone }).format(new Date(at));

test('POST /api/subscriptions/cancel of a cycle that ends at midnight in India → the mail names the Indian day with EMAIL_TIME_ZONE', async () => {
  await shop.simulate('cycles', { end_at: 'india_midnight' });
  await shop.price('plan_basic', 4900);
  const user = await newUser();
  const { body } = await call(shop, 'POST /api/subscriptions', { user, body: { tier: 'basic' } });
  const paid = await shop.authorise(body.subscription.id, { drop: true });
  expect((await send(shop, 'POST /api/payments/verify', { user, body: paid })).status).toBe(200);
  const cancelled = await call(shop, 'POST /api/subscriptions/cancel', { user, body: { at_period_end: true } });
  const end = cancelled.body.subscription.current_period_end;
  expect(end).toMatch(/T18:30:00/);

  const [mail, ...others] = await database.query(
    `select kind, payload from billing.outbox
     where destination = 'email' and payload ->> 'to' = $1 and kind <> 'payment-success'`,
    [user.email],
  );
  expect(others).toEqual([]);
  const textIn = async (timeZone: string) =>
    (await renderEmail({ kind: String(mail?.kind), payload: mail?.payload }, {
      appUrl: 'https://app.example',
      timeZone,
    })).text;
  const [indian, other] = ['Asia/Kolkata', 'UTC'].map((zone) => dayIn(end, zone));
  expect(indian).not.toBe(other);
  expect(await textIn('Asia/Kolkata')).toContain(indian);
  expect(await textIn('Asia/Kolkata')).not.toContain(other);
  expect(await textIn('UTC')).toContain(other);
});
