#!/usr/bin/env python3
"""Dye Garden. One file, standard library alone, asyncio, everything in memory. python3 service.py --port N --clock-port M [--fault ID]"""
import asyncio, sys, json, re, time, heapq, hashlib, hmac, base64, secrets, os, bisect, uuid, ssl
from datetime import datetime, timezone, timedelta, date
from urllib.parse import unquote, urlsplit
from collections import deque, OrderedDict
import calendar
ARGS = sys.argv[1:]
def arg(n, d=None): return ARGS[ARGS.index(n) + 1] if n in ARGS else d
PORT, CPORT, FAULT = int(arg('--port', '20000')), int(arg('--clock-port', '20001')), arg('--fault')
def F(x): return FAULT == x
HERE = os.path.dirname(os.path.abspath(__file__))
BASE = '/dye'
# ---------------------------------------------------------------- clock
OFFSET = 0.0
PINNED = None
def now(): return PINNED if PINNED is not None else time.time() + OFFSET
def iso(t): return datetime.fromtimestamp(round(t * 1000) / 1000, timezone.utc).strftime('%Y-%m-%dT%H:%M:%S.') + '%03dZ' % (round(t * 1000) % 1000)
RFC3339 = re.compile(r'^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$')
def parse_dt(s):
    m = RFC3339.match(s) if isinstance(s, str) else None
    if not m: return None
    try:
        sec = int(m[6]); leap = sec == 60
        d = datetime(int(m[1]), int(m[2]), int(m[3]), int(m[4]), int(m[5]), 59 if leap else sec, tzinfo=timezone.utc)
        z = m[8]; off = 0
        if z not in 'Zz':
            h, mi = int(z[1:3]), int(z[4:6])
            if h > 23 or mi > 59: return None
            off = (h * 60 + mi) * 60 * (-1 if z[0] == '-' else 1)
        return calendar.timegm(d.timetuple()) + (1 if leap else 0) + float(m[7] or 0) - off
    except ValueError: return None
def http_date(t): return datetime.fromtimestamp(t, timezone.utc).strftime('%a, %d %b %Y %H:%M:%S GMT')
HEAP, HSEQ = [], 0
def at(t, fn):
    global HSEQ; HSEQ += 1; heapq.heappush(HEAP, (t, HSEQ, fn))
def run_due():
    while HEAP and HEAP[0][0] <= now():
        t, _, fn = heapq.heappop(HEAP)
        try: fn()
        except Exception as e: print('timer', repr(e), file=sys.stderr)
INFLIGHT = set()
async def settle():
    for _ in range(40):
        await asyncio.sleep(0)
        if not INFLIGHT: return
        await asyncio.wait(list(INFLIGHT), timeout=0.05)
async def move_to(target):
    global OFFSET, PINNED
    await settle()
    while HEAP and HEAP[0][0] <= target:
        PINNED = max(HEAP[0][0], now())
        run_due()
        await settle()
    PINNED = None
    OFFSET = target - time.time()
    run_due(); await settle()
# ---------------------------------------------------------------- errors
STATUS = dict(unreadable=400, bad_query=400, field_missing=422, unfit=422, no_method=405, who_are_you=401, not_yours=403, scope_lacking=403,
  not_here=404, points_nowhere=422, already_there=409, still_needed=409, not_now=409, stale=412, tag_wanted=428, key_reused=422, too_fast=429, used_up=403,
  too_large=413, no_edition=400, edition_over=410, broken=500, vat_not_ready=409, too_late=409, no_places=409, bed_full=409, shut=409)
SAYS = dict(vat_not_ready='The vat is not ready.', too_late='Only what is placed is cancelled.', no_places='Not enough places are left.',
  bed_full='The drying loft takes 100 kg of a bed.', shut='This workshop takes no guests.')
OWN = set(SAYS)
class Fault(Exception):
    def __init__(s, code, places=None, says=None, headers=None):
        s.code, s.places, s.says, s.headers = code, places, says or SAYS.get(code), headers or []
# ---------------------------------------------------------------- shapes
PLANTS = ['madder', 'weld', 'woad', 'coreopsis']
KINDS = ['harvest.dried', 'harvest.lost', 'vat.ready', 'order.placed', 'order.dyed', 'workshop.off', 'seat.confirmed']
HEX = '^#[0-9a-f]{6}$'
def S(**k): return dict(t='string', **k)
def I(**k): return dict(t='integer', **k)
RES = {  # only what a caller may write stands in w; all fields in f
 'bed': dict(id='code', f=['code', 'plant', 'dried_g'], w={'code': S(pattern='^[A-Z]{2}-[0-9]{2}$'), 'plant': S(enum=PLANTS)}, req=['code', 'plant']),
 'harvest': dict(id='id', f=['id', 'lot', 'bed', 'grams', 'note', 'stage'], w={'bed': S(ref='bed'), 'grams': I(min=1, max=50000), 'note': S(maxl=120)}, req=['bed', 'grams']),
 'vat': dict(id='id', f=['id', 'name', 'house', 'swatches', 'celsius', 'recipe', 'stage'], w={'name': S(minl=2, maxl=30),
    'swatches': dict(t='array', items=S(pattern=HEX), maxi=4, default=[]), 'celsius': I(min=4, max=100, default=20),
    'recipe': dict(t='object', w={'plant': S(enum=PLANTS), 'mordant': S(enum=['alum', 'iron', 'tin', 'none_at_all'])}, req=['plant', 'mordant'])}, req=['name', 'swatches', 'celsius']),
 'order': dict(id='id', f=['id', 'customer', 'house', 'fibre', 'grams', 'due', 'pence', 'vat', 'status'], w={'fibre': S(enum=['wool', 'silk', 'linen']), 'grams': I(min=50, max=5000), 'due': S(fmt='date')}, req=['fibre', 'grams', 'due']),
 'workshop': dict(id='id', f=['id', 'house', 'starts_at', 'places', 'left', 'stage'], w={'starts_at': S(fmt='date-time'), 'places': I(min=1, max=30)}, req=['starts_at', 'places']),
 'seat': dict(id='id', f=['id', 'workshop', 'guest', 'heads', 'state'], w={'workshop': S(ref='workshop'), 'heads': I(min=1, max=4, default=1)}, req=['workshop', 'heads']),
 'delivery': dict(id='id', f=['id', 'mordant', 'grams', 'licence', 'state'], w={'mordant': S(enum=['alum', 'iron', 'tin', 'copper']), 'grams': I(min=10, max=100000), 'licence': S(pattern='^L[0-9]{6}$')}, req=['mordant', 'grams']),
 'bell': dict(id='id', f=['id', 'owner', 'url', 'topics', 'secret'], w={'url': S(fmt='uri'), 'topics': dict(t='array', items=S(topic=1), mini=1, maxi=9)}, req=['url']),
}
if F('r-celsius'): RES['vat']['w']['celsius']['max'] = 101
if F('r-topics'): RES['bell']['req'].append('topics')
if F('r-tin'): RES['delivery']['w']['mordant']['enum'].remove('iron')
if F('e-due'): RES['order']['req'].remove('due')
STATES = {'harvest': ['picked', 'dried', 'rotten'], 'vat': ['cold', 'heating', 'ready', 'spent'], 'order': ['placed', 'dyeing', 'dyed', 'collected', 'cancelled', 'lapsed'],
 'workshop': ['draft', 'open', 'begun', 'off'], 'seat': ['asked', 'confirmed', 'released'], 'delivery': ['expected', 'received']}
SF = {'harvest': 'stage', 'vat': 'stage', 'order': 'status', 'workshop': 'stage', 'seat': 'state', 'delivery': 'state'}
DAY, HOUR = 86400, 3600
TR = {
 ('harvest', 'dry'): (['picked'], 'dried', None), ('vat', 'heat'): (['cold'], 'heating', None), ('vat', 'exhaust'): (['ready'], 'spent', 'vat_not_ready'),
 ('order', 'assign'): (['placed'], 'dyeing', None), ('order', 'finish'): (['dyeing'], 'dyed', None), ('order', 'collect'): (['dyed'], 'collected', None), ('order', 'cancel'): (['placed'], 'cancelled', 'too_late'),
 ('workshop', 'publish'): (['draft'], 'open', None), ('workshop', 'cancel'): (['draft', 'open'], 'off', None),
 ('seat', 'confirm'): (['asked'], 'confirmed', None), ('seat', 'release'): (['asked', 'confirmed'], 'released', None), ('delivery', 'receive'): (['expected'], 'received', None),
 ('harvest', 'rot'): (['picked'], 'rotten', None), ('vat', 'ripen'): (['heating'], 'ready', None), ('vat', 'tire'): (['ready'], 'spent', None),
 ('order', 'lapse'): (['placed'], 'lapsed', None), ('workshop', 'begin'): (['open'], 'begun', None), ('seat', 'forget'): (['asked'], 'released', None)}
