#!/usr/bin/env python3
"""Each fault with its proof by hand: it passes on the service, and fails on the service with its fault.

python3 proofs.py            all of them
python3 proofs.py re- er-    those whose id begins so
python3 proofs.py --write    puts callers and faults into stranger.json
"""
import json
import re
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from kit import HERE, KEYS, World, refused, same

FAULTS = []


def fault(ident, part, kind, subject, bug):
    def keep(proof):
        FAULTS.append((ident, part, kind, subject, bug, proof))
        return proof
    return keep


def row_of(answer, ident):
    return next(one for one in answer['data'] if one['id'] == ident)


def ids(answer):
    return [one['id'] for one in answer['data']]


# ---------------------------------------------------------------------------------------------------------------- purpose

@fault('pu-base', 'purpose', 'base address', 'service', 'A gateway rewrites the prefix: all is served under /v1 instead of /api.')
def _(w):
    same(w.get('anna', '/digs').status, 200)


@fault('pu-curators', 'purpose', 'users', 'service', 'Curators were forgotten among the users: none of their keys is known.')
def _(w):
    same(w.get('erika', '/digs').status, 200)


@fault('pu-no-crate-list', 'purpose', 'functions', 'service', 'The list of crates is not served, so nobody can look over the store.')
def _(w):
    same(w.get('erika', '/crates').status, 200)


@fault('pu-no-recover', 'purpose', 'functions', 'service', 'What was thrown away cannot be recovered: the route is missing.')
def _(w):
    artefact = w.artefact()
    w.delete('anna', f'/artefacts/{artefact["id"]}')
    same(w.post('anna', f'/artefacts/{artefact["id"]}/recover').status, 200)


@fault('pu-no-members', 'purpose', 'functions', 'service', 'Who digs cannot be listed.')
def _(w):
    same(w.get('anna', f'/digs/{w.dig()["id"]}/members').status, 200)


# -------------------------------------------------------------------------------------------------------------- resources

@fault('re-id-form', 'resources', 'identifiers', 'trench', 'A trench is named by a UUID without dashes instead of a ULID.')
def _(w):
    assert re.fullmatch(r'tre_[0-9A-HJKMNP-TV-Z]{26}', w.trench()['id'])


@fault('re-code-pattern', 'resources', 'allowed values', 'dig.code', 'The pattern of a code has no end: ABC012 passes.')
def _(w):
    refused(w.post('anna', '/digs', w.dig_body(code='ABC012')), 422, 'wrong_value')


@fault('re-code-mutable', 'resources', 'field names', 'dig', 'The code of a dig can be changed.')
def _(w):
    dig = w.dig()
    refused(w.patch('anna', f'/digs/{dig["id"]}', {'code': 'XYZ99'}), 422, 'wrong_value')
    same(w.get('anna', f'/digs/{dig["id"]}')['code'], dig['code'])


@fault('re-code-unique', 'resources', 'field names', 'dig', 'Two digs can have one code.')
def _(w):
    body = w.dig_body()
    w.post('anna', '/digs', body)
    refused(w.post('boris', '/digs', body), 409, 'taken')


@fault('re-title-short', 'resources', 'allowed values', 'dig.title', 'A title of two characters is taken.')
def _(w):
    refused(w.post('anna', '/digs', w.dig_body(title='ab')), 422, 'wrong_value')
    same(w.post('anna', '/digs', w.dig_body(title='abc')).status, 201)


@fault('re-season-max', 'resources', 'allowed values', 'dig.season', 'A season in 2101 is taken.')
def _(w):
    refused(w.post('anna', '/digs', w.dig_body(season=2101)), 422, 'wrong_value')


@fault('re-grade-enum', 'resources', 'allowed values', 'dig.grade', 'A grade D is taken.')
def _(w):
    refused(w.patch('erika', f'/digs/{w.dig()["id"]}', {'grade': 'D'}), 422, 'wrong_value')


@fault('re-grade-default', 'resources', 'allowed values', 'dig.grade', 'A dig begins with grade B.')
def _(w):
    same(w.dig()['grade'], 'C')


@fault('re-grade-writable', 'resources', 'allowed values', 'dig.grade', 'Diggers can grade their own digs.')
def _(w):
    same(w.dig(grade='A')['grade'], 'C')


@fault('re-permit-seen', 'resources', 'field names', 'dig', 'Diggers are shown the permit, which is for curators.')
def _(w):
    dig = w.dig()
    same(w.patch('erika', f'/digs/{dig["id"]}', {'permit': 'P-77'})['permit'], 'P-77')
    assert 'permit' not in w.get('anna', f'/digs/{dig["id"]}').body


@fault('re-format-date', 'resources', 'formats', 'dig.opened_at', 'Times are written as 23.11.2026 04:30.')
def _(w):
    assert re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z', w.dig()['opened_at'])


@fault('re-updated-kept', 'resources', 'allowed values', 'dig.updated_at', 'A change does not set updated_at.')
def _(w):
    dig = w.dig()
    w.later('1h')
    assert w.patch('anna', f'/digs/{dig["id"]}', {'title': 'South field'})['updated_at'] > dig['updated_at']


@fault('re-updated-idle', 'resources', 'allowed values', 'dig.updated_at', 'An update that changes nothing sets updated_at.')
def _(w):
    dig = w.dig()
    w.later('1h')
    same(w.patch('anna', f'/digs/{dig["id"]}', {'title': dig['title']})['updated_at'], dig['updated_at'])


@fault('re-derive-trenches', 'resources', 'allowed values', 'dig.trenches', 'Sealed trenches do not count among the trenches of a dig.')
def _(w):
    dig = w.dig()
    trench = w.trench(dig)
    w.trench(dig)
    w.artefact(trench)
    w.post('anna', f'/trenches/{trench["id"]}/seal')
    same(w.get('anna', f'/digs/{dig["id"]}')['trenches'], 2)


@fault('re-derive-deleted', 'resources', 'allowed values', 'trench.artefacts', 'What was thrown away still counts in its trench.')
def _(w):
    trench = w.trench()
    w.artefact(trench)
    w.delete('anna', f'/artefacts/{w.artefact(trench)["id"]}')
    same(w.get('anna', f'/trenches/{trench["id"]}')['artefacts'], 1)


@fault('re-derive-total', 'resources', 'allowed values', 'crate.total_g', 'The total of a crate is the number of its items.')
def _(w):
    same(w.crate(1, 2)['total_g'], 30)


