import { unifiedDiff } from './unified-diff.ts';
import type { Plan } from './plan.ts';
import { recordPath } from './installed.ts';
import type { Product } from './product.ts';

/** What will be done, a line for each file; the files of a new folder of the function or of the mails are one line. */
export function stepLines({ steps }: Plan, product: Product): string[] {
  const groups = [`supabase/functions/${product.function}/`, 'supabase/emails/'].filter((group) =>
    steps.every(({ path, kind }) => !path.startsWith(group) || kind === 'add')
  );
  const counts = new Map<string, number>();
  for (const { path, kind } of steps) {
    const line = `  ${kind.padEnd(6)} ${groups.find((group) => path.startsWith(group)) ?? path}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return [...counts].map(([line, count]) => line.endsWith('/') ? `${line} (${count} files)` : line);
}

/** The templates of mails that the app has edited. */
export function keptLines({ kept }: Plan): string[] {
  return kept.map(({ path }) => `  keep   ${path} (edited by the app)`);
}

/** What a version changes in templates that the app has edited: the app takes over what it wants. */
export async function mailNotes(folder: string, { kept }: Plan, { version }: Product): Promise<string[]> {
  const notes = kept.map(async ({ path, changedTo }) => {
    if (changedTo === undefined) return [];
    if (changedTo === null) {
      return ['', `${path} is the app's, and version ${version} does not have it: it may be removed.`];
    }
    const [own, ours] = [await Deno.readTextFile(`${folder}/${path}`), new TextDecoder().decode(changedTo)];
    return [
      '',
      `${path} is the app's, and version ${version} changes it, too. The way from the app's file to this version's; take`,
      'over what you want, and run this command again:',
      unifiedDiff(path, own, ours),
    ];
  });
  return (await Promise.all(notes)).flat();
}

/** What prevents the installation. */
export function problemLines({ edits, collisions }: Plan): string[] {
  return [
    ...edits,
    ...(edits.length === 0
      ? []
      : ['Way out: restore these files from your repository, and put the changes into files of your own.']),
    ...collisions,
  ];
}

/** What the developer does next. */
export function nextLines({ younger, steps }: Plan, { function: name }: Product): string[] {
  const hasMigration = steps.some(({ path }) => path.startsWith('supabase/migrations/'));
  const isFirst = steps.some(({ path, kind }) => path === recordPath && kind === 'add');
  const url = `https://<ref>.supabase.co/functions/v1${name === 'api' ? '' : `/${name}`}`;
  return [
    ...(younger.length === 0 ? [] : [
      `${younger.join(', ')} ${younger.length === 1 ? 'is' : 'are'} younger than ours: push with --include-all.`,
    ]),
    ...(name === 'api' ? [] : [
      `Address: .../functions/v1/${name}, also for \`subscriptions_url\` in Vault and the gateway's webhook. Client: ` +
      `\`createSubscriptions({ supabase, functionName: '${name}' })\`.`,
    ]),
    'Next:',
    ...(hasMigration ? [`  npx supabase db push --remote${younger.length === 0 ? '' : ' --include-all'}`] : []),
    '  npx supabase secrets set --env-file supabase/functions/.env   # made from .env.example',
    `  npx supabase functions deploy ${name} --use-api`,
    '  in the SQL editor:',
    ...(isFirst
      ? [
        `    select vault.create_secret('${url}', 'subscriptions_url');   -- for the schedule`,
        "    select vault.create_secret('<INTERNAL_KEY>', 'subscriptions_internal_key');",
      ]
      : []),
    '    select billing.set_up();',
    '  npm run doctor -- --project-ref <ref>   # in this checkout',
  ];
}
