import assert from 'node:assert/strict';
import Telnyx, { toFile } from 'telnyx';
import { gather, once, type Place, refused, type State, type Vendor } from '../kit.ts';

const connect = (place: Place, token: string): Telnyx => new Telnyx({ baseURL: place.base, apiKey: token, maxRetries: 0 });

/** What answers hold under `data`; the client says of each that it may be missing. */
const data = <Row>(answer: { data?: Row }): Row => {
  assert.ok(answer.data, 'the answer has data');
  return answer.data;
};

const id = (row: { id?: string }): string => row.id ?? '';
const ids = (page: { data: { id?: string }[] }): string[] => page.data.map(id);

/** The first of Telnyx's errors, which the client keeps whole. */
const told = (thrown: unknown): { code?: unknown; title?: unknown } => {
  const { errors } = (thrown as { error?: { errors?: { code?: unknown; title?: unknown }[] } }).error ?? {};
  return errors?.[0] ?? {};
};

const nobodys = '3fa85f64-5717-4562-b3fc-2c963f66afa6';

/** A profile for sending messages, as the guide "Send your first message" has it. */
const profile = async (telnyx: Telnyx, name: string): Promise<string> =>
  id(data(await telnyx.messagingProfiles.create({ name, whitelisted_destinations: ['US'] })));

const application = async (telnyx: Telnyx, name: string): Promise<string> =>
  id(
    data(await telnyx.callControlApplications.create({ application_name: name, webhook_event_url: 'https://example.com/calls' })),
  );

const sms = { default_verification_timeout_secs: 300 };

const verifying = async (telnyx: Telnyx, s: State): Promise<void> => {
  const body = { name: 'Test Profile', language: 'en-US', sms } as Telnyx.VerifyProfileCreateParams;
  s.profile = id(data(await telnyx.verifyProfiles.create(body)));
};

