#!/usr/bin/env python3
"""The Cupping Room: rows that are never changed but put anew, a journal that takes a refused request back, rules as a table."""
import argparse, base64, collections, hashlib, hmac, json, os, random, re, string, threading, time, urllib.error, urllib.parse, urllib.request
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ARGS = argparse.ArgumentParser()
ARGS.add_argument('--port', type=int, default=0)
ARGS.add_argument('--clock-port', type=int)
ARGS.add_argument('--fault', default=os.environ.get('CUPPING_FAULT', ''))
ARGS = ARGS.parse_args()
PREFIX = '/room'
LOCK = threading.RLock()


def bug(*names):
    return ARGS.fault in names


# ------------------------------------------------------------ time

SKEW = 0.0


def now():
    return time.time() + SKEW


def iso(t):
    return datetime.fromtimestamp(t, timezone.utc).isoformat(timespec='milliseconds').replace('+00:00', 'Z')


DAY, HOUR = 86400, 3600


# ------------------------------------------------------------ refusals

class Refusal(Exception):
    def __init__(self, code, violations=None, headers=None):
        self.code, self.violations, self.headers = code, violations, headers or {}


CODES = {
    'unreadable': (400, 'The body cannot be read.'), 'no_body': (400, 'Send a body.'), 'not_json': (415, 'Send application/json.'),
    'only_json': (406, 'Only application/json is given.'), 'bad_parameter': (400, 'A parameter of the query is wrong.'),
    'bad_page': (400, 'There is no such page.'), 'missing_field': (422, '{} is missing.'), 'unknown_field': (422, '{} is not known.'),
    'wrong_type': (422, '{} has the wrong type.'), 'wrong_value': (422, '{} has a value that does not go.'),
    'no_path': (404, 'There is nothing at this path.'), 'no_method': (405, 'This path does not take this method.'),
    'no_spoon': (401, 'Show a spoon.'), 'bad_spoon': (401, 'This spoon is not known.'), 'not_your_table': (403, 'This is not for you to do.'),
    'no_wax': (403, 'Your spoon lacks the scope.'), 'not_there': (404, 'There is no such thing.'), 'thrown_out': (410, 'It was thrown out.'),
    'there_already': (409, 'There is one already.'), 'no_such_ref': (422, 'What is referred to is not there.'),
    'still_needed': (409, 'Something still refers to it.'), 'wrong_stage': (409, 'Not at this stage.'), 'stale': (412, 'It has changed since.'),
    'once_reused': (422, 'This Once-Key was for something else.'), 'too_fast': (429, 'Sip slower.'), 'full': (409, 'There is no room for more.'),
    'too_big': (413, 'Too big.'), 'spilt': (500, 'Something was spilt.'), 'too_late': (409, 'It was decided already.'),
    'not_accepted': (409, 'Only accepted lots are sealed.'), 'nothing_poured': (422, 'Nothing is poured.'),
    'not_running': (409, 'Scores are given while a flight runs.'), 'scored_already': (409, 'What is tasted stays scored.'),
    'table_full': (409, 'All seats are taken.'),
}
OWN = {'too_late', 'not_accepted', 'nothing_poured', 'not_running', 'scored_already', 'table_full'}
if bug('er-declined-422'):
    CODES['too_late'] = (422, CODES['too_late'][1])
if bug('er-gone-404'):
    CODES['thrown_out'] = (404, CODES['thrown_out'][1])
if bug('er-message-held'):
    CODES['still_needed'] = (409, 'Not at this stage.')
if bug('er-unknown-400'):
    CODES['unknown_field'] = (400, CODES['unknown_field'][1])
if bug('er-full-429'):
    CODES['full'] = (429, CODES['full'][1])


# ------------------------------------------------------------ shapes

TEXT = dict(type='string')
LOT = {
    'id': None, 'docket': None, 'owner': None,
    'name': dict(type='string', least=1, most=40),
    'reference': dict(type='string', pattern=r'[a-z0-9-]{3,16}'),
    'process': dict(enum=['washed', 'natural', 'honey'], default='washed'),
    'bags': dict(type='integer', least=1, most=319 if bug('re-bags-edge') else 320),
    'dry_from': dict(type='number', least=5, most=20), 'dry_to': dict(type='number', least=5, most=20),
    'note': dict(type='string', most=200),
    'tags': dict(type='array', items=dict(type='string', least=1, most=16), most=4, distinct=True, default=[]),
    'lab_note': dict(type='string', most=80, writable=['clerk']),
    'stage': None, 'seal': None, 'reason': None, 'samples': None, 'cups': None, 'best': None, 'created_at': None, 'touched_at': None,
}
PANEL = {'slug': dict(type='string', pattern=r'[a-z]{3,12}'), 'title': dict(type='string', least=1, most=60),
         'seats': dict(type='integer', least=1, most=9 if bug('re-seats-nine') else 8, default=6 if bug('re-seats-default') else 4), 'members': None}
MEMBER = {'id': None, 'panel': TEXT, 'person': dict(type='string', least=1, most=30), 'role': dict(enum=['taster', 'lead'], default='taster')}
FLIGHT = {'id': None, 'panel': TEXT, 'number': None, 'title': dict(type='string', least=1, most=60), 'pours': None, 'poured': None, 'scored': None,
          'state': dict(enum=['planned', 'running', 'closed', 'abandoned']), 'closed_at': None}
SAMPLE = {'id': None, 'flight': TEXT, 'lot': TEXT, 'position': None, 'cups': dict(type='integer', least=1, most=10, default=5), 'stage': None,
          'scores': None, 'top': None}
SCORE = {'id': None, 'sample': dict(type='integer'), 'taster': None, 'points': dict(type='integer', least=0, most=100)}
HOOK = {'id': None, 'owner': None, 'url': dict(type='string', pattern=r'http://[^\s]+', most=200, uri=True),
        'kinds': dict(type='array', items=dict(type='string'), most=6), 'secret': None}
if bug('re-process-any'):
    LOT['process'] = dict(type='string', default='washed')
if bug('re-tags-twice'):
    LOT['tags'].pop('distinct')
if bug('re-note-long'):
    LOT['note'].pop('most')
if bug('re-cups-eleven'):
    SAMPLE['cups']['most'] = 11
if bug('re-points-negative'):
    SCORE['points'].pop('least')
if bug('re-role-default'):
    MEMBER['role']['default'] = 'lead'
KINDS = ['lot.offered', 'lot.changed', 'lot.declined', 'lot.sealed', 'sample.tasted', 'score.given']


def of_type(v, t):
    if t == 'string':
        return isinstance(v, str)
    if t == 'array':
        return isinstance(v, list)
    if isinstance(v, bool) or not isinstance(v, (int, float)):
        return False
    return t == 'number' or isinstance(v, int) or v.is_integer()


def look(v, s, path, bad):
    """Puts what is wrong with a value into `bad`, as (kind, path)."""
    t = s.get('type', 'string')
    if not of_type(v, t):
        return bad.append(('wrong_type', path))
    if t == 'integer' and isinstance(v, float):
        v = int(v)
    size = len(v.encode() if bug('re-name-bytes') and t == 'string' else v) if t in ('string', 'array') else v
    wrong = 'enum' in s and v not in s['enum'] or size < s.get('least', size) or size > s.get('most', size)
    if 'pattern' in s:
        wrong = wrong or not (re.match if bug('re-reference-open') else re.fullmatch)(s['pattern'], v)
    if s.get('uri'):
        try:
            wrong = wrong or not urllib.parse.urlsplit(v).hostname or bool(re.search(r'[<>"{}|\\^`\s]|[^\x00-\x7f]', v))
        except ValueError:
            wrong = True
    if t == 'array':
        wrong = wrong or s.get('distinct') and any(one in v[:at] for at, one in enumerate(v))
    if wrong:
        bad.append(('wrong_value', path))
    if t == 'array':
        for at, one in enumerate(v):
            look(one, s['items'], f'{path}/{at}', bad)
    return None


