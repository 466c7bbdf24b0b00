import assert from 'node:assert/strict';
import { auth, walletobjects, type walletobjects_v1 } from '@googleapis/walletobjects';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

type Wallet = walletobjects_v1.Walletobjects;

const connect = (place: Place, token: string): Wallet => {
  const caller = new auth.OAuth2();
  caller.setCredentials({ access_token: token });
  return walletobjects({ version: 'v1', auth: caller, rootUrl: `${place.url}/`, retry: false });
};

/** The issuer's own number, which Google gives, and which every id begins with. */
const issuerId = '3388000000022195611';
const id = (name: string): string => `${issuerId}.${name}`;
const missing = id('no-such-thing');
const image = { sourceUri: { uri: 'https://example.com/logo.png' } };
const text = (value: string) => ({ defaultValue: { language: 'en-US', value } });

interface Row {
  readonly id?: string | null;
}
interface Listed<R extends Row> {
  readonly resources?: R[];
  readonly pagination?: { readonly nextPageToken?: string | null };
}
const ids = (rows: readonly Row[] | undefined): string[] => given(rows, 'resources').map((row) => given(row.id, 'id'));
/** Page after page, as the token of each leads. */
const walk = async <R extends Row>(ask: (token: string | undefined) => Promise<{ data: Listed<R> }>): Promise<string[]> =>
  ids(
    await pages(
      async (token) => (await ask(token)).data,
      ({ resources }) => resources ?? [],
      ({ pagination }) => pagination?.nextPageToken || undefined,
    ),
  );

const loyaltyClass = (name: string) => ({
  id: id(name),
  issuerName: 'Google',
  programName: 'Rewards',
  programLogo: image,
  reviewStatus: 'UNDER_REVIEW',
});
const loyaltyObject = (name: string, of: string) => ({
  id: id(name),
  classId: id(of),
  state: 'ACTIVE',
  accountId: '1234567890',
  accountName: 'John Smith',
  loyaltyPoints: { label: 'Points', balance: { int: 10 } },
});
const offerClass = (name: string) => ({
  id: id(name),
  issuerName: 'Google',
  title: '20% off any shirt',
  provider: 'Adam’s Apparel',
  redemptionChannel: 'INSTORE',
  reviewStatus: 'UNDER_REVIEW',
});

/** A programme and a card of it. */
const card = async (wallet: Wallet, s: State, name = 'card'): Promise<void> => {
  await wallet.loyaltyclass.insert({ requestBody: loyaltyClass('rewards') });
  s.id = given((await wallet.loyaltyobject.insert({ requestBody: loyaltyObject(name, 'rewards') })).data.id, 'id');
};

