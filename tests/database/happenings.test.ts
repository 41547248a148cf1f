import postgres from 'postgres';
import { expect, test } from 'vitest';
import { readHappenings } from '../../scripts/stack/postgres/happenings.ts';
import { useDatabase } from '../helpers/database/use-database.ts';

const database = useDatabase({ findings: 'compared elsewhere' });

test('what is read from the gateway and then told by its webhook happened once', async () => {
  await database.query(
    `insert into billing.gateway_events (body_sha256, event, subject_id, payload, outcome)
     select sha256((n || e.event || e.payload)::bytea), e.event, 'sub_1', jsonb_build_object('payload', e.payload), 'applied'
     from generate_series(1, 2) n
     cross join (values
       ('subscription.charged', '{"payment": {"entity": {"id": "pay_1"}}}'::jsonb),
       ('subscription.charged', '{"payment": {"entity": {"id": "pay_2"}}}'),
       ('subscription.cancelled', '{}')
     ) e (event, payload)
     where n = 1 or e.payload #>> '{payment,entity,id}' is distinct from 'pay_2'`,
  );
  const sql = postgres(database.url, { max: 1 });
  expect(await readHappenings(sql, 0)).toBe('cancelled 1, charged 2');
  await sql.end();
});
