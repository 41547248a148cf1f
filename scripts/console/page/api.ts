/// <reference lib="dom" />
import type { SupportAction } from '../rows.ts';

/** Reads from the console's server. @throws Error with a message for the person */
export async function read<Answer>(path: string, signal?: AbortSignal): Promise<Answer> {
  return await answerOf(await fetch(`/api${path}`, { signal: signal ?? null }));
}

/** Carries out a support action. @returns what it did @throws Error with the reason why it was refused */
export async function act(action: SupportAction): Promise<string> {
  return (await send<{ result: string }>('/actions', action)).result;
}

/** Writes to the console's server. @throws Error with a message for the person */
export async function send<Answer>(path: string, body: unknown = {}): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  return await answerOf(await fetch(`/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) }));
}

async function answerOf(response: Response) {
  if (response.status === 403) throw new Error('This console was restarted. Open the address that it printed.');
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `The console answered ${response.status}.`);
  return answer;
}
