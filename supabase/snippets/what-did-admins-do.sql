-- What did admins do since this day, for whom, and why?
select created_at, action, email, result, reason, coalesce(actor_email, actor) as admin
from billing.support_actions
where created_at >= timestamptz '2026-01-01'
order by created_at desc;
