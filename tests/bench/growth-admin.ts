/** Measures what an admin reads, on the databases of `growth.ts`. */
import { createConsole } from '../../scripts/console/console.ts';
import { openRoles, supportUrl } from '../../scripts/stack/postgres/local-roles.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import type { TestDatabase } from '../helpers/database/test-database.ts';
import { enter } from '../helpers/http/enter-console.ts';
import { percentile } from './load.ts';

/** A database with that number of payments. */
export type Sized = { readonly payments: number; readonly database: TestDatabase };
export type Customer = { readonly id: string; readonly email: string; readonly order: string; readonly name: string };

const customers = 100;

/** Customers at random. */
export async function sampleCustomers(database: TestDatabase): Promise<Customer[]> {
  const rows = await database.query(
    `select u.id, u.email, p.username as name,
       (select coalesce(o.gateway_order_id, o.gateway_payment_id) from public.payments o where o.user_id = u.id limit 1) as order
     from (select id, email from auth.users order by random() limit ${customers}) u
     join public.profiles p on p.user_id = u.id`,
  );
  return rows.map(({ id, email, order, name }) => ({
    id: String(id),
    email: String(email),
    order: String(order),
    name: String(name),
  }));
}

/** What an admin or the console asks, as SQL text with the values in it: Studio prepares no statement. */
export const questions: Record<string, (customer: Customer) => string> = {
  'a customer, by e-mail': ({ email }) => `select * from billing.customers where email = '${email}'`,
  'a timeline, by e-mail': ({ email }) => `select * from billing.timeline where email = '${email}' order by at, rank`,
  'a timeline, by user id': ({ id }) => `select * from billing.timeline where user_id = '${id}' order by at, rank`,
  'the periods of a customer': ({ id }) => `select * from billing.periods where user_id = '${id}'`,
  'the payments of a customer': ({ id }) =>
    `select * from billing.customer_payments where user_id = '${id}' order by at`,
  'search by the beginning of an address': ({ email }) =>
    `select * from billing.search_customers('${email.slice(0, 3)}')`,
  'search by an order': ({ order }) => `select * from billing.search_customers('${order}')`,
  'search by a part of a name': ({ name }) => `select * from billing.search_customers('${name.slice(1)}')`,
  'the newest 200 webhooks': () => 'select * from billing.webhooks order by received_at desc limit 200',
  'the newest 200 messages': () => 'select * from billing.messages order by id desc limit 200',
  'the state of the service': () => 'select * from billing.service_state',
  'the findings, a page': () => 'select * from billing.findings order by since nulls first, finding, subject limit 101',
  'revenue by month': () => 'select * from billing.revenue_monthly',
  'active customers by month': () => 'select * from billing.active_monthly',
};

/** What the page of the console reads over HTTP while a person types or clicks. */
const pages: Record<string, (customer: Customer) => string> = {
  'console: search by the beginning of an address': ({ email }) => `/customers?q=${email.slice(0, 3)}`,
  'console: search by an order': ({ order }) => `/customers?q=${order}`,
  'console: search by a part of a name': ({ name }) => `/customers?q=${name.slice(1)}`,
  'console: a customer': ({ id }) => `/customers/${id}`,
  'console: today': () => '/today',
  'console: revenue': () => '/revenue',
};

/** @returns the table of the console: p50 and least of ninety customers, one after another */
export async function benchAdmin(sized: readonly Sized[]): Promise<string> {
  const columns: Map<string, string>[] = [];
  for (const each of sized) columns.push(await measure(each));
  const names = [...columns[0]?.keys() ?? []];
  return [
    `| over HTTP | ${sized.map(({ payments }) => `${payments} payments and charges`).join(' | ')} |`,
    `|---|${sized.map(() => '---|').join('')}`,
    ...names.map((name) => `| ${name} | ${columns.map((column) => column.get(name)).join(' | ')} |`),
    '',
  ].join('\n');
}

async function measure({ database }: Sized): Promise<Map<string, string>> {
  const cells = new Map<string, string>();
  const sample = await sampleCustomers(database);
  const { read, stop } = await openConsole(database.url);
  for (const [name, path] of Object.entries(pages)) {
    const times = [];
    for (const customer of sample) times.push(await read(path(customer)));
    // A session plans the statements inside functions at its first calls.
    cells.set(name, cell(times.slice(10)));
  }
  await stop();
  const firsts: number[] = [];
  for (const customer of sample.slice(0, 5)) firsts.push(await firstQuestion(database, customer));
  cells.set('the first customer of a connection, by e-mail', cell(firsts));
  return cells;
}

/** Starts the console. `read` reads a path of its API, and returns the time in milliseconds. @throws where no row comes */
async function openConsole(databaseUrl: string) {
  await openRoles(databaseUrl, ['subscriptions_support']);
  const service = createConsole({ port: 0, databaseUrl: supportUrl(databaseUrl), appUrl: 'https://app.example' });
  await service.start();
  const [, cookie] = await enter(service.entryUrl);
  const read = async (path: string): Promise<number> => {
    const start = performance.now();
    const answer = await fetch(`${service.url}/api${path}`, { headers: { cookie } });
    const rows = await answer.json();
    const time = performance.now() - start;
    if (!answer.ok || rows.length === 0) throw new Error(`${path} → ${answer.status} without rows`);
    return time;
  };
  return { read, stop: () => service.stop() };
}

const cell = (times: number[]) => `${percentile(times, 0.5).toFixed(1)} ms (${Math.min(...times).toFixed(1)})`;

/** The time of the first question on a new connection in milliseconds. @throws when it returns no row */
async function firstQuestion({ url }: TestDatabase, customer: Customer): Promise<number> {
  return await withClient(url, async (client) => {
    const start = performance.now();
    const { rowCount } = await client.query(questions['a customer, by e-mail']?.(customer) ?? '');
    if (rowCount === 0) throw new Error('no rows');
    return performance.now() - start;
  });
}
