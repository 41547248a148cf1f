import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { applyFixes, proposals } from '../../scripts/doctor/apply-fixes.ts';
import { database as databaseCheck } from '../../scripts/doctor/checks/database.ts';
import { compiledPlans } from '../../scripts/doctor/checks/compiled-plans.ts';
import { features } from '../../scripts/doctor/checks/features.ts';
import { rowPolicies } from '../../scripts/doctor/checks/row-policies.ts';
import type { Context } from '../../scripts/doctor/context.ts';
import { findings } from '../../scripts/doctor/checks/findings.ts';
import { functionVersion } from '../../scripts/doctor/checks/function-version.ts';
import { gatewayKey } from '../../scripts/doctor/checks/gateway-key.ts';
import { gatewayPlans } from '../../scripts/doctor/checks/gateway-plans.ts';
import { migrations } from '../../scripts/doctor/checks/migrations.ts';
import { openOrders } from '../../scripts/doctor/checks/open-orders.ts';
import { prices } from '../../scripts/doctor/checks/prices.ts';
import { schedule, scheduleFindings } from '../../scripts/doctor/checks/schedule.ts';
import { credit, earlyRenewal } from '../../scripts/doctor/checks/settings.ts';
import { silence } from '../../scripts/doctor/checks/silence.ts';
import { sellerTimeZone } from '../../scripts/doctor/checks/time-zone.ts';
import { handledEvents } from '../../scripts/doctor/handled-events.ts';
import type { Project } from '../../scripts/doctor/project.ts';
import { runChecks } from '../../scripts/doctor/run-checks.ts';
import { migrationVersions } from '../../scripts/stack/postgres/migration-versions.ts';
import { root } from '../../scripts/stack/root.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { expectReport, hosted, local, patient, testReports } from './doctor.ts';
import { documentedPlan, emptyAccount, startGateway } from './fake-gateway.ts';
import { emptyProject, startManagementApi } from './fake-management-api.ts';
import { startFake } from './fake-server.ts';

const versions = await migrationVersions();
const [oldest = '', newest = ''] = [versions[0], versions.at(-1)];
const account = emptyAccount();
const managed = emptyProject();
/** The answer of `GET /api/health`. */
let health: Response;
const service = startFake(({ path }) => path === '/functions/v1/api/health' ? health.clone() : null);
const gateway = startGateway(account);
const api = startManagementApi(() => managed);
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await Promise.all([service, gateway, api].map((fake) => fake.stop()));
  await database.close();
});
beforeEach(() => {
  health = Response.json({ status: 'ok' }, { headers: { 'x-schema-version': newest } });
  Object.assign(account, emptyAccount());
  managed.secrets = {};
});

const project = (environment: Record<string, string> = {}): Project =>
  hosted({
    databaseUrl: database.url,
    functionsUrl: `${service.url}/functions/v1`,
    managementUrl: api.url,
    accessToken: 'sbp_token',
    environment,
  });
const payer = () => ({
  GATEWAY_API_URL: `${gateway.url}/`,
  GATEWAY_KEY_ID: account.keyId,
  GATEWAY_KEY_SECRET: 'the-key-secret',
});

describe('the check database', () => {
  const elsewhere = (changes: { password?: string; pathname?: string }) =>
    hosted({ databaseUrl: Object.assign(new URL(database.url), changes).href });

  testReports(databaseCheck, [
    [() => project(), /^pass Postgres 17[.]\d+ answers, as postgres$/],
    [
      () => elsewhere({ password: 'wrong' }),
      "fail the database can't be reached: the login is refused (28P01)",
      'DATABASE_URL',
    ],
    [() => elsewhere({ pathname: '/missing' }), "fail the database can't be reached: 3D000"],
  ]);

  test('fails, and the checks that need the database are skipped', async () => {
    const project = elsewhere({ pathname: '/missing' });
    await expectReport(findings, project, "skip the database can't be reached");
  });
});

