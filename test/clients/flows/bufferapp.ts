import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, numbered, once, type Place, refused, type State, type Vendor } from '../kit.ts';

interface Update {
  readonly id: string;
  readonly text: string;
  readonly status: string;
  readonly profile_id: string;
  readonly user_id: string;
  readonly due_at?: number;
  readonly media?: { readonly link?: string; readonly title?: string; readonly description?: string };
}
interface Made {
  readonly success: boolean;
  readonly updates: readonly Update[];
}
type Updates = Pick<Made, 'updates'> & { readonly total: number };
interface Schedule {
  readonly days: readonly string[];
  readonly times: readonly string[];
}
interface Profile {
  readonly id: string;
  readonly service: string;
  readonly service_id: string;
  readonly user_id: string;
  readonly schedules: readonly Schedule[];
}
type Success = Pick<Made, 'success'>;
interface Which {
  readonly page?: number;
  readonly count?: number;
  readonly since?: Date;
  readonly utc?: boolean;
}
interface More {
  readonly now?: boolean;
  readonly top?: boolean;
  readonly shorten?: boolean;
  readonly media?: Readonly<Record<string, string>>;
  readonly scheduled_at?: Date;
}
type Done = (error: unknown, answer?: unknown, body?: unknown) => void;
type Sending = { runRequest(options: { readonly url: string }, done: Done): void };
/** What buffer-node's README shows. */
interface Client {
  readonly helpers: { link(link: string, description?: string, title?: string): Record<string, string> };
  readonly user: { get(): Promise<{ id: string; timezone: string }> };
  readonly info: { configuration(): Promise<{ services: Record<string, { types: unknown }> }> };
  readonly links: { shares(url: string): Promise<{ shares: number }> };
  readonly profiles: { get(): Promise<readonly Profile[]> };
  profile(id: string): {
    get(): Promise<Profile>;
    readonly schedules: { get(): Promise<readonly Schedule[]>; update(schedules: readonly Schedule[]): Promise<Success> };
    readonly updates: {
      pending(which?: Which): Promise<Updates>;
      sent(which?: Which): Promise<Updates>;
      reorder(order: readonly string[], options?: { offset?: number; utc?: boolean }): Promise<Made>;
      shuffle(options?: { count?: number; utc?: boolean }): Promise<Made>;
    };
  };
  readonly updates: { create(text: string, profileIds: string | readonly string[], more?: More): Promise<Made> };
  update(id: string): {
    get(): Promise<Update>;
    update(text: string, more?: More): Promise<Success & { readonly update: Update }>;
    share(): Promise<Success>;
    destroy(): Promise<Success>;
    moveToTop(): Promise<Update>;
    readonly interactions: { get(): Promise<unknown> };
  };
}

const bufferApi = createRequire(import.meta.url)('buffer-node') as (accessToken: string) => Client & Sending;

/** The client's address is fixed, so that what it is about to send is addressed to the place. */
const connect = (place: Place, token: string): Client => {
  const client = bufferApi(token);
  const { runRequest } = client;
  client.runRequest = (options, done) => {
    const url = options.url.replace('https://api.bufferapp.com/1', place.base);
    runRequest.call(client, { ...options, url }, (error, answer, body) => {
      try {
        done(error, answer, body);
      } catch (thrown) {
        done(thrown, answer);
      }
    });
  };
  return client;
};

/** The answer, or a throw whose status is where others keep it: here it is in `httpCode`. */
const ok = async <T>(call: PromiseLike<T>): Promise<T> => {
  try {
    return await call;
  } catch (thrown) {
    throw Object.assign(thrown as Error, { status: (thrown as { httpCode?: number }).httpCode });
  }
};
const no = (call: PromiseLike<unknown>, ...statuses: readonly number[]): Promise<unknown> => refused(ok(call), ...statuses);

const ids = ({ updates }: { readonly updates: readonly Update[] }): string[] => updates.map(({ id }) => id);
const missing = '4eb8565e0acb04bb82000004';
/** A profile comes from a social network, not from this interface: whoever calls has at least one. */
const profile = async (buffer: Client, s: State): Promise<void> => {
  s.profile = given((await ok(buffer.profiles.get()))[0], 'profile').id;
};
const update = async (buffer: Client, s: State, text: string, more?: More): Promise<Update> => {
  const made = await ok(buffer.updates.create(text, [s.profile], more));
  assert.equal(made.success, true);
  assert.deepEqual(
    made.updates.map((one) => [one.text, one.profile_id]),
    [[text, s.profile]],
  );
  return given(made.updates[0], 'update');
};
const three = async (buffer: Client, s: State): Promise<void> => {
  await profile(buffer, s);
  for (const name of ['a', 'b', 'c']) s[name] = (await update(buffer, s, `Update ${name}`)).id;
  assert.equal(new Set([s.a, s.b, s.c]).size, 3);
};
const pending = (buffer: Client, s: State): Promise<Updates> => ok(buffer.profile(s.profile).updates.pending({ count: 100 }));
/** Those of the pending updates that the flow made, in their order. */
const order = async (buffer: Client, s: State): Promise<string[]> =>
  ids(await pending(buffer, s)).filter((id) => [s.a, s.b, s.c].includes(id));

