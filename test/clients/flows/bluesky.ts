import assert from 'node:assert/strict';
import { Agent, AtpAgent, type BskyAgent } from '@atproto/api';
import { given, once, type Place, pages, refused, type Vendor } from '../kit.ts';

interface Bluesky {
  /** The client of the guide, which makes accounts and logs in. */
  readonly fresh: () => AtpAgent;
  /** A client with a credential that it was given. */
  readonly agent: Agent;
}

const connect = (place: Place, token: string): Bluesky => ({
  fresh: () => new AtpAgent({ service: place.url }),
  agent: new Agent({ service: place.url, headers: { authorization: `Bearer ${token}` } }),
});

/** Another's account, which everybody may read about. */
const other = 'did:plc:z72i7hdynmk6r22z27h6tvur';
const collection = 'app.bsky.feed.post';
const post = (text: string): Record<string, unknown> => ({ $type: collection, text, createdAt: '2026-01-02T03:04:05.678Z' });
/** Keys as posts have them: the time, in a code of thirteen letters. */
const [one, two] = ['3jzfcijpj2z2a', '3jzfcijpj2z2b'];

const last = (uri: string): string => given(uri.split('/').at(-1), 'record key');

/** The caller's own repository, the only one that may be written. */
const own = async (agent: Agent): Promise<string> => (await agent.com.atproto.server.getSession()).data.did;

const write = async (agent: Agent, repo: string, text: string): Promise<string> =>
  (await agent.com.atproto.repo.createRecord({ repo, collection, record: post(text) })).data.uri;

const account = { email: 'alice@mail.com', password: 'hunter2', handle: 'alice.test' };

