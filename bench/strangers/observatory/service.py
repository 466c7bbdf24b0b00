"""Lantern Hill Observatory: python3 service.py --port N --clock-port N [--fault NAME]"""
import base64
import hashlib
import hmac
import json
import math
import os
import re
import random
import string
import sys
import threading
import time
import traceback
import urllib.parse
import uuid
from collections import deque
from datetime import datetime, timedelta, timezone
from email.utils import formatdate

sys.dont_write_bytecode = True

import wire
from fault import on
from shapes import DERIVED, FIELDS, RUN_STATES, down, fields_of, fits, instant, same, time_of
from told import Bells, Streams, matches

BASE = '/dome'
EDITIONS = ['e1', 'e2']
SUNSET = instant('2027-06-01T00:00:00Z')
SECRET = os.environ.get('OBSERVATORY_SECRET', 'the-stars-are-not-a-secret-2026').encode()
LOCK = threading.RLock()
CHANGED = threading.Condition(LOCK)

KEYS = {
    'dome_adaadaadaadaadaadaad': ('astronomer', 'ada', []),
    'dome_belabelabelabelabela': ('astronomer', 'bela', []),
    'dome_danadanadanadanadana': ('director', 'dana', ['domes']),
    'dome_emilemilemilemilemil': ('director', 'emil', []),
}
REVOKED = {'dome_goneGONEgoneGONEgone': ('astronomer', 'bela', [])}

CONDITIONS = {
    'request.malformed': ('garbled', 400), 'request.parameter': ('garbled', 400), 'request.media': ('wrong_type', 415),
    'request.accept': ('not_offered', 406), 'request.invalid': ('unfit', 422), 'caller.unknown': ('who_are_you', 401),
    'caller.forbidden': ('not_yours', 403), 'resource.missing': ('nowhere', 404), 'route.unknown': ('nowhere', 404),
    'reference.missing': ('nowhere', 422), 'method.unsupported': ('no_such_way', 405), 'resource.exists': ('taken', 409),
    'reference.held': ('held', 409), 'transition.illegal': ('wrong_state', 409), 'precondition.failed': ('stale', 412),
    'precondition.required': ('say_which', 428), 'idempotency.reused': ('key_reused', 422), 'limit.rate': ('too_fast', 429),
    'limit.quota': ('spent', 429), 'limit.size': ('too_large', 413), 'limit.page': ('bad_page', 400), 'limit.time': ('too_slow', 408),
    'version.unknown': ('no_edition', 400), 'version.sunset': ('gone_edition', 410), 'internal': ('broken', 500),
}
OWN = {
    'slot_taken': (409, ''), 'starts_past': (409, 'It would have started already.'),
    'no_hours': (409, 'The telescope has not so many hours left.'),
    'too_early': (409, 'The dome opens an hour before a run, not earlier.'), 'not_booked': (409, ''), 'too_late': (409, ''),
    'retired': (409, 'The telescope is retired.'), 'overgranted': (409, 'More hours are granted than that.'),
    'not_observing': (423, 'The run is not observing.'),
}


class Refused(Exception):
    def __init__(self, why, spots=(), headers=(), own=False):
        super().__init__(why)
        self.why, self.spots, self.headers, self.own = why, list(spots), list(headers), own

    def told(self):
        if self.why in OWN:
            status, says = OWN[self.why]
            return self.why, 409 if self.why == 'not_observing' and on('not-observing-409') else status, says
        code, status = CONDITIONS[self.why]
        if self.why == 'reference.missing' and on('missing-reference-404'):
            status = 404
        if self.why == 'reference.missing' and on('missing-reference-unfit'):
            code = 'unfit'
        if self.why == 'precondition.failed' and on('stale-is-409'):
            status = 409
        return code, status, ''


# ---- the clock

class Clock:
    ahead = 0.0

    def now(self):
        return time.time() + self.ahead


CLOCK = Clock()


def now():
    return CLOCK.now()


def stamp(at):
    return datetime.fromtimestamp(math.floor(at * 1000 + 0.5) / 1000, timezone.utc).strftime('%Y-%m-%dT%H:%M:%S.%f')[:-3] + 'Z'


# ---- what is kept

ROWS = {kind: {} for kind in FIELDS}
COUNTERS = {'run': 0}
RUNS_AT, FRAMES_OF = {}, {}  # telescope -> its runs, run -> its frames
EVENTS = deque()
KEPT_KEYS = {}
RATES, BUCKETS, QUOTAS = {}, {}, {}


def runs_at(code):
    return list(RUNS_AT.get(code, {}).values())


def frames_of(number):
    return list(FRAMES_OF.get(number, {}).values())


def derived(kind, row):
    if kind == 'telescope':
        mine = runs_at(row['code'])
        counted = ['booked'] if on('granted-forgets-observing') else ['booked', 'observing']
        granted = sum(run['hours'] for run in mine if run['state'] in counted)
        proposals = row['_made'] if on('proposals-never-fall') else len(mine)
        found = {'granted': granted, 'hours_left': row['hours'] - granted, 'proposals': proposals}
        if mine or on('longest-of-none'):
            found['longest'] = max([run['hours'] for run in mine], default=0)
        return found
    if kind == 'run':
        mine = frames_of(row['no'])
        total = math.fsum(frame['seconds'] for frame in mine if frame['good'] or on('exposure-of-all'))
        if on('frames-counts-good'):
            mine = [frame for frame in mine if frame['good']]
        return {'frames': len(mine), 'exposure': int(total) if total == int(total) else total}
    return {}


def whole(kind, row):
    return {**row, **derived(kind, row)} if kind in DERIVED else dict(row)


def shown(kind, full, user, edition, first=False):
    """A row as somebody may see it in an edition."""
    result = {}
    for told, name, rule in fields_of(kind, edition):
        if name is None:
            if not on('old-site-missing'):
                result[told] = 'hill'
            continue
        if name not in full or (rule.get('wo') and not (on('seal-shown') and name == 'seal')):
            continue
        if rule.get('once') and not first and not (name == 'door_code' and on('door-code-again')):
            continue
        if rule.get('see') and user != rule['see'] and not (name == 'note' and on('note-for-all')):
            continue
        result[told] = down(kind, name, full[name], edition)
    return result


def parent_of(kind, row):
    return ROWS['run'].get(row['run']) if kind == 'frame' else None


# ---- who may what

OWN_RUN = ['list run', 'read run', 'read summary', 'update run', 'replace run', 'delete run', 'submit run', 'renew run', 'open run', 'close run',
           'withdraw run']
