/// <reference lib="dom" />
import { type ReactNode, useId } from 'react';

/** The colours: those of shadcn where the app has its variables. */
const palette = [
  '[--bp-page:var(--background,light-dark(#fafafa,#0b0b0f))]',
  '[--bp-text:var(--foreground,light-dark(#18181b,#f4f4f5))]',
  '[--bp-card:var(--card,light-dark(#ffffff,#15151b))]',
  '[--bp-soft:var(--muted-foreground,light-dark(#5b5b66,#a6a6b3))]',
  '[--bp-quiet:var(--muted,light-dark(#f1f1f4,#24242d))]',
  '[--bp-raised:light-dark(var(--card,#ffffff),var(--input,#3b3b48))]',
  '[--bp-line:var(--border,light-dark(#e4e4e9,#2b2b35))]',
  '[--bp-main:var(--primary,light-dark(#4338ca,#a5b4fc))]',
  '[--bp-on-main:var(--primary-foreground,light-dark(#ffffff,#14142b))]',
  '[--bp-good:light-dark(#166534,#86efac)] [--bp-good-ground:light-dark(#dcfce7,#12301d)]',
  '[--bp-warn:light-dark(#92400e,#fcd34d)] [--bp-warn-ground:light-dark(#fef3c7,#33260b)]',
  '[--bp-bad:light-dark(#b91c1c,#fca5a5)]',
].join(' ');

/** The classes of the page itself, after that of `useScheme`. The class `dark` or `light` around the page wins. */
export const pageClass =
  `in-[.dark]:scheme-dark in-[.light]:scheme-light ${palette} bg-(--bp-page) text-(--bp-text) antialiased`;

const focus = 'outline-offset-2 focus-visible:outline-2 focus-visible:outline-(--bp-main)';
const looks = {
  main: 'border-transparent bg-(--bp-main) text-(--bp-on-main) hover:opacity-90',
  plain: 'border-(--bp-line) bg-(--bp-card) text-(--bp-text) hover:bg-(--bp-quiet)',
  bad: 'border-(--bp-line) bg-(--bp-card) text-(--bp-bad) hover:bg-(--bp-quiet)',
};
const buttonClass = (look: keyof typeof looks) =>
  `relative inline-flex min-h-11 cursor-pointer items-center justify-center rounded-lg border px-4 py-2 text-center text-sm
  font-medium transition-colors ${focus} aria-disabled:cursor-default aria-disabled:opacity-60 ${looks[look]}`;

type ButtonProps = {
  children: ReactNode;
  onClick: () => void;
  look?: keyof typeof looks;
  /** No action is possible now. */
  isOff?: boolean;
  /** This action runs. */
  isRunning?: boolean;
  className?: string;
};

/** A button. While it is off it keeps the focus, so that a keyboard does not lose its place. */
export function Button({ children, onClick, look = 'plain', isOff, isRunning, className = '' }: ButtonProps) {
  return (
    <button
      type='button'
      className={`${buttonClass(look)} ${className}`}
      aria-disabled={isOff || isRunning || undefined}
      aria-busy={isRunning || undefined}
      onClick={() => isOff || isRunning || onClick()}
    >
      <span className={isRunning ? 'opacity-0' : ''}>{children}</span>
      {isRunning && (
        <span
          aria-hidden='true'
          className='absolute size-4 animate-spin rounded-full border-2 border-current border-t-transparent motion-reduce:animate-none'
        />
      )}
    </button>
  );
}

/** A button in a table, with the look of a link. */
export const linkClass = `min-h-11 cursor-pointer py-1 text-(--bp-main) underline underline-offset-4 ${focus}`;

type LinkProps = { href: string; look?: keyof typeof looks; children: ReactNode };

/** A link to another site, with the look of a button. */
export function LinkButton({ href, look = 'main', children }: LinkProps) {
  return <a href={href} className={`${buttonClass(look)} shrink-0`}>{children}</a>;
}

const tones = {
  good: 'bg-(--bp-good-ground) text-(--bp-good)',
  warn: 'bg-(--bp-warn-ground) text-(--bp-warn)',
  plain: 'bg-(--bp-quiet) text-(--bp-text)',
};

/** A short status. */
export function Badge({ tone, children }: { tone: keyof typeof tones; children: ReactNode }) {
  return (
    <span className={`inline-block rounded-full px-2.5 py-0.5 text-xs font-medium whitespace-nowrap ${tones[tone]}`}>
      {children}
    </span>
  );
}

/** A part of the page with a heading. */
export function Section({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <div className='mb-4 flex min-h-11 flex-wrap items-center justify-between gap-x-6 gap-y-3'>
        <h2 id={id} className='text-lg font-semibold tracking-tight'>{title}</h2>
        {aside}
      </div>
      {children}
    </section>
  );
}

export const cardClass = 'rounded-xl border border-(--bp-line) bg-(--bp-card) shadow-xs';

type ChoiceProps<T extends string> = {
  label: string;
  options: readonly (readonly [value: T, text: string])[];
  value: T;
  onChange: (value: T) => void;
};

/** One of a few values, as radio buttons: arrow keys move between them. */
export function Choice<T extends string>({ label, options, value, onChange }: ChoiceProps<T>) {
  const name = useId();
  return (
    <fieldset className='flex rounded-lg border border-(--bp-line) bg-(--bp-quiet) p-1'>
      <legend className='sr-only'>{label}</legend>
      {options.map(([one, text]) => (
        <label key={one} className='relative flex-1 cursor-pointer text-center text-sm whitespace-nowrap'>
          <input
            type='radio'
            name={name}
            checked={one === value}
            onChange={() =>
              onChange(one)}
            className='peer absolute inset-0 size-full cursor-pointer appearance-none opacity-0'
          />
          <span className='block rounded-md px-4 py-2 peer-checked:bg-(--bp-raised) peer-checked:font-medium peer-checked:shadow-xs peer-focus-visible:outline-2 peer-focus-visible:outline-(--bp-main)'>
            {text}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
