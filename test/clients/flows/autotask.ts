import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { given, once, type Place, refused, type State, type Vendor } from '../kit.ts';

/** The client has no types of its own. What there is not, it answers with null, where the service says 404. */
interface Filter {
  readonly op: string;
  readonly field: string;
  readonly value?: unknown;
}
interface Query {
  readonly filter: readonly Filter[];
  readonly includeFields?: readonly string[];
  readonly maxRecords?: number;
}
type Fields = Readonly<Record<string, unknown>>;
interface Row extends Fields {
  readonly id: number;
}
interface Saved {
  readonly itemId: number;
}
interface Found {
  readonly items: Row[];
  readonly pageDetails: { readonly count: number; readonly nextPageUrl?: string | null };
}
interface Reading {
  query(search: Query): Promise<Found>;
  count(search: Query): Promise<{ readonly queryCount: number }>;
  get(id: number): Promise<{ readonly item: Row | null } | null>;
  info(): Promise<{ readonly info: Fields }>;
  fieldInfo(): Promise<{ readonly fields: Fields[] }>;
}
interface Entity extends Reading {
  create(row: Fields): Promise<Saved>;
  update(row: Fields): Promise<Saved>;
  replace(row: Fields): Promise<Saved>;
  delete(id: number): Promise<Saved | null>;
}
/** What is below something else is made, changed and deleted there; it is read and queried by itself. */
interface Child extends Reading {
  create(parent: number, row: Fields): Promise<Saved>;
  update(parent: number, row: Fields): Promise<Saved>;
  delete(parent: number, id: number): Promise<Saved | null>;
}
interface Attachments extends Omit<Child, 'get'> {
  get(parent: number, id: number): Promise<Fields | null>;
}
interface Client {
  zoneInfo: { readonly url: string } | null;
  readonly Appointments: Entity;
  readonly Companies: Entity;
  readonly CompanyAlerts: Child;
  readonly CompanyContacts: Child;
  readonly CompanyLocations: Child;
  readonly CompanyNotes: Child;
  readonly CompanyToDos: Child;
  readonly ContactGroupContacts: Child;
  readonly ContactGroups: Entity;
  readonly Contacts: Reading;
  readonly ServiceCalls: Entity;
  readonly TicketAttachments: Attachments;
  readonly TicketChecklistItems: Child;
  readonly TicketNotes: Child;
  readonly Tickets: Entity;
}
const { AutotaskRestApi } = createRequire(import.meta.url)('@apigrate/autotask-restapi') as {
  readonly AutotaskRestApi: new (user: string, secret: string, code: string, options: { base_url: string }) => Client;
};

/** The address is an option. The client would ask there for the zone of its user, whose address it then calls: the zone is known here. */
const connect = (place: Place, token: string): Client => {
  const url = `${place.base}/`;
  const client = new AutotaskRestApi('api-user@example.com', token, 'FLOWSINTEGRATIONCODE', { base_url: url });
  client.zoneInfo = { url };
  return client;
};

const ids = (rows: readonly Row[]): string[] => rows.map(({ id }) => String(given(id, 'id')));
const saved = ({ itemId }: Saved): string => {
  assert.ok(Number.isInteger(itemId), `itemId is ${JSON.stringify(itemId)}`);
  return String(itemId);
};
const item = async (api: Pick<Reading, 'get'>, id: string): Promise<Row> => given((await api.get(Number(id)))?.item, 'item');
/** It is not there: the service has no such item, or the client was told 404. */
const gone = async (api: Pick<Reading, 'get'>, id: string): Promise<void> =>
  assert.equal((await api.get(Number(id)))?.item ?? null, null);
const where = (field: string, op: string, value: unknown): Query => ({ filter: [{ op, field, value }] });