RULES = [
    (['list telescope', 'read telescope'], None, [], None),
    (['create telescope', 'update telescope'], ['director'], [], None),
    (['retire telescope', 'reopen telescope', 'delete telescope'], ['director'], ['domes'], None),
    (['create run'], ['astronomer'], [], None),
    (OWN_RUN, ['astronomer'], [], lambda row, parent, who: row['astronomer'] == who['id']),
    (['list run', 'read run', 'read summary'], ['astronomer'], [], lambda row, parent, who: row['shared']),
    (['list run', 'read run', 'read summary', 'accept run', 'reject run'], ['director'], [], None),
    (['create frame', 'list frame', 'read frame', 'delete frame'], ['astronomer'], [],
     lambda row, parent, who: parent is not None and parent['astronomer'] == who['id']),
    (['list frame', 'read frame'], ['director'], [], None),
    (['list report', 'read report'], ['astronomer'], [], lambda row, parent, who: row['astronomer'] == who['id']),
    (['list report', 'read report'], ['director'], [], None),
    (['create bell', 'stream events'], ['astronomer', 'director'], [], None),
    (['list bell', 'read bell', 'update bell', 'delete bell'], ['astronomer', 'director'], [],
     lambda row, parent, who: row['owner'] == who['id']),
]


def rules_for(operation, who):
    for operations, users, scopes, test in RULES:
        if operation in operations and (users is None or who is not None and who['user'] in users):
            if all(scope in who['scopes'] for scope in scopes) or (operation == 'reopen telescope' and on('reopen-without-scope')):
                yield test


def allowed(operation, row, who, parent=None):
    if operation == 'read report' and on('reports-of-all'):
        return True
    if operation == 'read frame' and on('shared-frames-read') and parent and parent['shared']:
        return True
    if operation in ('list bell',) and on('bells-of-all'):
        return True
    if operation == 'withdraw run' and on('withdraw-by-readers') and row['shared']:
        return True
    return any(test is None or test(row, parent, who) for test in rules_for(operation, who))


def may_read(kind, row, who, parent=None):
    if kind == 'frame' and parent is None:
        parent = parent_of(kind, row)
    return allowed(f'read {kind}', row, who, parent)


def b64(text):
    return base64.urlsafe_b64decode(text + '=' * (-len(text) % 4))


def who_by_token(text):
    try:
        head, body, sign = text.split('.')
        header, claims = json.loads(b64(head)), json.loads(b64(body))
        good = hmac.new(SECRET, f'{head}.{body}'.encode(), hashlib.sha256).digest()
        if header.get('alg') != 'HS256' or 'crit' in header:
            return None
        if not hmac.compare_digest(good, b64(sign)) and not on('signature-unchecked'):
            return None
        audience = claims.get('aud')
        if claims.get('iss') != 'https://stars.example':
            return None
        if 'lantern-hill' != audience and not (isinstance(audience, list) and 'lantern-hill' in audience) and not on('audience-unchecked'):
            return None
        at = now()
        if 'exp' in claims and at >= claims['exp'] + 5 and not on('expired-tokens'):
            return None
        if 'nbf' in claims and at < claims['nbf'] - 5:
            return None
        user, scope = claims['post'], claims.get('scope', '')
        if on('token-directors') and user == 'director':
            user = 'astronomer'
        if user not in ('astronomer', 'director') or not isinstance(claims['sub'], str):
            return None
        return {'user': user, 'id': claims['sub'], 'scopes': scope.split(' ') if scope else [], 'until': claims.get('exp')}
    except Exception:
        return None


def who_by_key(text):
    if on('keys-any-case'):
        found = next((who for key, who in KEYS.items() if key.lower() == text.lower()), None)
    else:
        found = KEYS.get(text) or (REVOKED.get(text) if on('revoked-key-good') else None)
    return found and {'user': found[0], 'id': found[1], 'scopes': found[2], 'until': None}


def caller_of(request, accept, anyone):
    shown_by = []
    if 'key' in accept and 'x-dome-key' in request.headers:
        values = request.headers['x-dome-key']
        shown_by.append(who_by_key(values[0]) if len(values) == 1 else None)
    if 'token' in accept and 'authorization' in request.headers:
        values = request.headers['authorization']
        found = re.fullmatch(r'bearer +(\S+)', values[0], re.I) if len(values) == 1 else None
        by_key = who_by_key(found[1]) if found and on('key-as-bearer') else None
        shown_by.append(by_key or (who_by_token(found[1]) if found else None))
    if not shown_by:
        if anyone:
            return None
        raise Refused('caller.unknown', headers=challenges(accept, False))
    if on('first-credential-counts'):
        shown_by = shown_by[:1]
    if any(who is None for who in shown_by) or len({(who['user'], who['id']) for who in shown_by}) > 1:
        if anyone and on('bad-key-anonymous'):
            return None
        raise Refused('caller.unknown', headers=challenges(accept, True))
    return {**shown_by[0], 'scopes': sorted({scope for who in shown_by for scope in who['scopes']})}


def challenges(accept, bad):
    found = []
    if 'token' in accept:
        found.append(('WWW-Authenticate', 'Bearer realm="Lantern Hill Observatory"' + (', error="invalid_token"' if bad else '')))
    if 'key' in accept:
        found.append(('WWW-Authenticate', 'ApiKey realm="Lantern Hill Observatory", in="header", name="X-Dome-Key"' + (', error="invalid_key"' if bad else '')))
    return found


# ---- rates and quotas

def count_rates(operation, who, peer):
    at = now()
    key = (who['user'], who['id']) if who else ('', peer)
    if on('rate-by-user') and who:
        key = (who['user'], '')
    window = RATES.setdefault(key, deque())
    while window and window[0] <= at - 60:
        window.popleft()
    waits = []
    most = 330 if on('rate-330') else 300
    if len(window) >= most:
        waits.append(window[len(window) - most] + 60 - at)
    bucket = None
    if operation == 'create frame' and who and who['user'] == 'astronomer':
        bucket = BUCKETS.setdefault('all' if on('bucket-for-all') else key, [40.0, at])
        capacity = 30 if on('bucket-without-burst') else 40
        bucket[0] = min(capacity, bucket[0] + (at - bucket[1]) * 30 / 60)
        bucket[1] = at
        if bucket[0] < 1 - 1e-9:
            waits.append((1 - bucket[0]) * 2)
    if waits:
        headers = [] if on('no-retry-after') else [('Retry-After', str(max(1, math.ceil(max(waits)))))]
        raise Refused('limit.rate', headers=headers)
    window.append(at)
    if bucket is not None:
        bucket[0] -= 1


def quota_key(who):
    day = math.floor(now() / (3600 if on('quota-by-hour') else 86400))
    return (who['user'], who['id'], day)


def check_quota(who):
    key = quota_key(who)
    used = QUOTAS.get(key, 0)
    if used >= (41 if on('quota-41') else 40):
        left = (math.floor(now() / 86400) + 1) * 86400 - now()
        raise Refused('limit.quota', headers=[('Retry-After', str(max(1, math.ceil(left))))])


# ---- events

