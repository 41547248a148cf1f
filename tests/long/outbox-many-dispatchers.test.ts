import { test } from 'vitest';
import { expectSentOnce } from '../helpers/outbox/many-dispatchers.ts';
import { useProject } from '../helpers/project/use-project.ts';

const project = useProject();

test.each([2, 8])('%i dispatchers at once on 5,000 mails → each mail is sent exactly once', async (dispatchers) => {
  await expectSentOnce(project, dispatchers, 5_000);
});
