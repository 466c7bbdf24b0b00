#!/usr/bin/env python3
"""Byssus House: the books of a guild of sea silk. Standard library alone, everything in memory, one thread."""
import asyncio, base64, hashlib, heapq, hmac, json, os, random, re, string, sys, time, uuid
from datetime import datetime, timedelta, timezone
from urllib.parse import unquote, unquote_plus, urlsplit

ARGS = {sys.argv[i]: sys.argv[i + 1] for i in range(1, len(sys.argv) - 1, 2)}
F = ARGS.get('--fault', '')
BASE = '/guild'
SECRET = os.environ.get('BYSSUS_SLATE_SECRET', 'byssus-slate-secret-for-trials-only').encode()
RND = random.SystemRandom()
LOW = string.ascii_lowercase + string.digits
MIX = string.ascii_letters + string.digits
UTC = timezone.utc
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# ------------------------------------------------------------------ the clock
offset = 0.0
frozen = None


def now():
    return frozen if frozen is not None else time.time() + offset


def iso(t):
    ms = int(t * 1000 + 0.0001)
    return (EPOCH + timedelta(milliseconds=ms)).strftime('%Y-%m-%dT%H:%M:%S.') + '%03dZ' % (ms % 1000)


DT = re.compile(r'^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$', re.ASCII)


def instant(s):
    m = DT.match(s) if isinstance(s, str) else None
    if not m or s.endswith('\n'):
        return None
    try:
        z = m[8]
        off = 0
        if z not in 'Zz':
            h, mi = int(z[1:3]), int(z[4:6])
            if h > 23 or mi > 59:
                return None
            off = (h * 60 + mi) * 60 * (1 if z[0] == '+' else -1)
        d = datetime(int(m[1]), int(m[2]), int(m[3]), int(m[4]), int(m[5]), int(m[6]), tzinfo=UTC)
        return (d - EPOCH).total_seconds() + (float(m[7]) if m[7] else 0) - off
    except ValueError:
        return None


def http_date(t):
    return (EPOCH + timedelta(seconds=int(t))).strftime('%a, %d %b %Y %H:%M:%S GMT')


# ------------------------------------------------------------------ callers
CALLERS = [  # user, id, scheme, credential, scopes
    ('warden', 'w-ilaria', 'shell', 'shl_Q7w2LmZx93KfTbVn5RcYpD8h', ['beds']),
    ('warden', 'w-bastian', 'shell', 'shl_M4k8JsHd62GpWqXr7CvNtB3y', []),
    ('warden', 'w-oria', 'slate', None, ['beds']),
    ('diver', 'd-nunzio', 'shell', 'shl_A1b9CeFg47HjKmNp2QrStU6v', []),
    ('diver', 'd-pia', 'shell', 'shl_Z8y2XwVu53TsRqPn1MkLjH7g', []),
    ('weaver', 'v-efisia', 'slate', None, []),
    ('weaver', 'v-tommaso', 'shell', 'shl_E5d4FcBa86ZyXwVu9TsRqP3n', []),
    ('patron', 'p-aurelia', 'door', 'p-aurelia:murex and salt', []),
    ('patron', 'p-corrado', 'door', 'p-corrado:golden fleece 7', []),
]


def b64u(b):
    return base64.urlsafe_b64encode(b).rstrip(b'=').decode()


def make_slate(sub, rank, scopes, **more):
    claims = {'iss': 'https://id.byssus.example', 'aud': 'byssus', 'sub': sub, 'rank': rank}
    if scopes:
        claims['scope'] = ' '.join(scopes)
    claims.update(more)
    head = b64u(b'{"alg":"HS256","typ":"JWT"}') + '.' + b64u(json.dumps(claims, separators=(',', ':')).encode())
    return head + '.' + b64u(hmac.new(SECRET, head.encode(), 'sha256').digest())


USERS = {'warden', 'diver', 'weaver', 'patron'}
SHELLS, DOORS = {}, {}


class Caller:
    __slots__ = ('user', 'id', 'scopes')

    def __init__(self, user, id, scopes):
        self.user, self.id, self.scopes = user, id, scopes


for u, i, s, c, sc in CALLERS:
    if s == 'shell':
        SHELLS[c] = Caller(u, i, sc)
    elif s == 'door':
        DOORS[c] = Caller(u, i, sc)


def read_slate(tok):
    try:
        h, p, s = tok.split('.')
        pad = lambda x: base64.b64decode(x + '=' * (-len(x) % 4), b'-_', validate=True)
        head, claims = json.loads(pad(h)), json.loads(pad(p))
        if head.get('alg') != 'HS256' or 'crit' in head:
            return None
        good = hmac.compare_digest(hmac.new(SECRET, (h + '.' + p).encode(), 'sha256').digest(), pad(s))
        if b64u(pad(s)) != s:
            good = False
        if not good and F != 'a-slate-unsigned':
            return None
        aud = claims.get('aud')
        if claims.get('iss') != 'https://id.byssus.example' or not (aud == 'byssus' or isinstance(aud, list) and 'byssus' in aud):
            return None
        t = now()
        for k in ('exp', 'nbf'):
            if k in claims and (isinstance(claims[k], bool) or not isinstance(claims[k], (int, float))):
                return None
        if 'exp' in claims and claims['exp'] + 5 <= t or 'nbf' in claims and claims['nbf'] - 5 > t:
            return None
        sub, rank = claims.get('sub'), claims.get('rank')
        if isinstance(rank, list):
            rank = next((r for r in rank if r in USERS), None)
        if not isinstance(sub, str) or not sub or rank not in USERS:
            return None
        sc = claims.get('scope', '')
        if not isinstance(sc, str):
            return None
        return Caller(rank, sub, sc.split(' ') if sc else [])
    except Exception:
        return None


# ------------------------------------------------------------------ refusals
CODES = {
    'lacking': (400, 'Something is lacking.'), 'unfit': (422, 'Something does not fit.'), 'garbled': (400, 'The body cannot be read.'),
    'wrong_paper': (415, 'Only JSON is read.'), 'odd_question': (400, 'A parameter is not understood.'),
    'no_such_place': (404, 'There is no such place.'), 'no_such_thing': (404, 'There is no such thing.'),
    'no_such_ref': (422, 'What is referred to is not there.'), 'wrong_verb': (405, 'Not by this method.'),
    'who_are_you': (401, 'Who calls is not known.'), 'scope_lacking': (403, 'The credential lacks a scope.'),
    'not_yours': (403, 'This is not yours to do.'), 'taken_already': (409, 'There is one already.'), 'still_needed': (409, 'Others refer to it.'),
    'wrong_state': (409, 'Not in this state.'), 'past_saving': (409, 'Only raw or combed silk is thrown away.'),
    'too_little': (409, 'Less than five grams are not spun.'), 'too_thin': (409, 'A piece needs ten grams of silk.'),
    'too_late': (409, 'The piece is finished or the order is over.'), 'over_allowance': (409, 'The bed has given what it may.'),
    'not_spun': (409, 'This skein is not spun.'), 'wrong_shade': (409, 'The piece has another shade.'),
    'more_than_skein': (409, 'The skein weighs less.'), 'stale': (412, 'It has changed meanwhile.'), 'tag_wanted': (428, 'If-Match is wanted.'),
    'key_spent': (422, 'The key was used for something else.'), 'too_often': (429, 'Too often.'), 'enough': (429, 'That is enough.'),
    'too_big': (413, 'Too large.'), 'no_edition': (400, 'There is no such edition.'), 'old_edition': (410, 'This edition is over.'),
}
OWN = {'past_saving', 'too_little', 'too_thin', 'too_late', 'over_allowance', 'not_spun', 'wrong_shade', 'more_than_skein'}
STATUS = {200: 'OK', 201: 'Created', 204: 'No Content', 304: 'Not Modified', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found',
          405: 'Method Not Allowed', 409: 'Conflict', 410: 'Gone', 412: 'Precondition Failed', 413: 'Content Too Large', 415: 'Unsupported Media Type',
          422: 'Unprocessable Content', 428: 'Precondition Required', 429: 'Too Many Requests', 500: 'Internal Server Error'}