def emit(kind, rkind, full, data=None):
    at = now()
    parent = parent_of(rkind, full)
    event = {'id': 'evt_' + uuid.uuid4().hex, 'kind': kind, 'at': at, 'rkind': rkind, 'key': full[IDS[rkind]], 'row': dict(full),
             'parent': dict(parent) if parent else None, 'data': data}
    while EVENTS and EVENTS[0]['at'] < at - 6 * 3600 and not on('stream-keeps-all'):
        EVENTS.popleft()
    EVENTS.append(event)
    for bell in list(ROWS['bell'].values()):
        if bell['live'] and matches(bell['kinds'], kind) and receives(event, bell['_maker']):
            BELLS.add(bell, event)
            if kind == 'run.booked' and on('booked-rings-twice'):
                BELLS.add(bell, {**event, 'id': 'evt_' + uuid.uuid4().hex})
    CHANGED.notify_all()


def receives(event, who):
    if on('stream-of-all') and event['rkind'] == 'run':
        return True
    return may_read(event['rkind'], event['row'], who, event['parent'])


def message(event, who, edition):
    user = 'director' if on('events-show-grade') else who['user']
    thing = event['data'] if event['data'] is not None else shown(event['rkind'], event['row'], user, edition)
    if on('envelope-seconds'):
        return {'no': event['id'], 'what': event['kind'], 'at': stamp(math.floor(event['at'])).replace('.000', ''), 'thing': thing}
    return {'no': event['id'], 'what': event['kind'], 'at': stamp(event['at']), 'thing': thing}


IDS = {'telescope': 'code', 'run': 'no', 'frame': 'id', 'report': 'id', 'bell': 'id'}


# ---- changes

def refresh(kind, row):
    if 'changed_at' in FIELDS[kind]:
        row['changed_at'] = stamp(now())


LETTERS = string.ascii_lowercase + string.digits
CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'


def ulid():
    value = int(now() * 1000) << 80 | random.getrandbits(80)
    return ''.join(CROCKFORD[value >> 5 * at & 31] for at in range(25, -1, -1))


def exact_exists(kind, row, but=None):
    """Whether unique values of a row are taken."""
    for other in ROWS[kind].values():
        if other is but:
            continue
        if kind == 'telescope':
            fold = (lambda text: text) if on('names-by-case') else str.lower
            if other['code'] == row['code'] or fold(other['name']) == fold(row['name']):
                return True
        if kind == 'run':
            if other['astronomer'] == row['astronomer'] and other['title'] == row['title'] and not (but is not None and on('title-taken-by-update')):
                return True
            live = ('submitted', 'booked', 'observing')
            if on('slot-of-submitted'):
                live = ('submitted',)
            if row['state'] in live and other['state'] in live and row['telescope'] == other['telescope']:
                if on('slot-by-text'):
                    if row['starts_at'] == other['starts_at']:
                        return True
                elif time_of(row['starts_at']) == time_of(other['starts_at']):
                    return True
    return False


def others_first(name):
    """With this fault others come in between a look and the change that relies on it."""
    if on(name):
        LOCK.release()
        time.sleep(0.05)
        LOCK.acquire()


def create_telescope(call, body):
    row, spots = fits('telescope', body, call.edition, 'create')
    refuse_unfit(spots)
    row['state'] = 'ready'
    if exact_exists('telescope', row):
        raise Refused('resource.exists')
    row['_made'] = 0
    refresh('telescope', row)
    ROWS['telescope'][row['code']] = row
    return row


def refuse_unfit(spots):
    if spots:
        if on('spots-top-only'):
            spots = ['/' + spot.split('/')[1] if spot else spot for spot in spots]
        raise Refused('request.invalid', spots)


def create_run(call, body):
    row, spots = fits('run', body, call.edition, 'create')
    refuse_unfit(spots)
    telescope = ROWS['telescope'].get(row['telescope'])
    if telescope is None:
        raise Refused('reference.missing', ['/telescope'])
    if telescope['state'] == 'retired' and not on('retired-takes-runs'):
        raise Refused('retired', own=True)
    row.update(astronomer=call.who['id'], state='drafted')
    if on('state-sent-counts') and isinstance(body.get('state'), str) and body['state'] in RUN_STATES:
        row['state'] = body['state']
    if exact_exists('run', row):
        raise Refused('resource.exists')
    others_first('titles-raced')
    COUNTERS['run'] = max(ROWS['run'], default=0) + 1 if on('numbers-again') else COUNTERS['run'] + 1
    telescope['_made'] += 1
    at = stamp(now())
    row = {'no': COUNTERS['run'], **row, 'door_code': uuid.uuid4().hex[:16], 'made_at': at, 'changed_at': at, '_in': now()}
    ROWS['run'][row['no']] = RUNS_AT.setdefault(row['telescope'], {})[row['no']] = row
    if on('made-told'):
        emit('run.made', 'run', whole('run', row))
    return row


def create_frame(call, body):
    run = call.parent
    row, spots = fits('frame', body, call.edition, 'create')
    if isinstance(body, dict) and 'run' in body and '/run' not in spots and body['run'] != run['no']:
        spots.append('/run')
    refuse_unfit(spots)
    row['run'] = run['no']
    if not allowed('create frame', row, call.who, run):
        raise Refused('caller.forbidden')
    if run['state'] != 'observing' and not (run['state'] == 'booked' and on('frames-when-booked')):
        raise Refused('not_observing', own=True)
    row = {'id': str(uuid.uuid4()), **row, 'taken_at': stamp(now())}
    ROWS['frame'][row['id']] = FRAMES_OF.setdefault(row['run'], {})[row['id']] = row
    if row['good'] or on('bad-frames-told'):
        emit('frame.taken', 'frame', row)
    return row


def create_bell(call, body):
    row, spots = fits('bell', body, call.edition, 'create')
    refuse_unfit(spots)
    name = 'bell-' + ''.join(random.choices(LETTERS, k=12))
    row = {'id': name, **row, 'owner': call.who['id'], 'secret': base64.b64encode(random.randbytes(32)).decode(),
           '_maker': {**call.who}, '_edition': call.edition}
    ROWS['bell'][name] = row
    return row


def create_report(run):
    full = whole('run', run)
    frames = full['frames']
    if on('report-of-good'):
        frames = sum(1 for frame in frames_of(run['no']) if frame['good'])
    row = {'id': 'rep_' + ulid(), 'run': run['no'], 'astronomer': run['astronomer'], 'frames': frames, 'exposure': full['exposure'],
           'written_at': stamp(now())}
    ROWS['report'][row['id']] = row
    if not on('report-silent'):
        emit('report.written', 'report', row)


def move(run, name, to, request=None):
    run['state'] = to
    if not (name == 'renew' and on('renew-in-vain')):
        run['_in'] = now()
    if not on('changed-at-forgets-moves'):
        refresh('run', run)
    if name == 'accept':
        run['grade'] = int(request['grade'])
    if name == 'reject':
        run['reason'] = request['reason']
    full = whole('run', run)
    if name == 'submit':
        emit('run.submitted', 'run', full)
    elif name == 'accept':
        emit('run.booked', 'run', full)
    elif name in ('close', 'withdraw', 'call_off', 'lapse') and not (name == 'lapse' and on('lapse-silent')):
        if not (name == 'call_off' and on('call-off-silent')):
            emit('run.over', 'run', full, {'run': run['no'], 'state': to if not on('over-tells-no-blank') or to != 'blank' else 'done'})
    if name == 'close' and (to == 'done' or on('blank-reported')):
        create_report(run)
        if on('report-twice'):
            create_report(run)