@fault('re-number-within', 'resources', 'allowed values', 'trench.number', 'Trenches are counted over all digs.')
def _(w):
    w.trench(w.dig())
    dig = w.dig()
    same([w.trench(dig)['number'], w.trench(dig)['number']], [1, 2])


@fault('re-type-number', 'resources', 'types', 'trench.number', 'The number of a trench is told as a text.')
def _(w):
    same(w.trench()['number'], 1)


@fault('re-top-min', 'resources', 'allowed values', 'trench.top_cm', 'A trench may begin a centimetre above the ground.')
def _(w):
    refused(w.post('anna', f'/digs/{w.dig()["id"]}/trenches', {'title': 'A', 'top_cm': -1, 'bottom_cm': 5}), 422, 'wrong_value')


@fault('re-rule', 'resources', 'allowed values', 'trench.bottom_cm', 'The rule that a trench goes downwards was left out.')
def _(w):
    refused(w.post('anna', f'/digs/{w.dig()["id"]}/trenches', {'title': 'A', 'top_cm': 50, 'bottom_cm': 10}), 422, 'wrong_value')


@fault('re-rule-equal', 'resources', 'allowed values', 'trench.bottom_cm', 'A trench of no depth at all is taken.')
def _(w):
    trench = w.trench(top_cm=5)
    refused(w.patch('anna', f'/trenches/{trench["id"]}', {'bottom_cm': 5}), 422, 'wrong_value')


@fault('re-rule-field', 'resources', 'allowed values', 'trench.bottom_cm', 'The rule is told at top_cm.')
def _(w):
    answer = w.post('anna', f'/digs/{w.dig()["id"]}/trenches', {'title': 'A', 'top_cm': 50, 'bottom_cm': 10})
    same([(one['path'], one['expected']) for one in answer['violations']], [('/bottom_cm', 'more than top_cm')])


@fault('re-label-form', 'resources', 'allowed values', 'artefact.label', 'Labels have three digits.')
def _(w):
    trench = w.trench()
    same([w.artefact(trench)['label'], w.artefact(trench)['label']], ['F-0001', 'F-0002'])


@fault('re-material-optional', 'resources', 'required flags', 'artefact.material', 'An artefact may have no material.')
def _(w):
    refused(w.post('anna', f'/trenches/{w.trench()["id"]}/artefacts', {'mass_g': 1}), 422, 'left_out')


@fault('re-mass-zero', 'resources', 'allowed values', 'artefact.mass_g', 'An artefact may weigh nothing.')
def _(w):
    refused(w.post('anna', f'/trenches/{w.trench()["id"]}/artefacts', {'material': 'bone', 'mass_g': 0}), 422, 'wrong_value')


@fault('re-tag-long', 'resources', 'allowed values', 'artefact.tags', 'A tag may have thirty characters.')
def _(w):
    trench = w.trench()
    w.artefact(trench, tags=['x' * 20])
    refused(w.post('anna', f'/trenches/{trench["id"]}/artefacts', {'material': 'bone', 'mass_g': 1, 'tags': ['x' * 21]}), 422, 'wrong_value')


@fault('re-tags-six', 'resources', 'allowed values', 'artefact.tags', 'Six tags are taken.')
def _(w):
    trench = w.trench()
    refused(w.post('anna', f'/trenches/{trench["id"]}/artefacts', {'material': 'bone', 'mass_g': 1, 'tags': list('abcdef')}), 422, 'wrong_value')


@fault('re-tags-twice', 'resources', 'allowed values', 'artefact.tags', 'One tag may stand twice.')
def _(w):
    trench = w.trench()
    refused(w.post('anna', f'/trenches/{trench["id"]}/artefacts', {'material': 'bone', 'mass_g': 1, 'tags': ['a', 'a']}), 422, 'wrong_value')


@fault('re-found-by', 'resources', 'allowed values', 'artefact.found_by', 'Whatever is found was found by the director.')
def _(w):
    dig = w.dig()
    w.member(dig, 'boris')
    same(w.artefact(w.trench(dig), 'boris')['found_by'], 'boris')


@fault('re-set-shelf', 'resources', 'allowed values', 'artefact.shelf', 'The shelf is not written down.')
def _(w):
    artefact = w.dried()
    same(w.post('erika', f'/artefacts/{artefact["id"]}/catalogue', {'shelf': 'B12'})['shelf'], 'B12')


@fault('re-note-null', 'resources', 'types', 'artefact.note', 'A note that there is not is told as null.')
def _(w):
    assert 'note' not in w.artefact()


@fault('re-merge', 'endpoints', 'request payload shapes', 'PATCH /artefacts/{id}', 'An update without a note takes the note away.')
def _(w):
    artefact = w.artefact(note='Broken')
    same(w.patch('anna', f'/artefacts/{artefact["id"]}', {'mass_g': 11})['note'], 'Broken')


@fault('re-unknown-kept', 'resources', 'field names', 'dig', 'Fields that are not stated are passed over in silence.')
def _(w):
    refused(w.post('anna', '/digs', w.dig_body(colour='brown')), 422, 'not_known')


@fault('re-deleted-404', 'resources', 'resources', 'service', 'What was thrown away is told as what never was.')
def _(w):
    artefact = w.artefact()
    same(w.delete('anna', f'/artefacts/{artefact["id"]}').status, 204)
    refused(w.get('anna', f'/artefacts/{artefact["id"]}'), 410, 'thrown_away')


@fault('re-keep-long', 'resources', 'resources', 'service', 'What was thrown away is kept for 300 days instead of 30.')
def _(w):
    artefact = w.artefact()
    w.delete('anna', f'/artefacts/{artefact["id"]}')
    w.later('29d')
    refused(w.get('anna', f'/artefacts/{artefact["id"]}'), 410, 'thrown_away')
    w.later('2d')
    refused(w.get('anna', f'/artefacts/{artefact["id"]}'), 404, 'not_there')


@fault('re-recover-bare', 'resources', 'resources', 'service', 'An artefact comes back without its tags.')
def _(w):
    artefact = w.artefact(tags=['red'])
    w.delete('anna', f'/artefacts/{artefact["id"]}')
    same(w.post('anna', f'/artefacts/{artefact["id"]}/recover').body, artefact)


