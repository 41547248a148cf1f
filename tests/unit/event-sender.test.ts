import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { isPublicAddress } from '../../supabase/functions/api/config-fields.ts';
import { createEventSender } from '../../supabase/functions/api/outbox/event-sender.ts';
import { startReceiver } from '../helpers/outbox/receiver.ts';

const receiver = startReceiver();
afterAll(() => receiver.stop());
beforeEach(() => {
  receiver.arrivals.length = 0;
});

const [current, previous] = [1, 2].map((byte) => `whsec_${btoa(String.fromCharCode(byte).repeat(24))}`) as [
  string,
  string,
];
const payload = {
  type: 'payment.captured',
  timestamp: '2026-01-01T00:00:00.000Z',
  data: { user_id: 'a', amount: 99900 },
};
const row = { id: 41, key: 'evt_payment_captured_1', kind: 'payment.captured', payload };

async function send(answer: () => Response, secrets = [current, previous], sent = row) {
  receiver.answer = answer;
  const [attempt] = createEventSender({ url: `${receiver.url}/events`, secrets })([sent]);
  return await attempt?.deliver();
}

test('an event is signed with both secrets, and a receiver verifies it with either', async () => {
  expect(await send(() => new Response(null, { status: 204 }))).toEqual({ status: 'delivered' });
  const [arrival] = receiver.arrivals;
  const body = arrival?.text ?? '';
  const sent = Object.fromEntries(arrival?.headers ?? []);
  for (const secret of [current, previous]) expect(new Webhook(secret).verify(body, sent)).toEqual(payload);
  expect(() => new Webhook(`whsec_${btoa('3'.repeat(24))}`).verify(body, sent)).toThrow();
  expect(() => new Webhook(current).verify(`${body} `, sent)).toThrow();
  // By the standard's text, without its library.
  const signed = `${row.key}.${sent['webhook-timestamp']}.${body}`;
  const mac = createHmac('sha256', Buffer.from(current.slice(6), 'base64')).update(signed).digest('base64');
  expect(sent['webhook-signature']?.split(' ')[0]).toBe(`v1,${mac}`);
  expect(sent['webhook-id']).toBe(row.key);
});

test('a subscription has a version, which orders its events; a payment is a fact and has none', async () => {
  const state = { ...payload, type: 'subscription.updated' };
  await send(() => new Response(), [current], { ...row, payload: state });
  await send(() => new Response(), [current]);
  expect(receiver.arrivals.map(({ text }) => JSON.parse(text))).toEqual([
    { ...state, data: { ...state.data, version: 41 } },
    payload,
  ]);
});

test.each<[string, () => Response, object]>([
  ['500', () => new Response('', { status: 500 }), { status: 'failed', error: 'HTTP 500' }],
  ['a redirect', () => Response.redirect(receiver.url, 307), { status: 'failed', error: 'HTTP 307' }],
  ['401', () => new Response('', { status: 401 }), { status: 'failed', error: 'HTTP 401' }],
  ['404', () => new Response('', { status: 404 }), { status: 'failed', error: 'HTTP 404' }],
  ['410', () => new Response('', { status: 410 }), { status: 'refused', error: 'HTTP 410' }],
  [
    '429',
    () => new Response('', { status: 429, headers: { 'retry-after': '7' } }),
    { status: 'paused', error: 'HTTP 429', seconds: 7 },
  ],
])('%s: what becomes of the event', async (_, answer, delivery) => {
  expect(await send(answer)).toEqual(delivery);
  expect(receiver.arrivals).toHaveLength(1);
});

describe('EVENTS_URL', () => {
  test.each([
    'http://app.example.com',
    'https://localhost',
    'https://shop',
    'https://db.internal',
    'https://127.0.0.1',
    'https://2130706433',
    'https://0x7f.1',
    'https://10.1.2.3',
    'https://172.31.0.1',
    'https://192.168.1.1',
    'https://169.254.169.254',
    'https://100.64.0.1',
    'https://[::1]',
    'https://[::ffff:127.0.0.1]',
    'https://[fd00::1]',
  ])('%s is no public address', (url) => {
    expect(isPublicAddress(url)).toBe(false);
  });
  test.each(['https://app.example.com/events', 'https://172.32.0.1', 'https://8.8.8.8', 'https://[2606:4700::1]'])(
    '%s is one',
    (url) => {
      expect(isPublicAddress(url)).toBe(true);
    },
  );
});
