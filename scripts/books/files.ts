import { csvLine, type Value } from '../console/csv.ts';
import { openSheet, type Sheet } from '../console/sheet.ts';

/** A file that is being written. */
export type BookFile = { write(text: string): Promise<void> };

type OpenTable = (name: string, columns: readonly string[]) => Promise<(row: readonly Value[]) => Promise<void>>;

/** The files of the books: all of them appear in the folder at the end, or none. */
export type BookFiles = {
  /** Begins a file. */
  open(name: string): Promise<BookFile>;
  /** Begins a CSV file with its columns. */
  openCsv: OpenTable;
  /** Begins a table as a CSV file and as a spreadsheet. @param name without its ending */
  openTable: OpenTable;
  /** Moves what was written into the folder, where it replaces the files of an earlier run. @returns their names */
  finish(): Promise<string[]>;
  /** Closes and removes what was written. */
  discard(): Promise<void>;
};

/** What an earlier run may have left in the folder. */
const ownFiles =
  /^(gstr1(-[a-z0-9-]+)?\.(json|csv)|summary\.json|(sales-register|settlements|settlement-lines)\.(csv|xlsx)|tally-[a-z]+\.xml|zoho-[a-z-]+\.csv)$/;
const bufferChars = 1 << 16;

/** Creates the folder, if it is not there, and a hidden one in it for what is being written. */
export async function openBookFiles(folder: string): Promise<BookFiles> {
  await Deno.mkdir(folder, { recursive: true });
  const draft = await Deno.makeTempDir({ dir: folder, prefix: '.draft-' });
  const opened: { name: string; close(): Promise<void> }[] = [];
  const handles = new Set<Deno.FsFile>();
  const sheets: Sheet[] = [];

  /** @param end writes what is left, before the file is closed */
  async function create(name: string, end: () => Promise<void>): Promise<(bytes: Uint8Array) => Promise<void>> {
    const file = await Deno.open(`${draft}/${name}`, { write: true, createNew: true });
    handles.add(file);
    opened.push({
      name,
      async close() {
        await end();
        file.close();
        handles.delete(file);
      },
    });
    return async (bytes) => {
      for (let done = 0; done < bytes.length;) done += await file.write(bytes.subarray(done));
    };
  }

  async function open(name: string): Promise<BookFile> {
    const encoder = new TextEncoder();
    let waiting = '';
    const flush = () => {
      const bytes = encoder.encode(waiting);
      waiting = '';
      return write(bytes);
    };
    const write = await create(name, flush);
    return {
      async write(text) {
        waiting += text;
        if (waiting.length > bufferChars) await flush();
      },
    };
  }

  const openCsv: OpenTable = async (name, columns) => {
    const file = await open(name);
    await file.write(csvLine(columns));
    return (row) => file.write(csvLine(row));
  };

  return {
    open,
    openCsv,
    async openTable(name, columns) {
      const writeCsv = await openCsv(`${name}.csv`, columns);
      const write = await create(`${name}.xlsx`, () => sheet.end());
      const sheet = openSheet(name, columns, new WritableStream({ write }));
      sheets.push(sheet);
      return async (row) => {
        await writeCsv(row);
        await sheet.write(row);
      };
    },
    async finish() {
      for (const file of opened) await file.close();
      const names = opened.map(({ name }) => name).toSorted();
      const groups = new Set(names.map(groupOf));
      for await (const { name } of Deno.readDir(folder)) {
        const isLeft = ownFiles.test(name) && groups.has(groupOf(name)) && !names.includes(name);
        // Another run at the same time may have removed it.
        if (isLeft) await Deno.remove(`${folder}/${name}`).catch(ignoreMissing);
      }
      for (const name of names) await Deno.rename(`${draft}/${name}`, `${folder}/${name}`);
      await Deno.remove(draft);
      return names;
    },
    async discard() {
      for (const sheet of sheets) await sheet.abort();
      for (const file of handles) file.close();
      handles.clear();
      await Deno.remove(draft, { recursive: true });
    },
  };
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

/** A run with `--only` leaves the files of other groups. */
function groupOf(name: string): string {
  return /^(gstr1|tally|zoho|settlement)/.exec(name)?.[0] ?? name;
}
