#!/usr/bin/env python3
"""Leech House: a service held to service.yaml. Standard library only, everything in memory."""
import argparse, base64, calendar, hashlib, heapq, hmac, http.client, itertools, json, re, secrets, socket, sys
import threading, time, traceback, urllib.parse
from collections import OrderedDict, deque
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

ARGS = argparse.ArgumentParser()
ARGS.add_argument('--port', type=int, required=True)
ARGS.add_argument('--clock-port', type=int, default=None)
ARGS.add_argument('--fault', default='')
ARGS = ARGS.parse_args()
FAULT = ARGS.fault


def bug(name):
    return FAULT == name


BASE = '/house'
VERSIONS = ['e1', 'e2']
REALM = 'Leech House'
LOCK = threading.RLock()
CHANGED = threading.Condition(LOCK)

# ---------------------------------------------------------------- the clock (milliseconds since 1970)
OFFSET = 0
VNOW = None
MIN, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def real_now():
    return int(time.time() * 1000) + OFFSET


def now():
    return VNOW if VNOW is not None else real_now()


def iso(ms):
    d = datetime.fromtimestamp(ms // 1000, timezone.utc)
    return d.strftime('%Y-%m-%dT%H:%M:%S') + '.%03dZ' % (ms % 1000)


RFC3339 = re.compile(r'^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)\Z')


def instant(text):
    """Milliseconds of an RFC 3339 date-time, or None."""
    m = RFC3339.match(text) if isinstance(text, str) else None
    if not m:
        return None
    try:
        sec = int(m.group(6))
        leap = sec == 60
        d = datetime(int(m.group(1)), int(m.group(2)), int(m.group(3)), int(m.group(4)), int(m.group(5)), 59 if leap else sec)
    except ValueError:
        return None
    ms = calendar.timegm(d.timetuple()) * 1000 + (1000 if leap else 0)
    if m.group(7):
        ms += int((m.group(7)[1:] + '000')[:3])
    z = m.group(8)
    if z not in 'Zz':
        h, mi = int(z[1:3]), int(z[4:6])
        if h > 23 or mi > 59:
            return None
        ms -= (1 if z[0] == '+' else -1) * (h * 60 + mi) * MIN
    return ms


TIMERS = []
TICKET = itertools.count()


def timer(due, kind, key, token=None):
    heapq.heappush(TIMERS, (due, next(TICKET), kind, key, token))


def settle():
    """Everything that has fallen due is done, in the order of its times."""
    global VNOW
    while TIMERS and TIMERS[0][0] <= real_now():
        due, _, kind, key, token = heapq.heappop(TIMERS)
        VNOW = due
        try:
            ON_TIMER[kind](key, token)
        finally:
            VNOW = None


# ---------------------------------------------------------------- callers
class Caller:
    __slots__ = ('user', 'id', 'clinic', 'scopes')

    def __init__(self, user, id, clinic, scopes):
        self.user, self.id, self.clinic, self.scopes = user, id, clinic, frozenset(scopes)

    def same(self, other):
        return self.user == other.user and self.id == other.id


PEOPLE = [
    # user, id, clinic, scopes, password, wand, signer, secret
    ('keeper', 'mudlark', 'house', [], 'eel-under-ice', 'wand_0a11ce5eed00beef00c0ffee', 'sig-mudlark', 'mud-secret-7Yq0pLx2Vb9'),
    ('keeper', 'reed', 'house', [], 'sedge-and-rush', 'wand_1b22df6ffe11cafe11d0d0aa', 'sig-reed', 'reed-secret-4Kd8sWn1Qz3'),
    ('surgeon', 'ada', 'stmary', ['borrow'], 'lancet-no-9', 'wand_2c33ea700f22dead22e1e1bb', 'sig-ada', 'ada-secret-9Rt5uJm6Xc1'),
    ('surgeon', 'bell', 'stmary', ['borrow'], 'silver-probe', 'wand_3d44fb811033f00d33f2f2cc', 'sig-bell', 'bell-secret-2Hf7gEa4Ys8'),
    ('surgeon', 'crane', 'harbour', ['borrow'], 'catgut-spool', 'wand_4e550c922144beef440303dd', 'sig-crane', 'crane-secret-6Po3iLk5Tv0'),
    ('surgeon', 'dove', 'harbour', [], 'unlicensed-yet', 'wand_5f661da33255cafe551414ee', 'sig-dove', 'dove-secret-8Zx1cVb2Nm7'),
    ('inspector', 'ink', 'guild', [], 'ledger-of-lead', 'wand_60772eb44366dead662525ff', 'sig-ink', 'ink-secret-5Qw4eRt3Yu6'),
    ('inspector', 'quill', 'guild', [], 'goose-feather', 'wand_71883fc55477f00d77363600', 'sig-quill', 'quill-secret-1As2dFg3Hj4'),
]
BADGES, WANDS, SIGNERS = {}, {}, {}
for _u, _i, _c, _s, _p, _w, _k, _x in PEOPLE:
    _caller = Caller(_u, _i, _c, _s)
    BADGES[_i] = (_p, _caller)
    WANDS[_w] = _caller
    SIGNERS[_k] = (_x, _caller)
if bug('users-inspector-wand'):
    for _w, _c in list(WANDS.items()):
        if _c.user == 'inspector':
            WANDS[_w] = Caller('keeper', _c.id, _c.clinic, _c.scopes)


# ---------------------------------------------------------------- refusals
CODES = {  # condition -> (code, status, message)
    'request.malformed': ('garbled', 400, 'The body cannot be read.'),
    'request.media': ('wrong_paper', 415, None),
    'request.parameter': ('odd_question', 400, None),
    'limit.page': ('odd_question', 400, None),
    'request.invalid.missing': ('lacking', 422, '{name} is missing'),
    'request.invalid': ('unfit', 422, '{name} is {found}, not {expected}'),
    'route.unknown': ('no_such_door', 404, None),
    'method.unsupported': ('wrong_knock', 405, None),
    'caller.unknown.missing': ('stranger', 401, 'Show who you are.'),
    'caller.unknown': ('impostor', 401, None),
    'caller.forbidden.user': ('not_your_trade', 403, None),
    'caller.forbidden.scope': ('no_licence', 403, None),
    'caller.forbidden.row': ('not_yours', 403, None),
    'resource.missing': ('unheard_of', 404, None),
    'resource.gone': ('buried', 410, None),
    'resource.exists': ('twin', 409, None),
    'reference.missing': ('nowhere', 422, None),
    'reference.held': ('leaned_on', 409, None),
    'transition.illegal': ('wrong_moment', 409, None),
    'too_long': ('too_long', 409, None),
    'jar_elsewhere': ('jar_elsewhere', 409, 'The jar is out or retired.'),
    'jar_not_hungry': ('jar_not_hungry', 409, 'These leeches are not hungry.'),
    'too_late': ('too_late', 409, 'It is decided already.'),
    'horse_on_graft': ('horse_on_graft', 422, 'Horse leeches do not bite through a graft.'),
    'not_applied': ('not_applied', 409, 'This jar is not out.'),
    'precondition.failed': ('stale', 412, None),
    'precondition.required': ('say_which', 428, None),
    'idempotency.reused': ('once_spent', 422, None),
    'idempotency.busy': ('once_busy', 409, None),
    'limit.rate': ('patience', 429, None),
    'limit.quota': ('enough', 403, None),
    'limit.size': ('too_bulky', 413, None),
    'limit.size.url': ('too_wordy', 414, None),
    'version.unknown': ('no_edition', 400, None),
    'version.sunset': ('old_edition', 410, None),
    'limit.time': ('dried_out', 503, None),
    'internal': ('spilt', 500, None),
}
OWN_ERRORS = {'horse_on_graft', 'not_applied', 'jar_elsewhere', 'jar_not_hungry', 'too_late'}


class Refusal(Exception):
    def __init__(self, condition, violations=None, headers=None):
        super().__init__(condition)
        self.condition, self.violations, self.headers = condition, violations or [], headers or {}


def shown(value):
    if value is None:
        return 'null'
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:197] + '...'


def bad_parameter(name, found, expected, where='query'):
    return Refusal('request.parameter', [{'in': where, 'path': name, 'found': found, 'expected': expected}])


def bad_page(name, found, expected):
    return Refusal('limit.page', [{'in': 'query', 'path': name, 'found': found, 'expected': expected}])


# ---------------------------------------------------------------- fields
def S(**kw):
    return dict(kw, type='string')


def I(**kw):
    return dict(kw, type='integer')


def RO(**kw):
    return dict(kw, readOnly=True)


LABEL = r'^[A-Z][A-Za-z0-9 -]{2,29}\Z'
if bug('label-two'):
    LABEL = r'^[A-Z][A-Za-z0-9 -]{1,29}\Z'
WATER = OrderedDict([
    ('ph', {'type': 'number', 'minimum': 5, 'maximum': 9, 'required': True}),
    ('source', S(enum=['spring', 'rain', 'brook'], required=True)),
    ('taste', RO(type='string')),
])
FIELDS = {
    'pond': OrderedDict([
        ('code', S(pattern=r'^[a-z][a-z0-9-]{2,15}\Z', required=True, identifier=True)),
        ('title', S(minLength=3, maxLength=40, required=True)),
        ('water', {'type': 'object', 'fields': WATER, 'required': True}),
        ('tags', {'type': 'array', 'items': S(minLength=1, maxLength=12), 'maxItems': 5, 'uniqueItems': True}),
        ('depth_cm', I(minimum=20, maximum=400, default=80, required=True)),
        ('steward', RO(type='string', visible=('keeper', 'inspector'))),
        ('dug_at', RO(type='string')), ('jars', RO(type='integer')), ('leeches', RO(type='integer')),
    ]),
    'jar': OrderedDict([
        ('id', RO(type='string')), ('number', RO(type='integer')),
        ('label', S(pattern=LABEL, required=True)),
        ('pond', S(required=True, immutable=True)),
        ('species', S(enum=['medicinal', 'horse', 'dwarf'], required=True, immutable=not bug('species-changes'))),
        ('count', I(minimum=1, maximum=251 if bug('count-251') else 250, required=True)),
        ('shelf', S(minLength=1, maxLength=12)),
        ('note', S(maxLength=120, visible=('keeper',))),
        ('state', RO(type='string')), ('filled_by', RO(type='string')), ('filled_at', RO(type='string')),
        ('touched_at', RO(type='string')), ('hungry_since', RO(type='string')), ('lendings', RO(type='integer')),
    ]),
    'loan': OrderedDict([
        ('id', RO(type='string')), ('number', RO(type='string')),
        ('jar', S(required=True, immutable=True)),
        ('surgeon', RO(type='string')), ('clinic', RO(type='string')),
        ('purpose', S(enum=['graft', 'congestion', 'hematoma'], required=True)),
        ('hours', I(minimum=1, maximum=72, default=24 if bug('hours-default') else 12, required=True)),
        ('patient', S(pattern=r'^[A-Z]{2,4}\Z', required=True, visible=('surgeon',))),
        ('remark', S(maxLength=200)),
        ('answer', RO(type='string')), ('state', RO(type='string')), ('fee', RO(type='integer')),
        ('asked_at', RO(type='string')), ('due_at', RO(type='string')), ('returned_at', RO(type='string')),
        ('bites', RO(type='integer')), ('drawn_ml', RO(type='integer')),
    ]),
    'bite': OrderedDict([
        ('id', RO(type='string')),
        ('loan', S(required=True, immutable=True)),
        ('surgeon', RO(type='string')),
        ('spot', S(minLength=2, maxLength=30, required=True)),
        ('side', S(enum=['left', 'right', 'midline'], default='midline')),
        ('minutes', I(minimum=5, maximum=90, required=True)),
        ('drawn_ml', I(minimum=0, maximum=40, required=True)),
        ('scar', S(maxLength=60)),
        ('noted_at', RO(type='string')),
    ]),
    'listener': OrderedDict([
        ('id', RO(type='string')), ('owner', RO(type='string')),
        ('url', S(format='uri', maxLength=300, required=True)),
        ('secret', RO(type='string')),
        ('topics', {'type': 'array', 'items': S(format='topic'), 'maxItems': 12}),
        ('awake', {'type': 'boolean', 'default': True, 'required': True}),
        ('made_at', RO(type='string')),
    ]),
    'entry': OrderedDict([
        ('id', RO(type='string')), ('kind', RO(type='string')), ('about', RO(type='string')), ('at', RO(type='string')),
        ('by', RO(type='string')), ('detail', RO(type='any')),
    ]),
}
FIELDS['bite']['side']['required'] = True
IDENT = {'pond': 'code'}


def ident(res):
    return IDENT.get(res, 'id')


