"""Gapwork: the register of a dale's dry-stone walls and of the gaps in them. See service.yaml."""
import argparse, asyncio, base64, calendar, collections, hashlib, heapq, hmac, json, math, re, secrets, string, time
from datetime import date, datetime, timedelta, timezone
from urllib.parse import unquote, unquote_plus, urlsplit

ap = argparse.ArgumentParser()
ap.add_argument('--port', type=int, required=True)
ap.add_argument('--clock-port', type=int, required=True)
ap.add_argument('--fault', default='')
ARGS = ap.parse_args()


def fault(name):
    return ARGS.fault == name


# ---------------------------------------------------------------- the clock
class Clock:
    """Milliseconds since 1970; goes on with the machine's and can be moved forward."""

    def __init__(self):
        self.base = int(time.time() * 1000)
        self.mono = time.monotonic()

    def now(self):
        return self.base + int((time.monotonic() - self.mono) * 1000)

    def set(self, ms):
        if ms > self.now():
            self.base = ms
            self.mono = time.monotonic()


CLOCK = Clock()
SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
TIMERS = []
TIMER_SEQ = 0


def at(due, what, *data):
    global TIMER_SEQ
    TIMER_SEQ += 1
    heapq.heappush(TIMERS, (due, TIMER_SEQ, what, data))


def run_due(until):
    while TIMERS and TIMERS[0][0] <= until:
        due, _, what, data = heapq.heappop(TIMERS)
        what(*data)


