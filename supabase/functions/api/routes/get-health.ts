import { schemaVersion } from '../generated/schema-version.ts';
import type { Route } from './route.ts';

/** Returns the health for monitors, without secrets and customer data. Contract: GET /api/health. */
export const getHealth: Route = {
  method: 'GET',
  path: '/api/health',
  operation: 'getHealth',
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
