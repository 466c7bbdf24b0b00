import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../stores/free-port.ts';
import { firstThere, notesBeside, orStopped, ownFolder, prepare, type RealServer, startProgram } from '../server.ts';

const program = '/usr/lib/rabbitmq/bin/rabbitmq-server';
const document = 'test/servers/rabbitmq/service.yaml';
const administrator = { user: 'administrator', id: 'guest', credential: `Basic ${btoa('guest:guest')}` };
const manager = { user: 'management', id: 'manager', credential: `Basic ${btoa('manager:manager')}` };

/** A node of its own with the management plugin, the virtual host `main`, and somebody who may use that alone. */
export const rabbitmq: RealServer = {
  name: 'rabbitmq',
  document,
  ...notesBeside(document),
  lacks: () => (firstThere(program) === undefined ? 'rabbitmq-server (Debian: apt-get install rabbitmq-server)' : undefined),
  async start() {
    const [port, amqp, distribution] = [await freePort(), await freePort(), await freePort()];
    const folder = ownFolder();
    const file = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const configuration = [
      `listeners.tcp.1 = 127.0.0.1:${amqp}`,
      'management.tcp.ip = 127.0.0.1',
      `management.tcp.port = ${port}`,
      'log.file = false',
    ];
    const running = startProgram({
      command: program,
      args: [],
      environment: {
        HOME: folder,
        ERL_EPMD_ADDRESS: '127.0.0.1',
        RABBITMQ_NODENAME: `ninefold-${port}@localhost`,
        RABBITMQ_DIST_PORT: String(distribution),
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
        RABBITMQ_MNESIA_BASE: join(folder, 'mnesia'),
        RABBITMQ_LOG_BASE: join(folder, 'log'),
        RABBITMQ_CONFIG_FILE: file('rabbitmq.conf', `${configuration.join('\n')}\n`),
        RABBITMQ_ENABLED_PLUGINS_FILE: file('plugins', '[rabbitmq_management].\n'),
      },
      folder,
    });
    const base = `http://127.0.0.1:${port}/api`;
    const authorization = administrator.credential;
    const put = (path: string, body: object): Promise<string> =>
      prepare(`${base}${path}`, {
        method: 'PUT',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    await orStopped(running, async () => {
      await running.untilThere(`${base}/whoami`, { authorization });
      await put('/vhosts/main', {});
      await put('/users/manager', { password: 'manager', tags: 'management' });
      for (const user of ['guest', 'manager'])
        await put(`/permissions/main/${user}`, { configure: '.*', write: '.*', read: '.*' });
    });
    return { port, callers: [administrator, manager], stop: () => running.stop() };
  },
};
