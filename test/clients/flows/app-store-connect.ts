import assert from 'node:assert/strict';
import * as api from 'appstore-connect-sdk';
import { once, type Place, pages, type State, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): api.Client => api.createClient({ baseUrl: place.base, bearerToken: token });

interface Resource {
  readonly type: string;
  readonly id: string;
}

/** What a call of the client tells: the answer, or the error with its status. */
interface Told<Answer> {
  readonly data?: Answer | undefined;
  readonly error?: unknown;
  readonly response?: Response | undefined;
}

/** The document of an answer that went well. */
const well = async <Answer>(call: Promise<Told<Answer>>): Promise<NonNullable<Answer>> => {
  const { data, error, response } = await call;
  assert.ok(response?.ok, `${response?.status} ${JSON.stringify(error)}`);
  assert.ok(data, 'the answer has a document');
  return data;
};

/** An answer without a document. */
const empty = async (call: Promise<Told<unknown>>): Promise<void> => {
  const { error, response } = await call;
  assert.equal(response?.status, 204, JSON.stringify(error));
};

/** The first error of an answer that says what is wrong; each names its status again. */
const wrong = async (call: Promise<Told<unknown>>, status: number): Promise<{ code?: unknown }> => {
  const { error, response } = await call;
  assert.equal(response?.status, status, JSON.stringify(error));
  const first = (error as { errors?: Record<string, unknown>[] }).errors?.[0] ?? {};
  assert.deepEqual(
    [first.status, typeof first.code, typeof first.title, typeof first.detail],
    [`${status}`, 'string', 'string', 'string'],
  );
  return first;
};

const ids = ({ data }: { data: Resource[] }): string[] => data.map(({ id }) => id);

/** A bundle ID, as the article "Register a new bundle ID" has it. */
const registering = (name: string, identifier: string): api.BundleIdCreateRequest => ({
  data: { type: 'bundleIds', attributes: { name, identifier, platform: 'IOS' } },
});

const bundle = async (client: api.Client, name: string, identifier: string): Promise<string> =>
  (await well(api.bundleIdsCreateInstance({ client, body: registering(name, identifier) }))).data.id;

const device = async (client: api.Client, name: string, udid: string): Promise<string> => {
  const body: api.DeviceCreateRequest = { data: { type: 'devices', attributes: { name, udid, platform: 'IOS' } } };
  return (await well(api.devicesCreateInstance({ client, body }))).data.id;
};

const csrContent = [
  'MIICiDCCAXACAQAwQzEeMBwGCSqGSIb3DQEJARYPZGV2QGV4YW1wbGUuY29tMRQwEgYDVQQDDAtEZXZlbG9wbWVudDELMAkGA1UEBhMCVVMwgg',
  'EiMA0GCSqGSIb3DQEBAQUAA4IBDwAwggEKAoIBAQC/CkII0Qn7eS02vzZDI1L3Xsj9lncUKtcZPQiOnlbroZeXQnxdDjqGIXriwD8cXlMp8BbF',
  'PeipWt/UyCykH3xoaULSwHZYI73R3ItbV4Iv6IQgtTZtYojZCV9z5HTk0GabyQcKclWlATQowLARLVgC7WnOWO+olWHryqA9+BpVMgSDyrbPjZ',
  'bYnVYWCaLuMGJqdG9Hf2afvLBcSTMP35vgbdmCO3TyHpN8teidJs3TsuYn43dGMQQzZI9wO6MP+/IOIPpcNHBOC+CF88B9yMu+lQ5Gn7GkmLwL',
  'eMU5RPADgPiLfUBMRlZkRRYCvo4wogyeeeWhQL0Wxws9x7JpsUaXAgMBAAGgADANBgkqhkiG9w0BAQsFAAOCAQEAP0tL8XaXG/238T2MEr94HN',
  'DyDFYkvEehMTGL/P5a8LwR+gXtcz3ZThpwNZW5/Uhsb/vqyyqKxXIEFbkg8LxwkWtdYzSS6pbl321zoYa8j+AogdfZFlhF/14E6TMlZ6nADAyc',
  'afXDotydeELOo8YMBh33L75aYx0D+kijfQG0M8yaVlSIj9OZiUZRu91aEYxE7/jkyNAYU+xBmETUrcwPVWneJgq7pPJSwDpOyZ90OaJFOWIMk6',
  '6UdhVcSY+sTtc5WKM3Ya6534rS2jHQPSG1uCW3pDf29m8mu/xJu3CtrCrg3yrkB5N/XCban9nu1a/IxU4gQJcrnuMRhIks4iZj1A==',
].join('');

