"""Bell Hangers: the service of service.yaml. Standard library alone, one process, everything in memory."""
import asyncio, base64, collections, datetime, gc, hashlib, heapq, hmac, json, math, os, random, re, socket, sys, time, uuid
from urllib.parse import unquote, unquote_plus, quote, quote_plus, urlsplit

ARGS = dict(zip(sys.argv[1::2], sys.argv[2::2]))
F = ARGS.get('--fault', '')
BASE = '/ropes'
INF = float('inf')
DAY = 86400000

# ---------------------------------------------------------------- the clock
_w0, _m0, OFF, FROZEN = time.time(), time.monotonic(), 0, None


def now_ms():
    if FROZEN is not None:
        return FROZEN
    return int((_w0 + time.monotonic() - _m0) * 1000) + OFF


def iso(ms):
    s, m = divmod(ms, 1000)
    d = datetime.datetime.fromtimestamp(s, datetime.timezone.utc)
    return '%04d-%02d-%02dT%02d:%02d:%02d.%03dZ' % (d.year, d.month, d.day, d.hour, d.minute, d.second, m)


_dt = re.compile(r'([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})\Z')


def instant(text):
    """nanoseconds since 1970, or None where the text is no RFC 3339 date-time"""
    m = _dt.match(text)
    if not m:
        return None
    y, mo, d, h, mi, s = (int(x) for x in m.group(1, 2, 3, 4, 5, 6))
    leap = s == 60
    try:
        day = datetime.date(y, mo, d).toordinal() - 719163 if y else None
    except ValueError:
        return None
    if day is None or h > 23 or mi > 59 or s > 60:
        return None
    off = 0
    z = m.group(8)
    if z not in 'Zz':
        oh, om = int(z[1:3]), int(z[4:6])
        if oh > 23 or om > 59:
            return None
        off = (oh * 60 + om) * (1 if z[0] == '+' else -1)
    secs = day * 86400 + h * 3600 + (mi - off) * 60 + s
    if leap and secs % 86400 != 0:
        return None
    frac = ((m.group(7) or '.')[1:] + '000000000')[:9]
    return secs * 1000000000 + int(frac)


# ---------------------------------------------------------------- errors
CODES = {
    'no_body': (400, 'Something has to be sent here.'), 'garbled': (400, 'That cannot be read.'), 'odd_paper': (415, 'Write in JSON.'),
    'wont_speak': (406, 'We answer in JSON.'), 'odd_question': (400, 'That cannot be asked.'), 'no_such_page': (400, 'There is no such page.'),
    'lacking': (422, '{name} is lacking.'), 'never_heard_of': (422, '{name} is nothing we know.'), 'wont_do': (422, '{name} will not do.'),
    'who_goes': (401, 'Say who you are.'), 'stranger': (401, 'We do not know you.'), 'not_yours': (403, 'That is not for you.'),
    'not_on_peg': (404, 'There is nothing under that name.'), 'no_such_door': (404, 'No door leads there.'), 'melted': (410, 'It is no more.'),
    'dangling': (422, 'What it refers to is not there.'), 'wrong_knock': (405, 'This door opens otherwise.'), 'name_taken': (409, 'Another one has that name.'),
    'bell_promised': (409, 'The bell is promised to somebody else.'), 'still_tied': (409, 'Something hangs on it still.'),
    'lathe_taken': (409, 'The bell cannot be mounted.'), 'out_of_turn': (409, 'It is not the time for that.'), 'changed_since': (412, 'It was changed since.'),
    'tag_wanted': (428, 'Send If-Match.'), 'once_twice': (422, 'That key was for another request.'), 'hands_full': (409, 'Try again.'),
    'too_eager': (429, 'Ring slower.'), 'enough': (403, 'That is as many as you may have.'), 'too_heavy': (413, 'That is too heavy.'),
    'long_rope': (414, 'That address is too long.'), 'big_head': (431, 'Those headers are too long.'), 'too_slow': (408, 'That took too long.'),
    'closed_edition': (410, 'That edition is closed.'), 'no_edition': (404, 'There is no such edition.'), 'shut': (503, 'We are shut.'),
    'cracked': (500, 'Something broke.'), 'too_late': (409, 'It is too late for that.'), 'too_early': (409, 'The loan has not begun.'),
    'bell_is_out': (409, 'The bell is out.'), 'bell_unready': (409, 'The bell is not ready.'), 'behind_us': (422, 'That time is behind us.'),
    'too_long': (422, 'Ninety days at the most.'), 'crowded': (422, 'One ringer to a tower bell.'),
}
OWN = {'too_late', 'too_early', 'bell_is_out', 'bell_unready', 'behind_us', 'too_long', 'crowded'}
PHRASE = {200: 'OK', 201: 'Created', 204: 'No Content', 304: 'Not Modified', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found',
          405: 'Method Not Allowed', 406: 'Not Acceptable', 408: 'Request Timeout', 409: 'Conflict', 410: 'Gone', 412: 'Precondition Failed',
          413: 'Content Too Large', 414: 'URI Too Long', 415: 'Unsupported Media Type', 422: 'Unprocessable Content', 428: 'Precondition Required',
          429: 'Too Many Requests', 431: 'Request Header Fields Too Large', 500: 'Internal Server Error', 503: 'Service Unavailable'}
LINE = {k: ('HTTP/1.1 %d %s\r\nVary: Authorization\r\nX-Turn: ' % (k, v)).encode() for k, v in PHRASE.items()}
dumps = json.JSONEncoder(separators=(',', ':')).encode


class Refused(Exception):
    def __init__(self, code, wrong=None, headers=''):
        self.code, self.wrong, self.headers = code, wrong, headers


def query_wrong(name, expected):
    return Refused('odd_question', [{'in': 'query', 'path': name, 'expected': expected}])


# ---------------------------------------------------------------- callers
class Caller:
    __slots__ = ('user', 'id', 'scopes', 'shire', 'scheme', 'key')

    def __init__(self, user, id, shire, scheme, scopes):
        self.user, self.id, self.shire, self.scheme, self.scopes = user, id, shire, scheme, scopes
        self.key = user + ':' + id


CREDENTIALS = {}
for _u, _i, _sh, _sc, _k, _scopes in (
        ('hanger', 'agnes', 'north', 'counter', 'desk_agnesQ7fK2mZ9xW4tB1cR8vL5nH3jD6', ('listen',)),
        ('hanger', 'bertram', 'south', 'rope', 'rope_bertramT5gN8pY2sV6kC9dM3wF7hJ1z', ('listen',)),
        ('captain', 'cecily', 'north', 'rope', 'rope_cecilyX3bR6nW9qK2fT5vZ8mL1jH4g', ('listen',)),
        ('captain', 'dunstan', 'south', 'rope', 'rope_dunstanP8cV1xM4zG7kB2sN5wQ9tF6', ('listen',)),
        ('captain', 'edith', 'north', 'counter', 'desk_edithL6hD9rJ2pS5yC8nX1vK4bW7m', ()),
        ('auditor', 'frideswide', 'north', 'rope', 'rope_frideswideZ2kM5tQ8wB1nG4xR7cV', ('listen',)),
        ('auditor', 'godric', 'south', 'counter', 'desk_godricF9sH3jL6pN1vT4yW7bC2kX5', ('listen',))):
    CREDENTIALS[_sc, _k] = Caller(_u, _i, _sh, _sc, _scopes)

CHALLENGE = 'WWW-Authenticate: Rope realm="Bell Hangers", Basic realm="Bell Hangers", charset="UTF-8"\r\n'
CHALLENGE_BAD = 'WWW-Authenticate: Rope realm="Bell Hangers", error="invalid_key", Basic realm="Bell Hangers", charset="UTF-8"\r\n'
AUTHED = {}


def who(header):
    c = AUTHED.get(header)
    if c is not None:
        return c
    scheme, _, token = header.partition(' ')
    low = scheme.lower()
    token = token.strip(' ')
    c = None
    if low == 'rope':
        c = CREDENTIALS.get(('rope', token))
        if F == 'rope-case' and scheme != 'Rope':
            c = None
    elif low == 'basic':
        try:
            text = base64.b64decode(token, validate=True).decode()
        except ValueError:
            text = ''
        name, colon, password = text.partition(':')
        if colon and (password == '' or F == 'any-password'):
            c = CREDENTIALS.get(('counter', name))
    if F == 'no-auditor' and c is not None and c.user == 'auditor' and c.scheme == 'counter':
        c = None
    if c is None:
        raise Refused('stranger', None, CHALLENGE if F == 'challenge-bare' else CHALLENGE_BAD)
    AUTHED[header] = c
    return c


# ---------------------------------------------------------------- shapes
class Fld:
    def __init__(self, key, kind, **o):
        self.key, self.kind = key, kind
        self.ro = o.get('ro', False)
        self.imm = o.get('imm', False)
        self.req = o.get('req', True)
        self.default = o.get('default')
        self.writable = o.get('writable')
        self.visible = o.get('visible')
        self.wo = o.get('wo', False)
        self.lo, self.hi = o.get('lo'), o.get('hi')
        self.rx = re.compile(o['rx']) if 'rx' in o else None
        self.enum = o.get('enum')
        self.up, self.down = o.get('up'), o.get('down')
        self.dropped = o.get('dropped', False)
        self.const = o.get('const')
        self.name = key

    def other(self, name, **o):
        f = Fld.__new__(Fld)
        f.__dict__.update(self.__dict__)
        f.__dict__.update(o)
        f.name = name
        return f


def integer(v):
    if type(v) is int:
        return v
    if type(v) is float and v == v and v not in (INF, -INF) and v == int(v):
        return int(v)
    return None


def uri_ok(v):
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*\Z", v) or re.search(r'%(?![0-9A-Fa-f]{2})', v):
        return False
    try:
        u = urlsplit(v)
        u.port
    except ValueError:
        return False
    return u.scheme.lower() in ('http', 'https') and bool(u.hostname)


def fit(f, v, path, i, V):
    """v as it is kept, or None with violations (index, condition, path, expected) appended to V"""
    k = f.kind
    if k == 'string' or k == 'ref_bell':
        if type(v) is not str:
            V.append((i, 'wont_do', path, 'a text'))
        elif f.lo is not None and len(v) < f.lo or f.hi is not None and len(v) > f.hi:
            V.append((i, 'wont_do', path, 'a text of %s to %s characters' % (f.lo or 0, f.hi)))
        elif f.rx is not None and not f.rx.search(v):
            V.append((i, 'wont_do', path, 'a text like ' + f.rx.pattern.replace(r'\Z', '$')))
        else:
            return v
    elif k == 'integer' or k == 'ref_guild':
        n = integer(v)
        if n is None:
            V.append((i, 'wont_do', path, 'a whole number'))
        elif f.lo is not None and n < f.lo or f.hi is not None and n > f.hi:
            V.append((i, 'wont_do', path, 'a whole number from %s to %s' % (f.lo, f.hi)))
        else:
            return n
    elif k == 'number':
        if type(v) not in (int, float) or v != v:
            V.append((i, 'wont_do', path, 'a number'))
        elif v < f.lo or v > f.hi:
            V.append((i, 'wont_do', path, 'a number from %s to %s' % (f.lo, f.hi)))
        else:
            return v
    elif k == 'boolean':
        if type(v) is not bool:
            V.append((i, 'wont_do', path, 'true or false'))
        else:
            return v
    elif k == 'enum':
        if type(v) is not str or v not in f.enum:
            V.append((i, 'wont_do', path, 'one of ' + ', '.join(f.enum)))
        else:
            return v
    elif k == 'dt':
        if type(v) is not str or instant(v) is None:
            V.append((i, 'wont_do', path, 'a date-time of RFC 3339'))
        else:
            return v
    elif k == 'uri':
        if type(v) is not str or len(v) > f.hi or not uri_ok(v):
            V.append((i, 'wont_do', path, 'an http or https address'))
        else:
            return v
    elif k == 'tags' or k == 'kinds':
        if type(v) is not list:
            V.append((i, 'wont_do', path, 'a list'))
            return None
        n = len(V)
        if len(v) > f.hi or len(v) < f.lo:
            V.append((i, 'wont_do', path, 'a list of %d to %d items' % (f.lo, f.hi)))
        for j, x in enumerate(v[:200]):
            at = '%s.%d' % (path, j)
            if type(x) is not str or len(x) > (20 if k == 'tags' else 40) or k == 'tags' and not x:
                V.append((i, 'wont_do', at, 'a short text'))
            elif k == 'kinds' and x not in KIND_WORDS:
                V.append((i, 'wont_do', at, 'a kind of event'))
        if len(V) == n and k == 'tags' and len(set(v)) != len(v) and F != 'tags-twice':
            V.append((i, 'wont_do', path, 'a list without repeats'))
        if len(V) == n:
            return v
    elif k == 'partials':
        if type(v) is not dict:
            V.append((i, 'wont_do', path, 'a map'))
            return None
        out, n = {}, len(V)
        sep = '/' if F == 'path-slashes' else '.'
        for name, x in v.items():
            pf = PARTIALS.get(name)
            if pf is None:
                V.append((i, 'never_heard_of', path + sep + name, 'no such field'))
                continue
            x = fit(pf, x, path + sep + name, i, V)
            if x is not None:
                out[name] = x
        for name in ('hum', 'nominal'):
            if name not in v:
                V.append((i + .5, 'lacking', path + sep + name, 'a number'))
        if len(V) == n:
            return {p: out[p] for p in PARTIALS if p in out}
    return None


