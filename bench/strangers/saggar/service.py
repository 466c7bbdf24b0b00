#!/usr/bin/env python3
"""Saggar: shelf room in kilns, and custody of the wares in them. Standard library only; all in memory."""
import base64, bisect, calendar, datetime as dt, hashlib, heapq, hmac, http.client, json, math, random, re, socket
import socketserver, string, sys, threading, time, uuid
from collections import deque
from email.utils import formatdate
from urllib.parse import unquote, unquote_plus, urlsplit, quote

ARGS = sys.argv[1:]
def arg(name, default=None):
    return ARGS[ARGS.index(name) + 1] if name in ARGS else default
PORT, CLOCK_PORT, FAULT = int(arg('--port', '8080')), int(arg('--clock-port', '0')), arg('--fault')
def X(name):
    return FAULT == name

# ---------------------------------------------------------------- clock
OFFSET = 0.0
def now():
    return time.time() + OFFSET
def iso(t):
    d = dt.datetime.fromtimestamp(math.floor(t * 1000) / 1000, dt.timezone.utc)
    return d.strftime('%Y-%m-%dT%H:%M:%S.') + '%03dZ' % (d.microsecond // 1000)
RFC3339 = re.compile(r'^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$')
def instant(s):
    """seconds since 1970, or None"""
    m = RFC3339.match(s) if isinstance(s, str) else None
    if not m:
        return None
    y, mo, d, h, mi, se, fr, z = m.groups()
    try:
        sec = int(se)
        if sec > 59:
            return None
        base = dt.datetime(int(y), int(mo), int(d), int(h), int(mi), sec, tzinfo=dt.timezone.utc)
    except ValueError:
        return None
    t = base.timestamp() + float('0' + fr if fr else 0)
    if z not in 'Zz':
        oh, om = int(z[1:3]), int(z[4:6])
        if oh > 23 or om > 59:
            return None
        t -= (1 if z[0] == '+' else -1) * (oh * 3600 + om * 60)
    return t

# ---------------------------------------------------------------- errors
CODES = {
    'BODY_UNREADABLE': (400, 'The body cannot be read.'), 'BODY_FOREIGN': (415, 'Send application/json.'),
    'ANSWER_FOREIGN': (406, 'Answers are application/json.'), 'QUERY_UNFIT': (400, 'A parameter does not fit.'),
    'PAGE_UNFIT': (400, 'There is no such page.'), 'FIELD_ABSENT': (400, 'A field is missing.'),
    'FIELD_UNKNOWN': (400, 'There is no such field.'), 'FIELD_UNFIT': (422, 'A field does not fit.'),
    'NO_SUCH_PATH': (404, 'There is no such path.'), 'NO_SUCH_METHOD': (405, 'The path has no such method.'),
    'NO_SUCH_THING': (404, 'There is no such thing.'), 'THING_GONE': (410, 'It was deleted.'),
    'ADRIFT': (422, 'It refers to something that is not there.'), 'STILL_HELD': (409, 'Something still refers to it.'),
    'ALREADY_THERE': (409, 'There is one already.'), 'WHO_ARE_YOU': (401, 'Show a key or a login.'),
    'KEY_UNFIT': (401, 'What was shown is not good.'), 'NO_SCOPE': (403, 'A scope is lacking.'),
    'NOT_FOR_YOU': (403, 'That is not for you.'), 'WRONG_STATE': (409, 'It is in another state.'),
    'STALE': (412, 'It has been changed.'), 'TAG_NEEDED': (428, 'Send If-Match.'),
    'ONCE_REUSED': (422, 'Saggar-Once was used for something else.'), 'ONCE_BUSY': (409, 'Try again.'),
    'TOO_FAST': (429, 'Too many requests.'), 'USED_UP': (429, 'There is no more.'),
    'URL_TOO_LONG': (414, 'The address is too long.'), 'HEADERS_TOO_LARGE': (431, 'The header is too large.'),
    'BODY_TOO_LARGE': (413, 'The body is too large.'), 'TOO_SLOW': (408, 'It took too long.'),
    'OUT_OF_ORDER': (503, 'Out of order.'), 'BROKEN': (500, 'Something broke.'),
    'EDITION_UNKNOWN': (400, 'There is no such edition.'), 'EDITION_OVER': (410, 'That edition is over.'),
    'KILN_BUSY': (409, 'A firing is still planned or under way.'), 'NOTHING_TO_FIRE': (409, 'No ware has been accepted.'),
    'KILN_FULL': (409, 'There is not so much room left.'), 'STILL_HOT': (409, 'The kiln has not been opened.'),
    'TOO_LATE': (409, 'It is too late for that.'), 'KILN_LAID_UP': (409, 'The kiln is laid up.'),
    'TOO_HOT': (422, 'The kiln does not get so hot.'), 'TOO_HOT_NOW': (422, 'The kiln does not get so hot.'),
    'FIRING_CLOSED': (409, 'That firing takes no more wares.'), 'TOO_BIG': (422, 'It is larger than the kiln.'),
}
OWN = {'KILN_BUSY', 'NOTHING_TO_FIRE', 'KILN_FULL', 'STILL_HOT', 'TOO_LATE', 'KILN_LAID_UP', 'TOO_HOT', 'TOO_HOT_NOW', 'FIRING_CLOSED', 'TOO_BIG'}
STATUS_FAULTS = {  # a wrong status for a right refusal
    'status-unfit-field-400': ('FIELD_UNFIT', 400), 'status-absent-field-422': ('FIELD_ABSENT', 422),
    'status-stale-409': ('STALE', 409), 'status-held-400': ('STILL_HELD', 400), 'status-gone-404': ('THING_GONE', 404),
    'status-adrift-404': ('ADRIFT', 404), 'status-wrong-state-400': ('WRONG_STATE', 400), 'status-exists-422': ('ALREADY_THERE', 422),
    'status-not-for-you-401': ('NOT_FOR_YOU', 401), 'status-full-422': ('KILN_FULL', 422), 'status-used-up-403': ('USED_UP', 403),
    'status-foreign-400': ('BODY_FOREIGN', 400), 'status-url-400': ('URL_TOO_LONG', 400), 'status-tag-needed-412': ('TAG_NEEDED', 412),
}
class Refusal(Exception):
    def __init__(self, code, spots=None, headers=None):
        self.code, self.spots, self.headers = code, spots, headers or {}

# ---------------------------------------------------------------- shapes
class F:
    def __init__(self, name, type, req=False, ro=False, **k):
        self.name, self.type, self.req, self.ro = name, type, req, ro
        self.k = k
        self.immutable = k.get('immutable', False)
        self.default = k.get('default')
        self.stoker_only = k.get('stoker_only', False)
        self.once = k.get('once', False)
SITE = [F('street', 'string', True, min=1, max=80), F('town', 'string', True, min=1, max=40), F('gate', 'integer', min=1, max=99)]
WORTH = [F('pence', 'integer', True, min=1, max=5000000), F('currency', 'string', True, enum=['GBP', 'EUR'])]
NO_PATTERN = X('code-pattern-dropped')
SPEC = {
    'kiln': [
        F('code', 'string', True, **({} if NO_PATTERN else {'pattern': r'^[A-Z]{2}[0-9]{2}$'})),
        F('label', 'string', True, min=2 if X('label-min-off-by-one') else 3, max=41 if X('label-max-off-by-one') else 40),
        F('litres', 'integer', True, min=20, max=2000),
        F('fuel', 'string', True, enum=['electric', 'gas', 'wood'], default='gas' if X('fuel-default-gas') else 'electric'),
        F('peak_c', 'integer', True, min=599 if X('peak-min-off-by-one') else 600, max=1400),
        F('site', 'map', True, fields=SITE),
        F('remark', 'string', max=200, stoker_only=True),
        F('state', 'string', True, True), F('busy', 'integer', True, True, derived=True),
        F('entered_at', 'string', True, True), F('changed_at', 'string', True, True)],
    'firing': [
        F('id', 'string', True, True), F('number', 'integer', True, True),
        F('kiln', 'string', True, ref='kiln', immutable=True),
        F('kind', 'string', True, enum=['bisque', 'glaze', 'raku']),
        F('top_c', 'integer', True, min=600, max=1400),
        F('lights_at', 'string', True, **({} if X('lights-at-any-text') else {'format': 'date-time'})),
        F('shuts_at', 'string', format='date-time'), F('memo', 'string', max=120),
        F('capacity', 'integer', True, True), F('accepted', 'integer', True, True, derived=True),
        F('litres_left', 'integer', True, True, derived=True), F('phase', 'string', True, True),
        F('stoker', 'string', True, True), F('lit_at', 'string', ro=True), F('doused_at', 'string', ro=True),
        F('opened_at', 'string', ro=True), F('why', 'string', ro=True), F('changed_at', 'string', True, True)],
    'ware': [
        F('id', 'integer', True, True), F('firing', 'string', True, ref='firing', immutable=True),
        F('potter', 'string', True, X('potter-taken-from-body') is False), F('guild', 'string', True, True),
        F('title', 'string', True, min=2, max=60), F('litres', 'integer', True, min=1, max=501 if X('ware-litres-max-off-by-one') else 500),
        F('clay', 'string', not X('clay-optional'), **({} if X('clay-any') else {'enum': ['stoneware', 'porcelain', 'earthenware']})),
        F('ticket', 'string', pattern=r'^[a-z0-9-]{4,20}$', immutable=not X('ticket-mutable')),
        F('marks', 'list', item=F('', 'string', min=1, max=12), maxItems=5 if X('marks-max-off-by-one') else 4, unique=not X('marks-duplicates')),
        F('fragile', 'boolean', True, default=False), F('insured', 'map', fields=WORTH),
        F('beside', 'integer', ref='ware'), F('shelf', 'integer', ro=True, stoker_only=not X('shelf-shown-to-potters')),
        F('claim', 'string', True, True, once=not X('claim-shown-again')), F('reason', 'string', ro=True), F('taken_by', 'string', ro=True),
        F('state', 'string', True, True), F('cracks', 'integer', True, True, derived=True),
        F('offered_at', 'string', True, True), F('changed_at', 'string', True, True)],
    'crack': [
        F('id', 'string', True, True), F('ware', 'integer', True, ref='ware', immutable=True),
        F('text', 'string', True, min=1, max=240), F('grade', 'integer', True, min=1, max=6 if X('grade-max-six') else 5, default=1),
        F('seen_by', 'string', True, True), F('seen_at', 'string', True, True)],
    'hook': [
        F('id', 'string', True, True), F('owner', 'string', True, True), F('url', 'string', True, format='uri', max=300),
        F('seal', 'string', True, True, once=not X('seal-shown-again')), F('kinds', 'list', item=F('', 'string'), maxItems=10),
        F('live', 'boolean', True, default=True), F('made_at', 'string', True, True)],
    'happening': [F(n, 'string', n != 'by', True) for n in ('id', 'kind', 'thing', 'about', 'by', 'at')],
}
if X('pence-as-text'):
    WORTH[0].type = 'text-number'
if X('gate-unbounded'):
    SITE[2].k.pop('max')
if X('site-extra-passes'):
    SITE.append(F('*', 'any'))
OLD, NEW = '2025-09', '2026-04'
def wire_name(res, name, version):
    return 'volume' if res == 'ware' and name == 'litres' and version == OLD and not X('old-rename-forgotten') else name
def wire_specs(res, version):
    for f in SPEC[res]:
        if version == OLD and res == 'ware' and f.name == 'fragile':
            continue
        yield wire_name(res, f.name, version), f
WIRE = {(r, v): dict(wire_specs(r, v)) for r in SPEC for v in (OLD, NEW)}
def up_value(res, f, v, version):
    if version == OLD and res == 'kiln' and f.name == 'fuel' and v == 'mains':
        return 'electric'
    return v
def down_value(res, f, v, version):
    if version == OLD and res == 'kiln' and f.name == 'fuel' and v == 'electric' and not X('old-fuel-not-mapped'):
        return 'mains'
    return v

def kind_of(v):
    if v is None: return 'null'
    if isinstance(v, bool): return 'boolean'
    if isinstance(v, int): return 'integer'
    if isinstance(v, float): return 'number'
    if isinstance(v, str): return 'string'
    return 'list' if isinstance(v, list) else 'map'
URI = re.compile(r'^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]*$')
def bad(out, kind, path, found, expected):
    out.append((kind, {'in': 'body', 'path': path, 'found': str(found)[:60], 'expected': expected}))
def check(f, v, path, out, enum=None):
    """appends what is wrong with a value"""
    k = f.k
    t = kind_of(v)
    if f.type == 'text-number':
        if t == 'integer' or (t == 'string' and v.isdigit()):
            return
    if f.type == 'any':
        return
    want = f.type
    if want == 'integer' and t == 'number' and abs(v) < 1e15 and v == int(v):
        t, v = 'integer', int(v)
    if t != want:
        return bad(out, 'type', path, t, want)
    if t == 'string':
        if len(v) < k.get('min', 0) or len(v) > k.get('max', 1 << 30):
            return bad(out, 'value', path, 'a text of %d' % len(v), 'another length')
        if 'pattern' in k and not re.match(k['pattern'].replace('$', r'\Z'), v):
            return bad(out, 'value', path, v, k['pattern'])
        if k.get('format') == 'date-time' and instant(v) is None:
            return bad(out, 'value', path, v, 'a date-time')
        if k.get('format') == 'uri':
            try:
                u = urlsplit(v)
                ok = v.isascii() and URI.match(v) and u.scheme.lower() in ('http', 'https') and u.hostname
                u.port
            except ValueError:
                ok = False
            if not ok:
                return bad(out, 'value', path, v, 'an address')
        e = enum or k.get('enum')
        if e and v not in e:
            return bad(out, 'value', path, v, ' or '.join(e))
    elif t == 'integer':
        if v < k.get('min', -1 << 80) or v > k.get('max', 1 << 80):
            return bad(out, 'value', path, v, 'a number within bounds')
    elif t == 'list':
        if len(v) > k.get('maxItems', 1 << 30):
            return bad(out, 'value', path, '%d items' % len(v), 'fewer items')
        for i, x in enumerate(v):
            check(k['item'], x, '%s.%d' % (path, i), out)
        if k.get('unique') and len({json.dumps(x, sort_keys=True) for x in v}) < len(v):
            bad(out, 'value', path, 'the same twice', 'different items')
    elif t == 'map':
        known = {g.name: g for g in k['fields']}
        for n, x in v.items():
            if n not in known:
                if '*' not in known:
                    bad(out, 'unknown', path + '.' + n, 'a field', 'no such field')
            else:
                check(known[n], x, path + '.' + n, out)
        for g in k['fields']:
            if g.req and g.name not in v:
                bad(out, 'missing', path + '.' + g.name, 'nothing', g.type)
def norm(f, v):
    """2.0 is 2"""
    if f.type == 'integer' and isinstance(v, float):
        return int(v)
    if f.type == 'map' and isinstance(v, dict):
        g = {x.name: x for x in f.k['fields']}
        return {n: norm(g[n], x) if n in g else x for n, x in v.items()}
    return v
def refuse_invalid(out):
    if out:
        code = {'missing': 'FIELD_ABSENT', 'unknown': 'FIELD_UNKNOWN'}.get(out[0][0], 'FIELD_UNFIT')
        if X('unknown-field-named-unfit') and code == 'FIELD_UNKNOWN':
            code = 'FIELD_UNFIT'
        raise Refusal(code, [v for _, v in out])

# ---------------------------------------------------------------- callers
class Caller:
    def __init__(self, user, id, scopes, guild):
        self.user, self.id, self.scopes, self.guild = user, id, scopes, guild
        self.key = user + ' ' + id
KEYS = {
    'sgk_Wren0aaaaaaaaaaaaaaaaaaa': ('potter', 'wren', [], 'north'),
    'sgk_Moss0aaaaaaaaaaaaaaaaaaa': ('potter', 'moss', [], 'north'),
    'sgk_Teal0aaaaaaaaaaaaaaaaaaa': ('potter', 'teal', [], 'south'),
    'sgk_Ember0aaaaaaaaaaaaaaaaaa': ('stoker', 'ember', ['kilns', 'log'], 'yard'),
    'sgk_Ash0aaaaaaaaaaaaaaaaaaaa': ('stoker', 'ash', [], 'yard'),
}
LOGINS = {('ember', 'glow-of-1280'): ('stoker', 'ember', ['kilns', 'log'], 'yard'), ('wren', 'mud-and-feathers'): ('potter', 'wren', [], 'north')}

RULES = {  # operation: [(user or None, scope or None, condition or None, fields or None)]
    'list kiln': [(None, None, None, None)], 'read kiln': [(None, None, None, None)],
}
for _op in ('create kiln', 'replace kiln', 'delete kiln', 'lay_up kiln', 'relight kiln'):
    RULES[_op] = [('stoker', 'kilns', None, None)]
for _op in ('create firing', 'update firing', 'delete firing', 'light firing', 'douse firing', 'call_off firing'):
    RULES[_op] = [('stoker', None, None, None)]
for _op in ('list firing', 'kiln firings', 'read firing'):
    RULES[_op] = [('potter', None, None, None), ('stoker', None, None, None)]
RULES['create ware'] = [('potter', None, None, None)]
SUBSET = ['id', 'firing', 'potter', 'guild', 'title', 'litres', 'state']
OWN_WARE = lambda r, c: r['potter'] == c.id
GUILD = lambda r, c: r['guild'] == c.guild
for _op in ('list ware', 'read ware'):
    RULES[_op] = [('potter', None, OWN_WARE, None), ('potter', None, GUILD, SUBSET), ('stoker', None, None, None)]
for _op in ('accept ware', 'refuse ware'):
    RULES[_op] = [('stoker', None, None, None)]
for _op in ('update ware', 'delete ware', 'withdraw ware', 'collect ware'):
    RULES[_op] = [('potter', None, OWN_WARE, None)]
RULES['collect ware'].append(('stoker', None, None, None))
RULES['create crack'] = [('stoker', None, None, None)]
def OWN_CRACK(r, c):
    w = T['ware'].get(r['ware'])
    return w is not None and w['potter'] == c.id
for _op in ('list crack', 'read crack'):
    RULES[_op] = [('potter', None, OWN_CRACK, None), ('stoker', None, None, None)]
RULES['delete crack'] = [('stoker', None, lambda r, c: r['seen_by'] == c.id, None)]
RULES['create hook'] = [('potter', None, None, None), ('stoker', None, None, None)]
for _op in ('list hook', 'read hook', 'update hook', 'delete hook'):
    RULES[_op] = [(u, None, lambda r, c: r['owner'] == c.id, None) for u in ('potter', 'stoker')]
for _op in ('list happening', 'read happening'):
    RULES[_op] = [('stoker', 'log', None, None)]
# faults among rules
if X('guild-mates-may-withdraw'): RULES['withdraw ware'] = [('potter', None, GUILD, None)]
if X('guild-mates-may-update'): RULES['update ware'] = [('potter', None, GUILD, None)]
if X('guild-mates-may-collect'): RULES['collect ware'][0] = ('potter', None, GUILD, None)
if X('anyone-deletes-crack'): RULES['delete crack'] = [('stoker', None, None, None)]
if X('kilns-scope-forgotten'): RULES['create kiln'] = [('stoker', None, None, None)]
if X('lay-up-scope-forgotten'): RULES['lay_up kiln'] = [('stoker', None, None, None)]
if X('log-scope-forgotten'): RULES['list happening'] = [('stoker', None, None, None)]
if X('log-open-to-potters'): RULES['read happening'] = RULES['read happening'] + [('potter', None, None, None)]
if X('potter-lights'): RULES['light firing'] = [('stoker', None, None, None), ('potter', None, None, None)]
if X('stoker-cannot-collect'): RULES['collect ware'].pop()
if X('all-wares-readable'): RULES['read ware'] = [('potter', None, None, None), ('stoker', None, None, None)]
if X('ware-list-leaks'): RULES['list ware'] = [('potter', None, None, None), ('stoker', None, None, None)]
if X('hook-list-leaks'): RULES['list hook'] = [(u, None, None, None) for u in ('potter', 'stoker')]
if X('hook-delete-any'): RULES['delete hook'] = [(u, None, None, None) for u in ('potter', 'stoker')]
if X('crack-list-leaks-to-guild'): RULES['list crack'] = [('potter', None, None, None), ('stoker', None, None, None)]
if X('guild-sees-all-fields'):
    for _op in ('list ware', 'read ware'): RULES[_op][1] = ('potter', None, GUILD, None)
if X('kilns-need-login'):
    RULES['list kiln'] = [('potter', None, None, None), ('stoker', None, None, None)]
if X('potter-accepts'): RULES['accept ware'] = [('stoker', None, None, None), ('potter', None, OWN_WARE, None)]

def rules_for(op, caller):
    return [r for r in RULES[op] if r[0] is None or (caller and caller.user == r[0])]
def holds(op, row, caller):
    out = []
    for u, sc, cond, fields in rules_for(op, caller):
        if sc and sc not in caller.scopes:
            continue
        if cond is None or cond(row, caller):
            out.append(fields)
    return out
def may(op, row, caller):
    return bool(holds(op, row, caller))
def may_read(res, row, caller):
    return may('read ' + res, row, caller)

# ---------------------------------------------------------------- store
T = {r: {} for r in SPEC}
SEQ = 0
IDX = {'firing.kiln': {}, 'ware.firing': {}, 'crack.ware': {}, 'ware.beside': {}}
COUNTS, WARE_ID = {}, 0
GONE = {}  # cracks that were deleted: id -> (row, until)
LOG = deque()
LOCK = threading.RLock()
KILN_LABELS, TICKETS = {}, {}
TIMERS, TSEQ = [], 0

def rnd(alphabet, n):
    return ''.join(random.choices(alphabet, k=n))
LOW = string.ascii_lowercase + string.digits
def timer(due, what, res, id, token):
    global TSEQ
    TSEQ += 1
    heapq.heappush(TIMERS, (due, TSEQ, what, res, id, token))
    with TICK:
        TICK.notify()
TICK = threading.Condition()

KEY = {'kiln': 'code'}
def key_of(res, row):
    return row[KEY.get(res, 'id')]
def insert(res, row):
    global SEQ
    SEQ += 1
    row['_seq'], row['_res'] = SEQ, res
    T[res][key_of(res, row)] = row
    for name in IDX:
        r, f = name.split('.')
        if r == res and f in row:
            IDX[name].setdefault(row[f], set()).add(key_of(res, row))
def remove(res, row):
    T[res].pop(key_of(res, row), None)
    for name in IDX:
        r, f = name.split('.')
        if r == res and f in row:
            IDX[name].get(row[f], set()).discard(key_of(res, row))
def referring(name, id):
    r = name.split('.')[0]
    return sorted((T[r][k] for k in IDX[name].get(id, ())), key=lambda x: x['_seq'])
def derive(res, row):
    if res == 'kiln':
        phases = ('planned', 'alight') if X('busy-forgets-cooling') else ('planned', 'alight', 'cooling')
        row['busy'] = sum(1 for f in referring('firing.kiln', row['code']) if f['phase'] in phases)
    elif res == 'firing':
        ws = referring('ware.firing', row['id'])
        row['accepted'] = sum(1 for w in ws if w['state'] == 'accepted' or (X('accepted-counts-offers') and w['state'] == 'offered'))
        states = ('accepted', 'fired', 'collected')
        if X('room-back-after-firing'): states = ('accepted',)
        if X('room-taken-by-offers'): states += ('offered',)
        row['litres_left'] = row['capacity'] - sum(w['litres'] for w in ws if w['state'] in states)
    elif res == 'ware':
        row['cracks'] = len(IDX['crack.ware'].get(row['id'], ()))
        if X('cracks-count-stuck'): row['cracks'] = min(row['cracks'], 1)
    return row

def show(res, row, user, version, fields=None, once=False):
    """the row as it is told: fields None = all"""
    derive(res, row)
    out = {}
    for wire, f in WIRE[res, version].items():
        if f.name not in row or row[f.name] is None:
            continue
        if fields is not None and f.name not in fields:
            continue
        if f.stoker_only and user != 'stoker' and not (X('remark-shown-to-all') and f.name == 'remark'):
            continue
        if f.once and not once:
            continue
        out[wire] = down_value(res, f, row[f.name], version)
    return out
def shown_fields(op, row, caller):
    fs = holds(op, row, caller)
    if any(f is None for f in fs):
        return None
    out = set()
    for f in fs:
        out |= set(f)
    return out
def represent(res, row, caller, version, once=False, op=None):
    return show(res, row, caller.user if caller else None, version, shown_fields(op or 'read ' + res, row, caller), once)
def etag_of(res, row, caller, version):
    body = represent(res, row, caller, version)
    if X('etag-ignores-derived'):
        for n in ('busy', 'accepted', 'litres_left'): body.pop(n, None)
    if X('etag-constant') : body = {'id': key_of(res, row)}
    return '"' + hashlib.sha256((version + json.dumps(body, sort_keys=True)).encode()).hexdigest()[:22] + '"'

# ---------------------------------------------------------------- events
KINDS = ['kiln.entered', 'kiln.relabelled', 'firing.planned', 'firing.lit', 'firing.opened', 'firing.off', 'firing.soon', 'ware.offered',
         'ware.judged', 'ware.bumped', 'ware.fired', 'ware.gone', 'ware.deleted', 'crack.seen', 'hook.dead']
def known_kind(k):
    if k == '*' or k in KINDS: return True
    return k.endswith('.*') and any(x.startswith(k[:-1]) for x in KINDS)
def lists_kind(hook, kind):
    ks = hook.get('kinds')
    if ks is None or X('hook-kinds-ignored'): return True
    if X('wildcard-ignored'): return kind in ks
    return any(k == '*' or k == kind or (k.endswith('.*') and kind.startswith(k[:-1])) for k in ks)
def emit(kind, res, row, caller, data=None):
    """data None = the row itself; else a function of the hook's owner"""
    if X('no-' + kind.replace('.', '-')): return
    twice = X('twice-' + kind.replace('.', '-'))
    for _ in range(2 if twice else 1):
        emit_one(kind, res, row, caller, data)
def emit_one(kind, res, row, caller, data):
    t = now()
    eid = 'hap_' + rnd(LOW, 16)
    entry = {'id': eid, 'kind': kind, 'thing': res, 'about': str(key_of(res, row)), 'at': iso(t)}
    if X('log-without-about'): entry['about'] = res
    if caller and not X('log-without-by'): entry['by'] = caller.id
    purge_log()
    if not X('log-forgets-bumps') or kind != 'ware.bumped':
        insert('happening', entry)
        LOG.append((t, eid))
    for hook in list(T['hook'].values()):
        if (not hook['live'] and not X('dead-hooks-told')) or not lists_kind(hook, kind):
            continue
        owner = hook['_owner']
        if not may_read(res, row, owner) and not X('events-to-everyone'):
            continue
        version = NEW if X('hooks-always-new-edition') else hook['_version']
        if data is None:
            fields = None
            if res == 'ware' and owner.user == 'potter' and not X('event-shows-all-fields'):
                fields = SUBSET
            payload = show(res, row, owner.user, version, fields, once=X('claim-in-events'))
            if X('payload-drops-number'): payload.pop('number', None)
        else:
            payload = data
        env = {'no': eid, 'what': kind, 'when': iso(t), 'body': payload}
        if X('envelope-without-when'): env.pop('when')
        DELIVER.add(hook, str(key_of(res, row)) if not X('order-lost') else eid, kind, eid, json.dumps(env).encode())
def purge_log():
    limit = now() - (3 if X('log-kept-three-days') else 30) * 86400
    if X('log-kept-forever'): return
    while LOG and LOG[0][0] <= limit:
        _, i = LOG.popleft()
        T['happening'].pop(i, None)

RETRY = [10, 120, 1200]
if X('retry-thrice-fast'): RETRY = [10, 10, 10]
if X('no-retry'): RETRY = []
if X('one-retry-too-few'): RETRY = [10, 120]
class Deliveries:
    def __init__(self):
        self.cv = threading.Condition()
        self.chains = {}   # (hook id, row) -> deque of deliveries
        self.heap, self.seq = [], 0
        self.ready = deque()
        self.started = False
    def start(self):
        if not self.started:
            self.started = True
            for _ in range(8):
                threading.Thread(target=self.work, daemon=True).start()
    def add(self, hook, row, kind, eid, body):
        self.start()
        d = {'hook': hook['id'], 'row': row, 'kind': kind, 'no': eid, 'body': body, 'tries': 0}
        with self.cv:
            chain = self.chains.setdefault((hook['id'], row), deque())
            chain.append(d)
            if len(chain) == 1:
                self.push(now(), d)
            self.cv.notify()
    def push(self, due, d):
        self.seq += 1
        heapq.heappush(self.heap, (due, self.seq, d))
    def work(self):
        while True:
            with self.cv:
                while not (self.heap and self.heap[0][0] <= now()):
                    wait = min(self.heap[0][0] - now(), 30) if self.heap else 30
                    self.cv.wait(max(wait, 0.005))
                _, _, d = heapq.heappop(self.heap)
            try:
                self.attempt(d)
            except Exception as e:
                print('delivery', repr(e), file=sys.stderr)
    def attempt(self, d):
        hook = T['hook'].get(d['hook'])
        if hook is None or not hook['live'] and not X('dead-hooks-told'):
            return self.drop(d['hook'])
        wait_until = hook.get('_wait', 0)
        if wait_until > now():
            with self.cv:
                return self.push(wait_until, d)
        status, after = self.post(hook, d)
        good = status is not None and 200 <= status < 300
        if X('redirect-counts-as-taken') and status is not None and 300 <= status < 400: good = True
        if X('client-error-counts-as-taken') and status is not None and 400 <= status < 500: good = True
        t = now()
        with LOCK:
            hook = T['hook'].get(d['hook'])
            if hook is None:
                return self.drop(d['hook'])
            if good:
                hook['_failing'] = None
            else:
                if hook.get('_failing') is None: hook['_failing'] = t
                over = t - hook['_failing'] >= 7200 and not X('never-disabled')
                if (status == 410 and not X('gone-receiver-kept')) or over:
                    hook['live'] = False
                    self.drop(d['hook'])
                    emit('hook.dead', 'hook', hook, None)
                    return
                if after: hook['_wait'] = t + min(after, 86400)
        with self.cv:
            d['tries'] += 1
            if not good and d['tries'] <= len(RETRY):
                if X('new-id-each-try'):
                    e = json.loads(d['body']); e['no'] = d['no'] = 'hap_' + rnd(LOW, 16); d['body'] = json.dumps(e).encode()
                return self.push(t + max(RETRY[d['tries'] - 1], after or 0), d)
            chain = self.chains.get((d['hook'], d['row']))
            if chain and chain[0] is d:
                chain.popleft()
                if chain: self.push(now(), chain[0])
                else: self.chains.pop((d['hook'], d['row']), None)
            self.cv.notify()
    def drop(self, hook):
        with self.cv:
            for k in [k for k in self.chains if k[0] == hook]:
                del self.chains[k]
            self.heap = [x for x in self.heap if x[2]['hook'] != hook]
            heapq.heapify(self.heap)
    def post(self, hook, d):
        ts = str(int(now()))
        secret = hook['seal'].encode()
        base = ts.encode() + b'.' + d['no'].encode() + b'.' + d['body']
        if X('signature-without-id'): base = ts.encode() + b'.' + d['body']
        if X('signature-of-hook-id'): secret = hook['id'].encode()
        sig = hmac.new(secret, base, hashlib.sha256).hexdigest()
        headers = {'Content-Type': 'application/json', 'X-Saggar-Seal': 't=%s,s=%s' % (ts, sig), 'X-Saggar-Kind': d['kind']}
        if X('kind-header-lost'): headers.pop('X-Saggar-Kind')
        if X('seal-header-renamed'): headers['X-Seal'] = headers.pop('X-Saggar-Seal')
        try:
            u = urlsplit(hook['url'])
            C = http.client.HTTPSConnection if u.scheme.lower() == 'https' else http.client.HTTPConnection
            c = C(u.hostname, u.port, timeout=5)
            try:
                c.request('POST', (u.path or '/') + ('?' + u.query if u.query else ''), d['body'], headers)
                r = c.getresponse()
                ra = r.getheader('Retry-After')
                return r.status, int(ra) if ra and ra.isdigit() else None
            finally:
                c.close()
        except Exception:
            return None, None
    def nudge(self):
        with self.cv:
            self.cv.notify_all()
DELIVER = Deliveries()

# ---------------------------------------------------------------- changes
def stamp(row):
    if not X('changed-at-frozen'): row['changed_at'] = iso(now())
def move_ware(w, to, caller, kind=None):
    w['state'] = to
    stamp(w)
    if to == 'fired':
        w['_epoch'] = w.get('_epoch', 0) + 1
        timer(now() + (6 if X('forfeit-after-six-days') else 60) * 86400, 'forfeit', 'ware', w['id'], w['_epoch'])
    if kind: emit(kind, 'ware', w, caller)
def ware_gone(w, caller):
    how = w['state']
    if X('gone-how-always-collected'): how = 'collected'
    emit('ware.gone', 'ware', w, caller, {'ware': w['id'], 'how': how})
def bump_all(f, caller, states=('offered', 'accepted')):
    for w in referring('ware.firing', f['id']):
        if w['state'] in states:
            move_ware(w, 'bumped', caller, 'ware.bumped')
def firing_off(f, caller):
    emit('firing.off', 'firing', f, caller, {'firing': f['id'], 'kiln': f['kiln'], 'lapsed': f['phase'] == 'lapsed' and not X('lapsed-told-as-called-off')})
def plan_timers(f, before=None):
    if f.get('shuts_at') and (before is None or before.get('shuts_at') != f['shuts_at']):
        timer(instant(f['shuts_at']), 'lapse', 'firing', f['id'], f['shuts_at'])
    if before is None or instant(before['lights_at']) != instant(f['lights_at']):
        if X('soon-not-replanned') and before is not None: return
        timer(instant(f['lights_at']) - (2 if X('soon-two-hours') else 24) * 3600, 'soon', 'firing', f['id'], instant(f['lights_at']))
def run_timers():
    while TIMERS and TIMERS[0][0] <= now():
        due, _, what, res, id, token = heapq.heappop(TIMERS)
        row = T[res].get(id) if res != 'gone' else None
        if what == 'purge':
            g = GONE.get(id)
            if g and g[1] <= now(): GONE.pop(id, None)
            continue
        if row is None: continue
        if what == 'open' and row['phase'] == 'cooling':
            row['phase'] = 'opened'
            if not X('opened-at-missing'): row['opened_at'] = iso(now())
            stamp(row)
            emit('firing.opened', 'firing', row, None)
        elif what == 'lapse' and row['phase'] == 'planned' and row.get('shuts_at') == token and not X('never-lapses'):
            row['phase'] = 'called_off' if X('lapse-calls-off') else 'lapsed'
            stamp(row)
            firing_off(row, None)
            if not X('lapse-forgets-wares'): bump_all(row, None)
        elif what == 'soon' and instant(row['lights_at']) == token:
            if token in row.setdefault('_soon', set()): continue
            row['_soon'].add(token)
            emit('firing.soon', 'firing', row, None)
        elif what == 'forfeit' and row['state'] == 'fired' and row.get('_epoch') == token:
            row['state'] = 'forfeited'
            stamp(row)
            ware_gone(row, None)
def ticker():
    while True:
        with LOCK:
            run_timers()
            wait = TIMERS[0][0] - now() if TIMERS else 5
        with TICK:
            TICK.wait(min(max(wait, 0.005), 0.5))

# ---------------------------------------------------------------- requests
BASE = '/yard'
ROUTES = [
    ('GET', '/about', 'about'), ('GET', '/kilns', 'list kiln'), ('POST', '/kilns', 'create kiln'), ('GET', '/kilns/{}', 'read kiln'),
    ('PUT', '/kilns/{}', 'replace kiln'), ('DELETE', '/kilns/{}', 'delete kiln'), ('POST', '/kilns/{}/lay-up', 'lay_up kiln'),
    ('POST', '/kilns/{}/relight', 'relight kiln'), ('POST', '/kilns/{}/firings', 'create firing'), ('GET', '/kilns/{}/firings', 'kiln firings'),
    ('GET', '/firings', 'list firing'), ('GET', '/firings/{}', 'read firing'), ('PATCH', '/firings/{}', 'update firing'),
    ('DELETE', '/firings/{}', 'delete firing'), ('POST', '/firings/{}/light', 'light firing'), ('POST', '/firings/{}/douse', 'douse firing'),
    ('POST', '/firings/{}/call-off', 'call_off firing'), ('POST', '/wares', 'create ware'), ('GET', '/wares', 'list ware'),
    ('GET', '/wares/{}', 'read ware'), ('PATCH', '/wares/{}', 'update ware'), ('DELETE', '/wares/{}', 'delete ware'),
    ('POST', '/wares/{}/accept', 'accept ware'), ('POST', '/wares/{}/refuse', 'refuse ware'), ('POST', '/wares/{}/withdraw', 'withdraw ware'),
    ('POST', '/wares/{}/collect', 'collect ware'), ('POST', '/wares/{}/cracks', 'create crack'), ('GET', '/wares/{}/cracks', 'list crack'),
    ('GET', '/cracks/{}', 'read crack'), ('DELETE', '/cracks/{}', 'delete crack'), ('POST', '/hooks', 'create hook'), ('GET', '/hooks', 'list hook'),
    ('GET', '/hooks/{}', 'read hook'), ('PATCH', '/hooks/{}', 'update hook'), ('DELETE', '/hooks/{}', 'delete hook'),
    ('GET', '/happenings', 'list happening'), ('GET', '/happenings/{}', 'read happening'),
]
if X('fire-a-kiln-not-to-be-had'): ROUTES = [r for r in ROUTES if r[2] not in ('light firing', 'douse firing')]
if X('relight-path-missing'): ROUTES = [r for r in ROUTES if r[2] != 'relight kiln']
if X('kiln-firings-path-missing'): ROUTES = [r for r in ROUTES if r[2] != 'kiln firings']
if X('hooks-put-for-patch'): ROUTES = [('PUT' if r[2] == 'update hook' else r[0],) + r[1:] for r in ROUTES]
TREE = {}
for _m, _p, _op in ROUTES:
    TREE.setdefault(tuple(_p[1:].split('/')), {})[_m] = _op
PATHS = [(p, ms) for p, ms in TREE.items()]
def find_route(path):
    if X('base-path-also-bare') and not path.startswith(BASE + '/'): path = BASE + path
    if not path.startswith(BASE + '/'): return None, None
    parts = path[len(BASE) + 1:].split('/')
    ms = TREE.get(tuple(parts))
    if ms and '{}' not in parts: return ms, []
    for p, m in PATHS:
        if len(p) == len(parts) and all(a == b or a == '{}' for a, b in zip(p, parts)):
            vals = [b for a, b in zip(p, parts) if a == '{}']
            if all(vals): return m, [unquote(v) for v in vals]
    return None, None

NEEDS_BODY = {'create kiln', 'replace kiln', 'create firing', 'update firing', 'create ware', 'update ware', 'accept ware', 'refuse ware',
              'collect ware', 'create crack', 'create hook', 'update hook'}
PARAMS = {  # name: (kind, ...)
    'list kiln': {'fuel', 'state', 'min_litres', 'named', 'town', 'sort', 'skip', 'take'},
    'kiln firings': {'after', 'take'}, 'list firing': {'kind', 'phase', 'from', 'till', 'burns', 'sort', 'after', 'take'},
    'list ware': {'firing', 'potter', 'state', 'clay', 'max_litres', 'q', 'sort', 'after', 'take'},
    'list crack': {'page', 'per'}, 'list hook': {'after', 'take'}, 'list happening': {'kind', 'about', 'after', 'take'},
}
RATES = [(600, None), (12, 'create crack')]
if X('crack-rate-off-by-one'): RATES[1] = (13, 'create crack')
if X('crack-rate-missing'): RATES.pop()
if X('rate-twice-as-high'): RATES[0] = (1200, None)
RATE_WINDOW = 60
WINDOWS = {}
QUOTA = {}
ONCE = {}

class Req:
    pass
def authenticate(r):
    """the caller or None"""
    H = r.headers
    found = []
    ks = H.get('x-api-key' if X('key-header-renamed') else 'x-saggar-key', [])
    if ks:
        if len(ks) > 1: raise Refusal('KEY_UNFIT')
        k = KEYS.get(ks[0].strip())
        if X('key-case-ignored') and not k:
            k = {a.lower(): b for a, b in KEYS.items()}.get(ks[0].strip().lower())
        if X('key-prefix-is-enough') and not k and len(ks[0]) > 8:
            k = next((v for n, v in KEYS.items() if n.startswith(ks[0][:8])), None)
        if not k: raise Refusal('KEY_UNFIT')
        found.append(k)
    az = H.get('authorization', [])
    if az and not X('login-ignored'):
        if len(az) > 1: raise Refusal('KEY_UNFIT')
        m = re.match(r'(?i)^basic +([A-Za-z0-9+/=]+)\s*$', az[0].strip())
        try:
            name, pw = base64.b64decode(m.group(1), validate=True).decode().split(':', 1)
        except Exception:
            raise Refusal('KEY_UNFIT')
        l = LOGINS.get((name, pw))
        if X('password-not-checked') and not l: l = next((v for n, v in LOGINS.items() if n[0] == name), None)
        if not l: raise Refusal('KEY_UNFIT')
        found.append(l)
    if not found: return None
    if len({f[:2] for f in found}) > 1 and not X('two-callers-at-once'): raise Refusal('KEY_UNFIT')
    u = found[0]
    if X('stoker-without-scopes-is-potter') and not u[2]: u = ('potter',) + u[1:]
    if X('scopes-of-login-lost') and az: return Caller(u[0], u[1], [], u[3])
    return Caller(u[0], u[1], sorted({s for f in found for s in f[2]}), u[3])

def rate(r):
    who = r.caller.key if r.caller else 'address ' + r.address
    if X('rate-shared-by-user') and r.caller: who = r.caller.user
    t = now()
    applied = []
    for i, (limit, op) in enumerate(RATES):
        if op and op != r.op: continue
        w = WINDOWS.get((i, who))
        if not w or t >= w[0] + RATE_WINDOW:
            w = WINDOWS[i, who] = [t, 0]
        applied.append((limit, w))
    if X('rate-window-never-ends'):
        for k in WINDOWS.values(): k[0] = t
    over = [(l, w) for l, w in applied if w[1] >= l]
    if over:
        l, w = max(over, key=lambda x: x[1][0])
        wait = max(1, math.ceil(w[0] + RATE_WINDOW - t))
        r.out['X-Rate-Limit'], r.out['X-Rate-Left'], r.out['X-Rate-Reset'] = str(l), '0', str(wait)
        raise Refusal('TOO_FAST', headers={} if X('retry-after-missing') else {'Retry-After': str(wait)})
    for l, w in applied:
        w[1] += 1
    l, w = min(applied, key=lambda x: x[0] - x[1][1])
    left = l - w[1]
    if X('rate-left-off-by-one'): left += 1
    r.out['X-Rate-Limit'], r.out['X-Rate-Left'], r.out['X-Rate-Reset'] = str(l), str(left), str(max(0, math.ceil(w[0] + RATE_WINDOW - t)))
    if X('rate-headers-missing'):
        for h in ('X-Rate-Limit', 'X-Rate-Left', 'X-Rate-Reset'): r.out.pop(h)

def accepts_json(values):
    if not values: return True
    best, spec = 0.0, -1
    for part in ','.join(values).split(','):
        bits = [b.strip() for b in part.split(';')]
        rng = bits[0].lower()
        if not rng: continue
        q = 1.0
        for b in bits[1:]:
            if b.lower().startswith('q='):
                try: q = float(b[2:])
                except ValueError: q = 0.0
        s = {'*/*': 0, 'application/*': 1, 'application/json': 2}.get(rng, -1)
        if s > spec: best, spec = q, s
        elif s == spec and s >= 0: best = max(best, q)
    return spec >= 0 and best > 0

def q_unfit(name, found, expected='another value'):
    raise Refusal('QUERY_UNFIT', [{'in': 'query', 'path': name, 'found': str(found)[:60], 'expected': expected}])
def q_int(name, v):
    if not re.match(r'^-?\d{1,15}\Z', v): q_unfit(name, v, 'an integer')
    return int(v)
def parameters(r):
    known = PARAMS.get(r.op, set())
    Q = {}
    if r.query:
        for pair in r.query.split('&'):
            if not pair: continue
            n, _, v = pair.partition('=')
            n, v = unquote_plus(n), unquote_plus(v)
            if n not in known:
                if X('unknown-parameter-passes'): continue
                q_unfit(n, v, 'no such parameter')
            if n in Q: q_unfit(n, v, 'one value')
            Q[n] = v
    r.q = Q
    if r.op not in PARAMS: return
    keep, sort, desc = [], None, False
    old = r.version == OLD
    def one(n, values):
        if n in Q:
            if Q[n] not in values: q_unfit(n, Q[n], ' or '.join(values))
            return True
    def many(n, values):
        vs = Q[n].split(',')
        if len(vs) > 100: q_unfit(n, Q[n])
        for v in vs:
            if v not in values: q_unfit(n, v, ' or '.join(values))
        if X('split-takes-first-only'): vs = vs[:1]
        return set(vs)
    def sorting(values, default):
        s = Q.get('sort', default)
        if 'sort' in Q and s not in values: q_unfit('sort', s, ' or '.join(values))
        d = s.startswith('-')
        n = s.lstrip('-')
        return ('litres' if n == 'volume' else n), d
    if r.op == 'list kiln':
        first = 'electric' if not old or X('old-fuel-not-mapped') else 'mains'
        if one('fuel', [first, 'gas', 'wood']):
            want = 'electric' if Q['fuel'] == 'mains' else Q['fuel']
            keep.append(lambda x: x['fuel'] == want)
        if one('state', ['in_service', 'laid_up']) and not X('kiln-state-filter-ignored'): keep.append(lambda x: x['state'] == Q['state'])
        if 'min_litres' in Q:
            n = q_int('min_litres', Q['min_litres'])
            keep.append((lambda x: x['litres'] > n) if X('min-litres-exclusive') else (lambda x: x['litres'] >= n))
        if 'named' in Q: keep.append((lambda x: Q['named'] in x['label']) if X('named-contains') else (lambda x: x['label'].startswith(Q['named'])))
        if 'town' in Q: keep.append(lambda x: x['site'].get('town') == Q['town'])
        sort, desc = sorting(['litres', '-litres', 'code'], 'code')
        r.page = ('offset', 'skip', 'take', 20, 60)
    elif r.op == 'kiln firings':
        sort, desc = 'number', False
        r.page = ('cursor', 'after', 'take', 10, 50)
    elif r.op == 'list firing':
        if one('kind', ['bisque', 'glaze', 'raku']): keep.append(lambda x: x['kind'] == Q['kind'])
        if 'phase' in Q:
            vs = many('phase', ['planned', 'alight', 'cooling', 'opened', 'called_off', 'lapsed'])
            keep.append(lambda x: x['phase'] in vs)
        if 'from' in Q:
            a = instant(Q['from'])
            if a is None: q_unfit('from', Q['from'], 'a date-time')
            keep.append(lambda x: instant(x['lights_at']) >= a)
        if 'till' in Q:
            b = instant(Q['till'])
            if b is None: q_unfit('till', Q['till'], 'a date-time')
            keep.append((lambda x: instant(x['lights_at']) <= b) if X('till-inclusive') else (lambda x: instant(x['lights_at']) < b))
        if one('burns', ['electric', 'gas', 'wood']) and not X('burns-ignored'): keep.append(lambda x: T['kiln'][x['kiln']]['fuel'] == Q['burns'])
        sort, desc = sorting(['lights_at', '-lights_at', 'top_c'], 'lights_at' if X('firings-oldest-first') else '-lights_at')
        r.page = ('cursor', 'after', 'take', 10, 50)
    elif r.op == 'list ware':
        if 'firing' in Q: keep.append(lambda x: x['firing'] == Q['firing'])
        if 'potter' in Q: keep.append(lambda x: x['potter'] == Q['potter'])
        if 'state' in Q:
            vs2 = many('state', ['offered', 'accepted', 'refused', 'withdrawn', 'bumped', 'fired', 'collected', 'forfeited'])
            keep.append(lambda x: x['state'] in vs2)
        if 'clay' in Q:
            if r.caller.user == 'potter' and not X('potter-filters-by-clay'): q_unfit('clay', Q['clay'], 'no such parameter')
            one('clay', ['stoneware', 'porcelain', 'earthenware'])
            keep.append(lambda x: x['clay'] == Q['clay'])
        if 'max_litres' in Q:
            m = q_int('max_litres', Q['max_litres'])
            keep.append((lambda x: x['litres'] >= m) if X('max-litres-turned-round') else (lambda x: x['litres'] <= m))
        if 'q' in Q:
            words = Q['q'].lower().split() if not X('search-minds-case') else Q['q'].split()
            if len(words) > 16: q_unfit('q', Q['q'], 'up to 16 words')
            if X('search-minds-case'): keep.append(lambda x: all(w in x['title'] for w in words))
            elif X('search-any-word'): keep.append(lambda x: any(w in x['title'].lower() for w in words))
            else: keep.append(lambda x: all(w in x['title'].lower() for w in words))
        if 'sort' in Q:
            n = 'volume' if old and not X('old-rename-forgotten') else 'litres'
            sort, desc = sorting([n, '-' + n], '')
            if X('ware-sort-descending-ignored'): desc = False
        r.page = ('cursor', 'after', 'take', 10, 50)
    elif r.op == 'list crack':
        sort, desc = 'grade', not X('cracks-mildest-first')
        r.page = ('page', 'page', 'per', 5, 20)
    elif r.op == 'list hook':
        r.page = ('cursor', 'after', 'take', 10, 50)
    elif r.op == 'list happening':
        for n in ('kind', 'about'):
            if n in Q: keep.append(lambda x, n=n: x[n] == Q[n])
        r.page = ('cursor', 'after', 'take', 10, 50)
    r.keep, r.sort, r.desc = keep, sort, desc
    style, start, size, default, top = r.page
    if X('page-default-off') and r.op in ('list ware', 'list firing'): default = 20
    if X('page-max-ten-more'): top += 10
    def p_unfit(n, v):
        raise Refusal('PAGE_UNFIT', [{'in': 'query', 'path': n, 'found': str(v)[:60], 'expected': 'a page'}])
    r.size = default
    if size in Q:
        v = Q[size]
        if not re.match(r'^\d{1,12}\Z', v) or (int(v) < 1 and not X('page-of-none-passes')): p_unfit(size, v)
        r.size = int(v)
        if r.size > top:
            if r.op == 'list kiln' and not X('kilns-over-max-refused'): r.size = top
            elif X('over-max-clamped'): r.size = top
            else: p_unfit(size, v)
    r.start = None
    if style == 'offset':
        r.start = 0
        if start in Q:
            if not re.match(r'^\d{1,12}\Z', Q[start]): p_unfit(start, Q[start])
            r.start = int(Q[start])
    elif style == 'page':
        r.start = 1
        if start in Q:
            if not re.match(r'^\d{1,12}\Z', Q[start]) or int(Q[start]) < 1: p_unfit(start, Q[start])
            r.start = int(Q[start])
    else:
        others = sorted((k, v) for k, v in Q.items() if k not in ('after', 'take'))
        if X('cursor-for-any-filter'): others = []
        r.bound = json.dumps([r.op, r.version, r.args, others, r.caller.key if r.op in ('list ware', 'list hook') else ''])
        if start in Q:
            r.start = read_cursor(Q[start], r.bound)
            if r.start is None: p_unfit(start, Q[start])
SECRET = b'saggar-cursors'
def make_cursor(place, bound):
    p = base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip('=')
    return p + '.' + hmac.new(SECRET, (p + bound).encode(), hashlib.sha256).hexdigest()[:20]
def read_cursor(text, bound):
    p, _, sig = text.partition('.')
    if not hmac.compare_digest(sig.encode(), hmac.new(SECRET, (p + bound).encode(), hashlib.sha256).hexdigest()[:20].encode()): return None
    try: return json.loads(base64.urlsafe_b64decode(p + '=' * (-len(p) % 4)))
    except Exception: return None

def sort_key(res, row, sort):
    if sort is None: return 0
    return instant(row[sort]) if sort == 'lights_at' else row[sort]
def do_list(r, res, op, rows):
    vis = [x for x in rows if may(op, x, r.caller) and all(k(x) for k in r.keep)]
    rev = res == 'happening' and not X('log-oldest-first')
    vis.sort(key=lambda x: -x['_seq'] if rev else x['_seq'])
    if r.sort: vis.sort(key=lambda x: sort_key(res, x, r.sort), reverse=r.desc) if not r.desc else vis.sort(key=lambda x: -sort_key(res, x, r.sort) if not isinstance(sort_key(res, x, r.sort), str) else 0)
    style = r.page[0]
    total = len(vis)
    if style in ('offset', 'page'):
        a = r.start if style == 'offset' else (r.start - 1) * r.size
        if X('page-from-zero') and style == 'page': a = r.start * r.size
        if X('skip-off-by-one') and style == 'offset' and r.start: a -= 1
        part = vis[a:a + r.size]
        items = [show(res, x, r.caller.user if r.caller else None, r.version, shown_fields(op, x, r.caller)) for x in part]
        if style == 'offset': return {'kilns': items, 'total': len(part) if X('total-of-the-page') else total}
        return {'cracks': items, 'count': len(part) if X('count-of-the-page') else total}
    if r.start is not None:
        k0, s0 = r.start
        def later(x):
            k = sort_key(res, x, r.sort)
            if r.sort and k != k0: return (k < k0) if r.desc else (k > k0)
            if X('cursor-repeats-last'): return x['_seq'] <= s0 if rev else x['_seq'] >= s0
            return x['_seq'] < s0 if rev else x['_seq'] > s0
        vis = [x for x in vis if later(x)]
    part = vis[:r.size]
    more = len(vis) > r.size
    if X('more-always-false'): nxt_more = False
    else: nxt_more = more
    nxt = make_cursor([sort_key(res, part[-1], r.sort), part[-1]['_seq']], r.bound) if more and part else None
    if X('next-on-last-page') and part: nxt = make_cursor([sort_key(res, part[-1], r.sort), part[-1]['_seq']], r.bound)
    return {'entries': [show(res, x, r.caller.user if r.caller else None, r.version, shown_fields(op, x, r.caller)) for x in part], 'next': nxt, 'more': nxt_more}

def parse_body(r):
    r.body = None
    if len(r.raw) > (16 * 1024 if not X('body-limit-doubled') else 32 * 1024): raise Refusal('BODY_TOO_LARGE')
    optional = r.op == 'call_off firing'
    if r.op not in NEEDS_BODY and not optional: return
    ct = (r.headers.get('content-type') or [''])[0].split(';')[0].strip().lower()
    if not r.raw:
        if optional:
            r.body = {}
            return
        raise Refusal('BODY_UNREADABLE')
    allowed = ['application/json'] + (['application/merge-patch+json'] if r.method == 'PATCH' else [])
    if X('media-not-checked'): pass
    elif ct not in allowed: raise Refusal('BODY_FOREIGN')
    try:
        def no(c): raise ValueError(c)
        r.body = json.loads(r.raw.decode('utf-8'), parse_constant=no)
        if b'\\u' in r.raw: json.dumps(r.body, ensure_ascii=False).encode()  # half a surrogate is no text
    except (ValueError, RecursionError):
        if X('broken-json-crashes'): raise KeyError('json')
        raise Refusal('BODY_UNREADABLE')

def load(r, res, text):
    """the row that a path names and its caller may read, or a refusal"""
    id = text
    if res == 'ware':
        if not re.match(r'^[1-9]\d{0,14}\Z', text): raise Refusal('NO_SUCH_THING')
        id = int(text)
    if res == 'happening': purge_log()
    row = T[res].get(id)
    if row is None:
        g = GONE.get(id) if res == 'crack' else None
        if g and g[1] > now() and may('read crack', g[0], r.caller) and not X('gone-told-as-missing'): raise Refusal('THING_GONE')
        raise Refusal('NO_SUCH_THING')
    if not may_read(res, row, r.caller): raise Refusal('NOT_FOR_YOU' if X('unreadable-told-as-forbidden') and res == 'ware' else 'NO_SUCH_THING')
    return row
def acting(r, row):
    if not may(r.op, row, r.caller): raise Refusal('NOT_FOR_YOU')

def precondition(r, res, row, required):
    im = r.headers.get('if-match')
    if not im:
        if required and not X('if-match-optional'): raise Refusal('TAG_NEEDED')
        return
    if X('if-match-ignored'): return
    if X('if-match-ignored-on-firing') and res == 'firing': return
    tags = [t.strip() for t in ','.join(im).split(',')]
    if '*' in tags: return
    if etag_of(res, row, r.caller, r.version) not in tags: raise Refusal('STALE')

def ref_ok(r, f, v):
    target = f.k['ref']
    row = T[target].get(v)
    return row is not None and (may_read(target, row, r.caller) or (X('unreadable-ref-passes') and f.name == 'beside'))
def read_new(r, res, bound=None):
    """the fields of a creation or a replacement"""
    body, out, new = r.body, [], {}
    if not isinstance(body, dict):
        bad(out, 'type', '', kind_of(body), 'map')
        refuse_invalid(out)
    wires = WIRE[res, r.version]
    for n, v in body.items():
        f = wires.get(n)
        if f is None:
            if X('unknown-fields-pass'): continue
            bad(out, 'unknown', n, 'a field', 'no such field')
            continue
        if f.ro: continue
        if f.stoker_only and r.caller.user != 'stoker': continue
        enum = None
        if res == 'kiln' and f.name == 'fuel' and r.version == OLD and not X('old-fuel-not-mapped'): enum = ['mains', 'gas', 'wood']
        n0 = len(out)
        check(f, v, n, out, enum)
        if bound and f.name in bound and len(out) == n0 and v != bound[f.name] and not X('path-and-body-differ'):
            bad(out, 'value', n, v, 'what the path says')
        if len(out) == n0:
            new[f.name] = up_value(res, f, norm(f, v), r.version)
    for n, f in wires.items():
        if f.req and not f.ro and n not in body and f.default is None and not (bound and f.name in bound) and not (f.name == 'potter'):
            bad(out, 'missing', n, 'nothing', f.type)
    if bound: new.update(bound)
    for f in SPEC[res]:
        if f.default is not None and f.name not in new: new[f.name] = f.default
    extra(r, res, new, out)
    refuse_invalid(out)
    for f in SPEC[res]:
        if f.k.get('ref') and f.name in new and not ref_ok(r, f, new[f.name]): raise Refusal('ADRIFT', [{'in': 'body', 'path': f.name, 'found': str(new[f.name]), 'expected': 'a ' + f.k['ref']}])
    return new
def extra(r, res, new, out):
    wrong = {v['path'] for _, v in out}
    if res == 'firing' and 'shuts_at' in new and 'lights_at' in new and not wrong & {'shuts_at', 'lights_at'}:
        a, b = instant(new['lights_at']), instant(new['shuts_at'])
        if a is not None and b <= a and not (X('shuts-rule-equal-passes') and a == b) and not X('shuts-rule-missing'): bad(out, 'value', 'shuts_at', new['shuts_at'], 'a time after lights_at')
    if res == 'hook' and isinstance(new.get('kinds'), list) and not X('unknown-kind-passes'):
        for i, k in enumerate(new['kinds']):
            if isinstance(k, str) and not known_kind(k): bad(out, 'value', 'kinds.%d' % i, k, 'a kind')
def merge(old, patch):
    if not isinstance(patch, dict): return patch
    out = dict(old) if isinstance(old, dict) else {}
    for k, v in patch.items():
        if v is None: out.pop(k, None)
        else: out[k] = merge(out.get(k), v)
    return out
def read_patch(r, res, row):
    """the changed fields: name -> value or None (removed)"""
    body, out, ch = r.body, [], {}
    if not isinstance(body, dict):
        bad(out, 'type', '', kind_of(body), 'map')
        refuse_invalid(out)
    wires = WIRE[res, r.version]
    for n, v in body.items():
        f = wires.get(n)
        if f is None:
            if not X('unknown-fields-pass'): bad(out, 'unknown', n, 'a field', 'no such field')
            continue
        if f.ro: continue
        if f.immutable and not (X('immutable-ignored')):
            if v != row.get(f.name): bad(out, 'value', n, v, 'what it was')
            continue
        if f.immutable: continue
        if v is None:
            if f.req and not (X('null-on-required-ignored')): bad(out, 'value', n, 'null', f.type)
            elif not f.req and not X('null-does-not-remove'): ch[f.name] = None
            continue
        if f.type == 'map' and isinstance(v, dict):
            v = v if X('nested-patch-replaces') else merge(row.get(f.name), v)
        n0 = len(out)
        check(f, v, n, out)
        if len(out) == n0: ch[f.name] = norm(f, v)
    nxt = {k: v for k, v in {**row, **ch}.items() if v is not None}
    extra(r, res, nxt if res != 'hook' or 'kinds' in ch else {}, out)
    refuse_invalid(out)
    for f in SPEC[res]:
        if f.k.get('ref') and ch.get(f.name) is not None and not ref_ok(r, f, ch[f.name]): raise Refusal('ADRIFT', [{'in': 'body', 'path': f.name, 'found': str(ch[f.name]), 'expected': 'a ' + f.k['ref']}])
    return {k: v for k, v in ch.items() if (v != row.get(k)) or kind_of(v) != kind_of(row.get(k))}
def read_request(r, fields):
    """a request of its own, in which other members pass"""
    body, out = r.body, []
    if not isinstance(body, dict):
        bad(out, 'type', '', kind_of(body), 'map')
        refuse_invalid(out)
    known = {f.name: f for f in fields}
    for n, v in body.items():
        if n in known: check(known[n], v, n, out)
    for f in fields:
        if f.req and f.name not in body: bad(out, 'missing', f.name, 'nothing', f.type)
    refuse_invalid(out)
    return {n: norm(known[n], v) for n, v in body.items() if n in known}

def set_fields(res, row, ch):
    for k, v in ch.items():
        if res == 'ware' and k == 'beside':
            if 'beside' in row: IDX['ware.beside'].get(row['beside'], set()).discard(row['id'])
            if v is not None: IDX['ware.beside'].setdefault(v, set()).add(row['id'])
        if v is None: row.pop(k, None)
        else: row[k] = v

# ---------------------------------------------------------------- operations
def op_about(r):
    return 200, {'yard': 'Saggar', 'custody_days': 60}
def op_list_kiln(r): return 200, do_list(r, 'kiln', 'list kiln', T['kiln'].values())
def op_list_firing(r): return 200, do_list(r, 'firing', 'list firing', T['firing'].values())
def op_list_ware(r): return 200, do_list(r, 'ware', 'list ware', T['ware'].values())
def op_list_hook(r): return 200, do_list(r, 'hook', 'list hook', T['hook'].values())
def op_list_happening(r):
    purge_log()
    return 200, do_list(r, 'happening', 'list happening', T['happening'].values())
def op_kiln_firings(r):
    if X('missing-kiln-lists-empty') and r.args[0] not in T['kiln']: return 200, {'entries': [], 'next': None, 'more': False}
    k = load(r, 'kiln', r.args[0])
    rows = list(T['firing'].values()) if X('kiln-firings-of-all') else referring('firing.kiln', k['code'])
    return 200, do_list(r, 'firing', 'kiln firings', rows)
def op_list_crack(r):
    w = load(r, 'ware', r.args[0])
    return 200, do_list(r, 'crack', 'list crack', referring('crack.ware', w['id']))
def op_read(res, tagged=False):
    def op(r):
        row = load(r, res, r.args[0])
        if tagged:
            tag = etag_of(res, row, r.caller, r.version)
            if not X('etag-missing'): r.out['ETag'] = tag
            inm = r.headers.get('if-none-match')
            if inm and not X('if-none-match-ignored'):
                tags = [t.strip().removeprefix('W/') for t in ','.join(inm).split(',')]
                if tag in tags or '*' in tags: return 304, None
        return 200, represent(res, row, r.caller, r.version)
    return op
def op_create_kiln(r):
    new = read_new(r, 'kiln')
    if new['code'] in T['kiln']: raise Refusal('ALREADY_THERE')
    if new['label'] in KILN_LABELS and not X('label-not-unique'): raise Refusal('ALREADY_THERE')
    t = iso(now())
    new.update(state='laid_up' if X('kiln-starts-laid-up') else 'in_service', entered_at=t, changed_at=t)
    if X('remark-not-kept'): new.pop('remark', None)
    insert('kiln', new)
    KILN_LABELS[new['label']] = new['code']
    emit('kiln.entered', 'kiln', new, r.caller)
    r.out['Location'] = BASE + '/kilns/' + new['code']
    return 201, represent('kiln', new, r.caller, r.version)
def op_replace_kiln(r):
    row = load(r, 'kiln', r.args[0])
    precondition(r, 'kiln', row, True)
    new = read_new(r, 'kiln', {'code': row['code']})
    other = KILN_LABELS.get(new['label'])
    if other and other != row['code'] and not X('label-not-unique-on-replace'): raise Refusal('ALREADY_THERE')
    names = [f.name for f in SPEC['kiln'] if not f.ro]
    if any(new.get(n) != row.get(n) for n in names):
        was = row['label']
        for n in names:
            if n in new: row[n] = new[n]
            elif not X('replace-merges'): row.pop(n, None)
        if X('replace-resets-entered'): row['entered_at'] = iso(now())
        stamp(row)
        KILN_LABELS.pop(was, None)
        KILN_LABELS[row['label']] = row['code']
        if was != row['label'] or X('relabelled-always'):
            emit('kiln.relabelled', 'kiln', row, r.caller, {'kiln': row['code'], 'was': row['label'] if X('relabelled-was-wrong') else was, 'is': row['label']})
    r.out['ETag'] = etag_of('kiln', row, r.caller, r.version)
    return 200, represent('kiln', row, r.caller, r.version)
def op_delete_kiln(r):
    row = load(r, 'kiln', r.args[0])
    if row['state'] != 'laid_up' and not X('delete-kiln-in-service'): raise Refusal('WRONG_STATE')
    if IDX['firing.kiln'].get(row['code']) and not X('delete-kiln-not-restricted'): raise Refusal('STILL_HELD')
    KILN_LABELS.pop(row['label'], None)
    if not X('delete-kiln-does-nothing'): remove('kiln', row)
    return 204, None
def op_lay_up(r):
    row = load(r, 'kiln', r.args[0])
    if row['state'] != 'in_service': raise Refusal('WRONG_STATE')
    if derive('kiln', row)['busy'] and not X('lay-up-while-busy'): raise Refusal('KILN_BUSY')
    row['state'] = 'laid_up'
    stamp(row)
    return 200, represent('kiln', row, r.caller, r.version)
def op_relight(r):
    row = load(r, 'kiln', r.args[0])
    if row['state'] != 'laid_up' and not X('relight-twice'): raise Refusal('WRONG_STATE')
    row['state'] = 'in_service'
    stamp(row)
    return 200, represent('kiln', row, r.caller, r.version)

def op_create_firing(r):
    k = load(r, 'kiln', r.args[0])
    new = read_new(r, 'firing', {'kiln': k['code']})
    if k['state'] == 'laid_up' and not X('firing-in-laid-up-kiln'): raise Refusal('KILN_LAID_UP')
    if new['top_c'] > k['peak_c'] and not X('too-hot-unchecked'): raise Refusal('TOO_HOT')
    if X('too-hot-at-peak') and new['top_c'] >= k['peak_c']: raise Refusal('TOO_HOT')
    c = 'all' if X('number-over-all-kilns') else k['code']
    COUNTS[c] = COUNTS.get(c, -1 if X('number-from-zero') else 0) + 1
    new.update(id='fir_' + rnd(LOW, 11 if X('firing-id-short') else 12), number=COUNTS[c], capacity=k['litres'], phase='planned', stoker=r.caller.id, changed_at=iso(now()))
    if X('capacity-not-set'): new['capacity'] = 2000
    insert('firing', new)
    emit('firing.planned', 'firing', new, r.caller)
    plan_timers(new)
    r.out['Location'] = BASE + '/firings/' + new['id']
    return 200 if X('firing-created-200') else 201, represent('firing', new, r.caller, r.version)
def op_update_firing(r):
    row = load(r, 'firing', r.args[0])
    precondition(r, 'firing', row, False)
    ch = read_patch(r, 'firing', row)
    if row['phase'] != 'planned' and not X('update-firing-when-alight'): raise Refusal('WRONG_STATE')
    if {**row, **ch}['top_c'] > T['kiln'][row['kiln']]['peak_c'] and not X('too-hot-unchecked-on-update'): raise Refusal('TOO_HOT_NOW')
    if ch:
        before = dict(row)
        set_fields('firing', row, ch)
        stamp(row)
        plan_timers(row, before)
    r.out['ETag'] = etag_of('firing', row, r.caller, r.version)
    return 200, represent('firing', row, r.caller, r.version)
def op_delete_firing(r):
    row = load(r, 'firing', r.args[0])
    if row['phase'] not in ('called_off', 'lapsed') and not (X('delete-planned-firing') and row['phase'] == 'planned'): raise Refusal('WRONG_STATE')
    if IDX['ware.firing'].get(row['id']): raise Refusal('STILL_HELD')
    remove('firing', row)
    return (200, represent('firing', row, r.caller, r.version)) if X('delete-firing-200') else (204, None)
def op_light(r):
    row = load(r, 'firing', r.args[0])
    if row['phase'] != 'planned': raise Refusal('WRONG_STATE')
    if derive('firing', row)['accepted'] == 0 and not X('light-empty'): raise Refusal('NOTHING_TO_FIRE')
    row['phase'] = 'alight'
    if not X('lit-at-missing'): row['lit_at'] = iso(now())
    stamp(row)
    emit('firing.lit', 'firing', row, r.caller)
    for w in referring('ware.firing', row['id']):
        if w['state'] == 'accepted' and not X('light-forgets-wares'): move_ware(w, 'fired', r.caller, 'ware.fired')
    if not X('light-keeps-offers'): bump_all(row, r.caller, ('offered',))
    return 200, represent('firing', row, r.caller, r.version)
def op_douse(r):
    row = load(r, 'firing', r.args[0])
    if row['phase'] != 'alight' and not (X('douse-planned') and row['phase'] == 'planned'): raise Refusal('WRONG_STATE')
    row['phase'] = 'cooling'
    row['doused_at'] = iso(now())
    if X('doused-at-in-seconds'): row['doused_at'] = int(now())
    stamp(row)
    if not X('never-opens'): timer(now() + (12 if X('opens-after-twelve-hours') else 24 if X('opens-after-a-day') else 18) * 3600, 'open', 'firing', row['id'], None)
    return 200, represent('firing', row, r.caller, r.version)
def op_call_off(r):
    row = load(r, 'firing', r.args[0])
    q = read_request(r, [F('why', 'string', min=1 if X('why-min-ignored') else 3, max=120)])
    if row['phase'] != 'planned' and not (X('call-off-alight') and row['phase'] == 'alight'): raise Refusal('WRONG_STATE' if X('call-off-wrong-code') else 'TOO_LATE')
    row['phase'] = 'called_off'
    row['why'] = 'not said' if X('why-not-kept') else q.get('why', 'not said')
    stamp(row)
    firing_off(row, r.caller)
    if not X('call-off-forgets-wares'): bump_all(row, r.caller)
    return 200, represent('firing', row, r.caller, r.version)

def op_create_ware(r):
    global WARE_ID
    new = read_new(r, 'ware')
    f = T['firing'][new['firing']]
    if f['phase'] != 'planned' and not X('offer-to-closed-firing'): raise Refusal('FIRING_CLOSED')
    if new['litres'] > f['capacity'] and not X('too-big-unchecked'): raise Refusal('TOO_BIG')
    c = r.caller
    tk = new.get('ticket')
    tkey = tk if X('ticket-unique-over-all') else (c.id, tk)
    if tk is not None and tkey in TICKETS and not X('ticket-not-unique'): raise Refusal('ALREADY_THERE')
    offered = sum(1 for w in T['ware'].values() if w['potter'] == c.id and w['state'] == 'offered')
    if X('offers-count-ended'): offered = sum(1 for w in T['ware'].values() if w['potter'] == c.id)
    if offered >= (16 if X('offers-limit-off-by-one') else 15) and not X('offers-unlimited'): raise Refusal('USED_UP')
    t = now()
    day = int(t // 86400)
    qk = (c.key, day) if not X('quota-over-all-potters') else ('all', day)
    if X('quota-never-resets'): qk = (c.key, 0)
    if QUOTA.get(qk, 0) >= (61 if X('quota-off-by-one') else 60) and not X('quota-missing'):
        raise Refusal('USED_UP', headers={'Retry-After': str(max(1, math.ceil((day + 1) * 86400 - t)))})
    QUOTA[qk] = QUOTA.get(qk, 0) + 1
    WARE_ID += 1
    new.setdefault('potter', c.id)
    new.update(id=WARE_ID, guild=c.guild, claim=rnd(string.ascii_uppercase + string.digits, 8), state='offered', offered_at=iso(t), changed_at=iso(t))
    if X('guild-not-set'): new['guild'] = 'north'
    if X('claim-lower-case'): new['claim'] = new['claim'].lower()
    if X('insured-not-kept'): new.pop('insured', None)
    insert('ware', new)
    if tk is not None: TICKETS[tkey] = new['id']
    emit('ware.offered', 'ware', new, c)
    r.out['Location'] = BASE + '/wares/%d' % new['id']
    if X('location-missing'): r.out.pop('Location')
    return 201, represent('ware', new, c, r.version, once=not X('claim-never-shown'))
def load_ware(r):
    row = load(r, 'ware', r.args[0])
    acting(r, row)
    return row
def op_update_ware(r):
    row = load_ware(r)
    ch = read_patch(r, 'ware', row)
    if row['state'] != 'offered' and not (X('update-accepted-ware') and row['state'] == 'accepted'): raise Refusal('WRONG_STATE')
    if ch or X('idle-update-stamps'):
        set_fields('ware', row, ch)
        if 'ticket' in ch: pass
        stamp(row)
    return 200, represent('ware', row, r.caller, r.version)
def op_delete_ware(r):
    row = load_ware(r)
    if row['state'] not in ('refused', 'withdrawn', 'bumped') and not (X('delete-offered-ware') and row['state'] == 'offered'): raise Refusal('WRONG_STATE')
    emit('ware.deleted', 'ware', row, r.caller, {'ware': row['id']} if X('deleted-payload-a-map') else row['id'])
    for c in referring('crack.ware', row['id']):
        if X('cascade-forgotten'): break
        bury(c)
    remove('ware', row)
    for w in referring('ware.beside', row['id']):
        if X('beside-not-cleared'): break
        set_fields('ware', w, {'beside': None})
        stamp(w)
    if row.get('ticket'): TICKETS.pop((row['potter'], row['ticket']), None)
    return 204, None
def op_accept(r):
    row = load_ware(r)
    q = read_request(r, [F('shelf', 'integer', not X('shelf-optional'), min=1, max=10 if X('shelf-ten') else 9)])
    if row['state'] != 'offered': raise Refusal('WRONG_STATE')
    left = derive('firing', T['firing'][row['firing']])['litres_left']
    if (left <= row['litres'] if X('full-off-by-one') else left < row['litres']) and not X('overfilled'): raise Refusal('KILN_FULL')
    if 'shelf' in q and not X('shelf-not-set'): row['shelf'] = q['shelf']
    move_ware(row, 'accepted', r.caller, 'ware.judged')
    return 200, represent('ware', row, r.caller, r.version)
def op_refuse(r):
    row = load_ware(r)
    q = read_request(r, [F('reason', 'string', not X('reason-optional'), min=3, max=120)])
    if row['state'] != 'offered' and not (X('refuse-accepted') and row['state'] == 'accepted'): raise Refusal('WRONG_STATE')
    row['reason'] = q.get('reason')
    move_ware(row, 'refused', r.caller, 'ware.judged' if not X('refusal-not-told') else None)
    return 200, represent('ware', row, r.caller, r.version)
def op_withdraw(r):
    row = load_ware(r)
    ok = ('offered',) if X('withdraw-offered-only') else ('offered', 'accepted')
    if row['state'] not in ok: raise Refusal('TOO_LATE')
    move_ware(row, 'withdrawn', r.caller)
    return 200, represent('ware', row, r.caller, r.version)
def op_collect(r):
    row = load_ware(r)
    q = read_request(r, [F('by', 'string', True, min=2, max=40)])
    if row['state'] != 'fired': raise Refusal('WRONG_STATE')
    if T['firing'][row['firing']]['phase'] != 'opened' and not X('collect-hot'): raise Refusal('STILL_HOT')
    row['taken_by'] = r.caller.id if X('taken-by-the-caller') else q['by']
    row['state'] = 'collected'
    stamp(row)
    ware_gone(row, r.caller)
    return 200, represent('ware', row, r.caller, r.version)

def bury(c):
    remove('crack', c)
    until = now() + (8 if X('gone-eight-days') else 7) * 86400
    GONE[c['id']] = (c, until)
    timer(until, 'purge', 'gone', c['id'], None)
def op_create_crack(r):
    w = load(r, 'ware', r.args[0])
    new = read_new(r, 'crack', {'ware': w['id']})
    new.update(id='c' + uuid.uuid4().hex if X('crack-id-no-uuid') else str(uuid.uuid4()), seen_by=r.caller.id, seen_at=iso(now()))
    if X('seen-at-without-zone'): new['seen_at'] = new['seen_at'][:-1]
    insert('crack', new)
    if new['grade'] >= (4 if X('crack-seen-from-four') else 3) or X('crack-seen-always'): emit('crack.seen', 'crack', new, r.caller)
    r.out['Location'] = BASE + '/cracks/' + new['id']
    return 201, represent('crack', new, r.caller, r.version)
def op_delete_crack(r):
    row = load(r, 'crack', r.args[0])
    acting(r, row)
    bury(row)
    return 204, None

def op_create_hook(r):
    new = read_new(r, 'hook')
    n = sum(1 for h in T['hook'].values() if h['owner'] == r.caller.id)
    if n >= (5 if X('hooks-limit-off-by-one') else 4) and not X('hooks-unlimited'): raise Refusal('USED_UP')
    new.update(id='hk-' + rnd('0123456789abcdef', 10), owner=r.caller.id, seal='seal_' + rnd(string.ascii_letters + string.digits, 32), made_at=iso(now()))
    new['_owner'], new['_version'] = r.caller, r.version
    insert('hook', new)
    r.out['Location'] = BASE + '/hooks/' + new['id']
    return 201, represent('hook', new, r.caller, r.version, once=True)
def op_update_hook(r):
    row = load(r, 'hook', r.args[0])
    acting(r, row)
    ch = read_patch(r, 'hook', row)
    if ch and not X('hook-update-not-stored'):
        set_fields('hook', row, ch)
        row['_failing'] = None
        row['_wait'] = 0
    return 200, represent('hook', row, r.caller, r.version)
def op_delete_hook(r):
    row = T['hook'].get(r.args[0]) if X('hook-delete-any') else load(r, 'hook', r.args[0])
    if row is None: raise Refusal('NO_SUCH_THING')
    acting(r, row)
    remove('hook', row)
    DELIVER.drop(row['id'])
    return 204, None

OPS = {
    'about': op_about, 'list kiln': op_list_kiln, 'create kiln': op_create_kiln, 'read kiln': op_read('kiln', True), 'replace kiln': op_replace_kiln,
    'delete kiln': op_delete_kiln, 'lay_up kiln': op_lay_up, 'relight kiln': op_relight, 'create firing': op_create_firing,
    'kiln firings': op_kiln_firings, 'list firing': op_list_firing, 'read firing': op_read('firing', True), 'update firing': op_update_firing,
    'delete firing': op_delete_firing, 'light firing': op_light, 'douse firing': op_douse, 'call_off firing': op_call_off, 'create ware': op_create_ware,
    'list ware': op_list_ware, 'read ware': op_read('ware'), 'update ware': op_update_ware, 'delete ware': op_delete_ware, 'accept ware': op_accept,
    'refuse ware': op_refuse, 'withdraw ware': op_withdraw, 'collect ware': op_collect, 'create crack': op_create_crack, 'list crack': op_list_crack,
    'read crack': op_read('crack'), 'delete crack': op_delete_crack, 'create hook': op_create_hook, 'list hook': op_list_hook, 'read hook': op_read('hook'),
    'update hook': op_update_hook, 'delete hook': op_delete_hook, 'list happening': op_list_happening, 'read happening': op_read('happening'),
}
SUNSET = calendar.timegm((2027, 8, 1, 0, 0, 0))
DEPRECATED = calendar.timegm((2026, 6, 1, 0, 0, 0))
VARY = 'Saggar-Edition, X-Saggar-Key, Authorization'
CHALLENGES = ['ApiKey realm="Saggar", in="header", name="X-Saggar-Key"', 'Basic realm="Saggar", charset="UTF-8"']
ONCE_OPS = {'create firing', 'create ware'}

def process(r):
    """status, body (a value or None)"""
    if len(r.target) > (4096 if X('url-limit-doubled') else 2048): raise Refusal('URL_TOO_LONG')
    if r.header_size > 12 * 1024 and not X('header-limit-missing'): raise Refusal('HEADERS_TOO_LARGE')
    path, _, r.query = r.target.partition('?')
    methods, r.args = find_route(path)
    if methods is None: raise Refusal('NO_SUCH_PATH')
    allow = sorted(set(methods) | {'OPTIONS'} | ({'HEAD'} if 'GET' in methods else set()))
    if r.method == 'OPTIONS':
        r.out['Allow'] = ', '.join(allow)
        return 204, None
    r.op = methods.get('GET' if r.method == 'HEAD' else r.method)
    if r.op is None:
        if X('method-told-as-path'): raise Refusal('NO_SUCH_PATH')
        raise Refusal('NO_SUCH_METHOD', headers={'Allow': ', '.join(allow)})
    v = r.headers.get('saggar-edition')
    r.version = OLD if X('default-oldest') else NEW
    if v:
        v = v[0].strip()
        if v not in (OLD, NEW):
            if not X('unknown-edition-passes'): raise Refusal('EDITION_UNKNOWN')
            v = NEW
        r.version = v
    r.out['Saggar-Edition'] = r.version
    if X('edition-header-missing'): r.out.pop('Saggar-Edition')
    if X('edition-not-in-vary'): r.out['Vary'] = 'X-Saggar-Key, Authorization'
    if r.version == OLD:
        if not X('deprecation-missing'): r.out['Deprecation'] = '@%d' % DEPRECATED
        if X('deprecation-not-structured'): r.out['Deprecation'] = 'true'
        if not X('sunset-header-missing'): r.out['Sunset'] = formatdate(SUNSET + (365 * 86400 if X('sunset-a-year-late') else 0), usegmt=True)
        r.out['Link'] = '<https://saggar.example/editions>; rel="deprecation", <%s>; rel="successor-version"' % r.target
        if X('successor-link-missing'): r.out['Link'] = '<https://saggar.example/editions>; rel="deprecation"'
        if now() >= SUNSET and not X('sunset-not-kept'): raise Refusal('EDITION_OVER')
        if r.op in ('list happening', 'read happening') and not X('old-has-happenings'): raise Refusal('NO_SUCH_PATH')
    elif X('current-deprecated'): r.out['Deprecation'] = '@%d' % DEPRECATED
    with LOCK:
        run_timers()
        public = r.op == 'about'
        r.caller = None
        if not public:
            r.caller = authenticate(r)
            if r.caller is None and not any(x[0] is None for x in RULES[r.op]): raise Refusal('WHO_ARE_YOU')
        rate(r)
        if not public:
            mine = rules_for(r.op, r.caller)
            if not mine: raise Refusal('NOT_FOR_YOU')
            if not any(sc is None or sc in r.caller.scopes for _, sc, _, _ in mine):
                raise Refusal('NOT_FOR_YOU' if X('no-scope-told-as-forbidden') else 'NO_SCOPE')
        if not accepts_json(r.headers.get('accept')) and not X('accept-ignored'): raise Refusal('ANSWER_FOREIGN')
        parameters(r)
        parse_body(r)
        key = r.headers.get('saggar-once') if r.op in ONCE_OPS and not X('once-ignored') else None
        if not key: return OPS[r.op](r)
        k = (r.caller.key if not X('once-shared-by-callers') else '', r.op, key[0])
        print_ = hashlib.sha256(json.dumps([r.target, r.version]).encode() + r.raw).hexdigest()
        kept = ONCE.get(k)
        if kept and kept['until'] > now():
            if kept['print'] != print_ and not X('once-body-not-compared'): raise Refusal('ONCE_REUSED')
            if 'refusal' in kept: raise Refusal(kept['refusal'])
            if X('once-replays-200'): return 200, kept['body']
            r.out.update(kept['headers'])
            return kept['status'], kept['body']
        entry = {'print': print_, 'until': now() + (600 if X('once-ten-minutes') else 6 * 3600)}
        try:
            status, body = OPS[r.op](r)
        except Refusal as e:
            if e.code in OWN and not X('once-forgets-refusals'):
                ONCE[k] = {**entry, 'refusal': e.code}
            raise
        ONCE[k] = {**entry, 'status': status, 'body': {a: b for a, b in body.items() if a != 'claim' or X('once-replays-claim')}, 'headers': {n: r.out[n] for n in ('Location',) if n in r.out}}
        return status, body

def refusal_answer(r, e):
    status, text = CODES[e.code]
    if FAULT in STATUS_FAULTS and STATUS_FAULTS[FAULT][0] == e.code: status = STATUS_FAULTS[FAULT][1]
    fault = {'name': e.code, 'http': status, 'says': text, 'trace': r.trace}
    if e.spots: fault['spots'] = e.spots
    if X('fault-without-http'): fault.pop('http')
    if X('fault-without-trace'): fault.pop('trace')
    if X('fault-code-member') : fault['code'] = fault.pop('name')
    if X('spots-as-pointers'):
        for s in fault.get('spots', ()): s['path'] = '/' + s['path'].replace('.', '/')
    if X('spots-dropped'): fault.pop('spots', None)
    if X('first-spot-only') and e.spots: fault['spots'] = e.spots[:1]
    if X('spots-in-new-words'):
        for s in fault.get('spots', ()): s['path'] = 'litres' if s['path'] == 'volume' else s['path']
    r.out.update(e.headers)
    if not X('fault-header-missing'): r.out['X-Saggar-Fault'] = e.code
    if status == 401 and not X('challenge-missing'): r.challenges = CHALLENGES
    return status, {'fault': fault}

REASONS = {200: 'OK', 201: 'Created', 204: 'No Content', 304: 'Not Modified'}
def answer(r):
    r.out = {'Vary': VARY, 'X-Trace': r.trace}
    if X('trace-header-missing'): r.out.pop('X-Trace')
    r.version, r.caller, r.challenges, r.op = NEW, None, (), None
    try:
        if r.early: raise Refusal(r.early)
        status, body = process(r)
    except Refusal as e:
        status, body = refusal_answer(r, e)
    except Exception as e:
        import traceback
        traceback.print_exc()
        status, body = refusal_answer(r, Refusal('BROKEN'))
    data = json.dumps(body, ensure_ascii=False).encode() if status not in (204, 304) else b''
    lines = ['HTTP/1.1 %d %s' % (status, REASONS.get(status) or http.client.responses.get(status, 'Refused'))]
    if status not in (204, 304):
        lines.append('Content-Type: application/json' if not X('errors-as-text') or status < 400 else 'Content-Type: text/plain')
        lines.append('Content-Length: %d' % len(data))
    lines.append('Date: ' + formatdate(time.time(), usegmt=True))
    for n, v in r.out.items(): lines.append(n + ': ' + v)
    for c in r.challenges: lines.append('WWW-Authenticate: ' + c)
    if r.close: lines.append('Connection: close')
    return ('\r\n'.join(lines) + '\r\n\r\n').encode('latin-1', 'replace') + (b'' if r.method == 'HEAD' else data)

class Slow(Exception): pass
class Closed(Exception): pass
REQUEST_TIME = 30 if X('request-time-out-thirty') else 8
IDLE_TIME = 8 if X('idle-time-out-short') else 40
class Handler(socketserver.BaseRequestHandler):
    def recv(self, deadline):
        left = deadline - time.monotonic()
        if left <= 0: raise Slow()
        self.request.settimeout(left)
        try:
            d = self.request.recv(65536)
        except (TimeoutError, socket.timeout):
            raise Slow()
        except OSError:
            raise Closed()
        if not d: raise Closed()
        self.buf += d
    def line(self, deadline):
        while b'\n' not in self.buf:
            if len(self.buf) > 200000: raise Closed()
            self.recv(deadline)
        l, _, self.buf = self.buf.partition(b'\n')
        self.got += len(l) + 1
        return l.rstrip(b'\r')
    def take(self, n, deadline):
        while len(self.buf) < n: self.recv(deadline)
        d, self.buf = self.buf[:n], self.buf[n:]
        return d
    def handle(self):
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buf = b''
        try:
            while True:
                if not self.buf:
                    try: self.recv(time.monotonic() + IDLE_TIME)
                    except Slow: return
                if not self.one(): return
        except (Closed, OSError):
            return
    def one(self):
        r = Req()
        r.trace = 'tr' + rnd(LOW, 14)
        r.address = self.client_address[0]
        r.early, r.close, r.method, r.target, r.raw, r.headers, r.header_size = None, False, 'GET', '/', b'', {}, 0
        self.got = 0
        deadline = time.monotonic() + REQUEST_TIME
        try:
            first = self.line(deadline).decode('latin-1')
            if not first: return True
            bits = first.split(' ')
            if len(bits) != 3 or not bits[2].startswith('HTTP/1.'):
                r.early, r.close = 'BODY_UNREADABLE', True
                self.request.sendall(answer(r))
                return False
            r.method, r.target = bits[0], bits[1]
            if r.target.startswith('http://'):
                u = urlsplit(r.target)
                r.target = (u.path or '/') + ('?' + u.query if u.query else '')
            while True:
                l = self.line(deadline)
                if not l: break
                n, _, v = l.decode('latin-1').partition(':')
                r.headers.setdefault(n.strip().lower(), []).append(v.strip())
                r.header_size += len(n) + 2 + len(v.strip()) + 2
                if r.header_size > 190000: return False
            if bits[2] == 'HTTP/1.0' or 'close' in ','.join(r.headers.get('connection', [])).lower(): r.close = True
            te = ','.join(r.headers.get('transfer-encoding', [])).lower()
            if r.headers.get('expect', [''])[0].lower() == '100-continue': self.request.sendall(b'HTTP/1.1 100 Continue\r\n\r\n')
            if 'chunked' in te:
                parts, size = [], 0
                while True:
                    try: n = int(self.line(deadline).split(b';')[0], 16)
                    except ValueError:
                        r.early, r.close = 'BODY_UNREADABLE', True
                        break
                    if n == 0:
                        while self.line(deadline): pass
                        break
                    d = self.take(n, deadline)
                    size += n
                    if size <= 65536: parts.append(d)
                    if size > 8 << 20: r.close = True; break
                    self.line(deadline)
                r.raw = b''.join(parts) if size <= 65536 else b' ' * 65537
            elif 'content-length' in r.headers:
                c = r.headers['content-length'][0]
                if not c.isdigit():
                    r.early, r.close = 'BODY_UNREADABLE', True
                else:
                    n = int(c)
                    if n > 8 << 20:
                        r.close, r.raw = True, b' ' * 65537
                    else: r.raw = self.take(n, deadline)
        except Slow:
            r.early, r.close = 'TOO_SLOW', True
        self.request.sendall(answer(r))
        return not r.close

# ---------------------------------------------------------------- the clock's door
DUR = re.compile(r'^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$')
def plus(t, text):
    m = DUR.match(text)
    if not m or text in ('P',) or text.endswith('T'): return None
    y, mo, w, d, h, mi, s = (float(x) if x else 0 for x in m.groups())
    if y or mo:
        b = dt.datetime.fromtimestamp(t, dt.timezone.utc)
        n = b.month - 1 + int(mo) + 12 * int(y)
        yy, mm = b.year + n // 12, n % 12 + 1
        b = b.replace(year=yy, month=mm, day=min(b.day, calendar.monthrange(yy, mm)[1]))
        t = b.timestamp()
    return t + w * 604800 + d * 86400 + h * 3600 + mi * 60 + s
class Door(socketserver.StreamRequestHandler):
    def handle(self):
        self.request.settimeout(30)
        while True:
            try: first = self.rfile.readline(4096).decode('latin-1')
            except OSError: return
            if not first.strip(): return
            method, n, close = first.split(' ')[0], 0, False
            while True:
                l = self.rfile.readline(65536)
                if not l.strip(): break
                k, _, v = l.decode('latin-1').partition(':')
                if k.lower() == 'content-length': n = int(v)
                if k.lower() == 'connection' and 'close' in v.lower(): close = True
            body = self.rfile.read(n) if n else b''
            st, out = self.act(method, body)
            data = json.dumps(out).encode()
            try: self.wfile.write(('HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n' % (st, http.client.responses[st], len(data), 'Connection: close\r\n' if close else '')).encode() + data)
            except OSError: return
            if close: return
    def act(self, method, body):
        global OFFSET
        if method == 'GET': return 200, {'now': iso(now())}
        if method != 'POST': return 400, {'error': 'GET or POST'}
        try:
            b = json.loads(body)
            t0 = now()
            if set(b) == {'advance'}: t = plus(t0, b['advance'])
            elif set(b) == {'now'}: t = instant(b['now'])
            else: t = None
        except Exception:
            t = None
        if t is None: return 400, {'error': 'advance or now'}
        with LOCK:
            if t < now() - 0.001 and 'now' in b: return 422, {'error': 'that time has passed'}
            OFFSET += max(0, t - now())
            run_timers()
            purge_log()
        DELIVER.nudge()
        return 200, {'now': iso(now())}

class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address, daemon_threads, request_queue_size = True, True, 256

def seed():
    t = iso(now())
    insert('kiln', {'code': 'YD01', 'label': 'Old Bertha', 'litres': 400, 'fuel': 'gas', 'peak_c': 1300, 'site': {'street': '3 Clay Lane', 'town': 'Burslem'}, 'state': 'in_service', 'entered_at': t, 'changed_at': t})
    KILN_LABELS['Old Bertha'] = 'YD01'

if __name__ == '__main__':
    if not X('seed-missing'): seed()
    threading.Thread(target=ticker, daemon=True).start()
    if CLOCK_PORT: threading.Thread(target=Server(('127.0.0.1', CLOCK_PORT), Door).serve_forever, daemon=True).start()
    Server(('127.0.0.1', PORT), Handler).serve_forever()
