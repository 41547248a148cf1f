import { afterAll, beforeAll, expect, test } from 'vitest';
import { localEnvironment } from '../../scripts/stack/defaults.ts';
import { functionVariables, readEnvironment } from '../../scripts/stack/function/environment.ts';

const urls = { gateway: 'http://127.0.0.1:4', mailbox: 'http://127.0.0.1:3', shop: 'http://127.0.0.1:6' };
const defaults = localEnvironment(urls);
let file: string;

beforeAll(async () => {
  file = await Deno.makeTempFile();
  await Deno.writeTextFile(file, 'GATEWAY_KEY_ID=from-file\nGATEWAY_KEY_SECRET=from-file\nGATEWAY_WEBHOOK_SECRET=\n');
});
afterAll(() => Deno.remove(file));

test('the process environment overrides .env, and .env overrides the defaults', async () => {
  const { GATEWAY_KEY_ID, GATEWAY_KEY_SECRET } = await readEnvironment(
    { GATEWAY_KEY_ID: 'from-process' },
    defaults,
    file,
  );
  expect([GATEWAY_KEY_ID, GATEWAY_KEY_SECRET]).toEqual(['from-process', 'from-file']);
});

test('an empty value is not replaced', async () => {
  const { GATEWAY_KEY_SECRET, GATEWAY_WEBHOOK_SECRET } = await readEnvironment(
    { GATEWAY_KEY_SECRET: '' },
    defaults,
    file,
  );
  expect([GATEWAY_KEY_SECRET, GATEWAY_WEBHOOK_SECRET]).toEqual(['', '']);
});

test('without .env the defaults apply', async () => {
  const environment = await readEnvironment({}, defaults, `${file}.absent`);
  expect(environment.GATEWAY_KEY_SECRET).toBe(defaults.GATEWAY_KEY_SECRET);
});

test('no other variable of the process is passed', async () => {
  const environment = await readEnvironment({ AWS_SECRET_ACCESS_KEY: 'x', SUPABASE_ACCESS_TOKEN: 'x' }, defaults, file);
  const names = [...await functionVariables(), ...Object.keys(defaults)];
  expect(Object.keys(environment).filter((name) => !names.includes(name))).toEqual([]);
});
