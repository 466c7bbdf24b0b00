import type { JsonMap } from '../../src/document/document.ts';
import type { Caller } from '../../src/serve/exchange/exchange.ts';

/** Whose things a request is about: the caller's own, or somebody else's. */
export type Side = 'own' | 'foreign';

/** How a caller shows who it is, and what comes of it before any permission is asked. */
export interface Standing {
  readonly name: string;
  /** The caller that is found; nothing where none is. */
  readonly caller: (known: Caller) => Caller | undefined;
}

/** Every way to come before the service. Wrong, expired, revoked and foreign credentials are callers that are not found. */
export const standings: readonly Standing[] = [
  { name: 'with every scope', caller: (known) => known },
  { name: 'without scopes', caller: (known) => ({ ...known, scopes: [] }) },
  { name: 'as nobody', caller: () => undefined },
];

/** One example of the repository, with a thing of each kind of the caller's own and one of somebody else's. */
export interface Example {
  readonly document: string;
  /** Who calls as each user: its identifier is what the rules compare with. */
  readonly ids: Readonly<Record<string, string>>;
  readonly scopes: readonly string[];
  readonly rows: Readonly<Record<string, readonly JsonMap[]>>;
  /** What stands for a path parameter, by its name or as `{resource}.{name}`. */
  readonly params: Readonly<Record<string, Readonly<Record<Side, string>>>>;
  /** Queries and bodies, by operation; an operation that needs neither is not named. */
  readonly requests: Readonly<
    Record<string, (side: Side) => { readonly query?: string; readonly body?: JsonMap; readonly type?: string }>
  >;
}

const at = '2026-06-01T08:00:00Z';
const address = { name: 'Ada', street: 'Kade 1', city: 'Delft', country: 'NL' };
const both = (own: string, foreign: string) => ({ own, foreign });

const parcel = (id: string, merchant: string) => {
  return { id, merchant, to: address, weight_g: 5, service: 'standard', status: 'draft', created_at: at, updated_at: at };
};
const hook = (id: string, owner: string) => {
  return {
    id,
    owner,
    url: 'https://hooks.example/in',
    events: ['*'],
    secret: 'whsec_000000000000000000000000000000000000000000A=',
    enabled: true,
  };
};

const parcels: Example = {
  document: 'examples/parcels.md',
  ids: { merchant: 'm1', courier: 'm1' },
  scopes: [],
  rows: {
    parcel: [parcel('pcl_1', 'm1'), parcel('pcl_2', 'm2')],
    scan: [
      { id: 'scn_1', parcel: 'pcl_1', place: 'Delft', seen_at: at },
      { id: 'scn_2', parcel: 'pcl_2', place: 'Gouda', seen_at: at },
    ],
    webhook: [hook('whk_1', 'm1'), hook('whk_2', 'm2')],
  },
  params: { 'parcel.id': both('pcl_1', 'pcl_2'), parcel: both('pcl_1', 'pcl_2'), 'webhook.id': both('whk_1', 'whk_2') },
  requests: {
    'create parcel': () => ({ body: { to: address, weight_g: 5 } }),
    'update parcel': () => ({ body: { weight_g: 6 } }),
    'return parcel': () => ({ body: { reason: 'broken' } }),
    'create scan': () => ({ body: { place: 'Delft' } }),
    'handler quote': () => ({ query: 'weight_g=5' }),
    'create webhook': () => ({ body: { url: 'https://hooks.example/in' } }),
  },
};

const [memberOne, memberTwo] = ['3f2c0b7e-94c1-4a53-8d6b-0c1f5e6a7b80', '4f2c0b7e-94c1-4a53-8d6b-0c1f5e6a7b81'];
const [holdOne, holdTwo] = ['01971a00-0000-7000-8000-000000000001', '01971a00-0000-7000-8000-000000000002'];
const [kioskOne, kioskTwo] = ['01JX0000000000000000000001', '01JX0000000000000000000002'];
const libraryAddress = { street: 'Kade 1', city: 'Delft', country: 'NL' };
const book = (isbn: string) => {
  return {
    isbn,
    title: 'Bees',
    contributors: [{ kind: 'person', name: 'Ada', role: 'author' }],
    kind: 'print',
    language: 'en',
    currency: 'EUR',
    added_at: at,
    changed_at: at,
  };
};
const member = (id: string, name: string) => {
  return {
    id,
    card: `AL-${name.padEnd(24, 'x')}`,
    name,
    email: `${name}@example.org`,
    address: libraryAddress,
    interests: [],
    status: 'active',
    joined_at: at,
  };
};
const loan = (id: string, copy: number, whose: string) => {
  return { id, copy, member: whose, term: 'normal', lent_at: at, due_at: '2026-06-20T08:00:00Z', renewals: 0, status: 'out' };
};
const subscription = (id: string, owner: string) => {
  return { id, owner, url: 'https://hooks.example/in', kinds: ['*'], secret: 'c2VjcmV0', enabled: true };
};
const isbns = both('9780000000001', '9780000000002');

