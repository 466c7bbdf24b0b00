import assert from 'node:assert/strict';
import { type Input, OPAClient, type ToInput } from '@open-policy-agent/opa';
import { HTTPClient } from '@open-policy-agent/opa/lib/http.js';
import { OpaApiClient } from '@open-policy-agent/opa/sdk/index.js';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

type Row = Readonly<Record<string, unknown>>;

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Sending {
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The client asks for documents and decisions; policies and data are put by HTTP, as the guide does it with curl. */
interface Opa {
  readonly sdk: OPAClient;
  readonly low: OpaApiClient;
  /** The client's errors do not tell their status: it is told beside them. */
  told<T>(call: Promise<T>): Promise<T>;
  document(path: string): Promise<unknown>;
  send(method: string, path: string, what?: Sending): Promise<Answer>;
}

const connect = (place: Place, token: string | undefined): Opa => {
  let last: number | undefined;
  const httpClient = new HTTPClient();
  httpClient.addHook('beforeRequest', () => {
    last = undefined;
  });
  httpClient.addHook('response', (response) => {
    last = response.status;
  });
  const auth = token === undefined ? {} : { bearerAuth: token };
  const sdk = new OPAClient(place.url, { sdk: { httpClient, ...auth } });
  const told = async <T>(call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } catch (thrown) {
      if (last === undefined || last < 300 || !(thrown instanceof Error)) throw thrown;
      throw Object.assign(thrown, { status: last });
    }
  };
  return {
    sdk,
    low: new OpaApiClient({ serverURL: place.url, httpClient, ...auth }),
    told,
    document: (path) => told(sdk.evaluate<Input, unknown>(path)),
    send: async (method, path, { json, text, headers } = {}) => {
      const body = text ?? (json === undefined ? undefined : JSON.stringify(json));
      const response = await fetch(`${place.url}${path}`, {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': text === undefined ? 'application/json' : 'text/plain' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
      });
      const read = await response.text();
      if (!response.ok && response.status !== 304) {
        throw Object.assign(new Error(`${response.status} ${read}`), { status: response.status, body: read });
      }
      return { status: response.status, body: read === '' ? undefined : (JSON.parse(read) as unknown) };
    },
  };
};

const result = ({ body }: Answer): unknown => (body as { result?: unknown } | null | undefined)?.result;

/** What the answers to errors hold by the description. */
const wrong = (thrown: unknown): { code: string; message: string; errors?: readonly Row[] } => {
  const told = JSON.parse((thrown as { body: string }).body) as { code?: unknown; message?: unknown; errors?: readonly Row[] };
  assert.ok(typeof told.code === 'string' && told.code.length > 0, 'the error has no code');
  assert.ok(typeof told.message === 'string' && told.message.length > 0, 'the error has no message');
  return { code: told.code, message: told.message, ...(told.errors === undefined ? {} : { errors: told.errors }) };
};

const put = (o: Opa, id: string, text: string): Promise<Answer> => o.send('PUT', `/v1/policies/${id}`, { text });
const store = (o: Opa, path: string, json: unknown): Promise<Answer> => o.send('PUT', `/v1/data/${path}`, { json });
const patch = (o: Opa, path: string, json: readonly Row[]): Promise<Answer> => o.send('PATCH', `/v1/data/${path}`, { json });

/** One policy: the guide has it as the result, the description as the one row of the result. */
const policy = async (o: Opa, id: string): Promise<Row> =>
  given([result(await o.send('GET', `/v1/policies/${id}`)) as Row | readonly Row[]].flat()[0] as Row | undefined, 'policy');

const ids = async (o: Opa): Promise<string[]> =>
  (result(await o.send('GET', '/v1/policies')) as readonly Row[]).map(({ id }) => String(id));

const servers = [
  { id: 's1', name: 'app', protocols: ['https', 'ssh'], ports: ['p1', 'p2', 'p3'] },
  { id: 's2', name: 'db', protocols: ['mysql'], ports: ['p3'] },
  { id: 's3', name: 'cache', protocols: ['memcache'], ports: ['p3'] },
  { id: 's4', name: 'dev', protocols: ['http'], ports: ['p1', 'p2'] },
] as const;
const job = { id: 's5', name: 'job', protocols: ['amqp'], ports: ['p3'] };

