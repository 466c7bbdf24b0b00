#!/usr/bin/env python3
"""Weir Keepers: the register of the eel weirs of one river. Standard library only; all in memory."""
import argparse, asyncio, calendar, hashlib, heapq, hmac, json, math, os, random, re, time, uuid
from collections import deque
from datetime import datetime, timedelta, timezone
from email.utils import formatdate
from itertools import count
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from zoneinfo import ZoneInfo

ap = argparse.ArgumentParser()
ap.add_argument('--port', type=int, required=True)
ap.add_argument('--clock-port', type=int, required=True)
ap.add_argument('--fault', default='')
args = ap.parse_args()
F = args.fault
HERE = os.path.dirname(os.path.abspath(__file__))

# ---------------------------------------------------------------- callers
TALLIES, SEALS = {}, {}
for c in json.load(open(os.path.join(HERE, 'stranger.json')))['callers']:
    who = (c['user'], c['id'], frozenset(c.get('scopes') or ()))
    if c['scheme'] == 'seal':
        k, s = c['credential'].split(':', 1)
        SEALS[k] = (s.encode(), who)
    else:
        TALLIES[c['credential']] = who

# ---------------------------------------------------------------- clock
OFFSET = 0
T = 0                                   # the moment that is being decided, in ms
def real_now(): return time.time_ns() // 1000000 + OFFSET
def iso(ms):
    s = time.gmtime(ms // 1000)
    return '%04d-%02d-%02dT%02d:%02d:%02d.%03dZ' % (*s[:6], ms % 1000)
RFC3339 = re.compile(r'(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))', re.A)
def instant(s):
    """ms since 1970 of an RFC 3339 date-time, or None"""
    if not isinstance(s, str): return None
    if F == 'r-date-only' and re.fullmatch(r'\d{4}-\d\d-\d\d', s): s += 'T00:00:00Z'
    m = RFC3339.fullmatch(s)
    if not m: return None
    y, mo, d, h, mi, se = (int(x) for x in m.group(1, 2, 3, 4, 5, 6))
    if not 1 <= mo <= 12 or not 1 <= d or h > 23 or mi > 59 or se > 60 or y < 1: return None
    if d > calendar.monthrange(y, mo)[1]: return None
    ms = (datetime(y, mo, d, h, mi).toordinal() - 719163) * 86400000 + h * 3600000 + mi * 60000 + se * 1000
    if m.group(7): ms += int(float(m.group(7)) * 1000)
    if m.group(8):
        oh, om = int(m.group(9)), int(m.group(10))
        if oh > 23 or om > 59: return None
        o = (oh * 60 + om) * 60000
        ms += -o if m.group(8) == '+' else o
    return ms
DURATION = re.compile(r'P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(\.\d+)?S)?)?', re.A)
def later(ms, text):
    m = DURATION.fullmatch(text) if isinstance(text, str) else None
    if not m: return None
    y, mo, w, d, h, mi, s = (int(x or 0) for x in m.groups()[:7])
    if y or mo:
        t = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=ms)
        n = t.month - 1 + mo + 12 * y
        yy, mm = t.year + n // 12, n % 12 + 1
        if yy > 9000: return None
        t = t.replace(year=yy, month=mm, day=min(t.day, calendar.monthrange(yy, mm)[1]))
        ms = (t - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)
    return ms + ((w * 7 + d) * 86400 + h * 3600 + mi * 60 + s) * 1000 + int(float(m.group(8) or 0) * 1000)

HOUR, DAY = 3600000, 86400000
HEAP, SEQ = [], count()
def at(due, fn, *a): heapq.heappush(HEAP, (due, next(SEQ), fn, a))
def run_due(upto):
    """carries out what has fallen due, in the order of its times"""
    global T
    while HEAP and HEAP[0][0] <= upto:
        due, _, fn, a = heapq.heappop(HEAP)
        T = max(due, T)
        fn(*a)
    T = upto
    limit = T - 20 * DAY
    while NOTICES and NOTICES[0]['_ms'] <= limit: NOTICES.popleft()

# ---------------------------------------------------------------- shapes
class Field:
    __slots__ = ('name', 'schema', 'ro', 'wo', 'imm', 'vis', 'writable', 'req', 'default', 'once')
    def __init__(self, name, schema, ro=False, wo=False, imm=False, vis=None, writable=None, req=True, default=None, once=False):
        self.name, self.schema, self.ro, self.wo, self.imm, self.vis = name, schema, ro, wo, imm, vis
        self.writable, self.req, self.default, self.once = writable, req, default, once
def fields(*fs): return {f.name: f for f in fs}
S = lambda **k: dict(k, type='string')
I = lambda **k: dict(k, type='integer')
E = lambda *v: {'enum': v}
DT = S(format='date-time')
SPOT = {'type': 'object', 'props': {'east': I(minimum=0, maximum=700000), 'north': I(minimum=0, maximum=1300000)}, 'required': ('east', 'north')}
RES = {
    'weir': fields(
        Field('code', S(pattern=re.compile(r'[A-Z]{3}-[0-9]{2,4}', re.A)), imm=True), Field('name', S(minLength=2, maxLength=48)),
        Field('reach', E('upper', 'middle', 'tidal')), Field('keeper', S(), ro=True), Field('length_m', I(minimum=2, maximum=400)),
        Field('traps', I(minimum=1, maximum=24), default=4), Field('spot', SPOT, req=False), Field('built_on', S(format='date'), imm=F != 'r-immutable', req=False),
        Field('soundings', S(maxLength=200), vis=('warden', 'keeper'), req=False), Field('gate_word', S(minLength=4, maxLength=20), wo=F != 'r-writeonly', req=False),
        Field('status', S(), ro=True), Field('sluice', S(), ro=True), Field('licences', I(), ro=True), Field('touched_at', DT, ro=True)),
    'licence': fields(
        Field('id', S(), ro=True), Field('slip', S(), ro=True), Field('weir', S(), imm=True), Field('holder', S(), ro=True), Field('season', E('spring', 'autumn')),
        Field('cap_g', I(minimum=1000, maximum=2000000)), Field('fee_pence', I(), ro=True), Field('ends_at', DT), Field('reason', S(), ro=True, req=False),
        Field('file_note', S(maxLength=120), vis=('warden',), writable=('warden',), req=False), Field('status', S(), ro=True), Field('landed_g', I(), ro=True),
        Field('asked_at', DT, ro=True), Field('ended_at', DT, ro=True, req=False)),
    'catch': fields(
        Field('id', S(), ro=True), Field('licence', S(), imm=True), Field('keeper', S(), ro=True), Field('grams', I(minimum=100, maximum=500000)),
        Field('stage', E('glass', 'yellow', 'silver')), Field('caught_at', DT), Field('marks', {'type': 'array', 'items': S(minLength=1, maxLength=12), 'maxItems': 5}, req=False),
        Field('status', S(), ro=True), Field('bought_by', S(), ro=True, req=False), Field('pence', I(), ro=True, vis=('warden', 'smokehouse'), req=False), Field('logged_at', DT, ro=True)),
    'inspection': fields(
        Field('id', S(), ro=True), Field('no', I(), ro=True), Field('weir', S(), imm=True), Field('warden', S(), ro=True), Field('found', E('sound', 'leaking', 'blocked'), imm=True),
        Field('words', S(minLength=1, maxLength=400), imm=True, req=F != 'r-required'), Field('fine_pence', I(minimum=0, maximum=100000), imm=True, default=0), Field('made_at', DT, ro=True)),
    'bell': fields(
        Field('id', S(), ro=True), Field('owner', S(), ro=True), Field('label', S(minLength=1, maxLength=30)), Field('url', S(format='uri')),
        Field('rings_for', {'type': 'array', 'items': S(format='kind')}, req=False), Field('awake', {'type': 'boolean'}, default=True), Field('secret', S(), ro=True, once=True)),
    'notice': fields(Field('id', S(), ro=True), Field('kind', S(), ro=True), Field('about', S(), ro=True), Field('by', S(), ro=True), Field('body', {}, ro=True), Field('at', DT, ro=True)),
}
KEY = {'weir': 'code', 'licence': 'id', 'catch': 'id', 'inspection': 'id', 'bell': 'id'}
BOUND = {'licence': 'weir', 'catch': 'licence', 'inspection': 'weir'}
PATHS = {'weir': 'weirs', 'licence': 'licences', 'catch': 'catches', 'inspection': 'inspections', 'bell': 'bells'}
KINDS = ('weir.built', 'weir.renamed', 'weir.condemned', 'sluice.moved', 'licence.asked', 'licence.granted', 'licence.over', 'licence.ending', 'catch.landed',
         'catch.sold', 'catch.struck', 'inspection.made', 'bell.silenced')
PATTERNS = {k.split('.')[0] + '.*' for k in KINDS} | {'*'} | set(KINDS)
# what e1 calls and shapes otherwise
UP_SEASON, DOWN_SEASON = {'early': 'spring', 'late': 'autumn'}, {'spring': 'early', 'autumn': 'late'}
DOWN_NAME = {'e1': {('weir', 'length_m'): 'span'}, 'e2': {}}
UP_NAME = {'e1': {('weir', 'span'): 'length_m', ('weir', 'length_m'): None, ('weir', 'spot'): None}, 'e2': {}}
OLD_SHAPE = {('licence', 'season'): E('early', 'late'), ('catch', 'grams'): {'type': 'number', 'minimum': 0.1, 'maximum': 500}}
def down(res, name, v):
    if res == 'licence' and name == 'season': return DOWN_SEASON.get(v, v)
    if res == 'catch' and name == 'grams': return v // 1000 if F == 'n-map' else v / 1000.0
    return v
