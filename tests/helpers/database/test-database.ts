import pg from 'pg';
import { inject } from 'vitest';
import { compareFindings, type Declared } from './findings.ts';
import { templateDatabase, withClient } from './postgres-client.ts';

export type Row = Record<string, unknown>;

/** A migrated database of one test file. `close` compares its findings, and throws where they differ. */
export type TestDatabase = {
  readonly url: string;
  /**
   * Runs a statement as the owner, `postgres`, on any free connection. A statement with a `name` is planned once for each
   * connection: for long ones that run often.
   */
  query(sql: string, parameters?: unknown[], name?: string): Promise<Row[]>;
  /** The only row of a statement. @throws when there is none, or more than one. */
  one(sql: string, parameters?: unknown[]): Promise<Row>;
  /** A separate connection, for sessions that wait for each other. It is closed with the database. */
  connect(): Promise<pg.Client>;
  close(): Promise<void>;
};

/** What the sweep does for part of a second each minute. */
const checkAll =
  "select billing.check_customers('00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff')";

const open = new Set<string>();

/** The databases that were opened and not closed, each once: the next file of the worker uses the same set. */
export function takeOpenDatabases(): string[] {
  const urls = [...open];
  open.clear();
  return urls;
}

/**
 * Clones the migrated template; by default under a name that no other database has. A database with a name stays until it
 * is made again, so that what is connected to it does not look for it in between.
 */
export async function createTestDatabase(declared: Declared = {}, name?: string): Promise<TestDatabase> {
  const { url, drop } = await createDatabase(`template ${templateDatabase} strategy file_copy`, name);
  return openDatabase(url, name === undefined ? { ...declared, close: drop } : declared);
}

/** Creates a database. @returns its URL, and what drops it */
export async function createDatabase(
  options = '',
  name = `test_${crypto.randomUUID().replaceAll('-', '')}`,
): Promise<{ url: string; drop: () => Promise<void> }> {
  const server = inject('postgresUrl');
  const url = new URL(server);
  url.pathname = `/${name}`;
  const drop = () =>
    withClient(server, async (client) => void await client.query(`drop database if exists ${name} with (force)`));
  await drop();
  await withClient(server, (client) => client.query(`create database ${name} ${options}`));
  return { url: url.href, drop };
}

/** A database by its URL. `close` runs after its last connection is closed. */
export function openDatabase(
  url: string,
  { close, ...declared }: Declared & { readonly close?: () => Promise<void> } = {},
): TestDatabase {
  const isCompared = declared.findings !== 'compared elsewhere';
  if (isCompared) open.add(url);
  // Plans a function's statements, and a named one, once a connection instead of six times.
  const pool = new pg.Pool({ connectionString: url, max: 4, options: '-c plan_cache_mode=force_generic_plan' });
  // A test that restarts the server ends idle connections. The pool opens new ones.
  pool.on('error', () => {});
  const clients: pg.Client[] = [];

  const named = new Map<string, string>();
  const nameOf = (text: string) => {
    // To plan the view of all findings takes a tenth of a second.
    if (text.includes('billing.findings') && !text.includes(';')) {
      named.set(text, named.get(text) ?? `findings ${named.size}`);
    }
    return named.get(text);
  };
  const query = async (text: string, values?: unknown[], name = nameOf(text)): Promise<Row[]> => {
    // No scheduler runs here.
    if (/billing\.findings\b/.test(text)) await pool.query({ text: checkAll, name: 'check all' });
    return (await pool.query({ text, values, name })).rows;
  };
  return {
    url,
    query,
    async one(sql, parameters) {
      const [row, ...others] = await query(sql, parameters);
      if (row === undefined || others.length > 0) {
        throw new Error(`${others.length + (row ? 1 : 0)} rows: ${sql}`);
      }
      return row;
    },
    async connect() {
      const client = new pg.Client({ connectionString: url });
      client.on('error', () => {});
      await client.connect();
      clients.push(client);
      return client;
    },
    async close() {
      await Promise.allSettled(clients.map((client) => client.end()));
      open.delete(url);
      try {
        if (isCompared) await compareFindings({ query }, declared, inject('isPart'));
      } finally {
        await pool.end();
        await close?.();
      }
    },
  };
}
