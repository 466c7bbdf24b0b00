#!/usr/bin/env python3
"""Sandhaven Pilot Station: one process, all in memory, standard library alone."""
import sys, os, socket, threading, time, json, re, hmac, hashlib, base64, heapq, secrets, calendar
import http.client
from collections import deque
from functools import lru_cache
from datetime import datetime, timezone
from urllib.parse import urlsplit, unquote_to_bytes
from email.utils import formatdate

FAULT = None
def X(fid):
    return FAULT == fid

LOCK = threading.RLock()
BASE = '/ps'
TITLE = 'Sandhaven Pilot Station'
HOUR = 3600_000
DAY = 24 * HOUR
SECRET = os.environ.get('PILOT_STATION_SECRET', 'sandhaven-harbour-secret-of-the-trial-0001').encode()

# ------------------------------------------------------------------ clock
OFFSET = 0
def now_ms():
    return int(time.time() * 1000) + OFFSET

def iso(ms):
    s, f = divmod(ms, 1000)
    return time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(s)) + '.%03dZ' % f

DT = re.compile(r'^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$', re.ASCII)
@lru_cache(65536)
def read_instant(text):
    """nanoseconds since 1970, or None where it is no RFC 3339 date-time"""
    m = DT.match(text)
    if not m:
        return None
    y, mo, d, h, mi, s = (int(m.group(i)) for i in range(1, 7))
    if y < 1 or not 1 <= mo <= 12 or not 1 <= d <= calendar.monthrange(y, mo)[1] or h > 23 or mi > 59 or s > 59:
        return None
    z = m.group(8)
    off = 0
    if z not in 'Zz':
        oh, om = int(z[1:3]), int(z[4:6])
        if oh > 23 or om > 59:
            return None
        off = (oh * 60 + om) * (1 if z[0] == '+' else -1)
    secs = calendar.timegm((y, mo, d, h, mi, s, 0, 0, 0)) - off * 60
    frac = (m.group(7) or '.0')[1:10].ljust(9, '0')
    return secs * 10**9 + int(frac)

def instant(text):
    return read_instant(text) if isinstance(text, str) else None

def instant_ms(text):
    return instant(text) // 10**6

ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
def rnd(n, chars=ALNUM):
    return ''.join(secrets.choice(chars) for _ in range(n))

CROCK = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
def ulid():
    v = (now_ms() << 80) | secrets.randbits(80)
    out = []
    for _ in range(26):
        out.append(CROCK[v & 31]); v >>= 5
    return ''.join(reversed(out))

# ------------------------------------------------------------------ refusals
CODES = {
    'unreadable': (400, 'This is no JSON.'), 'wrong_type': (415, 'Send JSON.'),
    'bad_query': (400, 'A parameter will not do.'), 'bad_page': (422, 'There is no such page.'),
    'unknown_field': (400, '{name} is no field here.'), 'unfit': (422, 'Something sent does not fit.'),
    'no_way': (404, 'Nothing is here.'), 'not_found': (404, 'Not known at this station.'),
    'struck_out': (410, 'It was struck out.'), 'wrong_method': (405, 'Not in this way.'),
    'who_calls': (401, 'Say who calls.'), 'not_known': (401, 'We do not know you.'),
    'barred': (403, 'Not for you.'), 'not_entrusted': (403, 'You were not entrusted with this.'),
    'taken': (409, 'There is one already.'), 'dangling': (422, 'It names something that is not there.'),
    'in_use': (409, 'Something hangs on it.'), 'out_of_turn': (409, 'Not as it stands now.'),
    'too_late': (409, 'The pilot is aboard or it is over.'), 'pilot_engaged': (409, 'The pilot has jobs.'),
    'pilot_ashore': (409, 'That pilot is not on call.'), 'launch_moored': (409, 'Its launch lies at the quay.'),
    'launch_unfit': (409, 'It is laid up or has no crew.'), 'too_deep': (422, 'She draws too much for this tide.'),
    'window_shut': (409, 'That tide is not open.'), 'licence_short': (409, 'A giant asks for an unlimited licence.'),
    'stale': (412, 'It has changed since.'), 'tag_needed': (428, 'Send the tag that you read.'),
    'key_reused': (422, 'That key was for something else.'), 'slow_down': (429, 'Too many calls.'),
    'used_up': (429, 'No more of these.'), 'too_big': (413, 'Too large.'), 'too_slow': (408, 'It took too long to come.'),
    'old_edition': (410, 'This edition has ended.'), 'no_edition': (400, 'There is no such edition.'),
    'failed': (500, 'Something broke here.'),
}
OWN = {'too_late', 'pilot_engaged', 'pilot_ashore', 'launch_moored', 'launch_unfit', 'too_deep', 'window_shut', 'licence_short'}

class Refuse(Exception):
    def __init__(self, code, at=None, name=None, headers=None):
        self.code, self.at, self.name, self.headers = code, at, name, headers or []

# ------------------------------------------------------------------ fields
NONE = object()
class F:
    def __init__(self, kind, *, lo=None, hi=None, pat=None, enum=None, req=False, ro=False, imm=False, default=NONE,
                 visible=None, writable=None, once=False, derive=None, ref=None, res=None, fmt=None, update_only=False, items=None):
        self.kind, self.lo, self.hi, self.pat, self.enum, self.req, self.ro, self.imm = kind, lo, hi, re.compile(pat) if pat else None, enum, req, ro, imm
        self.default, self.visible, self.writable, self.once, self.derive, self.ref, self.res = default, visible, writable, once, derive, ref, res
        self.fmt, self.update_only, self.items = fmt, update_only, items

BANDS = ['coaster', 'feeder', 'panamax', 'giant']
KINDS = ['boarding.ordered', 'boarding.assigned', 'boarding.amended', 'boarding.over', 'window.shut', 'window.closing',
         'launch.away', 'launch.home', 'incident.noted']
KIND_WORDS = set(KINDS) | {'*'} | {k.split('.')[0] + '.*' for k in KINDS}
S, I = 'string', 'integer'

RES = {
    'pilot': dict(id='badge', fields={
        'badge': F(S, pat=r'\APX[0-9]{3}\Z', req=True),
        'name': F(S, lo=2, hi=40, req=True),
        'licence': F(S, enum=['second', 'first', 'unlimited'], req=True, writable=['dispatcher']),
        'phone': F(S, pat=r'\A[+][0-9]{6,14}\Z', visible=['dispatcher', 'pilot']),
        'duty': F(S, req=True, ro=True, enum=['ashore', 'on_call']),
        'jobs': F(I, req=True, ro=True, derive='jobs')}),
    'launch': dict(id='id', fields={
        'id': F(S, req=True, ro=True),
        'name': F(S, lo=2, hi=30, req=True),
        'seats': F(I, lo=1, hi=24, req=True),
        'fitness': F(S, req=True, enum=['fit', 'laid_up'], update_only=True),
        'mooring': F(S, req=True, ro=True, enum=['moored', 'underway']),
        'crew': F(I, req=True, ro=True, derive='crew'),
        'touched_at': F(S, req=True, ro=True, fmt='dt'),
        'trips': F(I, req=True, ro=True)}),
    'roster': dict(id='id', fields={
        'id': F(S, req=True, ro=True),
        'launch': F(S, req=True, imm=True, ref='launch'),
        'pilot': F(S, req=True, imm=True, ref='pilot'),
        'role': F(S, req=True, enum=['coxswain', 'deckhand'], default='deckhand')}),
    'tide_window': dict(id='id', fields={
        'id': F(S, req=True, ro=True),
        'gauge': F(S, req=True, imm=True, enum=['north_mole', 'south_bar', 'inner_lock']),
        'mark': F(S, req=True, pat=r'\A[A-Z][0-9]{2,4}\Z'),
        'opens_at': F(S, req=True, fmt='dt'),
        'closes_at': F(S, req=True, fmt='dt'),
        'max_draught_cm': F(I, req=True, lo=200, hi=2400),
        'booked': F(I, req=True, ro=True, derive='booked'),
        'state': F(S, req=True, ro=True, enum=['open', 'shut'])}),
    'tariff': dict(id='id', fields={
        'id': F(I, req=True, ro=True),
        'band': F(S, req=True, imm=True, enum=BANDS),
        'fee_cents': F(I, req=True, lo=0, hi=9999999),
        'note': F(S, hi=100)}),
    'vessel': dict(id=None, fields={
        'name': F(S, lo=1, hi=60, req=True),
        'flag': F(S, pat=r'\A[A-Z]{2}\Z'),
        'draught_cm': F(I, lo=50, hi=2400, req=True)}),
    'boarding': dict(id='id', fields={
        'id': F(S, req=True, ro=True),
        'number': F(S, req=True, ro=True),
        'firm': F(S, req=True, ro=True),
        'ordered_by': F(S, req=True, ro=True),
        'imo': F(S, pat=r'\A[0-9]{7}\Z', req=True, imm=True),
        'vessel': F('map', res='vessel', req=True),
        'band': F(S, enum=BANDS, req=True),
        'heading': F(S, enum=['inbound', 'outbound', 'shift'], req=True),
        'window': F(S, ref='tide_window', req=True, imm=True),
        'eta': F(S, fmt='dt', req=True),
        'tugs': F(I, lo=0, hi=6, default=0, req=True),
        'pilot': F(S, ref='pilot', ro=True),
        'launch': F(S, ref='launch', ro=True),
        'desk_note': F(S, hi=200, visible=['dispatcher'], writable=['dispatcher']),
        'state': F(S, req=True, ro=True, enum=['requested', 'assigned', 'aboard', 'landed', 'cancelled', 'lapsed']),
        'reason': F(S, ro=True),
        'charge_cents': F(I, ro=True),
        'revised_at': F(S, req=True, ro=True, fmt='dt')}),
    'incident': dict(id='id', fields={
        'id': F(S, req=True, ro=True),
        'number': F(I, req=True, ro=True),
        'boarding': F(S, req=True, imm=True, ref='boarding'),
        'author': F(S, req=True, ro=True),
        'severity': F(S, req=True, enum=['minor', 'serious', 'grave']),
        'sealed': F('boolean', req=True, default=False),
        'text': F(S, lo=3, hi=500, req=True)}),
    'ear': dict(id='id', fields={
        'id': F(S, req=True, ro=True),
        'owner': F(S, req=True, ro=True),
        'url': F(S, req=True, pat=r'\Ahttps?://', hi=300, fmt='uri'),
        'kinds': F('array', lo=1, hi=12, items=F(S)),
        'secret': F(S, ro=True, once=True),
        'live': F('boolean', req=True, ro=True)}),
}
OLD = 'spring-25'
NEW = 'autumn-26'

def vname(res, f, version):
    """the name of a field in a version, or None where it is not there"""
    if version == OLD:
        if res == 'launch' and f == 'seats':
            return 'berths'
        if res == 'boarding' and f == 'tugs':
            return None
    return f

OLD_FEE = F(S, pat=r'\A(0|[1-9][0-9]{0,6})\Z', req=True)
OLD_HEADING = F(S, enum=['inbound', 'outbound', 'move'], req=True)

def vfield(res, f, version):
    if version == OLD:
        if res == 'tariff' and f == 'fee_cents':
            return OLD_FEE
        if res == 'boarding' and f == 'heading':
            return OLD_HEADING
    return RES[res]['fields'][f]

def vdown(res, f, v, version):
    if version == OLD:
        if res == 'tariff' and f == 'fee_cents':
            return str(v)
        if res == 'boarding' and f == 'heading' and v == 'shift':
            return 'move'
    return v

def vup(res, f, v, version):
    if version == OLD:
        if res == 'tariff' and f == 'fee_cents':
            return int(v)
        if res == 'boarding' and f == 'heading' and v == 'move':
            return 'shift'
    return v

URI = re.compile(r"\A[A-Za-z][A-Za-z0-9+.-]*://(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2}|\[[0-9A-Fa-f:.]+\])+(?:[/?#](?:[A-Za-z0-9._~!$&'()*+,;=:@/?#\[\]-]|%[0-9A-Fa-f]{2})*)?\Z")