def up(res, name, v):
    if res == 'licence' and name == 'season': return UP_SEASON[v]
    if res == 'catch' and name == 'grams': return math.floor(v * 1000.0 + 0.5)
    return v

URI = re.compile(r'https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~%-]+)(:\d{1,5})?([/?#][^\s<>"{}|\\^`]*)?', re.I | re.A)
def is_date(s):
    m = re.fullmatch(r'(\d{4})-(\d\d)-(\d\d)', s, re.A)
    if not m: return False
    y, mo, d = map(int, m.groups())
    return 1 <= mo <= 12 and y >= 1 and 1 <= d <= calendar.monthrange(y, mo)[1]
def ptr(*parts): return ''.join('/' + str(p).replace('~', '~0').replace('/', '~1') for p in parts)
def judge(s, v, path, out):
    """holds a value to a shape; appends (place, found, expected, narrower condition). Gives the value as it is stored."""
    t = s.get('type')
    en = s.get('enum')
    if en is not None:
        if not isinstance(v, str): out.append((path, v, 'string', 'type'))
        elif v not in en: out.append((path, v, 'one of ' + ', '.join(en), 'value'))
        return v
    if t == 'string':
        if not isinstance(v, str): out.append((path, v, 'string', 'type')); return v
        if 'minLength' in s and len(v) < s['minLength']: out.append((path, v, 'at least %d characters' % s['minLength'], 'value'))
        elif 'maxLength' in s and len(v) > s['maxLength']: out.append((path, v, 'at most %d characters' % s['maxLength'], 'value'))
        elif 'pattern' in s and not (s['pattern'].match(v) if F == 'r-pattern' else s['pattern'].fullmatch(v)): out.append((path, v, 'another form', 'value'))
        f = s.get('format')
        if f == 'date-time' and (instant(v) is None or (len(v) == 10 and path != '/ends_at')): out.append((path, v, 'date-time', 'value'))
        elif f == 'date' and not is_date(v): out.append((path, v, 'date', 'value'))
        elif f == 'uri' and not URI.fullmatch(v): out.append((path, v, 'uri', 'value'))
        elif f == 'kind' and v not in PATTERNS: out.append((path, v, 'a kind of event', 'value'))
    elif t in ('integer', 'number'):
        if isinstance(v, bool) or not isinstance(v, (int, float)) or (t == 'integer' and isinstance(v, float) and not v.is_integer()):
            out.append((path, v, t, 'type')); return v
        if t == 'integer': v = int(v)
        if 'minimum' in s and v < s['minimum']: out.append((path, v, 'at least %s' % s['minimum'], 'value'))
        elif 'maximum' in s and v > s['maximum']: out.append((path, v, 'at most %s' % s['maximum'], 'value'))
    elif t == 'boolean':
        if not isinstance(v, bool): out.append((path, v, 'boolean', 'type'))
    elif t == 'array':
        if not isinstance(v, list): out.append((path, v, 'array', 'type')); return v
        if 'maxItems' in s and len(v) > s['maxItems']: out.append((path, v, 'at most %d items' % s['maxItems'], 'value'))
        return [judge(s['items'], x, path + '/%d' % i, out) for i, x in enumerate(v)]
    elif t == 'object':
        if not isinstance(v, dict): out.append((path, v, 'object', 'type')); return v
        r = {}
        for k, x in v.items():
            p = s['props'].get(k)
            if p is None: out.append((path + ptr(k), x, 'no such field', 'unknown'))
            else: r[k] = judge(p, x, path + ptr(k), out)
        for k in s['required']:
            if k not in v: out.append((path + ptr(k), None, 'a value', 'missing'))
        return r
    return v

# ---------------------------------------------------------------- refusals
CODES = {
    'unreadable': (400, 'This cannot be read.'), 'wrong_paper': (415, 'Write it as JSON.'), 'wrong_answer': (406, 'Only JSON is given out.'),
    'odd_parameter': (400, 'A parameter does not fit.'), 'no_such_page': (416, 'There is no such page.'), 'left_out': (422, 'Something was left out.'),
    'not_a_field': (422, 'There is no such field.'), 'misfit': (422, 'A value does not fit.'), 'nowhere': (404, 'Nothing is here.'),
    'wrong_verb': (405, 'Not in this way.'), 'no_tally': (401, 'Show a tally or a seal.'), 'bad_tally': (401, 'Nobody is known by this.'),
    'out_of_bounds': (403, 'That is not for you to do.'), 'beyond_scope': (403, 'Your tally does not reach so far.'), 'no_such_thing': (404, 'There is none.'),
    'struck_out': (410, 'It was struck from the log.'), 'no_such_ref': (422, 'What it refers to is not there.'), 'still_held': (409, 'Others refer to it.'),
    'taken': (400 if F == 'x-status' else 409, 'There is one already.'), 'wrong_state': (409, 'Not as it stands now.'), 'stale': (412, 'It has changed.'), 'tag_wanted': (428, 'Say which one you read.'),
    'slip_reused': (409, 'This slip was for something else.'), 'too_often': (429, 'Slow down.'), 'used_up': (403, 'No more of these.'), 'too_large': (413, 'Too large.'),
    'too_slow': (408, 'It took too long.'), 'no_edition': (404, 'There is no such edition.'), 'edition_over': (410, 'This edition is over.'), 'broken': (500, 'Something broke.'),
    'not_chartered': (409, 'The weir has no charter.'), 'not_your_weir': (403, 'Only its keeper asks for a licence.'), 'too_late': (409, 'It is decided or over.'),
    'cap_reached': (409, 'The licence does not allow so much.'), 'not_for_sale': (409, 'It is not for sale.'), 'season_over': (422, 'It would be over already.'),
    'unlicensed': (409, 'The licence is not in force.'), 'wrong_season': (422, 'Glass eels are for the spring.'),
}
OWN = {'not_chartered', 'too_late', 'cap_reached', 'not_for_sale', 'season_over', 'unlicensed', 'wrong_season'}
class Snag(Exception):
    def __init__(self, code, where=None, headers=()):
        self.code, self.where, self.headers = code, where, headers
def misfit(out):
    """violations in the order in which they were sent; what is missing comes after"""
    out = [o for o in out if o[3] != 'missing'] + [o for o in out if o[3] == 'missing']
    out = [(p, None if isinstance(f, float) and not math.isfinite(f) else f, e, k) for p, f, e, k in out]
    first = out[0][3]
    code = {'missing': 'left_out', 'unknown': 'not_a_field'}.get(first, 'misfit')
    raise Snag(code, [dict(({'in': 'body', 'path': p} if k == 'missing' else {'in': 'body', 'path': p, 'found': f}), expected=e) for p, f, e, k in out])
def bad_param(name, expected='no such parameter', found=None, place='query'):
    v = {'in': place, 'path': name}
    if found is not None: v['found'] = found
    v['expected'] = expected
    raise Snag('odd_parameter', [v])

# ---------------------------------------------------------------- rows
WEIRS, LICENCES, CATCHES, INSPECTIONS, BELLS, NOTICES = {}, {}, {}, {}, {}, deque()
TABLE = {'weir': WEIRS, 'licence': LICENCES, 'catch': CATCHES, 'inspection': INSPECTIONS, 'bell': BELLS}
GONE = {}                               # catches that were deleted: id -> (row, until)
BY_NAME, ACTIVE, LABELS = {}, {}, {}    # unique values
SLIPS, NUMBERS = {}, {}                # what was counted; numbers of inspections outlive their weir
B32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
def ulid():
    n = (T << 80) | random.getrandbits(80)
    return ''.join(B32[n >> s & 31] for s in range(125, -1, -5))
def view(res, row, ver, user, once=False):
    o = {}
    old = ver == 'e1'
    for n, f in RES[res].items():
        v = row.get(n)
        if v is None or f.wo or (f.vis and user not in f.vis): continue
        if f.once and not once and F != 'r-reveal': continue
        if old:
            if res == 'weir':
                if n == 'spot': continue
                if n == 'length_m': n = 'span'
            else: v = down(res, n, v)
        o[n] = v
    if F == 'r-type' and res == 'licence': o['cap_g'] = str(o['cap_g'])
    return o
def dumps(o): return json.dumps(o, separators=(',', ':'), ensure_ascii=False).encode()
def tag(res, row, ver, user):
    return '"' + hashlib.sha1(ver.encode() + dumps(view(res, row, ver, user))).hexdigest()[:24] + '"'
def readable(res, row, user, cid):
    if res == 'weir': return True
    if user is None: return False
    if res == 'licence': return user == 'warden' or (user == 'keeper' and (row['holder'] == cid or F == 'a-read-licence'))
    if res == 'catch':
        return user == 'warden' or (user == 'keeper' and row['keeper'] == cid) or (user == 'smokehouse' and (row['status'] == 'landed' or row.get('bought_by') == cid))
    if res == 'inspection': return user == 'warden' or (user == 'keeper' and WEIRS[row['weir']]['keeper'] == cid)
    if res == 'bell': return row['owner'] == cid and row['_user'] == user
    return user == 'warden'

# ---------------------------------------------------------------- events
QUEUES = {}                             # (bell, row) -> deliveries that wait, in order
BY = None                               # who brings a change about
def emit(kind, res, row, data=None, rid=None, seen=None):
    eid, when = 'ntc_' + ulid(), iso(T)
    body = data if data is not None else view(res, row, 'e2', 'warden')
    NOTICES.append({'id': eid, 'kind': kind, 'about': rid or row[KEY[res]], 'by': BY or 'the clock', 'body': body, 'at': when, '_ms': T})
    if not BELLS: return
    family = kind.split('.')[0] + '.*'
    for b in list(BELLS.values()):
        if not b['awake']: continue
        want = b.get('rings_for')
        if want is not None and kind not in want and family not in want and '*' not in want: continue
        if not readable(res, row, b['_user'], b['owner']): continue
        tells = data if data is not None else view(res, row, b['_ver'], b['_user'])
        msg = dumps({'ring': eid, 'what': kind, 'when': when, 'tells': tells})
        q = QUEUES.setdefault((b['id'], rid or row[KEY[res]]), deque())
        q.append({'id': eid, 'kind': kind, 'body': msg, 'try': 0})
        if len(q) == 1: attempt((b['id'], rid or row[KEY[res]]))
