import assert from 'node:assert/strict';
import {
  auth,
  contactcenterinsights,
  type contactcenterinsights_v1,
} from 'googleapis/build/src/apis/contactcenterinsights/index.js';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

type Client = contactcenterinsights_v1.Resource$Projects$Locations;
type Conversation = contactcenterinsights_v1.Schema$GoogleCloudContactcenterinsightsV1Conversation;
type Matcher = contactcenterinsights_v1.Schema$GoogleCloudContactcenterinsightsV1PhraseMatcher;
type Model = contactcenterinsights_v1.Schema$GoogleCloudContactcenterinsightsV1IssueModel;
type Operation = contactcenterinsights_v1.Schema$GoogleLongrunningOperation;

/** `rootUrl` is the client's own option; it would ask again where it finds the server broken. */
const connect = (place: Place, token: string): Client => {
  const credential = new auth.OAuth2();
  credential.setCredentials({ access_token: token });
  return contactcenterinsights({ version: 'v1', auth: credential, rootUrl: `${place.url}/`, retry: false }).projects.locations;
};

/** A project is made by another service, and so is the bucket with the guide's public sample. */
const parent = 'projects/my-project/locations/us-central1';
const transcriptUri = 'gs://cloud-samples-data/ccai/chat_sample.json';
const at = (id: string): string => `${parent}/conversations/${id}`;

const conversation = async (c: Client, conversationId: string, more: Conversation = {}): Promise<Conversation> => {
  const requestBody: Conversation = { medium: 'CHAT', dataSource: { gcsSource: { transcriptUri } }, ...more };
  return (await c.conversations.create({ parent, conversationId, requestBody })).data;
};
const names = (rows: readonly { readonly name?: string | null }[]): string[] => rows.map(({ name }) => given(name, 'name'));
interface Asked {
  readonly filter?: string;
  readonly orderBy?: string;
  readonly pageSize?: number;
}
const conversations = async (c: Client, more: Asked = {}): Promise<string[]> =>
  names(
    await pages(
      async (pageToken) =>
        (await c.conversations.list({ parent, ...more, ...(pageToken === undefined ? {} : { pageToken }) })).data,
      ({ conversations }) => conversations ?? [],
      ({ nextPageToken }) => nextPageToken || undefined,
    ),
  );
const analyses = async (c: Client, id: string): Promise<string[]> =>
  names((await c.conversations.analyses.list({ parent: at(id) })).data.analyses ?? []);
/** A long-running operation is asked about until it is done, for less than a step may last. */
const ended = async (c: Client, operation: Operation): Promise<Operation> => {
  const name = given(operation.name, 'name of the operation');
  let now = operation;
  for (let turn = 0; turn < 40 && !now.done; turn += 1) {
    await new Promise((go) => setTimeout(go, 300));
    now = (await c.operations.get({ name })).data;
  }
  assert.equal(now.done, true, 'the operation did not end');
  return now;
};
const done = async (c: Client, operation: Operation): Promise<Record<string, unknown>> => {
  const last = await ended(c, operation);
  assert.equal(last.error ?? undefined, undefined, `the operation failed: ${last.error?.message}`);
  return (last.response ?? {}) as Record<string, unknown>;
};
const analyse = async (c: Client, id: string, annotatorSelector = { runSentimentAnnotator: true, runEntityAnnotator: true }) =>
  done(c, (await c.conversations.analyses.create({ parent: at(id), requestBody: { annotatorSelector } })).data);
const phones: Matcher = {
  displayName: 'PHONE_MATCHER',
  type: 'ANY_OF',
  active: true,
  phraseMatchRuleGroups: [
    {
      type: 'ANY_OF',
      phraseMatchRules: [
        { query: 'PHONE', config: { exactMatchConfig: { caseSensitive: true } } },
        { query: 'CELLPHONE', config: { exactMatchConfig: { caseSensitive: true } } },
      ],
    },
  ],
};
const matcher = async (c: Client, more: Matcher = {}): Promise<Matcher> =>
  (await c.phraseMatchers.create({ parent, requestBody: { ...phones, ...more } })).data;
