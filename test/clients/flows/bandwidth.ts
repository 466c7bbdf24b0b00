import assert from 'node:assert/strict';
import {
  CallsApi,
  ConferencesApi,
  Configuration,
  type CreateCall,
  EndpointsApi,
  MediaApi,
  MessagesApi,
  MFAApi,
  MultiChannelApi,
  PhoneNumberLookupApi,
  RecordingsApi,
  StatisticsApi,
  TollFreeVerificationApi,
  type VerificationRequest,
} from 'bandwidth-sdk';
import { given, once, type Place, refused, type Vendor } from '../kit.ts';

interface Bandwidth {
  readonly calls: CallsApi;
  readonly codes: MFAApi;
  readonly conferences: ConferencesApi;
  readonly endpoints: EndpointsApi;
  readonly lookups: PhoneNumberLookupApi;
  readonly media: MediaApi;
  readonly messages: MessagesApi;
  readonly several: MultiChannelApi;
  readonly recordings: RecordingsApi;
  readonly statistics: StatisticsApi;
  readonly tollFree: TollFreeVerificationApi;
}

/**
 * The header has the user's name and the password, and a colon between them, in Base64. Each part of the service has a server
 * of its own, which the description says at its paths: those of one have another path before them than those of another.
 */
const connect = (place: Place, token: string): Bandwidth => {
  const [username = '', ...password] = Buffer.from(token, 'base64').toString().split(':');
  const at = (path: string) => new Configuration({ username, password: password.join(':'), basePath: `${place.url}${path}` });
  return {
    calls: new CallsApi(at('/api/v2')),
    codes: new MFAApi(at('/api/v1')),
    conferences: new ConferencesApi(at('/api/v2')),
    endpoints: new EndpointsApi(at('/v2')),
    lookups: new PhoneNumberLookupApi(at('/v2')),
    media: new MediaApi(at('/api/v2')),
    messages: new MessagesApi(at('/api/v2')),
    several: new MultiChannelApi(at('/api/v2')),
    recordings: new RecordingsApi(at('/api/v2')),
    statistics: new StatisticsApi(at('/api/v2')),
    tollFree: new TollFreeVerificationApi(at('/api/v2')),
  };
};

const pair = (name: string, password: string): string => Buffer.from(`${name}:${password}`).toString('base64');
const gone = (call: Promise<unknown>): Promise<unknown> => refused(call, 404);

const account = '9900000';
const applicationId = '93de2206-9669-4e07-948d-329f4b722ee2';
const ours = '+15551113333';
const theirs = '+15552223333';

/** The client's types have a set where the description says that no two of a list are the same; it sends a list. */
const send = async ({ messages }: Bandwidth, text: string, to = theirs): Promise<string> => {
  const { data } = await messages.createMessage(account, { applicationId, to: new Set([to]), from: ours, text });
  return given(data.id, 'message id');
};

const dial = (tag: string): CreateCall => ({
  applicationId,
  to: theirs,
  from: ours,
  answerUrl: 'https://example.com/answer',
  tag,
});

const verification = (phoneNumber: string): VerificationRequest => ({
  businessAddress: {
    name: 'Bandwidth Inc.',
    addr1: '2230 Way',
    city: 'Raleigh',
    state: 'NC',
    zip: '27606',
    url: 'https://example.com',
  },
  businessContact: { firstName: 'John', lastName: 'Doe', email: 'jdoe@example.com', phoneNumber: '+19192654500' },
  messageVolume: 10000,
  phoneNumbers: [phoneNumber],
  useCase: '2FA',
  useCaseSummary: 'Codes for signing in',
  productionMessageContent: 'Your code is 123456',
  optInWorkflow: { description: 'Asked when signing up', imageUrls: ['https://example.com/opt-in.png'] },
  businessEntityType: 'PRIVATE_PROFIT',
});

