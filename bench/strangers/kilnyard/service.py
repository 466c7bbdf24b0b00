"""Kilnyard: the service of service.yaml, in memory, with the standard library alone."""
import sys, asyncio, json, re, hmac, hashlib, base64, heapq, time, random, uuid, string, argparse, socket
from collections import deque, OrderedDict
from datetime import datetime, timezone, timedelta
from urllib.parse import unquote, unquote_plus, quote, urlencode, urlsplit
from email.utils import formatdate
try:
    from zoneinfo import ZoneInfo
    LISBON = ZoneInfo('Europe/Lisbon')
except Exception:
    LISBON = timezone.utc

ap = argparse.ArgumentParser()
ap.add_argument('--port', type=int, required=True)
ap.add_argument('--clock-port', type=int, required=True)
ap.add_argument('--fault', default=None)
ARGS = ap.parse_args()
FAULT = ARGS.fault
def F(x): return FAULT == x

BASE = '/y'
ORIGIN = 'https://api.kilnyard.example'
VERSIONS = ['e1', 'e2', 'e3']
CURRENT = 'e3'
CORS = {'https://app.kilnyard.example'}
rnd = random.SystemRandom()
AN = string.ascii_letters + string.digits

# ---------------------------------------------------------------- clock
_t0 = time.monotonic(); _w0 = int(time.time() * 1000)
_off = 0
def now(): return _w0 + int((time.monotonic() - _t0) * 1000) + _off
def iso(ms):
    d = datetime.fromtimestamp(ms // 1000, timezone.utc)
    return d.strftime('%Y-%m-%dT%H:%M:%S') + '.%03dZ' % (ms % 1000)
DT = re.compile(r'^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$')
def parse_dt(s):
    m = DT.match(s) if isinstance(s, str) else None
    if not m: return None
    try:
        sec = int(m[6]); leap = sec == 60
        d = datetime(int(m[1]), int(m[2]), int(m[3]), int(m[4]), int(m[5]), 59 if leap else sec, tzinfo=timezone.utc)
        ms = int((d - datetime(1970, 1, 1, tzinfo=timezone.utc)).total_seconds()) * 1000 + (1000 if leap else 0)
        if m[7]: ms += int(float('0' + m[7]) * 1000)
        z = m[8]
        if z not in 'Zz':
            if int(z[1:3]) > 23 or int(z[4:6]) > 59: return None
            ms -= (1 if z[0] == '+' else -1) * (int(z[1:3]) * 60 + int(z[4:6])) * 60000
        return ms
    except ValueError:
        return None
H = 3600000; D = 24 * H
TIMERS = []; _tseq = 0
def at(due, fn, *a):
    global _tseq
    _tseq += 1
    heapq.heappush(TIMERS, (due, _tseq, fn, a))
    return _tseq
def run_due():
    n = 0
    while TIMERS and TIMERS[0][0] <= now():
        _, seq, fn, a = heapq.heappop(TIMERS)
        try: fn(seq, *a)
        except Exception as e: sys.stderr.write('timer: %r\n' % e)
        n += 1
    return n

# ---------------------------------------------------------------- callers
class Caller:
    __slots__ = ('user', 'id', 'scopes', 'studio', 'scheme')
    def __init__(s, user, id, scheme, scopes, studio): s.user, s.id, s.scheme, s.scopes, s.studio = user, id, scheme, scopes, studio
CALLERS = [
    ('potter', 'p-ida', 'fob', 'fob_IdaIdaIdaIdaIdaIdaIda001', [], 'OAK'),
    ('potter', 'p-tom', 'fob', 'fob_TomTomTomTomTomTomTom002', [], 'OAK'),
    ('potter', 'p-una', 'fob', 'fob_UnaUnaUnaUnaUnaUnaUna003', [], 'ELM'),
    ('keeper', 'k-ash', 'fob', 'fob_AshAshAshAshAshAshAsh004', ['kiln', 'fire', 'glaze'], 'OAK'),
    ('keeper', 'k-bea', 'fob', 'fob_BeaBeaBeaBeaBeaBeaBea005', ['kiln', 'fire', 'glaze'], 'ELM'),
    ('keeper', 'k-cal', 'fob', 'fob_CalCalCalCalCalCalCal006', ['fire'], 'OAK'),
    ('box', 'b-oak', 'box', 'key_boxoak:boxsecretboxsecretboxsecretOAK7', [], 'OAK'),
    ('box', 'b-elm', 'box', 'key_boxelm:boxsecretboxsecretboxsecretELM8', [], 'ELM'),
    ('guild', 'g-ono', 'desk', 'desk_OnoOnoOnoOnoOnoOnoOno009', [], 'GLD'),
    ('guild', 'g-pia', 'desk', 'desk_PiaPiaPiaPiaPiaPiaPia010', [], 'GLD'),
]
KEYS = {'fob': {}, 'desk': {}}; BOXES = {}
for u, i, s, c, sc, st in CALLERS:
    k = Caller(u, i, s, frozenset(sc), st)
    if s == 'box':
        kid, sec = c.split(':', 1); BOXES[kid] = (sec.encode(), k)
    else: KEYS[s][c] = k

# ---------------------------------------------------------------- refusals
class R(Exception):
    def __init__(s, cond=None, viol=None, code=None, headers=None, own=False):
        s.cond, s.viol, s.code, s.headers, s.own = cond, viol, code, headers or [], own
CONDS = {
    'request.missing': ('no_body', 400, 'A body has to be sent.'),
    'request.malformed': ('bad_json', 400, 'The body is no JSON.'),
    'request.media': ('wrong_media', 415, 'That media type is not taken.'),
    'request.untyped': ('wrong_media', 415, 'The body has no media type.'),
    'request.accept': ('not_acceptable', 406, 'Only JSON is spoken here.'),
    'request.parameter': ('bad_query', 400, 'A parameter is not right.'),
    'limit.page': ('bad_page', 422, 'There is no such page.'),
    'request.invalid.missing': ('lacks_field', 422, '{name} is missing'),
    'request.invalid.unknown': ('unknown_field', 400, '{name} is no field'),
    'request.invalid.type': ('wrong_type', 422, '{name} is {found}, not {expected}'),
    'request.invalid.read_only': ('read_only', 422, 'It is not for you to write.'),
    'request.invalid.value': ('bad_value', 422, '{name} has to be {expected}'),
    'route.unknown': ('no_path', 404, 'There is no such path.'),
    'method.unsupported': ('no_method', 405, 'There is no such method here.'),
    'caller.unknown.missing': ('who_is_it', 401, 'Say who you are.'),
    'caller.unknown.expired': ('seal_too_old', 401, 'The seal is too old.'),
    'caller.unknown.bad': ('bad_fob', 401, 'Nobody is known by that.'),
    'caller.forbidden.user': ('not_for_you', 403, 'That is not for you.'),
    'caller.forbidden.scope': ('lacks_scope', 403, 'You have no leave for that.'),
    'caller.forbidden.row': ('not_yours', 403, 'That is not yours.'),
    'caller.forbidden': ('not_yours', 403, 'That is not yours.'),
    'resource.missing': ('not_here', 404, 'There is no such thing.'),
    'resource.gone': ('in_the_bin', 410, 'It was deleted.'),
    'reference.missing': ('no_such_thing', 422, 'What it refers to is not there.'),
    'reference.held': ('still_used', 409, 'Something refers to it.'),
    'resource.exists': ('taken', 409, 'There is one already.'),
    'transition.illegal.state': ('wrong_state', 409, 'Not in this state.'),
    'transition.illegal.condition': ('blocked', 422, 'Not as it is.'),
    'precondition.failed': ('changed_since', 412, 'It was changed.'),
    'precondition.required': ('tag_needed', 428, 'Send If-Match.'),
    'idempotency.reused': ('key_reused', 422, 'That key was used for another request.'),
    'limit.rate': ('slow_down', 429, 'Too many requests.'),
    'limit.quota': ('used_up', 403, 'There may be no more.'),
    'limit.size': ('too_large', 413, 'The body is too large.'),
    'limit.size.url': ('long_address', 414, 'The address is too long.'),
    'limit.size.headers': ('long_headers', 431, 'The header fields are too long.'),
    'limit.time': ('too_slow', 408, 'It took too long.'),
    'version.unknown': ('no_edition', 404, 'There is no such edition.'),
    'version.sunset': ('edition_over', 410, 'That edition is over.'),
    'service.unavailable': ('shut', 503, 'Not now.'),
    'internal': ('oops', 500, 'Something went wrong.'),
}
OWN = {
    'not_your_glaze': (403, 'Another studio mixes it.'), 'kiln_broken': (409, 'The kiln is broken.'),
    'too_hot': (422, 'The kiln does not go so far.'), 'no_room': (409, 'That firing takes no pots now.'),
    'kiln_empty': (409, 'Nothing is in the kiln.'), 'too_late': (409, 'It burns or is over.'),
    'no_glaze': (422, 'Say first which glaze.'), 'repairs_open': (409, 'There are repairs to be done.'),
}
def own(code): return R(code=code, own=code != 'not_your_glaze')

# ---------------------------------------------------------------- resources
def S(t='string', **k): k['t'] = t; return k
RO = dict(ro=True)
PART = OrderedDict(material=S(min=2, max=40, req=True), grams=S('integer', ge=1, le=5000, req=True))
RES = {
    'kiln': OrderedDict(
        id=S(ro=True), studio=S(ro=True), name=S(min=2, max=30, nocase=True), energy=S(enum=['electric', 'gas', 'wood'], imm=True),
        shelves=S('integer', ge=1, le=12), top_c=S('integer', ge=700, le=1400), lock_code=S(pat=r'[0-9]{4}', wo=True, opt=True),
        keeper_note=S(max=200, vis=('keeper', 'guild'), wr=('keeper',), opt=True), health=S(ro=True), open_repairs=S('integer', ro=True),
        href=S(ro=True), made_at=S(ro=True), changed_at=S(ro=True)),
    'firing': OrderedDict(
        id=S(ro=True), number=S('integer', ro=True), studio=S(ro=True), kiln=S(ref='kiln', imm=True),
        kind=S(enum=['bisque', 'glaze', 'raku'], default='bisque'), target_c=S('integer', ge=600, le=1400), hours=S('integer', ge=1, le=72),
        fuel=S('number', ge=0, le=5000, wr=('keeper', 'box'), opt=True), status=S(ro=True), pots=S('integer', ro=True), weight_g=S('integer', ro=True),
        lit_at=S(ro=True), ends_at=S(ro=True)),
    'pot': OrderedDict(
        id=S(ro=True), title=S(min=1, max=60), maker=S(ro=True), studio=S(ro=True), clay=S(enum=['stoneware', 'earthenware', 'porcelain'], imm=True),
        weight_g=S('integer', ge=20, le=20000), glaze=S(ref='glaze', opt=True), firing=S(ref='firing', opt=True),
        marks=S('array', items=S(min=1, max=12), maxi=5, uniq=True, default=[]), stage=S(ro=True), why=S(ro=True), made_at=S(ro=True)),
    'glaze': OrderedDict(
        code=S(pat=r'[A-Z]{2}-[0-9]{3}'), studio=S(ro=True), name=S(min=2, max=40), cone_low=S('integer', ge=1, le=14), cone_high=S('integer', ge=1, le=14),
        parts=S('array', items=S('object', of=PART), mini=1, maxi=12, vis=('potter', 'keeper')), batch_g=S('integer', ge=100, le=50000, opt=True),
        batch_ml=S('integer', ge=100, le=50000, opt=True), food_safe=S('boolean', default=False), used=S('integer', ro=True)),
    'repair': OrderedDict(
        id=S(ro=True), ticket=S(ro=True), kiln=S(ref='kiln', imm=True), studio=S(ro=True), by=S(ro=True), trouble=S(min=3, max=200),
        urgency=S(enum=['low', 'high'], default='low'), stage=S(enum=['open', 'waiting', 'overdue', 'fixed'], state=True), due_at=S(ro=True), mended_at=S(ro=True)),
    'hook': OrderedDict(
        id=S(ro=True), owner=S(ro=True), url=S(max=300, uri=True), secret=S(ro=True, once=True),
        kinds=S('array', items=S(kind=True), mini=1, maxi=10, opt=True), enabled=S('boolean', default=True)),
    'entry': OrderedDict(id=S(ro=True), kind=S(ro=True), about=S(ro=True), studio=S(ro=True), who=S(ro=True), body=S('object', ro=True), at=S(ro=True)),
}
STATES = {'kiln': ['ready', 'resting', 'broken'], 'firing': ['planned', 'loading', 'burning', 'cooling', 'opened', 'spoiled', 'called_off'],
          'pot': ['wet', 'dry', 'bisque', 'glazed', 'finished', 'cracked', 'binned'], 'repair': ['open', 'waiting', 'overdue', 'fixed']}
SF = {'kiln': 'health', 'firing': 'status', 'pot': 'stage', 'repair': 'stage'}
IDF = {'glaze': 'code'}
KINDS = ['kiln.added', 'kiln.broke', 'kiln.renamed', 'firing.lit', 'firing.over', 'firing.opened', 'pot.fired', 'pot.cracked', 'pot.marked',
         'glaze.gone', 'repair.mended', 'repair.near']
PATHS = {'kiln': 'kilns', 'firing': 'firings', 'pot': 'pots', 'glaze': 'glazes', 'repair': 'repairs', 'hook': 'hooks'}

# versions: what a field is called, its shape, down and up
CLAY_DOWN = {'stoneware': 'fireclay'}; CLAY_UP = {'fireclay': 'stoneware'}
same = lambda x: x
def build_shape(v, res):
    out = OrderedDict()
    for n, sp in RES[res].items():
        name, spec, down, up = n, sp, same, same
        if v == 'e1' and res == 'glaze' and n == 'food_safe': continue
        if v == 'e1' and res == 'pot' and n == 'weight_g': name = 'heft'
        if v in ('e1', 'e2'):
            if res == 'firing' and n == 'hours':
                spec = S('integer', ge=60, le=4320, mult=60); down = lambda x: x * 60; up = lambda x: x // 60
            if res == 'pot' and n == 'clay':
                spec = S(enum=['fireclay', 'earthenware', 'porcelain'], imm=True)
                down = lambda x: CLAY_DOWN.get(x, x); up = lambda x: CLAY_UP.get(x, x)
            if res == 'repair' and n == 'trouble': name = 'fault'
        out[name] = (n, spec, down, up)
    if v == 'e1' and res == 'kiln': out['plate'] = (None, S(opt=True), lambda x: 'none', same)
    return out
SHAPES = {(v, r): build_shape(v, r) for v in VERSIONS for r in RES}
NAME_IN = {(v, r): {st: n for n, (st, *_r) in SHAPES[(v, r)].items() if st} for v in VERSIONS for r in RES}

DB = {r: {} for r in RES}
BIN = {}                      # deleted pots
IDX = {('pot', 'firing'): {}, ('pot', 'glaze'): {}, ('repair', 'kiln'): {}, ('firing', 'kiln'): {}}
COUNT = {}
SEQ = 0
def refs(res, field, target): return IDX[(res, field)].get(target) or {}
def link_in(res, row):
    for (r, f), ix in IDX.items():
        if r == res and row.get(f) is not None: ix.setdefault(row[f], {})[row['_id']] = row
def link_out(res, row):
    for (r, f), ix in IDX.items():
        if r == res and row.get(f) is not None:
            d = ix.get(row[f])
            if d: d.pop(row['_id'], None)
def by_seq(d): return sorted(d.values(), key=lambda r: r['_seq'])
def derived(res, row):
    i = row['_id']
    if res == 'kiln':
        rs = refs('repair', 'kiln', i).values()
        return {'open_repairs': len(rs) if F('resources-open-repairs-all') else sum(1 for r in rs if r['stage'] != 'fixed')}
    if res == 'firing':
        ps = refs('pot', 'firing', i).values()
        return {'pots': len(ps), 'weight_g': sum(p['weight_g'] for p in ps)}
    if res == 'glaze': return {'used': len(refs('pot', 'glaze', i))}
    return {}

GUILD_POT = {'id', 'title', 'studio', 'clay', 'weight_g', 'stage'}
class _Log: user = 'log'
LOG = _Log()
def show(res, row, c, v, once=False, der=None):
    out = {}; user = c.user if c else None
    if der is None: der = derived(res, row)
    lim = GUILD_POT if res == 'pot' and user in ('guild', 'log') else None
    if lim and F('authentication-guild-sees-maker'): lim = lim | {'maker'}
    for name, (st, sp, down, up) in SHAPES[(v, res)].items():
        if st is None:
            out[name] = down(None); continue
        if sp.get('wo') or (sp.get('once') and not once): continue
        if lim and st not in lim: continue
        vis = sp.get('vis')
        if vis and user not in vis and not (user == 'log' and set(vis) >= {'keeper', 'guild'}): continue
        val = der[st] if st in der else row.get(st)
        if val is None: continue
        if F('versioning-hours-not-down') and st == 'hours': out[name] = val; continue
        if F('resources-fuel-text') and st == 'fuel': val = str(val)
        out[name] = down(val)
    return out

# ---------------------------------------------------------------- who may
def may_read(c, res, r):
    u = c.user if c else None
    if res in ('kiln', 'firing'): return u == 'guild' or (u is not None and r['studio'] == c.studio)
    if res == 'pot': return (u == 'potter' and r['maker'] == c.id) or (u == 'keeper' and r['studio'] == c.studio) or u == 'guild'
    if res == 'glaze': return u in ('potter', 'keeper', 'guild') or r['food_safe']
    if res == 'repair': return u in ('potter', 'keeper') and r['studio'] == c.studio
    if res == 'hook': return u in ('potter', 'keeper', 'guild') and r['owner'] == c.id
    if res == 'entry':
        if u == 'guild' and F('purpose-guild-looks-back-own'): return r['studio'] == c.studio
        return u == 'guild' or (u == 'keeper' and r['studio'] == c.studio)
RULES = {}
def rule(ops, users, scope=None):
    for o in ops.split(', '):
        for u in users.split(): RULES.setdefault(o, {})[u] = scope
rule('list kiln, read kiln, list firing, read firing', 'potter keeper box guild')
rule('create kiln, update kiln, delete kiln, rest kiln, revive kiln', 'keeper', 'kiln')
rule('create firing, update firing, delete firing, load firing, call_off firing, light firing, stop firing', 'keeper', 'fire')
rule('light firing, stop firing, update firing', 'box')
rule('create pot', 'potter')
rule('list pot, read pot, replace pot, update pot, delete pot, dip pot, crack pot, unbin pot', 'potter')
rule('list pot, read pot, update pot, crack pot', 'keeper')
rule('list pot, read pot', 'guild')
rule('list glaze, read glaze', 'potter keeper guild box anyone')
rule('create glaze, delete glaze, upsert glaze', 'keeper', 'glaze')
rule('create repair, list repair, read repair, update repair', 'potter keeper')
rule('create hook, list hook, read hook, delete hook', 'potter keeper guild')
rule('list entry', 'keeper guild')
if F('purpose-box-as-keeper'):
    rule('load firing, call_off firing', 'box')
if F('authentication-glaze-scope'):
    rule('delete glaze', 'keeper')
def may_act(c, op, res, r):
    if res in ('kiln', 'firing'): return r['studio'] == c.studio
    if res == 'pot': return r['maker'] == c.id if c.user == 'potter' else r['studio'] == c.studio
    if res == 'glaze': return r['studio'] == c.studio
    if res == 'repair': return r['studio'] == c.studio if c.user == 'keeper' else r['by'] == c.id
    if res == 'hook': return r['owner'] == c.id
    return True

# ---------------------------------------------------------------- checking values
URI = re.compile(r'^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]*$')
def jtype(v):
    return ('null' if v is None else 'boolean' if isinstance(v, bool) else 'integer' if isinstance(v, int) else 'number' if isinstance(v, float)
            else 'string' if isinstance(v, str) else 'array' if isinstance(v, list) else 'object')
def short(v):
    s = v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)
    return s[:200]