const model = async (c: Client, displayName: string): Promise<string> => {
  const requestBody: Model = { displayName, inputDataConfig: { filter: 'medium="CHAT"' } };
  return given((await done(c, (await c.issueModels.create({ parent, requestBody })).data)).name as string, 'name of the model');
};

/** Guide: cloud.google.com/contact-center/insights/docs (conversations, analyses, custom highlights, topic models, settings) and its REST reference, v1. */
export const vendor: Vendor<Client> = {
  document: 'contactcenterinsights/contactcenterinsights.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ya29.made-up',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a conversation, from the first to the last day': (c) => ({
      made: async () => {
        const made = await conversation(c, 'life-one', {
          agentId: 'agent-7',
          languageCode: 'en-US',
          labels: { team: 'billing' },
        });
        assert.deepEqual([made.name, made.medium, made.agentId], [at('life-one'), 'CHAT', 'agent-7']);
        given(made.createTime, 'createTime');
      },
      read: async () => {
        const { data } = await c.conversations.get({ name: at('life-one') });
        assert.partialDeepStrictEqual(data, {
          name: at('life-one'),
          medium: 'CHAT',
          agentId: 'agent-7',
          languageCode: 'en-US',
          labels: { team: 'billing' },
          dataSource: { gcsSource: { transcriptUri } },
        });
      },
      'is in the list': async () => once(await conversations(c), [at('life-one')], 'conversations'),
      'another agent': async () => {
        const { data } = await c.conversations.patch({
          name: at('life-one'),
          updateMask: 'agentId',
          requestBody: { agentId: 'agent-8', labels: { team: 'not asked for' } },
        });
        assert.deepEqual([data.name, data.agentId], [at('life-one'), 'agent-8']);
      },
      'the rest stays': async () => {
        const { data } = await c.conversations.get({ name: at('life-one') });
        assert.partialDeepStrictEqual(data, { agentId: 'agent-8', medium: 'CHAT', languageCode: 'en-US' });
        assert.deepEqual(data.labels, { team: 'billing' });
      },
      deleted: () => c.conversations.delete({ name: at('life-one') }),
      gone: () => refused(c.conversations.get({ name: at('life-one') }), 404),
      'no longer in the list': async () => assert.ok(!(await conversations(c)).includes(at('life-one')), 'it is'),
    }),

    'conversations through all pages': (c) => ({
      'five are made': async () => {
        for (const id of ['page-c', 'page-a', 'page-e', 'page-b', 'page-d']) await conversation(c, id, { agentId: 'pager' });
      },
      'no more on a page than asked for': async () => {
        const { data } = await c.conversations.list({ parent, pageSize: 2 });
        assert.ok(given(data.conversations, 'conversations').length <= 2, 'more than two');
        given(data.nextPageToken || undefined, 'next page token');
      },
      'all of them, each once': async () => {
        const rows = await conversations(c, { pageSize: 2 });
        once(rows, [...new Set(rows)], 'conversations');
        once(
          rows,
          ['a', 'b', 'c', 'd', 'e'].map((letter) => at(`page-${letter}`)),
          'conversations',
        );
      },
      'ordered by the time of their making': async () => {
        const { data } = await c.conversations.list({ parent, orderBy: 'create_time', pageSize: 100 });
        const times = given(data.conversations, 'conversations').map(({ createTime }) =>
          Date.parse(given(createTime, 'createTime')),
        );
        assert.deepEqual(
          times,
          times.toSorted((a, b) => a - b),
        );
      },
      'the latest first, and so where no order is asked for': async () => {
        for (const more of [{ orderBy: 'create_time desc' }, {}]) {
          const { data } = await c.conversations.list({ parent, ...more });
          const times = given(data.conversations, 'conversations').map(({ createTime }) =>
            Date.parse(given(createTime, 'createTime')),
          );
          assert.deepEqual(
            times,
            times.toSorted((a, b) => b - a),
          );
        }
      },
      'those of another location are others': async () => {
        const { data } = await c.conversations.list({ parent: 'projects/my-project/locations/europe-west1' });
        assert.ok(!names(data.conversations ?? []).some((name) => name.startsWith(parent)), 'they are listed');
      },
    }),

    'conversations are filtered and counted': (c) => ({
      'three of two agents': async () => {
        await conversation(c, 'filter-a', { agentId: 'filter-ann' });
        await conversation(c, 'filter-b', { agentId: 'filter-ann', medium: 'PHONE_CALL' });
        await conversation(c, 'filter-c', { agentId: 'filter-bob' });
      },
      'those of one agent': async () => {
        const rows = await conversations(c, { filter: 'agent_id="filter-ann"' });
        assert.deepEqual(rows.toSorted(), [at('filter-a'), at('filter-b')]);
      },
      'those of one medium': async () => {
        const rows = await conversations(c, { filter: 'medium="PHONE_CALL"' });
        once(rows, [at('filter-b')], 'conversations');
        assert.ok(!rows.includes(at('filter-a')) && !rows.includes(at('filter-c')), 'chats are listed');
      },
      'both at once': async () => {
        const rows = await conversations(c, { filter: 'agent_id="filter-ann" AND medium="CHAT"' });
        assert.deepEqual(rows, [at('filter-a')]);
      },
      'of an agent that is not there': async () => assert.deepEqual(await conversations(c, { filter: 'agent_id="no-one"' }), []),
      'counted for one agent': async () => {
        const { data } = await c.conversations.calculateStats({ location: parent, filter: 'agent_id="filter-ann"' });
        assert.equal(data.conversationCount, 2);
      },
      'counted without a filter': async () => {
        const { data } = await c.conversations.calculateStats({ location: parent });
        assert.ok(given(data.conversationCount, 'conversationCount') >= 3, `only ${data.conversationCount}`);
      },
    }),

    'what is not told of a conversation': (c, s) => ({
      'no name': async () => {
        const { data } = await c.conversations.create({ parent, requestBody: { dataSource: { gcsSource: { transcriptUri } } } });
        s.name = given(data.name, 'name');
        assert.ok(s.name.startsWith(`${parent}/conversations/`), s.name);
      },
      'no medium is a call': async () => assert.equal((await c.conversations.get({ name: s.name })).data.medium, 'PHONE_CALL'),
      'a time to live becomes a time of end': async () => {
        const made = await conversation(c, 'short-life', { ttl: '86400s' });
        const left = Date.parse(given(made.expireTime, 'expireTime')) - Date.now();
        assert.ok(Math.abs(left - 86_400_000) < 120_000, `it ends in ${left} ms`);
        assert.equal(made.ttl, undefined);
      },
      'the basic view has no transcript': async () => {
        const { data } = await c.conversations.get({ name: at('short-life'), view: 'BASIC' });
        assert.deepEqual([data.name, data.transcript], [at('short-life'), undefined]);
      },
      'nor has the list': async () => {
        const { data } = await c.conversations.list({ parent });
        for (const { transcript } of given(data.conversations, 'conversations')) assert.equal(transcript, undefined);
      },
      'no view that there is not': () => refused(c.conversations.get({ name: at('short-life'), view: 'SIDE' }), 400),
    }),

    'a conversation is analysed': (c, s) => ({
      'a conversation without an analysis': async () => {
        await conversation(c, 'analysed');
        assert.deepEqual(await analyses(c, 'analysed'), []);
      },
      analysed: async () => {
        s.name = given((await analyse(c, 'analysed')).name as string, 'name of the analysis');
        assert.ok(s.name.startsWith(`${at('analysed')}/analyses/`), s.name);
      },
      read: async () => {
        const { data } = await c.conversations.analyses.get({ name: s.name });
        assert.equal(data.name, s.name);
        assert.partialDeepStrictEqual(data.annotatorSelector, { runSentimentAnnotator: true, runEntityAnnotator: true });
        given(data.createTime, 'createTime');
      },
      'is in the list': async () => assert.deepEqual(await analyses(c, 'analysed'), [s.name]),
      'the conversation knows its latest': async () =>
        assert.equal((await c.conversations.get({ name: at('analysed') })).data.latestAnalysis?.name, s.name),
      'the conversation is not deleted while it has one': async () => {
        await refused(c.conversations.delete({ name: at('analysed') }), 400);
        assert.equal((await c.conversations.get({ name: at('analysed') })).data.name, at('analysed'));
      },
      'the analysis is deleted': async () => {
        await c.conversations.analyses.delete({ name: s.name });
        await refused(c.conversations.analyses.get({ name: s.name }), 404);
        assert.deepEqual(await analyses(c, 'analysed'), []);
      },
      'now the conversation may be deleted': async () => {
        await c.conversations.delete({ name: at('analysed') });
        await refused(c.conversations.get({ name: at('analysed') }), 404);
      },
    }),

    'a conversation is deleted with its analyses': (c, s) => ({
      'a conversation with one': async () => {
        await conversation(c, 'forced');
        s.name = given((await analyse(c, 'forced')).name as string, 'name of the analysis');
      },
      'a second one': async () => {
        await analyse(c, 'forced');
        once(await analyses(c, 'forced'), [s.name], 'analyses');
        assert.equal((await analyses(c, 'forced')).length, 2);
      },
      'deleted by force': () => c.conversations.delete({ name: at('forced'), force: true }),
      gone: () => refused(c.conversations.get({ name: at('forced') }), 404),
      'the analysis too': () => refused(c.conversations.analyses.get({ name: s.name }), 404),
    }),

    'a phrase matcher, from the first to the last day': (c, s) => ({
      made: async () => {
        const made = await matcher(c);
        s.name = given(made.name, 'name');
        s.revision = given(made.revisionId, 'revisionId');
        assert.ok(s.name.startsWith(`${parent}/phraseMatchers/`), s.name);
        assert.deepEqual([made.displayName, made.type, made.active], ['PHONE_MATCHER', 'ANY_OF', true]);
      },
      read: async () =>
        assert.partialDeepStrictEqual((await c.phraseMatchers.get({ name: s.name })).data, { name: s.name, ...phones }),
      'is in the list': async () => {
        const { data } = await c.phraseMatchers.list({ parent });
        once(names(given(data.phraseMatchers, 'phraseMatchers')), [s.name], 'phrase matchers');
      },
      'put out of use, which makes no revision': async () => {
        const { data } = await c.phraseMatchers.patch({ name: s.name, updateMask: 'active', requestBody: { active: false } });
        assert.deepEqual([data.active ?? false, data.revisionId, data.displayName], [false, s.revision, 'PHONE_MATCHER']);
      },
      'another name, which does': async () => {
        const requestBody: Matcher = { displayName: 'MOBILES' };
        const { data } = await c.phraseMatchers.patch({ name: s.name, updateMask: 'displayName', requestBody });
        assert.equal(data.displayName, 'MOBILES');
        assert.notEqual(given(data.revisionId, 'revisionId'), s.revision);
      },
      'the rest stays': async () => {
        const { data } = await c.phraseMatchers.get({ name: s.name });
        assert.deepEqual([data.displayName, data.type, data.active ?? false], ['MOBILES', 'ANY_OF', false]);
        assert.partialDeepStrictEqual(data.phraseMatchRuleGroups, phones.phraseMatchRuleGroups);
      },
      deleted: () => c.phraseMatchers.delete({ name: s.name }),
      gone: () => refused(c.phraseMatchers.get({ name: s.name }), 404),
    }),

    'phrase matchers through all pages': (c, s) => ({
      'three, one for agents alone': async () => {
        s.a = given((await matcher(c, { displayName: 'first' })).name, 'name');
        s.b = given((await matcher(c, { displayName: 'second', type: 'ALL_OF' })).name, 'name');
        const made = await matcher(c, { displayName: 'third', roleMatch: 'HUMAN_AGENT' });
        assert.equal(made.roleMatch, 'HUMAN_AGENT');
        s.c = given(made.name, 'name');
      },
      'no two have one name': () => Promise.resolve(assert.equal(new Set([s.a, s.b, s.c]).size, 3)),
      'all of them, one on a page': async () => {
        const rows = await pages(
          async (pageToken) =>
            (await c.phraseMatchers.list({ parent, pageSize: 1, ...(pageToken === undefined ? {} : { pageToken }) })).data,
          ({ phraseMatchers }) => phraseMatchers ?? [],
          ({ nextPageToken }) => nextPageToken || undefined,
        );
        once(names(rows), [s.a, s.b, s.c], 'phrase matchers');
      },
      'each keeps what is its own': async () => {
        assert.equal((await c.phraseMatchers.get({ name: s.b })).data.type, 'ALL_OF');
        assert.equal((await c.phraseMatchers.get({ name: s.a })).data.type, 'ANY_OF');
      },
    }),

    'a view, from the first to the last day': (c, s) => ({
      made: async () => {
        const { data } = await c.views.create({ parent, requestBody: { displayName: 'Long calls', value: 'duration>"600s"' } });
        s.name = given(data.name, 'name');
        assert.ok(s.name.startsWith(`${parent}/views/`), s.name);
        assert.deepEqual([data.displayName, data.value], ['Long calls', 'duration>"600s"']);
      },
      read: async () => {
        const { data } = await c.views.get({ name: s.name });
        assert.deepEqual([data.name, data.displayName, data.value], [s.name, 'Long calls', 'duration>"600s"']);
      },
      'listed with another, one on a page': async () => {
        const { data } = await c.views.create({ parent, requestBody: { displayName: 'Chats', value: 'medium="CHAT"' } });
        const rows = await pages(
          async (pageToken) =>
            (await c.views.list({ parent, pageSize: 1, ...(pageToken === undefined ? {} : { pageToken }) })).data,
          ({ views }) => views ?? [],
          ({ nextPageToken }) => nextPageToken || undefined,
        );
        once(names(rows), [s.name, given(data.name, 'name')], 'views');
      },
      'another name': async () => {
        const requestBody = { displayName: 'Very long calls' };
        const { data } = await c.views.patch({ name: s.name, updateMask: 'displayName', requestBody });
        assert.deepEqual([data.displayName, data.value], ['Very long calls', 'duration>"600s"']);
      },
      deleted: () => c.views.delete({ name: s.name }),
      gone: () => refused(c.views.get({ name: s.name }), 404),
    }),

    'settings of the location': (c) => ({
      'they are there': async () =>
        assert.equal((await c.getSettings({ name: `${parent}/settings` })).data.name, `${parent}/settings`),
      'a time to live for new conversations': async () => {
        const requestBody = { conversationTtl: '864000s' };
        const { data } = await c.updateSettings({ name: `${parent}/settings`, updateMask: 'conversation_ttl', requestBody });
        assert.equal(data.conversationTtl, '864000s');
      },
      'how many are analysed by themselves': async () => {
        const requestBody = { analysisConfig: { runtimeIntegrationAnalysisPercentage: 25 } };
        const updateMask = 'analysis_config.runtime_integration_analysis_percentage';
        const { data } = await c.updateSettings({ name: `${parent}/settings`, updateMask, requestBody });
        assert.equal(data.analysisConfig?.runtimeIntegrationAnalysisPercentage, 25);
      },
      'both are kept': async () => {
        const { data } = await c.getSettings({ name: `${parent}/settings` });
        assert.deepEqual([data.conversationTtl, data.analysisConfig?.runtimeIntegrationAnalysisPercentage], ['864000s', 25]);
      },
      'a new conversation ends when they say': async () => {
        const made = await conversation(c, 'by-settings');
        const left = Date.parse(given(made.expireTime, 'expireTime')) - Date.now();
        assert.ok(Math.abs(left - 864_000_000) < 120_000, `it ends in ${left} ms`);
      },
    }),

    'many conversations are analysed and deleted at once': (c, s) => ({
      'two of one agent, one of another': async () => {
        await conversation(c, 'bulk-a', { agentId: 'bulk-agent' });
        await conversation(c, 'bulk-b', { agentId: 'bulk-agent' });
        await conversation(c, 'bulk-c', { agentId: 'other-agent' });
      },
      'those of the one are analysed': async () => {
        const requestBody = { parent, filter: 'agent_id="bulk-agent"', analysisPercentage: 100 };
        const response = await done(c, (await c.conversations.bulkAnalyze({ parent, requestBody })).data);
        assert.equal(response.successfulAnalysisCount, 2);
      },
      'each has an analysis, the third has none': async () => {
        for (const id of ['bulk-a', 'bulk-b']) assert.equal((await analyses(c, id)).length, 1);
        assert.deepEqual(await analyses(c, 'bulk-c'), []);
      },
      'found by it': async () => {
        const rows = await conversations(c, { filter: 'agent_id="bulk-agent" AND latest_analysis:"*"' });
        assert.deepEqual(rows.toSorted(), [at('bulk-a'), at('bulk-b')]);
      },
      'they are deleted by force': async () => {
        const requestBody = { parent, filter: 'agent_id="bulk-agent"', force: true, maxDeleteCount: 10 };
        const { data } = await c.conversations.bulkDelete({ parent, requestBody });
        s.operation = given(data.name, 'name');
        await done(c, data);
      },
      'both are gone': async () => {
        for (const id of ['bulk-a', 'bulk-b']) await refused(c.conversations.get({ name: at(id) }), 404);
      },
      'the third is not': async () =>
        assert.equal((await c.conversations.get({ name: at('bulk-c') })).data.agentId, 'other-agent'),
    }),

    'a conversation is uploaded': (c, s) => ({
      uploaded: async () => {
        const conversation: Conversation = { medium: 'CHAT', agentId: 'uploader', dataSource: { gcsSource: { transcriptUri } } };
        const { data } = await c.conversations.upload({
          parent,
          requestBody: { parent, conversationId: 'uploaded', conversation },
        });
        s.operation = given(data.name, 'name');
        assert.equal((await done(c, data)).name, at('uploaded'));
      },
      'the conversation is there': async () => {
        const { data } = await c.conversations.get({ name: at('uploaded') });
        assert.deepEqual([data.name, data.agentId, data.medium], [at('uploaded'), 'uploader', 'CHAT']);
      },
      'its operation is read': async () => {
        const { data } = await c.operations.get({ name: s.operation });
        assert.deepEqual([data.name, data.done], [s.operation, true]);
      },
      'and listed': async () => {
        const { data } = await c.operations.list({ name: parent });
        once(names(given(data.operations, 'operations')), [s.operation], 'operations');
      },
      'one that is not there': () => refused(c.operations.get({ name: `${parent}/operations/123456789` }), 404),
      'nor is it cancelled': () => refused(c.operations.cancel({ name: `${parent}/operations/123456789` }), 404),
    }),

    'an issue model, from the first to the last day': (c, s) => ({
      made: async () => {
        s.name = await model(c, 'Topics of chats');
        assert.ok(s.name.startsWith(`${parent}/issueModels/`), s.name);
      },
      read: async () => {
        const { data } = await c.issueModels.get({ name: s.name });
        assert.deepEqual([data.name, data.displayName, data.state], [s.name, 'Topics of chats', 'UNDEPLOYED']);
        assert.equal(data.inputDataConfig?.filter, 'medium="CHAT"');
      },
      'is in the list': async () =>
        once(names((await c.issueModels.list({ parent })).data.issueModels ?? []), [s.name], 'models'),
      'another name': async () => {
        const requestBody: Model = { displayName: 'Chats' };
        const { data } = await c.issueModels.patch({ name: s.name, updateMask: 'displayName', requestBody });
        assert.deepEqual([data.name, data.displayName], [s.name, 'Chats']);
      },
      deployed: async () => {
        await done(c, (await c.issueModels.deploy({ name: s.name, requestBody: { name: s.name } })).data);
        assert.equal((await c.issueModels.get({ name: s.name })).data.state, 'DEPLOYED');
      },
      'its statistics, and the issues it found': async () => {
        given((await c.issueModels.calculateIssueModelStats({ issueModel: s.name })).data, 'answer');
        const { data } = await c.issueModels.issues.list({ parent: s.name });
        for (const name of names(data.issues ?? [])) assert.ok(name.startsWith(`${s.name}/issues/`), name);
      },
      undeployed: async () => {
        await done(c, (await c.issueModels.undeploy({ name: s.name, requestBody: { name: s.name } })).data);
        assert.equal((await c.issueModels.get({ name: s.name })).data.state, 'UNDEPLOYED');
      },
      'deleted, and gone': async () => {
        await done(c, (await c.issueModels.delete({ name: s.name })).data);
        await refused(c.issueModels.get({ name: s.name }), 404);
      },
    }),

    'wrong requests': (c) => ({
      'an identifier that may not be': async () => {
        await refused(conversation(c, 'no'), 400);
        await refused(conversation(c, 'Not_A_Conversation!'), 400);
      },
      'a conversation of no known medium': async () => {
        await refused(conversation(c, 'wrong-medium', { medium: 'SMOKE' }), 400);
        await refused(c.conversations.get({ name: at('wrong-medium') }), 404);
      },
      'one that is there already': async () => {
        await conversation(c, 'there-already', { agentId: 'first' });
        await refused(conversation(c, 'there-already', { agentId: 'second' }), 409);
        assert.equal((await c.conversations.get({ name: at('there-already') })).data.agentId, 'first');
      },
      'fewer on a page than none': () => refused(c.conversations.list({ parent, pageSize: -1 }), 400),
      'a page that no answer told of': () => refused(c.conversations.list({ parent, pageToken: 'no-such-token!' }), 400),
      'a phrase matcher of no known type, or of none': async () => {
        await refused(matcher(c, { type: 'SOME_OF' }), 400);
        await refused(c.phraseMatchers.create({ parent, requestBody: { displayName: 'untyped' } }), 400);
      },
      'a view without a value': () => refused(c.views.create({ parent, requestBody: { displayName: 'Empty', value: '' } }), 400),
    }),

    'what is not there': (c) => ({
      'a conversation': () => refused(c.conversations.get({ name: at('nowhere') }), 404),
      'changing it': () =>
        refused(c.conversations.patch({ name: at('nowhere'), updateMask: 'agentId', requestBody: { agentId: 'a' } }), 404),
      'deleting it': () => refused(c.conversations.delete({ name: at('nowhere') }), 404),
      'analysing it': () => refused(c.conversations.analyses.create({ parent: at('nowhere'), requestBody: {} }), 404),
      'a phrase matcher': () => refused(c.phraseMatchers.get({ name: `${parent}/phraseMatchers/123456` }), 404),
      'a view': () => refused(c.views.delete({ name: `${parent}/views/123456` }), 404),
      'an issue model': () => refused(c.issueModels.get({ name: `${parent}/issueModels/123456` }), 404),
    }),

    'a credential that is refused': (c, _s, another) => ({
      'a conversation': () => conversation(c, 'guarded', { agentId: 'keeper' }),
      'not read by another': () => refused(another('ya29.no-one').conversations.get({ name: at('guarded') }), 401),
      'not listed by another': () => refused(another('ya29.no-one').conversations.list({ parent }), 401),
      'none made by another': () => refused(conversation(another('ya29.no-one'), 'sneaked'), 401),
      'not deleted by another': () => refused(another('ya29.no-one').conversations.delete({ name: at('guarded') }), 401),
      'it is still there, and alone': async () => {
        assert.equal((await c.conversations.get({ name: at('guarded') })).data.agentId, 'keeper');
        await refused(c.conversations.get({ name: at('sneaked') }), 404);
      },
    }),
  },
};
