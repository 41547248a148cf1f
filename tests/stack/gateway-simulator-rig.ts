import { afterEach, beforeEach } from 'vitest';
import { createGatewaySimulator } from '../../scripts/stack/gateway/gateway-simulator.ts';
import { anyUser } from '../helpers/gateway/any-user.ts';

export const KEY_SECRET = 'key-secret';
export const WEBHOOK_SECRET = 'webhook-secret';
export const AUTHORIZATION = `Basic ${btoa(`key_local:${KEY_SECRET}`)}`;
/** The gateway's time of each test until it moves the clock, in Unix seconds. */
export const NOW = Date.parse('2026-01-10T00:00:00Z') / 1000;

type Received = { body: string; eventId: string | null; signature: string | null; event: string };

/** The webhooks in the order of arrival; the answers to the next ones; and what releases the answers that wait. */
export const received: Received[] = [];
export const answers: (number | 'hang' | 'hang then 500')[] = [];
export const held: (() => void)[] = [];

let address = '';
/** Receives the webhooks of the running test, for all test files of this process. */
const receiver = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen() {} }, async (request) => {
  const body = await request.text();
  if (request.url !== address) return new Response();
  const { event } = body.startsWith('{') ? JSON.parse(body) : {};
  const header = (name: string) => request.headers.get(`x-gateway-${name}`);
  received.push({ body, event, eventId: header('event-id'), signature: header('signature') });
  const answer = answers.shift() ?? 200;
  if (typeof answer === 'number') return new Response(null, { status: answer });
  await new Promise<void>((resolve) => held.push(resolve));
  return new Response(null, { status: answer === 'hang' ? 200 : 500 });
});
receiver.unref();

const secrets = { keyId: 'key_local', keySecret: KEY_SECRET, webhookSecret: WEBHOOK_SECRET };
const settings = { ...secrets, port: 0, firstRetryMs: 5, now: () => NOW * 1000, isOwn: anyUser };
/** The simulator of the running test. */
export let simulator = createGatewaySimulator({ ...settings, webhookUrl: '' });

/** A new simulator for each test of the file. Its clock stands, and retries follow after milliseconds. */
export function useSimulator(): void {
  beforeEach(() => startSimulator());
  afterEach(async () => {
    await simulator.stop();
    releaseAll();
  });
}

/** Replaces the simulator of the running test by one with other settings. */
export async function startSimulator(
  changes: Partial<Parameters<typeof createGatewaySimulator>[0]> = {},
): Promise<void> {
  await simulator.stop();
  releaseAll();
  answers.length = received.length = 0;
  address = `http://127.0.0.1:${receiver.addr.port}/${crypto.randomUUID()}`;
  simulator = createGatewaySimulator({ ...settings, webhookUrl: address, ...changes });
  await simulator.start();
}

export const releaseAll = () => held.splice(0).forEach((release) => release());

/** Waits until a condition is not false, and returns its result. */
export async function until<Result>(condition: () => Result | false | Promise<Result | false>): Promise<Result> {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const result = await condition();
    if (result !== false) return result;
    if (Date.now() > deadline) {
      throw new Error(`still waiting; received ${received.map(({ event }) => event).join()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
