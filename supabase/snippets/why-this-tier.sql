-- Which tier does a customer have, why, and until when?
select tier, why, until, billing, last_payment_at, lifetime_amounts, open_findings
from billing.customers
where email = 'asha@example.com';
