import assert from 'node:assert/strict';
import { initSalesloftSDK, type SalesloftSDK } from '@opensdks/sdk-salesloft';
import { given, once, type Place, pages, refused, type State, type Vendor } from '../kit.ts';

/** The description has several values of a filter in one parameter, with commas; the client would repeat it. */
const querySerializer = (query: unknown): string =>
  Object.entries(query as Record<string, unknown>)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        `${name}=${[value]
          .flat()
          .map((one) => encodeURIComponent(String(one)))
          .join(',')}`,
    )
    .join('&');

const connect = (place: Place, token: string): SalesloftSDK =>
  initSalesloftSDK({ baseUrl: place.url, headers: { authorization: `Bearer ${token}` }, querySerializer });

interface Linked {
  readonly id?: number;
}
interface Paging {
  readonly per_page?: number;
  readonly current_page?: number;
  readonly next_page?: number | null;
}
interface Page<Row> {
  readonly rows: readonly Row[];
  readonly next: string | undefined;
  readonly paging: Paging | undefined;
}

/** The guide has what was asked for under `data`; the description, and the client's types after it, have it bare. */
const inner = <T>({ data }: { readonly data: T }): T => (data as { readonly data?: T }).data ?? data;
const paged = <Row>({ data }: { readonly data: unknown }, number: number, most: number): Page<Row> => {
  if (Array.isArray(data)) {
    const rows = data as readonly Row[];
    return { rows, next: rows.length < most ? undefined : String(number + 1), paging: undefined };
  }
  const { data: rows, metadata } = data as { readonly data?: readonly Row[]; readonly metadata?: { readonly paging?: Paging } };
  const next = metadata?.paging?.next_page ?? undefined;
  return { rows: given(rows, 'data'), next: next === undefined ? undefined : String(next), paging: metadata?.paging };
};
const rowsOf = <Row>(answer: { readonly data: unknown }): readonly Row[] => paged<Row>(answer, 1, 100).rows;

type Turn = { readonly per_page: number; readonly page: number };
const walk = <Row>(ask: (turn: Turn) => Promise<{ readonly data: unknown }>, per_page = 100): Promise<Row[]> =>
  pages(
    async (from) => {
      const page = Number(from ?? 1);
      return paged<Row>(await ask({ per_page, page }), page, per_page);
    },
    ({ rows }) => rows,
    ({ next }) => next,
    100,
  );
const ids = (rows: readonly Linked[]): string[] => rows.map(({ id }) => String(given(id, 'id')));

const people = (a: SalesloftSDK, query: object = {}, per_page = 100): Promise<Linked[]> =>
  walk((turn) => a.GET('/v2/people.json', { params: { query: { ...query, ...turn } } }), per_page);
const accounts = (a: SalesloftSDK, query: object = {}): Promise<Linked[]> =>
  walk((turn) => a.GET('/v2/accounts.json', { params: { query: { ...query, ...turn } } }));

const by = (id: string): { readonly path: { readonly id: string } } => ({ path: { id } });

const readPerson = async (a: SalesloftSDK, id: string) => inner(await a.GET('/v2/people/{id}.json', { params: by(id) }));
const readAccount = async (a: SalesloftSDK, id: string) => inner(await a.GET('/v2/accounts/{id}.json', { params: by(id) }));

const person = async (a: SalesloftSDK, s: State, as: string, what: { readonly [name: string]: unknown }): Promise<void> => {
  const made = inner(
    await a.POST('/v2/people.json', { body: { email_address: `${as}@example.com`, last_name: 'Johnson', ...what } }),
  );
  s[as] = String(given(made.id, 'id'));
};
const account = async (a: SalesloftSDK, s: State, as: string, name: string, what: object = {}): Promise<void> => {
  const made = inner(await a.POST('/v2/accounts.json', { body: { name, domain: `${as}.example.com`, ...what } }));
  s[as] = String(given(made.id, 'id'));
};