class Shape:
    """What a resource is in a version: its names there, and how values go down and up."""

    def __init__(self, res, version):
        self.fields, self.stored, self.name, self.down, self.up = OrderedDict(), {}, {}, {}, {}
        old = version == 'e1'
        for stored, spec in FIELDS[res].items():
            name = stored
            if old and res == 'jar':
                if stored == 'shelf':
                    continue
                if stored == 'count':
                    name = 'amount'
                if stored == 'species':
                    spec = dict(spec, enum=['officinal' if x == 'medicinal' else x for x in spec['enum']])
                    self.down[name] = lambda v: 'officinal' if v == 'medicinal' else v
                    self.up[name] = lambda v: 'medicinal' if v == 'officinal' else v
            if old and res == 'loan' and stored == 'hours':
                spec = dict(spec, minimum=60, maximum=4320, multipleOf=60, default=spec['default'] * 60)
                self.down[name] = lambda v: v * 60
                self.up[name] = lambda v: v // 60
                if bug('old-hours-up'):
                    spec = dict(spec, minimum=1, multipleOf=1)
                    self.up[name] = lambda v: v if v <= 72 else v // 60
            self.fields[name], self.stored[name], self.name[stored] = spec, stored, name
        if old and res == 'pond':
            self.fields['rite'] = S(maxLength=20)
            self.stored['rite'] = None

    def carry_down(self, row):
        out = {}
        for name in self.fields:
            stored = self.stored[name]
            if stored is None:
                out[name] = 'still'
            elif stored in row:
                out[name] = self.down[name](row[stored]) if name in self.down else row[stored]
        return out


SHAPES = {(r, v): Shape(r, v) for r in FIELDS for v in VERSIONS}
URI = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+\Z")


def uri_ok(text):
    if not URI.match(text) or re.search(r'%(?![0-9A-Fa-f]{2})', text):
        return False
    try:
        parts = urllib.parse.urlsplit(text)
        parts.port
    except ValueError:
        return False
    return parts.scheme.lower() in ('http', 'https') and bool(parts.hostname)


def topic_ok(text):
    if text == '*' or text in KINDS:
        return True
    return text.endswith('.*') and any(k.startswith(text[:-1]) for k in KINDS)


def type_of(v):
    if v is None:
        return 'null'
    if isinstance(v, bool):
        return 'boolean'
    if isinstance(v, (int, float)):
        return 'number'
    return {str: 'string', list: 'array', dict: 'object'}[type(v)]


class Finder:
    """Collects what is wrong in a body, in the order in which it was sent; what is missing after that."""

    def __init__(self):
        self.list = []

    def add(self, kind, path, found, expected, rank):
        self.list.append((rank, kind, '.'.join(str(p) for p in path), found, expected))

    def refuse(self):
        if self.list:
            self.list.sort(key=lambda v: v[0])
            kind = self.list[0][1]
            condition = 'request.invalid.missing' if kind == 'missing' and not bug('missing-unfit') else 'request.invalid'
            raise Refusal(condition, [{'in': 'body', 'path': p, 'found': f, 'expected': e} for _, _, p, f, e in self.list])


def check_value(spec, value, path, rank, out):
    """Returns the value as it is kept; what is wrong is told to out."""
    t = spec['type']
    got = type_of(value)
    if t == 'integer' and got == 'number' and isinstance(value, float) and value.is_integer():
        value = int(value)
    fits = {'integer': got == 'number' and isinstance(value, int), 'number': got == 'number'}.get(t, got == t)
    if not fits:
        out.add('type', path, shown(value), 'an integer' if t == 'integer' else 'of type ' + t, rank)
        return value

    def bad(expected):
        out.add('value', path, shown(value), expected, rank)
    if t == 'string':
        if 'enum' in spec and value not in spec['enum']:
            bad('one of ' + ', '.join(spec['enum']))
        if len(value) < spec.get('minLength', 0):
            bad('at least %d characters' % spec['minLength'])
        if 'maxLength' in spec and len(value) > spec['maxLength']:
            bad('at most %d characters' % spec['maxLength'])
        if 'pattern' in spec and not re.search(spec['pattern'], value):
            bad('text like ' + spec['pattern'].replace('\\Z', '$'))
        if spec.get('format') == 'uri' and not uri_ok(value):
            bad('a URI that can be sent to')
        if spec.get('format') == 'topic' and not topic_ok(value):
            bad('a kind of event')
    elif t in ('integer', 'number'):
        if 'minimum' in spec and value < spec['minimum']:
            bad('at least %s' % spec['minimum'])
        if 'maximum' in spec and value > spec['maximum']:
            bad('at most %s' % spec['maximum'])
        if 'multipleOf' in spec and value % spec['multipleOf']:
            bad('a multiple of %s' % spec['multipleOf'])
    elif t == 'array':
        if 'maxItems' in spec and len(value) > spec['maxItems']:
            bad('at most %d items' % spec['maxItems'])
        if spec.get('uniqueItems') and len({json.dumps(x, sort_keys=True) for x in value}) < len(value):
            bad('items that differ')
        value = [check_value(spec['items'], x, path + [i], rank + (i,), out) for i, x in enumerate(value)]
    elif t == 'object' and 'fields' in spec:
        kept = {}
        for i, (k, v) in enumerate(value.items()):
            inner = spec['fields'].get(k)
            if inner is None:
                out.add('unknown', path + [k], shown(v), 'no such field', rank + (i,))
            elif not inner.get('readOnly'):
                kept[k] = check_value(inner, v, path + [k], rank + (i,), out)
        for k, inner in spec['fields'].items():
            if inner.get('required') and k not in value:
                out.add('missing', path + [k], 'nothing', 'a value', rank + (10 ** 6,))
        value = kept
    return value


def take_body(body, res, version, caller, mode, row=None, bound=None, refuse_read_only=False):
    """A body as stored fields: mode is create, update (merge patch) or replace. Returns (next fields, Finder)."""
    shape, out, nxt = SHAPES[res, version], Finder(), {}
    bound = bound or {}
    if not isinstance(body, dict):
        out.add('type', [], shown(body), 'a map of fields', (0,))
        out.refuse()
    seen = shape.carry_down(row) if row else {}
    sent = set()
    for i, (name, value) in enumerate(body.items()):
        rank = (i,)
        spec = shape.fields.get(name)
        if spec is None:
            out.add('unknown', [name], shown(value), 'no such field', rank)
            continue
        stored = shape.stored[name]
        if spec.get('readOnly'):
            if refuse_read_only:
                out.add('read_only', [name], shown(value), 'left to the service', rank)
            continue
        if stored in bound:
            if value != bound[stored]:
                out.add('value', [name], shown(value), shown(bound[stored]), rank)
            continue
        sent.add(name)
        if mode == 'update' and value is None:
            if spec.get('required'):
                out.add('value', [name], 'null', 'a value', rank)
            elif stored:
                nxt[stored] = None
            continue
        if mode == 'update' and spec['type'] == 'object' and isinstance(value, dict):
            if refuse_read_only:
                for j, k in enumerate(value):
                    if spec['fields'].get(k, {}).get('readOnly'):
                        out.add('read_only', [name, k], shown(value[k]), 'left to the service', rank + (j,))
            merged = {k: v for k, v in seen.get(name, {}).items() if not spec['fields'][k].get('readOnly')}
            order = dict(value)
            for k, v in value.items():
                if v is None and k in merged:
                    if spec['fields'][k].get('required'):
                        continue
                    order.pop(k)
                    merged.pop(k, None)
            for k, v in merged.items():
                order.setdefault(k, v)
            value = order
        before = len(out.list)
        value = check_value(spec, value, [name], rank, out)
        if len(out.list) > before:
            continue
        if row and (spec.get('immutable') or spec.get('identifier')):
            if value != seen.get(name):
                out.add('value', [name], shown(value), 'unchanged', rank)
            continue
        if stored is None:
            continue
        if row and name in seen and seen[name] == value and type(seen[name]) is type(value):
            nxt[stored] = row[stored]
        else:
            nxt[stored] = shape.up[name](value) if name in shape.up else value
    for stored, value in bound.items():
        nxt[stored] = value
    if mode != 'update':
        for name, spec in shape.fields.items():
            stored = shape.stored[name]
            if name in sent or stored in nxt or spec.get('readOnly') or stored is None:
                continue
            if row and (spec.get('immutable') or spec.get('identifier')):
                continue
            if 'default' in spec:
                nxt[stored] = FIELDS[res][stored]['default']
            elif spec.get('required'):
                out.add('missing', [name], 'nothing', 'a value', (10 ** 6,))
    return nxt, out


def rank_of(body, shape, stored):
    name = shape.name.get(stored, stored)
    keys = list(body)
    return name, (keys.index(name),) if name in keys else (10 ** 5,)


# ---------------------------------------------------------------- rows
STORE = {r: OrderedDict() for r in FIELDS}
KEPT = {}          # deleted bites, by identifier: the row
SEQ = itertools.count(1)
COUNTERS = {}
CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
LAST_ULID = [0, 0]


def ulid():
    ms = now()
    if ms <= LAST_ULID[0]:
        ms = LAST_ULID[0]
        LAST_ULID[1] += 1
    else:
        LAST_ULID[0], LAST_ULID[1] = ms, secrets.randbits(79)
    n = (ms << 80) | LAST_ULID[1]
    return ''.join(CROCKFORD[(n >> (5 * i)) & 31] for i in range(25, -1, -1))


ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'


def alnum(n):
    return ''.join(secrets.choice(ALNUM) for _ in range(n))


def count_up(name):
    COUNTERS[name] = COUNTERS.get(name, 0) + 1
    return COUNTERS[name]


JARS_OF, LOANS_OF, BITES_OF = {}, {}, {}   # pond -> jars, jar -> loans, loan -> bites


def full(res, row):
    """The row with what is derived of others."""
    out = {k: v for k, v in row.items() if k[0] != '_'}
    if res == 'pond':
        jars = [j for j in JARS_OF.get(row['code'], {}).values() if j['state'] != 'retired']
        out['jars'] = len(jars)
        out['leeches'] = sum(j['count'] for j in jars)
    elif res == 'jar':
        out['lendings'] = sum(1 for l in LOANS_OF.get(row['id'], {}).values() if l['state'] in ('granted', 'overdue', 'returned'))
    elif res == 'loan':
        bites = BITES_OF.get(row['id'], {}).values()
        out['bites'] = len(bites)
        out['drawn_ml'] = sum(b['drawn_ml'] for b in bites)
        if bug('drawn-deleted'):
            out['drawn_ml'] += sum(b['drawn_ml'] for b in KEPT.values() if b['loan'] == row['id'])
    return out


# ---------------------------------------------------------------- permissions
def rule(ops, users, cond=None, scopes=(), fields=None, create=None):
    return {'ops': set(ops.split(', ')), 'users': users, 'if': cond, 'scopes': scopes, 'fields': fields, 'create': create}


INSPECTED = ('id', 'number', 'jar', 'purpose', 'hours', 'state', 'asked_at', 'due_at', 'drawn_ml')
ALL = ('keeper', 'surgeon', 'inspector')
RULES = [
    rule('list pond, read pond, gauge pond', ('anyone',)),
    rule('upsert pond, update pond, delete pond', ('keeper',)),
    rule('create jar, list jar, read jar, update jar, feed jar, retire jar, delete jar', ('keeper',)),
    rule('list jar, read jar', ('surgeon',), lambda r, c: r['state'] != 'retired'),
    rule('list jar, read jar', ('inspector',)),
    rule('create loan', ('surgeon',), scopes=() if bug('scope-unasked') else ('borrow',)),
    rule('list loan', ('surgeon',), lambda r, c: r['clinic'] == c.clinic or bug('loans-of-others')),
    rule('read loan', ('surgeon',), lambda r, c: r['clinic'] == c.clinic),
    rule('update loan, extend loan, return loan', ('surgeon',), lambda r, c: r['surgeon'] == c.id),
    rule('withdraw loan', ('surgeon',), lambda r, c: r['surgeon'] == c.id or bug('colleague-withdraws')),
    rule('list loan, read loan, grant loan, decline loan, delete loan', ('keeper',)),
    rule('list loan, read loan', ('inspector',), fields=INSPECTED),
    rule('create bite', ('surgeon',), create=lambda n, c: STORE['loan'][n['loan']]['surgeon'] == c.id),
    rule('list bite, read bite, replace bite, delete bite', ('surgeon',), lambda r, c: r['surgeon'] == c.id),
    rule('list bite, read bite', ('keeper', 'inspector')),
    rule('create listener, stream events', ALL),
    rule('list listener, read listener, update listener', ALL, lambda r, c: r['owner'] == c.id),
    rule('delete listener', ALL, lambda r, c: r['owner'] == c.id),
    rule('list entry, read entry', ('inspector',)),
]


