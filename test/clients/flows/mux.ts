import assert from 'node:assert/strict';
import Mux from '@mux/mux-node';
import { gather, given, numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/** The header has the id and the secret of an access token, and a colon between them, in Base64. */
const connect = (place: Place, token: string): Mux => {
  const [tokenId = '', ...secret] = Buffer.from(token, 'base64').toString().split(':');
  return new Mux({ baseURL: place.base, tokenId, tokenSecret: secret.join(':'), maxRetries: 0 });
};

const pair = (id: string, secret: string): string => Buffer.from(`${id}:${secret}`).toString('base64');

type NewAsset = Mux.Video.AssetCreateParams;
const input = [{ url: 'https://muxed.s3.amazonaws.com/leds.mp4' }];

/** An asset from a URL; the client of today calls its sources `inputs`, the guide and the description `input`. */
const asset = (mux: Mux, asked: Partial<NewAsset> = {}): Promise<Mux.Video.Asset> =>
  mux.video.assets.create({ input, playback_policy: ['public'], ...asked } as NewAsset);

/** A numbered page of assets: the client's own type knows its cursor alone. */
const assets = async (mux: Mux, page: number, limit: number): Promise<Mux.Video.Asset[]> =>
  (await mux.video.assets.list({ page, limit } as Mux.Video.AssetListParams)).data;

const stream = async (mux: Mux, s: State, passthrough = 'studio'): Promise<void> => {
  const made = await mux.video.liveStreams.create({
    playback_policy: ['public'],
    new_asset_settings: { playback_policy: ['public'] },
    passthrough,
  });
  s.id = made.id;
  s.key = given(made.stream_key, 'stream_key');
};

const ids = (rows: readonly { id?: string }[] | undefined): string[] => (rows ?? []).map(({ id }) => given(id, 'id'));

const page = <Row>({ data }: { data: Row[] }): Row[] => data;

/** Mux keeps an error in `error`: its type and its messages. */
const type = (thrown: unknown): unknown => (thrown as { error?: { error?: { type?: unknown } } }).error?.error?.type;

/** Guide: docs.mux.com, "Make API requests", "Stream video files", "Start live streaming", "Upload files directly", "Secure video playback". */
export const vendor: Vendor<Mux> = {
  document: 'mux/mux.com.json',
  header: 'Authorization',
  word: 'Basic',
  made: pair('7ac1c4b2-5a8f-4c5e-9b7e-0f5b3a1c2d4e', 'bXV4LXNlY3JldC1mb3ItdGVzdHM'),
  client: connect,
  flows: {
    'an asset is made from a file, named and deleted': (mux, s) => ({
      create: async () => {
        const made = await asset(mux, { passthrough: 'intro' });
        s.id = made.id;
        assert.deepEqual([made.passthrough, made.playback_ids?.length], ['intro', 1]);
        assert.equal(made.playback_ids?.[0]?.policy, 'public');
      },
      read: async () => {
        const read = await mux.video.assets.retrieve(s.id);
        assert.deepEqual([read.id, read.passthrough], [s.id, 'intro']);
      },
      rename: async () =>
        assert.equal(
          (await mux.video.assets.update(s.id, { passthrough: 'intro, second cut' })).passthrough,
          'intro, second cut',
        ),
      'it keeps its new name, and what it had': async () => {
        const read = await mux.video.assets.retrieve(s.id);
        assert.deepEqual([read.passthrough, read.playback_ids?.length], ['intro, second cut', 1]);
      },
      delete: async () => mux.video.assets.delete(s.id),
      'it is gone': async () => assert.equal(type(await refused(mux.video.assets.retrieve(s.id), 404)), 'not_found'),
      'it is not listed': async () => assert.ok(!ids(await assets(mux, 1, 100)).includes(s.id)),
    }),
    'assets through numbered pages': (mux, s) => ({
      'create five': async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = (await asset(mux, { passthrough: `part ${n}` })).id;
      },
      'pages of two, until one is empty': async () => {
        const rows = await numbered((n) => assets(mux, n, 2));
        once(ids(rows), [s.id1, s.id2, s.id3, s.id4, s.id5], 'pages');
      },
      'a page holds what was asked for': async () => assert.equal((await assets(mux, 1, 2)).length, 2),
      'the second page has others than the first': async () => {
        const first = ids(await assets(mux, 1, 2));
        const second = ids(await assets(mux, 2, 2));
        assert.deepEqual(
          second.filter((id) => first.includes(id)),
          [],
        );
      },
    }),
    'a playback ID of an asset': (mux, s) => ({
      'create an asset that has none': async () => {
        s.id = (await asset(mux, { playback_policy: [] })).id;
      },
      'add one': async () => {
        const made = await mux.video.assets.createPlaybackId(s.id, { policy: 'signed' });
        s.playback = made.id;
        assert.equal(made.policy, 'signed');
      },
      'read it': async () => {
        const read = await mux.video.assets.retrievePlaybackId(s.id, s.playback);
        assert.deepEqual([read.id, read.policy], [s.playback, 'signed']);
      },
      'the asset has it': async () => once(ids((await mux.video.assets.retrieve(s.id)).playback_ids), [s.playback]),
      'it leads to the asset': async () => {
        const { object } = await mux.video.playbackIds.retrieve(s.playback);
        assert.deepEqual([object.id, object.type], [s.id, 'asset']);
      },
      'take it away': async () => mux.video.assets.deletePlaybackId(s.id, s.playback),
      'it is gone': async () => {
        await refused(mux.video.assets.retrievePlaybackId(s.id, s.playback), 404);
      },
      'the asset has it no more': async () =>
        assert.ok(!ids((await mux.video.assets.retrieve(s.id)).playback_ids).includes(s.playback)),
    }),
    'subtitles for an asset': (mux, s) => ({
      'create the asset': async () => {
        s.id = (await asset(mux)).id;
      },
      'add a track': async () => {
        const asked = { type: 'text', text_type: 'subtitles', language_code: 'fr', name: 'Français' } as const;
        const made = await mux.video.assets.createTrack(s.id, { ...asked, url: 'https://example.com/fr.vtt' });
        s.track = given(made.id, 'id');
        assert.partialDeepStrictEqual(made, asked);
      },
      'the asset has the track': async () => once(ids((await mux.video.assets.retrieve(s.id)).tracks), [s.track], 'tracks'),
      'remove it': async () => mux.video.assets.deleteTrack(s.id, s.track),
      'a track needs its URL': async () => {
        const asked = { type: 'text', text_type: 'subtitles', language_code: 'fr' } as Mux.Video.AssetCreateTrackParams;
        await refused(mux.video.assets.createTrack(s.id, asked), 400);
      },
    }),
    'a live stream is made, changed and deleted': (mux, s) => ({
      create: async () => {
        const made = await mux.video.liveStreams.create({
          playback_policy: ['public'],
          new_asset_settings: { playback_policy: ['public'] },
          latency_mode: 'standard',
          reconnect_window: 30,
        });
        s.id = made.id;
        assert.deepEqual([made.status, made.reconnect_window, made.latency_mode], ['idle', 30, 'standard']);
        assert.deepEqual([typeof made.stream_key, made.playback_ids?.length], ['string', 1]);
      },
      read: async () => {
        const read = await mux.video.liveStreams.retrieve(s.id);
        assert.deepEqual([read.id, read.status, read.reconnect_window], [s.id, 'idle', 30]);
      },
      change: async () => {
        const changed = await mux.video.liveStreams.update(s.id, { passthrough: 'evening show', reconnect_window: 120 });
        assert.deepEqual([changed.passthrough, changed.reconnect_window], ['evening show', 120]);
      },
      'it is listed as changed': async () => {
        const { data } = await mux.video.liveStreams.list();
        assert.deepEqual(
          data.filter(({ id }) => id === s.id).map(({ passthrough, latency_mode }) => [passthrough, latency_mode]),
          [['evening show', 'standard']],
        );
      },
      delete: async () => mux.video.liveStreams.delete(s.id),
      'it is gone': async () => assert.equal(type(await refused(mux.video.liveStreams.retrieve(s.id), 404)), 'not_found'),
    }),
    'a live stream is disabled and enabled': (mux, s) => ({
      create: async () => stream(mux, s),
      disable: async () => mux.video.liveStreams.disable(s.id),
      'it is disabled': async () => assert.equal((await mux.video.liveStreams.retrieve(s.id)).status, 'disabled'),
      enable: async () => mux.video.liveStreams.enable(s.id),
      'it is idle': async () => assert.equal((await mux.video.liveStreams.retrieve(s.id)).status, 'idle'),
    }),
    'a live stream gets another key': (mux, s) => ({
      create: async () => stream(mux, s),
      reset: async () => {
        const reset = await mux.video.liveStreams.resetStreamKey(s.id);
        assert.equal(reset.id, s.id);
        assert.notEqual(reset.stream_key, s.key);
        s.fresh = given(reset.stream_key, 'stream_key');
      },
      'it keeps the new one': async () => {
        const read = await mux.video.liveStreams.retrieve(s.id);
        assert.deepEqual([read.stream_key, read.passthrough], [s.fresh, 'studio']);
      },
    }),
    'live streams, as the client walks them': (mux, s) => ({
      'create three': async () => {
        for (const n of [1, 2, 3]) {
          await stream(mux, s, `camera ${n}`);
          s[`id${n}`] = s.id;
        }
      },
      'pages of two': async () => {
        const walk = (await mux.video.liveStreams.list({ limit: 2 })).iterPages();
        once(ids(await gather(walk, page)), [s.id1, s.id2, s.id3], 'pages');
      },
      'the one with a key': async () => {
        const { data } = await mux.video.liveStreams.list({ stream_key: s.key });
        assert.deepEqual(ids(data), [s.id3]);
      },
    }),
    'a live stream is sent elsewhere too': (mux, s) => ({
      create: async () => stream(mux, s),
      'add a target': async () => {
        const asked = { url: 'rtmp://live.example.com/app', stream_key: 'abcdefgh', passthrough: 'Example' };
        const made = await mux.video.liveStreams.createSimulcastTarget(s.id, asked);
        s.target = made.id;
        assert.partialDeepStrictEqual(made, { ...asked, status: 'idle' });
      },
      'read it': async () => {
        const read = await mux.video.liveStreams.retrieveSimulcastTarget(s.id, s.target);
        assert.deepEqual([read.id, read.url, read.passthrough], [s.target, 'rtmp://live.example.com/app', 'Example']);
      },
      'the stream has it': async () =>
        once(ids((await mux.video.liveStreams.retrieve(s.id)).simulcast_targets), [s.target], 'targets'),
      'remove it': async () => mux.video.liveStreams.deleteSimulcastTarget(s.id, s.target),
      'it is gone': async () => {
        await refused(mux.video.liveStreams.retrieveSimulcastTarget(s.id, s.target), 404);
      },
    }),
    'a direct upload is cancelled': (mux, s) => ({
      create: async () => {
        const made = await mux.video.uploads.create({
          cors_origin: 'https://example.com',
          new_asset_settings: { playback_policy: ['public'], passthrough: 'from a phone' },
          timeout: 3600,
        });
        s.id = made.id;
        assert.deepEqual([made.status, made.timeout, made.cors_origin], ['waiting', 3600, 'https://example.com']);
        assert.equal(typeof made.url, 'string');
      },
      read: async () => assert.equal((await mux.video.uploads.retrieve(s.id)).status, 'waiting'),
      cancel: async () => assert.equal((await mux.video.uploads.cancel(s.id)).status, 'cancelled'),
      'it is cancelled': async () => assert.equal((await mux.video.uploads.retrieve(s.id)).status, 'cancelled'),
      'it cannot be cancelled again': async () => {
        await refused(mux.video.uploads.cancel(s.id), 403);
      },
      'it is listed': async () => once(ids((await mux.video.uploads.list()).data), [s.id]),
    }),
    'where a video may be played': (mux, s) => ({
      create: async () => {
        const referrer = { allowed_domains: ['*.example.com'], allow_no_referrer: true };
        const made = await mux.video.playbackRestrictions.create({ referrer } as Mux.Video.PlaybackRestrictionCreateParams);
        s.id = made.id;
        assert.deepEqual(made.referrer, referrer);
      },
      change: async () => {
        const referrer = { allowed_domains: ['foo.com', 'bar.com'], allow_no_referrer: false };
        assert.deepEqual((await mux.video.playbackRestrictions.updateReferrer(s.id, referrer)).referrer, referrer);
      },
      read: async () =>
        assert.deepEqual((await mux.video.playbackRestrictions.retrieve(s.id)).referrer, {
          allowed_domains: ['foo.com', 'bar.com'],
          allow_no_referrer: false,
        }),
      list: async () => once(ids((await mux.video.playbackRestrictions.list()).data), [s.id]),
      delete: async () => mux.video.playbackRestrictions.delete(s.id),
      'it is gone': async () => {
        await refused(mux.video.playbackRestrictions.retrieve(s.id), 404);
      },
    }),
    'a vocabulary is replaced whole': (mux, s) => ({
      create: async () => {
        const asked = { name: 'Mux API vocabulary', phrases: ['Mux', 'Live Stream', 'RTMP'], passthrough: 'words' };
        const made = await mux.video.transcriptionVocabularies.create(asked);
        s.id = given(made.id, 'id');
        assert.partialDeepStrictEqual(made, asked);
      },
      replace: async () => {
        const asked = { name: 'Encoding', phrases: ['Mux', 'Encoding'] };
        assert.partialDeepStrictEqual(await mux.video.transcriptionVocabularies.update(s.id, asked), asked);
      },
      read: async () => {
        const read = await mux.video.transcriptionVocabularies.retrieve(s.id);
        assert.deepEqual([read.name, read.phrases], ['Encoding', ['Mux', 'Encoding']]);
      },
      'phrases are needed': async () => {
        const asked = { name: 'None' } as Mux.Video.TranscriptionVocabularyCreateParams;
        await refused(mux.video.transcriptionVocabularies.create(asked), 400);
      },
      delete: async () => mux.video.transcriptionVocabularies.delete(s.id),
      'it is gone': async () => {
        await refused(mux.video.transcriptionVocabularies.retrieve(s.id), 404);
      },
    }),
    'a signing key': (mux, s) => ({
      create: async () => {
        const made = await mux.system.signingKeys.create();
        s.id = made.id;
        assert.equal(typeof made.private_key, 'string');
      },
      'it does not give its private key again': async () => {
        const read = await mux.system.signingKeys.retrieve(s.id);
        assert.deepEqual([read.id, read.private_key], [s.id, undefined]);
      },
      list: async () => once(ids((await mux.system.signingKeys.list()).data), [s.id]),
      delete: async () => mux.system.signingKeys.delete(s.id),
      'it is gone': async () => {
        await refused(mux.system.signingKeys.retrieve(s.id), 404);
      },
    }),
    'a credential that is refused': (mux, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray((await mux.video.uploads.list()).data)),
      'another secret is not': async () => {
        await refused(another(pair('nobody', 'nothing')).video.uploads.list(), 401);
      },
    }),
  },
};