def check(sp, v, path, out):
    """-> the value as it is kept; violations into out as (kind, path, found, expected)"""
    t = sp['t']
    ok = (t == 'string' and isinstance(v, str) or t == 'boolean' and isinstance(v, bool) or t == 'array' and isinstance(v, list) or t == 'object' and isinstance(v, dict)
          or t == 'number' and isinstance(v, (int, float)) and not isinstance(v, bool)
          or t == 'integer' and (isinstance(v, int) and not isinstance(v, bool) or isinstance(v, float) and v.is_integer()))
    if not ok:
        out.append(('type', path, v, t)); return v
    if t == 'integer': v = int(v)
    bad = lambda e: out.append(('value', path, v, e))
    if 'enum' in sp:
        if v not in sp['enum']: bad('one of ' + ', '.join(sp['enum']))
        return v
    if t == 'string':
        if 'min' in sp and len(v) < sp['min']: bad('at least %d characters' % sp['min'])
        elif 'max' in sp and len(v) > sp['max']: bad('at most %d characters' % sp['max'])
        elif 'pat' in sp and not re.fullmatch(sp['pat'], v): bad('like ^%s$' % sp['pat'])
        elif sp.get('uri') and not F('resources-url-any'):
            try: u = urlsplit(v); u.port
            except ValueError: u = None
            if not URI.match(v) or u is None: bad('a URI')
            elif u.scheme.lower() not in ('http', 'https') or not u.hostname: bad('an address that can be reached by HTTP')
        elif sp.get('kind') and v != '*' and v not in KINDS and v not in {k.split('.')[0] + '.*' for k in KINDS}: bad('a kind of event')
    elif t in ('integer', 'number'):
        le = sp.get('le')
        if F('resources-shelves-13') and le == 12: le = 13
        if 'ge' in sp and v < sp['ge']: bad('at least %s' % sp['ge'])
        elif le is not None and v > le: bad('at most %s' % le)
        elif 'mult' in sp and v % sp['mult']: bad('a multiple of %d' % sp['mult'])
    elif t == 'array':
        if len(v) < sp.get('mini', 0): bad('at least %d items' % sp['mini'])
        elif len(v) > sp.get('maxi', 1 << 30): bad('at most %d items' % sp['maxi'])
        elif sp.get('uniq') and len({json.dumps(x, sort_keys=True) for x in v}) < len(v): bad('items that differ')
        v = [check(sp['items'], x, path + [i], out) for i, x in enumerate(v)]
    elif t == 'object' and 'of' in sp:
        new = {}
        for k, x in v.items():
            if k not in sp['of']:
                out.append(('unknown', path + [k], x, None))
                continue
            new[k] = check(sp['of'][k], x, path + [k], out)
        for k, s2 in sp['of'].items():
            if s2.get('req') and k not in v: out.append(('missing', path + [k], None, s2['t']))
        v = new
    return v

def dotted(p):
    if F('errors-pointer-paths') and len(p) > 1: return '/' + '/'.join(str(x) for x in p)
    return '.'.join(str(x) for x in p)
def invalid(viol, place='body'):
    """viol: (kind, path, found, expected[, in])"""
    vs = []
    for x in viol:
        kind, p, found, exp = x[:4]
        d = {'in': x[4] if len(x) > 4 else place, 'path': dotted(p)}
        if kind != 'missing' and found is not None: d['found'] = found
        if kind != 'unknown' and exp is not None: d['expected'] = exp
        vs.append(d)
    order = viol if not F('errors-missing-first') else sorted(viol, key=lambda x: x[0] != 'missing')
    k = order[0]
    e = R('request.invalid.' + k[0], vs)
    e.first = (dotted(k[1]) or 'the body', short(k[2]), short(k[3] or ''))
    return e

