import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Row = Readonly<Record<string, unknown>>;
type Call = (...asked: readonly unknown[]) => Promise<unknown>;
type Api = Readonly<Record<string, Call>>;
type ApiOf = new (client: object) => Api;

/** The parts of the client that are used here: it has no types of its own. */
const sstk = createRequire(import.meta.url)('shutterstock-api') as {
  readonly ApiClient: new () => { basePath: string; authentications: Record<string, Record<string, string>> };
  readonly AudioApi: ApiOf;
  readonly CatalogApi: ApiOf;
  readonly ImagesApi: ApiOf;
  readonly TestApi: ApiOf;
  readonly UsersApi: ApiOf;
  readonly VideosApi: ApiOf;
};

interface Shutterstock {
  readonly audio: Api;
  readonly catalog: Api;
  readonly images: Api;
  readonly test: Api;
  readonly users: Api;
  readonly videos: Api;
}

const connect = (place: Place, token: string): Shutterstock => {
  const client = new sstk.ApiClient();
  client.basePath = place.base;
  client.authentications = { basic: { type: 'basic' }, customer_accessCode: { type: 'oauth2', accessToken: token } };
  return {
    audio: new sstk.AudioApi(client),
    catalog: new sstk.CatalogApi(client),
    images: new sstk.ImagesApi(client),
    test: new sstk.TestApi(client),
    users: new sstk.UsersApi(client),
    videos: new sstk.VideosApi(client),
  };
};

const one = async (answer: Promise<unknown>): Promise<Row> => (await answer) as Row;
const data = async (answer: Promise<unknown>): Promise<readonly Row[]> => {
  const { data: rows } = await one(answer);
  assert.ok(Array.isArray(rows), 'the answer has a list in data');
  return rows as Row[];
};
const ids = (rows: readonly Row[]): string[] => rows.map(({ id }) => String(id));

const collection = async (shop: Shutterstock, name: string): Promise<string> => {
  const { id } = await one(shop.images.createImageCollection({ name }));
  assert.equal(typeof id, 'string');
  return String(id);
};
const items = (...numbers: readonly string[]): object => ({ items: numbers.map((id) => ({ id })) });
const assets = (...numbers: readonly string[]): object => ({
  items: numbers.map((id) => ({ asset: { id, type: 'image' } })),
});

/** The first image of a search, as all guides begin. */
const found = async (shop: Shutterstock, s: State): Promise<void> => {
  const [first] = await data(shop.images.searchImages({ query: 'dogs on the beach', per_page: 2 }));
  assert.equal(typeof first?.id, 'string');
  s.image = String(first?.id);
};

