import assert from 'node:assert/strict';
import { createFlickr, FetchTransport } from 'flickr-sdk';
import { given, once, type Place, type State, statusOf, type Vendor } from '../kit.ts';

/** Where the client goes by itself: three hosts, which are one service below `/services`. */
const hosts = /^https:\/\/(?:api|up|www)\.flickr\.com\/services/;

/** The client takes what carries its calls as an option: its own, which asks the place instead of the hosts. */
const connect = (place: Place, token: string) => {
  class Placed extends FetchTransport {
    override fetch(url: string, init: RequestInit): Promise<Response> {
      return super.fetch(url.replace(hosts, place.base), init);
    }
  }
  const transport = new Placed();
  const keyed = createFlickr(token, transport);
  const signing = { consumerKey: token, consumerSecret: 'made-up-secret' };
  return {
    flickr: keyed.flickr,
    upload: keyed.upload,
    /** Signed for the application alone, and with a request token too. */
    oauth: createFlickr({ ...signing, oauthToken: false, oauthTokenSecret: false }, transport).oauth,
    oauthWith: (oauthToken: string, oauthTokenSecret: string) =>
      createFlickr({ ...signing, oauthToken, oauthTokenSecret }, transport).oauth,
  };
};
type Client = ReturnType<typeof connect>;

/** People, groups and galleries are made on the site alone: these are there before. */
const person = '66956608@N06';
const otherPerson = '35468159852@N01';
const group = '34427469792@N01';
const gallery = '66911286-72157647277042064';
const nothing = '1';
const nobody = '99999999999@N99';

type Text = string | { readonly _content: string };
interface Row {
  readonly id: string;
  readonly title?: Text;
  readonly name?: Text;
  readonly url?: string;
}
/** A text of its own, or below `_content`: the guide has either, by method. */
const text = (value: Text | undefined): string => {
  const found = given(value, 'text');
  return typeof found === 'string' ? found : found._content;
};
/** Rows of a list, and of which page: below the list's name with the rows' own by the guide, beside the rows by the description. */
const list = (answer: Record<string, unknown>, name: string, row: string) => {
  const held = given(answer[name], name) as Record<string, unknown> | Row[];
  const about = Array.isArray(held) ? answer : held;
  const rows = given(Array.isArray(held) ? held : held[row], row) as Row[];
  assert.ok(Array.isArray(rows), `${name} has no rows`);
  const { page, pages, perpage, per_page: other, total } = about;
  return { rows, page: Number(page), pages: Number(pages), perpage: Number(perpage ?? other), total: Number(total) };
};
const photos = (answer: Record<string, unknown>) => list(answer, 'photos', 'photo');
const ids = (rows: readonly Row[]): string[] => rows.map(({ id }) => id);
/** The first of a list that everybody sees is there. */
const first = (rows: readonly Row[], what: string): Row => given(rows[0], what);

/** A call fails: by the guide with one of these codes in an answer that says so, or with a status of those that say so. */
const fails = async (call: Promise<unknown>, ...codes: readonly number[]): Promise<void> => {
  let answer: unknown;
  try {
    answer = await call;
  } catch (thrown) {
    const told = (thrown as { cause?: { stat?: unknown; code?: unknown } }).cause;
    if (told?.stat === 'fail') {
      assert.ok(codes.includes(Number(told.code)), `it fails with code ${told.code}, not ${codes.join(' or ')}`);
      return;
    }
    const status = statusOf(thrown);
    if (status === undefined || ![400, 401, 403, 404, 422].includes(status)) throw thrown;
    return;
  }
  throw new Error(`not refused, but answered ${JSON.stringify(answer).slice(0, 60)}`);
};

/** A picture of one point. */
const picture = (): File => {
  const bytes = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
  return new File([bytes], 'point.gif', { type: 'image/gif' });
};
const upload = async (c: Client, s: State, name: string, params: Parameters<Client['upload']>[1]): Promise<void> => {
  s[name] = given((await c.upload(picture(), params)).id, 'id of the photo');
};
const info = async (c: Client, photo_id: string) => (await c.flickr('flickr.photos.getInfo', { photo_id })).photo;

