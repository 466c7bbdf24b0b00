import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

type Row = Readonly<Record<string, unknown>>;
type Answer = Record<string, unknown> & { readonly statusCode?: number };
type Line = {
  readonly line: number;
  readonly code?: string;
  readonly identifier?: string;
  readonly status_code: number;
};
type Told = (fields: unknown) => void;

/** The parts of the client that are used here: it has no types of its own. */
interface Module {
  setLogger(logger: { readonly debug: Told; readonly info: Told; readonly warn: Told; readonly error: Told }): void;
  setBaseUrl(url: string): void;
  setClientId(id: string): void;
  setSecret(secret: string): void;
  setUsername(name: string): void;
  setPassword(password: string): void;
  get(url: string, callback?: (rows: readonly Row[]) => Promise<void>): Promise<Row[]>;
  post(url: string, data: object): Promise<Answer>;
  patch(url: string, data: object): Promise<Answer>;
  delete_(url: string, data: object): Promise<Answer>;
  patchVndAkeneoCollection(
    url: string,
    rows: readonly object[],
  ): Promise<{ readonly responses: readonly Line[]; readonly statusCode: number }>;
  apiUrlAssociationTypes(code?: string): string;
  apiUrlAttributeGroups(code?: string): string;
  apiUrlAttributeOptions(attribute: string, code?: string): string;
  apiUrlAttributes(code?: string): string;
  apiUrlCategories(code?: string): string;
  apiUrlChannels(code?: string): string;
  apiUrlCurrencies(code?: string): string;
  apiUrlFamilies(code?: string): string;
  apiUrlFamilyVariants(family: string, code?: string): string;
  apiUrlLocales(code?: string): string;
  apiUrlProductModels(code?: string): string;
  apiUrlProducts(identifier?: string): string;
}

/** The client gives back what was refused as it gives back what was done: here a refusal is thrown, with its status. */
interface Akeneo {
  readonly at: Module;
  list(url: string): Promise<Row[]>;
  one(url: string): Promise<Row>;
  post(url: string, data: object): Promise<Answer>;
  patch(url: string, data: object): Promise<Answer>;
  remove(url: string): Promise<Answer>;
  several(url: string, rows: readonly object[]): Promise<readonly Line[]>;
}

const found = createRequire(import.meta.url);

/** The client keeps its address and its token for the whole process: each caller has a copy of it. Three rows are on a page. */
const load = (): Module => {
  const path = found.resolve('node-akeneo-api');
  delete found.cache[path];
  const before = process.env.AKENEO_PATCH_LIMIT;
  process.env.AKENEO_PATCH_LIMIT = '3';
  try {
    return found(path) as Module;
  } finally {
    if (before === undefined) delete process.env.AKENEO_PATCH_LIMIT;
    else process.env.AKENEO_PATCH_LIMIT = before;
  }
};

const settled = <T extends Answer>(answer: T): T => {
  const status = Number(answer.statusCode);
  if (status > 299) throw Object.assign(new Error(`${status} ${String(answer.message)}`), { status });
  return answer;
};

const connect = (place: Place, token: string): Akeneo => {
  const at = load();
  let last: Answer | undefined;
  at.setLogger({
    debug: (fields) => {
      last = (fields as { result?: Answer } | undefined)?.result ?? last;
    },
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
  });
  at.setBaseUrl(place.url);
  at.setClientId('1_2qagrlsmb5wkccw0sow0c08scw4wwo8cw0wgw8sc0k0wcc4ows');
  at.setSecret(token);
  at.setUsername('julia');
  at.setPassword('Julia-2024');
  const leaving = new Error('the client leaves');
  /** The client ends the process where an answer is neither a list nor a product: that answer is given instead. */
  const read = async (url: string, page?: (rows: readonly Row[]) => Promise<void>): Promise<Row[]> => {
    const exit = process.exit;
    last = undefined;
    process.exit = () => {
      throw leaving;
    };
    try {
      return await at.get(url, page);
    } catch (thrown) {
      if (thrown !== leaving) throw thrown;
      const answer = settled(given<Answer>(last, 'body'));
      if (page !== undefined) throw new Error('the answer is no list');
      return [answer];
    } finally {
      process.exit = exit;
    }
  };
  return {
    at,
    list: async (url) => {
      const all: Row[] = [];
      let most = 150;
      await read(url, async (rows) => {
        all.push(...rows);
        most -= 1;
        if (most < 0) throw new Error('the list did not end after 150 pages');
      });
      return all;
    },
    one: async (url) => given((await read(url))[0], 'row'),
    post: async (url, data) => settled(await at.post(url, data)),
    patch: async (url, data) => settled(await at.patch(url, data)),
    remove: async (url) => settled(await at.delete_(url, {})),
    several: async (url, rows) => {
      const { responses, statusCode } = await at.patchVndAkeneoCollection(url, rows);
      settled({ statusCode });
      return responses;
    },
  };
};

