#!/usr/bin/env python3
"""Bone Lace: a school of bobbin lace. Everything in memory, one loop, one file."""
import asyncio, sys, json, time, re, os, random, string, hmac, hashlib, base64, heapq, bisect, math, ssl, uuid, itertools
from datetime import datetime, timezone, timedelta, date
from urllib.parse import unquote, unquote_plus, quote, urlsplit
from collections import deque, OrderedDict
from zoneinfo import ZoneInfo
from email.utils import formatdate

ARGS = dict(zip(sys.argv[1::2], sys.argv[2::2]))
F = ARGS.get('--fault', '')
BASE = '/atelier'
HERE = os.path.dirname(os.path.abspath(__file__))
rnd = random.SystemRandom()
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

# ------------------------------------------------------------------ the clock
OFFSET = 0.0          # ms
FROZEN = None         # while the clock is moved: the moment that is being done


def now():
    if FROZEN is not None:
        return FROZEN
    return int(time.time() * 1000 + OFFSET)


def iso(ms):
    d = EPOCH + timedelta(milliseconds=ms)
    return d.strftime('%Y-%m-%dT%H:%M:%S.') + '%03dZ' % (ms % 1000)


DT = re.compile(r'(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)', re.A)


def instant(s):
    """ms since 1970 of an RFC 3339 date-time, or None"""
    m = DT.fullmatch(s)
    if not m:
        return None
    y, mo, d, h, mi, se = (int(m.group(i)) for i in range(1, 7))
    z = m.group(8)
    off = 0
    if z not in 'Zz':
        oh, om = int(z[1:3]), int(z[4:6])
        if oh > 23 or om > 59:
            return None
        off = (oh * 60 + om) * (1 if z[0] == '+' else -1)
    leap = se == 60
    try:
        t = datetime(y, mo, d, h, mi, 59 if leap else se, tzinfo=timezone.utc)
    except ValueError:
        return None
    ms = round((t - EPOCH) / timedelta(milliseconds=1)) - off * 60000
    if leap:
        if (ms // 60000) % 1440 != 1439:
            return None
        ms += 1000
    if m.group(7):
        ms += float('0' + m.group(7)) * 1000
    return ms


TIMERS = []
TSEQ = itertools.count()
LOOP = None
WAKE = None


def timer(due, fn, *a):
    heapq.heappush(TIMERS, (due, next(TSEQ), fn, a))
    wake()


def wake():
    global WAKE
    if LOOP is None or FROZEN is not None:
        return
    if WAKE:
        WAKE.cancel()
        WAKE = None
    if TIMERS:
        WAKE = LOOP.call_later(min(3600.0, max(0.0, (TIMERS[0][0] - now()) / 1000 + 0.0005)), run_due)


def run_due(upto=None):
    global FROZEN
    t = now() if upto is None else upto
    if TIMERS and TIMERS[0][0] <= t:
        floor = now()
        try:
            while TIMERS and TIMERS[0][0] <= t:
                due, _, fn, a = heapq.heappop(TIMERS)
                if upto is not None:
                    FROZEN = max(floor, int(math.ceil(due)))
                fn(*a)
        finally:
            FROZEN = None
    wake()


# ------------------------------------------------------------------ refusals
CODES = {
    'unfit': (422, 'Something that was sent does not fit.'), 'gap': (422, 'Something is missing.'),
    'odd_thread': (422, 'There is no such field.'), 'tangled': (400, 'The body cannot be read.'),
    'wrong_yarn': (415, 'Only JSON is read here.'), 'no_such_yarn': (406, 'Only JSON is given here.'),
    'bad_question': (400, 'A parameter is not right.'), 'bad_page': (400, 'There is no such page.'),
    'stranger': (401, 'Nobody known.'), 'not_yours': (403, 'Not for you.'), 'unsworn': (403, 'A scope is wanted.'),
    'not_here': (404, 'There is nothing here.'), 'lost_thread': (422, 'What it refers to is not there.'),
    'no_such_way': (405, 'Not by this method.'), 'twin': (409, 'There is one already.'),
    'still_used': (409, 'Something refers to it.'), 'wrong_moment': (409, 'Not in this state.'),
    'unpaid': (402, 'It has to be paid first.'), 'too_late': (409, 'It is over or done.'),
    'nothing_pressed': (409, 'No piece of it is pressed.'), 'not_accepted': (409, 'Nobody has taken it on.'),
    'not_begun': (409, 'It is not being worked on.'), 'doors_shut': (409, 'Entries are over.'),
    'moved_on': (412, 'It has changed.'), 'tag_wanted': (428, 'If-Match is wanted.'),
    'key_reused': (422, 'That key was for something else.'), 'knotted': (409, 'Somebody else is at it.'),
    'too_fast': (429, 'Slower.'), 'enough': (403, 'No more of these.'), 'too_big': (413, 'Too large.'),
    'too_slow': (408, 'It took too long.'), 'shut': (503, 'Closed.'), 'no_edition': (400, 'There is no such edition.'),
    'old_edition': (410, 'That edition is over.'), 'snapped': (500, 'Something snapped.'),
}
if F == 'x-still-used': CODES['still_used'] = (400, CODES['still_used'][1])


class Snag(Exception):
    def __init__(self, code, spots=None, headers=None):
        self.code, self.spots, self.headers = code, spots, headers or []


# ------------------------------------------------------------------ fields
class Fd:
    def __init__(self, type='string', lo=None, hi=None, min=None, max=None, enum=None, pat=None, fmt=None, req=False, ro=False,
                 default=None, immutable=False, writable=None, visible=None, wo=False, ref=None, value=None, items=None):
        self.__dict__.update(locals())
        del self.__dict__['self']
        self.patc = re.compile(pat) if pat else None


def S(**k): return Fd('string', **k)
def I(**k): return Fd('integer', **k)


MEASURE = {'width_mm': I(min=2, max=300, req=True), 'repeat_mm': I(min=1, max=900, req=True)}
SCHEMA = {
    'pricking': {
        'mark': S(ro=True, req=True), 'title': S(lo=3, hi=60, req=True),
        'school': S(enum=['torchon', 'honiton', 'bruges', 'flanders'], req=True), 'pairs': I(min=4, max=400, req=True),
        'measure': Fd('object', value=MEASURE), 'keeper': S(ro=True, req=True),
        'remark': S(hi=120, visible=('mistress',), writable=('mistress',)), 'drawn_at': S(ro=True, req=True, fmt='date-time')},
    'fair': {
        'slug': S(pat=r'^[a-z]{3,14}-[0-9]{4}$', req=True), 'town': S(lo=2, hi=40, req=True), 'opens_at': S(fmt='date-time', req=True),
        'stalls': I(min=1, max=40, default=4, req=True), 'theme': S(hi=80), 'shown': I(ro=True, req=True), 'phase': S(ro=True, req=True)},
    'commission': {
        'no': I(ro=True, req=True), 'pricking': S(req=True, immutable=True, ref='pricking'), 'patron': S(ro=True, req=True),
        'length_cm': I(min=5, max=600, req=True), 'grade': S(enum=['plain', 'fine', 'royal'], default='plain', req=True),
        'gift': Fd('boolean', default=False, req=True), 'wanted_on': S(fmt='date'), 'whisper': S(hi=50, wo=True),
        'price': I(ro=True), 'stage': S(ro=True, req=True), 'purse': S(ro=True, req=True), 'pressed': I(ro=True, req=True),
        'changed_at': S(ro=True, req=True)},
    'piece': {
        'id': S(ro=True, req=True), 'commission': I(req=True, immutable=True, ref='commission'), 'seq': I(ro=True, req=True),
        'maker': S(ro=True, req=True), 'label': S(lo=1, hi=40, immutable=True, req=True), 'grams': Fd('number', min=0.5, max=900, req=True),
        'step': S(ro=True, req=True), 'pressed_at': S(ro=True)},
    'entry': {
        'code': S(ro=True, req=True), 'fair': S(req=True, immutable=True, ref='fair'), 'pupil': S(ro=True, req=True),
        'title': S(lo=2, hi=50, req=True), 'points': I(min=0, max=100, writable=('mistress',)), 'entered_at': S(ro=True, req=True)},
    'bell': {
        'id': S(ro=True, req=True), 'owner': S(ro=True, req=True), 'address': S(fmt='uri', hi=300, req=True),
        'kinds': Fd('array', items=S()), 'seal': S(ro=True, req=True), 'ringing': Fd('boolean', default=True, req=True)},
    'chronicle': {k: S(ro=True, req=True) for k in ('id', 'what', 'thing', 'about', 'sheet', 'told_at')},
}
if F == 'r-pairs-max': SCHEMA['pricking']['pairs'].max = 4000
if F == 'r-stalls-default': SCHEMA['fair']['stalls'].default = 1
if F == 'r-remark-seen': SCHEMA['pricking']['remark'].visible = None
if F == 'r-label-changes': SCHEMA['piece']['label'].immutable = False
# the older edition: other names, other shapes
OLD = dict(SCHEMA)
OLD['pricking'] = {('threads' if k == 'pairs' else k): v for k, v in SCHEMA['pricking'].items()}
OLD['pricking']['school'] = S(enum=['torchon', 'devon', 'bruges', 'flanders'], req=True)
OLD['commission'] = {k: v for k, v in SCHEMA['commission'].items() if k != 'grade'}
OLD['entry'] = dict(SCHEMA['entry'], points=Fd('number', min=0, max=10, writable=('mistress',)))
IDF = {'pricking': 'mark', 'fair': 'slug', 'commission': 'no', 'piece': 'id', 'entry': 'code', 'bell': 'id', 'chronicle': 'id'}
URLS = {'pricking': 'prickings', 'fair': 'fairs', 'commission': 'commissions', 'piece': 'pieces', 'entry': 'entries', 'bell': 'bells'}
KINDS = ['pricking.drawn', 'commission.asked', 'commission.moved', 'purse.settled', 'piece.pressed', 'piece.spoilt', 'fair.opened', 'fair.called_off', 'entry.judged']


def cround(x):
    return int(math.floor(x + 0.5)) if x >= 0 else -int(math.floor(-x + 0.5))


def down(res, row, version):
    """what an answer shows, in the names of the request's edition"""
    if version == 'ed2':
        return row
    if res == 'pricking':
        out = {}
        for k, v in row.items():
            if k == 'pairs': out['threads'] = v
            elif k == 'school': out[k] = 'devon' if v == 'honiton' else v
            else: out[k] = v
        return out
    if res == 'commission':
        return {k: v for k, v in row.items() if k != 'grade'}
    if res == 'entry' and 'points' in row and F != 'w-points':
        out = dict(row)
        out['points'] = row['points'] / 10.0
        return out
    return row


def kindof(v):
    if v is None: return 'null'
    if isinstance(v, bool): return 'boolean'
    if isinstance(v, int): return 'integer'
    if isinstance(v, float): return 'integer' if v.is_integer() else 'number'
    if isinstance(v, str): return 'string'
    return 'array' if isinstance(v, list) else 'object'


def bad(path, expected, kind='value', where='body', found=None):
    s = {'in': where, 'path': path, 'expected': expected}
    if found is not None and not (isinstance(found, float) and not math.isfinite(found)): s['found'] = found
    return (kind, s)


def uri_ok(s):
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*", s) or re.search(r'%(?![0-9A-Fa-f]{2})', s):
        return False
    try:
        u = urlsplit(s)
        u.port
        return u.scheme.lower() in ('http', 'https') and bool(u.hostname)
    except ValueError:
        return False


def fits(f, v, path, out):
    """checks one value; gives it as it is kept"""
    k = kindof(v)
    t = f.type
    if not (k == t or (t == 'number' and k == 'integer')):
        out.append(bad(path, t, 'type', found=k))
        return v
    if t == 'integer':
        v = int(v)
    if t in ('integer', 'number'):
        if f.min is not None and v < f.min: out.append(bad(path, 'at least %s' % f.min, found=v))
        elif f.max is not None and v > f.max: out.append(bad(path, 'at most %s' % f.max, found=v))
    elif t == 'string':
        if f.enum and v not in f.enum: out.append(bad(path, 'one of ' + ', '.join(f.enum)))
        elif f.lo is not None and len(v) < f.lo: out.append(bad(path, 'at least %d characters' % f.lo))
        elif f.hi is not None and len(v) > f.hi: out.append(bad(path, 'at most %d characters' % f.hi))
        elif f.patc and (not f.patc.search(v) or v.endswith('\n')): out.append(bad(path, 'a text like ' + f.pat))
        elif f.fmt == 'date-time':
            if instant(v) is None and not (F == 'r-opens-at' and re.match(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$', v)): out.append(bad(path, 'a date-time'))
        elif f.fmt == 'date':
            try:
                if not re.fullmatch(r'\d{4}-\d\d-\d\d', v, re.A): raise ValueError
                date.fromisoformat(v)
            except ValueError:
                out.append(bad(path, 'a date'))
        elif f.fmt == 'uri' and not uri_ok(v): out.append(bad(path, 'an address of http or https'))
    elif t == 'array':
        v = [fits(f.items, x, '%s.%d' % (path, i), out) for i, x in enumerate(v)]
    elif t == 'object':
        got = {}
        for n, x in v.items():
            if n not in f.value:
                if F != 'r-measure-open': out.append(bad(path + '.' + n, 'no such field', 'unknown'))
            else: got[n] = fits(f.value[n], x, path + '.' + n, out)
        for n, g in f.value.items():
            if g.req and n not in v: out.append(bad(path + '.' + n, 'to be there', 'missing'))
        v = got
    return v


# ------------------------------------------------------------------ callers
class Caller:
    __slots__ = ('id', 'user', 'scopes', 'scheme')

    def __init__(self, id, user, scopes, scheme):
        self.id, self.user, self.scopes, self.scheme = id, user, scopes, scheme


KEYS = {'bobbin': {}, 'gate': {}}
with open(os.path.join(HERE, 'stranger.json')) as fh:
    for c in json.load(fh)['callers']:
        KEYS[c.get('scheme', 'bobbin')][c['credential']] = Caller(c['id'], c['user'], frozenset(c.get('scopes', [])), c.get('scheme', 'bobbin'))

ANY3 = ('mistress', 'pupil', 'patron')
RULES = {}


def allow(ops, to, scopes=(), cond=None):
    for o in ops.split(','):
        RULES.setdefault(o.strip(), []).append((to, frozenset(scopes), cond))


own_commission = lambda r, c: r['patron'] == c.id
own_piece = lambda r, c: r['maker'] == c.id
allow('create pricking,delete pricking', ('mistress',), () if F == 'a-draw-scope' else ('draw',))
allow('list pricking,read pricking', ANY3)
allow('upsert fair,call_off fair', ('mistress',))
allow('create commission', ('patron',), ('order',))
allow('list commission,update commission,withdraw commission,pay_deposit commission,settle commission', ('patron',), (), own_commission)
allow('read commission', ('patron',), (), None if F == 'a-read-any' else own_commission)
allow('list commission,read commission,accept commission,finish commission,hand_over commission', ('mistress',))
allow('list commission,read commission', ('pupil',), (), lambda r, c: r['stage'] in (('asked', 'accepted', 'ready') if F == 'a-pupil-asked' else ('accepted', 'ready')))
allow('create piece', ('pupil',), ('pillow',))
allow('read piece,update piece,delete piece,work piece,press piece', ('pupil',), (), own_piece)
allow('list piece', ('pupil',), (), None if F == 'a-list-pieces' else own_piece)
allow('list piece,read piece,unpick piece', ('mistress',))
allow('list piece,read piece', ('patron',), (), lambda r, c: ROWS['commission'][r['commission']]['patron'] == c.id)
allow('create entry', ('pupil',))
allow('list entry,read entry,delete entry', ('pupil',), (), lambda r, c: r['pupil'] == c.id)
allow('list entry,read entry', ('mistress',))
allow('update entry', ('mistress',), () if F == 'a-judge-scope' else ('judge',))
allow('create bell', ANY3)
allow('list bell,read bell,update bell,delete bell', ANY3, (), lambda r, c: r['owner'] == c.id)
allow('list chronicle,read chronicle', ANY3 if F == 'a-chronicle' else ('mistress',))
allow('list fair,read fair', ANY3)


def rules_for(op, c):
    return [r for r in RULES.get(op, ()) if c and c.user in r[0] and r[1] <= c.scopes]


def may(op, row, c):
    if op in ('read fair', 'list fair'):
        return True
    return any(r[2] is None or r[2](row, c) for r in rules_for(op, c))


# ------------------------------------------------------------------ rows
ROWS = {k: OrderedDict() for k in SCHEMA}
TITLES = {}
BY_TITLE = []
ENTRY_TITLES = set()
PIECES_OF = {}      # commission -> [piece]
COMM_OF = {}        # pricking -> how many commissions
SHOWN = {}          # fair -> how many entries
SEQ = {}
COUNT = {'commission': 0}
BORN = itertools.count()
META = {}           # (resource, id) -> what is not shown: born, tokens of timers


def meta(res, row):
    return META[(res, row[IDF[res]])]


def full(res, row):
    """with what is derived"""
    if res == 'fair':
        row['shown'] = SHOWN.get(row['slug'], 0)
    elif res == 'commission':
        row['pressed'] = sum(1 for p in PIECES_OF.get(row['no'], ()) if p['step'] == 'pressed')
    return row


def show(res, row, user, version, secret=False):
    full(res, row)
    out = {}
    for k, f in SCHEMA[res].items():
        if k not in row: continue
        if f.wo and F != 'r-whisper': continue
        if f.visible and user not in f.visible: continue
        if k == 'seal' and not secret: continue
        out[k] = row[k]
    return down(res, out, version)


ALNUM = string.ascii_letters + string.digits
LOWNUM = string.ascii_lowercase + string.digits


def rand(n, chars=ALNUM):
    return ''.join(rnd.choices(chars, k=n))


CROCK = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'


def ulid():
    n = (now() << 80) | rnd.getrandbits(80)
    return ''.join(CROCK[(n >> (5 * i)) & 31] for i in range(25, -1, -1))


def born(res, row):
    ROWS[res][row[IDF[res]]] = row
    META[(res, row[IDF[res]])] = {'born': next(BORN), 'tok': 0}


# ------------------------------------------------------------------ events
PENDING = {}        # (bell, resource, row) -> deque of deliveries
BELLMETA = {}       # bell -> first failure, hold


def emit(kind, res, row, payload=None, about=None):
    ev = {'id': 'chr_' + rand(20), 'kind': kind, 'at': iso(now())}
    rid = row[IDF[res]]
    sheet = payload if payload is not None else show(res, row, 'mistress', 'ed2')
    log = {'id': ev['id'], 'what': kind, 'thing': res, 'about': str(rid), 'sheet': json.loads(json.dumps(sheet)), 'told_at': ev['at']}
    born('chronicle', log)
    timer(now() + 60 * 86400000, forget, log['id'])
    for b in list(ROWS['bell'].values()):
        if not b['ringing']: continue
        ks = b.get('kinds')
        if ks is not None:
            if F == 'v-wildcard':
                if kind not in ks and '*' not in ks: continue
            elif not any(k == '*' or k == kind or (k.endswith('.*') and kind.startswith(k[:-1])) for k in ks): continue
        bm = BELLMETA[b['id']]
        if not may('read ' + res, full(res, row), bm['maker']): continue
        data = payload if payload is not None else show(res, row, 'mistress' if F == 'v-remark-told' else bm['maker'].user, bm['version'])
        body = json.dumps({'told': ev['id'], 'kind': kind, 'at': ev['at'], 'sheet': data}, ensure_ascii=False, separators=(',', ':')).encode()
        key = (b['id'], res, rid)
        q = PENDING.setdefault(key, deque())
        q.append({'ev': ev, 'body': body, 'try': 0})
        if len(q) == 1:
            kick(key)


def forget(i):
    ROWS['chronicle'].pop(i, None)
    META.pop(('chronicle', i), None)


def kick(key):
    q = PENDING.get(key)
    if not q: return
    b = ROWS['bell'].get(key[0])
    if b is None or not b['ringing']:
        PENDING.pop(key, None)
        return
    hold = BELLMETA[key[0]]['hold']
    if hold > now():
        timer(hold, kick, key)
        return
    LOOP.create_task(attempt(key, q[0], b))


async def attempt(key, d, b):
    global UNDERWAY
    UNDERWAY += 1
    try:
        await attempt1(key, d, b)
    finally:
        UNDERWAY -= 1


UNDERWAY = 0


async def attempt1(key, d, b):
    status, after = 0, None
    try:
        status, after = await asyncio.wait_for(post(b, d, now()), 5)
    except Exception:
        status = 0
    q = PENDING.get(key)
    if not q or q[0] is not d: return
    bm = BELLMETA.get(key[0])
    if bm is None:
        PENDING.pop(key, None)
        return
    if 200 <= status < 300:
        bm['failing'] = None
        q.popleft()
        if q: kick(key)
        else: PENDING.pop(key, None)
        return
    t = now()
    if bm['failing'] is None: bm['failing'] = t
    if status == 410 or t - bm['failing'] >= 2 * 86400000:
        b['ringing'] = False
        for k in [k for k in PENDING if k[0] == key[0]]: PENDING.pop(k, None)
        return
    waits = (10, 180, 1200)
    if F == 'v-no-retry': waits = ()
    if d['try'] >= len(waits):
        q.popleft()
        if q: kick(key)
        else: PENDING.pop(key, None)
        return
    wait = waits[d['try']] * 1000
    d['try'] += 1
    if after is not None:
        wait = max(wait, min(after, 86400) * 1000)
        bm['hold'] = max(bm['hold'], t + after * 1000)
    timer(t + wait, kick, key)


async def post(b, d, t):
    u = urlsplit(b['address'])
    tls = u.scheme.lower() == 'https'
    r, w = await asyncio.open_connection(u.hostname, u.port or (443 if tls else 80), ssl=ssl.create_default_context() if tls else None)
    try:
        ts = str(t // 1000)
        signed = (ts + '.').encode() + d['body'] if F == 'v-signature' else ('%s.%s.' % (d['ev']['id'], ts)).encode() + d['body']
        seal = hmac.new(b['seal'].encode(), signed, hashlib.sha256).hexdigest()
        host = u.netloc.rsplit('@', 1)[-1]
        w.write(('POST %s%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nLace-Seal: t=%s,s=%s\r\nLace-Event: %s\r\nLace-Event-Id: %s\r\nUser-Agent: bone-lace\r\nConnection: close\r\n\r\n'
                 % (u.path or '/', '?' + u.query if u.query else '', host, len(d['body']), ts, seal, d['ev']['kind'], d['ev']['id'])).encode() + d['body'])
        head = await r.readuntil(b'\r\n\r\n')
        lines = head.decode('latin-1').split('\r\n')
        status, after = int(lines[0].split(' ')[1]), None
        for l in lines[1:]:
            if l.lower().startswith('retry-after:') and l.split(':', 1)[1].strip().isdigit():
                after = int(l.split(':', 1)[1])
        return status, after
    finally:
        w.close()


# ------------------------------------------------------------------ states
def arm_fair(row):
    m = meta('fair', row)
    m['tok'] += 1
    timer(instant(row['opens_at']) if instant(row['opens_at']) is not None else 0, open_doors, row, m['tok'])


def open_doors(row, tok):
    m = meta('fair', row)
    if m['tok'] != tok or row['phase'] != 'announced': return
    row['phase'] = 'open'
    if F != 's-never-closes': timer(now() + 3 * 86400000, close_doors, row)
    emit('fair.opened', 'fair', row)


def close_doors(row):
    if row['phase'] == 'open': row['phase'] = 'closed'


def lapse(row):
    if row['stage'] != 'asked': return
    was = row['stage']
    row['stage'] = 'lapsed'
    row['changed_at'] = iso(now())
    if F != 'v-lapse-silent': moved(row, was)


def moved(row, was):
    if F == 'v-was': was = row['stage']
    emit('commission.moved', 'commission', row, {'no': row['no'], 'was': was, 'is': row['stage']})


def arm_spoil(row):
    m = meta('piece', row)
    m['tok'] += 1
    timer(now() + 7 * 86400000, spoil, row, m['tok'])


def spoil(row, tok):
    m = META.get(('piece', row['id']))
    if not m or m['tok'] != tok or row['step'] != 'worked': return
    row['step'] = 'spoilt'
    emit('piece.spoilt', 'piece', row)


# name -> (resource, field, from, to, else, (condition, else))
def unpaid(r): return r['purse'] == 'settled' or (F == 's-hand-over-part' and r['purse'] == 'part')


TRANS = {
    'call_off': ('fair', 'phase', ('announced',), 'called_off', 'wrong_moment', None),
    'accept': ('commission', 'stage', ('asked',), 'accepted', 'wrong_moment', None),
    'finish': ('commission', 'stage', ('accepted',), 'ready', 'wrong_moment', None if F == 's-finish-free' else (lambda r: full('commission', r)['pressed'] > 0, 'nothing_pressed')),
    'hand_over': ('commission', 'stage', ('ready',), 'handed_over', 'wrong_moment', (unpaid, 'unpaid')),
    'withdraw': ('commission', 'stage', ('asked', 'accepted', 'ready') if F == 's-withdraw-ready' else ('asked', 'accepted'), 'withdrawn', 'too_late', None),
    'pay_deposit': ('commission', 'purse', ('empty',), 'part', 'wrong_moment', (lambda r: r['stage'] in ('accepted', 'ready'), 'not_accepted')),
    'settle': ('commission', 'purse', ('empty', 'part') if F == 's-settle-empty' else ('part',), 'settled', 'wrong_moment', None),
    'work': ('piece', 'step', ('pinned',), 'worked', 'wrong_moment', None),
    'press': ('piece', 'step', ('worked',), 'pressed', 'wrong_moment', None),
    'unpick': ('piece', 'step', ('pinned',) if F == 's-unpick-worked' else ('pinned', 'worked'), 'unpicked', 'wrong_moment', None),
}


def do_transition(q, row):
    name = q.verb
    res, field, frm, to, els, cond = TRANS[name]
    if row[field] not in frm: raise Snag(els)
    if cond and not cond[0](row): raise Snag(cond[1])
    was = row[field]
    row[field] = to
    if res == 'commission':
        if not (F == 'r-changed-at' and name == 'accept'): row['changed_at'] = iso(now())
        if name == 'accept':
            g = row['grade']
            row['price'] = row['length_cm'] * (9 if g == 'royal' else ((4 if F == 'r-price' else 5) if g == 'fine' else 3))
        if field == 'stage': moved(row, was)
        elif name == 'settle': emit('purse.settled', 'commission', row, {'no': row['no'], 'patron': row['patron']})
    elif name == 'work': arm_spoil(row)
    elif name == 'press':
        row['pressed_at'] = iso(now())
        emit('piece.pressed', 'piece', row)
    elif name == 'call_off': emit('fair.called_off', 'fair', row)
    if not may('read ' + res, row, q.caller): return 204, None, []
    return 200, show(res, row, q.user, q.version), []


# ------------------------------------------------------------------ what was sent
def schema(q, res):
    return (SCHEMA if q.version == 'ed2' else OLD)[res]


def refuse(out):
    kind = out[0][0]
    raise Snag({'missing': 'gap', 'unknown': 'odd_thread'}.get(kind, 'unfit'), [s for _, s in out])


def writable(f, q):
    return not f.ro and not (f.writable and q.user not in f.writable)


def up(res, k, v, version):
    if version == 'ed2': return k, v
    if res == 'pricking':
        if k == 'threads': return 'pairs', v
        if k == 'school' and v == 'devon': return k, 'honiton'
    if res == 'entry' and k == 'points' and F != 'w-points': return k, cround(v * 10.0)
    return k, v


def extra(res, k, v, path, out):
    if res == 'bell' and k == 'kinds' and isinstance(v, list):
        for i, x in enumerate(v):
            if isinstance(x, str) and not (x in KINDS or x == '*' or (x.endswith('.*') and any(n.startswith(x[:-1]) for n in KINDS))):
                out.append(bad('%s.%d' % (path, i), 'a kind of event'))


def taken(q, res, bound=None):
    """the fields of a creation or a replacement, checked whole, in the newest names"""
    b, out, row = q.json, [], {}
    bound = bound or {}
    if not isinstance(b, dict): refuse([bad('', 'object', 'type', found=kindof(b))])
    sch = schema(q, res)
    for k, v in b.items():
        f = sch.get(k)
        if f is None:
            out.append(bad(k, 'no such field', 'unknown'))
            continue
        if not writable(f, q): continue
        v2 = fits(f, v, k, out)
        if k in bound:
            if v2 != bound[k] and not out and F != 'e-body-parent': out.append(bad(k, 'what the path says'))
            elif v2 != bound[k] and F != 'e-body-parent' and not any(s['path'] == k for _, s in out): out.append(bad(k, 'what the path says'))
            continue
        extra(res, k, v2, k, out)
        if not any(s['path'] == k or s['path'].startswith(k + '.') for _, s in out):
            k2, v2 = up(res, k, v2, q.version)
            row[k2] = v2
    for k, f in sch.items():
        if f.req and k not in b and k not in bound and writable(f, q) and f.default is None:
            out.append(bad(k, 'to be there', 'missing'))
    for k, f in SCHEMA[res].items():
        if f.default is not None and k not in row: row[k] = f.default
    row.update(bound)
    if not out and res == 'commission' and row['grade'] == 'royal' and row['length_cm'] < 20:
        out.append(bad('length_cm', 'at least 20 for a royal one'))
    if out: refuse(out)
    return row


def ordered(res, row):
    return {k: row[k] for k in SCHEMA[res] if k in row}


def replace_row(row, new):
    row.clear()
    row.update(new)


# ------------------------------------------------------------------ operations
def created(q, res, row, secret=False):
    loc = ('' if F == 'p-location' else BASE) + '/%s/%s' % (URLS[res], quote(str(row[IDF[res]]), safe=''))
    if not may('read ' + res, full(res, row), q.caller): return 204, None, []
    return 201, show(res, row, q.user, q.version, secret), [] if F == 'e-no-location' and res == 'pricking' else [('Location', loc)]


def create_pricking(q):
    row = taken(q, 'pricking')
    row['mark'] = 'pk-' + rand(10, LOWNUM)
    row['keeper'] = q.caller.id
    row['drawn_at'] = iso(now())
    if row['title'] in TITLES and F != 'r-title-twice': raise Snag('twin')
    row = ordered('pricking', row)
    born('pricking', row)
    TITLES[row['title']] = row['mark']
    bisect.insort(BY_TITLE, (row['title'], row['mark']))
    emit('pricking.drawn', 'pricking', row)
    return created(q, 'pricking', row)


def delete_pricking(q, row):
    if COMM_OF.get(row['mark']): raise Snag('still_used')
    del ROWS['pricking'][row['mark']]
    META.pop(('pricking', row['mark']), None)
    BY_TITLE.remove((row['title'], row['mark']))
    if TITLES.get(row['title']) == row['mark']: del TITLES[row['title']]
    return 204, None, []


def upsert_fair(q):
    slug = q.path['slug']
    if not SCHEMA['fair']['slug'].patc.search(slug) or slug.endswith('\n'):
        refuse([bad('slug', 'a text like ' + SCHEMA['fair']['slug'].pat, where='path')])
    new = taken(q, 'fair', {'slug': slug})
    row = ROWS['fair'].get(slug)
    if row is None:
        new['shown'], new['phase'] = 0, 'announced'
        row = ordered('fair', new)
        born('fair', row)
        arm_fair(row)
        return created(q, 'fair', row)
    new['shown'], new['phase'] = row['shown'], row['phase']
    was = row['opens_at']
    replace_row(row, ordered('fair', new))
    if was != row['opens_at'] and row['phase'] == 'announced': arm_fair(row)
    return 200, show('fair', row, q.user, q.version), []


def create_commission(q):
    row = taken(q, 'commission')
    p = ROWS['pricking'].get(row['pricking'])
    if p is None or not may('read pricking', p, q.caller): raise Snag('not_here' if F == 'x-lost-thread' else 'lost_thread')
    win, end = month(now())
    used = QUOTA.get((q.caller.user, q.caller.id, win), 0)
    if used >= 40:
        raise Snag('enough', headers=[('Retry-After', str(max(1, -(-(end - now()) // 1000))))])
    QUOTA[(q.caller.user, q.caller.id, win)] = used + 1
    COUNT['commission'] += 1
    row.update(no=COUNT['commission'], patron=q.caller.id, stage='accepted' if F == 's-gift-accepted' and row['gift'] else 'asked', purse='empty', pressed=0, changed_at=iso(now()))
    row = ordered('commission', row)
    born('commission', row)
    COMM_OF[row['pricking']] = COMM_OF.get(row['pricking'], 0) + 1
    timer(now() + (21 if F == 's-lapse-late' else 14) * 86400000, lapse, row)
    emit('commission.asked', 'commission', row)
    return created(q, 'commission', row)


QUOTA = {}
BRUSSELS = ZoneInfo('Europe/Brussels')


def month(ms):
    d = (EPOCH + timedelta(milliseconds=ms)).astimezone(BRUSSELS)
    n = datetime(d.year + (d.month == 12), d.month % 12 + 1, 1, tzinfo=BRUSSELS)
    return (d.year, d.month), round((n.astimezone(timezone.utc) - EPOCH) / timedelta(milliseconds=1))


def create_piece(q, com):
    row = taken(q, 'piece', {'commission': com['no']})
    if com['stage'] != 'accepted': raise Snag('not_begun')
    key = 0 if F == 'r-seq-overall' else com['no']
    SEQ[key] = SEQ.get(key, 0) + 1
    row.update(id=str(uuid.uuid4()), seq=SEQ[key], maker=q.caller.id, step='pinned')
    row = ordered('piece', row)
    born('piece', row)
    PIECES_OF.setdefault(com['no'], []).append(row)
    return created(q, 'piece', row)


def delete_piece(q, row):
    if row['step'] not in ('pinned', 'unpicked'): raise Snag('wrong_moment')
    del ROWS['piece'][row['id']]
    META.pop(('piece', row['id']), None)
    PIECES_OF[row['commission']] = [p for p in PIECES_OF[row['commission']] if p is not row]
    if F == 'e-delete-200': return 200, show('piece', row, q.user, q.version), []
    return 204, None, []


def create_entry(q, fair):
    row = taken(q, 'entry', {'fair': fair['slug']})
    if fair['phase'] != 'announced': raise Snag('doors_shut')
    if (fair['slug'], row['title']) in ENTRY_TITLES: raise Snag('twin')
    if sum(1 for e in ROWS['entry'].values() if e['fair'] == fair['slug']) >= 6: raise Snag('enough')
    row.update(code='en_' + rand(10 if F == 'r-entry-code' else 12, '0123456789abcdef'), pupil=q.caller.id, entered_at=iso(now()))
    row = ordered('entry', row)
    born('entry', row)
    ENTRY_TITLES.add((row['fair'], row['title']))
    SHOWN[row['fair']] = SHOWN.get(row['fair'], 0) + 1
    return created(q, 'entry', row)


def delete_entry(q, row):
    del ROWS['entry'][row['code']]
    META.pop(('entry', row['code']), None)
    ENTRY_TITLES.discard((row['fair'], row['title']))
    SHOWN[row['fair']] -= 1
    return 204, None, []


def create_bell(q):
    row = taken(q, 'bell')
    if sum(1 for b in ROWS['bell'].values() if b['owner'] == q.caller.id) >= (9 if F == 'l-bells' else 8): raise Snag('enough')
    row.update(id=ulid(), owner=q.caller.id, seal='seal_' + rand(32))
    row = ordered('bell', row)
    born('bell', row)
    BELLMETA[row['id']] = {'maker': q.caller, 'version': q.version, 'failing': None, 'hold': 0}
    return created(q, 'bell', row, True)


def delete_bell(q, row):
    del ROWS['bell'][row['id']]
    META.pop(('bell', row['id']), None)
    BELLMETA.pop(row['id'], None)
    for k in [k for k in PENDING if k[0] == row['id']]: PENDING.pop(k, None)
    return 204, None, []


def patch(q, res, row, instates=None, field=None):
    b, out = q.json, []
    if not isinstance(b, dict): refuse([bad('', 'object', 'type', found=kindof(b))])
    sch = schema(q, res)
    seen = down(res, row, q.version)
    new = dict(row)
    for k, v in b.items():
        f = sch.get(k)
        if f is None:
            out.append(bad(k, 'no such field', 'unknown'))
            continue
        if not writable(f, q): continue
        if v is None:
            if f.req: out.append(bad(k, 'to be there' if f.immutable else f.type, 'value', found='null'))
            elif F != 'e-null-kept': new.pop(up(res, k, 0, q.version)[0], None)
            continue
        n = len(out)
        v = fits(f, v, k, out)
        extra(res, k, v, k, out)
        if len(out) > n: continue
        if k in seen and seen[k] == v and kindof(seen[k]) == kindof(v): continue
        if f.immutable:
            out.append(bad(k, 'what it is already'))
            continue
        k2, v2 = up(res, k, v, q.version)
        new[k2] = v2
    if not out and res == 'commission' and new['grade'] == 'royal' and new['length_cm'] < 20:
        out.append(bad('length_cm', 'at least 20 for a royal one'))
    if out: refuse(out)
    if instates and row[field] not in instates: raise Snag('wrong_moment')
    if res == 'entry' and new['title'] != row['title'] and (row['fair'], new['title']) in ENTRY_TITLES: raise Snag('twin')
    new = ordered(res, new)
    if new != row or [type(x) for x in new.values()] != [type(x) for x in row.values()]:
        before = dict(row)
        if res == 'commission': new['changed_at'] = iso(now())
        replace_row(row, new)
        if res == 'entry':
            ENTRY_TITLES.discard((row['fair'], before['title']))
            ENTRY_TITLES.add((row['fair'], row['title']))
            if 'points' in row and (before.get('points') != row['points'] or F == 'v-judged-always'): emit('entry.judged', 'entry', row)
        if res == 'piece' and F == 's-spoil-restarts' and row['step'] == 'worked': arm_spoil(row)
        if res == 'bell' and row['ringing'] and not before['ringing']: BELLMETA[row['id']].update(failing=None, hold=0)
    if not may('read ' + res, full(res, row), q.caller): return 204, None, []
    return 200, show(res, row, q.user, q.version), []


# ------------------------------------------------------------------ lists
INT = re.compile(r'-?\d+', re.A)


def p_int(v):
    if not INT.fullmatch(v): raise Snag('bad_question')
    return int(v)


def p_enum(vals, split=False):
    def f(v):
        vs = v.split(',') if split else [v]
        if len(vs) > 100 or any(x not in vals for x in vs): raise Snag('bad_question')
        return vs
    return f


def p_bool(v):
    if v not in ('true', 'false'): raise Snag('bad_question')
    return v == 'true'


def p_dt(v):
    t = instant(v)
    if t is None: raise Snag('bad_question')
    return t


def p_slug(v):
    if not SCHEMA['fair']['slug'].patc.search(v) or v.endswith('\n'): raise Snag('bad_question')
    return v


P_SCHOOL = {'ed2': p_enum(SCHEMA['pricking']['school'].enum), 'ed1': p_enum(OLD['pricking']['school'].enum)}
pp = {
    'list pricking': {'school': None, 'pairs_from': p_int, 'called': str},
    'list fair': {'phase': p_enum(['announced', 'open', 'closed', 'called_off'], True), 'opens_before': p_dt},
    'list commission': {'stage': p_enum(['asked', 'accepted', 'ready', 'handed_over', 'withdrawn', 'lapsed'], True), 'gift': p_bool, 'pricking': str, 'longer': p_int,
                        'sort': p_enum(['length_cm', '-length_cm', 'changed_at', '-changed_at'])},
    'list piece': {'step': p_enum(['pinned', 'worked', 'pressed', 'unpicked', 'spoilt'])},
    'list entry': {'fair': p_slug, 'sort': p_enum(['entered_at', '-entered_at'])},
    'list chronicle': {'what': str, 'about': str},
}


def whole(v):
    if not re.fullmatch(r'\d{1,15}', v, re.A) or int(v) < 1: raise Snag('bad_page')
    return int(v)


def parse_params(q):
    spec = pp.get(q.op, {})
    paged = q.op in pp
    vals = {}
    for k, v in q.query:
        if k in vals or not (k in spec or (paged and k in ('from', 'take'))): raise Snag('bad_question')
        vals[k] = v
    for k in list(vals):
        if k in spec:
            conv = spec[k] or P_SCHOOL[q.version]
            vals[k] = conv(vals[k])
    if paged:
        frm = whole(vals['from']) if 'from' in vals else 1
        take = whole(vals['take']) if 'take' in vals else 12
        if take > 50 and F != 'l-take': take = 50
        q.page = (frm, take)
    q.params = vals


def listed(q, parent=None):
    res, P, c = q.res, q.params, q.caller
    rows = ROWS[res].values()
    if res == 'pricking':
        rows = [ROWS[res][m] for _, m in BY_TITLE]
        if 'school' in P:
            s = up('pricking', 'school', P['school'][0], q.version)[1]
            rows = [r for r in rows if r['school'] == s]
        if 'pairs_from' in P: rows = [r for r in rows if (r['pairs'] > P['pairs_from'] if F == 'e-pairs-from' else r['pairs'] >= P['pairs_from'])]
        if 'called' in P: rows = [r for r in rows if (P['called'] in r['title'] if F == 'e-called' else r['title'].startswith(P['called']))]
    elif res == 'fair':
        if 'phase' in P: rows = [r for r in rows if r['phase'] in P['phase']]
        if 'opens_before' in P: rows = [r for r in rows if instant(r['opens_at']) < P['opens_before']]
        rows = sorted(rows, key=lambda r: -instant(r['opens_at']))
    elif res == 'commission':
        rows = [r for r in rows if may(q.op, r, c)]
        if 'stage' in P:
            st = P['stage'][:1] if F == 'e-stage-first' else P['stage']
            rows = [r for r in rows if r['stage'] in st]
        if 'gift' in P: rows = [r for r in rows if r['gift'] == P['gift']]
        if 'pricking' in P: rows = [r for r in rows if r['pricking'] == P['pricking']]
        if 'longer' in P: rows = [r for r in rows if r['length_cm'] > P['longer']]
        s = P.get('sort', ['-changed_at'])[0]
        if F == 'e-sort-down' and s == '-length_cm': s = 'length_cm'
        if s.endswith('length_cm'): rows = sorted(rows, key=lambda r: -r['length_cm'] if s[0] == '-' else r['length_cm'])
        else:
            rows = sorted(rows, key=lambda r: r['no'])
            rows.sort(key=lambda r: r['changed_at'], reverse=s[0] == '-')
    elif res == 'piece':
        rows = [r for r in PIECES_OF.get(parent['no'], ()) if may(q.op, r, c)]
        if 'step' in P: rows = [r for r in rows if r['step'] in P['step']]
        rows = sorted(rows, key=lambda r: r['seq'])
    elif res == 'entry':
        rows = [r for r in rows if may(q.op, r, c)]
        if 'fair' in P: rows = [r for r in rows if r['fair'] == P['fair']]
        rows = sorted(rows, key=lambda r: r['entered_at'], reverse=P.get('sort', ['entered_at'])[0][0] == '-')
    elif res == 'bell':
        return 200, {'bells': [show(res, r, q.user, q.version) for r in rows if may(q.op, r, c)]}, []
    elif res == 'chronicle':
        rows = list(rows)       # the clock goes forward alone, so they lie in the order of told_at
        rows.reverse()
        if 'what' in P: rows = [r for r in rows if r['what'] == P['what']]
        if 'about' in P: rows = [r for r in rows if r['about'] == P['about']]
    return page(q, rows, len(rows))


def page(q, rows, n):
    frm, take = q.page
    cut = rows[frm - 1:frm - 1 + take]
    return 200, {'rows': [show(q.res, r, q.user, q.version) for r in cut], 'more': frm - 1 + take < len(rows), 'whole': n, 'here': q.rawpath}, []


# ------------------------------------------------------------------ routes
class Ep:
    def __init__(self, method, path, op, fn, accept=True, body=False):
        self.method, self.op, self.fn, self.body, self.answers = method, op, fn, body, accept
        self.verb, self.res = op.split(' ')
        self.parts = path.strip('/').split('/')


EPS = []


def ep(line, op, fn=None, body=False, answers=True):
    m, p = line.split(' ')
    EPS.append(Ep(m, p, op, fn, answers, body))


ep('POST /prickings', 'create pricking', create_pricking, True)
ep('GET /prickings', 'list pricking')
ep('GET /prickings/{mark}', 'read pricking')
ep('DELETE /prickings/{mark}', 'delete pricking', delete_pricking, answers=False)
ep('PUT /fairs/{slug}', 'upsert fair', upsert_fair, True)
ep('GET /fairs', 'list fair')
ep('GET /fairs/{slug}', 'read fair')
ep('POST /fairs/{slug}/call-off', 'call_off fair')
ep('POST /commissions', 'create commission', create_commission, True)
ep('GET /commissions', 'list commission')
ep('GET /commissions/{no}', 'read commission')
ep('PATCH /commissions/{no}', 'update commission', lambda q, r: patch(q, 'commission', r, ('asked',), 'stage'), True)
for a, b in (('accept', 'accept'), ('finish', 'finish'), ('hand-over', 'hand_over'), ('withdraw', 'withdraw'), ('deposit', 'pay_deposit'), ('settle', 'settle')):
    ep('POST /commissions/{no}/' + a, b + ' commission')
ep('POST /commissions/{commission}/pieces', 'create piece', create_piece, True)
ep('GET /commissions/{commission}/pieces', 'list piece')
ep('GET /pieces/{id}', 'read piece')
ep('PATCH /pieces/{id}', 'update piece', lambda q, r: patch(q, 'piece', r, ('pinned', 'worked'), 'step'), True)
ep('DELETE /pieces/{id}', 'delete piece', delete_piece, answers=False)
for a in ('work', 'press', 'unpick'): ep('POST /pieces/{id}/' + a, a + ' piece')
ep('POST /fairs/{fair}/entries', 'create entry', create_entry, True)
ep('GET /entries', 'list entry')
ep('GET /entries/{code}', 'read entry')
ep('PATCH /entries/{code}', 'update entry', lambda q, r: patch(q, 'entry', r), True)
ep('DELETE /entries/{code}', 'delete entry', delete_entry, answers=False)
ep('POST /bells', 'create bell', create_bell, True)
ep('GET /bells', 'list bell')
ep('GET /bells/{id}', 'read bell')
ep('PATCH /bells/{id}', 'update bell', lambda q, r: patch(q, 'bell', r), True)
if F != 'p-delete-bell': ep('DELETE /bells/{id}', 'delete bell', delete_bell, answers=False)
ep('GET /chronicle', 'list chronicle')
ep('GET /chronicle/{id}', 'read chronicle')
SHAPES = {}
for e in EPS:
    key = tuple(None if p[0] == '{' else p for p in e.parts)
    names = [p[1:-1] for p in e.parts if p[0] == '{']
    SHAPES.setdefault(key, {})[e.method] = (e, names)
PARENT = {'create piece': 'commission', 'list piece': 'commission', 'create entry': 'fair'}


def route(segs):
    n = len(segs)
    if n == 1: k = (segs[0],)
    elif n == 2: k = (segs[0], None)
    elif n == 3: k = (segs[0], None, segs[2])
    else: return None, ()
    return SHAPES.get(k), segs[1:2]


def find_row(res, ident):
    if res == 'commission':
        if not re.fullmatch(r'[1-9]\d{0,14}', ident, re.A): return None
        ident = int(ident)
    return ROWS[res].get(ident)


# ------------------------------------------------------------------ rates
SLIDE = {}
FIXED = {}


class Q:
    __slots__ = ('ep', 'op', 'verb', 'res', 'caller', 'user', 'version', 'path', 'query', 'params', 'page', 'json', 'rawpath', 'rate', 'undo', 'trace', 'head')


def rates(q, addr):
    t = now()
    key = (q.caller.user, q.caller.id) if q.caller else addr
    d = SLIDE.get(key)
    if d is None: d = SLIDE[key] = deque()
    while d and d[0] <= t - 60000: d.popleft()
    told = []
    refused = []
    if len(d) >= 900: refused.append((900, 0, -(-(d[0] + 60000 - t) // 1000)))
    f = None
    lim = 60 if F == 'l-entry-rate' else 30
    if q.op == 'list entry' and q.caller and q.caller.user == 'pupil':
        f = FIXED.get(key)
        if f is None or t >= f[0] + 60000: f = [t, 0]
        if f[1] >= lim: refused.append((lim, 0, -(-(f[0] + 60000 - t) // 1000)))
    if refused:
        r = max(refused, key=lambda x: x[2])
        q.rate = r
        raise Snag('too_fast', headers=[('Retry-After', str(max(1, r[2])))])
    d.append(t)
    told.append((900, 900 - len(d), max(1, -(-(d[0] + 60000 - t) // 1000))))
    if f is not None:
        f[1] += 1
        FIXED[key] = f
        told.append((lim, lim - f[1], max(1, -(-(f[0] + 60000 - t) // 1000))))
    q.rate = min(told, key=lambda x: x[1])
    q.undo = (d, f, told)


def uncount(q):
    d, f, told = q.undo
    d.pop()
    told[0] = (900, 900 - len(d), told[0][2])
    q.rate = told[0]


# ------------------------------------------------------------------ one request
EDITIONS = ('ed1', 'ed2')
SUNSET = instant('2028-05-01T00:00:00Z')
DEPRECATED = instant('2026-05-01T00:00:00Z') // 1000
SUNSET_TEXT = formatdate(SUNSET / 1000, usegmt=True)
PHRASE = {200: 'OK', 201: 'Created', 204: 'No Content', 304: 'Not Modified', 400: 'Bad Request', 401: 'Unauthorized', 402: 'Payment Required', 403: 'Forbidden', 404: 'Not Found',
          405: 'Method Not Allowed', 406: 'Not Acceptable', 408: 'Request Timeout', 409: 'Conflict', 410: 'Gone', 412: 'Precondition Failed', 413: 'Content Too Large',
          415: 'Unsupported Media Type', 422: 'Unprocessable Content', 428: 'Precondition Required', 429: 'Too Many Requests', 500: 'Internal Server Error', 503: 'Service Unavailable'}
ONCE = {}
TRACE = itertools.count(rnd.randrange(1 << 40))


def challenges(shown):
    b = 'Bobbin realm="Bone Lace"' + (', error="invalid_key"' if shown else '')
    return [('WWW-Authenticate', b), ('WWW-Authenticate', 'Basic realm="Bone Lace", charset="UTF-8"')]


def authenticate(h, method):
    a = h.get('authorization')
    if a is None:
        raise Snag('stranger', headers=challenges(False))
    c = None
    if isinstance(a, str):
        p, _, rest = a.partition(' ')
        rest = rest.strip(' ')
        p = p.lower()
        if p == 'bobbin' or (F == 'a-any-prefix' and p == 'bearer'):
            c = KEYS['bobbin'].get(rest)
        elif p == 'basic':
            try:
                name, colon, pw = base64.b64decode(rest, validate=True).decode().partition(':')
                if colon and (pw == '' or F == 'a-gate-password'): c = KEYS['gate'].get(name)
            except Exception:
                c = None
    if c is None:
        raise Snag('stranger', headers=challenges(True))
    if c.scheme == 'gate' and method not in ('GET', 'HEAD'):
        s = h.get('sec-fetch-site')
        o = h.get('origin')
        if (s not in ('same-origin', 'none') if s is not None else (o is not None and o.split('://')[-1] != h.get('host'))):
            raise Snag('not_yours')
    return c


def acceptable(a):
    best, spec = None, -1
    for part in a.split(','):
        bits = [x.strip() for x in part.split(';')]
        t = bits[0].lower()
        s = {'application/json': 2, 'application/*': 1, '*/*': 0}.get(t, -1)
        if s < 0: continue
        qv = 1.0
        for b in bits[1:]:
            if b.lower().startswith('q='):
                try: qv = float(b[2:])
                except ValueError: qv = 0
        if s > spec: best, spec = qv, s
    return best is not None and best > 0


def nope(x):
    raise ValueError(x)


def read_body(q, h, body, size):
    if size == 0: raise Snag('tangled')
    ct = h.get('content-type')
    ct = ct.split(';')[0].strip().lower() if isinstance(ct, str) else ''
    if ct != 'application/json' and not (q.verb == 'update' and ct == 'application/merge-patch+json'): raise Snag('wrong_yarn')
    if size > 8192 and F != 'l-body': raise Snag('too_big')
    try:
        text = body.decode('utf-8')
        q.json = json.loads(text, parse_constant=nope)
        if '\\ud' in text or '\\uD' in text: json.dumps(q.json, ensure_ascii=False).encode('utf-8')     # half a pair is no text
    except (ValueError, RecursionError):
        raise Snag('tangled')


def row_etag(q, row):
    raw = dumps(show(q.res, row, q.user, q.version))
    return '"%s"' % hashlib.md5(raw + q.version.encode()).hexdigest()[:20]


def dumps(x):
    return json.dumps(x, ensure_ascii=False, separators=(',', ':')).encode('utf-8', 'surrogatepass')


def tags(s):
    return re.findall(r'(?:W/)?"[^"]*"', s)


def matches_if(h, q, row):
    m = h.get('if-match')
    if m is None: return None
    if isinstance(m, list): m = ', '.join(m)
    if m.strip() == '*': return True
    return row_etag(q, row) in tags(m)


def check_user(q):
    if not any(q.caller.user in r[0] for r in RULES.get(q.op, ())): raise Snag('not_yours')
    if not rules_for(q.op, q.caller): raise Snag('unsworn', headers=[])


def perform(q, h, body, size, addr, method):
    e = q.ep
    public = q.op in ('list fair', 'read fair')
    if not public:
        q.caller = authenticate(h, method)
        q.user = q.caller.user
    rates(q, addr)
    if not public and not (F == 'x-order' and e.body): check_user(q)
    if e.answers and 'accept' in h:
        a = h['accept']
        if not acceptable(', '.join(a) if isinstance(a, list) else a): raise Snag('no_such_yarn')
    parse_params(q)
    if e.body: read_body(q, h, body, size)
    if F == 'x-order' and e.body:
        if q.verb == 'create':
            pres = PARENT.get(q.op)
            taken(q, q.res, {pres: int(q.path[pres]) if q.path[pres].isdigit() else q.path[pres]} if pres else {})
        check_user(q)
    # one request under a key
    once = None
    if q.op == 'create commission':
        k = h.get('once-key')
        if isinstance(k, list): k = ', '.join(k)
        if k and F != 'e-once':
            once = (q.caller.user, q.caller.id, k)
            mark = (q.rawpath, q.version, tuple(q.query), json.dumps(q.json, sort_keys=True))
            old = ONCE.get(once)
            if old and old[0] > now():
                if old[1] != mark: raise Snag('key_reused')
                return old[2]
            once = (once, mark)
    # rows
    if q.op in PARENT:
        pres = PARENT[q.op]
        parent = find_row(pres, q.path[pres])
        if parent is None or not may('read ' + pres, full(pres, parent), q.caller): raise Snag('not_here')
        return e.fn(q, parent) if e.fn else listed(q, parent)
    if q.verb == 'list': return listed(q)
    if q.verb == 'create':
        r = e.fn(q)
        if once: ONCE[once[0]] = (now() + 12 * 3600000, once[1], r)
        return r
    if q.verb == 'upsert': return e.fn(q)
    row = find_row(q.res, next(iter(q.path.values())))
    if row is None: raise Snag('not_here')
    full(q.res, row)
    if not public and not may(q.op, row, q.caller):
        raise Snag('not_yours' if may('read ' + q.res, row, q.caller) else 'not_here')
    if q.verb == 'read':
        hs = []
        if q.res == 'fair': hs.append(('Cache-Control', 'public, max-age=20'))
        out = show(q.res, row, q.user, q.version)
        if q.res in ('pricking', 'commission'):
            tag = row_etag(q, row)
            hs.append(('ETag', tag))
            inm = h.get('if-none-match')
            if isinstance(inm, list): inm = ', '.join(inm)
            if inm is not None and F != 'e-none-match':
                if inm.strip() == '*' or any(t.removeprefix('W/') == tag for t in tags(inm)):
                    uncount(q)
                    return 304, None, hs
        return 200, out, hs
    if q.op in ('update commission', 'delete pricking'):
        ok = matches_if(h, q, row)
        if ok is None:
            if q.op == 'update commission': raise Snag('tag_wanted')
        elif not ok: raise Snag('moved_on')
    return e.fn(q, row) if e.fn else do_transition(q, row)


def handle(method, target, h, hsize, body, size, addr):
    """-> status, body bytes or None, header list"""
    trace = '%012x' % next(TRACE)
    q = Q()
    q.trace, q.rate, q.undo, q.caller, q.user, q.version, q.json = trace, None, None, None, None, 'ed2', None
    asked = h.get('lace-edition')
    if asked in EDITIONS: q.version = asked
    public = False
    try:
        run_due_now()
        if len(target) > 2048 or hsize > 8192: raise Snag('too_big')
        if target.startswith('http://') or target.startswith('https://'):
            u = target.split('/', 3)
            target = '/' + (u[3] if len(u) > 3 else '')
        path, _, qs = target.partition('?')
        q.rawpath = path
        if not path.startswith(BASE + '/'): raise Snag('not_here')
        segs = [unquote(s) if '%' in s else s for s in path[len(BASE) + 1:].split('/')]
        shape, vals = route(segs)
        if not shape or (len(segs) > 1 and segs[1] == ''): raise Snag('not_here')
        if q.version == 'ed1' and segs == ['chronicle']: raise Snag('not_here')
        methods = list(shape) + (['HEAD'] if 'GET' in shape else []) + ['OPTIONS']
        if method == 'OPTIONS' and F != 'e-options':
            return finish(q, 204, None, [('Allow', ', '.join(methods))], target, False)
        m = 'GET' if method == 'HEAD' else method
        if m not in shape: raise Snag('no_such_way', headers=[('Allow', ', '.join(methods))])
        e, names = shape[m]
        q.ep, q.op, q.verb, q.res = e, e.op, e.verb, e.res
        public = q.op in ('list fair', 'read fair')
        if asked is not None and asked not in EDITIONS and F != 'w-unknown': raise Snag('no_edition')
        if q.version == 'ed1' and now() >= SUNSET: raise Snag('old_edition')
        q.path = dict(zip(names, vals))
        q.query = [(unquote_plus(a), unquote_plus(b)) for a, _, b in (x.partition('=') for x in qs.split('&') if x)] if qs else ()
        st, out, hs = perform(q, h, body, size, addr, method)
        if q.op == 'list fair' and st == 200: hs = hs + [('Cache-Control', 'public, max-age=20')]
        return finish(q, st, None if out is None else dumps(out), hs, target, public)
    except Snag as s:
        return snag(q, s, target, public)
    except Exception:
        import traceback
        traceback.print_exc()
        return snag(q, Snag('snapped'), target, public)


def run_due_now():
    if TIMERS and TIMERS[0][0] <= now(): run_due()


def snag(q, s, target, public):
    st, msg = CODES[s.code]
    out = {'snag': {'name': s.code, 'number': st, 'says': msg, 'trace': q.trace}}
    if s.spots and F != 'x-spots': out['spots'] = s.spots
    return finish(q, st, dumps(out), s.headers, target, public)


def finish(q, st, out, hs, target, public):
    hs = list(hs)
    if out is not None: hs.append(('Content-Type', 'application/json'))
    hs.append(('Lace-Trace', q.trace))
    hs.append(('Lace-Edition', q.version))
    hs.append(('Vary', 'Lace-Edition' if public else 'Lace-Edition, Authorization'))
    if q.rate:
        hs += [('Lace-Limit', str(q.rate[0])), ('Lace-Left', str(q.rate[1])), ('Lace-Reset', str(q.rate[2]))]
    if q.version == 'ed1' and F != 'w-deprecation':
        hs += [('Deprecation', '@%d' % DEPRECATED), ('Sunset', SUNSET_TEXT),
               ('Link', '<https://lace.example/editions>; rel="deprecation", <%s>; rel="successor-version"' % target)]
    return st, out, hs


# ------------------------------------------------------------------ HTTP by hand
CONNS = set()


class Door(asyncio.Protocol):
    def connection_made(self, tr):
        self.tr, self.buf, self.addr = tr, b'', (tr.get_extra_info('peername') or ('?',))[0]
        self.since, self.idle, self.cont, self.skip = None, time.monotonic(), False, None
        self.head = None
        CONNS.add(self)

    def connection_lost(self, exc):
        CONNS.discard(self)

    def eof_received(self):
        return False

    def data_received(self, data):
        if self.since is None: self.since = time.monotonic()
        self.buf += data
        while self.buf and not self.tr.is_closing():
            if not self.step(): break

    def fail(self, code):
        q = Q()
        q.trace, q.rate, q.version = '%012x' % next(TRACE), None, 'ed2'
        st, out, hs = snag(q, Snag(code), '/', True)
        self.send(st, out, hs, False, False)

    def send(self, st, out, hs, head, keep):
        lines = ['HTTP/1.1 %d %s' % (st, PHRASE.get(st, 'Status'))]
        for k, v in hs: lines.append(k + ': ' + v)
        if out is not None: lines.append('Content-Length: %d' % len(out))
        elif st not in (204, 304): lines.append('Content-Length: 0')
        if not keep: lines.append('Connection: close')
        raw = ('\r\n'.join(lines) + '\r\n\r\n').encode('latin-1', 'replace')
        self.tr.write(raw + out if out is not None and not head else raw)
        if not keep: self.tr.close()

    def step(self):
        if self.head is None:
            i = self.buf.find(b'\r\n\r\n')
            if i < 0:
                if len(self.buf) > 65536: self.fail('too_big')
                return False
            raw = self.buf[:i].lstrip(b'\r\n').decode('latin-1')
            self.buf = self.buf[i + 4:]
            lines = raw.split('\r\n')
            first = lines[0].split(' ')
            if len(first) != 3 or not first[2].startswith('HTTP/1.'):
                self.fail('tangled')
                return False
            h, hsize = {}, 0
            for l in lines[1:]:
                k, c, v = l.partition(':')
                if not c or not k or k != k.strip():
                    self.fail('tangled')
                    return False
                k, v = k.lower(), v.strip(' \t')
                hsize += len(k) + len(v) + 4
                if k in h: h[k] = (h[k] if isinstance(h[k], list) else [h[k]]) + [v]
                else: h[k] = v
            self.head = (first[0], first[1], h, hsize, first[2])
            self.chunks, self.got = [], 0
            self.cl = 0
            self.chunked = 'chunked' in str(h.get('transfer-encoding', '')).lower()
            if not self.chunked and 'content-length' in h:
                if not isinstance(h['content-length'], str) or not h['content-length'].isdigit():
                    self.fail('tangled')
                    return False
                self.cl = int(h['content-length'])
            if str(h.get('expect', '')).lower() == '100-continue' and not (self.cl and len(self.buf) >= self.cl): self.tr.write(b'HTTP/1.1 100 Continue\r\n\r\n')
            self.left = None
        if self.chunked:
            while True:
                if self.left is None:
                    i = self.buf.find(b'\r\n')
                    if i < 0: return False
                    try: n = int(self.buf[:i].split(b';')[0], 16)
                    except ValueError:
                        self.fail('tangled')
                        return False
                    if n == 0:
                        if self.buf[i + 2:i + 4] == b'\r\n': self.buf = self.buf[i + 4:]
                        else:
                            j = self.buf.find(b'\r\n\r\n', i)
                            if j < 0: return False
                            self.buf = self.buf[j + 4:]
                        break
                    self.buf = self.buf[i + 2:]
                    self.left = n
                if len(self.buf) < self.left + 2: return False
                if self.got <= 65536: self.chunks.append(self.buf[:self.left])
                self.got += self.left
                self.buf = self.buf[self.left + 2:]
                self.left = None
            body, size = b''.join(self.chunks), self.got
        else:
            if self.cl > 1 << 24:
                st, out, hs = handle(self.head[0], self.head[1], self.head[2], self.head[3], b'', self.cl, self.addr)
                self.send(st, out, hs, False, False)
                return False
            if len(self.buf) < self.cl: return False
            body, size = self.buf[:self.cl], self.cl
            self.buf = self.buf[self.cl:]
        method, target, h, hsize, ver = self.head
        self.head = None
        st, out, hs = handle(method, target, h, hsize, body, size, self.addr)
        con = str(h.get('connection', '')).lower()
        keep = 'close' not in con and (ver == 'HTTP/1.1' or 'keep-alive' in con)
        self.send(st, out, hs, method == 'HEAD', keep)
        self.idle = time.monotonic()
        self.since = self.idle if self.buf else None
        return True


async def sweep():
    while True:
        await asyncio.sleep(0.5)
        t = time.monotonic()
        for c in list(CONNS):
            if c.since is not None:
                if t - c.since > 10: c.fail('too_slow')
            elif t - c.idle > 60: c.tr.close()


# ------------------------------------------------------------------ the clock's door
def add_duration(ms, text):
    m = re.fullmatch(r'P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?', text, re.A)
    if not m or text.endswith('T') or text == 'P': return None
    y, mo, w, d, hh, mi = (int(m.group(i) or 0) for i in range(1, 7))
    s = float(m.group(7) or 0)
    if y or mo:
        t = EPOCH + timedelta(milliseconds=ms)
        k = t.year * 12 + t.month - 1 + y * 12 + mo
        yy, mm = divmod(k, 12)
        last = (datetime(yy + (mm == 11), (mm + 1) % 12 + 1, 1) - timedelta(days=1)).day
        t = t.replace(year=yy, month=mm + 1, day=min(t.day, last))
        ms = round((t - EPOCH) / timedelta(milliseconds=1))
    return ms + ((w * 7 + d) * 86400 + hh * 3600 + mi * 60) * 1000 + round(s * 1000)


async def clock(r, w):
    global OFFSET
    try:
        while True:
            head = (await r.readuntil(b'\r\n\r\n')).decode('latin-1')
            n = re.search(r'(?im)^content-length:\s*(\d+)', head)
            body = await r.readexactly(int(n.group(1))) if n else b''
            if not n and re.search(r'(?im)^transfer-encoding:.*chunked', head):
                while True:
                    k = int((await r.readuntil(b'\r\n')).strip(), 16)
                    body += (await r.readexactly(k + 2))[:-2]
                    if k == 0: break
            method = head.split(' ', 1)[0]
            st = 200
            if method == 'POST':
                st, to = 400, None
                try:
                    b = json.loads(body)
                    if isinstance(b, dict) and len(b) == 1:
                        if isinstance(b.get('advance'), str): to = add_duration(now(), b['advance'])
                        elif isinstance(b.get('now'), str): to = instant(b['now'])
                except (ValueError, OverflowError):
                    to = None
                if to is not None:
                    st = 200
                    if to < now(): st = 422
                    else:
                        for _ in range(60):
                            if not UNDERWAY: break
                            await asyncio.sleep(0.005)
                        to = max(to, now())
                        run_due(to)
                        OFFSET += to - now()
                        wake()
                        for _ in range(3): await asyncio.sleep(0)
            elif method != 'GET': st = 400
            out = json.dumps({'now': iso(now())}).encode()
            w.write(('HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' % (st, len(out))).encode() + out)
            await w.drain()
            if re.search(r'(?im)^connection:\s*close', head): break
    except (asyncio.IncompleteReadError, ConnectionError, ValueError):
        pass
    finally:
        w.close()


async def main():
    global LOOP
    LOOP = asyncio.get_running_loop()
    await LOOP.create_server(Door, '127.0.0.1', int(ARGS['--port']), backlog=1024)
    await asyncio.start_server(clock, '127.0.0.1', int(ARGS['--clock-port']))
    print('bone-lace listens on %s' % ARGS['--port'], flush=True)
    await sweep()


asyncio.run(main())
