import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

type Answer<T> = Promise<{ readonly status: number; readonly data: T }>;

/** The client knows methods and paths alone: what it answers is said where it is called. */
interface Magento {
  get<T>(path: string, asked?: object): Answer<T>;
  post<T>(path: string, body: object): Answer<T>;
  put<T>(path: string, body: object): Answer<T>;
  delete<T>(path: string): Answer<T>;
}

const { default: MagentoRestApi } = createRequire(import.meta.url)('magento-api-rest') as {
  default: new (options: object) => Magento;
};

/** The client puts `rest/` before the type, which is the path of the description's server and the version that its operations begin with. */
const connect = (place: Place, token: string): Magento =>
  new MagentoRestApi({
    url: place.url,
    type: 'default/V1',
    consumerKey: 'kb2kqdsgf0sjp8vq2yfgk6xc2xgvmt5p',
    consumerSecret: 'jw9ztrcvmq9yr3v1jh5kz8nb2d7f4s6a',
    accessToken: token,
    tokenSecret: 'e9kx4c7v2b5n8m1q3w6r0t9y2u5i8o1p',
    sha: 256,
  });

type Block = {
  readonly id: number;
  readonly identifier: string;
  readonly title: string;
  readonly content: string;
  readonly active: boolean;
};
type Category = { readonly id: number; readonly name: string; readonly parent_id: number; readonly is_active: boolean };
type Group = { readonly id: number; readonly code: string; readonly tax_class_id: number };
type Customer = {
  readonly id: number;
  readonly email: string;
  readonly firstname: string;
  readonly lastname: string;
  readonly group_id: number;
};
type Product = {
  readonly sku: string;
  readonly name: string;
  readonly price: number;
  readonly type_id: string;
  readonly weight: number;
};
type Rate = { readonly id: number; readonly code: string; readonly rate: number; readonly tax_country_id: string };
type TaxRule = {
  readonly id: number;
  readonly code: string;
  readonly tax_rate_ids: readonly number[];
  readonly priority: number;
};
type TaxClass = { readonly class_id: number; readonly class_name: string; readonly class_type: string };
type Rule = { readonly rule_id: number; readonly name: string; readonly discount_amount: number; readonly is_active: boolean };
type Coupon = { readonly coupon_id: number; readonly code: string; readonly rule_id: number; readonly usage_limit: number };
type Link = { readonly linked_product_sku: string; readonly link_type: string };
type Item = { readonly item_id: number; readonly sku: string; readonly qty: number };
type Found<T> = { readonly items: readonly T[]; readonly total_count: number };

/** Criteria of a search, with or without a filter. */
const criteria = (pageSize: number, currentPage: number, field?: string, value?: string, conditionType = 'eq'): object => ({
  filterGroups: field === undefined ? [] : [{ filters: [{ field, value, conditionType }] }],
  pageSize,
  currentPage,
});
/** Everything of a search, page by page. */
const search = <T>(api: Magento, path: string, size: number, ...filter: string[]): Promise<T[]> =>
  pages(
    async (_, number) => {
      const { data } = await api.get<Found<T>>(path, criteria(size, number, ...(filter as [string?, string?, string?])));
      return { rows: data.items, more: number * size < data.total_count };
    },
    ({ rows }) => rows,
    ({ more }) => (more ? 'more' : undefined),
  );

const block = async (api: Magento, identifier: string, title = 'Welcome'): Promise<string> => {
  const body = { block: { identifier, title, content: `<p>${title}</p>`, active: true } };
  return String(given((await api.post<Block>('cmsBlock', body)).data.id, 'id'));
};
const category = async (api: Magento, name: string, parent_id = 2): Promise<string> => {
  const body = { category: { parent_id, name, is_active: true, include_in_menu: true } };
  return String(given((await api.post<Category>('categories', body)).data.id, 'id'));
};
const group = async (api: Magento, code: string): Promise<string> =>
  String(given((await api.post<Group>('customerGroups', { group: { code, tax_class_id: 3 } })).data.id, 'id'));
const person = (email: string, lastname = 'Doe'): object => ({
  customer: { email, firstname: 'Jane', lastname, group_id: 1, store_id: 1, website_id: 1 },
  password: 'Password-1',
});
const customer = async (api: Magento, email: string): Promise<string> =>
  String(given((await api.post<Customer>('customers', person(email))).data.id, 'id'));
