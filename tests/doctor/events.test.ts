import { afterAll, onTestFinished, test } from 'vitest';
import { events } from '../../scripts/doctor/checks/events.ts';
import { runChecks } from '../../scripts/doctor/run-checks.ts';
import { root } from '../../scripts/stack/root.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { startReceiver } from '../helpers/outbox/receiver.ts';
import { expectReport, local, patient } from './doctor.ts';

const database = useDatabase();
const app = startReceiver();
afterAll(() => app.stop());

const secret = `whsec_${btoa('s'.repeat(24))}`;
const url = `${app.url}/api/events`;
const project = (environment: Record<string, string>) => local({ databaseUrl: database.url, environment });
const given = { EVENTS_URL: url, EVENTS_SECRET: secret };

/** The receiver of the deployment guide. Its own imports and the app's function `apply` are from here. */
async function receiverOfGuide(): Promise<(request: Request) => Promise<Response>> {
  const recipe = await Deno.readTextFile(`${root}/supabase/docs/events-route.ts`);
  const folder = await Deno.makeTempDir();
  onTestFinished(() => Deno.remove(folder, { recursive: true }));
  const code = recipe.replace("'standardwebhooks'", `'file://${root}/node_modules/standardwebhooks/dist/index.js'`);
  await Deno.writeTextFile(
    `${folder}/route.ts`,
    `${code}\nconst apply = (event: unknown) => Promise.resolve(event);\n`,
  );
  return (await import(`file://${folder}/route.ts`)).POST;
}

/** Answers as an app with that secret. */
async function answerAsApp(secret: string): Promise<void> {
  const receive = await receiverOfGuide();
  app.answer = async ({ headers, text }) => {
    Deno.env.set('EVENTS_SECRET', secret);
    return await receive(new Request(url, { method: 'POST', headers, body: text }));
  };
}

test('no events are fine, and a receiver that gets none fails, until they are turned on', async () => {
  await expectReport(events, project({}), 'pass off: the app gets no events');
  const off = 'fail EVENTS_URL is set, and the setting events is off';
  await expectReport(events, project(given), off, 'update billing.settings');
  const [result] = await runChecks([events], project(given), patient);
  const statement = /"(update .*);"/.exec(result?.remedy ?? '')?.[1] ?? '';
  await database.query(statement);
  await answerAsApp(secret);
  await expectReport(events, project(given), `pass ${url}: 401 without a signature, 200 with it`);
  await expectReport(events, project({}), 'skip EVENTS_URL not given');
  await expectReport(events, project({ EVENTS_URL: url }), 'skip EVENTS_SECRET not given');
});

test('a receiver that verifies nothing, has another secret or does not run is told apart', async () => {
  await database.set('events = true');
  app.answer = () => Response.json({});
  await expectReport(events, project(given), `fail ${url} accepts an event without a signature`);
  await answerAsApp(`whsec_${btoa('t'.repeat(24))}`);
  await expectReport(events, project(given), `fail ${url} answers 401 to a signed event`, 'EVENTS_SECRET');
  const gone = { ...given, EVENTS_URL: 'http://127.0.0.1:9/events' };
  await expectReport(events, project(gone), 'fail nothing answers at http://127.0.0.1:9/events');
});
