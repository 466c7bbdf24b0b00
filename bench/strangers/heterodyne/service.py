"""Heterodyne: a logbook exchange of radio amateurs, in memory, by the standard library alone."""
import argparse, base64, copy, hashlib, hmac, http.client, json, math, random, re, secrets, string, threading, time, uuid
from datetime import datetime, timedelta, timezone
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit
from zoneinfo import ZoneInfo

FAULT = None
LOCK = threading.RLock()
WAKE = threading.Condition(LOCK)
BASE = '/air'
BANDS = ['160m', '80m', '40m', '20m', '15m', '10m']
DAY = 86400000


def bug(name):
    return FAULT == name


# ------------------------------------------------------------------ time
class Clock:
    offset = 0

    def now(self):
        return int(time.time() * 1000) + self.offset


CLOCK = Clock()
now = CLOCK.now


def iso(ms):
    return datetime.fromtimestamp(ms / 1000, timezone.utc).strftime('%Y-%m-%dT%H:%M:%S.') + '%03dZ' % (ms % 1000)


MOMENT = re.compile(r'^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$')


def instant(text):
    """Milliseconds of an RFC 3339 date-time, or None."""
    m = MOMENT.match(text) if isinstance(text, str) else None
    if not m:
        return None
    try:
        y, mo, d, h, mi, s = (int(m.group(i)) for i in range(1, 7))
        base = datetime(y, mo, d, h, mi, min(s, 59), tzinfo=timezone.utc)
        if s > 60:
            return None
        off = 0
        z = m.group(8)
        if z not in 'Zz':
            oh, om = int(z[1:3]), int(z[4:6])
            if oh > 23 or om > 59:
                return None
            off = (oh * 60 + om) * (1 if z[0] == '+' else -1)
        ms = int(base.timestamp()) * 1000 + (1000 if s == 60 else 0) - off * 60000
        return ms + (int(float(m.group(7)) * 1000) if m.group(7) else 0)
    except ValueError:
        return None


# ------------------------------------------------------------------ errors
CODES = {
    'QRM': (400, 'Unreadable.'), 'NO_BODY': (400, None), 'WRONG_ALPHABET': (415, None), 'BAD_QUERY': (400, None),
    'NO_SUCH_LEAF': (416, None), 'LACKS': (422, '{name} is missing'), 'UNHEARD_OF': (422, '{name} is no field'),
    'NOT_YOURS_TO_WRITE': (422, '{name} is not written by callers'), 'QSB': (422, '{name} does not fit'),
    'NO_CALL': (401, None), 'STALE_SEAL': (401, None), 'WHO': (401, None), 'NO_LICENCE': (403, 'The key lacks a scope.'),
    'QRT': (403, None), 'NOBODY_THERE': (404, None), 'DEAD_AIR': (404, None), 'NO_SUCH_KEYING': (405, None),
    'NO_REPLY': (422, None), 'STILL_LOGGED': (409, None), 'DUPE': (409, None), 'OUT_OF_TURN': (409, None),
    'DRIFTED': (412, None), 'UNTUNED': (428, None), 'ECHO': (422, None), 'PILE_UP': (409, None), 'QRS': (429, None),
    'QUOTA': (429, None), 'TOO_LONG': (413, None), 'OLD_EDITION': (410, None), 'NO_EDITION': (400, None),
    'TOO_SLOW': (408, None), 'OFF_AIR': (503, None), 'SMOKE': (500, None),
    'not_your_station': (403, 'Another holds this station.'), 'sealed_log': (409, 'What is settled is not struck.'),
    'under_way': (409, 'It is under way or over.'), 'unjudged': (409, 'There are entries to judge.'),
    'nothing_claimed': (409, 'Nothing is claimed.'), 'silent_key': (409, 'The station is silent.'),
    'not_yet_made': (422, 'That has not happened yet.'), 'entries_over': (409, 'Entries are over.'),
    'contest_full': (409, 'No seat is left.'),
}


class Refusal(Exception):
    def __init__(self, code, where=None, headers=(), own=False):
        super().__init__(code)
        self.code, self.where, self.headers, self.own = code, where, list(headers), own


KINDS = {'missing': 'LACKS', 'unknown': 'UNHEARD_OF', 'read_only': 'NOT_YOURS_TO_WRITE', 'type': 'QSB', 'value': 'QSB'}


def invalid(faults):
    """faults: (kind, path, found, expected), those of what was sent first, in the order in which it was sent."""
    if bug('first-trouble-last'):
        faults = faults[::-1]
    where = []
    for kind, path, found, expected in faults:
        w = {'in': 'body', 'path': path.replace('.', '/') if bug('paths-with-slashes') else path, 'expected': expected}
        if kind != 'missing':
            w['found'] = found
        where.append(w)
    if bug('only-one-trouble'):
        where = where[:1]
    r = Refusal(KINDS[faults[0][0]], where)
    if bug('unknown-as-qsb') and faults[0][0] == 'unknown':
        r.code = 'QSB'
    r.name = faults[0][1]
    return r


def bad_query(name, found=None, expected='another value'):
    return Refusal('BAD_QUERY', [{'in': 'query', 'path': name, 'found': found, 'expected': expected}])


# ------------------------------------------------------------------ fields
class Field:
    json_type = 'value'

    def __init__(self, required=False, read_only=False, immutable=False, default=None, visible=None, derive=None,
                 reveal_once=False, ref=None, bound=False):
        self.required, self.read_only, self.immutable, self.default = required, read_only, immutable, default
        self.visible, self.derive, self.reveal_once, self.ref = visible, derive, reveal_once, ref

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, row, owner=None):
        if row is None:
            return self
        return self.derive(row) if self.derive else row.data.get(self.name)

    def __set__(self, row, value):
        if value is None:
            row.data.pop(self.name, None)
        else:
            row.data[self.name] = value

    def check(self, value, path, faults, version):
        raise NotImplementedError

    def up(self, value, version):
        return value

    def down(self, value, version):
        return value


class Text(Field):
    def __init__(self, pattern=None, least=0, most=None, form=None, **words):
        super().__init__(**words)
        self.pattern, self.least, self.most, self.form = pattern and re.compile(pattern), least, most, form

    def check(self, value, path, faults, version):
        if not isinstance(value, str):
            faults.append(('type', path, value, 'string'))
        elif len(value) < self.least or (self.most is not None and len(value) > self.most):
            faults.append(('value', path, value, 'a length of %s to %s' % (self.least, self.most)))
        elif self.pattern and not self.pattern.search(value):
            faults.append(('value', path, value, 'a text like ' + self.pattern.pattern))
        elif self.pattern and value.endswith('\n'):
            faults.append(('value', path, value, 'a text like ' + self.pattern.pattern))
        elif self.form == 'email' and not bug('mail-unchecked') and not re.match(r'^[^@\s]+@[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$', value):
            faults.append(('value', path, value, 'an address of mail'))
        elif self.form == 'uri' and not reachable(value):
            faults.append(('value', path, value, 'an address to send to'))


def reachable(value):
    try:
        u = urlsplit(value)
        return u.scheme in ('http', 'https') and bool(u.hostname) and not re.search(r'[\s<>"{}|\\^`]', value) and (u.port is None or u.port > 0)
    except ValueError:
        return False


class Whole(Field):
    def __init__(self, least=None, most=None, **words):
        super().__init__(**words)
        self.least, self.most = least, most

    def check(self, value, path, faults, version):
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            faults.append(('type', path, value, 'integer'))
        elif (self.least is not None and value < self.least) or (self.most is not None and value > self.most):
            faults.append(('value', path, value, '%s to %s' % (self.least, self.most)))

    def up(self, value, version):
        return int(value) if isinstance(value, float) else value


class Watts(Whole):
    def check(self, value, path, faults, version):
        if version == 'autumn':
            return super().check(value, path, faults, version)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            faults.append(('type', path, value, 'number'))
        elif not 0.001 <= value <= 1.5:
            faults.append(('value', path, value, '0.001 to 1.5'))

    def up(self, value, version):
        if version == 'autumn' or bug('kilowatts-not-carried-up'):
            return int(value)
        return int(math.floor(value * 1000.0 + 0.5))

    def down(self, value, version):
        if version == 'autumn' or bug('kilowatts-not-carried-down'):
            return value
        return value / 1000.0


class Flag(Field):
    def check(self, value, path, faults, version):
        if not isinstance(value, bool):
            faults.append(('type', path, value, 'boolean'))


class Moment(Field):
    def check(self, value, path, faults, version):
        if not isinstance(value, str):
            faults.append(('type', path, value, 'string'))
        elif instant(value) is None:
            faults.append(('value', path, value, 'a date-time of RFC 3339'))


class Choice(Field):
    def __init__(self, values, older=None, **words):
        super().__init__(**words)
        self.values, self.older = values, older or {}

    def listed(self, version):
        return self.values if version == 'autumn' else [self.down(v, version) for v in self.values]

    def check(self, value, path, faults, version):
        if not isinstance(value, str):
            faults.append(('type', path, value, 'string'))
        elif value not in self.listed(version) and not (bug('mode-extended-by-callers') and self.name == 'mode'):
            faults.append(('value', path, value, 'one of ' + ', '.join(self.listed(version))))

    def up(self, value, version):
        return next((k for k, v in self.older.items() if v == value), value) if version == 'spring' else value

    def down(self, value, version):
        return self.older.get(value, value) if version == 'spring' and not bug('morse-not-carried-down') else value


class Many(Field):
    def __init__(self, item, least=0, most=None, unique=False, **words):
        super().__init__(**words)
        self.item, self.least, self.most, self.unique = item, least, most, unique

    def check(self, value, path, faults, version):
        if not isinstance(value, list):
            faults.append(('type', path, value, 'array'))
            return
        if len(value) < self.least or (self.most is not None and len(value) > self.most):
            faults.append(('value', path, value, '%s to %s items' % (self.least, self.most)))
        texts = [json.dumps(v, sort_keys=True) for v in value]
        if self.unique and len(set(texts)) < len(texts) and not bug('tags-twice'):
            faults.append(('value', path, value, 'items that differ'))
        for i, v in enumerate(value):
            self.item.check(v, '%s.%d' % (path, i), faults, version)


class Topics(Many):
    def check(self, value, path, faults, version):
        before = len(faults)
        super().check(value, path, faults, version)
        if len(faults) == before:
            groups = {k.split('.')[0] + '.*' for k in EVENTS}
            for i, v in enumerate(value):
                if v not in EVENTS and v not in groups and v != '*' and not bug('unknown-topic-taken'):
                    faults.append(('value', '%s.%d' % (path, i), v, 'a kind of event'))


class Bearings(Field):
    def check(self, value, path, faults, version):
        if not isinstance(value, dict):
            faults.append(('type', path, value, 'object'))
            return
        if len(value) > 4 + bug('five-antennas'):
            faults.append(('value', path, value, 'up to 4 members'))
        for k, v in value.items():
            Whole(0, 359 + bug('full-circle')).check(v, path + '.' + k, faults, version)

    def up(self, value, version):
        return {k: int(v) for k, v in value.items()}


class Part(Field):
    """A value that has fields of its own."""

    def __init__(self, shape, **words):
        super().__init__(**words)
        self.shape = shape

    def fields(self):
        return {k: f for k, f in vars(self.shape).items() if isinstance(f, Field)}

    def check(self, value, path, faults, version):
        if not isinstance(value, dict):
            faults.append(('type', path, value, 'object'))
            return
        fields = self.fields()
        for k, v in value.items():
            if k not in fields:
                if not bug('nested-unknown-taken'):
                    faults.append(('unknown', path + '.' + k, v, 'no such field'))
            elif not fields[k].read_only:
                fields[k].check(v, path + '.' + k, faults, version)
        for k, f in fields.items():
            if f.required and not f.read_only and f.default is None and k not in value:
                faults.append(('missing', path + '.' + k, None, 'a value'))

    def up(self, value, version):
        out = {}
        for k, f in self.fields().items():
            if f.read_only:
                continue
            if k in value:
                out[k] = f.up(value[k], version)
            elif f.default is not None:
                out[k] = f.default
        return self.shape.made(out)

    def down(self, value, version):
        return {k: f.down(value[k], version) for k, f in self.fields().items() if k in value}


