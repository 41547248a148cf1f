import { createHash } from 'node:crypto';
import { type FakeServer, startFake } from './fake-server.ts';

/** The state of the fake project. Tests change it. */
export type ManagedProject = {
  token: string;
  /** `read`: the token may read everything. */
  rights: 'read' | 'none';
  functions: Record<string, unknown>[];
  /** Values by name; the API shows their SHA-256. */
  secrets: Record<string, string>;
  security: Record<string, unknown>[];
  performance: Record<string, unknown>[];
  /** Replaces the documented answer to every call. */
  answer: Response | null;
};

export const emptyProject = (): ManagedProject => ({
  token: 'sbp_token',
  rights: 'read',
  functions: [],
  secrets: {},
  security: [],
  performance: [],
  answer: null,
});

export const projectRef = 'abcdefghijklmnopqrst';

/** A function as `GET /v1/projects/{ref}/functions` lists it, and a lint as the advisors list it: what matters of them. */
export const listedFunction = (fields: Record<string, unknown> = {}): Record<string, unknown> => ({
  slug: 'api',
  status: 'ACTIVE',
  version: 7,
  verify_jwt: false,
  ...fields,
});
export const lint = (name: string, level: 'ERROR' | 'WARN' | 'INFO'): Record<string, unknown> => ({
  name,
  title: name,
  level,
  remediation: 'https://supabase.com/docs/guides/database/database-linter',
});

/** A fake of Supabase's Management API, by its documentation: bearer token, SHA-256 digests of secrets, lints. */
export function startManagementApi(current: () => ManagedProject): FakeServer {
  return startFake(({ path, headers }) => {
    const project = current();
    if (project.answer !== null) return project.answer.clone();
    if (headers.get('authorization') !== `Bearer ${project.token}`) {
      return Response.json({ message: 'Unauthorized' }, { status: 401 });
    }
    const within = `/v1/projects/${projectRef}`;
    if (!path.startsWith(`${within}/`)) return Response.json({ message: 'Project not found' }, { status: 404 });
    if (project.rights === 'none') {
      return Response.json({ message: 'Your account does not have the necessary privileges.' }, { status: 403 });
    }
    switch (path.slice(within.length)) {
      case '/functions':
        return Response.json(project.functions);
      case '/secrets':
        return Response.json(
          Object.entries(project.secrets)
            .map(([name, value]) => ({ name, value: createHash('sha256').update(value).digest('hex') })),
        );
      case '/advisors/security':
        return Response.json({ lints: project.security });
      case '/advisors/performance':
        return Response.json({ lints: project.performance });
      default:
        return null;
    }
  });
}
