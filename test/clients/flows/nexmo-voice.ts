import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { Auth } from '@vonage/auth';
import { type CallEndpointResponse, CallStatus, HttpMethod, NCCOActions, Voice, WebsocketBitrate } from '@vonage/voice';
import { given, numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/** The key of the application, with which the client signs a token of its own for each request. */
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

/** What is shown of the credential is the id of the application, within the token. */
const connect = (place: Place, token: string): Voice =>
  new Voice(new Auth({ applicationId: token, privateKey }), { apiHost: place.url });

const nowhere = '63f61863-4a51-4f6b-86e1-46edebcf9356';
const noConversation = 'CON-f972836a-550f-45fa-956c-12a2ab5b7d22';
const stranger = '00000000-1111-4222-8333-444444444444';
const [long, later] = ['2020-01-01T00:00:00Z', '2099-01-01T00:00:00Z'];

const states: ReadonlySet<string> = new Set(Object.values(CallStatus));
/** What a call that was hung up may have come to. */
const over: ReadonlySet<string> = new Set(['completed', 'busy', 'cancelled', 'failed', 'rejected', 'timeout', 'unanswered']);

type Call = Parameters<Voice['createOutboundCall']>[0];
const from = { type: 'phone', number: '447700900001' } as const;
const to = { type: 'phone', number: '447700900000' } as const;
const talk = (text: string) => [{ action: NCCOActions.TALK as const, text }];

/** A call that has begun. */
const call = async (v: Voice, s: State, as = 'call', text = 'Hello World'): Promise<void> => {
  const made = await v.createOutboundCall({ to: [to], from, ncco: talk(text) });
  s[as] = given(made.uuid, 'uuid of the call');
  s[`${as}In`] = given(made.conversationUUID, 'uuid of the conversation');
};

const uuids = (page: { readonly _embedded: { readonly calls: readonly { readonly uuid: string }[] } }): string[] =>
  page._embedded.calls.map(({ uuid }) => uuid);

const wrong = (made: object): Call => made as unknown as Call;

/** What an action in a call answers: the call it was for, and words. */
const done = (answer: { readonly uuid: string; readonly message: string }, uuid: string): void => {
  assert.equal(answer.uuid, uuid);
  assert.ok(typeof answer.message === 'string' && answer.message.length > 0, 'the answer has no message');
};

/** Guides of developer.vonage.com/voice/voice-api: "Overview", "Call flow", "Make an outbound call", "Retrieve call information",
 * "Text to speech", "Play an audio stream", "Transfer a call", "DTMF", and the API's reference. */
export const vendor: Vendor<Voice> = {
  document: 'nexmo/voice.json',
  header: 'Authorization',
  word: 'Bearer',
  made: '78d335fa-323d-0114-9c3d-d6f0d48968cf',
  hides: true,
  client: connect,
  strict: ['an application that is refused'],
  flows: {
    'a call that says something': (v, s) => ({
      call: async () => {
        const made = await v.createOutboundCall({ to: [to], from, ncco: talk('This is a text to speech call from Vonage') });
        s.call = given(made.uuid, 'uuid of the call');
        s.in = given(made.conversationUUID, 'uuid of the conversation');
        assert.equal(made.direction, 'outbound');
        assert.ok(states.has(made.status), `state ${made.status}`);
      },
      read: async () => {
        const read = await v.getCall(s.call);
        assert.deepEqual([read.uuid, read.conversationUUID, read.direction], [s.call, s.in, 'outbound']);
        assert.ok(states.has(read.status), `state ${read.status}`);
      },
      'whom it is from': async () => {
        const read = await v.getCall(s.call);
        assert.deepEqual([read.from.type, read.from.number], ['phone', '447700900001']);
      },
      'whom it is for': async () => {
        const read = (await v.getCall(s.call)).to as { readonly type: string; readonly number: string };
        assert.deepEqual([read.type, read.number], ['phone', '447700900000']);
      },
      'it is listed': async () => {
        const page = await v.search({ conversationUuid: s.in });
        once(uuids(page), [s.call], 'calls');
      },
      'what it costs is told when it has ended': async () => {
        const { status, price, duration } = await v.getCall(s.call);
        if (status !== 'completed') assert.deepEqual([price ?? null, duration ?? null], [null, null]);
        else assert.deepEqual([typeof price, typeof duration], ['string', 'string']);
      },
    }),

    'a call that asks elsewhere what to do': (v, s) => ({
      call: async () => {
        const made = await v.createOutboundCall({
          to: [to],
          from,
          answerUrl: ['https://example.com/answer'],
          answerMethod: HttpMethod.GET,
          eventUrl: ['https://example.com/event'],
          eventMethod: HttpMethod.POST,
          lengthTimer: 600,
          ringingTimer: 30,
        });
        s.call = given(made.uuid, 'uuid of the call');
        s.in = given(made.conversationUUID, 'uuid of the conversation');
        assert.equal(made.direction, 'outbound');
      },
      'a voicemail may be at the other end': async () => {
        const made = await v.createOutboundCall(
          wrong({ to: [to], from, answerUrl: ['https://example.com/answer'], machineDetection: 'continue' }),
        );
        s.other = given(made.uuid, 'uuid of the call');
        assert.notEqual(made.uuid, s.call);
      },
      'each is a conversation of its own': async () => {
        const read = await v.getCall(s.other);
        assert.equal(read.uuid, s.other);
        assert.notEqual(read.conversationUUID, s.in);
      },
      'and is read as it was made': async () => {
        const read = await v.getCall(s.call);
        assert.deepEqual(
          [read.uuid, read.conversationUUID, read.from.number, read.direction],
          [s.call, s.in, '447700900001', 'outbound'],
        );
      },
    }),

    'calls to what is no telephone': (v, s) => ({
      'to a SIP address': async () => {
        const made = await v.createOutboundCall({
          to: [{ type: 'sip', uri: 'sip:rebekka@sip.example.com' }],
          from,
          ncco: talk('Hello Rebekka'),
        });
        s.sip = given(made.uuid, 'uuid of the call');
      },
      'to a socket': async () => {
        const socket = {
          type: 'websocket',
          uri: 'wss://example.com/socket',
          'content-type': WebsocketBitrate.RATE_16000,
          headers: { customer_id: 'ABC123' },
        };
        const made = await v.createOutboundCall(wrong({ to: [socket], from, ncco: talk('Hello socket') }));
        s.socket = given(made.uuid, 'uuid of the call');
      },
      'to an extension': async () => {
        const made = await v.createOutboundCall({
          to: [{ type: 'vbc', extension: '1234' }],
          from,
          ncco: talk('Hello extension'),
        });
        s.vbc = given(made.uuid, 'uuid of the call');
      },
      'three calls': async () => assert.equal(new Set([s.sip, s.socket, s.vbc]).size, 3),
      'each says what it is for': async () => {
        const types: string[] = [];
        for (const uuid of [s.sip, s.socket, s.vbc]) types.push(((await v.getCall(uuid)).to as CallEndpointResponse).type);
        assert.deepEqual(types, ['sip', 'websocket', 'vbc']);
      },
    }),

    'calls page by page': (v, s) => ({
      'three calls': async () => {
        await call(v, s, 'a', 'one');
        await call(v, s, 'b', 'two');
        await call(v, s, 'c', 'three');
        assert.equal(new Set([s.a, s.b, s.c]).size, 3);
      },
      'two of them': async () => {
        const page = await v.getCallsPage({ pageSize: 2 });
        assert.deepEqual([page._embedded.calls.length, page.page_size, page.record_index], [2, 2, 0]);
        assert.ok(page.count >= 3, `${page.count} calls in all`);
      },
      'the next are others': async () => {
        const first = await v.getCallsPage({ pageSize: 2, recordIndex: 0 });
        const second = await v.getCallsPage({ pageSize: 2, recordIndex: 2 });
        assert.equal(second.record_index, 2);
        for (const uuid of uuids(second)) assert.ok(!uuids(first).includes(uuid), `${uuid} is on both pages`);
      },
      'all pages': async () => {
        const ask = async (page: number) => uuids(await v.getCallsPage({ pageSize: 2, recordIndex: page * 2 }));
        once(await numbered(ask, 0), [s.a, s.b, s.c], 'calls');
      },
      'as many as there are': async () => {
        const page = await v.getCallsPage({ pageSize: 100 });
        assert.equal(page._embedded.calls.length, Math.min(100, page.count));
      },
      'from the last to the first': async () => {
        const mine = async (order: 'asc' | 'desc') =>
          uuids(await v.getCallsPage({ pageSize: 100, order })).filter((uuid) => [s.a, s.b, s.c].includes(uuid));
        assert.deepEqual(await mine('asc'), [s.a, s.b, s.c]);
        assert.deepEqual(await mine('desc'), [s.c, s.b, s.a]);
      },
    }),

    'calls of a conversation, a state, a time': (v, s) => ({
      'two calls': async () => {
        await call(v, s, 'a', 'one');
        await call(v, s, 'b', 'two');
        assert.notEqual(s.aIn, s.bIn);
      },
      'those of one conversation': async () => {
        const page = await v.search({ conversationUuid: s.aIn });
        once(uuids(page), [s.a], 'calls');
        for (const { conversation_uuid } of page._embedded.calls) assert.equal(conversation_uuid, s.aIn);
      },
      'walked by the client': async () => {
        const found: string[] = [];
        for await (const { uuid, conversationUUID } of v.getAllCalls({ conversationUuid: s.bIn })) {
          assert.equal(conversationUUID, s.bIn);
          found.push(uuid);
        }
        once(found, [s.b], 'calls');
      },
      'those in the state of one': async () => {
        const { status } = await v.getCall(s.a);
        const page = await v.search({ status, pageSize: 100, order: 'desc' });
        once(uuids(page), [s.a], 'calls');
        for (const row of page._embedded.calls) assert.equal(row.status, status);
      },
      'in another it is not': async () => {
        const { status } = await v.getCall(s.a);
        const other = status === CallStatus.BUSY ? CallStatus.REJECTED : CallStatus.BUSY;
        const page = await v.search({ status: other, conversationUuid: s.aIn });
        assert.deepEqual(uuids(page), []);
      },
      'of a time that it is in': async () => {
        const page = await v.search({ conversationUuid: s.aIn, dateStart: long, dateEnd: later });
        once(uuids(page), [s.a], 'calls');
      },
      'and of others': async () => {
        assert.deepEqual(uuids(await v.search({ conversationUuid: s.aIn, dateEnd: long })), []);
        assert.deepEqual(uuids(await v.search({ conversationUuid: s.aIn, dateStart: later })), []);
      },
    }),

    'a call that is hung up': (v, s) => ({
      'two calls': async () => {
        await call(v, s);
        await call(v, s, 'other');
        s.was = (await v.getCall(s.other)).status;
      },
      'hang up': () => v.hangupCall(s.call),
      'it is over': async () => {
        const { uuid, status } = await v.getCall(s.call);
        assert.equal(uuid, s.call);
        assert.ok(over.has(status), `state ${status}`);
      },
      'the other is not': async () => assert.equal((await v.getCall(s.other)).status, s.was),
      'it is still listed': async () => once(uuids(await v.search({ conversationUuid: s.callIn })), [s.call], 'calls'),
      'in its new state': async () => {
        const { status } = await v.getCall(s.call);
        once(uuids(await v.search({ status, conversationUuid: s.callIn })), [s.call], 'calls');
      },
    }),

    'who hears whom': (v, s) => ({
      'a call': () => call(v, s),
      mute: () => v.muteCall(s.call),
      unmute: () => v.unmuteCall(s.call),
      earmuff: () => v.earmuffCall(s.call),
      unearmuff: () => v.unearmuffCall(s.call),
      'it is still the same call': async () => {
        const read = await v.getCall(s.call);
        assert.deepEqual([read.uuid, read.conversationUUID, read.from.number], [s.call, s.callIn, '447700900001']);
      },
    }),

    'a call that is sent on': (v, s) => ({
      'a call': () => call(v, s),
      'to a conversation': () =>
        v.transferCallWithNCCO(s.call, [
          { action: NCCOActions.TALK, text: 'You will be connected' },
          { action: NCCOActions.CONVERSATION, name: 'support' },
        ]),
      'to what an address says': () => v.transferCallWithURL(s.call, 'https://example.com/ncco.json'),
      'it is still there': async () => {
        const read = await v.getCall(s.call);
        assert.deepEqual([read.uuid, read.direction], [s.call, 'outbound']);
        assert.ok(states.has(read.status), `state ${read.status}`);
      },
      'not without saying where to': () => {
        const url = `${given(v.getConfig().apiHost, 'host')}/v1/calls/${s.call}`;
        return refused(v.sendPutRequest(url, { action: 'transfer' }), 400);
      },
    }),

    'a voice in a call': (v, s) => ({
      'a call': () => call(v, s),
      talk: async () => {
        const talking = { action: NCCOActions.TALK as const, text: 'Hello. How are you today?' };
        done(await v.playTTS(s.call, talking), s.call);
      },
      'in another language, louder, twice': async () => {
        const talking = { action: NCCOActions.TALK as const, text: 'Guten Tag', language: 'de-DE', level: '0.4', loop: 2 };
        done(await v.playTTS(s.call, talking), s.call);
      },
      'be silent': async () => done(await v.stopTTS(s.call), s.call),
      'nothing without a text': () => refused(v.playTTS(s.call, {} as unknown as Parameters<Voice['playTTS']>[1]), 400),
      'nothing in Klingon': () => {
        const talking = { action: NCCOActions.TALK as const, text: 'nuqneH', language: 'tlh' };
        return refused(v.playTTS(s.call, talking), 400);
      },
    }),

    'music and tones in a call': (v, s) => ({
      'a call': () => call(v, s),
      music: async () => done(await v.streamAudio(s.call, 'https://example.com/waiting.mp3'), s.call),
      'without an end, lower': async () => done(await v.streamAudio(s.call, 'https://example.com/waiting.mp3', 0, -0.4), s.call),
      'no more': async () => done(await v.stopStreamAudio(s.call), s.call),
      tones: async () => done(await v.playDTMF(s.call, '1713'), s.call),
      'the call is still there': async () => assert.equal((await v.getCall(s.call)).uuid, s.call),
    }),

    'what is wrong, or not there': (v) => ({
      'a call that is not there': () => refused(v.getCall(nowhere), 404),
      'it is not hung up, nor sent on': async () => {
        await refused(v.hangupCall(nowhere), 404);
        await refused(v.transferCallWithURL(nowhere, 'https://example.com/ncco.json'), 404);
      },
      'nothing is heard in it': async () => {
        await refused(v.playTTS(nowhere, { action: NCCOActions.TALK, text: 'Hello?' }), 404);
        await refused(v.streamAudio(nowhere, 'https://example.com/waiting.mp3'), 404);
        await refused(v.playDTMF(nowhere, '1'), 404);
      },
      'of a conversation that is not there': async () =>
        assert.deepEqual(uuids(await v.search({ conversationUuid: noConversation })), []),
      'a call from nobody': () => refused(v.createOutboundCall(wrong({ to: [to], ncco: talk('Hello') })), 400),
      'a call that does nothing': () => refused(v.createOutboundCall(wrong({ to: [to], from })), 400),
      'one that lasts too long': () =>
        refused(v.createOutboundCall({ to: [to], from, ncco: talk('Hello'), lengthTimer: 7201 }), 400),
      'pages that are too long': () => refused(v.getCallsPage({ pageSize: 101 }), 400),
      'a state there is not': () => refused(v.getCallsPage({ status: 'asleep' as CallStatus }), 400),
    }),

    'an application that is refused': (_v, _s, another) => ({
      'none are listed': () => refused(another(stranger).getCallsPage({}), 401),
      'none is made': () => refused(another(stranger).createOutboundCall({ to: [to], from, ncco: talk('Hello') }), 401),
      'none is read': () => refused(another(stranger).getCall(nowhere), 401),
      'none is hung up': () => refused(another(stranger).hangupCall(nowhere), 401),
    }),
  },
};
