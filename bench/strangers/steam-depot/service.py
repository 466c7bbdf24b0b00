import asyncio, sys, json, time, re, hmac, hashlib, base64, secrets, os, heapq, random, string
from datetime import datetime, timezone, timedelta, date
from urllib.parse import unquote, parse_qsl, urlsplit
from collections import deque, defaultdict
A = sys.argv
def arg(n):
    return A[A.index(n) + 1] if n in A else None
PORT, CPORT, F = int(arg('--port')), arg('--clock-port'), arg('--fault')
BASE = '' if F == 'p-base' else '/depot'
LOCBASE = '' if F == 'p-location' else '/depot'
SECRET = os.environ.get('DEPOT_JWT_SECRET', 'steam-depot-secret-of-the-shed-0123456789').encode()
OFF = 0.0
def now(): return time.time() * 1000 + OFF
def iso(ms):
    ms = int(ms); d = datetime.fromtimestamp(ms // 1000, timezone.utc)
    return d.strftime('%Y-%m-%dT%H:%M:%S.') + '%03dZ' % (ms % 1000)
DT = re.compile(r'(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)')
def ms_of(s):
    m = DT.fullmatch(s) if isinstance(s, str) else None
    if not m: return None
    try:
        sec = min(int(m[4]), 59) if m[4] == '60' else int(m[4])
        d = datetime.strptime('%s %s:%s:%02d' % (m[1], m[2], m[3], sec), '%Y-%m-%d %H:%M:%S').replace(tzinfo=timezone.utc)
        z = m[6]; off = 0
        if z not in 'Zz':
            hh, mm = int(z[1:3]), int(z[4:6])
            if hh > 23 or mm > 59: return None
            off = (hh * 60 + mm) * (1 if z[0] == '+' else -1)
        r = (d - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)
        return r - off * 60000 + int(float('0' + (m[5] or '.0')) * 1000 + 1e-6)
    except (ValueError, OverflowError): return None
AN = string.ascii_letters + string.digits
def rnd(n, a=AN): return ''.join(secrets.choice(a) for _ in range(n))
H = 3600000

CODES = dict(unreadable=400, not_acceptable=406, bad_parameter=400, bad_page=400, field_missing=422, field_unknown=422, field_invalid=422, no_credential=401, credential_over=401, bad_credential=401, scope_lacking=403, not_allowed=403, not_your_job=403, not_found=404, no_such_reference=422, wrong_method=405, taken=409, in_use=409, wrong_state=409, not_certified=409, too_many_defects=409, already_over=409, not_in_force=409, engine_cold=409, turn_begun=409, overfull=409, short_stock=409, in_the_past=422, not_running=409, level_above=409, tag_differs=412, tag_missing=428, key_reused=422, busy=409, too_often=429, used_up=429, too_large=413, url_too_long=414, headers_too_large=431, too_slow=408, unavailable=503, version_over=410, version_unknown=400, failed=500)
TEXT = dict(not_your_job='Another fitter has taken it.', not_certified='Its boiler has no valid certificate.', too_many_defects='Three or more defects are open.', already_over='The certificate would be over already.', not_in_force='The certificate is not in force.', engine_cold='The locomotive is not in steam.', turn_begun='The turn has begun or is over.', overfull='It does not hold as much.', short_stock='There is not so much in stock.', in_the_past='A turn starts in the future.', not_running='The locomotive is stopped.', level_above='More than that is in stock.')
OWN = set(TEXT) - {'not_your_job'}
if F == 'x-dup-status': CODES['taken'] = 400
if F == 'x-reference': CODES['no_such_reference'] = 404
if F == 'x-text': TEXT['short_stock'] = 'wrong_state'
class No(Exception):
    def __init__(s, code, v=None, h=None): s.code, s.v, s.h = code, v, h or []
def bad(path, kind='value', where='body', exp='a value that fits'): return {'in': where, 'path': path, 'expected': exp, '_k': kind}

# ---- resources
S = lambda **k: dict(t='string', **k)
I = lambda a, b, **k: dict(t='integer', min=a, max=b, **k)
D = lambda **k: dict(t='string', fmt='dt', **k)
EN = lambda *v, **k: dict(t='string', enum=list(v), **k)
RO = dict(ro=True)
RAIL = S(ro=True, set={'create': lambda c: c.caller['railway']})
R = {
 'locomotive': dict(gen=lambda: 'loc_' + rnd(16), req='number name wheels weight_kg', unique=[('railway', 'number')], fields=dict(
  id=S(ro=True), railway=RAIL, number=S(pat=r'[0-9]{1,5}', imm=True), name=S(lo=2, hi=40), wheels=EN('0-4-0', '0-6-0', '2-6-0', '4-6-0', '4-6-2', imm=True), weight_kg=I(5000, 199999 if F == 'r-max' else 200000), built_on=S(fmt='date'), status=S(ro=True),
  certified=dict(t='boolean', ro=True, derive=lambda r: any(x['status'] in (('valid', 'draft') if F == 'r-certified' else ('valid',)) for x in kids('certificate', r['id']))),
  open_defects=dict(t='integer', ro=True, derive=lambda r: sum(x['status'] in (('reported',) if F == 'r-open-defects' else ('reported', 'under_repair')) for x in kids('defect', r['id']))),
  updated_at=D(ro=True, set={('update' if F == 'r-updated' else 'write'): lambda c: iso(now())} | ({'create': lambda c: iso(now())} if F == 'r-updated' else {})))),
 'certificate': dict(gen=lambda: 'cert_' + rnd(16, '0123456789abcdef'), req='locomotive exam pressure_psi expires_at', unique=[], fields=dict(
  id=S(ro=True), locomotive=S(ref='locomotive', imm=True), railway=S(ro=True, set={'create': lambda c: T['locomotive'][c.next['locomotive']]['railway']}), inspector=S(ro=True, set={'create': lambda c: c.caller['id']}), exam=EN('cold', 'hydraulic', 'steam'), pressure_psi=I(50, 350), expires_at=D(), status=S(ro=True), signed_at=D(ro=True, set={'sign': lambda c: iso(now())}), withdrawn_for=S(ro=True, set={'withdraw': lambda c: c.request['reason']}))),
 'turn': dict(gen=lambda: 'turn_' + rnd(16), req='locomotive driver fireman starts_at ends_at', unique=[], fields=dict(
  id=S(ro=True), number=dict(t='integer', ro=True, count='locomotive'), locomotive=S(ref='locomotive', imm=True), railway=RAIL, driver=S(lo=1, hi=40), fireman=S(lo=1, hi=40), starts_at=D(), ends_at=D(), trips=I(1, 12, default=1 if F == 'r-default' else 4), note=S(hi=200, visible=['manager'], writable=['manager']), status=S(ro=True), signed_on_at=D(ro=True, set={'sign_on': lambda c: iso(now())}), coal_kg=dict(t='integer', ro=True, set={'sign_off': lambda c: c.request['coal_kg']}))),
 'defect': dict(gen=lambda: 'dft_' + rnd(16), req='locomotive title severity', unique=[], fields=dict(
  id=S(ro=True), label=S(ro=True, label=True), locomotive=S(ref='locomotive', imm=True), railway=RAIL, reporter=S(ro=True, set={'create': lambda c: c.caller['id']}), title=S(lo=3, hi=80), severity=EN('cosmetic', 'running', 'stopping'), parts=dict(t='array', item=S(hi=30), maxi=5, default=[]), cost_pence=I(0, 100000000, visible=['manager', 'fitter'] if F == 'r-visible' else ['manager'], writable=['manager']), status=S(ro=True), fitter=S(ro=True, set={'take': lambda c: c.caller['id']}), work=S(ro=True, set={'mend': lambda c: c.request['work']}), reported_at=D(ro=True, set={'create': lambda c: iso(now())}))),
 'stock': dict(gen=lambda: 'stk_' + rnd(16), req='kind place capacity', unique=[] if F == 'r-unique' else [('railway', 'kind', 'place')], fields=dict(
  id=S(ro=True), railway=RAIL, kind=EN('coal', 'water', 'oil', imm=True), place=S(lo=2, hi=30), capacity=I(1, 1000000), reorder_at=I(0, 1000000, default=0), supplier=S(hi=60), level=dict(t='integer', ro=True, default=0, set={'deliver': lambda c: c.row['level'] + c.request['amount'], 'draw': lambda c: c.row['level'] - c.request['amount']}), status=S(ro=True))),
 'hook': dict(gen=lambda: ('hook_' if F == 'r-id' else 'whk_') + rnd(16), req='url', unique=[], fields=dict(
  id=S(ro=True), owner=S(ro=True, set={'create': lambda c: c.caller['id']}), url=S(fmt='uri', hi=300), events=dict(t='array', item=S(kind=True), maxi=10), enabled=dict(t='boolean', default=True), secret=S(ro=True, once=F != 'r-reveal', make=lambda: 'hs_' + rnd(32)))),
 'entry': dict(gen=lambda: 'evt_' + rnd(24), req='', unique=[], fields=dict(id=S(ro=True), kind=S(), railway=S(), about=S(), actor=S(), at=D(), payload=dict(t='object'))),
}
REQUIRED = {'locomotive': 'number name wheels weight_kg', 'certificate': 'locomotive exam pressure_psi expires_at', 'turn': 'locomotive driver fireman starts_at ends_at trips', 'defect': 'locomotive title severity parts', 'stock': 'kind place capacity reorder_at', 'hook': 'url enabled', 'entry': ''}
if F == 'r-immutable': R['locomotive']['fields']['wheels']['imm'] = False
T = {k: {} for k in R}
KIDS = defaultdict(dict)
COUNT = defaultdict(int); SEQ = 0
def kids(res, lid): return list(KIDS[res, lid].values())
M = {  # state machines: transition -> (from, to, guard, else, guard_else, after, at)
 'locomotive': dict(initial='fit' if F == 's-initial' else 'stored', tr={
  'pass': dict(f=['stored', 'stopped'], to='fit', g=lambda c: derived('certified', c.row), ge='not_certified'),
  'light': dict(f=['fit'], to='in_steam', g=lambda c: derived('open_defects', c.row) < (4 if F == 's-light' else 3), ge='too_many_defects'),
  'drop': dict(f=['in_steam', 'fit'] if F == 's-drop' else ['in_steam'], to='fit'), 'stop': dict(f=['fit', 'in_steam'], to='stopped'),
  'cool': dict(f=['in_steam'], to='fit', after=(48 if F == 's-cool' else 36) * H)}),
 'certificate': dict(initial='draft', tr={
  'sign': dict(f=['draft'], to='valid', g=lambda c: ms_of(c.row['expires_at']) > now(), ge='already_over'),
  'expire': dict(f=['valid'], to='expired', at=lambda r: ms_of(r['expires_at'])),
  'withdraw': dict(f=['valid'], to='withdrawn', e='not_in_force')}),
 'turn': dict(initial='rostered', tr={
  'sign_on': dict(f=['rostered'], to='signed_on', g=lambda c: F == 's-sign-on' or T['locomotive'][c.row['locomotive']]['status'] == 'in_steam', ge='engine_cold'),
  'sign_off': dict(f=['signed_on'], to='worked'), 'cancel': dict(f=['rostered'], to='cancelled', e='wrong_state' if F == 'x-else' else 'turn_begun'),
  'miss': dict(f=['rostered'], to='missed', at=lambda r: ms_of(r['starts_at' if F == 's-miss' else 'ends_at']))}),
 'defect': dict(initial='reported', tr={
  'take': dict(f=['reported'], to='under_repair'), 'mend': dict(f=['under_repair'], to='repaired'), 'reject': dict(f=['reported', 'under_repair'], to='rejected'),
  'reopen': dict(f=['repaired'] if F == 's-reopen' else ['repaired', 'rejected'], to='reported'), 'lapse': dict(f=['under_repair'], to='reported', after=14 * 24 * H)}),
 'stock': dict(initial='open', tr={
  'deliver': dict(f=['open'], to='open', g=lambda c: c.row['level'] + c.request['amount'] <= c.row['capacity'], ge='overfull'),
  'draw': dict(f=['open'], to='open', g=lambda c: (c.request['amount'] < c.row['level'] if F == 's-draw' else c.request['amount'] <= c.row['level']), ge='short_stock')}),
}
if F == 's-lapse': del M['defect']['tr']['lapse']
def derived(n, row): return R['locomotive']['fields'][n]['derive'](row)

# ---- callers
JW = lambda c: c
KEYS = {
 'dk_AdaBluebell00000000000001': dict(id='m_ada', user='manager', railway='bluebell', scopes=['fleet', 'roster']),
 'dk_BobSevern00000000000000002': dict(id='m_bob', user='manager', railway='severn', scopes=['fleet', 'roster']),
 'dk_DanBluebell00000000000003': dict(id='f_dan', user='fitter', railway='bluebell', scopes=[]),
 'dk_FaySevern00000000000000004': dict(id='f_fay', user='fitter', railway='severn', scopes=[]),
 'dk_IvySevern00000000000000005': dict(id='c_ivy', user='crew', railway='severn', scopes=[]),
 'dk_JonBoard000000000000000006': dict(id='i_jon', user='inspector', railway='board', scopes=[]),
}
KEYS = {('dk_' + (k[3:] + '0' * 24)[:24]): v for k, v in KEYS.items()}
USERS = ['manager', 'fitter', 'crew', 'inspector']
if F == 'p-crew': USERS.remove('crew')
if F == 'p-inspector': USERS.remove('inspector')
def b64d(s):
    if not re.fullmatch(r'[A-Za-z0-9_-]*', s): raise ValueError
    return base64.urlsafe_b64decode(s + '=' * (-len(s) % 4))
TOK = {}
def jwt(t):
    try:
        c = TOK.get(t)
        if c is None:
            h, p, g = t.split('.'); hd = json.loads(b64d(h))
            if hd.get('alg') != 'HS256' or not hmac.compare_digest(hmac.new(SECRET, (h + '.' + p).encode(), 'sha256').digest(), b64d(g)): return None
            c = json.loads(b64d(p))
            if len(TOK) < 1000: TOK[t] = c
        if c.get('iss') != 'https://id.steam-depot.example': return None
        aud = c.get('aud'); aud = aud if isinstance(aud, list) else [aud]
        if 'steam-depot' not in aud and F != 'a-audience': return None
        n = now() / 1000
        if not isinstance(c.get('exp'), (int, float)): return None
        if 'nbf' in c and c['nbf'] > n + 5: return None
        if c['exp'] + 5 <= n and F != 'a-expired': return 'expired'
        roles = c.get('role'); roles = roles if isinstance(roles, list) else [roles]
        u = next((x for x in roles if x in USERS), None)
        if not u or not isinstance(c.get('sub'), str) or not isinstance(c.get('railway'), str): return None
        return dict(id=c['sub'], user=u, railway=c['railway'], scopes=c['scope'].split(' ') if isinstance(c.get('scope'), str) else [])
    except Exception: return None
def challenge(kerr=0, terr=0):
    if F == 'a-challenge': return []
    return [('WWW-Authenticate', 'ApiKey realm="Steam Depot", in="header", name="Depot-Key"' + (', error="invalid_key"' if kerr else '')),
            ('WWW-Authenticate', 'Bearer realm="Steam Depot"' + (', error="invalid_token"' if terr else ''))]
def who(hs):
    ks, ts = hs.get('x-depot-key' if F == 'a-header' else 'depot-key', []), hs.get('authorization', [])
    if not ks and not ts: raise No('no_credential', h=challenge())
    out = []
    if ks:
        c = KEYS.get(ks[0]) if len(ks) == 1 else None
        if not c or c['user'] not in USERS: raise No('bad_credential', h=challenge(1))
        out.append(c)
    if ts:
        p = ts[0].split(' ', 1) if len(ts) == 1 else ['']
        c = jwt(p[1].strip()) if len(p) == 2 and p[0].lower() == 'bearer' else None
        if c == 'expired': raise No('credential_over', h=challenge(0, 1))
        if not c: raise No('bad_credential', h=challenge(0, 1))
        out.append(c)
    if len(out) == 2:
        a, b = out
        if (a['id'], a['user'], a['railway']) != (b['id'], b['user'], b['railway']): raise No('bad_credential', h=challenge(1, 1))
        return dict(a, scopes=a['scopes'] + b['scopes'])
    return out[0]
own = lambda r, c: r['railway'] == c['railway']
mine = lambda r, c: own(r, c) and c['id'] in (r['driver'], r['fireman'])
P = defaultdict(list)
def allow(ops, users, cond=None, scopes=(), els=None):
    for o in ops.split(', '):
        for u in users.split(): P[o].append((u, cond, scopes, els))
allow('create locomotive', 'manager', None, ('fleet',))
allow('delete locomotive', 'manager', own, () if F == 'a-scope' else ('fleet',))
allow('list locomotive, read locomotive', 'manager fitter crew', own)
allow('update locomotive, pass locomotive', 'manager', own)
allow('light locomotive, drop locomotive', 'crew manager', own)
allow('stop locomotive', 'manager fitter', own)
allow('list locomotive, read locomotive, list certificate, read certificate, create certificate, stop locomotive', 'inspector')
allow('sign certificate, withdraw certificate', 'inspector', lambda r, c: F == 'a-sign' or r['inspector'] == c['id'])
allow('list certificate, read certificate', 'manager fitter', own)
allow('create turn', 'manager', None, ('roster',))
allow('list turn, read turn, update turn, delete turn, cancel turn', 'manager', own)
allow('read turn, sign_on turn, sign_off turn', 'crew', mine)
allow('list turn', 'crew', own if F == 'a-list-turn' else mine)
allow('create defect', 'manager fitter crew')
allow('list defect', 'manager fitter crew', own)
allow('read defect', 'manager fitter crew', None if F == 'a-tenant' else own)
allow('update defect, reject defect, reopen defect', 'manager', own)
allow('take defect', 'fitter', own)
allow('mend defect', 'fitter', lambda r, c: own(r, c) and (F == 'a-mend' or r.get('fitter') == c['id']), (), 'not_your_job')
allow('create stock', 'manager')
allow('list stock, read stock, draw stock', 'manager fitter crew', own)
allow('replace stock, deliver stock', 'manager', own)
allow('create hook', 'manager fitter')
allow('list hook, read hook, update hook, delete hook', 'manager fitter', lambda r, c: r['owner'] == c['id'])
allow('list entry, read entry', 'manager', own)
def rules(op, c): return [x for x in P[op] if x[0] == c['user'] and all(s in c['scopes'] for s in x[2])]
def holds(op, r, c): return any(x[1] is None or x[1](r, c) for x in rules(op, c))

# ---- versions
VS = ['2024-10-01', '2025-10-01', '2026-06-01']
REN = [{'turn': {'driver': 'engine_driver'}, 'defect': {'severity': 'grade'}}, {'defect': {'severity': 'grade'}}, {}]
GONE = [{'turn': {'note'}}, {}, {}]
if F == 'w-rename': REN[0] = {'defect': {'severity': 'grade'}}
if F == 'w-note': GONE[0] = {}
def dn(res, f, v): return REN[v].get(res, {}).get(f, f)
def names(res, v): return {dn(res, f, v): f for f in R[res]['fields'] if f not in GONE[v].get(res, ())}
def vdown(res, f, x, v): return 'grounding' if v < 2 and res == 'defect' and f == 'severity' and x == 'stopping' and F != 'w-enum' else x
def vup(res, f, x, v): return 'stopping' if v < 2 and res == 'defect' and f == 'severity' and x == 'grounding' else x
def enum(res, f, spec, v): return [vdown(res, f, x, v) for x in spec['enum']] if spec.get('enum') else None
ALLN = [{r: names(r, v) for r in R} for v in range(3)]
def view(res, row, user, v, expand=(), caller=None, once=False):
    o = {}
    for n, f in ALLN[v][res].items():
        s = R[res]['fields'][f]
        if 'derive' in s: x = s['derive'](row)
        else: x = row.get(f)
        if x is None or (s.get('once') and not once) or ('visible' in s and user not in s['visible']): continue
        if f in expand and caller:
            t = T[s['ref']].get(x)
            if t and holds('read ' + s['ref'], t, caller): x = view(s['ref'], t, user, v)
        o[n] = vdown(res, f, x, v)
    return o

# ---- validation
KINDS = ['locomotive.added', 'locomotive.renamed', 'locomotive.moved', 'certificate.signed', 'certificate.ended', 'turn.rostered', 'turn.over', 'defect.reported', 'defect.closed', 'stock.low']
def check(s, x, path, out, en=None):
    t = s['t']
    if t == 'integer':
        if isinstance(x, float) and x.is_integer(): x = int(x)
        if isinstance(x, bool) or not isinstance(x, int): out.append(bad(path, 'type', exp='an integer')); return x
        if not s.get('min', x) <= x <= s.get('max', x): out.append(bad(path))
    elif t == 'boolean':
        if not isinstance(x, bool): out.append(bad(path, 'type', exp='a boolean'))
    elif t == 'array':
        if not isinstance(x, list): out.append(bad(path, 'type', exp='a list')); return x
        if len(x) > s['maxi']: out.append(bad(path))
        for i, y in enumerate(x): check(s['item'], y, path + '/%d' % i, out)
    elif t == 'string':
        if not isinstance(x, str): out.append(bad(path, 'type', exp='a string')); return x
        if en: 
            if x not in en: out.append(bad(path, exp='one of ' + ', '.join(en)))
            return x
        if not s.get('lo', 0) <= len(x) <= s.get('hi', 1 << 30): out.append(bad(path))
        elif s.get('pat') and not (re.match if F == 'r-pattern' else re.fullmatch)(s['pat'], x): out.append(bad(path))
        elif s.get('fmt') == 'dt' and ms_of(x) is None: out.append(bad(path, exp='a date-time'))
        elif s.get('fmt') == 'date':
            try:
                if not re.fullmatch(r'\d{4}-\d\d-\d\d', x): raise ValueError
                if F != 'r-date': date.fromisoformat(x)
            except ValueError: out.append(bad(path, exp='a date'))
        elif s.get('fmt') == 'uri' and not re.fullmatch(r"https?://[A-Za-z0-9.\-]+(:\d{1,5})?(/[^\s<>\"{}|\\^`]*)?([?#][^\s<>\"{}|\\^`]*)?|https?://\[[0-9a-fA-F:.]+\](:\d{1,5})?(/[^\s<>\"{}|\\^`]*)?", x): out.append(bad(path, exp='an address'))
        elif s.get('kind') and not (x == '*' or x in KINDS or (x.endswith('.*') and any(k.startswith(x[:-1]) for k in KINDS))): out.append(bad(path, exp='a kind of event'))
    return x
def invalid(out):
    k = out[0]['_k']
    code = {'missing': 'field_invalid' if F == 'x-missing' else 'field_missing', 'unknown': 'field_unknown'}.get(k, 'field_invalid')
    raise No(code, [{a: b for a, b in x.items() if a != '_k'} for x in out])
class C: pass
def take(ctx, res, base, mode, bound):
    """reads a body into the fields to be stored; base is the row before (None for a creation)"""
    v, user, body = ctx.v, ctx.caller['user'], ctx.body
    out, got = [], {}
    if not isinstance(body, dict): invalid([bad('', 'type', exp='a map')])
    N = ALLN[v][res]; FS = R[res]['fields']; need = REQUIRED[res].split()
    for n, x in body.items():
        f = N.get(n); p = '/' + n.replace('~', '~0').replace('/', '~1')
        if f is None: 
            if not (F == 'e-unknown-field' and res == 'turn'): out.append(bad(p, 'unknown', exp='no such field'))
            continue
        s = FS[f]
        if s.get('ro') or ('writable' in s and user not in s['writable']): continue
        if mode == 'update' and x is None:
            if f in need: out.append(bad(p))
            elif s.get('imm'): out.append(bad(p))
            else: got[f] = None
            continue
        k = len(out); x = check(s, x, p, out, enum(res, f, s, v))
        if len(out) > k: continue
        x = vup(res, f, x, v)
        if base is not None and s.get('imm') and x != base.get(f): out.append(bad(p, exp='what it was')); continue
        if f in bound and x != bound[f]: out.append(bad(p, exp='what the path says')); continue
        got[f] = x
    if mode != 'update':
        for f in R[res]['req'].split():
            n = dn(res, f, v)
            if n not in body and f not in bound and not (base is not None and FS[f].get('imm')): out.append(bad('/' + n, 'missing', exp='a value'))
    nxt = dict(base) if base else {}
    if mode == 'replace':
        for f, s in FS.items():
            if not s.get('ro') and not s.get('imm') and f not in got and not ('visible' in s and user not in s['visible']) and f not in GONE[v].get(res, ()):
                if f == 'supplier' and F == 'e-put': continue
                nxt.pop(f, None)
    for f, x in got.items():
        if x is None: nxt.pop(f, None)
        else: nxt[f] = x
    nxt.update(bound)
    if mode != 'update':
        for f, s in FS.items():
            if 'default' in s and f not in nxt: nxt[f] = s['default']
    if res == 'turn':
        bads = {x['path'] for x in out}
        a, b = ms_of(nxt.get('starts_at')), ms_of(nxt.get('ends_at'))
        if a is not None and b is not None and not bads & {'/starts_at', '/ends_at'} and (b < a if F == 'r-rule' else b <= a): out.append(bad('/ends_at', exp='a time after it starts'))
        if 'driver' in nxt and nxt['driver'] == nxt.get('fireman') and not bads & {'/fireman', '/driver'}: out.append(bad('/fireman', exp='somebody else than the driver'))
    if out: invalid(out)
    for f, s in FS.items():
        if s.get('ref') and f in got and f not in bound and (base is None):
            t = T[s['ref']].get(got[f])
            if not t or not holds('read ' + s['ref'], t, ctx.caller): raise No('no_such_reference')
    return nxt

# ---- changes and events
HEAP = []
def arm(res, row):
    for n, t in M.get(res, {}).get('tr', {}).items():
        d = due(t, row)
        if d is not None: heapq.heappush(HEAP, (d, random.random(), res, row['id'], n))
def due(t, row):
    if row['status'] not in t['f']: return None
    if 'after' in t: return row['_at'] + t['after']
    if 'at' in t:
        d = t['at'](row)
        return None if row.get('_fired') == d else d
    return None
PEND = []
def emit(kind, res, before, row, caller, data=None): PEND.append((kind, res, dict(row), caller, data))
def store(res, row, new=False):
    global SEQ
    if new: SEQ += 1; row['_seq'] = SEQ
    T[res][row['id']] = row
    if 'locomotive' in row: KIDS[res, row['locomotive']][row['id']] = row
    arm(res, row)
def events(op, res, before, row, caller):
    o = op + ' ' + res
    if o == 'create locomotive': emit('locomotive.added', res, before, row, caller)
    elif o == 'update locomotive':
        if before['name'] != row['name'] or F == 'v-renamed': emit('locomotive.renamed', res, before, row, caller, {'locomotive': row['id'], 'was': before['name'], 'name': row['name']})
    elif res == 'locomotive' and op in ('pass', 'light', 'drop', 'stop', 'cool'):
        if op == 'cool' and F == 'v-cool': return
        emit('locomotive.moved', res, before, row, caller, {'locomotive': row['id'], 'from': row['status'] if F == 'v-from' else before['status'], 'to': row['status']})
    elif o == 'sign certificate': emit('certificate.signed', res, before, row, caller)
    elif o in ('expire certificate', 'withdraw certificate'): emit('certificate.ended', res, before, row, caller)
    elif o == 'create turn':
        emit('turn.rostered', res, before, row, caller)
        if F == 'v-twice': emit('turn.rostered', res, before, row, caller)
    elif o in ('sign_off turn', 'cancel turn', 'miss turn'):
        if not (F == 'v-miss' and op == 'miss'): emit('turn.over', res, before, row, caller)
    elif o == 'create defect': emit('defect.reported', res, before, row, caller)
    elif o in ('mend defect', 'reject defect'): emit('defect.closed', res, before, row, caller)
    elif o == 'draw stock':
        if (F == 'v-low' or before['level'] >= row['reorder_at']) and row['level'] < row['reorder_at']: emit('stock.low', res, before, row, caller)
def stop(lid, caller=None):
    r = T['locomotive'].get(lid)
    if r and r['status'] in ('fit', 'in_steam'): move('stop', 'locomotive', r, caller, {})
def sets(op, res, ctx, nxt, create=False):
    todo = {}
    for f, s in R[res]['fields'].items():
        st = s.get('set')
        if st:
            fn = st.get(op) or st.get('write')
            if fn: todo[f] = fn(ctx)
    nxt.update(todo)
def move(op, res, row, caller, request, at=None):
    t = M[res]['tr'][op]; before = dict(row)
    c = C(); c.row, c.caller, c.request, c.next = before, caller, request, row
    nxt = dict(row); nxt['status'] = t['to']; nxt['_at'] = now()
    if at is not None: nxt['_fired'] = at
    sets(op, res, c, nxt)
    row.clear(); row.update(nxt); store(res, row)
    events(op, res, before, row, caller)
    if res == 'certificate' and op == 'expire' and F != 's-expire': stop(row['locomotive'])
def commit():
    global PEND
    if not PEND: return
    p, PEND = PEND, []
    for kind, res, row, caller, data in p:
        eid = 'evt_' + rnd(24); at = iso(now())
        pay = data or view(res, row, 'manager', 2)
        e = dict(id=eid, kind=kind, railway=row['railway'], about=row['id'], at=at, payload=pay)
        if caller and F != 'v-actor': e['actor'] = caller['id']
        e['_due'] = now() + 90 * 24 * H
        store('entry', e, True)
        for h in T['hook'].values():
            m = h['_maker']
            if not h['enabled']: continue
            ev = h.get('events')
            if ev is not None and not any(x == '*' or x == kind or (x.endswith('.*') and kind.startswith(x[:-1])) for x in ev): continue
            if not holds('read ' + res, row, m) and F != 'v-tenant': continue
            body = json.dumps({'id': eid, 'kind': kind, 'at': at, 'payload': data or view(res, row, m['user'], h['_v'])}, ensure_ascii=False).encode()
            QUE.setdefault((h['id'], row['id']), deque()).append(dict(id=eid, kind=kind, body=body, due=0, n=0, hook=h['id'], busy=False))
    pump()
QUE = {}
RETRY = [10000, 60000, 600000]
def pump():
    n = now()
    for k, q in list(QUE.items()):
        while q and (q[0]['hook'] not in T['hook'] or not T['hook'][q[0]['hook']]['enabled']) and not q[0]['busy']: q.popleft()
        if not q: QUE.pop(k, None); continue
        d = q[0]
        if not d['busy'] and d['due'] <= n:
            d['busy'] = True; LOOP.create_task(send(k, d))
async def post(url, heads, body):
    u = urlsplit(url); ssl = u.scheme == 'https'
    r, w = await asyncio.open_connection(u.hostname, u.port or (443 if ssl else 80), ssl=ssl or None)
    try:
        t = (u.path or '/') + ('?' + u.query if u.query else '')
        w.write(('POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n' % (t, u.netloc, len(body)) + ''.join('%s: %s\r\n' % x for x in heads) + '\r\n').encode() + body)
        st = int((await r.readline()).split()[1]); ra = None
        while True:
            l = await r.readline()
            if l in (b'\r\n', b'\n', b''): break
            if l.lower().startswith(b'retry-after:') and l[12:].strip().isdigit(): ra = int(l[12:])
        return st, ra
    finally: w.close()
async def send(k, d):
    h = T['hook'].get(d['hook']); st, ra = 0, None
    if h:
        t = str(int(now() / 1000))
        sig = hmac.new(h['secret'].encode(), (b'' if F == 'v-sign' else t.encode() + b'.') + d['body'], 'sha256').hexdigest()
        heads = [('Depot-Signature', 't=%s,v1=%s' % (t, sig))] + ([] if F == 'v-header' else [('Depot-Event', d['kind'])])
        try: st, ra = await asyncio.wait_for(post(h['url'], heads, d['body']), 5)
        except Exception: st = 0
    d['busy'] = False; q = QUE.get(k)
    if not q or q[0] is not d: return
    if 200 <= st < 300 or not h: q.popleft()
    elif st == 410:
        h['enabled'] = False; q.clear()
    elif d['n'] >= len(RETRY) or F == 'v-retry': q.popleft()
    else:
        d['due'] = now() + max(RETRY[d['n']], min(ra or 0, 86400) * 1000); d['n'] += 1
    pump()
def run_due():
    n = now()
    while HEAP and HEAP[0][0] <= n:
        d, _, res, rid, name = heapq.heappop(HEAP)
        row = T[res].get(rid)
        if not row: continue
        t = M[res]['tr'][name]
        if due(t, row) != d: continue
        move(name, res, row, None, {}, d if 'at' in t else None)
        commit()
    es = T['entry']
    while es:
        k = next(iter(es))
        if es[k]['_due'] > n: break
        del es[k]

# ---- endpoints
E = []
def ep(m, path, op, **k):
    E.append(dict(m=m, path=path, segs=path.strip('/').split('/'), op=op, verb=op.split()[0], res=op.split()[1] if ' ' in op else None, **k))
q = lambda f, op='=', **k: dict(f=f, op=op, **k)
ep('GET', '/about', 'about')
ep('POST', '/locomotives', 'create locomotive')
ep('GET', '/locomotives', 'list locomotive', params=dict(status=q('status', 'in'), number=q('number'), heavier_than=q('weight_kg', '>', t='int'), sort=dict(sort=['number', 'weight_kg'])))
ep('GET', '/locomotives/{id}', 'read locomotive', etag=1, cache='private, max-age=0')
ep('PATCH', '/locomotives/{id}', 'update locomotive', etag=1, ifm='required')
ep('DELETE', '/locomotives/{id}', 'delete locomotive', states=['stored', 'stopped'])
for x in ('pass', 'light', 'drop', 'stop'): ep('POST', '/locomotives/{id}/' + x, x + ' locomotive')
ep('POST', '/locomotives/{locomotive}/certificates', 'create certificate', parent='locomotive')
ep('GET', '/locomotives/{locomotive}/certificates', 'list certificate', parent='locomotive', params=dict(exam=q('exam')), order='expires_at' if F == 'e-order' else '-expires_at')
ep('GET', '/certificates/{id}', 'read certificate')
ep('POST', '/certificates/{id}/sign', 'sign certificate')
ep('POST', '/certificates/{id}/withdraw', 'withdraw certificate', body=dict(reason=S(lo=3, hi=200)))
ep('POST', '/turns', 'create turn')
ep('GET', '/turns', 'list turn', params=dict(locomotive=q('locomotive'), driver=q('driver'), status=q('status', 'in'), since=q('starts_at', '>='), sort=dict(sort=['starts_at'])), expand=('locomotive',), order='starts_at')
ep('GET', '/turns/{id}', 'read turn', etag=1, expand=('locomotive',))
ep('PATCH', '/turns/{id}', 'update turn', states=['rostered'], etag=1, ifm='accepted')
ep('DELETE', '/turns/{id}', 'delete turn', states=['cancelled', 'missed', 'rostered'] if F == 'e-delete-in' else ['cancelled', 'missed'])
ep('POST', '/turns/{id}/sign_on', 'sign_on turn')
ep('POST', '/turns/{id}/sign_off', 'sign_off turn', body=dict(coal_kg=I(0, 20000)))
ep('POST', '/turns/{id}/cancel', 'cancel turn')
ep('POST', '/defects', 'create defect')
ep('GET', '/defects', 'list defect', params=dict(locomotive=q('locomotive'), severity=q('severity'), status=q('status', 'in'), title=q('title', 'contains')), newest=F != 'e-newest')
ep('GET', '/defects/{id}', 'read defect', etag=1)
ep('PATCH', '/defects/{id}', 'update defect', states=['reported', 'under_repair'], etag=1, ifm='accepted')
for x in ('take', 'reject', 'reopen'): ep('POST', '/defects/{id}/' + x, x + ' defect')
ep('POST', '/defects/{id}/mend', 'mend defect', body=dict(work=S(lo=3, hi=300)))
ep('POST', '/stocks', 'create stock')
ep('GET', '/stocks', 'list stock', params=dict(kind=q('kind', 'in')), order='place')
ep('GET', '/stocks/{id}', 'read stock')
ep('PUT', '/stocks/{id}', 'replace stock')
for x in ('deliver', 'draw'): ep('POST', '/stocks/{id}/' + x, x + ' stock', body=dict(amount=I(1, 1000000)))
ep('POST', '/hooks', 'create hook')
ep('GET', '/hooks', 'list hook')
ep('GET', '/hooks/{id}', 'read hook')
ep('PATCH', '/hooks/{id}', 'update hook')
ep('DELETE', '/hooks/{id}', 'delete hook')
ep('GET', '/entries', 'list entry', params=dict(kind=q('kind'), about=q('about')), newest=True, page=(50, 200, 'refuse' if F == 'l-clamp' else 'clamp'))
ep('GET', '/entries/{id}', 'read entry')
if F == 'p-draw': E = [e for e in E if e['op'] != 'draw stock']
if F == 'p-about': E = [e for e in E if e['op'] != 'about']
ROUTE = defaultdict(list)
for e in E: ROUTE[len(e['segs']), e['segs'][0]].append(e)
ADDR = {'locomotive': 'locomotives', 'certificate': 'certificates', 'turn': 'turns', 'defect': 'defects', 'stock': 'stocks', 'hook': 'hooks', 'entry': 'entries'}
RATE = defaultdict(deque); QUOTA = defaultdict(int); IDEM = {}
CKEY = secrets.token_bytes(16)
def J(x): return json.dumps(x, ensure_ascii=False, separators=(',', ':')).encode()
def acceptable(a):
    for p in a.split(','):
        m, *ps = [x.strip().lower() for x in p.split(';')]
        if m in ('*/*', 'application/*', 'application/json') and not any(re.fullmatch(r'q=0(\.0*)?', x) for x in ps): return True
    return False
def rates(ctx, who_):
    n = now(); rs = [(('c', who_), 310 if F == 'l-rate' else 300)]
    if ctx.ep['op'] == 'create defect' and F != 'l-defect-rate': rs.append((('d', who_), 20))
    st, wait = [], 0
    for k, lim in rs:
        d = RATE[k]
        while d and d[0] <= n - 60000: d.popleft()
        if len(d) >= lim: wait = max(wait, d[0] + 60000 - n)
    for k, lim in rs:
        d = RATE[k]
        if not wait: d.append(n)
        st.append((lim - len(d), lim, -(-(d[0] + 60000 - n) // 1000) if d else 0))
    r = min(st)
    ctx.heads += [('X-RateLimit-Limit', str(r[1])), ('X-RateLimit-Remaining', str(max(0, r[0]))), ('X-RateLimit-Reset', str(int(r[2])))]
    if wait: raise No('too_often', h=[] if F == 'l-retry-after' else [('Retry-After', str(max(1, int(-(-wait // 1000)))))])
def answer(status, heads, body=b'', ct='application/json'):
    return status, heads + ([('Content-Type', ct)] if body or status not in (204, 304) else []), body
def refusal(ctx, x):
    code = x.code
    p = {'code': code, 'text': TEXT.get(code, code.replace('_', ' ').capitalize() + '.')}
    if x.v and F != 'x-fields': p['fields'] = x.v
    st = CODES[code]
    return answer(st, ctx.heads + x.h, J({'problem': p} if F != 'x-shape' or st != 404 else p))
def handle(method, target, hs, body, peer):
    run_due()
    ctx = C(); ctx.heads = []; ctx.own = False; ctx.v = 2
    head = method == 'HEAD'
    try: r = inner(ctx, method, target, hs, body, peer)
    except No as x:
        PEND.clear(); r = refusal(ctx, x)
    except Exception as x:
        sys.stderr.write(repr(x) + '\n'); import traceback; traceback.print_exc(); PEND.clear(); r = refusal(ctx, No('failed'))
    st, heads, b = r
    vh = [] if F == 'w-echo' else [('Depot-Version', VS[ctx.v])]
    heads = heads + vh + [('Vary', 'Depot-Version, Depot-Key, Authorization')]
    if ctx.v == 0:
        heads.append(('Deprecation', '@1772323200'))
        if F != 'w-sunset-head': heads.append(('Sunset', 'Fri, 01 Oct 2027 00:00:00 GMT'))
        heads.append(('Link', '<https://steam-depot.example/upgrade>; rel="deprecation", <%s>; rel="successor-version"' % target))
    return st, heads, b, head
def inner(ctx, method, target, hs, body, peer):
    if len(target) > 2048: raise No('url_too_long')
    path, _, query = target.partition('?')
    if not path.startswith(BASE + '/'): raise No('not_found')
    segs = path[len(BASE) + 1:].split('/')
    try: segs = [unquote(s, errors='strict') for s in segs]
    except Exception: raise No('not_found')
    cand = []
    for e in ROUTE.get((len(segs), segs[0]), ()):
        if all(a == b or (a[0] == '{' and b) for a, b in zip(e['segs'], segs)): cand.append(e)
    vv = hs.get('depot-version'); v = 2
    verr = None
    if vv:
        if len(vv) == 1 and vv[0] in VS: v = VS.index(vv[0])
        elif F != 'w-unknown': verr = 'version_unknown'
    if v < 2 and F != 'w-reopen': cand = [e for e in cand if e['op'] != 'reopen defect']
    if not cand: raise No('not_found')
    lits = [e for e in cand]
    ms = []
    for e in lits: ms += ['GET', 'HEAD'] if e['m'] == 'GET' else [e['m']]
    al = [('Allow', ', '.join(ms + ['OPTIONS']))]
    if method == 'OPTIONS': return 204, al, b''
    e = next((x for x in lits if x['m'] == method or (method == 'HEAD' and x['m'] == 'GET')), None)
    if not e: raise No('not_found' if F == 'x-405' else 'wrong_method', h=al)
    if verr: raise No(verr)
    ctx.v = v; ctx.ep = e
    if v == 0 and now() >= 1822348800000 and F != 'w-sunset': raise No('version_over')
    op, verb, res = e['op'], e['verb'], e['res']
    if op == 'about':
        rates(ctx, peer)
        if query: raise No('bad_parameter', [bad(query.split('=')[0][:80], where='query')].copy() and [{'in': 'query', 'path': query.split('=')[0][:80]}])
        if not acceptable(','.join(hs.get('accept', ['*/*']))): raise No('not_acceptable')
        return answer(200, ctx.heads, J({'depot': 'Ashby Road', 'tracks': 7}))
    c = ctx.caller = who(hs)
    rates(ctx, c['user'] + ' ' + c['id'])
    if not any(x[0] == c['user'] for x in P[op]): raise No('not_allowed')
    if not rules(op, c): raise No('scope_lacking', h=[('WWW-Authenticate', 'Bearer realm="Steam Depot", error="insufficient_scope"')] if 'authorization' in hs else [])
    if not acceptable(','.join(hs.get('accept', ['*/*']))): raise No('not_acceptable')
    # body
    ctx.body = None
    wants = verb in ('create', 'update', 'replace') or e.get('body')
    if len(body) > (16384 if F == 'l-body' else 8192): raise No('too_large')
    if wants:
        ct = hs.get('content-type', [''])[0].split(';')[0].strip().lower()
        if not body: raise No('unreadable')
        if ct != 'application/json' and not (verb == 'update' and ct == 'application/merge-patch+json'): raise No('unreadable')
        try: ctx.body = json.loads(body.decode('utf-8'), parse_constant=lambda x: 1 / 0); J(ctx.body) if b'\\u' in body else 0
        except Exception: raise No('unreadable')
    # parameters
    try: ps = parse_qsl(query, keep_blank_values=True, errors='strict') if query else []
    except Exception: raise No('bad_parameter')
    def bp(n): raise No('bad_parameter', [{'in': 'query', 'path': n[:80], 'expected': 'another value'}])
    filters, sort, expand, size, cursor = [], e.get('order'), (), None, None
    seen = set(); sig = []
    pd = {}
    for n, p in (e.get('params') or {}).items():
        vn = dn(res, n, v) if p.get('f') == n else n
        pd[vn] = p
    ins = {}
    for n, x in ps:
        if e.get('expand') and n == 'expand':
            for y in x.split(','):
                if y not in e['expand']: bp(n)
                expand += (y,)
            continue
        if verb == 'list' and n in ('limit', 'cursor'):
            if n in seen: bp(n)
            seen.add(n)
            if n == 'limit': size = x
            else: cursor = x
            continue
        p = pd.get(n)
        if not p:
            if F == 'e-param' and res == 'stock': continue
            bp(n)
        if p.get('op') == 'in':
            ins.setdefault(n, []).extend(x.split(',')); continue
        if n in seen: bp(n)
        seen.add(n); sig.append([n, x])
        if 'sort' in p:
            if x.lstrip('-') not in p['sort'] or x.startswith('--'): bp(n)
            sort = x.lstrip('-') if F == 'e-sort' else x; continue
        s = R[res]['fields'][p['f']]
        if p.get('t') == 'int':
            if not re.fullmatch(r'-?\d{1,18}', x): bp(n)
            x = int(x)
        elif p['op'] != 'contains':
            o = []; check(s, x, n, o, enum(res, p['f'], s, v))
            if o: bp(n)
            x = vup(res, p['f'], x, v)
        filters.append((p['f'], p['op'], x))
    for n, xs in ins.items():
        p = pd[n]; s = R[res]['fields'][p['f']]
        okv = s.get('enum') or STATES[res]
        if any(x not in okv for x in xs): bp(n)
        filters.append((p['f'], 'in', xs)); sig.append([n, sorted(xs)])
    if verb == 'list':
        dflt, mx, over = e.get('page', (20, 100, 'refuse'))
        if F == 'l-default' and res == 'stock': dflt = 25
        if F == 'l-max' and res == 'locomotive': over = 'clamp'
        lim = dflt
        if size is not None:
            if not re.fullmatch(r'\d{1,9}', size) or int(size) < 1: raise No('bad_page', [{'in': 'query', 'path': 'limit', 'expected': 'a whole number from 1 to %d' % mx}])
            lim = int(size)
            if lim > mx:
                if over == 'refuse': raise No('bad_page', [{'in': 'query', 'path': 'limit', 'expected': 'a whole number from 1 to %d' % mx}])
                lim = mx
        bind = hashlib.sha256(J([op, v, c['user'], c['id'], segs, sorted(sig, key=str)])).hexdigest()[:16]
        after = None
        if cursor is not None:
            try:
                raw = b64d(cursor); mac, raw = raw[:12], raw[12:]
                if not hmac.compare_digest(mac, hmac.new(CKEY, raw, 'sha256').digest()[:12]): raise ValueError
                b, after = json.loads(raw)
                if b != bind: raise ValueError
            except Exception: raise No('bad_page', [{'in': 'query', 'path': 'cursor', 'expected': 'a cursor of this list'}])
    # idempotency
    ik = None
    if method == 'POST' and not (F == 'e-idem' and verb == 'deliver'):
        k = hs.get('idempotency-key')
        if k:
            ik = (c['user'], c['id'], op, k[0]); fp = hashlib.sha256(target.encode() + b'\0%d\0' % v + body).digest()
            o = IDEM.get(ik)
            if o and o[0] > now():
                if o[1] != fp: raise No('key_reused')
                ids = {x for x, _ in ctx.heads}
                return o[2][0], ctx.heads + [x for x in o[2][1] if x[0] not in ids], o[2][2]
    try:
        if verb == 'list': return listing(ctx, e, segs, filters, sort, expand, lim, after, bind)
        r = act(ctx, e, segs, hs, expand)
        if ik:
            kept = (r[0], r[1], J({k: x for k, x in json.loads(r[2]).items() if k != 'secret'}) if op == 'create hook' else r[2])
            IDEM[ik] = (now() + 24 * H, fp, kept)
        return r
    except No as x:
        if ik and x.code in OWN: IDEM[ik] = (now() + 24 * H, fp, refusal(ctx, x))
        raise
STATES = {'locomotive': ['stored', 'fit', 'in_steam', 'stopped'], 'turn': ['rostered', 'signed_on', 'worked', 'missed', 'cancelled'], 'defect': ['reported', 'under_repair', 'repaired', 'rejected']}
def parent(ctx, e, segs):
    if not e.get('parent'): return {}
    r = T[e['parent']].get(segs[1])
    if not r or not holds('read ' + e['parent'], r, ctx.caller): raise No('not_found')
    return {e['parent']: segs[1]}
def listing(ctx, e, segs, filters, sort, expand, lim, after, bind):
    res = e['res']; c = ctx.caller; bound = parent(ctx, e, segs); rows = []
    for r in T[res].values():
        if any(r.get(k) != x for k, x in bound.items()) or not holds(e['op'], r, c): continue
        ok = True
        for f, op, x in filters:
            y = r.get(f)
            if R[res]['fields'][f].get('fmt') == 'dt': y, x = ms_of(y), ms_of(x)
            if y is None or not (y == x if op == '=' else y in x if op == 'in' else x in y if op == 'contains' else (y >= x if F == 'e-heavier' else y > x) if op == '>' else y >= x): ok = False; break
        if ok: rows.append(r)
    if sort:
        f = sort.lstrip('-'); dt = R[res]['fields'][f].get('fmt') == 'dt'
        key = (lambda r: ms_of(r[f])) if dt else (lambda r: r[f])
        desc = sort[0] == '-'
    else: key = lambda r: 0; desc = False
    rows.sort(key=lambda r: r['_seq'], reverse=bool(e.get('newest')))
    rows.sort(key=key, reverse=desc)
    if after:
        k0, s0 = after
        def past(r):
            k = key(r)
            if k != k0: return k < k0 if desc else k > k0
            return r['_seq'] < s0 if e.get('newest') else r['_seq'] > s0
        rows = [r for r in rows if past(r)]
    page = rows[:lim]; more = len(rows) > lim; nc = None
    if more:
        raw = J([bind, [key(page[-1]), page[-1]['_seq']]])
        nc = base64.urlsafe_b64encode(hmac.new(CKEY, raw, 'sha256').digest()[:12] + raw).decode().rstrip('=')
    return answer(200, ctx.heads, J({'items': [view(res, r, c['user'], ctx.v, expand, c) for r in page], 'next_cursor': nc, 'has_more': more}))
def tag(b, v): return '"' + hashlib.sha256(b + bytes([v])).hexdigest()[:24] + '"'
def show(ctx, e, row, st=200, heads=(), expand=(), once=False):
    b = J(view(e['res'], row, ctx.caller['user'], ctx.v, expand, ctx.caller, once))
    h = ctx.heads + list(heads)
    if e.get('etag'): h.append(('ETag', tag(b, ctx.v)))
    if e.get('cache'): h.append(('Cache-Control', e['cache']))
    return answer(st, h, b)
def clash(res, nxt):
    for u in R[res]['unique']:
        for r in T[res].values():
            if r['id'] != nxt['id'] and all(r.get(f) == nxt.get(f) for f in u): raise No('taken')
def act(ctx, e, segs, hs, expand):
    op, verb, res, c = e['op'], e['verb'], e['res'], ctx.caller
    if verb == 'create':
        bound = parent(ctx, e, segs)
        nxt = take(ctx, res, None, 'create', bound)
        nxt['id'] = R[res]['gen']()
        x = C(); x.caller, x.next, x.row, x.request = c, dict(nxt), None, ctx.body
        sets('create', res, x, nxt)
        for f, s in R[res]['fields'].items():
            if 'make' in s: nxt[f] = s['make']()
        if res in M: nxt['status'] = M[res]['initial']; nxt['_at'] = now()
        if res == 'turn':
            if ms_of(nxt['starts_at']) < now() and F != 'x-past': raise No('in_the_past')
            if T['locomotive'][nxt['locomotive']]['status'] == 'stopped': raise No('not_running')
        clash(res, nxt)
        if res == 'hook':
            if sum(h['owner'] == c['id'] for h in T['hook'].values()) >= (5 if F == 'l-rows' else 4): raise No('used_up')
            nxt['_maker'] = c; nxt['_v'] = ctx.v
        if op == 'create defect' and c['user'] == 'crew':
            day = int(now() // (24 * H)); k = (c['id'], day)
            if QUOTA[k] >= (31 if F == 'l-quota' else 30): raise No('used_up', h=[('Retry-After', str(int(-(-((day + 1) * 24 * H - now()) // 1000))))])
            QUOTA[k] += 1
        for f, s in R[res]['fields'].items():
            if 'count' in s: k = 'all' if F == 'r-count' else nxt[s['count']]; COUNT[k] += 1; nxt[f] = COUNT[k]
            if 'label' in s: COUNT['label'] += 1; nxt[f] = 'DEF-%05d' % COUNT['label']
        store(res, nxt, True); events('create', res, None, nxt, c)
        if res == 'defect' and nxt['severity'] == 'stopping' and F != 's-defect-stop': stop(nxt['locomotive'], c)
        commit()
        return show(ctx, e, nxt, 201, [] if F == 'e-location' and res == 'turn' else [('Location', '%s/%s/%s' % (LOCBASE, ADDR[res], nxt['id']))], once=True)
    row = T[res].get(segs[1])
    if not row or not holds('read ' + res, row, c): raise No('not_found')
    if not holds(op, row, c):
        raise No(next((x[3] for x in rules(op, c) if x[3]), 'not_allowed'))
    if verb == 'read':
        r = show(ctx, e, row, expand=expand)
        if e.get('etag') and 'if-none-match' in hs:
            t = dict(r[1])['ETag']; l = [x.strip() for x in ','.join(hs['if-none-match']).split(',')]
            if F != 'e-304' and any(x == '*' or x == t or x == 'W/' + t for x in l): return 304, [x for x in r[1] if x[0] != 'Content-Type'], b''
        return r
    if e.get('ifm'):
        if 'if-match' not in hs:
            if e['ifm'] == 'required': raise No('tag_differs' if F == 'x-428' else 'tag_missing')
        else:
            t = tag(J(view(res, row, c['user'], ctx.v)), ctx.v); l = [x.strip() for x in ','.join(hs['if-match']).split(',')]
            if not any(x == '*' or x == t for x in l) and not (F == 'e-if-match' and res == 'locomotive'): raise No('tag_differs')
    if verb in ('update', 'replace'):
        nxt = take(ctx, res, row, verb, {})
        if e.get('states') and row['status'] not in e['states']: raise No('wrong_state')
        if verb == 'replace' and nxt['capacity'] < row['level']: raise No('level_above')
        clash(res, nxt)
        if nxt != row:
            before = dict(row); x = C(); x.caller, x.row, x.next, x.request = c, before, nxt, ctx.body
            sets(verb, res, x, nxt); row.clear(); row.update(nxt); store(res, row); events(verb, res, before, row, c); commit()
        return show(ctx, e, row)
    if verb == 'delete':
        if e.get('states') and row['status'] not in e['states']: raise No('wrong_state')
        if res == 'locomotive':
            if kids('certificate', row['id']) or kids('turn', row['id']): raise No('in_use')
            for d in kids('defect', row['id']): T['defect'].pop(d['id'], None)
            KIDS.pop(('defect', row['id']), None)
        T[res].pop(row['id'])
        if 'locomotive' in row: KIDS[res, row['locomotive']].pop(row['id'], None)
        if F == 'e-delete' and res == 'hook': return answer(200, ctx.heads, J({'deleted': True}))
        return 204, ctx.heads, b''
    req = {}
    if e.get('body'):
        b, out = ctx.body, []
        if not isinstance(b, dict): invalid([bad('', 'type')])
        req = dict(b)
        for n, x in b.items():
            if n in e['body']: req[n] = check(e['body'][n], x, '/' + n, out)
        for n in e['body']:
            if n not in b: out.append(bad('/' + n, 'missing'))
        if out: invalid(out)
    t = M[res]['tr'][verb]
    if row['status'] not in t['f']: raise No(t.get('e') or 'wrong_state')
    if 'g' in t:
        x = C(); x.row, x.request, x.caller = row, req, c
        if not t['g'](x): raise No(t.get('ge') or 'wrong_state')
    move(verb, res, row, c, req); commit()
    return show(ctx, e, row)

# ---- http
PH = {200: 'OK', 201: 'Created', 204: 'No Content', 304: 'Not Modified'}
class Http(asyncio.Protocol):
    def connection_made(s, t):
        s.t = t; s.buf = b''; s.since = None; s.peer = t.get_extra_info('peername')[0]; s.timer = None; s.wait(30)
    def wait(s, n):
        if s.timer: s.timer.cancel()
        s.timer = LOOP.call_later(n, s.late)
    def late(s):
        if s.since is not None: s.reply(*refuse('too_slow'), True)
        s.t.close()
    def connection_lost(s, x):
        if s.timer: s.timer.cancel()
    def reply(s, st, heads, body, close=False, head=False):
        o = ['HTTP/1.1 %d %s' % (st, PH.get(st, 'Status'))] + ['%s: %s' % x for x in heads]
        if st not in (204, 304): o.append('Content-Length: %d' % len(body))
        if close: o.append('Connection: close')
        s.t.write(('\r\n'.join(o) + '\r\n\r\n').encode('latin-1', 'replace') + (b'' if head else body))
        if close: s.t.close()
    def data_received(s, d):
        s.buf += d
        if s.since is None: s.since = 1; s.wait(10)
        while s.buf and not s.t.is_closing():
            i = s.buf.find(b'\r\n\r\n')
            if i < 0:
                if len(s.buf) > 65536: return s.reply(*refuse('headers_too_large'), True)
                return
            lines = s.buf[:i].decode('latin-1').split('\r\n')
            try: method, target, pv = lines[0].split(' ')
            except ValueError: return s.reply(*refuse('unreadable'), True)
            hs = {}; n = 0
            for l in lines[1:]:
                k, _, v = l.partition(':'); hs.setdefault(k.strip().lower(), []).append(v.strip()); n += len(l) + 2
            if len(target) <= 2048 and n > 16384: return s.reply(*refuse('headers_too_large'), True)
            rest = s.buf[i + 4:]
            if hs.get('expect', [''])[0].lower() == '100-continue' and not rest: s.t.write(b'HTTP/1.1 100 Continue\r\n\r\n')
            if 'chunked' in hs.get('transfer-encoding', [''])[0].lower():
                body, j, done = b'', 0, False
                while True:
                    k = rest.find(b'\r\n', j)
                    if k < 0: break
                    try: z = int(rest[j:k].split(b';')[0], 16)
                    except ValueError: return s.reply(*refuse('unreadable'), True)
                    if z == 0:
                        m = rest.find(b'\r\n', k + 2)
                        if m < 0: break
                        j = m + 2; done = True; break
                    if len(rest) < k + 4 + z: break
                    body += rest[k + 2:k + 2 + z]; j = k + 4 + z
                if not done:
                    if len(rest) > 16 << 20: s.reply(*refuse('too_large'), True)
                    return
                s.buf = rest[j:]
            else:
                cl = hs.get('content-length', ['0'])[0]
                if not cl.isdigit(): return s.reply(*refuse('unreadable'), True)
                cl = int(cl)
                if cl > 16 << 20: return s.reply(*refuse('too_large'), True)
                if len(rest) < cl: return
                body, s.buf = rest[:cl], rest[cl:]
            st, heads, b, head = handle(method, target, hs, body, s.peer)
            close = hs.get('connection', [''])[0].lower() == 'close' or pv == 'HTTP/1.0'
            s.reply(st, heads, b, close, head)
            s.since = 1 if s.buf else None
            s.wait(10 if s.buf else 30)
def refuse(code):
    c = C(); c.heads = []
    return refusal(c, No(code))
DUR = re.compile(r'P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?')
async def door(r, w):
    global OFF
    try:
        while True:
            h = await r.readuntil(b'\r\n\r\n')
            m = h.split(b' ')[0]; cl = re.search(rb'(?i)content-length: *(\d+)', h)
            b = await r.readexactly(int(cl[1])) if cl else b''
            st = 200
            if m == b'POST':
                try:
                    x = json.loads(b); n = now()
                    if set(x) == {'advance'}:
                        g = DUR.fullmatch(x['advance'])
                        if not g or not any(g.groups()): raise ValueError
                        y, mo, wk, d, hh, mi, s = [float(v or 0) for v in g.groups()]
                        dt = datetime.fromtimestamp(n / 1000, timezone.utc); k = int(dt.year * 12 + dt.month - 1 + y * 12 + mo)
                        if y or mo:
                            for day in range(dt.day, 0, -1):
                                try: nd = dt.replace(year=k // 12, month=k % 12 + 1, day=day); break
                                except ValueError: pass
                            OFF += (nd - dt).total_seconds() * 1000
                        OFF += ((wk * 7 + d) * 86400 + hh * 3600 + mi * 60 + s) * 1000
                    elif set(x) == {'now'}:
                        t = ms_of(x['now'])
                        if t is None: raise ValueError
                        if t < n: st = 422
                        else: OFF += t - n
                    else: raise ValueError
                    if st == 200:
                        run_due(); pump()
                        for _ in range(20):
                            await asyncio.sleep(0.005)
                            if not any(q and q[0]['busy'] for q in QUE.values()): break
                except (ValueError, TypeError, KeyError, AttributeError): st = 400
            elif m != b'GET': st = 400
            o = J({'now': iso(now())})
            w.write(b'HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' % (st, len(o)) + o); await w.drain()
    except Exception: pass
    finally: w.close()
async def tick():
    while True:
        await asyncio.sleep(0.2); run_due(); pump()
async def main():
    global LOOP
    LOOP = asyncio.get_running_loop()
    s = await LOOP.create_server(Http, '127.0.0.1', PORT)
    if CPORT: await asyncio.start_server(door, '127.0.0.1', int(CPORT), limit=1 << 20)
    LOOP.create_task(tick())
    await s.serve_forever()
try: asyncio.run(main())
except KeyboardInterrupt: pass
