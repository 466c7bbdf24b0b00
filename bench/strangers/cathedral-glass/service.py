#!/usr/bin/env python3
"""Cathedral Glass: commissions, windows and panes of a guild of stained-glass restorers. Standard library alone."""
import argparse, base64, calendar, datetime as dt, hashlib, heapq, hmac, http.client, json, os, random, re, secrets
import signal, socket, string, sys, threading, time, urllib.parse, urllib.request, uuid, zoneinfo
from collections import deque
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

http.client._MAXHEADERS = 2000
FAULT = None
def f(name): return FAULT == name

BASE = '/guild'
TITLE = 'Cathedral Glass'
ALNUM = string.ascii_letters + string.digits
MIN, HOUR, DAY = 60_000, 3_600_000, 86_400_000
LOCK = threading.RLock()

# ---------------------------------------------------------------- time
class Clock:
    offset = 0
    fixed = None
    def now(self):
        if self.fixed is not None: return self.fixed
        return int(time.time() * 1000) + self.offset
CLOCK = Clock()
def iso(ms): return dt.datetime.fromtimestamp(ms / 1000, dt.timezone.utc).strftime('%Y-%m-%dT%H:%M:%S.') + '%03dZ' % (ms % 1000)
RFC3339 = re.compile(r'(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)\Z')
def instant(text, naive=False):
    m = RFC3339.match(text) if isinstance(text, str) else None
    if not m: return None
    y, mo, d, h, mi, s = (int(x) for x in m.groups()[:6])
    leap = s == 60
    if leap: s = 59
    try: base = dt.datetime(y, mo, d, h, mi, s, tzinfo=dt.timezone.utc)
    except ValueError: return None
    ms = calendar.timegm(base.timetuple()) * 1000 + (int((m.group(7) + '000')[1:4]) if m.group(7) else 0)
    if leap: ms += 1000
    z = m.group(8)
    if z not in 'Zz':
        zh, zm = int(z[1:3]), int(z[4:6])
        if zh > 23 or zm > 59: return None
        if not naive: ms -= (zh * 60 + zm) * MIN * (1 if z[0] == '+' else -1)
    return ms

TIMERS, TICK = [], [0]
def at(ms, fn):
    TICK[0] += 1
    heapq.heappush(TIMERS, (ms, TICK[0], fn))
def run_due(upto, step=False):
    while TIMERS and TIMERS[0][0] <= upto:
        due, _, fn = heapq.heappop(TIMERS)
        old = CLOCK.fixed
        CLOCK.fixed = max(due, CLOCK.floor) if step else upto
        try: fn()
        finally: CLOCK.fixed = old
CLOCK.floor = 0

# ---------------------------------------------------------------- refusals
CODES = {
 'no-body': (400, 'A body is asked for here.'), 'unreadable': (400, 'The body cannot be read.'),
 'wrong-tongue': (415, 'Bodies are in application/json.'), 'no-such-tongue': (406, 'Answers are in application/json.'),
 'odd-question': (400, 'A parameter is not understood.'), 'lacking': (422, '{name} is missing'),
 'foreign-field': (422, '{name} is not a field'), 'unfit': (422, 'What was sent does not fit.'),
 'no-way': (404, 'There is no such path.'), 'no-such-tool': (405, 'The path does not take this method.'),
 'unsealed': (401, 'A seal or a name with its password is asked for.'), 'false-seal': (401, 'The credential is not good.'),
 'not-your-craft': (403, 'This is not for your craft.'), 'out-of-scope': (403, 'The seal does not reach so far.'),
 'not-yours': (403, 'This is somebody else\'s.'), 'not-your-bench': (403, "The pane is on somebody else's bench."),
 'not-found': (404, 'There is no such thing.'), 'struck-out': (410, 'It was struck out.'),
 'there-already': (409, 'There is one already.'), 'leads-nowhere': (422, 'It refers to nothing.'),
 'leaded-in': (409, 'Others refer to it.'), 'not-in-this-state': (409, 'Its state does not allow it.'),
 'pane-away': (409, 'The pane is not in the window.'), 'still-sound': (409, 'A pane that is sound is not condemned.'),
 'bare-window': (409, 'The window has no panes on record.'), 'too-late': (409, 'What was accepted is not withdrawn.'),
 'too-early': (409, 'A kiln is lit an hour before its time at the earliest.'),
 'kiln-full': (422, 'The kiln does not hold so many pieces.'), 'kiln-weak': (422, 'The kiln does not get so hot.'),
 'past-light': (422, 'The firing would have been lit already.'), 'changed-since': (412, 'It has changed since.'),
 'tag-wanted': (428, 'If-Match is asked for.'), 'mark-reused': (422, 'The mark was used for another request.'),
 'in-hand': (409, 'It is in hand.'), 'patience': (429, 'Too many requests.'), 'enough': (429, 'That is enough.'),
 'too-big': (413, 'The body is too large.'), 'too-long': (414, 'The address is too long.'),
 'too-heavy-a-head': (431, 'The header fields are too large.'), 'no-such-leaf': (400, 'There is no such page.'),
 'too-slow': (408, 'It took too long.'), 'no-such-edition': (400, 'There is no such edition.'),
 'edition-ended': (410, 'The edition has ended.'), 'closed': (503, 'The service is closed.'), 'shattered': (500, 'Something broke.'),
}
OWN = {'pane-away', 'still-sound', 'bare-window', 'too-late', 'too-early', 'kiln-full', 'kiln-weak', 'past-light'}
class Stop(Exception):
    def __init__(self, code, shards=None, headers=None):
        self.code, self.shards, self.headers = code, shards or [], headers or {}

class Resp:
    def __init__(self, status, body=None, headers=None):
        self.status, self.body, self.headers, self.code = status, body, headers or {}, None

def refusal(e):
    status, message = CODES[e.code]
    if e.shards: message = message.replace('{name}', str(e.shards[0]['path'])[:200])
    broken = {'word': e.code, 'because': message, 'slip': secrets.token_hex(8)}
    if e.shards: broken['shards'] = e.shards
    r = Resp(status, {'broken': broken}, dict(e.headers))
    if not (f('er-word') and e.code == 'no-such-tool'): r.headers['Guild-Word'] = e.code
    r.code = e.code
    return r

# ---------------------------------------------------------------- callers
class Caller:
    def __init__(self, user, id, scopes, lodge, scheme): self.user, self.id, self.scopes, self.lodge, self.scheme = user, id, scopes, lodge, scheme
PEOPLE = [
 ('patron', 'p-ada', 'gs_AdaCanterburyNave7Qx2Lm9Tz4Vb1', 'seal', ['estate'], 'canterbury'),
 ('patron', 'p-ben', 'p-ben:clerestory-41', 'desk', ['estate'], 'canterbury'),
 ('patron', 'p-cleo', 'gs_CleoLincolnChoir5Rw8Kp3Hd6Nf0S', 'seal', [], 'lincoln'),
 ('restorer', 'r-dov', 'gs_DovYorkMinsterBench2Jc7Gt9Xa5w', 'seal', ['bench'], 'york'),
 ('restorer', 'r-eva', 'r-eva:lead-came-88', 'desk', ['bench'], 'york'),
 ('restorer', 'r-finn', 'gs_FinnWellsApprentice3Ub6Ye1Mo8d', 'seal', [], 'wells'),
 ('warden', 'w-gus', 'gs_GusYorkWardenOfSeal4Pz0Iv7Rk2m', 'seal', ['seal', 'ledger'], 'york'),
 ('warden', 'w-hal', 'w-hal:grisaille-17', 'desk', ['seal', 'ledger'], 'wells'),
 ('warden', 'w-ivy', 'gs_IvyWellsWardenNoSeal9Wq5Ts3Jhz', 'seal', [], 'wells'),
]
SEALS = {c: Caller(u, i, s, l, 'seal') for u, i, c, k, s, l in PEOPLE if k == 'seal'}
DESKS = {c: Caller(u, i, s, l, 'desk') for u, i, c, k, s, l in PEOPLE if k == 'desk'}

