import { type Check, fail, notGiven, pass, skip, warn } from '../check.ts';
import { isLoopback } from '../connection.ts';
import { Unreachable } from '../request.ts';

/** The app answers at APP_URL, the address that mails link to. */
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
      return [pass(`${url} answers ${status}`)];
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      if (context.mode === 'local') return [skip(`no app runs at ${url}`, 'Start the app, or set APP_URL.')];
      return [fail(`no app answers at ${url}`, 'Set APP_URL to the public address of the app.')];
    }
  },
};