def transition_run(call, name, request):
    run = call.row
    state = run['state']
    if name == 'submit':
        if state != 'drafted':
            raise Refused('transition.illegal')
        if time_of(run['starts_at']) <= now() and not on('submit-past'):
            raise Refused('starts_past')
        if exact_exists('run', {**run, 'state': 'submitted'}, run):
            raise Refused('resource.exists' if on('slot-taken-unnamed') else 'slot_taken')
        check_quota(call.who)
        QUOTAS[quota_key(call.who)] = QUOTAS.get(quota_key(call.who), 0) + 1
        move(run, name, 'submitted')
    elif name == 'renew':
        if state != 'submitted':
            raise Refused('transition.illegal')
        move(run, name, 'submitted')
    elif name == 'accept':
        if state != 'submitted' and not (state == 'drafted' and on('accept-drafted')):
            raise Refused('transition.illegal')
        telescope = ROWS['telescope'][run['telescope']]
        left = derived('telescope', telescope)['hours_left'] - (0 if on('hours-oversold') else run['hours'])
        if left < 0:
            if on('refused-accept-told'):
                emit('run.booked', 'run', whole('run', run))
            raise Refused('no_hours')
        others_first('hours-raced')
        move(run, name, 'booked', request)
    elif name == 'reject':
        if state != 'submitted':
            raise Refused('transition.illegal')
        move(run, name, 'withdrawn' if on('reject-withdraws') else 'drafted', request)
    elif name == 'open':
        if state != 'booked':
            raise Refused('transition.illegal' if on('not-booked-unnamed') else 'not_booked')
        if now() < time_of(run['starts_at']) - (7200 if on('open-two-hours') else 3600):
            raise Refused('too_early')
        move(run, name, 'observing')
    elif name == 'close':
        if state != 'observing':
            raise Refused('transition.illegal')
        move(run, name, 'done' if derived('run', run)['frames'] > (1 if on('one-frame-blank') else 0) else 'blank')
    elif name == 'withdraw':
        good = ('drafted', 'submitted') if on('booked-stays') else ('drafted', 'submitted', 'booked')
        if state not in good:
            raise Refused('too_late')
        move(run, name, 'withdrawn')


def transition_telescope(call, name):
    row = call.row
    if row['state'] != ('ready' if name == 'retire' else 'retired') and not (name == 'reopen' and on('reopen-ready')):
        raise Refused('transition.illegal')
    row['state'] = 'retired' if name == 'retire' else 'ready'
    refresh('telescope', row)
    if name == 'retire':
        emit('telescope.retired', 'telescope', whole('telescope', row))
        good = ('submitted', 'booked') if on('drafts-not-called-off') else ('drafted', 'submitted', 'booked')
        for run in runs_at(row['code']):
            if run['state'] in good:
                move(run, 'call_off', 'withdrawn')


def delete_row(kind, row):
    if kind == 'telescope':
        held = runs_at(row['code'])
        if on('held-by-live-only'):
            held = [run for run in held if run['state'] not in ('withdrawn', 'lapsed')]
        if held:
            raise Refused('reference.held')
    if kind == 'run':
        for frame in frames_of(row['no']):
            if not on('cascade-silent'):
                emit('frame.lost', 'frame', frame)
            del ROWS['frame'][frame['id']]
        FRAMES_OF.pop(row['no'], None)
        RUNS_AT[row['telescope']].pop(row['no'])
        for report in [report for report in ROWS['report'].values() if report['run'] == row['no']]:
            if not on('reports-stay'):
                del ROWS['report'][report['id']]
    if kind == 'frame':
        emit('frame.lost', 'frame', row)
        FRAMES_OF[row['run']].pop(row['id'])
    if kind == 'bell':
        BELLS.drop(row)
    ROWS[kind].pop(row[IDS[kind]], None)


def change(call, kind, body, mode):
    row = call.row
    before = dict(row)
    plain = {name: value for name, value in row.items() if not name.startswith('_')}
    after, spots = fits(kind, body, call.edition, mode, plain)
    refuse_unfit(spots)
    if mode == 'update' and kind == 'run' and row['state'] not in ('drafted', 'submitted') and not (row['state'] == 'booked' and on('booked-editable')):
        raise Refused('transition.illegal')
    if mode == 'replace' and row['state'] != 'drafted' and not (row['state'] == 'submitted' and on('submitted-replaceable')):
        raise Refused('transition.illegal')
    if kind == 'telescope' and after['hours'] < derived('telescope', row)['granted'] and not on('overgranted-unchecked'):
        raise Refused('overgranted')
    if exact_exists(kind, after, row):
        raise Refused('resource.exists')
    if same(after, plain):
        if on('idle-patch-stamps'):
            refresh(kind, row)
        return
    hidden = {name: value for name, value in row.items() if name.startswith('_')}
    row.clear()
    row.update(after)
    row.update(hidden)
    if kind == 'run' and row['telescope'] != before['telescope']:
        RUNS_AT[before['telescope']].pop(row['no'])
        RUNS_AT.setdefault(row['telescope'], {})[row['no']] = row
    refresh(kind, row)
    if kind == 'run' and on('update-puts-off'):
        row['_in'] = now()
    if kind == 'bell' and not row['live']:
        BELLS.drop(row)
    if kind == 'run' and (on('moved-always') or time_of(row['starts_at']) != time_of(before['starts_at'])):
        if not (mode == 'replace' and on('replace-moves-silently')):
            emit('run.moved', 'run', whole('run', row))


def lapse_due():
    hours = 73 if on('lapse-after-73h') else 72
    due = [(run['_in'] + hours * 3600, run['no'], run) for run in ROWS['run'].values() if run['state'] == 'submitted']
    for at, _, run in sorted(due, key=lambda one: one[:2]):
        if at <= now():
            move(run, 'lapse', 'lapsed')


# ---- reading requests

class Call:
    who = row = parent = key = None
    edition = 'e2'

    def __init__(self, request):
        self.request = request
        self.query = {}
        self.bad_query = []


def endpoint(method, path, operation, **more):
    return {'method': method, 'steps': path.strip('/').split('/'), 'operation': operation, **more}