/** Guide: developers.google.com/wallet ("Loyalty cards", "Offers", "Gift cards", "Event tickets", "Boarding passes", "Transit passes", "Generic pass"; "API error responses") and its REST reference. */
export const vendor: Vendor<Wallet> = {
  document: 'google-wallet/pay-passes.json',
  header: 'authorization',
  word: 'Bearer',
  made: 'ya29.a-made-up-access-token',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a programme, from its first day': (wallet, s) => ({
      made: async () => {
        const { data } = await wallet.loyaltyclass.insert({ requestBody: loyaltyClass('rewards') });
        assert.deepEqual([data.id, data.issuerName, data.programName], [id('rewards'), 'Google', 'Rewards']);
        s.id = given(data.id, 'id');
      },
      read: async () => {
        const { data } = await wallet.loyaltyclass.get({ resourceId: s.id });
        assert.deepEqual([data.id, data.programName], [s.id, 'Rewards']);
        assert.equal(data.programLogo?.sourceUri?.uri, 'https://example.com/logo.png');
      },
      'called something else': async () => {
        const { data } = await wallet.loyaltyclass.patch({ resourceId: s.id, requestBody: { programName: 'More rewards' } });
        assert.deepEqual([data.id, data.programName], [s.id, 'More rewards']);
      },
      'the rest of it as before': async () => {
        const { data } = await wallet.loyaltyclass.get({ resourceId: s.id });
        assert.deepEqual([data.programName, data.issuerName], ['More rewards', 'Google']);
      },
      'put anew': async () => {
        const requestBody = { ...loyaltyClass('rewards'), programName: 'Most rewards', hexBackgroundColor: '#ffcc00' };
        const { data } = await wallet.loyaltyclass.update({ resourceId: s.id, requestBody });
        assert.deepEqual([data.id, data.programName, data.hexBackgroundColor], [s.id, 'Most rewards', '#ffcc00']);
      },
      'is in the list of its issuer': async () =>
        once(ids((await wallet.loyaltyclass.list({ issuerId })).data.resources), [s.id], 'classes'),
    }),

    'a card of a programme': (wallet, s) => ({
      'both are made': async () => {
        await card(wallet, s);
        assert.equal(s.id, id('card'));
      },
      'whose it is, and of what': async () => {
        const { data } = await wallet.loyaltyobject.get({ resourceId: s.id });
        assert.deepEqual([data.id, data.classId, data.accountName, data.state], [s.id, id('rewards'), 'John Smith', 'ACTIVE']);
      },
      'with what it has of the programme': async () => {
        const { data } = await wallet.loyaltyobject.get({ resourceId: s.id });
        assert.deepEqual([data.classReference?.id, data.classReference?.programName], [id('rewards'), 'Rewards']);
      },
      'more points': async () => {
        const requestBody = { loyaltyPoints: { label: 'Points', balance: { int: 25 } } };
        assert.equal((await wallet.loyaltyobject.patch({ resourceId: s.id, requestBody })).data.loyaltyPoints?.balance?.int, 25);
      },
      'run out': async () => {
        assert.equal(
          (await wallet.loyaltyobject.patch({ resourceId: s.id, requestBody: { state: 'EXPIRED' } })).data.state,
          'EXPIRED',
        );
      },
      'read so': async () => {
        const { data } = await wallet.loyaltyobject.get({ resourceId: s.id });
        assert.deepEqual([data.state, data.loyaltyPoints?.balance?.int, data.accountId], ['EXPIRED', 25, '1234567890']);
      },
    }),

    'programmes through all pages': (wallet, s) => ({
      'five are made': async () => {
        const made: string[] = [];
        for (let n = 1; n <= 5; n += 1)
          made.push(given((await wallet.loyaltyclass.insert({ requestBody: loyaltyClass(`rewards-${n}`) })).data.id, 'id'));
        s.ids = made.join(',');
      },
      'all at once': async () =>
        once(ids((await wallet.loyaltyclass.list({ issuerId })).data.resources), s.ids.split(','), 'classes'),
      'two on a page, and a token': async () => {
        const { data } = await wallet.loyaltyclass.list({ issuerId, maxResults: 2 });
        assert.deepEqual([data.resources?.length, data.pagination?.resultsPerPage], [2, 2]);
        assert.ok(given(data.pagination?.nextPageToken, 'token').length > 0, 'empty');
      },
      'others on the next': async () => {
        const first = (await wallet.loyaltyclass.list({ issuerId, maxResults: 2 })).data;
        const token = given(first.pagination?.nextPageToken, 'token');
        const second = (await wallet.loyaltyclass.list({ issuerId, maxResults: 2, token })).data;
        for (const one of ids(second.resources)) assert.ok(!ids(first.resources).includes(one), one);
      },
      'page after page': async () =>
        once(
          await walk((token) => wallet.loyaltyclass.list({ issuerId, maxResults: 2, ...(token ? { token } : {}) })),
          s.ids.split(','),
          'pages',
        ),
    }),

    'cards of one programme and of another': (wallet, s) => ({
      'two programmes': async () => {
        await wallet.loyaltyclass.insert({ requestBody: loyaltyClass('silver') });
        await wallet.loyaltyclass.insert({ requestBody: loyaltyClass('gold') });
      },
      'three cards': async () => {
        for (const [name, of] of [
          ['card-1', 'silver'],
          ['card-2', 'silver'],
          ['card-3', 'gold'],
        ] as const)
          s[name] = given((await wallet.loyaltyobject.insert({ requestBody: loyaltyObject(name, of) })).data.id, 'id');
      },
      'those of the one': async () => {
        const { data } = await wallet.loyaltyobject.list({ classId: id('silver') });
        assert.deepEqual(ids(data.resources).sort(), [s['card-1'], s['card-2']]);
        for (const { classId } of data.resources ?? []) assert.equal(classId, id('silver'));
      },
      'that of the other': async () =>
        assert.deepEqual(ids((await wallet.loyaltyobject.list({ classId: id('gold') })).data.resources), [s['card-3']]),
      'one on a page, page after page': async () => {
        const found = await walk((token) =>
          wallet.loyaltyobject.list({ classId: id('silver'), maxResults: 1, ...(token ? { token } : {}) }),
        );
        assert.deepEqual(found.sort(), [s['card-1'], s['card-2']]);
      },
    }),

    'a message to those who have a card': (wallet, s) => ({
      'a card': () => card(wallet, s),
      'a message to all of the programme': async () => {
        const message = { id: 'm1', header: 'Welcome', body: 'You are in' };
        const { data } = await wallet.loyaltyclass.addmessage({ resourceId: id('rewards'), requestBody: { message } });
        assert.equal(data.resource?.id, id('rewards'));
        assert.deepEqual(
          data.resource?.messages?.map(({ header, body }) => [header, body]),
          [['Welcome', 'You are in']],
        );
      },
      'a second one': async () => {
        const message = { id: 'm2', header: 'Sale', body: 'Today' };
        await wallet.loyaltyclass.addmessage({ resourceId: id('rewards'), requestBody: { message } });
      },
      'both are there': async () => {
        const { data } = await wallet.loyaltyclass.get({ resourceId: id('rewards') });
        once(
          given(data.messages, 'messages').map(({ header }) => String(header)),
          ['Welcome', 'Sale'],
          'messages',
        );
        assert.equal(data.programName, 'Rewards');
      },
      'one to a single card': async () => {
        const message = { id: 'm3', header: 'Birthday', body: 'Yours' };
        const { data } = await wallet.loyaltyobject.addmessage({ resourceId: s.id, requestBody: { message } });
        assert.equal(data.resource?.id, s.id);
        assert.ok(
          data.resource?.messages?.some(({ header }) => header === 'Birthday'),
          'it is not there',
        );
      },
      'none to a card that is not there': () =>
        refused(
          wallet.loyaltyobject.addmessage({ resourceId: missing, requestBody: { message: { header: 'Who', body: 'Nobody' } } }),
          404,
        ),
    }),

    'an offer that is taken': (wallet, s) => ({
      'an offer': async () => {
        const { data } = await wallet.offerclass.insert({ requestBody: offerClass('shirts') });
        assert.deepEqual([data.id, data.title, data.redemptionChannel], [id('shirts'), '20% off any shirt', 'INSTORE']);
      },
      'for somebody': async () => {
        const requestBody = { id: id('shirt-1'), classId: id('shirts'), state: 'ACTIVE' };
        const { data } = await wallet.offerobject.insert({ requestBody });
        assert.deepEqual([data.id, data.classId, data.state], [id('shirt-1'), id('shirts'), 'ACTIVE']);
        s.id = given(data.id, 'id');
      },
      'among those of that offer': async () =>
        once(ids((await wallet.offerobject.list({ classId: id('shirts') })).data.resources), [s.id], 'offers'),
      taken: async () => {
        const { data } = await wallet.offerobject.patch({ resourceId: s.id, requestBody: { state: 'COMPLETED' } });
        assert.deepEqual([data.id, data.state], [s.id, 'COMPLETED']);
      },
      'read so': async () => {
        const { data } = await wallet.offerobject.get({ resourceId: s.id });
        assert.deepEqual([data.state, data.classId], ['COMPLETED', id('shirts')]);
      },
    }),

    'offers on a card': (wallet, s) => ({
      'a card, and two offers': async () => {
        await card(wallet, s);
        await wallet.offerclass.insert({ requestBody: offerClass('shirts') });
        for (const name of ['shirt-1', 'shirt-2'])
          await wallet.offerobject.insert({ requestBody: { id: id(name), classId: id('shirts'), state: 'ACTIVE' } });
      },
      'linked to it': async () => {
        const requestBody = { linkedOfferObjectIds: { addLinkedOfferObjectIds: [id('shirt-1'), id('shirt-2')] } };
        const { data } = await wallet.loyaltyobject.modifylinkedofferobjects({ resourceId: s.id, requestBody });
        assert.equal(data.id, s.id);
      },
      'they are on it': async () => {
        const { data } = await wallet.loyaltyobject.get({ resourceId: s.id });
        once(given(data.linkedOfferIds, 'linked offers'), [id('shirt-1'), id('shirt-2')], 'offers');
      },
      'one taken off': async () => {
        const requestBody = { linkedOfferObjectIds: { removeLinkedOfferObjectIds: [id('shirt-1')] } };
        await wallet.loyaltyobject.modifylinkedofferobjects({ resourceId: s.id, requestBody });
        const { data } = await wallet.loyaltyobject.get({ resourceId: s.id });
        assert.deepEqual(data.linkedOfferIds, [id('shirt-2')]);
      },
      'it is an offer all the same': async () =>
        assert.equal((await wallet.offerobject.get({ resourceId: id('shirt-1') })).data.id, id('shirt-1')),
    }),

    'a ticket to an event': (wallet, s) => ({
      'the event': async () => {
        const requestBody = {
          id: id('concert'),
          issuerName: 'Google',
          eventName: text('Concert'),
          venue: { name: text('Hall'), address: text('1 High Street') },
          dateTime: { start: '2027-03-05T20:00:00Z', doorsOpen: '2027-03-05T19:00:00Z' },
          reviewStatus: 'UNDER_REVIEW',
        };
        const { data } = await wallet.eventticketclass.insert({ requestBody });
        assert.deepEqual([data.id, data.eventName?.defaultValue?.value], [id('concert'), 'Concert']);
      },
      'a ticket': async () => {
        const requestBody = {
          id: id('seat-1'),
          classId: id('concert'),
          state: 'ACTIVE',
          ticketHolderName: 'John Smith',
          ticketNumber: 'T-1',
          seatInfo: { row: text('B'), seat: text('12') },
        };
        const { data } = await wallet.eventticketobject.insert({ requestBody });
        assert.deepEqual([data.ticketHolderName, data.ticketNumber], ['John Smith', 'T-1']);
        s.id = given(data.id, 'id');
      },
      'its seat': async () => {
        const { data } = await wallet.eventticketobject.get({ resourceId: s.id });
        assert.deepEqual([data.seatInfo?.row?.defaultValue?.value, data.seatInfo?.seat?.defaultValue?.value], ['B', '12']);
      },
      'for somebody else': async () => {
        const requestBody = {
          id: s.id,
          classId: id('concert'),
          state: 'ACTIVE',
          ticketHolderName: 'Jo Smith',
          ticketNumber: 'T-1',
        };
        const { data } = await wallet.eventticketobject.update({ resourceId: s.id, requestBody });
        assert.deepEqual([data.id, data.ticketHolderName], [s.id, 'Jo Smith']);
      },
      'among those of the event': async () => {
        const { data } = await wallet.eventticketobject.list({ classId: id('concert') });
        once(ids(data.resources), [s.id], 'tickets');
        assert.equal(data.resources?.find((row) => row.id === s.id)?.ticketHolderName, 'Jo Smith');
      },
    }),

    'a gift card, and what is left on it': (wallet, s) => ({
      'the kind of it': async () => {
        const requestBody = { id: id('gift'), issuerName: 'Google', merchantName: 'Adam', reviewStatus: 'UNDER_REVIEW' };
        assert.equal((await wallet.giftcardclass.insert({ requestBody })).data.merchantName, 'Adam');
      },
      one: async () => {
        const requestBody = {
          id: id('gift-1'),
          classId: id('gift'),
          state: 'ACTIVE',
          cardNumber: '5556667777',
          pin: '1234',
          balance: { micros: '20000000', currencyCode: 'USD' },
        };
        const { data } = await wallet.giftcardobject.insert({ requestBody });
        assert.deepEqual([data.cardNumber, data.balance?.micros, data.balance?.currencyCode], ['5556667777', '20000000', 'USD']);
        s.id = given(data.id, 'id');
      },
      'some is spent': async () => {
        const requestBody = { balance: { micros: '12500000', currencyCode: 'USD' } };
        assert.equal((await wallet.giftcardobject.patch({ resourceId: s.id, requestBody })).data.balance?.micros, '12500000');
      },
      'read so': async () => {
        const { data } = await wallet.giftcardobject.get({ resourceId: s.id });
        assert.deepEqual([data.balance?.micros, data.cardNumber, data.pin], ['12500000', '5556667777', '1234']);
      },
      'of its kind': async () =>
        once(ids((await wallet.giftcardobject.list({ classId: id('gift') })).data.resources), [s.id], 'cards'),
    }),

    'a flight that is late': (wallet, s) => ({
      'the flight': async () => {
        const requestBody = {
          id: id('flight'),
          issuerName: 'Google',
          flightHeader: { carrier: { carrierIataCode: 'LX' }, flightNumber: '123' },
          origin: { airportIataCode: 'LAX', terminal: '1' },
          destination: { airportIataCode: 'SFO', terminal: '2' },
          localScheduledDepartureDateTime: '2027-07-02T15:30:00',
          reviewStatus: 'UNDER_REVIEW',
        };
        const { data } = await wallet.flightclass.insert({ requestBody });
        assert.deepEqual([data.origin?.airportIataCode, data.destination?.airportIataCode], ['LAX', 'SFO']);
      },
      'somebody on it': async () => {
        const requestBody = {
          id: id('seat-7a'),
          classId: id('flight'),
          state: 'ACTIVE',
          passengerName: 'Dave M Gahan',
          reservationInfo: { confirmationCode: '42aQw' },
          boardingAndSeatingInfo: { seatNumber: '7A' },
        };
        const { data } = await wallet.flightobject.insert({ requestBody });
        assert.deepEqual([data.passengerName, data.reservationInfo?.confirmationCode], ['Dave M Gahan', '42aQw']);
        s.id = given(data.id, 'id');
      },
      'late, and from another gate': async () => {
        const requestBody = {
          localEstimatedOrActualDepartureDateTime: '2027-07-02T16:45:00',
          origin: { airportIataCode: 'LAX', terminal: '1', gate: 'A2' },
        };
        const { data } = await wallet.flightclass.patch({ resourceId: id('flight'), requestBody });
        assert.deepEqual([data.localEstimatedOrActualDepartureDateTime, data.origin?.gate], ['2027-07-02T16:45:00', 'A2']);
      },
      'it was to leave when it was': async () => {
        const { data } = await wallet.flightclass.get({ resourceId: id('flight') });
        assert.deepEqual([data.localScheduledDepartureDateTime, data.flightHeader?.flightNumber], ['2027-07-02T15:30:00', '123']);
      },
      'who is on it': async () => {
        const { data } = await wallet.flightobject.list({ classId: id('flight') });
        once(ids(data.resources), [s.id], 'passengers');
      },
    }),

    'a ticket for a bus': (wallet, s) => ({
      'the line': async () => {
        const requestBody = {
          id: id('bus'),
          issuerName: 'Google',
          transitType: 'BUS',
          logo: image,
          reviewStatus: 'UNDER_REVIEW',
        };
        const { data } = await wallet.transitclass.insert({ requestBody });
        assert.deepEqual([data.id, data.transitType], [id('bus'), 'BUS']);
      },
      'is in the list of its issuer': async () =>
        once(ids((await wallet.transitclass.list({ issuerId })).data.resources), [id('bus')], 'lines'),
      'a ticket': async () => {
        const requestBody = {
          id: id('bus-1'),
          classId: id('bus'),
          state: 'ACTIVE',
          tripType: 'ONE_WAY',
          passengerType: 'SINGLE_PASSENGER',
          passengerNames: 'John Smith',
        };
        const { data } = await wallet.transitobject.insert({ requestBody });
        assert.deepEqual([data.tripType, data.passengerNames], ['ONE_WAY', 'John Smith']);
        s.id = given(data.id, 'id');
      },
      used: async () =>
        assert.equal(
          (await wallet.transitobject.patch({ resourceId: s.id, requestBody: { state: 'COMPLETED' } })).data.state,
          'COMPLETED',
        ),
      'whose line it was': async () => {
        const { data } = await wallet.transitobject.get({ resourceId: s.id });
        assert.deepEqual([data.state, data.classId, data.tripType], ['COMPLETED', id('bus'), 'ONE_WAY']);
      },
    }),

    'a pass for anything': (wallet, s) => ({
      'the kind of it': async () =>
        assert.equal((await wallet.genericclass.insert({ requestBody: { id: id('gym') } })).data.id, id('gym')),
      one: async () => {
        const requestBody = {
          id: id('gym-1'),
          classId: id('gym'),
          genericType: 'GENERIC_GYM_MEMBERSHIP',
          cardTitle: text('Gym'),
          header: text('Membership'),
          hexBackgroundColor: '#4285f4',
          barcode: { type: 'QR_CODE', value: 'BARCODE_VALUE' },
          state: 'ACTIVE',
        };
        const { data } = await wallet.genericobject.insert({ requestBody });
        assert.deepEqual([data.id, data.genericType, data.state], [id('gym-1'), 'GENERIC_GYM_MEMBERSHIP', 'ACTIVE']);
        s.id = given(data.id, 'id');
      },
      'what is on it': async () => {
        const { data } = await wallet.genericobject.get({ resourceId: s.id });
        assert.deepEqual(
          [data.header?.defaultValue?.value, data.barcode?.type, data.barcode?.value],
          ['Membership', 'QR_CODE', 'BARCODE_VALUE'],
        );
      },
      'another heading': async () => {
        const { data } = await wallet.genericobject.patch({ resourceId: s.id, requestBody: { header: text('Gold membership') } });
        assert.equal(data.header?.defaultValue?.value, 'Gold membership');
        assert.equal(data.cardTitle?.defaultValue?.value, 'Gym');
      },
      'of its kind': async () =>
        assert.deepEqual(ids((await wallet.genericobject.list({ classId: id('gym') })).data.resources), [s.id]),
    }),

    'an issuer': (wallet, s) => ({
      made: async () => {
        const requestBody = { name: 'Adam’s Apparel', contactInfo: { name: 'Adam', email: 'adam@example.com' } };
        const { data } = await wallet.issuer.insert({ requestBody });
        assert.deepEqual([data.name, data.contactInfo?.email], ['Adam’s Apparel', 'adam@example.com']);
        s.id = given(data.issuerId, 'issuerId');
        assert.match(s.id, /^\d+$/);
      },
      read: async () => {
        const { data } = await wallet.issuer.get({ resourceId: s.id });
        assert.deepEqual([data.issuerId, data.name], [s.id, 'Adam’s Apparel']);
      },
      'with a page of its own': async () => {
        const { data } = await wallet.issuer.patch({ resourceId: s.id, requestBody: { homepageUrl: 'https://example.com' } });
        assert.deepEqual([data.issuerId, data.homepageUrl, data.name], [s.id, 'https://example.com', 'Adam’s Apparel']);
      },
      'put anew': async () => {
        const requestBody = { issuerId: s.id, name: 'Eve’s Apparel' };
        assert.equal((await wallet.issuer.update({ resourceId: s.id, requestBody })).data.name, 'Eve’s Apparel');
      },
      'is in the list': async () => {
        const { data } = await wallet.issuer.list();
        once(
          given(data.resources, 'resources').map((one) => given(one.issuerId, 'issuerId')),
          [s.id],
          'issuers',
        );
      },
    }),

    'who may do what for an issuer': (wallet, s) => ({
      'an issuer': async () => {
        s.id = given((await wallet.issuer.insert({ requestBody: { name: 'Adam’s Apparel' } })).data.issuerId, 'issuerId');
      },
      'two may': async () => {
        const permissions = [
          { emailAddress: 'adam@example.com', role: 'OWNER' },
          { emailAddress: 'eve@example.com', role: 'READER' },
        ];
        const { data } = await wallet.permissions.update({ resourceId: s.id, requestBody: { issuerId: s.id, permissions } });
        assert.equal(data.issuerId, s.id);
        assert.equal(data.permissions?.length, 2);
      },
      'read so': async () => {
        const { data } = await wallet.permissions.get({ resourceId: s.id });
        assert.deepEqual(data.permissions?.map(({ emailAddress, role }) => `${emailAddress} ${role}`).sort(), [
          'adam@example.com OWNER',
          'eve@example.com READER',
        ]);
      },
      'one no longer': async () => {
        const permissions = [{ emailAddress: 'adam@example.com', role: 'OWNER' }];
        await wallet.permissions.update({ resourceId: s.id, requestBody: { issuerId: s.id, permissions } });
        const { data } = await wallet.permissions.get({ resourceId: s.id });
        assert.deepEqual(
          data.permissions?.map(({ emailAddress }) => emailAddress),
          ['adam@example.com'],
        );
      },
    }),

    'a token that is refused': (wallet, _s, another) => ({
      'the right one is taken': async () => {
        await wallet.issuer.list();
      },
      'a wrong one is not, for a list': () => refused(another('ya29.wrong').loyaltyclass.list({ issuerId }), 401),
      'nor for a programme': () =>
        refused(another('ya29.wrong').loyaltyclass.insert({ requestBody: loyaltyClass('stolen') }), 401),
      'nor to read': () => refused(another('ya29.wrong').genericobject.get({ resourceId: missing }), 401),
    }),

    'what is not there, and what is not right': (wallet) => ({
      'no such card': () => refused(wallet.loyaltyobject.get({ resourceId: missing }), 404),
      'no such programme': () => refused(wallet.loyaltyclass.get({ resourceId: missing }), 404),
      'none to change': () => refused(wallet.offerclass.patch({ resourceId: missing, requestBody: { title: 'Lost' } }), 404),
      'one of that name is enough': async () => {
        await wallet.genericclass.insert({ requestBody: { id: id('gym') } });
        await refused(wallet.genericclass.insert({ requestBody: { id: id('gym') } }), 409);
      },
      'a state is one that there is': async () => {
        await wallet.loyaltyclass.insert({ requestBody: loyaltyClass('rewards') });
        await refused(wallet.loyaltyobject.insert({ requestBody: { ...loyaltyObject('card', 'rewards'), state: 'LOST' } }), 400);
      },
      'a name is a text': () =>
        refused(wallet.loyaltyclass.insert({ requestBody: { ...loyaltyClass('others'), programName: { a: 1 } as never } }), 400),
    }),
  },
};