const certificate = async (client: api.Client): Promise<string> => {
  const attributes = { certificateType: 'IOS_DEVELOPMENT', csrContent } as const;
  const body: api.CertificateCreateRequest = { data: { type: 'certificates', attributes } };
  return (await well(api.certificatesCreateInstance({ client, body }))).data.id;
};

const enabling = (id: string, capabilityType: api.CapabilityType): api.BundleIdCapabilityCreateRequest => ({
  data: {
    type: 'bundleIdCapabilities',
    attributes: { capabilityType },
    relationships: { bundleId: { data: { type: 'bundleIds', id } } },
  },
});

const enable = async (client: api.Client, id: string, capabilityType: api.CapabilityType): Promise<string> =>
  (await well(api.bundleIdCapabilitiesCreateInstance({ client, body: enabling(id, capabilityType) }))).data.id;

const inviting = (email: string, role: api.UserRole): api.UserInvitationCreateRequest => ({
  data: {
    type: 'userInvitations',
    attributes: {
      email,
      firstName: 'John',
      lastName: 'Appleseed',
      roles: [role],
      allAppsVisible: true,
      provisioningAllowed: false,
    },
  },
});

const invite = async (client: api.Client, email: string, role: api.UserRole): Promise<string> =>
  (await well(api.userInvitationsCreateInstance({ client, body: inviting(email, role) }))).data.id;

/** A profile, and all that it names. */
const provision = async (client: api.Client, s: State): Promise<void> => {
  s.bundle = await bundle(client, 'Weather', 'com.example.weather');
  s.certificate = await certificate(client);
  s.device = await device(client, 'A phone', '00008020-008D4548007B4F26');
  const body: api.ProfileCreateRequest = {
    data: {
      type: 'profiles',
      attributes: { name: 'Weather in development', profileType: 'IOS_APP_DEVELOPMENT' },
      relationships: {
        bundleId: { data: { type: 'bundleIds', id: s.bundle } },
        certificates: { data: [{ type: 'certificates', id: s.certificate }] },
        devices: { data: [{ type: 'devices', id: s.device }] },
      },
    },
  };
  const { data: made } = await well(api.profilesCreateInstance({ client, body }));
  s.id = made.id;
  assert.equal(made.type, 'profiles');
  assert.deepEqual([made.attributes?.name, made.attributes?.profileType], ['Weather in development', 'IOS_APP_DEVELOPMENT']);
};

/**
 * Guide: developer.apple.com/documentation/appstoreconnectapi, "Bundle IDs", "Bundle ID Capabilities", "Devices", "Certificates",
 * "Profiles", "User Invitations", "Large Data Sets", "Interpreting and handling errors".
 */