# ---------------------------------------------------------------- changes
class Tx:
    def __init__(s, caller=None, op=None): s.caller, s.op, s.events = caller, op, []
    def emit(s, kind, res, row, data=None, gone=False, each=None):
        s.events.append((kind, res, dict(row), data, gone))
    def commit(s):
        t = now()
        for kind, res, row, data, gone in s.events:
            eid = 'ent_' + ''.join(rnd.choices(AN, k=16))
            der = derived(res, row)
            if callable(data): data = data(der)
            body = data if data is not None else show(res, row, LOG, CURRENT, der=der)
            insert('entry', {'id': eid, 'kind': kind, 'about': row['_id'], 'studio': row['studio'], 'who': s.caller.id if s.caller else None, 'body': body, 'at': iso(t)}, eid)
            DB['entry'][eid]['_ms'] = t
            at(t + 30 * D, lambda seq, e: DB['entry'].pop(e, None), eid)
            for hook in list(DB['hook'].values()):
                if not hook['enabled'] or not wants(hook, kind): continue
                m = hook['_maker']
                if not F('events-everybody-hears') and not may_read(m, res, row): continue
                v = hook['_version'] if not F('versioning-hooks-newest') else CURRENT
                b = data if data is not None else show(res, row, m, v, der=der)
                enqueue(hook, (res, row['_id']), eid, kind, json.dumps({'id': eid, 'kind': kind, 'at': iso(t), 'body': b}, ensure_ascii=False).encode('utf-8', 'replace'))
        s.events = []
def wants(hook, kind):
    ks = hook.get('kinds')
    if not ks: return True
    return any(k == '*' or k == kind or k.endswith('.*') and kind.startswith(k[:-1]) for k in ks)

def insert(res, row, ident):
    global SEQ
    SEQ += 1
    row['_id'] = ident; row['_seq'] = SEQ; row['_tok'] = {}
    DB[res][ident] = row
    link_in(res, row)
    return row

def enter(res, row):
    """the timers of the state that it is in now"""
    s = row[SF[res]]; t = now(); tok = row['_tok']
    for k in list(tok):
        if k not in ('slip', 'near'): del tok[k]
    def arm(name, due): tok[name] = at(due, timed, res, row['_id'], name)
    if res == 'kiln' and s == 'resting': arm('rested', t + 24 * H)
    if res == 'firing':
        if s == 'planned': arm('lapse', t + 7 * D)
        if s == 'loading' and F('states-lapse-loading'): arm('lapse', t + 7 * D)
        if s == 'burning': arm('burn_out', parse_dt(row['ends_at']))
        if s == 'cooling': arm('unlock', t + 12 * H)
    if res == 'pot' and s == 'wet': arm('dry_out', t + (24 * H if F('states-dry-24h') else 48 * H))
def timed(seq, res, ident, name):
    row = DB[res].get(ident)
    if not row or row['_tok'].get(name) != seq: return
    del row['_tok'][name]
    tx = Tx()
    if name == 'near':
        if row['stage'] != 'fixed': tx.emit('repair.near', 'repair', row, {'repair': row['id'], 'ticket': row['ticket']})
    else:
        try: transit(tx, res, row, name)
        except R: return
    tx.commit()

TR = {
    'kiln': {'rest': (('ready',), 'resting'), 'rested': (('resting',), 'ready'), 'break': (('ready', 'resting'), 'broken'), 'revive': (('broken',), 'ready')},
    'firing': {'load': (('planned',), 'loading'), 'light': (('loading',), 'burning'), 'burn_out': (('burning',), 'cooling'), 'stop': (('burning',), None),
               'unlock': (('cooling',), 'opened'), 'call_off': (('planned', 'loading'), 'called_off'), 'lapse': (('planned',), 'called_off')},
    'pot': {'dry_out': (('wet',), 'dry'), 'fire': (('dry', 'glazed'), None), 'dip': (('bisque',), 'glazed'), 'crack': (('wet', 'dry', 'bisque', 'glazed', 'finished'), 'cracked')},
    'repair': {'order': (('open',), 'waiting'), 'mend': (('open', 'waiting', 'overdue'), 'fixed'), 'slip': (('open', 'waiting'), 'overdue')},
}
if F('states-lapse-loading'): TR['firing']['lapse'] = (('planned', 'loading'), 'called_off')
if F('states-rest-broken'): TR['kiln']['rest'] = (('ready', 'broken'), 'resting')
def transit(tx, res, row, name, req=None):
    frm, to = TR[res][name]
    sf = SF[res]; t = now(); was = row[sf]
    if was not in frm:
        raise own('too_late') if name == 'call_off' else R('transition.illegal.state')
    if name == 'revive' and derived('kiln', row)['open_repairs'] != 0: raise own('repairs_open')
    if name == 'light' and not refs('pot', 'firing', row['_id']) and not F('states-light-empty'): raise own('kiln_empty')
    if name == 'dip' and row.get('glaze') is None: raise own('no_glaze')
    if name == 'crack' and req['reason'] == 'none': raise R('transition.illegal.condition')
    if name == 'stop':
        to = 'cooling' if t >= parse_dt(row['lit_at']) + (1 if F('states-stop-1h') else 4) * H else 'spoiled'
    if name == 'fire': to = 'bisque' if was == 'dry' or F('states-glazed-to-bisque') else 'finished'
    row[sf] = to
    if res == 'kiln': row['changed_at'] = iso(t)
    if name == 'light': row['lit_at'] = iso(t); row['ends_at'] = iso(t + row['hours'] * H)
    if name == 'crack': row['why'] = req['reason']
    if name == 'mend': row['mended_at'] = iso(t)
    enter(res, row)
    if name == 'break': tx.emit('kiln.broke', 'kiln', row)
    elif name == 'light': tx.emit('firing.lit', 'firing', row)
    elif name == 'stop' or name == 'burn_out' and not F('events-burn-out-silent'): tx.emit('firing.over', 'firing', row)
    elif name == 'fire': tx.emit('pot.fired', 'pot', row)
    elif name == 'crack':
        d = {'pot': row['id'], 'reason': req['reason']}
        if F('events-cracked-no-reason'): d['reason'] = to
        tx.emit('pot.cracked', 'pot', row, d)
    elif name == 'mend': tx.emit('repair.mended', 'repair', row)
    elif name == 'unlock':
        fid = row['_id']
        tx.emit('firing.opened', 'firing', row, lambda der: {'firing': fid, 'pots': der['pots']})
        for p in by_seq(refs('pot', 'firing', fid)):
            try: transit(tx, 'pot', p, 'fire')
            except R: pass

# ---------------------------------------------------------------- web hooks
RETRY = [10000, 60000, 600000, H]
TASKS = set()
class Dlv:
    __slots__ = ('hook', 'key', 'eid', 'kind', 'body', 'tries', 'waiting')
def enqueue(hook, key, eid, kind, body):
    d = Dlv(); d.hook, d.key, d.eid, d.kind, d.body, d.tries, d.waiting = hook, key, eid, kind, body, 0, False
    hook['_q'].setdefault(key, deque()).append(d)
    pump(hook)
def pump(hook):
    q = hook['_q']
    if not q or hook['_live'] >= (1 if hook['_failing'] else 32): return
    for key in list(q):
        if hook['_live'] >= (1 if hook['_failing'] else 32): return
        d = q[key][0]
        if d.waiting or key in hook['_busy']: continue
        hook['_busy'].add(key); hook['_live'] += 1
        task = LOOP.create_task(attempt(hook, d)); TASKS.add(task); task.add_done_callback(TASKS.discard)
def again(seq, d):
    d.waiting = False
    if d.hook['_on']: pump(d.hook)
def forget(hook):
    hook['_on'] = False; hook['_q'].clear()
def disable(hook):
    hook['enabled'] = False; hook['_q'].clear()
async def attempt(hook, d):
    d.tries += 1
    status, wait = 0, 0
    try: status, wait = await asyncio.wait_for(post(hook, d), 5)
    except Exception: status = 0
    hook['_live'] -= 1; hook['_busy'].discard(d.key)
    if not hook['_on'] or not hook['enabled']: return
    q = hook['_q'].get(d.key)
    good = 200 <= status < 300 or (F('events-redirect-taken') and 300 <= status < 400)
    t = now()
    def done():
        if q and q[0] is d:
            q.popleft()
            if not q: hook['_q'].pop(d.key, None)
    if good:
        hook['_failing'] = None; done()
    else:
        if hook['_failing'] is None: hook['_failing'] = t
        if status == 410 or t - hook['_failing'] >= 2 * H: disable(hook); return
        if d.tries > len(RETRY): done()
        else:
            w = RETRY[d.tries - 1] * (0.8 + 0.4 * rnd.random())
            d.waiting = True
            at(t + int(max(w, min(wait, D))), again, d)
    pump(hook)
