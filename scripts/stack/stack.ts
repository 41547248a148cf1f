import { writeLine } from './child.ts';
import { dataFolder, migrationRecord } from './data-folder.ts';
import { localEnvironment, localKeys } from './defaults.ts';
import { readEnvironment } from './environment.ts';
import { createFront } from './front.ts';
import { createFunction } from './function.ts';
import { createGatewaySimulator } from './gateway-simulator.ts';
import { installClock } from './install-clock.ts';
import { createLite } from './lite.ts';
import { createMailbox } from './mailbox.ts';
import { markLocal } from './mark-local.ts';
import { migrate } from './migrate.ts';
import { guardMigrations } from './migration-guard.ts';
import { createOutboxWaker } from './outbox-waker.ts';
import { createPostgres } from './postgres.ts';
import { platformEnvironment } from './platform-environment.ts';
import { prepareDatabase } from './prepare-database.ts';
import { routeApi } from './route-api.ts';
import type { Service } from './service.ts';

export type StackOptions = {
  /** The API's port; the others follow it, see `portNames`. */
  port: number;
  /** Throw-away data. */
  ephemeral: boolean;
  /** The process environment, which wins over `.env` and the local defaults. */
  environment: Record<string, string>;
  /** Told when a part of the stack that isn't restarted ends by itself. */
  onCrash: (error: Error) => void;
};

/** The whole local stack. */
export type Stack = {
  /** Starts everything; true when it answers, false when `stop` was called first. Throws when a part can't start. */
  start(): Promise<boolean>;
  /** Ends everything, also what `start` is about to start. */
  stop(): Promise<void>;
  /** What a client needs to know, in the order in which it is printed. */
  readonly outputs: Record<string, string>;
};

/**
 * Puts the stack together: Postgres, migrations and samples, Lite, the function, the two ports in front of them, the
 * mailbox, the gateway simulator, and what wakes the outbox's dispatcher.
 */
export async function createStack({ port, ephemeral, environment, onCrash }: StackOptions): Promise<Stack> {
  const at = (offset: number) => `http://127.0.0.1:${port + offset}`;
  const [api, studioUrl, mailboxUrl, gatewayUrl] = [at(0), at(2), at(3), at(4)];
  const defaults = localEnvironment({ gateway: gatewayUrl, mailbox: mailboxUrl });
  const own = await readEnvironment(environment, defaults);
  // The stand-ins need a secret even when the function is told to do without.
  const secret = (name: string) => own[name] || defaults[name] || '';

  const postgres = createPostgres({
    port: port + 1,
    ephemeral,
    dataFolder: ephemeral ? undefined : dataFolder,
    onCrash,
  });
  const databaseUrl = postgres.url();
  const lite = createLite({
    databaseUrl,
    jwtSecret: localKeys.jwtSecret,
    publishableKey: localKeys.publishable,
    secretKey: localKeys.secret,
    siteUrl: own.APP_URL || api,
    studioPort: port + 2,
  });
  const edgeFunction = createFunction({
    port: port + 5,
    env: { ...own, ...platformEnvironment(api, databaseUrl) },
    onCrash,
  });
  const apiFront = createFront({ name: 'API', port, route: (path) => routeApi(path, edgeFunction, lite) });
  const studioFront = createFront({
    name: 'Studio',
    port: port + 2,
    route: (path) => ({ base: () => lite.studioUrl(), path }),
  });
  const mailbox = createMailbox({ port: port + 3, revalidateSecret: secret('REVALIDATE_SECRET') });
  const simulator = createGatewaySimulator({
    port: port + 4,
    keyId: secret('GATEWAY_KEY_ID'),
    keySecret: secret('GATEWAY_KEY_SECRET'),
    webhookSecret: secret('GATEWAY_WEBHOOK_SECRET'),
    webhookUrl: `${api}/functions/v1/api/webhooks/gateway`,
  });

  const waker = createOutboxWaker({
    databaseUrl,
    internalUrl: `${api}/functions/v1/api/internal`,
    secretKey: localKeys.secret,
  });

  const stopped = Promise.withResolvers<void>();
  let stopping = false;
  let started = Promise.resolve(false);
  const ready = async (...services: Service[]) => {
    await Promise.race([Promise.all(services.map((service) => service.ready())), stopped.promise]);
  };
  const steps = [
    () => Promise.all([mailbox, simulator, apiFront, studioFront].map((service) => service.start())),
    () => postgres.start(),
    () => ready(postgres),
    () => prepareDatabase(databaseUrl),
    () => markLocal(databaseUrl),
    () => ephemeral ? undefined : guardMigrations(databaseUrl, migrationRecord),
    () => migrate({ url: databaseUrl, seed: true }),
    () => installClock(databaseUrl, gatewayUrl),
    () => Promise.all([lite.start(), edgeFunction.start()]),
    () => ready(lite, edgeFunction, apiFront, studioFront, mailbox, simulator),
    () => waker.start(),
  ];
  const run = async () => {
    for (const step of steps) {
      if (stopping) break;
      await step();
    }
    return !stopping;
  };
  // Nobody calls into what has ended already; the database ends last.
  const endings = [waker, simulator, edgeFunction, apiFront, studioFront, mailbox, lite, postgres];

  return {
    start: () => started = run(),
    async stop() {
      stopping = true;
      stopped.resolve();
      await started.catch(() => {}); // told to who called `start`
      for (const service of endings) {
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
      PUBLISHABLE_KEY: localKeys.publishable,
      SECRET_KEY: localKeys.secret,
      GATEWAY_KEY_ID: own.GATEWAY_KEY_ID ?? '',
      GATEWAY_KEY_SECRET: own.GATEWAY_KEY_SECRET ?? '',
      GATEWAY_WEBHOOK_SECRET: own.GATEWAY_WEBHOOK_SECRET ?? '',
      REVALIDATE_URL: own.REVALIDATE_URL ?? '',
    },
  };
}
