import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scenarioNames, stage } from '../helpers/orderings/scenarios.ts';
import { prepareToWalk, walk } from '../helpers/orderings/walk.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await prepareToWalk(database);
});
afterAll(() => database.close());

describe('every order', () => {
  test.each(scenarioNames)('%s', async (name) => {
    const t = performance.now();
    const { orders, divergences } = await walk(database, await stage(database, name), { length: Number(Deno.env.get('LEN') ?? 4), sessions: 1 });
    console.log(name, orders, Math.round(performance.now() - t), 'ms', divergences.length);
    for (const { words, states } of divergences.slice(0, 3)) console.log(words[0].join(' '), '\n', states[0], '\n', words[1].join(' '), '\n', states[1]);
    expect(divergences.length).toBe(0);
  });
});
