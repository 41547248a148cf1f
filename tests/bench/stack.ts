/** Measures the start of the stack, and the speed and memory of the function. */
import { createFunction } from '../../scripts/stack/function/function.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { poolUrl, setPoolPassword } from '../helpers/database/pool-role.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { copyProject } from '../helpers/project/copy-project.ts';
import { sign } from '../helpers/gateway/sign.ts';
import { freeBasePort, npmStart } from '../stack/running-stack.ts';
import { milliseconds, type Row, seconds } from './report.ts';

const repetitions = 5;
const requests = 10_000;
const connections = 8;
const webhookSecret = 'bench-webhook-secret';

/** @returns the rows of the report. */
export async function benchStack(): Promise<Row[]> {
  const project = await copyProject();
  try {
    return await measure(project);
  } finally {
    await Deno.remove(project, { recursive: true });
  }
}

async function measure(project: string): Promise<Row[]> {
  const port = freeBasePort();
  const firstStarts: number[] = [];
  const laterStarts: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    firstStarts.push(await timeStart(project, ['--port', String(port), '--reset']));
    laterStarts.push(await timeStart(project, ['--port', String(port)]));
  }

  const stack = npmStart(['--port', String(port), '--ephemeral'], {}, project);
  const env = await stack.ready;
  const { DB_URL = '' } = env;
  await withClient(DB_URL, setPoolPassword);
  const firstAnswers: number[] = [];
  const firstAnswersOverPool: number[] = [];
  for (let i = 0; i < repetitions; i++) {
    firstAnswers.push(await timeFirstAnswer(env));
    firstAnswersOverPool.push(await timeFirstAnswer(env, { DATABASE_POOL_URL: poolUrl(DB_URL) }));
  }
  const memory = await measureMemory(env);
  await stack.end('not compared');

  return [
    ['`npm start`, first time, until `ready`', seconds(firstStarts)],
    ['`npm start`, data kept, until `ready`', seconds(laterStarts)],
    ['function, process start to first answer (health, one database round trip)', milliseconds(firstAnswers)],
    ['function over the pool, process start to first answer', milliseconds(firstAnswersOverPool)],
    [`function, resident memory after ${requests} webhooks at ${connections} connections`, `${memory.after} MB`],
    ['function, resident memory after the first half of them', `${memory.half} MB`],
    ['webhooks a second meanwhile', String(memory.rate)],
  ];
}

async function timeStart(project: string, args: string[]): Promise<number> {
  const started = performance.now();
  const stack = npmStart(args, {}, project);
  await stack.ready;
  const elapsed = performance.now() - started;
  await stack.end('not compared');
  return elapsed;
}

function startFunction(env: Record<string, string>, port: number, environment: Record<string, string> = {}) {
  return createFunction({
    port,
    env: {
      SUPABASE_URL: env.API_URL ?? '',
      SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: env.PUBLISHABLE_KEY }),
      SUPABASE_SECRET_KEYS: JSON.stringify({ default: env.SECRET_KEY }),
      GATEWAY_WEBHOOK_SECRET: webhookSecret,
      ...environment,
    },
    log: () => {},
  });
}

async function timeFirstAnswer(
  env: Record<string, string>,
  environment: Record<string, string> = {},
): Promise<number> {
  const port = freePort();
  const served = startFunction(env, port, environment);
  const started = performance.now();
  await served.start();
  // Polls the endpoint, so that the wait for the "listening" line is not part of the figure.
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => null);
    await response?.body?.cancel();
    if (response?.status === 200) break;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const elapsed = performance.now() - started;
  await served.stop();
  return elapsed;
}

async function measureMemory(env: Record<string, string>): Promise<{ half: number; after: number; rate: number }> {
  const served = startFunction(env, 0);
  await served.start();
  await served.ready();
  const pid = served.pid() ?? 0;
  const started = performance.now();
  await sendWebhooks(served.url, 0, requests / 2);
  const half = await residentMegabytes(pid);
  await sendWebhooks(served.url, requests / 2, requests);
  const after = await residentMegabytes(pid);
  const rate = Math.round(requests / ((performance.now() - started) / 1000));
  await served.stop();
  return { half, after, rate };
}

async function sendWebhooks(url: string, from: number, to: number): Promise<void> {
  let next = from;
  await Promise.all(Array.from({ length: connections }, async () => {
    while (next < to) {
      const id = `pay_bench${String(next++).padStart(9, '0')}`;
      const body = JSON.stringify({ event: 'payment.captured', payload: { payment: { entity: { id } } } });
      const response = await fetch(`${url}/api/webhooks/gateway`, {
        method: 'POST',
        headers: { 'x-gateway-signature': await sign(webhookSecret, body) },
        body,
      });
      const text = await response.text();
      if (text !== '{"received":true}') throw new Error(`${response.status} ${text}`);
    }
  }));
}

async function residentMegabytes(pid: number): Promise<number> {
  const { stdout } = await new Deno.Command('ps', { args: ['-o', 'rss=', '-p', String(pid)] }).output();
  return Math.round(Number(new TextDecoder().decode(stdout).trim()) / 1024);
}
