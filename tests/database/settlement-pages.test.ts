import { beforeEach, describe, expect, test } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import { sha256 } from '../helpers/gateway/deliver.ts';

const database = useDatabase({ isEmptied: true, findings: 'compared elsewhere' });
/** 02:00 on 13 November in India. */
const createdAt = Date.parse('2026-11-12T20:30:00Z') / 1000;
const settlement = {
  id: 'setl_1',
  status: 'processed',
  amount: 1000,
  fees: 0,
  tax: 0,
  utr: 'UTR1',
  created_at: createdAt,
};
type Item = Record<string, unknown>;
type Page = { settlement_id: string; day: string; skip: number };

beforeEach(async () => {
  await database.query('truncate billing.settlements, billing.settlement_lines');
  await database.query('delete from billing.gateway_events');
  await database.at('2026-11-14T12:00:00Z');
});

const store = (fields: Item = {}) => database.rpc('apply_settlement', JSON.stringify({ ...settlement, ...fields }));
const claim = async () => (await database.rpc('claim_settlement_pages')).pages as Page[];
const apply = async ({ settlement_id, day, skip }: Page, items: Item[] | null) =>
  (await database.rpc('apply_settlement_page', settlement_id, day, skip, items && JSON.stringify(items))).is_complete;
const line = (n: number, fields: Item = {}): Item => (
  { entity_id: `pay_${n}`, type: 'payment', settlement_id: 'setl_1', amount: 100, credit: 100, ...fields }
);
/** Lines of another settlement: they fill a page. */
const others = (from: number) => Array.from({ length: 1000 }, (_, n) => line(from + n, { settlement_id: 'setl_2' }));
/** Reads all pages that are due with these answers. @returns the pages */
async function readAll(answer: (page: Page) => Item[] | null = () => []): Promise<string[]> {
  const read: string[] = [];
  for (let pages = await claim(); pages.length > 0; pages = await claim()) {
    for (const page of pages) {
      read.push(`${page.day} ${page.skip}`);
      await apply(page, answer(page));
    }
    if (read.length > 50) expect.fail('the list does not end');
  }
  return read;
}
const stored = () =>
  database.one(
    `select status, amount::integer, utr, lines_complete_at is not null as is_complete, next_read_at
     from billing.settlements where settlement_id = 'setl_1'`,
  );
const days = ['2026-11-12 0', '2026-11-13 0', '2026-11-14 0'];

