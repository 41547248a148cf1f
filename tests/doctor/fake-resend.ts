import { type FakeServer, startFake } from './fake-server.ts';

/** The state of the fake account. Tests change it. */
export type ResendAccount = {
  key: string;
  /** `sending_access`: the key may only send. */
  permission: 'full_access' | 'sending_access';
  domains: { name: string; status: string }[];
};

/** A fake of Resend's list of domains, by its documentation. */
export function startResend(account: ResendAccount): FakeServer {
  return startFake(({ method, path, headers }) => {
    const authorization = headers.get('authorization');
    if (authorization === null) return refuse(401, 'missing_api_key', 'Missing API key in the authorization header.');
    if (authorization !== `Bearer ${account.key}`) return refuse(403, 'invalid_api_key', 'API key is invalid.');
    if (account.permission === 'sending_access') {
      return refuse(401, 'restricted_api_key', 'This API key is restricted to only send emails.');
    }
    if (method !== 'GET' || path !== '/domains') return null;
    return Response.json({
      object: 'list',
      has_more: false,
      data: account.domains.map((domain) => ({ id: crypto.randomUUID(), region: 'us-east-1', ...domain })),
    });
  });
}

function refuse(statusCode: number, name: string, message: string): Response {
  return Response.json({ statusCode, name, message }, { status: statusCode });
}
