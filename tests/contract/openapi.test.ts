import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { lintOpenapi, openapiText } from '../../scripts/openapi.ts';
import { routes } from '../../supabase/functions/api/routes/routes.ts';
import { checkAnswer } from '../helpers/http/described-answers.ts';
import { call, fullAnswer, send } from '../helpers/http/requests.ts';
import { restThenPool, useProject, useService } from '../helpers/project/use-project.ts';

const service = useService(restThenPool, useProject());
const path = '/api/openapi.json';
const text = await openapiText();
const document = JSON.parse(text);

type Content = Record<string, { schema: unknown; examples?: Record<string, { value: unknown }> }>;

test('GET /api/openapi.json → 200, the description of the routes, public for an hour; with its etag → 304', async () => {
  const { headers, ...received } = await fullAnswer(send(service, `GET ${path}`));
  expect(received).toEqual({ status: 200, body: document });
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('cache-control')).toBe('public, max-age=3600');
  expect(headers.get('access-control-allow-origin')).toBe('*');
  const etag = headers.get('etag') ?? '';
  expect(etag).toMatch(/^W\/"[0-9a-f]{16}"$/);
  const withTag = (tag: string) => call(service, `GET ${path}`, { headers: { 'if-none-match': tag } });
  expect(await withTag(etag)).toEqual({ status: 304, body: null });
  expect((await withTag('W/"0"')).status).toBe(200);
});

test.each([
  { case: 'an unknown member', change: { unknown: true }, rule: '(struct)' },
  { case: 'a reference to nothing', change: { paths: { '/x': { $ref: '#/nothing' } } }, rule: '(no-unresolved-refs)' },
])('the linter finds $case', async ({ change, rule }) => {
  const problems = await lintOpenapi(JSON.stringify({ ...document, ...change }));
  expect(problems.filter((problem) => problem.endsWith(rule))).not.toEqual([]);
});

test('the description has exactly the routes of the app', () => {
  const described = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(Object(operations)).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`)
  );
  expect(described.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
});

test('every body of an answer and of a request has an example, and each is valid', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false });
  ajv.addSchema({ ...document, $id: 'openapi.json' });
  const contents = contentsOf(document);
  expect(contents.length).toBeGreaterThan(60);
  for (const content of contents) {
    for (const { schema, examples = {} } of Object.values(content)) {
      expect(Object.keys(examples)).not.toEqual([]);
      const isValid = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi.json#/')));
      for (const { value } of Object.values(examples)) {
        expect({ value, isValid: isValid(value) }).toEqual({ value, isValid: true });
      }
    }
  }
});

describe('an answer of the tests', () => {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': crypto.randomUUID() };
  const health = { status: 'ok', oldest_undelivered_at: null, last_webhook_at: null, last_sweep_at: null };
  const check = (method: string, path: string, status: number, body: unknown, sent: Record<string, string> = headers) =>
    checkAnswer(method, path, new Response(body === null ? null : JSON.stringify(body), { status, headers: sent }));

  test.each([
    { method: 'GET', path: '/api/health?x=1', status: 200, body: health },
    { method: 'HEAD', path: '/api/health', status: 200, body: null },
    { method: 'POST', path: '/api/health', status: 405, body: { error: 'Method not allowed' } },
    { method: 'GET', path: '/api/unknown', status: 404, body: { error: 'Not found' } },
    { method: 'GET', path: '/api/payments/orders/order_1', status: 404, body: { error: 'Order not found' } },
    { method: 'POST', path: '/api/unknown', status: 413, body: { error: 'Payload too large' } },
    { method: 'GET', path, status: 304, body: null },
  ])('$method $path → $status as described is accepted', async ({ method, path, status, body }) => {
    await expect(check(method, path, status, body)).resolves.toBeUndefined();
  });

  test.each([
    { case: 'an undescribed status', status: 418, body: {}, problem: 'GET /api/health → 418 is not described' },
    { case: 'another field', status: 200, body: { ...health, extra: 1 }, problem: 'must NOT have additional' },
    { case: 'a missing field', status: 200, body: { status: 'ok' }, problem: 'must have required property' },
    { case: 'a wrong type', status: 200, body: { ...health, last_webhook_at: 1 }, problem: 'must be string' },
    { case: 'no time', status: 200, body: { ...health, last_webhook_at: 'now' }, problem: 'must match format' },
    { case: 'another error', status: 503, body: { error: 'Not found' }, problem: 'must be equal to constant' },
    { case: 'no body', status: 200, body: null, problem: 'has no body' },
  ])('with $case is refused', async ({ status, body, problem }) => {
    await expect(check('GET', '/api/health', status, body)).rejects.toThrow(problem);
  });

  const { 'x-request-id': _id, ...withoutId } = headers;
  const [html, badId] = [{ ...headers, 'content-type': 'text/html' }, { ...headers, 'x-request-id': '1' }];
  test.each<[name: string, ...request: Parameters<typeof check>, problem: string]>([
    ['without a header', 'GET', '/api/health', 200, health, withoutId, 'has no header x-request-id'],
    ['with a header of another form', 'GET', '/api/health', 200, health, badId, 'must match format'],
    ['of another type', 'GET', '/api/health', 200, health, html, 'undescribed body of the type "text/html"'],
    ['with a body where none is described', 'POST', '/api/payments/return', 303, {}, headers, 'undescribed body'],
    ['of an unknown path with another error', 'GET', '/x', 404, { error: 'Order not found' }, headers, 'must be equal'],
    ['of an unknown path with 200', 'GET', '/x', 200, {}, headers, 'is not described'],
  ])('%s is refused', async (_, method, path, status, body, sent, problem) => {
    await expect(check(method, path, status, body, sent)).rejects.toThrow(problem);
  });
});

/** Every `content` of the document. */
function contentsOf(node: unknown): Content[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => key === 'content' ? [Object(value)] : contentsOf(value));
}