/** Guide: docs.bsky.app, "Get started", "Creating a post", "Viewing feeds" and the client's README. */
export const vendor: Vendor<Bluesky> = {
  document: 'bluesky/api.json.gz',
  header: 'Authorization',
  word: 'Bearer',
  made: 'made.up.token',
  client: connect,
  flows: {
    'an account is made and logged in': ({ fresh }, s) => {
      const agent = fresh();
      return {
        create: async () => {
          const made = await fresh().createAccount(account);
          s.did = made.data.did;
          assert.equal(made.data.handle, 'alice.test');
        },
        'log in': async () => {
          const made = await agent.login({ identifier: 'alice.test', password: 'hunter2' });
          assert.deepEqual([made.data.did, made.data.handle], [s.did, 'alice.test']);
        },
        'who am I': async () => {
          const { did, handle } = (await agent.com.atproto.server.getSession()).data;
          assert.deepEqual([did, handle], [s.did, 'alice.test']);
        },
        'log in with a wrong password': async () =>
          refused(fresh().login({ identifier: 'alice.test', password: 'wrong' }), 400, 401),
      };
    },
    'a post of an account': ({ fresh }, s) => {
      const agent: BskyAgent = fresh();
      return {
        'create the account': async () => {
          await agent.createAccount(account);
        },
        post: async () => {
          const made = await agent.post({ text: 'Hello world! I posted this via the API.' });
          s.uri = made.uri;
          s.cid = made.cid;
        },
        read: async () => {
          const read = await agent.com.atproto.repo.getRecord({ repo: agent.assertDid, collection, rkey: last(s.uri) });
          assert.equal((read.data.value as { text?: string }).text, 'Hello world! I posted this via the API.');
        },
        like: async () => assert.match((await agent.like(s.uri, s.cid)).uri, /app\.bsky\.feed\.like/),
        delete: async () => agent.deletePost(s.uri),
        gone: async () =>
          refused(agent.com.atproto.repo.getRecord({ repo: agent.assertDid, collection, rkey: last(s.uri) }), 400, 404),
      };
    },
    'a record from its making to its end': ({ agent }, s) => {
      const { repo: records } = agent.com.atproto;
      const read = async () => (await records.getRecord({ repo: s.did, collection, rkey: s.rkey })).data;
      return {
        'who am I': async () => {
          s.did = await own(agent);
        },
        create: async () => {
          const made = await records.createRecord({ repo: s.did, collection, record: post('first') });
          s.rkey = last(made.data.uri);
          assert.ok(made.data.cid.length > 0, 'no cid');
        },
        read: async () => assert.equal(((await read()).value as { text?: string }).text, 'first'),
        replace: async () => {
          await records.putRecord({ repo: s.did, collection, rkey: s.rkey, record: post('second') });
        },
        'read the change': async () => assert.equal(((await read()).value as { text?: string }).text, 'second'),
        delete: async () => {
          await records.deleteRecord({ repo: s.did, collection, rkey: s.rkey });
        },
        gone: async () => refused(read(), 400, 404),
      };
    },
    'a record under a key of its caller': ({ agent }, s) => {
      const { repo: records } = agent.com.atproto;
      const at = () => ({ repo: s.did, collection: 'app.bsky.actor.profile', rkey: 'self' });
      const text = async () => ((await records.getRecord(at())).data.value as { displayName?: string }).displayName;
      return {
        'who am I': async () => {
          s.did = await own(agent);
        },
        put: async () => {
          const made = await records.putRecord({ ...at(), record: { $type: at().collection, displayName: 'Alice' } });
          assert.equal(last(made.data.uri), 'self');
        },
        read: async () => assert.equal(await text(), 'Alice'),
        'put again': async () => {
          await records.putRecord({ ...at(), record: { $type: at().collection, displayName: 'Alice Cooper' } });
        },
        'read again': async () => assert.equal(await text(), 'Alice Cooper'),
      };
    },
    'records through all pages': ({ agent }, s) => {
      const { repo: records } = agent.com.atproto;
      return {
        'who am I': async () => {
          s.did = await own(agent);
        },
        create: async () => {
          for (const n of [1, 2, 3, 4, 5]) s[`uri${n}`] = await write(agent, s.did, `post ${n}`);
        },
        'walk pages of two': async () => {
          const rows = await pages(
            async (cursor) =>
              (await records.listRecords({ repo: s.did, collection, limit: 2, ...(cursor === undefined ? {} : { cursor }) }))
                .data,
            (page) => page.records,
            (page) => page.cursor,
          );
          once(
            rows.map(({ uri }) => uri),
            [s.uri1, s.uri2, s.uri3, s.uri4, s.uri5],
          );
        },
        'a page holds what was asked for': async () =>
          assert.equal((await records.listRecords({ repo: s.did, collection, limit: 2 })).data.records.length, 2),
        'another collection has none of them': async () => {
          const { data } = await records.listRecords({ repo: s.did, collection: 'app.bsky.feed.like' });
          assert.deepEqual(data.records, []);
        },
      };
    },
    'several records are written at once': ({ agent }, s) => {
      const { repo: records } = agent.com.atproto;
      const type = 'com.atproto.repo.applyWrites#create' as const;
      return {
        'who am I': async () => {
          s.did = await own(agent);
        },
        write: async () => {
          const writes = [one, two].map((rkey) => ({ $type: type, collection, rkey, value: post(`at ${rkey}`) }));
          await records.applyWrites({ repo: s.did, writes });
        },
        'read one': async () => {
          const read = await records.getRecord({ repo: s.did, collection, rkey: one });
          assert.equal((read.data.value as { text?: string }).text, `at ${one}`);
        },
        'list both': async () => {
          const { data } = await records.listRecords({ repo: s.did, collection });
          once(
            data.records.map(({ uri }) => last(uri)),
            [one, two],
          );
        },
      };
    },
    'passwords for applications': ({ agent }) => {
      const { server } = agent.com.atproto;
      const names = async () => (await server.listAppPasswords()).data.passwords.map(({ name }) => name);
      return {
        create: async () => {
          const { data } = await server.createAppPassword({ name: 'phone' });
          assert.equal(data.name, 'phone');
          assert.ok(data.password.length > 0, 'no password');
        },
        list: async () => once(await names(), ['phone']),
        revoke: async () => {
          await server.revokeAppPassword({ name: 'phone' });
        },
        'gone from the list': async () => assert.ok(!(await names()).includes('phone')),
      };
    },
    'an account is muted': ({ agent }) => {
      const mutes = async () => (await agent.app.bsky.graph.getMutes()).data.mutes.map(({ did }) => did);
      return {
        mute: async () => {
          await agent.mute(other);
        },
        'it is on the list': async () => once(await mutes(), [other]),
        unmute: async () => {
          await agent.unmute(other);
        },
        'it is not on the list': async () => assert.ok(!(await mutes()).includes(other)),
      };
    },
    'preferences are kept': ({ agent }) => {
      const preferences = [{ $type: 'app.bsky.actor.defs#adultContentPref', enabled: true }];
      return {
        put: async () => {
          await agent.app.bsky.actor.putPreferences({ preferences });
        },
        read: async () => assert.deepEqual((await agent.app.bsky.actor.getPreferences()).data.preferences, preferences),
      };
    },
    'profiles and feeds are read': ({ agent }) => ({
      profile: async () => assert.equal((await agent.getProfile({ actor: other })).data.did, other),
      timeline: async () => assert.ok(Array.isArray((await agent.getTimeline({ limit: 3 })).data.feed)),
      search: async () => assert.ok(Array.isArray((await agent.searchActors({ q: 'alice' })).data.actors)),
      'a handle': async () => assert.match((await agent.resolveHandle({ handle: 'bsky.app' })).data.did, /^did:/),
    }),
    'a credential that is refused': (api, _s, another) => ({
      'the right one is taken': async () => assert.ok(Array.isArray((await api.agent.getTimeline()).data.feed)),
      'another is refused': async () => refused(another('not.of.this').agent.getTimeline(), 401, 400),
      'another may not write': async () => refused(write(another('not.of.this').agent, other, 'no'), 401, 400),
    }),
    'requests that are wrong': ({ agent }, s) => {
      const { repo: records } = agent.com.atproto;
      return {
        'who am I': async () => {
          s.did = await own(agent);
        },
        'a record that nobody made': async () => {
          const thrown = (await refused(records.getRecord({ repo: s.did, collection, rkey: '3l2nobodymade' }), 400, 404)) as {
            error?: unknown;
          };
          assert.equal(typeof thrown.error, 'string');
        },
        'a record without a collection': async () =>
          refused(
            records.createRecord({ repo: s.did, record: post('x') } as unknown as Parameters<typeof records.createRecord>[0]),
            400,
          ),
        'a page that is too large': async () => refused(records.listRecords({ repo: s.did, collection, limit: 101 }), 400),
        'a list without its repository': async () =>
          refused(records.listRecords({ collection } as unknown as Parameters<typeof records.listRecords>[0]), 400),
      };
    },
  },
};
