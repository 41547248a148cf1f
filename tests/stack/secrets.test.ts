import { expect, test } from 'vitest';
import { copyProject } from '../helpers/project/copy-project.ts';

const script = `
  const { localSecrets } = await import('./scripts/stack/secrets.ts');
  console.log(JSON.stringify(await localSecrets()));
`;

/** The secrets of the project in a folder, in the order of their names. */
async function secretsOf(folder: string): Promise<string[]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ['eval', script], cwd: folder }).output();
  const { variables, ...others } = JSON.parse(new TextDecoder().decode(stdout));
  return Object.values<string>({ ...variables, ...others });
}

test('each folder has secrets of its own, which stay, in a file that only its user can read', async () => {
  const folders = await Promise.all([copyProject(), copyProject()]);
  try {
    const [first = [], second = []] = await Promise.all(folders.map(secretsOf));
    expect(first).toHaveLength(7);
    expect(new Set([...first, ...second]).size).toBe(14);
    expect(await secretsOf(folders[0])).toEqual(first);
    const { mode } = await Deno.stat(`${folders[0]}/supabase/.temp/stack/secrets.json`);
    expect((mode ?? 0) & 0o777).toBe(0o600);
  } finally {
    await Promise.all(folders.map((folder) => Deno.remove(folder, { recursive: true })));
  }
});
