import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

/** What the client gives: what it made of the answer, and the answer as it came. */
interface Reply<Data> {
  readonly data: Data;
  readonly body: unknown;
}
type Then<Data> = (error: unknown, data: Data, response: { readonly body: unknown }) => void;
interface Message {
  readonly sender: string;
  readonly destination: string;
  readonly content: string;
  readonly schedule?: string;
  readonly tag?: string;
}
interface Batch {
  readonly sender: string;
  readonly destinations: readonly string[];
  readonly content: string;
  readonly schedule?: string;
}
interface Query {
  readonly status?: string;
  readonly destination?: string;
  readonly sender?: string;
  readonly limit?: number;
  readonly skip?: number;
}
interface Sent {
  readonly messageid: string;
  readonly status: string;
  readonly credits: number;
}
interface Kept {
  readonly messageid: string;
  readonly batchid?: string;
  readonly sender: string;
  readonly destination: number | string;
  readonly content: string;
  readonly status: string;
  readonly tag?: string;
  readonly created: string;
  readonly modified: string;
}
interface Many {
  readonly batchid: string;
  readonly status: string;
}
interface Api {
  readonly basePath: string;
  readonly authentications: { readonly JWT: { apiKey?: string } };
}
interface Messages {
  sendMessage(message: Message, then: Then<Sent>): unknown;
  scheduleMessage(message: Message, then: Then<unknown>): unknown;
  getMessageById(messageid: string, then: Then<Kept>): unknown;
  getMessages(query: Query, then: Then<unknown>): unknown;
  getInboxMessages(query: Query, then: Then<unknown>): unknown;
  cancelScheduledJob(messageid: string, then: Then<{ readonly messageid: string; readonly status: string }>): unknown;
}
interface Batches {
  sendBatch(batch: Batch, then: Then<Many>): unknown;
  scheduleBatch(batch: Batch, then: Then<Many>): unknown;
  getBatchById(batchid: string, then: Then<unknown>): unknown;
  cancelScheduledBatchJob(batchid: string, then: Then<{ readonly messageid: string; readonly status: string }>): unknown;
}
interface Package {
  readonly ApiClient: new () => Api;
  readonly MessagesApi: new (api: Api) => Messages;
  readonly BatchMessagesApi: new (api: Api) => Batches;
}

/** The package has no types of its own. */
const works = createRequire(import.meta.url)('the-sms-works') as Package;

/** The client calls back; its error has the status. */
const ask = <Data>(call: (then: Then<Data>) => unknown): Promise<Reply<Data>> =>
  new Promise((answer, refuse) => {
    call((error, data, response) => (error ? refuse(error) : answer({ data, body: response.body })));
  });

const connect = (place: Place, token: string) => {
  const api = Object.assign(new works.ApiClient(), { basePath: place.base });
  api.authentications.JWT.apiKey = token;
  const messages = new works.MessagesApi(api);
  const batches = new works.BatchMessagesApi(api);
  /** A list: the client of that release looks for `messages` in it, while the answer is the list itself. */
  const rows = async (call: (then: Then<unknown>) => unknown): Promise<Kept[]> => {
    const { body } = await ask(call);
    assert.ok(Array.isArray(body), 'no list');
    return body as Kept[];
  };
  return {
    send: async (message: Message) => (await ask<Sent>((then) => messages.sendMessage(message, then))).data,
    /** What is told of one for later is a list of one, which the client takes for a single thing. */
    later: async (message: Message): Promise<{ readonly messageid: string; readonly status: string }> => {
      const { body } = await ask((then) => messages.scheduleMessage(message, then));
      return given((body as { messageid: string; status: string }[])[0], 'scheduled message');
    },
    cancel: async (messageid: string) =>
      (await ask<{ messageid: string; status: string }>((then) => messages.cancelScheduledJob(messageid, then))).data,
    read: async (messageid: string) => (await ask<Kept>((then) => messages.getMessageById(messageid, then))).data,
    list: (query: Query) => rows((then) => messages.getMessages(query, then)),
    inbox: (query: Query) => rows((then) => messages.getInboxMessages(query, then)),
    sendBatch: async (batch: Batch) => (await ask<Many>((then) => batches.sendBatch(batch, then))).data,
    batchLater: async (batch: Batch) => (await ask<Many>((then) => batches.scheduleBatch(batch, then))).data,
    cancelBatch: async (batchid: string) =>
      (await ask<{ messageid: string; status: string }>((then) => batches.cancelScheduledBatchJob(batchid, then))).data,
    batch: (batchid: string) => rows((then) => batches.getBatchById(batchid, then)),
  };
};
type Client = ReturnType<typeof connect>;