@fault('re-children-order', 'resources', 'field names', 'crate', 'The items of a crate come in the order in which they were sent.')
def _(w):
    crate = w.crate(3, 1, 2).body
    same([item['position'] for item in crate['items']], [1, 2, 3])
    same([item['position'] for item in w.get('fabio', f'/crates/{crate["id"]}')['items']], [1, 2, 3])


@fault('re-children-none', 'resources', 'allowed values', 'crate.items', 'A crate may be made with no item in it.')
def _(w):
    refused(w.post('erika', '/crates', {'destination': 'Store', 'items': []}), 422, 'wrong_value')


@fault('re-children-unique', 'resources', 'field names', 'item', 'Two items of a crate can have one position.')
def _(w):
    refused(w.crate(1, 2, 1), 409, 'taken')
    same(w.get('erika', '/crates')['total'], 0)


@fault('re-children-first', 'endpoints', 'request payload shapes', 'POST /crates', 'Only the first item of a crate is kept.')
def _(w):
    same(len(w.crate(1, 2, 3)['items']), 3)


# ----------------------------------------------------------------------------------------------------------------- states

@fault('st-initial', 'states', 'states', 'dig', 'A dig begins closed.')
def _(w):
    same(w.dig()['status'], 'open')


@fault('st-then-member', 'states', 'transitions', 'dig', 'Whoever makes a dig is not made a member of it.')
def _(w):
    answer = w.get('anna', f'/digs/{w.dig()["id"]}/members')
    same([one['person'] for one in answer['data']], ['anna'])


@fault('st-then-role', 'states', 'transitions', 'dig', 'Whoever makes a dig is its supervisor, not its director.')
def _(w):
    answer = w.get('anna', f'/digs/{w.dig()["id"]}/members')
    same([one['role'] for one in answer['data']], ['director'])


@fault('st-then-seal', 'states', 'transitions', 'dig', 'Closing a dig leaves its trenches open.')
def _(w):
    dig = w.dig()
    trench = w.trench(dig)
    w.artefact(trench)
    same(w.patch('anna', f'/digs/{dig["id"]}', {'status': 'closed'})['status'], 'closed')
    same(w.get('anna', f'/trenches/{trench["id"]}')['status'], 'sealed')


@fault('st-then-empty', 'states', 'transitions', 'dig', 'Closing a dig seals its empty trenches too.')
def _(w):
    dig = w.dig()
    trench = w.trench(dig)
    same(w.patch('anna', f'/digs/{dig["id"]}', {'status': 'closed'}).status, 200)
    same(w.get('anna', f'/trenches/{trench["id"]}')['status'], 'open')


@fault('st-reopen', 'states', 'transitions', 'dig', 'A closed dig can be opened again.')
def _(w):
    dig = w.dig()
    w.patch('anna', f'/digs/{dig["id"]}', {'status': 'closed'})
    refused(w.patch('anna', f'/digs/{dig["id"]}', {'status': 'open'}), 409, 'wrong_state')


@fault('st-seal-empty', 'states', 'transitions', 'trench', 'A trench in which nothing was found can be sealed.')
def _(w):
    refused(w.post('anna', f'/trenches/{w.trench()["id"]}/seal'), 409, 'empty_trench')


@fault('st-seal-twice', 'states', 'transitions', 'trench', 'A sealed trench can be sealed again.')
def _(w):
    trench = w.trench()
    w.artefact(trench)
    same(w.post('anna', f'/trenches/{trench["id"]}/seal')['status'], 'sealed')
    refused(w.post('anna', f'/trenches/{trench["id"]}/seal'), 409, 'wrong_state')


@fault('st-update-sealed', 'states', 'transitions', 'trench', 'A sealed trench can be changed.')
def _(w):
    trench = w.trench()
    w.artefact(trench)
    w.post('anna', f'/trenches/{trench["id"]}/seal')
    refused(w.patch('anna', f'/trenches/{trench["id"]}', {'title': 'B'}), 409, 'wrong_state')


@fault('st-wash-again', 'states', 'transitions', 'artefact', 'What is washed can be washed again.')
def _(w):
    artefact = w.artefact()
    same(w.post('anna', f'/artefacts/{artefact["id"]}/wash')['status'], 'washed')
    refused(w.post('anna', f'/artefacts/{artefact["id"]}/wash'), 409, 'wrong_state')


@fault('st-dry-early', 'states', 'transitions', 'artefact', 'What is washed is dry after a day.')
def _(w):
    artefact = w.artefact()
    w.post('anna', f'/artefacts/{artefact["id"]}/wash')
    w.later('47h')
    same(w.get('anna', f'/artefacts/{artefact["id"]}')['status'], 'washed')


@fault('st-dry-never', 'states', 'transitions', 'artefact', 'What is washed never dries: the timer was not set.')
def _(w):
    artefact = w.dried()
    same(w.get('anna', f'/artefacts/{artefact["id"]}')['status'], 'dried')


@fault('st-catalogue-wet', 'states', 'transitions', 'artefact', 'What is still wet can be catalogued.')
def _(w):
    artefact = w.artefact()
    w.post('anna', f'/artefacts/{artefact["id"]}/wash')
    refused(w.post('erika', f'/artefacts/{artefact["id"]}/catalogue', {'shelf': 'B12'}), 409, 'wrong_state')


@fault('st-update-dried', 'states', 'transitions', 'artefact', 'What is dried can still be changed.')
def _(w):
    refused(w.patch('anna', f'/artefacts/{w.dried()["id"]}', {'mass_g': 7}), 409, 'wrong_state')


@fault('st-delete-dried', 'states', 'transitions', 'artefact', 'What is dried can still be thrown away.')
def _(w):
    refused(w.delete('anna', f'/artefacts/{w.dried()["id"]}'), 409, 'wrong_state')


@fault('st-recover-state', 'states', 'transitions', 'artefact', 'What was washed and thrown away comes back washed.')
def _(w):
    artefact = w.artefact()
    w.post('anna', f'/artefacts/{artefact["id"]}/wash')
    w.delete('anna', f'/artefacts/{artefact["id"]}')
    same(w.post('anna', f'/artefacts/{artefact["id"]}/recover')['status'], 'raised')


# -------------------------------------------------------------------------------------------------------------- endpoints

@fault('en-created', 'endpoints', 'response payload shapes', 'POST /digs', 'A dig that is made is answered with 200.')
def _(w):
    same(w.post('anna', '/digs', w.dig_body()).status, 201)