if F('s-cancel'): TR[('order', 'cancel')] = (['placed', 'dyeing'], 'cancelled', 'too_late')
if F('s-off'): TR[('workshop', 'cancel')] = (['open'], 'off', None)
TIMED = {('harvest', 'picked'): ('rot', 3 * DAY), ('vat', 'heating'): ('ripen', 2 * HOUR), ('vat', 'ready'): ('tire', 5 * DAY), ('order', 'placed'): ('lapse', 14 * DAY), ('seat', 'asked'): ('forget', 2 * HOUR)}
if F('s-rot'): TIMED[('harvest', 'picked')] = ('rot', 4 * DAY)
if F('s-tire'): del TIMED[('vat', 'ready')]
TYPEWORD = {'string': 'a text', 'integer': 'a whole number', 'number': 'a number', 'array': 'a list', 'object': 'a map'}
DATE = re.compile(r'^\d{4}-\d\d-\d\d$')
URI = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+$")
def ok_date(v):
    if not DATE.match(v): return False
    try: date.fromisoformat(v); return True
    except ValueError: return False
def check(v, s, path, out):
    """appends (kind, path, wanted); returns the value as it is kept"""
    t = s['t']
    if t == 'integer':
        if isinstance(v, float) and v == int(v) if isinstance(v, float) and abs(v) < 1e300 else False: v = int(v)
        if isinstance(v, bool) or not isinstance(v, int): out.append(('type', path, TYPEWORD[t])); return v
    elif t == 'number':
        if isinstance(v, bool) or not isinstance(v, (int, float)): out.append(('type', path, TYPEWORD[t])); return v
    elif t == 'string':
        if not isinstance(v, str): out.append(('type', path, TYPEWORD[t])); return v
    elif t == 'array':
        if not isinstance(v, list): out.append(('type', path, TYPEWORD[t])); return v
        if len(v) < s.get('mini', 0): out.append(('value', path, 'at least %d items' % s['mini']))
        if len(v) > s.get('maxi', 1e9): out.append(('value', path, 'at most %d items' % s['maxi']))
        return [check(x, s['items'], path + [str(i)], out) for i, x in enumerate(v)]
    elif t == 'object':
        return check_map(v, s['w'], s['req'], path, out, ())
    if t in ('integer', 'number'):
        if 'min' in s and v < s['min']: out.append(('value', path, 'at least %s' % s['min']))
        if 'max' in s and v > s['max']: out.append(('value', path, 'at most %s' % s['max']))
    if t == 'string':
        if 'enum' in s and v not in s['enum']: out.append(('value', path, 'one of ' + ', '.join(s['enum'])))
        if 'pattern' in s and not re.search(s['pattern'].replace('$', r'\Z'), v): out.append(('value', path, 'a text like ' + s['pattern']))
        if len(v) < s.get('minl', 0): out.append(('value', path, 'at least %d characters' % s['minl']))
        if len(v) > s.get('maxl', 1e9): out.append(('value', path, 'at most %d characters' % s['maxl']))
        f = s.get('fmt')
        if f == 'date' and not ok_date(v): out.append(('value', path, 'a date'))
        if f == 'date-time' and parse_dt(v) is None: out.append(('value', path, 'a date-time'))
        if f == 'uri' and not URI.match(v): out.append(('value', path, 'a URI'))
        if s.get('topic') and not (v == '*' or v in KINDS or (v.endswith('.*') and any(k.startswith(v[:-1]) for k in KINDS))): out.append(('value', path, 'a kind of event'))
    return v
def check_map(v, w, req, path, out, ignored):
    if not isinstance(v, dict): out.append(('type', path, 'a map')); return v
    r = {}
    for k, x in v.items():
        if k in ignored and k not in w: continue
        if k not in w: out.append(('unknown', path + [k], 'no such field')); continue
        r[k] = check(x, w[k], path + [k], out)
    for k in req:
        if k not in v and 'default' not in w[k]: out.append(('missing', path + [k], 'a value'))
    return r
def invalid(out):
    if not out: return
    sep = '/' if F('x-pointer') else '.'
    kind, p, _ = out[0]
    places = [{'at': (sep if F('x-pointer') and a else '') + sep.join(a), 'wanted': w} for _, a, w in out]
    if kind == 'missing': raise Fault('field_missing', places, '%s is missing' % '.'.join(p))
    raise Fault('unfit', places)
# ---------------------------------------------------------------- versions
VERSIONS = ['madder', 'weld', 'woad']
CURRENT = 'woad'
DEPR = {}
DEPR['madder'] = (int(parse_dt('2026-03-01T00:00:00Z')), int(parse_dt('2028-03-01T00:00:00Z')))
DEPR['weld'] = (int(parse_dt('2026-09-01T00:00:00Z')), None)
if F('n-date'): DEPR['weld'] = (int(parse_dt('2026-09-02T00:00:00Z')), None)
def vi(v): return VERSIONS.index(v)
def name_of(res, f, ver):
    if res == 'order' and f == 'grams' and vi(ver) < 1: return 'weight'
    return f
def fields_in(res, ver):
    """ (writable shapes, required, all names) as the version has them"""
    r = RES[res]; w = dict(r['w']); req = list(r['req']); f = list(r['f'])
    if vi(ver) < 1:
        if res == 'order' and not F('n-words'):
            w = {('weight' if k == 'grams' else k): x for k, x in w.items()}; req = ['weight' if k == 'grams' else k for k in req]; f = ['weight' if k == 'grams' else k for k in f]
        if res == 'vat': w.pop('recipe', None); f.remove('recipe')
    if vi(ver) < 2 and res == 'delivery': w['grams'] = dict(t='number', min=0.01, max=100.0)
    return w, req, f
FV = {(r, v): fields_in(r, v) for r in RES for v in VERSIONS}
def down(res, row, ver):
    if ver == CURRENT: return row
    row = dict(row)
    if vi(ver) < 2 and res == 'delivery' and 'grams' in row: row['grams'] = row['grams'] / 1000.0
    if vi(ver) < 1:
        if res == 'order' and 'grams' in row: row = {('weight' if k == 'grams' else k): x for k, x in row.items()}
        if res == 'vat': row.pop('recipe', None)
        if res == 'harvest' and row.get('stage') == 'picked': row['stage'] = 'wet'
    return row
def up(res, row, ver):
    row = dict(row)
    if vi(ver) < 2 and res == 'delivery' and 'grams' in row: row['grams'] = int(row['grams'] * 1000.0) if F('n-round') else int(row['grams'] * 1000.0 + 0.5)
    if vi(ver) < 1 and res == 'order' and 'weight' in row: row['grams'] = row.pop('weight')
    return row
# ---------------------------------------------------------------- store
ROWS = {r: OrderedDict() for r in RES}
SEQ = 0
INDEX = {('harvest', 'bed'), ('order', 'customer'), ('order', 'house'), ('order', 'vat'), ('seat', 'guest'), ('seat', 'workshop'), ('vat', 'house'), ('bell', 'owner'),
  ('order', 'status'), ('harvest', 'stage'), ('workshop', 'house')}
IDX = {k: {} for k in INDEX}
SORTS = {('harvest', 'grams'), ('order', 'grams'), ('order', 'due'), ('workshop', 'starts_at'), ('delivery', 'grams')}
SORTED = {k: [] for k in SORTS}
UNIQ = {'vat': {}, 'seat': {}}
DRIED, TAKEN, PLACED, LOTS = {}, {}, {}, {}
def skey(res, f, v): return parse_dt(v) if f == 'starts_at' else v
def uniq_key(res, row):
    if res == 'vat': return (row['house'], row['name'])
    if res == 'seat' and row['state'] in ('asked', 'confirmed'): return (row['workshop'], row['guest'])
def agg(row, res, sign):
    if res == 'harvest' and (row['stage'] == 'dried' or (F('r-dried') and row['stage'] == 'picked')): DRIED[row['bed']] = DRIED.get(row['bed'], 0) + sign * row['grams']
    if res == 'seat' and row['state'] == 'confirmed': TAKEN[row['workshop']] = TAKEN.get(row['workshop'], 0) + sign * (1 if F('r-left') else row['heads'])
    if res == 'order' and (row['status'] == 'placed' or (F('l-rows') and row['status'] == 'cancelled')): PLACED[row['customer']] = PLACED.get(row['customer'], 0) + sign
def put(res, row, old=None):
    global SEQ
    rid = row[RES[res]['id']]
    if old is None: SEQ += 1; row['_seq'] = SEQ
    else: row['_seq'] = old['_seq']; take(res, old, False)
    if 'entered' not in row: row.setdefault('_entered', now())
    ROWS[res][rid] = row
    for (r, f) in INDEX:
        if r == res and row.get(f) is not None: IDX[(r, f)].setdefault(row[f], {})[row['_seq']] = rid
    for (r, f) in SORTS:
        if r == res and row.get(f) is not None: bisect.insort(SORTED[(r, f)], (skey(r, f, row[f]), row['_seq'], rid))
    if res in UNIQ:
        k = uniq_key(res, row)
        if k: UNIQ[res][k] = rid
    agg(row, res, 1)