def take(shape, body, required, user, prefix='', bound=(), patch=False, extra=()):
    """What a caller sent of a shape, and what is wrong with it, in the order in which it was sent; what is missing comes last."""
    got, bad = {}, []
    if not isinstance(body, dict):
        return got, [('wrong_type', prefix)]
    for name, value in body.items():
        path = prefix + '/' + name.replace('~', '~0').replace('/', '~1')
        if name in extra:
            got[name] = value
            continue
        if name not in shape:
            if not bug('re-unknown-dropped') or prefix:
                bad.append(('unknown_field', path))
            continue
        s = shape[name]
        if s is None or (user not in s.get('writable', [user]) and not bug('re-lab-written')):
            if bug('re-docket-written') and name == 'docket':
                got[name] = value
            continue
        if value is None:
            if patch and name not in required:
                got[name] = None
            else:
                bad.append(('wrong_type', path))
            continue
        before = len(bad)
        look(value, s, path, bad)
        if len(bad) == before:
            got[name] = int(value) if s.get('type') == 'integer' else value
    if not patch:
        for name in required:
            if name not in body and name not in bound:
                bad.append(('missing_field', prefix + '/' + name))
    return got, bad


def held(bad):
    if bad:
        kind, path = bad[-1] if bug('er-last-named') else bad[0]
        if bug('er-missing-invalid') and kind == 'missing_field':
            kind = 'wrong_value'
        if bug('er-type-value') and kind == 'wrong_type':
            kind = 'wrong_value'
        raise Refusal(kind, [p for _, p in (bad[:1] if bug('er-one-spot') else bad)], {'named': path.strip('/').replace('/', '.')})


def defaults(shape, row):
    for name, s in shape.items():
        if s and 'default' in s and name not in row:
            if bug('re-tags-absent') and name == 'tags':
                continue
            row[name] = s['default']
    return row


# ------------------------------------------------------------ tables and the journal

DB = {name: {} for name in ('lot', 'panel', 'member', 'flight', 'sample', 'score', 'hook')}
COUNTS = collections.Counter()
JOURNAL = []
EVENTS = []
SEQ = [0]


def put(table, row, key):
    JOURNAL.append((DB[table], key, DB[table].get(key)))
    DB[table][key] = row
    return row


def drop(table, key):
    JOURNAL.append((DB[table], key, DB[table].get(key)))
    DB[table].pop(key, None)


def count(name):
    JOURNAL.append((COUNTS, name, COUNTS.get(name, 0)))
    COUNTS[name] += 1
    return COUNTS[name]


def take_back():
    if not bug('st-start-half'):
        for where, key, old in reversed(JOURNAL):
            if old is None:
                where.pop(key, None)
            else:
                where[key] = old
    JOURNAL.clear()
    EVENTS.clear()


def some(n):
    return ''.join(random.choices(string.ascii_letters + string.digits, k=n))


def born(row):
    SEQ[0] += 1
    row['_seq'] = SEQ[0]
    return row


def rows(table, **have):
    return sorted((r for r in DB[table].values() if '_gone' not in r and all(r.get(k) == v for k, v in have.items())), key=lambda r: r['_seq'])


def lot_at(key):
    r = DB['lot'].get(key)
    return r if r and '_gone' not in r else None


# ------------------------------------------------------------ derived

def sample_scores(r):
    return len(rows('score', sample=r['id']))


def sample_top(r):
    points = [s['points'] for s in rows('score', sample=r['id'])]
    return (min(points) if bug('de-top-least') else max(points)) if points else None


def derived(table, r):
    """A row with all that is reckoned of others."""
    r = dict(r)
    if table == 'lot':
        mine = rows('sample', lot=r['id'])
        r['samples'] = len([s for s in mine if s['stage'] == 'tasted'] if bug('de-samples-tasted') else mine)
        r['cups'] = sum(s['cups'] for s in mine if s['stage'] == 'tasted' or bug('de-cups-poured'))
        if bug('de-cups-count'):
            r['cups'] = len([s for s in mine if s['stage'] == 'tasted'])
        tops = [t for t in map(sample_top, mine) if t is not None]
        if tops:
            r['best'] = tops[0] if bug('de-best-first') else max(tops)
        elif bug('de-best-zero'):
            r['best'] = 0
    if table == 'panel':
        r['members'] = len(DB['member'] if bug('de-members-all') else rows('member', panel=r['slug']))
    if table == 'flight':
        mine = rows('sample', flight=r['id'])
        r['poured'] = len(mine)
        r['scored'] = len([s for s in mine if sample_scores(s)]) if bug('de-scored-samples') else sum(map(sample_scores, mine))
    if table == 'sample':
        r['scores'] = sample_scores(r)
        top = sample_top(r)
        if top is not None:
            r['top'] = top
    return r


# ------------------------------------------------------------ callers and rules

CALLERS = {
    'sp_ro51eBe4nsGreen000001': ('roaster', 'rosie', []), 'sp_rem0Be4nsGreen0000002': ('roaster', 'remo', []),
    'sp_t4mar4Slurps000000011': ('taster', 'tamara', []), 'sp_te0S1urps00000000012': ('taster', 'teo', []),
    'sp_t1l1yS1urps0000000013': ('taster', 'tilly', []),
    'sp_c0r4Wax00000000000021': ('clerk', 'cora', ['wax']), 'sp_c1em0Wax0000000000022': ('clerk', 'clem', []),
}
if bug('pu-taster-unknown'):
    CALLERS = {k: v for k, v in CALLERS.items() if v[0] != 'taster'}


class Caller:
    def __init__(self, user, id, scopes):
        self.user, self.id, self.scopes = user, id, scopes


def seat(panel, person):
    found = [m for m in rows('member', person=person) if m['panel'] == panel or bug('fi-any-panel')]
    return found[0] if found else None


def on_panel(panel, c):
    return seat(panel, c.id) is not None


def leads(panel, c):
    m = seat(panel, c.id)
    return bool(m) and (m['role'] == 'lead' or bug('fi-any-role'))


ALL_CLERK = 'upsert panel,list panel,read panel,delete panel,create member,list member,update member,delete member,create flight,list flight,read flight,update flight,start flight,close flight,list sample,read sample,list score'.split(',')
if bug('pe-clerk-panels'):
    ALL_CLERK.remove('delete panel')
TASTER_LOT = ['id', 'docket', 'name', 'process', 'stage'] + (['owner'] if bug('pe-fields-owner') else [])
RULES = [
    (['create lot'], ['roaster'] + (['taster'] if bug('pe-taster-offers') else []), None, None, None),
    (['list lot', 'read lot', 'update lot', 'delete lot', 'undelete lot'], ['roaster'], None, lambda r, c: r['owner'] == c.id, None),
    (['list lot', 'read lot', 'accept lot', 'decline lot', 'seal lot', 'update lot'], ['clerk'], None, None, None),
    (['unseal lot'], ['clerk'], None if bug('pe-no-wax') else ['wax'], None, None),
    (['list lot', 'read lot'], ['taster'], None, lambda r, c: r['stage'] == 'accepted' or bug('pe-taster-offered'), TASTER_LOT),
    (ALL_CLERK, ['clerk'], None, None, None),
    (['list panel', 'read panel'], ['taster'], None, None, None),
    (['list flight', 'read flight'], ['taster'], None, lambda r, c: on_panel(r['panel'], c) or bug('pe-flight-all'), None),
    (['start flight', 'close flight'], ['taster'], None, lambda r, c: leads(r['panel'], c), None),
    (['list sample', 'read sample'], ['taster'], None, lambda r, c: on_panel(DB['flight'][r['flight']]['panel'], c), None),
    (['create score'], ['taster'], None, lambda r, c: on_panel(DB['flight'][DB['sample'][r['sample']]['flight']]['panel'], c), None),
    (['list score', 'update score', 'delete score'], ['taster'], None, lambda r, c: r['taster'] == c.id or bug('pe-score-others'), None),
    (['create hook'], ['roaster', 'taster', 'clerk'], None, None, None),
    (['list hook', 'read hook', 'delete hook'], ['roaster', 'taster', 'clerk'], None, lambda r, c: r['owner'] == c.id or bug('pe-hooks-all'), None),
]


