import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { ApiManagementClient, ApiManagementModels } from '@azure/arm-apimanagement';
import { TokenCredentials } from '@azure/ms-rest-js';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

type Contract = ApiManagementModels.ProductContract;
type Options = { readonly baseUri: string; readonly noRetryPolicy: boolean };
type Made = new (credentials: TokenCredentials, subscription: string, options: Options) => ApiManagementClient;
const { ApiManagementClient: Management } = createRequire(import.meta.url)('@azure/arm-apimanagement') as {
  ApiManagementClient: Made;
};

/** The client's own version is the one that followed that of the description: it is told the description's. */
const connect = (place: Place, token: string): ApiManagementClient => {
  const client = new Management(new TokenCredentials(token), '00000000-1111-4222-8333-444444444444', {
    baseUri: place.base,
    noRetryPolicy: true,
  });
  client.apiVersion = '2019-12-01-preview';
  return client;
};

/**
 * Groups of resources, services, APIs, groups of users and tags are made by other operations: these are there before. Each new
 * service has the echo API and the three groups; the tags are the owner's.
 */
const group = 'harbour-group';
const service = 'harbour-apim';
const otherService = 'harbour-apim-two';
const [echoApi, otherApi] = ['echo-api', 'cranes-api'];
const [developers, guests] = ['developers', 'guests'];
const [tag, otherTag] = ['tagid1', 'tagid2'];

type Row = { readonly name?: string };
type Page<R extends Row = Row> = readonly R[] & { readonly nextLink?: string };
const all = async <R extends Row>(
  list: () => Promise<Page<R>>,
  listNext: (link: string) => Promise<Page<R>>,
): Promise<string[]> =>
  (
    await pages<Page<R>, R>(
      (next) => (next === undefined ? list() : listNext(next)),
      (page) => page,
      ({ nextLink }) => nextLink,
    )
  ).map(({ name }) => given(name, 'name'));
const products = (c: ApiManagementClient, how: ApiManagementModels.ProductListByServiceOptionalParams = {}, of = service) =>
  all(
    () => c.product.listByService(group, of, how),
    (next) => c.product.listByServiceNext(next),
  );
const apis = (c: ApiManagementClient, id: string, how: ApiManagementModels.ProductApiListByProductOptionalParams = {}) =>
  all(
    () => c.productApi.listByProduct(group, service, id, how),
    (next) => c.productApi.listByProductNext(next),
  );
const groups = (c: ApiManagementClient, id: string, how: ApiManagementModels.ProductGroupListByProductOptionalParams = {}) =>
  all(
    () => c.productGroup.listByProduct(group, service, id, how),
    (next) => c.productGroup.listByProductNext(next),
  );
const tags = (c: ApiManagementClient, id: string, how: ApiManagementModels.TagListByProductOptionalParams = {}) =>
  all(
    () => c.tag.listByProduct(group, service, id, how),
    (next) => c.tag.listByProductNext(next),
  );
const asked = (displayName: string, more: Partial<Contract> = {}): Contract => ({
  displayName,
  description: 'All that the harbour has',
  terms: 'Be kind',
  subscriptionRequired: true,
  approvalRequired: false,
  subscriptionsLimit: 3,
  state: 'notPublished',
  ...more,
});
const product = (c: ApiManagementClient, id: string, displayName = `Product ${id}`, more: Partial<Contract> = {}) =>
  c.product.createOrUpdate(group, service, id, asked(displayName, more));
const read = (c: ApiManagementClient, id: string) => c.product.get(group, service, id);
const limit = (calls: number): string =>
  `<policies><inbound><rate-limit calls="${calls}" renewal-period="60" /><base /></inbound><backend><base /></backend><outbound><base /></outbound></policies>`;
const policy = (c: ApiManagementClient, id: string, calls = 20) =>
  c.productPolicy.createOrUpdate(group, service, id, { value: limit(calls), format: 'xml' });
/** The tag of a state, which the client reads from its header. */
const etag = async (c: ApiManagementClient, s: State, name: string, id: string): Promise<void> => {
  s[name] = given((await c.product.getEntityTag(group, service, id)).eTag, 'ETag');
};

