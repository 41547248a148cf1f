/** How the values of the variables are checked. Each message follows the name of its variable. */
import { z } from 'zod';

export const text = z.string();
export const httpUrl = z.string('is not set').refine(hasProtocol(/^https?:$/), 'is not an http(s) address');
/** A page of the app, after APP_URL. */
export const pagePath = z.string().regex(/^\/(?!\/)[\x21-\x7e]*$/, 'is not a path such as /pricing');
export const postgresUrl = z.string().refine(hasProtocol(/^postgres(ql)?:$/), 'is not the address of a Postgres');
export const signingSecret = z.string()
  .regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/, 'is not whsec_ and the base64 of 24 to 64 bytes');
/** With an invalid name every request would throw when it reads the header. */
export const headerName = z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is not the name of a header');
/** A one-line env file has line breaks as the two characters `\n`. */
export const lines = z.string().transform((text) => text.replaceAll('\\n', '\n'));
export const certificate = lines
  .refine((pem) => /-----BEGIN CERTIFICATE-----\s/.test(pem), 'is not a certificate');
/** The names of three form fields, in the order of `returnFields`. */
export const fieldNames = z.string().regex(
  /^[\w.-]+(,[\w.-]+){2}$/,
  'is not the names of three fields, with commas between',
)
  .transform((names) => names.split(','))
  .refine((names) => new Set(names).size === 3, 'names a field twice')
  .transform(([orderId = '', paymentId = '', signature = '']) => ({ orderId, paymentId, signature }));
export const timeZone = z.string().transform((name, { addIssue }) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    addIssue('is not a time zone');
    return z.NEVER;
  }
});
/** The platform sets keys as a JSON object. The value is its entry `default`. */
export const platformKey = z.string().transform((json, { addIssue }) => {
  try {
    return z.object({ default: z.string().min(1) }).safeParse(JSON.parse(json)).data?.default;
  } catch {
    addIssue('is not JSON');
    return z.NEVER;
  }
});
export const colour = z.string().regex(/^#[0-9a-f]{6}$/i, 'is not a colour such as #1d4ed8');

function hasProtocol(protocol: RegExp): (url: string) => boolean {
  return (url) => protocol.test(URL.parse(url)?.protocol ?? '');
}

/**
 * Whether an address is https and can be outside of this machine and its networks. What a name resolves to is not looked
 * up: the owner of the project chose it.
 */
export function isPublicAddress(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  const isPrivate = hostname.startsWith('[')
    ? !/^\[[23]/.test(hostname) // not 2000::/3
    : /^(0|10|127|169\.254|192\.168|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.[\d.]+$/.test(
      hostname,
    ) ||
      !hostname.includes('.') || /\.(localhost|local|internal)\.?$/.test(hostname);
  return protocol === 'https:' && !isPrivate;
}

export function days(least: number) {
  return wholeNumber(least, 99999, `is not a whole number of days from ${least} to 99999`);
}

export function wholeNumber(least: number, most: number, message: string) {
  return z.string().regex(/^\d{1,5}$/, message).transform(Number)
    .refine((number) => number >= least && number <= most, message);
}

export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

/** Names of the variables whose value has white space around it: no signature and no key is right with it. */
export function namesWithSpace(names: readonly string[], valueOf: (name: string) => string | undefined): string[] {
  // A certificate, a text and JSON may end with a line break.
  return names.filter((name) => !/_(CA|FOOTER|KEYS)$/.test(name) && valueOf(name) !== valueOf(name)?.trim());
}

export function missing(name: string): never {
  throw new Error(`${name} is not set`);
}
