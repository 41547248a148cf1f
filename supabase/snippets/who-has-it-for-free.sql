-- Who has this tier without paying for it, until when, and why?
select (select u.email from billing.users u where u.user_id = g.user_id) as email, g.tier, g.until, g.reason, g.id as reference
from billing.grants g
where g.tier = 'premium'
  and g.ended_at is null
  and g.until > now()
order by g.until;
