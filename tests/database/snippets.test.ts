import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, refundEvent } from '../helpers/gateway/events.ts';
import { createPayment, createUser } from '../helpers/records/records.ts';
import { act, openSupport } from '../helpers/records/support-actions.ts';

const folder = `${root}/supabase/snippets`;
const files = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

let database: TestDatabase;
let support: pg.Client;
beforeAll(async () => {
  // A lost dispute, so that there is something to attend to.
  database = await createTestDatabase({ findings: { dispute_lost: 1 } });
  const service = await openSession(database, { role: 'service_role' });
  support = await openSupport(database);
  const asha = await createUser(database, { email: 'asha@example.com' });
  const order = await createPayment(database, { userId: asha.id, orderId: 'order_sample' });
  const money = { id: 'pay_sample', order_id: order.orderId };
  await deliver(service, paymentCaptured(money));
  await deliver(service, refundEvent(money, 100));
  await database.query("update public.payments set dispute_status = 'lost' where id = $1", [order.id]);
  await act(support, { action: 'grant', email: asha.email, tier: 'premium', until: '2126-01-01Z' });
});
afterAll(() => database.close());

test('there are ten questions', () => {
  expect(files).toHaveLength(10);
});

test.each(files)(
  '%s asks a question, has one example value, and support gets an answer by one statement',
  async (file) => {
    const sql = await Deno.readTextFile(`${folder}/${file}`);
    const [head, ...lines] = sql.split('\n');
    const statement = lines.join('\n').trim();
    expect(head).toMatch(/^-- [A-Z].*\?$/);
    expect(statement.match(/;/g)).toEqual([';']);
    expect(statement.at(-1)).toBe(';');
    expect(statement.replace("'hex'", '').match(/'[^']*'/g)).toHaveLength(1);
    const { rows } = await support.query(statement);
    expect(rows.length).toBeGreaterThan(0);
  },
);
