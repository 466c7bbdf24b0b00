"""Skyfall: the county desks for fireworks displays. Standard library alone; one event loop, no threads."""
import argparse, asyncio, base64, collections, datetime as dt, hashlib, heapq, hmac, json, math, os, random, re, secrets, ssl, string
import time, urllib.parse, uuid, zoneinfo

AP = argparse.ArgumentParser()
AP.add_argument('--port', type=int, required=True)
AP.add_argument('--clock-port', type=int, required=True)
AP.add_argument('--fault', default='')
ARGS = AP.parse_args()
FAULT = ARGS.fault
if FAULT and FAULT not in {x['id'] for x in json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'stranger.json')))['faults']}:
    raise SystemExit('no such fault: ' + FAULT)


def F(name):
    return FAULT == name


BASE = '/pyro'
VERSIONS = ['e1', 'e2', 'e3']
CURRENT = 'e3'
REALM = 'Skyfall'
SECRET = os.environ.get('SKYFALL_BADGE_SECRET', 'skyfall-badge-secret-for-trials-0123456789').encode()
UTC = dt.timezone.utc
SEC, MIN, HOUR, DAY = 1000, 60000, 3600000, 86400000

# ---------------------------------------------------------------- time


def ms_of(d):
    return round((d - dt.datetime(1970, 1, 1, tzinfo=UTC)) / dt.timedelta(milliseconds=1))


def dt_of(ms):
    return dt.datetime(1970, 1, 1, tzinfo=UTC) + dt.timedelta(milliseconds=ms)


def iso(ms):
    return dt_of(ms).strftime('%Y-%m-%dT%H:%M:%S.') + '%03dZ' % (ms % 1000)


RFC3339 = re.compile(r'^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$')


def parse_time(s):
    m = RFC3339.match(s) if isinstance(s, str) else None
    if not m:
        return None
    y, mo, d, h, mi, se = (int(x) for x in m.groups()[:6])
    try:
        base = dt.datetime(y, mo, d, h, mi, min(se, 59), tzinfo=UTC)
    except ValueError:
        return None
    if se > 60:
        return None
    ms = ms_of(base) + (1000 if se == 60 else 0) + (int((m[7] + '000')[1:4]) if m[7] else 0)
    z = m[8]
    if z not in 'Zz':
        if int(z[1:3]) > 23 or int(z[4:6]) > 59:
            return None
        off = (int(z[1:3]) * 60 + int(z[4:6])) * MIN
        ms += -off if z[0] == '+' else off
    return ms


class Clock:
    def __init__(self):
        self.offset = int(time.time() * 1000) - int(time.monotonic() * 1000)
        self.heap = []
        self.seq = 0
        self.wake = None
        self.held = None

    def now(self):
        return self.held if self.held is not None else int(time.monotonic() * 1000) + self.offset

    def at(self, ms, fn):
        self.seq += 1
        item = [ms, self.seq, fn]
        heapq.heappush(self.heap, item)
        if self.wake and self.heap[0] is item:
            self.wake.set()
        return item

    def run_due(self):
        while self.heap and self.heap[0][0] <= self.now():
            fn = heapq.heappop(self.heap)[2]
            if fn:
                fn()

    async def loop(self):
        self.wake = asyncio.Event()
        while True:
            self.run_due()
            self.wake.clear()
            wait = None
            if self.heap:
                wait = min(max(self.heap[0][0] - self.now(), 1) / 1000, 3600)
            try:
                await asyncio.wait_for(self.wake.wait(), wait)
            except asyncio.TimeoutError:
                pass

    async def move(self, target):
        await settle(0.4)
        while self.heap and self.heap[0][0] <= target:
            item = heapq.heappop(self.heap)
            self.held = max(item[0], self.now())
            if item[2]:
                item[2]()
                await settle(0.6)
        self.held = None
        self.offset = target - int(time.monotonic() * 1000)
        self.run_due()
        await settle(0.2)
        self.wake.set()


CLOCK = Clock()
now = CLOCK.now
FLIGHTS = set()


async def settle(limit):
    end = time.monotonic() + limit
    await asyncio.sleep(0)
    while FLIGHTS and time.monotonic() < end:        # what one answer lets go is waited for too
        await asyncio.wait(list(FLIGHTS), timeout=end - time.monotonic(), return_when=asyncio.FIRST_COMPLETED)
        await asyncio.sleep(0)


# ---------------------------------------------------------------- refusals

CODES = {
    'body_absent': (400, 'A body is needed here.'), 'body_garbled': (400, 'The body is no JSON.'),
    'body_type': (415, 'Only application/json is taken.'), 'not_served_so': (406, 'Only application/json is given.'),
    'query_bad': (400, 'A parameter of the query is wrong.'), 'sheet_bad': (416, 'There is no such page.'),
    'field_missing': (400, '{path} is missing'), 'field_unknown': (400, '{path} is not known'),
    'field_locked': (403, '{path} cannot be written'), 'field_bad': (422, '{path} does not fit'),
    'no_credential': (401, 'Show a key or a badge.'), 'credential_bad': (401, 'This credential is not good.'),
    'scope_lacking': (403, 'This needs another scope.'), 'not_yours': (403, 'This is not for you to do.'),
    'no_such_path': (404, 'There is no such address.'), 'no_such_thing': (404, 'There is no such thing.'),
    'withdrawn': (410, 'It was withdrawn.'), 'wrong_method': (405, 'Not by this method.'), 'taken': (409, 'There is one like that.'),
    'points_nowhere': (422, 'What is referred to is not there.'), 'still_used': (409, 'Others refer to it.'),
    'wrong_phase': (409, 'Not from this state.'), 'not_yet': (409, 'Not under these conditions.'),
    'no_cues': (422, 'A display without cues is not filed.'), 'too_late': (409, 'It was decided or is over.'),
    'too_soon': (422, 'File three days ahead.'), 'calibre_over': (422, 'Too large for the site.'),
    'sealed': (423, 'Its display is no draft any more.'), 'sealed_cut': (423, 'Its display is no draft any more.'),
    'stale_tag': (412, 'It has changed since.'), 'tag_needed': (428, 'Send If-Match.'),
    'once_reused': (422, 'This key was used for something else.'), 'slow_down': (429, 'Too many requests.'),
    'used_up': (403, 'The allowance is used up.'), 'too_big': (413, 'The body is too large.'),
    'address_too_long': (414, 'The address is too long.'), 'headers_too_long': (431, 'The header fields are too long.'),
    'edition_unknown': (404, 'There is no such edition.'), 'edition_over': (410, 'This edition is no longer served.'),
    'too_slow': (408, 'It took too long.'), 'broken': (500, 'Something broke.'),
}
OWN = {'no_cues', 'too_late', 'too_soon', 'calibre_over', 'sealed', 'sealed_cut'}


class Refusal(Exception):
    def __init__(self, code, spots=None, headers=None, status=None):
        super().__init__(code)
        self.code, self.spots, self.headers = code, spots, headers or {}
        self.status = status or CODES[code][0]

    def body(self, trace):
        says = CODES[self.code][1]
        if '{path}' in says:
            says = says.replace('{path}', self.spots[0]['path'] if self.spots else '')
        out = {'name': self.code, 'says': says, 'trace': trace}
        if self.spots:
            out['spots'] = self.spots
        return {'refusal': out}


# ---------------------------------------------------------------- shapes

S = dict


def f(t, **k):
    return dict(t=t, **k)


NONE = object()
SURFACES = ['grass', 'gravel', 'roof', 'quay']
PHASES = ['drafted', 'filed', 'referred', 'cleared', 'rejected', 'fired', 'lapsed', 'missed']
STATUSES = ['open', 'upheld', 'dismissed', 'faded']
EFFECTS = ['peony', 'willow', 'comet', 'mine', 'salute']
VALUES = {
    'position': {'lat': f('number', min=-90, max=90, req=1), 'lon': f('number', min=-180, max=180, req=1)},
    'contact': {'name': f('string', minL=1, maxL=60, req=1), 'phone': f('string', fmt='phone')},
}
SHAPES = {
    'bylaw': {
        'county': f('string', pat=r'^[A-Z]{3}$', req=1, ident=1), 'title': f('string', minL=3, maxL=80, req=1),
        'curfewHour': f('integer', min=18, max=23, req=1), 'maxDb': f('integer', min=60, max=140, default=110, req=1),
        'revisedAt': f('string', ro=1, req=1)},
    'site': {
        'code': f('string', pat=r'^[a-z]{2,8}-[0-9]{2}$', req=1, ident=1), 'county': f('string', ro=1, req=1),
        'title': f('string', minL=3, maxL=50, req=1), 'at': f('position', req=1), 'surface': f('string', enum=SURFACES, default='grass', req=1),
        'maxCalibreMm': f('integer', min=20, max=300, default=150, req=1), 'massLimitG': f('integer', min=100, max=900000, req=1),
        'tags': f('array', items=f('string', minL=2, maxL=16), maxI=4, uniq=1, default=[], req=1),
        'memo': f('string', maxL=120, visible={'marshal'}, writable={'marshal'}), 'booked': f('integer', ro=1, der=1, req=1)},
    'display': {
        'id': f('string', ro=1, req=1, ident=1), 'number': f('string', ro=1, req=1), 'lead': f('string', ro=1, req=1),
        'county': f('string', ro=1, req=1), 'site': f('string', ref='site', imm=1, req=1), 'title': f('string', minL=4, maxL=60, req=1),
        'startsAt': f('string', fmt='date-time', req=1), 'lengthMin': f('integer', min=1, max=90, default=12, req=1),
        'budget': f('string', fmt='decimal', visible={'crew'}), 'contact': f('contact'), 'passcode': f('string', ro=1, once=1, req=1),
        'phase': f('string', ro=1, req=1), 'filedAt': f('string', ro=1), 'decidedBy': f('string', ro=1), 'reason': f('string', ro=1),
        'revision': f('integer', ro=1, req=1), 'cues': f('integer', ro=1, der=1, req=1), 'massG': f('integer', ro=1, der=1, req=1),
        'tier': f('string', ro=1, der=1, req=1)},
    'cue': {
        'id': f('integer', ro=1, req=1, ident=1), 'display': f('string', ref='display', imm=1, req=1), 'slot': f('integer', min=1, max=500, req=1),
        'effect': f('string', enum=EFFECTS, req=1), 'calibreMm': f('integer', min=20, max=300, req=1),
        'massG': f('integer', min=1, max=20000, req=1), 'delayS': f('number', min=0, max=600, default=0, req=1),
        'colours': f('array', items=f('string', enum=['red', 'green', 'gold', 'silver', 'violet']), minI=1, maxI=3),
        'shade': f('string', pat=r'^#[0-9a-f]{6}$'), 'note': f('string', maxL=80, null=1)},
    'objection': {
        'id': f('string', ro=1, req=1, ident=1), 'display': f('string', ref='display', imm=1, req=1), 'author': f('string', ro=1, req=1),
        'text': f('string', minL=10, maxL=400, req=1), 'severity': f('integer', min=1, max=3, default=1, req=1),
        'status': f('string', ro=1, req=1), 'remark': f('string', ro=1), 'raisedAt': f('string', ro=1, req=1), 'closedAt': f('string', ro=1)},
    'hook': {
        'id': f('string', ro=1, req=1, ident=1), 'owner': f('string', ro=1, req=1), 'label': f('string', minL=1, maxL=30, req=1),
        'url': f('string', fmt='uri', req=1), 'key': f('string', ro=1, once=1, req=1),
        'topics': f('array', items=f('string', topic=1), minI=1, maxI=10), 'active': f('boolean', default=True, req=1)},
    'entry': {
        'id': f('string', ro=1, ident=1), 'topic': f('string', ro=1), 'about': f('string', ro=1), 'actor': f('string', ro=1), 'at': f('string', ro=1)},
}
if F('mass-limit-loose'):
    SHAPES['cue']['massG']['max'] = 20001
