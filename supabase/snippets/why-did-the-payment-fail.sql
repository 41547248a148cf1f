-- What did a customer try to pay, and why did it fail?
select p.at, p.gateway_order_id, p.tier, billing.amount_text(p.amount, p.currency) as amount, p.status, p.attempts, p.last_error
from billing.customer_payments p
where p.user_id = billing.user_id_of('asha@example.com')
order by p.at desc;
