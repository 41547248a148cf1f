import { dirname } from 'node:path';
import type { Look, Mail } from '../../supabase/functions/api/generated/emails.js';
import { buildEmails, emailsFolder } from '../generate/emails.ts';
import { denoEnvironment } from '../stack/process/deno-environment.ts';

/** Rendering takes a fraction of a second; templates of an app may not end. */
const withinMs = 20_000;

/**
 * Renders each kind of mail with the sample values of this project's templates, without any permission.
 * @param entry the module with the renderer; @param app the folder of the app, for its own packages
 * @returns the mails by their kinds @throws Error with what the templates or the bundler say
 */
export async function renderSamples(entry: string, app: string, look: Look = {}): Promise<Record<string, Mail>> {
  const kinds = await mailKinds();
  const samples = `${dirname(entry)}/samples-of-mails.ts`;
  await Deno.writeTextFile(
    samples,
    [
      `import { mails } from './${entry.slice(dirname(entry).length + 1)}';`,
      ...kinds.map((kind, index) => `import template${index} from '${emailsFolder}/${kind}.tsx';`),
      'const rendered: Record<string, unknown> = {};',
      ...kinds.map((kind, index) =>
        `rendered['${kind}'] = mails.${nameOf(kind)}(template${index}.PreviewProps, ${JSON.stringify(look)});`
      ),
      'console.log(JSON.stringify(rendered));',
    ].join('\n'),
  );
  const bundle = await buildEmails(samples, app).finally(() => Deno.remove(samples));
  const child = new Deno.Command(Deno.execPath(), {
    args: ['run', '--no-prompt', '--no-config', '--no-lock', '--no-remote', '-'],
    ...{ stdin: 'piped', stdout: 'piped', stderr: 'piped' },
    env: denoEnvironment(),
    clearEnv: true,
    signal: AbortSignal.timeout(withinMs),
  }).spawn();
  const [output] = await Promise.all([child.output(), new Blob([bundle]).stream().pipeTo(child.stdin).catch(() => {})]);
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  if (!output.success) throw new Error(messageIn(text(output.stderr)));
  return JSON.parse(text(output.stdout));
}

/** The kinds of mails: the names of the templates. */
export async function mailKinds(): Promise<string[]> {
  const names = await Array.fromAsync(Deno.readDir(emailsFolder), ({ name }) => name);
  return names.filter((name) => name.endsWith('.tsx') && name !== 'layout.tsx').map((name) => name.replace('.tsx', ''))
    .toSorted();
}

/** `payment-success` as `paymentSuccess`. */
function nameOf(kind: string): string {
  return kind.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The message of an uncaught error, without the minified code around it. */
function messageIn(stderr: string): string {
  return /^error: (?:Uncaught )?(?:\(in promise\) )?(.*)$/m.exec(stderr)?.[1] ?? stderr.slice(-2000);
}
