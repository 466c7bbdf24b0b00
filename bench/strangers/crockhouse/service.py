#!/usr/bin/env python3
"""The Crock House: boards sourdough starters. Standard library only; rows are kept in memory."""
import argparse, base64, calendar, hashlib, hmac, heapq, json, math, os, random, re, string, threading, time, uuid
import socket, urllib.parse, urllib.request, urllib.error, http.client
from datetime import datetime, timedelta, timezone
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from http import HTTPStatus

FAULT = None


def F(name):
    return FAULT == name


# ---------------------------------------------------------------- clock

class Clock:
    shift = 0.0

    def now(self):
        return time.time() + self.shift

    def iso(self, at=None):
        at = self.now() if at is None else at
        ms = int(round(at * 1000))
        return datetime.fromtimestamp(ms // 1000, timezone.utc).strftime('%Y-%m-%dT%H:%M:%S') + '.%03dZ' % (ms % 1000)


CLOCK = Clock()
DATE_TIME = re.compile(r'^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$')
DURATION = re.compile(r'^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$')


def instant(text):
    if not isinstance(text, str) or not DATE_TIME.match(text):
        raise ValueError(text)
    text = text.upper().replace('Z', '+00:00')
    m = re.match(r'^(.*?)(\.\d+)?([+-]\d\d:\d\d)$', text)
    frac = float('0' + m.group(2)) if m.group(2) else 0.0
    return datetime.fromisoformat(m.group(1) + m.group(3)).timestamp() + frac


def advanced(at, text):
    m = DURATION.match(text)
    if not m:
        raise ValueError(text)
    y, mo, w, d, h, mi, s = [float(x) if x else 0 for x in m.groups()]
    when = datetime.fromtimestamp(at, timezone.utc)
    months = int(y * 12 + mo)
    if months:
        total = when.year * 12 + when.month - 1 + months
        year, month = divmod(total, 12)
        when = when.replace(year=year, month=month + 1, day=min(when.day, calendar.monthrange(year, month + 1)[1]))
    return (when + timedelta(days=w * 7 + d, hours=h, minutes=mi, seconds=s)).timestamp()


# ---------------------------------------------------------------- errors

CODES = {
    'lacks-a-field': (400, '{name} is not there'), 'stranger-field': (400, '{name} is not known here'),
    'hands-off': (403, '{name} is not yours to write'), 'does-not-fit': (422, '{name} does not fit'),
    'unreadable': (400, 'That is no JSON.'), 'empty-handed': (411, 'A body was expected.'),
    'wrong-wrapping': (415, 'Bring JSON.'), 'not-served-so': (406, 'JSON is all there is.'),
    'odd-question': (400, 'The query is not understood.'), 'bad-page': (416, 'There is no such page.'),
    'no-such-place': (404, 'There is no such place.'), 'not-done-here': (405, 'That is not done here.'),
    'who-are-you': (401, 'Show a key or a token.'), 'not-known': (401, 'That is no key or token of this house.'),
    'lacks-a-scope': (403, 'Your key does not reach that far.'), 'not-allowed': (403, 'You may not do that.'),
    'not-on-the-shelf': (404, 'It is not here.'), 'thrown-out': (410, 'It was thrown out.'),
    'name-taken': (409, 'There is one already.'), 'leads-nowhere': (422, 'It refers to nothing here.'),
    'still-in-use': (409, 'Something still refers to it.'), 'wrong-moment': (409, 'Not in this state.'),
    'stale': (412, 'It has changed since.'), 'tag-wanted': (428, 'Send If-Match.'),
    'key-used-up': (422, 'That key was for something else.'), 'busy': (409, 'Try again.'),
    'slow-down': (429, 'Too many at once.'), 'enough': (429, 'That is all for now.'),
    'too-big': (413, 'That does not fit through the hatch.'), 'long-winded': (414, 'The address is too long.'),
    'no-such-version': (400, 'There is no such version.'), 'bygone-version': (410, 'That version is over.'),
    'burnt': (503, 'Something burnt.'), 'too_late': (409, 'It is no longer merely booked.'),
    'too_hot': (409, 'It came too hot and was turned away.'), 'shelf-full': (409, 'That shelf is full.'),
    'greedy': (409, 'Nobody takes more than three meals home.'), 'too-stiff': (422, 'Thirty nights are enough in the cold.'),
    'not-housed': (409, 'Only what stands on a shelf is fed.'),
}
OWN = {'too_late', 'too_hot', 'shelf-full', 'greedy', 'too-stiff', 'not-housed'}
BAD_STATUS = {  # faults: a code that comes with another status
    'x-missing-422': ('lacks-a-field', 422), 'x-fit-400': ('does-not-fit', 400), 'x-parameter-422': ('odd-question', 422),
    'x-taken-422': ('name-taken', 422), 'x-reference-404': ('leads-nowhere', 404), 'x-held-423': ('still-in-use', 423),
    'x-moment-422': ('wrong-moment', 422), 'x-stale-409': ('stale', 409), 'x-reused-409': ('key-used-up', 409),
    'x-hot-400': ('too_hot', 400), 'x-page-400': ('bad-page', 400), 'x-empty-400': ('empty-handed', 400),
    'x-version-404': ('no-such-version', 404), 'x-stiff-409': ('too-stiff', 409), 'x-late-410': ('too_late', 410),
}
BAD_CODE = {'x-place-code': ('no-such-place', 'not-on-the-shelf'), 'x-scope-code': ('lacks-a-scope', 'not-allowed'),
            'x-who-code': ('who-are-you', 'not-known'), 'x-greedy-code': ('greedy', 'wrong-moment'),
            'x-stranger-code': ('stranger-field', 'does-not-fit'), 'x-quota-code': ('enough', 'slow-down'),
            'x-not-housed-code': ('not-housed', 'wrong-moment')}


class Sorry(Exception):
    def __init__(self, code, at=None, headers=None):
        Exception.__init__(self, code)
        self.code, self.at, self.headers = code, at or [], headers or {}


def refusal(sorry, ask):
    code = sorry.code
    status, message = CODES[code]
    if FAULT in BAD_STATUS and BAD_STATUS[FAULT][0] == code:
        status = BAD_STATUS[FAULT][1]
    if FAULT in BAD_CODE and BAD_CODE[FAULT][0] == code:
        code = BAD_CODE[FAULT][1]
    if '{name}' in message:
        name = sorry.at[0]['path'] if sorry.at else 'body'
        message = message.replace('{name}', (name or 'body') if not F('x-name-message') else 'something')
    if F('x-message-late') and code == 'too_late':
        message = 'Not in this state.'
    told = {'why': code, 'http': status, 'says': message, 'ask': ask}
    if sorry.at and not F('x-no-places'):
        told['at'] = [dict(v, path='/' + v['path'].replace('.', '/') if F('x-pointer') and v['in'] == 'body' else v['path'])
                      for v in sorry.at]
    if F('x-no-ask'):
        del told['ask']
    if F('x-http-member'):
        told['http'] = str(status)
    headers = dict(sorry.headers)
    if not F('x-no-header'):
        headers['X-Crock-Sorry'] = code
    return status, headers, {'error': told} if F('x-envelope') else {'sorry': told}


# ---------------------------------------------------------------- shapes

COUNTRIES = set('''AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD
CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM
GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK
LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF
PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK
TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'''.split())


def S(type, **words):
    return dict(type=type, **words)


def RO(type='string', **words):
    return dict(type=type, ro=True, **words)


TEXT = lambda lo, hi, **w: S('string', lo=lo, hi=hi, **w)
ORIGIN = {'town': TEXT(1, 40, req=True), 'country': S('string', country=True, req=True), 'year': S('integer', min=1700, max=2100), 'label': RO()}


def build_fields():
    return {
        'flour': {'code': S('string', pattern=r'^[a-zA-Z][a-zA-Z0-9-]{1,23}$' if F('r-code-pattern') else r'^[a-z][a-z0-9-]{1,23}$', req=True, imm=True),
                  'name': TEXT(2, 40, req=True), 'protein': S('integer', min=0, max=300, default=100 if F('r-protein-default') else 120, req=True),
                  'mills': S('array', items=TEXT(1, 30), max_items=4, uniq=not F('r-mills-twice'))},
        'shelf': {'id': RO(req=True), 'name': TEXT(2, 30, req=True), 'warmth': S('string', enum=['cold', 'cool', 'room'], default='cool', req=True),
                  'jars': S('integer', min=1, max=600 if F('r-jars-max') else 60, req=True), 'taken': RO('integer'), 'nights': RO('integer')},
        'culture': {'id': RO(), 'owner': RO(), 'guild': RO(), 'number': RO('integer'), 'name': TEXT(1, 400 if F('r-name-long') else 40, req=True),
                    'flour': S('string', ref='flour', req=True),
                    'hydration': S('integer', min=50, max=2000 if F('r-hydration-max') else 200, default=80 if F('r-hydration-default') else 100, req=True),
                    'mood': S('string', enum=['mild', 'sharp', 'fierce'] + (['sleepy'] if F('r-mood-more') else []), default='sharp' if F('r-mood-default') else 'mild', req=True),
                    'origin': S('object', fields=ORIGIN), 'tags': S('array', items=TEXT(1, 20), max_items=50 if F('r-tags-many') else 5),
                    'keeper_tip': TEXT(0, 120, visible=['warden'], writable=['warden']), 'housed': RO('boolean'), 'updated_at': RO()},
        'stay': {'id': RO(), 'ticket': RO(), 'owner': RO(), 'culture': S('string', ref='culture', imm=not F('r-culture-mutable'), req=True),
                 'shelf': S('string', ref='shelf', imm=True, req=True), 'nights': S('integer', min=0 if F('r-nights-zero') else 1, max=60, req=not F('r-nights-optional')),
                 'price_cents': RO('integer'), 'remark': TEXT(0, 200), 'pick_up_code': RO(once=True), 'status': RO(), 'booked_at': RO(),
                 'ends_at': RO(), 'verdict': RO(), 'meals': RO('array')},
        'feeding': {'id': RO(), 'stay': S('string', ref='stay', imm=True, req=True), 'flour_g': S('integer', min=1, max=500, req=True), 'water_g': RO('integer'),
                    'smell': S('string', enum=['sweet', 'sour', 'nail-varnish']), 'by': RO(), 'fed_at': RO()},
        'receipt': {k: RO() for k in ('id', 'number', 'stay', 'owner', 'amount_cents', 'issued_at')},
        'hook': {'id': RO(), 'owner': RO(), 'url': S('string', hi=300, lo=0, uri=True, req=True), 'secret': RO(once=True),
                 'kinds': S('array', items=S('string', kind=True), min_items=1), 'enabled': S('boolean', default=True, req=True)},
        'entry': {k: RO() for k in ('id', 'kind', 'about', 'at')},
    }


KINDS = ['culture.renamed', 'stay.booked', 'stay.housed', 'stay.turned_away', 'stay.over', 'stay.due_soon', 'feeding.given', 'receipt.issued', 'hook.silenced']
FIELDS = {}
CURRENT, OLD, OLDEST = '2026-08-01', '2026-02-01', '2025-05-01'


def bad(at, path, why, expected, found=None):
    v = {'in': 'body', 'path': path, 'expected': expected, 'why': why}
    if found is not None:
        v['found'] = found
    at.append(v)


def kind_of(value):
    return {bool: 'boolean', str: 'string', list: 'array', dict: 'object', type(None): 'null', int: 'integer', float: 'number'}[type(value)]


def fit(shape, value, path, at):
    t = shape['type']
    if t == 'integer' and isinstance(value, float) and (value == int(value) or F('r-fractions')):
        value = int(value)
    if t == 'boolean' and F('r-enabled-text') and isinstance(value, str):
        return value != 'no'
    if kind_of(value) != t and not (t == 'number' and kind_of(value) == 'integer'):
        bad(at, path, 'type', t, kind_of(value))
        return value
    if t == 'string':
        if len(value) < shape.get('lo', 0) or len(value) > shape.get('hi', 10 ** 9):
            bad(at, path, 'value', '%s to %s characters' % (shape.get('lo', 0), shape.get('hi')))
        elif 'pattern' in shape and not re.match(shape['pattern'], value):
            bad(at, path, 'value', 'the pattern ' + shape['pattern'])
        elif 'enum' in shape and value not in shape['enum']:
            bad(at, path, 'value', 'one of ' + ', '.join(shape['enum']))
        elif shape.get('country') and value not in COUNTRIES and not F('r-country-any'):
            bad(at, path, 'value', 'a country')
        elif shape.get('uri') and not F('r-uri-any') and not re.match(r'^https?://[^\s/?#]+\S*$', value):
            bad(at, path, 'value', 'an address')
        elif shape.get('kind') and not F('v-unknown-kind') and value != '*' and value not in KINDS and not (value.endswith('.*') and any(k.startswith(value[:-1]) for k in KINDS)):
            bad(at, path, 'value', 'a kind of event')
    elif t in ('integer', 'number'):
        if value < shape.get('min', -10 ** 18) or value > shape.get('max', 10 ** 18):
            bad(at, path, 'value', '%s to %s' % (shape.get('min'), shape.get('max')))
    elif t == 'array':
        if len(value) > shape.get('max_items', 10 ** 6) or len(value) < shape.get('min_items', 0):
            bad(at, path, 'value', 'another number of items')
        elif shape.get('uniq') and len({json.dumps(x, sort_keys=True) for x in value}) < len(value):
            bad(at, path, 'value', 'items that differ')
        return [fit(shape['items'], x, '%s.%d' % (path, i), at) for i, x in enumerate(value)]
    elif t == 'object' and 'fields' in shape:
        out = {}
        for k, x in value.items():
            inner = shape['fields'].get(k)
            if inner is None:
                bad(at, path + '.' + k, 'unknown', 'nothing')
            elif not inner.get('ro'):
                out[k] = fit(inner, x, path + '.' + k, at)
        for k, inner in shape['fields'].items():
            if inner.get('req') and k not in value:
                bad(at, path + '.' + k, 'missing', inner['type'])
        return out
    return value


def old_fields(res, version):
    """The fields of a resource as a version has them: shown name -> (stored name, shape)."""
    out = {}
    for name, shape in FIELDS[res].items():
        shown = name
        if version != CURRENT:
            if (res, name) == ('stay', 'remark') and not F('n-remark-old'):
                continue
            if (res, name) == ('culture', 'hydration') and not F('n-rename-in'):
                shown = 'wetness'
            if (res, name) == ('culture', 'mood') and not F('n-mood-in'):
                shape = dict(shape, enum=['gentle' if x == 'mild' else x for x in shape['enum']], default='gentle')
        out[shown] = (name, shape)
    if version != CURRENT and res == 'shelf':
        out['room'] = (None, S('string'))
    return out


def carry_down(res, row, version):
    if version == CURRENT:
        return row
    out = {}
    for k, v in row.items():
        if res == 'culture' and k == 'hydration' and not F('n-rename-out'):
            k = 'wetness'
        if res == 'culture' and k == 'mood' and v == 'mild' and not F('n-mood-out'):
            v = 'gentle'
        if res == 'stay' and k == 'price_cents' and not F('n-price-cents'):
            v = v / 100.0
        if res == 'stay' and k == 'remark' and not F('n-remark-old'):
            continue
        out[k] = v
    if res == 'shelf' and not F('n-room-gone'):
        out['room'] = 'cellar'
    return out


# ---------------------------------------------------------------- rows

class Store:
    def __init__(self):
        self.rows = {r: {} for r in FIELDS}
        self.gone = {}          # cultures that were deleted: id -> (row, until)
        self.seq = 0
        self.counters = {}
        self.timers = []
        self.rates, self.quota, self.keys = {}, {}, {}
        self.deliveries = []
        self.lock = threading.RLock()

    def put(self, res, key, row):
        if key not in self.rows[res]:
            self.seq += 1
            row['_seq'] = self.seq
        self.rows[res][key] = row

    def count(self, name):
        self.counters[name] = self.counters.get(name, 0) + 1
        return self.counters[name]


DB = None
ALNUM = string.ascii_letters + string.digits


def rnd(n, alphabet=ALNUM):
    return ''.join(random.SystemRandom().choice(alphabet) for _ in range(n))


def derived(res, row):
    out = {}
    if res == 'shelf':
        standing = [s for s in DB.rows['stay'].values() if s['shelf'] == row['id'] and (s['status'] == 'housed' or (F('r-taken-all') and s['status'] == 'booked'))]
        out = {'taken': len(standing), 'nights': len(standing) if F('r-nights-count') else sum(s['nights'] for s in standing)}
    elif res == 'culture':
        states = ('housed', 'collected') if F('r-housed-stuck') else ('housed',)
        out = {'housed': any(s['culture'] == row['id'] and s['status'] in states for s in DB.rows['stay'].values())}
    return out


class Caller:
    def __init__(self, user, id, guild, scopes):
        self.user, self.id, self.guild, self.scopes = user, id, guild, set(scopes)


def guild_of(res, row):
    if res == 'culture':
        return row['guild']
    if res == 'receipt':
        row = DB.rows['stay'][row['stay']]
    c = DB.rows['culture'].get(row['culture'])
    return c['guild'] if c else None


def may_read(caller, res, row, listing=False):
    if res == 'flour':
        return True
    if caller is None:
        return False
    if res == 'shelf':
        return True
    own = row.get('owner') == caller.id
    if res == 'culture':
        if caller.user == 'baker':
            return own or (F('a-culture-read-all') and not listing) or (F('a-culture-list-all') and listing)
        return caller.user == 'warden' or row['guild'] == caller.guild or F('a-guild-any')
    if res == 'stay':
        if caller.user == 'baker':
            return own or (F('a-stay-read-all') and not listing) or (F('a-stay-list-all') and listing)
        return caller.user == 'warden' or guild_of('stay', row) == caller.guild or F('a-stay-guild-any')
    if res == 'feeding':
        return caller.user == 'warden' or (caller.user == 'baker' and (DB.rows['stay'][row['stay']]['owner'] == caller.id or F('a-feeding-all')))
    if res == 'receipt':
        return caller.user == 'baker' and (own or F('a-receipt-all')) or caller.user == 'inspector' and (guild_of('receipt', row) == caller.guild or F('a-receipt-guild'))
    if res == 'hook':
        return caller.user in ('baker', 'warden') and (own or F('a-hook-all'))
    return caller.user in ('inspector', 'warden')


INSPECTED = ('id', 'name', 'flour', 'mood', 'guild')


def shows(caller, res, name):
    """Whether a caller is shown a field at all."""
    shape = FIELDS[res][name]
    if 'visible' in shape and (caller is None or caller.user not in shape['visible']) and not F('r-tip-seen'):
        return False
    if res == 'culture' and caller is not None and caller.user == 'inspector' and name not in INSPECTED and not F('a-inspector-all-fields'):
        return False
    return True


def show(caller, res, row, version, once=False, expand=None, payload=False, whole=True):
    full = dict(row, **derived(res, row))
    out = {}
    for name, shape in FIELDS[res].items():
        if res == 'stay' and name == 'meals':
            if not payload and not F('r-no-meals'):
                fed = sorted((f for f in DB.rows['feeding'].values() if f['stay'] == row['id']), key=lambda f: f['_seq'], reverse=F('r-meals-order'))
                out['meals'] = [show(caller, 'feeding', f, version) for f in fed if may_read(caller, 'feeding', f)][:50]
            continue
        if name not in full or not shows(caller, res, name):
            continue
        if shape.get('once') and not once and not (F('r-code-again') and res == 'stay' and not payload) and not (F('r-secret-again') and res == 'hook') \
                and not (F('v-code-told') and payload and res == 'stay'):
            continue
        value = full[name]
        if expand and name in expand:
            target = {'culture': 'culture', 'shelf': 'shelf', 'flour': 'flour'}[name]
            other = DB.rows[target].get(value)
            if other is not None and may_read(caller, target, other):
                value = show(caller, target, other, version, expand=None if F('e-expand-shallow') else expand[name])
        out[name] = value
    return carry_down(res, out, version)


def tag_of(caller, res, row, version):
    shown = show(caller, res, row, version)
    if F('e-etag-derived'):
        shown.pop('housed', None)
    return '"%s"' % hashlib.sha256(json.dumps([version, shown], sort_keys=True).encode()).hexdigest()[:20]


# ---------------------------------------------------------------- events

def match_kind(hook, kind):
    if 'kinds' not in hook or F('v-kinds-ignored'):
        return True
    return any(k == '*' or k == kind or (k.endswith('.*') and kind.startswith(k[:-1]) and not F('v-wildcard')) for k in hook['kinds'])


def emit(kind, res, row, payload, to=None):
    now = CLOCK.now()
    event = {'id': 'ent_' + rnd(20), 'kind': kind, 'at': CLOCK.iso(now)}
    if not (F('v-log-none') and kind == 'stay.housed'):
        DB.put('entry', event['id'], {'id': event['id'] if not F('v-log-id') else 'ent_' + rnd(20), 'kind': kind if not F('v-log-kind') else kind.split('.')[0],
                                      'about': row['_key'] if not F('v-log-about') else row.get('owner', 'nobody'), 'at': event['at'],
                                      '_until': now + (2 if F('v-log-keep') else 20) * 86400})
    for hook in list(DB.rows['hook'].values()):
        if not hook['enabled'] and not F('v-disabled-told'):
            continue
        if not match_kind(hook, kind):
            continue
        maker = hook['_maker']
        if to is not None:
            if not to(hook):
                continue
        elif not may_read(maker, res, row) and not F('v-anyone-told'):
            continue
        body = payload(maker, hook['_version'])
        told = {'id': event['id'], 'kind': kind, 'at': event['at'], 'body': body}
        if F('v-envelope'):
            told['type'] = told.pop('kind')
        DB.seq += 1
        DB.deliveries.append({'hook': hook['id'], 'about': (res, row['_key']), 'kind': kind, 'id': event['id'], 'told': told, 'due': now, 'tries': 0,
                              'seq': DB.seq, 'busy': False})
    PUMP.kick()


def stay_payload(row):
    frozen = dict(row)
    return lambda maker, version: show(maker, 'stay', frozen, CURRENT if F('n-event-version') else version, payload=True)


def stay_over(row):
    how = row['status']
    emit('stay.over', 'stay', row, lambda m, v: {'stay': row['id'], 'how': 'over' if F('v-over-how') else how, **({} if F('v-over-nights') else {'nights': row['nights']})})


def silence(hook):
    if F('v-never-disabled'):
        return
    hook['enabled'] = False
    hook['_failing'] = None
    DB.deliveries[:] = [d for d in DB.deliveries if d['hook'] != hook['id'] or d['busy']]
    if not F('v-silenced-none'):
        emit('hook.silenced', 'hook', hook, lambda m, v: hook['id'])


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *a, **k):
        return None


OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), NoRedirect)


class Pump(threading.Thread):
    """Fires the timers and sends the deliveries."""
    def __init__(self):
        threading.Thread.__init__(self, daemon=True)
        self.event = threading.Event()

    def kick(self):
        self.event.set()

    def run(self):
        while True:
            self.event.wait(0.25)
            self.event.clear()
            with DB.lock:
                fire_due()
                self.send_due()

    def send_due(self):
        now = CLOCK.now()
        seen, busy = set(), set(d['hook'] for d in DB.deliveries if d['busy'])
        for d in sorted(DB.deliveries, key=lambda d: d['seq']):
            lane = (d['hook'], d['about'])
            if lane in seen and not F('v-order'):
                continue
            seen.add(lane)
            if d['busy'] or d['due'] > now:
                continue
            hook = DB.rows['hook'].get(d['hook'])
            if hook is None or (not hook['enabled'] and not F('v-disabled-told')):
                DB.deliveries.remove(d)
                continue
            if hook.get('_wait', 0) > now or (hook.get('_failing') and d['hook'] in busy):
                continue
            busy.add(d['hook'])
            d['busy'] = True
            threading.Thread(target=self.send, args=(d, dict(hook), now), daemon=True).start()

    def send(self, d, hook, now):
        ident = d['id'] if not F('v-id-anew') else 'ent_' + rnd(20)
        told = dict(d['told'], id=ident)
        body = json.dumps(told).encode()
        stamp = str(int(now))
        signed = body if F('v-sign-body') else ident.encode() + b'|' + stamp.encode() + b'|' + body
        digest = hmac.new(hook['secret'].encode() if not F('v-sign-secret') else b'secret', signed, hashlib.sha256)
        seal = base64.b64encode(digest.digest()).decode() if F('v-sign-base64') else digest.hexdigest()
        headers = {'Content-Type': 'application/json', 'X-Crock-Signature': ('t=%s,seal=%s' if F('v-sign-form') else 'at=%s,seal=%s') % (stamp, seal)}
        if not F('v-no-header'):
            headers['X-Crock-Event'] = d['kind']
        status, wait = 0, None
        try:
            request = urllib.request.Request(hook['url'], data=body, headers=headers, method='PUT' if F('v-put') else 'POST')
            with OPENER.open(request, timeout=5) as answer:
                status = answer.status
        except urllib.error.HTTPError as e:
            status = e.code
            wait = e.headers.get('Retry-After')
            e.close()
        except Exception:
            status = 0
        with DB.lock:
            d['busy'] = False
            now = CLOCK.now()
            row = DB.rows['hook'].get(d['hook'])
            if d not in DB.deliveries:
                self.kick()
                return
            if 200 <= status < 300 or (F('v-redirect-good') and 300 <= status < 400):
                DB.deliveries.remove(d)
                if row:
                    row['_failing'] = None
            else:
                waits = [10, 120, 1800]
                if F('v-retry-late'):
                    waits = [60, 120, 1800]
                if F('v-retry-none'):
                    waits = []
                if F('v-retry-two'):
                    waits = [10, 120]
                if F('v-retry-more'):
                    waits = [10, 120, 1800, 1800]
                if row is None:
                    DB.deliveries.remove(d)
                elif status == 410 and not F('v-410'):
                    silence(row)
                elif row.get('_failing') and now >= row['_failing'] + 86400:
                    silence(row)
                else:
                    row['_failing'] = row.get('_failing') or now
                    if wait and wait.isdigit():
                        row['_wait'] = max(row.get('_wait', 0), now + min(int(wait), 86400))
                    if d['tries'] < len(waits):
                        d['due'] = now + waits[d['tries']]
                        d['tries'] += 1
                    else:
                        DB.deliveries.remove(d)
            self.kick()