def iso(ms):
    return datetime.fromtimestamp(ms // 1000, timezone.utc).strftime('%Y-%m-%dT%H:%M:%S') + '.%03dZ' % (ms % 1000)


RFC3339 = re.compile(r'^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$')


def parse_time(text):
    m = RFC3339.match(text)
    if not m:
        return None
    try:
        sec = int(m[6])
        d = datetime(int(m[1]), int(m[2]), int(m[3]), int(m[4]), int(m[5]), min(sec, 59), tzinfo=timezone.utc)
        if sec > 60:
            return None
        ms = calendar.timegm(d.timetuple()) * 1000 + (1000 if sec == 60 else 0)
        if m[7]:
            ms += int(float('0' + m[7]) * 1000)
        z = m[8]
        if z not in 'Zz':
            h, mi = int(z[1:3]), int(z[4:6])
            if h > 23 or mi > 59:
                return None
            ms -= (1 if z[0] == '+' else -1) * (h * HOUR + mi * MINUTE)
        return ms
    except ValueError:
        return None


def http_date(ms):
    return datetime.fromtimestamp(ms // 1000, timezone.utc).strftime('%a, %d %b %Y %H:%M:%S GMT')


# ---------------------------------------------------------------- callers
class Caller:
    def __init__(self, user, id, parish, scopes=()):
        self.user, self.id, self.parish, self.scopes = user, id, parish, set(scopes)
        self.key = (user, id)


BADGES = {
    'bdg_Ada7Qm2LxV9tRz4KpW8sYc1NfH3gJd': Caller('reeve', 'ada', 'upper', ['chronicle']),
    'bdg_Cle5Bn8TyX3wQk6ZrM2vHs9PdL4fGj': Caller('reeve', 'cleo', 'nether'),
    'bdg_Dir4Vc7RmK2xTq9LsZ5wNh8YpB3gJf': Caller('waller', 'dirk', 'upper'),
    'bdg_Fin9Xz3WkP6tLq2RvM8sCd5HnB7yGj': Caller('waller', 'finn', 'nether'),
    'bdg_Gwe2Km6TzN9xRv4QpL8wSc3YdH7fBj': Caller('farmer', 'gwen', 'upper'),
    'bdg_Iri8Pv5XnT2kLz7RqW4mSc9YbH6dGf': Caller('farmer', 'iris', 'nether'),
}
TALLIES = {
    'tly_Bra3Xt8QnL5vKz2RpW7mSc4YdH9gFj': Caller('reeve', 'bram', 'upper', ['chronicle']),
    'tly_Eli6Rw9ZkT4xMq7LvN2pSc8YhB5dGf': Caller('waller', 'elin', 'upper'),
    'tly_Hal7Nq4VzX2tKm9RwL5pSc6YbD8gFj': Caller('farmer', 'hale', 'upper'),
}

# ---------------------------------------------------------------- rows
ROWS = {'wall': {}, 'gap': {}, 'shift': {}, 'hook': {}, 'entry': {}}
GAPS_OF = collections.defaultdict(dict)    # wall id -> {gap id: gap}
SHIFTS_OF = collections.defaultdict(dict)  # gap id -> {shift id: shift}
NUMBER_OF = collections.Counter()
SEQ = 0
OPEN_STATES = ('reported', 'surveyed', 'claimed', 'mending')
STATES = OPEN_STATES + ('mended', 'approved', 'dismissed')
STONES = ('limestone', 'gritstone', 'slate', 'whin')
CAUSES = ('frost', 'stock', 'roots', 'flood', 'unknown')
KINDS = ('gap.reported', 'gap.moved', 'gap.lapsed', 'gap.withdrawn', 'gap.lingering', 'wall.renamed', 'wall.mended', 'shift.worked', 'hook.stilled')
LOWER = string.ascii_lowercase + string.digits
MIXED = string.ascii_letters + string.digits


def rnd(n, alphabet=LOWER):
    return ''.join(secrets.choice(alphabet) for _ in range(n))


def seq():
    global SEQ
    SEQ += 1
    return SEQ


FIELDS = {
    'wall': ['id', 'parish', 'name', 'stone', 'metres', 'foot_cm', 'head_cm', 'start', 'value_pence', 'open_gaps', 'widest_cm', 'last_mended_at', 'entered_at'],
    'gap': ['id', 'number', 'wall', 'at_metre', 'width_cm', 'height_cm', 'face_cm2', 'cause', 'note', 'reporter', 'reported_at', 'grade', 'fee_pence',
            'waller', 'claimed_at', 'mended_at', 'minutes_worked', 'state'],
    'shift': ['id', 'gap', 'waller', 'day', 'minutes', 'remark'],
    'hook': ['id', 'owner', 'url', 'kinds', 'live'],
    'entry': ['id', 'kind', 'about', 'by', 'written_at', 'body'],
}
TIMES = {'last_mended_at', 'entered_at', 'reported_at', 'claimed_at', 'mended_at', 'written_at'}
HIDDEN = {'value_pence': ('reeve',), 'fee_pence': ('reeve', 'waller')}


def minutes_worked(gap):
    total = sum(s['minutes'] for s in SHIFTS_OF[gap['id']].values())
    if fault('r-minutes-stale'):
        total += gap.get('_gone', 0)
    return total


def derived(name, row, field):
    if field == 'open_gaps':
        return sum(1 for g in GAPS_OF[row['id']].values() if g['state'] in OPEN_STATES)
    if field == 'widest_cm':
        w = [g['width_cm'] for g in GAPS_OF[row['id']].values() if g['state'] in OPEN_STATES]
        return max(w) if w else None
    if field == 'face_cm2':
        return row['width_cm'] * row['height_cm']
    if field == 'minutes_worked':
        return minutes_worked(row)
    return row.get(field)


def view(name, row, user, version, reveal=False):
    out = {}
    for f in FIELDS[name]:
        if f in HIDDEN and user not in HIDDEN[f] and not (f == 'fee_pence' and fault('r-fee-shown')):
            continue
        v = derived(name, row, f)
        if v is None:
            continue
        if f in TIMES:
            v = iso(v)
        if version == 'lambing' and name in ('wall', 'gap'):
            if f == 'metres':
                f = 'length'
            elif f == 'cause':
                continue
            elif f == 'width_cm':
                f, v = 'width', v / 100.0
            elif f == 'state' and v == 'claimed':
                v = 'taken'
        out[f] = v
    if name == 'hook' and (reveal or fault('r-secret-again')):
        out['secret'] = row['secret']
    return out


# ---------------------------------------------------------------- who may read
def may_read(name, row, c):
    if name == 'wall':
        if c.user == 'waller':
            return True
        if c.user == 'farmer' and fault('a-farmer-any-parish'):
            return True
        return row['parish'] == c.parish
    if name == 'gap':
        if c.user == 'reeve':
            return ROWS['wall'][row['wall']]['parish'] == c.parish
        if c.user == 'farmer':
            return row['reporter'] == c.id
        return row['state'] == 'surveyed' or row.get('waller') == c.id
    if name == 'shift':
        if c.user == 'waller':
            return row['waller'] == c.id
        if c.user == 'reeve':
            return ROWS['wall'][ROWS['gap'][row['gap']]['wall']]['parish'] == c.parish
        return False
    if name == 'hook':
        return row['owner'] == c.id and row['_maker'].user == c.user
    if name == 'entry':
        return c.user == 'reeve' and 'chronicle' in c.scopes
    return False


# ---------------------------------------------------------------- events
RETRY = [30 * SECOND, 5 * MINUTE, HOUR]
DISABLE_AFTER = 2 * DAY


def wants(hook, kind):
    kinds = hook.get('kinds')
    if kinds is None:
        return True
    return any(k == '*' or k == kind or (k.endswith('.*') and kind.startswith(k[:-1])) for k in kinds)


def emit(kind, name, row, payload, caller):
    """payload: a function of (user, version). It is called while `row` can still be judged."""
    if fault('v-no-withdrawn') and kind == 'gap.withdrawn':
        return
    if fault('v-no-lapsed') and kind == 'gap.lapsed':
        return
    now = CLOCK.now()
    eid = 'ent_' + rnd(18)
    entry = {'id': eid, 'kind': kind, 'about': row['id'], 'written_at': now, 'body': payload('reeve', 'tupping'), '_seq': seq()}
    if caller is not None and not fault('v-log-nobody'):
        entry['by'] = caller.id
    ROWS['entry'][eid] = entry
    at(now + 60 * DAY, lambda: ROWS['entry'].pop(eid, None))
    for hook in list(ROWS['hook'].values()):
        maker = hook['_maker']
        if not hook['live'] or not wants(hook, kind):
            continue
        if not may_read(name, row, maker) and not fault('v-told-to-all'):
            continue
        version = 'tupping' if fault('z-hook-newest') else hook['_version']
        user = 'reeve' if fault('v-payload-leaks') else maker.user
        body = json.dumps({'ref': eid, 'what': kind, 'when': iso(now), 'row': payload(user, version)})
        hook['_queues'].setdefault(row['id'], collections.deque()).append({'id': eid, 'kind': kind, 'body': body, 'tries': 0, 'due': 0, 'busy': False})
        pump(hook)


def pump(hook):
    """Sends what may be sent now: the head of each row's queue; one at a time where the subscriber fails."""
    if ROWS['hook'].get(hook['id']) is not hook:
        return
    now = CLOCK.now()
    for about, queue in list(hook['_queues'].items()):
        if hook['_flying'] >= (1 if hook['_failing_since'] is not None else 32):
            return
        head = queue[0]
        if head['busy'] or head['due'] > now or hook['_hold'] > now:
            continue
        head['busy'] = True
        hook['_flying'] += 1
        spawn(deliver(hook, about, queue, head, now))


TASKS = set()


def spawn(coro):
    t = asyncio.get_running_loop().create_task(coro)
    TASKS.add(t)
    t.add_done_callback(TASKS.discard)


async def post(url, headers, body):
    u = urlsplit(url)
    port = u.port or (443 if u.scheme == 'https' else 80)
    reader, writer = await asyncio.open_connection(u.hostname, port, ssl=True if u.scheme == 'https' else None)
    try:
        target = (u.path or '/') + ('?' + u.query if u.query else '')
        lines = ['POST %s HTTP/1.1' % target, 'Host: %s' % u.netloc.rpartition('@')[2], 'Connection: close', 'Content-Type: application/json',
                 'Content-Length: %d' % len(body)] + ['%s: %s' % h for h in headers]
        writer.write(('\r\n'.join(lines) + '\r\n\r\n').encode('latin-1') + body)
        await writer.drain()
        while True:
            status = int((await reader.readline()).split()[1])
            got = {}
            while True:
                line = (await reader.readline()).decode('latin-1').strip()
                if not line:
                    break
                k, _, v = line.partition(':')
                got[k.strip().lower()] = v.strip()
            if status >= 200 or status == 101:
                return status, got
    finally:
        writer.close()


async def deliver(hook, about, queue, head, now):
    ts = str(now // 1000)
    eid = head['id'] if not (fault('v-new-id') and head['tries']) else 'ent_' + rnd(18)
    body = head['body'].encode()
    signed = ('%s.%s.' % (eid, ts)).encode() + body
    if fault('v-seal-body'):
        signed = body
    seal = 'at=%s,seal=%s' % (ts, hmac.new(hook['secret'].encode(), signed, hashlib.sha256).hexdigest())
    headers = [('X-Gapwork-Event', eid), ('X-Gapwork-Kind', head['kind']), ('X-Gapwork-Seal', seal)]
    status, got = 0, {}
    try:
        status, got = await asyncio.wait_for(post(hook['url'], headers, body), 5)
    except Exception:
        pass
    hook['_flying'] -= 1
    head['busy'] = False
    if ROWS['hook'].get(hook['id']) is not hook:
        return
    now = CLOCK.now()
    done = 200 <= status < 300
    if done:
        hook['_failing_since'] = None
    else:
        if hook['_failing_since'] is None:
            hook['_failing_since'] = now
        if hook['live'] and ((status == 410 and not fault('v-410-goes-on')) or now - hook['_failing_since'] >= DISABLE_AFTER):
            still(hook)
            return
        head['tries'] += 1
        if head['tries'] > len(RETRY):
            done = True
        else:
            wait = RETRY[head['tries'] - 1]
            ra = got.get('retry-after', '')
            if ra.isdigit():
                wait = max(wait, min(int(ra) * 1000, DAY))
                hook['_hold'] = max(hook['_hold'], now + min(int(ra) * 1000, DAY))
            head['due'] = now + wait
            at(max(head['due'], hook['_hold']), pump, hook)
    if done and queue and queue[0] is head:
        queue.popleft()
        if not queue and hook['_queues'].get(about) is queue:
            del hook['_queues'][about]
    pump(hook)


def still(hook):
    hook['_queues'].clear()
    hook['_failing_since'] = None
    hook['live'] = False
    emit('hook.stilled', 'hook', hook, lambda u, v: view('hook', hook, u, v), None)


# ---------------------------------------------------------------- what the clock does
def enter(gap, state):
    gap['state'] = state
    gap['_entered'] = gap.get('_entered', 0) + 1
    if state == 'claimed':
        days = 10
        if fault('s-lapse-first'):
            gap.setdefault('_first_claim', CLOCK.now())
            at(max(CLOCK.now(), gap['_first_claim'] + days * DAY), lapse, gap, gap['_entered'])
        else:
            at(CLOCK.now() + days * DAY, lapse, gap, gap['_entered'])


def lapse(gap, entered):
    if ROWS['gap'].get(gap['id']) is not gap:
        return
    if fault('s-lapse-mending'):
        if gap['state'] not in ('claimed', 'mending'):
            return
    elif gap['state'] != 'claimed' or gap['_entered'] != entered:
        return
    enter(gap, 'surveyed')
    gap.pop('waller', None)
    gap.pop('claimed_at', None)
    emit('gap.lapsed', 'gap', gap, lambda u, v: view('gap', gap, u, v), None)


def linger(gap):
    if ROWS['gap'].get(gap['id']) is gap and gap['state'] == 'reported':
        emit('gap.lingering', 'gap', gap, lambda u, v: view('gap', gap, u, v), None)


# ---------------------------------------------------------------- refusals
CODES = {
    'garbled': (400, 'The body cannot be read.'), 'wrong_media': (415, 'Send JSON.'), 'odd_question': (400, 'A parameter is not taken here, or not so.'),
    'no_such_page': (416, 'There is no such page.'), 'left_out': (422, '{name} is left out'), 'stray': (422, '{name} is no field of this'),
    'not_yours': (422, 'This is not for you to write.'), 'ill_fitting': (422, 'This does not fit.'), 'no_path': (404, 'Nothing is at this path.'),
    'no_such': (404, 'There is no such thing.'), 'no_way': (405, 'Not by this method.'), 'stranger': (401, 'Show a badge or a tally.'),
    'narrow_badge': (403, 'Your badge does not reach so far.'), 'barred': (403, 'This is not for you to do.'), 'taken': (409, 'There is one already.'),
    'loose_end': (422, 'It leads to nothing.'), 'held': (409, 'Something still refers to it.'), 'wrong_state': (409, 'It is not in a state for this.'),
    'past_dismissing': (409, 'It has been taken on or is over.'), 'nothing_laid': (422, 'No shift has been written down.'),
    'beyond_wall': (422, 'The wall is not as long as that.'), 'not_mending': (409, 'Nobody mends this gap at present.'),
    'over_estimate': (422, 'Forty hours are the most for one gap.'), 'stale': (412, 'It has changed since.'), 'tag_wanted': (428, 'Say which state of it you read.'),
    'once_reused': (409, 'This key was used for something else.'), 'once_busy': (409, 'A request with this key is under way.'), 'hurried': (429, 'Slow down.'),
    'spent': (403, 'There is no more of that for now.'), 'too_big': (413, 'The body is too large.'), 'long_address': (414, 'The address is too long.'),
    'long_headers': (431, 'The header fields are too long.'), 'too_slow': (408, 'The request took too long to arrive.'),
    'no_edition': (400, 'There is no such edition.'), 'old_edition': (410, 'This edition has ended.'), 'shut': (503, 'Closed at present.'), 'broken': (500, 'Something broke.'),
}
OWN = {'past_dismissing', 'nothing_laid', 'beyond_wall', 'not_mending', 'over_estimate'}


class Refusal(Exception):
    def __init__(self, code, wrong=None, headers=(), name=''):
        self.code, self.wrong, self.headers, self.name = code, wrong, list(headers), name


# ---------------------------------------------------------------- what is sent
def is_int(v):
    return (isinstance(v, int) and not isinstance(v, bool)) or (isinstance(v, float) and v.is_integer())


class Int:
    def __init__(self, lo, hi=None):
        self.lo, self.hi = lo, hi

    def check(self, v, place, add):
        if not is_int(v):
            add(place, 'type')
            return None
        v = int(v)
        if v < self.lo or (self.hi is not None and v > self.hi):
            add(place, 'value')
            return None
        return v


class Num:
    def __init__(self, lo, hi, up):
        self.lo, self.hi, self.up = lo, hi, up

    def check(self, v, place, add):
        if isinstance(v, bool) or not isinstance(v, (int, float)):
            add(place, 'type')
        elif v < self.lo or v > self.hi:
            add(place, 'value')
        else:
            return self.up(v)


class Text:
    def __init__(self, lo=0, hi=None, test=None):
        self.lo, self.hi, self.test = lo, hi, test

    def check(self, v, place, add):
        if not isinstance(v, str):
            add(place, 'type')
        elif len(v) < self.lo or (self.hi is not None and len(v) > self.hi) or (self.test and not self.test(v)):
            add(place, 'value')
        else:
            return v


class Enum:
    def __init__(self, values):
        self.values = values

    def check(self, v, place, add):
        if not isinstance(v, str):
            add(place, 'type')
        elif v not in self.values:
            add(place, 'value')
        else:
            return v


class Bool:
    def check(self, v, place, add):
        if not isinstance(v, bool):
            add(place, 'type')
        return v


class Kinds:
    def check(self, v, place, add):
        if not isinstance(v, list):
            return add(place, 'type')
        if not 1 <= len(v) <= 10:
            return add(place, 'value')
        good = set(KINDS) | {k.split('.')[0] + '.*' for k in KINDS} | {'*'}
        for i, k in enumerate(v):
            if not isinstance(k, str):
                add('%s.%d' % (place, i), 'type')
            elif k not in good:
                add('%s.%d' % (place, i), 'value')
        return v


class Map:
    def __init__(self, fields):
        self.fields = fields

    def check(self, v, place, add):
        if not isinstance(v, dict):
            return add(place, 'type')
        out = {}
        for k, x in v.items():
            if k not in self.fields:
                add('%s.%s' % (place, k), 'unknown')
            else:
                out[k] = self.fields[k].check(x, '%s.%s' % (place, k), add)
        for k in self.fields:
            if k not in v:
                add('%s.%s' % (place, k), 'missing')
        return out


DATE = re.compile(r'^\d{4}-\d\d-\d\d$', re.A)


def good_date(v):
    if not DATE.match(v) or v.endswith('\n'):
        return False
    try:
        date.fromisoformat(v)
        return True
    except ValueError:
        return False


def good_url(v):
    if not re.match(r"^[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+\Z", v):
        return False
    try:
        u = urlsplit(v)
        u.port
        return u.scheme in ('http', 'https') and bool(u.hostname)
    except ValueError:
        return False


class F:
    def __init__(self, shape, required=False, name=None, read_only=False, immutable=False, default=None):
        self.shape, self.required, self.name, self.read_only, self.immutable, self.default = shape, required, name, read_only, immutable, default


def round_away(x):
    return int(x * 100) if fault('z-map-cut') else math.floor(x * 100.0 + 0.5)


RO = F(None, read_only=True)
SPOT = Map({'easting': Int(0, 700000), 'northing': Int(0, 1300000)})
WALL = {'id': RO, 'parish': RO, 'name': F(Text(3, 60), True), 'stone': F(Enum(STONES), True), 'metres': F(Int(1, 20000), True), 'foot_cm': F(Int(30, 150), True),
        'head_cm': F(Int(20, 120), True), 'start': F(SPOT), 'value_pence': F(Int(0)), 'open_gaps': RO, 'widest_cm': RO, 'last_mended_at': RO, 'entered_at': RO}
GAP = {'id': RO, 'number': RO, 'wall': F(Text(), immutable=True), 'at_metre': F(Int(0, 20000), True), 'width_cm': F(Int(20, 3000), True),
       'height_cm': F(Int(20, 300), True, default=140), 'face_cm2': RO, 'cause': F(Enum(CAUSES), True, default='unknown'), 'note': F(Text(0, 200)),
       'reporter': RO, 'reported_at': RO, 'grade': RO, 'fee_pence': RO, 'waller': RO, 'claimed_at': RO, 'mended_at': RO, 'minutes_worked': RO, 'state': RO}
SHIFT = {'id': RO, 'gap': F(Text(), immutable=True), 'waller': RO, 'day': F(Text(test=good_date), True), 'minutes': F(Int(15, 720), True), 'remark': F(Text(0, 120))}
HOOK = {'id': RO, 'owner': RO, 'url': F(Text(0, 300, good_url), True), 'kinds': F(Kinds()), 'live': F(Bool(), True, default=True), 'secret': RO}
SURVEY = {'grade': F(Enum(('A', 'B', 'C')), True), 'fee_pence': F(Int(100, 5000000), True)}


def older(name, shape):
    if name == 'wall':
        return {('length' if k == 'metres' else k): (F(f.shape, f.required, 'metres') if k == 'metres' else f) for k, f in shape.items()}
    if name == 'gap':
        out = {}
        for k, f in shape.items():
            if k == 'width_cm':
                out['width'] = F(Num(0.2, 30, round_away), True, 'width_cm')
            elif k != 'cause':
                out[k] = f
        return out
    return shape


SHAPES = {'tupping': {'wall': WALL, 'gap': GAP, 'shift': SHIFT, 'hook': HOOK, 'survey': SURVEY}}
SHAPES['lambing'] = {k: older(k, v) for k, v in SHAPES['tupping'].items()}


def merge(old, patch):
    out = dict(old) if isinstance(old, dict) else {}
    for k, v in patch.items():
        if v is None:
            out.pop(k, None)
        else:
            out[k] = merge(out.get(k), v) if isinstance(v, dict) else v
    return out


def take(body, name, version, stored=None, bound=None, refuse_read_only=False, rules=()):
    """What the body comes to, in the newest names; None stands for what a patch takes away. Raises what is wrong."""
    shape = SHAPES[version][name]
    wrong = []  # (position, place, condition)
    out = {}
    if not isinstance(body, dict):
        raise Refusal('ill_fitting', [''])
    for pos, (k, v) in enumerate(body.items()):
        def add(place, what, pos=pos):
            wrong.append((pos, place, what))
        f = shape.get(k)
        if f is None:
            add(k, 'unknown')
            continue
        if f.read_only:
            if refuse_read_only:
                add(k, 'read_only')
            continue
        new = f.name or k
        if v is None:
            if stored is None or f.required or f.immutable:
                add(k, 'value')
            else:
                out[new] = None
            continue
        if f.immutable:
            now = bound[k] if bound and k in bound else (stored or {}).get(k)
            if not isinstance(v, str):
                add(k, 'type')
            elif v != now:
                if fault('r-wall-moves') and stored is not None and v in ROWS['wall']:
                    out[new] = v
                    continue
                add(k, 'value')
            continue
        if stored is not None and isinstance(f.shape, Map) and isinstance(v, dict):
            nulls = [x for x in f.shape.fields if x in v and v[x] is None]
            for x in nulls:
                add('%s.%s' % (k, x), 'value')
            v = {**merge(stored.get(new), {a: b for a, b in v.items() if b is not None or a not in f.shape.fields})}
            for x in nulls:
                v.setdefault(x, 0)
        out[new] = f.shape.check(v, k, add)
    if stored is None:
        for k, f in shape.items():
            if f.required and k not in body and f.default is None:
                wrong.append((1 << 20, k, 'missing'))
        for k, f in SHAPES['tupping'][name].items():
            if f.default is not None and k not in out:
                out[k] = f.default
    bad = {w[1] for w in wrong}
    for field, broken in rules:
        if not bad.intersection(('foot_cm', 'head_cm')):
            if broken({**(stored or {}), **out}):
                keys = list(body)
                wrong.append((keys.index(field) if field in keys else 1 << 20, field, 'value'))
    if wrong:
        wrong.sort(key=lambda w: w[0])
        what, place = wrong[0][2], wrong[0][1]
        code = {'missing': 'left_out', 'unknown': 'stray', 'read_only': 'not_yours'}.get(what, 'ill_fitting')
        if fault('x-left-out-misnamed') and code == 'left_out':
            code = 'ill_fitting'
        places = [w[1] for w in wrong]
        if fault('z-new-names'):
            places = [{'length': 'metres', 'width': 'width_cm'}.get(p, p) for p in places]
        raise Refusal(code, places, name=place[:200])
    return out


def batter(next_):
    if fault('r-batter-equal'):
        return next_['head_cm'] > next_['foot_cm']
    return next_['head_cm'] >= next_['foot_cm']


# ---------------------------------------------------------------- rates, quotas
FIXED = {}
SLIDING = {}


def pace(req):
    """Counts the request, or refuses it; tells of the strictest rate."""
    now = CLOCK.now()
    c = req.caller
    who = c.key if c else ('address', req.address)
    start, n = FIXED.get(who, (0, 0))
    if now - start >= MINUTE:
        start, n = now, 0
    limit = 241 if fault('l-one-more') else 240
    told = []
    waits = []
    if n >= limit:
        waits.append(start + MINUTE - now)
    told.append([240, max(0, 240 - n), start + MINUTE - now])
    sliding = None
    if c and c.user == 'farmer' and req.op == 'create gap':
        sliding = SLIDING.setdefault(c.key, collections.deque())
        while sliding and sliding[0] <= now - HOUR:
            sliding.popleft()
        if len(sliding) >= 30:
            waits.append(sliding[0] + HOUR - now)
        told.append([30, max(0, 30 - len(sliding)), (sliding[0] if sliding else now) + HOUR - now])
    if not waits:
        FIXED[who] = (start, n + 1)
        if sliding is not None:
            sliding.append(now)
        for t in told:
            t[1] = max(0, t[1] - 1)
    strictest = min(told, key=lambda t: t[1])
    req.out += [('X-Pace', str(strictest[0])), ('X-Pace-Left', str(strictest[1])), ('X-Pace-Again', str(max(0, -(-strictest[2] // 1000))))]
    if waits:
        raise Refusal('hurried', headers=[] if fault('l-no-retry-after') else [('Retry-After', str(max(1, -(-max(waits) // 1000))))])


CLAIMS = collections.Counter()


def week_of(ms):
    day = ms // DAY
    return day - (day + 3) % 7  # 1970-01-01 was a Thursday


# ---------------------------------------------------------------- endpoints
def find(name, id, caller, missing='no_such'):
    row = ROWS[name].get(id)
    if row is None:
        raise Refusal('no_such')
    if not may_read(name, row, caller):
        if fault('a-told-barred') and name == 'gap':
            raise Refusal('barred')
        raise Refusal('no_such')
    return row


def tag(data):
    if fault('e-tag-own-fields'):
        data = {k: v for k, v in data.items() if k not in ('open_gaps', 'widest_cm', 'minutes_worked')}
    return '"%s"' % hashlib.sha1(json.dumps(data, sort_keys=True).encode()).hexdigest()[:24]


def tags_of(text):
    return [t.strip() for t in text.split(',')]


class Answer(Exception):
    def __init__(self, status, data=None, headers=()):
        self.status, self.data, self.headers = status, data, list(headers)


def made(req, name, row, path):
    base = '' if fault('p-location-base') else '/dale'
    headers = [('Location', '%s/%s/%s' % (base, path, row['id']))]
    return Answer(201, view(name, row, req.caller.user, req.version, reveal=True), headers)


def shown(req, name, row):
    return Answer(200, view(name, row, req.caller.user, req.version))


def read(req, name, row, etag):
    data = view(name, row, req.caller.user, req.version)
    headers = []
    if etag:
        t = tag(data)
        headers.append(('ETag', t))
        inm = req.headers.get('if-none-match')
        if inm is not None and not (fault('e-no-304') and name == 'gap'):
            if inm.strip() == '*' or t in [x[2:] if x.startswith('W/') else x for x in tags_of(inm)]:
                return Answer(304, None, headers)
    return Answer(200, data, headers)


def match(req, name, row, required):
    im = req.headers.get('if-match')
    if im is None:
        if required:
            raise Refusal('tag_wanted')
        return
    if fault('e-match-unread') and name == 'wall':
        return
    if im.strip() == '*':
        return
    if tag(view(name, row, req.caller.user, req.version)) not in tags_of(im):
        raise Refusal('stale')


def page(req, name, rows):
    leaf, lines = req.page
    all_ = len(rows)
    if fault('l-total-of-all'):
        all_ = len(ROWS[name])
    skip = (leaf - 1) * lines
    cut = rows[skip:skip + lines]
    more = skip + lines < len(rows)
    return Answer(200, {'rows': [view(name, r, req.caller.user, req.version) for r in cut], 'in_all': all_, 'more': more})


# walls
def create_wall(req):
    got = take(req.body, 'wall', req.version, rules=[('head_cm', batter)])
    c = req.caller
    if not fault('r-wall-twice') and any(w['parish'] == c.parish and w['name'] == got['name'] for w in ROWS['wall'].values()):
        raise Refusal('taken')
    row = {'id': 'wal_' + rnd(14), 'parish': c.parish, 'entered_at': CLOCK.now(), '_seq': seq(), **got}
    ROWS['wall'][row['id']] = row
    return made(req, 'wall', row, 'walls')


def list_wall(req):
    q = req.query
    rows = [w for w in ROWS['wall'].values() if may_read('wall', w, req.caller)]
    if 'stone' in q:
        rows = [w for w in rows if w['stone'] == q['stone']]
    if 'name' in q:
        rows = [w for w in rows if w['name'].startswith(q['name'])]
    if 'longer_than' in q:
        rows = [w for w in rows if w['metres'] > q['longer_than']]
    sort = q.get('sort', 'name')
    rows.sort(key=lambda w: w['_seq'])
    field = sort.lstrip('-')
    if field == 'length':
        field = 'metres'
    rows.sort(key=lambda w: w[field], reverse=sort[0] == '-' and not fault('e-sort-one-way'))
    return page(req, 'wall', rows)


def read_wall(req):
    return read(req, 'wall', find('wall', req.params['id'], req.caller), True)


def update_wall(req):
    row = find('wall', req.params['id'], req.caller)
    match(req, 'wall', row, True)
    got = take(req.body, 'wall', req.version, stored=row, refuse_read_only=True, rules=[('head_cm', batter)])
    next_ = {**row, **got}
    if any(w is not row and w['parish'] == next_['parish'] and w['name'] == next_['name'] for w in ROWS['wall'].values()):
        raise Refusal('taken')
    change_wall(row, got, req.caller)
    return shown(req, 'wall', row)


def change_wall(row, got, caller):
    was = dict(row)
    for k, v in got.items():
        if v is None:
            row.pop(k, None)
        else:
            row[k] = v
    if was == row:
        return
    if was['name'] != row['name']:
        data = {'wall': row['id'], 'was': was['name'], 'is': row['name']}
        emit('wall.renamed', 'wall', row, lambda u, v: data, caller)
    if row.get('last_mended_at') != was.get('last_mended_at'):
        emit('wall.mended', 'wall', row, lambda u, v: view('wall', row, u, v), caller)


def delete_wall(req):
    row = find('wall', req.params['id'], req.caller)
    if GAPS_OF[row['id']]:
        raise Refusal('held')
    del ROWS['wall'][row['id']]
    return Answer(204)


# gaps
def create_gap(req):
    wall = find('wall', req.params['wall'], req.caller)
    got = take(req.body, 'gap', req.version, bound={'wall': wall['id']})
    row = {'id': 'gap_' + rnd(14), 'wall': wall['id'], 'reporter': req.caller.id, 'reported_at': CLOCK.now(), '_seq': seq(), **got}
    beyond = row['at_metre'] > wall['metres']
    if beyond and not fault('x-beyond-stored'):
        raise Refusal('beyond_wall')
    if taken(wall['id'], row['at_metre'], None):
        raise Refusal('taken')
    counter = '' if fault('r-number-global') else wall['id']
    NUMBER_OF[counter] += 1
    row['number'] = NUMBER_OF[counter]
    ROWS['gap'][row['id']] = row
    GAPS_OF[wall['id']][row['id']] = row
    enter(row, 'reported')
    if beyond:
        raise Refusal('beyond_wall')
    at(row['reported_at'] + 168 * HOUR, linger, row)
    emit('gap.reported', 'gap', row, lambda u, v: view('gap', row, u, v), req.caller)
    return made(req, 'gap', row, 'gaps')


def taken(wall, metre, but):
    return any(g is not but and g['at_metre'] == metre and (g['state'] in OPEN_STATES or fault('r-metre-for-ever')) for g in GAPS_OF[wall].values())


def seen(rows, c):
    if fault('a-waller-sees-all') and c.user == 'waller':
        return list(rows)
    return [g for g in rows if may_read('gap', g, c)]


def gaps_of_wall(req):
    wall = find('wall', req.params['wall'], req.caller)
    rows = seen((ROWS['gap'] if fault('e-all-walls') else GAPS_OF[wall['id']]).values(), req.caller)
    rows.sort(key=lambda g: (g['at_metre'], g['_seq']))
    return page(req, 'gap', rows)


def list_gap(req):
    q = req.query
    rows = seen(ROWS['gap'].values(), req.caller)
    if 'state' in q:
        rows = [g for g in rows if g['state'] in q['state']]
    if 'cause' in q:
        rows = [g for g in rows if g['cause'] == q['cause']]
    if 'since' in q:
        rows = [g for g in rows if g['reported_at'] >= q['since']]
    if 'down' in q:
        rows = [g for g in rows if (g['state'] in OPEN_STATES) == q['down']]
    rows.sort(key=lambda g: (-g['reported_at'], g['_seq']))
    return page(req, 'gap', rows)


def read_gap(req):
    return read(req, 'gap', find('gap', req.params['id'], req.caller), True)


def update_gap(req):
    row = find('gap', req.params['id'], req.caller)
    match(req, 'gap', row, False)
    if fault('x-order'):
        take(req.body, 'gap', req.version, stored=row)
    if row['state'] != 'reported' and not fault('s-patch-any-state'):
        raise Refusal('wrong_state')
    got = take(req.body, 'gap', req.version, stored=row)
    next_ = {**row, **got}
    if next_['at_metre'] > ROWS['wall'][next_['wall']]['metres']:
        raise Refusal('beyond_wall')
    if taken(next_['wall'], next_['at_metre'], row):
        raise Refusal('taken')
    old = row['wall']
    for k, v in got.items():
        if v is None:
            row.pop(k, None)
        else:
            row[k] = v
    if row['wall'] != old:
        del GAPS_OF[old][row['id']]
        GAPS_OF[row['wall']][row['id']] = row
    return shown(req, 'gap', row)


def delete_gap(req):
    row = find('gap', req.params['id'], req.caller)
    if row['state'] not in ('reported', 'dismissed'):
        raise Refusal('wrong_state')
    data = {'gap': row['id'], 'wall': row['wall']}
    emit('gap.withdrawn', 'gap', row, lambda u, v: data, req.caller)
    del ROWS['gap'][row['id']]
    del GAPS_OF[row['wall']][row['id']]
    for s in SHIFTS_OF.pop(row['id'], {}):
        del ROWS['shift'][s]
    return Answer(204)


FROM = {'survey': ('reported',), 'dismiss': ('reported', 'surveyed'), 'claim': ('surveyed',), 'begin': ('claimed',), 'abandon': ('claimed', 'mending'),
        'finish': ('mending',), 'approve': ('mended',)}
TO = {'survey': 'surveyed', 'dismiss': 'dismissed', 'claim': 'claimed', 'begin': 'mending', 'abandon': 'surveyed', 'finish': 'mended', 'approve': 'approved'}
if fault('s-survey-dismissed'):
    FROM['survey'] = ('reported', 'dismissed')
if fault('s-abandon-claimed-only'):
    FROM['abandon'] = ('claimed',)


def transition(verb):
    def act(req):
        c = req.caller
        row = find('gap', req.params['id'], c)
        if verb in ('begin', 'abandon', 'finish') and row.get('waller') != c.id:
            raise Refusal('barred')
        if verb == 'approve' and fault('p-approve-nobody'):
            raise Refusal('barred')
        if row['state'] not in FROM[verb]:
            if verb == 'dismiss' and not fault('x-else-general'):
                raise Refusal('past_dismissing')
            raise Refusal('wrong_state')
        if verb == 'finish' and not minutes_worked(row) and not fault('s-finish-unworked'):
            raise Refusal('nothing_laid')
        got = take(req.body, 'survey', req.version) if verb == 'survey' else {}
        now = CLOCK.now()
        if verb == 'claim':
            counted = ('claimed',) if fault('l-mending-uncounted') else ('claimed', 'mending')
            if sum(1 for g in ROWS['gap'].values() if g.get('waller') == c.id and g['state'] in counted) >= 3:
                raise Refusal('spent')
            week = week_of(now)
            if fault('l-quota-for-ever'):
                week = 0
            if CLAIMS[(c.key, week)] >= 20:
                raise Refusal('spent', headers=[('Retry-After', str(max(1, -(-((week + 7) * DAY - now) // 1000))))])
            CLAIMS[(c.key, week)] += 1
            got = {'waller': c.id, 'claimed_at': now}
        elif verb == 'abandon':
            row.pop('waller', None)
            row.pop('claimed_at', None)
        elif verb == 'finish':
            got = {'mended_at': now}
        was = row['state']
        row.update(got)
        enter(row, TO[verb])
        data = {'gap': row['id'], 'was': was, 'is': row['state']}
        emit('gap.moved', 'gap', row, lambda u, v: data, c)
        if verb == 'approve' and not fault('s-no-then'):
            change_wall(ROWS['wall'][row['wall']], {'last_mended_at': now}, c)
        return shown(req, 'gap', row)
    return act


# shifts
def create_shift(req):
    gap = find('gap', req.params['gap'], req.caller)
    got = take(req.body, 'shift', req.version, bound={'gap': gap['id']})
    if gap.get('waller') != req.caller.id:
        raise Refusal('barred')
    if gap['state'] != 'mending':
        raise Refusal('not_mending')
    if minutes_worked(gap) + got['minutes'] > 2400:
        raise Refusal('over_estimate')
    if any(s['waller'] == req.caller.id and s['day'] == got['day'] for s in SHIFTS_OF[gap['id']].values()):
        raise Refusal('taken')
    row = {'id': 'shf_' + rnd(14), 'gap': gap['id'], 'waller': req.caller.id, '_seq': seq(), **got}
    ROWS['shift'][row['id']] = row
    SHIFTS_OF[gap['id']][row['id']] = row
    emit('shift.worked', 'shift', row, lambda u, v: view('shift', row, u, v), req.caller)
    return made(req, 'shift', row, 'shifts')


def list_shift(req):
    gap = find('gap', req.params['gap'], req.caller)
    rows = [s for s in SHIFTS_OF[gap['id']].values() if may_read('shift', s, req.caller)]
    rows.sort(key=lambda s: (s['day'], s['_seq']))
    return page(req, 'shift', rows)


def read_shift(req):
    return read(req, 'shift', find('shift', req.params['id'], req.caller), False)


def delete_shift(req):
    row = find('shift', req.params['id'], req.caller)
    del ROWS['shift'][row['id']]
    gap = ROWS['gap'][row['gap']]
    gap['_gone'] = gap.get('_gone', 0) + row['minutes']
    del SHIFTS_OF[gap['id']][row['id']]
    return Answer(204)


# hooks
def create_hook(req):
    got = take(req.body, 'hook', req.version)
    c = req.caller
    if sum(1 for h in ROWS['hook'].values() if h['owner'] == c.id) >= (5 if fault('l-five-hooks') else 4):
        raise Refusal('spent')
    row = {'id': 'hok_' + rnd(14), 'owner': c.id, 'secret': 'seal_' + rnd(32, MIXED), '_seq': seq(), '_maker': c, '_version': req.version, '_queues': {},
           '_flying': 0, '_failing_since': None, '_hold': 0, **got}
    ROWS['hook'][row['id']] = row
    return made(req, 'hook', row, 'hooks')


def list_hook(req):
    return page(req, 'hook', [h for h in ROWS['hook'].values() if may_read('hook', h, req.caller)])


def find_hook(req):
    if fault('a-hooks-of-others') and req.params['id'] in ROWS['hook'] and req.op == 'read hook':
        return ROWS['hook'][req.params['id']]
    return find('hook', req.params['id'], req.caller)


def read_hook(req):
    return read(req, 'hook', find_hook(req), False)


def update_hook(req):
    row = find_hook(req)
    got = take(req.body, 'hook', req.version, stored=row)
    if got.get('live') is False:
        row['_queues'].clear()
    if (got.get('live') and not row['live']) or got.get('url', row['url']) != row['url']:
        row['_failing_since'], row['_hold'] = None, 0
    for k, v in got.items():
        if v is None:
            row.pop(k, None)
        else:
            row[k] = v
    return shown(req, 'hook', row)


def delete_hook(req):
    row = find_hook(req)
    del ROWS['hook'][row['id']]
    return Answer(204)


# the chronicle
MARK_KEY = secrets.token_bytes(16)


def seal_mark(query, pos):
    text = json.dumps([query, pos])
    mac = hmac.new(MARK_KEY, text.encode(), hashlib.sha256).digest()[:12]
    return base64.urlsafe_b64encode(mac + json.dumps(pos).encode()).decode().rstrip('=')


def open_mark(query, mark):
    try:
        raw = base64.urlsafe_b64decode(mark + '=' * (-len(mark) % 4))
        pos = json.loads(raw[12:])
        if seal_mark(query, pos) == mark:
            return pos
    except Exception:
        pass
    raise Refusal('no_such_page')


def mark_query(req):
    return [req.version, req.query.get('kind'), req.query.get('about')]


def list_entry(req):
    q = req.query
    rows = list(ROWS['entry'].values())
    for f in ('kind', 'about'):
        if f in q:
            rows = [e for e in rows if e[f] == q[f]]
    rows.sort(key=lambda e: (-e['written_at'], e['_seq']))
    mark, lines = req.page
    if mark is not None:
        rows = [e for e in rows if [-e['written_at'], e['_seq']] > mark]
    cut, more = rows[:lines], len(rows) > lines
    nxt = seal_mark(mark_query(req), [-cut[-1]['written_at'], cut[-1]['_seq']]) if more else None
    return Answer(200, {'entries': [view('entry', e, req.caller.user, req.version) for e in cut], 'next_mark': nxt, 'more': more})


def read_entry(req):
    return read(req, 'entry', find('entry', req.params['id'], req.caller), False)


def read_stones(req):
    return Answer(200, {'stones': list(STONES)})


# ---------------------------------------------------------------- parameters
def one_of(values):
    def parse(v, req):
        if v not in values:
            raise Refusal('odd_question')
        return v
    return parse


def any_text(v, req):
    return v


def whole(v, req):
    if not re.match(r'^-?\d{1,15}\Z', v, re.A):
        raise Refusal('odd_question')
    return int(v)


def moment(v, req):
    t = parse_time(v)
    if t is None:
        raise Refusal('odd_question')
    return t


def truth(v, req):
    if v not in ('true', 'false'):
        raise Refusal('odd_question')
    return v == 'true'


def a_state(v, req):
    if req.version == 'lambing' and not fault('z-enum-filter'):
        if v == 'claimed':
            raise Refusal('odd_question')
        if v == 'taken':
            return 'claimed'
    if v not in STATES:
        raise Refusal('odd_question')
    return v


def wall_sort(v, req):
    length = 'length' if req.version == 'lambing' else 'metres'
    return one_of(('name', '-name', length, '-' + length))(v, req)


class Endpoint:
    def __init__(self, method, path, op, run, users, body=None, params=None, paged=None, scopes=(), once=None, public=False):
        self.method, self.segments, self.op, self.run, self.users = method, path.strip('/').split('/'), op, run, users
        self.body, self.params, self.paged, self.scopes, self.once, self.public = body, params or {}, paged, scopes, once, public


ALL = ('reeve', 'waller', 'farmer')
ENDPOINTS = [
    Endpoint('GET', '/stones', 'read stones', read_stones, ALL, public=True),
    Endpoint('POST', '/walls', 'create wall', create_wall, ('reeve',), body='json', once='may'),
    Endpoint('GET', '/walls', 'list wall', list_wall, ALL, paged='page',
             params={'stone': one_of(STONES), 'name': any_text, 'longer_than': whole, 'sort': wall_sort}),
    Endpoint('GET', '/walls/{id}', 'read wall', read_wall, ALL),
    Endpoint('PATCH', '/walls/{id}', 'update wall', update_wall, ('reeve',), body='patch'),
    Endpoint('DELETE', '/walls/{id}', 'delete wall', delete_wall, ('reeve',)),
    Endpoint('POST', '/walls/{wall}/gaps', 'create gap', create_gap, ('farmer', 'reeve'), body='json', once='must'),
    Endpoint('GET', '/walls/{wall}/gaps', 'gaps of a wall', gaps_of_wall, ALL, paged='page'),
    Endpoint('GET', '/gaps', 'list gap', list_gap, ALL, paged='page', params={'state': a_state, 'cause': one_of(CAUSES), 'since': moment, 'down': truth}),
    Endpoint('GET', '/gaps/{id}', 'read gap', read_gap, ALL),
    Endpoint('PATCH', '/gaps/{id}', 'update gap', update_gap, ('farmer',), body='patch'),
    Endpoint('DELETE', '/gaps/{id}', 'delete gap', delete_gap, ('farmer',)),
    Endpoint('POST', '/gaps/{id}/survey', 'survey gap', transition('survey'), ('reeve',), body='json'),
    Endpoint('POST', '/gaps/{id}/dismiss', 'dismiss gap', transition('dismiss'), ('reeve',)),
    Endpoint('POST', '/gaps/{id}/claim', 'claim gap', transition('claim'), ('waller',)),
    Endpoint('POST', '/gaps/{id}/begin', 'begin gap', transition('begin'), ('waller',)),
    Endpoint('POST', '/gaps/{id}/abandon', 'abandon gap', transition('abandon'), ('waller',)),
    Endpoint('POST', '/gaps/{id}/finish', 'finish gap', transition('finish'), ('waller',)),
    Endpoint('POST', '/gaps/{id}/approve', 'approve gap', transition('approve'), ('reeve',)),
    Endpoint('POST', '/gaps/{gap}/shifts', 'create shift', create_shift, ('waller',), body='json'),
    Endpoint('GET', '/gaps/{gap}/shifts', 'list shift', list_shift, ('waller', 'reeve'), paged='page'),
    Endpoint('GET', '/shifts/{id}', 'read shift', read_shift, ('waller', 'reeve')),
    Endpoint('DELETE', '/shifts/{id}', 'delete shift', delete_shift, ('waller',)),
    Endpoint('POST', '/hooks', 'create hook', create_hook, ALL, body='json'),
    Endpoint('GET', '/hooks', 'list hook', list_hook, ALL, paged='page'),
    Endpoint('GET', '/hooks/{id}', 'read hook', read_hook, ALL),
    Endpoint('PATCH', '/hooks/{id}', 'update hook', update_hook, ALL, body='patch'),
    Endpoint('DELETE', '/hooks/{id}', 'delete hook', delete_hook, ALL),
    Endpoint('GET', '/chronicle', 'list entry', list_entry, ('reeve',), paged='cursor', params={'kind': any_text, 'about': any_text}, scopes=('chronicle',)),
    Endpoint('GET', '/chronicle/{id}', 'read entry', read_entry, ('reeve',), scopes=('chronicle',)),
]
if fault('p-no-read-shift'):
    ENDPOINTS = [e for e in ENDPOINTS if e.op != 'read shift']
BASE = '/api' if fault('p-wrong-base') else '/dale'
BY_PATH = {}
for e in ENDPOINTS:
    BY_PATH.setdefault(tuple('*' if s[0] == '{' else s for s in e.segments), []).append(e)

SUNSET = parse_time('2027-05-01T00:00:00Z')
DEPRECATED = parse_time('2026-09-01T00:00:00Z')


def route(path, version):
    if not path.startswith(BASE + '/'):
        return []
    parts = path[len(BASE) + 1:].split('/')
    found = BY_PATH.get((parts[0], *['*' if i == 1 else p for i, p in enumerate(parts)][1:])) if '' not in parts else None
    found = found or []
    if version == 'lambing' and not fault('z-abandon-early'):
        found = [e for e in found if e.op != 'abandon gap']
    return found


def who(req):
    """The caller that the credentials name, or a refusal."""
    auths, tallies = req.all('authorization'), req.all('x-tally')
    bad_badge = bad_tally = False
    callers = []
    for a in auths:
        prefix, _, key = a.partition(' ')
        c = BADGES.get(key.strip()) if prefix.lower() == 'badge' else None
        bad_badge |= c is None
        callers.append(c)
    for t in tallies:
        c = TALLIES.get(t)
        bad_tally |= c is None
        callers.append(c)
    if len(auths) > 1:
        bad_badge = True
    if len(tallies) > 1:
        bad_tally = True
    if fault('a-one-good') and any(callers):
        bad_badge = bad_tally = False
        callers = [c for c in callers if c][:1]
    good = callers and not bad_badge and not bad_tally and len({c.key for c in callers}) == 1
    if good and fault('p-farmers-unknown') and callers[0].user == 'farmer':
        good = False
    if not good:
        if callers and not bad_badge and not bad_tally:
            bad_badge, bad_tally = bool(auths), bool(tallies)
        h = [('WWW-Authenticate', 'Badge realm="Gapwork"' + (', error="invalid_key"' if bad_badge else '')),
             ('WWW-Authenticate', 'ApiKey realm="Gapwork", in="header", name="X-Tally"' + (', error="invalid_key"' if bad_tally else ''))]
        raise Refusal('stranger', headers=h)
    return callers[0]


def ask(req, ep):
    """Looks at the query: stated parameters and those of pages."""
    pairs = []
    if req.rawquery:
        for piece in req.rawquery.split('&'):
            if not piece:
                continue
            k, _, v = piece.partition('=')
            try:
                pairs.append((unquote_plus(k, errors='strict'), unquote_plus(v, errors='strict')))
            except UnicodeDecodeError:
                raise Refusal('odd_question')
    paging = {'page': ('leaf', 'lines'), 'cursor': ('mark', 'lines')}.get(ep.paged, ())
    pages = {}
    req.query = {}
    for k, v in pairs:
        if k in paging:
            if k in pages:
                raise Refusal('odd_question')
            pages[k] = v
            continue
        parse = ep.params.get(k)
        if parse is None or (k == 'cause' and req.version == 'lambing'):
            raise Refusal('odd_question')
        if k == 'state':
            if fault('e-last-state'):
                req.query[k] = []
            req.query.setdefault(k, []).append(parse(v, req))
        elif k in req.query:
            raise Refusal('odd_question')
        else:
            req.query[k] = parse(v, req)

    def number(text, least=1):
        if not re.match(r'^\d{1,12}\Z', text, re.A) or int(text) < least:
            raise Refusal('no_such_page')
        return int(text)
    if ep.paged == 'page':
        lines = number(pages.get('lines', '10'))
        if lines > 50:
            raise Refusal('no_such_page')
        req.page = (number(pages.get('leaf', '1')), lines)
    elif ep.paged == 'cursor':
        lines = min(100, number(pages.get('lines', '20')))
        req.page = (open_mark(mark_query(req), pages['mark']) if 'mark' in pages else None, lines)
    if ep.once:
        req.once = req.headers.get('once-key')
        if not req.once:
            req.once = None
            if ep.once == 'must':
                raise Refusal('odd_question')


def no_constant(_):
    raise ValueError


def read_body(req, ep):
    if ep.body is None:
        if req.too_big:
            raise Refusal('too_big')
        return
    kind = req.headers.get('content-type')
    if not req.raw and not req.too_big:
        raise Refusal('garbled')
    base = (kind or '').split(';')[0].strip().lower()
    if base != 'application/json' and not (ep.body == 'patch' and base == 'application/merge-patch+json'):
        raise Refusal('wrong_media')
    if req.too_big:
        raise Refusal('too_big')
    try:
        req.body = json.loads(req.raw.decode('utf-8'), parse_constant=no_constant)
    except (ValueError, RecursionError):
        raise Refusal('garbled')


ONCE = {}


class Request:
    def __init__(self, method, target, headers, address):
        self.method, self.target, self.list, self.address = method, target, headers, address
        self.headers = dict(reversed(headers))
        self.path, _, self.rawquery = target.partition('?')
        self.raw, self.too_big, self.caller, self.version, self.op = b'', False, None, 'tupping', None
        self.out, self.body, self.query, self.params, self.once, self.page = [], None, {}, {}, None, None
        self.ref = secrets.token_hex(8)
        self.deprecated = False

    def all(self, name):
        return [v for k, v in self.list if k == name]


def serve(req):
    run_due(CLOCK.now())
    try:
        answer = steps(req)
    except Refusal as r:
        answer = refused(req, r)
    except Exception:
        answer = refused(req, Refusal('broken'))
    return answer


def refused(req, r):
    status, text = CODES[r.code]
    if r.code == 'once_reused' and fault('x-once-422'):
        status = 422
    trouble = {'code': r.code, 'says': text.replace('{name}', r.name), 'at': req.path}
    if r.wrong is not None:
        trouble['wrong'] = [{'place': p} for p in r.wrong]
    trouble['ref'] = req.ref
    headers = r.headers if fault('x-no-trouble-header') else r.headers + [('X-Gapwork-Trouble', r.code)]
    return Answer(status, {'trouble': trouble}, headers)


def steps(req):
    asked = req.all('dale-edition')
    known = True
    if asked:
        if len(asked) == 1 and asked[0] in SHAPES:
            req.version = asked[0]
        else:
            known = False
    req.deprecated = req.version == 'lambing'
    if len(req.target) > 1024:
        raise Refusal('long_address')
    if sum(len(k) + len(v) + 4 for k, v in req.list) > 8192:
        raise Refusal('long_headers')
    found = route(req.path, req.version)
    if not found:
        raise Refusal('no_path')
    methods = {e.method for e in found}
    if 'GET' in methods:
        methods.add('HEAD')
    methods.add('OPTIONS')
    allow = ', '.join(sorted(methods))
    if req.method not in methods:
        raise Refusal('no_way', headers=[('Allow', allow)])
    if not known:
        raise Refusal('no_edition')
    if req.version == 'lambing' and CLOCK.now() >= SUNSET and not fault('z-no-sunset'):
        raise Refusal('old_edition')
    if req.method == 'OPTIONS':
        return Answer(204, None, [('Allow', allow)])
    method = 'GET' if req.method == 'HEAD' else req.method
    ep = next(e for e in found if e.method == method)
    req.op = ep.op
    parts = req.path[len(BASE) + 1:].split('/')
    for s, p in zip(ep.segments, parts):
        if s[0] == '{':
            req.params[s[1:-1]] = unquote(p)
    if not ep.public:
        req.caller = who(req)
        if req.caller.user not in ep.users:
            raise Refusal('barred')
        if ep.scopes and not req.caller.scopes.issuperset(ep.scopes) and not (fault('a-no-scope')):
            raise Refusal('narrow_badge')
    if fault('a-no-scope') and ep.scopes:
        req.caller = Caller(req.caller.user, req.caller.id, req.caller.parish, ['chronicle'])
    pace(req)
    ask(req, ep)
    read_body(req, ep)
    if not req.once:
        return ep.run(req)
    # one key = caller + operation
    now = CLOCK.now()
    key = (req.caller.key, ep.op, req.once)
    print_ = hashlib.sha256(json.dumps([req.path, req.rawquery, req.version, req.body], sort_keys=True).encode()).digest()
    kept = ONCE.get(key)
    if kept and kept[2] > now and not fault('e-once-again'):
        if kept[0] != print_:
            raise Refusal('once_reused')
        a = kept[1]
        return Answer(a.status, a.data, a.headers)
    try:
        answer = ep.run(req)
    except Refusal as r:
        if r.code not in OWN:
            raise
        answer = refused(req, r)
    ONCE[key] = (print_, answer, now + 12 * HOUR)
    if len(ONCE) > 20000:
        for k in [k for k, v in ONCE.items() if v[2] <= now]:
            del ONCE[k]
    return answer


REASON = {200: 'OK', 201: 'Created', 204: 'No Content', 304: 'Not Modified', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found',
          405: 'Method Not Allowed', 408: 'Request Timeout', 409: 'Conflict', 410: 'Gone', 412: 'Precondition Failed', 413: 'Content Too Large', 414: 'URI Too Long',
          415: 'Unsupported Media Type', 416: 'Range Not Satisfiable', 422: 'Unprocessable Content', 428: 'Precondition Required', 429: 'Too Many Requests',
          431: 'Request Header Fields Too Large', 500: 'Internal Server Error', 503: 'Service Unavailable'}


def write_answer(req, a, close):
    lines = ['HTTP/1.1 %d %s' % (a.status, REASON.get(a.status, 'Unknown')), 'Date: ' + http_date(CLOCK.now())]
    body = b''
    if a.data is not None and a.status not in (204, 304):
        body = json.dumps(a.data).encode()
        lines.append('Content-Type: application/json')
    if a.status not in (204, 304):
        lines.append('Content-Length: %d' % len(body))
    lines.append('X-Gapwork-Ref: ' + req.ref)
    lines.append('Dale-Edition: ' + req.version)
    lines.append('Vary: Dale-Edition, Authorization, X-Tally')
    if req.deprecated:
        lines.append('Deprecation: @%d' % (DEPRECATED // 1000))
        lines.append('Sunset: ' + http_date(SUNSET))
        lines.append('Link: <https://gapwork.example/editions>; rel="deprecation", <%s>; rel="successor-version"' % req.target)
    for k, v in req.out + a.headers:
        lines.append('%s: %s' % (k, v))
    if close:
        lines.append('Connection: close')
    if req.method == 'HEAD':
        body = b''
    return ('\r\n'.join(lines) + '\r\n\r\n').encode('latin-1') + body


# ---------------------------------------------------------------- the door
TOKEN = re.compile(rb"^[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
BODY_MAX = 1 << 24 if fault('l-any-size') else 4096


class Door(asyncio.Protocol):
    """HTTP/1.1: reads requests one after the other, answers each before it reads on."""

    def __init__(self, handler):
        self.handler = handler
        self.buf = bytearray()
        self.req = None
        self.stage = 'head'

    def connection_made(self, transport):
        self.t = transport
        self.address = (transport.get_extra_info('peername') or ('?',))[0]
        self.loop = asyncio.get_running_loop()
        self.timer = self.loop.call_later(30, self.idle)
        self.started = False

    def connection_lost(self, exc):
        self.timer.cancel()

    def idle(self):
        self.t.close()

    def slow(self):
        req = self.req or Request('GET', '/', [], self.address)
        self.t.write(write_answer(req, refused(req, Refusal('too_slow')), True))
        self.t.close()

    def begin(self):
        if not self.started:
            self.started = True
            self.timer.cancel()
            self.timer = self.loop.call_later(5, self.slow)

    def end(self):
        self.started = False
        self.timer.cancel()
        self.timer = self.loop.call_later(30, self.idle)

    def data_received(self, data):
        self.buf += data
        try:
            while not self.t.is_closing() and self.buf and self.step():
                pass
        except Exception:
            self.t.close()

    def fail(self, code):
        req = Request('GET', '/', [], self.address)
        self.t.write(write_answer(req, refused(req, Refusal(code)), True))
        self.t.close()

    def step(self):
        if self.stage == 'head':
            while self.buf[:2] == b'\r\n' and not self.started:
                del self.buf[:2]
            if not self.buf:
                return False
            self.begin()
            end = self.buf.find(b'\r\n\r\n')
            if end < 0:
                if len(self.buf) > 65536:
                    line = self.buf.find(b'\r\n')
                    self.fail('long_address' if line < 0 or line > 60000 else 'long_headers')
                return False
            lines = bytes(self.buf[:end]).split(b'\r\n')
            del self.buf[:end + 4]
            first = lines[0].split(b' ')
            if len(first) != 3 or not first[2].startswith(b'HTTP/1.') or not TOKEN.match(first[0]):
                self.fail('garbled')
                return False
            headers = []
            for l in lines[1:]:
                k, colon, v = l.partition(b':')
                if not colon or not TOKEN.match(k):
                    self.fail('garbled')
                    return False
                headers.append((k.decode().lower(), v.strip().decode('latin-1')))
            target = first[1].decode('latin-1')
            if target.startswith('http://'):
                target = '/' + target[7:].partition('/')[2]
            self.req = Request(first[0].decode(), target, headers, self.address)
            h = self.req.headers
            c = h.get('connection', '').lower()
            self.close = 'close' in c or (first[2] == b'HTTP/1.0' and 'keep-alive' not in c)
            self.got = 0
            if h.get('transfer-encoding', '').lower() == 'chunked':
                self.stage = 'size'
            elif 'content-length' in h:
                if not h['content-length'].isdigit():
                    self.fail('garbled')
                    return False
                self.left = int(h['content-length'])
                self.stage = 'body'
            else:
                return self.done()
            if h.get('expect', '').lower() == '100-continue':
                self.t.write(b'HTTP/1.1 100 Continue\r\n\r\n')
            if self.stage == 'body' and self.left == 0:
                return self.done()
            return True
        if self.stage in ('body', 'chunk'):
            piece = bytes(self.buf[:self.left])
            del self.buf[:len(piece)]
            self.left -= len(piece)
            self.take(piece)
            if self.left:
                return False
            if self.stage == 'body':
                return self.done()
            self.stage = 'crlf'
            return True
        end = self.buf.find(b'\r\n')
        if end < 0:
            return False
        line = bytes(self.buf[:end])
        del self.buf[:end + 2]
        if self.stage == 'crlf':
            self.stage = 'size'
        elif self.stage == 'size':
            self.left = int(line.split(b';')[0].strip(), 16)
            self.stage = 'chunk' if self.left else 'trailer'
        elif self.stage == 'trailer' and not line:
            return self.done()
        return True

    def take(self, piece):
        self.got += len(piece)
        if self.got > BODY_MAX:
            self.req.too_big, self.req.raw = True, b''
            if self.got > 16 << 20:
                self.close = True
                self.left = 0
        else:
            self.req.raw += piece

    def done(self):
        req, self.req, self.stage = self.req, None, 'head'
        self.end()
        self.t.write(self.handler(req, self.close))
        if self.close:
            self.t.close()
            return False
        return True


def service(req, close):
    return write_answer(req, serve(req), close)


# ---------------------------------------------------------------- the door of the clock
DURATION = re.compile(r'^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$')


def later(ms, text):
    m = DURATION.match(text)
    if not m:
        return None
    y, mo, w, d, h, mi = [int(x or 0) for x in m.groups()[:6]]
    s = float(m[7] or 0)
    if y or mo:
        dt = datetime.fromtimestamp(ms // 1000, timezone.utc)
        months = dt.year * 12 + dt.month - 1 + y * 12 + mo
        year, month = divmod(months, 12)
        day = min(dt.day, calendar.monthrange(year, month + 1)[1])
        dt = dt.replace(year=year, month=month + 1, day=day)
        ms = calendar.timegm(dt.timetuple()) * 1000 + ms % 1000
    return ms + (w * 7 + d) * DAY + h * HOUR + mi * MINUTE + int(s * 1000)


def move(to):
    """As if the time went by: what falls due on the way is done at its own time."""
    run_due(CLOCK.now())
    while TIMERS and TIMERS[0][0] <= to:
        CLOCK.set(TIMERS[0][0])
        run_due(max(CLOCK.now(), TIMERS[0][0]))
    CLOCK.set(to)
    run_due(CLOCK.now())


def clock_door(req, close):
    def reply(status, data):
        body = json.dumps(data).encode()
        return ('HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n' % (
            status, REASON.get(status, 'x'), len(body), 'Connection: close\r\n' if close else '')).encode() + body
    if req.method == 'GET':
        return reply(200, {'now': iso(CLOCK.now())})
    if req.method != 'POST':
        return reply(400, {'error': 'GET or POST'})
    try:
        body = json.loads(req.raw.decode())
        if not isinstance(body, dict) or len(body) != 1:
            raise ValueError
        if isinstance(body.get('advance'), str):
            to = later(CLOCK.now(), body['advance'])
        elif isinstance(body.get('now'), str):
            to = parse_time(body['now'])
        else:
            raise ValueError
        if to is None:
            raise ValueError
    except (ValueError, OverflowError):
        return reply(400, {'error': 'an advance, or a now'})
    if to < CLOCK.now():
        return reply(422, {'error': 'that time has passed'})
    move(to)
    return reply(200, {'now': iso(CLOCK.now())})


async def main():
    loop = asyncio.get_running_loop()
    a = await loop.create_server(lambda: Door(service), '127.0.0.1', ARGS.port, backlog=512)
    b = await loop.create_server(lambda: Door(clock_door), '127.0.0.1', ARGS.clock_port)
    async with a, b:
        while True:
            await asyncio.sleep(0.1)
            run_due(CLOCK.now())


try:
    asyncio.run(main())
except KeyboardInterrupt:
    pass