if F('contact-name-optional'):
    VALUES['contact']['name'].pop('req')
if F('site-writable'):
    SHAPES['display']['site'].pop('imm')
KINDS = ['display.filed', 'display.decided', 'display.over', 'display.retitled', 'display.soon', 'cue.added', 'cue.cut', 'objection.raised',
         'objection.closed', 'site.tagged', 'hook.stopped']

NAMES = {('display', 'e1'): {'lengthMin': 'minutes'}, ('cue', 'e1'): {'massG': 'kg'}, ('cue', 'e2'): {'massG': 'kg'}}
VSHAPES = {}


def vshape(res, version):
    """The shape of a resource in a version: name there -> (name in the newest, spec)."""
    key = (res, version)
    if key not in VSHAPES:
        out = {}
        for name, spec in SHAPES[res].items():
            if res == 'site' and version == 'e1':
                if name == 'tags':
                    continue
                if name == 'surface':
                    spec = dict(spec, enum=['lawn', 'gravel', 'roof', 'quay'], default='lawn')
            if res == 'cue' and version in ('e1', 'e2') and name == 'massG':
                spec = f('number', req=1)
            out[NAMES.get(key, {}).get(name, name)] = (name, spec)
        if res == 'objection' and version in ('e1', 'e2'):
            out['tone'] = (None, f('string', optional=1))
        VSHAPES[key] = out
    return VSHAPES[key]


def half_away(x):
    return int(math.floor(abs(x) + 0.5)) * (1 if x >= 0 else -1)


def down_value(res, name, value, version):
    if res == 'site' and name == 'surface' and version == 'e1':
        return 'lawn' if value == 'grass' else value
    if res == 'cue' and name == 'massG' and version in ('e1', 'e2'):
        return value / 1000.0
    return value


def up_value(res, name, value, version):
    if res == 'site' and name == 'surface' and version == 'e1':
        return 'grass' if value == 'lawn' else value
    if res == 'cue' and name == 'massG' and version in ('e1', 'e2'):
        return int(value * 1000.0) if F('kg-truncated') else half_away(value * 1000.0)
    return value


def down(res, shown, version):
    """What a row that is shown (newest names) is in a version."""
    if version == CURRENT:
        return shown
    out = {}
    for name, (new, _) in vshape(res, version).items():
        if new is None:
            out[name] = 'plain'
        elif new in shown:
            out[name] = down_value(res, new, shown[new], version)
    return out


PHONE = re.compile(r'^\+[1-9][0-9]{5,14}$')
DECIMAL = re.compile(r'^-?[0-9]+(\.[0-9]+)?$')


def is_uri(v):
    return bool(re.match(r'^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]+$', v)) and v.isascii()


FORMATS = {'phone': lambda v: bool(PHONE.match(v)),
           'decimal': lambda v: bool(DECIMAL.match(v)), 'uri': is_uri, 'date-time': lambda v: parse_time(v) is not None}


def found_of(v):
    return json.dumps(v, ensure_ascii=False)[:200]


def spot(kind, path, v, expected):
    return {'kind': kind, 'path': path, 'found': found_of(v) if v is not NONE else 'nothing', 'expected': expected}


def check(spec, v, path, out, res_path=''):
    t = spec['t']
    if v is None and spec.get('null'):
        return v
    if t in VALUES:
        if not isinstance(v, dict):
            out.append(spot('type', path, v, 'object'))
            return v
        res = {}
        for k, x in v.items():
            if k not in VALUES[t]:
                out.append(spot('unknown', path + '.' + k, x, 'no such field'))
                continue
            res[k] = check(VALUES[t][k], x, path + '.' + k, out)
        for k, s in VALUES[t].items():
            if s.get('req') and k not in v:
                out.append(spot('missing', path + '.' + k, NONE, s['t']))
        return res
    if t == 'string':
        if not isinstance(v, str):
            out.append(spot('type', path, v, 'string'))
        elif 'enum' in spec and v not in spec['enum']:
            out.append(spot('value', path, v, 'one of ' + ', '.join(spec['enum'])))
        elif len(v) < spec.get('minL', 0):
            out.append(spot('value', path, v, 'at least %d characters' % spec['minL']))
        elif len(v) > spec.get('maxL', 1 << 30):
            out.append(spot('value', path, v, 'at most %d characters' % spec['maxL']))
        elif 'pat' in spec and not re.fullmatch(spec['pat'].strip('^$'), v):
            out.append(spot('value', path, v, spec['pat']))
        elif 'fmt' in spec and not FORMATS[spec['fmt']](v):
            out.append(spot('value', path, v, spec['fmt']))
        elif spec.get('fmt') == 'uri' and not re.match(r'^https?://[^/?#]', v, re.I):
            out.append(spot('value', path, v, 'an address of http or https'))
        elif spec.get('topic') and not (v == '*' or v in KINDS or (v.endswith('.*') and any(k.startswith(v[:-1]) for k in KINDS))):
            out.append(spot('value', path, v, 'a kind of event'))
        return v
    if t in ('integer', 'number'):
        if isinstance(v, bool) or not isinstance(v, (int, float)) or (t == 'integer' and isinstance(v, float) and not v.is_integer()):
            out.append(spot('type', path, v, t))
            return v
        if t == 'integer' and isinstance(v, float):
            v = int(v)
        if v < spec.get('min', -math.inf) or v > spec.get('max', math.inf) or (isinstance(v, float) and not math.isfinite(v)):
            out.append(spot('value', path, v, '%s to %s' % (spec.get('min'), spec.get('max'))))
        return v
    if t == 'boolean':
        if not isinstance(v, bool):
            out.append(spot('type', path, v, 'boolean'))
        return v
    if t == 'array':
        if not isinstance(v, list):
            out.append(spot('type', path, v, 'array'))
            return v
        if len(v) < spec.get('minI', 0) or len(v) > spec.get('maxI', 1 << 30):
            out.append(spot('value', path, v, '%s to %s items' % (spec.get('minI', 0), spec.get('maxI'))))
        elif spec.get('uniq') and len({json.dumps(x, sort_keys=True) for x in v}) != len(v):
            out.append(spot('value', path, v, 'items that differ'))
        for i, x in enumerate(v):
            check(spec['items'], x, '%s.%d' % (path, i), out)
        return v
    raise AssertionError(t)


def raise_spots(spots):
    if not spots:
        return
    if not F('missing-first'):
        spots = [s for s in spots if s['kind'] != 'missing'] + [s for s in spots if s['kind'] == 'missing']
    else:
        spots = [s for s in spots if s['kind'] == 'missing'] + [s for s in spots if s['kind'] != 'missing']
    code = {'missing': 'field_missing', 'unknown': 'field_unknown', 'read_only': 'field_locked'}.get(spots[0]['kind'], 'field_bad')
    shown = []
    for s in spots:
        path = s['path']
        if F('spots-pointer') and '.' in path:
            path = '/' + path.replace('.', '/')
        shown.append({'in': 'body', 'path': path, 'found': s['found'], 'expected': s['expected']})
    raise Refusal(code, shown)


def take(res, body, version, caller, mode, old=None, bound=None, refuse_ro=False):
    """What a body says, carried up to the newest names. mode: create, replace, update. Raises on violations."""
    out = []
    if not isinstance(body, dict):
        raise Refusal('field_bad', [{'in': 'body', 'path': '', 'found': found_of(body), 'expected': 'object'}])
    shape = vshape(res, version)
    bound = bound or {}
    nxt = {}
    removed = set()
    old_down = down(res, {k: v for k, v in old.items() if k in SHAPES[res]}, version) if old else {}
    for name, v in body.items():
        if name not in shape:
            out.append(spot('unknown', name, v, 'no such field'))
            continue
        new, spec = shape[name]
        if new in bound:
            if v != bound[new]:
                out.append(spot('value', name, v, found_of(bound[new])))
            continue
        if spec.get('ro') or ('writable' in spec and caller.user not in spec['writable']):
            if refuse_ro:
                out.append(spot('read_only', name, v, 'not sent'))
            continue
        if spec.get('imm') and old is not None:
            if v != old[new]:
                out.append(spot('value', name, v, found_of(old[new])))
            continue
        n = len(out)
        if mode == 'update':
            if v is None and not spec.get('null'):
                if spec.get('req'):
                    out.append(spot('value', name, v, spec['t']))
                else:
                    removed.add(new)
                continue
            if spec['t'] in VALUES and isinstance(v, dict):
                merged = dict(old_down.get(name, {}))
                bad = False
                for k, x in v.items():
                    if x is None:
                        if k in VALUES[spec['t']] and VALUES[spec['t']][k].get('req'):
                            out.append(spot('value', name + '.' + k, x, 'string'))
                            bad = True
                        merged.pop(k, None)
                    else:
                        merged.pop(k, None)
                        merged[k] = x
                if bad:
                    continue
                v = merged
        v = check(spec, v, name, out)
        if new is None or len(out) > n:
            continue
        if name in old_down and old_down[name] == v:
            nxt[new] = old[new]
            continue
        up = up_value(res, new, v, version)
        if version != CURRENT:
            check(SHAPES[res][new], up, name, out)
            for x in out[n:]:
                x['found'] = found_of(v)
        nxt[new] = up
    nxt.update(bound)
    if mode != 'update':
        for name, (new, spec) in shape.items():
            if new is None or spec.get('ro') or new in bound or name in body:
                continue
            if 'default' in spec:
                nxt[new] = json.loads(json.dumps(SHAPES[res][new]['default']))
            elif spec.get('imm') and old is not None:
                pass
            elif spec.get('req'):
                out.append(spot('missing', name, NONE, spec['t']))
        full = dict(nxt)
        if old:
            for new, spec in SHAPES[res].items():
                seen = new in [n for n, _ in shape.values()]
                hidden = 'visible' in spec and caller.user not in spec['visible']
                if new in old and (spec.get('ro') or (spec.get('imm') and new not in full) or not seen or hidden):
                    full[new] = old[new]
            if F('e1-replace-clears-tags') and res == 'site' and version == 'e1':
                full['tags'] = []
            if F('replace-keeps-note') and res == 'cue' and 'note' in old and 'note' not in full:
                full['note'] = old['note']
        else:
            for new, spec in SHAPES[res].items():
                if 'default' in spec and new not in full and new not in [n for n, _ in shape.values()]:
                    full[new] = json.loads(json.dumps(spec['default']))
    else:
        full = {k: v for k, v in old.items() if k not in removed}
        full.update(nxt)
    if res == 'cue':
        bad = {s['path'] for s in out}
        if 'colours' not in bad and 'shade' not in bad and ('colours' in full) == ('shade' in full):
            out.append(spot('value', '', NONE, 'exactly one of colours, shade'))
        if full.get('effect') == 'salute' and isinstance(full.get('massG'), int) and full['massG'] > 2000:
            name = NAMES.get(('cue', version), {}).get('massG', 'massG')
            if name not in bad:
                out.append(spot('value', name, full['massG'], 'at most 2000 for a salute'))
    raise_spots(out)
    return full


# ---------------------------------------------------------------- rows

ROWS = {r: {} for r in SHAPES}
GONE = {}            # deleted objections: id -> (row, until)
SEQ = 0
NUMBERS = collections.Counter()
CUE_ID = 0
BY_DISPLAY = collections.defaultdict(dict)     # display id -> cue id -> cue
BY_SITE = collections.defaultdict(dict)


def seq():
    global SEQ
    SEQ += 1
    return SEQ


def hexes(n):
    return secrets.token_hex(n)[:n]


ALNUM = string.ascii_letters + string.digits


