import assert from 'node:assert/strict';
import { ApplicationInsightsManagementClient, type ApplicationInsightsManagementModels as Models } from '@azure/arm-appinsights';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

type Client = ApplicationInsightsManagementClient;
type Component = Models.ApplicationInsightsComponent;
interface Page extends ReadonlyArray<Component> {
  readonly nextLink?: string;
}

const subscription = '12345678-1234-1234-1234-123456789098';

/** The client of the description's own API version; it would ask again three times where it finds the server broken. */
const connect = (place: Place, token: string): Client =>
  new ApplicationInsightsManagementClient(
    {
      signRequest: async (request) => {
        request.headers.set('authorization', `Bearer ${token}`);
        return request;
      },
    },
    subscription,
    { baseUri: place.url, noRetryPolicy: true },
  );

/** Resource groups are another provider's: these are there before. */
const group = 'my-resource-group';
const otherGroup = 'my-other-resource-group';
const location = 'southcentralus';
const asked: Component = { kind: 'web', location, applicationType: 'web', flowType: 'Bluefield', requestSource: 'rest' };
const idOf = (name: string, within = group): string =>
  `/subscriptions/${subscription}/resourceGroups/${within}/providers/Microsoft.Insights/components/${name}`;

const component = (k: Client, name: string, more: Partial<Component> = {}, within = group) =>
  k.components.createOrUpdate(within, name, { ...asked, ...more });
const names = (rows: readonly Component[]): string[] => rows.map(({ name }) => given(name, 'name'));
/** Every row of all pages; more than forty are an error. */
const walk = async (first: Promise<Page>, next: (link: string) => Promise<Page>): Promise<Component[]> => {
  const all: Component[] = [];
  let page = await first;
  for (let number = 1; number <= 40; number += 1) {
    all.push(...page);
    if (!page.nextLink) return all;
    page = await next(page.nextLink);
  }
  throw new Error('the list did not end after 40 pages');
};
const ofGroup = (k: Client, within = group): Promise<Component[]> =>
  walk(k.components.listByResourceGroup(within), (link) => k.components.listByResourceGroupNext(link));
const ofAll = (k: Client): Promise<Component[]> => walk(k.components.list(), (link) => k.components.listNext(link));
const same = (one: string | undefined, other: string, what: string): void =>
  assert.equal(given(one, what).toLowerCase(), other.toLowerCase());
/** What was answered, with the properties that this version of the client does not know. */
const whole = ({ _response }: { readonly _response: { readonly bodyAsText: string } }): Record<string, unknown> =>
  (JSON.parse(_response.bodyAsText) as { properties: Record<string, unknown> }).properties;
/** A put with a body that the client's own checks would not let pass. */
const put = async (k: Client, place: Place, name: string, body: unknown): Promise<number> =>
  (await k.sendRequest({ method: 'PUT', url: `${place.url}${idOf(name)}?api-version=2015-05-01`, body })).status;
const states = ['pending', 'completed'];