export const vendor: Vendor<api.Client> = {
  document: 'apple/app-store-connect.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJhbGciOiJFUzI1NiIsImtpZCI6IjJYOVI0SFhGMzQiLCJ0eXAiOiJKV1QifQ.eyJhdWQiOiJhcHBzdG9yZWNvbm5lY3QtdjEifQ.c2lnbmF0dXJl',
  client: connect,
  flows: {
    'a bundle ID is registered, renamed and deleted': (client, s) => ({
      register: async () => {
        const { data: made } = await well(
          api.bundleIdsCreateInstance({ client, body: registering('Weather', 'com.example.weather') }),
        );
        s.id = made.id;
        assert.equal(made.type, 'bundleIds');
        assert.deepEqual([made.attributes?.name, made.attributes?.identifier], ['Weather', 'com.example.weather']);
      },
      read: async () => {
        const { data: read, links } = await well(api.bundleIdsGetInstance({ client, path: { id: s.id } }));
        assert.deepEqual([read.id, read.attributes?.name], [s.id, 'Weather']);
        assert.ok(links.self.endsWith(`/v1/bundleIds/${s.id}`), 'the document names itself');
      },
      rename: async () => {
        const body: api.BundleIdUpdateRequest = {
          data: { type: 'bundleIds', id: s.id, attributes: { name: 'Weather and tides' } },
        };
        const { data: changed } = await well(api.bundleIdsUpdateInstance({ client, path: { id: s.id }, body }));
        assert.deepEqual(
          [changed.attributes?.name, changed.attributes?.identifier],
          ['Weather and tides', 'com.example.weather'],
        );
      },
      list: async () =>
        assert.deepEqual(
          (await well(api.bundleIdsGetCollection({ client }))).data.map(({ id, attributes }) => [id, attributes?.name]),
          [[s.id, 'Weather and tides']],
        ),
      delete: async () => empty(api.bundleIdsDeleteInstance({ client, path: { id: s.id } })),
      'it is gone': async () => {
        await wrong(api.bundleIdsGetInstance({ client, path: { id: s.id } }), 404);
      },
      'the list is empty': async () => assert.deepEqual((await well(api.bundleIdsGetCollection({ client }))).data, []),
    }),
    'bundle IDs through all pages': (client, s) => ({
      'register five': async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = await bundle(client, `App ${n}`, `com.example.app${n}`);
      },
      'pages of two, by the links to the next': async () => {
        const rows = await pages(
          async (next) => {
            const asked = next
              ? Object.fromEntries(new URL(next, 'https://api.appstoreconnect.apple.com').searchParams)
              : { limit: 2 };
            return well(api.bundleIdsGetCollection({ client, query: asked }));
          },
          ({ data }) => data,
          ({ links }) => links.next,
        );
        once(
          rows.map(({ id }) => id),
          [s.id1, s.id2, s.id3, s.id4, s.id5],
        );
      },
      'a page says how many there are': async () => {
        const { data, meta, links } = await well(api.bundleIdsGetCollection({ client, query: { limit: 2 } }));
        assert.deepEqual([data.length, meta?.paging.total, meta?.paging.limit], [2, 5, 2]);
        assert.equal(typeof links.next, 'string');
      },
      'the last has no link to the next': async () => {
        const { links } = await well(api.bundleIdsGetCollection({ client, query: { limit: 200 } }));
        assert.equal(links.next, undefined);
      },
    }),
    'bundle IDs, filtered, sorted and narrowed': (client, s) => ({
      'register three': async () => {
        s.id = await bundle(client, 'Alpha', 'com.example.alpha');
        s.other = await bundle(client, 'Beta', 'com.example.beta');
        s.third = await bundle(client, 'Gamma', 'com.example.gamma');
      },
      'by identifier': async () => {
        const query = { 'filter[identifier]': ['com.example.beta'] };
        assert.deepEqual(ids(await well(api.bundleIdsGetCollection({ client, query }))), [s.other]);
      },
      'by two names': async () => {
        const query = { 'filter[name]': ['Alpha', 'Gamma'] };
        once(ids(await well(api.bundleIdsGetCollection({ client, query }))), [s.id, s.third]);
      },
      'from the last name': async () =>
        assert.deepEqual(ids(await well(api.bundleIdsGetCollection({ client, query: { sort: ['-name'] } }))), [
          s.third,
          s.other,
          s.id,
        ]),
      'with their names alone': async () => {
        const query = { 'fields[bundleIds]': ['name' as const], 'filter[id]': [s.id] };
        assert.deepEqual(
          (await well(api.bundleIdsGetCollection({ client, query }))).data.map(({ attributes }) => attributes),
          [{ name: 'Alpha' }],
        );
      },
    }),
    'a capability of a bundle ID': (client, s) => ({
      'register the bundle ID': async () => {
        s.bundle = await bundle(client, 'Weather', 'com.example.weather');
      },
      enable: async () => {
        const body = enabling(s.bundle, 'PUSH_NOTIFICATIONS');
        const { data: made } = await well(api.bundleIdCapabilitiesCreateInstance({ client, body }));
        s.id = made.id;
        assert.deepEqual([made.type, made.attributes?.capabilityType], ['bundleIdCapabilities', 'PUSH_NOTIFICATIONS']);
      },
      'the bundle ID has it': async () => {
        const related = await well(api.bundleIdsBundleIdCapabilitiesGetToManyRelated({ client, path: { id: s.bundle } }));
        assert.ok(ids(related).includes(s.id));
      },
      'it comes with the bundle ID': async () => {
        const query = { include: ['bundleIdCapabilities' as const] };
        const { included, data } = await well(api.bundleIdsGetInstance({ client, path: { id: s.bundle }, query }));
        assert.ok(
          included?.some(({ type, id }) => type === 'bundleIdCapabilities' && id === s.id),
          'it is included',
        );
        assert.ok(
          data.relationships?.bundleIdCapabilities?.data?.some(({ id }) => id === s.id),
          'it is named',
        );
      },
      disable: async () => empty(api.bundleIdCapabilitiesDeleteInstance({ client, path: { id: s.id } })),
      'the bundle ID has it no more': async () => {
        const related = await well(api.bundleIdsBundleIdCapabilitiesGetToManyRelated({ client, path: { id: s.bundle } }));
        assert.ok(!ids(related).includes(s.id));
      },
    }),
    'the settings of a capability': (client, s) => ({
      enable: async () => {
        s.bundle = await bundle(client, 'Notes', 'com.example.notes');
        s.id = await enable(client, s.bundle, 'ICLOUD');
      },
      change: async () => {
        const settings: api.CapabilitySetting[] = [{ key: 'ICLOUD_VERSION', options: [{ key: 'XCODE_6' }] }];
        const attributes = { capabilityType: 'ICLOUD', settings } as const;
        const body: api.BundleIdCapabilityUpdateRequest = { data: { type: 'bundleIdCapabilities', id: s.id, attributes } };
        const { data: changed } = await well(api.bundleIdCapabilitiesUpdateInstance({ client, path: { id: s.id }, body }));
        assert.deepEqual([changed.id, changed.attributes?.settings?.[0]?.key], [s.id, 'ICLOUD_VERSION']);
        assert.equal(changed.attributes?.settings?.[0]?.options?.[0]?.key, 'XCODE_6');
      },
      'they stay': async () => {
        const related = await well(api.bundleIdsBundleIdCapabilitiesGetToManyRelated({ client, path: { id: s.bundle } }));
        const row = related.data.find(({ id }) => id === s.id);
        assert.equal(row?.attributes?.settings?.[0]?.options?.[0]?.key, 'XCODE_6');
      },
    }),
    'a device': (client, s) => ({
      register: async () => {
        s.id = await device(client, 'A phone', '00008020-008D4548007B4F26');
      },
      'it is enabled': async () => {
        const { data: read } = await well(api.devicesGetInstance({ client, path: { id: s.id } }));
        assert.equal(read.type, 'devices');
        assert.deepEqual(
          [read.attributes?.name, read.attributes?.udid, read.attributes?.status],
          ['A phone', '00008020-008D4548007B4F26', 'ENABLED'],
        );
      },
      'register another': async () => {
        s.other = await device(client, 'A tablet', '00008027-001C2D3A0E12002E');
      },
      disable: async () => {
        const attributes = { name: 'The old phone', status: 'DISABLED' } as const;
        const body: api.DeviceUpdateRequest = { data: { type: 'devices', id: s.id, attributes } };
        const { data: changed } = await well(api.devicesUpdateInstance({ client, path: { id: s.id }, body }));
        assert.deepEqual([changed.attributes?.name, changed.attributes?.status], ['The old phone', 'DISABLED']);
      },
      'list the enabled ones': async () => {
        const query = { 'filter[status]': ['ENABLED' as const] };
        assert.deepEqual(ids(await well(api.devicesGetCollection({ client, query }))), [s.other]);
      },
      'list by UDID': async () => {
        const query = { 'filter[udid]': ['00008020-008D4548007B4F26'] };
        assert.deepEqual(ids(await well(api.devicesGetCollection({ client, query }))), [s.id]);
      },
    }),
    'a certificate': (client, s) => ({
      create: async () => {
        s.id = await certificate(client);
      },
      read: async () => {
        const { data: read } = await well(api.certificatesGetInstance({ client, path: { id: s.id } }));
        assert.deepEqual([read.type, read.id, read.attributes?.certificateType], ['certificates', s.id, 'IOS_DEVELOPMENT']);
      },
      'list those of its type': async () => {
        const query = { 'filter[certificateType]': ['IOS_DEVELOPMENT' as const] };
        assert.deepEqual(ids(await well(api.certificatesGetCollection({ client, query }))), [s.id]);
      },
      'list those of another': async () => {
        const query = { 'filter[certificateType]': ['MAC_APP_DEVELOPMENT' as const] };
        assert.deepEqual((await well(api.certificatesGetCollection({ client, query }))).data, []);
      },
      revoke: async () => empty(api.certificatesDeleteInstance({ client, path: { id: s.id } })),
      'it is gone': async () => {
        await wrong(api.certificatesGetInstance({ client, path: { id: s.id } }), 404);
      },
    }),
    'a profile of a bundle ID, a certificate and a device': (client, s) => ({
      create: async () => provision(client, s),
      'its bundle ID': async () =>
        assert.equal((await well(api.profilesBundleIdGetToOneRelated({ client, path: { id: s.id } }))).data.id, s.bundle),
      'its certificates': async () =>
        assert.deepEqual(ids(await well(api.profilesCertificatesGetToManyRelated({ client, path: { id: s.id } }))), [
          s.certificate,
        ]),
      'its devices': async () =>
        assert.deepEqual(ids(await well(api.profilesDevicesGetToManyRelated({ client, path: { id: s.id } }))), [s.device]),
      'those of the bundle ID': async () =>
        assert.deepEqual(ids(await well(api.bundleIdsProfilesGetToManyRelated({ client, path: { id: s.bundle } }))), [s.id]),
      'it comes with what it names': async () => {
        const query = { include: ['bundleId' as const, 'devices' as const] };
        const { included } = await well(api.profilesGetInstance({ client, path: { id: s.id }, query }));
        once(
          (included ?? []).map(({ id }) => id),
          [s.bundle, s.device],
        );
      },
      delete: async () => empty(api.profilesDeleteInstance({ client, path: { id: s.id } })),
      'the bundle ID stays, without a profile': async () =>
        assert.deepEqual((await well(api.bundleIdsProfilesGetToManyRelated({ client, path: { id: s.bundle } }))).data, []),
      'it is gone': async () => {
        await wrong(api.profilesGetInstance({ client, path: { id: s.id } }), 404);
      },
    }),
    'a user is invited': (client, s) => ({
      invite: async () => {
        const body = inviting('john@example.com', 'DEVELOPER');
        const { data: made } = await well(api.userInvitationsCreateInstance({ client, body }));
        s.id = made.id;
        assert.equal(made.type, 'userInvitations');
        assert.partialDeepStrictEqual(made.attributes, { ...body.data.attributes });
      },
      'invite another': async () => {
        s.other = await invite(client, 'jane@example.com', 'MARKETING');
      },
      read: async () => {
        const { data: read } = await well(api.userInvitationsGetInstance({ client, path: { id: s.id } }));
        assert.deepEqual([read.attributes?.email, read.attributes?.roles], ['john@example.com', ['DEVELOPER']]);
      },
      'list by email': async () => {
        const query = { 'filter[email]': ['john@example.com'] };
        assert.deepEqual(ids(await well(api.userInvitationsGetCollection({ client, query }))), [s.id]);
      },
      'list by role': async () => {
        const query = { 'filter[roles]': ['MARKETING' as const] };
        assert.deepEqual(ids(await well(api.userInvitationsGetCollection({ client, query }))), [s.other]);
      },
      cancel: async () => empty(api.userInvitationsDeleteInstance({ client, path: { id: s.id } })),
      'it is gone': async () => {
        await wrong(api.userInvitationsGetInstance({ client, path: { id: s.id } }), 404);
      },
      'the other is left': async () => assert.deepEqual(ids(await well(api.userInvitationsGetCollection({ client }))), [s.other]),
    }),
    'an identifier is registered twice': (client, s) => ({
      once: async () => {
        s.id = await bundle(client, 'Weather', 'com.example.weather');
      },
      again: async () => {
        await wrong(api.bundleIdsCreateInstance({ client, body: registering('Weather', 'com.example.weather') }), 409);
      },
      'there is one': async () => assert.deepEqual(ids(await well(api.bundleIdsGetCollection({ client }))), [s.id]),
    }),
    'a credential that is refused': (client) => ({
      'the right one is taken': async () => assert.deepEqual((await well(api.bundleIdsGetCollection({ client }))).data, []),
      // The client sends nothing with a token that is empty, but a call can go without any.
      'none is refused': async () => {
        await wrong(api.bundleIdsGetCollection({ client, security: [] }), 401);
      },
    }),
    'requests that are wrong': (client, s) => ({
      'a bundle ID that nobody registered': async () => {
        const { code } = await wrong(api.bundleIdsGetInstance({ client, path: { id: '6XY2KMG8H4' } }), 404);
        assert.equal(code, 'NOT_FOUND');
      },
      'one without a name': async () => {
        const attributes = { identifier: 'com.example.nameless', platform: 'IOS' };
        const body = { data: { type: 'bundleIds', attributes } } as api.BundleIdCreateRequest;
        await wrong(api.bundleIdsCreateInstance({ client, body }), 409);
      },
      'nothing was registered': async () => assert.deepEqual((await well(api.bundleIdsGetCollection({ client }))).data, []),
      'a platform that is none': async () => {
        const query = { 'filter[platform]': ['WINDOWS' as 'IOS'] };
        await wrong(api.bundleIdsGetCollection({ client, query }), 400);
      },
      'a page that is too large': async () => {
        await wrong(api.bundleIdsGetCollection({ client, query: { limit: 500 } }), 400);
      },
      'a change of what nobody registered': async () => {
        s.none = '6XY2KMG8H4';
        const body: api.BundleIdUpdateRequest = { data: { type: 'bundleIds', id: s.none, attributes: { name: 'None' } } };
        await wrong(api.bundleIdsUpdateInstance({ client, path: { id: s.none }, body }), 404);
      },
    }),
  },
};
