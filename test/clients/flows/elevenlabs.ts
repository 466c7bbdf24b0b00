import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { ElevenLabsClient } from 'elevenlabs';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

const connect = (place: Place, apiKey: string): ElevenLabsClient => new ElevenLabsClient({ apiKey, baseUrl: place.url });

/** Some sound, as a file to be sent. */
const sound = (name: string): File => new File([Buffer.from(`ID3${'sound '.repeat(20)}`)], name, { type: 'audio/mpeg' });
/** How much sound came. */
const heard = async (stream: Readable): Promise<number> => {
  let bytes = 0;
  for await (const chunk of stream) bytes += chunk.length;
  return bytes;
};

const voice = async (api: ElevenLabsClient, name: string, more: object = {}): Promise<string> =>
  given((await api.voices.add({ name, files: [sound(`${name}.mp3`)], ...more })).voice_id, 'voice_id');
const voices = async (api: ElevenLabsClient): Promise<string[]> =>
  (await api.voices.getAll()).voices.map(({ voice_id }) => voice_id);
const say = async (api: ElevenLabsClient, id: string, text: string): Promise<number> =>
  heard(await api.textToSpeech.convert(id, { text }));
const said = async (api: ElevenLabsClient, text: string): Promise<{ id: string; voice: string }[]> =>
  (await api.history.getAll()).history
    .filter((one) => one.text === text)
    .map((one) => ({ id: one.history_item_id, voice: String(one.voice_id) }));
const samples = async (api: ElevenLabsClient, id: string): Promise<{ id: string; file: string }[]> =>
  given((await api.voices.get(id)).samples, 'samples').map((one) => ({ id: String(one.sample_id), file: String(one.file_name) }));

/** What has gone is refused: the description knows 422 alone, the guide 400 and 404 too. */
const gone = [400, 404, 422] as const;

