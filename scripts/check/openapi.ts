import { createConfig, lintFromString } from '@redocly/openapi-core';
import { openapiFile, openapiText } from '../generate/openapi.ts';

/** Checks that the committed description is that of the routes, and lints it. @returns one line for each problem. */
export async function checkOpenapi(): Promise<string[]> {
  const committed = await Deno.readTextFile(openapiFile);
  const drift = committed === await openapiText()
    ? []
    : ['generated/openapi.json is not the description of the routes: run `npm run generate`'];
  return [...drift, ...await lintOpenapi(committed)];
}

/** @returns one line for each rule of OpenAPI that the text breaks. */
export async function lintOpenapi(text: string): Promise<string[]> {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // The owner of the app chooses it.
      'info-license': 'off',
      'info-license-strict': 'off',
      // A return is answered with a redirect alone.
      'operation-2xx-response': 'off',
      // `receipt` is no id of an order.
      'no-ambiguous-paths': 'off',
    },
  });
  const problems = await lintFromString({ source: text, absoluteRef: openapiFile, config });
  return problems.map(({ message, ruleId, location }) => `${location[0]?.pointer ?? ''}: ${message} (${ruleId})`);
}
