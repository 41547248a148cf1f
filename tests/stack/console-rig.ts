import { afterAll, beforeAll } from 'vitest';
import { createConsole } from '../../scripts/console/console.ts';
import { supportUrl } from '../../scripts/stack/postgres/support-role.ts';
import type { Declared } from '../helpers/database/findings.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

/** A console over a database of its own, and the cookie of an admitted browser. */
export type TestConsole = {
  readonly database: TestDatabase;
  /** The database, as the role of the console. */
  readonly supportUrl: string;
  readonly url: string;
  readonly entryUrl: string;
  readonly cookie: string;
  /** Reads from the API with the cookie. */
  read(path: string): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Posts an action, as the page does. */
  act(action: Record<string, unknown>, headers?: Record<string, string>): Promise<Response>;
};

/** A console for the tests of a file. `declared` are the findings that they leave on purpose. */
export function useConsole(declared: Declared = {}): TestConsole {
  let database: TestDatabase | undefined;
  let service: ReturnType<typeof createConsole> | undefined;
  let cookie = '';
  const running = () => service ?? fail();
  beforeAll(async () => {
    database = await createTestDatabase(declared);
    service = createConsole({ port: 0, databaseUrl: supportUrl(database.url), appUrl: 'https://app.example' });
    await service.start();
    await service.ready();
    const entered = await fetch(service.entryUrl, { redirect: 'manual' });
    await entered.body?.cancel();
    cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  });
  afterAll(async () => {
    await service?.stop();
    await database?.close();
  });
  return {
    get database() {
      return database ?? fail();
    },
    get supportUrl() {
      return supportUrl((database ?? fail()).url);
    },
    get url() {
      return running().url;
    },
    get entryUrl() {
      return running().entryUrl;
    },
    get cookie() {
      return cookie;
    },
    async read(path) {
      const answer = await fetch(`${running().url}/api${path}`, { headers: { cookie } });
      return { status: answer.status, body: await answer.json() };
    },
    act: (action, headers = {}) => {
      const { url } = running();
      return fetch(`${url}/api/actions`, {
        method: 'POST',
        headers: { cookie, origin: url, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(action),
      });
    },
  };
}

function fail(): never {
  throw new Error('the console is there only while tests run');
}
