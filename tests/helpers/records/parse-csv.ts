/** Reads RFC 4180. @throws where a line does not end as it says */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const fields = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  while (fields.lastIndex < text.length) {
    const at = fields.lastIndex;
    const match = fields.exec(text);
    if (match === null) throw new Error(`no field at ${JSON.stringify(text.slice(at, at + 40))}`);
    row.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
    if (match[3] === '\r\n') rows.push(row);
    if (match[3] === '\r\n') row = [];
  }
  return rows;
}
