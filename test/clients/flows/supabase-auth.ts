import assert from 'node:assert/strict';
import { AuthClient, type User } from '@supabase/auth-js';
import { given, numbered, once, type Place, refused, type Vendor } from '../kit.ts';

/** The client exports its class as a value alone. */
type Auth = InstanceType<typeof AuthClient>;

interface Supabase {
  readonly auth: Auth;
  readonly admin: Auth['admin'];
}

/** The project's key, sent in a header of its own beside the caller's token. */
const key = (place: Place): string => place.printed.find(({ name }) => name === 'apikey')?.value ?? 'anon';

const connect = (place: Place, token: string): Supabase => {
  const options = { url: place.base, autoRefreshToken: false, persistSession: false };
  const auth = new AuthClient({ ...options, headers: { apikey: key(place) } });
  const admin = new AuthClient({ ...options, headers: { apikey: key(place), Authorization: `Bearer ${token}` } }).admin;
  return { auth, admin };
};

/** The data of an answer, or its error thrown: this client gives both back. */
const ok = async <Answer extends { data: unknown; error: unknown }>(
  call: Promise<Answer>,
): Promise<Extract<Answer, { error: null }>['data']> => {
  const { data, error } = await call;
  if (error !== null && error !== undefined) throw error;
  return data;
};

const password = 'a long pass phrase 7';

const person = async ({ auth }: Supabase, name: string): Promise<User> =>
  given((await ok(auth.signUp({ email: `${name}@example.com`, password }))).user, 'user');

const nobody = 'd0c1b2a3-0000-4000-8000-000000000000';

