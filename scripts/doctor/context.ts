import { createDatabase, type Row } from './database.ts';
import type { Project } from './project.ts';
import { type Reply, request } from './request.ts';

/** A project and its connections, for one check. The deadline closes the connections. */
export type Context = Project & {
  /** Aborted at the deadline. */
  readonly signal: AbortSignal;
  /** Sends a request. @throws Unreachable without an answer. */
  request(url: string, init?: RequestInit): Promise<Reply>;
  /** Reads from the database. @throws DatabaseUnreachable, or the error of Postgres. */
  query(sql: string, parameters?: unknown[]): Promise<Row[]>;
  /** Writes to the database; only for fixes. */
  change(sql: string, parameters?: unknown[]): Promise<Row[]>;
};

/** Runs work with its own context and a deadline, and closes the context's connections afterwards. */
export async function withContext<T>(
  project: Project,
  milliseconds: number,
  work: (context: Context) => Promise<T>,
): Promise<T> {
  const deadline = new AbortController();
  const { signal } = deadline;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const reason = new DeadlineExceeded(milliseconds);
    late.reject(reason);
    deadline.abort(reason);
  }, milliseconds);
  const database = createDatabase(project, milliseconds);
  signal.addEventListener('abort', () => database.cut());
  const context: Context = {
    ...project,
    signal,
    request: (url, init) => request(url, { ...init, signal }),
    query: (sql, parameters) => database.run('read only', sql, parameters),
    change: (sql, parameters) => database.run('read write', sql, parameters),
  };
  const working = work(context);
  working.catch(() => {}); // a result after the deadline is ignored
  try {
    return await Promise.race([working, late.promise]);
  } finally {
    clearTimeout(timer);
    await database.close();
  }
}

/** The work did not end before its deadline. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';

  constructor(milliseconds: number) {
    super(`no answer within ${milliseconds / 1000} s`);
  }
}
