"""Herbarium: numbered sheets of pressed plants, from the field press to the shelf. One asyncio loop, nothing but the standard library."""
import argparse, asyncio, calendar, hashlib, hmac, json, re, secrets, string, time
from collections import defaultdict, deque
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from http import HTTPStatus
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

ARGS = argparse.ArgumentParser()
for _name, _default in (('--port', 4800), ('--clock-port', 0), ('--fault', '')):
    ARGS.add_argument(_name, type=type(_default), default=_default)
ARGS = ARGS.parse_args()

def F(name):                       # a switch for one planted fault
    return ARGS.fault == name

PREFIX = '/herb'
KEYS = {                           # credential -> (user, id, still good)
    'hk_rowan7Qe2LmXa9Tz': ('collector', 'c1', True),
    'hk_sorrel4Vb8NpYc3U': ('collector', 'c2', True),
    'hk_thyme6Wd1KrZs5Ho': ('curator', 'k1', True),
    'hk_umbel9Xf3JtAg7Iq': ('collector', 'c3', False),
}
HOUR, DAY, UTC = 3_600_000, 86_400_000, timezone.utc

# ---------------------------------------------------------------- the clock
class Clock:
    def __init__(self):
        self.base, self.mark = int(time.time() * 1000), time.monotonic()

    def now(self):
        return self.base + int((time.monotonic() - self.mark) * 1000)

    def to(self, ms):
        if ms > self.now():
            self.base, self.mark = ms, time.monotonic()

CLOCK = Clock()

