import { z } from 'zod';

/** The gateway writes empty notes as an empty list. */
export type Notes = Record<string, string | number> | [];

/** Notes of a request: text and numbers. */
export const notesRequest = z.record(z.string(), z.union([z.string(), z.number()]))
  .transform((notes): Notes => Object.keys(notes).length === 0 ? [] : notes);

const MAX_NOTES = 15;
const MAX_NOTE_LENGTH = 256;

/** The notes of a call of the API, with the gateway's limits. */
export const apiNotes = z.unknown().transform((value, context): Notes => {
  const notes = readNotes(value);
  if (typeof notes !== 'string') return notes;
  context.addIssue(notes);
  return z.NEVER;
});

/** Validates the notes of a call of the API. @returns the notes, or the reason for a refusal */
export function readNotes(notes: unknown): Notes | string {
  if (Array.isArray(notes) && notes.length === 0) return [];
  if (typeof notes !== 'object' || notes === null || Array.isArray(notes)) return 'The notes must be an object.';
  const pairs = Object.entries(notes);
  if (pairs.length > MAX_NOTES) return `The notes may not have more than ${MAX_NOTES} items.`;
  const kept: Record<string, string | number> = {};
  for (const [name, value] of pairs) {
    if (typeof value !== 'string' && typeof value !== 'number') return 'The notes may hold text and numbers only.';
    if (Math.max(name.length, String(value).length) > MAX_NOTE_LENGTH) {
      return `The notes may not be greater than ${MAX_NOTE_LENGTH} characters each.`;
    }
    kept[name] = value;
  }
  return pairs.length === 0 ? [] : kept;
}
