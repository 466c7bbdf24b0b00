"""Beacon keepers: aids to navigation. One file, standard library only."""
import argparse, asyncio, base64, hashlib, heapq, hmac, json, math, os, random, re, string, sys, time
from collections import deque
from datetime import datetime, timedelta, timezone
from email.utils import formatdate
from urllib.parse import unquote, parse_qsl, urlsplit

ap = argparse.ArgumentParser()
ap.add_argument('--port', type=int, required=True)
ap.add_argument('--clock-port', type=int)
ap.add_argument('--fault', default='')
A = ap.parse_args()
F = A.fault
BASE = '/aton'
if F == 'p-base': BASE = ''
SECRET = os.environ.get('BEACONS_TOKEN_SECRET', 'the-lamp-is-lit-at-dusk-and-put-out-at-dawn-0042').encode()
ISS, AUD, REALM = 'https://id.beacons.example', 'aton', 'Beacon keepers'
CURSOR_KEY = os.urandom(16)

# ---------------------------------------------------------------- clock (microseconds)
OFFSET, FIXED = 0, None
def now():
    return FIXED if FIXED is not None else time.time_ns() // 1000 + OFFSET
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
def iso(us):
    return (EPOCH + timedelta(milliseconds=us // 1000)).strftime('%Y-%m-%dT%H:%M:%S.') + '%03dZ' % (us // 1000 % 1000)
DT = re.compile(r'(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)', re.ASCII)
def instant(s):
    m = DT.fullmatch(s)
    if not m: return None
    try: d = datetime(*map(int, m.group(1, 2, 3, 4, 5, 6)), tzinfo=timezone.utc)
    except ValueError: return None
    us = (d - EPOCH) // timedelta(microseconds=1)
    if m.group(7): us += int((m.group(7)[1:] + '000000')[:6])
    z = m.group(8)
    if z not in 'Zz':
        h, mi = int(z[1:3]), int(z[4:6])
        if h > 23 or mi > 59: return None
        us -= (1 if z[0] == '+' else -1) * (h * 60 + mi) * 60_000_000
    return us
def is_date(s):
    if not re.fullmatch(r'\d{4}-\d\d-\d\d', s, re.ASCII): return False
    if F == 'r-date-format': return int(s[5:7]) in range(1, 13) and int(s[8:]) in range(1, 32)
    try: datetime.strptime(s, '%Y-%m-%d')
    except ValueError: return False
    return True
SEC = 1_000_000
DAY = 86400 * SEC

# ---------------------------------------------------------------- identifiers
B32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
ULAST = [0, 0]
def ulid():
    ms = now() // 1000
    if ms <= ULAST[0]: ms = ULAST[0]; ULAST[1] += 1
    else: ULAST[0], ULAST[1] = ms, random.getrandbits(79)
    n = (ms << 80) | ULAST[1]
    return ''.join(B32[(n >> (5 * i)) & 31] for i in range(25, -1, -1))
def rnd(n):
    return ''.join(random.SystemRandom().choices(string.ascii_letters + string.digits, k=n))

# ---------------------------------------------------------------- shapes
class S(dict):
    """A field: a schema and the words beside it."""
def S_(type='string', **k): return S(type=type, **k)
RO = dict(ro=True)
DTF = dict(format='date-time')
AIDK = ['lighthouse', 'beacon', 'buoy', 'daymark', 'lightvessel']
VERD = ['fit', 'repair', 'unfit']
OUTK = ['unlit', 'reduced_range', 'off_station', 'wrong_character', 'missing']
VAL = {
    'position': (dict(lat=S_('number', minimum=-90, maximum=90), lon=S_('number', minimum=-180, maximum=180)), ['lat', 'lon']),
    'finding': (dict(part=S_(enum=['lamp', 'lens', 'mooring', 'paint', 'power', 'structure']),
                     grade=S_('integer', minimum=1, maximum=5), note=S_(maxLength=200)), ['part', 'grade']),
}
FINDINGS = S_('array', items=S_('finding'), maxItems=10)
RES = {
    'aid': dict(prefix='aid_', coll='aids', fields=dict(
        id=S_(ro=True), authority=S_(ro=True), list_number=S_(ro=True), name=S_(minLength=2, maxLength=61 if F == 'r-name-len' else 60), kind=S_(enum=AIDK),
        position=S_('position'), light=S_(pattern=r'^(F|Fl|LFl|Oc|Iso|Q|VQ|Mo)( [WRGY])?( [0-9]{1,2}s)?$'),
        height=S_('integer', minimum=0, maximum=20000),
        tags=S_('array', items=S_(minLength=1, maxLength=20), maxItems=6, unique=True),
        remarks=S_(maxLength=300, visible=['superintendent', 'keeper']), status=S_(ro=True), open_outages=S_('integer', ro=True),
        commissioned_at=S_(ro=True, **DTF), updated_at=S_(ro=True, **DTF)), need=['name', 'kind', 'position']),
    'inspection': dict(prefix='ins_', coll='inspections', fields=dict(
        id=S_(ro=True), aid=S_(ref='aid', immutable=True), authority=S_(ro=True), inspector=S_(ro=True), planned_for=S_(format='date'),
        findings=S(FINDINGS, ro=True), verdict=S_(enum=VERD, ro=True), status=S_(ro=True), begun_at=S_(ro=True, **DTF), closed_at=S_(ro=True, **DTF)),
        need=['aid', 'planned_for']),
    'outage': dict(prefix='out_', coll='outages', fields=dict(
        id=S_(ro=True), aid=S_(ref='aid', immutable=True), authority=S_(ro=True), reporter=S_(ro=True, visible=['superintendent', 'keeper']),
        kind=S_(enum=OUTK), severity=S_('integer', minimum=1, maximum=3, default=2), description=S_(minLength=5, maxLength=500), seen_at=S_(**DTF),
        status=S_(ro=True), notice=S_(ro=True), valid_until=S_(ro=True, **DTF), closed_at=S_(ro=True, **DTF), created_at=S_(ro=True, **DTF)),
        need=['aid', 'kind', 'severity', 'description']),
    'work_order': dict(prefix='wor_', coll='work_orders', fields=dict(
        id=S_(ro=True), number=S_('integer', ro=True), aid=S_(ref='aid', immutable=True), authority=S_(ro=True), outage=S_(ref='outage', immutable=True),
        title=S_(minLength=3, maxLength=80), details=S_(maxLength=1000), priority=S_(enum=['low', 'normal', 'urgent'], default='normal'),
        cost=S_('integer', minimum=0, maximum=100000000, visible=['superintendent']), due_on=S_(format='date'), assignee=S_(ro=True), status=S_(ro=True),
        done_at=S_(ro=True, **DTF), updated_at=S_(ro=True, **DTF)), need=['aid', 'title', 'priority']),
    'watch': dict(prefix='wat_', coll='watches', fields=dict(
        id=S_(ro=True), aid=S_(ref='aid', immutable=True), authority=S_(ro=True), keeper=S_(minLength=1, maxLength=40), starts_at=S_(**DTF), ends_at=S_(**DTF),
        orders=S_(maxLength=200), status=S_(ro=True), taken_at=S_(ro=True, **DTF)), need=['aid', 'keeper', 'starts_at', 'ends_at']),
    'hook': dict(prefix='hok_', coll='hooks', fields=dict(
        id=S_(ro=True), owner=S_(ro=True), url=S_(format='uri', pattern='^https?://', maxLength=300),
        events=S_('array', items=S_(minLength=1, maxLength=60), maxItems=12), secret=S_(ro=True, reveal=True), enabled=S_('boolean', default=True),
        created_at=S_(ro=True, **DTF)), need=['url', 'enabled']),
}
STATES = {
    'aid': ['planned', 'on_station', 'discontinued'],
    'inspection': ['scheduled', 'under_way', 'completed', 'abandoned', 'lapsed'],
    'outage': ['reported', 'confirmed', 'published', 'restored', 'dismissed', 'expired', 'withdrawn'],
    'work_order': ['open', 'assigned', 'in_progress', 'done', 'cancelled'],
    'watch': ['rostered', 'on_duty', 'relieved', 'missed'],
}
for _r, _s in STATES.items(): RES[_r]['fields']['status']['enum'] = _s
KINDS = ['aid.commissioned', 'aid.discontinued', 'aid.renamed', 'inspection.completed', 'inspection.lapsed', 'outage.reported', 'outage.published',
         'outage.closed', 'work_order.raised', 'work_order.done', 'watch.missed']

# ---------------------------------------------------------------- versions
VERSIONS = ['2025-02-01', '2025-09-01', '2026-01-15']
CUR = 2
SUNSET = instant('2029-06-01T00:00:00Z')
DEPRECATED = instant('2025-06-01T00:00:00Z') // SEC
def half_away(x): return int(math.floor(abs(x) + 0.5)) * (1 if x >= 0 else -1)
CHANGES = [  # (version in which it was made, what, resource, …)
    (1, 'rename', 'aid', 'character', 'light'),
    (1, 'map', 'aid', 'height', S_('number', minimum=0, maximum=200), lambda v: v / 100.0, lambda v: half_away(v * 100.0)),
    (1, 'enum', 'outage', 'kind', {'dark': 'unlit'}),
    (2, 'add', 'work_order', 'priority'),
    (2, 'rename', 'watch', 'instructions', 'orders'),
    (2, 'remove', 'inspection', 'weather', S_(maxLength=40), 'not recorded'),
]
CH = {r: [c for c in CHANGES if c[2] == r] for r in RES}
def fields_at(res, v):
    out = dict(RES[res]['fields'])
    for c in reversed(CH[res]):
        if c[0] <= v: continue
        if c[1] == 'rename': out = {(c[3] if k == c[4] else k): s for k, s in out.items()}
        elif c[1] == 'map': out[c[3]] = c[4]
        elif c[1] == 'enum':
            inv = {b: a for a, b in c[4].items()}
            out[c[3]] = S(out[c[3]], enum=[inv.get(x, x) for x in out[c[3]]['enum']])
        elif c[1] == 'add': out.pop(c[3])
        elif c[1] == 'remove': out[c[3]] = c[4]
    return out
FIELDS = {(r, v): fields_at(r, v) for r in RES for v in range(3)}
def down(res, row, v, where='row'):
    for c in reversed(CH[res]):
        if c[0] <= v: continue
        if c[1] == 'rename':
            if F == 'v-rename-leak' and where == 'list' and res == 'aid': continue
            if c[4] in row: row = {(c[3] if k == c[4] else k): x for k, x in row.items()}
        elif c[1] == 'map':
            if row.get(c[3]) is not None: row = dict(row); row[c[3]] = c[5](row[c[3]])
        elif c[1] == 'enum':
            inv = {b: a for a, b in c[4].items()}
            if row.get(c[3]) in inv: row = dict(row); row[c[3]] = inv[row[c[3]]]
        elif c[1] == 'add':
            if c[3] in row: row = dict(row); del row[c[3]]
        elif c[1] == 'remove': row = dict(row); row[c[3]] = c[5]
    return row
def up(res, body, v, patch=False):
    for c in CH[res]:
        if c[0] <= v: continue
        if c[1] == 'rename':
            if c[3] in body: body = {(c[4] if k == c[3] else k): x for k, x in body.items()}
        elif c[1] == 'map':
            if body.get(c[3]) is not None:
                if F == 'v-map-up' and patch: body[c[3]] = int(body[c[3]])
                else: body[c[3]] = c[6](body[c[3]])
        elif c[1] == 'enum':
            if body.get(c[3]) in c[4]: body[c[3]] = c[4][body[c[3]]]
        elif c[1] == 'remove': body.pop(c[3], None)
    return body
def old_name(res, field, v):
    for c in reversed(CH[res]):
        if c[0] > v and c[1] == 'rename' and c[4] == field: return c[3]
    return field

# ---------------------------------------------------------------- validation
class Bad(Exception):
    def __init__(self, code, violations=None, headers=None, own=False):
        self.code, self.violations, self.headers, self.own = code, violations, headers or [], own
def esc(k): return str(k).replace('~', '~0').replace('/', '~1')
URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")
def viol(out, kind, path, found, expected, where='body'):
    d = {'in': where, 'path': path, 'expected': expected}
    if found is not ...: d['found'] = found
    out.append((kind, d))
def check(s, x, path, out):
    """Holds x to the schema s; gives the value as it is stored."""
    t = s['type']
    if t in VAL:
        fs, req = VAL[t]
        if not isinstance(x, dict): viol(out, 'type', path, x, 'object'); return x
        res = {}
        for k, y in x.items():
            if k not in fs:
                if F == 'r-unknown-member' and t == 'position': continue
                viol(out, 'unknown', path + '/' + esc(k), y, 'no such member')
            else: res[k] = check(fs[k], y, path + '/' + esc(k), out)
        for k in req:
            if k not in x: viol(out, 'missing', path + '/' + k, ..., fs[k]['type'])
        return res
    if t == 'string': ok = isinstance(x, str)
    elif t == 'boolean': ok = isinstance(x, bool)
    elif t == 'array': ok = isinstance(x, list)
    elif t == 'number': ok = isinstance(x, (int, float)) and not isinstance(x, bool)
    else:
        ok = isinstance(x, (int, float)) and not isinstance(x, bool) and x == x and (isinstance(x, int) or x.is_integer())
        if ok: x = int(x)
    if not ok:
        viol(out, 'type', path, x, 'one of ' + ', '.join(s['enum']) if 'enum' in s else t); return x
    if 'enum' in s and x not in s['enum']: viol(out, 'value', path, x, 'one of ' + ', '.join(s['enum']))
    elif 'minLength' in s and len(x) < s['minLength']: viol(out, 'value', path, x, 'at least %d characters' % s['minLength'])
    elif 'maxLength' in s and len(x) > s['maxLength']: viol(out, 'value', path, x, 'at most %d characters' % s['maxLength'])
    elif 'pattern' in s and (not re.search(s['pattern'], x) or x.endswith('\n')): viol(out, 'value', path, x, 'a text like ' + s['pattern'])
    elif 'minimum' in s and x < s['minimum']: viol(out, 'value', path, x, 'at least %s' % s['minimum'])
    elif 'maximum' in s and x > s['maximum']: viol(out, 'value', path, x, 'at most %s' % s['maximum'])
    elif s.get('format') == 'date-time' and instant(x) is None: viol(out, 'value', path, x, 'a date-time')
    elif s.get('format') == 'date' and not is_date(x): viol(out, 'value', path, x, 'a date')
    elif s.get('format') == 'uri' and not uri_ok(x): viol(out, 'value', path, x, 'an address')
    elif t == 'array':
        if len(x) > s['maxItems']: viol(out, 'value', path, x, 'at most %d items' % s['maxItems'])
        elif s.get('unique') and len(set(json.dumps(i, sort_keys=True) for i in x)) < len(x): viol(out, 'value', path, x, 'items that differ')
        x = [check(s['items'], y, '%s/%d' % (path, i), out) for i, y in enumerate(x)]
    return x
def uri_ok(x):
    if not URI.fullmatch(x): return False
    try:
        u = urlsplit(x); u.port
        return bool(u.hostname)
    except ValueError: return False
def refuse(vs):
    if not vs: return
    k = vs[0][0]
    code = {'missing': 'member_missing', 'unknown': 'member_unknown'}.get(k, 'invalid')
    if F == 'er-missing' and code == 'member_missing': code = 'invalid'
    raise Bad(code, [v for _, v in vs])
def merge(a, b):
    if not isinstance(b, dict): return b
    a = dict(a) if isinstance(a, dict) else {}
    for k, v in b.items():
        if v is None: a.pop(k, None)
        else: a[k] = merge(a.get(k), v)
    return a

# ---------------------------------------------------------------- data
DB = {r: {} for r in RES}
SEQ = [0]
COUNT = {'list': 0, 'number': {}}
def derived(row):
    return sum(1 for o in DB['outage'].values() if o['aid'] == row['id'] and o['status'] in ('reported', 'confirmed', 'published'))
OPEN = {}     # aid -> number of outages that are open
def aid_open(aid): return OPEN.get(aid, 0)
def outage_moved(aid, was, is_):
    o = ('reported', 'confirmed', 'published')
    d = (is_ in o) - (was in o)
    if d: OPEN[aid] = OPEN.get(aid, 0) + d

# ---------------------------------------------------------------- who may what
SUP, KEE, MAR = 'superintendent', 'keeper', 'mariner'
own = lambda r, c: r['authority'] == c.authority
parent_own = lambda r, c: DB['aid'][r['aid']]['authority'] == c.authority
owner = lambda r, c: r['owner'] == c.id
RULES = {}
def allow(ops, to, cond=None, scope=None):
    for o in ops.split(','): RULES.setdefault(o.strip(), []).append((to, cond, scope))
allow('list aid, read aid', None, lambda r, c: r['status'] != 'planned')
allow('list aid, read aid', [SUP, KEE], own)
if F == 'a-read-planned': allow('read aid', [KEE])
allow('create aid', [SUP])
allow('update aid, delete aid, commission aid, discontinue aid, reinstate aid', [SUP], own)
allow('create inspection', [KEE], parent_own)
allow('list inspection, read inspection', [SUP, KEE], own)
allow('begin inspection, complete inspection', [KEE], lambda r, c: r['inspector'] == c.id)
allow('abandon inspection', [SUP], own)
allow('create outage', [MAR])
allow('create outage', [SUP, KEE], parent_own)
allow('list outage, read outage', None, lambda r, c: r['status'] == 'published')
allow('list outage, read outage', [MAR], lambda r, c: r['reporter'] == c.id)
allow('list outage, read outage', [SUP, KEE], own)
allow('update outage', [MAR], lambda r, c: r['reporter'] == c.id and r['status'] == 'reported')
allow('update outage, confirm outage, dismiss outage', [SUP], own)
allow('restore outage', [SUP, KEE], None if F == 'a-restore-foreign' else own)
allow('publish outage', [SUP], own, None if F == 'a-scope-publish' else 'notices')
allow('create work_order', [SUP], parent_own)
allow('list work_order', [SUP, KEE], None if F == 'a-list-others' else own)
allow('read work_order', [SUP, KEE], own)
allow('update work_order, delete work_order, assign work_order, cancel work_order', [SUP], own)
allow('start work_order, finish work_order', [KEE], own)
allow('create watch', [SUP], parent_own, 'roster')
allow('replace watch, delete watch', [SUP], own, 'roster')
allow('list watch, read watch', [SUP, KEE], own)
allow('take watch, relieve watch', [KEE], own)
allow('create hook, stream events', [SUP, KEE, MAR])
allow('list hook, read hook, update hook', [SUP, KEE, MAR], owner)
allow('delete hook', [SUP, KEE, MAR], owner)
class Caller:
    __slots__ = ('user', 'id', 'authority', 'scopes')
    def __init__(self, user, id, authority, scopes): self.user, self.id, self.authority, self.scopes = user, id, authority, scopes
def may(op, row, c):
    for to, cond, scope in RULES.get(op, ()):
        if to is not None and (c is None or c.user not in to): continue
        if scope and scope not in c.scopes: continue
        if cond is None or cond(row, c): return True
    return False
def may_read(res, row, c): return may('read ' + res, row, c)

PEOPLE = {
    'bkk_sup_north_anna_0000000000000001': Caller(SUP, 'anna', 'north', {'notices', 'roster'}),
    'bkk_sup_south_carl_0000000000000002': Caller(SUP, 'carl', 'south', {'notices', 'roster'}),
    'bkk_kee_north_emil_0000000000000003': Caller(KEE, 'emil', 'north', set()),
    'bkk_kee_south_gudrun_00000000000004': Caller(KEE, 'gudrun', 'south', set()),
    'bkk_mar_hansa_ines_0000000000000005': Caller(MAR, 'ines', 'hansa', set()),
    'bkk_mar_atlas_jonas_000000000000006': Caller(MAR, 'jonas', 'atlas', set()),
}
if F == 'p-user-mariner': PEOPLE = {k: c for k, c in PEOPLE.items() if c.user != MAR}
def b64d(s):
    if not re.fullmatch(r'[A-Za-z0-9_-]*', s): raise ValueError
    return base64.urlsafe_b64decode(s + '=' * (-len(s) % 4))
TOKENS = {}
def read_token(t):
    """The caller, or 'expired', or None."""
    claims = TOKENS.get(t)
    if claims is None:
        try:
            h, p, s = t.split('.')
            head = json.loads(b64d(h))
            if head.get('alg') != 'HS256' or 'crit' in head: return None
            if F != 'a-signature':
                if not hmac.compare_digest(hmac.new(SECRET, (h + '.' + p).encode(), 'sha256').digest(), b64d(s)): return None
            claims = json.loads(b64d(p))
            if not isinstance(claims, dict): return None
        except Exception: return None
        if len(TOKENS) < 10000: TOKENS[t] = claims
    sec = now() / SEC
    for k in ('exp', 'nbf'):
        if k in claims and (isinstance(claims[k], bool) or not isinstance(claims[k], (int, float))): return None
    if claims.get('iss') != ISS: return None
    aud = claims.get('aud')
    if aud != AUD and not (isinstance(aud, list) and AUD in aud): return None
    if 'nbf' in claims and claims['nbf'] > sec + 5: return None
    if 'exp' in claims and claims['exp'] <= sec - 5: return 'expired'
    role = claims.get('role')
    roles = role if isinstance(role, list) else [role]
    user = next((r for r in roles if r in (SUP, KEE, MAR)), None)
    if F == 'p-user-keeper-token' and user == KEE: return None
    sub, org, scope = claims.get('sub'), claims.get('org'), claims.get('scope', '')
    if user is None or not isinstance(sub, str) or not isinstance(org, str) or not isinstance(scope, str): return None
    return Caller(user, sub, org, set(scope.split(' ')))
def challenges(bad):
    b = 'Bearer realm="%s"' % REALM + (', error="invalid_token"' if 'token' in bad else '')
    k = 'ApiKey realm="%s", in="header", name="X-Beacon-Key"' % REALM + (', error="invalid_key"' if 'key' in bad else '')
    return [('WWW-Authenticate', k), ('WWW-Authenticate', b)]
def identify(hs):
    keys = hs.get('x-api-key' if F == 'a-key-header' else 'x-beacon-key', [])
    auths = hs.get('authorization', [])
    found, bad, expired = [], set(), False
    if keys:
        c = PEOPLE.get(keys[0]) if len(keys) == 1 else None
        if c: found.append(c)
        else: bad.add('key')
    if auths:
        c, a = None, auths[0]
        if len(auths) == 1 and a[:7].lower() == 'bearer ': c = read_token(a[7:].strip())
        if isinstance(c, Caller): found.append(c)
        else: bad.add('token'); expired = c == 'expired'
    if bad: raise Bad('credential_expired' if expired and bad == {'token'} else 'who_are_you', headers=challenges(bad))
    if not found: return None
    a = found[0]
    for b in found[1:]:
        if (a.user, a.id, a.authority) != (b.user, b.id, b.authority): raise Bad('who_are_you', headers=challenges({'key', 'token'}))
        a = Caller(a.user, a.id, a.authority, a.scopes | b.scopes)
    return a

# ---------------------------------------------------------------- showing
def show(res, row, c, v, where='row', reveal=False):
    out = {}
    for k, s in RES[res]['fields'].items():
        if k == 'open_outages': out[k] = aid_open(row['id']); continue
        x = row.get(k)
        if x is None: continue
        vis = s.get('visible')
        if vis and (c is None or c.user not in vis):
            if not (F == 'r-leak-cost' and k == 'cost') and not (F == 'ev-payload-leak' and where == 'event'): continue
        if s.get('reveal') and not reveal and not (F == 'r-secret-again' and where == 'read'): continue
        if F == 'r-type-height' and k == 'height': x = str(x)
        out[k] = x
    return down(res, out, v, where)
def dump(x): return json.dumps(x, ensure_ascii=False, separators=(',', ':')).encode()
def tag(res, row, c, v):
    return '"' + hashlib.sha256(dump([v, show(res, row, c, v)])).hexdigest()[:24] + '"'

# ---------------------------------------------------------------- timers
HEAP, TSEQ, LOOP, HANDLE = [], [0], None, None
def at(us, fn):
    TSEQ[0] += 1
    heapq.heappush(HEAP, (us, TSEQ[0], fn))
    arm()
def arm():
    global HANDLE
    if LOOP is None or FIXED is not None: return
    if HANDLE: HANDLE.cancel(); HANDLE = None
    if HEAP: HANDLE = LOOP.call_later(min(max(0, (HEAP[0][0] - now()) / SEC), 3600), fire_due)
def fire_due():
    global FIXED
    t = now()
    while HEAP and HEAP[0][0] <= t:
        due, _, fn = heapq.heappop(HEAP)
        FIXED = due if due > FLOOR[0] else FLOOR[0]
        try: fn()
        except Exception as e: print('timer:', repr(e), file=sys.stderr)
        finally: FIXED = None
    FLOOR[0] = t
    arm()
FLOOR = [0]

# ---------------------------------------------------------------- changes
def touch(res, row):
    if 'updated_at' in RES[res]['fields']: row['updated_at'] = iso(now())
def entered(res, row):
    """The clock's transitions out of the state that a row has come to."""
    st, rid = row['status'], row['id']
    token = row['_in'] = object()
    def timed(when, name, to):
        def fire():
            r = DB[res].get(rid)
            if r is row and r['_in'] is token: move(res, r, name, to, None)
        at(max(when, now()), fire)
    if res == 'inspection' and st == 'scheduled': timed(now() + (15 if F == 's-lapse-late' else 14) * DAY, 'lapse', 'lapsed')
    if res == 'outage' and st == 'reported': timed(now() + 7 * DAY, 'expire', 'expired')
    if res == 'outage' and st == 'published' and F != 's-withdraw-never': timed(instant(row['valid_until']), 'withdraw', 'withdrawn')
    if res == 'watch' and st == 'rostered': timed(instant(row['ends_at']), 'miss', 'missed')
SETS = {
    ('aid', 'commission'): lambda r, q: {'commissioned_at': iso(now())},
    ('inspection', 'begin'): lambda r, q: {'begun_at': iso(now())},
    ('inspection', 'complete'): lambda r, q: {'closed_at': iso(now()), 'findings': q['findings'], 'verdict': q['verdict']},
    ('inspection', 'abandon'): lambda r, q: {'closed_at': iso(now())},
    ('inspection', 'lapse'): lambda r, q: {'closed_at': iso(now())},
    ('outage', 'publish'): lambda r, q: {'notice': DB['aid'][r['aid']]['name'] + ': ' + r['kind'], 'valid_until': q['valid_until']},
    ('outage', 'dismiss'): lambda r, q: {'closed_at': iso(now())},
    ('outage', 'restore'): lambda r, q: {'closed_at': iso(now())},
    ('outage', 'expire'): lambda r, q: {'closed_at': iso(now())},
    ('outage', 'withdraw'): lambda r, q: {'closed_at': iso(now())},
    ('work_order', 'assign'): lambda r, q: {'assignee': q['keeper']},
    ('work_order', 'finish'): lambda r, q: {'done_at': iso(now())},
    ('watch', 'take'): lambda r, q: {'taken_at': iso(now())},
}
EMIT = {}
for _k, _ops in {'aid.commissioned': 'commission aid,reinstate aid', 'aid.discontinued': 'discontinue aid', 'inspection.completed': 'complete inspection',
                 'inspection.lapsed': 'lapse inspection', 'outage.reported': 'create outage', 'outage.published': 'publish outage',
                 'outage.closed': 'restore outage,withdraw outage,expire outage,dismiss outage', 'work_order.raised': 'create work_order',
                 'work_order.done': 'finish work_order', 'watch.missed': 'miss watch'}.items():
    for _o in _ops.split(','): EMIT.setdefault(_o, []).append(_k)
if F == 'ev-lapsed-never': EMIT.pop('lapse inspection')
if F == 'ev-twice': EMIT['publish outage'] = ['outage.published'] * 2
def move(res, row, name, to, q):
    was = row['status']
    new = SETS.get((res, name), lambda r, q: {})(row, q)
    row.update(new)
    if F == 's-abandon-state' and name == 'abandon': to = 'cancelled'
    row['status'] = to
    touch(res, row)
    if res == 'outage': outage_moved(row['aid'], was, to)
    entered(res, row)
    for k in EMIT.get(name + ' ' + res, ()): emit(k, res, row)
    if res == 'inspection' and name == 'complete' and row['verdict'] != 'fit':
        make('work_order', {'aid': row['aid'], 'title': 'Repair after inspection', 'priority': 'urgent' if row['verdict'] == 'unfit' else 'normal'}, None)
    elif res == 'outage' and name == 'confirm' and row['severity'] == 3:
        make('work_order', {'aid': row['aid'], 'outage': row['id'], 'title': 'Outage: ' + row['kind'], 'priority': 'urgent'}, None)
    elif res == 'work_order' and name == 'finish' and row.get('outage') and F != 's-then-skip':
        o = DB['outage'].get(row['outage'])
        if o and o['status'] in ('confirmed', 'published'): move('outage', o, 'restore', 'restored', None)
def make(res, body, c):
    row = dict(body)
    pre = RES[res]['prefix']
    row['id'] = row.get('id') or ('' if F == 'r-id-form' and res == 'outage' else pre) + ulid()
    SEQ[0] += 1
    row['_seq'] = SEQ[0]
    if res == 'aid':
        COUNT['list'] += 1
        row.update(authority=c.authority, list_number='BK-%05d' % COUNT['list'])
    elif res == 'inspection': row.update(authority=c.authority, inspector=c.id)
    elif res == 'outage': row.update(authority=DB['aid'][row['aid']]['authority'], reporter=c.id, created_at=iso(now()))
    elif res == 'work_order':
        k = '*' if F == 'r-number-global' else row['aid']
        COUNT['number'][k] = row['number'] = COUNT['number'].get(k, 0) + 1
        row['authority'] = DB['aid'][row['aid']]['authority']
    elif res == 'watch': row['authority'] = DB['aid'][row['aid']]['authority']
    elif res == 'hook': row.update(owner=c.id, created_at=iso(now()), secret='bks_' + rnd(32), _maker=c)
    if res in STATES: row['status'] = STATES[res][0]
    touch(res, row)
    DB[res][row['id']] = row
    if res == 'outage': outage_moved(row['aid'], None, 'reported')
    if res in STATES: entered(res, row)
    for k in EMIT.get('create ' + res, ()): emit(k, res, row)
    return row

# ---------------------------------------------------------------- events
LOG = deque()     # (at, event)
STREAMS = set()
class Event:
    __slots__ = ('id', 'kind', 'at', 'res', 'row', 'data', 'open')
def emit(kind, res, row, data=None):
    e = Event()
    e.id, e.kind, e.at, e.res, e.row = 'evt_' + ulid(), kind, now(), res, dict(row)
    if kind == 'work_order.raised': data = {'work_order': row['id'], 'aid': row['aid'], 'number': row['number'], 'priority': row['priority']}
    e.data, e.open = data, aid_open(row['id'])
    PENDING.append(e)
PENDING = []
def flush():
    """After a change is done: what it emitted is told."""
    while PENDING:
        e = PENDING.pop(0)
        LOG.append(e)
        while LOG and LOG[0].at < now() - DAY: LOG.popleft()
        for s in list(STREAMS): s.tell(e)
        for h in list(DB['hook'].values()):
            if h.get('enabled') and wants(h, e) and may_read(e.res, e.row, h['_maker']): deliver(h, e)
def wants(h, e):
    if h.get('events') is None: return True
    return any(p == '*' or p == e.kind or (p.endswith('.*') and e.kind.startswith(p[:-1])) for p in h['events'])
def envelope(e, c, v):
    d = e.data
    if d is None:
        d = show(e.res, e.row, c, v, 'event')
        if e.res == 'aid': d['open_outages'] = e.open
    return {'id': e.id, 'kind': e.kind, 'at': iso(e.at), 'data': d}
QUEUES = {}
def deliver(h, e):
    key = (h['id'], e.row['id'])
    q = QUEUES.setdefault(key, deque())
    q.append((e, dump(envelope(e, h['_maker'], h['_version']))))
    if len(q) == 1: LOOP.create_task(attempt(key, 0))
WAITS = [10 * SEC, 60 * SEC, 600 * SEC]
async def attempt(key, n):
    q = QUEUES.get(key)
    if not q: return
    e, body = q[0]
    h = DB['hook'].get(key[0])
    ok = gone = False
    if h and h.get('enabled'):
        try:
            st = await asyncio.wait_for(post(h, e, body), 10)
            ok = 200 <= st < 300
            if st == 410: h['enabled'] = False; gone = True
        except Exception: pass
    else: gone = True
    if not ok and not gone and n < len(WAITS):
        at(now() + WAITS[n], lambda: LOOP.create_task(attempt(key, n + 1)))
        return
    q.popleft()
    if q: LOOP.create_task(attempt(key, 0))
    else: QUEUES.pop(key, None)
async def post(h, e, body):
    u = urlsplit(h['url'])
    tls = u.scheme == 'https'
    t = str(now() // SEC)
    signed = body if F == 'ev-sign' else t.encode() + b'.' + body
    sig = hmac.new(h['secret'].encode(), signed, 'sha256').hexdigest()
    host = u.netloc.rpartition('@')[2]
    r, w = await asyncio.open_connection(u.hostname, u.port or (443 if tls else 80), ssl=tls or None)
    try:
        w.write(('POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nBeacon-Signature: t=%s,v1=%s\r\nBeacon-Event: %s\r\nConnection: close\r\n\r\n'
                 % ((u.path or '/') + ('?' + u.query if u.query else ''), host, len(body), t, sig, e.kind)).encode() + body)
        await w.drain()
        line = await r.readline()
        return int(line.split()[1])
    finally: w.close()

# ---------------------------------------------------------------- limits
class Sliding:
    def __init__(self, limit, window): self.limit, self.window, self.m = limit, window, {}
    def look(self, k):
        d = self.m.get(k)
        if d is None: d = self.m[k] = deque()
        t = now() - self.window
        while d and d[0] <= t: d.popleft()
        return len(d) < self.limit, (d[0] + self.window - now()) if d else 0
    def take(self, k):
        d = self.m[k]; d.append(now())
        return self.limit - len(d), d[0] + self.window - now()
class Fixed:
    def __init__(self, limit, window): self.limit, self.window, self.m = limit, window, {}
    def look(self, k):
        w = self.m.get(k)
        if w is None or w[0] + self.window <= now(): w = self.m[k] = [now(), 0]
        return w[1] < self.limit, w[0] + self.window - now()
    def take(self, k):
        w = self.m[k]; w[1] += 1
        return self.limit - w[1], w[0] + self.window - now()
class Bucket:
    def __init__(self, limit, window): self.limit, self.window, self.m = limit, window, {}
    def look(self, k):   # the level is kept in units × window
        w = self.m.setdefault(k, [self.limit * self.window, now()])
        w[0] = min(self.limit * self.window, w[0] + (now() - w[1]) * self.limit); w[1] = now()
        return w[0] >= self.window, -(-(self.window - w[0]) // self.limit)
    def take(self, k):
        w = self.m[k]; w[0] -= self.window
        left = w[0] // self.window
        return left, -(-((left + 1) * self.window - w[0]) // self.limit)
R_ALL, R_ANON, R_WORK, R_OUT = Sliding(900, 60 * SEC), Sliding(120, 60 * SEC), Fixed(60, 600 * SEC), Bucket(30, 60 * SEC)
def rates(c, op, addr):
    who = (c.user, c.id) if c else addr
    rs = [(R_ALL, who)]
    if c is None and F != 'l-anon-rate': rs.append((R_ANON, addr))
    if c and op == 'create work_order': rs.append((R_WORK, c.authority))
    if c and op == 'create outage': rs.append((R_OUT, who))
    waits = []
    for r, k in rs:
        ok, wait = r.look(k)
        if not ok: waits.append((wait, r))
    secs = lambda us: str(max(0, -(-us // SEC)))
    if waits:
        wait, r = max(waits, key=lambda x: x[0])
        raise Bad('too_many', headers=[('Retry-After', secs(wait)), ('X-RateLimit-Limit', str(r.limit)), ('X-RateLimit-Remaining', '0'), ('X-RateLimit-Reset', secs(wait))])
    told = [(*r.take(k), r) for r, k in rs]
    left, reset, r = min(told, key=lambda x: (x[0], -x[1]))
    return [('X-RateLimit-Limit', str(r.limit)), ('X-RateLimit-Remaining', str(left)), ('X-RateLimit-Reset', secs(reset))]
QUOTA = {}
QUOTA_MAX = 41 if F == 'l-quota-day' else 40

# ---------------------------------------------------------------- errors
CODES = {}
for _line in '''member_missing 422 Member missing
member_unknown 422 Member unknown
invalid 422 Invalid
unreadable 400 Unreadable
bad_parameter 400 Bad parameter
bad_page 400 Bad page
wrong_media 415 Wrong media type
not_acceptable 406 Not acceptable
credential_expired 401 Credential expired
who_are_you 401 Who are you
scope_lacking 403 Scope lacking
not_yours 403 Not yours to do
not_found 404 Not found
no_such_path 404 No such path
wrong_method 405 Wrong method
reference_missing 422 Reference missing
in_use 409 In use
taken 409 Taken
wrong_state 409 Not in this state
outages_open 409 Outages open|The aid has outages that are not closed.
inspection_over 409 Inspection over|It is completed or has lapsed.
already_decided 409 Already decided|The report has been decided on.
not_serious 409 Not serious enough|Only severity 2 and above goes to mariners.
not_assignee 409 Not the assignee|Somebody else has this order.
work_begun 409 Work begun|The work has begun or is over.
not_your_watch 409 Not your watch|Another keeper has this watch.
notice_in_past 422 Notice in the past|A notice has to hold for a while.
notice_too_long 422 Notice too long|A notice holds for 90 days at the most.
aid_not_charted 422 Aid not charted|Only an aid on station can be out.
watch_over 422 Watch over|The watch would be over already.
watch_too_long 422 Watch too long|A watch has 24 hours at the most.
changed_meanwhile 412 Changed meanwhile
tag_needed 428 Tag needed
key_reused 422 Key reused
busy 409 Busy
too_many 429 Too many requests
quota_used 429 Quota used
too_large 413 Too large
address_too_long 414 Address too long
headers_too_large 431 Headers too large
too_slow 503 Too slow
unavailable 503 Unavailable
no_such_version 400 No such version
version_over 410 Version over
failed 500 Failed'''.split('\n'):
    _c, _st, _ti = _line.split(' ', 2)
    _ti, _, _m = _ti.partition('|')
    CODES[_c] = (int(_st), _ti, _m or _ti + '.')
if F == 'er-status-taken': CODES['taken'] = (422,) + CODES['taken'][1:]
def fail(code, path, rid, violations=None):
    status, title, msg = CODES[code]
    if violations:
        name = violations[0]['path'].lstrip('/').replace('/', '.')
        if code == 'member_missing': msg = name[:200] + ' is missing'
        elif code == 'member_unknown': msg = name[:200] + ' is not known here'
        else: msg = '%s is not %s.' % (name[:200] or 'The body', violations[0].get('expected', 'right'))
    d = {'type': 'https://beacons.example/problems/' + code, 'title': title, 'status': status, 'detail': msg, 'code': code,
         'retryable': status in (429, 500, 503), 'trace': rid, 'instance': path}
    if F == 'er-trace' and status == 404: del d['trace']
    if violations: d['violations'] = violations
    return status, d

# ---------------------------------------------------------------- endpoints
class EP:
    def __init__(self, method, path, op, **k):
        self.method, self.segs, self.op = method, path.strip('/').split('/'), op
        self.verb, _, self.res = op.partition(' ')
        self.params, self.order, self.inn, self.if_match, self.etag = k.get('params', {}), k.get('order'), k.get('inn'), k.get('if_match'), k.get('etag')
        self.frm, self.to, self.els, self.guard, self.request = k.get('frm'), k.get('to'), k.get('els'), k.get('guard'), k.get('request')
        self.since, self.page, self.select = k.get('since', 0), k.get('page', 'cursor'), k.get('select')
        self.parent = path == '/aids/{aid}/inspections'
        self.kind = k.get('kind') or (self.verb if self.verb in ('create', 'read', 'list', 'update', 'replace', 'delete') else 'move')
P = lambda field=None, op='=', **s: dict(field=field, op=op, s=S_(s.pop('type', 'string'), **s))
W = RES['work_order']['fields']
EPS = [
    EP('GET', '/legend', 'read legend', kind='reply'),
    EP('POST', '/aids', 'create aid'),
    EP('GET', '/aids', 'list aid', order='name', select=True, params=dict(
        kind=P(), authority=P(), status=P(split=True), named=P('name', 'contains', minLength=2), min_height=P('height', '>=', type='integer'),
        sort=P(enum=['name', '-name', 'updated_at', '-updated_at']))),
    EP('GET', '/aids/{id}', 'read aid', etag=True),
    EP('PATCH', '/aids/{id}', 'update aid', inn=['planned', 'on_station'], if_match='required', etag=True),
    EP('DELETE', '/aids/{id}', 'delete aid', inn=['planned']),
    EP('POST', '/aids/{id}/commission', 'commission aid', frm=['planned'], to='on_station'),
    EP('POST', '/aids/{id}/discontinue', 'discontinue aid', frm=['on_station'], to='discontinued',
       guard=(lambda r, c: aid_open(r['id']) == 0 or F == 's-guard-open', 'outages_open')),
    EP('POST', '/aids/{id}/reinstate', 'reinstate aid', frm=['discontinued'], to='on_station'),
    EP('POST', '/aids/{aid}/inspections', 'create inspection'),
    EP('GET', '/aids/{aid}/inspections', 'list inspection', order='-planned_for', params=dict(status=P(), verdict=P())),
    EP('GET', '/inspections/{id}', 'read inspection'),
    EP('POST', '/inspections/{id}/begin', 'begin inspection', frm=['scheduled'], to='under_way'),
    EP('POST', '/inspections/{id}/complete', 'complete inspection', frm=['under_way'], to='completed', request=dict(verdict=S_(enum=VERD), findings=FINDINGS)),
    EP('POST', '/inspections/{id}/abandon', 'abandon inspection', frm=['scheduled', 'under_way'], to='abandoned', els='inspection_over'),
    EP('POST', '/outages', 'create outage'),
    EP('GET', '/outages', 'list outage', order='-created_at', params=dict(
        aid=P(), status=P(), kind=P(), since=P('created_at', '>=', format='date-time'), sort=P(enum=['created_at', '-created_at']))),
    EP('GET', '/outages/{id}', 'read outage', etag=True),
    EP('PATCH', '/outages/{id}', 'update outage', inn=['reported', 'confirmed'], if_match='accepted', etag=True),
    EP('POST', '/outages/{id}/confirm', 'confirm outage', frm=['reported'], to='confirmed'),
    EP('POST', '/outages/{id}/dismiss', 'dismiss outage', frm=['reported'], to='dismissed', els='already_decided'),
    EP('POST', '/outages/{id}/publish', 'publish outage', frm=['confirmed'], to='published', guard=(lambda r, c: r['severity'] >= 2, 'not_serious'),
       request=dict(valid_until=S_(**DTF))),
    EP('POST', '/outages/{id}/restore', 'restore outage', frm=['confirmed', 'published'], to='restored'),
    EP('POST', '/work_orders', 'create work_order'),
    EP('GET', '/work_orders', 'list work_order', since=2, order='number', params=dict(
        aid=P(), status=P(split=True), priority=P(), assignee=P(), due_by=P('due_on', '<' if F == 'e-due-by' else '<=', format='date'))),
    EP('GET', '/work_orders/{id}', 'read work_order', etag=True),
    EP('PATCH', '/work_orders/{id}', 'update work_order', inn=['open', 'assigned'], if_match='required', etag=True),
    EP('DELETE', '/work_orders/{id}', 'delete work_order', inn=['open', 'cancelled']),
    EP('POST', '/work_orders/{id}/assign', 'assign work_order', frm=['open', 'assigned'], to='assigned', request=dict(keeper=S_(minLength=1, maxLength=40))),
    EP('POST', '/work_orders/{id}/start', 'start work_order', frm=['assigned'], to='in_progress', guard=(lambda r, c: r.get('assignee') == c.id, 'not_assignee')),
    EP('POST', '/work_orders/{id}/finish', 'finish work_order', frm=['in_progress'], to='done'),
    EP('POST', '/work_orders/{id}/cancel', 'cancel work_order', frm=['open', 'assigned'] + (['in_progress'] if F == 's-cancel-from' else []), to='cancelled', els='work_begun'),
    EP('POST', '/watches', 'create watch'),
    EP('GET', '/watches', 'list watch', order='starts_at', page='offset', params=dict(aid=P(), keeper=P(), status=P())),
    EP('GET', '/watches/{id}', 'read watch'),
    EP('PUT', '/watches/{id}', 'replace watch', inn=['rostered']),
    EP('DELETE', '/watches/{id}', 'delete watch', inn=['rostered']),
    EP('POST', '/watches/{id}/take', 'take watch', frm=['rostered'], to='on_duty', guard=(lambda r, c: r['keeper'] == c.id or F == 's-take-anyone', 'not_your_watch')),
    EP('POST', '/watches/{id}/relieve', 'relieve watch', frm=['on_duty'], to='relieved'),
    EP('POST', '/hooks', 'create hook'),
    EP('GET', '/hooks', 'list hook', order=None),
    EP('GET', '/hooks/{id}', 'read hook'),
    EP('PATCH', '/hooks/{id}', 'update hook'),
    EP('DELETE', '/hooks/{id}', 'delete hook'),
    EP('GET', '/events', 'stream events', kind='stream'),
]
if F == 'p-fn-relieve': EPS = [e for e in EPS if e.op != 'relieve watch']
TREE = {}
for _e in EPS:
    _k = tuple('*' if s[0] == '{' else s for s in _e.segs)
    TREE.setdefault(_k, {})[_e.method] = _e
def route(path):
    base = BASE
    if F == 'p-base-hooks' and (path.startswith('/hooks') or path.startswith('/aton/hooks')): base = ''
    if not path.startswith(base + '/'): return None, None
    segs = path[len(base) + 1:].split('/')
    n = len(segs)
    if n == 1: k, a = tuple(segs), None
    elif n == 2: k, a = (segs[0], '*'), segs[1]
    elif n == 3: k, a = (segs[0], '*', segs[2]), segs[1]
    else: return None, None
    m = TREE.get(k)
    if not m or a == '': return None, None
    return m, unquote(a) if a is not None else None

def accepts(hs, mime):
    vals = hs.get('accept')
    if not vals: return True
    best, spec = 0.0, -1
    t = mime.split('/')[0]
    for part in ','.join(vals).split(','):
        bits = [b.strip() for b in part.split(';')]
        m = bits[0].lower()
        if not m: continue
        q = 1.0
        for b in bits[1:]:
            if b[:2].lower() == 'q=':
                try: q = float(b[2:])
                except ValueError: q = 0.0
        sp = 2 if m == mime else 1 if m == t + '/*' else 0 if m == '*/*' else -1
        if sp > spec or (sp == spec and q > best): spec, best = sp, q
    return spec >= 0 and best > 0
def no_const(_): raise ValueError

class Reply(Exception): pass
class Request:
    __slots__ = ('method', 'target', 'path', 'query', 'hs', 'body', 'addr', 'rid', 'v', 'oldest', 'rate', 'ep', 'caller', 'legacy', 'size_bad', 'over')

def handle(rq):
    """(status, headers, body or None, stream or None)"""
    rq.rid = 'req_' + rnd(20)
    rq.v, rq.oldest, rq.rate, rq.ep, rq.caller = CUR, False, [], None, None
    head = []
    try:
        status, hdrs, body = serve(rq)
    except Bad as b:
        PENDING.clear()
        status, d = fail(b.code, rq.path, rq.rid, b.violations)
        hdrs, body = b.headers + [('Content-Type', 'application/json')], dump(d)
    except Exception as e:
        PENDING.clear()
        import traceback; traceback.print_exc()
        status, d = fail('failed', rq.path, rq.rid)
        hdrs, body = [('Content-Type', 'application/json')], dump(d)
    else: flush()
    return finish(rq, status, hdrs, body)
def finish(rq, status, hdrs, body):
    hdrs = hdrs + [('X-Request-Id', rq.rid), ('Aton-Version', VERSIONS[rq.v]), ('Vary', 'Aton-Version, X-Beacon-Key, Authorization')]
    if not any(k.startswith('X-RateLimit') for k, _ in hdrs): hdrs += rq.rate
    if rq.v == 0 and not (F == 'v-deprecation' and status >= 400):
        hdrs += [('Deprecation', '@%d' % DEPRECATED), ('Sunset', formatdate(SUNSET // SEC, usegmt=True)),
                 ('Link', '<https://beacons.example/upgrade>; rel="deprecation", <%s>; rel="successor-version"' % rq.target)]
    return status, hdrs, body

def serve(rq):
    hs = rq.hs
    # 1 sizes
    if len(rq.target) > 4096: raise Bad('address_too_long')
    if rq.size_bad: raise Bad('headers_too_large')
    # 2 route, method, version
    vs = hs.get('aton-version')
    ver, unknown = (0 if F == 'v-default' else CUR), False
    if vs:
        if len(vs) == 1 and vs[0] in VERSIONS: ver = VERSIONS.index(vs[0])
        elif F != 'v-unknown': unknown = True
    rq.v = CUR if unknown else ver
    methods, arg = route(rq.path)
    if methods is None: raise Bad('no_such_path')
    def allowed(v):
        ms = [m for m, e in methods.items() if e.since <= v]
        if 'GET' in ms: ms.append('HEAD')
        return ms + ['OPTIONS']
    m = 'GET' if rq.method == 'HEAD' else rq.method
    if m != 'OPTIONS' and m not in methods: raise Bad('wrong_method', headers=[('Allow', ', '.join(allowed(ver)))])
    if unknown: raise Bad('no_such_version')
    rq.v = ver
    if ver == 0 and now() >= SUNSET and F != 'v-sunset': raise Bad('version_over')
    if m == 'OPTIONS': return 204, [('Allow', ', '.join(allowed(ver)))], None
    ep = rq.ep = methods[m]
    if ep.since > ver: raise Bad('wrong_method', headers=[('Allow', ', '.join(allowed(ver)))])
    op = ep.op
    # 4 who
    c = None
    if ep.kind != 'reply':
        c = identify(hs)
        if c is None and not any(to is None for to, _, _ in RULES[op]): raise Bad('who_are_you', headers=challenges(()))
    rq.caller = c
    # 5 rates
    rq.rate = rates(c, op, rq.addr)
    # 6 rules for the user
    if ep.kind != 'reply':
        mine = [r for r in RULES[op] if r[0] is None or (c and c.user in r[0])]
        if not mine: raise Bad('not_yours')
        if not any(not s or s in c.scopes for _, _, s in mine):
            raise Bad('scope_lacking', headers=[('WWW-Authenticate', 'Bearer realm="%s", error="insufficient_scope"' % REALM)])
    if F == 'p-fn-reinstate' and op == 'reinstate aid': return 501, [], None
    # 8 media, size, body, parameters, page
    if ep.kind == 'stream':
        if not accepts(hs, 'text/event-stream'): raise Bad('not_acceptable')
    elif ep.kind != 'delete' and not accepts(hs, 'application/json'): raise Bad('not_acceptable')
    body = None
    if ep.kind in ('create', 'update', 'replace') or ep.request:
        ct = hs.get('content-type', [])
        mt = ct[0].split(';')[0].strip().lower() if ct else ''
        if (rq.body or rq.over or ct) and not (mt == 'application/json' or (mt == 'application/merge-patch+json' and ep.kind == 'update')): raise Bad('wrong_media')
        if rq.over or len(rq.body) > (65536 if F == 'l-body' else 32768): raise Bad('too_large')
        if not rq.body: raise Bad('unreadable')
        try:
            body = json.loads(rq.body.decode('utf-8'), parse_constant=no_const)
            if b'\\u' in rq.body: dump(body)   # a lone surrogate is no text
        except (ValueError, RecursionError): raise Bad('failed' if F == 'er-malformed' else 'unreadable')
    if rq.query and '%' in rq.query:
        try: q = parse_qsl(rq.query, keep_blank_values=True, errors='strict')
        except ValueError: raise Bad('bad_parameter')
    else: q = parse_qsl(rq.query, keep_blank_values=True) if rq.query else []
    params = parameters(ep, q, rq.v, c)
    if ep.kind == 'stream': return 200, [('Content-Type', 'text/event-stream'), ('Cache-Control', 'no-cache')], Stream(rq)
    if ep.kind == 'reply':
        return 200, [('Content-Type', 'application/json')], dump({'F': 'fixed', 'Fl': 'flashing', 'Oc': 'occulting', 'Iso': 'isophase', 'Q': 'quick', 'Mo': 'morse'})
    # 9 idempotency
    idem = None
    if ep.method == 'POST' and 'idempotency-key' in hs:
        idem = (c.user, c.id, op, hs['idempotency-key'][0])
        fp = (rq.path, rq.query, rq.v, json.dumps(body, sort_keys=True))
        old = IDEM.get(idem)
        if old and old[0] > now():
            if old[1] != fp: raise Bad('key_reused')
            if isinstance(old[2], str): raise Bad(old[2], own=True)
            return old[2]
    try:
        res = act(rq, ep, c, arg, body, params)
    except Bad as b:
        if idem and b.own: IDEM[idem] = (now() + DAY, fp, b.code)
        raise
    if idem:
        kept = res
        if op == 'create hook':
            d = json.loads(res[2]); d.pop('secret', None)
            kept = (res[0], res[1], dump(d))
        IDEM[idem] = (now() + DAY, fp, kept)
    return res
IDEM = {}

def parameters(ep, q, v, c):
    out, filters, seen = {'filters': []}, [], set()
    def bad(k, found=..., expected='a parameter that is known'):
        vs = []; viol(vs, 'value', k, found, expected, 'query')
        raise Bad('bad_parameter', [x for _, x in vs])
    lst = ep.kind == 'list'
    pag = (('limit', 'cursor') if ep.page == 'cursor' else ('limit', 'offset')) if lst else ()
    page = {}
    for k, x in q:
        if ep.select and k == 'fields':
            out.setdefault('fields', []).extend(x.split(',')); continue
        if k in pag:
            if k in page: bad(k, x, 'one value')
            page[k] = x; continue
        p = ep.params.get(k)
        if p is None:
            if F == 'e-undeclared' and ep.op == 'list watch': continue
            bad(k, x)
        if k in seen: bad(k, x, 'one value')
        seen.add(k)
        s = p['s']
        field = p['field'] or k
        if k == 'sort':
            if x not in s['enum']: bad(k, x, 'one of ' + ', '.join(s['enum']))
            out['sort'] = x; continue
        fs = FIELDS[ep.res, v]
        if p['field'] is None:
            s2 = fs[old_name(ep.res, field, v)]
            if s.get('split'): vals = x.split(',')
            else: vals = [x]
            if len(vals) > 100: bad(k, x, 'at most 100 values')
            got = []
            for y in vals:
                vs = []; check(s2, y, k, vs)
                if vs: bad(k, y, vs[0][1]['expected'])
                for ch in CH[ep.res]:
                    if ch[0] > v and ch[1] == 'enum' and ch[3] == field: y = ch[4].get(y, y)
                got.append(y)
            out['filters'].append((field, 'in', got)); filters.append((k, x))
        else:
            if any(ch[0] > v and ch[1] == 'map' and ch[3] == field for ch in CH[ep.res]): bad(k, x, 'nothing in this version')
            y = x
            if s['type'] == 'integer':
                if not re.fullmatch(r'-?\d{1,18}', x, re.ASCII): bad(k, x, 'a whole number')
                y = int(x)
                if k == 'min_height' and not 0 <= y <= 20000: bad(k, x, 'a height from 0 to 20000')
            vs = []; check(s, y, k, vs)
            if vs: bad(k, x, vs[0][1]['expected'])
            if s.get('format') == 'date-time': y = instant(y)
            out['filters'].append((field, p['op'], y)); filters.append((k, x))
    if 'fields' in out:
        fs = FIELDS[ep.res, v]
        if len(out['fields']) > 100: bad('fields')
        for f in out['fields']:
            top, _, sub = f.partition('.')
            s = fs.get(top)
            vis = s and s.get('visible')
            if s is None or (vis and (c is None or c.user not in vis)): bad('fields', f, 'a field')
            if sub and not (s['type'] in VAL and sub in VAL[s['type']][0]): bad('fields', f, 'a field')
    if lst:
        n = page.get('limit')
        dflt, mx = (25, 100) if ep.page == 'cursor' else (20, 50)
        if n is None: n = dflt
        else:
            if not re.fullmatch(r'\d{1,15}', n, re.ASCII) or int(n) < 1: raise Bad('bad_page')
            n = int(n)
            if n > mx:
                if ep.page == 'cursor':
                    if F == 'l-page-max' and ep.op == 'list aid': pass
                    else: raise Bad('bad_page')
                elif F == 'l-watch-clamp': raise Bad('bad_page')
                else: n = mx
        out['limit'] = n
        if ep.page == 'offset':
            o = page.get('offset', '0')
            if not re.fullmatch(r'\d{1,15}', o, re.ASCII): raise Bad('bad_page')
            out['offset'] = int(o)
        else:
            out['order'] = out.get('sort') or ep.order
            out['bound'] = [ep.op, out['order'], sorted(filters), v, [c.user, c.id, c.authority] if c else None]
            if 'cursor' in page: out['cursor'] = page['cursor']
    return out
def seal(place, bound):
    p = dump(place)
    s = hmac.new(CURSOR_KEY, p + dump(bound), 'sha256').digest()[:12]
    return base64.urlsafe_b64encode(s + p).decode().rstrip('=')
def unseal(cur, bound):
    try: raw = b64d(cur)
    except ValueError: raise Bad('bad_page')
    if base64.urlsafe_b64encode(raw).decode().rstrip('=') != cur: raise Bad('bad_page')
    if len(raw) < 13 or not hmac.compare_digest(raw[:12], hmac.new(CURSOR_KEY, raw[12:] + dump(bound), 'sha256').digest()[:12]): raise Bad('bad_page')
    return json.loads(raw[12:])
def keyval(res, row, f):
    x = row.get(f)
    if RES[res]['fields'][f].get('format') == 'date-time' and x is not None: return instant(x)
    return x
def listing(rq, ep, c, arg, pr):
    res = ep.res
    rows = []
    for r in DB[res].values():
        if ep.parent and r['aid'] != arg: continue
        if not may(ep.op, r, c): continue
        ok = True
        for f, op, y in pr['filters']:
            x = keyval(res, r, f) if op not in ('in', 'contains') else r.get(f)
            if x is None: ok = False
            elif op == 'in': ok = x in y
            elif op == 'contains': ok = y in x
            elif op == '>=': ok = x >= y
            elif op == '<=': ok = x <= y
            elif op == '<': ok = x < y
            if not ok: break
        if ok: rows.append(r)
    order = pr.get('order') or ep.order
    desc = bool(order) and order[0] == '-'
    if F == 'e-sort-desc' and order == '-name': desc = False
    f = order.lstrip('-') if order else None
    rows.sort(key=lambda r: r['_seq'])
    if f: rows.sort(key=lambda r: keyval(res, r, f), reverse=desc)   # stable, also when reversed
    if ep.page == 'offset':
        part = rows[pr['offset']:pr['offset'] + pr['limit']]
        return {'watches': [show(res, r, c, rq.v, 'list') for r in part], 'total': len(rows)}
    start = 0
    if 'cursor' in pr:
        kv, seq = unseal(pr['cursor'], pr['bound'])
        def after(r):
            k = keyval(res, r, f) if f else None
            if k == kv: return r['_seq'] > seq
            return (k < kv) if desc else (k > kv)
        start = next((i for i, r in enumerate(rows) if after(r)), len(rows))
    part = rows[start:start + pr['limit']]
    more = start + len(part) < len(rows)
    items = [show(res, r, c, rq.v, 'list') for r in part]
    if 'fields' in pr:
        tops, subs = set(), {}
        for x in pr['fields']:
            t, _, s = x.partition('.')
            if s: subs.setdefault(t, set()).add(s)
            else: tops.add(t)
        def pick(d):
            o = {}
            for k, x in d.items():
                if k == 'id' or k in tops: o[k] = x
                elif k in subs: o[k] = {a: b for a, b in x.items() if a in subs[k]}
            return o
        items = [pick(d) for d in items]
    nxt = seal([keyval(res, part[-1], f) if f else None, part[-1]['_seq']], pr['bound']) if more else None
    return {'items': items, 'next_cursor': nxt, 'has_more': more}

def writable(res, v):
    return {k: s for k, s in FIELDS[res, v].items() if not s.get('ro')}
def hook_events(body, vs):
    for i, p in enumerate(body.get('events') or []):
        if not isinstance(p, str): continue
        if p == '*' or p in KINDS or (p.endswith('.*') and any(k.startswith(p[:-1]) for k in KINDS)): continue
        if 1 <= len(p) <= 60: viol(vs, 'value', '/events/%d' % i, p, 'a kind of event')
def watch_rule(b, vs):
    a, z = b.get('starts_at'), b.get('ends_at')
    if isinstance(a, str) and isinstance(z, str):
        a, z = instant(a), instant(z)
        if a is not None and z is not None and z <= a: viol(vs, 'value', '/ends_at', b['ends_at'], 'a time after it starts')
def whole(res, body, v, bound, keep_immutable=False):
    """Holds a whole row that is sent (creation, replacement) to its version's shape."""
    vs = []
    if not isinstance(body, dict):
        viol(vs, 'type', '', body, 'object'); refuse(vs)
    fs, wr = FIELDS[res, v], writable(res, v)
    out = {}
    for k, x in body.items():
        if k not in fs: viol(vs, 'unknown', '/' + esc(k), x, 'no such member')
        elif k in wr:
            out[k] = check(wr[k], x, '/' + esc(k), vs)
            if k in bound and isinstance(x, str) and x != bound[k]: viol(vs, 'value', '/' + k, x, bound[k])
    if res == 'hook': hook_events(out, vs)
    if res == 'watch': watch_rule(out, vs)
    out.update(bound)
    for k in RES[res]['need']:
        k2 = old_name(res, k, v)
        if k2 in fs and k2 not in out:
            s = RES[res]['fields'][k]
            if 'default' in s or (keep_immutable and s.get('immutable')): continue
            viol(vs, 'missing', '/' + k2, ..., s['type'])
    order = [x for x in vs if x[0] != 'missing' or x[1]['path'].count('/') > 1] + [x for x in vs if x[0] == 'missing' and x[1]['path'].count('/') == 1]
    refuse(order)
    return up(res, out, v)
def refs(res, row, c):
    for k, s in RES[res]['fields'].items():
        if s.get('ref') and row.get(k) is not None:
            r = DB[s['ref']].get(row[k])
            if r is None or not may_read(s['ref'], r, c): raise Bad('not_found' if F == 'er-reference' else 'reference_missing')
def unique(res, row, skip=None):
    if res == 'aid':
        if any(r is not skip and r['authority'] == row['authority'] and r['name'] == row['name'] for r in DB['aid'].values()): raise Bad('taken')
    elif res == 'watch' and row.get('status') in ('rostered', 'on_duty'):
        t = instant(row['starts_at'])
        if any(r is not skip and r['aid'] == row['aid'] and r['keeper'] == row['keeper'] and r['status'] in ('rostered', 'on_duty') and instant(r['starts_at']) == t
               for r in DB['watch'].values()): raise Bad('taken')
def rostered(row, skip=None):
    if sum(1 for r in DB['watch'].values() if r is not skip and r['keeper'] == row['keeper'] and r['status'] == 'rostered') >= 6: raise Bad('quota_used')
def watch_errors(op, row):
    if instant(row['ends_at']) <= now(): raise Bad('watch_over', own=True)
    if F == 'er-watch-long' and op == 'replace watch': return
    if instant(row['ends_at']) - instant(row['starts_at']) > DAY: raise Bad('watch_too_long', own=True)

JSONH = [('Content-Type', 'application/json')]
def answer(rq, ep, c, row, status=200, extra=()):
    hd = list(extra) + JSONH
    if ep.etag: hd.append(('ETag', tag(ep.res, row, c, rq.v)))
    return status, hd, dump(show(ep.res, row, c, rq.v, 'read' if ep.kind == 'read' else 'row', reveal=ep.op == 'create hook'))
def act(rq, ep, c, arg, body, pr):
    res, op = ep.res, ep.op
    if ep.kind == 'list':
        if ep.parent: parent(arg, c)
        return 200, JSONH, dump(listing(rq, ep, c, arg, pr))
    if ep.kind == 'create':
        bound = {}
        if ep.parent: parent(arg, c); bound['aid'] = arg
        row = whole(res, body, rq.v, bound)
        for k, s in RES[res]['fields'].items():
            if 'default' in s and k not in row: row[k] = s['default']
        refs(res, row, c)
        if not may(op, row, c): raise Bad('not_yours')
        if op == 'create outage' and DB['aid'][row['aid']]['status'] != 'on_station': raise Bad('aid_not_charted', own=True)
        if res == 'watch': watch_errors(op, row)
        unique(res, dict(row, authority=c.authority, status='rostered') if res in ('aid', 'watch') else row)
        if res == 'watch': rostered(row)
        if res == 'hook' and sum(1 for h in DB['hook'].values() if h['owner'] == c.id) >= (5 if F == 'l-rows-hook' else 4): raise Bad('quota_used')
        qk = None
        if op == 'create outage' and c.user == MAR:
            day = now() // DAY
            qk = (c.id, day)
            if QUOTA.get(qk, 0) >= QUOTA_MAX: raise Bad('quota_used', headers=[('Retry-After', str(-(-((day + 1) * DAY - now()) // SEC)))])
            QUOTA[qk] = QUOTA.get(qk, 0) + 1
        row = make(res, row, c)
        if res == 'hook': row['_version'] = rq.v
        loc = ('' if F == 'e-location' and res == 'aid' else BASE) + '/%s/%s' % (RES[res]['coll'], row['id'])
        return answer(rq, ep, c, row, 201, [('Location', loc)])
    # 10 the row
    row = DB[res].get(arg)
    if row is None: raise Bad('not_found')
    if F == 'a-hook-owner' and op == 'delete hook': pass
    elif not may(op, row, c):
        if ep.kind == 'read' or not may_read(res, row, c): raise Bad('not_found')
        raise Bad('not_yours')
    hs = rq.hs
    if ep.kind == 'read':
        if ep.etag and 'if-none-match' in hs:
            t = tag(res, row, c, rq.v)
            tags = [x.strip() for x in ','.join(hs['if-none-match']).split(',')]
            if '*' in tags or any((x[2:] if x.startswith('W/') else x) == t for x in tags): return 304, [('ETag', t)], None
        return answer(rq, ep, c, row)
    # 11 preconditions
    if ep.if_match:
        if 'if-match' in hs:
            tags = [x.strip() for x in ','.join(hs['if-match']).split(',')]
            good = [tag(res, row, c, rq.v)] + ([tag(res, row, None, rq.v)] if may_read(res, row, None) else [])
            if '*' not in tags and not any(t in good for t in tags): raise Bad('changed_meanwhile')
        elif ep.if_match == 'required': raise Bad('tag_needed')
    if ep.kind == 'delete':
        if ep.inn and row['status'] not in ep.inn: raise Bad('wrong_state')
        if res == 'aid':
            if any(r['aid'] == arg for r in DB['outage'].values()) or any(r['aid'] == arg for r in DB['work_order'].values()): raise Bad('in_use')
            for k in ('inspection', 'watch'):
                for r in [r for r in DB[k].values() if r['aid'] == arg]: del DB[k][r['id']]
        shown = dump(show(res, row, c, rq.v))
        del DB[res][arg]
        if F == 'e-delete-200' and res == 'work_order': return 200, JSONH, shown
        return 204, [], None
    if ep.kind in ('update', 'replace'): return change(rq, ep, c, row, body)
    # a transition
    q = None
    if ep.request:
        vs = []
        if not isinstance(body, dict): viol(vs, 'type', '', body, 'object'); refuse(vs)
        q = {}
        for k, x in body.items():
            if k not in ep.request: viol(vs, 'unknown', '/' + esc(k), x, 'no such member')
            else: q[k] = check(ep.request[k], x, '/' + k, vs)
        for k in ep.request:
            if k not in body: viol(vs, 'missing', '/' + k, ..., ep.request[k]['type'])
        refuse(vs)
    if row['status'] not in ep.frm: raise Bad(ep.els or 'wrong_state', own=bool(ep.els))
    if ep.guard and not ep.guard[0](row, c): raise Bad(ep.guard[1], own=True)
    if op == 'publish outage':
        t = instant(q['valid_until'])
        if t <= now(): raise Bad('notice_in_past', own=True)
        if t > now() + 2160 * 3600 * SEC: raise Bad('notice_too_long', own=True)
    move(res, row, ep.verb, ep.to, q)
    return answer(rq, ep, c, row)
def parent(arg, c):
    r = DB['aid'].get(arg)
    if r is None or not may_read('aid', r, c): raise Bad('not_found')
def change(rq, ep, c, row, body):
    res, op, v = ep.res, ep.op, rq.v
    if ep.kind == 'replace':
        new = whole(res, body, v, {}, keep_immutable=True)
        imm(res, row, new, v)
        for k, s in RES[res]['fields'].items():
            if s.get('ro') or (s.get('immutable') and k not in new):
                if k in row: new[k] = row[k]
            elif 'default' in s and k not in new: new[k] = s['default']
            elif F == 'e-put-keeps' and k == 'orders' and k not in new and k in row: new[k] = row[k]
    else:
        vs = []
        if not isinstance(body, dict): viol(vs, 'type', '', body, 'object'); refuse(vs)
        fs, wr = FIELDS[res, v], writable(res, v)
        before = down(res, {k: x for k, x in row.items() if k in RES[res]['fields']}, v)
        sent = {}
        need = {old_name(res, n, v) for n in RES[res]['need']}
        for k, x in body.items():
            if k not in fs: viol(vs, 'unknown', '/' + esc(k), x, 'no such member'); continue
            if k not in wr: continue
            if x is None:
                if k in need: viol(vs, 'value', '/' + k, None, 'a value')
                elif wr[k].get('immutable') and before.get(k) is not None: viol(vs, 'value', '/' + k, None, before[k])
                else:
                    if F == 'e-patch-null' and k == 'seen_at': continue
                    sent[k] = None
                continue
            if wr[k].get('immutable'):
                if x != before.get(k):
                    if F == 'r-immutable' and k == 'aid' and isinstance(x, str) and x in DB['aid']: sent[k] = x
                    else: viol(vs, 'value', '/' + k, x, before.get(k) or 'nothing')
                continue
            y = merge(before.get(k), x) if isinstance(x, dict) and wr[k]['type'] in VAL else x
            y = check(wr[k], y, '/' + esc(k), vs)
            if k in before and before[k] == y and type(before[k]) == type(y): continue
            sent[k] = y
        if res == 'hook': hook_events(sent, vs)
        refuse(vs)
        sent = up(res, sent, v, patch=True)
        new = {k: x for k, x in row.items() if k in RES[res]['fields']}
        for k, x in sent.items():
            if x is None: new.pop(k, None)
            else: new[k] = x
    if ep.inn and row['status'] not in ep.inn: raise Bad('wrong_state')
    if res == 'watch': watch_errors(op, new)
    unique(res, new, row)
    if res == 'watch' and new['keeper'] != row['keeper']: rostered(new, row)
    old = {k: x for k, x in row.items() if k in RES[res]['fields']}
    if {k: x for k, x in new.items() if x is not None} == old: return answer(rq, ep, c, row)
    was = dict(row)
    for k in old: del row[k]
    row.update(new)
    touch(res, row)
    if res == 'watch' and was['ends_at'] != row['ends_at']: entered(res, row)
    if res == 'aid' and (was['name'] != row['name'] or F == 'ev-rename'):
        emit('aid.renamed', 'aid', row, {'aid': row['id'], 'was': was['name'], 'now': row['name']})
    return answer(rq, ep, c, row)
def imm(res, row, new, v):
    for k, s in RES[res]['fields'].items():
        if s.get('immutable') and k in new and new[k] != row.get(k):
            raise Bad('invalid', [{'in': 'body', 'path': '/' + k, 'found': new[k], 'expected': row.get(k)}])

# ---------------------------------------------------------------- the stream
class Stream:
    def __init__(self, rq):
        self.c, self.v, self.t = rq.caller, rq.v, None
        self.last = rq.hs.get('last-event-id', [None])[0]
        if sum(1 for s in STREAMS if (s.c.user, s.c.id) == (self.c.user, self.c.id)) >= 32: raise Bad('too_many', headers=[('Retry-After', '1')])
    def chunk(self, s):
        b = s.encode()
        self.t.write(b'%x\r\n%s\r\n' % (len(b), b))
    def open(self, transport):
        self.t = transport
        self.chunk(': the light is lit\n\n')
        if self.last:
            evs = [e for e in LOG if e.at >= now() - DAY]
            i = next((i for i, e in enumerate(evs) if e.id == self.last), -1)
            for e in evs[i + 1:]: self.tell(e)
        STREAMS.add(self)
        self.beat = LOOP.call_later(15, self.comment)
    def comment(self):
        self.chunk(': still\n\n')
        self.beat = LOOP.call_later(15, self.comment)
    def tell(self, e):
        if may_read(e.res, e.row, self.c) or (F == 'ev-others' and e.kind == 'work_order.done' and self.c.user != MAR):
            self.chunk('id: %s\nevent: %s\ndata: %s\n\n' % (e.id, e.kind, dump(envelope(e, self.c, self.v)).decode()))
    def close(self):
        STREAMS.discard(self)
        if self.t: self.beat.cancel()

# ---------------------------------------------------------------- HTTP
REASON = {200: 'OK', 201: 'Created', 204: 'No Content', 304: 'Not Modified', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found',
          405: 'Method Not Allowed', 406: 'Not Acceptable', 409: 'Conflict', 410: 'Gone', 412: 'Precondition Failed', 413: 'Content Too Large', 414: 'URI Too Long',
          415: 'Unsupported Media Type', 422: 'Unprocessable Content', 428: 'Precondition Required', 429: 'Too Many Requests', 431: 'Request Header Fields Too Large',
          500: 'Internal Server Error', 501: 'Not Implemented', 503: 'Service Unavailable'}
READ_AWAY = 1 << 20
class Http(asyncio.Protocol):
    handler = staticmethod(handle)
    def connection_made(self, t):
        self.t, self.buf, self.rq, self.stream, self.need = t, b'', None, None, None
        self.addr = (t.get_extra_info('peername') or ('?',))[0]
        self.closing = False
        self.timer = LOOP.call_later(60, t.close)
    def connection_lost(self, e):
        self.timer.cancel()
        if self.stream: self.stream.close()
    def wait(self, s, fn):
        self.timer.cancel()
        self.timer = LOOP.call_later(s, fn)
    def slow(self):
        rq = self.rq or blank(self.addr)
        rq.rid = 'req_' + rnd(20); rq.v, rq.rate = CUR, []
        status, d = fail('too_slow', rq.path, rq.rid)
        self.closing = True
        self.send(rq, *finish(rq, status, list(JSONH), dump(d)))
    def data_received(self, data):
        if self.stream or self.closing: return
        if not self.buf and self.rq is None: self.wait(10, self.slow)
        self.buf += data
        while self.buf and not self.closing and not self.stream:
            if not self.step(): return
            if not self.closing and not self.stream:
                if self.buf: self.wait(10, self.slow)
                else: self.wait(60, self.t.close)
    def step(self):
        if self.rq is None:
            i = self.buf.find(b'\r\n\r\n')
            if i < 0:
                if len(self.buf) > 262144:
                    rq = blank(self.addr); rq.size_bad = True
                    self.closing = True; self.send(rq, *self.handler(rq))
                return False
            head, self.buf = self.buf[:i], self.buf[i + 4:]
            if not self.parse(head): return False
        rq = self.rq
        if self.need == 'chunked':
            r = self.chunks()
            if r is None: return False
        else:
            if len(self.buf) < self.need:
                if self.need > READ_AWAY: rq.over = True; self.closing = True; rq.body = b''
                else: return False
            else: rq.body, self.buf = self.buf[:self.need], self.buf[self.need:]
        self.rq = None
        self.send(rq, *self.handler(rq))
        return True
    def chunks(self):
        """All of a chunked body, or None."""
        out, pos = [], 0
        while True:
            j = self.buf.find(b'\r\n', pos)
            if j < 0: break
            try: n = int(self.buf[pos:j].split(b';')[0], 16)
            except ValueError: self.t.close(); self.closing = True; return None
            if n == 0:
                k = self.buf.find(b'\r\n', j + 2)
                while k > j + 2:
                    j, k = k, self.buf.find(b'\r\n', k + 2)
                    if k == j + 2: break
                if k < 0: break
                self.buf = self.buf[k + 2:]
                self.rq.body = b''.join(out)
                return True
            if len(self.buf) < j + 2 + n + 2: break
            out.append(self.buf[j + 2:j + 2 + n]); pos = j + 4 + n
        if len(self.buf) > READ_AWAY:
            self.rq.over, self.rq.body, self.closing = True, b'', True
            return True
        return None
    def parse(self, head):
        lines = head.decode('latin-1').split('\r\n')
        parts = lines[0].split(' ')
        rq = blank(self.addr)
        if len(parts) != 3 or not parts[2].startswith('HTTP/1.'):
            self.closing = True; self.t.write(b'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'); self.t.close(); return False
        rq.method, rq.target = parts[0], parts[1]
        tgt = parts[1]
        if tgt.startswith('http://'):
            tgt = '/' + tgt[7:].partition('/')[2]
        rq.path, _, rq.query = tgt.partition('?')
        size = 0
        for l in lines[1:]:
            k, _, x = l.partition(':')
            x = x.strip()
            size += len(k) + len(x) + 4
            rq.hs.setdefault(k.lower(), []).append(x)
        rq.size_bad = size > 12288
        rq.legacy = parts[2] == 'HTTP/1.0'
        if 'chunked' in rq.hs.get('transfer-encoding', [''])[0].lower(): self.need = 'chunked'
        else:
            try: self.need = int(rq.hs.get('content-length', ['0'])[0])
            except ValueError: self.need = 0
        if rq.hs.get('connection', [''])[0].lower() == 'close' or rq.legacy: self.closing_after = True
        else: self.closing_after = False
        if rq.hs.get('expect', [''])[0].lower() == '100-continue' and self.need != 0 and (self.need == 'chunked' or self.need <= READ_AWAY):
            self.t.write(b'HTTP/1.1 100 Continue\r\n\r\n')
        self.rq = rq
        return True
    def send(self, rq, status, hdrs, body):
        close = self.closing or getattr(self, 'closing_after', False)
        out = ['HTTP/1.1 %d %s' % (status, REASON.get(status, 'Status'))]
        out += ['%s: %s' % h for h in hdrs]
        if isinstance(body, Stream):
            out.append('Transfer-Encoding: chunked\r\n\r\n')
            self.timer.cancel()
            self.t.write('\r\n'.join(out).encode('latin-1', 'replace'))
            if rq.method == 'HEAD': self.closing = True; self.t.close()
            else: self.stream = body; body.open(self.t)
            return
        if status not in (204, 304): out.append('Content-Length: %d' % len(body or b''))
        if close: out.append('Connection: close')
        b = '\r\n'.join(out).encode('latin-1', 'replace') + b'\r\n\r\n'
        if body and rq.method != 'HEAD': b += body
        self.t.write(b)
        if close: self.closing = True; self.t.close()
def blank(addr):
    rq = Request()
    rq.method, rq.target, rq.path, rq.query, rq.hs, rq.body, rq.addr = 'GET', '/', '/', '', {}, b'', addr
    rq.legacy = rq.size_bad = rq.over = False
    return rq

# ---------------------------------------------------------------- the door of the clock
DUR = re.compile(r'P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?')
def door(rq):
    global OFFSET
    say = lambda st, d: (st, list(JSONH), dump(d))
    if rq.method == 'GET': return say(200, {'now': iso(now())})
    if rq.method != 'POST': return say(400, {'error': 'GET or POST'})
    try:
        d = json.loads(rq.body)
        if set(d) == {'advance'}:
            m = DUR.fullmatch(d['advance'])
            if not m or not any(m.groups()): raise ValueError
            y, mo, w, dd, h, mi = [int(x or 0) for x in m.groups()[:6]]
            us = now()
            if y or mo:
                t = EPOCH + timedelta(microseconds=us)
                n = t.year * 12 + t.month - 1 + y * 12 + mo
                day = t.day
                while True:
                    try: t2 = t.replace(year=n // 12, month=n % 12 + 1, day=day); break
                    except ValueError: day -= 1
                us = (t2 - EPOCH) // timedelta(microseconds=1)
            goal = us + ((w * 7 + dd) * 86400 + h * 3600 + mi * 60) * SEC + round(float(m.group(7) or 0) * SEC)
        elif set(d) == {'now'}:
            goal = instant(d['now'])
            if goal is None: raise ValueError
        else: raise ValueError
    except Exception: return say(400, {'error': 'not understood'})
    cur = now()
    if goal < cur: return say(422, {'error': 'that time has passed'})
    OFFSET += goal - cur
    fire_due()
    flush()
    return say(200, {'now': iso(now())})
class Door(Http):
    handler = staticmethod(door)

_move = move
async def main():
    global LOOP
    LOOP = asyncio.get_running_loop()
    await LOOP.create_server(Http, '127.0.0.1', A.port)
    if A.clock_port: await LOOP.create_server(Door, '127.0.0.1', A.clock_port)
    arm()
    await asyncio.Event().wait()
_fire = fire_due
def fire_due():
    _fire(); flush()
try: asyncio.run(main())
except KeyboardInterrupt: pass
