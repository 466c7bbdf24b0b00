#!/usr/bin/env python3
"""The hand paper mill at Weir End: the service of service.yaml, in memory."""
import argparse, base64, calendar, hashlib, hmac, heapq, http.client, json, math, re, secrets, socket
import string, sys, threading, time, traceback, uuid
from collections import deque
from datetime import datetime, timedelta, timezone
from email.utils import formatdate, parsedate_to_datetime
from urllib.parse import urlsplit, quote

ap = argparse.ArgumentParser()
ap.add_argument('--port', type=int, required=True)
ap.add_argument('--clock-port', type=int, required=True)
ap.add_argument('--fault', default='')
ARGS = ap.parse_args()


def F(name):
    return ARGS.fault == name


BASE = '/weir'
TITLE = 'The hand paper mill at Weir End'
LOCK = threading.RLock()
SECOND, MINUTE, HOUR, DAY = 1000, 60000, 3600000, 86400000

# ---------------------------------------------------------------- callers

CALLERS = []          # of each: user, id, scopes, attributes, scheme, credential


def known(user, id, scheme, credential, scopes, house):
    CALLERS.append({'user': user, 'id': id, 'scheme': scheme, 'credential': credential, 'scopes': scopes, 'house': house})


known('stationer', 's-ash', 'pass', 'wp_AshAshAshAshAshAshAshAsh0001', ['buying'], 'hollis')
known('stationer', 's-bell', 'pass', 'wp_BellBellBellBellBellBell0002', ['buying'], 'hollis')
known('stationer', 's-cole', 'pass', 'wp_ColeColeColeColeColeCole0003', ['buying'], 'pryor')
known('stationer', 's-dunn', 'pass', 'wp_DunnDunnDunnDunnDunnDunn0004', [], 'pryor')
known('stationer', 's-ede', 'badge', 'lb_EdeEdeEdeEdeEdeE0005', ['buying'], 'tuke')
known('vatman', 'v-elm', 'badge', 'lb_ElmElmElmElmElmE0006', [], 'mill')
known('vatman', 'v-fox', 'badge', 'lb_FoxFoxFoxFoxFoxF0007', [], 'mill')
known('vatman', 'v-gale', 'seal', 'key_gale:gale-0008-beats-the-rags-at-dawn', [], 'mill')
known('warden', 'w-hart', 'pass', 'wp_HartHartHartHartHartHart0009', [], 'mill')
known('warden', 'w-hart', 'badge', 'lb_HartHartHartHart0010', [], 'mill')
known('warden', 'w-iles', 'pass', 'wp_IlesIlesIlesIlesIlesIles0011', [], 'mill')
known('warden', 'w-iles', 'badge', 'lb_IlesIlesIlesIles0012', [], 'mill')
known('warden', 'w-jay', 'seal', 'key_jay:jay-0013-counts-the-reams-at-noon', [], 'mill')

BY_KEY = {(c['scheme'], c['credential']): c for c in CALLERS if c['scheme'] != 'seal'}
BY_SEAL = {c['credential'].split(':', 1)[0]: (c, c['credential'].split(':', 1)[1]) for c in CALLERS if c['scheme'] == 'seal'}

# ---------------------------------------------------------------- time


class Clock:
    def __init__(self):
        self.offset = 0
        self.still = None                             # one change has one time; set with the lock held

    def now(self):
        if self.still is not None:
            return self.still
        return int(time.time() * 1000) + self.offset

    def set(self, ms):
        if ms > self.now():
            self.offset += ms - self.now()


CLOCK = Clock()


def now():
    return CLOCK.now()


def stamp(ms):
    d = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=ms)
    return d.strftime('%Y-%m-%dT%H:%M:%S.') + '%03dZ' % (ms % 1000)


RFC3339 = re.compile(r'^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$')


def instant(text):
    m = RFC3339.match(text) if isinstance(text, str) else None
    if not m:
        return None
    try:
        sec = int(m.group(6))
        d = datetime(int(m.group(1)), int(m.group(2)), int(m.group(3)), int(m.group(4)), int(m.group(5)), min(sec, 59), tzinfo=timezone.utc)
        if sec > 60:
            return None
        ms = int((d - datetime(1970, 1, 1, tzinfo=timezone.utc)).total_seconds()) * 1000 + (1000 if sec == 60 else 0)
        if m.group(7):
            ms += int(float('0' + m.group(7)) * 1000)
        z = m.group(8)
        if z not in 'Zz':
            h, mi = int(z[1:3]), int(z[4:6])
            if h > 23 or mi > 59:
                return None
            ms -= (1 if z[0] == '+' else -1) * (h * HOUR + mi * MINUTE)
        return ms
    except ValueError:
        return None


def plus_months(ms, n):
    d = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=ms)
    k = d.year * 12 + d.month - 1 + n
    y, m = divmod(k, 12)
    d2 = d.replace(year=y, month=m + 1, day=min(d.day, calendar.monthrange(y, m + 1)[1]))
    return int((d2 - datetime(1970, 1, 1, tzinfo=timezone.utc)) / timedelta(milliseconds=1))


DURATION = re.compile(r'^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$')


def plus_duration(ms, text):
    m = DURATION.match(text)
    if not m or not any(g is not None for g in m.groups()) or text.endswith('T'):
        return None
    g = [float(x) if x else 0 for x in m.groups()]
    ms = plus_months(ms, int(g[0] * 12 + g[1]))
    return ms + int(g[2] * 7 * DAY + g[3] * DAY + g[4] * HOUR + g[5] * MINUTE + round(g[6] * 1000))


def day_of(y, m, d):
    return calendar.timegm((y, m, d, 0, 0, 0)) * 1000

# ---------------------------------------------------------------- refusals

CODES = {
    'illegible': (400, 'The form cannot be read.'), 'wrong_paper': (415, 'We read JSON.'), 'wrong_tongue': (406, 'We write JSON.'),
    'bad_question': (400, 'We cannot answer that.'), 'bad_leaf': (422, 'There is no such leaf.'), 'lacking': (422, 'Something is lacking.'),
    'unheard_of': (400, 'We know no such thing.'), 'amiss': (422, 'Something is amiss.'), 'who_goes': (401, 'Show a pass.'),
    'no_scope': (403, 'Your pass does not say so.'), 'not_you': (403, 'That is not for you.'), 'no_such': (404, 'There is no such thing.'),
    'burnt': (410, 'It was there and is no more.'), 'not_here': (405, 'That is not done here.'), 'lost_ref': (409, 'What it points to is not there.'),
    'held_fast': (409, 'Something still hangs on it.'), 'taken': (409, 'There is one already.'), 'not_now': (409, 'Not in this state.'),
    'miscounted': (422, 'The count does not agree.'), 'mould_unfit': (409, 'The mould is not ready.'), 'loft_full': (409, 'No rope is free there.'),
    'too_late': (409, 'It has been couched.'), 'thin_plate': (422, 'Paper as thin as this is not plated.'), 'altered': (412, 'It was altered meanwhile.'),
    'show_tag': (428, 'Say which one you have read.'), 'key_spent': (422, 'The key was used for something else.'), 'too_often': (429, 'Not so fast.'),
    'enough': (403, 'That is all for you.'), 'too_thick': (413, 'That is too much.'), 'too_long': (414, 'That is too long.'),
    'dawdled': (408, 'You took too long.'), 'no_edition': (400, 'There is no such folio.'), 'old_edition': (410, 'That folio is out of print.'),
    'spilt': (500, 'Something was spilt.'),
}
OWN = {'mould_unfit', 'loft_full', 'too_late', 'thin_plate'}


class Refused(Exception):
    def __init__(self, code, places=None, headers=None):
        self.code, self.places, self.headers = code, places or [], headers or {}


def shown(v):
    if v is MISSING:
        return 'nothing'
    t = v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)
    return t[:200]


MISSING = object()


def place(where, path, found, expected):
    return {'in': where, 'path': path, 'found': shown(found), 'expected': expected}

# ---------------------------------------------------------------- shapes


def is_int(v):
    return (isinstance(v, int) and not isinstance(v, bool)) or (isinstance(v, float) and v.is_integer())


def check(shape, v):
    """What is wrong with a value: None, or (kind, expected)."""
    t = shape.get('type')
    if t == 'string' and not isinstance(v, str):
        return 'type', 'a text'
    if t == 'integer' and not is_int(v):
        return 'type', 'a whole number'
    if t == 'number' and (isinstance(v, bool) or not isinstance(v, (int, float)) or not abs(v) < 1e12):
        return 'type', 'a number'
    if t == 'boolean' and not isinstance(v, bool):
        return 'type', 'true or false'
    if 'enum' in shape and v not in shape['enum']:
        return ('value' if isinstance(v, str) else 'type'), 'one of ' + ', '.join(shape['enum'])
    if 'minLength' in shape and len(v) < shape['minLength']:
        return 'value', 'at least %d characters' % shape['minLength']
    if 'maxLength' in shape and len(v) > shape['maxLength']:
        return 'value', 'at most %d characters' % shape['maxLength']
    if 'pattern' in shape and not shape['pattern'].search(v):
        return 'value', 'a text of the form ' + shape['pattern'].pattern
    if 'minimum' in shape and v < shape['minimum']:
        return 'value', 'at least %d' % shape['minimum']
    if 'maximum' in shape and v > shape['maximum']:
        return 'value', 'at most %d' % shape['maximum']
    if 'multipleOf' in shape and v % shape['multipleOf']:
        return 'value', 'a multiple of %d' % shape['multipleOf']
    if shape.get('format') == 'uri':
        try:
            u = urlsplit(v)
            good = bool(re.match(r'^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]+$', v)) and v.isascii()
            if good and (u.scheme.lower() not in ('http', 'https') or not u.hostname):
                good = False
            u.port
        except ValueError:
            good = False
        if not good:
            return 'value', 'an address that begins with http or https'
    return None


def rx(p):
    return re.compile(p, re.ASCII)


KINDS = ['order.placed', 'order.resized', 'order.dried', 'order.void', 'mould.worn', 'subscription.renewed', 'subscription.nearing', 'hook.silenced']
KIND_WORDS = set(KINDS) | {k.split('.')[0] + '.*' for k in KINDS} | {'*'}