PARTIALS = {p: Fld(p, 'number', lo=20, hi=9000) for p in ('hum', 'prime', 'nominal')}
KINDS = ['loan.asked', 'loan.agreed', 'loan.ended', 'loan.overdue', 'loan.altered', 'loan.due_soon', 'guild.renamed', 'bell.changed', 'bell.gone',
         'tuning.finished', 'tuning.stale']
KIND_WORDS = set(KINDS) | {'*', 'loan.*', 'guild.*', 'bell.*', 'tuning.*'}
LOAN_STATES = ['asked', 'agreed', 'refused', 'withdrawn', 'lapsed', 'out', 'overdue', 'back', 'lost']
HELD = ('agreed', 'out', 'overdue')
LIVE = ('asked', 'agreed', 'out', 'overdue')


def up_mm(v):
    return int(math.floor(v * 10.0 + 0.5))


def down_cm(v):
    return float(v) / 10.0


class Res:
    def __init__(self, name, idf, fields, e1=None):
        self.name, self.idf = name, idf
        self.specs = {'e2': {f.name: f for f in fields}}
        older = []
        for f in fields:
            g = (e1 or {}).get(f.key, f)
            if g is not None:
                older.append(g)
        older.extend(v for k, v in (e1 or {}).items() if k.startswith('+'))
        self.specs['e1'] = {f.name: f for f in older}
        self.rows = {}
        self.plans = {}

    def plan(self, ver, view):
        p = self.plans.get((ver, view))
        if p is None:
            only = VIEWS.get((self.name, view))
            p = []
            for f in self.specs[ver].values():
                if f.wo or f.visible and view != 'h':
                    continue
                if f.key == 'secret' and F != 'secret-again':
                    continue
                if only and f.key not in only:
                    continue
                p.append((f.name, f.key, f.down, f.const))
            self.plans[ver, view] = p
        return p


VIEWS = {
    ('guild', 'part'): ('no', 'name', 'county'),
    ('loan', 'a'): ('slip', 'number', 'guild', 'bell', 'shire', 'starts', 'ends', 'ringers', 'fee_pence', 'state'),
}
METAL_UP = {'bell-metal': 'bronze', 'steel': 'steel', 'aluminium': 'aluminium'}
METAL_DOWN = {v: k for k, v in METAL_UP.items()}


def metal_down(v):
    return METAL_DOWN[v]


def loan_state_down(v):
    return 'borrowed' if v == 'out' else v


_mark = r'^[a-z][a-z0-9-]{2,19}\Z'
_diam = Fld('diameter', 'integer', lo=40, hi=3000)
_metal = Fld('metal', 'enum', enum=['bronze', 'steel', 'aluminium'], default='bronze')
BELL = Res('bell', 'mark', [
    Fld('mark', 'string', rx=_mark), Fld('name', 'string', lo=2, hi=41 if F == 'name-41' else 40), Fld('kind', 'enum', enum=['hand', 'tower'], imm=True),
    Fld('weight_kg', 'integer', lo=1, hi=25000), _diam, Fld('pitch', 'string', rx=r'^[A-G][#b]?[0-8]\Z'), _metal,
    Fld('partials', 'partials', req=False), Fld('tags', 'tags', lo=0, hi=6, default=[]),
    Fld('worth_pence', 'integer', lo=0, hi=90000000, visible=('hanger',), writable=('hanger',), req=False),
    Fld('shire', 'string', ro=True), Fld('standing', 'string', ro=True), Fld('on_loan', 'boolean', ro=True), Fld('lent_times', 'integer', ro=True),
    Fld('made_at', 'dt', ro=True), Fld('changed_at', 'dt', ro=True)],
    {'diameter': _diam.other('diameter', kind='number', lo=4, hi=300, up=up_mm, down=down_cm),
     'metal': _metal.other('metal', enum=['bell-metal', 'steel', 'aluminium'], up=METAL_UP.get, down=metal_down)})
GUILD = Res('guild', 'no', [
    Fld('no', 'integer', ro=True), Fld('name', 'string', lo=3, hi=60), Fld('county', 'string', rx=r'^[A-Z][a-z]{2,19}\Z'),
    Fld('founded', 'integer', lo=1500, hi=2100, req=False), Fld('captain', 'string', ro=True),
    Fld('trusted', 'boolean', default=False, writable=None if F == 'trusted-by-all' else ('hanger',)), Fld('door_code', 'string', rx=r'^[0-9]{4}\Z', wo=True, req=False),
    Fld('bells_out', 'integer', ro=True), Fld('joined_at', 'dt', ro=True), Fld('changed_at', 'dt', ro=True)])
_ring = Fld('ringers', 'integer', lo=1, hi=16, default=1)
_lstate = Fld('state', 'string', ro=True)
LOAN = Res('loan', 'slip', [
    Fld('slip', 'string', ro=True), Fld('number', 'integer', ro=True), Fld('guild', 'ref_guild', imm=True), Fld('bell', 'ref_bell', imm=True),
    Fld('captain', 'string', ro=True), Fld('shire', 'string', ro=True), Fld('starts', 'dt'), Fld('ends', 'dt'), _ring,
    Fld('occasion', 'string', hi=120, req=False), Fld('fee_pence', 'integer', ro=True),
    Fld('remark', 'string', hi=200, visible=('hanger',), writable=('hanger',), req=False), _lstate,
    Fld('refused_for', 'string', ro=True, req=False), Fld('condition', 'string', ro=True, req=False), Fld('agreed_at', 'dt', ro=True, req=False),
    Fld('back_at', 'dt', ro=True, req=False), Fld('asked_at', 'dt', ro=True), Fld('changed_at', 'dt', ro=True)],
    {'ringers': _ring.other('party'), 'state': _lstate.other('state', down=loan_state_down)})
TUNING = Res('tuning', 'id', [
    Fld('id', 'string', ro=True), Fld('tally', 'string', ro=True), Fld('bell', 'ref_bell', imm=True), Fld('ordered_by', 'string', ro=True),
    Fld('target_hz', 'number', lo=20, hi=9000), Fld('measured_hz', 'number', ro=True, req=False),
    Fld('urgency', 'enum', enum=['low', 'normal', 'high'], default='normal'), Fld('note', 'string', hi=300, req=False), Fld('state', 'string', ro=True),
    Fld('ordered_at', 'dt', ro=True), Fld('finished_at', 'dt', ro=True, req=False)],
    {'urgency': None, '+shift': Fld('shift', 'string', hi=10, req=False, dropped=True, const='day')})
LISTENER = Res('listener', 'id', [
    Fld('id', 'string', ro=True), Fld('owner', 'string', ro=True), Fld('url', 'uri', hi=300), Fld('kinds', 'kinds', lo=1, hi=10, req=False),
    Fld('secret', 'string', ro=True), Fld('awake', 'boolean', default=True), Fld('made_at', 'dt', ro=True)])


class Row:
    __slots__ = ('res', 'f', 'seq', 'since', 'cache', 'gone', 'due', 'starts', 'ends', 'maker', 'ver', 'failing', 'flying', 'waiting', 'not_before',
                 'loans', 'tunings', 'live', 'chains')

    def __init__(self, res, f):
        global SEQ
        SEQ += 1
        self.res, self.f, self.seq, self.since, self.cache, self.gone, self.due = res, f, SEQ, now_ms(), {}, None, None
        self.starts = self.ends = 0
        self.loans, self.tunings, self.live = {}, {}, 0
        self.maker = self.ver = self.failing = None
        self.flying, self.waiting, self.not_before, self.chains = 0, collections.deque(), 0, {}


SEQ = 0
GONE_GUILDS = {}
GUILD_NAMES = {}
BELL_HOLDER = {}
LOAN_NUMBERS = {}
TALLY = GUILD_NO = 0


def show(row, ver, view):
    out, f = {}, row.f
    for name, key, down, const in row.res.plan(ver, view):
        if const is not None:
            out[name] = const
            continue
        v = f.get(key)
        if v is not None:
            out[name] = down(v) if down else v
    return out


def seen(row, ver, view):
    """the body of a row and its tag"""
    c = row.cache.get((ver, view))
    if c is None:
        body = dumps(show(row, ver, view)).encode()
        c = row.cache[ver, view] = (body, hashlib.blake2b(body, digest_size=9, key=(ver + view).encode()).hexdigest())
    return c


def view_of(res, row, caller):
    n = res.name
    if n == 'bell':
        return 'h' if caller is not None and caller.user == 'hanger' else 'o'
    if n == 'guild':
        return 'part' if caller.user == 'captain' and row.f['captain'] != caller.id else 'full'
    if n == 'loan':
        return 'h' if caller.user == 'hanger' else 'a' if caller.user == 'auditor' else 'c'
    return 'full'


def may_read(res, row, caller):
    n = res.name
    if n == 'bell' or n == 'guild':
        return True
    u = caller.user
    if n == 'loan':
        if u == 'captain':
            return row.f['captain'] == caller.id
        return u == 'hanger' or row.f['shire'] == caller.shire
    if n == 'tuning':
        if u == 'captain':
            return row.f['ordered_by'] == caller.id
        return u == 'hanger' or row.f['state'] in ('tuned', 'abandoned', 'stale')
    return row.f['owner'] == caller.id


# ---------------------------------------------------------------- what is due
HEAP = []
HEAP_SEQ = 0
ARMED = None
ARMED_AT = INF
LOOP = None
FLYING = set()


def at(ms, fn, *args):
    global HEAP_SEQ
    HEAP_SEQ += 1
    heapq.heappush(HEAP, (ms, HEAP_SEQ, fn, args))


def arm():
    global ARMED, ARMED_AT
    if LOOP is None or FROZEN is not None:
        return
    due = HEAP[0][0] if HEAP else INF
    if due == ARMED_AT and ARMED is not None:
        return
    if ARMED is not None:
        ARMED.cancel()
        ARMED = None
    ARMED_AT = due
    if due < INF:
        ARMED = LOOP.call_later(min(max(0.0, (due - now_ms()) / 1000), 3600), rang)


def rang():
    global ARMED, ARMED_AT
    ARMED, ARMED_AT = None, INF
    run_due()


def run_due():
    t = now_ms()
    while HEAP and HEAP[0][0] <= t:
        _, _, fn, args = heapq.heappop(HEAP)
        try:
            fn(*args)
        except Exception as e:
            trouble(e)
    arm()


def trouble(e):
    if os.environ.get('BELLS_DEBUG'):
        import traceback
        traceback.print_exception(e)


async def move_to(target):
    global OFF, FROZEN
    FROZEN = now_ms()
    try:
        while True:
            if FLYING:
                await asyncio.wait(list(FLYING), timeout=7)
            if not HEAP or HEAP[0][0] > target:
                break
            FROZEN = max(FROZEN, HEAP[0][0])
            while HEAP and HEAP[0][0] <= FROZEN:
                _, _, fn, args = heapq.heappop(HEAP)
                try:
                    fn(*args)
                except Exception as e:
                    trouble(e)
            await asyncio.sleep(0)
    finally:
        FROZEN = None
        OFF += target - now_ms()
        sweep_kept()
        run_due()


# ---------------------------------------------------------------- changes
def touched(row):
    row.cache = {}


