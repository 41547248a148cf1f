import { createContext, useContext } from 'react';
import type { CheckoutResult } from '../../subscriptions.ts';
import { en, type Texts } from './en.ts';

/** What the page tells after an action. */
export type Said = { text: string; isProblem?: boolean };

/** The language of the page. */
export const TextsContext = createContext<Texts>(en);
export const useTexts = (): Texts => useContext(TextsContext);

/** An error as a sentence. */
export function sentenceOf(error: unknown, { errors }: Texts): string {
  const text = error instanceof Error ? error.message : String(error);
  return errors[text] ?? `${text.replace(/[.\s]+$/, '')}.`;
}

/** How a checkout ended. `paid` is the text of a success. */
export function saidOf(result: CheckoutResult, paid: string, texts: Texts): Said {
  const { said } = texts;
  if (result.outcome === 'failed') {
    return { text: `${said.nothingPaid} ${sentenceOf(result.error, texts)}`, isProblem: true };
  }
  if (result.outcome === 'dismissed') return { text: said.dismissed };
  return { text: result.outcome === 'pending' ? said.pending : paid };
}
