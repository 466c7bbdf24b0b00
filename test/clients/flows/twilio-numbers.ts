import assert from 'node:assert/strict';
import twilio from 'twilio';
import RequestClient from 'twilio/lib/base/RequestClient.js';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

type Client = ReturnType<typeof twilio>;

/** Sends what would go to numbers.twilio.com to another origin; path, query and body are as the client made them. */
class Elsewhere extends RequestClient {
  readonly #origin: string;
  constructor(origin: string) {
    super({ keepAlive: false, autoRetry: false, timeout: 10_000 });
    this.#origin = origin;
  }
  override request<Data>(opts: RequestClient.RequestOptions<Data>): ReturnType<typeof RequestClient.prototype.request<Data>> {
    const { pathname, search } = new URL(opts.uri);
    return super.request<Data>({ ...opts, uri: `${this.#origin}${pathname}${search}` });
  }
}

const ownAccount = 'AC0123456789abcdef0123456789abcdef';
/** The token is an account's (or key's) SID and its secret, joined and encoded as the header has them; anything else is a secret of the account. */
const connect = (place: Place, token: string): Client => {
  const plain = Buffer.from(token, 'base64').toString('utf8');
  const [, user, secret] = /^([\x20-\x39\x3b-\x7e]+):([\x20-\x7e]+)$/.exec(plain) ?? [undefined, ownAccount, token];
  return twilio(user, secret, {
    accountSid: user?.startsWith('AC') ? user : ownAccount,
    httpClient: new Elsewhere(place.url),
    autoRetry: false,
  });
};

/** Twilio has a 404 (error 20404) for what is not there, 400 for a wrong parameter, 401 (error 20003) for a stranger. */
const missing = (call: Promise<unknown>): Promise<unknown> => refused(call, 404);
const wrong = (call: Promise<unknown>): Promise<unknown> => refused(call, 400);

const without = (rows: readonly string[], one: string): void => assert.ok(!rows.includes(one), `the list still has ${one}`);
const oneOf = (value: string | undefined, ...all: readonly string[]): void =>
  assert.ok(all.includes(value ?? ''), `${value} is none of ${all.join(', ')}`);
const recent = (value: Date, what: string): void => {
  assert.ok(value instanceof Date && !Number.isNaN(value.getTime()), `${what} is no time`);
  assert.ok(Math.abs(value.getTime() - Date.now()) < 3_600_000, `${what} is ${value.toISOString()}, not now`);
};
/** A string of attributes is as good as an object of them. */
const attributes = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value);

const sid = (prefix: string, digit: string): string => `${prefix}${digit.repeat(32)}`;
/** Addresses, applications and regulations belong to other services, or are there before. */
const address = sid('AD', 'a');
const regulation = sid('RN', 'b');
const email = 'compliance@example.com';

const regulatory = (c: Client) => c.numbers.v2.regulatoryCompliance;
const bundle = async (c: Client, friendlyName: string, regulationSid = regulation): Promise<string> =>
  (await regulatory(c).bundles.create({ friendlyName, email, regulationSid })).sid;
const person = async (c: Client, friendlyName: string): Promise<string> => {
  const made = await regulatory(c).endUsers.create({
    friendlyName,
    type: 'individual',
    attributes: { first_name: 'Ada', last_name: 'Lovelace' },
  });
  return made.sid;
};
const paper = async (c: Client, friendlyName: string): Promise<string> => {
  const made = await regulatory(c).supportingDocuments.create({
    friendlyName,
    type: 'passport',
    attributes: { first_name: 'Ada', last_name: 'Lovelace', document_number: 'C01X00T47' },
  });
  return made.sid;
};
const order = async (c: Client, phoneNumber: string, friendlyName: string): Promise<string> => {
  const made = await c.numbers.v2.hostedNumberOrders.create({
    phoneNumber,
    friendlyName,
    contactPhoneNumber: '+14155550100',
    addressSid: address,
    email,
    smsCapability: true,
  });
  return made.sid;
};

interface Paged<Row> {
  readonly instances: Row[];
  readonly nextPageUrl?: string;
}
interface Listed<Row> {
  page(asked: { pageSize: number }): Promise<Paged<Row>>;
  getPage(url: string): Promise<Paged<Row>>;
}
/** Every row, page after page, as `nextPageUrl` leads. */
const walk = <Row>(list: Listed<Row>, pageSize: number, asked: object = {}): Promise<Row[]> =>
  pages(
    (from) => (from === undefined ? list.page({ ...asked, pageSize }) : list.getPage(from)),
    (page) => page.instances,
    (page) => page.nextPageUrl,
  );
const sids = (rows: readonly { sid: string }[]): string[] => rows.map((row) => row.sid);

