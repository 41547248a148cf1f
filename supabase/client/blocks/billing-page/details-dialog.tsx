/// <reference lib="dom" />
import { type ReactNode, useId, useState } from 'react';
import { type BillingDetails, type Subscriptions, SubscriptionsError } from '../../subscriptions.ts';
import { Dialog } from './dialog.tsx';
import { ABROAD, statesOf } from './states.ts';
import { sentenceOf, useTexts } from './texts.ts';

type Props = {
  subscriptions: Subscriptions;
  details: BillingDetails | null;
  /** It was asked for in the middle of a sale, which goes on without an answer. */
  isSale: boolean;
  onClose: (isSaved: boolean) => void;
};

type Errors = Partial<Record<keyof BillingDetails, string>>;

const nothing: BillingDetails = { name: null, gstin: null, address: null, state: null, country: null };
const inputClass =
  `mt-1 block min-h-11 w-full rounded-lg border border-(--bp-line) bg-(--bp-card) px-3 py-2 text-sm outline-offset-2
  focus-visible:outline-2 focus-visible:outline-(--bp-main) aria-invalid:border-(--bp-bad)`;

/** The form for what invoices say about the customer. */
export function DetailsDialog({ subscriptions, details, isSale, onClose }: Props) {
  const texts = useTexts();
  const words = texts.details;
  const [values, setValues] = useState(details ?? nothing);
  const [errors, setErrors] = useState<Errors>({});
  const [problem, setProblem] = useState('');
  const [isSaving, setSaving] = useState(false);
  const set = (field: keyof BillingDetails) => (value: string) => setValues({ ...values, [field]: value });
  const isAbroad = values.state === ABROAD;

  /** By Indian law the invoice of a business, or of a customer abroad, names its buyer and the address. */
  function missing(): Errors {
    const isNamed = values.gstin?.trim() || isSale && isAbroad;
    const fields = isNamed ? (['name', 'address'] as const).filter((field) => !values[field]?.trim()) : [];
    return Object.fromEntries(fields.map((field) => [field, words.missing]));
  }

  async function save() {
    const lacking = missing();
    if (Object.keys(lacking).length > 0) {
      setErrors(lacking);
      setProblem(words.correct);
      return;
    }
    setSaving(true);
    try {
      await subscriptions.saveBillingDetails({ ...values, country: isAbroad ? values.country : null });
      onClose(true);
    } catch (error) {
      const fields = error instanceof SubscriptionsError ? Object.keys(error.fields) : [];
      setErrors(Object.fromEntries(fields.map((field) => [field, words.refusals[field] ?? words.check])));
      setProblem(fields.length > 0 ? words.correct : sentenceOf(error, texts));
      setSaving(false);
    }
  }

  return (
    <Dialog
      title={isSale ? words.where : words.title}
      back={isSale ? words.skip : texts.actions.back}
      onClose={() => onClose(false)}
      action={{ label: isSale ? words.continue : words.save, look: 'main', isOff: isSaving, run: () => void save() }}
    >
      <form
        className='mt-3 space-y-4'
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <p className='text-sm text-(--bp-soft)'>
          {isSale ? words.tax : words.intro}
        </p>
        <Field label={words.state} error={errors.state}>
          {(input) => (
            <select
              {...input}
              value={values.state ?? ''}
              onChange={(event) => set('state')(event.currentTarget.value)}
            >
              <option value=''>{words.choose}</option>
              {statesOf(texts).map(([code, name]) => <option key={code} value={code}>{name}</option>)}
            </select>
          )}
        </Field>
        {isAbroad && (
          <Text
            label={words.country}
            value={values.country}
            error={errors.country}
            onChange={set('country')}
            autoComplete='country'
          />
        )}
        <Text
          label={words.name}
          value={values.name}
          error={errors.name}
          onChange={set('name')}
          autoComplete='billing organization'
        />
        <Text label={words.gstin} value={values.gstin} error={errors.gstin} onChange={set('gstin')} />
        <Field label={words.address} error={errors.address}>
          {(input) => (
            <textarea
              {...input}
              rows={3}
              autoComplete='billing street-address'
              value={values.address ?? ''}
              onChange={(event) => set('address')(event.currentTarget.value)}
            />
          )}
        </Field>
        <p role='alert' className='text-sm text-(--bp-bad)'>{problem}</p>
        <button type='submit' hidden>{words.save}</button>
      </form>
    </Dialog>
  );
}

type Input = {
  id: string;
  className: string;
  'aria-invalid': true | undefined;
  'aria-describedby': string | undefined;
};

function Field({ label, error, children }: { label: string; error?: string; children: (input: Input) => ReactNode }) {
  const id = useId();
  const describedBy = error ? `${id}-error` : undefined;
  return (
    <div>
      <label htmlFor={id} className='text-sm font-medium'>{label}</label>
      {children({
        id,
        className: inputClass,
        'aria-invalid': error ? true : undefined,
        'aria-describedby': describedBy,
      })}
      {error && <p id={describedBy} className='mt-1 text-sm text-(--bp-bad)'>{error}</p>}
    </div>
  );
}

type TextProps = {
  label: string;
  value: string | null;
  error?: string | undefined;
  onChange: (value: string) => void;
  autoComplete?: string;
};

function Text({ label, value, error, onChange, autoComplete }: TextProps) {
  return (
    <Field label={label} {...error && { error }}>
      {(input) => (
        <input
          {...input}
          {...autoComplete && { autoComplete }}
          value={value ?? ''}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}
