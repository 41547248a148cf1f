import { schemaVersion } from '../generated/schema-version.ts';
import type { Route } from '../http/route.ts';

/**
 * GET /api/health: for monitors. 200 when the database answers, else 503; no secrets, no customer data. The header
 * `x-schema-version` is the newest migration that the function is made for.
 */
export const getHealth: Route = {
  method: 'GET',
  path: '/api/health',
  failure: 'healthCheckFailed',

  async handle({ database, senders }) {
    const health = await database.getHealth(Object.keys(senders));
    return {
      status: 200,
      body: { status: 'ok', ...health },
      headers: { 'x-schema-version': schemaVersion },
      outcome: 'healthy',
    };
  },
};
