import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type Made from '@api.video/nodejs-client';
import { given, numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

const load = createRequire(import.meta.url)('@api.video/nodejs-client') as { default?: typeof Made };
const ApiVideoClient = (load.default ?? load) as typeof Made;

/** The client sends its key as the name of a Basic pair without a password. */
const connect = (place: Place, token: string): Made =>
  new ApiVideoClient({ apiKey: Buffer.from(token, 'base64').toString().replace(/:.*/s, ''), baseUri: place.base });

const pair = (key: string): string => Buffer.from(`${key}:`).toString('base64');

const subtitles = Buffer.from('WEBVTT\n\n00:00.000 --> 00:02.000\nGood morning.\n');
const dot = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const video = async (client: Made, title: string): Promise<string> =>
  given((await client.videos.create({ title })).videoId, 'videoId');

const filmed = async (client: Made, s: State): Promise<void> => {
  s.id = await video(client, 'Maths video');
};

/** What api.video says of an error, which the client keeps to itself in its types alone. */
const told = (thrown: unknown): { title?: unknown; status?: unknown } =>
  (thrown as { problemDetails?: { title?: unknown; status?: unknown } }).problemDetails ?? {};

/** Guide: docs.api.video, "Authentication", "Pagination", "Videos", "Live streams", "Captions", "Chapters", "Player themes", "Upload tokens", "Webhooks". */
export const vendor: Vendor<Made> = {
  document: 'api-video/api.video.json',
  header: 'Authorization',
  word: 'Basic',
  made: pair('ap1k3yfl0w5c0rpu5m4d3upk3yf0rth3t3st5'),
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a video is created, read, changed and deleted': (client, s) => ({
      create: async () => {
        const made = await client.videos.create({
          title: 'Maths video',
          description: 'On string theory',
          tags: ['maths', 'string'],
        });
        s.id = given(made.videoId, 'videoId');
        assert.deepEqual([made.title, made.description, made.tags], ['Maths video', 'On string theory', ['maths', 'string']]);
      },
      read: async () => {
        const read = await client.videos.get(s.id);
        assert.deepEqual([read.videoId, read.title], [s.id, 'Maths video']);
      },
      rename: async () => assert.equal((await client.videos.update(s.id, { title: 'Physics video' })).title, 'Physics video'),
      'its tags are as before': async () => {
        const read = await client.videos.get(s.id);
        assert.deepEqual([read.title, read.tags], ['Physics video', ['maths', 'string']]);
      },
      delete: () => client.videos.delete(s.id),
      'it is gone': () => refused(client.videos.get(s.id), 404),
    }),
    'who may see a video, and what is known of it': (client, s) => ({
      'create it private': async () => {
        const made = await client.videos.create({ title: 'Rehearsal', _public: false });
        s.id = given(made.videoId, 'videoId');
        assert.equal(made._public, false);
      },
      'say who wrote it': async () => {
        const changed = await client.videos.update(s.id, { metadata: [{ key: 'Author', value: 'John Doe' }] });
        assert.deepEqual(
          changed.metadata?.map(({ key, value }) => [key, value]),
          [['Author', 'John Doe']],
        );
      },
      'let everybody see it': async () => assert.equal((await client.videos.update(s.id, { _public: true }))._public, true),
      'all of it is read': async () => {
        const read = await client.videos.get(s.id);
        assert.deepEqual([read._public, read.metadata?.[0]?.value], [true, 'John Doe']);
      },
    }),
    'videos page by page': (client, s) => ({
      'create five': async () => {
        const made: string[] = [];
        for (const title of ['One', 'Two', 'Three', 'Four', 'Five']) made.push(await video(client, title));
        s.ids = made.join(',');
      },
      'a page says where it is': async () => {
        const { data, pagination } = await client.videos.list({ currentPage: 2, pageSize: 2 });
        assert.equal(data.length, 2);
        assert.deepEqual(
          [pagination.currentPage, pagination.pageSize, pagination.pagesTotal, pagination.itemsTotal],
          [2, 2, 3, 5],
        );
      },
      'all pages together hold each once': async () => {
        const pages = async (currentPage: number) => {
          const { data, pagination } = await client.videos.list({ currentPage, pageSize: 2 });
          return currentPage > (pagination.pagesTotal ?? 0) ? [] : data.map(({ videoId }) => videoId);
        };
        once(await numbered(pages), s.ids.split(','), 'videos');
      },
      'by their titles': async () => {
        const { data } = await client.videos.list({ sortBy: 'title', sortOrder: 'asc' });
        assert.deepEqual(
          data.map(({ title }) => title),
          ['Five', 'Four', 'One', 'Three', 'Two'],
        );
      },
    }),
    'videos by title and by tag': (client, s) => ({
      'create three': async () => {
        s.first = given((await client.videos.create({ title: 'Captain', tags: ['general', 'space'] })).videoId, 'videoId');
        s.second = given((await client.videos.create({ title: 'Commander', tags: ['space'] })).videoId, 'videoId');
        s.third = given((await client.videos.create({ title: 'Ensign', tags: ['general'] })).videoId, 'videoId');
      },
      'by title': async () => {
        const { data } = await client.videos.list({ title: 'Commander' });
        assert.deepEqual(
          data.map(({ videoId }) => videoId),
          [s.second],
        );
      },
      'by tag': async () => {
        const { data } = await client.videos.list({ tags: ['general'] });
        assert.deepEqual(data.map(({ videoId }) => videoId).sort(), [s.first, s.third].sort());
      },
    }),
    'a video and how far it is': (client, s) => ({
      create: () => filmed(client, s),
      'nothing is uploaded yet': async () => {
        const status = await client.videos.getStatus(s.id);
        assert.equal(status.encoding?.playable, false);
      },
      'a thumbnail': async () => assert.equal((await client.videos.uploadThumbnail(s.id, dot)).videoId, s.id),
      'another, out of the video': async () =>
        assert.equal((await client.videos.pickThumbnail(s.id, { timecode: '00:01:00.000' })).videoId, s.id),
    }),
    'a live stream is created, read, changed and deleted': (client, s) => ({
      create: async () => {
        const made = await client.liveStreams.create({ name: 'My Live Stream', _public: true });
        s.id = given(made.liveStreamId, 'liveStreamId');
        s.key = given(made.streamKey, 'streamKey');
        assert.deepEqual([made.name, made._public, made.broadcasting], ['My Live Stream', true, false]);
      },
      'its key stays': async () => {
        const read = await client.liveStreams.get(s.id);
        assert.deepEqual([read.liveStreamId, read.streamKey], [s.id, s.key]);
      },
      rename: async () =>
        assert.equal((await client.liveStreams.update(s.id, { name: 'My Other Stream' })).name, 'My Other Stream'),
      'found by its key': async () => {
        const { data } = await client.liveStreams.list({ streamKey: s.key });
        assert.deepEqual(
          data.map(({ liveStreamId, name }) => [liveStreamId, name]),
          [[s.id, 'My Other Stream']],
        );
      },
      delete: () => client.liveStreams.delete(s.id),
      'it is gone': () => refused(client.liveStreams.get(s.id), 404),
    }),
    'the thumbnail of a live stream': (client, s) => ({
      create: async () => {
        s.id = given((await client.liveStreams.create({ name: 'With a picture' })).liveStreamId, 'liveStreamId');
      },
      upload: async () => assert.equal((await client.liveStreams.uploadThumbnail(s.id, dot)).liveStreamId, s.id),
      delete: async () => assert.equal((await client.liveStreams.deleteThumbnail(s.id)).liveStreamId, s.id),
      'the stream has its name as before': async () => assert.equal((await client.liveStreams.get(s.id)).name, 'With a picture'),
    }),
    'captions of a video': (client, s) => ({
      'create the video': () => filmed(client, s),
      upload: async () => assert.equal((await client.captions.upload(s.id, 'en', subtitles)).srclang, 'en'),
      'upload French ones': async () => assert.equal((await client.captions.upload(s.id, 'fr', subtitles)).srclang, 'fr'),
      'both are listed': async () => {
        const { data } = await client.captions.list({ videoId: s.id });
        once(
          given(data, 'data').map(({ srclang }) => String(srclang)),
          ['en', 'fr'],
          'captions',
        );
      },
      'the French are shown first': async () => {
        assert.equal((await client.captions.update(s.id, 'fr', { _default: true }))._default, true);
        assert.equal((await client.captions.get(s.id, 'fr'))._default, true);
      },
      'delete the English': () => client.captions.delete(s.id, 'en'),
      'they are gone': () => refused(client.captions.get(s.id, 'en'), 404),
    }),
    'chapters of a video': (client, s) => ({
      'create the video': () => filmed(client, s),
      upload: async () => assert.equal((await client.chapters.upload(s.id, 'en', subtitles)).language, 'en'),
      read: async () => assert.equal((await client.chapters.get(s.id, 'en')).language, 'en'),
      'they are listed': async () => {
        const { data } = await client.chapters.list({ videoId: s.id });
        assert.deepEqual(
          data?.map(({ language }) => language),
          ['en'],
        );
      },
      delete: () => client.chapters.delete(s.id, 'en'),
      'they are gone': () => refused(client.chapters.get(s.id, 'en'), 404),
    }),
    'a player theme is created, changed and deleted': (client, s) => ({
      create: async () => {
        const made = await client.playerThemes.create({ text: 'rgba(255, 255, 255, 1)', enableControls: true, forceLoop: false });
        s.id = given(made.playerId, 'playerId');
        assert.deepEqual([made.text, made.enableControls, made.forceLoop], ['rgba(255, 255, 255, 1)', true, false]);
      },
      'let it loop': async () => assert.equal((await client.playerThemes.update(s.id, { forceLoop: true })).forceLoop, true),
      read: async () => {
        const read = await client.playerThemes.get(s.id);
        assert.deepEqual([read.playerId, read.text, read.forceLoop], [s.id, 'rgba(255, 255, 255, 1)', true]);
      },
      'in the list': async () => {
        const { data } = await client.playerThemes.list();
        once(
          data.map(({ playerId }) => String(playerId)),
          [s.id],
          'player themes',
        );
      },
      delete: () => client.playerThemes.delete(s.id),
      'it is gone': () => refused(client.playerThemes.get(s.id), 404),
    }),
    'a video in a player of its own': (client, s) => ({
      'create both': async () => {
        s.player = given((await client.playerThemes.create({ hideTitle: true })).playerId, 'playerId');
        await filmed(client, s);
      },
      'give it the player': async () =>
        assert.equal((await client.videos.update(s.id, { playerId: s.player })).playerId, s.player),
      'it keeps it': async () => assert.equal((await client.videos.get(s.id)).playerId, s.player),
      'a logo on the player': async () =>
        assert.equal((await client.playerThemes.uploadLogo(s.player, dot, 'https://example.com')).playerId, s.player),
      'and off again': () => client.playerThemes.deleteLogo(s.player),
    }),
    'a token to upload with': (client, s) => ({
      create: async () => {
        const made = await client.uploadTokens.createToken({ ttl: 3600 });
        s.token = given(made.token, 'token');
        assert.equal(made.ttl, 3600);
      },
      read: async () => {
        const read = await client.uploadTokens.getToken(s.token);
        assert.deepEqual([read.token, read.ttl], [s.token, 3600]);
      },
      'in the list': async () => {
        const { data } = await client.uploadTokens.list();
        once(
          data.map(({ token }) => String(token)),
          [s.token],
          'tokens',
        );
      },
      delete: () => client.uploadTokens.deleteToken(s.token),
      'it is gone': () => refused(client.uploadTokens.getToken(s.token), 404),
    }),
    'a webhook is created, read and deleted': (client, s) => ({
      create: async () => {
        const body = { events: ['video.encoding.quality.completed'], url: 'https://example.com/webhooks' };
        const made = await client.webhooks.create(body);
        s.id = given(made.webhookId, 'webhookId');
        assert.deepEqual([made.events, made.url], [body.events, body.url]);
      },
      read: async () => assert.equal((await client.webhooks.get(s.id)).url, 'https://example.com/webhooks'),
      'by its event': async () => {
        await client.webhooks.create({ events: ['live-stream.broadcast.started'], url: 'https://example.com/live' });
        const { data } = await client.webhooks.list({ events: 'video.encoding.quality.completed' });
        assert.deepEqual(
          data?.map(({ webhookId }) => webhookId),
          [s.id],
        );
      },
      delete: () => client.webhooks.delete(s.id),
      'it is gone': () => refused(client.webhooks.get(s.id), 404),
    }),
    'requests that are wrong': (client, s) => ({
      'a video that nobody made': async () => {
        const { title, status } = told(await refused(client.videos.get('vi4k0jvEUuaTdRAEjQ4Jfxxx'), 404));
        assert.equal(typeof title, 'string');
        assert.equal(status, 404);
      },
      'a video without a title': async () => {
        const { title } = told(await refused(client.videos.create({ description: 'No title' } as never), 400));
        assert.equal(typeof title, 'string');
      },
      'a webhook without an address': () => refused(client.webhooks.create({ events: ['video.source.recorded'] } as never), 400),
      'captions of what nobody made': () => refused(client.captions.get('vi4k0jvEUuaTdRAEjQ4Jfyyy', 'en'), 404),
      'captions that are not there': async () => {
        await filmed(client, s);
        await refused(client.captions.get(s.id, 'de'), 404);
      },
    }),
    'a key that is refused': (client, _s, another) => ({
      'the right one is exchanged for a token': async () => assert.equal((await client.getAccessToken()).tokenType, 'Bearer'),
      'a wrong one reads nothing': () => refused(another(pair('wrong')).videos.list(), 401),
      'nor does it create': () => refused(another(pair('wrong')).videos.create({ title: 'Nobody’s' }), 401),
    }),
  },
};