/** Guide: learn.microsoft.com/rest/api/apimanagement (product, product API, product group, product policy, product subscriptions, tag), "Create and publish a product", and Resource Manager on lists and ETags. */
export const vendor: Vendor<ApiManagementClient> = {
  document: 'apim-products/apimanagement-apimproducts.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJ0eXAiOiJKV1QiLCJhbGciOiJub25lIn0.eyJzdWIiOiJuaW5lZm9sZCJ9.made-up',
  client: connect,
  flows: {
    'a product, from its making to its end': (c) => ({
      create: async () => {
        const { _response, name, displayName } = await product(c, 'life', 'Life');
        assert.equal(_response.status, 201);
        assert.deepEqual([name, displayName], ['life', 'Life']);
      },
      read: async () => {
        const { name, displayName, description, terms, subscriptionRequired, approvalRequired, subscriptionsLimit, state } =
          await read(c, 'life');
        assert.deepEqual(
          { displayName, description, terms, subscriptionRequired, approvalRequired, subscriptionsLimit, state },
          asked('Life'),
        );
        assert.equal(name, 'life');
      },
      'it is listed': async () => once(await products(c), ['life'], 'products'),
      publish: () => c.product.update(group, service, 'life', { state: 'published' }, '*'),
      'it is published': async () => assert.equal((await read(c, 'life')).state, 'published'),
      delete: () => c.product.deleteMethod(group, service, 'life', '*'),
      'it is gone': () => refused(read(c, 'life'), 404),
      'it is not listed': async () => assert.ok(!(await products(c)).includes('life'), 'it is'),
    }),
    'a product is changed': (c) => ({
      create: () => product(c, 'change', 'Before'),
      'its name and its limit': () =>
        c.product.update(group, service, 'change', { displayName: 'After', subscriptionsLimit: 7 }, '*'),
      'are changed': async () => {
        const { displayName, subscriptionsLimit } = await read(c, 'change');
        assert.deepEqual([displayName, subscriptionsLimit], ['After', 7]);
      },
      'the rest is as it was': async () => {
        const { description, terms, subscriptionRequired, state } = await read(c, 'change');
        assert.deepEqual(
          [description, terms, subscriptionRequired, state],
          ['All that the harbour has', 'Be kind', true, 'notPublished'],
        );
      },
      'put whole': async () => {
        const whole = asked('Whole', { description: 'New', terms: 'Be quick', state: 'published' });
        const { _response } = await c.product.createOrUpdate(group, service, 'change', whole, { ifMatch: '*' });
        assert.equal(_response.status, 200);
      },
      'it is what was put': async () => {
        const { displayName, description, terms, state } = await read(c, 'change');
        assert.deepEqual([displayName, description, terms, state], ['Whole', 'New', 'Be quick', 'published']);
      },
      'it is there once': async () => once(await products(c), ['change'], 'products'),
    }),
    'what a product is called': (c) => ({
      create: () => product(c, 'called'),
      'an id of its own': async () => {
        const { id, name, type } = await read(c, 'called');
        assert.equal(type, 'Microsoft.ApiManagement/service/products');
        assert.equal(name, 'called');
        const end = `/resourceGroups/${group}/providers/Microsoft.ApiManagement/service/${service}/products/called`;
        assert.ok(given(id, 'id').toLowerCase().endsWith(end.toLowerCase()), `its id is ${id}`);
      },
      'as it is listed': async () => {
        const listed = (await c.product.listByService(group, service)).find(({ name }) => name === 'called');
        assert.equal(given(listed, 'product').id, (await read(c, 'called')).id);
      },
      'another has another': async () => {
        const { id } = await product(c, 'called-too');
        assert.notEqual(id, (await read(c, 'called')).id);
      },
    }),
    'changed only as it was seen': (c, s) => ({
      create: () => product(c, 'seen', 'Seen'),
      'its state has a tag': () => etag(c, s, 'first', 'seen'),
      'the same when it is read': async () => assert.equal((await read(c, 'seen')).eTag, s.first),
      'change it with the tag': () => c.product.update(group, service, 'seen', { displayName: 'Seen again' }, s.first),
      'the tag is another': async () => {
        await etag(c, s, 'second', 'seen');
        assert.notEqual(s.second, s.first);
      },
      'not with the old one': () => refused(c.product.update(group, service, 'seen', { displayName: 'Unseen' }, s.first), 412),
      'nor is it deleted with it': () => refused(c.product.deleteMethod(group, service, 'seen', s.first), 412),
      'it is with the new one': async () => {
        assert.equal((await read(c, 'seen')).displayName, 'Seen again');
        await c.product.deleteMethod(group, service, 'seen', s.second);
        await refused(read(c, 'seen'), 404);
      },
    }),
    'products through all pages': (c, s) => ({
      'make five': async () => {
        for (let n = 1; n <= 5; n += 1) await product(c, `page-${n}`);
      },
      'two at the most': async () => {
        const page = await c.product.listByService(group, service, { top: 2 });
        assert.equal(page.length, 2);
        s.first = given(page[0]?.name, 'name');
        s.second = given(page[1]?.name, 'name');
      },
      'the first is passed over': async () => {
        const page = await c.product.listByService(group, service, { top: 1, skip: 1 });
        assert.deepEqual(
          page.map(({ name }) => name),
          [s.second],
        );
      },
      'two by two, each once': async () => {
        const found: string[] = [];
        for (let skip = 0; skip < 40; skip += 2) {
          const page = await c.product.listByService(group, service, { top: 2, skip });
          if (page.length === 0) break;
          found.push(...page.map(({ name }) => given(name, 'name')));
        }
        once(found, ['page-1', 'page-2', 'page-3', 'page-4', 'page-5'], 'products');
      },
      'by the links, each once': async () =>
        once(await products(c), ['page-1', 'page-2', 'page-3', 'page-4', 'page-5'], 'products'),
    }),
    'products that are looked for': (c) => ({
      'make three': async () => {
        await product(c, 'look-red', 'Red crane', { state: 'published', terms: 'Red terms' });
        await product(c, 'look-blue', 'Blue crane', { state: 'notPublished' });
        await product(c, 'look-green', 'Green ship', { state: 'published' });
      },
      'by what it is called': async () =>
        assert.deepEqual(await products(c, { filter: "displayName eq 'Blue crane'" }), ['look-blue']),
      'by its name': async () => assert.deepEqual(await products(c, { filter: "name eq 'look-green'" }), ['look-green']),
      'by how it begins': async () =>
        assert.deepEqual(await products(c, { filter: "startswith(displayName,'Red c')" }), ['look-red']),
      'by how it ends': async () => {
        const found = await products(c, { filter: "endswith(displayName,'crane')" });
        once(found, ['look-red', 'look-blue'], 'products');
        assert.ok(!found.includes('look-green'), 'the ship too');
      },
      'by its terms': async () => assert.deepEqual(await products(c, { filter: "contains(terms,'Red')" }), ['look-red']),
      'by its state': async () => {
        const found = await products(c, { filter: "state eq 'published'" });
        once(found, ['look-red', 'look-green'], 'products');
        assert.ok(!found.includes('look-blue'), 'it is not published');
      },
      'by two things': async () =>
        assert.deepEqual(await products(c, { filter: "state eq 'published' and startswith(displayName,'Green')" }), [
          'look-green',
        ]),
    }),
    'products of two services': (c) => ({
      'one here, one there': async () => {
        await product(c, 'mine', 'Mine');
        await c.product.createOrUpdate(group, otherService, 'theirs', asked('Theirs'));
      },
      'each is in its own': async () => {
        const [here, there] = [await products(c), await products(c, {}, otherService)];
        once(here, ['mine'], 'products');
        once(there, ['theirs'], 'products');
        assert.ok(!here.includes('theirs') && !there.includes('mine'), 'one is in both');
      },
      'not by way of the other': () => refused(c.product.get(group, otherService, 'mine'), 404),
      'the same name there is another': async () => {
        await c.product.createOrUpdate(group, otherService, 'mine', asked('Not mine'));
        assert.equal((await read(c, 'mine')).displayName, 'Mine');
      },
      'delete that one': () => c.product.deleteMethod(group, otherService, 'mine', '*'),
      'this stays': async () => assert.equal((await read(c, 'mine')).displayName, 'Mine'),
    }),
    'APIs of a product': (c) => ({
      'make a product': () => product(c, 'with-apis'),
      'put an API into it': async () => {
        const { _response, name } = await c.productApi.createOrUpdate(group, service, 'with-apis', echoApi);
        assert.deepEqual([_response.status, name], [201, echoApi]);
      },
      'it is in it': async () => {
        assert.equal((await c.productApi.checkEntityExists(group, service, 'with-apis', echoApi))._response.status, 204);
        once(await apis(c, 'with-apis'), [echoApi], 'APIs');
      },
      'put again, it is there once': async () => {
        const { _response } = await c.productApi.createOrUpdate(group, service, 'with-apis', echoApi);
        assert.equal(_response.status, 200);
        once(await apis(c, 'with-apis'), [echoApi], 'APIs');
      },
      'a second': async () => {
        await c.productApi.createOrUpdate(group, service, 'with-apis', otherApi);
        once(await apis(c, 'with-apis'), [echoApi, otherApi], 'APIs');
      },
      'the one that is looked for': async () =>
        assert.deepEqual(await apis(c, 'with-apis', { filter: `name eq '${otherApi}'` }), [otherApi]),
      'take the first out': () => c.productApi.deleteMethod(group, service, 'with-apis', echoApi),
      'the second stays': async () => {
        assert.deepEqual(await apis(c, 'with-apis'), [otherApi]);
        await refused(c.productApi.checkEntityExists(group, service, 'with-apis', echoApi), 404);
      },
    }),
    'who sees a product': (c) => ({
      'make a product': () => product(c, 'with-groups'),
      'developers do': async () => {
        const { name } = await c.productGroup.createOrUpdate(group, service, 'with-groups', developers);
        assert.equal(name, developers);
      },
      'and guests': () => c.productGroup.createOrUpdate(group, service, 'with-groups', guests),
      'both are listed': async () => once(await groups(c, 'with-groups'), [developers, guests], 'groups'),
      'one at the most': async () =>
        assert.equal((await c.productGroup.listByProduct(group, service, 'with-groups', { top: 1 })).length, 1),
      'guests no more': () => c.productGroup.deleteMethod(group, service, 'with-groups', guests),
      'they are not': async () => {
        await refused(c.productGroup.checkEntityExists(group, service, 'with-groups', guests), 404);
        assert.ok(!(await groups(c, 'with-groups')).includes(guests), 'they are listed');
      },
      'developers still are': async () => {
        const { _response } = await c.productGroup.checkEntityExists(group, service, 'with-groups', developers);
        assert.equal(_response.status, 204);
        once(await products(c, { expandGroups: true }), ['with-groups'], 'products');
      },
    }),
    'tags of products': (c) => ({
      'make two products': async () => {
        await product(c, 'tagged');
        await product(c, 'untagged');
      },
      'a tag for the one': async () => {
        const { _response, name } = await c.tag.assignToProduct(group, service, 'tagged', tag);
        assert.deepEqual([_response.status, name], [201, tag]);
      },
      'it has it': async () => {
        assert.equal((await c.tag.getByProduct(group, service, 'tagged', tag)).name, tag);
        await c.tag.getEntityStateByProduct(group, service, 'tagged', tag);
      },
      'the other has not': () => refused(c.tag.getByProduct(group, service, 'untagged', tag), 404),
      'a second': async () => {
        await c.tag.assignToProduct(group, service, 'tagged', otherTag);
        once(await tags(c, 'tagged'), [tag, otherTag], 'tags');
        assert.deepEqual(await tags(c, 'untagged'), []);
      },
      'products that have it': async () => {
        const found = await products(c, { tags: tag });
        once(found, ['tagged'], 'products');
        assert.ok(!found.includes('untagged'), 'the other too');
      },
      'take it off': () => c.tag.detachFromProduct(group, service, 'tagged', tag),
      'the second stays': async () => {
        assert.deepEqual(await tags(c, 'tagged'), [otherTag]);
        await refused(c.tag.getByProduct(group, service, 'tagged', tag), 404);
      },
    }),
    'a policy, from its making to its end': (c) => ({
      'make a product': () => product(c, 'ruled'),
      'there is none': () => refused(c.productPolicy.get(group, service, 'ruled'), 404),
      create: async () => {
        const { _response, name } = await policy(c, 'ruled');
        assert.deepEqual([_response.status, name], [201, 'policy']);
      },
      read: async () => assert.match(given((await c.productPolicy.get(group, service, 'ruled')).value, 'value'), /calls="20"/),
      'it is listed': async () => {
        const { value } = await c.productPolicy.listByProduct(group, service, 'ruled');
        once(
          given(value, 'value').map(({ name }) => given(name, 'name')),
          ['policy'],
          'policies',
        );
      },
      'put another in its place': async () => {
        await c.productPolicy.createOrUpdate(group, service, 'ruled', { value: limit(50), format: 'xml' }, { ifMatch: '*' });
        assert.match(given((await c.productPolicy.get(group, service, 'ruled', { format: 'xml' })).value, 'value'), /calls="50"/);
      },
      delete: () => c.productPolicy.deleteMethod(group, service, 'ruled', '*'),
      'it is gone': () => refused(c.productPolicy.get(group, service, 'ruled'), 404),
    }),
    'policies of two products': (c, s) => ({
      'make two products, each with its own': async () => {
        for (const [id, calls] of [
          ['rule-one', 11],
          ['rule-two', 22],
        ] as const) {
          await product(c, id);
          await policy(c, id, calls);
        }
      },
      'each has its own': async () => {
        assert.match(given((await c.productPolicy.get(group, service, 'rule-one')).value, 'value'), /calls="11"/);
        assert.match(given((await c.productPolicy.get(group, service, 'rule-two')).value, 'value'), /calls="22"/);
      },
      'its state has a tag': async () => {
        s.tag = given((await c.productPolicy.getEntityTag(group, service, 'rule-one')).eTag, 'ETag');
        assert.equal((await c.productPolicy.get(group, service, 'rule-one')).eTag, s.tag);
      },
      'the one goes with its product': async () => {
        await c.product.deleteMethod(group, service, 'rule-one', '*');
        await refused(c.productPolicy.get(group, service, 'rule-one'), 404);
      },
      'the other stays': async () => {
        assert.match(given((await c.productPolicy.get(group, service, 'rule-two')).value, 'value'), /calls="22"/);
      },
    }),
    'a product goes, with what was in it': (c) => ({
      'make it, with an API and a group': async () => {
        await product(c, 'whole');
        await c.productApi.createOrUpdate(group, service, 'whole', echoApi);
        await c.productGroup.createOrUpdate(group, service, 'whole', developers);
      },
      'nobody has subscribed': async () => {
        const found = await c.productSubscriptions.list(group, service, 'whole');
        assert.equal(found.length, 0);
      },
      'delete it, and subscriptions to it': () =>
        c.product.deleteMethod(group, service, 'whole', '*', { deleteSubscriptions: true }),
      'it has no APIs': () => refused(apis(c, 'whole'), 404),
      'deleted again, nothing happens': async () => {
        const { _response } = await c.product.deleteMethod(group, service, 'whole', '*');
        assert.equal(_response.status, 204);
      },
      'made again, it is empty': async () => {
        const { _response } = await product(c, 'whole');
        assert.equal(_response.status, 201);
        assert.ok(!(await apis(c, 'whole')).includes(echoApi), 'the API is in it');
      },
    }),
    'what is not there': (c) => ({
      'a product': () => refused(read(c, 'no-such-product'), 404),
      'it has no state': () => refused(c.product.getEntityTag(group, service, 'no-such-product'), 404),
      'it cannot be changed': () =>
        refused(c.product.update(group, service, 'no-such-product', { displayName: 'None' }, '*'), 404),
      'it has no policy': () => refused(c.productPolicy.get(group, service, 'no-such-product'), 404),
      'nor any APIs': () => refused(apis(c, 'no-such-product'), 404),
      'nothing is put into it': () => refused(c.productApi.createOrUpdate(group, service, 'no-such-product', echoApi), 404),
      'nor subscriptions': () => refused(c.productSubscriptions.list(group, service, 'no-such-product'), 404),
    }),
    'what cannot be': (c) => ({
      'make a product': () => product(c, 'odd'),
      'a filter that is none': () => refused(c.product.listByService(group, service, { filter: 'displayName eq eq' }), 400),
      'a policy of no format': () =>
        refused(c.productPolicy.createOrUpdate(group, service, 'odd', { value: limit(1), format: 'tape' as never }), 400),
      'nor is it read in none': async () => {
        await policy(c, 'odd');
        await refused(c.productPolicy.get(group, service, 'odd', { format: 'tape' as never }), 400);
      },
      'a version that is none': async () => {
        const { apiVersion } = c;
        c.apiVersion = '';
        try {
          await refused(read(c, 'odd'), 400);
        } finally {
          c.apiVersion = apiVersion;
        }
      },
      'the product is as it was': async () => assert.equal((await read(c, 'odd')).displayName, 'Product odd'),
    }),
    'a token that is refused': (c, _s, another) => ({
      'the right one': () => product(c, 'guarded'),
      'a wrong one lists nothing': () => refused(another('wrong').product.listByService(group, service), 401, 403),
      'nor reads anything': () => refused(read(another('wrong'), 'guarded'), 401, 403),
      'nor deletes anything': () => refused(another('wrong').product.deleteMethod(group, service, 'guarded', '*'), 401, 403),
      'all is as it was': async () => assert.equal((await read(c, 'guarded')).displayName, 'Product guarded'),
    }),
  },
};
