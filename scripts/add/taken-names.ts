import { splitStatements, type Statement } from '../stack/postgres/statements.ts';

/** An object that a migration creates: `table public.subscriptions`. */
export type TakenName = { readonly object: string; readonly file: string };

export type Migration = { readonly file: string; readonly sql: string };

const objectKinds = '(?:foreign )?table|(?:materialized |recursive )?view|function|procedure|aggregate|type|domain';
const creates = new RegExp(
  `^create (?:or replace )?(?:unlogged )?(${objectKinds}|schema|index|unique index|sequence) (?:concurrently )?` +
    '(?:if not exists )?([\\w.]+)',
);
const renames = new RegExp(`^alter (${objectKinds}|index|schema) (?:if exists )?([\\w.]+)[^;]*? rename to (\\w+)$`);
const moves = new RegExp(`^alter (${objectKinds}) (?:if exists )?([\\w.]+)[^;]*? set schema (\\w+)$`);
const drops = new RegExp(`^drop (${objectKinds}|index|schema) (?:if exists )?(.+?)(?: cascade| restrict)?$`);

/** The objects that are left in schema public after migrations in their order, and schema billing. */
export function createdObjects(migrations: readonly Migration[]): Map<string, TakenName> {
  const objects = new Map<string, TakenName>();
  for (const { file, sql } of migrations) {
    for (const statement of splitStatements(sql)) applyStatement(statement, file, objects);
  }
  return objects;
}

/**
 * The objects of an app's migrations that have a name of ours. A migration that is older than ours may create one if an
 * older one than ours renames it. A younger one may not: in a new database our object has the name by then, also
 * public.profiles, which we leave to an older one.
 */
export function takenNames(app: readonly Migration[], ours: readonly Migration[]): TakenName[] {
  const first = ours[0]?.file ?? '';
  const reserved = new Set(createdObjects(ours).keys());
  const older = createdObjects(app.filter(({ file }) => file < first));
  const younger = app.filter(({ file }) => file >= first).flatMap((migration) =>
    splitStatements(migration.sql).flatMap((statement) => {
      const objects = new Map<string, TakenName>();
      applyStatement(statement, migration.file, objects);
      return [...objects];
    })
  );
  const taken = [
    ...[...older].filter(([name]) => reserved.has(name)),
    ...younger.filter(([name]) => reserved.has(name) || name === 'public.profiles'),
  ];
  return [...new Map(taken.map(([, { object, file }]) => [`${object} ${file}`, { object, file }])).values()];
}

function applyStatement({ code }: Statement, file: string, objects: Map<string, TakenName>): void {
  const [, kind = '', name = ''] = creates.exec(code) ?? [];
  const created = kind.endsWith('index')
    ? keyOf(name, / on (?:only )?([\w.]+)\./.exec(code)?.[1] ?? 'public')
    : kind === 'schema'
    ? schemaKey(name)
    : keyOf(name);
  if (created !== undefined) objects.set(created, { object: `${kind} ${created}`, file });
  const [, renamed, before = '', after = ''] = renames.exec(code) ?? [];
  const key = renamed === 'schema' ? schemaKey : keyOf;
  rename(key(before), key(after));
  const [, , moved = '', schema = ''] = moves.exec(code) ?? [];
  rename(keyOf(moved), schema === 'public' ? keyOf(moved) : undefined);
  const [, dropped, list = ''] = drops.exec(code) ?? [];
  for (const one of list.replace(/\([^)]*\)/g, '').split(',')) {
    const key = dropped === 'schema' ? schemaKey(one.trim()) : keyOf(one.trim());
    if (key !== undefined) objects.delete(key);
  }

  function rename(from: string | undefined, to: string | undefined): void {
    const object = from === undefined ? undefined : objects.get(from);
    if (from === undefined || object === undefined) return;
    objects.delete(from);
    if (to !== undefined) objects.set(to, { ...object, object: object.object.replace(from, to) });
  }
}

/** The name with its schema, if that is public. */
function keyOf(name: string, schema: string | undefined = 'public'): string | undefined {
  const [one = '', other] = name.split('.');
  const [inSchema, bare] = other === undefined ? [schema, one] : [one, other];
  return inSchema === 'public' && bare !== '' ? `public.${bare}` : undefined;
}

function schemaKey(name: string): string | undefined {
  return name === 'billing' ? 'billing' : undefined;
}
