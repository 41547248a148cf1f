-- What documents say of a buyer, and the documents. Contract: "Documents".

create table public.billing_details (
  user_id uuid primary key constraint billing_details_user_id_fkey references auth.users (id) on delete cascade,
  name text,
  gstin text,
  address text,
  state text,
  country text,
  updated_at timestamptz not null default billing.clock()
);
comment on table public.billing_details is
  'What documents say about the buyer. Written by PUT /api/billing-details alone, which checks it. Gone with the user.';
comment on column public.billing_details.country is 'ISO 3166, two letters. Null: India.';
alter table public.billing_details enable row level security;
revoke all on public.billing_details from public, anon, authenticated, service_role;
grant select on public.billing_details to authenticated;
grant select, insert, update on public.billing_details to service_role;
create policy "Users see their own billing details" on public.billing_details for select to authenticated
using ((select auth.uid()) = user_id);

create table public.receipts (
  id uuid primary key default gen_random_uuid(),
  kind text not null constraint receipts_kind_check check (kind in ('receipt', 'credit_note')),
  series text not null,
  number integer not null constraint receipts_number_check check (number > 0),
  document_number text not null constraint receipts_document_number_key unique,
  title text not null,
  issued_at timestamptz not null,
  document_date date not null,
  tax_period date not null,
  category text not null
    constraint receipts_category_check check (category in ('b2b', 'b2cl', 'b2cs', 'expwp', 'expwop', 'none')),
  receipt_id uuid constraint receipts_receipt_id_fkey references public.receipts (id),
  rupees jsonb,
  payment_id uuid not null,
  user_id uuid constraint receipts_user_id_fkey references auth.users (id) on delete set null,
  refund_id text constraint receipts_refund_id_key unique,
  dispute_id text,
  reissue_of uuid constraint receipts_reissue_of_key unique,
  place_of_supply text,
  currency text not null,
  seller jsonb not null,
  buyer jsonb not null,
  lines jsonb not null,
  totals jsonb not null,
  constraint receipts_series_number_key unique (series, number),
  constraint receipts_of_receipt_check check ((kind = 'credit_note') = (receipt_id is not null))
);
create unique index receipts_payment_id_key on public.receipts (payment_id) where kind = 'receipt' and reissue_of is null;
create index receipts_payment_id_idx on public.receipts (payment_id);
create index receipts_receipt_id_idx on public.receipts (receipt_id) where receipt_id is not null;
create index receipts_dispute_id_idx on public.receipts (dispute_id) where dispute_id is not null;
create index receipts_user_id_idx on public.receipts (user_id, issued_at desc);
create index receipts_tax_period_idx on public.receipts (tax_period, series, number);
comment on table public.receipts is
  'Receipts, tax invoices and credit notes, frozen as they were issued: what was wrong gets a credit note. Amounts are in '
  'minor units of the currency.';
comment on column public.receipts.receipt_id is 'Of a credit note: what it corrects.';
comment on column public.receipts.rupees is 'Of another currency than INR: rate, taxable, taxes and total in paise.';
comment on column public.receipts.reissue_of is 'The receipt that this one replaces.';
comment on column public.receipts.category is 'For the GST return: registered, large, small, export with or without tax, none.';
comment on column public.receipts.totals is '{taxable, taxes: [{name, rate (basis points), amount}], total}';
alter table public.receipts enable row level security;
revoke all on public.receipts from public, anon, authenticated, service_role;
grant select on public.receipts to authenticated;
grant select on public.receipts to service_role;
create policy "Users see their own documents" on public.receipts for select to authenticated
using ((select auth.uid()) = user_id);