/** Guide: api-reference.shutterstock.com, "Authentication", "Searching", "Licensing and downloading", "Collections", "Catalog", and its reference. */
export const vendor: Vendor<Shutterstock> = {
  document: 'shutterstock/shutterstock.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'v2/MTQxMDI0ZzE0ZzI4MTA0Z2ZmMWg',
  client: connect,
  flows: {
    'a collection is made, renamed and deleted': (shop, s) => ({
      create: async () => {
        s.id = await collection(shop, 'My collection');
      },
      read: async () => {
        const read = await one(shop.images.getImageCollection(s.id));
        assert.deepEqual([read.id, read.name, read.total_item_count], [s.id, 'My collection', 0]);
      },
      rename: async () => {
        await shop.images.renameImageCollection(s.id, { name: 'My collection with a new name' });
      },
      'it has its new name': async () =>
        assert.equal((await one(shop.images.getImageCollection(s.id))).name, 'My collection with a new name'),
      'it is listed': async () => once(ids(await data(shop.images.getImageCollectionList())), [s.id], 'collections'),
      delete: async () => {
        await shop.images.deleteImageCollection(s.id);
      },
      'it is gone': () => refused(shop.images.getImageCollection(s.id), 404),
      'it is listed no more': async () => assert.ok(!ids(await data(shop.images.getImageCollectionList())).includes(s.id)),
    }),
    'collections through numbered pages': (shop, s) => ({
      'create three': async () => {
        for (const n of [1, 2, 3]) s[`id${n}`] = await collection(shop, `Board ${n}`);
      },
      'pages of two, until one is empty': async () => {
        const rows = await numbered((page) => data(shop.images.getImageCollectionList({ page, per_page: 2 })));
        once(ids(rows), [s.id1, s.id2, s.id3], 'pages');
      },
      'a page says which it is': async () => {
        const page = await one(shop.images.getImageCollectionList({ page: 2, per_page: 2 }));
        assert.deepEqual([page.page, page.per_page], [2, 2]);
      },
      'all pages have the same total': async () => {
        const first = await one(shop.images.getImageCollectionList({ page: 1, per_page: 2 }));
        const rows = await numbered((page) => data(shop.images.getImageCollectionList({ page, per_page: 2 })));
        assert.equal(first.total_count, rows.length);
      },
    }),
    'images in a collection': (shop, s) => ({
      'create the collection': async () => {
        s.id = await collection(shop, 'Dogs');
      },
      'add three': async () => {
        await shop.images.addImageCollectionItems(s.id, items('49572945', '1690105108', '1468703072'));
      },
      'they are in it': async () =>
        once(ids(await data(shop.images.getImageCollectionItems(s.id))), ['49572945', '1690105108', '1468703072'], 'items'),
      'the collection counts them': async () =>
        assert.equal((await one(shop.images.getImageCollection(s.id))).total_item_count, 3),
      'remove one': async () => {
        await shop.images.deleteImageCollectionItems(s.id, { item_id: ['1690105108'] });
      },
      'two are left': async () =>
        assert.deepEqual(ids(await data(shop.images.getImageCollectionItems(s.id))).sort(), ['1468703072', '49572945']),
    }),
    'images of a collection through numbered pages': (shop, s) => ({
      'fill it': async () => {
        s.id = await collection(shop, 'Cats');
        await shop.images.addImageCollectionItems(s.id, items('11', '12', '13', '14', '15'));
      },
      'pages of two, until one is empty': async () => {
        const rows = await numbered((page) => data(shop.images.getImageCollectionItems(s.id, { page, per_page: 2 })));
        assert.deepEqual(ids(rows).sort(), ['11', '12', '13', '14', '15']);
      },
      'the total is of all pages': async () => {
        const page = await one(shop.images.getImageCollectionItems(s.id, { per_page: 2 }));
        assert.deepEqual([page.total_count, page.per_page], [5, 2]);
      },
      'another collection has none of them': async () => {
        s.other = await collection(shop, 'No cats');
        assert.deepEqual(await data(shop.images.getImageCollectionItems(s.other)), []);
      },
    }),
    'collections of images, videos and tracks are apart': (shop, s) => ({
      'create one of each': async () => {
        s.image = await collection(shop, 'Stills');
        s.video = String((await one(shop.videos.createVideoCollection({ name: 'Clips' }))).id);
        s.track = String((await one(shop.audio.createTrackCollection({ name: 'Tracks' }))).id);
      },
      'each is read where it was made': async () => {
        assert.equal((await one(shop.images.getImageCollection(s.image))).name, 'Stills');
        assert.equal((await one(shop.videos.getVideoCollection(s.video))).name, 'Clips');
        assert.equal((await one(shop.audio.getTrackCollection(s.track))).name, 'Tracks');
      },
      'only the video collection goes': async () => {
        await shop.videos.deleteVideoCollection(s.video);
        await refused(shop.videos.getVideoCollection(s.video), 404);
        assert.equal((await one(shop.audio.getTrackCollection(s.track))).id, s.track);
      },
    }),
    'search, and read what was found': (shop, s) => ({
      search: async () => found(shop, s),
      'a page of the search holds no more than was asked for': async () => {
        const page = await one(shop.images.searchImages({ query: 'dogs', page: 1, per_page: 2 }));
        assert.deepEqual([page.page, page.per_page], [1, 2]);
        assert.ok((page.data as unknown[]).length <= 2);
      },
      'read the first': async () => {
        const read = await one(shop.images.getImage(s.image));
        assert.equal(read.id, s.image);
        assert.equal(typeof read.media_type, 'string');
      },
      'read it with others': async () => {
        const rows = await data(shop.images.getImageList([s.image]));
        assert.deepEqual(ids(rows), [s.image]);
      },
      'one that there is not': () => refused(shop.images.getImage('999999999999'), 400, 404),
    }),
    'an image is licensed and downloaded': (shop, s) => ({
      search: async () => found(shop, s),
      'with which subscription': async () => {
        const [first] = await data(shop.users.getUserSubscriptionList());
        assert.equal(typeof first?.id, 'string');
        s.subscription = String(first?.id);
      },
      license: async () => {
        const image = { image_id: s.image, subscription_id: s.subscription, size: 'small', metadata: { customer_id: '12345' } };
        const [result] = await data(shop.images.licenseImages({ images: [image] }));
        assert.equal(result?.image_id, s.image);
        assert.equal(typeof (result?.download as Row | undefined)?.url, 'string');
      },
      'it is in the history': async () => {
        const rows = await data(shop.images.getImageLicenseList({ image_id: s.image }));
        const [event] = rows.filter(({ image }) => (image as Row).id === s.image);
        s.license = String(event?.id);
        assert.deepEqual([rows.length, event?.subscription_id], [1, s.subscription]);
      },
      'download it again': async () =>
        assert.equal(typeof (await one(shop.images.downloadImage(s.license, { size: 'small' }))).url, 'string'),
    }),
    'a catalog collection': (shop, s) => ({
      create: async () => {
        const made = await one(shop.catalog.createCollection({ name: 'New Collection', visibility: 'public' }));
        s.id = String(made.id);
        assert.deepEqual([made.name, made.visibility, made.total_item_count], ['New Collection', 'public', 0]);
      },
      'add an asset': async () => {
        const changed = await one(shop.catalog.addToCollection(s.id, assets('1690105108')));
        assert.deepEqual([changed.id, changed.total_item_count], [s.id, 1]);
      },
      update: async () => {
        const changed = await one(shop.catalog.updateCollection(s.id, { name: 'My Collection' }));
        assert.deepEqual([changed.name, changed.visibility], ['My Collection', 'public']);
      },
      'it is listed as changed': async () => {
        const rows = (await data(shop.catalog.getCollections())).filter(({ id }) => id === s.id);
        assert.deepEqual(
          rows.map(({ name }) => name),
          ['My Collection'],
        );
      },
      delete: async () => {
        await shop.catalog.deleteCollection(s.id);
      },
      'it is listed no more': async () => assert.ok(!ids(await data(shop.catalog.getCollections())).includes(s.id)),
      'it cannot be deleted again': () => refused(shop.catalog.deleteCollection(s.id), 404),
    }),
    'catalog collections through numbered pages': (shop, s) => ({
      'create three, private unless said': async () => {
        for (const n of [1, 2, 3]) {
          const made = await one(shop.catalog.createCollection({ name: `Campaign ${n}` }));
          assert.equal(made.visibility, 'private');
          s[`id${n}`] = String(made.id);
        }
      },
      'pages of two, until one is empty': async () => {
        const rows = await numbered((page) => data(shop.catalog.getCollections({ page, per_page: 2 })));
        once(ids(rows), [s.id1, s.id2, s.id3], 'pages');
      },
    }),
    'words for a search': (shop) => ({
      'what a beginning may mean': async () => {
        const { data: words } = await one(shop.images.getImageSuggestions('cats', { limit: 3 }));
        assert.ok(Array.isArray(words) && words.length <= 3 && words.every((word) => typeof word === 'string'));
      },
      'a text is needed': () => refused(shop.images.getImageKeywordSuggestions({}), 400),
      categories: async () => {
        for (const { id, name } of await data(shop.images.listImageCategories())) {
          assert.deepEqual([typeof id, typeof name], ['string', 'string']);
        }
      },
    }),
    'what comes back as it was sent': (shop) => ({
      echo: async () => assert.equal((await one(shop.test.echo({ text: 'hello' }))).text, 'hello'),
      'without a text': async () => assert.equal((await one(shop.test.echo())).text, 'ok'),
      validate: async () => {
        const read = await one(shop.test.validate(123, { tag: ['one', 'two'] }));
        assert.deepEqual({ ...(read.query as Row) }, { id: 123, tag: ['one', 'two'] });
      },
      'an ID that is no number': () => refused(shop.test.validate('abc'), 400),
    }),
    'who is asking': (shop) => ({
      user: async () => {
        const user = await one(shop.users.getUser());
        assert.deepEqual([typeof user.id, typeof user.username], ['string', 'string']);
      },
      token: async () => {
        const token = await one(shop.users.getAccessToken());
        assert.ok(['customer', 'contributor'].includes(String(token.realm)));
        assert.ok(Array.isArray(token.scopes));
      },
      subscriptions: async () => assert.ok(Array.isArray(await data(shop.users.getUserSubscriptionList()))),
    }),
    'a credential that is refused': (shop, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray(await data(shop.images.getImageCollectionList()))),
      'none is refused': () => refused(another('').images.getImageCollectionList(), 401),
      'none makes nothing': () => refused(another('').images.createImageCollection({ name: 'Nobody' }), 401),
    }),
    'requests that are wrong': (shop) => ({
      'a collection that nobody made': () => refused(shop.images.getImageCollection('1'), 404),
      'a collection without a name': () => refused(shop.images.createImageCollection({}), 400),
      'a page that is too large': () => refused(shop.images.getImageCollectionList({ per_page: 1000 }), 400),
      'a license for no images': () => refused(shop.images.licenseImages({}), 400),
      'an order that there is not': () => refused(shop.images.searchImages({ query: 'dogs', sort: 'sideways' }), 400),
    }),
  },
};
