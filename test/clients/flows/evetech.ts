import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, numbered, once, type Place, refused, type State, statusOf, type Vendor } from '../kit.ts';

type Answer<T> = PromiseLike<T>;
type Module = { readonly type_id: number; readonly flag: number; readonly quantity: number };
type Fit = {
  readonly name: string;
  readonly description: string;
  readonly ship_type_id: number;
  readonly items: readonly Module[];
};
type Fitting = Fit & { readonly fitting_id: number };
type Recipient = { readonly recipient_type: string; readonly recipient_id: number };
type Letter = {
  readonly subject: string;
  readonly body: string;
  readonly recipients: readonly Recipient[];
  readonly approved_cost?: number;
};
type Read = Letter & { readonly from: number; readonly labels?: readonly number[]; readonly read?: boolean };
type Header = {
  readonly mail_id: number;
  readonly subject: string;
  readonly from: number;
  readonly is_read?: boolean;
  readonly labels?: readonly number[];
};
type Label = { readonly label_id: number; readonly name: string; readonly color?: string; readonly unread_count?: number };
type Contact = {
  readonly contact_id: number;
  readonly contact_type: string;
  readonly standing: number;
  readonly is_watched?: boolean;
};
type Happening = { readonly event_id: number; readonly event_response: string };
type Event = { readonly event_id: number; readonly title: string; readonly response: string };
type Named = { readonly id: number; readonly name: string; readonly category: string };

/** What can be listed, and asked about by its id. */
interface Things<Info, Id = number> {
  (id: number): { info(): Answer<Info> };
  (): Answer<readonly Id[]>;
}

/** The parts of the client that are used here: it has no types of its own. */
interface Character {
  readonly fittings: {
    all(): Answer<readonly Fitting[]>;
    add(fit: Fit): Answer<number>;
    get(id: number): { del(): Answer<unknown> };
  };
  readonly mail: {
    inbox(labels?: readonly number[], before?: number): Answer<readonly Header[]>;
    all(): Answer<readonly Header[]>;
    send(mail: Letter): Answer<number>;
    unreadCount(): Answer<number>;
    lists(): Answer<readonly { readonly mailing_list_id: number; readonly name: string }[]>;
    get(id: number): {
      info(): Answer<Read>;
      del(): Answer<unknown>;
      update(what: { readonly labels?: readonly number[]; readonly read?: boolean }): Answer<unknown>;
    };
    readonly labels: {
      all(): Answer<readonly Label[]>;
      add(label: { readonly name: string; readonly color: string }): Answer<number>;
      get(id: number): { del(): Answer<unknown> };
    };
  };
  readonly contacts: {
    all(page: number): Answer<readonly Contact[]>;
    labels(): Answer<readonly { readonly label_id: number; readonly label_name: string }[]>;
    add(what: { readonly ids: readonly number[]; readonly standing: number }): Answer<readonly number[]>;
    addWatched(what: { readonly ids: readonly number[]; readonly standing: number }): Answer<readonly number[]>;
    get(id: number): {
      update(what: { readonly standing: number }): Answer<unknown>;
      updateWatched(what: { readonly standing: number }): Answer<unknown>;
    };
  };
  readonly calendar: {
    recent(from?: number): Answer<readonly Happening[]>;
    event(id: number): {
      info(): Answer<Event>;
      accept(): Answer<unknown>;
      decline(): Answer<unknown>;
      tentative(): Answer<unknown>;
    };
  };
  readonly autopilot: {
    destination(id: number): Answer<unknown>;
    append(id: number): Answer<unknown>;
    prepend(id: number): Answer<unknown>;
  };
  readonly window: { info(id: number): Answer<unknown> };
  fleet(id: number): {
    info(): Answer<{ readonly motd: string }>;
    members(): Answer<readonly unknown[]>;
    update(what: { readonly motd: string; readonly isFreeMove?: boolean }): Answer<unknown>;
    readonly wings: { add(): Answer<number>; all(): Answer<readonly unknown[]> };
  };
}
interface Api {
  characters(id: number, token: string): Character;
  alliances(id: number): {
    info(): Answer<{ readonly name: string; readonly ticker: string; readonly creator_id: number }>;
    corporations(): Answer<readonly number[]>;
    icon(): Answer<Record<string, string>>;
  };
  alliances(): Answer<readonly number[]>;
  corporations(id: number): {
    info(): Answer<{ readonly name: string; readonly ticker: string; readonly alliance_id?: number }>;
  };
  readonly regions: Things<{ readonly region_id: number; readonly name: string; readonly constellations: readonly number[] }>;
  readonly constellations: Things<{
    readonly constellation_id: number;
    readonly name: string;
    readonly region_id: number;
    readonly systems: readonly number[];
  }>;
  readonly solarSystems: Things<{ readonly system_id: number; readonly name: string; readonly constellation_id: number }>;
  readonly types: {
    all(page: number): Answer<readonly number[]>;
    get(id: number): { info(): Answer<{ readonly type_id: number; readonly name: string; readonly group_id: number }> };
    readonly groups: {
      all(page: number): Answer<readonly number[]>;
      get(id: number): {
        info(): Answer<{ readonly group_id: number; readonly name: string; readonly types: readonly number[] }>;
      };
    };
  };
  readonly wars: {
    recent(below?: number): Answer<readonly number[]>;
    get(id: number): { info(): Answer<{ readonly id: number; readonly declared: string }> };
  };
  names(ids: readonly number[]): Answer<readonly Named[]>;
  status(): Answer<{ readonly players: number; readonly server_version: string; readonly start_time: string }>;
}
type Make = (options: { readonly service: string; readonly agent: string }) => Api;

