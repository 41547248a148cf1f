import { beforeAll, describe, expect, test } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { paymentCaptured } from '../helpers/gateway/events.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import type { Buyer } from '../helpers/http/caller.ts';
import { call, refusal, send, verify } from '../helpers/http/requests.ts';
import type { RunningService } from '../helpers/project/targets.ts';
import { restThenPool, useProject, useService } from '../helpers/project/use-project.ts';

const project = useProject();
const { database, newUser, newBuyer, unchanged } = project;
const service = useService(restThenPool, project);
const unknownId = crypto.randomUUID();

/** A user whose payment the gateway confirmed. */
async function confirmed(service: RunningService): Promise<Buyer> {
  const buyer = await newBuyer();
  expect((await verify(service, buyer.accessToken, buyer.paid)).status).toBe(200);
  const body = paymentCaptured({ id: buyer.paid.gateway_payment_id, order_id: buyer.orderId });
  expect((await postWebhook(service, body)).status).toBe(200);
  return buyer;
}

const issue = () => database.query('do $$ begin loop exit when billing.issue_documents() = 0; end loop; end $$');

beforeAll(async () => {
  await database.query(
    "update billing.settings set seller_name = 'Example Software LLP', receipts_from = '2020-01-01'",
  );
});

describe('a user with a payment', () => {
  test('GET /api/payments/:id/receipt → 409 until it is issued, then 200 with the PDF under its number', async () => {
    const buyer = await confirmed(service);
    const { paymentId } = buyer;
    const endpoint = `GET /api/payments/${paymentId}/receipt`;
    const early = await send(service, endpoint, { user: buyer });
    expect({ status: early.status, body: await early.json() }).toEqual(refusal(409, 'Receipt not issued yet'));
    expect(early.headers.get('retry-after')).toBe('60');
    await issue();
    const issued = await database.one('select id, document_number from public.receipts where payment_id = $1', [
      paymentId,
    ]);

    const bytes = await unchanged(async () => {
      const received = await send(service, endpoint, { user: buyer });
      expect(received.status).toBe(200);
      expect(Object.fromEntries(received.headers)).toMatchObject({
        'content-type': 'application/pdf',
        'content-disposition': `inline; filename="${String(issued.document_number).replace('/', '-')}.pdf"`,
        'cache-control': 'private, no-store',
        'access-control-allow-origin': '*',
      });
      return new Uint8Array(await received.arrayBuffer());
    });
    expect(new TextDecoder('latin1').decode(bytes.subarray(0, 8))).toMatch(/^%PDF-1\.\d/);

    const byId = await send(service, `GET /api/receipts/${issued.id}`, { user: buyer });
    expect(byId.status).toBe(200);
    expect(new Uint8Array(await byId.arrayBuffer())).toEqual(bytes);
  });

  test('PUT /api/billing-details → 200, and GET answers the same', async () => {
    const user = await newUser();
    const details = 'GET /api/billing-details';
    expect(await call(service, details, { user })).toEqual({ status: 200, body: { billing_details: null } });
    const company = { name: ' Konkan Traders ', gstin: '27aapfu0939f1zv', address: '', other: 1 };
    const stored = {
      status: 200,
      body: {
        billing_details: {
          ...{ name: 'Konkan Traders', gstin: '27AAPFU0939F1ZV', address: null, state: '27', country: null },
        },
      },
    };
    expect(await call(service, 'PUT /api/billing-details', { user, body: company })).toEqual(stored);
    expect(await call(service, details, { user })).toEqual(stored);
    const none = { name: null, gstin: null, address: null, state: null, country: null };
    expect(await call(service, 'PUT /api/billing-details', { user, body: {} })).toEqual({
      status: 200,
      body: { billing_details: none },
    });
  });
});