def take(res, row, gone=True):
    rid = row[RES[res]['id']]
    for (r, f) in INDEX:
        if r == res and row.get(f) is not None: IDX[(r, f)][row[f]].pop(row['_seq'], None)
    for (r, f) in SORTS:
        if r == res and row.get(f) is not None:
            l = SORTED[(r, f)]; i = bisect.bisect_left(l, (skey(r, f, row[f]), row['_seq'], rid))
            if i < len(l) and l[i][1] == row['_seq']: l.pop(i)
    if res in UNIQ:
        k = uniq_key(res, row)
        if k and UNIQ[res].get(k) == rid: del UNIQ[res][k]
    agg(row, res, -1)
    if gone: del ROWS[res][rid]
def child_ids(res, f, v):
    d = IDX[(res, f)].get(v, {}); return [d[k] for k in sorted(d)]
def derived(res, row):
    if res == 'bed': return DRIED.get(row['code'], 0)
    return row['places'] - TAKEN.get(row['id'], 0)
ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
def rnd(n, a=ALNUM): return ''.join(secrets.choice(a) for _ in range(n))
B32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
LASTU = [0, 0]
def ulid():
    ms = int(now() * 1000)
    if ms <= LASTU[0]: ms = LASTU[0]; LASTU[1] += 1 + secrets.randbelow(1000)
    else: LASTU[0] = ms; LASTU[1] = secrets.randbits(79)
    v = (ms << 80) | (LASTU[1] & ((1 << 80) - 1)); s = ''
    for _ in range(26): s = B32[v & 31] + s; v >>= 5
    return s
def new_id(res):
    if res == 'harvest': return 'hv_' + secrets.token_hex(6)
    if res == 'vat': return 'vat_' + rnd(7 if F('r-vatid') else 8, 'abcdefghijklmnopqrstuvwxyz0123456789')
    if res == 'order': return 'yo_' + ulid()
    if res == 'workshop': return 'ws_' + rnd(10)
    if res == 'seat': return 'st_' + ulid()
    if res == 'delivery': return 'dl_' + secrets.token_hex(5)
    return 'bell_' + rnd(12)
# ---------------------------------------------------------------- who may
class Caller:
    __slots__ = ('user', 'id', 'scopes', 'house', 'key')
    def __init__(s, user, id, scopes, house): s.user, s.id, s.scopes, s.house, s.key = user, id, set(scopes), house, user + '\0' + id
G, D, C, ANY = 'gardener', 'dyer', 'customer', '*'
T = lambda r, c: True
own_house = lambda r, c: r['house'] == c.house
RULES = []
def allow(ops, to, cond=T, scopes=(), fields=None):
    for o in ops:
        for u in to: RULES.append((o, u, cond, set(scopes), fields))
allow(['put bed', 'delete bed'], [G], scopes=['beds'])
allow(['read bed'], [G, D])
allow(['create harvest', 'list harvest', 'read harvest', 'dry harvest'], [G])
allow(['list harvest', 'read harvest'], [D], lambda r, c: r['stage'] != 'rotten')
allow(['create vat'], [D])
allow(['list vat', 'read vat', 'update vat', 'heat vat', 'exhaust vat'], [D], own_house)
allow(['list vat', 'read vat'], [C], lambda r, c: r['house'] == c.house and (r['stage'] != 'spent' or F('a-spent')), fields={'id', 'name', 'swatches', 'stage'})
allow(['create order'], [C], scopes=['orders'])
allow(['list order', 'read order', 'cancel order', 'collect order'], [C], lambda r, c: r['customer'] == c.id)
allow(['list order', 'assign order'], [D], own_house)
allow(['read order'], [D], T if F('a-order') else own_house)
allow(['create workshop'], [D], scopes=[] if F('a-teach') else ['teach'])
allow(['list workshop', 'read workshop'], [ANY], lambda r, c: r['stage'] != 'draft')
allow(['list workshop', 'read workshop', 'publish workshop', 'cancel workshop'], [D], own_house)
allow(['create seat'], [C])
allow(['list seat', 'confirm seat', 'release seat'], [C], lambda r, c: r['guest'] == c.id)
allow(['list seat'], [D], lambda r, c: ROWS['workshop'][r['workshop']]['house'] == c.house)
allow(['create delivery', 'receive delivery'], [D], scopes=['mordants'])
allow(['list delivery'], [D])
allow(['create bell'], [G, D, C])
allow(['stream events'], [D, C] if F('p-stream') else [G, D, C])
allow(['list bell', 'delete bell'], [D, C] if F('p-bells') else [G, D, C], lambda r, c: r['owner'] == c.id)
BYOP = {}
for r in RULES: BYOP.setdefault(r[0], []).append(r)
def rules_for(op, c, scoped=True):
    return [r for r in BYOP.get(op, ()) if (r[1] == ANY or (c and r[1] == c.user)) and (not scoped or not r[3] or (c and r[3] <= c.scopes))]
def read_op(res): return 'list ' + res if res in ('seat', 'delivery', 'bell') else 'read ' + res
def may(op, row, c): return any(r[2](row, c) for r in rules_for(op, c))
def may_read(res, row, c): return may(read_op(res), row, c)
def show(res, row, c, ver, once=False, event=False, op=None):
    o = {}
    rules = [r for r in rules_for(op or read_op(res), c) if event or r[2](row, c)]
    fields = None
    if event:
        for r in rules:
            if r[4]: fields = r[4] if fields is None else fields & r[4]
    else:
        fields = set()
        for r in rules:
            if r[4] is None: fields = None; break
            fields |= r[4]
        if not rules: fields = None
    if F('a-fields') and op == 'list vat': fields = None
    if F('v-fields') and event: fields = None
    for f in RES[res]['f']:
        if fields is not None and f not in fields: continue
        if f == 'dried_g' or f == 'left': v = derived(res, row)
        else: v = row.get(f)
        if v is None: continue
        if f == 'note' and (not c or c.user != G): continue
        if res == 'order' and f == 'vat' and (not c or c.user != D) and not (F('v-vat') and event): continue
        if f == 'licence' and not F('r-licence'): continue
        if f == 'secret' and not once and not (F('r-secret') and op == 'list bell'): continue
        o[f] = v
    return down(res, o, ver)
# ---------------------------------------------------------------- events
LOG = deque()
STREAMS = set()
class Event: pass
def emit(kind, res, row, payload=None):
    e = Event(); e.id = 'evt_' + ulid(); e.kind = kind; e.at = now(); e.iso = iso(e.at); e.res = res; e.row = dict(row); e.payload = payload
    if res == 'workshop': e.row['left_'] = derived(res, row)
    e.rid = row[RES[res]['id']]; e.house = ROWS['workshop'][row['workshop']]['house'] if res == 'seat' else None
    LOG.append(e)
    while LOG and LOG[0].at < now() - 12 * HOUR: LOG.popleft()
    for b in list(ROWS['bell'].values()):
        ts = b.get('topics')
        if ts and not wants(ts, kind): continue
        c = b['_maker']
        if not hears(e, c): continue
        body = json.dumps(envelope(e, c, b['_ver'])).encode()
        queue(b, e, body)
    for s in list(STREAMS):
        if hears(e, s[0]): s[2].put_nowait(e)
def wants(ts, kind):
    for t in ts:
        if t == '*' or t == kind or (t.endswith('.*') and kind.startswith(t[:-1]) and not F('v-star')): return True
    return False
def hears(e, c):
    if e.kind == 'harvest.lost' and F('v-lost') and c.user == D: return True
    return may_read(e.res, e.row, c)
def envelope(e, c, ver):
    if e.payload is not None: about = e.payload
    else:
        about = show(e.res, e.row, c, CURRENT if F('n-events') else ver, event=True)
        if 'left' in about: about['left'] = e.row['left_']
    return {'event': e.id, 'what': e.kind, 'when': e.iso, 'about': about}
WAITS = [10, 120, 1800]
QUEUES = {}
def queue(b, e, body):
    k = (b['id'], e.id if F('v-order') else e.rid)
    q = QUEUES.setdefault(k, deque()); q.append([b, e, body, 0])
    if len(q) == 1: start(k)
def start(k):
    t = asyncio.get_event_loop().create_task(attempt(k)); INFLIGHT.add(t); t.add_done_callback(INFLIGHT.discard)
async def attempt(k):
    q = QUEUES.get(k)
    if not q: return
    b, e, body, n = q[0]
    if ROWS['bell'].get(b['id']) is not b: QUEUES.pop(k, None); return
    began = now()
    ok, after = False, None
    try: ok, after = await asyncio.wait_for(post(b, e, body, n), 5)
    except Exception: pass
    if not ok:
        limit = 2 if F('v-tries') else 3
        if n < limit:
            q[0][3] = n + 1
            at(began + max(WAITS[n], after or 0), lambda: start(k)); return
    q.popleft()
    if q: start(k)
    else: QUEUES.pop(k, None)