CHALLENGE = ('ApiKey realm="Byssus House", in="header", name="X-Shell"', 'Basic realm="Byssus House", charset="UTF-8"', 'Bearer realm="Byssus House"')


class Refuse(Exception):
    def __init__(self, code, faults=None, headers=(), message=None):
        self.code, self.faults, self.headers, self.message = code, faults, list(headers), message


# ------------------------------------------------------------------ resources
SHADES = ['gold', 'bronze', 'umber']
MARK = {'letters': {'t': 'string', 'pat': re.compile(r'^[A-Z]{1,3}\Z'), 'req': 1}, 'motto': {'t': 'string', 'max': 30}}
RO = {'t': 'string', 'ro': 1}
RES = {
    'bed': {
        'code': {'t': 'string', 'pat': re.compile(r'^[a-z]{3}-[0-9]{2,6}\Z'), 'req': 1, 'idf': 1},
        'name': {'t': 'string', 'min': 2, 'max': 41 if F == 'r-name-max' else 40, 'req': 1},
        'depth_m': {'t': 'integer', 'lo': 1, 'hi': 60, 'req': 1},
        'allowance_g': {'t': 'integer', 'lo': 0, 'hi': 5000, 'def': 500 if F == 'r-allowance-default' else 900, 'req': 1},
        'sounding': {'t': 'string', 'max': 120, 'vis': ('warden',), 'wr': ('warden',)},
        'gathered_g': {'t': 'integer', 'ro': 1}, 'skeins': {'t': 'integer', 'ro': 1}},
    'skein': {
        'id': RO, 'number': RO, 'bed': {'t': 'string', 'ref': 'bed', 'req': 1}, 'diver': RO,
        'grams': {'t': 'integer', 'lo': 1, 'hi': 200, 'req': 1}, 'shade': {'enum': SHADES, 'req': 1}, 'remark': {'t': 'string', 'max': 80},
        'state': RO, 'gathered_at': RO, 'combed_at': RO},
    'commission': {
        'id': RO, 'patron': RO, 'weaver': RO, 'piece': {'enum': ['glove', 'cap', 'stole', 'ribbon'], 'req': 1}, 'shade': {'enum': SHADES, 'req': 1},
        'length_cm': {'t': 'integer', 'lo': 5, 'hi': 300, 'req': 1}, 'mark': {'t': 'mark'}, 'wish': {'t': 'string', 'max': 200},
        'reckoning': {'t': 'string', 'max': 100, 'vis': ('weaver', 'warden'), 'wr': ('weaver',)},
        'due_at': {'t': 'string', 'fmt': 'date-time', 'req': 1}, 'status': RO, 'silk_g': RO, 'opened_at': RO, 'changed_at': RO},
    'strand': {
        'id': RO, 'commission': {'t': 'string', 'ref': 'commission', 'req': 1}, 'skein': {'t': 'string', 'ref': 'skein', 'req': 1},
        'grams': {'t': 'integer', 'lo': 1, 'hi': 200, 'req': 1}, 'laid_by': RO, 'laid_at': RO},
    'ear': {
        'id': RO, 'owner': RO, 'url': {'t': 'string', 'fmt': 'uri', 'max': 300, 'req': 1}, 'secret': RO,
        'kinds': {'t': 'kinds'}, 'listening': {'t': 'boolean', 'def': True, 'req': 1}},
    'tiding': {'id': RO, 'kind': RO, 'of': RO, 'about': RO, 'told_at': RO},
}
IDF = {k: 'code' if k == 'bed' else 'id' for k in RES}
OLD_NAME = {'skein': {'grams': 'weight'}}
OLD_GONE = {'bed': {'allowance_g'}}
KINDS = ['skein.gathered', 'skein.spoiled', 'bed.renamed', 'commission.asked', 'commission.moved', 'strand.laid']
DB = {k: {} for k in RES}
BED_SKEINS, COM_STRANDS, BED_COUNT, NAMES = {}, {}, {}, {}


def gathered(code):
    all_ = F == 'r-gathered-spoiled'
    return sum(s['grams'] for s in BED_SKEINS.get(code, ()) if all_ or s['state'] != 'spoiled')


def silk(cid):
    return sum(s['grams'] for s in COM_STRANDS.get(cid, {}).values())


def render(res, row, user, ver, op='', first=False):
    out = {}
    old = ver == 'ed-1'
    names = OLD_NAME.get(res) if old else None
    if names and F == 'n-list-grams' and op.startswith('list'):
        names = None
    gone = OLD_GONE.get(res, ()) if old else ()
    for f, spec in RES[res].items():
        if f in gone:
            continue
        vis = spec.get('vis')
        if vis and user not in vis and not (F == 'r-sounding-shown' and f == 'sounding'):
            continue
        if f == 'gathered_g':
            v = gathered(row['code'])
        elif f == 'skeins':
            v = len(BED_SKEINS.get(row['code'], ()))
        elif f == 'silk_g':
            v = silk(row['id'])
        elif f == 'secret':
            if not first and not (F == 'r-secret-again' and op == 'read ear'):
                continue
            v = row['secret']
        else:
            v = row.get(f)
            if v is None:
                continue
            if old and res == 'commission':
                if f == 'length_cm':
                    v = v / 100.0
                elif f == 'piece' and v == 'glove' and not (F == 'n-piece-read' and op == 'read commission'):
                    v = 'mitten'
        out[names[f] if names and f in names else f] = v
    return out


def may_read(res, row, c):
    if res == 'bed':
        return True
    if c is None:
        return False
    u = c.user
    if res == 'skein':
        return u in ('weaver', 'warden') or u == 'diver' and row['diver'] == c.id
    if res == 'commission':
        return u == 'warden' or u == 'patron' and row['patron'] == c.id or \
            u == 'weaver' and (row['status'] == 'asked' or row.get('weaver') == c.id or F == 'a-weaver-sees-all')
    if res == 'strand':
        return u == 'weaver' and row['laid_by'] == c.id or u == 'patron' and DB['commission'][row['commission']]['patron'] == c.id
    if res == 'ear':
        return row['owner'] == c.id
    if res == 'tiding':
        return u == 'warden'
    return False


W, D, V, P = 'warden', 'diver', 'weaver', 'patron'
mine = lambda f: (lambda r, c: r.get(f) == c.id)
yes = lambda r, c: True
PERM = {
    'create bed': {W: yes}, 'update bed': {W: yes}, 'delete bed': {W: yes}, 'create skein': {D: yes},
    'list skein': {D: mine('diver'), V: yes, W: yes}, 'read skein': {D: mine('diver'), V: yes, W: yes},
    'comb skein': {D: mine('diver')}, 'discard skein': {D: mine('diver'), W: yes}, 'spin skein': {V: yes},
    'create commission': {P: yes}, 'list commission': {P: yes, V: yes, W: yes}, 'read commission': {P: yes, V: yes, W: yes},
    'update commission': {P: mine('patron'), V: mine('weaver')}, 'withdraw commission': {P: mine('patron')},
    'take commission': {V: yes}, 'finish commission': {V: mine('weaver')}, 'hand commission': {V: mine('weaver')},
    'create strand': {V: yes}, 'list strand': {V: yes, P: yes}, 'read strand': {V: yes, P: yes}, 'delete strand': {V: mine('laid_by')},
    'list tiding': {W: yes}, 'read tiding': {W: yes}, 'stream events': {W: yes, V: yes},
    'create ear': {x: yes for x in USERS}, 'list ear': {x: yes for x in USERS}, 'read ear': {x: mine('owner') for x in USERS},
    'delete ear': {x: mine('owner') for x in USERS},
}
SCOPED = {'create bed', 'update bed', 'delete bed'}
if F == 'a-scope-update':
    SCOPED.discard('update bed')
ANYONE = {'list bed', 'read bed'}

