#!/usr/bin/env python3
"""Trowel: the books of archaeological digs, kept in memory. Python's standard library and nothing else."""
import argparse
import base64
import collections
import datetime
import email.utils
import hashlib
import json
import math
import os
import re
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

FAULT = ''
LOCK = threading.Condition(threading.RLock())
BASE = '/api'
OLD, NEW = '2025-03', '2026-02'
DAY = 86_400_000
HOUR = 3_600_000


def bug(name):
    return FAULT == name


# --------------------------------------------------------------------------------------------- the clock, and identifiers

class Clock:
    shift = 0

    @classmethod
    def now(cls):
        return int(time.time() * 1000) + cls.shift


def instant(ms):
    at = datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc)
    if bug('re-format-date'):
        return at.strftime('%d.%m.%Y %H:%M')
    return at.strftime('%Y-%m-%dT%H:%M:%S.') + f'{ms % 1000:03d}Z'


ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
_last = [0, 0]


def ulid():
    now = Clock.now()
    if now <= _last[0]:
        _last[1] += 1
    else:
        _last[0], _last[1] = now, int.from_bytes(os.urandom(9), 'big')
    n = (_last[0] << 80) | _last[1]
    return ''.join(ALPHABET[(n >> (5 * k)) & 31] for k in range(25, -1, -1))


# --------------------------------------------------------------------------------------------------------------- callers

Caller = collections.namedtuple('Caller', 'user id institute')
CALLERS = {
    'trw_AnnaAnnaAnnaAnnaAnnaAnna': Caller('digger', 'anna', 'north'),
    'trw_BorisBorisBorisBorisBori': Caller('digger', 'boris', 'north'),
    'trw_ChloeChloeChloeChloeChlo': Caller('digger', 'chloe', 'north'),
    'trw_DmitriDmitriDmitriDmitri': Caller('digger', 'dmitri', 'south'),
    'trw_ErikaErikaErikaErikaErik': Caller('curator', 'erika', 'museum'),
    'trw_FabioFabioFabioFabioFabi': Caller('curator', 'fabio', 'museum'),
}


# ---------------------------------------------------------------------------------------------------------------- errors

PHRASES = {400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed',
           406: 'Not Acceptable', 408: 'Request Timeout', 409: 'Conflict', 410: 'Gone', 412: 'Precondition Failed',
           413: 'Payload Too Large', 415: 'Unsupported Media Type', 422: 'Unprocessable Entity', 429: 'Too Many Requests',
           500: 'Internal Server Error'}
STATUS = {'no_json': 400, 'no_body': 400, 'not_json': 415, 'not_served': 406, 'bad_parameter': 400, 'bad_page': 400,
          'left_out': 422, 'not_known': 422, 'wrong_type': 422, 'wrong_value': 422, 'no_route': 404, 'no_method': 405,
          'no_key': 401, 'bad_key': 401, 'not_yours': 403, 'not_for_you': 403, 'not_there': 404, 'thrown_away': 410,
          'taken': 409, 'wrong_state': 409, 'empty_trench': 409, 'changed_meanwhile': 412, 'too_fast': 429, 'too_many': 409,
          'too_large': 413, 'too_slow': 408, 'no_version': 400, 'old_version': 410, 'dig_closed': 409, 'trench_sealed': 409,
          'reference_gone': 422, 'broken': 500}
SAID = {'dig_closed': 'The dig is closed.', 'trench_sealed': 'The trench is sealed.'}


class Refused(Exception):
    def __init__(self, code, violations=(), headers=None):
        super().__init__(code)
        self.code, self.violations, self.headers = code, list(violations), headers or {}


def problem(refused):
    code = refused.code
    status = STATUS[code]
    if bug('er-status-taken') and code == 'taken':
        status = 400
    if bug('er-status-left-out') and code == 'left_out':
        status = 400
    if bug('er-status-gone') and code == 'thrown_away':
        status = 404
    if bug('er-code-yours') and code == 'not_yours':
        code = 'not_for_you'
    if bug('er-narrow-type') and code == 'wrong_type':
        code = 'wrong_value'
    if bug('er-narrow-unknown') and code == 'not_known':
        code = 'wrong_value'
    if bug('er-narrow-key') and code == 'no_key':
        code = 'bad_key'
    if bug('er-narrow-empty') and code == 'empty_trench':
        code = 'wrong_state'
    if bug('er-message-closed') and code == 'dig_closed':
        SAID['dig_closed'] = 'No.'
    body = {'type': 'about:blank', 'title': PHRASES[status], 'status': status, 'detail': SAID.get(code, PHRASES[status] + '.'),
            'code': code, 'request_id': uuid.uuid4().hex}
    if refused.violations:
        body['violations'] = refused.violations
    if bug('er-payload-title'):
        body['title'] = code
    if bug('er-payload-violations'):
        body.pop('violations', None)
    return status, body


def wrong(path, found, expected, kind='wrong_value', where='body'):
    return kind, {'in': where, 'path': path, 'found': str(found)[:200], 'expected': expected}


def raise_first(found):
    """What was sent stands before what is missing; the first of it names the code."""
    ordered = [one for one in found if one[0] != 'left_out'] + [one for one in found if one[0] == 'left_out']
    if bug('er-narrow-first') and len(ordered) > 1:
        ordered = ordered[::-1]
    if ordered:
        raise Refused(ordered[0][0], [violation for _, violation in ordered])


# ---------------------------------------------------------------------------------------------------- resources and rows

def text(low=0, high=None, pattern=None):
    def check(value):
        if not isinstance(value, str):
            return 'wrong_type', 'a string'
        if len(value) < low:
            return 'wrong_value', f'at least {low} characters'
        if high is not None and len(value) > high:
            return 'wrong_value', f'at most {high} characters'
        if pattern and not re.search(pattern, value):
            return 'wrong_value', f'a string that matches {pattern}'
        return None
    return check


def whole(low, high):
    def check(value):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or (isinstance(value, float) and not value.is_integer()):
            return 'wrong_type', 'an integer'
        if value < low:
            return 'wrong_value', f'at least {low}'
        if value > high:
            return 'wrong_value', f'at most {high}'
        return None
    return check


def one_of(*values):
    def check(value):
        if not isinstance(value, str):
            return 'wrong_type', 'a string'
        return None if value in values else ('wrong_value', 'one of ' + ', '.join(values))
    return check


def tag_list(value):
    if not isinstance(value, list):
        return 'wrong_type', 'a list'
    for n, tag in enumerate(value):
        if not isinstance(tag, str):
            return 'wrong_type', 'a string', f'/{n}'
        if not 1 <= len(tag) <= (30 if bug('re-tag-long') else 20):
            return 'wrong_value', '1 to 20 characters', f'/{n}'
    if len(value) > (6 if bug('re-tags-six') else 5):
        return 'wrong_value', 'at most 5 items'
    if len(set(value)) < len(value) and not bug('re-tags-twice'):
        return 'wrong_value', 'each once'
    return None


