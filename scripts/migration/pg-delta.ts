import { splitPassword } from '../stack/postgres/database-url.ts';
import { runSupabase } from '../stack/postgres/supabase-cli.ts';
import { splitStatements, type Statement } from '../stack/postgres/statements.ts';

/**
 * What pg-delta leaves to this project: functions and views are copied from the schema files, and of the comments it misses
 * those on columns of views and on triggers. It restates the rights of the owner, on Postgres 17 with a right that older
 * versions do not know. Those of support are given by `billing.set_up_support`: its role may be missing, and a statement that
 * names it would fail.
 */
const excluded = [
  /^set local check_function_bodies /,
  /^(?:create|create or replace|drop) (?:function|view) /,
  /^comment on /,
  /^(?:grant|revoke) .* (?:to|from) (?:postgres|subscriptions_support)$/,
  /^create policy .* to subscriptions_support\b/,
];

/** The statements that make the tables, types, rights, policies and triggers of a database those of another one of its server. */
export async function tableChanges(from: string, to: string): Promise<string[]> {
  const file = await Deno.makeTempFile({ suffix: '.sql' });
  try {
    const [{ url, password }, target] = [splitPassword(from), splitPassword(to)];
    await runSupabase(password, 'db', 'diff', '--use-pg-delta', '--from', url, '--to', target.url, '--output', file);
    const statements = splitStatements(await Deno.readTextFile(file));
    return statements.filter(({ code }) => !excluded.some((pattern) => pattern.test(code)))
      .map(onProfiles).map((text) => text.replace(/, ?"?subscriptions_support"?(?=;?$)/, ''));
  } finally {
    await Deno.remove(file);
  }
}

/** A statement about the profiles finds their table where the app has its own `public.profiles`, too. */
function onProfiles({ text, code }: Statement): string {
  if (!/\bpublic\.profiles\b/.test(code)) return text;
  const named = text.replace(/"?\bpublic\b"?\."?\bprofiles\b"?/g, 'public.profiles');
  return `do $do$
begin
  execute replace($sql$${named}$sql$, 'public.profiles', billing.profiles_table()::text);
end
$do$;`;
}
