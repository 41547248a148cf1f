import { type OfferedPlan, type Payment, type Receipt, retriedAt } from '../../subscriptions.ts';
import { nameOf } from './state.ts';
import { useTexts } from './texts.ts';
import { Badge, cardClass, linkClass, Section } from './ui.tsx';

type Props = {
  payments: Payment[];
  plans: OfferedPlan[];
  receipts: Receipt[];
  onOpen: (receipt: Receipt) => void;
};

/** The newest payments, with their receipts and credit notes. Orders that were never paid are left out. */
export function PaymentList({ payments, plans, receipts, onOpen }: Props) {
  const { payments: words } = useTexts();
  const shown = payments.filter(({ status }) => status !== 'created');
  return (
    <Section title={words.title}>
      <div className={`${cardClass} overflow-hidden`}>
        {shown.length === 0 && <p className='p-6 text-sm text-(--bp-soft)'>{words.none}</p>}
        {shown.length > 0 && (
          <table className='w-full text-left text-sm'>
            <thead className='border-b border-(--bp-line) text-(--bp-soft)'>
              <tr>
                <th scope='col' className='px-4 py-3 font-medium sm:px-6'>{words.columns.plan}</th>
                <th scope='col' className='hidden px-6 py-3 font-medium sm:table-cell'>{words.columns.date}</th>
                <th scope='col' className='px-2 py-3 text-right font-medium sm:px-6'>{words.columns.amount}</th>
                <th scope='col' className='px-4 py-3 text-right font-medium sm:px-6'>{words.columns.status}</th>
              </tr>
            </thead>
            <tbody className='divide-y divide-(--bp-line)'>
              {shown.map((payment) => (
                <Row
                  key={payment.id}
                  payment={payment}
                  paidAt={retriedAt(payment, payments)}
                  plans={plans}
                  receipts={receipts.filter(({ payment_id }) => payment_id === payment.id)}
                  onOpen={onOpen}
                />
              ))}
            </tbody>
          </table>
        )}
      </div>
    </Section>
  );
}

type RowProps = Omit<Props, 'payments'> & {
  payment: Payment;
  /** Of a renewal that failed: when it was charged after all. Null: it was not. */
  paidAt: string | null;
};

function Row({ payment, paidAt, plans, receipts, onOpen }: RowProps) {
  const { day, every, money, payments: words } = useTexts();
  const { status, interval, interval_count, currency, tier, period_start: start, period_end: end } = payment;
  const { gateway_subscription_id: subscription } = payment;
  const date = day(payment.captured_at ?? payment.created_at);
  const length = interval && interval_count ? `, ${every({ interval, interval_count })}` : '';
  return (
    <tr>
      <td className='px-4 py-3 sm:px-6'>
        <span className='font-medium'>{tier ? nameOf(tier, plans) + length : words.payment}</span>
        {status === 'failed' && subscription && <span className='block text-(--bp-soft)'>{words.renewal}</span>}
        {start && end && <span className='hidden text-(--bp-soft) sm:block'>{day(start)} – {day(end)}</span>}
        <span className='block text-(--bp-soft) sm:hidden'>{date}</span>
        {receipts.length > 0 && (
          <span className='flex flex-wrap gap-x-4'>
            {receipts.map((receipt) => (
              <button
                key={receipt.id}
                type='button'
                className={linkClass}
                onClick={() => onOpen(receipt)}
              >
                <span className='sr-only'>{`${words.download(words.titles[receipt.title] ?? receipt.title)} `}</span>
                {receipt.document_number}
              </button>
            ))}
          </span>
        )}
      </td>
      <td className='hidden px-6 py-3 whitespace-nowrap sm:table-cell'>{date}</td>
      <td className='px-2 py-3 text-right font-medium whitespace-nowrap tabular-nums sm:px-6'>
        {money(payment.paid_amount ?? payment.amount, currency)}
      </td>
      <td className='px-4 py-3 text-right sm:px-6'>
        <Status payment={payment} paidAt={paidAt} />
      </td>
    </tr>
  );
}

function Status({ payment, paidAt }: Pick<RowProps, 'payment' | 'paidAt'>) {
  const { money, payments: words } = useTexts();
  const { status, currency, refunded_amount: refunded, paid_amount: paid, dispute_status: dispute } = payment;
  if (paidAt !== null) {
    return (
      <>
        <Badge tone='plain'>{words.retried}</Badge>
        <span className='mt-1 block text-xs text-(--bp-soft) sm:whitespace-nowrap'>{words.paidOn(paidAt)}</span>
      </>
    );
  }
  if (status === 'failed') return <Badge tone='warn'>{words.failed}</Badge>;
  if (refunded >= (paid ?? payment.amount) && refunded > 0) return <Badge tone='plain'>{words.refunded}</Badge>;
  const isDisputed = dispute && dispute !== 'won' && dispute !== 'closed';
  return (
    <>
      <Badge tone={isDisputed ? 'warn' : 'good'}>
        {!isDisputed ? words.paid : dispute === 'lost' ? words.lost : words.disputed}
      </Badge>
      {refunded > 0 && (
        <span className='mt-1 block text-xs text-(--bp-soft) sm:whitespace-nowrap'>
          {words.partly(money(refunded, currency))}
        </span>
      )}
    </>
  );
}
