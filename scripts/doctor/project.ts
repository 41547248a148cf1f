import { parseEnv } from 'node:util';
import { type Installed, readInstalled } from '../add/installed.ts';
import { localEnvironment } from '../stack/defaults.ts';
import { readEnvironment } from '../stack/function/environment.ts';
import { root } from '../stack/root.ts';
import { localDatabaseUrl, localSecrets } from '../stack/secrets.ts';

/** The project to check, and its settings. */
export type Project = {
  readonly mode: 'local' | 'hosted';
  /** Null: the local stack. */
  readonly ref: string | null;
  /** Public URL of the project, without a trailing slash. */
  readonly url: string;
  /** The name of the function. */
  readonly functionName: string;
  /** The versions of the migrations that `npm run add` installed in the app; undefined: those of this checkout. */
  readonly migrations?: readonly string[] | undefined;
  /** Public URL that the paths of the function, `/api/…`, follow: of the functions, or of one that is not named `api`. */
  readonly functionsUrl: string;
  /** URL of Postgres for the role `postgres`; null: not given. */
  readonly databaseUrl: string | null;
  /** Whether to connect to databases whose server can't be verified. */
  readonly withoutCa: boolean;
  /** For the Management API; null: not given. */
  readonly accessToken: string | null;
  readonly managementUrl: string;
  /** The function's variables, as far as they are known here; an empty value means "not configured". */
  readonly environment: Readonly<Record<string, string>>;
  /** The names in the env file, known to the function or not. */
  readonly envFileNames: readonly string[];
  /** Whether GATEWAY_API_URL is the local simulator, which can't list plans, payments and webhooks. */
  readonly hasSimulator: boolean;
  /** Whether RESEND_BASE_URL is the local mailbox, which has no domains. */
  readonly hasMailbox: boolean;
};

/** Input from the command line and the process environment. */
export type ProjectOptions = {
  /** Null: the local stack. */
  readonly ref: string | null;
  /** The local stack's API port. */
  readonly port: number;
  /** The name of the function in a hosted project; default: the recorded one of the app, else `api`. */
  readonly functionName?: string | undefined;
  /** Where the command was started, for a hosted project: the folder of an app, or another one. */
  readonly folder?: string;
  /** The env file; it need not exist. */
  readonly envFile?: string;
  readonly withoutCa?: boolean;
  /** The process environment, which overrides the env file. */
  readonly environment: Readonly<Record<string, string>>;
};

/**
 * Reads the project's settings. The platform does not return the values of secrets, so they come from this environment.
 * @throws Error when the record of the installation in the app's folder is damaged
 */
export async function readProject(options: ProjectOptions): Promise<Project> {
  const { ref, folder = root } = options;
  const installed = ref === null ? undefined : await readInstalled(folder);
  const envFile = options.envFile ?? `${installed === undefined ? root : folder}/supabase/functions/.env`;
  const envFileNames = Object.keys(parseEnv(await readText(envFile)));
  if (ref === null) return await localProject(options, envFile, envFileNames);
  const functionName = options.functionName ?? installed?.function;
  const project = await hostedProject(ref, { ...options, functionName }, envFile, envFileNames);
  return installed === undefined ? project : { ...project, migrations: migrationsOf(installed) };
}

function migrationsOf({ files }: Installed): string[] {
  return Object.keys(files).flatMap((path) => /^supabase\/migrations\/(\d+)_/.exec(path)?.[1] ?? []).toSorted();
}

async function localProject(
  { port, environment }: ProjectOptions,
  envFile: string,
  envFileNames: string[],
): Promise<Project> {
  const at = (offset: number) => `http://127.0.0.1:${port + offset}`;
  const [url, mailbox, gateway, shop] = [at(0), at(3), at(4), at(6)];
  const { variables } = await localSecrets();
  const defaults = localEnvironment({ gateway, mailbox, shop }, variables);
  const own = await readEnvironment({ ...environment }, defaults, envFile);
  return {
    mode: 'local',
    ref: null,
    url,
    functionName: 'api',
    functionsUrl: `${url}/functions/v1`,
    databaseUrl: await localDatabaseUrl(port),
    withoutCa: false,
    accessToken: null,
    managementUrl: '',
    environment: own,
    envFileNames,
    hasSimulator: own.GATEWAY_API_URL === gateway,
    hasMailbox: own.RESEND_BASE_URL === mailbox,
  };
}

async function hostedProject(
  ref: string,
  { environment, functionName = 'api', withoutCa = false }: ProjectOptions,
  envFile: string,
  envFileNames: string[],
): Promise<Project> {
  const url = projectUrl(ref, environment.SUPABASE_URL);
  return {
    mode: 'hosted',
    ref,
    url,
    functionName,
    functionsUrl: `${url}/functions/v1${functionName === 'api' ? '' : `/${functionName}`}`,
    databaseUrl: environment.DATABASE_URL || null,
    withoutCa,
    accessToken: environment.SUPABASE_ACCESS_TOKEN || null,
    managementUrl: withoutSlash(environment.SUPABASE_API_URL || 'https://api.supabase.com'),
    environment: await readEnvironment({ ...environment }, {}, envFile),
    envFileNames,
    hasSimulator: false,
    hasMailbox: false,
  };
}

/** Variables whose values may be shown. All others are treated as secrets. */
const publicVariables = [
  'GATEWAY',
  'GATEWAY_KEY_ID',
  'GATEWAY_SIGNATURE_HEADER',
  'GATEWAY_EVENT_ID_HEADER',
  'GATEWAY_RETURN_FIELDS',
  'GATEWAY_API_URL',
  'EARLY_RENEWAL',
  'CREDIT',
  'APP_URL',
  'REVALIDATE_URL',
  'EMAIL_FROM',
  'RESEND_BASE_URL',
  'EMAIL_TIME_ZONE',
  'EMAIL_LOCALE',
  'EMAIL_BRAND',
  'EMAIL_LOGO_URL',
  'EMAIL_FOOTER',
  'EMAIL_ACCENT',
  'EXPIRY_EMAILS',
  'RENEWAL_EMAILS',
  'RECEIPT_EMAILS',
  'SESSION_ISSUER',
  'DATABASE_POOL_CA',
];

/** Every value that must not be shown: secret variables, and the passwords inside addresses. */
export function secretValues({ environment, accessToken, databaseUrl }: Project): string[] {
  const values = Object.entries(environment);
  const own = [accessToken ?? '', databaseUrl ?? ''];
  const secrets = values.filter(([name]) => !publicVariables.includes(name)).map(([, value]) => value);
  const addresses = [...values.map(([, value]) => value), ...own];
  // HTTP Basic encodes id and secret together, which gives another Base64 text than the secret alone.
  const credentials = environment.GATEWAY_KEY_SECRET
    ? [`${environment.GATEWAY_KEY_ID}:${environment.GATEWAY_KEY_SECRET}`]
    : [];
  return [...secrets, ...credentials, ...own, ...addresses.flatMap((address) => URL.parse(address)?.password ?? [])];
}

/** SUPABASE_URL if it is a custom domain. A platform URL there may belong to another project and is ignored. */
function projectUrl(ref: string, given = ''): string {
  const isCustom = given !== '' && !/\.supabase\.(co|in)$/.test(URL.parse(given)?.hostname ?? '');
  return isCustom ? withoutSlash(given) : `https://${ref}.supabase.co`;
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

async function readText(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return '';
    throw error;
  }
}
