import { type Check, fail, notGiven, type Outcome, pass, skip, warn } from '../check.ts';
import { isLoopback } from '../../stack/http/local-host.ts';
import type { Context } from '../context.ts';
import { Unreachable } from '../request.ts';

/** The pages that mails link to, by their variables. */
const pages = { DASHBOARD_PATH: '/dashboard', PRICING_PATH: '/pricing' };

/** The app answers at APP_URL, and has the pages that mails link to. */
export const appUrl: Check = {
  name: 'app-url',

  async run(context) {
    const url = context.environment.APP_URL;
    if (!url) return [notGiven('APP_URL')];
    if (context.mode === 'hosted' && isLoopback(url)) {
      return [
        fail(`APP_URL is ${url}: mails link to the customer's own machine`, 'Set the public address of the app.'),
      ];
    }
    try {
      const { status } = await context.request(url);
      if (status >= 500) return [fail(`${url} answers ${status}`, 'Read the log of the app.')];
      if (context.mode === 'hosted' && url.startsWith('http:')) {
        return [warn(`APP_URL is not encrypted: ${url}`, 'Set its https address.')];
      }
      const missing = await missingPages(context, url);
      return missing.length > 0 ? missing : [pass(`${url} answers ${status}`)];
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      if (context.mode === 'local') return [skip(`no app runs at ${url}`, 'Start the app, or set APP_URL.')];
      return [fail(`no app answers at ${url}`, 'Set APP_URL to the public address of the app.')];
    }
  },
};

async function missingPages(context: Context, url: string): Promise<Outcome[]> {
  const outcomes = Object.entries(pages).map(async ([variable, usual]) => {
    const address = url.replace(/\/+$/, '') + (context.environment[variable] || usual);
    const { status } = await context.request(address);
    return status === 404
      ? [warn(`mails link to ${address}, which answers 404`, `Add the page, or set ${variable} to the one of the app.`)]
      : [];
  });
  return (await Promise.all(outcomes)).flat();
}