PUMP = None


# ---------------------------------------------------------------- timers

def timer(at, what, key, mark):
    DB.seq += 1
    heapq.heappush(DB.timers, (at, DB.seq, what, key, mark))


def fire_due():
    now = CLOCK.now()
    while DB.timers and DB.timers[0][0] <= now:
        at, _, what, key, mark = heapq.heappop(DB.timers)
        stay = DB.rows['stay'].get(key)
        if stay is None:
            continue
        if what == 'lapse' and stay['status'] == 'booked' and stay.get('_entered') == mark and not F('s-lapse-never'):
            stay['status'] = 'cancelled' if F('s-lapse-state') else 'lapsed'
            if not F('v-lapse-untold'):
                stay_over(stay)
        elif what == 'compost' and stay['status'] == 'housed' and stay.get('ends_at') == mark and not F('s-compost-never'):
            stay['status'] = 'collected' if F('s-compost-state') else 'composted'
            if not F('v-compost-untold'):
                stay_over(stay)
        elif what == 'due' and stay['status'] == 'housed' and stay.get('ends_at') == mark and not F('v-due-never'):
            emit('stay.due_soon', 'stay', stay, lambda m, v: stay['id'] if not F('v-due-payload') else {'stay': stay['id']})
    for key in [k for k, e in DB.rows['entry'].items() if e['_until'] <= now]:
        del DB.rows['entry'][key]
    if not F('r-gone-forever'):
        for key in [k for k, (row, until) in DB.gone.items() if until <= now]:
            del DB.gone[key]


# ---------------------------------------------------------------- callers

SECRET = os.environ.get('CROCK_HOUSE_TOKEN_SECRET', 'a-wooden-spoon-and-a-long-winter-night')
KEYS = {
    'ck_AdaNorth000000000000000000aa': ('baker', 'ada', 'north', []),
    'ck_BoNorth0000000000000000000bb': ('baker', 'bo', 'north', []),
    'ck_CydSouth000000000000000000cc': ('baker', 'cyd', 'south', []),
    'ck_IdaWarden00000000000000000dd': ('warden', 'ida', 'north', ['feed', 'shelves']),
    'ck_JonWarden00000000000000000ee': ('warden', 'jon', 'south', []),
}


def unb64(text):
    return base64.urlsafe_b64decode(text + '=' * (-len(text) % 4))


def by_token(token):
    try:
        head, body, sign = token.split('.')
        h, claims = json.loads(unb64(head)), json.loads(unb64(body))
        if h.get('alg') != 'HS256' and not (F('a-alg-none') and h.get('alg') == 'none'):
            return None
        if not F('a-signature') and not (F('a-alg-none') and h.get('alg') == 'none') and \
                not hmac.compare_digest(hmac.new(SECRET.encode(), (head + '.' + body).encode(), hashlib.sha256).digest(), unb64(sign)):
            return None
        if claims.get('iss') != 'https://guilds.example' and not F('a-issuer'):
            return None
        aud = claims.get('aud')
        if 'crock-house' not in (aud if isinstance(aud, list) else [aud]) and not F('a-audience'):
            return None
        now = CLOCK.now()
        if 'exp' in claims and now > claims['exp'] + 5 and not F('a-expired'):
            return None
        if 'nbf' in claims and now < claims['nbf'] - 5 and not F('a-not-before'):
            return None
        user = claims['role']
        if user not in ('baker', 'warden', 'inspector') or (F('p-no-inspector') and user == 'inspector'):
            return None
        guild = claims['guild'] if not F('a-no-guild') else claims.get('guild', 'north')
        if not isinstance(claims['sub'], str) or not isinstance(guild, str):
            return None
        return Caller(user, claims['sub'], guild, claims['scope'].split(' ') if 'scope' in claims else [])
    except Exception:
        return None


def authenticate(ctx, anyone, schemes):
    found, came = [], False
    challenges = []
    key = ctx.headers.get_all('X-Crock-Key') or []
    auth = ctx.headers.get_all('Authorization') or []
    if F('a-key-in-query') and ctx.query.get('key') in KEYS:
        key = [ctx.query.pop('key')]
    if F('a-key-any-header') and not key:
        key = ctx.headers.get_all('X-Api-Key') or []
    if 'key' in schemes:
        challenges.append('ApiKey realm="The Crock House", in="header", name="X-Crock-Key"')
        if key:
            came = True
            found.append(Caller(*KEYS[key[0]]) if len(key) == 1 and key[0] in KEYS else None)
            if F('a-key-prefix') and found[-1] is None and len(key) == 1:
                hit = [k for k in KEYS if k.lower() == key[0].lower()]
                found[-1] = Caller(*KEYS[hit[0]]) if hit else None
    if 'token' in schemes:
        challenges.append('Bearer realm="The Crock House"')
        if auth:
            came = True
            m = re.match(r'^(Bearer|Token)\s+(\S+)$' if F('a-token-prefix') else r'^Bearer +(\S+)$', auth[0], 0 if F('a-token-prefix') else re.I)
            if F('a-token-prefix'):
                m = m if m and m.group(1) == 'Token' else None
            found.append(by_token(m.group(m.lastindex)) if len(auth) == 1 and m else None)
    if not came:
        if anyone and not F('a-flour-needs-key'):
            return None
        raise Sorry('who-are-you', headers={} if F('a-no-challenge') else {'WWW-Authenticate': ', '.join(challenges)})
    if F('a-two-callers') and any(found):
        found = [c for c in found if c][:1]
    if anyone and None in found and F('a-bad-key-anyone'):
        return None
    if None in found or len({(c.user, c.id) for c in found}) > 1:
        told = [c + (', error="invalid_key"' if c.startswith('ApiKey') else ', error="invalid_token"') for c in challenges]
        raise Sorry('not-known', headers={} if F('a-no-challenge') else {'WWW-Authenticate': ', '.join(told)})
    caller = found[0]
    for other in found[1:]:
        caller.scopes |= other.scopes
    return caller


