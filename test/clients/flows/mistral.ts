import assert from 'node:assert/strict';
import { Mistral } from '@mistralai/mistralai';
import { gather, given, numbered, once, type Place, refused, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): Mistral =>
  new Mistral({ apiKey: token, serverURL: place.url, retryConfig: { strategy: 'none' } });

const model = 'mistral-small-latest';
const messages = [{ role: 'user' as const, content: 'Who is the best French painter? Answer in one short sentence.' }];

const agent = async (mistral: Mistral, name: string): Promise<string> =>
  given((await mistral.beta.agents.create({ model, name })).id, 'id');

const lines = '{"custom_id": "0", "body": {"messages": [{"role": "user", "content": "Hello"}]}}\n';

const upload = async (mistral: Mistral, fileName: string): Promise<string> => {
  const file = { fileName, content: new Blob([lines], { type: 'application/jsonl' }) };
  return given((await mistral.files.upload({ file, purpose: 'batch' })).id, 'id');
};

const nobody = '5f4d3c1c-7b1b-4d7d-a97e-6095715c6632';

/** Guide: docs.mistral.ai, "Chat completion", "Agents", "Libraries", "Batch inference" and the API reference. */
export const vendor: Vendor<Mistral> = {
  document: 'mistral/openapi.yaml',
  header: 'Authorization',
  word: 'Bearer',
  made: 'made-up-key',
  client: connect,
  flows: {
    'a chat is completed': (mistral) => ({
      complete: async () => {
        const answer = await mistral.chat.complete({ model, messages });
        assert.equal(answer.object, 'chat.completion');
        const [choice] = given(answer.choices, 'choices');
        assert.equal(given(choice?.message, 'message').role, 'assistant');
        assert.equal(typeof answer.usage.promptTokens, 'number');
      },
    }),
    'a chat is streamed': (mistral) => ({
      stream: async () => {
        const events = await gather(await mistral.chat.stream({ model, messages }), (event) => [event], 200);
        assert.ok(events.length > 0, 'the stream has no events');
        for (const { data } of events) assert.ok(Array.isArray(data.choices));
      },
    }),
    'texts are embedded': (mistral) => ({
      embed: async () => {
        const answer = await mistral.embeddings.create({
          model: 'mistral-embed',
          inputs: ['Embed this sentence.', 'And this one.'],
        });
        assert.equal(answer.object, 'list');
        assert.ok(answer.data.length > 0, 'no embedding');
        for (const { embedding } of answer.data)
          assert.ok(Array.isArray(embedding) && embedding.length > 0, 'an empty embedding');
      },
    }),
    'models are listed': (mistral, s) => ({
      list: async () => {
        const answer = await mistral.models.list();
        assert.equal(answer.object, 'list');
        const [first] = given(answer.data, 'data');
        s.id = (given(first, 'model') as { id: string }).id;
      },
      'read the first': async () => assert.partialDeepStrictEqual(await mistral.models.retrieve({ modelId: s.id }), { id: s.id }),
    }),
    'an agent is made, changed and deleted': (mistral, s) => ({
      create: async () => {
        const made = await mistral.beta.agents.create({
          model,
          name: 'Simple Agent',
          description: 'Answers',
          instructions: 'Be brief',
        });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.name, made.model, made.description], ['Simple Agent', model, 'Answers']);
      },
      read: async () => assert.equal((await mistral.beta.agents.get({ agentId: s.id })).instructions, 'Be brief'),
      change: async () => {
        const made = await mistral.beta.agents.update({ agentId: s.id, updateAgentRequest: { description: 'Answers well' } });
        assert.equal(made.description, 'Answers well');
      },
      'read the change and the name': async () => {
        const read = await mistral.beta.agents.get({ agentId: s.id });
        assert.deepEqual([read.description, read.name], ['Answers well', 'Simple Agent']);
      },
      delete: async () => mistral.beta.agents.delete({ agentId: s.id }),
      gone: async () => refused(mistral.beta.agents.get({ agentId: s.id }), 404),
    }),
    'agents through all pages': (mistral, s) => ({
      create: async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = await agent(mistral, `Agent ${n}`);
      },
      'walk pages of two': async () => {
        const rows = await numbered((page) => mistral.beta.agents.list({ page, pageSize: 2 }), 0);
        once(
          rows.map(({ id }) => id),
          [s.id1, s.id2, s.id3, s.id4, s.id5],
        );
      },
      'a page holds what was asked for': async () => assert.equal((await mistral.beta.agents.list({ pageSize: 2 })).length, 2),
    }),
    'an alias for a version of an agent': (mistral, s) => ({
      create: async () => {
        s.id = await agent(mistral, 'Versioned');
      },
      name: async () => {
        const made = await mistral.beta.agents.createVersionAlias({ agentId: s.id, alias: 'production', version: 0 });
        assert.deepEqual([made.alias, made.version], ['production', 0]);
      },
      list: async () =>
        once(
          (await mistral.beta.agents.listVersionAliases({ agentId: s.id })).map(({ alias }) => alias),
          ['production'],
        ),
      delete: async () => mistral.beta.agents.deleteVersionAlias({ agentId: s.id, alias: 'production' }),
      'gone from the list': async () => assert.deepEqual(await mistral.beta.agents.listVersionAliases({ agentId: s.id }), []),
    }),
    'a library is made and deleted': ({ beta: { libraries } }, s) => ({
      create: async () => {
        const made = await libraries.create({ name: 'Mistral Models', description: 'About models' });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.name, made.description], ['Mistral Models', 'About models']);
      },
      read: async () => assert.equal((await libraries.get({ libraryId: s.id })).name, 'Mistral Models'),
      list: async () =>
        once(
          (await libraries.list()).data.map(({ id }) => id),
          [s.id],
        ),
      delete: async () => libraries.delete({ libraryId: s.id }),
      gone: async () => refused(libraries.get({ libraryId: s.id }), 404),
    }),
    'a file is uploaded, listed and deleted': (mistral, s) => ({
      upload: async () => {
        const file = { fileName: 'batch.jsonl', content: new Blob([lines], { type: 'application/jsonl' }) };
        const made = await mistral.files.upload({ file, purpose: 'batch' });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.filename, made.purpose], ['batch.jsonl', 'batch']);
      },
      read: async () => assert.equal((await mistral.files.retrieve({ fileId: s.id })).filename, 'batch.jsonl'),
      'list through all pages': async () => {
        s.second = await upload(mistral, 'second.jsonl');
        const rows = await numbered(async (page) => (await mistral.files.list({ page, pageSize: 1 })).data, 0);
        once(
          rows.map(({ id }) => id),
          [s.id, s.second],
        );
      },
      delete: async () => assert.equal((await mistral.files.delete({ fileId: s.id })).deleted, true),
      gone: async () => refused(mistral.files.retrieve({ fileId: s.id }), 404),
    }),
    'a batch job is queued and cancelled': ({ batch: { jobs } }, s) => ({
      create: async () => {
        const requests = [{ customId: '0', body: { messages } }];
        const made = await jobs.create({ endpoint: '/v1/chat/completions', model, requests, metadata: { job: 'testing' } });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.endpoint, made.model], ['/v1/chat/completions', model]);
      },
      read: async () => assert.deepEqual((await jobs.get({ jobId: s.id })).metadata, { job: 'testing' }),
      list: async () =>
        once(
          given((await jobs.list()).data, 'data').map(({ id }) => id),
          [s.id],
        ),
      cancel: async () => assert.match((await jobs.cancel({ jobId: s.id })).status, /^CANCEL/),
    }),
    'a conversation is begun, continued and deleted': ({ beta: { conversations } }, s) => ({
      begin: async () => {
        const made = await conversations.start({ model, inputs: 'Who is Albert Einstein?' });
        s.id = given(made.conversationId, 'conversationId');
        assert.equal(made.object, 'conversation.response');
      },
      'go on': async () => {
        const conversationAppendRequest = { inputs: 'Translate to French.' };
        const made = await conversations.append({ conversationId: s.id, conversationAppendRequest });
        assert.equal(made.conversationId, s.id);
      },
      'read the history': async () =>
        assert.equal((await conversations.getHistory({ conversationId: s.id })).conversationId, s.id),
      delete: async () => conversations.delete({ conversationId: s.id }),
      gone: async () => refused(conversations.get({ conversationId: s.id }), 404),
    }),
    'a credential that is refused': (mistral, _s, another) => ({
      'the right one is taken': async () => assert.equal((await mistral.models.list()).object, 'list'),
      'another is refused': async () => refused(another('not-of-this-service').models.list(), 401),
      'another may not write': async () => refused(agent(another('not-of-this-service'), 'Eve'), 401),
    }),
    'requests that are wrong': (mistral) => ({
      'a file that nobody uploaded': async () => refused(mistral.files.retrieve({ fileId: nobody }), 404),
      'a temperature that is too high': async () => refused(mistral.chat.complete({ model, messages, temperature: 9 }), 422, 400),
      'a page that is too large': async () => refused(mistral.beta.agents.list({ pageSize: 5000 }), 422, 400),
      'a library that has no id like this': async () =>
        refused(mistral.beta.libraries.get({ libraryId: 'not-a-uuid' }), 422, 404, 400),
    }),
  },
};