def count_loan(row, was, is_):
    """what is derived of loans, on the bell and the guild"""
    bell = BELL.rows.get(row.f['bell'])
    guild = GUILD.rows.get(row.f['guild'])
    if guild is not None:
        guild.live += (is_ in LIVE) - (was in LIVE)
        d = (is_ in ('out', 'overdue')) - (was in ('out', 'overdue'))
        if d:
            guild.f['bells_out'] += d
            touched(guild)
    if bell is not None:
        held = HELD if F != 'overdue-not-held' else ('agreed', 'out')
        if was in HELD and is_ not in HELD:
            BELL_HOLDER.pop(row.f['bell'], None)
        elif is_ in HELD:
            BELL_HOLDER[row.f['bell']] = row
        on = is_ in held
        gone = ('out', 'overdue', 'back', 'lost')
        d = (is_ in gone) - (was in gone)
        if (was in held) != on or d:
            bell.f['on_loan'] = on if (was in held) != on else bell.f['on_loan']
            bell.f['lent_times'] += d
            touched(bell)


def set_loan_state(row, state, op, changes, caller=None):
    t = now_ms()
    before = dict(row.f)
    was = row.f['state']
    row.f['state'] = state
    row.f.update(changes)
    row.f['changed_at'] = iso(t)
    row.since = t
    touched(row)
    count_loan(row, was, state)
    plan_loan(row)
    kind = {'agree': 'loan.agreed', 'return': 'loan.ended', 'refuse': 'loan.ended', 'withdraw': 'loan.ended', 'lapse': 'loan.ended', 'miss': 'loan.ended',
            'lose': 'loan.ended', 'overrun': 'loan.overdue'}.get(op)
    if F == 'miss-untold' and op == 'miss':
        kind = None
    if kind:
        tell(kind, row, before)
        if F == 'told-twice' and op == 'agree':
            tell(kind, row, before)