/** Guide: supabase.com/docs, "Auth", and the JavaScript reference of `auth` and `auth.admin`. */
export const vendor: Vendor<Supabase> = {
  document: 'supabase-auth/openapi.yaml',
  header: 'Authorization',
  word: 'Bearer',
  also: ['apikey'],
  made: 'service-role',
  client: connect,
  flows: {
    'a user signs up and in': ({ auth }) => ({
      'sign up': async () => {
        const { user } = await ok(auth.signUp({ email: 'ada@example.com', password, options: { data: { nick: 'ada' } } }));
        assert.equal(user?.email, 'ada@example.com');
      },
      'sign in': async () => {
        const { user, session } = await ok(auth.signInWithPassword({ email: 'ada@example.com', password }));
        assert.equal(user?.email, 'ada@example.com');
        assert.ok(given(session, 'session').access_token.length > 0);
      },
      'read myself': async () => assert.equal((await ok(auth.getUser())).user.email, 'ada@example.com'),
    }),
    'a user changes what is known of him': ({ auth }) => ({
      'sign up': async () => {
        await ok(auth.signUp({ email: 'grace@example.com', password }));
      },
      'sign in': async () => {
        await ok(auth.signInWithPassword({ email: 'grace@example.com', password }));
      },
      change: async () =>
        assert.deepEqual((await ok(auth.updateUser({ data: { nick: 'amazing' } }))).user.user_metadata.nick, 'amazing'),
      'read it': async () => assert.deepEqual((await ok(auth.getUser())).user.user_metadata.nick, 'amazing'),
    }),
    'a session is refreshed and ended': ({ auth }, s) => ({
      'sign up': async () => {
        await ok(auth.signUp({ email: 'alan@example.com', password }));
      },
      'sign in': async () => {
        const { session } = await ok(auth.signInWithPassword({ email: 'alan@example.com', password }));
        s.refresh = given(session, 'session').refresh_token;
      },
      refresh: async () => {
        const { session, user } = await ok(auth.refreshSession({ refresh_token: s.refresh }));
        assert.equal(user?.email, 'alan@example.com');
        assert.ok(given(session, 'session').access_token.length > 0);
      },
      'sign out': async () => {
        const { error } = await auth.signOut({ scope: 'global' });
        assert.equal(error, null);
      },
      'nobody is signed in': async () => assert.equal((await ok(auth.getSession())).session, null),
    }),
    'users are read, changed and deleted by an administrator': (supabase, s) => ({
      'a user signs up': async () => {
        s.id = (await person(supabase, 'edsger')).id;
      },
      read: async () => assert.equal((await ok(supabase.admin.getUserById(s.id))).user?.email, 'edsger@example.com'),
      change: async () => {
        const { user } = await ok(
          supabase.admin.updateUserById(s.id, { email: 'ewd@example.com', user_metadata: { nick: 'ewd' } }),
        );
        assert.equal(user.email, 'ewd@example.com');
      },
      'read the change': async () => assert.equal((await ok(supabase.admin.getUserById(s.id))).user?.email, 'ewd@example.com'),
      delete: async () => {
        await ok(supabase.admin.deleteUser(s.id));
      },
      gone: async () => refused(ok(supabase.admin.getUserById(s.id)), 404),
    }),
    'users through all pages': (supabase, s) => ({
      'five sign up': async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = (await person(supabase, `user${n}`)).id;
      },
      'walk pages of two': async () => {
        const users = await numbered(async (page) => (await ok(supabase.admin.listUsers({ page, perPage: 2 }))).users);
        once(
          users.map(({ id }) => id),
          [s.id1, s.id2, s.id3, s.id4, s.id5],
        );
      },
      'a page holds what was asked for': async () =>
        assert.equal((await ok(supabase.admin.listUsers({ page: 1, perPage: 2 }))).users.length, 2),
    }),
    'a user is invited': ({ admin }, s) => ({
      invite: async () => {
        const { user } = await ok(admin.inviteUserByEmail('guest@example.com', { data: { from: 'ada' } }));
        assert.equal(user?.email, 'guest@example.com');
        s.id = given(user, 'user').id;
      },
      'the user is there': async () => assert.equal((await ok(admin.getUserById(s.id))).user?.email, 'guest@example.com'),
    }),
    'a link is made for a user': (supabase) => ({
      'a user signs up': async () => {
        await person(supabase, 'linked');
      },
      'make it': async () => {
        const { properties } = await ok(supabase.admin.generateLink({ type: 'magiclink', email: 'linked@example.com' }));
        assert.equal(typeof given(properties, 'properties').action_link, 'string');
        assert.equal(typeof given(properties, 'properties').hashed_token, 'string');
      },
    }),
    'a password is forgotten': (supabase) => ({
      'a user signs up': async () => {
        await person(supabase, 'forgetful');
      },
      'ask for a way back': async () => {
        await ok(supabase.auth.resetPasswordForEmail('forgetful@example.com'));
      },
      'ask for a password for once': async () => {
        const { user, session } = await ok(supabase.auth.signInWithOtp({ email: 'forgetful@example.com' }));
        assert.deepEqual([user, session], [null, null]);
      },
    }),
    'a second factor is enrolled and taken away': ({ auth }, s) => ({
      'sign up and in': async () => {
        await ok(auth.signUp({ email: 'careful@example.com', password }));
        await ok(auth.signInWithPassword({ email: 'careful@example.com', password }));
      },
      enrol: async () => {
        const made = await ok(auth.mfa.enroll({ factorType: 'totp', friendlyName: 'phone' }));
        s.id = given(made?.id, 'id');
        assert.equal(made?.type, 'totp');
      },
      challenge: async () => assert.ok(given((await ok(auth.mfa.challenge({ factorId: s.id })))?.id, 'id').length > 0),
      'take it away': async () => {
        await ok(auth.mfa.unenroll({ factorId: s.id }));
      },
    }),
    'an OAuth client is registered and deleted': ({ admin }, s) => ({
      create: async () => {
        const made = await ok(admin.oauth.createClient({ client_name: 'My App', redirect_uris: ['https://example.com/cb'] }));
        s.id = given(made?.client_id, 'client_id');
        assert.deepEqual([made?.client_name, made?.redirect_uris], ['My App', ['https://example.com/cb']]);
      },
      read: async () => assert.equal((await ok(admin.oauth.getClient(s.id)))?.client_name, 'My App'),
      list: async () =>
        once(
          (await ok(admin.oauth.listClients())).clients.map(({ client_id }) => client_id),
          [s.id],
        ),
      'a new secret': async () => assert.equal((await ok(admin.oauth.regenerateClientSecret(s.id)))?.client_id, s.id),
      delete: async () => {
        const { error } = await admin.oauth.deleteClient(s.id);
        assert.equal(error, null);
      },
      gone: async () => refused(ok(admin.oauth.getClient(s.id)), 404),
    }),
    'a credential that is refused': ({ admin }, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray((await ok(admin.listUsers())).users)),
      'another is refused': async () => refused(ok(another('not-of-this-service').admin.listUsers()), 401, 403),
      'another may not delete': async () => refused(ok(another('not-of-this-service').admin.deleteUser(nobody)), 401, 403),
    }),
    'requests that are wrong': ({ auth, admin }) => ({
      'a user that nobody made': async () => refused(ok(admin.getUserById(nobody)), 404),
      'a password that is not the right one': async () => {
        await ok(auth.signUp({ email: 'sure@example.com', password }));
        await refused(ok(auth.signInWithPassword({ email: 'sure@example.com', password: 'wrong' })), 400, 401);
      },
      'an invitation for no address': async () => refused(ok(admin.inviteUserByEmail(undefined as unknown as string)), 400, 422),
      'a page before the first': async () => refused(ok(admin.listUsers({ page: -1 })), 400, 422),
    }),
  },
};