@fault('en-location', 'endpoints', 'response payload shapes', 'POST /digs', 'The answer to a new dig has no Location.')
def _(w):
    made = w.post('anna', '/digs', w.dig_body())
    assert made.headers.get('location', '').endswith(f'/digs/{made["id"]}')


@fault('en-no-lookup', 'endpoints', 'path shapes', 'service', 'A dig cannot be looked up by its code.')
def _(w):
    dig = w.dig()
    same(w.get('anna', f'/codes/{dig["code"]}').body, dig)


@fault('en-path-trench', 'endpoints', 'path shapes', 'service', 'A trench is read under /trench/{id}.')
def _(w):
    same(w.get('anna', f'/trenches/{w.trench()["id"]}').status, 200)


@fault('en-method-update', 'endpoints', 'methods', 'service', 'An artefact is changed by PUT instead of PATCH.')
def _(w):
    same(w.patch('anna', f'/artefacts/{w.artefact()["id"]}', {'mass_g': 7}).status, 200)


@fault('en-filter-season', 'endpoints', 'parameters', 'GET /digs', 'The filter by season is not looked at.')
def _(w):
    one = w.dig(season=2001)
    w.dig(season=2002)
    same(ids(w.get('anna', '/digs?season=2001')), [one['id']])


@fault('en-search-code', 'endpoints', 'parameters', 'GET /digs', 'The search looks at titles alone.')
def _(w):
    one = w.dig(title='Mill hill', code='QQQ11')
    w.dig(title='Mill brook', code='RRR11')
    same(ids(w.get('anna', '/digs?q=qqq%20mill')), [one['id']])


@fault('en-filter-person', 'endpoints', 'parameters', 'GET /digs', 'Digs are found by their director alone, not by their members.')
def _(w):
    one, _ = w.dig(), w.dig()
    w.member(one, 'boris')
    same(ids(w.get('anna', '/digs?person=boris')), [one['id']])


@fault('en-order', 'endpoints', 'response payload shapes', 'GET /digs', 'Digs come in the order in which they were made.')
def _(w):
    for code in ('MMM01', 'CCC01', 'KKK01'):
        w.dig(code=code)
    same([one['code'] for one in w.get('anna', '/digs')['data']], ['CCC01', 'KKK01', 'MMM01'])


@fault('en-sort-down', 'endpoints', 'parameters', 'GET /digs', 'The sign before a sort key is not looked at.')
def _(w):
    for code in ('MMM01', 'CCC01', 'KKK01'):
        w.dig(code=code)
    same([one['code'] for one in w.get('anna', '/digs?sort=-code')['data']], ['MMM01', 'KKK01', 'CCC01'])


@fault('en-etag', 'endpoints', 'response payload shapes', 'GET /digs/{id}', 'Every ETag is the same.')
def _(w):
    path = f'/digs/{w.dig()["id"]}'
    first = w.get('anna', path).headers['etag']
    same(w.get('anna', path).headers['etag'], first)
    w.patch('anna', path, {'title': 'South field'})
    assert w.get('anna', path).headers['etag'] != first


@fault('en-if-match', 'endpoints', 'request payload shapes', 'PATCH /digs/{id}', 'If-Match is not looked at.')
def _(w):
    path = f'/digs/{w.dig()["id"]}'
    refused(w.patch('anna', path, {'title': 'South field'}, headers={'If-Match': '"other"'}), 412, 'changed_meanwhile')
    tag = w.get('anna', path).headers['etag']
    same(w.patch('anna', path, {'title': 'South field'}, headers={'If-Match': tag}).status, 200)


@fault('en-exists', 'endpoints', 'response payload shapes', 'POST /digs/{dig}/members', 'Somebody who is a member already is refused.')
def _(w):
    dig = w.dig()
    made = w.member(dig, 'boris')
    again = w.post('anna', f'/digs/{dig["id"]}/members', {'person': 'boris'})
    same((again.status, again.body), (200, made))


@fault('en-exists-changes', 'endpoints', 'response payload shapes', 'POST /digs/{dig}/members', 'Naming a member again changes its role.')
def _(w):
    dig = w.dig()
    made = w.member(dig, 'boris')
    same(w.post('anna', f'/digs/{dig["id"]}/members', {'person': 'boris', 'role': 'supervisor'}).body, made)


@fault('en-parent-members', 'endpoints', 'parameters', 'GET /digs/{dig}/members', 'The members of all digs are listed.')
def _(w):
    w.dig('boris')
    same([one['person'] for one in w.get('anna', f'/digs/{w.dig()["id"]}/members')['data']], ['anna'])


@fault('en-delete-member', 'endpoints', 'response payload shapes', 'DELETE /members/{id}', 'A member that is deleted is still there.')
def _(w):
    dig = w.dig()
    same(w.delete('anna', f'/members/{w.member(dig, "boris")["id"]}').status, 204)
    same(w.get('anna', f'/digs/{dig["id"]}/members')['total'], 1)


@fault('en-order-trench', 'endpoints', 'response payload shapes', 'GET /digs/{dig}/trenches', 'Trenches come with the highest number first.')
def _(w):
    dig = w.dig()
    for _ in range(3):
        w.trench(dig)
    same([one['number'] for one in w.get('anna', f'/digs/{dig["id"]}/trenches')['data']], [1, 2, 3])


@fault('en-split', 'endpoints', 'parameters', 'GET /artefacts', 'Of several materials the first alone is looked at.')
def _(w):
    trench = w.trench()
    wanted = [w.artefact(trench, material=material)['id'] for material in ('bone', 'flint')]
    w.artefact(trench, material='metal')
    same(ids(w.get('anna', '/artefacts?material=bone,flint')), wanted)


@fault('en-min-mass', 'endpoints', 'parameters', 'GET /artefacts', 'min_mass leaves out what weighs exactly as much.')
def _(w):
    trench = w.trench()
    wanted = [w.artefact(trench, mass_g=mass)['id'] for mass in (20, 21)]
    w.artefact(trench, mass_g=19)
    same(ids(w.get('anna', '/artefacts?min_mass=20')), wanted)


@fault('en-path-filter', 'endpoints', 'parameters', 'GET /artefacts', 'dig_code is not looked at.')
def _(w):
    dig = w.dig()
    one = w.artefact(w.trench(dig))
    w.artefact()
    same(ids(w.get('anna', f'/artefacts?dig_code={dig["code"]}')), [one['id']])


