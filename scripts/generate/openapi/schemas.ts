import { z } from 'zod';
import { errorAnswer, type ErrorName } from '../../../supabase/functions/api/http/errors.ts';

const folder = '#/components/schemas/';

const validationDetails = z.object({
  formErrors: z.array(z.string()),
  fieldErrors: z.record(z.string(), z.array(z.string())),
}).meta({ id: 'ValidationDetails', description: 'What is wrong with the body, and with each of its fields.' });

const errorSchemas = new Map<ErrorName, z.ZodType>();

/** The schema of an error answer, from the error table. */
export function errorSchema(name: ErrorName): z.ZodType {
  const known = errorSchemas.get(name);
  if (known !== undefined) return known;
  const fields = { error: z.literal(textOf(name)) };
  const body = z.object({
    ...fields,
    ...(name === 'invalidRequest' ? { details: validationDetails } : {}),
    ...(name === 'onlyAtPeriodEnd' ? { reason: z.enum(['currency', 'downgrade', 'credit']) } : {}),
    ...(name === 'tooLateToChange' ? { possible_from: z.iso.datetime().meta({ description: 'UTC.' }) } : {}),
  });
  const schema = body.meta({ id: `${name.charAt(0).toUpperCase()}${name.slice(1)}Error` });
  errorSchemas.set(name, schema);
  return schema;
}

/** The body of an error answer. */
export function errorExample(
  name: ErrorName,
): { error: string; details?: unknown; reason?: string; possible_from?: string } {
  const error = textOf(name);
  if (name === 'onlyAtPeriodEnd') return { error, reason: 'downgrade' };
  if (name === 'tooLateToChange') return { error, possible_from: '2026-12-01T00:00:00.000Z' };
  if (name !== 'invalidRequest') return { error };
  const fieldErrors = { tier: ['Invalid input: expected string, received undefined'] };
  return { error, details: { formErrors: [], fieldErrors } };
}

function textOf(name: ErrorName): string {
  return z.object({ error: z.string() }).parse(errorAnswer(name).body).error;
}

/** A reference to a schema that has a name. @throws Error when it has none */
export function referenceTo(schema: z.ZodType): { $ref: string } {
  const { id } = schema.meta() ?? {};
  if (id === undefined) throw new Error('A schema of an answer or a request has no name');
  return { $ref: folder + id };
}

/** All schemas that have a name, as JSON Schema. They refer to each other. */
export function schemasByName(): Record<string, unknown> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    uri: (name) => folder + name,
    // Clients must accept unknown fields, so no schema of an answer forbids them.
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      if (zodSchema._zod.def.type === 'undefined') jsonSchema.not = {};
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return Object.fromEntries(
    Object.entries(schemas).sort().map((
      [name, { $schema: _dialect, $id: _id, id: _name, ...schema }],
    ) => [name, schema]),
  );
}
