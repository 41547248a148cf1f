import { createCaptures } from '../peers/ours.ts';
import { fire } from '../load.ts';
import type { Users } from '../our-database.ts';
import { peakMegabytes, residentMegabytes } from '../process-usage.ts';
import { untilDelivered } from '../receivers.ts';
import type { Row } from '../report.ts';
import { connectHttp } from '../systems.ts';
import type { Shop } from './shop.ts';

const connections = 8;

/** The memory of the function after so many more webhooks, each with its mail. */
export async function measureMemory(name: string, shop: Shop, { buyers }: Users, webhooks: number): Promise<Row> {
  const { requests, isApplied } = await createCaptures(shop.url, buyers, webhooks);
  const clients = await Promise.all(Array.from({ length: connections }, () => connectHttp(shop.server.port, true)));
  let next = 0;
  await fire(connections, Infinity, (shooter) => {
    const request = requests[next++];
    const client = clients[shooter];
    return request && client && (() => client.send({ request, expected: '{"received":true}' }));
  });
  await untilDelivered(shop.url, shop.server.port);
  for (const client of clients) await client.close();
  if (!await isApplied()) throw new Error(`${name}: not all webhooks were applied`);
  const [resident, peak] = [residentMegabytes(shop.server.pid), peakMegabytes(shop.server.pid)].map(Math.round);
  return [`${name}: resident memory after ${webhooks} webhooks with mails; at most`, `${resident} MB; ${peak} MB`];
}
