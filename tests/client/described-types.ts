import { z } from 'zod';

const content = z.object({ 'application/json': z.object({ schema: z.unknown() }).optional() }).optional();
const bodyShape = z.object({ content });
const documentShape = z.object({
  paths: z.record(
    z.string(),
    z.record(z.string(), z.object({ requestBody: bodyShape.optional(), responses: z.record(z.string(), bodyShape) })),
  ),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }),
});

/** The keywords of JSON Schema that the document uses. Another one is an error. */
const schemaShape = z.strictObject({
  $ref: z.string().optional(),
  anyOf: z.array(z.unknown()).optional(),
  not: z.strictObject({}).optional(),
  const: z.union([z.string(), z.boolean()]).optional(),
  enum: z.array(z.string()).optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  items: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
  // An empty schema allows fields that are not described. Clients must accept such fields in every object.
  additionalProperties: z.record(z.string(), z.unknown()).default({}),
  // These have no type in TypeScript.
  description: z.string().optional(),
  format: z.string().optional(),
  minimum: z.number().optional(),
  maxItems: z.number().optional(),
  propertyNames: z.unknown().optional(),
});

/**
 * Writes the bodies of an OpenAPI document as TypeScript: a type for each schema, and the type `Described`, in which each
 * operation, such as `GET /api/health`, has `body` and `answer`. `answer` is that of any 2xx status. A missing body is
 * undefined.
 * @throws Error when a schema has a keyword that it does not know
 */
export function describeTypes(document: unknown): { source: string; operations: string[] } {
  const { paths, components } = documentShape.parse(document);
  const schemas = Object.entries(components.schemas).map(([name, schema]) => `type ${name} = ${typeOf(schema)};`);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody = {}, responses }]) => {
      const successes = Object.entries(responses).filter(([status]) => status.startsWith('2')).map(([, body]) => body);
      const types = `{ body: ${typeOfBodies([requestBody])}; answer: ${typeOfBodies(successes)} }`;
      return { name: `${method.toUpperCase()} ${path}`, types };
    })
  );
  const described = operations.map(({ name, types }) => `  '${name}': ${types};`);
  const source = [...schemas, 'type Described = {', ...described, '};'].join('\n');
  return { source, operations: operations.map(({ name }) => name) };
}

function typeOfBodies(bodies: z.output<typeof bodyShape>[]): string {
  const media = bodies.flatMap(({ content }) => content?.['application/json'] ?? []);
  return media.map(({ schema }) => typeOf(schema)).join(' | ') || 'undefined';
}

function typeOf(schema: unknown): string {
  const read = schemaShape.parse(schema);
  if (read.$ref) return read.$ref.split('/').at(-1) ?? '';
  if (read.anyOf) return `(${read.anyOf.map(typeOf).join(' | ')})`;
  if (read.not) return 'never';
  if (read.const !== undefined) return JSON.stringify(read.const);
  if (read.enum) return `(${read.enum.map((value) => JSON.stringify(value)).join(' | ')})`;
  if (read.type === undefined) return 'unknown';
  return `(${[read.type].flat().map((type) => typeOfOne(type, read)).join(' | ')})`;
}

function typeOfOne(type: string, schema: z.output<typeof schemaShape>): string {
  if (type === 'array') return `${typeOf(schema.items)}[]`;
  if (type === 'object') return typeOfObject(schema);
  return type === 'integer' ? 'number' : type; // `string`, `boolean` and `null` have the same name.
}

function typeOfObject({ properties, required, additionalProperties }: z.output<typeof schemaShape>): string {
  if (Object.keys(additionalProperties).length > 0) return `Record<string, ${typeOf(additionalProperties)}>`;
  const fields = Object.entries(properties).map(([name, schema]) =>
    `${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`
  );
  return `{ ${fields.join('; ')} }`;
}
