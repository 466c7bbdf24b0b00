import assert from 'node:assert/strict';
import { HttpClientNode } from '@journyio/http';
import { AccountIdentified, APIError, Client, Event, type Result, type Success, UserIdentified } from '@journyio/sdk';
import { given, type Place, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): Client =>
  new Client(new HttpClientNode(5000), { apiKey: token, rootUrl: place.base });

/** The client throws nothing that the service says: a call's result tells whether it went well, and if not, why. */
async function done<T>(call: Promise<Result<T>>): Promise<Success<T>> {
  const result = await call;
  if (!result.success) throw new Error(`not done: ${result.error} (${result.requestId})`);
  assert.ok(given(result.requestId, 'request ID').length > 0, 'an empty request ID');
  return result;
}
async function refused(call: Promise<Result<unknown>>, ...errors: readonly APIError[]): Promise<void> {
  const result = await call;
  assert.equal(result.success, false, 'not refused');
  if (!result.success) assert.ok(errors.includes(result.error), `refused with ${result.error}, not ${errors.join(' or ')}`);
}
const { BadArgumentsError, NotFoundError, UnauthorizedError, UnknownError, Unprocessable } = APIError;

const john = UserIdentified.byUserId('userId');
const acme = AccountIdentified.byAccountId('accountId');
const properties = {
  full_name: 'John Doe',
  first_name: 'John',
  last_name: 'Doe',
  phone: '123',
  registered_at: new Date('2022-03-01T10:00:00.000Z'),
  is_admin: true,
  array_of_values: ['value1', 'value2'],
  key_with_empty_value: '',
  this_property_will_be_deleted: null,
};
const firm = {
  name: 'ACME, Inc',
  mrr: 399,
  plan: 'Pro',
  registered_at: new Date('2022-03-01T10:00:00.000Z'),
  is_paying: true,
  array_of_values: ['value1', 'value2'],
};