PAGE = ('skip', 'take')
ENDPOINTS = [
    endpoint('GET', '/notice', 'read notice', public=True),
    endpoint('POST', '/telescopes', 'create telescope', body=True),
    endpoint('GET', '/telescopes', 'list telescope', anyone=True, query=('mount', 'state', 'hours_left_from', *PAGE)),
    endpoint('GET', '/telescopes/{code}', 'read telescope', anyone=True, etag=True),
    endpoint('PATCH', '/telescopes/{code}', 'update telescope', body=True, etag=True, match='required'),
    endpoint('DELETE', '/telescopes/{code}', 'delete telescope', accept=('token',)),
    endpoint('POST', '/telescopes/{code}/retire', 'retire telescope'),
    endpoint('POST', '/telescopes/{code}/reopen', 'reopen telescope'),
    endpoint('POST', '/runs', 'create run', body=True, repeat=True),
    endpoint('GET', '/runs', 'list run', query=('state', 'telescope', 'band', 'title', 'hours_to', 'starts_before', 'sort', *PAGE)),
    endpoint('GET', '/runs/{no}', 'read run', etag=True),
    endpoint('GET', '/runs/{no}/summary', 'read summary'),
    endpoint('PATCH', '/runs/{no}', 'update run', body=True, etag=True, match='accepted'),
    endpoint('PUT', '/runs/{no}', 'replace run', body=True, etag=True, match='accepted'),
    endpoint('DELETE', '/runs/{no}', 'delete run'),
    *[endpoint('POST', '/runs/{no}/' + name, name + ' run', body=name in ('accept', 'reject'))
      for name in ('submit', 'renew', 'accept', 'reject', 'open', 'close', 'withdraw')],
    endpoint('POST', '/runs/{run}/frames', 'create frame', body=True, repeat=True),
    endpoint('GET', '/runs/{run}/frames', 'list frame', query=('filter', 'good', 'past', 'until', 'take')),
    endpoint('GET', '/frames/{id}', 'read frame'),
    endpoint('DELETE', '/runs/{run}/frames/{id}', 'delete frame'),
    endpoint('GET', '/reports', 'list report', query=PAGE),
    endpoint('GET', '/reports/{id}', 'read report'),
    endpoint('POST', '/bells', 'create bell', body=True),
    endpoint('GET', '/bells', 'list bell'),
    endpoint('GET', '/bells/{id}', 'read bell'),
    endpoint('PATCH', '/bells/{id}', 'update bell', body=True),
    endpoint('DELETE', '/bells/{id}', 'delete bell'),
    endpoint('GET', '/events', 'stream events'),
]


def steps_of(path):
    if on('reports-beside-base') and path.startswith(('/reports', BASE + '/reports')):
        return path[1:].split('/') if not path.startswith(BASE) else None
    if not path.startswith(BASE + '/'):
        return None
    if on('slash-at-end') and path.endswith('/'):
        path = path[:-1]
    return path[len(BASE) + 1:].split('/')


def find_endpoint(call):
    path, _, query = call.request.target.partition('?')
    call.path = path
    raw = steps_of(path)
    try:
        steps = raw and [urllib.parse.unquote(step, errors='strict') for step in raw]
    except UnicodeDecodeError:
        steps = None
    if not steps or '' in steps:
        raise Refused('route.unknown')
    read_query(call, query)
    edition = call.query.get('edition')
    fitting = [one for one in ENDPOINTS if len(one['steps']) == len(steps)
               and all(wanted.startswith('{') or wanted == given for wanted, given in zip(one['steps'], steps))]
    if edition == 'e1' and not on('old-summary'):
        fitting = [one for one in fitting if one['operation'] != 'read summary']
    if not fitting:
        raise Refused('route.unknown')
    found = next((one for one in fitting if one['method'] == call.request.method), None)
    if on('put-as-patch') and call.request.method == 'PUT' and fitting[0]['operation'].endswith('telescope'):
        found = next((one for one in fitting if one['method'] == 'PATCH'), found)
    if found is None:
        raise Refused('method.unsupported', headers=[('Allow', ', '.join(sorted({one['method'] for one in fitting})))])
    if edition is not None and edition not in EDITIONS and not on('edition-unknown-passes'):
        raise Refused('version.unknown')
    if call.edition_twice:
        raise Refused('version.unknown')
    if edition in EDITIONS:
        call.edition = edition
    elif on('oldest-by-default'):
        call.edition = 'e1'
    if call.edition == 'e1' and now() >= SUNSET and not on('sunset-ignored'):
        raise Refused('version.sunset')
    call.endpoint = found
    call.params = {wanted[1:-1]: given for wanted, given in zip(found['steps'], steps) if wanted.startswith('{')}


def read_query(call, query):
    call.edition_twice = False
    for piece in query.split('&') if query else []:
        if not piece:
            continue
        name, _, value = piece.partition('=')
        try:
            name, value = (urllib.parse.unquote(text.replace('+', ' '), errors='strict') for text in (name, value))
        except UnicodeDecodeError:
            call.bad_query.append(name)
            continue
        if name in call.query:
            call.bad_query.append(name)
            call.edition_twice = call.edition_twice or name == 'edition'
        call.query[name] = value


def accepts(request, wanted):
    given = ','.join(request.headers.get('accept', []))
    if not given.strip():
        return True
    best = (-1, 0.0)
    for part in given.split(','):
        kind, *more = [piece.strip().lower() for piece in part.split(';')]
        quality = 1.0
        for piece in more:
            if piece.startswith('q='):
                try:
                    quality = float(piece[2:])
                except ValueError:
                    quality = 0.0
        exact = 2 if kind == wanted else 1 if kind == wanted.split('/')[0] + '/*' else 0 if kind == '*/*' else -1
        if exact > best[0]:
            best = (exact, quality)
    return best[0] >= 0 and best[1] > 0


def body_of(call):
    request, found = call.request, call.endpoint
    if request.too_large and not found.get('body'):
        raise Refused('limit.size')
    if not found.get('body'):
        return None
    given = request.header('content-type')
    if given is None and not request.body and not request.too_large:
        raise Refused('request.malformed')
    kind, *more = [piece.strip().lower() for piece in (given or '').split(';')]
    good = ['application/json']
    if found['method'] == 'PATCH':
        good.append('application/merge-patch+json')
    if (kind not in good and not on('any-media')) or any(piece.startswith('charset=') and piece[8:].strip('"') not in ('utf-8', 'utf8') for piece in more):
        raise Refused('request.media')
    if (request.header('content-encoding') or 'identity').lower() != 'identity':
        raise Refused('request.media')
    if request.too_large:
        raise Refused('limit.size')
    try:
        def no_constant(text):
            raise ValueError(text)

        def finite(text):
            value = float(text)
            if math.isinf(value):
                raise ValueError(text)
            return value
        told = json.loads(request.body.decode('utf-8'), parse_constant=no_constant, parse_float=finite)
        wire.compact(told)  # half a character cannot be told again
        return told
    except (ValueError, RecursionError):
        raise Refused('request.malformed') from None


BAND = {'e1': ['optical', 'infrared', 'radio'], 'e2': ['visual', 'infrared', 'radio']}


