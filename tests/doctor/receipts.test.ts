import { test } from 'vitest';
import { receipts } from '../../scripts/doctor/checks/receipts.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { expectReport, local } from './doctor.ts';

const database = useDatabase();

test('receipts pass, warn without a sac, and fail where an invoice needs a number of the government', async () => {
  const project = local({ databaseUrl: database.url, environment: {} });
  await expectReport(receipts, project, 'pass none are issued');
  await database.set("seller_name = 'Example Software LLP', receipts_from = '2026-04-01'");
  await expectReport(receipts, project, 'pass issued, without a GSTIN');
  await database.set("seller_gstin = '29AAAAA0000A1ZY'");
  await expectReport(
    receipts,
    project,
    'warn tax invoices are issued without a sac, the code of the service',
    'accountant',
  );
  await database.set("sac = '998315'");
  await expectReport(receipts, project, 'pass tax invoices are issued');
  await database.set('over_5_crore = true');
  const failed =
    'fail over_5_crore is set: a document to a buyer with a GSTIN or abroad is no invoice without an IRN, ' +
    'which is not made here';
  await expectReport(receipts, project, failed, 'Documents');
});
