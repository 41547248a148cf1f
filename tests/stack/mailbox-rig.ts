import { afterAll, beforeEach } from 'vitest';
import { createMailbox } from '../../scripts/stack/mailbox/mailbox.ts';

/** An answer of the mailbox. `body` is empty where the answer is not JSON. */
export type Answer = { status: number; headers: Headers; text: string; body: Record<string, unknown> };

/** A mailbox for the tests of a file, emptied before each of them. */
export async function useMailbox(): Promise<
  { url: string; call(method: string, path: string, body?: unknown, headers?: HeadersInit): Promise<Answer> }
> {
  const mailbox = createMailbox({ port: 0, revalidateSecret: 'revalidate-me' });
  await mailbox.start();
  await mailbox.ready();
  afterAll(() => mailbox.stop());
  beforeEach(async () => {
    await call('DELETE', '/emails');
    await call('DELETE', '/api/revalidate');
    await call('DELETE', '/simulate/fault');
  });

  async function call(method: string, path: string, body?: unknown, headers: HeadersInit = {}): Promise<Answer> {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(mailbox.url + path, { method, headers, body: text });
    const answered = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') && answered.startsWith('{');
    return {
      status: response.status,
      headers: response.headers,
      text: answered,
      body: isJson ? JSON.parse(answered) : {},
    };
  }
  return { url: mailbox.url, call };
}