def parameters_of(call):
    """Looks at the query; the page last."""
    known = ['edition', *call.endpoint.get('query', ())]
    if call.edition == 'e1' and 'title' in known:
        known[known.index('title')] = 'label'
    stray = [name for name in call.query if name not in known]
    if on('stray-on-reports') and call.endpoint['operation'] == 'list report':
        stray = []
    bad = stray + [name for name in call.bad_query if name not in ('skip', 'take', 'past', 'until')]
    for name, value in call.query.items():
        good = True
        if name == 'mount':
            good = value in ('alt_az', 'equatorial')
        elif name == 'state':
            good = value in (RUN_STATES if call.endpoint['operation'] == 'list run' else ('ready', 'retired'))
        elif name == 'band' and not on('old-band-filter'):
            good = value in BAND[call.edition]
        elif name == 'filter':
            good = value in ('u', 'g', 'r', 'i', 'z')
        elif name == 'good':
            good = value in ('true', 'false')
        elif name in ('hours_to', 'hours_left_from'):
            good = re.fullmatch(r'-?[0-9]{1,15}', value) is not None
        elif name == 'starts_before':
            good = instant(value) is not None
        elif name == 'sort':
            good = value in ('hours', '-hours', 'starts_at', '-starts_at')
        if not good and name not in stray:
            bad.append(name)
    if bad:
        raise Refused('request.parameter', sorted(set(bad)))
    wrong = [name for name in call.bad_query if name in ('skip', 'take', 'past', 'until')]
    most = 20 if call.endpoint['operation'] == 'list frame' else 50
    call.take = most_by_default(call)
    call.skip = 0
    if 'take' in call.query and 'take' in known:
        text = call.query['take']
        if not re.fullmatch(r'[0-9]{1,15}', text) or int(text) < 1:
            wrong.append('take')
        elif int(text) > most:
            if call.endpoint['operation'] == 'list frame' and not on('frames-page-refused'):
                call.take = most
            elif on('page-of-any-size'):
                call.take = int(text)
            else:
                wrong.append('take')
        else:
            call.take = int(text)
    if 'skip' in call.query and 'skip' in known:
        text = call.query['skip']
        if not re.fullmatch(r'[0-9]{1,15}', text):
            wrong.append('skip')
        else:
            call.skip = int(text)
    if 'past' in call.query and 'until' in call.query and 'past' in known:
        wrong += ['past', 'until']
    if wrong:
        raise Refused('limit.page', sorted(set(wrong)))


def most_by_default(call):
    if call.endpoint['operation'] == 'list frame':
        return 5
    return 20 if on('twenty-by-default') else 10


# ---- answers

def tag_of(kind, row, user, edition):
    full = whole(kind, row)
    if on('tag-without-derived'):
        full = {name: value for name, value in full.items() if name not in DERIVED.get(kind, ())}
    text = wire.compact([edition, shown(kind, full, user, edition)])
    return '"' + hashlib.sha256(text).hexdigest()[:20] + '"'


def preconditions(call, kind):
    found, request = call.endpoint, call.request
    if not found.get('match'):
        return
    given = request.headers.get('if-match')
    if given is None:
        if found['match'] == 'required' and not on('match-not-required'):
            raise Refused('precondition.required')
        return
    if kind == 'run' and on('match-ignored'):
        return
    tags = [tag.strip() for tag in ','.join(given).split(',')]
    if '*' in tags:
        return
    mine = {tag_of(kind, call.row, call.who['user'], call.edition)}
    if kind == 'telescope':
        mine.add(tag_of(kind, call.row, None, call.edition))
    if not mine & set(tags):
        raise Refused('precondition.failed')
    others_first('match-raced')


def load(call, kind, text, operation):
    key = text
    if kind == 'run':
        key = int(text) if re.fullmatch(r'[1-9][0-9]{0,17}', text) else None
    row = ROWS[kind].get(key)
    if row is None:
        raise Refused('resource.missing')
    parent = parent_of(kind, row)
    if not may_read(kind, row, call.who, parent):
        raise Refused('caller.forbidden' if on('foreign-forbidden') and kind == 'run' else 'resource.missing')
    if not allowed(operation, row, call.who, parent):
        raise Refused('caller.forbidden')
    return row


def load_parent(call):
    text = call.params['run']
    run = ROWS['run'].get(int(text)) if re.fullmatch(r'[1-9][0-9]{0,17}', text) else None
    if run is None or not may_read('run', run, call.who):
        if not (run is not None and call.endpoint['operation'] == 'list frame' and on('foreign-parent-empty')):
            raise Refused('resource.missing')
    call.parent = run


def one(call, kind, row, status=200, first=False, location=None):
    user = call.who['user'] if call.who else None
    headers = []
    if location:
        headers.append(('Location', location))
    if call.endpoint.get('etag'):
        tag = tag_of(kind, row, user, call.edition)
        headers.append(('ETag', tag))
        given = ','.join(call.request.headers.get('if-none-match', []))
        if call.request.method == 'GET' and given:
            tags = [piece.strip().removeprefix('W/') for piece in given.split(',')]
            if '*' in tags or tag in tags:
                return 304, headers, b''
    return status, headers, wire.compact(shown(kind, whole(kind, row), user, call.edition, first))


def listed(call, kind, rows):
    user = call.who['user'] if call.who else None
    operation = f'list {kind}'
    seen = [row for row in rows if allowed(operation, row, call.who, parent_of(kind, row))
            or (on('state-filter-leaks') and kind == 'run' and 'state' in call.query)]
    if kind == 'telescope':
        return [(row, whole(kind, row)) for row in seen], lambda pair: shown(kind, pair[1], user, call.edition)
    return [(row, row) for row in seen], lambda pair: shown(kind, whole(kind, pair[1]), user, call.edition)


def by_offset(call, pairs, show):
    page = pairs[call.skip:call.skip + call.take]
    more = call.skip + call.take < len(pairs)
    if on('more-on-full-page'):
        more = len(page) == call.take
    count = len(page) if on('count-of-page') else len(pairs)
    if on('skip-counts-pages') and call.skip:
        page = pairs[call.skip * call.take:(call.skip + 1) * call.take]
    return 200, [], wire.compact({'rows': [show(pair) for pair in page], 'count': count, 'more': more})


def list_telescopes(call):
    query = call.query
    pairs, show = listed(call, 'telescope', ROWS['telescope'].values())
    if 'mount' in query:
        pairs = [pair for pair in pairs if pair[1]['mount'] == query['mount']]
    if 'state' in query:
        pairs = [pair for pair in pairs if pair[1]['state'] == query['state']]
    if 'hours_left_from' in query:
        name = 'hours' if on('hours-left-by-hours') else 'hours_left'
        pairs = [pair for pair in pairs if pair[1][name] >= int(query['hours_left_from'])]
    if not on('telescopes-by-creation'):
        pairs.sort(key=lambda pair: pair[1]['code'])
    return by_offset(call, pairs, show)


