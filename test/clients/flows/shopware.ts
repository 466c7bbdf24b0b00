import assert from 'node:assert/strict';
import { ApiClientError, createAPIClient } from '@shopware/api-client';
import { given, numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

type Row = Readonly<Record<string, unknown>> & { readonly id: string };
type Listing = { readonly elements: readonly Row[]; readonly total?: number };
type Asked = {
  readonly body?: object;
  readonly query?: object;
  readonly pathParams?: Readonly<Record<string, string>>;
};
/** An operation as the client names it: its name, its method and its path. */
type Shop = <Answer>(operation: string, asked?: Asked) => Promise<Answer>;

/** The session of a signed-in customer, who is a business partner with all permissions. */
const session = (place: Place): string =>
  place.printed.find(({ name }) => name === 'sw-context-token')?.value ?? 'b8f4a1c05d2e4e7f9a3c6d1b7e0f2a94';

/** The types of the client want of a body what only an answer has, as the id of an address that is not made yet. */
const connect = (place: Place, accessToken: string): Shop => {
  const { invoke } = createAPIClient({ baseURL: place.base, accessToken, contextToken: session(place) });
  const loose = invoke as unknown as (operation: string, asked?: Asked) => Promise<{ readonly data: unknown }>;
  return async <Answer>(operation: string, asked?: Asked) => (await loose(operation, asked)).data as Answer;
};

const ids = (rows: readonly Row[]): string[] => rows.map(({ id }) => id);
const names = (rows: readonly Row[]): string[] => rows.map(({ name }) => String(name));
const nowhere = '0123456789abcdef0123456789abcdef';

const first = async (shop: Shop, operation: string, what: string): Promise<string> =>
  given((await shop<Listing>(operation)).elements[0], what).id;
const country = (shop: Shop): Promise<string> => first(shop, 'readCountryGet get /country', 'country');
const product = (shop: Shop): Promise<string> => first(shop, 'readProductGet get /product', 'product');

const register = async (shop: Shop, email: string): Promise<Row> => {
  const countryId = await country(shop);
  const billingAddress = {
    firstName: 'Ada',
    lastName: 'Lovelace',
    street: 'Main Street 1',
    zipcode: '48624',
    city: 'Schöppingen',
  };
  const person = { email, password: 'shopware-12345', firstName: 'Ada', lastName: 'Lovelace', acceptedDataProtection: true };
  return shop('register post /account/register', {
    body: { ...person, storefrontUrl: 'https://shop.example.com', billingAddress: { ...billingAddress, countryId } },
  });
};
const customer = (shop: Shop): Promise<Row> => shop('readCustomer post /account/customer', { body: {} });

const addresses = async (shop: Shop, body: object = {}): Promise<readonly Row[]> =>
  (await shop<Listing>('listAddress post /account/list-address', { body })).elements;
const address = async (shop: Shop, s: State, fields: object): Promise<Row> => {
  if (!Object.keys(s).includes('country')) s.country = await country(shop);
  const body = { countryId: s.country, firstName: 'Ada', lastName: 'Lovelace', street: 'Main Street 1', ...fields };
  return shop('createCustomerAddress post /account/address', { body });
};

const role = (shop: Shop, name: string): Promise<Row> =>
  shop('createRole post /role/create', { body: { name, permissions: ['order.read.all'] } });
const roles = async (shop: Shop, body: object = {}): Promise<readonly Row[]> =>
  (await shop<Listing>('readRolesPOST post /role', { body })).elements;

const employee = async (shop: Shop, firstName: string, more: object = {}): Promise<Row> => {
  const languageId = await first(shop, 'readLanguagesGet get /language', 'language');
  const email = `${firstName.toLowerCase()}@example.com`;
  return shop('createEmployee post /employee/create', { body: { firstName, lastName: 'Byron', email, languageId, ...more } });
};
const employees = async (shop: Shop, body: object = {}): Promise<readonly Row[]> =>
  (await shop<Listing>('readEmployeesPOST post /employee', { body })).elements;

const shoppingList = async (shop: Shop, body: object): Promise<string> =>
  (await shop<Row>('createShoppingList post /shopping-list', { body })).id;
const readList = (shop: Shop, id: string, body: object = {}): Promise<Row> =>
  shop('readShoppingList post /shopping-list/{id}', { pathParams: { id }, body });
const shoppingLists = async (shop: Shop, body: object = {}): Promise<readonly Row[]> =>
  (await shop<Listing>('readShoppingLists post /shopping-lists', { body })).elements;

const budget = (shop: Shop, technicalName: string, more: object = {}): Promise<unknown> => {
  const body = { name: 'Marketing', technicalName, amount: 1500, startDate: '2026-01-01', renewsType: 'Monthly', ...more };
  return shop('createBudget post /budget', { body });
};
const budgets = async (shop: Shop, body: object = {}): Promise<readonly Row[]> =>
  (await shop<Listing>('readBudgets post /budgets', { body })).elements;
const readBudget = (shop: Shop, id: string): Promise<Row> => shop('readBudgetGet get /budget/{id}', { pathParams: { id } });

type Cart = { readonly token: string; readonly lineItems: readonly (Row & { readonly quantity?: number })[] };
const cart = (shop: Shop): Promise<Cart> => shop('readCart get /checkout/cart');
const quantity = ({ lineItems }: Cart, id: string): number | undefined => lineItems.find((item) => item.id === id)?.quantity;

type Wishes = { readonly products: Listing };
const wishes = async (shop: Shop): Promise<string[]> =>
  ids((await shop<Wishes>('readCustomerWishlist post /customer/wishlist', { body: {} })).products.elements);

/** Guide: shopware.stoplight.io/docs/store-api ("Quickstart", "Account", "Search Queries", "Cart") and the client's README. */
export const vendor: Vendor<Shop> = {
  document: 'shopware/storeApiSchema.json',
  header: 'sw-access-key',
  also: ['sw-context-token'],
  made: 'SWSCBHFSNTVMAWNZDNFKSHLAYW',
  client: connect,
  strict: ['an access key that is refused'],
  flows: {
    'a customer registers': (shop, s) => ({
      register: async () => {
        const made = await register(shop, 'ada@example.com');
        s.id = made.id;
        assert.deepEqual([made.firstName, made.lastName, made.email], ['Ada', 'Lovelace', 'ada@example.com']);
      },
      'who is signed in then': async () => {
        const { id, email, firstName } = await customer(shop);
        assert.deepEqual([id, email, firstName], [s.id, 'ada@example.com', 'Ada']);
      },
      'change the name': async () => {
        const body = { firstName: 'Augusta', lastName: 'King' };
        const answer = await shop<{ success: boolean }>('changeProfile post /account/change-profile', { body });
        assert.equal(answer.success, true);
      },
      'it stays changed': async () => {
        const { id, firstName, lastName } = await customer(shop);
        assert.deepEqual([id, firstName, lastName], [s.id, 'Augusta', 'King']);
      },
    }),
    'a customer signs in': (shop, s) => ({
      register: async () => {
        s.id = (await register(shop, 'charles@example.com')).id;
      },
      'sign out': async () => shop('logoutCustomer post /account/logout', { body: {} }),
      'a wrong password is refused': async () => {
        const body = { username: 'charles@example.com', password: 'not-the-password' };
        await refused(shop('loginCustomer post /account/login', { body }), 401);
      },
      'sign in': async () => {
        const body = { username: 'charles@example.com', password: 'shopware-12345' };
        await shop('loginCustomer post /account/login', { body });
      },
      'the same customer': async () => assert.equal((await customer(shop)).id, s.id),
    }),
    'an address from its making to its end': (shop, s) => ({
      create: async () => {
        const made = await address(shop, s, { zipcode: '10115', city: 'Berlin' });
        s.id = made.id;
        assert.partialDeepStrictEqual(made, { city: 'Berlin', zipcode: '10115', street: 'Main Street 1', countryId: s.country });
      },
      'it is listed': async () => once(ids(await addresses(shop)), [s.id], 'addresses'),
      change: async () => {
        const fields = { firstName: 'Ada', lastName: 'Lovelace', city: 'Hamburg', street: 'Harbour 2' };
        const body = { countryId: s.country, zipcode: '20095', ...fields };
        const operation = 'updateCustomerAddress patch /account/address/{addressId}';
        const changed = await shop<Row>(operation, { pathParams: { addressId: s.id }, body });
        assert.deepEqual([changed.id, changed.city, changed.street], [s.id, 'Hamburg', 'Harbour 2']);
      },
      'the list shows the change': async () => {
        const row = given(
          (await addresses(shop)).find(({ id }) => id === s.id),
          'address',
        );
        assert.deepEqual([row.city, row.zipcode], ['Hamburg', '20095']);
      },
      delete: async () => shop('deleteCustomerAddress delete /account/address/{addressId}', { pathParams: { addressId: s.id } }),
      'it is gone': async () => assert.ok(!ids(await addresses(shop)).includes(s.id)),
    }),
    'addresses page by page': (shop, s) => ({
      'make five': async () => {
        const made = [];
        for (const city of ['Aachen', 'Bonn', 'Celle', 'Dresden', 'Essen']) made.push((await address(shop, s, { city })).id);
        s.all = made.join(' ');
        once(made, made, 'made ids');
      },
      'two at a time': async () => {
        const page = await addresses(shop, { limit: 2, page: 1 });
        assert.equal(page.length, 2);
      },
      'all pages': async () => {
        const rows = await numbered((page) => addresses(shop, { limit: 2, page }));
        once(ids(rows), s.all.split(' '), 'addresses');
      },
      'one city alone': async () => {
        const rows = await addresses(shop, { filter: [{ type: 'equals', field: 'city', value: 'Celle' }] });
        assert.deepEqual(ids(rows), [s.all.split(' ')[2]]);
      },
    }),
    'a role from its making to its end': (shop, s) => ({
      create: async () => {
        const made = await role(shop, 'Buyer');
        s.id = made.id;
        assert.equal(made.name, 'Buyer');
      },
      read: async () => {
        const read = await shop<Row>('readRole get /role/{id}', { pathParams: { id: s.id } });
        assert.deepEqual([read.id, read.name], [s.id, 'Buyer']);
      },
      rename: async () => {
        const asked = { pathParams: { id: s.id }, body: { name: 'Senior buyer' } };
        const changed = await shop<Row>('updateRole patch /role/{id}', asked);
        assert.deepEqual([changed.id, changed.name], [s.id, 'Senior buyer']);
      },
      'it stays renamed': async () =>
        assert.equal((await shop<Row>('readRole get /role/{id}', { pathParams: { id: s.id } })).name, 'Senior buyer'),
      delete: async () => shop('deleteRole delete /role/{id}', { pathParams: { id: s.id } }),
      'it is gone': async () => refused(shop('readRole get /role/{id}', { pathParams: { id: s.id } }), 400, 404),
      'it is not listed': async () => assert.ok(!ids(await roles(shop)).includes(s.id)),
    }),
    'roles page by page': (shop, s) => ({
      'make five': async () => {
        const made = [];
        for (const name of ['Purchase', 'Approval', 'Reading', 'Office', 'Board']) made.push((await role(shop, name)).id);
        s.all = made.join(' ');
      },
      'all pages': async () => {
        const rows = await numbered((page) => roles(shop, { limit: 2, page }));
        once(ids(rows), s.all.split(' '), 'roles');
      },
      'ordered by name': async () => {
        const rows = names(await roles(shop, { limit: 50, sort: [{ field: 'name', order: 'ASC' }] }));
        const mine = rows.filter((name) => ['Purchase', 'Approval', 'Reading', 'Office', 'Board'].includes(name));
        assert.deepEqual(mine, ['Approval', 'Board', 'Office', 'Purchase', 'Reading']);
      },
      'one by its name': async () => {
        const rows = await roles(shop, { filter: [{ type: 'equals', field: 'name', value: 'Office' }] });
        assert.deepEqual(names(rows), ['Office']);
      },
      'some by a part of it': async () => {
        const rows = await roles(shop, { filter: [{ type: 'contains', field: 'name', value: 'ea' }] });
        assert.deepEqual(names(rows), ['Reading']);
      },
    }),
    'an employee and a role': (shop, s) => ({
      'a role': async () => {
        s.role = (await role(shop, 'Warehouse')).id;
      },
      'an employee with it': async () => {
        const made = await employee(shop, 'Annabella', { roleId: s.role });
        s.id = made.id;
        assert.partialDeepStrictEqual(made, { firstName: 'Annabella', lastName: 'Byron', email: 'annabella@example.com' });
      },
      'read the employee': async () => {
        const read = await shop<Row>('readB2bEmployee get /employee/{id}', { pathParams: { id: s.id } });
        assert.deepEqual([read.id, read.firstName, read.email], [s.id, 'Annabella', 'annabella@example.com']);
      },
      'change the name': async () => {
        const asked = { pathParams: { id: s.id }, body: { firstName: 'Anne' } };
        const changed = await shop<Row>('updateEmployee patch /employee/{id}', asked);
        assert.deepEqual([changed.id, changed.firstName, changed.lastName], [s.id, 'Anne', 'Byron']);
      },
      'listed once': async () => once(ids(await employees(shop)), [s.id], 'employees'),
      delete: async () => shop('deleteEmployee delete /employee/{id}', { pathParams: { id: s.id } }),
      'the list has the employee no more': async () => assert.ok(!ids(await employees(shop)).includes(s.id)),
    }),
    'employees are found': (shop, s) => ({
      'make three': async () => {
        const made = [];
        for (const name of ['Medora', 'Ralph', 'Noel']) made.push((await employee(shop, name)).id);
        [s.medora, s.ralph, s.noel] = made as [string, string, string];
      },
      'by mail': async () => {
        const filter = [{ type: 'equals', field: 'email', value: 'ralph@example.com' }];
        assert.deepEqual(ids(await employees(shop, { filter })), [s.ralph]);
      },
      'by their ids': async () => {
        const rows = ids(await employees(shop, { ids: [s.medora, s.noel] }));
        assert.deepEqual(rows.toSorted(), [s.medora, s.noel].toSorted());
      },
      'page by page': async () => {
        const rows = await numbered((page) => employees(shop, { limit: 2, page }));
        once(ids(rows), [s.medora, s.ralph, s.noel], 'employees');
      },
    }),
    'a budget from its making to its end': (shop, s) => ({
      create: async () => budget(shop, 'marketing-2026', { costCentre: 'C-17' }),
      'it is listed': async () => {
        const rows = (await budgets(shop)).filter(({ technicalName }) => technicalName === 'marketing-2026');
        assert.equal(rows.length, 1);
        s.id = given(rows[0], 'budget').id;
      },
      read: async () => {
        const { id, name, amount, costCentre, renewsType } = await readBudget(shop, s.id);
        assert.deepEqual([id, name, amount, costCentre, renewsType], [s.id, 'Marketing', 1500, 'C-17', 'Monthly']);
      },
      change: async () =>
        shop('updateBudget patch /budget/{id}', { pathParams: { id: s.id }, body: { name: 'Fairs', amount: 2500 } }),
      'it stays changed': async () => {
        const { name, amount, technicalName } = await readBudget(shop, s.id);
        assert.deepEqual([name, amount, technicalName], ['Fairs', 2500, 'marketing-2026']);
      },
      delete: async () => shop('deleteBudgets delete /budgets/delete', { body: { ids: [s.id] } }),
      'it is gone': async () => refused(readBudget(shop, s.id), 404),
    }),
    'a shopping list from its making to its end': (shop, s) => ({
      create: async () => {
        s.id = await shoppingList(shop, { name: 'Office supplies' });
        s.other = await shoppingList(shop, { name: 'Kitchen' });
        assert.notEqual(s.id, s.other);
      },
      read: async () => {
        const read = await readList(shop, s.id);
        assert.deepEqual([read.id, read.name], [s.id, 'Office supplies']);
      },
      rename: async () => {
        const asked = { pathParams: { id: s.id }, body: { name: 'Office and paper' } };
        await shop('updateShoppingList patch /shopping-list/{id}/change-name', asked);
      },
      'it stays renamed': async () => assert.equal((await readList(shop, s.id)).name, 'Office and paper'),
      'both are listed': async () => once(ids(await shoppingLists(shop)), [s.id, s.other], 'shopping lists'),
      'remove one': async () => shop('removeShoppingLists delete /shopping-list', { body: { ids: [s.id] } }),
      'the other is left': async () => {
        const rows = ids(await shoppingLists(shop));
        assert.deepEqual([rows.includes(s.id), rows.includes(s.other)], [false, true]);
      },
    }),
    'a copy of a shopping list': (shop, s) => ({
      create: async () => {
        s.id = await shoppingList(shop, { name: 'Every month' });
      },
      copy: async () => {
        const asked = { pathParams: { id: s.id }, body: { name: 'Every month, again' } };
        s.copy = (await shop<Row>('duplicateShoppingList post /shopping-list/{id}/duplicate', asked)).id;
        assert.notEqual(s.copy, s.id);
      },
      'the copy has its name': async () => assert.equal((await readList(shop, s.copy)).name, 'Every month, again'),
      'the first keeps its own': async () => assert.equal((await readList(shop, s.id)).name, 'Every month'),
      'what is not there cannot be copied': async () => {
        const asked = { pathParams: { id: nowhere }, body: { name: 'Nothing' } };
        await refused(shop('duplicateShoppingList post /shopping-list/{id}/duplicate', asked), 400, 404);
      },
    }),
    'a product goes into the cart and out': (shop, s) => ({
      'a product, and a cart': async () => {
        s.product = await product(shop);
        s.token = (await cart(shop)).token;
      },
      'put it in': async () => {
        const items = [{ id: s.product, type: 'product', referencedId: s.product, quantity: 2 }];
        const answer = await shop<Cart>('addLineItem post /checkout/cart/line-item', { body: { items } });
        assert.equal(quantity(answer, s.product), 2);
      },
      'it is in there': async () => {
        const read = await cart(shop);
        assert.deepEqual([read.token, quantity(read, s.product)], [s.token, 2]);
      },
      'another quantity': async () => {
        const items = [{ id: s.product, quantity: 5 }];
        const answer = await shop<Cart>('updateLineItem patch /checkout/cart/line-item', { body: { items } });
        assert.equal(quantity(answer, s.product), 5);
      },
      'take it out': async () => {
        const asked = { body: { ids: [s.product] } };
        const answer = await shop<Cart>('removeLineItem post /checkout/cart/line-item/delete', asked);
        assert.equal(quantity(answer, s.product), undefined);
      },
      'it is out': async () => assert.equal(quantity(await cart(shop), s.product), undefined),
    }),
    'a wish list': (shop, s) => ({
      'a product': async () => {
        s.product = await product(shop);
      },
      'wish for it': async () => {
        const asked = { pathParams: { productId: s.product } };
        const answer = await shop<{ success: boolean }>('addProductOnWishlist post /customer/wishlist/add/{productId}', asked);
        assert.equal(answer.success, true);
      },
      'it is on the list': async () => once(await wishes(shop), [s.product], 'wishes'),
      'take it off': async () => {
        const asked = { pathParams: { productId: s.product } };
        await shop('deleteProductOnWishlist delete /customer/wishlist/delete/{productId}', asked);
      },
      'it is off the list': async () => assert.ok(!(await wishes(shop)).includes(s.product)),
    }),
    'what is wrong': (shop) => ({
      'a shopping list without a name': async () => refused(shoppingList(shop, {}), 400),
      'an employee without a mail': async () => refused(employee(shop, 'Nobody', { email: undefined }), 400),
      'an error lists what is wrong': async () => {
        const thrown = await refused(shoppingList(shop, {}), 400);
        assert.ok(thrown instanceof ApiClientError);
        assert.ok(thrown.details.errors.length > 0, 'the error lists nothing');
      },
      'a budget that is not there': async () => refused(readBudget(shop, nowhere), 404),
      'a wrong login': async () => {
        const body = { username: 'nobody@example.com', password: 'nothing-at-all' };
        await refused(shop('loginCustomer post /account/login', { body }), 401);
      },
    }),
    'an access key that is refused': (shop, _, another) => ({
      'the right one': async () => assert.ok(Array.isArray((await shop<Listing>('readCountryGet get /country')).elements)),
      'a wrong one': async () => refused(another('SWSCNOBODYHASTHISKEYATALLX')('readCountryGet get /country'), 401, 412),
      'it cannot make anything': async () =>
        refused(shoppingList(another('SWSCNOBODYHASTHISKEYATALLX'), { name: 'Nothing' }), 401, 412),
    }),
  },
};
