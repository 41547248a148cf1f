import { z } from 'zod';
import { type Check, fail, pass } from '../check.ts';
import { deployCommand } from '../deploy-command.ts';
import { readManagementApi } from '../management-api.ts';

const functions = z.array(
  z.object({ slug: z.string(), status: z.string(), version: z.number(), verify_jwt: z.boolean().optional() }),
);

/** The function is deployed and active, and the platform's own check of sessions is off. */
export const functionDeployed: Check = {
  name: 'function-deployed',
  needs: ['access token'],

  async run(context) {
    const answer = await readManagementApi(context, '/functions', functions);
    if ('outcome' in answer) return [answer.outcome];
    const { functionName: name } = context;
    const deploy = `Run ${deployCommand(context)}`;
    const deployed = answer.value.find(({ slug }) => slug === name);
    if (deployed === undefined) return [fail(`the function ${name} is not deployed`, `${deploy}.`)];
    if (deployed.status !== 'ACTIVE') return [fail(`the function ${name} is ${deployed.status}`, `${deploy}.`)];
    if (deployed.verify_jwt !== false) {
      return [
        fail(
          'verify_jwt is on: the platform refuses webhooks before the function sees them',
          `${deploy} with this project's config.toml, which turns it off.`,
        ),
      ];
    }
    return [pass(`${name}, version ${deployed.version}, verify_jwt off`)];
  },
};