def list_runs(call):
    query = call.query
    pairs, show = listed(call, 'run', ROWS['run'].values())
    for name in ('state', 'telescope'):
        if name in query:
            pairs = [pair for pair in pairs if pair[1][name] == query[name]]
    if 'band' in query:
        band = 'visual' if call.edition == 'e1' and query['band'] == 'optical' and not on('old-band-filter') else query['band']
        pairs = [pair for pair in pairs if pair[1]['band'] == band]
    part = query.get('label' if call.edition == 'e1' else 'title')
    if part is not None:
        if on('title-any-case'):
            pairs = [pair for pair in pairs if part.lower() in pair[1]['title'].lower()]
        elif on('title-prefix'):
            pairs = [pair for pair in pairs if pair[1]['title'].startswith(part)]
        else:
            pairs = [pair for pair in pairs if part in pair[1]['title']]
    if 'hours_to' in query:
        most = int(query['hours_to']) - (1 if on('hours-to-below') else 0)
        pairs = [pair for pair in pairs if pair[1]['hours'] <= most]
    if 'starts_before' in query:
        if on('starts-as-text'):
            pairs = [pair for pair in pairs if pair[1]['starts_at'] < query['starts_before']]
        else:
            pairs = [pair for pair in pairs if time_of(pair[1]['starts_at']) < time_of(query['starts_before'])]
    sort = query.get('sort')
    if sort:
        name = sort.lstrip('-')
        key = (lambda pair: str(pair[1]['hours']) if on('hours-as-text') else pair[1]['hours']) if name == 'hours' \
            else (lambda pair: time_of(pair[1]['starts_at']))
        pairs.sort(key=key, reverse=sort.startswith('-'))  # stable either way: ties stay as they were made
    return by_offset(call, pairs, show)


def list_frames(call):
    query = call.query
    pairs, show = listed(call, 'frame', frames_of(call.parent['no']))
    if 'filter' in query:
        pairs = [pair for pair in pairs if pair[1]['filter'] == query['filter']]
    if 'good' in query and not (query['good'] == 'false' and on('good-false-ignored')):
        pairs = [pair for pair in pairs if pair[1]['good'] == (query['good'] == 'true')]
    if not on('frames-by-creation'):
        pairs.sort(key=lambda pair: pair[1]['seconds'], reverse=True)
    names = [pair[1]['id'] for pair in pairs]
    cursor = query.get('past', query.get('until'))
    if cursor is not None and cursor not in names:
        raise Refused('limit.page', ['past' if 'past' in query else 'until'])
    if 'until' in query:
        at = names.index(cursor)
        start = max(0, at - call.take)
        if on('until-from-start'):
            page, more = pairs[:min(at, call.take)], at > call.take
        else:
            page, more = pairs[start:at], start > 0
    else:
        start = names.index(cursor) + (0 if on('past-with-itself') else 1) if cursor is not None else 0
        page, more = pairs[start:start + call.take], start + call.take < len(pairs)
    return 200, [], wire.compact({'frames': [show(pair) for pair in page], 'more': more})


def action(call, body):
    """Steps 10 to 15, and the answer."""
    operation, params, request = call.endpoint['operation'], call.params, call.request
    verb, _, kind = operation.rpartition(' ')
    if operation == 'read notice':
        return 200, [], wire.compact({'dome': 'Lantern Hill', 'lamps': False})
    if verb == 'list':
        if kind == 'telescope':
            return list_telescopes(call)
        if kind == 'run':
            return list_runs(call)
        if kind == 'frame':
            load_parent(call)
            return list_frames(call)
        pairs, show = listed(call, kind, ROWS[kind].values())
        if kind == 'bell':
            return 200, [], wire.compact({'bells': [show(pair) for pair in pairs]})
        if not on('reports-oldest-first'):
            pairs.sort(key=lambda pair: pair[1]['written_at'], reverse=True)
        return by_offset(call, pairs, show)
    if verb == 'create':
        if kind == 'frame':
            load_parent(call)
        row = {'telescope': create_telescope, 'run': create_run, 'frame': create_frame, 'bell': create_bell}[kind](call, body)
        location = f'{BASE}/{kind}s/{row[IDS[kind]]}'
        if kind == 'frame' and on('location-below-run'):
            location = f'{BASE}/runs/{row["run"]}/frames/{row["id"]}'
        status = 200 if kind == 'bell' and on('bell-created-200') else 201
        return one(call, kind, row, status, True, location)
    if operation == 'read summary':
        full = whole('run', load(call, 'run', params['no'], operation))
        place = ROWS['telescope'][full['telescope']]['name'] if on('summary-tells-name') else full['telescope']
        return 200, [], wire.compact({'run': full['no'], 'place': place, 'state': full['state'], 'frames': full['frames']})
    if operation == 'delete frame':
        load_parent(call)
    call.row = load(call, kind, params[IDS[kind]], operation)
    if operation == 'delete frame':
        if call.row['run'] != call.parent['no']:
            raise Refused('resource.missing')
        if call.parent['state'] != 'observing' and not on('frames-deleted-late'):
            raise Refused('not_observing')
    if verb == 'read':
        return one(call, kind, call.row)
    preconditions(call, kind)
    if verb in ('update', 'replace'):
        change(call, kind, body, verb)
        return one(call, kind, call.row)
    if verb == 'delete':
        if kind == 'run' and call.row['state'] not in ('drafted', 'withdrawn', 'lapsed', 'blank', 'done') and \
                not (call.row['state'] == 'submitted' and on('submitted-deletable')):
            raise Refused('transition.illegal')
        full = one(call, kind, call.row) if on('deleted-bell-shown') and kind == 'bell' else None
        delete_row(kind, call.row)
        return full or (204, [], b'')
    if kind == 'telescope':
        transition_telescope(call, verb)
        return one(call, kind, call.row)
    if verb == 'reject' and on('reject-broken'):
        raise Refused('internal')
    if verb in ('accept', 'reject') and not (on('state-before-shape') and call.row['state'] != 'submitted'):
        check_stated(verb, body)
    transition_run(call, verb, body)
    return one(call, kind, call.row)


def check_stated(verb, body):
    spots = []
    name = 'grade' if verb == 'accept' else 'reason'
    if not isinstance(body, dict):
        refuse_unfit([''])
    value = body.get(name)
    if verb == 'accept':
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value) or not 1 <= value <= 5:
            spots.append('/grade')
    elif not isinstance(value, str) or not (4 if on('reason-of-four') else 5) <= len(value) <= 120:
        spots.append('/reason')
    if not (verb == 'accept' and on('accept-takes-more')):
        spots += ['/' + other for other in body if other != name]
    refuse_unfit(spots)


def repeated(call, body):
    """Step 9: what was answered before under this key, or None; notes where to keep what comes."""
    values = call.request.headers.get('repeat-key')
    if not call.endpoint.get('repeat') or not values:
        return None
    who = ('', '') if on('keys-of-everybody') else (call.who['user'], call.who['id'])
    call.key = (*who, call.endpoint['operation'], values[0])
    print_of = json.dumps([None if on('print-without-path') else call.path, sorted(item for item in call.query.items() if item[0] != 'edition'), call.edition,
                           None if on('print-without-body') else body], sort_keys=True)
    call.print = print_of
    kept = KEPT_KEYS.get(call.key)
    if kept is None or kept['until'] <= now():
        others_first('keys-raced')
        return None
    if kept['print'] != print_of:
        raise Refused('idempotency.reused')
    return kept


