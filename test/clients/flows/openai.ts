import assert from 'node:assert/strict';
import { createReadStream, mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenAIApi as Api, Configuration as Settings } from 'openai';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

const { Configuration, OpenAIApi } = createRequire(import.meta.url)('openai') as {
  Configuration: typeof Settings;
  OpenAIApi: typeof Api;
};

const connect = (place: Place, apiKey: string): Api => new OpenAIApi(new Configuration({ apiKey, basePath: place.base }));

const folder = mkdtempSync(join(tmpdir(), 'openai-flows-'));

/** A file on disk, as the guide's examples give it to the client, which says in its types that it wants a browser's. */
const onDisk = (name: string, content: string | Buffer): File => {
  writeFileSync(join(folder, name), content);
  return createReadStream(join(folder, name)) as unknown as File;
};

const examples = '{"prompt": "Lorem ipsum ->", "completion": " dolor"}\n{"prompt": "Sit ->", "completion": " amet"}\n';

/** The smallest PNG: one transparent dot. */
const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const upload = async (openai: Api, name: string): Promise<string> =>
  (await openai.createFile(onDisk(name, examples), 'fine-tune')).data.id;

const training = async (openai: Api, s: State): Promise<void> => {
  s.file = await upload(openai, 'examples.jsonl');
};

const ids = (rows: readonly { id: string }[]): string[] => rows.map((row) => row.id);

/** What OpenAI says of an error, which the client keeps whole. */
const told = (thrown: unknown): { message?: unknown; type?: unknown } =>
  (thrown as { response: { data: { error?: { message?: unknown; type?: unknown } } } }).response.data.error ?? {};