/** Guide: learn.microsoft.com/rest/api/application-insights/components (2015-05-01) and Resource Manager's on tags and errors. */
export const vendor: Vendor<Client> = {
  document: 'appinsights-components/appinsights-components.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJ0eXAiOiJKV1QiLCJhbGciOiJub25lIn0.eyJzdWIiOiJuaW5lZm9sZCJ9.made-up',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a component, from the first to the last day': (k) => ({
      made: async () => {
        const made = await component(k, 'life1', { tags: { team: 'shop' } });
        assert.equal(made.name, 'life1');
        assert.deepEqual([made.kind, made.location, made.applicationType, made.tags], ['web', location, 'web', { team: 'shop' }]);
      },
      read: async () => {
        const read = await k.components.get(group, 'life1');
        same(read.id, idOf('life1'), 'id');
        assert.deepEqual([read.name, read.kind, read.location, read.tags], ['life1', 'web', location, { team: 'shop' }]);
      },
      'is in the list of its group': async () => once(names(await ofGroup(k)), ['life1'], 'components'),
      'and in that of the subscription': async () => once(names(await ofAll(k)), ['life1'], 'components'),
      deleted: async () => assert.equal((await k.components.deleteMethod(group, 'life1'))._response.status, 200),
      gone: () => refused(k.components.get(group, 'life1'), 404),
      'no longer in a list': async () => {
        assert.ok(!names(await ofGroup(k)).includes('life1'), 'the group lists it');
        assert.ok(!names(await ofAll(k)).includes('life1'), 'the subscription lists it');
      },
    }),

    'a put makes, and then changes': (k, s) => ({
      'the first makes': async () => {
        const made = await component(k, 'twice1', { samplingPercentage: 100 });
        s.key = given(made.instrumentationKey, 'instrumentationKey');
        s.app = given(made.appId, 'appId');
        assert.equal(made.samplingPercentage, 100);
      },
      'the second changes': async () => {
        const changed = await component(k, 'twice1', { samplingPercentage: 50, kind: 'java' });
        assert.deepEqual([changed.samplingPercentage, changed.kind], [50, 'java']);
      },
      'it stays changed': async () => {
        const read = await k.components.get(group, 'twice1');
        assert.deepEqual([read.samplingPercentage, read.kind, read.location], [50, 'java', location]);
      },
      'its keys are the same': async () => {
        const read = await k.components.get(group, 'twice1');
        assert.deepEqual([read.instrumentationKey, read.appId], [s.key, s.app]);
      },
      'it is there once': async () => once(names(await ofGroup(k)), ['twice1'], 'components'),
    }),

    'what the service gives a component': (k, s) => ({
      'names and a time': async () => {
        const made = await component(k, 'given1');
        same(made.id, idOf('given1'), 'id');
        same(made.type, 'Microsoft.Insights/components', 'type');
        assert.equal(made.applicationId, 'given1');
        const age = Date.now() - given(made.creationDate, 'creationDate').getTime();
        assert.ok(Math.abs(age) < 120_000, `it is ${age} ms old`);
      },
      'keys, and a tenant': async () => {
        const read = await k.components.get(group, 'given1');
        s.key = given(read.instrumentationKey, 'instrumentationKey');
        s.app = given(read.appId, 'appId');
        given(read.tenantId, 'tenantId');
        assert.equal(read.provisioningState, 'Succeeded');
      },
      'a connection string with the key': async () => {
        const { ConnectionString: text } = whole(await k.components.get(group, 'given1'));
        assert.ok(String(text).includes(`InstrumentationKey=${s.key}`), String(text));
      },
      'to another component others': async () => {
        const made = await component(k, 'given2');
        assert.notEqual(given(made.instrumentationKey, 'instrumentationKey'), s.key);
        assert.notEqual(given(made.appId, 'appId'), s.app);
        assert.equal(made.applicationId, 'given2');
      },
      'each time the same': async () => {
        const read = await k.components.get(group, 'given1');
        assert.deepEqual([read.instrumentationKey, read.appId], [s.key, s.app]);
      },
      'the list tells them too': async () => {
        const row = (await ofGroup(k)).find(({ name }) => name === 'given1');
        assert.deepEqual([row?.instrumentationKey, row?.appId], [s.key, s.app]);
      },
    }),

    'what is not told of a component': (k) => ({
      'no more than there has to be': async () => {
        const made = await k.components.createOrUpdate(group, 'plain1', { kind: 'web', location, applicationType: 'web' });
        assert.deepEqual([made.flowType, made.requestSource, made.applicationType], ['Bluefield', 'rest', 'web']);
      },
      'its data are kept for ninety days': async () =>
        assert.equal(whole(await k.components.get(group, 'plain1')).RetentionInDays, 90),
      'it has no tags': async () => assert.deepEqual(Object.keys((await k.components.get(group, 'plain1')).tags ?? {}), []),
      'the defaults stay': async () => {
        const read = await k.components.get(group, 'plain1');
        assert.deepEqual([read.flowType, read.requestSource, read.applicationType], ['Bluefield', 'rest', 'web']);
      },
    }),

    'components of two resource groups': (k) => ({
      'one in the one': () => component(k, 'groupone1'),
      'one in the other': () => component(k, 'grouptwo1', {}, otherGroup),
      'the first group has its own': async () => {
        const rows = names(await ofGroup(k));
        once(rows, ['groupone1'], 'components');
        assert.ok(!rows.includes('grouptwo1'), 'it lists one of another group');
      },
      'the second has its own': async () => {
        const rows = names(await ofGroup(k, otherGroup));
        once(rows, ['grouptwo1'], 'components');
        assert.ok(!rows.includes('groupone1'), 'it lists one of another group');
      },
      'the subscription has both': async () => once(names(await ofAll(k)), ['groupone1', 'grouptwo1'], 'components'),
      'not found in the wrong group': () => refused(k.components.get(otherGroup, 'groupone1'), 404),
      'deleting it there deletes nothing': async () => {
        assert.equal((await k.components.deleteMethod(otherGroup, 'groupone1'))._response.status, 204);
        assert.equal((await k.components.get(group, 'groupone1')).name, 'groupone1');
      },
    }),

    'one name in two resource groups': (k, s) => ({
      'a component in each': async () => {
        s.one = given((await component(k, 'twin1', { kind: 'web' })).instrumentationKey, 'instrumentationKey');
        s.two = given((await component(k, 'twin1', { kind: 'ios' }, otherGroup)).instrumentationKey, 'instrumentationKey');
      },
      'they are two': async () => {
        assert.notEqual(s.one, s.two);
        assert.equal((await k.components.get(group, 'twin1')).kind, 'web');
        assert.equal((await k.components.get(otherGroup, 'twin1')).kind, 'ios');
      },
      'both are in the list of the subscription': async () => {
        const rows = (await ofAll(k)).map(({ id }) => given(id, 'id').toLowerCase());
        once(rows, [idOf('twin1').toLowerCase(), idOf('twin1', otherGroup).toLowerCase()], 'components');
      },
      'one is deleted': () => k.components.deleteMethod(group, 'twin1'),
      'the other stays': async () => {
        await refused(k.components.get(group, 'twin1'), 404);
        assert.equal((await k.components.get(otherGroup, 'twin1')).instrumentationKey, s.two);
      },
    }),

    'a resource group by another case of its name': (k) => ({
      'a component': () => component(k, 'cased1'),
      'is read': async () => assert.equal((await k.components.get(group.toUpperCase(), 'cased1')).name, 'cased1'),
      'is listed': async () => once(names(await ofGroup(k, group.toUpperCase())), ['cased1'], 'components'),
      'is changed, and not made twice': async () => {
        await component(k, 'cased1', { samplingPercentage: 20 }, group.toUpperCase());
        assert.equal((await k.components.get(group, 'cased1')).samplingPercentage, 20);
        once(names(await ofAll(k)), ['cased1'], 'components');
      },
      'is deleted': async () => {
        await k.components.deleteMethod(group.toUpperCase(), 'cased1');
        await refused(k.components.get(group, 'cased1'), 404);
      },
    }),

    'tags of a component': (k, s) => ({
      'a component with one': async () => {
        const made = await component(k, 'tagged1', { tags: { NodeType: 'Core' }, samplingPercentage: 75 });
        s.key = given(made.instrumentationKey, 'instrumentationKey');
      },
      'others are set': async () => {
        const tags = { NodeType: 'Edge', Color: 'AzureBlue', CustomField_01: 'Custom text in some random field named randomly' };
        const changed = await k.components.updateTags(group, 'tagged1', { tags });
        assert.deepEqual(changed.tags, tags);
        assert.deepEqual([changed.name, changed.samplingPercentage, changed.kind], ['tagged1', 75, 'web']);
      },
      'they stay, with the rest': async () => {
        const read = await k.components.get(group, 'tagged1');
        assert.deepEqual([read.tags?.NodeType, read.tags?.Color], ['Edge', 'AzureBlue']);
        assert.deepEqual([read.samplingPercentage, read.location, read.instrumentationKey], [75, location, s.key]);
      },
      'the list tells them': async () => {
        const row = (await ofGroup(k)).find(({ name }) => name === 'tagged1');
        assert.equal(row?.tags?.Color, 'AzureBlue');
      },
      'a put takes others in their place': async () => {
        await component(k, 'tagged1', { tags: { BillingEntity: 'Self' } });
        assert.deepEqual((await k.components.get(group, 'tagged1')).tags, { BillingEntity: 'Self' });
      },
      'none of a component that is not there': () =>
        refused(k.components.updateTags(group, 'nowhere1', { tags: { Color: 'AzureBlue' } }), 404),
      'which is not made by it': () => refused(k.components.get(group, 'nowhere1'), 404),
    }),

    'many components through all pages': (k) => ({
      'twelve are made': async () => {
        for (let number = 1; number <= 12; number += 1) await component(k, `many${number}`, { tags: { number: `${number}` } });
      },
      'all of them in the group, each once': async () => {
        const rows = names(await ofGroup(k));
        once(rows, [...new Set(rows)], 'components');
        once(
          rows,
          Array.from({ length: 12 }, (_, index) => `many${index + 1}`),
          'components',
        );
      },
      'each row as it is by itself': async () => {
        const row = (await ofGroup(k)).find(({ name }) => name === 'many7');
        assert.deepEqual({ ...row }, { ...(await k.components.get(group, 'many7')) });
        assert.deepEqual(row?.tags, { number: '7' });
      },
      'half are deleted': async () => {
        for (let number = 1; number <= 6; number += 1) await k.components.deleteMethod(group, `many${number}`);
      },
      'the others are left': async () => {
        const rows = names(await ofAll(k)).filter((name) => name.startsWith('many'));
        assert.deepEqual(rows.toSorted(), ['many10', 'many11', 'many12', 'many7', 'many8', 'many9']);
      },
    }),

    'components of other kinds': (k) => ({
      'one that is no web site': async () => {
        const made = await component(k, 'kind1', { kind: 'java', applicationType: 'other' });
        assert.deepEqual([made.kind, made.applicationType], ['java', 'other']);
      },
      'one that came from HockeyApp': async () => {
        const made = await component(k, 'kind2', { kind: 'ios', applicationType: 'other', hockeyAppId: 'hockey-123' });
        assert.deepEqual([made.kind, made.hockeyAppId], ['ios', 'hockey-123']);
      },
      'a kind of its own': async () => assert.equal((await component(k, 'kind3', { kind: 'toaster' })).kind, 'toaster'),
      'each is read with its own': async () => {
        assert.equal((await k.components.get(group, 'kind1')).applicationType, 'other');
        assert.equal((await k.components.get(group, 'kind2')).hockeyAppId, 'hockey-123');
        assert.deepEqual(
          [(await k.components.get(group, 'kind3')).kind, (await k.components.get(group, 'kind3')).applicationType],
          ['toaster', 'web'],
        );
      },
      'and listed': async () => {
        const kinds = (await ofGroup(k))
          .filter(({ name }) => name?.startsWith('kind'))
          .map(({ name, kind }) => `${name} ${kind}`);
        assert.deepEqual(kinds.toSorted(), ['kind1 java', 'kind2 ios', 'kind3 toaster']);
      },
    }),

    'a component is made again after it was deleted': (k, s) => ({
      'the first': async () => {
        const made = await component(k, 'again1', { tags: { team: 'old' }, samplingPercentage: 30 });
        s.key = given(made.instrumentationKey, 'instrumentationKey');
      },
      deleted: () => k.components.deleteMethod(group, 'again1'),
      'deleted once more is no error': async () =>
        assert.equal((await k.components.deleteMethod(group, 'again1'))._response.status, 204),
      'made again': async () => assert.equal((await component(k, 'again1')).name, 'again1'),
      'it is another': async () => {
        const read = await k.components.get(group, 'again1');
        assert.notEqual(given(read.instrumentationKey, 'instrumentationKey'), s.key);
        assert.deepEqual(Object.keys(read.tags ?? {}), []);
        assert.notEqual(read.samplingPercentage, 30);
      },
      'it is there once': async () => once(names(await ofGroup(k)), ['again1'], 'components'),
    }),

    'data of a component are purged': (k, s) => ({
      'a component': () => component(k, 'purged1'),
      'what is old is purged': async () => {
        const filters = [{ column: 'TimeGenerated', operator: '>', value: '2017-09-01T00:00:00' }];
        const answer = await k.components.purge(group, 'purged1', { table: 'Heartbeat', filters });
        assert.equal(answer._response.status, 202);
        s.first = given(answer.operationId, 'operationId');
      },
      'how far it is': async () => {
        const { status } = await k.components.getPurgeStatus(group, 'purged1', s.first);
        assert.ok(states.includes(status), status);
      },
      'some people, by a dimension of their own': async () => {
        const filters = [
          { column: 'user_Id', operator: 'in', value: ['ann', 'bob'] },
          { column: 'customDimensions', key: 'tenant', operator: '==', value: 'contoso' },
        ];
        s.second = given((await k.components.purge(group, 'purged1', { table: 'requests', filters })).operationId, 'operationId');
        assert.notEqual(s.second, s.first);
      },
      'each by itself': async () => {
        for (const id of [s.first, s.second]) {
          const { status } = await k.components.getPurgeStatus(group, 'purged1', given(id, 'id'));
          assert.ok(states.includes(status), status);
        }
      },
      'the component is still there': async () => assert.equal((await k.components.get(group, 'purged1')).name, 'purged1'),
      'a purge that there never was': () =>
        refused(k.components.getPurgeStatus(group, 'purged1', 'purge-970318e7-b859-4edb-8903-83b1b54d0b74'), 404),
      'of a component that is not there': () =>
        refused(
          k.components.purge(group, 'nowhere1', { table: 'Heartbeat', filters: [{ column: 'a', operator: '==', value: 'b' }] }),
          404,
        ),
    }),

    'wrong requests': (k, s, _another, place) => ({
      'a component of no known type': () =>
        refused(component(k, 'wrong1', { applicationType: 'spreadsheet' as Models.ApplicationType }), 400),
      'or made by no known flow': () => refused(component(k, 'wrong1', { flowType: 'Greenfield' as Models.FlowType }), 400),
      'without a location, or without a kind': async () => {
        assert.equal(await put(k, place, 'wrong1', { kind: 'web', properties: { Application_Type: 'web' } }), 400);
        assert.equal(await put(k, place, 'wrong1', { location, properties: { Application_Type: 'web' } }), 400);
      },
      'it was not made': () => refused(k.components.get(group, 'wrong1'), 404),
      'a share that is no number': async () => {
        s.key = given((await component(k, 'wrong2')).instrumentationKey, 'instrumentationKey');
        const properties = { Application_Type: 'web', SamplingPercentage: 'most of it' };
        assert.equal(await put(k, place, 'wrong2', { kind: 'web', location, properties }), 400);
      },
      'another key than it has': async () => {
        const properties = { Application_Type: 'web', InstrumentationKey: 'bc095013-3cf2-45ac-ab47-123456789abc' };
        const status = await put(k, place, 'wrong2', { kind: 'web', location, properties });
        assert.ok([200, 400].includes(status), `${status}`);
        assert.equal((await k.components.get(group, 'wrong2')).instrumentationKey, s.key);
      },
      'a purge without a table': async () => {
        const url = `${place.url}${idOf('wrong2')}/purge?api-version=2015-05-01`;
        const { status } = await k.sendRequest({ method: 'POST', url, body: { filters: [] } });
        assert.equal(status, 400);
      },
    }),

    'what is not there': (k) => ({
      'a component': () => refused(k.components.get(group, 'nowhere1'), 404),
      'its tags': () => refused(k.components.updateTags(group, 'nowhere1', { tags: { a: 'b' } }), 404),
      'its purge': () => refused(k.components.getPurgeStatus(group, 'nowhere1', 'purge-1'), 404),
      'deleting it is no error': async () =>
        assert.equal((await k.components.deleteMethod(group, 'nowhere1'))._response.status, 204),
      'a list does not hold it': async () => assert.ok(!names(await ofGroup(k)).includes('nowhere1'), 'it does'),
    }),

    'a credential that is refused': (k, _s, another) => ({
      'a component': () => component(k, 'guarded1'),
      'not read by another': () => refused(another('eyJ.of.no-one').components.get(group, 'guarded1'), 401),
      'not listed by another': () => refused(another('eyJ.of.no-one').components.list(), 401),
      'none made by another': () => refused(component(another('eyJ.of.no-one'), 'sneaked1'), 401),
      'not deleted by another': () => refused(another('eyJ.of.no-one').components.deleteMethod(group, 'guarded1'), 401),
      'it is still there, and alone': async () => {
        assert.equal((await k.components.get(group, 'guarded1')).name, 'guarded1');
        await refused(k.components.get(group, 'sneaked1'), 404);
      },
    }),
  },
};
