-- What was refunded since this day, and to whom?
select f.created_at, u.email, billing.amount_text(f.amount, r.currency) as amount, f.status, f.refund_id, f.gateway_payment_id
from billing.refunds f
cross join lateral (select * from billing.received c where c.gateway_payment_id = f.gateway_payment_id offset 0) r
left join lateral (select * from billing.users w where w.user_id = r.user_id offset 0) u on true
where f.created_at >= timestamptz '2026-01-01'
order by f.created_at desc;
