-- Local only: two sample users who can sign in with the password `sample-password`.

insert into auth.users (
  id, aud, role, email, encrypted_password, email_confirmed_at,
  raw_app_meta_data, raw_user_meta_data, created_at, updated_at,
  confirmation_token, recovery_token, email_change, email_change_token_new
)
select
  sample.id::uuid,
  'authenticated',
  'authenticated',
  sample.email,
  -- bcrypt of sample-password
  '$2b$10$rD9GDUTLCqszlHDeGEXzZezMyDocxz1ApMnD5onffBGmHx3c8gPo.',
  now(),
  '{"provider": "email", "providers": ["email"]}',
  '{}',
  now(),
  now(),
  '',
  '',
  '',
  ''
from (
  values
    ('11111111-1111-4111-8111-111111111111', 'asha@example.com'),
    ('22222222-2222-4222-8222-222222222222', 'ravi@example.com')
) sample (id, email);

insert into auth.identities (id, provider_id, user_id, identity_data, provider, created_at, updated_at)
select
  u.id,
  u.id::text,
  u.id,
  jsonb_build_object('sub', u.id::text, 'email', u.email),
  'email',
  now(),
  now()
from auth.users u
where u.email in ('asha@example.com', 'ravi@example.com');

-- Supabase's own auth server looks users up by an instance, Lite has none.
do $$
begin
  if exists (
    select
    from information_schema.columns c
    where c.table_schema = 'auth' and c.table_name = 'users' and c.column_name = 'instance_id'
  ) then
    update auth.users
    set instance_id = '00000000-0000-0000-0000-000000000000'
    where email in ('asha@example.com', 'ravi@example.com');
  end if;
end
$$;