describe('the checks schedule and findings', () => {
  test('pass without findings, and warn about each kind of finding with the number of its rows', async () => {
    await expectReport(
      schedule,
      project(),
      "pass nothing is missing, failing or overdue; the gateway's lists are not read yet: they are an hour after the installation",
    );
    await expectReport(findings, project(), 'pass billing.findings is empty');
    const { id } = await createUser(database);
    const setTier = (tier: string) =>
      database.query('update public.profiles set subscription_tier = $2 where user_id = $1', [id, tier]);
    await setTier('pro');
    await database.query('select billing.run_passes()');
    await expectReport(findings, project(), /^warn open: .*1 entitled_not_paid/);
    await setTier('free');
    await database.query('select billing.run_passes()');
  });

  test('fail the schedule with what is wrong there, not the findings; with the error where the schema is older', async () => {
    const kinds = scheduleFindings.filter((finding) => finding !== 'missing_part');
    await database.query('alter view billing.findings rename to real_findings');
    await expectReport(findings, project(), 'fail relation "billing.findings" does not exist (42P01)', 'migrations');
    await database.query(`
      create view billing.findings as
      select * from billing.real_findings
      union all
      select kind, 'subscriptions-sweep', null::uuid, null::timestamptz, null::jsonb, 'Do that.', null, null
      from unnest('{${kinds}}'::text[]) kind`);
    await database.query('grant select on billing.findings to subscriptions_support');
    const told = kinds.toSorted().map((finding) => `${finding}: subscriptions-sweep`);
    await expectReport(schedule, project(), `fail ${told.join('; ')}`, 'Do that.');
    await expectReport(findings, project(), 'pass billing.findings is empty');
    await database.query('drop view billing.findings');
    await database.query('alter view billing.real_findings rename to findings');
  });
});

describe('the versions', () => {
  const table = 'supabase_migrations.schema_migrations';
  const answering = (answer: Response) => () => {
    health = answer;
    return project();
  };
  const made = (headers: Record<string, string>) => answering(Response.json({ status: 'ok' }, { headers }));

  testReports(functionVersion, [
    [() => project(), `pass made for ${newest}`],
    [() => ({ ...project(), databaseUrl: null }), `pass made for ${newest}`],
    [
      made({ 'x-schema-version': '20260101000000' }),
      `fail the function is made for 20260101000000, not for ${newest}`,
      'functions deploy api',
    ],
    [made({}), `fail the function is made for an older schema, not for ${newest}`],
    [made({ 'x-schema-version': '29991231000000' }), /^warn .*29991231000000, newer/, 'Update this checkout.'],
    // The app has installed another version than this checkout.
    [
      () => ({ ...made({ 'x-schema-version': '20260101000000' })(), migrations: ['20260101000000'] }),
      'pass made for 20260101000000',
    ],
    [
      () => ({ ...made({ 'x-schema-version': newest })(), migrations: ['29990101000000'] }),
      `fail the function is made for ${newest}, not for 29990101000000`,
      'Run `npx supabase functions deploy api --use-api`.',
    ],
    [answering(new Response(null, { status: 503 })), 'fail GET /api/health answers 503'],
    [answering(new Response('<p>Log in</p>')), /^fail another server than the function answers at .*, with 200/],
  ]);

  test('of the database fail where it lacks migrations, not where it has newer ones of the app', async () => {
    await database.query(`insert into ${table} (version, name) values ('29991231000000', 'reports')`);
    await expectReport(migrations, project(), `pass applied up to ${newest}`);
    await database.query(`create table public.kept as select * from ${table}`);
    await database.query(
      `delete from ${table} where version in (select version from public.kept order by version desc limit 3)`,
    );
    const lacks = /^fail the database lacks 2 of \d+ migrations, the oldest \d{14}$/;
    await expectReport(migrations, project(), lacks, 'supabase db push');
    await expectReport(migrations, { ...project(), migrations: [oldest] }, `pass applied up to ${oldest}`);
    await database.query(`insert into ${table} select * from public.kept on conflict do nothing`);
    await database.query('drop table public.kept');
  });
});

