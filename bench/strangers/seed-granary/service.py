"""Seed Granary: a county's seed library and its swap days. Standard library alone, everything in memory."""
import argparse, base64, calendar, hashlib, hmac, http.client, json, math, queue, random, re, secrets, signal
import socket, string, sys, threading, time
from datetime import datetime, timedelta, timezone
from urllib.parse import unquote, urlsplit, quote

FAULT = None
def bug(name):
    return FAULT == name

# ---------------------------------------------------------------- the clock
class Clock:
    def __init__(self): self.offset = 0
    def now(self): return int(time.time() * 1000) + self.offset
CLOCK = Clock()
def iso(ms): return datetime.fromtimestamp(ms // 1000, timezone.utc).strftime('%Y-%m-%dT%H:%M:%S.') + '%03dZ' % (ms % 1000)
DT = re.compile(r'^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$')
def instant(text):
    m = DT.match(text) if isinstance(text, str) else None
    if not m: return None
    try:
        d = datetime(*(int(m.group(i)) for i in range(1, 7)), tzinfo=timezone.utc)
    except ValueError:
        return None
    ms = calendar.timegm(d.timetuple()) * 1000 + (int(float('0' + m.group(7)) * 1000) if m.group(7) else 0)
    z = m.group(8)
    if z not in 'Zz':
        h, mi = int(z[1:3]), int(z[4:6])
        if h > 23 or mi > 59: return None
        ms -= (1 if z[0] == '+' else -1) * (h * 60 + mi) * 60000
    return ms
def plus_months(ms, n):
    d = datetime.fromtimestamp(ms // 1000, timezone.utc)
    m = d.month - 1 + n
    y, m = d.year + m // 12, m % 12 + 1
    d = d.replace(year=y, month=m, day=min(d.day, calendar.monthrange(y, m)[1]))
    return calendar.timegm(d.timetuple()) * 1000 + ms % 1000
DUR = re.compile(r'^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$')
def later(ms, text):
    m = DUR.match(text) if isinstance(text, str) else None
    if not m or not any(m.groups()): return None
    y, mo, w, d, h, mi, s = (float(x) if x else 0 for x in m.groups())
    ms = plus_months(ms, int(y * 12 + mo)) if y or mo else ms
    return int(ms + (((w * 7 + d) * 24 + h) * 60 + mi) * 60000 + s * 1000)
SEC, MIN, HOUR, DAY = 1000, 60000, 3600000, 86400000

# ---------------------------------------------------------------- what there is
STAFF = ('curator', 'warden')
def S(**k): return dict(type='string', **k)
def I(lo=None, hi=None, **k): return dict(type='integer', minimum=lo, maximum=hi, **k)
def RO(**k): return dict(k, readOnly=True)
FIELDS = {
  'branch': {
    'slug': S(pattern=r'^[a-z]{3,12}\Z', ident=True), 'name': S(minLength=1, maxLength=60), 'address': dict(type='address'), 'shelves': I(1, 900, default=20)},
  'variety': {
    'id': RO(type='string'), 'name': S(minLength=2, maxLength=60), 'species': dict(enum=['tomato', 'bean', 'pea', 'lettuce', 'squash', 'kale']),
    'breeding': dict(enum=['open', 'heirloom', 'landrace'], default='open'), 'isolation_m': I(0, 2000, default=0),
    'sow_months': dict(type='array', items=I(1, 12), minItems=1, maxItems=12, uniqueItems=True), 'story': S(maxLength=500), 'steward': RO(type='string'),
    'remark': S(maxLength=200, visible=STAFF, writable=STAFF), 'lots_on_shelf': RO(type='integer'), 'changed_at': RO(type='string')},
  'lot': {
    'id': RO(type='string'), 'accession': RO(type='string'), 'variety': S(ref='variety', immutable=True), 'branch': S(ref='branch'), 'donor': RO(type='string'),
    'harvest_year': I(1990, 2100), 'grams': I(1, 5000), 'moisture': dict(type='number', minimum=0, maximum=100), 'state': RO(type='string'),
    'germination': RO(type='integer'), 'reason': RO(type='string'), 'shelved_at': RO(type='string'), 'grams_left': RO(type='integer')},
  'loan': {
    'number': RO(type='integer'), 'lot': S(ref='lot', immutable=True), 'borrower': RO(type='string'), 'grams': I(1, 50), 'pledge': I(1, 5, default=2),
    'note': S(maxLength=200, visible=('curator',), writable=('curator',)), 'status': RO(type='string'), 'placed_at': RO(type='string'), 'lent_at': RO(type='string'),
    'due_at': RO(type='string'), 'returned_g': RO(type='integer'), 'owed_g': RO(type='integer')},
  'sample': {
    'id': RO(type='string'), 'loan': RO(type='integer'), 'grower': RO(type='string'), 'grams': RO(type='integer'), 'sown': RO(type='integer'), 'sprouted': RO(type='integer'),
    'purity': RO(type='integer'), 'result': RO(type='string'), 'judged_by': RO(type='string', visible=STAFF), 'judged_at': RO(type='string')},
  'swap': {
    'id': RO(type='string'), 'branch': S(ref='branch'), 'title': S(minLength=3, maxLength=80), 'hall': S(maxLength=60), 'opens_at': S(format='date-time'), 'closes_at': S(format='date-time'),
    'tables': I(1, 40, default=10), 'host': RO(type='string'), 'phase': RO(type='string'), 'tables_left': RO(type='integer')},
  'table': {
    'id': RO(type='string'), 'swap': S(ref='swap', immutable=True), 'place': RO(type='integer'), 'grower': RO(type='string'),
    'brings': dict(type='array', items=S(minLength=1, maxLength=40), maxItems=10), 'power': dict(type='boolean', default=False), 'status': RO(type='string')},
  'hook': {
    'id': RO(type='string'), 'owner': RO(type='string'), 'url': S(format='uri', maxLength=300), 'secret': RO(type='string', once=True),
    'events': dict(type='array', items=S(), minItems=1, maxItems=20), 'active': dict(type='boolean', default=True)},
  'entry': {'id': RO(type='string'), 'kind': RO(type='string'), 'about': RO(type='string'), 'at': RO(type='string')},
}
ADDRESS = {'street': S(minLength=1, maxLength=80), 'town': S(minLength=1, maxLength=40)}
NEEDED = {'branch': ['slug', 'name', 'address'], 'variety': ['name', 'species'], 'lot': ['variety', 'branch', 'harvest_year', 'grams'], 'loan': ['lot', 'grams'],
  'swap': ['branch', 'title', 'opens_at', 'closes_at'], 'table': ['swap'], 'hook': ['url']}
REQUIRED = {'branch': ['slug', 'name', 'address', 'shelves'], 'variety': ['name', 'species', 'breeding', 'isolation_m'], 'lot': ['variety', 'branch', 'harvest_year', 'grams'],
  'loan': ['lot', 'grams', 'pledge'], 'swap': ['branch', 'title', 'opens_at', 'closes_at', 'tables'], 'table': ['swap', 'power'], 'hook': ['url', 'active']}
IDENT = {'branch': 'slug', 'loan': 'number'}
MACHINE = {'lot': 'state', 'loan': 'status', 'sample': 'result', 'swap': 'phase', 'table': 'status'}
STATES = {'lot': ['offered', 'shelved', 'refused', 'withdrawn', 'retired'], 'loan': ['requested', 'lent', 'overdue', 'returned', 'forgiven', 'dropped', 'lapsed'],
  'sample': ['waiting', 'passed', 'failed', 'spoiled'], 'swap': ['announced', 'under_way', 'over', 'called_off'], 'table': ['held', 'confirmed', 'released']}
KINDS = ['variety.renamed', 'lot.offered', 'lot.settled', 'lot.retired', 'loan.asked', 'loan.lent', 'loan.ended', 'loan.overdue', 'loan.due_soon', 'sample.judged', 'swap.announced',
  'swap.moved', 'table.confirmed', 'table.freed', 'hook.silenced']
ROWS = {name: {} for name in FIELDS}
META = {}            # (resource, id) -> {'seq', 'since', 'fired'}
COUNT = {'seq': 0, 'accession': 0, 'loan': 0, 'place': {}}
LOCK = threading.RLock()

def ident(res): return IDENT.get(res, 'id')
ALNUM = string.ascii_letters + string.digits
def rnd(n, chars=ALNUM): return ''.join(secrets.choice(chars) for _ in range(n))
def ulid():
    v = (CLOCK.now() << 80) | secrets.randbits(80)
    return ''.join('0123456789ABCDEFGHJKMNPQRSTVWXYZ'[(v >> (5 * i)) & 31] for i in range(25, -1, -1))
def uuid4():
    h = bytearray(secrets.token_bytes(16)); h[6] = h[6] & 15 | 64; h[8] = h[8] & 63 | 128
    t = h.hex(); return '-'.join((t[:8], t[8:12], t[12:16], t[16:20], t[20:]))
def derived(res, row):
    if res == 'variety':
        row['lots_on_shelf'] = sum(1 for l in ROWS['lot'].values() if l['variety'] == row['id'] and l['state'] == 'shelved')
    elif res == 'lot':
        out = ('lent', 'returned', 'forgiven') if bug('r-left') else ('lent', 'overdue', 'returned', 'forgiven')
        row['grams_left'] = row['grams'] - sum(l['grams'] for l in ROWS['loan'].values() if l['lot'] == row['id'] and l['status'] in out)
    elif res == 'loan':
        row['owed_g'] = row['grams'] * row['pledge']
    elif res == 'swap':
        row['tables_left'] = row['tables'] - sum(1 for t in ROWS['table'].values() if t['swap'] == row['id'] and t['status'] == 'confirmed')
    return row

# ---------------------------------------------------------------- editions
EDITIONS = ['first-sowing', 'second-sowing', 'third-sowing']
NOTICE = {'first-sowing': (1740787200, 1924992000000, 'https://granary.county.example/editions'), 'second-sowing': (1767225600, None, None)}
def old(ver, than): return EDITIONS.index(ver) < EDITIONS.index(than)
def down_name(res, name, ver):
    return 'weight' if res == 'lot' and name == 'grams' and ver == 'first-sowing' else name
def fields_in(res, ver):
    """The fields of a resource under the names of an edition: name there -> name here."""
    out = {}
    for n in FIELDS[res]:
        if res == 'variety' and n == 'isolation_m' and ver == 'first-sowing': continue
        out[down_name(res, n, ver)] = n
    if res == 'swap' and old(ver, 'third-sowing'): out['parking'] = None
    return out
def show(res, row, ver, user, once=False, hidden=True, listed=False):
    row = derived(res, dict(row))
    out = {}
    for there, here in fields_in(res, ver).items():
        if here is None:
            out[there] = False; continue
        f = FIELDS[res][here]
        if here not in row or row[here] is None: continue
        if f.get('once') and not once: continue
        if hidden and f.get('visible') and user not in f['visible']:
            if not (bug('r-remark') and res == 'variety' and listed): continue
        v = row[here]
        if res == 'loan' and here == 'status' and v == 'lapsed' and old(ver, 'third-sowing'): v = 'expired'
        if res == 'sample' and here == 'purity' and old(ver, 'third-sowing'): v = v / 10.0
        if bug('w-weight') and res == 'lot' and listed and here == 'grams': there = 'grams'
        out[there] = v
    return out

# ---------------------------------------------------------------- refusals
class Refuse(Exception):
    def __init__(self, cond, violations=None, headers=None, code=None):
        self.cond, self.violations, self.headers, self.code = cond, violations, headers or {}, code
CODES = {
  'lacking': (422, 'Something is lacking.'), 'stray': (422, 'Something is not known here.'), 'unsound': (422, 'Something does not fit.'), 'empty_hand': (400, 'A body is asked for.'),
  'unreadable': (400, 'The body cannot be read.'), 'wrong_sack': (415, 'The body is of another type.'), 'no_such_form': (406, 'It cannot be had in that form.'),
  'odd_question': (400, 'A parameter does not fit.'), 'odd_page': (400, 'There is no such page.'), 'who_goes': (401, 'Show a card.'), 'bad_card': (401, 'That card does not hold.'),
  'not_yours': (403, 'That is not for you to do.'), 'card_too_small': (403, 'The card does not go so far.'), 'nowhere': (404, 'There is no such path.'),
  'no_such_thing': (404, 'There is no such thing.'), 'dangling': (422, 'It refers to nothing.'), 'wrong_verb': (405, 'That cannot be done here.'), 'twin': (409, 'There is one already.'),
  'rooted': (409, 'Others refer to it.'), 'wrong_season': (409, 'Not in this state.'), 'already_settled': (409, 'The lot was settled before.'), 'too_little': (409, 'There is too little seed left.'),
  'house_full': (409, 'Each table is taken.'), 'off_shelf': (409, 'The lot is not on the shelf.'), 'own_seed': (409, 'Nobody borrows what they gave.'),
  'not_announced': (409, 'The swap day takes no more tables.'), 'late_notice': (422, 'A swap day is announced a day before.'), 'overshot': (422, 'More sprouted than were sown.'),
  'stale': (412, 'It was changed meanwhile.'), 'tag_wanted': (428, 'Say which one was read.'), 'slip_reused': (422, 'That slip was for something else.'), 'busy': (409, 'Somebody else is at it.'),
  'too_often': (429, 'Too often.'), 'enough': (403, 'That is enough for now.'), 'too_big': (413, 'Too large.'), 'too_long': (414, 'The address is too long.'), 'too_slow': (503, 'It takes too long.'),
  'no_edition': (400, 'There is no such edition.'), 'out_of_print': (410, 'That edition is out of print.'), 'broken': (500, 'Something broke.')}
COND = {'request.missing': 'empty_hand', 'request.malformed': 'unreadable', 'request.media': 'wrong_sack', 'request.accept': 'no_such_form', 'request.parameter': 'odd_question', 'limit.page': 'odd_page',
  'caller.unknown.missing': 'who_goes', 'caller.unknown': 'bad_card', 'caller.forbidden': 'not_yours', 'caller.forbidden.scope': 'card_too_small', 'route.unknown': 'nowhere',
  'resource.missing': 'no_such_thing', 'reference.missing': 'dangling', 'method.unsupported': 'wrong_verb', 'resource.exists': 'twin', 'reference.held': 'rooted', 'transition.illegal': 'wrong_season',
  'precondition.failed': 'stale', 'precondition.required': 'tag_wanted', 'idempotency.reused': 'slip_reused', 'limit.rate': 'too_often', 'limit.quota': 'enough', 'limit.size': 'too_big',
  'limit.size.url': 'too_long', 'limit.time': 'too_slow', 'version.unknown': 'no_edition', 'version.sunset': 'out_of_print', 'internal': 'broken'}
OWN = {'already_settled', 'too_little', 'house_full', 'off_shelf', 'own_seed', 'not_announced', 'late_notice', 'overshot'}
def own(code): return Refuse('own', code=code)

# ---------------------------------------------------------------- callers
class Caller:
    def __init__(self, user, id, scopes, branch): self.user, self.id, self.scopes, self.branch = user, id, set(scopes), branch
CALLERS = [
  ('grower', 'gr-anise', 'card', 'card_aniseAAAAAAAAAAAAAAAAAAA', ['donate', 'borrow', 'swap'], 'ashford'),
  ('grower', 'gr-basil', 'card', 'card_basilBBBBBBBBBBBBBBBBBBB', ['donate', 'borrow', 'swap'], 'birchley'),
  ('grower', 'gr-chive', 'card', 'card_chiveCCCCCCCCCCCCCCCCCCC', ['borrow'], 'ashford'),
  ('grower', 'gr-dill', 'desk', 'gr-dill:pw-dill-pickled', ['donate', 'borrow', 'swap'], 'birchley'),
  ('curator', 'cu-elder', 'card', 'card_elderEEEEEEEEEEEEEEEEEEE', ['judge'], 'ashford'),
  ('curator', 'cu-fern', 'desk', 'cu-fern:pw-fern-fronds', ['judge'], 'birchley'),
  ('curator', 'cu-gorse', 'card', 'card_gorseGGGGGGGGGGGGGGGGGGG', [], 'ashford'),
  ('warden', 'wa-hazel', 'card', 'card_hazelHHHHHHHHHHHHHHHHHHH', [], 'ashford'),
  ('warden', 'wa-ivy', 'desk', 'wa-ivy:pw-ivy-climbs', [], 'birchley')]
CARDS = {c[3]: c for c in CALLERS if c[2] == 'card'}
DESKS = {c[3]: c for c in CALLERS if c[2] == 'desk'}
def as_caller(c):
    user = c[0]
    if c[2] == 'desk' and bug('p-desk') and user == 'curator': user = 'grower'
    if c[2] == 'desk' and bug('p-warden') and user == 'warden': user = 'curator'
    return Caller(user, c[1], c[4], c[5])

# rules: operations, users, scopes, condition over (row, caller)
ANYONE = None
GRO, CUR, WAR = ('grower',), ('curator',), ('warden',)
ALL3 = GRO + CUR + WAR
def mine(field): return lambda r, c: r[field] == c.id
def lot_seen(r, c): return r['donor'] == c.id or r['state'] == 'shelved'
def own_branch(r, c): return r['branch'] == c.branch or bug('a-branch')
def lot_branch(r, c):
    l = ROWS['lot'].get(r['lot']); return bool(l) and l['branch'] == c.branch
RULES = [
  ('list branch,read branch,list variety,read variety,list swap,read swap', ANYONE, (), None),
  ('upsert branch,delete branch,delete variety', WAR, (), None),
  ('create variety', GRO, ('donate',), None),
  ('update variety', GRO, ('donate',), mine('steward')),
  ('create variety,update variety', STAFF, (), None),
  ('create lot', GRO, ('donate',), None),
  ('list lot,read lot', GRO, (), lot_seen),
  ('update lot,withdraw lot', GRO, (), mine('donor')),
  ('list lot,read lot', STAFF, (), None),
  ('accept lot', CUR, (), own_branch),
  ('turn_down lot', CUR, (), lambda r, c: r['branch'] == c.branch),
  ('create loan', GRO, ('borrow',), None),
  ('list loan,read loan,update loan,drop loan,give_back loan', GRO, (), mine('borrower')),
  ('list loan,read loan', STAFF, (), None),
  ('lend loan,update loan', CUR, (), lot_branch),
  ('forgive loan', WAR, (), None),
  ('list sample,read sample', GRO, (), mine('grower')),
  ('list sample,read sample', STAFF, (), None),
  ('judge sample', CUR, ('judge',), None),
  ('create swap', CUR, (), None),
  ('replace swap', CUR, (), lambda r, c: r['host'] == c.id),
  ('call_off swap', CUR, (), mine('host')),
  ('call_off swap', WAR, (), None),
  ('create table', GRO, ('swap',), None),
  ('list table,read table,confirm table,release table', GRO, (), mine('grower')),
  ('list table,read table', STAFF, (), None),
  ('create hook', ALL3, (), None),
  ('list hook,read hook,update hook,delete hook', ALL3, (), mine('owner')),
  ('stream events', ALL3, (), None),
  ('list entry,read entry', WAR, (), None)]
BY_OP = {}
for ops, users, scopes, cond in RULES:
    for o in ops.split(','): BY_OP.setdefault(o, []).append((users, scopes, cond))
def rules_for(op, caller):
    """The rules for this user; and of these, those whose scopes the caller has."""
    of_user = [r for r in BY_OP.get(op, []) if r[0] is ANYONE or (caller and caller.user in r[0])]
    held = [r for r in of_user if not r[1] or (caller and set(r[1]) <= caller.scopes) or (bug('a-scope') and op == 'judge sample')]
    return of_user, held
def allowed(op, row, caller):
    return any(r[2] is None or (caller and r[2](row, caller)) for r in rules_for(op, caller)[1])
def may_read(res, row, caller): return allowed('read ' + res, row, caller)

# ---------------------------------------------------------------- held to shapes
def place(path): return ''.join('/' + str(p).replace('~', '~0').replace('/', '~1') for p in path)
class Held(list):
    def add(self, kind, path, found, expected, where='body'):
        self.append((kind, {'in': where, 'path': place(path) if where == 'body' else path, 'found': found, 'expected': expected}))
    def refuse(self):
        if self:
            late = [v for v in self if v[0] == 'lacking']
            order = [v for v in self if v[0] != 'lacking'] + late
            raise Refuse('request.invalid', [v[1] for v in order], code=order[0][0])
def whole(v): return isinstance(v, int) and not isinstance(v, bool) or isinstance(v, float) and v.is_integer()
def is_type(t, v):
    return {'string': isinstance(v, str), 'integer': whole(v), 'number': isinstance(v, (int, float)) and not isinstance(v, bool), 'boolean': isinstance(v, bool),
            'array': isinstance(v, list), 'object': isinstance(v, dict)}[t]
def fits(f, v, path, held):
    """Holds a value to a field's shape; gives the value as it is stored."""
    if f.get('type') == 'address':
        if not isinstance(v, dict):
            held.add('unsound', path, brief(v), 'object'); return v
        out = {}
        for k, x in v.items():
            if k not in ADDRESS: held.add('stray', path + [k], brief(x), 'no such field')
            else: out[k] = fits(ADDRESS[k], x, path + [k], held)
        for k in ADDRESS:
            if k not in v: held.add('lacking', [k] if bug('x-path') else path + [k], 'nothing', 'string')
        return out
    if 'enum' in f:
        if not isinstance(v, str) or v not in f['enum']: held.add('unsound', path, brief(v), 'one of ' + ', '.join(f['enum']))
        return v
    t = f['type']
    if not is_type(t, v):
        held.add('unsound', path, brief(v), t); return v
    if t == 'integer': v = int(v)
    bad = None
    if t in ('integer', 'number'):
        hi = f.get('maximum')
        if f.get('minimum') is not None and v < f['minimum']: bad = 'at least %s' % f['minimum']
        elif hi is not None and v > hi: bad = 'at most %s' % hi
    elif t == 'string':
        n = len(v)
        if f.get('minLength') and n < f['minLength']: bad = 'at least %d characters' % f['minLength']
        elif f.get('maxLength') and n > f['maxLength']: bad = 'at most %d characters' % f['maxLength']
        elif f.get('pattern') and not re.match(f['pattern'], v): bad = 'a text of the form ' + f['pattern'].replace('\\Z', '$')
        elif f.get('format') == 'date-time' and instant(v) is None: bad = 'date-time'
        elif f.get('format') == 'uri' and not good_uri(v): bad = 'uri'
    elif t == 'array':
        if f.get('minItems') and len(v) < f['minItems']: bad = 'at least %d items' % f['minItems']
        elif f.get('maxItems') and len(v) > f['maxItems']: bad = 'at most %d items' % f['maxItems']
        elif f.get('uniqueItems') and len({json.dumps(int(x) if whole(x) else x) for x in v}) < len(v): bad = 'items that differ'
        else: v = [fits(f['items'], x, path + [i], held) for i, x in enumerate(v)]
    if bad: held.add('unsound', path, brief(v), bad)
    return v
def good_uri(v):
    if not re.match(r'^https?://[!-~]+$', v) or any(c in v for c in '<>"{}|\\^`'): return False
    try: return bool(urlsplit(v).hostname) and (urlsplit(v).port or 1) > 0
    except ValueError: return False
def brief(v):
    if isinstance(v, dict): return 'object'
    if isinstance(v, list): return 'array'
    return json.dumps(v)[:200]

def take_body(res, body, ver, caller, held, patch=False, bound=None):
    """What a caller may write of what was sent, under the newest names."""
    names, out, gone = fields_in(res, ver), {}, set()
    if not isinstance(body, dict):
        held.add('unsound', [], brief(body), 'object'); held.refuse()
    for k, v in body.items():
        if k not in names:
            held.add('stray', [k], brief(v), 'no such field'); continue
        here = names[k]
        if here is None:
            if v is None and patch: continue
            if not isinstance(v, bool): held.add('unsound', [k], brief(v), 'boolean')
            continue
        f = FIELDS[res][here]
        if f.get('readOnly') or (f.get('writable') and caller.user not in f['writable']): continue
        if bound and here in bound:
            if v != bound[here]: held.add('unsound', [k], brief(v), str(bound[here]))
            continue
        if v is None and patch and here not in REQUIRED[res]:
            gone.add(here); continue
        out[here] = fits(f, v, [k], held)
        if res == 'hook' and here == 'events' and isinstance(out[here], list):
            for i, e in enumerate(out[here]):
                if isinstance(e, str) and not known_kind(e): held.add('unsound', [k, i], brief(e), 'a kind of event')
    return out, gone
def known_kind(e): return e == '*' or e in KINDS or (e.endswith('.*') and any(k.startswith(e[:-1]) for k in KINDS))
def wants(hook, kind):
    l = hook.get('events')
    return l is None or any(e == '*' or e == kind or (e.endswith('.*') and kind.startswith(e[:-1])) for e in l)
def lacking(res, got, ver, held, bound=()):
    for n in NEEDED[res]:
        if n not in got and n not in bound:
            held.add('unsound' if bug('x-lacking') else 'lacking', [down_name(res, n, ver)], 'nothing', FIELDS[res][n].get('type', 'string'))
def rules_hold(res, row, held):
    if res == 'lot' and row.get('moisture') is not None and row['moisture'] > 14.0 and row['grams'] > 1000:
        held.add('unsound', ['moisture'], brief(row['moisture']), 'at most 14 where there is more than a kilogram')
    if res == 'swap' and instant(row['closes_at']) <= instant(row['opens_at']):
        held.add('unsound', ['closes_at'], brief(row['closes_at']), 'a time after it opens')
def refs_hold(res, row, caller, sent):
    for n, f in FIELDS[res].items():
        if f.get('ref') and n in sent:
            r = ROWS[f['ref']].get(row[n])
            if r is None or not may_read(f['ref'], r, caller): raise Refuse('reference.missing', [{'in': 'body', 'path': '/' + n, 'found': brief(row[n]), 'expected': 'a ' + f['ref']}])

# ---------------------------------------------------------------- changes
def stored(res, row, ver=None, caller=None):
    COUNT['seq'] += 1
    ROWS[res][row[ident(res)]] = row
    META[res, row[ident(res)]] = {'seq': COUNT['seq'], 'since': CLOCK.now(), 'fired': set(), 'ver': ver, 'maker': caller}
    return row
def make(res, row, caller, ver=None):
    """Stores a new row with what is generated and set, and tells of it."""
    now = iso(CLOCK.now())
    for n, f in FIELDS[res].items():
        if 'default' in f and n not in row: row[n] = f['default']
    if res in MACHINE: row[MACHINE[res]] = STATES[res][0]
    if res == 'variety': row.update(id='v-' + secrets.token_hex(4), steward=caller.id, changed_at=now)
    elif res == 'lot':
        if not bug('r-gap'): COUNT['accession'] += 1
        row.update(id='LOT' + rnd(8, string.ascii_uppercase + string.digits), accession='ACC-%05d' % COUNT['accession'], donor=caller.id)
    elif res == 'loan':
        COUNT['loan'] += 1
        row.update(number=COUNT['loan'], borrower=caller.id, placed_at=now)
    elif res == 'sample': row.update(id=uuid4())
    elif res == 'swap': row.update(id=ulid(), host=caller.id)
    elif res == 'table':
        k = row['swap']
        COUNT['place'][k] = COUNT['place'].get(k, 0) + 1
        row.update(id='t_' + rnd(12), place=COUNT['place'][k], grower=caller.id)
    elif res == 'hook':
        row.update(id='hook_' + secrets.token_hex(5), owner=caller.id, secret='whsec_' + base64.b64encode(secrets.token_bytes(32)).decode())
    stored(res, row, ver, caller)
    emit('create ' + res, res, None, row)
    return row
TRANS = {  # operation: (from, to, code of another state)
  'accept lot': (['offered'], 'shelved', 'already_settled'), 'turn_down lot': (['offered'], 'refused', 'already_settled'), 'withdraw lot': (['offered'], 'withdrawn', None),
  'age_out lot': (['shelved'], 'retired', None), 'lend loan': (['requested'], 'lent', None), 'drop loan': (['requested'], 'dropped', None), 'lapse loan': (['requested'], 'lapsed', None),
  'fall_due loan': (['lent'], 'overdue', None), 'give_back loan': (['lent', 'overdue'], 'returned', None), 'forgive loan': (['overdue'], 'forgiven', None), 'judge sample': (['waiting'], None, None),
  'spoil sample': (['waiting'], 'spoiled', None), 'open swap': (['announced'], 'under_way', None), 'close swap': (['under_way'], 'over', None), 'call_off swap': (['announced'], 'called_off', None),
  'confirm table': (['held'], 'confirmed', None), 'release table': (['held', 'confirmed'], 'released', None), 'expire table': (['held'], 'released', None)}
def may_move(op, res, row):
    froms, _, code = TRANS[op]
    if bug('s-withdraw') and op == 'withdraw lot': froms = ['offered', 'shelved']
    if bug('s-giveback') and op == 'give_back loan': froms = ['lent']
    if row[MACHINE[res]] not in froms: raise own(code) if code else Refuse('transition.illegal')
    if op == 'lend loan' and not bug('s-lend'):
        if derived('lot', dict(ROWS['lot'][row['lot']]))['grams_left'] < row['grams']: raise own('too_little')
    if op == 'confirm table' and derived('swap', dict(ROWS['swap'][row['swap']]))['tables_left'] <= 0: raise own('house_full')
def move(op, res, row, caller=None, req=None):
    before, now = dict(row), iso(CLOCK.now())
    to = TRANS[op][1]
    if op == 'judge sample':
        enough = req['sprouted'] * 100 > req['sown'] * 70 if bug('s-judge') else req['sprouted'] * 100 >= req['sown'] * 70
        to = 'passed' if enough and req['purity'] >= 950 else 'failed'
        row.update(sown=req['sown'], sprouted=req['sprouted'], purity=req['purity'], judged_by=caller.id, judged_at=now)
    elif op == 'accept lot': row.update(germination=req['germination'], shelved_at=now)
    elif op == 'turn_down lot': row.update(reason=req['reason'])
    elif op == 'lend loan': row.update(lent_at=now, due_at=iso(plus_months(CLOCK.now(), 9)))
    elif op == 'give_back loan': row.update(returned_g=req['grams'])
    row[MACHINE[res]] = to
    META[res, row[ident(res)]]['since'] = CLOCK.now()
    emit(op, res, before, row)
    if op == 'give_back loan': make('sample', {'loan': row['number'], 'grower': row['borrower'], 'grams': row['returned_g']}, caller)
    if op == 'call_off swap':
        for t in [t for t in ROWS['table'].values() if t['swap'] == row['id']]:
            if t['status'] in (('held',) if bug('s-calloff') else ('held', 'confirmed')): move('release table', 'table', t)
    return row

# ---------------------------------------------------------------- what the clock does
TIMED = [  # resource, state, operation, time of a row
  ('lot', 'shelved', 'age_out lot', lambda r, m: m['since'] + 1000 * DAY),
  ('loan', 'requested', 'lapse loan', lambda r, m: m['since'] + (15 if bug('s-lapse') else 14) * DAY),
  ('loan', 'lent', 'tell', lambda r, m: r.get('due_at') and instant(r['due_at']) - (144 if bug('v-soon') else 168) * HOUR),
  ('loan', 'lent', 'fall_due loan', lambda r, m: r.get('due_at') and instant(r['due_at'])),
  ('sample', 'waiting', 'spoil sample', lambda r, m: m['since'] + 60 * DAY),
  ('swap', 'announced', 'open swap', lambda r, m: instant(r['opens_at'])),
  ('swap', 'under_way', 'close swap', lambda r, m: instant(r['closes_at'])),
  ('table', 'held', 'expire table', lambda r, m: m['since'] + 3 * DAY)]
def run_clock():
    """Does what has fallen due, in the order of its times."""
    with LOCK:
        while True:
            now, due = CLOCK.now(), []
            for i, (res, state, op, when) in enumerate(TIMED):
                for row in ROWS[res].values():
                    if row[MACHINE[res]] != state and not (bug('s-expire') and op == 'expire table' and row['status'] == 'confirmed'): continue
                    m = META[res, row[ident(res)]]
                    t = when(row, m)
                    if t and t <= now and (op, t) not in m['fired']: due.append((t, m['seq'], i))
            for k, e in list(ROWS['entry'].items()):
                if instant(e['at']) + 400 * DAY <= now: del ROWS['entry'][k]
            if not due: break
            t, seq, i = min(due)
            res, state, op, when = TIMED[i]
            row = next(r for r in ROWS[res].values() if META[res, r[ident(res)]]['seq'] == seq)
            META[res, row[ident(res)]]['fired'].add((op, t))
            if op == 'tell': tell('loan.due_soon', res, None, row)
            else: move(op, res, row)
        cut = CLOCK.now() - 12 * HOUR
        while STREAM_LOG and STREAM_LOG[0]['ms'] < cut: STREAM_LOG.pop(0)
        deliver_due()

# ---------------------------------------------------------------- events
ON = {'create lot': ['lot.offered'], 'accept lot': ['lot.settled'], 'turn_down lot': ['lot.settled'], 'withdraw lot': ['lot.settled'], 'age_out lot': ['lot.retired'], 'create loan': ['loan.asked'],
  'lend loan': ['loan.lent'], 'drop loan': ['loan.ended'], 'lapse loan': ['loan.ended'], 'give_back loan': ['loan.ended'], 'forgive loan': ['loan.ended'], 'fall_due loan': ['loan.overdue'],
  'judge sample': ['sample.judged'], 'create swap': ['swap.announced'], 'open swap': ['swap.moved'], 'close swap': ['swap.moved'], 'call_off swap': ['swap.moved'], 'confirm table': ['table.confirmed'],
  'release table': ['table.freed'], 'expire table': ['table.freed'], 'update variety': ['variety.renamed'], 'disable hook': ['hook.silenced']}
STREAM_LOG, READERS = [], []
def emit(op, res, before, row):
    for kind in ON.get(op, []):
        if kind == 'variety.renamed' and before['name'] == row['name'] and not bug('v-renamed'): continue
        tell(kind, res, before, row)
def about(ev, ver, user):
    row = ev['row']
    k = ev['kind']
    if k == 'variety.renamed': return {'variety': row['id'], 'was': ev['before']['name'], 'is': row['name']}
    if k in ('lot.retired', 'hook.silenced'): return row['id']
    if k == 'table.freed': return {'table': row['id'], 'swap': row['swap']}
    if bug('v-edition') and ev['res'] == 'sample': ver = 'third-sowing'
    return {**show(ev['res'], row, ver, user, hidden=not (bug('v-judge') and k == 'sample.judged')), **ev['derived']} if ev['derived'] else \
        show(ev['res'], row, ver, user, hidden=not (bug('v-judge') and k == 'sample.judged'))
def tell(kind, res, before, row):
    key = row[ident(res)]
    ev = {'id': 'ev_' + rnd(20), 'kind': kind, 'res': res, 'key': key, 'at': iso(CLOCK.now()), 'ms': CLOCK.now(), 'before': before, 'row': dict(row), 'derived': None}
    ev['derived'] = {k: v for k, v in derived(res, dict(row)).items() if k in ('lots_on_shelf', 'grams_left', 'owed_g', 'tables_left')}
    stored('entry', {'id': ev['id'], 'kind': kind, 'about': str(key), 'at': ev['at']})
    STREAM_LOG.append(ev)
    for h in ROWS['hook'].values():
        m = META['hook', h['id']]
        if h['active'] and wants(h, kind) and (may_read(res, row, m['maker']) or (bug('v-hears') and kind == 'loan.lent')):
            SENDERS[h['id']].append(ev, envelope(ev, m['ver'], m['maker'].user))
    for r in list(READERS): r.put(ev)
def envelope(ev, ver, user): return {'event': ev['id'], 'kind': ev['kind'], 'happened': ev['at'], 'about': about(ev, ver, user)}

class Sender:
    """What waits for one hook: in order for each row."""
    def __init__(self, hook): self.hook, self.lanes, self.failing, self.dead = hook, {}, None, False
    def append(self, ev, env):
        self.lanes.setdefault((ev['res'], ev['key']), []).append({'id': ev['id'], 'kind': ev['kind'], 'env': env, 'due': CLOCK.now(), 'tries': 0, 'busy': False})
SENDERS = {}
WAITS = [MIN, 10 * MIN, HOUR]
def deliver_due():
    now = CLOCK.now()
    for s in list(SENDERS.values()):
        for lane in list(s.lanes.values()):
            if lane and not lane[0]['busy'] and lane[0]['due'] <= now:
                lane[0]['busy'] = True
                threading.Thread(target=attempt, args=(s, lane, lane[0]), daemon=True).start()
def attempt(s, lane, d):
    with LOCK:
        url, secret, stamp = s.hook['url'], s.hook['secret'], str(CLOCK.now() // 1000)
    body = json.dumps(d['env'], separators=(',', ':'), ensure_ascii=False).encode()
    signed = ('%s.' % stamp).encode() + (b'' if bug('v-seal') else d['id'].encode() + b'.') + body
    seal = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    status, wait = 0, 0
    try:
        u = urlsplit(url)
        c = (http.client.HTTPSConnection if u.scheme == 'https' else http.client.HTTPConnection)(u.hostname, u.port, timeout=5)
        c.request('POST', (u.path or '/') + ('?' + u.query if u.query else ''), body,
                  {'Content-Type': 'application/json', 'Granary-Seal': 'at=%s,seal=%s' % (stamp, seal), 'Granary-Event': d['kind'], 'User-Agent': 'seed-granary'})
        r = c.getresponse(); status = r.status
        ra = r.getheader('Retry-After') or ''
        wait = min(int(ra), 86400) * 1000 if ra.isdigit() else 0
        c.close()
    except Exception:
        pass
    with LOCK:
        d['busy'] = False
        if s.dead: return
        if 200 <= status < 300:
            s.failing = None; lane.pop(0)
        else:
            now = CLOCK.now()
            s.failing = s.failing or now
            if status == 410 or now - s.failing >= 3 * DAY:
                s.lanes.clear(); lane.clear()
                if s.hook['active']:
                    s.hook['active'] = False; s.failing = None
                    emit('disable hook', 'hook', None, s.hook)
            elif d['tries'] >= len(WAITS): lane.pop(0)
            else:
                d['due'] = now + max((WAITS[1] if bug('v-retry') and d['tries'] == 0 else WAITS[d['tries']]), wait); d['tries'] += 1
        deliver_due()

# ---------------------------------------------------------------- limits
RATES = {}   # (rate, who) -> [start, used]
def count_rate(caller, addr):
    limit = 240 if caller else 90
    if bug('l-rate') and caller: limit = 241
    who = ('caller', caller.user, caller.id) if caller else ('address', addr)
    now = CLOCK.now()
    w = RATES.get(who)
    if not w or now >= w[0] + MIN: w = RATES[who] = [now, 0]
    reset = math.ceil((w[0] + MIN - now) / 1000)
    told = {'Granary-Limit': str(limit - (1 if bug('l-rate') and caller else 0)), 'Granary-Reset': str(reset)}
    if w[1] >= limit:
        told.update({'Granary-Left': '0', 'Retry-After': str(reset)})
        raise Refuse('limit.rate', headers=told)
    w[1] += 1
    told['Granary-Left'] = str(max(0, limit - w[1] - (1 if bug('l-rate') and caller else 0)))
    return told
QUOTA = {}
def quota_left(caller):
    d = datetime.fromtimestamp(CLOCK.now() // 1000, timezone.utc)
    key = (caller.user, caller.id, d.year, d.month)
    if QUOTA.get(key, 0) >= (13 if bug('l-quota') else 12):
        end = calendar.timegm((d.year + d.month // 12, d.month % 12 + 1, 1, 0, 0, 0)) * 1000
        raise Refuse('limit.quota', headers={'Retry-After': str(math.ceil((end - CLOCK.now()) / 1000))})
    return key

# ---------------------------------------------------------------- endpoints
BASE = '/seeds'
class End:
    def __init__(self, method, path, does, **k):
        self.method, self.path, self.does, self.k = method, path, does, k
        self.verb, self.res = does.split(' ')
        self.steps = path.strip('/').split('/')
REQ = {'accept lot': {'germination': I(0, 100)}, 'turn_down lot': {'reason': S(minLength=1, maxLength=200)}, 'give_back loan': {'grams': I(1, 5000)},
  'judge sample': {'sown': I(1, 400), 'sprouted': I(0, 400), 'purity': I(0, 1000)}}
def P(field=None, op='=', **k): return dict(field=field, op=op, **k)
DTP = 'date-time'
ENDS = [
  End('PUT', '/branches/{slug}', 'upsert branch'), End('GET', '/branches', 'list branch', order='slug'),
  End('GET', '/branches/{slug}', 'read branch', etag=True, cache='public, max-age=300'), End('DELETE', '/branches/{slug}', 'delete branch'),
  End('POST', '/varieties', 'create variety'),
  End('GET', '/varieties', 'list variety', order='-changed_at', params={'species': P('species', 'in'), 'breeding': P('breeding'), 'far': P('isolation_m', '>=', type='integer'), 'q': P(op='search'),
      'sort': P(op='sort', of=['changed_at', 'isolation_m'])}),
  End('GET', '/varieties/{id}', 'read variety', etag=True), End('PATCH', '/varieties/{id}', 'update variety', if_match='required'),
  End('DELETE', '/varieties/{id}', 'delete variety', if_match='accepted'), End('POST', '/varieties/{variety}/lots', 'create lot'),
  End('GET', '/lots', 'list lot', newest=True, params={'variety': P('variety'), 'branch': P('branch'), 'state': P('state', named='lot'), 'newer': P('harvest_year', '>=', type='integer'), 'species': P(op='species')}),
  End('GET', '/lots/{id}', 'read lot', etag=True), End('PATCH', '/lots/{id}', 'update lot', when=['offered'], if_match='accepted'),
  End('POST', '/lots/{id}/accept', 'accept lot'), End('POST', '/lots/{id}/turn-down', 'turn_down lot'), End('POST', '/lots/{id}/withdraw', 'withdraw lot'),
  End('POST', '/lots/{lot}/loans', 'create loan'),
  End('GET', '/loans', 'list loan', order='-number', paged=True, params={'lot': P('lot'), 'status': P('status', named='loan'), 'placed_since': P('placed_at', '>=', type=DTP)}),
  End('GET', '/loans/{number}', 'read loan', etag=True), End('PATCH', '/loans/{number}', 'update loan', when=['requested', 'lent'], if_match='accepted'),
  End('POST', '/loans/{number}/lend', 'lend loan'), End('POST', '/loans/{number}/drop', 'drop loan'), End('POST', '/loans/{number}/give-back', 'give_back loan'),
  End('POST', '/loans/{number}/forgive', 'forgive loan'),
  End('GET', '/samples', 'list sample', params={'loan': P('loan', type='integer'), 'result': P('result', named='sample')}), End('GET', '/samples/{id}', 'read sample'),
  End('POST', '/samples/{id}/judge', 'judge sample'),
  End('POST', '/swaps', 'create swap'),
  End('GET', '/swaps', 'list swap', order='opens_at', params={'branch': P('branch'), 'phase': P('phase', named='swap'), 'from': P('opens_at', '>=', type=DTP), 'sort': P(op='sort', of=['opens_at'])}),
  End('GET', '/swaps/{id}', 'read swap', etag=True), End('PUT', '/swaps/{id}', 'replace swap', when=['announced'], if_match='accepted'), End('POST', '/swaps/{id}/call-off', 'call_off swap'),
  End('POST', '/swaps/{swap}/tables', 'create table'), End('GET', '/swaps/{swap}/tables', 'list table', order='place', params={'status': P('status', named='table')}),
  End('GET', '/tables/{id}', 'read table'), End('POST', '/tables/{id}/confirm', 'confirm table'), End('POST', '/tables/{id}/release', 'release table'),
  End('POST', '/hooks', 'create hook'), End('GET', '/hooks', 'list hook'), End('GET', '/hooks/{id}', 'read hook'), End('PATCH', '/hooks/{id}', 'update hook'), End('DELETE', '/hooks/{id}', 'delete hook'),
  End('GET', '/entries', 'list entry', newest=True, params={'kind': P('kind'), 'about': P('about')}), End('GET', '/entries/{id}', 'read entry'),
  End('GET', '/stream', 'stream events')]
WHERE = {'branch': 'branches', 'variety': 'varieties', 'lot': 'lots', 'loan': 'loans', 'sample': 'samples', 'swap': 'swaps', 'table': 'tables', 'hook': 'hooks', 'entry': 'entries'}
def route(path, ver):
    """The endpoints of a path, and what its parameters are."""
    base = BASE
    if bug('p-bare') and (path + '/').startswith(('/branches/', '/seeds/branches/')): base = ''
    if path != base and not path.startswith(base + '/'): return [], {}
    steps = path[len(base):].split('/')[1:]
    best, found, params = None, [], {}
    for e in ENDS:
        if len(e.steps) != len(steps): continue
        got, lit = {}, 0
        for a, b in zip(e.steps, steps):
            if a[0] == '{':
                if b == '': break
                got[a[1:-1]] = unquote(b)
            elif a != unquote(b): break
            else: lit += 1
        else:
            if e.path == '/entries' and ver == 'first-sowing' and not bug('w-entries'): continue
            if bug('p-withdraw') and e.does == 'withdraw lot': continue
            if bug('p-forgive') and e.does == 'forgive loan': continue
            found.append((e, got))
    return found, {e.method: g for e, g in found}

class Request:
    def __init__(self, method, target, headers, addr):
        self.method, self.target, self.headers, self.addr = method, target, headers, addr
        self.id = 'slip-' + secrets.token_hex(8)
        self.body, self.too_big, self.slow = b'', False, False
    def all(self, name): return [v for k, v in self.headers if k.lower() == name]
    def one(self, name):
        v = self.all(name); return v[0] if v else None
class Answer:
    def __init__(self, status, headers=None, body=None): self.status, self.headers, self.body = status, headers or {}, body

def js(v): return json.dumps(v, separators=(',', ':'), ensure_ascii=False)
def http_date(s): return datetime.fromtimestamp(s, timezone.utc).strftime('%a, %d %b %Y %H:%M:%S GMT')

def find_caller(req):
    cards, auths = req.all('seed-card'), req.all('authorization')
    found = []
    if len(cards) > 1 or len(auths) > 1: raise Refuse('caller.unknown')
    if cards:
        c = CARDS.get(cards[0].strip())
        if c is None:
            if bug('a-badcard'): return None
            raise Refuse('caller.unknown')
        found.append(c)
    if auths:
        m = re.match(r'^basic +([A-Za-z0-9+/=_-]+)\s*$', auths[0].strip(), re.I)
        try: c = DESKS.get(base64.b64decode(m.group(1), validate=True).decode()) if m else None
        except Exception: c = None
        if c is None: raise Refuse('caller.unknown')
        found.append(c)
    if not found: return None
    callers = [as_caller(c) for c in found]
    if any((c.user, c.id) != (callers[0].user, callers[0].id) for c in callers) and not bug('a-two'): raise Refuse('caller.unknown')
    for c in callers[1:]: callers[0].scopes |= c.scopes
    return callers[0]
def challenges(bad):
    out = ['ApiKey realm="Seed Granary", in="header", name="Seed-Card"' + (', error="invalid_key"' if bad else ''), 'Basic realm="Seed Granary", charset="UTF-8"']
    return out[:1] if bug('a-challenge') else out

def accepts(req, kind):
    vals = req.all('accept')
    if not vals: return True
    best, prec = 0.0, -1
    for part in ','.join(vals).split(','):
        bits = [b.strip() for b in part.split(';')]
        q = 1.0
        for b in bits[1:]:
            if b.lower().startswith('q='):
                try: q = float(b[2:])
                except ValueError: q = 1.0
        m = bits[0].lower()
        p = 2 if m == kind else 1 if m == kind.split('/')[0] + '/*' else 0 if m == '*/*' else -1
        if p > prec: prec, best = p, q
        elif p == prec and p >= 0: best = max(best, q)
    return prec >= 0 and best > 0

def query_of(req):
    q = req.target.split('?', 1)
    out = []
    if len(q) > 1 and q[1]:
        for part in q[1].split('&'):
            if part == '': continue
            k, _, v = part.partition('=')
            try: out.append((unquote(k.replace('+', ' '), errors='strict'), unquote(v.replace('+', ' '), errors='strict'), v))
            except UnicodeDecodeError: raise Refuse('request.parameter')
    return out
def odd(name, found, expected): return Refuse('request.parameter', [{'in': 'query', 'path': name, 'found': str(found)[:200], 'expected': expected}])
def parameters(e, req, ver):
    params, res = e.k.get('params', {}), e.res
    got, keeps, page = {}, [], {}
    pagers = (('page', 'per_page') if e.k.get('paged') else ('after', 'take')) if e.verb == 'list' else ()
    for k, v, raw in query_of(req):
        if k in pagers:
            if k in page: raise odd(k, v, 'one value')
            page[k] = v; continue
        p = params.get(k)
        if p is None:
            raise odd(k, v, 'no such parameter')
        if k in got: raise odd(k, v, 'one value')
        got[k] = v
        f = FIELDS[res].get(p['field'] or '', {})
        if p['op'] == 'in':
            vals = v.split(',')
            if len(vals) > 100 or any(x not in f['enum'] for x in vals): raise odd(k, v, 'one of ' + ', '.join(f['enum']))
            keeps.append(lambda r, p=p, vals=vals: r.get(p['field']) in vals)
        elif p['op'] == 'search':
            words = v.lower().split()
            if len(words) > 16: raise odd(k, v, 'at most 16 words')
            keeps.append(lambda r, words=words: all(any(w in (r.get(n) or '').lower() for n in ('name', 'story')) for w in words))
        elif p['op'] == 'species':
            if v not in FIELDS['variety']['species']['enum']: raise odd(k, v, 'one of the species')
            keeps.append(lambda r, v=v: ROWS['variety'][r['variety']]['species'] == v)
        elif p['op'] == 'sort':
            of = [n for n in p['of'] if n != 'isolation_m' or ver != 'first-sowing']
            if v.lstrip('-') not in of or v.startswith('--'): raise odd(k, v, 'one of ' + ', '.join(of))
        else:
            x = v
            if p.get('type') == 'integer':
                if not re.match(r'^-?(0|[1-9]\d*)$', v): raise odd(k, v, 'integer')
                x = int(v)
                if f.get('minimum') is not None and p['op'] == '=' and not f['minimum'] <= x <= f['maximum']: raise odd(k, v, 'in range')
            elif p.get('type') == DTP:
                x = instant(v)
                if x is None: raise odd(k, v, 'date-time')
            elif p.get('named'):
                names = list(STATES[p['named']])
                if res == 'loan' and old(ver, 'third-sowing') and not bug('w-filter'): names = ['expired' if n == 'lapsed' else n for n in names]
                if v not in names: raise odd(k, v, 'one of ' + ', '.join(names))
                if v == 'expired': x = 'lapsed'
            elif 'enum' in f and v not in f['enum']: raise odd(k, v, 'one of ' + ', '.join(f['enum']))
            elif f.get('ref') == 'branch' and not re.match(r'^[a-z]{3,12}\Z', v): raise odd(k, v, 'a branch')
            if p['op'] == '>=':
                strict = bug('e-far') and k == 'far'
                conv = instant if p.get('type') == DTP else (lambda y: y)
                keeps.append(lambda r, p=p, x=x, conv=conv, strict=strict: conv(r[p['field']]) > x if strict else conv(r[p['field']]) >= x)
            else: keeps.append(lambda r, p=p, x=x: r.get(p['field']) == x)
    # pages
    if e.k.get('paged'):
        n, at = page.get('per_page', '10'), page.get('page', '1')
        if not re.match(r'^\d{1,9}$', n) or not re.match(r'^\d{1,9}$', at) or int(n) < 1 or int(at) < 1: raise Refuse('limit.page')
        if bug('l-clamp') and int(n) > 50: raise Refuse('limit.page')
        page = {'size': min(int(n), 50), 'page': int(at)}
    elif e.verb == 'list':
        n = page.get('take', '20')
        if not re.match(r'^\d{1,9}$', n) or not 1 <= int(n) <= (61 if bug('l-take') else 60): raise Refuse('limit.page')
        page = {'size': int(n), 'after': page.get('after')}
    return got, keeps, page

SECRET = secrets.token_bytes(16)
def seal_cursor(v):
    raw = js(v).encode()
    return base64.urlsafe_b64encode(hmac.new(SECRET, raw, hashlib.sha256).digest()[:12] + raw).decode().rstrip('=')
def open_cursor(text):
    try:
        raw = base64.urlsafe_b64decode(text + '=' * (-len(text) % 4))
        if not hmac.compare_digest(hmac.new(SECRET, raw[12:], hashlib.sha256).digest()[:12], raw[:12]): raise ValueError
        return json.loads(raw[12:])
    except Exception: raise Refuse('limit.page')

def list_rows(e, req, ver, caller, bound, got, keeps, page, user):
    res = e.res
    order = got.get('sort') or e.k.get('order')
    bind = [e.does, ver, sorted(bound.items()), sorted(got.items()), [caller.user, caller.id] if caller else None]
    start = None
    if not e.k.get('paged') and page['after'] is not None:
        start = open_cursor(page['after'])
        if start[0] != json.loads(js(bind)): raise Refuse('limit.page')
    field, sign = (order.lstrip('-'), -1 if order.startswith('-') else 1) if order else (None, 1)
    newest = -1 if e.k.get('newest') and not bug('e-order') else 1
    def key(r):
        if field is None: v = 0
        else: v = instant(r[field]) if field in ('changed_at', 'opens_at') else r[field]
        return (v, META[res, r[ident(res)]]['seq'])
    listable = lambda r: allowed('list ' + res, r, caller) or (bug('a-lots') and res == 'lot')
    rows = [r for r in ROWS[res].values() if all(r[k] == v for k, v in bound.items()) and all(k(r) for k in keeps) and listable(r)]
    rows.sort(key=lambda r: newest * key(r)[1])
    rows.sort(key=lambda r: key(r)[0], reverse=sign < 0)
    size = page['size']
    if e.k.get('paged'):
        at = page['page']
        cut = rows[(at - 1) * size: at * size]
        more = at * size < len(rows)
        link = []
        path = req.target.split('?')[0]
        rest = [(k, v) for k, v, _ in query_of(req) if k != 'page']
        def to(n): return '<%s?%s>' % (path, '&'.join('%s=%s' % (quote(k, safe=''), quote(v, safe='')) for k, v in rest + [('page', str(n))]))
        if more: link.append(to(at + 1) + '; rel="next"')
        if at > 1: link.append(to(at - 1) + '; rel="prev"')
        link.append(to(1) + '; rel="first"')
        return Answer(200, {'Link': link}, {'loans': [show(res, r, ver, user, listed=True) for r in cut], 'more': more, 'count': len(rows)})
    if start:
        v0, s0 = start[1], start[2]
        def past(r):
            v, s = key(r)
            if v != v0: return v > v0 if sign > 0 else v < v0
            return newest * s > newest * s0
        rows = [r for r in rows if past(r)]
    cut = rows[:size]
    onward = seal_cursor([bind, *key(cut[-1])]) if len(rows) > size else None
    return Answer(200, {}, {'rows': [show(res, r, ver, user, listed=True) for r in cut], 'onward': onward, 'more': len(rows) > size})

def tag_of(res, row, ver, user): return '"' + hashlib.sha256((ver + '|' + js(show(res, row, ver, user))).encode()).hexdigest()[:24] + '"'
def tags(text): return [t.strip() for t in re.findall(r'\*|(?:W/)?"[^"]*"', text)]
def read_identifier(res, text):
    if res == 'loan':
        return int(text) if re.match(r'^(0|[1-9]\d{0,17})$', text) else None
    return text

REPLAY = {}
MEDIA = ('application/json',)
def body_of(e, req):
    if not req.body:
        raise Refuse('request.missing')
    ct = req.one('content-type')
    kind = (ct or '').split(';')[0].strip().lower()
    if kind not in (MEDIA + ('application/merge-patch+json',) if e.verb == 'update' else MEDIA): raise Refuse('request.media')
    if req.too_big: raise Refuse('limit.size')
    try: return json.loads(req.body.decode('utf-8'), parse_constant=lambda c: 1 / 0)
    except Exception: raise Refuse('request.malformed')

def handle(req, answer_stream):
    """The order of refusals: 1 sizes, 2 route, 4 caller, 5 rates, 6 user, 8 parameters, accept, body, 9 slips, 10 row, 11 tags, 13 state, 12 request, 14 own, 15 the rest."""
    extra = {}
    ver = None
    try:
        if len(req.target.encode()) > 2048: raise Refuse('limit.size.url')
        if sum(len(k.encode('latin-1')) + len(v.encode('latin-1')) + 4 for k, v in req.headers) > 8192: raise Refuse('limit.size')
        asked = req.all('granary-edition')
        path = req.target.split('?')[0]
        want = asked[0].strip() if asked else 'third-sowing'
        ver = want if want in EDITIONS and len(asked) < 2 else None
        found, params = route(path, want)
        if not found: raise Refuse('route.unknown')
        methods = {e.method for e, _ in found}
        allow = sorted(methods | ({'HEAD'} if 'GET' in methods else set()) | {'OPTIONS'})
        method = 'GET' if req.method == 'HEAD' and 'GET' in methods and not (bug('e-head') and path.startswith(BASE + '/swaps/')) else req.method
        if method == 'OPTIONS': return Answer(204, {'Allow': ', '.join(allow), **common(ver, req.target)})
        ends = [x for x in found if x[0].method == method]
        if not ends: raise Refuse('method.unsupported', headers={'Allow': ', '.join(allow)})
        e, params = ends[0]
        if len(asked) > 1 or want not in EDITIONS:
            raise Refuse('version.unknown')
        ver = want
        n = NOTICE.get(ver)
        if n and n[1] and CLOCK.now() >= n[1] + (DAY if bug('w-sunset') else 0): raise Refuse('version.sunset')
        # 4, 5, 6
        caller = find_caller(req)
        of_user, held = rules_for(e.does, caller)
        if caller is None and not of_user: raise Refuse('caller.unknown.missing')
        if req.one('authorization') and method != 'GET':
            site, origin = req.one('sec-fetch-site'), req.one('origin')
            if site and site.lower() in ('cross-site', 'same-site') or not site and origin and origin.split('//')[-1] != req.one('host'): raise Refuse('caller.forbidden')
        extra = count_rate(caller, req.addr)
        if not of_user: raise Refuse('caller.forbidden')
        if not held: raise Refuse('caller.forbidden.scope')
        # 8
        got, keeps, page = parameters(e, req, ver)
        if not accepts(req, 'text/event-stream' if e.does == 'stream events' else 'application/json'): raise Refuse('request.accept')
        body = None
        takes = e.verb in ('create', 'update', 'replace', 'upsert') or e.does in REQ
        if takes: body = body_of(e, req)
        elif req.too_big: raise Refuse('limit.size')
        if e.does == 'stream events':
            answer_stream(ver, caller, extra); return None
        # 9
        slip, key, print_ = req.one('slip-number') if method == 'POST' else None, None, None
        if slip is not None:
            key = (caller.user, caller.id, e.does, slip)
            print_ = hashlib.sha256(js([req.target, ver]).encode() + (b'' if bug('e-slip') and e.does == 'create swap' else req.body)).hexdigest()
            kept = REPLAY.get(key)
            if kept and CLOCK.now() < kept[0] + 24 * HOUR:
                if kept[1] != print_: raise Refuse('idempotency.reused')
                if isinstance(kept[2], Refuse): raise kept[2]
                a = kept[2]
                return finish(Answer(a.status, dict(a.headers), a.body), ver, extra, req.target)
        try:
            a, replay = act(e, req, ver, caller, params, body, got, keeps, page)
        except Refuse as r:
            if key and r.code in OWN: REPLAY[key] = (CLOCK.now(), print_, r)
            raise
        if key: REPLAY[key] = (CLOCK.now(), print_, replay or a)
        return finish(a, ver, extra, req.target)
    except Refuse as r:
        return refusal(req, r, ver, extra)

def common(ver, target):
    h = {'Vary': 'Granary-Edition, Seed-Card, Authorization'}
    h['Granary-Edition'] = ver or 'third-sowing'
    n = NOTICE.get(ver)
    if n:
        h['Deprecation'] = '@%d' % n[0]
        if n[1]: h['Sunset'] = http_date(n[1] // 1000)
        h['Link'] = (['<%s>; rel="deprecation"' % n[2]] if n[2] else []) + ['<%s>; rel="successor-version"' % target]
    return h
def finish(a, ver, extra, target):
    h = common(ver, target)
    link = a.headers.pop('Link', []) + h.pop('Link', [])
    h.update(a.headers); h.update(extra)
    if link or ver in NOTICE: h['Link'] = link
    a.headers = h
    return a
def refusal(req, r, ver, extra):
    code = r.code or COND[r.cond]
    status, message = CODES[code]
    if bug('x-full') and code == 'house_full': status = 422
    if bug('x-rooted') and code == 'rooted': code = 'twin'
    h = common(ver, req.target)
    if bug('w-refused'):
        for k in ('Deprecation', 'Sunset', 'Link'): h.pop(k, None)
    h.update(extra); h.update(r.headers)
    h['Granary-Verdict'] = code
    if code in ('who_goes', 'bad_card'): h['WWW-Authenticate'] = challenges(code == 'bad_card')
    body = {'verdict': code, 'because': message, 'slip': req.id}
    if r.violations: body['amiss'] = r.violations
    return Answer(status, h, body)

def act(e, req, ver, caller, params, body, got, keeps, page):
    res, verb = e.res, e.verb
    user = caller.user if caller else None
    names = [s[1:-1] for s in e.steps if s[0] == '{']
    by_row = verb not in ('create', 'list')
    bound = {}
    # 10: parents and the row
    for n in (names[:-1] if by_row else names):
        parent = FIELDS[res][n]['ref']
        p = ROWS[parent].get(params[n])
        if p is None or not may_read(parent, p, caller): raise Refuse('resource.missing')
        bound[n] = params[n]
    if verb == 'list': return list_rows(e, req, ver, caller, bound, got, keeps, page, user), None
    row = None
    if by_row:
        row = ROWS[res].get(read_identifier(res, params[names[-1]]))
        if row is None and verb != 'upsert': raise Refuse('resource.missing')
        if row is not None:
            if not may_read(res, row, caller) and not (bug('a-loan') and e.does == 'read loan'): raise Refuse('resource.missing')
            if not allowed(e.does, row, caller) and verb != 'read': raise Refuse('caller.forbidden')
    if verb == 'read':
        h = {}
        if e.k.get('cache'): h['Cache-Control'] = e.k['cache']
        if e.k.get('etag'):
            h['ETag'] = tag_of(res, row, ver, user)
            inm = req.all('if-none-match')
            if inm:
                seen = [t.replace('W/', '', 1) if t.startswith('W/') else t for t in tags(','.join(inm))]
                if bug('e-none'): seen = seen[:1]
                if h['ETag'] in seen or '*' in seen: return Answer(304, h), None
        return Answer(200, h, show(res, row, ver, user, once=bug('r-secret'))), None
    # 11: tags
    how = e.k.get('if_match')
    if how:
        im = req.all('if-match')
        if not im and how == 'required': raise Refuse('precondition.required')
        if im and not (bug('e-match') and e.does == 'update lot'):
            t = tags(','.join(im))
            if '*' not in t and tag_of(res, row, ver, user) not in t: raise Refuse('precondition.failed')
    # 13: state before 12: request
    if e.k.get('when') and row[MACHINE[res]] not in e.k['when']: raise Refuse('transition.illegal')
    if e.does in TRANS: may_move(e.does, res, row)
    held, now = Held(), CLOCK.now()
    if e.does in TRANS:
        reqs = None
        if e.does in REQ:
            reqs = {}
            if not isinstance(body, dict):
                held.add('unsound', [], brief(body), 'object'); held.refuse()
            for k, v in body.items():
                if k not in REQ[e.does]: held.add('stray', [k], brief(v), 'no such field')
                else: reqs[k] = fits(REQ[e.does][k], v, [k], held)
            for k in REQ[e.does]:
                if k not in body: held.add('unsound' if bug('x-lacking') else 'lacking', [k], 'nothing', REQ[e.does][k]['type'])
            held.refuse()
        if e.does == 'judge sample' and reqs['sprouted'] > reqs['sown'] - (1 if bug('x-overshot') else 0): raise own('overshot')
        move(e.does, res, row, caller, reqs)
        return Answer(200, {}, show(res, row, ver, user)), None
    if verb == 'delete':
        if res == 'branch' and (any(l['branch'] == row['slug'] for l in ROWS['lot'].values()) or any(s['branch'] == row['slug'] for s in ROWS['swap'].values())): raise Refuse('reference.held')
        if res == 'variety' and any(l['variety'] == row['id'] for l in ROWS['lot'].values()): raise Refuse('reference.held')
        key = row[ident(res)]
        del ROWS[res][key]; META.pop((res, key))
        if res == 'hook':
            SENDERS.pop(key).dead = True
        return Answer(204), None
    if verb == 'create':
        if bug('r-gap') and res == 'lot': COUNT['accession'] += 1
        nxt, _ = take_body(res, body, ver, caller, held, bound=bound)
        lacking(res, nxt, ver, held, bound)
        held.refuse()
        nxt.update(bound)
        rules_hold(res, nxt, held) if res in ('lot', 'swap') else None
        held.refuse()
        refs_hold(res, nxt, caller, [n for n in nxt if n not in bound])
        if res == 'loan':
            lot = ROWS['lot'][nxt['lot']]
            if lot['state'] != 'shelved': raise own('off_shelf')
            if lot['donor'] == caller.id: raise own('own_seed')
        if res == 'table' and ROWS['swap'][nxt['swap']]['phase'] != 'announced': raise own('not_announced')
        if res == 'swap' and instant(nxt['opens_at']) < now + (23 if bug('x-notice') else 24) * HOUR: raise own('late_notice')
        if res == 'variety': name_free(nxt, None)
        if res == 'table' and any(t['swap'] == nxt['swap'] and t['grower'] == caller.id and t['status'] in ('held', 'confirmed') for t in ROWS['table'].values()): raise Refuse('resource.exists')
        quota = None
        if res == 'loan':
            live = ('requested', 'lent') if bug('l-loans') else ('requested', 'lent', 'overdue')
            if sum(1 for l in ROWS['loan'].values() if l['borrower'] == caller.id and l['status'] in live) >= 5: raise Refuse('limit.quota')
            quota = quota_left(caller)
        if res == 'hook' and sum(1 for h in ROWS['hook'].values() if h['owner'] == caller.id) >= (4 if bug('l-hooks') else 3): raise Refuse('limit.quota')
        row = make(res, nxt, caller, ver)
        if quota: QUOTA[quota] = QUOTA.get(quota, 0) + 1
        if res == 'hook': SENDERS[row['id']] = Sender(row)
        h = {'Location': ('' if bug('p-location') and res == 'lot' else BASE) + '/%s/%s' % (WHERE[res], row[ident(res)])}
        if bug('e-location') and res == 'table': h = {}
        full = show(res, row, ver, user, once=True)
        return Answer(201, h, full), Answer(201, h, show(res, row, ver, user))
    # update, replace, upsert
    before = dict(row) if row else None
    bound = {'slug': params['slug']} if verb == 'upsert' else None
    if verb == 'upsert': fits(FIELDS['branch']['slug'], params['slug'], ['slug'], held)
    sent, gone = take_body(res, body, ver, caller, held, patch=verb == 'update', bound=bound)
    for n in list(sent):
        if FIELDS[res][n].get('immutable') and sent[n] != row[n] and not (bug('r-variety') and n == 'variety'):
            held.add('unsound', [down_name(res, n, ver)], brief(sent[n]), 'as it is')
    if verb == 'update':
        nxt = {k: v for k, v in {**row, **sent}.items() if k not in gone}
    else:
        lacking(res, sent, ver, held, bound or ())
        nxt = {k: v for k, v in (row or {}).items() if FIELDS[res][k].get('readOnly')}
        nxt.update(sent); nxt.update(bound or {})
        for n, f in FIELDS[res].items():
            if 'default' in f and n not in nxt: nxt[n] = f['default']
    held.refuse()
    if res in ('lot', 'swap'): rules_hold(res, nxt, held)
    held.refuse()
    refs_hold(res, nxt, caller, sent)
    if row is not None and not allowed(e.does, nxt, caller): raise Refuse('caller.forbidden')
    if res == 'variety': name_free(nxt, row['id'])
    if row is None:
        stored(res, nxt, ver, caller)
        return Answer(201, {'Location': BASE + '/branches/' + nxt['slug']}, show(res, nxt, ver, user)), None
    if nxt != before:
        row.clear(); row.update(nxt)
        if res == 'variety' and not bug('r-changed'): row['changed_at'] = iso(now)
        emit('update ' + res, res, before, row)
    return Answer(200, {}, show(res, row, ver, user)), None
def name_free(nxt, me):
    fold = (lambda s: s) if bug('r-case') else str.lower
    if any(fold(v['name']) == fold(nxt['name']) and v['id'] != me for v in ROWS['variety'].values()): raise Refuse('resource.exists')

# ---------------------------------------------------------------- the door
def read_head(sock, buf, first, then):
    """Reads up to the end of the header fields; gives what was read and what came after, or None."""
    deadline = None
    while b'\r\n\r\n' not in buf:
        if len(buf) > 131072: return None
        sock.settimeout(first if not buf else max(0.01, deadline - time.time()))
        d = sock.recv(65536)
        if not d: return None
        if deadline is None: deadline = time.time() + then
        buf += d
    head, _, rest = buf.partition(b'\r\n\r\n')
    return head, rest, deadline or time.time() + then
LIMIT = 16384
def read_body(sock, req, rest, deadline):
    """The body, up to the stated size and no further; tells what is left in the buffer."""
    def more():
        sock.settimeout(max(0.01, deadline - time.time()))
        d = sock.recv(65536)
        if not d: raise ConnectionError
        return d
    limit = LIMIT - 1 if bug('l-body') else LIMIT
    if 'chunked' in (req.one('transfer-encoding') or '').lower():
        out = b''
        while True:
            while b'\r\n' not in rest: rest += more()
            line, _, rest = rest.partition(b'\r\n')
            n = int(line.split(b';')[0], 16)
            while len(rest) < n + 2: rest += more()
            if n == 0:
                while not rest.startswith(b'\r\n'):
                    while b'\r\n' not in rest: rest += more()
                    rest = rest.partition(b'\r\n')[2]
                rest = rest[2:]; break
            out += rest[:n]; rest = rest[n + 2:]
            if len(out) > limit: req.too_big = True
            if len(out) > 1 << 24: raise ConnectionError
        req.body = out
    else:
        cl = req.one('content-length')
        if not cl: return rest
        n = int(cl)
        req.too_big = n > limit
        if n > 1 << 24: req.body = b'x'; req.close = True; return b''
        while len(rest) < n: rest += more()
        req.body, rest = rest[:n], rest[n:]
    return rest
REASON = http.client.responses
def write(sock, req, a, close):
    body = b'' if a.body is None else js(a.body).encode()
    h = dict(a.headers)
    h['Granary-Request'] = req.id
    if a.body is not None: h['Content-Type'] = 'application/json'
    lines = ['HTTP/1.1 %d %s' % (a.status, REASON.get(a.status, ''))]
    for k, v in h.items():
        for x in (v if isinstance(v, list) else [v]): lines.append('%s: %s' % (k, x))
    lines.append('Date: ' + http_date(time.time()))
    if a.status not in (204, 304): lines.append('Content-Length: %d' % len(body))
    if close: lines.append('Connection: close')
    sock.settimeout(30)
    sock.sendall(('\r\n'.join(lines) + '\r\n\r\n').encode('latin-1', 'replace') + (b'' if req.method == 'HEAD' or a.status in (204, 304) else body))
def stream(sock, req, ver, caller, extra):
    q = queue.Queue()
    with LOCK:
        last, todo = req.one('last-event-id'), []
        if last is not None:
            ids = [ev['id'] for ev in STREAM_LOG]
            at = ids.index(last) + (0 if bug('v-resume') else 1) if last in ids else 0
            todo = STREAM_LOG[at:]
        READERS.append(q)
    h = {**common(ver, req.target), **extra, 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'Granary-Request': req.id, 'Connection': 'close', 'Date': http_date(time.time())}
    lines = ['HTTP/1.1 200 OK']
    for k, v in h.items():
        for x in (v if isinstance(v, list) else [v]): lines.append('%s: %s' % (k, x))
    try:
        sock.settimeout(30)
        sock.sendall(('\r\n'.join(lines) + '\r\n\r\n').encode('latin-1') + (b'' if req.method == 'HEAD' else b': open\n\n'))
        if req.method == 'HEAD': return
        while True:
            if todo: ev = todo.pop(0)
            else:
                try: ev = q.get(timeout=15)
                except queue.Empty:
                    sock.sendall(b': still here\n\n'); continue
            if not may_read(ev['res'], ev['row'], caller): continue
            with LOCK: text = 'id: %s\nevent: %s\ndata: %s\n\n' % (ev['id'], ev['kind'], js(envelope(ev, ver, caller.user)))
            sock.sendall(text.encode())
    except OSError: pass
    finally:
        with LOCK: READERS.remove(q)
def serve_one(sock, addr):
    buf = b''
    try:
        while True:
            got = read_head(sock, buf, 30, 10)
            if got is None: return
            head, rest, deadline = got
            lines = head.decode('latin-1').lstrip('\r\n').split('\r\n')
            parts = lines[0].split(' ')
            if len(parts) != 3 or not parts[2].startswith('HTTP/1.'):
                sock.sendall(b'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'); return
            headers = []
            for l in lines[1:]:
                k, _, v = l.partition(':'); headers.append((k.strip(), v.strip()))
            target = parts[1]
            if target.startswith('http://'): target = '/' + target.split('/', 3)[3] if target.count('/') > 2 else '/'
            req = Request(parts[0], target, headers, addr)
            req.close = parts[2] == 'HTTP/1.0' or 'close' in (req.one('connection') or '').lower()
            if (req.one('expect') or '').lower() == '100-continue': sock.sendall(b'HTTP/1.1 100 Continue\r\n\r\n')
            try: buf = read_body(sock, req, rest, deadline)
            except (socket.timeout, TimeoutError):
                write(sock, req, refusal(req, Refuse('limit.time'), None, {}), True); return
            except ValueError:
                write(sock, req, refusal(req, Refuse('request.malformed'), None, {}), True); return
            with_stream = []
            with LOCK:
                run_clock()
                try: a = handle(req, lambda *x: with_stream.append(x))
                except Exception:
                    import traceback; traceback.print_exc()
                    a = refusal(req, Refuse('internal'), None, {})
                deliver_due()
            if with_stream:
                stream(sock, req, *with_stream[0]); return
            write(sock, req, a, req.close)
            if req.close: return
    except (OSError, ConnectionError): pass
    finally:
        try: sock.close()
        except OSError: pass

def serve_clock(sock, addr):
    try:
        got = read_head(sock, b'', 30, 10)
        if got is None: return
        head, rest, deadline = got
        lines = head.decode('latin-1').split('\r\n')
        req = Request(lines[0].split(' ')[0], '/', [tuple(x.strip() for x in l.partition(':')[::2]) for l in lines[1:]], addr)
        read_body(sock, req, rest, deadline)
        status, out = 200, None
        if req.method == 'POST':
            status = 400
            try:
                v = json.loads(req.body)
                with LOCK:
                    now = CLOCK.now()
                    to = later(now, v['advance']) if set(v) == {'advance'} else instant(v['now']) if set(v) == {'now'} else None
                    if to is not None:
                        status = 200 if to >= now else 422
                        if status == 200:
                            CLOCK.offset += to - now
                            run_clock()
            except Exception: pass
        elif req.method != 'GET': status = 400
        out = js({'now': iso(CLOCK.now())} if status == 200 else {'error': 'not a move of the clock'}).encode()
        sock.sendall(('HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n' % (status, REASON[status], len(out))).encode() + out)
    except (OSError, ValueError): pass
    finally: sock.close()
def listen(port, serve):
    s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(('127.0.0.1', port)); s.listen(256)
    def loop():
        while True:
            c, a = s.accept()
            c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=serve, args=(c, a[0]), daemon=True).start()
    threading.Thread(target=loop, daemon=True).start()
    return s.getsockname()[1]

def main():
    global FAULT
    p = argparse.ArgumentParser()
    p.add_argument('--port', type=int, required=True); p.add_argument('--clock-port', type=int, required=True); p.add_argument('--fault')
    a = p.parse_args(); FAULT = a.fault
    signal.signal(signal.SIGTERM, lambda *x: sys.exit(0))
    stored('branch', {'slug': 'ashford', 'name': 'Ashford Old School', 'address': {'street': '1 School Lane', 'town': 'Ashford'}, 'shelves': 40})
    stored('branch', {'slug': 'birchley', 'name': 'Birchley Mill', 'address': {'street': '9 Mill Road', 'town': 'Birchley'}, 'shelves': 12})
    listen(a.clock_port, serve_clock)
    print('seed granary listens on http://127.0.0.1:%d%s' % (listen(a.port, serve_one), BASE), flush=True)
    while True:
        time.sleep(0.25); run_clock()
if __name__ == '__main__': main()