class Bad:
    """what is wrong in a body, in the order in which it was sent"""
    def __init__(self):
        self.list = []
    def add(self, path, what='value'):
        self.list.append((path, what))
    def check(self):
        if self.list:
            path, what = self.list[0]
            code = 'unknown_field' if what == 'unknown' else 'unfit'
            if X('er-nested-unknown') and '.' in path:
                code = 'unfit'
            at = [p for p, _ in self.list]
            if X('er-paths'):
                at = ['/' + p.replace('.', '/') for p in at]
            raise Refuse(code, at, path)

def check_value(fd, v, path, bad):
    """the value as it is stored; what is wrong goes into bad"""
    k = fd.kind
    if k == S:
        if not isinstance(v, str):
            bad.add(path); return v
        n = len(v)
        if X('r-eta-offset') and path == 'eta' and instant(v) is None and instant(v + 'Z') is not None:
            return v + 'Z'
        if fd.enum is not None and v not in fd.enum:
            bad.add(path)
        elif fd.lo is not None and n < fd.lo or fd.hi is not None and n > fd.hi:
            bad.add(path)
        elif fd.pat is not None and not fd.pat.search(v):
            bad.add(path)
        elif fd.fmt == 'dt' and instant(v) is None:
            bad.add(path)
        elif fd.fmt == 'uri' and not URI.match(v):
            bad.add(path)
        return v
    if k == I:
        if X('r-draught-type') and path == 'vessel.draught_cm' and isinstance(v, str) and v.isdigit():
            v = int(v)
        if isinstance(v, bool) or not isinstance(v, (int, float)) or isinstance(v, float) and not v.is_integer():
            bad.add(path); return v
        v = int(v)
        hi = fd.hi
        if X('r-seats-max') and hi == 24:
            hi = 25
        if fd.lo is not None and v < fd.lo or hi is not None and v > hi:
            bad.add(path)
        return v
    if k == 'boolean':
        if not isinstance(v, bool):
            bad.add(path)
        return v
    if k == 'array':
        if not isinstance(v, list):
            bad.add(path); return v
        if len(v) < fd.lo or len(v) > fd.hi:
            bad.add(path); return v
        return [check_value(fd.items, e, '%s.%d' % (path, i), bad) for i, e in enumerate(v)]
    if k == 'map':
        return check_vessel(v, path, bad)

def check_vessel(v, path, bad):
    if not isinstance(v, dict):
        bad.add(path); return v
    out = {}
    fields = RES['vessel']['fields']
    for n, e in v.items():
        p = path + '.' + n
        if n not in fields:
            bad.add(p, 'unknown')
        else:
            out[n] = check_value(fields[n], e, p, bad)
    for n, fd in fields.items():
        if fd.req and n not in v:
            bad.add(path + '.' + n)
    return out

def names_in(res, version):
    """name in the version -> name as stored"""
    out = {}
    for f in RES[res]['fields']:
        n = vname(res, f, version)
        if n:
            out[n] = f
    return out

def may_write(fd, caller, creating):
    if fd.ro or fd.derive:
        return False
    if creating and fd.update_only:
        return False
    if fd.writable and not (caller and caller.user in fd.writable):
        return False
    return True

def read_whole(res, body, caller, version, bound, old=None):
    """the body of a creation (old is None) or a replacement; bound: fields that the path has said"""
    if not isinstance(body, dict):
        raise Refuse('unfit', [''])
    bad = Bad()
    names = names_in(res, version)
    fields = RES[res]['fields']
    out = {}
    seen = set()
    for n, v in body.items():
        f = names.get(n)
        if f is None:
            bad.add(n, 'unknown'); continue
        fd = fields[f]
        if not may_write(fd, caller, True):
            if not (X('r-licence-write') and f == 'licence'):
                continue
        seen.add(f)
        if f in bound:
            if type(v) is not type(bound[f]) or v != bound[f]:
                bad.add(n)
            continue
        if v is None:
            bad.add(n); continue
        vf = vfield(res, f, version)
        size = len(bad.list)
        v = check_value(vf, v, n, bad)
        if len(bad.list) == size:
            v = vup(res, f, v, version)
            if res == 'ear' and f == 'kinds':
                for i, k in enumerate(v):
                    if k not in KIND_WORDS:
                        bad.add('kinds.%d' % i)
        out[f] = v
    for f, fd in fields.items():
        if f in seen or f in bound or not fd.req or fd.default is not NONE or not may_write(fd, caller, True):
            continue
        if old is not None and fd.imm:
            continue
        if vname(res, f, version):
            bad.add(vname(res, f, version))
    rules(res, out, bad)
    bad.check()
    return out

def read_patch(res, body, caller, version, old):
    """what the row would be after this merge patch"""
    if not isinstance(body, dict):
        raise Refuse('unfit', [''])
    bad = Bad()
    names = names_in(res, version)
    fields = RES[res]['fields']
    new = dict(old)
    for n, v in body.items():
        f = names.get(n)
        if f is None:
            bad.add(n, 'unknown'); continue
        fd = fields[f]
        if not may_write(fd, caller, False):
            if not (X('r-licence-write') and f == 'licence'):
                continue
        if res == 'pilot' and f == 'badge':
            if v != old['badge']:
                bad.add(n)
            continue
        if v is None:
            if fd.req:
                bad.add(n)
            else:
                new.pop(f, None)
            continue
        vf = vfield(res, f, version)
        if fd.kind == 'map':
            if not isinstance(v, dict):
                bad.add(n); continue
            merged = dict(old[f])
            if X('e-vessel-whole'):
                merged = {}
            ok = True
            known = RES[fd.res]['fields']
            order = []
            for m, e in v.items():
                if m not in known:
                    order.append((n + '.' + m, 'unknown')); continue
                if e is None:
                    if known[m].req:
                        order.append((n + '.' + m, 'value'))
                    elif not X('e-vessel-null'):
                        merged.pop(m, None)
                else:
                    b2 = Bad()
                    merged[m] = check_value(known[m], e, n + '.' + m, b2)
                    order += b2.list
            for m, kf in known.items():
                if kf.req and m not in merged and not any(p == n + '.' + m for p, _ in order):
                    order.append((n + '.' + m, 'value'))
            bad.list += order
            new[f] = {m: merged[m] for m in known if m in merged}
            continue
        size = len(bad.list)
        v = check_value(vf, v, n, bad)
        if len(bad.list) == size:
            v = vup(res, f, v, version)
            if fd.imm and v != old.get(f):
                if X('r-imo-immutable') and f == 'imo':
                    pass
                else:
                    bad.add(n); continue
        new[f] = v
    rules(res, new, bad)
    bad.check()
    return new

def rules(res, row, bad):
    if res == 'tide_window' and not any(p in ('opens_at', 'closes_at') for p, _ in bad.list):
        a, b = instant(row.get('opens_at')), instant(row.get('closes_at'))
        if a is not None and b is not None:
            if b < a or (b == a and not X('r-opens-first')):
                bad.add('closes_at')

# ------------------------------------------------------------------ callers
class Caller:
    __slots__ = ('user', 'id', 'scopes', 'firm', 'scheme')
    def __init__(self, user, id, scopes, firm, scheme=None):
        self.user, self.id, self.scopes, self.firm, self.scheme = user, id, frozenset(scopes), firm, scheme

# scheme, credential, user, id, scopes, firm
KEYS = [
    ('key', 'psk_Ag7hQ2mWzX4nRt9KcLp1Vb3D', 'agent', 'ag-marit', ['orders'], 'noordzee'),
    ('key', 'psk_Bk3yT8vNqE5sJd0HfGu6Wx2M', 'agent', 'ag-joost', [], 'noordzee'),
    ('key', 'psk_Cm9rP4bZaL7wYc1QhTk5Ns8F', 'agent', 'ag-ilse', ['orders'], 'baltica'),
    ('pass', 'bdg_Dq5tV1xJeH8uRg2MnBz6Ko4S', 'pilot', 'PX101', ['sea'], 'station'),
    ('pass', 'bdg_Er8wY3kPfC6iLs0XvAj7Qd1T', 'pilot', 'PX102', ['sea'], 'station'),
    ('key', 'psk_Fs2aU6nGhZ9oMt4BcEk8Rp0W', 'pilot', 'PX103', [], 'station'),
    ('pass', 'bdg_Gt4cI7qLjX1pNv5DyFm9Hs3Z', 'pilot', 'PX104', ['sea'], 'station'),
    ('key', 'psk_Hu6eO9sKlV3rPx7FzGn1Jt5B', 'dispatcher', 'ds-wim', ['roster', 'fleet', 'tides', 'tariffs', 'assign'], 'station'),
    ('key', 'psk_Iv8gS1uMnT5tRz9HaJp3Lw7D', 'dispatcher', 'ds-noor', ['assign', 'roster'], 'station'),
    ('pass', 'bdg_Jw0iW3yOpR7vTb1KcMr5Nx9F', 'dispatcher', 'ds-kees', [], 'station'),
]
BYKEY = {}
for _s, _c, _u, _i, _sc, _f in KEYS:
    BYKEY[(_s, _c)] = Caller(_u, _i, _sc, _f, _s)

def b64d(t):
    return base64.urlsafe_b64decode(t + '=' * (-len(t) % 4))

TOKENS = {}
def token_caller(tok):
    c = TOKENS.get(tok)
    if c is None:
        c = read_token(tok)
        if c is None:
            return None
        if len(TOKENS) < 1000:
            TOKENS[tok] = c
    caller, exp, nbf = c
    s = now_ms() / 1000
    if exp is not None and s >= exp + 5 or nbf is not None and s < nbf - 5:
        return None
    return caller

def num(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)

def read_token(tok):
    try:
        h, p, s = tok.split('.')
        if not all(re.fullmatch(r'[A-Za-z0-9_-]+', x) for x in (h, p, s)):
            return None
        head, claims, sig = json.loads(b64d(h)), json.loads(b64d(p)), b64d(s)
        if head.get('alg') != 'HS256' or 'crit' in head:
            return None
        good = hmac.new(SECRET, (h + '.' + p).encode(), hashlib.sha256).digest()
        if not hmac.compare_digest(good, sig):
            if not X('a-token-signature'):
                return None
        if claims.get('iss') != 'https://id.sandhaven.example':
            return None
        aud = claims.get('aud')
        if not (aud == 'pilot-station' or isinstance(aud, list) and 'pilot-station' in aud):
            return None
        exp, nbf = claims.get('exp'), claims.get('nbf')
        if 'exp' in claims and not num(exp) or 'nbf' in claims and not num(nbf):
            return None
        role = claims.get('role')
        users = ('agent', 'pilot', 'dispatcher')
        if X('p-users-token'):
            users = ('agent', 'dispatcher')
        if isinstance(role, list):
            role = next((r for r in role if r in users), None)
        if role not in users or not isinstance(claims.get('sub'), str) or not isinstance(claims.get('firm'), str):
            return None
        scopes = []
        if 'scope' in claims and claims['scope'] is not None:
            if not isinstance(claims['scope'], str):
                return None
            scopes = [w for w in claims['scope'].split(' ') if w]
        return Caller(role, claims['sub'], scopes, claims['firm'], 'token'), exp, nbf
    except Exception:
        return None

def challenges(accept, bad):
    out = []
    for s in accept:
        if s == 'key':
            c = 'ApiKey realm="%s", in="header", name="X-Station-Key"' % TITLE
        elif s == 'pass':
            c = 'Badge realm="%s"' % TITLE
        else:
            c = 'Bearer realm="%s"' % TITLE
        if s in bad:
            c += ', error="%s"' % ('invalid_token' if s == 'token' else 'invalid_key')
        out.append(c)
    return [('WWW-Authenticate', ', '.join(out))]

