import { migrationVersions } from '../../stack/postgres/migration-versions.ts';
import { type Check, fail, type Outcome, pass, warn } from '../check.ts';
import { checkClock } from '../clock.ts';
import { deployCommand } from '../deploy-command.ts';
import type { Project } from '../project.ts';
import { otherServer } from '../other-server.ts';
import { field } from '../request.ts';

/** The function is made for the newest migration of this checkout, or that the app has installed. */
export const functionVersion: Check = {
  name: 'function-version',

  async run(context) {
    const { status, headers, body } = await context.request(`${context.functionsUrl}/api/health`);
    if (status !== 200) return [fail(`GET /api/health answers ${status}`, 'See the check "webhook-ping".')];
    if (field(body, 'status') !== 'ok') return [otherServer(context, status)];
    const newest = (context.migrations ?? await migrationVersions()).at(-1) ?? '';
    return [
      compare(context, headers.get('x-schema-version'), newest),
      ...checkClock('the function', headers.get('date')),
    ];
  },
};

function compare(project: Project, version: string | null, newest: string): Outcome {
  if (version === newest) return pass(`made for ${newest}`);
  if (version !== null && version > newest) {
    return warn(`the function is made for ${version}, newer than ${newest} here`, 'Update this checkout.');
  }
  return fail(
    `the function is made for ${version ?? 'an older schema'}, not for ${newest}`,
    project.migrations === undefined
      ? `Run \`npm run generate\` and ${deployCommand(project)}; locally, restart \`npm start\`.`
      : `Run ${deployCommand(project)}.`,
  );
}
