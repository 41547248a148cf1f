import { publicAnswer } from '../http/public-answer.ts';
import type { Route } from './route.ts';

/** Returns the description of the API. Contract: GET /api/openapi.json. */
export const getOpenapi: Route = {
  method: 'GET',
  path: '/api/openapi.json',
  operation: 'getOpenapi',
  failure: 'requestFailed',

  async handle({ request }) {
    // Few requests need it.
    const { openapi } = await import('../http/openapi.ts');
    return publicAnswer(request, { json: openapi, outcome: 'read', maxAge: 3600 });
  },
};