test.each([[-120, 'ahead of'], [120, 'behind']])(
  'a clock of this machine that is %i s off is a warning of each check that reads another one',
  async (seconds, side) => {
    const now = Date.now;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + seconds * 1000);
    const results = await runChecks([databaseCheck, functionVersion, gatewayKey], project(payer()), patient);
    clock.mockRestore();
    const told = (part: string) =>
      expect.stringMatching(`^warn the clock of the ${part} is 1(1[89]|2[0-2]) s ${side} that of this machine$`);
    expect(results.map(({ status, message }) => `${status} ${message}`)).toEqual(
      ['database', 'function', 'gateway'].map(told),
    );
  },
);

describe.each([
  { check: earlyRenewal, name: 'EARLY_RENEWAL', column: 'early_renewal', is: 'replace', other: 'extend' },
  { check: credit, name: 'CREDIT', column: 'credit', is: 'on', other: 'off' },
])('the setting $column', ({ check, name, column, is, other }) => {
  test.each([{ [name]: is }, { [name]: '' }])('passes with %j', async (environment) => {
    await expectReport(check, project(environment), `pass the setting is ${is}`);
  });

  test('fails where the environment has another value, and its fix writes the setting', async () => {
    const given = project({ [name]: other });
    const message = `fail the setting ${column} is ${is}, and ${name} of this environment is ${other}`;
    await expectReport(check, given, message, `update billing.settings set ${column} = '${other}';`);
    const fixes = proposals(await runChecks([check], given));
    expect(fixes.map(({ fix }) => fix.title)).toEqual([`set ${column} to ${other} in billing.settings`]);
    expect(await applyFixes(given, fixes)).toEqual([]);
    await expectReport(check, given, `pass the setting is ${other}`);
    await database.query(`update billing.settings set ${column} = '${is}'`);
  });

  test('warns about a secret of the function with another value, is skipped with an invalid one', async () => {
    managed.secrets = { [name]: is };
    await expectReport(check, project(), `pass the setting is ${is}`);
    managed.secrets = { [name]: other };
    const message = `warn the secret ${name} has no effect: the setting of the database is ${is}`;
    await expectReport(check, project(), message, `supabase secrets unset ${name}`);
    await expectReport(check, project({ [name]: 'maybe' }), `skip ${name} is invalid`, `${is} or ${other}`);
  });
});

test('the time zone of months is that of the mails, and the fix writes it', async () => {
  await expectReport(sellerTimeZone, project(), 'pass months are those of UTC');
  await expectReport(
    sellerTimeZone,
    project({ EMAIL_TIME_ZONE: 'Etc/UTC' }),
    'pass months are those of UTC, as the days in mails',
  );
  await expectReport(
    sellerTimeZone,
    project({ EMAIL_TIME_ZONE: "Mars'" }),
    'skip EMAIL_TIME_ZONE is invalid',
    'Asia/Kolkata',
  );
  const given = project({ EMAIL_TIME_ZONE: 'Asia/Kolkata' });
  const message =
    'warn months are those of UTC, and mails name the days of Asia/Kolkata: a month from the 1st may end days early';
  await expectReport(sellerTimeZone, given, message, "update billing.settings set time_zone = 'Asia/Kolkata';");
  const fixes = proposals(await runChecks([sellerTimeZone], given));
  expect(fixes.map(({ fix }) => fix.title)).toEqual(['set time_zone to Asia/Kolkata in billing.settings']);
  expect(await applyFixes(given, fixes)).toEqual([]);
  await expectReport(sellerTimeZone, given, 'pass months are those of Asia/Kolkata, as the days in mails');
  await expectReport(sellerTimeZone, project({ EMAIL_TIME_ZONE: 'Asia/Calcutta' }), /^pass /);
  await database.query("update billing.settings set time_zone = 'UTC'");
});

