import { dataFolder, openDataFolder } from './data-folder.ts';
import { databaseUrlAt } from './postgres/database-url.ts';

const secretVariables = ['GATEWAY_KEY_SECRET', 'GATEWAY_WEBHOOK_SECRET', 'INTERNAL_KEY', 'EVENTS_SECRET'] as const;

/** What gives power over the local stack. */
export type LocalSecrets = {
  /** Of `postgres` and of each other role that logs in. */
  readonly databasePassword: string;
  /** Signs the sessions (HS256). */
  readonly jwtSecret: string;
  readonly secretKey: string;
  /** Defaults of variables of the function. */
  readonly variables: Readonly<Record<(typeof secretVariables)[number], string>>;
};

const file = `${dataFolder}/secrets.json`;

/**
 * The secrets of the stacks of this folder, in a file that only this user can read. The first call makes them at random;
 * to replace them, stop the stack and remove the file. In the folder of another user they are kept nowhere: a temporary
 * stack runs there, and no other command finds its database.
 */
export async function localSecrets(): Promise<LocalSecrets> {
  try {
    if (!await Deno.stat(file).then(() => true, () => false)) await makeSecrets();
    return await complete(JSON.parse(await Deno.readTextFile(file)));
  } catch (error) {
    if (error instanceof Error && 'code' in error && /^(EACCES|EPERM|EROFS)$/.test(String(error.code))) {
      return randomSecrets();
    }
    throw error;
  }
}

async function makeSecrets(): Promise<void> {
  await openDataFolder();
  const draft = `${file}.${crypto.randomUUID()}`;
  await Deno.writeTextFile(draft, JSON.stringify(randomSecrets(), null, 2), { mode: 0o600, createNew: true });
  // Of two first calls at once the file of one is kept, complete.
  await Deno.link(draft, file).catch((error: unknown) => {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  });
  await Deno.remove(draft);
}

/** Adds the secrets that the version which made the file did not have. */
async function complete(secrets: LocalSecrets): Promise<LocalSecrets> {
  if (secretVariables.every((name) => secrets.variables[name])) return secrets;
  const completed = { ...secrets, variables: { ...randomSecrets().variables, ...secrets.variables } };
  await Deno.writeTextFile(file, JSON.stringify(completed, null, 2), { mode: 0o600 });
  return completed;
}

/** What a program says that found no local database there. @param port the API's port */
export const noStack = (port: number): string =>
  `No stack answers at port ${port}: run \`npm start\`, or name its port with --port`;

/** The URL of the local database, for programs that are given none. @param port the API's port */
export async function localDatabaseUrl(port: number): Promise<string> {
  return databaseUrlAt(port + 1, (await localSecrets()).databasePassword);
}

function randomSecrets(): LocalSecrets {
  return {
    databasePassword: random(),
    jwtSecret: random(),
    secretKey: `sb_secret_${random()}`,
    variables: {
      GATEWAY_KEY_SECRET: random(),
      GATEWAY_WEBHOOK_SECRET: random(),
      INTERNAL_KEY: random(),
      EVENTS_SECRET: `whsec_${btoa(random())}`,
    },
  };
}

function random(): string {
  return crypto.getRandomValues(new Uint8Array(24)).toHex();
}
