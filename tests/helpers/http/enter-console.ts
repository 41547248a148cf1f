/**
 * Opens the address that the console prints, as a browser does: there it is led to the host name of the pages, which only
 * browsers resolve, and gets the cookie. @returns the last answer, its host name and port, and its cookie
 */
export async function enter(entryUrl: string): Promise<[answer: Response, cookie: string, origin: string]> {
  using client = Deno.createHttpClient({ allowHost: true });
  const led = await fetch(entryUrl, { redirect: 'manual' });
  await led.body?.cancel();
  const to = URL.parse(led.headers.get('location') ?? '');
  if (to === null) return [led, '', ''];
  const init = { client, headers: { host: to.host }, redirect: 'manual' } as const;
  const entered = await fetch(Object.assign(new URL(to), { hostname: '127.0.0.1' }), init);
  await entered.body?.cancel();
  return [entered, entered.headers.get('set-cookie')?.split(';')[0] ?? '', to.origin];
}