# ---------------------------------------------------------------- resources
def F(t, **k): return dict(t=t, **k)
STR = lambda **k: F('string', **k)
RO_TIME = F('string', fmt='date-time', ro=True)
FIELDS = {
 'place': dict(town=STR(minL=2, maxL=60), postcode=STR(pat=r'[A-Z0-9 ]{3,9}'), country=STR(fmt='country')),
 'building': dict(mark=STR(ro=True), keeper=STR(ro=True), name=STR(minL=3, maxL=80), place=F('place'),
   grade=STR(enum=['first', 'second_star', 'second', 'ungraded'], default='ungraded'),
   key_safe=STR(maxL=40, vis=['patron', 'warden']), windows=F('integer', ro=True, derive=True), entered_at=RO_TIME),
 'window': dict(id=STR(ro=True), building=F('ref', ref='building', imm=True), number=F('integer', ro=True), bay=STR(pat=r'[nsew][IVX]{1,5}'),
   title=STR(minL=1, maxL=120), height_mm=F('integer', min=100, max=20000), width_mm=F('integer', min=100, max=8000),
   age=STR(enum=['medieval', 'renaissance', 'revival', 'modern']), maker=STR(maxL=80, null=True), panes=F('integer', ro=True, derive=True),
   worst=F('integer', ro=True, derive=True), restored_at=RO_TIME, changed_at=RO_TIME),
 'pane': dict(id=STR(ro=True), window=F('ref', ref='window', imm=True), cell=STR(pat=r'[0-9]{1,2}[a-z]'),
   technique=STR(enum=['pot_metal', 'flashed', 'painted', 'silver_stain', 'enamel', 'plain'], default='plain'),
   decay=F('integer', min=0, max=5), area_cm2=F('integer', min=1, max=20000), bench_note=STR(maxL=300, vis=['restorer', 'warden']),
   stage=STR(ro=True, enum=['in_situ', 'taken_out', 'on_bench', 'conserved', 'lost']), holder=STR(ro=True), taken_at=RO_TIME, method=STR(ro=True)),
 'commission': dict(docket=STR(ro=True), serial=STR(ro=True), window=F('ref', ref='window', imm=True), patron=STR(ro=True),
   brief=STR(minL=10, maxL=600), work=STR(enum=['clean', 'relead', 'repaint', 'full']), budget=F('integer', min=1000, max=50000000),
   status=STR(ro=True, enum=['draft', 'submitted', 'quoted', 'accepted', 'under_way', 'inspection', 'finished', 'settled', 'withdrawn', 'lapsed']),
   quote=F('integer', ro=True), restorer=STR(ro=True), lodge=STR(ro=True), reason=STR(ro=True), submitted_at=RO_TIME, closed_at=RO_TIME),
 'kiln': dict(name=STR(pat=r'[a-z][a-z0-9-]{2,19}', key=True), lodge=STR(ro=True), capacity=F('integer', min=1, max=60),
   hottest_c=F('integer', min=500, max=1100, default=850), remark=STR(maxL=120), planned=F('integer', ro=True, derive=True)),
 'firing': dict(no=F('integer', ro=True), kiln=F('ref', ref='kiln', imm=True), master=STR(ro=True), lights_at=STR(fmt='date-time'),
   peak_c=F('integer', min=400, max=1100), pieces=F('integer', min=1, max=60),
   status=STR(ro=True, enum=['planned', 'lit', 'cool', 'drawn', 'scrubbed', 'missed']), lit_at=RO_TIME),
 'hook': dict(id=STR(ro=True), owner=STR(ro=True), url=STR(fmt='uri', maxL=300), kinds=F('array', items=STR(kind=True), maxI=20),
   active=F('boolean', default=True), secret=STR(ro=True, once=True)),
 'entry': dict(id=STR(ro=True), kind=STR(ro=True), about=STR(ro=True), row=STR(ro=True), by=STR(ro=True), at=RO_TIME, body=F('object', ro=True)),
}
ID = dict(building='mark', window='id', pane='id', commission='docket', kiln='name', firing='no', hook='id', entry='id')
MUST = {  # what a writer has to send (required, and neither read-only nor defaulted)
 'place': ['town', 'country'], 'building': ['name', 'place'], 'window': ['building', 'bay', 'title', 'height_mm', 'width_mm', 'age'],
 'pane': ['window', 'cell', 'decay', 'area_cm2'], 'commission': ['window', 'brief', 'work', 'budget'], 'kiln': ['capacity'],
 'firing': ['kiln', 'lights_at', 'peak_c', 'pieces'], 'hook': ['url'],
}
REQUIRED = {'place': {'town', 'country'}, 'building': {'name', 'place', 'grade'}, 'window': set(MUST['window']),
 'pane': set(MUST['pane']) | {'technique'}, 'commission': set(MUST['commission']), 'kiln': {'capacity', 'hottest_c'}, 'firing': set(MUST['firing']),
 'hook': {'url', 'active'}}
UNIQUE = {'building': ('keeper', 'name'), 'window': ('building', 'bay'), 'pane': ('window', 'cell')}
STATE = dict(pane='stage', commission='status', firing='status')
ADDRESS = dict(building='/buildings/', window='/windows/', pane='/panes/', commission='/commissions/', kiln='/kilns/', firing='/firings/', hook='/hooks/', entry='/entries/')
KINDS = ['building.entered', 'pane.moved', 'pane.worsened', 'pane.lost', 'pane.struck', 'commission.offered', 'commission.quoted',
 'commission.done', 'commission.closed', 'firing.lit', 'firing.over', 'firing.near']
STORE = {r: {} for r in ID}
GONE = {}          # panes that were deleted: id -> row
COUNT = {}
SEQ = [0]
COUNTRIES = set('AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'.split())

# ---------------------------------------------------------------- editions
EDITIONS = ['lammas-25', 'candlemas-26', 'michaelmas-26']
DEPRECATED = {0: '2026-02-02', 1: '2026-10-01'}
SUNSET = {0: instant('2031-03-01T00:00:00Z')}
DOWN = {('pane', 'technique'): {'silver_stain': 'yellow_stain'}, ('commission', 'status'): {'withdrawn': 'called_off'}}
_vf = {}
def in_edition(res, v):
    """name in the edition -> (shape, newest name or None)"""
    if (res, v) in _vf: return _vf[res, v]
    out = {}
    for name, shape in FIELDS[res].items():
        vname = name
        if v < 2 and (res, name) == ('place', 'town'): vname = 'city'
        if v < 1 and (res, name) == ('window', 'title'): vname = 'subject'
        if v < 1 and (res, name) == ('building', 'grade'): continue
        if v < 1 and (res, name) == ('commission', 'budget'): shape = F('number', min=10, max=500000)
        if v < 2 and (res, name) in DOWN: shape = dict(shape, enum=[DOWN[res, name].get(x, x) for x in shape['enum']])
        out[vname] = (shape, name)
    if v < 2 and res == 'kiln': out['fuel'] = (STR(), None)
    _vf[res, v] = out
    return out
def down(res, name, value, v):
    if value is None: return None
    if v < 2 and (res, name) in DOWN: return DOWN[res, name].get(value, value)
    if v < 1 and (res, name) == ('commission', 'budget'): return value / 100.0
    if FIELDS[res][name]['t'] == 'place': return {vn: down('place', n, value[n], v) for vn, (_, n) in in_edition('place', v).items() if n in value}
    return value
def up(res, name, value, v):
    if value is None: return None
    if v < 2 and (res, name) in DOWN: return {b: a for a, b in DOWN[res, name].items()}.get(value, value)
    if v < 1 and (res, name) == ('commission', 'budget'):
        return int(value * 100.0) if f('ve-budget') else int(value * 100.0 + 0.5)
    if FIELDS[res][name]['t'] == 'place':
        ed = in_edition('place', v)
        return {ed[vn][1]: up('place', ed[vn][1], x, v) for vn, x in value.items()}
    return value

# ---------------------------------------------------------------- rows as they are shown
def rows_of(res, field, id): return [r for r in STORE[res].values() if r[field] == id]
def derived(res, row, name):
    if res == 'building': return len(rows_of('window', 'building', row['mark']))
    if res == 'window':
        panes = rows_of('pane', 'window', row['id'])
        if name == 'panes': return len(panes)
        if f('re-worst'): panes = panes + [r for r in GONE.values() if r['window'] == row['id']]
        return max((p['decay'] for p in panes), default=None)
    if res == 'kiln': return sum(1 for x in rows_of('firing', 'kiln', row['name']) if x['status'] == 'planned')

def shown_fields(res, row, caller, verb='read', every=False):
    """None = all of them"""
    rules = [r for r in rules_for(verb + ' ' + res, caller) if scoped(r, caller)]
    if every:
        sets = [r['fields'] for r in rules if r['fields']]
        return set.intersection(*map(set, sets)) if sets else None
    sets = [r['fields'] for r in rules if holds(r, row, caller)]
    if not sets or any(s is None for s in sets): return None
    return set().union(*sets)
def show(res, row, caller, v, verb='read', reveal=False, every=False):
    only = shown_fields(res, row, caller, verb, every)
    if f('au-holder') and res == 'pane' and verb == 'read' and only: only = only | {'holder'}
    user = caller.user if caller else None
    out = {}
    for vname, (shape, name) in in_edition(res, v).items():
        if name is None: out[vname] = 'unknown'; continue
        if only is not None and name not in only and name != ID[res]: continue
        if 'vis' in shape and user not in shape['vis'] and not (f('re-keysafe') and verb == 'list' and name == 'key_safe'): continue
        if shape.get('once') and not reveal: continue
        if shape.get('derive'):
            val = derived(res, row, name)
            if val is not None: out[vname] = val
            continue
        if name not in row: continue
        val = row[name]
        if val is None and not shape.get('null'): continue
        if f('ve-enumlist') and verb == 'list' and name == 'technique': out[vname] = val
        else: out[vname] = down(res, name, val, v)
    return out
def tag(body, v): return hashlib.sha256((EDITIONS[v] + json.dumps(body, sort_keys=True)).encode()).hexdigest()[:24]

# ---------------------------------------------------------------- permissions
PERMIT = []
def allow(ops, to, scopes=(), cond=None, other=None, fields=None):
    res = ops.split(' ')[-1]
    PERMIT.append(dict(ops={o + ' ' + res for o in ops.split(' ')[:-1]}, to=set(to.split(' ')), scopes=set(scopes), cond=cond, other=other, fields=fields))