const violations = `package opa.examples

import data.servers

violations[server] {
  server = servers[_]
  server.protocols[_] = "http"
}
`;
const insecure = `package opa.examples

import data.servers

violations[server] {
  server = servers[_]
  server.protocols[_] = "telnet"
}
`;
const authz = `package authz

default allow = false

allow {
  input.subject == "alice"
}

reader[name] {
  name := input.subject
}
`;
const roles = `package roles.access

default allow = false

allow {
  data.grants[input.user][_] == input.action
}
`;

/**
 * Guide: openpolicyagent.org, "REST API" ("Policy API", "Data API", "Query API", "Compile API", "Health API", "Config API");
 * the readme of `@open-policy-agent/opa`. Policies are in the language of the description's time, 0.28.
 */
export const vendor: Vendor<Opa> = {
  document: 'openpolicy/openpolicy.local.json',
  header: 'authorization',
  word: 'Bearer',
  made: 'made-up-token',
  client: connect,
  flows: {
    'a policy from its making to its end': (o) => ({
      create: async () => assert.equal((await put(o, 'example1', violations)).status, 200),
      read: async () => {
        const { id, raw } = await policy(o, 'example1');
        assert.deepEqual([id, raw], ['example1', violations]);
      },
      list: async () => once(await ids(o), ['example1'], 'policies'),
      'put it again': async () => assert.equal((await put(o, 'example1', insecure)).status, 200),
      'it is replaced': async () => assert.equal((await policy(o, 'example1')).raw, insecure),
      'it is listed once': async () => once(await ids(o), ['example1'], 'policies'),
      delete: async () => assert.equal((await o.send('DELETE', '/v1/policies/example1')).status, 200),
      gone: async () => refused(policy(o, 'example1'), 404),
      'gone from the list': async () => assert.ok(!(await ids(o)).includes('example1'), 'it is listed'),
    }),

    'several policies are listed': (o) => ({
      create: async () => {
        for (const name of ['one', 'two', 'three']) await put(o, name, `package flow.${name}\n\nallow = true\n`);
      },
      'list each once': async () => once(await ids(o), ['one', 'two', 'three'], 'policies'),
      'the list holds their text': async () => {
        const rows = result(await o.send('GET', '/v1/policies?pretty=true')) as readonly Row[];
        const two = given(
          rows.find(({ id }) => id === 'two'),
          'policy "two"',
        );
        assert.equal(two.raw, 'package flow.two\n\nallow = true\n');
      },
      'delete one': async () => o.send('DELETE', '/v1/policies/two'),
      'list the others': async () => {
        const left = await ids(o);
        once(left, ['one', 'three'], 'policies');
        assert.ok(!left.includes('two'), 'the deleted one is listed');
      },
      'its end twice': async () => refused(o.send('DELETE', '/v1/policies/two'), 404),
    }),

    'a document from its making to its end': (o) => ({
      create: async () => assert.equal((await store(o, 'users', { bob: { isAdmin: true } })).status, 204),
      read: async () => assert.deepEqual(await o.document('users'), { bob: { isAdmin: true } }),
      'read a part': async () => assert.deepEqual(await o.document('users/bob'), { isAdmin: true }),
      overwrite: async () => assert.equal((await store(o, 'users', { eve: { isAdmin: false } })).status, 204),
      'it is replaced': async () => assert.deepEqual(await o.document('users'), { eve: { isAdmin: false } }),
      delete: async () => assert.equal((await o.send('DELETE', '/v1/data/users')).status, 204),
      'it is undefined': async () => assert.equal(await o.document('users'), undefined),
      'its end twice': async () => refused(o.send('DELETE', '/v1/data/users'), 404),
    }),

    'what contains a document is made with it': (o) => ({
      create: async () => assert.equal((await store(o, 'us-west/servers', servers)).status, 204),
      'read what contains it': async () => assert.deepEqual(await o.document('us-west'), { servers }),
      'read it': async () => assert.deepEqual(await o.document('us-west/servers'), servers),
      'read one by its place': async () => assert.deepEqual(await o.document('us-west/servers/1'), servers[1]),
      'read a value of it': async () => assert.equal(await o.document('us-west/servers/1/name'), 'db'),
      'add another beside it': async () =>
        assert.equal((await store(o, 'us-west/networks', [{ id: 'n1', public: false }])).status, 204),
      'both are there': async () =>
        assert.deepEqual(await o.document('us-west'), { servers, networks: [{ id: 'n1', public: false }] }),
      'delete one': async () => assert.equal((await o.send('DELETE', '/v1/data/us-west/networks')).status, 204),
      'the other stays': async () => assert.deepEqual(await o.document('us-west'), { servers }),
    }),

    'a document is put where none is': (o) => {
      const careful = (json: unknown): Promise<Answer> =>
        o.send('PUT', '/v1/data/limits', { json, headers: { 'if-none-match': '*' } });
      return {
        'create it': async () => assert.equal((await careful({ rate: { most: 10 } })).status, 204),
        'not again': async () => assert.equal((await careful({ rate: { most: 99 } })).status, 304),
        'it is as it was': async () => assert.deepEqual(await o.document('limits'), { rate: { most: 10 } }),
        'without the condition': async () => assert.equal((await store(o, 'limits', { rate: { most: 99 } })).status, 204),
        'it is replaced': async () => assert.deepEqual(await o.document('limits'), { rate: { most: 99 } }),
      };
    },

    'a document is patched': (o) => ({
      create: async () => store(o, 'servers', servers),
      'add one to the list': async () =>
        assert.equal((await patch(o, 'servers', [{ op: 'add', path: '-', value: job }])).status, 204),
      'it is the last': async () => assert.deepEqual(await o.document('servers'), [...servers, job]),
      'replace one': async () =>
        assert.equal((await patch(o, 'servers', [{ op: 'replace', path: '/1', value: { ...job, id: 's2' } }])).status, 204),
      'it is another': async () => assert.deepEqual(await o.document('servers/1'), { ...job, id: 's2' }),
      'remove one': async () => assert.equal((await patch(o, 'servers', [{ op: 'remove', path: '/0' }])).status, 204),
      'the others are left': async () =>
        assert.deepEqual(
          ((await o.document('servers')) as readonly Row[]).map(({ id }) => id),
          ['s2', 's3', 's4', 's5'],
        ),
      'several operations': async () => {
        const done = await patch(o, 'servers', [
          { op: 'remove', path: '/3' },
          { op: 'add', path: '/0/owner', value: { team: 'core' } },
        ]);
        assert.equal(done.status, 204);
      },
      'all are done': async () => {
        const rows = (await o.document('servers')) as readonly Row[];
        assert.equal(rows.length, 3);
        assert.deepEqual(rows[0]?.owner, { team: 'core' });
      },
    }),

    'a patch that cannot be done': (o) => ({
      create: async () => store(o, 'plants', { elm: { height: 12 } }),
      'no such parent': async () => {
        const thrown = await refused(patch(o, 'plants', [{ op: 'add', path: '/oak/leaves/first', value: { size: 1 } }]), 404);
        wrong(thrown);
      },
      'nothing to remove': async () => refused(patch(o, 'plants', [{ op: 'remove', path: '/oak' }]), 404),
      'nothing to replace': async () => refused(patch(o, 'plants', [{ op: 'replace', path: '/oak', value: { height: 1 } }]), 404),
      'no such operation': async () => refused(patch(o, 'plants', [{ op: 'grow', path: '/elm', value: { height: 13 } }]), 400),
      'it is as it was': async () => assert.deepEqual(await o.document('plants'), { elm: { height: 12 } }),
    }),

    'what an answer tells beside the document': (o) => ({
      create: async () => store(o, 'servers', servers),
      metrics: async () => {
        const { successfulPolicyResponse: read } = await o.told(o.low.executePolicy({ path: 'servers', metrics: true }));
        const metrics = given(read?.metrics, 'metrics');
        for (const [name, value] of Object.entries(metrics)) assert.equal(typeof value, 'number', name);
      },
      provenance: async () => {
        const { successfulPolicyResponse: read } = await o.told(o.low.executePolicy({ path: 'servers', provenance: true }));
        assert.equal(typeof given(read?.provenance, 'provenance'), 'object');
      },
      'made to be read': async () => {
        const { successfulPolicyResponse: read } = await o.told(o.low.executePolicy({ path: 'servers', pretty: true }));
        assert.deepEqual(read?.result, servers);
      },
      'neither where none is asked for': async () => {
        const { successfulPolicyResponse: read } = await o.told(o.low.executePolicy({ path: 'servers' }));
        assert.deepEqual([read?.metrics, read?.provenance], [undefined, undefined]);
      },
      'with an input that it does not need': async () =>
        assert.deepEqual(await o.told(o.sdk.evaluate<Input, unknown>('servers', { example: { flag: true } })), servers),
    }),

    'a decision': (o) => {
      const allowed = (subject: string): Promise<boolean> =>
        o.told(o.sdk.evaluate<{ subject: string }, boolean>('authz/allow', { subject }));
      return {
        create: async () => put(o, 'authz', authz),
        'it allows one': async () => assert.equal(await allowed('alice'), true),
        'it denies another': async () => assert.equal(await allowed('bob'), false),
        'an object that is its own input': async () => {
          const alice: ToInput = { toInput: () => ({ subject: 'alice' }) };
          assert.equal(await o.told(o.sdk.evaluate<ToInput, boolean>('authz/allow', alice)), true);
        },
        'another form of the result': async () => {
          const word = await o.told(
            o.sdk.evaluate<{ subject: string }, string>(
              'authz',
              { subject: 'bob' },
              { fromResult: (all) => ((all as { allow?: unknown } | undefined)?.allow === true ? 'come in' : 'stay out') },
            ),
          );
          assert.equal(word, 'stay out');
        },
        'all of the package': async () =>
          assert.deepEqual(await o.told(o.sdk.evaluate<Input, unknown>('authz', { subject: 'eve' })), {
            allow: false,
            reader: ['eve'],
          }),
        'a rule that is not there': async () =>
          assert.equal(await o.told(o.sdk.evaluate<Input, unknown>('authz/no_such_rule', { subject: 'eve' })), undefined),
        'without the policy': async () => {
          await o.send('DELETE', '/v1/policies/authz');
          assert.equal(await allowed('alice'), undefined);
        },
      };
    },

    'decisions by what is stored': (o) => {
      const allowed = (user: string, action: string): Promise<boolean> =>
        o.told(o.sdk.evaluate<Record<string, string>, boolean>('roles/access/allow', { user, action }));
      return {
        'store who may do what': async () => store(o, 'grants', { ann: ['read', 'write'], ben: ['read'] }),
        'put the policy': async () => put(o, 'roles', roles),
        'one may write': async () => assert.equal(await allowed('ann', 'write'), true),
        'another may not': async () => assert.equal(await allowed('ben', 'write'), false),
        'several at once': async () => {
          const inputs = { ann: { user: 'ann', action: 'read' }, ben: { user: 'ben', action: 'write' } };
          const answers = await o.told(
            o.sdk.evaluateBatch<Record<string, string>, boolean>('roles/access/allow', inputs, { fallback: true }),
          );
          assert.deepEqual(answers, { ann: true, ben: false });
        },
        'store something else': async () => store(o, 'grants/ben', ['read', 'write']),
        'now it may': async () => assert.equal(await allowed('ben', 'write'), true),
      };
    },

    'the decision without a path': (o) => ({
      'there is none': async () => {
        await refused(o.told(o.sdk.evaluateDefault<Input, unknown>({ user: 'alice' })), 404);
      },
      'put the policy of the system': async () =>
        put(o, 'main', 'package system\n\nmain = msg {\n  msg := sprintf("hello, %v", [input.user])\n}\n'),
      'it answers': async () =>
        assert.equal(await o.told(o.sdk.evaluateDefault<Input, unknown>({ user: 'alice' })), 'hello, alice'),
      'it answers by HTTP': async () => assert.equal((await o.send('POST', '/', { json: { user: 'bob' } })).body, 'hello, bob'),
      'delete the policy': async () => o.send('DELETE', '/v1/policies/main'),
      'there is none again': async () => refused(o.send('POST', '/', { json: { user: 'alice' } }), 404),
    }),

    'a document for a webhook': (o) => {
      const hook = (path: string): Promise<Answer> => o.send('POST', `/v0/data/${path}`, { json: { example: { flag: true } } });
      return {
        'there is none': async () => refused(hook('hooked'), 404),
        create: async () => store(o, 'hooked', { limit: { most: 3 } }),
        // The guide has the document itself, the description the document as a result.
        read: async () => {
          const answer = await hook('hooked');
          assert.equal(answer.status, 200);
          assert.deepEqual(result(answer) ?? answer.body, { limit: { most: 3 } });
        },
        delete: async () => o.send('DELETE', '/v1/data/hooked'),
        gone: async () => refused(hook('hooked'), 404),
      };
    },

    queries: (o) => {
      const query = 'data.servers[i].ports[_] = "p2"; data.servers[i].name = name';
      const found = (answer: Answer): string[] => [
        ...new Set((result(answer) as readonly Row[]).map(({ name }) => String(name))),
      ];
      return {
        create: async () => store(o, 'servers', servers),
        'a simple one': async () =>
          assert.deepEqual(found(await o.send('GET', `/v1/query?q=${encodeURIComponent(query)}`)).sort(), ['app', 'dev']),
        'the same in a body': async () =>
          assert.deepEqual(found(await o.send('POST', '/v1/query', { json: { query } })).sort(), ['app', 'dev']),
        'with its metrics': async () => {
          const { body } = await o.send('POST', '/v1/query?metrics=true', { json: { query } });
          assert.equal(typeof given((body as { metrics?: unknown }).metrics, 'metrics'), 'object');
        },
        'one that cannot be read': async () => {
          wrong(await refused(o.send('GET', `/v1/query?q=${encodeURIComponent('data.servers[i')}`), 400));
        },
        'none at all': async () => refused(o.send('GET', '/v1/query'), 400),
      };
    },

    'a query that is evaluated in part': (o) => {
      const example = 'package example\n\nallow {\n  input.subject.clearance_level >= data.reports[_].clearance_level\n}\n';
      const ask = { query: 'data.example.allow == true', unknowns: ['data.reports'] };
      return {
        'put the policy': async () => put(o, 'example', example),
        'what is left of it': async () => {
          const left = await o.send('POST', '/v1/compile', { json: { ...ask, input: { subject: { clearance_level: 4 } } } });
          const { queries } = given(result(left) as { queries?: readonly unknown[] } | undefined, 'result');
          assert.ok(given(queries, 'queries').length > 0, 'nothing is left');
        },
        'never true': async () => {
          const left = await o.send('POST', '/v1/compile', { json: { ...ask, query: 'data.example.allow == "never"; 1 == 2' } });
          assert.deepEqual((result(left) as { queries?: readonly unknown[] } | undefined)?.queries ?? [], []);
        },
        'no query': async () => refused(o.send('POST', '/v1/compile', { json: { unknowns: ['data.reports'] } }), 400),
      };
    },

    'the state of the service': (o, _s, _another, place) => ({
      health: async () => assert.ok(given((await o.told(o.low.health())).healthyServer, 'health')),
      'health with bundles and plugins': async () =>
        assert.equal((await o.send('GET', '/health?bundles=true&plugins=true')).status, 200),
      configuration: async () => {
        const config = result(await o.send('GET', '/v1/config?pretty=true'));
        assert.ok(typeof config === 'object' && config !== null && !Array.isArray(config), 'the configuration is no object');
      },
      'no credential is asked for': async () => {
        const open = connect(place, undefined);
        assert.equal((await store(open, 'open', { door: { ajar: true } })).status, 204);
        assert.deepEqual(await open.document('open'), { door: { ajar: true } });
      },
    }),

    'requests that are wrong': (o, _s, _another, place) => ({
      'a policy that is none': async () => {
        const { errors } = wrong(await refused(put(o, 'bad', 'package flow.bad\n\nallow {{{\n'), 400));
        for (const { code, message } of errors ?? []) assert.deepEqual([typeof code, typeof message], ['string', 'string']);
      },
      'it is not there': async () => {
        await refused(policy(o, 'bad'), 404);
        assert.ok(!(await ids(o)).includes('bad'), 'it is listed');
      },
      'a policy that nobody put': async () => {
        wrong(await refused(policy(o, 'no-such-policy'), 404));
      },
      'its end': async () => {
        wrong(await refused(o.send('DELETE', '/v1/policies/no-such-policy'), 404));
      },
      'a document that is no JSON': async () => {
        const headers = { 'content-type': 'application/json' };
        wrong(await refused(o.send('PUT', '/v1/data/broken', { text: '{"half":', headers }), 400));
      },
      'it was not stored': async () => assert.equal(await connect(place, undefined).document('broken'), undefined),
    }),
  },
};
