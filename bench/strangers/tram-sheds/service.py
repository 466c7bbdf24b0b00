#!/usr/bin/env python3
"""Tram sheds: the service of a museum tramway, in memory, as service.yaml describes it."""
import argparse
import asyncio
import base64
import hashlib
import heapq
import hmac
import json
import os
import random
import re
import string
import time
from datetime import datetime, timedelta, timezone
from urllib.parse import unquote_to_bytes, urlsplit
from zoneinfo import ZoneInfo

ap = argparse.ArgumentParser()
ap.add_argument('--port', type=int, required=True)
ap.add_argument('--clock-port', type=int, required=True)
ap.add_argument('--fault', default='')
ARGS = ap.parse_args()


def X(fault):
    return ARGS.fault == fault


BASE = '/sheds'
REALM = 'Tram sheds'
UTC = timezone.utc
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# ---------------------------------------------------------------- time


class Clock:
    """Goes on like any other, and can be put forward."""

    def __init__(self):
        self.base = int(time.time() * 1000)
        self.mono = time.monotonic()

    def now(self):
        return self.base + int((time.monotonic() - self.mono) * 1000)

    def set(self, ms):
        self.base, self.mono = ms, time.monotonic()


CLOCK = Clock()


def iso(ms):
    d = EPOCH + timedelta(milliseconds=ms)
    return d.strftime('%Y-%m-%dT%H:%M:%S.') + '%03dZ' % (ms % 1000)


DT = re.compile(r'(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)\Z', re.A)


def instant(text):
    """Microseconds since 1970 of an RFC 3339 date-time, or None."""
    m = DT.match(text) if isinstance(text, str) else None
    if not m:
        return None
    y, mo, d, h, mi, s, frac, off = m.groups()
    try:
        leap = s == '60'
        t = datetime(int(y), int(mo), int(d), int(h), int(mi), 59 if leap else int(s), tzinfo=UTC)
        us = (t - EPOCH) // timedelta(microseconds=1) + (1000000 if leap else 0)
    except (ValueError, OverflowError):
        return None
    if frac:
        us += int((frac + '000000')[:6])
    if off not in 'Zz':
        oh, om = int(off[1:3]), int(off[4:6])
        if oh > 23 or om > 59:
            return None
        us -= (1 if off[0] == '+' else -1) * (oh * 60 + om) * 60000000
    return us


def is_date(text):
    if not re.match(r'\d{4}-\d\d-\d\d\Z', text, re.A):
        return False
    try:
        datetime.strptime(text, '%Y-%m-%d')
        return True
    except ValueError:
        return False


CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
_ulid = [0, 0]


def ulid():
    ms = CLOCK.now()
    if ms <= _ulid[0]:
        _ulid[1] += 1
    else:
        _ulid[0], _ulid[1] = ms, random.getrandbits(79)
    n = (_ulid[0] << 80) | (_ulid[1] & ((1 << 80) - 1))
    out = []
    for _ in range(26):
        out.append(CROCKFORD[n & 31])
        n >>= 5
    return ''.join(reversed(out))


ALNUM = string.ascii_letters + string.digits
rng = random.SystemRandom()


def chars(n, alphabet=ALNUM):
    return ''.join(rng.choice(alphabet) for _ in range(n))


# ---------------------------------------------------------------- who calls

class Caller:
    def __init__(self, scheme, credential, user, id, scopes, society):
        self.scheme, self.credential, self.user, self.id = scheme, credential, user, id
        self.scopes, self.society = frozenset(scopes), society
        self.name = (user, id)


CALLERS = [
    Caller('token', 'tst_Qm3v8KpYw2RtXc7LbN5dHs9JfZa4Ge6U', 'visitor', 'v_iris', ['tickets'], 'soc_friends'),
    Caller('token', 'tst_Bn7dVx2HqLs9TfWk4ZyRc8MgPj3Ea5Ut', 'visitor', 'v_joost', ['tickets'], 'soc_public'),
    Caller('token', 'tst_Kx4wPz8MtJd2YcQn6RbGv9LhSf3Ta7Eu', 'visitor', 'v_kay', [], 'soc_public'),
    Caller('token', 'tst_Wc5jRn9XkTb3GqHz7VdMy2PsLf8Ka4Ue', 'crew', 'c_lena', [], 'soc_tram'),
    Caller('token', 'tst_Hd8sLm4QvNx6JtBk2ZwCg9RyPf5Ta3Eu', 'crew', 'c_marc', [], 'soc_tram'),
    Caller('token', 'tst_Vt2gYk7ZqPw9LnXc4MbRd6HsJf3Ea8Ua', 'dispatcher', 'd_nora', [], 'soc_tram'),
    Caller('token', 'tst_Jz6bHx3RtVm8QkWd5NyLc2GsPf9Ta7Ue', 'dispatcher', 'd_otto', [], 'soc_tram'),
    Caller('token', 'tst_Nw9kTd5YvBq3XzMc7RhLg4JsPf2Ea6Uu', 'fitter', 'f_piet', [], 'soc_tram'),
    Caller('token', 'tst_Rf4nQx8KtLw2HbVd6ZyMc9GsJp3Ta5Ee', 'fitter', 'f_quin', [], 'soc_tram'),
    Caller('key', 'tsk_Lp7vXm3RqTz9KdWb5NyHc2GsJf8Ea4Uu', 'partner', 'p_ruth', ['loans'], 'soc_vale'),
    Caller('token', 'tst_Zk3mVb9WqRx5TdLn7HyGc4PsJf2Ea8Uo', 'partner', 'p_ruth', ['loans'], 'soc_vale'),
    Caller('key', 'tsk_Gy5tKx2VqNd8RbMw4LzHc7PsJf9Ta3Ue', 'partner', 'p_sven', ['loans'], 'soc_north'),
    Caller('key', 'tsk_Dx8qWn4LtVk6ZbRy2MhGc3PsJf5Ea7Uu', 'partner', 'p_tess', [], 'soc_vale'),
]
CREDENTIALS = {(c.scheme, c.credential): c for c in CALLERS}
ALL = ('visitor', 'crew', 'dispatcher', 'fitter', 'partner')

# ---------------------------------------------------------------- errors

CONDITIONS = {  # condition: (code, status)
    'request.malformed': ('unreadable', 400), 'request.parameter': ('unreadable', 400),
    'limit.page': ('wrong_page', 400), 'request.media': ('wrong_media', 415), 'request.accept': ('unacceptable', 406),
    'request.invalid.missing': ('missing_field', 400), 'request.invalid': ('invalid', 422),
    'caller.unknown': ('who_are_you', 401), 'caller.forbidden.scope': ('scope_lacking', 403),
    'caller.forbidden': ('not_yours', 403), 'resource.missing': ('not_found', 404), 'route.unknown': ('not_found', 404),
    'reference.missing': ('no_such_reference', 422), 'method.unsupported': ('not_allowed', 405),
    'resource.exists': ('taken', 409), 'reference.held': ('in_use', 409), 'transition.illegal': ('not_now', 409),
    'precondition.failed': ('changed', 412), 'precondition.required': ('tag_missing', 428),
    'idempotency.reused': ('key_reused', 422), 'limit.rate': ('too_many', 429), 'limit.quota': ('used_up', 403),
    'limit.size': ('too_large', 413), 'limit.size.url': ('url_too_long', 414), 'limit.time': ('too_slow', 408),
    'version.unknown': ('no_version', 400), 'version.sunset': ('old_version', 410), 'internal': ('broken', 500),
}
if X('er-held-400'):
    CONDITIONS['reference.held'] = ('in_use', 400)
OWN = {'tram_is_taken': 409, 'no_seats': 409, 'still_planned': 409, 'tram_not_ready': 409, 'too_late': 409,
       'sold_out': 409, 'jobs_left': 409, 'short_of_stock': 409, 'in_the_past': 422, 'tram_withdrawn': 409,
       'ride_is_over': 409, 'due_too_soon': 422}
MESSAGES = {
    'unreadable': 'The request cannot be read.', 'wrong_page': 'There is no such page.', 'wrong_media': 'Send JSON.',
    'unacceptable': 'Only JSON is told.', 'invalid': 'Something that was sent does not fit.',
    'who_are_you': 'Show a token or a key that is good.', 'scope_lacking': 'Your credential lacks a scope.',
    'not_yours': 'That is not for you to do.', 'not_found': 'There is no such thing.',
    'no_such_reference': 'It refers to something that is not there.', 'not_allowed': 'That cannot be done here.',
    'taken': 'There is one like that.', 'in_use': 'Something refers to it.', 'not_now': 'Not in the state that it is in.',
    'changed': 'It was changed meanwhile.', 'tag_missing': 'Send If-Match.',
    'key_reused': 'The key was used for another request.', 'too_many': 'Too many requests.',
    'used_up': 'There are as many as you may have.', 'too_large': 'That is too large.',
    'url_too_long': 'The address is too long.', 'too_slow': 'The request took too long to arrive.',
    'no_version': 'There is no such version.', 'old_version': 'That version is served no more.', 'broken': 'Something broke.',
    'tram_is_taken': 'The tram is in overhaul or withdrawn.', 'no_seats': 'A works car takes nobody.',
    'still_planned': 'Duties are planned for this tram.', 'tram_not_ready': 'The tram is not in service.',
    'too_late': 'It is too late for that.', 'sold_out': 'There are not so many places left.',
    'jobs_left': 'Some jobs are not done.', 'short_of_stock': 'There are not so many in the store.',
    'in_the_past': 'It would have begun already.', 'tram_withdrawn': 'The tram has been withdrawn.',
    'ride_is_over': 'No tickets are sold for this duty.', 'due_too_soon': 'A part is lent for a day at least.',
}


class Refuse(Exception):
    """A condition of the closed list, or a code of the service's own."""

    def __init__(self, what, details=None, headers=None):
        super().__init__(what)
        self.own = what in OWN
        self.code, self.status = (what, OWN[what]) if self.own else CONDITIONS[what]
        self.details, self.headers = details, headers or {}
        self.message = details[0]['path'] + ' is missing' if self.code == 'missing_field' else MESSAGES[self.code]


# ---------------------------------------------------------------- resources

KINDS = ['single_deck', 'double_deck', 'trailer', 'works_car']
EVENT_KINDS = ['tram.renamed', 'tram.withdrawn', 'duty.planned', 'duty.dropped', 'ticket.paid', 'ticket.ended',
               'overhaul.finished', 'part.changed', 'loan.moved', 'loan.overdue']


def S(**kw):
    return dict(type='string', **kw)


def I(**kw):
    return dict(type='integer', **kw)