def rules_for(op, caller):
    return [r for r in RULES if op in r['ops'] and ('anyone' in r['users'] or caller and caller.user in r['users'])]


def holds(op, row, caller):
    for r in rules_for(op, caller):
        if all(s in caller.scopes for s in r['scopes']) if r['scopes'] else True:
            if r['if'] is None or r['if'](row, caller):
                return True
    return False


def may_read(res, row, caller):
    return holds('read ' + res, row, caller)


def present(res, row, caller, version, listed=False):
    """A full row as this caller is shown it in this version."""
    user = caller.user if caller else None
    hide_by_fields = res == 'loan' and user == 'inspector'
    out = {}
    shape = SHAPES[res, version]
    for name, value in shape.carry_down(row).items():
        stored = shape.stored[name] or name
        spec = shape.fields[name]
        if 'visible' in spec and user not in spec['visible']:
            continue
        if hide_by_fields and stored not in INSPECTED and not (listed and bug('inspector-list-all') and stored in ('surgeon', 'clinic')):
            continue
        if res == 'listener' and stored == 'secret' and not bug('secret-again'):
            continue
        out[name] = value
    if listed and version == 'e1' and res == 'jar' and bug('old-list-count'):
        out['count'] = out.pop('amount')
    return out


# ---------------------------------------------------------------- events
KINDS = ['jar.filled', 'jar.hungry', 'jar.relabelled', 'jar.retired', 'jar.binned', 'loan.asked', 'loan.settled', 'loan.ending',
         'loan.overdue', 'loan.returned', 'bite.noted', 'bite.struck', 'listener.silenced']
EVENTS = deque()
AUDITOR = Caller('inspector', '', '', ())


def may_hear(ev, caller):
    if ev['kind'] == 'bite.noted':
        return caller.user == 'keeper' or bug('bite-told')
    return may_read(ev['res'], ev['row'], caller)


def payload_for(ev, caller, version):
    if ev['form'] == 'row':
        return present(ev['res'], ev['row'], caller, version)
    return ev['data']


def envelope(ev, caller, version):
    return {'n': ev['id'], 'what': ev['kind'], 'when': ev['at'], 'about': payload_for(ev, caller, version)}


def listens(listener, kind):
    if not listener['awake']:
        return False
    topics = listener.get('topics')
    if topics is None:
        return True
    for t in topics:
        if t == '*' or t == kind or (t.endswith('.*') and kind.startswith(t[:-1])):
            return True
    return False


def emit(kind, res, row, by, form='row', data=None):
    """row: as the change stored it, or as it was before a deletion."""
    ms = now()
    snap = full(res, row)
    ev = {'id': 'evt_' + ulid(), 'kind': kind, 'ms': ms, 'at': iso(ms), 'res': res, 'key': row[ident(res)], 'row': snap, 'form': form,
          'data': row[ident(res)] if form == 'ref' else data}
    EVENTS.append(ev)
    while EVENTS and EVENTS[0]['ms'] <= ms - 6 * HOUR:
        EVENTS.popleft()
    detail = payload_for(ev, AUDITOR, 'e2')
    if bug('log-patient') and kind == 'loan.asked':
        detail = dict(detail, surgeon=snap['surgeon'], patient=snap['patient'])
    entry = {'id': ev['id'], 'kind': kind, 'about': ev['key'], 'at': ev['at'], 'by': by.id if by else 'the clock', 'detail': detail, '_seq': next(SEQ)}
    STORE['entry'][ev['id']] = entry
    timer(ms + 60 * DAY, 'entry', ev['id'])
    for listener in list(STORE['listener'].values()):
        if listens(listener, kind) and may_hear(ev, listener['_maker']):
            version = 'e2' if bug('old-event-names') else listener['_version']
            deliver(listener, ev, json.dumps(envelope(ev, listener['_maker'], version), ensure_ascii=False).encode())
    CHANGED.notify_all()


# deliveries by webhook
QUEUES = {}
POOL = ThreadPoolExecutor(16)
RETRY = [30_000, 10 * MIN, 2 * HOUR]
if bug('retry-once'):
    RETRY = [30_000]


def deliver(listener, ev, body):
    d = {'listener': listener['id'], 'queue': (listener['id'], ev['res'], ev['key']), 'id': ev['id'], 'kind': ev['kind'], 'body': body, 'tries': 0}
    q = QUEUES.setdefault(d['queue'], deque())
    q.append(d)
    if len(q) == 1:
        start_try(d)


