-- Which mails were written to a customer, and were they delivered?
select created_at, kind, state, attempts, last_error, delivered_at, id
from billing.messages
where recipient = 'asha@example.com'
order by created_at desc;