/** Guide: flickr.com/services/api (each method's page, "Request Format", "Response Format", "Uploading Photos", "User Authentication"), and the client's README. */
export const vendor: Vendor<Client> = {
  document: 'flickr/flickr.com.json',
  header: 'api_key',
  made: '9a0554259914a86fb9e7eb014e4e5d52',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'what was said comes back': (c) => ({
      'a word': async () => {
        const { echo } = await c.flickr('flickr.test.echo', { echo: 'hello' });
        assert.equal(text(echo), 'hello');
      },
      'another word': async () => {
        const { echo } = await c.flickr('flickr.test.echo', { echo: 'good bye' });
        assert.equal(text(echo), 'good bye');
      },
      'words with signs': async () => {
        const { echo } = await c.flickr('flickr.test.echo', { echo: 'Zürich & Genève: 50 % + 1 = ?' });
        assert.equal(text(echo), 'Zürich & Genève: 50 % + 1 = ?');
      },
      'nothing, which is fine': () => c.flickr('flickr.test.echo', {}),
    }),

    'licenses that photos have': (c, s) => ({
      'there are some': async () => {
        const { licenses } = await c.flickr('flickr.photos.licenses.getInfo', {});
        const rows = given(licenses.license, 'license') as Row[];
        assert.ok(rows.length > 0, 'there is none');
        const found = rows.map(({ id }) => String(id));
        once(found, [...new Set(found)], 'licenses');
        s.ids = found.join(',');
      },
      'each has a name and an address': async () => {
        const { licenses } = await c.flickr('flickr.photos.licenses.getInfo', {});
        for (const { name, url } of licenses.license as Row[]) assert.deepEqual([typeof name, typeof url], ['string', 'string']);
      },
      'the same when they are asked for again': async () => {
        const { licenses } = await c.flickr('flickr.photos.licenses.getInfo', {});
        assert.equal((licenses.license as Row[]).map(({ id }) => String(id)).join(','), s.ids);
      },
      'photos of one of them': async () => {
        const license = s.ids.split(',')[0];
        assert.ok(Array.isArray(photos(await c.flickr('flickr.photos.search', { text: 'harbour', license })).rows));
      },
    }),

    'a photo that was found': (c, s) => ({
      find: async () => {
        s.id = first(photos(await c.flickr('flickr.photos.search', { text: 'harbour' })).rows, 'photo').id;
      },
      read: async () => {
        const photo = await info(c, s.id);
        assert.deepEqual([photo.id, typeof text(photo.title), typeof photo.owner.nsid], [s.id, 'string', 'string']);
        s.owner = photo.owner.nsid;
      },
      'who took it': async () => {
        const { person: found } = await c.flickr('flickr.people.getInfo', { user_id: s.owner });
        assert.equal(found.nsid ?? found.id, s.owner);
      },
      'how large it is': async () => {
        const { sizes } = await c.flickr('flickr.photos.getSizes', { photo_id: s.id });
        const rows = given(sizes.size ?? sizes.sizes, 'sizes') as { label: string; source: string; width: number }[];
        assert.ok(rows.length > 0, 'it has no size');
        for (const { label, source } of rows) assert.deepEqual([typeof label, typeof source], ['string', 'string']);
      },
      'how it was taken': async () => {
        const { photo } = await c.flickr('flickr.photos.getExif', { photo_id: s.id });
        assert.equal(photo.id, s.id);
        assert.ok(Array.isArray(photo.exif), 'there is no exif');
      },
      'what is before and after it': async () => {
        const answer = await c.flickr('flickr.photos.getContext', { photo_id: s.id });
        assert.notEqual(given(answer.nextphoto, 'nextphoto').id, s.id);
        assert.notEqual(given(answer.prevphoto, 'prevphoto').id, s.id);
      },
    }),

    'how photos are looked for': (c, s) => ({
      'three a page': async () => {
        const found = photos(await c.flickr('flickr.photos.search', { tags: 'boat', per_page: '3' }));
        assert.ok(found.rows.length <= 3, `there are ${found.rows.length}`);
        assert.deepEqual([found.page, found.perpage], [1, 3]);
      },
      'the second page': async () => {
        const found = photos(await c.flickr('flickr.photos.search', { tags: 'boat', per_page: '3', page: '2' }));
        assert.deepEqual([found.page, found.perpage], [2, 3]);
      },
      'those of one person': async () => {
        const found = photos(await c.flickr('flickr.photos.search', { user_id: person, per_page: '5' }));
        assert.ok(found.rows.length <= 5);
        s.total = String(found.total);
      },
      'none from before there were any': async () => {
        const before = { user_id: person, max_upload_date: '1' };
        assert.deepEqual(photos(await c.flickr('flickr.photos.search', before)).rows, []);
      },
      'videos are no more than all': async () => {
        const found = photos(await c.flickr('flickr.photos.search', { user_id: person, media: 'videos', per_page: '5' }));
        assert.ok(found.total <= Number(s.total), `${found.total} of ${s.total}`);
      },
    }),

    'a person and their photos': (c, s) => ({
      read: async () => {
        const { person: found } = await c.flickr('flickr.people.getInfo', { user_id: person });
        assert.equal(found.nsid, person);
        assert.equal(typeof text(found.username), 'string');
      },
      'their photos': async () => {
        const found = photos(await c.flickr('flickr.people.getPhotos', { user_id: person, per_page: '4' }));
        assert.ok(found.rows.length > 0 && found.rows.length <= 4, `there are ${found.rows.length}`);
        s.id = first(found.rows, 'photo').id;
      },
      'one of them is theirs': async () => assert.equal((await info(c, s.id)).owner.nsid, person),
      'page after page, none twice': async () => {
        const seen: string[] = [];
        for (let page = 1, last = 1; page <= Math.min(last, 4); page += 1) {
          const ask = { user_id: person, per_page: '2', page: String(page) };
          const found = photos(await c.flickr('flickr.people.getPhotos', ask));
          seen.push(...ids(found.rows));
          last = found.pages;
        }
        once(seen, [...new Set(seen)], 'photos');
        assert.ok(seen.includes(s.id), 'the first one is missing');
      },
      'another person is another': async () => {
        const { person: found } = await c.flickr('flickr.people.getInfo', { user_id: otherPerson });
        assert.equal(found.nsid, otherPerson);
      },
    }),

    'albums of a person': (c, s) => ({
      'all, through all pages': async () => {
        const seen: Row[] = [];
        for (let page = 1, last = 1; page <= Math.min(last, 40); page += 1) {
          const ask = { user_id: person, per_page: '500', page: String(page) };
          const found = list(await c.flickr('flickr.photosets.getList', ask), 'photosets', 'photoset');
          seen.push(...found.rows);
          last = found.pages;
        }
        once(ids(seen), [...new Set(ids(seen))], 'albums');
        s.album = first(seen, 'album').id;
        assert.equal(typeof text(first(seen, 'album').title), 'string');
      },
      'photos of one': async () => {
        const answer = await c.flickr('flickr.photosets.getPhotos', { photoset_id: s.album, user_id: person });
        const { rows } = list(answer, 'photoset', 'photo');
        s.id = first(rows, 'photo').id;
      },
      'what is before and after it there': async () => {
        const answer = await c.flickr('flickr.photosets.getContext', { photo_id: s.id, photoset_id: s.album });
        given(answer.nextphoto, 'nextphoto');
        given(answer.prevphoto, 'prevphoto');
      },
      'it is read by itself': async () => assert.equal((await info(c, s.id)).id, s.id),
    }),

    'what a person likes': (c, s) => ({
      all: async () => {
        const found = photos(await c.flickr('flickr.favorites.getList', { user_id: person, per_page: '5' }));
        assert.ok(found.rows.length <= 5);
        s.id = first(found.rows, 'favorite').id;
      },
      'one of them': async () => assert.equal((await info(c, s.id)).id, s.id),
      'what is before and after it there': async () => {
        const answer = await c.flickr('flickr.favorites.getContext', { photo_id: s.id, user_id: person });
        given(answer.nextphoto, 'nextphoto');
        given(answer.prevphoto, 'prevphoto');
      },
      'nothing before there was anything': async () => {
        const ask = { user_id: person, max_fave_date: '1' };
        assert.deepEqual(photos(await c.flickr('flickr.favorites.getList', ask)).rows, []);
      },
    }),

    'a group and its pool': (c, s) => ({
      read: async () => {
        const { group: found } = await c.flickr('flickr.groups.getInfo', { group_id: group });
        assert.equal(found.id ?? found.nsid, group);
        assert.equal(typeof text(found.name), 'string');
      },
      'photos of its pool': async () => {
        const { rows } = photos(await c.flickr('flickr.groups.pools.getPhotos', { group_id: group }));
        s.id = first(rows, 'photo').id;
      },
      'what is before and after one there': async () => {
        const answer = await c.flickr('flickr.groups.pools.getContext', { photo_id: s.id, group_id: group });
        given(answer.nextphoto, 'nextphoto');
        given(answer.prevphoto, 'prevphoto');
      },
      'it is read by itself': async () => assert.equal((await info(c, s.id)).id, s.id),
    }),

    'what a group talks about': (c, s) => ({
      topics: async () => {
        const ask = { group_id: group, per_page: '5', page: '1' };
        const answer = await c.flickr('flickr.groups.discuss.topics.getList', ask);
        const { rows } = list(answer, 'topics', 'topic');
        assert.ok(rows.length <= 5);
        s.topic = first(rows, 'topic').id;
      },
      'one of them': async () => {
        const { topic } = await c.flickr('flickr.groups.discuss.topics.getInfo', { group_id: group, topic_id: s.topic });
        assert.deepEqual([topic.id, typeof topic.subject], [s.topic, 'string']);
        s.reply = String(given(topic.last_reply ?? topic.lastreply, 'last reply'));
      },
      'its last reply': async () => {
        const ask = { group_id: group, topic_id: s.topic, reply_id: s.reply };
        const { reply } = await c.flickr('flickr.groups.discuss.replies.getInfo', ask);
        assert.equal(reply.id, s.reply);
      },
      'no topic that is not there': () =>
        fails(c.flickr('flickr.groups.discuss.topics.getInfo', { group_id: group, topic_id: nothing }), 1, 2),
    }),

    'a gallery': (c, s) => ({
      'its photos': async () => {
        const { rows } = photos(await c.flickr('flickr.galleries.getPhotos', { gallery_id: gallery }));
        s.id = first(rows, 'photo').id;
        once(ids(rows), [...new Set(ids(rows))], 'photos');
      },
      'one of them': async () => assert.equal((await info(c, s.id)).id, s.id),
      'how large it is': async () => given((await c.flickr('flickr.photos.getSizes', { photo_id: s.id })).sizes, 'sizes'),
      'the same photos again': async () => {
        const { rows } = photos(await c.flickr('flickr.galleries.getPhotos', { gallery_id: gallery }));
        once(ids(rows), [s.id], 'photos');
      },
    }),

    'a photo is uploaded': (c, s) => ({
      upload: () => upload(c, s, 'id', { title: 'Old crane', description: 'At the quay', tags: 'crane harbour', is_public: '1' }),
      read: async () => {
        const photo = await info(c, s.id);
        assert.deepEqual([photo.id, text(photo.title), text(photo.description)], [s.id, 'Old crane', 'At the quay']);
      },
      'its tags': async () => {
        const rows = (await info(c, s.id)).tags.tag as { raw?: string; _content: string }[];
        assert.deepEqual(rows.map(({ raw, _content }) => raw ?? _content).sort(), ['crane', 'harbour']);
      },
      'everybody sees it': async () => assert.equal(Number((await info(c, s.id)).visibility.ispublic), 1),
      'it has sizes': async () => given((await c.flickr('flickr.photos.getSizes', { photo_id: s.id })).sizes, 'sizes'),
    }),

    'two photos are uploaded': (c, s) => ({
      'the one': () => upload(c, s, 'one', { title: 'Lighthouse in fog', tags: 'zqlighthouse', is_public: '1' }),
      'the other': async () => {
        await upload(c, s, 'two', { title: 'Lighthouse in the sun', is_public: '1', safety_level: '1', content_type: '1' });
        assert.notEqual(s.two, s.one);
      },
      'each is what was sent': async () => {
        assert.equal(text((await info(c, s.one)).title), 'Lighthouse in fog');
        assert.equal(text((await info(c, s.two)).title), 'Lighthouse in the sun');
      },
      'whose they are': async () => {
        const owner = (await info(c, s.one)).owner.nsid;
        assert.equal((await info(c, s.two)).owner.nsid, owner);
        s.owner = owner;
      },
      'both are among that person’s': async () => {
        const found = photos(await c.flickr('flickr.people.getPhotos', { user_id: s.owner, per_page: '500' }));
        once(ids(found.rows), [s.one, s.two], 'photos');
      },
      'found by its tag': async () => {
        const found = ids(photos(await c.flickr('flickr.photos.search', { user_id: s.owner, tags: 'zqlighthouse' })).rows);
        once(found, [s.one], 'photos');
        assert.ok(!found.includes(s.two), 'the other too');
      },
    }),

    'leave to act for a person': (c, s) => ({
      'ask for a token': async () => {
        const { requestToken, requestTokenSecret } = await c.oauth.request('http://localhost:3000/oauth/callback');
        s.token = given(requestToken, 'oauth_token');
        s.secret = given(requestTokenSecret, 'oauth_token_secret');
      },
      'another time, another token': async () => {
        const { requestToken } = await c.oauth.request('http://localhost:3000/oauth/callback');
        assert.notEqual(given(requestToken, 'oauth_token'), s.token);
      },
      'change it for another': async () => {
        const { oauthToken, oauthTokenSecret } = await c.oauthWith(s.token, s.secret).verify('5d1b96a26b494074');
        assert.deepEqual([typeof oauthToken, typeof oauthTokenSecret], ['string', 'string']);
      },
    }),

    'what is not there': (c) => ({
      'a photo': () => fails(info(c, nothing), 1),
      'it has no sizes': () => fails(c.flickr('flickr.photos.getSizes', { photo_id: nothing }), 1, 2),
      'a person': () => fails(c.flickr('flickr.people.getInfo', { user_id: nobody }), 1),
      'they have no photos': () => fails(c.flickr('flickr.people.getPhotos', { user_id: nobody }), 1, 2),
      'a group': () => fails(c.flickr('flickr.groups.getInfo', { group_id: nobody }), 1),
      'an album': () => fails(c.flickr('flickr.photosets.getPhotos', { photoset_id: nothing, user_id: person }), 1, 2),
    }),

    'what cannot be': (c) => ({
      'a photo of no number': () => fails(info(c, 'not-a-number'), 1),
      'sizes of no number': () => fails(c.flickr('flickr.photos.getSizes', { photo_id: 'not-a-number' }), 1),
      'no photo at all': () => fails(c.flickr('flickr.photos.getInfo', {} as { photo_id: string }), 1),
      'photos of nobody': () => fails(c.flickr('flickr.people.getPhotos', {} as { user_id: string }), 1, 2),
      'a method that is none': () => fails(c.flickr('flickr.photos.paint' as 'flickr.photos.getInfo', { photo_id: '1' }), 112),
    }),

    'a key that is refused': (_c, _s, another) => ({
      'it finds nothing': () => fails(another('not-a-key').flickr('flickr.photos.search', { text: 'harbour' }), 100),
      'nor reads a person': () => fails(another('not-a-key').flickr('flickr.people.getInfo', { user_id: person }), 100),
      'nor says anything back': () => fails(another('not-a-key').flickr('flickr.test.echo', { echo: 'hello' }), 100),
    }),
  },
};