def authenticate(rq, accept):
    found, bad, callers = [], set(), []
    keys = rq.all('x-station-key') if 'key' in accept else []
    auths = rq.all('authorization')
    if 'key' in accept and keys:
        found.append('key')
        c = BYKEY.get(('key', keys[0])) if len(keys) == 1 else None
        if c is None:
            bad.add('key')
        else:
            callers.append(c)
    if auths and ('pass' in accept or 'token' in accept):
        text = auths[0]
        m = re.match(r'\A([A-Za-z]+) +(\S+)\Z', text)
        word = m.group(1).lower() if m else ''
        if X('a-prefix-case') and m:
            word = {'Badge': 'badge', 'Bearer': 'bearer'}.get(m.group(1), '')
        scheme = {'badge': 'pass', 'bearer': 'token'}.get(word)
        if scheme not in accept:
            scheme = None
        c = None
        if len(auths) == 1 and scheme == 'pass':
            c = BYKEY.get(('pass', m.group(2)))
        elif len(auths) == 1 and scheme == 'token':
            c = token_caller(m.group(2))
        found.append(scheme or 'other')
        if c is None:
            bad.add(scheme or 'other')
        else:
            callers.append(c)
    if bad:
        raise Refuse('not_known', headers=challenges(accept, bad))
    if not callers:
        return None
    first = callers[0]
    for c in callers[1:]:
        if (c.user, c.id) != (first.user, first.id):
            if X('a-two-callers'):
                return first
            raise Refuse('not_known', headers=challenges(accept, found))
    if len(callers) > 1:
        return Caller(first.user, first.id, first.scopes | callers[1].scopes, first.firm, first.scheme)
    return first

# ------------------------------------------------------------------ rows
DB = {r: {} for r in RES}
GONE = {}                 # incident id -> (row, until)
SEQ = 0
NUMBER = 0
WITHIN = {}
BY_WINDOW, BY_PILOT, CREW = {}, {}, {}     # window -> boardings, pilot -> boardings, launch -> {pilot: row of roster}

def derive(res, row):
    rid = row[RES[res]['id']]
    if res == 'pilot':
        states = ('assigned',) if X('r-jobs-aboard') else ('assigned', 'aboard')
        return {'jobs': sum(1 for i in BY_PILOT.get(rid, ()) if DB['boarding'][i]['state'] in states)}
    if res == 'launch':
        return {'crew': len(CREW.get(rid, ()))}
    if res == 'tide_window':
        return {'booked': booked(rid)}
    return {}

def booked(wid):
    return sum(1 for i in BY_WINDOW.get(wid, ()) if DB['boarding'][i]['state'] in ('requested', 'assigned', 'aboard'))

def allowed_fields(res, row, caller):
    """None: all; else those that the rules for this reader show"""
    if res == 'pilot' and caller and caller.user == 'agent':
        return {'badge', 'name', 'licence'}
    return None

def shows(res, f, caller):
    """whether a field is ever shown to this caller"""
    fd = RES[res]['fields'][f]
    if fd.visible and not (caller and caller.user in fd.visible):
        return False
    al = allowed_fields(res, None, caller)
    return al is None or f in al

def show(res, row, caller, version, once=False, listed=False):
    d = derive(res, row)
    al = allowed_fields(res, row, caller)
    out = {}
    for f, fd in RES[res]['fields'].items():
        if fd.once and not once:
            if not (X('r-secret-again') and not listed):
                continue
        if fd.visible and not (caller and caller.user in fd.visible):
            if not (X('r-note-listed') and listed and f == 'desk_note'):
                continue
        if al is not None and f not in al:
            if not (X('a-agent-duty') and listed and f == 'duty'):
                continue
        n = vname(res, f, version)
        if n is None:
            if not (X('v-tugs-listed') and listed):
                continue
            n = f
        v = d[f] if fd.derive else row.get(f)
        if v is None:
            continue
        if not (X('v-heading-read') and f == 'heading' and not listed):
            v = vdown(res, f, v, version)
        out[n] = v
    return out

def dump(v):
    return json.dumps(v, separators=(',', ':')).encode()

def tag_of(res, row, caller, version):
    body = show(res, row, caller, version)
    if X('e-etag-booked') and res == 'tide_window':
        body.pop('booked')
    return hashlib.sha256(dump([version, body])).hexdigest()[:24]

# ------------------------------------------------------------------ rules of permission
U3 = ('agent', 'pilot', 'dispatcher')
def RULE(ops, to, scopes=(), res=None, nxt=None):
    return [(o.strip(), to, frozenset(scopes), res, nxt) for o in ops.split(',')]

def coxswain(row, c):
    r = CREW.get(row['id'], {}).get(c.id)
    return r is not None and (r['role'] == 'coxswain' or X('a-deckhand'))

RULES = {}
for _o, *_r in (
    RULE('list tariff, read tariff', 'anyone')
    + RULE('replace tariff', ('dispatcher',), ['tariffs'])
    + RULE('list pilot, read pilot', U3)
    + RULE('read own card', ('pilot',))
    + RULE('upsert pilot, update pilot, stand_down pilot', ('dispatcher',), ['roster'])
    + RULE('update pilot, muster pilot, stand_down pilot', ('pilot',), (), lambda r, c: r['badge'] == c.id)
    + RULE('list launch, read launch, list roster, read roster', ('dispatcher', 'pilot'))
    + RULE('create launch, update launch, delete launch, create roster, delete roster, moor launch', ('dispatcher',), ['fleet'])
    + RULE('cast_off launch, moor launch', ('pilot',), (), coxswain)
    + RULE('list tide_window, read tide_window', U3)
    + RULE('create tide_window, update tide_window, delete tide_window', ('dispatcher',), ['tides'])
    + RULE('list boarding', ('agent',), (), lambda r, c: r['firm'] == c.firm)
    + RULE('read boarding', ('agent',), (), lambda r, c: r['firm'] == c.firm or X('a-other-firm'))
    + RULE('list boarding, read boarding', ('pilot',), (), lambda r, c: r.get('pilot') == c.id)
    + RULE('list boarding, read boarding', ('dispatcher',))
    + RULE('create boarding', ('agent',), ['orders'])
    + RULE('update boarding, cancel boarding', ('agent',), ['orders'], lambda r, c: r['ordered_by'] == c.id)
    + RULE('renew boarding', ('agent',), ['orders'], lambda r, c: r['ordered_by'] == c.id or X('a-renew-any'))
    + RULE('update boarding, assign boarding, cancel boarding', ('dispatcher',), ['assign'])
    + RULE('board boarding, land boarding', ('pilot',), ['sea'])
    + RULE('list incident, read incident', ('dispatcher',))
    + RULE('list incident, read incident', ('pilot',), (), lambda r, c: r['author'] == c.id or r['severity'] == 'grave')
    + RULE('list incident', ('agent',), (), lambda r, c: DB['boarding'][r['boarding']]['firm'] == c.firm and (not r['sealed'] or X('a-sealed-listed')))
    + RULE('read incident', ('agent',), (), lambda r, c: DB['boarding'][r['boarding']]['firm'] == c.firm and not r['sealed'])
    + RULE('create incident', ('pilot', 'dispatcher'))
    + RULE('create incident', ('agent',), (), None, lambda n, c: (n['severity'] == 'minor' or X('a-agent-serious')) and not n['sealed'])
    + RULE('delete incident', ('pilot',), (), lambda r, c: r['author'] == c.id and (r['severity'] == 'minor' or X('a-delete-serious')))
    + RULE('delete incident', ('dispatcher',), ['assign'])
    + RULE('create ear', U3)
    + RULE('list ear, read ear, delete ear', U3, (), lambda r, c: r['owner'] == c.id)):
    RULES.setdefault(_o, []).append(_r)

def rules_for(op, caller):
    """step 6: the rules that are for this user, with the scopes that it has"""
    mine, some = [], False
    for to, scopes, rif, nif in RULES[op]:
        if to != 'anyone' and not (caller and caller.user in to):
            continue
        some = True
        if caller and not scopes <= caller.scopes or scopes and not caller:
            if X('a-fleet-scope') and op == 'delete roster':
                pass
            else:
                continue
        mine.append((rif, nif))
    return mine, some

def may_read(res, row, caller):
    for rif, _ in rules_for('read ' + res, caller)[0]:
        if rif is None or rif(row, caller):
            return True
    return False

# ------------------------------------------------------------------ timers, changes, events
HEAP = []
HEAPN = 0
WAKE = threading.Condition(LOCK)

def arm(row, name, due, res):
    global HEAPN
    HEAPN += 1
    t = row.setdefault('_t', {})
    t[name] = HEAPN
    heapq.heappush(HEAP, (due, HEAPN, res, row[RES[res]['id']], name))
    WAKE.notify_all()

def disarm(row, name):
    row.get('_t', {}).pop(name, None)

def run_due(until=None):
    n = now_ms() if until is None else until
    while HEAP and HEAP[0][0] <= n:
        due, tok, res, rid, name = heapq.heappop(HEAP)
        row = DB[res].get(rid)
        if row is None or row.get('_t', {}).get(name) != tok:
            continue
        row['_t'].pop(name)
        fire(res, row, name)
    if len(GONE) > 0:
        for k in [k for k, (_, u) in GONE.items() if u <= n]:
            del GONE[k]

def fire(res, row, name):
    if name == 'relieve' and row['duty'] == 'on_call':
        if derive('pilot', row)['jobs'] == 0 or X('s-relieve-engaged'):
            row['duty'] = 'ashore'
    elif name == 'drift_home' and row['mooring'] == 'underway':
        moor(row, 'drift_home')
    elif name == 'lapse' and row['state'] == 'requested':
        lapse(row)
    elif name == 'shut' and row['state'] == 'open':
        row['state'] = 'shut'
        for i in list(BY_WINDOW.get(row['id'], ())):
            b = DB['boarding'][i]
            if b['state'] == 'requested' or b['state'] == 'assigned' and X('s-shut-assigned'):
                lapse(b)
        emit('window.shut', 'tide_window', row)
    elif name == 'closing':
        row['_closing_told'] = instant_ms(row['closes_at'])
        emit('window.closing', 'tide_window', row)

def lapse(b):
    disarm(b, 'lapse')
    b['state'] = 'lapsed'
    b['revised_at'] = iso(now_ms())
    if not X('ev-over-lapse'):
        emit('boarding.over', 'boarding', b)

def moor(l, op):
    disarm(l, 'drift_home')
    l['mooring'] = 'moored'
    l['touched_at'] = iso(now_ms())
    if op == 'drift_home' and X('ev-home-drift'):
        return
    emit('launch.home', 'launch', l, l['id'])

def enter_requested(b):
    arm(b, 'lapse', now_ms() + 12 * HOUR + (10 * 60_000 if X('s-lapse-late') else 0), 'boarding')

def arm_window(w):
    closes = instant_ms(w['closes_at'])
    if w['state'] == 'open' and w.get('_shut_at') != closes:
        w['_shut_at'] = closes
        arm(w, 'shut', closes, 'tide_window')
    if w.get('_closing_at') != closes:
        w['_closing_at'] = closes
        disarm(w, 'closing')
        if w.get('_closing_told') != closes:
            arm(w, 'closing', closes - (29 if X('ev-closing-late') else 30) * 60_000, 'tide_window')

def hears(ear, kind):
    ks = ear.get('kinds')
    if ks is None:
        return True
    if X('ev-wildcard'):
        return kind in ks or '*' in ks
    return kind in ks or '*' in ks or kind.split('.')[0] + '.*' in ks

def emit(kind, res, row, data=NONE):
    at = iso(now_ms())
    eid = 'evt_' + rnd(20)
    for ear in DB['ear'].values():
        if not ear['live'] or not hears(ear, kind):
            continue
        maker = ear['_maker']
        if not may_read(res, row, maker):
            if not (X('ev-stranger') and kind == 'boarding.ordered'):
                continue
        payload = data
        if payload is NONE:
            payload = show(res, row, maker, ear['_version'])
            if X('ev-desk-note') and kind == 'boarding.over' and row.get('desk_note'):
                payload['desk_note'] = row['desk_note']
        body = dump({'ref': eid, 'kind': kind, 'at': at, 'about': payload})
        enqueue(ear, (res, row[RES[res]['id']]), {'id': eid, 'kind': kind, 'body': body, 'tries': 0, 'due': now_ms()})