# of each field: its shape, and ro (read-only), imm, default, ref, opt (optional), visible, writable
STR, INT = {'type': 'string'}, {'type': 'integer'}
CODE = rx(r'^[A-Z]{2}-[0-9]{3}\Z') if not F('loose-code') else rx(r'^[A-Z]{2}-[0-9]{3}')
STAFF = ('vatman', 'warden')
FIELDS = {
    'watermark': {'device': {'type': 'string', 'minLength': 2, 'maxLength': 40}, 'kind': {'enum': ['line', 'shadow']}},
    'mould': {
        'code': {'type': 'string', 'pattern': CODE, 'id': True}, 'watermark': {'value': 'watermark'},
        'width_mm': {'type': 'integer', 'minimum': 80, 'maximum': 900}, 'height_mm': {'type': 'integer', 'minimum': 80, 'maximum': 900},
        'wire': {'enum': ['laid', 'wove'], 'imm': True},
        'shelf': {'type': 'string', 'pattern': rx(r'^[A-Z][0-9]{1,3}\Z'), 'visible': STAFF, 'opt': True},
        'condition': {'enum': ['ready', 'worn', 'mending', 'retired'], 'ro': True}, 'made': {'type': 'integer', 'ro': True},
        'changed_at': {'type': 'string', 'ro': True}},
    'proof': {
        'id': {'type': 'string', 'ro': True}, 'mould': {'type': 'string', 'ref': 'mould', 'imm': True}, 'number': {'type': 'integer', 'ro': True},
        'grade': {'enum': ['A', 'B', 'C']}, 'pulled_by': {'type': 'string', 'ro': True}},
    'loft': {
        'id': {'type': 'integer', 'ro': True}, 'name': {'type': 'string', 'minLength': 1, 'maxLength': 30},
        'ropes': {'type': 'integer', 'minimum': 1, 'maximum': 6}, 'on_view': {'type': 'boolean', 'default': False}, 'free': {'type': 'integer', 'ro': True}},
    'order': {
        'id': {'type': 'string', 'ro': True}, 'number': {'type': 'string', 'ro': True}, 'stationer': {'type': 'string', 'ro': True},
        'house': {'type': 'string', 'ro': True}, 'mould': {'type': 'string', 'ref': 'mould', 'imm': True},
        'sheets': {'type': 'integer', 'minimum': 25, 'maximum': 4000, 'multipleOf': 25},
        'weight_gsm': {'type': 'integer', 'minimum': 60, 'maximum': 600, 'default': 120},
        'finish': {'enum': ['waterleaf', 'sized', 'plated'], 'default': 'waterleaf'},
        'vat_note': {'type': 'string', 'maxLength': 120, 'visible': STAFF, 'writable': STAFF, 'opt': True},
        'loft': {'type': 'integer', 'ref': 'loft', 'ro': True, 'opt': True}, 'pence': {'type': 'integer', 'ro': True},
        'status': {'enum': ['drafted', 'ordered', 'couched', 'hung', 'dried', 'sent', 'void'], 'ro': True}},
    'subscription': {
        'id': {'type': 'string', 'ro': True}, 'stationer': {'type': 'string', 'ro': True}, 'house': {'type': 'string', 'ro': True},
        'mould': {'type': 'string', 'ref': 'mould', 'imm': True}, 'sheets': {'type': 'integer', 'minimum': 25, 'maximum': 4000, 'multipleOf': 25},
        'every': {'enum': ['month', 'quarter'], 'default': 'month'}, 'next_on': {'type': 'string', 'ro': True},
        'state': {'enum': ['running', 'paused', 'stopped'], 'ro': True}},
    'hook': {
        'id': {'type': 'string', 'ro': True}, 'owner': {'type': 'string', 'ro': True}, 'url': {'type': 'string', 'format': 'uri', 'maxLength': 200},
        'secret': {'type': 'string', 'ro': True, 'once': True, 'opt': True}, 'kinds': {'kinds': True, 'opt': True}, 'live': {'type': 'boolean', 'default': True}},
    'entry': {
        'id': {'type': 'string', 'ro': True}, 'kind': {'type': 'string', 'ro': True}, 'by': {'type': 'string', 'ro': True},
        'told': {'ro': True}, 'at': {'type': 'string', 'ro': True}},
}
IDENT = {r: 'id' for r in FIELDS}
IDENT['mould'] = 'code'

# ---------------------------------------------------------------- folios (versions)

FOLIOS = ['folio-1', 'folio-2', 'folio-3']
LINK_PAGE = '<https://mill.example/folios>; rel="deprecation"'


def edition_fields(resource, v):
    """The fields of a resource as a folio has them: name there -> (name here, shape there)."""
    out = {}
    for name, f in FIELDS[resource].items():
        there = name
        if resource == 'order' and v == 0:
            if name == 'sheets':
                there = 'quantity'
            if name == 'weight_gsm':
                continue
        if v < 2:
            if resource == 'order' and name == 'finish':
                f = {**f, 'enum': ['plain', 'sized', 'plated'], 'default': 'plain'}
            if resource == 'mould' and name == 'width_mm':
                f = {'type': 'number'}
        out[there] = (name, f)
    if v < 2 and resource == 'loft':
        out['floor'] = (None, {'type': 'string', 'opt': True})
    return out


def half_up(x):
    return int(math.floor(abs(x) + 0.5)) * (1 if x >= 0 else -1)


def up(resource, name, value, v):
    if v < 2:
        if resource == 'order' and name == 'finish' and value == 'plain':
            return 'waterleaf'
        if resource == 'mould' and name == 'width_mm':
            return half_up(float(value) * 10.0)
    return value


def down(resource, name, value, v):
    if v < 2:
        if resource == 'order' and name == 'finish' and value == 'waterleaf':
            return 'plain'
        if resource == 'mould' and name == 'width_mm':
            x = float(value) / 10.0
            return int(x) if x.is_integer() else x
    return value


def derived(resource, row):
    if resource == 'mould':
        states = ('couched', 'hung', 'dried') if F('made-forgets-sent') else ('couched', 'hung', 'dried', 'sent')
        return {'made': sum(o['sheets'] for o in DB['order'].values() if o['mould'] == row['code'] and o['status'] in states)}
    if resource == 'loft':
        return {'free': row['ropes'] - sum(1 for o in DB['order'].values() if o.get('loft') == row['id'] and o['status'] == 'hung')}
    return {}


def view(resource, row, user, v, expand=(), caller=None, once=False):
    """A row as a user is shown it in a folio."""
    full = {**row, **derived(resource, row)}
    out = {}
    for there, (here, f) in edition_fields(resource, v).items():
        if here is None:
            out[there] = 'top'
            continue
        if here not in full:
            continue
        if 'visible' in f and user not in f['visible'] and not (F('shelf-for-all') and here == 'shelf'):
            continue
        if f.get('once') and not once:
            continue
        value = full[here]
        if here in expand and f.get('ref'):
            target = DB[f['ref']].get(value)
            if target is not None and (may(caller, 'read ' + f['ref'], target) or F('expand-unread')):
                out[there] = view(f['ref'], target, user, v)
                continue
        out[there] = down(resource, here, value, v)
    return out


def dump(v):
    return json.dumps(v, ensure_ascii=False, separators=(',', ':')).encode()

# ---------------------------------------------------------------- permissions

RULES = []


def rule(ops, to, cond=None, scopes=()):
    for op in ops:
        RULES.append((op, to, cond, scopes))


def own(c, r):
    return r['stationer'] == c['id']


ALL = ['stationer', 'vatman', 'warden']
rule(['list mould', 'read mould'], ALL)
rule(['upsert mould', 'delete mould', 'retire mould'], ['warden'])
rule(['wear mould', 'mend mould'], ['vatman', 'warden'])
rule(['list proof', 'read proof'], ['vatman', 'warden'])
rule(['list proof', 'read proof'], ['stationer'], lambda c, r: r['grade'] != 'C')
rule(['create proof'], ['vatman'])
rule(['update proof'], ['vatman'], lambda c, r: r['pulled_by'] == c['id'])
rule(['list loft', 'read loft'], ['anyone'], lambda c, r: r['on_view'])
rule(['list loft', 'read loft'], ['vatman', 'warden'])
rule(['create loft', 'update loft', 'delete loft'], ['warden'])
rule(['create order'], ['stationer'])
rule(['list order', 'read order'], ['stationer'], lambda c, r: r['house'] == c['house'])
rule(['list order', 'read order'], ['vatman'], lambda c, r: r['status'] != 'drafted')
rule(['list order', 'read order', 'update order'], ['warden'])
rule(['update order', 'delete order', 'drop order'], ['stationer'],
     (lambda c, r: r['house'] == c['house']) if F('house-may-change') else own)
rule(['place order'], ['stationer'], own, ('buying',))
rule(['couch order', 'hang order'], ['vatman'])
rule(['send order'], ['vatman', 'warden'])
rule(['create subscription'], ['stationer'], None, ('buying',))
rule(['list subscription', 'read subscription', 'pause subscription', 'resume subscription', 'stop subscription'], ['stationer'], own)
rule(['list subscription', 'read subscription', 'stop subscription'], ['warden'])
rule(['create hook'], ['stationer', 'warden'])
rule(['list hook', 'read hook', 'update hook', 'delete hook'], ['stationer', 'warden'], lambda c, r: r['owner'] == c['id'])
rule(['list entry', 'read entry'], ['warden'])


def rules_for(caller, op):
    """The rules for this caller's user and this operation, and whether one goes without missing scopes."""
    mine = [r for r in RULES if r[0] == op and ('anyone' in r[1] or (caller and caller['user'] in r[1]))]
    held = [r for r in mine if all(s in (caller or {'scopes': []})['scopes'] for s in r[3])]
    return mine, held


def may(caller, op, row):
    return any(r[2] is None or r[2](caller, row) for r in rules_for(caller, op)[1])

# ---------------------------------------------------------------- what is stored

DB = {r: {} for r in FIELDS if r != 'watermark'}
BURNT = {}             # deleted orders: id -> (row, until)
COUNT = {}
SEQ = {}
SEQ_N = [0]
IDEM = {}
TIMERS = []
TIMER_N = [0]
WAKE = threading.Condition(LOCK)
HOOKS = {}             # of each hook: maker, folio, first failure, hold, lock


def put(resource, row):
    key = row[IDENT[resource]]
    if key not in DB[resource]:
        SEQ_N[0] += 1
        SEQ[resource, key] = SEQ_N[0]
    DB[resource][key] = row


def draw(name):
    COUNT[name] = COUNT.get(name, 0) + 1
    return COUNT[name]


CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'


def ulid():
    n = (now() << 80) | secrets.randbits(80)
    return ''.join(CROCKFORD[(n >> (5 * i)) & 31] for i in range(25, -1, -1))


def letters(n, of=string.ascii_letters + string.digits):
    return ''.join(secrets.choice(of) for _ in range(n))


def timer(due, what):
    TIMER_N[0] += 1
    heapq.heappush(TIMERS, (due, TIMER_N[0], what))
    WAKE.notify_all()


def price(row):
    return row['sheets'] * {'waterleaf': 12, 'sized': 15, 'plated': 21}[row['finish']]


def months(every):
    return 1 if every == 'month' else 3


def later(ms, every):
    if F('month-of-30-days'):
        return ms + months(every) * 30 * DAY
    return plus_months(ms, months(every))


