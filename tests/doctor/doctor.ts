import type { Check } from '../../scripts/doctor/check.ts';
import type { Project } from '../../scripts/doctor/project.ts';
import { runChecks } from '../../scripts/doctor/run-checks.ts';

/** A hosted project without any settings, except `fields`. */
export function hosted(fields: Partial<Project> = {}): Project {
  return {
    mode: 'hosted',
    ref: 'abcdefghijklmnopqrst',
    url: 'http://127.0.0.1:1',
    functionsUrl: 'http://127.0.0.1:1/functions/v1',
    databaseUrl: null,
    accessToken: null,
    managementUrl: 'http://127.0.0.1:1',
    environment: {},
    envFileNames: [],
    hasSimulator: false,
    hasMailbox: false,
    ...fields,
  };
}

/** The local stack without any settings, except `fields`. */
export function local(fields: Partial<Project> = {}): Project {
  return { ...hosted(), mode: 'local', ref: null, managementUrl: '', hasSimulator: true, hasMailbox: true, ...fields };
}

/** Runs one check for a project. Returns its result as the report shows it. */
export async function diagnose(
  check: Check,
  project: Project,
): Promise<{ status: string; message: string; remedy?: string }> {
  const [result] = await runChecks([check], project);
  if (result === undefined) throw new Error('no result');
  const { status, message, remedy } = result;
  return { status, message, ...(remedy !== undefined && { remedy }) };
}