# ------------------------------------------------------------------ resources
class Resource:
    kinds = {}
    older = {}          # newest name -> name in spring
    later = ()          # not there in spring
    gone = {}           # there in spring alone: name -> what it reads as
    unique = ()
    state_field = None

    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        cls.fields = {k: f for k, f in vars(cls).items() if isinstance(f, Field)}
        cls.rows = {}
        cls.what = cls.__name__.lower()
        Resource.kinds[cls.what] = cls

    def __init__(self, data):
        self.data = data
        self.seq = next(SEQ)
        self.since = now()
        self.fired = set()

    @property
    def key(self):
        return self.data[self.identifier]

    def rules(self, faults):
        pass

    @classmethod
    def name_in(cls, name, version):
        return cls.older.get(name, name) if version == 'spring' and not bug('partner-renamed-too-soon') else name

    @classmethod
    def names(cls, version):
        """name in that version -> field"""
        return {cls.name_in(k, version): f for k, f in cls.fields.items() if version == 'autumn' or k not in cls.later}


def counter():
    n = 0
    while True:
        n += 1
        yield n


SEQ = counter()


def rows(cls):
    return list(cls.rows.values())


def having(cls, **values):
    return [r for r in cls.rows.values() if all(r.data.get(k) == v for k, v in values.items())]


class Rig:
    model = Text(least=2, most=30, required=True)
    watts = Watts(1, 1500, default=100, required=True)
    cls = None

    @staticmethod
    def made(v):
        w = v['watts']
        v['class'] = 'qrp' if w <= (4 if bug('qrp-below-five') else 5) else 'low' if w <= 100 else 'high'
        return v


setattr(Rig, 'class', Text(read_only=True, required=True))
getattr(Rig, 'class').name = 'class'


class Report:
    sent = Text(r'^[1-5][1-9][1-9]?$', required=True)
    heard = Text(r'^[1-5][1-9][1-9]?$', required=True)

    @staticmethod
    def made(v):
        return v


CALL = r'^[A-Z0-9]{3,8}$'


def tallest(values):
    values = [v for v in values if v is not None]
    return max(values) if values else None


class Station(Resource):
    identifier = 'call'
    gone = {'zone': 'unknown'}
    state_field, initial, states = 'state', 'on_air', ['on_air', 'silent']
    call = Text(CALL, required=True)
    owner = Text(read_only=True, required=True)
    club = Text(read_only=True, required=True)
    locator = Text(r'^[A-R]{2}[0-9]{2}$', required=True)
    motto = Text(most=60)
    mail = Text(form='email', visible=('operator', 'steward'))
    rig = Part(Rig)
    antennas = Bearings()
    contacts = Whole(read_only=True, required=True, derive=lambda r: sum(
        1 for c in having(Contact, station=r.key) if c.state != 'struck' or bug('struck-counts')))
    best_km = Whole(read_only=True, derive=lambda r: tallest(
        c.distance_km for c in having(Contact, station=r.key) if c.state == 'confirmed' or bug('best-of-all')))
    state = Text(read_only=True, required=True)
    changed_at = Moment(read_only=True, required=True)


class Contact(Resource):
    identifier = 'id'
    older = {'other': 'partner'}
    later = ('tags',)
    state_field, initial, states = 'state', 'logged', ['logged', 'confirmed', 'disputed', 'lapsed', 'struck']
    unique = ((('station', 'other', 'band', 'mode'), lambda d: d['state'] in (['logged'] if bug('dupe-of-confirmed') else ['logged', 'confirmed'])),)
    id = Text(read_only=True, required=True)
    serial = Whole(read_only=True, required=True)
    station = Text(immutable=True, required=True, ref='station')
    owner = Text(read_only=True, required=True, visible=())
    other = Text(CALL, required=True)
    band = Choice(BANDS, required=True)
    mode = Choice(['cw', 'ssb', 'ft8'], {'cw': 'morse'}, required=True, default='ssb')
    made_at = Moment(required=True)
    report = Part(Report, required=True)
    distance_km = Whole(0, 20040)
    remark = Text(most=120, visible=('operator',))
    tags = Many(Text(r'^[a-z]{2,12}$'), most=5, unique=True)
    points = Whole(read_only=True, required=True)
    objection = Text(read_only=True)
    struck_why = Text(read_only=True)
    confirmed_at = Moment(read_only=True)
    state = Text(read_only=True, required=True)

    @classmethod
    def rules(cls, d, faults):
        if d.get('other') == d.get('station') and not bug('talks-to-itself'):
            faults.append(('value', 'other', d['other'], 'another station than its own'))


class Contest(Resource):
    identifier = 'id'
    state_field, initial, states = 'state', 'announced', ['announced', 'running', 'closed', 'published', 'cancelled']
    id = Whole(read_only=True, required=True)
    name = Text(least=3, most=40, required=True)
    owner = Text(read_only=True, required=True)
    bands = Many(Choice(BANDS), least=1, unique=True, required=True)
    seats = Whole(1, 500, default=20, required=True)
    opens_at = Moment(required=True)
    shuts_at = Moment(required=True)
    entries = Whole(read_only=True, required=True, derive=lambda r: sum(
        1 for e in having(Entry, contest=r.key) if e.state != 'withdrawn' or bug('withdrawn-counts')))
    pending = Whole(read_only=True, required=True, derive=lambda r: len(having(Entry, contest=r.key, state='submitted')))
    top = Whole(read_only=True, derive=lambda r: (min if bug('top-is-lowest') else max)(
        [e.score for e in having(Entry, contest=r.key) if e.score is not None], default=None))
    state = Text(read_only=True, required=True)
    published_at = Moment(read_only=True)

    @classmethod
    def rules(cls, d, faults):
        a, b = instant(d.get('opens_at')), instant(d.get('shuts_at'))
        if bug('times-as-texts'):
            a, b = d.get('opens_at'), d.get('shuts_at')
        if a is not None and b is not None and (b < a if bug('shuts-as-it-opens') else b <= a):
            faults.append(('value', 'shuts_at', d['shuts_at'], 'a time after it opens'))


Contest.unique = ((('name',), lambda d: True),)


class Entry(Resource):
    identifier = 'id'
    state_field, initial = 'state', 'open'
    states = ['open', 'submitted', 'judged', 'laureate', 'ranked', 'void', 'withdrawn']
    unique = ((('contest', 'station'), lambda d: d['state'] != 'withdrawn' or bug('withdrawn-still-unique')),)
    id = Text(read_only=True, required=True)
    label = Text(read_only=True, required=True)
    contest = Whole(immutable=True, required=True, ref='contest')
    station = Text(immutable=True, required=True, ref='station')
    owner = Text(read_only=True, required=True)
    category = Choice(['qrp', 'low', 'high'], required=True)
    claimed = Whole(0, 99999, default=0, required=True)
    slip = Text(read_only=True, required=True, reveal_once=True)
    score = Whole(read_only=True)
    sent_at = Moment(read_only=True)
    state = Text(read_only=True, required=True)


class Relay(Resource):
    identifier = 'id'
    id = Text(read_only=True, required=True)
    owner = Text(read_only=True, required=True)
    url = Text(most=200, form='uri', required=True)
    key_ = None
    topics = Topics(Text(), most=8)
    awake = Flag(default=True, required=True)


# `key` is a field of a relay, and the property that finds a row's identifier
_k = Text(read_only=True, required=True, reveal_once=True)
_k.name = 'key'
_f = Relay.fields
Relay.fields = {k: f for n in ('id', 'owner', 'url', 'key', 'topics', 'awake') for k, f in [(n, _k if n == 'key' else _f[n])]}


class Journal(Resource):
    identifier = 'id'
    id = Text(read_only=True, required=True)
    kind = Text(read_only=True, required=True)
    about = Text(read_only=True, required=True)
    which = Text(read_only=True, required=True)
    owner = Text(read_only=True, required=True)
    by = Text(read_only=True)
    at = Moment(read_only=True, required=True)


EVENTS = ['contact.logged', 'contact.disputed', 'contact.settled', 'station.moved', 'contest.soon', 'contest.running',
          'contest.over', 'entry.judged', 'entry.voided']


# ------------------------------------------------------------------ callers and what they may
class Caller:
    def __init__(self, user, id, scopes, club):
        self.user, self.id, self.scopes, self.club = user, id, frozenset(scopes), club

    def same(self, other):
        return (self.user, self.id) == (other.user, other.id)


GIVEN = [
    ('operator', 'ada', 'hd_AdaKeepsTheLongestLogOf1', 'pass', ['log'], 'north'),
    ('operator', 'bela', 'hd_BelaCallsOnFortyMetres2x', 'pass', ['log'], 'south'),
    ('operator', 'cyd', 'key_cyd:cyd-signs-with-a-rather-long-secret', 'seal', ['log'], 'north'),
    ('operator', 'dov', 'hd_DovHasNoScopeAtAllTodayx', 'pass', [], 'south'),
    ('steward', 'sten', 'hd_StenJudgesAllTheEntriesx', 'pass', ['judge'], 'north'),
    ('steward', 'sue', 'key_sue:sue-signs-what-she-has-judged-here', 'seal', ['judge'], 'south'),
    ('steward', 'sal', 'hd_SalMayNotJudgeAnything5x', 'pass', [], 'south'),
    ('swl', 'wim', 'hd_WimListensEverySaturdayx', 'pass', [], 'north'),
    ('swl', 'wes', 'key_wes:wes-only-listens-but-signs-anyway', 'seal', [], 'south'),
]
PASSES, SEALS = {}, {}
for _u, _i, _c, _s, _p, _a in GIVEN:
    if _s == 'pass':
        PASSES[_c] = Caller(_u, _i, _p, _a)
    else:
        _n, _, _x = _c.partition(':')
        SEALS[_n] = (_x, Caller(_u, _i, _p, _a))


class Rule:
    def __init__(self, ops, users, scopes=(), row=None, nxt=None, shown=None, otherwise=None):
        self.ops, self.users, self.scopes, self.row, self.nxt = ops.split(', '), users.split(', '), set(scopes), row, nxt
        self.shown, self.otherwise = shown, otherwise


def mine(d, c):
    return d.get('owner') == c.id


def others(d, c):
    s = Station.rows.get(d.get('other'))
    return s is not None and s.owner == c.id


def of_station(d, c):
    s = Station.rows.get(d.get('station'))
    return s is not None and s.owner == c.id


RULES = []


def make_rules():
    R = Rule
    RULES[:] = [
        R('read station, list station', 'anyone'),
        R('upsert station', 'operator', ['log'], nxt=(lambda d, c: True) if bug('upsert-anyones') else mine),
        R('update station, delete station, silence station, revive station', 'operator', ['log'], row=mine, otherwise='not_your_station'),
        R('create contact', 'operator', ['log'], nxt=(lambda d, c: True) if bug('log-for-anyone') else of_station, otherwise='not_your_station'),
        R('list contact, read contact', 'operator', row=lambda d, c: mine(d, c) or others(d, c) and not bug('other-side-blind')),
        R('list contact, read contact', 'steward'),
        R('list contact, read contact', 'swl', row=lambda d, c: d['state'] == 'confirmed' or bug('swl-sees-unconfirmed') and d['state'] == 'disputed',
          shown=['station', 'other', 'band', 'mode', 'made_at', 'state'] + (['distance_km'] if bug('swl-sees-distance') else [])),
        R('update contact, strike contact', 'operator', ['log'], row=lambda d, c: mine(d, c) or bug('other-side-edits') and others(d, c)),
        R('confirm contact, dispute contact', 'operator', ['log'], row=lambda d, c: others(d, c) or bug('own-confirmation') and mine(d, c)),
        R('list contest, read contest', 'operator, steward, swl'),
        R('create contest', 'steward', [] if bug('contest-without-scope') else ['judge']),
        R('update contest, cancel contest, publish contest', 'steward', ['judge'], row=(lambda d, c: True) if bug('any-steward-rules') else mine),
        R('create entry', 'operator', ['log'], nxt=(lambda d, c: True) if bug('enter-anyones-station') else of_station, otherwise='not_your_station'),
        R('list entry, read entry, update entry, submit entry, withdraw entry', 'operator', ['log'], row=of_station),
        R('list entry, read entry', 'steward'),
        R('list entry, read entry', 'swl', row=lambda d, c: bug('swl-sees-entries-early') and Contest.rows[d['contest']].state == 'closed' or Contest.rows[d['contest']].state == 'published'),
        R('judge entry', 'steward', ['judge'], row=lambda d, c: bug('any-steward-judges') or mine(Contest.rows[d['contest']].data, c)),
        R('create relay', 'operator, steward, swl'),
        R('list relay, read relay, update relay, delete relay', 'operator, steward, swl', row=mine),
        R('list journal, read journal', 'steward'),
        R('list journal, read journal', 'operator', row=(lambda d, c: True) if bug('journal-for-all') else mine),
    ]
    if bug('relays-of-others'):
        RULES[18].row = None


