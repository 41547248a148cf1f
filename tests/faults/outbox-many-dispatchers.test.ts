import { test } from 'vitest';
import { expectSentOnce } from '../helpers/outbox/many-dispatchers.ts';
import { useProject } from '../helpers/project/use-project.ts';

const project = useProject();

// tests/long sends ten thousand mails.
test.each([2, 4, 8])('%i dispatchers at once on 500 mails → each mail is sent exactly once', async (dispatchers) => {
  await expectSentOnce(project, dispatchers, 500);
});
