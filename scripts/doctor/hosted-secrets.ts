import { z } from 'zod';
import type { Context } from './context.ts';
import { type ManagementAnswer, readManagementApi } from './management-api.ts';

const list = z.array(z.object({ name: z.string(), value: z.string() }));

/** The SHA-256 (hex) of each secret of the project, by name. The platform does not return the values. */
export async function readHostedSecrets(context: Context): Promise<ManagementAnswer<Map<string, string>>> {
  const answer = await readManagementApi(context, '/secrets', list);
  if ('outcome' in answer) return answer;
  return { value: new Map(answer.value.map(({ name, value }) => [name, value.toLowerCase()])) };
}
