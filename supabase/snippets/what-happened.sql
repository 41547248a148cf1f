-- What happened to a customer, the newest first?
select at, what, reference, detail, link
from billing.timeline
where email = 'asha@example.com'
order by at desc, rank desc;
