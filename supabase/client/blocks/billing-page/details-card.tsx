import type { BillingDetails } from '../../subscriptions.ts';
import { states } from './states.ts';
import { useTexts } from './texts.ts';
import { Button, cardClass, Section } from './ui.tsx';

/** What the next invoices say about the customer. */
export function DetailsCard({ details, onEdit }: { details: BillingDetails | null; onEdit: () => void }) {
  const { details: words } = useTexts();
  const { name, address, gstin, state, country } = details ?? {};
  const place = country && country !== 'IN' ? country : states.find(([code]) => code === state)?.[1];
  const lines = [name, address, place, gstin && `GSTIN ${gstin}`].filter(Boolean);
  return (
    <Section title={words.title} aside={<Button onClick={onEdit}>{words.edit}</Button>}>
      <div className={`${cardClass} p-6 text-sm whitespace-pre-line`}>
        {lines.length === 0
          ? <p className='text-(--bp-soft)'>{words.none}</p>
          : lines.map((line) => <p key={line}>{line}</p>)}
      </div>
    </Section>
  );
}