def may(op, r, c):
    return any(op in ops and c.user in users and set(scopes or []) <= set(c.scopes) and (cond is None or cond(r, c)) for ops, users, scopes, cond, _ in RULES)


READ = {'score': 'list score', 'member': 'list member'}


def reads(table, r, c):
    return may(READ.get(table, 'read ' + table), r, c)


ORDER = {'lot': LOT, 'panel': PANEL, 'member': MEMBER, 'flight': FLIGHT, 'sample': SAMPLE, 'score': SCORE, 'hook': HOOK}


def show(table, r, c, listed=False, event=False):
    full = derived(table, r)
    names = list(ORDER[table])
    if table == 'lot':
        if c.user == 'taster' and not (bug('pe-list-whole') and listed):
            names = TASTER_LOT
        elif c.user != 'clerk' and not (bug('pe-lab-note') and not event):
            names = [n for n in names if n != 'lab_note']
        if bug('ev-lab-note') and event:
            names = list(LOT)
    if table == 'hook':
        names = [n for n in names if n != 'secret' or (bug('re-secret-again') and not listed)]
    out = {n: full[n] for n in names if n in full and full[n] is not None}
    if table == 'flight' and not event:
        pours = [s for s in rows('sample', flight=r['id']) if reads('sample', s, c)]
        if bug('ch-order'):
            pours.reverse()
        out['pours'] = [show('sample', s, c) for s in pours]
        if bug('ch-ids'):
            out['pours'] = [s['id'] for s in pours]
        if bug('ch-hidden'):
            out.pop('pours')
    if bug('re-position-text') and table == 'sample':
        out['position'] = str(out['position'])
    return out


# ------------------------------------------------------------ changes

class Change:
    """One request's share of what changes need."""

    def __init__(self, caller=None, request=None):
        self.caller, self.request = caller, request or {}


def tell(kind, table, row, data, to=None):
    if bug('ev-none'):
        return
    EVENTS.append((kind, table, row, data, to))


def lot_move(row, machine, to, at=None, **also):
    """A lot as it is after a transition of one of its machines."""
    new = {**row, machine: to, '_at_' + machine: now() if at is None else at, 'touched_at': iso(now()), **also}
    return put('lot', {k: v for k, v in new.items() if v is not None}, row['id'])


def accept_lot(row, _):
    if row['stage'] not in ('offered', 'declined') or bug('st-accept-declined') and row['stage'] == 'declined':
        raise Refusal('wrong_stage')
    also = {} if bug('st-reason-stays') else {'reason': None}
    if bug('st-seals-too'):
        also['seal'] = 'sealed'
    return lot_move(row, 'stage', 'accepted', **also)


def told_declined(new):
    tell('lot.declined', 'lot', new, lambda c: {'lot': new['id'], 'docket': new['docket']})


QUOTA = collections.Counter()