/**
 * The client keeps for five minutes whatever it has read: each call is that of a client of its own. `me` is the character
 * that has signed in.
 */
interface Esi {
  all<T>(use: (api: Api) => Answer<T>): Promise<T>;
  me<T>(use: (character: Character) => Answer<T>): Promise<T>;
}

const require = createRequire(import.meta.url);
const make = require('eve-swagger') as Make;

/** The client asks for numbered versions of the routes, which the description has as "alternate routes" of its own. */
interface Sending {
  url: string;
  request(): unknown;
}
const { prototype } = (createRequire(require.resolve('eve-swagger'))('superagent') as { Request: { prototype: Sending } })
  .Request;
const { request } = prototype;
prototype.request = function (this: Sending): unknown {
  this.url = this.url.replace(/\/latest\/v\d+\//, '/latest/');
  return request.call(this);
};

const me = 95465499;

const connect = (place: Place, token: string): Esi => {
  const fresh = (): Api => make({ service: place.base, agent: 'flows@example.com' });
  /** The client hides the status of an error within its cause. */
  const told = async <T>(call: () => Answer<T>): Promise<T> => {
    try {
      return await call();
    } catch (thrown) {
      const { jse_cause: cause } = thrown as { jse_cause?: { status?: number } };
      throw cause?.status === undefined ? thrown : Object.assign(thrown as Error, { status: cause.status });
    }
  };
  return {
    all: (use) => told(() => use(fresh())),
    me: (use) => told(() => use(fresh().characters(me, token))),
  };
};

const nothing = 2_147_483_000;
const nobody = 'nobody-has-this-token';
const [purple, blue] = ['#660066', '#0099ff'];

const rifter: Fit = {
  name: 'Rifter, quick',
  description: 'Two autocannons and a prop mod',
  ship_type_id: 587,
  items: [
    { type_id: 484, flag: 27, quantity: 1 },
    { type_id: 484, flag: 28, quantity: 1 },
    { type_id: 438, flag: 19, quantity: 1 },
  ],
};
const letter: Letter = {
  subject: 'Fleet tonight',
  body: 'We undock at 19:00 EVE time.',
  recipients: [{ recipient_type: 'character', recipient_id: 2112625428 }],
  approved_cost: 0,
};

const save = async (esi: Esi, s: State, as: string, fit: Fit): Promise<void> => {
  s[as] = String(given(await esi.me(({ fittings }) => fittings.add(fit)), 'fitting_id'));
};
const fits = async (esi: Esi): Promise<string[]> =>
  (await esi.me(({ fittings }) => fittings.all())).map(({ fitting_id }) => String(fitting_id));
const send = async (esi: Esi, s: State, as: string, what: Partial<Letter> = {}): Promise<void> => {
  const id = await esi.me(({ mail }) => mail.send({ ...letter, ...what }));
  assert.ok(Number.isInteger(id), 'the answer is no mail id');
  s[as] = String(id);
};
const mails = async (esi: Esi, labels: readonly number[] = [], before = 0): Promise<string[]> =>
  (await esi.me(({ mail }) => mail.inbox(labels, before))).map(({ mail_id }) => String(mail_id));
const label = async (esi: Esi, s: State, as: string, name: string, color: string): Promise<void> => {
  const id = await esi.me(({ mail }) => mail.labels.add({ name, color }));
  assert.ok(Number.isInteger(id), 'the answer is no label id');
  s[as] = String(id);
};
const labels = (esi: Esi): Promise<readonly Label[]> => esi.me(({ mail }) => mail.labels.all());
/** All pages: the one after the last is empty, or not there. */
const paged = <Row>(ask: (page: number) => Promise<readonly Row[]>): Promise<Row[]> =>
  numbered(async (page) => {
    try {
      return await ask(page);
    } catch (thrown) {
      if (page > 1 && statusOf(thrown) === 404) return [];
      throw thrown;
    }
  });
const contacts = (esi: Esi): Promise<Contact[]> => paged((page) => esi.me((one) => one.contacts.all(page)));
const contact = async (esi: Esi, id: number): Promise<Contact> =>
  given(
    (await contacts(esi)).find(({ contact_id }) => contact_id === id),
    `contact ${id}`,
  );
const contactIds = async (esi: Esi): Promise<string[]> => (await contacts(esi)).map(({ contact_id }) => String(contact_id));
const first = async (call: Promise<readonly number[]>, what: string): Promise<string> => String(given((await call)[0], what));

/** Guide: docs.esi.evetech.net and the descriptions of the routes; that of eve-swagger for how they are called. */
export const vendor: Vendor<Esi> = {
  document: 'evetech/evetech.net.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'eyJhbGciOiJSUzI1NiIsImtpZCI6IkpXVC1TaWduYXR1cmUtS2V5In0.made-up',
  client: connect,
  strict: ['a token that is refused'],
  flows: {
    'a fitting, from its saving to its end': (esi, s) => ({
      save: () => save(esi, s, 'id', rifter),
      'it is in the list': async () => once(await fits(esi), [s.id], 'fittings'),
      'as it was saved': async () => {
        const all = await esi.me(({ fittings }) => fittings.all());
        const { name, description, ship_type_id, items } = given(
          all.find(({ fitting_id }) => String(fitting_id) === s.id),
          'fitting',
        );
        assert.deepEqual({ name, description, ship_type_id, items }, rifter);
      },
      delete: () => esi.me(({ fittings }) => fittings.get(Number(s.id)).del()),
      'it is not listed': async () => assert.ok(!(await fits(esi)).includes(s.id)),
    }),

    'a mail, from its sending to its end': (esi, s) => ({
      send: () => send(esi, s, 'id'),
      read: async () => {
        const { subject, body, recipients } = await esi.me(({ mail }) => mail.get(Number(s.id)).info());
        assert.deepEqual(
          { subject, body, recipients },
          { subject: letter.subject, body: letter.body, recipients: letter.recipients },
        );
      },
      'it is from the one who sent it': async () =>
        assert.equal((await esi.me(({ mail }) => mail.get(Number(s.id)).info())).from, me),
      'its header is in the list': async () => {
        const all = await esi.me(({ mail }) => mail.inbox());
        once(
          all.map(({ mail_id }) => String(mail_id)),
          [s.id],
          'mails',
        );
        assert.equal(all.find(({ mail_id }) => String(mail_id) === s.id)?.subject, letter.subject);
      },
      delete: () => esi.me(({ mail }) => mail.get(Number(s.id)).del()),
      'it is gone': () =>
        refused(
          esi.me(({ mail }) => mail.get(Number(s.id)).info()),
          404,
        ),
      'it is not listed': async () => assert.ok(!(await mails(esi)).includes(s.id)),
    }),

    'labels of mails': (esi, s) => ({
      'two are made': async () => {
        await label(esi, s, 'corp', 'Corp', purple);
        await label(esi, s, 'fleet', 'Fleet', blue);
        assert.notEqual(s.corp, s.fleet);
      },
      'they are listed': async () =>
        once(
          (await labels(esi)).map(({ label_id }) => String(label_id)),
          [s.corp, s.fleet],
          'labels',
        ),
      'with name and colour': async () => {
        const one = given(
          (await labels(esi)).find(({ label_id }) => String(label_id) === s.corp),
          'label',
        );
        assert.deepEqual([one.name, one.color], ['Corp', purple]);
      },
      'nothing to read in a new one': async () => {
        const one = given(
          (await labels(esi)).find(({ label_id }) => String(label_id) === s.fleet),
          'label',
        );
        assert.ok((one.unread_count ?? 0) === 0);
      },
      'one is deleted': () => esi.me(({ mail }) => mail.labels.get(Number(s.corp)).del()),
      'the other is left': async () => {
        const all = (await labels(esi)).map(({ label_id }) => String(label_id));
        once(all, [s.fleet], 'labels');
        assert.ok(!all.includes(s.corp));
      },
      'how many are unread': async () => {
        const count = await esi.me(({ mail }) => mail.unreadCount());
        assert.ok(count === undefined || (Number.isInteger(count) && count >= 0));
      },
    }),

    'a mail gets labels and is read': (esi, s) => ({
      'a mail and two labels': async () => {
        await send(esi, s, 'mail');
        await label(esi, s, 'one', 'Important', purple);
        await label(esi, s, 'two', 'Later', blue);
      },
      'a label, and not read': () =>
        esi.me(({ mail }) => mail.get(Number(s.mail)).update({ labels: [Number(s.one)], read: false })),
      'so it is': async () => {
        const mail = await esi.me((one) => one.mail.get(Number(s.mail)).info());
        assert.deepEqual([mail.labels, mail.read], [[Number(s.one)], false]);
      },
      'another label in its place, and read': () =>
        esi.me(({ mail }) => mail.get(Number(s.mail)).update({ labels: [Number(s.two)], read: true })),
      'so it is now': async () => {
        const mail = await esi.me((one) => one.mail.get(Number(s.mail)).info());
        assert.deepEqual([mail.labels, mail.read], [[Number(s.two)], true]);
      },
      'its words are the same': async () => {
        const { subject, body } = await esi.me((one) => one.mail.get(Number(s.mail)).info());
        assert.deepEqual([subject, body], [letter.subject, letter.body]);
      },
      'the list knows it too': async () => {
        const all = await esi.me((one) => one.mail.inbox());
        const header = given(
          all.find(({ mail_id }) => String(mail_id) === s.mail),
          'mail',
        );
        assert.deepEqual([header.labels, header.is_read], [[Number(s.two)], true]);
      },
    }),

    'mails by their label': (esi, s) => ({
      'a label and three mails': async () => {
        await label(esi, s, 'label', 'Trade', blue);
        for (const as of ['a', 'b', 'c']) await send(esi, s, as, { subject: `Offer ${as}` });
      },
      'two get it': async () => {
        for (const id of [s.a, s.c])
          await esi.me(({ mail }) => mail.get(Number(id)).update({ labels: [Number(s.label)], read: true }));
      },
      'they alone are asked for': async () => {
        const all = await mails(esi, [Number(s.label)]);
        once(all, [s.a, s.c], 'mails');
        assert.ok(!all.includes(s.b));
      },
      'all have the label': async () => {
        const all = await esi.me(({ mail }) => mail.inbox([Number(s.label)]));
        assert.ok(all.every(({ labels: held }) => held?.includes(Number(s.label))));
      },
      'one of them loses it': () => esi.me(({ mail }) => mail.get(Number(s.a)).update({ labels: [], read: true })),
      'one is left': async () => {
        const all = await mails(esi, [Number(s.label)]);
        once(all, [s.c], 'mails');
        assert.ok(!all.includes(s.a));
      },
      'all are there without a label': async () => once(await mails(esi), [s.a, s.b, s.c], 'mails'),
    }),

    'mails, back to the first': (esi, s) => ({
      'five are sent': async () => {
        const ids: string[] = [];
        for (const as of ['a', 'b', 'c', 'd', 'e']) {
          await send(esi, s, as, { subject: `Report ${as}` });
          ids.push(s[as]);
        }
        s.sent = ids.join(' ');
        once(ids, ids, 'ids');
      },
      'at most fifty at a time': async () => assert.ok((await mails(esi)).length <= 50),
      'those before the third': async () => {
        const all = await mails(esi, [], Number(s.c));
        assert.ok(
          all.every((id) => Number(id) < Number(s.c)),
          `not all of ${all.join(' ')} are below ${s.c}`,
        );
        for (const id of s.sent.split(' ')) assert.equal(all.includes(id), Number(id) < Number(s.c), `mail ${id}`);
      },
      'none before the first of all': async () => {
        const lowest = Math.min(...(await mails(esi)).map(Number));
        assert.deepEqual(await mails(esi, [], lowest), []);
      },
      'all, as the client walks by itself': async () => {
        const all = await esi.me(({ mail }) => mail.all());
        once(
          all.map(({ mail_id }) => String(mail_id)),
          s.sent.split(' '),
          'mails',
        );
      },
      'mailing lists': async () => {
        const all = await esi.me(({ mail }) => mail.lists());
        assert.ok(all.every(({ mailing_list_id, name }) => Number.isInteger(mailing_list_id) && typeof name === 'string'));
      },
    }),

    contacts: (esi) => {
      const [one, other] = [2112625428, 2112625429];
      return {
        'two are added': async () => {
          const added = await esi.me((own) => own.contacts.add({ ids: [one, other], standing: 5 }));
          assert.deepEqual([...added].sort(), [one, other]);
        },
        'each is there once': async () => once(await contactIds(esi), [String(one), String(other)], 'contacts'),
        'as they were added': async () => {
          assert.equal((await contact(esi, one)).standing, 5);
          assert.equal((await contact(esi, other)).standing, 5);
        },
        'one is liked less': () => esi.me((own) => own.contacts.get(one).update({ standing: -2.5 })),
        'and the other not': async () => {
          assert.equal((await contact(esi, one)).standing, -2.5);
          assert.equal((await contact(esi, other)).standing, 5);
        },
        'still there once': async () => once(await contactIds(esi), [String(one), String(other)], 'contacts'),
        'labels of contacts': async () => {
          const all = await esi.me((own) => own.contacts.labels());
          assert.ok(all.every(({ label_id, label_name }) => Number.isInteger(label_id) && typeof label_name === 'string'));
        },
      };
    },

    'a contact that is watched': (esi) => {
      const id = 2112625430;
      return {
        add: async () => assert.deepEqual(await esi.me((own) => own.contacts.addWatched({ ids: [id], standing: -10 })), [id]),
        'it is watched': async () => {
          const { standing, is_watched } = await contact(esi, id);
          assert.deepEqual([standing, is_watched], [-10, true]);
        },
        'not any more': () => esi.me((own) => own.contacts.get(id).update({ standing: -10 })),
        'so it is': async () => {
          const { standing, is_watched } = await contact(esi, id);
          assert.deepEqual([standing, is_watched ?? false], [-10, false]);
        },
        'and again, with another standing': () => esi.me((own) => own.contacts.get(id).updateWatched({ standing: 10 })),
        'so it is now': async () => {
          const { standing, is_watched } = await contact(esi, id);
          assert.deepEqual([standing, is_watched], [10, true]);
        },
      };
    },

    'a calendar is answered': (esi, s) => ({
      'there is an event': async () => {
        const all = await esi.me(({ calendar }) => calendar.recent());
        assert.ok(all.length <= 50);
        s.id = String(given(all[0], 'event').event_id);
      },
      read: async () => {
        const event = await esi.me(({ calendar }) => calendar.event(Number(s.id)).info());
        assert.deepEqual([String(event.event_id), typeof event.title], [s.id, 'string']);
      },
      accept: () => esi.me(({ calendar }) => calendar.event(Number(s.id)).accept()),
      'it is accepted': async () => {
        assert.equal((await esi.me(({ calendar }) => calendar.event(Number(s.id)).info())).response, 'accepted');
      },
      'the list knows it': async () => {
        const all = await esi.me(({ calendar }) => calendar.recent());
        assert.equal(all.find(({ event_id }) => String(event_id) === s.id)?.event_response, 'accepted');
      },
      decline: () => esi.me(({ calendar }) => calendar.event(Number(s.id)).decline()),
      'it is declined': async () => {
        assert.equal((await esi.me(({ calendar }) => calendar.event(Number(s.id)).info())).response, 'declined');
      },
    }),

    'alliances and their corporations': (esi, s) => ({
      'there are alliances': async () => {
        s.alliance = await first(
          esi.all((api) => api.alliances()),
          'alliance',
        );
      },
      'one of them': async () => {
        const { name, ticker } = await esi.all((api) => api.alliances(Number(s.alliance)).info());
        [s.name, s.ticker] = [given(name, 'name'), given(ticker, 'ticker')];
      },
      'what its number is called': async () => {
        const names = await esi.all((api) => api.names([Number(s.alliance)]));
        assert.deepEqual(
          names.map(({ id, name, category }) => [String(id), name, category]),
          [[s.alliance, s.name, 'alliance']],
        );
      },
      'its corporations': async () => {
        s.corporation = await first(
          esi.all((api) => api.alliances(Number(s.alliance)).corporations()),
          'corporation',
        );
      },
      'one of those is in it': async () => {
        const { name, alliance_id } = await esi.all((api) => api.corporations(Number(s.corporation)).info());
        assert.deepEqual([typeof name, String(alliance_id)], ['string', s.alliance]);
      },
      'its icons': async () => {
        const icons = await esi.all((api) => api.alliances(Number(s.alliance)).icon());
        assert.ok(Object.values(icons).every((address) => typeof address === 'string'));
      },
    }),

    'where one can fly': (esi, s) => ({
      'a region': async () => {
        s.region = await first(
          esi.all((api) => api.regions()),
          'region',
        );
      },
      'it has constellations': async () => {
        const region = await esi.all((api) => api.regions(Number(s.region)).info());
        assert.equal(String(region.region_id), s.region);
        s.constellation = String(given(region.constellations[0], 'constellation'));
      },
      'one of them is in it': async () => {
        const one = await esi.all((api) => api.constellations(Number(s.constellation)).info());
        assert.deepEqual([String(one.constellation_id), String(one.region_id)], [s.constellation, s.region]);
        s.system = String(given(one.systems[0], 'system'));
      },
      'one of its systems is in it': async () => {
        const one = await esi.all((api) => api.solarSystems(Number(s.system)).info());
        assert.deepEqual([String(one.system_id), String(one.constellation_id)], [s.system, s.constellation]);
      },
      'it is among all systems': async () =>
        once((await esi.all((api) => api.solarSystems())).map(String), [s.system], 'systems'),
      'fly there': () => esi.me(({ autopilot }) => autopilot.destination(Number(s.system))),
      'and farther': () => esi.me(({ autopilot }) => autopilot.append(Number(s.system))),
    }),

    'types and their groups, page by page': (esi, s) => ({
      'all types': async () => {
        const all = await paged((page) => esi.all((api) => api.types.all(page)));
        once(all.map(String), all.map(String), 'types');
        s.type = String(given(all[0], 'type'));
      },
      'one of them': async () => {
        const type = await esi.all((api) => api.types.get(Number(s.type)).info());
        assert.equal(String(type.type_id), s.type);
        s.group = String(type.group_id);
      },
      'all groups': async () => {
        const all = await paged((page) => esi.all((api) => api.types.groups.all(page)));
        once(all.map(String), [s.group], 'groups');
      },
      'the group holds the type': async () => {
        const group = await esi.all((api) => api.types.groups.get(Number(s.group)).info());
        assert.equal(String(group.group_id), s.group);
        once(group.types.map(String), [s.type], 'types');
      },
      'what its number is called': async () => {
        const { name } = await esi.all((api) => api.types.get(Number(s.type)).info());
        const names = await esi.all((api) => api.names([Number(s.type)]));
        assert.deepEqual(
          names.map((one) => [String(one.id), one.name, one.category]),
          [[s.type, name, 'inventory_type']],
        );
      },
    }),

    wars: (esi, s) => ({
      'the latest first': async () => {
        const all = await esi.all((api) => api.wars.recent());
        assert.ok(all.length > 0 && all.length <= 2000);
        assert.deepEqual(
          [...all],
          [...all].sort((a, b) => b - a),
        );
        [s.latest, s.all] = [String(all[0]), all.join(' ')];
      },
      'one of them': async () => {
        const war = await esi.all((api) => api.wars.get(Number(s.latest)).info());
        assert.deepEqual([String(war.id), typeof war.declared], [s.latest, 'string']);
      },
      'those before it': async () => {
        const all = await esi.all((api) => api.wars.recent(Number(s.latest)));
        assert.ok(all.every((id) => id < Number(s.latest)));
        once(all.map(String), s.all.split(' ').slice(1, 5), 'wars');
      },
      'one that never was': () =>
        refused(
          esi.all((api) => api.wars.get(nothing).info()),
          422,
        ),
      'how the server is': async () => {
        const { players, server_version, start_time } = await esi.all((api) => api.status());
        assert.deepEqual([typeof players, typeof server_version], ['number', 'string']);
        assert.ok(!Number.isNaN(Date.parse(start_time)));
      },
    }),

    'what is wrong': (esi, s) => ({
      'a fitting without a name': () =>
        refused(
          esi.me(({ fittings }) => fittings.add({ ...rifter, name: undefined as never })),
          400,
          422,
        ),
      'one with too long a name': () =>
        refused(
          esi.me(({ fittings }) => fittings.add({ ...rifter, name: 'Rifter'.repeat(9) })),
          400,
          422,
        ),
      'one of nothing': () =>
        refused(
          esi.me(({ fittings }) => fittings.add({ ...rifter, items: [] })),
          400,
          422,
        ),
      'a mail to no one': () =>
        refused(
          esi.me(({ mail }) => mail.send({ ...letter, recipients: [] })),
          400,
          422,
        ),
      'a mail to a planet': () => {
        const recipients = [{ recipient_type: 'planet', recipient_id: 40009077 }];
        return refused(
          esi.me(({ mail }) => mail.send({ ...letter, recipients })),
          400,
          422,
        );
      },
      'a label of no colour of theirs': () =>
        refused(
          esi.me(({ mail }) => mail.labels.add({ name: 'Red', color: '#123456' })),
          400,
          422,
        ),
      'a contact who is liked too much': () =>
        refused(
          esi.me((own) => own.contacts.add({ ids: [2112625431], standing: 11 })),
          400,
          422,
        ),
      'nothing of it is there': async () => {
        await save(esi, s, 'id', rifter);
        const all = await esi.me(({ fittings }) => fittings.all());
        assert.ok(!all.some(({ name, items }) => name === 'Rifter'.repeat(9) || items.length === 0));
        assert.ok(!(await contactIds(esi)).includes('2112625431'));
      },
    }),

    'what is not there': (esi) => ({
      'a mail': () =>
        refused(
          esi.me(({ mail }) => mail.get(nothing).info()),
          404,
        ),
      'an event': () =>
        refused(
          esi.me(({ calendar }) => calendar.event(nothing).info()),
          404,
        ),
      'an alliance': () =>
        refused(
          esi.all((api) => api.alliances(nothing).info()),
          404,
        ),
      'a corporation': () =>
        refused(
          esi.all((api) => api.corporations(nothing).info()),
          404,
        ),
      'a type': () =>
        refused(
          esi.all((api) => api.types.get(nothing).info()),
          404,
        ),
      'a system': () =>
        refused(
          esi.all((api) => api.solarSystems(nothing).info()),
          404,
        ),
      'a name': () =>
        refused(
          esi.all((api) => api.names([nothing])),
          404,
        ),
      'a fleet, nor wings of it': async () => {
        await refused(
          esi.me((one) => one.fleet(nothing).info()),
          404,
        );
        await refused(
          esi.me((one) => one.fleet(nothing).wings.add()),
          404,
        );
      },
    }),

    'a token that is refused': (esi, s, another) => {
      const other = another(nobody);
      return {
        'a fitting': () => save(esi, s, 'id', rifter),
        'none to see for another': () =>
          refused(
            other.me(({ fittings }) => fittings.all()),
            401,
            403,
          ),
        'none to save': () =>
          refused(
            other.me(({ fittings }) => fittings.add(rifter)),
            401,
            403,
          ),
        'none to delete': () =>
          refused(
            other.me(({ fittings }) => fittings.get(Number(s.id)).del()),
            401,
            403,
          ),
        'no mail to send': () =>
          refused(
            other.me(({ mail }) => mail.send(letter)),
            401,
            403,
          ),
        'what is public is open to all': async () => assert.ok((await other.all((api) => api.alliances())).length > 0),
        'the fitting is still there': async () => once(await fits(esi), [s.id], 'fittings'),
      };
    },
  },
};