def iso(ms):
    return datetime.fromtimestamp(ms // 1000, UTC).strftime('%Y-%m-%dT%H:%M:%S') + '.%03dZ' % (ms % 1000)

def ms_of(text):
    at = datetime.fromisoformat(text.replace('Z', '+00:00').replace('z', '+00:00'))
    if at.tzinfo is None:
        raise ValueError('no zone')
    return round((at - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))

DURATION = re.compile(r'P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?')

def plus(ms, text):
    m = DURATION.fullmatch(text)
    if not m:
        raise ValueError(text)
    y, mo, w, d, h, mi = (int(g or 0) for g in m.groups()[:6])
    if y or mo:
        at = datetime.fromtimestamp(ms // 1000, UTC)
        total = at.year * 12 + at.month - 1 + y * 12 + mo
        year, month = total // 12, total % 12 + 1
        at = at.replace(year=year, month=month, day=min(at.day, calendar.monthrange(year, month)[1]))
        ms = int(at.timestamp()) * 1000 + ms % 1000
    return ms + (w * 7 + d) * DAY + h * HOUR + mi * 60_000 + round(float(m[7] or 0) * 1000)

# ---------------------------------------------------------------- refusals
CODES = {
    'unreadable': (400, 'The body cannot be read.'), 'not_json': (415, 'Send application/json.'),
    'only_json': (406, 'Answers are application/json.'), 'bad_query': (400, 'A query parameter is wrong.'),
    'bad_page': (400, 'There is no such page.'), 'misfit': (422, 'The body does not fit.'),
    'no_such_path': (404, 'There is no such path.'), 'no_such_verb': (405, 'The path does not take this method.'),
    'who_are_you': (401, 'Show a good key.'), 'not_for_you': (403, 'This is not for you.'),
    'not_here': (404, 'It is not here.'), 'taken': (409, 'That is taken.'), 'dangling': (422, 'It refers to nothing.'),
    'in_use': (409, 'Something still refers to it.'), 'wrong_stage': (409, 'Not in this stage.'),
    'too_late': (410, 'It can no longer be withdrawn.'), 'unplaced': (409, 'Place it in a family first.'),
    'drawer_sealed': (423, 'The drawer is sealed.'), 'stale': (412, 'It has changed since.'),
    'say_which': (428, 'Send If-Match.'), 'key_reused': (422, 'The key was used for something else.'),
    'slow_down': (429, 'Too many requests.'), 'days_fill': (429, 'No more sheets today.'),
    'too_big': (413, 'Too big.'), 'edition': (400, 'There is no such edition.'),
    'edition_gone': (410, 'That edition is gone.'), 'broken': (500, 'Something broke.'), 'closed': (503, 'Closed.'),
}

class Answer:
    def __init__(self, status, body=None, headers=None):
        self.status, self.body, self.headers = status, body, headers or {}

class Refusal(Exception):
    def __init__(self, code, *places, headers=None):
        self.code, self.places, self.headers = code, list(places), headers or {}

    def answer(self, op=None):
        status, words = CODES[self.code]
        if F('sealed-409-on-update') and self.code == 'drawer_sealed' and op == 'update sheet':
            status = 409
        said = {'refusal': self.code, 'words': words, 'http': status, 'places': self.places}
        if F('http-says-400') and self.code in ('taken', 'in_use'):
            said['http'] = 400
        if F('no-places-at-401') and self.code == 'who_are_you':
            del said['places']
        return Answer(status, said, dict(self.headers))

# ---------------------------------------------------------------- shapes
def text(lo=0, hi=None, pattern=None, allowed=None):
    def fits(v):
        if not isinstance(v, str):
            return False
        size = len(v.encode()) if F('label-in-bytes') else len(v)
        return (size >= lo and (hi is None or size <= hi) and (pattern is None or re.fullmatch(pattern, v, re.ASCII) is not None)
                and (allowed is None or v in allowed))
    return fits

def whole(lo=None, hi=None):
    def fits(v):
        if isinstance(v, bool) or not isinstance(v, (int, float)) or v - v != 0 or int(v) != v:
            return False
        return (lo is None or v >= lo) and (hi is None or v <= hi)
    return fits

def a_list(most=None):
    return lambda v: isinstance(v, list) and (most is None or len(v) <= most)

URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+")

def uri(v):
    return isinstance(v, str) and len(v) <= 300 and URI.fullmatch(v) is not None

FAMILIES = ['Asteraceae', 'Fabaceae', 'Poaceae', 'Rosaceae']
STAGES = ['fresh', 'freezing', 'cleared', 'mounted', 'withdrawn']
KINDS = ['sheet.logged', 'sheet.refiled', 'sheet.moved', 'sheet.removed', 'determination.made']
SELECTORS = KINDS + ['sheet.*', 'determination.*', '*']

class Field:
    def __init__(self, fits=None, required=False, default=None, ro=False, wo=False, immutable=False, hidden=False, visible=None, once=False, item=None):
        self.fits, self.required, self.default, self.ro, self.wo = fits, required, default, ro, wo
        self.immutable, self.hidden, self.visible, self.once, self.item = immutable, hidden, visible, once, item

SHAPES = {
    'drawer': {
        'code': Field(text(pattern='[A-Z]{3}-[0-9]{2}'), True), 'title': Field(text(1, 40), True),
        'sealed': Field(lambda v: isinstance(v, bool), True, default=False), 'hint': Field(text(0, 80)),
    },
    'sheet': {
        'no': Field(ro=True), 'label': Field(text(3, 60), True),
        'field_no': Field(text(pattern='[A-Z]{1,3}-[0-9]{1,4}'), True, immutable=True),
        'family': Field(text(allowed=FAMILIES)), 'origin': Field(text(allowed=['wild', 'cultivated']), True, default='wild'),
        'altitude_m': Field(whole(-50, 5999 if F('altitude-edge') else 6000)),
        'keywords': Field(a_list(4), item=text(1, 20)), 'drawer': Field(text()), 'spot': Field(text(0, 60), wo=True),
        'stage': Field(ro=True), 'shelf': Field(ro=True), 'appraisal': Field(ro=True, visible='curator'),
        'made_by': Field(ro=True, hidden=True), 'logged_at': Field(ro=True), 'touched_at': Field(ro=True),
    },
    'determination': {
        'id': Field(ro=True), 'sheet': Field(whole()), 'taxon': Field(text(3, 80), True),
        'sure': Field(text(allowed=['low', 'fair', 'firm']), True, default='fair'), 'by': Field(ro=True), 'said_at': Field(ro=True),
    },
    'hook': {
        'id': Field(ro=True), 'url': Field(uri, True), 'secret': Field(ro=True, once=True),
        'events': Field(a_list(), item=text(allowed=SELECTORS)), 'enabled': Field(lambda v: isinstance(v, bool), True, default=True), 'keeper': Field(ro=True, hidden=True),
    },
}
OLD = {'elev': 'altitude_m'}       # what edition 2025 called the fields of a sheet
NEW = {new: old for old, new in OLD.items()}

def inward(res, name, ed):         # the name that a field has today, or None
    if res == 'sheet' and ed == '2025':
        return None if name in NEW or name == 'origin' else OLD.get(name, name)
    return name

def outward(res, name, ed):
    return NEW.get(name, name) if res == 'sheet' and ed == '2025' else name

def pointer(name):
    return '/' + name.replace('~', '~0').replace('/', '~1')

def take(res, body, mode, ed):
    """What a body says of a resource, in today's names; a None takes a field away."""
    if not isinstance(body, dict):
        raise Refusal('misfit', '')
    shape, said, bad = SHAPES[res], {}, []
    for key, value in body.items():
        name = inward(res, key, ed)
        field = shape.get(name)
        if field is None:
            if not (F('extra-on-replace') and mode == 'replace'):
                bad.append(pointer(key))
        elif field.ro:
            continue
        elif value is None:
            if mode == 'update' and not field.required:
                if not (F('family-stays') and name == 'family'):
                    said[name] = None
            else:
                bad.append(pointer(key))
        elif F('keywords-on-update') and mode == 'update' and name == 'keywords' and isinstance(value, list):
            said[name] = value
        elif not field.fits(value):
            bad.append(pointer(key))
        elif field.item and not all(map(field.item, value)):
            bad += [pointer(key) + '/%d' % i for i, v in enumerate(value) if not field.item(v)]
        else:
            said[name] = int(value) if isinstance(value, float) else value
    if mode != 'update':
        for name, field in shape.items():
            if field.default is not None:
                said.setdefault(name, field.default)
            elif field.required and not field.ro and name not in said and pointer(outward(res, name, ed)) not in bad:
                bad.append(pointer(outward(res, name, ed)))
    if bad:
        raise Refusal('misfit', *bad)
    return said

def show(res, row, ed, user, first=False, where=''):
    """A row as this user sees it in this edition."""
    seen = {}
    for name, field in SHAPES[res].items():
        if name not in row or (field.once and not first):
            continue
        if field.hidden and not (F('owner-in-list') and where == 'list' and name == 'made_by'):
            continue
        if field.wo and not (F('spot-after-update') and where == 'update') and not (F('spot-in-event') and where == 'event'):
            continue
        if field.visible and field.visible != user and not (F('appraisal-in-list') and where == 'list'):
            continue
        if res == 'sheet' and ed == '2025' and name == 'origin':
            continue
        seen[name if F('old-list-new-name') and where == 'list' else outward(res, name, ed)] = row[name]
    return seen

# ---------------------------------------------------------------- what is kept
ROWS = {res: {} for res in SHAPES}
NEXT = {'sheet': 1, 'hook': 1, 'event': 1}
KEPT = {}                          # idempotency: (caller, operation, key) -> (fingerprint, answer, until)
SPENT = defaultdict(int)           # quota: (caller, day) -> sheets made
CALLS = defaultdict(deque)         # rates: (which, caller) -> when
QUEUES = {}                        # deliveries: (hook, resource, id) -> waiting, in order

def number(what):
    NEXT[what] += 1
    return NEXT[what] - 1

def code(n=8):
    if F('short-codes') and len(ROWS['determination']) % 3 == 2:
        n -= 1
    return 'det-' + ''.join(secrets.choice(string.ascii_letters + string.digits) for _ in range(n))

def may_read(user, cid, res, row):
    if user == 'curator' or res == 'drawer':
        return res != 'hook' or row['keeper'] == cid
    if res == 'sheet':
        return row['made_by'] == cid
    if res == 'determination':
        return ROWS['sheet'][row['sheet']]['made_by'] == cid
    return row['keeper'] == cid

# ---------------------------------------------------------------- events
def emit(kind, res, row, tell):
    """Records an event for every hook whose keeper may read the row; `tell(hook)` is its payload."""
    at, eid = CLOCK.now(), 'ev-%d' % number('event')
    key = row['no'] if res == 'sheet' else row['id']
    for hook in ROWS['hook'].values():
        wanted = hook.get('events')
        if wanted is not None and not ('*' in wanted or kind in wanted or kind.split('.')[0] + '.*' in wanted):
            if not (F('star-takes-all') and 'sheet.*' in wanted):
                continue
        if not hook['enabled']:
            continue
        if not may_read(hook['_user'], hook['keeper'], res, row) and not (F('foreign-determinations') and res == 'determination'):
            continue
        said = {'ref': eid, 'what': kind, 'when': iso(at), 'content': tell(hook)}
        queue = QUEUES.setdefault((hook['id'], res, key), deque())
        queue.append({'id': eid, 'kind': kind, 'said': said, 'tries': 0, 'due': at, 'busy': False})
    WAKE.set()

def edition_of(hook):
    return '2026' if F('hook-not-pinned') else hook['_edition']

def tell_sheet(row):
    row = dict(row)
    return lambda hook: show('sheet', row, edition_of(hook), hook['_user'], where='event')

def moved(before, row):
    was = row['stage'] if F('was-is-now') and row['stage'] == 'mounted' else before['stage']
    emit('sheet.moved', 'sheet', row, lambda hook: {'no': row['no'], 'was': was, 'stage': row['stage']})

WAITS = [10_000, 120_000, 1_200_000]

async def post(url, body, headers):
    parts = urlsplit(url)
    tls = parts.scheme == 'https'
    if parts.scheme not in ('http', 'https') or not parts.hostname:
        return False
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port or (443 if tls else 80), ssl=tls or None)
    try:
        target = (parts.path or '/') + ('?' + parts.query if parts.query else '')
        head = [f'POST {target} HTTP/1.1', f'Host: {parts.netloc.rpartition("@")[2]}', 'Content-Type: application/json',
                f'Content-Length: {len(body)}', 'Connection: close'] + [f'{k}: {v}' for k, v in headers.items()]
        writer.write('\r\n'.join(head).encode() + b'\r\n\r\n' + body)
        await writer.drain()
        line = await reader.readline()
        return re.match(rb'HTTP/1\.\d 2\d\d\b', line) is not None
    finally:
        writer.close()

async def attempt(place, queue):
    item, hook = queue[0], ROWS['hook'].get(place[0])
    if hook is None:
        QUEUES.pop(place, None)
        return
    item['busy'] = True
    if F('new-id-on-retry') and item['tries']:
        item['id'] = item['said']['ref'] = 'ev-%d' % number('event')
    body = json.dumps(item['said'], ensure_ascii=False).encode()
    stamp = str(CLOCK.now() // 1000)
    signed = json.dumps(item['said']).encode() if F('seal-of-ascii') else body
    mac = hmac.new(hook['secret'].encode(), b'%s|%s|' % (item['id'].encode(), stamp.encode()) + signed, hashlib.sha256).hexdigest()
    headers = {'Herb-Seal': f'at={stamp};mac={mac}', 'Herb-Event': item['kind'], 'Herb-Delivery': item['id']}
    try:
        good = await asyncio.wait_for(post(hook['url'], body, headers), 5)
    except Exception:              # whatever goes wrong on the way is one failed try
        good = False
    item['tries'] += 1
    item['busy'] = False
    if good or item['tries'] > (2 if F('gives-up-early') else len(WAITS)):
        if queue and queue[0] is item:
            queue.popleft()
        if not queue:
            QUEUES.pop(place, None)
    else:
        item['due'] = CLOCK.now() + WAITS[item['tries'] - 1]
        if F('overtaking') and len(queue) > 1 and queue[1]['tries'] == 0:
            queue.rotate(-1)
    WAKE.set()

# ---------------------------------------------------------------- what falls due
WAKE = asyncio.Event()
TASKS = set()
CATCHING = asyncio.Lock()

def next_thaw():
    due = [(row['_thaw'], row['no']) for row in ROWS['sheet'].values() if row.get('_thaw')]
    return min(due, default=(None, None))

def thaw(no):
    row = ROWS['sheet'][no]
    before = dict(row)
    row['stage'], row['_thaw'] = 'cleared', None
    if not F('thaw-untouched'):
        row['touched_at'] = iso(CLOCK.now())
    if not F('silent-thaw'):
        moved(before, row)

def thaw_due():
    while True:
        due, no = next_thaw()
        if due is None or due > CLOCK.now():
            return
        thaw(no)

def start_due():
    """Starts every delivery that is due; answers when the next one will be."""
    later = None
    for place, queue in list(QUEUES.items()):
        if not queue or queue[0]['busy']:
            continue
        if queue[0]['due'] <= CLOCK.now():
            queue[0]['busy'] = True
            task = asyncio.ensure_future(attempt(place, queue))
            TASKS.add(task)
            task.add_done_callback(TASKS.discard)
        else:
            later = min(later or queue[0]['due'], queue[0]['due'])
    return later

async def move_to(target):
    async with CATCHING:
        while True:
            thaw_due()
            later = start_due()
            if TASKS:
                await asyncio.wait(TASKS)
                continue
            due = min([d for d in (later, next_thaw()[0]) if d is not None], default=None)
            if due is None or due > target:
                break
            CLOCK.to(due)
        CLOCK.to(target)
        thaw_due()
        start_due()

async def ticking():
    while True:
        WAKE.clear()
        if not CATCHING.locked():
            thaw_due()
            start_due()
        try:
            await asyncio.wait_for(WAKE.wait(), 0.05)
        except asyncio.TimeoutError:
            pass

# ---------------------------------------------------------------- routes
ROUTES = [
    ('GET', '/about', 'about'),
    ('POST', '/drawers', 'create drawer'), ('GET', '/drawers', 'list drawer'), ('GET', '/drawers/{code}', 'read drawer'),
    ('PUT', '/drawers/{code}', 'replace drawer'), ('DELETE', '/drawers/{code}', 'delete drawer'),
    ('POST', '/sheets', 'create sheet'), ('GET', '/sheets', 'list sheet'), ('GET', '/sheets/{no}', 'read sheet'),
    ('PATCH', '/sheets/{no}', 'update sheet'), ('DELETE', '/sheets/{no}', 'delete sheet'),
    ('POST', '/sheets/{no}/freeze', 'freeze sheet'), ('POST', '/sheets/{no}/refreeze', 'refreeze sheet'),
    ('POST', '/sheets/{no}/mount', 'mount sheet'), ('POST', '/sheets/{no}/withdraw', 'withdraw sheet'),
    ('POST', '/sheets/{sheet}/determinations', 'create determination'), ('GET', '/sheets/{sheet}/determinations', 'list determination'),
    ('GET', '/sheets/{sheet}/determinations/{id}', 'read determination'), ('DELETE', '/sheets/{sheet}/determinations/{id}', 'delete determination'),
    ('POST', '/hooks', 'create hook'), ('GET', '/hooks', 'list hook'), ('GET', '/hooks/{id}', 'read hook'), ('DELETE', '/hooks/{id}', 'delete hook'),
]
ROUTES = [(m, re.compile(re.sub(r'\{(\w+)\}', r'(?P<\1>[^/]+)', p)), op) for m, p, op in ROUTES]
COLLECTOR = {'create sheet', 'list sheet', 'read sheet', 'update sheet', 'delete sheet', 'freeze sheet', 'withdraw sheet'}
CURATOR = {'list sheet', 'read sheet', 'mount sheet', 'freeze sheet', 'refreeze sheet', 'update sheet', 'create drawer', 'replace drawer', 'delete drawer'}
BOTH = {'list drawer', 'read drawer', 'create hook', 'list hook', 'read hook', 'delete hook', 'create determination', 'list determination',
        'read determination', 'delete determination'}
RULES = {'collector': COLLECTOR | BOTH, 'curator': CURATOR | BOTH}
QUERY = {'list drawer': {'sealed', 'page', 'per'}, 'list sheet': {'family', 'stage', 'min_alt', 'begins', 'sort', 'skip', 'take'},
         'list determination': {'sure', 'skip', 'take'}}
BODIES = {'create drawer', 'replace drawer', 'create sheet', 'update sheet', 'mount sheet', 'create determination', 'create hook'}
GONE = ms_of('2027-12-31T00:00:00Z')
DEPRECATED = {'Deprecation': '@%d' % (ms_of('2026-02-01T00:00:00Z') // 1000),
              'Sunset': format_datetime(datetime(2027, 12, 31, tzinfo=UTC), usegmt=True),
              'Link': '<https://herbarium.example/editions>; rel="deprecation"'}

class Call:                        # one request on its way through
    def __init__(self, method, target, headers, body, peer):
        self.method, self.headers, self.raw, self.peer = method, headers, body, peer
        self.path, _, self.search = target.partition('?')
        self.op = self.ed = self.user = self.cid = self.body = None
        self.at, self.query, self.size = {}, {}, len(body)

def route(call):
    path = call.path
    if F('hooks-without-prefix') and re.fullmatch(r'/hooks/\d+', path):
        path = PREFIX + path
    elif F('hooks-without-prefix') and call.method == 'DELETE' and path.startswith(PREFIX + '/hooks/'):
        raise Refusal('no_such_path')
    if not path.startswith(PREFIX + '/'):
        raise Refusal('no_such_path')
    allowed = []
    for method, pattern, op in ROUTES:
        m = pattern.fullmatch(path[len(PREFIX):])
        if m:
            allowed.append(method)
            if method == call.method:
                call.op, call.at = op, {k: unquote(v) for k, v in m.groupdict().items()}
    if not allowed:
        raise Refusal('no_such_path')
    if call.op is None:
        raise Refusal('no_such_verb', headers={'Allow': ', '.join(allowed)})
    ed = call.headers.get('herb-edition', '2026')
    if ed not in ('2025', '2026'):
        if not F('unknown-edition-current'):
            raise Refusal('edition')
        ed = '2026'
    call.ed = ed
    if ed == '2025' and CLOCK.now() >= GONE and not F('never-sunset'):
        raise Refusal('edition_gone')

def whoami(call):
    if call.op == 'about':
        return
    key = call.headers.get('x-herb-key', '')
    known = KEYS.get(key)
    if F('keys-any-case') and known is None:
        known = next((v for k, v in KEYS.items() if k.lower() == key.lower()), None)
    if known is None or not (known[2] or (F('revoked-may-list') and call.op.startswith('list'))):
        raise Refusal('who_are_you', headers={'WWW-Authenticate': 'X-Herb-Key'})
    call.user, call.cid = known[:2]
    if F('old-edition-collector') and call.ed == '2025' and call.user == 'curator':
        call.user = 'collector'

def rate(call):
    now, who = CLOCK.now(), (call.user, call.cid) if call.cid else ('address', call.peer)
    if F('rate-per-user') and call.op == 'create determination':
        who = call.user
    counted = [(CALLS['all', who], 600)]
    if call.op == 'create determination':
        counted.append((CALLS['name', who], 30))
    for calls, limit in counted:
        if F('fixed-window') and limit == 30:
            while calls and calls[0] // 60_000 != now // 60_000:
                calls.popleft()
        while calls and calls[0] <= now - 60_000:
            calls.popleft()
        if len(calls) >= limit:
            raise Refusal('slow_down', headers={'Retry-After': str(max(1, -(-(calls[0] + 60_000 - now) // 1000)))})
    for calls, _ in counted:
        calls.append(now)

def no_constant(value):
    raise ValueError(value)

def readable(call):
    """Media types, size, body, parameters: all that can be said before anything is looked up."""
    accept = call.headers.get('accept')
    if accept is not None and not any(re.match(r'\s*(\*/\*|application/(\*|json))\s*(;(?!\s*q=0(\.0*)?\s*$).*)?$', part) for part in accept.split(',')):
        raise Refusal('only_json')
    media = call.headers.get('content-type', '').partition(';')[0].strip().lower()
    if call.op in BODIES and call.size and media != 'application/json' and (call.op, media) != ('update sheet', 'application/merge-patch+json'):
        raise Refusal('not_json')
    if call.size > 16_384 and not (F('chunked-any-size') and 'chunked' in call.headers.get('transfer-encoding', '')):
        raise Refusal('too_big')
    if call.op in BODIES:
        if not call.raw:
            raise Refusal('unreadable')
        try:
            call.body = json.loads(call.raw.decode('utf-8'), parse_constant=no_constant)
            json.dumps(call.body, ensure_ascii=False).encode()
        except UnicodeError as bug:
            raise Refusal('broken' if F('latin-breaks') and isinstance(bug, UnicodeDecodeError) else 'unreadable')
        except (ValueError, RecursionError):
            raise Refusal('unreadable')
    for name, value in parse_qsl(call.search, keep_blank_values=True):
        if name not in QUERY.get(call.op, ()) and not (F('naming-takes-any-query') and call.op == 'list determination'):
            raise Refusal('bad_query', name)
        if name in call.query:
            raise Refusal('bad_page' if name in ('skip', 'take', 'page', 'per') else 'bad_query', name)
        call.query[name] = value
    q = call.query
    for name, allowed in (('family', FAMILIES), ('stage', STAGES), ('sort', ['label', '-label', 'logged_at']), ('sure', ['low', 'fair', 'firm']),
                          ('sealed', ['true', 'false'])):
        if name in q and q[name] not in allowed:
            raise Refusal('bad_query', name)
    if 'min_alt' in q and not (re.fullmatch(r'-?\d{1,9}', q['min_alt'], re.ASCII) and -50 <= int(q['min_alt']) <= 6000):
        raise Refusal('bad_query', 'min_alt')
    if 'begins' in q and not 1 <= len(q['begins']) <= 60:
        raise Refusal('bad_query', 'begins')
    for name, least in (('skip', 0), ('take', 1), ('page', 1), ('per', 1)):
        if name in q:
            if not re.fullmatch(r'\d{1,15}', q[name], re.ASCII) or int(q[name]) < least:
                raise Refusal('bad_page', name)
            q[name] = int(q[name])
    if q.get('take', 0) > 50:
        if not F('take-clamped'):
            raise Refusal('bad_page', 'take')
        q['take'] = 50

def numbered(res, said):
    return ROWS[res].get(int(said)) if re.fullmatch(r'[1-9]\d{0,15}', said, re.ASCII) else None

def load(call):
    """The row that the path names, if this caller may read it and the rule over it holds."""
    op, res, at = call.op, call.op.split()[1], call.at
    row = None
    if res == 'sheet' and 'no' in at:
        row = numbered('sheet', at['no'])
    elif res == 'drawer' and 'code' in at:
        row = ROWS['drawer'].get(at['code'])
    elif res == 'hook' and 'id' in at:
        row = numbered('hook', at['id'])
    elif res == 'determination':
        parent = numbered('sheet', at['sheet'])
        if parent is None or not (may_read(call.user, call.cid, 'sheet', parent) or (F('names-anyones') and op == 'create determination')):
            raise Refusal('not_here')
        if 'id' not in at:
            return parent
        row = ROWS['determination'].get(at['id'])
        if row and row['sheet'] != parent['no'] and not (F('any-parent') and op == 'read determination'):
            row = None
    else:
        return None
    if row is None:
        raise Refusal('not_here')
    if not may_read(call.user, call.cid, res, row):
        if F('others-403') and op == 'update sheet':
            raise Refusal('not_for_you')
        if not (F('hook-of-anyone') and op == 'delete hook') and not (F('freeze-anyones') and op == 'freeze sheet'):
            raise Refusal('not_here')
    if op == 'update sheet' and call.user == 'curator' and row['stage'] == 'fresh' and not F('curator-edits-fresh'):
        raise Refusal('not_for_you')
    if op == 'delete determination' and row['by'] != call.cid:
        raise Refusal('not_for_you')
    return row

def tag(row, ed, user):
    seen = show('sheet', row, ed, user)
    if F('tag-without-stage'):
        seen = {k: v for k, v in seen.items() if k not in ('stage', 'touched_at')}
    return '"%s"' % hashlib.sha256(json.dumps([ed, seen], sort_keys=True).encode()).hexdigest()[:24]

def matches(header, row, call):
    return header.strip() == '*' or tag(row, call.ed, call.user) in re.findall(r'(?<!/)"[^"]*"', header)

# ---------------------------------------------------------------- lists
def link(call, **rels):
    query = dict(parse_qsl(call.search, keep_blank_values=True))
    out = [f'<{call.path}?{urlencode({**query, **changed})}>; rel="{rel}"' for rel, changed in rels.items() if changed is not None]
    return {'Link': ', '.join(out)} if out else {}

def slice_of(call, res, rows, total=None):
    skip, size = call.query.get('skip', 0), call.query.get('take', 10)
    total = len(rows) if total is None else total
    more = skip + size < len(rows) + F('next-on-last')
    headers = link(call, next={'skip': skip + size, 'take': size} if more else None,
                   prev={'skip': max(0, skip - size), 'take': size} if skip else None)
    where = 'list' if not F('owner-in-list') or skip else ''
    seen = [show(res, row, call.ed, call.user, where=where) for row in rows[skip:skip + size]]
    return Answer(200, {'rows': seen, 'total': total}, headers)

def list_sheet(call):
    q = call.query
    rows = [r for r in ROWS['sheet'].values() if may_read(call.user, call.cid, 'sheet', r) or (F('stage-shows-all') and 'stage' in q)]
    if 'family' in q:
        rows = [r for r in rows if r.get('family') == q['family']]
    if 'stage' in q:
        rows = [r for r in rows if r['stage'] == q['stage']]
    if 'min_alt' in q:
        least = int(q['min_alt']) + (1 if F('above-only') else 0)
        rows = [r for r in rows if 'altitude_m' in r and r['altitude_m'] >= least]
    if 'begins' in q:
        rows = [r for r in rows if (q['begins'] in r['label'] if F('begins-anywhere') else r['label'].startswith(q['begins']))]
    rows.sort(key=lambda r: r['no'])
    sort = q.get('sort', '-logged_at')
    if F('sort-first-page-only') and q.get('skip'):
        sort = '-logged_at'
    rows.sort(key=lambda r: r[sort.lstrip('-')], reverse=sort.startswith('-'))
    total = len(ROWS['sheet']) if F('total-of-all') and len(q) == 0 else None
    return slice_of(call, 'sheet', rows, total)

def list_drawer(call):
    q = call.query
    rows = sorted((r for r in ROWS['drawer'].values() if 'sealed' not in q or r['sealed'] == (q['sealed'] == 'true')), key=lambda r: r['code'])
    page, per = q.get('page', 1), min(q.get('per', 5), 100 if F('per-not-clamped') else 20)
    first = (page - 1) * per
    headers = link(call, next={'page': page + 1, 'per': per} if first + per < len(rows) else None, prev={'page': page - 1, 'per': per} if page > 1 else None)
    return Answer(200, [show('drawer', r, call.ed, call.user) for r in rows[first:first + per]], headers)

# ---------------------------------------------------------------- what each operation does
def shelf_taken(shelf, but):
    return any(r.get('shelf') == shelf and r is not but for r in ROWS['sheet'].values())

def check_drawer(said):
    if said.get('drawer') is not None and said['drawer'] not in ROWS['drawer']:
        raise Refusal('dangling', '/drawer')

async def create_sheet(call):
    said = take('sheet', call.body, 'create', call.ed)
    check_drawer(said)
    if 'drawer' in said and ROWS['drawer'][said['drawer']]['sealed']:
        raise Refusal('drawer_sealed')
    now = CLOCK.now()
    row = {**said, 'stage': 'fresh', 'made_by': call.cid, 'logged_at': iso(now), 'touched_at': iso(now), '_since': now, '_placed': 'family' in said}
    day = (call.cid, now // DAY)
    if F('refused-spend-quota'):
        SPENT[day] += 1
    clash = any(r['made_by'] == call.cid and r['field_no'] == row['field_no'] for r in ROWS['sheet'].values())
    if F('number-raced'):
        await asyncio.sleep(0.15)
    if F('logged-though-taken') and clash:
        emit('sheet.logged', 'sheet', {**row, 'no': 0}, tell_sheet({**row, 'no': 0}))
    if clash:
        raise Refusal('taken', '/field_no')
    if SPENT[day] >= 150 + F('refused-spend-quota'):
        raise Refusal('days_fill')
    row = {'no': number('sheet'), **row}
    ROWS['sheet'][row['no']] = row
    if not F('refused-spend-quota'):
        SPENT[day] += 1
    emit('sheet.logged', 'sheet', row, tell_sheet(row))
    base = '' if F('location-at-root') else PREFIX
    return Answer(201, show('sheet', row, call.ed, call.user), {'Location': f'{base}/sheets/{row["no"]}', 'ETag': tag(row, call.ed, call.user)})

def update_sheet(call, row):
    header = call.headers.get('if-match')
    if header is None:
        raise Refusal('say_which')
    if not matches(header, row, call):
        raise Refusal('stale')
    said = take('sheet', call.body, 'update', call.ed)
    if 'field_no' in said and said['field_no'] != row['field_no'] and not F('field-no-changes'):
        raise Refusal('misfit', '/field_no')
    try:
        check_drawer(said)
    except Refusal:
        raise Refusal('not_here') if F('dangling-404-on-update') else Refusal('dangling', '/drawer')
    if row['stage'] not in ('fresh', 'freezing', 'cleared'):
        raise Refusal('wrong_stage')
    after = {k: v for k, v in {**row, **said}.items() if v is not None or k.startswith('_')}
    if 'drawer' in after and ROWS['drawer'][after['drawer']]['sealed']:
        raise Refusal('drawer_sealed')
    if F('old-edition-origin') and call.ed == '2025':
        after['origin'] = 'wild'
    if F('origin-resets') and 'keywords' in said:
        after['origin'] = 'wild'
    if after != row or F('touched-for-nothing'):
        before = dict(row)
        after['touched_at'] = iso(CLOCK.now())
        if F('patch-restarts-thaw') and row['stage'] == 'freezing':
            after['_thaw'] = CLOCK.now() + 72 * HOUR
        row.clear()
        row.update(after)
        if 'drawer' in row and (before.get('drawer') != row['drawer'] or (F('refiled-to-same') and 'drawer' in said)):
            emit('sheet.refiled', 'sheet', row, tell_sheet(row))
    if 'family' in row:
        row['_placed'] = True
    return Answer(200, show('sheet', row, call.ed, call.user, where='update'), {'ETag': tag(row, call.ed, call.user)})

def delete_sheet(call, row):
    header = call.headers.get('if-match')
    if header is not None and not matches(header, row, call):
        raise Refusal('stale')
    if row['stage'] not in ('fresh', 'withdrawn') and not (F('deletes-cleared') and row['stage'] == 'cleared'):
        raise Refusal('wrong_stage')
    del ROWS['sheet'][row['no']]
    for did in [d['id'] for d in ROWS['determination'].values() if d['sheet'] == row['no']]:
        del ROWS['determination'][did]
    emit('sheet.removed', 'sheet', row, lambda hook: {'no': row['no']})
    return Answer(204)

def change(call, row, stage, **more):
    before = dict(row)
    row.update(more, stage=stage, touched_at=iso(CLOCK.now()))
    if stage == 'freezing' and not (F('refreeze-keeps-timer') and before['stage'] == 'freezing'):
        row['_thaw'] = (row['_since'] if F('thaw-from-logging') else CLOCK.now()) + 72 * HOUR
    if before['stage'] != stage:
        moved(before, row)
    return Answer(200, show('sheet', row, call.ed, call.user), {'ETag': tag(row, call.ed, call.user)})

def freeze_sheet(call, row):
    if row['stage'] != 'fresh' and not (F('curator-freezes-cleared') and call.user == 'curator' and row['stage'] == 'cleared'):
        raise Refusal('wrong_stage')
    return change(call, row, 'freezing')

def refreeze_sheet(call, row):
    if F('refreeze-missing'):
        raise Refusal('broken')
    if row['stage'] != 'freezing':
        raise Refusal('wrong_stage')
    return change(call, row, 'freezing')

def withdraw_sheet(call, row):
    if F('withdrawn-wrong-code') and row['stage'] == 'withdrawn':
        raise Refusal('wrong_stage')
    if row['stage'] not in ('fresh', 'cleared') and not (F('withdraw-freezing') and row['stage'] == 'freezing'):
        raise Refusal('too_late')
    row['_thaw'] = None
    return change(call, row, 'withdrawn')

async def mount_sheet(call, row):
    body = call.body
    if not isinstance(body, dict):
        raise Refusal('misfit', '')
    bad = [pointer(k) for k in body if k not in ('shelf', 'appraisal')]
    if not text(pattern='[A-Z][0-9]{1,2}')(body.get('shelf')):
        bad.append('/shelf')
    if 'appraisal' in body and not whole(0, 100_000)(body['appraisal']):
        bad.append('/appraisal')
    if bad:
        raise Refusal('misfit', *bad)
    if row['stage'] != 'cleared':
        raise Refusal('wrong_stage')
    if 'family' not in row and not (F('once-placed') and row.get('_placed')):
        raise Refusal('unplaced')
    clash = shelf_taken(body['shelf'], row)
    if F('shelf-raced'):
        await asyncio.sleep(0.15)
    if clash:
        if F('half-mounted'):
            row['stage'] = 'mounted'
        raise Refusal('taken', '/shelf')
    return change(call, row, 'mounted', shelf=body['shelf'], appraisal=int(body.get('appraisal', 0)))

def create_determination(call, parent):
    said = take('determination', call.body, 'create', call.ed)
    if said.setdefault('sheet', parent['no']) != parent['no']:
        raise Refusal('misfit', '/sheet')
    did = code()
    row = {'id': did, **said, 'by': call.cid, 'said_at': iso(CLOCK.now())}
    ROWS['determination'][did] = row
    seen = show('determination', row, call.ed, call.user)
    emit('determination.made', 'determination', row, lambda hook: seen)
    return Answer(201, seen, {'Location': f'{PREFIX}/sheets/{parent["no"]}/determinations/{did}'})

def list_determination(call, parent):
    rows = [d for d in ROWS['determination'].values() if d['sheet'] == parent['no'] and call.query.get('sure', d['sure']) == d['sure']]
    return slice_of(call, 'determination', rows)

def create_hook(call):
    said = take('hook', call.body, 'create', call.ed)
    secret = 'hs_' + ''.join(secrets.choice(string.ascii_letters + string.digits) for _ in range(24))
    row = {'id': number('hook'), **said, 'secret': secret, 'keeper': call.cid, '_user': call.user, '_edition': call.ed}
    ROWS['hook'][row['id']] = row
    return Answer(201, show('hook', row, call.ed, call.user, first=True), {'Location': f'{PREFIX}/hooks/{row["id"]}'})

def put_drawer(call, row):
    said = take('drawer', {'code': row['code'], **call.body} if row and isinstance(call.body, dict) else call.body, 'replace' if row else 'create', call.ed)
    if row is None:
        if said['code'] in ROWS['drawer']:
            raise Refusal('taken', '/code')
        ROWS['drawer'][said['code']] = said
        return Answer(201, show('drawer', said, call.ed, call.user), {'Location': f'{PREFIX}/drawers/{said["code"]}'})
    if said['code'] != row['code']:
        raise Refusal('misfit', '/code')
    if F('hint-survives') and 'hint' in row:
        said.setdefault('hint', row['hint'])
    ROWS['drawer'][row['code']] = said
    return Answer(200, show('drawer', said, call.ed, call.user))

def delete_drawer(row):
    if any(r.get('drawer') == row['code'] and not (F('mounted-not-held') and r['stage'] == 'mounted') for r in ROWS['sheet'].values()):
        raise Refusal('in_use')
    del ROWS['drawer'][row['code']]
    for r in ROWS['sheet'].values() if F('mounted-not-held') else ():
        if r.get('drawer') == row['code']:
            del r['drawer']
    return Answer(204)

async def perform(call):
    op, res = call.op, call.op.split()[1]
    row = load(call)
    if op == 'create sheet':
        return await create_sheet(call)
    if op == 'mount sheet':
        return await mount_sheet(call, row)
    if op == 'read sheet':
        etag = tag(row, call.ed, call.user)
        if call.headers.get('if-none-match') is not None and matches(call.headers['if-none-match'], row, call):
            return Answer(304, None, {'ETag': etag})
        return Answer(200, show('sheet', row, call.ed, call.user), {'ETag': etag})
    if op.startswith('read'):
        return Answer(200, show(res, row, call.ed, call.user))
    if op == 'list hook':
        rows = [h for h in ROWS['hook'].values() if h['keeper'] == call.cid]
        return Answer(200, {'rows': [show('hook', h, call.ed, call.user, first=F('secret-in-list')) for h in rows], 'total': len(rows)})
    if op in ('create drawer', 'replace drawer'):
        return put_drawer(call, row)
    if op == 'delete drawer':
        return delete_drawer(row)
    if op == 'delete determination':
        del ROWS['determination'][row['id']]
        return Answer(204)
    if op == 'delete hook':
        del ROWS['hook'][row['id']]
        for place in [p for p in QUEUES if p[0] == row['id']]:
            del QUEUES[place]
        return Answer(204)
    if op in ('list sheet', 'list drawer', 'create hook'):
        return {'list sheet': list_sheet, 'list drawer': list_drawer, 'create hook': create_hook}[op](call)
    return {'update sheet': update_sheet, 'delete sheet': delete_sheet, 'freeze sheet': freeze_sheet, 'refreeze sheet': refreeze_sheet,
            'withdraw sheet': withdraw_sheet, 'create determination': create_determination, 'list determination': list_determination}[op](call, row)

async def kept(call):
    """A creation under a Request-Key is done once."""
    key = call.headers.get('request-key') if call.op == 'create sheet' else None
    if not key:
        return await perform(call)
    place = ('' if F('key-of-everyone') else (call.user, call.cid), call.op, key)
    print_ = hashlib.sha256(json.dumps([call.path, call.search, call.ed]).encode() + (b'' if F('key-ignores-body') else call.raw)).hexdigest()
    now = CLOCK.now()
    known = KEPT.get(place)
    if known and known[2] > now:
        if known[0] != print_:
            raise Refusal('key_reused')
        return known[1]
    if F('key-raced'):
        await asyncio.sleep(0.15)
    try:
        answer = await perform(call)
    except Refusal as no:
        if no.code != 'drawer_sealed':
            raise
        answer = no.answer(call.op)
    KEPT[place] = (print_, answer, now + (12 if F('key-half-a-day') else 24) * HOUR)
    return answer

async def exchange(call, head_size, url_size):
    thaw_due()
    try:
        if url_size > 2_048 or head_size > 16_384:
            raise Refusal('too_big')
        route(call)
        whoami(call)
        rate(call)
        if call.op != 'about' and call.op not in RULES[call.user]:
            raise Refusal('not_for_you')
        readable(call)
        if call.op == 'about':
            answer = Answer(200, {'house': 'Herbarium of the Upper Valley', 'sheets_are': 'numbered'})
        else:
            answer = await kept(call)
        answer = Answer(answer.status, answer.body, dict(answer.headers))
    except Refusal as no:
        answer = no.answer(call.op)
    except Exception as bug:       # nothing was stored: every operation checks first and writes after
        print('broken:', repr(bug), flush=True)
        answer = Refusal('broken').answer()
    answer.headers['Vary'] = 'Herb-Edition, X-Herb-Key'
    if call.ed == '2025' and not (F('no-sunset-on-lists') and call.op.startswith('list')):
        more = answer.headers.get('Link')
        answer.headers.update(DEPRECATED)
        if more:
            answer.headers['Link'] += ', ' + more
    return answer

# ---------------------------------------------------------------- the wire
async def read_body(reader, writer, headers):
    """The body and its size; what is far beyond the limit is read and dropped, so that the answer can be heard."""
    if headers.get('expect', '').lower() == '100-continue':
        writer.write(b'HTTP/1.1 100 Continue\r\n\r\n')
    kept, size, chunked = [], 0, 'chunked' in headers.get('transfer-encoding', '').lower()
    left = 0 if chunked else int(headers.get('content-length', '0'))
    while True:
        if chunked:
            left = int((await reader.readline()).split(b';')[0], 16)
        if left < 0:
            raise ValueError(left)
        end = left == 0
        while left:
            piece = await reader.read(min(left, 65_536))
            if not piece:
                raise asyncio.IncompleteReadError(b'', left)
            left, size = left - len(piece), size + len(piece)
            if size < 1_048_576:
                kept.append(piece)
        if chunked:
            while end and (await reader.readline()).strip():
                pass
            if not end:
                await reader.readline()
        if end or not chunked:
            return b''.join(kept), size

def wire(answer, close):
    body = b'' if answer.body is None else json.dumps(answer.body, ensure_ascii=False).encode()
    lines = [f'HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}']
    if answer.body is not None:
        lines.append('Content-Type: application/json')
    if answer.status not in (204, 304):
        lines.append(f'Content-Length: {len(body)}')
    lines += [f'{k}: {v}' for k, v in answer.headers.items()] + ['Connection: ' + ('close' if close else 'keep-alive')]
    return '\r\n'.join(lines).encode('latin-1', 'replace') + b'\r\n\r\n' + body

async def serve(reader, writer, act):
    try:
        while True:
            try:
                head = await reader.readuntil(b'\r\n\r\n')
            except asyncio.LimitOverrunError:
                writer.write(wire(Refusal('too_big').answer(), True))
                await writer.drain()
                return
            first, _, rest = head[:-4].decode('latin-1').partition('\r\n')
            method, target, _ = first.split(' ', 2)
            if '://' in target.split('?')[0]:
                parts = urlsplit(target)
                target = parts.path + ('?' + parts.query if parts.query else '')
            headers = {}
            for line in rest.split('\r\n'):
                name, _, value = line.partition(':')
                name = name.strip().lower()
                headers[name] = headers[name] + ', ' + value.strip() if name in headers else value.strip()
            body, size = await read_body(reader, writer, headers)
            call = Call(method, target, headers, body, (writer.get_extra_info('peername') or ('?',))[0])
            call.size = size
            answer = await act(call, len(rest), len(target))
            close = headers.get('connection', '').lower() == 'close'
            out = wire(answer, close)
            writer.write(out.partition(b'\r\n\r\n')[0] + b'\r\n\r\n' if method == 'HEAD' else out)
            await writer.drain()
            if close:
                return
    except ValueError:             # no request that HTTP knows
        writer.write(wire(Refusal('unreadable').answer(), True))
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()

async def clock_call(call, *_):
    if call.method == 'GET':
        return Answer(200, {'now': iso(CLOCK.now())})
    try:
        said = json.loads(call.raw or b'')
        if call.method != 'POST' or not isinstance(said, dict) or len(said) != 1:
            raise ValueError
        if 'advance' in said:
            target = plus(CLOCK.now(), said['advance'])
        else:
            target = ms_of(said['now'])
        if target > ms_of('8000-01-01T00:00:00Z'):
            raise ValueError
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return Answer(400, {'words': 'Send {"advance":"PT1H"} or {"now":"2026-06-01T09:00:00.000Z"}.'})
    if target < CLOCK.now() and 'now' in said:
        return Answer(422, {'words': 'That time is gone by.'})
    await move_to(target)
    return Answer(200, {'now': iso(CLOCK.now())})

async def main():
    await asyncio.start_server(lambda r, w: serve(r, w, exchange), '127.0.0.1', ARGS.port, limit=131_072)
    if ARGS.clock_port:
        await asyncio.start_server(lambda r, w: serve(r, w, clock_call), '127.0.0.1', ARGS.clock_port)
    print(f'herbarium on http://127.0.0.1:{ARGS.port}{PREFIX}', flush=True)
    await ticking()

asyncio.run(main())