def keep(call, answer, later):
    if call.key:
        hours = 1 if on('keys-for-an-hour') else 6
        KEPT_KEYS[call.key] = {'print': call.print, 'until': now() + hours * 3600, 'answer': answer, 'later': later}


def hide_once(body):
    told = json.loads(body)
    if not on('replay-shows-code'):
        told.pop('door_code', None)
    return wire.compact(told)


def failed(refused):
    code, status, says = refused.told()
    trace = uuid.uuid4().hex
    fault = {'name': code, 'number': status, 'says': says or code.replace('_', ' '), 'trace': trace}
    if refused.why == 'route.unknown' and on('no-trace-on-404'):
        del fault['trace']
    if status == 429 and on('fault-number-text'):
        fault['number'] = str(status)
    return status, [*refused.headers], wire.compact({'fault': fault, 'spots': refused.spots})


def deprecated(call):
    path, _, query = call.request.target.partition('?')
    rest = [piece for piece in query.split('&') if piece and not piece.startswith('edition=')]
    address = path + '?' + '&'.join([*rest, 'edition=e2'])
    found = [('Deprecation', '@1772323200'), ('Sunset', formatdate(SUNSET, usegmt=True)),
             ('Link', '<https://lanternhill.example/editions>; rel="deprecation"'), ('Link', f'<{address}>; rel="successor-version"')]
    if on('no-sunset-header'):
        found = [pair for pair in found if pair[0] != 'Sunset']
    if on('deprecation-as-date'):
        found[0] = ('Deprecation', 'Sun, 01 Mar 2026 00:00:00 GMT')
    return found


def handle(request, sock):
    call = Call(request)
    with LOCK:
        lapse_due()
        try:
            status, headers, body = answer(call, sock)
        except Refused as refused:
            status, headers, body = failed(refused)
        except Exception:
            traceback.print_exc()
            status, headers, body = failed(Refused('internal'))
    if status is None:
        STREAMS.run(sock, call, message, receives, deprecated(call) if call.edition == 'e1' else [])
        return None
    if call.edition == 'e1' and not (status >= 400 and on('refusals-not-deprecated')):
        headers = [*headers, *deprecated(call)]
    if body:
        headers = [('Content-Type', 'application/json'), *headers]
    return status, [('Date', formatdate(usegmt=True)), ('Vary', 'X-Dome-Key, Authorization'), *headers], body


def answer(call, sock):
    request = call.request
    if len(request.target.encode('latin-1')) > (4096 if on('long-addresses') else 2048) or (request.header_bytes > 8192 and not on('long-headers')):
        raise Refused('limit.size')
    if request.target == '*' or not request.target.startswith('/'):
        raise Refused('route.unknown')
    find_endpoint(call)
    found = call.endpoint
    operation = found['operation']
    accept = found.get('accept', ('key', 'token'))
    if on('key-deletes-telescopes'):
        accept = ('key', 'token')
    if not found.get('public'):
        call.who = caller_of(request, accept, found.get('anyone'))
    count_rates(operation, call.who, request.peer)
    if not found.get('public') and not list(rules_for(operation, call.who)):
        raise Refused('caller.forbidden')
    if found['method'] != 'DELETE' and not accepts(request, 'text/event-stream' if operation == 'stream events' else 'application/json'):
        raise Refused('request.accept')
    body = body_of(call)
    parameters_of(call)
    if operation == 'stream events':
        return None, [], b''
    kept = repeated(call, body)
    if kept:
        status, headers, told = kept['later']
        return status, headers, told
    try:
        result = action(call, body)
    except Refused as refused:
        if operation == 'submit run' and on('quota-counts-refused'):
            QUOTAS[quota_key(call.who)] = QUOTAS.get(quota_key(call.who), 0) + 1
        if refused.own and call.key:
            result = failed(refused)
            keep(call, result, result)
            return result
        raise
    if call.key and result[0] < 300:
        keep(call, result, (result[0], result[1], hide_once(result[2])))
    return result


# ---- the door of the clock

def clock_door(request, sock):
    def told(status=200):
        return status, [('Content-Type', 'application/json')], wire.compact({'now': stamp(now())})
    if request.method == 'GET':
        return told()
    if request.method != 'POST':
        return told(400)
    try:
        asked = json.loads(request.body)
        with LOCK:
            at = now()
            if 'now' in asked:
                to = instant(asked['now'])
                if to is None:
                    return told(400)
            else:
                to = later(at, asked['advance'])
            if to < at - 0.001:
                return told(422)
            CLOCK.ahead += max(0.0, to - at)
            lapse_due()
            CHANGED.notify_all()
        BELLS.poke()
        return told()
    except Exception:
        return told(400)


def later(at, text):
    found = re.fullmatch(r'P(?:([0-9]+)Y)?(?:([0-9]+)M)?(?:([0-9]+)W)?(?:([0-9]+)D)?(?:T(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:\.[0-9]+)?)S)?)?', text)
    if not found or text in ('P', 'PT') or text.endswith('T'):
        raise ValueError(text)
    years, months, weeks, days, hours, minutes = (int(part or 0) for part in found.groups()[:6])
    seconds = float(found[7] or 0)
    moment = datetime.fromtimestamp(at, timezone.utc)
    if years or months:
        count = moment.year * 12 + moment.month - 1 + years * 12 + months
        year, month = divmod(count, 12)
        last = (datetime(year + (month == 11), (month + 1) % 12 + 1, 1) - timedelta(days=1)).day
        moment = moment.replace(year=year, month=month + 1, day=min(moment.day, last))
    return moment.timestamp() + weeks * 604800 + days * 86400 + hours * 3600 + minutes * 60 + seconds


def told_of(what):
    status, headers, body = failed(Refused({'late': 'limit.time', 'long': 'limit.size'}.get(what, 'request.malformed')))
    return wire.answer_bytes(status, [('Content-Type', 'application/json'), *headers, ('Connection', 'close')], body)


def most_body(how):
    if how == 'chunked' and on('chunks-unlimited'):
        return 1 << 20
    return 16383 if on('body-16383') else 16384


def disable(bell):
    with LOCK:
        if bell['id'] in ROWS['bell']:
            bell['live'] = False


BELLS = Bells(LOCK, now, message, disable)
STREAMS = Streams(CHANGED, EVENTS, now)


def main():
    port = int(sys.argv[sys.argv.index('--port') + 1])
    wire.serve(port, handle, told_of, most_body)
    if '--clock-port' in sys.argv:
        wire.serve(int(sys.argv[sys.argv.index('--clock-port') + 1]), clock_door, told_of, lambda how: 65536)
    BELLS.start()
    while True:
        time.sleep(0.1)
        with LOCK:
            lapse_due()


if __name__ == '__main__':
    main()
