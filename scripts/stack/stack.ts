import { writeLine } from './process/child.ts';
import { dataFolder, gatewayJournal, migrationRecord } from './data-folder.ts';
import { localEnvironment, publishableKey, shownVariables } from './defaults.ts';
import { readProjectEnvironment } from './function/environment.ts';
import { createReverseProxy } from './http/reverse-proxy.ts';
import { createFunction } from './function/function.ts';
import { createGatewaySimulator } from './gateway/gateway-simulator.ts';
import { installClock } from './postgres/install-clock.ts';
import { createLite } from './supabase-lite/lite.ts';
import { createMailbox } from './mailbox/mailbox.ts';
import { markLocal } from './mark-local.ts';
import { offerPlans } from './gateway/offer-plans.ts';
import { createScheduler } from './scheduler.ts';
import type { LocalSecrets } from './secrets.ts';
import { createShop } from './shop/shop.ts';
import { readConfig } from '../../supabase/functions/api/config.ts';
import { createStartMigration } from './postgres/start-migration.ts';
import { openRoles, poolUrl, supportUrl } from './postgres/local-roles.ts';
import { writeSettings } from './postgres/write-settings.ts';
import { createProjectFunctions } from './function/project-functions.ts';
import { createPostgres } from './postgres/postgres.ts';
import { platformEnvironment } from './function/platform-environment.ts';
import { prepareDatabase } from './postgres/prepare-database.ts';
import { routeApi } from './http/route-api.ts';
import type { Service } from './service.ts';

export type StackOptions = {
  /** The API's port; the others follow it, see `portNames`. */
  port: number;
  /** Temporary data, which `stop` deletes. */
  ephemeral: boolean;
  /** The folder of an app whose functions are served, too, and whose migrations are applied if it has installed ours. */
  project?: string | undefined;
  secrets: LocalSecrets;
  /** The process environment, which overrides `.env` and the local defaults. */
  environment: Record<string, string>;
  /** Whether to log each migration. */
  verbose: boolean;
  /** The console, which is no part of the stack. */
  createConsole: (options: { port: number; databaseUrl: string; appUrl: string }) => Service & { entryUrl: string };
  /** Called when a service that is not restarted automatically ends unexpectedly. */
  onCrash: (error: Error) => void;
};

/** The whole local stack. */
export type Stack = {
  /** Starts all services. @returns false when `stop` was called meanwhile. @throws when a service can't start */
  start(): Promise<boolean>;
  /** Stops all services, also during `start`. */
  stop(): Promise<void>;
  /** The settings that a client needs, in the order of the output of `npm start`. */
  readonly outputs: Record<string, string>;
};

/**
 * Creates the stack: Postgres with migrations and sample data, Lite, the function, the proxies in front of them, the
 * mailbox, the gateway simulator, the demo shop, the console and the scheduler.
 * @throws Error naming the variable that has an invalid value
 */
