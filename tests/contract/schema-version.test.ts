import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { schemaVersion } from '../../supabase/functions/api/generated/schema-version.ts';
import { type ApiProxy, startApiProxy } from '../helpers/http/api-proxy.ts';
import { type PostgresProxy, startPostgresProxy } from '../helpers/database/postgres-proxy.ts';
import { everyTarget, type RunningService, startService } from '../helpers/project/targets.ts';
import { useProject } from '../helpers/project/use-project.ts';

const project = useProject();
const older = '20261121000000';
const setVersion = (from: string, to: string) =>
  project.database.query('update supabase_migrations.schema_migrations set version = $2 where version = $1', [
    from,
    to,
  ]);

// Only served targets: `index.ts` runs the check, and it does not run in process.
describe.each(everyTarget.filter((target) => target.startsWith('served')))('%s', (target) => {
  let calls = 0;
  let api: ApiProxy;
  let pool: PostgresProxy;
  let service: RunningService;

  async function start(): Promise<void> {
    const count = (rpc: string | undefined) => {
      if (rpc === 'get_schema_version') calls += 1;
    };
    api = startApiProxy(() => project.apiUrl, async (request, forwardRequest) => {
      const response = await forwardRequest();
      count(new URL(request.url).pathname.split('/').at(-1));
      return response;
    });
    pool = startPostgresProxy(() => project.poolUrl, count);
    service = await startService(target, { apiUrl: api.url, poolUrl: pool.url });
    await vi.waitFor(() => expect(calls).toBe(1), { timeout: 10_000 });
  }
  const warnings = () => service.log.filter(({ event }) => String(event).startsWith('schema_'));

  beforeEach(() => {
    calls = 0;
  });
  afterEach(async () => {
    await service.stop();
    await api.stop();
    pool.stop();
  });

  test('the start with an older schema → one warning with both versions', async () => {
    await setVersion(schemaVersion, older);
    const { version } = await project.database.one(
      'select max(version) as version from supabase_migrations.schema_migrations',
    );
    await start();
    await vi.waitFor(() => expect(warnings()).toHaveLength(1), { timeout: 10_000 });
    expect(warnings()).toEqual([{
      level: 'warn',
      event: 'schema_older_than_function',
      schema_version: version,
      function_version: schemaVersion,
      remedy: 'Run: npx supabase db push --remote',
    }]);
    await setVersion(older, schemaVersion);
  });

  test('the start with an equal schema, and requests after it → no warning, and no further call', async () => {
    await start();
    for (let request = 0; request < 3; request += 1) {
      expect((await service.request('/api/health')).status).toBe(200);
    }
    expect(calls).toBe(1);
    expect(warnings()).toEqual([]);
  });
});
