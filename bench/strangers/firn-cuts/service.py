"""Firn: a cold store of ice cores. asyncio in front, sqlite3 in memory behind it."""
import argparse, asyncio, base64, calendar, hashlib, hmac, json, re, secrets, sqlite3, string, sys, time
from datetime import datetime, timezone, timedelta
from email.utils import formatdate
from urllib.parse import unquote, urlsplit, parse_qsl

ap = argparse.ArgumentParser()
ap.add_argument('--port', type=int, required=True)
ap.add_argument('--clock-port', type=int, required=True)
ap.add_argument('--fault', default='')
ARGS = ap.parse_args()
def F(*ids): return ARGS.fault in ids

# ------------------------------------------------------------------ clock
class Clock:
    offset = 0
    hold = None
    def now(self):
        return self.hold if self.hold is not None else int(time.time() * 1000) + self.offset
CLOCK = Clock()
now = CLOCK.now
def iso(ms): return datetime.fromtimestamp(ms / 1000, timezone.utc).strftime('%Y-%m-%dT%H:%M:%S.') + '%03dZ' % (ms % 1000)
RFC = re.compile(r'^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$')
def ms_of(text):
    m = RFC.match(text)
    if not m: raise ValueError(text)
    zone = '+00:00' if m[4] in 'Zz' else m[4]
    d = datetime.fromisoformat(m[1] + 'T' + m[2] + zone)
    return int(d.timestamp()) * 1000 + (int((m[3][1:] + '000')[:3]) if m[3] else 0)
H = 3600_000
DAY = 24 * H

# ------------------------------------------------------------------ store
DB = sqlite3.connect(':memory:', isolation_level=None)
DB.row_factory = sqlite3.Row
def iso_ms(text):
    try: return ms_of(text)
    except Exception: return None
DB.create_function('instant', 1, iso_ms, deterministic=True)
DB.create_function('folded', 1, lambda t: t.casefold() if t is not None else None, deterministic=True)
DB.executescript('''
create table site(seq integer primary key autoincrement, id text unique, j text, gone integer);
create table bay(seq integer primary key autoincrement, id text unique, j text);
create table core(seq integer primary key autoincrement, id text unique, j text);
create table cut(seq integer primary key autoincrement, id text unique, j text);
create table listener(seq integer primary key autoincrement, id text unique, j text, maker text, version text, failing integer, hush integer default 0);
create table entry(seq integer primary key autoincrement, id text unique, j text, ends integer);
create table counter(name text primary key, n integer);
create table timer(res text, id text, name text, due integer, primary key(res, id, name));
create table delivery(seq integer primary key autoincrement, listener text, event text, kind text, about text, body text, tries integer default 0, due integer);
create table onceonly(who text, key text, print text, status integer, headers text, body text, ends integer, primary key(who, key));
create table quota(who text, win integer, n integer, primary key(who, win));
''')
def q(sql, *a): return DB.execute(sql, a).fetchall()
def one(sql, *a): return DB.execute(sql, a).fetchone()
def count(name):
    DB.execute('insert into counter values(?,1) on conflict(name) do update set n=n+1', (name,))
    return one('select n from counter where name=?', name)[0]
def get(res, id):
    r = one(f'select * from {res} where id=?' + (' and gone is null' if res == 'site' else ''), str(id))
    return json.loads(r['j']) if r else None
def put(res, row):
    DB.execute(f'update {res} set j=? where id=?', (json.dumps(row), str(row[KEY[res]])))
KEY = {'site': 'code', 'bay': 'id', 'core': 'id', 'cut': 'id', 'listener': 'id', 'entry': 'id'}
def rnd(n, abc=string.ascii_letters + string.digits): return ''.join(secrets.choice(abc) for _ in range(n))

# ------------------------------------------------------------------ shapes
CUTSTATES = ['asked', 'referred', 'granted', 'sawn', 'shipped', 'delivered', 'refused', 'withdrawn', 'lapsed']
CORESTATES = ['logged', 'stowed', 'sealed', 'melted']
S, I, N = {'type': 'string'}, {'type': 'integer'}, {'type': 'number'}
def f(schema, **k): return {'schema': schema, **k}
T = {'type': 'string', 'format': 'date-time'}
FIELDS = {
    'site': {
        'code': f({'type': 'string', 'pattern': '^[A-Z]{3}$'}, imm=True, req=True),
        'name': f({'type': 'string', 'minLength': 2, 'maxLength': 60}, req=True),
        'at': f({'type': 'object', 'closed': True, 'properties': {'lat': {'type': 'number', 'minimum': -90, 'maximum': 90}, 'lon': {'type': 'number', 'minimum': -180, 'maximum': 180}}, 'required': ['lat', 'lon']}),
        'surface_m': f({'type': 'integer', 'minimum': -500, 'maximum': 5000}, req=True),
        'tags': f({'type': 'array', 'items': {'type': 'string', 'minLength': 1, 'maxLength': 20}, 'maxItems': 5, 'uniqueItems': True}),
        'spoken': f({'type': 'object', 'values': {'type': 'string', 'maxLength': 60}, 'maxProperties': 4}),
        'cores': f(I, ro=True), 'entered_at': f(T, ro=True)},
    'bay': {
        'id': f(I, ro=True), 'name': f({'type': 'string', 'minLength': 1, 'maxLength': 30}, req=True),
        'slots': f({'type': 'integer', 'minimum': 1, 'maximum': 500}, req=True),
        'celsius': f({'type': 'number', 'minimum': -90, 'maximum': 15}, req=True),
        'condition': f({'enum': ['cold', 'warm', 'shut']}, ro='create', state=True), 'held': f(I, ro=True)},
    'core': {
        'id': f(S, ro=True), 'number': f(I, ro=True), 'site': f(S, req=True, imm=True, ref='site'), 'bay': f(I, ro=True),
        'drill': f({'enum': ['hand', 'thermal', 'mechanical']}, default='hand'),
        'length_mm': f({'type': 'integer', 'minimum': 100, 'maximum': 4000000}, req=True),
        'diameter_mm': f({'type': 'number', 'minimum': 20, 'maximum': 200}, req=True),
        'drilled_on': f({'type': 'string', 'format': 'date'}), 'state': f(S, ro=True), 'left_mm': f(I, ro=True), 'pending': f(I, ro=True),
        'keeper_note': f({'type': 'string', 'maxLength': 300}, visible=['curator']), 'logged_by': f(S, ro=True), 'changed_at': f(T, ro=True)},
    'cut': {
        'id': f(S, ro=True), 'core': f(S, imm=True, ref='core'), 'asker': f(S, ro=True), 'lab': f(S, ro=True),
        'length_mm': f({'type': 'integer', 'minimum': 5, 'maximum': 1000}, req=True),
        'method': f({'enum': ['chemistry', 'gas', 'isotopes', 'dust']}, req=True),
        'reason': f({'type': 'string', 'minLength': 1, 'maxLength': 200}), 'needed_by': f(T), 'state': f(S, ro=True),
        'fee_cents': f(I, ro=True, visible=['curator', 'lab']), 'door_code': f(S, ro=True, once=True), 'parcel': f(S, ro=True), 'asked_at': f(T, ro=True), 'moved_at': f(T, ro=True)},
    'listener': {
        'id': f(S, ro=True), 'owner': f(S, ro=True), 'address': f({'type': 'string', 'format': 'uri'}, req=True), 'secret': f(S, ro=True, once=True),
        'topics': f({'type': 'array', 'items': {'type': 'string'}, 'minItems': 1, 'maxItems': 12, 'topics': True}), 'active': f({'type': 'boolean'}, default=True)},
    'entry': {k: f(S, ro=True) for k in ('id', 'kind', 'thing', 'told', 'at')},
}
if F('lat-unbounded'): FIELDS['site']['at']['schema']['properties']['lat'].pop('maximum')
if F('code-lower'): FIELDS['site']['code']['schema']['pattern'] = '^[A-Za-z]{3}$'
if F('name-one-letter'): FIELDS['site']['name']['schema']['minLength'] = 1
if F('tags-six'): FIELDS['site']['tags']['schema']['maxItems'] = 6
if F('tags-twice'): FIELDS['site']['tags']['schema'].pop('uniqueItems')
if F('spoken-five'): FIELDS['site']['spoken']['schema']['maxProperties'] = 5
if F('slots-zero'): FIELDS['bay']['slots']['schema']['minimum'] = 0
if F('cut-1001'): FIELDS['cut']['length_mm']['schema']['maximum'] = 1001
if F('date-any-text'): FIELDS['core']['drilled_on']['schema'] = S
if F('drill-any'): FIELDS['core']['drill']['schema'] = S
if F('drill-default-thermal'): FIELDS['core']['drill']['default'] = 'thermal'
if F('core-site-movable'): FIELDS['core']['site']['imm'] = False
if F('diameter-exclusive'): FIELDS['core']['diameter_mm']['schema']['minimum'] = 20.0001
if F('method-optional'): FIELDS['cut']['method']['req'] = False
if F('reason-empty'): FIELDS['cut']['reason']['schema']['minLength'] = 0
if F('active-default-off'): FIELDS['listener']['active']['default'] = False
if F('lon-optional'): FIELDS['site']['at']['schema']['required'] = ['lat']
if F('surface-float'): FIELDS['site']['surface_m']['schema']['type'] = 'number'
if F('note-to-labs'): FIELDS['core']['keeper_note']['visible'] = ['curator', 'lab']
if F('fee-to-couriers'): FIELDS['cut']['fee_cents'].pop('visible')
if F('secret-stays'): FIELDS['listener']['secret']['once'] = False
if F('door-code-stays'): FIELDS['cut']['door_code']['once'] = False
if F('asker-writable'): FIELDS['cut']['asker']['ro'] = False

