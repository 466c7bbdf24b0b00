"""Hollow Lane Type Foundry: founts, matrices, proofs, press hours, paper and bills, over HTTP.

    python3 service.py --port N --clock-port M [--fault ID]
"""
import argparse, asyncio, base64, calendar, hashlib, heapq, hmac, json, math, os, re, secrets, string, sys, time, uuid
from datetime import datetime, timedelta, timezone
from email.utils import formatdate
from urllib.parse import unquote, unquote_plus, urlsplit

TITLE, BASE = 'Hollow Lane Type Foundry', '/shop'
OLD, NEW, DEAD = '2024-09', '2026-02', '2023-04'
VERSIONS = [DEAD, OLD, NEW]
DAY = 86400_000
FAULT = ''


def fault(name):
    return FAULT == name


# ---------------------------------------------------------------- the clock

CLOCK = {'offset': 0, 'fixed': None}
HEAP, SEQ = [], [0]


def now():
    return CLOCK['fixed'] if CLOCK['fixed'] is not None else int(time.time() * 1000) + CLOCK['offset']


def nxt():
    SEQ[0] += 1
    return SEQ[0]


def later(at, fn):
    heapq.heappush(HEAP, (at, nxt(), fn))


def run_due():
    t = now()
    while HEAP and HEAP[0][0] <= t:
        heapq.heappop(HEAP)[2]()


def iso(ms):
    return datetime.fromtimestamp(ms // 1000, timezone.utc).strftime('%Y-%m-%dT%H:%M:%S') + '.%03dZ' % (ms % 1000)


RFC3339 = re.compile(r'^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$')


def instant(text):
    """microseconds since 1970, or None where it is no RFC 3339 date-time"""
    m = RFC3339.match(text) if isinstance(text, str) and text.isascii() else None
    if not m and fault('r-zone') and isinstance(text, str) and text.isascii():
        m = RFC3339.match(text + 'Z')
    if not m:
        return None
    y, mo, d, h, mi, s, frac, off = m.groups()
    try:
        base = datetime(int(y), int(mo), int(d), int(h), int(mi), min(int(s), 59))
    except ValueError:
        return None
    if int(s) > 60 or (int(s) == 60 and (mi != '59')):
        return None
    us = (calendar.timegm(base.timetuple()) + (1 if int(s) == 60 else 0)) * 1000000
    us += int(((frac or '.0')[1:] + '000000')[:6])
    if off not in 'Zz':
        oh, om = int(off[1:3]), int(off[4:6])
        if oh > 23 or om > 59:
            return None
        us -= (1 if off[0] == '+' else -1) * (oh * 60 + om) * 60000000
    return us


# ---------------------------------------------------------------- what is refused, as what

CODES = {
    'unreadable': (400, 4001, 'The body cannot be read.'),
    'bad_parameter': (400, 4002, 'A parameter is not known here or has no value that it may have.'),
    'bad_page': (400, 4003, 'There is no such page.'),
    'no_version': (400, 4004, 'There is no such version.'),
    'no_card': (401, 4011, 'Show a card or log in.'),
    'bad_card': (401, 4012, 'That is nobody we know.'),
    'forbidden': (403, 4032, 'That is not for you to do.'),
    'not_found': (404, 4041, 'There is nothing here.'),
    'wrong_method': (405, 4051, 'That cannot be done here.'),
    'too_slow': (408, 4081, 'The request did not arrive in time.'),
    'taken': (409, 4091, 'There is one like it already.'),
    'in_use': (409, 4092, 'Something else still needs it.'),
    'wrong_state': (409, 4093, 'It is not in a state for that.'),
    'not_on_shelf': (409, 4094, 'This matrix is lent already.'),
    'too_late': (409, 4095, 'It is too late for that.'),
    'too_early': (409, 4096, 'The booked hour has not come yet.'),
    'no_address': (409, 4097, 'An order needs an address to ship to.'),
    'not_placed': (409, 4099, 'Proofs are pulled of an order that is placed.'),
    'gone': (410, 4101, 'It was here and is gone.'),
    'old_version': (410, 4102, 'This version is served no more.'),
    'changed': (412, 4121, 'It has changed since it was read.'),
    'too_large': (413, 4131, 'The body is too large.'),
    'url_too_long': (414, 4141, 'The address is too long.'),
    'wrong_type': (415, 4151, 'Bodies are read as JSON.'),
    'invalid': (422, 4222, 'What was sent does not fit.'),
    'no_reference': (422, 4225, 'What is referred to is not there.'),
    'key_reused': (422, 4226, 'This idempotency key was used for something else.'),
    'tag_missing': (428, 4281, 'Say which state of it you have read, with If-Match.'),
    'slow_down': (429, 4291, 'Not so often.'),
    'used_up': (429, 4292, 'There may be no more of these.'),
    'headers_long': (431, 4311, 'The header fields are too long.'),
    'broken': (500, 5001, 'Something broke here.'),
}
OWN = {'not_on_shelf', 'too_late', 'too_early', 'no_address', 'not_placed'}   # kept and replayed under a key


class Refuse(Exception):
    def __init__(self, code, faults=None, headers=()):
        self.code, self.faults, self.headers = code, faults, list(headers)


def wrong(place, path, found, expected):
    return {'in': place, 'path': path, 'found': found, 'expected': expected}


# ---------------------------------------------------------------- shapes, by version

COUNTRIES = set('''AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG
CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU
GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG
MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW
SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU
WF WS YE YT ZA ZM ZW'''.split())
URI = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]*$")
KINDS = ['matrix.overdue', 'booking.ended', 'fount.placed', 'fount.reweighed', 'proof.pulled', 'proof.answered', 'invoice.raised', 'invoice.falling_due']
TOPICS = set(KINDS) | {k.split('.')[0] + '.*' for k in KINDS} | {'*'}
ALLOYS = ['foundry', 'monotype', 'linotype']

RO = {'ro': True}


def text(lo=0, hi=None, **more):
    return {'t': 'string', 'lo': lo, 'hi': hi, **more}


def whole(lo=None, hi=None, **more):
    return {'t': 'integer', 'min': lo, 'max': hi, **more}


def need(spec):
    return {**spec, 'need': True}


ADDRESS = {'town': need(text(2, 60)), 'country': need({'t': 'string', 'fmt': 'country'})}
SHAPES = {
    'matrix': {
        'id': {'t': 'string', 'ro': True}, 'face': need(text(2, 40)), 'style': need({'enum': ['roman', 'italic', 'swash']}), 'body_pt': need(whole(5, 96)),
        'borrower': text(**RO), 'house': text(**RO), 'due_at': text(fmt='date-time', **RO), 'status': {'enum': ['shelved', 'lent', 'overdue'], 'ro': True}},
    'booking': {
        'id': text(**RO), 'press': need({'enum': ['albion', 'columbian', 'heidelberg']}), 'printer': text(**RO), 'starts_at': need(text(fmt='date-time')),
        'hours': whole(1, 10, default=2), 'cost_pence': whole(**RO), 'status': {'enum': ['held', 'worked', 'cancelled', 'lapsed'], 'ro': True}},
    'fount': {
        'id': text(**RO), 'customer': text(**RO), 'matrix': need(text(ref='matrix', immutable=True)), 'weight_kg': need({'t': 'number', 'min': 0.5, 'max': 250}),
        'alloy': {'enum': ALLOYS, 'default': 'monotype'}, 'ship_to': {'t': 'object', 'fields': ADDRESS}, 'price_pence': whole(**RO), 'proofs': whole(**RO),
        'updated_at': text(**RO), 'status': {'enum': ['drafted', 'placed', 'ready', 'shipped', 'scrapped'], 'ro': True}},
    'proof': {
        'id': text(**RO), 'fount': need(text(ref='fount', immutable=True)), 'round': whole(**RO), 'sheet': need(text(1, 500)), 'remarks': text(**RO),
        'status': {'enum': ['pulled', 'approved', 'sent_back', 'stale'], 'ro': True}},
    'paper': {
        'code': need(text(pattern=re.compile(r'^[A-Z]{2,4}-[0-9]{2,4}\Z'))), 'name': need(text(2, 60)), 'gsm': need(whole(40, 600)),
        'sheets': need(whole(0, visible={'printer', 'founder'})), 'finish': {'enum': ['laid', 'wove', 'coated'], 'default': 'wove'}},
    'invoice': {
        'id': text(**RO), 'number': text(**RO), 'payer': text(**RO), 'amount': whole(1, 10000000, **RO), 'due_at': text(fmt='date-time', **RO),
        'status': {'enum': ['open', 'overdue', 'paid'], 'ro': True}},
    'hook': {
        'id': text(**RO), 'owner': text(**RO), 'url': need(text(fmt='hook', hi=300)), 'secret': {'t': 'string', 'ro': True, 'once': True},
        'kinds': {'t': 'array', 'min': 1, 'items': {'t': 'string', 'fmt': 'kind'}}, 'enabled': {'t': 'boolean', 'default': True}},
}


def older(shapes):
    s = dict(shapes)
    s['fount'] = {('weight' if k == 'weight_kg' else k): ({'enum': ['hard'] + ALLOYS[1:], 'default': 'monotype'} if k == 'alloy' else v) for k, v in shapes['fount'].items()}
    s['paper'] = {k: v for k, v in shapes['paper'].items() if k != 'finish'} | {'mill': text(0, 30)}
    s['invoice'] = shapes['invoice'] | {'amount': {'t': 'number', 'ro': True}}
    return s


IN_VERSION = {NEW: SHAPES, OLD: older(SHAPES), DEAD: older(SHAPES)}


def down_fount(v):
    out = {('weight' if k == 'weight_kg' else k): x for k, x in v.items()}
    if out.get('alloy') == 'foundry':
        out['alloy'] = 'hard'
    return out


def down_paper(v):
    return {k: x for k, x in v.items() if k != 'finish'} | {'mill': 'unnamed'}


