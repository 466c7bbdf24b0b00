import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { once, type Place, type State, type Vendor } from '../kit.ts';

type Row = Readonly<Record<string, unknown>>;
interface Told {
  readonly code: number;
  readonly message: string;
}
type Answered = (error: Told | null, data: unknown) => void;

/** The part of the client that is used here: it has no types of its own. Each function of the API is also one of its own. */
interface Pads {
  call(name: string, args: object, answered: Answered): void;
}
const { connect } = createRequire(import.meta.url)('etherpad-lite-client') as { connect(options: object): Pads };

const to = (place: Place, apikey: string): Pads =>
  connect({ apikey, host: '127.0.0.1', port: place.port, rootPath: `${new URL(place.base).pathname.replace(/\/$/, '')}/` });

/** One function of the API; the client calls back with an error's code and message. */
const ask = (pads: Pads, name: string, args: object = {}): Promise<Row> =>
  new Promise((resolve, reject) => {
    pads.call(name, args, (error, data) => {
      if (error === null) resolve((data ?? {}) as Row);
      else reject(Object.assign(new Error(`code ${error.code}: ${error.message}`), { told: error.code }));
    });
  });

/** The guide's return codes: 1 for wrong parameters, 4 for no or a wrong API key. */
const wrong = async (answer: Promise<Row>, code = 1): Promise<void> => {
  const told = await answer.then(
    () => undefined,
    (thrown: { told?: number }) => {
      if (thrown.told === undefined) throw thrown;
      return thrown.told;
    },
  );
  assert.equal(told, code, 'the code of the answer');
};

/** A pad's text, which ends with the end of its last line. */
const text = async (pads: Pads, padID: string): Promise<string> => {
  const { text: whole } = await ask(pads, 'getText', { padID });
  assert.equal(typeof whole, 'string');
  return String(whole).trimEnd();
};
const listed = (answer: Row, name: string): string[] => {
  assert.ok(Array.isArray(answer[name]), `${name} is a list`);
  return answer[name] as string[];
};
const pad = async (pads: Pads, padID: string, words = 'Hello'): Promise<void> => {
  await ask(pads, 'createPad', { padID, text: words });
};
const group = async (pads: Pads, s: State): Promise<void> => {
  s.group = String((await ask(pads, 'createGroup')).groupID);
};
const author = async (pads: Pads, name: string): Promise<string> => {
  const { authorID } = await ask(pads, 'createAuthor', { name });
  assert.equal(typeof authorID, 'string');
  return String(authorID);
};

/** The guide shows sessions by their IDs, the description a list of them. */
const sessions = (answer: Row): string[] =>
  Array.isArray(answer.sessions) ? (answer.sessions as Row[]).map(({ id }) => String(id)) : Object.keys(answer);
/** The guide shows what is told of a session by itself, the description within `info`. */
const info = (answer: Row): Row => (answer.info ?? answer) as Row;

const later = 4_102_444_800;