# ---------------------------------------------------------------- limits

def rates(ctx):
    """Counts a request in all rates that apply, or refuses it; returns the header fields."""
    c, op = ctx.caller, ctx.op
    apply = []
    if c is not None:
        per = ('caller', 'all') if F('l-rate-shared') else ('caller', c.user, c.id)
        if not F('l-rate-off'):
            apply.append((per, 'fixed', 600, 60, 3 if op == 'list entry' and not F('l-cost') else 1))
        if c.user == 'baker' and op == 'create culture' and not F('l-bucket-off'):
            apply.append((('culture', c.id), 'bucket', 60, 60, 1))
    elif not F('l-anyone-off'):
        apply.append((('anyone', ctx.address), 'fixed', 90, 60, 1))
    now = CLOCK.now()
    state, refused = [], []
    for key, kind, limit, window, cost in apply:
        s = DB.rates.get(key)
        if kind == 'fixed':
            if s is None or (now >= s[0] + window and not F('l-window-stuck')):
                s = [now, 0]
            left, reset = limit - s[1], s[0] + window - now
            wait = reset
        else:
            if s is None:
                s = [now, float(limit)]
            if not F('l-bucket-dry'):
                s[1] = min(float(limit), s[1] + (now - s[0]) * limit / window)
            s[0] = now
            left = s[1]
            wait = (cost - left) * window / limit
            reset = window / limit
        DB.rates[key] = s
        state.append((s, kind, limit, left, reset, cost))
        if left < cost:
            refused.append((wait, limit, max(0, int(left)), reset))
    if refused:
        wait, limit, left, reset = max(refused)
        h = {'X-Crock-Limit': str(limit), 'X-Crock-Left': str(left), 'X-Crock-Reset': str(max(1, math.ceil(reset)))}
        if not F('l-no-retry-after'):
            h['Retry-After'] = str(max(1, math.ceil(wait)))
        raise Sorry('slow-down', headers=h)
    told = []
    for s, kind, limit, left, reset, cost in state:
        s[1] += cost if kind == 'fixed' else -cost
        told.append((int(left - cost), limit, reset))
    if not told:
        return {}
    left, limit, reset = min(told)
    return {'X-Crock-Limit': str(limit), 'X-Crock-Left': str(left if not F('l-left-wrong') else limit),
            'X-Crock-Reset': str(max(1, math.ceil(reset)) if not F('l-reset-unix') else int(now + reset))}


# ---------------------------------------------------------------- the endpoints

ROUTES = [
    ('GET', '/flours', 'list flour'), ('GET', '/flours/{code}', 'read flour'), ('PUT', '/flours/{code}', 'upsert flour'), ('DELETE', '/flours/{code}', 'delete flour'),
    ('POST', '/shelves', 'create shelf'), ('GET', '/shelves', 'list shelf'), ('GET', '/shelves/{id}', 'read shelf'), ('PATCH', '/shelves/{id}', 'update shelf'),
    ('DELETE', '/shelves/{id}', 'delete shelf'),
    ('POST', '/cultures', 'create culture'), ('GET', '/cultures', 'list culture'), ('GET', '/cultures/{id}', 'read culture'), ('PATCH', '/cultures/{id}', 'update culture'),
    ('DELETE', '/cultures/{id}', 'delete culture'),
    ('POST', '/stays', 'create stay'), ('GET', '/stays', 'list stay'), ('GET', '/stays/{id}', 'read stay'), ('PATCH', '/stays/{id}', 'update stay'),
    ('POST', '/stays/{id}/house', 'house stay'), ('POST', '/stays/{id}/collect', 'collect stay'), ('POST', '/stays/{id}/cancel', 'cancel stay'),
    ('POST', '/stays/{stay}/feedings', 'create feeding'), ('GET', '/stays/{stay}/feedings', 'list feeding'),
    ('GET', '/feedings/{id}', 'read feeding'), ('DELETE', '/feedings/{id}', 'delete feeding'),
    ('GET', '/receipts', 'list receipt'), ('GET', '/receipts/{number}', 'read receipt'),
    ('POST', '/hooks', 'create hook'), ('GET', '/hooks', 'list hook'), ('GET', '/hooks/{id}', 'read hook'), ('PATCH', '/hooks/{id}', 'update hook'), ('DELETE', '/hooks/{id}', 'delete hook'),
    ('GET', '/entries', 'list entry'),
]
ALL3 = ('baker', 'warden', 'inspector')
RULES = {
    'list shelf': ALL3, 'read shelf': ALL3, 'create shelf': ('warden',), 'update shelf': ('warden',), 'delete shelf': ('warden',),
    'upsert flour': ('warden',), 'delete flour': ('warden',),
    'create culture': ('baker',), 'list culture': ALL3, 'read culture': ALL3, 'update culture': ('baker', 'warden'), 'delete culture': ('baker',),
    'create stay': ('baker',), 'list stay': ALL3, 'read stay': ALL3, 'update stay': ('baker',), 'cancel stay': ('baker',), 'collect stay': ('baker',), 'house stay': ('warden',),
    'list feeding': ('warden', 'baker'), 'read feeding': ('warden', 'baker'), 'create feeding': ('warden',), 'delete feeding': ('warden',),
    'list receipt': ('baker', 'inspector'), 'read receipt': ('baker', 'inspector'),
    'create hook': ('baker', 'warden'), 'list hook': ('baker', 'warden'), 'read hook': ('baker', 'warden'), 'update hook': ('baker', 'warden'), 'delete hook': ('baker', 'warden'),
    'list entry': ('inspector', 'warden'),
}
MORE = {'a-baker-flours': ('upsert flour', 'baker'), 'a-warden-cultures': ('create culture', 'warden'), 'a-baker-houses': ('house stay', 'baker'),
        'a-warden-cancels': ('cancel stay', 'warden'), 'a-warden-receipts': ('list receipt', 'warden'), 'a-baker-entries': ('list entry', 'baker'),
        'a-inspector-hooks': ('create hook', 'inspector')}
LESS = {'a-inspector-shelves': ('list shelf', 'inspector'), 'a-warden-updates': ('update culture', 'warden'), 'p-baker-collects': ('collect stay', 'baker')}
SCOPES = {'create shelf': 'shelves', 'update shelf': 'shelves', 'delete shelf': 'shelves', 'create feeding': 'feed', 'delete feeding': 'feed'}
BODIES = {'create', 'update', 'upsert', 'house', 'collect'}
KEY_FIELD = {r: 'id' for r in ('shelf', 'culture', 'stay', 'feeding', 'hook', 'entry')}
KEY_FIELD.update(flour='code', receipt='number')
# name -> (stored field or path, operator, type)
FILTERS = {
    'flour': {'mill': ('mills', 'has', 'string'), 'min_protein': ('protein', '>=', 'integer')},
    'shelf': {'warmth': ('warmth', 'in', 'warmth'), 'jars_under': ('jars', '<', 'integer'), 'used': ('', 'used', 'boolean')},
    'culture': {'flour': ('flour', '=', 'string'), 'mood': ('mood', 'in', 'mood'), 'wetter_than': ('hydration', '>', 'integer'), 'starts': ('name', 'prefix', 'string'),
                'town': ('origin.town', 'nocase', 'string'), 'tag': ('tags', 'has', 'string'), 'words': ('name', 'search', 'string'), 'by': ('', 'sort', 'by')},
    'stay': {'status': ('status', 'in', 'status'), 'culture': ('culture', '=', 'string'), 'shelf': ('shelf', '=', 'string'), 'flour': ('culture.flour', 'cflour', 'string'),
             'booked_since': ('booked_at', 'since', 'date-time'), 'view': ('', 'view', 'view'), 'sort': ('', 'sort', 'sort')},
    'feeding': {'smell': ('smell', '=', 'smell')},
    'receipt': {'stay': ('stay', '=', 'string'), 'from_cents': ('amount_cents', '>=', 'integer')},
    'hook': {}, 'entry': {'kind': ('kind', '=', 'string'), 'about': ('about', '=', 'string')},
}
STATES = ['booked', 'housed', 'refused', 'collected', 'composted', 'cancelled', 'lapsed']
ENUMS = {'warmth': ['cold', 'cool', 'room'], 'mood': ['mild', 'sharp', 'fierce'], 'status': STATES, 'view': ['live', 'done'], 'smell': ['sweet', 'sour', 'nail-varnish'],
         'sort': ['booked_at', '-booked_at', 'nights', '-nights'], 'by': ['name', '-name', 'wet', '-wet']}


class Ctx:
    pass


def q_bad(name):
    return Sorry('odd-question', [{'in': 'query', 'path': name, 'expected': 'something else', 'why': 'value'}])


def q_value(ctx, name, raw, kind):
    if kind == 'integer':
        if not re.match(r'^-?\d{1,15}$', raw):
            raise q_bad(name)
        return int(raw)
    if kind == 'boolean':
        if raw not in ('true', 'false'):
            raise q_bad(name)
        return raw == 'true'
    if kind == 'date-time':
        try:
            return instant(raw)
        except Exception:
            raise q_bad(name)
    if kind in ENUMS:
        values = ENUMS[kind]
        if kind == 'mood' and ctx.version != CURRENT and not F('n-mood-filter'):
            if raw == 'gentle':
                return 'mild'
            values = ['sharp', 'fierce']
        if raw not in values:
            raise q_bad(name)
    return raw