export async function createStack(options: StackOptions): Promise<Stack> {
  const { port, ephemeral, secrets, environment, verbose, createConsole, onCrash } = options;
  const at = (offset: number) => `http://127.0.0.1:${port + offset}`;
  const [api, studioUrl, mailboxUrl, gatewayUrl, shopUrl] = [at(0), at(2), at(3), at(4), at(6)];
  const { databasePassword, jwtSecret, secretKey, variables } = secrets;
  const postgres = createPostgres({
    port: port + 1,
    password: databasePassword,
    ephemeral,
    dataFolder: ephemeral ? undefined : dataFolder,
    onCrash,
  });
  const databaseUrl = postgres.url();
  const urls = { gateway: gatewayUrl, mailbox: mailboxUrl, shop: shopUrl, pool: poolUrl(databaseUrl) };
  const defaults = localEnvironment(urls, variables);
  const own = await readProjectEnvironment(options.project, environment, defaults);
  // Mailbox and simulator need a secret even when the function's variable is empty.
  const secret = (name: string) => own[name] || defaults[name] || '';
  const migrated = Promise.withResolvers<void>();
  const keys = { jwtSecret, publishableKey, secretKey };
  const addresses = { siteUrl: own.APP_URL || api, studioPort: port + 2 };
  const lite = createLite({ databaseUrl, ...keys, ...addresses }, { migrated: migrated.promise });
  // The settings are written to the database and not passed to the function.
  const platform = platformEnvironment(api, databaseUrl, secretKey);
  const { EARLY_RENEWAL, CREDIT, ...env } = { ...own, ...platform };
  const settings: Record<string, string | undefined> = { EARLY_RENEWAL, CREDIT };
  const config = readConfig((name) => name in settings ? settings[name] : env[name]);
  const edgeFunction = createFunction({ port: port + 5, env, onCrash });
  // What a function of the app needs to answer the calls of ours.
  const shared = { EVENTS_SECRET: own.EVENTS_SECRET ?? '', REVALIDATE_SECRET: own.REVALIDATE_SECRET ?? '' };
  const functions = await createProjectFunctions(options.project, { ...shared, ...platform });
  const base = `${api}/functions/v1/${functions.ours}`;
  const route = (path: string) => routeApi(path, edgeFunction, lite, functions);
  const apiProxy = createReverseProxy({ name: 'API', port, route });
  const routeStudio = (path: string) => ({ base: () => lite.studioUrl(), path });
  const studioProxy = createReverseProxy({ name: 'Studio', port: port + 2, route: routeStudio });
  const [revalidateSecret, eventsSecret] = [secret('REVALIDATE_SECRET'), secret('EVENTS_SECRET')];
  const mailbox = createMailbox({ port: port + 3, revalidateSecret, eventsSecret });
  const simulator = createGatewaySimulator({
    port: port + 4,
    keyId: secret('GATEWAY_KEY_ID'),
    keySecret: secret('GATEWAY_KEY_SECRET'),
    webhookSecret: secret('GATEWAY_WEBHOOK_SECRET'),
    webhookUrl: `${base}/webhooks/gateway`,
    webhookHeaders: { signature: config.signatureHeader, eventId: config.eventIdHeader },
    journal: ephemeral ? undefined : gatewayJournal,
  });
  const shop = createShop({
    port: port + 6,
    apiUrl: api,
    publishableKey,
    gatewayUrl,
    mailboxUrl,
    functionName: functions.ours,
    revalidate: mailbox.revalidate,
  });
  const supportConsole = createConsole({
    port: port + 7,
    databaseUrl: supportUrl(databaseUrl),
    appUrl: own.APP_URL || shopUrl,
  });
  const scheduler = createScheduler({ databaseUrl, internalUrl: `${base}/internal`, secretKey });

  const kept = ephemeral ? undefined : { folder: dataFolder, record: migrationRecord };
  const migration = createStartMigration(databaseUrl, kept, options.project, verbose);
  const stopped = Promise.withResolvers<void>();
  let stopping = false;
  let started = Promise.resolve(false);
  const ready = async (...services: Service[]) => {
    await Promise.race([Promise.all(services.map((service) => service.ready())), stopped.promise]);
  };
  const steps = [
    () =>
      Promise.all([mailbox, simulator, shop, supportConsole, apiProxy, studioProxy].map((service) => service.start())),
    () => migration.load(),
    () => postgres.start(),
    () => ready(postgres),
    () => prepareDatabase(databaseUrl),
    () => markLocal(databaseUrl),
    // Both load while the migrations run.
    () => Promise.all([functions.start(), lite.start()]),
    () => migration.apply(),
    () => openRoles(databaseUrl),
    () =>
      Promise.all([
        edgeFunction.start(),
        writeSettings(databaseUrl, config, own),
        installClock(databaseUrl, gatewayUrl),
        // Another gateway knows its own plans.
        env.GATEWAY_API_URL === gatewayUrl ? offerPlans(databaseUrl, gatewayUrl) : undefined,
      ]),
    () => migrated.resolve(),
    () => ready(lite, edgeFunction, apiProxy, studioProxy, mailbox, simulator, shop, supportConsole),
    () => scheduler.start(),
  ];
  const run = async () => {
    for (const step of steps) {
      if (stopping) break;
      await step();
    }
    return !stopping;
  };
  // Callers stop before the services that they call; the database stops last.
  const stopOrder = [
    scheduler,
    supportConsole,
    simulator,
    edgeFunction,
    functions,
    apiProxy,
    studioProxy,
    mailbox,
    shop,
    lite,
    postgres,
  ];

  return {
    start: () => started = run(),
    async stop() {
      stopping = true;
      stopped.resolve();
      await Promise.allSettled([started, migration.stop()]); // the caller of `start` handles its error
      for (const service of stopOrder) {
        await service.stop().catch((error: unknown) => writeLine(`${service.name} did not stop: ${error}`));
      }
    },
    outputs: {
      API_URL: api,
      FUNCTIONS_URL: `${api}/functions/v1`,
      DB_URL: databaseUrl,
      STUDIO_URL: studioUrl,
      MAILBOX_URL: mailboxUrl,
      GATEWAY_URL: gatewayUrl,
      PUBLISHABLE_KEY: publishableKey,
      SECRET_KEY: secretKey,
      ...Object.fromEntries(shownVariables.map((name) => [name, own[name] ?? ''])),
      CONSOLE_URL: supportConsole.entryUrl,
    },
  };
}
