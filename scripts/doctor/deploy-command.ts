import type { Project } from './project.ts';

/** The command that deploys the function, for a remedy. */
export function deployCommand({ functionName }: Project): string {
  return `\`npx supabase functions deploy ${functionName} --use-api\``;
}