def rules_for(op, caller):
    return [r for r in RULES if op in r.ops and ('anyone' in r.users or caller and caller.user in r.users)]


def open_rules(op, caller):
    if bug('scopes-of-entries-forgotten') and op == 'submit entry':
        return rules_for(op, caller)
    return [r for r in rules_for(op, caller) if r.scopes <= (caller.scopes if caller else frozenset())]


def may(op, row, caller):
    return any(r.row is None or r.row(row.data, caller) for r in open_rules(op, caller))


def may_read(row, caller):
    return may('read ' + row.what, row, caller)


def shown_fields(cls, caller, row=None):
    """The fields that a caller is shown (of a row, or of whatever row)."""
    out = {k for k, f in cls.fields.items() if f.visible is None or caller and caller.user in f.visible
           or bug('hidden-owner-shown') and k == 'owner' or bug('mail-for-anyone') and k == 'mail'
           or bug('remark-for-steward') and k == 'remark' and caller and caller.user == 'steward'}
    rs = open_rules('read ' + cls.what, caller)
    if row is not None:
        rs = [r for r in rs if r.row is None or r.row(row.data, caller)]
    if rs and all(r.shown for r in rs):
        out &= set().union(*(r.shown for r in rs)) | {cls.identifier}
    return out


def show(row, caller, version, reveal=False, everyone=False):
    cls = type(row)
    seen = shown_fields(cls, caller, None if everyone else row)
    out = {}
    for name, f in cls.fields.items():
        if name not in seen or f.reveal_once and not (reveal or bug('slip-shown-again') and name == 'slip' or bug('key-shown-again') and name == 'key'):
            continue
        if version == 'spring' and name in cls.later and not bug('tags-in-spring'):
            continue
        value = f.derive(row) if f.derive else row.data.get(name)
        if value is None:
            continue
        out[cls.name_in(name, version)] = f.down(value, version)
    if version == 'spring' and not bug('zone-forgotten'):
        out.update(cls.gone)
    return out


# ------------------------------------------------------------------ what is sent, held to a shape
def merge(old, patch):
    if not isinstance(patch, dict):
        return patch
    out = dict(old) if isinstance(old, dict) else {}
    for k, v in patch.items():
        if v is None:
            out.pop(k, None)
        else:
            out[k] = merge(out.get(k), v)
    return out


def take(cls, body, version, mode, row=None, bound=None, refuse=False):
    """mode: create, update or replace. Gives the values that are wanted, by their newest names; None takes away."""
    if not isinstance(body, dict):
        raise invalid([('type', '', body, 'object')])
    faults, want, late = [], {}, []
    names = cls.names(version)
    bound = bound or {}
    for name, value in body.items():
        f = names.get(name)
        if f is None:
            if version == 'spring' and name in cls.gone:
                if value is not None and not isinstance(value, str):
                    faults.append(('type', name, value, 'string'))
            elif not (bug('unknown-taken') and cls is Station):
                faults.append(('unknown', name, value, 'no such field'))
            continue
        if f.read_only or f.name == cls.state_field:
            if refuse and not (bug('points-silently-dropped') and f.name == 'points'):
                faults.append(('read_only', name, value, 'nothing'))
            continue
        if f.name in bound:
            if value != bound[f.name] and not bug('body-beats-path'):
                faults.append(('value', name, value, 'what the path says'))
            elif value != bound[f.name]:
                want[f.name] = value
            continue
        if f.immutable and row is not None:
            if value != row.data.get(f.name) and not (bug('station-moved-by-patch') and f.name == 'station' and value in Station.rows):
                faults.append(('value', name, value, 'as it is'))
            elif bug('station-moved-by-patch'):
                want[f.name] = value
            continue
        if value is None:
            if mode == 'update' and (not f.required or bug('required-taken-away') and f.name == 'made_at'):
                want[f.name] = None
            else:
                faults.append(('type' if mode != 'update' else 'value', name, None, 'a value'))
            continue
        old = row.data.get(f.name) if row is not None else None
        if mode == 'update' and isinstance(value, dict) and isinstance(f, (Part, Bearings)):
            if isinstance(f, Part):
                value = {k: v for k, v in value.items() if k not in f.fields() or not f.fields()[k].read_only}
                base = {k: v for k, v in f.down(old, version).items() if not f.fields()[k].read_only} if old else {}
            else:
                base = old or {}
            value = value if bug('rig-replaced-by-patch') else merge(base, value)
            if old and value == base:
                continue
        n = len(faults)
        f.check(value, name, faults, version)
        if len(faults) == n:
            up = f.up(value, version)
            if isinstance(f, Part) and version == 'spring' and old and 'watts' in old and 'watts' in value and f.down(old, version)['watts'] == value['watts']:
                up['watts'] = old['watts']
                up = f.shape.made(up)
            want[f.name] = up
    for name, f in names.items():
        if mode == 'update' or f.read_only or f.name in bound or f.name in want or name in body:
            continue
        if f.immutable and row is not None:
            continue
        if f.default is not None:
            want[f.name] = f.default
        elif f.required:
            late.append(('missing', name, None, 'a value'))
    faults += late
    merged = {**(row.data if row is not None else {}), **want, **bound}
    bad = {x[1].split('.')[0] for x in faults}
    if hasattr(cls, 'rules') and not isinstance(cls.rules, property) and cls in (Contact, Contest):
        more = []
        cls.rules(merged, more)
        for k, p, f_, e in more:
            p = cls.name_in(p, version)
            if p not in bad:
                faults.append((k, p, f_, e))
    if faults:
        raise invalid(faults)
    return want


def changed(row, want):
    return {k: v for k, v in want.items() if row.data.get(k) != v}


# ------------------------------------------------------------------ events
DELIVERIES = []
ALNUM = string.ascii_letters + string.digits


def rand(n, letters=ALNUM):
    return ''.join(secrets.choice(letters) for _ in range(n))


def wanted(relay, kind):
    t = relay.topics
    if t is None or bug('topics-ignored'):
        return True
    return kind in t or '*' in t or (kind.split('.')[0] + '.*' in t and not bug('star-topics-deaf'))


def emit(kind, row, caller, data=None, ref=False, to=None, at=None):
    eid, t = 'ev.' + rand(16), now()
    if not (bug('clock-not-logged') and caller is None):
        j = Journal({'id': eid, 'kind': kind, 'about': row.what, 'which': str(row.key),
                     'owner': row.data['owner'], 'by': caller.id if caller else ('nobody' if bug('clock-has-no-name') else 'clock'), 'at': iso(t)})
        if bug('log-of-contacts-only') and row.what == 'entry':
            pass
        else:
            Journal.rows[eid] = j
            j.since = t
    if bug('journal-owner-is-actor') and caller and eid in Journal.rows:
        Journal.rows[eid].data['owner'] = caller.id
    for relay in rows(Relay):
        if not (relay.awake or bug('asleep-still-told')) or not wanted(relay, kind):
            continue
        if to is not None:
            if relay.owner != to and not bug('moves-told-to-all'):
                continue
        elif not may_read(row, relay.maker) and not (bug('told-what-is-unreadable') and relay.maker.user == 'operator'):
            continue
        if data is not None:
            payload = data
        elif ref:
            payload = show(row, relay.maker, relay.version) if bug('disputed-in-full') else row.key
        else:
            payload = show(row, relay.maker, 'autumn' if bug('events-in-newest-edition') else relay.version,
                           reveal=bug('slip-in-events'), everyone=not bug('events-unveiled'))
            if bug('events-unveiled') and row.what == 'contact':
                payload['owner'] = row.owner
        body = json.dumps({'sign': kind, 'number': eid, 'sent': iso(t), 'message': payload}).encode()
        if bug('envelope-says-id'):
            body = json.dumps({'sign': kind, 'id': eid, 'sent': iso(t), 'message': payload}).encode()
        for _ in range(2 if bug('told-twice') and kind == 'contact.settled' else 1):
            if _:
                again = 'ev.' + rand(16)
                body = body.replace(eid.encode(), again.encode())
            DELIVERIES.append({'id': again if _ else eid, 'kind': kind, 'relay': relay.key, 'row': (row.what, row.key),
                               'body': body, 'due': t, 'tries': 0, 'flying': False})
    WAKE.notify_all()