class Field:
    def __init__(self, check=None, required=True, readonly=False, immutable=False, default=None, only=None, bound=False):
        self.check, self.required, self.readonly, self.immutable = check, required, readonly, immutable
        self.default, self.only, self.bound = default, only, bound


FIELDS = {}


def declare():
    FIELDS['dig'] = {
        'id': Field(readonly=True),
        'code': Field(text(pattern=r'^[A-Z]{3}[0-9]{2}' if bug('re-code-pattern') else r'^[A-Z]{3}[0-9]{2}\Z'), immutable=not bug('re-code-mutable')),
        'title': Field(text(2 if bug('re-title-short') else 3, 80)),
        'season': Field(whole(1990, 2101 if bug('re-season-max') else 2100)),
        'grade': Field(one_of('A', 'B', 'C', *(['D'] if bug('re-grade-enum') else [])), default='B' if bug('re-grade-default') else 'C',
                       only=None if bug('re-grade-writable') else 'curator'),
        'permit': Field(text(high=20), required=False, only='curator'),
        'institute': Field(readonly=True), 'director': Field(readonly=True), 'status': Field(text(), readonly='moves'),
        'trenches': Field(readonly=True), 'mass_g': Field(readonly=True), 'opened_at': Field(readonly=True), 'updated_at': Field(readonly=True),
    }
    FIELDS['member'] = {
        'id': Field(readonly=True),
        'dig': Field(text(), immutable=True, bound=True),
        'person': Field(text(1, 40), immutable=True),
        'role': Field(one_of('director', 'supervisor', 'novice'), default='novice'),
    }
    FIELDS['trench'] = {
        'id': Field(readonly=True),
        'dig': Field(text(), immutable=True, bound=True),
        'number': Field(readonly=True),
        'title': Field(text(1, 60)),
        'top_cm': Field(whole(-1 if bug('re-top-min') else 0, 1000)),
        'bottom_cm': Field(whole(0, 1000)),
        'status': Field(readonly=True), 'artefacts': Field(readonly=True), 'mass_g': Field(readonly=True),
    }
    FIELDS['artefact'] = {
        'id': Field(readonly=True),
        'trench': Field(text(), immutable=True, bound=True),
        'label': Field(readonly=True),
        'material': Field(one_of('bone', 'ceramic', 'flint', 'metal'), required=not bug('re-material-optional')),
        'mass_g': Field(whole(0 if bug('re-mass-zero') else 1, 1_000_000)),
        'tags': Field(tag_list, default=[]),
        'note': Field(text(high=200), required=False),
        'shelf': Field(readonly=True), 'found_by': Field(readonly=True), 'found_at': Field(readonly=True), 'status': Field(readonly=True),
    }
    FIELDS['crate'] = {
        'id': Field(readonly=True),
        'destination': Field(text(2, 60)),
        'items': Field(), 'total_g': Field(readonly=True), 'packed_by': Field(readonly=True),
    }
    FIELDS['item'] = {
        'id': Field(readonly=True), 'crate': Field(readonly=True),
        'position': Field(whole(1, 99)),
        'text': Field(text(1, 60)),
        'mass_g': Field(whole(1, 1_000_000)),
    }


PREFIX = {'dig': 'dig', 'member': 'mem', 'trench': 'tre', 'artefact': 'art', 'crate': 'cra', 'item': 'itm'}
ROWS = {name: {} for name in PREFIX}
TRASH = {}
COUNTERS = collections.Counter()
EVENTS = collections.deque()


def rows(name, **having):
    return [row for row in ROWS[name].values() if all(row.get(key) == value for key, value in having.items())]


def trench_mass(trench):
    return sum(row['mass_g'] for row in rows('artefact', trench=trench['id']))


def present(name, row, caller, version):
    """A row as this caller is shown it in this version."""
    shown = dict(row)
    shown.pop('_since', None)
    if name == 'dig':
        mine = rows('trench', dig=row['id'])
        shown['trenches'] = len([one for one in mine if one['status'] == 'open']) if bug('re-derive-trenches') else len(mine)
        shown['mass_g'] = sum(trench_mass(one) for one in mine)
        if caller.user != 'curator' and not bug('re-permit-seen'):
            shown.pop('permit', None)
        if version == OLD and not bug('ve-old-season'):
            shown.pop('season')
    if name == 'trench':
        found = rows('artefact', trench=row['id'])
        gone = [kept['row'] for kept in TRASH.values() if kept['row']['trench'] == row['id']] if bug('re-derive-deleted') else []
        shown['artefacts'] = len(found) + len(gone)
        shown['mass_g'] = trench_mass(row)
    if name == 'artefact' and version == OLD and not bug('ve-old-name'):
        shown['weight_g'] = shown.pop('mass_g')
    if name == 'crate':
        items = rows('item', crate=row['id'])
        if not bug('re-children-order'):
            items.sort(key=lambda item: item['position'])
        shown['items'] = [dict(item) for item in items]
        shown['total_g'] = sum(item['mass_g'] for item in items)
        if bug('re-derive-total'):
            shown['total_g'] = len(items)
    if bug('re-type-number') and name == 'trench':
        shown['number'] = str(shown['number'])
    if bug('re-note-null') and name == 'artefact':
        shown.setdefault('note', None)
    return shown


def newer(name, version, field):
    """The stored name of a field as this version calls it; None where it has none."""
    if version == OLD and name == 'artefact':
        return {'weight_g': 'mass_g', 'mass_g': None}.get(field, field)
    if version == OLD and name == 'dig' and field == 'season':
        return None
    return field


def older(name, version, field):
    return 'weight_g' if version == OLD and name == 'artefact' and field == 'mass_g' else field


