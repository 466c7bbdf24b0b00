import assert from 'node:assert/strict';
import wiremock from 'wiremock-rest-client';
import { given, once, type Place, type Vendor } from '../kit.ts';

type Client = InstanceType<typeof wiremock.WireMockRestClient>;
type Mapping = Awaited<ReturnType<Client['mappings']['createMapping']>>;

/** Where a request is refused, the client ends the process, or else gives back the body of the refusal without its status. */
const connect = (place: Place): Client =>
  new wiremock.WireMockRestClient(`${place.url}/`, { logLevel: 'silent', continueOnFailure: true });

/** A mapping of a path to a text. */
const mapping = (url: string, body: string, more: object = {}) => ({
  request: { method: 'GET', url },
  response: { status: 200, body, headers: { 'Content-Type': 'text/plain' } },
  ...more,
});

const make = (api: Client, url: string, body: string, more: object = {}): Promise<Mapping> =>
  api.mappings.createMapping(mapping(url, body, more) as Mapping);

const id = (one: Mapping): string => given(one.id, 'id of the mapping');

/** The ids of a list of mappings. */
const ids = (list: { readonly mappings?: readonly Mapping[] }): string[] => given(list.mappings, 'mappings').map(id);

/** What is not there has no body, or one that is no mapping. */
const gone = async (api: Client, uuid: string): Promise<void> => {
  const read = (await api.mappings.getMapping(uuid)) as Partial<Mapping> | '';
  assert.ok(read === '' || (read.id === undefined && read.request === undefined), `${uuid} is still there`);
};

/** What the service says of what it cannot read. */
const said = (answer: unknown): string[] =>
  given((answer as { errors?: { title: string }[] }).errors, 'errors of the answer').map(({ title }) => title);