const product = (api: Magento, sku: string, price = 29.99, more: object = {}): Answer<Product> => {
  const rest = { attribute_set_id: 4, status: 1, visibility: 4, type_id: 'simple', weight: 0.5, ...more };
  return api.post<Product>('products', { product: { sku, name: `Product ${sku}`, price, ...rest } });
};
const rate = async (api: Magento, code: string, percent = 8.25): Promise<string> => {
  const taxRate = { code, tax_country_id: 'US', tax_region_id: 12, tax_postcode: '*', rate: percent };
  return String(given((await api.post<Rate>('taxRates', { taxRate })).data.id, 'id'));
};
const rule = async (api: Magento, name: string): Promise<string> => {
  const body = {
    rule: {
      name,
      website_ids: [1],
      customer_group_ids: [0, 1],
      uses_per_customer: 1,
      uses_per_coupon: 10,
      is_active: true,
      stop_rules_processing: false,
      is_advanced: true,
      sort_order: 0,
      discount_amount: 10,
      discount_step: 0,
      simple_action: 'by_percent',
      apply_to_shipping: false,
      times_used: 0,
      is_rss: false,
      coupon_type: 'SPECIFIC_COUPON',
      use_auto_generation: false,
    },
  };
  return String(given((await api.post<Rule>('salesRules', body)).data.rule_id, 'rule_id'));
};

