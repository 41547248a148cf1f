import { afterAll, afterEach, beforeEach } from 'vitest';
import { setClock } from '../database/clock.ts';
import type { Declared } from '../database/findings.ts';
import { useProject } from '../project/use-project.ts';
import { accept, startReceiver } from './receiver.ts';
import { emptyOutbox, enqueueMail, enqueueRevalidation, readSideEffect } from './side-effects.ts';
import { createTestDispatcher, receiverEnvironment } from './test-dispatcher.ts';

const start = Date.parse('2026-01-01T00:00:00Z');

/** An outbox that is empty before each test of a file, a fake receiver of all side effects, and a clock that stands still. */
export function useOutbox(declared: Declared = {}) {
  const project = useProject(declared);
  const receiver = startReceiver();
  /** Sets the clock to so many seconds after its start. */
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
    mail: (payload?: Record<string, unknown>) => enqueueMail(project.database, payload),
    revalidation: (paths?: string[]) => enqueueRevalidation(project.database, paths),
    at,
    /** Dispatches by a new dispatcher, as after a restart. @returns such as `1 delivered, next at 5` seconds */
    async dispatch(environment: Record<string, string> = {}): Promise<string> {
      const all = { ...receiverEnvironment(receiver.url), ...environment };
      const { next_attempt_at: next, ...counts } = await createTestDispatcher(project.apiUrl, all).dispatch();
      const parts = Object.entries(counts).flatMap(([name, count]) => count === 0 ? [] : [`${count} ${name}`]);
      if (parts.length === 0) parts.push('nothing');
      if (next !== null) parts.push(`next at ${(Date.parse(next) - start) / 1000}`);
      return parts.join(', ');
    },
    /** `pending 1/2 HTTP 500`: the state, the attempts of the claims, and the last error. */
    async state(key: string): Promise<string> {
      const { state, attempts, claims, last_error: error } = await readSideEffect(project.database, key);
      return `${state} ${attempts}/${claims}${error === null ? '' : ` ${error}`}`;
    },
    keys: () => receiver.arrivals.map(({ headers }) => headers.get('idempotency-key')),
  };
}
