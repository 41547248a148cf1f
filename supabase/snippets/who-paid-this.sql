-- Whose is the order, payment, refund or subscription of this id?
select email, name, tier, found_by
from billing.search_customers('order_sample');
