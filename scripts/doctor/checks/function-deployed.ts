import { z } from 'zod';
import { type Check, fail, pass } from '../check.ts';
import { readManagementApi } from '../management-api.ts';

const functions = z.array(
  z.object({ slug: z.string(), status: z.string(), version: z.number(), verify_jwt: z.boolean().optional() }),
);
const deploy = 'Run `npx supabase functions deploy api --use-api`';

/** The function `api` is deployed and active, and the platform's own check of sessions is off. */
export const functionDeployed: Check = {
  name: 'function-deployed',
  needs: ['access token'],

  async run(context) {
    const answer = await readManagementApi(context, '/functions', functions);
    if ('outcome' in answer) return [answer.outcome];
    const api = answer.value.find(({ slug }) => slug === 'api');
    if (api === undefined) return [fail('the function api is not deployed', `${deploy}.`)];
    if (api.status !== 'ACTIVE') return [fail(`the function api is ${api.status}`, `${deploy}.`)];
    if (api.verify_jwt !== false) {
      return [
        fail(
          'verify_jwt is on: the platform refuses webhooks before the function sees them',
          `${deploy} with this project's config.toml, which turns it off.`,
        ),
      ];
    }
    return [pass(`api, version ${api.version}, verify_jwt off`)];
  },
};
