-- Applies a delivery of the gateway, once however often it comes. SPEC 4, POST /api/webhooks/gateway, and SPEC 6.
-- Depends on: _gateway_events, _apply_event, _wake.

-- Notes a delivery in the ledger and holds its row: the second of two at once waits here for the first and finds its
-- outcome, or, if it rolled back, no row.
create function private.record_event(
  p_body_sha256 bytea,
  p_event_id text, -- from the header, unsigned
  p_body jsonb, -- null: nested too deep to be read
  p_early_renewal text,
  p_deliveries integer default 1 -- 0: the gateway did not bring it, it was asked
)
returns private.gateway_events -- its outcome is null when the event is to be applied
language plpgsql
set search_path = ''
as $$
declare
  v_event private.gateway_events;
begin
  insert into private.gateway_events as e (body_sha256, event_id, event, subject_id, payload, early_renewal, deliveries)
  values (
    p_body_sha256,
    p_event_id,
    private.json_text(p_body -> 'event'),
    left(
      coalesce(
        private.json_text(p_body -> 'payload' -> 'subscription' -> 'entity' -> 'id'),
        private.json_text(p_body -> 'payload' -> 'payment' -> 'entity' -> 'order_id'),
        private.json_text(p_body -> 'payload' -> 'order' -> 'entity' -> 'id'),
        private.json_text(p_body -> 'payload' -> 'dispute' -> 'entity' -> 'payment_id'),
        private.json_text(p_body -> 'payload' -> 'payment' -> 'entity' -> 'id')
      ),
      200
    ),
    p_body,
    p_early_renewal,
    p_deliveries
  )
  -- What had no effect yet has another try. A cancellation had one on the profile: a repeat must not end a later purchase.
  on conflict (body_sha256) do update
  set deliveries = e.deliveries + excluded.deliveries,
    outcome = case
      when e.outcome like 'failed: %'
        or e.outcome = 'plan_not_found'
        or e.outcome = 'unmatched' and e.event not like 'subscription.%'
      then null
      else e.outcome
    end
  returning * into v_event;
  return v_event;
end
$$;
revoke execute on function private.record_event(bytea, text, jsonb, text, integer) from public;
grant execute on function private.record_event(bytea, text, jsonb, text, integer) to service_role;

-- API: service_role only.
create function public.apply_gateway_event(
  p_body_sha256 text, -- of the raw bytes, hex
  p_event_id text default null, -- from the header, unsigned
  p_body text default null, -- JSON that jsonb accepts; null: nested too deep to be read
  p_early_renewal text default 'replace' -- as in verify_payment
)
returns jsonb -- {outcome}: as in the ledger
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
declare
  v_event private.gateway_events;
begin
  perform private.begin_request('webhook', p_body_sha256, p_early_renewal);
  v_event := private.record_event(decode(p_body_sha256, 'hex'), p_event_id, p_body::jsonb, p_early_renewal);
  return jsonb_build_object('outcome', coalesce(v_event.outcome, private.apply_recorded_event(v_event)));
end
$$;
comment on function public.apply_gateway_event(text, text, text, text) is
  'Records a signed delivery in the ledger and applies its event; a repeat answers the first one''s outcome.';
revoke execute on function public.apply_gateway_event(text, text, text, text) from public, anon, authenticated;
grant execute on function public.apply_gateway_event(text, text, text, text) to service_role;