const company = async (api: Client, s: State, companyName: string): Promise<void> => {
  s.company = saved(await api.Companies.create({ companyName, companyType: 3, phone: '8005551212', ownerResourceID: 29683995 }));
};
const ticket = async (api: Client, s: State, title: string): Promise<void> => {
  await company(api, s, 'Sirius Cybernetics Corporation');
  s.ticket = saved(
    await api.Tickets.create({
      companyID: Number(s.company),
      title,
      status: 1,
      priority: 2,
      dueDateTime: '2026-12-31T12:00:00Z',
    }),
  );
};
const contact = async (api: Client, s: State, firstName: string, lastName: string): Promise<string> =>
  saved(
    await api.CompanyContacts.create(Number(s.company), {
      companyID: Number(s.company),
      firstName,
      lastName,
      emailAddress: `${firstName.toLowerCase()}@example.com`,
      isActive: 1,
    }),
  );

/** Guide: README of the client, and ww3.autotask.net/help/DeveloperHelp, "REST API": "Basic Query Calls", "Advanced Query Features", "Creating Resources", "Updating Data (PATCH)", "Updating Data (PUT)", "Delete Operation", "Entity Information Call", "Child Access URLs", "Attachments", "Security and Authentication". */
export const vendor: Vendor<Client> = {
  document: 'autotask/autotask.net.json',
  header: 'Secret',
  also: ['username', 'apiintegrationcode'],
  made: 'kT9!flows-secret',
  client: connect,
  strict: ['a secret that is refused'],
  flows: {
    'a company': (api, s) => ({
      create: async () => company(api, s, 'Sirius Cybernetics Corporation'),
      get: async () => {
        const one = await item(api.Companies, s.company);
        assert.deepEqual(
          [String(one.id), one.companyName, one.companyType, one.phone],
          [s.company, 'Sirius Cybernetics Corporation', 3, '8005551212'],
        );
      },
      'find it by its name': async () => {
        const { items, pageDetails } = await api.Companies.query(where('companyName', 'eq', 'Sirius Cybernetics Corporation'));
        assert.deepEqual([ids(items), pageDetails.count], [[s.company], 1]);
      },
      'another phone': async () => {
        assert.equal(saved(await api.Companies.update({ id: Number(s.company), phone: '1112223344' })), s.company);
      },
      'it has that, and all the rest': async () => {
        const one = await item(api.Companies, s.company);
        assert.deepEqual([one.phone, one.companyName, one.companyType], ['1112223344', 'Sirius Cybernetics Corporation', 3]);
      },
      'replace all of it': async () => {
        const all = {
          id: Number(s.company),
          companyName: 'Sirius',
          companyType: 1,
          phone: '5556667788',
          ownerResourceID: 29683995,
        };
        assert.equal(saved(await api.Companies.replace(all)), s.company);
      },
      'it is replaced': async () => {
        const one = await item(api.Companies, s.company);
        assert.deepEqual([one.companyName, one.companyType, one.phone], ['Sirius', 1, '5556667788']);
      },
    }),
    'companies by what is asked': (api, s) => ({
      'create three': async () => {
        for (const name of ['Babel Fish', 'Bistro Illegal', 'Milliways']) {
          await company(api, s, name);
          s[name] = s.company;
        }
      },
      'that begin so': async () => {
        const { items } = await api.Companies.query(where('companyName', 'beginsWith', 'B'));
        const found = ids(items);
        assert.deepEqual(
          [found.includes(s['Babel Fish']), found.includes(s['Bistro Illegal']), found.includes(s.Milliways)],
          [true, true, false],
        );
      },
      'how many those are': async () => {
        const { items } = await api.Companies.query(where('companyName', 'beginsWith', 'B'));
        assert.equal((await api.Companies.count(where('companyName', 'beginsWith', 'B'))).queryCount, items.length);
      },
      'that have it within': async () =>
        assert.deepEqual(ids((await api.Companies.query(where('companyName', 'contains', 'llega'))).items), [
          s['Bistro Illegal'],
        ]),
      'that are one of two': async () => {
        const { items } = await api.Companies.query(where('id', 'in', [Number(s['Babel Fish']), Number(s.Milliways)]));
        assert.deepEqual(ids(items).sort(), [s['Babel Fish'], s.Milliways].sort());
      },
      'that are both at once': async () => {
        const { items } = await api.Companies.query({
          filter: [
            { op: 'beginsWith', field: 'companyName', value: 'B' },
            { op: 'eq', field: 'id', value: Number(s['Babel Fish']) },
          ],
        });
        assert.deepEqual(ids(items), [s['Babel Fish']]);
      },
      'none at all': async () => {
        const { items } = await api.Companies.query(where('companyName', 'eq', 'Nobody at all'));
        assert.deepEqual(items, []);
      },
      'only their names': async () => {
        const { items } = await api.Companies.query({
          ...where('id', 'eq', Number(s.Milliways)),
          includeFields: ['id', 'companyName'],
        });
        assert.deepEqual([items[0]?.companyName, items[0]?.phone], ['Milliways', undefined]);
      },
    }),
    'companies through pages': (api, s) => ({
      'create three': async () => {
        for (const n of [1, 2, 3]) {
          await company(api, s, `Company ${n}`);
          s[`id${n}`] = s.company;
        }
      },
      'a page has no more than asked': async () => {
        const { items } = await api.Companies.query({ ...where('id', 'gte', 0), maxRecords: 2 });
        assert.equal(items.length, 2);
      },
      'all in pages of two': async () => {
        const all: Row[] = [];
        for (let page = 0; page < 40; page += 1) {
          const last = Math.max(0, ...all.map(({ id }) => id));
          const { items } = await api.Companies.query({ ...where('id', 'gt', last), maxRecords: 2 });
          if (items.length === 0) break;
          all.push(...items);
        }
        once(ids(all), [s.id1, s.id2, s.id3], 'pages');
      },
    }),
    'a ticket': (api, s) => ({
      create: async () => ticket(api, s, 'The lift sulks'),
      get: async () => {
        const one = await item(api.Tickets, s.ticket);
        assert.deepEqual(
          [String(one.id), String(one.companyID), one.title, one.status, one.priority],
          [s.ticket, s.company, 'The lift sulks', 1, 2],
        );
      },
      'find it by its company': async () =>
        assert.deepEqual(ids((await api.Tickets.query(where('companyID', 'eq', Number(s.company)))).items), [s.ticket]),
      complete: async () => {
        assert.equal(saved(await api.Tickets.update({ id: Number(s.ticket), status: 5, resolution: 'Talked to it' })), s.ticket);
      },
      'it is complete': async () => {
        const one = await item(api.Tickets, s.ticket);
        assert.deepEqual([one.status, one.resolution, one.title], [5, 'Talked to it', 'The lift sulks']);
      },
      'it is none of those that are not': async () => {
        const { items } = await api.Tickets.query(where('status', 'noteq', 5));
        assert.ok(!ids(items).includes(s.ticket));
      },
    }),
    'what is to be done for a ticket': (api, s) => ({
      'a ticket': async () => ticket(api, s, 'The door sighs'),
      'two things': async () => {
        for (const name of ['Oil it', 'Cheer it up']) {
          s[name] = saved(
            await api.TicketChecklistItems.create(Number(s.ticket), {
              ticketID: Number(s.ticket),
              itemName: name,
              isImportant: true,
            }),
          );
        }
        assert.notEqual(s['Oil it'], s['Cheer it up']);
      },
      'the ticket has both': async () => {
        const { items } = await api.TicketChecklistItems.query(where('ticketID', 'eq', Number(s.ticket)));
        assert.deepEqual(items.map(({ itemName }) => itemName).sort(), ['Cheer it up', 'Oil it']);
      },
      'one by its id': async () => {
        const one = await item(api.TicketChecklistItems, s['Oil it']);
        assert.deepEqual([one.itemName, one.isImportant], ['Oil it', true]);
      },
      'it is done': async () => {
        const done = { id: Number(s['Oil it']), isCompleted: true };
        assert.equal(saved(await api.TicketChecklistItems.update(Number(s.ticket), done)), s['Oil it']);
      },
      'it says so': async () => {
        const one = await item(api.TicketChecklistItems, s['Oil it']);
        assert.deepEqual([one.itemName, one.isCompleted], ['Oil it', true]);
      },
      'delete it': async () => api.TicketChecklistItems.delete(Number(s.ticket), Number(s['Oil it'])),
      'it is gone': async () => gone(api.TicketChecklistItems, s['Oil it']),
      'the other is left': async () => {
        const { items } = await api.TicketChecklistItems.query(where('ticketID', 'eq', Number(s.ticket)));
        assert.deepEqual(ids(items), [s['Cheer it up']]);
      },
    }),
    'notes of a ticket': (api, s) => ({
      'a ticket': async () => ticket(api, s, 'Marvin is bored'),
      write: async () => {
        const note = { ticketID: Number(s.ticket), title: 'First', description: 'He says so', noteType: 1, publish: 1 };
        s.note = saved(await api.TicketNotes.create(Number(s.ticket), note));
      },
      get: async () => {
        const one = await item(api.TicketNotes, s.note);
        assert.deepEqual([String(one.ticketID), one.title, one.description], [s.ticket, 'First', 'He says so']);
      },
      change: async () => {
        const changed = { id: Number(s.note), description: 'He says so often' };
        assert.equal(saved(await api.TicketNotes.update(Number(s.ticket), changed)), s.note);
      },
      'the ticket has it so': async () => {
        const { items } = await api.TicketNotes.query(where('ticketID', 'eq', Number(s.ticket)));
        assert.deepEqual(
          items.map(({ title, description }) => [title, description]),
          [['First', 'He says so often']],
        );
      },
    }),
    'to-dos of a company': (api, s) => ({
      'a company': async () => company(api, s, 'Magrathea'),
      create: async () => {
        const toDo = {
          actionType: 3,
          assignedToResourceID: 29683995,
          companyID: Number(s.company),
          activityDescription: 'Learn more about the Autotask REST API',
          startDateTime: '2026-06-15T00:00:00Z',
          endDateTime: '2026-06-16T00:00:00Z',
        };
        s.toDo = saved(await api.CompanyToDos.create(Number(s.company), toDo));
      },
      get: async () => {
        const one = await item(api.CompanyToDos, s.toDo);
        assert.deepEqual(
          [String(one.companyID), one.actionType, one.activityDescription],
          [s.company, 3, 'Learn more about the Autotask REST API'],
        );
      },
      'find it by its company': async () =>
        assert.deepEqual(ids((await api.CompanyToDos.query(where('companyID', 'eq', Number(s.company)))).items), [s.toDo]),
      delete: async () => api.CompanyToDos.delete(Number(s.company), Number(s.toDo)),
      'it is gone': async () => gone(api.CompanyToDos, s.toDo),
      'the company has none': async () =>
        assert.deepEqual((await api.CompanyToDos.query(where('companyID', 'eq', Number(s.company)))).items, []),
    }),
    'contacts of a company': (api, s) => ({
      'a company': async () => company(api, s, 'Betelgeuse'),
      create: async () => {
        s.contact = await contact(api, s, 'Zaphod', 'Beeblebrox');
      },
      'find them by their name': async () => {
        const { items } = await api.Contacts.query(where('firstName', 'eq', 'Zaphod'));
        assert.deepEqual(
          items.map(({ id, companyID, lastName }) => [String(id), String(companyID), lastName]),
          [[s.contact, s.company, 'Beeblebrox']],
        );
      },
      'a title': async () => {
        const changed = { id: Number(s.contact), title: 'President' };
        assert.equal(saved(await api.CompanyContacts.update(Number(s.company), changed)), s.contact);
      },
      'they have it': async () => {
        const one = await item(api.Contacts, s.contact);
        assert.deepEqual([one.title, one.firstName, one.emailAddress], ['President', 'Zaphod', 'zaphod@example.com']);
      },
      delete: async () => api.CompanyContacts.delete(Number(s.company), Number(s.contact)),
      'they are gone': async () => gone(api.Contacts, s.contact),
    }),
    'a group of contacts': (api, s) => ({
      'a company and two contacts': async () => {
        await company(api, s, 'Earth');
        s.arthur = await contact(api, s, 'Arthur', 'Dent');
        s.tricia = await contact(api, s, 'Tricia', 'McMillan');
      },
      create: async () => {
        s.group = saved(await api.ContactGroups.create({ name: 'Survivors', isActive: true }));
      },
      'both are in it': async () => {
        for (const who of ['arthur', 'tricia']) {
          s[`in-${who}`] = saved(
            await api.ContactGroupContacts.create(Number(s.group), {
              contactGroupId: Number(s.group),
              contactId: Number(s[who]),
            }),
          );
        }
      },
      'the group has both': async () => {
        const { items } = await api.ContactGroupContacts.query(where('contactGroupId', 'eq', Number(s.group)));
        assert.deepEqual(items.map(({ contactId }) => String(contactId)).sort(), [s.arthur, s.tricia].sort());
      },
      'one leaves': async () => api.ContactGroupContacts.delete(Number(s.group), Number(s['in-arthur'])),
      'the other is left': async () => {
        const { items } = await api.ContactGroupContacts.query(where('contactGroupId', 'eq', Number(s.group)));
        assert.deepEqual(
          items.map(({ contactId }) => String(contactId)),
          [s.tricia],
        );
      },
      'rename it': async () => {
        assert.equal(saved(await api.ContactGroups.update({ id: Number(s.group), name: 'Last survivors' })), s.group);
        assert.equal((await item(api.ContactGroups, s.group)).name, 'Last survivors');
      },
      'delete it': async () => api.ContactGroups.delete(Number(s.group)),
      'it is gone': async () => gone(api.ContactGroups, s.group),
    }),
    'an appointment': (api, s) => ({
      create: async () => {
        s.id = saved(
          await api.Appointments.create({
            title: 'Lunch at Milliways',
            description: 'At the end',
            resourceID: 29683995,
            startDateTime: '2026-12-31T22:00:00Z',
            endDateTime: '2026-12-31T23:00:00Z',
          }),
        );
      },
      get: async () => {
        const one = await item(api.Appointments, s.id);
        assert.deepEqual([one.title, one.description, one.resourceID], ['Lunch at Milliways', 'At the end', 29683995]);
        assert.equal(Date.parse(String(one.startDateTime)), Date.parse('2026-12-31T22:00:00Z'));
      },
      'another title': async () => {
        assert.equal(saved(await api.Appointments.update({ id: Number(s.id), title: 'Dinner at Milliways' })), s.id);
      },
      'it has it': async () => {
        const one = await item(api.Appointments, s.id);
        assert.deepEqual([one.title, one.description], ['Dinner at Milliways', 'At the end']);
      },
      'it is listed': async () => once(ids((await api.Appointments.query(where('resourceID', 'eq', 29683995))).items), [s.id]),
      delete: async () => assert.ok((await api.Appointments.delete(Number(s.id))) !== null, 'there was none to delete'),
      'it is gone': async () => gone(api.Appointments, s.id),
      'it is listed no more': async () =>
        assert.ok(!ids((await api.Appointments.query(where('resourceID', 'eq', 29683995))).items).includes(s.id)),
    }),
    'a service call': (api, s) => ({
      'a company': async () => company(api, s, 'Krikkit'),
      create: async () => {
        s.id = saved(
          await api.ServiceCalls.create({
            companyID: Number(s.company),
            description: 'Look at the wickets',
            status: 1,
            startDateTime: '2026-07-01T08:00:00Z',
            endDateTime: '2026-07-01T10:00:00Z',
          }),
        );
      },
      'find it by its company': async () => {
        const { items } = await api.ServiceCalls.query(where('companyID', 'eq', Number(s.company)));
        assert.deepEqual(
          items.map(({ id, description }) => [String(id), description]),
          [[s.id, 'Look at the wickets']],
        );
      },
      'it is complete': async () => {
        assert.equal(saved(await api.ServiceCalls.update({ id: Number(s.id), isComplete: 1 })), s.id);
        assert.equal((await item(api.ServiceCalls, s.id)).isComplete, 1);
      },
      delete: async () => api.ServiceCalls.delete(Number(s.id)),
      'it is gone': async () => gone(api.ServiceCalls, s.id),
    }),
    'places, alerts and notes of a company': (api, s) => ({
      'a company': async () => company(api, s, 'Damogran'),
      'a place': async () => {
        const place = { companyID: Number(s.company), name: 'Island', city: 'Galacticana', isActive: true, isPrimary: false };
        s.place = saved(await api.CompanyLocations.create(Number(s.company), place));
        const one = await item(api.CompanyLocations, s.place);
        assert.deepEqual([String(one.companyID), one.name, one.city], [s.company, 'Island', 'Galacticana']);
      },
      'an alert': async () => {
        const alert = { companyID: Number(s.company), alertText: 'Mind the ship', alertTypeID: 1 };
        s.alert = saved(await api.CompanyAlerts.create(Number(s.company), alert));
        assert.equal((await item(api.CompanyAlerts, s.alert)).alertText, 'Mind the ship');
      },
      'a note': async () => {
        const note = {
          companyID: Number(s.company),
          name: 'Launch',
          note: 'It was stolen',
          actionType: 3,
          assignedResourceID: 29683995,
          startDateTime: '2026-07-01T08:00:00Z',
          endDateTime: '2026-07-01T10:00:00Z',
        };
        s.note = saved(await api.CompanyNotes.create(Number(s.company), note));
        const { items } = await api.CompanyNotes.query(where('companyID', 'eq', Number(s.company)));
        assert.deepEqual(
          items.map(({ id, name, note: text }) => [String(id), name, text]),
          [[s.note, 'Launch', 'It was stolen']],
        );
      },
      'delete the place and the alert': async () => {
        await api.CompanyLocations.delete(Number(s.company), Number(s.place));
        await api.CompanyAlerts.delete(Number(s.company), Number(s.alert));
        await gone(api.CompanyLocations, s.place);
        await gone(api.CompanyAlerts, s.alert);
      },
    }),
    'a file of a ticket': (api, s) => ({
      'a ticket': async () => ticket(api, s, 'See the picture'),
      attach: async () => {
        const file = {
          attachmentType: 'FILE_ATTACHMENT',
          title: 'towel.txt',
          fullPath: 'towel.txt',
          publish: 1,
          data: btoa('Always know where it is'),
        };
        s.file = saved(await api.TicketAttachments.create(Number(s.ticket), file));
      },
      'what is in it': async () => {
        const answer = given(await api.TicketAttachments.get(Number(s.ticket), Number(s.file)), 'attachment');
        const one = (answer.item ?? (answer.items as Fields[] | undefined)?.[0] ?? answer) as Fields;
        assert.deepEqual([one.title, one.data], ['towel.txt', btoa('Always know where it is')]);
      },
      'the ticket has it': async () => {
        const { items } = await api.TicketAttachments.query(where('id', 'eq', Number(s.file)));
        assert.deepEqual(
          items.map(({ title }) => title),
          ['towel.txt'],
        );
      },
      delete: async () => api.TicketAttachments.delete(Number(s.ticket), Number(s.file)),
      'none is left': async () =>
        assert.deepEqual((await api.TicketAttachments.query(where('id', 'eq', Number(s.file)))).items, []),
    }),
    'what can be done with tickets': (api) => ({
      'what a caller may do': async () => {
        const { info } = await api.Tickets.info();
        assert.deepEqual(
          [typeof info.name, typeof info.canCreate, typeof info.canQuery, typeof info.canDelete],
          ['string', 'boolean', 'boolean', 'boolean'],
        );
      },
      'which fields there are': async () => {
        const { fields } = await api.Tickets.fieldInfo();
        assert.ok(fields.length > 0);
        assert.ok(fields.every(({ name, dataType }) => typeof name === 'string' && typeof dataType === 'string'));
      },
    }),
    'a secret that is refused': (_api, _s, another) => ({
      'nothing is found': async () => {
        await refused(another('nobody').Companies.query(where('id', 'gte', 0)), 401);
      },
      'nor is anything made': async () => {
        await refused(another('nobody').Companies.create({ companyName: 'Nobody', companyType: 3, phone: '1' }), 401);
      },
    }),
    'what there is not': (api) => ({
      'a company': async () => gone(api.Companies, '999999999'),
      'a ticket': async () => gone(api.Tickets, '999999999'),
      'an appointment': async () => gone(api.Appointments, '999999999'),
    }),
  },
};