ROUTES = {}
for line in '''POST /beds|create bed
GET /beds|list bed
GET /beds/{code}|read bed
PATCH /beds/{code}|update bed
DELETE /beds/{code}|delete bed
POST /beds/{bed}/skeins|create skein
GET /skeins|list skein
GET /skeins/{id}|read skein
POST /skeins/{id}/comb|comb skein
POST /skeins/{id}/spin|spin skein
POST /skeins/{id}/discard|discard skein
POST /commissions|create commission
GET /commissions|list commission
GET /commissions/{id}|read commission
PATCH /commissions/{id}|update commission
POST /commissions/{id}/take|take commission
POST /commissions/{id}/finish|finish commission
POST /commissions/{id}/hand|hand commission
POST /commissions/{id}/withdraw|withdraw commission
POST /commissions/{commission}/strands|create strand
GET /commissions/{commission}/strands|list strand
GET /strands/{id}|read strand
DELETE /strands/{id}|delete strand
POST /ears|create ear
GET /ears|list ear
GET /ears/{id}|read ear
DELETE /ears/{id}|delete ear
GET /tidings|list tiding
GET /tidings/{id}|read tiding
GET /hearing|stream events'''.split('\n'):
    how, op_ = line.split('|')
    if F == 'p-no-withdraw' and op_ == 'withdraw commission':
        continue
    m_, p_ = how.split(' ')
    ROUTES.setdefault(tuple('*' if s.startswith('{') else s for s in p_[1:].split('/')), {})[m_] = op_
PATHS = {'bed': 'beds', 'skein': 'skeins', 'commission': 'commissions', 'strand': 'strands', 'ear': 'ears'}


def find_route(segs):
    n = len(segs)
    r = ROUTES.get(tuple(segs))
    if r and '*' not in segs:
        return r, None
    if n == 2 and segs[1]:
        return ROUTES.get((segs[0], '*')), segs[1]
    if n == 3 and segs[1]:
        return ROUTES.get((segs[0], '*', segs[2])), segs[1]
    return None, None


def rid(prefix, n=12, alpha=LOW):
    return prefix + ''.join(RND.choices(alpha, k=n))


# ------------------------------------------------------------------ what is sent
MISS = object()


def kind_of(v):
    return 'null' if v is None else 'boolean' if isinstance(v, bool) else 'number' if isinstance(v, (int, float)) else \
        'text' if isinstance(v, str) else 'list' if isinstance(v, list) else 'map'


def show(v):
    if isinstance(v, (dict, list)) or v is None:
        return kind_of(v)
    return json.dumps(v)[:200]


def bad(out, path, found, expected):
    out.append({'in': 'body', 'path': '/' + '/'.join(str(p).replace('~', '~0').replace('/', '~1') for p in path), 'found': found, 'expected': expected})


def fit(v, spec, path, out):
    t = spec.get('t')
    if 'enum' in spec:
        if not isinstance(v, str) or v not in spec['enum']:
            bad(out, path, show(v), 'one of ' + ', '.join(spec['enum']))
            return MISS
        return v
    if t == 'integer':
        if isinstance(v, float) and v.is_integer():
            v = int(v)
        if isinstance(v, bool) or not isinstance(v, int):
            bad(out, path, show(v), 'an integer')
            return MISS
        if v < spec['lo'] or v > spec['hi']:
            bad(out, path, show(v), 'from %d to %d' % (spec['lo'], spec['hi']))
            return MISS
        return v
    if t == 'metres':
        if isinstance(v, bool) or not isinstance(v, (int, float)):
            bad(out, path, show(v), 'a number')
            return MISS
        try:
            x = v * 100.0
            x = int(x) if F == 'n-metres-cut' else int(x + 0.5) if x >= 0 else -int(-x + 0.5)
        except (OverflowError, ValueError):
            x = -1
        if not 5 <= x <= 300:
            bad(out, path, show(v), 'from 0.05 to 3')
            return MISS
        return x
    if t == 'boolean':
        if not isinstance(v, bool):
            bad(out, path, show(v), 'a boolean')
            return MISS
        return v
    if t == 'kinds':
        if not isinstance(v, list):
            bad(out, path, show(v), 'a list')
            return MISS
        ok = True
        if len(v) > 10:
            bad(out, path, '%d items' % len(v), '10 items at the most')
            ok = False
        for i, k in enumerate(v):
            if not isinstance(k, str) or not (k in KINDS or k == '*' or k.endswith('.*') and any(x.startswith(k[:-1]) for x in KINDS)):
                bad(out, path + [i], show(k), 'a kind of event')
                ok = False
        return list(v) if ok else MISS
    if t == 'mark':
        if not isinstance(v, dict):
            bad(out, path, show(v), 'a map')
            return MISS
        n, got = len(out), {}
        for k, x in v.items():
            if k not in MARK:
                bad(out, path + [k], show(x), 'no such field')
            else:
                got[k] = fit(x, MARK[k], path + [k], out)
        if 'letters' not in v:
            bad(out, path + ['letters'], 'nothing', 'letters')
            out[-1]['_missing'] = True
        return got if len(out) == n else MISS
    if not isinstance(v, str):
        bad(out, path, show(v), 'a text')
        return MISS
    if len(v) < spec.get('min', 0) or len(v) > spec.get('max', 1 << 30):
        bad(out, path, '%d characters' % len(v), 'from %d to %d characters' % (spec.get('min', 0), spec.get('max', 0)))
        return MISS
    if 'pat' in spec and not spec['pat'].match(v):
        bad(out, path, show(v), spec['pat'].pattern.replace('\\Z', '$'))
        return MISS
    f = spec.get('fmt')
    if f == 'date-time' and instant(v) is None:
        bad(out, path, show(v), 'a date-time')
        return MISS
    if f == 'uri' and not uri_ok(v):
        bad(out, path, show(v), 'an http or https address')
        return MISS
    return v


def uri_ok(v):
    if not re.match(r"^https?://[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+\Z", v) or re.search(r'%(?![0-9A-Fa-f]{2})', v):
        return False
    try:
        u = urlsplit(v)
        u.port
        return bool(u.hostname)
    except ValueError:
        return False


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


def take_in(res, body, c, ver, bound=None, row=None, op=''):
    """The fields that were sent, in the newest shape; or request.invalid. A row makes it a patch."""
    if not isinstance(body, dict):
        raise Refuse('unfit', [{'in': 'body', 'path': '', 'found': kind_of(body), 'expected': 'a map'}], message='the body does not fit')
    fields = RES[res]
    old = ver == 'ed-1'
    names = {v: k for k, v in OLD_NAME.get(res, {}).items()} if old else {}
    hidden = set(names.values()) | (OLD_GONE.get(res, set()) if old else set())
    out, got = [], {}
    for k, v in body.items():
        f = names.get(k, k)
        spec = fields.get(f) if not (k in hidden and k not in names) else None
        if spec is None:
            if F == 'r-ear-unknown' and res == 'ear':
                continue
            bad(out, [k], show(v), 'no such field')
            continue
        if spec.get('ro'):
            if F == 'r-diver-sent' and f == 'diver' and isinstance(v, str):
                got['_diver'] = v
            continue
        if 'wr' in spec and c.user not in spec['wr']:
            continue
        if old and f == 'length_cm':
            spec = {'t': 'metres'}
        if old and f == 'piece':
            spec = {'enum': ['mitten', 'cap', 'stole', 'ribbon']}
        if F == 'r-depth-update' and f == 'depth_m' and row is not None:
            spec = {'t': 'integer', 'lo': 1, 'hi': 1 << 40}
        if row is not None:
            if v is None:
                if fields[f].get('req'):
                    bad(out, [k], 'null', 'a value')
                elif F != 'e-null-kept':
                    got[f] = None
                continue
            if spec.get('t') == 'mark':
                v = merge(row.get('mark'), v)
            if fields[f].get('idf'):
                if v != row[f]:
                    bad(out, [k], show(v), 'what it is')
                continue
        x = fit(v, spec, [k], out)
        if x is MISS:
            continue
        if old and f == 'length_cm' and row is not None and v == row['length_cm'] / 100.0:
            x = row['length_cm']
        if old and f == 'piece' and x == 'mitten':
            x = 'glove'
        if bound and f in bound and x != bound[f]:
            bad(out, [k], show(v), 'what the path says')
            continue
        got[f] = x
    if res == 'commission' and not (F == 'r-glove-update' and row is not None):
        nx = dict(row or {}, **got)
        if nx.get('piece') == 'glove' and isinstance(nx.get('length_cm'), int) and nx['length_cm'] > 60 and not any(o['path'] in ('/length_cm', '/piece') for o in out):
            bad(out, ['length_cm'], show(nx['length_cm'] / 100.0 if old else nx['length_cm']), 'at most 60 for a glove')
    if row is None:
        back = {v: k for k, v in names.items()}
        for f, spec in fields.items():
            if f in got or spec.get('ro'):
                continue
            if bound and f in bound:
                got[f] = bound[f]
            elif 'def' in spec:
                if f not in body or f in hidden:
                    got[f] = spec['def']
            elif spec.get('req') and back.get(f, f) not in body:
                bad(out, [back.get(f, f)], 'nothing', 'a value')
                out[-1]['_missing'] = True
    if out:
        # in the order in which it was sent; what is missing comes after what stands beside it
        missing = out[0].pop('_missing', False)
        for o in out:
            o.pop('_missing', None)
        name = out[0]['path'][1:].replace('/', '.').replace('~1', '/').replace('~0', '~')[:200]
        if missing and F != 'x-lacking-unfit':
            raise Refuse('lacking', out, message=name + ' is lacking')
        raise Refuse('unfit', out, message=name + ' does not fit')
    return got