def attempt(d, relay):
    with LOCK:
        url, secret = relay.url, relay.data['key']
        t = str(now() // 1000)
    signed = d['id'].encode() + b'.' + t.encode() + b'.' + d['body']
    if bug('seal-without-id'):
        signed = t.encode() + b'.' + d['body']
    mac = hmac.new(secret.encode(), signed, hashlib.sha256 if bug('seal-sha256') else hashlib.sha512).hexdigest()
    status, after = 0, None
    try:
        u = urlsplit(url)
        con = (http.client.HTTPSConnection if u.scheme == 'https' else http.client.HTTPConnection)(u.hostname, u.port, timeout=5)
        con.request('POST', (u.path or '/') + ('?' + u.query if u.query else ''), d['body'],
                    {'Content-Type': 'application/json', 'X-Relay-Seal': 'at=%s,mac=%s' % (t, mac), 'X-Relay-Kind': d['kind'].split('.')[0] if bug('kind-header-short') else d['kind'],
                     'X-Relay-Id': d['id'], 'User-Agent': 'Heterodyne'})
        r = con.getresponse()
        status, after = r.status, r.getheader('Retry-After')
        con.close()
    except (OSError, http.client.HTTPException, ValueError):
        pass
    with LOCK:
        d['flying'] = False
        relay.flying -= 1
        t = now()
        if 200 <= status < 300 or bug('redirect-is-success') and 300 <= status < 400:
            relay.failing = None
            if d in DELIVERIES:
                DELIVERIES.remove(d)
        else:
            if relay.failing is None:
                relay.failing = t
            waits = [60, 600, 3600]
            if bug('fourth-retry'):
                waits = [60, 600]
            if bug('no-retry'):
                waits = []
            if (status == 410 and not bug('gone-ignored')) or t - relay.failing >= 3 * DAY:
                if relay.key in Relay.rows:
                    relay.data['awake'] = False
                DELIVERIES[:] = [x for x in DELIVERIES if x['relay'] != relay.key]
            elif d['tries'] >= len(waits):
                if d in DELIVERIES:
                    DELIVERIES.remove(d)
            else:
                wait = waits[d['tries']] * random.uniform(0.8, 1.2)
                if bug('retry-at-once'):
                    wait = 1
                if bug('new-number-each-try'):
                    d['id'] = 'ev.' + rand(16)
                d['tries'] += 1
                d['due'] = t + int(wait * 1000)
                if after and not bug('retry-after-ignored'):
                    try:
                        ra = int(after) * 1000
                    except ValueError:
                        ra = 0
                    relay.quiet = max(relay.quiet, t + min(ra, DAY))
        WAKE.notify_all()


def dispatch():
    """One thread that sends what is due, and fires what the clock is to fire."""
    while True:
        with LOCK:
            run_due()
            t = now()
            heads, nxt = set(), t + 1000
            for d in list(DELIVERIES):
                relay = Relay.rows.get(d['relay'])
                if relay is None:
                    DELIVERIES.remove(d)
                    continue
                head = (d['relay'], d['row'])
                if (head in heads and not bug('out-of-order')) or d['flying']:
                    heads.add(head)
                    continue
                heads.add(head)
                due = max(d['due'], relay.quiet)
                if due > t:
                    nxt = min(nxt, due)
                    continue
                if relay.failing is not None and relay.flying or relay.flying >= 32:
                    continue
                d['flying'] = True
                relay.flying += 1
                threading.Thread(target=attempt, args=(d, relay), daemon=True).start()
            WAKE.wait(max(0.02, (nxt - t) / 1000))


# ------------------------------------------------------------------ changes
def unique(cls, data, row=None):
    for fields, holds in cls.unique:
        if not holds(data):
            continue
        def place(d):
            v = tuple(d.get(k) for k in fields)
            return tuple(x.casefold() for x in v) if fields == ('name',) and not bug('name-minds-case') else v
        want = place(data)
        if None in want:
            continue
        for r in cls.rows.values():
            if r is not row and holds(r.data) and place(r.data) == want:
                raise Refusal('DUPE')


def disputed_room(data, row=None):
    if data['state'] == 'disputed':
        n = sum(1 for c in having(Contact, station=data['station'], state='disputed') if c is not row)
        if n >= 3 + bug('four-disputes'):
            raise Refusal('QUOTA')


def store(row, data):
    """Puts the values of a change in their place."""
    old, row.data = row.data, data
    return old


def points(d):
    if d['band'] == '160m':
        return 6
    km = d.get('distance_km')
    return 3 if km is not None and (km >= 3000 if bug('points-from-3000') else km > 3000) else 1


def settled(row, was, caller):
    emit('contact.settled', row, caller, {'contact': row.key, 'was': row.state if bug('settled-was-is') else was, 'is': row.state, 'points': row.points})


class Machine:
    """name -> (from, to or a function of next)"""
    station = {'silence': (['on_air'], 'silent'), 'revive': (['silent'], 'on_air')}
    contact = {'confirm': (['logged', 'disputed'], 'confirmed'), 'dispute': (['logged'], 'disputed'), 'strike': (['logged', 'disputed'], 'struck'),
               'lapse': (['logged'], 'lapsed'), 'settle': (['disputed'], lambda d: 'struck' if (d.get('objection') == 'busted') != bug('settle-crossed') else 'lapsed')}
    contest = {'open': (['announced'], 'running'), 'shut': (['running'], 'closed'), 'cancel': (['announced'], 'cancelled'), 'publish': (['closed'], 'published')}
    entry = {'submit': (['open'], 'submitted'), 'judge': (['submitted'], 'judged'), 'withdraw': (['open', 'submitted'], 'withdrawn'), 'void': (['open'], 'void'),
             'rank': (['judged'], lambda d: 'laureate' if d.get('score') is not None and d['score'] == Contest.rows[d['contest']].top else 'ranked')}


def machine_faults():
    m = Machine
    if bug('confirm-lapsed'):
        m.contact['confirm'] = (['logged', 'disputed', 'lapsed'], 'confirmed')
    if bug('disputed-not-confirmable'):
        m.contact['confirm'] = (['logged'], 'confirmed')
    if bug('dispute-confirmed'):
        m.contact['dispute'] = (['logged', 'confirmed'], 'disputed')
    if bug('strike-confirmed'):
        m.contact['strike'] = (['logged', 'disputed', 'confirmed'], 'struck')
    if bug('silence-twice'):
        m.station['silence'] = (['on_air', 'silent'], 'silent')
    if bug('cancel-running'):
        m.contest['cancel'] = (['announced', 'running'], 'cancelled')
    if bug('publish-running'):
        m.contest['publish'] = (['closed', 'running'], 'published')
    if bug('judge-open'):
        m.entry['judge'] = (['open', 'submitted'], 'judged')
    if bug('withdraw-judged'):
        m.entry['withdraw'] = (['open', 'submitted', 'judged'], 'withdrawn')
    if bug('submitted-not-withdrawn'):
        m.entry['withdraw'] = (['open'], 'withdrawn')
    if bug('void-submitted'):
        m.entry['void'] = (['open', 'submitted'], 'void')
    if bug('no-laureate'):
        m.entry['rank'] = (['judged'], 'ranked')


ELSE = {'strike': 'sealed_log', 'cancel': 'under_way'}


def fire(row, name, caller=None, body=None):
    """A transition, with all that follows."""
    origin, target = getattr(Machine, row.what)[name]
    d = dict(row.data)
    if row.state not in origin:
        code = ELSE.get(name)
        if bug('else-of-strike-forgotten') and name == 'strike':
            code = None
        raise Refusal(code or 'OUT_OF_TURN', own=code is not None)
    if name == 'publish' and row.pending and not bug('publish-unjudged'):
        raise Refusal('unjudged', own=True)
    if name == 'submit' and not d['claimed'] > (-1 if bug('submit-nothing') else 0):
        raise Refusal('nothing_claimed', own=True)
    t = iso(now())
    if row.what == 'station' and not bug('silence-keeps-changed'):
        d['changed_at'] = t
    if name == 'confirm':
        d['points'], d['confirmed_at'] = points(d), t
        if bug('confirmed-at-made'):
            d['confirmed_at'] = d['made_at']
    elif name == 'dispute':
        d['objection'] = body['reason']
    elif name == 'strike':
        d['struck_why'] = body.get('why', '' if bug('struck-why-empty') else 'unsaid')
    elif name == 'publish':
        d['published_at'] = t
    elif name == 'judge':
        d['score'] = body['score']
    elif name == 'submit' and not bug('sent-at-forgotten'):
        d['sent_at'] = t
    was = row.state
    d['state'] = target(d) if callable(target) else target
    unique(type(row), d, row)
    if row.what == 'contact':
        disputed_room(d, row)
    store(row, d)
    row.since = now()
    if name == 'dispute':
        emit('contact.disputed', row, caller, ref=True)
    elif name in ('confirm', 'strike', 'lapse', 'settle'):
        if not (bug('lapse-untold') and name == 'lapse'):
            settled(row, was, caller)
    elif name == 'open':
        emit('contest.running', row, caller)
    elif name in ('shut', 'cancel'):
        if not (bug('cancel-untold') and name == 'cancel'):
            emit('contest.over', row, caller)
        if name == 'shut' and not bug('open-entries-stay'):
            follow(row, 'void', caller)
    elif name == 'publish' and not bug('never-ranked'):
        follow(row, 'rank', caller)
    elif name == 'judge':
        emit('entry.judged', row, caller)
    elif name == 'void':
        if not bug('void-untold'):
            emit('entry.voided', row, caller)


def follow(row, name, caller):
    for e in sorted(having(Entry, contest=row.key), key=lambda e: e.seq):
        if e.state in getattr(Machine, 'entry')[name][0]:
            fire(e, name, caller)


def due_list():
    out = []
    for c in Contact.rows.values():
        if c.state == 'logged' and not bug('never-lapses'):
            base = instant(c.made_at) if bug('lapse-from-made') else c.since
            out.append((base + (29 if bug('lapse-a-day-early') else 30) * DAY, c.seq, c, 'lapse'))
        elif c.state == 'disputed':
            base = c.born if bug('settle-from-birth') else c.since
            out.append((base + (8 if bug('settle-late') else 7) * DAY, c.seq, c, 'settle'))
    for c in Contest.rows.values():
        o = instant(c.opens_at)
        if ('soon', o) not in c.fired and not (bug('soon-untold-if-late') and o - DAY <= c.since):
            out.append((o - DAY // (24 if bug('soon-an-hour-before') else 1), c.seq, c, 'soon'))
        if c.state == 'announced':
            out.append(((c.opens_first if bug('old-opening-kept') else o), c.seq, c, 'open'))
        elif c.state == 'running' and not bug('never-shuts'):
            out.append((instant(c.shuts_at), c.seq, c, 'shut'))
    for j in Journal.rows.values():
        if not bug('journal-forever'):
            out.append((j.since + (7 if bug('journal-a-week') else 14) * DAY, j.seq, j, 'gone'))
    return out


def run_due(limit=100000):
    for _ in range(limit):
        t = now()
        due = [x for x in due_list() if x[0] <= t]
        if not due:
            return
        when, _s, row, what = min(due, key=lambda x: (x[0], x[1]))
        if what == 'gone':
            for x in due:
                if x[3] == 'gone' and x[0] == when:
                    Journal.rows.pop(x[2].key, None)
        elif what == 'soon':
            row.fired.add(('soon', instant(row.opens_at)))
            emit('contest.soon', row, None)
        else:
            fire(row, what)


def move(target):
    """Moves the clock to a time, by way of all that falls due on the way."""
    with LOCK:
        while True:
            run_due()
            due = [x[0] for x in due_list() if x[0] <= target]
            if not due:
                break
            CLOCK.offset += max(0, min(due) - now())
            run_due()
        CLOCK.offset += max(0, target - now())
        run_due()
        WAKE.notify_all()


# ------------------------------------------------------------------ rates and quotas
class Rate:
    def __init__(self, per, limit, window, kind='sliding', to=None, on=None, burst=None):
        self.per, self.limit, self.window, self.kind, self.to, self.on, self.burst = per, limit, window * 1000, kind, to, on, burst
        self.used = {}

    def applies(self, q):
        if self.to == 'anyone' and q.caller is not None:
            return False
        if self.to == 'swl' and (q.caller is None or q.caller.user != 'swl'):
            return False
        return self.on is None or q.op == self.on

    def who(self, q):
        if self.per == 'address' or q.caller is None:
            return q.address
        if bug('rate-per-user'):
            return q.caller.user
        return (q.caller.user, q.caller.id)

    def look(self, q, t):
        """(left, ms until there is more) without counting."""
        k = self.who(q)
        if self.kind == 'fixed':
            start, n = self.used.get(k, (t, 0))
            if t >= start + self.window:
                start, n = t, 0
                self.used[k] = (t, 0)
            return self.limit - n, start + self.window - t
        if self.kind == 'sliding':
            l = [x for x in self.used.get(k, []) if x + self.window > t]
            self.used[k] = l
            return self.limit - len(l), (l[0] + self.window - t) if l else self.window
        cap = self.limit if bug('burst-forgotten') else self.burst
        level, at = self.used.get(k, (float(cap), t))
        level = min(cap, level + (t - at) * self.limit / self.window)
        self.used[k] = (level, t)
        return int(level + 1e-9), math.ceil((math.floor(level + 1e-9) + 1 - level) * self.window / self.limit)

    def count(self, q, t, n=1):
        k = self.who(q)
        if self.kind == 'fixed':
            start, used = self.used.get(k, (t, 0))
            self.used[k] = (start, max(0, used + n))
        elif self.kind == 'sliding':
            l = self.used.setdefault(k, [])
            if n > 0:
                l.append(t)
            elif l:
                l.pop()
        else:
            level, at = self.used.get(k, (float(self.burst), t))
            self.used[k] = (level - n, at)


RATES = []
QUOTA = {}


def make_rates():
    RATES[:] = [
        Rate('caller', 401 if bug('rate-one-more') else 400, 60, 'fixed'),
        Rate('address', 60, 120 if bug('anyone-window') else 60, 'fixed', to='anyone'),
        Rate('caller', 30, 120, 'fixed' if bug('sliding-is-fixed') else 'sliding', to=None if bug('swl-rate-for-all') else 'swl', on='list contact'),
        Rate('caller', 60, 60, 'bucket', on='create contact', burst=80),
    ]
    if bug('no-rate-for-anyone'):
        RATES.pop(1)


def rate_fields(found):
    if not found:
        return [], None
    rate, left, ms = min(found, key=lambda x: x[1])
    return [('X-Air-Limit', str(rate.limit)), ('X-Air-Left', str(max(0, left) + bug('left-one-more'))), ('X-Air-Reset', str(math.ceil((now() + ms) / 1000) if bug('reset-as-unix') else math.ceil(ms / 1000)))], ms


def rated(q):
    t = now()
    q.rated = [r for r in RATES if r.applies(q)]
    found = [(r,) + r.look(q, t) for r in q.rated]
    refused = [x for x in found if x[1] < 1]
    if refused:
        q.rated = []
        q.rate_headers, _ = rate_fields(refused)
        wait = max(x[2] for x in refused)
        reset = math.ceil((t + min(refused, key=lambda x: x[1])[2]) / 1000)
        q.rate_headers = rate_fields(found)[0]
        extra = [] if bug('no-retry-after') else [('Retry-After', str(math.ceil(wait / 1000)))]
        raise Refusal('QRS', headers=extra + ([] if bug('no-x-wait') else [('X-Wait', str(reset))]))
    for r in q.rated:
        r.count(q, t)
    q.rate_headers = rate_fields([(r,) + r.look(q, t) for r in q.rated])[0]


BERLIN = ZoneInfo('Europe/Berlin')


def week():
    d = datetime.fromtimestamp(now() / 1000, timezone.utc if bug('quota-week-utc') else BERLIN)
    start = d.date() - timedelta(days=(d.weekday() + 1) % 7 if bug('quota-from-sunday') else d.weekday())
    return start.isoformat(), start


def quota_left(q):
    name, start = week()
    if QUOTA.get((name, q.caller.id), 0) >= 12 + bug('quota-thirteen'):
        end = datetime.combine(start + timedelta(days=7), datetime.min.time(), BERLIN)
        raise Refusal('QUOTA', headers=[('Retry-After', str(max(1, math.ceil(end.timestamp() - now() / 1000))))])


def quota_used(q, n=1):
    k = (week()[0], q.caller.id)
    QUOTA[k] = QUOTA.get(k, 0) + n


# ------------------------------------------------------------------ requests
class Query:
    """One request, on its way through the steps."""
    caller = None
    version = 'autumn'
    code = None

    def __init__(self):
        self.rated, self.rate_headers, self.args, self.args_raw = [], [], {}, []


class Answer:
    def __init__(self, status, value=None, headers=(), hidden=None):
        self.status, self.value, self.headers, self.hidden = status, value, list(headers), hidden


ROUTES = []


def route(method, path, op, **words):
    def put(fn):
        rx = re.compile('^' + re.sub(r'\{(\w+)\}', r'(?P<\1>[^/]+)', path) + '$')
        ROUTES.append((method, rx, op, fn, words, path))
        return fn
    return put


def find_row(q, cls, key, op, ready=True):
    """Step 10: the row of a path, which its caller may read, and may do this to."""
    if cls is Contest:
        key = int(key) if re.match(r'^(0|[1-9]\d{0,15})$', key) else None
    row = cls.rows.get(key)
    if row is None:
        raise Refusal('NOBODY_THERE')
    rs = open_rules(op, q.caller)
    if any(r.row is None or r.row(row.data, q.caller) for r in rs):
        return row
    if not may_read(row, q.caller) and not bug('unreadable-is-forbidden'):
        raise Refusal('NOBODY_THERE')
    raise Refusal(next((r.otherwise for r in rs if r.otherwise), None) or 'QRT')


def next_rules(q, op, data):
    rs = open_rules(op, q.caller)
    if not any(r.nxt is None or r.nxt(data, q.caller) for r in rs):
        raise Refusal(next((r.otherwise for r in rs if r.otherwise), None) or 'QRT')


def at(path):
    return ('' if bug('location-without-base') else BASE) + path


# --- parameters of lists
def one(q, name, check=None, expected='another value'):
    v = q.args.get(name)
    if v is None:
        return None
    if len(v) > 1:
        raise bad_query(name, v)
    if check and not check(v[0]):
        raise bad_query(name, v[0], expected)
    return v[0]


def whole(q, name):
    v = one(q, name, lambda s: re.match(r'^-?\d{1,15}$', s), 'integer')
    return None if v is None else int(v)


def allowed(q, *names):
    for n, v in q.args.items():
        if n != 'edition' and n not in names and not bug('unknown-parameters-taken'):
            raise bad_query(n, v[0], 'no such parameter')


def selection(q, cls):
    v = q.args.get('show')
    if v is None:
        return None
    names = [n for x in v for n in x.split(',')]
    for n in names:
        if n not in shown_fields(cls, q.caller) and not bug('show-takes-anything'):
            raise bad_query('show', n, 'a field')
    return set(names) | (set() if bug('show-without-id') else {cls.identifier})


def chosen(value, names):
    return value if names is None else {k: v for k, v in value.items() if k in names}


def leaves(q):
    def number(name, default):
        v = q.args.get(name)
        if v is None:
            return default
        if len(v) > 1:
            raise bad_query(name, v)
        if not re.match(r'^\d{1,9}$', v[0]) or int(v[0]) < 1:
            raise Refusal('NO_SUCH_LEAF', [{'in': 'query', 'path': name, 'found': v[0], 'expected': 'a number from 1'}])
        return int(v[0])
    size = number('lines', 20 if bug('default-twenty') else 10)
    q.size = size if bug('lines-unclamped') else min(size, 40)
    if bug('over-max-refused') and size > 40:
        raise Refusal('NO_SUCH_LEAF')
    q.leaf = number('leaf', 1)


def page(q, found, draw):
    size, leaf = q.size, q.leaf
    start = (leaf - 1) * size
    if bug('leaf-from-zero') and leaf > 1:
        start += size
    part = found[start:start + size]
    more = start + size < len(found)
    if bug('more-when-full'):
        more = len(part) == size

    def address(n):
        args = [(k, v) for k, v in q.args_raw if k != 'leaf'] + [('leaf', str(n))]
        if bug('links-lose-filters'):
            args = [('leaf', str(n))]
        return '<%s?%s>' % (q.path, urlencode(args))
    links = []
    if more:
        links.append(address(leaf + 1) + '; rel="next"')
    if leaf > 1:
        links.append(address(leaf - 1) + '; rel="prev"')
    links.append(address(1) + '; rel="first"')
    if bug('no-links'):
        links = []
    return Answer(200, {'pages': [draw(r) for r in part], 'all': len(part) if bug('all-of-leaf') else len(found), 'more': more}, [('Link', l) for l in links])


def readable(q, cls, op):
    rs = open_rules(op, q.caller)
    if bug('lists-unruled') and cls is Contact:
        return rows(cls)
    return [r for r in rows(cls) if any(x.row is None or x.row(r.data, q.caller) for x in rs)]


PAGES = ('lines', 'leaf')


# --- stations
@route('GET', '/bands', 'list bands', public=True, params=lambda q: allowed(q))
def bands(q):
    return Answer(200, {'bands': BANDS[:-1] if bug('ten-metres-gone') else BANDS})


def tag_of(row, caller, version):
    return '"%s"' % hashlib.sha256((version + json.dumps(show(row, caller, version), sort_keys=True)).encode()).hexdigest()[:24]


def precondition(q, row, required):
    v = q.headers.get('If-Match')
    if v is None:
        if required and not bug('if-match-optional'):
            raise Refusal('UNTUNED')
        return
    if row is None:
        raise Refusal('DRIFTED')
    tags = [t.strip() for t in v.split(',')]
    good = {tag_of(row, q.caller, q.version), tag_of(row, None, q.version)}
    if '*' not in tags and not good & set(tags) and not (bug('any-tag-fits') and required) \
            and not (bug('weak-tags-fit') and good & {t[2:] for t in tags if t.startswith('W/')}):
        raise Refusal('DRIFTED')


@route('PUT', '/stations/{call}', 'upsert station', body=True, params=lambda q: allowed(q))
def put_station(q, call):
    row = Station.rows.get(call)
    if bug('put-blind'):
        pass
    else:
        precondition(q, row, False)
    if not re.fullmatch(CALL, call):
        raise invalid([('value', 'call', call, 'a text like ' + CALL)])
    want = take(Station, q.body, q.version, 'replace', row, bound={'call': call})
    if row is None:
        data = {'call': call, 'owner': q.caller.id, 'club': 'none' if bug('club-forgotten') else q.caller.club, 'state': 'on_air', 'changed_at': iso(now()), **want}
        next_rules(q, 'upsert station', data)
        unique(Station, data)
        row = Station(data)
        Station.rows[call] = row
        loc = at('/stations/' + call)
        return Answer(200 if bug('put-always-200') else 201, show(row, q.caller, q.version), [('Location', BASE if bug('location-of-nothing') else loc)])
    data = dict(row.data)
    seen = shown_fields(Station, q.caller)
    for n, f in Station.fields.items():
        if not (f.read_only or f.required or n in want or n not in seen or n in Station.later and q.version == 'spring') and not bug('put-keeps-optional'):
            data.pop(n, None)
    data.update(want)
    next_rules(q, 'upsert station', data)
    stored(q, row, data)
    return Answer(200, show(row, q.caller, q.version))


def stored(q, row, data):
    """An update of a station: nothing where nothing changes."""
    if data == row.data and not bug('unchanged-stamped'):
        return
    if not (bug('changed-at-of-patch') and q.method == 'PATCH'):
        data['changed_at'] = iso(now())
    old = store(row, data)
    if old['locator'] != data['locator'] or bug('moved-without-moving'):
        if not (bug('put-moves-untold') and q.method == 'PUT'):
            emit('station.moved', row, q.caller, {'call': row.key, 'from': data['locator'] if bug('moved-from-to') else old['locator'], 'to': data['locator']}, to=row.owner)


@route('GET', '/stations/{call}', 'read station', params=lambda q: allowed(q))
def read_station(q, call):
    row = find_row(q, Station, call, 'read station')
    tag = tag_of(row, q.caller, q.version)
    if bug('tag-of-first') and row.data.setdefault('_t', tag):
        tag = row.data['_t']
    heads = [('ETag', 'W/' + tag if bug('weak-tag') else tag), ('Cache-Control', 'public, max-age=600' if bug('cached-publicly') else 'private, no-cache')]
    seen = q.headers.get('If-None-Match')
    if seen and not bug('never-304') and (seen.strip() == '*' or tag in [t.strip()[2:] if t.strip().startswith('W/') else t.strip() for t in seen.split(',')]):
        return Answer(304, None, heads)
    return Answer(200, show(row, q.caller, q.version), heads)


def station_params(q):
    allowed(q, 'club', 'square', 'state', 'q', 'min_contacts', *PAGES)
    q.f = {'club': one(q, 'club'), 'square': one(q, 'square', lambda v: len(v) <= 4), 'min': whole(q, 'min_contacts'), 'q': one(q, 'q'), 'state': q.args.get('state')}
    for s in q.f['state'] or []:
        if s not in Station.states:
            raise bad_query('state', s)
    if q.f['q'] is not None and len(q.f['q'].split()) > 16:
        raise bad_query('q', q.f['q'], 'up to 16 words')
    leaves(q)


@route('GET', '/stations', 'list station', params=station_params)
def list_station(q):
    f, found = q.f, readable(q, Station, 'list station')
    if f['club'] is not None:
        found = [r for r in found if r.club == f['club']]
    if f['square'] is not None:
        found = [r for r in found if (f['square'] in r.locator if bug('square-anywhere') else r.locator.startswith(f['square']))]
    if f['state']:
        found = [r for r in found if r.state in (f['state'][:1] if bug('first-state-alone') else f['state'])]
    if f['min'] is not None:
        found = [r for r in found if (r.contacts > f['min'] if bug('min-contacts-above') else r.contacts >= f['min'])]
    if f['q'] is not None:
        words = f['q'].split()
        def has(r, w):
            return any((w in (t or '')) if bug('search-minds-case') else (w.casefold() in (t or '').casefold()) for t in (r.call, r.motto))
        found = [r for r in found if (any if bug('search-any-word') else all)(has(r, w) for w in words)]
    found.sort(key=lambda r: r.seq if bug('stations-by-age') else r.call)
    return page(q, found, lambda r: show(r, q.caller, q.version))


@route('PATCH', '/stations/{call}', 'update station', body=True, merge=True, params=lambda q: allowed(q))
def patch_station(q, call):
    row = find_row(q, Station, call, 'update station')
    precondition(q, row, True)
    body = q.body
    bound = {}
    if isinstance(body, dict) and 'call' in body:
        if body['call'] != row.key:
            raise invalid([('value', 'call', body['call'], 'as it is')])
        body = {k: v for k, v in body.items() if k != 'call'}
    want = take(Station, body, q.version, 'update', row)
    data = {k: v for k, v in {**row.data, **want}.items() if v is not None}
    stored(q, row, data)
    return Answer(200, show(row, q.caller, q.version))


@route('DELETE', '/stations/{call}', 'delete station', params=lambda q: allowed(q))
def delete_station(q, call):
    row = find_row(q, Station, call, 'delete station')
    if having(Contact, station=call) and not bug('logs-lost'):
        raise Refusal('STILL_LOGGED')
    for e in having(Entry, station=call):
        if not bug('orphan-entries'):
            Entry.rows.pop(e.key)
    Station.rows.pop(call)
    return Answer(204)


def mover(cls, name, op, answer=None):
    def go(q, **path):
        row = find_row(q, cls, path.get('call') or path.get('id'), op)
        if q.body_check:
            q.body_check(q)
        fire(row, name, q.caller, q.body)
        return answer(q, row) if answer else Answer(200, show(row, q.caller, q.version))
    return go


for _t in ('silence', 'revive'):
    route('POST', '/stations/{call}/' + _t, _t + ' station', params=lambda q: allowed(q))(mover(Station, _t, _t + ' station'))


# --- contacts
@route('POST', '/stations/{station}/contacts', 'create contact', body=True, params=lambda q: allowed(q))
def create_contact(q, station):
    parent = Station.rows.get(station)
    if parent is None:
        raise Refusal('NOBODY_THERE')
    want = take(Contact, q.body, q.version, 'create', bound={'station': station})
    data = {**{'station': station}, **want, 'owner': q.caller.id, 'points': 0, 'state': 'logged'}
    next_rules(q, 'create contact', data)
    if parent.state == 'silent' and not bug('silent-logs'):
        raise Refusal('silent_key', own=True)
    if instant(data['made_at']) > now() + (DAY if bug('tomorrow-is-fine') else 0):
        raise Refusal('not_yet_made', own=True)
    if bug('serial-leaves-gaps'):
        Contact.serials[station] = Contact.serials.get(station, 0) + 1
    unique(Contact, data)
    if not bug('serial-leaves-gaps'):
        Contact.serials[station] = Contact.serials.get(station, 0) + 1
    where = '*' if bug('serial-over-all') else station
    if where == '*':
        Contact.serials['*'] = Contact.serials.get('*', 0) + 1
    data['id'], data['serial'] = 'ct-' + rand(10 if bug('short-contact-id') else 12, '0123456789abcdef'), Contact.serials[where]
    row = Contact(data)
    row.born = row.since
    Contact.rows[row.key] = row
    emit('contact.logged', row, q.caller)
    return Answer(201, show(row, q.caller, q.version), [('Location', at('/contacts/' + row.key))])


Contact.serials = {}


def contact_params(q):
    spring = q.version == 'spring'
    other = 'partner' if spring else 'other'
    names = ['station', other, 'band', 'mode', 'club', 'since', 'until', 'over_km', 'open', 'sort', 'way'] + ([] if spring else ['tag'])
    allowed(q, *names, *PAGES)
    listed = Contact.fields['mode'].listed(q.version)
    call = lambda v: re.fullmatch(CALL, v.upper())
    f = q.f = {'station': one(q, 'station', lambda v: re.fullmatch(CALL, v)), 'other': one(q, other, call), 'mode': one(q, 'mode', lambda v: v in listed),
               'tag': one(q, 'tag', lambda v: re.match(r'^[a-z]{2,12}$', v)) if not spring else None, 'club': one(q, 'club'),
               'since': one(q, 'since', lambda v: instant(v) is not None), 'until': one(q, 'until', lambda v: instant(v) is not None),
               'over_km': whole(q, 'over_km'), 'open': one(q, 'open', lambda v: v in ('true', 'false')),
               'sort': one(q, 'sort', lambda v: v.lstrip('-') in ('made', 'band') and not v.startswith('--')), 'way': one(q, 'way', lambda v: v in ('asc', 'desc'))}
    band = one(q, 'band')
    f['band'] = None
    if band is not None:
        f['band'] = band.split('|')
        if any(b not in BANDS for b in f['band']):
            raise bad_query('band', band)
    seen = shown_fields(Contact, q.caller)
    for name, field in (('tag', 'tags'), ('over_km', 'distance_km')):
        if f[name] is not None and field not in seen and not bug('swl-filters-unseen'):
            raise bad_query(name)
    leaves(q)


@route('GET', '/contacts', 'list contact', params=contact_params)
def list_contact(q):
    f, found = q.f, readable(q, Contact, 'list contact')
    def keep(fn):
        nonlocal found
        found = [r for r in found if fn(r)]
    if f['station'] is not None:
        keep(lambda r: r.station == f['station'])
    if f['other'] is not None:
        keep(lambda r: r.other == f['other'] if bug('other-minds-case') else r.other.casefold() == f['other'].casefold())
    if f['band'] is not None:
        keep(lambda r: r.band in (f['band'][-1:] if bug('last-band-alone') else f['band']))
    if f['mode'] is not None:
        m = Contact.fields['mode'].up(f['mode'], q.version)
        keep(lambda r: r.mode == (f['mode'] if bug('morse-filter-not-carried') else m))
    if f['tag'] is not None:
        keep(lambda r: f['tag'] in (r.tags or [])[:1] if bug('first-tag-alone') else f['tag'] in (r.tags or []))
    if f['club'] is not None:
        keep(lambda r: Station.rows[r.station].club == f['club'])
    if f['since'] is not None:
        keep(lambda r: instant(r.made_at) > instant(f['since']) if bug('since-excludes') else instant(r.made_at) >= instant(f['since']))
    if f['until'] is not None:
        keep(lambda r: instant(r.made_at) <= instant(f['until']) if bug('until-includes') else instant(r.made_at) < instant(f['until']))
    if f['over_km'] is not None:
        keep(lambda r: r.distance_km is not None and (r.distance_km >= f['over_km'] if bug('over-km-includes') else r.distance_km > f['over_km']))
    if f['open'] is not None:
        keep(lambda r: r.state in (['logged'] if bug('disputed-not-open') else ['logged', 'disputed']) if f['open'] == 'true' else r.state in ['confirmed', 'lapsed', 'struck'])
    sort = f['sort'] or '-made'
    down = sort.startswith('-')
    if f['way'] == 'desc' and not bug('way-ignored'):
        down = not down
    found.sort(key=lambda r: r.seq, reverse=not bug('ties-oldest'))
    by = (lambda r: r.made_at if bug('made-at-as-text') else instant(r.made_at)) if sort.endswith('made') else (lambda r: r.band)
    found.sort(key=by, reverse=down)
    return page(q, found, lambda r: show(r, q.caller, q.version))


@route('GET', '/contacts/{id}', 'read contact', params=lambda q: allowed(q))
def read_contact(q, id):
    return Answer(200, show(find_row(q, Contact, id, 'read contact'), q.caller, q.version))


@route('PATCH', '/contacts/{id}', 'update contact', body=True, merge=True, params=lambda q: allowed(q))
def patch_contact(q, id):
    row = find_row(q, Contact, id, 'update contact')
    if bug('state-before-request') and row.state != 'logged':
        raise Refusal('OUT_OF_TURN')
    want = take(Contact, q.body, q.version, 'update', row, refuse=True)
    if row.state != 'logged' and not (bug('disputed-edited') and row.state == 'disputed'):
        raise Refusal('OUT_OF_TURN')
    data = {k: v for k, v in {**row.data, **want}.items() if v is not None}
    if instant(data['made_at']) > now() and not bug('future-by-patch'):
        raise Refusal('not_yet_made', own=True)
    if not bug('dupe-by-patch'):
        unique(Contact, data, row)
    store(row, data)
    if bug('patch-restarts-lapse'):
        row.since = now()
    return Answer(200, show(row, q.caller, q.version))


def inline(required, checks):
    def look(q):
        faults, late = [], []
        if not isinstance(q.body, dict):
            raise invalid([('type', '', q.body, 'object')])
        for k, v in q.body.items():
            if k in checks:
                if bug('judge-unbounded') and k == 'score':
                    continue
                checks[k].check(v, k, faults, 'autumn')
        late = [('missing', k, None, 'a value') for k in required if k not in q.body]
        if faults or late:
            raise invalid(faults + late)
        for k in checks:
            if k in q.body:
                q.body[k] = checks[k].up(q.body[k], 'autumn')
    return look


def disputed(q, row):
    return Answer(200 if bug('dispute-is-200') else 202, {'contact': row.key, 'objection': row.objection,
                  'until': iso(now() + (6 if bug('until-six-days') else 7) * DAY)})


route('POST', '/contacts/{id}/confirm', 'confirm contact', params=lambda q: allowed(q))(mover(Contact, 'confirm', 'confirm contact'))
route('POST', '/contacts/{id}/dispute', 'dispute contact', body=True, params=lambda q: allowed(q),
      check=inline(['reason'], {'reason': Choice(['busted', 'not_in_log', 'wrong_time']), 'words': Text(most=80)}))(mover(Contact, 'dispute', 'dispute contact', disputed))
route('POST', '/contacts/{id}/strike', 'strike contact', body='optional', params=lambda q: allowed(q),
      check=inline([], {'why': Text(least=1, most=40)}))(mover(Contact, 'strike', 'strike contact'))


# --- contests
@route('POST', '/contests', 'create contest', body=True, params=lambda q: allowed(q))
def create_contest(q):
    want = take(Contest, q.body, q.version, 'create', refuse=True)
    data = {**want, 'owner': q.caller.id, 'state': 'announced'}
    unique(Contest, data)
    data['id'] = next(CONTESTS)
    row = Contest(data)
    row.opens_first = instant(data['opens_at'])
    Contest.rows[row.key] = row
    return Answer(201, show(row, q.caller, q.version), [('Location', at('/contests/%d' % row.key))])


CONTESTS = counter()


def contest_params(q):
    allowed(q, 'state', 'name', 'sort', 'show', *PAGES)
    q.f = {'state': one(q, 'state', lambda v: v in Contest.states), 'name': one(q, 'name'),
           'sort': one(q, 'sort', lambda v: v in ('opens_at', '-opens_at', 'name', '-name')), 'show': selection(q, Contest)}
    leaves(q)


@route('GET', '/contests', 'list contest', params=contest_params)
def list_contest(q):
    f, found = q.f, readable(q, Contest, 'list contest')
    if f['state'] is not None:
        found = [r for r in found if r.state == f['state']]
    if f['name'] is not None:
        fold = (lambda s: s) if bug('contest-search-minds-case') else str.casefold
        found = [r for r in found if (fold(r.name).startswith(fold(f['name'])) if bug('contains-is-prefix') else fold(f['name']) in fold(r.name))]
    sort = f['sort'] or 'opens_at'
    key = (lambda r: instant(r.opens_at)) if sort.endswith('opens_at') else (lambda r: r.name.casefold())
    found.sort(key=key, reverse=sort.startswith('-') and not bug('minus-ignored'))
    return page(q, found, lambda r: chosen(show(r, q.caller, q.version), f['show']))


def show_params(q):
    allowed(q, 'show')
    q.names = selection(q, Contest)


@route('GET', '/contests/{id}', 'read contest', params=show_params)
def read_contest(q, id):
    return Answer(200, chosen(show(find_row(q, Contest, id, 'read contest'), q.caller, q.version), q.names))


@route('PATCH', '/contests/{id}', 'update contest', body=True, merge=True, params=lambda q: allowed(q))
def patch_contest(q, id):
    row = find_row(q, Contest, id, 'update contest')
    want = take(Contest, q.body, q.version, 'update', row)
    if row.state != 'announced' and not bug('running-edited'):
        raise Refusal('OUT_OF_TURN')
    data = {k: v for k, v in {**row.data, **want}.items() if v is not None}
    unique(Contest, data, row)
    store(row, data)
    return Answer(200, show(row, q.caller, q.version))


for _t in ('cancel', 'publish'):
    route('POST', '/contests/{id}/' + _t, _t + ' contest', params=lambda q: allowed(q))(mover(Contest, _t, _t + ' contest'))


# --- entries
def contest_of(q, contest):
    key = int(contest) if re.match(r'^(0|[1-9]\d{0,15})$', contest) else None
    row = Contest.rows.get(key)
    if row is None or not may_read(row, q.caller):
        raise Refusal('NOBODY_THERE')
    return row


@route('POST', '/contests/{contest}/entries', 'create entry', body=True, params=lambda q: allowed(q))
def create_entry(q, contest):
    parent = contest_of(q, contest)
    want = take(Entry, q.body, q.version, 'create', bound={'contest': parent.key})
    data = {'contest': parent.key, **want, 'owner': q.caller.id, 'state': 'open'}
    if data['station'] not in Station.rows:
        raise invalid([('value', 'station', data['station'], 'a station')]) if bug('no-reply-as-qsb') else Refusal('NO_REPLY')
    next_rules(q, 'create entry', data)
    if parent.state not in ('announced', 'running') and not (bug('late-entries') and parent.state == 'closed'):
        raise Refusal('entries_over', own=True)
    if parent.entries >= parent.seats + bug('one-seat-more'):
        raise Refusal('contest_full', own=True)
    if bug('quota-of-refused'):
        quota_left(q)
        quota_used(q)
    unique(Entry, data)
    if not bug('quota-of-refused'):
        quota_left(q)
        quota_used(q)
    n = parent.labels = getattr(parent, 'labels', 0) + 1
    data.update(id=str(uuid.uuid4()), label=('E-%d' if bug('label-unpadded') else 'E-%03d') % n, slip=rand(6, string.digits))
    row = Entry(data)
    Entry.rows[row.key] = row
    heads = [('Location', '%s/%s' % (q.path, row.key))] + ([] if bug('no-x-label') else [('X-Label', row.label)])
    return Answer(201, show(row, q.caller, q.version, reveal=True), heads, show(row, q.caller, q.version))


def entry_params(q):
    allowed(q, 'category', 'state', *PAGES)
    q.f = {'category': q.args.get('category'), 'state': one(q, 'state', lambda v: v in Entry.states)}
    for c in q.f['category'] or []:
        if c not in ('qrp', 'low', 'high'):
            raise bad_query('category', c)
    leaves(q)


@route('GET', '/contests/{contest}/entries', 'list entry', params=entry_params)
def list_entry(q, contest):
    parent = contest_of(q, contest)
    found = [r for r in readable(q, Entry, 'list entry') if r.contest == parent.key or bug('entries-of-all-contests')]
    if q.f['category']:
        found = [r for r in found if r.category in q.f['category']]
    if q.f['state'] is not None:
        found = [r for r in found if (r.state == q.f['state']) == bug('state-is-equal')]
    found.sort(key=lambda r: (r.claimed if bug('least-claimed-first') else -r.claimed, r.label))
    return page(q, found, lambda r: show(r, q.caller, q.version))


def with_params(q):
    allowed(q, 'with')
    q.names = [n for v in q.args.get('with', []) for n in v.split(',')]
    for n in q.names:
        if n not in ('contest', 'station'):
            raise bad_query('with', n, 'contest or station')


def entry_of(q, contest, id, op):
    parent = contest_of(q, contest)
    row = Entry.rows.get(id)
    if row is not None and row.contest != parent.key and not bug('entry-under-any-contest'):
        raise Refusal('NOBODY_THERE')
    return find_row(q, Entry, id, op)


@route('GET', '/contests/{contest}/entries/{id}', 'read entry', params=with_params)
def read_entry(q, contest, id):
    row = entry_of(q, contest, id, 'read entry')
    out = show(row, q.caller, q.version)
    for n in q.names:
        cls = Resource.kinds[n]
        target = cls.rows[out[n] if not isinstance(out[n], dict) else row.data[n]]
        if may_read(target, q.caller) and not bug('with-ignored'):
            out[n] = {k: v for k, v in target.data.items() if k != '_t'} if bug('with-unveiled') else show(target, q.caller, q.version)
    return Answer(200, out)


@route('PATCH', '/contests/{contest}/entries/{id}', 'update entry', body=True, merge=True, params=lambda q: allowed(q))
def patch_entry(q, contest, id):
    row = entry_of(q, contest, id, 'update entry')
    want = take(Entry, q.body, q.version, 'update', row)
    if row.state != 'open' and not bug('submitted-edited'):
        raise Refusal('OUT_OF_TURN')
    store(row, {k: v for k, v in {**row.data, **want}.items() if v is not None})
    return Answer(200, show(row, q.caller, q.version))


def judged(q, row):
    out = {'entry': row.key, 'score': row.score}
    top = Contest.rows[row.contest].top
    if top is not None:
        out['best'] = row.score if bug('best-is-own') else top
    return Answer(200, out)


for _t in ('submit', 'withdraw'):
    route('POST', '/entries/{id}/' + _t, _t + ' entry', params=lambda q: allowed(q))(mover(Entry, _t, _t + ' entry'))
route('POST', '/entries/{id}/judge', 'judge entry', body=True, params=lambda q: allowed(q),
      check=inline(['score'], {'score': Whole(0, 99999)}))(mover(Entry, 'judge', 'judge entry', judged))


# --- relays
def uuid7():
    n = (now() << 80) | (7 << 76) | (secrets.randbits(12) << 64) | (2 << 62) | secrets.randbits(62)
    return str(uuid.UUID(int=n))



@route('POST', '/relays', 'create relay', body=True, params=lambda q: allowed(q))
def create_relay(q):
    want = take(Relay, q.body, q.version, 'create')
    if sum(1 for r in rows(Relay) if r.owner == q.caller.id) >= (5 if bug('five-relays') else 4):
        raise Refusal('QUOTA')
    row = Relay({'id': str(uuid.uuid4()) if bug('relay-uuid4') else uuid7(), **want, 'owner': q.caller.id, 'key': 'rk.' + rand(32)})
    row.maker, row.version, row.failing, row.flying, row.quiet = q.caller, q.version, None, 0, 0
    Relay.rows[row.key] = row
    return Answer(201, show(row, q.caller, q.version, reveal=True), [('Location', at('/relays/' + row.key))], show(row, q.caller, q.version))


@route('GET', '/relays', 'list relay', params=lambda q: allowed(q))
def list_relay(q):
    found = [show(r, q.caller, q.version) for r in readable(q, Relay, 'list relay')]
    return Answer(200, {'pages': found} if bug('relays-wrapped') else found)


@route('GET', '/relays/{id}', 'read relay', params=lambda q: allowed(q))
def read_relay(q, id):
    return Answer(200, show(find_row(q, Relay, id, 'read relay'), q.caller, q.version))


@route('PATCH', '/relays/{id}', 'update relay', body=True, merge=True, params=lambda q: allowed(q))
def patch_relay(q, id):
    row = find_row(q, Relay, id, 'update relay')
    want = take(Relay, q.body, q.version, 'update', row)
    data = {k: v for k, v in {**row.data, **want}.items() if v is not None}
    if data.get('awake') and not row.awake:
        row.failing = None
    store(row, data)
    return Answer(200, show(row, q.caller, q.version))


@route('DELETE', '/relays/{id}', 'delete relay', params=lambda q: allowed(q))
def delete_relay(q, id):
    row = find_row(q, Relay, id, 'delete relay')
    if not bug('relay-lives-on'):
        Relay.rows.pop(row.key)
    if bug('delete-answers-200'):
        return Answer(200, show(row, q.caller, q.version))
    return Answer(204)


# --- the journal
def journal_params(q):
    allowed(q, 'kind', 'about', 'after', 'before', 'lines')
    q.f = {'kind': one(q, 'kind'), 'about': one(q, 'about')}
    v = one(q, 'lines')
    if v is not None and not (re.match(r'^\d{1,9}$', v) and 1 <= int(v) <= (10 ** 9 if bug('journal-unbounded') else 20)):
        raise Refusal('NO_SUCH_LEAF', [{'in': 'query', 'path': 'lines', 'found': v, 'expected': '1 to 20'}])
    q.size = int(v) if v else 5
    q.ends = {}
    for n in ('after', 'before'):
        v = one(q, n)
        if v is not None:
            j = Journal.rows.get(v)
            if (j is None or not may_read(j, q.caller)):
                raise Refusal('NO_SUCH_LEAF', [{'in': 'query', 'path': n, 'found': v, 'expected': 'an entry of the journal'}])
            q.ends[n] = j.seq


@route('GET', '/journal', 'list journal', params=journal_params)
def list_journal(q):
    f = q.f
    found = [j for j in readable(q, Journal, 'list journal') if (f['kind'] is None or (j.kind == f['kind'] if bug('kind-whole') else j.kind.startswith(f['kind']))) and (f['about'] is None or j.about == f['about'])]
    found.sort(key=lambda j: j.seq)
    if bug('journal-newest-first'):
        found.reverse()
    if 'after' in q.ends:
        found = [j for j in found if j.seq > q.ends['after'] - bug('after-includes')]
    if 'before' in q.ends:
        found = [j for j in found if j.seq < q.ends['before']]
    part = found[-q.size:] if 'before' in q.ends and 'after' not in q.ends and not bug('before-from-start') else found[:q.size]
    return Answer(200, {'pages': [show(j, q.caller, q.version) for j in part], 'more': len(found) > q.size})


@route('GET', '/journal/{id}', 'read journal', params=lambda q: allowed(q))
def read_journal(q, id):
    return Answer(200, show(find_row(q, Journal, id, 'read journal'), q.caller, q.version))


# ------------------------------------------------------------------ the door
KEPT = {}
SPRING_ENDS = instant('2027-06-01T00:00:00Z')
SEAL = re.compile(r'^k=([A-Za-z0-9_.-]+);t=(\d{1,12});m=([0-9a-f]{64})$')


def challenges(bad):
    if bug('no-challenge'):
        return []
    tail = ', error="invalid_key"' if bad else ''
    return [('WWW-Authenticate', 'Callbook realm="Heterodyne"' + tail), ('WWW-Authenticate', 'X-Seal realm="Heterodyne"')]


def identify(q, body):
    """Step 4. body: a function that reads it."""
    found = []
    auth, seal = q.headers.get_all('Authorization') or [], q.headers.get_all('X-Seal') or []
    who = lambda code='WHO': Refusal(code, headers=challenges(True))
    if len(auth) > 1 or len(seal) > 1:
        raise who()
    if auth:
        prefix, _, key = auth[0].strip().partition(' ')
        if (prefix != 'Callbook' if bug('prefix-minds-case') else prefix.lower() != 'callbook') and not bug('any-prefix'):
            raise who()
        c = PASSES.get(key.strip())
        if bug('key-case-ignored'):
            c = next((v for k, v in PASSES.items() if k.lower() == key.strip().lower()), None)
        if c is None:
            raise who()
        if bug('listeners-are-nobody') and c.user == 'swl':
            raise who()
        found.append(c)
    if seal:
        m = SEAL.match(seal[0].strip())
        if not m or m.group(1) not in SEALS:
            raise who()
        secret, c = SEALS[m.group(1)]
        off = now() - int(m.group(2)) * 1000
        lim = 120000 * (10 if bug('seal-twenty-minutes') else 1)
        if off > lim:
            raise who('WHO' if bug('stale-as-who') else 'STALE_SEAL')
        if off < -lim and not bug('seal-of-tomorrow'):
            raise who()
        text = '%s %s\n%s\n%s' % (q.method, q.target.split('?')[0] if bug('query-unsigned') else q.target, m.group(2), hashlib.sha256(body()).hexdigest())
        if bug('body-unsigned'):
            text = None
        if text is not None and not hmac.compare_digest(hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest(), m.group(3)):
            raise who()
        found.append(c)
    if not found:
        return None
    if any(not c.same(found[0]) for c in found) and not bug('two-callers'):
        raise who()
    if len(found) > 1:
        return Caller(found[0].user, found[0].id, found[0].scopes | found[1].scopes, found[0].club)
    return found[0]


def spring_headers(q):
    if q.version != 'spring' or bug('spring-not-deprecated'):
        return []
    args = [(k, v) for k, v in q.args_raw if k != 'edition'] + [('edition', 'autumn')]
    out = [('Deprecation', '@1772323200'), ('Sunset', formatdate(1811808000, usegmt=True)),
           ('Link', '<https://heterodyne.example/autumn>; rel="deprecation"'),
           ('Link', '<%s?%s>; rel="successor-version"' % (q.path, urlencode(args)))]
    if bug('sunset-untold'):
        del out[1]
    if bug('no-successor'):
        out.pop()
    if bug('deprecated-today'):
        out[0] = ('Deprecation', 'true')
    return out


class Door(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    server_version, sys_version = 'Heterodyne', ''
    timeout = 60
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *a):
        pass

    def handle_one_request(self):
        self.trace = rand(16)
        try:
            self.connection.settimeout(60)
            self.raw_requestline = self.rfile.readline(65537)
            if not self.raw_requestline:
                self.close_connection = True
                return
            self.connection.settimeout(8)
            if len(self.raw_requestline) > 65536:
                self.send_error(414)
                return
            try:
                if not self.parse_request():
                    return
            except TimeoutError:
                self.command, self.request_version, self.requestline = 'GET', 'HTTP/1.1', ''
                self.put(Answer(408, {'fault': {'sign': 'TOO_SLOW', 'trace': self.trace}}, [('X-Fault', 'TOO_SLOW')]), close=True)
                return
            self.one()
            self.wfile.flush()
        except (TimeoutError, ConnectionError, BrokenPipeError):
            self.close_connection = True

    def put(self, answer, headers=(), close=False, raw=None):
        body = raw if raw is not None else b'' if answer.value is None and answer.status in (204, 304) else json.dumps(answer.value).encode()
        self.send_response(answer.status)
        for k, v in list(headers) + answer.headers:
            self.send_header(k, v)
        if not bug('no-trace'):
            self.send_header('X-Trace', self.trace)
        if answer.status not in (204, 304):
            if not any(k == 'Content-Type' for k, _ in answer.headers):
                self.send_header('Content-Type', 'application/json')
            self.send_header('Content-Length', str(len(body)))
        if close:
            self.close_connection = True
            self.send_header('Connection', 'close')
        self.end_headers()
        if self.command != 'HEAD' and answer.status not in (204, 304):
            self.wfile.write(body)

    def read(self):
        """The body, up to its size, once."""
        if self.body is not None:
            return self.body
        if self.unread:
            raise Refusal('TOO_LONG')
        if 'chunked' in (self.headers.get('Transfer-Encoding') or '').lower():
            out = b''
            while True:
                n = int(self.rfile.readline(64).split(b';')[0].strip() or b'0', 16)
                if n == 0:
                    while self.rfile.readline(1024).strip():
                        pass
                    break
                if len(out) + n > self.size:
                    self.unread = True
                    raise Refusal('TOO_LONG')
                out += self.rfile.read(n)
                self.rfile.readline(8)
            self.body = out
            return out
        try:
            n = int(self.headers.get('Content-Length') or 0)
        except ValueError:
            n = 0
        if n > self.size:
            self.unread = True
            raise Refusal('TOO_LONG')
        self.body = self.rfile.read(n) if n else b''
        return self.body

    def one(self):
        self.body, self.unread = None, False
        self.size = 6144 if not bug('size-in-thousands') else 6000
        if bug('size-ignored'):
            self.size = 1 << 20
        q = Query()
        q.method, q.target, q.headers, q.address = self.command, self.path, self.headers, self.client_address[0]
        q.path = urlsplit(self.path).path if self.path.startswith('/') else self.path
        raw = None
        try:
            early = None
            try:
                self.before(q)
            except Refusal as r:
                early = r
            if not (early and early.code in ('TOO_LONG',)):
                try:
                    has_body = bool(self.headers.get('Content-Length') or self.headers.get('Transfer-Encoding'))
                    if has_body and early is None:
                        self.peek()
                except TimeoutError:
                    self.unread = True
                    raise Refusal('TOO_SLOW')
            if early:
                raise early
            with LOCK:
                run_due()
                answer = self.steps(q)
                run_due()
                if answer.status == 304 and not bug('304-counts'):
                    for r in q.rated[:1]:
                        r.count(q, now(), -1)
                        q.rate_headers = rate_fields([(x,) + x.look(q, now()) for x in q.rated])[0]
        except Refusal as r:
            answer = self.refused(q, r)
        except TimeoutError:
            self.unread = True
            answer = self.refused(q, Refusal('TOO_SLOW'))
        except Exception:
            answer = self.refused(q, Refusal('SMOKE'))
        if self.body is None and not self.unread:
            try:
                self.size = 1 << 24
                self.read()
            except (Refusal, ValueError, TimeoutError):
                self.unread = True
        if self.unread and q.code == 'TOO_LONG':
            try:
                n = int(self.headers.get('Content-Length') or 0)
                if 0 < n <= 1 << 20:
                    self.rfile.read(n)
            except (ValueError, OSError):
                pass
        heads = q.rate_headers + ([] if bug('no-vary') else [('Vary', 'Authorization, X-Seal')])
        if bug('no-rate-headers'):
            heads = heads[len(q.rate_headers):]
        if q.route:
            heads += spring_headers(q)
        if bug('trace-differs'):
            self.trace = rand(16)
        self.put(answer, heads, close=self.unread)

    def peek(self):
        """The body is read before the lock is taken, so that nobody waits for who is slow; one too large stays unread until its step."""
        try:
            self.read()
        except Refusal:
            pass
        except ValueError:
            self.body = b''

    def refused(self, q, r):
        q.code = r.code
        status, words = CODES[r.code]
        if words and getattr(r, 'name', None) is not None:
            words = words.replace('{name}', r.name)
        fault = {'sign': r.code, 'words': words, 'at': q.path, 'trace': self.trace, 'where': r.where}
        if bug('words-for-all') and words is None:
            fault['words'] = 12
        if bug('fault-at-host'):
            fault['at'] = '/'
        fault = {k: v for k, v in fault.items() if v is not None}
        if bug('sign-in-small-letters'):
            fault['sign'] = fault['sign'].lower()
        if bug('where-forgotten'):
            fault.pop('where', None)
        value = fault if bug('fault-unwrapped') else {'fault': fault}
        if bug('dupe-is-422') and r.code == 'DUPE':
            status = 422
        if bug('missing-is-410') and r.code == 'NOBODY_THERE':
            status = 410
        if bug('missing-as-qsb') and r.code == 'LACKS':
            value['fault']['sign'] = 'QSB'
        heads = [] if bug('no-x-fault') else [('X-Fault', r.code)]
        return Answer(status, value, heads + r.headers)

    def before(self, q):
        """Steps 1 and 2: sizes, the route, the method and the version."""
        q.route = None
        if len(q.target.encode()) > (4096 if bug('url-four-k') else 2048):
            raise Refusal('TOO_LONG')
        if sum(len(k) + len(v) + 4 for k, v in self.headers.items()) > (1 << 15 if bug('headers-any-size') else 8192):
            raise Refusal('TOO_LONG')
        path = q.path
        if not path.startswith(BASE + '/'):
            if bug('base-left-out'):
                path = BASE + path
            else:
                raise Refusal('DEAD_AIR')
        rest = path[len(BASE):]
        parts = urlsplit(self.path)
        q.args_raw = parse_qsl(parts.query, keep_blank_values=True)
        for k, v in q.args_raw:
            q.args.setdefault(k, []).append(v)
        e = q.args.get('edition')
        version = (e[-1] if e else ('spring' if bug('spring-by-default') else 'autumn'))
        hits = [(m, rx.match(rest), r) for r in ROUTES for m, rx in [(r[0], r[1])] if rx.match(rest)]
        if version == 'spring' and not bug('bands-in-spring'):
            hits = [h for h in hits if h[2][5] != '/bands']
        if bug('contest-without-judging'):
            hits = [h for h in hits if h[2][2] != 'judge entry']
        if bug('revive-not-served'):
            hits = [h for h in hits if h[2][2] != 'revive station']
        if not hits:
            raise Refusal('DEAD_AIR')
        methods = [h[0] for h in hits]
        if 'GET' in methods:
            methods.append('HEAD')
        allow = ', '.join(sorted(set(methods + ['OPTIONS'])))
        q.allow = allow
        method = 'GET' if q.method == 'HEAD' and not bug('no-head') else q.method
        if method == 'OPTIONS':
            q.route, q.op = ('OPTIONS',), None
            return
        hit = next((h for h in hits if h[0] == method), None)
        if hit is None:
            raise Refusal('NO_SUCH_KEYING', headers=[] if bug('no-allow') else [('Allow', allow)])
        if version not in ('spring', 'autumn'):
            if bug('unknown-edition-taken'):
                version = 'autumn'
            else:
                raise Refusal('NO_EDITION')
        q.version = version
        q.route, q.path_values = hit[2], {k: unquote(v) for k, v in hit[1].groupdict().items()}
        q.op, q.fn, q.words = hit[2][2], hit[2][3], hit[2][4]

    def steps(self, q):
        if q.route == ('OPTIONS',):
            q.route = None
            return Answer(204, None, [('Allow', q.allow)])
        if q.version == 'spring' and now() >= SPRING_ENDS + (DAY if bug('sunset-a-day-late') else 0) and not bug('spring-for-ever'):
            raise Refusal('OLD_EDITION')
        if not q.words.get('public'):
            q.caller = identify(q, self.read)                                  # 4
            if q.caller is None and not any('anyone' in r.users for r in RULES if q.op in r.ops):
                raise Refusal('WHO' if bug('nobody-as-who') else 'NO_CALL', headers=challenges(False))
        rated(q)                                                               # 5
        if not q.words.get('public'):                                          # 6
            rs = rules_for(q.op, q.caller)
            if not rs:
                raise Refusal('QRT')
            if not open_rules(q.op, q.caller):
                raise Refusal('QRT' if bug('scope-as-qrt') else 'NO_LICENCE')
        def parameters():
            q.words['params'](q)
        if not bug('body-before-parameters'):
            parameters()
        self.take_body(q)
        if bug('body-before-parameters'):
            parameters()
        key = q.headers.get('Once') if q.method == 'POST' else None            # 9
        print_ = kept = None
        if key and not bug('once-ignored'):
            name = (q.op if bug('once-for-all') else (q.caller.user, q.caller.id, q.op), key)
            for k in [k for k, v in KEPT.items() if v['until'] <= now()]:
                del KEPT[k]
            print_ = (q.path, '' if bug('once-without-version') else q.version, sorted(q.args_raw) if not bug('once-without-version') else '', b'' if bug('once-without-body') else self.body or b'')
            kept = KEPT.get(name)
            if kept:
                if kept['print'] != print_:
                    raise Refusal('ECHO')
                if kept['code']:
                    raise Refusal(kept['code'], headers=kept['headers'])
                return Answer(kept['status'], copy.deepcopy(kept['value']), kept['headers'])
        q.body_check = q.words.get('check')
        try:
            answer = q.fn(q, **q.path_values)
        except Refusal as r:
            if print_ and r.own and not bug('own-errors-not-kept'):
                KEPT[name] = {'print': print_, 'code': r.code, 'headers': r.headers, 'until': now() + 12 * 3600000}
            raise
        if print_:
            KEPT[name] = {'print': print_, 'code': None, 'status': answer.status, 'headers': answer.headers,
                          'value': copy.deepcopy(answer.hidden if answer.hidden is not None and not bug('once-shows-slip') else answer.value),
                          'until': now() + (1 if bug('once-for-an-hour') else 12) * 3600000}
        return answer

    def take_body(self, q):
        q.body = None
        want = q.words.get('body')
        if self.unread:
            raise Refusal('TOO_LONG')
        data = self.read()
        if not want:
            return
        if not data:
            if want == 'optional' and not bug('strike-needs-body'):
                q.body = {}
                return
            raise Refusal('QRM' if bug('no-body-as-qrm') else 'NO_BODY')
        kind = (q.headers.get('Content-Type') or 'application/json').split(';')[0].strip().lower()
        if kind != 'application/json' and not (kind == 'application/merge-patch+json' and q.words.get('merge') and not bug('merge-patch-refused')) and not bug('any-alphabet'):
            raise Refusal('WRONG_ALPHABET')
        try:
            q.body = json.loads(data.decode('utf-8'), parse_constant=lambda c: (_ for _ in ()).throw(ValueError(c)))
        except (ValueError, RecursionError):
            raise Refusal('QRM')

    do_GET = do_POST = one


class ClockDoor(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *a):
        pass

    def tell(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        with LOCK:
            self.tell(200, {'now': iso(now())})

    def do_POST(self):
        try:
            v = json.loads(self.rfile.read(int(self.headers.get('Content-Length') or 0)))
            with LOCK:
                target = later(now(), v['advance']) if set(v) == {'advance'} else instant(v['now']) if set(v) == {'now'} else None
        except (ValueError, TypeError, KeyError, AttributeError):
            target = None
        if target is None:
            return self.tell(400, {'error': 'advance or now'})
        with LOCK:
            if target < now():
                return self.tell(422, {'error': 'that time has passed'})
            move(target)
            return self.tell(200, {'now': iso(now())})

    def refuse(self):
        self.tell(400, {'error': 'GET or POST'})
    do_PUT = do_PATCH = do_DELETE = refuse


SPAN = re.compile(r'^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$')


def later(ms, span):
    m = SPAN.match(span) if isinstance(span, str) else None
    if not m or not any(m.groups()):
        return None
    y, mo, w, d, h, mi = (int(x or 0) for x in m.groups()[:6])
    t = datetime.fromtimestamp(ms / 1000, timezone.utc)
    months = t.month - 1 + mo + 12 * y
    year, month = t.year + months // 12, months % 12 + 1
    last = [31, 29 if year % 4 == 0 and (year % 100 or year % 400 == 0) else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    moved = t.replace(year=year, month=month, day=min(t.day, last))
    return ms + round((moved - t).total_seconds() * 1000) + ((w * 7 + d) * 86400 + h * 3600 + mi * 60) * 1000 + round(float(m.group(7) or 0) * 1000)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    allow_reuse_address = True


def main():
    global FAULT
    p = argparse.ArgumentParser()
    p.add_argument('--port', type=int, required=True)
    p.add_argument('--clock-port', type=int)
    p.add_argument('--fault')
    a = p.parse_args()
    FAULT = a.fault
    make_rules()
    if bug('stewards-are-operators'):
        for c in list(PASSES.values()) + [x[1] for x in SEALS.values()]:
            c.user = 'operator' if c.user == 'steward' else c.user
    make_rates()
    machine_faults()
    if not bug('no-beacon'):
        Station.rows['HD0BCN'] = Station({'call': 'HD0BCN', 'owner': 'beacon', 'club': 'heterodyne', 'locator': 'JO31', 'motto': 'Always on', 'state': 'on_air', 'changed_at': iso(now())})
    door = Server(('127.0.0.1', a.port), Door)
    if a.clock_port is not None:
        threading.Thread(target=Server(('127.0.0.1', a.clock_port), ClockDoor).serve_forever, daemon=True).start()
    threading.Thread(target=dispatch, daemon=True).start()
    print(json.dumps({'listening': door.server_address[1]}), flush=True)
    door.serve_forever()


if __name__ == '__main__':
    main()