RETRY = [20_000, 180_000, 1800_000]
QUEUES = {}           # (ear id, row) -> deque of deliveries
BUSY = {}             # ear id -> tries under way
UNDERWAY = set()

def enqueue(ear, key, d):
    QUEUES.setdefault((ear['id'], key), deque()).append(d)
    WAKE.notify_all()

def deliverer():
    with LOCK:
        while True:
            n = now_ms()
            run_due()
            soon = n + 5_000
            for q in list(QUEUES):
                ear = DB['ear'].get(q[0])
                if ear is None or not ear['live']:
                    if q not in UNDERWAY:
                        del QUEUES[q]
                    continue
                if q in UNDERWAY:
                    continue
                line = QUEUES[q]
                if not line:
                    del QUEUES[q]; continue
                d = line[0]
                due = max(d['due'], ear.get('_hold', 0))
                if due <= n:
                    if BUSY.get(ear['id'], 0) >= (1 if ear.get('_failing') else 16):
                        continue
                    BUSY[ear['id']] = BUSY.get(ear['id'], 0) + 1
                    UNDERWAY.add(q)
                    threading.Thread(target=attempt, args=(q, dict(ear), d), daemon=True).start()
                else:
                    soon = min(soon, due)
            if HEAP:
                soon = min(soon, HEAP[0][0])
            WAKE.wait(max(0.005, (soon - now_ms()) / 1000))