# ------------------------------------------------------------------ events
heap, seq = [], 0          # (when, n, function)
LOGKEPT = []               # events for the stream: (at, id, kind, res, row, caller-less payload)
STREAMS = set()
QUEUES = {}                # (ear, res, row) -> list of deliveries
KEEP_STREAM = 6 * 3600


def at(t, fn):
    global seq
    seq += 1
    heapq.heappush(heap, (t, seq, fn))


def emit(kind, res, row, data=None, frozen_row=None):
    if F == 'v-asked-silent' and kind == 'commission.asked':
        return
    for _ in range(2 if F == 'v-laid-twice' and kind == 'strand.laid' else 1):
        t = now()
        key = row[IDF[res]]
        e = {'id': rid('tid_', 20, MIX), 'kind': kind, 'at': t, 'res': res, 'row': key, 'data': data, 'snap': dict(row)}
        DB['tiding'][e['id']] = {'id': e['id'], 'kind': kind, 'of': res, 'about': key, 'told_at': iso(t), '_t': t}
        at(t + 20 * 86400, lambda i=e['id']: DB['tiding'].pop(i, None))
        # bodies are made now, as each maker sees them
        for ear in list(DB['ear'].values()):
            if not ear['listening'] or not hears(ear, kind):
                continue
            m = ear['_maker']
            if may_read(res, row, m) or F == 'v-others-told':
                q = QUEUES.setdefault((ear['id'], res, key), [])
                q.append({'ear': ear, 'id': e['id'], 'kind': kind, 'body': envelope(e, m, ear['_ver']), 'try': 0, 'key': (ear['id'], res, key)})
                if len(q) == 1:
                    at(t, lambda q=q: start_try(q))
        for s in list(STREAMS):
            if may_read(res, row, s.caller):
                s.send(e)
        LOGKEPT.append(e)


def hears(ear, kind):
    ks = ear.get('kinds')
    return ks is None or kind in ks or '*' in ks or kind.split('.')[0] + '.*' in ks or F == 'v-kinds-ignored'


def envelope(e, m, ver):
    p = e['data'] if e['data'] is not None else render(e['res'], e['snap'], m.user, ver)
    return json.dumps({'tiding': e['id'], 'kind': e['kind'], 'told_at': iso(e['at']), 'body': p}, separators=(',', ':'), ensure_ascii=False)


RETRY = [10, 60, 600]
TASKS = set()


def start_try(q):
    if not q:
        return
    task = asyncio.get_running_loop().create_task(deliver(q))
    TASKS.add(task)
    task.add_done_callback(TASKS.discard)


async def deliver(q):
    d = q[0]
    ear = d['ear']
    if ear['id'] not in DB['ear'] or not ear['listening']:
        q.clear()
        return
    status, after = 0, 0
    try:
        status, after = await asyncio.wait_for(post(ear, d), 5)
    except Exception:
        status = 0
    if 200 <= status < 300:
        ok = True
    else:
        ok = False
        if status == 410:
            ear['listening'] = False
            q.clear()
            return
    d['try'] += 1
    if ok or d['try'] > len(RETRY) or F == 'v-one-try':
        q.pop(0)
        if q:
            start_try(q)
        elif QUEUES.get(d['key']) is q:
            del QUEUES[d['key']]
    else:
        at(now() + max(RETRY[d['try'] - 1], min(after, 86400)), lambda: start_try(q))


async def post(ear, d):
    u = urlsplit(ear['url'])
    tls = u.scheme == 'https'
    body = d['body'].encode()
    ts = str(int(now()))
    signs = ts + '.' + ('' if F == 'v-seal-no-id' else d['id'] + '.')
    mac = hmac.new(ear['secret'].encode(), signs.encode() + body, 'sha256').hexdigest()
    path = (u.path or '/') + ('?' + u.query if u.query else '')
    r, w = await asyncio.open_connection(u.hostname, u.port or (443 if tls else 80), ssl=tls or None)
    try:
        w.write(('POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nX-Guild-Seal: t=%s,s=%s\r\nX-Tiding: %s\r\nX-Tiding-Id: %s\r\nConnection: close\r\n\r\n'
                 % (path, u.netloc.split('@')[-1], len(body), ts, mac, d['kind'], d['id'])).encode() + body)
        line = await r.readline()
        status = int(line.split()[1])
        after = 0
        while True:
            h = await r.readline()
            if h in (b'\r\n', b'\n', b''):
                break
            if h.lower().startswith(b'retry-after:'):
                v = h.split(b':', 1)[1].strip()
                after = int(v) if v.isdigit() else 0
        return status, after
    finally:
        w.close()


class Stream:
    def __init__(self, transport, caller, ver):
        self.tr, self.caller, self.ver = transport, caller, ver

    def send(self, e):
        if self.tr.is_closing() or self.tr.get_write_buffer_size() > 262144:
            self.tr.close()
            STREAMS.discard(self)
            return
        b = ('id: %s\nevent: %s\ndata: %s\n\n' % (e['id'], e['kind'], envelope(e, self.caller, self.ver))).encode()
        self.tr.write(b'%x\r\n%s\r\n' % (len(b), b))


# ------------------------------------------------------------------ the clock's own work
def run_due(upto=None):
    global frozen
    if upto is None:
        upto = now()
    while heap and heap[0][0] <= upto:
        t, _, fn = heapq.heappop(heap)
        was = frozen
        frozen = max(t, was if was is not None else t)
        try:
            fn()
        finally:
            frozen = was


def enter_skein(s, state):
    s['state'] = state
    s['_turn'] = turn = s.get('_turn', 0) + 1
    if state == 'raw':
        def spoil():
            if s['state'] == 'raw' and s['_turn'] == turn:
                enter_skein(s, 'spoiled')
                if F != 'v-clock-silent':
                    emit('skein.spoiled', 'skein', s)
        at(now() + (8 if F == 's-spoil-early' else 9) * 86400, spoil)


def enter_com(k, status, first=False):
    was = k.get('status')
    k['status'] = status
    if first or F != 'r-changed-take' or status != 'taken':
        k['changed_at'] = iso(now())
    k['_turn'] = turn = k.get('_turn', 0) + 1
    if not first:
        emit('commission.moved', 'commission', k, {'commission': k['id'], 'was': status if F == 'v-moved-was' else was, 'is': status})
    if status == 'asked':
        def lapse():
            if k['status'] == 'asked' and k['_turn'] == turn or F == 's-lapse-taken' and k['status'] == 'taken':
                enter_com(k, 'lapsed')
        at(now() + 21 * 86400, lapse)
    if status == 'finished' and F != 's-forfeit-never':
        def forfeit():
            if k['status'] == 'finished' and k['_turn'] == turn:
                enter_com(k, 'forfeited')
        at(max(now(), instant(k['due_at'])), forfeit)


# ------------------------------------------------------------------ rates and quotas
FIXED, BUCKET, QUOTA, ONCE = {}, {}, {}, {}