describe('the lines of a settlement', () => {
  test('are read from the day before to the day after it, in India, until they add up', async () => {
    await store();
    const first = line(1, { credit: 400 });
    expect(await readAll(({ day }) => day === '2026-11-13' ? [first] : [])).toEqual(days);
    expect(await stored()).toMatchObject({ is_complete: false, next_read_at: new Date('2026-11-14T13:00:00Z') });
    expect(await claim()).toEqual([]);
    await database.at('2026-11-14T13:00:00Z');
    expect(await readAll(({ day }) => day === '2026-11-13' ? [first, line(2, { credit: 600 })] : []))
      .toEqual(days.slice(0, 2));
    expect(await stored()).toMatchObject({ is_complete: true, next_read_at: null });
    // They do not add up any more.
    await store({ amount: 1100 });
    expect(await readAll()).toEqual(days);
  });

  test('are not asked for of a day that has not begun', async () => {
    await database.at('2026-11-12T21:00:00Z');
    await store();
    expect(await readAll()).toEqual(days.slice(0, 2));
  });

  test('are read each hour for three days, then each day for a month, then not any more', async () => {
    await store();
    const reads: Date[] = [];
    for (let next = (await stored()).next_read_at; next instanceof Date; next = (await stored()).next_read_at) {
      await database.at(next.toISOString());
      expect(await readAll()).toEqual(days);
      reads.push(next);
    }
    const hours = reads.slice(1).map((at, index) => (at.getTime() - (reads[index]?.getTime() ?? 0)) / 3_600_000);
    expect(hours.filter((gap) => gap === 1)).toHaveLength(33);
    expect(hours.filter((gap) => gap === 24)).toHaveLength(27);
    expect(hours).toHaveLength(60);
    // After an outage of the gateway for two months they are read all the same.
    await database.query('delete from billing.settlements');
    await database.at('2027-02-01');
    await store();
    expect(await readAll()).toEqual(days);
    expect(await stored()).toMatchObject({ next_read_at: null });
  });

  test('are read by pages of 1000; a process that ended goes on behind the last page, when its lease is over', async () => {
    await store();
    const [page] = await claim();
    await apply(page ?? expect.fail(), [...others(0).slice(1), line(1)]);
    expect(await claim()).toEqual([{ settlement_id: 'setl_1', day: '2026-11-12', skip: 1000 }]);
    expect(await claim()).toEqual([]);
    await database.at('2026-11-14T12:05:00Z');
    expect(await readAll(({ skip }) => skip === 1000 ? [...others(1000).slice(1), line(2)] : [])).toEqual([
      ...['2026-11-12 1000', '2026-11-12 2000', ...days.slice(1)],
    ]);
    expect(await database.query('select entity_id from billing.settlement_lines order by 1')).toEqual([
      { entity_id: 'pay_1' },
      { entity_id: 'pay_2' },
    ]);
  });

  test('a page that comes twice, or of an older claim, changes nothing', async () => {
    await store();
    const [page = expect.fail()] = await claim();
    await apply(page, [line(1)]);
    const [next] = await claim();
    expect(next?.day).toBe('2026-11-13');
    expect(await apply(page, [line(2, { credit: 900 })])).toBe(false);
    expect(await database.one('select count(*)::integer from billing.settlement_lines')).toEqual({ count: 1 });
    expect(await apply(next ?? expect.fail(), [line(1), line(2, { credit: 900 })])).toBe(true);
  });

  test('two claims at once share the settlements, and neither waits', async () => {
    await store();
    await store({ id: 'setl_2' });
    const other = await database.connect();
    await other.query('begin');
    await other.query("select from billing.settlements where settlement_id = 'setl_1' for update");
    expect((await claim()).map(({ settlement_id }) => settlement_id)).toEqual(['setl_2']);
    await other.query('rollback');
    expect((await claim()).map(({ settlement_id }) => settlement_id)).toEqual(['setl_1']);
  });

  test('a list that repeats a page ends; one that the gateway does not have is empty, but not its later pages', async () => {
    await store();
    expect(await readAll(({ day }) => day === '2026-11-12' ? others(0) : null)).toEqual([
      ...['2026-11-12 0', '2026-11-12 1000', ...days.slice(1)],
    ]);
    await database.at('2026-11-14T13:00:00Z');
    const [page = expect.fail()] = await claim();
    await apply(page, others(0));
    const [later = expect.fail()] = await claim();
    await apply(later, null);
    await database.at('2026-11-14T13:05:00Z');
    expect(await claim()).toEqual([later]);
  });
});

describe('the webhook settlement.processed', () => {
  const deliver = (event: unknown) => {
    const body = JSON.stringify(event);
    return database.rpc('apply_gateway_event', sha256(body), 'evt_1', body);
  };
  const event = (entity: unknown) => ({
    event: 'settlement.processed',
    payload: { settlement: { entity } },
    created_at: createdAt,
  });

  test('writes the settlement, and its repeat nothing', async () => {
    expect(await deliver(event(settlement))).toMatchObject({ outcome: 'applied' });
    expect(await stored()).toMatchObject({ status: 'processed', amount: 1000, utr: 'UTR1', is_complete: false });
    const before = await database.one('select xmin::text from billing.settlements');
    expect(await deliver(event(settlement))).toMatchObject({ outcome: 'applied' });
    expect(await database.one('select xmin::text from billing.settlements')).toEqual(before);
    expect(await database.one('select subject_id from billing.gateway_events')).toEqual({ subject_id: 'setl_1' });
  });

  test.each<[string, unknown, string]>([
    ['no entity', null, 'ignored: settlement.entity'],
    ['a list', [settlement], 'ignored: settlement.entity'],
    ['no id', { ...settlement, id: null }, 'ignored: settlement.entity'],
    ['an empty id', { ...settlement, id: '' }, 'ignored: settlement.entity'],
    ['an amount as text', { ...settlement, amount: '1000' }, 'ignored: settlement.entity'],
    ['a huge amount', { ...settlement, amount: 1e30 }, 'ignored: settlement.entity'],
    ['a time of the far future', { ...settlement, created_at: 1e15 }, 'ignored: settlement.entity'],
    ['odd other fields', { ...settlement, utr: { a: 1 }, fees: 'none', tax: [] }, 'applied'],
  ])('with %s is 200', async (_, entity, outcome) => {
    expect(await deliver(event(entity))).toMatchObject({ outcome });
    expect(await database.query('select from billing.settlements')).toHaveLength(outcome === 'applied' ? 1 : 0);
  });

  test.each(['settlement.created', 'settlement.failed'])('%s is recorded and changes nothing', async (name) => {
    expect(await deliver({ ...event(settlement), event: name })).toMatchObject({
      outcome: 'ignored: not handled',
    });
  });
});