KINDS = ['core.logged', 'core.moved', 'core.remeasured', 'cut.asked', 'cut.decided', 'cut.ended', 'cut.moving', 'cut.pressing', 'bay.warmed', 'listener.silenced']
def is_num(v): return isinstance(v, (int, float)) and not isinstance(v, bool)
def wrong(v, s, path=''):
    """(path, sort) of each thing that is wrong"""
    t = s.get('type')
    bad = [(path, 'value')]
    if 'enum' in s: return [] if v in s['enum'] and isinstance(v, str) else bad
    if t == 'string':
        if not isinstance(v, str): return bad
        if len(v) < s.get('minLength', 0) or len(v) > s.get('maxLength', 10**9): return bad
        if 'pattern' in s and not re.search(s['pattern'].replace('$', r'\Z'), v): return bad
        fm = s.get('format')
        try:
            if fm == 'date-time': ms_of(v)
            if fm == 'date':
                if not re.match(r'^\d{4}-\d\d-\d\d\Z', v): return bad
                datetime.strptime(v, '%Y-%m-%d')
            if fm == 'uri' and (not re.match(r'^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]+\Z', v) or (v.startswith('http') and not urlsplit(v).hostname)): return bad
        except ValueError: return bad
        return []
    if t == 'integer':
        if not is_num(v) or v != int(v): return bad
    if t == 'number' and not is_num(v): return bad
    if t in ('integer', 'number'):
        return bad if v < s.get('minimum', -10**18) or v > s.get('maximum', 10**18) else []
    if t == 'boolean': return [] if isinstance(v, bool) else bad
    if t == 'array':
        if not isinstance(v, list): return bad
        if len(v) < s.get('minItems', 0) or len(v) > s.get('maxItems', 10**9): return bad
        if s.get('uniqueItems') and len({json.dumps(x) for x in v}) != len(v): return bad
        out = [w for i, x in enumerate(v) for w in wrong(x, s['items'], f'{path}.{i}')]
        if s.get('topics') and not F('topics-unchecked'):
            for i, x in enumerate(v):
                if isinstance(x, str) and x != '*' and x not in KINDS and not (x.endswith('.*') and any(k.startswith(x[:-1]) for k in KINDS)): out.append((f'{path}.{i}', 'value'))
        return out
    if t == 'object':
        if not isinstance(v, dict): return bad
        if len(v) > s.get('maxProperties', 10**9): return bad
        out = []
        for k, x in v.items():
            p = f'{path}.{k}'
            if 'values' in s: out += wrong(x, s['values'], p)
            elif k in s['properties']: out += wrong(x, s['properties'][k], p)
            else: out.append((p, 'unknown'))
        return out + [(f'{path}.{k}', 'missing') for k in s.get('required', []) if k not in v]
    return []

# ------------------------------------------------------------------ refusals
CODES = {
    'unreadable': (400, 'The body cannot be read.'), 'wrong_media': (415, 'The body is of a type that is not taken.'), 'odd_query': (400, 'A parameter is not as it should be.'),
    'blank': (422, '{name} is missing'), 'not_ours': (422, 'There is no such field.'), 'misfit': (422, 'Something that was sent does not fit.'), 'nowhere': (404, 'Nothing is here.'),
    'wrong_tool': (405, 'Not by this method.'), 'stranger': (401, 'Nobody that we know.'), 'short_scope': (403, 'A scope is lacking.'), 'off_limits': (403, 'Not for you.'),
    'no_such_ice': (404, 'There is none.'), 'thawed': (410, 'It was there once.'), 'twin': (409, 'There is one already.'), 'loose_end': (422, 'What it refers to is not there.'),
    'held_fast': (409, 'Something still refers to it.'), 'wrong_state': (409, 'Not from this state.'), 'stale': (412, 'It has changed since.'), 'tag_wanted': (428, 'If-Match is wanted.'),
    'key_reused': (409, 'That key was used for something else.'), 'slow_down': (429, 'Too many.'), 'used_up': (403, 'No more of these.'), 'too_big': (413, 'Too large.'),
    'bad_page': (400, 'There is no such page.'), 'unknown_season': (400, 'No such version.'), 'past_season': (410, 'That version is over.'), 'busy': (503, 'Later.'), 'broken': (500, 'Our fault.'),
    'too_late': (409, 'It was sawn or is over.'), 'not_cold': (409, 'The bay is not cold enough.'), 'bay_in_use': (409, 'Cores lie in this bay.'), 'cuts_pending': (409, 'Cuts of it are pending.'),
    'bay_unfit': (409, 'That bay is not cold.'), 'bay_full': (409, 'That bay is full.'), 'core_shut': (409, 'That core is not to be cut now.'), 'core_spent': (422, 'There is not so much ice left.'),
    'too_soon': (422, 'Two days at least.'), 'overcut': (422, 'More has been cut than that.')}
OWN = {'too_late', 'not_cold', 'bay_in_use', 'cuts_pending', 'bay_unfit', 'bay_full', 'core_shut', 'core_spent', 'too_soon', 'overcut'}
for a, b, c in [('err-gone-404', 'thawed', 404), ('err-spent-409', 'core_spent', 409), ('err-quota-429', 'used_up', 429), ('err-media-400', 'wrong_media', 400), ('err-reused-422', 'key_reused', 422), ('err-season-404', 'unknown_season', 404), ('err-loose-404', 'loose_end', 404), ('err-scope-401', 'short_scope', 401), ('err-tag-412', 'tag_wanted', 412)]:
    if F(a): CODES[b] = (c, CODES[b][1])
class Refused(Exception):
    def __init__(self, code, where=None, name='', headers=None):
        self.code, self.where, self.name, self.headers = code, where, name, headers or {}
    def answer(self):
        status, words = CODES[self.code]
        code = self.code
        if F('err-code-misfit-blank') and code == 'blank': code = 'misfit'
        if F('err-wrong-state-own') and code == 'too_late': code, (status, words) = 'wrong_state', CODES['wrong_state']
        c = {'why': code, 'http': 200 if F('err-http-member') else status, 'words': words.replace('{name}', self.name) if not F('err-name-left') else words}
        if self.where is not None:
            c['where'] = ['/' + w.replace('.', '/') if F('err-pointer-paths') else w for w in self.where]
            if F('err-first-only'): c['where'] = c['where'][:1]
        h = {**self.headers}
        if not F('err-no-crack'): h['Firn-Crack'] = code
        return Answer(status, {'error': c} if F('err-envelope') else {'cracked': c}, h)
def invalid(bad, user_names=None):
    code = {'missing': 'blank', 'unknown': 'not_ours'}.get(bad[0][1], 'misfit')
    raise Refused(code, [p for p, _ in bad], bad[0][0])
class Answer:
    def __init__(self, status, body=None, headers=None):
        self.status, self.body, self.headers = status, body, headers or {}

# ------------------------------------------------------------------ callers
class Caller:
    def __init__(self, user, id, scopes, lab): self.user, self.id, self.scopes, self.lab = user, id, scopes, lab
ADA, BO = Caller('curator', 'ada', ['melt'], 'store'), Caller('curator', 'bo', [], 'store')
KEYS = {'fk_aurora0000000000000000aa': Caller('lab', 'nils', ['ask', 'hear'], 'aurora'), 'fk_aurora0000000000000000bb': Caller('lab', 'tove', ['ask', 'hear'], 'aurora'),
        'fk_borea00000000000000000cc': Caller('lab', 'piet', ['ask', 'hear'], 'borea'), 'fk_borea00000000000000000dd': Caller('lab', 'rosa', [], 'borea'),
        'fk_sledge0000000000000000ee': Caller('courier', 'kaya', ['hear'], 'sledge'), 'fk_sledge0000000000000000ff': Caller('courier', 'luis', [], 'sledge')}
PASSWORDS = {'ada': ('icefall-seventy', ADA), 'bo': ('moraine-eleven', BO)}
def who(h):
    found = []
    bad = False
    if len(h.get('firn-key', [])) > 1 or len(h.get('authorization', [])) > 1: bad = True
    for k in h.get('firn-key', [])[:1]:
        c = KEYS.get(k) or (next((v for n, v in KEYS.items() if n.lower() == k.lower()), None) if F('auth-key-any-case') else None)
        if F('auth-key-prefix') and not c: c = next((v for n, v in KEYS.items() if k and n.startswith(k) and len(k) > 20), None)
        if c: found.append(c)
        else: bad = True
    for a in h.get('authorization', [])[:1]:
        try:
            scheme, b = a.split(' ', 1)
            name, pw = base64.b64decode(b.strip(), validate=True).decode().split(':', 1)
            if scheme.lower() != 'basic': raise ValueError
            p = PASSWORDS.get(name)
            if not p or not (p[0] == pw or F('auth-any-password') or (F('auth-password-start') and pw and p[0].startswith(pw))): raise ValueError
            found.append(p[1])
        except Exception: bad = True
    if bad and not (F('auth-one-good-enough') and found): found = []
    elif len({(c.user, c.id) for c in found}) > 1 and not F('auth-two-callers'): found = []
    if F('user-courier-unknown') and found and found[0].user == 'courier': found = []
    if not found:
        e = ', error="invalid_key"' if bad else ''
        ch = f'ApiKey realm="Firn", in="header", name="Firn-Key"{e}, Basic realm="Firn", charset="UTF-8"'
        raise Refused('stranger', headers={} if F('auth-no-challenge') else {'WWW-Authenticate': ch})
    return found[0]

ALL = 'all'
def may_read(c, res, row, listing=False):
    """ALL, a list of fields, or None"""
    if res == 'site': return ALL if c.user != 'courier' or F('perm-site-fields') else ['code', 'name']
    if res == 'bay':
        if c.user == 'curator': return ALL
        if c.user == 'lab' and (row['condition'] != 'shut' or F('perm-shut-bay')): return ALL if F('perm-bay-fields') and not listing else ['id', 'name', 'condition']
    if res == 'core':
        if c.user == 'curator': return ALL
        if c.user == 'lab' and (row['state'] != 'melted' or F('perm-melted-read') and not listing or F('perm-melted-list') and listing): return ALL
    if res == 'cut':
        if c.user == 'curator': return ALL
        if c.user == 'lab':
            if F('perm-colleague-hidden'): return ALL if row['asker'] == c.id else None
            if F('perm-all-labs-read') and not listing: return ALL
            if row['asker'] == c.id or row['lab'] == c.lab: return ALL
        if c.user == 'courier' and row['state'] in (['sawn', 'shipped', 'delivered'] + (['granted'] if F('perm-courier-granted') else [])): return ALL
    if res == 'listener' and (row['owner'] == c.id or F('perm-listener-any') and c.user == 'curator'): return ALL
    if res == 'entry' and c.user == 'curator': return ALL
    return None