def down_invoice(v):
    return {k: (x / 100.0 if k == 'amount' else x) for k, x in v.items()}


def up_fount(v):
    return {('weight_kg' if k == 'weight' else k): ('foundry' if k == 'alloy' and x == 'hard' else x) for k, x in v.items()}


DOWN = {'fount': down_fount, 'paper': down_paper, 'invoice': down_invoice}
UP = {'fount': up_fount, 'paper': lambda v: {k: x for k, x in v.items() if k != 'mill'}}


def down(res, version, v):
    return DOWN[res](v) if version != NEW and res in DOWN else v


def up(res, version, v):
    return UP[res](v) if version != NEW and res in UP else v


def is_number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)


TYPE_TESTS = {
    'string': lambda v: isinstance(v, str),
    'integer': lambda v: is_number(v) and (isinstance(v, int) or (math.isfinite(v) and v == int(v))) and -2 ** 63 <= v < 2 ** 63,
    'number': lambda v: is_number(v) and math.isfinite(v),
    'boolean': lambda v: isinstance(v, bool),
    'array': lambda v: isinstance(v, list),
    'object': lambda v: isinstance(v, dict),
}


def good_hook_url(v):
    if not URI.match(v) or not re.match(r'^https?://[^/?#\s]+', v, re.I):
        return False
    try:
        u = urlsplit(v)
        return bool(u.hostname) and (u.port is None or u.port > 0)
    except ValueError:
        return False


FORMATS = {
    'date-time': lambda v: instant(v) is not None,
    'country': lambda v: v in COUNTRIES,
    'hook': good_hook_url,
    'kind': lambda v: v in TOPICS or fault('v-kind'),
}


def kind_of(v):
    return ('null' if v is None else 'boolean' if isinstance(v, bool) else 'number' if is_number(v) else 'string' if isinstance(v, str)
            else 'array' if isinstance(v, list) else 'object')


def brief(v):
    return json.dumps(v)[:120] if not isinstance(v, (dict, list)) else kind_of(v)


def check(spec, v, path, out):
    """what is wrong with a value, told into out"""
    if 'enum' in spec:
        if not isinstance(v, str) or v not in spec['enum']:
            out.append(wrong('body', path, brief(v), 'one of ' + ', '.join(spec['enum'])))
        return
    t = spec['t']
    if not TYPE_TESTS[t](v):
        out.append(wrong('body', path, kind_of(v), t))
        return
    if t == 'string':
        size = len(v.encode('utf-8', 'replace')) if fault('r-bytes') and path == 'face' else len(v)
        if size < spec.get('lo', 0) or (spec.get('hi') is not None and size > spec['hi']):
            out.append(wrong('body', path, '%d characters' % len(v), 'from %s to %s characters' % (spec.get('lo', 0), spec.get('hi'))))
        elif 'pattern' in spec and not spec['pattern'].match(v):
            out.append(wrong('body', path, brief(v), spec['pattern'].pattern))
        elif 'fmt' in spec and not FORMATS[spec['fmt']](v):
            out.append(wrong('body', path, brief(v), spec['fmt']))
    elif t in ('integer', 'number'):
        lo, hi = spec.get('min'), spec.get('max')
        low = lo is not None and v < lo
        if low or (hi is not None and v > hi):
            out.append(wrong('body', path, brief(v), 'from %s to %s' % (lo, hi)))
    elif t == 'array':
        if len(v) < spec.get('min', 0):
            out.append(wrong('body', path, '%d items' % len(v), 'at least %d' % spec['min']))
        for i, item in enumerate(v):
            check(spec['items'], item, '%s.%d' % (path, i), out)
    elif t == 'object':
        for k, x in v.items():
            if k not in spec['fields']:
                out.append(wrong('body', path + '.' + k, kind_of(x), 'no such field'))
            else:
                check(spec['fields'][k], x, path + '.' + k, out)
        for k, f in spec['fields'].items():
            if f.get('need') and k not in v:
                out.append(wrong('body', path + '.' + k, 'nothing', 'a value'))


def tidy(spec, v):
    return int(v) if spec.get('t') == 'integer' and isinstance(v, float) else v


def read_new(res, body, version, bound):
    """a creation's body, held to its version's shape; gives fields of the newest"""
    shape, out, got = IN_VERSION[version][res], [], {}
    if not isinstance(body, dict):
        raise Refuse('invalid', [wrong('body', '', kind_of(body), 'object')])
    for k, v in body.items():
        if k not in shape:
            out.append(wrong('body', k, kind_of(v), 'no such field'))
        elif shape[k].get('ro'):
            continue
        else:
            n = len(out)
            check(shape[k], v, k, out)
            if len(out) == n and k in bound and v != bound[k]:
                out.append(wrong('body', k, brief(v), 'what the address says'))
            got[k] = tidy(shape[k], v)
    got.update(bound)
    for k, s in shape.items():
        if s.get('need') and k not in got:
            out.append(wrong('body', k, 'nothing', 'a value'))
    if out:
        raise Refuse('invalid', out)
    return up(res, version, got)


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


def read_patch(res, body, version, row):
    """fields of the newest shape that a merge patch changes: { field: value or None }"""
    shape, out, changed = IN_VERSION[version][res], [], {}
    if not isinstance(body, dict):
        raise Refuse('invalid', [wrong('body', '', kind_of(body), 'object')])
    seen = down(res, version, {k: row[k] for k in SHAPES[res] if row.get(k) is not None})
    for k, v in body.items():
        s = shape.get(k)
        if s is None:
            out.append(wrong('body', k, kind_of(v), 'no such field'))
        elif s.get('ro'):
            continue
        elif v is None:
            if s.get('need') or 'default' in s:
                out.append(wrong('body', k, 'null', 'a value'))
            elif k in seen:
                changed[k] = None
        else:
            n, value = len(out), merge(seen.get(k), v)
            check(s, value, k, out)
            if len(out) > n:
                continue
            if s.get('immutable') and value != seen.get(k):
                out.append(wrong('body', k, brief(v), 'what it has been'))
            elif value != seen.get(k):
                changed[k] = tidy(s, value)
    if out:
        raise Refuse('invalid', out)
    return up(res, version, changed)


# ---------------------------------------------------------------- who there is, and what each may do

ALL_SCOPES = {'customer': ['proofs'], 'printer': ['lending', 'presses'], 'founder': []}


def person(user, id, house, scopes=None):
    return {'user': user, 'id': id, 'house': house, 'scopes': ALL_SCOPES[user] if scopes is None else scopes}


CARDS = {
    'tf_kQ7mZr2xWv9LpTn4BsYc8HdA': person('customer', 'cu-aldine', 'aldine'),
    'tf_Rw3NvX8cJb5GtPq1MzKe6YsU': person('customer', 'cu-plantin', 'plantin'),
    'tf_Hf6TbL0yDn2VxCk9WqSa4JmE': person('customer', 'cu-caslon', 'caslon'),
    'tf_Zp1GsK5uMw8RcXd3NvTb7FqL': person('customer', 'cu-window', 'caslon', []),
    'tf_Yb4JxQ9tHe7KmWz2LnRv5CsD': person('printer', 'pr-kelm', 'kelm'),
    'tf_Vc8DnM3rAw6BpTy0XkJz1GfS': person('printer', 'pr-kelm-junior', 'kelm'),
    'tf_Ls2WqF7hUv5EnCx4RtPb9KmY': person('printer', 'pr-daven', 'daven'),
    'tf_Nx9RkB1jSg3QvLw6ZhTc0MdP': person('printer', 'pr-visitor', 'daven', []),
    'tf_Gm5CzT8wKr2YnHb7VpXs3LqJ': person('founder', 'fo-garamond', 'hollowlane'),
    'tf_Ta0PvE4nXj6MkWd1RbSz8CyH': person('founder', 'fo-granjon', 'hollowlane'),
}
LOGINS = {
    'fo-garamond': ('Punch&Counter9', person('founder', 'fo-garamond', 'hollowlane')),
    'fo-jannon': ('hot:metal:78', person('founder', 'fo-jannon', 'hollowlane')),
    'pr-daven': ('Tympan_Frisket4', person('printer', 'pr-daven', 'daven')),
    'cu-plantin': ('Labore-Constantia', person('customer', 'cu-plantin', 'plantin')),
}


def owns(field):
    return lambda r, c: r.get(field) == c['id']


def owns_fount(r, c):
    f = ROWS['fount'].get(r['fount'])
    return f is not None and f['customer'] == c['id']


def same_house(r, c):
    return fault('a-house') or (r.get('house') is not None and r['house'] == c['house'])


def rules_of(*entries):
    table = {}
    for ops, to, more in entries:
        for op in ops:
            table.setdefault(op, []).append({'to': set(to), **more})
    return table


TRADE, SHOP, EVERY = ['customer', 'printer'], ['founder'], ['customer', 'printer', 'founder']
RULES = rules_of(
    (['read paper'], EVERY + ['anyone'], {}),
    (['upsert paper', 'delete paper'], SHOP, {}),
    (['list matrix', 'read matrix'], ['printer', 'founder'], {}),
    (['list matrix', 'read matrix'], ['customer'], {'fields': ['id', 'face', 'style', 'body_pt', 'status']}),
    (['create matrix', 'delete matrix'], SHOP, {}),
    (['lend matrix'], ['printer'], {'scopes': ['lending']}),
    (['take_back matrix'], ['printer'], {'if': same_house}),
    (['take_back matrix'], SHOP, {}),
    (['create booking'], ['printer'], {'scopes': ['presses']}),
    (['list booking', 'read booking'], ['printer', 'founder'], {}),
    (['cancel booking'], ['printer'], {'if': owns('printer')}),
    (['work booking'], SHOP, {}),
    (['create fount'], ['customer'], {}),
    (['list fount', 'read fount', 'update fount', 'place fount', 'scrap fount'], ['customer'], {'if': owns('customer')}),
    (['list fount', 'read fount', 'ship fount'], SHOP, {}),
    (['create proof'], SHOP, {}),
    (['list proof'], ['customer'], {'if': owns_fount}),
    (['read proof'], ['customer'], {'if': owns_fount}),
    (['approve proof', 'send_back proof'], ['customer'], {'scopes': ['proofs'], 'if': owns_fount}),
    (['list proof', 'read proof'], SHOP, {}),
    (['list invoice', 'read invoice', 'pay invoice'], TRADE, {'if': owns('payer')}),
    (['list invoice', 'read invoice'], SHOP, {}),
    (['create hook'], EVERY, {}),
    (['read hook', 'delete hook'], EVERY, {'if': owns('owner')}),
)
PUBLIC = {'list paper'}