/** Guide: twilio.com/docs/phone-numbers/regulatory (bundles, end-users, documents, evaluations, copies) and …/hosted-numbers. */
export const vendor: Vendor<Client> = {
  document: 'twilio-numbers/twilio-numbers.json',
  header: 'Authorization',
  word: 'Basic',
  made: Buffer.from(`${ownAccount}:0123456789abcdef0123456789abcdef`).toString('base64'),
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a bundle, from the first to the last day': (c, s) => ({
      made: async () => {
        const made = await regulatory(c).bundles.create({
          friendlyName: 'Ada in Berlin',
          email,
          regulationSid: regulation,
          statusCallback: 'https://example.com/bundles',
        });
        assert.match(made.sid, /^BU[0-9a-f]{32}$/i);
        assert.match(made.accountSid, /^AC[0-9a-f]{32}$/i);
        s.sid = made.sid;
        s.account = made.accountSid;
      },
      'it is a draft, at first': async () => {
        const read = await regulatory(c).bundles(s.sid).fetch();
        assert.equal(read.status, 'draft');
        recent(read.dateCreated, 'dateCreated');
      },
      read: async () => {
        const read = await regulatory(c).bundles(s.sid).fetch();
        assert.deepEqual(
          [read.sid, read.accountSid, read.friendlyName, read.email, read.regulationSid, read.statusCallback],
          [s.sid, s.account, 'Ada in Berlin', email, regulation, 'https://example.com/bundles'],
        );
      },
      'is in the list': async () => {
        const rows = await walk(regulatory(c).bundles, 50);
        once(
          rows.map((row) => `${row.sid} ${row.friendlyName}`),
          [`${s.sid} Ada in Berlin`],
          'bundles',
        );
      },
      changed: async () => {
        const made = await regulatory(c).bundles(s.sid).update({ friendlyName: 'Ada in Bonn', email: 'ada@example.com' });
        assert.deepEqual([made.sid, made.friendlyName, made.email], [s.sid, 'Ada in Bonn', 'ada@example.com']);
      },
      'nothing else is': async () => {
        const read = await regulatory(c).bundles(s.sid).fetch();
        assert.deepEqual(
          [read.friendlyName, read.email, read.statusCallback, read.status, read.regulationSid],
          ['Ada in Bonn', 'ada@example.com', 'https://example.com/bundles', 'draft', regulation],
        );
      },
      deleted: async () => assert.equal(await regulatory(c).bundles(s.sid).remove(), true),
      gone: () => missing(regulatory(c).bundles(s.sid).fetch()),
      'no longer in the list': async () => without(sids(await walk(regulatory(c).bundles, 50)), s.sid),
    }),

    'bundles through all pages': (c, s) => ({
      'five are made, in no order': async () => {
        for (const letter of ['c', 'a', 'e', 'b', 'd']) s[letter] = await bundle(c, `page ${letter}`);
      },
      'no more on a page than asked for': async () => {
        const page = await regulatory(c).bundles.page({ pageSize: 2 });
        assert.equal(page.instances.length, 2);
        s.first = given(page.instances[0], 'first bundle').sid;
        s.next = given(page.nextPageUrl, 'nextPageUrl');
      },
      'the next page has others, and leads back': async () => {
        const page = await regulatory(c).bundles.getPage(s.next);
        without(sids(page.instances), s.first);
        const back = await regulatory(c).bundles.getPage(given(page.previousPageUrl, 'previousPageUrl'));
        once(sids(back.instances), [s.first], 'bundles');
      },
      'all of them, each once': async () => {
        const rows = sids(await walk(regulatory(c).bundles, 2));
        once(rows, [...new Set(rows), s.a, s.b, s.c, s.d, s.e], 'bundles');
      },
      'the client walks by itself too': async () => {
        const rows = sids(await regulatory(c).bundles.list({ pageSize: 2, limit: 60 }));
        once(rows, [s.a, s.b, s.c, s.d, s.e], 'bundles');
        assert.equal((await regulatory(c).bundles.list({ pageSize: 2, limit: 3 })).length, 3);
      },
      'one less': async () => {
        await regulatory(c).bundles(s.b).remove();
        const rows = sids(await walk(regulatory(c).bundles, 2));
        once(rows, [s.a, s.c, s.d, s.e], 'bundles');
        without(rows, s.b);
      },
    }),

    'bundles that are looked for': (c, s) => ({
      'three are made': async () => {
        s.gate = await bundle(c, 'gate bundle');
        s.roof = await bundle(c, 'roof bundle');
        s.france = await bundle(c, 'french bundle', sid('RN', 'f'));
      },
      'one by its name': async () => {
        const rows = await regulatory(c).bundles.list({ friendlyName: 'gate bundle', limit: 100 });
        once(sids(rows), [s.gate], 'bundles');
        without(sids(rows), s.roof);
      },
      'one by its regulation': async () => {
        const rows = await regulatory(c).bundles.list({ regulationSid: sid('RN', 'f'), limit: 100 });
        once(sids(rows), [s.france], 'bundles');
        for (const row of rows) assert.equal(row.regulationSid, sid('RN', 'f'));
      },
      'all among the drafts': async () => {
        const rows = await walk(regulatory(c).bundles, 50, { status: 'draft' });
        once(sids(rows), [s.gate, s.roof, s.france], 'bundles');
        for (const row of rows) assert.equal(row.status, 'draft');
      },
      'none among those approved': async () => {
        const rows = await walk(regulatory(c).bundles, 50, { status: 'twilio-approved' });
        for (const one of [s.gate, s.roof, s.france]) without(sids(rows), one);
      },
      'sorted by their last change': async () => {
        for (const [sortDirection, sign] of [
          ['ASC', 1],
          ['DESC', -1],
        ] as const) {
          const rows = await walk(regulatory(c).bundles, 50, { sortBy: 'date-updated', sortDirection });
          const times = rows.map((row) => sign * row.dateUpdated.getTime());
          assert.deepEqual(
            times,
            times.toSorted((a, b) => a - b),
          );
        }
      },
      'not by a status that there is not': () => wrong(regulatory(c).bundles.list({ status: 'lost' as 'draft', limit: 5 })),
    }),

    'an end-user, from the first to the last day': (c, s) => ({
      made: async () => {
        const made = await regulatory(c).endUsers.create({
          friendlyName: 'Analytical Engines',
          type: 'business',
          attributes: { business_name: 'Analytical Engines Ltd', business_registration_number: 'HRB 1842' },
        });
        assert.match(made.sid, /^IT[0-9a-f]{32}$/i);
        s.sid = made.sid;
      },
      read: async () => {
        const read = await regulatory(c).endUsers(s.sid).fetch();
        assert.deepEqual([read.sid, read.friendlyName, read.type], [s.sid, 'Analytical Engines', 'business']);
        recent(read.dateCreated, 'dateCreated');
      },
      'what is known about it is as given': async () => {
        const read = await regulatory(c).endUsers(s.sid).fetch();
        assert.deepEqual(attributes(read.attributes), {
          business_name: 'Analytical Engines Ltd',
          business_registration_number: 'HRB 1842',
        });
      },
      'its name is changed, nothing else': async () => {
        await regulatory(c).endUsers(s.sid).update({ friendlyName: 'Difference Engines' });
        const read = await regulatory(c).endUsers(s.sid).fetch();
        assert.deepEqual([read.friendlyName, read.type], ['Difference Engines', 'business']);
        assert.partialDeepStrictEqual(attributes(read.attributes), { business_name: 'Analytical Engines Ltd' });
      },
      'what is known about it is changed': async () => {
        await regulatory(c)
          .endUsers(s.sid)
          .update({ attributes: { business_name: 'Difference Engines Ltd' } });
        const read = await regulatory(c).endUsers(s.sid).fetch();
        assert.partialDeepStrictEqual(attributes(read.attributes), { business_name: 'Difference Engines Ltd' });
      },
      'is in the list': async () => once(sids(await walk(regulatory(c).endUsers, 1)), [s.sid], 'end-users'),
      'a robot is none': () => wrong(regulatory(c).endUsers.create({ friendlyName: 'R2', type: 'robot' as 'individual' })),
      'deleted, and gone': async () => {
        assert.equal(await regulatory(c).endUsers(s.sid).remove(), true);
        await missing(regulatory(c).endUsers(s.sid).fetch());
        without(sids(await walk(regulatory(c).endUsers, 50)), s.sid);
      },
    }),

    'a supporting document, from the first to the last day': (c, s) => ({
      made: async () => {
        const made = await regulatory(c).supportingDocuments.create({
          friendlyName: 'her passport',
          type: 'passport',
          attributes: { first_name: 'Ada', document_number: 'C01X00T47' },
        });
        assert.match(made.sid, /^RD[0-9a-f]{32}$/i);
        s.sid = made.sid;
      },
      'it is a draft, at first': async () => {
        const read = await regulatory(c).supportingDocuments(s.sid).fetch();
        assert.deepEqual([read.sid, read.friendlyName, read.type, read.status], [s.sid, 'her passport', 'passport', 'draft']);
        recent(read.dateCreated, 'dateCreated');
      },
      'what it says is as given': async () => {
        const read = await regulatory(c).supportingDocuments(s.sid).fetch();
        assert.deepEqual(attributes(read.attributes), { first_name: 'Ada', document_number: 'C01X00T47' });
      },
      'addresses are named in a list': async () => {
        const made = await regulatory(c).supportingDocuments.create({
          friendlyName: 'a bill',
          type: 'utility_bill',
          attributes: { address_sids: [address] },
        });
        s.bill = made.sid;
        const read = await regulatory(c).supportingDocuments(s.bill).fetch();
        assert.deepEqual(attributes(read.attributes), { address_sids: [address] });
      },
      'its name is changed, nothing else': async () => {
        const made = await regulatory(c).supportingDocuments(s.sid).update({ friendlyName: 'her new passport' });
        assert.equal(made.friendlyName, 'her new passport');
        const read = await regulatory(c).supportingDocuments(s.sid).fetch();
        assert.deepEqual([read.friendlyName, read.type, read.status], ['her new passport', 'passport', 'draft']);
        assert.partialDeepStrictEqual(attributes(read.attributes), { document_number: 'C01X00T47' });
      },
      'both are in the list': async () =>
        once(sids(await walk(regulatory(c).supportingDocuments, 1)), [s.sid, s.bill], 'documents'),
      'deleted, and gone': async () => {
        assert.equal(await regulatory(c).supportingDocuments(s.sid).remove(), true);
        await missing(regulatory(c).supportingDocuments(s.sid).fetch());
      },
      'the other is still there': async () => {
        const rows = sids(await walk(regulatory(c).supportingDocuments, 50));
        once(rows, [s.bill], 'documents');
        without(rows, s.sid);
      },
    }),

    'what a bundle holds': (c, s) => ({
      'a bundle, a person, a passport': async () => {
        s.bundle = await bundle(c, 'holding bundle');
        s.person = await person(c, 'Ada');
        s.paper = await paper(c, 'passport of Ada');
      },
      'both are put into it': async () => {
        const items = regulatory(c).bundles(s.bundle).itemAssignments;
        const one = await items.create({ objectSid: s.person });
        assert.match(one.sid, /^BV[0-9a-f]{32}$/i);
        assert.deepEqual([one.bundleSid, one.objectSid], [s.bundle, s.person]);
        s.one = one.sid;
        s.two = (await items.create({ objectSid: s.paper })).sid;
      },
      'one is read': async () => {
        const read = await regulatory(c).bundles(s.bundle).itemAssignments(s.two).fetch();
        assert.deepEqual([read.sid, read.bundleSid, read.objectSid], [s.two, s.bundle, s.paper]);
      },
      'both are listed, through all pages': async () => {
        const rows = await walk(regulatory(c).bundles(s.bundle).itemAssignments, 1);
        once(
          rows.map((row) => `${row.sid} ${row.objectSid}`),
          [`${s.one} ${s.person}`, `${s.two} ${s.paper}`],
          'items',
        );
      },
      'another bundle holds neither': async () => {
        s.other = await bundle(c, 'empty bundle');
        const rows = sids(await walk(regulatory(c).bundles(s.other).itemAssignments, 50));
        without(rows, s.one);
        without(rows, s.two);
        await missing(regulatory(c).bundles(s.other).itemAssignments(s.one).fetch());
      },
      'what it holds already is not put into it again': () =>
        refused(regulatory(c).bundles(s.bundle).itemAssignments.create({ objectSid: s.person }), 400, 409),
      'one is taken out, and gone': async () => {
        assert.equal(await regulatory(c).bundles(s.bundle).itemAssignments(s.one).remove(), true);
        await missing(regulatory(c).bundles(s.bundle).itemAssignments(s.one).fetch());
        const rows = sids(await walk(regulatory(c).bundles(s.bundle).itemAssignments, 50));
        once(rows, [s.two], 'items');
        without(rows, s.one);
      },
      'the person is still there': async () => assert.equal((await regulatory(c).endUsers(s.person).fetch()).friendlyName, 'Ada'),
      'nothing is put into a bundle that is not there': () =>
        missing(regulatory(c).bundles(sid('BU', 'd')).itemAssignments.create({ objectSid: s.person })),
    }),

    'a bundle is evaluated': (c, s) => ({
      'a bundle': async () => {
        s.bundle = await bundle(c, 'evaluated bundle');
      },
      evaluated: async () => {
        const made = await regulatory(c).bundles(s.bundle).evaluations.create();
        assert.match(made.sid, /^EL[0-9a-f]{32}$/i);
        assert.deepEqual([made.bundleSid, made.regulationSid], [s.bundle, regulation]);
        oneOf(made.status, 'compliant', 'noncompliant');
        s.one = made.sid;
        s.status = made.status;
      },
      'with nothing in it, it does not comply': () => Promise.resolve(assert.equal(s.status, 'noncompliant')),
      read: async () => {
        const read = await regulatory(c).bundles(s.bundle).evaluations(s.one).fetch();
        assert.deepEqual([read.sid, read.bundleSid, read.regulationSid, read.status], [s.one, s.bundle, regulation, s.status]);
        assert.ok(Array.isArray(read.results), 'it has no results');
        recent(read.dateCreated, 'dateCreated');
      },
      'evaluated once more, both are listed': async () => {
        s.two = (await regulatory(c).bundles(s.bundle).evaluations.create()).sid;
        const rows = await walk(regulatory(c).bundles(s.bundle).evaluations, 1);
        once(sids(rows), [s.one, s.two], 'evaluations');
        for (const row of rows) assert.equal(row.bundleSid, s.bundle);
      },
      'the bundle is still a draft': async () => assert.equal((await regulatory(c).bundles(s.bundle).fetch()).status, 'draft'),
      'one that is not there is neither read nor evaluated': async () => {
        await missing(regulatory(c).bundles(s.bundle).evaluations(sid('EL', 'd')).fetch());
        await missing(regulatory(c).bundles(sid('BU', 'd')).evaluations.create());
      },
    }),

    'a bundle is submitted': (c, s) => ({
      'a bundle with all that belongs to it': async () => {
        s.bundle = await bundle(c, 'submitted bundle');
        s.person = await person(c, 'Ada, submitted');
        s.paper = await paper(c, 'passport, submitted');
        await regulatory(c).bundles(s.bundle).itemAssignments.create({ objectSid: s.person });
        await regulatory(c).bundles(s.bundle).itemAssignments.create({ objectSid: s.paper });
      },
      'not into a status that there is not': async () => {
        await wrong(
          regulatory(c)
            .bundles(s.bundle)
            .update({ status: 'perfect' as 'draft' }),
        );
        assert.equal((await regulatory(c).bundles(s.bundle).fetch()).status, 'draft');
      },
      'nobody approves it but Twilio': async () => {
        await refused(regulatory(c).bundles(s.bundle).update({ status: 'twilio-approved' }), 400, 403, 409);
        assert.equal((await regulatory(c).bundles(s.bundle).fetch()).status, 'draft');
      },
      submitted: async () => {
        const made = await regulatory(c).bundles(s.bundle).update({ status: 'pending-review' });
        assert.deepEqual([made.sid, made.friendlyName], [s.bundle, 'submitted bundle']);
        oneOf(made.status, 'pending-review', 'in-review');
      },
      'it waits': async () => {
        const read = await regulatory(c).bundles(s.bundle).fetch();
        oneOf(read.status, 'pending-review', 'in-review');
        assert.equal(read.validUntil ?? null, null);
      },
      'it is among those that wait, no more among the drafts': async () => {
        const { status } = await regulatory(c).bundles(s.bundle).fetch();
        once(sids(await walk(regulatory(c).bundles, 50, { status })), [s.bundle], 'bundles');
        without(sids(await walk(regulatory(c).bundles, 50, { status: 'draft' })), s.bundle);
      },
      'it still holds both': async () => {
        const rows = await walk(regulatory(c).bundles(s.bundle).itemAssignments, 50);
        once(
          rows.map((row) => row.objectSid),
          [s.person, s.paper],
          'items',
        );
      },
    }),

    'a bundle is copied': (c, s) => ({
      'a bundle with a person': async () => {
        s.bundle = await bundle(c, 'original bundle');
        s.person = await person(c, 'Ada, copied');
        await regulatory(c).bundles(s.bundle).itemAssignments.create({ objectSid: s.person });
      },
      copied: async () => {
        const made = await regulatory(c).bundles(s.bundle).bundleCopies.create({ friendlyName: 'copied bundle' });
        assert.match(made.sid, /^BU[0-9a-f]{32}$/i);
        assert.notEqual(made.sid, s.bundle);
        assert.deepEqual([made.friendlyName, made.regulationSid, made.status], ['copied bundle', regulation, 'draft']);
        s.copy = made.sid;
      },
      'it is listed as a copy of that bundle': async () => {
        const rows = await walk(regulatory(c).bundles(s.bundle).bundleCopies, 1);
        once(
          rows.map((row) => `${row.sid} ${row.friendlyName}`),
          [`${s.copy} copied bundle`],
          'copies',
        );
      },
      'it is a bundle itself': async () => {
        const read = await regulatory(c).bundles(s.copy).fetch();
        assert.deepEqual([read.friendlyName, read.regulationSid, read.email], ['copied bundle', regulation, email]);
      },
      'what the first holds has been copied': async () => {
        const rows = await walk(regulatory(c).bundles(s.copy).itemAssignments, 50);
        assert.ok(
          rows.some(({ objectSid }) => objectSid.startsWith('IT')),
          'the copy holds no person',
        );
      },
      'the first is as it was': async () => {
        const read = await regulatory(c).bundles(s.bundle).fetch();
        assert.deepEqual([read.friendlyName, read.status], ['original bundle', 'draft']);
        const rows = await walk(regulatory(c).bundles(s.bundle).itemAssignments, 50);
        once(
          rows.map((row) => row.objectSid),
          [s.person],
          'items',
        );
      },
      'the copy is deleted, the first is not': async () => {
        await regulatory(c).bundles(s.copy).remove();
        await missing(regulatory(c).bundles(s.copy).fetch());
        assert.equal((await regulatory(c).bundles(s.bundle).fetch()).sid, s.bundle);
      },
      'no copy of what is not there': () => missing(regulatory(c).bundles(sid('BU', 'd')).bundleCopies.create()),
    }),

    'what a bundle holds is replaced': (c, s) => ({
      'two bundles with a person each': async () => {
        s.old = await bundle(c, 'old bundle');
        s.new = await bundle(c, 'new bundle');
        s.ada = await person(c, 'Ada, replaced');
        s.mary = await person(c, 'Mary, replacing');
        await regulatory(c).bundles(s.old).itemAssignments.create({ objectSid: s.ada });
        await regulatory(c).bundles(s.new).itemAssignments.create({ objectSid: s.mary });
      },
      // The guide replaces only between approved bundles, and nobody can approve one here: either it is refused, or done.
      'replaced, or refused since neither is approved': async () => {
        const call = regulatory(c).bundles(s.old).replaceItems.create({ fromBundleSid: s.new });
        s.done = await call.then(
          (made) => {
            assert.deepEqual([made.sid, made.friendlyName, made.regulationSid], [s.old, 'old bundle', regulation]);
            return 'yes';
          },
          async (thrown: unknown) => {
            await refused(Promise.reject(thrown), 400, 403, 409, 412);
            return 'no';
          },
        );
      },
      'the old one holds whom it should': async () => {
        const rows = await walk(regulatory(c).bundles(s.old).itemAssignments, 50);
        const held = rows.map(({ objectSid }) => objectSid);
        once(held, [s.done === 'yes' ? s.mary : s.ada], 'items');
        without(held, s.done === 'yes' ? s.ada : s.mary);
      },
      'not from a bundle that is not there': () =>
        refused(
          regulatory(c)
            .bundles(s.old)
            .replaceItems.create({ fromBundleSid: sid('BU', 'd') }),
          400,
          404,
        ),
      'not in a bundle that is not there': () =>
        missing(regulatory(c).bundles(sid('BU', 'd')).replaceItems.create({ fromBundleSid: s.new })),
      'not from what is no bundle': () =>
        refused(regulatory(c).bundles(s.old).replaceItems.create({ fromBundleSid: 'not-a-sid' }), 400, 404),
    }),

    'what is asked for where: regulations and kinds': (c) => ({
      'regulations, each once and as it is read': async () => {
        const rows = await walk(regulatory(c).regulations, 50);
        once(sids(rows), [...new Set(sids(rows))], 'regulations');
        const [row] = rows;
        if (row === undefined) return;
        const read = await regulatory(c).regulations(row.sid).fetch();
        assert.deepEqual(
          [read.sid, read.friendlyName, read.isoCountry, read.numberType, read.endUserType],
          [row.sid, row.friendlyName, row.isoCountry, row.numberType, row.endUserType],
        );
      },
      'those of a country': async () => {
        for (const row of await regulatory(c).regulations.list({ isoCountry: 'DE', limit: 50 }))
          assert.equal(row.isoCountry, 'DE');
      },
      'those for mobile numbers of a business': async () => {
        const rows = await regulatory(c).regulations.list({ numberType: 'mobile', endUserType: 'business', limit: 50 });
        for (const row of rows) assert.deepEqual([row.numberType, row.endUserType], ['mobile', 'business']);
      },
      'kinds of end-users, as they are read': async () => {
        const rows = await walk(regulatory(c).endUserTypes, 50);
        once(sids(rows), [...new Set(sids(rows))], 'kinds');
        const [row] = rows;
        if (row === undefined) return;
        const read = await regulatory(c).endUserTypes(row.sid).fetch();
        assert.deepEqual([read.sid, read.machineName, read.friendlyName], [row.sid, row.machineName, row.friendlyName]);
      },
      'kinds of documents, as they are read': async () => {
        const rows = await walk(regulatory(c).supportingDocumentTypes, 50);
        once(sids(rows), [...new Set(sids(rows))], 'kinds');
        const [row] = rows;
        if (row === undefined) return;
        const read = await regulatory(c).supportingDocumentTypes(row.sid).fetch();
        assert.deepEqual([read.sid, read.machineName, read.friendlyName], [row.sid, row.machineName, row.friendlyName]);
      },
      'those that are not there are not read': async () => {
        await missing(regulatory(c).regulations(sid('RN', 'd')).fetch());
        await missing(regulatory(c).endUserTypes(sid('OY', 'd')).fetch());
        await missing(regulatory(c).supportingDocumentTypes(sid('OY', 'd')).fetch());
      },
    }),

    'a number is to be hosted, and then not': (c, s) => ({
      ordered: async () => {
        const made = await c.numbers.v2.hostedNumberOrders.create({
          phoneNumber: '+14155550117',
          friendlyName: 'front desk',
          contactPhoneNumber: '+14155550100',
          contactTitle: 'Head of Telephony',
          addressSid: address,
          email,
          ccEmails: ['legal@example.com', 'it@example.com'],
          smsCapability: true,
          smsUrl: 'https://example.com/sms',
          smsMethod: 'POST',
        });
        assert.match(made.sid, /^HR[0-9a-f]{32}$/i);
        s.sid = made.sid;
      },
      read: async () => {
        const read = await c.numbers.v2.hostedNumberOrders(s.sid).fetch();
        assert.deepEqual(
          [
            read.sid,
            read.phoneNumber,
            read.friendlyName,
            read.addressSid,
            read.email,
            read.contactPhoneNumber,
            read.contactTitle,
          ],
          [s.sid, '+14155550117', 'front desk', address, email, '+14155550100', 'Head of Telephony'],
        );
        assert.match(read.accountSid, /^AC[0-9a-f]{32}$/i);
        recent(read.dateCreated, 'dateCreated');
      },
      'all who are written to': async () => {
        const read = await c.numbers.v2.hostedNumberOrders(s.sid).fetch();
        assert.deepEqual([...given(read.ccEmails, 'ccEmails')].toSorted(), ['it@example.com', 'legal@example.com']);
      },
      'it has been received': async () => assert.equal((await c.numbers.v2.hostedNumberOrders(s.sid).fetch()).status, 'received'),
      'for messages': async () => assert.equal((await c.numbers.v2.hostedNumberOrders(s.sid).fetch()).capabilities?.sms, true),
      'is in the list': async () => once(sids(await walk(c.numbers.v2.hostedNumberOrders, 50)), [s.sid], 'orders'),
      'cancelled, and gone': async () => {
        assert.equal(await c.numbers.v2.hostedNumberOrders(s.sid).remove(), true);
        await missing(c.numbers.v2.hostedNumberOrders(s.sid).fetch());
        without(sids(await walk(c.numbers.v2.hostedNumberOrders, 50)), s.sid);
      },
      'no number that is none': () => wrong(order(c, 'ring me', 'no number')),
      'no order that is not there': async () => {
        await missing(c.numbers.v2.hostedNumberOrders(sid('HR', 'd')).fetch());
        await missing(c.numbers.v2.hostedNumberOrders(sid('HR', 'd')).remove());
        await missing(c.numbers.v2.bulkHostedNumberOrders(sid('BH', 'd')).fetch());
      },
    }),

    'orders that are looked for, through all pages': (c, s) => ({
      'three are made': async () => {
        s.one = await order(c, '+14155550121', 'sales');
        s.two = await order(c, '+14155550122', 'support');
        s.three = await order(c, '+14155550123', 'billing');
      },
      'all of them, each once': async () => {
        const rows = sids(await walk(c.numbers.v2.hostedNumberOrders, 1));
        once(rows, [...new Set(rows), s.one, s.two, s.three], 'orders');
      },
      'one by its number': async () => {
        const rows = await c.numbers.v2.hostedNumberOrders.list({ phoneNumber: '+14155550122', limit: 50 });
        once(sids(rows), [s.two], 'orders');
        for (const row of rows) assert.equal(row.phoneNumber, '+14155550122');
      },
      'one by its name': async () => {
        const rows = sids(await c.numbers.v2.hostedNumberOrders.list({ friendlyName: 'billing', limit: 50 }));
        once(rows, [s.three], 'orders');
        without(rows, s.one);
      },
      'all among those received, none among those completed': async () => {
        const rows = sids(await walk(c.numbers.v2.hostedNumberOrders, 50, { status: 'received' }));
        once(rows, [s.one, s.two, s.three], 'orders');
        without(sids(await walk(c.numbers.v2.hostedNumberOrders, 50, { status: 'completed' })), s.one);
      },
      'for messages, and not': async () => {
        once(sids(await walk(c.numbers.v2.hostedNumberOrders, 50, { smsCapability: true })), [s.one, s.two, s.three], 'orders');
        without(sids(await walk(c.numbers.v2.hostedNumberOrders, 50, { smsCapability: false })), s.one);
      },
    }),

    'a letter of authorization for two numbers': (c, s) => ({
      'three orders': async () => {
        s.one = await order(c, '+14155550131', 'north');
        s.two = await order(c, '+14155550132', 'south');
        s.three = await order(c, '+14155550133', 'east');
      },
      'a letter for two of them': async () => {
        const made = await c.numbers.v2.authorizationDocuments.create({
          addressSid: address,
          email: 'signer@example.com',
          contactPhoneNumber: '+14155550100',
          contactTitle: 'Owner',
          hostedNumberOrderSids: [s.one, s.two],
          ccEmails: ['legal@example.com'],
        });
        assert.match(made.sid, /^PX[0-9a-f]{32}$/i);
        s.letter = made.sid;
      },
      read: async () => {
        const read = await c.numbers.v2.authorizationDocuments(s.letter).fetch();
        assert.deepEqual(
          [read.sid, read.addressSid, read.email, [...given(read.ccEmails, 'ccEmails')]],
          [s.letter, address, 'signer@example.com', ['legal@example.com']],
        );
        oneOf(read.status, 'opened', 'signing');
        recent(read.dateCreated, 'dateCreated');
      },
      'is in the list, by who signs it': async () => {
        const rows = await c.numbers.v2.authorizationDocuments.list({ email: 'signer@example.com', limit: 50 });
        once(sids(rows), [s.letter], 'letters');
        without(sids(await c.numbers.v2.authorizationDocuments.list({ email: 'nobody@example.com', limit: 50 })), s.letter);
      },
      'it is signed by nobody yet': async () =>
        without(sids(await walk(c.numbers.v2.authorizationDocuments, 50, { status: 'signed' })), s.letter),
      'both orders depend on it, the third does not': async () => {
        const rows = await walk(c.numbers.v2.authorizationDocuments(s.letter).dependentHostedNumberOrders, 1);
        once(
          rows.map((row) => `${row.sid} ${row.phoneNumber}`),
          [`${s.one} +14155550131`, `${s.two} +14155550132`],
          'orders',
        );
        without(sids(rows), s.three);
      },
      'the order says so too': async () => {
        const read = await c.numbers.v2.hostedNumberOrders(s.one).fetch();
        assert.equal(read.signingDocumentSid, s.letter);
        assert.equal((await c.numbers.v2.hostedNumberOrders(s.three).fetch()).signingDocumentSid ?? null, null);
      },
      'cancelled: it is gone, or says so': async () => {
        assert.equal(await c.numbers.v2.authorizationDocuments(s.letter).remove(), true);
        const call = c.numbers.v2.authorizationDocuments(s.letter).fetch();
        await call.then(
          (read) => assert.equal(read.status, 'canceled'),
          (thrown: unknown) => missing(Promise.reject(thrown)),
        );
      },
      'no letter that is not there': async () => {
        await missing(c.numbers.v2.authorizationDocuments(sid('PX', 'd')).fetch());
        await missing(c.numbers.v2.authorizationDocuments(sid('PX', 'd')).remove());
      },
    }),

    'a credential that is refused': (c, s, another) => ({
      'a bundle': async () => {
        s.sid = await bundle(c, 'guarded bundle');
      },
      'neither read nor listed by another': async () => {
        const other = another('a-wrong-token');
        await refused(regulatory(other).bundles(s.sid).fetch(), 401, 403);
        await refused(regulatory(other).bundles.list({ limit: 5 }), 401, 403);
      },
      'nothing made, nothing deleted by another': async () => {
        const other = another('a-wrong-token');
        await refused(bundle(other, 'intruder bundle'), 401, 403);
        await refused(regulatory(other).bundles(s.sid).remove(), 401, 403);
      },
      'it is still there, and alone': async () => {
        assert.equal((await regulatory(c).bundles(s.sid).fetch()).friendlyName, 'guarded bundle');
        const rows = await walk(regulatory(c).bundles, 50);
        without(
          rows.map((row) => row.friendlyName),
          'intruder bundle',
        );
      },
    }),

    'wrong requests, and what is not there': (c) => ({
      'no bundle for a regulation that is no SID': () => wrong(bundle(c, 'wrong bundle', 'not-a-sid')),
      'no bundle for an end-user of no kind': () =>
        wrong(
          regulatory(c).bundles.create({
            friendlyName: 'wrong bundle',
            email,
            isoCountry: 'DE',
            numberType: 'local',
            endUserType: 'robot' as 'business',
          }),
        ),
      'none came of it': async () => {
        const rows = await walk(regulatory(c).bundles, 50);
        without(
          rows.map((row) => row.friendlyName),
          'wrong bundle',
        );
      },
      'no page of minus one row': () => wrong(regulatory(c).bundles.page({ pageSize: -1 })),
      'what is not there has Twilio’s own number': async () => {
        const thrown = await missing(regulatory(c).bundles(sid('BU', 'd')).fetch());
        assert.equal((thrown as { code?: unknown }).code, 20404);
      },
      'nor is it changed, nor deleted': async () => {
        await missing(regulatory(c).endUsers(sid('IT', 'd')).update({ friendlyName: 'nobody' }));
        await missing(regulatory(c).supportingDocuments(sid('RD', 'd')).remove());
        await missing(regulatory(c).bundles(sid('BU', 'd')).update({ friendlyName: 'nobody' }));
        await missing(regulatory(c).bundles(sid('BU', 'd')).remove());
      },
    }),
  },
};
