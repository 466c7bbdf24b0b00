import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from '../src/check/check.ts';
import { fromForeign } from '../src/convert/foreign.ts';
import { writeYaml } from '../src/convert/nine-parts/yaml.ts';
import { toOpenApi } from '../src/convert/openapi.ts';
import type { Document, JsonMap } from '../src/document/document.ts';
import { parseDocument } from '../src/document/read/parse.ts';
import { isKey } from '../src/parts/form.ts';
import type { Spec } from '../src/parts/spec.ts';
import { serveSpec } from '../src/serve/service/serve-spec.ts';

const read = (value: unknown, file = 'api.json'): Document =>
  parseDocument(typeof value === 'string' ? value : JSON.stringify(value), file, { isKey, foreign: fromForeign });

const ok = { responses: { 200: { description: 'ok', content: { 'application/json': { schema: { type: 'object' } } } } } };

/** A source with an operation for each requirement. */
function source(requirements: Readonly<Record<string, unknown>>, securitySchemes: unknown, whole?: unknown): unknown {
  const paths = Object.fromEntries(
    Object.entries(requirements).map(([name, security]) => [
      `/${name}`,
      { get: { operationId: name, ...ok, ...(security !== undefined && { security }) } },
    ]),
  );
  const info = { title: 'S', version: '1' };
  return { openapi: '3.1.0', info, ...(whole !== undefined && { security: whole }), paths, components: { securitySchemes } };
}

const schemes = {
  app: { type: 'apiKey', in: 'header', name: 'X-App' },
  user: { type: 'http', scheme: 'basic' },
  token: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://id.example/t', scopes: { read: 'Reads.' } } } },
  provider: { type: 'openIdConnect', openIdConnectUrl: 'https://id.example/.well-known/openid-configuration' },
  digest: { type: 'http', scheme: 'digest' },
  certificate: { type: 'mutualTLS' },
};

/** What is answered to whoever shows some of the credentials that the service made, by the names of their schemes. */
async function answers(spec: Spec, path: string, sets: readonly string[], relax?: 'auth'): Promise<Record<string, number>> {
  const service = await serveSpec(spec, { sample: true, development: true, ...(relax && { relax }) });
  try {
    const told: Record<string, number> = {};
    for (const set of sets) {
      const headers = new Headers();
      for (const name of set.split(' ')) {
        const credential = service.credentials.find(({ scheme }) => scheme === name);
        if (credential) headers.set(credential.name, credential.value);
      }
      const answer = await service.fetch(new Request(`http://127.0.0.1${path}`, { headers }));
      told[set] = answer.status;
      await answer.body?.cancel();
    }
    return told;
  } finally {
    await service.close();
  }
}

test('an operation has the security that its source states for it, in the document, on the wire and given back', async () => {
  const stated = {
    one: [{ app: [] }],
    both: [{ app: [], user: [] }],
    either: [{ app: [], user: [] }, { token: [] }],
    none: [],
    inherited: undefined,
  };
  const { app, user, token } = schemes;
  const { spec, sound } = check(read(source(stated, { app, user, token }, [{ user: [] }])));
  assert.ok(sound);
  const endpoints = spec.document.tree.endpoints as Record<string, JsonMap>;
  assert.deepEqual(
    Object.values(endpoints).map(({ accept }) => accept),
    [['app'], [['app', 'user']], [['app', 'user'], 'token'], undefined, undefined],
  );
  const sets = ['', 'app', 'user', 'token', 'app user'];
  const of = async (path: string) => Object.values(await answers(spec, path, sets));
  assert.deepEqual(await of('/one'), [401, 200, 401, 401, 200]);
  assert.deepEqual(await of('/both'), [401, 401, 401, 401, 200]);
  assert.deepEqual(await of('/either'), [401, 401, 401, 200, 200]);
  assert.deepEqual(await of('/none'), [200, 200, 200, 200, 200]);
  assert.deepEqual(await of('/inherited'), [401, 401, 200, 401, 200]);
  // With any credential taken, one of both is enough that is enough elsewhere; the token is none of them.
  assert.deepEqual(Object.values(await answers(spec, '/both', sets, 'auth')), [401, 200, 200, 401, 200]);
  const paths = toOpenApi(spec).paths as Record<string, { get: { security?: unknown } }>;
  const given = Object.values(paths).map(({ get }) => get.security);
  assert.deepEqual(given, [[{ app: [] }], [{ app: [], user: [] }], [{ app: [], user: [] }, { token: [] }], [], undefined]);
});