const codes = async (a: Akeneo, url: string): Promise<string[]> => (await a.list(url)).map(({ code }) => String(code));
const identifiers = async (a: Akeneo, url: string): Promise<string[]> =>
  (await a.list(url)).map(({ identifier }) => String(identifier));
const search = (url: string, filters: Readonly<Record<string, readonly object[]>>): string =>
  `${url}?search=${encodeURIComponent(JSON.stringify(filters))}`;

const group = (a: Akeneo, code: string): Promise<Answer> =>
  a.post(a.at.apiUrlAttributeGroups(), { code, labels: { en_US: code } });
const attribute = (a: Akeneo, code: string, type: string, more: object = {}): Promise<Answer> =>
  a.post(a.at.apiUrlAttributes(), {
    code,
    type,
    group: 'flow_group',
    localizable: false,
    scopable: false,
    labels: { en_US: code },
    ...more,
  });
/** A family with a name, and what it needs. */
const family = async (a: Akeneo, code: string): Promise<void> => {
  await group(a, 'flow_group');
  await attribute(a, 'flow_name', 'pim_catalog_text');
  await a.post(a.at.apiUrlFamilies(), {
    code,
    attributes: ['flow_name'],
    attribute_as_label: 'flow_name',
    labels: { en_US: 'Caps' },
  });
};
const named = (data: string): object => ({ flow_name: [{ locale: null, scope: null, data }] });