AFTER = {('order', 'hung'): (3 * DAY, 'dry'), ('order', 'drafted'): (10 * DAY, 'lapse'), ('mould', 'mending'): (2 * DAY, 'refit')}
STATE = {'mould': 'condition', 'order': 'status', 'subscription': 'state'}


def entered(resource, row):
    """A row has come into its state: what the clock will make of it."""
    row['~since'] = row.get('~since', 0) + 1
    rule_ = AFTER.get((resource, row[STATE[resource]]))
    if rule_:
        start = now()
        if F('dry-from-couch') and rule_[1] == 'dry':
            start = row.get('~couched', start)
        timer(start + rule_[0], ('after', resource, row[IDENT[resource]], row['~since'], rule_[1]))
    if F('dry-from-couch') and resource == 'order' and row['status'] == 'couched':
        row['~couched'] = now()


def dated(row):
    """A subscription has another date."""
    at = instant(row['next_on'])
    timer(at, ('renew', row['id'], row['next_on']))
    timer(at - (24 if F('nearing-a-day') else 48) * HOUR, ('nearing', row['id'], row['next_on']))


def plain(row):
    return {k: v for k, v in row.items() if not k.startswith('~')}


def store_changed(resource, row):
    if resource == 'mould':
        row['changed_at'] = stamp(now())
    if resource == 'order':
        row['pence'] = price(row)
    put(resource, row)


def make_order(values):
    row = {'id': 'ord_' + ulid(), 'number': None}
    row.update(values)
    row.setdefault('weight_gsm', 120)
    row.setdefault('finish', 'waterleaf')
    row['status'] = 'drafted'
    row['number'] = 'W-%05d' % draw('order')
    store_changed('order', row)
    entered('order', row)
    return row


def move(resource, row, to, name, caller, sets=None):
    """One transition: stores the row, tells of it, and does what follows."""
    before = dict(row)
    new = {**row, **(sets or {})}
    new[STATE[resource]] = to
    store_changed(resource, new)
    entered(resource, new)
    op = name + ' ' + resource
    if op == 'place order':
        emit('order.placed', resource, new, lambda u, v: view('order', new, u, v), caller)
    elif op == 'dry order':
        emit('order.dried', resource, new, lambda u, v: {'order': new['id'], 'loft': new.get('loft', 0), 'pence': new['pence']}, caller)
    elif op == 'drop order' or (op == 'lapse order' and not F('lapse-untold')):
        emit('order.void', resource, new, lambda u, v: new['id'], caller)
    elif op == 'wear mould':
        emit('mould.worn', resource, new, lambda u, v: view('mould', new, u, v), caller, lambda hook: 'owner' in hook)
    elif op == 'couch order':
        mould = DB['mould'][new['mould']]
        made = derived('mould', mould)['made']
        if F('wear-before'):
            made -= new['sheets']
        if made > 5000 and mould['condition'] == 'ready':
            move('mould', mould, 'worn', 'wear', caller)
    elif op == 'renew subscription':
        emit('subscription.renewed', resource, new, lambda u, v: view('subscription', new, u, v), caller)
        make_order({'stationer': new['stationer'], 'house': new['house'], 'mould': new['mould'], 'sheets': new['sheets']})
    if resource == 'subscription' and new['next_on'] != before['next_on']:
        dated(new)
    return new

# ---------------------------------------------------------------- events

DELIVERIES = {}        # (hook, resource, row) -> deque of deliveries, the first of which is on its way
BUSY = [0]


def emit(kind, resource, row, payload, caller, to=None):
    at = stamp(now())
    ticket = 'evt_' + letters(20)
    told = payload('warden', 2)
    put('entry', {'id': ticket, 'kind': kind, 'by': caller['id'] if caller else 'mill', 'told': {'payload': told}, 'at': at})
    for hook in list(DB['hook'].values()):
        if not hook['live']:
            continue
        wanted = hook.get('kinds')
        if wanted is not None and not any(w == '*' or w == kind or (w.endswith('.*') and kind.startswith(w[:-1])) for w in wanted):
            continue
        info = HOOKS[hook['id']]
        if to is not None:
            if not to(hook):
                continue
        elif not may(info['maker'], 'read ' + resource, row) and not F('told-to-strangers'):
            continue
        folio = 2 if F('told-in-newest') else info['folio']
        body = {'ticket': ticket, 'kind': kind, 'at': at, 'body': payload(info['maker']['user'], folio)}
        key = (hook['id'], resource, row[IDENT[resource]])
        queue = DELIVERIES.setdefault(key, deque())
        d = {'key': key, 'kind': kind, 'ticket': ticket, 'body': dump(body), 'tries': 0, 'hook': hook['id']}
        queue.append(d)
        if len(queue) == 1 or F('no-waiting-in-line'):
            timer(max(now(), info['hold']), ('deliver', d))


RETRY = [10 * SECOND, 5 * MINUTE, HOUR, 6 * HOUR, 24 * HOUR]


