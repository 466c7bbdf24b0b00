import assert from 'node:assert/strict';
import { createReadStream, mkdtempSync, type ReadStream, writeFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { given, numbered, once, type Place, refused, type Vendor } from '../kit.ts';

type Id = number | string;
interface Range {
  readonly start?: number;
  readonly count?: number;
  readonly search?: string;
}
interface Answer {
  readonly ok: boolean;
  readonly body: unknown;
}
type Told = (error: Error | null, data: unknown, response?: Answer) => void;

/** The parts of the client that are used here: it has no types of its own. */
interface ApiClient {
  basePath: string;
  readonly authentications: { readonly OAuth2: { accessToken?: string } };
  callApi(
    path: string,
    method: string,
    pathParams: object,
    queryParams: object,
    headerParams: object,
    formParams: object,
    body: unknown,
    authNames: readonly string[],
    contentTypes: readonly string[],
    accepts: readonly string[],
    returnType: null,
    apiBasePath: null,
    told: Told,
  ): unknown;
}
interface AbusesApi {
  abusesPost(report: object, told: Told): unknown;
  abusesGet(opts: object, told: Told): unknown;
  abusesAbuseIdPut(id: Id, opts: { readonly inlineObject12: object }, told: Told): unknown;
  abusesAbuseIdDelete(id: Id, told: Told): unknown;
  abusesAbuseIdMessagesPost(id: Id, message: object, told: Told): unknown;
  abusesAbuseIdMessagesGet(id: Id, told: Told): unknown;
  abusesAbuseIdMessagesAbuseMessageIdDelete(id: Id, message: Id, told: Told): unknown;
}
interface LiveVideosApi {
  videosLivePost(channel: Id, name: string, opts: object, told: Told): unknown;
  videosLiveIdGet(id: Id, told: Told): unknown;
  videosLiveIdPut(id: Id, opts: { readonly liveVideoUpdate: object }, told: Told): unknown;
}
interface MySubscriptionsApi {
  usersMeSubscriptionsPost(opts: { readonly inlineObject1: object }, told: Told): unknown;
  usersMeSubscriptionsGet(opts: Range, told: Told): unknown;
  usersMeSubscriptionsExistGet(uris: readonly string[], told: Told): unknown;
  usersMeSubscriptionsSubscriptionHandleGet(handle: string, told: Told): unknown;
  usersMeSubscriptionsSubscriptionHandleDelete(handle: string, told: Told): unknown;
}
interface MyUserApi {
  usersMeGet(told: Told): unknown;
  usersMePut(changes: object, told: Told): unknown;
  usersMeVideosGet(opts: Range, told: Told): unknown;
}
interface SearchApi {
  searchVideoChannelsGet(search: string, opts: Range, told: Told): unknown;
}
interface UsersApi {
  usersPost(user: object, told: Told): unknown;
  usersGet(opts: Range, told: Told): unknown;
  getUserId(id: Id, told: Told): unknown;
  putUserId(id: Id, changes: object, told: Told): unknown;
  delUserId(id: Id, told: Told): unknown;
  usersRegisterPost(user: object, told: Told): unknown;
}
interface VideoApi {
  videosIdGet(id: Id, told: Told): unknown;
  videosIdPut(id: Id, opts: object, told: Told): unknown;
  videosIdDelete(id: Id, told: Told): unknown;
}
interface VideoBlocksApi {
  videosBlacklistGet(opts: Range, told: Told): unknown;
  videosIdBlacklistPost(id: Id, told: Told): unknown;
  videosIdBlacklistDelete(id: Id, told: Told): unknown;
}
interface VideoCaptionsApi {
  videosIdCaptionsCaptionLanguagePut(id: Id, language: string, opts: { readonly captionfile: ReadStream }, told: Told): unknown;
  videosIdCaptionsGet(id: Id, told: Told): unknown;
  videosIdCaptionsCaptionLanguageDelete(id: Id, language: string, told: Told): unknown;
}
interface VideoChannelsApi {
  videoChannelsPost(opts: { readonly videoChannelCreate: object }, told: Told): unknown;
  videoChannelsGet(opts: Range, told: Told): unknown;
  videoChannelsChannelHandleGet(handle: string, told: Told): unknown;
  videoChannelsChannelHandlePut(handle: string, opts: { readonly videoChannelUpdate: object }, told: Told): unknown;
  videoChannelsChannelHandleDelete(handle: string, told: Told): unknown;
}
interface VideoCommentsApi {
  videosIdCommentThreadsPost(id: Id, opts: { readonly inlineObject20: object }, told: Told): unknown;
  videosIdCommentThreadsGet(id: Id, opts: Range, told: Told): unknown;
  videosIdCommentThreadsThreadIdGet(id: Id, thread: Id, told: Told): unknown;
  videosIdCommentsCommentIdPost(id: Id, comment: Id, opts: { readonly inlineObject21: object }, told: Told): unknown;
  videosIdCommentsCommentIdDelete(id: Id, comment: Id, told: Told): unknown;
}
interface VideoPlaylistsApi {
  videoPlaylistsPost(displayName: string, opts: object, told: Told): unknown;
  videoPlaylistsGet(opts: Range, told: Told): unknown;
  videoPlaylistsIdGet(id: Id, told: Told): unknown;
  videoPlaylistsIdPut(id: Id, opts: object, told: Told): unknown;
  videoPlaylistsIdDelete(id: Id, told: Told): unknown;
  videoPlaylistsIdVideosPost(id: Id, opts: { readonly inlineObject17: object }, told: Told): unknown;
  videoPlaylistsIdVideosGet(id: Id, told: Told): unknown;
  videoPlaylistsIdVideosReorderPost(id: Id, opts: { readonly inlineObject18: object }, told: Told): unknown;
  videoPlaylistsIdVideosPlaylistElementIdPut(id: Id, element: Id, opts: { readonly inlineObject19: object }, told: Told): unknown;
  videoPlaylistsIdVideosPlaylistElementIdDelete(id: Id, element: Id, told: Told): unknown;
}
interface VideoRatesApi {
  usersMeVideosVideoIdRatingGet(id: Id, told: Told): unknown;
}
type Of<Api> = new (client: ApiClient) => Api;
interface Module {
  readonly ApiClient: new () => ApiClient;
  readonly AbusesApi: Of<AbusesApi>;
  readonly LiveVideosApi: Of<LiveVideosApi>;
  readonly MySubscriptionsApi: Of<MySubscriptionsApi>;
  readonly MyUserApi: Of<MyUserApi>;
  readonly SearchApi: Of<SearchApi>;
  readonly UsersApi: Of<UsersApi>;
  readonly VideoApi: Of<VideoApi>;
  readonly VideoBlocksApi: Of<VideoBlocksApi>;
  readonly VideoCaptionsApi: Of<VideoCaptionsApi>;
  readonly VideoChannelsApi: Of<VideoChannelsApi>;
  readonly VideoCommentsApi: Of<VideoCommentsApi>;
  readonly VideoPlaylistsApi: Of<VideoPlaylistsApi>;
  readonly VideoRatesApi: Of<VideoRatesApi>;
}

/** The package asks for a few models, of which it makes no use, that are not in it: any file of it will do in their place. */
const load = (): Module => {
  const missing = /^\.\.\/model\/(OneOf\w+|UNKNOWN_BASE_TYPE)$/;
  const hooks = registerHooks({
    resolve: (specifier, context, next) => next(missing.test(specifier) ? '../ApiClient' : specifier, context),
  });
  try {
    return createRequire(import.meta.url)('peertube') as Module;
  } finally {
    hooks.deregister();
  }
};
const found = load();

interface PeerTube {
  readonly api: ApiClient;
  readonly abuses: AbusesApi;
  readonly blocks: VideoBlocksApi;
  readonly captions: VideoCaptionsApi;
  readonly channels: VideoChannelsApi;
  readonly comments: VideoCommentsApi;
  readonly live: LiveVideosApi;
  readonly me: MyUserApi;
  readonly playlists: VideoPlaylistsApi;
  readonly rates: VideoRatesApi;
  readonly search: SearchApi;
  readonly subscriptions: MySubscriptionsApi;
  readonly users: UsersApi;
  readonly videos: VideoApi;
}

const connect = (place: Place, token: string): PeerTube => {
  const api = new found.ApiClient();
  api.basePath = `${place.url}/api/v1`;
  api.authentications.OAuth2.accessToken = token;
  return {
    api,
    abuses: new found.AbusesApi(api),
    blocks: new found.VideoBlocksApi(api),
    captions: new found.VideoCaptionsApi(api),
    channels: new found.VideoChannelsApi(api),
    comments: new found.VideoCommentsApi(api),
    live: new found.LiveVideosApi(api),
    me: new found.MyUserApi(api),
    playlists: new found.VideoPlaylistsApi(api),
    rates: new found.VideoRatesApi(api),
    search: new found.SearchApi(api),
    subscriptions: new found.MySubscriptionsApi(api),
    users: new found.UsersApi(api),
    videos: new found.VideoApi(api),
  };
};

/** The client's models are of 3.0, where some lists had no `total`: answers are read as they came. */
const ask = <T = unknown>(call: (told: Told) => unknown): Promise<T> =>
  new Promise((resolve, reject) => {
    call((error, _data, response) => {
      if (response?.ok === true) resolve(response.body as T);
      else reject(error ?? new Error('no answer'));
    });
  });

/** The client rates without saying how: its own way of calling says it. */
const rate = (p: PeerTube, id: Id, rating: string): Promise<unknown> =>
  ask((told) =>
    p.api.callApi(
      '/videos/{id}/rate',
      'PUT',
      { id },
      {},
      {},
      {},
      { rating },
      ['OAuth2'],
      ['application/json'],
      [],
      null,
      null,
      told,
    ),
  );

interface List<T> {
  readonly total?: number;
  readonly data: readonly T[];
}
interface Constant {
  readonly id: number;
  readonly label?: string;
}
interface Channel {
  readonly id: number;
  readonly name: string;
  readonly host: string;
  readonly displayName: string;
  readonly description?: string | null;
  readonly support?: string | null;
}
interface Playlist {
  readonly id: number;
  readonly uuid: string;
  readonly displayName: string;
  readonly description?: string | null;
  readonly privacy?: Constant;
  readonly videoChannel?: { readonly name: string } | null;
}
interface User {
  readonly id: number;
  readonly username: string;
  readonly email: string;
  readonly role: Constant;
  readonly videoQuota: number;
  readonly autoPlayVideo?: boolean;
  readonly account?: { readonly name: string; readonly displayName?: string };
}
interface Video {
  readonly id: number;
  readonly uuid: string;
  readonly name: string;
  readonly description?: string | null;
  readonly isLive?: boolean;
  readonly nsfw?: boolean;
  readonly privacy?: Constant;
  readonly channel?: { readonly name: string };
}
interface Comment {
  readonly id: number;
  readonly text: string;
  readonly threadId: number;
  readonly inReplyToCommentId?: number | null;
  readonly isDeleted?: boolean;
}
interface Tree {
  readonly comment: Comment;
  readonly children: readonly Tree[];
}
interface Abuse {
  readonly id: number;
  readonly reason: string;
  readonly moderationComment?: string | null;
  readonly state?: Constant;
}

/** The description calls the answer with users a bare list, and the service has `data` and `total`: both are read. */
const rows = <T>(body: readonly T[] | List<T>): readonly T[] => ('data' in body ? body.data : body);

/** The description calls one's own user a list of users, and the service answers the user. */
const self = async (p: PeerTube): Promise<User> => {
  const body = await ask<User | readonly User[]>((told) => p.me.usersMeGet(told));
  return 'username' in body ? body : given(body[0], 'user');
};

const channel = async (p: PeerTube, name: string, displayName = `Films of ${name}`): Promise<string> => {
  const body = await ask<{ readonly videoChannel: { readonly id: number } }>((told) =>
    p.channels.videoChannelsPost({ videoChannelCreate: { name, displayName } }, told),
  );
  return String(body.videoChannel.id);
};

/** A video that needs no file: a live one, which everybody may see. */
const live = async (p: PeerTube, channelId: string, name: string, more: object = {}): Promise<{ id: string; uuid: string }> => {
  const opts = { privacy: 1, commentsEnabled: true, ...more };
  const body = await ask<{ readonly video: { readonly id: number; readonly uuid: string } }>((told) =>
    p.live.videosLivePost(channelId, name, opts, told),
  );
  assert.equal(typeof body.video.uuid, 'string');
  return { id: String(body.video.id), uuid: body.video.uuid };
};

/** Everything of a list, two rows at a time. */
const all = <T>(call: (range: Range, told: Told) => unknown, of: Range = {}): Promise<T[]> =>
  numbered(async (page) => {
    const read = rows(await ask<readonly T[] | List<T>>((told) => call({ ...of, start: page * 2, count: 2 }, told)));
    assert.ok(read.length <= 2, `a page of two holds ${read.length}`);
    return read;
  }, 0);

/** What the service does in a job of its own is done soon after. */
const soon = async (look: () => Promise<void>): Promise<void> => {
  for (let tries = 0; tries < 10; tries += 1) {
    try {
      return await look();
    } catch {
      await wait(300);
    }
  }
  return look();
};

const captions = (): ReadStream => {
  const path = join(mkdtempSync(join(tmpdir(), 'captions-')), 'words.vtt');
  writeFileSync(path, 'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nBonjour\n');
  return createReadStream(path);
};

/** Guide: docs.joinpeertube.org, "REST API quick start" and "PeerTube REST API reference", 5.1. */
export const vendor: Vendor<PeerTube> = {
  document: 'peertube/peertube.json',
  header: 'authorization',
  word: 'Bearer',
  made: 'made-up-token',
  client: connect,
  flows: {
    'a channel from its making to its end': (p, s) => {
      const read = (): Promise<Channel> => ask((told) => p.channels.videoChannelsChannelHandleGet('ada_films', told));
      return {
        create: async () => {
          const videoChannelCreate = {
            name: 'ada_films',
            displayName: "Ada's films",
            description: 'All that she filmed',
            support: 'Please buy her a coffee',
          };
          const body = await ask<{ readonly videoChannel: { readonly id: number } }>((told) =>
            p.channels.videoChannelsPost({ videoChannelCreate }, told),
          );
          s.id = String(body.videoChannel.id);
        },
        read: async () => {
          const one = await read();
          assert.equal(String(one.id), s.id);
          assert.equal(one.name, 'ada_films');
          assert.equal(one.displayName, "Ada's films");
          assert.equal(one.description, 'All that she filmed');
          assert.equal(one.support, 'Please buy her a coffee');
        },
        list: async () =>
          once(
            (await all<Channel>((range, told) => p.channels.videoChannelsGet(range, told))).map(({ name }) => name),
            ['ada_films'],
          ),
        change: async () =>
          ask((told) =>
            p.channels.videoChannelsChannelHandlePut('ada_films', { videoChannelUpdate: { displayName: 'Films' } }, told),
          ),
        'it is changed, and only what was sent': async () => {
          const one = await read();
          assert.equal(one.displayName, 'Films');
          assert.equal(one.description, 'All that she filmed');
        },
        delete: async () => ask((told) => p.channels.videoChannelsChannelHandleDelete('ada_films', told)),
        gone: async () => refused(read(), 404),
        'gone from the list': async () => {
          const left = await all<Channel>((range, told) => p.channels.videoChannelsGet(range, told));
          assert.ok(!left.some(({ name }) => name === 'ada_films'));
        },
      };
    },
    'channels through all pages': (p) => {
      const names = ['north', 'east', 'south', 'west', 'middle'];
      return {
        create: async () => {
          for (const name of names) await channel(p, name);
        },
        'in pages of two': async () =>
          once(
            (await all<Channel>((range, told) => p.channels.videoChannelsGet(range, told))).map(({ name }) => name),
            names,
          ),
        'the list tells how many there are': async () => {
          const { total } = await ask<List<Channel>>((told) => p.channels.videoChannelsGet({ count: 1 }, told));
          assert.ok(given(total, 'total') >= names.length);
        },
        'a search by a word of a name': async () => {
          await channel(p, 'harbour', 'Lanterns of Trondheim');
          await soon(async () => {
            const { data } = await ask<List<Channel>>((told) =>
              p.search.searchVideoChannelsGet('Lanterns of Trondheim', {}, told),
            );
            once(
              data.map(({ name }) => name),
              ['harbour'],
            );
          });
        },
      };
    },
    'a playlist from its making to its end': (p, s) => {
      const read = (): Promise<Playlist> => ask((told) => p.playlists.videoPlaylistsIdGet(s.id, told));
      const listed = async (): Promise<string[]> =>
        (await all<Playlist>((range, told) => p.playlists.videoPlaylistsGet(range, told))).map(({ id }) => String(id));
      return {
        create: async () => {
          s.channel = await channel(p, 'ada_films');
          const opts = { description: 'For a rainy evening', privacy: 1, videoChannelId: s.channel };
          const body = await ask<{ readonly videoPlaylist: { readonly id: number; readonly uuid: string } }>((told) =>
            p.playlists.videoPlaylistsPost('Evening', opts, told),
          );
          s.id = String(body.videoPlaylist.id);
          s.uuid = body.videoPlaylist.uuid;
        },
        read: async () => {
          const one = await read();
          assert.equal(String(one.id), s.id);
          assert.equal(one.uuid, s.uuid);
          assert.equal(one.displayName, 'Evening');
          assert.equal(one.description, 'For a rainy evening');
          assert.equal(one.privacy?.id, 1);
        },
        'it is in its channel': async () => assert.equal((await read()).videoChannel?.name, 'ada_films'),
        list: async () => once(await listed(), [s.id]),
        change: async () => ask((told) => p.playlists.videoPlaylistsIdPut(s.id, { displayName: 'A long evening' }, told)),
        'it is changed': async () => assert.equal((await read()).displayName, 'A long evening'),
        delete: async () => ask((told) => p.playlists.videoPlaylistsIdDelete(s.id, told)),
        gone: async () => refused(read(), 404),
        'gone from the list': async () => assert.ok(!(await listed()).includes(s.id)),
      };
    },
    'the videos of a playlist': (p, s) => {
      type Element = Partial<Video> & { readonly video?: Video | null };
      /** The description calls what is in a playlist videos, and the service answers elements with a video each. */
      const held = async (): Promise<string[]> => {
        const { data } = await ask<List<Element>>((told) => p.playlists.videoPlaylistsIdVideosGet(s.id, told));
        return data.map((row) => row.video?.uuid ?? row.uuid ?? '');
      };
      const put = async (videoId: string): Promise<string> => {
        const inlineObject17 = { videoId, startTimestamp: 1 };
        const body = await ask<{ readonly videoPlaylistElement: { readonly id: number } }>((told) =>
          p.playlists.videoPlaylistsIdVideosPost(s.id, { inlineObject17 }, told),
        );
        return String(body.videoPlaylistElement.id);
      };
      return {
        create: async () => {
          const of = await channel(p, 'ada_films');
          s.one = (await live(p, of, 'The first evening')).uuid;
          s.two = (await live(p, of, 'The second evening')).uuid;
          const body = await ask<{ readonly videoPlaylist: { readonly id: number } }>((told) =>
            p.playlists.videoPlaylistsPost('Evenings', { privacy: 1, videoChannelId: of }, told),
          );
          s.id = String(body.videoPlaylist.id);
        },
        'it is empty': async () => assert.deepEqual(await held(), []),
        'put two into it': async () => {
          s.first = await put(s.one);
          s.second = await put(s.two);
        },
        'they are in it': async () => assert.deepEqual((await held()).sort(), [s.one, s.two].sort()),
        'one begins later': async () => {
          const inlineObject19 = { startTimestamp: 2, stopTimestamp: 9 };
          await ask((told) => p.playlists.videoPlaylistsIdVideosPlaylistElementIdPut(s.id, s.first, { inlineObject19 }, told));
        },
        'put the second before the first': async () => {
          const inlineObject18 = { startPosition: 2, insertAfterPosition: 0 };
          await ask((told) => p.playlists.videoPlaylistsIdVideosReorderPost(s.id, { inlineObject18 }, told));
        },
        'both are still in it': async () => once(await held(), [s.one, s.two]),
        'take one out': async () => ask((told) => p.playlists.videoPlaylistsIdVideosPlaylistElementIdDelete(s.id, s.first, told)),
        'the other is left': async () => assert.deepEqual(await held(), [s.two]),
      };
    },
    'a live video from its making to its end': (p, s) => {
      const read = (): Promise<Video> => ask((told) => p.videos.videosIdGet(s.uuid, told));
      const own = async (): Promise<string[]> =>
        (await all<Video>((range, told) => p.me.usersMeVideosGet(range, told))).map(({ uuid }) => uuid);
      return {
        create: async () => {
          const of = await channel(p, 'ada_films');
          s.uuid = (await live(p, of, 'From the harbour', { description: 'Ships at night', permanentLive: false })).uuid;
        },
        read: async () => {
          const one = await read();
          assert.equal(one.uuid, s.uuid);
          assert.equal(one.name, 'From the harbour');
          assert.equal(one.description, 'Ships at night');
          assert.equal(one.isLive, true);
          assert.equal(one.privacy?.id, 1);
        },
        'it is in its channel': async () => assert.equal((await read()).channel?.name, 'ada_films'),
        'it is among one’s own': async () => once(await own(), [s.uuid]),
        change: async () =>
          ask((told) =>
            p.videos.videosIdPut(s.uuid, { name: 'From the old harbour', nsfw: true, description: 'Ships by day' }, told),
          ),
        'it is changed': async () => {
          const one = await read();
          assert.equal(one.name, 'From the old harbour');
          assert.equal(one.description, 'Ships by day');
          assert.equal(one.nsfw, true);
        },
        delete: async () => ask((told) => p.videos.videosIdDelete(s.uuid, told)),
        gone: async () => refused(read(), 404),
        'gone from one’s own': async () => assert.ok(!(await own()).includes(s.uuid)),
      };
    },
    'how a live is sent': (p, s) => {
      interface Live {
        readonly permanentLive?: boolean;
        readonly saveReplay?: boolean;
      }
      const read = (): Promise<Live> => ask((told) => p.live.videosLiveIdGet(s.uuid, told));
      return {
        create: async () => {
          const of = await channel(p, 'ada_films');
          s.uuid = (await live(p, of, 'From the harbour', { permanentLive: false, saveReplay: false })).uuid;
        },
        read: async () => {
          const one = await read();
          assert.equal(one.permanentLive, false);
          assert.equal(one.saveReplay, false);
        },
        change: async () => ask((told) => p.live.videosLiveIdPut(s.uuid, { liveVideoUpdate: { permanentLive: true } }, told)),
        'it is changed': async () => assert.equal((await read()).permanentLive, true),
        'a live that nobody made': async () =>
          refused(
            ask((told) => p.live.videosLiveIdGet('9c9de5e8-0a1e-484a-b099-e80766180a6d', told)),
            404,
          ),
      };
    },
    'comments and what is replied': (p, s) => {
      const threads = async (): Promise<readonly Comment[]> =>
        (await ask<List<Comment>>((told) => p.comments.videosIdCommentThreadsGet(s.video, {}, told))).data;
      const tree = (): Promise<Tree> => ask((told) => p.comments.videosIdCommentThreadsThreadIdGet(s.video, s.thread, told));
      const standing = (held: readonly Comment[]): string[] =>
        held.filter(({ isDeleted }) => isDeleted !== true).map(({ id }) => String(id));
      return {
        'create a video': async () => {
          s.video = (await live(p, await channel(p, 'ada_films'), 'From the harbour')).uuid;
        },
        'nobody has said anything': async () => assert.deepEqual(await threads(), []),
        comment: async () => {
          const { comment } = await ask<{ readonly comment: Comment }>((told) =>
            p.comments.videosIdCommentThreadsPost(s.video, { inlineObject20: { text: 'What a ship' } }, told),
          );
          assert.equal(comment.text, 'What a ship');
          s.thread = String(comment.id);
        },
        'it is listed': async () => once(standing(await threads()), [s.thread]),
        reply: async () => {
          const { comment } = await ask<{ readonly comment: Comment }>((told) =>
            p.comments.videosIdCommentsCommentIdPost(s.video, s.thread, { inlineObject21: { text: 'Which one' } }, told),
          );
          assert.equal(comment.text, 'Which one');
          assert.equal(String(comment.inReplyToCommentId), s.thread);
          s.reply = String(comment.id);
        },
        'the reply is below it': async () => {
          const whole = await tree();
          assert.equal(String(whole.comment.id), s.thread);
          once(
            whole.children.map(({ comment }) => String(comment.id)),
            [s.reply],
          );
        },
        'the reply is no thread': async () => assert.ok(!standing(await threads()).includes(s.reply)),
        'delete the reply': async () => ask((told) => p.comments.videosIdCommentsCommentIdDelete(s.video, s.reply, told)),
        'it stands no more': async () => {
          const { children } = await tree();
          assert.ok(!standing(children.map(({ comment }) => comment)).includes(s.reply));
        },
        'it cannot be deleted again': async () =>
          refused(
            ask((told) => p.comments.videosIdCommentsCommentIdDelete(s.video, s.reply, told)),
            404,
            409,
          ),
        'nobody comments on what is not there': async () =>
          refused(
            ask((told) =>
              p.comments.videosIdCommentThreadsPost(
                '9c9de5e8-0a1e-484a-b099-e80766180a6d',
                { inlineObject20: { text: 'Hello' } },
                told,
              ),
            ),
            404,
          ),
      };
    },
    'a rating of a video': (p, s) => {
      interface Rating {
        readonly rating: string;
      }
      const own = async (): Promise<string> =>
        (await ask<Rating>((told) => p.rates.usersMeVideosVideoIdRatingGet(s.video, told))).rating;
      return {
        'create a video': async () => {
          s.video = (await live(p, await channel(p, 'ada_films'), 'From the harbour')).id;
        },
        'there is none yet': async () => assert.equal(await own(), 'none'),
        like: async () => rate(p, s.video, 'like'),
        'it is liked': async () => assert.equal(await own(), 'like'),
        dislike: async () => rate(p, s.video, 'dislike'),
        'it is disliked': async () => assert.equal(await own(), 'dislike'),
        'a rating that is none': async () => refused(rate(p, s.video, 'so-so'), 400),
        'it is as it was': async () => assert.equal(await own(), 'dislike'),
        'a video that nobody made': async () => refused(rate(p, '9c9de5e8-0a1e-484a-b099-e80766180a6d', 'like'), 404),
      };
    },
    'captions of a video': (p, s) => {
      interface Caption {
        readonly language: { readonly id: string };
      }
      const languages = async (): Promise<string[]> =>
        (await ask<List<Caption>>((told) => p.captions.videosIdCaptionsGet(s.video, told))).data.map(
          ({ language }) => language.id,
        );
      return {
        'create a video': async () => {
          s.video = (await live(p, await channel(p, 'ada_films'), 'From the harbour')).uuid;
        },
        'there are none': async () => assert.deepEqual(await languages(), []),
        add: async () =>
          ask((told) => p.captions.videosIdCaptionsCaptionLanguagePut(s.video, 'fr', { captionfile: captions() }, told)),
        'they are listed': async () => assert.deepEqual(await languages(), ['fr']),
        delete: async () => ask((told) => p.captions.videosIdCaptionsCaptionLanguageDelete(s.video, 'fr', told)),
        'there are none again': async () => assert.deepEqual(await languages(), []),
        'there are none to delete': async () =>
          refused(
            ask((told) => p.captions.videosIdCaptionsCaptionLanguageDelete(s.video, 'fr', told)),
            404,
          ),
      };
    },
    'a video is blocked': (p, s) => {
      /** The description has the members of the video in each row, and the service has the video in it. */
      type Blocked = Partial<Video> & { readonly video?: Video };
      const blocked = async (): Promise<string[]> =>
        (await all<Blocked>((range, told) => p.blocks.videosBlacklistGet(range, told))).map(
          (row) => row.video?.uuid ?? row.uuid ?? '',
        );
      return {
        'create a video': async () => {
          s.video = (await live(p, await channel(p, 'ada_films'), 'From the harbour')).uuid;
        },
        'it is not blocked': async () => assert.ok(!(await blocked()).includes(s.video)),
        block: async () => ask((told) => p.blocks.videosIdBlacklistPost(s.video, told)),
        'it is among the blocked': async () => once(await blocked(), [s.video]),
        unblock: async () => ask((told) => p.blocks.videosIdBlacklistDelete(s.video, told)),
        'it is not among them': async () => assert.ok(!(await blocked()).includes(s.video)),
        'there is no block to take away': async () =>
          refused(
            ask((told) => p.blocks.videosIdBlacklistDelete(s.video, told)),
            404,
          ),
      };
    },
    'a video is reported': (p, s) => {
      interface Message {
        readonly id: number;
        readonly message: string;
      }
      const reports = (): Promise<Abuse[]> => all((range, told) => p.abuses.abusesGet(range, told));
      const own = async (): Promise<Abuse> =>
        given(
          (await reports()).find(({ id }) => String(id) === s.id),
          'report',
        );
      const messages = async (): Promise<readonly Message[]> =>
        (await ask<List<Message>>((told) => p.abuses.abusesAbuseIdMessagesGet(s.id, told))).data;
      return {
        'create a video': async () => {
          s.video = (await live(p, await channel(p, 'ada_films'), 'From the harbour')).id;
        },
        report: async () => {
          const report = {
            reason: 'It is not her harbour',
            predefinedReasons: ['rights', 'spamOrMisleading'],
            video: { id: Number(s.video), startAt: 1 },
          };
          const body = await ask<{ readonly abuse: { readonly id: number } }>((told) => p.abuses.abusesPost(report, told));
          s.id = String(body.abuse.id);
        },
        'it is pending': async () => {
          const one = await own();
          assert.equal(one.reason, 'It is not her harbour');
          assert.equal(one.state?.id, 1);
        },
        'accept it': async () =>
          ask((told) => p.abuses.abusesAbuseIdPut(s.id, { inlineObject12: { state: 3, moderationComment: 'So it is' } }, told)),
        'it is accepted': async () => {
          const one = await own();
          assert.equal(one.state?.id, 3);
          assert.equal(one.moderationComment, 'So it is');
        },
        'say something about it': async () =>
          ask((told) => p.abuses.abusesAbuseIdMessagesPost(s.id, { message: 'Whose is it?' }, told)),
        'it is among what was said': async () => {
          const said = await messages();
          once(
            said.map(({ message }) => message),
            ['Whose is it?'],
          );
          s.message = String(given(said[0], 'message').id);
        },
        'take it back': async () => ask((told) => p.abuses.abusesAbuseIdMessagesAbuseMessageIdDelete(s.id, s.message, told)),
        'it is said no more': async () => assert.ok(!(await messages()).some(({ id }) => String(id) === s.message)),
        'delete the report': async () => ask((told) => p.abuses.abusesAbuseIdDelete(s.id, told)),
        'gone from the list': async () => assert.ok(!(await reports()).some(({ id }) => String(id) === s.id)),
        'it cannot be deleted again': async () =>
          refused(
            ask((told) => p.abuses.abusesAbuseIdDelete(s.id, told)),
            404,
          ),
      };
    },
    'a user from its making to its end': (p, s) => {
      const read = (): Promise<User> => ask((told) => p.users.getUserId(s.id, told));
      const listed = (of: Range = {}): Promise<User[]> => all((range, told) => p.users.usersGet(range, told), of);
      return {
        create: async () => {
          const user = {
            username: 'grace',
            password: 'a long password',
            email: 'grace@example.org',
            role: 2,
            videoQuota: 1_000_000,
            videoQuotaDaily: 100_000,
          };
          const body = await ask<{ readonly user: { readonly id: number } }>((told) => p.users.usersPost(user, told));
          s.id = String(body.user.id);
        },
        read: async () => {
          const one = await read();
          assert.equal(one.username, 'grace');
          assert.equal(one.email, 'grace@example.org');
          assert.equal(one.role.id, 2);
          assert.equal(one.videoQuota, 1_000_000);
        },
        'its password is not told': async () => assert.ok(!('password' in (await read()))),
        list: async () =>
          once(
            (await listed()).map(({ id }) => String(id)),
            [s.id],
          ),
        search: async () =>
          once(
            (await listed({ search: 'grace' })).map(({ username }) => username),
            ['grace'],
          ),
        change: async () =>
          ask((told) => p.users.putUserId(s.id, { email: 'hopper@example.org', videoQuota: 2_000_000, role: 1 }, told)),
        'it is changed': async () => {
          const one = await read();
          assert.equal(one.email, 'hopper@example.org');
          assert.equal(one.videoQuota, 2_000_000);
          assert.equal(one.role.id, 1);
          assert.equal(one.username, 'grace');
        },
        delete: async () => ask((told) => p.users.delUserId(s.id, told)),
        gone: async () => refused(read(), 404),
      };
    },
    'users through all pages': (p) => {
      const names = ['ann', 'ben', 'cid', 'dot', 'eve'];
      return {
        create: async () => {
          for (const username of names) {
            const user = { username, password: 'a long password', email: `${username}@example.org`, role: 2 };
            await ask((told) => p.users.usersPost(user, told));
          }
        },
        'in pages of two': async () =>
          once(
            (await all<User>((range, told) => p.users.usersGet(range, told))).map(({ username }) => username),
            names,
          ),
        'one registers by himself': async () => {
          const user = { username: 'finn', password: 'a long password', email: 'finn@example.org' };
          await ask((told) => p.users.usersRegisterPost(user, told));
        },
        'his name is taken': async () => {
          const user = { username: 'finn', password: 'a long password', email: 'another.finn@example.org' };
          await refused(
            ask((told) => p.users.usersRegisterPost(user, told)),
            409,
          );
        },
        'he is among the users': async () =>
          once(
            (await all<User>((range, told) => p.users.usersGet(range, told))).map(({ username }) => username),
            ['finn'],
          ),
      };
    },
    'what one likes oneself': (p, s) => ({
      'who I am': async () => {
        const me = await self(p);
        s.username = me.username;
        assert.equal(typeof me.id, 'number');
      },
      'play nothing by itself': async () => ask((told) => p.me.usersMePut({ autoPlayVideo: false }, told)),
      'it does not': async () => assert.equal((await self(p)).autoPlayVideo, false),
      'play by itself': async () =>
        ask((told) => p.me.usersMePut({ autoPlayVideo: true, displayName: 'Ada of the harbour' }, told)),
      'it does, by the new name': async () => {
        const me = await self(p);
        assert.equal(me.autoPlayVideo, true);
        assert.equal(me.account?.displayName, 'Ada of the harbour');
      },
      'I am the same': async () => assert.equal((await self(p)).username, s.username),
    }),
    'a subscription to a channel': (p, s) => {
      const exist = (): Promise<Record<string, boolean>> =>
        ask((told) => p.subscriptions.usersMeSubscriptionsExistGet([s.uri], told));
      const listed = async (): Promise<string[]> =>
        (await all<Channel>((range, told) => p.subscriptions.usersMeSubscriptionsGet(range, told))).map(({ name }) => name);
      return {
        'create a channel': async () => {
          await channel(p, 'ada_films');
          const { host } = await ask<Channel>((told) => p.channels.videoChannelsChannelHandleGet('ada_films', told));
          s.uri = `ada_films@${host}`;
        },
        'there is none yet': async () => assert.equal((await exist())[s.uri], false),
        subscribe: async () => ask((told) => p.subscriptions.usersMeSubscriptionsPost({ inlineObject1: { uri: s.uri } }, told)),
        'there is one': async () => soon(async () => assert.equal((await exist())[s.uri], true)),
        read: async () => {
          const one = await ask<Channel>((told) => p.subscriptions.usersMeSubscriptionsSubscriptionHandleGet(s.uri, told));
          assert.equal(one.name, 'ada_films');
        },
        list: async () => once(await listed(), ['ada_films']),
        unsubscribe: async () => ask((told) => p.subscriptions.usersMeSubscriptionsSubscriptionHandleDelete(s.uri, told)),
        'there is none': async () => assert.equal((await exist())[s.uri], false),
        'gone from the list': async () => assert.ok(!(await listed()).includes('ada_films')),
      };
    },
    'refused, and wrong': (p, _s, another) => ({
      'a token that nobody gave reads nothing': async () => {
        const q = another('nobody-has-this-token');
        await refused(
          ask((told) => q.users.usersGet({}, told)),
          401,
        );
      },
      'it makes nothing': async () => refused(channel(another('nobody-has-this-token'), 'intruder'), 401),
      'nothing was made': async () => {
        const held = await all<Channel>((range, told) => p.channels.videoChannelsGet(range, told));
        assert.ok(!held.some(({ name }) => name === 'intruder'));
      },
      'a channel without a name': async () =>
        refused(
          ask((told) => p.channels.videoChannelsPost({ videoChannelCreate: { displayName: 'Nameless' } }, told)),
          400,
        ),
      'a user without a real address': async () => {
        const user = { username: 'mallory', password: 'a long password', email: 'not an address', role: 2 };
        await refused(
          ask((told) => p.users.usersPost(user, told)),
          400,
        );
      },
      'a user of no role': async () => {
        const user = { username: 'mallory', password: 'a long password', email: 'mallory@example.org', role: 77 };
        await refused(
          ask((told) => p.users.usersPost(user, told)),
          400,
        );
      },
      'a channel that nobody made, and what is told of it': async () => {
        const thrown = (await refused(
          ask((told) => p.channels.videoChannelsChannelHandleGet('nobodys_films', told)),
          404,
        )) as { response?: { body?: { status?: unknown; detail?: unknown } } };
        assert.equal(thrown.response?.body?.status, 404);
        assert.equal(typeof thrown.response?.body?.detail, 'string');
      },
    }),
  },
};
