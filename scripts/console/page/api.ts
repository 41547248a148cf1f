/// <reference lib="dom" />
import type { SupportAction } from '../rows.ts';

/** Reads from the console's server. @throws Error with a message for the person */
export async function read<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return await answerOf(await fetch(`/api${path}`, { signal: signal ?? null }));
}

/** Carries out a support action. @returns what it did @throws Error with the reason why it was refused */
export async function act(action: SupportAction): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const { result } = await answerOf(
    await fetch('/api/actions', { method: 'POST', headers, body: JSON.stringify(action) }),
  );
  return result;
}

async function answerOf(response: Response) {
  if (response.status === 403) throw new Error('This console was restarted. Open the address that it printed.');
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `The console answered ${response.status}.`);
  return answer;
}