/** Guide: etherpad.org, "HTTP API", its examples and functions, and the client's README. */
export const vendor: Vendor<Pads> = {
  document: 'etherpad/etherpad.local.json',
  // Not a header: the client puts its key into every query.
  header: 'apikey',
  made: 'UcCGa6fPpkLflvPVBysOKs9eeuWV08Ul',
  client: to,
  strict: ['a key that is refused'],
  flows: {
    'a pad is made, written and deleted': (pads) => ({
      create: () => pad(pads, 'minutes', 'Welcome Text'),
      read: async () => assert.equal(await text(pads, 'minutes'), 'Welcome Text'),
      write: () => ask(pads, 'setText', { padID: 'minutes', text: 'Another text' }),
      'it says what was written': async () => assert.equal(await text(pads, 'minutes'), 'Another text'),
      'it is listed': async () => once(listed(await ask(pads, 'listAllPads'), 'padIDs'), ['minutes'], 'pads'),
      delete: () => ask(pads, 'deletePad', { padID: 'minutes' }),
      'it is gone': () => wrong(ask(pads, 'getText', { padID: 'minutes' })),
      'it is listed no more': async () => assert.ok(!listed(await ask(pads, 'listAllPads'), 'padIDs').includes('minutes')),
    }),
    'a pad is made once': (pads) => ({
      create: () => pad(pads, 'once'),
      'not again': () => wrong(ask(pads, 'createPad', { padID: 'once', text: 'Again' })),
      'its text is the first': async () => assert.equal(await text(pads, 'once'), 'Hello'),
      'after it was deleted, it can be': async () => {
        await ask(pads, 'deletePad', { padID: 'once' });
        await pad(pads, 'once', 'Anew');
        assert.equal(await text(pads, 'once'), 'Anew');
      },
    }),
    'more is written at the end': (pads) => ({
      create: () => pad(pads, 'log', 'first'),
      append: () => ask(pads, 'appendText', { padID: 'log', text: 'second' }),
      'both are there, in their order': async () => assert.match(await text(pads, 'log'), /^first\s*second$/),
      'not at the end of a pad that there is not': () => wrong(ask(pads, 'appendText', { padID: 'none', text: 'lost' })),
    }),
    'revisions of a pad': (pads, s) => ({
      create: async () => {
        await pad(pads, 'draft', 'one');
        s.before = String((await ask(pads, 'getRevisionsCount', { padID: 'draft' })).revisions);
      },
      'a change is one more': async () => {
        await ask(pads, 'setText', { padID: 'draft', text: 'two' });
        const { revisions } = await ask(pads, 'getRevisionsCount', { padID: 'draft' });
        assert.ok(Number(revisions) > Number(s.before), `${String(revisions)} is more than ${s.before}`);
      },
      'save one': () => ask(pads, 'saveRevision', { padID: 'draft' }),
      'one is saved': async () => assert.equal((await ask(pads, 'getSavedRevisionsCount', { padID: 'draft' })).savedRevisions, 1),
      'it is listed': async () =>
        assert.equal(listed(await ask(pads, 'listSavedRevisions', { padID: 'draft' }), 'savedRevisions').length, 1),
    }),
    'a pad is copied and moved': (pads) => ({
      create: () => pad(pads, 'original', 'worth keeping'),
      copy: () => ask(pads, 'copyPad', { sourceID: 'original', destinationID: 'copy' }),
      'both have the text': async () =>
        assert.deepEqual([await text(pads, 'original'), await text(pads, 'copy')], ['worth keeping', 'worth keeping']),
      move: () => ask(pads, 'movePad', { sourceID: 'original', destinationID: 'moved' }),
      'it is where it was moved to': async () => assert.equal(await text(pads, 'moved'), 'worth keeping'),
      'it is not where it was': () => wrong(ask(pads, 'getText', { padID: 'original' })),
      'three names, two pads': async () =>
        assert.deepEqual(listed(await ask(pads, 'listAllPads'), 'padIDs').sort(), ['copy', 'moved']),
    }),
    'a group and its pads': (pads, s) => ({
      'create the group': async () => {
        await group(pads, s);
        assert.match(s.group, /^g\./);
      },
      'it has none': async () => assert.deepEqual(listed(await ask(pads, 'listPads', { groupID: s.group }), 'padIDs'), []),
      'create two': async () => {
        for (const padName of ['one', 'two']) {
          await ask(pads, 'createGroupPad', { groupID: s.group, padName, text: `Pad ${padName}` });
        }
      },
      'it has both': async () =>
        assert.deepEqual(listed(await ask(pads, 'listPads', { groupID: s.group }), 'padIDs').sort(), [
          `${s.group}$one`,
          `${s.group}$two`,
        ]),
      'read one by the ID of the group and its name': async () => assert.equal(await text(pads, `${s.group}$two`), 'Pad two'),
      'not the same again': () => wrong(ask(pads, 'createGroupPad', { groupID: s.group, padName: 'one', text: 'Again' })),
    }),
    'a group is deleted': (pads, s) => ({
      create: () => group(pads, s),
      'it is listed': async () => once(listed(await ask(pads, 'listAllGroups'), 'groupIDs'), [s.group], 'groups'),
      delete: () => ask(pads, 'deleteGroup', { groupID: s.group }),
      'it is listed no more': async () => assert.ok(!listed(await ask(pads, 'listAllGroups'), 'groupIDs').includes(s.group)),
      'it has no pads to list': () => wrong(ask(pads, 'listPads', { groupID: s.group })),
      'it cannot be deleted again': () => wrong(ask(pads, 'deleteGroup', { groupID: s.group })),
    }),
    'groups and authors of an application': (pads, s) => ({
      'a group for its own ID': async () => {
        s.group = String((await ask(pads, 'createGroupIfNotExistsFor', { groupMapper: '7' })).groupID);
      },
      'the same for the same': async () =>
        assert.equal((await ask(pads, 'createGroupIfNotExistsFor', { groupMapper: '7' })).groupID, s.group),
      'another for another': async () =>
        assert.notEqual((await ask(pads, 'createGroupIfNotExistsFor', { groupMapper: '8' })).groupID, s.group),
      'an author for its own ID': async () => {
        const asked = { authorMapper: '7', name: 'Michael' };
        s.author = String((await ask(pads, 'createAuthorIfNotExistsFor', asked)).authorID);
        assert.equal((await ask(pads, 'createAuthorIfNotExistsFor', asked)).authorID, s.author);
      },
    }),
    'a session, as the guide begins one': (pads, s) => ({
      'an author and a group': async () => {
        await group(pads, s);
        s.author = await author(pads, 'Michael');
      },
      'create it': async () => {
        const asked = { groupID: s.group, authorID: s.author, validUntil: later };
        s.id = String((await ask(pads, 'createSession', asked)).sessionID);
        assert.match(s.id, /^s\./);
      },
      'what is told of it': async () => {
        const read = info(await ask(pads, 'getSessionInfo', { sessionID: s.id }));
        assert.deepEqual([read.groupID, read.authorID, read.validUntil], [s.group, s.author, later]);
      },
      'the group has it': async () =>
        once(sessions(await ask(pads, 'listSessionsOfGroup', { groupID: s.group })), [s.id], 'sessions'),
      'the author has it': async () =>
        once(sessions(await ask(pads, 'listSessionsOfAuthor', { authorID: s.author })), [s.id], 'sessions'),
      delete: () => ask(pads, 'deleteSession', { sessionID: s.id }),
      'it is gone': () => wrong(ask(pads, 'getSessionInfo', { sessionID: s.id })),
    }),
    'sessions that cannot be': (pads, s) => ({
      'an author and a group': async () => {
        await group(pads, s);
        s.author = await author(pads, 'Ann');
      },
      'of a group that there is not': () =>
        wrong(ask(pads, 'createSession', { groupID: 'g.s8oes9dhwrvt0zif', authorID: s.author, validUntil: later })),
      'of an author that there is not': () =>
        wrong(ask(pads, 'createSession', { groupID: s.group, authorID: 'a.s8oes9dhwrvt0zif', validUntil: later })),
      'until a time in the past': () =>
        wrong(ask(pads, 'createSession', { groupID: s.group, authorID: s.author, validUntil: 1_312_201_246 })),
    }),
    'who may read the pad of a group': (pads, s) => ({
      create: async () => {
        await group(pads, s);
        await ask(pads, 'createGroupPad', { groupID: s.group, padName: 'plan', text: 'Secret' });
        s.pad = `${s.group}$plan`;
      },
      'not everybody': async () => assert.equal((await ask(pads, 'getPublicStatus', { padID: s.pad })).publicStatus, false),
      'make it public': () => ask(pads, 'setPublicStatus', { padID: s.pad, publicStatus: true }),
      'everybody now': async () => assert.equal((await ask(pads, 'getPublicStatus', { padID: s.pad })).publicStatus, true),
    }),
    'a pad for those who only read': (pads, s) => ({
      create: () => pad(pads, 'public', 'For all'),
      'its other ID': async () => {
        s.id = String((await ask(pads, 'getReadOnlyID', { padID: 'public' })).readOnlyID);
        assert.match(s.id, /^r\./);
      },
      'the same each time': async () => assert.equal((await ask(pads, 'getReadOnlyID', { padID: 'public' })).readOnlyID, s.id),
      'it leads back': async () => assert.equal((await ask(pads, 'getPadID', { roID: s.id })).padID, 'public'),
      'nobody is there': async () => assert.equal((await ask(pads, 'padUsersCount', { padID: 'public' })).padUsersCount, 0),
    }),
    'the chat beside a pad': (pads, s) => ({
      'a pad and an author': async () => {
        await pad(pads, 'talk');
        s.author = await author(pads, 'John McLear');
      },
      'say three things': async () => {
        for (const [time, words] of ['foo', 'bar', 'baz'].entries()) {
          await ask(pads, 'appendChatMessage', { padID: 'talk', text: words, authorID: s.author, time: 1_359_199_533 + time });
        }
      },
      'all of them': async () => {
        const rows = (await ask(pads, 'getChatHistory', { padID: 'talk' })).messages as Row[];
        assert.deepEqual(
          rows.map((row) => [row.text, row.userId]),
          [
            ['foo', s.author],
            ['bar', s.author],
            ['baz', s.author],
          ],
        );
      },
      'the first two of them': async () => {
        const rows = (await ask(pads, 'getChatHistory', { padID: 'talk', start: 0, end: 1 })).messages as Row[];
        assert.deepEqual(
          rows.map((row) => row.text),
          ['foo', 'bar'],
        );
      },
      'not of a pad that there is not': () => wrong(ask(pads, 'getChatHistory', { padID: 'silence' })),
    }),
    'a key that is refused': (pads, _s, another) => ({
      'the right one is taken': () => ask(pads, 'checkToken'),
      'another is not': () => wrong(ask(another('not-the-key'), 'checkToken'), 4),
      'none makes nothing': () => wrong(ask(another(''), 'createPad', { padID: 'theirs' }), 4),
    }),
    'requests that are wrong': (pads) => ({
      'the text of a pad that there is not': () => wrong(ask(pads, 'getText', { padID: 'none' })),
      'a text for a pad that there is not': () => wrong(ask(pads, 'setText', { padID: 'none', text: 'lost' })),
      'a pad that was never made is not deleted': () => wrong(ask(pads, 'deletePad', { padID: 'none' })),
      'the pads of an author that there is not': () => wrong(ask(pads, 'listPadsOfAuthor', { authorID: 'a.none' })),
      'a copy of nothing': () => wrong(ask(pads, 'copyPad', { sourceID: 'none', destinationID: 'copy' })),
    }),
  },
};
