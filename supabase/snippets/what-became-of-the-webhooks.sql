-- Which webhooks about an order, payment or subscription arrived, and what became of them?
select received_at, event, outcome, deliveries, attempts, encode(body_sha256, 'hex') as body_sha256
from billing.webhooks
where subject_id = 'order_sample'
order by received_at;