def rate(op, who, hdrs):
    t = now()
    if op == 'list tiding':
        pol = '"caller-1m-list-tiding"'
        lim = 31 if F == 'l-rate-31' else 30
        w = FIXED.get(who)
        if not w or t >= w[0] + 60:
            w = FIXED[who] = [t, 0]
        hdrs.append(('RateLimit-Policy', pol + ';q=30;w=60'))
        left = -int(-(w[0] + 60 - t) // 1)
        if w[1] >= lim:
            raise Refuse('too_often', headers=[('RateLimit', pol + ';r=0;t=%d' % left), ('Retry-After', str(max(1, left)))])
        w[1] += 1
        hdrs.append(('RateLimit', pol + ';r=%d;t=%d' % (max(0, 30 - w[1]), left)))
    elif op == 'list ear':
        pol = '"caller-1m-list-ear"'
        b = BUCKET.get(who)
        if not b:
            b = BUCKET[who] = [t, 20.0]
        b[1] = min(20.0, b[1] + (t - b[0]))
        b[0] = t
        hdrs.append(('RateLimit-Policy', pol + ';q=60;w=60;ninefold-burst=20'))
        if b[1] < 1 - 1e-6:
            raise Refuse('too_often', headers=[('RateLimit', pol + ';r=0;t=1'), ('Retry-After', '1')])
        b[1] -= 1
        hdrs.append(('RateLimit', pol + ';r=%d;t=1' % int(b[1] + 1e-6)))


def quota(c):
    t = now()
    day = int(t // 86400)
    key = (c.user, c.id, day)
    if QUOTA.get(key, 0) >= (13 if F == 'l-quota-13' else 12):
        raise Refuse('enough', headers=[('Retry-After', str(max(1, -int(-((day + 1) * 86400 - t) // 1))))])
    return key


# ------------------------------------------------------------------ parameters
def query(raw, allowed):
    got = {}
    if raw:
        for part in raw.split('&'):
            if not part:
                continue
            k, _, v = part.partition('=')
            try:
                k, v = unquote_plus(k, errors='strict'), unquote_plus(v, errors='strict')
            except UnicodeDecodeError:
                raise Refuse('odd_question', [{'in': 'query', 'path': k, 'found': 'no text', 'expected': 'UTF-8'}])
            if k not in allowed:
                if F == 'e-odd-param' and 'kind' in allowed:
                    continue
                raise Refuse('odd_question', [{'in': 'query', 'path': k[:200], 'found': v[:200], 'expected': 'no such parameter'}])
            if k in got and k != 'shade':
                raise Refuse('odd_question', [{'in': 'query', 'path': k, 'found': 'twice', 'expected': 'once'}])
            got.setdefault(k, []).append(v)
    return got


def odd(k, v, e):
    raise Refuse('odd_question', [{'in': 'query', 'path': k, 'found': v[:200], 'expected': e}])


INT = re.compile(r'^-?(0|[1-9][0-9]{0,17})\Z')
QP = {'list bed': {'q', 'deepest', 'sort', 'from', 'take'}, 'list skein': {'bed', 'shade', 'state', 'heavier', 'from', 'take'},
      'list commission': {'status', 'due_before', 'from', 'take'}, 'list ear': {'from', 'take'}, 'list tiding': {'kind', 'from', 'take'}}
STATES = {'skein': ['raw', 'combed', 'spun', 'woven', 'spoiled'],
          'commission': ['asked', 'taken', 'finished', 'handed', 'withdrawn', 'lapsed', 'forfeited']}


def whole(k, v):
    if not INT.match(v):
        odd(k, v, 'a whole number')
    return int(v)


def list_params(op, raw):
    g = query(raw, QP.get(op, ()))
    p = {k: v[0] for k, v in g.items()}
    if 'shade' in g:
        for v in g['shade']:
            if v not in SHADES:
                odd('shade', v, 'gold, bronze or umber')
        p['shade'] = g['shade'][:1] if F == 'e-shade-first' else g['shade']
    for k in ('deepest', 'heavier'):
        if k in p:
            p[k] = whole(k, p[k])
    if 'sort' in p and p['sort'] not in ('name', '-name', 'depth_m', '-depth_m'):
        odd('sort', p['sort'], 'name or depth_m')
    if 'state' in p and p['state'] not in STATES['skein']:
        odd('state', p['state'], 'a state')
    if 'status' in p and p['status'] not in STATES['commission']:
        odd('status', p['status'], 'a state')
    if 'bed' in p and not RES['bed']['code']['pat'].match(p['bed']):
        odd('bed', p['bed'], 'the code of a bed')
    if 'due_before' in p:
        t = instant(p['due_before'])
        if t is None:
            odd('due_before', p['due_before'], 'a date-time')
        p['due_before'] = t
    if 'q' in p:
        p['q'] = p['q'].split()
        if len(p['q']) > 16:
            odd('q', 'many words', '16 words at the most')
    for k in ('from', 'take'):
        if k in p:
            n = whole(k, p[k])
            if n < 1:
                odd(k, p[k], '1 or more')
            p[k] = n
    return p


def do_list(op, p, c, ver, parent):
    res = op.split(' ')[1]
    rows = list(DB[res].values())
    user = c.user if c else None
    if op == 'list strand':
        rows = [r for r in rows if (r['commission'] == parent or F == 'e-all-strands') and may_read('strand', r, c)]
        return {'strands': [render(res, r, user, ver, op) for r in rows]}
    if op == 'list bed':
        if 'q' in p:
            rows = [r for r in rows if all((w in r['name']) if F == 'e-q-case' else (w.lower() in r['name'].lower()) for w in p['q'])]
        if 'deepest' in p:
            rows = [r for r in rows if r['depth_m'] <= p['deepest']]
        s = p.get('sort', 'code')
        key = s.lstrip('-')
        rows.sort(key=lambda r: r[key], reverse=s[0] == '-' and not (F == 'e-depth-up' and key == 'depth_m'))
    elif op == 'list skein':
        if c.user == 'diver' and F != 'a-skeins-all':
            rows = [r for r in rows if r['diver'] == c.id]
        if 'bed' in p:
            rows = [r for r in rows if r['bed'] == p['bed']]
        if 'shade' in p:
            rows = [r for r in rows if r['shade'] in p['shade']]
        if 'state' in p:
            rows = [r for r in rows if r['state'] == p['state']]
        if 'heavier' in p:
            h = p['heavier']
            rows = [r for r in rows if r['grams'] > h or r['grams'] == h and F != 'e-heavier-gt']
        rows.sort(key=lambda r: -r['grams'])
    elif op == 'list commission':
        rows = [r for r in rows if may_read('commission', r, c)]
        if 'status' in p:
            rows = [r for r in rows if r['status'] == p['status']]
        if 'due_before' in p:
            rows = [r for r in rows if instant(r['due_at']) < p['due_before']]
        if F != 'e-oldest-first':
            rows.reverse()
            rows.sort(key=lambda r: r['opened_at'], reverse=True)
    elif op == 'list ear':
        rows = [r for r in rows if r['owner'] == c.id]
    elif op == 'list tiding' and 'kind' in p:
        rows = [r for r in rows if r['kind'] == p['kind']]
    total = len(rows)
    size = min(p.get('take', 16 if F == 'l-default-16' and op == 'list skein' else 15), 50)
    if F == 'l-clamp-40' and op == 'list bed':
        size = min(size, 40)
    i = p.get('from', 1) - 1
    page = rows[i:i + size]
    more = (len(page) == size) if F == 'l-more-full' and op == 'list commission' else i + size < total
    return {'rows': [render(res, r, user, ver, op) for r in page], 'total': total, 'more': more}


# ------------------------------------------------------------------ one exchange
VARY = ('Vary', 'X-Edition, X-Shell, Authorization')
ED1_FROM = int(instant('2026-05-01T00:00:00Z'))
ED1_TO = int(instant('2029-05-01T00:00:00Z'))
dumps = json.JSONEncoder(separators=(',', ':'), ensure_ascii=False).encode


def no_const(x):
    raise ValueError(x)


def identify(h, dup):
    if 'x-shell' in dup or 'authorization' in dup:
        raise Refuse('who_are_you', headers=challenges(True))
    found = []
    k = h.get('x-shell')
    if k is not None:
        if F == 'a-shell-tail':
            found.append(next((c for s, c in SHELLS.items() if k.startswith(s)), None))
        else:
            found.append(SHELLS.get(k))
    a = h.get('authorization')
    if a is not None:
        kind, _, rest = a.partition(' ')
        kind, rest = kind.lower(), rest.strip(' ')
        if kind == 'basic':
            try:
                s = base64.b64decode(rest, validate=True).decode()
                c = DOORS.get(s)
                if F == 'a-any-word' and c is None:
                    c = next((x for x in DOORS.values() if x.id == s.split(':')[0]), None)
                found.append(c)
            except Exception:
                found.append(None)
        elif kind == 'bearer':
            found.append(read_slate(rest))
        else:
            found.append(None)
    if not found:
        return None
    c = found[0]
    if None in found or any((x.user, x.id) != (c.user, c.id) for x in found):
        raise Refuse('who_are_you', headers=challenges(True))
    if F == 'p-diver-unknown' and c.user == 'diver':
        raise Refuse('who_are_you', headers=challenges(True))
    if len(found) > 1:
        c = Caller(c.user, c.id, list(dict.fromkeys(s for x in found for s in x.scopes)))
    return c


def from_elsewhere(h):
    """Browsers keep a name with a password: another site may not write with it."""
    if not h.get('authorization', '').lower().startswith('basic '):
        return False
    site = h.get('sec-fetch-site')
    if site is not None:
        return site not in ('same-origin', 'none')
    origin = h.get('origin')
    return origin is not None and origin.partition('://')[2].lower() != h.get('host', '').lower()


def challenges(bad_):
    return [('WWW-Authenticate', x + (', error="invalid_key"' if bad_ and x.startswith('Api') else ', error="invalid_token"' if bad_ and x.startswith('Bea') else ''))
            for x in CHALLENGE]


def tag_of(body):
    return '"' + hashlib.md5(body).hexdigest() + '"'


def matches(header, tag, weak):
    if header.strip() == '*':
        return True
    for t in header.split(','):
        t = t.strip()
        if t == tag or weak and t.startswith('W/') and t[2:] == tag:
            return True
    return False


def handle(method, target, h, dup, body, hsize, conn):
    """-> status, headers, body bytes"""
    hdrs = [VARY]
    ticket = rid('tk_', 10)
    ver, named, op = 'ed-2', 'ed-2', ''
    try:
        path, _, qs = target.partition('?')
        e = h.get('x-edition')
        if e in ('ed-1', 'ed-2'):
            named = e
        if len(target.encode()) > 2048 or hsize > 8192:
            raise Refuse('too_big')
        if path.startswith(BASE + '/'):
            rest = path[len(BASE) + 1:]
        elif F == 'p-bare-base':
            rest = path[1:]
        else:
            raise Refuse('no_such_place')
        try:
            segs = [unquote(s, errors='strict') for s in rest.split('/')]
        except UnicodeDecodeError:
            segs = ['?']
        route, key = find_route(segs)
        if not route:
            raise Refuse('no_such_place')
        real = 'GET' if method == 'HEAD' else method
        allow = ', '.join(list(route) + (['HEAD'] if 'GET' in route else []) + ['OPTIONS'])
        if real != 'OPTIONS' and real not in route:
            raise Refuse('wrong_verb', headers=[('Allow', allow)])
        if e is not None:
            if e not in ('ed-1', 'ed-2'):
                if F != 'n-edition-guess':
                    raise Refuse('no_edition')
                e = 'ed-2'
            ver = e
        if ver == 'ed-1':
            if now() >= ED1_TO and F != 'n-no-sunset':
                raise Refuse('old_edition')
            if route.get('GET') == 'read tiding':
                raise Refuse('no_such_place')
        if real == 'OPTIONS':
            hdrs.append(('Allow', allow))
            return 204, done(hdrs, named, target), b''
        op = route[real]
        # who
        try:
            c = identify(h, dup)
        except Refuse:
            if op in ANYONE and F == 'a-bad-as-nobody':
                c = None
            else:
                raise
        if c is None and op not in ANYONE:
            raise Refuse('who_are_you', headers=challenges(False))
        if c is not None and real not in ('GET', 'HEAD') and from_elsewhere(h):
            raise Refuse('not_yours')
        if op == 'list tiding' or op == 'list ear':
            rate(op, (c.user, c.id), hdrs)
        rule = None
        if op not in ANYONE:
            rule = PERM[op].get(c.user)
            if rule is None:
                raise Refuse('not_yours')
            if op in SCOPED and 'beds' not in c.scopes:
                raise Refuse('scope_lacking', headers=[('WWW-Authenticate', 'Bearer realm="Byssus House", error="insufficient_scope", scope="beds"')] if 'authorization' in h else [])
        return exchange(op, real, c, rule, key, qs, h, dup, body, ver, hdrs, named, target, conn, path)
    except Refuse as r:
        hdrs += r.headers
        status, text = CODES[r.code]
        if F == 'x-saving-400' and r.code == 'past_saving':
            status = 400
        p = {'refused': r.code, 'because': r.message or text, 'ticket': ticket}
        if F == 'x-no-ticket' and status == 404:
            del p['ticket']
        if r.faults:
            p['faults'] = r.faults
        if not (F == 'x-no-header' and status == 401):
            hdrs.append(('X-Refused', r.code))
        hdrs.append(('Content-Type', 'application/json'))
        return status, done(hdrs, named, target), dumps(p).encode()


def done(hdrs, named, target):
    hdrs.append(('X-Edition', named))
    if named == 'ed-1':
        if F != 'n-not-deprecated':
            hdrs.append(('Deprecation', '@%d' % ED1_FROM))
        hdrs.append(('Sunset', http_date(ED1_TO)))
        hdrs.append(('Link', '<https://byssus.example/editions>; rel="deprecation", <%s>; rel="successor-version"' % target))
    return hdrs


def get_row(res, key, c):
    row = DB[res].get(key)
    if row is None or not may_read(res, row, c):
        if row is not None and F == 'a-ear-any' and res == 'ear':
            return row
        raise Refuse('no_such_thing')
    return row


def exchange(op, real, c, rule, key, qs, h, dup, body, ver, hdrs, named, target, conn, path):
    verb, res = op.split(' ')
    user = c.user if c else None

    def ok(status, obj, *more):
        b = dumps(obj).encode('utf-8', 'surrogatepass')
        hdrs.extend(more)
        hdrs.append(('Content-Type', 'application/json'))
        return status, done(hdrs, named, target), b
    # parameters
    p = list_params(op, qs)
    # body
    if len(body) > (9000 if F == 'l-body-9000' else 8192):
        raise Refuse('too_big')
    data = None
    if verb in ('create', 'update'):
        if not body:
            raise Refuse('garbled')
        ct = h.get('content-type')
        mt = ct.split(';')[0].strip().lower() if ct and 'content-type' not in dup else ''
        if mt != 'application/json' and not (verb == 'update' and mt == 'application/merge-patch+json'):
            raise Refuse('wrong_paper')
        try:
            data = json.loads(body.decode('utf-8'), parse_constant=no_const)
            dumps(data).encode()
        except (ValueError, RecursionError):
            raise Refuse('garbled')
    # a key that comes again
    once = None
    if op == 'create commission' and h.get('once-key') and F != 'e-once-twice':
        fp = hashlib.sha256(('%s\n%s\n' % (target, ver)).encode() + json.dumps(data, sort_keys=True).encode()).digest()
        once = (c.user, c.id, h['once-key'])
        old = ONCE.get(once)
        if old and now() < old[0] + 12 * 3600:
            if old[1] != fp:
                raise Refuse('key_spent')
            return old[2], done(hdrs + [old[3], ('Content-Type', 'application/json')], named, target), old[4]
    if verb == 'list':
        if res == 'strand':
            get_row('commission', key, c)
        return ok(200, do_list(op, p, c, ver, key))
    if op == 'stream events':
        return stream(c, ver, h, hdrs, named, target, conn, real, path)
    if verb == 'read':
        row = get_row(res, key, c)
        obj = render(res, row, user, ver, op)
        if res in ('bed', 'commission'):
            b = dumps(obj).encode()
            tag = tag_of(ver.encode() + b)
            hdrs.append(('ETag', tag))
            if res == 'bed':
                hdrs.append(('Cache-Control', 'no-cache'))
            inm = h.get('if-none-match')
            if inm and matches(inm, tag, True):
                return 304, done(hdrs, named, target), b''
        return ok(200, obj)
    if verb == 'create':
        return create(res, data, c, ver, key, ok, once, fp if once else None)
    # a row of the path
    row = get_row(res, key, c) if not (F == 'a-discard-others' and op == 'discard skein' and key in DB['skein']) else DB['skein'][key]
    if not rule(row, c) and not (F == 'a-discard-others' and op == 'discard skein'):
        raise Refuse('not_yours')
    if verb == 'delete':
        if res == 'bed':
            if BED_SKEINS.get(key):
                raise Refuse('still_needed')
            NAMES.pop(row['name'], None)
            BED_COUNT.pop(key, None)
        elif res == 'strand':
            COM_STRANDS.get(row['commission'], {}).pop(key, None)
        elif res == 'ear':
            row['listening'] = False
        del DB[res][key]
        return 204, done(hdrs, named, target), b''
    if verb == 'update':
        im = h.get('if-match')
        if im is None:
            if res == 'bed' and F != 'e-no-tag-wanted':
                raise Refuse('tag_wanted')
        elif not matches(im, tag_of(ver.encode() + dumps(render(res, row, user, ver, 'read ' + res)).encode()), False):
            raise Refuse('stale')
        got = take_in(res, data, c, ver, row=row)
        if res == 'bed':
            was = row['name']
            nm = got.get('name', was)
            if nm != was and nm in NAMES and F != 'r-unique-update':
                raise Refuse('taken_already')
            before = dict(row)
            NAMES.pop(was, None)
            NAMES[nm] = 1
            apply(row, got)
            if nm != before['name'] or F == 'v-renamed-always':
                emit('bed.renamed', 'bed', row, {'bed': row['code'], 'was': before['name'], 'is': nm})
        else:
            if row['status'] not in ('asked', 'taken'):
                raise Refuse('wrong_state')
            apply(row, got)
            row['changed_at'] = iso(now())
        return ok(200, render(res, row, user, ver, op))
    # transitions
    if res == 'skein':
        s = row['state']
        if verb == 'comb':
            if s != 'raw':
                raise Refuse('wrong_state')
            enter_skein(row, 'combed')
            row['combed_at'] = iso(now())
        elif verb == 'spin':
            if s != 'combed' and not (F == 's-spin-raw' and s == 'raw'):
                raise Refuse('wrong_state')
            if row['grams'] < 5:
                raise Refuse('too_little')
            enter_skein(row, 'spun')
        else:
            if s not in ('raw', 'combed') and not (F == 's-discard-spun' and s == 'spun'):
                raise Refuse('past_saving')
            qk = quota(c)
            enter_skein(row, 'spoiled')
            emit('skein.spoiled', 'skein', row)
            QUOTA[qk] = QUOTA.get(qk, 0) + 1
    else:
        s = row['status']
        if verb == 'take':
            if s != 'asked':
                raise Refuse('wrong_state')
            row['weaver'] = c.id
            enter_com(row, 'taken')
        elif verb == 'finish':
            if s != 'taken':
                raise Refuse('wrong_state')
            if silk(row['id']) < (9 if F == 's-finish-nine' else 10):
                raise Refuse('too_thin')
            enter_com(row, 'finished')
        elif verb == 'hand':
            if s != 'finished':
                raise Refuse('wrong_state')
            enter_com(row, 'handed')
        else:
            if s not in ('asked', 'taken') and not (F == 's-withdraw-finished' and s == 'finished'):
                raise Refuse('too_late')
            enter_com(row, 'withdrawn')
    return ok(200, render(res, row, user, ver, op))


def apply(row, got):
    for k, v in got.items():
        if v is None:
            row.pop(k, None)
        else:
            row[k] = v


def create(res, data, c, ver, key, ok, once, fp):
    t = iso(now())
    if res == 'bed':
        row = take_in(res, data, c, ver)
        if row['code'] in DB['bed'] or row['name'] in NAMES:
            raise Refuse('taken_already')
        DB['bed'][row['code']] = row
        NAMES[row['name']] = 1
    elif res == 'skein':
        bed = get_row('bed', key, c)
        row = take_in(res, data, c, ver, {'bed': key})
        total = gathered(key) + row['grams']
        if total > bed['allowance_g'] or F == 'x-allowance-met' and total == bed['allowance_g']:
            raise Refuse('over_allowance')
        n = BED_COUNT[key] = BED_COUNT.get(key, 0) + 1
        if F == 'r-number-all':
            n = len(DB['skein']) + 1
        row.update(id=rid('sk_'), number=n, diver=row.pop('_diver', c.id), gathered_at=t)
        DB['skein'][row['id']] = row
        BED_SKEINS.setdefault(key, []).append(row)
        enter_skein(row, 'raw')
        emit('skein.gathered', 'skein', row)
    elif res == 'commission':
        row = take_in(res, data, c, ver)
        row.update(id=str(uuid.uuid4()), patron=c.id, opened_at=t)
        DB['commission'][row['id']] = row
        enter_com(row, 'asked', True)
        row['changed_at'] = t
        emit('commission.asked', 'commission', row)
    elif res == 'strand':
        com = get_row('commission', key, c)
        row = take_in(res, data, c, ver, {'commission': key})
        sk = DB['skein'].get(row['skein'])
        if sk is None:
            raise Refuse('no_such_thing' if F == 'x-ref-404' else 'no_such_ref', [{'in': 'body', 'path': '/skein', 'found': show(row['skein']), 'expected': 'a skein'}])
        if com.get('weaver') != c.id and F != 'a-strand-any':
            raise Refuse('not_yours')
        if sk['state'] != 'spun':
            raise Refuse('not_spun')
        if sk['shade'] != com['shade'] and F != 'x-shade-unasked':
            raise Refuse('wrong_shade')
        if row['grams'] > sk['grams']:
            raise Refuse('more_than_skein')
        row.update(id=rid('st_'), laid_by=c.id, laid_at=t)
        DB['strand'][row['id']] = row
        COM_STRANDS.setdefault(key, {})[row['id']] = row
        if F != 's-weave-forgot':
            enter_skein(sk, 'woven')
        emit('strand.laid', 'strand', row)
    else:
        row = take_in(res, data, c, ver)
        if sum(1 for e in DB['ear'].values() if e['owner'] == c.id) >= (9 if F == 'l-rows-9' else 8):
            raise Refuse('enough')
        row.update(id=rid('ear_'), owner=c.id, secret='hush_' + rid('', 32, MIX), _maker=c, _ver=ver)
        DB['ear'][row['id']] = row
    out = render(res, row, c.user, ver, 'create ' + res, True)
    loc = ('Location', '%s/%s/%s' % (BASE, PATHS[res], row[IDF[res]]))
    if F == 'e-no-location' and res == 'skein':
        return ok(201, out)
    if once:
        ONCE[once] = (now(), fp, 201, loc, dumps(out).encode())
    return ok(201, out, loc)


def stream(c, ver, h, hdrs, named, target, conn, real, path):
    hdrs += [('Content-Type', 'text/event-stream'), ('Cache-Control', 'no-store')]
    if real == 'HEAD' or conn.head:
        return 200, done(hdrs, named, target), b''
    cut = now() - KEEP_STREAM
    while LOGKEPT and LOGKEPT[0]['at'] < cut:
        LOGKEPT.pop(0)
    s = Stream(conn.tr, c, ver)
    last = h.get('last-event-id')
    conn.begin_stream(done(hdrs, named, target))
    if last:
        start = next((i + 1 for i, e in enumerate(LOGKEPT) if e['id'] == last), 0)
        for e in LOGKEPT[start:]:
            if may_read(e['res'], e['snap'], c):
                s.send(e)
    conn.stream = s
    STREAMS.add(s)
    return None


# ------------------------------------------------------------------ the wire
class Conn(asyncio.Protocol):
    def __init__(self):
        self.buf = b''
        self.stream = None
        self.head = False
        self.timer = None
        self.closing = False

    def connection_made(self, tr):
        self.tr = tr
        self.last = time.monotonic()
        self.since = None
        CONNS.add(self)

    def connection_lost(self, exc):
        CONNS.discard(self)
        STREAMS.discard(self.stream)

    def begin_stream(self, hdrs):
        self.tr.write(('HTTP/1.1 200 OK\r\n' + ''.join('%s: %s\r\n' % x for x in hdrs) + 'Transfer-Encoding: chunked\r\n\r\n').encode('latin-1'))

    def data_received(self, data):
        if self.closing or self.stream:
            return
        self.buf = self.buf + data if self.buf else data
        self.last = time.monotonic()
        while self.buf and not self.stream and not self.closing:
            if not self.one():
                if self.since is None:
                    self.since = self.last
                return
            self.since = None

    def one(self):
        buf = self.buf
        i = buf.find(b'\r\n\r\n')
        if i < 0:
            if len(buf) > 65536:
                self.reply(413, *self.small('too_big'), close=True)
            return False
        lines = buf[:i].decode('latin-1').split('\r\n')
        first = lines[0].split(' ')
        if len(first) != 3 or not first[2].startswith('HTTP/1.'):
            self.reply(400, *self.small('garbled'), close=True)
            return False
        h, dup, size = {}, set(), 0
        for ln in lines[1:]:
            k, _, v = ln.partition(':')
            k, v = k.lower(), v.strip()
            size += len(ln) + 2
            if k in h:
                dup.add(k)
                h[k] += ', ' + v
            else:
                h[k] = v
        j = i + 4
        if 'chunked' in h.get('transfer-encoding', '').lower():
            parts, total = [], 0
            while True:
                k = buf.find(b'\r\n', j)
                if k < 0:
                    return self.wait(h, len(buf))
                try:
                    n = int(buf[j:k].split(b';')[0], 16)
                except ValueError:
                    self.reply(400, *self.small('garbled'), close=True)
                    return False
                if len(buf) < k + 2 + n + 2:
                    return self.wait(h, len(buf))
                parts.append(buf[k + 2:k + 2 + n])
                j = k + 2 + n + 2
                if n == 0:
                    break
            body = b''.join(parts)
        else:
            cl = h.get('content-length', '0')
            if not cl.isdigit():
                self.reply(400, *self.small('garbled'), close=True)
                return False
            n = int(cl)
            if n > 4 << 20:
                body, j = b'x' * 9001, len(buf)
                h['connection'] = 'close'
            else:
                if len(buf) < j + n:
                    return self.wait(h, len(buf))
                body = buf[j:j + n]
                j += n
        self.buf = buf[j:]
        run_due()
        self.head = first[0] == 'HEAD'
        target = first[1]
        if target.startswith('http://'):
            target = '/' + target[7:].partition('/')[2]
        try:
            out = handle(first[0], target, h, dup, body, size, self)
        except Exception:
            import traceback
            traceback.print_exc()
            out = 500, [('Content-Type', 'application/json')], b'{"refused":null,"because":"Something broke.","ticket":"%s"}' % rid('tk_', 10).encode()
        if out is None:
            return True
        self.reply(*out, close=h.get('connection', '').lower() == 'close' or first[2] == 'HTTP/1.0' and h.get('connection', '').lower() != 'keep-alive')
        return True

    def wait(self, h, have):
        if h.get('expect', '').lower() == '100-continue' and not getattr(self, 'told', None):
            self.told = True
            self.tr.write(b'HTTP/1.1 100 Continue\r\n\r\n')
        return False

    def small(self, code):
        return [('Content-Type', 'application/json'), ('X-Refused', code)], dumps({'refused': code, 'because': CODES[code][1], 'ticket': rid('tk_', 10)}).encode()

    def reply(self, status, hdrs, body, close=False):
        out = ['HTTP/1.1 %d %s\r\n' % (status, STATUS[status])]
        out += ['%s: %s\r\n' % x for x in hdrs]
        if status not in (204, 304):
            out.append('Content-Length: %d\r\n' % len(body))
        out.append('Connection: close\r\n\r\n' if close else '\r\n')
        self.told = False
        b = ''.join(out).encode('latin-1', 'replace')
        self.tr.write(b if self.head or status in (204, 304) else b + body)
        if close:
            self.closing = True
            self.tr.close()


CONNS = set()
DUR = re.compile(r'^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?\Z')


def later(t, text):
    m = DUR.match(text) if isinstance(text, str) else None
    if not m or text in ('P', '') or text.endswith('T'):
        return None
    y, mo, w, d, hh, mi, s = (float(x) if x else 0 for x in m.groups())
    if y or mo:
        dt = EPOCH + timedelta(seconds=t)
        k = dt.month - 1 + int(mo) + 12 * int(y)
        yy, mm = dt.year + k // 12, k % 12 + 1
        for day in (dt.day, 30, 29, 28):
            try:
                dt = dt.replace(year=yy, month=mm, day=min(dt.day, day))
                break
            except ValueError:
                pass
        t = (dt - EPOCH).total_seconds()
    return t + w * 604800 + d * 86400 + hh * 3600 + mi * 60 + s


class Door(asyncio.Protocol):
    def connection_made(self, tr):
        self.tr, self.buf, self.busy = tr, b'', False

    def data_received(self, data):
        self.buf += data
        self.go()

    def go(self):
        i = self.buf.find(b'\r\n\r\n')
        if self.busy or i < 0:
            return
        m = re.search(rb'content-length:\s*(\d+)', self.buf[:i], re.I)
        n = int(m[1]) if m else 0
        if len(self.buf) < i + 4 + n:
            return
        method, body = self.buf.split(b' ', 1)[0], self.buf[i + 4:i + 4 + n]
        self.buf = self.buf[i + 4 + n:]
        self.busy = True
        t = asyncio.get_running_loop().create_task(self.answer(method, body))
        TASKS.add(t)
        t.add_done_callback(TASKS.discard)

    async def answer(self, method, body):
        global offset, frozen
        status = 200
        if method == b'GET':
            run_due()
        elif method == b'POST':
            try:
                d = json.loads(body)
                if not isinstance(d, dict) or len(d) != 1:
                    raise ValueError
                if 'advance' in d:
                    to = later(now(), d['advance'])
                else:
                    to = instant(d['now'])
                if to is None or not 0 <= to < 2.5e11:
                    raise ValueError
                if to < now() - 0.001:
                    status = 422
                else:
                    # step through what falls due, so that everything happens at its time and in its order
                    run_due()
                    end = time.monotonic() + 0.6
                    while heap and heap[0][0] <= to:
                        t = heap[0][0]
                        if t > now():
                            offset += t - now()
                        run_due()
                        if TASKS_BUSY():
                            await settle(end)
                    if to > now():
                        offset += to - now()
                    run_due()
                    if TASKS_BUSY():
                        await settle(end)
            except (ValueError, KeyError, OverflowError, TypeError):
                status = 400
        else:
            status = 400
        b = json.dumps({'now': iso(now())} if status == 200 else {'error': 'a time that has passed' if status == 422 else 'not understood'}).encode()
        self.tr.write(('HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' % (status, len(b))).encode() + b)
        self.busy = False
        if self.buf:
            self.go()


def TASKS_BUSY():
    return any(t.get_coro().__name__ == 'deliver' for t in TASKS)


async def settle(end):
    await asyncio.sleep(0)
    while TASKS_BUSY() and time.monotonic() < end:
        await asyncio.sleep(0.003)


async def main():
    loop = asyncio.get_running_loop()
    await loop.create_server(Conn, '127.0.0.1', int(ARGS.get('--port', 8080)), backlog=512)
    if '--clock-port' in ARGS:
        await loop.create_server(Door, '127.0.0.1', int(ARGS['--clock-port']))
    print('listening', flush=True)
    n = 0
    while True:
        await asyncio.sleep(0.02)
        if heap and heap[0][0] <= now():
            run_due()
        n += 1
        if n % 50 == 0:
            t = time.monotonic()
            for k in list(CONNS):
                if k.stream:
                    if n % 750 == 0:
                        k.tr.write(b'3\r\n:\n\n\r\n')
                elif k.since is not None and t - k.since > 10 or t - k.last > 60:
                    k.tr.close()


if __name__ == '__main__':
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