def read_query(ctx):
    """Step 8: the parameters of the request, and the page that is asked for."""
    verb, res = ctx.verb, ctx.res
    known = dict(FILTERS[res]) if verb == 'list' else {}
    ctx.given, ctx.expand, ctx.only = {}, {}, None
    paging = {'list': ('skip', 'take') if res == 'receipt' else ('from', 'take')}.get(verb, ())
    page = {}
    for name, values in ctx.multi.items():
        if name in paging:
            if len(values) > 1:
                raise Sorry('odd-question')
            page[name] = values[0]
        elif name == 'with' and ctx.op in ('list stay', 'read stay'):
            for path in ','.join(values).split(','):
                if path not in ('culture', 'shelf', 'culture.flour'):
                    raise q_bad('with')
                head, _, tail = path.partition('.')
                ctx.expand.setdefault(head, {})
                if tail:
                    ctx.expand[head][tail] = {}
        elif name == 'only' and ctx.op == 'list shelf':
            ctx.only = []
            for field in ','.join(values).split(','):
                if field not in old_fields('shelf', ctx.version):
                    raise q_bad('only')
                ctx.only.append(field)
        elif name in known:
            field, op, kind = known[name]
            if len(values) > 1 and op != 'in' and not F('e-twice'):
                raise q_bad(name)
            base = field.split('.')[0]
            if op == 'sort' and values[0].lstrip('-') == 'wet':
                base = 'hydration'
            if res == 'culture' and base and not shows(ctx.caller, 'culture', base) and not F('a-hidden-filter'):
                raise q_bad(name)
            got = [q_value(ctx, name, v, kind) for v in values]
            ctx.given[name] = got if op == 'in' else got[0]
            if op == 'search' and len(got[0].split()) > 16:
                raise q_bad(name)
        elif not F('e-unknown-parameter'):
            raise Sorry('odd-question', [{'in': 'query', 'path': name, 'expected': 'nothing', 'why': 'unknown'}])
    if verb != 'list':
        return
    default, top = (5, 20) if res == 'receipt' else (10, 50)
    if F('l-default-size') and res != 'receipt':
        default = 20
    size = default
    if 'take' in page:
        if not re.match(r'^\d{1,9}$', page['take']) or int(page['take']) < 1:
            raise Sorry('bad-page')
        size = int(page['take'])
        if size > top:
            if res == 'receipt':
                size = top if not F('l-no-clamp') else size
                if F('l-clamp-refuses'):
                    raise Sorry('bad-page')
            elif F('l-over-max'):
                size = top
            else:
                raise Sorry('bad-page')
    ctx.size, ctx.start = size, None
    if 'skip' in page:
        if not re.match(r'^\d{1,9}$', page['skip']):
            raise Sorry('bad-page')
        ctx.start = int(page['skip'])
    bound = json.dumps([ctx.op, ctx.path, ctx.version, sorted((k, v) for k, v in ctx.given.items()), ctx.caller.user if ctx.caller else '', ctx.caller.id if ctx.caller else ''])
    ctx.bound = hashlib.sha256((bound if not F('l-cursor-loose') else ctx.op).encode()).hexdigest()[:16]
    if 'from' in page:
        try:
            raw = unb64(page['from'])
            mark, told = raw[:12], raw[12:]
            assert hmac.compare_digest(mark, hmac.new(b'cursor' + SECRET.encode(), told, hashlib.sha256).digest()[:12])
            told = json.loads(told)
            assert told[0] == ctx.bound
            ctx.start = told[1:]
        except Exception:
            raise Sorry('bad-page')


def keeps(ctx, row):
    for name, value in ctx.given.items():
        field, op, kind = FILTERS[ctx.res][name]
        if F('e-filter-' + name) and ctx.res == {'status': 'stay', 'mill': 'flour', 'smell': 'feeding', 'kind': 'entry'}.get(name):
            continue
        if op == 'sort':
            continue
        if op == 'used':
            have = derived('shelf', row)['taken'] >= 1
            if have != value and not F('e-used'):
                return False
            continue
        if op == 'view':
            live = row['status'] in ('booked', 'housed') if not F('e-view') else row['status'] == 'booked'
            if live != (value == 'live'):
                return False
            continue
        if op == 'cflour':
            if DB.rows['culture'][row['culture']]['flour'] != value and not F('e-through'):
                return False
            continue
        have = row.get(field)
        if op == 'nocase':
            have = row.get('origin', {}).get('town')
            if have is None or (have.lower() != value.lower() if not F('e-town-case') else have != value):
                return False
            continue
        if op == 'search':
            hit = [w.lower() in (row['name'].lower()) for w in value.split()]
            if not (any(hit) if F('e-search-any') else all(hit)):
                return False
            continue
        if have is None:
            return False
        if op == 'since':
            t = instant(have)
            if not (t > value - 0.0005 if not F('e-since') else t <= value):
                return False
        elif op == 'in' and (have != value[0] if F('e-in-first') else have not in value):
            return False
        elif op == '=' and have != value:
            return False
        elif op == '>=' and not (have >= value if not F('e-at-least') else have > value):
            return False
        elif op == '>' and not (have > value if not F('e-wetter') else have >= value):
            return False
        elif op == '<' and not (have < value if not F('e-under') else have <= value):
            return False
        elif op == 'prefix' and not (have.startswith(value) if not F('e-prefix') else value in have):
            return False
        elif op == 'has' and value not in have and not F('e-tag'):
            return False
    return True


ORDERS = {'flour': ('code', 1, 1), 'shelf': ('name', 1, 1), 'culture': ('number', -1, -1), 'stay': ('booked_at', 1, 1), 'feeding': ('fed_at', -1, -1),
          'receipt': ('', 1, 1), 'hook': ('', 1, 1), 'entry': ('', 1, -1)}


def do_list(ctx):
    res = ctx.res
    field, way, ties = ORDERS[res]
    asked = ctx.given.get('by') or ctx.given.get('sort')
    if asked and not F('e-sort'):
        way = -1 if asked.startswith('-') and not F('e-sort-way') else 1
        field = {'name': 'name', 'wet': 'hydration'}.get(asked.lstrip('-'), asked.lstrip('-'))
    if F('e-order-' + res):
        way = -way
    if F('e-ties') and res == 'entry':
        ties = 1

    def key(row):
        if not field:
            return 0
        return row[field].lower() if res == 'shelf' and field == 'name' else row[field]
    rows = [r for r in DB.rows[res].values() if may_read(ctx.caller, res, r, True)]
    if res == 'feeding':
        rows = [r for r in rows if r['stay'] == ctx.parent['id'] or F('e-path-filter')]
    rows = [r for r in rows if keeps(ctx, r)]
    rows.sort(key=lambda r: r['_seq'], reverse=ties < 0)
    rows.sort(key=key, reverse=way < 0)
    if way < 0 and False:
        pass
    total = len(rows)
    if res == 'receipt':
        rows = rows[ctx.start or 0:]
    elif ctx.start is not None:
        mark, seq = ctx.start

        def later(r):
            k = key(r)
            if k != mark:
                return (k > mark) == (way > 0)
            return r['_seq'] > seq if ties > 0 else r['_seq'] < seq
        rows = [r for r in rows if later(r)]
    part, rest = rows[:ctx.size], rows[ctx.size:]
    shown = []
    for r in part:
        one = show(ctx.caller, res, r, ctx.version, expand=ctx.expand if not F('e-expand-list') else None)
        if ctx.only is not None and not F('e-only'):
            one = {k: v for k, v in one.items() if k in ctx.only or (k == 'id' and not F('e-only-id'))}
        shown.append(one)
    if res == 'receipt':
        return 200, {}, {'receipts': shown, 'counted': total if not F('l-total') else len(shown)}
    onward = None
    if rest and part:
        told = json.dumps([ctx.bound, key(part[-1]), part[-1]['_seq'] + (1 if F('l-cursor-skips') and ties > 0 else 0)]).encode()
        onward = base64.urlsafe_b64encode(hmac.new(b'cursor' + SECRET.encode(), told, hashlib.sha256).digest()[:12] + told).decode().rstrip('=')
    out = {'data': shown, 'onward': onward, 'more': bool(rest) if not F('l-more') else True, 'kind': 'page'}
    if F('l-kind-missing'):
        del out['kind']
    return 200, {}, out


# ---- what is written

def take_fields(ctx, res, sent, prefix, mode, base=None):
    """Validates what was sent in its version's shape and returns it in the newest names. `mode` is create, replace or patch."""
    at = []
    shapes = old_fields(res, ctx.version)
    user = ctx.caller.user
    out, removed = {}, set()
    refuse = ctx.op == 'update culture' and not F('e-read-only')
    for k, v in sent.items():
        path = prefix + k
        if k not in shapes:
            if F('r-extra-field'):
                continue
            bad(at, path, 'unknown', 'nothing')
            continue
        name, shape = shapes[k]
        closed = shape.get('ro') and not (F('r-owner-sent') and name == 'owner') or 'writable' in shape and user not in shape['writable'] and not F('r-tip-written')
        if closed:
            if refuse:
                bad(at, path, 'read_only', 'nothing')
            continue
        if name is None:
            fit(shape, v, path, at)
            continue
        if mode == 'patch':
            if v is None:
                if shape.get('req'):
                    if not F('r-null-required'):
                        bad(at, path, 'value', shape['type'], 'null')
                else:
                    removed.add(name)
                continue
            if shape['type'] == 'object' and isinstance(v, dict) and isinstance(base.get(name), dict) and not F('r-merge'):
                merged = {i: x for i, x in base[name].items() if not ORIGIN[i].get('ro')}
                for i, x in v.items():
                    if i in ORIGIN and ORIGIN[i].get('ro') and refuse:
                        bad(at, path + '.' + i, 'read_only', 'nothing')
                    if x is None:
                        merged.pop(i, None)
                    else:
                        merged[i] = x
                v = merged
            if shape.get('imm') and base.get(name) != v:
                bad(at, path, 'value', 'what it was')
                continue
        before = len(at)
        value = fit(shape, v, path, at)
        if res == 'culture' and name == 'mood' and ctx.version != CURRENT and value == 'gentle':
            value = 'mild'
        if len(at) == before or mode != 'patch':
            out[name] = value
    if mode != 'patch':
        for k, (name, shape) in shapes.items():
            if shape.get('req') and name not in ('code',) and k not in sent and 'default' not in shape and not shape.get('ro') and name not in ctx.bind:
                bad(at, prefix + k, 'missing', shape['type'])
            if 'default' in shape and k not in sent:
                out[name] = FIELDS[res][name]['default']
    return out, removed, at


def complain(at):
    if at:
        if F('x-last-first'):
            at = at[::-1]
        why = at[0].get('why')
        code = {'missing': 'lacks-a-field', 'unknown': 'stranger-field', 'read_only': 'hands-off'}.get(why, 'does-not-fit')
        raise Sorry(code, [{k: v for k, v in x.items() if k != 'why'} for x in at])


def rules(ctx, res, row, at, prefix):
    if res == 'shelf' and row.get('warmth') == 'cold' and isinstance(row.get('jars'), int) and row['jars'] > 40 and not F('r-rule-cold'):
        bad(at, prefix + 'jars', 'value', 'at most 40 on a cold shelf')
    if res == 'culture' and row.get('mood') == 'fierce' and isinstance(row.get('hydration'), int) and row['hydration'] < 60 \
            and not (F('r-rule-fierce') and ctx.verb == 'update'):
        bad(at, prefix + ('wetness' if ctx.version != CURRENT and not F('n-violation-name') else 'hydration'), 'value', 'at least 60 in a fierce starter')


def refer(ctx, res, row, prefix):
    for name, shape in FIELDS[res].items():
        if 'ref' in shape and name in row:
            other = DB.rows[shape['ref']].get(row[name])
            if other is None or (not may_read(ctx.caller, shape['ref'], other) and not F('a-ref-unread')):
                raise Sorry('leads-nowhere', [{'in': 'body', 'path': prefix + name, 'expected': 'a ' + shape['ref'] + ' that is here'}])


def label(row):
    if isinstance(row.get('origin'), dict):
        o = row['origin']
        o['label'] = '%s (%s)' % ((o['country'], o['town']) if F('r-label') else (o['town'], o['country']))


