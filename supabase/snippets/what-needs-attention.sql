-- What needs attention since this day, and what is to be done?
select since, finding, email, subject, remedy
from billing.findings
where coalesce(since, now()) >= timestamptz '2026-01-01'
order by since;