/** Guide: wiremock.org/docs/stubbing, "Stub Metadata", "Stateful Behaviour", "Record and Playback", "Verifying", and its API reference. */
export const vendor: Vendor<Client> = {
  document: 'wiremock/admin.json',
  header: 'Authorization',
  made: 'none',
  hides: true,
  client: connect,
  flows: {
    'a mapping from its making to its end': (api, s) => ({
      create: async () => {
        const made = await make(api, '/some/thing', 'Hello world!', { priority: 3 });
        s.id = id(made);
        assert.deepEqual([made.request?.url, made.response?.body, made.priority], ['/some/thing', 'Hello world!', 3]);
      },
      read: async () => {
        const read = await api.mappings.getMapping(s.id);
        assert.deepEqual([read.id, read.request?.method, read.request?.url], [s.id, 'GET', '/some/thing']);
        assert.deepEqual([read.response?.status, read.response?.body, read.priority], [200, 'Hello world!', 3]);
      },
      change: async () => {
        const changed = await api.mappings.updateMapping(s.id, mapping('/some/thing', 'Good bye!') as Mapping);
        assert.deepEqual([changed.id, changed.response?.body], [s.id, 'Good bye!']);
      },
      'it stays changed': async () => {
        const read = await api.mappings.getMapping(s.id);
        assert.deepEqual([read.id, read.request?.url, read.response?.body], [s.id, '/some/thing', 'Good bye!']);
      },
      delete: async () => api.mappings.deleteMapping(s.id),
      'it is gone': async () => gone(api, s.id),
      'it is not listed': async () => assert.ok(!ids(await api.mappings.getAllMappings()).includes(s.id)),
    }),
    'a mapping with its own id': (api) => ({
      create: async () => {
        const made = await make(api, '/mine', 'mine', { id: '8c5db8b0-2db4-4ad7-a99f-38c9b00da3f7' });
        assert.equal(made.id, '8c5db8b0-2db4-4ad7-a99f-38c9b00da3f7');
      },
      read: async () => {
        const read = await api.mappings.getMapping('8c5db8b0-2db4-4ad7-a99f-38c9b00da3f7');
        assert.deepEqual([read.request?.url, read.response?.body], ['/mine', 'mine']);
      },
      'it is listed once': async () =>
        once(ids(await api.mappings.getAllMappings()), ['8c5db8b0-2db4-4ad7-a99f-38c9b00da3f7'], 'mappings'),
      delete: async () => {
        await api.mappings.deleteMapping('8c5db8b0-2db4-4ad7-a99f-38c9b00da3f7');
        await gone(api, '8c5db8b0-2db4-4ad7-a99f-38c9b00da3f7');
      },
    }),
    'all mappings and how many': (api, s) => ({
      'how many there were': async () => {
        const { mappings, meta } = await api.mappings.getAllMappings();
        assert.equal(meta?.total, mappings?.length);
        s.before = String(meta?.total);
      },
      'make three': async () => {
        const made = [];
        for (const name of ['one', 'two', 'three']) made.push(id(await make(api, `/${name}`, name)));
        s.all = made.join(' ');
        once(made, made, 'made ids');
      },
      'all three are listed': async () => once(ids(await api.mappings.getAllMappings()), s.all.split(' '), 'mappings'),
      'there are three more': async () => {
        assert.equal((await api.mappings.getAllMappings()).meta?.total, Number(s.before) + 3);
      },
      'one less': async () => {
        await api.mappings.deleteMapping(s.all.split(' ')[1] ?? '');
        assert.equal((await api.mappings.getAllMappings()).meta?.total, Number(s.before) + 2);
      },
    }),
    'a mapping keeps what it matches': (api, s) => ({
      create: async () => {
        const request = {
          method: 'POST',
          urlPath: '/some/things',
          headers: { Accept: { equalTo: 'application/json' } },
          queryParameters: { page: { equalTo: '2' } },
          bodyPatterns: [{ equalToXml: '<stuff />' }],
        };
        const response = { status: 201, jsonBody: { things: ['thing1', 'thing2'] } };
        s.id = id(await api.mappings.createMapping({ name: 'things', request, response } as unknown as Mapping));
      },
      'its request': async () => {
        const { name, request } = await api.mappings.getMapping(s.id);
        assert.deepEqual([name, request?.method, request?.urlPath], ['things', 'POST', '/some/things']);
        assert.deepEqual(request?.headers, { Accept: { equalTo: 'application/json' } });
        assert.deepEqual(request?.queryParameters, { page: { equalTo: '2' } });
        assert.deepEqual(request?.bodyPatterns, [{ equalToXml: '<stuff />' }]);
      },
      'its answer': async () => {
        const { response } = await api.mappings.getMapping(s.id);
        assert.deepEqual([response?.status, response?.jsonBody], [201, { things: ['thing1', 'thing2'] }]);
      },
      'a change is instead of all of it': async () => {
        await api.mappings.updateMapping(s.id, mapping('/plain', 'plain') as Mapping);
        const { name, request } = await api.mappings.getMapping(s.id);
        assert.deepEqual([name, request?.url, request?.urlPath, request?.headers], [undefined, '/plain', undefined, undefined]);
      },
    }),
    'mappings are found by their metadata': (api, s) => ({
      'make three': async () => {
        s.one = id(await make(api, '/ada/1', 'one', { metadata: { owner: 'ada', tags: ['a'] } }));
        s.two = id(await make(api, '/bob/1', 'two', { metadata: { owner: 'bob' } }));
        s.three = id(await make(api, '/ada/2', 'three', { metadata: { owner: 'ada' } }));
      },
      'it is kept': async () => {
        assert.deepEqual((await api.mappings.getMapping(s.one)).metadata, { owner: 'ada', tags: ['a'] });
      },
      'two are of one': async () => {
        const found = await api.mappings.findByMetaData({ matchesJsonPath: "$[?(@.owner == 'ada')]" } as never);
        assert.deepEqual(ids(found).sort(), [s.one, s.three].sort());
      },
      'one is of the other': async () => {
        const found = await api.mappings.findByMetaData({ equalToJson: '{ "owner": "bob" }' } as never);
        assert.deepEqual(ids(found), [s.two]);
      },
      'none is of a third': async () => {
        const found = await api.mappings.findByMetaData({ equalToJson: '{ "owner": "eve" }' } as never);
        assert.deepEqual(ids(found), []);
      },
    }),
    'mappings are removed by their metadata': (api, s) => ({
      'make three': async () => {
        s.one = id(await make(api, '/old/1', 'one', { metadata: { keep: 'no' } }));
        s.two = id(await make(api, '/old/2', 'two', { metadata: { keep: 'no' } }));
        s.three = id(await make(api, '/new', 'three', { metadata: { keep: 'yes' } }));
      },
      remove: async () => api.mappings.removeByMetaData({ matchesJsonPath: "$[?(@.keep == 'no')]" } as never),
      'two are gone': async () => {
        await gone(api, s.one);
        await gone(api, s.two);
      },
      'the third stays': async () => {
        const read = await api.mappings.getMapping(s.three);
        assert.deepEqual([read.id, read.metadata], [s.three, { keep: 'yes' }]);
      },
    }),
    'all mappings are deleted': (api, s) => ({
      'make two': async () => {
        s.one = id(await make(api, '/first', 'one'));
        s.two = id(await make(api, '/second', 'two'));
      },
      'delete all': async () => api.mappings.deleteAllMappings(),
      'there are none': async () => {
        const { mappings, meta } = await api.mappings.getAllMappings();
        assert.deepEqual([mappings, meta?.total], [[], 0]);
      },
      'the first is gone': async () => gone(api, s.one),
      'a new one is alone': async () => {
        s.three = id(await make(api, '/third', 'three'));
        assert.deepEqual(ids(await api.mappings.getAllMappings()), [s.three]);
      },
    }),
    'all is as at the beginning': (api, s) => ({
      'what there was': async () => {
        s.before = ids(await api.mappings.getAllMappings())
          .sort()
          .join(' ');
      },
      'make two': async () => {
        s.one = id(await make(api, '/first', 'one'));
        s.two = id(await make(api, '/second', 'two'));
      },
      'reset the mappings': async () => {
        await api.mappings.resetAllMappings();
        await gone(api, s.one);
        await gone(api, s.two);
      },
      'there is what there was': async () =>
        assert.equal(
          ids(await api.mappings.getAllMappings())
            .sort()
            .join(' '),
          s.before,
        ),
    }),
    'a scenario and its states': (api, s) => ({
      'two mappings of it': async () => {
        const shut = { scenarioName: 'Door', requiredScenarioState: 'Started', newScenarioState: 'Open' };
        s.shut = id(await make(api, '/door', 'shut', shut));
        s.open = id(await make(api, '/door', 'open', { scenarioName: 'Door', requiredScenarioState: 'Open' }));
      },
      'a mapping tells its scenario': async () => {
        const { scenarioName, requiredScenarioState, newScenarioState } = await api.mappings.getMapping(s.shut);
        assert.deepEqual([scenarioName, requiredScenarioState, newScenarioState], ['Door', 'Started', 'Open']);
      },
      'it is at its start': async () => {
        const { scenarios } = (await api.scenarios.getAllScenarios()) as unknown as {
          scenarios: { name: string; state: string; possibleStates: string[] }[];
        };
        const [door, ...more] = scenarios.filter(({ name }) => name === 'Door');
        assert.deepEqual([door?.state, [...(door?.possibleStates ?? [])].sort(), more], ['Started', ['Open', 'Started'], []]);
      },
      'reset it': async () => {
        await api.scenarios.resetAllScenarios();
        const { scenarios } = (await api.scenarios.getAllScenarios()) as unknown as {
          scenarios: { name: string; state: string }[];
        };
        assert.equal(scenarios.find(({ name }) => name === 'Door')?.state, 'Started');
      },
    }),
    'a recording is started and stopped': (api) => ({
      'never yet': async () => assert.equal((await api.recordings.getRecordingStatus()).status, 'NeverStarted'),
      start: async () => {
        await api.recordings.startRecording({ targetBaseUrl: 'http://example.mocklab.io' } as never);
        assert.equal((await api.recordings.getRecordingStatus()).status, 'Recording');
      },
      stop: async () => {
        const { mappings } = await api.recordings.stopRecording();
        assert.deepEqual(mappings, []);
      },
      'it is stopped': async () => assert.equal((await api.recordings.getRecordingStatus()).status, 'Stopped'),
    }),
    'requests that were received': (api) => ({
      'forget all': async () => api.requests.deleteAllRequests(),
      'there are none': async () => {
        const { requests, meta } = await api.requests.getAllRequests();
        assert.deepEqual([requests, meta.total], [[], 0]);
      },
      'none of a kind': async () => {
        const { count } = await api.requests.getCount({ method: 'GET', url: '/never/asked' } as never);
        assert.equal(count, 0);
      },
      'none is found': async () => {
        const { requests } = await api.requests.findRequests({ method: 'GET', url: '/never/asked' } as never);
        assert.deepEqual(requests, []);
      },
      'none was without a mapping': async () => assert.deepEqual((await api.requests.getUnmatchedRequests()).requests, []),
    }),
    'what is wrong': (api, s) => ({
      'a priority that is no number': async () => {
        const answer = await make(api, '/wrong', 'wrong', { priority: 'high' });
        assert.ok(said(answer).length > 0);
      },
      'a member that nobody knows': async () => {
        const answer = await api.mappings.createMapping({ requets: { method: 'GET' }, response: { status: 200 } } as never);
        assert.ok(said(answer).length > 0);
      },
      'none of them was made': async () => {
        const { mappings } = await api.mappings.getAllMappings();
        assert.ok(!given(mappings, 'mappings').some(({ request }) => request?.url === '/wrong'));
      },
      'a mapping that is not there': async () => gone(api, '00000000-0000-4000-8000-000000000000'),
      'the next one is made': async () => {
        s.id = id(await make(api, '/right', 'right'));
        assert.equal((await api.mappings.getMapping(s.id)).response?.body, 'right');
      },
    }),
  },
};