def clash(res, row):
    for other in DB.rows[res].values():
        if other['_key'] == row.get('_key'):
            continue
        if res == 'flour' and other['name'] == row['name'] and not F('r-flour-twin'):
            return other
        if res == 'shelf' and (other['name'].lower() == row['name'].lower() if not F('r-shelf-case') else other['name'] == row['name']):
            return other
        if res == 'culture' and other['name'] == row['name'] and (other['owner'] == row['owner'] and not F('r-culture-twin') or F('r-name-global')):
            return other
        if res == 'stay' and other['culture'] == row['culture'] and other['status'] in ('booked', 'housed') and not F('r-two-stays') \
                and not (F('r-two-stays-housed') and other['status'] == 'housed'):
            return other
    if res == 'culture' and F('r-gone-name'):
        for old, _ in DB.gone.values():
            if old['name'] == row['name'] and old['owner'] == row['owner']:
                return old
    return None


def fresh(res, row):
    if res == 'shelf':
        row['id'] = ('shl_' if F('r-shelf-id') else 'shf_') + rnd(12)
    elif res == 'culture':
        row['id'] = 'cul_' + (rnd(16, string.ascii_uppercase) if F('r-culture-id') else rnd(16, string.ascii_lowercase + string.digits))
        row['number'] = DB.count('culture' if F('r-number-global') else 'culture/' + row['owner'])
    elif res == 'stay':
        row['id'] = str(uuid.uuid4()) if not F('r-stay-id') else uuid.uuid4().hex
        row['ticket'] = ('T-%03d' if F('r-ticket') else 'T-%04d') % DB.count('stay')
        row['pick_up_code'] = rnd(8, string.ascii_lowercase) if F('r-code-form') else rnd(8, string.ascii_uppercase + string.digits)
    elif res == 'feeding':
        row['id'] = 'fed_' + rnd(10 if F('r-feeding-id') else 12, '0123456789abcdef')
    elif res == 'receipt':
        row['id'] = 'rcp_' + rnd(14)
        row['number'] = ('R%05d' if F('r-receipt-number') else 'R-%05d') % DB.count('receipt')
    elif res == 'hook':
        row['id'] = 'hok_' + rnd(12)
        row['secret'] = ('' if F('r-secret-form') else 'shh_') + base64.b64encode(os.urandom(32)).decode()
    row['_key'] = row[KEY_FIELD[res]]


def set_of_creation(ctx, res, row):
    now = CLOCK.iso()
    if res in ('culture', 'stay', 'hook') and not (F('r-owner-sent') and 'owner' in row):
        row['owner'] = ctx.caller.user if F('r-owner-set') and res == 'culture' else ctx.caller.id
    if res == 'culture':
        row['guild'] = 'north' if F('r-guild-set') else ctx.caller.guild
        row['updated_at'] = now
    if res == 'stay':
        row['price_cents'] = row['nights'] * (15 if F('r-price') else 150)
        row['booked_at'] = now
    if res == 'feeding':
        wet = 100 if F('r-water') else DB.rows['culture'][DB.rows['stay'][row['stay']]['culture']]['hydration']
        row['water_g'] = row['flour_g'] * wet // 100
        row['by'] = ctx.caller.id if not F('r-fed-by') else ctx.caller.user
        row['fed_at'] = now


def location(ctx, path):
    if F('e-location'):
        return {}
    base = 'https://api.crock-house.example/house'
    return {'Location': ('https://api.crock-house.example' if F('p-location-base') else base) + path}


def do_create(ctx):
    res = ctx.res
    prefix, sent = '', ctx.body
    if not isinstance(sent, dict):
        raise Sorry('does-not-fit', [{'in': 'body', 'path': '', 'expected': 'object', 'found': kind_of(sent)}])
    if res == 'culture' and not (F('e-takes') and 'data' not in sent):
        prefix = 'data.'
        if 'data' not in sent:
            raise Sorry('lacks-a-field', [{'in': 'body', 'path': 'data', 'expected': 'object'}])
        sent = sent['data']
        if not isinstance(sent, dict):
            raise Sorry('does-not-fit', [{'in': 'body', 'path': 'data', 'expected': 'object', 'found': kind_of(sent)}])
    ctx.bind = {'stay': ctx.parent['id']} if res == 'feeding' else {}
    row, _, at = take_fields(ctx, res, sent, prefix, 'create')
    for k, v in ctx.bind.items():
        if k in row and row[k] != v and not F('e-bound'):
            bad(at, k, 'value', v)
        row[k] = v
    if F('r-nights-optional') and res == 'stay':
        row.setdefault('nights', 1)
    complain(at)
    refer(ctx, res, row, prefix)
    rules(ctx, res, row, at, prefix)
    complain(at)
    label(row)
    set_of_creation(ctx, res, row)
    if res == 'stay':
        row['status'] = 'housed' if F('s-initial') else 'booked'
        shelf = DB.rows['shelf'][row['shelf']]
        if shelf['warmth'] == 'cold' and row['nights'] > 30 and not F('x-never-stiff'):
            raise Sorry('too-stiff')
    if res == 'feeding' and ctx.parent['status'] != 'housed' and not F('x-fed-anyhow'):
        raise Sorry('not-housed')
    other = clash(res, row)
    if other is not None:
        if res == 'shelf' and not F('e-exists'):
            if F('e-exists-changes'):
                other['jars'] = row['jars']
            return 200, {}, show(ctx.caller, res, other, ctx.version)
        raise Sorry('name-taken')
    if res == 'hook' and sum(h['owner'] == row['owner'] for h in DB.rows['hook'].values()) >= 4 and not F('l-hooks-many'):
        raise Sorry('enough')
    if res == 'stay':
        mine = [s for s in DB.rows['stay'].values() if s['owner'] == row['owner'] and (s['status'] == 'booked' or F('l-stays-all'))]
        if len(mine) >= 8 and not F('l-stays-many'):
            raise Sorry('enough')
    quota(ctx)
    fresh(res, row)
    DB.put(res, row['_key'], row)
    spend(ctx)
    if res == 'hook':
        row['_maker'], row['_version'] = ctx.caller, ctx.version
    if res == 'stay':
        row['_entered'] = row['booked_at']
        timer(CLOCK.now() + (2 if F('s-lapse-early') else 3) * 86400, 'lapse', row['id'], row['_entered'])
        emit('stay.booked', 'stay', row, stay_payload(row))
    if res == 'feeding':
        frozen, owner = dict(row), ctx.parent['owner']
        emit('feeding.given', 'feeding', row, lambda m, v: show(m, 'feeding', frozen, v, payload=True), to=lambda h: h['owner'] == owner or F('v-feeding-wide'))
    body = show(ctx.caller, res, row, ctx.version, once=True)
    path = {'shelf': '/shelves/', 'culture': '/cultures/', 'stay': '/stays/', 'feeding': '/feedings/', 'hook': '/hooks/'}[res] + row['id']
    if res == 'culture':
        body = {'kind': 'culture', 'data': body} if not F('e-envelope') else {'data': body}
    return (200 if F('e-201') and res == 'stay' else 201), location(ctx, path), body


QUOTA_ZONE = timezone.utc


