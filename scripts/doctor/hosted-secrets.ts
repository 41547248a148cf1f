import { z } from 'zod';
import type { Context } from './context.ts';
import { type ManagementAnswer, readManagementApi } from './management-api.ts';

const list = z.array(z.object({ name: z.string(), value: z.string() }));

/** The project's secrets by name, each as the SHA-256 of its value in hex: the values can't be read. */
export async function readHostedSecrets(context: Context): Promise<ManagementAnswer<Map<string, string>>> {
  const answer = await readManagementApi(context, '/secrets', list);
  if ('outcome' in answer) return answer;
  return { value: new Map(answer.value.map(({ name, value }) => [name, value.toLowerCase()])) };
}