test('the check open-orders warns about those of the last five days that another key created', async () => {
  const { id } = await createUser(database);
  const order = (keyId: string, age: string) =>
    database.query(
      `insert into public.payments (user_id, amount, gateway_order_id, gateway_key_id, created_at)
      values ($1, 100, $2, $3, now() - $4::interval)`,
      [id, uniqueId('order'), keyId, age],
    );
  await order('rzp_live_AbCdEfGhIjKlMn', '1 hour');
  await order('rzp_test_older', '6 days');
  await expectReport(openOrders, project(payer()), /^pass /);
  await order('rzp_test_older', '1 hour');
  const unknown = 'warn open orders of another key, unknown under this one: 1 of rzp_test_older';
  await expectReport(openOrders, project(payer()), unknown);
  await database.query('delete from public.payments');
});

test('the service handles each event of the gateway guide, and the doctor requires exactly these', async () => {
  const guide = await Deno.readTextFile(`${root}/supabase/docs/gateway.md`);
  const [, section = ''] = /### Events to subscribe to\n(.*?)\n##/s.exec(guide) ?? [];
  const named = [...section.matchAll(/`([a-z]+(?:[._][a-z_]+)+)`/g)].map(([, event]) => event);
  expect(named).toEqual([...handledEvents]);
  const ignored = await database.query(
    `select event from unnest($1::text[]) event
    where billing.apply_event(jsonb_build_object('event', event), '\\x00', now()) = 'ignored: not handled'`,
    [named],
  );
  expect(ignored).toEqual([]);
});

describe('the plans of the gateway', () => {
  const [id, yearly] = ['plan_00000000000001', 'plan_00000000000002'];
  const billed = (months: number | null, plans: Record<string, unknown>[] | null = [], also = '') => async () => {
    await database.query(
      `delete from public.plans where lookup_key is not null; update public.plans set price = 4900 where tier = 'basic'`,
    );
    const bill = "update public.plans set gateway_plan_id = $2, duration_months = $1 where tier = 'basic'";
    await database.query(bill, [months, id]);
    if (also !== '') await database.query(also);
    Object.assign(account, { hasPlans: plans !== null, plans });
    return project(payer());
  };
  const plan = (fields: Parameters<typeof documentedPlan>[1] = {}) => [documentedPlan(id, fields)];
  const price = (gatewayPlan: string | null) =>
    `insert into public.plans (tier, name, lookup_key, price, currency, duration_months, gateway_plan_id)
    values ('basic', 'Basic', 'basic_yearly', 50000, 'JPY', 12, ${gatewayPlan && `'${gatewayPlan}'`})`;
  const both = [...plan(), documentedPlan(yearly, { amount: 50000, currency: 'JPY', period: 'yearly' })];
  const matches = `pass basic (${id}) matches the plan at the gateway`;
  const differs = `fail the plan of basic (${id}) differs:`;

  testReports(gatewayPlans, [
    [() => project(payer()), 'pass no price is billed by the gateway'],
    [billed(1, plan()), matches],
    [billed(0, plan({ interval: 12 })), matches],
    [billed(1, plan({ amount: 4901 })), `${differs} ₹49.01 at the gateway, ₹49.00 here`, 'set plans.gateway_plan_id'],
    [billed(1, plan({ interval: 2 })), `${differs} monthly × 2 at the gateway, 1 months here`],
    [billed(1), `fail the gateway has no plan of basic (${id})`],
    [billed(1, null), 'fail the account at the gateway has no subscriptions'],
    [billed(1, both, price(yearly)), `${matches}; basic_yearly (${yearly}) matches the plan at the gateway`],
    [
      billed(1, [...plan(), documentedPlan(yearly, { amount: 50000 })], price(yearly)),
      `fail the plan of basic_yearly (${yearly}) differs: ₹500.00 at the gateway, ¥50,000 here, ` +
      'monthly × 1 at the gateway, 12 months here',
      'set plans.gateway_plan_id',
    ],
    [
      billed(1, plan(), price(null)),
      /^warn basic_yearly has no plan at the gateway, other prices/,
      'Make a plan there',
    ],
    [
      billed(1, plan({ amount: 1500001 }), "update public.plans set price = 1500001 where tier = 'basic'"),
      'warn a renewal of basic is ₹15,000.01: above ₹15,000 the customer confirms each debit with a PIN',
      'Offer a shorter interval',
    ],
    [billed(1, plan({ amount: 1500000 }), "update public.plans set price = 1500000 where tier = 'basic'"), matches],
  ]);
});