@fault('en-tag-first', 'endpoints', 'parameters', 'GET /artefacts', 'An artefact is found by the first of its tags alone.')
def _(w):
    trench = w.trench()
    one = w.artefact(trench, tags=['red', 'painted'])
    w.artefact(trench, tags=['black'])
    same(ids(w.get('anna', '/artefacts?tag=painted')), [one['id']])


@fault('en-unknown-parameter', 'endpoints', 'parameters', 'GET /digs', 'Parameters that are not stated are passed over.')
def _(w):
    refused(w.get('anna', '/digs?colour=brown'), 400, 'bad_parameter')


@fault('en-shelf-optional', 'endpoints', 'request payload shapes', 'POST /artefacts/{id}/catalogue', 'The shelf may be left out.')
def _(w):
    refused(w.post('erika', f'/artefacts/{w.dried()["id"]}/catalogue', {}), 422, 'left_out')


@fault('en-list-items', 'endpoints', 'response payload shapes', 'GET /crates', 'The crates of a page are in the member crates.')
def _(w):
    crate = w.crate(1).body
    same(w.get('erika', '/crates').body, {'data': [crate], 'total': 1})


# --------------------------------------------------------------------------------------------------------- authentication

@fault('au-header', 'authentication', 'header names', 'key', 'The key is looked for in X-Api-Key.')
def _(w):
    same(w.get('anna', '/digs').status, 200)


@fault('au-any-key', 'authentication', 'schemes', 'service', 'Whatever begins with trw_ is taken for a key.')
def _(w):
    refused(w.get('trw_NobodyNobodyNobodyNobody', '/digs'), 401, 'bad_key')


@fault('au-case', 'authentication', 'token formats', 'key', 'Keys are compared whatever their case.')
def _(w):
    refused(w.get(KEYS['anna'].lower(), '/digs'), 401, 'bad_key')


@fault('au-attribute', 'resources', 'allowed values', 'dig.institute', 'The institute of a dig is the name of whoever made it.')
def _(w):
    same(w.dig()['institute'], 'north')


@fault('au-list-institute', 'authentication', 'permission rules', 'list dig', 'Diggers see the digs of every institute.')
def _(w):
    dig = w.dig()
    same(w.get('dmitri', '/digs').body, {'data': [], 'total': 0})
    refused(w.get('dmitri', f'/digs/{dig["id"]}'), 404, 'not_there')
    same(w.get('boris', '/digs')['total'], 1)


@fault('au-any-institute', 'authentication', 'permission rules', 'read artefact', 'Diggers read the artefacts of every institute.')
def _(w):
    refused(w.get('dmitri', f'/artefacts/{w.artefact()["id"]}'), 404, 'not_there')


@fault('au-update-any', 'authentication', 'permission rules', 'update dig', 'Whoever sees a dig can change it.')
def _(w):
    refused(w.patch('boris', f'/digs/{w.dig()["id"]}', {'title': 'Mine now'}), 403, 'not_yours')


@fault('au-member-any', 'authentication', 'permission rules', 'create member', 'Every member can make others members.')
def _(w):
    dig = w.dig()
    w.member(dig, 'boris', 'supervisor')
    refused(w.post('boris', f'/digs/{dig["id"]}/members', {'person': 'chloe'}), 403, 'not_yours')


@fault('au-leave', 'authentication', 'permission rules', 'delete member', 'A director can leave its own dig.')
def _(w):
    own = w.get('anna', f'/digs/{w.dig()["id"]}/members')['data'][0]
    refused(w.delete('anna', f'/members/{own["id"]}'), 403, 'not_yours')


@fault('au-novice-digs', 'authentication', 'permission rules', 'create trench', 'Novices can begin a trench.')
def _(w):
    dig = w.dig()
    w.member(dig, 'boris', 'novice')
    refused(w.post('boris', f'/digs/{dig["id"]}/trenches', {'title': 'A', 'top_cm': 0, 'bottom_cm': 5}), 403, 'not_yours')


@fault('au-supervisor', 'authentication', 'permission rules', 'create trench', 'Supervisors cannot begin a trench.')
def _(w):
    dig = w.dig()
    w.member(dig, 'boris', 'supervisor')
    same(w.post('boris', f'/digs/{dig["id"]}/trenches', {'title': 'A', 'top_cm': 0, 'bottom_cm': 5}).status, 201)


@fault('au-find-any', 'authentication', 'permission rules', 'create artefact', 'Who is no member of a dig can write down what was found in it.')
def _(w):
    trench = w.trench()
    refused(w.post('boris', f'/trenches/{trench["id"]}/artefacts', {'material': 'bone', 'mass_g': 1}), 403, 'not_yours')


@fault('au-delete-member', 'authentication', 'permission rules', 'delete artefact', 'Every member can throw an artefact away.')
def _(w):
    dig = w.dig()
    w.member(dig, 'boris', 'supervisor')
    refused(w.delete('boris', f'/artefacts/{w.artefact(w.trench(dig))["id"]}'), 403, 'not_yours')


@fault('au-digger-crates', 'authentication', 'permission rules', 'create crate', 'Diggers can pack crates.')
def _(w):
    refused(w.post('anna', '/crates', {'destination': 'Home', 'items': [{'position': 1, 'text': 'a', 'mass_g': 1}]}), 403, 'not_for_you')


# ----------------------------------------------------------------------------------------------------------------- events

@fault('ev-lost-artefact.raised', 'events', 'emitting operations', 'artefact.raised', 'Nobody is told that something was found.')
def _(w):
    stream = w.listen()
    artefact = w.artefact()
    same([one['data']['data'] for one in stream.of('artefact.raised')], [artefact])


@fault('ev-lost-dig.closed', 'events', 'emitting operations', 'dig.closed', 'Nobody is told that a dig was closed.')
def _(w):
    stream = w.listen()
    dig = w.dig()
    w.patch('anna', f'/digs/{dig["id"]}', {'status': 'closed'})
    same([one['data']['data'] for one in stream.of('dig.closed')], [dig['id']])


@fault('ev-lost-artefact.dried', 'events', 'emitting operations', 'artefact.dried', 'Nobody is told that something is dry.')
def _(w):
    stream = w.listen()
    artefact = w.dried()
    same([one['data']['data'] for one in stream.of('artefact.dried')], [artefact['id']])