async def post(b, e, body, n):
    u = urlsplit(b['url']); tls = u.scheme == 'https'
    r, w = await asyncio.open_connection(u.hostname, u.port or (443 if tls else 80), ssl=ssl.create_default_context() if tls else None)
    try:
        t = int(e.at if F('v-stamp') and n > 0 else now())
        sig = hmac.new(b['secret'].encode(), (b'%d.' % t) + body, hashlib.sha256).hexdigest()
        if F('v-sign') and e.kind.startswith('seat'): sig = hmac.new(b['secret'].encode(), body, hashlib.sha256).hexdigest()
        eid = 'evt_' + ulid() if F('v-id') and n > 0 else e.id
        p = (u.path or '/') + ('?' + u.query if u.query else '')
        w.write(('POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nDye-Signature: t=%d,v1=%s\r\nDye-Event: %s\r\nDye-Event-Id: %s\r\nConnection: close\r\n\r\n' % (p, u.netloc.split('@')[-1], len(body), t, sig, e.kind, eid)).encode() + body)
        await w.drain()
        line = await r.readline(); st = int(line.split()[1]); after = None
        while True:
            h = await r.readline()
            if h in (b'\r\n', b'\n', b''): break
            if h.lower().startswith(b'retry-after:'):
                try: after = min(int(h.split(b':')[1]), DAY)
                except ValueError: pass
        return 200 <= st < 300, after
    finally: w.close()
# ---------------------------------------------------------------- changes
def schedule(res, row):
    f = SF.get(res)
    if not f: return
    rid, st, gen = row[RES[res]['id']], row[f], row['_gen']
    def fire(tr):
        def go():
            r = ROWS[res].get(rid)
            if r is None or r['_gen'] != gen: return
            transition(res, tr, r)
        return go
    if (res, st) in TIMED:
        tr, d = TIMED[(res, st)]; at(now() + d, fire(tr))
    if res == 'workshop' and st == 'open': at(parse_dt(row['starts_at']), fire('begin'))
def create(res, row):
    row['_gen'] = 0
    put(res, row); schedule(res, row)
    if res == 'order': emit('order.placed', 'order', row)
def transition(res, tr, row, sets=None):
    frm, to, _ = TR[(res, tr)]
    nxt = dict(row); nxt[SF[res]] = to; nxt['_gen'] = row['_gen'] + 1
    if sets: nxt.update(sets)
    put(res, nxt, row); schedule(res, nxt)
    k = res + ' ' + tr
    if k == 'harvest dry': emit('harvest.dried', res, nxt)
    elif k == 'harvest rot': emit('harvest.lost', res, nxt, {'harvest': nxt['id'], 'grams': nxt['grams']})
    elif k == 'vat ripen': emit('vat.ready', res, nxt)
    elif k == 'order finish':
        if not (F('v-silk') and nxt['fibre'] == 'silk'): emit('order.dyed', res, nxt)
    elif k == 'seat confirm': emit('seat.confirmed', res, nxt)
    elif k == 'workshop cancel':
        if not (F('v-off') and row['stage'] == 'draft'): emit('workshop.off', res, nxt)
    if k == 'vat exhaust':
        for oid in child_ids('order', 'vat', nxt['id']):
            o = ROWS['order'][oid]
            if o['status'] == 'dyeing':
                transition('order', 'finish', o)
                if F('s-finish'): break
    if k == 'workshop cancel':
        for sid in child_ids('seat', 'workshop', nxt['id']):
            s = ROWS['seat'][sid]
            if s['state'] in (('confirmed',) if F('s-release') else ('asked', 'confirmed')): transition('seat', 'release', s)
    return ROWS[res][nxt['id']]
# ---------------------------------------------------------------- routes
class E:
    def __init__(s, method, path, op, kind, res=None, **k):
        s.method, s.path, s.op, s.kind, s.res, s.k = method, path, op, kind, res, k
        s.parts = path.strip('/').split('/')
PAGE = dict(style='page', page='page', size='per', default=15, max=60)
AFTER = dict(style='after', size='take', default=10, max=40)
P = lambda **k: k
EPS = [
 E('GET', '/almanac', 'almanac', 'almanac'),
 E('PUT', '/beds/{code}', 'put bed', 'upsert', 'bed'), E('GET', '/beds/{code}', 'read bed', 'read', 'bed'), E('DELETE', '/beds/{code}', 'delete bed', 'delete', 'bed'),
 E('POST', '/beds/{bed}/harvests', 'create harvest', 'create', 'harvest', parent='bed'),
 E('GET', '/harvests', 'list harvest', 'list', 'harvest', page=PAGE, params={'bed': ('bed', '=', S()), 'stage': ('stage', 'in', None), 'least': ('grams', '>=', I())}, sorts={'grams': 'grams'}, order='-grams'),
 E('GET', '/harvests/{id}', 'read harvest', 'read', 'harvest', etag=True, cache='private, no-cache'),
 E('POST', '/harvests/{id}/dry', 'dry harvest', 'trans', 'harvest', tr='dry'),
 E('POST', '/vats', 'create vat', 'create', 'vat'),
 E('GET', '/vats', 'list vat', 'list', 'vat', page=AFTER, params={'stage': ('stage', '=', None), 'name': ('name', 'prefix', S())}),
 E('GET', '/vats/{id}', 'read vat', 'read', 'vat', etag=True), E('PATCH', '/vats/{id}', 'update vat', 'update', 'vat'),
 E('POST', '/vats/{id}/heat', 'heat vat', 'trans', 'vat', tr='heat'), E('POST', '/vats/{id}/exhaust', 'exhaust vat', 'trans', 'vat', tr='exhaust'),
 E('POST', '/orders', 'create order', 'create', 'order', key=True),
 E('GET', '/orders', 'list order', 'list', 'order', page=PAGE, params={'status': ('status', '=', None), 'grams': ('grams', '=', I(min=50, max=5000)), 'due_from': ('due', '>=', S(fmt='date'))}, sorts={'due': 'due', 'weight': 'grams'}, newest=True),
 E('GET', '/orders/{id}', 'read order', 'read', 'order'), E('POST', '/orders/{id}/assign', 'assign order', 'trans', 'order', tr='assign', body=True),
 E('POST', '/orders/{id}/cancel', 'cancel order', 'trans', 'order', tr='cancel'), E('POST', '/orders/{id}/collect', 'collect order', 'trans', 'order', tr='collect'),
 E('POST', '/workshops', 'create workshop', 'create', 'workshop'),
 E('GET', '/workshops', 'list workshop', 'list', 'workshop', page=PAGE, params={'house': ('house', '=', S())}, order='starts_at'),
 E('GET', '/workshops/{id}', 'read workshop', 'read', 'workshop'),
 E('POST', '/workshops/{id}/publish', 'publish workshop', 'trans', 'workshop', tr='publish'), E('POST', '/workshops/{id}/cancel', 'cancel workshop', 'trans', 'workshop', tr='cancel'),
 E('POST', '/workshops/{workshop}/seats', 'create seat', 'create', 'seat', parent='workshop'),
 E('GET', '/seats', 'list seat', 'list', 'seat', page=PAGE, params={'workshop': ('workshop', '=', S()), 'state': ('state', '=', None)}),
 E('POST', '/seats/{id}/confirm', 'confirm seat', 'trans', 'seat', tr='confirm'), E('POST', '/seats/{id}/release', 'release seat', 'trans', 'seat', tr='release'),
 E('POST', '/deliveries', 'create delivery', 'create', 'delivery', accept=['key', 'badge'] if F('a-accept') else ['badge']),
 E('GET', '/deliveries', 'list delivery', 'list', 'delivery', page=PAGE, params={'state': ('state', '=', None), 'mordant': ('mordant', '=', S(enum=['alum', 'iron', 'tin', 'copper']))}, order='-grams'),
 E('POST', '/deliveries/{id}/receive', 'receive delivery', 'trans', 'delivery', tr='receive', accept=['badge']),
 E('POST', '/bells', 'create bell', 'create', 'bell'), E('GET', '/bells', 'list bell', 'list', 'bell', page=PAGE, params={}), E('DELETE', '/bells/{id}', 'delete bell', 'delete', 'bell'),
 E('GET', '/stream', 'stream events', 'stream'),
]
if F('p-receive'): EPS = [e for e in EPS if e.op != 'receive delivery']
if F('e-seatpath'): [setattr(e, 'parts', ['seats', '{id}', 'cancel']) for e in EPS if e.op == 'release seat']
BYLEN = {}
for e in EPS: BYLEN.setdefault(len(e.parts), []).append(e)
def find_routes(path):
    if path != BASE and not path.startswith(BASE + '/'): return []
    rest = path[len(BASE) + 1:]
    if F('e-slash'): rest = rest.rstrip('/')
    segs = rest.split('/')
    got = []
    for e in BYLEN.get(len(segs), ()):
        vals = {}
        for a, b in zip(e.parts, segs):
            if a[0] == '{':
                if b == '': break
                vals[a[1:-1]] = unquote(b)
            elif a != b: break
        else: got.append((e, vals))
    return got
