import assert from 'node:assert/strict';
import { type Square, SquareClient } from 'square';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): SquareClient => new SquareClient({ baseUrl: place.base, token, maxRetries: 0 });

interface Walk<Row> {
  readonly data: Row[];
  hasNextPage(): boolean;
  getNextPage(): Promise<Walk<Row>>;
}

/** All rows of the pages that the client walks; more than forty pages are an error. */
const all = async <Row>(first: Walk<Row>): Promise<Row[]> => {
  const rows = [...first.data];
  let page = first;
  for (let more = 1; page.hasNextPage(); more += 1) {
    assert.ok(more < 40, 'the list did not end after 40 pages');
    page = await page.getNextPage();
    rows.push(...page.data);
  }
  return rows;
};

const ids = (rows: readonly { id?: string | null }[] | undefined): string[] => (rows ?? []).map(({ id }) => given(id, 'id'));

let keys = 0;
/** A key that no request before had. */
function key(): string {
  keys += 1;
  return `7b0f3ec5-086a-4871-8f13-${(Date.now() * 1000 + keys).toString(16).padStart(12, '0').slice(-12)}`;
}

const customer = async (square: SquareClient, asked: Square.CreateCustomerRequest): Promise<Square.Customer> =>
  given((await square.customers.create({ idempotencyKey: key(), ...asked })).customer, 'customer');

const shop = async (square: SquareClient, s: State, name = 'Midtown'): Promise<void> => {
  const { location } = await square.locations.create({ location: { name, description: 'Midtown Atlanta store' } });
  s.location = given(location?.id, 'id of the location');
};

const usd = (amount: number): { amount: bigint; currency: 'USD' } => ({ amount: BigInt(amount), currency: 'USD' });

const tea = (id: string, name: string, version?: bigint): Square.CatalogObject => ({
  type: 'ITEM',
  id,
  ...(version === undefined ? {} : { version }),
  itemData: { name, description: 'A cup of it' },
});

const item = (object: Square.CatalogObject | undefined): Square.CatalogObject.Item => {
  assert.equal(object?.type, 'ITEM');
  return object as Square.CatalogObject.Item;
};

/** Square answers what it refuses with `errors`: the category and the code of each. */
const code = (thrown: unknown): unknown => (thrown as { body?: { errors?: { code?: unknown }[] } }).body?.errors?.[0]?.code;