const library: Example = {
  document: 'examples/library.md',
  ids: { librarian: 'lib-1', reader: memberOne, kiosk: kioskOne },
  scopes: ['catalogue', 'loans', 'members'],
  rows: {
    book: [book(isbns.own), book(isbns.foreign)],
    copy: [1, 2, 3].map((number) => ({
      number,
      book: number === 1 ? isbns.own : isbns.foreign,
      shelf: 'A 1',
      condition: 'good',
      short_loan: false,
      status: 'shelved',
    })),
    member: [member(memberOne, 'ann'), member(memberTwo, 'bob')],
    loan: [loan('ln_1', 1, memberOne), loan('ln_2', 2, memberTwo)],
    hold: [
      { id: holdOne, book: isbns.own, member: memberOne, queued_at: at, status: 'waiting' },
      { id: holdTwo, book: isbns.foreign, member: memberTwo, queued_at: at, status: 'waiting' },
    ],
    source: ['one', 'two'].map((name) => ({
      name,
      host: 'records.example',
      records: 'https://records.example/{id}',
      title_at: '/title',
      fetch_every: 'P1D',
    })),
    kiosk: [kioskOne, kioskTwo].map((id) => ({ id, serial: 's', setup: 's', host: 'kiosk.example', token: 't' })),
    subscription: [subscription('sub_1', 'lib-1'), subscription('sub_2', 'lib-2')],
  },
  params: {
    isbn: isbns,
    book: isbns,
    number: both('1', '2'),
    'member.id': both(memberOne, memberTwo),
    member: both(memberOne, memberTwo),
    'loan.id': both('ln_1', 'ln_2'),
    'hold.id': both(holdOne, holdTwo),
    'source.name': both('one', 'two'),
    'kiosk.id': both(kioskOne, kioskTwo),
    'subscription.id': both('sub_1', 'sub_2'),
  },
  requests: {
    'create book': () => ({
      body: { isbn: '9780000000009', title: 'Ants', contributors: [{ kind: 'person', name: 'Ada' }], language: 'en' },
    }),
    'upsert book': () => ({ body: { title: 'Ants', contributors: [{ kind: 'person', name: 'Ada' }], language: 'en' } }),
    'create copy': () => ({ body: { shelf: 'A 1' } }),
    'update copy': () => ({ body: { shelf: 'A 2' } }),
    'inspect copy': () => ({ body: { usable: true } }),
    'withdraw copy': () => ({ body: { reason: 'worn out' } }),
    'create member': () => ({ body: { name: 'Cas', email: 'cas@example.org', address: libraryAddress } }),
    'update member': () => ({ body: { name: 'Cas' } }),
    'replace member': () => ({ body: { name: 'Cas', email: 'cas@example.org', address: libraryAddress } }),
    'suspend member': () => ({ body: { reason: 'wet books' } }),
    'create loan': (side) => ({ body: { copy: 3, member: side === 'own' ? memberOne : memberTwo } }),
    'create hold': (side) => ({ body: { member: side === 'own' ? memberOne : memberTwo } }),
    'update hold': () => ({ body: { message: 'soon' } }),
    'create source': () => ({
      body: { name: 'three', host: 'records.example', records: 'https://records.example/{id}', title_at: '/title' },
    }),
    'create kiosk': () => ({ body: { host: 'kiosk.example' } }),
    'create subscription': () => ({ body: { url: 'https://hooks.example/in' } }),
  },
};

const [patientOne, patientTwo] = ['01JADA00000000000000000001', '01JB0B00000000000000000002'];
const [deviceOne, deviceTwo] = ['85c75500-2e8b-4529-a00e-392a37e01f77', '95c75500-2e8b-4529-a00e-392a37e01f78'];
const [visitOne, visitTwo] = ['01971a00-0000-7000-8000-00000000000a', '01971a00-0000-7000-8000-00000000000b'];
const patient = (id: string, name: string) => {
  return {
    id,
    name,
    born_on: '1980-05-01',
    contact: { by: 'email', address: 'a@example.org' },
    allergies: [],
    registered_at: at,
    changed_at: at,
  };
};
const practitioner = (id: string) => {
  return {
    id,
    name: id,
    speciality: 'general',
    timezone: 'Europe/Amsterdam',
    consultation: 'PT20M',
    joined_at: at,
    changed_at: at,
  };
};
const visit = (id: string, whose: string, doctor: string) => ({
  id,
  patient: whose,
  practitioner: doctor,
  starts_at: '2026-06-03T09:00:00Z',
  length: 'PT20M',
  ends_at: '2026-06-03T09:20:00Z',
  remind_at: '2026-06-02T09:00:00Z',
  urgent: false,
  insured: false,
  status: 'requested',
  reminders: 0,
  booked_by: 'x',
  last_act: 'create appointment',
  booked_at: at,
});
const payment = (id: string, appointment: string) => {
  return {
    id,
    appointment,
    amount: '10.00',
    currency: 'EUR',
    by: { method: 'transfer', account: 'NL00AAAA0000000000' },
    paid_at: at,
  };
};
const whose = (side: Side) => (side === 'own' ? patientOne : patientTwo);