RETRY = (10000, 120000, HOUR)
TASKS = set()
def attempt(key):
    q = QUEUES.get(key)
    if not q: QUEUES.pop(key, None); return
    b = BELLS.get(key[0])
    if b is None or not b['awake']: QUEUES.pop(key, None); return
    if b['_wait'] > T: at(b['_wait'], attempt, key); return
    d = q[0]
    ts = str(T // 1000).encode()
    signed = d['body'] if F == 'v-signature' else d['id'].encode() + b'.' + ts + b'.' + d['body']
    mac = hmac.new(b['secret'].encode(), signed, 'sha512').hexdigest()
    t = asyncio.get_running_loop().create_task(send(key, b, d, b['url'], {'Weir-Ring': 'at=%s,mac=%s' % (ts.decode(), mac), 'Weir-Kind': d['kind']}))
    TASKS.add(t); t.add_done_callback(TASKS.discard)
async def post(url, headers, body):
    u = urlsplit(url)
    port = u.port or (443 if u.scheme.lower() == 'https' else 80)
    rd, wr = await asyncio.open_connection(u.hostname, port, ssl=True if u.scheme.lower() == 'https' else None)
    try:
        target = (u.path or '/') + ('?' + u.query if u.query else '')
        head = 'POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\nUser-Agent: weir-keepers\r\n' % (target, u.netloc.rsplit('@')[-1], len(body))
        wr.write((head + ''.join('%s: %s\r\n' % h for h in headers.items()) + '\r\n').encode() + body)
        await wr.drain()
        head = await rd.readuntil(b'\r\n\r\n')
        lines = head.decode('latin-1').split('\r\n')
        wait = None
        for l in lines[1:]:
            if l.lower().startswith('retry-after:'): wait = l.split(':', 1)[1].strip()
        return int(lines[0].split(' ')[1]), wait
    finally:
        wr.close()
async def send(key, b, d, url, headers):
    global T, BY
    try: status, wait = await asyncio.wait_for(post(url, headers, d['body']), 5)
    except Exception: status, wait = 0, None
    run_due(real_now())
    q = QUEUES.get(key)
    if not q or q[0] is not d: return
    if BELLS.get(key[0]) is not b: QUEUES.pop(key, None); return
    if 200 <= status < 300:
        b['_since'] = None
        q.popleft(); attempt(key); return
    if b['_since'] is None: b['_since'] = T
    if status == 410 or T - b['_since'] >= 2 * DAY:
        if b['awake']:
            b['awake'] = False; b['_since'] = None
            for k in [k for k in QUEUES if k[0] == key[0]]: QUEUES.pop(k)
            BY = None
            emit('bell.silenced', 'bell', b)
        return
    if d['try'] >= len(RETRY) or F == 'v-retry': q.popleft(); attempt(key); return
    due = T + int(RETRY[d['try']] * random.uniform(0.95, 1.05))
    if wait is not None:
        w = int(wait) * 1000 if wait.isdigit() else 0
        if w: b['_wait'] = T + min(w, DAY); due = max(due, b['_wait'])
    d['try'] += 1
    at(due, attempt, key)

# ---------------------------------------------------------------- changes
def weir_touch(w): w['touched_at'] = iso(T)
def move_sluice(w, to, timer=False):
    w['sluice'] = to; w['_turn'] += 1
    weir_touch(w)
    if to == 'open': at(T + (24 if F == 's-settle' else 12) * HOUR, settle, w, w['_turn'])
    if not (timer and F == 'v-settle'):
        emit('sluice.moved', 'weir', w, {'weir': w['code'], 'sluice': to, 'at': iso(T)})
def settle(w, turn):
    global BY
    if WEIRS.get(w['code']) is not w or w['_turn'] != turn or w['sluice'] != 'open': return
    BY = None
    move_sluice(w, 'shut', True)
def licence_move(l, to, reason=None, kind=None):
    was = l['status']
    before = view('licence', l, 'e2', 'warden') if F == 'v-granted' else None
    w = WEIRS[l['weir']]
    l['status'] = to; l['_turn'] += 1
    if to == 'granted': w['licences'] += 1; expiry(l)
    if was == 'granted': w['licences'] -= 1
    if to not in ('applied', 'granted'): ACTIVE.pop((l['weir'], l['season'], l['holder']), None)
    if to in ('expired', 'withdrawn', 'revoked'): l['ended_at'] = iso(T)
    if reason is not None: l['reason'] = reason
    if to == 'granted': emit('licence.granted', 'licence', l, before)
    elif to != 'refused': emit('licence.over', 'licence', l)
def expiry(l):
    ms = instant(l['_first'] if F == 's-expire' else l['ends_at'])
    if ms not in l['_expired']: at(max(ms, T), expire, l, ms)
def expire(l, ms):
    global BY
    if l['status'] != 'granted' or instant(l['_first'] if F == 's-expire' else l['ends_at']) != ms or ms in l['_expired']: return
    l['_expired'].add(ms); BY = None
    licence_move(l, 'expired')
def lapse(l, turn):
    global BY
    if l['status'] != 'applied' or l['_turn'] != turn: return
    BY = None
    licence_move(l, 'lapsed')
def tell_ending(l):
    ms = instant(l['ends_at'])
    if ms in l['_told'] : return
    at(max(ms - (24 if F == 'v-ending' else 72) * HOUR, T), ending, l, ms)
def ending(l, ms):
    global BY
    if instant(l['ends_at']) != ms or ms in l['_told']: return
    l['_told'].add(ms)
    if l['status'] == 'granted': BY = None; emit('licence.ending', 'licence', l)
COUNTED = ('landed',) if F == 'r-derived' else ('landed', 'sold')
def catch_move(c, to):
    l = LICENCES[c['licence']]
    if c['status'] in COUNTED: l['landed_g'] -= c['grams']
    c['status'] = to; c['_turn'] += 1
    if to in COUNTED: l['landed_g'] += c['grams']
    if to == 'landed': at((c['_made'] if F == 's-spoil' else T) + 3 * DAY, spoil, c, c['_turn'])
def spoil(c, turn):
    if CATCHES.get(c['id']) is c and c['_turn'] == turn and c['status'] == 'landed': catch_move(c, 'released')
def fee(l): return 2500 if l['season'] == 'spring' else 1200 + l['cap_g'] // 1000

# ---------------------------------------------------------------- bodies
def taken_of(rq, res, body, fixed=None):
    """what a creation takes: holds the body to the shape of its version and carries it up"""
    ver, user, old = rq.ver, rq.user, rq.ver == 'e1'
    if not isinstance(body, dict): misfit([('', body, 'object', 'type')])
    out, new, names = [], {}, UP_NAME[ver]
    for n, v in body.items():
        name = names.get((res, n), n)
        f = RES[res].get(name) if name else None
        if f is None:
            if F == 'r-unknown' and res == 'weir': continue
            out.append((ptr(n), v, 'no such field', 'unknown')); continue
        if f.ro or (f.writable and user not in f.writable): continue
        if fixed and name == BOUND.get(res):
            if v != fixed: out.append((ptr(n), v, fixed, 'value' if isinstance(v, str) else 'type'))
            continue
        shape = OLD_SHAPE.get((res, name), f.schema) if old else f.schema
        k = len(out)
        v = judge(shape, v, ptr(n), out)
        if len(out) == k:
            if old:
                v = up(res, name, v)
                judge(f.schema, v, ptr(n), out)
            new[name] = v
    for name, f in RES[res].items():
        if name in new or f.ro or (old and (res, name) == ('weir', 'spot')): continue
        n = DOWN_NAME[ver].get((res, name), name)
        if f.default is not None:
            if n not in body: new[name] = f.default
        elif f.req and name != BOUND.get(res) and n not in body: out.append((ptr(n), None, 'a value', 'missing'))
    rules(res, new, out)
    if out: misfit(out)
    return new
def rules(res, n, out):
    if res == 'weir' and isinstance(n.get('traps'), int) and isinstance(n.get('length_m'), int) and n['traps'] * 2 > n['length_m']:
        if not any(o[0] == '/traps' for o in out): out.append(('/traps', n['traps'], 'a trap for every two metres at the most', 'value'))
    if res == 'inspection' and n.get('found') == 'sound' and isinstance(n.get('fine_pence'), int) and n['fine_pence'] > 0:
        if not any(o[0] == '/fine_pence' for o in out): out.append(('/fine_pence', n['fine_pence'], 'no fine where all is sound', 'value'))
def merge(a, p):
    if not isinstance(p, dict): return p
    a = dict(a) if isinstance(a, dict) else {}
    for k, v in p.items():
        if v is None: a.pop(k, None)
        else: a[k] = merge(a.get(k), v)
    return a
def patched(rq, res, row):
    """the changed fields of a merge patch: name -> value (None takes away)"""
    body, ver, user, old = rq.json, rq.ver, rq.user, rq.ver == 'e1'
    if not isinstance(body, dict): misfit([('', body, 'object', 'type')])
    out, new, names = [], {}, UP_NAME[ver]
    for n, v in body.items():
        name = names.get((res, n), n)
        f = RES[res].get(name) if name else None
        if f is None: out.append((ptr(n), v, 'no such field', 'unknown')); continue
        if f.ro or (f.writable and user not in f.writable): continue
        was = row.get(name)
        if f.imm:
            if v != was or isinstance(v, bool): out.append((ptr(n), v, 'what it was', 'value'))
            continue
        if v is None:
            if f.req: out.append((ptr(n), v, 'a value', 'type'))
            elif was is not None and F != 'e-null': new[name] = None
            continue
        shape = OLD_SHAPE.get((res, name), f.schema) if old else f.schema
        if isinstance(v, dict) and f.schema.get('type') == 'object': v = merge(was, v)
        k = len(out)
        v = judge(shape, v, ptr(n), out)
        if len(out) == k:
            if old: v = up(res, name, v)
            if v != was: new[name] = v
    if res == 'weir': rules(res, {**row, **new}, out)
    if out: misfit(out)
    return new

# ---------------------------------------------------------------- requests
class Rq:
    __slots__ = ('method', 'target', 'path', 'qs', 'h', 'body', 'big', 'user', 'cid', 'scopes', 'ver', 'op', 'rid', 'json', 'ticket', 'rate', 'query', 'page', 'extra', 'origin')
def answer(status, obj=None, headers=()): return status, list(headers), None if obj is None else dumps(obj)
def fetch(rq, res, rid=None):
    """step 10: the row that the path names"""
    rid = rq.rid if rid is None else rid
    row = TABLE[res].get(rid)
    if row is None:
        g = GONE.get(rid) if res == 'catch' else None
        if g and g[1] > T and readable(res, g[0], rq.user, rq.cid): raise Snag('no_such_thing' if F == 'x-gone' else 'struck_out')
        raise Snag('no_such_thing')
    if not readable(res, row, rq.user, rq.cid):
        raise Snag('no_such_thing')
    return row
def own(ok):
    if not ok: raise Snag('out_of_bounds')
def made(rq, res, row):
    if res == 'inspection' and F == 'e-location': loc = '/inspections/%s' % row['id']
    else: loc = '/fishery/%s/%s/%s' % (rq.ver, PATHS[res], quote(row[KEY[res]], safe=''))
    return answer(200 if res == 'licence' and F == 'e-created' else 201, view(res, row, rq.ver, rq.user, True), [('Location', loc)])
def shown(rq, res, row): return answer(200, view(res, row, rq.ver, rq.user))
def read(rq, res, extra=()):
    row = fetch(rq, res)
    if res in ('catch', 'bell'): return shown(rq, res, row)
    t = tag(res, row, rq.ver, rq.user)
    if F == 'e-etag' and res == 'licence': return answer(200, view(res, row, rq.ver, rq.user), [('ETag', t)])
    hs = [('ETag', t), *extra]
    inm = rq.h.get('if-none-match')
    if inm is not None and (inm.strip() == '*' or t in [x.strip()[2:] if x.strip().startswith('W/') else x.strip() for x in inm.split(',')]):
        return 304, hs, None
    return answer(200, view(res, row, rq.ver, rq.user), hs)
def precondition(rq, res, row, required):
    im = rq.h.get('if-match')
    if im is None:
        if required: raise Snag('tag_wanted')
        return
    if F == 'e-ifmatch' and res == 'weir': return
    ts = [x.strip() for x in im.split(',')]
    if '*' in ts: return
    good = [tag(res, row, rq.ver, rq.user)]
    if res == 'weir': good.append(tag(res, row, rq.ver, None))
    if not any(t in good for t in ts): raise Snag('stale')

# lists
def int_or(name, v):
    if not re.fullmatch(r'-?\d{1,15}', v, re.A): bad_param(name, 'integer', v)
    return int(v)
def one_of(name, v, allowed):
    if v not in allowed: bad_param(name, 'one of ' + ', '.join(allowed), v)
    return v
MULTI = {('list weir', 'status')}
PARAMS = {
    'list weir': ('reach', 'status', 'keeper', 'min_length', 'starts', 'sort'), 'list licence': ('weir', 'season', 'status', 'ends_before', 'sort'),
    'list catch': ('licence', 'stage', 'status', 'since', 'marks'), 'list inspection': ('found',), 'list bell': (), 'list notice': ('kind', 'about'),
}
WEIR_STATES = ('planned', 'chartered', 'condemned')
LICENCE_STATES = ('applied', 'granted', 'refused', 'withdrawn', 'revoked', 'expired', 'lapsed')
CATCH_STATES = ('logged', 'landed', 'sold', 'released')
STAGES = ('glass', 'yellow', 'silver')
def read_params(rq):
    """step 8: parameters, then the page"""
    allowed = PARAMS.get(rq.op)
    q = {}
    if rq.qs:
        pages = allowed is not None
        for k, v in parse_qsl(rq.qs, keep_blank_values=True):
            if allowed is None or (k not in allowed and not (k in ('from', 'take'))):
                bad_param(k, found=v)
            if k in q:
                if (rq.op, k) in MULTI: q[k].append(v); continue
                bad_param(k, 'one value', v)
            q[k] = [v] if (rq.op, k) in MULTI else v
    rq.query = q
    if allowed is None: return
    op = rq.op
    old = rq.ver == 'e1'
    for k in list(q):
        v = q[k]
        if op == 'list weir':
            if k == 'reach': one_of(k, v, ('upper', 'middle', 'tidal'))
            elif k == 'status': [one_of(k, x, WEIR_STATES) for x in v]
            elif k == 'min_length': q[k] = int_or(k, v)
            elif k == 'sort': one_of(k, v, ('name', '-name', 'span', '-span') if old else ('name', '-name', 'length_m', '-length_m')); q[k] = v.replace('span', 'length_m')
        elif op == 'list licence':
            if k == 'weir' and not RES['weir']['code'].schema['pattern'].fullmatch(v): bad_param(k, 'the code of a weir', v)
            elif k == 'season':
                one_of(k, v, ('early', 'late') if old else ('spring', 'autumn'))
                if old: q[k] = UP_SEASON[v]
            elif k == 'status': one_of(k, v, LICENCE_STATES)
            elif k == 'ends_before':
                q[k] = instant(v)
                if q[k] is None or len(v) == 10: bad_param(k, 'date-time', v)
            elif k == 'sort': one_of(k, v, ('asked', '-asked', 'cap', '-cap'))
        elif op == 'list catch':
            if k == 'stage':
                q[k] = v.split(',')
                if len(q[k]) > 100: bad_param(k, 'up to 100 values', v)
                for x in q[k]: one_of(k, x, STAGES)
            elif k == 'status': one_of(k, v, CATCH_STATES)
            elif k == 'since':
                q[k] = v if F == 'e-since' else instant(v)
                if instant(v) is None or len(v) == 10: bad_param(k, 'date-time', v)
            elif k == 'marks' and not 1 <= len(v) <= 12: bad_param(k, '1 to 12 characters', v)
        elif op == 'list inspection' and k == 'found': one_of(k, v, ('sound', 'leaking', 'blocked'))
        elif op == 'list notice' and k == 'kind': pass
    size, most, refuse = (10, 40, True) if op == 'list catch' else (15, 60, False)
    start = 1
    if 'from' in q:
        v = q['from']
        if not re.fullmatch(r'\d{1,40}', v, re.A) or int(v) < 1: raise Snag('no_such_page', [{'in': 'query', 'path': 'from', 'found': v, 'expected': 'a whole number from 1 on'}])
        start = int(v)
    if 'take' in q:
        v = q['take']
        if not re.fullmatch(r'\d{1,40}', v, re.A) or int(v) < 1 or (refuse and int(v) > most): raise Snag('no_such_page', [{'in': 'query', 'path': 'take', 'found': v, 'expected': '1 to %d' % most}])
        size = int(v) if F == 'l-clamp' and op == 'list weir' else min(int(v), most)
    rq.page = (start, size)
def paged(rq, res, rows):
    start, size = rq.page
    total = len(rows)
    cut = rows[start - 1:start - 1 + size]
    items = [view(res, r, rq.ver, rq.user) for r in cut]
    more = start - 1 + size < total
    path = rq.path
    if rq.op != 'list catch': return answer(200, {'rows': items, 'more': more, 'here': path})
    rest = [p for p in rq.qs.split('&') if p and not p.startswith('from=')] if rq.qs else []
    def to(n): return '<%s?%s>' % (path, '&'.join(rest + ['from=%d' % n]))
    links = [to(1) + '; rel="first"']
    if more: links.insert(0, to(start + size) + '; rel="next"')
    if start > 1: links.insert(0, to(max(1, start - size)) + '; rel="prev"')
    return answer(200, {'haul': items, 'counted': total, 'more': more}, [('Link', ', '.join(links))])

def h_bylaws(rq): return answer(200, {'closed': ['january', 'february', 'december'], 'mesh_mm': 12})
def h_create_weir(rq):
    n = taken_of(rq, 'weir', rq.json)
    if n['code'] in WEIRS or (n['reach'], n['name']) in BY_NAME: raise Snag('taken')
    w = {**n, 'keeper': rq.cid, 'status': 'planned', 'sluice': 'shut', 'licences': 0, 'touched_at': iso(T), '_turn': 0, '_lic': [], '_insp': [], '_slip': 0}
    WEIRS[w['code']] = w
    BY_NAME[(w['reach'], w['name'])] = w['code']
    emit('weir.built', 'weir', w)
    return made(rq, 'weir', w)
def h_list_weir(rq):
    q = rq.query
    rows = list(WEIRS.values())
    if 'reach' in q: rows = [r for r in rows if r['reach'] == q['reach']]
    if 'status' in q: rows = [r for r in rows if r['status'] in q['status']]
    if 'keeper' in q: rows = [r for r in rows if r['keeper'] == q['keeper']]
    if 'min_length' in q:
        m = q['min_length'] + (1 if F == 'e-min' else 0)
        rows = [r for r in rows if r['length_m'] >= m]
    if 'starts' in q: rows = [r for r in rows if r['name'].startswith(q['starts'])]
    s = q.get('sort', 'code')
    k = s.lstrip('-')
    rows.sort(key=lambda r: r[k], reverse=s[0] == '-')
    return paged(rq, 'weir', rows)
def h_read_weir(rq): return read(rq, 'weir', [('Cache-Control', 'private, no-cache')])
def h_update_weir(rq):
    w = fetch(rq, 'weir')
    own(w['keeper'] == rq.cid)
    precondition(rq, 'weir', w, True)
    new = patched(rq, 'weir', w)
    if new:
        was = w['name']
        key = (new.get('reach', w['reach']), new.get('name', was))
        if BY_NAME.get(key, w['code']) != w['code'] and F != 'r-unique': raise Snag('taken')
        BY_NAME.pop((w['reach'], was), None)
        for k, v in new.items():
            if v is None: w.pop(k, None)
            else: w[k] = v
        BY_NAME[key] = w['code']
        weir_touch(w)
        if w['name'] != was or F == 'v-renamed': emit('weir.renamed', 'weir', w, {'weir': w['code'], 'was': was, 'is': w['name']})
    return shown(rq, 'weir', w)
def h_delete_weir(rq):
    w = fetch(rq, 'weir')
    own(w['keeper'] == rq.cid)
    if w['status'] != 'planned': raise Snag('wrong_state')
    if w['_lic']: raise Snag('still_held')
    del WEIRS[w['code']]
    if BY_NAME.get((w['reach'], w['name'])) == w['code']: del BY_NAME[(w['reach'], w['name'])]
    for i in w['_insp']: INSPECTIONS.pop(i['id'], None)
    return answer(204)
def h_charter_weir(rq):
    w = fetch(rq, 'weir')
    if w['status'] != 'planned': raise Snag('wrong_state')
    w['status'] = 'chartered'; weir_touch(w)
    return shown(rq, 'weir', w)
def h_condemn_weir(rq):
    w = fetch(rq, 'weir')
    if w['status'] == 'condemned': raise Snag('wrong_state')
    w['status'] = 'condemned'; weir_touch(w)
    emit('weir.condemned', 'weir', w, {'weir': w['code']})
    for l in w['_lic']:
        if l['status'] == 'granted' or (l['status'] == 'applied' and F != 's-then'): licence_move(l, 'revoked')
    return shown(rq, 'weir', w)
def h_raise_weir(rq):
    w = fetch(rq, 'weir')
    own(w['keeper'] == rq.cid or F == 'a-raise')
    if w['sluice'] != 'shut': raise Snag('wrong_state')
    if w['status'] != 'chartered' and not (F == 's-raise' and w['status'] == 'planned'): raise Snag('not_chartered')
    move_sluice(w, 'open')
    return shown(rq, 'weir', w)
def h_lower_weir(rq):
    w = fetch(rq, 'weir')
    own(rq.user == 'warden' or w['keeper'] == rq.cid)
    if w['sluice'] != 'open': raise Snag('wrong_state')
    move_sluice(w, 'shut')
    return shown(rq, 'weir', w)

def h_create_licence(rq):
    w = fetch(rq, 'weir')
    n = taken_of(rq, 'licence', rq.json, w['code'])
    if w['keeper'] != rq.cid and F != 'a-create-licence': raise Snag('not_your_weir')
    ends = instant(n['ends_at'])
    if ends <= T: raise Snag('season_over')
    key = (w['code'], n['season'], rq.cid)
    if key in ACTIVE: raise Snag('taken')
    SLIPS['all'] = SLIPS.get('all', 0) + 1
    w['_slip'] += 1
    l = {'id': 'lic_' + ulid(), 'slip': 'SLIP-%04d' % (SLIPS['all'] if F == 'r-within' else w['_slip']), 'weir': w['code'], 'holder': rq.cid, **n,
         'status': 'applied', 'landed_g': 0, 'asked_at': iso(T), '_turn': 0, '_expired': set(), '_told': set(), '_first': n['ends_at'], '_asked': T}
    l['weir'] = w['code']; l['fee_pence'] = fee(l)
    LICENCES[l['id']] = l; ACTIVE[key] = l['id']; w['_lic'].append(l)
    at(T + 14 * DAY, lapse, l, 0)
    emit('licence.asked', 'licence', l)
    tell_ending(l)
    return made(rq, 'licence', l)
def h_list_licence(rq):
    q = rq.query
    if rq.user == 'warden': rows = list(LICENCES.values())
    else: rows = [r for r in LICENCES.values() if r['holder'] == rq.cid]
    if 'weir' in q: rows = [r for r in rows if r['weir'] == q['weir']]
    if 'season' in q: rows = [r for r in rows if r['season'] == q['season']]
    if 'status' in q: rows = [r for r in rows if r['status'] == q['status']]
    if 'ends_before' in q: rows = [r for r in rows if instant(r['ends_at']) < q['ends_before']]
    s = q.get('sort', '-asked')
    k = '_asked' if s.lstrip('-') == 'asked' else 'cap_g'
    rows.sort(key=lambda r: r[k], reverse=s[0] == '-' and not (F == 'e-sort' and k == 'cap_g'))
    return paged(rq, 'licence', rows)
def h_read_licence(rq): return read(rq, 'licence')
def h_update_licence(rq):
    l = fetch(rq, 'licence')
    own(rq.user == 'warden' or l['holder'] == rq.cid)
    precondition(rq, 'licence', l, False)
    new = patched(rq, 'licence', l)
    if l['status'] != 'applied': raise Snag('wrong_state')
    if new:
        key, was = (l['weir'], new.get('season', l['season']), l['holder']), (l['weir'], l['season'], l['holder'])
        if ACTIVE.get(key, l['id']) != l['id']: raise Snag('taken')
        ACTIVE.pop(was, None); ACTIVE[key] = l['id']
        ends = l['ends_at']
        for k, v in new.items():
            if v is None: l.pop(k, None)
            else: l[k] = v
        if F != 'r-set': l['fee_pence'] = fee(l)
        if l['ends_at'] != ends: tell_ending(l)
        if F == 's-lapse': l['_turn'] += 1; at(T + 14 * DAY, lapse, l, l['_turn'])
    return shown(rq, 'licence', l)
def h_grant_licence(rq):
    l = fetch(rq, 'licence')
    if l['status'] != 'applied': raise Snag('wrong_state')
    if WEIRS[l['weir']]['status'] != 'chartered': raise Snag('not_chartered')
    licence_move(l, 'granted')
    r = shown(rq, 'licence', l)
    return r
REASON = {'type': 'object', 'props': {'reason': S(minLength=3, maxLength=120)}, 'required': ('reason',)}
PENCE = {'type': 'object', 'props': {'pence': I(minimum=1, maximum=5000000)}, 'required': ('pence',)}
def stated(rq, shape):
    out = []
    b = judge(shape, rq.json, '', out)
    if out: misfit(out)
    return b
def h_refuse_licence(rq):
    l = fetch(rq, 'licence')
    b = stated(rq, REASON)
    if l['status'] != 'applied': raise Snag('wrong_state')
    licence_move(l, 'refused', b['reason'])
    return shown(rq, 'licence', l)
def h_withdraw_licence(rq):
    l = fetch(rq, 'licence')
    own(l['holder'] == rq.cid)
    if l['status'] not in (('applied',) if F == 's-withdraw' else ('applied', 'granted')): raise Snag('too_late')
    licence_move(l, 'withdrawn')
    return shown(rq, 'licence', l)
def h_revoke_licence(rq):
    l = fetch(rq, 'licence')
    if l['status'] not in ('applied', 'granted'): raise Snag('wrong_state')
    licence_move(l, 'revoked')
    return shown(rq, 'licence', l)

def h_create_catch(rq):
    l = fetch(rq, 'licence')
    n = taken_of(rq, 'catch', rq.json, l['id'])
    own(l['holder'] == rq.cid)
    if l['status'] != 'granted': raise Snag('unlicensed')
    if n['stage'] == 'glass' and l['season'] != 'spring': raise Snag('wrong_season')
    hexid = '%016x' % random.getrandbits(64)
    c = {'id': 'eel-' + hexid, 'licence': l['id'], 'keeper': rq.cid, **n, 'status': 'logged', 'logged_at': iso(T), '_turn': 0, '_made': T, '_caught': instant(n['caught_at'])}
    CATCHES[c['id']] = c
    if F == 's-initial': catch_move(c, 'landed')
    return made(rq, 'catch', c)
def h_list_catch(rq):
    q, cid = rq.query, rq.cid
    rows = CATCHES.values()
    if rq.user == 'keeper' and F != 'a-list-catch': rows = [r for r in rows if r['keeper'] == cid]
    elif rq.user == 'smokehouse': rows = [r for r in rows if r['status'] == 'landed' or r.get('bought_by') == cid]
    else: rows = list(rows)
    if 'licence' in q: rows = [r for r in rows if r['licence'] == q['licence']]
    if 'stage' in q: rows = [r for r in rows if r['stage'] in q['stage']]
    if 'status' in q: rows = [r for r in rows if r['status'] != q['status']]
    if 'since' in q:
        s = q['since']
        rows = [r for r in rows if r['caught_at'] >= s] if F == 'e-since' else [r for r in rows if r['_caught'] >= s]
    if 'marks' in q: rows = [r for r in rows if q['marks'] in (r.get('marks') or ())]
    rows.sort(key=lambda r: r['_caught'], reverse=True)
    return paged(rq, 'catch', rows)
def h_read_catch(rq): return read(rq, 'catch')
def h_delete_catch(rq):
    c = fetch(rq, 'catch')
    own(c['keeper'] == rq.cid)
    if c['status'] != 'logged': raise Snag('wrong_state')
    del CATCHES[c['id']]
    GONE[c['id']] = (c, T + 5 * DAY)
    emit('catch.struck', 'catch', c, {'catch': c['id'], 'licence': c['licence']}, c['id'])
    return answer(204)
def h_land_catch(rq):
    c = fetch(rq, 'catch')
    own(c['keeper'] == rq.cid)
    if c['status'] != 'logged': raise Snag('wrong_state')
    l = LICENCES[c['licence']]
    if l['landed_g'] + c['grams'] > l['cap_g'] - (1 if F == 's-land' else 0): raise Snag('cap_reached')
    catch_move(c, 'landed')
    emit('catch.landed', 'catch', c)
    return shown(rq, 'catch', c)
def h_release_catch(rq):
    c = fetch(rq, 'catch')
    own(rq.user == 'warden' or c['keeper'] == rq.cid)
    if c['status'] != 'logged': raise Snag('wrong_state')
    catch_move(c, 'released')
    return answer(204)
def h_sell_catch(rq):
    c = fetch(rq, 'catch')
    if F == 'x-order' and c['status'] != 'landed': raise Snag('not_for_sale')
    b = stated(rq, PENCE)
    if c['status'] != 'landed': raise Snag('not_for_sale')
    c['bought_by'], c['pence'] = rq.cid, b['pence']
    catch_move(c, 'sold')
    emit('catch.sold', 'catch', c)
    return shown(rq, 'catch', c)

DUBLIN = ZoneInfo('Europe/Dublin')
QUOTA = {}
def h_create_inspection(rq):
    w = fetch(rq, 'weir')
    n = taken_of(rq, 'inspection', rq.json, w['code'])
    day = datetime.fromtimestamp(T / 1000, DUBLIN).date()
    qk = (rq.user, rq.cid)
    used = QUOTA.get(qk)
    if used is None or used[0] != day: used = QUOTA[qk] = [day, 0]
    if used[1] >= 60:
        end = datetime(*(day + timedelta(days=1)).timetuple()[:3], tzinfo=DUBLIN).timestamp()
        raise Snag('used_up', None, [('Retry-After', str(max(1, math.ceil(end - T / 1000))))])
    used[1] += 1
    NUMBERS[w['code']] = NUMBERS.get(w['code'], 0) + 1
    i = {'id': str(uuid.UUID(int=random.getrandbits(128), version=4)), 'no': NUMBERS[w['code']], 'weir': w['code'], 'warden': rq.cid, **n, 'made_at': iso(T)}
    i['weir'] = w['code']
    INSPECTIONS[i['id']] = i; w['_insp'].append(i)
    if i['found'] != 'sound' or F == 'v-sound': emit('inspection.made', 'inspection', i)
    return made(rq, 'inspection', i)
def h_list_inspection(rq):
    w = fetch(rq, 'weir')
    if rq.user == 'keeper' and w['keeper'] != rq.cid: return paged(rq, 'inspection', [])
    rows = w['_insp']
    if 'found' in rq.query: rows = [r for r in rows if r['found'] == rq.query['found']]
    return paged(rq, 'inspection', rows if F == 'e-order' else rows[::-1])
def h_read_inspection(rq): return read(rq, 'inspection')

def h_create_bell(rq):
    n = taken_of(rq, 'bell', rq.json)
    key = (rq.user, rq.cid, n['label'].casefold())
    if key in LABELS: raise Snag('taken')
    if sum(1 for b in BELLS.values() if b['owner'] == rq.cid) >= (7 if F == 'l-rows' else 6): raise Snag('used_up')
    b = {'id': 'bell_' + ''.join(random.choices(ALNUM, k=16)), 'owner': rq.cid, **n, 'secret': 'ring_' + ''.join(random.choices(ALNUM, k=32)),
         '_user': rq.user, '_ver': rq.ver, '_since': None, '_wait': 0}
    BELLS[b['id']] = b; LABELS[key] = b['id']
    return made(rq, 'bell', b)
def h_list_bell(rq): return paged(rq, 'bell', [b for b in BELLS.values() if b['owner'] == rq.cid and b['_user'] == rq.user])
def h_read_bell(rq): return read(rq, 'bell')
def h_update_bell(rq):
    if F == 'a-bell' and rq.rid in BELLS: b = BELLS[rq.rid]
    else: b = fetch(rq, 'bell')
    new = patched(rq, 'bell', b)
    if 'label' in new:
        key = (b['_user'], b['owner'], new['label'].casefold())
        if LABELS.get(key, b['id']) != b['id']: raise Snag('taken')
        LABELS.pop((b['_user'], b['owner'], b['label'].casefold()), None); LABELS[key] = b['id']
    for k, v in new.items():
        if v is None: b.pop(k, None)
        else: b[k] = v
    if 'awake' in new: b['_since'] = None
    return shown(rq, 'bell', b)
def h_delete_bell(rq):
    b = fetch(rq, 'bell')
    del BELLS[b['id']]
    LABELS.pop((b['_user'], b['owner'], b['label'].casefold()), None)
    for k in [k for k in QUEUES if k[0] == b['id']]: QUEUES.pop(k)
    return answer(200, view('bell', b, rq.ver, rq.user)) if F == 'e-deleted' else answer(204)
def h_list_notice(rq):
    q = rq.query
    rows = list(NOTICES)
    if 'kind' in q: rows = [r for r in rows if r['kind'] == q['kind']]
    if 'about' in q: rows = [r for r in rows if r['about'] == q['about']]
    rows.sort(key=lambda r: r['_ms'], reverse=True)
    return paged(rq, 'notice', rows)

# ---------------------------------------------------------------- the table of operations
W, K, H = 'warden', 'keeper', 'smokehouse'
ALL = {W: None, K: None, H: None}
ROUTES = {
    ('bylaws', 1, None): {'GET': 'bylaws'}, ('weirs', 1, None): {'GET': 'list weir', 'POST': 'create weir'},
    ('weirs', 2, None): {'GET': 'read weir', 'PATCH': 'update weir', 'DELETE': 'delete weir'},
    ('weirs', 3, 'charter'): {'POST': 'charter weir'}, ('weirs', 3, 'condemn'): {'POST': 'condemn weir'}, ('weirs', 3, 'raise'): {'POST': 'raise weir'},
    ('weirs', 3, 'lower'): {'POST': 'lower weir'}, ('weirs', 3, 'licences'): {'POST': 'create licence'},
    ('weirs', 3, 'inspections'): {'GET': 'list inspection', 'POST': 'create inspection'}, ('inspections', 2, None): {'GET': 'read inspection'},
    ('licences', 1, None): {'GET': 'list licence'}, ('licences', 2, None): {'GET': 'read licence', 'PATCH': 'update licence'},
    ('licences', 3, 'grant'): {'POST': 'grant licence'}, ('licences', 3, 'refuse'): {'POST': 'refuse licence'}, ('licences', 3, 'withdraw'): {'POST': 'withdraw licence'},
    ('licences', 3, 'revoke'): {'POST': 'revoke licence'}, ('licences', 3, 'catches'): {'POST': 'create catch'},
    ('catches', 1, None): {'GET': 'list catch'}, ('catches', 2, None): {'GET': 'read catch', 'DELETE': 'delete catch'},
    ('catches', 3, 'land'): {'POST': 'land catch'}, ('catches', 3, 'release'): {'POST': 'release catch'}, ('catches', 3, 'sell'): {'POST': 'sell catch'},
    ('bells', 1, None): {'GET': 'list bell', 'POST': 'create bell'}, ('bells', 2, None): {'GET': 'read bell', 'PATCH': 'update bell', 'DELETE': 'delete bell'},
    ('notices', 1, None): {'GET': 'list notice'},
}
if F == 'p-function': del ROUTES[('bells', 1, None)]['GET']
RULES = {
    'create weir': {K: None}, 'update weir': {K: None}, 'delete weir': {K: None}, 'raise weir': {K: None}, 'lower weir': {K: None, W: None},
    'charter weir': {W: 'charters'}, 'condemn weir': {W: 'charters'}, 'create inspection': {W: 'inspections'}, 'list inspection': {W: None, K: None}, 'read inspection': {W: None, K: None},
    'create licence': {K: None}, 'list licence': {K: None, W: None}, 'read licence': {K: None, W: None}, 'update licence': {K: None, W: None}, 'withdraw licence': {K: None},
    'grant licence': {W: None if F == 'a-scope' else 'licences'}, 'refuse licence': {W: 'licences'}, 'revoke licence': {W: 'licences'}, 'create catch': {K: 'catches'},
    'list catch': ALL, 'read catch': ALL, 'delete catch': {K: 'catches'}, 'land catch': {K: 'catches'}, 'release catch': {K: 'catches', W: None}, 'sell catch': {H: None},
    'create bell': ALL, 'list bell': ALL, 'read bell': ALL, 'update bell': ALL, 'delete bell': ALL, 'list notice': {W: None},
}
OPEN = {'list weir', 'read weir'}
TAKES = {'create weir', 'update weir', 'create licence', 'update licence', 'refuse licence', 'create catch', 'sell catch', 'create inspection', 'create bell', 'update bell'}
HANDLE = {op: globals()['h_' + op.replace(' ', '_')] for m in ROUTES.values() for op in m.values()}

# ---------------------------------------------------------------- who calls
SEAL = re.compile(r'k=([^;]+);t=(\d{1,15});s=([0-9a-f]{64})', re.A)
def challenges(bad):
    e = ', error="invalid_key"' if bad else ''
    return [('WWW-Authenticate', 'Tally realm="Weir Keepers"' + e), ('WWW-Authenticate', 'Seal realm="Weir Keepers", in="header", name="Weir-Seal"' + e)]
def identify(rq, twice):
    rq.user = rq.cid = None
    rq.scopes = frozenset()
    a, s = rq.h.get('authorization'), rq.h.get('weir-seal')
    if a is None and s is None: return
    bad = Snag('bad_tally', None, challenges(True))
    if 'authorization' in twice or 'weir-seal' in twice: raise bad
    found = []
    if a is not None:
        p, _, key = a.partition(' ')
        if (p != 'Tally' if F == 'a-prefix' else p.lower() != 'tally'): raise bad
        who = TALLIES.get(key.strip(' '))
        if who is None: raise bad
        found.append(who)
    if s is not None:
        m = SEAL.fullmatch(s)
        k = SEALS.get(m.group(1)) if m else None
        if k is None: raise bad
        if abs(T - int(m.group(2)) * 1000) > 240000 and F != 'a-tolerance': raise bad
        if rq.big: raise Snag('too_large')
        signed = '%s %s\n%s\n%s' % (rq.method, rq.target, m.group(2), hashlib.sha256(rq.body).hexdigest())
        if not hmac.compare_digest(hmac.new(k[0], signed.encode('latin-1'), 'sha256').hexdigest(), m.group(3)): raise bad
        found.append(k[1])
    if len(found) == 2 and found[0][:2] != found[1][:2]: raise bad
    rq.user, rq.cid = found[0][:2]
    rq.scopes = found[0][2] | found[-1][2]
    if F == 'p-user' and rq.user == 'smokehouse': raise bad

SLIDING, FIXED = {}, [0, 0]
def rates(rq):
    """step 5. All that apply are counted; a request that one refuses is counted in none"""
    told, wait, refused = [], 0, []
    sl = fx = None
    if rq.op == 'list inspection':
        lim = 26 if F == 'l-rate' else 25
        sl = SLIDING.setdefault((rq.user, rq.cid), deque())
        while sl and sl[0] <= T - 60000: sl.popleft()
        if len(sl) >= lim: wait = sl[0] + 60000 - T; refused.append((25, 0, wait))
    if rq.user == 'smokehouse':
        fx = FIXED
        if T >= fx[0] + 60000: fx[0], fx[1] = T, 0
        if fx[1] >= 2400: w = fx[0] + 60000 - T; wait = max(wait, w); refused.append((2400, 0, w))
    if refused:
        rq.rate = min(refused, key=lambda r: (r[1], -r[2]))
        raise Snag('too_often', None, [('Retry-After', str(max(1, -(-wait // 1000))))])
    if sl is not None: sl.append(T); told.append((25, max(0, lim - len(sl)), sl[0] + 60000 - T))
    if fx is not None: fx[1] += 1; told.append((2400, 2400 - fx[1], fx[0] + 60000 - T))
    if told: rq.rate = min(told, key=lambda r: r[1])

# ---------------------------------------------------------------- one exchange
SLIPS_KEPT = {}
SLIP_ORDER = deque()
SUNSET = instant('2027-12-01T00:00:00Z')
DEPRECATED = instant('2026-09-01T00:00:00Z') // 1000
SUNSET_TEXT = formatdate(SUNSET / 1000, usegmt=True)
ORIGIN = 'https://map.eelriver.example'
TICKETS = count(random.getrandbits(28) << 12)
STATUS = {200: 'OK', 201: 'Created', 204: 'No Content', 304: 'Not Modified', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed',
          406: 'Not Acceptable', 408: 'Request Timeout', 409: 'Conflict', 410: 'Gone', 412: 'Precondition Failed', 413: 'Content Too Large', 415: 'Unsupported Media Type',
          416: 'Range Not Satisfiable', 422: 'Unprocessable Content', 428: 'Precondition Required', 429: 'Too Many Requests', 500: 'Internal Server Error'}
STATUS_LINE = {k: ('HTTP/1.1 %d %s\r\n' % (k, v)) for k, v in STATUS.items()}
def route(rest):
    n = len(rest)
    if not 1 <= n <= 3 or not all(rest): return None
    return ROUTES.get((rest[0], n, rest[2] if n == 3 else None))
def acceptable(a):
    best, q = -1, 0.0
    for part in a.split(','):
        bits = [b.strip() for b in part.split(';')]
        r = bits[0].lower()
        spec = {'application/json': 2, 'application/*': 1, '*/*': 0}.get(r, -1)
        if spec < 0: continue
        if any(b and '=' in b and not b.lower().startswith('q=') for b in bits[1:]) and r == 'application/json' and not any('charset=utf-8' == b.lower().replace('"', '') for b in bits[1:]): continue
        qq = 1.0
        for b in bits[1:]:
            if b.lower().startswith('q='):
                try: qq = float(b[2:])
                except ValueError: qq = 0.0
        if spec > best or (spec == best and qq > q): best, q = spec, qq
    return best >= 0 and q > 0
def no_constant(x): raise ValueError(x)
def exchange(rq, twice, header_bytes):
    """the order of refusals, one after the other"""
    if len(rq.target) > 2048 or header_bytes > 8192: raise Snag('too_large')
    path = rq.path
    if not path.startswith('/fishery/'): raise Snag('nowhere')
    segs = path[9:].split('/')
    try: segs = [unquote(s, errors='strict') if '%' in s else s for s in segs]
    except UnicodeDecodeError: raise Snag('nowhere')
    ver = segs[0]
    known = ver in ('e1', 'e2')
    rest = segs[1:]
    ops = route(rest)
    if known:
        if ver == 'e1' and rest and rest[0] == 'notices': ops = None
    elif ops is None:
        ops = route(segs)
        if ops is not None and F == 'n-select': known, ver, rest = True, 'e2', segs
    if ops is None: raise Snag('nowhere')
    m = 'GET' if rq.method == 'HEAD' else rq.method
    allow = ', '.join(list(ops) + (['HEAD'] if 'GET' in ops else []) + ['OPTIONS'])
    op = ops.get(m)
    if known: rq.ver = ver
    if ver == 'e1':
        succ = '/fishery/e2/' + path[12:] + ('?' + rq.qs if rq.qs else '')
        if F != 'n-deprecation':
            rq.extra = [('Deprecation', '@%d' % DEPRECATED), ('Sunset', SUNSET_TEXT)]
            rq.extra.append(('Link', '<https://register.eelriver.example/e2>; rel="deprecation", <%s>; rel="successor-version"' % succ))
    if op is None and m != 'OPTIONS': raise Snag('wrong_verb', None, [('Allow', allow)])
    if not known: raise Snag('no_edition')
    if ver == 'e1' and T >= SUNSET: raise Snag('edition_over')
    if m == 'OPTIONS':
        hs = [('Allow', allow)]
        if rq.origin == ORIGIN and 'access-control-request-method' in rq.h:
            hs.append(('Access-Control-Allow-Methods', allow))
            if 'access-control-request-headers' in rq.h: hs.append(('Access-Control-Allow-Headers', rq.h['access-control-request-headers']))
        return 204, hs, None
    rq.op = op
    rq.rid = rest[1] if len(rest) > 1 else None
    if op == 'bylaws': rq.user = rq.cid = None
    else:
        identify(rq, twice)
        if rq.user is None and op not in OPEN: raise Snag('no_tally', None, challenges(False))
        if rq.user is not None: rates(rq)
        if op not in OPEN:
            rule = RULES[op]
            if rq.user not in rule: raise Snag('out_of_bounds')
            need = rule[rq.user]
            if need and need not in rq.scopes: raise Snag('beyond_scope')
    a = rq.h.get('accept')
    if a is not None and not acceptable(a): raise Snag('wrong_answer')
    takes = op in TAKES
    if takes and (rq.body or rq.big):
        ct = rq.h.get('content-type')
        mt = ct.split(';')[0].strip().lower() if ct else ''
        if mt != 'application/json' and not (mt == 'application/merge-patch+json' and m == 'PATCH'): raise Snag('wrong_paper')
    if rq.big: raise Snag('too_large')
    if takes:
        if not rq.body: raise Snag('unreadable')
        try: rq.json = json.loads(rq.body.decode('utf-8'), parse_constant=no_constant)
        except (ValueError, RecursionError): raise Snag('unreadable')
        if b'\\u' in rq.body:
            try: dumps(rq.json)
            except UnicodeEncodeError: raise Snag('unreadable')     # half of a character
    read_params(rq)
    slip = None
    if m == 'POST':
        slip = rq.h.get('weir-slip')
        if not slip:
            if op == 'create catch': bad_param('Weir-Slip', 'a key', place='header')
            slip = None
    if slip is None: return HANDLE[op](rq)
    while SLIP_ORDER and SLIP_ORDER[0][0] <= T:
        _, k, was = SLIP_ORDER.popleft()
        if SLIPS_KEPT.get(k) is was: del SLIPS_KEPT[k]
    key = (rq.user, rq.cid, op, slip)
    print_ = hashlib.sha1(b'\0'.join((path.encode(), rq.qs.encode(), ver.encode(), rq.body))).digest()
    kept = SLIPS_KEPT.get(key)
    if kept:
        if kept[0] != print_: raise Snag('slip_reused')
        if F != 'e-replay' or op != 'create weir':
            if kept[1]: raise Snag(kept[1])
            return kept[2], list(kept[3]), kept[4]
    snag = None
    try: r = HANDLE[op](rq)
    except Snag as s:
        if s.code not in OWN: raise
        snag, r = s.code, (0, (), None)
    b = r[2]
    if op == 'create bell' and b:
        o = json.loads(b); o.pop('secret', None); b = dumps(o)
    entry = (print_, snag, r[0], tuple(r[1]), b)
    SLIPS_KEPT[key] = entry
    SLIP_ORDER.append((T + DAY, key, entry))
    if snag: raise Snag(snag)
    return r
def serve(rq, twice, header_bytes, close):
    global T, BY
    now = real_now()
    if now > T: T = now
    run_due(T)
    rq.ticket = '%x' % next(TICKETS)
    rq.rate = None; rq.extra = (); rq.ver = 'e2'
    BY = None
    rq.origin = rq.h.get('origin')
    try:
        status, headers, body = exchange(rq, twice, header_bytes)
        code = None
    except Snag as s: status, headers, body, code = refused(rq, s)
    except Exception:
        import traceback; traceback.print_exc()
        status, headers, body, code = refused(rq, Snag('broken'))
    return render(rq, status, headers, body, code, close)
def refused(rq, s):
    status, message = CODES[s.code]
    snag = {'word': s.code, 'plain': message}
    if s.where: snag['where'] = s.where
    o = {'snag': snag}
    if F != 'x-ticket': o['ticket'] = rq.ticket
    return status, list(s.headers), dumps(o), s.code
def render(rq, status, headers, body, code, close):
    out = [STATUS_LINE[status]]
    link = None
    for k, v in headers:
        if k == 'Link': link = v
        else: out.append('%s: %s\r\n' % (k, v))
    for k, v in rq.extra:
        if k == 'Link': link = v if link is None else link + ', ' + v
        else: out.append('%s: %s\r\n' % (k, v))
    if link: out.append('Link: %s\r\n' % link)
    if code: out.append('Weir-Snag: %s\r\n' % code)
    if rq.rate: out.append('Weir-Rate: %d\r\nWeir-Rate-Left: %d\r\nWeir-Rate-Reset: %d\r\n' % (rq.rate[0], rq.rate[1], max(1, -(-rq.rate[2] // 1000))))
    if rq.origin == ORIGIN: out.append('Access-Control-Allow-Origin: %s\r\nAccess-Control-Expose-Headers: Weir-Ticket, Weir-Snag, Weir-Rate, Weir-Rate-Left, Weir-Rate-Reset, Retry-After, ETag, Location, Link, Deprecation, Sunset, WWW-Authenticate, Allow\r\n' % ORIGIN)
    out.append('Vary: Authorization, Weir-Seal, Origin\r\nWeir-Ticket: %s\r\n' % rq.ticket)
    if close: out.append('Connection: close\r\n')
    if body is not None:
        out.append('Content-Type: application/json\r\nContent-Length: %d\r\n\r\n' % len(body))
        head = ''.join(out).encode('latin-1', 'replace')
        return head if rq.method == 'HEAD' else head + body
    out.append('\r\n' if status in (204, 304) else 'Content-Length: 0\r\n\r\n')
    return ''.join(out).encode('latin-1', 'replace')

# BY is set once it is known who calls
_identify = identify
def identify(rq, twice):
    global BY
    _identify(rq, twice)
    BY = rq.cid

# ---------------------------------------------------------------- the wire
MAX_BODY = 24000 if F == 'l-size' else 24 * 1024
CONNECTIONS = set()
class Door(asyncio.Protocol):
    __slots__ = ('t', 'buf', 'since', 'busy', 'head')
    def connection_made(self, t):
        self.t, self.buf, self.since, self.head = t, b'', time.monotonic(), None
        CONNECTIONS.add(self)
    def connection_lost(self, e): CONNECTIONS.discard(self)
    def data_received(self, d):
        if not self.buf and self.head is None: self.since = time.monotonic()
        self.buf += d
        while (self.buf or self.head) and not self.t.is_closing():
            if not self.step(): return
    def step(self):
        if self.head is None:
            i = self.buf.find(b'\r\n\r\n')
            if i < 0:
                if len(self.buf) > 262144: self.fail('too_large')
                return False
            lines = self.buf[:i].decode('latin-1').split('\r\n')
            while lines and not lines[0]: lines.pop(0)
            self.buf = self.buf[i + 4:]
            rq = Rq()
            rq.json = rq.page = rq.rid = rq.op = None; rq.user = rq.cid = None; rq.scopes = frozenset(); rq.query = {}
            try: rq.method, rq.target, proto = lines[0].split(' ')
            except (ValueError, IndexError): self.fail('unreadable'); return False
            h, twice, n = {}, set(), 0
            for l in lines[1:]:
                k, c, v = l.partition(':')
                if not c: self.fail('unreadable'); return False
                k, v = k.lower(), v.strip(' \t')
                n += len(k) + len(v) + 4
                if k in h:
                    twice.add(k)
                    h[k] = h[k] + ', ' + v
                else: h[k] = v
            rq.h = h
            target = rq.target
            if target.startswith('http://') or target.startswith('https://'):
                u = urlsplit(target); target = u.path + ('?' + u.query if u.query else '')
            rq.path, _, rq.qs = target.partition('?')
            te = h.get('transfer-encoding')
            chunked = te is not None and te.lower().endswith('chunked')
            size = 0
            if not chunked:
                cl = h.get('content-length', '0')
                if not cl.isdigit(): self.fail('unreadable'); return False
                size = int(cl)
            if h.get('expect', '').lower() == '100-continue' and size <= MAX_BODY: self.t.write(b'HTTP/1.1 100 Continue\r\n\r\n')
            close = h.get('connection', '').lower() == 'close' or proto == 'HTTP/1.0'
            rq.big = size > MAX_BODY
            self.head = [rq, twice, n, close, chunked, size, [], 0]
        head = self.head
        rq = head[0]
        if head[4]:
            while True:
                i = self.buf.find(b'\r\n')
                if i < 0: return False
                try: k = int(self.buf[:i].split(b';')[0], 16)
                except ValueError: self.fail('unreadable'); return False
                if k == 0:
                    j = self.buf.find(b'\r\n\r\n', i) if self.buf[i:i + 4] != b'\r\n\r\n' else i
                    if j < 0: return False
                    self.buf = self.buf[j + 4:]; break
                if len(self.buf) < i + 2 + k + 2: 
                    if len(self.buf) > 16777216: self.fail('too_large')
                    return False
                head[7] += k
                if head[7] <= MAX_BODY: head[6].append(self.buf[i + 2:i + 2 + k])
                else: rq.big = True
                self.buf = self.buf[i + 2 + k + 2:]
            rq.body = b'' if rq.big else b''.join(head[6])
        elif rq.big:
            left = head[5] - head[7]
            n = min(left, len(self.buf))
            head[7] += n; self.buf = self.buf[n:]
            if head[7] < head[5]: return False
            rq.body = b''
        else:
            size = head[5]
            if len(self.buf) < size: return False
            rq.body, self.buf = self.buf[:size], self.buf[size:]
        self.head = None
        self.t.write(serve(rq, head[1], head[2], head[3]))
        self.since = time.monotonic()
        if head[3]: self.t.close(); return False
        return True
    def fail(self, code):
        rq = Rq(); rq.ticket = '%x' % next(TICKETS); rq.rate = None; rq.extra = (); rq.origin = None; rq.method = 'GET'
        status, hs, body, code = refused(rq, Snag(code))
        self.t.write(render(rq, status, hs, body, code, True))
        self.t.close()

class ClockDoor(asyncio.Protocol):
    def connection_made(self, t): self.t, self.buf = t, b''
    def data_received(self, d):
        self.buf += d
        while True:
            i = self.buf.find(b'\r\n\r\n')
            if i < 0: return
            head = self.buf[:i].decode('latin-1')
            m = re.search(r'\r\ncontent-length:\s*(\d+)', head, re.I)
            n = int(m.group(1)) if m else 0
            if len(self.buf) < i + 4 + n:
                if re.search(r'\r\nexpect:\s*100-continue', head, re.I): self.t.write(b'HTTP/1.1 100 Continue\r\n\r\n')
                return
            body = self.buf[i + 4:i + 4 + n]
            self.buf = self.buf[i + 4 + n:]
            method = head.split(' ', 1)[0]
            status, o = self.turn(method, body)
            asyncio.get_running_loop().call_soon(self.reply, status, dumps(o), bool(re.search(r'\r\nconnection:\s*close', head, re.I)))
    def reply(self, status, b, close):
        phrase = {200: 'OK', 400: 'Bad Request', 422: 'Unprocessable Content'}[status]
        self.t.write(('HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' % (status, phrase, len(b))).encode() + b)
        if close: self.t.close()
    def turn(self, method, body):
        global OFFSET, T
        now = max(real_now(), T)
        if method == 'GET': run_due(now); return 200, {'now': iso(now)}
        try: o = json.loads(body)
        except ValueError: o = None
        if method != 'POST' or not isinstance(o, dict) or len(o) != 1: return 400, {'error': 'advance or now'}
        if 'advance' in o: to = later(now, o['advance'])
        elif 'now' in o: to = instant(o['now'])
        else: to = None
        if to is None or to > 250000000000000: return 400, {'error': 'advance or now'}
        if to < now: return 422, {'error': 'the clock goes forward alone'}
        OFFSET += to - now
        run_due(to)
        return 200, {'now': iso(to)}

async def main():
    global T
    T = real_now()
    loop = asyncio.get_running_loop()
    await loop.create_server(Door, '127.0.0.1', args.port, backlog=1024)
    await loop.create_server(ClockDoor, '127.0.0.1', args.clock_port)
    print('weir-keepers listens on 127.0.0.1:%d, clock on %d' % (args.port, args.clock_port), flush=True)
    n = 0
    while True:
        await asyncio.sleep(0.02)
        if HEAP: run_due(max(real_now(), T))
        n += 1
        if n % 50 == 0:
            t = time.monotonic()
            for c in list(CONNECTIONS):
                if (c.head is not None or c.buf):
                    if t - c.since > 10: c.fail('too_slow')
                elif t - c.since > 60: c.t.close()
asyncio.run(main())
