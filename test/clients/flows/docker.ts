import assert from 'node:assert/strict';
import Docker from 'dockerode';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/** The engine has images; a container is made from one of them. */
const image = async (docker: Docker, s: State): Promise<string> => {
  s.image = given((await docker.listImages())[0], 'image').Id;
  return s.image;
};

const container = async (docker: Docker, s: State, name: string, asked: Docker.ContainerCreateOptions = {}): Promise<string> => {
  s.id = given((await docker.createContainer({ name, Image: await image(docker, s), Cmd: ['sleep', '60'], ...asked })).id, 'Id');
  return s.id;
};

const state = async (docker: Docker, id: string): Promise<string> => (await docker.getContainer(id).inspect()).State.Status;

const listed = async (docker: Docker, asked: object): Promise<string[]> =>
  (await docker.listContainers({ all: true, ...asked })).map(({ Id }) => Id);

const network = async (docker: Docker, name: string, asked: object = {}): Promise<string> =>
  given((await docker.createNetwork({ Name: name, ...asked })).id, 'Id');

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A secret or a config as it is read: the types of the client keep its specification open. */
interface Kept {
  ID: string;
  Version: { Index: number };
  Spec: { Name?: string; Data?: string; Labels?: Record<string, string> };
}

const idOf = (made: unknown): string => given((made as { id?: string; ID?: string }).id ?? (made as { ID?: string }).ID, 'ID');

/**
 * Guide: docs.docker.com/engine/api, "Examples using the Docker Engine SDKs and Docker API", and its reference of version 1.33. The
 * engine listens to whoever reaches its socket: there is no credential, and none to refuse.
 */