def taken_in(name, body, caller, version, found, at='', before=None, bound=None):
    """What was sent, checked and under its stored names. Problems go to found."""
    fields, taken = FIELDS[name], {}
    if not isinstance(body, dict):
        found.append(wrong(at, 'no map', 'an object', 'wrong_type'))
        return taken
    for key, value in body.items():
        path = f'{at}/{key}'
        stored = newer(name, version, key)
        field = fields.get(stored) if stored else None
        if field is None:
            if not bug('re-unknown-kept'):
                found.append(wrong(path, 'a field that is not stated', 'no such field', 'not_known'))
            continue
        if field.readonly is True:
            continue
        if field.readonly == 'moves':
            if before is not None:
                if value is None:
                    found.append(wrong(path, 'nothing', 'a value', 'left_out'))
                elif not isinstance(value, str):
                    found.append(wrong(path, value, 'a string', 'wrong_type'))
                elif value not in ('open', 'closed'):
                    found.append(wrong(path, value, 'one of open, closed'))
                else:
                    taken[stored] = value
            continue
        if field.only and field.only != caller.user:
            continue
        if stored == 'items':
            taken['items'] = value
            if not isinstance(value, list):
                found.append(wrong(path, value, 'a list', 'wrong_type'))
            elif not value and not bug('re-children-none'):
                found.append(wrong(path, 'a list of 0', 'at least 1 item'))
            elif len(value) > 20:
                found.append(wrong(path, f'a list of {len(value)}', 'at most 20 items'))
            else:
                taken['items'] = [taken_in('item', one, caller, version, found, f'{path}/{n}') for n, one in enumerate(value)]
            continue
        if value is None:
            if before is None:
                found.append(wrong(path, 'null', 'a value', 'wrong_type'))
            elif field.required:
                found.append(wrong(path, 'nothing', 'a value', 'left_out'))
            else:
                taken[stored] = None
            continue
        if bound is not None and field.bound and value != bound:
            found.append(wrong(path, value, f'{bound}, as the path says'))
            continue
        if before is not None and field.immutable:
            if before.get(stored) != value:
                found.append(wrong(path, value, 'its value unchanged'))
            continue
        said = field.check(value)
        if said:
            found.append(wrong(path + ''.join(said[2:]), value, said[1], said[0]))
            continue
        taken[stored] = int(value) if isinstance(value, float) else value
    if before is None:
        for key, field in fields.items():
            if older(name, version, key) in body:
                if not (field.only and field.only != caller.user and field.default is not None):
                    continue
            if field.readonly or field.bound:
                continue
            if field.default is not None:
                taken[key] = list(field.default) if isinstance(field.default, list) else field.default
            elif name == 'dig' and key == 'season' and version == OLD:
                taken[key] = 2026 if bug('ve-old-default') else 2025
            elif field.required:
                found.append(wrong(f'{at}/{older(name, version, key)}', 'nothing', 'a value', 'left_out'))
    return taken


# ---------------------------------------------------------------------------------------------------------------- events

def tell(kind, name, row, data, before=None):
    """Kept for a day, for those who may read the row it is about."""
    if bug('ev-lost-' + kind):
        return
    EVENTS.append({'id': 'evt_' + ulid(), 'kind': kind, 'at': Clock.now(), 'name': name, 'row': dict(row), 'data': data})
    LOCK.notify_all()


def forget_events():
    keep = HOUR if bug('ev-keep') else DAY
    while EVENTS and EVENTS[0]['at'] < Clock.now() - keep:
        EVENTS.popleft()


def payload_of(event, caller, version):
    data = event['data']
    if data == 'row':
        shown = dict(event['shown'](caller, version)) if 'shown' in event else present(event['name'], event['row'], caller, version)
        return shown
    return data


# ----------------------------------------------------------------------------------------------------------------- rights

def role_of(dig, person):
    for row in rows('member', dig=dig, person=person):
        return row['role']
    return None


def dig_of(name, row):
    if name == 'dig':
        return row
    if name == 'artefact':
        row = ROWS['trench'].get(row['trench'], {'dig': None})
    return ROWS['dig'].get(row['dig'])


def may_read(name, row, caller):
    if name == 'crate':
        return caller.user == 'curator'
    if caller.user == 'curator':
        return True
    dig = dig_of(name, row)
    if bug('au-any-institute') and name == 'artefact':
        return True
    if bug('au-list-institute') and name == 'dig':
        return True
    return dig is not None and dig['institute'] == caller.institute


ALLOWED = {
    'create dig': ['digger'], 'list dig': ['digger', 'curator'], 'read dig': ['digger', 'curator'], 'look up dig': ['digger', 'curator'],
    'update dig': ['digger', 'curator'], 'list member': ['digger', 'curator'], 'create member': ['digger'], 'delete member': ['digger'],
    'list trench': ['digger', 'curator'], 'read trench': ['digger', 'curator'], 'create trench': ['digger'], 'update trench': ['digger'],
    'seal trench': ['digger'], 'list artefact': ['digger', 'curator'], 'read artefact': ['digger', 'curator'],
    'catalogue artefact': ['curator'], 'create artefact': ['digger'], 'update artefact': ['digger'], 'wash artefact': ['digger'],
    'delete artefact': ['digger'], 'recover artefact': ['digger'], 'create crate': ['curator'], 'list crate': ['curator'],
    'read crate': ['curator'], 'stream events': ['digger', 'curator'],
}


def may(operation, row, caller):
    """Whether a rule over the row, stored or to be, lets this caller do it."""
    if operation == 'update dig':
        return caller.user == 'curator' or row['director'] == caller.id or bug('au-update-any')
    if operation == 'create member':
        return role_of(row['dig'], caller.id) == 'director' or (bug('au-member-any') and role_of(row['dig'], caller.id) is not None)
    if operation == 'delete member':
        dig = ROWS['dig'][row['dig']]
        return dig['director'] == caller.id and (row['person'] != caller.id or bug('au-leave'))
    if operation in ('create trench', 'update trench', 'seal trench'):
        roles = ('director', 'supervisor', 'novice') if bug('au-novice-digs') and operation == 'create trench' else ('director', 'supervisor')
        if bug('au-supervisor'):
            roles = ('director',)
        return role_of(row['dig'], caller.id) in roles
    if operation in ('create artefact', 'update artefact', 'wash artefact'):
        if bug('au-find-any') and operation == 'create artefact':
            return True
        return role_of(ROWS['trench'][row['trench']]['dig'], caller.id) is not None
    if operation in ('delete artefact', 'recover artefact'):
        return dig_of('artefact', row)['director'] == caller.id or bug('au-delete-member')
    return True


# ------------------------------------------------------------------------------------------------------------- what is done

class Work:
    """One change: what it stores, and what it tells; all of it or nothing."""

    def __init__(self, caller=None, version=NEW):
        self.caller, self.version = caller, version

    def create(self, name, values, start=None):
        row = {'id': f'{PREFIX[name]}_{uuid.uuid4().hex if bug("re-id-form") and name == "trench" else ulid()}', **values}
        row = {key: value for key, value in row.items() if value is not None}
        ROWS[name][row['id']] = row
        return row


def due():
    """What the clock does: washed artefacts dry, what was thrown away long ago is forgotten."""
    now = Clock.now()
    limit = (24 if bug('st-dry-early') else 48) * HOUR
    wet = sorted((row for row in ROWS['artefact'].values() if row['status'] == 'washed' and row['_since'] + limit <= now), key=lambda row: row['_since'])
    for row in wet:
        if bug('st-dry-never'):
            break
        row['status'] = 'dried'
        row['_since'] = now
        tell('artefact.dried', 'artefact', row, row['id'])
    for key, kept in list(TRASH.items()):
        if kept['at'] + (300 if bug('re-keep-long') else 30) * DAY <= now:
            del TRASH[key]
    forget_events()


def seal(trench):
    trench['status'] = 'sealed'
    tell('trench.sealed', 'trench', trench, trench['id'])


