-- The version of the schema, which the function compares with the one that it is made for.

-- Security definer: service_role has no rights on the history of the CLI.
create function private.applied_version(
  p_until text
)
returns text -- null: none, or the migrations were applied without the CLI
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_version text;
begin
  if to_regclass('supabase_migrations.schema_migrations') is null then
    return null;
  end if;
  execute 'select max(m.version) from supabase_migrations.schema_migrations m where m.version <= $1'
  into v_version
  using p_until;
  return v_version;
end
$$;
revoke execute on function private.applied_version(text) from public;
grant execute on function private.applied_version(text) to service_role;

-- The newest applied migration, up to the one that the function is made for. An app may add newer migrations of its own,
-- so the newest of all would not show that one of the function's is missing.
-- API: service_role only.
create function public.get_schema_version(
  p_function_version text -- the newest migration that the function is made for
)
returns jsonb -- {version}: p_function_version if it is applied, else an older one; null: not known
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object('version', private.applied_version(p_function_version))
$$;
comment on function public.get_schema_version(text) is
  'The newest applied migration that is not newer than the given one.';
revoke execute on function public.get_schema_version(text) from public, anon, authenticated;
grant execute on function public.get_schema_version(text) to service_role;