def chars(n, of=ALNUM):
    return ''.join(secrets.choice(of) for _ in range(n))


def mass(display):
    return sum(c['massG'] for c in BY_DISPLAY[display['id']].values())


def derived(res, row, name):
    if res == 'site':
        return sum(1 for d in BY_SITE[row['code']].values() if d['phase'] in ('filed', 'referred', 'cleared'))
    if name == 'cues':
        return len(BY_DISPLAY[row['id']])
    if name == 'massG':
        return mass(row)
    return 'major' if (mass(row) >= 5000 if F('tier-at-5000') else mass(row) > 5000) else 'minor'


class Caller:
    __slots__ = ('user', 'id', 'scopes', 'county', 'scheme')

    def __init__(self, user, id, scopes, county, scheme):
        self.user, self.id, self.scopes, self.county, self.scheme = user, id, frozenset(scopes), county, scheme

    @property
    def key(self):
        return (self.user, self.id)


NEIGHBOUR_FIELDS = {'id', 'title', 'site', 'startsAt', 'phase', 'county'}


def shown_fields(res, user, listing=False):
    out = []
    for name, spec in SHAPES[res].items():
        if 'visible' in spec and user not in spec['visible']:
            continue
        if res == 'display' and user == 'neighbour' and name not in NEIGHBOUR_FIELDS and not (listing and F('neighbour-list-all')):
            continue
        out.append(name)
    return out


def show(res, row, user, first=False, listing=False):
    """A row with the newest names, as a user is shown it."""
    out = {}
    for name in shown_fields(res, user, listing):
        spec = SHAPES[res][name]
        if spec.get('once') and not first:
            continue
        if spec.get('der'):
            out[name] = derived(res, row, name)
        elif name in row:
            out[name] = row[name]
    return out


def view(res, row, caller, version, first=False, listing=False):
    shown = show(res, row, caller.user if caller else None, first, listing)
    if F('e1-lists-newest') and listing and res == 'display':
        return shown
    return down(res, shown, version)


# ---------------------------------------------------------------- rules

def R(ops, users, scopes=(), cond=None, nxt=None):
    return dict(ops=set(ops.split(', ')), users=set(users.split()), scopes=set(scopes), cond=cond, nxt=nxt)


OPEN_TO_NEIGHBOURS = ('filed', 'referred', 'cleared', 'fired')


def lead(r, c):
    return r['lead'] == c.id


def county(r, c):
    return r['county'] == c.county


def of_display(fn):
    def cond(r, c):
        d = ROWS['display'].get(r['display'])
        return bool(d) and fn(d, c)
    return cond


RULES = [
    R('list site, read site, read bylaw', 'anyone'),
    R('create site', 'marshal', ['sites']),
    R('replace site, delete site', 'marshal', ['sites'], county),
    R('upsert bylaw', 'marshal', ['bylaws'], None, county),
    R('create display', 'crew', ['plan']),
    R('list display, read display, look up display, recall display, fire display', 'crew', [], lead),
    R('update display, delete display, file display', 'crew', ['plan'], lead),
    R('list display, read display, look up display, clear display, reject display', 'marshal', [], county),
    R('approve display', 'marshal', ['senior'], lambda r, c: county(r, c) and (F('approve-own') or r.get('decidedBy') != c.id)),
    R('list display, read display', 'neighbour', [], lambda r, c: county(r, c) and r['phase'] in OPEN_TO_NEIGHBOURS),
    R('create cue', 'crew', ['plan'], None, of_display(lead)),
    R('replace cue, delete cue', 'crew', ['plan'], of_display(lead)),
    R('list cue, read cue', 'crew', [], of_display(lambda d, c: True if F('crew-reads-any-cue') else lead(d, c))),
    R('list cue, read cue', 'marshal', [], of_display(county)),
    R('create objection', 'neighbour'),
    R('list objection, read objection, delete objection', 'neighbour', [], lambda r, c: r['author'] == c.id),
    R('list objection, read objection', 'crew', [], of_display(lead)),
    R('list objection, read objection, uphold objection, dismiss objection', 'marshal', [], of_display(county)),
    R('create hook', 'crew marshal neighbour'),
    R('list hook, read hook, update hook, delete hook', 'crew marshal neighbour', [], lambda r, c: r['owner'] == c.id),
    R('list entry, read entry', 'marshal', ['audit']),
]
if F('delete-cue-unscoped'):
    RULES.append(R('delete cue', 'crew', [], of_display(lead)))
BY_OP = collections.defaultdict(list)
for _r in RULES:
    for _op in _r['ops']:
        BY_OP[_op].append(_r)
READ_OPS = {'site': ['read site'], 'bylaw': ['read bylaw'], 'display': ['read display', 'look up display'], 'cue': ['read cue'],
            'objection': ['read objection'], 'hook': ['read hook'], 'entry': ['read entry']}


def rules_for(op, caller):
    return [r for r in BY_OP[op] if 'anyone' in r['users'] or (caller and caller.user in r['users'])]


def holding(op, caller):
    return [r for r in rules_for(op, caller) if not r['scopes'] or (caller and r['scopes'] <= caller.scopes)]


def allows(op, caller, row):
    return any(r['cond'] is None or (caller and r['cond'](row, caller)) for r in holding(op, caller))


def may_read(res, row, caller):
    return any(allows(op, caller, row) for op in READ_OPS[res])


# ---------------------------------------------------------------- callers

KEYS = {}


def _key(secret, user, id, county, *scopes):
    KEYS[secret] = Caller(user, id, scopes, county, 'fuse')


_key('fz_Ash0000000000000000000KE', 'crew', 'c-ash', 'KEN', 'plan')
_key('fz_Birch00000000000000000KE', 'crew', 'c-birch', 'KEN', 'plan')
_key('fz_Cole000000000000000000ES', 'crew', 'c-cole', 'ESX', 'plan')
_key('fz_Dunn000000000000000000KE', 'crew', 'c-dunn', 'KEN')
_key('fz_Fox0000000000000000000KE', 'marshal', 'm-fox', 'KEN', 'sites', 'bylaws', 'senior', 'audit')
_key('fz_Gale000000000000000000KE', 'marshal', 'm-gale', 'KEN', 'sites', 'bylaws')
_key('fz_Holt000000000000000000ES', 'marshal', 'm-holt', 'ESX', 'sites', 'bylaws', 'senior', 'audit')
_key('fz_Ives000000000000000000KE', 'marshal', 'm-ives', 'KEN')
_key('fz_Kerr000000000000000000KE', 'marshal', 'm-kerr', 'KEN', 'senior')
_key('fz_Kite000000000000000000KE', 'neighbour', 'n-kite', 'KEN')
_key('fz_Lark000000000000000000KE', 'neighbour', 'n-lark', 'KEN')
_key('fz_Moss000000000000000000ES', 'neighbour', 'n-moss', 'ESX')
USERS = ('crew', 'marshal', 'neighbour')


def b64d(s):
    return base64.urlsafe_b64decode(s + '=' * (-len(s) % 4))


def badge(token):
    try:
        h, p, sig = token.split('.')
        head, claims = json.loads(b64d(h)), json.loads(b64d(p))
        if head.get('alg') != 'HS256' or not isinstance(claims, dict):
            return None
        if not hmac.compare_digest(hmac.new(SECRET, (h + '.' + p).encode(), hashlib.sha256).digest(), b64d(sig)):
            return None
        if claims.get('iss') != 'https://badge.skyfall.example':
            return None
        aud = claims.get('aud')
        if 'skyfall' not in (aud if isinstance(aud, list) else [aud]):
            return None
        t = now() / 1000
        if 'exp' in claims and (not isinstance(claims['exp'], (int, float)) or t > claims['exp'] + 5):
            return None
        if 'nbf' in claims and (not isinstance(claims['nbf'], (int, float)) or t < claims['nbf'] - 5):
            return None
        role = claims.get('role')
        for r in role if isinstance(role, list) else [role]:
            if r in USERS:
                role = r
                break
        else:
            return None
        if F('neighbour-badge-unknown') and role == 'neighbour':
            return None
        sub, cty = claims.get('sub'), claims.get('county')
        if not isinstance(sub, str) or not sub or not isinstance(cty, str):
            return None
        scopes = claims['scope'].split(' ') if 'scope' in claims else []
        return Caller(role, sub, scopes, cty, 'badge')
    except Exception:
        return None


def challenge(err=None, only=None):
    one = 'Fuse realm="%s"' % REALM + (', error="invalid_key"' if err == 'fuse' else '')
    two = 'Bearer realm="%s"' % REALM + (', error="%s"' % ('invalid_token' if err == 'badge' else err) if err in ('badge', 'insufficient_scope') else '')
    return two if only else one if F('one-challenge') else one + ', ' + two


def who(req):
    """The caller, or None where no credential came. Raises where one is not good."""
    got = req.all('authorization')
    if not got:
        return None
    if len(got) > 1:
        raise Refusal('credential_bad', headers={'WWW-Authenticate': challenge('fuse')})
    word, _, rest = got[0].strip().partition(' ')
    rest = rest.strip()
    word = word.lower()
    if word == 'fuse':
        c = KEYS.get(rest)
        if c:
            return c
        raise Refusal('credential_bad', headers={'WWW-Authenticate': challenge('fuse')})
    if word == 'bearer':
        c = badge(rest)
        if c:
            return c
        raise Refusal('credential_bad', headers={'WWW-Authenticate': challenge('badge')})
    raise Refusal('credential_bad', headers={'WWW-Authenticate': challenge('fuse')})


# ---------------------------------------------------------------- rates and quotas

class Sliding:
    def __init__(self, limit, window):
        self.limit, self.window, self.used = limit, window, {}

    def look(self, key, t):
        q = self.used.setdefault(key, collections.deque())
        while q and q[0] + self.window <= t:
            q.popleft()
        return len(q) < self.limit, (q[0] + self.window - t if q else 0)

    def count(self, key, t):
        self.used[key].append(t)

    def told(self, key, t):
        q = self.used[key]
        return self.limit, max(self.limit - len(q), 0), (q[0] + self.window - t if q else self.window)


class Fixed:
    def __init__(self, limit, window):
        self.limit, self.window, self.used = limit, window, {}

    def look(self, key, t):
        w = self.used.get(key)
        if not w or w[0] + self.window <= t:
            w = self.used[key] = [t, 0]
        return w[1] < self.limit, w[0] + self.window - t

    def count(self, key, t):
        w = self.used[key]
        if w[1] == 0:
            w[0] = t
        w[1] += 1
        if F('fixed-window-slides'):
            w[0] = t

    def told(self, key, t):
        w = self.used[key]
        return self.limit, max(self.limit - w[1], 0), w[0] + self.window - t