@fault('ev-lost-artefact.deleted', 'events', 'emitting operations', 'artefact.deleted', 'Nobody is told that something was thrown away.')
def _(w):
    stream = w.listen()
    artefact = w.artefact()
    w.delete('anna', f'/artefacts/{artefact["id"]}')
    same([one['data']['data'] for one in stream.of('artefact.deleted')], [artefact['id']])


@fault('ev-heavy', 'events', 'emitting operations', 'artefact.heavy', 'Only what weighs sixty kilograms is told as heavy.')
def _(w):
    stream = w.listen()
    trench = w.trench()
    w.artefact(trench, mass_g=49_999)
    heavy = w.artefact(trench, mass_g=50_000)
    same([one['data']['data'] for one in stream.of('artefact.heavy')], [heavy['id']])


@fault('ev-before', 'events', 'payload shapes', 'dig.renamed', 'The old title that is told is the new one.')
def _(w):
    stream = w.listen()
    dig = w.dig(title='North field')
    w.patch('anna', f'/digs/{dig["id"]}', {'title': 'South field'})
    same([one['data']['data'] for one in stream.of('dig.renamed')], [{'dig': dig['id'], 'from': 'North field', 'to': 'South field'}])


@fault('ev-each-one', 'events', 'emitting operations', 'artefact.tagged', 'Of several new tags the first alone is told.')
def _(w):
    stream = w.listen()
    artefact = w.artefact()
    w.patch('anna', f'/artefacts/{artefact["id"]}', {'tags': ['red', 'painted']})
    same([one['data']['data']['tag'] for one in stream.of('artefact.tagged', 2)], ['red', 'painted'])


@fault('ev-each-all', 'events', 'emitting operations', 'artefact.tagged', 'Tags that were there before are told again.')
def _(w):
    stream = w.listen()
    artefact = w.artefact(tags=['red'])
    w.patch('anna', f'/artefacts/{artefact["id"]}', {'tags': ['red', 'painted']})
    same([one['data']['data']['tag'] for one in stream.of('artefact.tagged')], ['painted'])


@fault('ev-everybody', 'events', 'delivery mechanism', 'service', 'Everybody hears of what is found in every institute.')
def _(w):
    other, own = w.listen('dmitri'), w.listen('boris')
    w.artefact()
    same(len(own.of('artefact.raised')), 1)
    time.sleep(0.4)
    same(other.events, [])


@fault('ev-envelope', 'events', 'delivery mechanism', 'service', 'The envelope has kind, at and payload.')
def _(w):
    stream = w.listen()
    w.artefact()
    same(sorted(stream.of('artefact.raised')[0]['data']), ['data', 'id', 'timestamp', 'type'])


@fault('ev-name', 'events', 'delivery mechanism', 'service', 'Every event of the stream is named message.')
def _(w):
    stream = w.listen()
    w.artefact()
    same(len(stream.of('artefact.raised')), 1)


@fault('ev-ref', 'events', 'payload shapes', 'trench.sealed', 'A sealed trench is told as a whole, not by its identifier.')
def _(w):
    stream = w.listen()
    trench = w.trench()
    w.artefact(trench)
    w.post('anna', f'/trenches/{trench["id"]}/seal')
    same([one['data']['data'] for one in stream.of('trench.sealed')], [trench['id']])


@fault('ev-resume', 'events', 'delivery mechanism', 'service', 'Last-Event-ID is not looked at.')
def _(w):
    stream = w.listen()
    trench = w.trench()
    w.artefact(trench)
    first = stream.of('artefact.raised')[0]
    missed = w.artefact(trench)
    again = w.listen(headers={'Last-Event-ID': first['id']})
    same([one['data']['data']['id'] for one in again.of('artefact.raised')], [missed['id']])


@fault('ev-keep', 'events', 'delivery mechanism', 'service', 'Events are kept for an hour, not for a day.')
def _(w):
    stream = w.listen()
    trench = w.trench()
    w.artefact(trench)
    first = stream.of('artefact.raised')[0]
    missed = w.artefact(trench)
    w.later('20h')
    again = w.listen(headers={'Last-Event-ID': first['id']})
    same([one['data']['data']['id'] for one in again.of('artefact.raised')], [missed['id']])


# ----------------------------------------------------------------------------------------------------------------- errors

@fault('er-status-taken', 'errors', 'status codes', 'taken', 'A code that is taken is a 400.')
def _(w):
    body = w.dig_body()
    w.post('anna', '/digs', body)
    refused(w.post('anna', '/digs', body), 409, 'taken')


@fault('er-status-left-out', 'errors', 'status codes', 'left_out', 'What is left out is a 400.')
def _(w):
    refused(w.post('anna', '/digs', {}), 422, 'left_out')


@fault('er-status-gone', 'errors', 'status codes', 'thrown_away', 'What was thrown away is a 404.')
def _(w):
    artefact = w.artefact()
    w.delete('anna', f'/artefacts/{artefact["id"]}')
    same(w.get('anna', f'/artefacts/{artefact["id"]}').status, 410)


@fault('er-code-yours', 'errors', 'conditions', 'not_yours', 'What is not one\'s own is told as what is not for such users.')
def _(w):
    refused(w.patch('boris', f'/digs/{w.dig()["id"]}', {'title': 'Mine now'}), 403, 'not_yours')


@fault('er-narrow-type', 'errors', 'conditions', 'wrong_type', 'A value of another type is told as a wrong value.')
def _(w):
    refused(w.post('anna', '/digs', w.dig_body(season='2026')), 422, 'wrong_type')


@fault('er-narrow-unknown', 'errors', 'conditions', 'not_known', 'A field that is not stated is told as a wrong value.')
def _(w):
    refused(w.post('anna', '/digs', w.dig_body(colour='brown')), 422, 'not_known')


@fault('er-narrow-key', 'errors', 'conditions', 'no_key', 'No key at all is told as a bad one.')
def _(w):
    refused(w.get(None, '/digs'), 401, 'no_key')


@fault('er-narrow-empty', 'errors', 'conditions', 'empty_trench', 'An empty trench is told as one in a wrong state.')
def _(w):
    refused(w.post('anna', f'/trenches/{w.trench()["id"]}/seal'), 409, 'empty_trench')


@fault('er-narrow-body', 'errors', 'conditions', 'no_body', 'No body at all is told as one that is no JSON.')
def _(w):
    refused(w.ask('anna', 'POST', '/digs', headers={'Content-Type': 'application/json'}), 400, 'no_body')