async def post(hook, d):
    u = urlsplit(hook['url']); ssl = u.scheme.lower() == 'https'
    port = u.port or (443 if ssl else 80)
    ts = str(now() // 1000)
    signed = (d.eid + '.' + ts + '.').encode() + d.body
    if F('events-seal-without-id'): signed = (ts + '.').encode() + d.body
    mac = hmac.new(hook['secret'].encode(), signed, hashlib.sha256).hexdigest()
    r, w = await asyncio.open_connection(u.hostname, port, ssl=ssl or None)
    try:
        path = (u.path or '/') + ('?' + u.query if u.query else '')
        host = u.netloc.rsplit('@', 1)[-1]
        w.write(('POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nX-Kilnyard-Seal: t=%s,s=%s\r\nX-Kilnyard-Kind: %s\r\nConnection: close\r\n\r\n'
                 % (path, host, len(d.body), ts, mac, d.kind)).encode('latin-1', 'replace') + d.body)
        await w.drain()
        line = await r.readline()
        status = int(line.split()[1]); wait = 0
        while True:
            h = await r.readline()
            if h in (b'\r\n', b'\n', b''): break
            k, _, x = h.decode('latin-1').partition(':')
            if k.strip().lower() == 'retry-after' and x.strip().isdigit(): wait = int(x.strip()) * 1000
        return status, wait
    finally:
        w.close()

# ---------------------------------------------------------------- rates and quotas
class Rate:
    def __init__(s, limit, window, kind, ops, who, burst=None, uncounted=()):
        s.limit, s.window, s.kind, s.ops, s.who, s.burst, s.uncounted, s.m = limit, window, kind, ops, who, burst, uncounted, {}
    def state(s, k, t):
        """-> (remaining, ms until there is more)"""
        x = s.m.get(k)
        if s.kind == 'fixed':
            if not x or t >= x[0] + s.window: return s.limit, 0
            return s.limit - x[1], x[0] + s.window - t
        if s.kind == 'sliding':
            if not x: return s.limit, 0
            while x and x[0] + s.window <= t: x.popleft()
            return s.limit - len(x), (x[0] + s.window - t if x else 0)
        cap = s.burst * s.window       # a bucket, in units of 1/window
        lv = min(cap, x[0] + (t - x[1]) * s.limit) if x else cap
        left = lv // s.window
        need = (left + 1) * s.window - lv
        return left, (0 if lv >= cap else -(-need // s.limit))
    def take(s, k, t):
        if s.kind == 'fixed':
            x = s.m.get(k)
            if not x or t >= x[0] + s.window: s.m[k] = [t, 1]
            else: x[1] += 1
        elif s.kind == 'sliding': s.m.setdefault(k, deque()).append(t)
        else:
            cap = s.burst * s.window; x = s.m.get(k)
            lv = min(cap, x[0] + (t - x[1]) * s.limit) if x else cap
            s.m[k] = [lv - s.window, t]
    def give(s, k, t):
        x = s.m.get(k)
        if not x: return
        if s.kind == 'fixed': x[1] -= 1
        elif s.kind == 'sliding':
            if t in x: x.remove(t)
        else: x[0] = min(s.burst * s.window, x[0] + s.window)
def per_caller(c, addr): return (c.user, c.id) if c else ('@', addr)
def per_studio(c, addr): return (c.studio,) if c else ('@', addr)
RATES = [
    Rate(1500, 60000, 'fixed', None, per_caller),
    Rate(40, 60000, 'sliding', {'list glaze'}, per_caller, uncounted=() if F('limits-bad-queries-count') else (400, 422)),
    Rate(4, 600000, 'bucket', {'light firing', 'stop firing'}, per_caller, burst=4 if F('limits-no-burst') else 8),
    Rate(30, H, 'fixed', {'create repair'}, per_studio),
]
QUOTA = {}
def lisbon_day(t):
    z = LISBON
    d = datetime.fromtimestamp(t / 1000, z)
    nxt = datetime(d.year, d.month, d.day, tzinfo=z) + timedelta(days=1)
    return d.date().isoformat(), int(nxt.timestamp() * 1000)

# ---------------------------------------------------------------- requests
class Req:
    __slots__ = ('method', 'target', 'path', 'query', 'headers', 'raw', 'body', 'toobig', 'addr', 'ep', 'op', 'version', 'caller', 'params', 'q', 'page', 'trace',
                 'rates', 'rt', 'idem', 'tx', 'known', 'nobody', 'refused', 'seg', 'alt')
    def h(s, n):
        x = s.headers.get(n)
        return x[0] if x else None
class Ep:
    def __init__(s, method, pat, op, fn, **o):
        s.method, s.pat, s.op, s.fn, s.o = method, pat.strip('/').split('/'), op, fn, o
        s.res = op.split(' ')[-1] if o.get('res', True) else None
EPS = []
TREE = {}
def ep(method, pat, op, fn, **o):
    e = Ep(method, pat, op, fn, **o); EPS.append(e)
    TREE.setdefault(len(e.pat), []).append(e)
def find_route(segs):
    """-> {method: (ep, params)} of the best pattern"""
    best = None
    for e in TREE.get(len(segs), ()):
        p = {}
        for a, b in zip(e.pat, segs):
            if a[0] == '{':
                if b == '': break
                p[a[1:-1]] = b
            elif a != b: break
        else:
            if best is None: best = {}
            best[e.method] = (e, p)
    return best

def js(o): return json.dumps(o, ensure_ascii=False, separators=(',', ':')).encode('utf-8', 'replace')
def etag(o, v, weak=False): return ('W/' if weak else '') + '"' + hashlib.sha1(js(o) + v.encode()).hexdigest()[:20] + '"'
TAG = re.compile(r'(W/)?("[^"]*")')

class Ans:
    __slots__ = ('status', 'headers', 'body', 'stored')
    def __init__(s, status, body=None, headers=None, stored=None):
        s.status, s.body, s.headers, s.stored = status, body, headers or [], stored

CHALLENGE = {'fob': 'Fob realm="Kilnyard"', 'desk': 'Basic realm="Kilnyard", charset="UTF-8"'}
SEAL = re.compile(r'^t=(\d{1,15}),s=([0-9a-f]{64})$')
def authenticate(rq, accept):
    auth = rq.headers.get('authorization'); seal = rq.headers.get('x-box-seal'); bkey = rq.headers.get('x-box-key')
    found = []
    def bad(cond='caller.unknown.bad', which=None):
        ch = []
        if not F('authentication-no-challenge'):
            for s in accept:
                if s in CHALLENGE: ch.append(('WWW-Authenticate', CHALLENGE[s] + (', error="invalid_key"' if s == 'fob' and which == 'fob' else '')))
        return R(cond, headers=ch)
    if auth is not None and ('fob' in accept or 'desk' in accept):
        if len(auth) > 1: raise bad(which='fob')
        word, _, rest = auth[0].partition(' ')
        rest = rest.strip(' ')
        lw = word if F('authentication-prefix-case') else word.lower()
        if lw in ('fob', 'Fob') and 'fob' in accept:
            c = KEYS['fob'].get(rest)
            if not c: raise bad(which='fob')
            found.append(c)
        elif word.lower() == 'basic' and 'desk' in accept:
            try: name, colon, pw = base64.b64decode(rest, validate=True).decode().partition(':')
            except Exception: raise bad()
            if F('authentication-desk-password'): pw = ''
            c = KEYS['desk'].get(name) if colon and pw == '' else None
            if not c: raise bad()
            found.append(c)
        else: raise bad(which='fob')
    if 'box' in accept and (seal is not None or bkey is not None):
        if not seal or not bkey or len(seal) > 1 or len(bkey) > 1: raise bad()
        m = SEAL.match(seal[0]); b = BOXES.get(bkey[0])
        if not m or not b: raise bad()
        t = int(m[1]) * 1000; n = now()
        if not F('authentication-old-seals'):
            if n - t > 120000: raise bad('caller.unknown.expired')
            if t - n > 120000: raise bad()
        if rq.toobig: raise R('limit.size')
        mac = hmac.new(b[0], ('%s\n%s\n%s\n' % (rq.method, rq.target, m[1])).encode() + rq.raw, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(mac, m[2]): raise bad()
        found.append(b[1])
    if not found: return None, bad
    if len({(c.user, c.id) for c in found}) > 1: raise bad()
    return found[0], bad

DEPRECATED = {'e1': (datetime(2026, 2, 1, tzinfo=timezone.utc), datetime(2028, 2, 1, tzinfo=timezone.utc)),
              'e2': (datetime(2026, 8, 1, tzinfo=timezone.utc), datetime(2028, 8, 1, tzinfo=timezone.utc))}
def epoch(d): return int(d.timestamp())
STATUS = {200: 'OK', 201: 'Created', 204: 'No Content', 304: 'Not Modified', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed',
          406: 'Not Acceptable', 408: 'Request Timeout', 409: 'Conflict', 410: 'Gone', 412: 'Precondition Failed', 413: 'Content Too Large', 414: 'URI Too Long', 415: 'Unsupported Media Type',
          422: 'Unprocessable Content', 428: 'Precondition Required', 429: 'Too Many Requests', 431: 'Request Header Fields Too Large', 500: 'Internal Server Error', 503: 'Service Unavailable'}

def refusal(rq, e):
    if e.code: code = e.code; status, msg = OWN[code]
    else:
        code, status, msg = CONDS.get(e.cond) or CONDS[e.cond.rsplit('.', 1)[0]]
        if F('errors-page-400') and code == 'bad_page': status = 400
        if hasattr(e, 'first'):
            n, f, x = e.first
            msg = msg.replace('{name}', n[:200]).replace('{found}', f).replace('{expected}', x)
    fault = {'code': code, 'says': msg, 'trace': rq.trace}
    if e.viol: fault['where'] = e.viol
    h = list(e.headers)
    h.append(('X-Fault', code))
    return Ans(status, {'fault': fault}, h)

def handle(rq):
    """-> (status, [headers], bytes)"""
    run_due()
    rq.trace = '%032x' % rnd.getrandbits(128)
    rq.ep = rq.version = rq.caller = rq.op = rq.idem = rq.known = None; rq.rates = []; rq.refused = None
    try:
        ans = serve(rq)
    except R as e:
        ans = refusal(rq, e)
        if rq.idem and e.own: remember(rq, ans)
    except Exception as e:
        import traceback; traceback.print_exc()
        ans = refusal(rq, R('internal'))
    return finish(rq, ans)

def finish(rq, ans):
    hs = list(ans.headers); status = ans.status
    # rates
    told = []
    if rq.refused: told = rq.refused
    else:
        for r, k, t in rq.rates:
            if status in r.uncounted: r.give(k, t)
        told = [(r, k) for r, k, t in rq.rates]
    if told:
        t = now(); best = None
        for r, k in told:
            left, ms = r.state(k, t)
            if best is None or left < best[1]: best = (r, left, ms)
        r, left, ms = best
        hs += [('X-Rate-Limit', str(r.limit)), ('X-Rate-Left', str(max(0, left))), ('X-Rate-Reset', str(-(-(t + ms) // 1000)))]
    hs.append(('X-Yard-Trace', rq.trace))
    links = [v for n, v in hs if n == 'Link']; hs = [x for x in hs if x[0] != 'Link']
    dates = []
    if rq.known in DEPRECATED:
        dep, sun = DEPRECATED[rq.known]
        dates.append(epoch(dep)); hs.append(('Sunset', formatdate(epoch(sun), usegmt=True)))
        if rq.known == 'e1':
            links.append('<https://kilnyard.example/editions>; rel="deprecation"')
            links.append('<%s>; rel="successor-version"' % rq.target.replace('/e1/', '/e3/', 1))
    if rq.ep and rq.ep.o.get('dep'):
        dates.append(epoch(datetime(2026, 5, 1, tzinfo=timezone.utc)))
        links.append('<https://kilnyard.example/glazes>; rel="deprecation"')
    if dates: hs.append(('Deprecation', '@%d' % min(dates)))
    if links: hs.append(('Link', ', '.join(links)))
    vary = []
    if rq.ep and not rq.ep.o.get('public'):
        acc = rq.ep.o.get('accept', ('fob', 'desk', 'box'))
        vary.append('Authorization')
        if 'box' in acc: vary += ['X-Box-Seal', 'X-Box-Key']
    vary.append('Origin')
    hs.append(('Vary', ', '.join(vary)))
    o = rq.h('origin')
    if o in CORS: hs += [('Access-Control-Allow-Origin', o), ('Access-Control-Expose-Headers', '*')]
    body = b''
    if ans.body is not None:
        body = ans.body if isinstance(ans.body, bytes) else js(ans.body)
        hs.append(('Content-Type', 'application/json'))
    return status, hs, body

def serve(rq):
    if len(rq.target.encode('latin-1', 'replace')) > 2048: raise R('limit.size.url')
    if rq.nobody == 'headers': raise R('limit.size.headers')
    path, _, qs = rq.target.partition('?')
    if path.startswith('http://') or path.startswith('https://'):
        path = '/' + path.split('/', 3)[3] if path.count('/') > 2 else '/'
    segs = [unquote(x) for x in path.split('/')[1:]]
    if not segs or segs[0] != BASE[1:]:
        if F('purpose-no-base') and segs and segs[0] in VERSIONS: segs = ['y'] + segs
        else: raise R('route.unknown')
    segs = segs[1:]
    ver = segs[0] if segs else None
    if ver in VERSIONS: rq.known = ver
    routes = find_route(segs[1:]) if len(segs) > 1 else None
    if routes and ver == 'e1':
        routes = {m: x for m, x in routes.items() if x[0].op != 'rest kiln'}
    bare = False
    if not routes:
        rq.known = rq.known if len(segs) > 1 else None
        routes = find_route(segs) if ver not in VERSIONS else None
        bare = True
        if not routes: raise R('route.unknown')
    if F('purpose-no-unbin') and any(x[0].op == 'unbin pot' for x in routes.values()): raise R('route.unknown')
    allow = set(routes) | {'OPTIONS'}
    if 'GET' in allow: allow.add('HEAD')
    meth = 'GET' if rq.method == 'HEAD' and 'HEAD' in allow else rq.method
    allowed = ', '.join(sorted(allow))
    if meth not in allow: raise R('method.unsupported', headers=[('Allow', allowed)])
    if bare or ver not in VERSIONS: raise R('version.unknown')
    n = now()
    if not F('versioning-e1-for-ever') and ver == 'e1' and n >= epoch(DEPRECATED['e1'][1]) * 1000: raise R('version.sunset')
    if F('versioning-e2-ends') and ver == 'e2' and n >= epoch(DEPRECATED['e2'][1]) * 1000: raise R('version.sunset')
    rq.version = ver
    if meth == 'OPTIONS':
        h = [('Allow', allowed)]
        if rq.h('origin') in CORS and rq.h('access-control-request-method'):
            h += [('Access-Control-Allow-Methods', allowed), ('Access-Control-Allow-Headers', rq.h('access-control-request-headers') or '*'), ('Access-Control-Max-Age', '600')]
        return Ans(204, None, h)
    e, params = routes[meth]
    rq.ep, rq.op, rq.params = e, e.op, params
    # (4) who calls
    c = None; bad = None
    if not e.o.get('public'):
        accept = e.o.get('accept', ('fob', 'desk', 'box'))
        c, bad = authenticate(rq, accept)
        if c is None and 'anyone' not in RULES[e.op]: raise bad('caller.unknown.missing')
        if c is not None and c.scheme == 'desk' and meth != 'GET' and rq.h('origin') not in CORS:
            sfs = rq.h('sec-fetch-site')
            if sfs is not None:
                if sfs.lower() not in ('same-origin', 'none'): raise R('caller.forbidden')
            elif rq.h('origin') is not None:
                if urlsplit(rq.h('origin')).netloc != rq.h('host'): raise R('caller.forbidden')
    rq.caller = c
    # (5) rates
    t = now(); use = []; over = []
    for r in RATES:
        if r.ops is not None and e.op not in r.ops: continue
        k = r.who(c, rq.addr)
        left, ms = r.state(k, t)
        if left < 1: over.append((r, k, ms))
        use.append((r, k, t))
    if over:
        rq.refused = [(r, k) for r, k, ms in over]
        raise R('limit.rate', headers=[] if F('limits-no-retry-after') else [('Retry-After', str(max(1, -(-max(x[2] for x in over) // 1000))))])
    for r, k, t in use: r.take(k, t)
    rq.rates = use
    # (6) the user
    if not e.o.get('public') and c is not None:
        rl = RULES[e.op]
        if c.user not in rl and 'anyone' not in rl: raise R('caller.forbidden.user')
        sc = rl.get(c.user)
        if sc and sc not in c.scopes: raise R('caller.forbidden.scope')
    # accept
    if not acceptable(rq.headers.get('accept')): raise R('request.accept')
    # parameters
    read_query(rq, qs)
    idk = None
    if meth == 'POST':
        ks = rq.headers.get('idempotency-key')
        if ks and ks[0] != '': idk = ks[0]
        elif e.o.get('keyed'): raise R('request.parameter', [{'in': 'header', 'path': 'Idempotency-Key', 'expected': 'a key'}])
    # body
    rq.body = None
    if e.o.get('body'):
        if rq.toobig: raise_body(rq, True)
        raise_body(rq, False)
    elif rq.toobig: raise R('limit.size')
    # (9) idempotency
    if idk is not None and (c or True):
        if F('endpoints-keys-of-all'): ck = ('*',)
        else: ck = per_caller(c, rq.addr)
        key = (ck, e.op, idk)
        fp = hashlib.sha256(rq.target.encode('latin-1', 'replace') + b'\n' + (json.dumps(rq.body, sort_keys=True).encode() if e.o.get('body') else rq.raw)).digest()
        got = IDEM.get(key)
        if got and got[1] > now():
            if got[0] != fp: raise R('idempotency.reused')
            return Ans(got[2], got[3], list(got[4]))
        rq.idem = (key, fp)
    ans = e.fn(rq)
    if rq.idem and 200 <= ans.status < 300: remember(rq, ans)
    return ans
IDEM = {}
def remember(rq, ans):
    key, fp = rq.idem
    exp = now() + 24 * H
    IDEM[key] = (fp, exp, ans.status, ans.stored if ans.stored is not None else ans.body, list(ans.headers))
    at(exp, lambda seq, k: IDEM.pop(k, None) if k in IDEM and IDEM[k][1] <= now() else None, key)

def acceptable(vals):
    if not vals: return True
    best = None
    for part in ','.join(vals).split(','):
        bits = [x.strip() for x in part.split(';')]
        ty = bits[0].lower()
        if not ty: continue
        q = 1.0
        for b in bits[1:]:
            if b.lower().startswith('q='):
                try: q = float(b[2:])
                except ValueError: q = 0.0
        rank = {'application/json': 3, 'application/*': 2, '*/*': 1}.get(ty)
        if rank and (best is None or rank > best[0]): best = (rank, q)
    if best is None: return all(not x.strip() for x in vals)
    return best[1] > 0
def no_number(x): raise ValueError(x)
def finite(x):
    f = float(x)
    if f in (float('inf'), float('-inf')): raise ValueError(x)
    return f
def raise_body(rq, big):
    ct = rq.h('content-type')
    if not big and not rq.raw: raise R('request.missing')
    if ct is None: raise R('request.untyped')
    m = ct.split(';')[0].strip().lower()
    if m != 'application/json' and not (rq.method == 'PATCH' and m == 'application/merge-patch+json'): raise R('request.media')
    if big: raise R('limit.size')
    try: rq.body = json.loads(rq.raw.decode('utf-8'), parse_constant=no_number, parse_float=finite)
    except (ValueError, RecursionError): raise R('request.malformed')

# ---------------------------------------------------------------- query
def pbad(name, found, exp, cond='request.parameter'):
    return R(cond, [{'in': 'query', 'path': name, 'found': found, 'expected': exp}])
def read_query(rq, qs):
    e = rq.ep; P = e.o.get('params', {}); pg = e.o.get('pages')
    got = OrderedDict()
    if qs:
        for bit in qs.split('&'):
            if bit == '': continue
            k, _, v = bit.partition('=')
            got.setdefault(unquote_plus(k), []).append(unquote_plus(v))
    pagep = {'page': ('page', 'per'), 'after': ('after', 'before', 'limit'), 'cursor': ('from', 'limit'), None: ()}[pg]
    rq.q = {}; rq.page = {}
    hidden = e.op == 'list pot' and rq.caller and rq.caller.user == 'guild'
    v = rq.version
    for k, vals in got.items():
        if k in pagep:
            if len(vals) > 1: raise pbad(k, vals, 'one value')
            rq.page[k] = vals[0]; continue
        p = P.get(k)
        if p and p.get('field') and not p.get('filters'):
            pass
        if not p or (p.get('since') and VERSIONS.index(v) < VERSIONS.index(p['since'])) or (hidden and p.get('field') not in GUILD_POT | {None}):
            raise pbad(k, vals[0], 'a parameter that there is')
        if p.get('many'):
            rq.q[k] = [pval(k, p, x, v, e.res) for x in vals]; continue
        if len(vals) > 1: raise pbad(k, vals, 'one value')
        x = vals[0]
        if p.get('split'):
            xs = x.split(',')
            if len(xs) > 100: raise pbad(k, x, 'at most 100 values')
            if F('endpoints-first-state-only'): xs = xs[:1]
            rq.q[k] = [pval(k, p, y, v, e.res) for y in xs]; continue
        rq.q[k] = pval(k, p, x, v, e.res)
    # the page
    def num(name, dflt, mx, clamp):
        x = rq.page.get(name)
        if x is None: return dflt
        if not re.fullmatch(r'\d{1,15}', x) or int(x) < 1: raise pbad(name, x, 'a whole number from 1', 'limit.page')
        n = int(x)
        if mx and n > mx:
            if clamp: return n if F('limits-no-clamp') else mx
            raise pbad(name, x, 'at most %d' % mx, 'limit.page')
        return n
    if pg == 'page':
        rq.page['per'] = num('per', 20, 100, True)
        rq.page['page'] = num('page', 1, None, False)
    elif pg == 'after':
        rq.page['limit'] = num('limit', 10, 50, False)
        if 'after' in rq.page and 'before' in rq.page: raise pbad('before', rq.page['before'], 'one of after and before', 'limit.page')
    elif pg == 'cursor':
        rq.page['limit'] = num('limit', 25, 100, False)
def pval(k, p, x, v, res):
    t = p.get('t', 'string')
    if p.get('sorts'):
        neg = x[:1] == '-'; nm = x[1:] if neg else x
        for name, st in p['sorts'].items():
            nn = NAME_IN[(v, res)].get(name, name) if p.get('fieldnames') else name
            if nn == nm: return (st, neg)
        raise pbad(k, x, 'one of the orders')
    if t == 'integer':
        if not re.fullmatch(r'-?\d{1,18}', x): raise pbad(k, x, 'an integer')
        return int(x)
    if t == 'boolean':
        if x not in ('true', 'false'): raise pbad(k, x, 'true or false')
        return x == 'true'
    if t == 'time':
        ms = parse_dt(x)
        if ms is None: raise pbad(k, x, 'a date-time')
        return ms
    if 'enum' in p:
        en = p['enum']
        if k == 'clay' and v != 'e3':
            if F('versioning-clay-filter-newest'): return x
            if x not in ('fireclay', 'earthenware', 'porcelain'): raise pbad(k, x, 'one of the clays')
            return CLAY_UP.get(x, x)
        if x not in en: raise pbad(k, x, 'one of ' + ', '.join(en))
    if p.get('min') and len(x) < p['min'] or p.get('max') and len(x) > p['max']: raise pbad(k, x, 'a text of another length')
    if p.get('words') and len(x.split()) > 16: raise pbad(k, x, 'at most 16 words')
    return x

# ---------------------------------------------------------------- rows
def load(rq, res, ident, deleted_ok=False):
    row = DB[res].get(ident)
    c = rq.caller
    if row is None:
        if res == 'pot' and ident in BIN and may_read(c, res, BIN[ident]):
            if deleted_ok: return BIN[ident]
            raise R('resource.missing' if F('errors-gone-is-missing') else 'resource.gone')
        raise R('resource.missing')
    if not may_read(c, res, row) and not (F('authentication-kilns-of-all') and rq.op == 'read kiln'): raise R('resource.missing')
    return row
def own_row(rq, res, row):
    if not may_act(rq.caller, rq.op, res, row):
        raise own('not_your_glaze') if rq.op == 'delete glaze' else R('caller.forbidden.row')
def if_match(rq, res, row, required=False):
    v = rq.headers.get('if-match')
    if not v:
        if required: raise R('precondition.required')
        return
    v = ', '.join(v)
    if v.strip() == '*': return
    tags = [t for w, t in TAG.findall(v) if not w]
    mine = {etag(show(res, row, rq.caller, rq.version), rq.version)}
    if may_read(None, res, row): mine.add(etag(show(res, row, None, rq.version), rq.version))
    if not mine & set(tags): raise R('precondition.failed')
def location(rq, res, ident):
    b = '' if F('purpose-location-without-base') else BASE
    return ('Location', '%s/%s/%s/%s' % (b, rq.version, PATHS[res], quote(ident, safe='')))

def take(rq, res, mode, row=None, bound=None, refuse=False):
    """the body -> the fields that it gives, carried up. mode: create, update, replace. bound: fields of the path."""
    body = rq.body; c = rq.caller; v = rq.version; viol = []; up = {}; removed = set(); bound = bound or {}
    if not isinstance(body, dict): raise invalid([('type', [], body, 'object')])
    shape = SHAPES[(v, res)]
    for k, val in body.items():
        if k not in shape:
            viol.append(('unknown', [k], val, None)); continue
        st, sp, down, upf = shape[k]
        if st is None:
            if val is not None: check(sp, val, [k], viol)
            continue
        if sp.get('ro') or sp.get('state') and mode != 'update' or sp.get('wr') and c.user not in sp['wr']:
            if refuse: viol.append(('read_only', [k], val, 'nothing'))
            continue
        req = not sp.get('opt')
        if val is None:
            if mode == 'update' and not req:
                removed.add(st)
            elif mode == 'update': viol.append(('missing', [k], None, sp['t']))
            else: viol.append(('type', [k], None, sp['t']))
            continue
        n = len(viol)
        x = check(sp, val, [k], viol)
        if len(viol) > n: continue
        if st in bound:
            if x != bound[st]: viol.append(('value', [k], val, 'as in the path'))
            continue
        x = upf(x)
        if sp.get('imm') and row is not None:
            if x != row.get(st):
                viol.append(('value', [k], val, 'as it was'))
            continue
        up[st] = x
    nxt = dict(row) if row is not None else {}
    for st, x in bound.items():
        sp = RES[res][st]
        if res == 'glaze' and st == 'code' and row is None:
            n = len(viol)
            check(sp, x, [st], viol)
            if len(viol) > n: viol[n:] = [q[:4] + ('path',) for q in viol[n:]]
        nxt[st] = x
    if mode != 'update':
        for k, (st, sp, *_x) in shape.items():
            if st is None or sp.get('ro') or sp.get('state') or st in bound: continue
            if sp.get('wr') and c.user not in sp['wr']: continue
            if k in body: continue
            if sp.get('imm') and row is not None: continue
            if 'default' in sp: nxt[st] = sp['default'] if not isinstance(sp['default'], list) else list(sp['default'])
            elif not sp.get('opt'):
                if F('resources-hours-optional') and st == 'hours': nxt[st] = 8; continue
                viol.append(('missing', [k], None, sp['t']))
            elif row is not None and not sp.get('wo') and not (F('endpoints-replace-keeps') and st == 'glaze'): nxt.pop(st, None)
        for st, sp in RES[res].items():          # what this version cannot see
            if st not in NAME_IN[(v, res)] and row is None and 'default' in sp: nxt[st] = sp['default']
    nxt.update(up)
    for st in removed: nxt.pop(st, None)
    if res == 'glaze' and not any(x[1] and x[1][0] in ('cone_low', 'cone_high') for x in viol) and 'cone_low' in nxt and 'cone_high' in nxt:
        if nxt['cone_high'] < nxt['cone_low']: viol.append(('value', ['cone_high'], nxt['cone_high'], 'a cone no lower than cone_low'))
    if res == 'glaze' and not any(x[1] and x[1][0] in ('batch_g', 'batch_ml') for x in viol):
        if ('batch_g' in nxt) == ('batch_ml' in nxt):
            viol.append(('value', ['batch_g'], nxt.get('batch_g'), 'exactly one of batch_g and batch_ml'))
    if viol:
        sent = {k: i for i, k in enumerate(body)}      # in the order in which they were sent, then what is missing, then the rest
        viol.sort(key=lambda x: (sent[x[1][0]], 0) if x[1][0] in sent else (len(sent), 0 if x[0] == 'missing' else 1))
        if F('versioning-violations-newest'):
            viol = [(x[0], [shape[x[1][0]][0] if x[1] and x[1][0] in shape and shape[x[1][0]][0] else (x[1][0] if x[1] else '')] + x[1][1:]) + x[2:] for x in viol]
        raise invalid(viol)
    for st, sp in RES[res].items():
        if sp.get('ref') and nxt.get(st) is not None and st not in bound and (row is None or nxt[st] != row.get(st)):
            target = DB[sp['ref']].get(nxt[st])
            if target is None or not may_read(c, sp['ref'], target):
                raise R('reference.missing', [{'in': 'body', 'path': NAME_IN[(v, res)][st], 'found': nxt[st], 'expected': 'a %s that is there' % sp['ref']}])
    return nxt

def conflict(res, nxt, ident):
    """the row that holds one of its unique values"""
    if res not in ('kiln', 'glaze', 'repair'): return None
    for r in DB[res].values():
        if r['_id'] == ident: continue
        if res == 'kiln':
            a, b = r['name'], nxt['name']
            if not F('resources-names-by-case'): a, b = a.lower(), b.lower()
            if a == b and r['studio'] == nxt['studio']: return r
        elif res == 'glaze' and r['studio'] == nxt['studio'] and r['name'] == nxt['name']: return r
        elif res == 'repair' and r['kiln'] == nxt['kiln'] and r['trouble'] == nxt['trouble'] and r['stage'] != 'fixed' and nxt['stage'] != 'fixed': return r
    return None
def own_errors(rq, res, nxt, row):
    op = rq.op
    if op == 'create firing' and DB['kiln'][nxt['kiln']]['health'] == 'broken': raise own('kiln_broken')
    if op in ('create firing', 'update firing') and nxt['target_c'] > DB['kiln'][nxt['kiln']]['top_c'] and not (F('errors-too-hot-later') and row): raise own('too_hot')
    if res == 'pot' and nxt.get('firing') is not None and DB['firing'][nxt['firing']]['status'] != 'loading' and not (row and row.get('firing') == nxt['firing']): raise own('no_room')

def new_id(res, rq):
    if res == 'kiln':
        a = string.ascii_lowercase + string.digits if F('resources-kiln-id-small') else string.ascii_uppercase + string.digits
        gen = lambda: 'kln_' + ''.join(rnd.choices(a, k=8))
    elif res == 'firing': gen = lambda: 'frg_' + ulid()
    elif res == 'pot': gen = lambda: str(uuid.uuid4())
    elif res == 'repair': gen = lambda: 'rep_%010x' % rnd.getrandbits(40)
    else: gen = lambda: 'hk_' + ''.join(rnd.choices(AN, k=12))
    while True:
        i = gen()
        if i not in DB[res] and i not in BIN: return i
B32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
def ulid():
    n = (now() << 80) | rnd.getrandbits(80); s = ''
    for _ in range(26): s = B32[n & 31] + s; n >>= 5
    return s

def make(rq, res, nxt, exists=False, ident=None):
    """own errors, unique, rows, quota, and then the row"""
    c = rq.caller; t = now()
    nxt = {k: x for k, x in nxt.items() if not k.startswith('_')}
    nxt['studio' if res != 'hook' else 'owner'] = c.studio if res != 'hook' else c.id
    if res == 'repair': nxt['stage'] = 'open'
    own_errors(rq, res, nxt, None)
    if res == 'glaze' and rq.op == 'create glaze':
        other = DB['glaze'].get(nxt['code']) or conflict(res, nxt, None)
        if other:
            if F('endpoints-exists-changes') and other['_id'] == nxt['code'] and other['studio'] == c.studio:
                for k in ('name', 'cone_low', 'cone_high', 'parts'): other[k] = nxt[k]
            return other, False
    elif conflict(res, nxt, ident): raise R('resource.exists')
    if res == 'hook':
        n = len(DB['hook']) if F('limits-hooks-of-all') else sum(1 for h in DB['hook'].values() if h['owner'] == c.id)
        if n >= 5: raise R('limit.quota')
    if res == 'firing':
        live = ('planned', 'loading', 'called_off') if F('limits-called-off-counts') else ('planned', 'loading')
        if sum(1 for f in refs('firing', 'kiln', nxt['kiln']).values() if f['status'] in live) >= 3:
            raise R('limit.quota')
        d, end = lisbon_day(t); key = (c.studio, d)
        if QUOTA.get(key, 0) >= 60: raise R('limit.quota', headers=[('Retry-After', str(-(-(end - t) // 1000)))])
        QUOTA[key] = QUOTA.get(key, 0) + 1
    tx = rq.tx = Tx(c, rq.op)
    ident = ident or (nxt['code'] if res == 'glaze' else new_id(res, rq))
    nxt['code' if res == 'glaze' else 'id'] = ident
    if res in ('kiln', 'pot'): nxt['made_at'] = iso(t)
    if res == 'kiln':
        nxt.update(health='ready', changed_at=iso(t), href='%s%s/%s/kilns/%s' % ('http://' + (rq.h('host') or 'localhost') if F('purpose-href-of-host') else ORIGIN, BASE, CURRENT, ident))
    if res == 'firing':
        n = COUNT.get('*' if F('resources-number-over-all') else nxt['kiln'], 0) + 1
        COUNT['*' if F('resources-number-over-all') else nxt['kiln']] = n
        nxt.update(number=n, status='planned')
    if res == 'pot': nxt.update(maker=c.id, stage='wet')
    if res == 'repair':
        COUNT['ticket'] = COUNT.get('ticket', 0) + 1
        nxt.update(ticket='R-%04d' % COUNT['ticket'], by=c.id, due_at=iso(t + 7 * D))
    if res == 'hook':
        nxt.update(secret='seal_' + ''.join(rnd.choices(AN, k=32)), _maker=c, _version=rq.version, _q={}, _live=0, _busy=set(), _failing=None, _on=True)
    row = insert(res, nxt, ident)
    if res in SF: enter(res, row)
    if res == 'kiln': tx.emit('kiln.added', 'kiln', row)
    if res == 'repair':
        due = t + 7 * D
        row['_tok']['slip'] = at(due, timed, 'repair', ident, 'slip')
        row['_tok']['near'] = at(due - 48 * H, timed, 'repair', ident, 'near')
        if row['urgency'] == 'high':
            try: transit(tx, 'kiln', DB['kiln'][row['kiln']], 'break')
            except R: pass
    tx.commit()
    return row, True
def view(rq, res, row, **k): return show(res, row, rq.caller, rq.version, **k)

def create(rq):
    res = rq.ep.res; bound = {}
    if 'kiln' in rq.params:
        load(rq, 'kiln', rq.params['kiln']); bound['kiln'] = rq.params['kiln']
    nxt = take(rq, res, 'create', bound=bound)
    row, made = make(rq, res, nxt)
    if not made: return Ans(200, view(rq, res, row))
    return Ans(201, view(rq, res, row, once=True), [location(rq, res, row['_id'])], stored=view(rq, res, row) if res == 'hook' else None)

def read(rq):
    res = rq.ep.res; row = load(rq, res, list(rq.params.values())[-1])
    body = view(rq, res, row); h = []; o = rq.ep.o
    if o.get('etag'):
        tag = etag(body, rq.version, o['etag'] == 'weak'); h.append(('ETag', tag))
    if o.get('cache'): h.append(('Cache-Control', o['cache']))
    inm = rq.headers.get('if-none-match')
    if o.get('etag') and inm:
        inm = ', '.join(inm)
        opaque = tag[2:] if tag.startswith('W/') else tag
        tags = {t for w, t in TAG.findall(inm) if not (w and F('endpoints-weak-no-304'))}
        if inm.strip() == '*' or opaque in tags: return Ans(304, None, h)
    return Ans(200, body, h)

def store(rq, res, row, nxt, tx):
    """a change that is no creation; unique first; nothing where nothing changes"""
    changed = {k for k in set(row) | set(nxt) if not k.startswith('_') and row.get(k) != nxt.get(k)}
    if conflict(res, nxt, row['_id']): raise R('resource.exists')
    before = dict(row)
    if not changed:
        if F('events-renamed-always') and res == 'kiln' and rq.op == 'update kiln':
            tx.emit('kiln.renamed', 'kiln', row, {'kiln': row['id'], 'was': row['name'], 'is': row['name']})
        return before, changed
    link_out(res, row)
    for k in changed:
        if nxt.get(k) is None: row.pop(k, None)
        else: row[k] = nxt[k]
    link_in(res, row)
    if res == 'kiln': row['changed_at'] = iso(now())
    if rq.op == 'update kiln' and (row['name'] != before['name'] or F('events-renamed-always')):
        tx.emit('kiln.renamed', 'kiln', row, {'kiln': row['id'], 'was': before['name'], 'is': row['name']})
    if rq.op == 'update pot':
        new = [m for m in row['marks'] if m not in before['marks']]
        if F('events-first-mark-only'): new = new[:1]
        for m in new: tx.emit('pot.marked', 'pot', row, {'pot': row['id'], 'mark': m})
    return before, changed

def change(rq):
    res = rq.ep.res; o = rq.ep.o
    mode = o['mode']
    if F('errors-body-before-row') and not isinstance(rq.body, dict): raise invalid([('type', [], rq.body, 'object')])
    if F('errors-body-before-row'):
        for k in rq.body:
            if k not in SHAPES[(rq.version, res)]: raise invalid([('unknown', [k], rq.body[k], None)])
    row = load(rq, res, rq.params['id']); own_row(rq, res, row)
    if o.get('match'): if_match(rq, res, row, o['match'] == 'required')
    nxt = take(rq, res, mode, row=row, refuse=o.get('refuse'))
    if o.get('in') and row[SF[res]] not in o['in']: raise R('transition.illegal.state')
    move = None
    if res == 'repair' and nxt['stage'] != row['stage']:
        move = {'waiting': 'order', 'fixed': 'mend'}.get(nxt['stage'])
        if not move or row['stage'] not in TR['repair'][move][0]: raise R('transition.illegal.state')
        want = nxt['stage']
    own_errors(rq, res, nxt, row)
    tx = Tx(rq.caller, rq.op)
    if move:
        if conflict(res, nxt, row['_id']): raise R('resource.exists')
        nxt['stage'] = row['stage']
        store(rq, res, row, nxt, tx)
        transit(tx, res, row, move)
    else: store(rq, res, row, nxt, tx)
    tx.commit()
    return Ans(200, view(rq, res, row))

def upsert(rq):
    code = rq.params['code']; row = DB['glaze'].get(code)
    nxt = take(rq, 'glaze', 'replace' if row else 'create', row=row, bound={'code': code})
    if row is None:
        row, _ = make(rq, 'glaze', nxt, ident=code)
        return Ans(201, view(rq, 'glaze', row), [location(rq, 'glaze', code)])
    if nxt['studio'] != rq.caller.studio: raise R('caller.forbidden.row')
    tx = Tx(rq.caller, rq.op); store(rq, 'glaze', row, nxt, tx); tx.commit()
    return Ans(200, view(rq, 'glaze', row))

def delete(rq):
    res = rq.ep.res; o = rq.ep.o
    row = load(rq, res, list(rq.params.values())[-1]); own_row(rq, res, row)
    if o.get('match'): if_match(rq, res, row, o['match'] == 'required')
    if o.get('in') and row[SF[res]] not in o['in']: raise R('transition.illegal.state')
    i = row['_id']
    if res == 'kiln' and refs('firing', 'kiln', i): raise R('reference.held')
    if res == 'glaze' and refs('pot', 'glaze', i): raise R('reference.held')
    tx = Tx(rq.caller, rq.op)
    row['_tok'].clear()
    if res == 'kiln':
        for r in by_seq(refs('repair', 'kiln', i)):
            r['_tok'].clear(); link_out('repair', r); del DB['repair'][r['_id']]
    if res == 'firing':
        for p in by_seq(refs('pot', 'firing', i)):
            link_out('pot', p); p.pop('firing', None); link_in('pot', p)
    link_out(res, row); del DB[res][i]
    if res == 'pot':
        t = now(); BIN[i] = row; row['_gone'] = t
        at(t + 14 * D, lambda seq, x, g: BIN.pop(x, None) if x in BIN and BIN[x]['_gone'] == g else None, i, t)
    if res == 'hook': forget(row)
    if res == 'glaze': tx.emit('glaze.gone', 'glaze', row)
    tx.commit()
    return Ans(204)

def transition(rq):
    res = rq.ep.res; name = rq.ep.op.split(' ')[0]
    if name == 'unbin': return unbin(rq)
    row = load(rq, res, rq.params['id']); own_row(rq, res, row)
    if name == 'crack':
        b = rq.body
        if not isinstance(b, dict): raise invalid([('type', [], b, 'object')])
        if 'reason' not in b: raise invalid([('missing', ['reason'], None, 'string')])
        viol = []; check(S(min=3, max=80), b['reason'], ['reason'], viol)
        if viol: raise invalid(viol)
    tx = Tx(rq.caller, rq.op); transit(tx, res, row, name, rq.body); tx.commit()
    if name == 'revive': return Ans(200, {'kiln': row['id'], 'health': row['health'], 'was': 'broken'})
    return Ans(200, view(rq, res, row))
def unbin(rq):
    row = load(rq, 'pot', rq.params['id'], deleted_ok=True); own_row(rq, 'pot', row)
    i = row['_id']
    if i not in BIN: raise R('transition.illegal.state')
    for f in ('glaze', 'firing'):
        if row.get(f) is not None and row[f] not in DB[f]: raise R('reference.missing')
    del BIN[i]; DB['pot'][i] = row
    if not F('states-unbin-as-it-was'): row['stage'] = 'wet'
    link_in('pot', row); enter('pot', row)
    return Ans(200, view(rq, 'pot', row))

# ---------------------------------------------------------------- lists
def rows_for(rq):
    res = rq.ep.res; c = rq.caller; q = rq.q
    P = rq.ep.o.get('params', {})
    tests = []
    for k, x in q.items():
        f = P[k].get('test')
        if f: tests.append((f, x))
    parent = rq.params.get('kiln')
    out = []
    for r in DB[res].values():
        if not may_read(c, res, r): continue
        if parent is not None and r['kiln'] != parent: continue
        for f, x in tests:
            if not f(r, x): break
        else: out.append(r)
    return out
def order_rows(rows, keys, newest=False):
    rows.sort(key=lambda r: r['_seq'], reverse=newest)
    for st, neg in reversed(keys):
        rows.sort(key=lambda r: r[st], reverse=False) if not neg else _desc(rows, st)
    return rows
def _desc(rows, st):
    rows.sort(key=lambda r: r[st], reverse=True)   # Python keeps the order of equals also when reversed
def listing(rq):
    res = rq.ep.res; o = rq.ep.o
    if 'kiln' in rq.params: load(rq, 'kiln', rq.params['kiln'])
    rows = rows_for(rq)
    key = rq.q.get('sort') or rq.q.get('by') or o.get('order')
    if rq.q.get('way') == 'desc' and key and not (F('endpoints-way-alone') and 'by' not in rq.q): key = (key[0], not key[1])
    order_rows(rows, [key] if key else [], newest=bool(o.get('newest')) and not F('endpoints-ties-oldest'))
    pg = o.get('pages')
    if pg is None: return Ans(200, [view(rq, res, r) for r in rows])
    if pg == 'page':
        per, page = rq.page['per'], rq.page['page']; total = len(rows)
        part = rows[(page - 1) * per: page * per]; more = page * per < total
        links = []
        def lk(n, rel):
            path, _, qs = rq.target.partition('?')
            bits = [b for b in qs.split('&') if b and unquote_plus(b.partition('=')[0]) != 'page']
            return '<%s?%s>; rel="%s"' % (path, '&'.join(bits + ['page=%d' % n]), rel)
        if more: links.append(lk(page + 1, 'next'))
        if page > 1: links.append(lk(page - 1, 'prev'))
        links.append(lk(1, 'first'))
        return Ans(200, {'rows': [view(rq, res, r) for r in part], 'total': total, 'more': more}, [('Link', x) for x in links])
    if pg == 'after':
        n = rq.page['limit']
        for k in ('after', 'before'):
            if k in rq.page:
                r = DB[res].get(rq.page[k])
                if r is None or not may_read(rq.caller, res, r): raise pbad(k, rq.page[k], 'an identifier that is there', 'limit.page')
        if 'after' in rq.page: rows = [r for r in rows if r['_id'] > rq.page['after']]
        if 'before' in rq.page:
            rows = [r for r in rows if r['_id'] < rq.page['before']]
            return Ans(200, {'glazes': [view(rq, res, r) for r in rows[-n:]], 'more': len(rows) > n})
        return Ans(200, {'glazes': [view(rq, res, r) for r in rows[:n]], 'more': len(rows) > n})
    # cursor, newest first
    n = rq.page['limit']
    bind = json.dumps([sorted((k, x) for k, x in rq.q.items()), rq.version, rq.caller.user, rq.caller.studio])
    if rq.page.get('from') is not None:
        place = open_cursor(rq.page['from'], bind)
        if place is None: raise pbad('from', rq.page['from'], 'a cursor of this list', 'limit.page')
        rows = [r for r in rows if (-r['_ms'], r['_seq']) > (-place[0], place[1])]
    part = rows[:n]
    nxt = make_cursor(part[-1]['_ms'], part[-1]['_seq'], bind) if len(rows) > n else None
    return Ans(200, {'entries': [view(rq, res, r) for r in part], 'next': nxt})
SECRET = rnd.randbytes(32)
def make_cursor(ms, seq, bind):
    p = '%d.%d' % (ms, seq)
    return base64.urlsafe_b64encode((p + '.' + hmac.new(SECRET, (p + bind).encode(), hashlib.sha256).hexdigest()[:24]).encode()).decode().rstrip('=')
def open_cursor(s, bind):
    try:
        a, b, m = base64.urlsafe_b64decode(s + '=' * (-len(s) % 4)).decode().split('.')
        if not hmac.compare_digest(m, hmac.new(SECRET, ('%s.%s' % (a, b) + bind).encode(), hashlib.sha256).hexdigest()[:24]): return None
        return int(a), int(b)
    except Exception: return None

ABOUT = js({'name': 'Kilnyard', 'studios': 2, 'kinds': ['bisque', 'glaze', 'raku']})
def about(rq): return Ans(200, ABOUT, [('Cache-Control', 'public, max-age=3600')])

eq = lambda f: (lambda r, x: r.get(f) == x)
ep('GET', '/about', 'tell about', about, public=True)
ep('POST', '/kilns', 'create kiln', create, body=True)
ep('GET', '/kilns', 'list kiln', listing, pages='page', order=('made_at', True), params={
    'name': dict(min=2, max=30, test=lambda r, x: r['name'].lower() == x.lower()),
    'energy': dict(enum=['electric', 'gas', 'wood'], many=True, test=lambda r, x: r['energy'] in x),
    'health': dict(enum=STATES['kiln'], test=eq('health')),
    'hot': dict(t='integer', test=lambda r, x: r['top_c'] >= x),
    'by': dict(sorts={'heat': 'top_c', 'room': 'shelves'}),
    'way': dict(enum=['asc', 'desc'])})
ep('GET', '/kilns/{id}', 'read kiln', read, etag='strong', cache='private, max-age=30')
ep('PATCH', '/kilns/{id}', 'update kiln', change, mode='update', body=True, match='required', refuse=True)
ep('DELETE', '/kilns/{id}', 'delete kiln', delete, **{'in': ('ready', 'resting')})
ep('POST', '/kilns/{id}/rest', 'rest kiln', transition)
ep('POST', '/kilns/{id}/revive', 'revive kiln', transition)
ep('POST', '/kilns/{kiln}/firings', 'create firing', create, body=True)
ep('GET', '/firings', 'list firing', listing, pages='page', params={
    'kiln': dict(test=eq('kiln')),
    'status': dict(enum=STATES['firing'], split=True, test=lambda r, x: r['status'] in x),
    'energy': dict(enum=['electric', 'gas', 'wood'], test=lambda r, x: DB['kiln'][r['kiln']]['energy'] == x),
    'cooler': dict(t='integer', test=lambda r, x: r['target_c'] < x),
    'sort': dict(sorts={'hours': 'hours', 'target_c': 'target_c'}, fieldnames=True)})
ep('GET', '/firings/{id}', 'read firing', read, etag='weak')
ep('PATCH', '/firings/{id}', 'update firing', change, mode='update', body=True, **{'in': ('planned', 'loading', 'burning')})
ep('DELETE', '/firings/{id}', 'delete firing', delete, **{'in': ('planned', 'called_off')})
ep('POST', '/firings/{id}/load', 'load firing', transition)
ep('POST', '/firings/{id}/light', 'light firing', transition, accept=('fob', 'box'), keyed=True)
ep('POST', '/firings/{id}/stop', 'stop firing', transition, accept=('fob', 'box'))
ep('POST', '/firings/{id}/call-off', 'call_off firing', transition)
ep('POST', '/pots', 'create pot', create, body=True)
ep('GET', '/pots', 'list pot', listing, pages='page', order=('weight_g', True), newest=True, params={
    'clay': dict(enum=RES['pot']['clay']['enum'], field='clay', test=eq('clay')),
    'maker': dict(field='maker', test=eq('maker')),
    'mark': dict(field='marks', test=lambda r, x: x in r['marks']),
    'firing': dict(field='firing', test=eq('firing')),
    'q': dict(field='title', words=True, test=lambda r, x: all(w in r['title'].lower() for w in x.lower().split())),
    'done': dict(t='boolean', field='stage', test=lambda r, x: (r['stage'] == 'finished') == x),
    'since': dict(t='time', field='made_at', test=lambda r, x: parse_dt(r['made_at']) >= x),
    'sort': dict(sorts={'weight_g': 'weight_g', 'title': 'title'}, fieldnames=True)})
ep('GET', '/pots/{id}', 'read pot', read, etag='strong')
ep('PUT', '/pots/{id}', 'replace pot', change, mode='replace', body=True, match='accepted')
ep('PATCH', '/pots/{id}', 'update pot', change, mode='update', body=True, match='accepted')
ep('DELETE', '/pots/{id}', 'delete pot', delete)
ep('POST', '/pots/{id}/dip', 'dip pot', transition)
ep('POST', '/pots/{id}/crack', 'crack pot', transition, body=True)
ep('POST', '/pots/{id}/unbin', 'unbin pot', transition)
ep('POST', '/glazes', 'create glaze', create, body=True, dep=True)
ep('PUT', '/glazes/{code}', 'upsert glaze', upsert, body=True)
ep('GET', '/glazes', 'list glaze', listing, pages='after', order=('code', False), params={
    'code': dict(test=lambda r, x: r['code'].startswith(x)),
    'food_safe': dict(t='boolean', since='e2', test=eq('food_safe')),
    'fits': dict(t='integer', test=lambda r, x: r['cone_low'] <= x <= r['cone_high'])})
ep('GET', '/glazes/{code}', 'read glaze', read, etag='strong')
ep('DELETE', '/glazes/{code}', 'delete glaze', delete, match='required')
ep('POST', '/kilns/{kiln}/repairs', 'create repair', create, body=True)
ep('GET', '/kilns/{kiln}/repairs', 'list repair', listing, pages='page', params={
    'stage': dict(enum=STATES['repair'], test=lambda r, x: r['stage'] != x),
    'urgency': dict(enum=['low', 'high'], test=eq('urgency'))})
ep('GET', '/repairs/{id}', 'read repair', read)
ep('PATCH', '/repairs/{id}', 'update repair', change, mode='update', body=True)
ep('POST', '/hooks', 'create hook', create, body=True)
ep('GET', '/hooks', 'list hook', listing)
ep('GET', '/hooks/{id}', 'read hook', read)
ep('DELETE', '/hooks/{id}', 'delete hook', delete)
ep('GET', '/entries', 'list entry', listing, pages='cursor', order=('at', True), accept=('fob', 'desk'), params={
    'kind': dict(test=eq('kind')), 'about': dict(test=eq('about'))})
RULES['tell about'] = {'anyone': None}

# ---------------------------------------------------------------- HTTP
CONNS = set()
MAXBODY = 8192
class Http(asyncio.Protocol):
    def __init__(s, app): s.app = app
    def connection_made(s, tr):
        s.tr = tr; s.buf = b''; s.head = None; s.t = time.monotonic(); s.need = 0; s.started = None; s.busy = False; s.closing = False
        sk = tr.get_extra_info('socket')
        try: sk.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except Exception: pass
        a = tr.get_extra_info('peername'); s.addr = a[0] if a else '?'
        CONNS.add(s)
    def connection_lost(s, exc): CONNS.discard(s); s.closing = True
    def data_received(s, data):
        s.buf += data
        if s.started is None: s.started = time.monotonic()
        try: s.go()
        except Exception as e:
            sys.stderr.write('http: %r\n' % e)
            if not s.tr.is_closing(): s.tr.close()
    def plain(s, cond, status=None):
        rq = Req(); rq.headers = {}; rq.target = '/'; rq.method = 'GET'; rq.trace = '%032x' % rnd.getrandbits(128)
        rq.ep = rq.version = rq.known = rq.refused = None; rq.rates = []
        st, hs, body = finish(rq, refusal(rq, R(cond)))
        s.reply(st, hs, body, close=True)
    def go(s):
        while not s.closing and not s.busy:
            if s.head is None:
                s.buf = s.buf.lstrip(b'\r\n') if s.buf[:1] in (b'\r', b'\n') else s.buf
                i = s.buf.find(b'\r\n\r\n')
                if i < 0:
                    if len(s.buf) > 262144: s.plain('limit.size.headers')
                    if not s.buf: s.started = None
                    return
                lines = s.buf[:i].decode('latin-1').split('\r\n'); s.buf = s.buf[i + 4:]
                w = lines[0].split(' ')
                if len(w) != 3 or not w[2].startswith('HTTP/1.') or not w[1] or not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", w[0]): return s.plain('request.malformed')
                hd = {}; size = 0; bad = False
                for l in lines[1:]:
                    k, colon, v = l.partition(':')
                    if not colon or not k or k != k.strip(): bad = True; break
                    v = v.strip(' \t'); size += len(k) + len(v) + 4
                    hd.setdefault(k.lower(), []).append(v)
                if bad: return s.plain('request.malformed')
                s.head = (w[0], w[1], w[2], hd, size); s.body = bytearray(); s.total = 0; s.over = False
                te = hd.get('transfer-encoding'); cl = hd.get('content-length')
                if te:
                    if te[-1].lower() != 'chunked' or cl: return s.plain('request.malformed')
                    s.mode = 'chunk'; s.left = None
                elif cl:
                    if len(set(cl)) > 1 or not re.fullmatch(r'\d{1,12}', cl[0]): return s.plain('request.malformed')
                    s.mode = 'len'; s.left = int(cl[0])
                else: s.mode = 'len'; s.left = 0
                if (hd.get('expect') or [''])[0].lower() == '100-continue' and not (s.mode == 'len' and s.left > MAXBODY): s.tr.write(b'HTTP/1.1 100 Continue\r\n\r\n')
            if not s.read_body(): return
            m, target, ver, hd, size = s.head
            s.head = None; s.started = time.monotonic() if s.buf else None
            rq = Req(); rq.method, rq.target, rq.headers, rq.raw, rq.toobig, rq.addr = m, target, hd, bytes(s.body), s.over, s.addr
            rq.nobody = 'headers' if size > 8192 else None
            close = ver == 'HTTP/1.0' and (hd.get('connection') or [''])[0].lower() != 'keep-alive' or 'close' in ','.join(hd.get('connection') or []).lower()
            r = s.app(rq)
            if asyncio.iscoroutine(r):
                s.busy = True
                async def fin():
                    try: st, hs, body = await r
                    except Exception: st, hs, body = 500, [], b''
                    s.busy = False
                    if not s.tr.is_closing(): s.reply(st, hs, body, m == 'HEAD', close); s.go()
                t = LOOP.create_task(fin()); s.task = t
                return
            st, hs, body = r
            s.reply(st, hs, body, m == 'HEAD', close)
    def add(s, b):
        s.total += len(b)
        if s.total > MAXBODY: s.over = True
        else: s.body += b
    def read_body(s):
        if s.mode == 'len':
            if s.left > MAXBODY: s.over = True
            n = min(s.left, len(s.buf)); s.add(s.buf[:n]); s.buf = s.buf[n:]; s.left -= n
            if s.left and s.over and (s.head[3].get('expect') or s.left > 16 << 20):   # not read to its end
                s.left = 0; s.head[3]['connection'] = ['close']; return True
            return s.left == 0
        while True:
            if s.left is None:
                i = s.buf.find(b'\r\n')
                if i < 0:
                    if len(s.buf) > 1000: s.plain('request.malformed')
                    return False
                try: s.left = int(s.buf[:i].split(b';')[0].strip() or b'x', 16)
                except ValueError: s.plain('request.malformed'); return False
                s.buf = s.buf[i + 2:]
                s.last = s.left == 0
                if s.last: s.mode = 'chunk'
            if s.last:
                i = s.buf.find(b'\r\n')
                if i < 0: return False
                line = s.buf[:i]; s.buf = s.buf[i + 2:]
                if line == b'': return True
                continue
            if len(s.buf) < s.left + 2:
                if s.left > (16 << 20): s.plain('limit.size')
                return False
            s.add(s.buf[:s.left]); s.buf = s.buf[s.left + 2:]; s.left = None
    def reply(s, st, hs, body, head=False, close=False):
        if s.tr.is_closing(): return
        out = ['HTTP/1.1 %d %s' % (st, STATUS.get(st, 'Status'))]
        for k, v in hs: out.append('%s: %s' % (k, v.replace('\r', '').replace('\n', '')))
        if st not in (204, 304): out.append('Content-Length: %d' % len(body))
        out.append('Date: ' + formatdate(usegmt=True))
        if close: out.append('Connection: close')
        s.tr.write('\r\n'.join(out).encode('latin-1', 'replace') + b'\r\n\r\n' + (b'' if head or st in (204, 304) else body))
        s.t = time.monotonic()
        if close: s.closing = True; s.tr.close()

DUR = re.compile(r'^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$')
def add_duration(ms, s):
    m = DUR.match(s) if isinstance(s, str) else None
    if not m or not any(m.groups()): return None
    y, mo, w, d, h, mi, se = m.groups()
    months = int(y or 0) * 12 + int(mo or 0)
    if months:
        t = datetime.fromtimestamp(ms // 1000, timezone.utc); k = t.year * 12 + t.month - 1 + months
        yy, mm = k // 12, k % 12 + 1
        last = ((datetime(yy + (mm == 12), mm % 12 + 1, 1)) - timedelta(days=1)).day
        ms = int(t.replace(year=yy, month=mm, day=min(t.day, last)).timestamp()) * 1000 + ms % 1000
    return ms + int((int(w or 0) * 7 + float(d or 0)) * D + float(h or 0) * H + float(mi or 0) * 60000 + float(se or 0) * 1000)
async def door(rq):
    global _off
    def say(st, o): return st, [('Content-Type', 'application/json')], js(o)
    try:
        if rq.method in ('GET', 'HEAD'): return say(200, {'now': iso(now())})
        if rq.method != 'POST': return say(400, {'error': 'GET or POST'})
        try: b = json.loads(rq.raw.decode())
        except ValueError: return say(400, {'error': 'no JSON'})
        if not isinstance(b, dict) or set(b) not in ({'advance'}, {'now'}): return say(400, {'error': 'advance or now'})
        n = now()
        to = add_duration(n, b['advance']) if 'advance' in b else parse_dt(b['now'])
        if to is None: return say(400, {'error': 'no such time'})
        if to < n: return say(422, {'error': 'the clock goes forward alone'})
        _off += to - n
        run_due()
        if TASKS: await asyncio.wait(set(TASKS), timeout=0.12)
        run_due()
        return say(200, {'now': iso(now())})
    except (OverflowError, ValueError):
        return say(400, {'error': 'no such time'})

async def ticker():
    n = 0
    while True:
        await asyncio.sleep(0.05); n += 1
        run_due()
        if n % 10 == 0:
            t = time.monotonic()
            for s in list(CONNS):
                if s.closing or s.busy: continue
                if s.started is not None and t - s.started > 10: s.plain('limit.time')
                elif s.started is None and t - s.t > 60: s.tr.close()
async def main():
    global LOOP
    LOOP = asyncio.get_running_loop()
    a = await LOOP.create_server(lambda: Http(handle), '127.0.0.1', ARGS.port, backlog=512)
    b = await LOOP.create_server(lambda: Http(door), '127.0.0.1', ARGS.clock_port)
    sys.stderr.write('kilnyard: http://127.0.0.1:%d%s, clock at %d\n' % (ARGS.port, BASE, ARGS.clock_port))
    await ticker()
try: asyncio.run(main())
except KeyboardInterrupt: pass
