import { Hono } from 'hono';
import type { FileMaker } from '../file-maker.ts';
import { readMonth } from './book-month.ts';

const TYPES: Record<string, string> = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xml: 'application/xml; charset=utf-8',
};

/**
 * `POST <path>/:month/files`: begins to make the files of a month. `GET`: how far they are. `GET …/:name`: one of them.
 * @param path `/books` or `/revenue`
 */
export function fileRoutes(path: string, files: FileMaker): Hono {
  const routes = new Hono();
  routes.post(`${path}/:month/files`, (c) => c.json(files.make(readMonth(c.req.param('month')))));
  routes.get(`${path}/:month/files`, (c) => c.json(files.find(readMonth(c.req.param('month')))));
  routes.get(`${path}/:month/files/:name`, async (c) => {
    const { month, name } = c.req.param();
    const file = await files.open(readMonth(month), name);
    if (file === null) return c.json({ error: 'There is no such file. Make the files of the month again.' }, 404);
    return c.body(file, 200, {
      'content-type': TYPES[name.split('.').at(-1) ?? ''] ?? 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="${month}-${name}"`,
    });
  });
  return routes;
}
