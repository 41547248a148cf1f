import { afterAll, beforeAll, expect } from 'vitest';
import type { Declared } from '../database/findings.ts';
import type { TestDatabase } from '../database/test-database.ts';
import { createBuyer, createCaller } from '../http/caller.ts';
import { readRowsExcept } from '../records/read-records.ts';
import { isLong } from './suite.ts';
import { type Project, startProject } from './project.ts';
import { type Addresses, type RunningService, startService, type Target } from './targets.ts';

/** The served function over each transport, each on another Deno. */
export const onRest: Target = 'served on Deno 2.1.4';
export const onPool: Target = "served on today's Deno over the pool";

/** Both: for what may differ between them. */
export const targets: readonly Target[] = [onPool, onRest];

/** One of `targets`: `npm test` runs the first that the name says, the long suite the other. Half of the files has each. */
export const poolThenRest: Target = isLong ? onRest : onPool;
export const restThenPool: Target = isLong ? onPool : onRest;

/** What each delivery of an event writes. */
export const ledger = ['billing.gateway_events', 'billing.unsettled_events', 'billing.scheduled_jobs'];

/** A project for the tests of the surrounding block, which leave the findings that are declared. */
export function useProject(declared: Declared = {}) {
  let project: Project | undefined;
  const started = () => project ?? fail('the project');
  beforeAll(async () => {
    project = await startProject(declared);
  });
  afterAll(() => project?.stop());
  const database: TestDatabase = {
    get url() {
      return started().database.url;
    },
    query: (...statement) => started().database.query(...statement),
    one: (...statement) => started().database.one(...statement),
    connect: () => started().database.connect(),
    close: () => started().database.close(),
  };
  return {
    database,
    get apiUrl() {
      return started().apiUrl;
    },
    get poolUrl() {
      return started().poolUrl;
    },
    signUp: (email?: string) => started().signUp(email),
    stop: () => started().stop(),
    /** A user with a session, without a sign-up. */
    newUser: () => createCaller(database),
    /** A user who has paid an order of the app, as `createBuyer` takes it. */
    newBuyer: (order?: Parameters<typeof createBuyer>[1]) => createBuyer(database, order),
    /** Asserts that work writes no row of schemas public and billing, but for some tables. @returns what work returns */
    async unchanged<T>(work: () => Promise<T>, besides: string[] = []) {
      const before = await readRowsExcept(database, besides);
      const result = await work();
      expect(await readRowsExcept(database, besides)).toEqual(before);
      return result;
    },
  };
}

/** The service for the tests of the surrounding block; `environment` as `startService` takes it. */
export function useService(
  target: Target,
  project: Addresses,
  environment: Record<string, string> = {},
): RunningService {
  let service: RunningService | undefined;
  const started = () => service ?? fail('the service');
  beforeAll(async () => {
    service = await startService(target, project, environment);
  });
  afterAll(() => service?.stop());
  return {
    request: (path, init) => started().request(path, init),
    get log() {
      return started().log;
    },
    get output() {
      return started().output;
    },
    stop: () => started().stop(),
  };
}

function fail(what: string): never {
  throw new Error(`${what} is there only while tests run`);
}
