import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { openapiText } from '../../scripts/generate/openapi.ts';
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

test('an answer of the tests that is not as described is refused', async () => {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': crypto.randomUUID() };
  const health = {
    status: 'ok',
    oldest_undelivered_at: null,
    last_webhook_at: null,
    last_sweep_at: null,
    statement: null,
  };
  const check = (status: number, body: unknown, sent: Record<string, string> = headers, path = '/api/health') =>
    checkAnswer('GET', path, new Response(JSON.stringify(body), { status, headers: sent }));
  await check(200, health);
  await check(404, { error: 'Not found' }, headers, '/api/unknown');
  await expect(check(418, {})).rejects.toThrow('GET /api/health → 418 is not described');
  await expect(check(200, { ...health, extra: 1 })).rejects.toThrow('must NOT have additional');
  await expect(check(503, { error: 'Not found' })).rejects.toThrow('must be equal to constant');
  await expect(check(200, health, { ...headers, 'x-request-id': '1' })).rejects.toThrow('must match format');
  await expect(check(200, health, { ...headers, 'content-type': 'text/html' })).rejects.toThrow('undescribed body');
  await expect(check(404, { error: 'Order not found' }, headers, '/api/unknown')).rejects.toThrow('must be equal');
});

/** Every `content` of the document. */
function contentsOf(node: unknown): Content[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => key === 'content' ? [Object(value)] : contentsOf(value));
}
