/**
 * The gateway's API in its own process: `GET /v1/subscriptions/<id>`, after a delay. Some answers are 429 or 500.
 * `GET /figures` returns what it counted.
 */
import { writeLine } from '../../../scripts/stack/process/child.ts';
import { proGatewayPlanId } from '../gateway-bodies.ts';
import { gatewayEntity } from './subscriptions.ts';

/** What the gateway counted. `mostInASecond`: in any second, not only in full ones. */
export type GatewayFigures = {
  readonly calls: number;
  readonly refused: number;
  readonly mostInASecond: number;
  readonly mostOpen: number;
};

/** `at`: start of the benchmark, Unix seconds. `latency`: mean, milliseconds. `failures`: share of all answers. */
const { at, latency, failures } = JSON.parse(Deno.env.get('BENCH_GATEWAY') ?? '{}');
const calledAt: number[] = [];
let [refused, open, mostOpen] = [0, 0, 0];

async function answer(id: string): Promise<Response> {
  calledAt.push(performance.now());
  mostOpen = Math.max(mostOpen, ++open);
  // Evenly between 60 and 140 %; one in a hundred takes ten times as long.
  const delay = latency * (Math.random() < 0.01 ? 10 : 0.6 + Math.random() * 0.8);
  if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
  open -= 1;
  if (Math.random() < failures) {
    refused += 1;
    const status = Math.random() < 0.5 ? 429 : 500;
    const code = status === 429 ? 'BAD_REQUEST_ERROR' : 'SERVER_ERROR';
    return Response.json({ error: { code, description: 'Too many requests' } }, { status });
  }
  const entity = gatewayEntity(id, proGatewayPlanId, at);
  if (entity !== null) return Response.json(entity);
  return Response.json({ error: { code: 'BAD_REQUEST_ERROR' } }, { status: 400 });
}

function figures(): GatewayFigures {
  let mostInASecond = 0;
  let first = 0;
  for (const [last, time] of calledAt.entries()) {
    while (time - (calledAt[first] ?? time) >= 1000) first += 1;
    mostInASecond = Math.max(mostInASecond, last - first + 1);
  }
  return { calls: calledAt.length, refused, mostInASecond, mostOpen };
}

Deno.serve({
  hostname: '127.0.0.1',
  port: 0,
  onListen: ({ port }) => writeLine(JSON.stringify({ event: 'listening', port })),
}, (request) => {
  const { pathname } = new URL(request.url);
  const id = /^\/v1\/subscriptions\/([^/]+)$/.exec(pathname)?.[1];
  return id === undefined ? Response.json(figures()) : answer(decodeURIComponent(id));
});