@fault('er-narrow-first', 'errors', 'conditions', 'wrong_value', 'The last thing that is wrong names the code.')
def _(w):
    refused(w.post('anna', '/digs', {'title': 'x', 'season': '1', 'code': 'ABC01'}), 422, 'wrong_value')
    refused(w.post('anna', '/digs', {'season': '1', 'title': 'x'}), 422, 'wrong_type')


@fault('er-missing-forbidden', 'errors', 'conditions', 'not_there', 'What one may not see is told as forbidden, so that everybody knows that it is there.')
def _(w):
    refused(w.get('dmitri', f'/trenches/{w.trench()["id"]}'), 404, 'not_there')


@fault('er-message-closed', 'errors', 'error codes', 'service', 'A closed dig is refused with "No."')
def _(w):
    dig = w.dig()
    w.patch('anna', f'/digs/{dig["id"]}', {'status': 'closed'})
    same(w.post('anna', f'/digs/{dig["id"]}/trenches', {'title': 'A', 'top_cm': 0, 'bottom_cm': 5})['detail'], 'The dig is closed.')


@fault('er-own-closed', 'errors', 'conditions', 'dig_closed', 'A trench can be begun in a closed dig.')
def _(w):
    dig = w.dig()
    w.patch('anna', f'/digs/{dig["id"]}', {'status': 'closed'})
    refused(w.post('anna', f'/digs/{dig["id"]}/trenches', {'title': 'A', 'top_cm': 0, 'bottom_cm': 5}), 409, 'dig_closed')


@fault('er-own-sealed', 'errors', 'conditions', 'trench_sealed', 'Something can be found in a sealed trench.')
def _(w):
    trench = w.trench()
    w.artefact(trench)
    w.post('anna', f'/trenches/{trench["id"]}/seal')
    refused(w.post('anna', f'/trenches/{trench["id"]}/artefacts', {'material': 'bone', 'mass_g': 1}), 409, 'trench_sealed')


@fault('er-payload-title', 'errors', 'error payload shapes', 'service', 'The title of a problem is its code.')
def _(w):
    same(w.get('anna', '/digs/nothing')['title'], 'Not Found')


@fault('er-payload-type', 'errors', 'error payload shapes', 'service', 'Problems are sent as application/json.')
def _(w):
    same(w.get('anna', '/digs/nothing').type, 'application/problem+json')


@fault('er-payload-violations', 'errors', 'error payload shapes', 'service', 'Problems do not say what is wrong, and where.')
def _(w):
    answer = w.post('anna', '/digs', w.dig_body(title='x'))
    same([(one['in'], one['path']) for one in answer['violations']], [('body', '/title')])


@fault('er-method', 'errors', 'conditions', 'no_method', 'A method that a path does not take is told as a path that there is not.')
def _(w):
    refused(w.ask('anna', 'PUT', '/digs', {}), 405, 'no_method')


@fault('er-allow', 'errors', 'conditions', 'no_method', 'A method that a path does not take is refused without Allow.')
def _(w):
    allow = w.ask('anna', 'PUT', '/digs', {}).headers.get('allow', '')
    assert {'GET', 'POST'} <= {one.strip() for one in allow.split(',')}, allow


@fault('er-media', 'errors', 'conditions', 'not_json', 'A body of any type is read as JSON.')
def _(w):
    refused(w.ask('anna', 'POST', '/digs', raw=json.dumps(w.dig_body()), headers={'Content-Type': 'text/plain'}), 415, 'not_json')


@fault('er-accept', 'errors', 'conditions', 'not_served', 'Accept is not looked at.')
def _(w):
    refused(w.get('anna', '/digs', headers={'Accept': 'text/csv'}), 406, 'not_served')


# ----------------------------------------------------------------------------------------------------------------- limits

@fault('li-rate', 'limits', 'rate limits', 'service', 'A caller has 1000 requests a minute.')
def _(w):
    for _ in range(900):
        same(w.get('anna', '/codes/XXX00').status, 404)
    refused(w.get('anna', '/codes/XXX00'), 429, 'too_fast')


@fault('li-rate-crate', 'limits', 'rate limits', 'service', 'A curator can make 45 crates a minute.')
def _(w):
    for _ in range(40):
        same(w.crate(1).status, 201)
    refused(w.crate(1), 429, 'too_fast')


@fault('li-rate-shared', 'limits', 'rate limits', 'service', 'The crates of all curators are counted together.')
def _(w):
    for _ in range(40):
        same(w.crate(1).status, 201)
    same(w.ask('fabio', 'POST', '/crates', {'destination': 'Store', 'items': [{'position': 1, 'text': 'a', 'mass_g': 1}]}).status, 201)


@fault('li-window', 'limits', 'rate limits', 'service', 'The window of a rate is six seconds.')
def _(w):
    for _ in range(40):
        w.crate(1)
    w.later('20s')
    refused(w.crate(1), 429, 'too_fast')
    w.later('41s')
    same(w.crate(1).status, 201)


@fault('li-body', 'limits', 'size limits', 'service', 'A body may have 64 KiB.')
def _(w):
    refused(w.ask('anna', 'POST', '/digs', raw=json.dumps(w.dig_body()) + ' ' * 17_000, headers={'Content-Type': 'application/json'}), 413, 'too_large')


@fault('li-url', 'limits', 'size limits', 'service', 'An address may have 4 KiB.')
def _(w):
    same(w.get('anna', '/digs?q=' + 'x' * 1900).status, 200)
    refused(w.get('anna', '/digs?q=' + 'x' * 2100), 413, 'too_large')


@fault('li-timeout', 'limits', 'time-outs', 'service', 'A request may take half a minute.')
def _(w):
    with socket.create_connection(('127.0.0.1', w.port)) as line:
        begun = time.monotonic()
        line.sendall(f'POST /api/digs HTTP/1.1\r\nHost: x\r\nX-Trowel-Key: {KEYS["anna"]}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{{'.encode())
        line.settimeout(16)
        try:
            said = line.recv(4096).decode()
        except TimeoutError:
            said = 'nothing'
        assert said.startswith('HTTP/1.1 408') and time.monotonic() - begun > 8, said[:60]


@fault('li-page-default', 'limits', 'pagination bounds', 'GET /artefacts', 'A page has ten rows unless asked otherwise.')
def _(w):
    trench = w.trench()
    for _ in range(22):
        w.artefact(trench)
    same(len(w.get('anna', '/artefacts')['data']), 20)