/** Guide: developer.squareup.com, "Customers API", "Catalog API", "Orders API", "Payments API", "Team API", "Pagination", "Idempotency". */
export const vendor: Vendor<SquareClient> = {
  document: 'square/squareup.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'EAAAEOuLQhXd0w3kFz1Rt7vB5nM9qWcYpJsLgTaXeUiHoKdZ',
  client: connect,
  flows: {
    'a customer profile': (square, s) => ({
      create: async () => {
        const asked = {
          givenName: 'Amelia',
          familyName: 'Earhart',
          emailAddress: 'Amelia.Earhart@example.com',
          address: { addressLine1: '500 Electric Ave', addressLine2: 'Suite 600', locality: 'New York', country: 'US' },
          referenceId: 'YOUR_REFERENCE_ID',
          note: 'a customer',
        } as const;
        const made = await customer(square, asked);
        s.id = given(made.id, 'id');
        assert.partialDeepStrictEqual(made, asked);
      },
      read: async () => {
        const read = (await square.customers.get({ customerId: s.id })).customer;
        assert.deepEqual([read?.id, read?.givenName, read?.address?.locality], [s.id, 'Amelia', 'New York']);
      },
      'change the address for mail, and the note': async () => {
        const asked = { customerId: s.id, emailAddress: 'New.Amelia.Earhart@example.com', note: 'updated customer note' };
        const changed = (await square.customers.update(asked)).customer;
        assert.deepEqual([changed?.emailAddress, changed?.note], [asked.emailAddress, asked.note]);
      },
      'it keeps what was not named': async () => {
        const read = (await square.customers.get({ customerId: s.id })).customer;
        assert.deepEqual(
          [read?.familyName, read?.referenceId, read?.note],
          ['Earhart', 'YOUR_REFERENCE_ID', 'updated customer note'],
        );
      },
      delete: async () => square.customers.delete({ customerId: s.id }),
      'it is gone': async () => assert.equal(code(await refused(square.customers.get({ customerId: s.id }), 404)), 'NOT_FOUND'),
      'it is not listed': async () => assert.ok(!ids((await square.customers.list()).data).includes(s.id)),
    }),
    'customers through all pages': (square, s) => ({
      'create five': async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = given((await customer(square, { givenName: `Guest ${n}` })).id, 'id');
      },
      'the client walks pages of two': async () => {
        const rows = await all(await square.customers.list({ limit: 2 }));
        once(ids(rows), [s.id1, s.id2, s.id3, s.id4, s.id5]);
      },
      'a page holds what was asked for, and says that there is more': async () => {
        const first = await square.customers.list({ limit: 2 });
        assert.deepEqual([first.data.length, first.hasNextPage()], [2, true]);
      },
      'newest first': async () => {
        const { data } = await square.customers.list({ sortField: 'CREATED_AT', sortOrder: 'DESC' });
        const times = data.map(({ createdAt }) => given(createdAt, 'created_at'));
        assert.deepEqual(times, [...times].sort().reverse());
      },
    }),
    'a customer is searched for': (square, s) => ({
      'create two': async () => {
        s.one = given(
          (await customer(square, { givenName: 'Ida', emailAddress: 'ida@example.com', referenceId: 'crm-1' })).id,
          'id',
        );
        s.two = given(
          (await customer(square, { givenName: 'Ada', emailAddress: 'ada@example.com', referenceId: 'crm-2' })).id,
          'id',
        );
      },
      'by the address for mail': async () => {
        const filter = { emailAddress: { exact: 'ada@example.com' } };
        assert.deepEqual(ids((await square.customers.search({ query: { filter } })).customers), [s.two]);
      },
      'by the reference': async () => {
        const filter = { referenceId: { exact: 'crm-1' } };
        assert.deepEqual(ids((await square.customers.search({ query: { filter } })).customers), [s.one]);
      },
      'a limit and a cursor': async () => {
        const first = await square.customers.search({ limit: 1n });
        assert.equal(first.customers?.length, 1);
        const second = await square.customers.search({ limit: 1n, cursor: given(first.cursor, 'cursor') });
        once(ids([...first.customers, ...(second.customers ?? [])]), [s.one, s.two]);
      },
    }),
    'a request sent twice with one key': (square, s) => ({
      once: async () => {
        s.key = key();
        s.id = given((await customer(square, { idempotencyKey: s.key, givenName: 'Only' })).id, 'id');
      },
      again: async () => assert.equal((await customer(square, { idempotencyKey: s.key, givenName: 'Only' })).id, s.id),
      'there is one': async () =>
        assert.equal((await square.customers.list()).data.filter(({ givenName }) => givenName === 'Only').length, 1),
    }),
    'a group of customers': (square, s) => ({
      create: async () => {
        const { group } = await square.customers.groups.create({ idempotencyKey: key(), group: { name: 'Loyal Customers' } });
        s.id = given(group?.id, 'id');
        assert.equal(group?.name, 'Loyal Customers');
      },
      rename: async () => {
        const { group } = await square.customers.groups.update({ groupId: s.id, group: { name: 'Most Loyal' } });
        assert.deepEqual([group?.id, group?.name], [s.id, 'Most Loyal']);
      },
      read: async () => assert.equal((await square.customers.groups.get({ groupId: s.id })).group?.name, 'Most Loyal'),
      list: async () => once(ids((await square.customers.groups.list()).data), [s.id]),
      delete: async () => square.customers.groups.delete({ groupId: s.id }),
      'it is gone': async () => {
        await refused(square.customers.groups.get({ groupId: s.id }), 404);
      },
    }),
    'customers belong to groups': (square, s) => ({
      'create a group and two customers': async () => {
        const { group } = await square.customers.groups.create({ idempotencyKey: key(), group: { name: 'Wholesale' } });
        s.group = given(group?.id, 'id');
        s.in = given((await customer(square, { givenName: 'In' })).id, 'id');
        s.out = given((await customer(square, { givenName: 'Out' })).id, 'id');
      },
      'add one': async () => square.customers.groups.add({ customerId: s.in, groupId: s.group }),
      'the customer says so': async () =>
        assert.deepEqual((await square.customers.get({ customerId: s.in })).customer?.groupIds, [s.group]),
      'search the members': async () => {
        const filter = { groupIds: { all: [s.group] } };
        assert.deepEqual(ids((await square.customers.search({ query: { filter } })).customers), [s.in]);
      },
      'remove it': async () => square.customers.groups.remove({ customerId: s.in, groupId: s.group }),
      'the customer has no group': async () =>
        assert.deepEqual((await square.customers.get({ customerId: s.in })).customer?.groupIds ?? [], []),
    }),
    'a location': (square, s) => ({
      create: async () => {
        await shop(square, s);
        const read = (await square.locations.get({ locationId: s.location })).location;
        assert.deepEqual([read?.id, read?.name, read?.status], [s.location, 'Midtown', 'ACTIVE']);
      },
      'give it a description': async () => {
        const asked = { locationId: s.location, location: { description: 'Updated description' } };
        assert.equal((await square.locations.update(asked)).location?.description, 'Updated description');
      },
      'it keeps its name': async () => {
        const read = (await square.locations.get({ locationId: s.location })).location;
        assert.deepEqual([read?.name, read?.description], ['Midtown', 'Updated description']);
      },
      'it is listed': async () => once(ids((await square.locations.list()).locations), [s.location]),
    }),
    'a team member': (square, s) => ({
      create: async () => {
        const teamMember = {
          givenName: 'Joe',
          familyName: 'Doe',
          emailAddress: 'joe_doe@example.com',
          referenceId: 'reference_id_1',
        };
        const made = (await square.teamMembers.create({ idempotencyKey: key(), teamMember: { ...teamMember, status: 'ACTIVE' } }))
          .teamMember;
        s.id = given(made?.id, 'id');
        assert.partialDeepStrictEqual(made, { ...teamMember, status: 'ACTIVE', isOwner: false });
      },
      'another one': async () => {
        const teamMember = {
          givenName: 'Jane',
          familyName: 'Smith',
          emailAddress: 'jane_smith@example.com',
          status: 'ACTIVE',
        } as const;
        s.other = given((await square.teamMembers.create({ idempotencyKey: key(), teamMember })).teamMember?.id, 'id');
      },
      'the first one leaves': async () => {
        const asked = { teamMemberId: s.id, body: { teamMember: { status: 'INACTIVE' } } } as const;
        assert.equal((await square.teamMembers.update(asked)).teamMember?.status, 'INACTIVE');
      },
      read: async () => {
        const read = (await square.teamMembers.get({ teamMemberId: s.id })).teamMember;
        assert.deepEqual([read?.givenName, read?.status], ['Joe', 'INACTIVE']);
      },
      'search those who are there': async () => {
        const found = ids((await square.teamMembers.search({ query: { filter: { status: 'ACTIVE' } } })).teamMembers);
        assert.deepEqual([found.includes(s.other), found.includes(s.id)], [true, false]);
      },
    }),
    'breaks of a location': (square, s) => ({
      'create two locations': async () => {
        await shop(square, s, 'Uptown');
        s.elsewhere = s.location;
        await shop(square, s);
      },
      create: async () => {
        const breakType = { locationId: s.location, breakName: 'Lunch Break', expectedDuration: 'PT30M', isPaid: true };
        const made = (await square.labor.breakTypes.create({ idempotencyKey: key(), breakType })).breakType;
        s.id = given(made?.id, 'id');
        assert.partialDeepStrictEqual(made, breakType);
      },
      'make it longer': async () => {
        const breakType = { locationId: s.location, breakName: 'Lunch', expectedDuration: 'PT50M', isPaid: true, version: 1 };
        const changed = (await square.labor.breakTypes.update({ id: s.id, breakType })).breakType;
        assert.deepEqual([changed?.breakName, changed?.expectedDuration], ['Lunch', 'PT50M']);
      },
      read: async () => assert.equal((await square.labor.breakTypes.get({ id: s.id })).breakType?.expectedDuration, 'PT50M'),
      'those of the location': async () =>
        assert.deepEqual(ids((await square.labor.breakTypes.list({ locationId: s.location })).data), [s.id]),
      'elsewhere there are none': async () =>
        assert.deepEqual((await square.labor.breakTypes.list({ locationId: s.elsewhere })).data, []),
      delete: async () => square.labor.breakTypes.delete({ id: s.id }),
      'it is gone': async () => {
        await refused(square.labor.breakTypes.get({ id: s.id }), 404);
      },
    }),
    'an item of the catalog': (square, s) => ({
      'create, by a temporary ID': async () => {
        const made = await square.catalog.object.upsert({ idempotencyKey: key(), object: tea('#Cocoa', 'Cocoa') });
        const { id, version, itemData } = item(made.catalogObject);
        s.id = id;
        s.version = String(given(version, 'version'));
        assert.equal(itemData?.name, 'Cocoa');
        assert.notEqual(id, '#Cocoa');
      },
      'it tells what the temporary ID became': async () => {
        const made = await square.catalog.object.upsert({ idempotencyKey: key(), object: tea('#Tea', 'Tea') });
        assert.deepEqual(
          made.idMappings?.map(({ clientObjectId, objectId }) => [clientObjectId, objectId]),
          [['#Tea', made.catalogObject?.id]],
        );
        s.tea = given(made.catalogObject?.id, 'id');
      },
      read: async () => {
        const read = item((await square.catalog.object.get({ objectId: s.id })).object);
        assert.deepEqual([read.id, read.itemData?.name, read.isDeleted ?? false], [s.id, 'Cocoa', false]);
      },
      'rename it': async () => {
        const object = tea(s.id, 'Hot Cocoa', BigInt(s.version));
        const made = await square.catalog.object.upsert({ idempotencyKey: key(), object });
        assert.deepEqual([made.catalogObject?.id, item(made.catalogObject).itemData?.name], [s.id, 'Hot Cocoa']);
      },
      'it is listed once': async () =>
        once(ids((await square.catalog.list({ types: 'ITEM' })).data as { id?: string }[]), [s.id, s.tea]),
      'find it by its name': async () => {
        const found = await square.catalog.search({
          objectTypes: ['ITEM'],
          query: { exactQuery: { attributeName: 'name', attributeValue: 'Hot Cocoa' } },
        });
        assert.deepEqual(ids(found.objects as { id?: string }[]), [s.id]);
      },
      'ask for both': async () => {
        const got = await square.catalog.batchGet({ objectIds: [s.id, s.tea] });
        assert.deepEqual(ids(got.objects as { id?: string }[]).sort(), [s.id, s.tea].sort());
      },
      delete: async () => {
        const { deletedObjectIds } = await square.catalog.object.delete({ objectId: s.id });
        assert.deepEqual(deletedObjectIds, [s.id]);
      },
      'it is gone': async () => {
        await refused(square.catalog.object.get({ objectId: s.id }), 404);
      },
    }),
    'an order': (square, s) => ({
      'create the location': async () => shop(square, s),
      create: async () => {
        const lineItems = [{ name: 'New York Strip Steak', quantity: '1', basePriceMoney: usd(1599) }];
        const order = { locationId: s.location, referenceId: 'my-order-001', lineItems };
        const made = (await square.orders.create({ idempotencyKey: key(), order })).order;
        s.id = given(made?.id, 'id');
        assert.deepEqual([made?.locationId, made?.referenceId, made?.state], [s.location, 'my-order-001', 'OPEN']);
        assert.partialDeepStrictEqual(made?.lineItems, [{ name: 'New York Strip Steak', quantity: '1' }]);
      },
      read: async () => {
        const read = (await square.orders.get({ orderId: s.id })).order;
        assert.deepEqual([read?.id, read?.referenceId, read?.lineItems?.length], [s.id, 'my-order-001', 1]);
        s.version = String(read?.version ?? 1);
      },
      'cancel it': async () => {
        const order = { locationId: s.location, version: Number(s.version), state: 'CANCELED' } as const;
        assert.equal((await square.orders.update({ orderId: s.id, idempotencyKey: key(), order })).order?.state, 'CANCELED');
      },
      'read some': async () => {
        const { orders } = await square.orders.batchGet({ locationId: s.location, orderIds: [s.id] });
        assert.deepEqual(
          orders?.map(({ id, state }) => [id, state]),
          [[s.id, 'CANCELED']],
        );
      },
      'search those of the location': async () =>
        assert.deepEqual(ids((await square.orders.search({ locationIds: [s.location] })).orders), [s.id]),
    }),
    'a payment is approved, then completed': (square, s) => ({
      create: async () => {
        const made = (
          await square.payments.create({
            sourceId: 'cnon:card-nonce-ok',
            idempotencyKey: key(),
            amountMoney: usd(1000),
            autocomplete: false,
            referenceId: '123456',
          })
        ).payment;
        s.id = given(made?.id, 'id');
        assert.deepEqual([made?.status, made?.amountMoney?.amount, made?.amountMoney?.currency], ['APPROVED', 1000n, 'USD']);
      },
      complete: async () => assert.equal((await square.payments.complete({ paymentId: s.id })).payment?.status, 'COMPLETED'),
      'it is completed': async () => {
        const read = (await square.payments.get({ paymentId: s.id })).payment;
        assert.deepEqual([read?.status, read?.referenceId], ['COMPLETED', '123456']);
      },
      'it is listed': async () => once(ids((await square.payments.list()).data), [s.id]),
    }),
    'a payment is canceled': (square, s) => ({
      create: async () => {
        const asked = { sourceId: 'cnon:card-nonce-ok', amountMoney: usd(500), autocomplete: false };
        const made = (await square.payments.create({ ...asked, idempotencyKey: key() })).payment;
        s.id = given(made?.id, 'id');
        assert.equal(made?.status, 'APPROVED');
      },
      cancel: async () => assert.equal((await square.payments.cancel({ paymentId: s.id })).payment?.status, 'CANCELED'),
      'it is canceled': async () => assert.equal((await square.payments.get({ paymentId: s.id })).payment?.status, 'CANCELED'),
    }),
    'a card on file': (square, s) => ({
      'create its customer': async () => {
        s.customer = given((await customer(square, { givenName: 'Amelia' })).id, 'id');
      },
      create: async () => {
        const card = { cardholderName: 'Amelia Earhart', customerId: s.customer, referenceId: 'user-id-1' };
        const made = (await square.cards.create({ idempotencyKey: key(), sourceId: 'cnon:card-nonce-ok', card })).card;
        s.id = given(made?.id, 'id');
        assert.partialDeepStrictEqual(made, { ...card, enabled: true });
      },
      'those of the customer': async () =>
        assert.deepEqual(ids((await square.cards.list({ customerId: s.customer })).data), [s.id]),
      disable: async () => assert.equal((await square.cards.disable({ cardId: s.id })).card?.enabled, false),
      'it is disabled': async () => assert.equal((await square.cards.get({ cardId: s.id })).card?.enabled, false),
    }),
    'a credential that is refused': (square, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray((await square.customers.list()).data)),
      'an empty one is not': async () => {
        await refused(another('').customers.list(), 401);
      },
    }),
    'requests that are wrong': (square) => ({
      'a customer who never was': async () =>
        assert.equal(code(await refused(square.customers.get({ customerId: 'JDKYHBWT1D4F8MFH63DBMEN8Y4' }), 404)), 'NOT_FOUND'),
      'an object of the catalog with an empty key': async () => {
        await refused(square.catalog.object.upsert({ idempotencyKey: '', object: tea('#Milk', 'Milk') }), 400);
      },
      'a payment with an empty source': async () => {
        await refused(square.payments.create({ sourceId: '', idempotencyKey: key(), amountMoney: usd(100) }), 400);
      },
    }),
  },
};
