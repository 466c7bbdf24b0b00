import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

/** What the client builds of an edit: each `set…` gives the same thing back. */
interface Built {
  [set: `set${string}`]: (value: unknown) => Built;
}
interface Render {
  readonly id: string;
  readonly owner: string;
  readonly status: string;
  readonly url?: string;
  readonly poster?: string;
  readonly thumbnail?: string;
  readonly created: string;
  readonly data?: {
    readonly timeline?: { readonly background?: string; readonly tracks: readonly { readonly clips: readonly Clip[] }[] };
    readonly output?: Readonly<Record<string, unknown>>;
    readonly callback?: string;
  };
}
interface Clip {
  readonly start: number;
  readonly length: number;
}
interface Asset {
  readonly attributes: Readonly<Record<'id' | 'renderId' | 'filename' | 'status' | 'url' | 'owner', string>>;
}
interface Queued {
  readonly success: boolean;
  readonly message: string;
  readonly response: { readonly id: string; readonly message: string };
}
interface Edits {
  postRender(edit: unknown): Promise<Queued>;
  getRender(id: string, options?: object): Promise<{ readonly success: boolean; readonly response: Render }>;
}
interface Served {
  getAsset(id: string): Promise<{ readonly data: Asset }>;
  getAssetByRenderId(id: string): Promise<{ readonly data: readonly Asset[] }>;
  deleteAsset(id: string): Promise<unknown>;
}
interface Api {
  readonly authentications: { readonly DeveloperKey: { apiKey?: string } };
}

/** The part of the client that is used here: it has no types of its own. */
type Model = 'Edit' | 'Timeline' | 'Output' | 'Track' | 'Clip' | 'Soundtrack' | 'Transition' | 'Size' | 'Range' | 'Poster';
type Media = 'TitleAsset' | 'VideoAsset' | 'ImageAsset' | 'HtmlAsset' | 'AudioAsset' | 'Thumbnail' | 'ShotstackDestination';
const sdk = createRequire(import.meta.url)('shotstack-sdk') as Readonly<Record<Model | Media, new () => Built>> & {
  readonly ApiClient: new (basePath: string) => Api;
  readonly EditApi: new (client: Api) => Edits;
  readonly ServeApi: new (client: Api) => Served;
};

/** Its two parts, which are at paths of their own. */
interface Shotstack {
  readonly edit: Edits;
  readonly serve: Served;
}
const connect = (place: Place, token: string): Shotstack => {
  const at = (path: string): Api => {
    const client = new sdk.ApiClient(`${place.url}/${path}`);
    client.authentications.DeveloperKey.apiKey = token;
    return client;
  };
  return { edit: new sdk.EditApi(at('v1')), serve: new sdk.ServeApi(at('serve/v1')) };
};

const make = (name: Model | Media): Built => new sdk[name]();
const clip = (asset: Built, start = 0, length = 4): Built => make('Clip').setAsset(asset).setStart(start).setLength(length);
const title = (text: string): Built => make('TitleAsset').setText(text).setStyle('minimal');
const line = (...clips: readonly Built[]): Built => make('Timeline').setTracks([make('Track').setClips(clips)]);
const output = (format = 'mp4'): Built => make('Output').setFormat(format).setResolution('sd');
const edit = (timeline: Built, out: Built = output()): Built => make('Edit').setTimeline(timeline).setOutput(out);
const hello = (text = 'Hello World'): Built => edit(line(clip(title(text))).setBackground('#000000'));
const skater = 'https://s3-ap-southeast-2.amazonaws.com/shotstack-assets/footage/skater.hd.mp4';
const photo = 'https://s3-ap-northeast-1.amazonaws.com/my-bucket/my-image.jpg';

const states = ['queued', 'fetching', 'rendering', 'saving', 'done', 'failed'];
const render = async (api: Shotstack, what: Built): Promise<string> => given((await api.edit.postRender(what)).response.id, 'id');
const status = async (api: Shotstack, id: string): Promise<Render> => (await api.edit.getRender(id)).response;
/** The render when it is done: the guide asks to look again after some seconds. */
const finished = async (api: Shotstack, id: string): Promise<Render> => {
  for (let turn = 0; turn < 12; turn += 1) {
    const now = await status(api, id);
    if (now.status === 'done') return now;
    assert.notEqual(now.status, 'failed');
    await wait(1000);
  }
  throw new Error('the render is not done after 12 s');
};
const assets = async (api: Shotstack, id: string): Promise<readonly Asset[]> => {
  await finished(api, id);
  return (await api.serve.getAssetByRenderId(id)).data;
};
const ids = (all: readonly Asset[]): string[] => all.map(({ attributes }) => given(attributes.id, 'id'));
const nothing = '00000000-0000-4000-8000-000000000000';