class Operations:
    """Each operation of the document; what it is given has passed the steps before the row is looked at."""

    def __init__(self, call):
        self.call, self.caller, self.version, self.path = call, call.caller, call.version, call.params

    # -- rows, as this caller may see them
    def parent(self, name):
        row = ROWS[name].get(self.path[name])
        if row is None or not may_read(name, row, self.caller):
            raise Refused('not_there')
        return row

    def row(self, name, operation, trashed=False):
        key = self.path['id']
        row = ROWS[name].get(key)
        if row is None and name == 'artefact' and key in TRASH:
            kept = TRASH[key]['row']
            if not may_read(name, kept, self.caller) or bug('re-deleted-404'):
                raise Refused('not_there')
            if not trashed:
                raise Refused('thrown_away')
            if not may(operation, kept, self.caller):
                raise Refused('not_yours')
            return kept
        if row is None:
            raise Refused('not_there')
        if not may_read(name, row, self.caller):
            raise Refused('not_yours' if bug('er-missing-forbidden') else 'not_there')
        if not may(operation, row, self.caller):
            raise Refused('not_yours')
        return row

    def shown(self, name, row, status=200, where=None):
        headers = {}
        if where and not (bug('en-location') and name == 'dig'):
            headers['Location'] = f'{BASE}/{where}/{row["id"]}'
        return status, present(name, row, self.caller, self.version), headers

    def page(self, name, found, order=None, descending=False):
        if order:
            found = sorted(found, key=order, reverse=descending)
        limit, offset = self.call.limit, self.call.offset
        shown = [present(name, row, self.caller, self.version) for row in found[offset:offset + limit]]
        answer = {'data': shown, 'total': len(shown) if bug('li-total') else len(found)}
        if bug('en-list-items') and name == 'crate':
            answer = {'crates': shown, 'total': len(found)}
        return 200, answer, {}

    # -- digs
    def create_dig(self):
        found = []
        taken = taken_in('dig', self.call.body, self.caller, self.version, found)
        raise_first(found)
        if rows('dig', code=taken['code']) and not bug('re-code-unique'):
            raise Refused('taken', [wrong('/code', taken['code'], 'a value that no other one holds')[1]])
        if len(rows('dig', director=self.caller.id, status='open')) >= (61 if bug('li-rows-dig') else 60):
            raise Refused('too_many')
        now = instant(Clock.now())
        row = Work().create('dig', {**taken, 'institute': self.caller.id if bug('au-attribute') else self.caller.institute,
                                    'director': self.caller.id, 'status': 'closed' if bug('st-initial') else 'open', 'opened_at': now, 'updated_at': now})
        if not bug('st-then-member'):
            Work().create('member', {'dig': row['id'], 'person': self.caller.id, 'role': 'supervisor' if bug('st-then-role') else 'director'})
        return self.shown('dig', row, 200 if bug('en-created') else 201, 'digs')

    def list_dig(self):
        query = self.call.query
        found = [row for row in ROWS['dig'].values() if may_read('dig', row, self.caller)]
        if 'status' in query:
            found = [row for row in found if row['status'] == query['status']]
        if 'season' in query and not bug('en-filter-season'):
            found = [row for row in found if row['season'] == int(query['season'])]
        if 'q' in query:
            for word in query['q'].lower().split():
                found = [row for row in found if word in row['title'].lower() or (word in row['code'].lower() and not bug('en-search-code'))]
        if 'person' in query:
            who = query['person']
            found = [row for row in found if (row['director'] == who if bug('en-filter-person') else rows('member', dig=row['id'], person=who))]
        sort = query.get('sort', 'opened' if bug('en-order') else 'code')
        key = {'opened': 'opened_at', 'code': 'code'}[sort.lstrip('-')]
        down = sort.startswith('-') and not bug('en-sort-down')
        return self.page('dig', found, lambda row: row[key], down)

    def tag_of(self, row):
        shown = present('dig', row, self.caller, self.version)
        return '"' + hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()[:24] + '"'

    def read_dig(self):
        row = self.row('dig', 'read dig')
        tag = '"same"' if bug('en-etag') else self.tag_of(row)
        asked = self.call.headers.get('If-None-Match')
        if asked and (asked.strip() == '*' or tag in [one.strip().removeprefix('W/') for one in asked.split(',')]):
            return 304, None, {'ETag': tag}
        status, body, headers = self.shown('dig', row)
        return status, body, {**headers, 'ETag': tag}

    def look_up_dig(self):
        for row in rows('dig', code=self.path['code']):
            if may_read('dig', row, self.caller):
                return self.shown('dig', row)
        raise Refused('not_there')

    def update_dig(self):
        row = self.row('dig', 'update dig')
        asked = self.call.headers.get('If-Match')
        if asked and asked.strip() != '*' and self.tag_of(row) not in [one.strip() for one in asked.split(',')] and not bug('en-if-match'):
            raise Refused('changed_meanwhile')
        found = []
        taken = taken_in('dig', self.call.body, self.caller, self.version, found, before=row)
        raise_first(found)
        target = taken.pop('status', row['status'])
        moves = target != row['status']
        if moves and not (row['status'] == 'open' and target == 'closed') and not bug('st-reopen'):
            raise Refused('wrong_state')
        changed = {key: value for key, value in taken.items() if row.get(key) != value}
        if not changed and not moves:
            if bug('re-updated-idle'):
                row['updated_at'] = instant(Clock.now())
            return self.shown('dig', row)
        before = {key: row.get(key) for key in changed}
        for key, value in changed.items():
            row[key] = value
            if value is None:
                del row[key]
        row['updated_at'] = row['updated_at'] if bug('re-updated-kept') else instant(Clock.now())
        if moves:
            row['status'] = target
        if 'title' in before:
            tell('dig.renamed', 'dig', row, {'dig': row['id'], 'from': row['title'] if bug('ev-before') else before['title'], 'to': row['title']})
        if moves:
            tell('dig.closed', 'dig', row, row['id'])
        if moves and not bug('st-then-seal'):
            for trench in rows('trench', dig=row['id']):
                if trench['status'] == 'open' and (rows('artefact', trench=trench['id']) or bug('st-then-empty')):
                    seal(trench)
        return self.shown('dig', row)

    # -- members
    def create_member(self):
        dig = self.parent('dig')
        found = []
        taken = taken_in('member', self.call.body, self.caller, self.version, found, bound=dig['id'])
        raise_first(found)
        if not may('create member', {'dig': dig['id']}, self.caller):
            raise Refused('not_yours')
        for row in rows('member', dig=dig['id'], person=taken['person']):
            if bug('en-exists'):
                raise Refused('taken')
            if bug('en-exists-changes'):
                row['role'] = taken['role']
            return self.shown('member', row)
        return self.shown('member', Work().create('member', {'dig': dig['id'], **taken}), 201)

    def list_member(self):
        dig = self.parent('dig')
        return self.page('member', rows('member') if bug('en-parent-members') else rows('member', dig=dig['id']))

    def delete_member(self):
        row = self.row('member', 'delete member')
        if not bug('en-delete-member'):
            del ROWS['member'][row['id']]
        return 204, None, {}

    # -- trenches
    def rules_of_trench(self, row, found):
        """Told with the other violations, where its field was sent."""
        whole_numbers = all(isinstance(row.get(name), int) for name in ('top_cm', 'bottom_cm'))
        bad = {violation['path'] for _, violation in found}
        if whole_numbers and not bad & {'/top_cm', '/bottom_cm'} and row['bottom_cm'] <= row['top_cm'] and not bug('re-rule') and not (bug('re-rule-equal') and row['bottom_cm'] == row['top_cm']):
            field = '/top_cm' if bug('re-rule-field') else '/bottom_cm'
            found.append(wrong(field, row['bottom_cm'], 'more than top_cm'))
            sent = [f'/{name}' for name in self.call.body] if isinstance(self.call.body, dict) else []
            found.sort(key=lambda one: sent.index(one[1]['path']) if one[1]['path'] in sent else len(sent))

    def create_trench(self):
        dig = self.parent('dig')
        found = []
        taken = taken_in('trench', self.call.body, self.caller, self.version, found, bound=dig['id'])
        self.rules_of_trench(taken, found)
        raise_first(found)
        if not may('create trench', {'dig': dig['id']}, self.caller):
            raise Refused('not_yours')
        if dig['status'] == 'closed' and not bug('er-own-closed'):
            raise Refused('dig_closed')
        if len(rows('trench', dig=dig['id'])) >= 12 and not bug('li-rows-trench'):
            raise Refused('too_fast' if bug('li-rows-code') else 'too_many')
        within = 'all' if bug('re-number-within') else dig['id']
        COUNTERS[within] += 1
        row = Work().create('trench', {'dig': dig['id'], 'number': COUNTERS[within], **taken, 'status': 'open'})
        return self.shown('trench', row, 201, 'trenches')

    def list_trench(self):
        dig = self.parent('dig')
        return self.page('trench', rows('trench', dig=dig['id']), lambda row: row['number'], bug('en-order-trench'))

    def read_trench(self):
        return self.shown('trench', self.row('trench', 'read trench'))

    def update_trench(self):
        row = self.row('trench', 'update trench')
        found = []
        taken = taken_in('trench', self.call.body, self.caller, self.version, found, before=row)
        self.rules_of_trench({**row, **taken}, found)
        raise_first(found)
        if row['status'] != 'open' and not bug('st-update-sealed'):
            raise Refused('wrong_state')
        row.update(taken)
        return self.shown('trench', row)

    def seal_trench(self):
        row = self.row('trench', 'seal trench')
        if row['status'] != 'open' and not bug('st-seal-twice'):
            raise Refused('wrong_state')
        if not rows('artefact', trench=row['id']) and not bug('st-seal-empty'):
            raise Refused('empty_trench')
        seal(row)
        return self.shown('trench', row)

    # -- artefacts
    def create_artefact(self):
        trench = self.parent('trench')
        found = []
        taken = taken_in('artefact', self.call.body, self.caller, self.version, found, bound=trench['id'])
        raise_first(found)
        if not may('create artefact', {'trench': trench['id']}, self.caller):
            raise Refused('not_yours')
        if trench['status'] == 'sealed' and not bug('er-own-sealed'):
            raise Refused('trench_sealed')
        COUNTERS[trench['id']] += 1
        label = f'F-{COUNTERS[trench["id"]]:0{3 if bug("re-label-form") else 4}d}'
        now = Clock.now()
        row = Work().create('artefact', {'trench': trench['id'], 'label': label, **taken,
                                         'found_by': dig_of('trench', trench)['director'] if bug('re-found-by') else self.caller.id, 'found_at': instant(now), 'status': 'raised', '_since': now})
        tell('artefact.raised', 'artefact', row, 'row')
        if row['mass_g'] >= (60_000 if bug('ev-heavy') else 50_000):
            tell('artefact.heavy', 'artefact', row, row['id'])
        return self.shown('artefact', row, 201, 'artefacts')

    def list_artefact(self):
        query = self.call.query
        found = [row for row in ROWS['artefact'].values() if may_read('artefact', row, self.caller)]
        if 'material' in query:
            wanted = query['material'].split(',')
            if bug('en-split'):
                wanted = wanted[:1]
            found = [row for row in found if row['material'] in wanted]
        if 'min_mass' in query:
            least = int(query['min_mass'])
            found = [row for row in found if row['mass_g'] > least or (row['mass_g'] == least and not bug('en-min-mass'))]
        if 'dig_code' in query and not bug('en-path-filter'):
            found = [row for row in found if dig_of('artefact', row)['code'] == query['dig_code']]
        if 'tag' in query:
            found = [row for row in found if query['tag'] in row['tags'][:1 if bug('en-tag-first') else None]]
        sort = query.get('sort')
        if not sort:
            return self.page('artefact', found)
        key = newer('artefact', self.version, sort.lstrip('-'))
        return self.page('artefact', found, lambda row: row[key], sort.startswith('-'))

    def read_artefact(self):
        return self.shown('artefact', self.row('artefact', 'read artefact'))

    def update_artefact(self):
        row = self.row('artefact', 'update artefact')
        found = []
        taken = taken_in('artefact', self.call.body, self.caller, self.version, found, before=row)
        raise_first(found)
        if row['status'] not in ('raised', 'washed') and not bug('st-update-dried'):
            raise Refused('wrong_state')
        had = list(row['tags'])
        changed = {key: value for key, value in taken.items() if row.get(key) != value}
        for key, value in changed.items():
            row[key] = value
            if value is None:
                del row[key]
        if bug('re-merge') and changed and 'note' not in taken:
            row.pop('note', None)
        if changed:
            fresh = row['tags'] if bug('ev-each-all') else [tag for tag in row['tags'] if tag not in had]
            for tag in fresh[:1] if bug('ev-each-one') else fresh:
                tell('artefact.tagged', 'artefact', row, {'artefact': row['id'], 'tag': tag})
        return self.shown('artefact', row)

    def delete_artefact(self):
        row = self.row('artefact', 'delete artefact')
        if row['status'] not in ('raised', 'washed') and not bug('st-delete-dried'):
            raise Refused('wrong_state')
        del ROWS['artefact'][row['id']]
        TRASH[row['id']] = {'row': row, 'at': Clock.now()}
        tell('artefact.deleted', 'artefact', row, row['id'])
        return 204, None, {}

    def recover_artefact(self):
        row = self.row('artefact', 'recover artefact', trashed=True)
        if row['id'] not in TRASH:
            raise Refused('wrong_state')
        del TRASH[row['id']]
        if not (bug('st-recover-state') and row['status'] == 'washed'):
            row['status'] = 'raised'
        row['_since'] = Clock.now()
        if bug('re-recover-bare'):
            row['tags'] = []
        ROWS['artefact'][row['id']] = row
        return self.shown('artefact', row)

    def wash_artefact(self):
        row = self.row('artefact', 'wash artefact')
        if row['status'] != 'raised' and not (bug('st-wash-again') and row['status'] == 'washed'):
            raise Refused('wrong_state')
        row['status'], row['_since'] = 'washed', Clock.now()
        return self.shown('artefact', row)

    def catalogue_artefact(self):
        row = self.row('artefact', 'catalogue artefact')
        found, body = [], self.call.body
        if not isinstance(body, dict):
            found.append(wrong('', 'no map', 'an object', 'wrong_type'))
        elif 'shelf' not in body:
            if not bug('en-shelf-optional'):
                found.append(wrong('/shelf', 'nothing', 'a string', 'left_out'))
        elif not isinstance(body['shelf'], str):
            found.append(wrong('/shelf', body['shelf'], 'a string', 'wrong_type'))
        elif not re.search(r'^[A-Z][0-9]{1,3}\Z', body['shelf']):
            found.append(wrong('/shelf', body['shelf'], 'a string that matches ^[A-Z][0-9]{1,3}$'))
        raise_first(found)
        if row['status'] != 'dried' and not (bug('st-catalogue-wet') and row['status'] == 'washed'):
            raise Refused('wrong_state')
        row['status'], row['_since'] = 'catalogued', Clock.now()
        if not bug('re-set-shelf') and 'shelf' in body:
            row['shelf'] = body['shelf']
        return self.shown('artefact', row)

    # -- crates
    def create_crate(self):
        found = []
        taken = taken_in('crate', self.call.body, self.caller, self.version, found)
        raise_first(found)
        items = taken.pop('items')
        seen = set()
        for n, item in enumerate(items):
            if item['position'] in seen and not bug('re-children-unique'):
                raise Refused('taken', [wrong(f'/items/{n}/position', item['position'], 'a value that no other one holds')[1]])
            seen.add(item['position'])
        row = Work().create('crate', {**taken, 'packed_by': self.caller.id})
        for item in items[:1] if bug('re-children-first') else items:
            Work().create('item', {'crate': row['id'], **item})
        return self.shown('crate', row, 201, 'crates')

    def list_crate(self):
        return self.page('crate', rows('crate'))

    def read_crate(self):
        return self.shown('crate', self.row('crate', 'read crate'))