/** Guide: api.akeneo.com, "REST API basics" (pagination, filters, update, response codes), "REST API reference". */
export const vendor: Vendor<Akeneo> = {
  document: 'akeneo/akeneo.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: '4t31nlqqakiscwsocww4osk4kckok4csw0k4swc0w4cws48kws',
  hides: true,
  client: connect,
  strict: ['a secret that is refused'],
  flows: {
    'a category from its making on': (a) => ({
      create: async () =>
        assert.equal((await a.post(a.at.apiUrlCategories(), { code: 'winter', labels: { en_US: 'Winter' } })).statusCode, 201),
      read: async () => {
        const { code, labels, parent } = await a.one(a.at.apiUrlCategories('winter'));
        assert.deepEqual([code, labels, parent ?? null], ['winter', { en_US: 'Winter' }, null]);
      },
      'it is listed': async () => once(await codes(a, a.at.apiUrlCategories()), ['winter'], 'categories'),
      relabel: async () =>
        assert.equal((await a.patch(a.at.apiUrlCategories('winter'), { labels: { en_US: 'Winter 24' } })).statusCode, 204),
      'it stays relabelled': async () => {
        const { code, labels } = await a.one(a.at.apiUrlCategories('winter'));
        assert.deepEqual([code, labels], ['winter', { en_US: 'Winter 24' }]);
      },
      'a second one of that code': async () => refused(a.post(a.at.apiUrlCategories(), { code: 'winter' }), 422),
      'it is listed once': async () => once(await codes(a, a.at.apiUrlCategories()), ['winter'], 'categories'),
    }),

    'a tree of categories': (a) => ({
      'the root': () => a.post(a.at.apiUrlCategories(), { code: 'shop' }),
      'two below': async () => {
        await a.post(a.at.apiUrlCategories(), { code: 'shirts', parent: 'shop' });
        await a.post(a.at.apiUrlCategories(), { code: 'shoes', parent: 'shop' });
      },
      'one knows its parent': async () => assert.equal((await a.one(a.at.apiUrlCategories('shirts'))).parent, 'shop'),
      'those below the root': async () => {
        const below = await codes(a, search(a.at.apiUrlCategories(), { parent: [{ operator: '=', value: 'shop' }] }));
        once(below, ['shirts', 'shoes'], 'categories');
        assert.ok(!below.includes('shop'), 'the root is below itself');
      },
      'the roots': async () => {
        const roots = await codes(a, search(a.at.apiUrlCategories(), { is_root: [{ operator: '=', value: true }] }));
        once(roots, ['shop'], 'roots');
        assert.ok(!roots.includes('shirts'), 'a child is a root');
      },
      'a parent that is not there': async () =>
        refused(a.post(a.at.apiUrlCategories(), { code: 'socks', parent: 'no_such_category' }), 422),
    }),

    'categories page by page': (a, s) => ({
      'make seven': async () => {
        const made = ['p_one', 'p_two', 'p_three', 'p_four', 'p_five', 'p_six', 'p_seven'];
        for (const code of made) await a.post(a.at.apiUrlCategories(), { code });
        s.all = made.join(' ');
      },
      'all pages of three': async () => once(await codes(a, a.at.apiUrlCategories()), s.all.split(' '), 'categories'),
      'two by their codes': async () => {
        const two = await codes(a, search(a.at.apiUrlCategories(), { code: [{ operator: 'IN', value: ['p_two', 'p_six'] }] }));
        assert.deepEqual([...two].sort(), ['p_six', 'p_two']);
      },
    }),

    'several categories at once': (a) => ({
      'one is there': () => a.post(a.at.apiUrlCategories(), { code: 'bulk_old', labels: { en_US: 'Old' } }),
      'one changed, one made': async () => {
        const lines = await a.several(a.at.apiUrlCategories(), [
          { code: 'bulk_old', labels: { en_US: 'Not so old' } },
          { code: 'bulk_new', labels: { en_US: 'New' } },
        ]);
        assert.deepEqual(
          lines.map(({ line, code, status_code }) => [line, code, status_code]),
          [
            [1, 'bulk_old', 204],
            [2, 'bulk_new', 201],
          ],
        );
      },
      'the one is changed': async () =>
        assert.deepEqual((await a.one(a.at.apiUrlCategories('bulk_old'))).labels, { en_US: 'Not so old' }),
      'the other is there': async () =>
        assert.deepEqual((await a.one(a.at.apiUrlCategories('bulk_new'))).labels, { en_US: 'New' }),
      'each is listed once': async () => once(await codes(a, a.at.apiUrlCategories()), ['bulk_old', 'bulk_new'], 'categories'),
    }),

    'an attribute in a group': (a) => ({
      'a group': () => group(a, 'flow_group'),
      create: async () =>
        assert.equal((await attribute(a, 'collar', 'pim_catalog_text', { max_characters: 40 })).statusCode, 201),
      read: async () => {
        const read = await a.one(a.at.apiUrlAttributes('collar'));
        assert.deepEqual(
          [read.code, read.type, read.group, read.max_characters, read.localizable, read.labels],
          ['collar', 'pim_catalog_text', 'flow_group', 40, false, { en_US: 'collar' }],
        );
      },
      'it is listed': async () => once(await codes(a, a.at.apiUrlAttributes()), ['collar'], 'attributes'),
      change: () => a.patch(a.at.apiUrlAttributes('collar'), { max_characters: 60 }),
      'the rest stays': async () => {
        const { max_characters, type, group: of } = await a.one(a.at.apiUrlAttributes('collar'));
        assert.deepEqual([max_characters, type, of], [60, 'pim_catalog_text', 'flow_group']);
      },
      'by its type': async () => {
        await attribute(a, 'is_warm', 'pim_catalog_boolean');
        const booleans = await codes(
          a,
          search(a.at.apiUrlAttributes(), { type: [{ operator: 'IN', value: ['pim_catalog_boolean'] }] }),
        );
        once(booleans, ['is_warm'], 'attributes');
        assert.ok(!booleans.includes('collar'), 'a text is a boolean');
      },
    }),

    'the options of a select': (a) => ({
      'a select': async () => {
        await group(a, 'flow_group');
        await attribute(a, 'hue', 'pim_catalog_simpleselect');
      },
      'two options': async () => {
        for (const code of ['red', 'blue'])
          await a.post(a.at.apiUrlAttributeOptions('hue'), { code, attribute: 'hue', labels: { en_US: code } });
      },
      'read one': async () => {
        const { code, attribute: of, labels } = await a.one(a.at.apiUrlAttributeOptions('hue', 'red'));
        assert.deepEqual([code, of, labels], ['red', 'hue', { en_US: 'red' }]);
      },
      'both are listed': async () => once(await codes(a, a.at.apiUrlAttributeOptions('hue')), ['red', 'blue'], 'options'),
      relabel: () => a.patch(a.at.apiUrlAttributeOptions('hue', 'red'), { labels: { en_US: 'Ruby' } }),
      'it stays relabelled': async () =>
        assert.deepEqual((await a.one(a.at.apiUrlAttributeOptions('hue', 'red'))).labels, { en_US: 'Ruby' }),
      'another select has none of them': async () => {
        await attribute(a, 'shade', 'pim_catalog_simpleselect');
        assert.deepEqual(await codes(a, a.at.apiUrlAttributeOptions('shade')), []);
      },
    }),

    'a family and its variants': (a) => ({
      'a family': () => family(a, 'caps'),
      'it has its attribute': async () => {
        const read = await a.one(a.at.apiUrlFamilies('caps'));
        assert.deepEqual([read.code, read.attribute_as_label, read.labels], ['caps', 'flow_name', { en_US: 'Caps' }]);
        assert.ok((read.attributes as readonly string[]).includes('flow_name'), 'it has not');
      },
      'another attribute': async () => {
        await attribute(a, 'cap_size', 'pim_catalog_simpleselect');
        await a.patch(a.at.apiUrlFamilies('caps'), { attributes: ['flow_name', 'cap_size'] });
        const { attributes } = await a.one(a.at.apiUrlFamilies('caps'));
        once(attributes as readonly string[], ['flow_name', 'cap_size'], 'attributes');
      },
      'a variant': () =>
        a.post(a.at.apiUrlFamilyVariants('caps'), {
          code: 'caps_by_size',
          labels: { en_US: 'By size' },
          variant_attribute_sets: [{ level: 1, axes: ['cap_size'], attributes: ['cap_size'] }],
        }),
      'read it': async () => {
        const read = await a.one(a.at.apiUrlFamilyVariants('caps', 'caps_by_size'));
        const [set] = read.variant_attribute_sets as readonly { readonly level: number; readonly axes: readonly string[] }[];
        assert.deepEqual([read.code, set?.level, set?.axes], ['caps_by_size', 1, ['cap_size']]);
      },
      'it is listed': async () => once(await codes(a, a.at.apiUrlFamilyVariants('caps')), ['caps_by_size'], 'variants'),
      'families by code': async () =>
        assert.deepEqual(await codes(a, search(a.at.apiUrlFamilies(), { code: [{ operator: 'IN', value: ['caps'] }] })), [
          'caps',
        ]),
    }),

    'a product from its making to its end': (a) => ({
      'a family and a category': async () => {
        await family(a, 'caps');
        await a.post(a.at.apiUrlCategories(), { code: 'headwear' });
      },
      create: async () => {
        const made = await a.post(a.at.apiUrlProducts(), {
          identifier: 'top',
          family: 'caps',
          categories: ['headwear'],
          enabled: true,
          values: named('Top'),
        });
        assert.equal(made.statusCode, 201);
      },
      read: async () => {
        const read = await a.one(a.at.apiUrlProducts('top'));
        assert.deepEqual([read.identifier, read.family, read.categories, read.enabled], ['top', 'caps', ['headwear'], true]);
        const [value] = (read.values as Readonly<Record<string, readonly Row[]>>).flow_name ?? [];
        assert.equal(value?.data, 'Top');
      },
      'it is listed': async () => once(await identifiers(a, a.at.apiUrlProducts()), ['top'], 'products'),
      disable: async () => assert.equal((await a.patch(a.at.apiUrlProducts('top'), { enabled: false })).statusCode, 204),
      'the rest stays': async () => {
        const { enabled, family: of, categories } = await a.one(a.at.apiUrlProducts('top'));
        assert.deepEqual([enabled, of, categories], [false, 'caps', ['headwear']]);
      },
      delete: async () => assert.equal((await a.remove(a.at.apiUrlProducts('top'))).statusCode, 204),
      'it is gone': async () => refused(a.one(a.at.apiUrlProducts('top')), 404),
      'it is not listed': async () => assert.ok(!(await identifiers(a, a.at.apiUrlProducts())).includes('top'), 'it is'),
    }),

    'products by what they are': (a) => ({
      'three of them': async () => {
        await family(a, 'caps');
        await a.post(a.at.apiUrlCategories(), { code: 'sale' });
        await a.post(a.at.apiUrlProducts(), { identifier: 'cap-1', family: 'caps', enabled: true, categories: ['sale'] });
        await a.post(a.at.apiUrlProducts(), { identifier: 'cap-2', family: 'caps', enabled: false, categories: [] });
        await a.post(a.at.apiUrlProducts(), { identifier: 'plain', enabled: true, categories: ['sale'] });
      },
      'of the family': async () => {
        const rows = await identifiers(a, search(a.at.apiUrlProducts(), { family: [{ operator: 'IN', value: ['caps'] }] }));
        assert.deepEqual([...rows].sort(), ['cap-1', 'cap-2']);
      },
      'not enabled': async () => {
        const rows = await identifiers(a, search(a.at.apiUrlProducts(), { enabled: [{ operator: '=', value: false }] }));
        once(rows, ['cap-2'], 'products');
        assert.ok(!rows.includes('cap-1'), 'one that is enabled');
      },
      'in the category': async () => {
        const rows = await identifiers(a, search(a.at.apiUrlProducts(), { categories: [{ operator: 'IN', value: ['sale'] }] }));
        assert.deepEqual([...rows].sort(), ['cap-1', 'plain']);
      },
      'both at once': async () => {
        const rows = await identifiers(
          a,
          search(a.at.apiUrlProducts(), {
            family: [{ operator: 'IN', value: ['caps'] }],
            categories: [{ operator: 'IN', value: ['sale'] }],
          }),
        );
        assert.deepEqual(rows, ['cap-1']);
      },
    }),

    'a product model with its variants': (a) => ({
      'what it needs': async () => {
        await family(a, 'caps');
        await attribute(a, 'cap_size', 'pim_catalog_simpleselect');
        await a.post(a.at.apiUrlAttributeOptions('cap_size'), { code: 'xl', attribute: 'cap_size' });
        await a.patch(a.at.apiUrlFamilies('caps'), { attributes: ['flow_name', 'cap_size'] });
        await a.post(a.at.apiUrlFamilyVariants('caps'), {
          code: 'caps_by_size',
          variant_attribute_sets: [{ level: 1, axes: ['cap_size'], attributes: ['cap_size'] }],
        });
      },
      create: async () => {
        const model = { code: 'beret', family_variant: 'caps_by_size', values: named('Beret') };
        assert.equal((await a.post(a.at.apiUrlProductModels(), model)).statusCode, 201);
      },
      read: async () => {
        const { code, family_variant: of } = await a.one(a.at.apiUrlProductModels('beret'));
        assert.deepEqual([code, of], ['beret', 'caps_by_size']);
      },
      'a variant of it': () =>
        a.post(a.at.apiUrlProducts(), {
          identifier: 'beret-xl',
          family: 'caps',
          parent: 'beret',
          values: { cap_size: [{ locale: null, scope: null, data: 'xl' }] },
        }),
      'it knows its model': async () => assert.equal((await a.one(a.at.apiUrlProducts('beret-xl'))).parent, 'beret'),
      'both end': async () => {
        await a.remove(a.at.apiUrlProducts('beret-xl'));
        await a.remove(a.at.apiUrlProductModels('beret'));
      },
      'the model is gone': async () => refused(a.one(a.at.apiUrlProductModels('beret')), 404),
    }),

    'a channel and what it sells in': (a, s) => ({
      'a currency and a locale': async () => {
        const all = await a.list(a.at.apiUrlCurrencies());
        s.currency = String(given(all.find(({ enabled }) => enabled === true) ?? all[0], 'currency').code);
        s.locale = String(given((await a.list(a.at.apiUrlLocales()))[0], 'locale').code);
      },
      'read the currency': async () => assert.equal((await a.one(a.at.apiUrlCurrencies(s.currency))).code, s.currency),
      create: async () => {
        await a.post(a.at.apiUrlCategories(), { code: 'tree' });
        await a.post(a.at.apiUrlChannels(), {
          code: 'kiosk',
          currencies: [s.currency],
          locales: [s.locale],
          category_tree: 'tree',
        });
      },
      read: async () => {
        const { code, currencies, locales, category_tree: tree } = await a.one(a.at.apiUrlChannels('kiosk'));
        assert.deepEqual([code, currencies, locales, tree], ['kiosk', [s.currency], [s.locale], 'tree']);
      },
      'it is listed': async () => once(await codes(a, a.at.apiUrlChannels()), ['kiosk'], 'channels'),
      'without a tree': async () =>
        refused(a.post(a.at.apiUrlChannels(), { code: 'stall', currencies: [s.currency], locales: [s.locale] }), 422),
    }),

    'an association type': (a) => ({
      'made by a change': async () => {
        const made = await a.patch(a.at.apiUrlAssociationTypes('goes_with'), {
          labels: { en_US: 'Goes with' },
          is_two_way: true,
          is_quantified: false,
        });
        assert.equal(made.statusCode, 201);
      },
      read: async () => {
        const read = await a.one(a.at.apiUrlAssociationTypes('goes_with'));
        assert.deepEqual(
          [read.code, read.labels, read.is_two_way, read.is_quantified],
          ['goes_with', { en_US: 'Goes with' }, true, false],
        );
      },
      'it is listed': async () => once(await codes(a, a.at.apiUrlAssociationTypes()), ['goes_with'], 'types'),
      'changed by a change': async () => {
        const changed = await a.patch(a.at.apiUrlAssociationTypes('goes_with'), { labels: { en_US: 'Matches' } });
        assert.equal(changed.statusCode, 204);
      },
      'it stays changed': async () => {
        const { labels, is_two_way } = await a.one(a.at.apiUrlAssociationTypes('goes_with'));
        assert.deepEqual([labels, is_two_way], [{ en_US: 'Matches' }, true]);
      },
    }),

    'what is wrong': (a) => ({
      'a category without a code': async () => refused(a.post(a.at.apiUrlCategories(), { labels: { en_US: 'Nameless' } }), 422),
      'an attribute without a type': async () => refused(a.post(a.at.apiUrlAttributes(), { code: 'typeless' }), 422),
      'a category that is not there': async () => {
        const thrown = await refused(a.one(a.at.apiUrlCategories('no_such_category')), 404);
        assert.equal(typeof (thrown as { message: unknown }).message, 'string');
      },
      'a product that is not there': async () => refused(a.one(a.at.apiUrlProducts('no-such-product')), 404),
      'its end': async () => refused(a.remove(a.at.apiUrlProducts('no-such-product')), 404),
      'another code than in the address': async () => {
        await a.post(a.at.apiUrlCategories(), { code: 'steady' });
        await refused(a.patch(a.at.apiUrlCategories('steady'), { code: 'moved' }), 422);
      },
    }),

    'a secret that is refused': (a, _, another) => ({
      'the right one': async () => assert.ok(Array.isArray(await a.list(a.at.apiUrlCategories()))),
      'a wrong one reads nothing': async () => {
        const b = another('nobody-has-this-secret');
        await refused(b.list(b.at.apiUrlCategories()), 401);
      },
      'it makes nothing': async () => {
        const b = another('nobody-has-this-secret');
        await refused(b.post(b.at.apiUrlCategories(), { code: 'intruder' }), 401);
      },
      'nothing was made': async () => assert.ok(!(await codes(a, a.at.apiUrlCategories())).includes('intruder'), 'it was'),
    }),
  },
};
