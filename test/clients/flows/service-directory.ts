import assert from 'node:assert/strict';
import {
  type servicedirectory_v1beta1 as api,
  auth,
  servicedirectory,
} from 'googleapis/build/src/apis/servicedirectory/index.js';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

/** `rootUrl` is the client's own option; without `retry: false` it asks a second time after answers of 5xx. */
const connect = (place: Place, token: string) => {
  const caller = new auth.OAuth2();
  caller.setCredentials({ access_token: token });
  const directory = servicedirectory({ version: 'v1beta1', auth: caller, rootUrl: `${place.url}/`, retry: false });
  const { locations } = directory.projects;
  const { namespaces } = locations;
  return { locations, namespaces, services: namespaces.services, endpoints: namespaces.services.endpoints };
};
type Directory = ReturnType<typeof connect>;

/** A project and the place of its data: both are there before, no operation makes them. */
const project = 'projects/my-project';
const parent = `${project}/locations/us-central1`;
const elsewhere = `${project}/locations/europe-west1`;

const data = async <T>(answer: Promise<{ readonly status: number; readonly data: T }>): Promise<T> => {
  const { status, data: body } = await answer;
  assert.equal(status, 200);
  return body;
};
const names = (rows: readonly { readonly name?: string | null }[] | null | undefined): string[] =>
  (rows ?? []).map(({ name }) => given(name, 'name'));

const namespace = async (d: Directory, namespaceId: string, requestBody: api.Schema$Namespace = {}): Promise<string> =>
  given((await data(d.namespaces.create({ parent, namespaceId, requestBody }))).name, 'name');
const service = async (d: Directory, within: string, serviceId: string, metadata?: Record<string, string>): Promise<string> =>
  given((await data(d.services.create({ parent: within, serviceId, requestBody: { metadata } }))).name, 'name');
const endpoint = async (d: Directory, of: string, endpointId: string, requestBody: api.Schema$Endpoint): Promise<string> =>
  given((await data(d.endpoints.create({ parent: of, endpointId, requestBody }))).name, 'name');

/** A namespace with one service in it. */
const ready = async (d: Directory, s: State, id: string): Promise<void> => {
  s.namespace = await namespace(d, id);
  s.service = await service(d, s.namespace, 'checkout');
};
const found = async (d: Directory, s: State, filter: string): Promise<string[]> =>
  names((await data(d.endpoints.list({ parent: s.service, filter }))).endpoints).sort();
const three = async (d: Directory, s: State): Promise<void> => {
  s.a = await endpoint(d, s.service, 'a', { address: '192.0.2.1', port: 8080, metadata: { protocol: 'gRPC', owner: 'sd' } });
  s.b = await endpoint(d, s.service, 'b', { address: '192.0.2.2', port: 9090, metadata: { protocol: 'http', owner: 'ops' } });
  s.c = await endpoint(d, s.service, 'c', { address: '192.0.2.3', port: 80, metadata: { protocol: 'gRPC' } });
};

