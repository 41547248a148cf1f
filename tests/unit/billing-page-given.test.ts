import { expect, test } from 'vitest';
import { en } from '../../supabase/client/blocks/billing-page/en.ts';
import { stateOf } from '../../supabase/client/blocks/billing-page/state.ts';
import { states } from '../browser/billing-page-states.ts';

const read = (name: string) => {
  const { current, plans } = states[name] ?? expect.fail(name);
  return stateOf(current, plans);
};

test('a tier that support wrote over a paid plan is the title, with its end and the charge of what goes on below it', () => {
  const { title, lines, price } = read('given');
  expect([title, price]).toEqual(['Premium', null]);
  expect(lines).toEqual([
    expect.stringMatching(/^You have it until \d+ \w+ \d{4}\.$/),
    expect.stringMatching(/^Your subscription goes on: the next charge is on \d+ \w+ \d{4} for ₹99\.00\.$/),
  ]);
});

test('such a tier lasts until the next charge or change at most; a grant lasts until its end', () => {
  const { current, plans } = states['given over a change'] ?? expect.fail('no state');
  const linesOf = (id: string | null) => {
    const subscription = current.subscription && { ...current.subscription, gateway_subscription_id: id };
    return stateOf({ ...current, subscription }, plans).lines;
  };
  expect(linesOf('sub_1')).toEqual([en.state.hasUntil(current.billing?.next?.starts_at ?? '')]);
  expect(linesOf(null)).toEqual([en.state.hasUntil(current.subscription?.current_period_end ?? '')]);
});

test('below such a tier a change is undone to the price that the customer pays for; without a known one it cannot be undone', () => {
  const { current, plans } = states['given over a change'] ?? expect.fail('no state');
  expect(stateOf(current, plans).next?.undoTo).toBe('pro_monthly');
  expect(stateOf(current, []).next?.undoTo).toBeNull();
  expect(read('scheduled').next?.undoTo).toBe('pro_monthly');
  expect(read('told the gateway').next?.undoTo).toBeNull();
});

test('what runs does not renew where the next charge is of another subscription, at another time', () => {
  const { current, plans } = states['monthly'] ?? expect.fail('no state');
  const { subscription, billing } = current;
  const linesOf = (id: string | null, days: number) => {
    const charge = new Date(Date.parse(subscription?.current_period_end ?? '') + days * 86_400_000).toISOString();
    const other = billing && { ...billing, gateway_subscription_id: id ?? 'sub_other', next_charge_at: charge };
    return stateOf({ ...current, billing: other }, plans).lines.map((line) => line.replace(/ on \d.*|\d.*/, ''));
  };
  const own = subscription?.gateway_subscription_id ?? null;
  expect(linesOf(null, 10)).toEqual(['Paid until ', 'Your subscription goes on: the next charge is']);
  expect(linesOf(null, 0)).toEqual(['Renews']);
  expect(linesOf(own, 10)).toEqual(['Renews']);
});
