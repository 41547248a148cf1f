import { appMigrations, findBlockedPlaces, findCollisions, ownMigrations } from './collisions.ts';
import { configPath, withFunction, withoutFunction } from './config-toml.ts';
import { findEdits } from './edits.ts';
import { hashOf, type Installed, readIfExists, recordPath } from './installed.ts';
import { bundlePath, type EditedMail, readAppMails } from '../emails/app-mails.ts';
import { type Product, recordText } from './product.ts';
import { withIgnoredSecrets, withVariables } from './texts.ts';

/** One file that is written or removed. */
export type Step = { readonly path: string; readonly kind: 'add' | 'change' | 'remove'; readonly bytes: Uint8Array };

/** What an installation will do, and what prevents it. */
export type Plan = {
  readonly steps: readonly Step[];
  /** With their way out. */
  readonly collisions: readonly string[];
  /** With a diff. */
  readonly edits: readonly string[];
  /** Migrations of the app that are younger than one of ours that is added. */
  readonly younger: readonly string[];
  /** Templates of mails that the app has edited: they stay. */
  readonly kept: readonly EditedMail[];
};

const [examplePath, ignorePath] = ['supabase/functions/.env.example', 'supabase/.gitignore'];
const textPaths = [configPath, examplePath, ignorePath];
const nothing = new Uint8Array();
const encoder = new TextEncoder();

/** Compares the folder of an app with what is to be installed. Writes nothing. */
export async function planInstallation(
  folder: string,
  installed: Installed | undefined,
  original: Product,
): Promise<Plan> {
  // Before anything is read: a place may be a link.
  const places = [...original.files.keys(), ...Object.keys(installed?.files ?? {}), ...textPaths, recordPath];
  const blocked = await findBlockedPlaces(folder, places);
  if (blocked.length > 0) return { steps: [], collisions: blocked, edits: [], younger: [], kept: [] };
  const mails = installed && await readAppMails(folder, installed, original);
  const product = withBundle(original, mails?.bundle);
  const kept = mails?.edited ?? [];
  const isKept = (path: string) => kept.some((mail) => mail.path === path);
  const collisions = await findCollisions(folder, installed, product);
  if (mails?.problem !== undefined) collisions.push(mails.problem);
  const texts = await changedTexts(folder, installed, product, collisions);
  const steps: Step[] = [];
  // The record comes last: after an interrupted run the next one goes on.
  const record = [recordPath, encoder.encode(await recordText(product))] as const;
  for (const [path, bytes] of [...product.files, ...texts, record]) {
    if (isKept(path)) continue;
    const found = await readIfExists(`${folder}/${path}`);
    if (found !== undefined && await hashOf(found) === await hashOf(bytes)) continue;
    steps.push({ path, kind: found === undefined ? 'add' : 'change', bytes });
  }
  const recordStep = steps.at(-1)?.path === recordPath ? steps.splice(-1) : [];
  for (const path of Object.keys(installed?.files ?? {})) {
    if (isKept(path) || product.files.has(path) || await readIfExists(`${folder}/${path}`) === undefined) continue;
    steps.push({ path, kind: 'remove', bytes: nothing });
  }
  const oldestAdded = ownMigrations(product)
    .find((name) => steps.some(({ path }) => path === `supabase/migrations/${name}`));
  const younger = oldestAdded === undefined
    ? []
    : (await appMigrations(folder, installed, product)).filter((name) => name > oldestAdded);
  return {
    steps: [...steps, ...recordStep],
    collisions,
    edits: installed === undefined ? [] : await findEdits(folder, installed, product),
    younger,
    kept,
  };
}

/** With what the function sends made from the templates of the app. */
function withBundle(product: Product, bundle: Uint8Array | undefined): Product {
  if (bundle === undefined) return product;
  return { ...product, files: new Map(product.files).set(bundlePath(product.function), bundle) };
}

/** The files of the app that get our part. */
async function changedTexts(
  folder: string,
  installed: Installed | undefined,
  product: Product,
  collisions: string[],
): Promise<[path: string, bytes: Uint8Array][]> {
  const read = async (path: string) => new TextDecoder().decode(await readIfExists(`${folder}/${path}`));
  const name = product.function;
  const before = await read(configPath);
  const without = installed === undefined || installed.function === name
    ? before
    : withoutFunction(before, installed.function);
  const config = withFunction(without, name);
  if (config === undefined) {
    collisions.push(
      `functions.${name} of ${configPath} does not have \`verify_jwt = false\`, and webhooks carry no session. Way ` +
        'out: set it there.',
    );
  }
  const others = [await read('.gitignore'), await read('supabase/functions/.gitignore')];
  const [ignored, example] = [await read(ignorePath), await read(examplePath)];
  const ignoring = withIgnoredSecrets(ignored, others);
  return [
    [configPath, encoder.encode(config ?? before)],
    [examplePath, encoder.encode(withVariables(example, product.variables))],
    ...(ignoring === ignored ? [] : [[ignorePath, encoder.encode(ignoring)] as [string, Uint8Array]]),
  ];
}