def attempt(d):
    """In a thread of its own: one try of a delivery."""
    try:
        with LOCK:
            hook = DB['hook'].get(d['hook'])
            info = HOOKS.get(d['hook'])
            if hook is None or not hook['live']:
                finish(d)
                return
            url, secret = hook['url'], hook['secret']
            t = str(now() // 1000)
            one = info['one'] if info['failing'] is not None else None
        if one:
            one.acquire()
        status, after = 0, None
        try:
            signed = d['ticket'].encode() + b'.' + t.encode() + b'.' + d['body']
            if F('sign-without-id'):
                signed = t.encode() + b'.' + d['body']
            mark = 't=%s,h=%s' % (t, hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest())
            u = urlsplit(url)
            kind = http.client.HTTPSConnection if u.scheme.lower() == 'https' else http.client.HTTPConnection
            con = kind(u.hostname, u.port, timeout=5)
            try:
                con.request('POST', (u.path or '/') + ('?' + u.query if u.query else ''), d['body'],
                            {'Content-Type': 'application/json', 'X-Mill-Kind': d['kind'], 'X-Mill-Mark': mark, 'User-Agent': 'paper-mill'})
                res = con.getresponse()
                status, after = res.status, res.getheader('Retry-After')
            finally:
                con.close()
        except Exception:
            status = 0
        finally:
            if one:
                one.release()
        with LOCK:
            outcome(d, status, after)
    except Exception:
        traceback.print_exc()
    finally:
        with LOCK:
            BUSY[0] -= 1
            WAKE.notify_all()


def outcome(d, status, after):
    hook, info = DB['hook'].get(d['hook']), HOOKS.get(d['hook'])
    if hook is None or info is None:
        finish(d)
        return
    if 200 <= status < 300 or (F('redirect-is-fine') and 300 <= status < 400):
        info['failing'] = None
        finish(d)
        return
    t = now()
    if info['failing'] is None:
        info['failing'] = t
    if status == 410 or t - info['failing'] >= 24 * HOUR:
        disable(hook)
        return
    if after:
        wait = None
        if re.match(r'^\d+$', after):
            wait = int(after) * SECOND
        else:
            try:
                wait = int(parsedate_to_datetime(after).timestamp() * 1000) - t
            except Exception:
                wait = None
        if wait and wait > 0:
            info['hold'] = max(info['hold'], t + min(wait, DAY))
    if d['tries'] >= len(RETRY):
        finish(d)
        return
    due = t + RETRY[d['tries']]
    d['tries'] += 1
    timer(max(due, info['hold']), ('deliver', d))


def finish(d):
    queue = DELIVERIES.get(d['key'])
    if queue and d in queue:
        first = queue[0] is d
        queue.remove(d)
        if not queue:
            del DELIVERIES[d['key']]
        elif first and not F('no-waiting-in-line'):
            info = HOOKS.get(d['hook'])
            timer(max(now(), info['hold'] if info else 0), ('deliver', queue[0]))


def disable(hook):
    if not hook['live']:
        return
    new = {**hook, 'live': False}
    put('hook', new)
    for key in [k for k in DELIVERIES if k[0] == hook['id']]:
        del DELIVERIES[key]
    emit('hook.silenced', 'hook', new, lambda u, v: {'hook': new['id']}, None, lambda h: h['owner'] == new['owner'])


# ---------------------------------------------------------------- what the clock does

def fire(what):
    if what[0] == 'deliver':
        d = what[1]
        queue = DELIVERIES.get(d['key'])
        if not queue or d not in queue:
            return
        if HOOKS.get(d['hook'], {'hold': 0})['hold'] > now():
            timer(HOOKS[d['hook']]['hold'], what)
            return
        BUSY[0] += 1
        threading.Thread(target=attempt, args=(d,), daemon=True).start()
        return
    if what[0] == 'after':
        _, resource, id, since, name = what
        row = DB[resource].get(id)
        if row is None or row['~since'] != since:
            return
        move(resource, row, {'dry': 'dried', 'lapse': 'void', 'refit': 'ready'}[name], name, None)
        return
    row = DB['subscription'].get(what[1])
    if row is None or row['next_on'] != what[2]:
        return
    if what[0] == 'nearing':
        emit('subscription.nearing', 'subscription', row, lambda u, v: view('subscription', row, u, v), None)
    elif row['state'] == 'running' or (F('paused-renews') and row['state'] == 'paused'):
        move('subscription', row, 'running' if not F('paused-renews') else row['state'], 'renew', None,
             {'next_on': stamp(later(instant(row['next_on']), row['every']))})


def run_due():
    """With the lock: does what is due now."""
    while TIMERS and TIMERS[0][0] <= now():
        _, _, what = heapq.heappop(TIMERS)
        CLOCK.still = now()
        try:
            fire(what)
        except Exception:
            traceback.print_exc()
        finally:
            CLOCK.still = None


def settle(limit=2.5):
    end = time.monotonic() + limit
    while BUSY[0] > 0 and time.monotonic() < end:
        WAKE.wait(min(0.2, max(0.001, end - time.monotonic())))


def move_clock(target):
    with LOCK:
        run_due()
        settle()
        while True:
            run_due()
            settle()
            if TIMERS and TIMERS[0][0] <= max(target, now()):
                CLOCK.set(TIMERS[0][0])
                continue
            break
        CLOCK.set(target)
        run_due()


def keep_time():
    with LOCK:
        while True:
            run_due()
            wait = 5.0 if not TIMERS else max(0.002, min(5.0, (TIMERS[0][0] - now()) / 1000))
            WAKE.wait(wait)

# ---------------------------------------------------------------- rates and quotas

RATE_STATE = {}


class Rate:
    def __init__(self, name, limit, window, kind, applies, key, burst=None, uncounted=()):
        self.name, self.limit, self.window, self.kind = name, limit, window, kind
        self.applies, self.key, self.burst, self.uncounted = applies, key, burst, uncounted

    def look(self, who):
        """What is left, in how many ms there is more."""
        t = now()
        s = RATE_STATE.get((self.name, who))
        if self.kind == 'fixed':
            if s is None or t >= s[0] + self.window:
                return self.limit, self.window
            return self.limit - s[1], s[0] + self.window - t
        if self.kind == 'sliding':
            if s is None:
                return self.limit, 0
            while s and s[0] <= t - self.window:
                s.popleft()
            return self.limit - len(s), (s[0] + self.window - t if s else 0)
        cap = self.burst * self.window            # in units of a token's window-th
        if s is None:
            return self.burst, 0
        level = min(cap, s[1] + (t - s[0]) * self.limit)
        left = level // self.window
        more = 0 if level >= cap else -(-((left + 1) * self.window - level) // self.limit)
        return left, more

    def take(self, who):
        t = now()
        s = RATE_STATE.get((self.name, who))
        if self.kind == 'fixed':
            if s is None or t >= s[0] + self.window:
                RATE_STATE[self.name, who] = [t, 1]
            else:
                s[1] += 1
        elif self.kind == 'sliding':
            RATE_STATE.setdefault((self.name, who), deque()).append(t)
        else:
            cap = self.burst * self.window
            level = cap if s is None else min(cap, s[1] + (t - s[0]) * self.limit)
            RATE_STATE[self.name, who] = [t, level - self.window]

    def give_back(self, who):
        s = RATE_STATE.get((self.name, who))
        if self.kind == 'fixed' and s:
            s[1] -= 1


def who_of(req):
    c = req.caller
    return c['user'] + ' ' + c['id'] if c else '@' + req.address


RATES = [
    Rate('all', 500, MINUTE, 'fixed', lambda req: True, who_of, uncounted=() if F('not-modified-counts') else (304,)),
    Rate('house', 60, HOUR, 'sliding', lambda req: req.op == 'create order' and req.caller and req.caller['user'] == 'stationer',
         who_of if F('rate-per-caller') else (lambda req: req.caller['house'])),
    Rate('proof', 12, MINUTE, 'bucket', lambda req: req.op == 'create proof', who_of, burst=12 if F('burst-is-limit') else 20),
]
UNDER_WAY = {}
QUOTA = {}


def rate_headers(req):
    best = None
    for r, who in req.counted:
        left, more = r.look(who)
        if best is None or left < best[1]:
            best = (r, left, more)
    if not best:
        return {}
    return {'X-Allowance': str(best[0].limit), 'X-Left': str(max(0, best[1])), 'X-Refill': str(-(-best[2] // 1000))}


def count_rates(req):
    who = who_of(req)
    if UNDER_WAY.get(who, 0) >= 16:
        raise Refused('too_often', headers={'Retry-After': '1'})
    mine = [(r, r.key(req)) for r in RATES if r.applies(req)]
    refused = []
    for r, key in mine:
        left, more = r.look(key)
        if left < 1:
            refused.append(more)
    req.counted = mine
    if refused:
        req.taken = []
        raise Refused('too_often', headers={'Retry-After': str(max(1, -(-max(refused) // 1000)))})
    for r, key in mine:
        r.take(key)
    req.taken = mine
    UNDER_WAY[who] = UNDER_WAY.get(who, 0) + 1
    req.slot = who


def release(req):
    if req.slot:
        UNDER_WAY[req.slot] -= 1
        if not UNDER_WAY[req.slot]:
            del UNDER_WAY[req.slot]
        req.slot = None


def use_quota(caller):
    t = now()
    start = t - t % DAY
    key = (caller['id'], start)
    if QUOTA.get(key, 0) >= 15:
        raise Refused('enough', headers={'Retry-After': str(-(-(start + DAY - t) // 1000))})
    return key

# ---------------------------------------------------------------- endpoints

ROUTES = []


def route(method, path, op, **k):
    parts = path.strip('/').split('/')
    ROUTES.append({'method': method, 'path': path, 'parts': parts, 'op': op, 'resource': op.split(' ')[1],
                   'does': op.split(' ')[0], **k})


PAGE, CURSOR = 'page', 'cursor'
route('PUT', '/moulds/{code}', 'upsert mould', if_match='accepted')
route('GET', '/moulds/{code}', 'read mould', etag=True, cache='private, max-age=30')
route('DELETE', '/moulds/{code}', 'delete mould')
route('GET', '/moulds', 'list mould', pages=PAGE, params={'wire': 'field', 'condition': 'in', 'wider': 'wider', 'device': 'device', 'sort': 'sort'},
      order=('code', False))
route('POST', '/moulds/{code}/wear', 'wear mould')
route('POST', '/moulds/{code}/mend', 'mend mould')
route('POST', '/moulds/{code}/retire', 'retire mould', both=True)
route('POST', '/moulds/{mould}/proofs', 'create proof')
route('GET', '/moulds/{mould}/proofs', 'list proof', pages=PAGE, params={'grade': 'field'}, order=('number', True))
route('GET', '/moulds/{mould}/proofs/{number}', 'read proof')
route('PATCH', '/moulds/{mould}/proofs/{number}', 'update proof')
route('POST', '/lofts', 'create loft')
route('GET', '/lofts', 'list loft', pages=PAGE, params={'find': 'find'}, order=None)
route('GET', '/lofts/{id}', 'read loft', etag=True)
route('PATCH', '/lofts/{id}', 'update loft', refuse=True)
route('DELETE', '/lofts/{id}', 'delete loft')
route('POST', '/orders', 'create order')
route('GET', '/orders', 'list order', pages=PAGE, params={'status': 'field', 'mould': 'field', 'sheets': 'field', 'finish': 'field', 'by': 'by'},
      order=('number', True))
route('GET', '/orders/{id}', 'read order', etag=True, params={'with': 'with'})
route('PATCH', '/orders/{id}', 'update order', if_match='required', states=['drafted', 'ordered'])
route('DELETE', '/orders/{id}', 'delete order', states=['drafted', 'void'])
route('POST', '/orders/{id}/place', 'place order')
route('POST', '/orders/{id}/drop', 'drop order', since=1)
route('POST', '/orders/{id}/couch', 'couch order')
route('POST', '/orders/{id}/hang', 'hang order', body=True)
route('POST', '/orders/{id}/send', 'send order', body=True)
route('POST', '/subscriptions', 'create subscription', key_required=True)
route('GET', '/subscriptions', 'list subscription', pages=PAGE, params={'state': 'field'}, order=None, newest=True)
route('GET', '/subscriptions/{id}', 'read subscription')
if not F('no-pause'):
    route('POST', '/subscriptions/{id}/pause', 'pause subscription')
route('POST', '/subscriptions/{id}/resume', 'resume subscription')
route('POST', '/subscriptions/{id}/stop', 'stop subscription')
route('POST', '/hooks', 'create hook')
route('GET', '/hooks', 'list hook', order=None)
route('GET', '/hooks/{id}', 'read hook')
route('PATCH', '/hooks/{id}', 'update hook')
route('DELETE', '/hooks/{id}', 'delete hook')
route('GET', '/daybook', 'list entry', pages=CURSOR, params={'kind': 'field', 'since': 'since'}, order=('at', False))
route('GET', '/daybook/{id}', 'read entry')
route('GET', '/sizes', 'tell sizes', public=True)

TRANSITIONS = {
    'wear mould': (['ready'], 'worn'), 'mend mould': (['worn'], 'mending'), 'retire mould': (['ready', 'worn'], 'retired'),
    'place order': (['drafted'], 'ordered'), 'couch order': (['ordered'], 'couched'), 'hang order': (['couched'], 'hung'),
    'send order': (['dried'], 'sent'), 'drop order': (['drafted', 'ordered'], 'void'),
    'pause subscription': (['running'], 'paused'), 'resume subscription': (['paused'], 'running'), 'stop subscription': (['running', 'paused'], 'stopped'),
}


def match(path, v):
    """The endpoints of a path, by method, and the values of its parameters."""
    if path.startswith(BASE + '/'):
        rest = path[len(BASE) + 1:]
    elif F('base-is-optional') and path.startswith('/'):
        rest = path[1:]
    else:
        return {}, {}
    parts = rest.split('/')
    found, best = {}, None
    for r in ROUTES:
        if len(r['parts']) != len(parts) or (v < r.get('since', 0)):
            continue
        values = {}
        for p, s in zip(r['parts'], parts):
            if p.startswith('{'):
                if s == '':
                    break
                try:
                    values[p[1:-1]] = percent(s)
                except ValueError:
                    values[p[1:-1]] = '\0'
            elif p != s:
                break
        else:
            found[r['method']] = (r, values)
    return found, {}


def percent(s, plus=False):
    if plus:
        s = s.replace('+', ' ')
    if re.search(r'%(?![0-9A-Fa-f]{2})', s):
        raise ValueError
    raw = re.sub(rb'%([0-9A-Fa-f]{2})', lambda m: bytes([int(m.group(1), 16)]), s.encode('latin-1'))
    return raw.decode('utf-8')


class Request:
    def __init__(self):
        self.caller, self.counted, self.taken, self.slot, self.op, self.route, self.v = None, [], [], None, '', None, None
        self.slip = 'slip-' + secrets.token_hex(8)
        self.bad_credential = False

    def header(self, name):
        for n, val in self.headers:
            if n.lower() == name:
                return val
        return None

    def all(self, name):
        return [val for n, val in self.headers if n.lower() == name]


# ---------------------------------------------------------------- credentials

def schemes_of(req):
    return ['pass', 'badge'] if req.route.get('both') else ['pass', 'badge', 'seal']


def challenges(req, bad):
    err = ', error="invalid_key"' if bad else ''
    out = []
    for s in schemes_of(req):
        if s == 'pass':
            out.append('Mill realm="%s"%s' % (TITLE, err))
        elif s == 'badge':
            out.append('ApiKey realm="%s", in="header", name="X-Loft-Badge"%s' % (TITLE, err))
        else:
            out.append('HMAC realm="%s"' % TITLE)
    return ', '.join(out)


def stranger(req, bad):
    return Refused('who_goes', headers={'WWW-Authenticate': challenges(req, bad)})


SEAL = re.compile(r'^k=([^;\s]+);t=(\d{1,15});s=([0-9a-f]{64})\Z')


def identify(req):
    accepted = schemes_of(req)
    shown_, shown_schemes = [], set()
    for scheme, header in (('pass', 'authorization'), ('badge', 'x-loft-badge'), ('seal', 'x-mill-seal')):
        if scheme not in accepted:
            continue
        values = req.all(header)
        if not values:
            continue
        if len(values) > 1:
            raise stranger(req, True)
        value = values[0]
        c = None
        if scheme == 'pass':
            m = re.match(r'^mill +(\S+)\s*$', value, re.I)
            c = BY_KEY.get(('pass', m.group(1))) if m else None
        elif scheme == 'badge':
            c = BY_KEY.get(('badge', value))
        else:
            m = SEAL.match(value)
            if m and m.group(1) in BY_SEAL:
                c, secret = BY_SEAL[m.group(1)]
                t = int(m.group(2)) * 1000
                late = now() - t
                if (late if F('seal-from-tomorrow') else abs(late)) > 3 * MINUTE:
                    raise stranger(req, True)
                req.read_body()
                if req.too_large:
                    raise Refused('too_thick')
                target = req.target.split('?')[0] if F('seal-leaves-query') else req.target
                signed = ('%s\n%s\n%s\n' % (req.raw_method, target, m.group(2))).encode('latin-1') + req.raw
                if not hmac.compare_digest(hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest(), m.group(3)):
                    c = None
                if c and F('warden-by-seal') and c['user'] == 'warden':
                    c = {**c, 'user': 'vatman'}
        if c is None:
            if F('bad-key-is-nobody') and any('anyone' in r[1] for r in RULES if r[0] == req.op):
                continue
            raise stranger(req, True)
        shown_.append(c)
        shown_schemes.add(scheme)
    if any((c['user'], c['id']) != (shown_[0]['user'], shown_[0]['id']) for c in shown_) and not F('first-credential-counts'):
        raise stranger(req, True)
    if not shown_:
        if any('anyone' in r[1] for r in RULES if r[0] == req.op):
            return None
        raise stranger(req, False)
    if req.route.get('both') and shown_schemes != {'pass', 'badge'}:
        raise stranger(req, False)
    scopes = sorted({s for c in shown_ for s in c['scopes']})
    return {**shown_[0], 'scopes': scopes}

# ---------------------------------------------------------------- parameters


def whole(text, least, most=10 ** 15):
    if not re.match(r'^[0-9]+\Z', text, re.ASCII) or not least <= int(text) <= most:
        return None
    return int(text)


def coerce(shape, text):
    if shape.get('type') == 'integer':
        return int(text) if re.match(r'^-?[0-9]{1,18}\Z', text, re.ASCII) else None
    if shape.get('type') == 'number':
        return float(text) if re.match(r'^-?[0-9]+(\.[0-9]+)?\Z', text, re.ASCII) else None
    if shape.get('type') == 'boolean':
        return {'true': True, 'false': False}.get(text)
    return text


def bad_param(name, found, expected):
    return Refused('bad_question', [place('query', name, found, expected)])


def parameters(req):
    """What the query asks for; refusals of parameters and of pages."""
    r, v = req.route, req.v
    pairs = []
    if req.query:
        for part in req.query.split('&'):
            if part == '':
                continue
            k, _, val = part.partition('=')
            try:
                pairs.append((percent(k, True), percent(val, True), val))
            except ValueError:
                raise bad_param(k, val, 'text in UTF-8')
    own_params = dict(r.get('params', {}))
    fields = edition_fields(r['resource'], v) if r['resource'] in FIELDS else {}
    names = {}
    for name, how in own_params.items():
        there = name
        if how in ('field', 'in'):
            there = next((t for t, (h, _) in fields.items() if h == name), None)
            if there is None:
                continue
        names[there] = (name, how)
    pages = {PAGE: ('leaf', 'per_leaf'), CURSOR: ('from', 'take')}.get(r.get('pages'), ())
    seen, ask = set(), {'filters': [], 'sort': r.get('order'), 'expand': []}
    page = {}
    for k, val, rawval in pairs:
        if k in pages:
            if k in page:
                raise bad_param(k, val, 'one value')
            page[k] = val
            continue
        if k not in names:
            raise bad_param(k, val, 'no such parameter')
        name, how = names[k]
        if k in seen and how not in ('in', 'with'):
            raise bad_param(k, val, 'one value')
        seen.add(k)
        if how == 'field':
            shape = fields[k][1]
            value = coerce(shape, val)
            wrong = ('type', 'a value of the field') if value is None else check(shape, value)
            if wrong:
                raise bad_param(k, val, wrong[1])
            if not (F('plain-unfiltered') and name == 'finish'):
                value = up(r['resource'], name, value, v)
            ask['filters'].append(lambda row, n=name, x=value: row.get(n) == x)
        elif how == 'in':
            values = [percent(x, True) for x in re.split(r',|%2[Cc]', rawval)]
            if len(values) > 100:
                raise bad_param(k, val, 'at most 100 values')
            for x in values:
                wrong = check(fields[k][1], x)
                if wrong:
                    raise bad_param(k, x, wrong[1])
            ask.setdefault('in', []).extend(values)
        elif how == 'wider':
            value = coerce(INT, val)
            if value is None or v < 2:
                raise bad_param(k, val, 'a whole number')
            ask['filters'].append(lambda row, x=value: row['width_mm'] >= x)
        elif how == 'device':
            ask['filters'].append(lambda row, x=val: row['watermark']['device'].startswith(x))
        elif how == 'since':
            value = instant(val)
            if value is None:
                raise bad_param(k, val, 'a date-time of RFC 3339')
            ask['filters'].append(lambda row, x=value: instant(row['at']) >= x)
        elif how == 'find':
            words = val.casefold().split()
            if len(words) > 16:
                raise bad_param(k, val, 'at most 16 words')
            some = any if F('any-word') else all
            if words:
                ask['filters'].append(lambda row, ws=words, some=some: some(w in row['name'].casefold() for w in ws))
        elif how == 'sort':
            if val not in ('width_mm', '-width_mm', 'code'):
                raise bad_param(k, val, 'one of width_mm, -width_mm, code')
            ask['sort'] = (val.lstrip('-'), val.startswith('-'))
        elif how == 'by':
            field = {'amount': 'sheets', 'price': 'pence'}.get(val[1:] if val.startswith('-') else val)
            if field is None:
                raise bad_param(k, val, 'one of amount, -amount, price, -price')
            ask['sort'] = (field, val.startswith('-') and not (F('price-upwards') and field == 'pence'))
        elif how == 'with':
            for x in val.split(','):
                if x not in ('mould', 'loft'):
                    raise bad_param(k, x, 'one of mould, loft')
                ask['expand'].append(x)
    if 'in' in ask:
        ask['filters'].append(lambda row, xs=set(ask['in']): row['condition'] in xs)
    if r.get('pages') == PAGE:
        ask['leaf'], ask['size'] = 1, 8
        if 'leaf' in page:
            ask['leaf'] = whole(page['leaf'], 1)
            if ask['leaf'] is None:
                raise Refused('bad_leaf', [place('query', 'leaf', page['leaf'], 'a whole number from 1')])
        if 'per_leaf' in page:
            size = whole(page['per_leaf'], 1, 10 ** 15)
            if size is not None and size > 40:
                size = None
            if size is None:
                raise Refused('bad_leaf', [place('query', 'per_leaf', page['per_leaf'], 'a whole number from 1 to 40')])
            ask['size'] = size
    elif r.get('pages') == CURSOR:
        ask['size'] = 10
        if 'take' in page:
            size = whole(page['take'], 1)
            if size is None:
                raise Refused('bad_leaf', [place('query', 'take', page['take'], 'a whole number from 1')])
            ask['size'] = min(size, 50)
        ask['bound'] = hashlib.sha256(json.dumps([v, sorted((k, val) for k, val, _ in pairs if k not in pages)]).encode()).hexdigest()[:16]
        ask['from'] = None
        if 'from' in page:
            ask['from'] = open_cursor(page['from'], ask['bound'])
            if ask['from'] is None:
                raise Refused('bad_leaf', [place('query', 'from', page['from'], 'a place in this list')])
    if r.get('key_required') and req.header('idempotency-key') in (None, ''):
        raise Refused('bad_question', [place('header', 'Idempotency-Key', MISSING, 'a key')])
    req.ask = ask
    req.pairs = pairs


CURSOR_KEY = secrets.token_bytes(16)


def make_cursor(at, seq, bound):
    body = json.dumps([at, seq, bound]).encode()
    return base64.urlsafe_b64encode(hmac.new(CURSOR_KEY, body, hashlib.sha256).digest()[:12] + body).decode().rstrip('=')


def open_cursor(text, bound):
    try:
        raw = base64.urlsafe_b64decode(text + '=' * (-len(text) % 4))
        mac, body = raw[:12], raw[12:]
        if not hmac.compare_digest(mac, hmac.new(CURSOR_KEY, body, hashlib.sha256).digest()[:12]):
            return None
        at, seq, b = json.loads(body)
        return (at, seq) if b == bound and make_cursor(at, seq, b) == text else None
    except Exception:
        return None

# ---------------------------------------------------------------- bodies


def wants_body(req):
    return req.route.get('body') or req.route['does'] in ('create', 'update', 'upsert')


def acceptable(text):
    """Whether an Accept field takes application/json."""
    if text is None or text.strip() == '':
        return True
    best = (-1, 0.0)
    for part in text.split(','):
        bits = [b.strip() for b in part.split(';')]
        kind, q = bits[0].lower(), 1.0
        for b in bits[1:]:
            if b.lower().startswith('q='):
                try:
                    q = float(b[2:])
                except ValueError:
                    q = 0.0
        rank = {'*/*': 0, 'application/*': 1, 'application/json': 2}.get(kind)
        if rank is not None and (rank > best[0] or (rank == best[0] and q > best[1])):
            best = (rank, q)
    return best[0] >= 0 and best[1] > 0


def no_constant(x):
    raise ValueError(x)


def parse_body(req):
    ct = req.header('content-type')
    if not wants_body(req):
        if req.too_large:
            raise Refused('too_thick')
        return
    empty = not req.too_large and not req.raw
    if ct is None and not empty:
        raise Refused('wrong_paper')
    if ct is not None:
        kind = ct.split(';')[0].strip().lower()
        if kind != 'application/json' and not (req.route['method'] == 'PATCH' and kind == 'application/merge-patch+json'):
            raise Refused('wrong_paper')
    if req.too_large:
        raise Refused('too_thick')
    if empty:
        raise Refused('illegible')
    try:
        req.body = json.loads(req.raw.decode('utf-8'), parse_constant=no_constant)
        dump(req.body)
    except (ValueError, RecursionError):
        raise Refused('illegible')


INVALID = {'missing': 'lacking', 'unknown': 'unheard_of'}


def path_text(path):
    if F('places-by-pointer'):
        return '/' + '/'.join(path)
    return '.'.join(path)


def refuse_invalid(found):
    if found:
        first = found[0][0]
        raise Refused(INVALID.get(first, 'amiss'), [place('body', path_text(p), f, e) for _, p, f, e in found])


def read_body(req, resource, row, sent, bound=None, replace=False):
    """What is sent, held to the shape of its folio and carried up. Gives the changes (None = taken away) and what is wrong."""
    v, wrong, changes = req.v, [], {}
    if not isinstance(sent, dict):
        raise Refused('amiss', [place('body', path_text([]) if not F('places-by-pointer') else '', sent, 'a map')])
    fields = edition_fields(resource, v)
    patch = row is not None and not replace
    user = req.caller['user'] if req.caller else None
    for name, value in sent.items():
        if name not in fields:
            wrong.append(('unknown', [name], value, 'no such field'))
            continue
        here, f = fields[name]
        if f.get('ro'):
            if req.route.get('refuse'):
                wrong.append(('read_only', [name], value, 'nothing, for it is read-only'))
            continue
        if 'writable' in f and user not in f['writable']:
            continue
        if bound and here in bound:
            if value != bound[here]:
                wrong.append(('value', [name], value, 'as in the path'))
            continue
        if value is None:
            if patch and (f.get('opt')):
                if here is not None:
                    changes[here] = None
                continue
            wrong.append(('type' if not patch else 'value', [name], value, 'a value'))
            continue
        if f.get('value'):
            if not isinstance(value, dict):
                wrong.append(('type', [name], value, 'a map'))
                continue
            got = {}
            bad = False
            for k, x in value.items():
                sub = FIELDS[f['value']].get(k)
                if sub is None:
                    wrong.append(('unknown', [name, k], x, 'no such field'))
                    bad = True
                    continue
                if x is None:
                    wrong.append(('type', [name, k], x, 'a value'))
                    bad = True
                    continue
                w = check(sub, x)
                if w:
                    wrong.append((w[0], [name, k], x, w[1]))
                    bad = True
                got[k] = x
            for k in FIELDS[f['value']]:
                if k not in value:
                    wrong.append(('missing', [name, k], MISSING, 'a value'))
                    bad = True
            if not bad:
                changes[here] = {k: got[k] for k in FIELDS[f['value']]}
            continue
        if f.get('kinds'):
            if not isinstance(value, list):
                wrong.append(('type', [name], value, 'a list'))
                continue
            ok = True
            for i, x in enumerate(value):
                if not isinstance(x, str):
                    wrong.append(('type', [name, str(i)], x, 'a text'))
                    ok = False
                elif x not in KIND_WORDS:
                    wrong.append(('value', [name, str(i)], x, 'a kind of event'))
                    ok = False
            if not 1 <= len(value) <= 8:
                wrong.append(('value', [name], value, '1 to 8 items'))
                ok = False
            if ok:
                changes[here] = value
            continue
        if patch and F('multiple-on-create') and here == 'sheets':
            f = {k: x for k, x in f.items() if k != 'multipleOf'}
        w = check(f, value)
        if not w and here is not None:
            if is_int(value) and f.get('type') == 'integer':
                value = int(value)
            value = up(resource, here, value, v)
            if v < 2 and here == 'width_mm' and check(FIELDS[resource][here], value):
                w = 'value', 'between 8 and 90'
        if w:
            wrong.append((w[0], [name], sent[name], w[1]))
            continue
        if row is not None and f.get('imm') and value != row.get(here) and not (F('wire-changes') and here == 'wire'):
            wrong.append(('value', [name], sent[name], 'as it was made'))
            continue
        if here is not None:
            changes[here] = value
    if not patch:
        for name, (here, f) in fields.items():
            if here is None or name in sent or f.get('ro') or f.get('opt') or 'default' in f or f.get('id') or (bound and here in bound):
                continue
            if row is not None and f.get('imm'):
                continue
            wrong.append(('missing', [name], MISSING, 'a value'))
    return changes, wrong


def lies_flat(row, wrong, changed):
    if any(k in ('width_mm', 'height_mm') for k in changed) and 'width_mm' in row and 'height_mm' in row:
        if row['height_mm'] > row['width_mm']:
            wrong.append(('value', ['height_mm'], row['height_mm'], 'no more than the width'))


def check_refs(req, resource, changes, row=None):
    for name, f in FIELDS[resource].items():
        if f.get('ref') and name in changes and changes[name] is not None and (row is None or row.get(name) != changes[name]):
            target = DB[f['ref']].get(changes[name])
            if target is None or not may(req.caller, 'read ' + f['ref'], target):
                raise Refused('lost_ref', [place('body', name, changes[name], 'one that is there')])

# ---------------------------------------------------------------- tags


def core_tag(resource, row, caller, v):
    body = dump([v, resource, view(resource, row, caller['user'] if caller else None, v)])
    return hashlib.sha256(body).hexdigest()[:20]


def tags_of(text):
    return [t.strip() for t in re.findall(r'(?:W/)?"[^"]*"|\*', text)]


def precondition(req, row):
    how = req.route.get('if_match')
    if not how:
        return
    values = req.all('if-match')
    if not values:
        if how == 'required':
            raise Refused('show_tag')
        return
    if row is not None:
        core = core_tag(req.route['resource'], row, req.caller, req.v)
        text = ','.join(values)
        if text.strip() == '*':
            return
        for t in tags_of(text):
            if t.startswith('W/'):
                if F('weak-will-do'):
                    t = t[2:]
                else:
                    continue
            if t.strip('"').split('-')[0] == core:
                return
    raise Refused('altered')

# ---------------------------------------------------------------- operations


class Answer:
    def __init__(self, status, body=None, headers=None, once=None):
        self.status, self.body, self.headers, self.once = status, body, headers or {}, once


def location(path):
    return ('' if F('location-unbased') else BASE) + path


def purge():
    t = now()
    for kept, until in ((BURNT, lambda e: e[1]), (DB['entry'], lambda e: instant(e['at']) + 60 * DAY), (IDEM, lambda e: e['until'])):
        while kept:                                   # the oldest stand first
            first = next(iter(kept))
            if until(kept[first]) > t:
                break
            del kept[first]


def load(req):
    """The row that the path names, and what its caller may do with it."""
    r, p = req.route, req.values
    resource = r['resource']
    row = None
    if 'mould' in p:
        parent = DB['mould'].get(p['mould'])
        if parent is None or not may(req.caller, 'read mould', parent):
            raise Refused('no_such')
        if 'number' in p:
            if re.match(r'^[1-9][0-9]{0,15}\Z', p['number'], re.ASCII):
                row = next((x for x in DB['proof'].values() if x['mould'] == p['mould'] and x['number'] == int(p['number'])), None)
        else:
            return None
    elif resource == 'loft':
        if re.match(r'^[1-9][0-9]{0,15}\Z', p['id'], re.ASCII):
            row = DB['loft'].get(int(p['id']))
    else:
        row = DB[resource].get(p.get('id', p.get('code')))
    if row is None:
        old = BURNT.get(p.get('id')) if resource == 'order' else None
        if old and may(req.caller, 'read order', old[0]) and not F('burnt-is-missing'):
            raise Refused('burnt')
        if r['does'] == 'upsert':
            return None
        raise Refused('no_such')
    if not may(req.caller, 'read ' + resource, row) and not (F('proof-c-by-number') and resource == 'proof'):
        raise Refused('no_such')
    if r['does'] == 'read':
        return row
    if not may(req.caller, req.op, row):
        raise Refused('not_you')
    return row


def body_of(req, resource, row, once=False):
    return view(resource, row, req.caller['user'] if req.caller else None, req.v, req.ask['expand'], req.caller, once)


def unique_shelf(code, shelf):
    if shelf is not None and any(m.get('shelf') == shelf and m['code'] != code for m in DB['mould'].values()):
        raise Refused('taken')


def unique_name(id, name):
    fold = str.casefold
    if any(fold(l['name']) == fold(name) and l['id'] != id for l in DB['loft'].values()):
        raise Refused('taken')


def rows_of_subscription(stationer, but=None):
    if sum(1 for s in DB['subscription'].values() if s['stationer'] == stationer and s['state'] == 'running' and s['id'] != but) >= 3:
        raise Refused('enough')


def own_errors(next_, kind):
    if next_['finish'] == 'plated' and next_['weight_gsm'] < 100 and not (F('thin-when-changed') and kind == 'update'):
        raise Refused('thin_plate')


def perform(req):
    r, op, resource, c = req.route, req.op, req.route['resource'], req.caller
    does = r['does']
    if does == 'tell':
        return Answer(200, {'foolscap': '343x432', 'crown': '381x508'})
    if does == 'list':
        return listing(req)
    if does == 'create':
        return create(req)
    row = load(req)
    if does == 'read':
        tag = None
        a = Answer(200, body_of(req, resource, row))
        if r.get('etag'):
            tag = core_tag(resource, row, c, req.v)
            if req.ask['expand']:
                tag += '-' + hashlib.sha256(dump(a.body)).hexdigest()[:12]
            a.headers['ETag'] = '"%s"' % tag
            values = req.all('if-none-match')
            if values:
                text = ','.join(values)
                if text.strip() == '*' or any(t.replace('W/', '', 1) == '"%s"' % tag for t in tags_of(text)):
                    a.status, a.body = 304, None
        if r.get('cache'):
            a.headers['Cache-Control'] = r['cache']
        return a
    if does == 'upsert':
        return upsert(req, row)
    precondition(req, row)
    if does == 'update':
        return update(req, row)
    if does == 'delete':
        if r.get('states') and row[STATE[resource]] not in r['states']:
            raise Refused('not_now')
        if resource == 'mould':
            if any(o['mould'] == row['code'] for k in ('order', 'subscription') for o in DB[k].values()):
                raise Refused('held_fast')
            for k in [k for k, p in DB['proof'].items() if p['mould'] == row['code']]:
                del DB['proof'][k]
        if resource == 'loft':
            for o in [o for o in DB['order'].values() if o.get('loft') == row['id']]:
                store_changed('order', {k: x for k, x in o.items() if k != 'loft'})
        if resource == 'order':
            BURNT[row['id']] = (row, now() + 20 * DAY)
        if resource == 'hook':
            HOOKS.pop(row['id'], None)
            for key in [k for k in DELIVERIES if k[0] == row['id']]:
                del DELIVERIES[key]
        del DB[resource][row[IDENT[resource]]]
        return Answer(204)
    return transition(req, row)


def create(req):
    resource, c, t = req.route['resource'], req.caller, now()
    bound = {}
    if resource == 'proof':
        load(req)
        bound = {'mould': req.values['mould']}
    changes, wrong = read_body(req, resource, None, req.body, bound)
    refuse_invalid(wrong)
    check_refs(req, resource, changes)
    if resource == 'proof':
        row = {'id': str(uuid.uuid4()), 'mould': bound['mould'], 'number': draw('proof ' + bound['mould']), 'pulled_by': c['id'], **changes}
        put('proof', row)
        where = '/moulds/%s/proofs/%d' % (row['mould'], row['number'])
    elif resource == 'loft':
        unique_name(None, changes['name'])
        row = {'id': draw('loft'), 'on_view': False, **changes}
        put('loft', row)
        where = '/lofts/%d' % row['id']
    elif resource == 'order':
        own_errors({'finish': 'waterleaf', 'weight_gsm': 120, **changes}, 'create')
        row = make_order({'stationer': c['id'], 'house': c['house'], **changes})
        where = '/orders/' + row['id']
    elif resource == 'subscription':
        rows_of_subscription(c['id'])
        every = changes.get('every', 'month')
        row = {'id': 'sub_' + letters(12, string.ascii_lowercase + string.digits), 'stationer': c['id'], 'house': c['house'], **changes, 'every': every,
               'next_on': stamp(later(t, every)), 'state': 'running'}
        put('subscription', row)
        entered('subscription', row)
        dated(row)
        where = '/subscriptions/' + row['id']
    else:
        if sum(1 for h in DB['hook'].values() if h['owner'] == c['id']) >= 5:
            raise Refused('enough')
        row = {'id': 'hk_' + secrets.token_hex(5), 'owner': c['id'], 'secret': 'mill_' + letters(24), 'live': True, **changes}
        HOOKS[row['id']] = {'maker': c, 'folio': req.v, 'failing': None, 'hold': 0, 'one': threading.Lock()}
        put('hook', row)
        where = '/hooks/' + row['id']
    a = Answer(201, body_of(req, resource, row, once=True), {'Location': location(where)})
    if resource == 'hook':
        a.once = body_of(req, resource, row)
    return a


def upsert(req, row):
    code = req.values['code']
    precondition(req, row)
    changes, wrong = read_body(req, 'mould', row, req.body, {'code': code}, replace=True)
    if row is None and not CODE.search(code):
        wrong.insert(0, ('value', ['code'], code, 'two letters and three digits'))
    base = {'code': code}
    if row is not None:
        base.update({k: row[k] for k in ('wire', 'condition', 'changed_at')})
        base.update({k: v for k, v in row.items() if k.startswith('~')})
    new = {**base, **changes}
    touched = {p[0] for _, p, _, _ in wrong}
    if not touched & {'width_mm', 'height_mm'}:
        lies_flat(new, wrong, changes)
    refuse_invalid(wrong)
    if row is not None and plain(new) == plain(row):
        return Answer(200, body_of(req, 'mould', row))
    unique_shelf(code, new.get('shelf'))
    if row is None:
        new['condition'] = 'ready'
        store_changed('mould', new)
        entered('mould', new)
        return Answer(201, body_of(req, 'mould', new), {'Location': location('/moulds/' + quote(code, safe=''))})
    store_changed('mould', new)
    return Answer(200, body_of(req, 'mould', new))


def update(req, row):
    resource = req.route['resource']
    changes, wrong = read_body(req, resource, row, req.body)
    refuse_invalid(wrong)
    check_refs(req, resource, changes, row)
    new = dict(row)
    for k, v in changes.items():
        if v is None:
            new.pop(k, None)
        else:
            new[k] = v
    if req.route.get('states') and row[STATE[resource]] not in req.route['states']:
        raise Refused('not_now')
    if resource == 'order':
        own_errors(new, 'update')
    if resource == 'loft':
        unique_name(row['id'], new['name'])
    if plain(new) == plain(row):
        return Answer(200, body_of(req, resource, row))
    if F('price-as-made') and resource == 'order' and new['sheets'] == row['sheets']:
        put('order', new)
    else:
        store_changed(resource, new)
    if F('lapse-anew') and resource == 'order':
        entered('order', new)
    if resource == 'order' and new['sheets'] != row['sheets']:
        was = row['sheets']
        emit('order.resized', 'order', new, lambda u, v: {'order': new['id'], 'was': was, 'is': new['sheets']}, req.caller)
    if resource == 'hook':
        if new['live'] and not row['live']:
            HOOKS[row['id']].update(failing=None, hold=0)
        if not new['live']:
            for key in [k for k in DELIVERIES if k[0] == row['id']]:
                del DELIVERIES[key]
    return Answer(200, body_of(req, resource, new))


def transition(req, row):
    op, resource, c = req.op, req.route['resource'], req.caller
    sets = {}
    if req.route.get('body'):
        name, least = ('loft', None) if op == 'hang order' else ('sheets_counted', 0)
        if not isinstance(req.body, dict):
            raise Refused('amiss', [place('body', '', req.body, 'a map')])
        wrong = []
        if name not in req.body:
            wrong.append(('missing', [name], MISSING, 'a value'))
        else:
            value = req.body[name]
            w = check({'type': 'integer', **({'minimum': 0} if least == 0 else {})}, value)
            if w:
                wrong.append((w[0], [name], value, w[1]))
        refuse_invalid(wrong)
        value = int(value)
        if name == 'loft':
            if value not in DB['loft'] or not may(c, 'read loft', DB['loft'][value]):
                raise Refused('lost_ref', [place('body', 'loft', value, 'one that is there')])
            sets['loft'] = value
    froms, to = TRANSITIONS[op]
    if row[STATE[resource]] not in froms:
        raise Refused('too_late' if op == 'drop order' else 'not_now')
    if op == 'place order':
        condition = DB['mould'][row['mould']]['condition']
        if condition != 'ready' and not (F('place-unless-retired') and condition != 'retired'):
            raise Refused('mould_unfit')
    if op == 'hang order':
        loft = DB['loft'][sets['loft']]
        if derived('loft', loft)['free'] <= 0:
            raise Refused('loft_full')
    if op == 'send order' and value != row['sheets']:
        raise Refused('not_now' if F('miscount-is-not-now') else 'miscounted')
    if op == 'resume subscription':
        sets['next_on'] = stamp(later(now(), row['every']))
        if not F('resume-uncounted'):
            rows_of_subscription(row['stationer'], row['id'])
    key = None
    if op == 'place order':
        key = use_quota(c)
    new = move(resource, row, to, op.split(' ')[0], c, sets)
    if key:
        QUOTA[key] = QUOTA.get(key, 0) + 1
    if op == 'send order':
        return Answer(202, {'order': new['id'], 'gone': new['status'] == 'sent'}, {'X-Gate': 'east'})
    if not may(c, 'read ' + resource, new):
        return Answer(204)
    return Answer(200, body_of(req, resource, new))


def listing(req):
    r, ask, resource = req.route, req.ask, req.route['resource']
    if 'mould' in req.values:
        load(req)
        ask['filters'].append(lambda row: row['mould'] == req.values['mould'])
    rows = [row for row in DB[resource].values() if may(req.caller, req.op, row) and all(f(row) for f in ask['filters'])]
    rows.sort(key=lambda row: SEQ[resource, row[IDENT[resource]]], reverse=bool(r.get('newest')))
    if ask['sort']:
        field, turned = ask['sort']
        rows.sort(key=lambda row: row[field], reverse=turned) if not turned else rows.sort(key=lambda row: Reverse(row[field]))
    user = req.caller['user'] if req.caller else None
    show = lambda rs: [view(resource, x, user, req.v) for x in rs]
    if not r.get('pages'):
        return Answer(200, show(rows))
    if r['pages'] == CURSOR:
        key = lambda row: (row['at'], SEQ['entry', row['id']])
        if ask['from']:
            rows = [x for x in rows if key(x) > tuple(ask['from'])]
        page, more = rows[:ask['size']], len(rows) > ask['size']
        return Answer(200, {'entries': show(page), 'onward': make_cursor(*key(page[-1]), ask['bound']) if more else None})
    n, size = ask['leaf'], ask['size']
    page = rows[(n - 1) * size:n * size]
    more = len(rows) > n * size
    links = []

    def address(leaf):
        kept = [p for p in (req.query or '').split('&') if p and p.partition('=')[0] not in ('leaf',)]
        return '<%s?%s>' % (req.path, '&'.join(kept + ['leaf=%d' % leaf]))
    if more:
        links.append(address(n + 1) + '; rel="next"')
    if n > 1:
        links.append(address(n - 1) + '; rel="prev"')
    links.append(address(1) + '; rel="first"')
    return Answer(200, {'rows': show(page), 'of': len(rows), 'more': more}, {'Link': ', '.join(links)})


class Reverse:
    def __init__(self, x):
        self.x = x

    def __lt__(self, other):
        return other.x < self.x

    def __eq__(self, other):
        return self.x == other.x

# ---------------------------------------------------------------- a request from its first line to its answer


def folio_headers(req):
    out = {}
    vary = ['Mill-Folio']
    if not (req.route and req.route.get('public')):
        vary += ['Authorization', 'X-Loft-Badge', 'X-Mill-Seal']
    out['Vary'] = ', '.join(vary)
    if req.v is not None:
        out['Mill-Folio'] = FOLIOS[req.v]
        if req.v == 0:
            out['Deprecation'] = '@%d' % (day_of(2026, 1, 15) // 1000)
            out['Sunset'] = formatdate(day_of(2029, 9, 1) / 1000, usegmt=True)
            out['Link'] = LINK_PAGE + ', <%s>; rel="successor-version"' % req.target
        elif req.v == 1:
            out['Deprecation'] = '@%d' % (day_of(2026, 3, 1) // 1000)
            out['Sunset'] = formatdate(day_of(2028, 1, 1) / 1000, usegmt=True)
    return out


def steps_before_body(req):
    if sum(len(n) + len(v) + 4 for n, v in req.headers) > 8192:
        raise Refused('too_thick')
    if len(req.target) > 2048:
        raise Refused('too_long')
    values = req.all('mill-folio')
    asked = values[0].strip() if values else None
    unknown = False
    if asked is None:
        v = 0
    elif asked in FOLIOS and len(values) == 1:
        v = FOLIOS.index(asked)
    else:
        v, unknown = 2, True
    if not unknown:
        req.v = v
    found, _ = match(req.path, v)
    if not found:
        raise Refused('no_such')
    allowed = sorted(found)
    if 'GET' in found:
        allowed.append('HEAD')
    allowed.append('OPTIONS')
    if req.method == 'OPTIONS':
        return Answer(204, None, {'Allow': ', '.join(allowed)})
    method = 'GET' if req.method == 'HEAD' else req.method
    if method not in found:
        raise Refused('not_here', headers={'Allow': ', '.join(allowed)})
    req.route, req.values = found[method]
    req.op = req.route['op']
    if unknown:
        raise Refused('no_edition')
    t = now()
    if v == 0 and t >= day_of(2029, 9, 1) or (F('folio-2-ends') and v == 1 and t >= day_of(2028, 1, 1)):
        raise Refused('old_edition')
    asking = [lambda: parameters(req), lambda: None if req.route.get('public') else setattr(req, 'caller', identify(req))]
    if F('caller-first'):
        asking.reverse()
    for step in asking:
        step()
    count_rates(req)
    if not req.route.get('public'):
        mine, held = rules_for(req.caller, req.op)
        if not mine:
            raise Refused('not_you')
        if not held:
            raise Refused('no_scope')
    if not acceptable(','.join(req.all('accept')) if req.all('accept') else None):
        raise Refused('wrong_tongue')
    return None


def steps_after_body(req):
    parse_body(req)
    key = req.header('idempotency-key') if req.route['method'] == 'POST' else None
    slot, mark = None, None
    if key:
        slot = (req.caller['user'], req.caller['id'], req.op, key)
        mark = hashlib.sha256(b'\0'.join([req.path.encode('latin-1'), (req.query or '').encode('latin-1'), str(req.v).encode(),
                                          b'' if F('key-forgets-body') else (req.raw if wants_body(req) else b'')])).hexdigest()
        old = IDEM.get(slot)
        if old:
            if old['mark'] != mark:
                raise Refused('key_spent')
            if old['code']:
                raise Refused(old['code'])
            return Answer(old['status'], old['body'], dict(old['headers']))
    try:
        if F('quota-by-try') and req.op == 'place order':
            used = use_quota(req.caller)
            try:
                return_ = perform(req)
            except Refused:
                QUOTA[used] = QUOTA.get(used, 0) + 1
                raise
        else:
            return_ = perform(req)
    except Refused as e:
        if slot and e.code in OWN:
            IDEM[slot] = {'mark': mark, 'code': e.code, 'until': now() + 12 * HOUR}
        raise
    if slot:
        body = return_.body if return_.once is None or F('secret-replayed') else return_.once
        IDEM[slot] = {'mark': mark, 'code': None, 'status': return_.status, 'body': body, 'headers': dict(return_.headers), 'until': now() + 12 * HOUR}
    return return_


def refusal(req, e):
    status, says = CODES[e.code]
    fault = {'code': e.code, 'says': says, 'slip': req.slip}
    if e.places:
        fault['places'] = e.places
    headers = dict(e.headers)
    headers['X-Fault'] = e.code
    return Answer(status, {'fault': fault}, headers)


def answer(req):
    """Gives status, headers and body."""
    refused = False
    try:
        seal = req.all('x-mill-seal')
        m = SEAL.match(seal[0]) if len(seal) == 1 else None
        if m and m.group(1) in BY_SEAL and abs(now() - int(m.group(2)) * 1000) <= 3 * MINUTE:
            req.read_body()                           # what is signed is read before it is decided, and not under the lock
        with LOCK:
            run_due()
            purge()
            a = steps_before_body(req)
        if a is None:
            req.read_body()
            with LOCK:
                run_due()
                CLOCK.still = now()
                try:
                    a = steps_after_body(req)
                finally:
                    CLOCK.still = None
    except Refused as e:
        refused = True
        a = refusal(req, e)
    except (Slow, Gone):
        with LOCK:
            release(req)
        raise
    except Exception:
        traceback.print_exc()
        refused = True
        a = refusal(req, Refused('spilt'))
    with LOCK:
        release(req)
        for r, who in req.taken:
            if a.status in r.uncounted:
                r.give_back(who)
        headers = {'X-Slip': req.slip}
        if req.counted:
            headers.update(rate_headers(req))
    folio = folio_headers(req)
    if F('old-folio-unsaid') and refused:
        for k in ('Deprecation', 'Sunset', 'Link'):
            folio.pop(k, None)
    if 'Link' in a.headers and 'Link' in folio:
        folio['Link'] = a.headers.pop('Link') + ', ' + folio['Link']
    headers.update(folio)
    headers.update(a.headers)
    body = b'' if a.body is None else dump(a.body)
    if a.body is not None:
        headers['Content-Type'] = 'application/json'
    return a.status, headers, body

# ---------------------------------------------------------------- the door


class Slow(Exception):
    pass


class Gone(Exception):
    pass


REASONS = {**http.client.responses, 422: 'Unprocessable Content', 413: 'Content Too Large', 414: 'URI Too Long'}


class Connection:
    def __init__(self, sock, address, clock_door=False):
        self.sock, self.address, self.buf, self.clock_door = sock, address, b'', clock_door
        self.deadline = None

    def more(self, idle=False):
        left = 40 if idle else self.deadline - time.monotonic()
        if left <= 0:
            raise Slow
        self.sock.settimeout(left)
        try:
            data = self.sock.recv(65536)
        except socket.timeout:
            raise Gone if idle else Slow
        except OSError:
            raise Gone
        if not data:
            raise Gone
        self.buf += data

    def line(self):
        while b'\n' not in self.buf:
            self.more()
        l, _, self.buf = self.buf.partition(b'\n')
        return l.rstrip(b'\r')

    def exactly(self, n):
        while len(self.buf) < n:
            self.more()
        out, self.buf = self.buf[:n], self.buf[n:]
        return out

    def serve(self):
        try:
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while self.one():
                pass
        except (Gone, OSError):
            pass
        finally:
            try:
                self.sock.close()
            except OSError:
                pass

    def send(self, status, headers, body, head=False, close=False):
        lines = ['HTTP/1.1 %d %s' % (status, REASONS.get(status, 'Status'))]
        lines.append('Date: ' + formatdate(CLOCK.now() / 1000, usegmt=True))
        for k, v in headers.items():
            if v != '':
                lines.append('%s: %s' % (k, v))
        if status not in (204, 304):
            lines.append('Content-Length: %d' % len(body))
        if close:
            lines.append('Connection: close')
        data = ('\r\n'.join(lines) + '\r\n\r\n').encode('latin-1')
        if not head and status not in (204, 304):
            data += body
        self.sock.settimeout(20)
        self.sock.sendall(data)

    def one(self):
        while not self.buf.strip(b'\r\n'):
            self.buf = b''
            self.more(idle=True)
        self.deadline = time.monotonic() + 8
        req = Request()
        req.address = self.address
        req.raw, req.too_large, req.body = b'', False, None
        try:
            while b'\r\n\r\n' not in self.buf and b'\n\n' not in self.buf:
                if len(self.buf) > 131072:
                    self.fail(req, 'too_thick')
                    return False
                self.more()
            first = self.line()
            while first == b'':
                first = self.line()
            bits = first.decode('latin-1').split(' ')
            if len(bits) != 3 or not bits[2].startswith('HTTP/1.'):
                self.fail(req, 'illegible')
                return False
            req.raw_method, req.target = bits[0], bits[1]
            req.method = bits[0]
            if not req.target.startswith('/'):
                u = urlsplit(req.target)
                req.target = (u.path or '/') + ('?' + u.query if u.query else '')
            req.path, _, q = req.target.partition('?')
            req.query = q
            headers = []
            while True:
                l = self.line()
                if l == b'':
                    break
                n, sep, v = l.decode('latin-1').partition(':')
                if not sep or n != n.strip() or n == '':
                    self.fail(req, 'illegible')
                    return False
                headers.append((n, v.strip()))
            req.headers = headers
        except Slow:
            self.fail(req, 'dawdled')
            return False
        close = (req.header('connection') or '').lower() == 'close' or bits[2] == 'HTTP/1.0'
        state = {'read': False}
        chunked = 'chunked' in (req.header('transfer-encoding') or '').lower()
        length = req.header('content-length')
        if length is not None and (not re.match(r'^\d+\Z', length) or chunked):
            self.fail(req, 'illegible')
            return False
        length = int(length or 0)

        def read_body():
            if state['read']:
                return
            if not chunked and length > 8192:
                state['read'] = 'left'
                req.too_large = True
                return
            state['read'] = True
            if (req.header('expect') or '').lower() == '100-continue' and (chunked or length):
                self.sock.sendall(b'HTTP/1.1 100 Continue\r\n\r\n')
            if not chunked:
                req.raw = self.exactly(length)
                return
            parts, size = [], 0
            while True:
                l = self.line().split(b';')[0].strip()
                try:
                    n = int(l, 16)
                except ValueError:
                    raise Gone
                if n == 0:
                    while self.line() != b'':
                        pass
                    break
                size += n
                if size > 8192:
                    req.too_large = True
                    state['read'] = 'left'
                    return
                parts.append(self.exactly(n))
                self.line()
            req.raw = b''.join(parts)
        req.read_body = read_body
        head = req.method == 'HEAD'
        try:
            if self.clock_door:
                read_body()
                status, headers, body = clock_answer(req)
            else:
                status, headers, body = answer(req)
        except Slow:
            self.fail(req, 'dawdled')
            return False
        unread = state['read'] == 'left' or (not state['read'] and (chunked or length))
        small = unread and not chunked and length <= 8192 and (req.header('expect') or '').lower() != '100-continue'
        if small:
            unread = False
        close = close or bool(unread)
        self.send(status, headers, body, head, close)
        if small:                                     # refused before its body was read: read away, so that the connection goes on
            try:
                self.exactly(length)
            except Slow:
                return False
        if unread:
            self.drain()
        return not close

    def drain(self):
        """Reads away what is still coming, so that the answer arrives."""
        try:
            self.sock.shutdown(socket.SHUT_WR)
            self.sock.settimeout(0.5)
            left, end = 4 << 20, time.monotonic() + 3
            while left > 0 and time.monotonic() < end:
                data = self.sock.recv(65536)
                if not data:
                    break
                left -= len(data)
        except OSError:
            pass

    def fail(self, req, code):
        a = refusal(req, Refused(code))
        try:
            self.send(a.status, {**a.headers, 'X-Slip': req.slip, 'Content-Type': 'application/json'}, dump(a.body), close=True)
            if code == 'too_thick':
                self.drain()
        except OSError:
            pass


def clock_answer(req):
    def say(status, body):
        return status, {'Content-Type': 'application/json'}, dump(body)
    if req.method == 'GET':
        return say(200, {'now': stamp(now())})
    if req.method != 'POST':
        return say(400, {'error': 'GET or POST'})
    try:
        sent = json.loads(req.raw.decode())
        assert isinstance(sent, dict) and len(sent) == 1
        if 'advance' in sent:
            text = sent['advance']
            assert isinstance(text, str)
            if re.match(r'^-P', text):
                return say(422, {'error': 'the clock goes forward alone'})
            target = plus_duration(now(), text)
        else:
            target = instant(sent['now'])
        assert target is not None
    except Exception:
        return say(400, {'error': 'advance or now'})
    if target < now():
        if 'now' in sent:
            return say(422, {'error': 'that time has passed'})
    move_clock(target)
    return say(200, {'now': stamp(now())})


def listen(port, clock_door):
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(('127.0.0.1', port))
    s.listen(128)

    def accept():
        while True:
            sock, address = s.accept()
            threading.Thread(target=Connection(sock, address[0], clock_door).serve, daemon=True).start()
    t = threading.Thread(target=accept, daemon=True)
    t.start()
    return t


if __name__ == '__main__':
    threading.Thread(target=keep_time, daemon=True).start()
    listen(ARGS.clock_port, True)
    door = listen(ARGS.port, False)
    print('paper mill on http://127.0.0.1:%d%s, clock on %d' % (ARGS.port, BASE, ARGS.clock_port), flush=True)
    try:
        door.join()
    except KeyboardInterrupt:
        sys.exit(0)
