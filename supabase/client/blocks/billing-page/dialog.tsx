/// <reference lib="dom" />
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { Button } from './ui.tsx';

type Props = {
  title: string;
  children: ReactNode;
  back: string;
  onClose: () => void;
  /** The button that does it; null: it is not possible. */
  action: { label: string; look: 'main' | 'bad'; isOff?: boolean; run: () => void } | null;
};

/** A question before something happens. The browser keeps the focus inside, and Escape closes it. */
export function Dialog({ title, children, back, onClose, action }: Props) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  // Closed before it leaves the page, so that the focus returns to where it was.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      className='m-auto w-[min(30rem,calc(100vw-2rem))] rounded-2xl border border-(--bp-line) bg-(--bp-card) p-0 text-(--bp-text) shadow-xl backdrop:bg-black/60'
    >
      <div className='p-6'>
        <h2 id={id} tabIndex={-1} autoFocus className='text-lg font-semibold tracking-tight outline-none'>{title}</h2>
        {children}
        <div className='mt-6 flex flex-col-reverse gap-3 sm:flex-row sm:justify-end'>
          <Button onClick={onClose}>{back}</Button>
          {action && <Button look={action.look} isOff={action.isOff} onClick={action.run}>{action.label}</Button>}
        </div>
      </div>
    </dialog>
  );
}
