import { expect, test } from 'vitest';
import { createStabilizer } from '../../scripts/release/stable-values.ts';

const one = '11111111-2222-4333-8444-555555555555';
const other = '99999999-2222-4333-8444-555555555555';
const end = '2026-10-31T12:00:00+00:00';
const create = () =>
  createStabilizer({
    randomIds: new Set([one, other]),
    from: new Date('2030-01-01T00:00:00Z'),
    until: new Date('2030-01-01T00:01:00Z'),
  }, end);

test('a random id gets the number of its first appearance, the same in every text', () => {
  const { stabilize } = create();
  expect(stabilize(`{"id":"${other}","key":"payment-success/${one}"}`)).toBe(
    '{"id":"bbbbbbbb-0000-4000-8000-000000000001","key":"payment-success/bbbbbbbb-0000-4000-8000-000000000002"}',
  );
  expect(stabilize(one)).toBe('bbbbbbbb-0000-4000-8000-000000000002');
});

test('other ids stay, such as those of users', () => {
  const id = 'aaaaaaaa-0000-4000-8000-000000000001';
  expect(create().stabilize(id)).toBe(id);
});

test('times of the run become the end of the sample, other times stay', () => {
  const { stabilize } = create();
  expect(stabilize('{"since":"2030-01-01T00:00:30.123456+00:00","at":"2030-01-01T00:02:00+00:00"}')).toBe(
    `{"since":"${end}","at":"2030-01-01T00:02:00+00:00"}`,
  );
});

test('the key of a revalidation loses its time and transaction', () => {
  const { stabilize } = create();
  expect(stabilize('revalidation/1893456030.5-1234 revalidation/1893456031-1235 revalidation/1893456030.5-1234')).toBe(
    'revalidation/sample-1 revalidation/sample-2 revalidation/sample-1',
  );
});

test('blank removes what differs, so that rows are sorted by what they say', () => {
  const { blank } = create();
  expect(blank(`${one} 2030-01-01T00:00:30Z revalidation/1893456030.5-1 2026-01-01T00:00:00Z`)).toBe(
    ` ${end}  2026-01-01T00:00:00Z`,
  );
});
