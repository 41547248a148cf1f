import type pg from 'pg';
import { readObjects, type SchemaObject } from './objects.ts';
import { createdBy, orReplace, type Statement } from '../stack/postgres/statements.ts';

type Client = Pick<pg.Client, 'query'>;

/**
 * Functions and views whose definitions differ only because Postgres writes `*` out in the order of the columns: a
 * migration adds a column at the end of its table, and a schema file may have it anywhere.
 * @returns their names. Their statements change nothing in the first database
 */
export async function sameAsDeclared(
  is: Client,
  shouldBe: Client,
  statements: readonly Statement[],
): Promise<Set<string>> {
  const declared = new Map((await readObjects(shouldBe)).map((object) => [object.identity, textOf(object)]));
  const differing = new Set(
    (await readObjects(is)).filter((object) => isMade(object) && declared.get(object.identity) !== textOf(object))
      .map(({ name }) => name),
  );
  const same = new Set<string>();
  for (const statement of statements) {
    const { name = '' } = createdBy(statement) ?? {};
    if (differing.has(name) && await changesNothing(is, name, statement)) same.add(name);
  }
  return same;
}

/** Whether an object is made by one statement that can replace it. */
export function isMade({ kind }: { readonly kind: string }): boolean {
  return kind === 'function' || kind === 'view';
}

async function changesNothing(client: Client, name: string, statement: Statement): Promise<boolean> {
  const read = async () => (await readObjects(client)).filter((object) => object.name === name).map(textOf).join('\n');
  const before = await read();
  await client.query('begin');
  try {
    await client.query(orReplace(statement));
    return await read() === before;
  } catch {
    return false;
  } finally {
    await client.query('rollback');
  }
}

function textOf({ header, definition }: SchemaObject): string {
  return `${header}\n${definition}`;
}
