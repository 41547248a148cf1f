import { expect, test } from 'vitest';
import { chooseDatabase } from '../../scripts/console/choose-database.ts';

const asked: string[] = [];
const ask = (question: string) => {
  asked.push(question);
  return Promise.resolve('from the prompt');
};

test('without an address the console opens the local stack', async () => {
  expect(await chooseDatabase(undefined, {}, ask)).toMatch(
    /^postgresql:\/\/subscriptions_support:[^@]+@127\.0\.0\.1:54322\/postgres$/,
  );
  expect(asked).toEqual([]);
});

test('SUPPORT_DB_URL may contain the password, and --db-url wins over it', async () => {
  const environment = { SUPPORT_DB_URL: 'postgresql://asha:pw@db.example/postgres', SUPPORT_DB_PASSWORD: 'env' };
  expect(await chooseDatabase(undefined, environment, ask)).toBe('postgresql://asha:pw@db.example/postgres');
  expect(await chooseDatabase('postgresql://ravi@other.example/postgres', environment, ask))
    .toBe('postgresql://ravi:env@other.example/postgres');
});

test('a password that is given nowhere is asked for', async () => {
  asked.length = 0;
  expect(await chooseDatabase('postgresql://db.example:6543/postgres', {}, ask))
    .toBe('postgresql://subscriptions_support:from%20the%20prompt@db.example:6543/postgres');
  expect(asked).toEqual(['Password of subscriptions_support: ']);
});

test.each([
  ['postgresql://asha:s3cret@db.example/postgres', /leave it out of --db-url/],
  ['db.example s3cret', /This is no connection string/],
  ['mysql://asha@db.example/s3cret', /This is no connection string/],
])('the argument %s is refused without a word of the secret', async (argument, reason) => {
  const refused = chooseDatabase(argument, {}, ask);
  await expect(refused).rejects.toThrow(reason);
  await expect(refused).rejects.not.toThrow(/s3cret/);
});
