import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { postWebhook } from '../helpers/gateway/deliver.ts';
import { answer } from '../helpers/http/answer.ts';
import { poolSample } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';
import { ledgerRow } from '../helpers/records/read-records.ts';

// The gateway's documented examples are not part of this repository. A developer can place them beside it.
const folder = `${root}/../shared/gateway/payloads`;
const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];

const cases = names.length > 0 ? names : ['(skipped: no shared/gateway/payloads beside the project)'];

const project = useProject();

describe.each(poolSample)('%s', (target) => {
  const service = useService(target, project);

  test.skipIf(names.length === 0).each(cases)(
    'POST /api/webhooks/gateway with the documented body %s → 200',
    async (name) => {
      const bytes = new Uint8Array(readFileSync(`${folder}/${name}`));
      expect(await answer(postWebhook(service, bytes))).toEqual({ status: 200, body: { received: true } });
      expect(await ledgerRow(project.database, bytes)).toMatchObject({ outcome: expect.any(String) });
    },
  );
});