/** Guide: developer.adobe.com/commerce/webapi, "REST API", "Search using REST endpoints", "Order processing tutorial", "Status codes"; the client's README. */
export const vendor: Vendor<Magento> = {
  document: 'magento/magento.com.json',
  header: 'Authorization',
  word: 'OAuth',
  made: 'n4z7c0x3v6b9m2q5w8e1r4t7y0u3i6o9',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a block from its making to its end': (api, s) => ({
      create: async () => {
        s.id = await block(api, 'welcome');
      },
      read: async () => {
        const { data } = await api.get<Block>(`cmsBlock/${s.id}`);
        assert.deepEqual([String(data.id), data.identifier, data.title], [s.id, 'welcome', 'Welcome']);
        assert.deepEqual([data.content, data.active], ['<p>Welcome</p>', true]);
      },
      change: async () => {
        const body = { block: { identifier: 'welcome', title: 'Hello', content: '<p>Hello</p>', active: false } };
        assert.equal((await api.put<Block>(`cmsBlock/${s.id}`, body)).data.title, 'Hello');
      },
      'it stays': async () => {
        const { data } = await api.get<Block>(`cmsBlock/${s.id}`);
        assert.deepEqual([data.identifier, data.title, data.content, data.active], ['welcome', 'Hello', '<p>Hello</p>', false]);
      },
      delete: async () => assert.equal((await api.delete<boolean>(`cmsBlock/${s.id}`)).data, true),
      'it is gone': async () => refused(api.get(`cmsBlock/${s.id}`), 404),
    }),
    'blocks page by page': (api, s) => ({
      'make five': async () => {
        const made = [];
        for (const name of ['one', 'two', 'three', 'four', 'five']) made.push(await block(api, `page-${name}`, name));
        once(made, made, 'made ids');
        s.all = made.join(' ');
      },
      'two on a page': async () => {
        const { data } = await api.get<Found<Block>>('cmsBlock/search', criteria(2, 1));
        assert.equal(data.items.length, 2);
        assert.ok(data.total_count >= 5, `${data.total_count} blocks`);
      },
      'all pages': async () =>
        once(
          (await search<Block>(api, 'cmsBlock/search', 2)).map(({ id }) => String(id)),
          s.all.split(' '),
          'blocks',
        ),
      'one by its identifier': async () => {
        const found = await search<Block>(api, 'cmsBlock/search', 10, 'identifier', 'page-three');
        assert.deepEqual(
          found.map(({ identifier, title }) => [identifier, title]),
          [['page-three', 'three']],
        );
      },
      'none by what no block has': async () =>
        assert.deepEqual(await search<Block>(api, 'cmsBlock/search', 10, 'identifier', 'page-none'), []),
    }),
    'a category from its making to its end': (api, s) => ({
      create: async () => {
        s.id = await category(api, 'Outdoor');
      },
      read: async () => {
        const { data } = await api.get<Category>(`categories/${s.id}`);
        assert.deepEqual([String(data.id), data.name, data.parent_id, data.is_active], [s.id, 'Outdoor', 2, true]);
      },
      rename: async () => {
        await api.put(`categories/${s.id}`, { category: { name: 'Garden', is_active: false } });
        const { data } = await api.get<Category>(`categories/${s.id}`);
        assert.deepEqual([data.name, data.parent_id, data.is_active], ['Garden', 2, false]);
      },
      delete: async () => assert.equal((await api.delete<boolean>(`categories/${s.id}`)).data, true),
      'it is gone': async () => refused(api.get(`categories/${s.id}`), 404),
    }),
    'categories in categories': (api, s) => ({
      'make two and one below': async () => {
        s.one = await category(api, 'Men');
        s.two = await category(api, 'Women');
        s.below = await category(api, 'Shoes', Number(s.one));
      },
      'it knows what it is below': async () =>
        assert.equal(String((await api.get<Category>(`categories/${s.below}`)).data.parent_id), s.one),
      'move it': async () =>
        assert.equal((await api.put<boolean>(`categories/${s.below}/move`, { parentId: Number(s.two) })).data, true),
      'it is below the other': async () =>
        assert.equal(String((await api.get<Category>(`categories/${s.below}`)).data.parent_id), s.two),
      'below nothing that is there': async () => {
        const body = { category: { parent_id: 999999, name: 'Lost', is_active: true } };
        await refused(api.post('categories', body), 400, 404);
      },
    }),
    'products of a category': (api, s) => ({
      'a category and two products': async () => {
        s.id = await category(api, 'Bags');
        await product(api, 'bag-1');
        await product(api, 'bag-2');
      },
      'put them in': async () => {
        for (const [position, sku] of ['bag-1', 'bag-2'].entries()) {
          const body = { productLink: { sku, position, category_id: s.id } };
          assert.equal((await api.post<boolean>(`categories/${s.id}/products`, body)).data, true);
        }
      },
      'they are in it': async () => {
        const { data } = await api.get<{ sku: string; category_id: string }[]>(`categories/${s.id}/products`);
        once(
          data.map(({ sku }) => sku),
          ['bag-1', 'bag-2'],
          'products',
        );
        assert.ok(data.every(({ category_id }) => category_id === s.id));
      },
      'take one out': async () => assert.equal((await api.delete<boolean>(`categories/${s.id}/products/bag-1`)).data, true),
      'the other stays': async () => {
        const { data } = await api.get<{ sku: string }[]>(`categories/${s.id}/products`);
        assert.deepEqual(
          data.map(({ sku }) => sku),
          ['bag-2'],
        );
        assert.equal((await api.get<Product>('products/bag-1')).data.sku, 'bag-1');
      },
    }),
    'a product from its making to its end': (api) => ({
      create: async () => {
        const { data } = await product(api, 'MS-Champ-S');
        assert.deepEqual([data.sku, data.name, data.price], ['MS-Champ-S', 'Product MS-Champ-S', 29.99]);
      },
      read: async () => {
        const { data } = await api.get<Product>('products/MS-Champ-S');
        assert.deepEqual([data.sku, data.name, data.price], ['MS-Champ-S', 'Product MS-Champ-S', 29.99]);
        assert.deepEqual([data.type_id, data.weight], ['simple', 0.5]);
      },
      'another price': async () => {
        const body = { product: { sku: 'MS-Champ-S', name: 'Champ Tee Small', price: 25 } };
        assert.equal((await api.put<Product>('products/MS-Champ-S', body)).data.price, 25);
      },
      'it stays': async () => {
        const { data } = await api.get<Product>('products/MS-Champ-S');
        assert.deepEqual([data.name, data.price, data.type_id], ['Champ Tee Small', 25, 'simple']);
      },
      delete: async () => assert.equal((await api.delete<boolean>('products/MS-Champ-S')).data, true),
      'it is gone': async () => {
        await refused(api.get('products/MS-Champ-S'), 404);
        assert.deepEqual(await search<Product>(api, 'products', 10, 'sku', 'MS-Champ-S'), []);
      },
    }),
    'products are found': (api) => ({
      'make four': async () => {
        for (const [sku, price] of [
          ['cup', 5],
          ['jug', 15],
          ['pan', 25],
          ['pot', 35],
        ] as const)
          await product(api, sku, price);
      },
      'all pages': async () =>
        once(
          (await search<Product>(api, 'products', 2)).map(({ sku }) => sku),
          ['cup', 'jug', 'pan', 'pot'],
          'products',
        ),
      'by a name': async () => {
        const found = await search<Product>(api, 'products', 10, 'sku', 'pan');
        assert.deepEqual(
          found.map(({ sku, price }) => [sku, price]),
          [['pan', 25]],
        );
      },
      'by a price': async () => {
        const found = await search<Product>(api, 'products', 10, 'price', '20', 'gt');
        once(
          found.map(({ sku }) => sku),
          ['pan', 'pot'],
          'products',
        );
        assert.ok(found.every(({ price }) => price > 20));
      },
      'in an order': async () => {
        const asked = { filterGroups: [], sortOrders: [{ field: 'price', direction: 'DESC' }], pageSize: 2, currentPage: 1 };
        const { data } = await api.get<Found<Product>>('products', asked);
        assert.deepEqual(
          data.items.map(({ price }) => price),
          data.items.map(({ price }) => price).sort((one, other) => other - one),
        );
        assert.equal(data.items.length, 2);
      },
    }),
    'products go with products': (api) => ({
      'make three': async () => {
        for (const sku of ['tent', 'pegs', 'rope']) await product(api, sku);
      },
      'tie two to one': async () => {
        const items = ['pegs', 'rope'].map((linked_product_sku, position) => ({
          sku: 'tent',
          link_type: 'related',
          linked_product_sku,
          linked_product_type: 'simple',
          position,
        }));
        assert.equal((await api.post<boolean>('products/tent/links', { items })).data, true);
      },
      'they go with it': async () => {
        const { data } = await api.get<Link[]>('products/tent/links/related');
        once(
          data.map(({ linked_product_sku }) => linked_product_sku),
          ['pegs', 'rope'],
          'links',
        );
      },
      'untie one': async () => assert.equal((await api.delete<boolean>('products/tent/links/related/pegs')).data, true),
      'the other stays': async () => {
        const { data } = await api.get<Link[]>('products/tent/links/related');
        assert.deepEqual(
          data.map(({ linked_product_sku }) => linked_product_sku),
          ['rope'],
        );
      },
    }),
    'what cannot be': (api) => ({
      'a product without its number': async () =>
        refused(api.post('products', { product: { name: 'Nameless', price: 1, attribute_set_id: 4 } }), 400),
      'a block without its name': async () => refused(api.post('cmsBlock', { block: { title: 'Nameless' } }), 400),
      'a customer without an address': async () =>
        refused(api.post('customers', { customer: { firstname: 'No', lastname: 'One' } }), 400),
      'reading what is not there': async () => refused(api.get('products/not-there'), 404),
      'deleting it': async () => refused(api.delete('products/not-there'), 404),
      'nothing came of it': async () => assert.deepEqual(await search<Product>(api, 'products', 10, 'name', 'Nameless'), []),
    }),
    'a customer from the making to the end': (api, s) => ({
      'the address is free': async () => {
        const { data } = await api.post<boolean>('customers/isEmailAvailable', {
          customerEmail: 'jane@example.com',
          websiteId: 1,
        });
        assert.equal(data, true);
      },
      create: async () => {
        s.id = await customer(api, 'jane@example.com');
      },
      read: async () => {
        const { data } = await api.get<Customer>(`customers/${s.id}`);
        assert.deepEqual([String(data.id), data.email], [s.id, 'jane@example.com']);
        assert.deepEqual([data.firstname, data.lastname, data.group_id], ['Jane', 'Doe', 1]);
      },
      'another name': async () => {
        const changed = { id: Number(s.id), email: 'jane@example.com', firstname: 'Jane', lastname: 'Roe', website_id: 1 };
        await api.put(`customers/${s.id}`, { customer: changed });
        assert.equal((await api.get<Customer>(`customers/${s.id}`)).data.lastname, 'Roe');
      },
      'the address is taken': async () => {
        const asked = { customerEmail: 'jane@example.com', websiteId: 1 };
        assert.equal((await api.post<boolean>('customers/isEmailAvailable', asked)).data, false);
        await refused(api.post('customers', person('jane@example.com', 'Other')), 400);
      },
      'they are gone': async () => {
        assert.equal((await api.delete<boolean>(`customers/${s.id}`)).data, true);
        await refused(api.get(`customers/${s.id}`), 404);
      },
    }),
    'customers in groups': (api, s) => ({
      'make a group': async () => {
        s.group = await group(api, 'Trade');
        const { data } = await api.get<Group>(`customerGroups/${s.group}`);
        assert.deepEqual([String(data.id), data.code, data.tax_class_id], [s.group, 'Trade', 3]);
      },
      'a customer in it': async () => {
        s.id = await customer(api, 'trader@example.com');
        const body = { id: Number(s.id), email: 'trader@example.com', firstname: 'Jane', lastname: 'Doe', website_id: 1 };
        await api.put(`customers/${s.id}`, { customer: { ...body, group_id: Number(s.group) } });
        assert.equal(String((await api.get<Customer>(`customers/${s.id}`)).data.group_id), s.group);
      },
      'found by the group': async () => {
        const found = await search<Customer>(api, 'customers/search', 10, 'group_id', s.group);
        assert.deepEqual(
          found.map(({ email }) => email),
          ['trader@example.com'],
        );
      },
      'the group is listed': async () =>
        once(
          (await search<Group>(api, 'customerGroups/search', 2)).map(({ id }) => String(id)),
          [s.group],
          'groups',
        ),
      'another name': async () => {
        await api.put(`customerGroups/${s.group}`, { group: { id: Number(s.group), code: 'Resale', tax_class_id: 3 } });
        assert.equal((await api.get<Group>(`customerGroups/${s.group}`)).data.code, 'Resale');
      },
      'it is gone': async () => {
        assert.equal((await api.delete<boolean>(`customerGroups/${s.group}`)).data, true);
        await refused(api.get(`customerGroups/${s.group}`), 404);
      },
    }),
    'a rate of a tax': (api, s) => ({
      create: async () => {
        s.id = await rate(api, 'US-CA-Rate');
      },
      read: async () => {
        const { data } = await api.get<Rate>(`taxRates/${s.id}`);
        assert.deepEqual([String(data.id), data.code, data.rate, data.tax_country_id], [s.id, 'US-CA-Rate', 8.25, 'US']);
      },
      change: async () => {
        const taxRate = {
          id: Number(s.id),
          code: 'US-CA-Rate',
          tax_country_id: 'US',
          tax_region_id: 12,
          tax_postcode: '*',
          rate: 9.5,
        };
        await api.put('taxRates', { taxRate });
        assert.equal((await api.get<Rate>(`taxRates/${s.id}`)).data.rate, 9.5);
      },
      'it is found': async () => {
        const found = await search<Rate>(api, 'taxRates/search', 10, 'code', 'US-CA-Rate');
        assert.deepEqual(
          found.map(({ id }) => String(id)),
          [s.id],
        );
      },
      'the same name again': async () => refused(rate(api, 'US-CA-Rate', 1), 400),
      'it is gone': async () => {
        assert.equal((await api.delete<boolean>(`taxRates/${s.id}`)).data, true);
        await refused(api.get(`taxRates/${s.id}`), 404);
      },
    }),
    'a rule of taxes': (api, s) => ({
      'a rate and a class': async () => {
        s.rate = await rate(api, 'US-NY-Rate', 8.375);
        const body = { taxClass: { class_name: 'Books', class_type: 'PRODUCT' } };
        s.class = String(given((await api.post<string>('taxClasses', body)).data, 'id'));
      },
      'the class is there': async () => {
        const { data } = await api.get<TaxClass>(`taxClasses/${s.class}`);
        assert.deepEqual([String(data.class_id), data.class_name, data.class_type], [s.class, 'Books', 'PRODUCT']);
      },
      create: async () => {
        const made = {
          code: 'Books in New York',
          priority: 1,
          position: 0,
          customer_tax_class_ids: [3],
          product_tax_class_ids: [Number(s.class)],
          tax_rate_ids: [Number(s.rate)],
        };
        s.id = String(given((await api.post<TaxRule>('taxRules', { rule: made })).data.id, 'id'));
      },
      read: async () => {
        const { data } = await api.get<TaxRule>(`taxRules/${s.id}`);
        assert.deepEqual([String(data.id), data.code, data.priority], [s.id, 'Books in New York', 1]);
        assert.deepEqual(data.tax_rate_ids, [Number(s.rate)]);
      },
      'it is listed': async () =>
        once(
          (await search<TaxRule>(api, 'taxRules/search', 2)).map(({ id }) => String(id)),
          [s.id],
          'rules',
        ),
      'it is gone': async () => {
        assert.equal((await api.delete<boolean>(`taxRules/${s.id}`)).data, true);
        assert.deepEqual(await search<TaxRule>(api, 'taxRules/search', 10, 'code', 'Books in New York'), []);
        assert.equal(String((await api.get<Rate>(`taxRates/${s.rate}`)).data.id), s.rate);
      },
    }),
    'coupons of a rule': (api, s) => ({
      'make a rule': async () => {
        s.rule = await rule(api, 'Ten off');
        const { data } = await api.get<Rule>(`salesRules/${s.rule}`);
        assert.deepEqual([data.name, data.discount_amount, data.is_active], ['Ten off', 10, true]);
      },
      'a coupon': async () => {
        const coupon = { rule_id: Number(s.rule), code: 'TEN', times_used: 0, is_primary: true, usage_limit: 5 };
        s.id = String(given((await api.post<Coupon>('coupons', { coupon })).data.coupon_id, 'coupon_id'));
      },
      read: async () => {
        const { data } = await api.get<Coupon>(`coupons/${s.id}`);
        assert.deepEqual([data.code, String(data.rule_id), data.usage_limit], ['TEN', s.rule, 5]);
      },
      'found by its code': async () => {
        const found = await search<Coupon>(api, 'coupons/search', 10, 'code', 'TEN');
        assert.deepEqual(
          found.map(({ coupon_id }) => String(coupon_id)),
          [s.id],
        );
      },
      'delete it': async () => {
        assert.equal((await api.delete<boolean>(`coupons/${s.id}`)).data, true);
        await refused(api.get(`coupons/${s.id}`), 404);
      },
      'the rule stays': async () => assert.equal((await api.get<Rule>(`salesRules/${s.rule}`)).data.name, 'Ten off'),
    }),
    'a cart of a guest': (api, s) => ({
      'make a product and a cart': async () => {
        await product(api, 'apple', 2, { extension_attributes: { stock_item: { qty: 100, is_in_stock: true } } });
        s.cart = given((await api.post<string>('guest-carts', {})).data, 'id');
      },
      'put some in': async () => {
        const { data } = await api.post<Item>(`guest-carts/${s.cart}/items`, {
          cartItem: { quote_id: s.cart, sku: 'apple', qty: 2 },
        });
        assert.deepEqual([data.sku, data.qty], ['apple', 2]);
        s.item = String(given(data.item_id, 'item_id'));
      },
      'they are in it': async () => {
        const { data } = await api.get<Item[]>(`guest-carts/${s.cart}/items`);
        assert.deepEqual(
          data.map(({ item_id, sku, qty }) => [String(item_id), sku, qty]),
          [[s.item, 'apple', 2]],
        );
      },
      'some more': async () => {
        const cartItem = { quote_id: s.cart, sku: 'apple', qty: 5 };
        await api.put(`guest-carts/${s.cart}/items/${s.item}`, { cartItem });
        assert.equal((await api.get<Item[]>(`guest-carts/${s.cart}/items`)).data[0]?.qty, 5);
      },
      'take them out': async () => assert.equal((await api.delete<boolean>(`guest-carts/${s.cart}/items/${s.item}`)).data, true),
      'it is empty': async () => assert.deepEqual((await api.get<Item[]>(`guest-carts/${s.cart}/items`)).data, []),
    }),
    'a token that is refused': (api, s, another) => ({
      'the right token': async () => {
        s.id = await block(api, 'guarded');
      },
      'a wrong one reads nothing': async () => refused(another('wrong').get(`cmsBlock/${s.id}`), 401),
      'nor makes anything': async () => refused(block(another('wrong'), 'theirs'), 401),
      'nor deletes anything': async () => refused(another('wrong').delete(`cmsBlock/${s.id}`), 401),
      'all is as it was': async () => assert.equal((await api.get<Block>(`cmsBlock/${s.id}`)).data.identifier, 'guarded'),
    }),
  },
};