export const vendor: Vendor<Docker> = {
  document: 'docker/engine.json',
  header: 'Authorization',
  made: 'none',
  hides: true,
  client: ({ port }: Place) => new Docker({ protocol: 'http', host: '127.0.0.1', port, version: 'v1.33' }),
  flows: {
    'the engine answers': (docker) => ({
      'its version': async () => {
        const read = await docker.version();
        assert.deepEqual([typeof read.Version, typeof read.ApiVersion], ['string', 'string']);
      },
      'what it has': async () => assert.equal(typeof (await docker.info()).Containers, 'number'),
    }),
    'a container is made, read and removed': (docker, s) => ({
      create: async () => {
        await container(docker, s, 'hello', { Env: ['FOO=bar'], Labels: { 'com.example.role': 'greeter' } });
      },
      read: async () => {
        const read = await docker.getContainer(s.id).inspect();
        assert.equal(read.Id, s.id);
        assert.deepEqual(read.Config.Env?.includes('FOO=bar'), true);
        assert.equal(read.Config.Labels['com.example.role'], 'greeter');
        assert.equal(read.Name.replace(/^\//, ''), 'hello');
      },
      'its name leads to it': async () => assert.equal((await docker.getContainer('hello').inspect()).Id, s.id),
      'it is listed with all, created and not run': async () => once(await listed(docker, {}), [s.id], 'containers'),
      remove: async () => docker.getContainer(s.id).remove(),
      'it is gone': async () => {
        await refused(docker.getContainer(s.id).inspect(), 404);
      },
      'it cannot be removed again': async () => {
        await refused(docker.getContainer(s.id).remove(), 404);
      },
      'it is not listed': async () => assert.ok(!(await listed(docker, {})).includes(s.id)),
    }),
    'a container is started and stopped': (docker, s) => ({
      create: async () => {
        await container(docker, s, 'worker');
        assert.equal(await state(docker, s.id), 'created');
      },
      start: async () => docker.getContainer(s.id).start(),
      'it is running': async () => assert.equal(await state(docker, s.id), 'running'),
      'it is started already': async () => {
        await refused(docker.getContainer(s.id).start(), 304);
      },
      stop: async () => docker.getContainer(s.id).stop({ t: 1 }),
      'it is exited': async () => assert.equal(await state(docker, s.id), 'exited'),
      'it is stopped already': async () => {
        await refused(docker.getContainer(s.id).stop(), 304);
      },
      restart: async () => docker.getContainer(s.id).restart(),
      'it is running again': async () => assert.equal(await state(docker, s.id), 'running'),
    }),
    'a container is paused': (docker, s) => ({
      'a running one': async () => {
        await container(docker, s, 'pausable');
        await docker.getContainer(s.id).start();
      },
      pause: async () => docker.getContainer(s.id).pause(),
      'it is paused': async () => {
        const read = await docker.getContainer(s.id).inspect();
        assert.deepEqual([read.State.Status, read.State.Paused], ['paused', true]);
      },
      unpause: async () => docker.getContainer(s.id).unpause(),
      'it is running': async () => assert.equal(await state(docker, s.id), 'running'),
      kill: async () => docker.getContainer(s.id).kill({ signal: 'SIGKILL' }),
      'it is exited': async () => assert.equal(await state(docker, s.id), 'exited'),
    }),
    'a running container is not removed': (docker, s) => ({
      'a running one': async () => {
        await container(docker, s, 'busy');
        await docker.getContainer(s.id).start();
      },
      'removing it is a conflict': async () => {
        await refused(docker.getContainer(s.id).remove(), 409);
      },
      'by force it goes': async () => docker.getContainer(s.id).remove({ force: true }),
      'it is gone': async () => {
        await refused(docker.getContainer(s.id).inspect(), 404);
      },
    }),
    'a container is renamed': (docker, s) => ({
      'two containers': async () => {
        s.other = await container(docker, s, 'taken');
        await container(docker, s, 'before');
      },
      rename: async () => docker.getContainer(s.id).rename({ name: 'after' }),
      'it has its new name': async () =>
        assert.equal((await docker.getContainer(s.id).inspect()).Name.replace(/^\//, ''), 'after'),
      'its old name leads nowhere': async () => {
        await refused(docker.getContainer('before').inspect(), 404);
      },
      'a name is taken once': async () => {
        await refused(docker.getContainer(s.id).rename({ name: 'taken' }), 409);
        await refused(docker.createContainer({ name: 'taken', Image: s.image }), 409);
      },
    }),
    'containers by state, label and number': (docker, s) => ({
      'three containers, one of them running': async () => {
        s.one = await container(docker, s, 'one', { Labels: { team: 'red' } });
        s.two = await container(docker, s, 'two', { Labels: { team: 'red' } });
        s.three = await container(docker, s, 'three', { Labels: { team: 'blue' } });
        await docker.getContainer(s.two).start();
      },
      'all are listed': async () => once(await listed(docker, {}), [s.one, s.two, s.three], 'containers'),
      'without all there is the running one': async () => {
        const rows = (await docker.listContainers()).map(({ Id }) => Id);
        assert.deepEqual([rows.includes(s.one), rows.includes(s.two)], [false, true]);
      },
      'by label': async () => {
        const rows = await listed(docker, { filters: { label: ['team=blue'] } });
        assert.deepEqual(rows, [s.three]);
      },
      'by state': async () => {
        const rows = await listed(docker, { filters: { status: ['created'] } });
        assert.deepEqual([rows.includes(s.one), rows.includes(s.two), rows.includes(s.three)], [true, false, true]);
      },
      'no more than two': async () => assert.equal((await listed(docker, { limit: 2 })).length, 2),
    }),
    'a command in a container': (docker, s) => ({
      'a running container': async () => {
        await container(docker, s, 'shell');
        await docker.getContainer(s.id).start();
      },
      'make the command': async () => {
        const made = await docker.getContainer(s.id).exec({ Cmd: ['date'], AttachStdout: true });
        s.exec = given(made.id, 'Id');
      },
      'it is of the container, and not running': async () => {
        const read = await docker.getExec(s.exec).inspect();
        assert.deepEqual([read.ID, read.ContainerID, read.Running], [s.exec, s.id, false]);
      },
      'a container that is not there has none': async () => {
        await refused(docker.getContainer('nowhere').exec({ Cmd: ['date'] }), 404);
      },
    }),
    'a network is made and removed': (docker, s) => ({
      create: async () => {
        s.id = await network(docker, 'backend', { Driver: 'bridge', Internal: true, Labels: { tier: 'back' } });
      },
      read: async () => {
        const read = (await docker.getNetwork(s.id).inspect()) as Docker.NetworkInspectInfo;
        assert.deepEqual([read.Id, read.Name, read.Driver, read.Internal], [s.id, 'backend', 'bridge', true]);
        assert.equal(read.Labels?.tier, 'back');
      },
      'find it by its name': async () => {
        await network(docker, 'frontend');
        assert.deepEqual(
          (await docker.listNetworks({ filters: { name: ['backend'] } })).map(({ Id }) => Id),
          [s.id],
        );
      },
      remove: async () => docker.getNetwork(s.id).remove(),
      'it is gone': async () => {
        await refused(docker.getNetwork(s.id).inspect(), 404);
      },
      'it is not listed': async () => assert.ok(!(await docker.listNetworks()).some(({ Id }) => Id === s.id)),
    }),
    'a container joins a network': (docker, s) => ({
      'a network and a running container': async () => {
        s.network = await network(docker, 'lobby');
        await container(docker, s, 'guest');
        await docker.getContainer(s.id).start();
      },
      connect: async () => docker.getNetwork(s.network).connect({ Container: s.id }),
      'the network has it': async () => {
        const read = (await docker.getNetwork(s.network).inspect()) as Docker.NetworkInspectInfo;
        assert.ok(Object.keys(read.Containers ?? {}).includes(s.id));
      },
      disconnect: async () => docker.getNetwork(s.network).disconnect({ Container: s.id }),
      'the network has it no more': async () => {
        const read = (await docker.getNetwork(s.network).inspect()) as Docker.NetworkInspectInfo;
        assert.ok(!Object.keys(read.Containers ?? {}).includes(s.id));
      },
      'a network that is not there': async () => {
        await refused(docker.getNetwork('nowhere').connect({ Container: s.id }), 404);
      },
    }),
    'a volume is made and removed': (docker) => ({
      create: async () => {
        const made = (await docker.createVolume({ Name: 'tardis', Labels: { kind: 'box' } })) as { Name?: string };
        assert.equal(made.Name, 'tardis');
      },
      read: async () => {
        const read = await docker.getVolume('tardis').inspect();
        assert.deepEqual([read.Name, read.Labels?.kind, typeof read.Mountpoint], ['tardis', 'box', 'string']);
      },
      list: async () =>
        once(
          (await docker.listVolumes()).Volumes.map(({ Name }) => Name),
          ['tardis'],
          'volumes',
        ),
      'find it by its label': async () => {
        await docker.createVolume({ Name: 'plain' });
        assert.deepEqual(
          (await docker.listVolumes({ filters: { label: ['kind=box'] } } as object)).Volumes.map(({ Name }) => Name),
          ['tardis'],
        );
      },
      'the same name is the same volume': async () => {
        await docker.createVolume({ Name: 'tardis', Labels: { kind: 'box' } });
        once(
          (await docker.listVolumes()).Volumes.map(({ Name }) => Name),
          ['tardis'],
          'volumes',
        );
      },
      remove: async () => docker.getVolume('tardis').remove(),
      'it is gone': async () => {
        await refused(docker.getVolume('tardis').inspect(), 404);
      },
    }),
    'a secret keeps its data': (docker, s) => ({
      create: async () => {
        const made = await docker.createSecret({ Name: 'app-key.crt', Labels: { foo: 'bar' }, Data: base64('THIS IS A TEST') });
        s.id = idOf(made);
      },
      'its data are not read back': async () => {
        const read = (await docker.getSecret(s.id).inspect()) as Kept;
        assert.deepEqual([read.ID, read.Spec.Name, read.Spec.Labels?.foo], [s.id, 'app-key.crt', 'bar']);
        assert.ok(!JSON.stringify(read).includes(base64('THIS IS A TEST')));
        s.version = String(read.Version.Index);
      },
      'its name is taken': async () => {
        await refused(docker.createSecret({ Name: 'app-key.crt', Data: base64('OTHER') }), 409);
      },
      'change its labels': async () =>
        docker.getSecret(s.id).update({ version: Number(s.version), Name: 'app-key.crt', Labels: { foo: 'baz' } }),
      'they are changed': async () => assert.equal(((await docker.getSecret(s.id).inspect()) as Kept).Spec.Labels?.foo, 'baz'),
      remove: async () => docker.getSecret(s.id).remove(),
      'it is gone': async () => {
        await refused(docker.getSecret(s.id).inspect(), 404);
      },
    }),
    'a config is made and removed': (docker, s) => ({
      create: async () => {
        const made = await docker.createConfig({ Name: 'server.conf', Labels: { foo: 'bar' }, Data: base64('port=80') });
        s.id = idOf(made);
      },
      read: async () => {
        const read = (await docker.getConfig(s.id).inspect()) as Kept;
        assert.deepEqual([read.ID, read.Spec.Name, read.Spec.Data], [s.id, 'server.conf', base64('port=80')]);
      },
      list: async () =>
        once(
          (await docker.listConfigs()).map((one) => idOf(one)),
          [s.id],
          'configs',
        ),
      remove: async () => docker.getConfig(s.id).remove(),
      'it is gone': async () => {
        await refused(docker.getConfig(s.id).inspect(), 404);
      },
    }),
    'a wrong request': (docker, s) => ({
      'a network needs a name': async () => {
        await refused(docker.createNetwork({ Driver: 'bridge' } as Docker.NetworkCreateOptions), 400);
      },
      'a terminal is there or not': async () => {
        await image(docker, s);
        await refused(docker.createContainer({ name: 'odd', Image: s.image, Tty: 'sometimes' as unknown as boolean }), 400);
      },
      'it was not made': async () => {
        await refused(docker.getContainer('odd').inspect(), 404);
      },
      'nothing starts that is not there': async () => {
        await refused(docker.getContainer('nowhere').start(), 404);
      },
    }),
  },
};
