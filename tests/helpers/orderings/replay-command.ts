/** The command that shows what an order does, step by step. */
export function replayCommand(scenario: string, word: readonly string[]): string {
  return `REPLAY='${scenario}: ${word.join(' ')}' npm test -- tests/database/convergence-replay.test.ts`;
}
