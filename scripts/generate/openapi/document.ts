import { headers } from './operation.ts';
import { operations } from './operations.ts';
import { routes } from '../../../supabase/functions/api/routes/routes.ts';
import { describeOperation, securitySchemes, type SharedResponses } from './describe-operation.ts';
import { schemasByName } from './schemas.ts';

/** The description of the API. @throws Error when a route has no description, or a description not exactly one route */
export function openapiDocument(version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  const responses: SharedResponses = {};
  const unused = new Set(Object.keys(operations));
  for (const route of routes) {
    const operation = operations[route.operation];
    if (operation === undefined) throw new Error(`${route.method} ${route.path} has no description ${route.operation}`);
    if (!unused.delete(route.operation)) throw new Error(`Two routes have the description ${route.operation}`);
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeOperation(route, operation, responses) };
  }
  if (unused.size > 0) throw new Error(`No route has the description ${[...unused].join(', ')}`);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Subscriptions and payments',
      version,
      description:
        'Every answer allows every origin (CORS). An unknown path is 404 `{"error": "Not found"}`, another ' +
        'method of a known path is 405 `{"error": "Method not allowed"}` with the header `allow`. Amounts are integers ' +
        'in minor currency units. Clients must accept fields that are not described here.',
    },
    servers: [
      {
        url: 'https://{project}.supabase.co/functions/v1',
        description: 'A hosted project',
        variables: { project: { default: 'your-project-ref', description: 'The reference of the project.' } },
      },
      { url: 'http://127.0.0.1:54321/functions/v1', description: 'The local stack' },
    ],
    tags: [
      { name: 'Subscriptions', description: 'What the caller has, and what is on offer.' },
      { name: 'Payments', description: 'Orders and their payments.' },
      { name: 'Documents', description: 'Receipts and credit notes, and whom they name.' },
      { name: 'Webhooks', description: 'For the gateway.' },
      { name: 'Service', description: 'For monitors and schedulers.' },
    ],
    paths,
    components: { schemas: schemasByName(), responses, headers, securitySchemes },
  };
}