/** Guide: shotstack.io/docs/guide, "Hello World", "Core concepts", "Serving assets"; its API reference; the client's README. */
export const vendor: Vendor<Shotstack> = {
  document: 'shotstack/shotstack.io.json',
  header: 'x-api-key',
  made: 'H7jKyj90kd09lbLOF7J900jNbSWS67X87xs9j0cD',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a render from its making on': (api, s) => ({
      queue: async () => {
        const { success, message, response } = await api.edit.postRender(hello());
        s.id = given(response.id, 'id');
        assert.deepEqual([success, message, response.message], [true, 'Created', 'Render Successfully Queued']);
      },
      'its status': async () => {
        const { success, response } = await api.edit.getRender(s.id);
        assert.deepEqual([success, response.id], [true, s.id]);
        assert.ok(states.includes(response.status), response.status);
        s.owner = given(response.owner, 'owner');
        s.created = given(response.created, 'time of its making');
      },
      'it is made of now': async () => assert.ok(Math.abs(Date.parse(s.created) - Date.now()) < 120_000, s.created),
      'the same when read again': async () => {
        const { id, owner, created } = await status(api, s.id);
        assert.deepEqual([id, owner, created], [s.id, s.owner, s.created]);
      },
      'none that is not there': async () => refused(api.edit.getRender(nothing), 400, 404),
    }),
    'what was asked for': (api, s) => ({
      queue: async () => {
        s.id = await render(api, edit(line(clip(title('Hello World'), 0, 5)).setBackground('#ffffff'), output('mp4')));
      },
      'its output': async () => {
        const { data } = await status(api, s.id);
        assert.deepEqual([data?.output?.format, data?.output?.resolution], ['mp4', 'sd']);
      },
      'its background': async () => assert.equal((await status(api, s.id)).data?.timeline?.background, '#ffffff'),
      'its clip': async () => {
        const tracks = given((await status(api, s.id)).data?.timeline?.tracks, 'tracks');
        assert.deepEqual(
          tracks.map(({ clips }) => clips.map(({ start, length }) => [start, length])),
          [[[0, 5]]],
        );
      },
      'not told if not wanted': async () => {
        const { response } = await api.edit.getRender(s.id, { data: false });
        assert.equal(response.data?.timeline?.tracks ?? undefined, undefined);
      },
    }),
    'a part of a video': (api, s) => ({
      queue: async () => {
        const video = make('VideoAsset').setSrc(skater).setTrim(3).setVolume(0.5);
        s.id = await render(api, edit(line(clip(video, 0, 8))));
      },
      'its status': async () => assert.ok(states.includes((await status(api, s.id)).status)),
      'its clip': async () => {
        const tracks = given((await status(api, s.id)).data?.timeline?.tracks, 'tracks');
        assert.deepEqual(
          tracks[0]?.clips.map(({ length }) => length),
          [8],
        );
      },
      'not one without a source': async () => refused(api.edit.postRender(edit(line(clip(make('VideoAsset'))))), 400),
    }),
    'several renders': (api, s) => ({
      'queue three': async () => {
        s.one = await render(api, edit(line(clip(title('One'), 0, 1))));
        s.two = await render(api, edit(line(clip(title('Two'), 0, 2))));
        s.three = await render(api, edit(line(clip(title('Three'), 0, 3))));
      },
      'each has an ID of its own': async () => assert.equal(new Set([s.one, s.two, s.three]).size, 3),
      'each is what was asked for': async () => {
        for (const [id, length] of [
          [s.one, 1],
          [s.two, 2],
          [s.three, 3],
        ] as const)
          assert.equal((await status(api, id)).data?.timeline?.tracks[0]?.clips[0]?.length, length);
      },
      'they have one owner': async () => {
        const owners = [s.one, s.two, s.three].map(async (id) => (await status(api, id)).owner);
        assert.equal(new Set(await Promise.all(owners)).size, 1);
      },
      'the same edit again is another': async () => {
        s.again = await render(api, edit(line(clip(title('One'), 0, 1))));
        assert.notEqual(s.again, s.one);
      },
    }),
    'several tracks with sound': (api, s) => ({
      queue: async () => {
        const fade = make('Transition').setIn('fade').setOut('fade');
        const above = make('Track').setClips([clip(title('Hello World')).setTransition(fade).setEffect('slideRight')]);
        const below = make('Track').setClips([
          clip(make('ImageAsset').setSrc(photo), 3, 4).setEffect('zoomIn').setFilter('greyscale'),
        ]);
        const music = 'https://s3-ap-northeast-1.amazonaws.com/my-bucket/music.mp3';
        const sound = make('Soundtrack').setSrc(music).setEffect('fadeInFadeOut');
        s.id = await render(api, edit(make('Timeline').setSoundtrack(sound).setTracks([above, below])));
      },
      'its tracks': async () => {
        const tracks = given((await status(api, s.id)).data?.timeline?.tracks, 'tracks');
        assert.deepEqual(
          tracks.map(({ clips }) => clips[0]?.start),
          [0, 3],
        );
      },
      'not with an effect that is none': async () =>
        refused(api.edit.postRender(edit(line(clip(title('Hello World')).setEffect('wobble')))), 400),
      'nor a filter that is none': async () =>
        refused(api.edit.postRender(edit(line(clip(title('Hello World')).setFilter('sepia-ish')))), 400),
    }),
    'what a render is written as': (api, s) => ({
      'a moving picture': async () => {
        s.gif = await render(api, edit(line(clip(title('Hello World'))), output('gif').setFps(15)));
        assert.equal((await status(api, s.gif)).data?.output?.format, 'gif');
      },
      'a still one': async () => {
        s.jpg = await render(api, edit(line(clip(title('Hello World'))), output('jpg').setQuality('high')));
        assert.equal((await status(api, s.jpg)).data?.output?.quality, 'high');
      },
      'sound alone': async () => {
        const sound = make('AudioAsset').setSrc('https://s3-ap-northeast-1.amazonaws.com/my-bucket/music.mp3');
        s.mp3 = await render(api, edit(line(clip(sound)), make('Output').setFormat('mp3')));
        assert.equal((await status(api, s.mp3)).data?.output?.format, 'mp3');
      },
      'for a telephone': async () => {
        s.tall = await render(api, edit(line(clip(title('Hello World'))), output().setAspectRatio('9:16')));
        assert.equal((await status(api, s.tall)).data?.output?.aspectRatio, '9:16');
      },
      'not as what is none': async () =>
        refused(api.edit.postRender(edit(line(clip(title('Hello World'))), output('docx'))), 400),
    }),
    'a part of a render': (api, s) => ({
      queue: async () => {
        const size = make('Size').setWidth(1200).setHeight(800);
        const range = make('Range').setStart(3).setLength(6);
        const out = make('Output').setFormat('mp4').setSize(size).setRange(range);
        s.id = await render(api, edit(line(clip(title('Hello World'), 0, 10)), out));
      },
      'its size': async () => {
        const size = given((await status(api, s.id)).data?.output?.size, 'size') as Record<string, number>;
        assert.deepEqual([size.width, size.height], [1200, 800]);
      },
      'its range': async () => {
        const range = given((await status(api, s.id)).data?.output?.range, 'range') as Record<string, number>;
        assert.deepEqual([range.start, range.length], [3, 6]);
      },
      'not of a time that is none': async () => {
        const out = output().setRange(make('Range').setStart('soon'));
        await refused(api.edit.postRender(edit(line(clip(title('Hello World'))), out)), 400);
      },
    }),
    'text of its own style': (api, s) => ({
      queue: async () => {
        const html = make('HtmlAsset').setHtml('<p>Hello <b>World</b></p>').setCss('p { color: #ffffff; } b { color: #ffff00; }');
        s.id = await render(api, edit(line(clip(html.setWidth(400).setHeight(200)))));
      },
      'its status': async () => assert.equal((await status(api, s.id)).id, s.id),
      'a title of another style': async () => {
        const bold = title('Hello World').setStyle('blockbuster').setColor('#ff0000').setSize('x-large').setPosition('top');
        assert.ok((await render(api, edit(line(clip(bold))))) !== s.id, 'the same ID');
      },
      'not of a style that is none': async () =>
        refused(api.edit.postRender(edit(line(clip(title('Hi').setStyle('fancy'))))), 400),
      'nor without a text': async () => refused(api.edit.postRender(edit(line(clip(make('TitleAsset'))))), 400),
    }),
    'told when it is done': (api, s) => ({
      queue: async () => {
        s.id = await render(api, hello().setCallback('https://my-server.com/callback.php'));
      },
      'it is kept': async () => assert.equal((await status(api, s.id)).data?.callback, 'https://my-server.com/callback.php'),
      'another without it': async () => {
        s.other = await render(api, hello());
        assert.equal((await status(api, s.other)).data?.callback ?? undefined, undefined);
      },
      'the first still has it': async () =>
        assert.equal((await status(api, s.id)).data?.callback, 'https://my-server.com/callback.php'),
    }),
    'what is wrong': (api, s) => ({
      'no output': async () => refused(api.edit.postRender(make('Edit').setTimeline(line(clip(title('Hello World'))))), 400),
      'no timeline': async () => refused(api.edit.postRender(make('Edit').setOutput(output())), 400),
      'no tracks': async () => refused(api.edit.postRender(edit(make('Timeline').setBackground('#000000'))), 400),
      'a clip that never starts': async () =>
        refused(api.edit.postRender(edit(line(make('Clip').setAsset(title('Hello World')).setLength(4)))), 400),
      'a right one after them': async () => {
        s.id = await render(api, hello());
        assert.equal((await status(api, s.id)).id, s.id);
      },
    }),
    'a render until it is done': (api, s) => ({
      queue: async () => {
        s.id = await render(api, hello());
      },
      'it is done': async () => {
        s.url = given((await finished(api, s.id)).url, 'url');
      },
      'it is somewhere': async () => assert.match(s.url, /^https?:\/\//),
      'it stays done': async () => {
        const now = await status(api, s.id);
        assert.deepEqual([now.status, now.url], ['done', s.url]);
      },
    }),
    'the asset of a render': (api, s) => ({
      queue: async () => {
        s.render = await render(api, hello());
      },
      'it is found by the render': async () => {
        const all = await assets(api, s.render);
        s.id = given(ids(all)[0], 'asset');
        for (const { attributes } of all) assert.equal(attributes.renderId, s.render);
      },
      read: async () => {
        const { id, renderId, status: state, url } = (await api.serve.getAsset(s.id)).data.attributes;
        assert.deepEqual([id, renderId], [s.id, s.render]);
        assert.ok(['importing', 'ready'].includes(state), state);
        assert.match(given(url, 'url'), /^https?:\/\//);
      },
      'none that is not there': async () => refused(api.serve.getAsset(nothing), 400, 404),
      'nor of a render that is not': async () => refused(api.serve.getAssetByRenderId(nothing), 400, 404),
    }),
    'the end of an asset': (api, s) => ({
      queue: async () => {
        s.render = await render(api, hello());
      },
      'find its asset': async () => {
        s.id = given(ids(await assets(api, s.render))[0], 'asset');
      },
      delete: async () => api.serve.deleteAsset(s.id),
      'it is gone': async () => {
        try {
          assert.equal((await api.serve.getAsset(s.id)).data.attributes.status, 'deleted');
        } catch (thrown) {
          await refused(Promise.reject(thrown), 404);
        }
      },
      'the render stays': async () => assert.equal((await status(api, s.render)).id, s.render),
    }),
    'several assets of a render': (api, s) => ({
      'queue with a poster and a thumbnail': async () => {
        const out = output().setPoster(make('Poster').setCapture(1)).setThumbnail(make('Thumbnail').setCapture(1).setScale(0.3));
        s.render = await render(api, edit(line(clip(title('Hello World'))), out));
      },
      'three are there': async () => {
        const all = await assets(api, s.render);
        assert.equal(all.length, 3);
        s.one = given(ids(all)[0], 'asset');
        s.two = given(ids(all)[1], 'asset');
      },
      'each once': async () => once(ids(await assets(api, s.render)), [s.one, s.two], 'assets'),
      'delete one': async () => api.serve.deleteAsset(s.one),
      'the other stays': async () => assert.equal((await api.serve.getAsset(s.two)).data.attributes.id, s.two),
    }),
    'a render that is not to be served': (api, s) => ({
      queue: async () => {
        const nowhere = make('ShotstackDestination').setProvider('shotstack').setExclude(true);
        s.id = await render(api, edit(line(clip(title('Hello World'))), output().setDestinations([nowhere])));
      },
      'its status': async () => assert.ok(states.includes((await status(api, s.id)).status)),
      'it has no asset': async () => {
        try {
          assert.deepEqual(await assets(api, s.id), []);
        } catch (thrown) {
          await refused(Promise.reject(thrown), 404);
        }
      },
      'another has': async () => assert.ok((await assets(api, await render(api, hello()))).length > 0, 'no asset'),
    }),
    'a key that is refused': (api, s, another) => ({
      queue: async () => {
        s.id = await render(api, hello());
      },
      'another key queues nothing': async () => refused(another('not-a-key').edit.postRender(hello()), 401, 403),
      'reads no status': async () => refused(another('not-a-key').edit.getRender(s.id), 401, 403),
      'nor assets': async () => refused(another('not-a-key').serve.getAssetByRenderId(s.id), 401, 403),
      'deletes none': async () => refused(another('not-a-key').serve.deleteAsset(nothing), 401, 403),
      'it is still there': async () => assert.equal((await status(api, s.id)).id, s.id),
    }),
  },
};
