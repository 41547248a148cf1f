import { expect, test } from 'vitest';
import { functionVariables } from '../../scripts/stack/function/environment.ts';
import { readConfig } from '../../supabase/functions/api/config.ts';

test('.env.example lists exactly the variables that the function reads and the platform does not set', async () => {
  const read = new Set<string>();
  readConfig((name) => {
    read.add(name);
    return name === 'SUPABASE_URL' || name === 'SUPABASE_ANON_KEY' || name === 'SUPABASE_SERVICE_ROLE_KEY'
      ? 'http://127.0.0.1'
      : undefined;
  });
  const own = [...read].filter((name) => !name.startsWith('SUPABASE_') && name !== 'PORT');
  expect((await functionVariables()).toSorted()).toEqual(own.toSorted());
});
