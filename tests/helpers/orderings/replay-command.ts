/** The command that shows what each step of a sequence answers and leaves. */
export function replayCommand(scenario: string, sequence: readonly string[]): string {
  return `REPLAY='${scenario}: ${sequence.join(' ')}' npm test -- tests/database/convergence-replay.test.ts`;
}