def start_try(d):
    listener = STORE['listener'].get(d['listener'])
    if not listener:
        QUEUES.pop(d['queue'], None)
        return
    wait = listener.get('_not_before', 0)
    if wait > now():
        timer(wait, 'try', None, d)
        return
    d['tries'] += 1
    stamp = str(now() // 1000).encode()
    signed = stamp + b'.' + d['body'] if bug('sign-no-id') else d['id'].encode() + b'.' + stamp + b'.' + d['body']
    mark = hmac.new(listener['secret'].encode(), signed, hashlib.sha256).hexdigest()
    headers = {'Content-Type': 'application/json', 'Leech-Mark': 'at=%s,by=%s' % (stamp.decode(), mark), 'Leech-Kind': d['kind'],
               'User-Agent': 'leech-house', 'Connection': 'close'}
    POOL.submit(send, d, listener['url'], headers)


def send(d, url, headers):
    status, retry_after = 0, None
    try:
        p = urllib.parse.urlsplit(url)
        cls = http.client.HTTPSConnection if p.scheme.lower() == 'https' else http.client.HTTPConnection
        conn = cls(p.hostname, p.port, timeout=4)
        try:
            conn.request('POST', (p.path or '/') + ('?' + p.query if p.query else ''), d['body'], headers)
            answer = conn.getresponse()
            status, retry_after = answer.status, answer.getheader('Retry-After')
        finally:
            conn.close()
    except Exception:
        status = 0
    with LOCK:
        tried(d, status, retry_after)


def tried(d, status, retry_after):
    q = QUEUES.get(d['queue'])
    listener = STORE['listener'].get(d['listener'])
    if not q or q[0] is not d or not listener:
        return
    if 200 <= status < 300:
        listener.pop('_failing', None)
        finish(d, q)
        return
    first = listener.setdefault('_failing', now())
    if status == 410 or now() - first >= 2 * DAY:
        silence(listener)
        return
    if d['tries'] > len(RETRY):
        finish(d, q)
        return
    wait = RETRY[d['tries'] - 1]
    if retry_after:
        try:
            more = int(retry_after) * 1000
        except ValueError:
            try:
                from email.utils import parsedate_to_datetime
                more = int(parsedate_to_datetime(retry_after).timestamp() * 1000) - now()
            except Exception:
                more = 0
        more = min(max(more, 0), DAY)
        if more:
            listener['_not_before'] = max(listener.get('_not_before', 0), now() + more)
            wait = max(wait, more)
    timer(now() + wait, 'try', None, d)


def finish(d, q):
    q.popleft()
    if q:
        start_try(q[0])
    else:
        QUEUES.pop(d['queue'], None)


def drop_deliveries(listener_id):
    for key in [k for k in QUEUES if k[0] == listener_id]:
        QUEUES.pop(key)


def silence(listener):
    drop_deliveries(listener['id'])
    listener.pop('_failing', None)
    if listener['awake']:
        listener['awake'] = False
        emit('listener.silenced', 'listener', listener, None, 'ref')


def on_try(_, d):
    q = QUEUES.get(d['queue'])
    if q and q[0] is d:
        start_try(d)


# ---------------------------------------------------------------- machines
def arm_jar(jar):
    if jar['state'] == 'digesting':
        timer(now() + (11 if bug('starve-late') else 10) * DAY, 'starve', jar['id'], jar['_entered'])


def enter(res, row, state):
    row['state'] = state
    row['_entered'] = next(SEQ)
    if res == 'jar':
        arm_jar(row)
    elif state == 'asked':
        timer(now() + 2 * DAY, 'lapse', row['id'], row['_entered'])


def touch(jar):
    jar['touched_at'] = iso(now())


def arm_due(loan):
    if loan.get('due_at') and loan['state'] == 'granted' and loan.get('_armed') != loan['due_at']:
        loan['_armed'] = loan['due_at']
        due = instant(loan['due_at'])
        timer(due - 30 * MIN, 'ending', loan['id'], loan['due_at'])
        timer(due, 'slip', loan['id'], loan['due_at'])


def on_starve(key, entered):
    jar = STORE['jar'].get(key)
    if jar and jar['state'] == 'digesting' and jar['_entered'] == entered:
        enter('jar', jar, 'hungry')
        jar['hungry_since'] = iso(now())
        touch(jar)
        emit('jar.hungry', 'jar', jar, None, 'ref')


def on_lapse(key, entered):
    loan = STORE['loan'].get(key)
    if loan and loan['state'] == 'asked' and loan['_entered'] == entered:
        enter('loan', loan, 'lapsed')


def on_ending(key, due_at):
    loan = STORE['loan'].get(key)
    if loan and loan['state'] == 'granted' and loan.get('due_at') == due_at:
        emit('loan.ending', 'loan', loan, None, 'ref')


def on_slip(key, due_at):
    loan = STORE['loan'].get(key)
    if loan and loan['state'] == 'granted' and loan.get('due_at') == due_at:
        enter('loan', loan, 'overdue')
        if not bug('overdue-untold'):
            emit('loan.overdue', 'loan', loan, None)


def on_bury(key, _):
    KEPT.pop(key, None)


def on_entry(key, _):
    STORE['entry'].pop(key, None)


ON_TIMER = {'starve': on_starve, 'lapse': on_lapse, 'ending': on_ending, 'slip': on_slip, 'bury': on_bury, 'entry': on_entry, 'try': on_try}


# ---------------------------------------------------------------- rates, quotas
class Sliding:
    def __init__(self, limit, window):
        self.limit, self.window, self.used = limit, window, {}

    def look(self, who, t):
        q = self.used.setdefault(who, deque())
        while q and q[0] <= t - self.window:
            q.popleft()
        return q

    def wait(self, who, t):
        q = self.look(who, t)
        return 0 if len(q) < self.limit else q[len(q) - self.limit] + self.window - t

    def take(self, who, t):
        self.look(who, t).append(t)

    def state(self, who, t):
        q = self.look(who, t)
        return self.limit - len(q), (q[0] + self.window - t if q else 0)


class Fixed:
    def __init__(self, limit, window):
        self.limit, self.window, self.used = limit, window, {}

    def look(self, who, t):
        w = self.used.get(who)
        if not w or t >= w[0] + self.window:
            w = self.used[who] = [t, 0]
        return w

    def wait(self, who, t):
        w = self.look(who, t)
        return 0 if w[1] < self.limit + (1 if bug('estimate-26') else 0) else w[0] + self.window - t

    def take(self, who, t):
        self.look(who, t)[1] += 1

    def state(self, who, t):
        w = self.look(who, t)
        return max(0, self.limit - w[1]), w[0] + self.window - t


class Bucket:
    """Counted in thousandths of a millisecond's refill, so nothing is rounded: a unit is `window` points, refilled `limit` points a ms."""

    def __init__(self, limit, window, burst):
        self.limit, self.window, self.burst, self.used = limit, window, burst, {}

    def look(self, who, t):
        b = self.used.setdefault(who, [self.burst * self.window, t])
        if t > b[1]:
            b[0] = min(self.burst * self.window, b[0] + (t - b[1]) * self.limit)
            b[1] = t
        return b

    def wait(self, who, t):
        lack = self.window - self.look(who, t)[0]
        return 0 if lack <= 0 else -(-lack // self.limit)

    def take(self, who, t):
        self.look(who, t)[0] -= self.window

    def state(self, who, t):
        p = self.look(who, t)[0]
        left = p // self.window
        if left >= self.burst:
            return left, 0
        return left, -(-((left + 1) * self.window - p) // self.limit)


RATE_ESTIMATE = Fixed(25, MIN)
RATE_CALLER = Sliding(600, MIN)
RATE_LISTENER = Bucket(12, HOUR, 15)
QUOTA_USED = {}
QUOTA = 40
KATHMANDU = 5 * HOUR + 45 * MIN


def up_seconds(ms):
    return -(-ms // 1000)


def count_rates(ctx, rates):
    t = now()
    waits = [(r, w, r.wait(w, t)) for r, w in rates]
    longest = max((x[2] for x in waits), default=0)
    if longest > 0:
        for r, w in ctx.rated:      # what an earlier step counted is given back
            r.used[w][1] -= 1
        ctx.headers.clear()
        tell_rate(ctx, [(r, w) for r, w, _ in waits], t)
        raise Refusal('limit.rate', headers={'Retry-After': str(up_seconds(longest))})
    for r, w, _ in waits:
        r.take(w, t)
    ctx.rated += [(r, w) for r, w, _ in waits]
    tell_rate(ctx, ctx.rated, t)


def tell_rate(ctx, rates, t):
    if not rates:
        return
    best = min(((r.state(w, t), r.limit) for r, w in rates), key=lambda x: (x[0][0], -x[0][1]))
    (left, ms), limit = best
    ctx.headers['Ration-Limit'] = str(limit)
    ctx.headers['Ration-Left'] = str(left)
    ctx.headers['Ration-Reset'] = str(up_seconds(ms))


def quota_window(t):
    day = (t + KATHMANDU) // DAY
    return day, (day + 1) * DAY - KATHMANDU


def ask_quota(caller):
    day, end = quota_window(now())
    if QUOTA_USED.get((caller.id, day), 0) >= QUOTA:
        raise Refusal('limit.quota', headers={'Retry-After': str(up_seconds(end - now()))})


def use_quota(caller):
    day, _ = quota_window(now())
    QUOTA_USED[caller.id, day] = QUOTA_USED.get((caller.id, day), 0) + 1


# ---------------------------------------------------------------- one exchange
class Context:
    def __init__(self, method, target, headers, body, address):
        self.method, self.target, self.raw_headers, self.body, self.address = method, target, headers, body, address
        self.headers, self.rated = {}, []
        self.version, self.caller, self.params, self.path_params = None, None, {}, {}
        self.request_id = 'tk-' + secrets.token_hex(8)
        self.ep = None
        path, _, query = target.partition('?')
        self.path, self.query, self.has_query = path, query, '?' in target
        self.stream = None

    def all(self, name):
        return [v for k, v in self.raw_headers if k == name]

    def one(self, name):
        got = self.all(name)
        return got[0] if got else None


class Endpoint:
    def __init__(self, spec, op, run, **kw):
        self.method, self.path = spec.split(' ', 1)
        self.op, self.run = op, run
        self.segments = self.path.strip('/').split('/')
        self.params = kw.pop('params', {})
        self.page = kw.pop('page', None)
        self.body = kw.pop('body', None)      # None, 'json', 'patch', 'form'
        self.once = kw.pop('once', None)      # None, 'may', 'must'
        self.public = kw.pop('public', False)
        self.accept = kw.pop('accept', [('wand',), ('badge',), ('seal',)])
        self.select = kw.pop('select', None)
        self.etag = kw.pop('etag', False)
        self.versions = kw.pop('versions', VERSIONS)
        assert not kw, kw

    def match(self, segments):
        if len(segments) != len(self.segments):
            return None
        found = {}
        for mine, theirs in zip(self.segments, segments):
            if mine[0] == '{':
                if theirs == '':
                    return None
                found[mine[1:-1]] = theirs
            elif mine != theirs:
                return None
        return found


def unquote(text):
    return urllib.parse.unquote(text, errors='strict')


def route(ctx):
    """(2) route, method, version."""
    path = ctx.path
    base = BASE
    if bug('base-entries') and (path == '/house/e2/entries' or path == '/e2/entries'):
        base = ''
    if not path.startswith(base + '/'):
        raise Refusal('route.unknown')
    try:
        segments = [unquote(s) for s in path[len(base) + 1:].split('/')]
    except UnicodeDecodeError:
        raise Refusal('route.unknown')

    def matching(segs, version):
        return [(e, p) for e in ENDPOINTS for p in [e.match(segs)] if p is not None and (version is None or version in e.versions)]
    known = segments[0] in VERSIONS
    if known:
        ctx.version = segments[0]
        found = matching(segments[1:], ctx.version)
    else:
        found = matching(segments[1:], None) or matching(segments, None)
    if not found:
        raise Refusal('route.unknown')
    allow = sorted({e.method for e, _ in found})
    if 'GET' in allow:
        allow.append('HEAD')
    allow = ', '.join(allow + ['OPTIONS'])
    method = 'GET' if ctx.method == 'HEAD' else ctx.method
    if method != 'OPTIONS' and not any(e.method == method for e, _ in found):
        raise Refusal('method.unsupported', headers={'Allow': allow})
    if not known:
        raise Refusal('version.unknown')
    if ctx.version == 'e1' and now() >= SUNSET and not bug('sunset-serves'):
        raise Refusal('version.sunset')
    if method == 'OPTIONS':
        return None, allow
    for e, p in found:
        if e.method == method:
            ctx.path_params = p
            return e, allow


SUNSET = instant('2031-01-01T00:00:00Z')
DEPRECATED = instant('2025-03-01T00:00:00Z')


def deprecation(ctx, headers):
    if ctx.version != 'e1':
        return
    if bug('old-quiet-refusals') and ctx.status >= 400:
        return
    headers.append(('Deprecation', '@%d' % (DEPRECATED // 1000)))
    headers.append(('Sunset', 'Wed, 01 Jan 2031 00:00:00 GMT'))
    successor = ctx.target.replace('/house/e1', '/house/e2', 1)
    headers.append(('Link', '<https://leeches.example/editions>; rel="deprecation", <%s>; rel="successor-version"' % successor))


# -------- parameters
TRUE = {'true': True, 'false': False}


def read_param(spec, name, text, version):
    t = spec.get('type', 'string')
    if t == 'integer':
        if not re.match(r'^-?\d{1,18}\Z', text):
            raise bad_parameter(name, shown(text), 'an integer')
        value = int(text)
        if value < spec.get('minimum', value) or value > spec.get('maximum', value):
            raise bad_parameter(name, shown(text), 'between %s and %s' % (spec.get('minimum'), spec.get('maximum')))
        return value
    if t == 'boolean':
        if text not in TRUE:
            raise bad_parameter(name, shown(text), 'true or false')
        return TRUE[text]
    if t == 'date-time':
        ms = instant(text)
        if ms is None:
            raise bad_parameter(name, shown(text), 'a date-time')
        return ms
    if 'enum' in spec:
        enum = spec['enum']
        if spec.get('field') == 'species' and version == 'e1':
            enum = ['officinal' if x == 'medicinal' else x for x in enum]
        if text not in enum:
            raise bad_parameter(name, shown(text), 'one of ' + ', '.join(enum))
        return 'medicinal' if text == 'officinal' and spec.get('field') == 'species' else text
    if 'pattern' in spec and not re.search(spec['pattern'], text):
        raise bad_parameter(name, shown(text), 'text like ' + spec['pattern'].replace('\\Z', '$'))
    if len(text) < spec.get('minLength', 0) or len(text) > spec.get('maxLength', 10 ** 6):
        raise bad_parameter(name, shown(text), 'text of a length that there may be')
    return text


def parameters(ctx):
    ep = ctx.ep
    pairs = []
    if ctx.query:
        for part in ctx.query.split('&'):
            if part == '':
                continue
            k, _, v = part.partition('=')
            try:
                pairs.append((unquote(k.replace('+', ' ')), unquote(v.replace('+', ' '))))
            except UnicodeDecodeError:
                raise bad_parameter(k, 'bytes that are no UTF-8', 'UTF-8')
    got = OrderedDict()
    for k, v in pairs:
        got.setdefault(k, []).append(v)
    page = ep.page or {}
    page_names = {page.get(w) for w in ('cursor', 'after', 'before', 'offset', 'page', 'first_row', 'size')} - {None}
    for name, values in got.items():
        if name in page_names:
            if len(values) > 1:
                raise bad_page(name, 'several', 'one value')
        elif name in ep.params:
            spec = ep.params[name]
            if spec.get('many'):
                ctx.params[name] = [read_param(spec, name, v, ctx.version) for v in values]
                continue
            if len(values) > 1:
                raise bad_parameter(name, 'several', 'one value')
            if spec.get('split'):
                items = values[0].split(spec['split'])
                if len(items) > 100:
                    raise bad_parameter(name, '%d values' % len(items), 'up to 100')
                ctx.params[name] = [read_param(spec, name, v, ctx.version) for v in items]
                if bug('species-first'):
                    ctx.params[name] = ctx.params[name][:1]
            else:
                ctx.params[name] = read_param(spec, name, values[0], ctx.version)
        elif ep.select and name == 'only':
            names = [n for v in values for n in v.split(',')]
            if len(names) > 100:
                raise bad_parameter('only', '%d names' % len(names), 'up to 100')
            for n in names:
                if n not in SHAPES[ep.select, ctx.version].fields:
                    raise bad_parameter('only', shown(n), 'a field')
            ctx.params['only'] = names
        else:
            raise bad_parameter(name, shown(values[0]), 'no such parameter')
    for name, spec in ep.params.items():
        if name not in ctx.params:
            if spec.get('required'):
                raise bad_parameter(name, 'nothing', 'a value')
            if 'default' in spec:
                ctx.params[name] = spec['default']
    if ep.once:
        keys = ctx.all('once')
        if len(keys) > 1 or (keys and not keys[0].strip()):
            raise bad_parameter('Once', 'several' if len(keys) > 1 else 'nothing', 'one key', 'header')
        if not keys and ep.once == 'must':
            raise bad_parameter('Once', 'nothing', 'a key', 'header')
    if ep.page:
        read_page(ctx, got)


def whole(name, text, least):
    if not re.match(r'^\d{1,15}\Z', text) or int(text) < least:
        raise bad_page(name, shown(text), 'a whole number from %d on' % least)
    return int(text)


def read_page(ctx, got):
    p = ctx.ep.page
    ctx.page = page = {}
    if p['style'] == 'none':
        return
    size = p['default']
    if p['size'] in got:
        size = whole(p['size'], got[p['size']][0], 1)
        if size > p['max']:
            if not p.get('clamp'):
                if not (bug('take-51') and size == p['max'] + 1 and ctx.ep.op == 'list jar'):
                    raise bad_page(p['size'], str(size), 'at most %d' % p['max'])
            else:
                size = p['max']
    page['size'] = size
    page['start'] = 0
    if p['style'] == 'page' and p['page'] in got:
        page['start'] = (whole(p['page'], got[p['page']][0], 1) - 1) * size
    elif p['style'] == 'offset' and p['offset'] in got:
        page['start'] = whole(p['offset'], got[p['offset']][0], 0)
    elif p['style'] == 'first_row' and p['first_row'] in got:
        page['start'] = whole(p['first_row'], got[p['first_row']][0], 1) - 1
    elif p['style'] == 'after':
        if p['after'] in got and p['before'] in got:
            raise bad_page(p['before'], 'both', 'one of the two')
        for word in ('after', 'before'):
            if p[word] in got:
                if not re.match(r'^loan-[0-9a-f]{12}\Z', got[p[word]][0]):
                    raise bad_page(p[word], shown(got[p[word]][0]), 'the identifier of a loan')
                page[word] = got[p[word]][0]
    elif p['style'] == 'cursor' and p['cursor'] in got:
        page['mark'] = open_mark(ctx, got[p['cursor']][0])


MARK_KEY = secrets.token_bytes(32)


def mark_query(ctx):
    params = {k: v for k, v in ctx.params.items() if k != 'only'}
    return hashlib.sha256(json.dumps([ctx.ep.op, ctx.version, params], sort_keys=True).encode()).hexdigest()[:16]


def make_mark(ctx, key):
    who = ctx.caller.user if ctx.caller else ''
    text = json.dumps([mark_query(ctx), who, key]).encode()
    mac = hmac.new(MARK_KEY, text, hashlib.sha256).digest()[:12]
    return base64.urlsafe_b64encode(mac + text).decode().rstrip('=')


def open_mark(ctx, mark):
    try:
        raw = base64.b64decode(mark.encode('ascii') + b'=' * (-len(mark) % 4), altchars=b'-_', validate=True)
        if not hmac.compare_digest(raw[:12], hmac.new(MARK_KEY, raw[12:], hashlib.sha256).digest()[:12]):
            raise ValueError
        query, who, key = json.loads(raw[12:])
    except Exception:
        raise bad_page('mark', shown(mark), 'a mark of this list')
    if query != mark_query(ctx):
        raise bad_page('mark', shown(mark), 'a mark of this list')
    return who, key


# -------- who calls
def challenges(ep):
    out = []
    for alternative in ep.accept:
        for s in alternative:
            c = {'badge': 'Basic realm="%s", charset="UTF-8"' % REALM, 'wand': 'ApiKey realm="%s", in="header", name="Leech-Wand"' % REALM,
                 'seal': 'Seal realm="%s", in="header", name="Leech-Seal"' % REALM}[s]
            if c not in out:
                out.append(c)
    return out


SEAL = re.compile(r'^at=(\d{1,15});mark=([A-Za-z0-9+/]{43}=)\Z')


def identify(ctx):
    """(4) the caller, or None where nothing was shown."""
    ep = ctx.ep
    used = {s for alternative in ep.accept for s in alternative}
    shown_schemes, callers = set(), []

    def unknown(condition='caller.unknown'):
        extra = '' if condition == 'caller.unknown.missing' else ', error="invalid_key"'
        listed = [c + (extra if c.startswith('ApiKey') else '') for c in challenges(ep)]
        return Refusal(condition, headers={'WWW-Authenticate': ', '.join(listed)})

    if 'badge' in used:
        values = ctx.all('authorization')
        if len(values) > 1:
            raise unknown()
        if values:
            m = re.match(r'(?i)^basic +([A-Za-z0-9+/]+=*) *\Z', values[0])
            if not m:
                raise unknown()
            try:
                name, colon, password = base64.b64decode(m.group(1), validate=True).decode('utf-8').partition(':')
            except Exception:
                raise unknown()
            good = BADGES.get(name)
            if not colon or not good or not hmac.compare_digest(good[0].encode(), password.encode()):
                raise unknown()
            shown_schemes.add('badge')
            callers.append(good[1])
    if 'wand' in used:
        values = ctx.all('leech-wand')
        if len(values) > 1:
            raise unknown()
        if values:
            good = WANDS.get(values[0].strip())
            if not good:
                raise unknown()
            shown_schemes.add('wand')
            callers.append(good)
    if 'seal' in used:
        values = ctx.all('leech-seal')
        if len(values) > 1:
            raise unknown()
        if values:
            signer = ctx.all('leech-signer')
            m = SEAL.match(values[0].strip())
            if len(signer) != 1 or not m or signer[0].strip() not in SIGNERS:
                raise unknown()
            if abs(now() - int(m.group(1)) * 1000) > 180_000 and not (bug('seal-forever') and int(m.group(1)) * 1000 < now()):
                raise unknown()
            if len(ctx.body) > 8192 or ctx.too_big:
                raise Refusal('limit.size')
            secret, caller = SIGNERS[signer[0].strip()]
            signed = ctx.path if bug('seal-path') else ctx.target
            text = ('%s\n%s\n%s\n' % (ctx.method, signed, m.group(1))).encode('latin-1') + ctx.body
            if not hmac.compare_digest(base64.b64encode(hmac.new(secret.encode(), text, hashlib.sha256).digest()).decode(), m.group(2)):
                raise unknown()
            shown_schemes.add('seal')
            callers.append(caller)
    if not callers:
        if any('anyone' in r['users'] for r in RULES if ep.op in r['ops']):
            return None
        raise unknown('caller.unknown.missing')
    first = callers[0]
    if any(not first.same(c) for c in callers):
        raise unknown()
    if not any(set(alternative) <= shown_schemes for alternative in ep.accept):
        if not (bug('retire-badge') and 'badge' in shown_schemes):
            raise unknown('caller.unknown.missing')
    return first


# -------- body
def no_constant(_):
    raise ValueError('no JSON')


def read_body(ctx):
    ep = ctx.ep
    if ep.body is None:
        if ctx.too_big or len(ctx.body) > 8192:
            raise Refusal('limit.size')
        return None
    ctype = (ctx.one('content-type') or '').split(';')[0].strip().lower()
    taken = {'json': ['application/json'], 'patch': ['application/json', 'application/merge-patch+json'],
             'form': ['application/json', 'application/x-www-form-urlencoded']}[ep.body]
    if ctype and ctype not in taken and (ctx.body or ctx.too_big):
        raise Refusal('request.media')
    if ctx.too_big or len(ctx.body) > 8192 + (64 if bug('body-64-more') else 0):
        raise Refusal('limit.size')
    if not ctx.body:
        raise Refusal('request.malformed')
    if ctype == 'application/x-www-form-urlencoded':
        try:
            text = ctx.body.decode('utf-8')
            pairs = urllib.parse.parse_qsl(text, keep_blank_values=True, errors='strict')
        except Exception:
            raise Refusal('request.malformed')
        out = {}
        fields = SHAPES['bite', ctx.version].fields
        for k, v in pairs:
            t = fields.get(k, {}).get('type')
            if t == 'integer' and re.match(r'^-?\d{1,15}\Z', v):
                v = int(v)
            out[k] = [out[k], v] if k in out else v
        return out
    try:
        value = json.loads(ctx.body.decode('utf-8'), parse_constant=no_constant)
        json.dumps(value, ensure_ascii=False).encode('utf-8')      # half a character is none
        return value
    except Exception:
        raise Refusal('request.malformed')


# -------- answers
class Answer:
    def __init__(self, status, body=None, headers=None):
        self.status, self.body, self.headers = status, body, headers or {}


def address_of(ctx, res, row):
    return '%s/%s/%ss/%s' % (BASE, ctx.version, {'entry': 'entrie'}.get(res, res), urllib.parse.quote(str(row[ident(res)]), safe=''))


def tag_of(ctx, res, row):
    view = present(res, full(res, row), ctx.caller, ctx.version)
    user = ctx.caller.user if ctx.caller else ''
    return hashlib.sha256(json.dumps([ctx.version, user if res == 'loan' else '', view], sort_keys=True).encode()).hexdigest()[:24]


def tags_of(text):
    return [t.strip() for t in re.findall(r'(?:W/)?"[^"]*"|\*', text)]


def if_match(ctx, res, row, required=False):
    values = ctx.all('if-match')
    if not values:
        if required and not bug('patch-unmatched'):
            raise Refusal('precondition.required')
        return
    tags = tags_of(', '.join(values))
    if row is None:
        raise Refusal('precondition.failed')
    if '*' in tags:
        return
    mine = tag_of(ctx, res, row)
    for t in tags:
        if not t.startswith('W/') and t[1:-1].split('.')[0] == mine and t.count('.') <= 1:
            return
    raise Refusal('precondition.failed')


def show_row(ctx, res, row, status=200, headers=None):
    view = present(res, full(res, row), ctx.caller, ctx.version)
    return Answer(status, view, headers)


def choose(ctx, res, view):
    only = ctx.params.get('only')
    if only is None:
        return view
    return {k: v for k, v in view.items() if k in only or k == ident(res)}


def check_only(ctx):
    """Names that this caller is never shown are no fields to it."""
    only = ctx.params.get('only')
    if only:
        shape = SHAPES[ctx.ep.select, ctx.version]
        user = ctx.caller.user if ctx.caller else None
        for n in only:
            visible = shape.fields[n].get('visible')
            if visible and user not in visible:
                raise bad_parameter('only', shown(n), 'a field')


def find_row(ctx, res, key, op):
    """(10) the row of the path, and the rules over it."""
    row = STORE[res].get(key)
    if row is None and res == 'bite' and key in KEPT:
        old = KEPT[key]
        if may_read(res, old, ctx.caller):
            raise Refusal('resource.missing' if bug('deleted-404') else 'resource.gone')
        raise Refusal('resource.missing')
    if row is None:
        raise Refusal('resource.missing')
    if op.startswith(('read ', 'gauge ')):
        if not holds(op, row, ctx.caller):
            raise Refusal('resource.missing')
        return row
    if not holds(op, row, ctx.caller):
        raise Refusal('caller.forbidden.row' if may_read(res, row, ctx.caller) else 'resource.missing')
    return row


def reader(res):
    def run(ctx, body):
        row = find_row(ctx, res, ctx.path_params[ident(res)], ctx.ep.op)
        view = present(res, full(res, row), ctx.caller, ctx.version)
        headers = {}
        if ctx.ep.etag:
            tag = tag_of(ctx, res, row)
            if ctx.params.get('only') is not None:
                tag += '.' + hashlib.sha256(','.join(sorted(set(ctx.params['only']))).encode()).hexdigest()[:8]
            headers['ETag'] = '"%s"' % tag
            if res == 'pond':
                headers['Cache-Control'] = 'public, max-age=30'
            given = ctx.all('if-none-match')
            if given and not (bug('bite-no-304') and res == 'bite'):
                tags = [t[2:] if t.startswith('W/') else t for t in tags_of(', '.join(given))]
                if '*' in tags or '"%s"' % tag in tags:
                    return Answer(304, None, headers)
        return Answer(200, choose(ctx, res, view), headers)
    return run


def lister(res, keep, order, ties_newest=False, turns=None):
    """keep: name -> (row, value) -> bool; order: ctx -> list of (getter, descending)."""
    def run(ctx, body):
        p, page = ctx.ep.page, ctx.page
        rows = []
        scope = scoped(ctx, res)
        for row in scope:
            if not holds(ctx.ep.op, row, ctx.caller):
                continue
            if all(test(row, ctx.params[name], ctx) for name, test in keep.items() if name in ctx.params):
                rows.append(row)
        sorts = order(ctx)
        rows.sort(key=lambda r: r['_seq'], reverse=ties_newest)
        for get, desc in reversed(sorts):
            rows.sort(key=get, reverse=desc)
        def view(r):
            return choose(ctx, res, present(res, full(res, r), ctx.caller, ctx.version, True))
        style = p['style']
        if style == 'none':
            return Answer(200, {'found': [view(r) for r in rows]})
        size = page['size']
        if style == 'cursor':
            start = 0
            if 'mark' in page:
                who, key = page['mark']
                if who != (ctx.caller.user if ctx.caller else ''):
                    raise bad_page('mark', 'a mark of somebody else', 'a mark of this list')
                start = sum(1 for r in rows if not behind(r, key, sorts, ties_newest))
            part = rows[start:start + size]
            more = start + size < len(rows)
            return Answer(200, {'sort_of': 'shelf', 'found': [view(r) for r in part],
                                'next_mark': make_mark(ctx, [g(part[-1]) for g, _ in sorts] + [part[-1]['_seq']]) if more and part else None, 'more': more})
        if style == 'after':
            start, end, more = 0, size, None
            for word in ('after', 'before'):
                if word in page:
                    at = next((i for i, r in enumerate(rows) if r['id'] == page[word]), None)
                    if at is None:
                        other = STORE['loan'].get(page[word])
                        if other is None or not holds(ctx.ep.op, other, ctx.caller):
                            raise bad_page(p[word], shown(page[word]), 'the identifier of a loan')
                        key = [g(other) for g, _ in sorts] + [other['_seq']]
                        at = sum(1 for r in rows if not behind(r, key, sorts, ties_newest))
                        at_after = at
                    else:
                        at_after = at + 1
                    if word == 'after':
                        start, end = at_after, at_after + size
                    else:
                        start, end = max(0, at - size), at
                        more = start > 0
            if more is None:
                more = end < len(rows)
            return Answer(200, {'found': [view(r) for r in rows[start:end]], 'more': more})
        start = page['start']
        part = [view(r) for r in rows[start:start + size]]
        more = start + size < len(rows)
        if style == 'page':
            return Answer(200, {'ponds': part, 'total': len(rows)})
        if style == 'first_row':
            return Answer(200, {'found': part, 'more': more})
        links = []

        def link(rel, skip):
            pairs = [x for x in ctx.query.split('&') if x and unquote(x.split('=')[0]) != 'skip']
            links.append('<%s?%s>; rel="%s"' % (ctx.path, '&'.join(pairs + ['skip=%d' % skip]), rel))
        if more:
            link('next', start + size)
        if start > 0:
            link('prev', max(0, start - size))
        link('first', 0)
        return Answer(200, part, {'Link': ', '.join(links)})
    return run


def scoped(ctx, res):
    if res == 'bite':
        loan = STORE['loan'].get(ctx.path_params['loan'])
        if loan is None or not may_read('loan', loan, ctx.caller):
            raise Refusal('resource.missing')
        return list(BITES_OF.get(loan['id'], {}).values())
    return list(STORE[res].values())


def behind(row, key, sorts, ties_newest):
    """Whether a row stands behind the place of a mark."""
    for (get, desc), was in zip(sorts, key):
        mine = get(row)
        if mine != was:
            return (mine < was) if desc else (mine > was)
    return row['_seq'] < key[-1] if ties_newest else row['_seq'] > key[-1]


# ---------------------------------------------------------------- what is done: ponds
def taste(pond):
    pond['water']['taste'] = 'sour' if pond['water']['ph'] < 6.5 else 'sweet'


def title_taken(pond_fields, but=None):
    return any(p is not but and p['title'].casefold() == pond_fields['title'].casefold() for p in STORE['pond'].values())


def apply_fields(row, nxt):
    """Whether storing these fields changes the row; None takes away."""
    changed = False
    for k, v in nxt.items():
        if v is None:
            changed = row.pop(k, None) is not None or changed
        elif row.get(k) != v or type(row.get(k)) is not type(v):
            row[k] = v
            changed = True
    return changed


def ghost(row, nxt):
    out = {k: v for k, v in row.items()}
    apply_fields(out, nxt)
    return out


def upsert_pond(ctx, body):
    code = ctx.path_params['code']
    row = STORE['pond'].get(code)
    if_match(ctx, 'pond', row)
    if row is None:
        nxt, out = take_body(body, 'pond', ctx.version, ctx.caller, 'create', None, {'code': code})
        if not re.search(FIELDS['pond']['code']['pattern'], code):
            out.add('value', ['code'], shown(code), 'text like ^[a-z][a-z0-9-]{2,15}$', (-1,))
    else:
        nxt, out = take_body(body, 'pond', ctx.version, ctx.caller, 'replace', row, {'code': code})
        if not out.list and 'tags' not in nxt:
            nxt['tags'] = None
    out.refuse()
    if 'water' in nxt:
        nxt['water'] = dict(nxt['water'])
        taste(nxt)
    if title_taken(nxt, row):
        raise Refusal('resource.exists')
    if row is None:
        row = {'code': code, 'steward': ctx.caller.id, 'dug_at': iso(now()), '_seq': next(SEQ)}
        apply_fields(row, nxt)
        STORE['pond'][code] = row
        return show_row(ctx, 'pond', row, 200 if bug('upsert-200') else 201, {'Location': address_of(ctx, 'pond', row)})
    apply_fields(row, nxt)
    return show_row(ctx, 'pond', row)


def update_pond(ctx, body):
    row = find_row(ctx, 'pond', ctx.path_params['code'], 'update pond')
    if_match(ctx, 'pond', row)
    nxt, out = take_body(body, 'pond', ctx.version, ctx.caller, 'update', row, refuse_read_only=not bug('read-only-ignored'))
    out.refuse()
    if 'water' in nxt:
        nxt['water'] = dict(nxt['water'])
        taste(nxt)
    if title_taken(ghost(row, nxt), row):
        raise Refusal('resource.exists')
    apply_fields(row, nxt)
    return show_row(ctx, 'pond', row)


def delete_pond(ctx, body):
    row = find_row(ctx, 'pond', ctx.path_params['code'], 'delete pond')
    if JARS_OF.get(row['code']):
        raise Refusal('reference.held')
    del STORE['pond'][row['code']]
    return Answer(204)


def gauge_pond(ctx, body):
    row = full('pond', find_row(ctx, 'pond', ctx.path_params['code'], 'gauge pond'))
    return Answer(200, {'pond': row['code'], 'sour': row['water']['taste'] == 'sour', 'leeches': row['leeches']})


# ---------------------------------------------------------------- jars
def crowded(body, nxt, row, version, out):
    species, count = nxt.get('species', row['species'] if row else None), nxt.get('count', row['count'] if row else None)
    if species == 'horse' and isinstance(count, int) and count > 60 and not any(v[2] in ('count', 'amount', 'species') for v in out.list):
        name, rank = rank_of(body, SHAPES['jar', version], 'count')
        out.add('value', [name], shown(count), '60 horse leeches in a jar or fewer', rank)


def create_jar(ctx, body):
    pond = STORE['pond'].get(ctx.path_params['pond'])
    if pond is None:
        raise Refusal('resource.missing')
    nxt, out = take_body(body, 'jar', ctx.version, ctx.caller, 'create', None, {'pond': pond['code']})
    crowded(body, nxt, None, ctx.version, out)
    out.refuse()
    jars = JARS_OF.setdefault(pond['code'], {})
    if any(j['label'] == nxt['label'] for j in jars.values()):
        raise Refusal('resource.exists')
    jar = dict(nxt)
    jar['id'] = 'jar_' + secrets.token_hex(5)
    jar['number'] = count_up('jar' if bug('number-over-all') else 'jar ' + str(pond['_seq']))
    jar['filled_by'] = ctx.caller.id
    jar['filled_at'] = jar['touched_at'] = iso(now())
    jar['_seq'] = next(SEQ)
    STORE['jar'][jar['id']] = jars[jar['id']] = jar
    enter('jar', jar, 'digesting')
    emit('jar.filled', 'jar', jar, ctx.caller)
    if bug('filled-twice'):
        emit('jar.filled', 'jar', jar, ctx.caller)
    return show_row(ctx, 'jar', jar, 201, {'Location': address_of(ctx, 'jar', jar)})


def update_jar(ctx, body):
    jar = find_row(ctx, 'jar', ctx.path_params['id'], 'update jar')
    if_match(ctx, 'jar', jar, True)
    nxt, out = take_body(body, 'jar', ctx.version, ctx.caller, 'update', jar)
    if not bug('crowd-update'):
        crowded(body, nxt, jar, ctx.version, out)
    out.refuse()
    if jar['state'] not in ('digesting', 'hungry'):
        raise Refusal('transition.illegal')
    new = ghost(jar, nxt)
    if not bug('label-twice-update') and any(j is not jar and j['label'] == new['label'] for j in JARS_OF[jar['pond']].values()):
        raise Refusal('resource.exists')
    was = jar['label']
    if apply_fields(jar, nxt):
        touch(jar)
        if jar['label'] != was or bug('relabelled-always'):
            emit('jar.relabelled', 'jar', jar, ctx.caller, 'data', {'jar': jar['id'], 'was': was, 'is': jar['label']})
    return show_row(ctx, 'jar', jar)


def feed_jar(ctx, body):
    jar = find_row(ctx, 'jar', ctx.path_params['id'], 'feed jar')
    if jar['state'] != 'hungry':
        raise Refusal('transition.illegal')
    enter('jar', jar, 'digesting')
    if not bug('feed-untouched'):
        touch(jar)
    return show_row(ctx, 'jar', jar)


def retire_jar(ctx, body):
    jar = find_row(ctx, 'jar', ctx.path_params['id'], 'retire jar')
    if jar['state'] not in ('digesting', 'hungry'):
        raise Refusal('jar_elsewhere')
    enter('jar', jar, 'retired')
    touch(jar)
    emit('jar.retired', 'jar', jar, ctx.caller, 'ref')
    return show_row(ctx, 'jar', jar)


def delete_jar(ctx, body):
    jar = find_row(ctx, 'jar', ctx.path_params['id'], 'delete jar')
    if jar['state'] != 'retired':
        raise Refusal('transition.illegal')
    if LOANS_OF.get(jar['id']):
        raise Refusal('reference.held')
    emit('jar.binned', 'jar', jar, ctx.caller, 'ref')
    del STORE['jar'][jar['id']]
    del JARS_OF[jar['pond']][jar['id']]
    return Answer(204)


# ---------------------------------------------------------------- loans
ACTIVE = ('asked', 'granted', 'overdue')


def create_loan(ctx, body):
    nxt, out = take_body(body, 'loan', ctx.version, ctx.caller, 'create')
    out.refuse()
    jar = STORE['jar'].get(nxt['jar'])
    if jar is None or not may_read('jar', jar, ctx.caller):
        raise Refusal('reference.missing', [{'in': 'body', 'path': 'jar', 'found': shown(nxt['jar']), 'expected': 'the identifier of a jar'}])
    if jar['species'] == 'horse' and nxt['purpose'] == 'graft':
        raise Refusal('horse_on_graft')
    mine = [l for l in STORE['loan'].values() if l['surgeon'] == ctx.caller.id]
    if any(l['jar'] == jar['id'] and l['state'] == 'asked' for l in mine):
        raise Refusal('resource.exists')
    if sum(1 for l in mine if l['state'] in ACTIVE) >= (7 if bug('seven-loans') else 6):
        raise Refusal('limit.quota')
    ask_quota(ctx.caller)
    loan = dict(nxt)
    loan['id'] = 'loan-' + secrets.token_hex(6)
    loan['number'] = 'L%04d' % count_up('loan')
    loan['surgeon'], loan['clinic'] = ctx.caller.id, ctx.caller.clinic
    loan['asked_at'] = iso(now())
    loan['_seq'] = next(SEQ)
    STORE['loan'][loan['id']] = LOANS_OF.setdefault(jar['id'], {})[loan['id']] = loan
    enter('loan', loan, 'asked')
    use_quota(ctx.caller)
    emit('loan.asked', 'loan', loan, ctx.caller)
    return show_row(ctx, 'loan', loan, 201, {'Location': address_of(ctx, 'loan', loan)})


def update_loan(ctx, body):
    loan = find_row(ctx, 'loan', ctx.path_params['id'], 'update loan')
    if_match(ctx, 'loan', loan)
    nxt, out = take_body(body, 'loan', ctx.version, ctx.caller, 'update', loan)
    out.refuse()
    if loan['state'] != 'asked':
        raise Refusal('transition.illegal')
    apply_fields(loan, nxt)
    return show_row(ctx, 'loan', loan)


def grant_loan(ctx, body):
    loan = find_row(ctx, 'loan', ctx.path_params['id'], 'grant loan')
    if loan['state'] != 'asked':
        raise Refusal('transition.illegal')
    jar = STORE['jar'][loan['jar']]
    if jar['state'] != 'hungry' and not (bug('grant-digesting') and jar['state'] == 'digesting'):
        raise Refusal('jar_not_hungry')
    loan['fee'] = loan['hours'] * (3 if jar['species'] == 'medicinal' else 5)
    loan['due_at'] = iso(now() + loan['hours'] * HOUR)
    enter('loan', loan, 'granted')
    enter('jar', jar, 'lent')
    touch(jar)
    arm_due(loan)
    emit('loan.settled', 'loan', loan, ctx.caller, 'data', {'loan': loan['id'], 'outcome': 'granted', 'jar': loan['jar']})
    return show_row(ctx, 'loan', loan)


def strict(body, name, spec):
    out = Finder()
    if not isinstance(body, dict):
        out.add('type', [], shown(body), 'a map of fields', (0,))
        out.refuse()
    value = None
    for i, (k, v) in enumerate(body.items()):
        if k != name:
            out.add('unknown', [k], shown(v), 'no such field', (i,))
        else:
            value = check_value(spec, v, [k], (i,), out)
    if name not in body:
        out.add('missing', [name], 'nothing', 'a value', (10 ** 6,))
    out.refuse()
    return value


def decline_loan(ctx, body):
    loan = find_row(ctx, 'loan', ctx.path_params['id'], 'decline loan')
    reason = strict(body, 'reason', S(minLength=3, maxLength=100))
    if loan['state'] != 'asked':
        raise Refusal('transition.illegal')
    loan['answer'] = reason
    enter('loan', loan, 'declined')
    if not bug('decline-untold'):
        emit('loan.settled', 'loan', loan, ctx.caller, 'data', {'loan': loan['id'], 'outcome': 'declined', 'jar': loan['jar']})
    return show_row(ctx, 'loan', loan)


def withdraw_loan(ctx, body):
    loan = find_row(ctx, 'loan', ctx.path_params['id'], 'withdraw loan')
    if loan['state'] != 'asked' and not (bug('withdraw-declined') and loan['state'] == 'declined'):
        raise Refusal('too_late')
    enter('loan', loan, 'withdrawn')
    return show_row(ctx, 'loan', loan)


def extend_loan(ctx, body):
    loan = find_row(ctx, 'loan', ctx.path_params['id'], 'extend loan')
    more = strict(body, 'more', I(minimum=1, maximum=24))
    if loan['state'] != 'granted':
        raise Refusal('transition.illegal')
    if loan['hours'] + more > (71 if bug('extend-71') else 72):
        raise Refusal('too_long')
    loan['due_at'] = iso(instant(loan['due_at']) + more * HOUR)
    loan['hours'] += more
    enter('loan', loan, 'granted')
    arm_due(loan)
    return show_row(ctx, 'loan', loan)


def return_loan(ctx, body):
    loan = find_row(ctx, 'loan', ctx.path_params['id'], 'return loan')
    if loan['state'] not in (('granted',) if bug('no-late-return') else ('granted', 'overdue')):
        raise Refusal('transition.illegal')
    loan['returned_at'] = iso(now())
    enter('loan', loan, 'returned')
    jar = STORE['jar'][loan['jar']]
    enter('jar', jar, 'hungry' if bug('back-hungry') else 'digesting')
    touch(jar)
    emit('loan.returned', 'loan', loan, ctx.caller)
    row = full('loan', loan)
    return Answer(200, {'loan': loan['id'], 'bites': row['bites'], 'fee': row.get('fee', 0)})


def bury(bite, by):
    emit('bite.struck', 'bite', bite, by, 'ref')
    STORE['bite'].pop(bite['id'], None)
    BITES_OF.get(bite['loan'], {}).pop(bite['id'], None)
    KEPT[bite['id']] = bite
    timer(now() + 10 * DAY, 'bury', bite['id'])


def delete_loan(ctx, body):
    loan = find_row(ctx, 'loan', ctx.path_params['id'], 'delete loan')
    if loan['state'] in ACTIVE and not (bug('delete-asked') and loan['state'] == 'asked'):
        raise Refusal('transition.illegal')
    for bite in list(BITES_OF.get(loan['id'], {}).values()):
        bury(bite, ctx.caller)
    BITES_OF.pop(loan['id'], None)
    del STORE['loan'][loan['id']]
    LOANS_OF[loan['jar']].pop(loan['id'], None)
    return Answer(204)


# ---------------------------------------------------------------- bites
def too_fast(body, nxt, row, out):
    ml, minutes = nxt.get('drawn_ml'), nxt.get('minutes')
    if isinstance(ml, int) and isinstance(minutes, int) and ml > minutes and not any(v[2] in ('drawn_ml', 'minutes') for v in out.list):
        name, rank = rank_of(body, SHAPES['bite', 'e2'], 'drawn_ml')
        out.add('value', [name], shown(ml), 'a millilitre a minute at the most', rank)


def create_bite(ctx, body):
    loan = STORE['loan'].get(ctx.path_params['loan'])
    if loan is None or not may_read('loan', loan, ctx.caller):
        raise Refusal('resource.missing')
    nxt, out = take_body(body, 'bite', ctx.version, ctx.caller, 'create', None, {'loan': loan['id']})
    too_fast(body, nxt, None, out)
    out.refuse()
    if not any(r['create'](nxt, ctx.caller) for r in rules_for('create bite', ctx.caller)):
        raise Refusal('caller.forbidden.row')
    if loan['state'] not in ('granted', 'overdue'):
        raise Refusal('not_applied')
    bite = dict(nxt)
    bite.update(id=ulid(), surgeon=ctx.caller.id, noted_at=iso(now()), _seq=next(SEQ))
    STORE['bite'][bite['id']] = BITES_OF.setdefault(loan['id'], {})[bite['id']] = bite
    emit('bite.noted', 'bite', bite, ctx.caller)
    return show_row(ctx, 'bite', bite, 201, {'Location': address_of(ctx, 'bite', bite)})


def replace_bite(ctx, body):
    bite = find_row(ctx, 'bite', ctx.path_params['id'], 'replace bite')
    if_match(ctx, 'bite', bite)
    nxt, out = take_body(body, 'bite', ctx.version, ctx.caller, 'replace', bite)
    too_fast(body, nxt, bite, out)
    out.refuse()
    if 'scar' not in nxt and not bug('scar-stays'):
        nxt['scar'] = None
    apply_fields(bite, nxt)
    return show_row(ctx, 'bite', bite)


def delete_bite(ctx, body):
    bury(find_row(ctx, 'bite', ctx.path_params['id'], 'delete bite'), ctx.caller)
    return Answer(204)


# ---------------------------------------------------------------- listeners
LISTENERS_EVER = {}


def create_listener(ctx, body):
    nxt, out = take_body(body, 'listener', ctx.version, ctx.caller, 'create')
    out.refuse()
    have = sum(1 for l in STORE['listener'].values() if l['owner'] == ctx.caller.id)
    if bug('listeners-ever'):
        have = LISTENERS_EVER.get(ctx.caller.id, 0)
    if have >= 4:
        raise Refusal('limit.quota')
    LISTENERS_EVER[ctx.caller.id] = LISTENERS_EVER.get(ctx.caller.id, 0) + 1
    row = dict(nxt, id='lst_' + alnum(12), owner=ctx.caller.id, secret='ear-' + alnum(32), made_at=iso(now()),
               _seq=next(SEQ), _maker=ctx.caller, _version=ctx.version)
    STORE['listener'][row['id']] = row
    view = present('listener', full('listener', row), ctx.caller, ctx.version)
    view['secret'] = row['secret']
    return Answer(201, view, {'Location': address_of(ctx, 'listener', row)})


def update_listener(ctx, body):
    row = find_row(ctx, 'listener', ctx.path_params['id'], 'update listener')
    nxt, out = take_body(body, 'listener', ctx.version, ctx.caller, 'update', row)
    out.refuse()
    was = row['awake']
    apply_fields(row, nxt)
    if was != row['awake']:
        row.pop('_failing', None)
        row.pop('_not_before', None)
    return show_row(ctx, 'listener', row)


def delete_listener(ctx, body):
    row = find_row(ctx, 'listener', ctx.path_params['id'], 'delete listener')
    del STORE['listener'][row['id']]
    drop_deliveries(row['id'])
    return Answer(204)


# ---------------------------------------------------------------- the rest
def motto(ctx, body):
    return Answer(200, {'motto': 'Primum esuriant.'})


def estimate(ctx, body):
    hours, species = ctx.params['hours'], ctx.params['species']
    return Answer(200, {'fee': hours * (3 if species == 'medicinal' else 5), 'hours': hours, 'species': species})


def stream_events(ctx, body):
    last = ctx.one('last-event-id')
    start = None
    if last is not None:
        start = last
    ctx.stream = {'last': start}
    return Answer(200)


def jar_order(ctx):
    sort = ctx.params.get('sort')
    if sort:
        get = {'age': lambda r: r['filled_at'], 'size': lambda r: r['count']}[sort.lstrip('-')]
        desc = sort[0] == '-'
    else:
        get, desc = (lambda r: r['filled_at']), not bug('jars-oldest')
    if ctx.params.get('way') == 'desc':
        desc = not desc
    return [(get, desc)]


def bite_order(ctx):
    sort = ctx.params.get('sort')
    if not sort:
        return []
    name = sort.lstrip('-')
    return [(lambda r: r[name], sort[0] == '-')]


def words_in(row, text, ctx):
    words = text.lower().split()[:16]
    return all(w in row['label'].lower() for w in words)


def loan_in_pond(row, pond, ctx):
    jar = STORE['jar'][row['jar']]
    return jar['pond'] == pond and may_read('jar', jar, ctx.caller)


JAR_STATES = ['digesting', 'hungry', 'lent', 'retired']
LOAN_STATES = ['asked', 'granted', 'declined', 'withdrawn', 'lapsed', 'overdue', 'returned']
SPECIES = ['medicinal', 'horse', 'dwarf']
CODE = FIELDS['pond']['code']['pattern']
ENDPOINTS = [
    Endpoint('GET /motto', 'motto', motto, public=True),
    Endpoint('GET /estimate', 'handler estimate', estimate, public=True, params={
        'hours': {'type': 'integer', 'minimum': 1, 'maximum': 72, 'required': True}, 'species': {'enum': SPECIES, 'default': 'medicinal'}}),
    Endpoint('GET /ponds', 'list pond', lister('pond', {
        'source': lambda r, v, c: r['water']['source'] == v, 'tag': lambda r, v, c: v in r.get('tags', []),
        'shallower': lambda r, v, c: r['depth_cm'] < v, 'named': lambda r, v, c: v.casefold() in r['title'].casefold()},
        lambda ctx: [(lambda r: r['title'].casefold(), False)]),
        params={'source': {'enum': ['spring', 'rain', 'brook']}, 'tag': {'minLength': 1, 'maxLength': 12}, 'shallower': {'type': 'integer'}, 'named': {}},
        page={'style': 'page', 'page': 'leaf', 'size': 'take', 'default': 20, 'max': 30}),
    Endpoint('GET /ponds/{code}', 'read pond', reader('pond'), etag=True),
    Endpoint('PUT /ponds/{code}', 'upsert pond', upsert_pond, body='json'),
    Endpoint('PATCH /ponds/{code}', 'update pond', update_pond, body='patch'),
    Endpoint('DELETE /ponds/{code}', 'delete pond', delete_pond),
    Endpoint('GET /ponds/{code}/gauge', 'gauge pond', gauge_pond, versions=['e2']),
    Endpoint('POST /ponds/{pond}/jars', 'create jar', create_jar, body='json', once='may'),
    Endpoint('GET /jars', 'list jar', lister('jar', {
        'pond': lambda r, v, c: r['pond'] == v, 'species': lambda r, v, c: r['species'] in v, 'state': lambda r, v, c: r['state'] == v,
        'least': lambda r, v, c: r['count'] >= v,
        'begins': lambda r, v, c: v in r['label'] if bug('begins-anywhere') else r['label'].startswith(v), 'words': words_in}, jar_order, True),
        params={'pond': {'pattern': CODE}, 'species': {'enum': SPECIES, 'split': ',', 'field': 'species'}, 'state': {'enum': JAR_STATES},
                'least': {'type': 'integer'}, 'begins': {}, 'words': {}, 'sort': {'enum': ['age', '-age', 'size', '-size']}, 'way': {'enum': ['asc', 'desc']}},
        page={'style': 'cursor', 'cursor': 'mark', 'size': 'take', 'default': 10, 'max': 50}, select='jar'),
    Endpoint('GET /jars/{id}', 'read jar', reader('jar'), etag=True, select='jar'),
    Endpoint('PATCH /jars/{id}', 'update jar', update_jar, body='patch'),
    Endpoint('POST /jars/{id}/feed', 'feed jar', feed_jar),
    Endpoint('POST /jars/{id}/retire', 'retire jar', retire_jar, accept=[('badge', 'wand')]),
    Endpoint('DELETE /jars/{id}', 'delete jar', delete_jar),
    Endpoint('POST /loans', 'create loan', create_loan, body='json', once='must'),
    Endpoint('GET /loans', 'list loan', lister('loan', {
        'state': lambda r, v, c: r['state'] in v, 'jar': lambda r, v, c: r['jar'] == v, 'pond': loan_in_pond,
        'running': lambda r, v, c: (r['state'] in ('granted', 'overdue')) == v or (bug('running-false') and not v),
        'due_before': lambda r, v, c: 'due_at' in r and instant(r['due_at']) < v, 'not_for': lambda r, v, c: r['purpose'] != v},
        lambda ctx: [(lambda r: r['asked_at'], False)]),
        params={'state': {'enum': LOAN_STATES, 'many': True}, 'jar': {}, 'pond': {'pattern': CODE}, 'running': {'type': 'boolean'},
                'due_before': {'type': 'date-time'}, 'not_for': {'enum': ['graft', 'congestion', 'hematoma']}},
        page={'style': 'after', 'after': 'past', 'before': 'upto', 'size': 'take', 'default': 10, 'max': 25, 'clamp': True}),
    Endpoint('GET /loans/{id}', 'read loan', reader('loan'), etag=True),
    Endpoint('PATCH /loans/{id}', 'update loan', update_loan, body='patch'),
    Endpoint('POST /loans/{id}/grant', 'grant loan', grant_loan),
    Endpoint('POST /loans/{id}/decline', 'decline loan', decline_loan, body='json'),
    Endpoint('POST /loans/{id}/withdraw', 'withdraw loan', withdraw_loan),
    Endpoint('POST /loans/{id}/extend', 'extend loan', extend_loan, body='json'),
    Endpoint('POST /loans/{id}/return', 'return loan', return_loan),
    Endpoint('DELETE /loans/{id}', 'delete loan', delete_loan),
    Endpoint('POST /loans/{loan}/bites', 'create bite', create_bite, body='form', once='may'),
    Endpoint('GET /loans/{loan}/bites', 'list bite', lister('bite', {
        'side': lambda r, v, c: r['side'] == v, 'least_ml': lambda r, v, c: r['drawn_ml'] >= v}, bite_order),
        params={'side': {'enum': ['left', 'right', 'midline']}, 'least_ml': {'type': 'integer'},
                'sort': {'enum': ['minutes', '-minutes', 'drawn_ml', '-drawn_ml']}},
        page={'style': 'offset', 'offset': 'skip', 'size': 'take', 'default': 10, 'max': 40}),
    Endpoint('GET /bites/{id}', 'read bite', reader('bite'), etag=True),
    Endpoint('PUT /bites/{id}', 'replace bite', replace_bite, body='json'),
    Endpoint('DELETE /bites/{id}', 'delete bite', delete_bite),
    Endpoint('POST /listeners', 'create listener', create_listener, body='json'),
    Endpoint('GET /listeners', 'list listener', lister('listener', {}, lambda ctx: []), page={'style': 'none'}),
    Endpoint('GET /listeners/{id}', 'read listener', reader('listener')),
    Endpoint('PATCH /listeners/{id}', 'update listener', update_listener, body='patch'),
    Endpoint('DELETE /listeners/{id}', 'delete listener', delete_listener),
    Endpoint('GET /entries', 'list entry', lister('entry', {
        'kind': lambda r, v, c: r['kind'] == v, 'about': lambda r, v, c: r['about'] == v, 'since': lambda r, v, c: instant(r['at']) >= v},
        lambda ctx: [(lambda r: r['at'], True)], True),
        params={'kind': {}, 'about': {}, 'since': {'type': 'date-time'}},
        page={'style': 'first_row', 'first_row': 'from', 'size': 'take', 'default': 15, 'max': 60}),
    Endpoint('GET /entries/{id}', 'read entry', reader('entry')),
    Endpoint('GET /pulse', 'stream events', stream_events),
]
if bug('no-withdraw'):
    ENDPOINTS = [e for e in ENDPOINTS if e.op != 'withdraw loan']

REMEMBERED = {}


def exchange(ctx):
    """One request, in the stated order of refusals."""
    ctx.ep, allow = route(ctx)
    if ctx.ep is None:
        return Answer(204, None, {'Allow': allow})
    ep = ctx.ep
    if ep.op == 'handler estimate':
        count_rates(ctx, [(RATE_ESTIMATE, ctx.address)])
    if bug('caller-before-parameters') and not ep.public:
        identify(ctx)
    parameters(ctx)
    if not ep.public:
        ctx.caller = identify(ctx)
    who = (ctx.caller.user, ctx.caller.id) if ctx.caller else ('at', ctx.address)
    later = [(RATE_CALLER, who)]
    if ep.op == 'create listener':
        later.append((RATE_LISTENER, who))
    count_rates(ctx, later)
    if not ep.public:
        mine = rules_for(ep.op, ctx.caller)
        if not mine:
            raise Refusal('caller.forbidden.user')
        if all(r['scopes'] and not all(s in ctx.caller.scopes for s in r['scopes']) for r in mine):
            raise Refusal('caller.forbidden.scope')
    check_only(ctx)
    body = read_body(ctx)
    remember = None
    if ep.once and ctx.one('once') and not (bug('jar-once-again') and ep.op == 'create jar'):
        remember = (ctx.caller.user, ctx.caller.id, ep.op, ctx.one('once').strip())
        mark = hashlib.sha256(ctx.target.encode('latin-1') + b'\n' + ctx.body).hexdigest()
        had = REMEMBERED.get(remember)
        if had and now() < had['until']:
            if had['mark'] != mark:
                raise Refusal('idempotency.reused')
            return had['answer']
    try:
        answer = ep.run(ctx, body)
    except Refusal as r:
        if remember and r.condition in OWN_ERRORS:
            REMEMBERED[remember] = {'mark': mark, 'until': now() + 12 * HOUR, 'answer': refusal(ctx, r)}
        raise
    if remember:
        REMEMBERED[remember] = {'mark': mark, 'until': now() + 12 * HOUR, 'answer': answer}
    return answer


def refusal(ctx, r):
    code, status, message = CODES[r.condition]
    if r.condition == 'precondition.failed' and bug('stale-409'):
        status = 409
    trouble = OrderedDict(word=code)
    if message:
        if r.violations:
            v = r.violations[0]
            name = v['path'].replace('/', '.').strip('.') or 'body'
            message = message.replace('{name}', name[:200]).replace('{found}', v['found'][:200]).replace('{expected}', v['expected'][:200])
        trouble['said'] = message
    trouble['rank'] = status
    trouble['ticket'] = ctx.request_id
    if r.violations:
        trouble['faults'] = r.violations
    headers = dict(r.headers)
    if not (bug('no-trouble-header') and r.condition == 'resource.missing'):
        headers['Leech-Trouble'] = code
    return Answer(status, {'trouble': trouble}, headers)


def handle(ctx):
    with LOCK:
        settle()
        try:
            if ctx.early:
                raise Refusal(ctx.early)
            answer = exchange(ctx)
        except Refusal as r:
            answer = refusal(ctx, r)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            answer = refusal(ctx, Refusal('internal'))
        ctx.status = answer.status
        headers = list(answer.headers.items()) + list(ctx.headers.items())
        deprecation(ctx, headers)
        if ctx.ep is None or not ctx.ep.public:
            headers.append(('Vary', 'Authorization, Leech-Wand, Leech-Seal, Leech-Signer'))
        return answer, headers


# ---------------------------------------------------------------- the door: HTTP/1.1 over sockets
REASONS = http.client.responses


class Closed(Exception):
    pass


class Slow(Exception):
    pass


class Wire:
    def __init__(self, sock):
        self.sock, self.buf = sock, b''

    def more(self, deadline):
        left = deadline - time.monotonic()
        if left <= 0:
            raise Slow
        self.sock.settimeout(left)
        try:
            got = self.sock.recv(65536)
        except (socket.timeout, TimeoutError):
            raise Slow
        except OSError:
            raise Closed
        if not got:
            raise Closed
        self.buf += got

    def line(self, deadline, limit):
        while b'\n' not in self.buf:
            if len(self.buf) > limit:
                return None
            self.more(deadline)
        line, self.buf = self.buf.split(b'\n', 1)
        return line.rstrip(b'\r')

    def exactly(self, n, deadline):
        while len(self.buf) < n:
            self.more(deadline)
        got, self.buf = self.buf[:n], self.buf[n:]
        return got


def serve_connection(sock, address):
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    wire = Wire(sock)
    try:
        while one_request(wire, address[0]):
            pass
    except (Closed, Slow, OSError):
        pass
    finally:
        try:
            sock.close()
        except OSError:
            pass


def one_request(wire, address):
    if not wire.buf:
        wire.more(time.monotonic() + 30)
    deadline = time.monotonic() + 5
    early, close, too_big = None, False, False
    method, target, headers, body, head_size = 'GET', '/', [], b'', 0
    try:
        first = wire.line(deadline, 65536)
        while first == b'':
            first = wire.line(deadline, 65536)
        if first is None:
            early, close = 'limit.size.url', True
        else:
            parts = first.decode('latin-1').split(' ')
            if len(parts) != 3:
                early, close = 'request.malformed', True
            else:
                method, target, protocol = parts
                if target.startswith('http://') or target.startswith('https://'):
                    u = urllib.parse.urlsplit(target)
                    target = (u.path or '/') + ('?' + u.query if u.query else '')
                if protocol == 'HTTP/1.0':
                    close = True
            while not (early and close):
                line = wire.line(deadline, 262144)
                if line is None or head_size > 262144:
                    early, close = 'limit.size', True
                    break
                if line == b'':
                    break
                head_size += len(line) + 2
                k, _, v = line.decode('latin-1').partition(':')
                headers.append((k.strip().lower(), v.strip()))
            if not early:
                got = dict(headers)
                if got.get('connection', '').lower() == 'close':
                    close = True
                if len(target) > 2048:
                    early = 'limit.size.url'
                elif head_size > 8192:
                    early = 'limit.size'
                if got.get('expect', '').lower() == '100-continue':
                    wire.sock.sendall(b'HTTP/1.1 100 Continue\r\n\r\n')
                cap = 2 * 1024 * 1024
                if 'chunked' in got.get('transfer-encoding', '').lower():
                    while True:
                        size = int(wire.line(deadline, 1024).split(b';')[0], 16)
                        if size == 0:
                            while wire.line(deadline, 8192):
                                pass
                            break
                        piece = wire.exactly(size, deadline)
                        wire.line(deadline, 16)
                        if len(body) <= 16384:
                            body += piece
                        cap -= size
                        if cap < 0:
                            too_big = close = True
                            break
                elif 'content-length' in got:
                    size = int(got['content-length'])
                    if size > cap:
                        too_big = close = True
                    else:
                        body = wire.exactly(size, deadline)
                if len(body) > 16384:
                    too_big, body = True, b''
    except Slow:
        early, close = 'limit.time', True
    except ValueError:
        early, close = 'request.malformed', True
    ctx = Context(method, target, headers, body, address)
    ctx.early, ctx.too_big, ctx.status = early, too_big, 0
    answer, out = handle(ctx)
    if ctx.stream is not None and answer.status == 200:
        if method == 'HEAD':
            respond(wire.sock, method, answer.status, out + [('Content-Type', 'text/event-stream')], b'', close)
            return not close
        run_stream(wire.sock, ctx, out)
        return False
    data = b''
    if answer.body is not None:
        data = json.dumps(answer.body, ensure_ascii=False).encode()
        out.append(('Content-Type', 'application/json'))
    respond(wire.sock, method, answer.status, out, data, close)
    return not close


def respond(sock, method, status, headers, data, close):
    head = ['HTTP/1.1 %d %s' % (status, REASONS.get(status, 'Answer'))]
    head += ['%s: %s' % h for h in headers]
    if status not in (204, 304):
        head.append('Content-Length: %d' % len(data))
    head.append('Date: ' + time.strftime('%a, %d %b %Y %H:%M:%S GMT', time.gmtime(real_now() // 1000)))
    if close:
        head.append('Connection: close')
    sock.sendall('\r\n'.join(head).encode('latin-1', 'replace') + b'\r\n\r\n' + (b'' if method == 'HEAD' else data))


def run_stream(sock, ctx, out):
    caller, version = ctx.caller, ctx.version
    head = ['HTTP/1.1 200 OK', 'Content-Type: text/event-stream', 'Cache-Control: no-store', 'Connection: close'] + ['%s: %s' % h for h in out]
    with LOCK:
        last = ctx.stream['last']
        if last is None:
            seen = EVENTS[-1]['id'] if EVENTS else ''
        else:
            kept = {e['id'] for e in EVENTS if e['ms'] > now() - 6 * HOUR}
            seen = last if last in kept else ''
    sock.settimeout(10)
    sock.sendall('\r\n'.join(head).encode('latin-1') + b'\r\n\r\n: open\n\n')
    beat = time.monotonic() + 15
    while True:
        text = ''
        with LOCK:
            for e in EVENTS:
                if e['id'] > seen and e['ms'] > now() - 6 * HOUR:
                    seen = e['id']
                    if may_hear(e, caller):
                        text += 'id: %s\nevent: %s\ndata: %s\n\n' % (e['id'], e['kind'], json.dumps(envelope(e, caller, version), ensure_ascii=False))
            if not text:
                CHANGED.wait(1)
        if not text and time.monotonic() >= beat:
            text = ': still here\n\n'
        if text:
            sock.sendall(text.encode())
            beat = time.monotonic() + 15
        else:
            sock.setblocking(False)
            try:
                if sock.recv(1024) == b'':
                    raise Closed
            except BlockingIOError:
                pass
            finally:
                sock.settimeout(10)


# ---------------------------------------------------------------- the door to the clock
DURATION = re.compile(r'^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?\Z')


def later_by(ms, text):
    m = DURATION.match(text) if isinstance(text, str) else None
    if not m or text in ('P', 'PT') or text.endswith('T'):
        return None
    years, months, weeks, days, hours, minutes = (int(x or 0) for x in m.groups()[:6])
    d = datetime.fromtimestamp(ms // 1000, timezone.utc)
    month = d.month - 1 + months + 12 * years
    year, month = d.year + month // 12, month % 12 + 1
    d = d.replace(year=year, month=month, day=min(d.day, calendar.monthrange(year, month)[1]))
    d += timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes)
    return calendar.timegm(d.timetuple()) * 1000 + ms % 1000 + int(float(m.group(7) or 0) * 1000)


def move(body):
    global OFFSET
    try:
        wish = json.loads(body.decode('utf-8'))
    except Exception:
        return 400
    if not isinstance(wish, dict) or len(wish) != 1:
        return 400
    with LOCK:
        settle()
        t = real_now()
        if 'advance' in wish:
            try:
                to = later_by(t, wish['advance'])
            except (ValueError, OverflowError):
                to = None
        elif 'now' in wish:
            to = instant(wish['now'])
        else:
            to = None
        if to is None:
            return 400
        if to < t:
            return 422
        OFFSET += to - t
        settle()
        CHANGED.notify_all()
    time.sleep(0.03)
    return 200


def clock_connection(sock, address):
    wire = Wire(sock)
    try:
        while True:
            deadline = time.monotonic() + 60
            first = wire.line(deadline, 65536).decode('latin-1').split(' ')
            headers = {}
            while True:
                line = wire.line(deadline, 65536)
                if not line:
                    break
                k, _, v = line.decode('latin-1').partition(':')
                headers[k.strip().lower()] = v.strip()
            body = wire.exactly(int(headers.get('content-length', 0)), deadline)
            status = 200 if first[0] == 'GET' else move(body) if first[0] == 'POST' else 400
            with LOCK:
                data = json.dumps({'now': iso(real_now())} if status == 200 else {'error': status}).encode()
            respond(sock, first[0], status, [('Content-Type', 'application/json')], data, False)
    except (Closed, Slow, OSError, AttributeError, ValueError):
        pass
    finally:
        sock.close()


def listen(port, run):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(('127.0.0.1', port))
    s.listen(256)

    def loop():
        while True:
            c, a = s.accept()
            threading.Thread(target=run, args=(c, a), daemon=True).start()
    threading.Thread(target=loop, daemon=True).start()
    return s.getsockname()[1]


def main():
    if ARGS.clock_port is not None:
        print('clock on 127.0.0.1:%d' % listen(ARGS.clock_port, clock_connection), flush=True)
    print('leech house on 127.0.0.1:%d' % listen(ARGS.port, serve_connection), flush=True)
    while True:
        time.sleep(0.2)
        with LOCK:
            settle()


main()