RULES = {'curator': {**{o: None for o in 'create site,list site,read site,update site,delete site,create bay,list bay,read bay,update bay,shut bay,create core,list core,read core,update core,stow core,seal core,unseal core,list cut,read cut,grant cut,refuse cut,saw cut,create listener,list listener,read listener,update listener,delete listener,list entry,read entry'.split(',')}, 'melt core': 'melt'},
         'lab': {**{o: None for o in 'list site,read site,list bay,read bay,list core,read core,list cut,read cut,update cut,withdraw cut,list listener,read listener,update listener,delete listener'.split(',')}, 'create cut': 'ask', 'create listener': 'hear'},
         'courier': {**{o: None for o in 'list site,read site,list cut,read cut,ship cut,deliver cut,list listener,read listener,update listener,delete listener'.split(',')}, 'create listener': 'hear'}}
if F('perm-no-melt-scope'): RULES['curator']['melt core'] = None
if F('perm-no-ask-scope'): RULES['lab']['create cut'] = None
if F('perm-lab-sees-diary'): RULES['lab']['list entry'] = None
if F('perm-courier-saws'): RULES['courier']['saw cut'] = None
if F('perm-curator-withdraws'): RULES['curator']['withdraw cut'] = None

# ------------------------------------------------------------------ rows as they are shown
TAKES_ICE = ['asked', 'referred', 'granted', 'sawn', 'shipped', 'delivered']
if F('left-forgets-delivered'): TAKES_ICE.remove('delivered')
if F('left-forgets-referred'): TAKES_ICE.remove('referred')
PENDING = ['asked', 'granted'] if F('pending-without-referred') else ['asked', 'referred', 'granted']
def lst(a): return '(' + ','.join(f"'{x}'" for x in a) + ')'
def sql_derived(res, field):
    if res == 'site': return "(select count(*) from core c where json_extract(c.j,'$.site')=site.id)"
    if res == 'bay': return f"(select count(*) from core c where json_extract(c.j,'$.bay')=cast(bay.id as integer) and json_extract(c.j,'$.state') in {lst(['stowed'] if F('held-without-sealed') else ['stowed', 'sealed'])})"
    if field == 'left_mm': return f"(json_extract(core.j,'$.length_mm') - coalesce((select sum(json_extract(k.j,'$.length_mm')) from cut k where json_extract(k.j,'$.core')=core.id and json_extract(k.j,'$.state') in {lst(TAKES_ICE)}),0))"
    return f"(select count(*) from cut k where json_extract(k.j,'$.core')=core.id and json_extract(k.j,'$.state') in {lst(PENDING)})"
DERIVED = {'site': ['cores'], 'bay': ['held'], 'core': ['left_mm', 'pending']}
def derived(res, row, field): return one(f'select {sql_derived(res, field)} from {res} where id=?', str(row[KEY[res]]))[0]
CACHE = {}
def whole(res, row):
    r = dict(row)
    for d in DERIVED.get(res, []): r[d] = derived(res, row, d)
    if F('core-left-cached') and res == 'core': r['left_mm'] = CACHE.setdefault((row['id'], row['length_mm']), r['left_mm'])
    return r
def down(res, r, version):
    if version == 'winter-2': return r
    r = dict(r)
    if res == 'cut':
        if 'reason' in r and not F('v1-reason'): r['purpose'] = r.pop('reason')
        if r.get('method') == 'chemistry' and not F('v1-ions-down'): r['method'] = 'ions'
    if res == 'core' and not F('v1-drill-shown'): r.pop('drill', None)
    if res == 'site' and not F('v1-no-country'): r['country'] = 'AQ'
    return r
def show(res, row, user, fields, version, once=False):
    r = whole(res, row)
    out = {}
    for k, sp in FIELDS[res].items():
        if k not in r: continue
        if sp.get('once') and not once: continue
        if 'visible' in sp and user not in sp['visible']: continue
        if fields != ALL and k not in fields and k != KEY[res]: continue
        out[k] = r[k]
    if fields != ALL and version == 'winter-1' and res == 'site': return out
    return down(res, out, version)
def tag(rep): return '"' + hashlib.sha256(json.dumps(rep, sort_keys=True).encode()).hexdigest()[:24] + '"'

# ------------------------------------------------------------------ events
def hears(lis, maker, kind, res, row):
    if not lis['active'] and not F('ev-inactive-heard'): return False
    t = lis.get('topics')
    if F('ev-topics-ignored'): t = None
    if t is not None and not any(x == '*' or x == kind or (x.endswith('.*') and kind.startswith(x[:-1]) and not F('ev-wildcard-dead')) for x in t): return False
    if kind == 'core.moved' and not F('ev-moved-readers-only'): return True
    if F('ev-anyone-hears') and res == 'cut': return True
    return may_read(maker, res, row) is not None
def emit(kind, res, row, payload=None):
    """payload None = the row itself, as each may see it"""
    eid = 'ev-' + rnd(16)
    at = iso(now())
    def seen(user, version, fields=ALL):
        if payload is not None: return payload
        return show(res, row, user, fields, version)
    if not F('log-lost-' + kind.replace('.', '-')):
        e = {'id': eid, 'kind': kind, 'thing': 'cut' if F('log-thing') else res, 'told': seen('curator', 'winter-2'), 'at': at}
        DB.execute('insert into entry(id,j,ends) values(?,?,?)', (eid, json.dumps(e), now() + (30 if F('log-thirty-days') else 20) * DAY))
        if F('log-doubled') and kind == 'cut.asked':
            e2 = {**e, 'id': 'ev-' + rnd(16)}
            DB.execute('insert into entry(id,j,ends) values(?,?,?)', (e2['id'], json.dumps(e2), now() + 20 * DAY))
    for l in q('select * from listener order by seq'):
        lis, m = json.loads(l['j']), json.loads(l['maker'])
        maker = Caller(m['user'], m['id'], m['scopes'], m['lab'])
        if not hears(lis, maker, kind, res, row): continue
        fields = may_read(maker, res, row)
        env = {'no': rnd(16) if F('ev-id-apart') else eid, 'sort': kind, 'when': at, 'ice': seen('curator' if F('ev-note-leaks') else maker.user, 'winter-2' if F('ev-newest-version') else l['version'], ALL if F('ev-bay-fields') else fields or ALL)}
        if F('ev-envelope-default'): env = {'id': env['no'], 'type': env['sort'], 'timestamp': env['when'], 'data': env['ice']}
        for _ in range(2 if F('ev-doubled') and kind == 'cut.decided' else 1):
            if _: env['no'] = 'ev-' + rnd(16)
            DB.execute('insert into delivery(listener,event,kind,about,body,due) values(?,?,?,?,?,?)', (lis['id'], env.get('no') or env.get('id'), kind, f'{res} {row[KEY[res]]}', json.dumps(env), max(now(), l['hush'] or 0)))
    WAKE.set()

FLIGHT = set()
async def post(url, headers, body):
    u = urlsplit(url)
    if u.scheme != 'http': raise OSError('only http here')
    reader, writer = await asyncio.open_connection(u.hostname, u.port or 80)
    try:
        path = (u.path or '/') + ('?' + u.query if u.query else '')
        head = f'POST {path} HTTP/1.1\r\nHost: {u.netloc}\r\n' + ''.join(f'{k}: {v}\r\n' for k, v in headers.items()) + f'Content-Length: {len(body)}\r\nConnection: close\r\n\r\n'
        writer.write(head.encode() + body)
        await writer.drain()
        status = int((await reader.readline()).split()[1])
        after = None
        while (line := (await reader.readline()).strip()):
            k, _, v = line.decode('latin1').partition(':')
            if k.lower() == 'retry-after' and v.strip().isdigit(): after = int(v)
        return status, after
    finally: writer.close()