# ---------------------------------------------------------------------------------------------------------------- routes

def routes():
    table = [
        ('POST', '/digs', 'create dig'), ('GET', '/digs', 'list dig'), ('GET', '/digs/{id}', 'read dig'), ('PATCH', '/digs/{id}', 'update dig'),
        ('GET', '/codes/{code}', 'look up dig'), ('POST', '/digs/{dig}/members', 'create member'), ('GET', '/digs/{dig}/members', 'list member'),
        ('DELETE', '/members/{id}', 'delete member'), ('POST', '/digs/{dig}/trenches', 'create trench'),
        ('GET', '/digs/{dig}/trenches', 'list trench'), ('GET', '/trenches/{id}', 'read trench'), ('PATCH', '/trenches/{id}', 'update trench'),
        ('POST', '/trenches/{id}/seal', 'seal trench'), ('POST', '/trenches/{trench}/artefacts', 'create artefact'),
        ('GET', '/artefacts', 'list artefact'), ('GET', '/artefacts/{id}', 'read artefact'), ('PATCH', '/artefacts/{id}', 'update artefact'),
        ('DELETE', '/artefacts/{id}', 'delete artefact'), ('POST', '/artefacts/{id}/recover', 'recover artefact'),
        ('POST', '/artefacts/{id}/wash', 'wash artefact'), ('POST', '/artefacts/{id}/catalogue', 'catalogue artefact'),
        ('POST', '/crates', 'create crate'), ('GET', '/crates', 'list crate'), ('GET', '/crates/{id}', 'read crate'),
        ('GET', '/events/stream', 'stream events'),
    ]
    dropped = {'pu-no-crate-list': 'list crate', 'pu-no-recover': 'recover artefact', 'pu-no-members': 'list member', 'en-no-lookup': 'look up dig'}
    out = []
    for method, path, operation in table:
        if bug('en-path-trench') and path == '/trenches/{id}':
            path = '/trench/{id}'
        if bug('en-method-update') and operation == 'update artefact':
            method = 'PUT'
        if dropped.get(FAULT) != operation:
            out.append((method, re.compile('^' + re.sub(r'\{(\w+)\}', r'(?P<\1>[^/]+)', path) + r'\Z'), operation))
    return out


