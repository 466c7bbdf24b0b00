import asyncio, base64, bisect, hashlib, heapq, hmac, itertools, json, os, random, re, string, sys, time, uuid
from collections import defaultdict, deque
from datetime import datetime, timezone, timedelta
from urllib.parse import unquote, unquote_plus, urlsplit
from calendar import monthrange
from http import HTTPStatus

ARGS = dict(zip(sys.argv[1::2], sys.argv[2::2]))
FAULT = ARGS.get('--fault')
HERE = os.path.dirname(os.path.abspath(__file__))
BASE = '/fair'
VERSIONS = ['2024', '2025', '2026']
CUR = '2026'
DEPR = {'2024': 1740787200, '2025': 1769904000}
SUNSET = {'2024': 1924992000}
REALM = 'Sheep Fair'
rnd = random.SystemRandom()

# ---------------------------------------------------------------- clock
class Clock:
    offset = 0
    frozen = None
    def now(self):
        return self.frozen if self.frozen is not None else int(time.time() * 1000) + self.offset
clock = Clock()
now = clock.now
heap, seq = [], itertools.count()
timer = None
timer_at = None

def plan(due, fn):
    heapq.heappush(heap, (due, next(seq), fn))
    arm()

def arm():
    global timer, timer_at
    if not heap:
        return
    due = heap[0][0]
    if timer is not None and timer_at is not None and timer_at <= due:
        return
    if timer is not None:
        timer.cancel()
    timer_at = due
    wait = min(max(0, due - now()), 3_600_000) / 1000
    timer = asyncio.get_running_loop().call_later(wait + 0.001, tick)

def tick():
    global timer, timer_at
    timer = timer_at = None
    run_due()
    arm()

def run_due(limit=None):
    limit = now() if limit is None else limit
    n = 0
    while heap and heap[0][0] <= limit:
        due, _, fn = heapq.heappop(heap)
        clock.frozen = due if due <= limit else limit
        try:
            fn()
        except Exception as e:
            print('due', repr(e), file=sys.stderr)
        finally:
            clock.frozen = None
        n += 1

