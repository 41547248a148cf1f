import { describeSchema } from '../release/describe-schema.ts';
import { deployedFolder } from '../release/release-files.ts';
import { migrationVersions } from '../stack/postgres/migration-versions.ts';
import { applyInOrder } from './apply-in-order.ts';
import { isMade } from './as-declared.ts';
import { lockTimeout, readStatements } from './baseline.ts';
import { type Built, withBuilds } from './build.ts';
import { differences } from './differences.ts';
import { dropStatements, fits, readObjects } from './objects.ts';
import { tableChanges } from './pg-delta.ts';
import { createdBy, namesIn, orReplace, type Statement } from '../stack/postgres/statements.ts';

const head = `-- Made by npm run migration. Renames and data are written by hand.
${lockTimeout}`;

/** What makes the parts outside of the schema. */
const setUpFunctions = ['billing.set_up', 'billing.schedule_jobs'];

/** Gives support the rights on new objects, if its role could be made. */
const support = `do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;`;

/** A new migration: its name, its text, and how the schema that it leaves differs from the schema files. */
export type Migration = { readonly file: string; readonly sql: string; readonly differences: readonly string[] };

/**
 * Writes one migration for what has changed in the schema files since the newest migration, and compares what all
 * migrations leave with the schema files. @returns undefined when nothing has changed, and writes nothing
 * @throws Error for a name that is none, and for a file that Postgres refuses
 */
export async function writeMigration(name: string, folder = deployedFolder): Promise<Migration | undefined> {
  if (!/^[a-z][a-z0-9_]*$/.test(name)) {
    throw new Error(`"${name}" is no name: letters, digits and underscores, as add_notes`);
  }
  return await withBuilds(async (build) => {
    const migrated = await build(`${folder}/migrations`);
    const declared = await build(`${folder}/schemas`);
    const statements = await readStatements(folder);
    if ((await differences(migrated.client, declared.client, statements)).length === 0) return undefined;
    const sql = await migrationText(migrated, declared, statements);
    const file = `${await nextVersion(folder)}_${name}.sql`;
    await Deno.writeTextFile(`${folder}/migrations/${file}`, sql);
    const upgraded = await build(`${folder}/migrations`).catch((error: Error) => error);
    return {
      file,
      sql,
      differences: upgraded instanceof Error
        ? [upgraded.message]
        : await differences(upgraded.client, declared.client, statements),
    };
  });
}

/** Makes the migrated database the declared one. @returns the statements that do it, in their order */
async function migrationText(migrated: Built, declared: Built, statements: readonly Statement[]): Promise<string> {
  const { client } = migrated;
  const after = new Map((await readObjects(declared.client)).map((object) => [object.identity, object]));
  const before = await readObjects(client);
  const drops = await dropStatements(client, before.filter((object) => !fits(object, after.get(object.identity))));
  const dropped = await applyInOrder(client, drops);

  const left = new Map((await readObjects(client)).map((object) => [object.identity, object]));
  const objects = [...after.values()];
  const created = new Set(
    objects.filter((o) => o.kind !== 'column' && !left.has(o.identity)).map((object) => object.name),
  );
  const made = new Set(
    objects.filter((o) => isMade(o) && left.get(o.identity)?.definition !== o.definition).map((object) => object.name),
  );
  const kept = new Set([...left.values()].map((object) => object.name));
  const copies = statements.flatMap((statement) => {
    const creates = createdBy(statement);
    if (creates !== undefined && isMade(creates) && made.has(creates.name)) {
      return [kept.has(creates.name) ? orReplace(statement) : statement.text];
    }
    // Rights also of new tables: a revoke matters where the project has default privileges.
    const isOfCreated = /^(?:grant|revoke) /.test(statement.code) &&
      namesIn(statement).some((name) => created.has(name));
    return isOfCreated ? [statement.text] : [];
  });

  const [known, wanted] = [await readComments(client), await readComments(declared.client)];
  const rest = await applyInOrder(client, [
    ...[...known.difference(wanted)].map((line) => line.replace(/ is +E?'[^]*$/, ' is null;')),
    ...dropped.failed.map(({ sql }) => sql),
    ...await tableChanges(migrated.url, declared.url),
    ...copies,
    ...[...wanted.difference(known)].map((line) => `${line};`),
    ...(created.size > 0 || made.has('billing.set_up_support') ? [support] : []),
  ]);
  return [
    head,
    ...dropped.applied,
    ...rest.applied,
    ...rest.failed.map(({ sql, error }) => `-- Fails: ${error}\n${sql}`),
    ...(made.size > 0 ? ['revoke execute on all functions in schema billing from public;'] : []),
    // What it makes now it makes also where it ran before.
    ...(setUpFunctions.some((name) => made.has(name)) ? ['select billing.set_up();'] : []),
  ].join('\n\n') + '\n';
}

/** The comments of a database, as statements that make them. */
async function readComments(client: Built['client']): Promise<Set<string>> {
  return new Set((await describeSchema(client)).filter((line) => line.startsWith('comment on ')));
}

/** The time in UTC, `yyyymmddhhmmss`, or the number after the newest migration if that is later. */
async function nextVersion(folder: string): Promise<string> {
  const newest = Number((await migrationVersions(`${folder}/migrations`)).at(-1) ?? 0);
  const now = Number(new Date().toISOString().replace(/\D/g, '').slice(0, 14));
  return String(Math.max(now, newest + 1));
}
