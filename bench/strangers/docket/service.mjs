// Docket: matters, deadlines, filings and hours of small law offices. One module, tables first, then what reads them.
import http from 'node:http';
import { createHmac, createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';

const argument = (name) => { const at = process.argv.indexOf(name); return at < 0 ? undefined : process.argv[at + 1]; };
const PORT = Number(argument('--port') ?? 8080);
const CLOCK_PORT = argument('--clock-port');
const FAULT = argument('--fault');
const bug = (id) => FAULT === id;

// ---------------------------------------------------------------- the clock
let offset = 0;
const clock = () => Date.now() + offset;
const iso = (ms) => new Date(ms).toISOString();
const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

// ---------------------------------------------------------------- callers that are there from the start
const CALLERS = [
  { user: 'attorney', id: 'ada', office: 'north', scopes: ['court'], key: 'dk_AdaAdaAdaAdaAdaAdaAdaAdaAdaAda01', password: 'ada-Gavel-77' },
  { user: 'attorney', id: 'abe', office: 'north', scopes: ['court'], key: 'dk_AbeAbeAbeAbeAbeAbeAbeAbeAbeAbe02', password: 'abe-Gavel-78' },
  { user: 'attorney', id: 'sol', office: 'south', scopes: ['court'], key: 'dk_SolSolSolSolSolSolSolSolSolSol03' },
  { user: 'attorney', id: 'noa', office: 'north', scopes: [], key: 'dk_NoaNoaNoaNoaNoaNoaNoaNoaNoaNoa04' },
  { user: 'paralegal', id: 'pia', office: 'north', scopes: ['court'], key: 'dk_PiaPiaPiaPiaPiaPiaPiaPiaPiaPia05', password: 'pia-Ledger-79' },
  { user: 'paralegal', id: 'pim', office: 'north', scopes: [], key: 'dk_PimPimPimPimPimPimPimPimPimPim06' },
  { user: 'paralegal', id: 'per', office: 'south', scopes: ['court'], key: 'dk_PerPerPerPerPerPerPerPerPerPer07' },
  { user: 'client', id: 'cleo', office: 'north', scopes: [], key: 'dk_CleoCleoCleoCleoCleoCleoCleoCl08', password: 'cleo-Wait-80' },
  { user: 'client', id: 'carl', office: 'north', scopes: [], key: 'dk_CarlCarlCarlCarlCarlCarlCarlCa09' },
];

// ---------------------------------------------------------------- identifiers and formats
const B32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
let lastUlid = [0, 0n];
const ulid = () => {
  const t = clock();
  const r = t <= lastUlid[0] ? lastUlid[1] + 1n : BigInt('0x' + randomBytes(10).toString('hex')) >> 1n;
  const time = Math.max(t, lastUlid[0]);
  lastUlid = [time, r];
  let text = '';
  let n = (BigInt(time) << 80n) | r;
  for (let i = 0; i < 26; i++) { text = B32[Number(n & 31n)] + text; n >>= 5n; }
  return text;
};
const COUNTRIES = new Set(('AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ ' +
  'DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ ' +
  'LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW ' +
  'SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW').split(' '));
const isDate = (text) => {
  const m = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (!m) return false;
  const [y, mo, d] = [Number(m[1]), Number(m[2]), Number(m[3])];
  if (mo < 1 || mo > 12 || d < 1) return false;
  return d <= [31, (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0 ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][mo - 1];
};
const isDateTime = (text) => {
  const m = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?(?:[Zz]|[+-](\d{2}):(\d{2}))$/.exec(text);
  return !!m && isDate(m[1]) && m[2] < '24' && m[3] < '60' && m[4] < '60' && (m[6] === undefined || (m[6] < '24' && m[7] < '60'));
};
const instant = (text) => Date.parse(text.toUpperCase());
const FORMATS = {
  date: (t) => (bug('day-any-31') ? /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/.test(t) : isDate(t)),
  'date-time': isDateTime,
  email: (t) => /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/.test(t),
  country: (t) => COUNTRIES.has(t),
  uri: (t) => /^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/.test(t) && !/%(?![0-9A-Fa-f]{2})/.test(t),
};

// ---------------------------------------------------------------- resources
const text = (more = {}) => ({ type: 'string', ...more });
const when = (more = {}) => ({ type: 'string', format: 'date-time', ...more });
const locked = { readOnly: true };
const byOffice = { ...locked, set: { create: ({ caller }) => caller?.office } };
const LETTERS = ['attorney', 'paralegal'];
const POSTAL = {
  type: 'object', required: ['city', 'country'],
  fields: { city: text({ min: 1, max: 60 }), postcode: text({ pattern: /^[A-Z0-9 -]{3,10}$/ }), country: text({ format: 'country' }) },
};
const PARTY = { type: 'object', required: ['name', 'role'], fields: { name: text({ min: 2, max: 80 }), role: text({ enum: ['plaintiff', 'defendant', 'witness'] }) } };

const RESOURCES = {
  contact: {
    prefix: 'con_', keep: 7 * DAY, path: '/contacts/',
    fields: {
      id: text(locked), office: text(byOffice),
      kind: text({ enum: ['person', 'company'], immutable: true }),
      name: text({ min: 2, max: bug('name-81') ? 81 : 80 }),
      email: text({ format: 'email', max: 100, ignoreCase: true }),
      address: POSTAL,
      portal: text({ pattern: /^[a-z0-9-]{3,40}$/, visible: LETTERS, writable: LETTERS }),
      tags: { type: 'array', items: text({ min: 1, max: 20 }), maxItems: 5, unique: true },
      updated_at: when({ ...locked, set: { write: ({ now }) => iso(now) } }),
    },
    required: ['id', 'office', 'kind', 'name', 'updated_at'],
    unique: [['office', 'email']],
  },
  matter: {
    prefix: 'mat_', path: '/matters/',
    fields: {
      id: text(locked), number: text({ ...locked, count: { within: 'office', write: (n) => `M-${String(n).padStart(5, '0')}` } }), office: text(byOffice),
      client: text({ ref: 'contact', immutable: true, onDelete: 'restrict' }),
      title: text({ min: 3, max: 120 }),
      practice: text({ enum: ['civil', 'criminal', 'family', 'tax'] }),
      lead: text({ ...locked, set: { create: ({ caller }) => caller.id } }),
      cap_minutes: { type: 'integer', minimum: 60, maximum: 100000 },
      strategy: text({ max: 500, visible: bug('strategy-shown') ? LETTERS : ['attorney'], writable: ['attorney'] }),
      status: text(locked),
      minutes: { type: 'integer', ...locked, derive: (row) => rowsWhere('entry', (e) => e.matter === row.id && ['submitted', 'approved'].includes(e.status)).reduce((sum, e) => sum + e.minutes, 0) },
      pending: { type: 'integer', ...locked, derive: (row) => rowsWhere('deadline', (d) => d.matter === row.id && (d.status === 'pending' || (bug('pending-counts-missed') && d.status === 'missed'))).length },
      closed_at: when({ ...locked, set: { close: ({ now }) => iso(now) } }),
      updated_at: when({ ...locked, set: { write: ({ now }) => iso(now) } }),
    },
    required: ['id', 'number', 'office', 'client', 'title', 'practice', 'lead', 'status', 'minutes', 'pending', 'updated_at'],
  },
  deadline: {
    prefix: 'ddl_', path: '/deadlines/',
    fields: {
      id: text(locked), matter: text({ ref: 'matter', immutable: true, onDelete: 'cascade' }),
      number: { type: 'integer', ...locked, count: { within: 'matter', write: (n) => n } }, office: text(byOffice),
      title: text({ min: 3, max: 100 }),
      kind: text({ enum: ['hearing', 'filing', 'limitation', 'meeting'] }),
      due_at: when({ set: { extend: ({ request }) => request.due_at } }),
      critical: { type: 'boolean', default: false },
      status: text(locked),
      met_at: when({ ...locked, set: { meet: ({ now }) => iso(now) } }),
    },
    required: ['id', 'matter', 'number', 'office', 'title', 'kind', 'due_at', 'critical', 'status'],
    rules: [{ if: (next) => next.kind === 'meeting' && next.critical && !bug('critical-meeting'), field: 'kind', expected: 'another kind where it is critical' }],
  },
  filing: {
    prefix: bug('filing-id-bare') ? '' : 'fil_', path: '/filings/',
    fields: {
      id: text(locked), matter: text({ ref: 'matter', immutable: true, onDelete: 'restrict' }), office: text(byOffice),
      title: text({ min: 3, max: 120 }),
      docket_no: text({ pattern: bug('docket-unanchored') ? /^[0-9]{2}-[A-Z]{2}-[0-9]{4}/ : /^[0-9]{2}-[A-Z]{2}-[0-9]{4}$/ }),
      pages: { type: 'integer', minimum: 1, maximum: 2000, default: 1 },
      parties: { type: 'array', items: PARTY, minItems: bug('no-parties') ? 0 : 1, maxItems: 4 },
      status: text(locked), access: text(locked),
      filed_at: when({ ...locked, set: { file: ({ now }) => iso(now) } }),
      reason: text({ ...locked, set: { reject: ({ request }) => request.reason } }),
    },
    required: ['id', 'matter', 'office', 'title', 'docket_no', 'pages', 'parties', 'status', 'access'],
    unique: [['matter', 'docket_no']],
  },
  entry: {
    prefix: 'ent_', path: '/entries/',
    fields: {
      id: text(locked), matter: text({ ref: 'matter', immutable: true, onDelete: 'restrict' }), office: text(byOffice),
      worker: text({ ...locked, set: { create: ({ caller }) => caller.id } }),
      day: text({ format: 'date' }),
      minutes: { type: 'integer', minimum: 6, maximum: 1440, multipleOf: bug('minutes-any') ? 1 : 6 },
      narrative: text({ min: 5, max: 400 }),
      billable: { type: 'boolean', default: true },
      rate_cents: { type: 'integer', minimum: 0, maximum: 100000, default: 15000, visible: ['attorney'], writable: ['attorney'] },
      status: text(locked),
    },
    required: ['id', 'matter', 'office', 'worker', 'day', 'minutes', 'narrative', 'billable', 'rate_cents', 'status'],
  },
  hook: {
    prefix: 'hok_', path: '/hooks/',
    fields: {
      id: text(locked), owner: text({ ...locked, set: { create: ({ caller }) => caller.id } }), office: text(byOffice),
      url: text({ format: 'uri', max: 200, check: (v) => (/^https?:\/\/[^/?#]/i.test(v) && URL.canParse(v) ? undefined : 'an http or https address') }),
      secret: text({ ...locked, once: true, make: () => `whsec_${randomBytes(32).toString('base64')}` }),
      events: { type: 'array', items: text({ check: (v) => (knownSubscription(v) ? undefined : 'a kind of event') }), minItems: 1, maxItems: 20 },
      enabled: { type: 'boolean', default: true },
    },
    required: ['id', 'owner', 'office', 'url', 'enabled'],
  },
  record: {
    prefix: 'rec_', path: '/records/',
    fields: { id: text(locked), kind: text(locked), about: text(locked), office: text(locked), actor: text(locked), data: { type: 'object', ...locked, free: true }, at: when(locked) },
    required: ['id', 'kind', 'about', 'office', 'data', 'at'],
  },
};

// ---------------------------------------------------------------- states
const matterOf = (row) => STORE.matter.get(row.matter);
const MACHINES = {
  matter: [{ field: 'status', initial: 'intake' }],
  deadline: [{ field: 'status', initial: 'pending' }],
  filing: [{ field: 'status', initial: 'draft' }, { field: 'access', initial: 'open' }],
  entry: [{ field: 'status', initial: bug('entry-born-submitted') ? 'submitted' : 'draft' }],
};
const TRANSITIONS = {
  matter: {
    activate: { from: bug('activate-declined') ? ['intake', 'declined'] : ['intake'], to: 'active' },
    close: {
      from: ['active'], to: 'closed',
      if: (row) => bug('close-ignores-pending') || derived('matter', row, 'pending') === 0, elseIf: 'deadlines_pending',
      then: (row) => { for (const f of rowsWhere('filing', (f) => f.matter === row.id && f.status === 'draft')) if (!bug('close-keeps-drafts')) act('filing', 'withdraw', f); },
    },
    reopen: { from: ['closed'], to: 'active', else: 'not_closed' },
    lapse: { from: ['intake'], to: 'declined', after: bug('lapse-31d') ? 31 * DAY : 30 * DAY },
  },
  deadline: {
    meet: { from: ['pending'], to: 'met' },
    waive: { from: ['pending'], to: 'waived', if: (row) => bug('waive-critical') || !row.critical, elseIf: 'critical_deadline' },
    extend: { from: ['pending', 'missed'], to: 'pending' },
    miss: { from: ['pending'], to: 'missed', at: 'due_at' },
  },
  filing: {
    file: { from: ['draft'], to: 'filed', if: (row) => matterOf(row)?.status === 'active', elseIf: 'matter_not_active' },
    accept: { from: ['filed'], to: 'accepted' },
    reject: { from: ['filed'], to: 'rejected' },
    withdraw: { from: ['draft', 'filed'], to: 'withdrawn', else: 'too_late' },
    deem: { from: ['filed'], to: 'accepted', after: 14 * DAY },
    seal: { field: 'access', from: ['open'], to: bug('seal-other-word') ? 'closed' : 'sealed' },
  },
  entry: {
    submit: { from: ['draft'], to: 'submitted' },
    approve: { from: bug('approve-draft') ? ['draft', 'submitted'] : ['submitted'], to: 'approved' },
    void: { from: ['draft', 'submitted', 'approved'], to: 'void' },
  },
};

// ---------------------------------------------------------------- who may do what
const ownOffice = (row, caller) => row.office === caller.office;
const portalOf = (matter) => (matter ? STORE.contact.get(matter.client)?.portal : undefined);
const RULES = [
  { allow: ['create contact', 'create deadline', 'create entry', 'create hook'], to: LETTERS },
  { allow: ['list contact', 'read contact', 'update contact', 'replace contact'], to: LETTERS, if: (r, c) => ownOffice(r, c) },
  { allow: ['delete contact'], to: bug('paralegal-deletes') ? LETTERS : ['attorney'], if: ownOffice },
  { allow: ['create matter'], to: ['attorney'] },
  { allow: ['list matter', 'read matter'], to: LETTERS, if: ownOffice },
  { allow: ['update matter', 'activate matter'], to: ['attorney'], if: ownOffice },
  { allow: ['delete matter', 'close matter', 'reopen matter'], to: ['attorney'], if: (r, c, op) => ownOffice(r, c) && (r.lead === c.id || (bug('anybody-closes') && op === 'close matter')) },
  { allow: ['list matter', 'read matter'], to: ['client'], if: (r, c) => portalOf(r) === c.id, fields: ['id', 'number', 'client', 'title', 'practice', 'lead', 'status'] },
  { allow: ['list deadline', 'agenda', 'read deadline', 'update deadline', 'meet deadline'], to: LETTERS, if: (r, c, op) => ownOffice(r, c) || (bug('agenda-of-all') && op === 'agenda') },
  { allow: ['delete deadline', 'waive deadline', 'extend deadline'], to: ['attorney'], if: ownOffice },
  { allow: ['create filing'], to: LETTERS, scopes: ['court'] },
  { allow: ['list filing', 'read filing'], to: LETTERS, if: ownOffice },
  { allow: ['list filing', 'read filing'], to: ['client'], if: (r, c, op) => portalOf(matterOf(r)) === c.id && (r.access === 'open' || (bug('sealed-listed') && op === 'list filing')) },
  { allow: ['update filing', 'withdraw filing'], to: LETTERS, scopes: ['court'], if: ownOffice },
  { allow: ['accept filing', 'reject filing', 'seal filing'], to: ['attorney'], scopes: ['court'], if: ownOffice },
  { allow: ['file filing'], to: ['attorney'], scopes: bug('file-without-scope') ? undefined : ['court'], if: ownOffice },
  { allow: ['list entry', 'read entry'], to: ['attorney'], if: ownOffice },
  { allow: ['list entry', 'read entry'], to: ['paralegal'], if: (r, c, op) => r.worker === c.id || (bug('colleagues-hours') && op === 'read entry' && ownOffice(r, c)) },
  { allow: ['update entry', 'submit entry'], to: LETTERS, if: (r, c) => r.worker === c.id },
  { allow: ['approve entry', 'void entry'], to: ['attorney'], if: ownOffice },
  { allow: ['read hook', 'update hook', 'delete hook'], to: LETTERS, if: (r, c) => r.owner === c.id },
  { allow: ['list record', 'read record'], to: ['attorney'], if: ownOffice },
];
const rulesFor = (operation, user) => RULES.filter((rule) => rule.allow.includes(operation) && rule.to.includes(user));
const granted = (rule, caller) => (rule.scopes ?? []).every((scope) => caller.scopes.includes(scope));
const holding = (operation, caller, row) => rulesFor(operation, caller.user).filter((rule) => granted(rule, caller) && (!rule.if || rule.if(row, caller, operation)));
const may = (operation, caller, row) => holding(operation, caller, row).length > 0;
const mayRead = (resource, caller, row) => may(`read ${resource}`, caller, row);

// ---------------------------------------------------------------- events
const EVENTS = {
  'matter.opened': { on: bug('reopen-silent') ? ['activate matter'] : ['activate matter', 'reopen matter'] },
  'matter.closed': { on: ['close matter'] },
  'matter.lapsed': { on: ['lapse matter'] },
  'matter.renamed': {
    on: ['update matter'], if: (before, next) => bug('renamed-always') || next.title !== before.title,
    data: (before, next) => ({ matter: next.id, was: bug('renamed-was') ? next.title : before.title, is: next.title }),
  },
  'deadline.set': { on: ['create deadline'] },
  'deadline.settled': { on: bug('waive-silent') ? ['meet deadline'] : ['meet deadline', 'waive deadline'] },
  'deadline.missed': { on: ['miss deadline'], times: bug('missed-twice') ? 2 : 1 },
  'filing.filed': { on: ['file filing'], stale: bug('filed-as-it-was') },
  'filing.decided': { on: ['accept filing', 'reject filing', 'deem filing'] },
  'filing.withdrawn': { on: ['withdraw filing'], onlyAsked: bug('withdrawn-only-asked') },
  'entry.approved': { on: ['approve entry'], if: (before, next) => bug('approved-unbillable') || next.billable, to: (hook, next) => hook.owner === next.worker },
  'hook.disabled': { on: ['disable hook'], data: (before, next) => ({ hook: next.id }) },
};
const knownSubscription = (name) => name === '*' || Object.hasOwn(EVENTS, name) || (name.endsWith('.*') && Object.keys(EVENTS).some((kind) => kind.startsWith(name.slice(0, -1))));
const asksFor = (hook, kind) => !hook.events || hook.events.some((name) => name === '*' || name === kind || (name.endsWith('.*') && !bug('wildcard-deaf') && kind.startsWith(name.slice(0, -1))));

// ---------------------------------------------------------------- errors
const ERRORS = {
  no_body: [400, 'A body is needed.'], unreadable: [400, 'The body is not JSON.'], wrong_media: [415, 'Send application/json.'],
  unacceptable: [406, 'Only application/json is answered.'], bad_parameter: [400, 'A parameter is wrong.'], bad_page: [400, 'There is no such page.'],
  field_missing: [422, '{name} is missing'], field_unknown: [422, '{name} is not a field'], invalid: [422, 'Something in the body is wrong.'],
  no_route: [404, 'There is no such path.'], no_method: [405, 'Not by this method.'], unauthorized: [401, 'Show a key or log in.'],
  scope_lacking: [403, 'The credential lacks a scope.'], forbidden: [403, 'You may not do this.'], not_found: [404, 'It is not there.'],
  removed: [410, 'It was removed.'], taken: [bug('taken-400') ? 400 : 409, 'Another one has these values.'], bad_reference: [bug('reference-404') ? 404 : 422, 'What it refers to is not there.'],
  in_use: [409, 'Something refers to it.'], wrong_state: [409, 'Not in this state.'], changed: [412, 'It has changed since.'],
  tag_missing: [bug('tag-missing-412') ? 412 : 428, 'Send If-Match.'], key_reused: [422, 'This key was used for another request.'], busy: [409, 'Try again.'],
  too_many: [429, 'Too many requests.'], used_up: [403, 'No more of these.'], too_large: [413, 'Too large.'],
  url_too_long: [414, 'The address is too long.'], headers_too_large: [431, 'The header fields are too large.'], too_slow: [503, 'It took too long.'],
  no_version: [400, 'There is no such version.'], old_version: [410, 'This version has ended.'], failed: [500, 'Something failed.'],
  deadlines_pending: [409, 'Deadlines are pending.'], not_closed: [409, 'It is not closed.'], critical_deadline: [409, 'A critical deadline is not waived.'],
  matter_not_active: [409, 'Its matter is not active.'], too_late: [409, 'The court has decided.'], deadline_past: [422, 'It is due in the past.'],
  extends_backwards: [422, 'An extension is later.'], matter_over: [409, 'The matter is over.'], over_cap: [409, 'The cap of the matter is reached.'],
  self_approval: [403, 'Somebody else has to approve it.'],
};
const REPLAYED = new Set(['deadlines_pending', 'not_closed', 'critical_deadline', 'matter_not_active', 'too_late', 'deadline_past', 'extends_backwards', 'matter_over', 'over_cap', 'self_approval']);
const OWN_ERRORS = [
  ['deadline_past', ['create deadline', 'update deadline'], ({ next, now }) => instant(next.due_at) <= now],
  ['extends_backwards', ['extend deadline'], ({ row, body, now }) => (!bug('extends-backwards') && instant(body.due_at) <= instant(row.due_at)) || instant(body.due_at) <= now],
  ['matter_over', ['create deadline', 'create filing', 'create entry'], ({ next }) => (bug('over-only-closed') ? ['closed'] : ['closed', 'declined']).includes(matterOf(next)?.status)],
  ['over_cap', ['submit entry'], ({ row }) => { const m = matterOf(row); if (m.cap_minutes === undefined) return false; const sum = derived('matter', m, 'minutes') + row.minutes; return bug('cap-reached-early') ? sum >= m.cap_minutes : sum > m.cap_minutes; }],
  ['self_approval', ['approve entry'], ({ row, caller }) => !bug('self-approval') && row.worker === caller.id],
];
class Refusal extends Error {
  constructor(code, more = {}) { super(code); this.code = code; this.more = more; }
}
const refuse = (code, more) => { throw new Refusal(code, more); };

// ---------------------------------------------------------------- versions
const VERSIONS = {
  '2026-03-01': { deprecated: Date.UTC(2026, 8, 1), sunset: Date.UTC(2027, 8, 1), link: 'https://docket.example/upgrade' },
  '2026-10-01': {},
};
const CURRENT = '2026-10-01', OLD = '2026-03-01';
const OLD_SHAPES = {
  contact: { values: { kind: { person: 'individual' } } },
  matter: { names: { practice: 'area' } },
  deadline: { hidden: ['critical'] },
  filing: { constants: { court: bug('court-null') ? null : 'district' } },
  entry: { names: { minutes: 'duration' } },
};
const shapeOf = (resource, version) => (version === OLD ? OLD_SHAPES[resource] ?? {} : {});
const flip = (map = {}) => Object.fromEntries(Object.entries(map).map(([a, b]) => [b, a]));
const nameIn = (resource, field, version) => shapeOf(resource, version).names?.[field] ?? field;
const fieldFrom = (resource, name, version) => {
  const shape = shapeOf(resource, version);
  const back = flip(shape.names);
  if (Object.hasOwn(back, name)) return back[name];
  if (shape.names && Object.hasOwn(shape.names, name)) return undefined;
  if (shape.hidden?.includes(name)) return undefined;
  return Object.hasOwn(RESOURCES[resource].fields, name) ? name : undefined;
};
const goDown = (resource, shown, version, inList = false) => {
  const shape = shapeOf(resource, version);
  const out = {};
  for (const [field, value] of Object.entries(shown)) {
    if (shape.hidden?.includes(field)) continue;
    const named = bug('old-list-new-names') && inList ? field : shape.names?.[field] ?? field;
    out[named] = shape.values?.[field] ? shape.values[field][value] ?? value : value;
  }
  return Object.assign(out, shape.constants ?? {});
};

// ---------------------------------------------------------------- what is stored
const STORE = Object.fromEntries(Object.keys(RESOURCES).map((name) => [name, new Map()]));
const META = new Map();                                   // by identifier: order of making, times of states, maker and version of hooks
const GONE = new Map();
const COUNTERS = new Map();
let sequence = 0;
let frozen = null;
let nextDue = 0;
const now = () => frozen ?? clock();
const rowsWhere = (resource, keep) => [...STORE[resource].values()].filter(keep);
const derived = (resource, row, field) => RESOURCES[resource].fields[field].derive(row);
const full = (resource, row) => {
  const out = { ...row };
  for (const [name, field] of Object.entries(RESOURCES[resource].fields)) if (field.derive) out[name] = bug('minutes-as-text') && name === 'minutes' ? String(field.derive(row)) : field.derive(row);
  return out;
};
const show = (resource, row, caller, { first = false } = {}) => {
  const all = full(resource, row);
  const rules = holding(`read ${resource}`, caller, row);
  const chosen = rules.length === 0 || rules.some((r) => !r.fields) ? undefined : new Set(rules.flatMap((r) => r.fields));
  const out = {};
  for (const [name, field] of Object.entries(RESOURCES[resource].fields)) {
    if (all[name] === undefined || (chosen && !chosen.has(name))) continue;
    if (field.visible && !field.visible.includes(caller.user)) continue;
    if (field.once && !first && !bug('secret-again')) continue;
    if (bug('false-left-out') && name === 'critical' && all[name] === false) continue;
    out[name] = all[name];
  }
  return out;
};
const READER = { user: 'attorney', id: '', office: '', scopes: [] };

const setFields = (resource, next, operationVerb, ctx) => {
  for (const [name, field] of Object.entries(RESOURCES[resource].fields)) {
    const set = field.set?.[operationVerb] ?? field.set?.write;
    if (set) { const value = set(ctx); if (value !== undefined) next[name] = value; }
  }
  return next;
};

const emit = (operation, resource, before, next, caller, followed) => {
  for (const [kind, event] of Object.entries(EVENTS)) {
    if (!event.on.includes(operation) || (event.if && !event.if(before, next)) || (event.onlyAsked && followed)) continue;
    for (let n = 0; n < (event.times ?? 1); n++) {
      const id = `rec_${ulid()}`;
      const at = iso(now());
      const told = event.stale ? before : next;
      const data = event.data ? event.data(before, next) : show(resource, told, { ...READER, office: next.office, id: next.worker ?? '' });
      STORE.record.set(id, { id, kind, about: next.id, office: next.office, ...(caller ? { actor: caller.id } : {}), data, at });
      META.set(id, { seq: ++sequence });
      for (const hook of STORE.hook.values()) {
        const { maker, version } = META.get(hook.id);
        if (!hook.enabled || !asksFor(hook, kind)) continue;
        if (event.to && !bug('approved-to-all') ? !event.to(hook, next) : !mayRead(resource, maker, next)) continue;
        const viewer = bug('rate-told') && resource === 'entry' ? { ...maker, user: 'attorney' } : maker;
        const payload = event.data ? data : goDown(resource, viewer === maker ? showTo(resource, told, maker) : show(resource, told, viewer), version);
        QUEUE.push({ id, kind, hook: hook.id, row: next.id, body: JSON.stringify({ id, type: kind, timestamp: at, data: payload }), tries: 0, due: now(), busy: false });
      }
    }
  }
  nextDue = 0;
  setImmediate(pump);
};
// A payload for a maker who hears by `to` is shown with what its user may see, whether or not it may read the row.
const showTo = (resource, row, maker) => show(resource, row, maker);

const put = (resource, next) => { STORE[resource].set(next.id, next); nextDue = 0; };
const move = (resource, name, before, next, caller, followed) => {
  const t = TRANSITIONS[resource][name];
  const field = t.field ?? 'status';
  next[field] = t.to;
  const meta = META.get(next.id);
  if (!(bug('deem-from-draft') && name === 'file')) meta.entered = { ...meta.entered, [field]: now() };
  if (name === 'extend' && bug('extended-never-missed') && before.status === 'missed') meta.silent = true;
  put(resource, next);
  emit(`${name} ${resource}`, resource, before, next, caller, followed);
  t.then?.(next);
};
let actor;
const act = (resource, name, row) => move(resource, name, row, setFields(resource, { ...row }, name, { now: now(), request: {}, caller: undefined }), actor, true);

// ---------------------------------------------------------------- the clock's transitions
const TIMED = Object.entries(TRANSITIONS).flatMap(([resource, all]) => Object.entries(all).filter(([, t]) => t.after || t.at).map(([name, t]) => ({ resource, name, ...t })));
const findDue = () => {
  let first;
  const offer = (at, run) => { if (first === undefined || at < first.at) first = { at, run }; };
  for (const t of TIMED) {
    for (const row of STORE[t.resource].values()) {
      if (!t.from.includes(row[t.field ?? 'status']) || META.get(row.id).silent) continue;
      const at = t.at ? instant(row[t.at]) : META.get(row.id).entered[t.field ?? 'status'] + t.after;
      offer(at, () => { actor = undefined; move(t.resource, t.name, row, setFields(t.resource, { ...row }, t.name, { now: now(), request: {} }), undefined, false); });
    }
  }
  for (const [id, gone] of GONE) offer(gone.until, () => GONE.delete(id));
  for (const row of STORE.record.values()) { offer(Date.parse(row.at) + 60 * DAY, () => STORE.record.delete(row.id)); break; }
  return first;
};
const runDue = () => {
  if (clock() < nextDue) return;
  for (;;) {
    const due = findDue();
    if (!due || due.at > clock()) { nextDue = due?.at ?? Infinity; return; }
    frozen = due.at;
    try { due.run(); } finally { frozen = null; }
  }
};

// ---------------------------------------------------------------- web hooks
const RETRY = [10 * SECOND, 5 * MINUTE, HOUR, 12 * HOUR, 12 * HOUR, 12 * HOUR, 12 * HOUR, 12 * HOUR];
let QUEUE = [];
const FAILING = new Map();
const disable = (hook) => {
  const next = { ...hook, enabled: false };
  put('hook', next);
  QUEUE = QUEUE.filter((d) => d.hook !== hook.id);
  FAILING.delete(hook.id);
  emit('disable hook', 'hook', hook, next, undefined, false);
};
const settled = (delivery, status, retryAfter) => {
  delivery.busy = false;
  const drop = () => { QUEUE = QUEUE.filter((d) => d !== delivery); };
  const hook = STORE.hook.get(delivery.hook);
  if (!QUEUE.includes(delivery)) return;
  if (!hook || !hook.enabled) { drop(); return; }
  if (status >= 200 && status < 300) { FAILING.delete(hook.id); drop(); setImmediate(pump); return; }
  if (status === 410 && !bug('gone-goes-on')) { disable(hook); return; }
  if (!FAILING.has(hook.id)) FAILING.set(hook.id, clock());
  if (clock() - FAILING.get(hook.id) >= 2 * DAY) { disable(hook); return; }
  const wait = RETRY[delivery.tries - 1];
  if (wait === undefined || bug('no-second-try')) { drop(); setImmediate(pump); return; }
  delivery.due = clock() + Math.max(wait, retryAfter);
};
const send = async (delivery, hook) => {
  delivery.busy = true;
  delivery.tries++;
  const id = bug('new-id-each-try') ? `rec_${ulid()}` : delivery.id;
  const stamp = String(Math.floor(clock() / 1000));
  const signed = bug('signs-body-alone') ? delivery.body : `${id}.${stamp}.${delivery.body}`;
  const signature = `v1,${createHmac('sha256', Buffer.from(hook.secret.slice(6), 'base64')).update(signed).digest('base64')}`;
  let done = false;
  const end = (status, wait = 0) => { if (!done) { done = true; settled(delivery, status, wait); } };
  try {
    const client = hook.url.toLowerCase().startsWith('https:') ? await import('node:https') : http;
    const out = client.request(hook.url, {
      method: 'POST', agent: false, timeout: 5000,
      headers: {
        'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(delivery.body), 'webhook-id': id, 'webhook-timestamp': stamp, 'webhook-signature': signature,
        ...(bug('no-event-header') ? {} : { 'X-Docket-Event': delivery.kind }),
      },
    }, (answer) => {
      answer.resume();
      answer.on('error', () => {});
      const after = Number(answer.headers['retry-after']);
      end(answer.statusCode, Number.isFinite(after) && after > 0 ? Math.min(after * 1000, DAY) : 0);
    });
    const timer = setTimeout(() => { out.destroy(); end(0); }, 5000);
    out.on('error', () => end(0));
    out.on('close', () => { clearTimeout(timer); end(0); });
    out.end(delivery.body);
  } catch { end(0); }
};
const pump = () => {
  const at = clock();
  const blocked = new Set();
  const waiting = new Set(QUEUE.filter((d) => d.busy).map((d) => d.hook));
  for (const delivery of [...QUEUE]) {
    const lane = `${delivery.hook} ${delivery.row}`;
    if (blocked.has(lane)) continue;
    blocked.add(lane);
    if (delivery.busy || delivery.due > at) continue;
    const hook = STORE.hook.get(delivery.hook);
    if (!hook || !hook.enabled) { QUEUE = QUEUE.filter((d) => d !== delivery); continue; }
    if (FAILING.has(hook.id) && waiting.has(hook.id)) continue;
    waiting.add(hook.id);
    send(delivery, hook);
  }
};

// ---------------------------------------------------------------- what is sent
const isMap = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const pointer = (steps) => steps.map((s) => `/${String(s).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
const same = (a, b) => {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => same(item, b[i]));
  if (!isMap(a) || !isMap(b)) return a === 0 && b === 0;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((k) => Object.hasOwn(b, k) && same(a[k], b[k]));
};
const violation = (steps, kind, found, expected) => ({ kind, steps, found, expected });
const wrong = (list, steps, found, expected) => { list.push(violation(steps, 'value', found, expected)); };
const count = (value) => [...value].length;
const TYPE_OF = {
  string: (v) => typeof v === 'string', integer: (v) => Number.isInteger(v), boolean: (v) => typeof v === 'boolean', array: Array.isArray, object: isMap,
};
// Says what is wrong with a value; `patch` merges maps into what is stored.
const check = (shape, value, steps, list, patch) => {
  if (!TYPE_OF[shape.type](value)) return wrong(list, steps, value, `a value of type ${shape.type}`);
  if (shape.type === 'string') {
    if (shape.enum && !shape.enum.includes(value)) return wrong(list, steps, value, `one of ${shape.enum.join(', ')}`);
    if (shape.min !== undefined && count(value) < shape.min) return wrong(list, steps, value, `at least ${shape.min} characters`);
    if (shape.max !== undefined && count(value) > shape.max) return wrong(list, steps, value, `at most ${shape.max} characters`);
    if (shape.pattern && !shape.pattern.test(value)) return wrong(list, steps, value, `a text like ${shape.pattern.source}`);
    if (shape.format && !FORMATS[shape.format](value)) return wrong(list, steps, value, `a ${shape.format}`);
    const more = shape.check?.(value);
    if (more) return wrong(list, steps, value, more);
  } else if (shape.type === 'integer') {
    if (shape.minimum !== undefined && value < shape.minimum) return wrong(list, steps, value, `at least ${shape.minimum}`);
    if (shape.maximum !== undefined && value > shape.maximum) return wrong(list, steps, value, `at most ${shape.maximum}`);
    if (shape.multipleOf && value % shape.multipleOf !== 0) return wrong(list, steps, value, `a multiple of ${shape.multipleOf}`);
  } else if (shape.type === 'array') {
    if (shape.minItems !== undefined && value.length < shape.minItems) return wrong(list, steps, value, `at least ${shape.minItems} items`);
    if (shape.maxItems !== undefined && value.length > shape.maxItems) return wrong(list, steps, value, `at most ${shape.maxItems} items`);
    if (shape.unique && !bug('tags-twice') && value.some((a, i) => value.some((b, j) => j < i && same(a, b)))) return wrong(list, steps, value, 'items that differ');
    value.forEach((item, i) => check(shape.items, item, [...steps, i], list));
  } else if (shape.fields) {
    for (const [key, inner] of Object.entries(value)) {
      if (!Object.hasOwn(shape.fields, key)) { list.push(violation([...steps, key], 'unknown', inner, 'no such field')); continue; }
      if (patch !== undefined && inner === null) { if (shape.required.includes(key)) wrong(list, [...steps, key], null, 'a value'); continue; }
      check(shape.fields[key], inner, [...steps, key], list);
    }
    for (const key of shape.required) if (!Object.hasOwn(value, key) && !(patch && Object.hasOwn(patch, key))) list.push(violation([...steps, key], 'missing', undefined, 'a value'));
  }
};
const merge = (stored, patch) => {
  const out = isMap(stored) ? { ...stored } : {};
  for (const [key, value] of Object.entries(patch)) if (value === null) delete out[key]; else out[key] = value;
  return out;
};
const CODE_OF = { missing: 'field_missing', unknown: bug('unknown-is-invalid') ? 'invalid' : 'field_unknown', value: 'invalid' };
const refuseBody = (list) => {
  const first = list[0];
  refuse(CODE_OF[first.kind], {
    name: first.steps.join('.'),
    violations: list.map((v) => ({ in: 'body', ...(bug('violations-unplaced') ? {} : { path: pointer(v.steps) }), ...(v.found === undefined ? {} : { found: v.found }), expected: v.expected })),
  });
};

// Reads a body in its version's shape and makes the row that it asks for; `mode` is create, replace or update.
const read = (resource, body, { mode, version, caller, stored, bound = {} }) => {
  const { fields, required } = RESOURCES[resource];
  const shape = shapeOf(resource, version);
  const list = [];
  const sent = {};
  if (!isMap(body)) refuseBody([violation([], 'value', body, 'a map of fields')]);
  for (const [key, raw] of Object.entries(body)) {
    if (Object.hasOwn(shape.constants ?? {}, key)) { if (typeof raw !== 'string' && !(raw === null && mode === 'update')) wrong(list, [key], raw, 'a value of type string'); continue; }
    const name = fieldFrom(resource, key, version);
    if (name === undefined) { if (!(bug('unknown-passes') && resource === 'contact')) list.push(violation([key], 'unknown', raw, 'no such field')); continue; }
    const field = fields[name];
    if (field.readOnly || (field.writable && !field.writable.includes(caller.user))) continue;
    if (raw === null && mode === 'update') {
      if (required.includes(name)) wrong(list, [key], raw, 'a value'); else sent[name] = null;
      continue;
    }
    const map = shape.values?.[name];
    const before = list.length;
    check(map ? { ...field, enum: field.enum.map((v) => map[v] ?? v) } : field, raw, [key], list, mode === 'update' && field.fields ? stored[name] ?? {} : undefined);
    if (list.length > before) continue;
    const value = map ? flip(map)[raw] ?? raw : raw;
    if (Object.hasOwn(bound, name) && value !== bound[name]) { wrong(list, [key], raw, 'what the path says'); continue; }
    if (field.immutable && stored && value !== stored[name] && !(bug('kind-changes') && name === 'kind')) { wrong(list, [key], raw, 'what it was made with'); continue; }
    sent[name] = mode === 'update' && field.fields && !bug('address-not-merged') ? merge(stored[name], value) : field.fields && mode === 'update' ? merge({}, value) : value;
  }
  const next = mode === 'create' ? {} : { ...stored };
  for (const [name, field] of Object.entries(fields)) {
    const mine = !field.readOnly && (!field.writable || field.writable.includes(caller.user));
    if (mode === 'replace' && mine && !field.immutable && !bug('put-keeps')) delete next[name];
    if (Object.hasOwn(sent, name)) { if (sent[name] === null) delete next[name]; else next[name] = sent[name]; }
    if (Object.hasOwn(bound, name)) next[name] = bound[name];
    if (next[name] === undefined && field.default !== undefined && mode !== 'update') next[name] = field.default;
    if (next[name] === undefined && required.includes(name) && !field.readOnly && !list.some((v) => v.steps[0] === nameIn(resource, name, version))) {
      list.push(violation([nameIn(resource, name, version)], 'missing', undefined, 'a value'));
    }
  }
  if (list.length === 0) for (const rule of RESOURCES[resource].rules ?? []) if (rule.if(next)) wrong(list, [nameIn(resource, rule.field, version)], next[rule.field], rule.expected);
  if (list.length > 0) refuseBody(list);
  return next;
};
const checkReferences = (resource, next, before, caller) => {
  for (const [name, field] of Object.entries(RESOURCES[resource].fields)) {
    if (!field.ref || next[name] === undefined || next[name] === before?.[name]) continue;
    const row = STORE[field.ref].get(next[name]);
    if (!row || !mayRead(field.ref, caller, row)) refuse('bad_reference');
  }
};
const checkUnique = (resource, next) => {
  for (const names of RESOURCES[resource].unique ?? []) {
    if (names.some((n) => next[n] === undefined)) continue;
    if (bug('docket-no-per-office') && resource === 'filing') { if (rowsWhere('filing', (r) => r.id !== next.id && r.office === next.office && r.docket_no === next.docket_no).length) refuse('taken'); continue; }
    const key = (row) => names.map((n) => (RESOURCES[resource].fields[n].ignoreCase && !bug('email-case') ? row[n].toLowerCase() : row[n])).join('\n');
    if (rowsWhere(resource, (r) => r.id !== next.id && names.every((n) => r[n] !== undefined) && key(r) === key(next)).length) refuse('taken');
  }
};
const ROW_LIMITS = {
  hook: (next, before) => !before && rowsWhere('hook', (h) => h.owner === next.owner).length + (bug('dead-hooks-count') ? deadHooks.filter((o) => o === next.owner).length : 0) >= 4,
  deadline: (next, before) => next.status === 'pending' && before?.status !== 'pending' &&
    rowsWhere('deadline', (d) => d.matter === next.matter && (d.status === 'pending' || bug('done-deadlines-count'))).length >= 12,
};
const deadHooks = [];
const checkRows = (resource, next, before) => { if (ROW_LIMITS[resource]?.(next, before)) refuse('used_up'); };
const ownErrors = (operation, ctx) => { for (const [code, on, holds] of OWN_ERRORS) if (on.includes(operation) && holds(ctx)) refuse(code); };

// ---------------------------------------------------------------- lists
const cursorKey = randomBytes(32);
const mac = (value) => createHmac('sha256', cursorKey).update(value).digest('base64url').slice(0, 22);
const OPERATORS = {
  '=': (a, b) => a === b, '>=': (a, b) => a >= b, '<=': (a, b) => a <= b, '<': (a, b) => (bug('until-takes-the-day') ? a <= b : a < b),
  contains: (a, b) => (bug('name-any-case') ? a.toLowerCase().includes(b.toLowerCase()) : a.includes(b)), prefix: (a, b) => (bug('title-anywhere') ? a.includes(b) : a.startsWith(b)),
};
const CAST = {
  integer: (t) => (/^-?\d+$/.test(t) && Number.isSafeInteger(Number(t)) ? Number(t) : undefined),
  boolean: (t) => ({ true: true, false: false })[t],
};
const plain = (field, value) => (field.format === 'date-time' ? instant(value) : value);
const readFilter = (resource, name, spec, raw, version) => {
  const path = (spec.filters ?? fieldFrom(resource, name, version) ?? '').split('.');
  if (path[0] === '') return undefined;
  let field = RESOURCES[resource].fields[path[0]];
  for (const step of path.slice(1)) field = field.fields[step];
  const op = spec.op ?? '=';
  const one = (piece) => {
    if (spec.type === 'string' || op === 'contains' || op === 'prefix') return piece;
    const shape = shapeOf(resource, version).values?.[path[0]];
    const type = spec.type ?? field.type;
    const value = CAST[type] ? CAST[type](piece) : piece;
    if (value === undefined) refuse('bad_parameter');
    if (spec.type) return value;
    const list = [];
    const states = resource !== 'record' && path[0] === 'status' ? STATES[resource] : undefined;
    check({ ...field, type, ...(states ? { enum: states } : {}), ...(shape ? { enum: field.enum.map((v) => shape[v] ?? v) } : {}) }, value, [], list);
    if (list.length) refuse('bad_parameter');
    return shape && !bug('old-kind-unmapped') ? flip(shape)[value] ?? value : value;
  };
  const pieces = (spec.split ? raw.split(',') : [raw]).map(one);
  if (pieces.length > 100) refuse('bad_parameter');
  const wanted = bug('first-kind-only') && resource === 'record' ? pieces.slice(0, 1) : pieces;
  if (bug('city-ignored') && path[1] === 'city') return () => true;
  return (row) => {
    let value = row;
    for (const step of path) value = value?.[step];
    if (value === undefined) return false;
    if (field.type === 'array') return wanted.some((w) => value.includes(w));
    const low = (v) => (field.ignoreCase ? v.toLowerCase() : v);
    return wanted.some((w) => OPERATORS[op](plain(field, low(value)), plain(field, low(w))));
  };
};
const STATES = {
  matter: ['intake', 'active', 'closed', 'declined'], deadline: ['pending', 'met', 'waived', 'missed'],
  filing: ['draft', 'filed', 'accepted', 'rejected', 'withdrawn'], entry: ['draft', 'submitted', 'approved', 'void'],
};
const comparer = (resource, sort) => {
  const down = sort?.startsWith('-');
  const name = sort?.replace(/^-/, '');
  const field = name && RESOURCES[resource].fields[name];
  const value = (row) => (field ? plain(field, row[name]) : null);
  const compare = (a, b) => {
    if (a.value !== b.value && a.value !== null) return (a.value < b.value ? -1 : 1) * (down ? -1 : 1);
    return a.seq - b.seq;
  };
  return { place: (row) => ({ value: value(row), seq: META.get(row.id).seq }), compare };
};
const whole = (raw) => (/^\d+$/.test(raw) ? Number(raw) : undefined);
const readPage = (endpoint, query, mark) => {
  if (endpoint.paged === 'page') {
    const page = query.page === undefined ? 1 : whole(query.page);
    const size = query.per_page === undefined ? 10 : whole(query.per_page);
    if (!page || !size) refuse('bad_page');
    if (size > 40 && bug('per-page-refused')) refuse('bad_page');
    return { page, size: Math.min(size, 40) };
  }
  const size = query.limit === undefined ? 10 : whole(query.limit);
  if (!size || size > (bug('limit-51') && endpoint.resource === 'contact' ? 51 : 50)) refuse('bad_page');
  if (query.cursor === undefined) return { size };
  const [body, sign] = query.cursor.split('.');
  if (sign === undefined || mac(body) !== sign) refuse('bad_page');
  const told = JSON.parse(Buffer.from(body, 'base64url').toString());
  if (told.mark !== mark) refuse('bad_page');
  return { size, after: told.after };
};

// ---------------------------------------------------------------- endpoints
const sorts = (...names) => names;
const ENDPOINTS = {
  'GET /ping': { op: 'ping', verb: 'reply', open: true },
  'POST /contacts': { verb: 'create', resource: 'contact' },
  'GET /contacts': { verb: 'list', resource: 'contact', order: 'name', sorts: sorts('name', '-name', 'updated_at', '-updated_at'), filters: { kind: {}, name: { op: 'contains' }, tag: { type: 'string', filters: 'tags' }, city: { type: 'string', filters: 'address.city' }, email: {} } },
  'GET /contacts/{id}': { verb: 'read', resource: 'contact', etag: true },
  'PATCH /contacts/{id}': { verb: 'update', resource: 'contact', ifMatch: 'accepted' },
  'PUT /contacts/{id}': { verb: 'replace', resource: 'contact', ifMatch: 'accepted' },
  'DELETE /contacts/{id}': { verb: 'delete', resource: 'contact' },
  'POST /matters': { verb: 'create', resource: 'matter' },
  'GET /matters': { verb: 'list', resource: 'matter', order: 'title', sorts: sorts('title', '-title', 'updated_at', '-updated_at'), filters: { status: { split: true }, practice: {}, client: {}, title: { op: 'prefix' }, lead: {} } },
  'GET /matters/{id}': { verb: 'read', resource: 'matter', etag: true },
  'PATCH /matters/{id}': { verb: 'update', resource: 'matter', in: ['intake', 'active'], ifMatch: 'required' },
  'DELETE /matters/{id}': { verb: 'delete', resource: 'matter', in: ['intake', 'declined'] },
  'POST /matters/{id}/activate': { verb: 'activate', resource: 'matter' },
  'POST /matters/{id}/close': { verb: 'close', resource: 'matter' },
  'POST /matters/{id}/reopen': { verb: 'reopen', resource: 'matter' },
  'POST /matters/{matter}/deadlines': { verb: 'create', resource: 'deadline', parent: true },
  'GET /matters/{matter}/deadlines': { verb: 'list', resource: 'deadline', parent: true, order: 'due_at', filters: { status: { split: true }, kind: {}, critical: {} } },
  'GET /agenda': { op: 'agenda', verb: 'list', resource: 'deadline', order: 'due_at', filters: { status: {}, from: { filters: 'due_at', op: '>=' }, until: { filters: 'due_at', op: '<' } }, since: CURRENT },
  'GET /deadlines/{id}': { verb: 'read', resource: 'deadline', etag: true },
  'PATCH /deadlines/{id}': { verb: 'update', resource: 'deadline', in: ['pending'] },
  'DELETE /deadlines/{id}': { verb: 'delete', resource: 'deadline' },
  'POST /deadlines/{id}/meet': { verb: 'meet', resource: 'deadline' },
  'POST /deadlines/{id}/waive': { verb: 'waive', resource: 'deadline' },
  'POST /deadlines/{id}/extend': { verb: 'extend', resource: 'deadline', takes: { type: 'object', required: ['due_at'], fields: { due_at: when() } } },
  'POST /matters/{matter}/filings': { verb: 'create', resource: 'filing', parent: true },
  'GET /matters/{matter}/filings': { verb: 'list', resource: 'filing', parent: true, sorts: sorts('pages', '-pages', 'docket_no'), filters: { status: {}, min_pages: { type: 'integer', filters: 'pages', op: '>=' }, max_pages: { type: 'integer', filters: 'pages', op: '<=' } } },
  'GET /filings/{id}': { verb: 'read', resource: 'filing', etag: true },
  'PATCH /filings/{id}': { verb: 'update', resource: 'filing', in: ['draft'], ifMatch: 'accepted' },
  'POST /filings/{id}/file': { verb: 'file', resource: 'filing' },
  'POST /filings/{id}/accept': { verb: 'accept', resource: 'filing' },
  'POST /filings/{id}/reject': { verb: 'reject', resource: 'filing', takes: { type: 'object', required: bug('reject-without-reason') ? [] : ['reason'], fields: { reason: text({ min: 3, max: 200 }) } } },
  'POST /filings/{id}/withdraw': { verb: 'withdraw', resource: 'filing' },
  'POST /filings/{id}/seal': { verb: 'seal', resource: 'filing' },
  'POST /matters/{matter}/entries': { verb: 'create', resource: 'entry', parent: true },
  'GET /entries': { verb: 'list', resource: 'entry', order: '-day', paged: 'page', sorts: sorts('day', '-day', 'minutes', '-minutes'), filters: { matter: {}, worker: {}, status: {}, billable: {}, from: { filters: 'day', op: '>=' }, until: { filters: 'day', op: '<=' } } },
  'GET /entries/{id}': { verb: 'read', resource: 'entry' },
  'PATCH /entries/{id}': { verb: 'update', resource: 'entry', in: ['draft'] },
  'POST /entries/{id}/submit': { verb: 'submit', resource: 'entry' },
  'POST /entries/{id}/approve': { verb: 'approve', resource: 'entry' },
  'POST /entries/{id}/void': { verb: 'void', resource: 'entry' },
  'POST /hooks': { verb: 'create', resource: 'hook' },
  'GET /hooks/{id}': { verb: 'read', resource: 'hook' },
  'PATCH /hooks/{id}': { verb: 'update', resource: 'hook' },
  'DELETE /hooks/{id}': { verb: 'delete', resource: 'hook' },
  'GET /records': { verb: 'list', resource: 'record', order: '-at', filters: { kind: { split: true }, about: {}, since: { filters: 'at', op: '>=' } } },
  'GET /records/{id}': { verb: 'read', resource: 'record' },
};
const BASE = bug('base-lost') ? '' : '/v1';
const ROUTES = new Map();
for (const [name, endpoint] of Object.entries(ENDPOINTS)) {
  const [method, path] = name.split(' ');
  if (bug('deadlines-stay') && name === 'DELETE /deadlines/{id}') continue;
  endpoint.op ??= `${endpoint.verb} ${endpoint.resource}`;
  if (!ROUTES.has(path)) ROUTES.set(path, { pattern: path.split('/').slice(1).map((s) => (s.startsWith('{') ? { name: s.slice(1, -1) } : s)), methods: {} });
  ROUTES.get(path).methods[method] = endpoint;
}
const findRoute = (path) => {
  if (!path.startsWith(`${BASE}/`)) return undefined;
  const steps = path.slice(BASE.length + 1).split('/');
  for (const route of ROUTES.values()) {
    if (route.pattern.length !== steps.length) continue;
    const params = {};
    const fits = route.pattern.every((p, i) => {
      if (typeof p === 'string') return p === steps[i];
      try { params[p.name] = decodeURIComponent(steps[i]); } catch { return false; }
      return steps[i] !== '';
    });
    if (fits) return { route, params };
  }
  return undefined;
};

// ---------------------------------------------------------------- who calls
const sameText = (a, b) => { const [x, y] = [a, b].map((t) => createHash('sha256').update(t).digest()); return timingSafeEqual(x, y); };
const CHALLENGES = (bad) => [`ApiKey realm="Docket", in="header", name="X-Docket-Key"${bad ? ', error="invalid_key"' : ''}`, 'Basic realm="Docket", charset="UTF-8"'];
const identify = (request) => {
  const raw = {};
  for (let i = 0; i < request.rawHeaders.length; i += 2) { const name = request.rawHeaders[i].toLowerCase(); (raw[name] ??= []).push(request.rawHeaders[i + 1]); }
  const keys = raw[bug('key-header-renamed') ? 'docket-key' : 'x-docket-key'] ?? [];
  const logins = raw.authorization ?? [];
  const bad = () => refuse('unauthorized', { challenges: CHALLENGES(true) });
  if (keys.length > 1 || logins.length > 1) bad();
  if (!keys.length && !logins.length) refuse('unauthorized', { challenges: CHALLENGES(false) });
  const found = [];
  if (keys.length) found.push(CALLERS.find((c) => (bug('key-any-case') ? sameText(c.key.toLowerCase(), keys[0].toLowerCase()) : sameText(c.key, keys[0]))));
  if (logins.length) {
    const told = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(logins[0]);
    const pair = told ? Buffer.from(told[1], 'base64').toString('utf8') : '';
    const at = pair.indexOf(':');
    const [id, password] = [pair.slice(0, at), pair.slice(at + 1)];
    found.push(at < 0 ? undefined : CALLERS.find((c) => c.id === id && c.password !== undefined && sameText(c.password, bug('password-tail') ? password.slice(0, c.password.length) : password)));
  }
  if (found.some((c) => c === undefined)) bad();
  const [caller] = found;
  if (found.some((c) => c !== caller) && !bug('two-callers')) bad();
  if (bug('paralegals-unknown') && caller.user === 'paralegal') bad();
  const { user, id, office, scopes } = caller;
  return { user: bug('client-is-paralegal') && user === 'client' ? 'paralegal' : user, id, office, scopes, login: logins.length > 0 };
};
const crossSite = (request) => {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  const origin = request.headers.origin;
  return origin !== undefined && origin.replace(/^https?:\/\//, '') !== request.headers.host;
};

// ---------------------------------------------------------------- rates and quotas
const KINDS = {
  fixed: {
    look: (s, r, t) => (s.start === undefined || t >= s.start + r.window || t < s.start ? { left: r.limit, wait: 0 } : { left: r.limit - s.used, wait: s.start + r.window - t }),
    take: (s, r, t) => { if (s.start === undefined || t >= s.start + r.window) { s.start = t; s.used = 0; } s.used++; },
    back: (s) => { s.used--; },
  },
  sliding: {
    look: (s, r, t) => { s.times ??= []; while (s.times.length && s.times[0] <= t - r.window) s.times.shift(); return { left: r.limit - s.times.length, wait: s.times.length ? s.times[0] + r.window - t : 0 }; },
    take: (s, r, t) => { s.times.push(t); },
    back: (s) => { s.times.pop(); },
  },
  bucket: {
    look: (s, r, t) => {
      const full = r.burst * r.window;
      s.level = Math.min(full, (s.level ?? full) + (bug('bucket-never-fills') ? 0 : (t - (s.at ?? t)) * r.limit));
      s.at = t;
      const left = Math.floor(s.level / r.window);
      return { left, wait: s.level >= full ? 0 : Math.ceil(((left + 1) * r.window - s.level) / r.limit) };
    },
    take: (s, r) => { s.level -= r.window; },
    back: (s, r) => { s.level += r.window; },
  },
};
const RATES = [
  { name: 'address-1m', step: 3, kind: 'fixed', limit: 6000, window: MINUTE },
  { name: 'caller-1m', step: 5, kind: 'sliding', limit: 1500, window: MINUTE },
  { name: 'caller-1m-agenda', step: 5, kind: 'fixed', limit: bug('agenda-21') ? 21 : 20, window: MINUTE, on: ['agenda'] },
  { name: 'caller-1m-client-list-matter', step: 5, kind: 'bucket', limit: 30, burst: 40, window: MINUTE, to: 'client', on: ['list matter'] },
].map((rate) => ({ ...rate, states: new Map() }));
const countRates = (step, ctx) => {
  const t = clock();
  const mine = RATES.filter((r) => r.step === step && (!r.on || r.on.includes(ctx.operation)) && (!r.to || r.to === ctx.caller?.user)).map((rate) => {
    const who = step === 3 || !ctx.caller ? ctx.address : bug('agenda-by-user') && rate.name.endsWith('agenda') ? ctx.caller.user : `${ctx.caller.user} ${ctx.caller.id}`;
    if (!rate.states.has(who)) rate.states.set(who, {});
    return { rate, state: rate.states.get(who) };
  });
  const looks = mine.map(({ rate, state }) => KINDS[rate.kind].look(state, rate, t));
  const over = looks.filter((l) => l.left < 1);
  if (over.length) {
    for (const { rate, state } of ctx.counted) KINDS[rate.kind].back(state, rate);
    ctx.counted = [];
    ctx.told = mine;
    refuse('too_many', { retryAfter: Math.max(1, Math.ceil(Math.max(...over.map((l) => l.wait)) / 1000)) });
  }
  for (const one of mine) { KINDS[one.rate.kind].take(one.state, one.rate, t); ctx.counted.push(one); }
  ctx.told = ctx.counted;
};
const rateFields = (told) => {
  if (!told.length) return {};
  const t = clock();
  const look = told.map(({ rate, state }) => ({ rate, ...KINDS[rate.kind].look(state, rate, t) }));
  return {
    'RateLimit-Policy': look.map(({ rate }) => `"${rate.name}";q=${rate.limit};w=${rate.window / 1000}${rate.burst ? `;ninefold-burst=${rate.burst}` : ''}`).join(', '),
    RateLimit: look.map(({ rate, left, wait }) => `"${rate.name}";r=${Math.max(0, left)};t=${Math.ceil(wait / 1000)}`).join(', '),
  };
};
const QUOTA = new Map();
const quotaKey = (caller) => `${Math.floor(now() / DAY)} ${bug('quota-by-office') ? caller.office : `${caller.user} ${caller.id}`}`;

// ---------------------------------------------------------------- one request, in the order of refusals
const acceptable = (header) => {
  if (header === undefined) return true;
  let best = { weight: 0, depth: -1 };
  for (const part of header.split(',')) {
    const [range, ...more] = part.trim().toLowerCase().split(/\s*;\s*/);
    const depth = ['*/*', 'application/*', 'application/json'].indexOf(range);
    const q = more.find((m) => m.startsWith('q='));
    if (depth > best.depth) best = { depth, weight: q ? Number(q.slice(2)) : 1 };
  }
  return header.trim() === '' || best.weight > 0;
};
const readQuery = (search, allowed) => {
  const query = {};
  for (const piece of search === '' ? [] : search.split('&')) {
    if (piece === '') continue;
    const at = piece.indexOf('=');
    let name, value;
    try { [name, value] = [at < 0 ? piece : piece.slice(0, at), at < 0 ? '' : piece.slice(at + 1)].map((t) => decodeURIComponent(t.replaceAll('+', ' '))); } catch { refuse('bad_parameter'); }
    if (!allowed.includes(name)) { if (bug('unknown-parameter-passes')) continue; refuse('bad_parameter'); }
    if (Object.hasOwn(query, name)) refuse('bad_parameter');
    query[name] = value;
  }
  return query;
};
const takesBody = (e) => ['create', 'update', 'replace'].includes(e.verb) || e.takes !== undefined;
const readBody = (endpoint, request, bytes) => {
  if (!takesBody(endpoint)) return bytes === undefined ? refuse('too_large') : undefined;
  if (bytes?.length === 0) refuse('no_body');
  const type = request.headers['content-type']?.split(';')[0].trim().toLowerCase();
  if (type !== 'application/json' && !(type === 'application/merge-patch+json' && endpoint.verb === 'update')) { if (!bug('any-media')) refuse('wrong_media'); }
  if (bytes === undefined) refuse('too_large');
  try { return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)); } catch { return refuse('unreadable'); }
};
const canonical = (v) => (Array.isArray(v) ? `[${v.map(canonical).join()}]` : isMap(v) ? `{${Object.keys(v).sort().map((k) => `${JSON.stringify(k)}:${canonical(v[k])}`).join()}}` : JSON.stringify(v) ?? '');
const KEYS = new Map();
const tagOf = (body, version) => `"${createHash('sha256').update(`${version}\n${canonical(body)}`).digest('base64url').slice(0, 27)}"`;
const parseTags = (header) => header.match(/(?:W\/)?"[^"]*"|\*/g) ?? [];

const loadRow = (ctx) => {
  const { endpoint: { resource, verb }, caller, params, operation } = ctx;
  const gone = GONE.get(params.id);
  if (gone && gone.resource === resource && mayRead(resource, caller, gone.row) && !bug('removed-is-missing')) refuse('removed');
  const row = STORE[resource].get(params.id);
  if (!row) refuse('not_found');
  const readable = mayRead(resource, caller, row) || (bug('foreign-contact') && resource === 'contact' && verb === 'read');
  if (!readable) refuse('not_found');
  if (verb !== 'read' && !may(operation, caller, row)) refuse('forbidden');
  return row;
};
const loadParent = (ctx) => {
  const row = STORE.matter.get(ctx.params.matter);
  if (!row || !mayRead('matter', ctx.caller, row)) refuse('not_found');
  return row;
};
const answerRow = (ctx, row, status, more = {}) => ({ status, body: goDown(ctx.endpoint.resource, show(ctx.endpoint.resource, row, ctx.caller, more), ctx.version) });
const precondition = (ctx, row) => {
  const { endpoint, headers, caller, version } = ctx;
  if (!endpoint.ifMatch) return;
  if (headers['if-match'] === undefined) { if (endpoint.ifMatch === 'required') refuse('tag_missing'); return; }
  const tag = tagOf(goDown(endpoint.resource, show(endpoint.resource, row, caller), version), version);
  const tags = parseTags(headers['if-match']);
  if (bug('stale-tag-passes') && endpoint.resource === 'filing') return;
  if (!tags.includes('*') && !tags.some((t) => t === tag)) refuse('changed');
};
const useQuota = (ctx) => {
  if (ctx.operation !== 'file filing') return;
  const key = quotaKey(ctx.caller);
  if ((QUOTA.get(key) ?? 0) >= 25) refuse('used_up', { retryAfter: Math.ceil(((Math.floor(now() / DAY) + 1) * DAY - now()) / 1000) });
  QUOTA.set(key, (QUOTA.get(key) ?? 0) + 1);
};

const VERBS = {
  reply: () => ({ status: 200, body: { ok: true, service: 'docket' } }),
  create: (ctx) => {
    const { endpoint: { resource, parent }, caller, version, body } = ctx;
    const bound = parent ? { matter: loadParent(ctx).id } : {};
    const next = read(resource, body, { mode: 'create', version, caller, bound });
    checkReferences(resource, next, undefined, caller);
    next.id = `${RESOURCES[resource].prefix}${ulid()}`;
    for (const m of MACHINES[resource] ?? []) next[m.field] = m.initial;
    const t = now();
    setFields(resource, next, 'create', { caller, now: t, request: body });
    ownErrors(ctx.operation, { next, caller, now: t, body });
    checkUnique(resource, next);
    checkRows(resource, next);
    for (const [name, field] of Object.entries(RESOURCES[resource].fields)) {
      if (field.make) next[name] = field.make();
      if (!field.count) continue;
      const key = `${resource} ${bug('numbers-for-all') && resource === 'matter' ? '' : next[field.count.within]}`;
      COUNTERS.set(key, (COUNTERS.get(key) ?? 0) + 1);
      next[name] = field.count.write(COUNTERS.get(key));
    }
    META.set(next.id, { seq: ++sequence, maker: caller, version, entered: Object.fromEntries((MACHINES[resource] ?? []).map((m) => [m.field, t])) });
    put(resource, next);
    emit(ctx.operation, resource, undefined, next, caller, false);
    return { ...answerRow(ctx, next, 201, { first: true }), location: bug('no-location') && resource === 'matter' ? undefined : `/v1${RESOURCES[resource].path}${next.id}` };
  },
  read: (ctx) => {
    const row = loadRow(ctx);
    const answer = answerRow(ctx, row, 200);
    if (!ctx.endpoint.etag) return answer;
    answer.etag = bug('tag-forgets-derived') && ctx.endpoint.resource === 'matter' ? tagOf({ ...answer.body, minutes: 0, pending: 0 }, ctx.version) : tagOf(answer.body, ctx.version);
    const none = ctx.headers['if-none-match'];
    if (none !== undefined && !bug('never-304') && parseTags(none).some((t) => t === '*' || t.replace(/^W\//, '') === answer.etag)) return { status: 304, etag: answer.etag };
    return answer;
  },
  list: (ctx) => {
    const { endpoint, caller, params, version, filters, page, sort, mark } = ctx;
    const { resource } = endpoint;
    const parent = endpoint.parent ? loadParent(ctx) : undefined;
    const { place, compare } = comparer(resource, sort);
    const rows = rowsWhere(resource, (row) => (!parent || row.matter === parent.id) && may(ctx.operation, caller, row) && filters.every((f) => f(row)))
      .map((row) => ({ row, at: place(row) })).sort((a, b) => compare(a.at, b.at));
    const shown = (some) => some.map(({ row }) => goDown(resource, show(resource, row, caller), version, true));
    if (endpoint.paged === 'page') {
      const from = (page.page - 1) * page.size;
      const some = rows.slice(from, from + page.size);
      return { status: 200, body: { entries: shown(some), more: rows.length > from + page.size - (bug('more-when-full') ? 1 : 0), total: bug('total-of-page') ? some.length : rows.length } };
    }
    const start = page.after ? rows.findIndex((r) => compare(r.at, page.after) > 0) : 0;
    const skip = bug('records-skip-one') && resource === 'record' && page.after ? 1 : 0;
    const rest = start < 0 ? [] : rows.slice(start + skip);
    const some = rest.slice(0, page.size);
    const more = rest.length > page.size;
    const token = more ? Buffer.from(JSON.stringify({ mark, after: some.at(-1).at })).toString('base64url') : undefined;
    return { status: 200, body: { data: shown(some), next_cursor: token ? `${token}.${mac(token)}` : null, has_more: more } };
  },
  update: (ctx) => change(ctx, 'update'),
  replace: (ctx) => change(ctx, 'replace'),
  delete: (ctx) => {
    const { endpoint: { resource }, caller, endpoint } = ctx;
    const row = loadRow(ctx);
    if (endpoint.in && !endpoint.in.includes(row.status)) refuse('wrong_state');
    for (const [child, { fields }] of Object.entries(RESOURCES)) {
      for (const [name, field] of Object.entries(fields)) {
        if (field.ref === resource && field.onDelete === 'restrict' && !(bug('contact-in-use-goes') && resource === 'contact') && rowsWhere(child, (r) => r[name] === row.id).length) refuse('in_use');
      }
    }
    if (resource === 'matter' && !bug('orphans')) for (const d of rowsWhere('deadline', (r) => r.matter === row.id)) STORE.deadline.delete(d.id);
    if (resource === 'hook') deadHooks.push(row.owner);
    if (RESOURCES[resource].keep) GONE.set(row.id, { resource, row, until: now() + RESOURCES[resource].keep });
    STORE[resource].delete(row.id);
    nextDue = 0;
    return { status: 204 };
  },
};
const change = (ctx, mode) => {
  const { endpoint, caller, version, body } = ctx;
  const { resource } = endpoint;
  const row = loadRow(ctx);
  precondition(ctx, row);
  const next = read(resource, body, { mode, version, caller, stored: row });
  checkReferences(resource, next, row, caller);
  if (endpoint.in && !endpoint.in.includes(row.status)) refuse('wrong_state');
  const t = now();
  ownErrors(ctx.operation, { row, next, caller, now: t, body });
  if (same(row, next)) return answerRow(ctx, row, 200);
  checkUnique(resource, next);
  checkRows(resource, next, row);
  if (!(bug('updated-at-stays') && resource === 'contact')) setFields(resource, next, mode, { caller, now: t, request: body });
  put(resource, next);
  emit(ctx.operation, resource, row, next, caller, false);
  return answerRow(ctx, next, 200);
};
const transit = (ctx) => {
  const { endpoint: { resource, verb, takes }, caller, body, params } = ctx;
  const t = TRANSITIONS[resource][verb];
  const row = loadRow(ctx);
  if (takes) {
    const list = [];
    check(takes, body, [], list);
    if (list.length) refuseBody(list);
  }
  if (!t.from.includes(row[t.field ?? 'status'])) refuse(t.else ?? 'wrong_state');
  const at = now();
  const next = setFields(resource, { ...row }, verb, { caller, now: at, request: body ?? {} });
  if (t.if && !t.if(row)) refuse(t.elseIf);
  ownErrors(ctx.operation, { row, next, caller, now: at, body });
  next[t.field ?? 'status'] = t.to;
  checkRows(resource, next, row);
  useQuota(ctx);
  actor = caller;
  move(resource, verb, row, next, caller, false);
  actor = undefined;
  return answerRow(ctx, STORE[resource].get(params.id), 200);
};

// Steps 1 to 6: what is known without the body.
const opening = (ctx, request) => {
  if (Buffer.byteLength(request.url) > 2048) refuse('url_too_long');
  let size = 0;
  for (const part of request.rawHeaders) size += part.length + 2;
  if (size > 8192) refuse('headers_too_large');
  const [path, ...search] = request.url.split('?');
  ctx.search = search.join('?');
  const found = findRoute(path);
  if (!found) refuse('no_route');
  const { route, params } = found;
  const allow = [...new Set(Object.keys(route.methods).flatMap((m) => (m === 'GET' ? ['GET', 'HEAD'] : [m]))), 'OPTIONS'].join(', ');
  if (request.method === 'OPTIONS') return { status: 204, allow };
  const method = request.method === 'HEAD' && !bug('no-head') ? 'GET' : request.method;
  const endpoint = route.methods[method];
  const old = ctx.headers['docket-version'];
  if (!endpoint) refuse('no_method', { allow });
  Object.assign(ctx, { endpoint, params, operation: endpoint.op });
  if (old !== undefined && !Object.hasOwn(VERSIONS, old)) { if (!bug('any-version')) refuse('no_version'); } else ctx.version = old ?? (bug('oldest-by-default') ? OLD : CURRENT);
  if (endpoint.since && ctx.version === OLD && !bug('agenda-always')) refuse('no_route');
  if (VERSIONS[ctx.version].sunset <= clock() && !bug('no-sunset')) refuse('old_version');
  countRates(3, ctx);
  if (!endpoint.open) ctx.caller = identify(request);
  countRates(5, ctx);
  if (endpoint.open) return undefined;
  if (bug('hours-dead') && endpoint.resource === 'entry') refuse('failed');
  if (ctx.caller.login && !['GET', 'HEAD'].includes(request.method) && crossSite(request)) refuse('forbidden');
  const rules = rulesFor(ctx.operation, ctx.caller.user);
  if (!rules.length) refuse('forbidden');
  if (!rules.some((r) => granted(r, ctx.caller))) refuse(bug('scope-is-forbidden') ? 'forbidden' : 'scope_lacking');
  return undefined;
};
// Steps 8 to 15.
const closing = (ctx, request, bytes) => {
  const { endpoint, caller, version } = ctx;
  if (endpoint.verb !== 'delete' && !bug('accept-anything') && !acceptable(ctx.headers.accept)) refuse('unacceptable');
  ctx.body = readBody(endpoint, request, bytes);
  const names = Object.fromEntries(Object.entries(endpoint.filters ?? {}).filter(([n, s]) => s.filters || fieldFrom(endpoint.resource, n, version) !== undefined || Object.hasOwn(flip(shapeOf(endpoint.resource, version).names), n))
    .map(([n, s]) => [n, s]));
  for (const [field, named] of Object.entries(shapeOf(endpoint.resource, version).names ?? {})) if (endpoint.filters?.[field]) { delete names[field]; names[named] = endpoint.filters[field]; }
  const pages = endpoint.verb !== 'list' ? [] : endpoint.paged === 'page' ? ['page', 'per_page'] : ['limit', 'cursor'];
  const query = readQuery(ctx.search, [...Object.keys(names), ...(endpoint.sorts ? ['sort'] : []), ...pages]);
  if (endpoint.verb === 'list') {
    ctx.filters = Object.keys(names).filter((n) => Object.hasOwn(query, n)).map((n) => readFilter(endpoint.resource, n, names[n], query[n], version));
    ctx.sort = endpoint.order;
    if (query.sort !== undefined) {
      const down = query.sort.startsWith('-') ? '-' : '';
      const field = fieldFrom(endpoint.resource, query.sort.slice(down.length), version);
      if (!field || !endpoint.sorts.includes(down + field)) refuse('bad_parameter');
      if (caller.user === 'client' && endpoint.resource === 'matter' && field === 'updated_at') refuse('bad_parameter');
      ctx.sort = bug('title-one-way') && endpoint.resource === 'matter' ? field : down + field;
    }
    const { limit, cursor, ...rest } = query;
    ctx.mark = mac(canonical([ctx.operation, ctx.params, rest, version, caller.user, caller.id]));
    ctx.page = readPage(endpoint, query, ctx.mark);
  }
  const run = () => (VERBS[endpoint.verb] ?? transit)(ctx);
  const key = request.method === 'POST' ? ctx.headers['idempotency-key'] : undefined;
  if (key === undefined || (bug('contacts-made-twice') && ctx.operation === 'create contact')) return run();
  const slot = `${caller.user} ${caller.id} ${ctx.operation} ${key}`;
  const print = canonical([request.url, version, ctx.body ?? null]);
  const kept = KEYS.get(slot);
  if (kept && now() - kept.at < DAY) {
    if (kept.print !== print && !bug('key-forgets-body')) refuse('key_reused');
    if (kept.code) refuse(kept.code);
    return kept.answer;
  }
  try {
    const answer = run();
    const { secret, ...told } = answer.body ?? {};
    KEYS.set(slot, { at: now(), print, answer: { ...answer, ...(answer.body ? { body: endpoint.resource === 'hook' ? told : answer.body } : {}) } });
    return answer;
  } catch (e) {
    if (e instanceof Refusal && REPLAYED.has(e.code)) KEYS.set(slot, { at: now(), print, code: e.code });
    throw e;
  }
};

// ---------------------------------------------------------------- the doors
const BODY_LIMIT = bug('body-limit-off') ? 17 * 1024 : 16 * 1024;
const deprecation = (version, target) => {
  const v = VERSIONS[version];
  if (!v.deprecated) return {};
  return {
    ...(bug('no-deprecation') ? {} : { Deprecation: `@${v.deprecated / 1000}` }),
    ...(bug('sunset-unsaid') ? {} : { Sunset: new Date(v.sunset).toUTCString() }),
    Link: `<${v.link}>; rel="deprecation", <${target.replaceAll('<', '%3C').replaceAll('>', '%3E')}>; rel="successor-version"`,
  };
};
const errorBody = (ctx, code, more) => {
  const [status, message] = ERRORS[code];
  return { error: { code, status, message: message.replace('{name}', more.name ?? 'the body'), ...(bug('no-request-id') ? {} : { request_id: ctx.id }), ...(more.violations ? { violations: more.violations } : {}) } };
};
const answer = (ctx, request, response, result) => {
  if (response.headersSent || response.destroyed) return;
  const fields = {
    Vary: 'Docket-Version, X-Docket-Key, Authorization',
    ...(bug('version-unsaid') ? {} : { 'Docket-Version': ctx.version }),
    ...(ctx.endpoint ? deprecation(ctx.version, request.url) : {}),
    ...rateFields(ctx.told),
    ...(result.allow ? { Allow: result.allow } : {}),
    ...(result.location ? { Location: result.location } : {}),
    ...(result.etag ? { ETag: result.etag } : {}),
    ...(result.fields ?? {}),
  };
  if (result.body !== undefined) {
    const bytes = Buffer.from(JSON.stringify(result.body));
    fields['Content-Type'] = 'application/json';
    fields['Content-Length'] = bytes.length;
    response.writeHead(result.status, fields);
    response.end(bytes);
  } else {
    response.writeHead(result.status, fields);
    response.end();
  }
};
const refusal = (ctx, e) => {
  const { code, more } = e instanceof Refusal ? e : { code: 'failed', more: {} };
  if (!(e instanceof Refusal)) console.error(e);
  return {
    status: ERRORS[code][0], allow: more.allow, body: errorBody(ctx, code, more),
    fields: {
      ...(bug('error-header-lost') ? {} : { 'X-Docket-Error': code }),
      ...(more.retryAfter && !(bug('no-retry-after') && code === 'too_many') ? { 'Retry-After': more.retryAfter } : {}),
      ...(more.challenges ? { 'WWW-Authenticate': more.challenges } : {}),
      ...(code === 'too_slow' ? { Connection: 'close' } : {}),
    },
  };
};
const readBytes = (request) => new Promise((resolve, reject) => {
  const parts = [];
  let size = 0;
  request.on('data', (part) => { size += part.length; if (size <= BODY_LIMIT) parts.push(part); });
  request.on('end', () => resolve(size > BODY_LIMIT ? undefined : Buffer.concat(parts)));
  request.on('error', reject);
  request.on('close', () => reject(new Error('closed')));
});
const late = Symbol('late');
const server = http.createServer({ maxHeaderSize: 64 * 1024, requestTimeout: 0, headersTimeout: 10000, keepAliveTimeout: 60000, connectionsCheckingInterval: 500 }, async (request, response) => {
  const ctx = { id: randomUUID(), headers: request.headers, version: CURRENT, address: request.socket.remoteAddress, counted: [], told: [] };
  try {
    runDue();
    const early = opening(ctx, request);
    if (early) { request.resume(); answer(ctx, request, response, early); return; }
    let timer;
    const bytes = await Promise.race([readBytes(request), new Promise((resolve) => { timer = setTimeout(() => resolve(late), 10000); })]);
    clearTimeout(timer);
    if (bytes === late) { response.on('finish', () => request.socket.destroy()); refuse('too_slow'); }
    runDue();
    frozen = clock();
    let result;
    try { result = closing(ctx, request, bytes); } finally { frozen = null; }
    answer(ctx, request, response, result);
    runDue();
  } catch (e) {
    request.resume();
    if (request.destroyed && !request.complete && e.message === 'closed') return;
    answer(ctx, request, response, refusal(ctx, e));
  }
});
server.on('clientError', (error, socket) => {
  if (!socket.writable) { socket.destroy(); return; }
  const code = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too_slow' : error.code === 'HPE_HEADER_OVERFLOW' ? 'headers_too_large' : 'unreadable';
  const body = JSON.stringify(errorBody({ id: randomUUID() }, code, {}));
  const status = ERRORS[code][0];
  socket.end(`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nContent-Type: application/json\r\nX-Docket-Error: ${code}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
});
server.keepAliveTimeoutBuffer = 0;
server.listen(PORT, '127.0.0.1', () => console.log(`docket on http://127.0.0.1:${server.address().port}`));

const DURATION = /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
const later = (ms, duration) => {
  const m = DURATION.exec(duration);
  if (!m) return undefined;
  const [y, mo, w, d, h, mi, s] = m.slice(1).map((x) => Number(x ?? 0));
  const date = new Date(ms);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + y * 12 + mo);
  date.setUTCDate(Math.min(day, new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()));
  return date.getTime() + w * 7 * DAY + d * DAY + h * HOUR + mi * MINUTE + s * SECOND;
};
const clockDoor = http.createServer(async (request, response) => {
  const tell = (status, body) => { response.writeHead(status, { 'Content-Type': 'application/json' }); response.end(JSON.stringify(body)); };
  if (request.method === 'GET') { request.resume(); tell(200, { now: iso(clock()) }); return; }
  const parts = [];
  for await (const part of request) parts.push(part);
  let target;
  try {
    if (request.method !== 'POST') throw new Error('method');
    const body = JSON.parse(Buffer.concat(parts).toString());
    const keys = Object.keys(body);
    if (keys.length !== 1) throw new Error('one of two');
    target = keys[0] === 'advance' ? later(clock(), String(body.advance)) : keys[0] === 'now' && isDateTime(String(body.now)) ? instant(String(body.now)) : undefined;
    if (target === undefined || !Number.isFinite(target)) throw new Error('form');
  } catch { tell(400, { error: 'send {"advance": DURATION} or {"now": DATE-TIME}' }); return; }
  if (target < clock()) { tell(422, { error: 'the clock goes forward alone' }); return; }
  offset += target - clock();
  runDue();
  pump();
  await new Promise((resolve) => { setTimeout(resolve, 15); });
  tell(200, { now: iso(clock()) });
});
if (CLOCK_PORT !== undefined) clockDoor.listen(Number(CLOCK_PORT), '127.0.0.1');
setInterval(() => { runDue(); pump(); }, 100);
