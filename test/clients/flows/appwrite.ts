import assert from 'node:assert/strict';
import appwrite from 'node-appwrite';
import { once, refused, type Vendor } from '../kit.ts';

interface Row {
  readonly $id: string;
}
interface User extends Row {
  readonly email: string;
  readonly name: string;
  readonly status: number;
  readonly emailVerification: boolean;
}
interface Team extends Row {
  readonly name: string;
  readonly sum: number;
}
interface Membership extends Row {
  readonly teamId: string;
  readonly email: string;
  readonly roles: string[];
}
interface Collection extends Row {
  readonly name: string;
  readonly $permissions: unknown;
}
interface Action extends Row {
  readonly name: string;
  readonly runtime: string;
  readonly timeout: number;
}

interface Client {
  readonly database: appwrite.Database;
  readonly functions: appwrite.Functions;
  readonly teams: appwrite.Teams;
  readonly users: appwrite.Users;
  readonly storage: appwrite.Storage;
}

const gone = (call: Promise<unknown>) => refused(call, 404);
const ids = (rows: readonly Row[]): string[] => rows.map(({ $id }) => $id);

// https://appwrite.io/docs/server, of the release the description is of
export const vendor: Vendor<Client> = {
  document: 'appwrite/server.json',
  header: 'x-appwrite-key',
  also: ['x-appwrite-project'],
  made: '919c2d18fb5d4',
  client: (place, token) => {
    const of = (name: string) => place.printed.find((header) => header.name === name)?.value;
    const client = new appwrite.Client()
      .setEndpoint(place.base)
      .setProject(of('x-appwrite-project') ?? '5df5acd0d48c2')
      .setKey(token);
    const jwt = of('x-appwrite-jwt');
    if (jwt !== undefined) client.setJWT(jwt);
    return {
      database: new appwrite.Database(client),
      functions: new appwrite.Functions(client),
      teams: new appwrite.Teams(client),
      users: new appwrite.Users(client),
      storage: new appwrite.Storage(client),
    };
  },
  strict: ['a wrong key is refused'],
  flows: {
    'a user made, read, deleted': ({ users }, s) => ({
      'made with its name': async () => {
        const made = await users.create<User>('ada@example.com', 'correct horse', 'Ada');
        assert.equal(made.email, 'ada@example.com');
        assert.equal(made.name, 'Ada');
        s.id = made.$id;
      },
      'read as it was made': async () => {
        const read = await users.get<User>(s.id);
        assert.equal(read.$id, s.id);
        assert.equal(read.email, 'ada@example.com');
      },
      'its password is not shown': async () => {
        assert.equal((await users.get<Record<string, unknown>>(s.id)).password, undefined);
      },
      deleted: () => users.delete(s.id),
      'no more there': () => gone(users.get(s.id)),
    }),

    'a user blocked, and verified': ({ users }, s) => ({
      made: async () => {
        s.id = (await users.create<User>('grace@example.com', 'correct horse', 'Grace')).$id;
      },
      blocked: async () => {
        const changed = await users.updateStatus<User>(s.id, 2);
        assert.equal(changed.status, 2);
      },
      'its address verified': async () => {
        const changed = await users.updateVerification<User>(s.id, true);
        assert.equal(changed.emailVerification, true);
      },
      'read as both': async () => {
        const read = await users.get<User>(s.id);
        assert.equal(read.status, 2);
        assert.equal(read.emailVerification, true);
      },
    }),

    'the preferences of a user': ({ users }, s) => ({
      made: async () => {
        s.id = (await users.create<User>('joan@example.com', 'correct horse')).$id;
      },
      'kept as given': async () => {
        const prefs = await users.updatePrefs<Record<string, unknown>>(s.id, { theme: 'dark', size: 12 });
        assert.equal(prefs.theme, 'dark');
      },
      read: async () => {
        const prefs = await users.getPrefs<Record<string, unknown>>(s.id);
        assert.equal(prefs.theme, 'dark');
        assert.equal(prefs.size, 12);
      },
    }),

    'users through all pages': ({ users }, s) => ({
      'seven are made': async () => {
        const made: string[] = [];
        for (const name of ['ann', 'bob', 'cem', 'dag', 'eva', 'fay', 'gus'])
          made.push((await users.create<User>(`${name}@example.com`, 'correct horse', name)).$id);
        assert.equal(new Set(made).size, 7);
        s.ids = made.join(',');
      },
      'page after page, by what was before': async () => {
        const all: User[] = [];
        for (let page = 0; page < 40; page += 1) {
          const { users: rows, sum } = await users.list<{ users: User[]; sum: number }>(undefined, 3, all.length);
          assert.ok(rows.length <= 3, `a page of 3 has ${rows.length}`);
          assert.ok(sum >= 7, `7 were made, and the sum is ${sum}`);
          all.push(...rows);
          if (rows.length === 0 || all.length >= sum) break;
        }
        once(ids(all), s.ids.split(','), 'users');
      },
      'downwards they are the other way round': async () => {
        const up = ids((await users.list<{ users: User[] }>(undefined, 100, 0, 'ASC')).users);
        const down = ids((await users.list<{ users: User[] }>(undefined, 100, 0, 'DESC')).users);
        assert.deepEqual(down, [...up].reverse());
      },
    }),

    'users searched': ({ users }, s) => ({
      'two are made': async () => {
        s.one = (await users.create<User>('zelda@example.com', 'correct horse', 'Zelda Quint')).$id;
        s.two = (await users.create<User>('otto@example.com', 'correct horse', 'Otto Blum')).$id;
      },
      'one is found by a word of its name': async () => {
        const found = ids((await users.list<{ users: User[] }>('Zelda')).users);
        assert.ok(found.includes(s.one));
        assert.ok(!found.includes(s.two));
      },
    }),

    'sessions and logs of a user': ({ users }, s) => ({
      made: async () => {
        s.id = (await users.create<User>('lin@example.com', 'correct horse')).$id;
      },
      'its sessions are a list': async () => {
        assert.ok(Array.isArray((await users.getSessions<{ sessions: unknown[] }>(s.id)).sessions));
      },
      'all are ended': () => users.deleteSessions(s.id),
      'its logs are a list': async () => {
        assert.ok(Array.isArray((await users.getLogs<{ logs: unknown[] }>(s.id)).logs));
      },
    }),

    'a collection made, read, changed, deleted': ({ database }, s) => ({
      made: async () => {
        const made = await database.createCollection<Collection>('Movies', ['*'], ['role:member'], []);
        assert.equal(made.name, 'Movies');
        s.id = made.$id;
      },
      'read as it was made': async () => {
        assert.equal((await database.getCollection<Collection>(s.id)).name, 'Movies');
      },
      renamed: async () => {
        const changed = await database.updateCollection<Collection>(s.id, 'Films', ['*'], ['role:member'], []);
        assert.equal(changed.name, 'Films');
      },
      'in the list with its new name': async () => {
        const { collections } = await database.listCollections<{ collections: Collection[] }>(undefined, 100);
        once(ids(collections), [s.id], 'collections');
        assert.equal(collections.find(({ $id }) => $id === s.id)?.name, 'Films');
      },
      deleted: () => database.deleteCollection(s.id),
      'no more there': () => gone(database.getCollection(s.id)),
    }),

    'documents of a collection': ({ database }, s) => ({
      'a collection': async () => {
        s.collection = (await database.createCollection<Collection>('Books', ['*'], ['*'], [])).$id;
      },
      'a document': async () => {
        const made = await database.createDocument<Row & { $collection: string }>(s.collection, { title: 'Emma' });
        assert.equal(made.$collection, s.collection);
        s.id = made.$id;
      },
      'read from it': async () => {
        const read = await database.getDocument<Row>(s.collection, s.id);
        assert.equal(read.$id, s.id);
      },
      changed: () => database.updateDocument(s.collection, s.id, { title: 'Persuasion' }),
      'in the list of its collection': async () => {
        const { documents } = await database.listDocuments<{ documents: Row[] }>(s.collection);
        once(ids(documents), [s.id], 'documents');
      },
      deleted: () => database.deleteDocument(s.collection, s.id),
      'no more there': () => gone(database.getDocument(s.collection, s.id)),
    }),

    'documents of another collection are not listed': ({ database }, s) => ({
      'two collections, a document in each': async () => {
        s.one = (await database.createCollection<Collection>('One', ['*'], ['*'], [])).$id;
        s.two = (await database.createCollection<Collection>('Two', ['*'], ['*'], [])).$id;
        s['in one'] = (await database.createDocument<Row>(s.one, { a: 1 })).$id;
        s['in two'] = (await database.createDocument<Row>(s.two, { a: 2 })).$id;
      },
      'each lists its own': async () => {
        const of = async (id: string) => ids((await database.listDocuments<{ documents: Row[] }>(id)).documents);
        assert.deepEqual(await of(s.one), [s['in one']]);
        assert.deepEqual(await of(s.two), [s['in two']]);
      },
    }),

    'a team made, renamed, deleted': ({ teams }, s) => ({
      made: async () => {
        const made = await teams.create<Team>('Editors');
        assert.equal(made.name, 'Editors');
        s.id = made.$id;
      },
      renamed: async () => assert.equal((await teams.update<Team>(s.id, 'Authors')).name, 'Authors'),
      'read with its new name': async () => assert.equal((await teams.get<Team>(s.id)).name, 'Authors'),
      'in the list': async () => {
        once(ids((await teams.list<{ teams: Team[] }>(undefined, 100)).teams), [s.id], 'teams');
      },
      deleted: () => teams.delete(s.id),
      'no more there': () => gone(teams.get(s.id)),
    }),

    'somebody invited into a team': ({ teams }, s) => ({
      'a team': async () => {
        s.team = (await teams.create<Team>('Reviewers')).$id;
      },
      'an invitation': async () => {
        const made = await teams.createMembership<Membership>(
          s.team,
          'pia@example.com',
          ['reader'],
          'https://example.com/join',
          'Pia',
        );
        assert.equal(made.teamId, s.team);
        assert.deepEqual(made.roles, ['reader']);
        s.id = made.$id;
      },
      'gets another role': async () => {
        const changed = await teams.updateMembershipRoles<Membership>(s.team, s.id, ['reader', 'writer']);
        assert.deepEqual(changed.roles, ['reader', 'writer']);
      },
      'is listed': async () => {
        const { memberships } = await teams.getMemberships<{ memberships: Membership[] }>(s.team);
        once(ids(memberships), [s.id], 'memberships');
      },
      'leaves it': () => teams.deleteMembership(s.team, s.id),
      'is listed no more': async () => {
        const { memberships } = await teams.getMemberships<{ memberships: Membership[] }>(s.team);
        assert.ok(!ids(memberships).includes(s.id));
      },
    }),

    'a function made, changed, run': ({ functions }, s) => ({
      made: async () => {
        const made = await functions.create<Action>('Resize', ['*'], 'node-16.0', { QUALITY: '80' }, [], '', 30);
        assert.equal(made.runtime, 'node-16.0');
        assert.equal(made.timeout, 30);
        s.id = made.$id;
      },
      'given more time': async () => {
        const changed = await functions.update<Action>(s.id, 'Resize', ['*'], {}, [], '', 60);
        assert.equal(changed.timeout, 60);
      },
      run: async () => {
        const started = await functions.createExecution<Row & { functionId: string }>(s.id, '{"w":100}');
        assert.equal(started.functionId, s.id);
        s.execution = started.$id;
      },
      'its run is listed': async () => {
        const { executions } = await functions.listExecutions<{ executions: Row[] }>(s.id);
        once(ids(executions), [s.execution], 'executions');
      },
      'and read': async () => {
        assert.equal((await functions.getExecution<Row>(s.id, s.execution)).$id, s.execution);
      },
      deleted: () => functions.delete(s.id),
      'no more there': () => gone(functions.get(s.id)),
    }),

    'a wrong key is refused': ({ database }, _s, another) => ({
      'a list': () => refused(another('0000').users.list(), 401),
      'a creation': () => refused(another('0000').database.createCollection('Stolen', ['*'], ['*'], []), 401),
      'nothing was made': async () => {
        const { collections } = await database.listCollections<{ collections: Collection[] }>(undefined, 100);
        assert.ok(!collections.some(({ name }) => name === 'Stolen'));
      },
    }),

    'what is not there, and what is not right': ({ users, teams, functions }) => ({
      'no such user': () => gone(users.get('5e5ea5c16897e')),
      'no such team to rename': () => gone(teams.update('5e5ea5c16897e', 'Ghosts')),
      'no such function to delete': () => gone(functions.delete('5e5ea5c16897e')),
      'no status of a user is a word': () => refused(users.updateStatus('5e5ea5c16897e', 'asleep' as never), 400, 404),
      'a prefs that is no object': async () => {
        const made = await users.create<User>('rex@example.com', 'correct horse');
        await refused(users.updatePrefs(made.$id, 'dark' as never), 400);
      },
    }),
  },
};