BERTH = {'shed': dict(S(enum=['north', 'south', 'museum']), required=True), 'track': dict(I(minimum=1, maximum=12), required=True)}
JOB_FIELDS = {
    'position': I(minimum=1, maximum=99, required=True),
    'work': S(minLength=1, maxLength=200, required=True),
    'hours': I(minimum=1, maximum=200, required=True),
    'done': dict(type='boolean', default=False, required=True),
}
FIELDS = {
    'tram': {
        'id': S(ro=True), 'fleet_number': I(minimum=1, maximum=9999, required=True),
        'name': S(minLength=2, maxLength=60, required=True), 'kind': S(enum=KINDS, required=True),
        'livery': S(maxLength=40, default='cream', required=True), 'built': I(minimum=1860, maximum=2100, required=True),
        'seats': I(minimum=0, maximum=120, required=True), 'berth': dict(type='berth', fields=BERTH),
        'odometer_km': I(minimum=0, default=0, writable=['fitter'], required=True),
        'workshop_note': S(maxLength=400, visible=['fitter', 'dispatcher'], writable=['fitter']),
        'condition': S(ro=True), 'duties_ahead': I(ro=True), 'changed_at': S(ro=True),
    },
    'duty': {
        'id': S(ro=True), 'number': I(ro=True), 'tram': S(ref='tram', immutable=True, required=True),
        'line': S(enum=['heath', 'quay', 'circular'], required=True), 'starts_at': S(format='date-time', required=True),
        'ends_at': S(format='date-time', required=True), 'places': I(minimum=1, maximum=120, default=40, required=True),
        'places_left': I(ro=True), 'driver': S(ro=True, visible=['crew', 'dispatcher']), 'cancelled_for': S(ro=True),
        'status': S(ro=True),
    },
    'ticket': {
        'id': S(ro=True), 'reference': S(ro=True), 'duty': S(ref='duty', immutable=True, required=True), 'buyer': S(ro=True),
        'name': S(minLength=1, maxLength=60, required=True), 'email': S(format='email'),
        'places': I(minimum=1, maximum=8, default=1, required=True),
        'fare': S(enum=['adult', 'child', 'family'], default='adult', required=True), 'price_pence': I(ro=True),
        'gate_code': S(ro=True, reveal=True), 'status': S(ro=True), 'paid_at': S(ro=True),
    },
    'overhaul': {
        'id': S(ro=True), 'tram': S(ref='tram', immutable=True, required=True), 'title': S(minLength=3, maxLength=80, required=True),
        'lead': S(ro=True), 'due_on': S(format='date'), 'jobs': dict(type='children', fields=JOB_FIELDS, maxItems=10),
        'hours': I(ro=True), 'jobs_open': I(ro=True), 'status': S(ro=True), 'finished_at': S(ro=True),
    },
    'job': dict({'id': S(ro=True), 'overhaul': S(ref='overhaul', immutable=True, required=True)}, **JOB_FIELDS),
    'part': {
        'id': S(ro=True), 'sku': S(pattern=re.compile(r'[A-Z]{2}-[0-9]{4}\Z', re.A), shown='^[A-Z]{2}-[0-9]{4}$', required=True),
        'name': S(minLength=2, maxLength=80, required=True),
        'fits': dict(type='array', items=S(enum=KINDS), minItems=1, maxItems=4, required=True),
        'shelf': S(maxLength=20), 'on_hand': I(minimum=0, maximum=1000, required=True),
        'weight_kg': dict(type='number', above=0), 'fee_pence': I(minimum=0, maximum=1000000, required=True),
        'lendable': dict(type='boolean', default=True, required=True), 'loans_out': I(ro=True),
    },
    'loan': {
        'id': S(ro=True), 'part': S(ref='part', immutable=True, required=True), 'society': S(ro=True),
        'pieces': I(minimum=1, maximum=10, default=1, required=True),
        'purpose': S(enum=['running', 'display', 'casting'], required=True), 'due_at': S(format='date-time', required=True),
        'fee_pence': I(ro=True), 'status': S(ro=True),
    },
    'hook': {
        'id': S(ro=True), 'owner': S(ro=True), 'url': S(format='uri', maxLength=300, required=True),
        'events': dict(type='array', items=S(format='kind'), minItems=1, maxItems=10),
        'enabled': dict(type='boolean', default=True, required=True), 'secret': S(ro=True, reveal=True),
    },
}
if X('re-fleet-maximum'):
    FIELDS['tram']['fleet_number'].pop('maximum')
PREFIX = {'tram': 'trm_', 'duty': 'dty_', 'ticket': 'tkt_', 'overhaul': 'ovh_', 'job': 'job_', 'part': 'prt_', 'loan': 'lon_', 'hook': 'hok_'}
if X('re-hook-identifier'):
    PREFIX['hook'] = 'hook_'
PLURAL = {'tram': 'trams', 'duty': 'duties', 'ticket': 'tickets', 'overhaul': 'overhauls', 'job': 'jobs', 'part': 'parts', 'loan': 'loans', 'hook': 'hooks'}
STATE = {'tram': 'condition', 'duty': 'status', 'ticket': 'status', 'overhaul': 'status', 'loan': 'status'}
STATES = {
    'tram': ['stored', 'in_service', 'in_overhaul', 'withdrawn'],
    'duty': ['planned', 'manned', 'running', 'done', 'cancelled', 'lapsed'],
    'ticket': ['reserved', 'paid', 'used', 'refunded', 'expired'],
    'overhaul': ['drafted', 'working', 'finished', 'dropped'],
    'loan': ['requested', 'lent', 'overdue', 'returned', 'retracted'],
}
REFS = [('duty', 'tram'), ('ticket', 'duty'), ('overhaul', 'tram'), ('job', 'overhaul'), ('loan', 'part')]

# ---------------------------------------------------------------- the rows


class Row:
    __slots__ = ('res', 'id', 'f', 'seq', 'entered', 'fired', 'maker', 'version', 'failing')

    def __init__(self, res, id, f, seq):
        self.res, self.id, self.f, self.seq = res, id, f, seq
        self.entered, self.fired, self.maker, self.version, self.failing = None, frozenset(), None, None, None

    def copy(self):
        r = Row(self.res, self.id, dict(self.f), self.seq)
        r.entered, r.fired, r.maker, r.version, r.failing = self.entered, self.fired, self.maker, self.version, self.failing
        return r


STORE = {res: {} for res in FIELDS}
CHILDREN = {ref: {} for ref in REFS}
COUNTERS = {}
SEQ = [0]
TIMERS = []


def children(res, field, parent):
    ids = CHILDREN[(res, field)].get(parent)
    return [STORE[res][i] for i in sorted(ids, key=lambda i: STORE[res][i].seq)] if ids else []


def index(row, there):
    for ref in REFS:
        if ref[0] == row.res:
            group = CHILDREN[ref].setdefault(row.f[ref[1]], set())
            (group.add if there else group.discard)(row.id)


class Change:
    """A transaction: what is stored in it is stored wholly, or not at all."""

    def __init__(self, now, caller=None, request=None, version=None):
        self.now, self.caller, self.request, self.version = now, caller, request, version
        self.journal, self.counted, self.events = [], [], []

    def put(self, row):
        old = STORE[row.res].get(row.id)
        self.journal.append((row.res, row.id, old))
        if old is not None:
            index(old, False)
        STORE[row.res][row.id] = row
        index(row, True)
        arm(row)

    def remove(self, row):
        self.journal.append((row.res, row.id, row))
        index(row, False)
        del STORE[row.res][row.id]

    def draw(self, counter):
        self.counted.append((counter, COUNTERS.get(counter, 0)))
        COUNTERS[counter] = COUNTERS.get(counter, 0) + 1
        return COUNTERS[counter]

    def rollback(self):
        for res, id, old in reversed(self.journal):
            new = STORE[res].get(id)
            if new is not None:
                index(new, False)
                del STORE[res][id]
            if old is not None:
                STORE[res][id] = old
                index(old, True)
                arm(old)
        for counter, value in reversed(self.counted):
            COUNTERS[counter] = value

    def emit(self, kind, row, before, data=None):
        self.events.append((kind, row, before, data))

    def commit(self):
        for event in self.events:
            record(self.now, *event)
        if self.events:
            DELIVERIES.kick()


# ---- what is derived

def d_duties_ahead(row):
    return sum(1 for d in children('duty', 'tram', row.id) if d.f['status'] in ('planned', 'manned'))


def d_places_left(row):
    states = ('reserved', 'paid', 'used') if X('re-places-left') else ('paid', 'used')
    return row.f['places'] - sum(t.f['places'] for t in children('ticket', 'duty', row.id) if t.f['status'] in states)


DERIVED = {
    ('tram', 'duties_ahead'): d_duties_ahead,
    ('duty', 'places_left'): d_places_left,
    ('overhaul', 'hours'): lambda row: sum(j.f['hours'] for j in children('job', 'overhaul', row.id)),
    ('overhaul', 'jobs_open'): lambda row: sum(1 for j in children('job', 'overhaul', row.id) if not j.f['done']),
    ('part', 'loans_out'): lambda row: sum(1 for l in children('loan', 'part', row.id) if l.f['status'] in ('lent', 'overdue')),
}

# ---- the clock's transitions


