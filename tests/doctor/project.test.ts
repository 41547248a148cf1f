import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readProject, unknownNames } from '../../scripts/doctor/project.ts';

let folder: string;
let envFile: string;
beforeAll(async () => {
  folder = await Deno.makeTempDir({ prefix: 'doctor-' });
  envFile = `${folder}/.env`;
  await Deno.writeTextFile(envFile, "GATEWAY_KEY_ID=of-the-file\nINTERNAL_KEY='of the file'\nINTERAL_KEY=x\n");
});
afterAll(() => Deno.remove(folder, { recursive: true }));

const hosted = (environment: Record<string, string>) =>
  readProject({ ref: 'abcdefghijklmnopqrst', port: 54321, envFile, environment });

describe('a hosted project', () => {
  test('has the addresses of the platform, and null for everything that is not given', async () => {
    expect(await hosted({})).toEqual({
      mode: 'hosted',
      ref: 'abcdefghijklmnopqrst',
      url: 'https://abcdefghijklmnopqrst.supabase.co',
      functionsUrl: 'https://abcdefghijklmnopqrst.supabase.co/functions/v1',
      databaseUrl: null,
      accessToken: null,
      managementUrl: 'https://api.supabase.com',
      environment: { GATEWAY_KEY_ID: 'of-the-file', INTERNAL_KEY: 'of the file' },
      envFileNames: ['GATEWAY_KEY_ID', 'INTERNAL_KEY', 'INTERAL_KEY'],
      hasSimulator: false,
      hasMailbox: false,
    });
  });

  test('has the values of the process environment before those of the env file', async () => {
    const { environment } = await hosted({ GATEWAY_KEY_ID: 'of-the-process', HOME: '/', INTERNAL_KEY: '' });
    expect(environment).toEqual({ GATEWAY_KEY_ID: 'of-the-process', INTERNAL_KEY: '' });
  });

  test.each([
    ['https://api.acme.example/', 'https://api.acme.example'],
    ['https://anotherproject.supabase.co', 'https://abcdefghijklmnopqrst.supabase.co'],
    ['', 'https://abcdefghijklmnopqrst.supabase.co'],
  ])('with SUPABASE_URL=%s is at %s', async (given, url) => {
    expect(await hosted({ SUPABASE_URL: given })).toMatchObject({ url, functionsUrl: `${url}/functions/v1` });
  });
});

describe('the local stack', () => {
  test('has addresses derived from its port, and local defaults', async () => {
    const project = await readProject({ ref: null, port: 56000, envFile, environment: {} });
    expect(project).toMatchObject({
      mode: 'local',
      url: 'http://127.0.0.1:56000',
      databaseUrl: 'postgresql://postgres:postgres@127.0.0.1:56001/postgres',
      environment: { GATEWAY_KEY_ID: 'of-the-file', GATEWAY_API_URL: 'http://127.0.0.1:56004' },
      hasSimulator: true,
      hasMailbox: true,
    });
  });

  test('with a real gateway and real mails has no simulator and no mailbox', async () => {
    const environment = { GATEWAY_API_URL: 'https://gateway.example', RESEND_BASE_URL: '' };
    expect(await readProject({ ref: null, port: 56000, envFile, environment }))
      .toMatchObject({ hasSimulator: false, hasMailbox: false });
  });
});

test('names that neither the function nor the platform reads are unknown', async () => {
  expect(await unknownNames(['INTERNAL_KEY', 'INTERAL_KEY', 'SUPABASE_URL', 'ANOTHER'])).toEqual([
    'ANOTHER',
    'INTERAL_KEY',
  ]);
});