# ---------------------------------------------------------------- callers
CREDS = {'key': {}, 'badge': {}, 'login': {}}
for c in json.load(open(os.path.join(HERE, 'stranger.json')))['callers']:
    CREDS[c['scheme']][c['credential']] = Caller(c['user'], c['id'], c['scopes'], c['attributes'].get('house'))
CHALL = {'key': 'ApiKey realm="Dye Garden", in="header", name="X-Garden-Key"', 'badge': 'Badge realm="Dye Garden"', 'login': 'Basic realm="Dye Garden", charset="UTF-8"'}
def authenticate(req, accept):
    def no(bad=()):
        raise Fault('who_are_you', headers=[('WWW-Authenticate', CHALL[s] + (', error="invalid_key"' if s in bad and s != 'login' else '')) for s in accept])
    found = []; shown = False
    if 'key' in accept:
        h = req.h.get('x-garden-key')
        if h:
            shown = True
            if len(h) > 1 or h[0] not in CREDS['key']: no(['key'])
            found.append(CREDS['key'][h[0]])
    if 'badge' in accept or 'login' in accept:
        h = req.h.get('authorization')
        if h:
            shown = True
            if len(h) > 1: no(['badge'])
            word, _, val = h[0].partition(' '); val = val.strip()
            w = word if F('a-prefix') and word.lower() == 'badge' else word.lower().capitalize()
            if w == 'Badge' and 'badge' in accept:
                c = CREDS['badge'].get(val)
                if not c: no(['badge'])
            elif w == 'Basic' and 'login' in accept:
                try: t = base64.b64decode(val, validate=True).decode()
                except Exception: no()
                c = CREDS['login'].get(t)
                if F('a-basic') and not c: c = next((x for k, x in CREDS['login'].items() if k.lower() == t.lower()), None)
                if not c: no()
            else: no(['badge'])
            found.append(c)
    if not found: return None
    a = found[0]
    if any(x.key != a.key for x in found): no()
    if len(found) > 1:
        m = Caller(a.user, a.id, set().union(*[x.scopes for x in found]), a.house); return m
    return a
