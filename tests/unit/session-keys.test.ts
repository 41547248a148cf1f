import { describe, expect, test } from 'vitest';
import { createSessionKeys } from '../../supabase/functions/api/sessions/session-keys.ts';

const outage = new Error('the auth server is down');

/** Session keys with an auth server that gives these answers in order, and a clock that only `pass` advances. */
function scripted(...answers: (Record<string, JsonWebKey> | Error)[]) {
  let asked = 0;
  let now = 0;
  const keys = createSessionKeys(async () => {
    const answer = answers[Math.min(asked++, answers.length - 1)] ?? {};
    await Promise.resolve();
    if (answer instanceof Error) throw answer;
    return new Map(Object.entries(answer));
  }, () => now);
  return {
    find: keys.find,
    asked: () => asked,
    pass(seconds: number) {
      now += seconds * 1000;
    },
  };
}

const [one, two] = [{ kty: 'EC', x: '1' }, { kty: 'EC', x: '2' }];

describe('session keys', () => {
  test('are fetched again for unknown keys, at most once a minute', async () => {
    const { find, asked, pass } = scripted({ one });
    await find('one');
    for (let second = 0; second < 600; second++, pass(1)) {
      await Promise.all([find(`no-${second}`), find(`nor-${second}`)]);
    }
    expect(asked()).toBe(10);
  });

  test('that were rotated are found a minute after the last fetch', async () => {
    const { find, pass } = scripted({ one }, { one, two });
    expect(await find('two')).toBeUndefined();
    pass(59);
    expect(await find('two')).toBeUndefined();
    pass(1);
    expect(await find('two')).toBe(two);
  });

  test('that were revoked are removed by the refresh after ten minutes, which runs in the background', async () => {
    const { find, pass } = scripted({ one, two }, { two });
    await find('one');
    pass(601);
    expect(await find('one')).toBe(one);
    await new Promise((resolve) => setTimeout(resolve));
    expect(await find('one')).toBeUndefined();
  });
});

describe('while the auth server is down', () => {
  test('known keys are found, and the auth server is called once a minute', async () => {
    const { find, asked, pass } = scripted({ one }, outage);
    await find('one');
    pass(601);
    for (let second = 0; second < 120; second++, pass(1)) {
      expect(await find('one')).toBe(one);
      await find('no').catch(() => {});
    }
    expect(asked()).toBe(3);
  });

  test('an unknown key is an outage, not a refusal, until the auth server answers', async () => {
    const { find, pass } = scripted({ one }, outage, { one });
    await find('one');
    pass(60);
    for (let request = 0; request < 2; request++) await expect(find('two')).rejects.toBe(outage);
    pass(60);
    expect(await find('two')).toBeUndefined();
  });

  test('without any keys the auth server is called every five seconds, once for all requests', async () => {
    const { find, asked, pass } = scripted(outage, outage, { one });
    for (let second = 0; second < 5; second++, pass(1)) {
      expect(await Promise.allSettled([find('one'), find('one')]))
        .toEqual(Array(2).fill({ status: 'rejected', reason: outage }));
    }
    expect(asked()).toBe(1);
    await expect(find('one')).rejects.toBe(outage);
    pass(5);
    expect(await find('one')).toBe(one);
    expect(asked()).toBe(3);
  });
});