RETRY = [20_000, 180_000, H]
if F('ev-retry-two'): RETRY = RETRY[:2]
if F('ev-retry-late'): RETRY[1] = 30 * 60_000
if F('ev-never-retry'): RETRY = []
async def attempt(d):
    l = one('select * from listener where id=?', d['listener'])
    if not l or (not json.loads(l['j'])['active'] and not F('ev-inactive-heard')):
        DB.execute('delete from delivery where seq=?', (d['seq'],))
        return
    lis = json.loads(l['j'])
    body = d['body'].encode()
    ts = str((now() if not F('ev-old-timestamp') else ms_of(json.loads(d['body'])['when'])) // 1000)
    signed = (f'{ts}.' if F('ev-signs-no-id') else f'{d["event"]}|{ts}|').encode() + body
    mac = hmac.new(lis['secret'].encode(), signed, hashlib.sha256 if F('ev-sha256') else hashlib.sha512).hexdigest()
    h = {'Content-Type': 'application/json', 'Firn-Seal': f'at={ts},ice={mac}', 'Firn-Kind': 'core.moved' if F('ev-kind-header') else d['kind']}
    ok, after, status = False, None, 0
    try:
        status, after = await asyncio.wait_for(post(lis['address'], h, body), 5)
        ok = 200 <= status < 300 or (F('ev-redirect-ok') and 300 <= status < 400)
    except Exception: pass
    if not one('select 1 from delivery where seq=?', d['seq']): return
    if ok:
        DB.execute('update listener set failing=null where id=?', (lis['id'],))
        DB.execute('delete from delivery where seq=?', (d['seq'],))
        return
    since = l['failing'] or now()
    DB.execute('update listener set failing=? where id=?', (since, lis['id']))
    if (status == 410 and not F('ev-410-goes-on')) or (now() - since >= 2 * DAY and not F('ev-never-silenced')):
        DB.execute('begin')
        lis = get('listener', lis['id'])
        lis['active'] = False
        put('listener', lis)
        DB.execute('delete from delivery where listener=?', (lis['id'],))
        emit('listener.silenced', 'listener', lis, {'listener': lis['id']})
        DB.execute('commit')
        return
    if d['tries'] >= len(RETRY):
        DB.execute('delete from delivery where seq=?', (d['seq'],))
        return
    due = now() + RETRY[d['tries']]
    if after and not F('ev-retry-after'):
        until = now() + min(after * 1000, DAY)
        due = max(due, until)
        DB.execute('update listener set hush=? where id=?', (until, lis['id']))
        DB.execute('update delivery set due=max(due,?) where listener=?', (until, lis['id']))
    DB.execute('update delivery set tries=tries+1, due=? where seq=?', (due, d['seq']))
def first_waiting():
    """the earliest delivery of each listener and row"""
    if F('ev-any-order'): return q('select * from delivery')
    return q('select d.* from delivery d join (select min(seq) s from delivery group by listener, about) m on m.s=d.seq')
async def deliver_due():
    while True:
        todo = [d for d in first_waiting() if d['due'] <= now() and d['seq'] not in FLIGHT]
        if not todo: return
        for d in todo: FLIGHT.add(d['seq'])
        async def go(d):
            try: await attempt(d)
            finally:
                FLIGHT.discard(d['seq'])
                WAKE.set()
        await asyncio.gather(*(go(d) for d in todo))
WAKE = asyncio.Event()

# ------------------------------------------------------------------ timers
def arm(res, id, name, due): DB.execute('insert or replace into timer values(?,?,?,?)', (res, id, name, due))
def disarm(res, id, name): DB.execute('delete from timer where res=? and id=? and name=?', (res, id, name))
def arm_needed(row, before=None):
    if before is not None and before.get('needed_by') == row.get('needed_by'): return
    if F('timer-not-moved') and before is not None: return
    for n in ('forget', 'pressing'): disarm('cut', row['id'], n)
    if 'needed_by' in row:
        t = ms_of(row['needed_by'])
        if not F('forget-never'): arm('cut', row['id'], 'forget', t + (DAY if F('forget-late') else 0))
        if not F('pressing-never'): arm('cut', row['id'], 'pressing', t - (12 * H if F('pressing-half-day') else 24 * H))
def next_due():
    t = [one('select min(due) from timer')[0], one('select min(ends) from entry')[0]]
    t += [d['due'] for d in first_waiting() if d['seq'] not in FLIGHT]
    t = [x for x in t if x is not None]
    return min(t) if t else None
def fire_due():
    DB.execute('delete from entry where ends<=?', (now(),))
    while (t := one('select * from timer where due<=? order by due limit 1', now())):
        DB.execute('begin')
        disarm(t['res'], t['id'], t['name'])
        row = get(t['res'], t['id'])
        if row:
            if t['name'] == 'pressing': emit('cut.pressing', 'cut', row)
            elif row['state'] in TRANS[t['res']][t['name']][0]: transition(t['res'], t['name'], row)
        DB.execute('commit')
async def ticker():
    while True:
        WAKE.clear()
        if CLOCK.hold is None:
            fire_due()
            asyncio.create_task(deliver_due())
            await asyncio.sleep(0)
        due = next_due()
        wait = 3600 if due is None else max(0.02, (due - now()) / 1000)
        try: await asyncio.wait_for(WAKE.wait(), min(wait, 3600))
        except asyncio.TimeoutError: pass
MOVING = asyncio.Lock()
async def move_clock(target):
    async with MOVING:
        for _ in range(100):
            if not FLIGHT: break
            await asyncio.sleep(0.02)
        fire_due()
        await deliver_due()
        CLOCK.hold = now()
        while (due := next_due()) is not None and due <= target:
            CLOCK.hold = max(CLOCK.hold, due)
            fire_due()
            await deliver_due()
        CLOCK.hold = None
        CLOCK.offset = target - int(time.time() * 1000)
        WAKE.set()
        return now()

# ------------------------------------------------------------------ transitions
TRANS = {'core': {'stow': (['logged'], 'stowed'), 'seal': (['stowed'], 'sealed'), 'unseal': (['sealed'], 'stowed'), 'melt': (['logged', 'stowed', 'sealed'], 'melted'), 'spoil': (['logged'], 'melted')},
         'cut': {'grant': (['asked', 'referred'], 'granted'), 'refuse': (['asked', 'referred', 'granted'], 'refused'), 'withdraw': (['asked', 'referred', 'granted'], 'withdrawn'), 'saw': (['granted'], 'sawn'),
                 'ship': (['sawn'], 'shipped'), 'deliver': (['shipped'], 'delivered'), 'lapse': (['granted'], 'lapsed'), 'forget': (['asked'], 'withdrawn')},
         'bay': {'shut': (['cold', 'warm'], 'shut')}}
if F('melt-not-sealed'): TRANS['core']['melt'] = (['logged', 'stowed'], 'melted')
if F('unseal-to-logged'): TRANS['core']['unseal'] = (['sealed'], 'logged')
if F('withdraw-sawn'): TRANS['cut']['withdraw'][0].append('sawn')
if F('refuse-not-granted'): TRANS['cut']['refuse'] = (['asked', 'referred'], 'refused')
if F('deliver-from-sawn'): TRANS['cut']['deliver'] = (['sawn', 'shipped'], 'delivered')
if F('saw-asked'): TRANS['cut']['saw'] = (['asked', 'granted'], 'sawn')
if F('lapse-withdrawn'): TRANS['cut']['lapse'] = (['granted'], 'withdrawn')
def transition(res, name, row, request=None):
    """row has one of the states that it leads from; guards first"""
    froms, to = TRANS[res][name]
    before, n = row, dict(row)
    t = iso(now())
    if res == 'bay':
        if derived('bay', row, 'held') and not F('shut-in-use'): raise Refused('bay_in_use')
        n['condition'] = 'shut'
        put('bay', n)
        return n
    if res == 'core':
        if name == 'seal' and derived('core', row, 'pending') and not F('seal-pending'): raise Refused('cuts_pending')
        n['state'] = to
        if not F('core-changed-by-clock') or name != 'spoil': n['changed_at'] = t
        if F('changed-only-update'): n['changed_at'] = before['changed_at']
        if name == 'stow':
            n['bay'] = request['bay']
            b = get('bay', n['bay'])
            put('core', n)
            if b['condition'] != 'cold' and not (F('stow-in-warm') and b['condition'] == 'warm'): raise Refused('bay_unfit')
            if derived('bay', b, 'held') > b['slots'] + (1 if F('stow-one-too-many') else 0): raise Refused('bay_full')
        put('core', n)
        disarm('core', n['id'], 'spoil')
        if not (F('ev-spoil-silent') and name == 'spoil') and not (F('ev-unseal-silent') and name == 'unseal'):
            emit('core.moved', 'core', n, {'core': n['id'], 'was': n['state'] if F('ev-was-is') else before['state'], 'is': n['state']})
        if name == 'melt' and not F('melt-leaves-cuts'):
            for r in q("select j from cut where json_extract(j,'$.core')=? order by seq", n['id']):
                k = json.loads(r['j'])
                if k['state'] in (['asked', 'referred'] if F('melt-leaves-granted') else ['asked', 'referred', 'granted']): transition('cut', 'refuse', k)
        return n
    if name == 'grant':
        limit = 499 if F('grant-500') else 500
        to = 'granted' if n['length_mm'] <= limit or before['state'] == 'referred' else 'referred'
        if F('grant-never-refers'): to = 'granted'
        if not (F('fee-referred-none') and to == 'referred'): n['fee_cents'] = n['length_mm'] * (12 if n['method'] == 'gas' and not F('fee-gas') else 7)
    if name == 'ship': n['parcel'] = request['parcel']
    n['state'] = to
    if not (F('moved-at-stale') and name == 'deliver'): n['moved_at'] = t
    put('cut', n)
    disarm('cut', n['id'], 'lapse')
    if to == 'granted' and not F('lapse-never'): arm('cut', n['id'], 'lapse', now() + (7 * DAY if F('lapse-week') else 72 * H))
    if to == 'granted' and F('lapse-from-asked'): arm('cut', n['id'], 'lapse', ms_of(n['asked_at']) + 72 * H)
    if name in ('grant', 'refuse'):
        if not (F('ev-melt-refusal-silent') and request is None): emit('cut.decided', 'cut', before if F('ev-before-row') else n)
    elif name in ('withdraw', 'lapse', 'forget'):
        if not (F('ev-lapse-silent') and name == 'lapse'): emit('cut.ended', 'cut', n, {'cut': n['id'], 'how': 'withdrawn' if F('ev-how') else n['state']})
    elif not (F('ev-deliver-silent') and name == 'deliver'): emit('cut.moving', 'cut', n, n['id'])
    return n

# ------------------------------------------------------------------ router
ROUTES = []
class Route: pass
def route(method, path, does, params=None, body=None, since='winter-1'):
    def keep(fn):
        r = Route()
        r.method, r.path, r.does, r.params, r.body, r.since, r.fn = method, path, does, params or {}, body, since, fn
        r.rx = re.compile(('^/firn' if F('base-other') else '^/cold') + re.sub(r'\{(\w+)\}', r'(?P<\1>[^/]+)', path) + r'\Z')
        if not (F('fn-no-deliver') and does == 'deliver cut') and not (F('fn-no-diary-read') and does == 'read entry'): ROUTES.append(r)
        return fn
    return keep
class Call:
    """one request on its way"""

def up(res, body, call):
    """what came in an older version, in today's words"""
    if call.version == 'winter-2': return body
    b = {}
    for k, v in body.items():
        if res == 'cut' and k == 'purpose': k = 'reason'
        elif res == 'cut' and k == 'reason': k = '\0reason'
        elif res == 'cut' and k == 'method':
            if v == 'ions' and not F('v1-ions-up'): v = 'chemistry'
            elif v == 'chemistry': v = '\0'
        elif res == 'core' and k == 'drill': k = '\0drill'
        elif res == 'site' and k == 'country':
            if isinstance(v, str) or (v is None and call.route.method == 'PATCH'): continue
            k = '\1country'
        b[k] = v
    return b
def name_down(res, path, call):
    if call.version == 'winter-1' and res == 'cut' and path.split('.')[0] == 'reason': return 'purpose'
    return path.replace('\0', '').replace('\1', '')
def take(res, call, before=None, refuse_ro=False, bound=()):
    """the body as it would be stored, or request.invalid"""
    body = call.json
    if not isinstance(body, dict): invalid([('', 'value')])
    body = up(res, body, call)
    bad, n = [], dict(before) if before else {}
    spec = FIELDS[res]
    for k, v in body.items():
        sp = spec.get(k)
        if not sp or (sp.get('once') and not sp.get('ro')):
            if not (F('unknown-field-passes')): bad.append((k, 'value' if k[0] == '\1' else 'unknown'))
            continue
        if sp.get('ro') is True or (sp.get('ro') == 'create' and before is None):
            if refuse_ro and not F('readonly-taken'): bad.append((k, 'value'))
            if F('entered-writable') and k == 'entered_at': n[k] = v
            continue
        if k in bound:
            if v != bound[k]: bad.append((k, 'value'))
            continue
        if before is not None and v is None:
            if sp.get('req') or sp.get('imm') or sp.get('state') or 'default' in sp and k in ('drill', 'active') and (k in REQUIRED[res]): bad.append((k, 'value'))
            elif F('null-kept'): pass
            else: n.pop(k, None)
            continue
        if before is not None and isinstance(v, dict) and sp['schema'].get('type') == 'object' and not F('patch-shallow'):
            v = merge(n.get(k), v)
        w = wrong(v, sp['schema'], k)
        if w: bad += w
        elif sp.get('imm') and before is not None and v != before.get(k): bad.append((k, 'value'))
        else: n[k] = v
    if before is None:
        for k, sp in spec.items():
            if k in n or sp.get('ro') or k in bound: continue
            if 'default' in sp: n[k] = sp['default'] if k not in body else n.get(k)
            elif sp.get('req') and k not in body: bad.append((k, 'missing'))
    if res == 'core' and not bad and n['length_mm'] < n['diameter_mm'] and not F('rule-length'): bad.append(('length_mm', 'value'))
    if bad: invalid([(name_down(res, p, call), s) for p, s in bad])
    for k, v in list(n.items()):
        if isinstance(v, float) and spec[k]['schema'].get('type') == 'integer' and v == int(v): n[k] = int(v)
    return n
def merge(a, b):
    a = dict(a) if isinstance(a, dict) else {}
    for k, v in b.items():
        if v is None: a.pop(k, None)
        elif isinstance(v, dict): a[k] = merge(a.get(k), v)
        else: a[k] = v
    return a
REQUIRED = {'core': ['drill'], 'listener': ['active'], 'site': [], 'bay': [], 'cut': []}

def load(res, call, key='id', op_rule=None):
    """the row of the path, to whom may read it"""
    id = call.path_args[key]
    row = get(res, id)
    if row is None:
        if res == 'site' and one('select 1 from site where id=? and gone>?', id, now() if not F('gone-forever') else 0) and not F('gone-missing'): raise Refused('thawed')
        raise Refused('no_such_ice')
    fields = may_read(call.caller, res, row)
    if F('perm-forbidden-leak') and res == 'cut' and fields is None: raise Refused('off_limits')
    if fields is None: raise Refused('no_such_ice')
    if op_rule and not op_rule(row): raise Refused('off_limits')
    return row, fields
def shown(call, res, row, status=200, once=False):
    fields = may_read(call.caller, res, row)
    if fields is None: return Answer(204)
    return Answer(status, show(res, row, call.caller.user, fields, call.version, once))
def made(call, res, row, base):
    a = shown(call, res, row, 200 if F('created-200') and res == 'site' else 201, True)
    if not F('no-location'): a.headers['Location'] = f'/cold/{base}/{row[KEY[res]]}'
    return a
def precondition(call, res, row, fields, required=False):
    m = call.h.get('if-match')
    if not m:
        if required and not F('if-match-optional'): raise Refused('tag_wanted')
        return
    t = tag(show(res, row, call.caller.user, fields, call.version))
    tags = [x.strip() for x in ','.join(m).split(',')]
    if '*' in tags or t in tags or F('if-match-ignored') or (F('if-match-weak') and 'W/' + t in tags): return
    raise Refused('stale')
def read(call, res, key='id', cache=None, etag=False):
    row, fields = load(res, call, key)
    a = shown(call, res, row)
    if etag:
        t = tag({k: v for k, v in a.body.items() if not (F('etag-without-derived') and k in ('left_mm', 'pending', 'cores'))})
        if not F('no-etag') or res != 'site': a.headers['ETag'] = ('W/' if F('etag-weak') else '') + t
        inm = call.h.get('if-none-match')
        if inm and not F('no-304'):
            tags = [x.strip().removeprefix('W/') for x in ','.join(inm).split(',')]
            if '*' in tags or t in tags: a.status, a.body = 304, None
    if cache and not F('no-cache-control'): a.headers['Cache-Control'] = cache
    return a
def page(call, res, where, args, order, bare=False):
    """rows that this caller may see, in SQL what can be asked in SQL"""
    c = call.caller
    cond = list(where)
    args = list(args)
    if res == 'site': cond.append('site.gone is null' if not F('gone-listed') else '1')
    if c.user == 'lab':
        if res == 'bay' and not F('perm-shut-bay'): cond.append("json_extract(bay.j,'$.condition')!='shut'")
        if res == 'core' and not F('perm-melted-list'): cond.append("json_extract(core.j,'$.state')!='melted'")
        if res == 'cut' and not F('perm-list-all-cuts'):
            cond.append("(json_extract(cut.j,'$.asker')=? or json_extract(cut.j,'$.lab')=?)")
            args += [c.id, c.id if F('perm-colleague-hidden') else c.lab]
    if c.user == 'courier' and res == 'cut': cond.append("json_extract(cut.j,'$.state') in ('sawn','shipped'%s)" % ('' if F('perm-courier-no-delivered') else ",'delivered'"))
    if res == 'listener':
        if not F('perm-listener-list'):
            cond.append("json_extract(listener.j,'$.owner')=?")
            args.append(c.id)
    sql = f' from {res} where ' + (' and '.join(cond) or '1')
    total = one('select count(*)' + sql, *args)[0]
    if bare: rows, more = q('select j' + sql + ' order by ' + order, *args), False
    else:
        n, p = call.per, call.sheet
        skip = p * n if F('page-from-zero') else (p - 1) * (n - 1 if F('page-overlap') and p > 1 else n)
        rows = q('select j' + sql + f' order by {order} limit {n} offset {skip}', *args)
        more = skip + n < total if not F('page-more') else skip + n <= total
    out = []
    for r in rows:
        row = json.loads(r['j'])
        fl = may_read(c, res, row, True)
        if fl is not None: out.append(show(res, row, c.user, fl, 'winter-2' if F('v1-list-newest') else call.version))
    if bare: return Answer(200, {'rows': out} if F('bays-wrapped') else out)
    return Answer(200, {'rows': out, 'more': more, 'of': len(out) if F('page-total') else total, 'here': ('/cold' if not F('page-here') else '') + call.route.path})
def unique(res, row, field, fold=False):
    e = f"json_extract(j,'$.{field}')"
    v = row[field]
    if fold and not F('unique-case'): e, v = f'folded({e})', v.casefold()
    if one(f'select 1 from {res} where {e}=? and id!=?' + (' and gone is null' if res == 'site' else ''), v, str(row[KEY[res]])) and not F('unique-' + res): raise Refused('twin')
def make(res, id, row, extra='', vals=()):
    cols = ''.join(',' + x for x in extra.split())
    DB.execute(f'insert into {res}(id,j{cols}) values(?,?{",?" * len(vals)})', (str(id), json.dumps(row), *vals))

@route('GET', '/about', 'about')
def about(call): return Answer(200, {'keeps': 'ice'})

# sites
@route('POST', '/sites', 'create site', body='json')
def create_site(call):
    n = take('site', call)
    n.setdefault('entered_at', iso(now())) if F('entered-writable') else n.__setitem__('entered_at', iso(now()))
    if get('site', n['code']): raise Refused('twin')
    DB.execute('delete from site where id=?', (n['code'],))
    unique('site', n, 'name', True)
    make('site', n['code'], n)
    return made(call, 'site', n, 'sites')
@route('GET', '/sites', 'list site', {'tagged': S, 'above': I, 'q': {'type': 'string', 'minLength': 1}, 'sort': {'enum': ['name', '-name', 'height', '-height']}})
def list_site(call):
    p = call.params
    if call.caller.user == 'courier' and ('tagged' in p or 'above' in p or 'height' in p.get('sort', '')) and not F('perm-filter-hidden'): raise Refused('odd_query')
    w, a = [], []
    if 'tagged' in p:
        w.append("exists(select 1 from json_each(site.j,'$.tags') t where t.value=?)")
        a.append(p['tagged'])
    if 'above' in p:
        w.append("json_extract(site.j,'$.surface_m')%s?" % ('>=' if F('above-inclusive') else '>'))
        a.append(p['above'])
    for word in p.get('q', '').split():
        w.append("instr(folded(json_extract(site.j,'$.name')),?)" if not F('q-case') else "instr(json_extract(site.j,'$.name'),?)")
        a.append(word.casefold() if not F('q-case') else word)
        if F('q-first-word'): break
    o = {'name': "json_extract(site.j,'$.name')", 'height': "json_extract(site.j,'$.surface_m')"}
    s = p.get('sort')
    order = 'site.seq' if F('sites-unordered') else 'site.id'
    if s: order = o[s.lstrip('-')] + (' desc' if s[0] == '-' and not F('sort-no-desc') else '') + ', site.seq'
    return page(call, 'site', w, a, order)
@route('GET', '/sites/{code}', 'read site')
def read_site(call): return read(call, 'site', 'code', 'private, max-age=30', True)
@route('PATCH', '/sites/{code}', 'update site', body='merge')
def update_site(call):
    row, fields = load('site', call, 'code')
    precondition(call, 'site', row, fields)
    n = take('site', call, row)
    if n != row:
        unique('site', n, 'name', True)
        put('site', n)
    return shown(call, 'site', n)
@route('DELETE', '/sites/{code}', 'delete site')
def delete_site(call):
    row, _ = load('site', call, 'code')
    if derived('site', row, 'cores') and not F('site-not-held'): raise Refused('held_fast')
    DB.execute('update site set gone=? where id=?', (now() + (3 if F('gone-three-days') else 30) * DAY, row['code']))
    return Answer(204)

# bays
@route('POST', '/bays', 'create bay', body='json')
def create_bay(call):
    n = take('bay', call, refuse_ro=True)
    n['id'], n['condition'] = count('bay'), 'warm' if F('bay-starts-warm') else 'cold'
    unique('bay', n, 'name')
    make('bay', n['id'], n)
    return made(call, 'bay', n, 'bays')
@route('GET', '/bays', 'list bay', {'condition': {'enum': ['cold', 'warm', 'shut'], 'split': True}}, since='winter-2')
def list_bay(call):
    w, a = [], []
    if 'condition' in call.params:
        v = call.params['condition']
        if F('bays-first-only'): v = v[:1]
        w.append("json_extract(bay.j,'$.condition') in (%s)" % ','.join('?' * len(v)))
        a += v
    return page(call, 'bay', w, a, 'bay.seq', True)
@route('GET', '/bays/{id}', 'read bay')
def read_bay(call): return read(call, 'bay')
@route('PATCH', '/bays/{id}', 'update bay', body='merge')
def update_bay(call):
    row, _ = load('bay', call)
    n = take('bay', call, row)
    old, new = row['condition'], n['condition']
    if old != new:
        if (old, new) == ('warm', 'cold'):
            if n['celsius'] > -20 and not F('chill-unguarded') or (F('chill-exclusive') and n['celsius'] == -20): raise Refused('not_cold')
            if F('chill-old-celsius') and row['celsius'] > -20: raise Refused('not_cold')
        elif (old, new) != ('cold', 'warm') and not F('bay-any-move'): raise Refused('wrong_state')
    if n != row:
        if n['name'] != row['name']: unique('bay', n, 'name')
        put('bay', n)
        if (old, new) == ('cold', 'warm'): emit('bay.warmed', 'bay', n)
        elif F('ev-warmed-always'): emit('bay.warmed', 'bay', n)
    return shown(call, 'bay', n)
def acting(call, res, name, request=None, rule=None):
    row, _ = load(res, call, op_rule=rule)
    body = take_request(call, request) if request else {}
    froms, to = TRANS[res][name]
    if row['condition' if res == 'bay' else 'state'] not in froms: raise Refused('too_late' if name == 'withdraw' else 'wrong_state')
    return transition(res, name, row, body)
def take_request(call, shape):
    b = call.json
    if not isinstance(b, dict): invalid([('', 'value')])
    bad = []
    for k, v in b.items():
        if k not in shape: bad.append((k, 'unknown'))
        else: bad += wrong(v, shape[k], k)
    bad += [(k, 'missing') for k in shape if k not in b]
    if bad: invalid(bad)
    if 'bay' in b:
        b['bay'] = int(b['bay'])
        if not get('bay', b['bay']): raise Refused('loose_end')
    return b
@route('POST', '/bays/{id}/shut', 'shut bay')
def shut_bay(call): return shown(call, 'bay', acting(call, 'bay', 'shut'))

# cores
@route('POST', '/cores', 'create core', body='json')
def create_core(call):
    n = take('core', call)
    s = get('site', n['site'])
    if not s and not F('core-any-site'): raise Refused('loose_end')
    n = {'id': 'core-' + secrets.token_hex(4), **n, 'state': 'logged', 'logged_by': 'store' if F('logged-by') else call.caller.id, 'changed_at': iso(now())}
    n['number'] = count('core') if F('number-global') else count('core of ' + n['site'])
    make('core', n['id'], n)
    arm('core', n['id'], 'spoil', now() + (48 if F('spoil-48') else 36) * H)
    if F('spoil-never'): disarm('core', n['id'], 'spoil')
    emit('core.logged', 'core', n)
    return made(call, 'core', n, 'cores')
@route('GET', '/cores', 'list core', {'site': S, 'state': {'enum': CORESTATES}, 'min_left': I, 'drilled_before': {'type': 'string', 'format': 'date'}, 'sort': {'enum': ['length_mm', '-length_mm', 'number', '-number']}})
def list_core(call):
    p, w, a = call.params, [], []
    for k in ('site', 'state'):
        if k in p and not (F('core-state-filter') and k == 'state'):
            w.append(f"json_extract(core.j,'$.{k}')=?")
            a.append(p[k])
    if 'min_left' in p:
        w.append((sql_derived('core', 'left_mm') if not F('min-left-length') else "json_extract(core.j,'$.length_mm')") + '>=?')
        a.append(p['min_left'])
    if 'drilled_before' in p:
        w.append("json_extract(core.j,'$.drilled_on')%s?" % ('<=' if F('before-inclusive') else '<'))
        a.append(p['drilled_before'])
    s = p.get('sort')
    ties = 'core.seq' if F('ties-oldest') else 'core.seq desc'
    return page(call, 'core', w, a, (f"json_extract(core.j,'$.{s.lstrip('-')}')" + (' desc' if s[0] == '-' else '') + ', ' if s else '') + ties)
@route('GET', '/cores/{id}', 'read core')
def read_core(call): return read(call, 'core', etag=True)
@route('PATCH', '/cores/{id}', 'update core', body='merge')
def update_core(call):
    row, fields = load('core', call)
    precondition(call, 'core', row, fields, True)
    n = take('core', call, row)
    if row['state'] not in ['logged', 'stowed'] and not (F('update-sealed') and row['state'] == 'sealed'): raise Refused('wrong_state')
    if n != row or F('changed-at-noop'):
        n['changed_at'] = iso(now())
        put('core', n)
        if derived('core', n, 'left_mm') < 0 and not F('overcut-passes'): raise Refused('overcut')
        if n['length_mm'] != row['length_mm'] or F('ev-remeasured-always'):
            p = {'core': n['id'], 'from_mm': row['length_mm'], 'to_mm': n['length_mm']}
            if F('ev-remeasured-swapped'): p['from_mm'], p['to_mm'] = p['to_mm'], p['from_mm']
            emit('core.remeasured', 'core', n, p)
    return shown(call, 'core', n)
@route('POST', '/cores/{id}/stow', 'stow core', body='json')
def stow(call): return shown(call, 'core', acting(call, 'core', 'stow', {'bay': I}))
@route('POST', '/cores/{id}/seal', 'seal core')
def seal(call): return shown(call, 'core', acting(call, 'core', 'seal'))
@route('POST', '/cores/{id}/unseal', 'unseal core')
def unseal(call): return shown(call, 'core', acting(call, 'core', 'unseal'))
@route('POST', '/cores/{id}/melt', 'melt core')
def melt(call): return shown(call, 'core', acting(call, 'core', 'melt'))

# cuts
def own_cut_errors(n, update=False):
    core = get('core', n['core'])
    if not update and core['state'] != 'stowed' and not (F('cut-sealed') and core['state'] == 'sealed'): raise Refused('core_shut')
    left = derived('core', core, 'left_mm')
    if left < 0 and not (F('spent-on-update') and update) and not F('cut-spent') or (F('cut-spent-off') and left == 0): raise Refused('core_spent')
    if 'needed_by' in n and ms_of(n['needed_by']) < now() + (24 if F('soon-24') else 48) * H: raise Refused('too_soon')
@route('POST', '/cores/{core}/cuts', 'create cut', body='json')
def create_cut(call):
    core = get('core', call.path_args['core'])
    if not core or may_read(call.caller, 'core', core) is None: raise Refused('no_such_ice')
    n = take('cut', call, bound={'core': core['id']})
    c = call.caller
    n = {'asker': c.id, **n} if F('asker-writable') else {**n, 'asker': c.id}
    n = {'id': 'cut-' + rnd(12, string.ascii_lowercase + '234567' + '89'), 'core': core['id'], **n, 'lab': c.user if F('cut-lab') else c.lab, 'state': 'asked', 'door_code': rnd(4 if F('door-code-short') else 6, string.digits), 'asked_at': iso(now())}
    make('cut', n['id'], n)
    own_cut_errors(n)
    if not F('rows-cuts') and one("select count(*) from cut where json_extract(j,'$.asker')=? and json_extract(j,'$.state')" + ("!='x'" if F('rows-cuts-all') else "='asked'"), c.id)[0] > (7 if F('rows-cuts-seven') else 6): raise Refused('used_up')
    day = now() // DAY if not F('quota-hour') else now() // H
    k = c.id if F('quota-per-caller') else c.lab
    used = one('select n from quota where who=? and win=?', k, day)
    if used and used[0] >= (21 if F('quota-21') else 20): raise Refused('used_up', headers={'Retry-After': str(-(-((day + 1) * DAY - now()) // 1000))})
    DB.execute('insert into quota values(?,?,1) on conflict(who,win) do update set n=n+1', (k, day))
    arm_needed(n)
    emit('cut.asked', 'cut', n)
    return made(call, 'cut', n, 'cuts')
@route('GET', '/cuts', 'list cut', {'core': S, 'state': {'enum': CUTSTATES, 'split': True}, 'method': {'enum': FIELDS['cut']['method']['schema'].get('enum')}, 'site': S, 'asked_since': T})
def list_cut(call):
    p, w, a = call.params, [], []
    for k in ('core', 'method'):
        if k in p:
            w.append(f"json_extract(cut.j,'$.{k}')=?")
            a.append(p[k])
    if 'state' in p:
        w.append("json_extract(cut.j,'$.state') in (%s)" % ','.join('?' * len(p['state'])))
        a += p['state']
    if 'site' in p and not F('cuts-site-filter'):
        w.append("exists(select 1 from core o where o.id=json_extract(cut.j,'$.core') and json_extract(o.j,'$.site')=?)")
        a.append(p['site'])
        if call.caller.user == 'courier': w.append('0')
        if call.caller.user == 'lab': w.append("exists(select 1 from core o where o.id=json_extract(cut.j,'$.core') and json_extract(o.j,'$.state')!='melted')")
    if 'asked_since' in p:
        w.append("instant(json_extract(cut.j,'$.asked_at'))%sinstant(?)" % ('>' if F('since-exclusive') else '>='))
        a.append(p['asked_since'])
    d = '' if F('cuts-oldest-first') else ' desc'
    return page(call, 'cut', w, a, f"instant(json_extract(cut.j,'$.asked_at')){d}, cut.seq{d}")
@route('GET', '/cuts/{id}', 'read cut')
def read_cut(call): return read(call, 'cut')
def mine(call): return lambda row: row['asker'] == call.caller.id or F('perm-colleague-acts') or call.caller.user == 'curator'
@route('PATCH', '/cuts/{id}', 'update cut', body='merge')
def update_cut(call):
    row, _ = load('cut', call, op_rule=mine(call))
    n = take('cut', call, row)
    if row['state'] not in ['asked'] + (['referred'] if F('update-referred') else []): raise Refused('wrong_state')
    put('cut', n)
    own_cut_errors(n, True)
    if n != row: arm_needed(n, row)
    return shown(call, 'cut', n)
def cut_action(name, request=None, rule=None):
    @route('POST', '/cuts/{id}/' + name, name + ' cut', body='json' if request else None)
    def act(call): return shown(call, 'cut', acting(call, 'cut', name, request, rule(call) if rule else None))
for _n in ('grant', 'refuse', 'saw', 'deliver'): cut_action(_n)
cut_action('withdraw', rule=mine)
cut_action('ship', {'parcel': {'type': 'string', 'minLength': 4, 'maxLength': 25 if F('parcel-25') else 24}})

# listeners
@route('POST', '/listeners', 'create listener', body='json')
def create_listener(call):
    n = take('listener', call)
    c = call.caller
    n = {'id': 'lis-' + rnd(10), 'owner': c.id, **n, 'secret': 'sh_' + rnd(32)}
    make('listener', n['id'], n, 'maker version', (json.dumps({'user': c.user, 'id': c.id, 'scopes': c.scopes, 'lab': c.lab}), call.version))
    if one("select count(*) from listener where json_extract(j,'$.owner')=?", c.id)[0] > (4 if F('rows-listeners') else 3): raise Refused('used_up')
    return made(call, 'listener', n, 'listeners')
@route('GET', '/listeners', 'list listener')
def list_listener(call): return page(call, 'listener', [], [], 'listener.seq')
@route('GET', '/listeners/{id}', 'read listener')
def read_listener(call): return read(call, 'listener')
@route('PATCH', '/listeners/{id}', 'update listener', body='merge')
def update_listener(call):
    row, _ = load('listener', call)
    n = take('listener', call, row)
    if n != row:
        put('listener', n)
        if n['active'] and not row['active']: DB.execute('update listener set failing=null, hush=0 where id=?', (n['id'],))
    return shown(call, 'listener', n)
@route('DELETE', '/listeners/{id}', 'delete listener')
def delete_listener(call):
    row, _ = load('listener', call)
    DB.execute('delete from listener where id=?', (row['id'],))
    DB.execute('delete from delivery where listener=?', (row['id'],))
    return Answer(204)

# diary
@route('GET', '/diary', 'list entry', {'kind': S})
def diary(call):
    w, a = [], []
    if 'kind' in call.params:
        k = call.params['kind']
        w.append("json_extract(entry.j,'$.kind')=?" if F('diary-kind-exact') else "substr(json_extract(entry.j,'$.kind'),1,?)=?")
        a += [k] if F('diary-kind-exact') else [len(k), k]
    return page(call, 'entry', w, a, 'entry.seq' if F('diary-oldest') else "instant(json_extract(entry.j,'$.at')) desc, entry.seq desc")
@route('GET', '/diary/{id}', 'read entry')
def diary_one(call): return read(call, 'entry')

# ------------------------------------------------------------------ rates
HITS = {}
def rates(call):
    """counted in all, or refused by one and counted in none"""
    t = now()
    key = call.caller and (call.caller.user, call.caller.id) or call.address
    told, waits = [], []
    w = HITS.get(('min', 'all' if F('rate-shared') else key))
    limit = 1000 if F('rate-main') else 240
    if not w or t >= w[0] + 60_000: w = [t, 0]
    after = []
    if w[1] + 1 > limit: waits.append(w[0] + 60_000 - t)
    told.append((limit, limit - w[1] - 1, w[0] + 60_000 - t))
    after.append((('min', 'all' if F('rate-shared') else key), [w[0], w[1] + 1]))
    if call.route.does == 'create cut':
        win = 60_000 if F('rate-cut-minute') else 600_000
        hits = [x for x in HITS.get(('cut', key), []) if x > t - win]
        lim = 13 if F('rate-cut-13') else 12
        if len(hits) + 1 > lim: waits.append(hits[len(hits) - lim] + win - t)
        told.append((lim, lim - len(hits) - 1, (hits[0] if hits else t) + win - t))
        after.append((('cut', key), hits + [t]))
    if not call.caller:
        had, at = HITS.get(('anyone', call.address), (80, t))
        had = min(80, had + (t - at) * 60 / 60_000)
        if had < 1 and not F('rate-anyone'): waits.append((1 - had) * 1000)
        told.append((60, int(had - 1), 1000))
        after.append((('anyone', call.address), (had - 1, t)))
    if waits:
        s = str(max(1, -(-int(max(waits)) // 1000)))
        worst = min(told, key=lambda x: x[1])
        if F('rate-refused-counts'):
            for k, v in after: HITS[k] = v
        raise Refused('slow_down', headers={**({} if F('no-retry-after') else {'Retry-After': s}), 'Firn-Allowed': str(worst[0]), 'Firn-Left': '0', 'Firn-Again': s})
    for k, v in after: HITS[k] = v
    s = min(told, key=lambda x: x[1])
    if not F('no-rate-headers'): call.out.update({'Firn-Allowed': str(s[0]), 'Firn-Left': str(s[1] + (1 if F('rate-left-off') else 0)), 'Firn-Again': str(-(-int(s[2]) // 1000))})

# ------------------------------------------------------------------ a request
DEPRECATED = calendar.timegm((2026, 3, 1, 0, 0, 0))
SUNSET = calendar.timegm((2029, 3, 1, 0, 0, 0))
PAGED = {'list site', 'list core', 'list cut', 'list listener', 'list entry'}
def parameters(call, query):
    r = call.route
    seen = {}
    for k, v in query:
        known = k in r.params or (r.does in PAGED and k in ('sheet', 'per'))
        if not known:
            if F('param-unknown-passes'): continue
            raise Refused('odd_query')
        if k in seen and not F('param-twice'): raise Refused('odd_query')
        seen[k] = v
    out = {}
    for k, v in seen.items():
        if k in ('sheet', 'per'): continue
        s = r.params[k]
        if s.get('split'):
            out[k] = v.split(',')
            if len(out[k]) > 100: raise Refused('odd_query')
            if any(x not in s['enum'] for x in out[k]) and not F('param-state-any'): raise Refused('odd_query')
            continue
        if r.does == 'list cut' and k == 'method' and call.version == 'winter-1': v = {'ions': 'chemistry', 'chemistry': '\0'}.get(v, v) if not F('v1-filter') else v
        if s.get('type') == 'integer':
            if not re.match(r'^-?\d+\Z', v): raise Refused('odd_query')
            v = int(v)
        if wrong(v, s, k): raise Refused('odd_query')
        out[k] = v
    call.params = out
    if r.does in PAGED:
        try:
            for k, d, top in (('sheet', '1', 10**9), ('per', '9' if F('page-default') else '10', 10**9 if F('page-max') or F('page-clamp') else 40)):
                v = seen.get(k, d)
                if not re.match(r'^\d+\Z', v) or not (0 if F('page-zero') and k == 'sheet' else 1) <= int(v) <= top: raise Refused('bad_page')
                setattr(call, k, int(v) if not F('page-clamp') or k != 'per' else min(int(v), 40))
            if F('page-zero') and call.sheet == 0: call.sheet = 1
        except Refused: raise
def body_of(call, raw):
    r = call.route
    call.json = None
    if not r.body: return
    if not raw: raise Refused('unreadable')
    ct = (call.h.get('content-type') or [''])[0].split(';')[0].strip().lower()
    if ct != 'application/json' and not (r.body == 'merge' and ct == 'application/merge-patch+json' and not F('no-merge-patch')) and not F('media-any'): raise Refused('wrong_media')
    try:
        def pairs(p):
            return dict(p)
        call.json = json.loads(raw.decode(), object_pairs_hook=pairs, parse_constant=lambda c: 1 / 0)
    except Exception: raise Refused('unreadable')
async def serve_request(call, read_body):
    """the order of refusals: sizes, route, caller, rates, user, parameters, body, key, row, ..."""
    if len(call.target) > (2048 if F('size-url') else 1024): raise Refused('too_big')
    if call.head_size > (16384 if F('size-headers') else 8192): raise Refused('too_big')
    path, _, qs = call.target.partition('?')
    hits = [(r, m) for r in ROUTES if (m := r.rx.match(path))]
    season = call.h.get('firn-season')
    call.version = season[0] if season else ('winter-1' if F('v-default-oldest') else 'winter-2')
    v = call.version
    if not hits:
        call.version = 'winter-2'
        raise Refused('nowhere')
    method = 'GET' if call.method == 'HEAD' else call.method
    here = [(r, m) for r, m in hits if not (v == 'winter-1' and r.since == 'winter-2' and not F('v1-bays-there'))]
    allow = []
    for r, _m in here: allow += ['GET', 'HEAD'] if r.method == 'GET' else [r.method]
    allow = ', '.join(allow + ['OPTIONS'])
    if v == 'winter-1': call.old = True
    if method == 'OPTIONS': return Answer(204, None, {'Allow': allow})
    found = [(r, m) for r, m in here if r.method == method]
    if not found: raise Refused('wrong_tool', headers={} if F('no-allow') else {'Allow': allow})
    call.route, m = found[0]
    if v not in ('winter-1', 'winter-2'):
        call.version = 'winter-2'
        if not F('v-unknown-current'): raise Refused('unknown_season')
    if v == 'winter-1' and now() >= SUNSET * 1000 and not F('v-never-sunset'): raise Refused('past_season')
    call.path_args = {k: unquote(x) for k, x in m.groupdict().items()}
    call.caller = None if call.route.does == 'about' and not F('about-private') else who(call.h)
    rates(call)
    if call.caller:
        need = RULES[call.caller.user].get(call.route.does, False)
        if need is False: raise Refused('off_limits')
        if need and need not in call.caller.scopes: raise Refused('short_scope')
    if not F('order-body-first'): parameters(call, parse_qsl(qs, keep_blank_values=True))
    raw = await read_body(7168 if F('size-body') else 6144)
    body_of(call, raw)
    if F('order-body-first'): parameters(call, parse_qsl(qs, keep_blank_values=True))
    key = call.h.get('firn-once', [None])[0] if call.route.method == 'POST' else None
    me = call.caller and f'{call.caller.user} {call.caller.id} {call.route.does}'
    if F('once-shared') and call.caller: me = call.route.does
    fp = hashlib.sha256(json.dumps([path, qs, call.version, None if F('once-body-ignored') else call.json]).encode()).hexdigest()
    CLOCK_NOW = now()
    if key and not F('once-ignored'):
        old = one('select * from onceonly where who=? and key=? and ends>?', me, key, CLOCK_NOW)
        if old:
            if old['print'] != fp: raise Refused('key_reused')
            return Answer(old['status'], json.loads(old['body']), json.loads(old['headers']))
    DB.execute('begin')
    try:
        a = call.route.fn(call)
        if inspect_keep(key):
            keep_once(call, me, key, fp, a)
        DB.execute('commit')
        return a
    except Refused as e:
        DB.execute('rollback')
        a = e.answer()
        if key and e.code in OWN and not F('once-not-errors'): keep_once(call, me, key, fp, a)
        raise
    except Exception:
        DB.execute('rollback')
        raise
def inspect_keep(key): return bool(key)
def keep_once(call, me, key, fp, a):
    res = call.route.does.split()[-1]
    body = a.body
    if isinstance(body, dict) and res in FIELDS and not F('once-secret'): body = {k: v for k, v in body.items() if not FIELDS[res].get(k, {}).get('once')}
    DB.execute('insert or replace into onceonly values(?,?,?,?,?,?,?)', (me, key, fp, a.status, json.dumps(a.headers), json.dumps(body), now() + (1 if F('once-one-hour') else 12) * H))

REASONS = {200: 'OK', 201: 'Created', 204: 'No Content', 304: 'Not Modified', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 409: 'Conflict', 410: 'Gone', 412: 'Precondition Failed', 413: 'Content Too Large', 415: 'Unsupported Media Type', 422: 'Unprocessable Content', 428: 'Precondition Required', 429: 'Too Many Requests', 500: 'Internal Server Error', 503: 'Service Unavailable'}
async def client(reader, writer):
    try:
        while True:
            try: first = await asyncio.wait_for(reader.readline(), 40)
            except asyncio.TimeoutError: return
            if not first.strip(): return
            call = Call()
            call.address, call.out, call.old, call.version, call.route, call.caller = writer.get_extra_info('peername')[0], {}, False, 'winter-2', None, None
            close = False
            state = {'left': 0}
            try:
                call.method, call.target, proto = first.decode('latin1').split()
                call.h, call.head_size = {}, 0
                ends = time.monotonic() + 10
                while True:
                    line = await asyncio.wait_for(reader.readline(), max(0.01, ends - time.monotonic()))
                    if line in (b'\r\n', b'\n', b''): break
                    call.head_size += len(line)
                    k, _, v = line.decode('latin1').partition(':')
                    call.h.setdefault(k.strip().lower(), []).append(v.strip())
                close = 'close' in ','.join(call.h.get('connection', [])).lower()
                chunked = 'chunked' in ','.join(call.h.get('transfer-encoding', [])).lower()
                length = int(call.h.get('content-length', ['0'])[0])
                if 'expect' in call.h: writer.write(b'HTTP/1.1 100 Continue\r\n\r\n')
                got = []
                async def all_body():
                    if chunked:
                        n = 0
                        while True:
                            size = int((await reader.readline()).split(b';')[0], 16)
                            part = await reader.readexactly(size) if size else b''
                            await reader.readline()
                            if not size: break
                            n += size
                            if n <= 1 << 20: got.append(part)
                    elif length: got.append(await reader.readexactly(length))
                async def fetch():
                    if not state.get('done'):
                        state['done'] = True
                        await asyncio.wait_for(all_body(), max(0.01, ends - time.monotonic()))
                    return b''.join(got)
                async def read_body(limit):
                    raw = await fetch()
                    if len(raw) > limit: raise Refused('too_big')
                    return raw
                try:
                    a = await serve_request(call, read_body)
                finally:
                    if not state.get('done') and length <= 1 << 24:
                        await fetch()
            except Refused as e: a = e.answer()
            except asyncio.TimeoutError: a, close = Refused('busy').answer(), True
            except (asyncio.IncompleteReadError, ConnectionError): return
            except Exception:
                import traceback
                traceback.print_exc()
                a = Refused('broken').answer()
            h = {**call.out, **a.headers, 'Vary': 'Firn-Season, Firn-Key, Authorization', 'Date': formatdate(now() / 1000, usegmt=True)}
            if not F('v-not-named'): h['Firn-Season'] = call.version
            if call.old and call.version == 'winter-1':
                if not F('v-no-deprecation'): h['Deprecation'] = f'@{DEPRECATED}'
                if not F('v-no-sunset-header'): h['Sunset'] = formatdate(SUNSET, usegmt=True)
                if not F('v-no-link'): h['Link'] = f'<https://firn.example/thaw>; rel="deprecation", <{call.target}>; rel="successor-version"'
            body = b'' if a.body is None else json.dumps(a.body, ensure_ascii=False).encode()
            if a.status not in (204, 304): h['Content-Length'] = str(len(body))
            if body: h['Content-Type'] = 'application/json'
            if close: h['Connection'] = 'close'
            if call.method == 'HEAD' if hasattr(call, 'method') else False: body = b''
            if a.status in (204, 304): body = b''
            writer.write((f'HTTP/1.1 {a.status} {REASONS.get(a.status, "Unknown")}\r\n' + ''.join(f'{k}: {v}\r\n' for k, v in h.items()) + '\r\n').encode('latin1') + body)
            await writer.drain()
            WAKE.set()
            if close: return
    except (ConnectionError, asyncio.LimitOverrunError, ValueError): pass
    finally: writer.close()

DUR = re.compile(r'^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?\Z')
def later(t, text):
    m = DUR.match(text)
    if not m or not any(m.groups()): raise ValueError
    y, mo, w, d, h, mi, s = (float(x) if x else 0 for x in m.groups())
    x = datetime.fromtimestamp(t / 1000, timezone.utc)
    months = x.year * 12 + x.month - 1 + int(y * 12 + mo)
    yy, mm = divmod(months, 12)
    x = x.replace(year=yy, month=mm + 1, day=min(x.day, calendar.monthrange(yy, mm + 1)[1]))
    x += timedelta(days=w * 7 + d, hours=h, minutes=mi, seconds=s)
    return round(x.timestamp() * 1000)
async def door(reader, writer):
    try:
        line = (await reader.readline()).decode('latin1').split()
        n = 0
        while (h := (await reader.readline()).strip()):
            k, _, v = h.decode('latin1').partition(':')
            if k.lower() == 'content-length': n = int(v)
        raw = await reader.readexactly(n) if n else b''
        status, out = 400, {'error': 'GET, or POST of advance or now'}
        try:
            if line[0] == 'GET': status, out = 200, {'now': iso(now())}
            elif line[0] == 'POST':
                b = json.loads(raw)
                if set(b) == {'advance'}: target = later(now(), b['advance'])
                elif set(b) == {'now'}: target = ms_of(b['now'])
                else: raise ValueError
                if target < now() - 0: status, out = 422, {'error': 'that time has passed'}
                else: status, out = 200, {'now': iso(await move_clock(target))}
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError): pass
        body = json.dumps(out).encode()
        writer.write(f'HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n'.encode() + body)
        await writer.drain()
    except Exception: pass
    finally: writer.close()
async def main():
    if not F('no-first-row'): make('site', 'VOS', {'code': 'VOS', 'name': 'Vostok', 'at': {'lat': -78.46, 'lon': 106.83}, 'surface_m': 3488, 'entered_at': iso(now())})
    a = await asyncio.start_server(client, '127.0.0.1', ARGS.port, limit=1 << 17)
    b = await asyncio.start_server(door, '127.0.0.1', ARGS.clock_port)
    print('listening', flush=True)
    await asyncio.gather(ticker(), a.serve_forever(), b.serve_forever())
try: asyncio.run(main())
except KeyboardInterrupt: pass
