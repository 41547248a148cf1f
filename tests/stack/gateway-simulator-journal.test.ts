import { expect, onTestFinished, test } from 'vitest';
import { createJournal, removeJournal } from '../../scripts/stack/gateway/journal.ts';
import { approved, at, moveTo, stateOf, subscribe } from './billing-rig.ts';
import {
  answers,
  AUTHORIZATION,
  NOW,
  received,
  simulator,
  startSimulator,
  until,
  useSimulator,
} from './gateway-simulator-rig.ts';
import { call, createOrder, look, quiet, read, simulate } from './simulate.ts';

useSimulator();

/** The path of a journal in a new folder. */
async function newJournal(): Promise<string> {
  const folder = await Deno.makeTempDir();
  onTestFinished(() => Deno.remove(folder, { recursive: true }));
  return `${folder}/gateway.jsonl`;
}
const keyed = { 'authorization': AUTHORIZATION, 'x-refund-idempotency': 'one-two-three' };
/** What the simulator shows, but for the address of the endpoint, which is another one after each start. */
const shown = async () => {
  const { endpoint: { url: _, ...endpoint }, ...state } = await look('state');
  return { ...state, endpoint };
};

test('a restart keeps all that the simulator shows, and a subscription renews a month later', async () => {
  const journal = await newJournal();
  await startSimulator({ journal });
  await simulate('account', { fee_bearer: 'customer', offer: { percent: 10 } });
  await simulate('debit', { hours_before: 36 });
  const order = await createOrder({ receipt: 'kept' });
  const paid = await simulate('pay', { order_id: order.id, outcome: 'captured', ...quiet });
  await simulate('refund', { payment_id: paid.gateway_payment_id, amount: 100, ...quiet });
  await simulate('dispute', { payment_id: paid.gateway_payment_id, event: 'created', ...quiet });
  const [renewed, ending, failing] = [await approved(), await approved(), await approved()];
  await call('POST', `/v1/subscriptions/${ending}/cancel`, { cancel_at_cycle_end: true });
  await simulate('subscription-fault', { subscription_id: failing, charges: 'fail' });
  await moveTo('2026-01-20');
  const before = await shown();

  await startSimulator({ journal });
  expect(await shown()).toEqual(before);
  expect(before).toMatchObject({ ending_with_their_cycle: [ending], clock: { now: at('2026-01-20') } });

  await moveTo('2026-02-11', quiet);
  expect(await stateOf(renewed)).toBe('active 2026-02-10 to 2026-03-10, 2 paid, 10 left, next 2026-03-10');
  expect(await stateOf(ending)).toContain('cancelled');
  expect(await stateOf(failing)).toContain('pending 2026-02-10');
  const again = await call('POST', '/v1/orders', { amount: 99900, currency: 'INR', receipt: order.receipt });
  expect(again.body.error).toMatchObject({ description: 'The receipt has already been used.' });
});

test('a webhook that was not delivered is retried after a restart, and an asked refund is processed once', async () => {
  const journal = await newJournal();
  await startSimulator({ journal, firstRetryMs: 60_000 });
  const order = await createOrder();
  answers.push(500);
  const paid = await simulate('pay', {
    order_id: order.id,
    outcome: 'captured',
    deliver: { drop: ['order.paid', 'payment.authorized'] },
  });
  const [first] = await until(() => received.length === 1 && received);
  const path = `/v1/payments/${paid.gateway_payment_id}/refund`;
  const refund = (await call('POST', path, { amount: 100 }, keyed)).body;

  await startSimulator({ journal });
  const events = await until(() => received.length >= 2 && received.map(({ event }) => event));
  expect(events).toContain('payment.captured');
  const retried = received.find(({ event }) => event === 'payment.captured');
  expect([retried?.eventId, retried?.body]).toEqual([first?.eventId, first?.body]);
  const repeated = (await call('POST', path, { amount: 100 }, keyed)).body;
  expect(repeated.id).toBe(refund.id);
  await until(async () => (await read(`refunds?count=100`)).items[0].status === 'processed');
  expect((await read(`payments/${paid.gateway_payment_id}/refunds`)).count).toBe(1);
});

test('an endpoint that was switched off stays off', async () => {
  const journal = await newJournal();
  await startSimulator({ journal });
  await simulate('endpoint', { enabled: false });
  await startSimulator({ journal });
  expect((await shown()).endpoint).toMatchObject({ enabled: false, disabled_by: 'control' });
});

test('wherever a kill cuts the file, each whole line is there and the rest did not happen', async () => {
  const path = await newJournal();
  await startSimulator({ journal: path });
  await approved();
  await createOrder();
  await simulator.stop();
  const bytes = await Deno.readFile(path);
  const lines = new TextDecoder().decode(bytes).split('\n').slice(0, -1);
  expect(lines.length).toBeGreaterThan(2);
  for (let length = 0; length <= bytes.length; length += 97) {
    const whole = new TextDecoder().decode(bytes.slice(0, length)).split('\n').length - 1;
    await Deno.writeFile(path, bytes.slice(0, length));
    // A kill during the last start left its unfinished file.
    await Deno.writeTextFile(`${path}.new`, '[["orders"');
    const journal = createJournal(path);
    journal.value('after', '').current = 'written';
    journal.close();
    const entries = (await Deno.readTextFile(path)).trimEnd().split('\n').map((line) => JSON.parse(line)[0]);
    const expected = new Map(
      lines.slice(0, whole).flatMap((line) => JSON.parse(line)).map((
        [map, key, value]: string[],
      ) => [`${map} ${key}`, value]),
    );
    expect(new Map(entries.map(([map, key, value]) => [`${map} ${key}`, value]))).toEqual(
      expected.set('after ', 'written'),
    );
  }
});

test('a payment, its order and its webhooks are one line; a change costs its own size', async () => {
  const path = await newJournal();
  await startSimulator({ journal: path });
  for (let count = 0; count < 200; count++) await createOrder();
  const order = await createOrder();
  const before = (await Deno.readTextFile(path)).length;
  await simulate('pay', { order_id: order.id, outcome: 'captured', deliver: { drop: true } });
  const added = (await Deno.readTextFile(path)).slice(before);
  const changed = added.trimEnd().split('\n').map((line) => JSON.parse(line).map(([map]: string[]) => map));
  expect(changed.map((maps) => [...new Set(maps)])).toEqual([['orders', 'payments', 'deliveries']]);
  expect(added.length).toBeLessThan(20_000);
});

test('a damaged file is named with the remedy, and is deleted with what a start left beside it', async () => {
  const path = await newJournal();
  await Deno.writeTextFile(path, '[["debit","",1]]\nbroken\n[["debit","",2]]\n');
  expect(() => createJournal(path)).toThrow(`damaged (${path}, line 2): delete them with npm start -- --reset`);
  await Deno.writeTextFile(`${path}.new`, '');
  removeJournal(path);
  expect([...Deno.readDirSync(path.replace(/\/[^/]*$/, ''))]).toEqual([]);
  expect(createJournal(path).value('debit', 7).current).toBe(7);
});

test('without a file nothing is kept', async () => {
  await subscribe();
  await startSimulator();
  expect((await shown()).subscriptions).toEqual([]);
  expect(NOW).toBe((await shown()).clock.now);
});