def decline_lot(row, ch):
    if row['stage'] != 'offered':
        raise Refusal('wrong_stage' if bug('er-else-general') else 'too_late')
    day = (int(now() // DAY), 'all' if bug('li-quota-shared') else ch.caller.id)
    if QUOTA[day] >= 4 and not bug('li-quota-none'):
        raise Refusal('full')
    new = lot_move(row, 'stage', 'declined', **({} if bug('st-reason-lost') else {'reason': ch.request['reason']}))
    told_declined(new)
    JOURNAL.append((QUOTA, day, QUOTA.get(day, 0)))
    QUOTA[day] += 1
    return new


def lapse_lot(row, at):
    new = lot_move(row, 'stage', 'accepted' if bug('st-lapse-accepts') else 'declined', at)
    if not bug('ev-lapse-silent'):
        told_declined(new)


def seal_lot(row, _):
    if row['seal'] != 'open':
        raise Refusal('wrong_stage')
    if row['stage'] != 'accepted' and not bug('st-seal-any'):
        raise Refusal('not_accepted')
    new = lot_move(row, 'seal', 'sealed', **({'stage': 'offered'} if bug('st-seal-resets') else {}))
    tell('lot.sealed', 'lot', new, (lambda c: show('lot', new, c, event=True)) if bug('ev-sealed-whole') else lambda c: new['id'])
    return new


def unseal_lot(row, _):
    if row['seal'] != 'sealed' and not bug('st-unseal-open'):
        raise Refusal('wrong_stage')
    return lot_move(row, 'seal', 'open')


def start_flight(row, ch):
    if row['state'] != 'planned':
        raise Refusal('wrong_stage')
    mine = rows('sample', flight=row['id'])
    if not mine and not bug('st-start-empty'):
        raise Refusal('nothing_poured')
    new = put('flight', {**row, 'state': 'running', '_at_state': now()}, row['id'])
    for s in [] if bug('th-no-seal') else mine[:1] if bug('th-first-sealed') else mine:
        try:
            seal_lot(DB['lot'][s['lot']], ch)
        except Refusal:
            if bug('th-no-skip'):
                raise
    return new


def taste(s):
    new = put('sample', {**s, 'stage': 'tasted'}, s['id'])
    if not bug('ev-tasted-silent'):
        tell('sample.tasted', 'sample', new, lambda c: {'sample': new['id'], 'lot': new['lot']})


def close_flight(row, ch, at=None):
    if row['state'] != 'running' and not (bug('st-close-planned') and row['state'] == 'planned'):
        raise Refusal('wrong_stage')
    new = {**row, 'state': 'closed', '_at_state': now(), 'closed_at': iso(now())}
    if bug('st-closed-unset') or bug('st-overrun-unset') and at is not None:
        new.pop('closed_at')
    put('flight', new, row['id'])
    if not (bug('th-no-taste') or bug('th-overrun-untasted') and at is not None):
        for s in rows('sample', flight=row['id']):
            if sample_scores(s) or bug('th-taste-all'):
                taste(s)
    return new


def due():
    """Fires what the clock is to do, in the order of its times."""
    while True:
        waits = []
        for r in rows('lot'):
            since = r['_made'] if bug('st-lapse-created') else r['_at_stage']
            if r['stage'] == 'offered' and not bug('st-no-lapse'):
                waits.append((since + (1.4 if bug('st-lapse-soon') else 14) * DAY, lapse_lot, r))
        for r in rows('flight', state='running'):
            if not bug('st-no-overrun'):
                waits.append((r['_at_state'] + (80 if bug('st-overrun-late') else 8) * HOUR, lambda row, at: close_flight(row, None, at), r))
        ripe = sorted((w for w in waits if w[0] <= now()), key=lambda w: w[0])
        if not ripe:
            break
        at, act, row = ripe[0]
        act(row, at)
        commit()
    for r in list(DB['lot'].values()):
        if '_gone' in r and now() >= r['_gone'] + (3 if bug('ke-three-days') else 30) * DAY and not bug('ke-forever'):
            del DB['lot'][r['id']]


# ------------------------------------------------------------ events and hooks

QUEUES = collections.defaultdict(collections.deque)


def heard(hook, kind):
    kinds = hook.get('kinds')
    if kinds is None or bug('ev-kinds-all'):
        return True
    return any(k == '*' or k == kind or (k.endswith('.*') and kind.startswith(k[:-1]) and not bug('ev-family')) for k in kinds)


def commit():
    JOURNAL.clear()
    for kind, table, row, data, to in EVENTS:
        id, at = 'evt_' + some(16), iso(now())
        for hook in rows('hook'):
            maker = hook['_maker']
            if not heard(hook, kind) or (to is not None and not to(hook) and not bug('ev-score-all')):
                continue
            if to is None and not bug('ev-everyone') and not reads(table, row, maker):
                continue
            body = json.dumps({'id': id, 'type': kind, 'timestamp': at, 'data': data(maker)}, ensure_ascii=False).encode()
            if bug('ev-bare'):
                body = json.dumps(data(maker)).encode()
            QUEUES[(hook['id'], table, row['id'])].append({'hook': hook['id'], 'kind': kind, 'body': body, 'id': id, 'tries': 0, 'due': now()})
    EVENTS.clear()


BUSY = set()


def send(queue, one, hook):
    stamp = str(int(now() * (1000 if bug('ev-stamp-millis') else 1)))
    signed = one['body'] if bug('ev-sign-body') else stamp.encode() + b'.' + one['body']
    seal = hmac.new(hook['secret'].encode(), signed, hashlib.sha1 if bug('ev-sha1') else hashlib.sha256).hexdigest()
    headers = {'Content-Type': 'application/json', 'Cupping-Seal': f't={stamp},s={seal}'}
    if not bug('ev-no-kind'):
        headers['Cupping-Kind'] = one['kind']
    ok = False
    try:
        request = urllib.request.Request(hook['url'], data=one['body'], headers=headers, method='POST')
        with urllib.request.build_opener(NoRedirect).open(request, timeout=3) as answer:
            ok = 200 <= answer.status < 300
    except Exception:
        ok = False
    with LOCK:
        BUSY.discard(id(one))
        one['tries'] += 1
        if ok or one['tries'] > (1 if bug('ev-one-retry') else 2):
            if queue and queue[0] is one:
                queue.popleft()
        elif bug('ev-no-retry'):
            queue.popleft()
        else:
            one['due'] = now() + [10, 300][one['tries'] - 1]


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def deliver():
    for key in list(QUEUES):
        queue = QUEUES[key]
        if not queue:
            del QUEUES[key]
            continue
        for one in list(queue)[:None if bug('ev-overtakes') else 1]:
            hook = DB['hook'].get(one['hook'])
            if hook is None:
                queue.remove(one)
            elif one['due'] <= now() and id(one) not in BUSY:
                BUSY.add(id(one))
                threading.Thread(target=send, args=(queue, one, hook), daemon=True).start()


def beat():
    while True:
        with LOCK:
            due()
            deliver()
        time.sleep(0.03)


# ------------------------------------------------------------ operations

def located(path):
    return {'Location': PREFIX + path}


def parent(table, key, c):
    r = DB[table].get(key)
    if r is None or not reads(table, r, c):
        raise Refusal('not_there')
    return r


def number_of(text):
    return int(text) if re.fullmatch(r'0|[1-9]\d{0,15}', text) else None


def find_lot(q, op, deleted=False):
    r = DB['lot'].get(q.path['id'])
    if r is None or not reads('lot', r, q.caller):
        raise Refusal('not_there')
    if '_gone' in r and not deleted:
        if bug('ke-read-again') and op == 'read lot':
            return r
        raise Refusal('not_there' if bug('ke-missing') else 'thrown_out')
    if not may(op, r, q.caller):
        raise Refusal('not_your_table')
    return r


def tag_of(body):
    return '"' + hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:20] + '"'


def unique_lot(row):
    ref = row.get('reference')
    if ref is not None and any(r['id'] != row['id'] and (r['owner'] == row['owner'] or bug('re-reference-all')) for r in rows('lot', reference=ref)):
        raise Refusal('there_already')


LOT_NEEDS = ['name', 'bags', 'dry_from', 'dry_to']
LOT_KEEPS = LOT_NEEDS + ['process', 'tags']


def dry(row, bad):
    if all(of_type(row.get(n), 'number') for n in ('dry_from', 'dry_to')):
        if row['dry_to'] < row['dry_from'] or bug('ru-equal') and row['dry_to'] == row['dry_from']:
            bad.append(('wrong_value', '/dry_from' if bug('ru-place') else '/dry_to'))


def create_lot(q):
    got, bad = take(LOT, q.body, LOT_NEEDS, q.caller.user)
    if not bug('ru-none'):
        dry(got, bad)
    held(bad)
    t = iso(now())
    row = born({'id': 'lot_' + some(12), 'owner': q.caller.id, **got, 'stage': 'offered', 'seal': 'open', 'created_at': t, 'touched_at': t,
                '_at_stage': now(), '_at_seal': now(), '_made': now()})
    if bug('re-owner-sent') and isinstance(q.body.get('owner'), str):
        row['owner'] = q.body['owner']
    defaults(LOT, row)
    if not bug('re-reference-free'):
        unique_lot(row)
    row.setdefault('docket', 'L-%04d' % count('docket'))
    if bug('re-docket-bare'):
        row['docket'] = row['docket'][2:]
    put('lot', row, row['id'])
    tell('lot.offered', 'lot', row, lambda c: show('lot', row, c, event=True))
    if bug('ev-offered-twice'):
        tell('lot.offered', 'lot', row, lambda c: show('lot', row, c, event=True))
    return 200 if bug('en-create-200') else 201, show('lot', row, q.caller), {} if bug('en-no-location') else located('/lots/' + row['id'])


def list_lot(q):
    c, p = q.caller, q.query
    if c.user == 'taster' and not bug('pe-taster-filters'):
        if {'tag', 'heavy', 'q'} & set(p) or p.get('sort', '').lstrip('-') == 'bags':
            raise Refusal('bad_parameter', ['tag' if 'tag' in p else 'heavy' if 'heavy' in p else 'q' if 'q' in p else 'sort'])
    out = [r for r in rows('lot') if may('list lot', r, c)]
    stage = p.get('stage', 'every')
    if stage != 'every':
        out = [r for r in out if r['stage'] == stage]
    elif bug('fl-every-offered'):
        out = [r for r in out if r['stage'] != 'declined']
    if 'process' in p:
        wanted = [p['process']] if bug('fl-split') else p['process'].split(',')
        out = [r for r in out if r['process'] in wanted]
    if 'tag' in p:
        out = [r for r in out if (r['tags'] == [p['tag']] if bug('fl-tag-only') else p['tag'] in r['tags'])]
    if 'heavy' in p:
        out = [r for r in out if r['bags'] > int(p['heavy']) or r['bags'] == int(p['heavy']) and not bug('fl-heavy-edge')]
    if 'panel' in p and not bug('fl-lot-panel'):
        def poured(r):
            for s in rows('sample', lot=r['id']):
                f = DB['flight'][s['flight']]
                if f['panel'] == p['panel'] and (reads('sample', s, c) and reads('flight', f, c) or bug('fl-lot-unread')):
                    return True
            return False
        out = [r for r in out if poured(r)]
    if 'q' in p:
        def has(r, word):
            return any(word in (r.get(n, '') if bug('se-case') else r.get(n, '').lower()) for n in (['name'] if bug('se-name-only') else ['name', 'note']))
        words = p['q'].split() if bug('se-case') else p['q'].lower().split()
        out = [r for r in out if (any if bug('se-any-word') else all)(has(r, w) for w in words)]
    sort = p.get('sort', 'name')
    key = sort.lstrip('-')
    back = sort.startswith('-') != (p.get('way') == 'desc' and not bug('so-way'))
    if bug('so-bags-name') and key == 'bags':
        key = 'name'
    out.sort(key=lambda r: r[key], reverse=back)
    return q.page(out, lambda r: show('lot', r, c, listed=True))


def read_lot(q):
    body = show('lot', find_lot(q, 'read lot'), q.caller)
    return 200, body, {} if bug('en-no-etag') else {'ETag': tag_of(body)}


def update_lot(q):
    r = find_lot(q, 'update lot')
    match = q.headers.get('If-Match')
    if match is not None and match.strip() != '*' and not bug('en-if-match'):
        if tag_of(show('lot', r, q.caller)) not in [t.strip() for t in match.split(',')]:
            raise Refusal('stale')
    got, bad = take(LOT, q.body, LOT_KEEPS, q.caller.user, patch=True)
    next_ = {k: v for k, v in {**r, **got}.items() if v is not None}
    if not (bug('ru-patch') or bug('ru-none')):
        dry(next_, bad)
    held(bad)
    if r['stage'] != 'offered' and not bug('st-update-any') or r['seal'] != 'open':
        raise Refusal('wrong_stage')
    unique_lot(next_)
    if next_ != r or bug('en-noop-touches'):
        if not bug('re-untouched'):
            next_['touched_at'] = iso(now())
        if bug('st-update-restarts'):
            next_['_at_stage'] = now()
        put('lot', next_, r['id'])
        if next_.get('bags') != r['bags'] or bug('ev-changed-any'):
            tell('lot.changed', 'lot', next_, lambda c: show('lot', next_, c, event=True))
    body = show('lot', next_, q.caller)
    return 200, body, {'ETag': tag_of(body)}


def delete_lot(q):
    r = find_lot(q, 'delete lot')
    if r['stage'] not in ('offered', 'declined') and not bug('st-delete-accepted'):
        raise Refusal('wrong_stage')
    if rows('sample', lot=r['id']) and not bug('re-lot-unheld'):
        raise Refusal('still_needed')
    if bug('ke-not-kept'):
        drop('lot', r['id'])
    else:
        put('lot', {**r, '_gone': now()}, r['id'])
    return 204, None, {}


def undelete_lot(q):
    r = find_lot(q, 'undelete lot', deleted=True)
    if '_gone' not in r and not bug('ke-undelete-live'):
        raise Refusal('wrong_stage')
    back = {k: v for k, v in r.items() if k != '_gone'}
    put('lot', back, r['id'])
    if not bug('ke-reference-twice'):
        unique_lot(back)
    new = back if bug('ke-stage-kept') else lot_move(back, 'stage', 'offered')
    if bug('ke-note-lost'):
        new = put('lot', {k: v for k, v in new.items() if k != 'note'}, new['id'])
    return 200, show('lot', new, q.caller), {}


def moves(op, act, answer=200):
    def run(q):
        r = find_lot(q, op)
        if op == 'decline lot':
            bad = []
            if not isinstance(q.body, dict):
                bad.append(('wrong_type', ''))
            elif 'reason' not in q.body:
                bad.append(('missing_field', '/reason'))
            else:
                look(q.body['reason'], dict(type='string', least=1, most=60), '/reason', bad)
            held(bad)
        new = act(r, Change(q.caller, q.body))
        return (200, show('lot', new, q.caller), {}) if answer == 200 or bug('en-unseal-200') else (204, None, {})
    return run


def upsert_panel(q):
    slug = q.path['slug']
    got, bad = take(PANEL, q.body, ['title'], q.caller.user, bound=['slug'])
    if 'slug' in got and got['slug'] != slug and not bug('en-slug-sent'):
        bad.append(('wrong_value', '/slug'))
    if not re.fullmatch(PANEL['slug']['pattern'], slug):
        bad.append(('wrong_value', '/slug'))
    held(bad)
    old = DB['panel'].get(slug)
    row = defaults(PANEL, {**got, 'slug': slug})
    if bug('en-put-merges') and old:
        row = {**old, **got}
    if old is None:
        put('panel', born(row), slug)
        return 201, show('panel', row, q.caller), located('/panels/' + slug)
    if bug('en-put-refuses'):
        raise Refusal('there_already')
    put('panel', {**row, '_seq': old['_seq']}, slug)
    return 201 if bug('en-put-201') else 200, show('panel', DB['panel'][slug], q.caller), {}


def list_panel(q):
    out = sorted((r for r in rows('panel')), key=lambda r: r['slug'], reverse=bug('so-panels'))
    sizes = {}
    for name, least, most, default in (('skip', 0, 10**9, 0), ('take', 1, 10, 4)):
        n = number_of(q.query[name]) if name in q.query else default
        if n is None or n < least:
            raise Refusal('bad_page', [name])
        if n > most:
            if not bug('li-take-clamped'):
                raise Refusal('bad_page', [name])
            n = most
        sizes[name] = n
    part = out[sizes['skip']:sizes['skip'] + sizes['take']]
    return 200, {'rows': [show('panel', r, q.caller) for r in part], 'all': len(part) if bug('li-all-page') else len(out)}, {}


def read_panel(q):
    return 200, show('panel', parent('panel', q.path['slug'], q.caller), q.caller), {}


def delete_panel(q):
    r = parent('panel', q.path['slug'], q.caller)
    if rows('flight', panel=r['slug']):
        raise Refusal('wrong_stage' if bug('er-held-stage') else 'still_needed')
    for m in rows('member', panel=r['slug']):
        if not bug('re-members-stay'):
            drop('member', m['id'])
    drop('panel', r['slug'])
    return 204, None, {}


def create_member(q):
    panel = parent('panel', q.path['panel'], q.caller)
    got, bad = take(MEMBER, q.body, ['person'], q.caller.user, bound=['panel'])
    if got.get('panel', panel['slug']) != panel['slug']:
        bad.append(('wrong_value', '/panel'))
    held(bad)
    there = rows('member', panel=panel['slug'], person=got['person'])
    taken = len(rows('member', panel=panel['slug']))
    if taken + 1 > panel['seats'] + (1 if bug('er-seats-one-more') else 0) and not bug('er-seats-free'):
        raise Refusal('table_full')
    if there:
        if bug('en-exists-409'):
            raise Refusal('there_already')
        if bug('en-exists-changes'):
            there = [put('member', {**there[0], **got}, there[0]['id'])]
        return 201 if bug('en-exists-201') else 200, show('member', there[0], q.caller), {}
    row = born(defaults(MEMBER, {'id': count('member'), **got, 'panel': panel['slug']}))
    put('member', row, row['id'])
    return 201, show('member', row, q.caller), {}


def list_member(q):
    panel = parent('panel', q.path['panel'], q.caller)
    out = rows('member') if bug('fl-members-all') else rows('member', panel=panel['slug'])
    if 'role' in q.query and not bug('fl-role'):
        out = [r for r in out if r['role'] == q.query['role']]
    return q.page(out, lambda r: show('member', r, q.caller))


def find_member(q):
    panel = parent('panel', q.path['panel'], q.caller)
    found = rows('member', panel=panel['slug'], person=q.path['person'])
    if not found:
        raise Refusal('not_there')
    return found[0]


def update_member(q):
    r = find_member(q)
    got, bad = take(MEMBER, q.body, ['panel', 'person', 'role'], q.caller.user, patch=True)
    for name in ('panel', 'person'):
        if got.get(name, r[name]) != r[name] and not (bug('re-person-moved') and name == 'person'):
            bad.append(('wrong_value', '/' + name))
    held(bad)
    return 200, show('member', put('member', {**r, **got}, r['id']), q.caller), {}


def delete_member(q):
    r = find_member(q)
    drop('member', r['id'])
    return 204, None, {}


def create_flight(q):
    panel = parent('panel', q.path['panel'], q.caller)
    shape = {**FLIGHT, 'state': None}
    got, bad = take(shape, q.body, ['title'], q.caller.user, bound=['panel'], extra=['pours'])
    if got.get('panel', panel['slug']) != panel['slug']:
        bad.append(('wrong_value', '/panel'))
    pours, kept = got.pop('pours', []), []
    item = {k: v for k, v in SAMPLE.items() if k != 'flight'}
    if isinstance(q.body, dict) and 'pours' in q.body:
        at = len([b for b in bad if b[0] != 'missing_field'])
        wrong = []
        if not isinstance(pours, list):
            wrong.append(('wrong_type', '/pours'))
            pours = []
        elif len(pours) > 5 and not bug('ch-six'):
            wrong.append(('wrong_value', '/pours'))
        for n, one in enumerate(pours):
            had, odd = take(item, one, ['lot'], q.caller.user, prefix=f'/pours/{n}')
            if bug('ch-unknown'):
                odd = [b for b in odd if b[0] != 'unknown_field']
            if bug('ch-place'):
                odd = [(k, re.sub(r'^/pours/\d+', '/pours', p)) for k, p in odd]
            wrong += odd
            kept.append(had)
        bad[at:at] = wrong
    held(bad)
    missing = [n for n, one in enumerate(kept) if lot_at(one['lot']) is None]
    if missing and not bug('ch-ref-unchecked'):
        raise Refusal('no_such_ref', [f'/pours/{n}/lot' for n in missing])
    row = born({'id': 'flt_' + some(10), 'panel': panel['slug'], 'number': count('flights' if bug('co-number-all') else 'flight ' + panel['slug']),
                'title': got['title'], 'state': 'planned', '_at_state': now()})
    put('flight', row, row['id'])
    for n, one in enumerate(kept):
        if one['lot'] in [k['lot'] for k in kept[:n]] and not bug('ch-twice'):
            raise Refusal('there_already')
        s = born(defaults(SAMPLE, {'id': count('sample'), 'flight': row['id'], 'lot': one['lot'],
                                   'position': count('samples' if bug('co-position-all') else 'sample ' + row['id']) - (1 if bug('co-position-zero') else 0), 'stage': 'poured', **one}))
        if bug('ch-cups-default'):
            s['cups'] = 5
        if not (bug('ch-first-only') and n):
            put('sample', s, s['id'])
    return 201, show('flight', row, q.caller), located('/flights/' + row['id'])


def list_flight(q):
    c = q.caller
    out = [r for r in rows('flight') if may('list flight', r, c)]
    if 'state' in q.query:
        out = [r for r in out if r['state'] == q.query['state']]
    if 'lot' in q.query:
        out = [r for r in out if bug('fl-flight-lot') or any(s['lot'] == q.query['lot'] and reads('sample', s, c) for s in rows('sample', flight=r['id']))]
    return q.page(out, lambda r: show('flight', r, c))


def find_flight(q, op):
    r = parent('flight', q.path['id'], q.caller)
    if not may(op, r, q.caller):
        raise Refusal('not_there' if bug('er-forbidden-404') else 'not_your_table')
    return r


def read_flight(q):
    return 200, show('flight', find_flight(q, 'read flight'), q.caller), {}


def update_flight(q):
    r = find_flight(q, 'update flight')
    got, bad = take(FLIGHT, q.body, ['title', 'panel', 'state'], q.caller.user, patch=True)
    if got.get('panel', r['panel']) != r['panel']:
        bad.append(('wrong_value', '/panel'))
    held(bad)
    if r['state'] != 'planned' and not bug('st-flight-in'):
        raise Refusal('wrong_stage')
    to = got.get('state', r['state'])
    if to != r['state'] and to != 'abandoned' and not bug('mo-any-state'):
        raise Refusal('wrong_value', ['/state']) if bug('mo-invalid') else Refusal('wrong_stage')
    new = {**r, **got}
    if bug('mo-title-lost') and to != r['state']:
        new['title'] = r['title']
    if bug('mo-ignored'):
        new['state'] = r['state']
    if new['state'] != r['state']:
        new['_at_state'] = now()
    put('flight', new, r['id'])
    return 200, show('flight', new, q.caller), {}


def run_flight(op, act):
    def run(q):
        return 200, show('flight', act(find_flight(q, op), Change(q.caller)), q.caller), {}
    return run


def list_sample(q):
    c, p = q.caller, q.query
    out = [r for r in rows('sample') if may('list sample', r, c)]
    if 'stage' in p:
        out = [r for r in out if r['stage'] == p['stage']]
    if 'process' in p and not bug('fl-sample-process'):
        out = [r for r in out if DB['lot'][r['lot']]['process'] == p['process'] and reads('lot', DB['lot'][r['lot']], c)]
    if 'panel' in p:
        out = [r for r in out if (p['panel'] in DB['flight'][r['flight']]['panel'] if bug('fl-panel-part') else DB['flight'][r['flight']]['panel'] == p['panel'])]
    if 'taster' in p:
        out = [r for r in out if any(s['taster'] == p['taster'] and (reads('score', s, c) or bug('fl-taster-unread')) for s in rows('score', sample=r['id']))]
    return q.page(out, lambda r: show('sample', r, c))


def read_sample(q):
    f = parent('flight', q.path['flight'], q.caller)
    n = number_of(q.path['position'])
    found = rows('sample', position=n) if bug('id-any-flight') else rows('sample', flight=f['id'], position=n)
    if bug('id-by-id'):
        found = [r for r in rows('sample', flight=f['id']) if r['id'] == n]
    if n is None or not found:
        raise Refusal('not_there')
    return 200, show('sample', found[0], q.caller), {}


def scored(q):
    n = number_of(q.path['sample'])
    return parent('sample', n, q.caller)


def create_score(q):
    s = scored(q)
    got, bad = take(SCORE, q.body, ['points'], q.caller.user, bound=['sample'])
    if got.get('sample', s['id']) != s['id']:
        bad.append(('wrong_value', '/sample'))
    held(bad)
    if DB['flight'][s['flight']]['state'] != 'running' and not bug('er-score-planned'):
        raise Refusal('not_running')
    if rows('score', sample=s['id'], taster=q.caller.id) and not bug('re-score-twice'):
        raise Refusal('there_already')
    row = born({'id': count('score'), **got, 'sample': s['id'], 'taster': q.caller.id})
    put('score', row, row['id'])
    tell('score.given', 'score', row, lambda c: show('score', row, c), to=lambda hook: hook['owner'] == row['taster'])
    return 201, show('score', row, q.caller), {}


def list_score(q):
    s = scored(q)
    out = [r for r in rows('score', sample=s['id']) if may('list score', r, q.caller)]
    out.sort(key=lambda r: r['points'] if bug('so-scores') else -r['points'])
    return q.page(out, lambda r: show('score', r, q.caller))


def find_score(q, op):
    r = parent('score', number_of(q.path['id']), q.caller)
    if not may(op, r, q.caller):
        raise Refusal('not_your_table')
    return r


def unscored(r):
    if DB['sample'][r['sample']]['stage'] == 'tasted' and not bug('er-tasted-changes'):
        raise Refusal('scored_already')


def update_score(q):
    r = find_score(q, 'update score')
    got, bad = take(SCORE, q.body, ['sample', 'points'], q.caller.user, patch=True)
    if got.get('sample', r['sample']) != r['sample']:
        bad.append(('wrong_value', '/sample'))
    held(bad)
    unscored(r)
    return 200, show('score', put('score', {**r, **got}, r['id']), q.caller), {}


def delete_score(q):
    r = find_score(q, 'delete score')
    if not bug('er-tasted-deleted'):
        unscored(r)
    drop('score', r['id'])
    return 204, None, {}


def create_hook(q):
    got, bad = take(HOOK, q.body, ['url'], q.caller.user)
    for n, k in enumerate(got.get('kinds', [])):
        if not (k in KINDS or k == '*' or k.endswith('.*') and any(one.startswith(k[:-1]) for one in KINDS)) and not bug('re-kinds-any'):
            bad.append(('wrong_value', f'/kinds/{n}'))
    held(bad)
    if len([h for h in rows('hook') if h['owner'] == q.caller.id or bug('li-hooks-shared')]) >= (3 if bug('li-hooks-three') else 2) and not bug('li-hooks-none'):
        raise Refusal('full')
    row = born({'id': 'hk_' + some(8), 'owner': q.caller.id, **got, 'secret': 'sip_' + some(32), '_maker': q.caller})
    put('hook', row, row['id'])
    body = show('hook', row, q.caller)
    if not bug('re-secret-never'):
        body['secret'] = row['secret']
    return 201, body, located('/hooks/' + row['id'])


def list_hook(q):
    return q.page([r for r in rows('hook') if may('list hook', r, q.caller)], lambda r: show('hook', r, q.caller, listed=True))


def read_hook(q):
    return 200, show('hook', parent('hook', q.path['id'], q.caller), q.caller), {}


def delete_hook(q):
    r = parent('hook', q.path['id'], q.caller)
    drop('hook', r['id'])
    return 204, None, {}


PAGE = {'after': None, 'limit': None}
LOT_QUERY = {'stage': dict(enum=['offered', 'accepted', 'declined', 'every']), 'process': dict(type='string', most=60), 'tag': dict(type='string', most=16),
             'heavy': dict(type='integer', least=1, most=320), 'panel': dict(type='string', most=12), 'q': dict(type='string', least=1, most=40),
             'sort': dict(enum=['name', '-name', 'bags', '-bags']), 'way': dict(enum=['asc', 'desc'])}
ROUTES = []


def route(method, path, op, run, body=False, query=None, quiet=False):
    if bug('en-' + op.replace(' ', '-') + '-missing'):
        return
    pattern = re.compile(''.join('([^/]+)' if p.startswith('{') else re.escape(p) for p in re.split(r'(\{\w+\})', path)))
    ROUTES.append((method, path.count('{'), pattern, re.findall(r'\{(\w+)\}', path), op, run, body, query or {}, quiet))


route('GET', '/pulse', 'reply pulse', lambda q: (200, {'water': 'hot', 'degrees': '93' if bug('en-pulse-text') else 93}, {}), quiet=True)
route('POST', '/lots', 'create lot', create_lot, True)
route('GET', '/lots', 'list lot', list_lot, query={**LOT_QUERY, **PAGE})
route('GET', '/lots/{id}', 'read lot', read_lot)
route('PATCH', '/lots/{id}', 'update lot', update_lot, True)
route('DELETE', '/lots/{id}', 'delete lot', delete_lot)
route('POST', '/lots/{id}/accept', 'accept lot', moves('accept lot', accept_lot))
route('POST', '/lots/{id}/decline', 'decline lot', moves('decline lot', decline_lot), True)
route('POST', '/lots/{id}/seal', 'seal lot', moves('seal lot', seal_lot))
route('POST', '/lots/{id}/unseal', 'unseal lot', moves('unseal lot', unseal_lot, 204))
route('POST', '/lots/{id}/undelete', 'undelete lot', undelete_lot)
route('PUT', '/panels/{slug}', 'upsert panel', upsert_panel, True)
route('GET', '/panels', 'list panel', list_panel, query={'skip': None, 'take': None})
route('GET', '/panels/{slug}', 'read panel', read_panel)
route('DELETE', '/panels/{slug}', 'delete panel', delete_panel)
route('POST', '/panels/{panel}/members', 'create member', create_member, True)
route('GET', '/panels/{panel}/members', 'list member', list_member, query={'role': dict(enum=['taster', 'lead']), **PAGE})
route('PATCH', '/panels/{panel}/members/{person}', 'update member', update_member, True)
route('DELETE', '/panels/{panel}/members/{person}', 'delete member', delete_member)
route('POST', '/panels/{panel}/flights', 'create flight', create_flight, True)
route('GET', '/flights', 'list flight', list_flight, query={'state': FLIGHT['state'], 'lot': dict(type='string', most=20), **PAGE})
route('GET', '/flights/{id}', 'read flight', read_flight)
route('PATCH', '/flights/{id}', 'update flight', update_flight, True)
route('POST', '/flights/{id}/start', 'start flight', run_flight('start flight', start_flight))
route('POST', '/flights/{id}/close', 'close flight', run_flight('close flight', close_flight))
route('GET', '/samples', 'list sample', list_sample,
      query={'stage': dict(enum=['poured', 'tasted']), 'process': dict(enum=['washed', 'natural', 'honey']), 'panel': dict(type='string', most=12), 'taster': dict(type='string', most=30), **PAGE})
route('GET', '/flights/{flight}/samples/{position}', 'read sample', read_sample)
route('POST', '/samples/{sample}/scores', 'create score', create_score, True)
route('GET', '/samples/{sample}/scores', 'list score', list_score, query=PAGE)
route('PATCH', '/scores/{id}', 'update score', update_score, True)
route('DELETE', '/scores/{id}', 'delete score', delete_score)
route('POST', '/hooks', 'create hook', create_hook, True)
route('GET', '/hooks', 'list hook', list_hook, query=PAGE)
route('GET', '/hooks/{id}', 'read hook', read_hook)
route('DELETE', '/hooks/{id}', 'delete hook', delete_hook)

# ------------------------------------------------------------ one request

COOKIE = os.urandom(16)
RATES = {}
ONCE = {}


class Query:
    """What an operation is handed."""

    def page(self, out, view):
        size = self.query.get('limit')
        n = 6 if size is None else number_of(size)
        if n is None or n < 1:
            raise Refusal('bad_page', ['limit'])
        if n > 20 and bug('li-limit-refused'):
            raise Refusal('bad_page', ['limit'])
        n = n if bug('li-unclamped') else min(n, 20)
        if size is None and bug('li-default-ten'):
            n = 10
        mark = hashlib.sha256(json.dumps([self.target, self.caller.id, sorted((k, v) for k, v in self.query.items() if k not in PAGE)]).encode()).hexdigest()[:12]
        start = 0
        if 'after' in self.query:
            try:
                raw = base64.urlsafe_b64decode(self.query['after'].encode())
                told, body = raw[:8], raw[8:]
                if not hmac.compare_digest(told, hmac.new(COOKIE, body, 'sha256').digest()[:8]):
                    raise ValueError
                where, last, at = json.loads(body)
                if where != mark and not bug('li-cursor-loose'):
                    raise ValueError
            except ValueError:
                raise Refusal('bad_page', ['after'])
            known = [k for k, r in enumerate(out) if r['_seq'] == last]
            start = known[0] + (0 if bug('li-cursor-overlaps') else 1) if known else min(at, len(out))
        part = out[start:start + n]
        more = start + n < len(out)
        cursor = None
        if more or bug('li-next-always') and part:
            body = json.dumps([mark, part[-1]['_seq'], start + n]).encode()
            cursor = base64.urlsafe_b64encode(hmac.new(COOKIE, body, 'sha256').digest()[:8] + body).decode()
        return 200, {'items': [view(r) for r in part], 'next': cursor}, {}


def rate(op, caller):
    if op != 'create score' or bug('li-rate-none'):
        return {}
    key = 'all' if bug('li-rate-shared') else (caller.user, caller.id)
    began, used = RATES.get(key, (0, 0))
    if now() >= began + 60 and not (bug('li-rate-forever') and began):
        began, used = now(), 0
    left = max(1, int(-(-(began + 60 - now()) // 1)))
    if used >= 30:
        raise Refusal('too_fast', None, {'Retry-After': str(left)} if not bug('li-no-retry-after') else {})
    RATES[key] = (began, used + 1)
    return {'RateLimit-Policy': '"caller-1m-create-score";q=30;w=60', 'RateLimit': f'"caller-1m-create-score";r={29 - used};t={left}'}


def known(h):
    spoon = h.headers.get('Spoon')
    if not spoon:
        raise Refusal('bad_spoon' if bug('er-missing-bad') else 'no_spoon')
    if bug('au-any-spoon') and spoon.startswith('sp_') and spoon not in CALLERS:
        return Caller('clerk', 'nobody', ['wax'])
    if spoon not in CALLERS:
        raise Refusal('no_spoon' if bug('er-bad-missing') else 'bad_spoon')
    return Caller(*CALLERS[spoon])


def no_constant(_):
    raise ValueError


def accepts(header):
    for part in (header or '*/*').split(','):
        words = [w.strip() for w in part.split(';')]
        if words[0].lower() in ('*/*', 'application/*', 'application/json') and not any(re.fullmatch(r'q=0(\.0*)?', w) for w in words[1:]):
            return True
    return False


def answer(h, raw, length):
    """(status, body, headers) of one request; the steps stand in the order of the refusals."""
    target = h.path
    if len(target) > 1024 and not bug('li-url'):
        raise Refusal('too_big')
    url = urllib.parse.urlsplit(target)
    path = url.path
    if bug('pu-base'):
        path = PREFIX + path
    if not path.startswith(PREFIX + '/'):
        raise Refusal('no_path')
    path = path[len(PREFIX):]
    fits = [(r, r[2].fullmatch(path)) for r in ROUTES if r[2].fullmatch(path)]
    if not fits:
        raise Refusal('no_path')
    allowed = sorted({r[0] for r, _ in fits} | {'OPTIONS'} | ({'HEAD'} if any(r[0] == 'GET' for r, _ in fits) else set()))
    if h.command == 'OPTIONS':
        return 204, None, {'Allow': ', '.join(allowed)}
    method = 'GET' if h.command == 'HEAD' else h.command
    mine = sorted(((r, m) for r, m in fits if r[0] == method), key=lambda x: x[0][1])
    if not mine:
        raise Refusal('no_path' if bug('er-405') else 'no_method', None, {} if bug('er-no-allow') else {'Allow': ', '.join(allowed)})
    (_, _, _, names, op, run, takes, declared, quiet), match = mine[0]
    caller = Caller('', '', []) if quiet and not bug('au-pulse-locked') else known(h)
    told = {} if quiet else rate(op, caller)
    if not quiet:
        rules = [r for r in RULES if op in r[0] and caller.user in r[1]]
        if not rules:
            raise Refusal('not_your_table', None, told)
        if not any(set(r[2] or []) <= set(caller.scopes) for r in rules):
            raise Refusal('not_your_table' if bug('er-scope-general') else 'no_wax', None, told)
    if not accepts(h.headers.get('Accept')) and not bug('er-accept'):
        raise Refusal('only_json', None, told)
    body = None
    if takes:
        kind = h.headers.get('Content-Type', '').split(';')[0].strip().lower()
        if length == 0:
            raise Refusal('unreadable' if bug('er-no-body') else 'no_body', None, told)
        if kind != 'application/json' and not (method == 'PATCH' and kind == 'application/merge-patch+json' and not bug('en-no-merge-patch')) and not bug('er-media'):
            raise Refusal('not_json', None, told)
    if length > 8192 and not bug('li-body'):
        raise Refusal('too_big', None, told)
    if takes:
        try:
            body = json.loads(raw.decode('utf-8'), parse_constant=no_constant)
            json.dumps(body, ensure_ascii=False).encode()  # half a surrogate pair is no text
        except (ValueError, RecursionError):
            if bug('er-malformed-500'):
                raise Refusal('spilt', None, told)
            raise Refusal('unreadable', None, told)
    q = Query()
    q.caller, q.body, q.headers, q.target = caller, body, h.headers, path
    q.path = {n: urllib.parse.unquote(v) for n, v in zip(names, match.groups())}
    q.query = {}
    for name, value in urllib.parse.parse_qsl(url.query, keep_blank_values=True):
        if name not in declared and not bug('er-parameter-passes'):
            raise Refusal('bad_parameter', [name], told)
        if name in q.query:
            raise Refusal('bad_parameter', [name], told)
        q.query[name] = value
        s = declared.get(name)
        if s:
            bad = []
            seen = (int(value) if re.fullmatch(r'-?\d{1,15}', value) else None) if s.get('type') == 'integer' else value
            look(seen, s, name, bad)
            if name == 'process' and 'enum' not in s and any(v not in ('washed', 'natural', 'honey') for v in value.split(',')):
                bad.append(1)
            if bad and not bug('er-filter-any'):
                raise Refusal('bad_parameter', [name], told)
    once = h.headers.get('Once-Key') if op == 'create lot' and not bug('id-once-none') else None
    key, print_ = (('all' if bug('id-once-shared') else caller.id), once), hashlib.sha256(target.encode() + json.dumps(body, sort_keys=True).encode()).hexdigest()
    if once:
        had = ONCE.get(key)
        if had and now() < had[0] + (1 if bug('id-once-hour') else 24) * HOUR:
            if had[1] != print_ and not bug('id-once-any'):
                raise Refusal('once_reused', None, told)
            return had[2]
    try:
        status, out, headers = run(q)
        commit()
    except Refusal as r:
        take_back()
        r.headers.update(told)
        raise
    except Exception:
        take_back()
        raise
    if 'ETag' in headers and method == 'GET' and h.headers.get('If-None-Match'):
        tags = [t.strip().removeprefix('W/') for t in h.headers['If-None-Match'].split(',')]
        if (headers['ETag'] in tags or '*' in tags) and not bug('en-no-304'):
            return 304, None, {**headers, **told}
    result = status, out, {**headers, **told}
    if once:
        ONCE[key] = (now(), print_, result)
    return result


class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def serve(self):
        length = int(self.headers.get('Content-Length') or 0)
        if 'chunked' in self.headers.get('Transfer-Encoding', ''):
            raw = b''
            while True:
                n = int(self.rfile.readline().split(b';')[0], 16)
                raw += self.rfile.read(n)
                self.rfile.readline()
                if n == 0 or len(raw) > 1 << 20:
                    break
            length = len(raw)
        else:
            raw = self.rfile.read(min(length, 1 << 20))
        if length > 1 << 20:
            self.close_connection = True
        try:
            with LOCK:
                due()
                status, out, headers = answer(self, raw, length)
        except Refusal as r:
            named = r.headers.pop('named', '')
            status, text = CODES[r.code]
            error = {'code': r.code, 'number': 400 if bug('er-number') else status, 'text': text.format(named) if named or '{}' in text else text}
            if r.violations and not bug('er-no-spots'):
                where = 'query' if r.code in ('bad_parameter', 'bad_page') else 'body'
                error['spots'] = [{'in': where, 'path': p} for p in r.violations]
            out = {'error': error, 'request': 'req_' + some(10)}
            if bug('er-no-request'):
                out.pop('request')
            if bug('er-flat'):
                out = {**error, 'request': out['request']}
            headers = r.headers
        except Exception as e:
            if os.environ.get('CUPPING_LOUD'):
                import traceback
                traceback.print_exc()
            status, out, headers = 500, {'error': {'code': 'spilt', 'number': 500, 'text': CODES['spilt'][1]}, 'request': 'req_' + some(10)}, {}
        data = b'' if out is None else json.dumps(out, ensure_ascii=False).encode()
        self.send_response(status)
        if out is not None:
            self.send_header('Content-Type', 'text/json' if bug('en-text-json') else 'application/json')
        if status not in (204, 304):
            self.send_header('Content-Length', str(len(data)))
        self.send_header('Vary', 'Spoon')
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != 'HEAD' and status not in (204, 304):
            self.wfile.write(data)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = serve

    def log_message(self, *_):
        pass


class Door(BaseHTTPRequestHandler):
    """Tells the time, and moves it forward."""
    protocol_version = 'HTTP/1.1'

    def say(self, status, out):
        data = json.dumps(out).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.say(200, {'now': iso(now())})

    def do_POST(self):
        global SKEW
        raw = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        try:
            b = json.loads(raw)
            (name, value), = b.items()
            if name == 'now':
                by = datetime.fromisoformat(value.replace('Z', '+00:00')).timestamp() - now()
            elif name == 'advance':
                y, mo, w, d, hh, mm, ss = (float(x or 0) for x in re.fullmatch(r'P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?', value).groups())
                there = datetime.fromtimestamp(now(), timezone.utc)
                months = there.month - 1 + int(y) * 12 + int(mo)
                year, month = there.year + months // 12, months % 12 + 1
                last = (datetime(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)).day
                by = there.replace(year=year, month=month, day=min(there.day, last)).timestamp() - there.timestamp() + w * 7 * DAY + d * DAY + hh * HOUR + mm * 60 + ss
            else:
                raise ValueError
        except Exception:
            return self.say(400, {'wrong': 'advance or now'})
        if by < 0:
            return self.say(422, {'wrong': 'only forward'})
        with LOCK:
            SKEW += by
            due()
            deliver()
        return self.say(200, {'now': iso(now())})

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


if __name__ == '__main__':
    server = Server(('127.0.0.1', ARGS.port), Handler)
    line = f'the room is open at http://127.0.0.1:{server.server_address[1]}{PREFIX}'
    if ARGS.clock_port is not None:
        door = Server(('127.0.0.1', ARGS.clock_port), Door)
        threading.Thread(target=door.serve_forever, daemon=True).start()
        line += f', its clock at http://127.0.0.1:{door.server_address[1]}/'
    threading.Thread(target=beat, daemon=True).start()
    print(line, flush=True)
    server.serve_forever()
