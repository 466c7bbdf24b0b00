import assert from 'node:assert/strict';
import { auth, gameservices, type gameservices_v1 } from 'googleapis/build/src/apis/gameservices/index.js';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

type Client = gameservices_v1.Resource$Projects$Locations;
type Policy = gameservices_v1.Schema$Policy;
type Binding = gameservices_v1.Schema$Binding;
type Operation = gameservices_v1.Schema$Operation;

/** `rootUrl` is the client's own option; it would ask again where it finds the server broken. */
const connect = (place: Place, token: string): Client => {
  const credential = new auth.OAuth2();
  credential.setCredentials({ access_token: token });
  return gameservices({ version: 'v1', auth: credential, rootUrl: `${place.url}/`, retry: false }).projects.locations;
};

/**
 * A project is made by another service, and its locations are there. So are its deployments: no call of this version makes
 * one; each flow has its own, which nobody has set a policy on.
 */
const project = 'projects/my-project';
const parent = `${project}/locations/global`;
const at = (id: string): string => `${parent}/gameServerDeployments/${id}`;
const lost = `${parent}/operations/operation-0000000000000-nowhere`;

const admin: Binding = { role: 'roles/gameservices.admin', members: ['user:mike@example.com', 'group:admins@example.com'] };
const viewer: Binding = { role: 'roles/gameservices.viewer', members: ['user:eve@example.com'] };
const condition = {
  title: 'expirable access',
  description: 'Does not grant access after Sep 2020',
  expression: "request.time < timestamp('2020-10-01T00:00:00.000Z')",
};
const audited = {
  service: 'gameservices.googleapis.com',
  auditLogConfigs: [{ logType: 'DATA_READ', exemptedMembers: ['user:jose@example.com'] }, { logType: 'DATA_WRITE' }],
};
const get = async (c: Client, id: string, version?: number): Promise<Policy> => {
  const options = version === undefined ? {} : { 'options.requestedPolicyVersion': version };
  return (await c.gameServerDeployments.getIamPolicy({ resource: at(id), ...options })).data;
};
const set = async (c: Client, id: string, policy: Policy, updateMask?: string): Promise<Policy> => {
  const requestBody = { policy, ...(updateMask !== undefined && { updateMask }) };
  return (await c.gameServerDeployments.setIamPolicy({ resource: at(id), requestBody })).data;
};
const may = async (c: Client, id: string, permissions: string[]): Promise<string[]> =>
  (await c.gameServerDeployments.testIamPermissions({ resource: at(id), requestBody: { permissions } })).data.permissions ?? [];
/** Who may do what, in an order of its own: the service promises none. */
const who = (policy: Policy): string[] =>
  (policy.bindings ?? []).flatMap(({ role, members }) => given(members, 'members').map((one) => `${role} ${one}`)).sort();
const granted = (...bindings: readonly Binding[]): string[] => who({ bindings: [...bindings] });

const names = (rows: readonly { readonly name?: string | null }[]): string[] => rows.map(({ name }) => given(name, 'name'));
type Asked = { filter?: string; pageSize?: number; includeUnrevealedLocations?: boolean };
const locations = (c: Client, asked: Asked = {}) =>
  pages(
    async (pageToken) => (await c.list({ name: project, ...asked, ...(pageToken === undefined ? {} : { pageToken }) })).data,
    ({ locations: rows }) => rows ?? [],
    ({ nextPageToken }) => nextPageToken || undefined,
  );
const operations = (c: Client, asked: { filter?: string; pageSize?: number } = {}): Promise<Operation[]> =>
  pages(
    async (pageToken) =>
      (await c.operations.list({ name: parent, ...asked, ...(pageToken === undefined ? {} : { pageToken }) })).data,
    ({ operations: rows }) => rows ?? [],
    ({ nextPageToken }) => nextPageToken || undefined,
  );
/** What is done has an error or an answer; what is not has neither. */
const sound = ({ done, error, response }: Operation): void =>
  assert.equal([error ?? undefined, response ?? undefined].filter((one) => one !== undefined).length, done ? 1 : 0);