/** Guide: buffer.com/developers/api, "Getting started", "Users", "Profiles", "Updates", "Links", "Info", "Errors"; buffer-node's README. */
export const vendor: Vendor<Client> = {
  document: 'bufferapp/bufferapp.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: '1/a-made-up-access-token',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'an update, from its making to its end': (buffer, s) => ({
      'a profile': () => profile(buffer, s),
      'an update of it': async () => {
        s.id = (await update(buffer, s, 'This is an example update')).id;
      },
      read: async () => {
        const { id, text, profile_id, status } = await ok(buffer.update(s.id).get());
        assert.deepEqual([id, text, profile_id, status], [s.id, 'This is an example update', s.profile, 'buffer']);
      },
      edit: async () => {
        const changed = await ok(buffer.update(s.id).update('This is an edited update'));
        assert.deepEqual([changed.success, changed.update.id, changed.update.text], [true, s.id, 'This is an edited update']);
      },
      'it is edited': async () => assert.equal((await ok(buffer.update(s.id).get())).text, 'This is an edited update'),
      destroy: async () => assert.equal((await ok(buffer.update(s.id).destroy())).success, true),
      'it is gone': () => no(buffer.update(s.id).get(), 404),
    }),
    'updates that are pending': (buffer, s) => ({
      'three are made': () => three(buffer, s),
      'all are pending': async () => {
        const list = await pending(buffer, s);
        once(ids(list), [s.a, s.b, s.c], 'updates');
        assert.ok(list.total >= 3, String(list.total));
        s.total = String(list.total);
      },
      'each is of the profile': async () => {
        for (const { profile_id } of (await pending(buffer, s)).updates) assert.equal(profile_id, s.profile);
      },
      'one is destroyed': () => ok(buffer.update(s.b).destroy()),
      'two are left': async () => {
        assert.deepEqual([...(await order(buffer, s))].sort(), [s.a, s.c].sort());
        assert.equal((await pending(buffer, s)).total, Number(s.total) - 1);
      },
    }),
    'pending updates, page after page': (buffer, s) => ({
      'five are made': async () => {
        await profile(buffer, s);
        const made: string[] = [];
        for (let n = 1; n <= 5; n += 1) made.push((await update(buffer, s, `Update ${n}`)).id);
        s.made = made.join();
      },
      'two on a page': async () => {
        const { updates, total } = await ok(buffer.profile(s.profile).updates.pending({ page: 1, count: 2 }));
        assert.equal(updates.length, 2);
        assert.ok(total >= 5, String(total));
      },
      'other ones on the next': async () => {
        const [first, second] = await Promise.all(
          [1, 2].map(async (page) => ids(await ok(buffer.profile(s.profile).updates.pending({ page, count: 2 })))),
        );
        assert.deepEqual(
          second?.filter((id) => first?.includes(id)),
          [],
        );
      },
      'until a page is empty': async () => {
        const rows = await numbered(
          async (page) => (await ok(buffer.profile(s.profile).updates.pending({ page, count: 2 }))).updates,
        );
        once(ids({ updates: rows }), s.made.split(','), 'pages');
      },
      'since tomorrow there are none': async () => {
        const since = new Date(Date.now() + 86_400_000);
        assert.deepEqual(ids(await ok(buffer.profile(s.profile).updates.pending({ since }))), []);
      },
    }),
    'the order of updates': (buffer, s) => ({
      'three are made': () => three(buffer, s),
      'another order': async () => {
        const answer = await ok(buffer.profile(s.profile).updates.reorder([s.c, s.a, s.b]));
        assert.equal(answer.success, true);
      },
      'they keep it': async () => assert.deepEqual(await order(buffer, s), [s.c, s.a, s.b]),
      'one is moved to the top': async () => assert.equal((await ok(buffer.update(s.b).moveToTop())).id, s.b),
      'there it is': async () => {
        assert.equal(ids(await pending(buffer, s))[0], s.b);
        assert.deepEqual(await order(buffer, s), [s.b, s.c, s.a]);
      },
      'shuffled, they are the same': async () => {
        assert.equal((await ok(buffer.profile(s.profile).updates.shuffle())).success, true);
        assert.deepEqual([...(await order(buffer, s))].sort(), [s.a, s.b, s.c].sort());
      },
    }),
    'an update is shared now': (buffer, s) => ({
      'three are made': () => three(buffer, s),
      'one is shared': async () => assert.equal((await ok(buffer.update(s.a).share())).success, true),
      'it is pending no more': async () => assert.ok(!ids(await pending(buffer, s)).includes(s.a)),
      'the others are': async () => once(ids(await pending(buffer, s)), [s.b, s.c], 'updates'),
      'those that were sent': async () => {
        const { total, updates } = await ok(buffer.profile(s.profile).updates.sent({ count: 100 }));
        assert.equal(typeof total, 'number');
        for (const one of updates) assert.equal(one.profile_id, s.profile);
      },
    }),
    'an update with a link, at a time': (buffer, s) => ({
      'a profile': () => profile(buffer, s),
      'it is made': async () => {
        const media = buffer.helpers.link('http://google.com', 'The google homepage', 'Google');
        s.id = (await update(buffer, s, 'Have a look', { media, scheduled_at: new Date('2031-03-02T09:00:00Z') })).id;
      },
      'it is due then': async () =>
        assert.equal((await ok(buffer.update(s.id).get())).due_at, Date.parse('2031-03-02T09:00:00Z') / 1000),
      'it has its link': async () => {
        const { media } = await ok(buffer.update(s.id).get());
        assert.deepEqual([media?.link, media?.title, media?.description], ['http://google.com', 'Google', 'The google homepage']);
      },
      'another time': () => ok(buffer.update(s.id).update('Have a look', { scheduled_at: new Date('2031-03-03T09:00:00Z') })),
      'is kept': async () =>
        assert.equal((await ok(buffer.update(s.id).get())).due_at, Date.parse('2031-03-03T09:00:00Z') / 1000),
    }),
    'a profile and its schedules': (buffer, s) => ({
      'a profile': () => profile(buffer, s),
      'it is read': async () => assert.equal((await ok(buffer.profile(s.profile).get())).id, s.profile),
      'other schedules': async () => {
        const asked = [{ days: ['mon', 'fri'], times: ['08:00', '15:00'] }];
        assert.equal((await ok(buffer.profile(s.profile).schedules.update(asked))).success, true);
      },
      'they are there': async () => {
        const [first, ...more] = [await ok(buffer.profile(s.profile).schedules.get())].flat();
        assert.deepEqual([first?.days, first?.times, more], [['mon', 'fri'], ['08:00', '15:00'], []]);
      },
      'and in the profile': async () => {
        const { schedules } = await ok(buffer.profile(s.profile).get());
        assert.deepEqual(schedules[0]?.days, ['mon', 'fri']);
      },
    }),
    'whose profiles they are': (buffer, s) => ({
      'who I am': async () => {
        s.me = (await ok(buffer.user.get())).id;
      },
      'my profiles': async () => {
        const rows = await ok(buffer.profiles.get());
        for (const { id, user_id } of rows) assert.deepEqual([typeof id, user_id], ['string', s.me]);
        s.profile = given(rows[0], 'profile').id;
        s.service = given(rows[0], 'profile').service;
      },
      'one of them': async () => {
        const { id, user_id, service } = await ok(buffer.profile(s.profile).get());
        assert.deepEqual([id, user_id, service], [s.profile, s.me, s.service]);
      },
      'an update is mine': async () => assert.equal((await update(buffer, s, 'Mine')).user_id, s.me),
      'its service is one of those that there are': async () =>
        assert.ok(Object.keys((await ok(buffer.info.configuration())).services).includes(s.service), s.service),
      'how often a link was shared': async () =>
        assert.equal(typeof (await ok(buffer.links.shares('http://bufferapp.com'))).shares, 'number'),
    }),
    'what is refused': (buffer, s) => ({
      'a profile': () => profile(buffer, s),
      'an update of no profile': () => no(buffer.updates.create('Nobody says so', []), 400),
      'an unknown update': () => no(buffer.update(missing).get(), 404),
      'to edit or destroy it': async () => {
        await no(buffer.update(missing).update('Something'), 404);
        await no(buffer.update(missing).destroy(), 404);
      },
      'an unknown profile': () => no(buffer.profile(missing).get(), 404),
      'interactions of no event': async () => no(buffer.update((await update(buffer, s, 'Hm')).id).interactions.get(), 400),
    }),
    'a token that is refused': (buffer, _s, another) => ({
      'the right one': async () => assert.equal(typeof (await ok(buffer.user.get())).id, 'string'),
      'a wrong one is nobody': () => no(another('wrong').user.get(), 401, 403),
      'nor has it profiles': () => no(another('wrong').profiles.get(), 401, 403),
    }),
  },
};
