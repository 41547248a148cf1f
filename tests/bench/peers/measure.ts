import type { Postgres } from '../../../scripts/stack/postgres/postgres.ts';
import { withClient } from '../../helpers/database/postgres-client.ts';
import { withDurablePostgres } from '../durable-postgres.ts';
import { fire } from '../load.ts';
import { newUsers } from '../our-database.ts';
import { cpuSeconds, treeCpuSeconds } from '../process-usage.ts';
import { connectHttp } from '../systems.ts';
import { startOurSubjects } from './ours.ts';
import { peers, type Runtime } from './peer-process.ts';
import { startPeerSubject } from './peers.ts';
import { startHandWritten, startReaders } from './reads.ts';
import type { Started, Subject } from './subject.ts';

const connections = 8;
/** Repetitions that are not counted. */
const warmUps = 3;

/** The result of one repetition for one subject, per webhook. */
export type Run = {
  /** Milliseconds of CPU of the server. */
  readonly server: number;
  /** Milliseconds of CPU of all processes of Postgres. */
  readonly postgres: number;
};
export type Result = Pick<Subject, 'name' | 'peer'> & { readonly runs: Run[] };

/** The size of the comparison, and the runtimes of the peers. */
export type Scope = {
  readonly repetitions: number;
  /** Webhooks of a subject in each repetition: as many as there are subscribers, a multiple of ten. */
  readonly webhooks: number;
  /** How many other users have payments, and how many have payments and a subscription. */
  readonly others: number;
  readonly runtimes: readonly Runtime[];
};

/**
 * Compares the CPU per webhook of ours and of its peers, in alternation, on one Postgres server.
 * @returns the results, and a line for each peer that could not be started
 */
export function comparePeers(scope: Scope): Promise<{ results: Result[]; missing: string[] }> {
  return withDurablePostgres(async (postgres) => {
    const started: Started[] = [];
    const missing: string[] = [];
    try {
      const { subscribers } = newUsers(scope.webhooks);
      const others = newUsers(scope.others);
      const readers = await startReaders(others);
      started.push({ subjects: [], stop: readers.stop });
      started.push(await startOurSubjects(postgres, subscribers, others, readers));
      for (const peer of peers) {
        for (const runtime of scope.runtimes) {
          try {
            started.push(await startPeerSubject(peer, runtime, postgres, subscribers));
          } catch (error) {
            missing.push(`${peer} on ${runtime} could not be started: ${error}`);
          }
        }
      }
      for (const runtime of scope.runtimes) {
        try {
          started.push(await startHandWritten(runtime, postgres, others, readers));
        } catch (error) {
          missing.push(`Fastify on ${runtime} could not be started: ${error}`);
        }
      }
      const subjects = started.flatMap((one) => one.subjects);
      return { results: await measureSubjects(subjects, postgres, scope), missing };
    } finally {
      for (const { stop } of started) await stop();
    }
  });
}

/** Measures subjects in alternation. Their servers use the Postgres server. */
export async function measureSubjects(
  subjects: readonly Subject[],
  postgres: Postgres,
  { repetitions, webhooks }: Pick<Scope, 'repetitions' | 'webhooks'>,
): Promise<Result[]> {
  // It would run in the turn of another system, and count there.
  await withClient(postgres.url(), async (client) => {
    await client.query('alter system set autovacuum = off');
    await client.query('select pg_reload_conf()');
  });
  const measured = subjects.map((subject) => {
    const result: Result = { name: subject.name, peer: subject.peer, runs: [] };
    return { subject, result };
  });
  for (let repetition = 0; repetition < warmUps + repetitions; repetition += 1) {
    for (const { subject, result } of measured) {
      const run = await measure(subject, postgres, webhooks);
      if (repetition >= warmUps) result.runs.push(run);
    }
  }
  return measured.map(({ result }) => result);
}

async function measure(subject: Subject, postgres: Postgres, webhooks: number): Promise<Run> {
  const { requests, isApplied, untilSettled } = await subject.createBatch(webhooks);
  const clients = await Promise.all(Array.from({ length: connections }, () => connectHttp(subject.server.port, true)));
  const usage = () => ({ server: cpuSeconds(subject.server.pid), postgres: treeCpuSeconds(postgres.pid() ?? 0) });
  const before = usage();
  let next = 0;
  const { times } = await fire(connections, Infinity, (shooter) => {
    const request = requests[next++];
    const client = clients[shooter];
    return request && client && (() => client.send({ request, expected: subject.expected }));
  });
  await untilSettled?.();
  const after = usage();
  for (const client of clients) await client.close();
  if (times.length !== requests.length || !await isApplied()) throw new Error(`${subject.name}: not all were applied`);
  return {
    server: ((after.server - before.server) * 1000) / times.length,
    postgres: ((after.postgres - before.postgres) * 1000) / times.length,
  };
}