def quota(ctx):
    if ctx.op != 'create stay' or F('l-quota-off'):
        return
    now = CLOCK.now()
    day = int(now // 86400) if not F('l-quota-forever') else 0
    if DB.quota.get((ctx.caller.id, day), 0) >= (50 if F('l-quota-less') else 60):
        raise Sorry('enough', headers={'Retry-After': str(max(1, math.ceil((day + 1) * 86400 - now)))})


def spend(ctx):
    if ctx.op == 'create stay':
        day = int(CLOCK.now() // 86400) if not F('l-quota-forever') else 0
        k = (ctx.caller.id, day)
        DB.quota[k] = DB.quota.get(k, 0) + 1


def do_update(ctx):
    res, row = ctx.res, ctx.row
    if not isinstance(ctx.body, dict):
        raise Sorry('does-not-fit', [{'in': 'body', 'path': '', 'expected': 'object', 'found': kind_of(ctx.body)}])
    ctx.bind = {}
    changed, removed, at = take_fields(ctx, res, ctx.body, '', 'patch', row)
    nxt = {k: v for k, v in row.items() if k not in removed}
    nxt.update(changed)
    complain(at)
    refer(ctx, res, {k: v for k, v in nxt.items() if k in changed}, '')
    rules(ctx, res, nxt, at, '')
    complain(at)
    label(nxt)
    if res == 'culture' and ctx.caller.user == 'warden' and nxt['name'] != row['name'] and not F('a-warden-renames'):
        raise Sorry('not-allowed')
    if res == 'stay' and row['status'] != 'booked' and not F('s-update-late'):
        raise Sorry('wrong-moment')
    other = clash(res, nxt) if res != 'stay' else None
    if other is not None:
        raise Sorry('name-taken')
    before = dict(row)
    if nxt != row or F('r-noop'):
        if res == 'culture' and not F('r-updated-at'):
            nxt['updated_at'] = CLOCK.iso()
        if res == 'stay' and not F('r-price-stale'):
            nxt['price_cents'] = nxt['nights'] * 150
        if res == 'hook' and nxt['enabled'] and not row['enabled']:
            nxt['_failing'] = None
        row.clear()
        row.update(nxt)
        if F('s-lapse-restart') and res == 'stay':
            row['_entered'] = CLOCK.iso()
            timer(CLOCK.now() + 3 * 86400, 'lapse', row['id'], row['_entered'])
        if res == 'culture' and (before['name'] != row['name'] or F('v-renamed-always')):
            was, is_ = before['name'], row['name']
            if F('v-renamed-swapped'):
                was, is_ = is_, was
            emit('culture.renamed', 'culture', row, lambda m, v: {'culture': row['id'], 'was': was, 'is': is_})
    return 200, {}, show(ctx.caller, res, row, ctx.version)


def do_upsert(ctx):
    if not isinstance(ctx.body, dict):
        raise Sorry('does-not-fit', [{'in': 'body', 'path': '', 'expected': 'object', 'found': kind_of(ctx.body)}])
    code = ctx.params['code']
    ctx.bind = {'code': code}
    row, _, at = take_fields(ctx, 'flour', ctx.body, '', 'replace')
    if 'code' in row and row['code'] != code:
        bad(at, 'code', 'value', code)
    fit(FIELDS['flour']['code'], code, 'code', at)
    complain(at)
    row['code'] = row['_key'] = code
    if clash('flour', row) is not None:
        raise Sorry('name-taken')
    old = DB.rows['flour'].get(code)
    if old is not None:
        row['_seq'] = old['_seq']
        if F('r-replace-keeps'):
            row = dict(old, **row)
        DB.rows['flour'][code] = row
        return 200, {}, show(ctx.caller, 'flour', row, ctx.version)
    DB.put('flour', code, row)
    return (201 if not F('e-upsert-200') else 200), location(ctx, '/flours/' + code), show(ctx.caller, 'flour', row, ctx.version)


def do_delete(ctx):
    res, row = ctx.res, ctx.row
    rows = DB.rows
    if res == 'flour' and any(c['flour'] == row['code'] for c in rows['culture'].values()) and not F('r-flour-held'):
        raise Sorry('still-in-use')
    if res == 'shelf' and any(s['shelf'] == row['id'] for s in rows['stay'].values()) and not F('r-shelf-held'):
        raise Sorry('still-in-use')
    if res == 'culture' and any(s['culture'] == row['id'] for s in rows['stay'].values()):
        raise Sorry('still-in-use')
    if not (F('e-delete-stays') and res == 'feeding'):
        del rows[res][row['_key']]
    if res == 'culture' and not F('r-not-kept'):
        DB.gone[row['id']] = (row, CLOCK.now() + (3 if F('r-gone-early') else 30) * 86400)
    if F('e-delete-200') and res == 'hook':
        return 200, {}, show(ctx.caller, res, row, ctx.version)
    return 204, {}, None


def do_house(ctx):
    row = ctx.row
    if not isinstance(ctx.body, dict):
        raise Sorry('does-not-fit', [{'in': 'body', 'path': '', 'expected': 'object', 'found': kind_of(ctx.body)}])
    at = []
    if 'temperature_c' not in ctx.body:
        bad(at, 'temperature_c', 'missing', 'integer')
    else:
        warm = fit(S('integer', min=-5, max=90 if not F('e-hot-range') else 900), ctx.body['temperature_c'], 'temperature_c', at)
    complain(at)
    if row['status'] != 'booked' and not (F('s-house-cancelled') and row['status'] == 'cancelled'):
        raise Sorry('wrong-moment')
    shelf = DB.rows['shelf'][row['shelf']]
    if sum(s['shelf'] == shelf['id'] and s['status'] == 'housed' for s in DB.rows['stay'].values()) >= shelf['jars'] and not F('s-overfull'):
        raise Sorry('shelf-full')
    hot = warm > 35 if not F('s-hot-edge') else warm >= 35
    if F('s-hot-taken'):
        hot = False
    ends = advanced(CLOCK.now(), 'P%dD' % (row['nights'] + (1 if F('r-ends') else 0)))
    if hot:
        if not F('s-refused-lost'):
            row['status'] = 'refused'
            row['ends_at'] = CLOCK.iso(ends)
            if not F('v-away-untold'):
                whole = show(None, 'stay', row, CURRENT, payload=True) if F('v-away-whole') else row['id']
                emit('stay.turned_away', 'stay', row, lambda m, v: whole)
            if F('v-housed-refused'):
                emit('stay.housed', 'stay', row, stay_payload(row))
        raise Sorry('too_hot')
    row['status'] = 'housed'
    row['ends_at'] = CLOCK.iso(ends)
    timer(ends - (6 if F('v-due-late') else 12) * 3600, 'due', row['id'], row['ends_at'])
    timer(ends, 'compost', row['id'], row['ends_at'])
    if not F('v-housed-untold'):
        emit('stay.housed', 'stay', row, stay_payload(row))
    return 200, {}, show(ctx.caller, 'stay', row, ctx.version)


def do_collect(ctx):
    row = ctx.row
    body = ctx.body if ctx.body is not None else {}
    if not isinstance(body, dict):
        raise Sorry('does-not-fit', [{'in': 'body', 'path': '', 'expected': 'object', 'found': kind_of(body)}])
    at = []
    if 'verdict' in body:
        fit(S('string', enum=['alive', 'drowsy', 'dead']), body['verdict'], 'verdict', at)
    if 'meals_wanted' in body:
        fit(S('integer', min=0), body['meals_wanted'], 'meals_wanted', at)
    complain(at if not F('e-verdict-any') else [])
    if row['status'] != 'housed' and not (F('s-collect-booked') and row['status'] == 'booked'):
        raise Sorry('wrong-moment')
    if body.get('meals_wanted', 0) > (2 if F('s-greedy-two') else 3) and not F('s-never-greedy'):
        raise Sorry('greedy')
    row['status'] = 'collected'
    row['verdict'] = body.get('verdict', 'alive' if not F('r-verdict') else 'unknown')
    if not F('v-collect-untold'):
        stay_over(row)
    for _ in range(0 if F('s-no-receipt') else 2 if F('s-two-receipts') else 1):
        r = {'stay': row['id'], 'owner': row['owner'], 'amount_cents': row['price_cents'] + (100 if F('s-receipt-amount') else 0), 'issued_at': CLOCK.iso()}
        fresh('receipt', r)
        DB.put('receipt', r['_key'], r)
        if not F('v-receipt-untold'):
            frozen = dict(r)
            emit('receipt.issued', 'receipt', r, lambda m, v: show(m, 'receipt', frozen, v, payload=True))
    return 200, {}, show(ctx.caller, 'stay', row, ctx.version)


def do_cancel(ctx):
    row = ctx.row
    if row['status'] != 'booked' and not (F('s-cancel-housed') and row['status'] == 'housed'):
        raise Sorry('too_late' if not F('s-cancel-else') else 'wrong-moment')
    row['status'] = 'cancelled' if not F('s-cancel-state') else 'lapsed'
    if not F('v-cancel-untold'):
        stay_over(row)
    return 200, {}, show(ctx.caller, 'stay', row, ctx.version)


def do_read(ctx):
    res, row = ctx.res, ctx.row
    headers = {}
    if ctx.op == 'read flour' and not F('e-cache'):
        headers['Cache-Control'] = 'public, max-age=300'
    if res in ('shelf', 'culture') and not (F('e-no-etag') and res == 'culture'):
        tag = tag_of(ctx.caller, res, row, ctx.version)
        headers['ETag'] = tag if not F('e-weak') else 'W/' + tag
        asked = ctx.headers.get('If-None-Match')
        if asked and not F('e-304') and (asked.strip() == '*' or tag in [t.strip().removeprefix('W/') for t in asked.split(',')]):
            return 304, headers, None
    body = show(ctx.caller, res, row, ctx.version, expand=ctx.expand if not F('e-expand-read') else None)
    if res == 'culture':
        body = {'kind': 'culture', 'data': body} if not F('e-read-bare') else body
    return 200, headers, body


DOES = {'list': do_list, 'create': do_create, 'update': do_update, 'upsert': do_upsert, 'delete': do_delete, 'read': do_read,
        'house': do_house, 'collect': do_collect, 'cancel': do_cancel}


def find_row(ctx):
    """Step 10: the row that the path names."""
    res = ctx.res
    if res == 'feeding' and 'stay' in ctx.params:
        ctx.parent = DB.rows['stay'].get(ctx.params['stay'])
        if ctx.parent is None or (not may_read(ctx.caller, 'stay', ctx.parent) and not F('a-parent-unread')):
            raise Sorry('not-on-the-shelf')
        return
    if ctx.verb in ('create', 'list', 'upsert'):
        return
    key = ctx.params[KEY_FIELD[res]]
    row = DB.rows[res].get(key)
    if row is None and F('e-receipt-id') is False and False:
        pass
    if row is None and res == 'culture' and key in DB.gone and may_read(ctx.caller, 'culture', DB.gone[key][0]):
        raise Sorry('thrown-out')
    if row is None:
        raise Sorry('not-on-the-shelf')
    if not may_read(ctx.caller, res, row):
        raise Sorry('not-allowed' if F('a-unread-403') else 'not-on-the-shelf')
    if res == 'hook' and F('a-hook-foreign'):
        pass
    ctx.row = row


def preconditions(ctx):
    if ctx.op not in ('update shelf', 'update culture'):
        return
    asked = ctx.headers.get('If-Match')
    if asked is None:
        if ctx.op == 'update culture' and not F('e-tag-optional'):
            raise Sorry('tag-wanted')
        return
    if F('e-if-match') or (F('e-if-match-shelf') and ctx.res == 'shelf'):
        return
    tag = tag_of(ctx.caller, ctx.res, ctx.row, ctx.version)
    if asked.strip() != '*' and tag not in [t.strip() for t in asked.split(',')]:
        raise Sorry('stale')


def idempotent(ctx):
    """Steps 9 to 15, under a key where one was sent."""
    key = ctx.headers.get('Idempotency-Key')
    if ctx.method != 'POST' or key is None or F('e-no-keys'):
        return perform(ctx)
    who = (ctx.caller.user, ctx.caller.id, ctx.op, key)
    if F('e-key-shared'):
        who = (ctx.op, key)
    print_ = hashlib.sha256(json.dumps([ctx.target, ctx.version if not F('n-key-version') else '', ctx.raw.decode('latin-1') if not F('e-key-body') else '']).encode()).hexdigest()
    kept = DB.keys.get(who)
    if kept and kept[0] <= CLOCK.now() and not F('e-key-forever'):
        kept = None
    if kept:
        if kept[1] != print_:
            raise Sorry('key-used-up')
        return kept[2], dict(kept[3]), kept[4]
    until = CLOCK.now() + (3600 if F('e-key-hour') else 86400)
    try:
        status, headers, body = perform(ctx)
    except Sorry as s:
        if s.code in OWN and not F('e-key-refusals'):
            st, h, b = refusal(s, ctx.ask)
            DB.keys[who] = (until, print_, st, h, b)
        raise
    keep = body
    if isinstance(body, dict) and not F('e-key-reveals'):
        keep = {k: v for k, v in body.items() if not (ctx.res in ('stay', 'hook') and FIELDS[ctx.res].get(k, {}).get('once'))}
    DB.keys[who] = (until, print_, status, dict(headers), keep)
    return status, headers, body


def perform(ctx):
    find_row(ctx)
    preconditions(ctx)
    return DOES[ctx.verb](ctx)


def route(ctx):
    if ctx.op_path is None:
        raise Sorry('no-such-place')
    hits = []
    for method, pattern, op in ROUTES:
        if F('p-no-receipts') and op == 'read receipt':
            continue
        if F('e-no-feeding-delete') and op == 'delete feeding':
            continue
        if op == 'list receipt' and ctx.header_version == OLD and not F('n-receipts-old'):
            continue
        rx = re.match('^' + re.sub(r'\{(\w+)\}', r'(?P<\1>[^/]+)', pattern) + '$', ctx.op_path)
        if rx:
            hits.append((method, op, {k: urllib.parse.unquote(v) for k, v in rx.groupdict().items()}))
    if not hits:
        raise Sorry('no-such-place')
    methods = {m for m, _, _ in hits}
    if 'GET' in methods and not F('e-head'):
        methods.add('HEAD')
    ctx.allow = ', '.join(sorted(methods | {'OPTIONS'}))
    if ctx.method == 'OPTIONS':
        return
    want = 'GET' if ctx.method == 'HEAD' and not F('e-head') else ctx.method
    if F('e-put-patches') and ctx.method == 'PUT' and 'PATCH' in methods:
        want = 'PATCH'
    for method, op, params in hits:
        if method == want:
            ctx.op, ctx.params = op, params
            ctx.verb, ctx.res = op.split(' ')
            return
    raise Sorry('not-done-here', headers={} if F('e-no-allow') else {'Allow': ctx.allow})


def take_version(ctx):
    told = ctx.header_version
    ctx.version = OLD if F('n-default-old') and told is None else CURRENT
    if told is None:
        return
    if told not in (CURRENT, OLD, OLDEST):
        if F('n-unknown-taken'):
            return
        raise Sorry('no-such-version')
    if told == OLDEST and not F('n-sunset-open') or told == OLD and CLOCK.now() >= instant('2027-09-01T00:00:00Z') and not F('n-sunset-never'):
        ctx.version = told
        raise Sorry('bygone-version')
    ctx.version = OLD if told == OLDEST else told


DATES = {OLD: ('2026-09-01', '2027-09-01'), OLDEST: ('2025-11-01', '2026-05-01')}


def version_headers(ctx):
    shown = ctx.header_version if ctx.header_version in (CURRENT, OLD, OLDEST) else ctx.version
    h = {}
    if not F('n-no-echo'):
        h['Crock-Version'] = shown
    h['Vary'] = ', '.join((['Crock-Version'] if not F('n-no-vary') else []) + ['X-Crock-Key', 'Authorization'])
    if shown in DATES:
        a, b = [instant(x + 'T00:00:00Z') for x in DATES[shown]]
        if not F('n-no-deprecation'):
            h['Deprecation'] = '@%d' % a
        if not F('n-no-sunset'):
            h['Sunset'] = formatdate(b if not F('n-sunset-date') else b + 31 * 86400, usegmt=True)
        link = ['<https://crock-house.example/upgrade>; rel="deprecation"'] if shown == OLD else []
        if not F('n-no-link'):
            h['Link'] = ', '.join(link + ['<%s>; rel="successor-version"' % ctx.target])
    return h


def read_body(ctx):
    """Step 8, first half."""
    accept = ctx.headers.get('Accept')
    if accept and not F('e-accept'):
        good = False
        for part in accept.split(','):
            name, _, rest = part.strip().partition(';')
            if name.strip().lower() in ('*/*', 'application/*', 'application/json') and not re.search(r'q=0(\.0*)?\s*(;|$)', rest):
                good = True
        if not good:
            raise Sorry('not-served-so')
    ctx.body = None
    if ctx.verb not in BODIES:
        return
    if not ctx.raw:
        if ctx.op == 'collect stay' and not F('e-body-needed'):
            return
        raise Sorry('empty-handed')
    kind = (ctx.headers.get('Content-Type') or '').split(';')[0].strip().lower()
    good = {'application/json'} | ({'application/merge-patch+json'} if ctx.verb == 'update' and not F('e-merge-type') else set())
    if kind not in good and not F('e-media'):
        raise Sorry('wrong-wrapping')
    if ctx.too_big:
        raise Sorry('too-big')
    try:
        ctx.body = json.loads(ctx.raw.decode('utf-8'))
    except Exception:
        raise Sorry('unreadable')
    if ctx.body is None and ctx.verb != 'collect':
        raise Sorry('does-not-fit', [{'in': 'body', 'path': '', 'expected': 'object', 'found': 'null'}])


def answer(ctx):
    """One request: status, header fields, body."""
    ctx.ask = 'ask_' + rnd(16)
    ctx.version, ctx.caller, ctx.parent, ctx.row, ctx.op = CURRENT, None, None, None, None
    ctx.header_version = ctx.headers.get('Crock-Version')
    extra = {}
    try:
        if len(ctx.target) > (2048 if not F('l-url-long') else 20480):
            raise Sorry('long-winded')
        if sum(len(k) + len(v) + 4 for k, v in ctx.headers.items()) > (8192 if not F('l-headers-big') else 81920):
            raise Sorry('too-big')
        path, _, query = ctx.target.partition('?')
        base = '/crock' if F('p-base-path') else '/house'
        ctx.path = path
        ctx.op_path = path[len(base):] if path.startswith(base + '/') else None
        ctx.multi = {}
        for k, v in urllib.parse.parse_qsl(query, keep_blank_values=True):
            ctx.multi.setdefault(k, []).append(v)
        ctx.query = {k: v[0] for k, v in ctx.multi.items()}
        route(ctx)
        if ctx.method == 'OPTIONS':
            return 204, dict(version_headers(ctx), Allow=ctx.allow, **({} if F('e-request-id') else {'X-Crock-Request': ctx.ask})), None
        take_version(ctx)
        with DB.lock:
            fire_due()
            anyone = ctx.op in ('list flour', 'read flour')
            schemes = ('key',) if ctx.op == 'create hook' and not F('a-hook-token') else ('key', 'token')
            ctx.caller = authenticate(ctx, anyone, schemes)
            if F('a-key-in-query') and 'key' in ctx.multi:
                del ctx.multi['key']
            extra = rates(ctx)
            users = RULES.get(ctx.op)
            if users is not None:
                user = ctx.caller.user
                if FAULT in MORE and MORE[FAULT] == (ctx.op, user):
                    users = users + (user,)
                if FAULT in LESS and LESS[FAULT] == (ctx.op, user):
                    users = ()
                if user not in users:
                    raise Sorry('not-allowed')
                need = SCOPES.get(ctx.op)
                if need and need not in ctx.caller.scopes and not F('a-scope-' + need):
                    raise Sorry('lacks-a-scope')
            read_body(ctx)
            read_query(ctx)
            status, headers, body = idempotent(ctx)
    except Sorry as s:
        status, headers, body = refusal(s, ctx.ask)
    except Exception:
        import traceback
        traceback.print_exc()
        status, headers, body = refusal(Sorry('burnt'), ctx.ask)
    headers = dict(headers)
    for k, v in extra.items():
        headers.setdefault(k, v)
    for k, v in version_headers(ctx).items():
        headers.setdefault(k, v)
    if not F('e-request-id'):
        headers['X-Crock-Request'] = ctx.ask
    if isinstance(body, dict) and 'sorry' in body and 'ask' in body['sorry']:
        body = {'sorry': dict(body['sorry'], ask=ctx.ask)}
    return status, headers, body


# ---------------------------------------------------------------- doors

class Door(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    timeout = 60
    disable_nagle_algorithm = True

    def log_message(self, *a):
        pass

    def slow_body(self, limit):
        """Reads the body, up to `limit`; what is beyond is passed over."""
        until = time.time() + (10 if not F('l-no-timeout') else 300)
        out, over = b'', False

        def part(n):
            got = b''
            while len(got) < n:
                left = until - time.time()
                if left <= 0:
                    raise TimeoutError
                self.connection.settimeout(left)
                more = self.rfile.read1(n - len(got))
                if not more:
                    raise ConnectionError
                got += more
            return got
        if 'chunked' in (self.headers.get('Transfer-Encoding') or '').lower():
            while True:
                self.connection.settimeout(max(0.01, until - time.time()))
                line = self.rfile.readline(1000)
                n = int(line.split(b';')[0].strip() or b'0', 16)
                if n == 0:
                    while self.rfile.readline(1000).strip():
                        pass
                    break
                data = part(n)
                self.rfile.readline(10)
                if len(out) + n > limit:
                    over = True
                    out = out or b'x'
                else:
                    out += data
        else:
            n = int(self.headers.get('Content-Length') or 0)
            if n > 4 * 1024 * 1024:
                self.close_connection = True
                return b'x', True
            out = part(n) if n else b''
            over = len(out) > limit
        self.connection.settimeout(60)
        return out, over

    def any(self):
        ctx = Ctx()
        ctx.method, ctx.target, ctx.headers, ctx.address = self.command, self.path, self.headers, self.client_address[0]
        try:
            ctx.raw, ctx.too_big = self.slow_body(8192 if not F('l-body-big') else 81920)
        except (TimeoutError, socket.timeout):
            status, headers, body = refusal(Sorry('burnt'), 'ask_' + rnd(16))
            self.close_connection = True
            return self.reply(status, headers, body)
        except (ConnectionError, ValueError):
            self.close_connection = True
            return
        self.reply(*answer(ctx))

    def reply(self, status, headers, body):
        data = b'' if body is None else json.dumps(body, ensure_ascii=False).encode()
        self.send_response_only(status)
        self.send_header('Date', self.date_time_string())
        for k, v in headers.items():
            self.send_header(k, v)
        if status not in (204, 304):
            self.send_header('Content-Length', str(len(data)))
            if body is not None:
                self.send_header('Content-Type', 'application/json' if not F('e-content-type') else 'text/plain')
        if self.close_connection:
            self.send_header('Connection', 'close')
        self.end_headers()
        if self.command != 'HEAD' and status not in (204, 304):
            self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = do_TRACE = any


class ClockDoor(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *a):
        pass

    def say(self, status, body):
        data = json.dumps(body).encode()
        self.send_response_only(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.say(200, {'now': CLOCK.iso()})

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        try:
            told = json.loads(raw)
            with DB.lock:
                now = CLOCK.now()
                if set(told) == {'advance'}:
                    to = advanced(now, told['advance'])
                elif set(told) == {'now'}:
                    to = instant(told['now'])
                    if to < now - 0.001:
                        return self.say(422, {'error': 'the clock goes forward alone'})
                else:
                    raise ValueError
                CLOCK.shift += max(0, to - now)
                fire_due()
                PUMP.send_due()
        except Exception:
            return self.say(400, {'error': 'advance or now'})
        for _ in range(40):
            time.sleep(0.01)
            with DB.lock:
                if not any(d['busy'] for d in DB.deliveries):
                    break
        self.say(200, {'now': CLOCK.iso()})

    def other(self):
        self.say(400, {'error': 'GET or POST'})

    do_PUT = do_DELETE = do_PATCH = other


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


def main():
    global FAULT, DB, PUMP
    ap = argparse.ArgumentParser()
    ap.add_argument('--port', type=int, required=True)
    ap.add_argument('--clock-port', type=int)
    ap.add_argument('--fault')
    args = ap.parse_args()
    FAULT = args.fault
    FIELDS.update(build_fields())
    DB = Store()
    PUMP = Pump()
    for code, name, protein in (('rye', 'Whole rye', 90), ('spelt', 'Light spelt', 135)):
        if not (F('r-no-spelt') and code == 'spelt'):
            DB.put('flour', code, {'code': code, 'name': name, 'protein': protein, '_key': code})
    PUMP.start()
    if args.clock_port is not None:
        threading.Thread(target=Server(('127.0.0.1', args.clock_port), ClockDoor).serve_forever, daemon=True).start()
    server = Server(('127.0.0.1', args.port), Door)
    print('listening on 127.0.0.1:%d' % server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == '__main__':
    main()
