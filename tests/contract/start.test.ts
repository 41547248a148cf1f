import { afterEach, describe, expect, test, vi } from 'vitest';
import { schemaVersion } from '../../supabase/functions/api/generated/schema-version.ts';
import { startPostgresProxy } from '../helpers/database/postgres-proxy.ts';
import { startApiProxy } from '../helpers/http/api-proxy.ts';
import { call } from '../helpers/http/requests.ts';
import { type RunningService, startService } from '../helpers/project/targets.ts';
import { targets, useProject } from '../helpers/project/use-project.ts';
import { receiverEnvironment } from '../helpers/outbox/test-dispatcher.ts';

const project = useProject();
const older = '20261121000000';
const change = 'update supabase_migrations.schema_migrations set version = $2 where version = $1';
const missing = ['GATEWAY_KEY_ID', 'GATEWAY_KEY_SECRET', 'GATEWAY_WEBHOOK_SECRET'];

describe.each(targets)('%s', (target) => {
  let stop: (() => Promise<void>) | undefined;
  afterEach(() => stop?.());

  /** Starts the service, which asks the database for its schema version once. */
  async function start(environment: Record<string, string>): Promise<{ service: RunningService; calls: () => number }> {
    let calls = 0;
    const count = (rpc?: string) => {
      if (rpc === 'get_schema_version') calls += 1;
    };
    const api = startApiProxy(() => project.apiUrl, async (request, forwardRequest) => {
      const response = await forwardRequest();
      count(new URL(request.url).pathname.split('/').at(-1));
      return response;
    });
    const pool = startPostgresProxy(() => project.poolUrl, count);
    const service = await startService(target, { apiUrl: api.url, poolUrl: pool.url }, environment);
    stop = async () => {
      await service.stop();
      await api.stop();
      pool.stop();
    };
    await vi.waitFor(() => expect(calls).toBe(1), { timeout: 10_000 });
    return { service, calls: () => calls };
  }
  const lines = ({ log }: RunningService) => log.filter(({ event }) => event !== 'listening' && event !== 'request');

  test('the start with an older schema, settings of the database and without secrets → one line for each', async () => {
    await project.database.query(change, [schemaVersion, older]);
    const { version } = await project.database.one(
      'select max(version) as version from supabase_migrations.schema_migrations',
    );
    const { service } = await start({
      ...receiverEnvironment('http://127.0.0.1:9'),
      ...Object.fromEntries(missing.map((name) => [name, ''])),
      EARLY_RENEWAL: 'extend',
      CREDIT: 'off',
      EXPIRY_EMAILS: 'off',
      INTERNAL_KEY: 'pasted-with-a-line-break\n',
    });
    await vi.waitFor(() => expect(lines(service)).toHaveLength(6), { timeout: 10_000 });
    expect(lines(service)).toEqual([
      { level: 'warn', event: 'not_configured', missing: expect.arrayContaining(missing) },
      { level: 'error', event: 'white_space_around', variables: ['INTERNAL_KEY'] },
      { level: 'info', event: 'early_renewal_is_a_database_setting' },
      { level: 'info', event: 'credit_is_a_database_setting' },
      { level: 'info', event: 'expiry_emails_off' },
      {
        ...{ level: 'warn', event: 'schema_older_than_function', remedy: 'Run: npx supabase db push --remote' },
        ...{ schema_version: version, function_version: schemaVersion },
      },
    ]);
    await project.database.query(change, [older, schemaVersion]);
  });

  test('the start with an equal schema and all settings, and requests after it → no line, and no further call', async () => {
    const { service, calls } = await start({
      ...receiverEnvironment('http://127.0.0.1:9'),
      GATEWAY_API_URL: 'http://127.0.0.1:9',
      EARLY_RENEWAL: 'replace',
      CREDIT: 'on',
    });
    for (let request = 0; request < 3; request += 1) expect((await call(service, 'GET /api/health')).status).toBe(200);
    expect(calls()).toBe(1);
    expect(lines(service)).toEqual([]);
  });
});