/** Guide: cloud.google.com/game-servers/docs (access control), its REST reference, v1, and cloud.google.com/iam/docs (policies). */
export const vendor: Vendor<Client> = {
  document: 'gameservices/gameservices.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ya29.made-up',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'where deployments may be': (c, s) => ({
      'all locations': async () => {
        const rows = await locations(c);
        once(names(rows), names(rows), 'locations');
        const row = given(rows[0], 'location');
        s.name = given(row.name, 'name');
        s.id = given(row.locationId, 'locationId');
        s.all = names(rows).toSorted().join(' ');
      },
      'each is below the project, by its id': async () => {
        for (const { name, locationId } of await locations(c)) assert.equal(name, `${project}/locations/${locationId}`);
      },
      'one by itself': async () => {
        const { data } = await c.get({ name: s.name });
        assert.deepEqual([data.name, data.locationId], [s.name, s.id]);
      },
      'page by page, the same': async () => {
        const { data } = await c.list({ name: project, pageSize: 1 });
        assert.ok((data.locations ?? []).length <= 1, 'more than one');
        assert.equal(
          names(await locations(c, { pageSize: 1 }))
            .toSorted()
            .join(' '),
          s.all,
        );
      },
      'with those that are not revealed, no fewer': async () => {
        const rows = names(await locations(c, { includeUnrevealedLocations: true }));
        once(rows, s.all.split(' '), 'locations');
      },
      'none that there is not': () => refused(c.get({ name: `${project}/locations/atlantis` }), 404),
    }),

    'locations by what they are called': (c, s) => ({
      'one of them': async () => {
        const row = given(
          (await locations(c)).find(({ displayName }) => displayName),
          'location with a display name',
        );
        s.name = given(row.name, 'name');
        s.called = given(row.displayName, 'displayName');
      },
      'it is found': async () => {
        const rows = await locations(c, { filter: `displayName="${s.called}"` });
        once(names(rows), [s.name], 'locations');
        for (const { displayName } of rows) assert.equal(displayName, s.called);
      },
      'nothing by another name': async () => assert.deepEqual(await locations(c, { filter: 'displayName="No such place"' }), []),
      'all but it': async () => {
        const rows = await locations(c, { filter: `displayName!="${s.called}"` });
        assert.ok(!names(rows).includes(s.name), 'it is listed');
      },
      'what is no filter': () => refused(locations(c, { filter: 'displayName = (' }), 400),
    }),

    /** Operations are what changes of deployments leave, which are made by other versions of this service. */
    'operations through all pages': (c, s) => ({
      'all of them, each once': async () => {
        const rows = await operations(c);
        once(names(rows), names(rows), 'operations');
        for (const name of names(rows)) assert.ok(name.startsWith(`${parent}/operations/`), name);
        s.all = names(rows).toSorted().join(' ');
      },
      'done, or not yet': async () => {
        for (const row of await operations(c)) sound(row);
      },
      'no more on a page than asked for': async () => {
        const { data } = await c.operations.list({ name: parent, pageSize: 1 });
        assert.ok((data.operations ?? []).length <= 1, 'more than one');
      },
      'page by page, the same': async () =>
        assert.equal(
          names(await operations(c, { pageSize: 1 }))
            .toSorted()
            .join(' '),
          s.all,
        ),
      'each by itself': async () => {
        for (const name of s.all
          .split(' ')
          .filter((one) => one !== '')
          .slice(0, 5)) {
          const { data } = await c.operations.get({ name });
          assert.equal(data.name, name);
          sound(data);
        }
      },
      'those that are done': async () => {
        for (const { done } of await operations(c, { filter: 'done=true' })) assert.equal(done, true);
      },
      'those that are not': async () => {
        for (const { done } of await operations(c, { filter: 'done=false' })) assert.equal(done ?? false, false);
      },
    }),

    'an operation, to its end': (c, s) => ({
      'one of them': async () => {
        s.name = given(given((await operations(c))[0], 'operation').name, 'name');
      },
      'it is read': async () => {
        const { data } = await c.operations.get({ name: s.name });
        assert.equal(data.name, s.name);
        sound(data);
      },
      'it is asked to stop': async () =>
        assert.deepEqual((await c.operations.cancel({ name: s.name, requestBody: {} })).data, {}),
      'it is not deleted by that': async () => {
        const { data } = await c.operations.get({ name: s.name });
        assert.equal(data.name, s.name);
        sound(data);
      },
      deleted: async () => assert.deepEqual((await c.operations.delete({ name: s.name })).data, {}),
      gone: () => refused(c.operations.get({ name: s.name }), 404),
      'no longer in the list': async () => assert.ok(!names(await operations(c)).includes(s.name), 'it is'),
    }),

    'operations that are not there': (c) => ({
      'not read': () => refused(c.operations.get({ name: lost }), 404),
      'not stopped': () => refused(c.operations.cancel({ name: lost, requestBody: {} }), 404),
      'not deleted': () => refused(c.operations.delete({ name: lost }), 404),
      'the refusal says what it is': async () => {
        const thrown = await refused(c.operations.get({ name: lost }), 404);
        const { error } = given((thrown as { response?: { data?: { error?: object } } }).response?.data, 'body');
        assert.partialDeepStrictEqual(error, { code: 404, status: 'NOT_FOUND' });
      },
      'not listed': async () => assert.ok(!names(await operations(c)).includes(lost), 'it is'),
      'no page that none led to': () => refused(c.operations.list({ name: parent, pageToken: 'made up' }), 400),
    }),

    'who may do what with a deployment': (c) => ({
      'it has an empty policy': async () => assert.deepEqual((await get(c, 'life')).bindings ?? [], []),
      'one is set': async () => {
        const policy = await set(c, 'life', { bindings: [admin] });
        assert.deepEqual(who(policy), granted(admin));
        given(policy.etag, 'etag');
      },
      'it is told': async () => {
        const policy = await get(c, 'life');
        assert.deepEqual(who(policy), granted(admin));
        given(policy.etag, 'etag');
      },
      'one more role': async () => {
        const { etag } = await get(c, 'life');
        assert.deepEqual(who(await set(c, 'life', { etag, bindings: [admin, viewer] })), granted(admin, viewer));
      },
      'another takes the place of both': async () => {
        const { etag } = await get(c, 'life');
        await set(c, 'life', { etag, bindings: [{ ...viewer, members: ['domain:google.com'] }] });
        assert.deepEqual(who(await get(c, 'life')), ['roles/gameservices.viewer domain:google.com']);
      },
      'none is left': async () => {
        const { etag } = await get(c, 'life');
        assert.deepEqual(who(await set(c, 'life', { etag, bindings: [] })), []);
      },
      'and so it stays': async () => assert.deepEqual((await get(c, 'life')).bindings ?? [], []),
    }),

    'two who change a policy at once': (c, s) => ({
      'a policy': async () => {
        s.first = given((await set(c, 'race', { bindings: [admin] })).etag, 'etag');
        assert.equal((await get(c, 'race')).etag, s.first);
      },
      'one of them changes what was read': async () => {
        s.second = given((await set(c, 'race', { etag: s.first, bindings: [admin, viewer] })).etag, 'etag');
        assert.notEqual(s.second, s.first);
      },
      'the other does not': () => refused(set(c, 'race', { etag: s.first, bindings: [] }), 409),
      'what the one wanted holds': async () => {
        const policy = await get(c, 'race');
        assert.deepEqual([who(policy), policy.etag], [granted(admin, viewer), s.second]);
      },
      'the other reads it again, and changes it': async () => {
        const { etag } = await get(c, 'race');
        assert.deepEqual(who(await set(c, 'race', { etag, bindings: [viewer] })), granted(viewer));
      },
      'who sends none overwrites it': async () => {
        await set(c, 'race', { bindings: [admin] });
        assert.deepEqual(who(await get(c, 'race')), granted(admin));
      },
    }),

    'a role for a while': (c) => {
      const passing: Binding = { ...viewer, condition };
      return {
        'a policy with a condition': async () => {
          const { etag } = await get(c, 'while');
          const policy = await set(c, 'while', { version: 3, etag, bindings: [admin, passing] });
          assert.equal(policy.version, 3);
          assert.deepEqual(who(policy), granted(admin, passing));
        },
        'it is told to who asks for the third version': async () => {
          const policy = await get(c, 'while', 3);
          assert.equal(policy.version, 3);
          const found = policy.bindings?.find(({ role }) => role === viewer.role);
          assert.partialDeepStrictEqual(found?.condition, condition);
          assert.equal(policy.bindings?.find(({ role }) => role === admin.role)?.condition ?? undefined, undefined);
        },
        'no older version adds one': async () => {
          const { etag } = await get(c, 'while', 3);
          const policy = { version: 1, etag, bindings: [passing, { ...admin, condition }] };
          await refused(set(c, 'while', policy), 400);
        },
        'nor takes one away': async () => {
          const { etag } = await get(c, 'while', 3);
          await refused(set(c, 'while', { version: 1, etag, bindings: [admin] }), 400);
        },
        'the third does': async () => {
          const { etag } = await get(c, 'while', 3);
          assert.deepEqual(who(await set(c, 'while', { version: 3, etag, bindings: [admin] })), granted(admin));
        },
        'what has no condition is of the first': async () => {
          const policy = await get(c, 'while', 3);
          assert.deepEqual([who(policy), policy.version], [granted(admin), 1]);
        },
      };
    },

    'versions of a policy': (c) => ({
      'a policy of the first': async () => {
        const policy = await set(c, 'versions', { version: 1, bindings: [viewer] });
        assert.deepEqual(who(policy), granted(viewer));
      },
      'it is told by any that there is': async () => {
        for (const version of [undefined, 0, 1, 3]) assert.deepEqual(who(await get(c, 'versions', version)), granted(viewer));
      },
      'not by one that there is not': async () => {
        for (const version of [2, 4]) await refused(get(c, 'versions', version), 400);
      },
      'none such is set': async () => {
        for (const version of [2, 4]) await refused(set(c, 'versions', { version, bindings: [admin] }), 400);
      },
      'it is as it was': async () => assert.deepEqual(who(await get(c, 'versions')), granted(viewer)),
    }),

    'what is logged, and what a mask names': (c) => ({
      'a policy, and what is logged': async () => {
        const policy = { bindings: [admin], auditConfigs: [audited] };
        const answer = await set(c, 'masked', policy, 'bindings,auditConfigs');
        assert.deepEqual(who(answer), granted(admin));
        assert.partialDeepStrictEqual(answer.auditConfigs, [audited]);
      },
      'both are told': async () => {
        const policy = await get(c, 'masked');
        assert.deepEqual(who(policy), granted(admin));
        assert.partialDeepStrictEqual(policy.auditConfigs, [audited]);
      },
      'without a mask, no more than who may': async () => {
        await set(c, 'masked', { bindings: [viewer], auditConfigs: [] });
        const policy = await get(c, 'masked');
        assert.deepEqual(who(policy), granted(viewer));
        assert.partialDeepStrictEqual(policy.auditConfigs, [audited]);
      },
      'no more than what is logged': async () => {
        const other = { service: 'allServices', auditLogConfigs: [{ logType: 'ADMIN_READ' }] };
        await set(c, 'masked', { bindings: [admin], auditConfigs: [other] }, 'auditConfigs');
        const policy = await get(c, 'masked');
        assert.deepEqual(who(policy), granted(viewer));
        assert.partialDeepStrictEqual(policy.auditConfigs, [other]);
        assert.equal(policy.auditConfigs?.length, 1);
      },
      'nothing is logged': async () => {
        await set(c, 'masked', { auditConfigs: [] }, 'auditConfigs');
        const policy = await get(c, 'masked');
        assert.deepEqual([who(policy), policy.auditConfigs ?? []], [granted(viewer), []]);
      },
      'no kind of log that there is not': async () => {
        const wrong = { service: 'allServices', auditLogConfigs: [{ logType: 'GOSSIP' }] };
        await refused(set(c, 'masked', { auditConfigs: [wrong] }, 'auditConfigs'), 400);
      },
    }),

    'all who may be members': (c) => {
      const members = [
        'allAuthenticatedUsers',
        'allUsers',
        'domain:example.com',
        'group:admins@example.com',
        'serviceAccount:my-other-app@appspot.gserviceaccount.com',
        'serviceAccount:my-project.svc.id.goog[my-namespace/my-kubernetes-sa]',
        'user:alice@example.com',
      ];
      const all = { role: viewer.role, members };
      return {
        'they are set': async () => assert.deepEqual(who(await set(c, 'members', { bindings: [all] })), granted(all)),
        'they are told': async () => assert.deepEqual(who(await get(c, 'members')), granted(all)),
        'one fewer': async () => {
          const { etag } = await get(c, 'members');
          await set(c, 'members', { etag, bindings: [{ ...all, members: members.slice(1) }] });
          assert.deepEqual(who(await get(c, 'members')), granted({ ...all, members: members.slice(1) }));
        },
        'one may have several roles': async () => {
          const { etag } = await get(c, 'members');
          const both = [viewer.role, admin.role].map((role) => ({ role, members: ['user:alice@example.com'] }));
          await set(c, 'members', { etag, bindings: both });
          assert.deepEqual(who(await get(c, 'members')), granted(...both));
        },
      };
    },

    'deployments side by side': (c) => ({
      'two policies': async () => {
        await set(c, 'side-left', { bindings: [admin] });
        await set(c, 'side-right', { bindings: [viewer] });
      },
      'each has its own': async () => {
        assert.deepEqual(who(await get(c, 'side-left')), granted(admin));
        assert.deepEqual(who(await get(c, 'side-right')), granted(viewer));
      },
      'one is emptied, and no other': async () => {
        const { etag } = await get(c, 'side-left');
        await set(c, 'side-left', { etag, bindings: [] });
        assert.deepEqual(who(await get(c, 'side-left')), []);
        assert.deepEqual(who(await get(c, 'side-right')), granted(viewer));
      },
      'one of the same name elsewhere is another': async () => {
        const resource = 'projects/other-project/locations/global/gameServerDeployments/side-right';
        const requestBody = { policy: { bindings: [admin] } };
        await c.gameServerDeployments.setIamPolicy({ resource, requestBody });
        assert.deepEqual(who((await c.gameServerDeployments.getIamPolicy({ resource })).data), granted(admin));
        assert.deepEqual(who(await get(c, 'side-right')), granted(viewer));
      },
      'no more than is asked for': async () => {
        const { data } = await c.gameServerDeployments.getIamPolicy({ resource: at('side-right'), fields: 'bindings' });
        assert.deepEqual(Object.keys(data), ['bindings']);
        assert.deepEqual(who(data), granted(viewer));
      },
    }),

    'what one may': (c) => {
      const asked = ['get', 'update', 'delete', 'rollout'].map((one) => `gameservices.gameServerDeployments.${one}`);
      return {
        'some of what is asked': async () => {
          const answer = await may(c, 'permitted', asked);
          once(answer, answer, 'permissions');
          for (const one of answer) assert.ok(asked.includes(one), `${one} was not asked`);
        },
        'no more for one': async () => {
          for (const one of await may(c, 'permitted', asked.slice(0, 1))) assert.equal(one, asked[0]);
        },
        'the same one by one': async () => {
          const single: string[] = [];
          for (const one of asked) single.push(...(await may(c, 'permitted', [one])));
          assert.deepEqual(single.sort(), (await may(c, 'permitted', asked)).sort());
        },
        'not by a star': () => refused(may(c, 'permitted', ['*']), 400),
        'nor by half of one': () => refused(may(c, 'permitted', ['gameservices.*']), 400),
      };
    },

    'wrong policies': (c) => ({
      'a right one': () => set(c, 'wrong', { bindings: [viewer] }),
      'no policy at all': () => refused(c.gameServerDeployments.setIamPolicy({ resource: at('wrong'), requestBody: {} }), 400),
      'a role for nobody': () => refused(set(c, 'wrong', { bindings: [{ role: admin.role, members: [] }] }), 400),
      'a member of no kind': () => refused(set(c, 'wrong', { bindings: [{ role: admin.role, members: ['mike'] }] }), 400),
      'what is no role': () => refused(set(c, 'wrong', { bindings: [{ ...admin, role: 'the boss' }] }), 400),
      'no role': () => refused(set(c, 'wrong', { bindings: [{ members: ['user:mike@example.com'] }] }), 400),
      'the refusal says what it is': async () => {
        const thrown = await refused(set(c, 'wrong', { version: 2, bindings: [admin] }), 400);
        const { error } = given((thrown as { response?: { data?: { error?: object } } }).response?.data, 'body');
        assert.partialDeepStrictEqual(error, { code: 400, status: 'INVALID_ARGUMENT' });
      },
      'the right one holds': async () => assert.deepEqual(who(await get(c, 'wrong')), granted(viewer)),
    }),

    /** That no such deployment is there is as much given as that those of the other flows are. */
    'a deployment that is not there': (c) => ({
      'has no policy': () => refused(get(c, 'no-such-deployment'), 403, 404),
      'gets none': () => refused(set(c, 'no-such-deployment', { bindings: [admin] }), 403, 404),
      'may not be anything, which is no refusal': async () =>
        assert.deepEqual(await may(c, 'no-such-deployment', ['gameservices.gameServerDeployments.get']), []),
    }),

    'a credential that is refused': (c, _s, another) => {
      const stranger = another('ya29.no-one');
      return {
        'a policy': async () => assert.deepEqual(who(await set(c, 'guarded', { bindings: [viewer] })), granted(viewer)),
        'not read by another': () => refused(get(stranger, 'guarded'), 401),
        'not set by another': () => refused(set(stranger, 'guarded', { bindings: [admin] }), 401),
        'nothing asked by another': () => refused(may(stranger, 'guarded', ['gameservices.gameServerDeployments.get']), 401),
        'no locations listed by another': () => refused(stranger.list({ name: project }), 401),
        'nor operations': () => refused(stranger.operations.list({ name: parent }), 401),
        'it is as it was': async () => assert.deepEqual(who(await get(c, 'guarded')), granted(viewer)),
      };
    },
  },
};