def user_rules(op, caller):
    """the rules that are for this user; 403 or 401 where there is none"""
    user = caller['user'] if caller else 'anyone'
    rules = [r for r in RULES.get(op, ()) if user in r['to']]
    if not rules:
        if caller is None:
            raise Refuse('no_card')
        raise Refuse('forbidden')
    able = [r for r in rules if all(s in caller['scopes'] for s in r.get('scopes', ())) or (fault('a-scope') and op == 'send_back proof')] if caller else rules
    if not able:
        raise Refuse('forbidden')
    return able


def holding(rules, row, caller):
    return [r for r in rules if 'if' not in r or r['if'](row, caller)]


def may_read(res, row, caller):
    user = caller['user'] if caller else 'anyone'
    return any(user in r['to'] and ('if' not in r or r['if'](row, caller)) for r in RULES['read ' + res])


# ---------------------------------------------------------------- rows, and changes that are made whole or not at all

ROWS = {res: {} for res in SHAPES}
BURIED = {}              # code of a paper -> until when it is kept
COUNTS = {}              # ('invoice',) or ('proof', fount) -> the last number
HOOKS_OUT = {}           # hook id -> what waits for it

ALNUM = string.ascii_letters + string.digits
CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'


def draw(n, letters=ALNUM):
    return ''.join(secrets.choice(letters) for _ in range(n))


def ulid():
    n = (now() << 80) | secrets.randbits(80)
    return ''.join(CROCKFORD[(n >> s) & 31] for s in range(125, -1, -5))


NEW_ID = {
    'matrix': lambda: 'mtx_' + secrets.token_hex(4 if fault('r-id') else 5),
    'booking': lambda: 'bkg_' + ulid(),
    'fount': lambda: str(uuid.uuid4()),
    'proof': lambda: 'prf_' + draw(12),
    'invoice': lambda: 'inv_' + draw(16),
    'hook': lambda: 'hk_' + draw(16),
}


def change():
    return {'undo': [], 'after': []}


def store(tx, res, key, row):
    had = ROWS[res].get(key)
    tx['undo'].append(lambda: ROWS[res].__setitem__(key, had) if had is not None else ROWS[res].pop(key, None))
    if row is None:
        ROWS[res].pop(key, None)
    else:
        ROWS[res][key] = row


def count(tx, *what):
    had = COUNTS.get(what, 0)
    tx['undo'].append(lambda: COUNTS.__setitem__(what, had))
    COUNTS[what] = had + 1
    return had + 1


def commit(tx):
    for fn in tx['after']:
        fn()


def rollback(tx):
    for fn in reversed(tx['undo']):
        fn()


def on_clock(fn):
    """a change that the clock makes"""
    tx = change()
    try:
        fn(tx)
    except Exception as e:
        rollback(tx)
        if not isinstance(e, Refuse):
            print('clock:', repr(e), file=sys.stderr)
        return
    commit(tx)


# ---------------------------------------------------------------- what is shown

def proofs_of(fount):
    return sum(1 for p in ROWS['proof'].values() if p['fount'] == fount)


def view(res, row, caller, version, fields=None, once=False):
    """a row as its caller sees it in a version; fields = what its rule shows, None = all"""
    user = caller['user'] if caller else None
    out = {}
    for k, s in SHAPES[res].items():
        v = proofs_of(row['id']) if k == 'proofs' else row.get(k)
        if v is None or (fields is not None and k not in fields):
            continue
        if 'visible' in s and user not in s['visible'] and not (fault('r-visible') and user == 'customer'):
            continue
        if s.get('once') and not once:
            continue
        out[k] = v
    return down(res, version, out)


def shown(res, row, caller, version, op=None, once=False):
    """as the rules for reading show it"""
    user = caller['user'] if caller else 'anyone'
    rules = [r for r in RULES[op or 'read ' + res] if user in r['to'] and ('if' not in r or r['if'](row, caller))] if (op or 'read ' + res) in RULES else [{}]
    fields = None if not rules or any('fields' not in r for r in rules) else {f for r in rules for f in r['fields']}
    return view(res, row, caller, version, fields, once)


def tag(res, row, caller, version):
    body = json.dumps(shown(res, row, caller, version), sort_keys=True)
    return '"' + hashlib.sha1((version + body).encode()).hexdigest()[:24] + '"'


# ---------------------------------------------------------------- events, and how they are delivered

WAITS = [10_000, 120_000, 3600_000]
TASKS = set()


def wants(hook, kind):
    kinds = hook.get('kinds')
    return kinds is None or kind in kinds or '*' in kinds or kind.split('.')[0] + '.*' in kinds


def emit(tx, kind, res, row, payload=None):
    """records an event for each subscriber that may hear of it"""
    event, at = 'ev_' + secrets.token_hex(10), iso(now())
    for hook in list(ROWS['hook'].values()):
        if not hook['enabled'] or not wants(hook, kind):
            continue
        maker = hook['_maker']
        if not may_read(res, row, maker):
            continue
        if payload is None:
            version = hook['_version']
            about = shown(res, row, maker, version) if not (fault('v-fields') and res == 'matrix') else view(res, row, maker, version)
        else:
            about = payload
        letter = {'event': event, 'kind': kind, 'at': at, 'about': about}
        parcel = {'kind': kind, 'letter': letter, 'row': (res, row['id']), 'tries': 0, 'due': now(), 'busy': False}
        tx['after'].append(lambda h=hook['id'], p=parcel: post(h, p))


def post(hook, parcel):
    HOOKS_OUT.setdefault(hook, {'waiting': [], 'failing': None, 'hold': 0})['waiting'].append(parcel)
    pump(hook)


def pump(hook):
    out = HOOKS_OUT.get(hook)
    if not out:
        return
    if hook not in ROWS['hook'] or not ROWS['hook'][hook]['enabled']:
        out['waiting'] = [p for p in out['waiting'] if p['busy']]
        return
    t, ahead = now(), set()
    under_way = sum(1 for p in out['waiting'] if p['busy'])
    for p in out['waiting']:
        first = p['row'] not in ahead
        ahead.add(p['row'])
        if not first or p['busy'] or p['due'] > t or out['hold'] > t:
            continue
        if under_way >= (1 if out['failing'] is not None else 32):
            break
        under_way += 1
        p['busy'] = True
        task = asyncio.get_running_loop().create_task(attempt(hook, p))
        TASKS.add(task)
        task.add_done_callback(TASKS.discard)
        later(t + 5000, lambda k=task: k.cancel())


async def attempt(hook, p):
    row = ROWS['hook'].get(hook)
    status, wait = 0, 0
    try:
        status, wait = await asyncio.wait_for(send(row, p), 5)
    except asyncio.CancelledError:
        status = 0
    except Exception:
        status = 0
    settle(hook, p, status, wait)


def seal(secret, stamp, body):
    signed = body if fault('v-seal') else stamp.encode() + b'.' + body
    return 't=%s,v1=%s' % (stamp, hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest())


