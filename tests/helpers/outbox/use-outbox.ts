import { afterAll, afterEach, beforeEach } from 'vitest';
import { setClock } from '../database/clock.ts';
import type { Declared } from '../database/findings.ts';
import type { Project } from '../project/project.ts';
import { useProject } from '../project/use-project.ts';
import { accept, type Receiver, startReceiver } from './receiver.ts';
import { emptyOutbox, enqueueMail, enqueueRevalidation, readSideEffect } from './side-effects.ts';
import { createTestDispatcher, receiverEnvironment } from './test-dispatcher.ts';

/** An outbox that is empty before each test, a fake receiver of all side effects, and a clock that stands still. */
export type Outbox = {
  readonly project: Project;
  readonly receiver: Receiver;
  /** Enqueues a mail or a revalidation. @returns its key */
  mail(payload?: Record<string, unknown>): Promise<string>;
  revalidation(paths?: string[]): Promise<string>;
  /** Sets the clock to so many seconds after its start. */
  at(seconds: number): Promise<void>;
  /**
   * Dispatches with these other variables by a new dispatcher, as after a restart.
   * @returns such as `1 delivered, 2 retried, next at 5`; `next` is the next attempt in seconds after the start
   */
  dispatch(environment?: Record<string, string>): Promise<string>;
  /** `pending 1/2 HTTP 500`: the state, the attempts of the claims, and the last error. */
  state(key: string): Promise<string>;
  /** The keys of the mails that arrived. */
  keys(): (string | null)[];
};

const start = Date.parse('2026-01-01T00:00:00Z');

/** The outbox for the tests of a file. */
export function useOutbox(declared: Declared = {}): Outbox {
  const project = useProject(declared);
  const receiver = startReceiver();
  const at = (seconds: number) => setClock(project.database, new Date(start + seconds * 1000).toISOString());
  beforeEach(async () => {
    await at(0);
    await emptyOutbox(project.database);
    receiver.arrivals.length = 0;
    receiver.answer = accept;
  });
  afterEach(() => setClock(project.database, null));
  afterAll(() => receiver.stop());

  return {
    project,
    receiver,
    mail: (payload) => enqueueMail(project.database, payload),
    revalidation: (paths) => enqueueRevalidation(project.database, paths),
    at,
    async dispatch(environment = {}) {
      const all = { ...receiverEnvironment(receiver.url), ...environment };
      const { next_attempt_at: next, ...counts } = await createTestDispatcher(project.apiUrl, all).dispatch();
      const parts = Object.entries(counts).flatMap(([name, count]) => count === 0 ? [] : [`${count} ${name}`]);
      if (parts.length === 0) parts.push('nothing');
      if (next !== null) parts.push(`next at ${(Date.parse(next) - start) / 1000}`);
      return parts.join(', ');
    },
    async state(key) {
      const { state, attempts, claims, last_error: error } = await readSideEffect(project.database, key);
      return `${state} ${attempts}/${claims}${error === null ? '' : ` ${error}`}`;
    },
    keys: () => receiver.arrivals.map(({ headers }) => headers.get('idempotency-key')),
  };
}