/** Guide: developers.journy.io, "Create or update user", "Create or update account", "Track event" and "Rate limits"; the client's README. */
export const vendor: Vendor<Client> = {
  document: 'journy/journy.io.json',
  header: 'x-api-key',
  made: '2b3fbd7d-1bb8-4f6e-9d8b-d1f2a6d6e5c4',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a user': (client) => ({
      'make one by an ID': async () => done(client.upsertUser({ userId: 'userId', properties: { full_name: 'John Doe' } })),
      'by an address': async () => done(client.upsertUser({ email: 'jane@doe.tld', properties: { full_name: 'Jane Doe' } })),
      'by both': async () => done(client.upsertUser({ userId: 'other', email: 'jim@doe.tld' })),
      'change the first': async () => done(client.upsertUser({ userId: 'userId', properties: { full_name: 'John D. Doe' } })),
      'not by what is no address': async () =>
        refused(client.upsertUser({ email: 'john at doe', properties: { full_name: 'John Doe' } }), BadArgumentsError),
      'nor by nothing': async () => assert.rejects(client.upsertUser({}), /User ID or email/),
    }),
    'properties of a user': (client) => ({
      'of each kind': async () => done(client.upsertUser({ userId: 'userId', email: 'john@doe.tld', properties })),
      'a text': async () => done(client.upsertUser({ userId: 'userId', properties: { plan: 'Pro' } })),
      'a time': async () =>
        done(client.upsertUser({ userId: 'userId', properties: { last_login: new Date('2022-04-01T08:30:00.000Z') } })),
      'a list': async () => done(client.upsertUser({ userId: 'userId', properties: { roles: ['owner', 'admin'] } })),
      'none at all': async () => done(client.upsertUser({ userId: 'userId', properties: {} })),
      'one that goes': async () => done(client.upsertUser({ userId: 'userId', properties: { plan: null } })),
    }),
    'an account': (client) => ({
      'make one by an ID': async () => done(client.upsertAccount({ accountId: 'accountId', properties: { name: 'ACME, Inc' } })),
      'by a domain': async () => done(client.upsertAccount({ domain: 'globex.com', properties: { name: 'Globex' } })),
      'by both': async () => done(client.upsertAccount({ accountId: 'initech', domain: 'initech.com' })),
      'change the first': async () => done(client.upsertAccount({ accountId: 'accountId', properties: { plan: 'Enterprise' } })),
      'not by what is no domain': async () =>
        refused(client.upsertAccount({ domain: 'not a domain', properties: { name: 'ACME, Inc' } }), BadArgumentsError),
      'nor by nothing': async () => assert.rejects(client.upsertAccount({}), /Account ID or domain/),
    }),
    'properties of an account': (client) => ({
      'of each kind': async () =>
        done(client.upsertAccount({ accountId: 'accountId', domain: 'acme-inc.com', properties: firm })),
      'a number': async () => done(client.upsertAccount({ accountId: 'accountId', properties: { mrr: 499 } })),
      'whether it pays': async () => done(client.upsertAccount({ accountId: 'accountId', properties: { is_paying: false } })),
      'none at all': async () => done(client.upsertAccount({ accountId: 'accountId', properties: {} })),
    }),
    'members of an account': (client) => ({
      'make the users': async () => {
        await done(client.upsertUser({ userId: 'john', email: 'john@acme-inc.com' }));
        await done(client.upsertUser({ userId: 'jane', email: 'jane@acme-inc.com' }));
      },
      'an account with both': async () =>
        done(client.upsertAccount({ accountId: 'accountId', members: [{ userId: 'john' }, { userId: 'jane' }] })),
      'by their addresses': async () =>
        done(client.upsertAccount({ accountId: 'accountId', members: [{ email: 'john@acme-inc.com' }] })),
      'with its name': async () =>
        done(client.upsertAccount({ accountId: 'accountId', properties: firm, members: [{ userId: 'john' }] })),
      'nobody by nothing': async () =>
        assert.rejects(client.upsertAccount({ accountId: 'accountId', members: [{}] }), /User ID or email/),
    }),
    'events of a user': (client) => ({
      'make the user': async () => done(client.upsertUser({ userId: 'userId', email: 'john@doe.tld' })),
      'one of now': async () => done(client.addEvent(Event.forUser('login', john))),
      'one of long ago': async () =>
        done(client.addEvent(Event.forUser('some_historic_event', john).happenedAt(new Date('2021-01-31T12:00:00.000Z')))),
      'by an address': async () => done(client.addEvent(Event.forUser('login', UserIdentified.byEmail('john@doe.tld')))),
      'not by what is no address': async () =>
        refused(client.addEvent(Event.forUser('login', UserIdentified.byEmail('john at doe'))), BadArgumentsError),
    }),
    'events of an account': (client) => ({
      'make the account': async () => done(client.upsertAccount({ accountId: 'accountId', domain: 'acme-inc.com' })),
      'one with what is known of it': async () => {
        const event = Event.forAccount('reached_monthly_volume', acme);
        await done(client.addEvent(event.withMetadata({ number: 1313, string: 'string', boolean: true })));
      },
      'by a domain': async () =>
        done(client.addEvent(Event.forAccount('reached_monthly_volume', AccountIdentified.byDomain('acme-inc.com')))),
      'of a time': async () =>
        done(client.addEvent(Event.forAccount('paid', acme).happenedAt(new Date('2022-02-28T23:59:59.000Z')))),
      'not by what is no domain': async () =>
        refused(client.addEvent(Event.forAccount('paid', AccountIdentified.byDomain('not a domain'))), BadArgumentsError),
    }),
    'events of a user in an account': (client) => ({
      'make both': async () => {
        await done(client.upsertUser({ userId: 'userId' }));
        await done(client.upsertAccount({ accountId: 'accountId', members: [{ userId: 'userId' }] }));
      },
      one: async () => done(client.addEvent(Event.forUserInAccount('updated_settings', john, acme))),
      'with what is known of it': async () => {
        const event = Event.forUserInAccount('updated_settings', john, acme).withMetadata({ changed: 'language' });
        await done(client.addEvent(event.withMetadata({ at: new Date('2022-03-01T10:00:00.000Z') })));
      },
      'another of the same name': async () => done(client.addEvent(Event.forUserInAccount('updated_settings', john, acme))),
      'none without a name': () => {
        assert.throws(() => Event.forUserInAccount('', john, acme), /name cannot be empty/);
        return Promise.resolve();
      },
    }),
    'what was done on the web': (client) => ({
      'make the user': async () => done(client.upsertUser({ userId: 'userId', email: 'john@doe.tld' })),
      'link it by an ID': async () => done(client.link({ deviceId: 'ad4ff7a1-5b3e-4c1c-8a4b-1b6d4b0f7a11', userId: 'userId' })),
      'by an address': async () => done(client.link({ deviceId: 'ad4ff7a1-5b3e-4c1c-8a4b-1b6d4b0f7a11', email: 'john@doe.tld' })),
      'not by what is no address': async () =>
        refused(client.link({ deviceId: 'ad4ff7a1-5b3e-4c1c-8a4b-1b6d4b0f7a11', email: 'john at doe' }), BadArgumentsError),
      'nor of no device': async () => assert.rejects(client.link({ deviceId: '', userId: 'userId' }), /Device ID/),
    }),
    'a snippet for a website': (client, s) => ({
      get: async () => {
        const { data } = await done(client.getTrackingSnippet({ domain: 'www.journy.io' }));
        s.snippet = given(data.snippet, 'snippet');
        assert.equal(data.domain, 'www.journy.io');
      },
      'it is a text': async () => assert.ok(s.snippet.length > 0, 'an empty snippet'),
      'the same again': async () =>
        assert.equal((await done(client.getTrackingSnippet({ domain: 'www.journy.io' }))).data.snippet, s.snippet),
      'none for what is no domain': async () =>
        refused(client.getTrackingSnippet({ domain: 'not a domain' }), BadArgumentsError, Unprocessable),
      'nor for one that nobody has': async () =>
        refused(client.getTrackingSnippet({ domain: 'nobody-has-this.example.org' }), NotFoundError),
      'nor for none': async () => assert.rejects(client.getTrackingSnippet({ domain: '' }), /Domain cannot be empty/),
    }),
    'what a key may do': (client, s) => ({
      read: async () => {
        const { data } = await done(client.getApiKeyDetails());
        for (const one of data.permissions) assert.equal(typeof one, 'string');
        s.permissions = data.permissions.join();
      },
      'more than nothing': async () => assert.ok(s.permissions.length > 0, 'no permissions'),
      'the same again': async () => assert.equal((await done(client.getApiKeyDetails())).data.permissions.join(), s.permissions),
      'it makes a user': async () => done(client.upsertUser({ userId: 'userId' })),
    }),
    'how many calls are left': (client, s) => ({
      'after one': async () => {
        const { callsRemaining } = await done(client.getApiKeyDetails());
        assert.ok(callsRemaining > 0, `${callsRemaining} are left`);
        s.left = String(callsRemaining);
      },
      'fewer after another': async () => {
        const { callsRemaining } = await done(client.upsertUser({ userId: 'userId' }));
        assert.ok(callsRemaining < Number(s.left), `${callsRemaining} are left, after ${s.left}`);
        s.later = String(callsRemaining);
      },
      'and after a third': async () => {
        const { callsRemaining } = await done(client.addEvent(Event.forUser('login', john)));
        assert.ok(callsRemaining < Number(s.later), `${callsRemaining} are left, after ${s.later}`);
      },
      'told of a snippet too': async () =>
        assert.ok((await done(client.getTrackingSnippet({ domain: 'www.journy.io' }))).callsRemaining > 0, 'none is left'),
    }),
    'each request has an ID': (client, s) => ({
      first: async () => {
        s.first = (await done(client.upsertUser({ userId: 'userId' }))).requestId;
      },
      'another for the same again': async () =>
        assert.notEqual((await done(client.upsertUser({ userId: 'userId' }))).requestId, s.first),
      'for what is read': async () => assert.notEqual((await done(client.getApiKeyDetails())).requestId, s.first),
      'for what is refused': async () => {
        const result = await client.upsertUser({ email: 'john at doe' });
        assert.equal(result.success, false, 'not refused');
        assert.notEqual(given(result.requestId, 'request ID'), s.first);
      },
    }),
    'a service that is not there': (client) => ({
      'no error is thrown': async () => {
        const lost = new Client(new HttpClientNode(5000), { apiKey: 'your-api-key', rootUrl: 'http://127.0.0.1:1' });
        await refused(lost.upsertUser({ userId: 'userId' }), UnknownError);
      },
      'nor where something is read': async () => {
        const lost = new Client(new HttpClientNode(5000), { apiKey: 'your-api-key', rootUrl: 'http://127.0.0.1:1' });
        await refused(lost.getTrackingSnippet({ domain: 'www.journy.io' }), UnknownError);
      },
      'the one that is goes on': async () => done(client.upsertUser({ userId: 'userId' })),
      'not made by what is no address': () => {
        assert.throws(
          () => new Client(new HttpClientNode(5000), { apiKey: 'your-api-key', rootUrl: 'nowhere' }),
          /not a valid URL/,
        );
        return Promise.resolve();
      },
    }),
    'a key that is refused': (_client, _s, another) => ({
      'its details': async () => refused(another('not-a-key').getApiKeyDetails(), UnauthorizedError),
      'a user': async () => refused(another('not-a-key').upsertUser({ userId: 'userId' }), UnauthorizedError),
      'an account': async () => refused(another('not-a-key').upsertAccount({ accountId: 'accountId' }), UnauthorizedError),
      'an event': async () => refused(another('not-a-key').addEvent(Event.forUser('login', john)), UnauthorizedError),
      'a snippet': async () => refused(another('not-a-key').getTrackingSnippet({ domain: 'www.journy.io' }), UnauthorizedError),
      'a device': async () =>
        refused(
          another('not-a-key').link({ deviceId: 'ad4ff7a1-5b3e-4c1c-8a4b-1b6d4b0f7a11', userId: 'userId' }),
          UnauthorizedError,
        ),
    }),
  },
};
