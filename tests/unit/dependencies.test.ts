import { expect, test } from 'vitest';
import { type Dependencies, findProblems, readDependencies } from '../../scripts/check/dependencies.ts';
import { readLicence } from '../../scripts/generate/dependencies/licences.ts';

const stale = 'does not match package-lock.json: run `npm run generate`';

test.each<[what: string, problems: string[], edit: (committed: Dependencies) => void]>([
  ['the committed files', [], () => {}],
  [
    'a package without integrity',
    ['package-lock.json has no integrity of fast-check@4.10.2'],
    ({ packages }) => delete packages['node_modules/fast-check']?.integrity,
  ],
  [
    'an exception that has an integrity',
    ['@supabase/cli-darwin-x64@3.1.0 is no exception in package-lock.json'],
    ({ packages }) => Object.assign(packages['node_modules/@supabase/cli-darwin-x64'] ?? {}, { integrity: 'sha512-a' }),
  ],
  [
    'a deployed package under the GPL',
    ['xtend@4.0.2 states the licence GPL-3.0, which is not permissive', `docs/dependencies.md ${stale}`],
    ({ packages }) => Object.assign(packages['node_modules/xtend'] ?? {}, { license: 'GPL-3.0' }),
  ],
  [
    'another hash in the lock file of the function',
    [`functions/api/deno.lock ${stale}`],
    (committed) => committed.denoLock = committed.denoLock.replace('sha512-K', 'sha512-L'),
  ],
  [
    'a list with another version',
    [`docs/dependencies.md ${stale}`],
    (committed) => committed.document = committed.document.replace(/(hono@)\d/, '$19'),
  ],
])('the check of dependencies of %s reports %j', async (_, problems, edit) => {
  const committed = await readDependencies();
  edit(committed);
  expect(await findProblems(committed)).toEqual(problems);
});

const mit = 'Permission is hereby granted, free of charge, to any person\nobtaining a copy';

test.each([
  ['MIT', 'LICENSE', mit, { place: 'LICENSE' }],
  ['MIT', 'README.md', mit, { problem: 'a@1.0.0 has no licence file' }],
  ['MIT', 'LICENSE', 'GNU GENERAL PUBLIC LICENSE', {
    problem: 'LICENSE of a@1.0.0 is not the licence MIT that it states',
  }],
  ['MIT', 'COPYING', `${mit}\n"Commons Clause"`, {
    problem: 'COPYING of a@1.0.0 is not the licence MIT that it states',
  }],
])('a package that states %s, with %s of %j, is read as %j', async (stated, name, text, read) => {
  const folder = await Deno.makeTempDir({ prefix: 'licence-' });
  try {
    await Deno.writeTextFile(`${folder}/${name}`, text);
    expect(await readLicence(folder, 'a@1.0.0', stated)).toEqual(read);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
