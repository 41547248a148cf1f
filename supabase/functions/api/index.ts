import { createApp } from './app.ts';
import { createAuth } from './sessions/auth.ts';
import { readConfig } from './config.ts';
import { createDatabase } from './database/database.ts';
import { createGateway } from './gateway/gateway.ts';
import { consoleLog, createBufferedLog, writeLine } from './http/log.ts';
import { createSenders } from './outbox/senders.ts';
import { warnOfOlderSchema } from './database/schema-version.ts';
import { createTransport, isPoolWithoutCa } from './database/transport.ts';

const config = readConfig((name) => Deno.env.get(name));
// The hosted platform records each console call as one event, so only the local stack may join lines.
const log = config.port === null ? consoleLog : createBufferedLog(writeLine);
if (config.missing.length > 0) {
  log({ level: 'warn', event: 'not_configured', missing: config.missing });
}

if (config.spaced.length > 0) {
  log({ level: 'error', event: 'white_space_around', variables: config.spaced });
}

if (isPoolWithoutCa(config)) log({ level: 'warn', event: 'pool_without_ca' });

// The local stack writes the settings to the database and does not pass the variables. Contract: Early renewals.
if (config.earlyRenewal !== 'replace') log({ level: 'info', event: 'early_renewal_is_a_database_setting' });
if (config.credit !== 'on') log({ level: 'info', event: 'credit_is_a_database_setting' });

if (config.email?.expiryEmails === false) log({ level: 'info', event: 'expiry_emails_off' });

const gateway = createGateway(config.gateway);
const transport = await createTransport(config);
const database = createDatabase(transport, config);
const ports = {
  auth: createAuth(config),
  database,
  gateway,
  senders: createSenders(config, gateway, database),
};
const app = createApp(config, ports, log);

Deno.serve({
  // The hosted platform ignores both and chooses the address itself.
  ...(config.port === null ? {} : { hostname: '127.0.0.1', port: config.port }),
  onListen: ({ port }) => log({ level: 'info', event: 'listening', port }),
}, (request) => app.fetch(request));

// In the background: no request waits for it.
void warnOfOlderSchema(transport, log);
