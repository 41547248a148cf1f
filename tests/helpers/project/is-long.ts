/** Whether this is `npm run test:long`, in which some tests of `npm test` run on more data. */
export const isLong = Deno.env.get('LONG') === '1';