test('the check prices names each active price that the gateway does not charge, but not that of free', async () => {
  const passes = 'pass the gateway can charge each price on offer';
  await expectReport(prices, project(), passes);
  // Rows of before the rule.
  await database.query(`
    alter table public.plans disable trigger check_plan;
    insert into public.plans (tier, name, price, currency, rank, is_active)
    values ('free', 'Free', 0, 'INR', 1, true), ('gold', 'Gold', 50, 'INR', 1000, true), ('nothing', 'Nothing', 0, 'INR', 1000, true),
      ('dinar', 'Dinar', 1005, 'KWD', 1000, true), ('old', 'Old', 50, 'INR', 1000, false);
    alter table public.plans enable trigger check_plan`);
  const told = (key: string, amount: string) =>
    `${key} costs ${amount}, which the gateway does not charge: it is not listed`;
  const report = [told('dinar', 'KWD\u00a01.005'), told('gold', '₹0.50'), told('nothing', '₹0.00')].join('; ');
  await expectReport(prices, project(), `warn ${report}`, 'is_active to false');
  await database.query("delete from public.plans where tier in ('free', 'gold', 'nothing', 'dinar', 'old')");
  await expectReport(prices, project(), passes);
});

test('the check features names each feature that a policy asks for and no plan has', async () => {
  await expectReport(features, project(), 'pass no policy asks for a feature');
  await database.query(`
    create table public.reports (id integer);
    create policy "reports" on public.reports for select
    using ((select public.has_feature('reports')) or public.feature_limit('exports.csv') > 3);
    create policy "insert" on public.reports for insert with check (public.has_feature('reports'))`);
  const told = 'warn no plan has the feature "exports.csv", for which policies of public.reports ask';
  const remedy = 'add it to plans.entitlements';
  await expectReport(features, project(), `${told}; ${told.slice(5).replace('exports.csv', 'reports')}`, remedy);
  const give = 'update public.plans set entitlements = $1 where lookup_key is null';
  await database.query(give, [{ reports: null }]);
  await expectReport(features, project(), told, remedy);
  await database.query(give, [{ reports: false, 'exports.csv': 1 }]);
  await expectReport(features, project(), 'pass plans have each feature that policies ask for: 2');
  await database.query('drop table public.reports');
});

test('the check row-policies names each function that a policy calls for each row', async () => {
  await expectReport(rowPolicies, project(), 'pass policies that ask for access once a statement: 0');
  await database.query(`
    create table public.reports (id integer, tier text, note text);
    create policy "a" on public.reports for select using ((select public.has_feature('reports')));
    create policy "b" on public.reports for select
      using (tier = any ((select public.current_tiers())::text[]) and note <> '(select has_tier(' and (id > 1 or (select true)));
    create policy "c" on public.reports for insert with check (public.has_feature('reports'))`);
  await expectReport(rowPolicies, project(), 'pass policies that ask for access once a statement: 2');
  await database.query(`
    create policy "d" on public.reports for select using (public.has_tier_at_least(tier) or (select true));
    create policy "e" on public.reports for update using (note is null and public.current_tier() = tier)`);
  const told = (name: string, called: string) => `the policy "${name}" of public.reports calls ${called} for each row`;
  await expectReport(
    rowPolicies,
    project(),
    `warn ${told('d', 'has_tier_at_least')}; ${told('e', 'current_tier')}`,
    '(select public.has_tier_at_least(…))',
  );
  await database.query('drop table public.reports');
});

