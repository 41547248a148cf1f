import type { BillingDetails } from '../../subscriptions.ts';
import { placeOf } from './states.ts';
import { useTexts } from './texts.ts';
import { Button, cardClass, Section } from './ui.tsx';

/** What the next invoices say about the customer. */
export function DetailsCard({ details, onEdit }: { details: BillingDetails | null; onEdit: () => void }) {
  const texts = useTexts();
  const words = texts.details;
  const { name, address, gstin, state, country } = details ?? {};
  const lines = [name, address, placeOf(state ?? null, country ?? null, texts), gstin && `GSTIN ${gstin}`].filter(
    Boolean,
  );
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
