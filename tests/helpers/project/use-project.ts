import { afterAll, beforeAll } from 'vitest';
import { type Project, startProject } from './project.ts';
import { type Addresses, type RunningService, startService, type Target } from './targets.ts';
import type { Declared } from '../database/findings.ts';

/**
 * A project for the tests of the surrounding block: started before the first, stopped after the last. `declared` are the
 * findings that they leave on purpose.
 */
export function useProject(declared: Declared = {}): Project {
  let project: Project | undefined;
  const started = () => project ?? fail('the project');
  beforeAll(async () => {
    project = await startProject(declared);
  });
  afterAll(() => project?.stop());
  return {
    get database() {
      return started().database;
    },
    get apiUrl() {
      return started().apiUrl;
    },
    get poolUrl() {
      return started().poolUrl;
    },
    signUp: (email) => started().signUp(email),
    stop: () => started().stop(),
  };
}

/** The service for the tests of the surrounding block; `environment` as `startService` takes it. */
export function useService(
  target: Target,
  project: Addresses,
  environment: Record<string, string> = {},
): RunningService {
  let service: RunningService | undefined;
  const started = () => service ?? fail('the service');
  beforeAll(async () => {
    service = await startService(target, project, environment);
  });
  afterAll(() => service?.stop());
  return {
    request: (path, init) => started().request(path, init),
    get log() {
      return started().log;
    },
    get output() {
      return started().output;
    },
    stop: () => started().stop(),
  };
}

function fail(what: string): never {
  throw new Error(`${what} is there only while tests run`);
}