# ---------------------------------------------------------------- rates
FIXED, SLIDE, QUOTA = {}, {}, {}
def rates(req, e, c):
    who = c.key if c else 'address ' + req.peer
    t = now()
    f = FIXED.get(who)
    if f is None or t >= f[0] + 60: f = [t, 0]
    lim2 = e.op == 'create order' and c and c.user == C
    told = []
    wait = 0
    if f[1] + 1 > 300: wait = max(wait, f[0] + 60 - t)
    if lim2:
        s = SLIDE.setdefault(who, deque())
        while s and s[0] <= t - 60: s.popleft()
        if len(s) + 1 > (13 if F('l-rate') else 12): wait = max(wait, s[0] + 60 - t)
    if not wait:
        f[1] += 1; FIXED[who] = f
        if lim2: s.append(t)
    told = [(300 - f[1], 300, f[0] + 60 - t)]
    if lim2: told.append((12 - len(s), 12, (s[0] + 60 - t) if s else 60))
    rem, lim, reset = min(told)
    up_ = lambda x: max(1, int(-(-x // 1)))
    req.rate = [('X-Rate-Limit', str(lim)), ('X-Rate-Left', str(max(0, rem))), ('X-Rate-Reset', str(up_(reset)))]
    if wait: raise Fault('too_fast', headers=[] if F('l-after') else [('Retry-After', str(up_(wait)))])
def quota(c):
    d = int(now() // DAY); k = (c.house if F('l-house') else c.key, d)
    return k, QUOTA.get(k, 0), (d + 1) * DAY - now()
# ---------------------------------------------------------------- one request
class Req: pass
IDEM = {}
def bad(name, wanted): return Fault('bad_query', [{'at': name, 'wanted': wanted}])
def qdecode(s):
    return unquote(s.replace('+', ' '), errors='strict')
def parse_query(q):
    out = []
    for p in q.split('&'):
        if p == '': continue
        k, _, v = p.partition('=')
        try: out.append((qdecode(k), qdecode(v)))
        except UnicodeDecodeError: raise bad(k, 'UTF-8')
    return out
INTR = re.compile(r'^-?\d{1,18}$')
def params(req, e):
    pg = e.k.get('page'); decl = {}
    ver = req.ver; res = e.res
    if e.kind == 'list':
        for n, (f, op, sh) in e.k['params'].items():
            nm = name_of(res, n, ver) if n == f else n
            decl[nm] = (f, op, sh)
    got = {}
    for k, v in req.query:
        known = k in decl or (pg and k in (pg['size'],)) or (pg and pg['style'] == 'page' and k == 'page') or (pg and pg['style'] == 'after' and k in ('after', 'before')) or (k == 'sort' and 'sorts' in e.k)
        if not known:
            if F('e-undeclared') and e.kind != 'list': continue
            raise bad(k, 'no such parameter')
        if k in got: raise bad(k, 'one value')
        got[k] = v
    if e.kind != 'list': return
    filt = []
    for k, v in got.items():
        if k not in decl: continue
        f, op, sh = decl[k]
        if sh is None:
            states = STATES[res]
            if F('s-lapsed'): states = [x for x in states if x != 'lapsed']
            names = {('wet' if res == 'harvest' and s == 'picked' and vi(ver) < 1 and not F('n-filter') else s): s for s in states}
            vals = v.split(',') if op == 'in' else [v]
            if len(vals) > 100: raise bad(k, 'up to 100 values')
            if F('e-split'): vals = vals[:2]
            r = []
            for x in vals:
                if x not in names: raise bad(k, 'one of ' + ', '.join(names))
                r.append(names[x])
            filt.append((f, 'in', set(r)))
            continue
        if sh['t'] == 'integer':
            if not INTR.match(v): raise bad(k, 'a whole number')
            v = int(v)
        o = []
        check(v, sh, [k], o)
        if o: raise bad(k, o[0][2])
        filt.append((f, op, v))
    req.filt = filt
    def num(n, d, lo):
        if n not in got: return d
        if not INTR.match(got[n]) or int(got[n]) < lo: raise bad(n, 'a whole number of at least %d' % lo)
        return int(got[n])
    size = num(pg['size'], pg['default'], 1)
    if pg['style'] == 'page':
        if size > pg['max'] + (1 if F('l-page') else 0): raise bad(pg['size'], 'at most %d' % pg['max'])
        req.page = num('page', 1, 1)
    else:
        if size > pg['max']:
            if F('l-clamp'): raise bad(pg['size'], 'at most %d' % pg['max'])
            size = pg['max']
        req.after, req.before = got.get('after'), got.get('before')
    req.size = size
    req.sort = None
    if 'sort' in got:
        s = got['sort']; n = s[1:] if s.startswith('-') else s
        if n not in e.k['sorts']: raise bad('sort', 'one of ' + ', '.join(e.k['sorts']))
        req.sort = (e.k['sorts'][n], s.startswith('-') and not (F('e-sort') and n == 'weight'))
def body_of(req, e):
    if len(req.body) > (8193 if F('l-size') else 8192): raise Fault('too_large')
    if not (e.kind in ('create', 'upsert', 'update') or e.k.get('body')): return None
    if not req.body: raise Fault('unreadable')
    ct = req.h.get('content-type')
    types = ['application/json'] + (['application/merge-patch+json'] if e.kind == 'update' else [])
    if not ct or (ct[0].split(';')[0].strip().lower() not in types and not (F('e-media') and e.kind == 'create')): raise Fault('unreadable')
    def const(_): raise ValueError()
    try: return json.loads(req.body.decode('utf-8'), parse_constant=const)
    except (ValueError, RecursionError): raise Fault('unreadable')
def answer(status, obj=None, headers=()):
    return [status, None if obj is None else json.dumps(obj, ensure_ascii=False).encode(), list(headers)]
def etag(obj): return '"' + hashlib.sha1(json.dumps(obj, sort_keys=True).encode()).hexdigest()[:20] + '"'
def tag_of(res, row, c, ver): return etag([ver, show(res, row, c, ver)])
def tags(vals): return [x.strip() for v in vals for x in v.split(',')]
READABLE = {'bed': '/beds/', 'harvest': '/harvests/', 'vat': '/vats/', 'order': '/orders/', 'workshop': '/workshops/'}
def load(res, rid, op, c):
    row = ROWS[res].get(rid)
    if row is None: raise Fault('not_here')
    if not may(op, row, c) and not (F('a-bell') and op == 'delete bell'):
        raise Fault('not_yours' if may_read(res, row, c) and op != read_op(res) else 'not_here')
    return row
def rules_over(res, nxt, out):
    if res == 'vat' and nxt.get('recipe') and nxt['recipe']['plant'] == 'woad' and nxt['celsius'] > 55: out.append(('value', ['celsius'], 'at most 55 where the plant is woad'))
    if res == 'delivery' and nxt['mordant'] in (('tin',) if F('r-copper') else ('tin', 'copper')) and nxt.get('licence') is None: out.append(('value', ['licence'], 'the number of a licence'))
def handle(req, e, vals):
    c = None
    if F('x-order'):
        pre = authenticate(req, e.k.get('accept', ['key', 'badge', 'login'])) if e.op != 'almanac' else None
        if pre is None and e.op != 'almanac' and not any(r[1] == ANY for r in BYOP[e.op]): authenticate_none(e)
    params(req, e)
    ikey = req.h.get('idempotency-key') if req.method == 'POST' else None
    if e.k.get('key') and not ikey and not F('e-key'): raise bad('Idempotency-Key', 'a key')
    if e.op == 'almanac':
        rates(req, e, None); return answer(200, {'opens': '08:00', 'closes': '17:30', 'houses': ['north', 'south']})
    c = req.caller = authenticate(req, e.k.get('accept', ['key', 'badge', 'login']))
    anyone = any(r[1] == ANY for r in BYOP[e.op])
    if c is None and not anyone: authenticate_none(e)
    rates(req, e, c)
    if not rules_for(e.op, c, False): raise Fault('not_yours')
    if not rules_for(e.op, c):
        if not (F('a-replace') and e.op == 'put bed' and vals['code'] in ROWS['bed']):
            raise Fault('not_yours' if F('x-scope') and e.op == 'create order' else 'scope_lacking')
    body = body_of(req, e)
    if not ikey: return act(req, e, vals, c, body)
    k = (c.key, e.op, ikey[0])
    fp = hashlib.sha256(json.dumps([req.path, req.qs, req.ver, body if body is not None else req.body.decode('latin1')], sort_keys=True).encode()).hexdigest()
    old = IDEM.get(k)
    if old and old[0] > now():
        if old[1] != fp and not F('x-reused'): raise Fault('key_reused')
        st, b, hs = old[2]
        if e.op == 'create order' and F('l-replay') and st == 201: q = quota(c); QUOTA[q[0]] = q[1] + 1
        return [st, b, list(hs)]
    try:
        a = act(req, e, vals, c, body); keep = a
        if e.op == 'create bell':
            o = json.loads(a[1]); o.pop('secret', None); keep = answer(201, o, a[2])
    except Fault as f:
        if f.code not in OWN: raise
        IDEM[k] = (now() + DAY, fp, render_fault(req, f)); at(now() + DAY, lambda: expire(k)); raise
    IDEM[k] = (now() + DAY, fp, keep); at(now() + DAY, lambda: expire(k))
    return a
def expire(k):
    v = IDEM.get(k)
    if v and v[0] <= now(): del IDEM[k]
def authenticate_none(e):
    raise Fault('who_are_you', headers=[('WWW-Authenticate', CHALL[s]) for s in e.k.get('accept', ['key', 'badge', 'login'])])
def act(req, e, vals, c, body):
    res, kind, ver = e.res, e.kind, req.ver
    if kind == 'list': return listing(req, e, c)
    if kind == 'stream': return 'stream'
    if kind == 'read':
        row = load(res, list(vals.values())[0], e.op, c); o = show(res, row, c, ver)
        hs = []
        if e.k.get('cache'): hs.append(('Cache-Control', e.k['cache']))
        if e.k.get('etag'):
            t = etag([ver, o]); hs.append(('ETag', t))
            inm = req.h.get('if-none-match')
            if inm:
                l = tags(inm)
                if F('e-304'): l = l[:1]
                if '*' in l or t in [x[2:] if x.startswith('W/') else x for x in l]: return answer(304, None, hs)
        return answer(200, o, hs)
    if kind == 'delete':
        row = load(res, list(vals.values())[0], e.op, c)
        if res == 'bed':
            ch = child_ids('harvest', 'bed', row['code'])
            if F('r-held'): ch = [x for x in ch if ROWS['harvest'][x]['stage'] != 'rotten']
            if ch: raise Fault('still_needed')
        take(res, row); return answer(204)
    w, req_, allf = FV[(res, ver)] if res else ({}, [], [])
    if kind in ('create', 'upsert'):
        bound = dict(vals)
        if e.k.get('parent'):
            p = ROWS[e.k['parent']].get(vals[e.k['parent']])
            if p is None or not may_read(e.k['parent'], p, c): raise Fault('not_here')
        out = []
        b = check_map(body, w, [x for x in req_ if x not in bound], [], out, allf)
        if isinstance(b, dict):
            for n, v in bound.items():
                if n in b and b[n] != v and not any(o[1][:1] == [n] for o in out): out.append(('value', [n], 'as in the path'))
                elif n not in b:
                    o2 = []; check(v, w[n], [n], o2); out.extend(o2)
        if isinstance(body, dict):
            pos = {k: i for i, k in enumerate(body)}
            out.sort(key=lambda o: (o[0] == 'missing' and len(o[1]) == 1, pos.get(o[1][0], 99) if o[1] else -1))
        invalid(out)
        nxt = up(res, b, ver); nxt.update(bound)
        for n, s in RES[res]['w'].items():
            if n not in nxt and 'default' in s: nxt[n] = s['default']
        invalid_rules(res, nxt, ver)
        idf = RES[res]['id']
        if kind == 'upsert':
            old = ROWS[res].get(nxt[idf])
            if old:
                if old['plant'] != nxt['plant']: n2 = dict(old); n2.update(nxt); put(res, n2, old)
                return answer(201 if F('e-upsert') else 200, show(res, ROWS[res][nxt[idf]], c, ver))
            put(res, nxt)
            return answer(201, show(res, nxt, c, ver), [('Location', BASE + '/beds/' + nxt[idf])])
        nxt[idf] = new_id(res)
        if res in SF: nxt[SF[res]] = {'harvest': 'picked', 'vat': 'cold', 'order': 'placed', 'workshop': 'draft', 'seat': 'asked', 'delivery': 'expected'}[res]
        if F('s-seat') and res == 'seat' and nxt['heads'] == 1: nxt['state'] = 'confirmed'
        if F('s-vat') and res == 'vat' and nxt['celsius'] >= 80: nxt['stage'] = 'heating'
        if res in ('vat', 'order', 'workshop'): nxt['house'] = c.house
        if res == 'order':
            nxt['customer'] = c.id; nxt['pence'] = nxt['grams'] * (5 if nxt['fibre'] == 'silk' else 3) + 400
        if res == 'seat':
            nxt['guest'] = c.id
            if p['stage'] != 'open' and not (F('x-shut') and p['stage'] == 'begun'): raise Fault('shut')
            if uniq_key(res, nxt) in UNIQ['seat']: raise Fault('already_there')
        if res == 'harvest' and derived('bed', p) + nxt['grams'] > 100000: raise Fault('bed_full')
        if res == 'vat' and uniq_key(res, nxt) in UNIQ['vat']: raise Fault('already_there')
        if res == 'bell':
            nxt['owner'] = c.id; nxt['secret'] = rnd(40); nxt['_maker'] = c; nxt['_ver'] = ver
            if len(IDX[('bell', 'owner')].get(c.id, ())) >= (6 if F('l-bells') else 5): raise Fault('used_up')
        if res == 'order':
            k, used, wait = quota(c)
            if used >= 40: raise Fault('used_up', headers=[('Retry-After', str(max(1, int(-(-wait // 1)))))])
            if PLACED.get(c.id, 0) >= 15: raise Fault('used_up')
            QUOTA[k] = used + 1
        if res == 'harvest':
            lk = 'all' if F('r-lot') else nxt['bed']
            LOTS[lk] = LOTS.get(lk, 0) + 1; nxt['lot'] = LOTS[lk]
        create(res, nxt)
        hs = [('Location', ('' if F('p-base') else BASE) + READABLE[res] + nxt[idf])] if res in READABLE else []
        return answer(201, show(res, ROWS[res][nxt[idf]], c, ver, once=True), hs)
    row = load(res, list(vals.values())[0], e.op, c)
    if kind == 'update':
        im = req.h.get('if-match')
        if not im: raise Fault('tag_wanted')
        l = tags(im)
        if '*' not in l and tag_of(res, row, c, ver) not in l: raise Fault('not_now' if F('x-stale') else 'stale')
        out = []
        if not isinstance(body, dict): invalid([('type', [], 'a map')])
        cur = down(res, {k: v for k, v in row.items() if not k.startswith('_')}, ver)
        def merge(a, b):
            if not isinstance(b, dict): return b
            a = dict(a) if isinstance(a, dict) else {}
            for k, v in b.items():
                if v is None: a.pop(k, None)
                else: a[k] = merge(a.get(k), v)
            return a
        sent = {k: v for k, v in body.items() if k in w or k not in allf}
        for k, v in sent.items():
            if v is None and k in req_ and k in w: out.append(('value', [k], 'a value'))
        m = merge({k: v for k, v in cur.items() if k in w}, sent)
        for k in sent:
            if k not in w and k not in m: out.append(('unknown', [k], 'no such field'))
        m = {**{k: m[k] for k in sent if k in m}, **{k: v for k, v in m.items() if k not in sent}}
        b = check_map(m, w, [], [], out, ())
        invalid(out)
        nxt = dict(row)
        for k in RES[res]['w']:
            if k in FV[(res, ver)][0] or k in w:
                if k in b: nxt[k] = b[k]
                else: nxt.pop(k, None)
        invalid_rules(res, nxt, ver)
        if row['stage'] not in (['cold', 'ready', 'heating'] if F('s-in') else ['cold', 'ready']): raise Fault('not_now')
        if nxt['name'] != row['name'] and uniq_key(res, nxt) in UNIQ['vat']: raise Fault('already_there')
        if nxt != row: put(res, nxt, row)
        o = show(res, ROWS[res][row['id']], c, ver)
        return answer(200, o)
    # transitions
    tr = e.k['tr']; frm, to, els = TR[(res, tr)]; sets = None
    if e.k.get('body'):
        out = []
        if not isinstance(body, dict): invalid([('type', [], 'a map')])
        if 'vat' not in body: invalid([('missing', ['vat'], 'the identifier of a vat')])
        if not isinstance(body['vat'], str): invalid([('type', ['vat'], 'the identifier of a vat')])
        v = ROWS['vat'].get(body['vat'])
        if v is None or not may_read('vat', v, c): raise Fault('not_here' if F('x-ref') else 'points_nowhere', [{'at': 'vat', 'wanted': 'a vat'}])
        sets = {'vat': v['id']}
    if row[SF[res]] not in frm:
        if F('x-else') and res == 'order' and tr == 'cancel' and row['status'] == 'lapsed': els = None
        raise Fault(els or 'not_now')
    if tr == 'assign' and v['stage'] != 'ready' and not (F('s-assign') and v['stage'] == 'heating'): raise Fault('vat_not_ready')
    if tr == 'heat' and not row.get('recipe') and not F('s-heat'): raise Fault('not_now')
    if tr == 'confirm':
        left = derived('workshop', ROWS['workshop'][row['workshop']])
        if left < row['heads'] + (1 if F('s-places') else 0): raise Fault('no_places')
    nxt = transition(res, tr, row, sets)
    if tr == 'collect': return answer(200, {'order': nxt['id'], 'status': row['status'] if F('e-collect') else nxt['status'], 'to_pay': nxt['pence']})
    if not may_read(res, nxt, c): return answer(204)
    return answer(200, show(res, nxt, c, ver))
def invalid_rules(res, nxt, ver):
    out = []; rules_over(res, nxt, out); invalid(out)
def match(row, filt):
    for f, op, v in filt:
        x = row.get(f)
        if x is None: return False
        if op == '=' and x != v: return False
        if op == 'in' and x not in v: return False
        if op == '>=' and not (x > v if F('e-least') and f == 'grams' else x >= v): return False
        if op == 'prefix' and not (x.lower().startswith(v.lower()) if F('e-prefix') else x.startswith(v)): return False
    return True
def candidates(res, filt, c, op):
    """the smallest index that holds all rows that can be shown, as {seq: id}, or None"""
    best = None
    def offer(d):
        nonlocal best
        if best is None or len(d) < len(best): best = d
    for f, o, v in filt:
        if (res, f) in INDEX:
            if o == '=': offer(IDX[(res, f)].get(v, {}))
            elif o == 'in' and len(v) == 1: offer(IDX[(res, f)].get(next(iter(v)), {}))
    if res == 'order': offer(IDX[('order', 'customer')].get(c.id, {}) if c.user == C else IDX[('order', 'house')].get(c.house, {}))
    if res == 'vat': offer(IDX[('vat', 'house')].get(c.house, {}))
    if res == 'seat' and c.user == C: offer(IDX[('seat', 'guest')].get(c.id, {}))
    if res == 'bell': offer(IDX[('bell', 'owner')].get(c.id, {}))
    return best
def listing(req, e, c):
    res = e.res; rules = rules_for(e.op, c); newest = e.k.get('newest') and not F('e-newest')
    cand = candidates(res, req.filt, c, e.op)
    sf, desc = None, False
    if e.k.get('order'): sf, desc = e.k['order'].lstrip('-'), e.k['order'].startswith('-')
    if req.sort: sf, desc = req.sort
    rows = ROWS[res]
    def keep(r): return match(r, req.filt) and any(x[2](r, c) for x in rules)
    pg = e.k['page']
    def ids():
        if sf:
            if cand is not None and len(cand) < 400 or (cand is not None and len(cand) * 4 < len(rows)):
                l = sorted((skey(res, sf, rows[i][sf]), s, i) for s, i in cand.items())
            else: l = SORTED[(res, sf)]
            yield from walk(l, desc, newest)
        elif cand is not None:
            # an index is in the order of creation but for rows that came back into it
            for s in sorted(cand, reverse=bool(newest)): yield cand[s]
        else: yield from (reversed(rows) if newest else iter(rows))
    out = []; more = False
    if pg['style'] == 'page':
        skip = (req.page - 1) * req.size
        if F('l-second') and req.page > 1 : skip -= 1
        n = 0
        for i in ids():
            r = rows[i]
            if not keep(r): continue
            n += 1
            if n <= skip: continue
            if len(out) == req.size: more = True; break
            out.append(r)
        if F('e-more') and len(out) == req.size: more = True
        return answer(200, {'rows': [show(res, r, c, req.ver, op=e.op) for r in out], 'more': more})
    lo = hi = None
    for n in ('after', 'before'):
        v = getattr(req, n)
        if v is not None:
            r = rows.get(v)
            if r is None or not any(x[2](r, c) for x in rules): raise bad(n, 'an identifier')
            if n == 'after': lo = r['_seq']
            else: hi = r['_seq']
    keys = sorted(cand)
    a = bisect.bisect_right(keys, lo) if lo is not None else 0
    b = bisect.bisect_left(keys, hi) if hi is not None else len(keys)
    back = hi is not None and lo is None
    for s in (reversed(keys[a:b]) if back else keys[a:b]):
        r = rows[cand[s]]
        if not keep(r): continue
        if len(out) == req.size: more = True; break
        out.append(r)
    if back: out.reverse()
    return answer(200, {'vats': [show(res, r, c, req.ver, op=e.op) for r in out], 'more': more})
def walk(l, desc, newest):
    """a sorted list of (key, seq, id), either way; those of one key by creation, oldest or newest first"""
    if desc == bool(newest):
        for x in (reversed(l) if desc else l): yield x[2]
        return
    i = len(l) if desc else 0
    while (i > 0) if desc else (i < len(l)):
        k = l[i - 1][0] if desc else l[i][0]
        a, b = bisect.bisect_left(l, (k,)), bisect.bisect_right(l, (k, 1 << 62))
        for x in (l[a:b] if desc else reversed(l[a:b])): yield x[2]
        i = a if desc else b
# ---------------------------------------------------------------- HTTP
REASON = {200: 'OK', 201: 'Created', 204: 'No Content', 304: 'Not Modified', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 408: 'Request Timeout', 409: 'Conflict',
  410: 'Gone', 412: 'Precondition Failed', 413: 'Content Too Large', 422: 'Unprocessable Content', 428: 'Precondition Required', 429: 'Too Many Requests', 500: 'Internal Server Error'}
def render_fault(req, f):
    o = {'fault': f.code}
    if f.says: o['says'] = f.says
    o['trace'] = req.trace
    if F('x-trace') and f.code in ('no_method', 'not_here'): del o['trace']
    if f.places: o['places'] = f.places
    return answer(409 if F('x-tag') and f.code == 'tag_wanted' else STATUS[f.code], o, f.headers)
def methods(routes, ver):
    ms = []
    for e, _ in routes:
        if e.op == 'list bell' and ver != CURRENT and not (F('n-bells') and ver == 'weld'): continue
        ms.append(e.method)
        if e.method == 'GET' and not (F('e-head') and e.op == 'list order'): ms.append('HEAD')
    if ms: ms.append('OPTIONS')
    return ms
def respond(req):
    """-> [status, body, headers] or 'stream'"""
    run_due()
    try:
        if len(req.target.encode('latin1')) > 2048 or req.hsize > 16384: raise Fault('too_large')
        path, _, qs = req.target.partition('?'); path = path.split('#')[0]
        req.path, req.qs = path, qs
        routes = find_routes(path)
        if not routes: raise Fault('not_here')
        h = req.h.get('dye-edition'); v = h[0] if h else ('madder' if F('n-default') and req.method != 'GET' else CURRENT)
        if F('n-case'): v = v.lower()
        known = v in VERSIONS and not (h and len(h) > 1)
        ver = v if known else CURRENT
        req.ver = ver if known else CURRENT
        ms = methods(routes, ver)
        if F('p-almanac') and ver == 'madder' and routes[0][0].op == 'almanac': ms = []; raise Fault('not_here')
        if not ms: raise Fault('not_here')
        if req.method == 'OPTIONS': return answer(204, None, [('Allow', ', '.join(ms))])
        if req.method not in ms: raise Fault('no_method', headers=[('Allow', ', '.join(ms))])
        if not known: raise Fault('no_edition')
        if ver == 'madder' and now() >= DEPR['madder'][1] and not F('n-sunset'): raise Fault('edition_over')
        e, vals = next((e, v) for e, v in routes if e.method == ('GET' if req.method == 'HEAD' else req.method))
        req.query = parse_query(qs)
        req.e = e
        return handle(req, e, vals)
    except Fault as f: return render_fault(req, f)
    except Exception as x:
        import traceback; traceback.print_exc()
        return render_fault(req, Fault('broken'))
def head(req, st, hs, n, chunked=False):
    l = ['HTTP/1.1 %d %s' % (st, REASON.get(st, 'OK'))]
    hs = hs + [('X-Trace', req.trace), ('Dye-Edition', req.ver), ('Vary', 'Dye-Edition, X-Garden-Key, Authorization'), ('Date', http_date(now()))] + req.rate
    if req.ver in DEPR and not (F('n-refused') and st >= 400):
        d, s = DEPR[req.ver]
        hs.append(('Deprecation', '@%d' % d))
        if s: hs.append(('Sunset', http_date(s)))
        if req.ver == 'madder':
            hs.append(('Link', '<https://dye-garden.example/editions/madder>; rel="deprecation"'))
            if not F('n-link'): hs.append(('Link', '<%s>; rel="successor-version"' % req.target))
    l += ['%s: %s' % h for h in hs]
    if chunked: l.append('Transfer-Encoding: chunked')
    elif st not in (204, 304): l.append('Content-Length: %d' % n)
    if req.close: l.append('Connection: close')
    return ('\r\n'.join(l) + '\r\n\r\n').encode('latin1')
async def serve(r, w):
    peer = w.get_extra_info('peername')[0]
    try:
        while True:
            req = Req(); req.peer = peer; req.rate = []; req.ver = CURRENT; req.trace = 'tr_' + secrets.token_hex(8); req.close = False; req.caller = None; req.target = ''
            try: line = await asyncio.wait_for(r.readuntil(b'\r\n'), 60)
            except (asyncio.TimeoutError, asyncio.IncompleteReadError): return
            if line == b'\r\n': continue
            async def rest():
                p = line.decode('latin1').strip().split(' ')
                if len(p) != 3: raise ValueError
                req.method, req.target = p[0], p[1]
                if req.target.startswith('http://') or req.target.startswith('https://'): u = urlsplit(req.target); req.target = u.path + ('?' + u.query if u.query else '')
                req.h = {}; req.hsize = 0
                while True:
                    hl = await r.readuntil(b'\r\n')
                    if hl == b'\r\n': break
                    req.hsize += len(hl)
                    if req.hsize > 1 << 20: raise ValueError
                    k, s, v = hl.decode('latin1').partition(':')
                    if not s: raise ValueError
                    req.h.setdefault(k.strip().lower(), []).append(v.strip())
                if p[2] == 'HTTP/1.0' or 'close' in [x.lower() for x in req.h.get('connection', [])]: req.close = True
                if 'expect' in req.h: w.write(b'HTTP/1.1 100 Continue\r\n\r\n')
                b = b''
                if 'chunked' in req.h.get('transfer-encoding', [''])[0].lower():
                    while True:
                        n = int((await r.readuntil(b'\r\n')).split(b';')[0], 16)
                        if n == 0:
                            while (await r.readuntil(b'\r\n')) != b'\r\n': pass
                            break
                        while n:
                            d = await r.read(min(n, 65536))
                            if not d: raise ValueError
                            n -= len(d)
                            if len(b) <= 8193: b += d
                        await r.readexactly(2)
                else:
                    n = int(req.h.get('content-length', ['0'])[0])
                    if n < 0: raise ValueError
                    while n:
                        d = await r.read(min(n, 65536))
                        if not d: raise ValueError
                        n -= len(d)
                        if len(b) <= 8193: b += d
                req.body = b
            try: await asyncio.wait_for(rest(), 20)
            except asyncio.TimeoutError:
                w.write(b'HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'); await w.drain(); return
            except (ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                req.close = True; req.h = {}
                st, b, hs = render_fault(req, Fault('unreadable')); w.write(head(req, st, hs + [('Content-Type', 'application/json')], len(b)) + b); await w.drain(); return
            a = respond(req)
            if a == 'stream': await stream(req, r, w); return
            st, b, hs = a
            if b is not None: hs = hs + [('Content-Type', 'application/json')]
            w.write(head(req, st, hs, len(b or b'')) + (b if b and req.method != 'HEAD' else b''))
            await w.drain()
            if req.close: return
    except (ConnectionError, asyncio.CancelledError, asyncio.LimitOverrunError): pass
    finally:
        try: w.close()
        except Exception: pass
async def stream(req, r, w):
    c = req.caller
    w.write(head(req, 200, [('Content-Type', 'text/event-stream'), ('Cache-Control', 'no-store')], 0, True))
    if req.method == 'HEAD': await w.drain(); return
    s = (c, req.ver, asyncio.Queue())
    def send(t): b = t.encode(); w.write(b'%x\r\n' % len(b) + b + b'\r\n')
    while LOG and LOG[0].at < now() - 12 * HOUR: LOG.popleft()
    last = req.h.get('last-event-id')
    if last:
        evs = list(LOG); i = next((n for n, e in enumerate(evs) if e.id == last[0]), -1)
        for e in evs[i + (2 if F('v-resume') and i >= 0 else 1):]:
            if hears(e, c): s[2].put_nowait(e)
    STREAMS.add(s)
    gone = asyncio.ensure_future(r.read(1))
    try:
        send(': the garden\n\n'); await w.drain()
        while True:
            g = asyncio.ensure_future(s[2].get())
            done, _ = await asyncio.wait([g, gone], timeout=15, return_when=asyncio.FIRST_COMPLETED)
            if gone in done: g.cancel(); return
            if g in done:
                e = g.result(); send('id: %s\nevent: %s\ndata: %s\n\n' % (e.id, e.kind, json.dumps(envelope(e, c, req.ver))))
            else: g.cancel(); send(': still here\n\n')
            await w.drain()
    finally: STREAMS.discard(s); gone.cancel()
# ---------------------------------------------------------------- the clock's door
DUR = re.compile(r'^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$')
def plus(t, s):
    m = DUR.match(s) if isinstance(s, str) else None
    if not m: return None
    y, mo, wk, d, h, mi, sec = [float(x) if x else 0 for x in m.groups()]
    if y or mo:
        dt = datetime.fromtimestamp(t, timezone.utc); n = dt.month - 1 + int(mo) + 12 * int(y); yy, mm = dt.year + n // 12, n % 12 + 1
        t = dt.replace(year=yy, month=mm, day=min(dt.day, calendar.monthrange(yy, mm)[1])).timestamp()
    return t + wk * 7 * DAY + d * DAY + h * HOUR + mi * 60 + sec
MOVING = asyncio.Lock()
async def door(r, w):
    try:
        while True:
            line = await r.readuntil(b'\r\n'); n = 0
            while True:
                h = await r.readuntil(b'\r\n')
                if h == b'\r\n': break
                if h.lower().startswith(b'content-length:'): n = int(h.split(b':')[1])
            body = await r.readexactly(n) if n else b''
            m = line.split(b' ')[0]; st = 200
            async with MOVING:
                if m == b'POST':
                    try:
                        o = json.loads(body); t = None
                        if isinstance(o, dict) and set(o) == {'advance'}: t = plus(now(), o['advance'])
                        elif isinstance(o, dict) and set(o) == {'now'}: t = parse_dt(o['now'])
                        if t is None: st = 400
                        elif t < now() - 0.0005: st = 422
                        else: await move_to(t)
                    except (ValueError, OverflowError): st = 400
                elif m != b'GET': st = 400
                b = json.dumps({'now': iso(now())}).encode() if st == 200 else b'{}'
            w.write(b'HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' % (st, {200: b'OK', 400: b'Bad Request', 422: b'Unprocessable Content'}[st], len(b)) + b); await w.drain()
    except (asyncio.IncompleteReadError, ConnectionError, ValueError, asyncio.LimitOverrunError): pass
    finally: w.close()
async def ticker():
    while True:
        d = 0.25 if not HEAP else min(0.25, max(0.01, HEAP[0][0] - now()))
        await asyncio.sleep(d)
        if PINNED is None: run_due()
async def main():
    a = await asyncio.start_server(serve, '127.0.0.1', PORT, limit=1 << 17, backlog=512)
    b = await asyncio.start_server(door, '127.0.0.1', CPORT)
    print('ready', PORT, CPORT, flush=True)
    await ticker()
try: asyncio.run(main())
except KeyboardInterrupt: pass