def due_of(row, name):
    """When a transition of the clock is due for a row, in ms, or None."""
    if row.res == 'duty' and name == 'lapse' and row.f['status'] == 'planned':
        return -(-instant(row.f['starts_at']) // 1000)
    if row.res == 'ticket' and name == 'expire' and row.f['status'] == 'reserved':
        return row.entered + 30 * 60000
    if row.res == 'overhaul' and name == 'forget' and row.f['status'] == 'drafted':
        return row.entered + 30 * 86400000
    if row.res == 'loan' and name == 'fall_due' and row.f['status'] == 'lent':
        return -(-instant(row.f['due_at']) // 1000)
    return None


TIMED = {'duty': 'lapse', 'ticket': 'expire', 'overhaul': 'forget', 'loan': 'fall_due'}


def arm(row):
    name = TIMED.get(row.res)
    if name:
        due = due_of(row, name)
        if due is not None and (name, due) not in row.fired:
            if X('st-lapse-stale') and name == 'lapse' and any(t[3] == row.id for t in TIMERS):
                return
            heapq.heappush(TIMERS, (due, row.seq, row.res, row.id, name))


def next_timer():
    while TIMERS:
        due, seq, res, id, name = TIMERS[0]
        row = STORE[res].get(id)
        current = due_of(row, name) if row else None
        if X('st-lapse-stale') and name == 'lapse' and current is not None:
            current = due
        if current != due or (name, due) in row.fired:
            heapq.heappop(TIMERS)
            continue
        return due
    return None


def fire_timers(until):
    while True:
        due = next_timer()
        if due is None or due > until:
            return
        _, seq, res, id, name = heapq.heappop(TIMERS)
        row = STORE[res][id]
        change = Change(until)
        try:
            kept = row.copy()
            if name in ('lapse', 'fall_due'):
                kept.fired = kept.fired | {(name, due)}
            change.put(kept)
            move(change, kept, name)
            change.commit()
        except Refuse:
            change.rollback()
            r = STORE[res][id] = STORE[res][id].copy()
            r.fired = r.fired | {(name, due)}


# ---------------------------------------------------------------- transitions

def at_once(change, row, name):
    """Guards: None where it may be done, else what it is refused as."""
    f = row.f
    if row.res == 'tram' and name == 'enter' and not f['seats'] > 0:
        return 'no_seats'
    if row.res == 'tram' and name == 'withdraw' and d_duties_ahead(row) != 0:
        return 'still_planned'
    if row.res == 'duty' and name == 'begin' and not X('st-begin-unguarded') and STORE['tram'][f['tram']].f['condition'] != 'in_service':
        return 'tram_not_ready'
    if row.res == 'ticket' and name == 'pay' and not d_places_left(STORE['duty'][f['duty']]) >= f['places']:
        return 'sold_out'
    if row.res == 'ticket' and name == 'use' and STORE['duty'][f['duty']].f['status'] not in ('manned', 'running'):
        return 'transition.illegal'
    if row.res == 'overhaul' and name == 'finish' and DERIVED[('overhaul', 'jobs_open')](row) != 0:
        return 'jobs_left'
    if row.res == 'loan' and name == 'lend' and not STORE['part'][f['part']].f['on_hand'] >= f['pieces']:
        return 'short_of_stock'
    return None


TRANSITIONS = {  # (from, to, the error of a wrong state)
    ('tram', 'enter'): (['stored'], 'in_service', None), ('tram', 'stable'): (['in_service'], 'stored', None),
    ('tram', 'strip'): (['stored', 'in_service'], 'in_overhaul', 'tram_is_taken'), ('tram', 'release'): (['in_overhaul'], 'stored', None),
    ('tram', 'withdraw'): (['stored'], 'withdrawn', None),
    ('duty', 'take'): (['planned'], 'manned', None), ('duty', 'leave'): (['manned'], 'planned', None),
    ('duty', 'begin'): (['manned'], 'running', None), ('duty', 'end'): (['running'], 'done', None),
    ('duty', 'cancel'): (['planned', 'manned'], 'cancelled', 'too_late'), ('duty', 'lapse'): (['planned'], 'lapsed', None),
    ('ticket', 'pay'): (['reserved'], 'paid', None), ('ticket', 'use'): (['paid'], 'used', None),
    ('ticket', 'refund'): (['reserved', 'paid'], 'refunded', 'too_late'), ('ticket', 'expire'): (['reserved'], 'expired', None),
    ('overhaul', 'begin'): (['drafted'], 'working', None), ('overhaul', 'finish'): (['working'], 'finished', None),
    ('overhaul', 'forget'): (['drafted'], 'dropped', None),
    ('loan', 'lend'): (['requested'], 'lent', None), ('loan', 'hand_back'): (['lent', 'overdue'], 'returned', None),
    ('loan', 'retract'): (['requested'], 'retracted', 'too_late'), ('loan', 'fall_due'): (['lent'], 'overdue', None),
}
if X('st-withdraw-in-service'):
    TRANSITIONS[('tram', 'withdraw')] = (['stored', 'in_service'], 'withdrawn', None)
if X('er-refund-code'):
    TRANSITIONS[('ticket', 'refund')] = (['reserved', 'paid'], 'refunded', None)


def move(change, row, name):
    """A transition and all that follows from it."""
    res = row.res
    froms, to, otherwise = TRANSITIONS[(res, name)]
    if row.f[STATE[res]] not in froms:
        raise Refuse(otherwise or 'transition.illegal')
    blocked = at_once(change, row, name)
    if blocked:
        raise Refuse(blocked)
    new = row.copy()
    f = new.f
    f[STATE[res]] = to
    new.entered = change.now
    if res == 'tram':
        f['changed_at'] = iso(change.now)
    if res == 'duty' and name == 'take':
        f['driver'] = change.caller.id
    if res == 'duty' and name == 'leave':
        f.pop('driver', None)
    if res == 'duty' and name == 'cancel':
        f['cancelled_for'] = change.request['reason']
    if res == 'ticket' and name == 'pay':
        f['paid_at'] = iso(change.now)
    if res == 'overhaul' and name == 'finish':
        f['finished_at'] = iso(change.now)
    change.put(new)
    if res == 'tram' and name == 'withdraw':
        change.emit('tram.withdrawn', new, row)
    elif res == 'duty' and name in ('cancel', 'lapse'):
        change.emit('duty.dropped', new, row)
    elif res == 'ticket' and name == 'pay':
        change.emit('ticket.paid', new, row)
    elif res == 'ticket' and name in ('refund', 'expire'):
        if not (X('ev-expire-silent') and name == 'expire'):
            change.emit('ticket.ended', new, row)
    elif res == 'overhaul' and name == 'finish':
        change.emit('overhaul.finished', new, row)
    elif res == 'loan' and name in ('lend', 'hand_back'):
        change.emit('loan.moved', new, row)
    elif res == 'loan' and name == 'fall_due':
        change.emit('loan.overdue', new, row, {'loan': new.id, 'society': f['society'], 'pieces': f['pieces']})
    # what follows
    if res == 'duty' and name in ('cancel', 'lapse'):
        for ticket in children('ticket', 'duty', new.id):
            if ticket.f['status'] in (('reserved',) if X('st-cancel-paid') and name == 'cancel' else ('reserved', 'paid')):
                move(change, ticket, 'refund')
    elif res == 'overhaul' and name == 'begin':
        move(change, STORE['tram'][f['tram']], 'strip')
    elif res == 'overhaul' and name == 'finish':
        move(change, STORE['tram'][f['tram']], 'release')
    elif res == 'loan' and name in ('lend', 'hand_back'):
        if not (X('st-overdue-stock') and row.f['status'] == 'overdue'):
            restock(change, STORE['part'][f['part']], -f['pieces'] if name == 'lend' else f['pieces'])
    return new


def restock(change, part, by):
    new = part.copy()
    new.f['on_hand'] += by
    if not 0 <= new.f['on_hand'] <= 1000:
        raise Refuse('internal')
    change.put(new)
    change.emit('part.changed', new, part)


# ---------------------------------------------------------------- permissions

def is_driver(row, c):
    return row.f.get('driver') == c.id


def is_rider(row, c):
    return row.f['buyer'] == c.id


def drives_it(row, c):
    return STORE['duty'][row.f['duty']].f.get('driver') == c.id


def same_society(row, c):
    return row.f['society'] == c.society


def is_owner(row, c):
    return row.f['owner'] == c.id


def leads(row, c):
    return row.f['lead'] == c.id


PART_FIELDS = {'id', 'sku', 'name', 'fits', 'fee_pence', 'lendable'}
RULES = {}


def allow(ops, to, scopes=(), if_=None, fields=None):
    for op in ops.split(', '):
        RULES.setdefault(op, []).append((to if isinstance(to, (tuple, list)) else (to,), frozenset(scopes), if_, fields))


allow('list tram, read tram, list duty, read duty, list tram duties', 'anyone')
allow('create tram, update tram, delete tram, enter tram, stable tram, withdraw tram', 'fitter')
allow('enter tram, stable tram, update tram', 'dispatcher')
allow('create duty, update duty, delete duty, cancel duty', 'dispatcher')
allow('take duty', 'crew')
allow('leave duty, end duty', 'crew', if_=is_driver)
allow('begin duty', 'crew', if_=None if X('au-begin-anyone') else is_driver)
allow('create ticket', 'visitor', scopes=() if X('au-ticket-scope') else ['tickets'])
allow('list ticket, read ticket, update ticket, pay ticket, refund ticket', 'visitor', if_=is_rider)
allow('list ticket, read ticket, use ticket', 'crew', if_=drives_it)
allow('list ticket, read ticket, refund ticket', 'dispatcher')
allow('create overhaul, list overhaul, read overhaul, begin overhaul, create job, list job, read job, update job, delete job', 'fitter')
allow('update overhaul, finish overhaul', 'fitter', if_=leads)
allow('list overhaul, read overhaul, list job, read job', 'dispatcher')
allow('create part, list part, read part, replace part, delete part', 'fitter')
allow('list part', 'partner', if_=lambda r, c: r.f['lendable'], fields=PART_FIELDS)
allow('read part', 'partner', if_=None if X('au-part-lendable') else lambda r, c: r.f['lendable'], fields=PART_FIELDS)
allow('create loan', 'partner', scopes=['loans'])
allow('list loan', 'partner', if_=None if X('au-loan-list') else same_society)
allow('read loan, retract loan', 'partner', if_=same_society)
allow('list loan, read loan, lend loan, hand_back loan', 'fitter')
allow('create hook', ('visitor', 'dispatcher', 'fitter', 'partner'))
allow('read hook, update hook, delete hook', ('visitor', 'dispatcher', 'fitter', 'partner'), if_=is_owner)


def rules_for(op, caller):
    return [r for r in RULES.get(op, ()) if 'anyone' in r[0] or (caller and caller.user in r[0])]


def allowed(op, row, caller):
    return [r for r in rules_for(op, caller) if (not r[1] or (caller and r[1] <= caller.scopes)) and (not r[2] or r[2](row, caller))]


def may_read(row, caller):
    return bool(allowed('read ' + row.res, row, caller))


# ---------------------------------------------------------------- versions

V23, V24, V25 = '2023-04-01', '2024-04-01', '2025-04-01'
VERSIONS = [V23, V24, V25]
OLD_PURPOSE = {'display': 'exhibition'}
NEW_PURPOSE = {'exhibition': 'display'}


def http_date(text):
    d = datetime.strptime(text, '%Y-%m-%d').replace(tzinfo=UTC)
    return d.strftime('%a, %d %b %Y %H:%M:%S GMT')


def unix(text):
    return int(datetime.strptime(text, '%Y-%m-%d').replace(tzinfo=UTC).timestamp())


SUNSET_23 = unix('2027-06-01') * 1000


def away_from_zero(x):
    n = int(abs(x) + 0.5) if abs(x) < 1e15 else int(abs(x))
    if abs(x) < 1e15 and n - abs(x) > 0.5:
        n -= 1
    return n if x >= 0 else -n


def shape(res, version):
    """[(name in that version, name of the field, what is stated of it)]"""
    got = SHAPES.get((res, version))
    if got is None:
        got = []
        for name, spec in FIELDS[res].items():
            vname = name
            if res == 'duty' and name == 'line' and version == V23:
                vname = 'route'
            if res == 'tram' and name == 'livery' and version == V23:
                continue
            if res == 'part' and name == 'fee_pence' and version != V25:
                vname, spec = 'fee', {'type': 'number', 'required': True, 'map': 'fee'}
            if res == 'loan' and name == 'purpose' and version != V25:
                spec = dict(spec, enum=['running', 'exhibition', 'casting'], map='purpose')
            got.append((vname, name, spec))
        SHAPES[(res, version)] = got
    return got


SHAPES = {}


def down(spec, value):
    if spec.get('map') == 'fee':
        return value / 100.0
    if spec.get('map') == 'purpose':
        return OLD_PURPOSE.get(value, value)
    return value


# ---------------------------------------------------------------- reading what is sent

INVALID = object()
EMAIL = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*\Z")
URI = re.compile(r'[A-Za-z][A-Za-z0-9+.-]*:[!#$%&\'()*+,/:;=?@\[\]A-Za-z0-9_.~-]+\Z')


def found(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:199] + '…'


def violation(path, value, expected, kind='value', where='body'):
    return {'in': where, 'path': path, 'found': 'nothing' if kind == 'missing' else found(value), 'expected': expected, 'kind': kind}


def right_kind(text):
    if text == '*' or text in EVENT_KINDS:
        return True
    return text.endswith('.*') and any(k.startswith(text[:-1]) for k in EVENT_KINDS)


def right_url(text):
    if not URI.match(text):
        return False
    try:
        parts = urlsplit(text)
        return parts.scheme.lower() in ('http', 'https') and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def check(spec, value, path, out):
    """The value as it is stored, or INVALID with what is wrong in `out`."""
    kind = spec['type']

    def bad(expected, sort='value'):
        out.append(violation(path, value, expected, sort))
        return INVALID

    if kind == 'string':
        if not isinstance(value, str):
            return bad('a text', 'type')
        if 'enum' in spec and value not in spec['enum']:
            return bad('one of ' + ', '.join(spec['enum']))
        length = len(value.encode()) if X('re-name-bytes') and path == 'name' else len(value)
        if length < spec.get('minLength', 0):
            return bad('at least %d characters' % spec['minLength'])
        if 'maxLength' in spec and length > spec['maxLength']:
            return bad('at most %d characters' % spec['maxLength'])
        if 'pattern' in spec and not spec['pattern'].match(value):
            return bad('a text like ' + spec['shown'])
        form = spec.get('format')
        if form == 'date-time' and instant(value) is None:
            return bad('a date-time')
        if form == 'date' and not is_date(value):
            return bad('a date')
        if form == 'email' and not X('re-email') and not EMAIL.match(value):
            return bad('an email address')
        if form == 'uri' and not right_url(value):
            return bad('an address that speaks HTTP')
        if form == 'kind' and not X('ev-unknown-kind') and not right_kind(value):
            return bad('a kind of event')
        return value
    if kind in ('integer', 'number'):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return bad('a whole number' if kind == 'integer' else 'a number', 'type')
        if isinstance(value, float) and (value != value or value in (float('inf'), float('-inf'))):
            return bad('a number', 'type')
        if kind == 'integer' and isinstance(value, float):
            if value != int(value):
                return bad('a whole number', 'type')
            value = int(value)
        if 'minimum' in spec and value < spec['minimum']:
            return bad('at least %d' % spec['minimum'])
        if 'maximum' in spec and value > spec['maximum']:
            return bad('at most %d' % spec['maximum'])
        if 'above' in spec and not value > spec['above']:
            return bad('more than %d' % spec['above'])
        if spec.get('map') == 'fee':
            up = away_from_zero(value * 100.0) if abs(value) < 1e12 else -1
            if not 0 <= up <= 1000000:
                return bad('a fee from 0 to 10000')
            return up
        return value
    if kind == 'boolean':
        return value if isinstance(value, bool) else bad('true or false', 'type')
    if kind == 'array':
        if not isinstance(value, list):
            return bad('a list', 'type')
        if len(value) < spec['minItems']:
            return bad('at least %d items' % spec['minItems'])
        if len(value) > spec['maxItems']:
            return bad('at most %d items' % spec['maxItems'])
        items = [check(spec['items'], v, '%s.%d' % (path, i), out) for i, v in enumerate(value)]
        return INVALID if any(v is INVALID for v in items) else items
    if kind == 'berth':
        if not isinstance(value, dict):
            return bad('a map', 'type')
        return check_map(spec['fields'], value, path + '.', out)
    if kind == 'children':
        if not isinstance(value, list):
            return bad('a list', 'type')
        if len(value) > spec['maxItems']:
            return bad('at most %d items' % spec['maxItems'])
        items = []
        for i, v in enumerate(value):
            if isinstance(v, dict):
                v = {k: x for k, x in v.items() if k != 'id'}
                items.append(check_map(spec['fields'], v, '%s.%d.' % (path, i), out))
            else:
                out.append(violation('%s.%d' % (path, i), v, 'a map', 'type'))
                items.append(INVALID)
        return INVALID if any(v is INVALID for v in items) else items
    raise AssertionError(kind)


def check_map(fields, value, prefix, out):
    good, got = True, {}
    for key, v in value.items():
        if key not in fields:
            out.append(violation(prefix + key, v, 'no such field', 'unknown'))
            good = False
            continue
        v = check(fields[key], v, prefix + key, out)
        good = good and v is not INVALID
        got[key] = v
    for key, spec in fields.items():
        if key not in value and spec.get('required'):
            if 'default' in spec:
                got[key] = spec['default']
            else:
                out.append(violation(prefix + key, None, 'a value', 'value' if X('er-nested-missing') else 'missing'))
                good = False
    return got if good else INVALID


def merge_patch(old, patch):
    if not isinstance(patch, dict):
        return patch
    out = dict(old) if isinstance(old, dict) else {}
    for k, v in patch.items():
        if v is None:
            out.pop(k, None)
        else:
            out[k] = merge_patch(out.get(k), v)
    return out


def take_body(res, version, body, caller, mode, row=None, bound=None):
    """What a create, update or replace would store of what was sent: (fields, children, violations)."""
    if not isinstance(body, dict):
        return {}, [], [violation('', body, 'a map', 'type')]
    bound = bound or {}
    fields = {vname: (name, spec) for vname, name, spec in shape(res, version)}
    out, kids = [], []
    if mode == 'create':
        nxt = dict(bound)
    elif mode == 'update':
        nxt = dict(row.f)
    else:
        nxt = {}
        for name, spec in FIELDS[res].items():
            keep = spec.get('ro') or spec.get('immutable') or not writable(spec, caller) or name not in {n for _, n, _ in shape(res, version)}
            if (keep or X('en-replace-keeps')) and name in row.f:
                nxt[name] = row.f[name]
    sent = {}
    for key, value in body.items():
        if key not in fields:
            if X('re-unknown-field') and res == 'tram':
                continue
            out.append(violation(key, value, 'no such field', 'unknown'))
            continue
        name, spec = fields[key]
        if spec.get('ro') or not writable(spec, caller):
            continue
        if spec['type'] == 'children' and mode != 'create':
            continue
        sent[key] = len(out)
        if mode == 'update' and value is None:
            if spec.get('required') or name in ('tram', 'duty', 'overhaul', 'part') and spec.get('ref'):
                out.append(violation(key, value, 'a value', 'type'))
            else:
                nxt.pop(name, None)
            continue
        if name in bound:
            if value != bound[name]:
                out.append(violation(key, value, 'what the path says'))
            continue
        if mode != 'create' and spec.get('immutable'):
            if value != row.f.get(name):
                out.append(violation(key, value, 'what it was'))
            continue
        if mode != 'create' and name in row.f and 'map' in spec and value == down(spec, row.f[name]) and not isinstance(value, bool):
            nxt[name] = row.f[name]
            continue
        if mode == 'update' and spec['type'] == 'berth' and not X('en-berth-whole'):
            value = merge_patch(row.f.get(name), value) if isinstance(value, dict) else value
        got = check(spec, value, key, out)
        if got is INVALID:
            nxt.pop(name, None)
            continue
        if spec.get('map') == 'purpose' and not X('ve-purpose-up'):
            got = NEW_PURPOSE.get(got, got)
        if spec['type'] == 'children':
            kids = got
        else:
            nxt[name] = got
    wrong = {v['path'] for v in out}
    # rules over fields
    if res == 'duty' and 'starts_at' in nxt and 'ends_at' in nxt and 'ends_at' not in wrong and 'starts_at' not in wrong:
        if instant(nxt['ends_at']) <= instant(nxt['starts_at']):
            v = violation('ends_at', nxt['ends_at'], 'a time after it starts')
            if 'ends_at' in sent:
                out.insert(sent['ends_at'], v)
            else:
                out.append(v)
    # what is missing
    if mode != 'update':
        for vname, name, spec in shape(res, version):
            if name in nxt or vname in body and (vname in wrong or any(w.startswith(vname + '.') for w in wrong)):
                continue
            if 'default' in spec:
                if not (X('re-livery-default') and name == 'livery'):
                    nxt[name] = spec['default']
            elif spec.get('required') and not spec.get('ro'):
                out.append(violation(vname, None, 'a value', 'missing'))
        for name, spec in FIELDS[res].items():  # what this version does not see
            if name not in nxt and 'default' in spec and not (X('re-livery-default') and name == 'livery'):
                nxt[name] = spec['default']
    return nxt, kids, out


def writable(spec, caller):
    return 'writable' not in spec or (caller is not None and caller.user in spec['writable'])


def refuse_invalid(out):
    if out:
        first = out[0]['kind']
        raise Refuse('request.invalid.missing' if first == 'missing' else 'request.invalid', out)


# ---------------------------------------------------------------- showing rows

def render(row, caller, version, rules=None, first=False, event=False):
    res, out = row.res, {}
    if rules is None:
        rules = allowed('read ' + res, row, caller)
    limit = None
    if rules and all(r[3] is not None for r in rules):
        limit = set().union(*(r[3] for r in rules))
    if event and X('ev-part-payload') and res == 'part':
        limit = None
    for vname, name, spec in shape(res, version):
        if limit is not None and name not in limit:
            continue
        if 'visible' in spec and (caller is None or caller.user not in spec['visible']):
            continue
        if spec.get('reveal') and not first and not (X('re-gate-code') and name == 'gate_code' and not event):
            continue
        if spec['type'] == 'children':
            if not event:
                jobs = [j for j in children('job', 'overhaul', row.id) if may_read(j, caller)]
                jobs.sort(key=lambda j: (j.f['position'], j.seq))
                out[vname] = [render(j, caller, version) for j in jobs[:100]]
            continue
        derive = DERIVED.get((res, name))
        value = derive(row) if derive else row.f.get(name)
        if value is None:
            continue
        if 'map' in spec and not (X('ve-fee-down') and spec['map'] == 'fee'):
            value = down(spec, value)
        if X('re-number-text') and res == 'duty' and name == 'number':
            value = str(value)
        out[vname] = value
    return out


def tag(row, caller, version):
    text = json.dumps([version, render(row, caller, version)], sort_keys=True)
    return '"%s"' % hashlib.sha256(text.encode()).hexdigest()[:24]


# ---------------------------------------------------------------- events

class Delivery:
    __slots__ = ('hook', 'event', 'kind', 'body', 'key', 'tries', 'due', 'task', 'deadline', 'given_up')

    def __init__(self, hook, event, kind, body, key, due):
        self.hook, self.event, self.kind, self.body, self.key, self.due = hook, event, kind, body, key, due
        self.tries, self.task, self.deadline = 0, None, None


RETRY = [10000, 120000, 1200000]
if X('ev-retry-once'):
    RETRY = [10000]


class Deliveries:
    def __init__(self):
        self.queues = {}    # hook id: deliveries that wait or are under way, in order
        self.hold = {}      # hook id: not before
        self.failing = {}   # hook id: since when there was nothing but failures
        self.kicked = False

    def add(self, d):
        self.queues.setdefault(d.hook, []).append(d)

    def kick(self):
        if not self.kicked:
            self.kicked = True
            asyncio.get_running_loop().call_soon(self.tick)

    def drop(self, hook):
        for d in self.queues.pop(hook, []):
            if d.task:
                d.task.cancel()
        self.hold.pop(hook, None)
        self.failing.pop(hook, None)

    def heads(self, hook):
        seen = set()
        for d in self.queues.get(hook, ()):
            if d.key not in seen:
                seen.add(d.key)
                yield d

    def when(self, d):
        return max(d.due, self.hold.get(d.hook, 0))

    def next_due(self):
        times = []
        for hook in self.queues:
            busy = any(d.task for d in self.queues[hook])
            for d in self.heads(hook):
                if d.task:
                    times.append(d.deadline)
                elif not (hook in self.failing and busy):
                    times.append(self.when(d))
        return min(times) if times else None

    def under_way(self):
        return [d.task for q in self.queues.values() for d in q if d.task]

    def tick(self):
        self.kicked = False
        now = CLOCK.now()
        for hook in list(self.queues):
            for d in list(self.queues.get(hook, ())):
                if d.task and now >= d.deadline:
                    d.task.cancel()
                    d.task = None
                    self.done(d, None, None)
            waiting = sorted((d for d in self.heads(hook) if not d.task and self.when(d) <= now), key=self.when)
            for d in waiting:
                busy = sum(1 for q in self.queues.get(hook, ()) if q.task)
                if busy >= (1 if hook in self.failing else 32):
                    break
                d.deadline = now + 10000
                d.tries += 1
                d.task = asyncio.get_running_loop().create_task(self.attempt(d, now))

    async def attempt(self, d, now):
        status, retry_after = None, None
        writer = None
        try:
            hook = STORE['hook'][d.hook]
            parts = urlsplit(hook.f['url'])
            tls = parts.scheme.lower() == 'https'
            port = parts.port or (443 if tls else 80)
            stamp = str(now // 1000)
            signed = d.body if X('ev-sign-body') else stamp.encode() + b'.' + d.body
            mac = hmac.new(hook.f['secret'].encode(), signed, hashlib.sha256).hexdigest()
            path = (parts.path or '/') + ('?' + parts.query if parts.query else '')
            head = ('POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nUser-Agent: tram-sheds\r\n'
                    'Sheds-Event: %s\r\nSheds-Event-Id: %s\r\nSheds-Signature: t=%s,v1=%s\r\nConnection: close\r\n\r\n'
                    % (path, parts.netloc.rpartition('@')[2], len(d.body), d.kind, d.event, stamp, mac))
            reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=True if tls else None)
            writer.write(head.encode('latin-1', 'replace') + d.body)
            line = await reader.readline()
            status = int(line.split()[1])
            while True:
                line = await reader.readline()
                if line in (b'\r\n', b'\n', b''):
                    break
                name, _, value = line.partition(b':')
                if name.strip().lower() == b'retry-after' and value.strip().isdigit():
                    retry_after = min(int(value), 86400) * 1000
        except asyncio.CancelledError:
            return
        except Exception:
            if status is None:
                status = 0
        finally:
            if writer:
                writer.close()
        if d.task is asyncio.current_task():
            d.task = None
            self.done(d, status, retry_after)
            self.kick()

    def done(self, d, status, retry_after):
        now = CLOCK.now()
        queue = self.queues.get(d.hook)
        if queue is None or d not in queue:
            return
        if status is not None and 200 <= status < 300:
            queue.remove(d)
            self.failing.pop(d.hook, None)
            self.hold.pop(d.hook, None)
            return
        since = self.failing.setdefault(d.hook, now)
        if status == 410 or now - since >= 2 * 86400000:
            self.disable(d.hook)
            return
        if d.tries > len(RETRY):
            queue.remove(d)
        else:
            d.due = now + RETRY[d.tries - 1]
        if retry_after:
            self.hold[d.hook] = max(self.hold.get(d.hook, 0), now + retry_after)

    def disable(self, hook):
        self.drop(hook)
        row = STORE['hook'].get(hook)
        if row and row.f['enabled']:
            new = row.copy()
            new.f['enabled'] = False
            STORE['hook'][hook] = new


DELIVERIES = Deliveries()


def asks_for(hook, kind):
    wanted = hook.f.get('events')
    if wanted is None:
        return True
    return any(w == '*' or w == kind or (w.endswith('.*') and kind.startswith(w[:-1])) for w in wanted)


def record(now, kind, row, before, data):
    id, at = 'evt_' + ulid(), iso(now)
    for hook in sorted(STORE['hook'].values(), key=lambda h: h.seq):
        if not hook.f['enabled'] or not asks_for(hook, kind):
            continue
        if not may_read(row, hook.maker):
            continue
        if kind == 'overhaul.finished':
            body = row.id
        elif data is not None:
            body = data
        else:
            version = V25 if X('ve-event-version') else hook.version
            body = render(row, hook.maker, version, event=True)
        text = json.dumps({'id': id, 'kind': kind, 'at': at, 'body': body}, ensure_ascii=False).encode('utf-8', 'surrogatepass')
        DELIVERIES.add(Delivery(hook.id, id, kind, text, (row.res, row.id), now))


# ---------------------------------------------------------------- limits

class Sliding:
    def __init__(self, limit, window):
        self.limit, self.window, self.used = limit, window, {}

    def look(self, who, now):
        q = self.used.setdefault(who, [])
        cut = 0
        while cut < len(q) and q[cut] <= now - self.window:
            cut += 1
        if cut:
            del q[:cut]
        return self.limit - len(q)

    def wait(self, who, now):
        q = self.used[who]
        return (q[0] if q else now) + self.window - now

    def take(self, who, now):
        self.used[who].append(now)


class Fixed:
    def __init__(self, limit, window):
        self.limit, self.window, self.used = limit, window, {}

    def look(self, who, now):
        start, n = self.used.get(who, (None, 0))
        if start is None or now >= start + self.window:
            return self.limit
        return self.limit - n

    def wait(self, who, now):
        start, n = self.used.get(who, (now, 0))
        if now >= start + self.window:
            start = now
        return start + self.window - now

    def take(self, who, now):
        start, n = self.used.get(who, (None, 0))
        if start is None or now >= start + self.window:
            start, n = now, 0
        self.used[who] = (start, n + 1)


class Bucket:
    """Counted in units of 1/window, so that nothing is rounded."""

    def __init__(self, limit, window):
        self.limit, self.window, self.full, self.used = limit, window, limit * window, {}

    def level(self, who, now):
        had, at = self.used.get(who, (self.full, now))
        return min(self.full, had + (now - at) * self.limit)

    def look(self, who, now):
        return self.level(who, now) // self.window

    def wait(self, who, now):
        level = self.level(who, now)
        lacking = self.window - level % self.window if level < self.full else 0
        return -(-lacking // self.limit)

    def take(self, who, now):
        self.used[who] = (self.level(who, now) - self.window, now)


RATES = [
    (None, Sliding(600, 60000)),
    ('create ticket', Fixed(30, 60000)),
    ('create loan', Bucket(20, 60000)),
]
QUOTA, QUOTA_LIMIT = {}, 40
ZONE = UTC if X('li-quota-utc') else ZoneInfo('Europe/Amsterdam')


def quota_window(now):
    day = (EPOCH + timedelta(milliseconds=now)).astimezone(ZONE).date()
    after = datetime(day.year, day.month, day.day, tzinfo=ZONE) + timedelta(days=1)
    end = datetime(after.year, after.month, after.day, tzinfo=ZONE)
    return day.isoformat(), int(end.timestamp() * 1000)


KEYS = {}   # idempotency keys

# ---------------------------------------------------------------- endpoints

ENDPOINTS = []


class Endpoint:
    def __init__(self, method, path, does, op=None, **kw):
        self.method, self.path, self.does = method, path, does
        verb, _, res = does.partition(' ')
        self.verb, self.res = verb, res
        self.op = op or does
        self.steps = [s for s in (BASE + path).split('/') if s]
        self.base = True
        self.params = kw.get('params', {})
        self.order = kw.get('order')
        self.sort = kw.get('sort')
        self.pages = kw.get('pages', True)
        self.etag, self.cache, self.if_match = kw.get('etag'), kw.get('cache'), kw.get('if_match')
        self.inside, self.accept, self.public = kw.get('inside'), kw.get('accept', ('token', 'key')), kw.get('public', False)
        self.request, self.parent, self.since = kw.get('request', False), kw.get('parent'), kw.get('since')
        ENDPOINTS.append(self)


def P(field, op='=', **kw):
    return dict(field=field, op=op, **kw)


E = Endpoint
E('POST', '/trams', 'create tram', request=True)
E('GET', '/trams', 'list tram', order='fleet_number', sort=['fleet_number', '-fleet_number', 'built', '-built'], params={
    'kind': P('kind', 'in'), 'condition': P('condition'), 'shed': P('berth.shed'), 'built_before': P('built', '<')})
E('GET', '/trams/{id}', 'read tram', etag=True, cache='private, no-cache')
E('PATCH', '/trams/{id}', 'update tram', request=True, if_match='required')
E('DELETE', '/trams/{id}', 'delete tram', inside=['stored', 'withdrawn'])
E('POST', '/trams/{id}/enter', 'enter tram')
E('POST', '/trams/{id}/stable', 'stable tram')
E('POST', '/trams/{id}/withdraw', 'withdraw tram')
E('GET', '/trams/{tram}/duties', 'list duty', op='list tram duties', order='number', parent='tram', since=V25)
E('POST', '/trams/{tram}/duties', 'create duty', request=True, parent='tram')
E('GET', '/duties', 'list duty', order='starts_at', sort=['starts_at', '-starts_at', 'places'], params={
    'line': P('line'), 'status': P('status', 'in'), 'from': P('starts_at', '>='), 'until': P('starts_at', '<')})
E('GET', '/duties/{id}', 'read duty', etag=True)
E('PATCH', '/duties/{id}', 'update duty', request=True, inside=['planned', 'manned'], if_match='accepted')
E('DELETE', '/duties/{id}', 'delete duty', inside=['planned', 'cancelled', 'lapsed'])
E('POST', '/duties/{id}/take', 'take duty')
E('POST', '/duties/{id}/leave', 'leave duty')
E('POST', '/duties/{id}/begin', 'begin duty')
E('POST', '/duties/{id}/end', 'end duty')
E('POST', '/duties/{id}/cancel', 'cancel duty', request=True)
E('POST', '/tickets', 'create ticket', request=True)
E('GET', '/tickets', 'list ticket', sort=['price_pence', '-price_pence', 'reference'], params={
    'duty': P('duty'), 'status': P('status'), 'name': P('name', 'contains')})
E('GET', '/tickets/{id}', 'read ticket')
E('PATCH', '/tickets/{id}', 'update ticket', request=True, inside=['reserved'])
E('POST', '/tickets/{id}/pay', 'pay ticket')
E('POST', '/tickets/{id}/use', 'use ticket')
E('POST', '/tickets/{id}/refund', 'refund ticket')
E('POST', '/overhauls', 'create overhaul', request=True)
E('GET', '/overhauls', 'list overhaul', params={'tram': P('tram'), 'status': P('status'), 'due_before': P('due_on', '<')})
E('GET', '/overhauls/{id}', 'read overhaul')
E('PATCH', '/overhauls/{id}', 'update overhaul', request=True, inside=['drafted', 'working'])
E('POST', '/overhauls/{id}/begin', 'begin overhaul')
E('POST', '/overhauls/{id}/finish', 'finish overhaul')
E('POST', '/overhauls/{overhaul}/jobs', 'create job', request=True, parent='overhaul')
E('GET', '/overhauls/{overhaul}/jobs', 'list job', order=None if X('en-jobs-order') else 'position', pages=False, parent='overhaul')
E('GET', '/jobs/{id}', 'read job')
E('PATCH', '/jobs/{id}', 'update job', request=True)
E('DELETE', '/jobs/{id}', 'delete job')
E('POST', '/parts', 'create part', request=True)
E('GET', '/parts', 'list part', order='sku', sort=['name', '-name', 'sku'], params={
    'fits': P('fits', 'has'), 'shelf': P('shelf'), 'sku': P('sku', 'prefix')})
E('GET', '/parts/{id}', 'read part', etag=True)
E('PUT', '/parts/{id}', 'replace part', request=True, if_match='accepted')
E('DELETE', '/parts/{id}', 'delete part')
E('POST', '/parts/{part}/loans', 'create loan', request=True, parent='part', accept=('key',))
E('GET', '/loans', 'list loan', order='-due_at', params={
    'part': P('part'), 'status': P('status', 'in'), 'due_before': P('due_at', '<')})
E('GET', '/loans/{id}', 'read loan')
E('POST', '/loans/{id}/lend', 'lend loan')
E('POST', '/loans/{id}/hand-back', 'hand_back loan')
E('POST', '/loans/{id}/retract', 'retract loan')
E('POST', '/hooks', 'create hook', request=True)
E('GET', '/hooks/{id}', 'read hook')
E('PATCH', '/hooks/{id}', 'update hook', request=True)
E('DELETE', '/hooks/{id}', 'delete hook')
E('GET', '/opening-hours', 'reply ', op='opening hours', public=True)

if X('pu-no-retract'):
    ENDPOINTS = [e for e in ENDPOINTS if e.op != 'retract loan']
if X('pu-no-job-update'):
    ENDPOINTS = [e for e in ENDPOINTS if e.op != 'update job']
if X('pu-hours-at-root'):
    for e in ENDPOINTS:
        if e.op == 'opening hours':
            e.steps = ['opening-hours']

ROUTES = {}
for e in ENDPOINTS:
    ROUTES.setdefault(len(e.steps), []).append(e)


def route(path, version):
    """[(endpoint, its path parameters)] of all methods at a path."""
    if not path.startswith('/'):
        return []
    raw = path[1:].split('/')
    if X('en-trailing-slash') and raw and raw[-1] == '':
        raw.pop()
    if X('pu-no-prefix') and raw and raw[0] != BASE[1:]:
        raw.insert(0, BASE[1:])
    steps = []
    for s in raw:
        try:
            steps.append(unquote_to_bytes(s).decode('utf-8'))
        except UnicodeDecodeError:
            return []
    out = []
    for e in ROUTES.get(len(steps), ()):
        if e.since and version < e.since:
            continue
        params = {}
        for want, got in zip(e.steps, steps):
            if want[0] == '{':
                if got == '':
                    break
                params[want[1:-1]] = got
            elif want != got:
                break
        else:
            out.append((e, params))
    return out


def parse_query(text):
    out = []
    for piece in text.split('&'):
        if not piece:
            continue
        k, _, v = piece.partition('=')
        try:
            out.append((unquote_to_bytes(k.replace('+', ' ')).decode('utf-8'), unquote_to_bytes(v.replace('+', ' ')).decode('utf-8')))
        except UnicodeDecodeError:
            raise Refuse('request.parameter')
    return out


class Answer:
    def __init__(self, status, body=None, headers=None):
        self.status, self.body, self.headers = status, body, headers or {}


HOURS = {'season': 'April to October', 'opens': '10:30', 'closes': '17:00', 'days': ['wednesday', 'saturday', 'sunday']}


class Call:
    """One request, through all that may refuse it, in the order of the document's language."""

    def __init__(self, method, target, headers, body, address, size=None):
        self.method, self.target, self.headers, self.body, self.address = method, target, headers, body, address
        self.size = len(body) if size is None else size
        self.now = CLOCK.now()
        self.request_id = 'req_' + ulid()
        self.version, self.endpoint, self.caller, self.rates = None, None, None, None
        path, _, query = target.partition('?')
        if path.lower().startswith(('http://', 'https://')):
            path = '/' + path.split('/', 3)[3] if path.count('/') > 2 else '/'
        self.path, self.query = path, query.partition('#')[0]
        self.key = None

    def header(self, name):
        values = self.headers.get(name)
        return values[0] if values else None

    # ---- the whole

    def answer(self):
        try:
            got = self.handle()
        except Refuse as r:
            got = self.refusal(r)
        except Exception as ex:  # noqa
            import traceback
            traceback.print_exc()
            got = self.refusal(Refuse('internal'))
        self.finish(got)
        return got

    def refusal(self, r):
        if r.own and self.key:
            self.keep(r.status, self.envelope(r), dict(r.headers))
        return Answer(r.status, self.envelope(r), dict(r.headers))

    def envelope(self, r):
        error = {'code': r.code, 'message': r.message}
        if not (X('er-no-request-id') and r.code == 'not_found'):
            error['request_id'] = self.request_id
        if r.details:
            error['details'] = [{k: v for k, v in d.items() if k != 'kind'} for d in r.details]
        return {'error': error}

    def finish(self, a):
        h = a.headers
        h['X-Request-Id'] = self.request_id
        version = self.version or V25
        h['Sheds-Version'] = version
        vary = ['Sheds-Version']
        e = self.endpoint
        if e and not e.public:
            vary += [{'token': 'Authorization', 'key': 'X-Sheds-Key'}[s] for s in e.accept]
        h['Vary'] = ', '.join(vary)
        if self.rates:
            limit, left, reset = self.rates
            h['X-RateLimit-Limit'], h['X-RateLimit-Remaining'], h['X-RateLimit-Reset'] = str(limit), str(left), str(reset)
        if version in (V23, V24) and not (X('ve-refusal-silent') and a.status >= 400 and version == V24):
            since = unix('2025-04-01' if version == V23 else '2025-10-01')
            if self.now >= since * 1000:
                h['Deprecation'] = '@%d' % since
            if version == V23:
                h['Sunset'] = http_date('2027-06-01')
            links = ['<%s>; rel="successor-version"' % self.target]
            if version == V24:
                links.insert(0, '<https://tram-sheds.example/upgrade>; rel="deprecation"')
            h['Link'] = ', '.join(links)

    def handle(self):
        # 1: sizes
        if len(self.target) > 2048:
            raise Refuse('limit.size.url')
        if sum(len(n) + len(v) + 4 for n, vs in self.headers.items() for v in vs) > 8192:
            raise Refuse('limit.size')
        # 2: route, method, version
        asked = self.headers.get('sheds-version')
        wanted = asked[0].strip() if asked and len(asked) == 1 else None
        seen = wanted if wanted in VERSIONS else V25
        self.version = seen
        at = route(self.path, seen)
        if not at:
            raise Refuse('route.unknown')
        method = 'GET' if self.method == 'HEAD' and not X('en-no-head') else self.method
        mine = [x for x in at if x[0].method == method]
        methods = sorted({x[0].method for x in at} | ({'HEAD'} if any(x[0].method == 'GET' for x in at) else set()) | {'OPTIONS'})
        if not mine:
            if self.method == 'OPTIONS':
                return Answer(204, None, {'Allow': ', '.join(methods)})
            raise Refuse('method.unsupported', headers={'Allow': ', '.join(methods)})
        e, self.params = mine[0]
        self.endpoint = e
        if asked is not None and wanted not in VERSIONS and not X('ve-unknown-is-current'):
            raise Refuse('version.unknown')
        if self.version == V23 and self.now >= SUNSET_23 and not X('ve-sunset-served'):
            raise Refuse('version.sunset')
        # 4: who calls
        if not e.public:
            self.caller = self.identify(e)
        # 5: rates
        self.count_rates(e)
        # 6: no rule for this user
        if not e.public:
            rules = rules_for(e.op, self.caller)
            if not rules:
                if self.caller is None:
                    raise self.unknown(e, False)
                raise Refuse('caller.forbidden')
            if all(r[1] and not r[1] <= (self.caller.scopes if self.caller else frozenset()) for r in rules):
                raise Refuse('caller.forbidden.scope')
        # 8: media types, body, parameters, page
        self.read_accept()
        self.data = self.read_body(e)
        self.read_parameters(e)
        # 9: idempotency
        if e.method == 'POST':
            again = self.replay(e)
            if again:
                return again
        if e.public:
            return Answer(200, HOURS)
        return getattr(self, 'do_' + e.verb, self.do_transition)(e)

    # ---- 4

    def unknown(self, e, shown):
        error = ', error="invalid_key"' if shown else ''
        challenges = {'token': 'Bearer realm="%s"%s' % (REALM, error),
                      'key': 'ApiKey realm="%s", in="header", name="X-Sheds-Key"%s' % (REALM, error)}
        return Refuse('caller.unknown', headers={'WWW-Authenticate': [challenges[s] for s in e.accept]})

    def identify(self, e):
        got, shown = [], False
        if 'token' in e.accept and 'authorization' in self.headers:
            shown = True
            values = self.headers['authorization']
            m = re.match(r'bearer +(\S+)\Z', values[0].strip(), re.I) if len(values) == 1 else None
            text = m.group(1) if m else None
            if X('au-bare-token') and len(values) == 1:
                text = values[0].strip().rpartition(' ')[2]
            got.append(CREDENTIALS.get(('token', text)))
        if 'key' in e.accept and 'x-sheds-key' in self.headers:
            shown = True
            values = self.headers['x-sheds-key']
            c = CREDENTIALS.get(('key', values[0].strip())) if len(values) == 1 else None
            got.append(c)
        if X('pu-crew-unknown'):
            got = [None if c and c.user == 'crew' else c for c in got]
        if not shown:
            return None
        if X('au-bad-is-nobody') and None in got and any('anyone' in r[0] for r in RULES.get(e.op, ())):
            return None
        if None in got or len({c.name for c in got}) != 1:
            raise self.unknown(e, True)
        c = got[0]
        if X('pu-partner-visitor') and c.user == 'partner':
            c = Caller(c.scheme, c.credential, 'visitor', c.id, c.scopes, c.society)
        if len(got) > 1:
            c = Caller(c.scheme, c.credential, c.user, c.id, got[0].scopes | got[1].scopes, c.society)
        return c

    # ---- 5

    def count_rates(self, e):
        who = self.caller.name if self.caller else ('address', self.address)
        mine = [r for op, r in RATES if op is None or op == e.op]
        left = [(r.look(who, self.now), r) for r in mine]
        over = [r for n, r in left if n < 1]
        if over:
            waits = max(-(-r.wait(who, self.now) // 1000) for r in over)
            r = over[0]
            self.rates = (r.limit, 0, -(-(self.now + r.wait(who, self.now)) // 1000))
            if X('li-refused-count'):
                for m in mine:
                    m.take(who, self.now)
            raise Refuse('limit.rate', headers={'Retry-After': str(max(1, waits))})
        for r in mine:
            r.take(who, self.now)
        left = min(((max(0, r.look(who, self.now)), i, r) for i, r in enumerate(mine)), key=lambda x: x[:2])
        self.rates = (left[2].limit, left[0], -(-(self.now + left[2].wait(who, self.now)) // 1000))

    # ---- 8

    def read_accept(self):
        values = self.headers.get('accept')
        if not values or X('er-accept-ignored'):
            return
        best, specific = 0, -1
        any_range = False
        for piece in ','.join(values).split(','):
            words = [w.strip() for w in piece.split(';')]
            kind = words[0].lower()
            if not kind:
                continue
            any_range = True
            rank = {'*/*': 0, 'application/*': 1, 'application/json': 2}.get(kind)
            if rank is None:
                continue
            q = 1.0
            for w in words[1:]:
                if w.lower().startswith('q='):
                    try:
                        q = float(w[2:])
                    except ValueError:
                        q = 0.0
            if rank > specific or (rank == specific and q > best):
                best, specific = q, rank
        if any_range and (specific < 0 or best <= 0):
            raise Refuse('request.accept')

    def read_body(self, e):
        if not e.request:
            if self.size > 16384:
                raise Refuse('limit.size')
            return None
        kind = self.header('content-type')
        if self.size:
            words = [w.strip() for w in (kind or '').split(';')]
            good = words[0].lower() == 'application/json' or (e.verb == 'update' and words[0].lower() == 'application/merge-patch+json')
            for w in words[1:]:
                if w.lower().startswith('charset=') and w[8:].strip('"').lower() not in ('utf-8', 'utf8'):
                    good = False
            if not good:
                raise Refuse('request.media')
        if self.size > 16384:
            raise Refuse('limit.size')
        if not self.size:
            raise Refuse('request.malformed')

        def constant(c):
            raise ValueError(c)
        try:
            return json.loads(self.body.decode('utf-8'), parse_constant=constant)
        except (ValueError, RecursionError):
            raise Refuse('request.malformed')

    def read_parameters(self, e):
        pairs = parse_query(self.query)
        self.filters, self.sorted_by, self.size_of_page, self.cursor = [], e.order, 20, None
        names = {}
        if e.verb == 'list':
            fields = {n: (v, s) for v, n, s in shape(e.res, self.version)}
            for name, p in e.params.items():
                n = fields[name][0] if name == p['field'] and name in fields else name
                names[n] = p
        sent = {}
        out = []

        def bad(name, value, expected):
            out.append(violation(name, value, expected, where='query'))

        pages = e.verb == 'list' and e.pages
        for k, v in pairs:
            known = k in names or (k == 'sort' and e.sort) or (pages and k in ('limit', 'cursor'))
            if not known:
                bad(k, v, 'no such parameter')
                continue
            if k in sent and not (k in names and names[k]['op'] == 'in'):
                bad(k, v, 'one value')
            sent.setdefault(k, []).append(v)
        hidden = set()
        if e.verb == 'list' and self.caller:
            rules = rules_for(e.op, self.caller)
            if rules and all(r[3] is not None for r in rules):
                hidden = {n for n in FIELDS[e.res]} - set().union(*(r[3] for r in rules))
        for k, p in names.items():
            if k not in sent:
                continue
            if p['field'].split('.')[0] in hidden:
                bad(k, sent[k][0], 'no such parameter')
                continue
            values = [self.filter_value(e, p, v) for v in sent[k]]
            if None in values:
                bad(k, sent[k][values.index(None)], 'a value of ' + p['field'])
                continue
            self.filters.append((k, p['field'], p['op'], values))
        if e.sort and 'sort' in sent:
            if sent['sort'][0] in e.sort:
                self.sorted_by = sent['sort'][0]
            else:
                bad('sort', sent['sort'][0], 'one of ' + ', '.join(e.sort))
        if out:
            raise Refuse('request.parameter', out)
        if pages:
            if 'limit' in sent:
                text = sent['limit'][0]
                top = 200 if X('li-loans-max') and e.op == 'list loan' else 100
                if not re.match(r'\d{1,6}\Z', text, re.A) or not 1 <= int(text) <= top:
                    raise Refuse('limit.page')
                self.size_of_page = int(text)
            if 'cursor' in sent:
                self.cursor = self.open_cursor(e, sent['cursor'][0])

    def filter_value(self, e, p, text):
        field, op = p['field'], p['op']
        if field == 'berth.shed':
            spec = BERTH['shed']
        else:
            spec = next(s for _, n, s in shape(e.res, self.version) if n == field)
        if op in ('contains', 'prefix'):
            return text
        if STATE.get(e.res) == field:
            return text if text in STATES[e.res] else None
        if spec['type'] == 'array':
            spec = spec['items']
        value = text
        if spec['type'] == 'integer':
            if not re.match(r'-?(0|[1-9]\d*)\Z', text, re.A) or len(text) > 18:
                return None
            value = int(text)
        got = check(spec, value, field, [])
        return None if got is INVALID else got

    # ---- cursors: a place in an order, of these filters and what the rules read of the caller

    def binding(self, e):
        who = None
        rules = rules_for(e.op, self.caller)
        if all(r[2] for r in rules):
            who = [self.caller.user, self.caller.society if e.res == 'loan' else self.caller.id]
        if e.op == 'list part' and self.caller.user == 'partner':
            who = ['partner']
        text = json.dumps([e.op, self.version, self.params, sorted((k, o, v) for k, f, o, v in self.filters), self.sorted_by, who])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def close_cursor(self, e, row):
        place = [self.binding(e), self.place(row)]
        text = json.dumps(place).encode()
        mac = hmac.new(SECRET, text, hashlib.sha256).digest()[:12]
        return base64.urlsafe_b64encode(mac + text).decode().rstrip('=')

    def open_cursor(self, e, text):
        try:
            raw = base64.b64decode(text.encode('ascii') + b'=' * (-len(text) % 4), altchars=b'-_', validate=True)
            mac, place = raw[:12], raw[12:]
            if not hmac.compare_digest(mac, hmac.new(SECRET, place, hashlib.sha256).digest()[:12]):
                raise ValueError
            bound, at = json.loads(place)
        except (ValueError, UnicodeError):
            raise Refuse('limit.page')
        if bound != self.binding(e):
            raise Refuse('limit.page')
        return at

    def place(self, row):
        if not self.sorted_by:
            return [0, row.seq]
        return [self.sort_value(row), row.seq]

    def sort_value(self, row):
        name = self.sorted_by.lstrip('-')
        value = row.f[name]
        if name in ('starts_at', 'due_at'):
            value = value if X('en-time-as-text') and row.res == 'duty' else instant(value)
        return value

    # ---- 9

    def replay(self, e):
        text = self.header('idempotency-key')
        if text is None:
            return None
        who = e.op if X('en-shared-keys') and e.op == 'create ticket' else (self.caller.name, e.op)
        self.key = (who, text)
        body = json.dumps(self.data, sort_keys=True) if e.request else self.body.hex()
        self.print = hashlib.sha256(json.dumps([self.path, self.query, self.version, body]).encode()).hexdigest()
        kept = KEYS.get(self.key)
        if kept and kept['until'] > self.now:
            self.key = None
            if kept['print'] != self.print:
                raise Refuse('idempotency.reused')
            return Answer(kept['status'], kept['body'], dict(kept['headers']))
        return None

    def keep(self, status, body, headers):
        KEYS[self.key] = {'print': self.print, 'until': self.now + 86400000, 'status': status, 'body': body, 'headers': headers}
        self.key = None

    # ---- 10

    def load(self, e, id=None):
        row = STORE[e.res].get(self.params['id'] if id is None else id)
        if row is None:
            raise Refuse('resource.missing')
        if not allowed(e.op, row, self.caller):
            raise Refuse('caller.forbidden' if may_read(row, self.caller) else 'resource.missing')
        return row

    def parent(self, e):
        row = STORE[e.parent].get(self.params[e.parent])
        if row is None or not may_read(row, self.caller):
            raise Refuse('resource.missing')
        return row

    # ---- 11

    def precondition(self, e, row):
        if not e.if_match:
            return
        values = self.headers.get('if-match')
        if not values:
            if e.if_match == 'required':
                raise Refuse('precondition.required')
            return
        text = ','.join(values).strip()
        if text == '*':
            return
        tags = re.findall(r'(?:^|,)\s*((?:W/)?"[^"]*")\s*(?=,|$)', text)
        good = {tag(row, self.caller, self.version)}
        if may_read(row, None):
            good.add(tag(row, None, self.version))
        if not any(t in good for t in tags):
            raise Refuse('precondition.failed')

    # ---- 12 to 15

    def references(self, res, f, skip=()):
        for name, spec in FIELDS[res].items():
            if spec.get('ref') and name in f and name not in skip:
                row = STORE[spec['ref']].get(f[name])
                if row is None or not may_read(row, self.caller):
                    raise Refuse('reference.missing')

    def own_errors(self, op, f):
        if op in ('create duty', 'update duty') and instant(f['starts_at']) <= self.now * 1000:
            if not (X('er-past-update') and op == 'update duty'):
                raise Refuse('in_the_past')
        if op in ('create duty', 'create overhaul') and STORE['tram'][f['tram']].f['condition'] == 'withdrawn':
            raise Refuse('tram_withdrawn')
        if op == 'create ticket' and STORE['duty'][f['duty']].f['status'] not in ('planned', 'manned'):
            raise Refuse('ride_is_over')
        if op == 'create loan' and instant(f['due_at']) < (self.now + 86400000) * 1000:
            raise Refuse('due_too_soon')

    def unique(self, res, f, id=None):
        if res == 'tram':
            clash = any(r.f['fleet_number'] == f['fleet_number'] for r in STORE['tram'].values() if r.id != id)
        elif res == 'part':
            clash = any(r.f['sku'] == f['sku'] for r in STORE['part'].values() if r.id != id)
        elif res == 'duty':
            live = ('planned', 'manned', 'running')
            clash = f['status'] in live and any(
                r.f['status'] in live and instant(r.f['starts_at']) == instant(f['starts_at'])
                for r in children('duty', 'tram', f['tram']) if r.id != id)
        elif res == 'job':
            clash = any(r.f['position'] == f['position'] for r in children('job', 'overhaul', f['overhaul']) if r.id != id)
        else:
            return
        if clash:
            raise Refuse('resource.exists')

    def rows_limit(self, res, f):
        if res == 'hook':
            n = sum(1 for r in STORE['hook'].values() if r.f['owner'] == f['owner'])
            if n >= 4:
                raise Refuse('limit.quota')
        if res == 'loan':
            live = STATES['loan'] if X('li-loans-over') else ('requested', 'lent', 'overdue')
            if sum(1 for r in STORE['loan'].values() if r.f['society'] == f['society'] and r.f['status'] in live) >= 12:
                raise Refuse('limit.quota')

    def quota(self, op):
        if op != 'create ticket':
            return
        day, end = quota_window(self.now)
        used = QUOTA.get((day, self.caller.name), 0)
        if used >= QUOTA_LIMIT:
            raise Refuse('limit.quota', headers={'Retry-After': str(max(1, -(-(end - self.now) // 1000)))})
        QUOTA[(day, self.caller.name)] = used + 1

    def change(self, work):
        change = Change(self.now, self.caller, self.data, self.version)
        try:
            got = work(change)
        except BaseException:
            change.rollback()
            raise
        change.commit()
        return got

    def show(self, row, first=False):
        return render(row, self.caller, self.version, first=first)

    def success(self, status, body, headers=None, replay=None):
        if self.key:
            self.keep(status, body if replay is None else replay, dict(headers or {}))
        return Answer(status, body, dict(headers or {}))

    def do_create(self, e):
        res = e.res
        bound = {e.parent: self.parent(e).id} if e.parent else {}
        f, kids, out = take_body(res, self.version, self.data, self.caller, 'create', bound=bound)
        refuse_invalid(out)
        self.references(res, f, bound)

        def work(change):
            id = PREFIX[res] + ulid()
            SEQ[0] += 1
            row = Row(res, id, {'id': id}, SEQ[0])
            row.f.update(f)
            g = row.f
            row.entered, row.maker, row.version = self.now, self.caller, self.version
            if res in STATE:
                g[STATE[res]] = STATES[res][0]
            if res == 'tram':
                g['changed_at'] = iso(self.now)
            elif res == 'ticket':
                g['buyer'], g['price_pence'] = self.caller.id, price(g)
                g['gate_code'] = chars(8, string.ascii_uppercase + string.digits)
            elif res == 'overhaul':
                g['lead'] = self.caller.id
                if X('st-overhaul-initial') and kids:
                    g['status'] = 'working'
            elif res == 'loan':
                g['society'] = self.caller.society
                g['fee_pence'] = STORE['part'][g['part']].f['fee_pence'] * g['pieces']
            elif res == 'hook':
                g['owner'], g['secret'] = self.caller.id, 'hks_' + chars(32)
            self.own_errors(e.op, g)
            self.unique(res, g)
            self.rows_limit(res, g)
            self.quota(e.op)
            if res == 'duty':
                g['number'] = change.draw(('duty', g['tram']))
            if res == 'ticket':
                g['reference'] = 'RIDE-%06d' % change.draw(('ticket',))
            change.put(row)
            if res == 'duty':
                change.emit('duty.planned', row, None)
            if res == 'part':
                change.emit('part.changed', row, None)
            for kid in kids:
                kid_id = PREFIX['job'] + ulid()
                SEQ[0] += 1
                job = Row('job', kid_id, dict({'id': kid_id, 'overhaul': id}, **kid), SEQ[0])
                self.unique('job', job.f)
                change.put(job)
            return row

        row = self.change(work)
        headers = {'Location': '%s/%s/%s' % (BASE, PLURAL[res], row.id)}
        if not may_read(row, self.caller):
            return self.success(204, None, headers)
        return self.success(201, self.show(row, True), headers, self.show(row))

    def do_read(self, e):
        row = self.load(e)
        headers = {}
        if e.cache:
            headers['Cache-Control'] = e.cache
        if e.etag:
            mine = tag(row, self.caller, self.version)
            headers['ETag'] = mine
            values = self.headers.get('if-none-match')
            if values:
                text = ','.join(values).strip()
                tags = [t[2:] if t.startswith('W/') else t for t in re.findall(r'(?:W/)?"[^"]*"', text)]
                if text == '*' or mine.replace('W/', '') in tags:
                    return Answer(304, None, headers)
        return Answer(200, self.show(row), headers)

    def do_list(self, e):
        if e.parent:
            self.parent(e)
            rows = children(e.res, e.parent, self.params[e.parent])
        else:
            rows = STORE[e.res].values()
        kept = []
        for row in rows:
            if self.fits(row) and allowed(e.op, row, self.caller):
                kept.append(row)
        kept.sort(key=lambda r: r.seq)
        if self.sorted_by:
            kept.sort(key=self.sort_value, reverse=self.sorted_by[0] == '-')
        view = lambda r: render(r, self.caller, self.version, allowed(e.op, r, self.caller))  # noqa
        if not e.pages:
            return Answer(200, [view(r) for r in kept])
        if self.cursor is not None:
            desc = bool(self.sorted_by) and self.sorted_by[0] == '-'
            value, seq = self.cursor
            def after(r):
                v, s = self.place(r)
                if v != value:
                    return v < value if desc else v > value
                return s > seq
            kept = [r for r in kept if after(r)]
        page = kept[:self.size_of_page]
        more = len(kept) > len(page)
        return Answer(200, {'items': [view(r) for r in page], 'next_cursor': self.close_cursor(e, page[-1]) if more and page else None, 'has_more': more})

    def fits(self, row):
        for name, field, op, values in self.filters:
            value = row.f.get('berth', {}).get('shed') if field == 'berth.shed' else row.f.get(field)
            if value is None:
                return False
            want = values[0]
            if field in ('starts_at', 'due_at'):
                value, want = instant(value), instant(want)
            if op == 'in':
                good = value in values
            elif op == 'has':
                good = want in value
            elif op == '<':
                good = value < want or (X('en-built-before') and field == 'built' and value == want)
            elif op == '>=':
                good = value >= want
            elif op == 'contains':
                good = want in value
            elif op == 'prefix':
                good = value.startswith(want)
            else:
                good = value == want
            if not good:
                return False
        return True

    def do_update(self, e, mode='update'):
        row = self.load(e)
        self.precondition(e, row)
        f, _, out = take_body(e.res, self.version, self.data, self.caller, mode, row)
        refuse_invalid(out)
        changed = [n for n in FIELDS[e.res] if FIELDS[e.res][n].get('ref') and f.get(n) != row.f.get(n)]
        self.references(e.res, f, [n for n in FIELDS[e.res] if n not in changed])
        if e.inside and row.f[STATE[e.res]] not in e.inside:
            raise Refuse('transition.illegal')
        if e.res == 'ticket':
            f['price_pence'] = price(f)
        self.own_errors(e.op, f)
        self.unique(e.res, f, row.id)
        if same(f, row.f):
            return self.success(200, self.show(row))

        def work(change):
            new = row.copy()
            new.f = f
            if X('st-expire-restarts') and e.res == 'ticket':
                new.entered = self.now
            if e.res == 'tram':
                f['changed_at'] = iso(self.now)
            change.put(new)
            if e.res == 'tram' and (f['name'] != row.f['name'] or X('ev-renamed-always')):
                change.emit('tram.renamed', new, row, {'tram': new.id, 'was': row.f['name'], 'is': f['name']})
            if e.res == 'part':
                change.emit('part.changed', new, row)
            return new

        return self.success(200, self.show(self.change(work)))

    def do_replace(self, e):
        return self.do_update(e, 'replace')

    def do_delete(self, e):
        row = self.load(e)
        if e.inside and row.f[STATE[e.res]] not in e.inside:
            raise Refuse('transition.illegal')
        for child, field in REFS:
            if FIELDS[child][field]['ref'] == e.res and child != 'job' and CHILDREN[(child, field)].get(row.id):
                raise Refuse('reference.held')
        self.change(lambda change: change.remove(row))
        if e.res == 'hook':
            DELIVERIES.drop(row.id)
        return Answer(204)

    def do_transition(self, e):
        row = self.load(e)
        if e.op == 'cancel duty':
            out = []
            if not isinstance(self.data, dict):
                out.append(violation('', self.data, 'a map', 'type'))
            elif 'reason' not in self.data:
                out.append(violation('reason', None, 'a value', 'missing'))
            else:
                check(S(minLength=3, maxLength=200), self.data['reason'], 'reason', out)
            refuse_invalid(out)

        def work(change):
            move(change, row, e.verb)
            return STORE[row.res][row.id]

        row = self.change(work)
        if not may_read(row, self.caller):
            return self.success(204, None)
        if e.op == 'pay ticket':
            pence = row.f['price_pence']
            return self.success(200, {'receipt': 'R-' + row.f['reference'], 'pence': pence, 'ticket': self.show(row)})
        return self.success(200, self.show(row))


def same(a, b):
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def price(f):
    return f['places'] * (300 if f['fare'] == 'child' else 450 if f['fare'] == 'family' else 600)


SECRET = os.urandom(32)

# ---------------------------------------------------------------- HTTP

PHRASES = {200: 'OK', 201: 'Created', 204: 'No Content', 304: 'Not Modified', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden',
           404: 'Not Found', 405: 'Method Not Allowed', 406: 'Not Acceptable', 408: 'Request Timeout', 409: 'Conflict', 410: 'Gone',
           412: 'Precondition Failed', 413: 'Content Too Large', 414: 'URI Too Long', 415: 'Unsupported Media Type',
           422: 'Unprocessable Content', 428: 'Precondition Required', 429: 'Too Many Requests', 500: 'Internal Server Error'}
TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
MOST = 16 * 1024 * 1024


class Malformed(Exception):
    pass


class Connection(asyncio.Protocol):
    """HTTP/1.1 with connections that are kept, a request at a time."""

    def __init__(self, door):
        self.door = door

    def connection_made(self, transport):
        self.transport = transport
        self.address = (transport.get_extra_info('peername') or ('?',))[0]
        self.buffer = bytearray()
        self.head = None
        self.busy = False
        self.ended = False
        self.loop = asyncio.get_running_loop()
        self.timer = None
        self.wait(30)

    def wait(self, seconds, what='idle'):
        if self.timer:
            self.timer.cancel()
        self.timer = self.loop.call_later(seconds, self.time_out, what)

    def time_out(self, what):
        if self.busy or self.transport.is_closing():
            return
        if what == 'request' and not self.door:
            method, target, headers = self.head[:3] if self.head else ('GET', '/', {})
            call = Call(method, target, headers, b'', self.address)
            a = call.refusal(Refuse('limit.time'))
            call.finish(a)
            self.send(a, False, method)
        self.transport.close()

    def connection_lost(self, exc):
        if self.timer:
            self.timer.cancel()

    def data_received(self, data):
        if self.ended:
            return
        started = bool(self.buffer) or self.head is not None
        self.buffer += data
        if not started and not self.busy:
            self.wait(35 if X('li-slow-body') else 10, 'request')
        self.go_on()

    def go_on(self):
        while not self.busy and not self.ended:
            try:
                if not self.step():
                    return
            except Malformed:
                if self.door:
                    return self.send(Answer(400, {'error': 'malformed'}), False, 'GET')
                call = Call('GET', '/', {}, b'', self.address)
                a = call.refusal(Refuse('request.malformed'))
                call.finish(a)
                self.send(a, False, 'GET')
                return

    def step(self):
        if self.head is None:
            while self.buffer[:2] == b'\r\n':
                del self.buffer[:2]
            end = self.buffer.find(b'\r\n\r\n')
            if end < 0:
                if len(self.buffer) > 131072:
                    self.too_long()
                return False
            lines = bytes(self.buffer[:end]).split(b'\r\n')
            del self.buffer[:end + 4]
            words = lines[0].split(b' ')
            if len(words) != 3 or not TOKEN.match(words[0]) or words[2] not in (b'HTTP/1.1', b'HTTP/1.0') or not words[1]:
                raise Malformed
            headers = {}
            for line in lines[1:]:
                name, colon, value = line.partition(b':')
                if not colon or not TOKEN.match(name):
                    raise Malformed
                headers.setdefault(name.decode('ascii').lower(), []).append(value.strip(b' \t').decode('latin-1'))
            method, target = words[0].decode('ascii'), words[1].decode('latin-1')
            close = words[2] == b'HTTP/1.0' and 'keep-alive' not in ','.join(headers.get('connection', ())).lower()
            close = close or 'close' in ','.join(headers.get('connection', ())).lower()
            coding = ','.join(headers.get('transfer-encoding', ())).strip().lower()
            lengths = headers.get('content-length', [])
            if coding:
                if coding != 'chunked' or lengths:
                    raise Malformed
                left = None
            elif lengths:
                if len(set(lengths)) != 1 or not re.match(r'\d{1,18}\Z', lengths[0], re.A):
                    raise Malformed
                left = int(lengths[0])
            else:
                left = 0
            self.head = (method, target, headers)
            self.close, self.left, self.body, self.size, self.chunk = close, left, bytearray(), 0, None
            if left is not None and left > MOST:
                self.size, self.close = left, True
                return self.finish()
            if '100-continue' in ','.join(headers.get('expect', ())).lower() and left != 0:
                if left is not None and left > 16384:
                    self.size, self.close = left, True
                    return self.finish()
                self.transport.write(b'HTTP/1.1 100 Continue\r\n\r\n')
        if self.left is not None:
            piece = bytes(self.buffer[:self.left])
            del self.buffer[:len(piece)]
            self.left -= len(piece)
            self.take(piece)
            return self.finish() if self.left == 0 else False
        while True:
            if self.chunk is None:
                end = self.buffer.find(b'\r\n')
                if end < 0:
                    if len(self.buffer) > 1024:
                        raise Malformed
                    return False
                text = bytes(self.buffer[:end]).split(b';')[0].strip()
                if not re.match(rb'[0-9A-Fa-f]{1,12}\Z', text):
                    raise Malformed
                del self.buffer[:end + 2]
                self.chunk = int(text, 16)
                if self.chunk == 0:
                    self.chunk = -1
            elif self.chunk == -1:      # trailers
                end = self.buffer.find(b'\r\n')
                if end < 0:
                    return False
                line = bytes(self.buffer[:end])
                del self.buffer[:end + 2]
                if not line:
                    return self.finish()
            else:
                if len(self.buffer) < self.chunk + 2:
                    if self.size + len(self.buffer) > MOST:
                        self.size, self.close = MOST + 1, True
                        return self.finish()
                    return False
                self.take(bytes(self.buffer[:self.chunk]))
                if self.buffer[self.chunk:self.chunk + 2] != b'\r\n':
                    raise Malformed
                del self.buffer[:self.chunk + 2]
                self.chunk = None

    def take(self, piece):
        self.size += len(piece)
        if self.size <= 16384 or X('li-chunked-body') and self.left is None:
            self.body += piece

    def too_long(self):
        target = bytes(self.buffer.split(b'\r\n')[0])
        call = Call('GET', '/', {}, b'', self.address)
        a = call.refusal(Refuse('limit.size.url' if len(target) > 2100 else 'limit.size'))
        call.finish(a)
        self.send(a, False, 'GET')

    def finish(self):
        method, target, headers = self.head
        body, size = bytes(self.body), self.size
        if X('li-chunked-body') and self.left is None:
            size = min(size, 16384) if size else 0
        self.head = None
        if self.door:
            self.busy = True
            self.timer.cancel()
            self.loop.create_task(self.at_door(method, body))
            return True
        fire_timers(CLOCK.now())
        call = Call(method, target, headers, body, self.address, size)
        self.send(call.answer(), not self.close, method)
        return not self.ended

    async def at_door(self, method, body):
        try:
            a = await door(method, body)
        except Exception as ex:  # noqa
            a = Answer(400, {'error': str(ex)})
        self.busy = False
        self.send(a, not self.close, method)
        self.go_on()

    def send(self, a, keep, method):
        payload = b''
        lines = ['HTTP/1.1 %d %s' % (a.status, PHRASES.get(a.status, 'Unknown'))]
        if a.status not in (204, 304):
            payload = json.dumps(a.body, ensure_ascii=False).encode('utf-8', 'surrogatepass')
            lines.append('Content-Type: application/json')
            lines.append('Content-Length: %d' % len(payload))
        lines.append('Date: ' + (EPOCH + timedelta(milliseconds=CLOCK.now())).strftime('%a, %d %b %Y %H:%M:%S GMT'))
        for name, value in a.headers.items():
            for v in value if isinstance(value, list) else [value]:
                lines.append('%s: %s' % (name, v))
        if not keep:
            lines.append('Connection: close')
        head = ('\r\n'.join(lines) + '\r\n\r\n').encode('latin-1', 'replace')
        self.transport.write(head + (b'' if method == 'HEAD' else payload))
        if keep:
            self.wait(10 if self.buffer else 30, 'request' if self.buffer else 'idle')
        else:
            self.ended = True
            self.linger()

    def linger(self):
        """Lets the answer arrive before a body that is still being sent is cut off."""
        if self.timer:
            self.timer.cancel()
        if self.transport.can_write_eof():
            try:
                self.transport.write_eof()
            except OSError:
                pass
        self.loop.call_later(1, self.transport.close)

    def eof_received(self):
        return None if self.ended or not self.busy else True


# ---------------------------------------------------------------- the clock's door

DURATION = re.compile(r'P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?\Z', re.A)


def later(now, text):
    m = DURATION.match(text)
    if not m or not any(m.groups()) or text.endswith('T'):
        return None
    y, mo, w, d, h, mi, s = m.groups()
    at = EPOCH + timedelta(milliseconds=now)
    months = at.year * 12 + at.month - 1 + int(y or 0) * 12 + int(mo or 0)
    year, month = divmod(months, 12)
    if year > 9999:
        return None
    day = at.day
    while True:
        try:
            at = at.replace(year=year, month=month + 1, day=day)
            break
        except ValueError:
            day -= 1
    at += timedelta(weeks=int(w or 0), days=int(d or 0), hours=int(h or 0), minutes=int(mi or 0), seconds=float(s or 0))
    return (at - EPOCH) // timedelta(milliseconds=1)


async def door(method, body):
    if method == 'GET' or method == 'HEAD':
        return Answer(200, {'now': iso(CLOCK.now())})
    if method != 'POST':
        return Answer(400, {'error': 'GET or POST'})
    data = json.loads(body.decode('utf-8'))
    if not isinstance(data, dict) or len(data) != 1:
        return Answer(400, {'error': 'advance or now'})
    await settle(1.0)
    now = CLOCK.now()
    if isinstance(data.get('advance'), str):
        target = later(now, data['advance'])
    elif isinstance(data.get('now'), str):
        target = instant(data['now'])
        target = None if target is None else -(-target // 1000)
    else:
        target = None
    if target is None:
        return Answer(400, {'error': 'advance or now'})
    if target < now:
        return Answer(422, {'error': 'That time has passed.'})
    while True:
        times = [t for t in (next_timer(), DELIVERIES.next_due()) if t is not None and t <= target]
        if not times:
            break
        CLOCK.set(max(min(times), CLOCK.now()) if min(times) <= CLOCK.now() else min(times))
        fire_timers(CLOCK.now())
        DELIVERIES.tick()
        await settle(1.0)
        if CLOCK.now() >= target:
            break
    CLOCK.set(max(target, CLOCK.now()))
    fire_timers(CLOCK.now())
    DELIVERIES.tick()
    await settle(0.5)
    return Answer(200, {'now': iso(CLOCK.now())})


async def settle(seconds):
    """Waits until what is on its way to receivers has been answered, for a while."""
    end = time.monotonic() + seconds
    await asyncio.sleep(0)
    while True:
        tasks = DELIVERIES.under_way()
        left = end - time.monotonic()
        if not tasks or left <= 0:
            return
        await asyncio.wait(tasks, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        DELIVERIES.tick()


async def main():
    loop = asyncio.get_running_loop()
    service = await loop.create_server(lambda: Connection(False), '127.0.0.1', ARGS.port, backlog=512)
    clock = await loop.create_server(lambda: Connection(True), '127.0.0.1', ARGS.clock_port, backlog=64)
    print('tram sheds at http://127.0.0.1:%d%s' % (ARGS.port, BASE), flush=True)
    while True:
        await asyncio.sleep(0.02)
        fire_timers(CLOCK.now())
        DELIVERIES.tick()


if __name__ == '__main__':
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        pass