keeper_of = lambda wid: STORE['building'][STORE['window'][wid]['building']]['keeper']
own = lambda field: (lambda r, c: r.get(field) == c.id)
pane_of_keeper = lambda r, c: r['window'] in STORE['window'] and keeper_of(r['window']) == c.id
open_or_mine = lambda r, c: r['status'] == 'submitted' or r.get('restorer') == c.id
allow('create building', 'patron', ['estate'])
allow('list read update delete building', 'patron', cond=own('keeper'))
allow('list read building', 'restorer warden')
allow('create window', 'patron', ['estate'])
allow('list read update window', 'patron', cond=lambda r, c: STORE['building'][r['building']]['keeper'] == c.id)
allow('list read window', 'restorer')
allow('create list read update delete window', 'warden')
allow('create pane', 'restorer', ['bench'])
allow('list read pane', 'restorer')
allow('update pane', 'restorer', cond=lambda r, c: f('au-bench') or r.get('holder') is None or r['holder'] == c.id)
allow('take_out pane', 'restorer', ['bench'])
allow('bench conserve refit pane', 'restorer', cond=own('holder'), other='not-your-bench')
allow('list read pane', 'patron', cond=pane_of_keeper, fields={'window', 'cell', 'technique', 'decay', 'stage'})
allow('create list read update delete condemn pane', 'warden')
allow('create commission', 'patron', ['estate'])
allow('list read update submit accept withdraw commission', 'patron', cond=own('patron'))
allow('list commission', 'restorer', cond=lambda r, c: open_or_mine(r, c) or (f('au-quoted') and r['status'] == 'quoted'))
allow('read commission', 'restorer', cond=open_or_mine)
allow('quote commission', 'restorer', ['bench'], cond=open_or_mine)
allow('begin finish commission', 'restorer', cond=own('restorer'))
allow('list read withdraw commission', 'warden')
allow('pass commission', 'warden', ['seal'])
allow('list read kiln', 'anyone')
allow('upsert kiln', 'warden', ['seal'])
allow('delete kiln', 'warden', cond=lambda r, c: f('au-kiln') or r['lodge'] == c.lodge)
allow('create firing', 'restorer', ['bench'])
allow('list read firing', 'restorer warden')
allow('light draw scrub firing', 'restorer', cond=own('master'))
allow('create hook', 'patron restorer warden')
allow('list read update delete hook', 'patron restorer warden', cond=own('owner'))
allow('list read entry', 'warden', ['ledger'])
def rules_for(op, caller): return [r for r in PERMIT if op in r['ops'] and ('anyone' in r['to'] or (caller and caller.user in r['to']))]
def scoped(r, caller): return not r['scopes'] or r['scopes'] <= set(caller.scopes) or (f('au-scope') and 'pass commission' in r['ops'])
def holds(r, row, caller): return r['cond'] is None or r['cond'](row, caller)
def may(op, row, caller): return any(scoped(r, caller) and holds(r, row, caller) for r in rules_for(op, caller))
def may_read(res, row, caller): return may('read ' + res, row, caller)

# ---------------------------------------------------------------- events
def event(kind, res, before, after, caller, payload=None, to=None):
    now = CLOCK.now()
    row = after if after is not None else before
    rid = row[ID[res]]
    eid = 'ev-' + ''.join(secrets.choice(ALNUM) for _ in range(20))
    body = payload if payload is not None else show(res, row, Caller('warden', '', ['seal', 'ledger'], '', ''), 2)
    if not (f('ev-recall') and kind == 'pane.moved' and caller is None):
        SEQ[0] += 1
        STORE['entry'][eid] = dict(id=eid, kind=kind, about=res, row=str(rid), by=caller.id if caller else 'clock', at=iso(now), body=body, _seq=SEQ[0])
        at(now + (30 if f('ev-keep') else 60) * DAY, lambda: STORE['entry'].pop(eid, None))
    for hook in list(STORE['hook'].values()):
        if not hook['active']: continue
        wants = hook.get('kinds')
        if wants is not None and not any(w == '*' or w == kind or (w.endswith('.*') and not f('ev-star') and kind.startswith(w[:-1])) for w in wants): continue
        maker = hook['_maker']
        if not (to(maker) if to else may_read(res, row, maker)): continue
        subject = payload if payload is not None else show(res, row, maker, 2 if f('ve-hook') else hook['_edition'], every=True)
        data = {'event': eid, 'kind': kind, 'told_at': iso(now), 'subject': subject}
        POST.append(dict(hook=hook['id'], key=(hook['id'], res, str(rid)), event=eid, kind=kind, data=data, tries=0, due=now, busy=False))

POST = []
WAITS = [10_000, 60_000, 600_000]
PAUSED = {}
def deliver_loop():
    while True:
        time.sleep(0.02)
        try: kick()
        except Exception as e: print('delivery:', e, file=sys.stderr)
def kick():
    with LOCK:
        now, seen, flying = CLOCK.now(), set(), {}
        for d in POST:
            if d['busy']: flying[d['hook']] = flying.get(d['hook'], 0) + 1
        for d in list(POST):
            if d['key'] in seen: continue
            seen.add(d['key'])
            hook = STORE['hook'].get(d['hook'])
            if hook is None: POST.remove(d); continue
            if d['busy'] or d['due'] > now or PAUSED.get(d['hook'], 0) > now or flying.get(d['hook'], 0) >= 32: continue
            flying[d['hook']] = flying.get(d['hook'], 0) + 1
            d['busy'] = True
            threading.Thread(target=attempt, args=(d, hook['url'], hook['secret'], now), daemon=True).start()
def waiting():
    with LOCK:
        now, seen = CLOCK.now(), set()
        for d in POST:
            if d['key'] in seen: continue
            seen.add(d['key'])
            if d['busy'] or (d['due'] <= now and PAUSED.get(d['hook'], 0) <= now): return True
        return False