/** Guide: cloud.google.com/service-directory/docs (configuring, querying, IAM) and its REST reference v1beta1; google.aip.dev 132 to 135, 158, 160. */
export const vendor: Vendor<Directory> = {
  document: 'service-directory/servicedirectory.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ya29.a0AfH6SMBninefoldFlows-made-up',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a namespace, from the first to the last day': (d, s) => ({
      made: async () => {
        const made = await data(d.namespaces.create({ parent, namespaceId: 'shop', requestBody: { labels: { owner: 'sd' } } }));
        assert.equal(made.name, `${parent}/namespaces/shop`);
        assert.deepEqual(made.labels, { owner: 'sd' });
        s.name = made.name;
      },
      read: async () => {
        const read = await data(d.namespaces.get({ name: s.name }));
        assert.deepEqual([read.name, read.labels], [s.name, { owner: 'sd' }]);
      },
      'is in the list': async () => once(names((await data(d.namespaces.list({ parent }))).namespaces), [s.name], 'namespaces'),
      'other labels': async () => {
        const asked = { name: s.name, updateMask: 'labels', requestBody: { labels: { owner: 'ops', tier: 'gold' } } };
        assert.deepEqual((await data(d.namespaces.patch(asked))).labels, { owner: 'ops', tier: 'gold' });
      },
      'it stays changed': async () => {
        const read = await data(d.namespaces.get({ name: s.name }));
        assert.deepEqual([read.name, read.labels], [s.name, { owner: 'ops', tier: 'gold' }]);
      },
      deleted: async () => assert.deepEqual(await data(d.namespaces.delete({ name: s.name })), {}),
      gone: () => refused(d.namespaces.get({ name: s.name }), 404),
      'no longer in the list': async () =>
        assert.ok(!names((await data(d.namespaces.list({ parent }))).namespaces).includes(s.name), 'it is'),
    }),

    'a service, from the first to the last day': (d, s) => ({
      'a namespace for it': async () => {
        s.namespace = await namespace(d, 'payments');
      },
      made: async () => {
        const requestBody = { metadata: { protocol: 'gRPC', 'example.com/owner': 'sd' } };
        const made = await data(d.services.create({ parent: s.namespace, serviceId: 'ledger', requestBody }));
        assert.equal(made.name, `${s.namespace}/services/ledger`);
        assert.deepEqual(made.metadata, requestBody.metadata);
        s.name = made.name;
      },
      read: async () => {
        const read = await data(d.services.get({ name: s.name }));
        assert.deepEqual([read.name, read.metadata], [s.name, { protocol: 'gRPC', 'example.com/owner': 'sd' }]);
      },
      'other metadata': async () => {
        const asked = { name: s.name, updateMask: 'metadata', requestBody: { metadata: { protocol: 'http' } } };
        assert.deepEqual((await data(d.services.patch(asked))).metadata, { protocol: 'http' });
      },
      'is in the list as changed': async () => {
        const rows = (await data(d.services.list({ parent: s.namespace }))).services ?? [];
        assert.deepEqual(
          rows.map(({ name, metadata }) => [name, metadata]),
          [[s.name, { protocol: 'http' }]],
        );
      },
      deleted: async () => assert.deepEqual(await data(d.services.delete({ name: s.name })), {}),
      gone: () => refused(d.services.get({ name: s.name }), 404),
      'the list is empty': async () =>
        assert.deepEqual(names((await data(d.services.list({ parent: s.namespace }))).services), []),
    }),

    'an endpoint, from the first to the last day': (d, s) => ({
      'a service for it': () => ready(d, s, 'front'),
      made: async () => {
        const requestBody = { address: '192.0.2.10', port: 8443, metadata: { zone: 'b' } };
        const made = await data(d.endpoints.create({ parent: s.service, endpointId: 'one', requestBody }));
        assert.equal(made.name, `${s.service}/endpoints/one`);
        assert.partialDeepStrictEqual(made, requestBody);
        s.name = made.name;
      },
      read: async () => {
        const read = await data(d.endpoints.get({ name: s.name }));
        assert.deepEqual([read.name, read.address, read.port, read.metadata], [s.name, '192.0.2.10', 8443, { zone: 'b' }]);
      },
      'another address and port': async () => {
        const requestBody = { address: '2001:db8::1', port: 9443 };
        const changed = await data(d.endpoints.patch({ name: s.name, updateMask: 'address,port', requestBody }));
        assert.partialDeepStrictEqual(changed, { ...requestBody, name: s.name });
      },
      'the rest stays': async () => {
        const read = await data(d.endpoints.get({ name: s.name }));
        assert.deepEqual([read.address, read.port, read.metadata], ['2001:db8::1', 9443, { zone: 'b' }]);
      },
      deleted: async () => assert.deepEqual(await data(d.endpoints.delete({ name: s.name })), {}),
      gone: () => refused(d.endpoints.get({ name: s.name }), 404),
      'cannot be deleted again': () => refused(d.endpoints.delete({ name: s.name }), 404),
    }),

    'only what the mask names is changed': (d, s) => ({
      'a service': () => ready(d, s, 'masks'),
      'an endpoint': async () => {
        s.name = await endpoint(d, s.service, 'one', { address: '192.0.2.20', port: 80, metadata: { zone: 'a' } });
      },
      'two fields sent, one of them named': async () => {
        const requestBody = { port: 81, address: '192.0.2.99' };
        const changed = await data(d.endpoints.patch({ name: s.name, updateMask: 'port', requestBody }));
        assert.deepEqual([changed.port, changed.address], [81, '192.0.2.20']);
      },
      'read back': async () => {
        const read = await data(d.endpoints.get({ name: s.name }));
        assert.deepEqual([read.port, read.address, read.metadata], [81, '192.0.2.20', { zone: 'a' }]);
      },
      'a named field that is not sent is cleared': async () => {
        const changed = await data(d.endpoints.patch({ name: s.name, updateMask: 'metadata', requestBody: {} }));
        assert.deepEqual([changed.metadata ?? {}, changed.port], [{}, 81]);
      },
      'it stays cleared': async () => {
        const read = await data(d.endpoints.get({ name: s.name }));
        assert.deepEqual([read.metadata ?? {}, read.port], [{}, 81]);
      },
    }),

    'namespaces page by page': (d, s) => ({
      'five of them': async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`n${n}`] = await namespace(d, `page-${n}`);
      },
      'no page is longer than asked for': async () => {
        const page = await data(d.namespaces.list({ parent, pageSize: 2 }));
        assert.equal(names(page.namespaces).length, 2);
        assert.ok(page.nextPageToken, 'there is no next page');
      },
      'all of them are there, each once': async () => {
        const all = await pages(
          (pageToken) => data(d.namespaces.list({ parent, pageSize: 2, pageToken })),
          (page) => names(page.namespaces),
          (page) => page.nextPageToken || undefined,
        );
        once(all, [s.n1, s.n2, s.n3, s.n4, s.n5], 'namespaces');
      },
    }),

    'endpoints page by page, in order': (d, s) => ({
      'a service': () => ready(d, s, 'order'),
      'three endpoints': () => three(d, s),
      'by name, without being asked': async () =>
        assert.deepEqual(names((await data(d.endpoints.list({ parent: s.service }))).endpoints), [s.a, s.b, s.c]),
      'by port, the highest first': async () =>
        assert.deepEqual(names((await data(d.endpoints.list({ parent: s.service, orderBy: 'port desc' }))).endpoints), [
          s.b,
          s.a,
          s.c,
        ]),
      'one on each page': async () => {
        const sizes: number[] = [];
        const all = await pages(
          (pageToken) => data(d.endpoints.list({ parent: s.service, pageSize: 1, orderBy: 'address', pageToken })),
          (page) => {
            const rows = names(page.endpoints);
            sizes.push(rows.length);
            return rows;
          },
          (page) => page.nextPageToken || undefined,
        );
        assert.deepEqual(all, [s.a, s.b, s.c]);
        assert.ok(Math.max(...sizes) === 1, `pages of ${sizes}`);
      },
    }),

    'endpoints found by their fields': (d, s) => ({
      'a service': () => ready(d, s, 'filters'),
      'three endpoints': () => three(d, s),
      'with an address': async () => assert.deepEqual(await found(d, s, 'address=192.0.2.2'), [s.b]),
      'above a port': async () => assert.deepEqual(await found(d, s, 'port>8000'), [s.a, s.b]),
      'with a key and its value': async () => assert.deepEqual(await found(d, s, 'metadata.protocol=gRPC'), [s.a, s.c]),
      'with a key': async () => assert.deepEqual(await found(d, s, 'metadata.owner'), [s.a, s.b]),
      'of both': async () => assert.deepEqual(await found(d, s, 'metadata.owner!=sd AND metadata.protocol=http'), [s.b]),
      'by a field that no endpoint has': async () => assert.deepEqual(await found(d, s, 'doesnotexist.foo=bar'), []),
    }),

    'namespaces and services found by their words': (d, s) => ({
      'two namespaces': async () => {
        s.one = await namespace(d, 'words-one', { labels: { team: 'words', stage: 'prod' } });
        s.two = await namespace(d, 'words-two', { labels: { team: 'words', stage: 'test' } });
      },
      'by a label': async () => {
        const { namespaces } = await data(d.namespaces.list({ parent, filter: 'labels.team=words AND labels.stage=test' }));
        assert.deepEqual(names(namespaces), [s.two]);
      },
      'two services': async () => {
        s.slow = await service(d, s.one, 'slow', { speed: 'low' });
        s.fast = await service(d, s.one, 'fast', { speed: 'high' });
      },
      'by their metadata': async () => {
        const { services } = await data(d.services.list({ parent: s.one, filter: 'metadata.speed=high' }));
        assert.deepEqual(names(services), [s.fast]);
      },
      'by a name': async () => {
        const { services } = await data(d.services.list({ parent: s.one, filter: `name>${s.fast}` }));
        assert.deepEqual(names(services), [s.slow]);
      },
      'none in the other namespace': async () =>
        assert.deepEqual(names((await data(d.services.list({ parent: s.two }))).services), []),
    }),

    'a service is resolved': (d, s) => ({
      'a service': async () => {
        s.namespace = await namespace(d, 'look-ups');
        s.service = await service(d, s.namespace, 'checkout', { protocol: 'mixed' });
      },
      'three endpoints': () => three(d, s),
      'with all of them': async () => {
        const { service: told } = await data(d.services.resolve({ name: s.service, requestBody: {} }));
        assert.deepEqual([told?.name, told?.metadata], [s.service, { protocol: 'mixed' }]);
        assert.deepEqual(names(told?.endpoints).sort(), [s.a, s.b, s.c]);
      },
      'with two at most': async () => {
        const { service: told } = await data(d.services.resolve({ name: s.service, requestBody: { maxEndpoints: 2 } }));
        assert.equal(names(told?.endpoints).length, 2);
      },
      'with those that a filter leaves': async () => {
        const requestBody = { endpointFilter: 'metadata.protocol=http' };
        const { service: told } = await data(d.services.resolve({ name: s.service, requestBody }));
        assert.deepEqual(
          (told?.endpoints ?? []).map(({ name, address, port }) => [name, address, port]),
          [[s.b, '192.0.2.2', 9090]],
        );
      },
      'one endpoint is deleted': () => data(d.endpoints.delete({ name: s.a })),
      'it is resolved no more': async () => {
        const { service: told } = await data(d.services.resolve({ name: s.service, requestBody: {} }));
        assert.deepEqual(names(told?.endpoints).sort(), [s.b, s.c]);
      },
    }),

    'a namespace takes what is in it along': (d, s) => ({
      'a service in it': () => ready(d, s, 'whole'),
      'an endpoint in that': async () => {
        s.endpoint = await endpoint(d, s.service, 'one', { address: '192.0.2.30', port: 80 });
      },
      'the namespace is deleted': () => data(d.namespaces.delete({ name: s.namespace })),
      'the service is gone': () => refused(d.services.get({ name: s.service }), 404),
      'the endpoint is gone': () => refused(d.endpoints.get({ name: s.endpoint }), 404),
      'it is made again': async () => assert.equal(await namespace(d, 'whole'), s.namespace),
      'and is empty': async () => assert.deepEqual(names((await data(d.services.list({ parent: s.namespace }))).services), []),
    }),

    'the same id in two parents': (d, s) => ({
      'two namespaces': async () => {
        s.one = await namespace(d, 'left');
        s.two = await namespace(d, 'right');
      },
      'a service in the one': async () => {
        s.a = await service(d, s.one, 'same', { side: 'left' });
      },
      'and in the other': async () => {
        s.b = await service(d, s.two, 'same', { side: 'right' });
        assert.notEqual(s.a, s.b);
      },
      'the one keeps its metadata': async () =>
        assert.deepEqual((await data(d.services.get({ name: s.a }))).metadata, { side: 'left' }),
      'each list has its own': async () =>
        assert.deepEqual(names((await data(d.services.list({ parent: s.one }))).services), [s.a]),
      'one is deleted': () => data(d.services.delete({ name: s.a })),
      'the other is still there': async () => assert.equal((await data(d.services.get({ name: s.b }))).name, s.b),
    }),

    'locations of a project': (d, s) => ({
      'each has its name and id': async () => {
        const { locations } = await data(d.locations.list({ name: project }));
        for (const { name, locationId } of locations ?? []) {
          assert.equal(typeof name, 'string');
          assert.equal(typeof locationId, 'string');
        }
      },
      'a namespace in one': async () => {
        s.here = await namespace(d, 'local');
      },
      'one of its name in another': async () => {
        const made = await data(d.namespaces.create({ parent: elsewhere, namespaceId: 'local', requestBody: {} }));
        s.there = given(made.name, 'name');
        assert.equal(s.there, `${elsewhere}/namespaces/local`);
      },
      'each location lists its own': async () => {
        const rows = names((await data(d.namespaces.list({ parent: elsewhere }))).namespaces);
        once(rows, [s.there], 'namespaces');
        assert.ok(!rows.includes(s.here), 'it lists one of another location');
      },
    }),

    'who may do what': (d, s) => ({
      'a service': () => ready(d, s, 'policies'),
      'its policy is set': async () => {
        const bindings = [{ role: 'roles/servicedirectory.viewer', members: ['user:mike@example.com'] }];
        const set = await data(d.services.setIamPolicy({ resource: s.service, requestBody: { policy: { bindings } } }));
        assert.deepEqual(set.bindings, bindings);
      },
      'it is read back': async () => {
        const read = await data(d.services.getIamPolicy({ resource: s.service, requestBody: {} }));
        assert.deepEqual(read.bindings, [{ role: 'roles/servicedirectory.viewer', members: ['user:mike@example.com'] }]);
      },
      'that of its namespace is another': async () => {
        const read = await data(d.namespaces.getIamPolicy({ resource: s.namespace, requestBody: {} }));
        assert.deepEqual(read.bindings ?? [], []);
      },
      'the caller has a part of what is asked for': async () => {
        const permissions = ['servicedirectory.services.get', 'servicedirectory.services.update'];
        const told = await data(d.services.testIamPermissions({ resource: s.service, requestBody: { permissions } }));
        for (const one of told.permissions ?? []) assert.ok(permissions.includes(one), one);
      },
    }),

    'a credential that is refused': (d, s, another) => ({
      'a namespace': async () => {
        s.name = await namespace(d, 'guarded');
      },
      'not read by another': () => refused(another('ya29.of-no-one').namespaces.get({ name: s.name }), 401),
      'not listed by another': () => refused(another('ya29.of-no-one').namespaces.list({ parent }), 401),
      'not deleted by another': () => refused(another('ya29.of-no-one').namespaces.delete({ name: s.name }), 401),
      'it is still there': async () => assert.equal((await data(d.namespaces.get({ name: s.name }))).name, s.name),
    }),

    'wrong requests': (d, s) => ({
      'a service': () => ready(d, s, 'wrong'),
      'an id with capitals': () => refused(d.namespaces.create({ parent, namespaceId: 'Not_Valid', requestBody: {} }), 400),
      'no id at all': () => refused(d.services.create({ parent: s.namespace, requestBody: {} }), 400),
      'an id that is taken': () =>
        refused(d.services.create({ parent: s.namespace, serviceId: 'checkout', requestBody: {} }), 409),
      'a port out of range': () =>
        refused(d.endpoints.create({ parent: s.service, endpointId: 'far', requestBody: { port: 65_536 } }), 400),
      'a bad address': () =>
        refused(d.endpoints.create({ parent: s.service, endpointId: 'bad', requestBody: { address: '8.8.8' } }), 400),
      'a change without a mask': () => refused(d.services.patch({ name: s.service, requestBody: { metadata: { a: 'b' } } }), 400),
      'nothing of it was made': async () =>
        assert.deepEqual(names((await data(d.endpoints.list({ parent: s.service }))).endpoints), []),
    }),

    'what is not there': (d) => ({
      'a namespace': () => refused(d.namespaces.get({ name: `${parent}/namespaces/nowhere` }), 404),
      'a service in it': () => refused(d.services.get({ name: `${parent}/namespaces/nowhere/services/none` }), 404),
      'making a service in it': () =>
        refused(d.services.create({ parent: `${parent}/namespaces/nowhere`, serviceId: 'late', requestBody: {} }), 404),
      'changing a service': () => {
        const name = `${parent}/namespaces/nowhere/services/none`;
        return refused(d.services.patch({ name, updateMask: 'metadata', requestBody: { metadata: {} } }), 404);
      },
      'deleting a namespace': () => refused(d.namespaces.delete({ name: `${parent}/namespaces/nowhere` }), 404),
      'resolving a service': () =>
        refused(d.services.resolve({ name: `${parent}/namespaces/nowhere/services/none`, requestBody: {} }), 404),
    }),
  },
};
