/// <reference lib="dom" />
import { element } from '../../stack/shop/element.ts';
import type { BookProblem, Books } from '../book-rows.ts';
import { send } from './api.ts';
import { openDialog } from './confirm.ts';
import { words } from './format.ts';
import { monthName } from './months.ts';

/** A button that closes the month, for who may: nothing while it runs, and once it is closed. */
export function closeButton({ month, known, state, problems }: Books): HTMLElement[] {
  if (state.closed_at !== null || month > known.over || !state.may_close) return [];
  const name = monthName(month, 'long');
  const onclick = () =>
    openDialog({
      ...{ title: `Close ${name}`, confirm: 'Close the month', isDangerous: true },
      fields: listOf(problems),
      sentence: () =>
        `The return of ${name} does not change any more, and a later document belongs to the next open month. This cannot be undone.`,
      perform: async () => (await send<{ result: string }>(`/books/${month}/close`)).result,
    });
  return [element('button', { type: 'button', className: 'danger', onclick }, 'Close month')];
}

function listOf(problems: BookProblem[]): HTMLElement[] {
  const totals = new Map(problems.map(({ problem, total }) => [problem, total]));
  if (totals.size === 0) return [element('p', {}, 'No problem is known.')];
  const items = [...totals].map(([problem, total]) => element('li', {}, `${words(problem)}: ${total}`));
  return [element('p', {}, 'Problems that stay in it:'), element('ul', { className: 'plain' }, ...items)];
}
