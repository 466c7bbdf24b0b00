import assert from 'node:assert/strict';
import { FlatClient, noRetry } from 'flat-api';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

const connect = (place: Place, accessToken: string): FlatClient =>
  new FlatClient({ accessToken, baseUrl: place.base, retry: noRetry });

/** The smallest score in MusicXML: one part with one whole note. */
const music = (note: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?><score-partwise version="3.1"><part-list><score-part id="P1"><part-name>Flute</part-name></score-part></part-list><part id="P1"><measure number="1"><attributes><divisions>1</divisions><time><beats>4</beats><beat-type>4</beat-type></time><clef><sign>G</sign><line>2</line></clef></attributes><note><pitch><step>${note}</step><octave>4</octave></pitch><duration>4</duration><type>whole</type></note></measure></part></score-partwise>`;

const id = (row: { id?: string }): string => given(row.id, 'id');
const ids = (rows: { id?: string }[]): string[] => rows.map((row) => row.id ?? '');

const score = async (flat: FlatClient, title: string): Promise<string> =>
  id(await flat.scores.createScore({ body: { title, privacy: 'private', data: music('C') } }));

const collection = async (flat: FlatClient, title: string): Promise<string> =>
  id(await flat.collections.createCollection({ body: { title, privacy: 'private' } }));

const commented = async (flat: FlatClient, s: State): Promise<void> => {
  s.score = await score(flat, 'Sonatina');
  s.id = id(await flat.scores.postScoreComment({ score: s.score, body: { comment: 'Slower here' } }));
};

/** What Flat says of an error: a code and a message. */
const told = async (thrown: unknown): Promise<{ code?: unknown; message?: unknown }> =>
  (thrown as { response: Response }).response.json() as Promise<{ code?: unknown; message?: unknown }>;

/** Guide: flat.io/developers/docs/api: "Scores", "Collections", "Comments", "Collaborators", "Revisions", "Pagination", "Errors". */
export const vendor: Vendor<FlatClient> = {
  document: 'flat/flat.io.json',
  header: 'Authorization',
  word: 'Bearer',
  made: '069a432778b1a75a2a4e0b1cf1c9d7ae',
  client: connect,
  strict: ['a credential that is refused'],
  flows: {
    'a score is created, read, renamed and deleted': (flat, s) => ({
      create: async () => {
        const made = await flat.scores.createScore({
          body: { title: 'Prelude in C', privacy: 'private', data: music('C') },
        });
        s.id = id(made);
        assert.deepEqual([made.title, made.privacy], ['Prelude in C', 'private']);
      },
      read: async () => {
        const read = await flat.scores.getScore({ score: s.id });
        assert.deepEqual([read.id, read.title, read.privacy], [s.id, 'Prelude in C', 'private']);
      },
      rename: async () => {
        const changed = await flat.scores.editScore({ score: s.id, body: { title: 'Prelude in C major' } });
        assert.equal(changed.title, 'Prelude in C major');
      },
      'its privacy is as before': async () => {
        const read = await flat.scores.getScore({ score: s.id });
        assert.deepEqual([read.title, read.privacy], ['Prelude in C major', 'private']);
      },
      delete: () => flat.scores.deleteScore({ score: s.id, now: true }),
      'it is not accessible any more': () => refused(flat.scores.getScore({ score: s.id }), 403, 404),
    }),
    'what is known of a score': (flat, s) => ({
      create: async () => {
        s.id = await score(flat, 'Nocturne');
      },
      'say who wrote it': async () => {
        const body = { subtitle: 'For piano', composer: 'F. Chopin', arranger: 'A. Nobody', tags: ['piano', 'night'] };
        assert.partialDeepStrictEqual(await flat.scores.editScore({ score: s.id, body }), body);
      },
      'say that it is an original, and how it may be used': async () => {
        const body = { creationType: 'original', license: 'cc-by-sa', description: 'Played at night' } as const;
        assert.partialDeepStrictEqual(await flat.scores.editScore({ score: s.id, body }), body);
      },
      'all of it is read': async () =>
        assert.partialDeepStrictEqual(await flat.scores.getScore({ score: s.id }), {
          title: 'Nocturne',
          subtitle: 'For piano',
          composer: 'F. Chopin',
          tags: ['piano', 'night'],
          creationType: 'original',
          license: 'cc-by-sa',
        }),
    }),
    'a score out of the trash': (flat, s) => ({
      create: async () => {
        s.id = await score(flat, 'Etude');
      },
      'to the trash': () => flat.scores.deleteScore({ score: s.id }),
      'and back': () => flat.scores.untrashScore({ score: s.id }),
      'it is there': async () => assert.equal((await flat.scores.getScore({ score: s.id })).title, 'Etude'),
    }),
    'a collection is created, renamed and deleted': (flat, s) => ({
      create: async () => {
        const made = await flat.collections.createCollection({ body: { title: 'Baroque', privacy: 'private' } });
        s.id = id(made);
        assert.deepEqual([made.title, made.privacy], ['Baroque', 'private']);
      },
      'it is in the root collection': async () =>
        once(ids(await flat.collections.listCollections({ parent: 'root' })), [s.id], 'collections'),
      rename: async () =>
        assert.equal(
          (await flat.collections.editCollection({ collection: s.id, body: { title: 'Early music' } })).title,
          'Early music',
        ),
      'read with its new title': async () => {
        const read = await flat.collections.getCollection({ collection: s.id });
        assert.deepEqual([read.id, read.title], [s.id, 'Early music']);
      },
      delete: () => flat.collections.deleteCollection({ collection: s.id }),
      'no more in the root collection': async () =>
        assert.ok(!ids(await flat.collections.listCollections({ parent: 'root' })).includes(s.id)),
    }),
    'a collection out of the trash': (flat, s) => ({
      create: async () => {
        s.id = await collection(flat, 'Drafts');
      },
      'to the trash': () => flat.collections.deleteCollection({ collection: s.id }),
      'and back': async () => {
        // The client's other form of this call wants a body, which the description does not promise.
        await flat.collections.untrashCollectionRaw({ collection: s.id });
      },
      'in the root collection': async () =>
        once(ids(await flat.collections.listCollections({ parent: 'root' })), [s.id], 'collections'),
    }),
    'collections through all pages': (flat, s) => ({
      'create five': async () => {
        const made: string[] = [];
        for (const title of ['Cantatas', 'Duets', 'Arias', 'Etudes', 'Ballads']) made.push(await collection(flat, title));
        s.ids = made.join(',');
      },
      'a page is no longer than asked for': async () =>
        assert.equal((await flat.collections.listCollections({ parent: 'root', limit: 2 })).length, 2),
      'the client walks pages of two': async () => {
        const rows: string[] = [];
        for await (const row of flat.paginate<{ id?: string }>('listCollections', { parent: 'root', limit: 2 })) {
          rows.push(id(row));
          assert.ok(rows.length <= 40, 'the list did not end');
        }
        once(rows, s.ids.split(','), 'collections');
      },
      'by title': async () =>
        assert.deepEqual(
          (await flat.collections.listCollections({ parent: 'root', sort: 'title', direction: 'asc' })).map(({ title }) => title),
          ['Arias', 'Ballads', 'Cantatas', 'Duets', 'Etudes'],
        ),
    }),
    'a score in a collection': (flat, s) => ({
      'create both': async () => {
        s.score = await score(flat, 'Fugue');
        s.id = await collection(flat, 'Counterpoint');
      },
      'put it in': async () =>
        assert.equal((await flat.collections.addScoreToCollection({ collection: s.id, score: s.score })).id, s.score),
      'the collection holds it': async () =>
        assert.deepEqual(ids(await flat.collections.listCollectionScores({ collection: s.id })), [s.score]),
      'take it out': () => flat.collections.deleteScoreFromCollection({ collection: s.id, score: s.score }),
      'the collection is empty': async () =>
        assert.deepEqual(await flat.collections.listCollectionScores({ collection: s.id }), []),
      'the score is there still': async () => assert.equal((await flat.scores.getScore({ score: s.score })).title, 'Fugue'),
    }),
    'a score in two collections': (flat, s) => ({
      'create a score and two collections': async () => {
        s.score = await score(flat, 'Waltz');
        s.first = await collection(flat, 'Dances');
        s.second = await collection(flat, 'Favourites');
      },
      'put it in both': async () => {
        await flat.collections.addScoreToCollection({ collection: s.first, score: s.score });
        await flat.collections.addScoreToCollection({ collection: s.second, score: s.score });
      },
      'the score names both': async () => {
        const { collections } = await flat.scores.getScore({ score: s.score });
        once(collections ?? [], [s.first, s.second], 'collections of the score');
      },
      'out of one, it stays in the other': async () => {
        await flat.collections.deleteScoreFromCollection({ collection: s.first, score: s.score });
        assert.deepEqual(ids(await flat.collections.listCollectionScores({ collection: s.first })), []);
        assert.deepEqual(ids(await flat.collections.listCollectionScores({ collection: s.second })), [s.score]);
      },
    }),
    'comments on a score': (flat, s) => ({
      'a score and its first comment': () => commented(flat, s),
      'an answer to it': async () => {
        const made = await flat.scores.postScoreComment({ score: s.score, body: { comment: 'How slow?', replyTo: s.id } });
        s.answer = id(made);
        assert.deepEqual([made.comment, made.replyTo, made.score], ['How slow?', s.id, s.score]);
      },
      'both are listed': async () =>
        once(ids(await flat.scores.getScoreComments({ score: s.score })), [s.id, s.answer], 'comments'),
      'change the answer': async () => {
        const body = { comment: 'How slow, exactly?' };
        const changed = await flat.scores.updateScoreComment({ score: s.score, comment: s.answer, body });
        assert.deepEqual([changed.id, changed.comment], [s.answer, 'How slow, exactly?']);
      },
      'delete it': () => flat.scores.deleteScoreComment({ score: s.score, comment: s.answer }),
      'only the first is left': async () => assert.deepEqual(ids(await flat.scores.getScoreComments({ score: s.score })), [s.id]),
    }),
    'a comment is resolved': (flat, s) => ({
      'a score and its comment': () => commented(flat, s),
      resolve: () => flat.scores.markScoreCommentResolved({ score: s.score, comment: s.id }),
      'it is resolved': async () => {
        const [row] = await flat.scores.getScoreComments({ score: s.score });
        assert.deepEqual([row?.id, row?.resolved], [s.id, true]);
      },
      'not resolved after all': () => flat.scores.markScoreCommentUnresolved({ score: s.score, comment: s.id }),
      'it is open again': async () => {
        const [row] = await flat.scores.getScoreComments({ score: s.score });
        assert.deepEqual([row?.id, row?.resolved], [s.id, false]);
      },
    }),
    'a score is shared': (flat, s) => ({
      create: async () => {
        s.score = await score(flat, 'Quartet');
      },
      'invite somebody by mail': async () => {
        const body = { userEmail: 'viola@example.com', aclRead: true, aclWrite: true, aclAdmin: false };
        const made = await flat.scores.addScoreCollaborator({ score: s.score, body });
        s.id = id(made);
        assert.deepEqual([made.userEmail, made.aclWrite, made.aclAdmin], ['viola@example.com', true, false]);
      },
      'among the collaborators': async () =>
        once(ids(await flat.scores.getScoreCollaborators({ score: s.score })), [s.id], 'collaborators'),
      'read alone': async () => {
        const read = await flat.scores.getScoreCollaborator({ score: s.score, collaborator: s.id });
        assert.deepEqual([read.id, read.userEmail], [s.id, 'viola@example.com']);
      },
      remove: () => flat.scores.removeScoreCollaborator({ score: s.score, collaborator: s.id }),
      'no more among them': async () =>
        assert.ok(!ids(await flat.scores.getScoreCollaborators({ score: s.score })).includes(s.id)),
    }),
    'revisions of a score': (flat, s) => ({
      create: async () => {
        s.score = await score(flat, 'Variations');
      },
      'save another': async () => {
        const body = { data: music('D'), description: 'A tone higher', autosave: false };
        const made = await flat.scores.createScoreRevision({ score: s.score, body });
        s.id = id(made);
        assert.equal(made.description, 'A tone higher');
      },
      'it is among the revisions': async () =>
        once(ids(await flat.scores.getScoreRevisions({ score: s.score })), [s.id], 'revisions'),
      'there are two with the one of its creation': async () =>
        assert.equal((await flat.scores.getScoreRevisions({ score: s.score })).length, 2),
      'read alone': async () => {
        const read = await flat.scores.getScoreRevision({ score: s.score, revision: s.id });
        assert.deepEqual([read.id, read.description, read.autosave], [s.id, 'A tone higher', false]);
      },
    }),
    'a score is copied': (flat, s) => ({
      'create a score and a collection': async () => {
        s.id = await score(flat, 'Chorale');
        s.collection = await collection(flat, 'Copies');
        await flat.scores.editScore({ score: s.id, body: { privacy: 'public' } });
      },
      'copy it there': async () => {
        const made = await flat.scores.forkScore({ score: s.id, body: { collection: s.collection } });
        s.copy = id(made);
        assert.notEqual(s.copy, s.id);
        assert.equal(made.privacy, 'private');
      },
      'both are there': async () => {
        assert.equal((await flat.scores.getScore({ score: s.copy })).id, s.copy);
        assert.equal((await flat.scores.getScore({ score: s.id })).privacy, 'public');
      },
      'the original can go': async () => {
        await flat.scores.deleteScore({ score: s.id, now: true });
        assert.equal((await flat.scores.getScore({ score: s.copy })).id, s.copy);
      },
    }),
    'whose account it is': (flat, s) => ({
      'oneself is known': async () => {
        s.me = id(await flat.account.getAuthenticatedUser());
      },
      'by the own id': async () => assert.equal((await flat.users.getUser({ user: s.me })).id, s.me),
      'a collection': async () => {
        s.id = await collection(flat, 'Mine');
      },
      'it is private': async () => assert.equal((await flat.collections.getCollection({ collection: s.id })).privacy, 'private'),
    }),
    'requests that are wrong': (flat, s) => ({
      'a score that nobody made': async () => {
        const { code, message } = await told(await refused(flat.scores.getScore({ score: '5f1e0c5e2b5d4c0017a1b2c3' }), 404));
        assert.deepEqual([typeof code, typeof message], ['string', 'string']);
      },
      'a collection that nobody made': () =>
        refused(flat.collections.getCollection({ collection: '5f1e0c5e2b5d4c0017a1b2c4' }), 404),
      'a score without its privacy': async () => {
        const body = { title: 'Nothing', data: music('E') } as Parameters<typeof flat.scores.createScore>[0]['body'];
        const { code } = await told(await refused(flat.scores.createScore({ body }), 400));
        assert.equal(typeof code, 'string');
      },
      'a comment that says nothing': async () => {
        s.score = await score(flat, 'Silence');
        const body = {} as Parameters<typeof flat.scores.postScoreComment>[0]['body'];
        await refused(flat.scores.postScoreComment({ score: s.score, body }), 400);
      },
      'a comment on what nobody made': () =>
        refused(flat.scores.postScoreComment({ score: '5f1e0c5e2b5d4c0017a1b2c5', body: { comment: 'Hello?' } }), 404),
    }),
    'a credential that is refused': (flat, _s, another) => ({
      'the right one is taken': async () => {
        await flat.collections.listCollections({ parent: 'root' });
      },
      'a wrong one is not': () => refused(another('not-a-token').collections.listCollections({ parent: 'root' }), 401),
      'nor does it create': () =>
        refused(another('not-a-token').collections.createCollection({ body: { title: 'Nobody’s', privacy: 'private' } }), 401),
    }),
  },
};
