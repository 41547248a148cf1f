import { checkHashes } from '../release/file-hashes.ts';

/**
 * Checks that no released file was changed, and that every new migration comes after the released ones: a database that
 * was installed from a release applies only what is newer. @returns one line for each problem, and one with the remedy
 */
export async function checkReleases(folder?: string): Promise<string[]> {
  const problems = await checkHashes(folder);
  return problems.length === 0 ? [] : [
    ...problems,
    'Released files never change: write a new migration. Before the release is published: `npm run release -- --again`',
  ];
}
