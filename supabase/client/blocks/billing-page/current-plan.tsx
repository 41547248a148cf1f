import type { State } from './state.ts';
import { useTexts } from './texts.ts';
import { Badge, Button, cardClass, LinkButton } from './ui.tsx';

type Props = {
  state: State;
  busy: string | null;
  onCancel: () => void;
  onResume: () => void;
  onUndo: (price: string) => void;
};

/** The plan that the customer has, what needs attention, and what comes next. */
export function CurrentPlan({ state, busy, onCancel, onResume, onUndo }: Props) {
  const { attention, next } = state;
  const undoTo = next?.undoTo;
  const texts = useTexts();
  return (
    <div className='space-y-4'>
      {attention && (
        <div className='flex flex-col gap-4 rounded-xl border border-(--bp-warn) bg-(--bp-warn-ground) p-5 text-(--bp-warn) sm:flex-row sm:items-center sm:justify-between'>
          <div>
            <h2 className='font-semibold'>{attention.title}</h2>
            <p className='mt-1 text-sm'>{attention.text}</p>
          </div>
          {attention.url && <LinkButton href={attention.url}>{texts.actions.update}</LinkButton>}
        </div>
      )}
      <section aria-label={texts.state.label} className={`${cardClass} divide-y divide-(--bp-line)`}>
        <div className='flex flex-col gap-5 p-6 sm:flex-row sm:items-center sm:justify-between'>
          <div>
            <p className='text-sm text-(--bp-soft)'>{texts.state.label}</p>
            <div className='mt-1 flex flex-wrap items-center gap-x-3 gap-y-1'>
              <h2 className='text-2xl font-semibold tracking-tight'>{state.title}</h2>
              <Badge tone={state.badge.tone}>{state.badge.text}</Badge>
            </div>
            {state.price && <p className='mt-2 font-medium tabular-nums'>{state.price}</p>}
            {state.lines.map((line) => <p key={line} className='mt-1 text-sm text-(--bp-soft)'>{line}</p>)}
          </div>
          {(state.canCancel || state.canResume) && (
            <div className='flex shrink-0 flex-wrap gap-3'>
              {state.manageUrl && <LinkButton href={state.manageUrl} look='plain'>{texts.actions.method}</LinkButton>}
              {state.canResume && (
                <Button look='main' isOff={busy !== null} isRunning={busy === 'resume'} onClick={onResume}>
                  {texts.actions.resume}
                </Button>
              )}
              {state.canCancel && (
                <Button look='bad' isOff={busy !== null} isRunning={busy === 'cancel'} onClick={onCancel}>
                  {texts.actions.cancel}
                </Button>
              )}
            </div>
          )}
        </div>
        {next && (
          <div className='flex flex-col gap-4 p-6 sm:flex-row sm:items-center sm:justify-between'>
            <div>
              <h3 className='text-sm text-(--bp-soft)'>{texts.next.title}</h3>
              <p className='mt-1 font-medium'>{next.text}</p>
              <p className='mt-1 text-sm text-(--bp-soft)'>{next.note}</p>
            </div>
            {undoTo && (
              <Button
                className='shrink-0 self-start sm:self-center'
                isOff={busy !== null}
                isRunning={busy === 'undo'}
                onClick={() => onUndo(undoTo)}
              >
                {texts.actions.undo}
              </Button>
            )}
          </div>
        )}
      </section>
    </div>
  );
}