test('what is accepted at an endpoint reads back from YAML and from an export of our own', () => {
  const { app, user } = schemes;
  const { spec } = check(read(source({ both: [{ app: [], user: [] }], one: [{ app: [] }] }, { app, user })));
  const { endpoints, authentication } = spec.document.tree;
  for (const again of [read(writeYaml(spec.document), 'api.yaml'), read(toOpenApi(spec))]) {
    assert.equal(JSON.stringify(again.tree.authentication), JSON.stringify(authentication));
    const accepted = (all: unknown) => Object.values(all as Record<string, JsonMap>).map(({ accept }) => accept);
    assert.deepEqual(accepted(again.tree.endpoints), accepted(endpoints));
  }
});

test('a scheme that there are no means for lets nobody in, and is refused by its name', async () => {
  const { app, digest, certificate } = schemes;
  const stated = { digest: [{ digest: [] }], certificate: [{ certificate: [] }], nowhere: [{ nowhere: [] }] };
  const { spec, findings } = check(read(source({ ...stated, mixed: [{ app: [], digest: [] }] }, { app, digest, certificate })));
  assert.deepEqual(
    findings.map(({ code, severity }) => `${severity} ${code}`),
    ['warning import/ref-unresolved'],
  );
  for (const [path, status] of [
    ['/digest', 501],
    ['/certificate', 501],
    ['/nowhere', 501],
    ['/mixed', 501],
  ] as const) {
    assert.deepEqual(await answers(spec, path, ['', 'app']), { '': status, app: status }, path);
  }
  const given = toOpenApi(spec).components as { readonly securitySchemes: Record<string, JsonMap> };
  assert.equal(given.securitySchemes.digest?.scheme, 'digest');
  assert.equal(given.securitySchemes.certificate?.type, 'mutualTLS');
});

test('where the only scheme is unknown or described nowhere, nobody is let in', async () => {
  for (const described of [{ only: { type: 'http', scheme: 'hoba' } }, { only: { type: 'apiKey' } }, {}]) {
    const { spec } = check(read(source({ secret: undefined }, described, [{ only: [] }])));
    const told = await answers(spec, '/secret', ['']);
    assert.ok(told[''] === 501 || told[''] === 401, JSON.stringify(told));
  }
});

test('a stand-in makes a credential of every scheme that it has means for, and each is good', async () => {
  const { app, user, token, provider } = schemes;
  const each = { app: [{ app: [] }], user: [{ user: [] }], token: [{ token: [] }], provider: [{ provider: [] }] };
  const { spec } = check(read(source(each, { app, user, token, provider })));
  for (const name of Object.keys(each)) assert.deepEqual(await answers(spec, `/${name}`, [name]), { [name]: 200 });
});

test('a name that no scheme has is found where it stands, also inside a list', () => {
  const text = [
    'authentication: { schemes: { app: { type: api_key, header: X-App } }, accept: [[app, usr]] }',
    'endpoints: { GET /a: { accept: ap } }',
  ].join('\n');
  const found = check(read(text, 'api.yaml')).findings.filter(({ code }) => code === 'authentication/unknown-scheme');
  assert.deepEqual(
    found.map(({ at }) => at),
    ['/authentication/accept/0/1', '/endpoints/GET ~1a/accept'],
  );
});
