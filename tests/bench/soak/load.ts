import { createHmac } from 'node:crypto';
import { benchSecrets } from '../bench-project.ts';
import { capturedBody, type createBilling } from '../gateway-bodies.ts';
import { httpRequest, openHttpConnection } from '../http-connection.ts';
import { type Buyer, createItems } from '../workloads.ts';
import type { TestDatabase } from '../../helpers/database/test-database.ts';
import { insertOrders } from '../our-database.ts';
import { uniqueId } from '../../helpers/records/records.ts';

/** Requests a second. Four of ten are webhooks: 3.5 million a day. */
export const rate = 100;
const connections = 16;

type Kind = 'read' | 'verify' | 'webhook';
/** Of ten requests. The webhooks are three renewals and a purchase. */
const mix: readonly Kind[] = [
  'read',
  'webhook',
  'read',
  'webhook',
  'verify',
  'read',
  'webhook',
  'read',
  'webhook',
  'read',
];

/** What a load has shown. */
export type Shown = {
  /** Milliseconds from the time at which a request was due to its final answer. */
  readonly times: Record<Kind, number[]>;
  /** Answers that were not 200 and were sent again: with `retry-after`, and without. */
  refused: number;
  faulty: number;
  /** Ids of the events that were answered with 200. */
  readonly events: string[];
};

export const nothingShown = (): Shown => ({
  times: { read: [], verify: [], webhook: [] },
  refused: 0,
  faulty: 0,
  events: [],
});

/** What a load consists of. */
export type Source = {
  readonly database: TestDatabase;
  readonly buyers: readonly Buyer[];
  readonly nextCharge: ReturnType<typeof createBilling>;
};

/**
 * Sends requests at a constant rate over 16 connections, in turn to the ports. What is not answered with 200 is sent again
 * after a second, as the gateway does, until it is.
 */
export async function load(source: Source, ports: readonly number[], seconds: number, shown: Shown): Promise<void> {
  const requests = await createRequests(source, seconds * rate);
  const connect = (index: number) => openHttpConnection(ports[index % ports.length] ?? NaN);
  const start = performance.now();
  let next = 0;
  await Promise.all(Array.from({ length: connections }, async (_, index) => {
    let client = await connect(index);
    for (let number = next++; number < requests.length; number = next++) {
      const request = requests[number];
      const due = start + number * 1000 / rate;
      await wait(due - performance.now());
      if (request === undefined) return;
      for (;;) {
        const { status, head } = await client.send(request.bytes);
        if (status === 200) break;
        if (/\r\nretry-after: *\d/i.test(head)) shown.refused += 1;
        else shown.faulty += 1;
        // Another function may have a connection.
        client.close();
        client = await connect(index += 1);
        await wait(1000);
      }
      shown.times[request.kind].push(performance.now() - due);
      if (request.event !== undefined) shown.events.push(request.event);
    }
    client.close();
  }));
}

type Prepared = { readonly kind: Kind; readonly bytes: Uint8Array; readonly event?: string };

async function createRequests({ database, buyers, nextCharge }: Source, count: number): Promise<Prepared[]> {
  const project = { database, createToken: () => Promise.resolve('') };
  const of = (kind: Kind) => Math.ceil(count * mix.filter((each) => each === kind).length / mix.length);
  const [reads, verifies] = [
    await createItems(project, 'read', buyers, of('read')),
    await createItems(project, 'verify', buyers, of('verify')),
  ];
  const purchases = Array.from({ length: Math.ceil(of('webhook') / 4) }, () => ({
    id: uniqueId('pay'),
    order_id: uniqueId('order'),
  }));
  const client = await database.connect();
  await insertOrders(
    client,
    purchases.map((_, index) => buyers[index % buyers.length]?.id ?? ''),
    purchases.map(({ order_id }) => order_id),
  );
  await client.end();
  let webhooks = 0;
  return Array.from({ length: count }, (_, number) => {
    const kind = mix[number % mix.length] ?? 'read';
    if (kind !== 'webhook') return { kind, bytes: (kind === 'read' ? reads : verifies).pop()?.request ?? fail() };
    webhooks += 1;
    return { kind, ...webhook(webhooks % 4 === 0 ? capturedBody(purchases.pop() ?? fail()) : nextCharge()) };
  });
}

function webhook(body: string): { bytes: Uint8Array; event: string } {
  const event = uniqueId('evt');
  const signature = createHmac('sha256', benchSecrets.GATEWAY_WEBHOOK_SECRET).update(body).digest('hex');
  const headers = { 'x-gateway-signature': signature, 'x-gateway-event-id': event };
  return { bytes: httpRequest('POST', '/api/webhooks/gateway', headers, body), event };
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, milliseconds)));

function fail(): never {
  throw new Error('too few requests');
}
