import type { BillingProject } from './billing-project.ts';

/**
 * Lets time pass. Everything happens when it is due: charges, retries, messages to the gateway, ends.
 * @param after runs whenever something has happened
 */
export async function passUntil(
  billing: BillingProject,
  time: string,
  after = () => Promise.resolve(),
): Promise<void> {
  const target = Date.parse(time) / 1000;
  // What was asked for is done within a minute.
  await billing.runSchedule();
  await after();
  while (billing.now() < target) {
    const due = (await dueTimes(billing)).filter((at) => at > billing.now()).map((at) => at + 60);
    await billing.moveOn((Math.min(target, ...due) - billing.now()) / 3600);
    await billing.runSchedule();
    await after();
  }
}

async function dueTimes({ database, readDue }: BillingProject): Promise<number[]> {
  const rows = await database.query(
    `select ceil(extract(epoch from due.at))::float8 as at from (
       select o.next_attempt_at as at from billing.outbox o
       where o.destination = 'gateway' and o.delivered_at is null and o.parked_at is null
       union all select s.due_at from public.subscriptions s
     ) due where due.at > billing.clock()`,
  );
  const { next_at: next } = await readDue();
  return [...rows.map(({ at }) => Number(at)), ...(typeof next === 'number' ? [next] : [])];
}
