import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkReleases } from '../../scripts/check-releases.ts';
import { hashesText, hashRelease } from '../../scripts/release/file-hashes.ts';

const first = 'migrations/20270101000001_first.sql';
const second = 'migrations/20270101000002_second.sql';
const remedy =
  'Released files never change: write a new migration. Before the release is published: `npm run release -- --again`';

let folder: string;
const write = (path: string, text: string) => Deno.writeTextFile(`${folder}/${path}`, text);

beforeEach(async () => {
  folder = await Deno.makeTempDir({ prefix: 'releases-' });
  for (const name of ['migrations', 'releases']) await Deno.mkdir(`${folder}/${name}`);
  for (const path of [first, second, 'releases/1.2.3.sql', 'releases/1.2.3.json']) await write(path, path);
  await write('releases/1.2.3.sha256', hashesText(await hashRelease('1.2.3', folder)));
});
afterEach(() => Deno.remove(folder, { recursive: true }));

test('released files as they were released, and a later migration, are accepted', async () => {
  expect(await checkReleases(folder)).toEqual([]);
  await write('migrations/20270101000003_third.sql', '');
  expect(await checkReleases(folder)).toEqual([]);
});

test('a changed migration and a changed snapshot are refused', async () => {
  await write(first, 'changed');
  await write('releases/1.2.3.sql', 'changed');
  expect(await checkReleases(folder)).toEqual([
    `${first} is part of release 1.2.3 and was changed`,
    'releases/1.2.3.sql is part of release 1.2.3 and was changed',
    remedy,
  ]);
});

test('a missing migration is refused', async () => {
  await Deno.remove(`${folder}/${second}`);
  expect(await checkReleases(folder)).toEqual([`${second} is part of release 1.2.3 and is missing`, remedy]);
});

test('a new migration with an older version than a released one, or with the same, is refused', async () => {
  const older = 'migrations/20270101000000_older.sql';
  const same = 'migrations/20270101000002_third.sql';
  for (const path of [older, same]) await write(path, '');
  expect(await checkReleases(folder)).toEqual([
    ...[older, same].map((path) => `${path} is new and not later than ${second} of release 1.2.3`),
    remedy,
  ]);
});

test('each release is checked, the newest by its version and not by its name', async () => {
  await write('migrations/20270101000003_third.sql', '');
  for (const path of ['releases/1.10.0.sql', 'releases/1.10.0.json']) await write(path, path);
  await write('releases/1.10.0.sha256', hashesText(await hashRelease('1.10.0', folder)));
  await write('migrations/20270101000003_third.sql', 'changed');
  await write(first, 'changed');
  expect(await checkReleases(folder)).toEqual([
    `${first} is part of release 1.2.3 and was changed`,
    `${first} is part of release 1.10.0 and was changed`,
    'migrations/20270101000003_third.sql is part of release 1.10.0 and was changed',
    remedy,
  ]);
});

test('the list of hashes is one that sha256sum checks', async () => {
  const text = await Deno.readTextFile(`${folder}/releases/1.2.3.sha256`);
  expect(text.trimEnd().split('\n').map((line) => line.replace(/^[0-9a-f]{64} {2}/, ''))).toEqual(
    [first, second, 'releases/1.2.3.json', 'releases/1.2.3.sql'],
  );
});
