import type pg from 'pg';
import { type BookFiles, openBookFiles } from '../books/files.ts';
import { monthsOf } from '../books/months.ts';
import type { Progress } from '../books/progress.ts';
import { countRows } from '../books/run-books.ts';
import { writeBooks } from '../books/write-books.ts';
import { Refused, type SupportDatabase } from './database.ts';

/** The files of a month. `done` of `total` rows are written; `error`: why there are none. */
export type FileJob = {
  readonly month: string;
  state: 'running' | 'done' | 'failed';
  done: number;
  total: number;
  /** When they were made, by the clock of the database. */
  at: string | null;
  files: { name: string; bytes: number }[];
  error: string | null;
};

/** What the files of a month are. A month is such as 2026-11. */
export type FileWork = {
  /** Names the temporary folder. */
  name: string;
  /** How many rows are written. */
  count(client: pg.Client, month: string): Promise<number>;
  /** Writes the files. Each row is a step of the progress. */
  write(client: pg.Client, month: string, files: BookFiles, progress: Progress): Promise<void>;
};

/** The files of the books. */
export const bookWork: FileWork = {
  name: 'books',
  count: (client, month) => countRows(client, monthsOf([month], undefined, false)),
  write: (client, month, files, progress) =>
    writeBooks(client, monthsOf([month], undefined, false), files, { only: undefined, progress }),
};

/** Makes the files of one month at a time. */
export type FileMaker = {
  /** Begins, unless this month's files are being made. @param month such as 2026-11 @throws Refused while another one's are */
  make(month: string): FileJob;
  /** The job of a month. @returns null: none, or a later one of another month took its place */
  find(month: string): FileJob | null;
  /** Opens a file of a finished job. @returns null: there is none of this name */
  open(month: string, name: string): Promise<ReadableStream<Uint8Array> | null>;
  /** Deletes the files. */
  close(): void;
};

/** The files are in a temporary folder of this user until the next month's are made, or the console ends. */
export function createFileMaker(database: SupportDatabase, work: FileWork): FileMaker {
  let current: { job: FileJob; folder: string } | undefined;

  const find = (month: string) => current?.job.month === month ? current.job : null;

  async function run(job: FileJob, folder: string): Promise<void> {
    try {
      await database.snapshot(async (client) => {
        job.total = await work.count(client, job.month);
        const files = await openBookFiles(folder);
        const progress = { step: () => void (job.done += 1), end() {} };
        try {
          await work.write(client, job.month, files, progress);
          for (const name of await files.finish()) {
            job.files.push({ name, bytes: (await Deno.stat(`${folder}/${name}`)).size });
          }
        } catch (error) {
          // The folder may be gone: the console ended.
          await files.discard().catch(() => {});
          throw ofFile(error);
        }
        const { rows: [clock] } = await client.query<{ now: Date }>('select billing.clock() as now');
        job.at = clock?.now.toISOString() ?? null;
      });
      Object.assign(job, { state: 'done', done: job.total });
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
      const job: FileJob = {
        ...{ month, state: 'running', done: 0, total: 0, at: null, files: [], error: null },
      };
      current = { job, folder: Deno.makeTempDirSync({ prefix: `console-${work.name}-` }) };
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

/** Tells an error of the disk from one of the database: Deno's end with the number of the system. */
function ofFile(error: unknown): unknown {
  const isOfFile = error instanceof Error && /\(os error \d+\)/.test(error.message);
  return isOfFile ? new Refused(`The files could not be written: ${error.message}`) : error;
}

function remove(folder: string): void {
  try {
    Deno.removeSync(folder, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