@fault('li-page-max', 'limits', 'pagination bounds', 'GET /digs', 'A page may have sixty rows.')
def _(w):
    same(w.get('anna', '/digs?limit=50').status, 200)
    refused(w.get('anna', '/digs?limit=51'), 400, 'bad_page')


@fault('li-page-clamp', 'limits', 'pagination bounds', 'GET /crates', 'A page that is too large is made smaller in silence.')
def _(w):
    refused(w.get('erika', '/crates?limit=500'), 400, 'bad_page')


@fault('li-total', 'limits', 'pagination bounds', 'GET /digs', 'The total is the number of rows on the page.')
def _(w):
    for _ in range(3):
        w.dig()
    page = w.get('anna', '/digs?limit=2&offset=1')
    same((len(page['data']), page['total']), (2, 3))


@fault('li-rows-trench', 'limits', 'quotas', 'rows of trench', 'A dig may have any number of trenches.')
def _(w):
    dig = w.dig()
    for _ in range(12):
        w.trench(dig)
    refused(w.post('anna', f'/digs/{dig["id"]}/trenches', {'title': 'A', 'top_cm': 0, 'bottom_cm': 5}), 409, 'too_many')
    w.trench(w.dig())


@fault('li-rows-code', 'errors', 'conditions', 'too_many', 'Too many trenches are told as too many requests.')
def _(w):
    dig = w.dig()
    for _ in range(12):
        w.trench(dig)
    refused(w.post('anna', f'/digs/{dig["id"]}/trenches', {'title': 'A', 'top_cm': 0, 'bottom_cm': 5}), 409, 'too_many')


@fault('li-rows-dig', 'limits', 'quotas', 'rows of dig', 'A digger may have 61 open digs.')
def _(w):
    digs = [w.dig() for _ in range(60)]
    refused(w.post('anna', '/digs', w.dig_body()), 409, 'too_many')
    w.patch('anna', f'/digs/{digs[0]["id"]}', {'status': 'closed'})
    same(w.post('anna', '/digs', w.dig_body()).status, 201)


# ------------------------------------------------------------------------------------------------------------- versioning

OLD = {'Trowel-Version': '2025-03'}


@fault('ve-header', 'versioning', 'version selection', 'service', 'The version is looked for in X-Trowel-Version.')
def _(w):
    w.dig()
    assert 'season' not in w.get('anna', '/digs', headers=OLD)['data'][0]


@fault('ve-default', 'versioning', 'version selection', 'service', 'Without a version the oldest one is served.')
def _(w):
    assert 'mass_g' in w.artefact()


@fault('ve-unknown', 'versioning', 'version identifiers', 'service', 'A version that there is not is taken for the current one.')
def _(w):
    refused(w.get('anna', '/digs', headers={'Trowel-Version': '2019-01'}), 400, 'no_version')


@fault('ve-old-season', 'versioning', 'version identifiers', 'service', 'The old version shows the season, which it did not have.')
def _(w):
    path = f'/digs/{w.dig()["id"]}'
    assert 'season' not in w.get('anna', path, headers=OLD).body


@fault('ve-old-default', 'versioning', 'version identifiers', 'service', 'A dig of the old version is put into the season of 2026.')
def _(w):
    made = w.post('anna', '/digs', {'code': 'OLD01', 'title': 'Old field'}, headers=OLD)
    same(w.get('anna', f'/digs/{made["id"]}')['season'], 2025)


@fault('ve-old-name', 'versioning', 'version identifiers', 'service', 'The old version answers with mass_g where it had weight_g.')
def _(w):
    shown = w.get('anna', f'/artefacts/{w.artefact(mass_g=12)["id"]}', headers=OLD).body
    same((shown.get('weight_g'), shown.get('mass_g')), (12, None))


@fault('ve-deprecation', 'versioning', 'deprecation rules', '2025-03', 'The old version does not say that it is deprecated.')
def _(w):
    headers = w.get('anna', '/digs', headers=OLD).headers
    same((headers.get('deprecation'), headers.get('sunset')), ('@1767225600', 'Tue, 01 Jan 2036 00:00:00 GMT'))


@fault('ve-sunset', 'versioning', 'deprecation rules', '2025-03', 'The old version is served after its sunset.')
def _(w):
    w.later('3700d')
    refused(w.get('anna', '/digs', headers=OLD), 410, 'old_version')


# -------------------------------------------------------------------------------------------------------------- the runner

def passes(proof, ident):
    with World(ident) as world:
        try:
            proof(world)
        except AssertionError as error:
            return f'assertion: {error}'
        except (KeyError, TypeError, StopIteration, IndexError) as error:
            return f'no such answer: {error!r}'
        except Exception as error:  # noqa: BLE001
            return f'BROKEN: {error!r}'
    return None


def judge(entry):
    ident, *_, proof = entry
    right, wrong = passes(proof, None), passes(proof, ident)
    if right:
        return ident, f'the service itself does not pass: {right}'
    if not wrong:
        return ident, 'the fault is not seen'
    if wrong.startswith('BROKEN'):
        return ident, wrong
    return ident, None


def write():
    file = HERE / 'stranger.json'
    callers = [{'user': 'curator' if name in ('erika', 'fabio') else 'digger', 'id': name, 'credential': key, 'scheme': 'key', 'scopes': [],
                'attributes': {'institute': 'museum' if name in ('erika', 'fabio') else 'south' if name == 'dmitri' else 'north'}}
               for name, key in KEYS.items()]
    faults = [{'id': ident, 'part': part, 'kind': kind, 'subject': subject, 'bug': bug} for ident, part, kind, subject, bug, _ in FAULTS]
    file.write_text(json.dumps({'command': ['python3', 'service.py'], 'document': 'service.yaml', 'callers': callers, 'faults': faults}, indent=2) + '\n')


if __name__ == '__main__':
    chosen = sys.argv[1:]
    if '--write' in chosen:
        write()
        sys.exit()
    asked = [entry for entry in FAULTS if not chosen or any(entry[0].startswith(one) for one in chosen)]
    with ThreadPoolExecutor(4) as pool:
        outcome = list(pool.map(judge, asked))
    bad = [(ident, said) for ident, said in outcome if said]
    for ident, said in bad:
        print(ident, said)
    print(f'{len(outcome) - len(bad)} passed, {len(bad)} failed')
    sys.exit(1 if bad else 0)
