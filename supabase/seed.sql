-- Local only: two sample users who can sign in with the password `sample-password`, and for the sample plans the price of
-- the other interval, and what each tier may do. Preview branches, `supabase db reset --remote` and `supabase db push
-- --include-seed` run this file on a hosted project, so it only warns and adds nothing in a database that does not say that
-- it is local:
-- - `supabase start` gives its database the secret below, which is the same on every machine and of no hosted project;
-- - `npm start` sets subscriptions.is_local.
-- The address of the server says nothing: a container and a hosted project both see a private one.
-- A branch would fail with an error.
do $seed$
declare
  v_samples constant uuid[] := array['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
  v_reason text;
begin
  if not (
    coalesce(current_setting('subscriptions.is_local', true) = 'on', false)
    or coalesce(
      current_setting('app.settings.jwt_secret', true) = 'super-secret-jwt-token-with-at-least-32-characters-long',
      false
    )
  ) then
    v_reason := 'it does not say that it is local';
  elsif exists (select from auth.users u where u.id <> all (v_samples)) then
    v_reason := 'it has users of its own';
  end if;
  if v_reason is not null then
    raise warning
      'supabase/seed.sql adds no sample users, because their password is known, to this database: %. A database of your own '
      'machine without users is seeded by: PGOPTIONS="-c subscriptions.is_local=on" psql <its address> -f supabase/seed.sql',
      v_reason;
    return;
  end if;

  insert into auth.users (
    id, aud, role, email, encrypted_password, email_confirmed_at,
    raw_app_meta_data, raw_user_meta_data, created_at, updated_at,
    confirmation_token, recovery_token, email_change, email_change_token_new
  )
  select
    sample.id,
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
    values (v_samples[1], 'asha@example.com'), (v_samples[2], 'ravi@example.com')
  ) sample (id, email)
  on conflict (id) do nothing;

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
  where u.id = any (v_samples)
  on conflict do nothing;

  -- Supabase's own auth server looks users up by an instance, Lite has none.
  if exists (
    select
    from information_schema.columns c
    where c.table_schema = 'auth' and c.table_name = 'users' and c.column_name = 'instance_id'
  ) then
    update auth.users
    set instance_id = '00000000-0000-0000-0000-000000000000'
    where id = any (v_samples);
  end if;

  insert into public.plans (tier, lookup_key, name, price, duration_months)
  select p.tier, sample.lookup_key, p.name, sample.price, sample.months
  from (
    values
      ('basic', 'basic_yearly', 49000, 12),
      ('pro', 'pro_monthly', 9900, 1),
      ('premium', 'premium_monthly', 19900, 1)
  ) sample (tier, lookup_key, price, months)
  join public.plans p on p.tier = sample.tier and p.lookup_key is null and p.currency = 'INR'
  on conflict (lookup_key) do nothing;

  update public.plans p
  set entitlements = sample.entitlements
  from (
    values
      ('basic', '{"projects": 3}'::jsonb),
      ('pro', '{"projects": 25, "analytics": true, "priority_support": true}'),
      ('premium', '{"projects": null, "analytics": true, "priority_support": true}')
  ) sample (tier, entitlements)
  where p.tier = sample.tier and p.lookup_key is null and p.entitlements = '{}';
end
$seed$;
