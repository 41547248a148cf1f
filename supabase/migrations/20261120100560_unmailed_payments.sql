-- For an admin: who paid, has an address, and was told nothing.
-- Depends on: _fulfil_payment.

create view private.unmailed_payments
with (security_invoker = true)
as
select p.id as payment_id, p.user_id, u.email, p.gateway_payment_id, p.fulfilled_at
from public.payments p
cross join lateral private.find_user(p.user_id) u
-- Mail rows are kept for at least 30 days after their delivery: of older payments nothing can be said.
where p.fulfilled_at > private.clock() - interval '30 days'
  and u.email <> ''
  and not exists (select from private.outbox o where o.key = 'payment-success/' || p.id);
comment on view private.unmailed_payments is
  'Payments fulfilled within 30 days whose user has an e-mail address and got no mail: their profile was missing then.';