const clinic: Example = {
  document: 'examples/clinic.yaml',
  ids: { receptionist: 'desk', doctor: 'dr-one', patient: patientOne, device: deviceOne },
  scopes: [],
  rows: {
    practitioner: [practitioner('dr-one'), practitioner('dr-two')],
    patient: [patient(patientOne, 'Ada'), patient(patientTwo, 'Bob')],
    appointment: [visit(visitOne, patientOne, 'dr-one'), visit(visitTwo, patientTwo, 'dr-two')],
    payment: [payment('pay_1', visitOne), payment('pay_2', visitTwo)],
    document: ['one', 'two'].map((name, n) => ({
      id: `doc_${name}`,
      patient: n === 0 ? patientOne : patientTwo,
      title: 'Scan',
      kind: 'scan',
      pages: 1,
      content: 'AA==',
    })),
    note: [1, 2].map((id) => ({ id, patient: id === 1 ? patientOne : patientTwo, text: 'Well.', written_at: at })),
    referral: [patientOne, patientTwo].map((id) => ({ id, patient: id, to: 'St Elsewhere', urgency: 'soon' })),
    device: [deviceOne, deviceTwo].map((id, n) => ({
      id,
      patient: n === 0 ? patientOne : patientTwo,
      model: 'wrist',
      secret: 's',
    })),
    reading: [1, 2].map((id) => ({ id, device: id === 1 ? deviceOne : deviceTwo, taken_at: 1780304400 })),
  },
  params: {
    'practitioner.id': both('dr-one', 'dr-two'),
    'patient.id': both(patientOne, patientTwo),
    'appointment.id': both(visitOne, visitTwo),
    'payment.id': both('pay_1', 'pay_2'),
    'document.id': both('doc_one', 'doc_two'),
    'referral.id': both(patientOne, patientTwo),
    'device.id': both(deviceOne, deviceTwo),
    id: both('doc_one', 'doc_two'),
    patient: both(patientOne, patientTwo),
    appointment: both(visitOne, visitTwo),
    device: both(deviceOne, deviceTwo),
    year: both('2026', '2026'),
    month: both('6', '6'),
  },
  requests: {
    'upsert practitioner': () => ({ body: { name: 'Dr One' } }),
    'handler free slots': () => ({
      query: 'practitioner=dr-one&window[from]=2026-06-03T09:00:00Z&window[to]=2026-06-03T10:00:00Z',
    }),
    'create patient': () => ({
      body: { name: 'Cas', born_on: '1980-05-01', contact: { by: 'email', address: 'c@example.org' } },
    }),
    'update patient': () => ({ body: { name: 'Ada' } }),
    'replace patient': () => ({
      body: { name: 'Ada', born_on: '1980-05-01', contact: { by: 'email', address: 'c@example.org' } },
    }),
    'create appointment': (side) => ({
      body: { patient: whose(side), practitioner: 'dr-one', starts_at: '2026-06-05T09:00:00Z' },
    }),
    'update appointment': () => ({ body: { reason: 'pain' } }),
    'complete appointment': () => ({ body: { follow_up: false } }),
    'create payment': () => ({ body: { amount: '10.00', by: { method: 'transfer', account: 'NL00AAAA0000000000' } } }),
    'create document': () => ({ body: { title: 'Scan', content: 'AA==' }, type: 'multipart/form-data; boundary=b' }),
    'handler replace content': () => ({ body: {}, type: 'application/octet-stream' }),
    'create note': () => ({ body: {}, type: 'text/plain' }),
    'create referral': (side) => ({ body: { patient: whose(side), to: 'St Elsewhere', urgency: 'soon' } }),
    'create device': (side) => ({ body: { patient: whose(side), model: 'wrist' } }),
    'create reading': () => ({ body: { taken_at: 1780304400 } }),
  },
};

/** Every example with permissions, to which each operation is put as each user on each side. */
export const examples: readonly Example[] = [parcels, library, clinic];