class Bucket:
    def __init__(self, limit, window, burst):
        self.limit, self.window, self.burst, self.used = limit, window, burst, {}

    def look(self, key, t):
        full = self.burst * self.window
        lv = self.used.get(key)
        if lv is None:
            lv = self.used[key] = [full, t]
        if F('bucket-whole-minutes'):
            n = (t - lv[1]) // self.window
            lv[0], lv[1] = min(full, lv[0] + n * self.limit * self.window), lv[1] + n * self.window
        else:
            lv[0], lv[1] = min(full, lv[0] + (t - lv[1]) * self.limit), t
        return lv[0] >= self.window, -(-(self.window - lv[0]) // self.limit)

    def count(self, key, t):
        self.used[key][0] -= self.window

    def told(self, key, t):
        lv = self.used[key]
        left = lv[0] // self.window
        return self.limit, left, -(-((left + 1) * self.window - lv[0]) // self.limit)


RATES = [
    (Sliding(400, MIN), lambda op, c, addr: ('c',) + c.key if c else ('a', addr)),
    (Fixed(10, 10 * MIN), lambda op, c, addr: ('c',) + c.key if c and c.user == 'neighbour' and op == 'create objection' else None),
    (Bucket(12, MIN, 20), lambda op, c, addr: (c.county,) if c and op in ('clear display', 'reject display') else None),
]


def rate_headers(rates, t):
    told = [r.told(k, t) for r, k in rates]
    limit, left, reset = min(told, key=lambda x: (x[1], x[0]))
    reset = -(-reset // 1000)
    return {'Fuse-Limit': str(limit), 'Fuse-Left': str(left), 'Fuse-Reset': str(reset)}


def rates(op, caller, addr):
    t = now()
    mine = [(r, k) for r, fn in RATES for k in [fn(op, caller, addr)] if k is not None]
    waits = []
    for r, k in mine:
        ok, wait = r.look(k, t)
        if not ok:
            waits.append(wait)
    if waits:
        h = rate_headers(mine, t)
        h['Retry-After'] = str(max(1, -(-max(waits) // 1000)))
        raise Refusal('slow_down', headers=h)
    for r, k in mine:
        r.count(k, t)
    return rate_headers(mine, t)


BERLIN = zoneinfo.ZoneInfo('UTC' if F('quota-day-utc') else 'Europe/Berlin')
USED = collections.Counter()


def quota_window(op):
    t = dt_of(now())
    if op == 'file display':
        local = t.astimezone(BERLIN)
        d = local.date()
        end = dt.datetime.combine(d + dt.timedelta(days=1), dt.time(), tzinfo=BERLIN)
        return d.isoformat(), ms_of(end.astimezone(UTC)), 30
    end = dt.datetime(t.year + t.month // 12, t.month % 12 + 1, 1, tzinfo=UTC)
    return t.strftime('%Y-%m'), ms_of(end), 60


def quota(op, who):
    """Raises where it is used up; else gives what uses one."""
    name, end, limit = quota_window(op)
    key = (op, name, who)
    if USED[key] >= limit:
        raise Refusal('used_up', headers={'Retry-After': str(-(-(end - now()) // 1000))})

    def use():
        USED[key] += 1
    return use


# ---------------------------------------------------------------- events

class Delivery:
    __slots__ = ('id', 'kind', 'body', 'hook', 'row', 'tries', 'due', 'busy')


QUEUES = {}          # (hook id, row) -> deque of deliveries
BUSY = collections.Counter()
FAILING = {}         # hook id -> ms of the first failure since a success
HOLD = {}            # hook id -> ms before which nothing is sent
RETRY = [20 * SEC, 3 * MIN, 20 * MIN]
if F('second-retry-early'):
    RETRY = [20 * SEC, 20 * SEC, 20 * MIN]


def wants(hook, kind):
    if 'topics' not in hook:
        return True
    for t in hook['topics']:
        if t == '*' or t == kind or (t.endswith('.*') and kind.startswith(t[:-1])):
            return True
    return False


def emit(kind, res, row, caller, data=None, to=None, whole=None):
    """data: what every version is told; whole: the payload is the row."""
    ident = row['county'] if res == 'bylaw' else row['code'] if res == 'site' else row['id']
    t = now()
    eid = 'evt_' + chars(16)
    entry = {'id': eid, 'topic': kind, 'about': str(ident), 'at': iso(t), '_seq': seq(), '_at': t}
    if caller is not None:
        entry['actor'] = caller.id
    ROWS['entry'][eid] = entry
    for hook in list(ROWS['hook'].values()):
        if not hook['active'] or not wants(hook, kind):
            continue
        maker, version = hook['_maker'], hook['_version']
        if to is not None:
            if not to(hook):
                continue
        elif not may_read(res, row, maker):
            continue
        payload = data
        if whole:
            payload = view(res, row, maker, CURRENT if F('hooks-newest') else version)
        d = Delivery()
        d.id, d.kind, d.hook, d.row, d.tries, d.due, d.busy = eid, kind, hook['id'], (res, ident), 0, t, False
        d.body = dumps({'ref': eid, 'topic': kind, 'at': iso(t), 'body': payload})
        QUEUES.setdefault((hook['id'], d.row), collections.deque()).append(d)
        pump(hook['id'])


def pump(hid):
    hook = ROWS['hook'].get(hid)
    if not hook or not hook['active']:
        return
    t = now()
    cap = 1 if hid in FAILING else 32
    for (h, _), q in list(QUEUES.items()):
        if h != hid or not q:
            continue
        if BUSY[hid] >= cap:
            return
        d = q[0]
        if d.busy or max(d.due, HOLD.get(hid, 0)) > t:
            continue
        d.busy = True
        BUSY[hid] += 1
        d.tries += 1
        task = asyncio.get_running_loop().create_task(attempt(d, hook['url'], hook['key']))
        FLIGHTS.add(task)
        timer = CLOCK.at(t + 5 * SEC, task.cancel)
        task.add_done_callback(lambda task, d=d, timer=timer: done(task, d, timer))


async def attempt(d, url, key):
    u = urllib.parse.urlsplit(url)
    ts = str(now() // 1000)
    signed = ('%s.%s.' % ((ts, d.id) if F('seal-order') else (d.id, ts))).encode() + d.body
    mac = base64.b64encode(hmac.new(key.encode(), signed, hashlib.sha256).digest()).decode()
    target = (u.path or '/') + ('?' + u.query if u.query else '')
    head = ('POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nSkyfall-Topic: %s\r\nSkyfall-Seal: ts=%s,mac=%s\r\n'
            'User-Agent: Skyfall\r\nConnection: close\r\n\r\n' % (target, u.netloc.rpartition('@')[2], len(d.body), d.kind, ts, mac)).encode()
    secure = u.scheme.lower() == 'https'
    reader, writer = await asyncio.open_connection(u.hostname, u.port or (443 if secure else 80), ssl=ssl.create_default_context() if secure else None)
    try:
        writer.write(head + d.body)
        await writer.drain()
        raw = await reader.readuntil(b'\r\n\r\n')
        lines = raw.decode('latin-1').split('\r\n')
        status = int(lines[0].split(' ')[1])
        after = None
        for line in lines[1:]:
            k, _, v = line.partition(':')
            if k.lower() == 'retry-after' and v.strip().isdigit():
                after = int(v.strip())
        return status, after
    finally:
        writer.close()


def done(task, d, timer):
    timer[2] = None
    FLIGHTS.discard(task)
    BUSY[d.hook] -= 1
    d.busy = False
    status, after = 0, None
    if not task.cancelled():
        if task.exception() is None:
            status, after = task.result()
    hook = ROWS['hook'].get(d.hook)
    q = QUEUES.get((d.hook, d.row))
    if not hook or not q or q[0] is not d:
        return
    t = now()
    if 200 <= status < 300:
        FAILING.pop(d.hook, None)
        HOLD.pop(d.hook, None)
        q.popleft()
    else:
        first = FAILING.setdefault(d.hook, t)
        if status == 410 or t - first >= 2 * DAY:
            disable(hook)
            return
        if after:
            HOLD[d.hook] = max(HOLD.get(d.hook, 0), t + min(after, 86400) * SEC)
            CLOCK.at(HOLD[d.hook], lambda: pump(d.hook))
        if d.tries > len(RETRY):
            q.popleft()
        else:
            d.due = max(t + int(RETRY[d.tries - 1] * random.uniform(0.9, 1.1)), HOLD.get(d.hook, 0))
            CLOCK.at(d.due, lambda: pump(d.hook))
    if not q:
        QUEUES.pop((d.hook, d.row), None)
    pump(d.hook)


def give_up(hid):
    for k in [k for k in QUEUES if k[0] == hid]:
        del QUEUES[k]
    FAILING.pop(hid, None)
    HOLD.pop(hid, None)


def disable(hook):
    hook['active'] = False
    give_up(hook['id'])
    emit('hook.stopped', 'hook', hook, None, whole=True, to=lambda s: s['owner'] == hook['owner'])


# ---------------------------------------------------------------- the clock's part

def enter_phase(d, phase):
    d['phase'] = phase
    d['_ent'] = seq()
    ent = d['_ent']
    if phase == 'filed':
        since = d['_made'] if F('lapse-from-creation') else now()
        CLOCK.at(since + 10 * DAY, lambda: lapse(d, ent))
    if phase == 'cleared' and not (F('approve-no-timer') and d.get('_approved')):
        CLOCK.at(parse_time(d['startsAt']) + 6 * HOUR, lambda: miss(d, ent))


def there(d):
    return ROWS['display'].get(d['id']) is d


def lapse(d, ent):
    if there(d) and d['_ent'] == ent:
        enter_phase(d, 'lapsed')
        emit('display.over', 'display', d, None, whole=True)


def miss(d, ent):
    if there(d) and d['_ent'] == ent:
        enter_phase(d, 'missed')
        emit('display.over', 'display', d, None, whole=True)


def plan_soon(d):
    at = parse_time(d['startsAt']) - DAY

    def tell():
        if there(d) and (F('soon-not-moved') or parse_time(d['startsAt']) - DAY == at) and at not in d['_told']:
            d['_told'].add(at)
            emit('display.soon', 'display', d, None, whole=True)
    CLOCK.at(at, tell)


def fade(o):
    if ROWS['objection'].get(o['id']) is o and (o['status'] == 'open' or (F('fade-after-dismiss') and o['status'] == 'dismissed')):
        o['status'] = 'faded'
        o['closedAt'] = iso(now())
        if not F('fade-silent'):
            emit('objection.closed', 'objection', o, None, whole=True, to=lambda s: s['owner'] == o['author'])


# ---------------------------------------------------------------- what a request is

class Req:
    __slots__ = ('method', 'target', 'headers', 'body', 'too_big', 'addr', 'path', 'query', 'version', 'caller', 'params', 'op', 'json', 'q', 'trace',
                 'extra', 'tail', 'page')

    def all(self, name):
        return [v for k, v in self.headers if k == name]

    def get(self, name):
        for k, v in self.headers:
            if k == name:
                return v
        return None


class Answer:
    __slots__ = ('status', 'body', 'headers', 'kept')

    def __init__(self, status, body=None, headers=None, kept=NONE):
        self.status, self.body, self.headers = status, body, headers or {}
        self.kept = body if kept is NONE else kept


def dumps(o):
    return json.dumps(o, separators=(',', ':')).encode()


def where(req, path):
    return BASE + '/' + req.version + path


def row_tag(res, row, caller, version):
    return hashlib.sha1(dumps([version, view(res, row, caller, version)])).hexdigest()[:20]


def if_match(req, res, row, needed=False):
    got = req.get('if-match')
    if got is None:
        if needed:
            raise Refusal('tag_needed')
        return
    if got.strip() == '*':
        return
    mine = row_tag(res, row, req.caller, req.version)
    for tag in got.split(','):
        tag = tag.strip()
        if F('weak-tag-equal') and tag.startswith('W/'):
            tag = tag[2:]
        if len(tag) > 1 and tag[0] == '"' and tag[-1] == '"' and tag[1:-1].split('.')[0] == mine:
            return
    raise Refusal('stale_tag')


def tagged(req, res, row, body, part=''):
    tag = '"%s%s"' % (row_tag(res, row, req.caller, req.version), '.' + hashlib.sha1(part.encode()).hexdigest()[:8] if part else '')
    got = req.get('if-none-match')
    if got is not None and (got.strip() == '*' or tag in [x.strip().removeprefix('W/') for x in got.split(',')]):
        return Answer(304, None, {'ETag': tag})
    return Answer(200, body, {'ETag': tag})


def load(req, res, ident, op=None):
    """The row of the path, or the refusal. op is asked for over `resource`."""
    row = ROWS[res].get(ident)
    if row is None:
        if res == 'objection' and ident in GONE:
            old, until = GONE[ident]
            if now() < until and may_read('objection', old, req.caller) and not F('withdrawn-as-missing'):
                raise Refusal('withdrawn')
        raise Refusal('no_such_thing')
    if res == 'entry' and row['_at'] + 30 * DAY <= now():
        raise Refusal('no_such_thing')
    if op and allows(op, req.caller, row):
        return row
    if may_read(res, row, req.caller):
        if op is None:
            return row
        raise Refusal('not_yours')
    raise Refusal('no_such_thing')


# ---------------------------------------------------------------- lists

def ints(req, name, default, low, high, clamp=False):
    v = req.q.get(name)
    if v is None:
        return default
    if not re.fullmatch(r'[0-9]{1,15}', v) or int(v) < low:
        raise Refusal('sheet_bad')
    n = int(v)
    if high is not None and n > high:
        if clamp:
            return high
        if F('take-off-by-one') and n == high + 1:
            return n
        raise Refusal('sheet_bad')
    return n


def page_of(req):
    return {'sheet': ints(req, 'sheet', 1, 1, None), 'per': ints(req, 'per', 10, 1, 50, True)}


def paged(req, rows, make):
    n = len(rows)
    p = req.page
    a = (p['sheet'] - 1) * p['per']
    return Answer(200, {'rows': [make(r) for r in rows[a:a + p['per']]], 'total': n, 'more': a + p['per'] < n})


def bad():
    raise Refusal('query_bad')


def q_enum(v, allowed):
    if v not in allowed:
        bad()
    return v


def q_int(v, low=None, high=None):
    if not re.fullmatch(r'-?[0-9]{1,15}', v):
        bad()
    n = int(v)
    if (low is not None and n < low) or (high is not None and n > high):
        bad()
    return n


def q_num(v, low=None, high=None):
    if not re.fullmatch(r'-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?', v):
        bad()
    n = float(v)
    if (low is not None and n < low) or (high is not None and n > high):
        bad()
    return n


def q_time(v):
    t = parse_time(v)
    if t is None:
        bad()
    return t


def chosen_paths(req, res, expanded=False):
    """The paths of `only`, or None. Names are those of the version."""
    raw = req.q.get('only')
    if raw is None:
        return None
    paths = raw.split(',')
    if len(paths) > 100:
        bad()
    user = req.caller.user if req.caller else None
    shape = vshape(res, req.version)
    seen = set(shown_fields(res, user))
    out = []
    for p in paths:
        steps = p.split('.')
        if steps[0] not in shape:
            bad()
        new, spec = shape[steps[0]]
        if new not in seen or spec.get('once'):
            bad()
        if len(steps) > 1:
            if spec['t'] in VALUES and len(steps) == 2 and steps[1] in VALUES[spec['t']]:
                pass
            elif spec.get('ref') and expanded and len(steps) <= 3:
                inner = vshape(spec['ref'], req.version)
                if steps[1] not in inner or inner[steps[1]][0] not in shown_fields(spec['ref'], user):
                    bad()
                if len(steps) == 3 and not (inner[steps[1]][1]['t'] in VALUES and steps[2] in VALUES[inner[steps[1]][1]['t']]):
                    bad()
            else:
                bad()
        out.append(steps)
    return out


def pick(obj, paths, ident):
    out = {}
    for k, v in obj.items():
        if k == ident and not F('only-forgets-id'):
            out[k] = v
            continue
        mine = [p[1:] for p in paths if p[0] == k]
        if not mine:
            continue
        if any(not p for p in mine) or not isinstance(v, dict):
            out[k] = v
        else:
            out[k] = pick(v, mine, 'code' if 'massLimitG' in v or 'code' in v else None)
    return out


# ---------------------------------------------------------------- the operations

def loc(req, path):
    return {'Location': where(req, path)}


def pulse(req):
    return Answer(200, {'desk': 'open'})


def bylaw_put(req):
    c = req.params['county']
    old = ROWS['bylaw'].get(c)
    if not re.fullmatch('[A-Z]{3}', c):
        raise Refusal('field_bad', [{'in': 'path', 'path': 'county', 'found': found_of(c), 'expected': '^[A-Z]{3}$'}])
    nxt = take('bylaw', req.json, req.version, req.caller, 'replace', old, {'county': c})
    if c != req.caller.county:
        raise Refusal('not_yours')
    if old:
        if any(old[k] != nxt[k] for k in ('title', 'curfewHour', 'maxDb')):
            old.update(nxt)
            old['revisedAt'] = iso(now())
        return Answer(200, view('bylaw', old, req.caller, req.version))
    nxt['revisedAt'] = iso(now())
    nxt['_seq'] = seq()
    ROWS['bylaw'][c] = nxt
    return Answer(201, view('bylaw', nxt, req.caller, req.version), loc(req, '/bylaws/' + c))


def bylaw_get(req):
    return Answer(200, view('bylaw', load(req, 'bylaw', req.params['county'], req.op), req.caller, req.version))


def same_title(site, nxt):
    return site['county'] == nxt['county'] and site['title'].casefold() == nxt['title'].casefold()


def site_post(req):
    nxt = take('site', req.json, req.version, req.caller, 'create')
    nxt['county'] = req.caller.county
    if nxt['code'] in ROWS['site'] or any(same_title(s, nxt) for s in ROWS['site'].values()):
        raise Refusal('taken')
    use = quota('create site', req.caller.county)
    nxt['_seq'] = seq()
    ROWS['site'][nxt['code']] = nxt
    use()
    return Answer(201, view('site', nxt, req.caller, req.version, True), loc(req, '/sites/' + nxt['code']))


def site_list_q(req):
    q, out = req.q, []
    if 'county' in q:
        out.append(lambda s: s['county'] == q['county'])
    if 'surface' in q:
        names = q['surface'].split(',')
        if len(names) > 100:
            bad()
        enum = SURFACES if F('e1-surface-filter') else vshape('site', req.version)['surface'][1]['enum']
        want = {up_value('site', 'surface', q_enum(n, enum), req.version) for n in names}
        out.append(lambda s: s['surface'] in want)
    if 'tag' in q:
        out.append(lambda s: q['tag'] in s['tags'])
    if 'fits' in q:
        n = q_int(q['fits'], 1)
        out.append(lambda s: s['maxCalibreMm'] >= n)
    if 'titled' in q:
        out.append(lambda s: s['title'].casefold().startswith(q['titled'].casefold()))
    req.page = {'skip': ints(req, 'skip', 0, 0, None), 'take': ints(req, 'take', 10, 1, 40)}
    return out


def site_list(req):
    rows = [s for s in ROWS['site'].values() if all(t(s) for t in req.tail)]
    rows.sort(key=lambda s: s['code'])
    a = req.page['skip']
    return Answer(200, {'sites': [view('site', s, req.caller, req.version, listing=True) for s in rows[a:a + req.page['take']]], 'count': len(rows)})


def site_get(req):
    row = load(req, 'site', req.params['code'], req.op)
    return tagged(req, 'site', row, view('site', row, req.caller, req.version))


def site_put(req):
    row = load(req, 'site', req.params['code'], req.op)
    if_match(req, 'site', row)
    nxt = take('site', req.json, req.version, req.caller, 'replace', row, {'code': row['code']})
    if not F('title-taken-on-replace') and any(s is not row and same_title(s, nxt) for s in ROWS['site'].values()):
        raise Refusal('taken')
    before = {k: v for k, v in row.items() if not k.startswith('_')}
    if before != nxt:
        had = row['tags']
        for k in before:
            del row[k]
        row.update(nxt)
        for tag in row['tags']:
            if tag not in had:
                emit('site.tagged', 'site', row, req.caller, data={'site': row['code'], 'tag': tag})
    return Answer(200, view('site', row, req.caller, req.version))


def site_delete(req):
    row = load(req, 'site', req.params['code'], req.op)
    if any(there(d) for d in BY_SITE[row['code']].values()):
        raise Refusal('still_used')
    del ROWS['site'][row['code']]
    return Answer(204)


def display_post(req):
    nxt = take('display', req.json, req.version, req.caller, 'create')
    site = ROWS['site'].get(nxt['site'])
    if site is None:
        raise Refusal('points_nowhere', [{'in': 'body', 'path': 'site', 'found': found_of(nxt['site']), 'expected': 'a site'}])
    if parse_time(nxt['startsAt']) < now() + 72 * HOUR:
        raise Refusal('too_soon')
    NUMBERS[req.caller.county] += 1
    nxt.update(id='dsp_' + hexes(10 if F('short-display-id') else 12), number='FW-%04d' % NUMBERS[req.caller.county], lead=req.caller.id, county=req.caller.county,
               passcode=chars(8, string.ascii_uppercase + string.digits), revision=1, _seq=seq(), _made=now(), _told=set())
    ROWS['display'][nxt['id']] = nxt
    BY_SITE[nxt['site']][nxt['id']] = nxt
    enter_phase(nxt, 'drafted')
    plan_soon(nxt)
    return Answer(201, view('display', nxt, req.caller, req.version, True), loc(req, '/displays/' + nxt['id']),
                  view('display', nxt, req.caller, req.version))


def display_list_q(req):
    q, out = req.q, []
    if 'phase' in q:
        names = q['phase'].split('|')
        if len(names) > 100:
            bad()
        want = {q_enum(n, PHASES) for n in names}
        out.append(lambda d: d['phase'] in want)
    if 'site' in q:
        if not re.fullmatch('[a-z]{2,8}-[0-9]{2}', q['site']):
            bad()
        out.append(lambda d: d['site'] == q['site'])
    if 'from' in q:
        t0 = q_time(q['from'])
        out.append(lambda d: parse_time(d['startsAt']) >= t0)
    if 'until' in q:
        t1 = q_time(q['until'])
        out.append(lambda d: parse_time(d['startsAt']) < t1 or (F('until-inclusive') and parse_time(d['startsAt']) == t1))
    if 'surface' in q:
        sf = up_value('site', 'surface', q_enum(q['surface'], vshape('site', req.version)['surface'][1]['enum']), req.version)
        out.append(lambda d: ROWS['site'][d['site']]['surface'] == sf)
    if 'q' in q:
        words = q['q'].casefold().split()
        if len(words) > 16:
            bad()
        out.append(lambda d: all(w in d['title'].casefold() for w in words))
    if 'draft' in q:
        want_draft = q_enum(q['draft'], ('true', 'false')) == 'true'
        out.append(lambda d: (d['phase'] == 'drafted') == want_draft)
    field, turned = 'startsAt', True
    if 'sort' in q:
        q_enum(q['sort'], ('start', '-start', 'name', '-name'))
        turned = q['sort'].startswith('-')
        field = {'start': 'startsAt', 'name': 'title'}[q['sort'].lstrip('-')]
    if 'way' in q and q_enum(q['way'], ('asc', 'desc')) == 'desc' and not (F('way-needs-sort') and 'sort' not in q):
        turned = not turned
    only = chosen_paths(req, 'display')
    req.page = page_of(req)
    return out, field, turned, only


def display_list(req):
    tests, field, turned, only = req.tail
    rows = [d for d in ROWS['display'].values() if allows(req.op, req.caller, d) and all(t(d) for t in tests)]
    rows.sort(key=(lambda d: parse_time(d['startsAt'])) if field == 'startsAt' else (lambda d: d['title']), reverse=turned)

    def make(d):
        out = view('display', d, req.caller, req.version, listing=True)
        return pick(out, only, 'id') if only is not None else out
    return paged(req, rows, make)


def display_q(req):
    if 'with' in req.q:
        for p in req.q['with'].split(','):
            if p != 'site':
                bad()
    return chosen_paths(req, 'display', 'with' in req.q)


def display_get(req):
    row = load(req, 'display', req.params['id'], req.op)
    out = view('display', row, req.caller, req.version)
    part = ''
    if 'with' in req.q:
        site = ROWS['site'].get(row['site'])
        if site and may_read('site', site, req.caller):
            out = dict(out, site=view('site', site, Caller('marshal', '', (), '', '') if F('expand-shows-memo') else req.caller, req.version))
    if req.tail is not None:
        out = pick(out, req.tail, 'id')
    if req.q:
        part = json.dumps(sorted(req.q.items()))
    return tagged(req, 'display', row, out, part)


def display_lookup(req):
    for d in ROWS['display'].values():
        if d['county'] == req.params['county'] and d['number'] == req.params['number']:
            load(req, 'display', d['id'], req.op)
            return Answer(200, view('display', d, req.caller, req.version))
    raise Refusal('no_such_thing')


def display_patch(req):
    row = load(req, 'display', req.params['id'], req.op)
    if_match(req, 'display', row, True)
    nxt = take('display', req.json, req.version, req.caller, 'update', row)
    if F('site-writable') and nxt['site'] not in ROWS['site']:
        raise Refusal('points_nowhere')
    if row['phase'] not in ('drafted', 'filed'):
        raise Refusal('wrong_phase')
    if nxt != row:
        was, started = row['title'], row['startsAt']
        nxt['revision'] = row['revision'] + 1
        if F('site-writable') and nxt['site'] != row['site']:
            BY_SITE[row['site']].pop(row['id'], None)
            BY_SITE[nxt['site']][row['id']] = row
        row.clear()
        row.update(nxt)
        if row['title'] != was or F('retitled-always'):
            emit('display.retitled', 'display', row, req.caller, data={'display': row['id'], 'was': was, 'is': row['title']})
        if parse_time(row['startsAt']) != parse_time(started):
            plan_soon(row)
    return Answer(200, view('display', row, req.caller, req.version))


def drop_cue(cue, caller, silent=False):
    if not silent:
        emit('cue.cut', 'cue', cue, caller, data=cue['id'])
    del ROWS['cue'][cue['id']]
    BY_DISPLAY[cue['display']].pop(cue['id'], None)


def drop_objection(o):
    GONE[o['id']] = (o, now() + 14 * DAY)
    del ROWS['objection'][o['id']]


def display_delete(req):
    row = load(req, 'display', req.params['id'], req.op)
    if row['phase'] not in ('drafted', 'rejected', 'lapsed'):
        raise Refusal('wrong_phase')
    for cue in list(BY_DISPLAY[row['id']].values()):
        drop_cue(cue, req.caller, F('cascade-silent'))
    for o in [o for o in ROWS['objection'].values() if o['display'] == row['id']]:
        drop_objection(o)
    del ROWS['display'][row['id']]
    BY_SITE[row['site']].pop(row['id'], None)
    BY_DISPLAY.pop(row['id'], None)
    return Answer(204)


def moved(req, d):
    return Answer(200, view('display', d, req.caller, req.version))


def display_file(req):
    row = load(req, 'display', req.params['id'], req.op)
    if F('file-quota-on-refusal'):
        quota('file display', req.caller.key)()
    if row['phase'] != 'drafted':
        raise Refusal('wrong_phase')
    if not BY_DISPLAY[row['id']]:
        raise Refusal('no_cues')
    use = quota('file display', req.caller.key)
    row['filedAt'] = iso(now())
    enter_phase(row, 'filed')
    if not F('file-quota-on-refusal'):
        use()
    emit('display.filed', 'display', row, req.caller, whole=True)
    return moved(req, row)


def display_recall(req):
    row = load(req, 'display', req.params['id'], req.op)
    if row['phase'] not in (('filed', 'cleared') if F('recall-not-referred') else ('filed', 'referred', 'cleared')):
        raise Refusal('too_late')
    enter_phase(row, 'drafted')
    return moved(req, row)


def display_fire(req):
    row = load(req, 'display', req.params['id'], req.op)
    if row['phase'] != 'cleared':
        raise Refusal('wrong_phase')
    if now() < parse_time(row['startsAt']) - (0 if F('fire-at-start') else HOUR):
        raise Refusal('wrong_phase' if F('fire-early-code') else 'not_yet')
    enter_phase(row, 'fired')
    emit('display.over', 'display', row, req.caller, whole=True)
    return moved(req, row)


def decided(req, row, was):
    data = {'display': row['id'], 'phase': row['phase'], 'was': was, 'by': req.caller.id}
    if 'reason' in row:
        data['reason'] = row['reason']
    if F('reject-event-lacks-was') and row['phase'] == 'rejected':
        del data['was']
    emit('display.decided', 'display', row, req.caller, data=data)
    return moved(req, row)


def display_clear(req):
    row = load(req, 'display', req.params['id'], req.op)
    if row['phase'] != 'filed':
        raise Refusal('wrong_phase')
    row['decidedBy'] = req.caller.id
    limit = ROWS['site'][row['site']]['massLimitG']
    row.pop('_approved', None)
    enter_phase(row, 'cleared' if (mass(row) < limit if F('clear-below-limit') else mass(row) <= limit) else 'referred')
    return decided(req, row, 'filed')


def display_approve(req):
    row = load(req, 'display', req.params['id'], req.op)
    if row['phase'] != 'referred':
        raise Refusal('wrong_phase')
    row['decidedBy'] = req.caller.id
    row['_approved'] = True
    enter_phase(row, 'cleared')
    return decided(req, row, 'referred')


def words(req, name, low, high):
    out = []
    if not isinstance(req.json, dict):
        raise Refusal('field_bad', [{'in': 'body', 'path': '', 'found': found_of(req.json), 'expected': 'object'}])
    if name not in req.json:
        out.append(spot('missing', name, NONE, 'string'))
    else:
        check(f('string', minL=low, maxL=high), req.json[name], name, out)
    raise_spots(out)
    return req.json[name]


def display_reject(req):
    row = load(req, 'display', req.params['id'], req.op)
    reason = words(req, 'reason', 3, 100)
    if row['phase'] not in ('filed', 'referred'):
        raise Refusal('wrong_phase')
    was = row['phase']
    row['reason'] = reason
    row['decidedBy'] = req.caller.id
    enter_phase(row, 'rejected')
    return decided(req, row, was)


def slot_taken(cue, d, but=None):
    return any(c is not but and c['slot'] == cue['slot'] for c in BY_DISPLAY[d['id']].values())


def cue_post(req):
    global CUE_ID
    d = load(req, 'display', req.params['display'])
    nxt = take('cue', req.json, req.version, req.caller, 'create', None, {'display': d['id']})
    if not lead(d, req.caller):
        raise Refusal('not_yours')
    if nxt['calibreMm'] > ROWS['site'][d['site']]['maxCalibreMm']:
        raise Refusal('calibre_over')
    if d['phase'] != 'drafted':
        raise Refusal('sealed')
    if slot_taken(nxt, d):
        raise Refusal('taken')
    if len(BY_DISPLAY[d['id']]) >= 12:
        raise Refusal('used_up')
    CUE_ID += 1
    nxt['id'] = CUE_ID
    nxt['_seq'] = seq()
    ROWS['cue'][CUE_ID] = nxt
    BY_DISPLAY[d['id']][CUE_ID] = nxt
    emit('cue.added', 'cue', nxt, req.caller, whole=True)
    path = where(req, '/cues/%d' % CUE_ID)
    return Answer(201, view('cue', nxt, req.caller, req.version, True), {'Location': path[len(BASE):] if F('location-no-base') else path})


def cue_list_q(req):
    q, out = req.q, []
    if 'effect' in q:
        q_enum(q['effect'], EFFECTS)
        out.append(lambda c: c['effect'] == q['effect'])
    if 'later' in q:
        n = q_num(q['later'])
        out.append(lambda c: c['delayS'] > n)
    turned = False
    if 'sort' in q:
        turned = q_enum(q['sort'], ('slot', '-slot')) == '-slot'
    req.page = page_of(req)
    return out, turned


def cue_list(req):
    d = load(req, 'display', req.params['display'])
    tests, turned = req.tail
    rows = [c for c in BY_DISPLAY[d['id']].values() if allows(req.op, req.caller, c) and all(t(c) for t in tests)]
    rows.sort(key=lambda c: c['slot'], reverse=turned)
    return paged(req, rows, lambda c: view('cue', c, req.caller, req.version, listing=True))


def cue_id(req):
    v = req.params['id']
    return int(v) if re.fullmatch(r'0|[1-9][0-9]{0,14}', v) else None


def cue_get(req):
    return Answer(200, view('cue', load(req, 'cue', cue_id(req), req.op), req.caller, req.version))


def cue_put(req):
    row = load(req, 'cue', cue_id(req), req.op)
    nxt = take('cue', req.json, req.version, req.caller, 'replace', row)
    d = ROWS['display'][row['display']]
    if nxt['calibreMm'] > ROWS['site'][d['site']]['maxCalibreMm']:
        raise Refusal('calibre_over')
    if d['phase'] != 'drafted':
        raise Refusal('sealed', status=409 if F('sealed-status') else None)
    if slot_taken(nxt, d, row):
        raise Refusal('taken')
    kept = {k: v for k, v in row.items() if k.startswith('_')}
    row.clear()
    row.update(nxt)
    row.update(kept)
    return Answer(200, view('cue', row, req.caller, req.version))


def cue_delete(req):
    row = load(req, 'cue', cue_id(req), req.op)
    if ROWS['display'][row['display']]['phase'] != 'drafted':
        raise Refusal('sealed_cut')
    drop_cue(row, req.caller)
    return Answer(204)


def objection_post(req):
    d = load(req, 'display', req.params['display'])
    nxt = take('objection', req.json, req.version, req.caller, 'create', None, {'display': d['id']})
    if any(o['display'] == d['id'] and o['author'] == req.caller.id and o['status'] == 'open' for o in ROWS['objection'].values()):
        raise Refusal('taken')
    nxt.update(id=str(uuid.uuid4()), author=req.caller.id, status='open', raisedAt=iso(now()), _seq=seq())
    ROWS['objection'][nxt['id']] = nxt
    CLOCK.at(now() + 5 * DAY, lambda: fade(nxt))
    emit('objection.raised', 'objection', nxt, req.caller, whole=True)
    return Answer(201, view('objection', nxt, req.caller, req.version, True), loc(req, '/objections/' + nxt['id']))


def objection_list_q(req):
    q, out = req.q, []
    if 'status' in q:
        q_enum(q['status'], STATUSES)
        out.append(lambda o: o['status'] == q['status'])
    if 'display' in q:
        out.append(lambda o: o['display'] == q['display'])
    if 'severity' in q:
        n = q_int(q['severity'], 1, 3)
        out.append(lambda o: o['severity'] >= n)
    req.page = page_of(req)
    return out


def objection_list(req):
    rows = [o for o in ROWS['objection'].values() if allows(req.op, req.caller, o) and all(t(o) for t in req.tail)]
    rows.sort(key=lambda o: parse_time(o['raisedAt']))
    return paged(req, rows, lambda o: view('objection', o, req.caller, req.version, listing=True))


def objection_get(req):
    return Answer(200, view('objection', load(req, 'objection', req.params['id'], req.op), req.caller, req.version))


def objection_delete(req):
    row = load(req, 'objection', req.params['id'], req.op)
    if row['status'] != 'open':
        raise Refusal('wrong_phase')
    drop_objection(row)
    return Answer(204)


def objection_uphold(req):
    row = load(req, 'objection', req.params['id'], req.op)
    if row['status'] != 'open':
        raise Refusal('wrong_phase')
    row['status'] = 'upheld'
    row['closedAt'] = iso(now())
    emit('objection.closed', 'objection', row, req.caller, whole=True, to=lambda s: s['owner'] == row['author'])
    d = ROWS['display'][row['display']]
    if d['phase'] in (('filed', 'referred') if F('uphold-leaves-cleared') else ('filed', 'referred', 'cleared')):
        enter_phase(d, 'drafted')
    return Answer(200, view('objection', row, req.caller, req.version))


def objection_dismiss(req):
    row = load(req, 'objection', req.params['id'], req.op)
    remark = words(req, 'remark', 1, 200)
    if row['status'] != 'open':
        raise Refusal('wrong_phase')
    row.update(status='dismissed', remark=remark, closedAt=iso(now()))
    emit('objection.closed', 'objection', row, req.caller, whole=True, to=lambda s: s['owner'] == row['author'])
    return Answer(200, {'dismissed': row['id'], 'remark': remark})


def hook_clash(nxt, but=None):
    return any(h is not but and h['owner'] == nxt['owner'] and h['label'] == nxt['label'] for h in ROWS['hook'].values())


def hook_full(nxt, but=None):
    return nxt['active'] and sum(1 for h in ROWS['hook'].values() if h is not but and h['owner'] == nxt['owner'] and h['active']) >= 4


def hook_post(req):
    nxt = take('hook', req.json, req.version, req.caller, 'create')
    nxt['owner'] = req.caller.id
    if hook_clash(nxt):
        raise Refusal('taken')
    if hook_full(nxt):
        raise Refusal('used_up')
    nxt.update(id='hk.' + chars(10), key=base64.b64encode(secrets.token_bytes(32)).decode(), _seq=seq(), _maker=req.caller, _version=req.version)
    ROWS['hook'][nxt['id']] = nxt
    return Answer(201, view('hook', nxt, req.caller, req.version, True), loc(req, '/hooks/' + nxt['id']), view('hook', nxt, req.caller, req.version))


def hook_list(req):
    return Answer(200, {'hooks': [view('hook', h, req.caller, req.version, listing=True) for h in ROWS['hook'].values() if allows(req.op, req.caller, h)]})


def hook_get(req):
    return Answer(200, view('hook', load(req, 'hook', req.params['id'], req.op), req.caller, req.version))


def hook_patch(req):
    row = load(req, 'hook', req.params['id'], req.op)
    nxt = take('hook', req.json, req.version, req.caller, 'update', row, None, True)
    if nxt != row:
        if hook_clash(nxt, row):
            raise Refusal('taken')
        if nxt['active'] and not row['active'] and not F('hook-cap-on-patch') and hook_full(nxt, row):
            raise Refusal('used_up')
        if row['active'] and not nxt['active']:
            give_up(row['id'])
        row.clear()
        row.update(nxt)
        pump(row['id'])
    return Answer(200, view('hook', row, req.caller, req.version))


def hook_delete(req):
    row = load(req, 'hook', req.params['id'], req.op)
    del ROWS['hook'][row['id']]
    give_up(row['id'])
    return Answer(204)


CURSOR_KEY = secrets.token_bytes(16)


def entry_list_q(req):
    q, out = req.q, []
    if 'topic' in q:
        out.append(lambda e: e['topic'] == q['topic'])
    if 'about' in q:
        out.append(lambda e: e['about'] == q['about'])
    bound = json.dumps([req.version, req.caller.user, q.get('topic'), q.get('about')])
    size = ints(req, 'take', 10, 1, 50)
    start = None
    if 'after' in q:
        try:
            raw, _, sig = q['after'].partition('.')
            if not hmac.compare_digest(hmac.new(CURSOR_KEY, (raw + bound).encode(), hashlib.sha256).hexdigest()[:24], sig):
                raise ValueError
            start = tuple(json.loads(b64d(raw)))
        except Exception:
            raise Refusal('sheet_bad')
    req.page = (size, start, bound)
    return out


def entry_list(req):
    size, start, bound = req.page
    edge = now() - 30 * DAY
    rows = [e for e in ROWS['entry'].values() if e['_at'] > edge and all(t(e) for t in req.tail)]
    rows.sort(key=lambda e: (-e['_at'], e['_seq']))
    if start:
        rows = [e for e in rows if (-e['_at'], e['_seq']) > start]
    after = None
    if len(rows) > size:
        rows = rows[:size]
        raw = base64.urlsafe_b64encode(json.dumps([-rows[-1]['_at'], rows[-1]['_seq']]).encode()).decode().rstrip('=')
        after = raw + '.' + hmac.new(CURSOR_KEY, (raw + bound).encode(), hashlib.sha256).hexdigest()[:24]
    return Answer(200, {'entries': [view('entry', e, req.caller, req.version) for e in rows], 'after': after})


def entry_get(req):
    return Answer(200, view('entry', load(req, 'entry', req.params['id'], req.op), req.caller, req.version))


# ---------------------------------------------------------------- routes

PAGE = {'sheet', 'per'}
ROUTES = []


class Route:
    def __init__(self, method, path, op, fn, params=(), body=False, since='e1', q=None, types=('application/json',)):
        self.method, self.parts, self.op, self.fn = method, path.strip('/').split('/'), op, fn
        self.params, self.body, self.since, self.q, self.types = set(params), body, since, q, types
        ROUTES.append(self)

    def match(self, parts):
        if len(parts) != len(self.parts):
            return None
        out = {}
        for a, b in zip(self.parts, parts):
            if a[0] == '{':
                if b == '':
                    return None
                out[a[1:-1]] = b
            elif a != b:
                return None
        return out


Route('GET', '/pulse', 'reply pulse', pulse)
Route('PUT', '/bylaws/{county}', 'upsert bylaw', bylaw_put, body=True)
Route('GET', '/bylaws/{county}', 'read bylaw', bylaw_get)
Route('POST', '/sites', 'create site', site_post, body=True)
Route('GET', '/sites', 'list site', site_list, ['county', 'surface', 'tag', 'fits', 'titled', 'skip', 'take'], q=site_list_q)
Route('GET', '/sites/{code}', 'read site', site_get)
Route('PUT', '/sites/{code}', 'replace site', site_put, body=True)
Route('DELETE', '/sites/{code}', 'delete site', site_delete)
Route('POST', '/displays', 'create display', display_post, body=True)
Route('GET', '/displays', 'list display', display_list, ['phase', 'site', 'from', 'until', 'surface', 'q', 'draft', 'sort', 'way', 'only'] + list(PAGE), q=display_list_q)
Route('GET', '/displays/{id}', 'read display', display_get, ['only', 'with'], q=display_q)
if not F('lookup-not-wired'):
    Route('GET', '/permits/{county}/{number}', 'look up display', display_lookup, since='e2')
Route('PATCH', '/displays/{id}', 'update display', display_patch, body=True, types=('application/json', 'application/merge-patch+json'))
Route('DELETE', '/displays/{id}', 'delete display', display_delete)
for _n, _fn, _b in (('file', display_file, 0), ('recall', display_recall, 0), ('fire', display_fire, 0), ('clear', display_clear, 0),
                    ('approve', display_approve, 0), ('reject', display_reject, 1)):
    Route('POST', '/displays/{id}/' + _n, _n + ' display', _fn, body=bool(_b))
Route('POST', '/displays/{display}/cues', 'create cue', cue_post, body=True)
Route('GET', '/displays/{display}/cues', 'list cue', cue_list, ['effect', 'later', 'sort'] + list(PAGE), q=cue_list_q)
Route('GET', '/cues/{id}', 'read cue', cue_get)
Route('PUT', '/cues/{id}', 'replace cue', cue_put, body=True)
Route('DELETE', '/cues/{id}', 'delete cue', cue_delete)
Route('POST', '/displays/{display}/objections', 'create objection', objection_post, body=True)
Route('GET', '/objections', 'list objection', objection_list, ['status', 'display', 'severity'] + list(PAGE), q=objection_list_q)
Route('GET', '/objections/{id}', 'read objection', objection_get)
Route('DELETE', '/objections/{id}', 'delete objection', objection_delete)
if not F('uphold-not-wired'):
    Route('POST', '/objections/{id}/uphold', 'uphold objection', objection_uphold)
Route('POST', '/objections/{id}/dismiss', 'dismiss objection', objection_dismiss, body=True)
Route('POST', '/hooks', 'create hook', hook_post, body=True)
Route('GET', '/hooks', 'list hook', hook_list)
Route('GET', '/hooks/{id}', 'read hook', hook_get)
Route('PATCH', '/hooks/{id}', 'update hook', hook_patch, body=True, since='e3', types=('application/json', 'application/merge-patch+json'))
Route('DELETE', '/hooks/{id}', 'delete hook', hook_delete)
Route('GET', '/entries', 'list entry', entry_list, ['topic', 'about', 'after', 'take'], q=entry_list_q)
Route('GET', '/entries/{id}', 'read entry', entry_get)

DEPRECATED = {'e1': '@%d' % (ms_of(dt.datetime(2025, 3, 1, tzinfo=UTC)) // 1000), 'e2': '@%d' % (ms_of(dt.datetime(2026, 5, 1, tzinfo=UTC)) // 1000)}
SUNSET = ms_of(dt.datetime(2028, 3, 1, tzinfo=UTC))


def candidates(parts, version=None):
    out = []
    for r in ROUTES:
        if version and VERSIONS.index(r.since) > VERSIONS.index(version):
            continue
        m = r.match(parts)
        if m is not None:
            out.append((r, m))
    return out


def pick_method(found, method):
    want = 'GET' if method == 'HEAD' else method
    for r, m in found:
        if r.method == want:
            return r, m
    return None


def allow_of(found):
    ms = []
    for r, _ in found:
        for m in [r.method] + (['HEAD'] if r.method == 'GET' else []):
            if m not in ms:
                ms.append(m)
    return ', '.join(ms + ['OPTIONS'])


def route(req):
    path = req.path
    if path.startswith(BASE + '/'):
        path = path[len(BASE):]
    elif not (F('base-optional') and path.startswith('/e')):
        raise Refusal('no_such_path')
    try:
        parts = [urllib.parse.unquote(p, errors='strict') for p in path[1:].split('/')]
    except UnicodeDecodeError:
        raise Refusal('no_such_path')
    v = parts[0]
    if v in VERSIONS:
        found = candidates(parts[1:], v)
        if not found:
            raise Refusal('no_such_path')
        req.version = v
        if v in DEPRECATED:
            req.extra['Deprecation'] = DEPRECATED[v]
            if v == 'e1':
                req.extra['Sunset'] = 'Wed, 01 Mar 2028 00:00:00 GMT'
                tail = req.target.split('/e1', 1)[1]
                req.extra['Link'] = ['<https://desk.skyfall.example/editions>; rel="deprecation"',
                                     '<%s>; rel="successor-version"' % (('' if F('successor-no-base') else BASE) + '/e3' + tail)]
        if req.method == 'OPTIONS':
            return None, allow_of(found)
        hit = pick_method(found, req.method)
        if not hit:
            raise Refusal('wrong_method', headers={'Allow': allow_of(found)})
        if v == 'e1' and now() >= SUNSET + (DAY if F('sunset-day-late') else 0):
            raise Refusal('edition_over')
        return hit
    found = candidates(parts) or candidates(parts[1:])
    if not found:
        raise Refusal('no_such_path')
    if not pick_method(found, req.method):
        if req.method == 'OPTIONS':
            return None, allow_of(found)
        raise Refusal('wrong_method', headers={'Allow': allow_of(found)})
    raise Refusal('edition_unknown')


# ---------------------------------------------------------------- one request

KEPT = {}


def acceptable(header):
    best = None
    for part in header.split(','):
        bits = [b.strip() for b in part.split(';')]
        kind = bits[0].lower()
        if kind not in ('*/*', 'application/*', 'application/json'):
            continue
        q = 1.0
        for b in bits[1:]:
            k, _, v = b.partition('=')
            if k.strip().lower() == 'q':
                try:
                    q = float(v)
                except ValueError:
                    q = 0.0
        rank = ('*/*', 'application/*', 'application/json').index(kind)
        if best is None or rank > best[0]:
            best = (rank, q)
    return best is not None and best[1] > 0


def read_query(req, r):
    got = {}
    for k, v in urllib.parse.parse_qsl(req.query, keep_blank_values=True):
        if k not in r.params or k in got:
            bad()
        got[k] = v
    req.q = got
    req.tail = r.q(req) if r.q else None


def no_constant(_):
    raise ValueError


def read_body(req, r):
    if not r.body:
        return
    kind = req.get('content-type')
    if not req.body and not req.too_big:
        raise Refusal('body_absent')
    if kind is None or kind.split(';')[0].strip().lower() not in r.types:
        raise Refusal('body_type')
    if req.too_big:
        raise Refusal('too_big')
    try:
        req.json = json.loads(req.body.decode('utf-8'), parse_constant=no_constant)
    except (ValueError, RecursionError):
        raise Refusal('body_garbled')


def act(req, r):
    op = req.op
    if op != 'reply pulse':
        try:
            req.caller = who(req)
        except Refusal:
            if not (F('bad-key-passes-public') and any('anyone' in x['users'] for x in BY_OP[op])):
                raise
        anyone = any('anyone' in x['users'] for x in BY_OP[op])
        if req.caller is None and not anyone:
            raise Refusal('no_credential', headers={'WWW-Authenticate': challenge()})
    req.extra.update(rates(op, req.caller, req.addr))
    if op != 'reply pulse':
        mine = rules_for(op, req.caller)
        if not mine:
            raise Refusal('not_yours')
        if not holding(op, req.caller):
            h = {'WWW-Authenticate': challenge('insufficient_scope', True)} if req.caller and req.caller.scheme == 'badge' else {}
            raise Refusal('scope_lacking', headers=h)
    if F('body-before-parameters'):
        read_body(req, r)
    read_query(req, r)
    accept = req.get('accept')
    if accept is not None and r.method != 'DELETE' and not acceptable(','.join(req.all('accept'))):
        raise Refusal('not_served_so')
    read_body(req, r)
    once = req.get('once-key') if r.method == 'POST' else None
    if not once:
        return r.fn(req)
    slot = (req.caller.key, op, once)
    print_of = hashlib.sha256(dumps([req.path, req.query, req.version, None if F('once-ignores-body') else req.json])).digest()
    kept = KEPT.get(slot)
    if kept and kept[1] > now():
        if kept[0] != print_of:
            raise Refusal('once_reused')
        if isinstance(kept[2], Refusal):
            raise kept[2]
        return kept[2]
    try:
        ans = r.fn(req)
    except Refusal as e:
        if e.code in OWN:
            KEPT[slot] = (print_of, now() + 12 * HOUR, e)
        raise
    KEPT[slot] = (print_of, now() + 12 * HOUR, Answer(ans.status, ans.kept, ans.headers))
    return ans


def handle(req):
    req.trace = 'tr' + hexes(16)
    req.extra, req.version, req.caller, req.json, req.q, req.tail, req.page = {}, CURRENT, None, None, {}, None, None
    req.path, _, req.query = req.target.partition('?')
    try:
        if len(req.target.encode('latin-1', 'replace')) > 1024:
            raise Refusal('address_too_long')
        if sum(len(k) + len(v) + 4 for k, v in req.headers) > 6144:
            raise Refusal('headers_too_long')
        r, req.params = route(req)
        if r is None:
            return 204, [('Skyfall-Trace', req.trace), ('Allow', req.params)], b''
        req.op = r.op
        ans = act(req, r)
        status, headers, body = ans.status, ans.headers, ans.body
    except Refusal as e:
        status, headers = e.status, dict(e.headers)
        if not (F('refusal-header-412') and status == 412):
            headers['Skyfall-Refusal'] = e.code
        body = e.body(req.trace)
        if F('refusals-not-deprecated'):
            for k in ('Deprecation', 'Sunset', 'Link'):
                req.extra.pop(k, None)
    except Exception:
        import sys, traceback
        traceback.print_exc(file=sys.stderr)
        e = Refusal('broken')
        status, headers, body = 500, {'Skyfall-Refusal': 'broken'}, e.body(req.trace)
    out = [('Skyfall-Trace', req.trace), ('Vary', 'Authorization')]
    for k, v in list(req.extra.items()) + list(headers.items()):
        for x in v if isinstance(v, list) else [v]:
            out.append((k, x))
    raw = b''
    if body is not None:
        out.append(('Content-Type', 'application/json'))
        raw = dumps(body)
    return status, out, raw


# ---------------------------------------------------------------- HTTP

PHRASES = {200: 'OK', 201: 'Created', 204: 'No Content', 304: 'Not Modified', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found',
           405: 'Method Not Allowed', 406: 'Not Acceptable', 408: 'Request Timeout', 409: 'Conflict', 410: 'Gone', 412: 'Precondition Failed',
           413: 'Content Too Large', 414: 'URI Too Long', 415: 'Unsupported Media Type', 416: 'Range Not Satisfiable', 422: 'Unprocessable Content',
           423: 'Locked', 428: 'Precondition Required', 429: 'Too Many Requests', 431: 'Request Header Fields Too Large', 500: 'Internal Server Error'}
BODY_MAX = 8191 if F('body-boundary') else 8192


def frame(status, headers, raw, head_only=False, close=False):
    lines = ['HTTP/1.1 %d %s' % (status, PHRASES.get(status, 'Unknown'))]
    lines += ['%s: %s' % kv for kv in headers]
    if status not in (204, 304):
        lines.append('Content-Length: %d' % len(raw))
    if close:
        lines.append('Connection: close')
    return ('\r\n'.join(lines) + '\r\n\r\n').encode('latin-1', 'replace') + (b'' if head_only or status in (204, 304) else raw)


async def read_one(reader, first):
    """The rest of a request, its first bytes being there. None where it cannot be read."""
    raw = first + await reader.readuntil(b'\r\n\r\n')
    lines = raw[:-4].decode('latin-1').split('\r\n')
    bits = lines[0].split(' ')
    if len(bits) != 3 or not bits[2].startswith('HTTP/1.'):
        return None
    req = Req()
    req.method, req.target = bits[0], bits[1]
    if '://' in req.target[:8]:
        u = urllib.parse.urlsplit(req.target)
        req.target = (u.path or '/') + ('?' + u.query if u.query else '')
    req.headers = []
    for line in lines[1:]:
        k, sep, v = line.partition(':')
        if not sep:
            return None
        req.headers.append((k.strip().lower(), v.strip()))
    req.body, req.too_big = b'', False
    return req


async def read_rest(reader, writer, req):
    if (req.get('expect') or '').lower() == '100-continue':
        writer.write(b'HTTP/1.1 100 Continue\r\n\r\n')
    if 'chunked' in (req.get('transfer-encoding') or '').lower():
        parts, n = [], 0
        while True:
            size = int((await reader.readuntil(b'\r\n')).split(b';')[0].strip(), 16)
            if size == 0:
                while (await reader.readuntil(b'\r\n')) != b'\r\n':
                    pass
                break
            if n + size > BODY_MAX:
                req.too_big = True
            if n + size > (1 << 24):
                return False
            data = await reader.readexactly(size + 2)
            n += size
            if not req.too_big:
                parts.append(data[:-2])
        req.body = b''.join(parts)
        return True
    n = req.get('content-length')
    if n is None:
        return True
    if not n.isdigit():
        return False
    n = int(n)
    if n > BODY_MAX:
        req.too_big = True
        if n > (1 << 24):
            return False
        left = n
        while left:
            data = await reader.read(min(left, 65536))
            if not data:
                return False
            left -= len(data)
        return True
    req.body = await reader.readexactly(n) if n else b''
    return True


async def serve_one(reader, writer):
    addr = writer.get_extra_info('peername')[0]
    try:
        while True:
            try:
                first = await asyncio.wait_for(reader.readexactly(1), 30)
            except asyncio.TimeoutError:
                return
            req = None
            try:
                async with asyncio.timeout(10):
                    req = await read_one(reader, first)
                    if req is None or not await read_rest(reader, writer, req):
                        if req is not None and req.too_big:
                            req.addr = addr
                            status, headers, raw = handle(req)
                            writer.write(frame(status, headers, raw, close=True))
                            await writer.drain()
                            return
                        raise ValueError
            except TimeoutError:
                e, trace = Refusal('too_slow'), 'tr' + hexes(16)
                writer.write(frame(408, [('Skyfall-Trace', trace), ('Skyfall-Refusal', 'too_slow'), ('Content-Type', 'application/json')], dumps(e.body(trace)), close=True))
                await writer.drain()
                return
            except asyncio.LimitOverrunError:
                e, trace = Refusal('headers_too_long'), 'tr' + hexes(16)
                writer.write(frame(431, [('Skyfall-Trace', trace), ('Skyfall-Refusal', 'headers_too_long'), ('Content-Type', 'application/json')], dumps(e.body(trace)), close=True))
                await writer.drain()
                return
            except ValueError:
                writer.write(b'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
                await writer.drain()
                return
            req.addr = addr
            CLOCK.run_due()
            status, headers, raw = handle(req)
            CLOCK.run_due()
            close = (req.get('connection') or '').lower() == 'close'
            writer.write(frame(status, headers, raw, req.method == 'HEAD', close))
            await writer.drain()
            if close:
                return
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


# ---------------------------------------------------------------- the clock's door

DUR = re.compile(r'^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$')


def plus(ms, text):
    m = DUR.match(text) if isinstance(text, str) else None
    if not m or not any(m.groups()) or text.endswith('T'):
        return None
    y, mo, w, d, h, mi = (int(x or 0) for x in m.groups()[:6])
    t = dt_of(ms)
    n = t.year * 12 + t.month - 1 + y * 12 + mo
    year, month = n // 12, n % 12 + 1
    last = (dt.date(year + month // 12, month % 12 + 1, 1) - dt.timedelta(days=1)).day
    t = t.replace(year=year, month=month, day=min(t.day, last))
    return ms_of(t) + (w * 7 + d) * DAY + h * HOUR + mi * MIN + int(float(m[7] or 0) * 1000)


DOOR = None


async def door(req):
    if req.method == 'GET':
        return 200
    if req.method != 'POST':
        return 400
    try:
        body = json.loads(req.body)
        if not isinstance(body, dict) or len(body) != 1:
            return 400
        target = plus(now(), body['advance']) if 'advance' in body else parse_time(body['now'])
    except (ValueError, KeyError, OverflowError):
        return 400
    if target is None:
        return 400
    if target < now():
        return 422
    async with DOOR:
        await CLOCK.move(target)
    return 200


async def serve_clock(reader, writer):
    try:
        while True:
            first = await reader.readexactly(1)
            req = await read_one(reader, first)
            if req is None or not await read_rest(reader, writer, req):
                return
            status = await door(req)
            raw = dumps({'now': iso(now())} if status == 200 else {'error': 'not so'})
            writer.write(frame(status, [('Content-Type', 'application/json')], raw))
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError, ValueError):
        pass
    finally:
        writer.close()


async def main():
    global DOOR
    DOOR = asyncio.Lock()
    await asyncio.start_server(serve_one, '127.0.0.1', ARGS.port, limit=131072, backlog=512)
    await asyncio.start_server(serve_clock, '127.0.0.1', ARGS.clock_port)
    print('listening', ARGS.port, ARGS.clock_port, flush=True)
    await CLOCK.loop()


if __name__ == '__main__':
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
