import { builtinModules } from 'node:module';

/** What a room may do to the world outside its arguments. */
export type Power = 'machine' | 'network' | 'driver' | 'streams' | 'clock';

export interface Room {
  /** The rooms below that it may import, its own aside. */
  readonly below: readonly string[];
  readonly powers: readonly Power[];
}

const ground = ['parts', 'kinds', 'document'];
const pureVerb: Room = { below: ground, powers: [] };

/** Every room under `src`, by folder; `index` and `cli` are also files. A new verb begins with a row here. */
export const rooms: Readonly<Record<string, Room>> = {
  document: { below: [], powers: [] },
  kinds: { below: ['document'], powers: [] },
  parts: { below: ['kinds', 'document'], powers: [] },
  store: { below: [], powers: ['driver'] },
  check: pureVerb,
  convert: pureVerb,
  diff: pureVerb,
  serve: { below: [...ground, 'store'], powers: ['network', 'streams'] },
  verify: { below: ground, powers: ['network', 'streams', 'clock'] },
  // The one verb over another: a service in a unit test is `serve` with its clock and store held in the test's hand.
  kit: { below: [...ground, 'store', 'serve'], powers: ['streams'] },
  index: { below: [...ground, 'check', 'convert', 'diff', 'serve', 'verify', 'kit'], powers: [] },
  cli: {
    below: [...ground, 'check', 'convert', 'diff', 'serve', 'verify', 'kit', 'index'],
    powers: ['machine', 'streams', 'clock'],
  },
};

/**
 * The folders of a room from its top floor to its ground: a file imports from its own folder and from those that stand after it.
 * The room's own folder, with the files that lie directly in it, is one of them.
 */
export const floors: Readonly<Record<string, readonly string[]>> = {
  'src/document': ['src/document/read', 'src/document/markdown', 'src/document/foreign', 'src/document/yaml', 'src/document'],
  'src/parts': [
    'src/parts/forms',
    'src/parts/uses',
    'src/parts/facts',
    'src/parts/versions',
    'src/parts/samples',
    'src/parts/derived',
    'src/parts/expressions',
    'src/parts',
    'src/parts/shapes',
    'src/parts/patterns',
  ],
  'src/check': [
    'src/check',
    'src/check/security',
    'src/check/versioning',
    'src/check/authentication',
    'src/check/endpoints',
    'src/check/events',
    'src/check/states',
    'src/check/resources',
    'src/check/shapes',
    'src/check/subject',
  ],
  'src/convert': [
    'src/convert',
    'src/convert/asyncapi/read',
    'src/convert/json-schema/read',
    'src/convert/openapi',
    'src/convert/openapi/infer',
    'src/convert/openapi/read',
    'src/convert/asyncapi/write',
    'src/convert/openapi/write',
    'src/convert/openapi/own',
    'src/convert/json-schema/write',
    'src/convert/nine-parts',
    'src/convert/typescript',
    'src/convert/spec',
  ],
  'src/serve': [
    'src/serve/service',
    'src/serve/service/admin',
    'src/serve/scenarios',
    'src/serve/service/stored',
    'src/serve/operations',
    'src/serve/events',
    'src/serve/resources/stand-in',
    'src/serve/following',
    'src/serve',
    'src/serve/resources/lists',
    'src/serve/resources',
    'src/serve/limits',
    'src/serve/callers',
    'src/serve/exchange',
    'src/serve/http',
  ],
  'src/store': ['src/store/redis', 'src/store/sqlite', 'src/store/postgres', 'src/store'],
  'src/cli': ['src/cli/verbs', 'src/cli/verify', 'src/cli/serve', 'src/cli'],
  'src/verify': [
    'src/verify',
    'src/verify/evidence',
    'src/verify/trials/purpose',
    'src/verify/trials/errors',
    'src/verify/trials/versioning',
    'src/verify/trials/states',
    'src/verify/trials/authentication',
    'src/verify/trials/resources',
    'src/verify/trials/endpoints',
    'src/verify/trials/limits',
    'src/verify/trials/events',
    'src/verify/make',
    'src/verify/session',
    'src/verify/model',
    'src/verify/values',
    'src/verify/exchange',
  ],
};

/** Single files that may do more than their room. */
export const filePowers: Readonly<Record<string, readonly Power[]>> = {
  'src/document/read/read.ts': ['machine', 'streams'],
  'src/serve/http/clock.ts': ['clock'],
  // Makes the files of a store for their owner alone, puts whole ones in their place, and flushes its log beside the event loop, which the driver cannot.
  'src/store/sqlite/files.ts': ['machine'],
  // Nothing but `node:http`, loaded without what an import of it brings along.
  'src/serve/http/node-http.ts': ['machine'],
};

export const powerRemedies: Readonly<Record<Power, string>> = {
  machine: 'files, the terminal and the process belong to cli.ts, cli/ and document/read/read.ts: take the value as an argument',
  network: 'only serve/ (and verify/) opens sockets: return a plain value and let them send it',
  driver: 'only store/ knows a database driver: ask through src/store/store.ts',
  streams: 'only serve/, verify/ and cli/ move bytes: take a whole value as an argument',
  clock: 'take the time or the chance as an argument; serve/ gets both from serve/http/clock.ts',
};

export function roomOf(path: string): string | undefined {
  return /^src\/([^/]+?)(?:\.ts$|\/)/.exec(path)?.[1];
}

export function powersOf(path: string): readonly Power[] {
  return [...(rooms[roomOf(path) ?? '']?.powers ?? []), ...(filePowers[path] ?? [])];
}

const builtinPowers: Readonly<Record<string, Power>> = {
  ...named('network', ['http', 'https', 'http2', 'net', 'tls', 'dgram', 'dns']),
  ...named('driver', ['sqlite']),
  ...named('streams', ['stream', 'zlib', 'events', 'async_hooks', 'diagnostics_channel']),
  ...named('clock', ['timers', 'perf_hooks']),
};
const packagePowers: Readonly<Record<string, Power>> = {
  ...named('network', ['undici', 'ws', 'fastify', 'hono', '@nats-io/transport-node', '@nats-io/jetstream']),
  ...named('driver', ['pg', 'postgres', 'better-sqlite3', '@redis/client']),
};
// These compute and touch nothing. A built-in module that no list names, such as node:fs, reaches the machine.
const harmless = ['assert', 'buffer', 'crypto', 'path', 'querystring', 'string_decoder', 'url', 'util'];

/** What importing a module gives, or nothing for one that only computes. */
export function powerOf(specifier: string): Power | undefined {
  const builtin = specifier.startsWith('node:') || builtinModules.includes(specifier);
  if (!builtin) return packagePowers[packageOf(specifier)];
  const module = specifier.replace(/^node:/, '').replace(/\/.*$/, '');
  return harmless.includes(module) ? undefined : (builtinPowers[module] ?? 'machine');
}

export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function named(power: Power, modules: readonly string[]): Record<string, Power> {
  return Object.fromEntries(modules.map((module) => [module, power]));
}
