import { denoEnvironment } from '../../../scripts/stack/process/deno-environment.ts';
import { root } from '../../../scripts/stack/root.ts';
import { type BenchProcess, startServerProcess } from '../bench-process.ts';

/** The other systems that take webhooks, named after their folders. */
export const peers = ['better-auth', 'stripe-sync-engine'] as const;
export type Peer = (typeof peers)[number] | 'fastify';

/** The runtimes of a peer: Deno, like ours, or Node, which the peers are written for. */
export const runtimes = ['deno', 'node'] as const;
export type Runtime = (typeof runtimes)[number];

const sources = `${root}/tests/bench/peers`;

/**
 * Copies a peer into a folder outside the repository and installs its packages there with npm. A later run with the
 * same versions uses them again.
 * @returns the folder
 * @throws Error with the output of npm when the installation fails
 */
export async function installPeer(peer: Peer): Promise<string> {
  const manifest = await Deno.readTextFile(`${sources}/${peer}/package.json`);
  const temporary = Deno.env.get('TMPDIR') ?? '/tmp';
  const parent = `${temporary}/bench-peers-${await shortHash(manifest)}`;
  const folder = `${parent}/${peer}`;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.copyFile(`${sources}/serve.mjs`, `${parent}/serve.mjs`);
  await Deno.copyFile(`${sources}/${peer}/server.mjs`, `${folder}/server.mjs`);
  if (await Deno.readTextFile(`${folder}/installed.json`).catch(() => '') === manifest) return folder;
  await Deno.writeTextFile(`${folder}/package.json`, manifest);
  const { success, stderr } = await new Deno.Command('npm', {
    args: ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'],
    cwd: folder,
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  await Deno.writeTextFile(`${folder}/installed.json`, manifest);
  return folder;
}

/** Starts an installed peer. On Deno its network access is limited to this machine. */
export function startPeer(
  peer: Peer,
  folder: string,
  runtime: Runtime,
  env: Record<string, string>,
): Promise<BenchProcess> {
  const allowed = ['--allow-net=127.0.0.1', '--allow-read', '--allow-env', '--allow-sys'];
  return startServerProcess({
    name: peer,
    command: runtime === 'deno' ? Deno.execPath() : 'node',
    args: [...runtime === 'deno' ? ['run', '--no-prompt', '--node-modules-dir=manual', ...allowed] : [], 'server.mjs'],
    cwd: folder,
    env: { ...denoEnvironment(), PATH: Deno.env.get('PATH') ?? '', NODE_ENV: 'production', ...env },
  });
}

async function shortHash(text: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return new Uint8Array(hash).toHex().slice(0, 12);
}
