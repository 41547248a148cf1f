import { afterAll, beforeAll, expect, test } from 'vitest';
import { localEnvironment } from '../../scripts/stack/defaults.ts';
import { functionVariables, readEnvironment } from '../../scripts/stack/function/environment.ts';

const urls = { gateway: 'http://127.0.0.1:4', mailbox: 'http://127.0.0.1:3', shop: 'http://127.0.0.1:6' };
const defaults = localEnvironment(urls, {
  GATEWAY_KEY_SECRET: 'key',
  GATEWAY_WEBHOOK_SECRET: 'webhook',
  INTERNAL_KEY: 'internal',
  EVENTS_SECRET: 'events',
});
let file: string;

beforeAll(async () => {
  file = await Deno.makeTempFile();
  await Deno.writeTextFile(file, 'GATEWAY_KEY_ID=from-file\nGATEWAY_KEY_SECRET=from-file\nGATEWAY_WEBHOOK_SECRET=\n');
});
afterAll(() => Deno.remove(file));

test.each<[string, Record<string, string>, (string | undefined)[]]>([
  ['overrides .env, which overrides the defaults', { GATEWAY_KEY_ID: 'process' }, ['process', 'from-file', '']],
  ['can be empty', { GATEWAY_KEY_SECRET: '' }, ['from-file', '', '']],
  ['passes no other variable', { AWS_SECRET_ACCESS_KEY: 'x' }, ['from-file', 'from-file', '']],
])('the process environment %s', async (_, process, expected) => {
  const environment = await readEnvironment(process, defaults, file);
  const { GATEWAY_KEY_ID, GATEWAY_KEY_SECRET, GATEWAY_WEBHOOK_SECRET } = environment;
  expect([GATEWAY_KEY_ID, GATEWAY_KEY_SECRET, GATEWAY_WEBHOOK_SECRET]).toEqual(expected);
  const names = [...await functionVariables(), ...Object.keys(defaults)];
  expect(Object.keys(environment).filter((name) => !names.includes(name))).toEqual([]);
});

test('GATEWAY=razorpay sets what is missing or empty, and the simulator stays', async () => {
  const environment = await readEnvironment({ GATEWAY: 'razorpay', EMAIL_TIME_ZONE: '' }, defaults, file);
  expect(environment).toMatchObject({
    GATEWAY_API_URL: urls.gateway,
    GATEWAY_SIGNATURE_HEADER: 'x-razorpay-signature',
    GATEWAY_EVENT_ID_HEADER: 'x-razorpay-event-id',
    EMAIL_TIME_ZONE: 'Asia/Kolkata',
  });
});

test('without .env the defaults apply', async () => {
  const environment = await readEnvironment({}, defaults, `${file}.absent`);
  expect(environment.GATEWAY_KEY_SECRET).toBe(defaults.GATEWAY_KEY_SECRET);
});
