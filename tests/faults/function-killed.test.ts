import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFunction, type EdgeFunction } from '../../scripts/stack/function/function.ts';
import { functionEnvironment } from '../helpers/faults/fault-project.ts';
import { createCustomer, expectNothingHalfDone } from '../helpers/faults/fault-requests.ts';
import { useProject } from '../helpers/project/use-project.ts';

const project = useProject();
let edgeFunction: EdgeFunction;
beforeAll(async () => {
  edgeFunction = createFunction({ port: 0, env: functionEnvironment(project.apiUrl), log: () => {} });
  await edgeFunction.start();
  await edgeFunction.ready();
});
afterAll(() => edgeFunction.stop());

test('a function that is killed during twenty verifies leaves each of them complete or without effect', async () => {
  const running = {
    database: project.database,
    request: (path: string, init?: RequestInit) => fetch(edgeFunction.url + path, init),
  };
  const customers = await Promise.all(Array.from({ length: 20 }, () => createCustomer(running)));
  const [one] = customers;
  // One verify waits inside the database, so the function is killed while verifies are at different steps.
  const blocker = await project.database.connect();
  await blocker.query('begin');
  await blocker.query('select from auth.users where id = $1 for update', [one?.user.id]);
  const attempts = customers.map(({ send }) => send.verify());
  const settled = Promise.allSettled(attempts);
  await Promise.any(attempts);
  Deno.kill(edgeFunction.pid() ?? NaN, 'SIGKILL');
  await settled;
  await blocker.query('rollback');

  await edgeFunction.start();
  await edgeFunction.ready();
  await expectNothingHalfDone(project.database);
  for (const { send } of customers) expect(await send.verify()).toMatchObject({ status: 200 });
  await expectNothingHalfDone(project.database);
  const { mails } = await project.database.one(
    "select count(*)::int as mails from billing.outbox where kind = 'payment-success' and payload ->> 'to' = any ($1)",
    [customers.map(({ user }) => user.email)],
  );
  expect(mails).toBe(20);
});
