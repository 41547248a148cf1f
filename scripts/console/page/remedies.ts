import type { Finding, SupportAction } from '../rows.ts';
import type { ActionName } from './actions.ts';

type Proposal = Omit<SupportAction, 'action' | 'reason'> & { action: ActionName };

/** The support action that repairs a finding; null: it needs a person to look, or work at the gateway. */
export function remedyOf({ finding, subject, user_id: email, detail }: Finding): Proposal | null {
  const tier = text(detail.tier);
  const payment = text(detail.gateway_payment_id);
  const until = text(detail.period_end) ?? text(detail.ends_at);
  switch (finding) {
    case 'failed_events':
      return { action: 'replay_event', email, reference: subject };
    case 'outbox_stuck':
      return { action: 'requeue_mail', email, reference: String(detail.id) };
    case 'dispute_lost':
      return { action: 'end_access', email, reference: subject, ...(tier && { tier }) };
    case 'paid_twice':
    case 'charged_twice':
    case 'charged_after_cancellation':
    case 'charged_after_replacement':
    case 'charged_after_deletion':
    case 'refund_failed':
      return payment ? { action: 'refund', email, reference: payment } : null;
    case 'paid_not_entitled':
    case 'entitled_not_paid':
      return { action: 'grant', email, ...(tier && { tier }), ...(until && { until }) };
    case 'missed_webhook':
    case 'unmailed_payment':
    case 'returned_too_much':
    case 'rupees_missing':
    case 'export_paid_in_rupees':
    case 'einvoice_needed':
    case 'seller_differs':
    case 'note_too_late':
    case 'note_of_failed_refund':
    case 'note_of_won_dispute':
    case 'note_above_dispute':
      // The note ends the finding.
      return { action: 'note', email, reference: subject };
    default:
      return null;
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