interface Task {
  readonly id?: number;
  readonly subject?: string;
  readonly task_type?: string;
  readonly current_state?: string;
  readonly due_date?: string;
  readonly completed_at?: string | null;
  readonly description?: string;
  readonly person?: Linked;
  readonly user?: Linked;
}
interface Webhook {
  readonly id?: number;
  readonly callback_url?: string;
  readonly callback_token?: string;
  readonly event_type?: string;
  readonly enabled?: boolean;
}
const tasks = (a: SalesloftSDK, query: object): Promise<Task[]> =>
  walk((turn) => a.GET('/v2/tasks.json', { params: { query: { ...query, ...turn } } }));
/** The description has a step where the guide has the task. */
const readTask = async (a: SalesloftSDK, id: string): Promise<Task> =>
  inner(await a.GET('/v2/tasks/{id}.json', { params: by(id) })) as Task;
const notes = (a: SalesloftSDK, query: object = {}): Promise<Linked[]> =>
  walk((turn) => a.GET('/v2/notes.json', { params: { query: { ...query, ...turn } } }));
const webhooks = async (a: SalesloftSDK, query: object = {}): Promise<readonly Webhook[]> =>
  rowsOf(await a.GET('/v2/webhook_subscriptions', { params: { query } }));
const hook = (id: string): { readonly path: { readonly id: number } } => ({ path: { id: Number(id) } });

const nothing = '999999999';
const token = 'xT7Buu0Vz2ffiIPuMlBGucwku1dr7G5jeiM0iyfYIT0l4z3azNGjiXWTOX8OT';

/**
 * Guide: developers.salesloft.com, "API basics" (requests and responses, paging, filtering, errors), its reference and its page
 * on webhooks.
 */