def attempt(q, ear, d):
    ts = str(now_ms() // 1000)
    signed = (d['id'] + '.' + ts + '.').encode() + d['body']
    if X('ev-seal'):
        signed = (ts + '.').encode() + d['body']
    mac = hmac.new(ear['secret'].encode(), signed, hashlib.sha256).hexdigest()
    status, hold = 0, 0
    try:
        u = urlsplit(ear['url'])
        cls = http.client.HTTPSConnection if u.scheme == 'https' else http.client.HTTPConnection
        c = cls(u.hostname, u.port, timeout=5)
        c.request('POST', (u.path or '/') + ('?' + u.query if u.query else ''), d['body'],
                  {'Content-Type': 'application/json', 'Station-Seal': 'at=%s,mac=%s' % (ts, mac), 'Station-Kind': d['kind'], 'Connection': 'close'})
        r = c.getresponse()
        status = r.status
        ra = r.getheader('Retry-After')
        if ra and re.fullmatch(r'\d{1,9}', ra.strip()):
            hold = min(int(ra.strip()), 86400) * 1000
        try:
            r.read(20000)
        except Exception:
            pass
        c.close()
    except Exception:
        pass
    with LOCK:
        UNDERWAY.discard(q)
        BUSY[ear['id']] -= 1
        row = DB['ear'].get(ear['id'])
        line = QUEUES.get(q)
        if row is None or line is None:
            WAKE.notify_all(); return
        n = now_ms()
        if 200 <= status < 300:
            line.popleft()
            row.pop('_failing', None)
        else:
            row.setdefault('_failing', n)
            d['tries'] += 1
            if hold:
                row['_hold'] = max(row.get('_hold', 0), n + hold)
            if status == 410 or n - row['_failing'] >= 2 * DAY:
                row['live'] = False
            if d['tries'] > len(RETRY) or X('ev-retry'):
                line.popleft()
            else:
                d['due'] = n + RETRY[d['tries'] - 1]
        WAKE.notify_all()

# ------------------------------------------------------------------ rates and quotas
class Rates:
    fixed, bucket, sliding = {}, {}, {}

def rate_for(op, caller, addr):
    """(headers, refused)"""
    n = now_ms()
    if op == 'about':
        st = Rates.fixed.get(addr)
        if st is None or n >= st[0] + 60_000:
            st = Rates.fixed[addr] = [n, 0]
        wait = st[0] + 60_000 - n
        if st[1] >= 25:
            return rate_headers(25, 0, wait), wait
        st[1] += 1
        return rate_headers(25, 25 - st[1], wait), None
    who = (caller.user, caller.id) if caller else ('', addr)
    if op == 'list incident':
        # 20 in 20 s: one in 1000 ms; burst 30, kept in ms
        full = 30_000 + (1000 if X('l-burst') else 0)
        st = Rates.bucket.get(who)
        have = full if st is None else min(full, st[1] + (n - st[0]))
        if have < 1000:
            Rates.bucket[who] = [n, have]
            return rate_headers(20, 0, 1000 - have), 1000 - have
        have -= 1000
        Rates.bucket[who] = [n, have]
        return rate_headers(20, have // 1000, 1000 - have % 1000), None
    if op == 'list boarding' and caller and caller.user == 'agent':
        if X('l-rate-firm'):
            who = caller.firm
        q = Rates.sliding.setdefault(who, deque())
        while q and q[0] <= n - 60_000:
            q.popleft()
        if len(q) >= 60:
            wait = q[0] + 60_000 - n
            return rate_headers(60, 0, wait), wait
        q.append(n)
        return rate_headers(60, 60 - len(q), q[0] + 60_000 - n), None
    return [], None

def rate_headers(limit, left, wait):
    return [('Station-Rate-Limit', str(limit)), ('Station-Rate-Left', str(left)), ('Station-Rate-Reset', str(-(-wait // 1000)))]

QUOTA = {}
def quota_left(caller):
    day = now_ms() // DAY
    return 15 - QUOTA.get((caller.user, caller.id, day), 0), (day + 1) * DAY - now_ms()
def quota_use(caller):
    k = (caller.user, caller.id, now_ms() // DAY)
    QUOTA[k] = QUOTA.get(k, 0) + 1

# ------------------------------------------------------------------ parameters
INT = re.compile(r'\A-?(0|[1-9][0-9]{0,17})\Z')
class P:
    """a parameter that filters: parse(text) -> test(row), or None where it will not do"""
    def __init__(self, make, field=None):
        self.make, self.field = make, field

def eq_enum(f, res):
    def make(text, version):
        fd = vfield(res, f, version)
        if text not in fd.enum:
            return None
        v = vup(res, f, text, version)
        return lambda r: r.get(f) == v
    return P(make, (res, f))

def in_enum(f, res, first_only=None):
    def make(text, version):
        fd = vfield(res, f, version)
        parts = text.split(',')
        if len(parts) > 100 or any(p not in fd.enum for p in parts):
            return None
        vs = {vup(res, f, p, version) for p in parts}
        if first_only and X(first_only):
            vs = {vup(res, f, parts[0], version)}
        return lambda r: r.get(f) in vs
    return P(make, (res, f))

def text_eq(get, field=None):
    return P(lambda text, version: (lambda r: get(r) == text), field)

def int_filter(f, op, field=None):
    def make(text, version):
        if not INT.match(text):
            return None
        v = int(text)
        return lambda r: op(r[f], v)
    return P(make, field)

def time_filter(f, op):
    def make(text, version):
        v = instant(text)
        if v is None:
            return None
        return lambda r: op(instant(r[f]), v)
    return P(make)

def bool_filter(f):
    def make(text, version):
        if text not in ('true', 'false'):
            return None
        v = text == 'true'
        return lambda r: r[f] == v
    return P(make)

def not_enum(f, res):
    def make(text, version):
        if text not in RES[res]['fields'][f].enum:
            return None
        return lambda r: r[f] != text
    return P(make)

def search(text, version):
    words = text.lower().split()
    if len(words) > 16:
        return None
    return lambda r: all(w in r['imo'].lower() or w in r['number'].lower() for w in words)

def depth(text, version):
    if not INT.match(text):
        return None
    v = int(text)
    return lambda r: r['max_draught_cm'] >= v and (r['state'] == 'open' or X('e-depth-shut'))

def ranged(fd_lo, fd_hi, f, op, field):
    def make(text, version):
        if not INT.match(text) or not fd_lo <= int(text) <= fd_hi:
            return None
        v = int(text)
        return lambda r: op(r[f], v)
    return P(make, field)

def mark_get(r, *path):
    for p in path:
        if r is None:
            return None
        r = r.get(p)
    return r

def gauge_enum(text, version):
    if text not in RES['tide_window']['fields']['gauge'].enum:
        return None
    return lambda r: DB['tide_window'][r['window']]['gauge'] == text

FILTERS = {
    'list pilot': {
        'licence': in_enum('licence', 'pilot'), 'duty': eq_enum('duty', 'pilot'),
        'called': P(lambda t, v: (lambda r: t in r['name'] if X('e-called') else r['name'].startswith(t)))},
    'list launch': {
        'seats': ranged(1, 24, 'seats', lambda a, b: a == b, ('launch', 'seats')),
        'min_seats': ranged(1, 24, 'seats', lambda a, b: a > b if X('e-min-seats') else a >= b, None),
        'fitness': eq_enum('fitness', 'launch'), 'mooring': eq_enum('mooring', 'launch'),
        'like': P(lambda t, v: (lambda r: t.lower() in r['name'].lower())),
        'crewed_by': P(lambda t, v: (lambda r: t in CREW.get(r['id'], ())) if re.fullmatch('PX[0-9]{3}', t, re.ASCII) else None)},
    'list roster': {'role': eq_enum('role', 'roster')},
    'list tide_window': {
        'gauge': in_enum('gauge', 'tide_window'), 'state': not_enum('state', 'tide_window'),
        'after': time_filter('opens_at', lambda a, b: a > b),
        'before': time_filter('closes_at', lambda a, b: a < b if X('e-before') else a <= b),
        'depth': P(depth)},
    'list tariff': {},
    'list boarding': {
        'state': in_enum('state', 'boarding', 'e-state-split'), 'heading': eq_enum('heading', 'boarding'),
        'window': text_eq(lambda r: r['window'], ('boarding', 'window')),
        'tugs': ranged(0, 6, 'tugs', lambda a, b: a == b, ('boarding', 'tugs')),
        'flag': P(lambda t, v: (lambda r: r['vessel'].get('flag') == t) if re.fullmatch('[A-Z]{2}', t) else None),
        'gauge': P(gauge_enum),
        'due': time_filter('eta', lambda a, b: a < b), 'q': P(search)},
    'list incident': {'severity': eq_enum('severity', 'incident'), 'sealed': bool_filter('sealed')},
    'list ear': {},
}
# the words of sort -> (field, kind)
SORTS = {
    'list launch': {'seats': 'seats', '-seats': 'seats', 'trips': 'trips', '-trips': 'trips'},
    'list tide_window': {'opens_at': 'opens_at', '-opens_at': 'opens_at', '-max_draught_cm': 'max_draught_cm'},
    'list tariff': {'fee_cents': 'fee_cents', '-fee_cents': 'fee_cents', '-id': 'id'},
    'list boarding': {'eta': 'eta', '-eta': 'eta', 'order': 'number', '-order': 'number'},
    'list pilot': {'badge': 'badge', '-badge': 'badge', 'name': 'name', '-name': 'name'},
}
ORDER = {'list pilot': 'badge', 'list launch': 'seats', 'list tide_window': 'opens_at', 'list tariff': '-fee_cents',
         'list boarding': '-eta', 'list incident': '-number', 'list roster': None, 'list ear': None}
TIMES = {'opens_at', 'closes_at', 'eta'}

def bad_query(name):
    raise Refuse('bad_query', [name])

def parse_query(raw):
    out = []
    if raw:
        for part in raw.split('&'):
            if part == '':
                continue
            k, _, v = part.partition('=')
            try:
                out.append((unplus(k), unplus(v)))
            except UnicodeDecodeError:
                bad_query(k)
    return out

def unplus(t):
    return unquote_to_bytes(t.replace('+', ' ')).decode('utf-8')

def selectable(version, caller):
    out = {}
    for f in RES['boarding']['fields']:
        n = vname('boarding', f, version)
        if n and (shows('boarding', f, caller) or X('e-only-hidden')):
            out[n] = f
    return out

def read_only_param(values, version, caller):
    """the choice of fields: {name: None | set of names}"""
    choice = {}
    names = selectable(version, caller)
    k = 0
    for text in values:
        for w in text.split(','):
            k += 1
            head, dot, rest = w.partition('.')
            if head not in names or k > 100:
                bad_query('only')
            if dot:
                if head != 'vessel' or rest not in RES['vessel']['fields']:
                    bad_query('only')
                if choice.get(head, ()) is not None:
                    choice.setdefault(head, set()).add(rest)
            else:
                choice[head] = None
    return choice

def chosen(body, choice):
    if choice is None:
        return body
    out = {}
    for n, v in body.items():
        if n == 'id':
            out[n] = v
        elif n in choice:
            out[n] = v if choice[n] is None else {m: e for m, e in v.items() if m in choice[n]}
    return out

# ------------------------------------------------------------------ pages
CURSOR_KEY = secrets.token_bytes(16)
def cursor_out(binding, place):
    body = dump(place)
    mac = hmac.new(CURSOR_KEY, dump(binding) + b'|' + body, hashlib.sha256).digest()[:12]
    return base64.urlsafe_b64encode(mac + body).decode().rstrip('=')

def cursor_in(binding, text):
    try:
        raw = b64d(text)
        if base64.urlsafe_b64encode(raw).decode().rstrip('=') != text:
            raise ValueError
        mac, body = raw[:12], raw[12:]
        if not hmac.compare_digest(mac, hmac.new(CURSOR_KEY, dump(binding) + b'|' + body, hashlib.sha256).digest()[:12]):
            raise ValueError
        return json.loads(body)
    except Exception:
        raise Refuse('bad_page', ['from'])

def whole(text, lo):
    if not re.fullmatch(r'(0|[1-9][0-9]{0,17})', text, re.ASCII) or int(text) < lo:
        return None
    return int(text)

STYLE = {'list pilot': 'offset', 'list tariff': 'page'}
PAGE_NAMES = {'offset': ('skip', 'take'), 'page': ('leaf', 'take'), 'cursor': ('from', 'take')}

def read_params(rq, ep):
    """step 8, parameters and page"""
    q = parse_query(rq.query)
    op = ep['op']
    lists = op.startswith('list ')
    p = {'filters': [], 'sort': None, 'raw': []}
    style = STYLE.get(op, 'cursor') if lists else None
    seen = {}
    for k, v in q:
        seen.setdefault(k, []).append(v)
    known = {}
    if lists:
        for n, spec in FILTERS[op].items():
            if spec.field:
                n = vname(*spec.field, rq.version)
                if n is None:
                    continue
            known[n] = spec
    paging = {}
    page_error = None
    for k, vs in seen.items():
        if ep.get('select') and k == 'only':
            p['only'] = read_only_param(vs, rq.version, rq.caller)
            continue
        if lists and k in PAGE_NAMES[style]:
            if len(vs) > 1:
                bad_query(k)
            paging[k] = vs[0]
            continue
        if not (k in known or lists and op in SORTS and k == 'sort' or op == 'list pilot' and k == 'way'):
            bad_query(k)
        if len(vs) > 1:
            bad_query(k)
        v = vs[0]
        if k == 'sort':
            words = SORTS[op]
            if rq.version == OLD:
                if op == 'list launch':
                    words = {'berths': 'seats', '-berths': 'seats', 'trips': 'trips', '-trips': 'trips'}
                elif op == 'list tariff':
                    words = {'-id': 'id'}
            if v not in words:
                bad_query(k)
            p['sort'] = ('-' if v[0] == '-' else '') + words[v]
        elif k == 'way':
            if v not in ('asc', 'desc'):
                bad_query(k)
            p['way'] = v
        else:
            spec = known[k]
            if op == 'list pilot' and rq.caller.user == 'agent' and k == 'duty':
                bad_query(k)
            test = spec.make(v, rq.version)
            if test is None:
                bad_query(k)
            p['filters'].append(test)
        p['raw'].append([k, v])
    p['raw'].sort()
    if lists:
        start, size = PAGE_NAMES[style]
        default, mx = {'offset': (20, 40), 'page': (3, 20), 'cursor': (10, 50)}[style]
        if X('l-take-max') and op == 'list launch':
            mx = 51
        take = default
        if size in paging:
            take = whole(paging[size], 1)
            if take is None:
                raise Refuse('bad_page', [size])
            if take > mx:
                if style == 'offset' and not X('l-clamp'):
                    take = mx
                else:
                    raise Refuse('bad_page', [size])
        p['take'] = take
        sort = p['sort'] or ORDER[op]
        if p.get('way') == 'desc':
            sort = sort[1:] if sort[0] == '-' else '-' + sort
        p['order'] = sort
        if style == 'offset':
            s = whole(paging[start], 0) if start in paging else 0
            if s is None:
                raise Refuse('bad_page', [start])
            p['start'] = s
        elif style == 'page':
            s = whole(paging[start], 1) if start in paging else 1
            if s is None:
                raise Refuse('bad_page', [start])
            p['start'] = (s - 1) * take
        else:
            c = rq.caller
            who = None
            if op == 'list boarding':
                who = ['agent', c.firm] if c.user == 'agent' else [c.user, c.id if c.user == 'pilot' else '']
            elif op == 'list incident':
                who = ['agent', c.firm] if c.user == 'agent' else [c.user, c.id if c.user == 'pilot' else '']
            elif op == 'list ear':
                who = [c.user, c.id]
            p['binding'] = [op, rq.version, rq.path, p['raw'], who]
            p['place'] = cursor_in(p['binding'], paging[start]) if start in paging else None
    return p

def sort_key(field, row):
    v = row[field]
    return instant(v) if field in TIMES else v

def list_rows(rq, ep, p, parent=None):
    op, res = ep['op'], ep['res']
    mine = rules_for(op, rq.caller)[0]
    rows = []
    for r in DB[res].values():
        if parent is not None and r[parent[0]] != parent[1]:
            continue
        if not any(rif is None or rif(r, rq.caller) for rif, _ in mine):
            continue
        if all(t(r) for t in p['filters']):
            rows.append(r)
    newest = op == 'list boarding' and not X('e-ties')
    rows.sort(key=lambda r: r['_seq'], reverse=newest)
    order = p['order']
    f = None
    if order:
        f = order.lstrip('-')
        rows.sort(key=lambda r: sort_key(f, r), reverse=order[0] == '-')
        if order[0] == '-':
            # Python keeps the order of equals when reversed
            pass
    style = STYLE.get(op, 'cursor')
    def out(rs):
        return [chosen(show(res, r, rq.caller, rq.version, listed=True), p.get('only')) for r in rs]
    if style == 'offset':
        return {'pilots': out(rows[p['start']:p['start'] + p['take']]), 'of': len(rows)}
    if style == 'page':
        end = p['start'] + p['take']
        return {'tariffs': out(rows[p['start']:end]), 'of': len(rows), 'further': end < len(rows) or (X('l-further') and end == len(rows))}
    i = 0
    if p['place'] is not None:
        key, seq = p['place']
        desc = bool(order) and order[0] == '-'
        def beyond(r):
            if f:
                k = sort_key(f, r)
                if k != key:
                    return (k < key) if desc else (k > key)
            return r['_seq'] < seq if newest else r['_seq'] > seq
        rows = [r for r in rows if beyond(r)]
        if X('l-cursor-skip'):
            rows = rows[1:]
    page = rows[:p['take']]
    more = None
    if len(rows) > p['take']:
        last = page[-1]
        more = cursor_out(p['binding'], [sort_key(f, last) if f else None, last['_seq']])
    return {'rows': out(page), 'more': more}

# ------------------------------------------------------------------ routes
EP = []
def E(method, path, op, res, **kw):
    segs = [s for s in path.split('/') if s]
    EP.append(dict(method=method, path=path, segs=segs, op=op, res=res, **kw))

E('GET', '/about', 'about', None, does='about', public=True)
E('GET', '/me', 'read own card', 'pilot', does='read', me=True, accept=('pass',))
E('GET', '/pilots', 'list pilot', 'pilot', does='list')
E('GET', '/pilots/{badge}', 'read pilot', 'pilot', does='read', etag=True)
E('PUT', '/pilots/{badge}', 'upsert pilot', 'pilot', does='upsert', body=True)
E('PATCH', '/pilots/{badge}', 'update pilot', 'pilot', does='update', body=True, if_match='accepted')
E('POST', '/pilots/{badge}/muster', 'muster pilot', 'pilot', does='muster')
E('POST', '/pilots/{badge}/stand-down', 'stand_down pilot', 'pilot', does='stand_down')
E('GET', '/launches', 'list launch', 'launch', does='list')
E('POST', '/launches', 'create launch', 'launch', does='create', body=True)
E('GET', '/launches/{id}', 'read launch', 'launch', does='read', etag=True)
E('PATCH', '/launches/{id}', 'update launch', 'launch', does='update', body=True, if_match='required')
E('DELETE', '/launches/{id}', 'delete launch', 'launch', does='delete')
E('POST', '/launches/{id}/cast-off', 'cast_off launch', 'launch', does='cast_off')
E('POST', '/launches/{id}/moor', 'moor launch', 'launch', does='moor')
E('GET', '/launches/{launch}/roster', 'list roster', 'roster', does='list', parent='launch')
E('POST', '/launches/{launch}/roster', 'create roster', 'roster', does='create', body=True, parent='launch')
E('GET', '/launches/{launch}/roster/{id}', 'read roster', 'roster', does='read', parent='launch')
E('DELETE', '/launches/{launch}/roster/{id}', 'delete roster', 'roster', does='delete', parent='launch')
E('GET', '/windows', 'list tide_window', 'tide_window', does='list')
E('POST', '/windows', 'create tide_window', 'tide_window', does='create', body=True)
E('GET', '/windows/{id}', 'read tide_window', 'tide_window', does='read', etag=True)
E('PATCH', '/windows/{id}', 'update tide_window', 'tide_window', does='update', body=True, if_match='accepted')
E('DELETE', '/windows/{id}', 'delete tide_window', 'tide_window', does='delete')
E('GET', '/tariffs', 'list tariff', 'tariff', does='list', anyone=True)
E('GET', '/tariffs/{band}', 'read tariff', 'tariff', does='read', etag=True, by='band', anyone=True)
E('PUT', '/tariffs/{band}', 'replace tariff', 'tariff', does='replace', body=True, by='band', if_match='required')
E('GET', '/boardings', 'list boarding', 'boarding', does='list', select=True)
E('POST', '/boardings', 'create boarding', 'boarding', does='create', body=True)
E('GET', '/boardings/{id}', 'read boarding', 'boarding', does='read', etag=True, select=True)
E('PATCH', '/boardings/{id}', 'update boarding', 'boarding', does='update', body=True, if_match='accepted')
E('POST', '/boardings/{id}/assign', 'assign boarding', 'boarding', does='assign', body=True)
E('POST', '/boardings/{id}/renew', 'renew boarding', 'boarding', does='renew', added=True)
E('POST', '/boardings/{id}/board', 'board boarding', 'boarding', does='board')
E('POST', '/boardings/{id}/land', 'land boarding', 'boarding', does='land')
E('POST', '/boardings/{id}/cancel', 'cancel boarding', 'boarding', does='cancel', body=True)
E('GET', '/boardings/{boarding}/incidents', 'list incident', 'incident', does='list', parent='boarding')
E('POST', '/boardings/{boarding}/incidents', 'create incident', 'incident', does='create', body=True, parent='boarding')
E('GET', '/incidents/{id}', 'read incident', 'incident', does='read')
E('DELETE', '/incidents/{id}', 'delete incident', 'incident', does='delete')
E('POST', '/ears', 'create ear', 'ear', does='create', body=True)
E('GET', '/ears', 'list ear', 'ear', does='list')
E('GET', '/ears/{id}', 'read ear', 'ear', does='read')
E('DELETE', '/ears/{id}', 'delete ear', 'ear', does='delete')

def match_path(segs):
    """{method: (endpoint, path parameters)}"""
    out = {}
    for ep in EP:
        if len(ep['segs']) != len(segs):
            continue
        args = {}
        for a, b in zip(ep['segs'], segs):
            if a[0] == '{':
                args[a[1:-1]] = b
            elif a != b:
                break
        else:
            out[ep['method']] = (ep, args)
    return out

# ------------------------------------------------------------------ a request
class Request:
    __slots__ = ('method', 'target', 'path', 'query', 'headers', 'body', 'too_big', 'addr', 'version', 'caller', 'ticket', 'rate', 'ep', 'args', 'route_ok')
    def all(self, name):
        return [v for k, v in self.headers if k == name]
    def one(self, name):
        for k, v in self.headers:
            if k == name:
                return v
        return None

ONCE = {}
SUNSET = calendar.timegm((2028, 1, 1, 0, 0, 0)) * 1000
DEPRECATED = calendar.timegm((2026, 6, 1, 0, 0, 0))
ME_DEPRECATED = calendar.timegm((2026, 9, 1, 0, 0, 0))

def handle(rq):
    """(status, headers, body bytes)"""
    rq.ticket = 'tk-' + rnd(16)
    rq.version, rq.caller, rq.rate, rq.ep = NEW, None, [], None
    try:
        status, headers, body = answer(rq)
        payload = dump(body) if body is not None else b''
    except Refuse as r:
        status, headers, payload = refusal(rq, r)
    except Exception:
        import traceback; traceback.print_exc()
        status, headers, payload = refusal(rq, Refuse('failed'))
    out = list(headers)
    if payload:
        out.append(('Content-Type', 'application/json'))
    out.append(('Station-Ticket', rq.ticket))
    out.append(('Station-Edition', NEW if X('v-echo') else rq.version))
    out.append(('Vary', 'Station-Edition, Authorization, X-Station-Key'))
    out += rq.rate
    dep, sun, links = None, None, []
    if rq.version == OLD:
        dep, sun = DEPRECATED, SUNSET // 1000
        if X('v-no-sunset'):
            sun = None
        links += ['<https://pilots.sandhaven.example/editions>; rel="deprecation"', '<%s>; rel="successor-version"' % rq.target]
    if rq.ep and rq.ep.get('me') and not X('e-me-deprecated'):
        dep = min(dep, ME_DEPRECATED) if dep else ME_DEPRECATED
        links.append('<https://pilots.sandhaven.example/moved>; rel="deprecation"')
    if dep:
        out.append(('Deprecation', '@%d' % dep))
    if sun:
        out.append(('Sunset', formatdate(sun, usegmt=True)))
    if links:
        out.append(('Link', ', '.join(links)))
    return status, out, payload

def refusal(rq, r):
    status, msg = CODES[r.code]
    if X('er-too-deep-status') and r.code == 'too_deep':
        status = 409
    if X('er-dangling-status') and r.code == 'dangling':
        status = 404
    if '{name}' in msg:
        msg = msg.replace('{name}', r.name[:200])
    ref = {'code': r.code, 'say': msg}
    if r.at:
        ref['at'] = r.at
    ticket = rq.ticket if not X('er-ticket') else 'tk-' + rnd(16)
    headers = list(r.headers) + [('Station-Fault', r.code)]
    if X('er-fault-header') and r.code == 'not_found':
        headers = list(r.headers)
    return status, headers, dump({'refusal': ref, 'ticket': ticket})

def answer(rq):
    if len(rq.target) > 2048 or sum(len(k) + len(v) + 4 for k, v in rq.headers) > 8192:
        raise Refuse('too_big')
    path, mark, rq.query = rq.target.partition('?')
    rq.path = path
    segs = None
    if path.startswith(BASE + '/'):
        try:
            segs = [unquote_to_bytes(s).decode('utf-8') for s in path[len(BASE) + 1:].split('/')]
        except UnicodeDecodeError:
            segs = None
    if X('p-base-tariffs') and path.startswith('/tariffs'):
        segs = path[1:].split('/')
    elif X('p-base-tariffs') and segs and segs[0] == 'tariffs':
        segs = None
    found = match_path(segs) if segs and all(segs) else {}
    v = rq.all('station-edition')
    if v == [OLD]:
        rq.version = OLD
        if not X('v-renew-old'):
            found = {k: e for k, e in found.items() if not e[0].get('added')}
    if X('p-functions-cancel') and found.get('POST') and found['POST'][0]['op'] == 'cancel boarding':
        found = {}
    if X('p-functions-card') and found.get('GET') and found['GET'][0]['op'] == 'read own card':
        found = {}
    if not found:
        raise Refuse('no_way')
    allow = sorted(found) + (['HEAD'] if 'GET' in found else []) + ['OPTIONS']
    if rq.method == 'OPTIONS':
        return 204, [('Allow', ', '.join(allow))], None
    m = 'GET' if rq.method == 'HEAD' else rq.method
    if m not in found:
        if X('er-delete-tariff') and segs[0] == 'tariffs' and m == 'DELETE':
            raise Refuse('no_way')
        raise Refuse('wrong_method', headers=[('Allow', ', '.join(allow))])
    ep, args = found[m]
    if v and v not in ([OLD], [NEW]) and not X('v-unknown'):
        raise Refuse('no_edition')
    if rq.version == OLD and now_ms() >= SUNSET and not X('v-sunset-served'):
        raise Refuse('old_edition')
    rq.ep, rq.args = ep, args
    op = ep['op']
    if op == 'about':
        rate(rq, op)
    if not ep.get('public'):
        accept = ep.get('accept', ('key', 'pass', 'token'))
        if X('a-me-key') and ep.get('me'):
            accept = ('pass', 'key')
        rq.caller = authenticate(rq, accept)
        if rq.caller is None and not ep.get('anyone'):
            raise Refuse('who_calls', headers=challenges(accept, ()))
        rate(rq, op)
        mine, some = rules_for(op, rq.caller)
        if not some:
            raise Refuse('barred')
        if not mine:
            hs = [('WWW-Authenticate', 'Bearer realm="%s", error="insufficient_scope"' % TITLE)] if rq.caller and rq.caller.scheme == 'token' else []
            raise Refuse('barred' if X('er-scope-code') else 'not_entrusted', headers=hs)
    if X('er-order'):
        body = read_body(rq, ep)
        p = read_params(rq, ep)
    else:
        p = read_params(rq, ep)
        body = read_body(rq, ep)
    if op == 'about':
        return 200, [], {'station': 'Sandhaven', 'channel': 12}
    if ep['method'] != 'POST':
        return act(rq, ep, p, body)
    key = rq.one('once-key')
    if not key or rq.caller is None or (X('e-once-ears') and op == 'create ear'):
        return act(rq, ep, p, body)
    slot = (rq.caller.user, rq.caller.id, op, key)
    print_ = [rq.target, rq.version, body if ep.get('body') else base64.b64encode(rq.body or b'').decode()]
    if X('er-once-body'):
        print_[2] = None
    print_ = hashlib.sha256(json.dumps(print_, sort_keys=True).encode()).digest()
    n = now_ms()
    had = ONCE.get(slot)
    if had and had[0] > n:
        if had[1] != print_:
            raise Refuse('key_reused')
        _, _, kind, kept = had
        if kind == 'refused':
            raise Refuse(*kept)
        return kept[0], list(kept[1]), kept[2]
    try:
        status, headers, out = act(rq, ep, p, body)
    except Refuse as r:
        if r.code in OWN:
            ONCE[slot] = (n + 12 * HOUR, print_, 'refused', (r.code, r.at, r.name, r.headers))
        raise
    keep = out
    if op == 'create ear':
        keep = {k: v for k, v in out.items() if k != 'secret'}
    ONCE[slot] = (n + 12 * HOUR, print_, 'done', (status, headers, keep))
    return status, headers, out

def rate(rq, op):
    hs, wait = rate_for(op, rq.caller, rq.addr)
    if wait is not None:
        rq.rate = hs
        raise Refuse('slow_down', headers=[('Retry-After', str(-(-wait // 1000)))])
    rq.rate = hs

def no_const(x):
    raise ValueError(x)

def read_body(rq, ep):
    if rq.too_big or rq.body and len(rq.body) > 8192 + (1 if X('l-body') else 0):
        raise Refuse('too_big')
    if not ep.get('body'):
        return None
    if not rq.body:
        raise Refuse('unreadable')
    ct = rq.all('content-type')
    kind = ct[0].split(';')[0].strip().lower() if len(ct) == 1 else ''
    if kind != 'application/json' and not (ep['does'] == 'update' and kind == 'application/merge-patch+json'):
        raise Refuse('wrong_type')
    try:
        return json.loads(rq.body.decode('utf-8'), parse_constant=no_const)
    except (ValueError, RecursionError):
        raise Refuse('unreadable')

def load(rq, ep, res, rid):
    row = DB[res].get(rid)
    if row is None:
        if res == 'incident' and rid in GONE and not X('er-gone'):
            if may_read(res, GONE[rid][0], rq.caller):
                raise Refuse('struck_out')
        raise Refuse('not_found')
    if ep['op'] == 'read own card':
        return row
    if not may_read(res, row, rq.caller):
        raise Refuse('not_found')
    return row

def allow_row(rq, ep, row):
    for rif, _ in rules_for(ep['op'], rq.caller)[0]:
        if rif is None or rif(row, rq.caller):
            return
    raise Refuse('barred')

def allow_next(rq, ep, nxt):
    for _, nif in rules_for(ep['op'], rq.caller)[0]:
        if nif is None or nif(nxt, rq.caller):
            return
    raise Refuse('barred')

TAG = re.compile(r'(W/)?"([^"]*)"')
def if_match(rq, ep, row):
    want = ep.get('if_match')
    if not want:
        return
    hs = rq.all('if-match')
    if not hs:
        if want == 'required':
            raise Refuse('tag_needed')
        return
    if X('er-stale-windows') and ep['res'] == 'tide_window':
        return
    text = ', '.join(hs).strip()
    if text == '*':
        return
    mine = tag_of(ep['res'], row, rq.caller, rq.version)
    for weak, t in TAG.findall(text):
        if (not weak or X('e-weak-tag')) and t.split('.')[0] == mine:
            return
    raise Refuse('stale')

def location(ep, row):
    res = ep['res']
    if res == 'roster':
        return '%s/launches/%s/roster/%s' % (BASE, row['launch'], row['id'])
    base = {'pilot': 'pilots', 'launch': 'launches', 'tide_window': 'windows', 'boarding': 'boardings', 'incident': 'incidents', 'ear': 'ears'}[res]
    return '%s/%s/%s' % (BASE, base, row[RES[res]['id']])

def next_seq():
    global SEQ
    SEQ += 1
    return SEQ

def act(rq, ep, p, body):
    does, res = ep['does'], ep['res']
    c = rq.caller
    # path parents
    parent = None
    if ep.get('parent'):
        pres = ep['parent']
        pid = rq.args[pres]
        prow = DB[pres].get(pid)
        if prow is None or not may_read(pres, prow, c):
            raise Refuse('not_found')
        parent = (pres, pid)
    if does == 'list':
        return 200, [], list_rows(rq, ep, p, parent)
    if does == 'create':
        return CREATE[res](rq, ep, body, parent)
    # the row
    if ep.get('me'):
        rid = c.id
    elif ep.get('by'):
        rid = next((t['id'] for t in DB['tariff'].values() if t['band'] == rq.args['band']), None)
    else:
        rid = rq.args['badge' if res == 'pilot' else 'id']
    if does == 'upsert':
        return upsert_pilot(rq, ep, body, rid)
    row = load(rq, ep, res, rid)
    if parent and row[parent[0]] != parent[1]:
        raise Refuse('not_found')
    if does == 'read':
        return read(rq, ep, p, row)
    allow_row(rq, ep, row)
    if_match(rq, ep, row)
    if does == 'update':
        return UPDATE[res](rq, ep, row, body)
    if does == 'replace':
        return replace_tariff(rq, ep, row, body)
    if does == 'delete':
        DELETE[res](row)
        run_due()
        return 204, [], None
    return TRANS[ep['op']](rq, ep, row, body)

def read(rq, ep, p, row):
    out = show(ep['res'], row, rq.caller, rq.version)
    headers = []
    if ep.get('etag'):
        t = tag_of(ep['res'], row, rq.caller, rq.version)
        if p.get('only') is not None:
            out = chosen(out, p['only'])
            t += '.' + hashlib.sha256(dump(out)).hexdigest()[:12]
        headers.append(('ETag', '"%s"' % t))
        inm = rq.all('if-none-match')
        if inm:
            text = ', '.join(inm).strip()
            if text == '*' or any(x == t for _, x in TAG.findall(text)):
                return 304, headers, None
    return 200, headers, out

def done(rq, ep, row, status=200, headers=(), once=False):
    out = show(ep['res'], row, rq.caller, rq.version, once=once)
    run_due()
    return status, list(headers), out

def created(rq, ep, row, once=False):
    hs = [('Location', location(ep, row))]
    if X('e-location') and ep['res'] == 'tide_window':
        hs = []
    return done(rq, ep, row, 201, hs, once)

# ---- creations
def need_ref(res, rid, caller):
    row = DB[res].get(rid)
    if row is None or not may_read(res, row, caller):
        raise Refuse('dangling')
    return row

def name_taken(name, but=None):
    low = name if X('r-name-case') else name.lower()
    return any((l['name'] if X('r-name-case') else l['name'].lower()) == low and l['id'] != but for l in DB['launch'].values())

def create_launch(rq, ep, body, parent):
    new = read_whole('launch', body, rq.caller, rq.version, {})
    if name_taken(new['name']):
        raise Refuse('taken')
    row = {'id': 'lch_' + rnd(10, 'abcdefghijklmnopqrstuvwxyz0123456789'), **new, 'fitness': 'fit', 'mooring': 'moored',
           'touched_at': iso(now_ms()), 'trips': 0, '_seq': next_seq()}
    DB['launch'][row['id']] = row
    return created(rq, ep, row)

def create_roster(rq, ep, body, parent):
    new = read_whole('roster', body, rq.caller, rq.version, {'launch': parent[1]})
    need_ref('pilot', new['pilot'], rq.caller)
    if new['pilot'] in CREW.get(parent[1], ()):
        raise Refuse('taken')
    row = {'id': 'ros_' + rnd(12, '0123456789abcdef'), 'launch': parent[1], 'pilot': new['pilot'],
           'role': new.get('role', 'coxswain' if X('r-role-default') else 'deckhand'), '_seq': next_seq()}
    DB['roster'][row['id']] = row
    CREW.setdefault(parent[1], {})[row['pilot']] = row
    return created(rq, ep, row)

def mark_taken(row, but=None):
    return any(w['gauge'] == row['gauge'] and w['mark'] == row['mark'] and w['id'] != but for w in DB['tide_window'].values())

def create_window(rq, ep, body, parent):
    new = read_whole('tide_window', body, rq.caller, rq.version, {})
    if mark_taken(new):
        raise Refuse('taken')
    row = {'id': 'tw-' + rnd(8, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'), **new, 'state': 'open', '_seq': next_seq()}
    DB['tide_window'][row['id']] = row
    arm_window(row)
    return created(rq, ep, row)

def too_deep(row):
    return row['vessel']['draught_cm'] > DB['tide_window'][row['window']]['max_draught_cm']

def create_boarding(rq, ep, body, parent):
    global NUMBER
    c = rq.caller
    new = read_whole('boarding', body, c, rq.version, {})
    w = need_ref('tide_window', new['window'], c)
    new.setdefault('tugs', 0)
    if too_deep(new):
        raise Refuse('too_deep')
    if w['state'] != 'open':
        raise Refuse('window_shut')
    states = ('requested', 'assigned')
    if X('r-unique-while'):
        states = ('requested', 'assigned', 'cancelled')
    ids = BY_WINDOW.get(w['id'], ())
    if any(DB['boarding'][i]['imo'] == new['imo'] and DB['boarding'][i]['state'] in states for i in ids):
        raise Refuse('taken')
    if booked(w['id']) >= 8 + (1 if X('l-window-rows') else 0):
        raise Refuse('used_up')
    NUMBER += 1
    row = {'id': 'brd_' + rnd(14, 'abcdefghijklmnopqrstuvwxyz0123456789'), 'number': 'PB-%05d' % NUMBER, 'firm': c.firm, 'ordered_by': c.id,
           **new, 'state': 'requested', 'revised_at': iso(now_ms()), '_seq': next_seq()}
    DB['boarding'][row['id']] = row
    BY_WINDOW.setdefault(w['id'], {})[row['id']] = True
    enter_requested(row)
    emit('boarding.ordered', 'boarding', row)
    return created(rq, ep, row)

def create_incident(rq, ep, body, parent):
    c = rq.caller
    new = read_whole('incident', body, c, rq.version, {'boarding': parent[1]})
    new.setdefault('sealed', X('r-sealed-default'))
    allow_next(rq, ep, new)
    left, wait = quota_left(c)
    if left + (1 if X('l-quota') else 0) <= 0:
        raise Refuse('used_up', headers=[('Retry-After', str(-(-wait // 1000)))])
    quota_use(c)
    k = '' if X('r-incident-number') else parent[1]
    WITHIN[k] = WITHIN.get(k, 0) + 1
    row = {'id': 'inc_' + ulid(), 'number': WITHIN[k], 'boarding': parent[1], 'author': c.id, **new, '_seq': next_seq()}
    DB['incident'][row['id']] = row
    if row['severity'] != 'minor' and not (X('ev-noted-serious') and row['severity'] == 'serious'):
        emit('incident.noted', 'incident', row)
    return created(rq, ep, row)

def create_ear(rq, ep, body, parent):
    c = rq.caller
    new = read_whole('ear', body, c, rq.version, {})
    if sum(1 for e in DB['ear'].values() if e['owner'] == c.id) >= 4 + (1 if X('l-ear-rows') else 0):
        raise Refuse('used_up')
    row = {'id': 'ear_' + rnd(12), 'owner': c.id, **new, 'secret': 'seal_' + rnd(30), 'live': True, '_seq': next_seq(),
           '_maker': c, '_version': rq.version}
    DB['ear'][row['id']] = row
    return created(rq, ep, row, once=True)

CREATE = {'launch': create_launch, 'roster': create_roster, 'tide_window': create_window, 'boarding': create_boarding,
          'incident': create_incident, 'ear': create_ear}

# ---- upsert, replace, update
def put(row, new, res):
    """writes what differs; says whether anything does"""
    changed = False
    for f, fd in RES[res]['fields'].items():
        if fd.derive:
            continue
        if f in new:
            if row.get(f) != new[f] or type(row.get(f)) is not type(new[f]):
                row[f] = new[f]; changed = True
        elif f in row:
            del row[f]; changed = True
    return changed

def upsert_pilot(rq, ep, body, badge):
    row = DB['pilot'].get(badge)
    fd = RES['pilot']['fields']['badge']
    if row is None and not fd.pat.search(badge):
        raise Refuse('unfit', ['badge'])
    new = read_whole('pilot', body, rq.caller, rq.version, {'badge': badge}, old=row)
    if row is None:
        row = {'badge': badge, **new, 'duty': 'on_call' if X('s-pilot-initial') else 'ashore', '_seq': next_seq()}
        DB['pilot'][badge] = row
        return done(rq, ep, row, 200 if X('e-upsert-status') else 201, [('Location', location(ep, row))])
    put(row, {**new, 'badge': badge, 'duty': row['duty']}, 'pilot')
    return done(rq, ep, row)

def replace_tariff(rq, ep, row, body):
    new = read_whole('tariff', body, rq.caller, rq.version, {'band': row['band']}, old=row)
    new.update(id=row['id'], band=row['band'])
    if X('e-replace-note') and 'note' in row:
        new.setdefault('note', row['note'])
    put(row, new, 'tariff')
    return done(rq, ep, row)

def plain(row):
    return {k: v for k, v in row.items() if k[0] != '_'}

def update_pilot(rq, ep, row, body):
    put(row, read_patch('pilot', body, rq.caller, rq.version, plain(row)), 'pilot')
    return done(rq, ep, row)

def update_launch(rq, ep, row, body):
    new = read_patch('launch', body, rq.caller, rq.version, plain(row))
    if new['fitness'] != row['fitness'] and new['fitness'] == 'laid_up' and row['mooring'] != 'moored' and not X('s-layup-underway'):
        raise Refuse('out_of_turn')
    if name_taken(new['name'], row['id']):
        raise Refuse('taken')
    if put(row, new, 'launch') or X('r-touched-always'):
        row['touched_at'] = iso(now_ms())
    return done(rq, ep, row)

def update_window(rq, ep, row, body):
    new = read_patch('tide_window', body, rq.caller, rq.version, plain(row))
    if row['state'] != 'open':
        raise Refuse('out_of_turn')
    if mark_taken(new, row['id']):
        raise Refuse('taken')
    put(row, new, 'tide_window')
    arm_window(row)
    return done(rq, ep, row)

def update_boarding(rq, ep, row, body):
    before = plain(row)
    new = read_patch('boarding', body, rq.caller, rq.version, before)
    if row['state'] not in ('requested', 'assigned') + (('aboard',) if X('s-update-aboard') else ()):
        raise Refuse('out_of_turn')
    if too_deep(new) and not X('er-too-deep-patch'):
        raise Refuse('too_deep')
    if put(row, new, 'boarding'):
        row['revised_at'] = iso(now_ms())
        if instant(before['eta']) != instant(row['eta']) or X('ev-amended-always'):
            was = row['eta'] if X('ev-amended-was') else before['eta']
            emit('boarding.amended', 'boarding', row, {'boarding': row['id'], 'was': was, 'is': row['eta']})
    return done(rq, ep, row)

UPDATE = {'pilot': update_pilot, 'launch': update_launch, 'tide_window': update_window, 'boarding': update_boarding}

# ---- deletions
def delete_launch(row):
    if row['mooring'] != 'moored':
        raise Refuse('out_of_turn')
    del DB['launch'][row['id']]
    for r in CREW.pop(row['id'], {}).values():
        del DB['roster'][r['id']]
    for b in DB['boarding'].values():
        if b.get('launch') == row['id'] and not (X('r-launch-clear') and b['state'] == 'landed'):
            del b['launch']
            b['revised_at'] = iso(now_ms())

def delete_window(row):
    if BY_WINDOW.get(row['id']) and not (X('er-held') and booked(row['id']) == 0):
        raise Refuse('in_use')
    for i in list(BY_WINDOW.get(row['id'], ())):
        del DB['boarding'][i]
    BY_WINDOW.pop(row['id'], None)
    del DB['tide_window'][row['id']]

def delete_roster(row):
    del DB['roster'][row['id']]
    del CREW[row['launch']][row['pilot']]

def delete_incident(row):
    del DB['incident'][row['id']]
    GONE[row['id']] = (row, now_ms() + 20 * DAY)

DELETE = {'launch': delete_launch, 'tide_window': delete_window, 'incident': delete_incident,
          'roster': delete_roster, 'ear': lambda r: DB['ear'].pop(r['id'])}

# ---- transitions
def muster(rq, ep, row, body):
    if row['duty'] != 'ashore':
        raise Refuse('out_of_turn')
    row['duty'] = 'on_call'
    arm(row, 'relieve', now_ms() + 36 * HOUR, 'pilot')
    return done(rq, ep, row)

def stand_down(rq, ep, row, body):
    if row['duty'] != 'on_call':
        raise Refuse('out_of_turn')
    if derive('pilot', row)['jobs'] != 0 and not (X('er-engaged-desk') and rq.caller.user == 'dispatcher'):
        raise Refuse('pilot_engaged')
    disarm(row, 'relieve')
    row['duty'] = 'ashore'
    return done(rq, ep, row)

def cast_off(rq, ep, row, body):
    if row['mooring'] != 'moored':
        raise Refuse('out_of_turn')
    if row['fitness'] != 'fit' and not X('s-castoff-unfit') or derive('launch', row)['crew'] <= 0:
        raise Refuse('launch_unfit')
    if sum(1 for l in DB['launch'].values() if l['mooring'] == 'underway') >= 3 + (1 if X('l-underway') else 0):
        raise Refuse('used_up')
    row['mooring'] = 'underway'
    row['trips'] += 1
    row['touched_at'] = iso(now_ms())
    arm(row, 'drift_home', now_ms() + 8 * HOUR, 'launch')
    emit('launch.away', 'launch', row)
    return done(rq, ep, row)

def moor_launch(rq, ep, row, body):
    if row['mooring'] != 'underway':
        raise Refuse('out_of_turn')
    moor(row, 'moor')
    return done(rq, ep, row)

def assign(rq, ep, row, body):
    if not isinstance(body, dict):
        raise Refuse('unfit', [''])
    bad = Bad()
    for n in ('pilot', 'launch'):
        pass
    for n, v in body.items():
        if n in ('pilot', 'launch') and not isinstance(v, str):
            bad.add(n)
    for n in ('pilot', 'launch'):
        if n not in body:
            bad.add(n)
    bad.check()
    pilot = need_ref('pilot', body['pilot'], rq.caller)
    need_ref('launch', body['launch'], rq.caller)
    if row['state'] not in (('requested',) if X('s-reassign') else ('requested', 'assigned')):
        raise Refuse('out_of_turn')
    if pilot['duty'] != 'on_call':
        raise Refuse('pilot_ashore')
    if row['band'] == 'giant' and pilot['licence'] != 'unlimited' and not (X('er-licence-first') and pilot['licence'] == 'first'):
        raise Refuse('licence_short')
    disarm(row, 'lapse')
    row['state'] = 'assigned'
    BY_PILOT.get(row.get('pilot'), {}).pop(row['id'], None)
    row['pilot'], row['launch'] = body['pilot'], body['launch']
    BY_PILOT.setdefault(row['pilot'], {})[row['id']] = True
    row['revised_at'] = iso(now_ms())
    emit('boarding.assigned', 'boarding', row, {'boarding': row['id'], 'pilot': body['pilot'], 'launch': body['launch']})
    return done(rq, ep, row)

def renew(rq, ep, row, body):
    if row['state'] != 'requested':
        raise Refuse('out_of_turn')
    row['revised_at'] = iso(now_ms())
    if not X('s-renew-timer'):
        enter_requested(row)
    return done(rq, ep, row)

def board(rq, ep, row, body):
    if row['state'] != 'assigned':
        raise Refuse('out_of_turn')
    l = DB['launch'].get(row.get('launch'))
    if l is None or l['mooring'] != 'underway':
        raise Refuse('launch_moored')
    row['state'] = 'aboard'
    row['revised_at'] = iso(now_ms())
    return done(rq, ep, row)

def land(rq, ep, row, body):
    if row['state'] != 'aboard':
        raise Refuse('out_of_turn')
    row['state'] = 'landed'
    t = next((t for t in DB['tariff'].values() if t['band'] == row['band']), None)
    row['charge_cents'] = t['fee_cents'] + row['tugs'] * 5000 if t else 0
    if X('r-charge-tugs') and row['tugs'] == 1:
        row['charge_cents'] = t['fee_cents']
    row['revised_at'] = iso(now_ms())
    l = DB['launch'].get(row.get('launch'))
    if l is not None and l['mooring'] == 'underway' and not X('s-land-moor'):
        moor(l, 'moor')
    emit('boarding.over', 'boarding', row)
    return done(rq, ep, row)

def cancel(rq, ep, row, body):
    if not isinstance(body, dict):
        raise Refuse('unfit', [''])
    bad = Bad()
    if 'reason' not in body:
        bad.add('reason')
    else:
        check_value(F(S, lo=3, hi=120), body['reason'], 'reason', bad)
    bad.check()
    if row['state'] not in ('requested', 'assigned') + (('aboard',) if X('s-cancel-aboard') else ()):
        raise Refuse('too_late')
    disarm(row, 'lapse')
    row['state'] = 'cancelled'
    row['reason'] = body['reason']
    row['revised_at'] = iso(now_ms())
    emit('boarding.over', 'boarding', row)
    return done(rq, ep, row)

TRANS = {'muster pilot': muster, 'stand_down pilot': stand_down, 'cast_off launch': cast_off, 'moor launch': moor_launch,
         'assign boarding': assign, 'renew boarding': renew, 'board boarding': board, 'land boarding': land, 'cancel boarding': cancel}

# ------------------------------------------------------------------ rows from the start
def start_rows():
    for p in ({'badge': 'PX101', 'name': 'Aalbers', 'licence': 'unlimited', 'phone': '+31612345678', 'duty': 'ashore'},
              {'badge': 'PX102', 'name': 'Brouwer', 'licence': 'first', 'phone': '+31612345679', 'duty': 'ashore'},
              {'badge': 'PX103', 'name': 'Claes', 'licence': 'second', 'duty': 'ashore'}):
        DB['pilot'][p['badge']] = {**p, '_seq': next_seq()}
    for t in ({'id': 1, 'band': 'coaster', 'fee_cents': 38000}, {'id': 2, 'band': 'feeder', 'fee_cents': 61000},
              {'id': 3, 'band': 'panamax', 'fee_cents': 104500},
              {'id': 4, 'band': 'giant', 'fee_cents': 188000, 'note': 'Two pilots above 350 m.'}):
        DB['tariff'][t['id']] = {**t, '_seq': next_seq()}

# ------------------------------------------------------------------ HTTP
REASON = http.client.responses
class Closed(Exception):
    pass
class Slow(Exception):
    pass

class Conn:
    def __init__(self, sock, addr):
        self.s, self.addr, self.buf = sock, addr, b''
    def more(self, deadline):
        left = deadline - time.monotonic()
        if left <= 0:
            raise Slow
        self.s.settimeout(left)
        try:
            d = self.s.recv(65536)
        except socket.timeout:
            raise Slow
        if not d:
            raise Closed
        self.buf += d
    def line(self, deadline):
        while b'\n' not in self.buf:
            if len(self.buf) > 200_000:
                raise Closed
            self.more(deadline)
        l, self.buf = self.buf.split(b'\n', 1)
        return l[:-1] if l.endswith(b'\r') else l
    def take(self, n, deadline):
        while len(self.buf) < n:
            self.more(deadline)
        d, self.buf = self.buf[:n], self.buf[n:]
        return d
    def read(self, idle, limit):
        """(method, target, headers, body, too_big, close)"""
        if not self.buf:
            try:
                self.more(time.monotonic() + idle)
            except Slow:
                raise Closed
        deadline = time.monotonic() + limit
        first = self.line(deadline)
        while first == b'':
            first = self.line(deadline)
        parts = first.decode('latin-1').split(' ')
        if len(parts) != 3 or not parts[2].startswith('HTTP/1.'):
            raise Closed
        headers = []
        while True:
            l = self.line(deadline)
            if l == b'':
                break
            k, _, v = l.decode('latin-1').partition(':')
            headers.append((k.strip().lower(), v.strip()))
        h = dict(headers)
        close = h.get('connection', '').lower() == 'close' or parts[2] == 'HTTP/1.0'
        if h.get('expect', '').lower() == '100-continue':
            self.s.sendall(b'HTTP/1.1 100 Continue\r\n\r\n')
        body, big = b'', False
        cap = 8193
        if h.get('transfer-encoding', '').lower() == 'chunked':
            while True:
                try:
                    n = int(self.line(deadline).split(b';')[0], 16)
                except ValueError:
                    raise Closed
                if n == 0:
                    while self.line(deadline) != b'':
                        pass
                    break
                while n:
                    d = self.take(min(n, 65536), deadline)
                    n -= len(d)
                    body += d
                    if len(body) > cap:
                        big, body = True, body[:cap + 1]
                self.line(deadline)
        elif 'content-length' in h:
            if not h['content-length'].isdigit():
                raise Closed
            n = int(h['content-length'])
            if n > 16 * 1024 * 1024:
                return parts[0], parts[1], headers, b'', True, True
            while n:
                d = self.take(min(n, 65536), deadline)
                n -= len(d)
                body += d
                if len(body) > cap:
                    big, body = True, body[:cap + 1]
        return parts[0], parts[1], headers, body, big, close
    def write(self, method, status, headers, payload, close):
        out = ['HTTP/1.1 %d %s' % (status, REASON.get(status, 'Status'))]
        for k, v in headers:
            out.append('%s: %s' % (k, v))
        if status not in (204, 304):
            out.append('Content-Length: %d' % len(payload))
        if close:
            out.append('Connection: close')
        data = ('\r\n'.join(out) + '\r\n\r\n').encode('latin-1', 'replace')
        if method != 'HEAD' and status not in (204, 304):
            data += payload
        self.s.settimeout(30)
        self.s.sendall(data)

def serve_conn(sock, addr, door):
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    c = Conn(sock, addr)
    try:
        while True:
            try:
                method, target, headers, body, big, close = c.read(40, 5)
            except Slow:
                rq = Request(); rq.target = '/'; rq.headers = []
                rq.ticket = 'tk-' + rnd(16); rq.version = NEW; rq.rate = []; rq.ep = None
                status, hs, payload = refusal(rq, Refuse('too_slow'))
                c.write('GET', status, hs + [('Content-Type', 'application/json'), ('Station-Ticket', rq.ticket), ('Station-Edition', NEW),
                                             ('Vary', 'Station-Edition, Authorization, X-Station-Key')], payload, True)
                return
            if door:
                status, payload = clock_door(method, body)
                c.write(method, status, [('Content-Type', 'application/json')], payload, close)
            else:
                rq = Request()
                rq.method, rq.target, rq.headers, rq.body, rq.too_big, rq.addr = method, target, headers, body, big, addr
                with LOCK:
                    run_due()
                    status, hs, payload = handle(rq)
                    run_due()
                c.write(method, status, hs, payload, close)
            if close:
                return
    except (Closed, OSError, Slow):
        pass
    finally:
        try:
            sock.close()
        except OSError:
            pass

DUR = re.compile(r'\AP(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?\Z', re.ASCII)
def clock_door(method, body):
    global OFFSET
    with LOCK:
        n = now_ms()
        if method == 'GET':
            return 200, dump({'now': iso(n)})
        try:
            assert method == 'POST'
            d = json.loads(body.decode('utf-8'))
            assert isinstance(d, dict) and len(d) == 1
            if 'advance' in d:
                t = d['advance']
                m = DUR.match(t)
                assert m and any(m.groups()) and not t.endswith('T')
                y, mo, w, dd, h, mi = (int(x or 0) for x in m.groups()[:6])
                months = y * 12 + mo
                when = n
                if months:
                    dt = datetime.fromtimestamp(n // 1000, timezone.utc)
                    k = dt.year * 12 + dt.month - 1 + months
                    yy, mm = divmod(k, 12)
                    day = min(dt.day, calendar.monthrange(yy, mm + 1)[1])
                    when = calendar.timegm((yy, mm + 1, day, dt.hour, dt.minute, dt.second)) * 1000 + n % 1000
                when += ((w * 7 + dd) * 24 + h) * HOUR + mi * 60_000 + int(float(m.group(7) or 0) * 1000)
            else:
                when = instant(d['now'])
                assert when is not None
                when //= 10**6
        except Exception:
            return 400, dump({'error': 'advance or now'})
        if when < n:
            return 422, dump({'error': 'that is over'})
        OFFSET += when - n
        run_due()
        WAKE.notify_all()
        out = dump({'now': iso(now_ms())})
    time.sleep(0.03)
    return 200, out

def listen(port, door):
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(('127.0.0.1', port))
    s.listen(512)
    while True:
        c, a = s.accept()
        threading.Thread(target=serve_conn, args=(c, a[0], door), daemon=True).start()

def main():
    global FAULT
    a = sys.argv[1:]
    opt = {}
    while a:
        k = a.pop(0)
        opt[k] = a.pop(0) if a else None
    FAULT = opt.get('--fault')
    sys.setswitchinterval(0.001)
    sys.set_int_max_str_digits(0)
    start_rows()
    threading.Thread(target=deliverer, daemon=True).start()
    if opt.get('--clock-port'):
        threading.Thread(target=listen, args=(int(opt['--clock-port']), True), daemon=True).start()
    listen(int(opt['--port']), False)

if __name__ == '__main__':
    main()
