import { expect, test } from 'vitest';
import { breakingChanges, type Rpc } from '../../scripts/release/rpcs.ts';

type Parameter = Rpc['parameters'][number];
const userId: Parameter = { name: 'p_user_id', type: 'uuid', isOptional: false };
const tier: Parameter = { name: 'p_tier', type: 'text', isOptional: true };
const rpc = (changes: Partial<Rpc> = {}): Rpc => ({
  name: 'grant',
  parameters: [userId, tier],
  returns: 'jsonb',
  callers: ['authenticated', 'service_role'],
  ...changes,
});

/** The changes from the released function to another. */
const changed = (changes: Partial<Rpc>) => breakingChanges([rpc()], [rpc(changes)]);

test('an unchanged function, a new one, and a new parameter with a default are additive', () => {
  const added: Parameter = { name: 'p_until', type: 'timestamp with time zone', isOptional: true };
  expect(breakingChanges([rpc()], [rpc(), rpc({ name: 'another' })])).toEqual([]);
  expect(changed({ parameters: [userId, tier, added] })).toEqual([]);
});

test('a parameter that becomes optional, another order of parameters, and a further caller are additive', () => {
  expect(changed({ parameters: [tier, { ...userId, isOptional: true }] })).toEqual([]);
  expect(changed({ callers: ['anon', 'authenticated', 'service_role'] })).toEqual([]);
});

test('a removed function is refused', () => {
  expect(breakingChanges([rpc()], [])).toEqual(['public.grant was removed']);
});

test('a removed or renamed parameter is refused', () => {
  expect(changed({ parameters: [userId] })).toEqual(['public.grant has no parameter p_tier any more']);
  expect(changed({ parameters: [userId, { ...tier, name: 'p_plan' }] })).toEqual([
    'public.grant has no parameter p_tier any more',
  ]);
});

test('a parameter of another type is refused', () => {
  expect(changed({ parameters: [{ ...userId, type: 'text' }, tier] })).toEqual([
    'The parameter p_user_id of public.grant is text instead of uuid',
  ]);
});

test('a new parameter without a default, and a default that is lost, are refused', () => {
  const added: Parameter = { name: 'p_reason', type: 'text', isOptional: false };
  expect(changed({ parameters: [userId, { ...tier, isOptional: false }, added] })).toEqual([
    'The parameter p_tier of public.grant has lost its default',
    'public.grant has the new parameter p_reason without a default',
  ]);
});

test('a result of another type, and a caller that lost its right, are refused', () => {
  expect(changed({ returns: 'json', callers: ['service_role'] })).toEqual([
    'public.grant returns json instead of jsonb',
    'authenticated may not call public.grant',
  ]);
});

test('a second function of the name is refused: a call would be ambiguous', () => {
  expect(breakingChanges([rpc()], [rpc(), rpc({ parameters: [userId] })])).toEqual([
    'public.grant exists more than once: drop the one with the old parameters',
  ]);
});
