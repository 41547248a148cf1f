import { type Check, fail, pass } from '../check.ts';
import { otherServer } from '../other-server.ts';
import { field, Unreachable } from '../request.ts';

/** The local stack runs, and its function reaches its database. */
export const localStack: Check = {
  name: 'local-stack',
  gateOf: 'all',

  async run(context) {
    try {
      const { status, body } = await context.request(`${context.functionsUrl}/api/health`);
      if (field(body, 'status') === 'ok') return [pass(`the local stack runs at ${context.url}`)];
      if (status === 200) return [otherServer(context, status)];
      return [fail(`GET /api/health answers ${status}`, 'Read the output of `npm start`.')];
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      return [
        fail(
          `no local stack runs at ${context.url}`,
          'Run `npm start`, set its port with --port, or check a hosted project with --project-ref.',
        ),
      ];
    }
  },
};
