import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { parse, parseAllDocuments } from 'yaml';
import { variableOf } from '../src/cli/serve/layers.ts';
import { serveOptions } from '../src/cli/verbs/serve-options.ts';
import { check, readDocument } from '../src/index.ts';
import operations from '../src/serve/service/operations.json' with { type: 'json' };
import { makeDatabase } from './stores/database.ts';
import { freePort } from './stores/free-port.ts';

/** What `deploy/` says is carried out without containers: the same commands with the same settings, over the PostgreSQL of this machine. */
const root = join(import.meta.dirname, '..');
const text = (name: string) => readFileSync(join(root, 'deploy', name), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'ninefold-deploy-'));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Compose {
  readonly services: {
    readonly notes: {
      readonly command: readonly string[];
      readonly environment: Record<string, string>;
      readonly deploy: { replicas: number };
      readonly stop_grace_period: string;
    };
  };
}
interface Container {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Deployment {
  readonly spec: {
    readonly template: {
      readonly spec: { readonly terminationGracePeriodSeconds: number; readonly containers: readonly [Container] };
    };
  };
}

const { notes } = (parse(text('compose.yaml')) as Compose).services;
const [deployment] = parseAllDocuments(text('kubernetes.yaml')).map((one) => one.toJS() as Deployment);
const { containers, terminationGracePeriodSeconds } = deployment?.spec.template.spec ?? assert.fail('there is no deployment');
const [container] = containers;

/** What the image gives to Node before the program: as many words as there are in its entrypoint. */
const [, ...ofNode] = (JSON.parse(/^ENTRYPOINT (.*)$/m.exec(text('Dockerfile'))?.[1] ?? '[]') as string[]).slice(0, -1);

/** The variables that an image sets. */
const ofImage = Object.fromEntries(
  [...text('Dockerfile').matchAll(/\b(NINEFOLD_[A-Z_]+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
);

test('every setting that the examples give is one of serve, and every path that is asked is one of the door', () => {
  const known = new Set(Object.keys(serveOptions).map(variableOf));
  const given = [...Object.keys(ofImage), ...Object.keys(notes.environment), ...container.env.map(({ name }) => name)];
  assert.deepEqual(
    given.filter((name) => !known.has(name)),
    [],
  );
  const paths = [
    ...[container.startupProbe, container.livenessProbe, container.readinessProbe].map(({ httpGet }) => httpGet.path),
    ...(text('haproxy.cfg').match(/uri (\S+)/) ?? []).slice(1),
    ...(text('Dockerfile').match(/:9100(\/\w+)/) ?? []).slice(1),
    ...(text('kubernetes.yaml').match(/io\/path: (\S+)/) ?? []).slice(1, 2).map((path) => path.replace(/\W+$/, '')),
  ];
  assert.equal(paths.length, 6);
  for (const path of paths) assert.ok(Object.hasOwn(operations.endpoints, `GET ${path}`), path);
  assert.deepEqual(notes.command, container.args);
});

test('whoever stops an instance waits longer than it may take', () => {
  const compose = notes.environment;
  assert.ok(Number.parseInt(notes.stop_grace_period, 10) > Number(compose.NINEFOLD_DRAIN_DELAY) + Number(compose.NINEFOLD_DRAIN));
  const pod = Object.fromEntries(container.env.map(({ name, value }) => [name, Number(value)]));
  assert.ok(terminationGracePeriodSeconds > (pod.NINEFOLD_DRAIN_DELAY ?? 0) + (pod.NINEFOLD_DRAIN ?? 0));
});

test('what is served in the examples has no findings and leaves nothing open', async () => {
  const { findings, ledger } = check(await readDocument(join(root, 'deploy', 'service.yaml')));
  assert.deepEqual([findings, ledger.total.open], [[], 0]);
});

const token = 'x'.repeat(44);

/** The environment of one instance as the compose file has it, but for what is of containers alone: addresses and paths. */
function environmentOf(store: string): Record<string, string> {
  const tokenFile = join(folder, 'operations-token');
  writeFileSync(tokenFile, `${token}\n`);
  return {
    ...ofImage,
    ...notes.environment,
    NINEFOLD_STORE: store,
    NINEFOLD_HOST: '127.0.0.1',
    NINEFOLD_PORT: '0',
    NINEFOLD_OPERATIONS: '127.0.0.1:0',
    NINEFOLD_OPERATIONS_TOKEN_FILE: tokenFile,
    // Here nobody has to notice but this test, which asks until it does.
    NINEFOLD_DRAIN_DELAY: '1',
  };
}

function run(words: readonly string[], environment: Record<string, string>): ChildProcess {
  const inside = words.map((word) => word.replace(/^\/service\//, `${join(root, 'deploy')}/`));
  return spawn(process.execPath, [...ofNode, join(root, 'bin', 'ninefold.js'), ...inside], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

interface Instance {
  readonly child: ChildProcess;
  readonly url: string;
  readonly operations: string;
}

async function started(context: TestContext, environment: Record<string, string>): Promise<Instance> {
  const child = run(notes.command, environment);
  context.after(() => child.kill('SIGKILL'));
  let said = '';
  const listening = new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (piece: Buffer) => {
      said += piece;
      const line = said.split('\n').find((one) => one.startsWith('{"event":"listening"') && one.endsWith('}'));
      if (line !== undefined) resolve(line);
    });
    child.once('exit', () => reject(new Error(`it did not start: ${said}`)));
  });
  return { child, ...(JSON.parse(await listening) as { url: string; operations: string }) };
}

/** Asks one that is ready, one after the other, as the balancer of the examples does. */
function balancer(instances: readonly Instance[]) {
  let last = 0;
  return async (path: string, init: RequestInit): Promise<Response> => {
    for (let tries = 0; tries < instances.length; tries++) {
      const { url, operations } = instances[last++ % instances.length] as Instance;
      const isReady = await fetch(`${operations}/readyz`, { headers: { host: 'notes' } }).then(
        ({ status }) => status === 200,
        () => false,
      );
      if (isReady) return fetch(`${url}${path}`, init);
    }
    throw new Error('none is ready');
  };
}

test('the steps of the compose file lead to three instances that are one service, of which each can be stopped', async (context) => {
  const database = await makeDatabase();
  const environment = environmentOf(database.address);
  try {
    const instances: Instance[] = [];
    for (let n = 0; n < notes.deploy.replicas; n++) instances.push(await started(context, environment));
    assert.equal(instances.length, 3);
    const [, step = ''] = /docker compose \S+ \S+ run --rm notes (.+)/.exec(text('compose.yaml')) ?? [];
    const adding = run(step.split(' '), environment);
    const [secret] = (await Array.fromAsync(adding.stdout ?? [])).join('').trim().split('\n');
    assert.match(secret ?? '', /^notes_/);
    const ask = balancer(instances);
    const headers = { 'x-key': String(secret), 'content-type': 'application/json', 'x-forwarded-for': '10.0.0.9' };
    const write = (content: string) => ask('/notes', { method: 'POST', headers, body: JSON.stringify({ text: content }) });
    for (const content of ['a', 'b', 'c']) assert.equal((await write(content)).status, 201);
    const { data } = (await (await ask('/notes', { headers })).json()) as { data: { text: string }[] };
    assert.deepEqual(
      data.map((one) => one.text),
      ['a', 'b', 'c'],
    );
    const [first] = instances as [Instance, ...Instance[]];
    const ledger = await fetch(`${first.operations}/ledger`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(ledger.status, 200);
    first.child.kill('SIGTERM');
    const ended = once(first.child, 'exit');
    while ((await fetch(`${first.operations}/readyz`)).status === 200) await delay(5);
    for (const content of ['d', 'e', 'f']) assert.equal((await write(content)).status, 201, 'nobody is sent to one that stops');
    assert.deepEqual((await ended)[0], 0);
    assert.equal((await write('g')).status, 201);
    for (const { child } of instances.slice(1)) {
      child.kill('SIGTERM');
      assert.equal((await once(child, 'exit'))[0], 0);
    }
  } finally {
    await database.drop();
  }
});

const haproxy = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  .map((path) => join(path, 'haproxy'))
  .find((path) => existsSync(path));

/** The configuration of the balancer, but for what is of containers alone: names that Docker resolves, and ports. */
function haproxyFor(instances: readonly Instance[], port: number): string {
  const servers = instances.map(({ url, operations }, at) => {
    const { host } = new URL(url);
    return `  server notes${at + 1} ${host} check port ${new URL(operations).port}`;
  });
  const changes: readonly [RegExp, string][] = [
    [/^resolvers docker\n(?: +.*\n)+/m, ''],
    [/ port 9100(.*) resolvers docker init-addr none$/m, '$1'],
    // It takes two descriptors for each, and not every machine lets a test have so many.
    [/^ +maxconn 10000$/m, '  maxconn 1000'],
    // A door on a loopback address is asked by no other name.
    [/ hdr Host notes$/m, ' hdr Host localhost'],
    [/bind :8080$/m, `bind 127.0.0.1:${port}`],
    [/^ +server-template notes 3 notes:8080$/m, servers.join('\n')],
  ];
  return changes.reduce((config, [from, to]) => {
    assert.match(config, from);
    return config.replace(from, to);
  }, text('haproxy.cfg'));
}

test('behind the balancer of the compose file nobody is refused while an instance is stopped', {
  // Where checks are made for everybody, what is not there fails.
  skip: haproxy === undefined && !process.env.CI && 'there is no haproxy (Debian: apt-get install haproxy)',
}, async (context) => {
  const database = await makeDatabase();
  const environment = { ...environmentOf(database.address), NINEFOLD_DRAIN_DELAY: notes.environment.NINEFOLD_DRAIN_DELAY ?? '' };
  try {
    const instances: Instance[] = [];
    for (let n = 0; n < notes.deploy.replicas; n++) instances.push(await started(context, environment));
    const adding = run(['keys', 'add', '/service/service.yaml', '--user', 'writer', '--id', 'w1'], environment);
    const [secret] = (await Array.fromAsync(adding.stdout ?? [])).join('').trim().split('\n');
    const port = await freePort();
    const config = join(folder, 'haproxy.cfg');
    writeFileSync(config, haproxyFor(instances, port));
    const balancer = spawn(String(haproxy), ['-db', '-f', config], { stdio: 'ignore' });
    context.after(() => balancer.kill('SIGKILL'));
    const statuses = new Map<number | string, number>();
    const headers = { 'x-key': String(secret), 'content-type': 'application/json' };
    const write = async () => {
      const body = JSON.stringify({ text: 'a' });
      const answer = await fetch(`http://127.0.0.1:${port}/notes`, { method: 'POST', headers, body });
      await answer.arrayBuffer();
      return answer.status;
    };
    const isUp = () =>
      write().then(
        (status) => status === 201,
        () => false,
      );
    for (const until = Date.now() + 60_000; !(await isUp()); await delay(20))
      assert.ok(Date.now() < until, 'the balancer finds nobody ready');
    const [first] = instances as [Instance, ...Instance[]];
    first.child.kill('SIGTERM');
    const ended = once(first.child, 'exit').then(([code]) => code);
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    for (let after = 0; after < 20; after += isOver ? 1 : 0) {
      const status = await write().catch(String);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      await delay(10);
    }
    assert.equal(await ended, 0);
    assert.deepEqual([...statuses.keys()], [201]);
  } finally {
    await database.drop();
  }
});