describe('refusals and limits', () => {
  test('a receipt and a document → 401 without a session; 404 of another user, unknown, or no id', async () => {
    const buyer = await confirmed(service);
    const { paymentId } = buyer;
    await issue();
    const { id } = await database.one('select id from public.receipts where payment_id = $1', [paymentId]);
    const stranger = await newUser();
    await unchanged(async () => {
      for (
        const [owned, of, error] of [
          [paymentId, (id: unknown) => `GET /api/payments/${id}/receipt`, 'Payment not found'],
          [id, (id: unknown) => `GET /api/receipts/${id}`, 'Receipt not found'],
        ] as const
      ) {
        expect(await call(service, of(owned))).toEqual(refusal(401, 'Unauthorized'));
        expect(await call(service, of(owned), { user: stranger })).toEqual(refusal(404, error));
        for (const other of [unknownId, 'no-uuid', '%00', '%ED%A0%80', 'x'.repeat(3000)]) {
          expect(await call(service, of(other), { user: buyer })).toEqual(refusal(404, error));
        }
      }
    });
  });

  test('a payment that is not captured, or is older than the receipts → 404', async () => {
    const buyer = await confirmed(service);
    const { paymentId } = buyer;
    const receipt = () => call(service, `GET /api/payments/${paymentId}/receipt`, { user: buyer });
    await database.query("update billing.settings set receipts_from = now() + interval '1 day'");
    expect(await receipt()).toEqual(refusal(404, 'Payment not found'));
    await database.query("update billing.settings set receipts_from = '2020-01-01'");
    expect((await receipt()).status).toBe(409);
    const unpaid = await newBuyer();
    expect(await call(service, `GET /api/payments/${unpaid.paymentId}/receipt`, { user: unpaid })).toEqual(
      refusal(404, 'Payment not found'),
    );
  });

  test('a database that refuses → 500 of each endpoint', async () => {
    const user = await newUser();
    const cases: [rpc: string, endpoint: string, error: string][] = [
      ['get_receipt', `GET /api/payments/${unknownId}/receipt`, 'Failed to get receipt'],
      ['get_document', `GET /api/receipts/${unknownId}`, 'Failed to get receipt'],
      ['get_billing_details', 'GET /api/billing-details', 'Failed to get billing details'],
      ['put_billing_details', 'PUT /api/billing-details', 'Failed to save billing details'],
    ];
    for (const [rpc, endpoint, error] of cases) {
      await whileBroken(database, rpc, async () => {
        const body = endpoint.startsWith('PUT') ? {} : undefined;
        expect(await call(service, endpoint, { user, body })).toEqual(refusal(500, error));
      });
    }
  });

  test.each<[body: unknown, field: string]>([
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ address: 'x'.repeat(501) }, 'address'],
    [{ address: 'a\0b' }, 'address'],
    [{ name: 7 }, 'name'],
    [{ state: '28' }, 'state'],
    [{ gstin: '27AAPFU0939F1ZW' }, 'gstin'],
    [{ gstin: '27AAPFU0939F1ZV', state: '29' }, 'gstin'],
    [{ country: 'IND' }, 'country'],
    [{ country: 'PT', state: '29' }, 'country'],
    [{ state: '96' }, 'country'],
  ])('PUT /api/billing-details with %j → 400 with the field %s, nothing written', async (body, field) => {
    const user = await newUser();
    await unchanged(async () => {
      expect(await call(service, 'PUT /api/billing-details', { user, body })).toEqual({
        status: 400,
        body: {
          error: 'Invalid request',
          details: { formErrors: [], fieldErrors: { [field]: [expect.any(String)] } },
        },
      });
    });
  });

  test('billing details → 401 without a session, before a body that is no JSON; 500 with one; own row only', async () => {
    const [user, stranger] = [await newUser(), await newUser()];
    const put = 'PUT /api/billing-details';
    for (const endpoint of [put, 'GET /api/billing-details']) {
      expect(await call(service, endpoint)).toEqual(refusal(401, 'Unauthorized'));
    }
    expect(await call(service, put, { body: '{' })).toEqual(refusal(401, 'Unauthorized'));
    expect(await call(service, put, { user, body: '{' })).toEqual(refusal(500, 'Failed to save billing details'));
    expect((await call(service, put, { user, body: { state: '29' } })).status).toBe(200);
    expect(await call(service, 'GET /api/billing-details', { user: stranger })).toEqual({
      status: 200,
      body: { billing_details: null },
    });
  });

  test('the plans of a user → needs_state while the seller has a GSTIN and the user no state', async () => {
    const user = await newUser();
    const needed = async (who?: typeof user) => {
      const { body } = await call(service, 'GET /api/subscriptions/plans', who && { user: who });
      return Object(body).needs_state;
    };
    expect(await needed(user)).toBeUndefined();
    await database.query("update billing.settings set seller_gstin = '29AAAAA0000A1ZY'");
    expect([await needed(user), await needed()]).toEqual([true, undefined]);
    await call(service, 'PUT /api/billing-details', { user, body: { state: '29' } });
    expect(await needed(user)).toBeUndefined();
    await database.query('update billing.settings set seller_gstin = null, seller_state = null');
  });
});
