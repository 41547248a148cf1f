import { freePort } from '../../../scripts/stack/ports.ts';
import { unprivilegedUser } from '../../../scripts/stack/process/unprivileged-user.ts';

/** Connections to Postgres, as many as a hosted pooler of a small compute size has. */
const serverConnections = 15;

export type Pooler = { /** The same database through the pooler. */ readonly url: string; stop(): Promise<void> };

/** Starts PgBouncer (Debian's package `pgbouncer`) in transaction mode in front of the database that the URL names. */
export async function startPgBouncer(databaseUrl: string): Promise<Pooler> {
  const { username, password, hostname, port: databasePort } = new URL(databaseUrl);
  const folder = await Deno.makeTempDir({ prefix: 'bench-pgbouncer-' });
  const port = freePort();
  await Deno.writeTextFile(`${folder}/users`, `"${username}" "${decodeURIComponent(password)}"\n`);
  await Deno.writeTextFile(
    `${folder}/pgbouncer.ini`,
    `[databases]
* = host=${hostname} port=${databasePort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${folder}/users
pool_mode = transaction
default_pool_size = ${serverConnections}
max_client_conn = 400
`,
  );
  const user = await unprivilegedUser();
  if (user) {
    for (const path of [folder, `${folder}/users`, `${folder}/pgbouncer.ini`]) {
      await Deno.chown(path, user.uid, user.gid);
    }
  }
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  const process = new Deno.Command('pgbouncer', {
    args: [`${folder}/pgbouncer.ini`],
    ...user,
    stdout: 'null',
    stderr: 'null',
  }).spawn();
  return {
    url: url.href,
    async stop() {
      process.kill('SIGINT');
      await process.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}
