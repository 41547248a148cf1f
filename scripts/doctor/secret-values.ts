import { createHash } from 'node:crypto';
import { namesWithSpace } from '../../supabase/functions/api/config-fields.ts';
import { fail, type Outcome, warn } from './check.ts';
import type { Project } from './project.ts';

/** Values that the local stack has had, which everybody can read. */
const published = [
  'local-gateway-key-secret',
  'local-gateway-webhook-secret',
  'local-revalidate-secret',
  'local-internal-key',
  're_local',
  'sb_secret_local_development_only',
  'local-development-only-not-a-secret-of-anything',
  'postgres',
];

/** The secrets that the admin invents. The platform and the gateway make the others. */
const invented = [
  'GATEWAY_WEBHOOK_SECRET',
  'GATEWAY_WEBHOOK_SECRET_PREVIOUS',
  'INTERNAL_KEY',
  'REVALIDATE_SECRET',
];
const shortest = 16;

const makeOne = 'Make one with `openssl rand -hex 32`, and set it wherever it is used.';

/** A value's SHA-256 (hex), as the platform shows it. */
export function digest(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}

/**
 * Looks for values with white space around them, such as a pasted line break: the function does not remove it.
 * @param digests the digests of the hosted secrets, by name
 */
export function checkWhiteSpace(
  environment: Project['environment'],
  digests: ReadonlyMap<string, string> = new Map(),
): Outcome[] {
  const here = namesWithSpace(Object.keys(environment), (name) => environment[name]);
  const there = Object.entries(environment)
    .filter(([name, value]) => ['\n', '\r\n', ' '].some((space) => digests.get(name) === digest(value.trim() + space)))
    .map(([name]) => name);
  const names = [...new Set([...here, ...there])];
  return names.length === 0 ? [] : [
    fail(
      `white space around the value: ${names.join(', ')}`,
      'Set it again without it: signatures and keys are wrong with a line break at their end.',
    ),
  ];
}

/**
 * Looks for secrets of a hosted project that can be guessed, and for an address that shows the gateway's key on the way.
 * @param digests the digests of the hosted secrets, by name; empty without the right to read them
 */
export function checkSecretValues(
  { environment, databaseUrl }: Project,
  digests: ReadonlyMap<string, string> = new Map(),
): Outcome[] {
  const values = Object.entries({ ...environment, ...(databaseUrl !== null && { DATABASE_URL: databaseUrl }) });
  const isPublished = (value = '') => published.includes(value);
  const guessed = new Set([
    ...values.filter(([, value]) => isPublished(value) || isPublished(URL.parse(value)?.password)).map(([name]) =>
      name
    ),
    ...[...digests].filter(([, value]) => published.some((one) => digest(one) === value)).map(([name]) => name),
  ]);
  const short = invented.filter((name) =>
    environment[name] && environment[name].length < shortest && !guessed.has(name)
  );
  return [
    ...checkWhiteSpace(environment, digests),
    ...guessed.size === 0 ? [] : [fail(`published values of the local stack: ${[...guessed].join(', ')}`, makeOne)],
    ...short.length === 0 ? [] : [warn(`shorter than ${shortest} characters: ${short.join(', ')}`, makeOne)],
    ...URL.parse(environment.GATEWAY_API_URL ?? '')?.protocol !== 'http:' ? [] : [
      warn('GATEWAY_API_URL is not encrypted: the API key can be read on the way', 'Set its https address.'),
    ],
  ];
}
