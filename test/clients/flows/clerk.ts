import assert from 'node:assert/strict';
import { type ClerkClient, createClerkClient } from '@clerk/backend';
import { given, numbered, once, type Place, refused, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): ClerkClient =>
  createClerkClient({ secretKey: token, apiUrl: place.url, telemetry: { disabled: true } });

const ids = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

const person = async (clerk: ClerkClient, name: string): Promise<string> => {
  const made = await clerk.users.createUser({
    emailAddress: [`${name}@example.com`],
    firstName: name,
    password: 'a long pass phrase 7',
  });
  return given(made.id, 'id');
};

const team = async (clerk: ClerkClient, name: string): Promise<string> =>
  given((await clerk.organizations.createOrganization({ name })).id, 'id');

/** Guide: clerk.com/docs, "Backend SDK": User, Organization, Invitations and so on. */
export const vendor: Vendor<ClerkClient> = {
  document: 'clerk/bapi-2026-05-12.yml',
  header: 'Authorization',
  word: 'Bearer',
  made: 'sk_test_madeup',
  client: connect,
  flows: {
    'a user from the making to the end': (clerk, s) => ({
      create: async () => {
        const made = await clerk.users.createUser({
          emailAddress: ['ada@example.com'],
          firstName: 'Ada',
          lastName: 'Lovelace',
          externalId: 'ext-1',
          password: 'a long pass phrase 7',
        });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.firstName, made.lastName, made.externalId], ['Ada', 'Lovelace', 'ext-1']);
      },
      read: async () => {
        const read = await clerk.users.getUser(s.id);
        assert.deepEqual([read.id, read.firstName, read.lastName], [s.id, 'Ada', 'Lovelace']);
      },
      change: async () => assert.equal((await clerk.users.updateUser(s.id, { firstName: 'Augusta' })).firstName, 'Augusta'),
      'read the new first name and the old last name': async () => {
        const read = await clerk.users.getUser(s.id);
        assert.deepEqual([read.firstName, read.lastName], ['Augusta', 'Lovelace']);
      },
      delete: async () => assert.equal((await clerk.users.deleteUser(s.id)).id, s.id),
      gone: async () => refused(clerk.users.getUser(s.id), 404),
    }),
    'users through all pages': (clerk, s) => ({
      create: async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = await person(clerk, `user${n}`);
      },
      'walk pages of two': async () => {
        const users = await numbered(async (page) => (await clerk.users.getUserList({ limit: 2, offset: 2 * page })).data, 0);
        once(ids(users), [s.id1, s.id2, s.id3, s.id4, s.id5]);
      },
      'a page tells how many there are': async () => {
        const page = await clerk.users.getUserList({ limit: 2 });
        assert.equal(page.data.length, 2);
        assert.ok(page.totalCount >= 5, `totalCount is ${page.totalCount}`);
      },
      count: async () => assert.ok((await clerk.users.getCount()) >= 5),
    }),
    'a user is found by an e-mail address': (clerk, s) => ({
      create: async () => {
        s.id = await person(clerk, 'grace');
        await person(clerk, 'alan');
      },
      'the user has the address': async () =>
        assert.deepEqual(
          (await clerk.users.getUser(s.id)).emailAddresses.map(({ emailAddress }) => emailAddress),
          ['grace@example.com'],
        ),
      find: async () =>
        assert.deepEqual(ids((await clerk.users.getUserList({ emailAddress: ['grace@example.com'] })).data), [s.id]),
    }),
    'a user is banned and locked': (clerk, s) => ({
      create: async () => {
        s.id = await person(clerk, 'mallory');
      },
      'neither banned nor locked': async () => {
        const read = await clerk.users.getUser(s.id);
        assert.deepEqual([read.banned, read.locked], [false, false]);
      },
      ban: async () => assert.equal((await clerk.users.banUser(s.id)).banned, true),
      'read that it is banned': async () => assert.equal((await clerk.users.getUser(s.id)).banned, true),
      unban: async () => assert.equal((await clerk.users.unbanUser(s.id)).banned, false),
      lock: async () => assert.equal((await clerk.users.lockUser(s.id)).locked, true),
      unlock: async () => assert.equal((await clerk.users.unlockUser(s.id)).locked, false),
    }),
    'the metadata of a user': (clerk, s) => ({
      create: async () => {
        s.id = await person(clerk, 'meta');
      },
      set: async () => {
        const made = await clerk.users.updateUserMetadata(s.id, { publicMetadata: { plan: 'free', seats: { used: 1 } } });
        assert.deepEqual(made.publicMetadata, { plan: 'free', seats: { used: 1 } });
      },
      merge: async () => {
        await clerk.users.updateUserMetadata(s.id, { publicMetadata: { seats: { free: 4 } } });
        assert.deepEqual((await clerk.users.getUser(s.id)).publicMetadata, { plan: 'free', seats: { used: 1, free: 4 } });
      },
      replace: async () => {
        await clerk.users.replaceUserMetadata(s.id, { publicMetadata: { plan: 'paid' } });
        assert.deepEqual((await clerk.users.getUser(s.id)).publicMetadata, { plan: 'paid' });
      },
    }),
    'an organization': (clerk, s) => ({
      create: async () => {
        const made = await clerk.organizations.createOrganization({ name: 'Acme', slug: 'acme' });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.name, made.slug], ['Acme', 'acme']);
      },
      read: async () => assert.equal((await clerk.organizations.getOrganization({ organizationId: s.id })).name, 'Acme'),
      'read by its slug': async () => assert.equal((await clerk.organizations.getOrganization({ slug: 'acme' })).id, s.id),
      change: async () =>
        assert.equal((await clerk.organizations.updateOrganization(s.id, { name: 'Acme Ltd' })).name, 'Acme Ltd'),
      'list through all pages': async () => {
        for (const name of ['Beta', 'Gamma']) await team(clerk, name);
        const rows = await numbered(
          async (page) => (await clerk.organizations.getOrganizationList({ limit: 1, offset: page })).data,
          0,
        );
        once(ids(rows), [s.id]);
      },
      delete: async () => clerk.organizations.deleteOrganization(s.id),
      gone: async () => refused(clerk.organizations.getOrganization({ organizationId: s.id }), 404),
    }),
    'members of an organization': (clerk, s) => {
      const members = async () => (await clerk.organizations.getOrganizationMembershipList({ organizationId: s.team })).data;
      return {
        'create both': async () => {
          s.team = await team(clerk, 'Crew');
          s.user = await person(clerk, 'sailor');
        },
        join: async () => {
          const made = await clerk.organizations.createOrganizationMembership({
            organizationId: s.team,
            userId: s.user,
            role: 'org:member',
          });
          assert.equal(made.role, 'org:member');
          assert.equal(made.organization.id, s.team);
        },
        list: async () =>
          once(
            (await members()).map((member) => member.publicUserData?.userId ?? ''),
            [s.user],
          ),
        'change the role': async () => {
          const made = await clerk.organizations.updateOrganizationMembership({
            organizationId: s.team,
            userId: s.user,
            role: 'org:admin',
          });
          assert.equal(made.role, 'org:admin');
        },
        leave: async () => clerk.organizations.deleteOrganizationMembership({ organizationId: s.team, userId: s.user }),
        'gone from the list': async () => assert.deepEqual(await members(), []),
      };
    },
    'an invitation is sent and revoked': (clerk, s) => ({
      create: async () => {
        const made = await clerk.invitations.createInvitation({
          emailAddress: 'guest@example.com',
          publicMetadata: { from: 'ada' },
        });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.emailAddress, made.status], ['guest@example.com', 'pending']);
      },
      list: async () => once(ids((await clerk.invitations.getInvitationList()).data), [s.id]),
      revoke: async () => assert.equal((await clerk.invitations.revokeInvitation(s.id)).status, 'revoked'),
      'not among the pending': async () =>
        assert.ok(!ids((await clerk.invitations.getInvitationList({ status: 'pending' })).data).includes(s.id)),
    }),
    'an invitation to an organization': (clerk, s) => ({
      'create the organization': async () => {
        s.team = await team(clerk, 'Hosts');
      },
      invite: async () => {
        const made = await clerk.organizations.createOrganizationInvitation({
          organizationId: s.team,
          emailAddress: 'guest@example.com',
          role: 'org:member',
        });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.emailAddress, made.role, made.status], ['guest@example.com', 'org:member', 'pending']);
      },
      read: async () => {
        const read = await clerk.organizations.getOrganizationInvitation({ organizationId: s.team, invitationId: s.id });
        assert.equal(read.emailAddress, 'guest@example.com');
      },
      list: async () =>
        once(ids((await clerk.organizations.getOrganizationInvitationList({ organizationId: s.team })).data), [s.id]),
      revoke: async () => {
        const made = await clerk.organizations.revokeOrganizationInvitation({ organizationId: s.team, invitationId: s.id });
        assert.equal(made.status, 'revoked');
      },
    }),
    'a redirect URL': (clerk, s) => ({
      create: async () => {
        const made = await clerk.redirectUrls.createRedirectUrl({ url: 'https://example.com/callback' });
        s.id = given(made.id, 'id');
        assert.equal(made.url, 'https://example.com/callback');
      },
      read: async () => assert.equal((await clerk.redirectUrls.getRedirectUrl(s.id)).url, 'https://example.com/callback'),
      list: async () => once(ids((await clerk.redirectUrls.getRedirectUrlList()).data), [s.id]),
      delete: async () => clerk.redirectUrls.deleteRedirectUrl(s.id),
      gone: async () => refused(clerk.redirectUrls.getRedirectUrl(s.id), 404),
    }),
    'an identifier on the allow-list': (clerk, s) => ({
      create: async () => {
        const made = await clerk.allowlistIdentifiers.createAllowlistIdentifier({ identifier: 'vip@example.com', notify: false });
        s.id = given(made.id, 'id');
        assert.equal(made.identifier, 'vip@example.com');
      },
      list: async () => once(ids((await clerk.allowlistIdentifiers.getAllowlistIdentifierList()).data), [s.id]),
      delete: async () => assert.equal((await clerk.allowlistIdentifiers.deleteAllowlistIdentifier(s.id)).deleted, true),
      'gone from the list': async () =>
        assert.ok(!ids((await clerk.allowlistIdentifiers.getAllowlistIdentifierList()).data).includes(s.id)),
    }),
    'a JWT template': (clerk, s) => ({
      create: async () => {
        const made = await clerk.jwtTemplates.create({ name: 'api', claims: { aud: 'api' }, lifetime: 60 });
        s.id = given(made.id, 'id');
        assert.deepEqual([made.name, made.claims, made.lifetime], ['api', { aud: 'api' }, 60]);
      },
      change: async () => {
        const made = await clerk.jwtTemplates.update({ templateId: s.id, name: 'api', claims: { aud: 'api' }, lifetime: 120 });
        assert.equal(made.lifetime, 120);
      },
      read: async () => assert.equal((await clerk.jwtTemplates.get(s.id)).lifetime, 120),
      delete: async () => assert.equal((await clerk.jwtTemplates.delete(s.id)).deleted, true),
      gone: async () => refused(clerk.jwtTemplates.get(s.id), 404),
    }),
    'a credential that is refused': (clerk, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray((await clerk.users.getUserList()).data)),
      'another is refused': async () => refused(another('sk_test_not_of_this_service').users.getUserList(), 401),
      'another may not write': async () => refused(person(another('sk_test_not_of_this_service'), 'eve'), 401),
    }),
    'requests that are wrong': (clerk) => ({
      'a user that nobody made': async () => {
        const thrown = (await refused(clerk.users.getUser('user_nobodymadethis'), 404)) as { errors?: { message?: unknown }[] };
        assert.equal(typeof thrown.errors?.[0]?.message, 'string');
      },
      'an organization without a name': async () =>
        refused(clerk.organizations.createOrganization({} as { name: string }), 400, 422),
      'a page that is too large': async () => refused(clerk.users.getUserList({ limit: 501 }), 400, 422),
      'an invitation for too long': async () =>
        refused(clerk.invitations.createInvitation({ emailAddress: 'late@example.com', expiresInDays: 9999 }), 400, 422),
    }),
  },
};
