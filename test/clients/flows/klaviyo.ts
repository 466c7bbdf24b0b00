import assert from 'node:assert/strict';
import {
  ApiKeySession,
  CatalogsApi,
  CouponsApi,
  EventsApi,
  type ListCreateQuery,
  ListsApi,
  type ProfileCreateQuery,
  ProfilesApi,
  TagsApi,
  type TemplateCreateHtmlOrDndQuery,
  TemplatesApi,
  WebhooksApi,
} from 'klaviyo-api';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

interface Klaviyo {
  readonly profiles: ProfilesApi;
  readonly lists: ListsApi;
  readonly tags: TagsApi;
  readonly templates: TemplatesApi;
  readonly coupons: CouponsApi;
  readonly events: EventsApi;
  readonly webhooks: WebhooksApi;
  readonly catalogs: CatalogsApi;
}

const connect = (place: Place, token: string): Klaviyo => {
  const session = new ApiKeySession(token);
  const made = {
    profiles: new ProfilesApi(session),
    lists: new ListsApi(session),
    tags: new TagsApi(session),
    templates: new TemplatesApi(session),
    coupons: new CouponsApi(session),
    events: new EventsApi(session),
    webhooks: new WebhooksApi(session),
    catalogs: new CatalogsApi(session),
  };
  for (const api of Object.values(made)) (api as { basePath: string }).basePath = place.url;
  return made;
};

const profile = (attributes: ProfileCreateQuery['data']['attributes']): ProfileCreateQuery => ({
  data: { type: 'profile', attributes },
});
const list = (name: string): ListCreateQuery => ({ data: { type: 'list', attributes: { name } } });

const person = async ({ profiles }: Klaviyo, name: string): Promise<string> =>
  given((await profiles.createProfile(profile({ email: `${name}@klaviyo-demo.com` }))).body.data.id, 'id');

const ids = (rows: readonly { id?: string | null }[]): string[] => rows.map(({ id }) => id ?? '');

/** The cursor in the link to the next page, where there is one. */
const cursor = (links: { next?: string | null } | undefined): string | undefined =>
  links?.next == null
    ? undefined
    : given(new URL(links.next).searchParams.get('page[cursor]'), 'cursor in the link to the next page');