QUERY = {
    'list dig': {'status': ('open', 'closed'), 'season': whole(1990, 2100), 'q': None, 'person': text(1, 40), 'sort': ('opened', '-opened', 'code', '-code')},
    'list artefact': {'material': ('bone', 'ceramic', 'flint', 'metal'), 'min_mass': whole(-2**53, 2**53), 'dig_code': text(pattern=r'^[A-Z]{3}[0-9]{2}\Z'), 'tag': None,
                      'sort': ('mass_g', '-mass_g', 'label', '-label')},
}
PAGED = ('list dig', 'list member', 'list trench', 'list artefact', 'list crate')
WITH_BODY = ('create dig', 'update dig', 'create member', 'create trench', 'update trench', 'create artefact', 'update artefact',
             'catalogue artefact', 'create crate')
HITS = collections.defaultdict(collections.deque)


def rate(caller, operation):
    """900 a minute, and 40 crates; a request that one of them refuses counts in none."""
    now = Clock.now()
    asked = [((caller.id,), 1000 if bug('li-rate') else 900)]
    if operation == 'create crate':
        asked.append(((caller.id, operation), 45 if bug('li-rate-crate') else 40))
    if bug('li-rate-shared'):
        asked = [((), limit) if len(who) == 1 else (who[1:], limit) for who, limit in asked]
    for who, limit in asked:
        hits = HITS[who]
        while hits and hits[0] <= now - (6_000 if bug('li-window') else 60_000):
            hits.popleft()
        if len(hits) >= limit:
            raise Refused('too_fast', headers={'Retry-After': str(max(1, math.ceil((hits[0] + 60_000 - now) / 1000)))})
    for who, _ in asked:
        HITS[who].append(now)


def accepts(header, types):
    if not header:
        return True
    for part in header.split(','):
        kind, *rest = [one.strip().lower() for one in part.split(';')]
        weight = next((one[2:] for one in rest if one.startswith('q=')), '1')
        try:
            if float(weight) == 0:
                continue
        except ValueError:
            pass
        if kind == '*/*' or kind in types or any(kind == one.split('/')[0] + '/*' for one in types):
            return True
    return False