export const vendor: Vendor<SalesloftSDK> = {
  document: 'salesloft/salesloft.com.json',
  header: 'Authorization',
  word: 'Bearer',
  made: 'ak_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
  client: connect,
  strict: ['a key that is refused'],
  flows: {
    'a person, from the first to the last day': (a, s) => ({
      made: async () => {
        const what = {
          first_name: 'Pat',
          last_name: 'Johnson',
          email_address: 'pat@example.com',
          title: 'CEO',
          tags: ['dreamforce'],
        };
        const made = inner(await a.POST('/v2/people.json', { body: what }));
        s.person = String(given(made.id, 'id'));
        assert.deepEqual(
          [made.first_name, made.last_name, made.email_address, made.title, made.tags],
          ['Pat', 'Johnson', 'pat@example.com', 'CEO', ['dreamforce']],
        );
      },
      read: async () => {
        const read = await readPerson(a, s.person);
        assert.deepEqual([String(read.id), read.first_name, read.email_address], [s.person, 'Pat', 'pat@example.com']);
      },
      'is in the list': async () => once(ids(await people(a)), [s.person], 'people'),
      'another title': async () => {
        const changed = inner(await a.PUT('/v2/people/{id}.json', { params: by(s.person), body: { title: 'Board member' } }));
        assert.deepEqual([String(changed.id), changed.title], [s.person, 'Board member']);
      },
      'the rest stays': async () => {
        const read = await readPerson(a, s.person);
        assert.deepEqual(
          [read.title, read.first_name, read.last_name, read.email_address, read.tags],
          ['Board member', 'Pat', 'Johnson', 'pat@example.com', ['dreamforce']],
        );
      },
      deleted: async () => assert.equal((await a.DELETE('/v2/people/{id}.json', { params: by(s.person) })).response.status, 204),
      gone: async () => refused(readPerson(a, s.person), 404),
      'no longer in the list': async () => assert.ok(!ids(await people(a)).includes(s.person), 'it is'),
      'deleting it again is no error': async () => a.DELETE('/v2/people/{id}.json', { params: by(s.person) }),
    }),

    'people through all pages': (a, s) => ({
      'five are made': async () => {
        const titles = ['Analyst', 'Buyer', 'Clerk', 'Director', 'Editor'];
        for (const [n, title] of titles.entries()) await person(a, s, `p${n}`, { title: `${title} of pages` });
        s.all = [s.p0, s.p1, s.p2, s.p3, s.p4].join(' ');
      },
      'two on a page': async () => {
        const { rows } = paged<Linked>(await a.GET('/v2/people.json', { params: { query: { per_page: 2, page: 1 } } }), 1, 2);
        assert.equal(rows.length, 2);
        s.first = ids(rows).join(' ');
      },
      'the next two are others': async () => {
        const { rows } = paged<Linked>(await a.GET('/v2/people.json', { params: { query: { per_page: 2, page: 2 } } }), 2, 2);
        assert.equal(rows.length, 2);
        for (const id of ids(rows)) assert.ok(!s.first.split(' ').includes(id), `${id} again`);
      },
      'all of them, each once': async () => {
        const rows = ids(await people(a, {}, 2));
        once(rows, [...new Set(rows)], 'people');
        once(rows, s.all.split(' '), 'people');
      },
      'by their titles': async () => {
        const made = s.all.split(' ');
        const order = async (sort_direction: string): Promise<string[]> =>
          ids(await people(a, { sort_by: 'title', sort_direction })).filter((id) => made.includes(id));
        assert.deepEqual(await order('ASC'), made);
        assert.deepEqual(await order('DESC'), made.toReversed());
      },
      'what is said of a page': async () => {
        const query = { per_page: 2, page: 1, include_paging_counts: true };
        const { paging } = paged<Linked>(await a.GET('/v2/people.json', { params: { query } }), 1, 2);
        const told = given(paging, 'metadata of its paging');
        assert.deepEqual([told.per_page, told.current_page, told.next_page], [2, 1, 2]);
      },
    }),

    'people by what they are like': (a, s) => ({
      'three are made': async () => {
        await person(a, s, 'quiet', { do_not_contact: true, title: 'Silent partner' });
        await person(a, s, 'loud', { do_not_contact: false, title: 'Speaker' });
        await person(a, s, 'other', { do_not_contact: false, title: 'Listener' });
      },
      'by an address': async () => assert.deepEqual(ids(await people(a, { email_addresses: ['loud@example.com'] })), [s.loud]),
      'by an address that nobody has': async () =>
        assert.deepEqual(ids(await people(a, { email_addresses: ['nobody@example.com'] })), []),
      'by their ids, of which one is unknown': async () => {
        const found = ids(await people(a, { ids: [Number(s.quiet), Number(s.other), Number(nothing)] }));
        assert.deepEqual(found.toSorted(), [s.quiet, s.other].toSorted());
      },
      'whom nobody may contact': async () => {
        const found = ids(await people(a, { do_not_contact: true }));
        once(found, [s.quiet], 'people');
        assert.ok(!found.includes(s.loud) && !found.includes(s.other), 'others are among them');
      },
      'by a title': async () => assert.deepEqual(ids(await people(a, { title: ['Speaker'] })), [s.loud]),
    }),

    'an account, from the first to the last day': (a, s) => ({
      made: async () => {
        const body = {
          name: 'Salesloft Office',
          domain: 'office.example.com',
          city: 'Atlanta',
          industry: 'Sports',
          tags: ['customer'],
        };
        const made = inner(await a.POST('/v2/accounts.json', { body }));
        s.account = String(given(made.id, 'id'));
        assert.deepEqual(
          [made.name, made.domain, made.city, made.industry, made.tags],
          ['Salesloft Office', 'office.example.com', 'Atlanta', 'Sports', ['customer']],
        );
      },
      read: async () => {
        const read = await readAccount(a, s.account);
        assert.deepEqual([String(read.id), read.name, read.domain], [s.account, 'Salesloft Office', 'office.example.com']);
      },
      'is in the list': async () => once(ids(await accounts(a)), [s.account], 'accounts'),
      'another city': async () => {
        const body = { name: 'Salesloft Office', domain: 'office.example.com', city: 'Guadalajara' };
        const changed = inner(await a.PUT('/v2/accounts/{id}.json', { params: by(s.account), body }));
        assert.deepEqual([String(changed.id), changed.city], [s.account, 'Guadalajara']);
      },
      'the rest stays': async () => {
        const read = await readAccount(a, s.account);
        assert.deepEqual(
          [read.city, read.name, read.industry, read.tags],
          ['Guadalajara', 'Salesloft Office', 'Sports', ['customer']],
        );
      },
      deleted: async () =>
        assert.equal((await a.DELETE('/v2/accounts/{id}.json', { params: by(s.account) })).response.status, 204),
      gone: async () => refused(readAccount(a, s.account), 404),
      'no longer in the list': async () => assert.ok(!ids(await accounts(a)).includes(s.account), 'it is'),
      'deleting it again is no error': async () => a.DELETE('/v2/accounts/{id}.json', { params: by(s.account) }),
    }),

    'an account is archived, and comes back': (a, s) => ({
      made: async () => account(a, s, 'attic', 'Attic'),
      'is not archived': async () => assert.equal((await readAccount(a, s.attic)).archived_at ?? undefined, undefined),
      archived: async () => {
        const body = { name: 'Attic', domain: 'attic.example.com', archived: true };
        const changed = inner(await a.PUT('/v2/accounts/{id}.json', { params: by(s.attic), body }));
        assert.ok(!Number.isNaN(Date.parse(given(changed.archived_at, 'archived_at'))));
      },
      'is among the archived': async () => once(ids(await accounts(a, { archived: true })), [s.attic], 'accounts'),
      'is not among the others': async () => assert.ok(!ids(await accounts(a, { archived: false })).includes(s.attic), 'it is'),
      'comes back': async () => {
        const body = { name: 'Attic', domain: 'attic.example.com', archived: false };
        await a.PUT('/v2/accounts/{id}.json', { params: by(s.attic), body });
        assert.equal((await readAccount(a, s.attic)).archived_at ?? undefined, undefined);
      },
    }),

    'accounts by what they are like': (a, s) => ({
      'three are made': async () => {
        await account(a, s, 'north', 'North Star', { tags: ['priority'], website: 'https://north.example.com' });
        await account(a, s, 'south', 'South Star', { tags: ['priority', 'eu'] });
        await account(a, s, 'west', 'West Star', { tags: ['eu'] });
      },
      'by their domain': async () => assert.deepEqual(ids(await accounts(a, { domain: 'south.example.com' })), [s.south]),
      'by two names': async () => {
        const found = ids(await accounts(a, { name: ['North Star', 'West Star'] }));
        assert.deepEqual(found.toSorted(), [s.north, s.west].toSorted());
      },
      'a name in small letters is another': async () => assert.deepEqual(ids(await accounts(a, { name: ['north star'] })), []),
      'by a tag': async () => {
        const found = ids(await accounts(a, { tag: ['priority'] }));
        once(found, [s.north, s.south], 'accounts');
        assert.ok(!found.includes(s.west), 'one without the tag is there');
      },
      'by a website': async () => assert.deepEqual(ids(await accounts(a, { website: ['https://north.example.com'] })), [s.north]),
    }),

    'people of an account': (a, s) => ({
      'an account, two of its people and another': async () => {
        await account(a, s, 'firm', 'Firm');
        await person(a, s, 'boss', { account_id: Number(s.firm) });
        await person(a, s, 'clerk', { account_id: Number(s.firm) });
        await person(a, s, 'stranger', {});
      },
      'a person has it': async () => assert.equal(String((await readPerson(a, s.boss)).account?.id), s.firm),
      'the stranger has none': async () => assert.equal((await readPerson(a, s.stranger)).account?.id ?? undefined, undefined),
      'its people': async () => {
        const found = ids(await people(a, { account_id: [Number(s.firm)] }));
        assert.deepEqual(found.toSorted(), [s.boss, s.clerk].toSorted());
      },
      'the stranger joins': async () => {
        await a.PUT('/v2/people/{id}.json', { params: by(s.stranger), body: { account_id: Number(s.firm) } });
        once(ids(await people(a, { account_id: [Number(s.firm)] })), [s.boss, s.clerk, s.stranger], 'people');
      },
      'the account is deleted': async () => a.DELETE('/v2/accounts/{id}.json', { params: by(s.firm) }),
      'its people are removed from it': async () => {
        const read = await readPerson(a, s.boss);
        assert.deepEqual([String(read.id), read.account?.id ?? undefined], [s.boss, undefined]);
      },
    }),

    'notes on a person': (a, s) => ({
      'a person and two notes': async () => {
        await person(a, s, 'noted', {});
        for (const [as, content] of [
          ['n1', 'Likes birds'],
          ['n2', 'Has a dog'],
        ] as const) {
          const body = { content, associated_with_type: 'person', associated_with_id: Number(s.noted) };
          const made = inner(await a.POST('/v2/notes.json', { body }));
          s[as] = String(given(made.id, 'id'));
          assert.equal(made.content, content);
        }
      },
      'a note knows its person': async () => {
        const read = inner(await a.GET('/v2/notes/{id}.json', { params: by(s.n1) }));
        assert.deepEqual(
          [read.content, read.associated_type, String(read.associated_with?.id)],
          ['Likes birds', 'person', s.noted],
        );
      },
      'the notes of the person': async () => {
        const found = ids(await notes(a, { associated_with_type: 'person', associated_with_id: Number(s.noted) }));
        assert.deepEqual(found.toSorted(), [s.n1, s.n2].toSorted());
      },
      'other words': async () => {
        await a.PUT('/v2/notes/{id}.json', { params: by(s.n1), body: { content: 'Likes cats now' } });
        const read = inner(await a.GET('/v2/notes/{id}.json', { params: by(s.n1) }));
        assert.deepEqual([read.content, String(read.associated_with?.id)], ['Likes cats now', s.noted]);
      },
      'one is deleted': async () => a.DELETE('/v2/notes/{id}.json', { params: by(s.n1) }),
      'it is gone': async () => refused(a.GET('/v2/notes/{id}.json', { params: by(s.n1) }), 404),
      'the other stays': async () =>
        assert.deepEqual(ids(await notes(a, { associated_with_type: 'person', associated_with_id: Number(s.noted) })), [s.n2]),
    }),

    'a task until it is done': (a, s) => ({
      'who I am': async () => {
        s.me = String(given(inner(await a.GET('/v2/me.json', {})).id, 'id'));
      },
      made: async () => {
        await person(a, s, 'called', {});
        const body = {
          subject: 'Call John Wick',
          person_id: s.called,
          user_id: Number(s.me),
          task_type: 'call',
          due_date: '2030-10-15',
          current_state: 'scheduled',
          idempotency_key: 'call-john-wick-once',
        };
        const made: Task = inner(await a.POST('/v2/tasks.json', { body }));
        s.task = String(given(made.id, 'id'));
        assert.deepEqual([made.subject, made.task_type, made.current_state], ['Call John Wick', 'call', 'scheduled']);
      },
      read: async () => {
        const read = await readTask(a, s.task);
        assert.deepEqual(
          [read.subject, read.due_date, String(read.person?.id), String(read.user?.id)],
          ['Call John Wick', '2030-10-15', s.called, s.me],
        );
      },
      'is what is to do for the person': async () => {
        assert.deepEqual(ids(await tasks(a, { person_id: [Number(s.called)], current_state: ['scheduled'] })), [s.task]);
      },
      'by its key': async () => assert.deepEqual(ids(await tasks(a, { idempotency_key: 'call-john-wick-once' })), [s.task]),
      done: async () => {
        const body = { current_state: 'completed', description: 'Ask John Wick about his dog.' };
        const changed: Task = inner(await a.PUT('/v2/tasks/{id}.json', { params: by(s.task), body }));
        assert.deepEqual([changed.current_state, changed.description], ['completed', 'Ask John Wick about his dog.']);
        assert.ok(!Number.isNaN(Date.parse(given(changed.completed_at, 'completed_at'))));
      },
      'nothing is to do for the person': async () =>
        assert.deepEqual(ids(await tasks(a, { person_id: [Number(s.called)], current_state: ['scheduled'] })), []),
      'it is among what was done': async () =>
        assert.deepEqual(ids(await tasks(a, { person_id: [Number(s.called)], current_state: ['completed'] })), [s.task]),
    }),

    'fields of a team of its own': (a, s) => {
      const fields = (query: object = {}): Promise<Linked[]> =>
        walk((turn) => a.GET('/v2/custom_fields.json', { params: { query: { ...query, ...turn } } }));
      return {
        'two are made': async () => {
          const made = inner(await a.POST('/v2/custom_fields.json', { body: { name: 'Favourite bird', field_type: 'person' } }));
          s.field = String(given(made.id, 'id'));
          assert.deepEqual([made.name, made.field_type], ['Favourite bird', 'person']);
          const other = inner(await a.POST('/v2/custom_fields.json', { body: { name: 'Fleet size', field_type: 'company' } }));
          s.other = String(given(other.id, 'id'));
        },
        'those of people': async () => {
          const found = ids(await fields({ field_type: 'person' }));
          once(found, [s.field], 'fields');
          assert.ok(!found.includes(s.other), 'one of companies is there');
        },
        'a person has a value': async () => {
          await person(a, s, 'birder', { custom_fields: { 'Favourite bird': 'Wren' } });
          assert.deepEqual((await readPerson(a, s.birder)).custom_fields, { 'Favourite bird': 'Wren' });
        },
        'another name': async () => {
          await a.PUT('/v2/custom_fields/{id}.json', { params: by(s.other), body: { name: 'Ships' } });
          const read = inner(await a.GET('/v2/custom_fields/{id}.json', { params: by(s.other) }));
          assert.deepEqual([read.name, read.field_type], ['Ships', 'company']);
        },
        deleted: async () => a.DELETE('/v2/custom_fields/{id}.json', { params: by(s.other) }),
        gone: async () => {
          await refused(a.GET('/v2/custom_fields/{id}.json', { params: by(s.other) }), 404);
          const found = ids(await fields());
          once(found, [s.field], 'fields');
          assert.ok(!found.includes(s.other), 'it is still listed');
        },
      };
    },

    'stages that people go through': (a, s) => {
      const stages = (): Promise<Linked[]> => walk((turn) => a.GET('/v2/person_stages.json', { params: { query: turn } }));
      return {
        'two are made': async () => {
          for (const [as, name] of [
            ['cold', 'Cold'],
            ['warm', 'Warm'],
          ] as const) {
            const made = inner(await a.POST('/v2/person_stages.json', { body: { name } }));
            s[as] = String(given(made.id, 'id'));
            assert.equal(made.name, name);
          }
        },
        'both are listed': async () => once(ids(await stages()), [s.cold, s.warm], 'stages'),
        'a person begins in one': async () => {
          await person(a, s, 'lead', { person_stage_id: Number(s.cold) });
          assert.equal(String((await readPerson(a, s.lead)).person_stage?.id), s.cold);
        },
        'and goes to the other': async () => {
          await a.PUT('/v2/people/{id}.json', { params: by(s.lead), body: { person_stage_id: Number(s.warm) } });
          assert.equal(String((await readPerson(a, s.lead)).person_stage?.id), s.warm);
        },
        'who is there': async () => {
          assert.deepEqual(ids(await people(a, { person_stage_id: [Number(s.warm)] })), [s.lead]);
          assert.deepEqual(ids(await people(a, { person_stage_id: [Number(s.cold)] })), []);
        },
        'another name': async () => {
          await a.PUT('/v2/person_stages/{id}.json', { params: by(s.cold), body: { name: 'Frozen' } });
          assert.equal(inner(await a.GET('/v2/person_stages/{id}.json', { params: by(s.cold) })).name, 'Frozen');
        },
        'the empty one is deleted': async () => {
          await a.DELETE('/v2/person_stages/{id}.json', { params: by(s.cold) });
          await refused(a.GET('/v2/person_stages/{id}.json', { params: by(s.cold) }), 404);
          assert.ok(!ids(await stages()).includes(s.cold), 'it is still listed');
        },
      };
    },

    'told of what happens': (a, s) => ({
      subscribed: async () => {
        const body = {
          callback_url: 'https://mycompany.com/api/person_created',
          callback_token: token,
          event_type: 'person_created',
        };
        const made: Webhook = inner(await a.POST('/v2/webhook_subscriptions', { body }));
        s.hook = String(given(made.id, 'id'));
        assert.deepEqual(
          [made.callback_url, made.callback_token, made.event_type],
          ['https://mycompany.com/api/person_created', token, 'person_created'],
        );
      },
      read: async () => {
        const read: Webhook = inner(await a.GET('/v2/webhook_subscriptions/{id}', { params: hook(s.hook) }));
        assert.deepEqual([String(read.id), read.event_type, read.enabled], [s.hook, 'person_created', true]);
      },
      'is in the list': async () => once(ids(await webhooks(a)), [s.hook], 'subscriptions'),
      'switched off': async () => {
        const answer = await a.PUT('/v2/webhook_subscriptions/{id}', { params: hook(s.hook), body: { enabled: false } });
        const changed: Webhook = inner(answer);
        assert.deepEqual([String(changed.id), changed.enabled, changed.event_type], [s.hook, false, 'person_created']);
      },
      'is among those that are off': async () => {
        once(ids(await webhooks(a, { enabled: false })), [s.hook], 'subscriptions');
        assert.ok(!ids(await webhooks(a, { enabled: true })).includes(s.hook), 'it is among those that are on');
      },
      deleted: async () => a.DELETE('/v2/webhook_subscriptions/{id}', { params: hook(s.hook) }),
      gone: async () => {
        await refused(a.GET('/v2/webhook_subscriptions/{id}', { params: hook(s.hook) }), 404);
        assert.ok(!ids(await webhooks(a)).includes(s.hook), 'it is still listed');
      },
    }),

    'made, or changed where it is known': (a, s) => ({
      'a person is made': async () => {
        const body = {
          upsert_key: 'email_address',
          email_address: 'upsert@example.com',
          last_name: 'Franklin',
          title: 'Printer',
        };
        const { upsert_type, person: made } = inner(await a.POST('/v2/person_upserts.json', { body }));
        s.person = String(given(made?.id, 'id'));
        assert.deepEqual([upsert_type, made?.email_address, made?.title], ['create', 'upsert@example.com', 'Printer']);
      },
      'the same is changed': async () => {
        const body = { upsert_key: 'email_address', email_address: 'upsert@example.com', title: 'Postmaster' };
        const { upsert_type, person: changed } = inner(await a.POST('/v2/person_upserts.json', { body }));
        assert.deepEqual([upsert_type, String(changed?.id), changed?.title], ['update', s.person, 'Postmaster']);
      },
      'there is one person': async () => {
        assert.deepEqual(ids(await people(a, { email_addresses: ['upsert@example.com'] })), [s.person]);
        const read = await readPerson(a, s.person);
        assert.deepEqual([read.title, read.last_name], ['Postmaster', 'Franklin']);
      },
      'an account is made': async () => {
        const body = { upsert_key: 'domain', domain: 'upsert.example.com', name: 'Almanack' };
        const { upsert_type, account: made } = inner(await a.POST('/v2/account_upserts.json', { body }));
        s.account = String(given(made?.id, 'id'));
        assert.deepEqual([upsert_type, made?.domain, made?.name], ['create', 'upsert.example.com', 'Almanack']);
      },
      'the same account is changed': async () => {
        const body = { upsert_key: 'domain', domain: 'upsert.example.com', name: 'Gazette' };
        const { upsert_type, account: changed } = inner(await a.POST('/v2/account_upserts.json', { body }));
        assert.deepEqual([upsert_type, String(changed?.id), changed?.name], ['update', s.account, 'Gazette']);
      },
      'there is one account': async () => {
        assert.deepEqual(ids(await accounts(a, { domain: 'upsert.example.com' })), [s.account]);
        assert.equal((await readAccount(a, s.account)).name, 'Gazette');
      },
    }),

    'calls that were made': (a, s) => {
      const calls = (query: object = {}): Promise<Linked[]> =>
        walk((turn) => a.GET('/v2/activities/calls.json', { params: { query: { ...query, ...turn } } }));
      return {
        'one is logged': async () => {
          await person(a, s, 'callee', { phone: '+14045551234' });
          const body = { person_id: Number(s.callee), to: '+14045551234', duration: 60, notes: 'Call back on Monday' };
          const made = inner(await a.POST('/v2/activities/calls.json', { body }));
          s.call = String(given(made.id, 'id'));
          assert.deepEqual([made.to, made.duration], ['+14045551234', 60]);
        },
        read: async () => {
          const read = inner(await a.GET('/v2/activities/calls/{id}.json', { params: by(s.call) }));
          assert.deepEqual([String(read.id), read.to, read.duration], [s.call, '+14045551234', 60]);
        },
        'it knows whom it was with': async () => {
          const read = inner(await a.GET('/v2/activities/calls/{id}.json', { params: by(s.call) }));
          assert.equal(String(read.called_person?.id), s.callee);
        },
        'is in the list': async () => once(ids(await calls()), [s.call], 'calls'),
        'is the one with that person': async () =>
          assert.deepEqual(ids(await calls({ person_id: [Number(s.callee)] })), [s.call]),
        'a call with nobody': async () => {
          const body = { to: '+14045551234' } as unknown as { person_id: number };
          await refused(a.POST('/v2/activities/calls.json', { body }), 400, 422);
        },
      };
    },

    'what is wrong': (a, s) => ({
      'an account without a domain': async () => {
        const body = { name: 'Nowhere' } as unknown as { name: string; domain: string };
        await refused(a.POST('/v2/accounts.json', { body }), 400, 422);
      },
      'a second account of a domain': async () => {
        await account(a, s, 'taken', 'First');
        await refused(account(a, s, 'taken', 'Second'), 400, 409, 422);
        assert.deepEqual(ids(await accounts(a, { domain: 'taken.example.com' })), [s.taken]);
      },
      'a person by whom nobody can be known': async () =>
        refused(a.POST('/v2/people.json', { body: { title: 'Nobody' } }), 400, 422),
      'a note on nothing': async () => {
        const body = { content: 'lost' } as unknown as {
          content: string;
          associated_with_type: string;
          associated_with_id: number;
        };
        await refused(a.POST('/v2/notes.json', { body }), 400, 422);
      },
      'a person that is not there': async () => refused(readPerson(a, nothing), 404),
      'a change of an account that is not there': async () => {
        const body = { name: 'Nobody', domain: 'nobody.example.com' };
        await refused(a.PUT('/v2/accounts/{id}.json', { params: by(nothing), body }), 404);
      },
    }),

    'a key that is refused': (a, s, another) => ({
      'the right one': async () => {
        s.me = String(given(inner(await a.GET('/v2/me.json', {})).id, 'id'));
      },
      'a wrong one': async () => refused(another('ak_nobody_has_this_key').GET('/v2/me.json', {}), 401),
      'it cannot read people': async () => refused(another('ak_nobody_has_this_key').GET('/v2/people.json', {}), 401),
      'it cannot make anything': async () => refused(account(another('ak_nobody_has_this_key'), s, 'thief', 'Thief'), 401),
      'nothing was made': async () => assert.deepEqual(ids(await accounts(a, { domain: 'thief.example.com' })), []),
    }),
  },
};
