import { afterAll, beforeAll } from 'vitest';
import { type Console, createConsole } from '../../scripts/console/console.ts';
import { supportUrl } from '../../scripts/stack/postgres/local-roles.ts';
import type { Declared } from '../helpers/database/findings.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { enter } from '../helpers/http/enter-console.ts';

/** A console for the tests of a file, over a database of its own. `declared` are the findings that they leave on purpose. */
export function useConsole(declared: Declared = {}) {
  let database: TestDatabase;
  let service: Console;
  let cookie = '';
  beforeAll(async () => {
    database = await createTestDatabase(declared);
    service = createConsole({ port: 0, databaseUrl: supportUrl(database.url), appUrl: 'https://app.example' });
    await service.start();
    [, cookie] = await enter(service.entryUrl);
  });
  afterAll(async () => {
    await service.stop();
    await database.close();
  });
  const support = {
    get database() {
      return database;
    },
    /** The database, as the role of the console. */
    get supportUrl() {
      return supportUrl(database.url);
    },
    get url() {
      return service.url;
    },
    get entryUrl() {
      return service.entryUrl;
    },
    /** The cookie of an admitted browser. */
    get cookie() {
      return cookie;
    },
    /** Reads a path with the cookie. */
    get: (path: string): Promise<Response> => fetch(service.url + path, { headers: { cookie } }),
    /** Reads from the API with the cookie. */
    async read(path: string): Promise<{ status: number; body: Record<string, unknown> }> {
      const answer = await support.get(`/api${path}`);
      return { status: answer.status, body: await answer.json() };
    },
    /** Posts an action, as the page does. */
    act(action: Record<string, unknown>, others: Record<string, string> = {}): Promise<Response> {
      const headers = { cookie, origin: support.url, 'content-type': 'application/json', ...others };
      return fetch(`${support.url}/api/actions`, { method: 'POST', headers, body: JSON.stringify(action) });
    },
  };
  return support;
}