class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    timeout = 30
    server_version = 'Trowel'
    sys_version = ''
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    # -- thirty seconds for the next request to begin, and ten from there for all of it
    def handle_one_request(self):
        self.connection.settimeout(30)
        try:
            begun = self.rfile.peek(1)
        except (TimeoutError, ConnectionError):
            begun = b''
        if not begun:
            self.close_connection = True
            return
        self.until = time.monotonic() + 10
        self.connection.settimeout(30 if bug('li-timeout') else 10)
        super().handle_one_request()

    def log_error(self, form, *_):
        if form.startswith('Request timed out'):
            status, body = problem(Refused('too_slow'))
            data = json.dumps(body).encode()
            head = f'HTTP/1.1 {status} {PHRASES[status]}\r\nContent-Type: application/problem+json\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n'
            try:
                self.connection.sendall(head.encode() + data)
            except OSError:
                pass

    def some(self, length):
        left = self.until - time.monotonic() + (20 if bug('li-timeout') else 0)
        if left <= 0:
            raise TimeoutError
        self.connection.settimeout(left)
        return self.rfile.read1(min(length, 65536))

    # -- the body, read before anything is decided, so that the connection can go on
    def read_body(self):
        try:
            if 'chunked' in (self.headers.get('Transfer-Encoding') or '').lower():
                parts, size = [], 0
                while True:
                    length = int(self.rfile.readline(100).split(b';')[0].strip() or b'0', 16)
                    if length == 0:
                        while self.rfile.readline(1000).strip():
                            pass
                        return b''.join(parts)
                    piece = self.rfile.read(length)
                    size += length
                    if size <= 1_000_000:
                        parts.append(piece)
                    self.rfile.readline(10)
            length = int(self.headers.get('Content-Length') or 0)
            body = b''
            while length > 0:
                piece = self.some(length)
                if not piece:
                    break
                length -= len(piece)
                if len(body) <= 1_000_000:
                    body += piece
            return body
        except TimeoutError:
            self.close_connection = True
            raise Refused('too_slow')
        except ValueError:
            self.close_connection = True
            raise Refused('no_json') from None
        finally:
            self.connection.settimeout(30)

    def answer(self, status, body, headers, kind='application/json'):
        data = b'' if body is None else json.dumps(body, ensure_ascii=False, separators=(',', ':')).encode()
        self.send_response(status)
        if body is not None:
            self.send_header('Content-Type', kind)
        self.send_header('Vary', 'X-Trowel-Key, Trowel-Version')
        if self.version == OLD and not bug('ve-deprecation'):
            self.send_header('Deprecation', '@1767225600')
            self.send_header('Sunset', 'Tue, 01 Jan 2036 00:00:00 GMT')
            self.send_header('Link', '<https://trowel.example/2025>; rel="deprecation"')
        for name, value in headers.items():
            self.send_header(name, value)
        if status not in (204, 304):
            self.send_header('Content-Length', str(len(data)))
        buffer = b''.join(self._headers_buffer) + b'\r\n'
        self._headers_buffer = []
        self.wfile.write(buffer + (b'' if self.command == 'HEAD' or status in (204, 304) else data))
        self.wfile.flush()

    def handle_any(self):
        self.version = NEW
        try:
            raw = self.read_body()
            outcome = self.decide(raw)
            if outcome is not None:
                self.answer(*outcome)
        except Refused as refused:
            status, body = problem(refused)
            self.answer(status, body, refused.headers, 'application/json' if bug('er-payload-type') else 'application/problem+json')
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        except Exception as error:  # noqa: BLE001
            print('broken:', repr(error), file=sys.stderr, flush=True)
            status, body = problem(Refused('broken'))
            self.answer(status, body, {}, 'application/problem+json')

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_HEAD = do_OPTIONS = handle_any

    def decide(self, raw):
        # 1: sizes
        if len(self.path) > (4096 if bug('li-url') else 2048):
            raise Refused('too_large')
        if sum(len(name) + len(value) for name, value in self.headers.items()) > 16384:
            raise Refused('too_large')
        # 2: route, method, version
        split = urlsplit(self.path)
        base = '/v1' if bug('pu-base') else BASE
        if not split.path.startswith(base + '/'):
            raise Refused('no_route')
        path = split.path[len(base):]
        fitting = [(method, match, operation) for method, pattern, operation in self.server.routes if (match := pattern.match(path))]
        if not fitting:
            raise Refused('no_route')
        methods = [method for method, _, _ in fitting]
        allow = ', '.join(dict.fromkeys(methods + (['HEAD'] if 'GET' in methods else []) + ['OPTIONS']))
        if self.command == 'OPTIONS':
            return 204, None, {'Allow': allow}
        asked = 'GET' if self.command == 'HEAD' else self.command
        if asked not in methods:
            raise Refused('no_route' if bug('er-method') else 'no_method', headers={} if bug('er-allow') else {'Allow': allow})
        _, match, operation = next(one for one in fitting if one[0] == asked)
        version = self.headers.get('Trowel-Version')
        if bug('ve-header'):
            version = self.headers.get('X-Trowel-Version')
        if version is None:
            version = OLD if bug('ve-default') else NEW
        if version not in (OLD, NEW):
            if bug('ve-unknown'):
                version = NEW
            else:
                raise Refused('no_version', [wrong('Trowel-Version', version, f'one of {OLD}, {NEW}', where='header')[1]])
        self.version = version
        if version == OLD and Clock.now() >= 2082758400000 and not bug('ve-sunset'):
            raise Refused('old_version')
        # 4 to 6: the caller, rates, whether there is a rule at all
        key = self.headers.get('X-Api-Key' if bug('au-header') else 'X-Trowel-Key')
        caller = CALLERS.get(key or '')
        if caller is not None and bug('pu-curators') and caller.user == 'curator':
            caller = None
        if caller is None and bug('au-any-key') and key and key.startswith('trw_'):
            caller = Caller('digger', 'somebody', 'north')
        if caller is None and bug('au-case') and key:
            caller = {one.lower(): who for one, who in CALLERS.items()}.get(key.lower())
        if caller is None:
            raise Refused('no_key' if not key else 'bad_key', headers={'WWW-Authenticate': 'ApiKey realm="Trowel"'})
        with LOCK:
            rate(caller, operation)
        allowed = ALLOWED[operation] + (['digger'] if bug('au-digger-crates') and operation == 'create crate' else [])
        if caller.user not in allowed:
            raise Refused('not_for_you')
        # 8: types, sizes, the body, parameters, the page
        stream = operation == 'stream events'
        if not accepts(self.headers.get('Accept'), ['text/event-stream'] if stream else ['application/json']) and not bug('er-accept'):
            raise Refused('not_served')
        self.caller, self.params = caller, {name: unquote(value) for name, value in match.groupdict().items()}
        self.body = None
        if operation in WITH_BODY:
            self.body = self.understand(raw, operation)
        self.parameters(operation, split.query)
        if stream:
            return self.stream()
        with LOCK:
            due()
            return getattr(Operations(self), operation.replace(' ', '_'))()

    def understand(self, raw, operation):
        if not raw:
            raise Refused('no_body' if not bug('er-narrow-body') else 'no_json')
        kind = (self.headers.get('Content-Type') or '').split(';')[0].strip().lower()
        taken = ['application/json'] + (['application/merge-patch+json'] if operation.startswith('update ') else [])
        if kind not in taken and not bug('er-media'):
            raise Refused('not_json')
        if len(raw) > (65536 if bug('li-body') else 16384):
            raise Refused('too_large')
        try:
            read = json.loads(raw.decode('utf-8'), parse_constant=lambda name: float('x' + name))
            json.dumps(read, ensure_ascii=False).encode('utf-8')
            return read
        except (ValueError, RecursionError):
            raise Refused('no_json') from None

    def parameters(self, operation, query):
        stated = QUERY.get(operation, {})
        found, pages, seen = [], [], {}
        for name, value in parse_qsl(query, keep_blank_values=True):
            seen.setdefault(name, []).append(value)
        self.query = {}
        for name, values in seen.items():
            if operation in PAGED and name in ('limit', 'offset'):
                if len(values) > 1:
                    found.append(wrong(name, f'{len(values)} values', 'one value', where='query')[1])
                continue
            if name not in stated or (self.version == OLD and name == 'season'):
                if not bug('en-unknown-parameter'):
                    found.append(wrong(name, 'a parameter that is not stated', 'no such parameter', where='query')[1])
                continue
            if len(values) > 1:
                found.append(wrong(name, f'{len(values)} values', 'one value', where='query')[1])
                continue
            value, shape = values[0], stated[name]
            if name in ('person', 'dig_code'):
                if shape(value):
                    found.append(wrong(name, value, 'a value that its field can have', where='query')[1])
                    continue
            elif callable(shape):
                if not re.match(r'^-?[0-9]+\Z', value) or shape(int(value)):
                    found.append(wrong(name, value, 'a whole number', where='query')[1])
                    continue
            elif shape:
                shape = [one.replace('mass_g', 'weight_g') for one in shape] if self.version == OLD else shape
                parts = value.split(',') if name == 'material' else [value]
                if any(part not in shape for part in parts):
                    found.append(wrong(name, value, 'one of ' + ', '.join(shape), where='query')[1])
                    continue
            self.query[name] = value
        if found:
            raise Refused('bad_parameter', found)
        self.limit, self.offset = (10 if bug('li-page-default') else 20), 0
        if operation in PAGED:
            for name, low, high in (('limit', 1, 60 if bug('li-page-max') else 50), ('offset', 0, 2**53)):
                values = seen.get(name)
                if values is None:
                    continue
                if not re.match(r'^[0-9]+\Z', values[0]) or not low <= int(values[0]) <= high:
                    if bug('li-page-clamp') and name == 'limit' and values[0].isdigit():
                        setattr(self, name, min(max(int(values[0]), 1), 50))
                        continue
                    pages.append(wrong(name, values[0], f'a whole number from {low}', where='query')[1])
                    continue
                setattr(self, name, int(values[0]))
        if pages:
            raise Refused('bad_page', pages)

    # -- events as they come
    def stream(self):
        with LOCK:
            due()
            last = self.headers.get('Last-Event-ID')
            known = [event['id'] for event in EVENTS]
            at = known[-1] if known else ''
            if last is not None and not bug('ev-resume'):
                at = last if last in known else ''
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.send_header('Vary', 'X-Trowel-Key, Trowel-Version')
        self.send_header('Cache-Control', 'no-cache')
        self.send_header('Connection', 'close')
        if self.version == OLD and not bug('ve-deprecation'):
            self.send_header('Deprecation', '@1767225600')
            self.send_header('Sunset', 'Tue, 01 Jan 2036 00:00:00 GMT')
            self.send_header('Link', '<https://trowel.example/2025>; rel="deprecation"')
        self.end_headers()
        self.wfile.flush()
        self.close_connection = True
        if self.command == 'HEAD':
            return None
        quiet = time.monotonic()
        while True:
            with LOCK:
                if not any(event['id'] > at for event in EVENTS):
                    LOCK.wait(0.25)
                due()
                news = [event for event in EVENTS if event['id'] > at]
                pieces = []
                for event in news:
                    at = event['id']
                    if not may_read(event['name'], event['row'], self.caller) and not bug('ev-everybody'):
                        continue
                    data = {'id': event['id'], 'type': event['kind'], 'timestamp': instant(event['at']), 'data': payload_of(event, self.caller, self.version)}
                    if bug('ev-envelope'):
                        data = {'id': event['id'], 'kind': event['kind'], 'at': instant(event['at']), 'payload': data['data']}
                    if bug('ev-ref') and event['kind'] == 'trench.sealed':
                        data['data'] = present('trench', event['row'], self.caller, self.version)
                    name = 'message' if bug('ev-name') else event['kind']
                    pieces.append(f'id: {event["id"]}\nevent: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n')
            if pieces:
                self.wfile.write(''.join(pieces).encode())
                self.wfile.flush()
                quiet = time.monotonic()
            elif time.monotonic() - quiet > 10:
                self.wfile.write(b': still here\n\n')
                self.wfile.flush()
                quiet = time.monotonic()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


