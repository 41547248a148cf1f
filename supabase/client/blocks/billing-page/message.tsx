import { type Said, useTexts } from './texts.ts';
import { Button } from './ui.tsx';

/** The result of an action. It lies over the page, so that nothing moves, and stays mounted, so that it is announced. */
export function Message({ said, onClose }: { said: Said | null; onClose: () => void }) {
  const texts = useTexts();
  const look = said ? 'bg-(--bp-text) text-(--bp-page) shadow-xl pointer-events-auto' : '';
  return (
    <div className='pointer-events-none fixed inset-x-0 bottom-0 z-10 flex justify-center p-4'>
      <div className={`flex w-full max-w-xl items-center gap-4 rounded-xl py-2 pr-2 pl-5 text-sm ${look}`}>
        {said?.isProblem && <span aria-hidden='true' className='size-2 shrink-0 rounded-full bg-red-500' />}
        <p role='status' aria-live='polite' className='flex-1'>{said?.text}</p>
        {said && <Button onClick={onClose}>{texts.actions.close}</Button>}
      </div>
    </div>
  );
}

/** As high as what follows. */
export function Skeleton() {
  const texts = useTexts();
  const heights = ['h-36', 'h-80', 'h-40'];
  return (
    <div className='space-y-10' role='status' aria-label={texts.page.loading}>
      {heights.map((height) => (
        <div key={height} className={`${height} animate-pulse rounded-xl bg-(--bp-quiet) motion-reduce:animate-none`} />
      ))}
    </div>
  );
}