/** dev.bandwidth.com/docs: "Messaging", "Media", "Voice", "Multi-factor authentication", "Toll-free verification", "Lookup". */
export const vendor: Vendor<Bandwidth> = {
  document: 'bandwidth/bandwidth.yml',
  header: 'Authorization',
  word: 'Basic',
  made: pair('user', 'not-a-secret'),
  client: connect,
  strict: ['wrong credentials are refused'],
  flows: {
    'a message sent': ({ messages }, s) => ({
      'taken, with what it says': async () => {
        const { status, data } = await messages.createMessage(account, {
          applicationId,
          to: new Set([theirs]),
          from: ours,
          text: 'Hello world',
          tag: 'greeting',
          priority: 'high',
        });
        assert.equal(status, 202);
        assert.deepEqual([data.from, data.text, data.tag, data.priority], [ours, 'Hello world', 'greeting', 'high']);
        assert.deepEqual([...given(data.to, 'receivers')], [theirs]);
        assert.equal(data.applicationId, applicationId);
        s.id = given(data.id, 'message id');
      },
      'it goes out': async () => {
        const { data } = await messages.createMessage(account, {
          applicationId,
          to: new Set([theirs]),
          from: ours,
          text: 'Again',
        });
        assert.equal(data.direction, 'out');
        assert.notEqual(data.id, s.id);
      },
      'with a picture': async () => {
        const media = ['https://example.com/cat.png'];
        const { data } = await messages.createMessage(account, {
          applicationId,
          to: new Set([theirs]),
          from: ours,
          text: 'A cat',
          media,
        });
        assert.deepEqual(data.media, media);
      },
    }),

    'a message to several': ({ messages }, s) => ({
      'is one, to each of them': async () => {
        const to = new Set([theirs, '+15554443333']);
        const { data } = await messages.createMessage(account, { applicationId, to, from: ours, text: 'Hello all' });
        assert.deepEqual([...given(data.to, 'receivers')], [...to]);
        s.id = given(data.id, 'message id');
      },
      'and expires when it is told to': async () => {
        const expiration = '2027-02-01T11:29:18-05:00';
        const { data } = await messages.createMessage(account, {
          applicationId,
          to: new Set([theirs]),
          from: ours,
          text: 'Soon',
          expiration,
        });
        assert.equal(Date.parse(given(data.expiration, 'expiration')), Date.parse(expiration));
      },
      'messages are a list, with a count': async () => {
        const { data } = await messages.listMessages(account);
        assert.ok(Array.isArray(data.messages));
        assert.equal(typeof data.totalCount, 'number');
      },
    }),

    'messages looked for': (bandwidth, s) => ({
      'one is sent': async () => {
        s.id = await send(bandwidth, 'Find me');
      },
      'found by its number': async () => {
        const { data } = await bandwidth.messages.listMessages(account, s.id);
        once(
          given(data.messages, 'messages').map(({ messageId }) => String(messageId)),
          [s.id],
          'messages',
        );
      },
      'told who sent it': async () => {
        const { data } = await bandwidth.messages.listMessages(account, s.id);
        assert.equal(given(data.messages, 'messages')[0]?.sourceTn, ours);
      },
      'what nobody sent is not found': async () => {
        const { data } = await bandwidth.messages.listMessages(account, '1589228074636lm4k2je7j7jklbn2');
        assert.deepEqual(data.messages, []);
      },
    }),

    'a file uploaded, read, deleted': ({ media }) => ({
      uploaded: async () => {
        const { status } = await media.uploadMedia(account, 'hello.txt', Buffer.from('Hello') as never, 'text/plain');
        assert.equal(status, 204);
      },
      'in the list': async () => {
        const { data } = await media.listMedia(account);
        once(
          data.map(({ mediaName }) => String(mediaName)),
          ['hello.txt'],
          'files',
        );
      },
      'read as it was sent': async () => {
        const { status, data } = await media.getMedia(account, 'hello.txt');
        assert.equal(status, 200);
        assert.equal(String(data), 'Hello');
      },
      deleted: async () => assert.equal((await media.deleteMedia(account, 'hello.txt')).status, 204),
      'no more there': () => gone(media.getMedia(account, 'hello.txt')),
      'nor in the list': async () => {
        const { data } = await media.listMedia(account);
        assert.ok(!data.some(({ mediaName }) => mediaName === 'hello.txt'));
      },
    }),

    'a file uploaded over another': ({ media }) => ({
      'the first': async () => {
        assert.equal((await media.uploadMedia(account, 'note.txt', Buffer.from('one') as never, 'text/plain')).status, 204);
      },
      'the second under the same name': async () => {
        assert.equal((await media.uploadMedia(account, 'note.txt', Buffer.from('two') as never, 'text/plain')).status, 204);
      },
      'is what is read': async () => assert.equal(String((await media.getMedia(account, 'note.txt')).data), 'two'),
      'there is one of them': async () => {
        const { data } = await media.listMedia(account);
        once(
          data.map(({ mediaName }) => String(mediaName)),
          ['note.txt'],
          'files',
        );
      },
    }),

    'a message by the best of several ways': ({ several }, s) => ({
      taken: async () => {
        const { status, data } = await several.createMultiChannelMessage(account, {
          to: theirs,
          tag: 'offer',
          priority: 'default',
          channelList: [{ from: ours, applicationId, channel: 'SMS', content: { text: 'Hello world' } }],
        });
        assert.equal(status, 202);
        const sent = given(data.data, 'data');
        assert.deepEqual([sent.tag, sent.priority, sent.direction], ['offer', 'default', 'out']);
        s.id = sent.id;
      },
      'another is another': async () => {
        const { data } = await several.createMultiChannelMessage(account, {
          to: theirs,
          channelList: [{ from: ours, applicationId, channel: 'SMS', content: { text: 'Hello again' } }],
        });
        assert.notEqual(given(data.data, 'data').id, s.id);
      },
      'a way is needed': () => refused(several.createMultiChannelMessage(account, { to: theirs } as never), 400),
    }),

    'a call made, read, ended': ({ calls }, s) => ({
      made: async () => {
        const { status, data } = await calls.createCall(account, dial('first'));
        assert.equal(status, 201);
        assert.deepEqual([data.to, data.from, data.tag], [theirs, ours, 'first']);
        assert.deepEqual([data.applicationId, data.answerUrl], [applicationId, 'https://example.com/answer']);
        assert.equal(data.accountId, account);
        s.id = data.callId;
      },
      read: async () => {
        const { data } = await calls.getCallState(account, s.id);
        assert.deepEqual([data.callId, data.to, data.from], [s.id, theirs, ours]);
      },
      'sent on elsewhere': async () => {
        const redirect = { state: 'active', redirectUrl: 'https://example.com/other', redirectMethod: 'POST' } as const;
        assert.equal((await calls.updateCall(account, s.id, redirect)).status, 200);
      },
      ended: async () => assert.equal((await calls.updateCall(account, s.id, { state: 'completed' })).status, 200),
    }),

    'calls listed': ({ calls }, s) => ({
      'two are made': async () => {
        s.one = (await calls.createCall(account, dial('one'))).data.callId;
        s.two = (await calls.createCall(account, { ...dial('two'), to: '+15554443333' })).data.callId;
        assert.notEqual(s.one, s.two);
      },
      'both in the list': async () => {
        const { data } = await calls.listCalls(account);
        once(
          data.map(({ callId }) => String(callId)),
          [s.one, s.two],
          'calls',
        );
      },
      'one by whom it went to': async () => {
        const { data } = await calls.listCalls(account, '+15554443333');
        const ids = data.map(({ callId }) => String(callId));
        once(ids, [s.two], 'calls');
        assert.ok(!ids.includes(s.one));
      },
      'a page has no more than was asked for': async () => {
        const { data } = await calls.listCalls(account, undefined, undefined, undefined, undefined, undefined, 1);
        assert.equal(data.length, 1);
      },
    }),

    'what a call is told to do': ({ calls }, s) => ({
      made: async () => {
        s.id = (await calls.createCall(account, dial('spoken'))).data.callId;
      },
      'in XML': async () => {
        const bxml = '<?xml version="1.0" encoding="UTF-8"?><Bxml><SpeakSentence>Hello.</SpeakSentence></Bxml>';
        assert.equal((await calls.updateCallBxml(account, s.id, bxml)).status, 204);
      },
      'its state is still read': async () => assert.equal((await calls.getCallState(account, s.id)).data.callId, s.id),
    }),

    'what the voice service tells': ({ statistics, conferences, recordings }) => ({
      'how many calls wait': async () => {
        const { data } = await statistics.getStatistics(account);
        assert.equal(typeof data.currentCallQueueSize, 'number');
        assert.equal(typeof data.maxCallQueueSize, 'number');
      },
      'conferences are a list': async () => assert.ok(Array.isArray((await conferences.listConferences(account)).data)),
      'recordings are a list': async () => {
        assert.ok(Array.isArray((await recordings.listAccountCallRecordings(account)).data));
      },
    }),

    'a code sent, and tried': ({ codes }) => ({
      'as a message': async () => {
        const { data } = await codes.generateMessagingCode(account, {
          to: theirs,
          from: ours,
          applicationId,
          scope: 'sign-in',
          message: 'Your code is {CODE}',
          digits: 6,
        });
        assert.ok(given(data.messageId, 'message id').length > 0);
      },
      'in a call': async () => {
        const { data } = await codes.generateVoiceCode(account, {
          to: theirs,
          from: ours,
          applicationId,
          message: 'Your code is {CODE}',
          digits: 6,
        });
        assert.ok(given(data.callId, 'call id').length > 0);
      },
      'it is right or not': async () => {
        const tried = { to: theirs, scope: 'sign-in', expirationTimeInMinutes: 3, code: '123456' };
        assert.equal(typeof (await codes.verifyCode(account, tried)).data.valid, 'boolean');
      },
    }),

    'numbers looked up': ({ lookups }, s) => ({
      'at once': async () => {
        const { status, data } = await lookups.createSyncLookup(account, { phoneNumbers: [theirs] });
        assert.equal(status, 200);
        assert.ok(given(data.data?.requestId, 'request id').length > 0);
      },
      'many, later': async () => {
        const { status, data } = await lookups.createAsyncBulkLookup(account, { phoneNumbers: [ours, theirs] });
        assert.equal(status, 202);
        s.id = given(data.data?.requestId, 'request id');
      },
      'asked after': async () => {
        const { data } = await lookups.getAsyncBulkLookup(account, s.id);
        assert.equal(data.data?.requestId, s.id);
        assert.ok(['IN_PROGRESS', 'COMPLETE', 'PARTIAL_COMPLETE', 'FAILED'].includes(String(data.data?.status)));
      },
    }),

    'a toll-free number verified': ({ tollFree }) => ({
      'what for is told': async () => assert.ok(Array.isArray((await tollFree.listTollFreeUseCases()).data)),
      asked: async () => {
        assert.equal((await tollFree.requestTollFreeVerification(account, verification('+18005551234'))).status, 202);
      },
      'where it stands': async () => {
        const { data } = await tollFree.getTollFreeVerificationStatus(account, '+18005551234');
        assert.equal(data.phoneNumber, '+18005551234');
        assert.ok(['VERIFIED', 'UNVERIFIED', 'PENDING', 'PARTIALLY_VERIFIED', 'INVALID_STATUS'].includes(String(data.status)));
      },
      withdrawn: async () => {
        assert.equal((await tollFree.deleteVerificationRequest(account, '+18005551234')).status, 204);
      },
      'no more there': () => gone(tollFree.getTollFreeVerificationStatus(account, '+18005551234')),
    }),

    'who hears of verifications': ({ tollFree }, s) => ({
      subscribed: async () => {
        const { status, data } = await tollFree.createWebhookSubscription(account, {
          callbackUrl: 'https://example.com/hook',
          basicAuthentication: { username: 'hook', password: 'not-a-secret' },
        });
        assert.equal(status, 201);
        assert.equal(data.callbackUrl, 'https://example.com/hook');
        s.id = given(data.id, 'subscription id');
      },
      'in the list': async () => {
        const { data } = await tollFree.listWebhookSubscriptions(account);
        once(
          data.data.map(({ id }) => String(id)),
          [s.id],
          'subscriptions',
        );
      },
      'sent elsewhere': async () => {
        const { data } = await tollFree.updateWebhookSubscription(account, s.id, { callbackUrl: 'https://example.com/other' });
        assert.deepEqual([data.id, data.callbackUrl], [s.id, 'https://example.com/other']);
      },
      'listed so': async () => {
        const { data } = await tollFree.listWebhookSubscriptions(account);
        assert.equal(data.data.find(({ id }) => id === s.id)?.callbackUrl, 'https://example.com/other');
      },
      ended: async () => assert.equal((await tollFree.deleteWebhookSubscription(account, s.id)).status, 204),
      'no more in the list': async () => {
        const { data } = await tollFree.listWebhookSubscriptions(account);
        assert.ok(!data.data.some(({ id }) => id === s.id));
      },
    }),

    'an endpoint for a browser': ({ endpoints }, s) => ({
      made: async () => {
        const { status, data } = await endpoints.createEndpoint(account, {
          type: 'WEBRTC',
          direction: 'BIDIRECTIONAL',
          eventCallbackUrl: 'https://example.com/events',
          tag: 'desk',
        });
        assert.equal(status, 201);
        assert.deepEqual([data.data.type, data.data.tag], ['WEBRTC', 'desk']);
        assert.ok(data.data.token.length > 0);
        s.id = data.data.endpointId;
      },
      read: async () => {
        const { data } = await endpoints.getEndpoint(account, s.id);
        assert.deepEqual([data.data.endpointId, data.data.type, data.data.tag], [s.id, 'WEBRTC', 'desk']);
      },
      'in the list': async () => {
        const { data } = await endpoints.listEndpoints(account);
        once(
          data.data.map(({ endpointId }) => endpointId),
          [s.id],
          'endpoints',
        );
      },
      deleted: async () => assert.equal((await endpoints.deleteEndpoint(account, s.id)).status, 204),
      'no more there': () => gone(endpoints.getEndpoint(account, s.id)),
    }),

    'wrong credentials are refused': (_bandwidth, _s, another) => ({
      'no messages': () => refused(another(pair('no', 'body')).messages.listMessages(account), 401),
      'none is sent': () => refused(send(another(pair('no', 'body')), 'Stolen'), 401),
      'no calls': () => refused(another(pair('no', 'body')).calls.listCalls(account), 401),
      'no endpoints': () => refused(another(pair('no', 'body')).endpoints.listEndpoints(account), 401),
    }),

    'what is not there': ({ calls, media, conferences, endpoints, tollFree }) => ({
      'no such call': () => gone(calls.getCallState(account, 'c-15ac29a2-1331029c')),
      'no such file': () => gone(media.getMedia(account, 'never-sent.txt')),
      'no such conference': () => gone(conferences.getConference(account, 'conf-fe23a767')),
      'no such endpoint': () => gone(endpoints.getEndpoint(account, 'e-15ac29a2')),
      'nobody hears of what was not subscribed': () => gone(tollFree.deleteWebhookSubscription(account, 'no-such-hook')),
    }),

    'what is not right': ({ calls, messages, codes, tollFree }) => ({
      'a message to nobody': () =>
        refused(messages.createMessage(account, { applicationId, from: ours, text: 'Hm' } as never), 400),
      'a message of no priority there is': () =>
        refused(
          messages.createMessage(account, {
            applicationId,
            to: new Set([theirs]),
            from: ours,
            text: 'Hm',
            priority: 'low' as never,
          }),
          400,
        ),
      'a call that nothing answers': () =>
        refused(calls.createCall(account, { applicationId, to: theirs, from: ours } as never), 400),
      'a code of no length': () => refused(codes.generateMessagingCode(account, { to: theirs, from: ours } as never), 400),
      'a subscription to nowhere': () => refused(tollFree.createWebhookSubscription(account, {} as never), 400),
    }),
  },
};