class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *a): return None
OPENER = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))
def attempt(d, url, secret, now):
    eid = d['event']
    if f('ev-retryid') and d['tries']: eid = 'ev-' + ''.join(secrets.choice(ALNUM) for _ in range(20))
    body = json.dumps(dict(d['data'], event=eid), ensure_ascii=False).encode()
    stamp = str(now // 1000)
    signed = stamp.encode() + b'|' + (b'' if f('ev-sign') else eid.encode() + b'|') + body
    mac = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    status, after = 0, None
    try:
        rq = urllib.request.Request(url, data=body, method='POST', headers={'Content-Type': 'application/json', 'Guild-Kind': d['kind'], 'Guild-Stamp': f'at={stamp};seal={mac}'})
        with OPENER.open(rq, timeout=10) as r: status = r.status
    except urllib.error.HTTPError as e: status, after = e.code, e.headers.get('Retry-After')
    except Exception: status = 0
    with LOCK:
        d['busy'] = False
        if d not in POST: return
        if 200 <= status < 300: POST.remove(d); return
        now = CLOCK.now()
        if status == 410:
            hook = STORE['hook'].get(d['hook'])
            if hook: hook['active'] = False
            POST[:] = [x for x in POST if x['hook'] != d['hook']]
            return
        if d['tries'] >= len(WAITS): POST.remove(d); return
        wait = int(WAITS[d['tries']] * random.uniform(0.8, 1.2))
        if after and after.isdigit():
            pause = min(int(after) * 1000, DAY)
            PAUSED[d['hook']] = now + pause
            wait = max(wait, pause)
        d['tries'] += 1
        d['due'] = now + wait

# ---------------------------------------------------------------- states
TRANS = {
 'pane': {'take_out': (['in_situ'], 'taken_out', 'pane-away'), 'bench': (['taken_out'], 'on_bench', None), 'conserve': (['on_bench'], 'conserved', None),
          'refit': (['taken_out', 'conserved'], 'in_situ', None), 'condemn': (['taken_out', 'on_bench'], 'lost', None), 'recall': (['taken_out'], 'in_situ', None)},
 'commission': {'submit': (['draft'], 'submitted', None), 'quote': (['submitted'], 'quoted', None), 'accept': (['quoted'], 'accepted', None),
          'begin': (['accepted'], 'under_way', None), 'finish': (['under_way'], None, None), 'pass': (['inspection'], 'finished', None),
          'withdraw': (['draft', 'submitted', 'quoted'], 'withdrawn', 'too-late'), 'lapse': (['quoted'], 'lapsed', None), 'settle': (['finished'], 'settled', None)},
 'firing': {'light': (['planned'], 'lit', None), 'cool_down': (['lit'], 'cool', None), 'draw': (['cool'], 'drawn', None),
          'scrub': (['planned'], 'scrubbed', None), 'miss': (['planned'], 'missed', None)},
}
def guard(res, name, row, now):
    if name == 'condemn' and not (row['decay'] > 4 if f('st-condemn') else row['decay'] >= 4): raise Stop('still-sound')
    if name == 'begin' and not rows_of('pane', 'window', row['window']): raise Stop('bare-window')
    if name == 'light' and now < instant(row['lights_at'], naive=f('st-early')) - HOUR: raise Stop('too-early')
def check_move(res, name, row, now):
    frm, to, other = TRANS[res][name]
    if f('st-late') and name == 'withdraw': frm = frm + ['accepted']
    if row[STATE[res]] not in frm: raise Stop(other or 'not-in-this-state')
    guard(res, name, row, now)
def enter(res, row):
    """timers of the state that the row has come to"""
    row['_stamp'] = stamp = row.get('_stamp', 0) + 1
    now, st, id = CLOCK.now(), row[STATE[res]], row[ID[res]]
    def clock(when, name):
        def fire():
            r = STORE[res].get(id)
            if r is row and r['_stamp'] == stamp: move(res, r, name, None, None)
        at(when, fire)
    if res == 'pane' and st == 'taken_out': clock((row['_made'] if f('st-recall') else now) + 14 * DAY, 'recall')
    if res == 'commission' and st == 'quoted': clock(now + 30 * DAY, 'lapse')
    if res == 'commission' and st == 'finished': clock(now + 7 * DAY, 'settle')
    if res == 'firing' and st == 'lit': clock(now + 12 * HOUR, 'cool_down')
    if res == 'firing' and st == 'planned': clock(instant(row['lights_at']) + (0 if f('st-miss') else 2 * HOUR), 'miss')
def move(res, row, name, caller, body):
    now = CLOCK.now()
    before = dict(row)
    to = TRANS[res][name][1]
    if name == 'take_out': row.update(holder=caller.id, taken_at=iso(now))
    if name in ('refit', 'recall'): row.pop('holder', None)
    if name == 'conserve': row['method'] = body['method']
    if name == 'submit': row['submitted_at'] = iso(now)
    if name == 'quote': row.update(quote=body['amount'], restorer=caller.id, lodge=caller.lodge)
    if name == 'withdraw': row.update(reason=body['reason'], closed_at=iso(now))
    if name in ('lapse', 'settle'): row['closed_at'] = iso(now)
    if name == 'light': row['lit_at'] = iso(now)
    if name == 'finish':
        q = row.get('quote', 0)
        to = 'inspection' if (q >= 500000 if f('st-inspect') else q > 500000) else 'finished'
    row[STATE[res]] = to
    enter(res, row)
    if res == 'pane' and name in ('take_out', 'refit', 'recall'):
        event('pane.moved', res, before, row, caller, {'pane': row['id'], 'window': row['window'], 'was': before['stage'], 'is': row['stage']})
    if name == 'condemn': event('pane.lost', res, before, row, caller)
    if name == 'submit': event('commission.offered', res, before, row, caller, to=lambda m: m.user == 'restorer' or m.id == row['patron'])
    if name == 'quote': event('commission.quoted', res, before, row, caller)
    if name in ('finish', 'pass') and to == 'finished': event('commission.done', res, before, row, caller)
    if name in ('withdraw', 'lapse', 'settle'): event('commission.closed', res, before, row, caller)
    if name == 'light': event('firing.lit', res, before, row, caller)
    if name in ('draw', 'scrub', 'miss'): event('firing.over', res, before, row, caller)
    if name == 'settle' and not f('st-restored'):
        STORE['window'][row['window']].update(restored_at=iso(now), changed_at=iso(now))
def strike(row, caller):
    now = CLOCK.now()
    STORE['pane'].pop(row['id'])
    GONE[row['id']] = row
    event('pane.struck', 'pane', row, None, caller, {'pane': row['id']})
    at(now + 20 * DAY, lambda: GONE.pop(row['id'], None))

# ---------------------------------------------------------------- what is sent
def shard(kind, where, path, expected, **k):
    s = {'in': where, 'path': path}
    if k.get('found') is not None: s['found'] = k['found']
    s['expected'] = expected
    s['_k'] = kind
    return s
def fits(value, shape, path, v, out, where='body'):
    bad = lambda exp, kind='value': out.append(shard(kind, where, path, exp, found=value))
    t = shape['t']
    if value is None:
        if not shape.get('null'): bad('ref' == t and 'string' or t, 'type')
        return
    if t == 'place':
        if not isinstance(value, dict): return bad('object', 'type')
        return fits_fields('place', value, v, path + '.', out)
    if t in ('string', 'ref'):
        if not isinstance(value, str): return bad('string', 'type')
        if 'enum' in shape and value not in shape['enum']: return bad('one of ' + ', '.join(shape['enum']))
        if 'minL' in shape and len(value) < shape['minL']: return bad(f"at least {shape['minL']} characters")
        if 'maxL' in shape and len(value) > shape['maxL']: return bad(f"at most {shape['maxL']} characters")
        if 'pat' in shape and not (re.match(shape['pat'], value) if f('re-pattern') and 'a-z]' in shape['pat'][-5:] else re.fullmatch(shape['pat'], value)): return bad('^' + shape['pat'] + '$')
        fmt = shape.get('fmt')
        if fmt == 'country' and value not in COUNTRIES: return bad('a country')
        if fmt == 'date-time' and instant(value) is None: return bad('a date-time')
        if fmt == 'uri':
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+", value) or re.search(r'%(?![0-9A-Fa-f]{2})', value): return bad('a uri')
            try: u = urllib.parse.urlsplit(value); ok = u.scheme.lower() in ('http', 'https') and u.hostname and (u.port or 1)
            except ValueError: ok = False
            if not ok: return bad('an address by http or https')
        if shape.get('kind') and value != '*' and value not in KINDS and not (value.endswith('.*') and any(k.startswith(value[:-1]) for k in KINDS)): return bad('a kind of event')
    elif t in ('integer', 'number'):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or (t == 'integer' and value != int(value)): return bad(t, 'type')
        if 'min' in shape and value < shape['min']: return bad(f"at least {shape['min']}")
        if 'max' in shape and value > shape['max']: return bad(f"at most {shape['max']}")
    elif t == 'boolean':
        if not isinstance(value, bool): return bad('boolean', 'type')
    elif t == 'array':
        if not isinstance(value, list): return bad('array', 'type')
        if len(value) > shape['maxI']: return bad(f"at most {shape['maxI']} items")
        for i, x in enumerate(value): fits(x, shape['items'], f'{path}.{i}', v, out)
def newest_path(p): return p.replace('city', 'town')
def fits_fields(res, value, v, prefix, out):
    ed = in_edition(res, v)
    gaps = [vn for vn, (_, n) in ed.items() if n in REQUIRED[res] and vn not in value]
    miss = [shard('missing', 'body', (vn if f('er-nested') else prefix + vn), 'a value') for vn in gaps]
    if f('ve-path'):
        for m in miss: m['path'] = newest_path(m['path'])
    if f('er-first'): out += miss
    for k, x in value.items():
        if k not in ed: out.append(shard('unknown', 'body', prefix + k, 'no such field', found=x)); continue
        fits(x, ed[k][0], prefix + k, v, out)
    if not f('er-first'): out += miss
def refuse(out):
    if not out: return
    kind = out[0]['_k']
    for s in out: s.pop('_k', None)
    raise Stop({'missing': 'lacking', 'unknown': 'foreign-field'}.get(kind, 'unfit'), out)
def whole(n): return int(n) if isinstance(n, float) and n == int(n) else n
def merge(old, patch):
    if not isinstance(patch, dict): return patch
    out = dict(old) if isinstance(old, dict) else {}
    for k, x in patch.items():
        if x is None: out.pop(k, None)
        else: out[k] = merge(out.get(k), x)
    return out

def read_body(res, body, v, verb, bound, row, caller):
    """what was sent, held to the edition's shape and carried up: values by newest name; None = to be removed"""
    out = []
    if not isinstance(body, dict): refuse([shard('type', 'body', '', 'object', found=body)])
    ed, got = in_edition(res, v), {}
    miss = []
    for k, x in body.items():
        if k not in ed: out.append(shard('unknown', 'body', k, 'no such field', found=x)); continue
        shape, name = ed[k]
        if shape.get('ro'): continue
        if name in bound:
            if x != bound[name]: out.append(shard('value', 'body', k, bound[name], found=x))
            continue
        if shape.get('imm') and row is not None:
            if x != row.get(name): out.append(shard('value', 'body', k, 'as it was', found=x))
            continue
        if verb == 'update':
            if x is None and not shape.get('null'):
                if name in REQUIRED[res]: miss.append(shard('missing', 'body', k, 'a value'))
                else: got[name] = None
                continue
            if x is None and f('re-kept'): got[name] = DROP; continue
            was = down(res, name, row.get(name), v) if name else None
            if shape['t'] == 'place' and isinstance(x, dict): x = merge(was, x)
            n = len(out)
            fits(x, shape, k, v, out)
            if len(out) == n and name:
                got[name] = row[name] if name in row and x == was and type(x) == type(was) else up(res, name, x, v)
            continue
        n = len(out)
        fits(x, shape, k, v, out)
        if len(out) == n and name:
            same = row is not None and name in row and down(res, name, row[name], v) == x
            got[name] = row[name] if same else up(res, name, x, v)
    if verb != 'update':
        for vn, (shape, name) in ed.items():
            if name in MUST[res] and vn not in body and name not in bound: miss.append(shard('missing', 'body', vn, 'a value'))
    out = miss + out if f('er-first') else out + miss
    if not out and res == 'window':
        nxt = dict(row or {}, **got)
        if nxt['height_mm'] > nxt['width_mm'] * 12: out.append(shard('value', 'body', 'height_mm', 'at most twelve times the width', found=nxt['height_mm']))
    refuse(out)
    for k, x in got.items():
        if isinstance(x, float): got[k] = whole(x)
    return got
DROP = object()

# ---------------------------------------------------------------- limits
class Rate:
    def __init__(self, per, limit, window, kind='sliding', to=None, on=None, cost=None, burst=None, uncounted=()):
        self.__dict__.update(per=per, limit=limit, window=window, kind=kind, to=to, on=on, cost=cost or {}, burst=burst or limit, uncounted=uncounted, at={})
    def applies(self, op, caller):
        if self.on and op not in self.on: return False
        return self.to is None or (caller is None if self.to == 'anyone' else caller is not None and caller.user == self.to)
    def key(self, caller, address): return (caller.user, caller.id) if self.per == 'caller' and caller else address
    def price(self, op): return 1 if f('li-cost') else self.cost.get(op, 1)
    def state(self, key, now):
        s = self.at.get(key)
        if self.kind == 'sliding':
            if s is None: s = self.at[key] = deque()
            while s and s[0][0] + self.window <= now: s.popleft()
        elif self.kind == 'fixed':
            if s is None or s[0] + self.window <= now: s = self.at[key] = [now, 0]
        else:
            if s is None: s = self.at[key] = [now, self.burst * self.window]
            s[1] = min(self.burst * self.window, s[1] + (now - s[0]) * self.limit); s[0] = now
        return s
    def left(self, key, now):
        s = self.state(key, now)
        if self.kind == 'sliding': return self.limit - sum(c for _, c in s)
        if self.kind == 'fixed': return self.limit - s[1]
        return s[1] // self.window
    def take(self, key, c, now):
        s = self.state(key, now)
        if self.kind == 'sliding': e = [now, c]; s.append(e); return e
        if self.kind == 'fixed': s[1] += c; return s
        s[1] -= c * self.window; return s
    def give(self, key, c, mark):
        s = self.at.get(key)
        if self.kind == 'sliding': mark[1] = 0; self.at[key] = deque(e for e in s if e[1])
        elif self.kind == 'fixed':
            if s is mark: s[1] -= c
        else: s[1] = min(self.burst * self.window, s[1] + c * self.window)
    def wait(self, key, c, now):
        """ms until c more may be taken"""
        s = self.state(key, now)
        if self.kind == 'sliding':
            need = c - self.left(key, now)
            for t, n in s:
                need -= n
                if need <= 0: return t + self.window - now
            return self.window
        if self.kind == 'fixed': return s[0] + self.window - now
        return -(-(c * self.window - s[1]) // self.limit)
    def reset(self, key, now):
        s = self.state(key, now)
        if self.kind == 'sliding': return s[0][0] + self.window - now if s else 0
        if self.kind == 'fixed': return s[0] + self.window - now if s[1] else 0
        if s[1] >= self.burst * self.window: return 0
        return -(-((s[1] // self.window + 1) * self.window - s[1]) // self.limit)
RATES = [
 Rate('address', 3000, MIN, 'fixed'),
 Rate('caller', 600, MIN, cost={'list entry': 3}),
 Rate('caller', 8, 10 * MIN, 'fixed', to='patron', on={'submit commission', 'accept commission'}),
 Rate('caller', 12, HOUR, 'bucket', to='restorer', on={'quote commission'}, burst=6),
 Rate('address', 20, MIN, to='anyone', on={'list kiln', 'read kiln'}, uncounted=(404,)),
]
def secs(ms): return max(0, -(-ms // 1000))
def charge(req, rates, op, now):
    taken, refused = [], []
    for r in rates:
        if not r.applies(op, req.caller): continue
        key, c = r.key(req.caller, req.address), r.price(op)
        if r.left(key, now) < c: refused.append((r, key, c))
        else: taken.append((r, key, c))
    if refused:
        for r, key, c, m in req.counted: r.give(key, c, m)
        req.counted = []
        wait = max(r.wait(key, c, now) for r, key, c in refused)
        worst = min(refused, key=lambda x: x[0].left(x[1], now))
        req.told = told(worst[0], worst[1], now)
        raise Stop('patience', headers={'Retry-After': str(max(1, secs(wait)))})
    for r, key, c in taken: req.counted.append((r, key, c, r.take(key, c, now)))
def told(r, key, now): return {'Guild-Allowance': str(r.limit), 'Guild-Left': str(max(0, int(r.left(key, now)))), 'Guild-Renews': str(secs(r.reset(key, now)))}

QUOTA = {}
LONDON = zoneinfo.ZoneInfo('Europe/London')
def quota_window(op, now):
    d = dt.datetime.fromtimestamp(now / 1000, dt.timezone.utc)
    if op == 'create commission':
        zone = dt.timezone.utc if f('li-zone') else LONDON
        d = d.astimezone(zone)
        end = dt.datetime(d.year + d.month // 12, d.month % 12 + 1, 1, tzinfo=zone)
        return 30, f'{d.year}-{d.month}', int(end.timestamp() * 1000)
    if op == 'create firing':
        start = dt.datetime(d.year, d.month, d.day, tzinfo=dt.timezone.utc) - dt.timedelta(days=d.weekday())
        return 25, start.isoformat(), int((start + dt.timedelta(days=7)).timestamp() * 1000)
def quota(req, op, now):
    q = quota_window(op, now)
    if not q: return
    key = (op, req.caller.user, req.caller.id, q[1])
    if QUOTA.get(key, 0) >= q[0]: raise Stop('enough', headers={'Retry-After': str(max(1, secs(q[2] - now)))})
    QUOTA[key] = QUOTA.get(key, 0) + 1

# ---------------------------------------------------------------- endpoints
ENDPOINTS = []
def ep(method, path, op, **o):
    verb, res = op.split(' ')
    ENDPOINTS.append(dict(method=method, segs=path.strip('/').split('/'), op=op, verb=verb, res=res, **o))
LISTS = dict(page='leaf', size='take', default=20, max=50)
ep('GET', '/motto', 'read motto', public=True)
ep('POST', '/buildings', 'create building')
ep('GET', '/buildings', 'list building', order='name', params=dict(grade=('in', 'grade'), town=('town', 'place'), sort=('sort', ['name', 'entered_at'])))
ep('GET', '/buildings/{mark}', 'read building', etag=True, cache='private, max-age=30')
ep('PATCH', '/buildings/{mark}', 'update building', if_match='accepted')
ep('DELETE', '/buildings/{mark}', 'delete building')
ep('POST', '/buildings/{building}/windows', 'create window', parent='building')
ep('GET', '/windows', 'list window', params=dict(building=('eq', 'building'), age=('eq', 'age'), title=('contains', 'title'), least_height=('ge', 'height_mm'), sort=('sort', ['number', 'height_mm'])))
ep('GET', '/windows/{id}', 'read window', etag=True, select='only')
ep('PATCH', '/windows/{id}', 'update window', if_match='accepted')
ep('DELETE', '/windows/{id}', 'delete window')
ep('POST', '/windows/{window}/panes', 'create pane', parent='window')
ep('GET', '/windows/{window}/panes', 'list pane', parent='window', order='cell', params=dict(technique=('eq', 'technique'), stage=('in', 'stage'), at_least=('decay', 'decay')))
ep('GET', '/panes/{id}', 'read pane', etag=True)
ep('PATCH', '/panes/{id}', 'update pane', within=['in_situ', 'on_bench'], if_match='accepted')
ep('DELETE', '/panes/{id}', 'delete pane', within=['in_situ', 'lost'])
ep('POST', '/panes/{id}/take-out', 'take_out pane')
ep('POST', '/panes/{id}/bench', 'bench pane')
ep('POST', '/panes/{id}/conserve', 'conserve pane', shape=dict(method=STR(enum=['edge_bonding', 'plating', 'releading', 'cleaning'])))
ep('POST', '/panes/{id}/refit', 'refit pane')
ep('POST', '/panes/{id}/condemn', 'condemn pane', since=1)
ep('POST', '/commissions', 'create commission')
ep('GET', '/commissions', 'list commission', order='-serial', params=dict(status=('in', 'status'), window=('eq', 'window'), dearest=('le', 'budget')))
ep('GET', '/commissions/{docket}', 'read commission', etag=True)
ep('PATCH', '/commissions/{docket}', 'update commission', within=['draft'], if_match='required')
ep('POST', '/commissions/{docket}/submit', 'submit commission')
ep('POST', '/commissions/{docket}/quote', 'quote commission', shape=dict(amount=F('integer', min=1, max=90000000)))
ep('POST', '/commissions/{docket}/accept', 'accept commission')
ep('POST', '/commissions/{docket}/begin', 'begin commission')
ep('POST', '/commissions/{docket}/finish', 'finish commission')
ep('POST', '/commissions/{docket}/pass', 'pass commission')
ep('POST', '/commissions/{docket}/withdraw', 'withdraw commission', shape=dict(reason=STR(minL=3, maxL=200)))
ep('PUT', '/kilns/{name}', 'upsert kiln')
ep('GET', '/kilns', 'list kiln', order='name')
ep('GET', '/kilns/{name}', 'read kiln')
ep('DELETE', '/kilns/{name}', 'delete kiln')
ep('POST', '/kilns/{kiln}/firings', 'create firing', parent='kiln')
ep('GET', '/firings', 'list firing', order='lights_at', params={'kiln': ('eq', 'kiln'), 'status': ('eq', 'status'), 'from': ('since', 'lights_at')})
ep('GET', '/firings/{no}', 'read firing')
ep('POST', '/firings/{no}/light', 'light firing')
ep('POST', '/firings/{no}/draw', 'draw firing')
ep('POST', '/firings/{no}/scrub', 'scrub firing')
ep('POST', '/hooks', 'create hook')
ep('GET', '/hooks', 'list hook')
ep('GET', '/hooks/{id}', 'read hook')
ep('PATCH', '/hooks/{id}', 'update hook')
ep('DELETE', '/hooks/{id}', 'delete hook')
ep('GET', '/entries', 'list entry', newest=True, params=dict(kind=('eq', 'kind'), row=('eq', 'row')))
ep('GET', '/entries/{id}', 'read entry')

def find_path(path, v):
    if f('pu-root') and path == '/motto': path = BASE + path
    if not path.startswith(BASE + '/'): return {}, {}
    segs = path[len(BASE) + 1:].split('/')
    best, found, args = None, {}, {}
    for e in ENDPOINTS:
        if len(e['segs']) != len(segs) or (v is not None and e.get('since', 0) > v and not f('ve-condemn')): continue
        a = {}
        for s, p in zip(e['segs'], segs):
            if s.startswith('{'):
                val = urllib.parse.unquote(p, errors='replace')
                if val == '': break
                a[s[1:-1]] = val
            elif s != urllib.parse.unquote(p): break
        else:
            found[e['method']] = e
            args[e['method']] = a
    return found, args

class Req: pass

def identify(req):
    got, bad = [], False
    seals, auths = req.fields.get('x-guild-seal', []), req.fields.get('authorization', [])
    if len(seals) > 1 or len(auths) > 1: bad = True
    for s in seals:
        c = SEALS.get(s)
        if c: got.append(c)
        else: bad = True
    for a in auths:
        c = None
        scheme, _, rest = a.partition(' ')
        if scheme.lower() == 'basic':
            try: c = DESKS.get(base64.b64decode(rest.strip(), validate=True).decode())
            except Exception: c = None
        if c: got.append(c)
        else: bad = True
    if len({(c.user, c.id) for c in got}) > 1: bad = True
    if bad:
        if f('au-badseal') and any('anyone' in r['to'] for r in PERMIT if req.ep['op'] in r['ops']): return None
        raise Stop('false-seal', headers={'WWW-Authenticate': challenge(bool(seals))})
    if not got: return None
    c = got[0]
    if len(got) > 1: c = Caller(c.user, c.id, sorted({s for x in got for s in x.scopes}), c.lodge, 'desk')
    return c
def challenge(bad):
    key = f'ApiKey realm="{TITLE}", in="header", name="X-Guild-Seal"' + (', error="invalid_key"' if bad else '')
    if f('au-challenge'): return key
    return key + f', Basic realm="{TITLE}", charset="UTF-8"'

def accepts(req):
    got = req.fields.get('accept')
    if not got: return True
    best = (-1, 0)
    for part in ','.join(got).split(','):
        bits = [b.strip() for b in part.split(';')]
        q = 1.0
        for b in bits[1:]:
            if b.lower().startswith('q='):
                try: q = float(b[2:])
                except ValueError: q = 0
        rank = {'*/*': 0, 'application/*': 1, 'application/json': 2}.get(bits[0].lower())
        if rank is not None and rank > best[0]: best = (rank, q)
    return best[1] > 0

def odd(name, expected, found=None): raise Stop('odd-question', [{k: x for k, x in {'in': 'query', 'path': name, 'found': found, 'expected': expected}.items() if x is not None}])
def leaf(name, expected, found): raise Stop('no-such-leaf', [{'in': 'query', 'path': name, 'found': found, 'expected': expected}])

def read_params(req):
    e, v, res = req.ep, req.v, req.ep['res']
    pairs = urllib.parse.parse_qsl(req.query, keep_blank_values=True)
    names, spec = {}, {}
    for k, (kind, field) in e.get('params', {}).items():
        name = k
        if kind in ('eq', 'in', 'contains') and k == field:
            vn = [vn for vn, (_, n) in in_edition(res, v).items() if n == field]
            if not vn: continue
            name = vn[0]
        spec[name] = (kind, field)
    paged = e['verb'] == 'list'
    cursor = paged and res == 'entry'
    for k, x in pairs: names.setdefault(k, []).append(x)
    req.only = None
    filters, sort, page = [], e.get('order'), dict(size=10 if cursor else 20, leaf=1, mark=None)
    for k, vals in names.items():
        if e.get('select') == k: continue
        if paged and (k == 'take' or (k == 'leaf' and not cursor) or (k == 'mark' and cursor)): continue
        if k not in spec: odd(k, 'no such parameter')
        if len(vals) > 1: odd(k, 'one value', vals)
    for k, vals in names.items():
        if k not in spec: continue
        kind, field = spec[k]
        x = vals[0]
        if kind == 'sort':
            if x.lstrip('-') not in field or x.startswith('--'): odd(k, 'one of ' + ', '.join(a + b for b in field for a in ('', '-')), x)
            sort = x
        elif kind in ('eq', 'in'):
            shape = in_edition(res, v)[k][0]
            many = x.split(',') if kind == 'in' else [x]
            if len(many) > 100: odd(k, 'at most 100 values', x)
            for y in many:
                out = []
                if shape['t'] != 'ref': fits(y, shape, k, v, out)
                if out: odd(k, out[0]['expected'], y)
            want = {up(res, field, y, v) for y in many}
            filters.append(lambda r, field=field, want=want: r.get(field) in want)
        elif kind == 'contains': filters.append(lambda r, field=field, x=x: x in r[field])
        elif kind == 'town': filters.append(lambda r, x=x: r['place']['town'].casefold() == x.casefold())
        elif kind == 'since':
            t = instant(x)
            if t is None: odd(k, 'a date-time', x)
            filters.append(lambda r, field=field, t=t: instant(r[field]) >= t)
        else:
            if not re.fullmatch(r'-?(0|[1-9][0-9]*)', x): odd(k, 'integer', x)
            n = int(x)
            if kind == 'le' and v < 1: odd(k, 'no such choice in this edition', x)
            if kind == 'ge': filters.append(lambda r, field=field, n=n: r[field] > n if f('en-least') else r[field] >= n)
            elif kind == 'le': filters.append(lambda r, field=field, n=n: r[field] <= n)
            else: filters.append(lambda r, n=n: r['decay'] >= n or r['stage'] == 'lost')
    if e.get('select') and e['select'] in names:
        chosen = [y for x in names[e['select']] for y in x.split(',')]
        known = in_edition(res, v)
        for y in chosen:
            if y not in known: odd(e['select'], 'a field', y)
        if len(chosen) > 100: odd(e['select'], 'at most 100', None)
        req.only = chosen
    if paged:
        most = 40 if cursor else 50
        for k in ('take', 'leaf', 'mark'):
            if k in names and len(names[k]) > 1 and (k != 'leaf' or not cursor): odd(k, 'one value', names[k])
        if 'take' in names:
            x = names['take'][0]
            if not re.fullmatch(r'[0-9]{1,15}', x) or int(x) < 1: leaf('take', f'1 to {most}', x)
            n = int(x)
            if cursor: n = min(n, most)
            elif n > most or (f('li-take') and n == most): leaf('take', f'1 to {most}', x)
            page['size'] = n
        if 'leaf' in names and not cursor:
            x = names['leaf'][0]
            if not re.fullmatch(r'[0-9]{1,12}', x) or int(x) < 1: leaf('leaf', 'a number from 1', x)
            page['leaf'] = int(x)
        if 'mark' in names and cursor:
            page['mark'] = unmark(req, names, names['mark'][0])
    req.filters, req.sort, req.page, req.names = filters, sort, page, names

SECRET = secrets.token_bytes(16)
def bind(req, names): return json.dumps([req.v, req.caller.user, sorted((k, x) for k, x in names.items() if k not in ('mark', 'take'))])
def mark_of(req, seq):
    text = str(seq)
    mac = hmac.new(SECRET, (text + bind(req, req.names)).encode(), hashlib.sha256).hexdigest()[:20]
    return base64.urlsafe_b64encode(f'{text}.{mac}'.encode()).decode().rstrip('=')
def unmark(req, names, x):
    try:
        text, mac = base64.urlsafe_b64decode((x + '=' * (-len(x) % 4)).encode()).decode().split('.')
        if hmac.compare_digest(mac, hmac.new(SECRET, (text + bind(req, names)).encode(), hashlib.sha256).hexdigest()[:20]): return int(text)
    except Exception: pass
    leaf('mark', 'a mark of this list', x)

def get_row(res, text):
    if res == 'firing':
        if not re.fullmatch(r'0|[1-9][0-9]{0,15}', text): return None
        return STORE[res].get(int(text))
    return STORE[res].get(text)

def deprecation(v, target, link_extra=None):
    h, links = {}, list(link_extra or [])
    if v in DEPRECATED:
        h['Deprecation'] = '@%d' % (instant(DEPRECATED[v] + 'T00:00:00Z') // 1000)
        if v in SUNSET:
            h['Sunset'] = formatdate(SUNSET[v] / 1000, usegmt=True)
            links.append('<https://glass.guild.example/editions>; rel="deprecation"')
        links.append(f'<{target}>; rel="successor-version"')
    if links: h['Link'] = ', '.join(links)
    return h

def process(req):
    """one request, from its target to its answer"""
    req.caller, req.counted, req.told, req.ep, req.v, req.links = None, [], {}, None, None, []
    named = req.fields.get('guild-edition')
    now = CLOCK.now()
    try: r = steps(req, named, now)
    except Stop as e: r = refusal(e)
    except Exception:
        import traceback; traceback.print_exc()
        r = refusal(Stop('shattered'))
    for rate, key, c, m in req.counted:
        if r.status in rate.uncounted and not f('li-uncounted'): rate.give(key, c, m)
    if req.counted:
        rate, key = min(((x[0], x[1]) for x in req.counted), key=lambda x: x[0].left(x[1], now))
        req.told = told(rate, key, now)
    v = req.v
    if v is None: v = EDITIONS.index(named[0]) if named and named[0] in EDITIONS else 2
    r.headers.update(req.told)
    r.headers['Guild-Edition'] = EDITIONS[v]
    r.headers['Vary'] = 'Guild-Edition, X-Guild-Seal, Authorization'
    r.headers.update(deprecation(v, req.target, req.links))
    return r

def steps(req, named, now):
    # 1: sizes
    if len(req.target) > 3072: raise Stop('too-long')
    if req.head_size > 12288: raise Stop('too-heavy-a-head')
    # 2: route, method, edition
    path, _, req.query = req.target.partition('?')
    v = EDITIONS.index(named[0]) if named and named[0] in EDITIONS else (2 if not named else None)
    found, args = find_path(path, v)
    if not found: raise Stop('no-way')
    allowed = sorted(found) + (['HEAD'] if 'GET' in found else []) + ['OPTIONS']
    method = 'GET' if req.method == 'HEAD' else req.method
    if method != 'OPTIONS' and method not in found: raise Stop('no-such-tool', headers={'Allow': ', '.join(allowed)})
    if v is None: raise Stop('no-such-edition')
    req.v = v
    if v in SUNSET and (int(time.time() * 1000) if f('ve-sunset') else now) >= SUNSET[v]: raise Stop('edition-ended')
    if method == 'OPTIONS': return Resp(204, None, {'Allow': ', '.join(allowed)})
    e, a = found[method], args[method]
    req.ep, op, res, verb = e, e['op'], e['res'], e['verb']
    # 3: rates per address, before it is known who calls
    charge(req, RATES[:1], op, now)
    # 4: who calls
    if not e.get('public'):
        req.caller = identify(req)
        if req.caller is None and not any('anyone' in r['to'] for r in PERMIT if op in r['ops']):
            raise Stop('unsealed', headers={'WWW-Authenticate': challenge(False)})
    # 5: the other rates
    charge(req, RATES[1:], op, now)
    caller = req.caller
    # 6: is there a rule
    if not e.get('public'):
        rules = rules_for(op, caller)
        if f('pu-warden-hook') and op == 'create hook' and caller.user == 'warden': rules = []
        if not rules: raise Stop('not-your-craft')
        if not any(scoped(r, caller) for r in rules): raise Stop('out-of-scope')
        if method != 'GET' and caller and caller.scheme == 'desk':
            site, origin = req.fields.get('sec-fetch-site'), req.fields.get('origin')
            if site and site[0] not in ('same-origin', 'none'): raise Stop('not-yours')
            if not site and origin and urllib.parse.urlsplit(origin[0]).netloc != req.fields.get('host', [''])[0]: raise Stop('not-yours')
    # 8: media type, size, body, parameters
    if not accepts(req): raise Stop('no-such-tongue')
    takes = verb in ('create', 'update', 'upsert') or 'shape' in e
    body = None
    if takes:
        if not req.body and not req.body_too_big: raise Stop('no-body')
        ct = req.fields.get('content-type', [''])[0].split(';')[0].strip().lower()
        if ct not in (('application/json', 'application/merge-patch+json') if verb == 'update' else ('application/json',)): raise Stop('wrong-tongue')
    if req.body_too_big: raise Stop('too-big')
    if takes:
        try:
            body = json.loads(req.body.decode('utf-8'), parse_constant=lambda x: 1 / 0)
            json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
        except Exception: raise Stop('unreadable')
    read_params(req)
    # 9: a mark that was used before
    mark = req.fields.get('once-mark', [None])[0] if method == 'POST' else None
    slot = None
    if mark:
        slot = (caller.user, caller.id, op, mark)
        fp = json.dumps([path, sorted(urllib.parse.parse_qsl(req.query, keep_blank_values=True)), 0 if f('ve-key') else v, body if takes else base64.b64encode(req.body or b'').decode()], sort_keys=True)
        old = MARKS.get(slot)
        if old and old[0] > now:
            if old[1] != fp: raise Stop('mark-reused')
            return Resp(old[2].status, old[2].body, dict(old[2].headers))
    def keep(r, body_kept=None):
        if slot: MARKS[slot] = (now + 12 * HOUR, fp, Resp(r.status, body_kept if body_kept is not None else r.body, dict(r.headers)))
        return r
    try: r = act(req, e, a, body, now, v)
    except Stop as s:
        if s.code in OWN and slot: keep(refusal(s))
        raise
    kept = None
    if op == 'create hook': kept = dict(r.body) if f('en-replay') else {k: x for k, x in r.body.items() if k != 'secret'}
    return keep(r, kept)
MARKS = {}

def act(req, e, a, body, now, v):
    caller, op, res, verb = req.caller, e['op'], e['res'], e['verb']
    if res == 'motto': return Resp(200, {'motto': 'Lux per vitrum', 'founded': 1631})
    # 10: parents and the row
    parent = None
    if e.get('parent'):
        parent = get_row(e['parent'], a[e['parent']])
        if parent is None or not may_read(e['parent'], parent, caller): raise Stop('not-found')
    row = None
    key = e['segs'][1][1:-1] if len(e['segs']) > 1 and not e.get('parent') else None
    if key:
        row = get_row(res, a[key])
        if verb != 'upsert':
            if row is None:
                if res == 'pane' and a[key] in GONE and may_read('pane', GONE[a[key]], caller): raise Stop('not-found' if f('er-gone') else 'struck-out')
                raise Stop('not-found')
            if res == 'entry' and f('pu-read-entry') and row['by'] == 'clock': raise Stop('not-found')
            if not may(op, row, caller):
                if verb == 'read' or not may_read(res, row, caller): raise Stop('not-found')
                raise Stop(next((r['other'] for r in rules_for(op, caller) if r['other']), None) or 'not-yours')
    if verb == 'list': return listing(req, e, a, parent, v)
    if verb == 'read': return reading(req, e, row, v)
    # 11: preconditions
    if e.get('if_match'):
        m = req.fields.get('if-match')
        if not m:
            if e['if_match'] == 'required': raise Stop('tag-wanted')
        else:
            cur = tag(show(res, row, caller, v), v)
            tags = [t.strip() for t in ','.join(m).split(',')]
            if f('en-weak'): tags = [t[2:] if t.startswith('W/') else t for t in tags]
            if not any(t == '*' or (len(t) > 1 and t[0] == '"' and t[-1] == '"' and t[1:-1].split('.')[0] == cur) for t in tags): raise Stop('changed-since')
    if verb == 'create': return create(req, e, parent, body, now, v)
    if verb == 'upsert': return upsert(req, a[key], row, body, now, v)
    if verb == 'update':
        got = read_body(res, body, v, 'update', {}, row, caller)
        if res == 'pane': in_state(e, row, caller)
        if e.get('within') and res == 'commission': in_state(e, row, caller)
        nxt = dict(row)
        for k, x in got.items():
            if x is DROP or (x is None and not FIELDS[res][k].get('null')): nxt.pop(k, None)
            else: nxt[k] = x
        if nxt != row:
            if not (f('re-unique') and res == 'window'): unique(res, nxt, row)
            if res == 'window': nxt['changed_at'] = iso(now)
            before = dict(row)
            row.clear(); row.update(nxt)
            if res == 'pane' and (row['decay'] != before['decay'] if f('ev-worse') else row['decay'] > before['decay']):
                event('pane.worsened', res, before, row, caller, {'pane': row['id'], 'was': before['decay'], 'is': row['decay']})
        return Resp(200, show(res, row, caller, v))
    if verb == 'delete':
        if e.get('within'): in_state(e, row, caller)
        return remove(res, row, caller)
    # a transition
    def sent():
        if 'shape' not in e: return
        out = []
        if not isinstance(body, dict): refuse([shard('type', 'body', '', 'object', found=body)])
        for k, x in body.items():
            if k in e['shape']: fits(x, e['shape'][k], k, v, out)
        for k in e['shape']:
            if k not in body: out.append(shard('missing', 'body', k, 'a value'))
        refuse(out)
    if f('er-order'): check_move(res, verb, row, now)
    sent()
    check_move(res, verb, row, now)
    if 'shape' in e: body = {k: whole(x) for k, x in body.items()}
    move(res, row, verb, caller, body)
    if not may_read(res, row, caller): return Resp(204)
    return Resp(200, show(res, row, caller, v))

def in_state(e, row, caller):
    if f('en-in') and e['verb'] == 'update' and caller.user == 'warden': return
    if row[STATE[e['res']]] not in e['within']: raise Stop('not-in-this-state')

def unique(res, nxt, row=None):
    fields = UNIQUE.get(res)
    if not fields: return
    for r in STORE[res].values():
        if r is not row and all(r.get(k) == nxt.get(k) for k in fields): raise Stop('there-already')

def rid(n, alphabet=ALNUM): return ''.join(secrets.choice(alphabet) for _ in range(n))
def count(key):
    COUNT[key] = COUNT.get(key, 0) + 1
    return COUNT[key]

def create(req, e, parent, body, now, v):
    caller, res, op = req.caller, e['res'], e['op']
    bound = {e['parent']: parent[ID[e['parent']]]} if parent is not None else {}
    row = read_body(res, body, v, 'create', bound, None, caller)
    row.update(bound)
    if res == 'commission':
        w = STORE['window'].get(row['window'])
        if w is None or not may_read('window', w, caller):
            raise Stop('not-found' if f('er-ref') else 'leads-nowhere', [{'in': 'body', 'path': 'window', 'found': row['window'], 'expected': 'a window'}])
    for name, shape in FIELDS[res].items():
        if 'default' in shape and name not in row: row[name] = shape['default']
    if res == 'building': row.update(mark='bld-' + rid(10, string.ascii_lowercase + string.digits), keeper=caller.id, entered_at=iso(now))
    if res == 'window': row.update(id=str(uuid.uuid4()), changed_at=iso(now))
    if res == 'pane': row.update(id='pane-' + secrets.token_hex(6), stage='in_situ')
    if res == 'commission': row.update(docket='GC' + rid(9, string.ascii_uppercase + string.digits), patron=caller.id, status='draft')
    if res == 'firing': row.update(master=caller.id, status='planned')
    if res == 'hook': row.update(id='hook-' + rid(16), owner=caller.id, secret='hs_' + rid(40))
    # 14: the service's own
    if res == 'firing':
        if row['pieces'] > parent['capacity']: raise Stop('kiln-full')
        if row['peak_c'] > parent['hottest_c']: raise Stop('kiln-weak')
        if instant(row['lights_at']) <= now: raise Stop('past-light')
    # 15
    unique(res, row)
    if res == 'firing' and sum(1 for x in rows_of('firing', 'kiln', row['kiln']) if x['status'] == 'planned' or f('li-rows')) >= 8: raise Stop('enough')
    if res == 'hook' and len(rows_of('hook', 'owner', row['owner'])) >= 5: raise Stop('enough')
    quota(req, op, now)
    if res == 'window': row['number'] = count(('window', None if f('re-number') else row['building']))
    if res == 'commission': row['serial'] = 'C/%05d' % count('commission')
    if res == 'firing': row['no'] = count('firing')
    if res == 'hook': row.update(_maker=caller, _edition=v)
    SEQ[0] += 1
    row.update(_seq=SEQ[0], _made=now)
    id = row[ID[res]]
    STORE[res][id] = row
    if res in STATE: enter(res, row)
    if res == 'building': event('building.entered', res, None, row, caller)
    if res == 'firing':
        def near():
            if row['status'] == 'planned' or f('ev-near'): event('firing.near', 'firing', row, row, None)
        when = instant(row['lights_at']) - DAY
        if when <= now: near()
        else: at(when, near)
    base = '' if f('pu-loc') and res == 'firing' else BASE
    return Resp(201, show(res, row, caller, v, reveal=True), {'Location': base + ADDRESS[res] + urllib.parse.quote(str(id), safe='')})

def upsert(req, name, row, body, now, v):
    caller = req.caller
    out = []
    fits(name, FIELDS['kiln']['name'], 'name', v, out, 'path')
    refuse(out)
    got = read_body('kiln', body, v, 'upsert', {'name': name}, row, caller)
    if 'hottest_c' not in got: got['hottest_c'] = row['hottest_c'] if row and f('re-default') else 850
    if row is None:
        SEQ[0] += 1
        row = STORE['kiln'][name] = dict(got, name=name, lodge=caller.lodge, _seq=SEQ[0])
        return Resp(200 if f('en-put201') else 201, show('kiln', row, caller, v), {'Location': BASE + '/kilns/' + name})
    for k in ('capacity', 'hottest_c', 'remark'):
        if k in got: row[k] = got[k]
        else: row.pop(k, None)
    return Resp(200, show('kiln', row, caller, v))

def remove(res, row, caller):
    if res == 'building' and rows_of('window', 'building', row['mark']): raise Stop('leaded-in')
    if res == 'kiln' and rows_of('firing', 'kiln', row['name']): raise Stop('leaded-in')
    if res == 'window' and rows_of('commission', 'window', row['id']): raise Stop('leaded-in')
    if res == 'pane': strike(row, caller); return Resp(204)
    if res == 'window':
        for p in rows_of('pane', 'window', row['id']): strike(p, caller)
    STORE[res].pop(row[ID[res]])
    if res == 'hook': POST[:] = [d for d in POST if d['hook'] != row['id']]
    return Resp(204)

def reading(req, e, row, v):
    body = show(e['res'], row, req.caller, v)
    h = {}
    if e.get('etag'): h['ETag'] = '"' + tag(body, v) + '"'
    if e.get('cache'): h['Cache-Control'] = e['cache']
    if req.only is not None:
        key = ID[e['res']]
        h['ETag'] = h['ETag'][:-1] + '.' + hashlib.sha256(','.join(sorted(set(req.only))).encode()).hexdigest()[:8] + '"'
        body = {k: x for k, x in body.items() if k in req.only or (k == key and not f('en-select'))}
    if e.get('etag') and 'if-none-match' in req.fields:
        tags = [t.strip() for t in ','.join(req.fields['if-none-match']).split(',')]
        if any(t == '*' or (t[2:] if t.startswith('W/') else t) == h['ETag'] for t in tags): return Resp(304, None, h)
    return Resp(200, body, h)

def listing(req, e, a, parent, v):
    res, caller = e['res'], req.caller
    who = caller
    if f('pu-desk') and res == 'commission' and caller.user == 'warden' and caller.scheme == 'desk': who = Caller('restorer', caller.id, caller.scopes, caller.lodge, 'desk')
    rows = [r for r in STORE[res].values() if may('list ' + res, r, who) and all(x(r) for x in req.filters)]
    if parent is not None: rows = [r for r in rows if r[e['parent']] == parent[ID[e['parent']]]]
    rows.sort(key=lambda r: r['_seq'], reverse=bool(e.get('newest')))
    if req.sort:
        field = req.sort.lstrip('-')
        key = (lambda r: instant(r[field])) if field.endswith('_at') else (lambda r: r[field])
        if f('en-textsort') and field == 'height_mm': key = lambda r: str(r[field])
        rows.sort(key=key, reverse=req.sort.startswith('-'))   # stable: ties keep the order of creation
        if req.sort.startswith('-'):
            out, i = [], 0
            while i < len(rows):
                j = i
                while j < len(rows) and key(rows[j]) == key(rows[i]): j += 1
                out += sorted(rows[i:j], key=lambda r: r['_seq']); i = j
            rows = out
    size = req.page['size']
    if res == 'entry':
        if req.page['mark'] is not None: rows = [r for r in rows if r['_seq'] < req.page['mark']]
        more = len(rows) > size
        rows = rows[:size]
        return Resp(200, {'entries': [show(res, r, caller, v, 'list') for r in rows], 'next_mark': mark_of(req, rows[-1]['_seq']) if more else None})
    n, total = req.page['leaf'], len(rows)
    part = rows[(n - 1) * size: n * size]
    more = total > n * size
    def address(k, base=BASE):
        path = req.target.partition('?')[0]
        q = [(x, y) for x, y in urllib.parse.parse_qsl(req.query, keep_blank_values=True) if x != 'leaf'] + [('leaf', str(k))]
        return base + path[len(BASE):] + '?' + urllib.parse.urlencode(q)
    if more: req.links.append(f'<{address(n + 1, "" if f("pu-link") else BASE)}>; rel="next"')
    if n > 1: req.links.append(f'<{address(n - 1)}>; rel="prev"')
    req.links.append(f'<{address(1)}>; rel="first"')
    return Resp(200, {'rows': [show(res, r, caller, v, 'list') for r in part], 'total': total, 'more': more})

# ---------------------------------------------------------------- http
class TooBig(Exception): pass
class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    server_version, sys_version = 'CathedralGlass', ''
    timeout = 60
    wbufsize = -1
    disable_nagle_algorithm = True
    def log_message(self, *a): pass
    def parse_request(self):
        self.connection.settimeout(10)
        try: return super().parse_request()
        except socket.timeout:
            self.send_error(408)
            return False
    def handle_one_request(self):
        self.connection.settimeout(60)
        try: super().handle_one_request()
        except (ConnectionError, socket.timeout): self.close_connection = True
    def send_error(self, code, message=None, explain=None):
        word = {414: 'too-long', 431: 'too-heavy-a-head', 408: 'too-slow'}.get(code, 'unreadable')
        self.close_connection = True
        if not hasattr(self, 'headers'): self.headers = {}
        if not getattr(self, 'request_version', None) or self.request_version == 'HTTP/0.9': self.request_version = 'HTTP/1.1'
        self.answer(refusal(Stop(word)))
    def __getattr__(self, name):
        if name.startswith('do_'): return self.serve
        raise AttributeError(name)
    def read_all(self):
        """the body, or that it is too large; what is left of it is read away"""
        limit, cap = 24 * 1024, 16 << 20
        if f('li-size'): limit -= 1
        if 'chunked' in (self.headers.get('Transfer-Encoding') or '').lower():
            got, seen = b'', 0
            while True:
                line = self.rfile.readline(1000)
                n = int(line.split(b';')[0].strip(), 16)
                if n == 0:
                    while self.rfile.readline(1000).strip(): pass
                    return (None, True) if seen > limit else (got, False)
                seen += n
                if seen > cap: self.close_connection = True; return None, True
                data = self.rfile.read(n)
                if seen <= limit: got += data
                self.rfile.readline(10)
        length = self.headers.get('Content-Length')
        if not length: return b'', False
        n = int(length)
        if n < 0: raise ValueError
        if n > limit:
            left = n if n <= cap else 0
            if n > cap: self.close_connection = True
            while left > 0:
                x = self.rfile.read(min(65536, left))
                if not x: break
                left -= len(x)
            return None, True
        data = self.rfile.read(n)
        if len(data) < n: raise ConnectionError
        return data, False
    def serve(self):
        req = Req()
        req.method, req.target, req.address = self.command, self.path, self.client_address[0]
        req.fields = {}
        for k, x in self.headers.items(): req.fields.setdefault(k.lower(), []).append(x.strip())
        req.head_size = sum(len(k) + len(x) + 4 for k, x in self.headers.items())
        try: req.body, req.body_too_big = self.read_all()
        except socket.timeout: self.close_connection = True; return self.answer(refusal(Stop('too-slow')))
        except ValueError: self.close_connection = True; return self.answer(refusal(Stop('unreadable')))
        with LOCK:
            run_due(CLOCK.now(), step=True)
            r = process(req)
            data = b'' if r.body is None else json.dumps(r.body, ensure_ascii=False).encode()
        self.answer(r, data)
    def answer(self, r, data=None):
        if data is None: data = b'' if r.body is None else json.dumps(r.body, ensure_ascii=False).encode()
        self.send_response(r.status)
        for k, x in r.headers.items(): self.send_header(k, x)
        if r.body is not None: self.send_header('Content-Type', 'application/json')
        if r.status not in (204, 304): self.send_header('Content-Length', str(len(data)))
        if self.close_connection: self.send_header('Connection', 'close')
        self.end_headers()
        if self.command != 'HEAD' and r.status not in (204, 304): self.wfile.write(data)
        self.wfile.flush()

def later(ms, text):
    m = re.fullmatch(r'P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?', text)
    if not m or text in ('P', 'PT') or text.endswith('T'): return None
    y, mo, w, d, h, mi, s = (float(x) if x else 0 for x in m.groups())
    if y or mo:
        t = dt.datetime.fromtimestamp(ms // 1000, dt.timezone.utc)
        k = t.year * 12 + t.month - 1 + int(y) * 12 + int(mo)
        day = min(t.day, calendar.monthrange(k // 12, k % 12 + 1)[1])
        ms = calendar.timegm(t.replace(year=k // 12, month=k % 12 + 1, day=day).timetuple()) * 1000 + ms % 1000
    return ms + int((w * 7 + d) * DAY + h * HOUR + mi * MIN + s * 1000)
def settle():
    kick()
    end = time.time() + 1.5
    while waiting() and time.time() < end:
        time.sleep(0.01); kick()
class Door(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    wbufsize = -1
    disable_nagle_algorithm = True
    def log_message(self, *a): pass
    def say(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()
    def do_GET(self): self.say(200, {'now': iso(CLOCK.now())})
    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        try:
            ask = json.loads(raw)
            assert isinstance(ask, dict) and len(ask) == 1
            with LOCK:
                now = CLOCK.now()
                to = later(now, ask['advance']) if 'advance' in ask else instant(ask['now'])
                assert to is not None
                if to < now: return self.say(422, {'now': iso(now)})
                CLOCK.floor = now
                run_due(to, step=True)
                CLOCK.floor = 0
                CLOCK.offset += to - now
            settle()
        except Exception: return self.say(400, {'why': 'advance or now'})
        self.say(200, {'now': iso(CLOCK.now())})
    def refuse(self): self.rfile.read(int(self.headers.get('Content-Length') or 0)); self.say(400, {'why': 'GET or POST'})
    do_PUT = do_DELETE = do_PATCH = refuse

def ticker():
    while True:
        time.sleep(0.05)
        with LOCK: run_due(CLOCK.now(), step=True)

class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    allow_reuse_address = True

def main():
    global FAULT
    p = argparse.ArgumentParser()
    p.add_argument('--port', type=int, required=True)
    p.add_argument('--clock-port', type=int, required=True)
    p.add_argument('--fault')
    o = p.parse_args()
    FAULT = o.fault
    door = Server(('127.0.0.1', o.clock_port), Door)
    server = Server(('127.0.0.1', o.port), Handler)
    signal.signal(signal.SIGTERM, lambda *a: os._exit(0))
    threading.Thread(target=door.serve_forever, daemon=True).start()
    threading.Thread(target=deliver_loop, daemon=True).start()
    threading.Thread(target=ticker, daemon=True).start()
    print(f'listening on http://127.0.0.1:{server.server_address[1]}{BASE}, clock on http://127.0.0.1:{door.server_address[1]}/', flush=True)
    try: server.serve_forever()
    except KeyboardInterrupt: pass

if __name__ == '__main__': main()
