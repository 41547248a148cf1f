import { afterAll, describe, expect, test } from 'vitest';
import { localKeys } from '../../scripts/stack/defaults.ts';
import { subscriptionEndedRow, subscriptionEndingRow } from '../emails/rows.ts';
import type { TestDatabase } from '../helpers/database/test-database.ts';
import { readSideEffect } from '../helpers/outbox/side-effects.ts';
import { startTestMailbox } from '../helpers/outbox/test-mailbox.ts';
import { restSample, type RunningService, servedTargets } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { uniqueId } from '../helpers/records/records.ts';

const mailbox = await startTestMailbox();
afterAll(() => mailbox.stop());

/** Enqueues both mails about the end of a period, and dispatches. */
async function dispatchBoth(service: Pick<RunningService, 'request'>, database: TestDatabase) {
  const to = `${uniqueId('asha')}@example.com`;
  const keys: string[] = [];
  for (const { kind, payload } of [subscriptionEndingRow({ to }), subscriptionEndedRow({ to })]) {
    const key = `${kind}/${crypto.randomUUID()}/2027-11-20T11:45:40.559Z`;
    keys.push(key);
    await database.query("select billing.enqueue($1, 'notice', $2, $3)", [key, kind, payload]);
  }
  const response = await service.request('/api/internal/outbox', {
    method: 'POST',
    headers: { apikey: localKeys.secret },
  });
  const rows = await Promise.all(keys.map((key) => readSideEffect(database, key)));
  return { report: await response.json(), rows, keys, mails: await mailbox.mailsTo(to) };
}

describe.each(restSample)('%s', (target) => {
  const project = useProject();
  const service = useService(target, project, mailbox.environment);
  const silent = useService(target, project, { ...mailbox.environment, EXPIRY_EMAILS: 'off' });

  test('POST /api/internal/outbox with the mails about the end of a period → both are sent with their idempotency keys', async () => {
    const { report, rows, keys, mails } = await dispatchBoth(service, project.database);
    expect(report).toMatchObject({ delivered: 2, parked: 0 });
    expect(rows).toMatchObject([{ state: 'delivered', last_error: null }, { state: 'delivered', last_error: null }]);
    expect(mails.map((mail) => mail.idempotency_key).toSorted()).toEqual(keys.toSorted());
    expect(mails.map(({ subject }) => subject).toSorted()).toEqual([
      'Your Pro Yearly plan ends on 20 November 2027',
      'Your Pro Yearly plan has ended',
    ]);
  });

  test('POST /api/internal/outbox with EXPIRY_EMAILS=off → neither is sent, both are settled with the reason', async () => {
    const { report, rows, mails } = await dispatchBoth(silent, project.database);
    const settled = { state: 'delivered', attempts: 1, last_error: 'not sent: EXPIRY_EMAILS is off' };
    expect(report).toMatchObject({ delivered: 2, retried: 0, parked: 0 });
    expect(rows).toMatchObject([settled, settled]);
    expect(mails).toEqual([]);
  });

  // `index.ts` logs this, and it does not run in process.
  if (servedTargets.includes(target)) {
    test('the start with EXPIRY_EMAILS=off → one line expiry_emails_off in the log', () => {
      const lines = ({ log }: RunningService) => log.filter(({ event }) => event === 'expiry_emails_off');
      expect(lines(silent)).toEqual([{ level: 'info', event: 'expiry_emails_off' }]);
      expect(lines(service)).toEqual([]);
    });
  }
});
