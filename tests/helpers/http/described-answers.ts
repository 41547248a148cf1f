import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { z } from 'zod';
import description from '../../../supabase/functions/api/generated/openapi.json' with { type: 'json' };

/** Sends a request of a path that starts with /api. */
export type SendRequest = (path: string, init?: RequestInit) => Promise<Response>;

/** What the check needs of an OpenAPI document. A response, a header or a schema may be a reference. */
const schema = z.record(z.string(), z.unknown());
const reference = z.object({ $ref: z.string() });
const header = z.object({ required: z.boolean().default(false), schema });
const responseShape = z.object({
  headers: z.record(z.string(), z.union([reference, header])).default({}),
  content: z.record(z.string(), z.object({ schema })).default({}),
});
const documentShape = z.object({
  paths: z.record(
    z.string(),
    z.record(z.string(), z.object({ responses: z.record(z.string(), z.union([reference, responseShape])) })),
  ),
  components: z.object({
    schemas: z.record(z.string(), schema),
    responses: z.record(z.string(), responseShape),
    headers: z.record(z.string(), header),
  }),
});

/** Stricter than published: a field that the description does not name is an error here. */
const { paths, components } = documentShape.parse(forbidOtherFields(description));
const templates = Object.keys(paths).map((template) => ({
  template,
  pattern: new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
}));
const ajv = new Ajv2020({ strict: false, validateSchema: false });
formats.default(ajv);
ajv.addSchema({ components }, 'openapi.json');

/** Sends requests as before. An answer that the description of the API does not allow throws. */
export function withDescribedAnswers(send: SendRequest): SendRequest {
  return async (path, init) => {
    const response = await send(path, init);
    await checkAnswer(init?.method ?? 'GET', path, response.clone());
    return response;
  };
}

/** Compares an answer with `generated/openapi.json`. @throws Error that says what differs */
export async function checkAnswer(method: string, path: string, answer: Response): Promise<void> {
  if (method === 'OPTIONS') return; // A preflight is not described.
  const name = `${method} ${path} → ${answer.status}`;
  const { headers, content } = findResponse(method, path, answer.status) ?? fail(`${name} is not described`);
  for (const [key, value] of Object.entries(headers)) {
    const { required, schema } = resolve(value, components.headers);
    const received = answer.headers.get(key);
    if (received === null && required) fail(`${name} has no header ${key}`);
    if (received !== null) validate(schema, received, `the header ${key} of ${name}`);
  }
  const text = await answer.text();
  if (method === 'HEAD') return;
  if (text === '') return Object.keys(content).length === 0 ? undefined : fail(`${name} has no body`);
  const mediaType = answer.headers.get('content-type')?.split(';')[0] ?? '';
  const { schema } = content[mediaType] ?? fail(`${name} has an undescribed body of the type "${mediaType}"`);
  validate(schema, mediaType === 'application/json' ? JSON.parse(text) : text, name);
}

/** Undefined where the description has no such answer. */
function findResponse(method: string, path: string, status: number): z.output<typeof responseShape> | undefined {
  const { pathname } = new URL(path, 'http://127.0.0.1');
  const template = paths[pathname] ? pathname : templates.find(({ pattern }) => pattern.test(pathname))?.template;
  const operations = template === undefined ? undefined : paths[template];
  const operation = operations?.[(method === 'HEAD' ? 'GET' : method).toLowerCase()];
  if (operation === undefined) return errorOfNoEndpoint(operations === undefined ? 404 : 405, status);
  const response = operation.responses[status];
  return response && resolve(response, components.responses);
}

/** Described in words: an unknown path, or another method. The limits for bodies hold there, too. */
function errorOfNoEndpoint(expected: 404 | 405, status: number): z.output<typeof responseShape> | undefined {
  if (status === 408) return components.responses.bodyTimedOut;
  if (status === 413) return components.responses.payloadTooLarge;
  if (status === 503) return components.responses.tooManyBodies;
  if (status !== expected) return undefined;
  const error = { const: expected === 404 ? 'Not found' : 'Method not allowed' };
  const schema = { type: 'object', properties: { error }, required: ['error'], additionalProperties: false };
  return { headers: {}, content: { 'application/json': { schema } } };
}

function resolve<Value extends object>(value: Value | { $ref: string }, named: Record<string, Value>): Value {
  if (!('$ref' in value)) return value;
  return named[value.$ref.split('/').at(-1) ?? ''] ?? fail(`${value.$ref} does not exist`);
}

function validate(schema: Record<string, unknown>, value: unknown, name: string): void {
  const isValid = ajv.compile(schema);
  if (!isValid(value)) fail(`${name} is not as described: ${ajv.errorsText(isValid.errors)}: ${JSON.stringify(value)}`);
}

function forbidOtherFields(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(forbidOtherFields);
  if (typeof node !== 'object' || node === null) return node;
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === '$ref' && String(value).startsWith('#/components/schemas/')
        ? `openapi.json${value}`
        : forbidOtherFields(value),
    ]),
  );
  if (copy.type === 'object' && 'properties' in copy) copy.additionalProperties ??= false;
  return copy;
}

function fail(problem: string): never {
  throw new Error(problem);
}
