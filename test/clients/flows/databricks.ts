import assert from 'node:assert/strict';
import { AzureDatabricksManagementClient, type Workspace } from '@azure/arm-databricks';
import { gather, given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

const subscription = '11112222-3333-4444-5555-666677778888';
const otherSubscription = '99990000-3333-4444-5555-666677778888';

/** A client knows one subscription: `other` has the same credential and another one. */
interface Databricks {
  readonly workspaces: AzureDatabricksManagementClient['workspaces'];
  readonly operations: AzureDatabricksManagementClient['operations'];
  readonly other: AzureDatabricksManagementClient['workspaces'];
}

/**
 * The client gives its credential away over https alone: it is pointed at the place with https, and what comes after its
 * signing sends it on with http; a link that the place gave comes back the same way. `apiVersion` is that of the description.
 */
const manage = (place: Place, token: string, of: string): AzureDatabricksManagementClient => {
  const credential = { getToken: async () => ({ token, expiresOnTimestamp: Date.now() + 3_600_000 }) };
  const client = new AzureDatabricksManagementClient(credential, of, {
    endpoint: place.url.replace(/^http:/, 'https:'),
    apiVersion: '2018-04-01',
    retryOptions: { maxRetries: 0 },
  });
  client.pipeline.addPolicy(
    {
      name: 'links of the place',
      sendRequest: (request, next) => {
        request.url = request.url.replace(/^http:/, 'https:');
        return next(request);
      },
    },
    { phase: 'Serialize' },
  );
  client.pipeline.addPolicy(
    {
      name: 'to the place',
      sendRequest: (request, next) => {
        request.url = request.url.replace(/^https:/, 'http:');
        request.allowInsecureConnection = true;
        return next(request);
      },
    },
    { afterPhase: 'Sign' },
  );
  return client;
};
const connect = (place: Place, token: string): Databricks => {
  const { workspaces, operations } = manage(place, token, subscription);
  return { workspaces, operations, other: manage(place, token, otherSubscription).workspaces };
};

/** Resource groups are another provider's: these are there before, and so are the managed ones, which the service makes itself. */
const group = 'databricksrg';
const otherGroup = 'databricksother';
const location = 'westus';
const managed = (name: string): string => `/subscriptions/${subscription}/resourceGroups/${name}-managed`;
const network = `/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Network/virtualNetworks/myNetwork`;

/** `computeMode`, which the client's types ask for, came after the description's version: it is not sent. */
const wanted = (name: string, more: Partial<Workspace> = {}): Workspace =>
  ({ location, managedResourceGroupId: managed(name), sku: { name: 'premium' }, ...more }) as Workspace;
/** What is sent as it is, with something that it should not have, or without something that it should. */
const wrongly = (body: object): Workspace => body as Workspace;

/** Long-running operations are asked about often, so that a step need not wait for the client's two seconds. */
const soon = { updateIntervalInMs: 50 };
/** As before, and the status of the first answer is kept. */
const watched = () => {
  const seen: number[] = [];
  return { seen, options: { ...soon, onResponse: ({ status }: { status: number | string }) => void seen.push(Number(status)) } };
};

const make = async (k: Databricks, s: State, name: string, more: Partial<Workspace> = {}, within = group): Promise<Workspace> => {
  const made = await k.workspaces.createOrUpdate(within, name, wanted(name, more), soon);
  s[name] = given(made.id, 'id');
  return made;
};
type Pages = ReturnType<Databricks['workspaces']['listBySubscription']>;
const rowsOf = (walk: Pages): Promise<Workspace[]> => gather(walk.byPage(), (page) => page);
const names = (rows: readonly Workspace[]): string[] => rows.map(({ name }) => given(name, 'name'));
const inGroup = async (k: Databricks, within = group): Promise<string[]> =>
  names(await rowsOf(k.workspaces.listByResourceGroup(within)));
const same = (one: string | undefined, other: string, what: string): void =>
  assert.equal(given(one, what).toLowerCase(), other.toLowerCase());

const owner = {
  principalId: '9a74af6f-d153-4348-988a-e2672920bee9',
  roleDefinitionId: '8e3af657-a8ff-443c-a75c-2fe8c4bcb635',
};
const reader = {
  principalId: '76735b72-39e4-4a0b-9e0c-3b2cfbcbd0b4',
  roleDefinitionId: 'acdd72a7-3385-48ef-bd42-f606fba81ae7',
};

/** Guide: learn.microsoft.com/rest/api/databricks (workspaces, operations), and Resource Manager's on asynchronous operations. */
export const vendor: Vendor<Databricks> = {
  document: 'databricks/databricks.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJ0eXAiOiJKV1QiLCJhbGciOiJub25lIn0.eyJzdWIiOiJuaW5lZm9sZCJ9.made-up',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a workspace, from the first to the last day': (k, s) => ({
      made: async () => {
        const made = await make(k, s, 'lifecycle1', { tags: { team: 'data' } });
        assert.deepEqual([made.name, made.location, made.tags], ['lifecycle1', location, { team: 'data' }]);
        assert.equal(made.sku?.name, 'premium');
      },
      read: async () => {
        const read = await k.workspaces.get(group, 'lifecycle1');
        assert.deepEqual([read.id, read.name, read.tags], [s.lifecycle1, 'lifecycle1', { team: 'data' }]);
        assert.equal(read.managedResourceGroupId, managed('lifecycle1'));
      },
      'is in the list of its group': async () => once(await inGroup(k), ['lifecycle1'], 'workspaces'),
      'other tags': async () => {
        const changed = await k.workspaces.update(group, 'lifecycle1', { tags: { team: 'science' } }, soon);
        assert.deepEqual([changed.tags, changed.location], [{ team: 'science' }, location]);
      },
      'the rest stays': async () => {
        const read = await k.workspaces.get(group, 'lifecycle1');
        assert.deepEqual([read.tags, read.location, read.sku?.name], [{ team: 'science' }, location, 'premium']);
        assert.equal(read.managedResourceGroupId, managed('lifecycle1'));
      },
      deleted: () => k.workspaces.delete(group, 'lifecycle1', soon),
      gone: () => refused(k.workspaces.get(group, 'lifecycle1'), 404),
      'no longer in the list': async () => assert.ok(!(await inGroup(k)).includes('lifecycle1'), 'it is'),
    }),

    'a put makes, and then changes': (k) => ({
      'the first makes': async () => {
        const { seen, options } = watched();
        const made = await k.workspaces.createOrUpdate(group, 'twice1', wanted('twice1', { sku: { name: 'standard' } }), options);
        assert.equal(seen[0], 201);
        assert.equal(made.sku?.name, 'standard');
      },
      'the second changes': async () => {
        const { seen, options } = watched();
        const changed = await k.workspaces.createOrUpdate(group, 'twice1', wanted('twice1'), options);
        assert.equal(seen[0], 200);
        assert.equal(changed.sku?.name, 'premium');
      },
      'it stays changed': async () => assert.equal((await k.workspaces.get(group, 'twice1')).sku?.name, 'premium'),
      'it is there once': async () => once(await inGroup(k), ['twice1'], 'workspaces'),
      'it is provisioned': async () => assert.equal((await k.workspaces.get(group, 'twice1')).provisioningState, 'Succeeded'),
    }),

    'workspaces of two resource groups': (k, s) => ({
      'one in the one': () => make(k, s, 'groupone1'),
      'one in the other': () => make(k, s, 'grouptwo1', {}, otherGroup),
      'the first group has its own': async () => {
        const rows = await inGroup(k);
        once(rows, ['groupone1'], 'workspaces');
        assert.ok(!rows.includes('grouptwo1'), 'it lists one of another group');
      },
      'the second has its own': async () => {
        const rows = await inGroup(k, otherGroup);
        once(rows, ['grouptwo1'], 'workspaces');
        assert.ok(!rows.includes('groupone1'), 'it lists one of another group');
      },
      'the subscription has both': async () =>
        once(names(await rowsOf(k.workspaces.listBySubscription())), ['groupone1', 'grouptwo1'], 'workspaces'),
      'not found in the wrong group': () => refused(k.workspaces.get(otherGroup, 'groupone1'), 404),
      'not deleted from the wrong group': async () => {
        const { seen, options } = watched();
        await k.workspaces.delete(otherGroup, 'groupone1', options);
        assert.equal(seen[0], 204);
        assert.equal((await k.workspaces.get(group, 'groupone1')).name, 'groupone1');
      },
    }),

    'one name in two groups': (k, s) => ({
      'two of one name': async () => {
        await make(k, s, 'shared1', { tags: { of: 'one' } });
        await make(k, s, 'shared1', { tags: { of: 'other' } }, otherGroup);
      },
      'each keeps what is its own': async () => {
        assert.deepEqual((await k.workspaces.get(group, 'shared1')).tags, { of: 'one' });
        assert.deepEqual((await k.workspaces.get(otherGroup, 'shared1')).tags, { of: 'other' });
      },
      'they have ids of their own': async () => {
        const rows = (await rowsOf(k.workspaces.listBySubscription())).filter(({ name }) => name === 'shared1');
        assert.equal(new Set(rows.map(({ id }) => given(id, 'id').toLowerCase())).size, 2);
      },
      'the one is changed': () => k.workspaces.update(group, 'shared1', { tags: { of: 'one, still' } }, soon),
      'the other is not': async () => assert.deepEqual((await k.workspaces.get(otherGroup, 'shared1')).tags, { of: 'other' }),
      'the one is deleted': () => k.workspaces.delete(group, 'shared1', soon),
      'the other is there': async () => {
        await refused(k.workspaces.get(group, 'shared1'), 404);
        assert.equal((await k.workspaces.get(otherGroup, 'shared1')).name, 'shared1');
      },
    }),

    'workspaces of two subscriptions': (k, s) => ({
      'one in this': () => make(k, s, 'here1'),
      'one in the other': async () => {
        const how = wanted('there1', {
          managedResourceGroupId: `/subscriptions/${otherSubscription}/resourceGroups/there1-managed`,
        });
        const made = await k.other.createOrUpdate(group, 'there1', how, soon);
        assert.equal(made.name, 'there1');
      },
      'this lists its own': async () => {
        const rows = names(await rowsOf(k.workspaces.listBySubscription()));
        once(rows, ['here1'], 'workspaces');
        assert.ok(!rows.includes('there1'), 'it lists one of another subscription');
      },
      'the other lists its own': async () => {
        const rows = names(await rowsOf(k.other.listBySubscription()));
        once(rows, ['there1'], 'workspaces');
        assert.ok(!rows.includes('here1'), 'it lists one of another subscription');
      },
      'a group of the same name has its own too': async () => {
        const rows = names(await rowsOf(k.other.listByResourceGroup(group)));
        assert.deepEqual([rows.includes('there1'), rows.includes('here1')], [true, false]);
      },
      'not found by the other': () => refused(k.other.get(group, 'here1'), 404),
      'the id tells the subscription': async () => {
        const { id } = await k.other.get(group, 'there1');
        assert.ok(given(id, 'id').toLowerCase().startsWith(`/subscriptions/${otherSubscription}/`), id);
      },
    }),

    'a workspace in a network of its own': (k, s) => ({
      made: async () => {
        const parameters = {
          customVirtualNetworkId: { value: network },
          customPublicSubnetName: { value: 'PublicSarah' },
          customPrivateSubnetName: { value: 'PrivateBob' },
          enableNoPublicIp: { value: true },
        };
        const made = await make(k, s, 'injected1', { parameters });
        assert.partialDeepStrictEqual(made.parameters, parameters);
      },
      'read as it was made': async () => {
        const { parameters } = await k.workspaces.get(group, 'injected1');
        same(parameters?.customVirtualNetworkId?.value, network, 'customVirtualNetworkId');
        assert.equal(parameters?.customPublicSubnetName?.value, 'PublicSarah');
        assert.equal(parameters?.customPrivateSubnetName?.value, 'PrivateBob');
        assert.equal(parameters?.enableNoPublicIp?.value, true);
      },
      'what types they have, if it tells': async () => {
        const { parameters } = await k.workspaces.get(group, 'injected1');
        assert.ok([undefined, 'String'].includes(parameters?.customPublicSubnetName?.type));
        assert.ok([undefined, 'Bool'].includes(parameters?.enableNoPublicIp?.type));
      },
      'in the list with them': async () => {
        const row = (await rowsOf(k.workspaces.listByResourceGroup(group))).find(({ name }) => name === 'injected1');
        assert.equal(given(row, 'injected1').parameters?.customPrivateSubnetName?.value, 'PrivateBob');
      },
      'tags are changed': () => k.workspaces.update(group, 'injected1', { tags: { network: 'own' } }, soon),
      'the parameters stay': async () => {
        const { parameters, tags } = await k.workspaces.get(group, 'injected1');
        assert.deepEqual(tags, { network: 'own' });
        assert.deepEqual([parameters?.customPublicSubnetName?.value, parameters?.enableNoPublicIp?.value], ['PublicSarah', true]);
      },
    }),

    'a workspace with its own storage': (k, s) => ({
      made: async () => {
        const parameters = {
          storageAccountName: { value: 'examplesa99' },
          storageAccountSkuName: { value: 'Standard_GRS' },
          vnetAddressPrefix: { value: '10.139' },
        };
        const made = await make(k, s, 'stored1', { parameters });
        assert.partialDeepStrictEqual(made.parameters, parameters);
      },
      read: async () => {
        const { parameters } = await k.workspaces.get(group, 'stored1');
        assert.equal(parameters?.storageAccountName?.value, 'examplesa99');
        assert.equal(parameters?.storageAccountSkuName?.value, 'Standard_GRS');
        assert.equal(parameters?.vnetAddressPrefix?.value, '10.139');
      },
      'one without': () => make(k, s, 'plain1'),
      'each is listed with its own': async () => {
        const rows = await rowsOf(k.workspaces.listByResourceGroup(group));
        const managedOf = (which: string) => rows.find(({ name }) => name === which)?.managedResourceGroupId;
        assert.deepEqual([managedOf('stored1'), managedOf('plain1')], [managed('stored1'), managed('plain1')]);
        assert.equal(rows.find(({ name }) => name === 'stored1')?.parameters?.storageAccountName?.value, 'examplesa99');
      },
    }),

    'who may manage a workspace': (k, s) => ({
      'made with one authorization': async () => {
        const made = await make(k, s, 'managed1', { authorizations: [owner] });
        assert.deepEqual(made.authorizations, [owner]);
      },
      'it is read': async () => assert.deepEqual((await k.workspaces.get(group, 'managed1')).authorizations, [owner]),
      'another comes to it': async () => {
        const how = wanted('managed1', { authorizations: [owner, reader] });
        const changed = await k.workspaces.createOrUpdate(group, 'managed1', how, soon);
        once(
          given(changed.authorizations, 'authorizations').map(({ principalId }) => principalId),
          [owner.principalId, reader.principalId],
          'authorizations',
        );
      },
      'both are read': async () => {
        const { authorizations } = await k.workspaces.get(group, 'managed1');
        const pairs = given(authorizations, 'authorizations').map((one) => `${one.principalId} ${one.roleDefinitionId}`);
        once(pairs, [`${owner.principalId} ${owner.roleDefinitionId}`, `${reader.principalId} ${reader.roleDefinitionId}`]);
      },
      'tags do not touch them': async () => {
        await k.workspaces.update(group, 'managed1', { tags: { audited: 'yes' } }, soon);
        assert.equal((await k.workspaces.get(group, 'managed1')).authorizations?.length, 2);
      },
      'one with no principal is refused': () => {
        const wrong = { ...wanted('managed2'), authorizations: [{ roleDefinitionId: owner.roleDefinitionId }] };
        return refused(Promise.resolve(k.workspaces.createOrUpdate(group, 'managed2', wrongly(wrong), soon)), 400);
      },
    }),

    'tags of a workspace': (k, s) => ({
      'made without any': async () => {
        const { tags } = await make(k, s, 'tagged1');
        assert.deepEqual(tags ?? {}, {});
      },
      'two are given': async () => {
        const changed = await k.workspaces.update(group, 'tagged1', { tags: { env: 'test', cost: '1234' } }, soon);
        assert.deepEqual(changed.tags, { env: 'test', cost: '1234' });
      },
      'they are read': async () =>
        assert.deepEqual((await k.workspaces.get(group, 'tagged1')).tags, { env: 'test', cost: '1234' }),
      'they are in the list': async () => {
        const row = (await rowsOf(k.workspaces.listBySubscription())).find(({ name }) => name === 'tagged1');
        assert.deepEqual(given(row, 'tagged1').tags, { env: 'test', cost: '1234' });
      },
      'both have other values': () => k.workspaces.update(group, 'tagged1', { tags: { env: 'live', cost: '99' } }, soon),
      'the other values are read': async () =>
        assert.deepEqual((await k.workspaces.get(group, 'tagged1')).tags, { env: 'live', cost: '99' }),
      'a value that is no text is refused': () => {
        const wrong = { tags: { env: 7 as unknown as string } };
        return refused(Promise.resolve(k.workspaces.update(group, 'tagged1', wrong, soon)), 400);
      },
      'the tags are as they were': async () =>
        assert.deepEqual((await k.workspaces.get(group, 'tagged1')).tags, { env: 'live', cost: '99' }),
    }),

    'many workspaces, through all pages': (k, s) => ({
      'fourteen are made': async () => {
        for (let number = 1; number <= 12; number += 1) await make(k, s, `many${number}`);
        for (let number = 13; number <= 14; number += 1) await make(k, s, `many${number}`, {}, otherGroup);
      },
      'the group lists its twelve': async () => {
        const twelve = Array.from({ length: 12 }, (_, index) => `many${index + 1}`);
        const rows = await inGroup(k);
        once(rows, twelve, 'workspaces');
        assert.ok(!rows.includes('many13') && !rows.includes('many14'), 'it lists one of another group');
      },
      'the subscription lists all': async () => {
        const rows = await rowsOf(k.workspaces.listBySubscription());
        once(
          names(rows),
          Array.from({ length: 14 }, (_, index) => `many${index + 1}`),
          'workspaces',
        );
      },
      'one by one it is the same': async () => {
        const found: string[] = [];
        for await (const { name } of k.workspaces.listByResourceGroup(group)) found.push(given(name, 'name'));
        assert.deepEqual(found.sort(), (await inGroup(k)).sort());
      },
      'two are deleted': async () => {
        await k.workspaces.delete(group, 'many3', soon);
        await k.workspaces.delete(group, 'many7', soon);
      },
      'ten are left': async () => {
        const rows = (await inGroup(k)).filter((name) => name.startsWith('many'));
        assert.equal(rows.length, 10);
        assert.ok(!rows.includes('many3') && !rows.includes('many7'), 'it lists what was deleted');
      },
    }),

    'what a workspace is called': (k, s) => ({
      made: () => make(k, s, 'Named-1'),
      'its id is its path': () =>
        Promise.resolve(
          same(
            s['Named-1'],
            `/subscriptions/${subscription}/resourceGroups/${group}/providers/Microsoft.Databricks/workspaces/Named-1`,
            'id',
          ),
        ),
      'its type and name': async () => {
        const { type, name } = await k.workspaces.get(group, 'Named-1');
        assert.equal(name, 'Named-1');
        same(type, 'Microsoft.Databricks/workspaces', 'type');
      },
      'its group in capitals is the same group': async () => {
        const read = await k.workspaces.get(group.toUpperCase(), 'Named-1');
        assert.equal(read.name, 'Named-1');
      },
      'and so in the list': async () => once(await inGroup(k, group.toUpperCase()), ['Named-1'], 'workspaces'),
      'a name of 3 characters, and one of 64': async () => {
        assert.equal((await make(k, s, 'abc')).name, 'abc');
        const long = 'w'.repeat(64);
        assert.equal((await make(k, s, long)).name, long);
      },
    }),

    'an operation that is watched': (k, s) => ({
      'making, to its end': async () => {
        const poller = k.workspaces.createOrUpdate(group, 'watched1', wanted('watched1'), soon);
        await poller.submitted();
        const made = await poller.pollUntilDone();
        assert.deepEqual([poller.isDone, poller.operationState?.status], [true, 'succeeded']);
        s.watched = given(made.id, 'id');
      },
      'it is there': async () => assert.equal((await k.workspaces.get(group, 'watched1')).id, s.watched),
      'changing, to its end': async () => {
        const poller = k.workspaces.update(group, 'watched1', { tags: { seen: 'yes' } }, soon);
        await poller.submitted();
        await poller.pollUntilDone();
        assert.deepEqual((await k.workspaces.get(group, 'watched1')).tags, { seen: 'yes' });
      },
      'deleting is accepted, or done': async () => {
        const { seen, options } = watched();
        const poller = k.workspaces.delete(group, 'watched1', options);
        await poller.submitted();
        assert.ok(seen[0] === 202 || seen[0] === 204, `it was ${seen[0]}`);
        await poller.pollUntilDone();
        assert.equal(poller.operationState?.status, 'succeeded');
      },
      'it is gone': () => refused(k.workspaces.get(group, 'watched1'), 404),
    }),

    'deleted, and made again': (k, s) => ({
      made: () => make(k, s, 'again1', { tags: { life: 'first' } }),
      deleted: () => k.workspaces.delete(group, 'again1', soon),
      'not changed any more': () =>
        refused(Promise.resolve(k.workspaces.update(group, 'again1', { tags: { life: 'none' } }, soon)), 404),
      'made again': async () => {
        const { seen, options } = watched();
        await k.workspaces.createOrUpdate(group, 'again1', wanted('again1', { sku: { name: 'trial' } }), options);
        assert.equal(seen[0], 201);
      },
      'nothing of the first is left': async () => {
        const read = await k.workspaces.get(group, 'again1');
        assert.deepEqual([read.tags ?? {}, read.sku?.name], [{}, 'trial']);
      },
      'it is there once': async () => once(await inGroup(k), ['again1'], 'workspaces'),
    }),

    'what the provider offers': (k) => ({
      'operations, through all pages': async () => {
        const rows = await gather(k.operations.list().byPage(), (page) => page);
        for (const { name } of rows) assert.ok(name === undefined || typeof name === 'string');
      },
      'what they tell of themselves': async () => {
        const rows = await gather(k.operations.list().byPage(), (page) => page);
        for (const { display } of rows)
          for (const text of [display?.operation, display?.provider, display?.resource])
            assert.ok(text === undefined || typeof text === 'string');
      },
      'the same when asked again': async () => {
        const ask = async () => (await gather(k.operations.list().byPage(), (page) => page)).map(({ name }) => name);
        assert.deepEqual(await ask(), await ask());
      },
    }),

    'a credential that is refused': (k, s, another) => ({
      'a workspace': () => make(k, s, 'guarded1'),
      'not read by another': () => refused(another('eyJ.of.no-one').workspaces.get(group, 'guarded1'), 401),
      'not listed by another': () => refused(rowsOf(another('eyJ.of.no-one').workspaces.listBySubscription()), 401),
      'not changed by another': () =>
        refused(
          Promise.resolve(another('eyJ.of.no-one').workspaces.update(group, 'guarded1', { tags: { whose: 'mine' } }, soon)),
          401,
        ),
      'not deleted by another': () =>
        refused(Promise.resolve(another('eyJ.of.no-one').workspaces.delete(group, 'guarded1', soon)), 401),
      'it is as it was': async () => {
        const { name, tags } = await k.workspaces.get(group, 'guarded1');
        assert.deepEqual([name, tags ?? {}], ['guarded1', {}]);
      },
    }),

    'wrong requests, and what is not there': (k) => ({
      'no location': () => {
        const { location: _, ...wrong } = wanted('wrong1');
        return refused(Promise.resolve(k.workspaces.createOrUpdate(group, 'wrong1', wrongly(wrong), soon)), 400);
      },
      'no managed group': () => {
        const { managedResourceGroupId: _, ...wrong } = wanted('wrong1');
        return refused(Promise.resolve(k.workspaces.createOrUpdate(group, 'wrong1', wrongly(wrong), soon)), 400);
      },
      'a size with no name': () => {
        const wrong = { ...wanted('wrong1'), sku: { tier: 'premium' } };
        return refused(Promise.resolve(k.workspaces.createOrUpdate(group, 'wrong1', wrongly(wrong), soon)), 400);
      },
      'a switch that is no boolean': () => {
        const wrong = { ...wanted('wrong1'), parameters: { enableNoPublicIp: { value: 'perhaps' } } };
        return refused(Promise.resolve(k.workspaces.createOrUpdate(group, 'wrong1', wrongly(wrong), soon)), 400);
      },
      'a name of two characters, and one of 65': async () => {
        await refused(Promise.resolve(k.workspaces.createOrUpdate(group, 'ab', wanted('ab'), soon)), 400);
        await refused(Promise.resolve(k.workspaces.createOrUpdate(group, 'w'.repeat(65), wanted('long'), soon)), 400);
      },
      'none of them was made': async () => {
        await refused(k.workspaces.get(group, 'wrong1'), 404);
        assert.ok(!(await inGroup(k)).includes('wrong1'), 'it is listed');
      },
      'changing what is not there': () =>
        refused(Promise.resolve(k.workspaces.update(group, 'nowhere1', { tags: { a: 'b' } }, soon)), 404),
      'deleting it is no error': async () => {
        const { seen, options } = watched();
        await k.workspaces.delete(group, 'nowhere1', options);
        assert.equal(seen[0], 204);
      },
    }),
  },
};