# -------------------------------------------------------------------------------------------------- the door to the clock

def span(value):
    if isinstance(value, (int, float)):
        return int(value)
    short = re.match(r'^(\d+)(ms|s|m|h|d)$', value)
    if short:
        return int(short[1]) * {'ms': 1, 's': 1000, 'm': 60_000, 'h': HOUR, 'd': DAY}[short[2]]
    long = re.match(r'^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$', value)
    return int(int(long[1] or 0) * DAY + int(long[2] or 0) * HOUR + int(long[3] or 0) * 60_000 + float(long[4] or 0) * 1000)


class Door(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.tell(200)

    def do_POST(self):
        try:
            said = json.loads(self.rfile.read(int(self.headers.get('Content-Length') or 0)) or b'{}')
            with LOCK:
                for name in ('advance', 'by', 'ms'):
                    if name in said:
                        Clock.shift += max(0, span(said[name]))
                if 'seconds' in said:
                    Clock.shift += max(0, int(said['seconds'] * 1000))
                for name in ('now', 'to', 'at', 'time'):
                    if name in said:
                        value = said[name]
                        to = value if isinstance(value, (int, float)) else datetime.datetime.fromisoformat(value.replace('Z', '+00:00')).timestamp() * 1000
                        Clock.shift += max(0, int(to) - Clock.now())
                due()
                LOCK.notify_all()
            self.tell(200)
        except (ValueError, TypeError, KeyError):
            self.tell(400)

    def tell(self, status):
        data = json.dumps({'now': instant(Clock.now())}).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(data)))
        buffer = b''.join(self._headers_buffer) + b'\r\n'
        self._headers_buffer = []
        self.wfile.write(buffer + data)


def main():
    global FAULT
    known = argparse.ArgumentParser(description=__doc__)
    known.add_argument('--port', type=int, required=True)
    known.add_argument('--clock-port', type=int)
    known.add_argument('--fault', default=os.environ.get('TROWEL_FAULT', ''))
    said = known.parse_args()
    FAULT = said.fault
    declare()
    server = Server(('127.0.0.1', said.port), Handler)
    server.routes = routes()
    if said.clock_port:
        door = Server(('127.0.0.1', said.clock_port), Door)
        threading.Thread(target=door.serve_forever, daemon=True).start()
    server.serve_forever()


if __name__ == '__main__':
    main()