/** Guide: elevenlabs.io/docs/api-reference, "Authentication", "Voices", "Text to speech", "History", "User". */
export const vendor: Vendor<ElevenLabsClient> = {
  document: 'elevenlabs/elevenlabs.io.json',
  header: 'xi-api-key',
  made: 'sk_2f1d8a7c3b5e4f60918273645a6b7c8d9e0f1a2b3c4d5e6f',
  client: connect,
  flows: {
    'a voice from its making to its end': (api, s) => ({
      create: async () => {
        s.id = await voice(api, 'Anna', { description: 'A calm voice' });
      },
      read: async () => {
        const read = await api.voices.get(s.id);
        assert.deepEqual([read.voice_id, read.name, read.description], [s.id, 'Anna', 'A calm voice']);
      },
      change: async () => api.voices.edit(s.id, { name: 'Anna B.', description: 'A very calm voice' }),
      'it stays changed': async () => {
        const read = await api.voices.get(s.id);
        assert.deepEqual([read.voice_id, read.name, read.description], [s.id, 'Anna B.', 'A very calm voice']);
      },
      delete: async () => api.voices.delete(s.id),
      'it is gone': async () => refused(api.voices.get(s.id), ...gone),
    }),
    'all voices': (api, s) => ({
      'make three': async () => {
        const made = [];
        for (const name of ['Bert', 'Carl', 'Dora']) made.push(await voice(api, name));
        once(made, made, 'made ids');
        s.all = made.join(' ');
      },
      'they are listed': async () => once(await voices(api), s.all.split(' '), 'voices'),
      'with their names': async () => {
        const [first = ''] = s.all.split(' ');
        const found = (await api.voices.getAll()).voices.filter(({ voice_id }) => voice_id === first);
        assert.deepEqual(
          found.map(({ name }) => name),
          ['Bert'],
        );
      },
      'without the deleted one': async () => {
        const [first = '', ...left] = s.all.split(' ');
        await api.voices.delete(first);
        const all = await voices(api);
        once(all, left, 'voices');
        assert.ok(!all.includes(first), 'the deleted voice is still listed');
      },
    }),
    'a voice with labels': (api, s) => ({
      create: async () => {
        s.id = await voice(api, 'Emil', { labels: JSON.stringify({ accent: 'british', age: 'old' }) });
      },
      'they are there': async () => {
        const { labels } = await api.voices.get(s.id);
        assert.deepEqual([labels?.accent, labels?.age], ['british', 'old']);
      },
      'other ones': async () => {
        await api.voices.edit(s.id, { name: 'Emil', labels: JSON.stringify({ accent: 'irish' }) });
        assert.equal((await api.voices.get(s.id)).labels?.accent, 'irish');
      },
    }),
    'how a voice speaks': (api, s) => ({
      'by default': async () => {
        const read = await api.voices.getDefaultSettings();
        assert.deepEqual([typeof read.stability, typeof read.similarity_boost], ['number', 'number']);
      },
      'a voice': async () => {
        s.id = await voice(api, 'Fred');
        const read = await api.voices.getSettings(s.id);
        assert.deepEqual([typeof read.stability, typeof read.similarity_boost], ['number', 'number']);
      },
      change: async () => api.voices.editSettings(s.id, { stability: 0.25, similarity_boost: 0.5 }),
      'it stays changed': async () => {
        const read = await api.voices.getSettings(s.id);
        assert.deepEqual([read.stability, read.similarity_boost], [0.25, 0.5]);
      },
      'the voice says so too': async () => {
        const { settings } = await api.voices.get(s.id, { with_settings: true });
        assert.deepEqual([settings?.stability, settings?.similarity_boost], [0.25, 0.5]);
      },
      'another voice speaks as before': async () => {
        const other = await api.voices.getSettings(await voice(api, 'Gina'));
        const usual = await api.voices.getDefaultSettings();
        assert.deepEqual([other.stability, other.similarity_boost], [usual.stability, usual.similarity_boost]);
      },
    }),
    'what a voice is made of': (api, s) => ({
      'two samples': async () => {
        s.id = await voice(api, 'Hugo', { files: [sound('one.mp3'), sound('two.mp3')] });
      },
      'both are there': async () => {
        const all = await samples(api, s.id);
        assert.deepEqual(all.map(({ file }) => file).sort(), ['one.mp3', 'two.mp3']);
        s.sample = given(
          all.find(({ file }) => file === 'one.mp3'),
          'sample',
        ).id;
      },
      'how one sounds': async () => assert.ok((await heard(await api.samples.getAudio(s.id, s.sample))) > 0, 'no sound'),
      'delete it': async () => {
        await api.samples.delete(s.id, s.sample);
        const all = await samples(api, s.id);
        assert.deepEqual(
          all.map(({ file }) => file),
          ['two.mp3'],
        );
      },
      'it sounds no more': async () => refused(api.samples.getAudio(s.id, s.sample), ...gone),
    }),
    'one more sample': (api, s) => ({
      'a voice': async () => {
        s.id = await voice(api, 'Ida');
      },
      add: async () => api.voices.edit(s.id, { name: 'Ida', files: [sound('more.mp3')] }),
      'it is there': async () => {
        const all = await samples(api, s.id);
        assert.ok(
          all.some(({ file }) => file === 'more.mp3'),
          'the new sample is not listed',
        );
      },
    }),
    'text is spoken': (api, s) => ({
      'a voice': async () => {
        s.id = await voice(api, 'Jan');
      },
      speak: async () => assert.ok((await say(api, s.id, 'Good morning.')) > 0, 'no sound'),
      'with settings of its own': async () => {
        const stream = await api.textToSpeech.convert(s.id, {
          text: 'Good evening.',
          voice_settings: { stability: 0.1, similarity_boost: 0.3 },
        });
        assert.ok((await heard(stream)) > 0, 'no sound');
      },
      'as it comes': async () => {
        const stream = await api.textToSpeech.convertAsStream(s.id, { text: 'Good night.' });
        assert.ok((await heard(stream)) > 0, 'no sound');
      },
    }),
    'what was spoken': (api, s) => ({
      speak: async () => {
        s.voice = await voice(api, 'Karl');
        await say(api, s.voice, 'This is kept.');
      },
      'it is kept': async () => {
        const [kept, ...others] = await said(api, 'This is kept.');
        assert.deepEqual(others, []);
        s.id = given(kept, 'history item').id;
        assert.equal(given(kept, 'history item').voice, s.voice);
      },
      'it is heard again': async () => assert.ok((await heard(await api.history.getAudio(s.id))) > 0, 'no sound'),
      'it is taken home': async () =>
        assert.ok((await heard(await api.history.download({ history_item_ids: [s.id] }))) > 0, 'no sound'),
      delete: async () => api.history.delete(s.id),
      'it is not kept any more': async () => assert.deepEqual(await said(api, 'This is kept.'), []),
    }),
    'much was spoken': (api, s) => ({
      speak: async () => {
        s.voice = await voice(api, 'Lena');
        for (const word of ['One.', 'Two.', 'Three.']) await say(api, s.voice, word);
      },
      'all of it is kept': async () => {
        const all = (await api.history.getAll()).history.filter(({ voice_id }) => voice_id === s.voice);
        assert.deepEqual(all.map(({ text }) => text).sort(), ['One.', 'Three.', 'Two.']);
        s.all = all.map(({ history_item_id }) => history_item_id).join(' ');
      },
      'all of it is taken home': async () =>
        assert.ok((await heard(await api.history.download({ history_item_ids: s.all.split(' ') }))) > 0, 'no sound'),
      'one is deleted': async () => {
        const [first = '', ...left] = s.all.split(' ');
        await api.history.delete(first);
        const ids = (await api.history.getAll()).history.map(({ history_item_id }) => history_item_id);
        once(ids, left, 'history');
        assert.ok(!ids.includes(first), 'the deleted item is still kept');
      },
    }),
    'who pays': (api) => ({
      'who I am': async () => {
        const { subscription } = await api.user.get();
        assert.deepEqual([typeof subscription.tier, typeof subscription.character_count], ['string', 'number']);
      },
      'for what': async () => {
        const read = await api.user.getSubscription();
        assert.deepEqual([typeof read.tier, typeof read.character_limit, typeof read.status], ['string', 'number', 'string']);
      },
      'both say the same': async () => {
        const [{ subscription }, read] = [await api.user.get(), await api.user.getSubscription()];
        assert.deepEqual([subscription.tier, subscription.character_limit], [read.tier, read.character_limit]);
      },
    }),
    'what is wrong': (api) => ({
      'a voice without samples': async () => refused(api.voices.add({ name: 'Nobody', files: [] }), 400, 422),
      'a voice that is not there': async () => refused(api.voices.get('nobodyHasThisVoice'), ...gone),
      'it does not speak': async () => refused(say(api, 'nobodyHasThisVoice', 'Hello?'), ...gone),
      'what nobody said': async () => refused(api.history.getAudio('nobodySaidThis'), ...gone),
    }),
    'a key that is refused': (api, _, another) => ({
      'the right one': async () => assert.equal(typeof (await api.user.get()).subscription.tier, 'string'),
      'a wrong one': async () => refused(another('nobodyHasThisKey').user.get(), 401),
      'it cannot make anything': async () => refused(voice(another('nobodyHasThisKey'), 'Mona'), 401),
    }),
  },
};
