import { type Check, fail, notGiven, pass, skip, warn } from '../check.ts';
import type { Context } from '../context.ts';
import { Unreachable } from '../request.ts';

const recipe = 'The route handler is in supabase/docs/deployment.md, "Cached pages".';

/** The app's route for revalidation accepts only the secret: 401 without it, 200 with it. */
export const revalidation: Check = {
  name: 'revalidation',

  async run(context) {
    const { APP_URL, REVALIDATE_URL, REVALIDATE_SECRET } = context.environment;
    if (REVALIDATE_URL === '') return [skip('REVALIDATE_URL is empty: there are no cached pages', recipe)];
    const url = REVALIDATE_URL || APP_URL && `${APP_URL.replace(/\/+$/, '')}/api/revalidate`;
    if (!url) return [notGiven('APP_URL', 'REVALIDATE_URL')];
    if (!REVALIDATE_SECRET) return [notGiven('REVALIDATE_SECRET')];
    try {
      const without = await post(context, url);
      if (without === 200) {
        return [fail(`${url} refreshes pages for any caller: 200 without the secret`, `Check the header. ${recipe}`)];
      }
      if (without !== 401) return [fail(`${url} answers ${without} without the secret, not 401`, recipe)];
      const withSecret = await post(context, url, REVALIDATE_SECRET);
      if (withSecret === 200) return [pass(`${url}: 401 without the secret, 200 with it`)];
      return withSecret === 401
        ? [fail(`the app has another REVALIDATE_SECRET than this environment`, 'Set the same value in both.')]
        : [fail(`${url} answers ${withSecret} with the secret`, `Read the log of the app. ${recipe}`)];
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      return context.mode === 'local'
        ? [
          warn(
            `no app answers at ${url}`,
            'Start the app, or unset REVALIDATE_URL to use the demo shop of the local stack.',
          ),
        ]
        : [fail(`no app answers at ${url}`, 'Set REVALIDATE_URL, or APP_URL, to the public address of the app.')];
    }
  },
};

/** Asks for one harmless page: an app may refuse an empty list. */
async function post({ request }: Context, url: string, secret?: string): Promise<number> {
  const { status } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(secret !== undefined && { 'x-revalidate-secret': secret }) },
    body: JSON.stringify({ paths: ['/pricing'] }),
  });
  return status;
}