/** Guide: developers.klaviyo.com, "API overview" (JSON:API, pagination, filtering, relationships) and the reference. */
export const vendor: Vendor<Klaviyo> = {
  document: 'klaviyo/stable.json.gz',
  header: 'Authorization',
  word: 'Klaviyo-API-Key',
  made: 'pk_madeup',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a profile is made, read and changed': ({ profiles }, s) => ({
      create: async () => {
        const { response, body } = await profiles.createProfile(
          profile({ email: 'sarah.mason@klaviyo-demo.com', firstName: 'Sarah', lastName: 'Mason', properties: { pet: 'cat' } }),
        );
        assert.equal(response.status, 201);
        s.id = given(body.data.id, 'id');
        assert.deepEqual([body.data.type, body.data.attributes.firstName], ['profile', 'Sarah']);
      },
      read: async () => {
        const { data } = (await profiles.getProfile(s.id)).body;
        assert.deepEqual([data.id, data.attributes.email], [s.id, 'sarah.mason@klaviyo-demo.com']);
      },
      change: async () => {
        const { body } = await profiles.updateProfile(s.id, {
          data: { type: 'profile', id: s.id, attributes: { firstName: 'Sally' } },
        });
        assert.equal(body.data.attributes.firstName, 'Sally');
      },
      'read the new first name and the old last name': async () => {
        const { attributes } = (await profiles.getProfile(s.id)).body.data;
        assert.deepEqual([attributes.firstName, attributes.lastName], ['Sally', 'Mason']);
      },
    }),
    'profiles through all pages': (api, s) => ({
      create: async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = await person(api, `p${n}`);
      },
      'walk pages of two': async () => {
        const rows = await pages(
          async (from) =>
            (await api.profiles.getProfiles({ pageSize: 2, ...(from === undefined ? {} : { pageCursor: from }) })).body,
          (page) => page.data,
          (page) => cursor(page.links),
        );
        once(ids(rows), [s.id1, s.id2, s.id3, s.id4, s.id5]);
      },
      'a page holds what was asked for': async () =>
        assert.equal((await api.profiles.getProfiles({ pageSize: 2 })).body.data.length, 2),
    }),
    'a profile is found by its address': (api, s) => ({
      create: async () => {
        s.id = await person(api, 'wanted');
        await person(api, 'unwanted');
      },
      find: async () => {
        const { data } = (await api.profiles.getProfiles({ filter: 'equals(email,"wanted@klaviyo-demo.com")' })).body;
        assert.deepEqual(ids(data), [s.id]);
      },
      'only the members that were asked for': async () => {
        const { attributes } = (await api.profiles.getProfile(s.id, { fieldsProfile: ['email'] })).body.data;
        assert.equal(attributes.email, 'wanted@klaviyo-demo.com');
        assert.equal(attributes.lastName, undefined);
      },
    }),
    'a list from its making to its end': ({ lists }, s) => ({
      create: async () => {
        const { response, body } = await lists.createList(list('Newsletter'));
        assert.equal(response.status, 201);
        s.id = given(body.data.id, 'id');
        assert.equal(body.data.attributes.name, 'Newsletter');
      },
      read: async () => assert.equal((await lists.getList(s.id)).body.data.attributes.name, 'Newsletter'),
      rename: async () => {
        const { body } = await lists.updateList(s.id, { data: { type: 'list', id: s.id, attributes: { name: 'Weekly' } } });
        assert.equal(body.data.attributes.name, 'Weekly');
      },
      'read the new name': async () => assert.equal((await lists.getList(s.id)).body.data.attributes.name, 'Weekly'),
      delete: async () => assert.equal((await lists.deleteList(s.id)).response.status, 204),
      gone: async () => refused(lists.getList(s.id), 404),
    }),
    'lists through all pages': ({ lists }, s) => ({
      create: async () => {
        for (const n of [1, 2, 3]) s[`id${n}`] = given((await lists.createList(list(`List ${n}`))).body.data.id, 'id');
      },
      'walk pages of one': async () => {
        const rows = await pages(
          async (from) => (await lists.getLists({ pageSize: 1, ...(from === undefined ? {} : { pageCursor: from }) })).body,
          (page) => page.data,
          (page) => cursor(page.links),
        );
        once(ids(rows), [s.id1, s.id2, s.id3]);
      },
    }),
    'profiles of a list': (api, s) => {
      const members = async () => ids((await api.lists.getProfileIdsForList(s.list)).body.data);
      return {
        create: async () => {
          s.list = given((await api.lists.createList(list('Members'))).body.data.id, 'id');
          for (const n of [1, 2]) s[`id${n}`] = await person(api, `member${n}`);
        },
        'nobody is on it': async () => assert.deepEqual(await members(), []),
        add: async () => {
          const data = [s.id1, s.id2].map((id) => ({ type: 'profile' as const, id }));
          assert.equal((await api.lists.addProfilesToList(s.list, { data })).response.status, 204);
        },
        'both are on it': async () => once(await members(), [s.id1, s.id2]),
        'read both': async () => once(ids((await api.lists.getProfilesForList(s.list)).body.data), [s.id1, s.id2]),
        remove: async () => api.lists.removeProfilesFromList(s.list, { data: [{ type: 'profile', id: s.id1 }] }),
        'one is on it': async () => assert.deepEqual(await members(), [s.id2]),
        'the profile knows it': async () =>
          assert.deepEqual(ids((await api.profiles.getListIdsForProfile(s.id2)).body.data), [s.list]),
      };
    },
    'a tag on a list': ({ tags, lists }, s) => ({
      create: async () => {
        s.id = given((await tags.createTag({ data: { type: 'tag', attributes: { name: 'My Tag' } } })).body.data.id, 'id');
        s.list = given((await lists.createList(list('Tagged'))).body.data.id, 'id');
      },
      rename: async () => {
        const { response } = await tags.updateTag(s.id, { data: { type: 'tag', id: s.id, attributes: { name: 'Our Tag' } } });
        assert.equal(response.status, 204);
      },
      'read the new name': async () => assert.equal((await tags.getTag(s.id)).body.data.attributes.name, 'Our Tag'),
      'tag the list': async () => tags.tagLists(s.id, { data: [{ type: 'list', id: s.list }] }),
      'the list has the tag': async () => assert.deepEqual(ids((await lists.getTagIdsForList(s.list)).body.data), [s.id]),
      'the tag has the list': async () => assert.deepEqual(ids((await tags.getListIdsForTag(s.id)).body.data), [s.list]),
      delete: async () => assert.equal((await tags.deleteTag(s.id)).response.status, 204),
      gone: async () => refused(tags.getTag(s.id), 404),
    }),
    'a template': ({ templates }, s) => ({
      create: async () => {
        const attributes = { name: 'Monthly', editorType: 'CODE', html: '<html><body>hello world</body></html>' };
        const query: TemplateCreateHtmlOrDndQuery = { data: { type: 'template', attributes } };
        const { data } = (await templates.createTemplate(query)).body;
        s.id = given(data.id, 'id');
        assert.deepEqual([data.attributes.name, data.attributes.editorType], ['Monthly', 'CODE']);
      },
      change: async () => {
        const query = { data: { type: 'template' as const, id: s.id, attributes: { name: 'Yearly' } } };
        assert.equal((await templates.updateTemplate(s.id, query)).body.data.attributes.name, 'Yearly');
      },
      'read the new name and the old HTML': async () => {
        const { attributes } = (await templates.getTemplate(s.id)).body.data;
        assert.deepEqual([attributes.name, attributes.html], ['Yearly', '<html><body>hello world</body></html>']);
      },
      list: async () => once(ids((await templates.getTemplates()).body.data), [s.id]),
      delete: async () => templates.deleteTemplate(s.id),
      gone: async () => refused(templates.getTemplate(s.id), 404),
    }),
    'a coupon, named by its caller': ({ coupons }, s) => ({
      create: async () => {
        const attributes = { externalId: '10OFF', description: '10% off for purchases over $50' };
        const { data } = (await coupons.createCoupon({ data: { type: 'coupon', attributes } })).body;
        s.id = given(data.id, 'id');
        assert.equal(data.attributes.externalId, '10OFF');
      },
      change: async () => {
        const query = { data: { type: 'coupon' as const, id: s.id, attributes: { description: 'Ten off' } } };
        assert.equal((await coupons.updateCoupon(s.id, query)).body.data.attributes.description, 'Ten off');
      },
      read: async () => assert.equal((await coupons.getCoupon(s.id)).body.data!.attributes.description, 'Ten off'),
      delete: async () => coupons.deleteCoupon(s.id),
      gone: async () => refused(coupons.getCoupon(s.id), 404),
    }),
    'a catalogue item': ({ catalogs }, s) => ({
      create: async () => {
        const attributes = {
          externalId: 'SAMPLE-DATA-ITEM-1',
          title: 'Ocean Blue Shirt',
          description: 'Ocean blue cotton shirt',
          url: 'https://via.placeholder.com/150',
          price: 42,
        };
        const { data } = (await catalogs.createCatalogItem({ data: { type: 'catalog-item', attributes } })).body;
        s.id = given(data.id, 'id');
        assert.deepEqual([data.attributes.title, data.attributes.price], ['Ocean Blue Shirt', 42]);
      },
      change: async () => {
        const query = { data: { type: 'catalog-item' as const, id: s.id, attributes: { price: 40 } } };
        assert.equal((await catalogs.updateCatalogItem(s.id, query)).body.data.attributes.price, 40);
      },
      read: async () => assert.equal((await catalogs.getCatalogItem(s.id)).body.data.attributes.price, 40),
      delete: async () => catalogs.deleteCatalogItem(s.id),
      gone: async () => refused(catalogs.getCatalogItem(s.id), 404),
    }),
    'an event is taken': ({ events }) => ({
      create: async () => {
        const { response } = await events.createEvent({
          data: {
            type: 'event',
            attributes: {
              properties: { size: 'large' },
              metric: { data: { type: 'metric', attributes: { name: 'Viewed Product' } } },
              profile: { data: { type: 'profile', attributes: { email: 'sarah.mason@klaviyo-demo.com' } } },
            },
          },
        });
        assert.equal(response.status, 202);
      },
      list: async () => assert.ok(Array.isArray((await events.getEvents()).body.data)),
    }),
    'a credential that is refused': (_api, _s, another) => ({
      'another is refused': async () => refused(another('pk_not_of_this_service').lists.getLists(), 401, 403),
      'another may not write': async () => refused(another('pk_not_of_this_service').lists.createList(list('Eve')), 401, 403),
    }),
    'requests that are wrong': ({ lists, webhooks }) => ({
      'a list that nobody made': async () => {
        const thrown = (await refused(lists.getList('Nobody'), 404)) as { response?: { data?: { errors?: unknown[] } } };
        assert.ok(Array.isArray(thrown.response?.data?.errors), 'the answer has no errors');
      },
      'a list without a name': async () =>
        refused(lists.createList({ data: { type: 'list', attributes: {} } } as unknown as ListCreateQuery), 400, 422),
      'a page that is too large': async () => refused(lists.getLists({ pageSize: 11 }), 400),
      'a webhook without its topics': async () => {
        const attributes = { name: 'W', endpointUrl: 'https://www.example.com/in', secretKey: 's' };
        const query = { data: { type: 'webhook', attributes } } as unknown as Parameters<WebhooksApi['createWebhook']>[0];
        await refused(webhooks.createWebhook(query), 400, 422);
      },
    }),
  },
};