const message = (content: string, destination = '447777777777', sender = 'YourCompany'): Message => ({
  sender,
  destination,
  content,
});
const batch = (content: string): Batch => ({
  sender: 'YourCompany',
  destinations: ['447777777777', '447777777778', '447777777779'],
  content,
});
const tomorrow = (): string => new Date(Date.now() + 86_400_000).toString();
const keys = (rows: readonly Kept[]): string[] => rows.map(({ messageid }) => given(messageid, 'messageid'));
const send = async (sms: Client, s: State, name: string, what: Message): Promise<void> => {
  s[name] = given((await sms.send(what)).messageid, 'messageid');
};
/** What the service says of what went wrong. */
const told = (thrown: unknown): { message?: unknown; errorCode?: unknown; status?: unknown } =>
  (thrown as { response?: { body?: object } }).response?.body ?? {};

/** Guide: thesmsworks.co.uk/developers (authentication, sending, scheduling, batches, querying messages, errors) and its API reference. */
export const vendor: Vendor<Client> = {
  document: 'sms-works/thesmsworks.co.uk.json',
  header: 'authorization',
  made: 'a.made-up.token',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a message, sent and read': (sms, s) => ({
      sent: async () => {
        const sent = await sms.send(message('Your super awesome message'));
        assert.deepEqual([typeof sent.messageid, typeof sent.status, typeof sent.credits], ['string', 'string', 'number']);
        s.id = sent.messageid;
      },
      read: async () => {
        const read = await sms.read(s.id);
        assert.deepEqual(
          [read.messageid, read.sender, String(read.destination), read.content],
          [s.id, 'YourCompany', '447777777777', 'Your super awesome message'],
        );
      },
      'what became of it, and when': async () => {
        const { status, created, modified } = await sms.read(s.id);
        assert.deepEqual([typeof status, typeof created, typeof modified], ['string', 'string', 'string']);
      },
      'is among those that were sent': async () => once(keys(await sms.list({})), [s.id], 'messages'),
      'as it was read': async () => {
        const [read, rows] = [await sms.read(s.id), await sms.list({})];
        const listed = given(
          rows.find(({ messageid }) => messageid === s.id),
          'message',
        );
        assert.deepEqual([listed.content, listed.sender, listed.status], [read.content, read.sender, read.status]);
      },
    }),

    'a message with a label': (sms, s) => ({
      sent: () => send(sms, s, 'id', { ...message('Summer is here'), tag: 'SummerSpecial' }),
      'another without': () => send(sms, s, 'other', message('Winter is here')),
      'the label is on the one': async () => assert.equal((await sms.read(s.id)).tag, 'SummerSpecial'),
      'not on the other': async () => assert.notEqual((await sms.read(s.other)).tag, 'SummerSpecial'),
      'and so in the list': async () => {
        const rows = await sms.list({});
        once(keys(rows), [s.id, s.other], 'messages');
        assert.equal(rows.find(({ messageid }) => messageid === s.id)?.tag, 'SummerSpecial');
      },
    }),

    'messages through all pages': (sms, s) => ({
      'five are sent': async () => {
        const sent: string[] = [];
        for (let n = 1; n <= 5; n += 1) sent.push((await sms.send(message(`No. ${n}`))).messageid);
        assert.equal(new Set(sent).size, 5);
        s.ids = sent.join(',');
      },
      'all at once': async () => once(keys(await sms.list({})), s.ids.split(','), 'messages'),
      'two of them': async () => assert.equal((await sms.list({ limit: 2 })).length, 2),
      'the next two are others': async () => {
        const first = keys(await sms.list({ limit: 2, skip: 0 }));
        for (const one of keys(await sms.list({ limit: 2, skip: 2 }))) assert.ok(!first.includes(one), one);
      },
      'page after page': async () => {
        const rows = await pages(
          (_from, number) => sms.list({ limit: 2, skip: 2 * (number - 1) }),
          (page) => page,
          (page) => (page.length < 2 ? undefined : 'another'),
        );
        once(keys(rows), s.ids.split(','), 'pages');
      },
    }),

    'messages to somebody': (sms, s) => ({
      'two are sent': async () => {
        await send(sms, s, 'one', message('To one', '447777777701'));
        await send(sms, s, 'two', message('To two', '447777777702'));
      },
      'those to the one': async () => {
        const rows = await sms.list({ destination: '447777777701' });
        once(keys(rows), [s.one], 'messages');
        for (const { destination } of rows) assert.equal(String(destination), '447777777701');
      },
      'those to the other': async () => {
        const rows = keys(await sms.list({ destination: '447777777702' }));
        once(rows, [s.two], 'messages');
        assert.ok(!rows.includes(s.one), 'the other one is there too');
      },
      'none to a third': async () => assert.deepEqual(await sms.list({ destination: '447777777703' }), []),
    }),

    'messages of somebody, and of a kind': (sms, s) => ({
      'two are sent': async () => {
        await send(sms, s, 'one', message('Of one', '447777777777', 'Adam'));
        await send(sms, s, 'two', message('Of two', '447777777777', 'Eve'));
      },
      'those of the one': async () => {
        const rows = await sms.list({ sender: 'Adam' });
        once(keys(rows), [s.one], 'messages');
        for (const { sender } of rows) assert.equal(sender, 'Adam');
      },
      'of the one, to somebody': async () => {
        assert.deepEqual(keys(await sms.list({ sender: 'Eve', destination: '447777777777' })), [s.two]);
        assert.deepEqual(await sms.list({ sender: 'Eve', destination: '447777777700' }), []);
      },
      'what was delivered': async () => {
        for (const { status } of await sms.list({ status: 'DELIVERED' })) assert.equal(status, 'DELIVERED');
      },
      'and what was not': async () => {
        for (const { status } of await sms.list({ status: 'UNDELIVERABLE' })) assert.equal(status, 'UNDELIVERABLE');
      },
    }),

    'a message for later, which is not sent': (sms, s) => ({
      scheduled: async () => {
        const { messageid, status } = await sms.later({ ...message('Tomorrow'), schedule: tomorrow() });
        assert.equal(status, 'SCHEDULED');
        s.id = given(messageid, 'messageid');
      },
      'another, with a number of its own': async () => {
        s.other = (await sms.later({ ...message('Tomorrow as well'), schedule: tomorrow() })).messageid;
        assert.notEqual(s.other, s.id);
      },
      'the one is cancelled': async () => {
        const { messageid, status } = await sms.cancel(s.id);
        assert.deepEqual([messageid, status], [s.id, 'CANCELLED']);
      },
      'and the other': async () => assert.equal((await sms.cancel(s.other)).messageid, s.other),
    }),

    'one now and one for later': (sms, s) => ({
      'now, to somebody': () => send(sms, s, 'id', message('Now', '447777777710')),
      'for later': async () => {
        const { messageid, status } = await sms.later({ ...message('Later', '447777777711'), schedule: tomorrow() });
        assert.equal(status, 'SCHEDULED');
        s.later = given(messageid, 'messageid');
        assert.notEqual(s.later, s.id);
      },
      'the one of now is sent': async () => once(keys(await sms.list({ destination: '447777777710' })), [s.id], 'messages'),
      'the other is cancelled': async () => assert.equal((await sms.cancel(s.later)).status, 'CANCELLED'),
      'the one of now stays': async () => assert.equal((await sms.read(s.id)).content, 'Now'),
    }),

    'a batch': (sms, s) => ({
      sent: async () => {
        const sent = await sms.sendBatch(batch('My super awesome batch message'));
        assert.deepEqual([typeof sent.batchid, typeof sent.status], ['string', 'string']);
        s.id = sent.batchid;
      },
      'its messages': async () => {
        const rows = await sms.batch(s.id);
        assert.ok(rows.length > 0, 'none');
        for (const { batchid, content } of rows)
          assert.deepEqual([String(batchid), content], [s.id, 'My super awesome batch message']);
      },
      'one to each': async () =>
        once(
          (await sms.batch(s.id)).map(({ destination }) => String(destination)),
          ['447777777777', '447777777778', '447777777779'],
          'messages',
        ),
      'each with a number of its own': async () => {
        const numbers = keys(await sms.batch(s.id));
        assert.equal(new Set(numbers).size, numbers.length);
      },
      'by which it is read': async () => {
        const one = given(keys(await sms.batch(s.id))[0], 'message');
        assert.equal((await sms.read(one)).sender, 'YourCompany');
      },
    }),

    'two batches': (sms, s) => ({
      'two are sent': async () => {
        s.one = (await sms.sendBatch(batch('First'))).batchid;
        s.two = (await sms.sendBatch({ ...batch('Second'), destinations: ['447777777720'] })).batchid;
        assert.notEqual(s.one, s.two);
      },
      'the one has its own messages': async () => {
        for (const { content } of await sms.batch(s.one)) assert.equal(content, 'First');
      },
      'the other its own': async () => {
        const rows = await sms.batch(s.two);
        assert.deepEqual(
          rows.map(({ content, destination }) => [content, String(destination)]),
          [['Second', '447777777720']],
        );
      },
      'no message is in both': async () => {
        const one = keys(await sms.batch(s.one));
        for (const key of keys(await sms.batch(s.two))) assert.ok(!one.includes(key), key);
      },
    }),

    'a batch for later, which is not sent': (sms, s) => ({
      scheduled: async () => {
        const { batchid, status } = await sms.batchLater({ ...batch('Tomorrow'), schedule: tomorrow() });
        assert.equal(status, 'SCHEDULED');
        s.id = given(batchid, 'batchid');
      },
      'another, with a number of its own': async () => {
        s.other = (await sms.batchLater({ ...batch('Tomorrow as well'), schedule: tomorrow() })).batchid;
        assert.notEqual(s.other, s.id);
      },
      'the one is cancelled': async () => assert.equal((await sms.cancelBatch(s.id)).status, 'CANCELLED'),
      'and the other': async () => assert.equal((await sms.cancelBatch(s.other)).status, 'CANCELLED'),
    }),

    'what came in': (sms) => ({
      all: async () => {
        for (const { content, sender, status } of await sms.inbox({}))
          assert.deepEqual([typeof content, typeof sender, typeof status], ['string', 'string', 'string']);
      },
      'not more than asked': async () => assert.ok((await sms.inbox({ limit: 1 })).length <= 1, 'more'),
      'of somebody': async () => {
        for (const { sender } of await sms.inbox({ sender: '447777777730' })) assert.equal(String(sender), '447777777730');
      },
      'what was sent is not among it': async () => {
        const { messageid } = await sms.send(message('Out, not in'));
        assert.ok(!keys(await sms.inbox({})).includes(messageid), 'it is');
      },
    }),

    'what it costs': (sms, s) => ({
      'what is left after one': async () => {
        const { credits } = await sms.send(message('One'));
        assert.ok(Number.isFinite(credits), String(credits));
        s.left = String(credits);
      },
      'not more after another': async () => {
        const { credits } = await sms.send(message('Two'));
        assert.ok(credits <= Number(s.left), `${credits} after ${s.left}`);
        s.left = String(credits);
      },
      'reading is free': async () => {
        const { messageid, credits } = await sms.send(message('Three'));
        await sms.read(messageid);
        assert.ok((await sms.send(message('Four'))).credits <= credits, 'more');
      },
      'each was sent': async () => {
        const said = (await sms.list({})).map(({ content }) => content);
        once(said, ['One', 'Two', 'Three', 'Four'], 'messages');
      },
    }),

    'a token that is refused': (sms, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray(await sms.list({})), 'no list'),
      'a wrong one is not, to read': () => refused(another('wrong').read('123456789'), 401),
      'for a message': () => refused(another('wrong').send(message('Stolen')), 401),
      'for a batch': () => refused(another('wrong').sendBatch(batch('Stolen')), 401),
      'for the list': () => refused(another('wrong').list({}), 401),
    }),

    'what is not there': (sms) => ({
      'no such message': async () => {
        const thrown = await refused(sms.read('987654321'), 404);
        assert.equal(typeof told(thrown).message, 'string');
      },
      'no such batch': async () => {
        const thrown = await refused(sms.batch('987654321'), 404);
        assert.equal(typeof told(thrown).message, 'string');
      },
      'none among those to somebody': async () => assert.deepEqual(await sms.list({ destination: '447777777799' }), []),
      'what was sent is there all the same': async () => {
        const { messageid } = await sms.send(message('Here'));
        assert.equal((await sms.read(messageid)).messageid, messageid);
      },
    }),

    'what is not right': (sms) => ({
      'a message says something': async () => {
        const thrown = await refused(sms.send({ sender: 'YourCompany', destination: '447777777777' } as Message), 400, 422);
        const { message: why, errorCode, status } = told(thrown);
        assert.deepEqual([typeof why, typeof errorCode, typeof status], ['string', 'number', 'string']);
      },
      'to somebody': () => refused(sms.send({ sender: 'YourCompany', content: 'Hello' } as Message), 400, 422),
      'of somebody': () => refused(sms.send({ destination: '447777777777', content: 'Hello' } as Message), 400, 422),
      'a batch goes to a list': () =>
        refused(sms.sendBatch({ ...batch('Hello'), destinations: { one: '447777777777' } as never }), 400, 422),
      'as many as a number': () => refused(sms.list({ limit: 'many' as unknown as number }), 400, 422),
    }),
  },
};