/** Guide: developers.telnyx.com, "API fundamentals" (authentication, pagination, errors), "Send a message", "Voice API commands", "Verify". */
export const vendor: Vendor<Telnyx> = {
  document: 'telnyx/telnyx.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'KEY0123456789ABCDEF0123456789ABCDEF',
  client: connect,
  flows: {
    'a billing group is made, renamed and deleted': (telnyx, s) => ({
      create: async () => {
        const made = data(await telnyx.billingGroups.create({ name: 'My billing group name' }));
        s.id = id(made);
        assert.deepEqual([made.record_type, made.name], ['billing_group', 'My billing group name']);
      },
      read: async () => {
        const read = data(await telnyx.billingGroups.retrieve(s.id));
        assert.deepEqual([read.id, read.name], [s.id, 'My billing group name']);
      },
      rename: async () =>
        assert.equal(
          data(await telnyx.billingGroups.update(s.id, { name: 'Renamed billing group' })).name,
          'Renamed billing group',
        ),
      list: async () =>
        assert.deepEqual(
          (await telnyx.billingGroups.list()).data.map((row) => [row.id, row.name]),
          [[s.id, 'Renamed billing group']],
        ),
      'delete answers with what was deleted': async () => assert.equal(data(await telnyx.billingGroups.delete(s.id)).id, s.id),
      'it is gone': async () => {
        await refused(telnyx.billingGroups.retrieve(s.id), 404);
      },
      'the list is empty': async () => assert.deepEqual((await telnyx.billingGroups.list()).data, []),
    }),
    'billing groups through all pages': (telnyx, s) => ({
      'create five': async () => {
        for (const n of [1, 2, 3, 4, 5]) s[`id${n}`] = id(data(await telnyx.billingGroups.create({ name: `Group ${n}` })));
      },
      'the client walks pages of two': async () => {
        const pages = (await telnyx.billingGroups.list({ 'page[size]': 2 })).iterPages();
        once(await gather(pages, ids), [s.id1, s.id2, s.id3, s.id4, s.id5]);
      },
      'a page says where it is': async () => {
        const second = await telnyx.billingGroups.list({ 'page[size]': 2, 'page[number]': 2 });
        assert.equal(second.data.length, 2);
        assert.partialDeepStrictEqual(second.meta, { page_number: 2, page_size: 2, total_pages: 3, total_results: 5 });
      },
      'the last page has the rest': async () =>
        assert.equal((await telnyx.billingGroups.list({ 'page[size]': 2, 'page[number]': 3 })).data.length, 1),
    }),
    'a messaging profile': (telnyx, s) => ({
      create: async () => {
        const body = { name: 'Summer Campaign', webhook_url: 'https://www.example.com/hooks', whitelisted_destinations: ['US'] };
        const made = data(await telnyx.messagingProfiles.create(body));
        s.id = id(made);
        assert.deepEqual(
          [made.record_type, made.name, made.webhook_url, made.enabled],
          ['messaging_profile', 'Summer Campaign', 'https://www.example.com/hooks', true],
        );
      },
      'pause it': async () => assert.equal(data(await telnyx.messagingProfiles.update(s.id, { enabled: false })).enabled, false),
      'it is paused, and named as before': async () => {
        const read = data(await telnyx.messagingProfiles.retrieve(s.id));
        assert.deepEqual([read.enabled, read.name], [false, 'Summer Campaign']);
      },
      'no number belongs to it': async () => assert.deepEqual((await telnyx.messagingProfiles.listPhoneNumbers(s.id)).data, []),
      delete: async () => assert.equal(data(await telnyx.messagingProfiles.delete(s.id)).id, s.id),
      'it is gone': async () => {
        await refused(telnyx.messagingProfiles.retrieve(s.id), 404);
      },
    }),
    'a message is sent': (telnyx, s) => ({
      'create the profile': async () => {
        s.profile = await profile(telnyx, 'Alerts');
      },
      send: async () => {
        const body = { from: '+18445550001', to: '+18665550001', text: 'Hello, World!', messaging_profile_id: s.profile };
        const made = data(await telnyx.messages.send(body));
        s.id = id(made);
        assert.deepEqual([made.record_type, made.direction, made.text], ['message', 'outbound', 'Hello, World!']);
        assert.equal(made.messaging_profile_id, s.profile);
        assert.deepEqual(
          made.to?.map(({ phone_number }) => phone_number),
          ['+18665550001'],
        );
        assert.equal(made.from?.phone_number, '+18445550001');
      },
      'it is found again': async () => {
        const read = data(await telnyx.messages.retrieve(s.id));
        assert.deepEqual([read.id, read.text], [s.id, 'Hello, World!']);
      },
    }),
    'an outbound voice profile under a billing group': (telnyx, s) => ({
      'create the group': async () => {
        s.group = id(data(await telnyx.billingGroups.create({ name: 'Office' })));
      },
      create: async () => {
        const body = {
          name: 'office',
          billing_group_id: s.group,
          traffic_type: 'conversational' as const,
          tags: ['office-profile'],
        };
        const made = data(await telnyx.outboundVoiceProfiles.create(body));
        s.id = id(made);
        assert.partialDeepStrictEqual(made, body);
      },
      'create another': async () => {
        s.other = id(data(await telnyx.outboundVoiceProfiles.create({ name: 'warehouse' })));
      },
      'list by a part of its name': async () =>
        assert.deepEqual(ids(await telnyx.outboundVoiceProfiles.list({ filter: { name: { contains: 'offi' } } })), [s.id]),
      'list from the last name': async () =>
        assert.deepEqual(ids(await telnyx.outboundVoiceProfiles.list({ sort: '-name' })), [s.other, s.id]),
      'limit its spending': async () => {
        const limit = { daily_spend_limit: '100.00', daily_spend_limit_enabled: true };
        const changed = data(await telnyx.outboundVoiceProfiles.update(s.id, { name: 'office', ...limit }));
        assert.partialDeepStrictEqual(changed, { ...limit, billing_group_id: s.group });
      },
      delete: async () => assert.equal(data(await telnyx.outboundVoiceProfiles.delete(s.id)).id, s.id),
      'only the other is left': async () => assert.deepEqual(ids(await telnyx.outboundVoiceProfiles.list()), [s.other]),
    }),
    'a Call Control application': (telnyx, s) => ({
      create: async () => {
        const body = { application_name: 'call-router', webhook_event_url: 'https://example.com/calls' };
        const made = data(await telnyx.callControlApplications.create(body));
        s.id = id(made);
        assert.partialDeepStrictEqual(made, { ...body, record_type: 'call_control_application', active: true });
      },
      change: async () => {
        const body = { application_name: 'call-router', webhook_event_url: 'https://example.com/v2/calls', active: false };
        assert.partialDeepStrictEqual(data(await telnyx.callControlApplications.update(s.id, body)), body);
      },
      'it stays changed': async () => {
        const read = data(await telnyx.callControlApplications.retrieve(s.id));
        assert.deepEqual([read.webhook_event_url, read.active], ['https://example.com/v2/calls', false]);
      },
      'list by a part of its name': async () => {
        s.other = await application(telnyx, 'voicemail');
        const list = await telnyx.callControlApplications.list({ filter: { application_name: { contains: 'router' } } });
        assert.deepEqual(ids(list), [s.id]);
      },
      delete: async () => assert.equal(data(await telnyx.callControlApplications.delete(s.id)).id, s.id),
      'it is gone': async () => {
        await refused(telnyx.callControlApplications.retrieve(s.id), 404);
      },
    }),
    'a call is dialled and hung up': (telnyx, s) => ({
      'create the application': async () => {
        s.application = await application(telnyx, 'dialler');
      },
      dial: async () => {
        const call = data(await telnyx.calls.dial({ connection_id: s.application, from: '+18005550101', to: '+18005550100' }));
        s.id = call.call_control_id;
        assert.equal(call.record_type, 'call');
        assert.deepEqual([typeof call.call_leg_id, typeof call.call_session_id], ['string', 'string']);
      },
      speak: async () => {
        const words = { payload: 'Say this to the caller', voice: 'female', language: 'en-US' } as const;
        assert.equal(data(await telnyx.calls.actions.speak(s.id, words)).result, 'ok');
      },
      'hang up': async () => assert.equal(data(await telnyx.calls.actions.hangup(s.id, {})).result, 'ok'),
    }),
    'an IP connection and its addresses': (telnyx, s) => ({
      'create the connection': async () => {
        const made = data(await telnyx.ipConnections.create({ connection_name: 'london-office', active: true }));
        s.connection = id(made);
        assert.deepEqual([made.record_type, made.connection_name], ['ip_connection', 'london-office']);
      },
      'add an address': async () => {
        const made = data(await telnyx.ips.create({ connection_id: s.connection, ip_address: '192.168.0.0', port: 5061 }));
        s.id = id(made);
        assert.partialDeepStrictEqual(made, { connection_id: s.connection, ip_address: '192.168.0.0', port: 5061 });
      },
      'another has the port of the guide': async () =>
        assert.equal(data(await telnyx.ips.create({ ip_address: '192.168.0.1' })).port, 5060),
      'list those of the connection': async () =>
        assert.deepEqual(ids(await telnyx.ips.list({ filter: { connection_id: s.connection } })), [s.id]),
      'list by address': async () =>
        assert.deepEqual(ids(await telnyx.ips.list({ filter: { ip_address: '192.168.0.0' } })), [s.id]),
      'the connection has its name as before': async () =>
        assert.equal(data(await telnyx.ipConnections.retrieve(s.connection)).connection_name, 'london-office'),
    }),
    'a number is verified by SMS': (telnyx, s) => ({
      'create the profile': async () => verifying(telnyx, s),
      'the profile has what was said': async () => {
        const read = data(await telnyx.verifyProfiles.retrieve(s.profile));
        assert.partialDeepStrictEqual(read, { name: 'Test Profile', language: 'en-US', sms: { ...sms } });
      },
      'send a code': async () => {
        const { data: sent } = await telnyx.verifications.triggerSMS({
          phone_number: '+13035551234',
          verify_profile_id: s.profile,
        });
        s.id = id(sent);
        assert.partialDeepStrictEqual(sent, {
          record_type: 'verification',
          phone_number: '+13035551234',
          verify_profile_id: s.profile,
        });
      },
      'read it': async () => {
        const { data: read } = await telnyx.verifications.retrieve(s.id);
        assert.deepEqual([read.id, read.status], [s.id, 'pending']);
      },
      'list those of the number': async () =>
        assert.deepEqual((await telnyx.verifications.byPhoneNumber.list('+13035551234')).data.map(id), [s.id]),
      'those of another number': async () =>
        assert.deepEqual((await telnyx.verifications.byPhoneNumber.list('+13035559999')).data, []),
    }),
    'verify profiles by name': (telnyx, s) => ({
      'create two': async () => {
        await verifying(telnyx, s);
        s.other = id(data(await telnyx.verifyProfiles.create({ name: 'Another profile' })));
      },
      rename: async () => assert.equal(data(await telnyx.verifyProfiles.update(s.other, { name: 'Sign-in' })).name, 'Sign-in'),
      'list by the name': async () =>
        assert.deepEqual(ids(await telnyx.verifyProfiles.list({ filter: { name: 'Sign-in' } })), [s.other]),
      delete: async () => assert.equal(data(await telnyx.verifyProfiles.delete(s.other)).id, s.other),
      'the first is left': async () => assert.deepEqual(ids(await telnyx.verifyProfiles.list()), [s.profile]),
    }),
    'a document, sent as a form': (telnyx, s) => ({
      upload: async () => {
        const file = await toFile(Buffer.from('a contract'), 'contract.txt', { type: 'text/plain' });
        // The client's own type of the form asks for the member which the guide calls `file`.
        const asked = { document: { file } } as unknown as Telnyx.DocumentUploadParams;
        const made = data(await telnyx.documents.upload(asked));
        s.id = id(made);
        assert.deepEqual([made.record_type, typeof made.sha256], ['document', 'string']);
      },
      'name it': async () =>
        assert.equal(data(await telnyx.documents.update(s.id, { filename: 'signed.txt' })).filename, 'signed.txt'),
      read: async () => assert.equal(data(await telnyx.documents.retrieve(s.id)).filename, 'signed.txt'),
      list: async () => assert.deepEqual(ids(await telnyx.documents.list()), [s.id]),
      delete: async () => assert.equal(data(await telnyx.documents.delete(s.id)).id, s.id),
      'it is gone': async () => {
        await refused(telnyx.documents.retrieve(s.id), 404);
      },
    }),
    'an address': (telnyx, s) => ({
      create: async () => {
        const body = {
          business_name: "Toy-O'Kon",
          first_name: 'Alfred',
          last_name: 'Foster',
          street_address: '600 Congress Avenue',
          locality: 'Austin',
          country_code: 'US',
          customer_reference: 'MY REF 001',
        };
        const made = data(await telnyx.addresses.create(body));
        s.id = id(made);
        assert.partialDeepStrictEqual(made, { ...body, record_type: 'address' });
      },
      'list by the reference': async () =>
        assert.deepEqual(ids(await telnyx.addresses.list({ filter: { customer_reference: { eq: 'MY REF 001' } } })), [s.id]),
      'list by another reference': async () =>
        assert.deepEqual(ids(await telnyx.addresses.list({ filter: { customer_reference: { eq: 'MY REF 002' } } })), []),
      delete: async () => assert.equal(data(await telnyx.addresses.delete(s.id)).id, s.id),
      'it is gone': async () => {
        await refused(telnyx.addresses.retrieve(s.id), 404);
      },
    }),
    'a credential that is refused': (telnyx, _s, another) => ({
      'the right one is taken': async () => assert.deepEqual((await telnyx.billingGroups.list()).data, []),
      'none is refused': async () => {
        await refused(another('').billingGroups.list(), 401);
      },
    }),
    'requests that are wrong': (telnyx) => ({
      'a billing group that nobody made': async () => {
        const { code, title } = told(await refused(telnyx.billingGroups.retrieve(nobodys), 404));
        assert.deepEqual([typeof code, typeof title], ['string', 'string']);
      },
      'an application without its webhook': async () => {
        const body = { application_name: 'call-router' } as Telnyx.CallControlApplicationCreateParams;
        const { code, title } = told(await refused(telnyx.callControlApplications.create(body), 422));
        assert.deepEqual([typeof code, typeof title], ['string', 'string']);
      },
      'a voice profile without its name': async () => {
        await refused(telnyx.outboundVoiceProfiles.create({} as Telnyx.OutboundVoiceProfileCreateParams), 422);
      },
      'a change of what nobody made': async () => {
        await refused(telnyx.outboundVoiceProfiles.update('1293384261075731499', { name: 'office' }), 404);
      },
    }),
  },
};