def plan_loan(row):
    st = row.f['state']
    ends = -(-row.ends // 1000000)
    if st == 'asked':
        at(row.since + (8 if F == 'lapse-8d' else 7) * DAY, timed, row, 'asked', 'lapsed', 'lapse', row.since, None)
    elif st == 'agreed':
        at(ends, timed, row, 'agreed', 'lapsed', 'miss', row.since, None if F == 'ends-as-agreed' else row.ends)
    elif st == 'out':
        at(ends, timed, row, 'out', 'overdue', 'overrun', row.since, row.ends)
    elif st == 'overdue':
        at(row.since + 30 * DAY if F != 'lost-early' else row.since + 29 * DAY, timed, row, 'overdue', 'lost', 'lose', row.since, None)
    if row.due != row.ends:
        row.due = row.ends
        at(ends - (25 if F == 'due-early' else 24) * 3600000, due_soon, row, row.ends)


def timed(row, frm, to, op, since, ends):
    if row.f['state'] != frm or row.since != since or ends is not None and row.ends != ends:
        return
    set_loan_state(row, to, op, {})


def due_soon(row, ends):
    if row.ends == ends and (row.f['state'] == 'out' or F == 'due-agreed' and row.f['state'] == 'agreed'):
        tell('loan.due_soon', row, row.f)


def set_bell_standing(bell, standing, op):
    t = now_ms()
    before = dict(bell.f)
    bell.f['standing'] = standing
    bell.f['changed_at'] = iso(t)
    bell.since = t
    touched(bell)
    if not (F == 'dismount-untold' and op == 'dismount'):
        tell('bell.changed', bell, before)


def go_stale(row):
    if row.gone is None and row.f['state'] == 'open':
        before = dict(row.f)
        row.f['state'] = 'stale'
        touched(row)
        tell('tuning.stale', row, before)


# ---------------------------------------------------------------- events
def tell(kind, row, before, payload=None):
    if not LISTENER.rows:
        return
    t = now_ms()
    eid = None
    for sub in LISTENER.rows.values():
        f = sub.f
        if not f['awake']:
            continue
        ks = f.get('kinds')
        if ks is not None and not (kind in ks or '*' in ks or kind.split('.')[0] + '.*' in ks):
            continue
        who_ = sub.maker
        if kind == 'tuning.stale' and F != 'stale-to-readers':
            if f['owner'] != row.f['ordered_by']:
                continue
        elif not may_read(row.res, row, who_) and not (F == 'asked-to-all' and kind == 'loan.asked'):
            continue
        ver = 'e2' if F == 'events-newest' else sub.ver
        if kind == 'loan.altered':
            carries = {'slip': row.f['slip'], 'were': before['ringers'], 'are': row.f['ringers']}
        elif kind == 'tuning.finished':
            carries = {'tally': row.f['tally'], 'hz': row.f.get('measured_hz', 0.0)}
        elif kind == 'bell.gone':
            carries = row.f['mark']
        else:
            view = view_of(row.res, row, who_)
            if row.res is GUILD:
                view = 'part' if who_.user == 'captain' else 'full'
            if F == 'remark-told' and row.res is LOAN:
                view = 'h'
            carries = show(row, ver, view)
        if eid is None:
            eid = 'peal_' + uuid.uuid4().hex
        body = dumps({'ring': eid, 'tale': kind, 'told': iso(t), 'carries': carries})
        key = (row.res.name, row.f[row.res.idf]) if F != 'order-any' else eid
        chain = sub.chains.get(key)
        if chain is None:
            chain = sub.chains[key] = collections.deque()
        chain.append([eid, kind, ('payload=' + quote_plus(body)).encode(), 0, False])
        if len(chain) == 1:
            at(t, deliver, sub, key)
    arm()


WAITS = [10000, 600000 if F == 'second-wait' else 60000, 600000, 3600000]


def deliver(sub, key):
    chain = sub.chains.get(key)
    if not chain:
        return
    if sub.gone is not None or not sub.f['awake']:
        sub.chains.clear()
        return
    t = now_ms()
    if t < sub.not_before:
        at(sub.not_before, deliver, sub, key)
        return
    if sub.flying >= (1 if sub.failing is not None else 32):
        sub.waiting.append(key)
        return
    if chain[0][4]:
        return
    chain[0][4] = True
    sub.flying += 1
    task = LOOP.create_task(attempt(sub, key, chain[0]))
    FLYING.add(task)
    task.add_done_callback(FLYING.discard)


async def attempt(sub, key, d):
    status, after = 0, None
    try:
        status, after = await asyncio.wait_for(post(sub, d), 5)
    except Exception:
        pass
    t = now_ms()
    sub.flying -= 1
    d[4] = False
    chain = sub.chains.get(key)
    if 200 <= status < 300:
        sub.failing = None
        done(sub, key, chain, d)
    else:
        if sub.failing is None:
            sub.failing = t
        d[3] += 1
        if status == 410 and F != 'gone-goes-on' or t - sub.failing >= 2 * DAY:
            if sub.gone is None and sub.f['awake']:
                sub.f['awake'] = False
                touched(sub)
                sub.failing = None
                sub.chains.clear()
                sub.waiting.clear()
        elif d[3] > len(WAITS):
            done(sub, key, chain, d)
        else:
            wait = WAITS[d[3] - 1]
            if after:
                after = min(after, DAY)
                sub.not_before = max(sub.not_before, t + after)
                wait = max(wait, after)
            at(t + wait, deliver, sub, key)
    while sub.waiting and sub.flying < (1 if sub.failing is not None else 32):
        k = sub.waiting.popleft()
        n = sub.flying
        deliver(sub, k)
        if sub.flying == n and sub.waiting and sub.waiting[-1] == k:
            break
    arm()


def done(sub, key, chain, d):
    if chain and chain[0] is d:
        chain.popleft()
        if chain:
            at(now_ms(), deliver, sub, key)
        else:
            sub.chains.pop(key, None)


async def post(sub, d):
    u = urlsplit(sub.f['url'])
    tls = u.scheme.lower() == 'https'
    port = u.port or (443 if tls else 80)
    kw = {}
    if tls:
        import ssl
        kw = {'ssl': ssl.create_default_context()}
    r, w = await asyncio.open_connection(u.hostname, port, **kw)
    try:
        ts = str(now_ms() // 1000)
        signed = (d[0] + '|' + ts + '|').encode() + d[2]
        if F == 'signs-less':
            signed = (ts + '|').encode() + d[2]
        mac = hmac.new(sub.f['secret'].encode(), signed, 'sha512').hexdigest()
        target = (u.path or '/') + ('?' + u.query if u.query else '')
        head = ('POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\nX-Strike: t=%s,h=%s\r\n'
                'X-Tale: %s\r\nUser-Agent: bell-hangers\r\nConnection: close\r\n\r\n'
                % (target, u.netloc.rpartition('@')[2], len(d[2]), ts, mac, d[1].split('.')[0] if F == 'tale-short' else d[1]))
        w.write(head.encode('latin-1') + d[2])
        line = await r.readline()
        status = int(line.split()[1])
        after = None
        while True:
            h = await r.readline()
            if h in (b'\r\n', b'\n', b''):
                break
            name, _, value = h.partition(b':')
            if name.strip().lower() == b'retry-after':
                v = value.strip().decode('latin-1')
                if v.isdigit():
                    after = int(v) * 1000
                else:
                    try:
                        import email.utils
                        after = max(0, int(email.utils.parsedate_to_datetime(v).timestamp() * 1000) - now_ms())
                    except Exception:
                        pass
        return status, after
    finally:
        w.close()


# ---------------------------------------------------------------- rates
class Sliding:
    def __init__(self, limit, window):
        self.limit, self.window, self.of = limit, window, {}

    def ask(self, key, t):
        q = self.of.get(key)
        if q is None:
            q = self.of[key] = collections.deque()
        edge = t - self.window
        while q and q[0] <= edge:
            q.popleft()
        return 0 if len(q) < self.limit else q[0] - edge

    def take(self, key, t):
        q = self.of[key]
        q.append(t)
        return self.limit - len(q), q[0] + self.window - t


class Fixed:
    def __init__(self, limit, window):
        self.limit, self.window, self.of = limit, window, {}

    def ask(self, key, t):
        e = self.of.get(key)
        if e is None or t >= e[0] + self.window:
            e = self.of[key] = [t, 0]
        return 0 if e[1] < self.limit else e[0] + self.window - t

    def take(self, key, t):
        e = self.of[key]
        e[1] += 1
        return self.limit - e[1], e[0] + self.window - t


class Bucket:
    """counted in units of 1/window of one request, so that nothing is rounded"""

    def __init__(self, limit, window):
        self.limit, self.window, self.of = limit, window, {}

    def ask(self, key, t):
        full = self.limit * self.window
        e = self.of.get(key)
        if e is None:
            e = self.of[key] = [t, full]
        if F == 'bucket-drops':
            if t - e[0] >= self.window:
                e[0], e[1] = t, full
        else:
            e[1] = min(full, e[1] + (t - e[0]) * self.limit)
            e[0] = t
        return 0 if e[1] >= self.window else -(-(self.window - e[1]) // self.limit)

    def take(self, key, t):
        e = self.of[key]
        e[1] -= self.window
        return e[1] // self.window, -(-(self.window - e[1] % self.window) // self.limit)


R_CALLER = Sliding(900, 60000)
R_LOAN = Bucket(60, 60000)
R_ANYONE = Fixed(600, 60000)
R_EARS = Fixed(20, 600000)


def rates(op, caller, address, public):
    """header fields of the answer; refuses where one is used up"""
    t = now_ms()
    key = address if caller is None else (caller.user if F == 'rate-by-user' else caller.key)
    todo = [(R_CALLER, key)]
    if caller is None:
        todo.append((R_ANYONE, address))
    elif op == 'create loan':
        todo.append((R_LOAN, key))
    elif op == 'create listener':
        todo.append((R_EARS, key))
    worst = None
    for r, k in todo:
        wait = r.ask(k, t)
        if wait and (worst is None or wait > worst[0]):
            worst = (wait, r)
    if worst is not None:
        secs = -(-worst[0] // 1000)
        extra = 'X-Pull-Limit: %d\r\nX-Pulls-Left: 0\r\nX-Pulls-Back: %d\r\n' % (worst[1].limit, secs)
        if F != 'no-retry-after':
            extra += 'Retry-After: %d\r\n' % secs
        raise Refused('too_eager', None, extra)
    best = None
    for r, k in todo:
        left, back = r.take(k, t)
        if best is None or left < best[0]:
            best = (left, back, r.limit)
    if F == 'left-one-more':
        best = (best[0] + 1, best[1], best[2])
    return 'X-Pull-Limit: %d\r\nX-Pulls-Left: %d\r\nX-Pulls-Back: %d\r\n' % (best[2], best[0], -(-best[1] // 1000))


# ---------------------------------------------------------------- keys of requests
KEPT = {}
KEPT_TURN = 0


def sweep_kept():
    t = now_ms()
    for k in [k for k, v in KEPT.items() if v[0] <= t]:
        del KEPT[k]
    for k in [k for k, v in GONE_GUILDS.items() if v.gone + 20 * DAY <= t]:
        del GONE_GUILDS[k]
    for k in [k for k in QUOTA if k[1] < t // DAY - 2]:
        del QUOTA[k]


QUOTA = {}


# ---------------------------------------------------------------- what is sent
def invalid(V):
    V.sort(key=lambda x: x[0])
    first = V[0]
    if F == 'missing-first':
        first = next((v for v in V if v[1] == 'lacking'), first)
    code = first[1]
    if F == 'unknown-as-value' and code == 'never_heard_of':
        code = 'wont_do'
    rest = [v for v in V if v is not first]
    return Refused(code, [{'in': 'body', 'path': v[2], 'expected': v[3]} for v in [first] + rest])


def merge(a, b):
    if type(b) is not dict:
        return b
    out = dict(a) if type(a) is dict else {}
    for k, v in b.items():
        if v is None:
            out.pop(k, None)
        else:
            out[k] = merge(out.get(k), v)
    return out


def take(res, ver, body, mode, caller, cur, bound=None):
    """the row as it would be stored: {field: value}, of what was sent; refuses what is wrong with it"""
    spec = res.specs[ver]
    if type(body) is not dict:
        raise invalid([(0, 'wont_do', '', 'a map')])
    V, nxt, order, bad = [], {}, {}, set()
    user = caller.user
    i = 0
    for k, v in body.items():
        i += 1
        f = spec.get(k)
        if f is None:
            V.append((i, 'never_heard_of', k, 'no such field'))
            continue
        if f.ro or f.writable and user not in f.writable:
            continue
        key = f.key
        order[key] = i
        told = key if F == 'newest-name-told' else k
        if mode == 'update':
            if v is None:
                if f.req:
                    V.append((i, 'wont_do', told, 'a value'))
                    bad.add(key)
                elif not f.dropped and not (F == 'null-keeps' and key == 'occasion'):
                    nxt[key] = None
                continue
            if f.kind == 'partials' and type(v) is dict:
                v = merge(cur.get(key), v)
        n = len(V)
        x = fit(f, v, told, i, V)
        if len(V) > n:
            bad.add(key)
            continue
        if f.dropped:
            continue
        if f.up is not None:
            if cur is not None and key in cur and f.down(cur[key]) == x:
                x = cur[key]
            elif not (F == 'cm-stored' and mode == 'update' and key == 'diameter'):
                x = f.up(x)
            else:
                x = int(x)
        if bound is not None and key in bound and x != bound[key]:
            V.append((i, 'wont_do', told, 'what the path says'))
        elif f.imm and cur is not None and cur.get(key) != x and not (F == 'kind-changes' and key == 'kind' and mode == 'replace'):
            V.append((i, 'wont_do', told, 'what it was'))
        nxt[key] = x
    if mode != 'update':
        for f in spec.values():
            key = f.key
            if f.ro or key in nxt or key in bad or f.dropped:
                continue
            if bound is not None and key in bound:
                nxt[key] = bound[key]
            elif f.imm and cur is not None:
                nxt[key] = cur[key]
            elif f.default is not None:
                if cur is not None and f.writable and user not in f.writable:
                    continue
                if F == 'metal-kept' and cur is not None and key == 'metal':
                    continue
                nxt[key] = f.default
            elif f.req:
                V.append((1e9, 'lacking', f.name, 'a value'))
                bad.add(key)
    # the rules over several fields
    full = nxt if cur is None else {**cur, **nxt}
    if res is BELL:
        if not bad & {'kind', 'weight_kg'} and full['kind'] == 'hand' and full['weight_kg'] > 10:
            V.append((order.get('weight_kg', 1e8), 'wont_do', 'weight_kg', 'ten kilograms at the most for a handbell'))
    elif res is LOAN:
        if not bad & {'starts', 'ends'}:
            a, b = instant(full['starts']), instant(full['ends'])
            if b < a if F == 'ends-equal' else b <= a:
                V.append((order.get('ends', 1e8), 'wont_do', 'ends', 'a time after the loan starts'))
    if V:
        raise invalid(V)
    return nxt


def altered(cur, nxt):
    return any(cur.get(k) != v or type(cur.get(k)) is bool and type(v) is not bool for k, v in nxt.items())


# ---------------------------------------------------------------- operations
class Rq:
    __slots__ = ('method', 'head', 'path', 'query', 'ver', 'ep', 'ids', 'caller', 'params', 'headers', 'body', 'raw', 'replay', 'here', 'too_big', 'framing')


def load(res, rq, ident=None):
    """the row that the path names, where its caller may read it"""
    ident = rq.ids[0] if ident is None else ident
    if res is GUILD:
        if not re.match(r'(?:0|[1-9][0-9]{0,15})\Z', ident):
            raise Refused('not_on_peg')
        ident = int(ident)
    row = res.rows.get(ident)
    if row is None:
        if res is GUILD:
            g = GONE_GUILDS.get(ident)
            if g is not None and now_ms() < g.gone + 20 * DAY and F != 'gone-as-missing':
                raise Refused('melted')
        raise Refused('not_on_peg')
    if not may_read(res, row, rq.caller):
        raise Refused('not_yours' if F == 'others-forbidden' and res is LOAN else 'not_on_peg')
    return row


_tag = re.compile(r'\s*(W/)?"([^"]*)"\s*(?:,|\Z)')


def tags(text):
    out, p = [], 0
    while p < len(text):
        m = _tag.match(text, p)
        if not m:
            break
        out.append((bool(m.group(1)), m.group(2)))
        p = m.end()
    return out


def if_match(rq, row, required=False):
    h = rq.headers.get('if-match')
    if h is None:
        if required:
            raise Refused('tag_wanted')
        return
    if row is None:
        raise Refused('changed_since')
    if h.strip() == '*':
        return
    tag = seen(row, rq.ver, view_of(row.res, row, rq.caller))[1]
    for weak, t in tags(h):
        if (not weak or F == 'weak-matches') and t.split('.')[0] == tag:
            return
    raise Refused('changed_since')


def answer(rq, row, status=200, located=False):
    body, _ = seen(row, rq.ver, view_of(row.res, row, rq.caller))
    extra = ''
    if located:
        base = '' if F == 'location-no-base' else BASE
        extra = 'Location: %s/%s/%ss/%s\r\n' % (base, rq.ver, row.res.name, row.f[row.res.idf])
    return status, body, extra


def read_one(res):
    def read(rq):
        row = load(res, rq)
        view = view_of(res, row, rq.caller)
        body, tag = seen(row, rq.ver, view)
        if res is TUNING or res is LISTENER:
            return 200, body, ''
        if res is BELL:
            sel = rq.params.get('show')
            if sel is not None:
                d = chosen(show(row, rq.ver, view), sel)
                body = dumps(d).encode()
                tag += '.' + hashlib.blake2b(repr(sorted(sel)).encode(), digest_size=5).hexdigest()
        extra = 'ETag: "%s"\r\n' % tag
        if res is BELL:
            extra += 'Cache-Control: private, max-age=30\r\n'
        h = rq.headers.get('if-none-match')
        if h is not None:
            ts = tags(h)
            if F == 'first-tag-alone':
                ts = ts[:1]
            if h.strip() == '*' or any(t == tag for _, t in ts):
                return 304, b'', extra
        return 200, body, extra
    return read


def chosen(d, sel):
    out = {}
    for k, v in d.items():
        if k == 'mark' or k in sel:
            out[k] = v
        else:
            sub = [s[len(k) + 1:] for s in sel if s.startswith(k + '.')]
            if sub and type(v) is dict:
                out[k] = {a: b for a, b in v.items() if a in sub}
    return out


def show_names(ver, caller, values):
    names = set()
    for text in values:
        for n in text.split(','):
            names.add(n)
    if len(names) > 100:
        raise query_wrong('show', '100 names at the most')
    hang = caller is not None and caller.user == 'hanger'
    spec = BELL.specs[ver]
    for n in names:
        a, _, b = n.partition('.')
        f = spec.get(a)
        if f is None or f.visible and not hang or b and (a != 'partials' or b not in PARTIALS) or n.endswith('.'):
            raise query_wrong('show', 'names of fields')
    return names


# bells
def upsert_bell(rq):
    mark = rq.ids[0]
    row = BELL.rows.get(mark)
    if_match(rq, row)
    if row is None and not re.match(_mark, mark):
        raise Refused('wont_do', [{'in': 'path', 'path': 'mark', 'expected': 'a text like ^[a-z][a-z0-9-]{2,19}$'}])
    c = rq.caller
    nxt = take(BELL, rq.ver, rq.body, 'create' if row is None else 'replace', c, None if row is None else row.f, {'mark': mark})
    t = now_ms()
    if row is None:
        nxt.update(shire=c.shire, standing='ready', on_loan=False, lent_times=0, made_at=iso(t), changed_at=iso(t))
        nxt['tags'] = list(nxt['tags'])
        row = Row(BELL, nxt)
        BELL.rows[mark] = row
        return answer(rq, row, 201, F != 'put-no-location')
    f = dict(row.f)
    for k in ('partials', 'worth_pence'):
        f.pop(k, None)
    f.update(nxt)
    if f != row.f or F == 'put-always-counts':
        f['changed_at'] = iso(t)
        if F == 'put-new-shire':
            f['shire'] = c.shire
        row.f = f
        touched(row)
    return answer(rq, row, 201 if F == 'put-201' else 200)


def mine(rq, row):
    if row.f['shire'] != rq.caller.shire:
        raise Refused('not_yours')


def update_bell(rq):
    row = load(BELL, rq)
    mine(rq, row)
    if_match(rq, row, F != 'tag-optional')
    nxt = take(BELL, rq.ver, rq.body, 'update', rq.caller, row.f, {'mark': row.f['mark']})
    if row.f['standing'] == 'retired' and F != 'patch-retired':
        raise Refused('out_of_turn')
    if altered(row.f, nxt):
        before = dict(row.f)
        put(row, nxt)
        row.f['changed_at'] = iso(now_ms())
        touched(row)
        tell('bell.changed', row, before)
    elif F == 'noop-counts':
        row.f['changed_at'] = iso(now_ms())
        touched(row)
    return answer(rq, row)


def put(row, nxt):
    f = dict(row.f)
    for k, v in nxt.items():
        if v is None:
            f.pop(k, None)
        else:
            f[k] = v
    row.f = f


def delete_bell(rq):
    row = load(BELL, rq)
    if F != 'delete-any-shire':
        mine(rq, row)
    if_match(rq, row)
    if row.f['standing'] == 'lathe':
        raise Refused('out_of_turn')
    if row.loans:
        raise Refused('still_tied')
    tell('bell.gone', row, row.f)
    row.gone = now_ms()
    del BELL.rows[row.f['mark']]
    if F != 'tunings-stay':
        for t in row.tunings.values():
            t.gone = row.gone
            del TUNING.rows[t.f['id']]
    return 204, b'', ''


def retire_bell(rq):
    row = load(BELL, rq)
    mine(rq, row)
    if row.f['standing'] != 'ready':
        raise Refused('out_of_turn')
    if row.f['on_loan']:
        raise Refused('bell_is_out')
    set_bell_standing(row, 'retired', 'retire')
    return answer(rq, row)


# guilds
def name_key(s):
    return s if F == 'name-case' else s.casefold()


def create_guild(rq):
    global GUILD_NO
    c = rq.caller
    nxt = take(GUILD, rq.ver, rq.body, 'create', c, None)
    if name_key(nxt['name']) in GUILD_NAMES:
        raise Refused('name_taken')
    GUILD_NO += 1
    t = iso(now_ms())
    nxt.update(no=GUILD_NO, captain=c.id, bells_out=0, joined_at=t, changed_at=t)
    row = GUILD.rows[GUILD_NO] = Row(GUILD, nxt)
    GUILD_NAMES[name_key(nxt['name'])] = row
    st, body, extra = answer(rq, row, 201, True)
    if F == 'code-shown' and 'door_code' in nxt:
        body = dumps({**json.loads(body), 'door_code': nxt['door_code']}).encode()
    return st, body, extra


def update_guild(rq):
    row = load(GUILD, rq)
    c = rq.caller
    if c.user == 'captain' and row.f['captain'] != c.id:
        raise Refused('not_yours')
    if_match(rq, row)
    nxt = take(GUILD, rq.ver, rq.body, 'update', c, row.f)
    if 'name' in nxt:
        other = GUILD_NAMES.get(name_key(nxt['name']))
        if other is not None and other is not row:
            raise Refused('name_taken')
    if altered(row.f, nxt):
        before = dict(row.f)
        put(row, nxt)
        row.f['changed_at'] = iso(now_ms())
        touched(row)
        GUILD_NAMES.pop(name_key(before['name']), None)
        GUILD_NAMES[name_key(row.f['name'])] = row
        if row.f['name'] != before['name'] or F == 'renamed-always':
            tell('guild.renamed', row, before)
    return answer(rq, row)


def delete_guild(rq):
    row = load(GUILD, rq)
    if row.f['captain'] != rq.caller.id:
        raise Refused('not_yours')
    if row.loans:
        raise Refused('still_tied')
    row.gone = now_ms()
    del GUILD.rows[row.f['no']]
    GONE_GUILDS[row.f['no']] = row
    if F != 'name-stays-taken':
        GUILD_NAMES.pop(name_key(row.f['name']), None)
    return 204, b'', ''


# loans
LONG = 2160 * 3600 * 1000000000
LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'
_rnd = random.SystemRandom()


def own_errors(full, created):
    bell = BELL.rows[full['bell']]
    a, b = instant(full['starts']), instant(full['ends'])
    if created:
        if bell.f['standing'] != 'ready':
            raise Refused('bell_unready')
        if a < now_ms() * 1000000:
            raise Refused('behind_us')
    if b - a > LONG and not (F == 'long-on-patch' and not created):
        raise Refused('too_long')
    if bell.f['kind'] == 'tower' and full['ringers'] > 1:
        raise Refused('crowded')


def create_loan(rq):
    guild = load(GUILD, rq)
    c = rq.caller
    nxt = take(LOAN, rq.ver, rq.body, 'create', c, None, {'guild': guild.f['no']})
    bell = BELL.rows.get(nxt['bell'])
    if bell is None:
        raise Refused('dangling')
    if guild.f['captain'] != c.id:
        raise Refused('not_yours')
    own_errors(nxt, True)
    if guild.live >= (7 if F == 'seven-loans' else 6):
        raise Refused('enough')
    no = 'all' if F == 'numbers-over-all' else guild.f['no']
    LOAN_NUMBERS[no] = n = LOAN_NUMBERS.get(no, 0) + 1
    t = iso(now_ms())
    slip = 'slip_' + ''.join(_rnd.choice(LETTERS) for _ in range(12))
    nxt.update(slip=slip, number=n, captain=c.id, shire=c.shire, fee_pence=nxt['ringers'] * 150, state='asked', asked_at=t, changed_at=t)
    row = LOAN.rows[slip] = Row(LOAN, nxt)
    row.starts, row.ends = instant(nxt['starts']), instant(nxt['ends'])
    bell.loans[slip] = row
    guild.loans[slip] = row
    count_loan(row, None, 'asked')
    plan_loan(row)
    tell('loan.asked', row, nxt)
    return answer(rq, row, 201, True)


def update_loan(rq):
    row = load(LOAN, rq)
    if_match(rq, row)
    nxt = take(LOAN, rq.ver, rq.body, 'update', rq.caller, row.f)
    if row.f['state'] not in ('asked', 'agreed'):
        raise Refused('out_of_turn')
    full = {**row.f, **nxt}
    own_errors(full, False)
    if altered(row.f, nxt):
        before = row.f
        put(row, nxt)
        if F != 'fee-stays':
            row.f['fee_pence'] = row.f['ringers'] * 150
        row.f['changed_at'] = iso(now_ms())
        row.starts, row.ends = instant(row.f['starts']), instant(row.f['ends'])
        touched(row)
        if instant(before['ends']) != row.ends:
            plan_again(row)
        if row.f['ringers'] != before['ringers'] or row.f['ends'] != before['ends']:
            tell('loan.altered', row, before)
    return answer(rq, row)


def plan_again(row):
    """another end: the times that go by it are set anew"""
    ends = -(-row.ends // 1000000)
    if row.f['state'] == 'agreed' and F != 'ends-as-agreed':
        at(ends, timed, row, 'agreed', 'lapsed', 'miss', row.since, row.ends)
    if row.due != row.ends:
        row.due = row.ends
        at(ends - (25 if F == 'due-early' else 24) * 3600000, due_soon, row, row.ends)


def small_body(rq, name, f):
    body = rq.body
    if type(body) is not dict:
        raise invalid([(0, 'wont_do', '', 'a map')])
    V, out = [], None
    for i, (k, v) in enumerate(body.items()):
        if k != name:
            V.append((i, 'never_heard_of', k, 'no such field'))
        else:
            out = fit(f, v, k, i, V)
    if name not in body:
        V.append((1e9, 'lacking', name, 'a value'))
    if V:
        raise invalid(V)
    return out


REASON = Fld('reason', 'string', lo=3, hi=80)
CONDITION = Fld('condition', 'enum', enum=['sound', 'chipped', 'cracked'])
MEASURED = Fld('measured_hz', 'number', lo=20, hi=9000)


def agree_loan(rq):
    row = load(LOAN, rq)
    if row.f['state'] != 'asked':
        raise Refused('out_of_turn')
    if BELL.rows[row.f['bell']].f['standing'] != 'ready':
        raise Refused('bell_unready')
    if row.f['bell'] in BELL_HOLDER and not (F == 'promised-twice' and BELL_HOLDER[row.f['bell']].f['state'] == 'agreed'):
        raise Refused('name_taken' if F == 'promised-as-taken' else 'bell_promised')
    set_loan_state(row, 'agreed', 'agree', {'agreed_at': iso(now_ms())})
    return answer(rq, row)


def refuse_loan(rq):
    row = load(LOAN, rq)
    reason = small_body(rq, 'reason', REASON)
    if row.f['state'] != 'asked':
        raise Refused('out_of_turn')
    set_loan_state(row, 'refused', 'refuse', {'refused_for': reason})
    return answer(rq, row)


def withdraw_loan(rq):
    row = load(LOAN, rq)
    if row.f['state'] not in (('asked',) if F == 'withdraw-asked-alone' else ('asked', 'agreed')):
        raise Refused('too_late')
    set_loan_state(row, 'withdrawn', 'withdraw', {})
    return answer(rq, row)


def collect_loan(rq):
    row = load(LOAN, rq)
    if row.f['state'] != 'agreed':
        raise Refused('out_of_turn')
    if row.starts > now_ms() * 1000000 and F != 'collect-early':
        raise Refused('out_of_turn' if F == 'early-out-of-turn' else 'too_early')
    set_loan_state(row, 'out', 'collect', {})
    return answer(rq, row)


def return_loan(rq):
    row = load(LOAN, rq)
    cond = small_body(rq, 'condition', CONDITION)
    if row.f['state'] not in (('out',) if F == 'overdue-stays' else ('out', 'overdue')):
        raise Refused('out_of_turn')
    set_loan_state(row, 'back', 'return', {'condition': cond, 'back_at': iso(now_ms())})
    return answer(rq, row)


# tunings
def create_tuning(rq):
    global TALLY
    c = rq.caller
    nxt = take(TUNING, rq.ver, rq.body, 'create', c, None)
    bell = BELL.rows.get(nxt['bell'])
    if bell is None:
        raise Refused('dangling')
    t = now_ms()
    nxt.setdefault('urgency', 'normal')
    if F == 'urgency-forgotten' and rq.ver == 'e1':
        nxt['urgency'] = 'low'
    if c.user == 'captain':
        k = (c.key, t // DAY)
        used = QUOTA.get(k, 0)
        if used >= 40:
            raise Refused('enough', None, 'Retry-After: %d\r\n' % -(-((t // DAY + 1) * DAY - t) // 1000))
        QUOTA[k] = used + 1
    TALLY += 1
    id = str(uuid.uuid4())
    nxt.update(id=id, tally='BH-%05d' % TALLY, ordered_by=c.id, state='open', ordered_at=iso(t))
    row = TUNING.rows[id] = Row(TUNING, nxt)
    bell.tunings[id] = row
    at(t + 14 * DAY, go_stale, row)
    return answer(rq, row, 201, True)


def update_tuning(rq):
    row = load(TUNING, rq)
    if row.f['state'] not in (('open', 'rough') if F == 'patch-rough' else ('open',)):
        raise Refused('not_yours')
    nxt = take(TUNING, rq.ver, rq.body, 'update', rq.caller, row.f)
    if altered(row.f, nxt):
        put(row, nxt)
        touched(row)
    if F == 'old-patch-resets' and rq.ver == 'e1':
        row.f['urgency'] = 'normal'
        touched(row)
    return answer(rq, row)


def begin_tuning(rq):
    row = load(TUNING, rq)
    if row.f['state'] not in ('open', 'rough'):
        raise Refused('out_of_turn')
    bell = BELL.rows[row.f['bell']]
    if bell.f['on_loan']:
        raise Refused('bell_is_out')
    if bell.f['standing'] != 'ready':
        raise Refused('lathe_taken')
    again = row.f['state'] == 'rough'
    row.f['state'] = 'lathe'
    touched(row)
    if not (F == 'not-mounted-again' and again):
        set_bell_standing(bell, 'lathe', 'mount')
    return answer(rq, row)


def finish_tuning(rq):
    row = load(TUNING, rq)
    hz = small_body(rq, 'measured_hz', MEASURED)
    if row.f['state'] != 'lathe':
        raise Refused('out_of_turn')
    target = row.f['target_hz']
    before = dict(row.f)
    good = target - 0.5 < hz < target + 0.5 if F == 'half-is-rough' else target - 0.5 <= hz <= target + 0.5
    row.f.update(state='tuned' if good else 'rough', measured_hz=hz, finished_at=iso(now_ms()))
    touched(row)
    if good or F == 'rough-told':
        tell('tuning.finished', row, before)
    bell = BELL.rows[row.f['bell']]
    if bell.f['standing'] == 'lathe':
        set_bell_standing(bell, 'ready', 'dismount')
    return answer(rq, row)


def abandon_tuning(rq):
    row = load(TUNING, rq)
    if row.f['state'] not in ('open', 'rough'):
        raise Refused('too_late')
    row.f['state'] = 'abandoned'
    touched(row)
    return answer(rq, row)


# listeners
CROCK = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'


def ulid(ms):
    n = (ms << 80) | random.getrandbits(80)
    return ''.join(CROCK[(n >> s) & 31] for s in range(125, -1, -5))


def create_listener(rq):
    c = rq.caller
    nxt = take(LISTENER, rq.ver, rq.body, 'create', c, None)
    if sum(1 for r in LISTENER.rows.values() if r.f['owner'] == c.id) >= (5 if F == 'five-ears' else 4):
        raise Refused('enough')
    t = now_ms()
    id = 'ear_' + ulid(t)
    secret = 'clapper_' + ''.join(_rnd.choice(ALNUM) for _ in range(40))
    nxt.update(id=id, owner=c.id, secret=secret, made_at=iso(t))
    row = LISTENER.rows[id] = Row(LISTENER, nxt)
    row.maker, row.ver = c, rq.ver
    st, body, extra = answer(rq, row, 201, True)
    rq.replay = body
    d = json.loads(body)
    out = {}
    for k, v in d.items():
        if k == 'awake':
            out['secret'] = secret
        out[k] = v
    return st, dumps(out).encode(), extra


def update_listener(rq):
    row = load(LISTENER, rq)
    nxt = take(LISTENER, rq.ver, rq.body, 'update', rq.caller, row.f)
    if altered(row.f, nxt):
        put(row, nxt)
        touched(row)
        row.not_before = 0
        if not row.f['awake']:
            row.chains.clear()
            row.waiting.clear()
        else:
            row.failing = None
    return answer(rq, row)


def delete_listener(rq):
    row = load(LISTENER, rq)
    row.gone = now_ms()
    row.chains.clear()
    row.waiting.clear()
    del LISTENER.rows[row.f['id']]
    return 200, dumps({'hushed': row.f['id']}).encode(), ''


def motto(rq):
    return 200, b'{"motto":"We call the living."}', ''


# ---------------------------------------------------------------- lists
_whole = re.compile(r'-?(?:0|[1-9][0-9]{0,17})\Z')
_num = re.compile(r'-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?\Z')


def p_any(name, v, ver):
    return v


def p_enum(values, old=None):
    def parse(name, v, ver):
        m = old if ver == 'e1' and old else values
        if v not in m:
            raise query_wrong(name, 'one of ' + ', '.join(m))
        return m[v] if type(m) is dict else v
    return parse


def p_split(one):
    def parse(name, v, ver):
        parts = v.split(',')
        if len(parts) > 100:
            raise query_wrong(name, '100 values at the most')
        out = {one(name, x, ver) for x in parts}
        if F == 'first-of-split':
            return {one(name, parts[0], ver)}
        return out
    return parse


def p_bool(name, v, ver):
    if v not in ('true', 'false'):
        raise query_wrong(name, 'true or false')
    return v == 'true'


def p_int(name, v, ver):
    if not _whole.match(v):
        raise query_wrong(name, 'a whole number')
    return int(v)


def p_num(name, v, ver):
    if not _num.match(v):
        raise query_wrong(name, 'a number')
    return float(v)


def p_time(name, v, ver):
    t = instant(v)
    if t is None:
        raise query_wrong(name, 'a date-time')
    return t


def p_words(name, v, ver):
    w = v.lower().split()
    if len(w) > 16:
        raise query_wrong(name, '16 words at the most')
    return w


def p_text(rx):
    rx = re.compile(rx, re.S)

    def parse(name, v, ver):
        if not rx.match(v):
            raise query_wrong(name, 'a text like ' + rx.pattern)
        return v
    return parse


_heavier = (lambda v: lambda r: r.f['weight_kg'] > v) if F == 'heavier-strict' else (lambda v: lambda r: r.f['weight_kg'] >= v)
_called = (lambda v: lambda r: r.f['name'].lower().startswith(v.lower())) if F == 'called-any-case' else (lambda v: lambda r: r.f['name'].startswith(v))
_states = p_enum(LOAN_STATES, LOAN_STATES if F == 'out-in-e1' else {('borrowed' if s == 'out' else s): s for s in LOAN_STATES})
_occ = (lambda v: lambda r: v in r.f.get('occasion', '')) if F == 'occasion-minds-case' else (lambda v: lambda r: v.lower() in r.f.get('occasion', '').lower() and 'occasion' in r.f)


def words_in(*fields):
    def f(v):
        def ok(r):
            texts = [r.f[k].lower() for k in fields]
            return all(any(w in t for t in texts) for w in v)
        return ok
    return f


LISTS = {
    'list bell': {
        'kind': (p_enum(['hand', 'tower']), lambda v: lambda r: r.f['kind'] == v),
        'metal': (p_split(p_enum(['bronze', 'steel', 'aluminium'], METAL_UP)), lambda v: lambda r: r.f['metal'] in v),
        'tag': (p_text(r'.{1,20}\Z'), lambda v: lambda r: v in r.f['tags']),
        'heavier': (p_int, _heavier),
        'standing': (p_enum(['ready', 'lathe', 'retired']), lambda v: lambda r: r.f['standing'] == v),
        'on_loan': (p_bool, lambda v: lambda r: r.f['on_loan'] == v),
        'called': (p_any, _called),
        'words': (p_words, words_in('name', 'pitch')),
        'by': (p_enum(['size', '-size', 'name', '-name', 'width', '-width', 'age', '-age']), None),
        'way': (p_enum(['asc', 'desc']), None),
        'show': (None, None),
    },
    'list guild': {
        'county': (p_text(r'[A-Z][a-z]{2,19}\Z'), lambda v: lambda r: r.f['county'] == v),
        'trusted': (p_bool, lambda v: lambda r: r.f['trusted'] == v),
        'words': (p_words, words_in('name')),
        'sort': (p_enum(['name', '-name']), None),
    },
    'list loan': {
        'bell': (p_any, lambda v: lambda r: r.f['bell'] == v),
        'guild': (p_int, lambda v: lambda r: r.f['guild'] == v),
        'state': (p_split(_states), lambda v: lambda r: r.f['state'] in v),
        'captain': (p_any, lambda v: lambda r: r.f['captain'] == v),
        'starts_from': (p_time, lambda v: lambda r: r.starts >= v),
        'starts_before': (p_time, lambda v: lambda r: r.starts < v),
        'occasion': (p_any, _occ),
        'sort': (p_enum({s: s for s in ('starts', '-starts', 'ringers', '-ringers')}, {'starts': 'starts', '-starts': '-starts', 'party': 'ringers', '-party': '-ringers'}), None),
    },
    'list guild loans': {},
    'list tuning': {
        'bell': (p_any, lambda v: lambda r: r.f['bell'] == v),
        'state': (p_enum(['open', 'lathe', 'rough', 'tuned', 'abandoned', 'stale']), lambda v: lambda r: r.f['state'] == v),
        'urgency': (p_enum(['low', 'normal', 'high']), lambda v: lambda r: r.f['urgency'] != v),
        'below': (p_num, lambda v: lambda r: r.f['target_hz'] < v),
    },
    'list listener': {},
}
BY = {'size': lambda r: r.f['weight_kg'], 'name': lambda r: r.f['name'], 'width': lambda r: r.f['diameter'], 'age': lambda r: r.f['made_at']}
SLIPS = ('list loan', 'list guild loans')


def parameters(rq):
    """what the query says, read by the endpoint's own list of parameters"""
    q, op = rq.query, rq.ep.op
    spec = LISTS.get(op)
    P = {}
    if q:
        paged = spec is not None
        start = 'start' if op in SLIPS else 'from'
        page_wrong = None
        for piece in q.split('&'):
            if not piece:
                continue
            k, _, v = piece.partition('=')
            k, v = unquote_plus(k), unquote_plus(v)
            if k == 'show' and op in ('list bell', 'read bell'):
                P.setdefault('show', []).append(v)
                continue
            if paged and (k == 'count' or k == start):
                if k in P:
                    raise query_wrong(k, 'one value')
                P[k] = v
                continue
            if not paged or k not in spec:
                raise query_wrong(k, 'a parameter of this address')
            if k in P:
                raise query_wrong(k, 'one value')
            c = rq.caller
            if k == 'trusted' and c is not None and c.user == 'captain' or k in ('captain', 'occasion') and op == 'list loan' and c is not None and c.user == 'auditor':
                raise query_wrong(k, 'a parameter of this address')
            if k == 'urgency' and rq.ver == 'e1':
                raise query_wrong(k, 'a parameter of this address')
            P[k] = spec[k][0](k, v, rq.ver)
        if 'show' in P:
            P['show'] = show_names(rq.ver, rq.caller, P['show'])
    if spec is not None:
        slips = op in SLIPS
        n = P.get('count')
        if n is None:
            n = 8 if slips else 12
        else:
            if not re.match(r'[0-9]{1,18}\Z', n) or int(n) < 1:
                raise Refused('no_such_page', [{'in': 'query', 'path': 'count', 'expected': 'a whole number from 1'}])
            n = int(n)
            top = 40 if slips else (60 if F == 'page-60' else 50)
            if n > top:
                if slips and F != 'slips-clamped':
                    raise Refused('no_such_page', [{'in': 'query', 'path': 'count', 'expected': '%d at the most' % top}])
                n = top
        P['count'] = n
        if not slips:
            s = P.get('from', '1')
            if not re.match(r'[0-9]{1,18}\Z', s) or int(s) < 1:
                raise Refused('no_such_page', [{'in': 'query', 'path': 'from', 'expected': 'a whole number from 1'}])
            P['from'] = int(s)
    rq.params = P


def list_rows(res, op):
    spec = LISTS[op]

    def run(rq):
        P, c = rq.params, rq.caller
        rows = list(res.rows.values())
        if res is LOAN:
            if op == 'list guild loans':
                no = load(GUILD, rq).f['no']
                rows = [r for r in rows if r.f['guild'] == no]
            if c.user == 'captain':
                if not (F == 'others-by-guild' and 'guild' in P):
                    rows = [r for r in rows if r.f['captain'] == c.id]
            elif c.user == 'auditor':
                rows = [r for r in rows if r.f['shire'] == c.shire]
        elif res is TUNING:
            if c.user == 'captain':
                rows = [r for r in rows if r.f['ordered_by'] == c.id]
            elif c.user == 'auditor':
                ok = ('tuned', 'abandoned', 'stale', 'rough') if F == 'auditor-sees-rough' else ('tuned', 'abandoned', 'stale')
                rows = [r for r in rows if r.f['state'] in ok]
            rows.reverse()
        elif res is LISTENER:
            rows = [r for r in rows if r.f['owner'] == c.id]
        tests = [spec[k][1](v) for k, v in P.items() if k in spec and spec[k][1] is not None]
        slips = op in SLIPS
        if tests and not (slips and 'start' in P):
            rows = [r for r in rows if all(t(r) for t in tests)]
        # the order
        if res is BELL:
            by = P.get('by')
            down = P.get('way') == 'desc'
            if by is None:
                rows.sort(key=lambda r: r.f['mark'], reverse=down)
            else:
                if by[0] == '-':
                    down = True if F == 'way-does-not-turn' else not down
                    by = by[1:]
                rows.sort(key=BY[by], reverse=down)
        elif res is GUILD and 'sort' in P:
            rows.sort(key=lambda r: r.f['name'], reverse=P['sort'][0] == '-')
        elif op == 'list loan':
            s = P.get('sort', '-starts')
            rows.sort(key=(lambda r: r.starts) if s.endswith('starts') else (lambda r: r.f['ringers']), reverse=s[0] == '-')
        elif op == 'list guild loans':
            rows.sort(key=lambda r: r.f['number'], reverse=True)
        ver, n = rq.ver, P['count']
        if slips:
            if 'start' in P:
                for i, r in enumerate(rows):
                    if r.f['slip'] == P['start']:
                        break
                else:
                    raise Refused('no_such_page', [{'in': 'query', 'path': 'start', 'expected': 'a slip of this list'}])
                rows = rows[i:]
                if tests:
                    rows = [r for r in rows if all(t(r) for t in tests)]
            more = len(rows) > n
            if F == 'more-at-the-end':
                more = len(rows) >= n
            onward = rows[n].f['slip'] if len(rows) > n else None
            rows = rows[:n]
            tail = dumps({'onward': onward, 'more': more})
            head, extra = b'{"slips":[', ''
        else:
            total = len(rows)
            frm = P['from']
            rows = rows[frm - 1:frm - 1 + n]
            further = frm + n if total >= frm + n else None
            if F == 'of-the-page':
                total = len(rows)
            if F == 'further-too-far' and total == frm + n - 1:
                further = frm + n
            tail = dumps({'further': further, 'of': total, 'here': rq.here[len(BASE):] if F == 'here-no-base' else rq.here})
            head = b'{"rows":['
            keep = ''.join(p + '&' for p in rq.query.split('&') if p and unquote_plus(p.partition('=')[0]) not in ('from', 'count')) if rq.query else ''
            links = []
            if further is not None and F != 'no-next-link':
                links.append('<%s?%sfrom=%d&count=%d>; rel="next"' % (rq.here, keep, further, n))
            if frm > 1:
                links.append('<%s?%sfrom=%d&count=%d>; rel="prev"' % (rq.here, keep, max(1, frm - n), n))
            links.append('<%s?%sfrom=1&count=%d>; rel="first"' % (rq.here, keep, n))
            extra = 'Link: ' + ', '.join(links) + '\r\n'
        sel = P.get('show')
        if sel is not None:
            items = [dumps(chosen(show(r, ver, view_of(res, r, c)), sel)).encode() for r in rows]
        elif F == 'worth-in-list' and res is BELL:
            items = [seen(r, ver, 'h')[0] for r in rows]
        elif F == 'captain-in-list' and res is GUILD:
            items = [dumps({**show(r, ver, view_of(res, r, c)), 'captain': r.f['captain']}).encode() for r in rows]
        elif F == 'list-newest' and res is LOAN:
            items = [seen(r, 'e2', view_of(res, r, c))[0] for r in rows]
        else:
            items = [seen(r, ver, view_of(res, r, c))[0] for r in rows]
        return 200, head + b','.join(items) + b'],' + tail[1:].encode(), extra
    return run


# ---------------------------------------------------------------- the doors
class Ep:
    __slots__ = ('op', 'fn', 'body', 'users', 'scope', 'anyone', 'public', 'versions', 'keyed')

    def __init__(self, op, fn, users, body=None, scope=None, anyone=False, public=False, versions=('e1', 'e2'), keyed=False):
        self.op, self.fn, self.users, self.body, self.scope, self.anyone, self.public, self.versions, self.keyed = op, fn, frozenset(users), body, scope, anyone, public, versions, keyed


H, C, A = 'hanger', 'captain', 'auditor'
ROUTES = {}


def door(method, path, op, fn, users, **o):
    segs = path[1:].split('/')
    key = (len(segs), segs[0], segs[2] if len(segs) > 2 else None)
    if method == 'POST':
        o['keyed'] = True
    ROUTES.setdefault(key, {})[method] = Ep(op, fn, users, **o)


E1 = ('e1', 'e2') if F == 'motto-stays' else ('e1',)
E2 = ('e1', 'e2') if F == 'guild-loans-in-e1' else ('e2',)
door('GET', '/motto', 'reply motto', motto, (), public=True, versions=E1)
door('PUT', '/bells/{}', 'upsert bell', upsert_bell, (H,), body='json')
door('GET', '/bells', 'list bell', list_rows(BELL, 'list bell'), (H, C, A), anyone=True)
door('GET', '/bells/{}', 'read bell', read_one(BELL), (H, C, A), anyone=True)
door('PATCH', '/bells/{}', 'update bell', update_bell, (H,), body='patch')
door('DELETE', '/bells/{}', 'delete bell', delete_bell, (H,))
door('POST', '/bells/{}/retire', 'retire bell', retire_bell, (H,))
door('POST', '/guilds', 'create guild', create_guild, (C,), body='json')
door('GET', '/guilds', 'list guild', list_rows(GUILD, 'list guild'), (H, C, A))
door('GET', '/guilds/{}', 'read guild', read_one(GUILD), (H, C, A))
door('PATCH', '/guilds/{}', 'update guild', update_guild, (H, C), body='patch')
door('DELETE', '/guilds/{}', 'delete guild', delete_guild, (C,))
door('POST', '/guilds/{}/loans', 'create loan', create_loan, (C,), body='json')
door('GET', '/guilds/{}/loans', 'list guild loans', list_rows(LOAN, 'list guild loans'), (H, C, A), versions=E2)
door('GET', '/loans', 'list loan', list_rows(LOAN, 'list loan'), (H, C, A))
door('GET', '/loans/{}', 'read loan', read_one(LOAN), (H, C, A))
door('PATCH', '/loans/{}', 'update loan', update_loan, (H, C), body='patch')
door('POST', '/loans/{}/agree', 'agree loan', agree_loan, (H,))
door('POST', '/loans/{}/refuse', 'refuse loan', refuse_loan, (H,), body='json')
door('POST', '/loans/{}/withdraw', 'withdraw loan', withdraw_loan, (C,))
door('POST', '/loans/{}/collect', 'collect loan', collect_loan, (H,))
door('POST', '/loans/{}/return', 'return loan', return_loan, (H,), body='json')
door('POST', '/tunings', 'create tuning', create_tuning, (H, C), body='json')
door('GET', '/tunings', 'list tuning', list_rows(TUNING, 'list tuning'), (H, C, A))
door('GET', '/tunings/{}', 'read tuning', read_one(TUNING), (H, C, A))
door('PATCH', '/tunings/{}', 'update tuning', update_tuning, (C,), body='patch')
door('POST', '/tunings/{}/begin', 'begin tuning', begin_tuning, (H,))
door('POST', '/tunings/{}/finish', 'finish tuning', finish_tuning, (H,), body='json')
if F != 'no-abandon':
    door('POST', '/tunings/{}/abandon', 'abandon tuning', abandon_tuning, (H, C) if F != 'captain-cannot-abandon' else (H,))
_scope = None if F == 'no-scope' else 'listen'
door('POST', '/listeners', 'create listener', create_listener, (H, C), body='json', scope=_scope)
door('GET', '/listeners', 'list listener', list_rows(LISTENER, 'list listener'), (H, C))
door('GET', '/listeners/{}', 'read listener', read_one(LISTENER), (H, C))
door('PATCH', '/listeners/{}', 'update listener', update_listener, (H, C), body='patch')
door('DELETE', '/listeners/{}', 'delete listener', delete_listener, (H, C))
ROUTES_OF = {}
for _v in ('e1', 'e2'):
    _all = {k: {m: e for m, e in v.items() if _v in e.versions} for k, v in ROUTES.items()}
    ROUTES_OF[_v] = {k: v for k, v in _all.items() if v}
SUNSET = 1924992000000  # 2031-01-01
DEPRECATED = 'Deprecation: @1769904000\r\nSunset: Wed, 01 Jan 2031 00:00:00 GMT\r\n'


def find_door(segs, routes):
    n = len(segs)
    if n == 0 or n > 3 or '' in segs:
        return None
    return routes.get((n, segs[0], segs[2] if n == 3 else None))


TURN0 = uuid.uuid4().hex[:10]
TURNS = 0


def jload(raw):
    def no(x):
        raise ValueError(x)
    return json.loads(raw.decode('utf-8'), parse_constant=no)


_ok_accept = {None, '*/*', 'application/json', ''}


def accepts(h):
    if h in _ok_accept or F == 'speaks-anyway':
        return True
    best, q_best = -1, 0.0
    for part in h.split(','):
        bits = part.split(';')
        rng = bits[0].strip().lower()
        q = 1.0
        for b in bits[1:]:
            k, _, v = b.partition('=')
            if k.strip().lower() == 'q':
                try:
                    q = float(v.strip())
                except ValueError:
                    q = 0.0
        rank = 2 if rng == 'application/json' else 1 if rng == 'application/*' else 0 if rng == '*/*' else -1
        if rank > best:
            best, q_best = rank, q
        elif rank == best and rank >= 0:
            q_best = max(q_best, q)
    return best >= 0 and q_best > 0


def step_user(rq, ep, caller):
    if caller is None:
        return
    if caller.user not in ep.users or ep.scope and ep.scope not in caller.scopes:
        raise Refused('not_yours')
    if caller.scheme == 'counter' and rq.method not in ('GET', 'HEAD'):
        h = rq.headers
        site = h.get('sec-fetch-site')
        if site is not None:
            if site not in ('same-origin', 'none'):
                raise Refused('not_yours')
        elif 'origin' in h and urlsplit(h['origin']).netloc != h.get('host', ''):
            raise Refused('not_yours')


def handle(rq, address):
    """(status, body, header text, head only) of one request"""
    global TURNS, KEPT_TURN
    TURNS += 1
    turn = '%s%x' % (TURN0, TURNS)
    extra = ''
    rate = ''
    old = ''
    ep = None
    if HEAP and HEAP[0][0] <= now_ms() and FROZEN is None:
        run_due()
    try:
        path = rq.path
        if rq.framing is not None:
            raise Refused(rq.framing)
        # (2) route, method, version
        if path.startswith(BASE + '/'):
            segs = path[len(BASE) + 1:].split('/')
        elif F == 'any-base' and path.startswith('/e'):
            segs = path[1:].split('/')
        else:
            raise Refused('no_such_door')
        if '%' in path:
            segs = [unquote(s) for s in segs]
        ver = segs[0]
        if ver == 'e1':
            rq.ver = 'e1'
            rest = path.split('/' + ver, 1)[1] + ('?' + rq.query if rq.query else '')
            old = '<https://hangers.example/editions>; rel="deprecation", <%s/e2%s>; rel="successor-version"' % (BASE, rest)
        elif ver == 'e2':
            rq.ver = 'e2'
        methods = find_door(segs[1:], ROUTES if rq.ver is None else ROUTES_OF[ver])
        if ver != 'e1' and ver != 'e2':
            if methods is None:
                methods = find_door(segs, ROUTES)
                if methods is None:
                    raise Refused('no_such_door')
            mine_ = methods
        else:
            mine_ = methods
            if methods is None:
                raise Refused('no_such_door')
        method = 'GET' if rq.method == 'HEAD' else rq.method
        ep = mine_.get(method)
        if ep is None:
            allow = ['OPTIONS']
            for m in mine_:
                allow += [m, 'HEAD'] if m == 'GET' else [m]
            allow = 'Allow: ' + ', '.join(allow) + '\r\n'
            if method != 'OPTIONS':
                raise Refused('wrong_knock', None, '' if F == 'no-allow' else allow)
            extra = allow
        if rq.ver is None:
            raise Refused('no_edition')
        if ver == 'e1' and now_ms() >= SUNSET and F != 'no-sunset':
            raise Refused('closed_edition')
        if ep is None:
            return respond(rq, 204, b'', turn, extra, old)
        rq.ep = ep
        rq.ids = segs[2:3]
        rq.here = path
        # (4) who calls, (5) rates
        caller = None
        if not ep.public:
            h = rq.headers.get('authorization')
            if h is None:
                if not ep.anyone:
                    raise Refused('who_goes', None, CHALLENGE)
            else:
                try:
                    caller = who(h)
                except Refused:
                    if not (F == 'bad-key-as-nobody' and ep.anyone):
                        raise
        rq.caller = caller
        rate = rates(ep.op, caller, address, ep.public)
        # parameters, (6) user, accept, body
        if F == 'user-first':
            step_user(rq, ep, caller)
        if rq.query or ep.op in LISTS:
            parameters(rq)
        else:
            rq.params = {}
        step_user(rq, ep, caller)
        if method != 'DELETE' or ep.op == 'delete listener':
            if not accepts(rq.headers.get('accept')):
                raise Refused('wont_speak')
        if ep.body is not None:
            if not rq.raw and not rq.too_big:
                raise Refused('no_body')
            ct = rq.headers.get('content-type')
            mt = ct.partition(';')[0].strip().lower() if ct else ''
            if mt != 'application/json' and not (ep.body == 'patch' and mt == 'application/merge-patch+json') and not (F == 'untyped-taken' and not mt):
                raise Refused('odd_paper')
            if rq.headers.get('content-encoding', 'identity').strip().lower() != 'identity':
                raise Refused('odd_paper')
            if rq.too_big:
                raise Refused('too_heavy')
            try:
                rq.body = jload(rq.raw)
            except (ValueError, RecursionError):
                raise Refused('garbled')
        elif rq.too_big:
            raise Refused('too_heavy')
        # (9) idempotency
        key = None
        if ep.keyed and caller is not None:
            once = rq.headers.get('once')
            if once:
                key = (caller.key, ep.op, once)
                print_ = (path, rq.query, rq.ver, hashlib.blake2b(rq.raw, digest_size=16).digest())
                k = KEPT.get(key)
                t = now_ms()
                if k is not None and t < k[0]:
                    if k[1] != print_ and F != 'once-for-all':
                        raise Refused('once_twice')
                    return respond(rq, k[2], k[3], turn, rate + k[4], old)
        try:
            status, body, extra = ep.fn(rq)
        except Refused as e:
            if key is not None and e.code in OWN:
                st, body, ex = refusal(e, turn)
                KEPT[key] = (now_ms() + 12 * 3600000, print_, st, body, ex)
                return respond(rq, st, body, turn, rate + ex, old)
            raise
        if key is not None:
            KEPT[key] = (now_ms() + (11 if F == 'once-11h' else 12) * 3600000, print_, status, body if F == 'secret-replayed' else (rq.replay or body), extra)
            KEPT_TURN += 1
            if KEPT_TURN & 4095 == 0:
                sweep_kept()
        if HEAP and HEAP[0][0] < ARMED_AT:
            arm()
        return respond(rq, status, body, turn, rate + extra, old)
    except Refused as e:
        st, body, ex = refusal(e, turn)
        return respond(rq, st, body, turn, rate + ex, '' if F == 'old-refusals-bare' else old)
    except Exception as e:
        trouble(e)
        st, body, ex = refusal(Refused('cracked'), turn)
        return respond(rq, st, body, turn, rate, old)


def refusal(e, turn):
    status, said = CODES[e.code]
    if F == 'page-status' and e.code == 'no_such_page':
        status = 422
    if e.wrong and '{' in said:
        said = said.replace('{name}', e.wrong[0]['path'][:200])
    d = {'why': e.code, 'said': said, 'turn': turn}
    if F == 'turn-forgotten' and e.code == 'not_on_peg':
        del d['turn']
    if e.wrong:
        d['wrong'] = e.wrong
    ex = e.headers
    if not (F == 'no-why' and status == 404):
        ex += 'X-Why: %s\r\n' % e.code
    return status, dumps(d).encode(), ex


def respond(rq, status, body, turn, extra, old):
    if old:
        if F == 'no-sunset-field':
            extra += DEPRECATED.partition('Sunset')[0]
        else:
            extra += DEPRECATED
        i = extra.find('Link: ')
        if i >= 0:
            extra = extra[:i + 6] + old + ', ' + extra[i + 6:]
        else:
            extra += 'Link: ' + old + '\r\n'
    if status == 204 or status == 304:
        return LINE[status] + (turn + '\r\n' + extra + '\r\n').encode('latin-1', 'replace')
    head = LINE[status] + ('%s\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' % (turn, extra, len(body))).encode('latin-1', 'replace')
    return head if rq.method == 'HEAD' else head + body


# ---------------------------------------------------------------- HTTP
BODY_MAX = 8193 if F == 'body-8193' else 8192
URL_MAX = 2049 if F == 'url-2049' else 2048
HEAD_MAX = 8192
DRAIN_MAX = 4 << 20
_target = re.compile(rb'[\x21-\x7e]+\Z')
_token = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
CONNS = set()


class Conn(asyncio.Protocol):
    __slots__ = ('t', 'buf', 'rq', 'need', 'got', 'chunks', 'mode', 'close_after', 'began', 'last', 'address', 'paused', 'dead')

    def connection_made(self, t):
        self.t = t
        s = t.get_extra_info('socket')
        try:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            pass
        p = t.get_extra_info('peername')
        self.address = p[0] if p else '?'
        self.buf = b''
        self.rq = None
        self.mode = 0
        self.began = None
        self.last = LOOP.time()
        self.close_after = self.paused = self.dead = False
        CONNS.add(self)

    def connection_lost(self, e):
        self.dead = True
        CONNS.discard(self)

    def pause_writing(self):
        self.paused = True
        self.t.pause_reading()

    def resume_writing(self):
        self.paused = False
        if not self.dead:
            self.t.resume_reading()
            self.pump()

    def eof_received(self):
        return False

    def data_received(self, data):
        if self.close_after:
            return
        self.buf = self.buf + data if self.buf else data
        self.pump()

    def fail(self, code):
        rq = blank('GET')
        rq.framing = code
        out = handle(rq, self.address)
        self.close_after = True
        self.t.write(out.replace(b'\r\n', b'\r\nConnection: close\r\n', 1))
        self.t.close()

    def pump(self):
        out = []
        try:
            while not self.paused and not self.close_after:
                if self.mode == 0:
                    if not self.buf:
                        break
                    if not self.head():
                        break
                if self.mode == 1:
                    if not self.length():
                        break
                elif self.mode == 2:
                    if not self.chunked():
                        break
                rq = self.rq
                if self.chunks:
                    rq.raw = self.chunks[0] if len(self.chunks) == 1 else b''.join(self.chunks)
                self.rq, self.mode, self.began = None, 0, None
                answer_ = handle(rq, self.address)
                if self.close_after:
                    answer_ = answer_.replace(b'\r\n', b'\r\nConnection: close\r\n', 1)
                out.append(answer_)
                if len(out) > 64:
                    self.t.write(b''.join(out))
                    out = []
        except Refused as e:
            if out:
                self.t.write(b''.join(out))
                out = []
            self.fail(e.code)
            return
        if out:
            self.last = LOOP.time()
            self.t.write(out[0] if len(out) == 1 else b''.join(out))
            if HEAP and HEAP[0][0] <= now_ms() and FROZEN is None:
                run_due()
        if (self.buf or self.mode) and self.began is None:
            self.began = LOOP.time()
        if self.close_after:
            self.t.close()

    def head(self):
        buf = self.buf
        while buf.startswith(b'\r\n'):
            buf = buf[2:]
        i = buf.find(b'\r\n\r\n')
        if i < 0:
            self.buf = buf
            if len(buf) > 65536:
                raise Refused('long_rope' if b'\r\n' not in buf else 'big_head')
            if b'\n\n' in buf:
                raise Refused('garbled')
            return False
        lines = buf[:i].split(b'\r\n')
        self.buf = buf[i + 4:]
        first = lines[0].split(b' ')
        if len(first) != 3 or first[2] not in (b'HTTP/1.1', b'HTTP/1.0') or not _token.match(first[0]):
            raise Refused('garbled')
        target = first[1]
        if not _target.match(target):
            raise Refused('garbled')
        rq = blank(first[0].decode('latin-1'))
        if len(target) > URL_MAX:
            rq.framing = 'long_rope'
        size = 0
        H_ = {}
        for line in lines[1:]:
            name, colon, value = line.partition(b':')
            if not colon or not _token.match(name):
                raise Refused('garbled')
            value = value.strip(b' \t')
            size += len(name) + 4 + len(value)
            n = name.decode('latin-1').lower()
            v = value.decode('latin-1')
            if '\x00' in v or '\r' in v or '\n' in v:
                raise Refused('garbled')
            if n in H_:
                if n == 'content-length':
                    if H_[n] != v:
                        raise Refused('garbled')
                elif n == 'authorization':
                    H_[n] = '\x01twice'
                else:
                    H_[n] += ', ' + v
            else:
                H_[n] = v
        if size > HEAD_MAX and rq.framing is None:
            rq.framing = 'big_head'
        rq.headers = H_
        text = target.decode('latin-1')
        if text[:1] != '/':
            low = text.lower()
            if low.startswith('http://') or low.startswith('https://'):
                j = text.find('/', 8)
                text = text[j:] if j >= 0 else '/'
            elif not (text == '*' and rq.method == 'OPTIONS'):
                raise Refused('garbled')
        text = text.partition('#')[0]
        rq.path, _, rq.query = text.partition('?')
        conn = H_.get('connection', '').lower()
        if 'close' in conn or first[2] == b'HTTP/1.0' and 'keep-alive' not in conn:
            self.close_after_next(rq)
        self.rq, self.chunks, self.got = rq, [], 0
        te = H_.get('transfer-encoding')
        cl = H_.get('content-length')
        if te is not None:
            if cl is not None or te.lower() != 'chunked' or first[2] == b'HTTP/1.0':
                raise Refused('garbled')
            self.mode, self.need = 2, -1
        elif cl is not None:
            if not re.match(r'[0-9]{1,15}\Z', cl):
                raise Refused('garbled')
            self.need = int(cl)
            if self.need > BODY_MAX:
                rq.too_big = True
                if self.need > DRAIN_MAX:
                    self.close_after = True
                    self.need = 0
            self.mode = 1 if self.need else 3
        else:
            self.mode = 3
        if self.mode in (1, 2) and H_.get('expect', '').lower() == '100-continue':
            self.t.write(b'HTTP/1.1 100 Continue\r\n\r\n')
        if self.mode == 3 and rq.replay == 'close':
            rq.replay = None
            self.close_after = True
        return True

    def close_after_next(self, rq):
        rq.replay = 'close'

    def finished(self):
        if self.rq.replay == 'close':
            self.rq.replay = None
            self.close_after = True
        return True

    def add(self, piece):
        self.got += len(piece)
        if self.got > BODY_MAX:
            self.rq.too_big = True
            self.chunks = []
        elif not self.rq.too_big:
            self.chunks.append(piece)

    def length(self):
        buf = self.buf
        if not buf and self.need:
            return False
        piece = buf[:self.need]
        self.buf = buf[self.need:]
        self.need -= len(piece)
        self.add(piece)
        return self.finished() if self.need == 0 else False

    def chunked(self):
        while True:
            if self.need == -1:
                i = self.buf.find(b'\r\n')
                if i < 0:
                    if len(self.buf) > 1024:
                        raise Refused('garbled')
                    return False
                size = self.buf[:i].partition(b';')[0].strip()
                if not re.match(rb'[0-9A-Fa-f]{1,8}\Z', size):
                    raise Refused('garbled')
                self.need = int(size, 16)
                self.buf = self.buf[i + 2:]
                if self.need == 0:
                    self.need = -3
            elif self.need == -2:
                if len(self.buf) < 2:
                    return False
                if self.buf[:2] != b'\r\n':
                    raise Refused('garbled')
                self.buf = self.buf[2:]
                self.need = -1
            elif self.need == -3:
                i = self.buf.find(b'\r\n')
                if i < 0:
                    if len(self.buf) > 8192:
                        raise Refused('garbled')
                    return False
                self.buf = self.buf[i + 2:]
                if i == 0:
                    return self.finished()
            else:
                if not self.buf:
                    return False
                piece = self.buf[:self.need]
                self.buf = self.buf[self.need:]
                self.need -= len(piece)
                self.add(piece)
                if self.got > DRAIN_MAX:
                    self.close_after = True
                    return True
                if self.need == 0:
                    self.need = -2


def blank(method):
    rq = Rq()
    rq.method, rq.ver, rq.ep, rq.caller, rq.body, rq.raw, rq.replay, rq.too_big, rq.framing = method, None, None, None, None, b'', None, False, None
    rq.path, rq.query, rq.headers, rq.params, rq.ids = '/', '', {}, {}, []
    return rq


def sweep():
    t = LOOP.time()
    for c in list(CONNS):
        if c.close_after:
            continue
        if c.began is not None:
            if t - c.began > 15:
                c.fail('too_slow')
        elif t - c.last > 75:
            c.close_after = True
            c.t.close()
    LOOP.call_later(1, sweep)


# ---------------------------------------------------------------- the clock's door
_dur = re.compile(r'P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?\Z')


def advanced(text, t):
    m = _dur.match(text)
    if not m or text[-1] in 'PT':
        return None
    y, mo, w, d, h, mi = (int(x or 0) for x in m.group(1, 2, 3, 4, 5, 6))
    if y or mo:
        a = datetime.datetime.fromtimestamp(t // 1000, datetime.timezone.utc)
        n = a.year * 12 + a.month - 1 + y * 12 + mo
        yy, mm = divmod(n, 12)
        mm += 1
        last = [31, 29 if yy % 4 == 0 and (yy % 100 or yy % 400 == 0) else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][mm - 1]
        a = a.replace(year=yy, month=mm, day=min(a.day, last))
        t = int(a.timestamp()) * 1000 + t % 1000
    return t + (w * 7 + d) * DAY + h * 3600000 + mi * 60000 + int(round(float(m.group(7) or 0) * 1000))


class Moves:
    lock = None


async def clock_door(r, w):
    try:
        s = w.get_extra_info('socket')
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            line = await r.readline()
            if not line.strip():
                if not line:
                    break
                continue
            parts = line.split()
            method = parts[0] if parts else b''
            n, keep, chunked = 0, True, False
            while True:
                h = await r.readline()
                if h in (b'\r\n', b'\n', b''):
                    break
                k, _, v = h.partition(b':')
                k = k.strip().lower()
                if k == b'content-length':
                    n = int(v)
                elif k == b'connection' and v.strip().lower() == b'close':
                    keep = False
                elif k == b'transfer-encoding':
                    chunked = True
            if chunked:
                body = b''
                while True:
                    size = int((await r.readline()).split(b';')[0], 16)
                    if size == 0:
                        while (await r.readline()) not in (b'\r\n', b'\n', b''):
                            pass
                        break
                    body += await r.readexactly(size)
                    await r.readline()
            else:
                body = await r.readexactly(n) if n else b''
            status, out = 400, {'error': 'GET, or POST { advance } or { now }'}
            if method == b'GET':
                status, out = 200, None
            elif method == b'POST':
                target = None
                async with Moves.lock:
                    try:
                        d = json.loads(body)
                        if type(d) is dict and len(d) == 1 and type(d.get('advance')) is str:
                            target = advanced(d['advance'], now_ms())
                        elif type(d) is dict and len(d) == 1 and type(d.get('now')) is str:
                            target = instant(d['now'])
                            target = None if target is None else target // 1000000
                    except (ValueError, OverflowError, RecursionError):
                        target = None
                    if target is not None and target < 253370764800000:
                        if target < now_ms():
                            status, out = 422, {'error': 'that time has passed'}
                        else:
                            await move_to(target)
                            status, out = 200, None
            body = dumps(out or {'now': iso(now_ms())}).encode()
            w.write(b'HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n'
                    % (status, {200: b'OK', 400: b'Bad Request', 422: b'Unprocessable Content'}[status], len(body), b'' if keep else b'Connection: close\r\n') + body)
            await w.drain()
            if not keep:
                break
    except (ValueError, OSError, asyncio.IncompleteReadError):
        pass
    finally:
        w.close()


def seed():
    t = iso(now_ms())
    for f in (dict(mark='great-tom', name='Great Tom', kind='tower', weight_kg=6350, diameter=2134, pitch='A3', metal='bronze', tags=['heavy', 'old'], shire='north'),
              dict(mark='little-treble', name='Little Treble', kind='hand', weight_kg=1, diameter=95, pitch='C6', metal='bronze', tags=[], shire='south', worth_pence=42000)):
        f.update(standing='ready', on_loan=False, lent_times=0, made_at=t, changed_at=t)
        BELL.rows[f['mark']] = Row(BELL, f)


async def main():
    global LOOP
    LOOP = asyncio.get_running_loop()
    Moves.lock = asyncio.Lock()
    sys.setrecursionlimit(3000)
    seed()
    server = await LOOP.create_server(Conn, '127.0.0.1', int(ARGS['--port']), backlog=1024)
    door_ = await asyncio.start_server(clock_door, '127.0.0.1', int(ARGS['--clock-port']))
    gc.freeze()
    LOOP.call_later(1, sweep)
    await asyncio.gather(server.serve_forever(), door_.serve_forever())


if __name__ == '__main__':
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