def iso(ms):
    d = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=ms)
    return d.strftime('%Y-%m-%dT%H:%M:%S.') + '%03dZ' % (d.microsecond // 1000)

DT = re.compile(r'^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$', re.A)
def instant(s):
    """microseconds since 1970, or None"""
    m = DT.match(s)
    if not m:
        return None
    try:
        y, mo, d, h, mi, se = map(int, m.groups()[:6])
        us = int(((m[7] or '.0')[1:] + '000000')[:6])
        t = datetime(y, mo, d, h, mi, min(se, 59) if se == 60 else se, us, tzinfo=timezone.utc)
        if se == 60:
            t += timedelta(seconds=1)
        off = 0
        if m[8] not in 'Zz':
            hh, mm = int(m[8][1:3]), int(m[8][4:6])
            if hh > 23 or mm > 59:
                return None
            off = (hh * 60 + mm) * 60 * (1 if m[8][0] == '+' else -1)
        dt = t - datetime(1970, 1, 1, tzinfo=timezone.utc)
        return (dt.days * 86400 + dt.seconds - off) * 1_000_000 + dt.microseconds
    except (ValueError, OverflowError):
        return None

# ---------------------------------------------------------------- store
DB = {r: {} for r in ('pen', 'flock', 'animal', 'entry', 'lot', 'bid', 'stall', 'haul', 'hook')}
IX = defaultdict(dict)          # (name, value) -> {id: row}, in the order of creation
UNIQ = {}
ORDERED = {'pen': [], 'stall': [], 'lot': []}
number = defaultdict(int)
entry_ids = itertools.count(1)
INDEXED = {'flock': ['owner'], 'animal': ['flock', 'pen', '_owner'], 'entry': ['entrant'], 'lot': ['seller', 'state', 'animal'],
           'bid': ['lot'], 'haul': ['orderer', 'beat'], 'hook': ['owner']}
IDF = {'pen': 'code', 'stall': 'spot'}
created = itertools.count()

def idf(res):
    return IDF.get(res, 'id')

def index(res, row, on=True):
    i = row[idf(res)]
    for f in INDEXED.get(res, ()):
        v = row.get(f)
        if v is not None:
            b = IX[res, f, v]
            if on:
                b[i] = row
            else:
                b.pop(i, None)
    if res == 'animal' and row.get('pen') and (row['standing'] != 'gone' or FAULT == 'taken-gone'):
        if on:
            IX['in pen', row['pen']][i] = row
        else:
            IX['in pen', row['pen']].pop(i, None)

def uniques(res, row):
    if res == 'flock':
        return [('flock', row['name']) if FAULT == 'flock-name-wide' else ('flock', row['owner'], row['name'])]
    if res == 'animal':
        return [('animal', row['tag'])]
    if res == 'entry' and row['status'] in ('entered', 'marked'):
        return [('entry', row['animal'], row['class'])]
    return []

def insert(res, row):
    i = row[idf(res)]
    row['_n'] = next(created)
    row['_res'] = res
    DB[res][i] = row
    index(res, row)
    for u in uniques(res, row):
        UNIQ[u] = i
    if res in ORDERED:
        bisect.insort(ORDERED[res], i)

def change(res, row, **new):
    index(res, row, False)
    for u in uniques(res, row):
        if UNIQ.get(u) == row[idf(res)]:
            del UNIQ[u]
    for k, v in new.items():
        if v is None:
            row.pop(k, None)
        else:
            row[k] = v
    index(res, row)
    for u in uniques(res, row):
        UNIQ[u] = row[idf(res)]

def remove(res, row):
    index(res, row, False)
    for u in uniques(res, row):
        UNIQ.pop(u, None)
    i = row[idf(res)]
    DB[res].pop(i, None)
    if res in ORDERED:
        k = bisect.bisect_left(ORDERED[res], i)
        if k < len(ORDERED[res]) and ORDERED[res][k] == i:
            ORDERED[res].pop(k)

# ---------------------------------------------------------------- shapes
S = lambda **k: dict(t='string', **k)
I = lambda lo=None, hi=None, **k: dict(t='integer', lo=lo, hi=hi, **k)
PLACE = {'farm': S(min=1, max=60, req=True)}
SHAPES = {
    'pen': {'code': S(pat=r'[A-H][0-9]{1,2}', req=True), 'places': I(1, 40, req=True), 'roofed': dict(t='boolean', default=False),
            'taken': I(ro=True)},
    'flock': {'id': S(ro=True), 'name': S(min=2, max=40, req=True), 'owner': S(ro=True),
              'breed': S(enum=['texel', 'suffolk', 'cheviot', 'herdwick'], req=True), 'head': I(ro=True)},
    'animal': {'id': S(ro=True), 'flock': S(ref='flock', req=True, imm=True), 'pen': S(ref='pen'), 'tag': S(pat=r'UK[0-9]{6}', req=True, imm=True),
               'sex': S(enum=['ewe', 'ram', 'wether'], req=True), 'grams': I(1000, 250000, req=True),
               'papers_until': S(fmt='date-time', req=True), 'standing': S(ro=True)},
    'entry': {'id': I(ro=True), 'number': I(ro=True), 'animal': S(ref='animal', req=True, imm=True),
              'class': S(enum=['best_ram', 'best_ewe', 'fleece'], req=True, imm=True), 'ring': S(enum=['north', 'south'], req=True, imm=True),
              'entrant': S(ro=True), 'marks': I(ro=True), 'status': S(ro=True)},
    'lot': {'id': S(ro=True), 'animal': S(ref='animal', req=True, imm=True), 'seller': S(ro=True), 'reserve': I(100, 9000000, req=True),
            'top': I(ro=True), 'state': S(ro=True)},
    'bid': {'id': S(ro=True), 'lot': S(ref='lot', req=True, imm=True), 'bidder': S(ro=True), 'amount': I(100, 9000000, req=True)},
    'stall': {'spot': S(pat=r'[a-z]{2,8}', req=True), 'trade': S(enum=['food', 'tools', 'wool'], req=True), 'metres': I(1, 12, default=3)},
    'haul': {'id': S(ro=True), 'orderer': S(ro=True), 'beat': S(enum=['north', 'south'], req=True), 'drop': dict(t='map', of=PLACE, req=True),
             'head': I(1, 400, req=True), 'gate_code': S(min=4, max=8), 'driver': S(ro=True), 'state': S(ro=True)},
    'hook': {'id': S(ro=True), 'owner': S(ro=True), 'url': S(fmt='uri', max=300, req=True), 'secret': S(ro=True),
             'topics': dict(t='array', min=1, max=8)},
}
VISIBLE = {'entry': {'entrant': ('steward', 'breeder'), 'marks': ('judge', 'steward')}, 'haul': {'gate_code': ('haulier', 'breeder')}}
LOTFIELDS = ('id', 'animal', 'seller', 'top', 'state')

def old(v, than):
    return VERSIONS.index(v) < VERSIONS.index(than)

def shape_of(res, v):
    out = {}
    for k, sp in SHAPES[res].items():
        if res == 'animal' and k == 'grams' and old(v, '2025'):
            out['weight'] = dict(sp, to='grams')
        elif res == 'stall' and k == 'trade' and old(v, '2025'):
            out[k] = dict(sp, enum=['food', 'tools', 'fleece'], up={'fleece': 'wool'})
        elif res == 'lot' and k == 'reserve' and old(v, '2026'):
            out[k] = dict(sp, t='number', cents=True)
        elif res == 'haul' and k == 'gate_code' and old(v, '2026'):
            continue
        else:
            out[k] = sp
    return out
VSHAPE = {v: {r: shape_of(r, v) for r in SHAPES} for v in VERSIONS}

def down(res, d, v):
    if v == CUR:
        return d
    out = {}
    for k, x in d.items():
        if res == 'animal' and k == 'grams' and old(v, '2025'):
            k = 'weight'
        elif res == 'stall' and k == 'trade' and old(v, '2025') and x == 'wool':
            x = 'fleece'
        elif res == 'lot' and k == 'reserve':
            x = x / 100.0
        elif res == 'haul' and k == 'gate_code':
            continue
        out[k] = x
    return out

def plain(res, row, user, fields=None, reveal=False):
    out = {}
    vis = VISIBLE.get(res, {})
    for k in SHAPES[res]:
        if k in vis and user not in vis[k]:
            continue
        if fields and k not in fields:
            continue
        if k == 'taken':
            x = len(IX.get(('in pen', row['code']), ()))
        elif res == 'flock' and k == 'head':
            x = len(IX.get(('animal', 'flock', row['id']), ()))
        elif k == 'secret' and not reveal:
            if FAULT == 'secret-again':
                x = row[k]
            else:
                continue
        else:
            x = row.get(k)
        if x is not None:
            out[k] = x
    return out

KINDS = ['animal.lapsed', 'entry.marked', 'entry.judged', 'lot.ended', 'haul.moved']
TOPICS = set(KINDS) | {'*'} | {k.split('.')[0] + '.*' for k in KINDS}
URI = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:[!#$%&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~]+$")

class Refuse(Exception):
    def __init__(self, when, violations=None, headers=None, code=None):
        self.when, self.violations, self.headers, self.code = when, violations, headers or {}, code

def ptr(s):
    return s.replace('~', '~0').replace('/', '~1')

def viol(out, kind, path, found, expected, where='body'):
    v = {'in': where, 'path': path, 'expected': expected}
    if found is not ABSENT:
        v['found'] = found if isinstance(found, (int, float, bool, type(None))) else str(found)[:200] if isinstance(found, str) else json.dumps(found)[:200]
    out.append((kind, v))
ABSENT = object()

def value_ok(x, sp, path, out):
    t = sp['t']
    if t == 'string':
        if not isinstance(x, str):
            viol(out, 'type', path, x, 'a string'); return None
        if sp.get('enum') and x not in sp['enum']:
            viol(out, 'value', path, x, 'one of ' + ', '.join(sp['enum'])); return None
        if 'pat' in sp and not (re.match(sp['pat'], x) if FAULT == 'pen-code-open' and sp['pat'][1] == 'A' else re.fullmatch(sp['pat'], x)):
            viol(out, 'value', path, x, 'the pattern ^' + sp['pat'] + '$'); return None
        if len(x) < sp.get('min', 0) or len(x) > sp.get('max', 10 ** 9):
            viol(out, 'value', path, x, 'a text of another length'); return None
        if sp.get('fmt') == 'date-time' and instant(x) is None:
            viol(out, 'value', path, x, 'a date-time'); return None
        if sp.get('fmt') == 'uri':
            ok = URI.match(x) is not None
            if ok:
                try:
                    u = urlsplit(x)
                    ok = u.scheme in ('http', 'https') and bool(u.hostname) and (u.port is None or u.port > 0)
                except ValueError:
                    ok = False
            if not ok:
                viol(out, 'value', path, x, 'an address'); return None
        if sp.get('up'):
            x = sp['up'].get(x, x)
        return x
    if t in ('integer', 'number'):
        if isinstance(x, bool) or not isinstance(x, (int, float)):
            viol(out, 'type', path, x, 'an ' + t); return None
        if t == 'integer' and isinstance(x, float):
            if x != int(x):
                viol(out, 'type', path, x, 'an integer'); return None
            x = int(x)
        if sp.get('cents'):
            try:
                y = x * 100.0
                if FAULT == 'reserve-cut':
                    y = int(y)
                else:
                    y = int(y + 0.5) if y >= 0 else -int(-y + 0.5)
            except (OverflowError, ValueError):
                viol(out, 'value', path, None, 'a sum that can be'); return None
            if y < sp['lo'] or y > sp['hi']:
                viol(out, 'value', path, x, 'between %s and %s' % (sp['lo'] / 100, sp['hi'] / 100)); return None
            return y
        hi = sp.get('hi')
        if (sp.get('lo') is not None and x < sp['lo']) or (hi is not None and (x > hi or (FAULT == 'grams-edge' and hi == 250000 and x == hi))):
            viol(out, 'value', path, x, 'between %s and %s' % (sp['lo'], hi)); return None
        return x
    if t == 'boolean':
        if not isinstance(x, bool):
            viol(out, 'type', path, x, 'a boolean'); return None
        return x
    if t == 'array':
        if not isinstance(x, list):
            viol(out, 'type', path, x, 'a list'); return None
        if len(x) < sp['min'] or len(x) > sp['max']:
            viol(out, 'value', path, x, '1 to 8 items'); return None
        for n, y in enumerate(x):
            if not isinstance(y, str):
                viol(out, 'type', '%s/%d' % (path, n), y, 'a string')
            elif y not in TOPICS:
                viol(out, 'value', '%s/%d' % (path, n), y, 'a kind of event')
        return x
    if t == 'map':
        if not isinstance(x, dict):
            viol(out, 'type', path, x, 'a map'); return None
        return obj_ok(x, sp['of'], path, out, loose=FAULT == 'drop-open')

def obj_ok(body, shape, path, out, loose=False):
    got = {}
    for k, x in body.items():
        sp = shape.get(k)
        if sp is None:
            if not loose:
                viol(out, 'unknown', path + '/' + ptr(k), x, 'no such field')
            continue
        if sp.get('ro'):
            continue
        got[sp.get('to', k)] = value_ok(x, sp, path + '/' + ptr(k), out)
    for k, sp in shape.items():
        if sp.get('req') and k not in body:
            viol(out, 'missing' if not (FAULT == 'nested-lacking' and path) else 'value', path + '/' + k, ABSENT, 'to be there')
    for k, sp in shape.items():
        if 'default' in sp and k not in body:
            got[sp.get('to', k)] = sp['default']
    return got

def invalid(out):
    if out:
        raise Refuse('request.invalid.missing' if out[0][0] == 'missing' else 'request.invalid', [v for _, v in out])

# ---------------------------------------------------------------- errors
CODES = {
    'request.malformed': ('garbled', 400), 'request.media': ('not_json', 415), 'request.parameter': ('bad_query', 400), 'limit.page': ('bad_query', 400),
    'request.invalid.missing': ('lacking', 422), 'request.invalid': ('unfit', 422), 'reference.missing': ('no_such_ref', 422), 'caller.unknown': ('who_goes', 401),
    'caller.forbidden.scope': ('no_scope', 403), 'caller.forbidden': ('hands_off', 403), 'resource.missing': ('nothing_here', 404), 'route.unknown': ('nothing_here', 404),
    'method.unsupported': ('wrong_verb', 405), 'resource.exists': ('already', 409), 'transition.illegal': ('not_now', 409), 'precondition.failed': ('moved_on', 412),
    'precondition.required': ('tag_first', 428), 'idempotency.reused': ('key_again', 409), 'limit.rate': ('steady', 429), 'limit.quota': ('steady', 429),
    'limit.size': ('too_big', 413), 'limit.time': ('too_slow', 408), 'version.unknown': ('no_edition', 400), 'version.sunset': ('old_edition', 410), 'internal': ('broken', 500)}
OWN = {'spoken_for': (423, 'Somebody drives this or nobody will.'), 'stale_papers': (422, 'These papers have run out.'),
       'unsound': (409, 'This animal has no good papers.'), 'lot_shut': (409, 'Nobody bids on this lot now.'),
       'own_lot': (403, 'Nobody bids on a lot of their own.'), 'too_low': (409, 'There is as high a bid.')}

def own(code):
    raise Refuse('own', code=code)

# ---------------------------------------------------------------- callers
class Caller:
    __slots__ = ('user', 'id', 'scopes', 'beat', 'key')
BADGES, OFFICE = {}, {}
def load():
    try:
        cfg = json.load(open(os.path.join(HERE, 'stranger.json')))
    except FileNotFoundError:
        return
    known = {}
    for c in cfg['callers']:
        k = Caller()
        k.user, k.id, k.scopes, k.beat = c['user'], c['id'], set(c.get('scopes') or ()), (c.get('attributes') or {}).get('beat')
        k.key = (k.user, k.id)
        if k.beat is None or k.user not in ('steward', 'breeder', 'judge', 'haulier'):
            continue
        if c['scheme'] == 'badge':
            BADGES[c['credential']] = k
        else:
            if FAULT == 'haulier-office' and k.user == 'haulier':
                continue
            OFFICE[c['credential']] = k
wrong = defaultdict(deque)
used_ok = set()

def identify(req, accept):
    vals = [v for k, v in req.headers if k == 'authorization']
    if not vals:
        return None
    bad = Refuse('caller.unknown', headers={'WWW-Authenticate': challenge(accept, True)})
    if len(vals) > 1:
        raise bad
    word, _, rest = vals[0].strip().partition(' ')
    rest = rest.strip()
    scheme = word if FAULT == 'badge-case' else word.lower()
    if scheme in ('Badge', 'badge') and 'badge' in accept and scheme == ('Badge' if FAULT == 'badge-case' else 'badge'):
        k = BADGES.get(rest)
        if k is None:
            raise bad
        return k, 'badge'
    if word.lower() == 'basic' and 'office' in accept:
        try:
            cred = base64.b64decode(rest, validate=True).decode('utf-8')
        except Exception:
            raise bad
        k = OFFICE.get(cred)
        q, t = wrong[req.peer], now()
        while q and q[0] <= t - 60000:
            q.popleft()
        if len(q) >= 20 and (k is None or cred not in used_ok):
            raise Refuse('limit.rate', headers={'Retry-After': str(max(1, -(-(q[0] + 60000 - t) // 1000)))})
        if k is None:
            q.append(t)
            raise bad
        used_ok.add(cred)
        return k, 'office'
    raise bad

def challenge(accept, bad=False):
    out = []
    if 'badge' in accept:
        out.append('Badge realm="%s"%s' % (REALM, ', error="invalid_key"' if bad else ''))
    if 'office' in accept:
        out.append('Basic realm="%s", charset="UTF-8"' % REALM)
    return ', '.join(out)

# ---------------------------------------------------------------- rules
def owner_of(animal):
    return animal['_owner']
def lot_fields(c, row):
    """None = no read, () = all, else the fields"""
    if c.user == 'steward':
        return ()
    if c.user == 'breeder':
        if row['seller'] == c.id:
            return ()
        if row['state'] != 'draft':
            return LOTFIELDS
    return None
def may_read(res, c, row):
    if res in ('pen', 'stall'):
        return True
    if c is None:
        return False
    u = c.user
    if res == 'flock':
        return u == 'steward' or (u == 'breeder' and row['owner'] == c.id)
    if res == 'animal':
        return u == 'steward' or (u == 'breeder' and owner_of(row) == c.id)
    if res == 'entry':
        return u in ('steward', 'judge') or (u == 'breeder' and row['entrant'] == c.id)
    if res == 'lot':
        return lot_fields(c, row) is not None
    if res == 'haul':
        return u == 'steward' or (u == 'breeder' and row['orderer'] == c.id) or (u == 'haulier' and row['beat'] == c.beat)
    if res == 'hook':
        return u != 'judge' and row['owner'] == c.id
    if res == 'bid':
        return u == 'steward' or (u == 'breeder' and (row['bidder'] == c.id or (DB['lot'][row['lot']]['seller'] == c.id and FAULT != 'seller-bids')))
    return False

GROUND = ('ground',)
ALLOW = {
    'create pen': {'steward': GROUND}, 'delete pen': {'steward': () if FAULT == 'no-scope-delete' else GROUND}, 'create flock': {'breeder': ()}, 'list flock': {'breeder': (), 'steward': ()},
    'create animal': {'breeder': ()}, 'list animal': {'breeder': (), 'steward': ()}, 'read animal': {'breeder': (), 'steward': ()}, 'update animal': {'breeder': ()},
    'renew animal': {'steward': ()}, 'create entry': {'breeder': ()}, 'list entry': {'breeder': (), 'judge': (), 'steward': ()}, 'mark entry': {'judge': ()},
    'confirm entry': {'steward': (), **({'judge': ()} if FAULT == 'judge-confirms' else {})}, 'create lot': {'breeder': ()}, 'list lot': {'breeder': (), 'steward': ()}, 'read lot': {'breeder': (), 'steward': ()},
    'open lot': {'breeder': ()}, 'settle lot': {'steward': ()}, 'create bid': {'breeder': ()}, 'list bid': {'breeder': (), 'steward': ()},
    'upsert stall': {'steward': GROUND}, 'list stall': {u: () for u in ('steward', 'breeder', 'judge', 'haulier')}, 'create haul': {'breeder': ()},
    'list haul': {'breeder': (), 'haulier': (), 'steward': ()}, 'cancel haul': {'breeder': ()}, 'take haul': {'haulier': ()}, 'deliver haul': {'haulier': ()},
    'create hook': {'steward': (), 'breeder': (), 'haulier': ()}, 'read hook': {'steward': (), 'breeder': (), 'haulier': ()}, 'delete hook': {'steward': (), 'breeder': (), 'haulier': ()},
}
PUBLIC = {'list pen', 'read pen'}

# ---------------------------------------------------------------- events
def emit(kind, res, row, data=None, was=None):
    at, eid = iso(now()), 'evt_' + uuid.uuid4().hex
    for h in list(DB['hook'].values()):
        if h.get('_off'):
            continue
        t = h.get('topics')
        if t is not None and not any(x == '*' or x == kind or x == kind.split('.')[0] + '.*' for x in t):
            continue
        c = h['_maker']
        if not may_read(res, c, row) and not (FAULT == 'moved-all-beats' and kind == 'haul.moved' and c.user == 'haulier'):
            continue
        if data is None:
            p = plain(res, row, 'steward' if FAULT == 'marks-told' and kind == 'entry.marked' else c.user, LOTFIELDS if res == 'lot' and c.user == 'breeder' else None)
            p = down(res, json.loads(json.dumps(p)), CUR if FAULT == 'hook-unpinned' else h['_version'])
        else:
            p = data
        job = {'h': h, 'eid': eid, 'kind': kind, 'body': {'ref': eid, 'about': kind, 'at': at, 'row': p}, 'n': 0}
        q = h['_queues'].setdefault((res, row[idf(res)]), deque())
        q.append(job)
        if len(q) == 1:
            start(job, (res, row[idf(res)]))

tasks = set()
def start(job, key):
    h = job['h']
    if DB['hook'].get(h['id']) is not h or h.get('_off'):
        h['_queues'].clear()
        return
    if h.get('_not_before', 0) > now():
        plan(h['_not_before'], lambda: start(job, key))
        return
    t = asyncio.ensure_future(attempt(job, key))
    tasks.add(t)
    t.add_done_callback(tasks.discard)

async def attempt(job, key):
    h = job['h']
    if FAULT == 'retry-new-ref' and job['n']:
        job['eid'] = 'evt_' + uuid.uuid4().hex
        job['body']['ref'] = job['eid']
    body = json.dumps(job['body'], separators=(',', ':'), ensure_ascii=False).encode()
    ts = str(now() // 1000)
    signed = ts.encode() + b'.' + (b'' if FAULT == 'sign-no-id' else job['eid'].encode() + b'.') + body
    sig = 'at=%s;sig=%s' % (ts, hmac.new(h['secret'].encode(), signed, hashlib.sha256).hexdigest())
    status, after = 0, None
    try:
        status, after = await asyncio.wait_for(post(h['url'], body, {'Fair-Signature': sig, 'Fair-Event': job['kind']}), 5)
    except Exception:
        status = 0
    q = h['_queues'].get(key)
    if not q or q[0] is not job:
        return
    if status == 410:
        h['_off'] = True
        h['_queues'].clear()
        return
    waits = (10000, 120000, 3600000)
    if not 200 <= status < 300 and job['n'] < len(waits):
        w = int(waits[job['n']] * rnd.uniform(0.8, 1.2))
        if after and after.isdigit():
            a = min(int(after), 86400) * 1000
            h['_not_before'] = now() + a
            w = max(w, a)
        job['n'] += 1
        plan(now() + w, lambda: start(job, key))
        return
    q.popleft()
    if q:
        start(q[0], key)
    else:
        h['_queues'].pop(key, None)

async def post(url, body, headers):
    u = urlsplit(url)
    ssl = u.scheme == 'https'
    r, w = await asyncio.open_connection(u.hostname, u.port or (443 if ssl else 80), ssl=True if ssl else None)
    try:
        path = (u.path or '/') + ('?' + u.query if u.query else '')
        head = 'POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n' % (path, u.netloc.rpartition('@')[2], len(body))
        for k, v in headers.items():
            head += '%s: %s\r\n' % (k, v)
        w.write(head.encode() + b'\r\n' + body)
        await w.drain()
        line = await r.readline()
        status, after = int(line.split()[1]), None
        for _ in range(200):
            line = await r.readline()
            if line in (b'\r\n', b'\n', b''):
                break
            k, _, v = line.decode('latin-1').partition(':')
            if k.strip().lower() == 'retry-after':
                after = v.strip()
        return status, after
    finally:
        w.close()

# ---------------------------------------------------------------- transitions
DAY = 86400000
def enter(res, row, field, state, **more):
    """moves a row to a state; sets the timer of it"""
    row['_since'] = tok = next(seq)
    change(res, row, **{field: state}, **more)
    def after(ms, fn):
        plan(now() + ms, lambda: DB[res].get(row[idf(res)]) is row and row['_since'] == tok and fn())
    timers(res, row, state, after)

def timers(res, row, state, after):
    if res == 'entry' and state == 'entered':
        after(5 * DAY, lambda: enter('entry', row, 'status', 'scratched'))
    elif res == 'entry' and state == 'marked' and FAULT == 'scratch-marked':
        after(5 * DAY, lambda: enter('entry', row, 'status', 'scratched'))
    elif res == 'lot' and state == 'open':
        after(2 * DAY, lambda: close_lot(row))
    elif res == 'lot' and state == 'sold' and FAULT != 'never-void':
        after(7 * DAY, lambda: void_lot(row))
    elif res == 'haul' and state == 'ordered':
        after(3 * DAY, lambda: move_haul(row, 'lapsed'))

def close_lot(row):
    sold = row.get('top') is not None and row['top'] >= row['reserve']
    enter('lot', row, 'state', 'sold' if sold else 'unsold')
    if sold or FAULT == 'unsold-told':
        emit('lot.ended', 'lot', row)

def void_lot(row):
    enter('lot', row, 'state', 'unsold')
    emit('lot.ended', 'lot', row)

def move_haul(row, state, **more):
    enter('haul', row, 'state', state, **more)
    if not (state == 'lapsed' and FAULT == 'lapse-untold'):
        emit('haul.moved', 'haul', row)

def set_papers(row):
    us = instant(row['papers_until'])
    due = -(-us // 1000)
    row['_papers'] = us
    def fire():
        if DB['animal'].get(row['id']) is row and row['standing'] == 'fit' and (row['_papers'] == us or FAULT == 'old-papers'):
            enter('animal', row, 'standing', 'lapsed')
            emit('animal.lapsed', 'animal', row)
    plan(due, fire)

# ---------------------------------------------------------------- rates and quotas
fixed = {}
slide = defaultdict(deque)
quota = {}
def rates(who, op):
    t = now()
    f = fixed.get(who)
    if f is None or t >= f[0] + 60000:
        f = fixed[who] = [t, 0]
    apply = [('caller-1m', 600, 60, 600 - f[1], f[0] + 60000)]
    q = None
    if op == 'create bid':
        q = slide['everyone' if FAULT == 'bid-rate-shared' else who]
        while q and q[0] <= t - 10000:
            q.popleft()
        apply.append(('caller-10s-create-bid', 12, 10, 12 - len(q), (q[0] if q else t) + 10000))
    full = [a for a in apply if a[3] <= 0]
    if not full:
        f[1] += 1
        if q is not None:
            q.append(t)
            if len(q) == 1:
                apply[1] = apply[1][:4] + (t + 10000,)
    left = 0 if full else 1
    h = {'RateLimit-Policy': ', '.join('"%s";q=%d;w=%d' % a[:3] for a in apply),
         'RateLimit': ', '.join('"%s";r=%d;t=%d' % (a[0], max(0, a[3] - left), max(0, -(-(a[4] - t) // 1000))) for a in apply)}
    if full:
        raise Refuse('limit.rate', headers={**h, 'Retry-After': str(max(max(1, -(-(a[4] - t) // 1000)) for a in full))})
    return h

# ---------------------------------------------------------------- routes
INT = re.compile(r'^-?[0-9]+$', re.A)
def q_enum(*vals):
    return lambda v: v if v in vals else None
ROUTES = []
def route(method, path, op, **k):
    pat = re.compile('^' + re.sub(r'\{(\w+)\}', r'(?P<\1>[^/]+)', path) + '$')
    ROUTES.append(dict(method=method, path=path, pat=pat, op=op, verb=op.split()[0], res=op.split()[1], params=k.pop('params', {}), **k))
for m, p, op, k in [
    ('POST', '/pens', 'create pen', {}), ('GET', '/pens', 'list pen', {}), ('GET', '/pens/{code}', 'read pen', dict(etag=1)), ('DELETE', '/pens/{code}', 'delete pen', {}),
    ('POST', '/flocks', 'create flock', {}), ('GET', '/flocks', 'list flock', {}),
    ('POST', '/flocks/{flock}/animals', 'create animal', dict(repeat=1)), ('GET', '/animals', 'list animal', {}), ('GET', '/animals/{id}', 'read animal', dict(etag=1)),
    ('PATCH', '/animals/{id}', 'update animal', {}), ('POST', '/animals/{id}/papers', 'renew animal', {}),
    ('POST', '/entries', 'create entry', {}), ('GET', '/entries', 'list entry', {}), ('POST', '/entries/{id}/mark', 'mark entry', {}), ('POST', '/entries/{id}/confirm', 'confirm entry', {}),
    ('POST', '/lots', 'create lot', {}), ('GET', '/lots', 'list lot', {}), ('GET', '/lots/{id}', 'read lot', {}), ('POST', '/lots/{id}/open', 'open lot', {}),
    ('POST', '/lots/{id}/settle', 'settle lot', {}), ('POST', '/lots/{lot}/bids', 'create bid', dict(repeat=2)), ('GET', '/lots/{lot}/bids', 'list bid', {}),
    ('PUT', '/stalls/{spot}', 'upsert stall', dict(accept=('badge', 'office') if FAULT == 'stall-badge' else ('office',))), ('GET', '/stalls', 'list stall', {}),
    ('POST', '/hauls', 'create haul', {}), ('GET', '/hauls', 'list haul', {}), ('POST', '/hauls/{id}/take', 'take haul', {}), ('POST', '/hauls/{id}/deliver', 'deliver haul', {}),
    ('POST', '/hauls/{id}/cancel', 'cancel haul', dict(since='2026')), ('POST', '/hooks', 'create hook', {}), ('GET', '/hooks/{id}', 'read hook', {}), ('DELETE', '/hooks/{id}', 'delete hook', {})]:
    if FAULT == 'no-renew' and op == 'renew animal':
        continue
    route(m, p, op, **k)
BYFIRST = defaultdict(list)
for r in ROUTES:
    BYFIRST[r['path'].split('/')[1]].append(r)

class Req:
    pass
STATES = {'animal': ('fit', 'lapsed', 'gone'), 'entry': ('entered', 'marked', 'placed', 'unplaced', 'scratched'), 'lot': ('draft', 'open', 'sold', 'unsold', 'settled'),
          'haul': ('ordered', 'taken', 'delivered', 'cancelled', 'lapsed')}

def integer(s, lo=None):
    if not INT.match(s) or len(s) > 18:
        return None
    n = int(s)
    return None if lo is not None and n < lo else n

def param_specs(op, v):
    w = 'weight' if old(v, '2025') and FAULT != 'weight-sort' else 'grams'
    wool = 'fleece' if old(v, '2025') else 'wool'
    return {
        'list pen': {'roofed': lambda x: {'true': 1, 'false': 2}.get(x), 'min_places': integer, 'sort': q_enum('places', '-places')},
        'list flock': {'breed': q_enum('texel', 'suffolk', 'cheviot', 'herdwick'), 'starts': lambda x: x},
        'list animal': {'flock': lambda x: x, 'standing': lambda x: (lambda p: p if len(p) <= 100 and all(y in STATES['animal'] for y in p) else None)(x.split(',')), 'sort': q_enum(w, '-' + w)},
        'list entry': {'class': q_enum('best_ram', 'best_ewe', 'fleece'), 'status': q_enum(*STATES['entry'])},
        'list lot': {'state': q_enum(*STATES['lot']), 'animal': lambda x: x}, 'list bid': {}, 'list stall': {'trade': q_enum('food', 'tools', wool)},
        'list haul': {'state': q_enum(*STATES['haul'])}}.get(op, {})

def parameters(req, rt):
    got, seen, out, page = {}, {}, [], []
    lists = rt['verb'] == 'list'
    specs = param_specs(rt['op'], req.version)
    paging = () if not lists else ('past', 'ahead', 'take') if rt['op'] == 'list entry' else ('skip', 'take')
    for part in req.query.split('&') if req.query else ():
        if not part:
            continue
        k, _, v = part.partition('=')
        k, v = unquote_plus(k), unquote_plus(v)
        if k in seen:
            viol(out, 'p', k, v, 'to come once', 'query'); continue
        seen[k] = v
        if k in specs:
            x = specs[k](v)
            if x is None:
                viol(out, 'p', k, v, 'another value', 'query')
            got[k] = x
        elif k in paging:
            if k in ('skip', 'take'):
                x = integer(v, 0 if k == 'skip' else 1)
                mx = 25 if rt['op'] == 'list entry' else 40
                if x is None and re.fullmatch(r'[0-9]+', v, re.A) and v.strip('0'):
                    x = 10 ** 17
                if x is not None and k == 'take' and x > mx:
                    x = None if rt['op'] == 'list entry' or FAULT == 'take-refused' else mx
            else:
                x = integer(v, 1)
                if v != str(x) or x not in DB['entry'] or not may_read('entry', req.caller, DB['entry'][x]):
                    x = None
            if x is None:
                viol(page, 'p', k, v, 'a page that there is', 'query')
            got[k] = x
        else:
            viol(out, 'p', k, v, 'no such parameter', 'query')
    if 'past' in seen and 'ahead' in seen:
        viol(page, 'p', 'ahead', seen['ahead'], 'one of past and ahead', 'query')
    if rt.get('repeat') == 2 and not req.head.get('repeat-key'):
        viol(out, 'p', 'Repeat-Key', ABSENT, 'to be there', 'header')
    if out or page:
        raise Refuse('request.parameter', [v for _, v in out + page])
    return got

def takes_body(rt):
    return rt['verb'] in ('create', 'update', 'upsert', 'renew', 'mark')

def read_body(req, rt):
    if req.toobig:
        raise Refuse('limit.size')
    if not takes_body(rt):
        return None
    ct = req.head.get('content-type')
    if ct is None:
        raise Refuse('request.media' if req.body else 'request.malformed')
    mt = ct.split(';')[0].strip().lower()
    if mt != 'application/json' and not (mt == 'application/merge-patch+json' and rt['verb'] == 'update'):
        raise Refuse('request.media')
    try:
        def no(x):
            raise ValueError
        def flt(x):
            f = float(x)
            if f in (float('inf'), float('-inf')):
                raise ValueError
            return f
        b = json.loads(req.body.decode('utf-8'), parse_constant=no, parse_float=flt)
    except (ValueError, RecursionError):
        raise Refuse('request.malformed')
    return b

IDEM = {}
def etag(body):
    return '"' + hashlib.sha256(body).hexdigest()[:24] + '"'

def render(res, row, c, v, reveal=False):
    f = None
    if res == 'lot':
        f = lot_fields(c, row)
        f = f or None
    return down(res, plain(res, row, c.user if c else None, f, reveal), v)

def dump(x):
    return json.dumps(x, separators=(',', ':'), ensure_ascii=False).encode('utf-8', 'replace')

def tags_in(h):
    return [x.strip() for x in h.split(',')]

# ---------------------------------------------------------------- handling
def handle(req):
    """-> status, headers, body"""
    run_due()
    req.version = CUR
    req.extra = {}
    req.told = None
    try:
        return answer(req)
    except Refuse as r:
        return refusal(req, r)
    except Exception as e:
        import traceback
        traceback.print_exc()
        return refusal(req, Refuse('internal'))

def refusal(req, r):
    if r.when == 'own':
        code = r.code
        status, says = OWN[code]
    else:
        code, status = CODES[r.when]
        says = HTTPStatus(status).phrase
    if FAULT == 'tag-first-412' and code == 'tag_first':
        status = 412
    b = {'fault': {'code': code, 'says': says}}
    if r.violations:
        b['at'] = r.violations
    if not (FAULT == 'slip-lost' and r.when == 'resource.missing'):
        b['slip'] = uuid.uuid4().hex[:16]
    if FAULT == 'depr-refusal' and req.version == '2025':
        req.extra.pop('Deprecation', None)
    return status, {**req.extra, 'Content-Type': 'application/json', **r.headers}, dump(b)

def answer(req):
    if len(req.target.encode('latin-1', 'replace')) > (1100 if FAULT == 'url-size' else 1024) or req.hsize > 8192:
        raise Refuse('limit.size')
    path, _, req.query = req.target.partition('?')
    req.path = path
    req.extra = {'Fair-Edition': CUR, 'Vary': 'Fair-Edition, Authorization'}
    if path == BASE or not path.startswith(BASE + '/'):
        if FAULT == 'no-base' and path.startswith('/pens'):
            local = path
        else:
            raise Refuse('route.unknown')
    else:
        local = path[len(BASE):]
    found = []
    for r in BYFIRST.get(local.split('/')[1], ()):
        m = r['pat'].match(local)
        if m:
            found.append((r, m))
    if not found:
        raise Refuse('route.unknown')
    verbs = {r['method'] for r, _ in found}
    allow = sorted(verbs | ({'HEAD'} if 'GET' in verbs else set()) | {'OPTIONS'})
    if req.method == 'OPTIONS':
        return 204, {**req.extra, 'Allow': ', '.join(allow)}, b''
    want = 'GET' if req.method == 'HEAD' and not (FAULT == 'no-head-lots' and local == '/lots') else req.method
    hit = [x for x in found if x[0]['method'] == want]
    if not hit:
        raise Refuse('method.unsupported', headers={'Allow': ', '.join(allow)})
    rt, m = hit[0]
    v = req.head.get('fair-edition')
    if v is not None:
        if v not in VERSIONS:
            raise Refuse('version.unknown')
        if v in SUNSET and now() >= SUNSET[v] * 1000 and FAULT != 'never-sunset':
            raise Refuse('version.sunset')
        req.version = v
    v = req.version
    req.extra['Fair-Edition'] = v
    if v in DEPR:
        req.extra['Deprecation'] = '@%d' % DEPR[v]
        if v in SUNSET:
            req.extra['Sunset'] = 'Wed, 01 Jan 2031 00:00:00 GMT'
            req.extra['Link'] = '<https://hurdles.example/editions>; rel="deprecation", <%s>; rel="successor-version"' % req.target
    if rt.get('since') and old(v, rt['since']) and FAULT != 'early-cancel':
        raise Refuse('route.unknown')
    # the caller
    accept = rt.get('accept', ('badge', 'office'))
    try:
        who = identify(req, accept)
    except Refuse as r:
        if FAULT == 'bad-as-anyone' and rt['op'] in PUBLIC and r.when == 'caller.unknown':
            who = None
        else:
            raise
    req.caller, req.scheme = who if who else (None, None)
    c = req.caller
    if c is None and rt['op'] not in PUBLIC:
        raise Refuse('caller.unknown', headers={'WWW-Authenticate': challenge(accept)})
    req.extra.update(rates(c.key if c else req.peer, rt['op']))
    # its user
    if rt['op'] not in PUBLIC:
        need = ALLOW[rt['op']].get(c.user)
        if need is None:
            raise Refuse('caller.forbidden')
        if not set(need) <= c.scopes:
            raise Refuse('caller.forbidden.scope')
    if req.scheme == 'office' and req.method not in ('GET', 'HEAD'):
        site, org = req.head.get('sec-fetch-site'), req.head.get('origin')
        if (site and site not in ('same-origin', 'none')) or (not site and org and org.split('://')[-1] != req.head.get('host')):
            raise Refuse('caller.forbidden')
    if FAULT == 'body-before-query':
        req.json = read_body(req, rt)
    req.params = parameters(req, rt)
    req.json = read_body(req, rt)
    req.ids = {k: unquote(x, errors='replace') for k, x in m.groupdict().items()}
    # idempotency
    key = req.head.get('repeat-key') if rt.get('repeat') else None
    if not key:
        return act(req, rt)
    k = (c.key, rt['op'], key)
    print_ = hashlib.sha256(('%s\n%s\n%s\n' % (req.path, req.query, v)).encode() + req.body).digest()
    kept = IDEM.get(k)
    if kept and kept[0] > now():
        if kept[1] != print_ and not (FAULT == 'key-any-body' and rt['op'] == 'create bid'):
            raise Refuse('idempotency.reused')
        s, h, b = kept[2]
        return s, {**h, **req.extra}, b
    try:
        out = act(req, rt)
    except Refuse as r:
        if r.when != 'own':
            raise
        out = refusal(req, r)
    until = now() + 12 * 3600000
    kept = IDEM[k] = (until, print_, (out[0], {x: y for x, y in out[1].items() if not x.startswith('RateLimit')}, out[2]))
    plan(until, lambda: IDEM.pop(k, None) if IDEM.get(k) is kept else None)
    return out

def load_row(req, rt):
    res, c = rt['res'], req.caller
    i = req.ids[idf(res)]
    if res == 'entry':
        i = int(i) if re.fullmatch(r'[1-9][0-9]{0,17}', i, re.A) else None
    row = DB[res].get(i)
    if row is None or not may_read(res, c, row):
        raise Refuse('resource.missing')
    return row

def parent(req, res):
    row = DB[res].get(req.ids[res])
    if row is None or not may_read(res, req.caller, row):
        raise Refuse('resource.missing')
    return row

def body_for(req, res, fixed=None):
    """validated fields of a creation or a replacement"""
    b, out = req.json, []
    if not isinstance(b, dict):
        viol(out, 'type', '', b, 'a map')
        invalid(out)
    shape = VSHAPE[req.version][res]
    b = dict(b)
    for k, x in (fixed or {}).items():
        if k in b and b[k] != x:
            got = obj_ok({**b}, shape, '', out)
            viol(out, 'value', '/' + k, b[k], 'what the path says')
            out.sort(key=lambda o: o[0] == 'missing')
            invalid(out)
        b[k] = x
    got = obj_ok(b, shape, '', out)
    invalid(out)
    return got

def refs(req, res, got, skip=()):
    for k, sp in SHAPES[res].items():
        if 'ref' in sp and k in got and k not in skip and got[k] is not None:
            r = DB[sp['ref']].get(got[k])
            if r is None or not may_read(sp['ref'], req.caller, r):
                raise Refuse('reference.missing', [{'in': 'body', 'path': '/' + k, 'found': got[k], 'expected': 'one that is there'}])

def made(req, res, row, where=None, status=201):
    h = dict(req.extra)
    if where:
        h['Location'] = ('' if FAULT == 'location-base' else BASE) + where
    h['Content-Type'] = 'application/json'
    return status, h, dump(render(res, row, req.caller, req.version, reveal=True))

def shown(req, res, row):
    b = dump(render(res, row, req.caller, req.version))
    return 200, {**req.extra, 'Content-Type': 'application/json'}, b

def rid(n, alphabet):
    return ''.join(rnd.choice(alphabet) for _ in range(n))
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits

def act(req, rt):
    return DO[rt['op']](req, rt)

def create_pen(req, rt):
    got = body_for(req, 'pen')
    if got['code'] in DB['pen']:
        raise Refuse('resource.exists')
    insert('pen', got)
    return made(req, 'pen', got, '/pens/' + got['code'])

def read(req, rt):
    row = load_row(req, rt)
    s, h, b = shown(req, rt['res'], row)
    if rt.get('etag'):
        t = etag(req.version.encode() + (req.caller.user.encode() if req.caller else b'-') + b)
        h['ETag'] = t
        inm = req.head.get('if-none-match')
        if inm and not (FAULT == 'pen-no-304' and rt['res'] == 'pen') and (inm.strip() == '*' or any(x.removeprefix('W/') == t for x in tags_in(inm))):
            h.pop('Content-Type')
            return 304, h, b''
    return s, h, b

def delete_pen(req, rt):
    row = load_row(req, rt)
    for a in list(IX.get(('animal', 'pen', row['code']), {}).values()):
        if FAULT != 'pen-not-cleared':
            change('animal', a, pen=None)
    remove('pen', row)
    return 204, dict(req.extra), b''

def create_flock(req, rt):
    got = body_for(req, 'flock')
    row = {'id': 'flk_' + rid(12, LOWER), 'owner': req.caller.id, **got}
    if any(u in UNIQ for u in uniques('flock', row)):
        raise Refuse('resource.exists')
    insert('flock', row)
    return made(req, 'flock', row)

def create_animal(req, rt):
    f = parent(req, 'flock')
    got = body_for(req, 'animal', {'flock': f['id']})
    refs(req, 'animal', got, ('flock',))
    if instant(got['papers_until']) <= now() * 1000:
        own('stale_papers')
    if ('animal', got['tag']) in UNIQ:
        raise Refuse('resource.exists')
    row = {'id': 'shp_' + rid(10, '0123456789abcdef'), '_owner': f['owner'], **got, 'standing': 'fit'}
    insert('animal', row)
    row['_since'] = next(seq)
    set_papers(row)
    return made(req, 'animal', row, '/animals/' + row['id'])

def update_animal(req, rt):
    row = load_row(req, rt)
    im = req.head.get('if-match')
    if im is None:
        raise Refuse('precondition.required')
    t = etag(req.version.encode() + req.caller.user.encode() + dump(render('animal', row, req.caller, req.version)))
    star = im.strip() == '*' and FAULT != 'if-match-star'
    if not star and t not in tags_in(im):
        raise Refuse('precondition.failed')
    b, out = req.json, []
    if not isinstance(b, dict):
        viol(out, 'type', '', b, 'a map')
        invalid(out)
    shape, new = VSHAPE[req.version]['animal'], {}
    for k, x in b.items():
        sp = shape.get(k)
        if sp is None:
            viol(out, 'unknown', '/' + ptr(k), x, 'no such field'); continue
        if sp.get('ro'):
            continue
        to = sp.get('to', k)
        if x is None:
            if sp.get('req'):
                viol(out, 'value', '/' + k, None, 'to be there')
            else:
                new[to] = None
            continue
        n = len(out)
        y = value_ok(x, sp, '/' + ptr(k), out)
        if len(out) == n and sp.get('imm') and y != row[to] and not (FAULT == 'tag-mutable' and k == 'tag'):
            viol(out, 'value', '/' + k, x, 'what it is')
        new[to] = y
    invalid(out)
    refs(req, 'animal', {k: v for k, v in new.items() if row.get(k) != v})
    if row['standing'] == 'gone':
        raise Refuse('transition.illegal')
    if instant(new.get('papers_until', row['papers_until'])) <= now() * 1000 and FAULT != 'stale-update':
        own('stale_papers')
    diff = {k: v for k, v in new.items() if row.get(k) != v}
    if diff:
        change('animal', row, **diff)
        if 'papers_until' in diff and instant(row['papers_until']) != row['_papers']:
            set_papers(row)
    return shown(req, 'animal', row)

def stated(req, shape, loose=False):
    b, out = req.json, []
    if not isinstance(b, dict):
        viol(out, 'type', '', b, 'a map')
        invalid(out)
    got = obj_ok(b, shape, '', out, loose)
    invalid(out)
    return got

def renew_animal(req, rt):
    row = load_row(req, rt)
    got = stated(req, {'papers_until': S(fmt='date-time', req=True)})
    if row['standing'] == 'gone':
        raise Refuse('transition.illegal')
    if instant(got['papers_until']) <= now() * 1000:
        own('stale_papers')
    enter('animal', row, 'standing', row['standing'] if FAULT == 'renew-lapsed' else 'fit', papers_until=got['papers_until'])
    if instant(row['papers_until']) != row['_papers']:
        set_papers(row)
    return shown(req, 'animal', row)

def create_entry(req, rt):
    got = body_for(req, 'entry')
    refs(req, 'entry', got)
    if DB['animal'][got['animal']]['standing'] != 'fit':
        own('unsound')
    row = {'id': 0, **got, 'entrant': req.caller.id, 'status': 'entered'}
    if any(u in UNIQ for u in uniques('entry', row)):
        raise Refuse('resource.exists')
    row['id'] = next(entry_ids)
    n = '' if FAULT == 'number-wide' else got['animal']
    number[n] += 1
    row['number'] = number[n]
    insert('entry', row)
    enter('entry', row, 'status', 'entered')
    return made(req, 'entry', row)

def mark_entry(req, rt):
    row = load_row(req, rt)
    if row['ring'] != req.caller.beat and FAULT != 'any-ring':
        raise Refuse('caller.forbidden')
    got = stated(req, {'marks': I(0, 100, req=True)}, loose=FAULT == 'mark-loose')
    if row['status'] != 'entered':
        raise Refuse('transition.illegal')
    enter('entry', row, 'status', 'marked', marks=got['marks'])
    emit('entry.marked', 'entry', row)
    return shown(req, 'entry', row)

def confirm_entry(req, rt):
    row = load_row(req, rt)
    if row['status'] != 'marked':
        raise Refuse('transition.illegal')
    m = row['marks']
    enter('entry', row, 'status', 'placed' if (m > 60 if FAULT == 'sixty' else m >= 60) else 'unplaced')
    emit('entry.judged', 'entry', row, {'entry': row['id'], 'verdict': row['status']})
    return shown(req, 'entry', row)

def create_lot(req, rt):
    got = body_for(req, 'lot')
    refs(req, 'lot', got)
    if DB['animal'][got['animal']]['standing'] != 'fit':
        own('unsound')
    i = rid(8, UPPER)
    while 'lot_' + i in DB['lot']:
        i = rid(8, UPPER)
    row = {'id': 'lot_' + i, **got, 'seller': req.caller.id, 'state': 'draft'}
    insert('lot', row)
    return made(req, 'lot', row, '/lots/' + row['id'])

def open_lot(req, rt):
    row = load_row(req, rt)
    if row['seller'] != req.caller.id:
        raise Refuse('caller.forbidden')
    if row['state'] != 'draft':
        raise Refuse('transition.illegal')
    enter('lot', row, 'state', 'open')
    return shown(req, 'lot', row)

def settle_lot(req, rt):
    row = load_row(req, rt)
    if row['state'] != 'sold':
        raise Refuse('transition.illegal')
    enter('lot', row, 'state', 'settled')
    a = DB['animal'][row['animal']]
    if a['standing'] != 'gone' and FAULT != 'settle-keeps':
        enter('animal', a, 'standing', 'gone')
    return shown(req, 'lot', row)

def create_bid(req, rt):
    lot = parent(req, 'lot')
    got = body_for(req, 'bid', {'lot': lot['id']})
    if lot['state'] != 'open':
        own('lot_shut')
    mine = lot['seller'] == req.caller.id
    if mine and not (FAULT == 'own-lot-late' and lot.get('top') is not None):
        own('own_lot')
    if lot.get('top') is not None and got['amount'] <= lot['top']:
        own('too_low')
    row = {'id': 'bid_' + rid(16, string.ascii_letters + string.digits), **got, 'bidder': req.caller.id}
    insert('bid', row)
    change('lot', lot, top=got['amount'])
    return made(req, 'bid', row)

def upsert_stall(req, rt):
    spot = req.ids['spot']
    had = DB['stall'].get(spot)
    got = body_for(req, 'stall', {'spot': spot})
    if had is None:
        insert('stall', got)
        return made(req, 'stall', got)
    if FAULT == 'metres-kept' and 'metres' not in req.json:
        got['metres'] = had['metres']
    change('stall', had, **got)
    return made(req, 'stall', had, status=200)

def create_haul(req, rt):
    c = req.caller
    day = now() // DAY
    def used(add=0):
        d, n = quota.get(c.key, (day, 0))
        n = n if d == day else 0
        if add:
            quota[c.key] = (day, n + add)
        return n
    if FAULT == 'quota-refused':
        try:
            got = body_for(req, 'haul')
        except Refuse:
            used(1)
            raise
    got = body_for(req, 'haul')
    if used() >= 6:
        raise Refuse('limit.quota', headers={'Retry-After': str(max(1, -(-((day + 1) * DAY - now()) // 1000)))})
    row = {'id': str(uuid.uuid4()), **got, 'orderer': c.id, 'state': 'ordered'}
    used(1)
    insert('haul', row)
    enter('haul', row, 'state', 'ordered')
    return made(req, 'haul', row)

def take_haul(req, rt):
    row = load_row(req, rt)
    if row['state'] != 'ordered':
        if FAULT == 'spoken-lapsed' and row['state'] == 'lapsed':
            raise Refuse('transition.illegal')
        own('spoken_for')
    move_haul(row, 'taken', driver=req.caller.id)
    return shown(req, 'haul', row)

def deliver_haul(req, rt):
    row = load_row(req, rt)
    if row.get('driver') != req.caller.id:
        raise Refuse('caller.forbidden')
    if row['state'] != 'taken':
        raise Refuse('transition.illegal')
    move_haul(row, 'delivered')
    return shown(req, 'haul', row)

def cancel_haul(req, rt):
    row = load_row(req, rt)
    if row['state'] not in (('ordered',) if FAULT == 'cancel-taken' else ('ordered', 'taken')):
        raise Refuse('transition.illegal')
    move_haul(row, 'cancelled')
    return shown(req, 'haul', row)

hooks_made = defaultdict(int)
def create_hook(req, rt):
    c = req.caller
    got = body_for(req, 'hook')
    if FAULT == 'hooks-not-freed':
        n = hooks_made[c.id]
    else:
        n = len(IX.get(('hook', 'owner', c.id), ()))
    if n >= 4:
        raise Refuse('limit.quota')
    hooks_made[c.id] += 1
    row = {'id': 'hk_' + rid(10, LOWER), **got, 'owner': c.id, 'secret': rid(40, '0123456789abcdef'), '_maker': c, '_version': req.version, '_queues': {}}
    insert('hook', row)
    return made(req, 'hook', row, '/hooks/' + row['id'])

def delete_hook(req, rt):
    row = load_row(req, rt)
    remove('hook', row)
    row['_queues'].clear()
    return 204, dict(req.extra), b''

def lister(req, rt):
    res, c, p = rt['res'], req.caller, req.params
    up = {'fleece': 'wool'} if old(req.version, '2025') else {}
    key, rev, checks = None, False, []
    if res == 'pen':
        base = [DB['pen'][k] for k in ORDERED['pen']]
        if 'roofed' in p:
            checks.append(lambda r: r['roofed'] == (p['roofed'] == 1))
        if 'min_places' in p:
            checks.append((lambda r: r['places'] > p['min_places']) if FAULT == 'min-places' else lambda r: r['places'] >= p['min_places'])
        if 'sort' in p:
            key, rev = (lambda r: r['places']), p['sort'][0] == '-'
            base = list(DB['pen'].values())
    elif res == 'flock':
        base = DB[res] if c.user == 'steward' else IX.get(('flock', 'owner', c.id), {})
        base = list(base.values())
        if 'breed' in p:
            checks.append(lambda r: r['breed'] == p['breed'])
        if 'starts' in p:
            checks.append(lambda r: r['name'].startswith(p['starts']))
        key = lambda r: r['name']
    elif res == 'animal':
        if 'flock' in p:
            f = DB['flock'].get(p['flock'])
            base = IX.get(('animal', 'flock', p['flock']), {}) if f and may_read('flock', c, f) else {}
        else:
            base = DB[res] if c.user == 'steward' else IX.get(('animal', '_owner', c.id), {})
        base = list(base.values())
        if 'standing' in p:
            want = set(p['standing'][:1] if FAULT == 'standing-first' else p['standing'])
            checks.append(lambda r: r['standing'] in want)
        if 'sort' in p:
            key, rev = (lambda r: r['grams']), p['sort'][0] == '-'
    elif res == 'lot':
        if 'animal' in p:
            base = list(IX.get(('lot', 'animal', p['animal']), {}).values())
        elif 'state' in p:
            base = list(IX.get(('lot', 'state', p['state']), {}).values())
        else:
            base = list(DB['lot'].values())
        if 'state' in p:
            checks.append(lambda r: r['state'] == p['state'])
        checks.append(lambda r: lot_fields(c, r) is not None)
        key, rev = (lambda r: r['id']), True
    elif res == 'bid':
        lot = parent(req, 'lot')
        base = list(IX.get(('bid', 'lot', lot['id']), {}).values())
        checks.append(lambda r: may_read('bid', c, r))
        key, rev = (lambda r: r['amount']), True
    elif res == 'stall':
        base = [DB['stall'][k] for k in ORDERED['stall']]
        if 'trade' in p:
            t = up.get(p['trade'], p['trade'])
            checks.append(lambda r: r['trade'] == t)
    elif res == 'haul':
        base = DB[res] if c.user == 'steward' or (FAULT == 'beat-filter' and 'state' in p and c.user == 'haulier') \
            else IX.get(('haul', 'orderer', c.id), {}) if c.user == 'breeder' else IX.get(('haul', 'beat', c.beat), {})
        base = sorted(base.values(), key=lambda r: r['_n'])
        if 'state' in p:
            checks.append(lambda r: r['state'] == p['state'])
    for f in checks:
        base = [r for r in base if f(r)]
    if res not in ('pen', 'stall') or key:
        base.sort(key=lambda r: r['_n'], reverse=FAULT == 'ties-newest' and res == 'pen')
    if key:
        base.sort(key=key, reverse=rev)
    skip, take = p.get('skip', 0), p.get('take', 10)
    rows = base[skip:skip + take]
    body = {'rows': [down(res, plain(res, r, c.user if c else None), req.version) if FAULT == 'list-reserve' and res == 'lot' else render(res, r, c, req.version) for r in rows],
            'count': len(base), 'more': skip + len(rows) < len(base) and skip < len(base)}
    return 200, {**req.extra, 'Content-Type': 'application/json'}, dump(body)

def list_entry(req, rt):
    c, p = req.caller, req.params
    base = IX.get(('entry', 'entrant', c.id), {}) if c.user == 'breeder' else DB['entry']
    ids = sorted(base)
    take = p.get('take', 5)
    ok = lambda i: ('class' not in p or base[i]['class'] == p['class']) and ('status' not in p or base[i]['status'] == p['status'])
    if 'ahead' in p:
        k, rows = bisect.bisect_left(ids, p['ahead']) - 1, []
        while k >= 0 and len(rows) <= take:
            if ok(ids[k]):
                rows.append(ids[k])
            k -= 1
        back = len(rows) > take
        rows = rows[:take][::-1]
        forth = any(ok(i) for i in itertools.islice(ids, bisect.bisect_left(ids, p['ahead']), None))
    else:
        k = 0
        if 'past' in p:
            k = bisect.bisect_left(ids, p['past']) if FAULT == 'past-repeats' else bisect.bisect_right(ids, p['past'])
        back = any(ok(i) for i in itertools.islice(ids, 0, k))
        rows = []
        while k < len(ids) and len(rows) <= take:
            if ok(ids[k]):
                rows.append(ids[k])
            k += 1
        forth = len(rows) > take
        rows = rows[:take]
    rest = [x for x in req.query.split('&') if x and x.split('=')[0] not in ('past', 'ahead')]
    def link(rel, *more):
        q = '&'.join([*rest, *more])
        return '<%s%s>; rel="%s"' % (req.path, '?' + q if q else '', rel)
    links = []
    if rows and forth:
        links.append(link('next', 'past=%d' % rows[-1]))
    if rows and back:
        links.append(link('prev', 'ahead=%d' % rows[0]))
    links.append(link('first'))
    h = {**req.extra, 'Content-Type': 'application/json'}
    h['Link'] = ', '.join(([h['Link']] if 'Link' in h else []) + links)
    return 200, h, dump([render('entry', base[i], c, req.version) for i in rows])

DO = {'read pen': read, 'read animal': read, 'read lot': read, 'read hook': read, 'list entry': list_entry}
for _r in ROUTES:
    if _r['op'] not in DO:
        DO[_r['op']] = lister if _r['verb'] == 'list' else globals()[_r['op'].replace(' ', '_')]

# ---------------------------------------------------------------- http
REASON = {s.value: s.phrase for s in HTTPStatus}
def pack(status, headers, body, head=False, close=False):
    out = ['HTTP/1.1 %d %s' % (status, REASON.get(status, ''))]
    for k, v in headers.items():
        if k == 'WWW-Authenticate':
            for x in re.split(r', (?=B(?:adge|asic) )', v):
                out.append('WWW-Authenticate: ' + x)
        else:
            out.append('%s: %s' % (k, v))
    if status not in (204, 304):
        out.append('Content-Length: %d' % len(body))
    if close:
        out.append('Connection: close')
    return ('\r\n'.join(out) + '\r\n\r\n').encode('latin-1', 'replace') + (b'' if head else body)

async def read_request(r, w, door=False):
    """-> Req, or None at the end"""
    try:
        first = await asyncio.wait_for(r.read(1), 30)
    except asyncio.TimeoutError:
        return None
    if not first:
        return None
    return await asyncio.wait_for(rest_of(r, w, first, door), 5)

async def rest_of(r, w, first, door):
    raw = first + await r.readuntil(b'\r\n\r\n')
    lines = raw.decode('latin-1').split('\r\n')
    req = Req()
    parts = lines[0].split(' ')
    if len(parts) != 3 or not parts[2].startswith('HTTP/1.'):
        raise ValueError
    req.method, req.target = parts[0], parts[1]
    if req.target.startswith('http://'):
        req.target = '/' + req.target.split('/', 3)[3] if req.target.count('/') >= 3 else '/'
    req.headers = []
    for l in lines[1:-2]:
        k, c, v = l.partition(':')
        if not c or not k or k != k.strip():
            raise ValueError
        req.headers.append((k.lower(), v.strip()))
    req.hsize = sum(len(k) + len(v) + 4 for k, v in req.headers)
    req.head = {}
    for k, v in req.headers:
        req.head[k] = req.head[k] + ', ' + v if k in req.head else v
    req.close = req.head.get('connection', '').lower() == 'close' or parts[2] == 'HTTP/1.0'
    req.body, req.toobig = b'', False
    limit = 4096 if not door else 65536
    if req.head.get('expect', '').lower() == '100-continue':
        w.write(b'HTTP/1.1 100 Continue\r\n\r\n')
    if 'chunked' in req.head.get('transfer-encoding', '').lower():
        total, buf = 0, []
        while True:
            n = int((await r.readline()).split(b';')[0].strip(), 16)
            if n < 0:
                raise ValueError
            if n == 0:
                while (await r.readline()) not in (b'\r\n', b'\n', b''):
                    pass
                break
            total += n
            if total > 16 << 20:
                req.close = True
                break
            data = await r.readexactly(n)
            await r.readline()
            if total <= limit:
                buf.append(data)
        req.toobig = total > limit
        req.body = b'' if req.toobig else b''.join(buf)
    elif 'content-length' in req.head:
        n = req.head['content-length']
        if not n.isdigit():
            raise ValueError
        n = int(n)
        req.toobig = n > limit
        if req.toobig:
            left = min(n, 16 << 20)
            if n > left:
                req.close = True
            while left > 0:
                got = await r.read(min(left, 65536))
                if not got:
                    break
                left -= len(got)
        else:
            req.body = await r.readexactly(n)
    return req

async def serve(r, w):
    peer = (w.get_extra_info('peername') or ('?',))[0]
    try:
        while True:
            try:
                req = await read_request(r, w)
            except asyncio.TimeoutError:
                fake = Req(); fake.version = CUR; fake.extra = {}
                w.write(pack(*refusal(fake, Refuse('limit.time')), close=True))
                break
            except asyncio.LimitOverrunError:
                fake = Req(); fake.version = CUR; fake.extra = {}
                w.write(pack(*refusal(fake, Refuse('limit.size')), close=True))
                break
            except ValueError:
                fake = Req(); fake.version = CUR; fake.extra = {}
                w.write(pack(*refusal(fake, Refuse('request.malformed')), close=True))
                break
            if req is None:
                break
            req.peer = peer
            status, headers, body = handle(req)
            w.write(pack(status, headers, body, req.method == 'HEAD', req.close))
            await w.drain()
            if req.close:
                break
    except (ConnectionError, asyncio.IncompleteReadError, OSError):
        pass
    finally:
        try:
            w.close()
        except Exception:
            pass

DUR = re.compile(r'^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?$', re.A)
def door(req):
    if req.method == 'GET':
        return 200, {'now': iso(now())}
    if req.method != 'POST':
        return 400, {'error': 'GET or POST'}
    try:
        b = json.loads(req.body)
        t = now()
        if set(b) == {'advance'}:
            m = DUR.match(b['advance'])
            if not m:
                return 400, {'error': 'no duration'}
            y, mo, wk, d, h, mi, s = (int(x or 0) for x in m.groups()[:7])
            dt = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=t)
            n = dt.year * 12 + dt.month - 1 + y * 12 + mo
            yy, mm = divmod(n, 12)
            dt = dt.replace(year=yy, month=mm + 1, day=min(dt.day, monthrange(yy, mm + 1)[1]))
            dt += timedelta(weeks=wk, days=d, hours=h, minutes=mi, seconds=s)
            x = dt - datetime(1970, 1, 1, tzinfo=timezone.utc)
            to = (x.days * 86400 + x.seconds) * 1000 + x.microseconds // 1000 + int(((m[8] or '') + '000')[:3])
        elif set(b) == {'now'}:
            us = instant(b['now'])
            if us is None:
                return 400, {'error': 'no date-time'}
            to = us // 1000
        else:
            return 400, {'error': 'advance or now'}
    except (ValueError, TypeError, AttributeError, OverflowError):
        return 400, {'error': 'no such move'}
    if to < t:
        return 422, {'error': 'the clock goes forward alone'}
    global timer, timer_at
    run_due(to)
    clock.offset += to - t
    run_due()
    if timer is not None:
        timer.cancel()
    timer = timer_at = None
    arm()
    return 200, {'now': iso(now())}

async def serve_door(r, w):
    try:
        while True:
            req = await read_request(r, w, True)
            if req is None:
                break
            s, b = door(req)
            await asyncio.sleep(0)
            w.write(pack(s, {'Content-Type': 'application/json'}, dump(b), close=req.close))
            await w.drain()
            if req.close:
                break
    except (ConnectionError, asyncio.IncompleteReadError, asyncio.TimeoutError, asyncio.LimitOverrunError, ValueError, OSError):
        pass
    finally:
        w.close()

async def main():
    load()
    a = await asyncio.start_server(serve, '127.0.0.1', int(ARGS['--port']), limit=32768)
    b = await asyncio.start_server(serve_door, '127.0.0.1', int(ARGS['--clock-port']))
    async with a, b:
        await asyncio.gather(a.serve_forever(), b.serve_forever())

try:
    asyncio.run(main())
except KeyboardInterrupt:
    pass