async def send(row, p):
    u = urlsplit(row['url'])
    https = u.scheme.lower() == 'https'
    body = json.dumps(p['letter']).encode()
    stamp = str(now() // 1000)
    path = (u.path or '/') + ('?' + u.query if u.query else '')
    reader, writer = await asyncio.open_connection(u.hostname, u.port or (443 if https else 80), ssl=True if https else None)
    try:
        writer.write(('POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nFoundry-Seal: %s\r\nX-Foundry-Event: %s\r\n'
                      'User-Agent: hollowlane\r\nConnection: close\r\n\r\n' % (path, u.netloc.split('@')[-1], len(body), seal(row['secret'], stamp, body), p['kind'])).encode() + body)
        await writer.drain()
        head = await reader.readuntil(b'\r\n\r\n')
        lines = head.decode('latin-1').split('\r\n')
        status = int(lines[0].split(' ')[1])
        wait, size = 0, 0
        for line in lines[1:]:
            k, _, v = line.partition(':')
            if k.lower() == 'retry-after' and v.strip().isdigit():
                wait = min(int(v.strip()) * 1000, DAY)
            if k.lower() == 'content-length' and v.strip().isdigit():
                size = int(v.strip())
        if 0 < size < 20000:
            try:
                await asyncio.wait_for(reader.readexactly(size), 0.5)
            except Exception:
                pass
        return status, wait
    finally:
        writer.close()


def settle(hook, p, status, wait):
    p['busy'] = False
    out, t = HOOKS_OUT.get(hook), now()
    if not out or p not in out['waiting']:
        return
    row = ROWS['hook'].get(hook)
    if 200 <= status < 300:
        out['waiting'].remove(p)
        out['failing'] = None
    else:
        p['tries'] += 1
        if out['failing'] is None:
            out['failing'] = t
        if row and (status == 410 or t - out['failing'] >= 2 * DAY):
            ROWS['hook'][hook] = row | {'enabled': False}
        waits = [WAITS[0], WAITS[0], WAITS[2]] if fault('v-waits') else WAITS
        if p['tries'] > len(waits):
            out['waiting'].remove(p)
        else:
            p['due'] = t + max(waits[p['tries'] - 1], wait)
            if wait:
                out['hold'] = max(out['hold'], t + wait)
            later(p['due'], lambda: pump(hook))
    pump(hook)


# ---------------------------------------------------------------- states

TRANSITIONS = {
    'matrix': {'lend': {'from': ['shelved'], 'to': 'lent', 'else': 'not_on_shelf'}, 'take_back': {'from': ['lent', 'overdue'], 'to': 'shelved'},
               'fall_due': {'from': ['lent'], 'to': 'overdue'}},
    'booking': {'work': {'from': ['held'], 'to': 'worked'}, 'cancel': {'from': ['held'], 'to': 'cancelled', 'else': 'too_late'},
                'lapse': {'from': ['held'], 'to': 'lapsed'}},
    'fount': {'place': {'from': ['drafted'], 'to': 'placed'}, 'finish': {'from': ['placed'], 'to': 'ready'}, 'ship': {'from': ['ready'], 'to': 'shipped'},
              'scrap': {'from': ['drafted', 'placed'], 'to': 'scrapped', 'else': 'too_late'}},
    'proof': {'approve': {'from': ['pulled'], 'to': 'approved'}, 'send_back': {'from': ['pulled'], 'to': 'sent_back'}, 'go_stale': {'from': ['pulled'], 'to': 'stale'}},
    'invoice': {'pay': {'from': ['open', 'overdue'], 'to': 'paid'}, 'fall_due': {'from': ['open'], 'to': 'overdue'}},
}
GUARDS = {
    ('booking', 'work'): (lambda r: instant(r['starts_at']) <= now() * 1000, 'too_early'),
    ('fount', 'place'): (lambda r: r.get('ship_to') is not None, 'no_address'),
}
SETS = {
    ('matrix', 'lend'): lambda r, req, caller: {'borrower': caller['id'], 'house': caller['house'], 'due_at': iso(now() + int(req['days']) * DAY)},
    ('proof', 'send_back'): lambda r, req, caller: {'remarks': req.get('remarks')},
}
AFTER = {('booking', 'held'): (lambda r: now() + (8 if fault('s-lapse') else 7) * DAY, 'lapse'), ('proof', 'pulled'): (lambda r: now() + 10 * DAY, 'go_stale'),
         ('matrix', 'lent'): (lambda r: instant(r['due_at']) // 1000, 'fall_due'), ('invoice', 'open'): (lambda r: instant(r['due_at']) // 1000, 'fall_due')}


def entered(tx, res, row):
    """the clock is set for the state that a row has come into"""
    if (res, row['status']) in AFTER:
        at, name = AFTER[(res, row['status'])]
        due, key, since = at(row), row['id'], row['_since']
        tx['after'].append(lambda: later(due, lambda: on_clock(lambda t: timed(t, res, key, since, name))))
    if res == 'invoice' and row['status'] == 'open':
        tell = instant(row['due_at']) // 1000 - 72 * 3600_000
        tx['after'].append(lambda: later(tell, lambda: on_clock(lambda t: falling_due(t, row['id']))))


def timed(tx, res, key, since, name):
    row = ROWS[res].get(key)
    stale = row is not None and row['_since'] != since and not (fault('s-timer') and res == 'matrix')
    if row is not None and not stale and row['status'] in TRANSITIONS[res][name]['from']:
        move(tx, res, row, name)


def falling_due(tx, key):
    row = ROWS['invoice'].get(key)
    if row is not None and row['status'] == 'open':
        emit(tx, 'invoice.falling_due', 'invoice', row)


def follow(tx, res, name, before, row):
    """what is told of a transition, and what follows from it"""
    if res == 'matrix' and name == 'fall_due':
        emit(tx, 'matrix.overdue', res, row)
    elif res == 'booking':
        if name in ('cancel', 'lapse') and not (fault('v-lapse') and name == 'lapse'):
            emit(tx, 'booking.ended', res, row)
        if name == 'work':
            raise_invoice(tx, row['printer'], row['cost_pence'])
    elif res == 'fount':
        if name == 'place':
            emit(tx, 'fount.placed', res, row)
        if name == 'ship':
            raise_invoice(tx, row['customer'], row['price_pence'])
    elif res == 'proof':
        if name in ('approve', 'send_back'):
            emit(tx, 'proof.answered', res, row, {'proof': row['id'], 'round': row['round'], 'verdict': row['status']})
        if name == 'approve' and not (fault('s-finish') and row['round'] > 1):
            move(tx, 'fount', ROWS['fount'][row['fount']], 'finish')


def move(tx, res, row, name, req=None, caller=None):
    t = TRANSITIONS[res][name]
    allowed = t['from']
    if fault('s-scrap') and name == 'scrap':
        allowed = allowed + ['ready']
    if row['status'] not in allowed:
        raise Refuse(t.get('else', 'wrong_state'))
    if (res, name) in GUARDS and not GUARDS[(res, name)][0](row):
        raise Refuse(GUARDS[(res, name)][1])
    sets = SETS[(res, name)](row, req, caller) if (res, name) in SETS else {}
    new = row | sets | {'status': t['to'], '_since': nxt()}
    if fault('s-stale') and name == 'go_stale':
        new['status'] = 'expired'
    if res == 'fount':
        new['updated_at'] = iso(now())
    if name == 'lend':
        full('matrix', 'borrower', new, lambda r: r['status'] != 'shelved', 3)
    store(tx, res, row['id'], new)
    entered(tx, res, new)
    follow(tx, res, name, row, new)
    return ROWS[res][row['id']]


def full(res, per, row, counts, limit):
    """one row too many is limit.quota"""
    n = sum(1 for r in ROWS[res].values() if r['id'] != row['id'] and r.get(per) == row[per] and counts(r))
    if n + 1 > limit:
        raise Refuse('used_up')


def begun(tx, res, fields):
    row = {'id': NEW_ID[res](), **fields, '_seq': nxt(), '_since': nxt()}
    return row


def raise_invoice(tx, payer, amount):
    row = begun(tx, 'invoice', {'number': 'INV-%05d' % count(tx, 'invoice'), 'payer': payer, 'amount': amount, 'due_at': iso(now() + 30 * DAY), 'status': 'open'})
    store(tx, 'invoice', row['id'], row)
    entered(tx, 'invoice', row)
    emit(tx, 'invoice.raised', 'invoice', row)


# ---------------------------------------------------------------- what is done

def price(row):
    return int(math.floor(row['weight_kg'] * (2200.0 if row['alloy'] == 'foundry' else 1800.0) + 0.5))


def not_like(res, row, key):
    if any(r['id'] != row['id'] and key(r) == key(row) for r in ROWS[res].values() if key(r) is not None):
        raise Refuse('taken')


def create_matrix(c, got):
    row = begun(c['tx'], 'matrix', got | {'status': 'shelved'})
    not_like('matrix', row, lambda r: (r['face'], r['style'], r['body_pt']))
    return row


def create_booking(c, got):
    got = {'hours': 2} | got
    row = begun(c['tx'], 'booking', got | {'printer': c['caller']['id'], 'cost_pence': got['hours'] * (2400 if got['press'] == 'heidelberg' else 1500), 'status': 'held'})
    not_like('booking', row, lambda r: (r['press'], instant(r['starts_at'])) if r['status'] == 'held' else None)
    full('booking', 'printer', row, lambda r: r['status'] == 'held' or (fault('l-rows') and r['status'] == 'cancelled'), 4)
    return row


def create_fount(c, got):
    got = {'alloy': 'monotype'} | got
    if got['matrix'] not in ROWS['matrix']:
        raise Refuse('no_reference', [wrong('body', 'matrix', brief(got['matrix']), 'a matrix that is there')])
    row = begun(c['tx'], 'fount', got | {'customer': c['caller']['id'], 'price_pence': price(got), 'updated_at': iso(now()), 'status': 'drafted'})
    return row


def create_proof(c, got):
    fount = ROWS['fount'].get(got['fount'])
    if fount['status'] != 'placed':
        raise Refuse('not_placed')
    row = begun(c['tx'], 'proof', got | {'status': 'pulled'})
    not_like('proof', row, lambda r: r['fount'] if r['status'] == 'pulled' else None)
    row['round'] = count(c['tx'], 'proof', got['fount'])
    return row


def create_hook(c, got):
    return begun(c['tx'], 'hook', {'enabled': True} | got | {'owner': c['caller']['id'], 'secret': 'whsec_' + base64.b64encode(secrets.token_bytes(32)).decode(),
                                                             '_maker': c['caller'], '_version': c['version']})


MAKERS = {'matrix': create_matrix, 'booking': create_booking, 'fount': create_fount, 'proof': create_proof, 'hook': create_hook}


def do_create(c):
    res = c['res']
    got = read_new(res, c['body'], c['version'], c['bound'])
    row = MAKERS[res](c, got)
    use_quota(c)
    store(c['tx'], res, row['id'], row)
    if 'status' in row:
        entered(c['tx'], res, row)
    if res == 'proof':
        emit(c['tx'], 'proof.pulled', 'proof', row)
    out = shown(res, row, c['caller'], c['version'], once=True)
    if res == 'proof' and fault('r-type'):
        out['round'] = str(out['round'])
    heads = [('Location', BASE + COLLECTION[res] + '/' + row['id'])]
    if res == 'booking' and fault('e-location'):
        heads = []
    return 201, out, heads


COLLECTION = {'matrix': '/matrices', 'booking': '/bookings', 'fount': '/founts', 'proof': '/proofs', 'paper': '/papers', 'invoice': '/invoices', 'hook': '/hooks'}


def find_row(c):
    """the row that the path names, of which the caller may know, and the rules over it"""
    res, key = c['res'], c['key']
    row = ROWS[res].get(key)
    if row is None:
        if res == 'paper' and BURIED.get(key, 0) > now() and not (fault('x-gone') and c['verb'] == 'delete'):
            raise Refuse('gone')
        raise Refuse('not_found')
    if not holding(c['rules'], row, c['caller']):
        raise Refuse('forbidden' if c['verb'] != 'read' and may_read(res, row, c['caller']) else 'not_found')
    return row


def do_read(c):
    row = find_row(c)
    out = shown(c['res'], row, c['caller'], c['version'])
    heads = []
    if c['res'] == 'fount':
        mark = tag('fount', row, c['caller'], c['version'])
        heads = [('ETag', mark)]
        seen = c['heads'].get('if-none-match')
        if seen is not None and any(m in ('*', mark) or (m.startswith('W/') and m[2:] == mark) for m in (x.strip() for x in seen.split(','))):
            return 304, None, heads
    for name in c['expand']:
        fount = ROWS['fount'].get(row['fount'])
        if fount is not None and may_read('fount', fount, c['caller']):
            out['fount'] = shown('fount', fount, c['caller'], c['version'])
    return 200, out, heads


def matches(c, row):
    if_match = c['heads'].get('if-match')
    if if_match is None:
        raise Refuse('tag_missing')
    mark = tag(c['res'], row, c['caller'], c['version'])
    if not any(m in ('*', mark) for m in (x.strip() for x in if_match.split(','))):
        raise Refuse('changed')


def do_update(c):                                                    # founts alone are changed so
    row = find_row(c)
    if fault('x-order') and row['status'] != 'drafted':
        raise Refuse('wrong_state')
    matches(c, row)
    diff = read_patch('fount', c['body'], c['version'], row)
    if row['status'] != 'drafted':
        raise Refuse('wrong_state')
    if 'matrix' in diff and diff['matrix'] not in ROWS['matrix']:
        raise Refuse('no_reference')
    if diff:
        new = {k: v for k, v in (row | diff).items() if v is not None}
        if not fault('r-price'):
            new['price_pence'] = price(new)
        new['updated_at'] = iso(now())
        store(c['tx'], 'fount', row['id'], new)
        if new['weight_kg'] != row['weight_kg']:
            emit(c['tx'], 'fount.reweighed', 'fount', new,
                 {'fount': new['id'], 'was_kg': row['weight_kg'], 'is_kg': new['weight_kg']})
        row = new
    return 200, shown('fount', row, c['caller'], c['version']), [('ETag', tag('fount', row, c['caller'], c['version']))]


def do_upsert(c):
    had = ROWS['paper'].get(c['key'])
    old = c['version'] != NEW
    got = read_new('paper', c['body'], c['version'], {'code': c['key']})
    if not SHAPES['paper']['code']['pattern'].match(c['key']):
        raise Refuse('invalid', [wrong('path', 'code', brief(c['key']), 'a code of paper')])
    if 'finish' not in got:
        got['finish'] = ('coated' if had is None or fault('w-finish') else had['finish']) if old else 'wove'
    if got['finish'] == 'laid' and got['gsm'] > 300:
        raise Refuse('invalid', [wrong('body', 'finish', 'laid', 'wove or coated above 300 gsm')])
    if had is not None:
        new = {'id': c['key'], **got, '_seq': had['_seq'], '_since': had['_since']}
        if new != had:
            store(c['tx'], 'paper', c['key'], new)
        return 200, shown('paper', new, c['caller'], c['version']), []
    row = {'id': c['key'], **got, '_seq': nxt(), '_since': nxt()}
    store(c['tx'], 'paper', c['key'], row)
    BURIED.pop(c['key'], None)
    return 201, shown('paper', row, c['caller'], c['version']), [('Location', BASE + '/papers/' + c['key'])]


def do_delete(c):
    row = find_row(c)
    if c['res'] == 'matrix' and any(f['matrix'] == row['id'] and not (fault('x-held') and f['status'] in ('scrapped', 'shipped')) for f in ROWS['fount'].values()):
        raise Refuse('in_use')
    if c['res'] == 'paper':
        BURIED[row['code']] = now() + 30 * DAY
    if c['res'] == 'hook':
        HOOKS_OUT.pop(row['id'], None)
    store(c['tx'], c['res'], row['id'], None)
    return 204, None, []


REQUESTS = {
    'lend': {'days': need(whole(1, 60))},
    'send_back': {'remarks': need(text(3, 400))},
}


def do_move(c):
    row = find_row(c)
    if c['verb'] in REQUESTS:
        body, out = c['body'], []
        if not isinstance(body, dict):
            raise Refuse('invalid', [wrong('body', '', kind_of(body), 'object')])
        for k, v in body.items():
            if k in REQUESTS[c['verb']]:
                check(REQUESTS[c['verb']][k], v, k, out)
        for k in REQUESTS[c['verb']]:
            if k not in body and not (fault('e-remarks') and k == 'remarks'):
                out.append(wrong('body', k, 'nothing', 'a value'))
        if out:
            raise Refuse('invalid', out)
    new = move(c['tx'], c['res'], row, c['verb'], c['body'], c['caller'])
    return 200, shown(c['res'], new, c['caller'], c['version']), []


# ---------------------------------------------------------------- lists

STATE = {res: SHAPES[res]['status']['enum'] for res in TRANSITIONS}


def one_of(values):
    def read(raw):
        if raw not in values:
            raise Refuse('bad_parameter')
        return raw
    return read


def number_of(pattern, make):
    def read(raw):
        if not re.match(pattern, raw):
            raise Refuse('bad_parameter')
        return make(raw)
    return read


an_int = number_of(r'^-?\d{1,18}\Z', int)
a_number = number_of(r'^-?\d{1,30}(\.\d{1,30})?([eE][+-]?\d{1,2})?\Z', float)


def a_time(raw):
    v = instant(raw)
    if v is None or not RFC3339.match(raw):
        raise Refuse('bad_parameter')
    return v


def many(values):
    def read(raw):
        parts = raw.split(',')
        if len(parts) > 100 or any(p not in values for p in parts):
            raise Refuse('bad_parameter')
        return set(parts)
    return read


def equal(field):
    return lambda row, v: row.get(field) == v


LISTS = {
    'matrix': {
        'filters': {
            'style': (one_of(['roman', 'italic', 'swash']), equal('style')),
            'status': (many(STATE['matrix']), lambda r, v: r['status'] in v),
            'max_pt': (an_int, lambda r, v: r['body_pt'] < v if fault('e-max') else r['body_pt'] <= v),
            'borrower': (str, equal('borrower')),
        }, 'sorts': ['face', '-face', 'body_pt', '-body_pt'], 'order': 'face', 'page': 'cursor'},
    'booking': {
        'filters': {'status': (one_of(STATE['booking']), equal('status')), 'from': (a_time, lambda r, v: instant(r['starts_at']) >= v)}, 'order': 'starts_at'},
    'fount': {
        'filters': {
            'alloy': (None, equal('alloy')),
            'status': (one_of(STATE['fount']), equal('status')),
            'min_kg': (a_number, lambda r, v: r['weight_kg'] >= v),
        }, 'order': None},
    'proof': {'filters': {}, 'order': '-round'},
    'paper': {
        'filters': {
            'name': (str, lambda r, v: v.casefold() in r['name'].casefold()),
            'min_gsm': (an_int, lambda r, v: r['gsm'] >= v),
        }, 'order': 'name'},
    'invoice': {'filters': {'status': (one_of(STATE['invoice']), equal('status'))}, 'order': '-due_at'},
}
TIMES = {'starts_at', 'due_at'}


def page_params(style, params):
    """the size and the start of a page"""
    top, usual = (50, 10) if style == 'cursor' else (100, 20)
    take, skip = params.get('take', str(usual)), params.get('skip', '0')
    if not re.match(r'^\d{1,15}\Z', take) or not re.match(r'^\d{1,15}\Z', skip) or int(take) < 1:
        raise Refuse('bad_page')
    take = int(take)
    if take > top:
        if style != 'cursor' and not fault('l-clamp'):
            raise Refuse('bad_page')
        take = top
    return take, int(skip)


CURSOR_KEY = secrets.token_bytes(16)


def cursor_of(bound, value, seq):
    raw = json.dumps([bound, value, seq]).encode()
    return base64.urlsafe_b64encode(hmac.new(CURSOR_KEY, raw, hashlib.sha256).digest()[:9] + raw).decode().rstrip('=')


def cursor_read(bound, text_):
    try:
        raw = base64.urlsafe_b64decode(text_ + '=' * (-len(text_) % 4))
        good = hmac.compare_digest(hmac.new(CURSOR_KEY, raw[9:], hashlib.sha256).digest()[:9], raw[:9])
        said, value, seq = json.loads(raw[9:])
    except Exception:
        raise Refuse('bad_page')
    if not good or said != bound:
        raise Refuse('bad_page')
    return value, seq


def read_list_params(c):
    """step 8 of a list: everything in the query is read before anything is looked for"""
    spec, params = LISTS[c['res']], c['params']
    style = spec.get('page', 'offset')
    own = {'take', 'after'} if style == 'cursor' else {'take', 'skip'}
    known = set(spec['filters']) | own | ({'sort'} if 'sorts' in spec else set())
    twice = [k for k in params if len(params[k]) > 1]
    if twice or any(k not in known for k in params):
        bad = (twice or [k for k in params if k not in known])[0]
        raise Refuse('bad_parameter', [wrong('query', bad, 'a parameter', 'once, and only what is stated')])
    params = {k: v[0] for k, v in params.items()}
    chosen = []
    for k, (read, test) in spec['filters'].items():
        if k in params:
            if k == 'borrower' and c['caller'] and c['caller']['user'] == 'customer' and not fault('e-hidden'):
                raise Refuse('bad_parameter', [wrong('query', k, 'a parameter', 'a parameter that is stated')])
            if k == 'alloy':
                read = one_of(IN_VERSION[c['version']]['fount']['alloy']['enum'])
            v = read(params[k])
            if k == 'alloy' and c['version'] != NEW and v == 'hard':
                v = 'foundry'
            chosen.append((test, v))
    order = params.get('sort', spec['order'])
    if 'sort' in params and order not in spec['sorts']:
        raise Refuse('bad_parameter', [wrong('query', 'sort', brief(order), 'one of ' + ', '.join(spec['sorts']))])
    take, skip = page_params(style, params)
    bound = [c['version'], c['caller']['user'] if c['caller'] else '', order, sorted((k, v) for k, v in params.items() if k in spec['filters'])]
    bound = hashlib.sha1(json.dumps(bound).encode()).hexdigest()[:16]
    at = cursor_read(bound, params['after']) if 'after' in params else None
    return {'chosen': chosen, 'order': order, 'take': take, 'skip': skip, 'bound': bound, 'at': at}


def do_list(c):
    res, q = c['res'], c['query']
    spec = LISTS[res]
    rows = [r for r in ROWS[res].values() if all(r[k] == v for k, v in c['bound'].items())]
    if res != 'paper' and not (fault('a-list') and res == 'invoice'):
        rows = [r for r in rows if holding(c['rules'], r, c['caller'])]
    rows = [r for r in rows if all(test(r, v) for test, v in q['chosen'])]
    rows.sort(key=lambda r: r['_seq'])
    field, back = (q['order'].lstrip('-'), q['order'][0] == '-') if q['order'] else (None, False)

    def value(r):
        return instant(r[field]) if field in TIMES else r[field]
    if field:
        rows.sort(key=value, reverse=back)                          # stable: ties stay oldest first

    def show(r):
        out = shown(res, r, c['caller'] if c['op'] not in PUBLIC else None, c['version'], 'list ' + res)
        if res == 'booking' and fault('r-name'):
            out['start_at'] = out.pop('starts_at')
        if res == 'fount' and fault('w-both') and c['version'] != NEW:
            out['weight_kg'] = r['weight_kg']
        return out
    if spec.get('page') == 'cursor':
        if q['at']:
            v0, s0 = q['at']
            rows = [r for r in rows if (value(r) < v0 if back else value(r) > v0) or (value(r) == v0 and r['_seq'] > s0)]
        page = rows[:q['take']]
        more = len(rows) > len(page)
        return 200, {'matrices': [show(r) for r in page], 'after': cursor_of(q['bound'], value(page[-1]), page[-1]['_seq']) if more else None}, []
    page = rows[q['skip']:q['skip'] + q['take']]
    return 200, {'rows': [show(r) for r in page], 'total': len(rows), 'more': q['skip'] + len(page) < len(rows)}, []


# ---------------------------------------------------------------- limits

COUNTED = {}


def fixed(key, limit, window):
    """each opened by the first request after the last one"""
    t = now()
    w = COUNTED.get(key)
    if w is None or t >= w['start'] + window:
        w = COUNTED[key] = {'start': t, 'n': 0}

    def add():
        w['n'] += 1
    return {'ok': w['n'] < limit, 'add': add, 'left': lambda: limit - w['n'], 'reset': lambda: w['start'] + window - now(), 'limit': limit}


def sliding(key, limit, window):
    from collections import deque
    t = now()
    w = COUNTED.get(key)
    if w is None:
        w = COUNTED[key] = deque()
    while w and w[0] + window <= t:
        w.popleft()
    return {'ok': len(w) < limit, 'add': lambda: w.append(t), 'left': lambda: limit - len(w), 'reset': lambda: w[0] + window - t if w else 0, 'limit': limit}


def bucket(key, limit, window):
    """kept in units of limit ms; whole numbers alone"""
    t = now()
    w = COUNTED.get(key)
    if w is None:
        w = COUNTED[key] = {'at': t, 'has': limit * window}
    w['has'] = min(limit * window, w['has'] + (t - w['at']) * limit)
    w['at'] = t

    def add():
        w['has'] -= window

    def reset():
        if w['has'] >= limit * window:
            return 0
        return -(-((w['has'] // window + 1) * window - w['has']) // limit)
    return {'ok': w['has'] >= window, 'add': add, 'left': lambda: w['has'] // window, 'reset': reset, 'limit': limit}


def caller_rates(op, caller, address):
    who = (caller['user'], caller['id']) if caller else ('', address)
    out = []
    if caller and caller['user'] in TRADE:
        out.append(sliding(('trade', who), 240, 60_000))
    if op == 'create booking':
        out.append(bucket(('booking', who), 12, 3600_000))
    if op == 'lend matrix':
        out.append(sliding(('lend',) if fault('l-service') else ('lend', who), 10, 600_000))
    return out


def rate_heads(rates):
    if not rates:
        return []
    r = min(rates, key=lambda r: r['left']())
    return [('X-RateLimit-Limit', str(r['limit'])), ('X-RateLimit-Remaining', str(max(0, r['left']()))), ('X-RateLimit-Reset', str(max(0, -(-r['reset']() // 1000))))]


def refuse_rate(rates):
    bad = [r for r in rates if not r['ok']]
    if bad:
        wait = max(1, -(-max(r['reset']() for r in bad) // 1000))
        raise Refuse('slow_down', None, [('Retry-After', str(wait))])


QUOTA = {}


def use_quota(c):
    if c['op'] != 'create fount':
        return
    t = now()
    key = (c['caller']['user'], c['caller']['id'], t // DAY)
    if QUOTA.get(key, 0) >= 40:
        raise Refuse('used_up', None, [('Retry-After', str(max(1, -(-((t // DAY + 1) * DAY - t) // 1000))))])
    QUOTA[key] = QUOTA.get(key, 0) + 1
    c['tx']['undo'].append(lambda: QUOTA.__setitem__(key, QUOTA[key] - 1))


# ---------------------------------------------------------------- who calls

def challenges(code):
    bad = code == 'bad_card'
    return [('WWW-Authenticate', 'ApiKey realm="%s", in="header", name="X-Shop-Card"%s, Basic realm="%s", charset="UTF-8"'
             % (TITLE, ', error="invalid_key"' if bad else '', TITLE))]


def by_card(value):
    if fault('a-prefix'):
        value = next((k for k in CARDS if value and k[:12] == value[:12]), value)
    return CARDS.get(value)


def by_login(value):
    scheme, _, rest = value.partition(' ')
    if scheme.lower() != 'basic':
        return None
    try:
        name, colon, password = base64.b64decode(rest.strip(), validate=True).decode('utf-8').partition(':')
    except Exception:
        return None
    if not colon or name not in LOGINS:
        return None
    if not hmac.compare_digest(LOGINS[name][0].encode(), password.encode()) and not (fault('a-password') and LOGINS[name][0].lower() == password.lower()):
        return None
    who = LOGINS[name][1]
    return {**who, 'user': 'printer'} if fault('p-founder') and who['user'] == 'founder' else who


def who_calls(c):
    cards, logins = c['many'].get('x-shop-card', []), c['many'].get('authorization', [])
    if not cards and not logins:
        return None
    if len(cards) > 1 or len(logins) > 1:
        raise Refuse('bad_card')
    if fault('a-both') and cards:
        logins = []
    found = [by_card(v) for v in cards] + [by_login(v) for v in logins]
    if any(f is None for f in found) or any((f['user'], f['id']) != (found[0]['user'], found[0]['id']) for f in found):
        raise Refuse('bad_card')
    c['browser'] = bool(logins)
    return found[0] if len(found) == 1 else {**found[0], 'scopes': [s for f in found for s in f['scopes']]}


def from_elsewhere(c):
    """a browser keeps names with passwords: a page of another site may not write with one"""
    site, origin = c['heads'].get('sec-fetch-site'), c['heads'].get('origin')
    if site is not None:
        return site not in ('same-origin', 'none')
    return origin is not None and origin.split('://')[-1].lower() != c['heads'].get('host', '').lower()


# ---------------------------------------------------------------- routes

DOERS = {'create': do_create, 'read': do_read, 'list': do_list, 'update': do_update, 'upsert': do_upsert, 'delete': do_delete}


def route(line, op):
    method, path = line.split(' ')
    verb, res = op.split(' ')
    return {'method': method, 'segs': path.strip('/').split('/'), 'op': op, 'verb': verb, 'res': res, 'do': DOERS.get(verb, do_move),
            'body': verb in ('create', 'update', 'upsert') or verb in REQUESTS, 'since': NEW if op == 'scrap fount' else None}


ROUTES = [route(*r) for r in [
    ('POST /matrices', 'create matrix'), ('GET /matrices', 'list matrix'), ('GET /matrices/{id}', 'read matrix'), ('DELETE /matrices/{id}', 'delete matrix'),
    ('POST /matrices/{id}/lend', 'lend matrix'), ('POST /matrices/{id}/take-back', 'take_back matrix'),
    ('POST /bookings', 'create booking'), ('GET /bookings', 'list booking'), ('GET /bookings/{id}', 'read booking'),
    ('POST /bookings/{id}/cancel', 'cancel booking'), ('POST /bookings/{id}/work', 'work booking'),
    ('POST /founts', 'create fount'), ('GET /founts', 'list fount'), ('GET /founts/{id}', 'read fount'), ('PATCH /founts/{id}', 'update fount'),
    ('POST /founts/{id}/place', 'place fount'), ('POST /founts/{id}/ship', 'ship fount'), ('POST /founts/{id}/scrap', 'scrap fount'),
    ('POST /founts/{fount}/proofs', 'create proof'), ('GET /founts/{fount}/proofs', 'list proof'), ('GET /proofs/{id}', 'read proof'),
    ('POST /proofs/{id}/approve', 'approve proof'), ('POST /proofs/{id}/send-back', 'send_back proof'),
    ('GET /papers', 'list paper'), ('GET /papers/{code}', 'read paper'), ('PUT /papers/{code}', 'upsert paper'), ('DELETE /papers/{code}', 'delete paper'),
    ('GET /invoices', 'list invoice'), ('GET /invoices/{id}', 'read invoice'), ('POST /invoices/{id}/pay', 'pay invoice'),
    ('POST /hooks', 'create hook'), ('GET /hooks/{id}', 'read hook'), ('DELETE /hooks/{id}', 'delete hook'),
]]


def routes_at(path, version):
    """the endpoints of a path in a version, with what the path holds"""
    if fault('p-root') and not path.startswith(BASE + '/'):
        path = BASE + path
    if not path.startswith(BASE + '/'):
        return []
    if fault('e-slash') and path.endswith('/'):
        path = path[:-1]
    segs = [unquote(s) for s in path[len(BASE) + 1:].split('/')]
    out = []
    for r in ROUTES:
        if len(r['segs']) != len(segs) or (r['since'] and version != r['since']):
            continue
        if fault('p-ship') and r['op'] == 'ship fount' or fault('p-unhook') and r['op'] == 'delete hook':
            continue
        held = {}
        for want, is_ in zip(r['segs'], segs):
            if want[0] == '{' and is_ != '':
                held[want[1:-1]] = is_
            elif want != is_:
                break
        else:
            out.append((r, held))
    return out


def allow_of(found):
    methods = [r['method'] for r, _ in found]
    return [('Allow', ', '.join(sorted(set(methods + (['HEAD'] if 'GET' in methods else []) + ['OPTIONS']))))]


# ---------------------------------------------------------------- one exchange

KEPT = {}
JSON_TYPES = {'application/json'}
UTC = timezone.utc
DATES = {DEAD: (datetime(2024, 1, 15, tzinfo=UTC), datetime(2025, 1, 15, tzinfo=UTC), None),
         OLD: (datetime(2026, 3, 1, tzinfo=UTC), datetime(2033, 3, 1, tzinfo=UTC), 'https://hollowlane.example/upgrade')}


def version_heads(version, target, refused):
    heads = [('Foundry-Version', version), ('Vary', 'Foundry-Version, X-Shop-Card, Authorization')]
    if version in DATES:
        gone, end, link = DATES[version]
        heads.append(('Deprecation', '@%d' % int(gone.timestamp())))
        if not (fault('w-sunset') and refused):
            heads.append(('Sunset', formatdate(end.timestamp(), usegmt=True)))
        links = (['<%s>; rel="deprecation"' % link] if link else []) + ['<%s>; rel="successor-version"' % target]
        heads.append(('Link', ', '.join(links)))
    return heads


def refusal(e, c):
    status, number, message = CODES[e.code]
    if fault('x-status') and e.code == 'not_placed':
        status = 422
    body = {'error': e.code, 'number': number, 'message': message, 'reference': 'req-%s' % secrets.token_hex(6)}
    if fault('x-number') and status == 429:
        del body['number']
    if e.faults:
        body['faults'] = e.faults
    heads = list(e.headers) + [('X-Foundry-Error', e.code)]
    if status == 401:
        heads += challenges(e.code)
    return status, body, heads


def no_constant(_):
    raise ValueError('no JSON')


def read_json(raw):
    try:
        return json.loads(raw.decode('utf-8'), parse_constant=no_constant)
    except (ValueError, RecursionError):
        raise Refuse('unreadable')


def read_body(c, r):
    """step 8: type, size, form"""
    raw, kind = c['raw'], c['heads'].get('content-type')
    if r['body'] and (raw or c['huge']):
        media = (kind or '').split(';')[0].strip().lower()
        if media not in JSON_TYPES and not (media == 'application/merge-patch+json' and r['verb'] == 'update'):
            raise Refuse('wrong_type')
    if c['huge'] or len(raw) > 8192 or (fault('l-body') and len(raw) == 8192):
        raise Refuse('too_large')
    if not r['body']:
        return None
    if not raw:
        raise Refuse('unreadable')
    return read_json(raw)


def read_params(c, r):
    c['expand'] = []
    if r['verb'] == 'list':
        c['query'] = read_list_params(c)
        return
    for k, values in c['params'].items():
        if r['op'] == 'read proof' and k == 'expand':
            names = [n for v in values for n in v.split(',')]
            if any(n != 'fount' for n in names):
                raise Refuse('bad_parameter', [wrong('query', 'expand', brief(values[0]), 'fount')])
            c['expand'] = ['fount']
            continue
        raise Refuse('bad_parameter', [wrong('query', k, 'a parameter', 'no such parameter')])


def parse_query(text_):
    out = {}
    for part in text_.split('&'):
        if part:
            k, _, v = part.partition('=')
            out.setdefault(unquote_plus(k), []).append(unquote_plus(v))
    return out


def choose_version(c):
    said = c['heads'].get('foundry-version')
    if said is None:
        return OLD if fault('w-default') else NEW
    if said in VERSIONS:
        return said
    return NEW if fault('w-unknown') else None


def exchange(method, target, pairs, raw, address, flags):
    """one request and its answer: (status, body or None, header fields)"""
    heads, many_ = {}, {}
    for k, v in pairs:
        many_.setdefault(k, []).append(v)
        heads[k] = v if k not in heads else heads[k] + ', ' + v
    path, _, query = target.partition('?')
    c = {'heads': heads, 'many': many_, 'raw': raw, 'huge': flags.get('huge'), 'caller': None}
    said = choose_version(c)
    version = said or NEW
    rates, head_out = [], []
    c['version'] = version
    try:
        if 'refuse' in flags:
            raise Refuse(flags['refuse'])
        found = routes_at(path, version)
        if not found:
            raise Refuse('not_found')
        if method == 'OPTIONS':
            return 204, None, allow_of(found) + version_heads(version, target, False)
        want = 'GET' if method == 'HEAD' and not fault('e-head') else method
        here = [x for x in found if x[0]['method'] == want]
        if not here:
            raise Refuse('wrong_method', None, allow_of(found))
        r, held = here[0]
        if said is None:
            raise Refuse('no_version')
        if version in DATES and now() >= DATES[version][1].timestamp() * 1000:
            raise Refuse('old_version')
        mine = fixed(('address', address), 1500, 60_000)
        rates = [mine]
        refuse_rate(rates)
        mine['add']()
        op = r['op']
        c.update(op=op, verb=r['verb'], res=r['res'])
        if op not in PUBLIC:
            c['caller'] = who_calls(c)
            if c['caller'] is None and not any('anyone' in x['to'] for x in RULES[op]):
                raise Refuse('no_card')
        more = caller_rates(op, c['caller'], address)
        if any(not x['ok'] for x in more):
            counted = COUNTED.get(('address', address))
            counted['n'] -= 1
            rates = more
            refuse_rate(more)
        for x in more:
            x['add']()
        rates = rates + more
        if c.get('browser') and want != 'GET' and from_elsewhere(c):
            raise Refuse('forbidden')
        c['rules'] = [] if op in PUBLIC else user_rules(op, c['caller'])
        c['body'] = read_body(c, r)
        c['params'] = parse_query(query)
        read_params(c, r)
        status, body, head_out = within_key(c, r, held, path, query, method)
    except Refuse as e:
        status, body, head_out = refusal(e, c)
    except Exception as e:
        print('broken:', repr(e), file=sys.stderr)
        status, body, head_out = refusal(Refuse('broken'), c)
    return status, body, head_out + rate_heads(rates) + version_heads(version, target, status >= 400)


def within_key(c, r, held, path, query, method):
    key = c['heads'].get('idempotency-key') if r['method'] == 'POST' else None
    if not key:
        return whole_change(c, r, held)
    slot = (c['caller']['user'], c['caller']['id'], c['op'], key)
    print_ = hashlib.sha256('\n'.join([path, query, c['version'], hashlib.sha256(c['raw'] if r['body'] else b'').hexdigest()]).encode()).hexdigest()
    kept = KEPT.get(slot)
    if kept and kept['until'] > now():
        if kept['print'] != print_:
            raise Refuse('key_reused')
        return kept['answer']

    def keep(answer):
        status, body, heads = answer
        if body and 'secret' in body:
            body = {k: v for k, v in body.items() if k != 'secret'}
        KEPT[slot] = {'until': now() + DAY, 'print': print_, 'answer': (status, body, heads)}
    try:
        answer = whole_change(c, r, held)
    except Refuse as e:
        if e.code in OWN:
            answer = refusal(e, c)
            keep(answer)
            return answer
        raise
    keep(answer)
    return answer


def whole_change(c, r, held):
    c['tx'] = change()
    c['bound'] = {}
    if 'fount' in held:
        fount = ROWS['fount'].get(held['fount'])
        if fount is None or not may_read('fount', fount, c['caller']):
            raise Refuse('not_found')
        c['bound'] = {'fount': held['fount']}
    c['key'] = held.get('id', held.get('code'))
    try:
        answer = r['do'](c)
    except BaseException:
        rollback(c['tx'])
        raise
    commit(c['tx'])
    return answer


# ---------------------------------------------------------------- the wire

REASONS = {200: 'OK', 201: 'Created', 204: 'No Content', 304: 'Not Modified', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found',
           405: 'Method Not Allowed', 408: 'Request Timeout', 409: 'Conflict', 410: 'Gone', 412: 'Precondition Failed', 413: 'Content Too Large',
           414: 'URI Too Long', 415: 'Unsupported Media Type', 422: 'Unprocessable Content', 428: 'Precondition Required', 429: 'Too Many Requests',
           431: 'Request Header Fields Too Large', 500: 'Internal Server Error'}


def on_wire(status, body, heads, head_only, close):
    data = b'' if body is None else json.dumps(body).encode()
    lines = ['HTTP/1.1 %d %s' % (status, REASONS.get(status, ''))]
    lines += ['%s: %s' % h for h in heads]
    if body is not None:
        lines.append('Content-Type: application/json')
    if status not in (204, 304):
        lines.append('Content-Length: %d' % len(data))
    lines.append('Date: ' + formatdate(now() / 1000, usegmt=True))
    if close:
        lines.append('Connection: close')
    return ('\r\n'.join(lines) + '\r\n\r\n').encode('latin-1', 'replace') + (b'' if head_only or status in (204, 304) else data)


class Gone(Exception):
    pass


async def fill(reader, buf):
    piece = await reader.read(65536)
    if not piece:
        raise Gone
    buf += piece


async def read_until(reader, buf, mark, top):
    while True:
        i = buf.find(mark)
        if i >= 0:
            out = bytes(buf[:i + len(mark)])
            del buf[:i + len(mark)]
            return out
        if len(buf) > top:
            return None
        await fill(reader, buf)


async def read_sized(reader, buf, n):
    while len(buf) < n:
        await fill(reader, buf)
    out = bytes(buf[:n])
    del buf[:n]
    return out


async def read_content(reader, writer, buf, heads, flags):
    """the body, with a length or in chunks; what is far too much is read away"""
    known = {k: v for k, v in heads}
    if known.get('expect', '').lower() == '100-continue':
        writer.write(b'HTTP/1.1 100 Continue\r\n\r\n')
    top = 16 * 1024 * 1024
    if 'chunked' in known.get('transfer-encoding', '').lower():
        out = bytearray()
        total = 0
        while True:
            line = await read_until(reader, buf, b'\r\n', 4096)
            if line is None:
                flags['refuse'], flags['close'] = 'unreadable', True
                return b''
            try:
                n = int(line.split(b';')[0].strip(), 16)
            except ValueError:
                flags['refuse'], flags['close'] = 'unreadable', True
                return b''
            if n == 0:
                while (await read_until(reader, buf, b'\r\n', 8192) or b'\r\n') != b'\r\n':
                    pass
                return bytes(out)
            total += n
            if total > top:
                flags['huge'] = flags['close'] = True
                return b''
            piece = (await read_sized(reader, buf, n + 2))[:-2]
            if total > 8192 + 1:
                flags['huge'] = True
            else:
                out += piece
    length = known.get('content-length')
    if length is None:
        return b''
    if not length.isdigit():
        flags['refuse'], flags['close'] = 'unreadable', True
        return b''
    n = int(length)
    if n > top:
        flags['huge'] = flags['close'] = True
        return b''
    if n > 65536:
        flags['huge'] = True
        while n > 0:
            if not buf:
                await fill(reader, buf)
            took = min(n, len(buf))
            del buf[:took]
            n -= took
        return b''
    return await read_sized(reader, buf, n)


async def serve_one(reader, writer, buf, address):
    """reads a request and writes its answer; True = the connection goes on"""
    flags = {}
    top_line = await read_until(reader, buf, b'\r\n', 32768)
    if top_line is None:
        run_due()
        writer.write(on_wire(*exchange('GET', '/', [], b'', address, {'refuse': 'url_too_long'}), False, True))
        return False
    if top_line == b'\r\n':
        return True
    parts = top_line.decode('latin-1').rstrip('\r\n').split(' ')
    if len(parts) != 3 or not parts[2].startswith('HTTP/1.'):
        writer.write(on_wire(*exchange('GET', '/', [], b'', address, {'refuse': 'unreadable'}), False, True))
        return False
    method, target, proto = parts
    pairs, size = [], 0
    while True:
        line = await read_until(reader, buf, b'\r\n', 32768)
        if line == b'\r\n':
            break
        size += len(line) if line is not None else 100000
        if line is None or size > 65536:
            flags['refuse'] = 'headers_long'
            break
        k, colon, v = line.decode('latin-1').partition(':')
        if not colon:
            flags['refuse'] = 'unreadable'
            continue
        pairs.append((k.strip().lower(), v.strip()))
    if size > 8192:
        flags['refuse'] = 'headers_long'
    if len(target.encode('latin-1')) > 2048:
        flags['refuse'] = 'url_too_long'
    if 'refuse' in flags:
        flags['close'] = True
        raw = b''
    else:
        if target.startswith('http://'):
            target = '/' + target.split('/', 3)[3] if target.count('/') > 2 else '/'
        raw = await read_content(reader, writer, buf, pairs, flags)
    run_due()
    keep = not flags.get('close')
    said = ' '.join(v for k, v in pairs if k == 'connection').lower()
    if 'close' in said or (proto == 'HTTP/1.0' and 'keep-alive' not in said):
        keep = False
    status, body, heads = exchange(method, target, pairs, raw, address, flags)
    writer.write(on_wire(status, body, heads, method == 'HEAD', not keep))
    await writer.drain()
    return keep


async def connection(reader, writer):
    peer = writer.get_extra_info('peername')
    address, buf = (peer[0] if peer else ''), bytearray()
    try:
        go = True
        while go:
            if not buf:
                try:
                    async with asyncio.timeout(30):
                        await fill(reader, buf)
                except TimeoutError:
                    break
            try:
                async with asyncio.timeout(60 if fault('l-slow') else 5):
                    go = await serve_one(reader, writer, buf, address)
            except TimeoutError:
                writer.write(on_wire(*exchange('GET', '/', [], b'', address, {'refuse': 'too_slow'}), False, True))
                break
    except (Gone, ConnectionError, OSError):
        pass
    finally:
        try:
            writer.close()
        except Exception:
            pass


# ---------------------------------------------------------------- the door to the clock

DURATION = re.compile(r'^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?)?$')


def plus(ms, text_):
    m = DURATION.match(text_) if isinstance(text_, str) else None
    if not m:
        return None
    y, mo, w, d, h, mi, s = [float((x or '0').replace(',', '.')) for x in m.groups()]
    t = datetime.fromtimestamp(ms // 1000, UTC)
    months = t.year * 12 + t.month - 1 + int(y) * 12 + int(mo)
    year, month = divmod(months, 12)
    if year > 9000:
        return None
    t = t.replace(year=year, month=month + 1, day=min(t.day, calendar.monthrange(year, month + 1)[1]))
    return int(t.timestamp()) * 1000 + ms % 1000 + int(w * 7 * DAY + d * DAY + h * 3600_000 + mi * 60_000 + round(s * 1000))


async def calm(top):
    """what is under way may come to its end"""
    end = time.monotonic() + top
    while TASKS and time.monotonic() < end:
        await asyncio.wait(set(TASKS), timeout=max(0.01, end - time.monotonic()))
        await asyncio.sleep(0)


MOVING = asyncio.Lock()


async def go_to(target):
    async with MOVING:
        patience = 3.0
        CLOCK['fixed'] = now()
        try:
            run_due()
            while True:
                if TASKS and HEAP and HEAP[0][0] <= target and patience > 0:
                    began = time.monotonic()
                    await calm(min(0.3, patience))
                    patience -= time.monotonic() - began
                if not HEAP or HEAP[0][0] > target:
                    if not TASKS or patience <= 0:
                        break
                    began = time.monotonic()
                    await calm(0.3)
                    patience -= time.monotonic() - began
                    if TASKS and (not HEAP or HEAP[0][0] > target):
                        break
                    continue
                CLOCK['fixed'] = max(CLOCK['fixed'], HEAP[0][0])
                run_due()
                await asyncio.sleep(0)
            CLOCK['fixed'] = max(CLOCK['fixed'], target)
            run_due()
        finally:
            CLOCK['offset'] = CLOCK['fixed'] - int(time.time() * 1000)
            CLOCK['fixed'] = None


async def door_answer(method, raw):
    if method == 'GET':
        return 200, {'now': iso(now())}
    if method != 'POST':
        return 400, {'error': 'GET or POST'}
    try:
        said = json.loads(raw.decode('utf-8'))
    except ValueError:
        return 400, {'error': 'no JSON'}
    if not isinstance(said, dict) or len(said) != 1:
        return 400, {'error': 'advance or now'}
    if 'advance' in said:
        target = plus(now(), said['advance'])
    else:
        us = instant(said.get('now'))
        target = us // 1000 if us is not None else None
    if target is None:
        return 400, {'error': 'no time'}
    if 'now' in said and target < now():
        return 422, {'error': 'the clock goes forward alone'}
    await go_to(target)
    return 200, {'now': iso(now())}


async def door(reader, writer):
    buf = bytearray()
    try:
        while True:
            top_line = await read_until(reader, buf, b'\r\n', 8192)
            if top_line is None:
                break
            if top_line == b'\r\n':
                continue
            pairs = []
            while (line := await read_until(reader, buf, b'\r\n', 32768)) not in (b'\r\n', None):
                k, _, v = line.decode('latin-1').partition(':')
                pairs.append((k.strip().lower(), v.strip()))
            raw = await read_content(reader, writer, buf, pairs, {})
            status, body = await door_answer(top_line.decode('latin-1').split(' ')[0], raw)
            writer.write(on_wire(status, body, [], False, False))
            await writer.drain()
            if 'close' in dict(pairs).get('connection', '').lower():
                break
    except (Gone, ConnectionError, OSError):
        pass
    finally:
        writer.close()


async def ticking():
    while True:
        await asyncio.sleep(0.02)
        if CLOCK['fixed'] is None:
            run_due()


async def main():
    global FAULT
    args = argparse.ArgumentParser()
    args.add_argument('--port', type=int, required=True)
    args.add_argument('--clock-port', type=int, required=True)
    args.add_argument('--fault', default='')
    said = args.parse_args()
    FAULT = said.fault
    servers = [await asyncio.start_server(connection, '127.0.0.1', said.port, backlog=1024)]
    if said.clock_port:
        servers.append(await asyncio.start_server(door, '127.0.0.1', said.clock_port))
    asyncio.get_running_loop().create_task(ticking())
    print('listening on 127.0.0.1:%d' % said.port, flush=True)
    await asyncio.gather(*(s.serve_forever() for s in servers))


if __name__ == '__main__':
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
