"""Herbarium Loan Desk: the service that service.yaml states. Standard library alone; all state in memory, under one lock."""
import base64, calendar, datetime as dt, hashlib, hmac, http.client, io, json, math, re, secrets, socket, sys, threading, time, uuid
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, quote, unquote, urlsplit
ARGS = dict(zip(sys.argv[1::2], sys.argv[2::2]))
PORT, CLOCK_PORT, FAULT = int(ARGS['--port']), int(ARGS['--clock-port']), ARGS.get('--fault')
def bug(name): return FAULT == name
# ---------------------------------------------------------------- the clock
SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
offset = 0
def now(): return time.time_ns() // 1_000_000 + offset
def iso(ms):
    d = dt.datetime.fromtimestamp(ms // 1000, dt.timezone.utc)
    return d.strftime('%Y-%m-%dT%H:%M:%S') + '.%03dZ' % (ms % 1000)
RFC3339 = re.compile(r'^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$')
def instant(text):
    m = RFC3339.match(text)
    if not m: return None
    try:
        y, mo, d, h, mi, s = (int(x) for x in m.groups()[:6])
        base = dt.datetime(y, mo, d, h, mi, min(s, 59), tzinfo=dt.timezone.utc)
        if s > 60: return None
    except ValueError: return None
    ms = calendar.timegm(base.timetuple()) * 1000 + (s - min(s, 59)) * 1000 + int(float(m[7] or 0) * 1000)
    if m[8] not in 'Zz':
        hh, mm = int(m[8][1:3]), int(m[8][4:])
        if hh > 23 or mm > 59: return None
        ms -= (1 if m[8][0] == '+' else -1) * (hh * HOUR + mm * MINUTE)
    return ms
DURATION = re.compile(r'^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$')
def later(ms, text):
    m = DURATION.match(text)
    if not m: return None
    y, mo, w, d, h, mi = (int(x or 0) for x in m.groups()[:6])
    t = dt.datetime.fromtimestamp(ms // 1000, dt.timezone.utc)
    months = t.year * 12 + t.month - 1 + y * 12 + mo
    year, month = divmod(months, 12)
    t = t.replace(year=year, month=month + 1, day=min(t.day, calendar.monthrange(year, month + 1)[1]))
    return calendar.timegm(t.timetuple()) * 1000 + ms % 1000 + w * 7 * DAY + d * DAY + h * HOUR + mi * MINUTE + round(float(m[7] or 0) * 1000)
# ---------------------------------------------------------------- what the document states
def people():
    with open(__file__.rsplit('service.py', 1)[0] + 'stranger.json', encoding='utf-8') as f: return json.load(f)['callers']
CALLERS = {(p['scheme'], p['credential']): p for p in people()}
CODES = {  # code: (status, message)
    'body_missing': (400, 'A body is wanted.'), 'body_garbled': (400, 'The body is no JSON.'), 'body_foreign': (415, 'JSON alone is read here.'),
    'query_wrong': (400, 'Something in the query or a header is wrong.'), 'page_wrong': (416, 'There is no such page.'),
    'field_missing': (422, 'A field is missing.'), 'field_unknown': (400, 'A field is not known.'), 'field_wrong': (422, 'A field is wrong.'),
    'no_route': (404, 'Nothing is here.'), 'no_method': (405, 'Not by this method.'), 'who_is_it': (401, 'Show a card or a staff key.'),
    'not_known': (401, 'This card or key is not known.'), 'not_entitled': (403, 'The card does not entitle to this.'),
    'not_yours': (403, 'That is not for you.'), 'not_found': (404, 'There is no such thing.'), 'no_such_ref': (422, 'What is referred to is not there.'),
    'held': (409, 'Loans refer to it.'), 'exists': (409, 'That is there already.'), 'wrong_state': (409, 'Its state does not allow this.'),
    'sheet_is_out': (409, 'The sheet is out of the house.'), 'sheet_not_free': (423, 'The sheet is out or is not sound.'),
    'past_calling_off': (410, 'It is too late to call it off.'), 'prolonged_before': (409, 'A loan is prolonged once.'),
    'courier_too_long': (422, 'By courier for eight weeks at the most.'), 'sheet_withdrawn': (409, 'The sheet is withdrawn.'),
    'tag_stale': (412, 'It has changed since.'), 'tag_wanted': (428, 'Say by If-Match what was read.'),
    'once_reused': (409, 'The Once-Key was used for something else.'), 'too_often': (429, 'Too many requests.'), 'used_up': (403, 'No more of these.'),
    'too_large': (413, 'The body is too large.'), 'url_too_long': (414, 'The address is too long.'),
    'headers_too_large': (431, 'The header fields are too large.'), 'too_slow': (408, 'That took too long.'),
    'edition_unknown': (400, 'There is no such edition.'), 'edition_gone': (410, 'This edition is no longer served.'), 'broken': (500, 'Something broke.')}
if bug('x-unknown'): CODES['field_unknown'] = (422, CODES['field_unknown'][1])
if bug('x-ref'): CODES['no_such_ref'] = (404, CODES['no_such_ref'][1])
OWN_ERRORS = {'courier_too_long', 'sheet_withdrawn'}
LOAN_STATES = ['asked', 'granted', 'out', 'overdue', 'back', 'declined', 'lapsed', 'called_off']
HELD_STATES = ('asked', 'granted', 'out', 'overdue')
KINDS = ['loan.asked', 'loan.granted', 'loan.sent', 'loan.closed', 'loan.overdue', 'loan.due_soon', 'slip.written', 'sheet.moved']
TOPICS = set(KINDS) | {'*', 'loan.*', 'slip.*', 'sheet.*'}
BODY_MAX, URL_MAX, HEADERS_MAX = 6 * 1024, 2 * 1024, 8 * 1024
DEPRECATED, SUNSET = '@1788220800', instant('2028-03-01T00:00:00Z')
SUNSET_TEXT = 'Wed, 01 Mar 2028 00:00:00 GMT'
# A check of a value says None where it fits, else (class, path below the field, what is expected).
def text(least=0, most=None, pattern=None, extra=None):
    def check(v):
        if not isinstance(v, str): return 'type', '', 'a text'
        if len(v) < least or most is not None and len(v) > most: return 'value', '', f'{least} to {most} characters'
        if pattern and not re.search(pattern, v): return 'value', '', f'a text like {pattern}'
        return extra(v) if extra else None
    return check
def number(least, most, whole=False):
    def check(v):
        if isinstance(v, bool) or not isinstance(v, (int, float)) or not math.isfinite(v) or whole and v != int(v):
            return 'type', '', 'a whole number' if whole else 'a number'
        return None if least <= v <= most else ('value', '', f'{least} to {most}')
    return check
def one_of(*values): return lambda v: None if isinstance(v, str) and v in values else ('value' if isinstance(v, str) else 'type', '', 'one of ' + ', '.join(values))
def boolean(v): return None if isinstance(v, bool) else ('type', '', 'true or false')
def real_date(v):
    if not re.fullmatch(r'\d{4}-\d\d-\d\d', v, re.ASCII): return 'value', '', 'a date'
    try:
        if bug('r-date'): v = v[:8] + '01' if 1 <= int(v[8:]) <= 31 else v
        dt.date.fromisoformat(v)
    except ValueError: return 'value', '', 'a date'
def address(v):
    try:
        u = urlsplit(v)
        good = u.hostname and (u.port is None or u.port > 0) and re.fullmatch(r"[!#$%&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~]+", v) and not re.search(r'%(?![0-9A-Fa-f]{2})', v)
    except ValueError: good = False
    return None if good else ('value', '', 'an address')
def topics(v):
    if not isinstance(v, list): return 'type', '', 'a list'
    for i, t in enumerate(v):
        if not isinstance(t, str): return 'type', f'/{i}', 'a text'
        if t not in TOPICS: return 'value', f'/{i}', 'a kind of event'
    return None if 1 <= len(v) <= 5 else ('value', '', '1 to 5 items')
class Field:
    def __init__(self, check=None, req=True, ro=False, default=None, immutable=False, sees=None, writes=None, ref=None, whole=False):
        self.check, self.req, self.ro, self.default, self.immutable = check, req, ro, default, immutable
        self.sees, self.writes, self.ref, self.whole = sees, writes, ref, whole
BARCODE = r'^[A-Z]{3}-[0-9]{6}\Z'
CABINET = r'^[A-H][0-9]{2}\Z'
RO = dict(ro=True)
FIELDS = {
    'sheet': {
        'barcode': Field(text(pattern=BARCODE), immutable=True), 'taxon': Field(text(2 if bug('r-taxon') else 3, 60)), 'cabinet': Field(text(pattern=CABINET)),
        'collected_on': Field(text(extra=real_date), req=False), 'mount': Field(one_of('strap', 'glue', 'packet'), default='strap'),
        'height_cm': Field(number(4, 65 if bug('r-height') else 64.5)),
        'restricted': Field(boolean, default=False, sees=('curator',), writes=('curator',)),
        'value_eur': Field(number(1, 250000, True), req=False, whole=True, writes=('curator',), sees=('curator', 'auditor', 'botanist') if bug('r-value') else ('curator', 'auditor')),
        'out': Field(**RO), 'condition': Field(**RO)},
    'loan': {
        'number': Field(**RO), 'sheet': Field(text(), immutable=not bug('r-immutable'), ref='sheet'), 'borrower': Field(**RO),
        'care': Field(one_of('standard', 'padded', 'courier'), default='standard'), 'weeks': Field(number(1, 27 if bug('r-weeks') else 26, True), whole=True),
        'purpose': Field(text(1, 120), req=False),
        'desk_note': Field(text(0, 80), req=False, writes=('curator',), sees=('curator', 'botanist') if bug('r-note') else ('curator',)),
        'status': Field(**RO), 'due_at': Field(req=False, **RO), 'prolonged': Field(default=False, **RO)},
    'slip': {
        'id': Field(**RO), 'sheet': Field(text(), immutable=True, ref='sheet'), 'serial': Field(**RO), 'author': Field(**RO), 'opinion': Field(text(3, 60)),
        'certainty': Field(number(0, 1)), 'page': Field(number(1, 9999, True), req=False, whole=True), 'written_at': Field(**RO)},
    'hook': {
        'id': Field(**RO), 'owner': Field(**RO), 'url': Field(text(0, 200, r'^https?://', address)), 'topics': Field(topics, req=False),
        'label': Field(text(0, 30), req=False), 'secret': Field(**RO), 'live': Field(default=True, **RO)}}
KEY = {'sheet': 'barcode', 'loan': 'number', 'slip': 'id', 'hook': 'id'}
AUDITOR_LOAN = ('number', 'sheet', 'borrower', 'status', 'due_at')
CARE_E3 = {'standard': 'usual'}
def name_in(version, res, field):
    """The name of a field in a version; None where it has none there."""
    if version == 'e3':
        if (res, field) == ('loan', 'prolonged'): return None
        if (res, field) == ('sheet', 'cabinet'): return 'shelf'
    return field
# ---------------------------------------------------------------- the state
lock = threading.RLock()
wake = threading.Condition(lock)
rows = {'sheet': {}, 'loan': {}, 'slip': {}, 'hook': {}}
counters = {'loan': 0, 'made': 0}
once, quota_used, windows, house_calls = {}, {}, {}, {}
deliveries = []
class Refused(Exception):
    def __init__(self, code, wrong=None, **headers): self.code, self.wrong, self.headers = code, wrong, headers
def wrong(path, expected, found=None, where='body'):
    w = {'in': where, 'path': path, 'expected': expected}
    if found is not None: w['found'] = (found if isinstance(found, str) else json.dumps(found))[:200]
    return w
def reckon_out(sheet):
    states = ('out',) if bug('r-derive') else ('out', 'overdue')
    return sum(1 for l in rows['loan'].values() if l['sheet'] == sheet['barcode'] and l['status'] in states)
def shows(res, field, user):
    sees = FIELDS[res][field].sees
    if sees and user not in sees: return False
    if res == 'loan' and user == 'auditor': return field in AUDITOR_LOAN or bug('a-fields') and field == 'purpose'
    return True
def view(res, row, user, version, reveal=False):
    told = {}
    for f in FIELDS[res]:
        v = reckon_out(row) if (res, f) == ('sheet', 'out') else row.get(f)
        name = name_in(version, res, f)
        if v is None or name is None or not shows(res, f, user) or f == 'secret' and not reveal and not bug('r-secret'): continue
        if version == 'e3' and (res, f) == ('loan', 'care') and not bug('n-care'): v = CARE_E3.get(v, v)
        told[name] = v
    return told
def may_read(user, ident, res, row):
    if user == 'curator': return res != 'hook' or row['owner'] == ident
    if res == 'sheet': return user == 'auditor' or not row['restricted']
    if res == 'loan': return user == 'auditor' or row['borrower'] == ident
    return res == 'slip' and user == 'botanist' or res == 'hook' and row['owner'] == ident
# ---------------------------------------------------------------- events
def emit(kind, res, row, payload=None, to=None):
    """Records an event for each subscriber that hears of it; payload(user, version) or the row itself."""
    at, ref, key = now(), 'ev_' + secrets.token_hex(12), (res, row[KEY[res]])
    for hook in list(rows['hook'].values()):
        asked = hook.get('topics')
        if not hook['live'] or asked is not None and not {kind, '*', kind.split('.')[0] + '.*'} & set(asked): continue
        user, ident = hook['_maker']
        if not (to(user) if to else may_read(user, ident, res, row)): continue
        about = payload if payload is not None else view(res, row, user, hook['_version'])
        body = json.dumps({'ref': ref, 'topic': kind, 'happened': iso(at), 'about': about}, ensure_ascii=False).encode()
        for _ in range(2 if bug('v-twice') and kind == 'loan.sent' else 1):
            deliveries.append({'hook': hook, 'row': key, 'kind': kind, 'body': body, 'tries': 0, 'due': at, 'flying': False, 'done': False})
    wake.notify_all()
WAITS = [20 * SECOND, 4 * MINUTE] if bug('v-retry') else [20 * SECOND, 4 * MINUTE, HOUR]
def start_deliveries():
    """Begins every delivery whose time has come. Called with the lock held. Says when the next one is due."""
    deliveries[:] = [d for d in deliveries if not d['done']]
    t, nearest, blocked, flying = now(), None, set(), {}
    for d in deliveries:
        if d['flying']: flying[d['hook']['id']] = flying.get(d['hook']['id'], 0) + 1
    for d in deliveries:
        hook, mine = d['hook'], (d['hook']['id'], d['row'])
        if mine in blocked: continue
        blocked.add(mine)
        if d['flying']: continue
        due = max(d['due'], hook['_hold'])
        if due > t: nearest = due if nearest is None else min(nearest, due)
        elif flying.get(hook['id'], 0) < (1 if hook['_failing'] else 32):
            d['flying'] = True
            flying[hook['id']] = flying.get(hook['id'], 0) + 1
            threading.Thread(target=deliver, args=(d, t), daemon=True).start()
    return nearest
def post(url, body, headers):
    u = urlsplit(url)
    make = http.client.HTTPSConnection if u.scheme.lower() == 'https' else http.client.HTTPConnection
    c = make(u.hostname, u.port, timeout=4)
    try:
        c.request('POST', (u.path or '/') + ('?' + u.query if u.query else ''), body, headers)
        r = c.getresponse()
        return r.status, r.getheader('Retry-After')
    finally: c.close()
def deliver(d, t):
    hook, stamp = d['hook'], str(t // 1000)
    signed = d['body'] if bug('v-seal') else stamp.encode() + b':' + d['body']
    seal = hmac.new(hook['secret'].encode(), signed, hashlib.sha256).hexdigest()
    try: status, again = post(hook['url'], d['body'], {'Content-Type': 'application/json', 'Desk-Topic': d['kind'], 'Desk-Seal': f'at={stamp},seal={seal}'})
    except Exception: status, again = 0, None
    with lock:
        d['flying'] = False
        d['tries'] += 1
        if 200 <= status < 300: d['done'], hook['_failing'] = True, None
        elif not d['done']:
            t = now()
            hook['_failing'] = hook['_failing'] or t
            if d['tries'] > len(WAITS): d['done'] = True
            else: d['due'] = t + WAITS[d['tries'] - 1]
            if again and re.fullmatch(r'\d{1,9}', again.strip()): hook['_hold'] = t + min(int(again) * SECOND, DAY)
            if status == 410 and not bug('v-410') or t - hook['_failing'] >= 2 * DAY:
                hook['live'] = False
                for other in deliveries:
                    if other['hook'] is hook: other['done'] = True
        start_deliveries()
        wake.notify_all()
# ---------------------------------------------------------------- what the clock does
def timers():
    """(time, what to do) of all that the clock will do."""
    for loan in rows['loan'].values():
        if loan['status'] == 'asked': yield loan['_entered'] + (11 if bug('s-lapse') else 10) * DAY, loan['number'], 'lapse', loan
        elif loan['status'] == 'out':
            due = loan['_first_due'] if bug('s-olddue') else loan['_due']
            if due not in loan['_fell']: yield due, loan['number'], 'fall_due', loan
            soon = loan['_due'] - 72 * HOUR
            if soon not in loan['_told']: yield soon, loan['number'], 'due_soon', loan
def run_due():
    """Does what has fallen due, in the order of its times. Called with the lock held."""
    while True:
        first = min(timers(), key=lambda x: x[:3], default=None)
        if first is None or first[0] > now(): break
        at, _, what, loan = first
        if what == 'lapse':
            move(loan, 'status', 'lapsed')
            if not bug('v-lapse'): emit('loan.closed', 'loan', loan)
        elif what == 'fall_due':
            loan['_fell'].add(at)
            move(loan, 'status', 'overdue')
            emit('loan.overdue', 'loan', loan, loan['number'])
        else:
            loan['_told'].add(at)
            emit('loan.due_soon', 'loan', loan)
    nearest = start_deliveries()
    times = [x for x in (first and first[0], nearest) if x]
    return min(times) if times else None
def scheduler():
    with lock:
        while True:
            due = run_due()
            wake.wait(None if due is None else max(0.005, min(3600, (due - now()) / 1000)))
def move(row, field, state): row[field], row['_entered'] = state, now()
# ---------------------------------------------------------------- reading requests
class Call:
    pass
ROUTES = []
def route(method, path, does, takes=None, params=()):
    pattern = re.compile('^' + re.sub(r'\{(\w+)\}', r'(?P<\1>[^/]+)', path) + r'\Z')
    def add(fn):
        ROUTES.append((method, pattern, path, does, takes, dict(params), fn))
        return fn
    return add
RULES = {'curator': {'create sheet', 'list sheet', 'read sheet', 'update sheet', 'delete sheet', 'mend sheet', 'shelve sheet', 'withdraw sheet', 'list loan', 'read loan',
                     'update loan', 'grant loan', 'decline loan', 'dispatch loan', 'receive loan', 'create slip', 'list slip', 'read slip', 'delete slip',
                     'create hook', 'list hook', 'read hook', 'delete hook'},
         'botanist': {'list sheet', 'read sheet', 'create loan', 'list loan', 'read loan', 'update loan', 'call_off loan', 'prolong loan', 'create slip', 'list slip',
                      'read slip', 'delete slip', 'create hook', 'list hook', 'read hook', 'delete hook'},
         'auditor': {'list sheet', 'read sheet', 'list loan', 'read loan'}}
def find_caller(c):
    card, auth = c.headers.get('x-reader-card', []), c.headers.get('authorization', [])
    marks = {'card': 'ApiKey realm="Herbarium Loan Desk", in="header", name="X-Reader-Card"', 'staff': 'Staff realm="Herbarium Loan Desk"'}
    def challenge(code, *bad):
        return Refused(code, **{'WWW-Authenticate': ', '.join(m + (', error="invalid_key"' if s in bad else '') for s, m in marks.items())})
    if not card and not auth: raise challenge('who_is_it')
    found, shown = [], []
    if card:
        shown.append('card')
        found.append(CALLERS.get(('card', card[0])) if len(card) == 1 else None)
    if auth:
        shown.append('staff')
        m = re.fullmatch(r'Staff +(\S+)', auth[0], 0 if bug('a-prefix') else re.I) if len(auth) == 1 else None
        found.append(CALLERS.get(('staff', m[1])) if m else None)
    if bug('p-auditor'): found = [p if p and p['user'] != 'auditor' else None for p in found]
    if None in found or len({(p['user'], p['id']) for p in found}) > 1: raise challenge('not_known', *shown)
    c.user, c.id = found[0]['user'], found[0]['id']
    c.scopes = {s for p in found for s in p.get('scopes', [])}
def count_rate(c):
    t, limit, cost = now(), 600, 2 if c.does in ('list loan', 'list sheet') and not bug('l-cost') else 1
    w = windows.get((c.user, c.id))
    if not w or t >= w[0] + MINUTE: w = windows[(c.user, c.id)] = [t, 0]
    ok = w[1] + cost <= limit
    w[1] += cost if ok else 0
    told_rate(c, limit, limit - w[1], w[0] + MINUTE - t, ok)
def count_house(c):
    t, limit = now(), 21 if bug('l-house') else 20
    q = house_calls.setdefault(c.address, deque())
    while q and q[0] <= t - 30 * SECOND: q.popleft()
    ok = len(q) < limit
    if ok: q.append(t)
    told_rate(c, 20, max(0, 20 - len(q)), q[0] + 30 * SECOND - t, ok)
def told_rate(c, limit, left, wait, ok):
    c.out.update({'Desk-Allowance': str(limit), 'Desk-Left': str(left), 'Desk-Reset': str(-(-wait // 1000))})
    if not ok: raise Refused('too_often', **{'Retry-After': str(max(1, -(-wait // 1000)))})
def read_query(c):
    c.q, c.skip, c.take = {}, 0, 5
    paged = c.does in ('list sheet', 'list loan', 'list slip')
    known = {}
    for name, p in c.params.items(): known[name_in(c.version, p.get('res'), p['field']) if p.get('field') == name else name] = (name, p)
    seen, page = set(), {}
    try: pairs = parse_qsl(c.query, keep_blank_values=True, errors='strict')
    except ValueError: raise Refused('query_wrong', [wrong('', 'UTF-8', where='query')])
    for name, v in pairs:
        if name in seen or name not in known and not (paged and name in ('skip', 'take')):
            raise Refused('query_wrong', [wrong(name, 'a known parameter, once', where='query')])
        seen.add(name)
        if name in known:
            own, p = known[name]
            try: c.q[own] = p['read'](c, v)
            except ValueError: raise Refused('query_wrong', [wrong(name, 'another value', v, 'query')])
            f = p.get('field')
            if f and not shows(p['res'], f, c.user) and not (bug('a-filter') and f == 'care'):
                raise Refused('query_wrong', [wrong(name, 'a known parameter, once', where='query')])
        else: page[name] = v
    if 'key' in c.ep_once and not c.headers.get('once-key', [''])[0] and c.ep_once['key']: raise Refused('query_wrong', [wrong('Once-Key', 'a key', where='header')])
    for name, v in page.items():
        if not re.fullmatch(r'[0-9]{1,300}', v, re.ASCII) or name == 'take' and int(v) < 1: raise Refused('page_wrong', [wrong(name, 'a whole number', v, 'query')])
        setattr(c, name, int(v))
    if not (bug('l-clamp') and c.take == 13): c.take = min(c.take, 12)
def no_constant(_): raise ValueError
def read_body(c):
    if c.takes is None:
        if c.too_large: raise Refused('too_large')
        return
    kinds = c.headers.get('content-type', [])
    kind = kinds[0].split(';')[0].strip().lower() if kinds else ''
    if c.body or c.too_large or kinds:
        if kind not in (('application/json', 'application/merge-patch+json') if c.method == 'PATCH' else ('application/json',)): raise Refused('body_foreign')
    if c.too_large: raise Refused('too_large')
    if not c.body: raise Refused('body_missing')
    try:
        c.json = json.loads(c.body.decode('utf-8'), parse_constant=no_constant)
        json.dumps(c.json, ensure_ascii=False).encode('utf-8')
    except (ValueError, RecursionError): raise Refused('body_garbled')
def process(c):
    """Steps 2 to 15 of the order of refusals. Says (status, headers, body or None)."""
    path = c.path
    found = [(r, r[1].match(path)) for r in ROUTES if r[1].match(path)]
    said = c.headers.get('desk-edition')
    c.version = said[0] if said else 'e3'
    known = c.version in ('e3', 'e4')
    if known:
        c.out['Desk-Edition'] = c.version
        if c.version == 'e3':
            c.out['Deprecation'], c.out['Sunset'] = DEPRECATED, SUNSET_TEXT
            c.out['Link'] = f'<https://desk.herbarium.example/editions>; rel="deprecation", <{c.target}>; rel="successor-version"'
            found = [(r, m) for r, m in found if r[3] != 'prolong loan']
    if bug('p-shelve'): found = [(r, m) for r, m in found if r[3] != 'shelve sheet']
    if not found: raise Refused('no_route')
    methods = {r[0] for r, _ in found} | {'OPTIONS'}
    methods |= {'HEAD'} if 'GET' in methods else set()
    allow = ', '.join(sorted(methods))
    if c.method == 'OPTIONS': return 204, {'Allow': allow}, None
    want = 'GET' if c.method == 'HEAD' else c.method
    hit = next(((r, m) for r, m in found if r[0] == want), None)
    if not hit: raise Refused('no_method', Allow=allow)
    if not known: raise Refused('edition_unknown')
    if c.version == 'e3' and now() >= SUNSET and not bug('n-sunset'): raise Refused('edition_gone')
    (_, _, _, c.does, c.takes, c.params, fn), m = hit
    try: c.at = {k: unquote(v, errors='strict') for k, v in m.groupdict().items()}
    except ValueError: c.at = {k: '\0' for k in m.groupdict()}
    c.ep_once = {'key': True} if c.does == 'create loan' else {'key': False} if c.does == 'create slip' else {}
    if c.does == 'house rules':
        count_house(c)
        c.user = c.id = None
    else:
        find_caller(c)
        count_rate(c)
        if c.does not in RULES[c.user]: raise Refused('not_yours')
        if c.does == 'create loan' and 'borrow' not in c.scopes and not bug('a-scope'): raise Refused('not_entitled')
    read_body(c)
    read_query(c)
    key = c.headers.get('once-key', [''])[0] if c.ep_once else ''
    if not key: return fn(c)
    slot = (c.user, c.id, c.does, key)
    print_ = (c.path, c.query, c.version, json.dumps(c.json, sort_keys=True))
    kept = once.get(slot)
    if kept and kept[0] > now() and not bug('e-once'):
        if kept[1] != print_: raise Refused('once_reused')
        if kept[2] == 'refused': raise Refused(kept[3])
        return kept[3]
    try: answer = fn(c)
    except Refused as r:
        if r.code in OWN_ERRORS: once[slot] = (now() + 12 * HOUR, print_, 'refused', r.code)
        raise
    once[slot] = (now() + 12 * HOUR, print_, 'done', answer)
    return answer
# ---------------------------------------------------------------- rows: found, checked, changed
def sheet_at(c, barcode):
    row = rows['sheet'].get(barcode)
    if row is None or not may_read(c.user, c.id, 'sheet', row): raise Refused('not_found')
    return row
def loan_at(c):
    n = c.at['number']
    row = rows['loan'].get(int(n)) if re.fullmatch(r'[1-9][0-9]{0,15}', n, re.ASCII) else None
    hidden = row and not may_read(c.user, c.id, 'loan', row)
    if row is None or hidden and not (bug('a-read') and c.does == 'read loan') and not (bug('a-calloff') and c.does == 'call_off loan'): raise Refused('not_found')
    return row
def hook_at(c):
    row = rows['hook'].get(c.at['id'])
    if row is None or not may_read(c.user, c.id, 'hook', row): raise Refused('not_found')
    return row
def take_in(c, res, old=None, fixed=None):
    """The row as it would be stored, of what was sent: a creation, or a merge patch of old. Refuses what is wrong."""
    sent, fields, fixed = c.json, FIELDS[res], fixed or {}
    if not isinstance(sent, dict): raise Refused('field_wrong', [wrong('', 'a map')])
    names = {name_in(c.version, res, f): f for f in fields if name_in(c.version, res, f)}
    new, bad = dict(old or fixed), []
    for name, v in sent.items():
        f = names.get(name)
        if f is None:
            bad.append(('unknown', wrong('/' + name.replace('~', '~0').replace('/', '~1'), 'no such field')))
            continue
        field, said = fields[f], None
        if field.ro or field.writes and c.user not in field.writes: continue
        if v is None:
            if old is None or field.req: bad.append(('value', wrong('/' + name, 'a value', 'null')))
            else: new.pop(f, None)
            continue
        if (res, f) == ('loan', 'care') and c.version == 'e3': v = {'usual': 'standard', 'standard': '\0'}.get(v, v) if isinstance(v, str) else v
        said = field.check(v)
        if said: bad.append((said[0], wrong('/' + name + said[1], said[2], sent[name])))
        elif f in fixed and v != fixed[f] or old is not None and field.immutable and v != old.get(f): bad.append(('value', wrong('/' + name, 'what it is', v)))
        else: new[f] = int(v) if field.whole else v
    if old is None:
        for f, field in fields.items():
            name = name_in(c.version, res, f)
            if field.default is not None: new.setdefault(f, field.default)
            elif field.req and not field.ro and f not in new and name not in sent: bad.append(('missing', wrong('/' + name, 'a value')))
    if not bad and res == 'sheet' and new.get('value_eur', 0) > 9000 and new['mount'] == 'glue' and not (bug('r-costly') and old):
        bad.append(('value', wrong('/mount', 'no glue on a costly sheet', 'glue')))
    if bad:
        code = {'missing': 'field_missing', 'unknown': 'field_unknown'}.get(bad[0][0], 'field_wrong')
        if bug('x-missing') and code == 'field_missing': code = 'field_wrong'
        raise Refused(code, [w for _, w in bad])
    for f, field in fields.items():
        if field.ref and f not in fixed and (old is None or new[f] != old[f]):
            target = rows[field.ref].get(new[f])
            if target is None or not may_read(c.user, c.id, field.ref, target): raise Refused('no_such_ref', [wrong('/' + f, 'what is there', new[f])])
    return new
def keep(res, row):
    counters['made'] += 1
    row['_made'] = counters['made']
    rows[res][row[KEY[res]]] = row
def shown(c, res, row): return 200, {}, view(res, row, c.user, c.version)
def made(c, res, row, location): return 201, {} if bug('e-location') and res == 'slip' else {'Location': location}, view(res, row, c.user, c.version, True)
def page(c, res, found):
    part = found[c.skip:c.skip + c.take]
    return 200, {}, {'rows': [view(res, r, c.user, c.version) for r in part], 'all': len(part) if bug('e-total') else len(found), 'more': c.skip + len(part) < len(found)}
# parameters of lists: how one is read, and which field it looks at
def any_text(c, v): return v
def fits(res, field, split=False):
    def read(c, v):
        out = []
        for one in v.split(',') if split else [v]:
            if (res, field) == ('loan', 'care') and c.version == 'e3': one = {'usual': 'standard', 'standard': '\0'}.get(one, one)
            states = {('loan', 'status'): LOAN_STATES, ('sheet', 'condition'): ['sound', 'mending', 'withdrawn']}.get((res, field))
            if one not in states if states else FIELDS[res][field].check(one): raise ValueError
            out.append(one)
        if len(out) > 100: raise ValueError
        return out[:1] if bug('e-split') else out
    return dict(res=res, field=field, read=read)
def a_number(c, v):
    if not re.fullmatch(r'-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?', v, re.ASCII) or not math.isfinite(float(v)): raise ValueError
    return float(v)
def a_whole(c, v):
    if not re.fullmatch(r'-?(0|[1-9][0-9]{0,17})', v, re.ASCII): raise ValueError
    return int(v)
def a_date(c, v):
    if real_date(v): raise ValueError
    return v
def a_time(c, v):
    t = instant(v)
    if t is None: raise ValueError
    return t
def among(*values):
    def read(c, v):
        if v not in values: raise ValueError
        return v
    return dict(read=read)
# ---------------------------------------------------------------- the operations
@route('GET', '/house', 'house rules')
def house(c): return 200, {}, {'opens': '08:30', 'closes': '16:45', 'max_weeks': 26}
@route('POST', '/sheets', 'create sheet', 'sheet')
def create_sheet(c):
    new = take_in(c, 'sheet')
    if new['barcode'] in rows['sheet']: raise Refused('exists')
    new['condition'] = 'sound'
    keep('sheet', new)
    return made(c, 'sheet', new, '/sheets/' + quote(new['barcode']))
@route('GET', '/sheets', 'list sheet', params={
    'cabinet': fits('sheet', 'cabinet'), 'condition': fits('sheet', 'condition'), 'mount': fits('sheet', 'mount', True),
    'taller': dict(res='sheet', field='height_cm', read=a_number), 'collected_before': dict(res='sheet', field='collected_on', read=a_date),
    'taxon_has': dict(res='sheet', field='taxon', read=any_text), 'worth': dict(res='sheet', field='value_eur', read=a_whole),
    'arrange': among('name', '-name', 'place', '-place', 'height', '-height'), 'way': among('asc', 'desc')})
def list_sheet(c):
    q, found = c.q, []
    for r in rows['sheet'].values():
        if not may_read(c.user, c.id, 'sheet', r) and not bug('a-list'): continue
        if 'cabinet' in q and r['cabinet'] not in q['cabinet'] and not (bug('n-filter') and c.version == 'e3'): continue
        if 'condition' in q and r['condition'] not in q['condition'] or 'mount' in q and r['mount'] not in q['mount']: continue
        if 'taller' in q and (r['height_cm'] <= q['taller'] if bug('e-taller') else r['height_cm'] < q['taller']): continue
        if 'collected_before' in q:
            d, b = r.get('collected_on'), q['collected_before']
            if d is None or (d > b if bug('e-before') else d >= b): continue
        if 'taxon_has' in q and q['taxon_has'] not in r['taxon'] or 'worth' in q and r.get('value_eur', -1) < q['worth']: continue
        found.append(r)
    by = q.get('arrange', 'name')
    down = by.startswith('-') != (q.get('way') == 'desc' and not bug('e-way'))
    field = {'name': 'taxon', 'place': 'cabinet', 'height': 'height_cm'}[by.lstrip('-')]
    found.sort(key=lambda r: r['_made'])
    found.sort(key=lambda r: r[field], reverse=down)
    return page(c, 'sheet', found)
def tag_of(c, row):
    body = json.dumps(view('sheet', row, c.user, c.version), sort_keys=True)
    return '"' + hashlib.sha256((c.version + body).encode()).hexdigest()[:20] + '"'
@route('GET', '/sheets/{barcode}', 'read sheet')
def read_sheet(c):
    row = sheet_at(c, c.at['barcode'])
    tag, asked = tag_of(c, row), ','.join(c.headers.get('if-none-match', []))
    fields = {'ETag': tag, 'Cache-Control': 'private, max-age=20'}
    if asked and not bug('e-304') and (asked.strip() == '*' or tag in [t.strip().removeprefix('W/') for t in asked.split(',')]): return 304, fields, None
    return 200, fields, view('sheet', row, c.user, c.version)
@route('PATCH', '/sheets/{barcode}', 'update sheet', 'sheet')
def update_sheet(c):
    row = sheet_at(c, c.at['barcode'])
    match = ','.join(c.headers.get('if-match', []))
    if not match.strip(): raise Refused('tag_wanted')
    if match.strip() != '*' and tag_of(c, row) not in [t.strip() for t in match.split(',')]: raise Refused('tag_stale')
    new = take_in(c, 'sheet', row)
    if new == row: return shown(c, 'sheet', row)
    was = row['cabinet']
    row.clear()
    row.update(new)
    if was != row['cabinet'] or bug('v-moved'):
        emit('sheet.moved', 'sheet', row, {'sheet': row['barcode'], 'from': was, 'to': row['cabinet']}, lambda user: user == 'curator' or bug('v-movedall'))
    return shown(c, 'sheet', row)
@route('DELETE', '/sheets/{barcode}', 'delete sheet')
def delete_sheet(c):
    row = sheet_at(c, c.at['barcode'])
    if row['condition'] != 'withdrawn': raise Refused('wrong_state')
    if any(l['sheet'] == row['barcode'] for l in rows['loan'].values()): raise Refused('held')
    del rows['sheet'][row['barcode']]
    for k in [k for k, s in rows['slip'].items() if s['sheet'] == row['barcode']]: del rows['slip'][k]
    return 204, {}, None
def sheet_move(does, sources, target):
    @route('POST', '/sheets/{barcode}/' + does, does + ' sheet')
    def act(c):
        row = sheet_at(c, c.at['barcode'])
        if row['condition'] not in sources: raise Refused('wrong_state')
        if does == 'withdraw' and reckon_out(row) and not bug('s-withdraw'): raise Refused('sheet_is_out')
        move(row, 'condition', target)
        return shown(c, 'sheet', row)
sheet_move('mend', ['sound'], 'mending')
sheet_move('shelve', ['mending'], 'sound')
sheet_move('withdraw', ['sound', 'mending'], 'withdrawn')
@route('POST', '/sheets/{sheet}/slips', 'create slip', 'slip')
def create_slip(c):
    sheet = sheet_at(c, c.at['sheet'])
    new = take_in(c, 'slip', fixed={'sheet': sheet['barcode']})
    same = [s for s in rows['slip'].values() if s['sheet'] == sheet['barcode'] and s['opinion'] == new['opinion']]
    if any(s['author'] == c.id or bug('r-unique') for s in same): raise Refused('exists')
    t, shift = now(), 0 if bug('l-zone') else 5 * HOUR + 30 * MINUTE  # Asia/Kolkata has no summer time
    day = (t + shift) // DAY
    slot = (c.user, c.id, day)
    if quota_used.get(slot, 0) >= 40: raise Refused('used_up', **{'Retry-After': str(max(1, -(-((day + 1) * DAY - shift - t) // 1000)))})
    quota_used[slot] = quota_used.get(slot, 0) + 1
    counted = ('serial', None if bug('r-serial') else sheet['barcode'])
    counters[counted] = counters.get(counted, 0) + 1
    new.update(id=str(uuid.uuid4()), serial=counters[counted], author=c.id, written_at=iso(t))
    keep('slip', new)
    if new['certainty'] > 0.5 or new['certainty'] == 0.5 and not bug('v-half'): emit('slip.written', 'slip', new)
    return made(c, 'slip', new, f"/sheets/{quote(sheet['barcode'])}/slips/{new['id']}")
@route('GET', '/sheets/{sheet}/slips', 'list slip', params={
    'author': dict(res='slip', field='author', read=any_text), 'sure': dict(res='slip', field='certainty', read=a_number)})
def list_slip(c):
    sheet = sheet_at(c, c.at['sheet'])
    found = [s for s in rows['slip'].values() if s['sheet'] == sheet['barcode'] and s['author'] == c.q.get('author', s['author'])
             and s['certainty'] >= c.q.get('sure', 0)]
    found.sort(key=lambda s: s['_made'], reverse=not bug('e-ties'))
    found.sort(key=lambda s: -s['certainty'])
    return page(c, 'slip', found)
def slip_at(c):
    sheet, row = sheet_at(c, c.at['sheet']), rows['slip'].get(c.at['id'])
    if row is None or row['sheet'] != sheet['barcode']: raise Refused('not_found')
    return row
@route('GET', '/sheets/{sheet}/slips/{id}', 'read slip')
def read_slip(c): return shown(c, 'slip', slip_at(c))
@route('DELETE', '/sheets/{sheet}/slips/{id}', 'delete slip')
def delete_slip(c):
    row = slip_at(c)
    if c.user == 'botanist' and row['author'] != c.id and not bug('a-slip'): raise Refused('not_yours')
    del rows['slip'][row['id']]
    return 204, {}, None
def courier(new):
    if new['care'] == 'courier' and new['weeks'] > 8: raise Refused('courier_too_long')
@route('POST', '/loans', 'create loan', 'loan')
def create_loan(c):
    new = take_in(c, 'loan')
    courier(new)
    if rows['sheet'][new['sheet']]['condition'] == 'withdrawn': raise Refused('sheet_withdrawn')
    held = [s for s in HELD_STATES if not (bug('l-rows') and s == 'granted')]
    if sum(1 for l in rows['loan'].values() if l['borrower'] == c.id and l['status'] in held) >= 25: raise Refused('used_up')
    counters['loan'] += 1
    new.update(number=counters['loan'], borrower=c.id, _fell=set(), _told=set())
    move(new, 'status', 'asked')
    keep('loan', new)
    emit('loan.asked', 'loan', new)
    return made(c, 'loan', new, f"/loans/{new['number']}")
@route('GET', '/loans', 'list loan', params={
    'status': fits('loan', 'status', True), 'borrower': dict(res='loan', field='borrower', read=any_text), 'care': fits('loan', 'care'),
    'long': dict(res='loan', field='weeks', read=a_whole), 'due_by': dict(res='loan', field='due_at', read=a_time)})
def list_loan(c):
    q, found = c.q, []
    for r in rows['loan'].values():
        if not may_read(c.user, c.id, 'loan', r) or 'status' in q and r['status'] not in q['status'] or r['borrower'] != q.get('borrower', r['borrower']): continue
        if 'care' in q and r['care'] not in q['care'] or r['weeks'] < q.get('long', 0) or 'due_by' in q and not ('due_at' in r and r['_due'] <= q['due_by']):
            continue
        found.append(r)
    found.sort(key=lambda r: -r['number'])
    return page(c, 'loan', found)
@route('GET', '/loans/{number}', 'read loan')
def read_loan(c): return shown(c, 'loan', loan_at(c))
@route('PATCH', '/loans/{number}', 'update loan', 'loan')
def update_loan(c):
    row = loan_at(c)
    new = take_in(c, 'loan', row)
    if row['status'] not in (('asked', 'granted') if bug('s-update') else ('asked',)): raise Refused('wrong_state')
    courier(new)
    row.update(new)
    for k in [k for k in row if k not in new]: del row[k]
    return shown(c, 'loan', row)
def due(row, at):
    row['_due'], row['due_at'] = at, iso(at)
    row.setdefault('_first_due', at)
@route('POST', '/loans/{number}/grant', 'grant loan')
def grant(c):
    row = loan_at(c)
    sheet = rows['sheet'][row['sheet']]
    if row['status'] != 'asked': raise Refused('wrong_state')
    if sheet['condition'] != 'sound' and not bug('s-grant') or reckon_out(sheet): raise Refused('sheet_not_free')
    move(row, 'status', 'granted')
    emit('loan.granted', 'loan', row)
    return shown(c, 'loan', row)
@route('POST', '/loans/{number}/decline', 'decline loan', 'reason')
def decline(c):
    row = loan_at(c)
    if not isinstance(c.json, dict): raise Refused('field_wrong', [wrong('', 'a map')])
    if 'reason' not in c.json: raise Refused('field_wrong' if bug('x-missing') else 'field_missing', [wrong('/reason', 'a value')])
    said = text(2, 80)(c.json['reason'])
    if said: raise Refused('field_wrong', [wrong('/reason', said[2], c.json['reason'])])
    if row['status'] != 'asked': raise Refused('wrong_state')
    row['desk_note'] = c.json['reason']
    move(row, 'status', 'declined')
    emit('loan.closed', 'loan', row)
    return shown(c, 'loan', row)
@route('POST', '/loans/{number}/dispatch', 'dispatch loan')
def dispatch(c):
    row = loan_at(c)
    if row['status'] != 'granted': raise Refused('wrong_state')
    due(row, now() + row['weeks'] * 7 * DAY)
    move(row, 'status', 'out')
    emit('loan.sent', 'loan', row, {'loan': row['number'], 'sheet': row['sheet'], 'weeks': row['weeks']})
    return shown(c, 'loan', row)
@route('POST', '/loans/{number}/receive', 'receive loan')
def receive(c):
    row = loan_at(c)
    if row['status'] not in (('out',) if bug('s-receive') else ('out', 'overdue')): raise Refused('wrong_state')
    move(row, 'status', 'back')
    emit('loan.closed', 'loan', row)
    return shown(c, 'loan', row)
@route('POST', '/loans/{number}/call-off', 'call_off loan')
def call_off(c):
    row = loan_at(c)
    if row['status'] not in (('asked', 'granted', 'out') if bug('s-calloff') else ('asked', 'granted')): raise Refused('past_calling_off')
    move(row, 'status', 'called_off')
    emit('loan.closed', 'loan', row)
    return shown(c, 'loan', row)
@route('POST', '/loans/{number}/prolong', 'prolong loan')
def prolong(c):
    row = loan_at(c)
    if row['status'] != 'out': raise Refused('wrong_state')
    if row['prolonged'] and not bug('s-prolong'): raise Refused('prolonged_before')
    row['prolonged'] = True
    due(row, row['_due'] + 672 * HOUR)
    move(row, 'status', 'out')
    return shown(c, 'loan', row)
@route('POST', '/hooks', 'create hook', 'hook')
def create_hook(c):
    new = take_in(c, 'hook')
    if sum(1 for h in rows['hook'].values() if h['owner'] == c.id) >= 6: raise Refused('used_up')
    letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
    new.update(id='hk_' + secrets.token_hex(8), owner=c.id, secret='seal_' + ''.join(secrets.choice(letters) for _ in range(32)),
               _maker=(c.user, c.id), _version=c.version, _hold=0, _failing=None)
    keep('hook', new)
    return made(c, 'hook', new, '/hooks/' + new['id'])
@route('GET', '/hooks', 'list hook')
def list_hook(c):
    found = sorted((h for h in rows['hook'].values() if may_read(c.user, c.id, 'hook', h)), key=lambda h: h['_made'])
    return 200, {}, [view('hook', h, c.user, c.version) for h in found]
@route('GET', '/hooks/{id}', 'read hook')
def read_hook(c): return shown(c, 'hook', hook_at(c))
@route('DELETE', '/hooks/{id}', 'delete hook')
def delete_hook(c):
    row = hook_at(c)
    del rows['hook'][row['id']]
    for d in deliveries:
        if d['hook'] is row: d['done'] = True
    return 204, {}, None
# ---------------------------------------------------------------- HTTP
class Slow(Exception):
    pass
class Wire(io.RawIOBase):
    """Reads of a connection until a deadline."""
    def __init__(self, sock): self.sock, self.deadline = sock, None
    def readable(self): return True
    def readinto(self, b):
        try:
            self.sock.settimeout(max(0.001, self.deadline - time.monotonic()))
            return self.sock.recv_into(b)
        except (TimeoutError, socket.timeout): raise Slow
class Door(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def setup(self):
        super().setup()
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.wire = Wire(self.request)
        self.rfile = io.BufferedReader(self.wire)
    def handle(self):
        self.close_connection = False
        try:
            while not self.close_connection: self.one()
        except (OSError, ValueError, Slow): pass
    def one(self):
        c = Call()
        c.trace, c.out, c.headers, c.json, c.body, c.too_large = 'rq-' + secrets.token_hex(8), {}, {}, None, b'', False
        c.address, c.method, c.target, c.version = self.client_address[0], 'GET', '/', None
        self.wire.deadline = time.monotonic() + 30
        if not self.rfile.peek(1):
            self.close_connection = True
            return
        self.wire.deadline = time.monotonic() + 8
        try: early = self.receive(c)
        except Slow: early = Refused('too_slow')
        if early:
            self.close_connection = True
            return self.refuse(c, early)
        with lock:
            try:
                run_due()
                answer, refusal = process(c), None
            except Refused as r: answer, refusal = None, r
            except Exception as e:
                print('broken:', repr(e), file=sys.stderr, flush=True)
                answer, refusal = None, Refused('broken')
            run_due()
            wake.notify_all()
        if refusal: return self.refuse(c, refusal)
        self.answer(c, *answer)
    def receive(self, c):
        line = self.rfile.readline(1 << 20).rstrip(b'\r\n').decode('latin-1')
        parts = line.split(' ')
        if len(parts) != 3 or not parts[2].startswith('HTTP/1.'): return Refused('body_garbled')
        c.method, c.target = parts[0], parts[1]
        size = 0
        while True:
            raw = self.rfile.readline(1 << 20).rstrip(b'\r\n')
            if not raw: break
            name, sep, value = raw.decode('latin-1').partition(':')
            value = value.strip()
            size += len(name) + len(value) + 4
            if not sep or not re.fullmatch(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", name): return Refused('body_garbled')
            c.headers.setdefault(name.lower(), []).append(value)
        if c.target.startswith('http://') or c.target.startswith('https://'):
            u = urlsplit(c.target)
            c.target = (u.path or '/') + ('?' + u.query if u.query else '')
        c.path, _, c.query = c.target.partition('?')
        said = c.headers.get('desk-edition', ['e3'])[0]
        if said in ('e3', 'e4'): c.out['Desk-Edition'] = said
        if len(c.target) > URL_MAX: return Refused('url_too_long')
        if size > HEADERS_MAX: return Refused('headers_too_large')
        if c.headers.get('expect', [''])[0].lower() == '100-continue': self.wfile.write(b'HTTP/1.1 100 Continue\r\n\r\n')
        if parts[2] == 'HTTP/1.0' or 'close' in c.headers.get('connection', [''])[0].lower(): self.close_connection = True
        kept = bytearray()
        def drain(n):
            while n:
                piece = self.rfile.read(min(n, 65536))
                if not piece: raise OSError('gone')
                n -= len(piece)
                if len(kept) <= BODY_MAX: kept.extend(piece)
        if 'chunked' in c.headers.get('transfer-encoding', [''])[0].lower():
            total = 0
            while True:
                n = re.match(rb'[0-9A-Fa-f]+', self.rfile.readline(1024))
                if not n: return Refused('body_garbled')
                n = int(n[0], 16)
                total += n
                if total > 16 << 20: return Refused('too_large')
                drain(n)
                if not n:
                    while self.rfile.readline(65536).strip(): pass
                    break
                self.rfile.readline(8)
        else:
            n = c.headers.get('content-length', ['0'])[0]
            if not re.fullmatch(r'[0-9]{1,15}', n, re.ASCII): return Refused('body_garbled')
            if int(n) > 16 << 20: return Refused('too_large')
            drain(int(n))
        c.too_large, c.body = len(kept) > BODY_MAX, bytes(kept)
    def refuse(self, c, r):
        status, message = CODES[r.code]
        fault = {'code': r.code, 'note': message, 'trace': c.trace}
        if r.wrong and not bug('x-wrong'): fault['wrong'] = r.wrong
        self.answer(c, status, {'Desk-Fault': r.code, **r.headers}, {'fault': fault}, True)
    def answer(self, c, status, fields, body, refused=False):
        data = b'' if body is None else json.dumps(body, ensure_ascii=False).encode()
        fields = {'X-Trace': c.trace, 'Vary': 'Desk-Edition, X-Reader-Card, Authorization', **c.out, **fields}
        if refused and bug('e-trace'): del fields['X-Trace']
        if body is not None: fields['Content-Type'] = 'application/json'
        if status not in (204, 304): fields['Content-Length'] = str(len(data))
        if self.close_connection: fields['Connection'] = 'close'
        fields['Date'] = time.strftime('%a, %d %b %Y %H:%M:%S GMT', time.gmtime(now() // 1000))
        head = f'HTTP/1.1 {status} {http.client.responses.get(status, "Answer")}\r\n' + ''.join(f'{k}: {v}\r\n' for k, v in fields.items()) + '\r\n'
        self.request.settimeout(60)
        self.wfile.write(head.encode('latin-1', 'replace') + (b'' if c.method == 'HEAD' else data))
        self.wfile.flush()
class ClockDoor(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *_): pass
    def tell(self, status, body=None):
        data = json.dumps(body or {'now': iso(now())}).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def do_GET(self): self.tell(200)
    def do_POST(self):
        global offset
        try:
            sent = json.loads(self.rfile.read(int(self.headers.get('Content-Length') or 0)))
            (word, value), = sent.items()
            with lock:
                t = now()
                goal = {'advance': lambda: later(t, value), 'now': lambda: instant(value)}[word]()
                if goal is None: raise ValueError
                if goal < t: return self.tell(422, {'error': 'that time has passed'})
                offset += goal - t
                run_due()
                wake.notify_all()
        except Exception: return self.tell(400, {'error': 'advance or now'})
        self.tell(200)
    def other(self): self.tell(400, {'error': 'GET or POST'})
    do_PUT = do_DELETE = do_PATCH = other
class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
if __name__ == '__main__':
    doors = [Server(('127.0.0.1', PORT), Door), Server(('127.0.0.1', CLOCK_PORT), ClockDoor)]
    for door in doors[1:]: threading.Thread(target=door.serve_forever, daemon=True).start()
    threading.Thread(target=scheduler, daemon=True).start()
    print(f'listening on 127.0.0.1:{PORT}, clock on {CLOCK_PORT}', flush=True)
    doors[0].serve_forever()
