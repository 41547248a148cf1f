import { test } from 'vitest';
import { expectSentOnce } from '../helpers/outbox/many-dispatchers.ts';
import { useProject } from '../helpers/project/use-project.ts';

const project = useProject();

test('eight dispatchers at once on 2,000 mails → each mail is sent exactly once', () =>
  expectSentOnce(project, 8, 2_000));
