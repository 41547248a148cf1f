import { expect, test } from 'vitest';
import type { Check } from '../../scripts/doctor/check.ts';
import type { Project } from '../../scripts/doctor/project.ts';
import { runChecks } from '../../scripts/doctor/run-checks.ts';
import { type Outcome, runScript } from '../helpers/project/run-script.ts';

/** A hosted project without any settings, except `fields`. */
export function hosted(fields: Partial<Project> = {}): Project {
  return {
    mode: 'hosted',
    ref: 'abcdefghijklmnopqrst',
    url: 'http://127.0.0.1:1',
    functionName: 'api',
    functionsUrl: 'http://127.0.0.1:1/functions/v1',
    databaseUrl: null,
    withoutCa: false,
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

/** The address of a local server, by a name that the doctor does not treat as local: 0.0.0.0 reaches this machine. */
export const publicly = (url: string): string => url.replace('127.0.0.1', '0.0.0.0');

/** A project with a fault, the report of a check about it as status and message, and a part of its remedy. */
export type Case = [project: () => Project | Promise<Project>, told: string | RegExp, remedy?: string];

/** More than the doctor's own deadline: these tests are about what it says, also on a busy machine. */
export const patient = { deadline: 30_000 };

/** Runs one check and expects this report. Everything but what passes has a remedy. */
export async function expectReport(
  check: Check,
  project: Project,
  told: string | RegExp,
  remedy?: string,
): Promise<void> {
  const [result] = await runChecks([check], project, patient);
  const report = `${result?.status} ${result?.message}`;
  if (typeof told === 'string') expect(report).toBe(told);
  else expect(report).toMatch(told);
  expect(result?.remedy !== undefined, 'has a remedy').toBe(!report.startsWith('pass '));
  if (remedy !== undefined) expect(result?.remedy).toContain(remedy);
}

/** Tests the reports of a check about projects with one fault each. */
export function testReports(check: Check, cases: readonly Case[]): void {
  const rows = cases.map(([project, ...told]) => [`${check.name}: ${told[0]}`, project, told] as const);
  test.each(rows)('the report is %s', async (_, project, told) => {
    await expectReport(check, await project(), ...told);
  });
}

/** Runs `scripts/doctor.ts` as `npm run doctor` does, without a terminal and with only these environment variables. */
export function runDoctor(args: string[], environment: Record<string, string> = {}): Promise<Outcome> {
  const inherited = ['PATH', 'HOME', 'DENO_DIR'].flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  });
  const env = { NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1', ...Object.fromEntries(inherited), ...environment };
  return runScript('doctor', args, { clearEnv: true, env });
}

/** The lines of a report that start with a text, without their padding. */
export function linesOf(report: string, start: string): string[] {
  return report.split('\n').map((line) => line.replace(/ +/g, ' ')).filter((line) => line.startsWith(start));
}