/** Guide: platform.openai.com/docs, of spring 2023: "Making requests", "Chat", "Completions", "Files", "Fine-tunes", "Error codes". */
export const vendor: Vendor<Api> = {
  document: 'openai/openai.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'sk-0123456789abcdefghijT3BlbkFJ0123456789abcdefghij',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a file is uploaded, read and deleted': (openai, s) => ({
      upload: async () => {
        const { data: made } = await openai.createFile(onDisk('puppies.jsonl', examples), 'fine-tune');
        s.id = made.id;
        assert.deepEqual([made.object, made.filename, made.purpose], ['file', 'puppies.jsonl', 'fine-tune']);
        assert.equal(made.bytes, Buffer.byteLength(examples));
      },
      read: async () => {
        const { data: read } = await openai.retrieveFile(s.id);
        assert.deepEqual([read.id, read.filename], [s.id, 'puppies.jsonl']);
      },
      'in the list': async () => {
        const { data: list } = await openai.listFiles();
        assert.equal(list.object, 'list');
        once(ids(list.data), [s.id], 'files');
      },
      'delete says that it did': async () => {
        const { data: ended } = await openai.deleteFile(s.id);
        assert.deepEqual([ended.id, ended.deleted], [s.id, true]);
      },
      'it is gone': () => refused(openai.retrieveFile(s.id), 404),
      'and not in the list': async () => assert.ok(!ids((await openai.listFiles()).data.data).includes(s.id)),
    }),
    'what a file holds': (openai, s) => ({
      upload: async () => {
        s.id = await upload(openai, 'kittens.jsonl');
      },
      'is given back': async () => {
        const { data } = await openai.downloadFile(s.id, { responseType: 'text', transformResponse: (text: string) => text });
        assert.equal(data, examples);
      },
      'not when it is deleted': async () => {
        await openai.deleteFile(s.id);
        await refused(openai.downloadFile(s.id), 404);
      },
    }),
    'three files side by side': (openai, s) => ({
      upload: async () => {
        const made: string[] = [];
        for (const name of ['one.jsonl', 'two.jsonl', 'three.jsonl']) made.push(await upload(openai, name));
        assert.equal(new Set(made).size, 3);
        s.ids = made.join(',');
      },
      'each once in the list': async () => once(ids((await openai.listFiles()).data.data), s.ids.split(','), 'files'),
      'one deleted, the others stay': async () => {
        const [first, ...others] = s.ids.split(',');
        await openai.deleteFile(given(first, 'file'));
        const rows = ids((await openai.listFiles()).data.data);
        assert.ok(!rows.includes(given(first, 'file')));
        once(rows, others, 'files');
      },
    }),
    'a model is tuned': (openai, s) => ({
      'upload the examples': () => training(openai, s),
      start: async () => {
        const { data: made } = await openai.createFineTune({ training_file: s.file, model: 'curie' });
        s.id = made.id;
        assert.deepEqual([made.object, made.model], ['fine-tune', 'curie']);
        assert.deepEqual(ids(made.training_files), [s.file]);
      },
      'it waits for its turn': async () => {
        const { data: read } = await openai.retrieveFineTune(s.id);
        assert.equal(read.id, s.id);
        assert.ok(['pending', 'running', 'succeeded'].includes(read.status), read.status);
      },
      'in the list': async () => once(ids((await openai.listFineTunes()).data.data), [s.id], 'fine-tunes'),
      'what has happened so far': async () => {
        const { data: events } = await openai.listFineTuneEvents(s.id);
        assert.equal(events.object, 'list');
        for (const event of events.data) assert.equal(event.object, 'fine-tune-event');
      },
    }),
    'tuning is cancelled': (openai, s) => ({
      'upload the examples': () => training(openai, s),
      start: async () => {
        s.id = (await openai.createFineTune({ training_file: s.file })).data.id;
      },
      cancel: async () => {
        const { data: ended } = await openai.cancelFineTune(s.id);
        assert.deepEqual([ended.id, ended.status], [s.id, 'cancelled']);
      },
      'it stays so': async () => assert.equal((await openai.retrieveFineTune(s.id)).data.status, 'cancelled'),
    }),
    'a second file tells how good the tuned model is': (openai, s) => ({
      'upload both': async () => {
        await training(openai, s);
        s.check = await upload(openai, 'checks.jsonl');
      },
      start: async () => {
        const body = { training_file: s.file, validation_file: s.check, model: 'ada', suffix: 'custom-model-name' };
        const { data: made } = await openai.createFineTune(body);
        s.id = made.id;
        assert.deepEqual(ids(made.training_files), [s.file]);
        assert.deepEqual(ids(made.validation_files), [s.check]);
      },
      'read so': async () => {
        const { data: read } = await openai.retrieveFineTune(s.id);
        assert.deepEqual([read.model, read.validation_files[0]?.filename], ['ada', 'checks.jsonl']);
      },
    }),
    'a conversation': (openai) => ({
      'one answer': async () => {
        const { data } = await openai.createChatCompletion({
          model: 'gpt-3.5-turbo',
          messages: [
            { role: 'system', content: 'You are a helpful assistant.' },
            { role: 'user', content: 'Who won the world series in 2020?' },
          ],
        });
        assert.equal(data.object, 'chat.completion');
        assert.equal(data.choices.length, 1);
        assert.equal(data.choices[0]?.message?.role, 'assistant');
        assert.equal(typeof data.choices[0]?.message?.content, 'string');
      },
      'two answers': async () => {
        const messages = [{ role: 'user' as const, content: 'Hello!' }];
        const { data } = await openai.createChatCompletion({ model: 'gpt-3.5-turbo', messages, n: 2 });
        assert.deepEqual(
          data.choices.map(({ index }) => index),
          [0, 1],
        );
      },
      'what it cost adds up': async () => {
        const messages = [{ role: 'user' as const, content: 'Where was it played?' }];
        const { usage } = (await openai.createChatCompletion({ model: 'gpt-3.5-turbo', messages })).data;
        assert.equal(usage?.total_tokens, (usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
      },
      'no answer without a message': async () => {
        const body = { model: 'gpt-3.5-turbo' } as Parameters<typeof openai.createChatCompletion>[0];
        await refused(openai.createChatCompletion(body), 400);
      },
    }),
    'a text is continued': (openai) => ({
      'one way': async () => {
        const { data } = await openai.createCompletion({
          model: 'text-davinci-003',
          prompt: 'Say this is a test',
          max_tokens: 7,
        });
        assert.deepEqual([data.object, data.model], ['text_completion', 'text-davinci-003']);
        assert.equal(typeof data.choices[0]?.text, 'string');
      },
      'three ways': async () => {
        const { data } = await openai.createCompletion({ model: 'text-davinci-003', prompt: 'Once upon a time', n: 3 });
        assert.deepEqual(
          data.choices.map(({ index }) => index),
          [0, 1, 2],
        );
      },
      'each has an id of its own': async () => {
        const body = { model: 'text-davinci-003', prompt: 'Again' };
        const [one, two] = [(await openai.createCompletion(body)).data.id, (await openai.createCompletion(body)).data.id];
        assert.notEqual(one, two);
      },
    }),
    'a text is corrected': (openai) => ({
      'by an instruction': async () => {
        const body = {
          model: 'text-davinci-edit-001',
          input: 'What day of the wek is it?',
          instruction: 'Fix the spelling mistakes',
        };
        const { data } = await openai.createEdit(body);
        assert.equal(data.object, 'edit');
        assert.equal(typeof data.choices[0]?.text, 'string');
      },
      'in two ways': async () => {
        const body = { model: 'text-davinci-edit-001', input: 'What day of the wek is it?', instruction: 'Fix it', n: 2 };
        assert.equal((await openai.createEdit(body)).data.choices.length, 2);
      },
      'not without one': async () => {
        const body = { model: 'text-davinci-edit-001', input: 'wek' } as Parameters<typeof openai.createEdit>[0];
        await refused(openai.createEdit(body), 400);
      },
    }),
    'texts as vectors': (openai) => ({
      'of one': async () => {
        const { data } = await openai.createEmbedding({ model: 'text-embedding-ada-002', input: 'The food was delicious' });
        assert.equal(data.object, 'list');
        assert.deepEqual([data.data.length, data.data[0]?.object, data.data[0]?.index], [1, 'embedding', 0]);
      },
      'of two, in their order': async () => {
        const { data } = await openai.createEmbedding({ model: 'text-embedding-ada-002', input: ['the waiter', 'the food'] });
        assert.deepEqual(
          data.data.map(({ index }) => index),
          [0, 1],
        );
      },
      'not of nothing': async () => {
        const body = { model: 'text-embedding-ada-002' } as Parameters<typeof openai.createEmbedding>[0];
        await refused(openai.createEmbedding(body), 400);
      },
    }),
    'texts are looked at': (openai) => ({
      'one text': async () => {
        const { data } = await openai.createModeration({ input: 'I like trains.' });
        assert.equal(data.results.length, 1);
        assert.equal(typeof data.results[0]?.flagged, 'boolean');
        assert.equal(typeof data.results[0]?.categories.violence, 'boolean');
        assert.equal(typeof data.results[0]?.category_scores.violence, 'number');
      },
      'two texts': async () => {
        const { data } = await openai.createModeration({ input: ['I like trains.', 'I like boats.'] });
        assert.equal(data.results.length, 2);
      },
      'not nothing': async () => {
        await refused(openai.createModeration({} as Parameters<typeof openai.createModeration>[0]), 400);
      },
    }),
    'pictures are made': (openai) => ({
      'one, found at an address': async () => {
        const { data } = await openai.createImage({ prompt: 'A cute baby sea otter' });
        assert.equal(data.data.length, 1);
        assert.match(String(data.data[0]?.url), /^https?:/);
      },
      'two at once': async () => {
        const { data } = await openai.createImage({ prompt: 'A cute baby sea otter', n: 2, size: '256x256' });
        assert.equal(data.data.length, 2);
      },
      'another like one': async () => {
        const { data } = await openai.createImageVariation(onDisk('otter.png', dot), 1, '256x256');
        assert.equal(data.data.length, 1);
      },
      'not of a size there is not': () =>
        refused(openai.createImage({ prompt: 'A cute baby sea otter', size: '100x100' as '256x256' }), 400),
    }),
    'speech becomes text': (openai) => ({
      'as it was said': async () => {
        const { data } = await openai.createTranscription(onDisk('german.mp3', Buffer.from('ID3')), 'whisper-1');
        assert.equal(typeof data.text, 'string');
      },
      'in English': async () => {
        const { data } = await openai.createTranslation(onDisk('german.mp3', Buffer.from('ID3')), 'whisper-1');
        assert.equal(typeof data.text, 'string');
      },
      'said to be German': async () => {
        const file = onDisk('german.mp3', Buffer.from('ID3'));
        const { data } = await openai.createTranscription(file, 'whisper-1', 'Guten Tag', 'json', 0, 'de');
        assert.equal(typeof data.text, 'string');
      },
    }),
    'which models there are': (openai, s) => ({
      list: async () => {
        const { data: list } = await openai.listModels();
        s.id = given(list.data[0], 'model').id;
        assert.equal(list.object, 'list');
      },
      'one of them': async () => {
        const { data: read } = await openai.retrieveModel(s.id);
        assert.deepEqual([read.id, read.object], [s.id, 'model']);
      },
      'one there is not': async () => {
        const { message, type } = told(await refused(openai.retrieveModel('no-such-model'), 404));
        assert.deepEqual([typeof message, typeof type], ['string', 'string']);
      },
    }),
    'requests that are wrong': (openai) => ({
      'a file that nobody uploaded': async () => {
        const { message, type } = told(await refused(openai.retrieveFile('file-XjGxS3KTG0uNmNOK362iJua3'), 404));
        assert.deepEqual([typeof message, typeof type], ['string', 'string']);
      },
      'a fine-tune that nobody started': () => refused(openai.retrieveFineTune('ft-AF1WoRqd3aJAHsqc9NY7iL8F'), 404),
      'a fine-tune of nothing': async () => {
        const body = { model: 'curie' } as Parameters<typeof openai.createFineTune>[0];
        const { message } = told(await refused(openai.createFineTune(body), 400));
        assert.equal(typeof message, 'string');
      },
      'a second deletion': async () => {
        const id = await upload(openai, 'twice.jsonl');
        await openai.deleteFile(id);
        await refused(openai.deleteFile(id), 404);
      },
    }),
    'a key that is refused': (openai, _s, another) => ({
      'the right one is taken': () => openai.listFiles(),
      'a wrong one is not': async () => {
        const { message } = told(await refused(another('sk-wrong').listFiles(), 401));
        assert.equal(typeof message, 'string');
      },
      'nor does it upload': () => refused(upload(another('sk-wrong'), 'nobodys.jsonl'), 401),
    }),
  },
};
