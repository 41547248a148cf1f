set local lock_timeout = '2s';

-- The end of the installation: the roles, triggers and jobs outside of the schema.

revoke execute on all functions in schema billing from public;

select billing.set_up();
