import { expect, test, vi } from 'vitest';
import { openPage, ORDERS, paid, pass, pay, refusal } from './fake-page.ts';

const PLANS = 'GET /api/subscriptions/plans';
const DETAILS = '/api/billing-details';
const details = { name: null, gstin: null, address: null, state: '29', country: null };

test('receipts reads the own rows over REST, and its error is that of the client', async () => {
  const page = openPage();
  const path =
    'GET /rest/v1/receipts?select=id%2Ckind%2Ctitle%2Cdocument_number%2Cdocument_date%2Cpayment_id%2Ccurrency' +
    '%2Ctotals&order=issued_at.desc';
  page.answers(path, { body: [{ document_number: '2627/000001' }] }, { status: 401, body: { message: 'JWT expired' } });
  expect(await page.subscriptions.receipts()).toEqual([{ document_number: '2627/000001' }]);
  await expect(page.subscriptions.receipts()).rejects.toMatchObject({
    code: 'http',
    message: 'JWT expired',
    status: 401,
  });
});

test('receipt returns the PDF of a payment or of a document; before it is issued it says when to try again', async () => {
  const page = openPage();
  const pdf = new Blob(['%PDF-1.7'], { type: 'application/pdf' });
  page.answers('GET /api/payments/a%2Fb/receipt', refusal(409, 'Receipt not issued yet', 60), { body: pdf });
  page.answers('GET /api/receipts/one', { body: pdf });
  const ofPayment = () => page.subscriptions.receipt({ payment: 'a/b' });
  await expect(ofPayment()).rejects.toMatchObject({ message: 'Receipt not issued yet', status: 409, retryAfter: 60 });
  for (const blob of [await ofPayment(), await page.subscriptions.receipt({ id: 'one' })]) {
    expect([blob.type, await blob.text()]).toEqual(['application/pdf', '%PDF-1.7']);
  }
});

test('billing details are read and replaced; a refusal names the fields', async () => {
  const page = openPage();
  page.answers(`GET ${DETAILS}`, { body: { billing_details: null } });
  const fieldErrors = { gstin: ['No GSTIN'] };
  page.answers(
    `PUT ${DETAILS}`,
    { body: { billing_details: details } },
    { status: 400, body: { error: 'Invalid request', details: { formErrors: [], fieldErrors } } },
  );
  expect(await page.subscriptions.billingDetails()).toBeNull();
  expect(await page.subscriptions.saveBillingDetails({ state: '29' })).toEqual(details);
  await expect(page.subscriptions.saveBillingDetails({ gstin: 'x' })).rejects.toMatchObject({
    message: 'Invalid request',
    fields: fieldErrors,
  });
  expect(page.to(`PUT ${DETAILS}`).map(({ body }) => body)).toEqual([{ state: '29' }, { gstin: 'x' }]);
});

test('a sale asks for the state before it creates the order, once for two clicks', async () => {
  const page = openPage();
  page.answers(PLANS, { body: { plans: [], needs_state: true } });
  let answer = () => {};
  const onStateNeeded = vi.fn(() => new Promise<void>((resolve) => answer = resolve));
  const results = [1, 2].map(() => page.subscriptions.checkout('pro', { onStateNeeded }));
  await pass(0);
  expect([onStateNeeded.mock.calls.length, page.to(ORDERS).length]).toEqual([1, 0]);
  answer();
  await pass(0);
  expect(page.to(ORDERS)).toHaveLength(2);
  page.windows[0]?.pay();
  expect(await Promise.all(results)).toEqual([paid, paid]);
});

test.each([
  ['the state is known', { body: { plans: [] } }, 0],
  ['the plans can not be read', 'lost' as const, 0],
  ['the form of the app fails', { body: { plans: [], needs_state: true } }, 1],
])('a sale goes on where %s', async (_, plans, asked) => {
  const page = openPage();
  page.answers(PLANS, plans);
  const onStateNeeded = vi.fn(() => Promise.reject(new Error('no form')));
  expect(await page.buy(pay, 0, { onStateNeeded })).toEqual(paid);
  expect(onStateNeeded).toHaveBeenCalledTimes(asked);
});

test('a sale without the option reads no plans; an abort in the form ends it before an order', async () => {
  const page = openPage();
  page.answers(PLANS, { body: { plans: [], needs_state: true } });
  await page.buy(pay);
  expect(page.to(PLANS)).toEqual([]);
  const controller = new AbortController();
  const onStateNeeded = () => Promise.resolve(controller.abort(new Error('left the page')));
  const aborted = page.subscriptions.checkout('pro', { onStateNeeded, signal: controller.signal });
  await expect(aborted).rejects.toThrow('left the page');
  expect(page.to(ORDERS)).toHaveLength(1);
});