test('the check compiled-plans names roles and functions that a server compiles plans for', async () => {
  // The server of the tests can't compile. Here it says that it can.
  const compiling = {
    ...compiledPlans,
    run: (context: Context) =>
      compiledPlans.run({
        ...context,
        // Roles belong to the server: other tests make theirs beside this one.
        query: (sql, parameters) =>
          context.query(
            sql.replace('pg_jit_available()', 'true').replace('where not', 'where length(r.rolname) < 40 and not'),
            parameters,
          ),
      }),
  };
  await expectReport(compiledPlans, project(), 'pass the server compiles no plans');
  await expectReport(compiling, project(), 'pass the server compiles plans, but none of the service');
  await database.query(`
    create role support_asha in role subscriptions_support;
    alter function billing.findings_of(uuid) reset jit`);
  const told = ['for support_asha', 'of functions of the service, which take seconds then: 1'];
  await expectReport(
    compiling,
    project(),
    `warn ${told.map((what) => `the server compiles plans ${what}`).join('; ')}`,
    'alter role support_asha set jit = off;',
  );
  await database.query(`
    alter role support_asha set jit = off; alter function billing.findings_of(uuid) set jit = off`);
  await expectReport(compiling, project(), 'pass the server compiles plans, but none of the service');
  await database.query('drop role support_asha');
});

describe('the check silence', () => {
  const paid = (order_id: string | null, hours = 2, status = 'captured') => {
    const created_at = Math.floor(Date.now() / 1000) - hours * 3600;
    return { id: uniqueId('pay'), status, order_id, created_at };
  };
  /** An order of ours with an event that this number of webhooks announced, or without one. */
  const order = async (deliveries?: number) => {
    const id = uniqueId('order');
    await database.query('insert into public.payments (amount, gateway_order_id) values (100, $1)', [id]);
    const event = `insert into billing.gateway_events (body_sha256, event, subject_id, outcome, deliveries)
      values (sha256($1::text::bytea), 'order.paid', $1, 'already', $2)`;
    if (deliveries !== undefined) await database.query(event, [id, deliveries]);
    return id;
  };
  beforeEach(() => database.query('delete from public.payments; delete from billing.gateway_events'));
  afterAll(() => database.query('delete from public.payments; delete from billing.gateway_events'));

  test('passes where a webhook announced each of our paid orders', async () => {
    account.payments = [paid(await order(1)), paid('order_of_another_shop'), paid(null)];
    await expectReport(silence, project(payer()), 'pass 1 paid orders, each announced by a webhook');
  });

  test('fails where no webhook announced a paid order, also after its reconciliation', async () => {
    const [announced, reconciled, never] = [await order(2), await order(0), await order()];
    account.payments = [paid(announced), paid(reconciled), paid(never, 3, 'refunded')];
    const silent = [reconciled, never].sort().join(', ');
    const message = `fail paid at the gateway without a webhook here: 2 of 3 orders (${silent})`;
    await expectReport(silence, project(payer()), message, 'set its secret there to GATEWAY_WEBHOOK_SECRET');
  });

  test('passes where our orders were paid within the last hour, more than seven days ago, or not at all', async () => {
    account.payments = [paid(await order(), 0), paid(await order(), 8 * 24), paid(await order(), 2, 'failed')];
    await expectReport(silence, project(payer()), 'pass none of our orders was paid in the last seven days');
  });

  test('is skipped where the simulator lists no payments', async () => {
    const environment = { ...payer(), GATEWAY_API_URL: `${gateway.url}/older` };
    const simulated = local({ databaseUrl: database.url, environment });
    await expectReport(silence, simulated, 'skip the gateway simulator does not show its payments');
  });
});
