import assert from 'node:assert/strict';
import { PolicyClient, type PolicyDefinitionReference, type PolicySetDefinition } from '@azure/arm-policy';
import { gather, given, once, type Place, refused, type Vendor } from '../kit.ts';

const subscription = '11112222-3333-4444-5555-666677778888';
const otherSubscription = '99990000-3333-4444-5555-666677778888';

/** A client knows one subscription: `other` has the same credential and another one. */
interface Policies {
  readonly sets: PolicyClient['policySetDefinitions'];
  readonly other: PolicyClient['policySetDefinitions'];
}

/**
 * The client gives its credential away over https alone: it is pointed at the place with https, and what comes after its
 * signing sends it on with http; a link that the place gave comes back the same way. `apiVersion` is that of the description.
 */
const manage = (place: Place, token: string, of: string): PolicyClient => {
  const credential = { getToken: async () => ({ token, expiresOnTimestamp: Date.now() + 3_600_000 }) };
  const client = new PolicyClient(credential, of, {
    endpoint: place.url.replace(/^http:/, 'https:'),
    apiVersion: '2019-06-01',
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

const connect = (place: Place, token: string): Policies => ({
  sets: manage(place, token, subscription).policySetDefinitions,
  other: manage(place, token, otherSubscription).policySetDefinitions,
});

const kind = 'Microsoft.Authorization/policySetDefinitions';
const idOf = (name: string, of = subscription): string => `/subscriptions/${of}/providers/${kind}/${name}`;
const groupIdOf = (group: string, name: string): string =>
  `/providers/Microsoft.Management/managementGroups/${group}/providers/${kind}/${name}`;
/** Azure's ids are the same in upper and lower case. */
const same = (seen: string | undefined, wanted: string): void =>
  assert.equal(given(seen, 'id').toLowerCase(), wanted.toLowerCase());
const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const names = (rows: readonly PolicySetDefinition[]): string[] => rows.map((row) => given(row.name, 'name'));

/** Built-in definitions of the service: allowed locations, allowed sizes, a tag that is required, audit of managed disks. */
const builtIn = (id: string): string => `/providers/Microsoft.Authorization/policyDefinitions/${id}`;
const locations = builtIn('e56962a6-4747-49cd-b67b-bf8b01975c4c');
const sizes = builtIn('cccc23c7-8427-4f53-ad12-b6a63eb452b3');
const tagOnResources = builtIn('871b6d14-10aa-478d-b590-94f262ecfa99');
const managedDisks = builtIn('06a78e20-9358-41c9-923c-fb736d382a4d');

const audit: PolicyDefinitionReference = { policyDefinitionId: managedDisks, parameters: {} };
const tag = (value: unknown): PolicyDefinitionReference => ({
  policyDefinitionId: tagOnResources,
  parameters: { tagName: { value } },
});
const places = (value: unknown): PolicyDefinitionReference => ({
  policyDefinitionId: locations,
  parameters: { listOfAllowedLocations: { value } },
});
const setOf = (displayName: string, more: Partial<PolicySetDefinition> = {}): PolicySetDefinition => ({
  displayName,
  description: 'Policies to enforce cost control',
  metadata: { category: 'Cost Management' },
  policyDefinitions: [tag('costCenter')],
  ...more,
});
const make = (p: Policies, name: string, more: Partial<PolicySetDefinition> = {}) =>
  p.sets.createOrUpdate(name, setOf(name, more));
const makeIn = (p: Policies, group: string, name: string, more: Partial<PolicySetDefinition> = {}) =>
  p.sets.createOrUpdateAtManagementGroup(group, name, setOf(name, more));
const all = (p: Policies): Promise<PolicySetDefinition[]> => gather(p.sets.list().byPage(), (page) => page);
const allIn = (p: Policies, group: string): Promise<PolicySetDefinition[]> =>
  gather(p.sets.listByManagementGroup(group).byPage(), (page) => page);
const referred = (set: PolicySetDefinition): string[] =>
  given(set.policyDefinitions, 'policyDefinitions').map((row) =>
    given(row.policyDefinitionId, 'policyDefinitionId').toLowerCase(),
  );
const lower = (...ids: readonly string[]): string[] => ids.map((id) => id.toLowerCase());

/** Guide: learn.microsoft.com/azure/governance/policy (initiative definition structure, tutorials) and its REST reference. */
export const vendor: Vendor<Policies> = {
  document: 'policy-sets/policy-sets.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9.policy-contributor.signature',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'an initiative, from the first to the last day': (p) => ({
      made: async () => {
        const made = await make(p, 'life-set', { displayName: 'Cost control' });
        assert.deepEqual([made.name, made.displayName], ['life-set', 'Cost control']);
        same(made.type, kind);
        same(made.id, idOf('life-set'));
      },
      read: async () => {
        const read = await p.sets.get('life-set');
        assert.deepEqual([read.displayName, read.description], ['Cost control', 'Policies to enforce cost control']);
        assert.deepEqual(referred(read), lower(tagOnResources));
      },
      'it is one of our own': async () => assert.equal((await p.sets.get('life-set')).policyType, 'Custom'),
      changed: async () => {
        const changed = await make(p, 'life-set', {
          displayName: 'Cost control, stricter',
          policyDefinitions: [tag('costCenter'), audit],
        });
        assert.equal(changed.displayName, 'Cost control, stricter');
        const read = await p.sets.get('life-set');
        assert.deepEqual([read.displayName, referred(read)], ['Cost control, stricter', lower(tagOnResources, managedDisks)]);
      },
      'its id stayed': async () => same((await p.sets.get('life-set')).id, idOf('life-set')),
      'is in the list, once': async () => once(names(await all(p)), ['life-set'], 'sets'),
      deleted: () => p.sets.delete('life-set'),
      gone: () => refused(p.sets.get('life-set'), 404),
      'no longer in the list': async () => without(names(await all(p)), 'life-set'),
    }),

    'an initiative of a management group, from the first to the last day': (p) => ({
      made: async () => {
        const made = await makeIn(p, 'contoso-root', 'group-set', { displayName: 'For all of Contoso' });
        assert.deepEqual([made.name, made.displayName, made.policyType], ['group-set', 'For all of Contoso', 'Custom']);
        same(made.id, groupIdOf('contoso-root', 'group-set'));
      },
      read: async () => {
        const read = await p.sets.getAtManagementGroup('contoso-root', 'group-set');
        assert.deepEqual([read.displayName, read.metadata?.category], ['For all of Contoso', 'Cost Management']);
        assert.deepEqual(referred(read), lower(tagOnResources));
      },
      changed: async () => {
        await makeIn(p, 'contoso-root', 'group-set', {
          displayName: 'For all',
          description: 'Now with disks',
          policyDefinitions: [audit],
        });
        const read = await p.sets.getAtManagementGroup('contoso-root', 'group-set');
        assert.deepEqual(
          [read.displayName, read.description, referred(read)],
          ['For all', 'Now with disks', lower(managedDisks)],
        );
      },
      'is in the list, once': async () => once(names(await allIn(p, 'contoso-root')), ['group-set'], 'sets'),
      deleted: () => p.sets.deleteAtManagementGroup('contoso-root', 'group-set'),
      gone: () => refused(p.sets.getAtManagementGroup('contoso-root', 'group-set'), 404),
      'no longer in the list': async () => without(names(await allIn(p, 'contoso-root')), 'group-set'),
    }),

    'the list of a subscription, through all pages': (p) => ({
      'seven are made, in no order': async () => {
        for (const letter of ['e', 'b', 'g', 'a', 'd', 'f', 'c'])
          await make(p, `page-${letter}`, { description: `letter ${letter}` });
      },
      'all of them, each once': async () => {
        const ids = (await all(p)).map((row) => given(row.id, 'id').toLowerCase());
        once(
          ids,
          [...new Set(ids), ...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((letter) => idOf(`page-${letter}`).toLowerCase())],
          'sets',
        );
      },
      'row after row is the same as page after page': async () => {
        const rows: string[] = [];
        for await (const row of p.sets.list()) rows.push(given(row.name, 'name'));
        assert.deepEqual(rows.sort(), names(await all(p)).sort());
      },
      'a row has all that is read alone': async () => {
        const row = (await all(p)).find(({ name }) => name === 'page-d');
        const read = await p.sets.get('page-d');
        assert.deepEqual(
          [row?.description, row?.displayName, row?.policyType],
          [read.description, read.displayName, read.policyType],
        );
        assert.deepEqual(row?.policyDefinitions, read.policyDefinitions);
      },
      'two less': async () => {
        await p.sets.delete('page-b');
        await p.sets.delete('page-g');
        const rows = names(await all(p));
        without(rows, 'page-b');
        without(rows, 'page-g');
        once(rows, ['page-a', 'page-c', 'page-d', 'page-e', 'page-f'], 'sets');
      },
    }),

    'the lists of two management groups': (p) => ({
      'three in one, two in the other': async () => {
        for (const name of ['sales-1', 'sales-2', 'sales-3']) await makeIn(p, 'sales', name);
        for (const name of ['lab-1', 'lab-2']) await makeIn(p, 'lab', name);
      },
      'one has its own': async () => {
        const rows = names(await allIn(p, 'sales'));
        once(rows, ['sales-1', 'sales-2', 'sales-3'], 'sets');
        without(rows, 'lab-1');
      },
      'the other too': async () => {
        const rows = names(await allIn(p, 'lab'));
        once(rows, ['lab-1', 'lab-2'], 'sets');
        without(rows, 'sales-2');
      },
      'each row has an id below its group': async () => {
        const row = (await allIn(p, 'lab')).find(({ name }) => name === 'lab-2');
        same(row?.id, groupIdOf('lab', 'lab-2'));
      },
      'a name of one is not known in the other': () => refused(p.sets.getAtManagementGroup('lab', 'sales-1'), 404),
      'one less': async () => {
        await p.sets.deleteAtManagementGroup('sales', 'sales-2');
        const rows = names(await allIn(p, 'sales'));
        without(rows, 'sales-2');
        once(rows, ['sales-1', 'sales-3'], 'sets');
      },
    }),

    'one name in three scopes': (p) => ({
      'made in a subscription, another, and a group': async () => {
        await make(p, 'shared-name', { displayName: 'ours' });
        await p.other.createOrUpdate('shared-name', setOf('theirs'));
        await makeIn(p, 'holding', 'shared-name', { displayName: 'of the holding' });
      },
      'each is its own': async () => {
        assert.equal((await p.sets.get('shared-name')).displayName, 'ours');
        assert.equal((await p.other.get('shared-name')).displayName, 'theirs');
        assert.equal((await p.sets.getAtManagementGroup('holding', 'shared-name')).displayName, 'of the holding');
      },
      'each has an id of its own': async () => {
        same((await p.sets.get('shared-name')).id, idOf('shared-name'));
        same((await p.other.get('shared-name')).id, idOf('shared-name', otherSubscription));
        same((await p.sets.getAtManagementGroup('holding', 'shared-name')).id, groupIdOf('holding', 'shared-name'));
      },
      'one changed, the others not': async () => {
        await p.other.createOrUpdate('shared-name', setOf('theirs, changed'));
        assert.equal((await p.sets.get('shared-name')).displayName, 'ours');
        assert.equal((await p.sets.getAtManagementGroup('holding', 'shared-name')).displayName, 'of the holding');
      },
      'one deleted, the others not': async () => {
        await p.sets.delete('shared-name');
        await refused(p.sets.get('shared-name'), 404);
        assert.equal((await p.other.get('shared-name')).displayName, 'theirs, changed');
        assert.equal((await p.sets.getAtManagementGroup('holding', 'shared-name')).displayName, 'of the holding');
      },
      'the list of the other subscription has its own': async () => {
        const ids = (await gather(p.other.list().byPage(), (page) => page)).map((row) => given(row.id, 'id').toLowerCase());
        once(ids, [idOf('shared-name', otherSubscription).toLowerCase()], 'sets');
        without(ids, idOf('shared-name').toLowerCase());
      },
    }),

    'what is built in': (p, s) => ({
      'the list holds nothing of ours': async () => {
        await make(p, 'homemade');
        const rows = await gather(p.sets.listBuiltIn().byPage(), (page) => page);
        without(names(rows), 'homemade');
        s.first = rows[0]?.name ?? '';
      },
      'all of it is built in': async () => {
        for (const row of await gather(p.sets.listBuiltIn().byPage(), (page) => page)) assert.equal(row.policyType, 'BuiltIn');
      },
      'each once': async () => {
        const rows = names(await gather(p.sets.listBuiltIn().byPage(), (page) => page));
        once(rows, [...new Set(rows)], 'sets');
      },
      'one of it is read alone': async () => {
        if (s.first === '') return;
        assert.equal((await p.sets.getBuiltIn(given(s.first, 'name'))).name, s.first);
      },
      'ours is not built in': () => refused(p.sets.getBuiltIn('homemade'), 404),
      'nor is what nobody made': () => refused(p.sets.getBuiltIn('00000000-dead-4000-8000-00000000beef'), 404),
    }),

    'parameters, handed on to the policies': (p) => {
      const parameters = {
        namePrefix: {
          type: 'String',
          defaultValue: 'myPrefix',
          metadata: { displayName: 'Prefix to enforce on resource names' },
        },
        allowed: {
          type: 'Array',
          defaultValue: ['westus2'],
          metadata: { displayName: 'Allowed locations', description: 'Where resources may be', strongType: 'location' },
        },
      };
      const policyDefinitions = [tag("[parameters('namePrefix')]"), places("[parameters('allowed')]")];
      return {
        'made with two': async () => {
          const made = await make(p, 'param-set', { parameters, policyDefinitions });
          assert.deepEqual(Object.keys(given(made.parameters, 'parameters')).sort(), ['allowed', 'namePrefix']);
        },
        'each as it was declared': async () => {
          const read = given((await p.sets.get('param-set')).parameters, 'parameters');
          assert.deepEqual([read.namePrefix?.type, read.namePrefix?.defaultValue], ['String', 'myPrefix']);
          assert.deepEqual(
            [read.allowed?.type, read.allowed?.defaultValue, read.allowed?.metadata?.strongType],
            ['Array', ['westus2'], 'location'],
          );
        },
        'the policies refer to them': async () => {
          const read = given((await p.sets.get('param-set')).policyDefinitions, 'policyDefinitions');
          assert.equal(read[0]?.parameters?.tagName?.value, "[parameters('namePrefix')]");
          assert.equal(read[1]?.parameters?.listOfAllowedLocations?.value, "[parameters('allowed')]");
        },
        'a third, with a default': async () => {
          const more = { ...parameters, size: { type: 'String', allowedValues: ['S', 'M'], defaultValue: 'S' } };
          await make(p, 'param-set', { parameters: more, policyDefinitions });
          const read = given((await p.sets.get('param-set')).parameters, 'parameters');
          assert.deepEqual([read.size?.defaultValue, read.size?.allowedValues], ['S', ['S', 'M']]);
        },
        'none is taken away by a change': async () => {
          await refused(
            make(p, 'param-set', {
              parameters: { namePrefix: parameters.namePrefix },
              policyDefinitions: [tag("[parameters('namePrefix')]")],
            }),
            400,
          );
          assert.ok((await p.sets.get('param-set')).parameters?.allowed, 'it is gone');
        },
        'a parameter that is not declared': () =>
          refused(make(p, 'param-wrong', { parameters, policyDefinitions: [tag("[parameters('nowhere')]")] }), 400),
      };
    },

    'values fixed within the set': (p) => ({
      'one policy twice, for two tags': async () => {
        await make(p, 'fixed-set', { policyDefinitions: [tag('costCenter'), tag('owner'), places(['westus', 'eastus'])] });
      },
      'in the order given': async () => {
        assert.deepEqual(referred(await p.sets.get('fixed-set')), lower(tagOnResources, tagOnResources, locations));
      },
      'each with its own value': async () => {
        const read = given((await p.sets.get('fixed-set')).policyDefinitions, 'policyDefinitions');
        assert.deepEqual([read[0]?.parameters?.tagName?.value, read[1]?.parameters?.tagName?.value], ['costCenter', 'owner']);
        assert.deepEqual(read[2]?.parameters?.listOfAllowedLocations?.value, ['westus', 'eastus']);
      },
      'one value changed': async () => {
        await make(p, 'fixed-set', { policyDefinitions: [tag('costCenter'), tag('team'), places(['westus'])] });
        const read = given((await p.sets.get('fixed-set')).policyDefinitions, 'policyDefinitions');
        assert.deepEqual(
          [read[1]?.parameters?.tagName?.value, read[2]?.parameters?.listOfAllowedLocations?.value],
          ['team', ['westus']],
        );
      },
      'a policy less, and one more': async () => {
        const listOfAllowedSKUs = { value: ['Standard_DS1_v2'] };
        await make(p, 'fixed-set', {
          policyDefinitions: [{ policyDefinitionId: sizes, parameters: { listOfAllowedSKUs } }, tag('costCenter')],
        });
        assert.deepEqual(referred(await p.sets.get('fixed-set')), lower(sizes, tagOnResources));
      },
    }),

    'metadata of any kind': (p) => ({
      'made with a category and a version': async () => {
        await make(p, 'meta-set', {
          metadata: { category: 'Tags', version: '1.0.0', owner: { team: 'platform', levels: [1, 2] } },
        });
      },
      'read as given': async () => {
        const { metadata } = await p.sets.get('meta-set');
        assert.deepEqual([metadata?.category, metadata?.version], ['Tags', '1.0.0']);
        assert.deepEqual(metadata?.owner, { team: 'platform', levels: [1, 2] });
      },
      'the next version': async () => {
        await make(p, 'meta-set', { metadata: { category: 'Tags', version: '1.1.0' } });
        const { metadata } = await p.sets.get('meta-set');
        assert.deepEqual([metadata?.version, metadata?.owner], ['1.1.0', undefined]);
      },
      'letters of the whole world': async () => {
        await make(p, 'meta-set', { displayName: 'Größe & Kosten — 費用', description: 'Zeile eins\nZeile "zwei"' });
        const read = await p.sets.get('meta-set');
        assert.deepEqual([read.displayName, read.description], ['Größe & Kosten — 費用', 'Zeile eins\nZeile "zwei"']);
      },
      'the list shows it too': async () => {
        const row = (await all(p)).find(({ name }) => name === 'meta-set');
        assert.equal(row?.displayName, 'Größe & Kosten — 費用');
      },
    }),

    'a PUT replaces all of it': (p) => ({
      'made with everything': async () => {
        const made = await make(p, 'put-set', { displayName: 'Everything', description: 'all there is' });
        assert.equal(made.description, 'all there is');
      },
      'put without a description': async () => {
        await p.sets.createOrUpdate('put-set', { displayName: 'Less', policyDefinitions: [tag('costCenter')] });
        const read = await p.sets.get('put-set');
        assert.deepEqual([read.displayName, read.description ?? ''], ['Less', '']);
      },
      'its category went with it': async () => assert.equal((await p.sets.get('put-set')).metadata?.category, undefined),
      'put twice, it is there once': async () => {
        await make(p, 'put-set');
        await make(p, 'put-set');
        once(names(await all(p)), ['put-set'], 'sets');
      },
      'what was read is put back': async () => {
        const read = await p.sets.get('put-set');
        const back = await p.sets.createOrUpdate('put-set', read);
        assert.deepEqual(
          [back.displayName, back.description, referred(back)],
          [read.displayName, read.description, referred(read)],
        );
      },
    }),

    names: (p) => ({
      'a name is the same in upper case': async () => {
        await make(p, 'Case-Set', { displayName: 'first' });
        same((await p.sets.get('CASE-set')).id, idOf('Case-Set'));
      },
      'a change in other letters changes the same': async () => {
        await make(p, 'case-set', { displayName: 'second' });
        assert.equal((await p.sets.get('Case-Set')).displayName, 'second');
        const rows = names(await all(p)).map((name) => name.toLowerCase());
        once(rows, ['case-set'], 'sets');
      },
      'a GUID for a name, as the portal makes it': async () => {
        const made = await make(p, '7fec2eb6-7c2e-4b7e-9c6b-2a1d0f8c3b55', { displayName: 'from the portal' });
        assert.equal(made.name, '7fec2eb6-7c2e-4b7e-9c6b-2a1d0f8c3b55');
      },
      'a name with a space in it': async () => {
        await make(p, 'cost control set', { displayName: 'spaces' });
        const read = await p.sets.get('cost control set');
        assert.deepEqual([read.name, read.displayName], ['cost control set', 'spaces']);
      },
      'and gone again': async () => {
        await p.sets.delete('cost control set');
        await refused(p.sets.get('cost control set'), 404);
      },
    }),

    'deleted and made again': (p) => ({
      made: () => make(p, 'again-set', { displayName: 'first life', parameters: { a: { type: 'String', defaultValue: 'x' } } }),
      'deleted, and once more': async () => {
        await p.sets.delete('again-set');
        await p.sets.delete('again-set');
        await refused(p.sets.get('again-set'), 404);
      },
      'made again, without what it had': async () => {
        await make(p, 'again-set', { displayName: 'second life' });
        const read = await p.sets.get('again-set');
        assert.deepEqual([read.displayName, read.parameters?.a], ['second life', undefined]);
      },
      'there once': async () => once(names(await all(p)), ['again-set'], 'sets'),
      'the same in a group': async () => {
        await makeIn(p, 'again-group', 'again-set');
        await p.sets.deleteAtManagementGroup('again-group', 'again-set');
        await p.sets.deleteAtManagementGroup('again-group', 'again-set');
        await refused(p.sets.getAtManagementGroup('again-group', 'again-set'), 404);
      },
      'that of the subscription stayed': async () => assert.equal((await p.sets.get('again-set')).displayName, 'second life'),
    }),

    'a credential that is refused': (p, _s, another) => ({
      'a set is made': () => make(p, 'guarded-set', { displayName: 'guarded' }),
      'not read by another': () => refused(another('a-wrong-token').sets.get('guarded-set'), 401, 403),
      'nor listed': async () => {
        await refused(all(another('a-wrong-token')), 401, 403);
        await refused(allIn(another('a-wrong-token'), 'contoso-root'), 401, 403);
      },
      'nothing is made or changed by another': async () => {
        await refused(make(another('a-wrong-token'), 'intruder-set'), 401, 403);
        await refused(make(another('a-wrong-token'), 'guarded-set', { displayName: 'taken over' }), 401, 403);
      },
      'nor deleted': () => refused(another('a-wrong-token').sets.delete('guarded-set'), 401, 403),
      'it is still there, as it was, and alone': async () => {
        assert.equal((await p.sets.get('guarded-set')).displayName, 'guarded');
        without(names(await all(p)), 'intruder-set');
      },
    }),

    'wrong requests': (p) => ({
      'a set without policies': () => refused(p.sets.createOrUpdate('wrong-set', { displayName: 'no policies' }), 400),
      'a set with nothing at all': () => refused(p.sets.createOrUpdate('wrong-set', {}), 400),
      'a set of no known type': () => refused(make(p, 'wrong-set', { policyType: 'Homemade' }), 400),
      'a parameter of no known type': () =>
        refused(make(p, 'wrong-set', { parameters: { a: { type: 'Colour', defaultValue: 'red' } } }), 400),
      'nor in a group': () =>
        refused(p.sets.createOrUpdateAtManagementGroup('contoso-root', 'wrong-set', { displayName: 'no policies' }), 400),
      'nothing of it was made': async () => {
        await refused(p.sets.get('wrong-set'), 404);
        without(names(await all(p)), 'wrong-set');
        await refused(p.sets.getAtManagementGroup('contoso-root', 'wrong-set'), 404);
      },
      'a wrong change changes nothing': async () => {
        await make(p, 'right-set', { displayName: 'right' });
        await refused(p.sets.createOrUpdate('right-set', { displayName: 'wrong' }), 400);
        const read = await p.sets.get('right-set');
        assert.deepEqual([read.displayName, referred(read)], ['right', lower(tagOnResources)]);
      },
    }),

    'what is not there': (p) => ({
      'is not read': () => refused(p.sets.get('no-such-set'), 404),
      'nor in a group': () => refused(p.sets.getAtManagementGroup('contoso-root', 'no-such-set'), 404),
      'says what is missing, in the way of Azure': async () => {
        const thrown = (await refused(p.sets.get('no-such-set'), 404)) as { code?: string };
        assert.equal(thrown.code, 'PolicySetDefinitionNotFound');
      },
      'may be deleted, though: there is nothing to do': async () => {
        await p.sets.delete('no-such-set');
        await p.sets.deleteAtManagementGroup('contoso-root', 'no-such-set');
      },
      'what the subscription has, a group does not': async () => {
        await make(p, 'only-here');
        await refused(p.sets.getAtManagementGroup('contoso-root', 'only-here'), 404);
        without(names(await allIn(p, 'contoso-root')), 'only-here');
      },
      'nor does another subscription': () => refused(p.other.get('only-here'), 404),
    }),
  },
};
