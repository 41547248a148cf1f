import { countRows } from '../books/run-books.ts';
import { openBookFiles } from '../books/files.ts';
import { monthsOf } from '../books/months.ts';
import { writeBooks } from '../books/write-books.ts';
import { Refused, type SupportDatabase } from './database.ts';

/** The files of a month. `done` of `total` rows are written; `error`: why there are none. */
export type BookJob = {
  readonly month: string;
  state: 'running' | 'done' | 'failed';
  done: number;
  total: number;
  at: string;
  files: { name: string; bytes: number }[];
  error: string | null;
};

/** Makes the files of one month at a time. */
export type BookFileMaker = {
  /** Begins, unless this month's files are being made. @param month such as 2026-11 @throws Refused while another one's are */
  make(month: string): BookJob;
  /** The job of a month. @returns null: none, or a later one of another month took its place */
  find(month: string): BookJob | null;
  /** Opens a file of a finished job. @returns null: there is none of this name */
  open(month: string, name: string): Promise<ReadableStream<Uint8Array> | null>;
  /** Deletes the files. */
  close(): void;
};

/** The files are in a temporary folder of this user until the next month's are made, or the console ends. */
export function createBookFiles(database: SupportDatabase): BookFileMaker {
  let current: { job: BookJob; folder: string } | undefined;

  const find = (month: string) => current?.job.month === month ? current.job : null;

  async function run(job: BookJob, folder: string): Promise<void> {
    try {
      await database.snapshot(async (client) => {
        const months = monthsOf([job.month], undefined, false);
        job.total = await countRows(client, months);
        const files = await openBookFiles(folder);
        const progress = { step: () => void (job.done += 1), end() {} };
        await writeBooks(client, months, files, { only: undefined, progress });
        for (const name of await files.finish()) {
          job.files.push({ name, bytes: (await Deno.stat(`${folder}/${name}`)).size });
        }
      });
      Object.assign(job, { state: 'done', done: job.total, at: new Date().toISOString() });
    } catch (error) {
      remove(folder);
      Object.assign(job, { state: 'failed', error: error instanceof Error ? error.message : String(error) });
    }
    // The console ended meanwhile.
    if (current?.job !== job) remove(folder);
  }

  return {
    make(month) {
      if (current?.job.state === 'running') {
        if (current.job.month === month) return current.job;
        throw new Refused(`The files of ${current.job.month} are being made. Wait for them.`);
      }
      if (current) remove(current.folder);
      const job: BookJob = {
        ...{ month, state: 'running', done: 0, total: 0, at: new Date().toISOString(), files: [], error: null },
      };
      current = { job, folder: Deno.makeTempDirSync({ prefix: 'console-books-' }) };
      void run(job, current.folder);
      return job;
    },
    find,
    async open(month, name) {
      const isThere = find(month)?.state === 'done' && find(month)?.files.some((file) => file.name === name);
      if (!isThere || current === undefined) return null;
      return (await Deno.open(`${current.folder}/${name}`)).readable;
    },
    close() {
      if (current) remove(current.folder);
      current = undefined;
    },
  };
}

function remove(folder: string): void {
  try {
    Deno.removeSync(folder, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
