"""For each fault an expectation that the right service meets, and the one with that fault does not.

    python3 faults-test.py            every fault, each in a service of its own
    python3 faults-test.py ID ...     these
"""
import socket
import sys
import time

from harness import PASSES, TOLD, Granary, sealed

TRIALS = {}
OLD = '2025-09'


def of(fault):
    def keep(trial):
        TRIALS[fault] = trial
        return trial
    return keep


def kinds(events):
    return [e['kind'] for e in events]


# Purpose.
of('pu-base')(lambda g: g.ask('GET', '/hours', who=None).status == 200)
of('pu-auditor')(lambda g: g.ask('GET', '/taxa', who='finn').status == 200)
of('pu-withdraw')(lambda g: g.move('order', g.order(), 'withdraw', who='ada')['state'] == 'withdrawn')

# Resources.
of('re-lots-text')(lambda g: g.taxon()['lots'] == 0)
of('re-url-free')(lambda g: g.ask('POST', '/listeners', {'url': 'over there'}).kind == 'unfit')
of('re-code-case')(lambda g: g.ask('POST', '/taxa', {'code': 'abc', 'name': f'Small {g.new()}'}).kind == 'unfit')
of('re-fee-down')(lambda g: (g.lot(seeds=2)['fee'], g.lot(seeds=5)['fee'], g.lot(seeds=3)['fee']) == (1, 1, 1))
of('re-rest-rule')(lambda g: g.ask('POST', '/taxa', {'code': 'RST', 'name': 'Rest', 'protected': True, 'rest_days': 9}).kind == 'unfit')
of('re-warmth-default')(lambda g: g.trial()['warmth'] == 'mild')


def refused(g, how='unfit', **more):
    return g.ask('POST', '/lots', {'taxon': g.taxon()['code'], 'label': 'x', 'seeds': 60, **more}, 'ada').kind == how


of('re-lot-extra')(lambda g: refused(g, colour='red'))
of('re-moisture-bound')(lambda g: refused(g, moisture=60.5) and not refused(g, moisture=60))
of('re-label-bytes')(lambda g: not refused(g, label='ä' * 80) and refused(g, label='ä' * 81))
of('re-traits-twice')(lambda g: refused(g, traits=['tall', 'tall']))


@of('re-seal-shown')
def _(g):
    lot = g.lot(seal='open-sesame')
    return lot and 'seal' not in lot and 'seal' not in g.ask('GET', f'/lots/{lot["id"]}').json


@of('re-held-all')
def _(g):
    a = g.drying()
    g.stored(taxon=a['taxon'], seeds=7)
    return g.ask('GET', f'/taxa/{a["taxon"]}')['seeds_held'] == 7


@of('re-left-handed')
def _(g):
    order = g.granted()
    return g.move('order', order, 'hand').status == 200 and g.ask('GET', f'/lots/{order["lot"]}')['seeds_left'] == 90


@of('re-changed-at')
def _(g):
    lot = g.lot()
    time.sleep(0.01)
    return g.move('lot', lot, 'dry')['changed_at'] > lot['changed_at']


@of('re-revised-at')
def _(g):
    t = g.taxon()
    time.sleep(0.01)
    same = g.ask('PATCH', f'/taxa/{t["code"]}', {'rest_days': 30})
    other = g.ask('PATCH', f'/taxa/{t["code"]}', {'rest_days': 31})
    return same.json == t and other['revised_at'] > t['revised_at']


@of('re-due-days')
def _(g):
    t = g.trial()
    day = lambda s: time.mktime(time.strptime(s[:19], '%Y-%m-%dT%H:%M:%S'))
    return day(t['due_at']) - day(t['begun_at']) == 21 * 86400 and t['due_at'][19:] == t['begun_at'][19:]


@of('re-number-all')
def _(g):
    lot = g.drying()
    first = g.trial(lot)
    g.trial()
    g.move('trial', first, 'abandon')
    return first['number'] == 1 and g.trial(lot)['number'] == 2


@of('re-vigour-down')
def _(g):
    done = g.move('trial', g.trial(sown=60), 'finish', {'sprouted': 40})
    return (done['state'], done['sprouted'], done['vigour'], bool(done['ended_at'])) == ('done', 40, 667, True)


def faded(g):
    t = g.trial()
    g.clock(advance='P20DT23H')
    before = g.ask('GET', f'/trials/{t["id"]}').json
    g.clock(advance='PT1H1M')
    return before, g.ask('GET', f'/trials/{t["id"]}').json


of('re-fade-ended')(lambda g: 'ended_at' in faded(g)[1])


@of('st-fade-done')
def _(g):
    before, after = faded(g)
    return before['state'] == 'running' and after['state'] == 'abandoned'


@of('re-name-case')
def _(g):
    t = g.taxon()
    return g.ask('POST', '/taxa', {'code': 'OTHER', 'name': t['name'].upper()}).kind == 'taken'


@of('re-name-update')
def _(g):
    a, b = g.taxon(), g.taxon()
    return [g.ask(m, f'/taxa/{b["code"]}', {'name': a['name']}).kind for m in ('PATCH', 'PUT')] == ['taken', 'taken']


@of('re-trial-twice')
def _(g):
    lot = g.drying()
    g.trial(lot)
    return g.ask('POST', f'/lots/{lot["id"]}/trials', {'sown': 20}).kind == 'taken'


@of('re-trials-stay')
def _(g):
    lot = g.drying()
    t = g.trial(lot)
    g.move('lot', lot, 'discard', {'reason': 'mould'}, 'ada')
    gone = g.ask('DELETE', f'/lots/{lot["id"]}', who='ada')
    return gone.status == 204 and gone.raw == b'' and g.ask('GET', f'/trials/{t["id"]}').kind == 'not_here'


@of('re-taxon-moved')
def _(g):
    lot = g.lot()
    same = g.patch(lot, {'taxon': lot['taxon']})
    return same.json == lot and g.patch(lot, {'taxon': g.taxon()['code']}).kind == 'unfit'


@of('re-taxon-held')
def _(g):
    lot = g.lot()
    free = g.taxon()
    return g.ask('DELETE', f'/taxa/{lot["taxon"]}').kind == 'in_use' and g.ask('DELETE', f'/taxa/{free["code"]}').status == 204


def remarked(g):
    lot = g.lot()
    assert g.patch(lot, {'remark': 'odd smell'}, 'dora')['remark'] == 'odd smell'
    return lot


@of('re-remark-listed')
def _(g):
    lot = remarked(g)
    rows = g.ask('GET', f'/lots?taxon={lot["taxon"]}', who='ada')['rows']
    return len(rows) == 1 and 'remark' not in rows[0] and 'remark' not in g.ask('GET', f'/lots/{lot["id"]}', who='finn').json


@of('re-remark-written')
def _(g):
    lot = remarked(g)
    return g.patch(lot, {'remark': 'fine'}, 'ada').status == 200 and g.ask('GET', f'/lots/{lot["id"]}')['remark'] == 'odd smell'


@of('re-secret-again')
def _(g):
    made = g.listener()
    return made['secret'].startswith('seal_') and len(made['secret']) == 37 and 'secret' not in g.ask('GET', f'/listeners/{made["id"]}').json


@of('re-sown-missing')
def _(g):
    r = g.ask('POST', f'/lots/{g.drying()["id"]}/trials', {})
    return (r.status, r.kind, r['error']['at'][0]['path']) == (400, 'incomplete', 'sown')


# States.
of('st-begin-drying')(lambda g: g.lot(moisture=5)['state'] == 'received')
of('st-damp-edge')(lambda g: [g.move('lot', g.drying(moisture=m), 'store').kind for m in (8, 8.0, 8.1)] == [None, None, 'too_damp'])


@of('st-damp-unknown')
def _(g):
    lot = g.ask('POST', '/lots', {'taxon': g.taxon()['code'], 'label': 'x', 'seeds': 5}, 'ada').json
    g.move('lot', lot, 'dry')
    return g.move('lot', lot, 'store').kind == 'too_damp'


of('st-store-received')(lambda g: g.move('lot', g.lot(), 'store').kind == 'wrong_state')
of('st-discard-stored')(lambda g: g.move('lot', g.stored(), 'discard', {'reason': 'mould'}).kind == 'too_late')


@of('st-lapse-late')
def _(g):
    lot = g.lot()
    g.clock(advance='P13DT23H')
    still = g.ask('GET', f'/lots/{lot["id"]}', who='ada')['state']
    g.clock(advance='PT1H1M')
    return (still, g.ask('GET', f'/lots/{lot["id"]}', who='ada')['state']) == ('received', 'discarded')


@of('st-lapse-drying')
def _(g):
    lot = g.drying()
    g.clock(advance='P20D')
    return g.ask('GET', f'/lots/{lot["id"]}')['state'] == 'drying'


@of('st-sprouts')
def _(g):
    t = g.trial(sown=20)
    return g.move('trial', t, 'finish', {'sprouted': 21}).kind == 'too_many_sprouts' and g.move('trial', t, 'finish', {'sprouted': 20})['vigour'] == 1000


@of('st-grant-over')
def _(g):
    lot = g.stored(seeds=15)
    g.granted(lot=lot)
    return g.move('order', g.order(lot), 'grant').kind == 'not_enough' and g.granted(lot=lot, seeds=5)['state'] == 'granted'


@of('st-withdraw-handed')
def _(g):
    order = g.granted()
    g.move('order', order, 'hand')
    return g.move('order', order, 'withdraw', who='ada').kind == 'too_late'


of('st-refuse-granted')(lambda g: g.move('order', g.granted(), 'refuse', {'reply': 'no'}).kind == 'wrong_state')


@of('st-expire-asked')
def _(g):
    order = g.order()
    g.clock(advance='P3D')
    g.move('order', order, 'grant')
    g.clock(advance='P6D')
    still = g.ask('GET', f'/orders/{order["id"]}')['state']
    g.clock(advance='P1DT1M')
    return (still, g.ask('GET', f'/orders/{order["id"]}')['state']) == ('granted', 'expired')


@of('st-no-spend')
def _(g):
    lot = g.stored(seeds=20)
    a, b = g.granted(lot=lot), g.granted(lot=lot)
    g.move('order', a, 'hand')
    spent = g.ask('GET', f'/lots/{lot["id"]}')
    return (spent['state'], spent['seeds_left'], g.move('order', b, 'hand')['state']) == ('spent', 0, 'handed')


# Endpoints.
@of('en-put-gone')
def _(g):
    code = f'PUT-{g.new()}'
    made = g.ask('PUT', f'/taxa/{code}', {'name': code + ' grain'})
    again = g.ask('PUT', f'/taxa/{code}', {'name': code + ' grain', 'code': code})
    return (made.status, again.status, made.json == again.json) == (201, 200, True)


of('en-put-status')(lambda g: g.ask('PUT', f'/taxa/NEW-{g.new()}', {'name': f'Put {g.new()}'}).status == 201)


@of('en-put-keeps')
def _(g):
    t = g.taxon(family='Poaceae', rest_days=12)
    put = g.ask('PUT', f'/taxa/{t["code"]}', {'name': t['name']})
    return 'family' not in put.json and put['rest_days'] == 30


@of('en-null-kept')
def _(g):
    t = g.taxon(family='Poaceae')
    return 'family' not in g.ask('PATCH', f'/taxa/{t["code"]}', {'family': None}).json and \
        g.ask('PATCH', f'/taxa/{t["code"]}', {'rest_days': None}).kind == 'unfit'


of('en-query-lax')(lambda g: g.ask('GET', '/orders?colour=red').kind == 'bad_query' and g.ask('GET', '/orders?state=lost').kind == 'bad_query')


def three(g):
    t = g.taxon()['code']
    lots = []
    for seeds in (10, 30, 20):
        lots.append(g.lot(taxon=t, seeds=seeds))
        time.sleep(0.005)
    g.lot()
    return t, [lot['id'] for lot in lots]


def ids(r):
    return [row['id'] for row in r['rows']]


@of('en-taxon-ignored')
def _(g):
    t, lots = three(g)
    r = g.ask('GET', f'/lots?taxon={t}')
    return sorted(ids(r)) == sorted(lots) and r['count'] == 3


@of('en-seeds-above')
def _(g):
    t, (a, b, c) = three(g)
    return ids(g.ask('GET', f'/lots?taxon={t}&seeds_from=20&sort=seeds')) == [c, b]


@of('en-states-first')
def _(g):
    t, (a, b, c) = three(g)
    g.move('lot', {'id': b}, 'dry')
    g.move('lot', {'id': c}, 'discard', {'reason': 'mould'})
    return ids(g.ask('GET', f'/lots?taxon={t}&states=received,drying&sort=seeds')) == [a, b]


@of('en-sort-down')
def _(g):
    t, (a, b, c) = three(g)
    return ids(g.ask('GET', f'/lots?taxon={t}&sort=-seeds')) == [b, c, a]


@of('en-search-name')
def _(g):
    t = g.taxon(name=f'Spelt {g.new()}', family='Sweet Grasses')
    found = g.ask('GET', '/taxa?q=GRASS%20spelt')['rows']
    return [r['code'] for r in found] == [t['code']] and g.ask('GET', '/taxa?q=spelt+nettle')['count'] == 0


@of('en-lots-old')
def _(g):
    t, (a, b, c) = three(g)
    return ids(g.ask('GET', f'/lots?taxon={t}')) == [c, b, a]


@of('en-lots-ties')
def _(g):
    t = g.taxon()['code']
    a, b = g.lot(taxon=t)['id'], g.lot(taxon=t)['id']
    return ids(g.ask('GET', f'/lots?taxon={t}&sort=seeds')) == [b, a]


@of('en-location')
def _(g):
    lot = g.stored()
    r = g.ask('POST', '/orders', {'lot': lot['id'], 'seeds': 1}, 'ada')
    return r.status == 201 and r.headers['location'] == '/bank/orders/' + r['id']


@of('en-delete-shows')
def _(g):
    n = g.note(g.lot())
    r = g.ask('DELETE', f'/notes/{n["id"]}')
    return (r.status, r.raw, g.ask('GET', f'/notes/{n["id"]}').kind) == (204, b'', 'not_here')


@of('en-tag-stale')
def _(g):
    lot = g.stored()
    tag = g.ask('GET', f'/lots/{lot["id"]}').headers['etag']
    g.granted(lot=lot)
    return g.ask('GET', f'/lots/{lot["id"]}').headers['etag'] != tag


@of('en-304')
def _(g):
    path = f'/lots/{g.lot()["id"]}'
    tag = g.ask('GET', path).headers['etag']
    return [g.ask('GET', path, If_None_Match=t).status for t in (tag, '"x"', 'W/' + tag)] == [304, 200, 304]


of('en-cache')(lambda g: g.ask('GET', f'/lots/{g.lot()["id"]}').headers['cache-control'] == 'private, no-cache')


@of('en-token-again')
def _(g):
    body = {'lot': g.stored()['id'], 'seeds': 3}
    a, b = [g.ask('POST', '/orders', body, 'ada', Request_Token='t1') for _ in (1, 2)]
    return a.status == b.status == 201 and a.json == b.json


@of('en-token-short')
def _(g):
    body = {'taxon': g.taxon()['code'], 'label': 'x', 'seeds': 3}
    send = lambda: g.ask('POST', '/lots', body, 'ada', Request_Token='t2')['id']
    a = send()
    g.clock(advance='PT11H')
    b = send()
    g.clock(advance='PT2H')
    return a == b != send()


of('en-patch-stored')(lambda g: g.patch(g.stored(), {'label': 'new'}).kind == 'wrong_state')


@of('en-delete-spent')
def _(g):
    lot = g.stored(seeds=10)
    g.move('order', g.granted(lot=lot), 'hand')
    return g.ask('DELETE', f'/lots/{lot["id"]}', who='ada').kind == 'wrong_state'


# Authentication.
@of('au-all-orders')
def _(g):
    o = g.order()
    return g.ask('GET', '/orders', who='ben')['count'] == 0 and o['id'] in ids(g.ask('GET', '/orders?take=60', who='ada'))


@of('au-any-trial')
def _(g):
    path = f'/trials/{g.trial()["id"]}'
    return g.ask('GET', path, who='ben').kind == 'not_here' and g.ask('GET', path, who='ada').status == 200


@of('au-any-note')
def _(g):
    n = g.note(g.lot(), 'ada')
    return [g.ask('PATCH', f'/notes/{n["id"]}', {'text': 'x'}, w).kind for w in ('egon', 'ben', 'finn', 'ada')] == ['not_yours', 'not_here', 'not_yours', None]


of('au-withdraw')(lambda g: g.move('order', g.order(), 'withdraw', who='ben').kind == 'not_here')
of('au-grower-taxon')(lambda g: g.ask('POST', '/taxa', {'code': 'MINE', 'name': 'Mine'}, 'ada').kind == 'not_yours')
of('au-auditor-lot')(lambda g: g.ask('GET', f'/lots/{g.lot()["id"]}', who='finn').status == 200)
of('au-hand-scope')(lambda g: g.move('order', g.granted(), 'hand', who='egon').kind == 'lacks_scope')


@of('au-auditor-list')
def _(g):
    g.order()
    rows = g.ask('GET', '/orders', who='finn')['rows']
    return rows and set(rows[0]) == {'id', 'lot', 'seeds', 'state', 'asked_at'} and g.ask('GET', '/orders?purpose=research', who='finn').kind == 'bad_query'


@of('au-lot-told')
def _(g):
    path = f'/lots/{g.lot()["id"]}'
    return g.ask('GET', path, who='ben').kind == 'not_here' and g.ask('DELETE', path, who='ben').kind == 'not_here'


@of('au-order-unseen')
def _(g):
    return g.ask('POST', '/orders', {'lot': g.drying()['id'], 'seeds': 1}, 'ben').kind == 'dangling'


of('au-ticket')(lambda g: g.ask('GET', '/taxa?ticket=gt_fffffffffffffffffinn', who=None).status == 200)


@of('au-bare-pass')
def _(g):
    bare = g.ask('GET', '/taxa', who=None, Authorization=PASSES['ada'])
    both = g.ask('GET', '/taxa?ticket=gt_dddddddddddddddddora', who='ada')
    one = g.ask('GET', '/taxa?ticket=gt_aaaaaaaaaaaaaaaaaada', who='ada')
    low = g.ask('GET', '/taxa', who=None, Authorization='pass ' + PASSES['ada'])
    return [r.status for r in (bare, both, one, low)] == [401, 401, 200, 200]


# Events.
@of('ev-no-stored')
def _(g):
    hook = g.listener(kinds=['lot.*'])
    lot = g.stored()
    got = g.hears(hook, want=2)
    return kinds(got) == ['lot.received', 'lot.stored'] and got[1]['body'] == g.ask('GET', f'/lots/{lot["id"]}').json


@of('ev-no-lapse')
def _(g):
    hook = g.listener(kinds=['lot.discarded'])
    g.lot()
    g.clock(advance='P15D')
    return kinds(g.hears(hook)) == ['lot.discarded']


@of('ev-no-spent')
def _(g):
    hook = g.listener(kinds=['lot.spent', 'order.closed'])
    g.move('order', g.granted(lot=g.stored(seeds=10)), 'hand')
    return sorted(kinds(g.hears(hook, want=2))) == ['lot.spent', 'order.closed']


@of('ev-no-expire')
def _(g):
    hook = g.listener(kinds=['order.closed'], who='finn')
    g.granted()
    g.clock(advance='P8D')
    got = g.hears(hook)
    return len(got) == 1 and got[0]['body']['state'] == 'expired' and 'applicant' not in got[0]['body']


def ended(g, how):
    hook = g.listener(kinds=['trial.ended'])
    t = g.trial()
    how(t)
    return t, [e['body'] for e in g.hears(hook)]


@of('ev-no-fade')
def _(g):
    t, got = ended(g, lambda t: g.clock(advance='P22D'))
    return got == [{'trial': t['id'], 'lot': t['lot'], 'outcome': 'abandoned', 'vigour': None}]


@of('ev-vigour')
def _(g):
    t, got = ended(g, lambda t: g.move('trial', t, 'finish', {'sprouted': 30}))
    return got == [{'trial': t['id'], 'lot': t['lot'], 'outcome': 'done', 'vigour': 500}]


def renamed(g, *changes):
    hook = g.listener(kinds=['taxon.renamed'], who='finn')
    t = g.taxon()
    for method, body in changes:
        g.ask(method, f'/taxa/{t["code"]}', body(t))
    return t, [e['body'] for e in g.hears(hook)]


@of('ev-no-put-rename')
def _(g):
    t, got = renamed(g, ('PUT', lambda t: {'name': t['name'] + ' II'}))
    return got == [{'taxon': t['code'], 'was': t['name'], 'is': t['name'] + ' II'}]


of('ev-rename-any')(lambda g: renamed(g, ('PATCH', lambda t: {'rest_days': 40}))[1] == [])


@of('ev-was')
def _(g):
    t, got = renamed(g, ('PATCH', lambda t: {'name': t['name'] + ' III'}))
    return got == [{'taxon': t['code'], 'was': t['name'], 'is': t['name'] + ' III'}]


@of('ev-twice')
def _(g):
    hook = g.listener(kinds=['order.closed'])
    g.move('order', g.granted(), 'hand')
    return kinds(g.hears(hook)) == ['order.closed']


@of('ev-note-along')
def _(g):
    hook, other = g.listener(kinds=['note.removed']), g.listener('ben', kinds=['*'])
    lot = g.drying()
    n = g.note(lot, 'ada')
    g.move('lot', lot, 'discard', {'reason': 'mould'})
    g.ask('DELETE', f'/lots/{lot["id"]}', who='ada')
    return [e['body'] for e in g.hears(hook)] == [n] and g.hears(other, want=0) == []


@of('ev-asked-kind')
def _(g):
    hook = g.listener(kinds=['order.asked'])
    o = g.order()
    return [(e['kind'], e['body']) for e in g.hears(hook)] == [('order.asked', o)]


@of('ev-left')
def _(g):
    hook = g.listener(kinds=['order.granted'])
    o = g.granted()
    return [e['body'] for e in g.hears(hook)] == [{'order': o, 'seeds_left': 90}]


def one_told(g):
    hook = g.listener(kinds=['lot.received'])
    g.lot()
    g.hears(hook)
    return hook, [h[1:] for h in g.heard if h[0] == hook['path']][0]


@of('ev-seal')
def _(g):
    hook, (headers, body, event) = one_told(g)
    return sealed(hook, headers, body, event) and set(event) == {'event', 'kind', 'when', 'body'}


of('ev-kind-header')(lambda g: one_told(g)[1][0].get('Granary-Kind') == 'lot.received')


@of('ev-one-try')
def _(g):
    hook = g.listener(kinds=['lot.*'])
    g.answers += [500, 302]
    lot = g.lot()
    g.hears(hook)
    g.move('lot', lot, 'discard', {'reason': 'mould'})
    g.clock(advance='PT11S')
    g.hears(hook, want=2)
    g.clock(advance='PT61S')
    got = g.hears(hook, want=4)
    return kinds(got) == ['lot.received'] * 3 + ['lot.discarded'] and len({e['event'] for e in got}) == 2


@of('ev-everybody')
def _(g):
    mine, theirs = g.listener('ada', kinds=['lot.received']), g.listener('ben')
    off = g.listener('ada', active=False)
    g.lot()
    return len(g.hears(mine)) == 1 and g.hears(theirs, want=0) == [] and g.hears(off, want=0) == []


# Errors.
of('er-dangling')(lambda g: g.ask('POST', '/lots', {'taxon': 'NONE', 'label': 'x', 'seeds': 1}, 'ada').status == 422)
of('er-in-use')(lambda g: g.ask('DELETE', f'/taxa/{g.lot()["taxon"]}').status == 409)
of('er-http-text')(lambda g: g.ask('GET', '/nothing')['error']['http'] == 404)


@of('er-pointer')
def _(g):
    r = g.ask('POST', '/lots', {'taxon': g.taxon()['code'], 'label': 'x', 'seeds': 1, 'place': {'aisle': 'A', 'shelf': 41}}, 'ada')
    return (r.status, r.kind, [a['path'] for a in r['error']['at']], r['error']['says']) == (422, 'unfit', ['place.shelf'], 'place.shelf does not fit')


of('er-header')(lambda g: g.ask('GET', '/nothing').headers['granary-error'] == 'nowhere')
of('er-incomplete')(lambda g: g.ask('POST', '/taxa', {'name': 'Nameless'}).kind == 'incomplete')
of('er-body-first')(lambda g: g.ask('PATCH', '/notes/999999', raw=b'{').kind == 'not_here')


@of('er-method')
def _(g):
    r = g.ask('DELETE', '/taxa')
    return r.kind == 'wrong_method' and 'POST' in r.headers['allow'] and g.ask('OPTIONS', '/taxa', who=None).status == 204


@of('er-media')
def _(g):
    path = f'/lots/{g.lot()["id"]}/notes'
    return [g.ask('POST', path, raw=b'{"text":"x"}', Content_Type=t).status for t in ('text/plain', 'application/json; charset=utf-8')] == [415, 201]


of('er-scope-code')(lambda g: g.move('order', g.order(), 'grant', who='egon').kind == 'lacks_scope')


def with_tag(g, tag):
    return g.ask('PATCH', f'/lots/{g.lot()["id"]}', {'label': 'new'}, 'ada', **({'If_Match': tag} if tag else {}))


of('er-tag-stale')(lambda g: with_tag(g, '"old"').kind == 'changed' and with_tag(g, '*').status == 200)
of('er-tag-wanted')(lambda g: with_tag(g, None).kind == 'tag_wanted')


@of('er-token-other')
def _(g):
    body = {'lot': g.stored()['id'], 'seeds': 3}
    g.ask('POST', '/orders', body, 'ada', Request_Token='t3')
    return g.ask('POST', '/orders', {**body, 'seeds': 4}, 'ada', Request_Token='t3').kind == 'token_reused'


of('er-discard-late')(lambda g: g.move('lot', g.stored(), 'discard', {'reason': 'mould'}).kind == 'too_late')


@of('er-too-few')
def _(g):
    t = g.taxon(protected=True)['code']
    return refused(g, 'too_few', taxon=t, seeds=49) and g.lot(taxon=t, seeds=50).get('state') == 'received'


@of('er-order-spent')
def _(g):
    lot = g.stored(seeds=10)
    g.move('order', g.granted(lot=lot), 'hand')
    return g.ask('POST', '/orders', {'lot': lot['id'], 'seeds': 1}, 'ada').kind == 'not_stored'


of('er-not-kept')(lambda g: g.ask('POST', f'/lots/{g.lot()["id"]}/trials', {'sown': 10}).kind == 'not_kept')


# Limits.
@of('li-rate')
def _(g):
    g.clock(advance='PT2M')
    rs = [g.ask('POST', '/listeners', {}, 'gwenn') for _ in range(121)]
    last = rs[-1]
    g.clock(advance='PT61S')
    good = g.ask('POST', '/listeners', {}, 'gwenn')
    return [r.status for r in rs] == [400] * 120 + [429] and last.headers['retry-after'] and \
        (rs[0].headers['granary-limit'], rs[0].headers['granary-left'], last.headers['granary-left']) == ('120', '119', '0') and good.status == 400


@of('li-quota')
def _(g):
    g.clock(advance='P1D')
    lot = g.stored(who='cleo')
    rs = [g.ask('POST', '/orders', {'lot': lot['id'], 'seeds': 1}, 'cleo') for _ in range(401)]
    g.clock(advance='P1D')
    return [r.status for r in rs] == [201] * 400 + [429] and rs[-1].kind == 'used_up' and \
        g.ask('POST', '/orders', {'lot': lot['id'], 'seeds': 1}, 'cleo').status == 201


@of('li-rows')
def _(g):
    rs = [g.ask('POST', '/listeners', {'url': 'http://127.0.0.1:9/', 'active': False}, 'egon') for _ in range(41)]
    return [r.status for r in rs] == [201] * 40 + [429] and rs[-1].kind == 'used_up'


@of('li-body')
def _(g):
    path = f'/lots/{g.lot()["id"]}/notes'
    fill = lambda n: b'{"text":"x"}' + b' ' * (n - 12)
    return (g.ask('POST', path, raw=fill(16385)).status, g.ask('POST', path, raw=fill(16384)).status) == (413, 201) and \
        g.ask('GET', '/hours?x=' + 'y' * 2048).status == 413


@of('li-late')
def _(g):
    with socket.create_connection(('127.0.0.1', g.port), timeout=20) as s:
        s.sendall(b'POST /bank/taxa HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{')
        return b' 408 ' in s.recv(1000).split(b'\r\n')[0]


@of('li-default')
def _(g):
    for _ in range(21):
        g.ask('POST', '/listeners', {'url': 'http://127.0.0.1:9/', 'active': False}, 'gwenn')
    r = g.ask('GET', '/listeners', who='gwenn')
    return (len(r['rows']), r['more'], r['count']) == (15, True, 21)


@of('li-max')
def _(g):
    t = g.taxon()['code']
    for _ in range(62):
        g.lot(taxon=t)
    r = g.ask('GET', f'/lots?taxon={t}&take=100')
    return (len(r['rows']), r['more'], r['count']) == (60, True, 62)


of('li-refuse')(lambda g: g.ask('GET', '/taxa?take=61').status == 200 and g.ask('GET', '/taxa?take=0').kind == 'bad_page')


@of('li-more')
def _(g):
    family = f'Family {g.new()}'
    for _ in range(2):
        g.taxon(family=family)
    r = g.ask('GET', f'/taxa?family={family.replace(" ", "%20")}&take=2')
    return (len(r['rows']), r['more']) == (2, False)


def orders(g):
    lot = g.stored()
    return lot, [g.order(lot, seeds=n)['id'] for n in (1, 2, 3)]


@of('li-after-again')
def _(g):
    lot, (a, b, c) = orders(g)
    first = g.ask('GET', f'/orders?lot={lot["id"]}&take=2')
    second = g.ask('GET', f'/orders?lot={lot["id"]}&take=2&after={b}')
    return (ids(first), first['more'], ids(second), second['more']) == ([a, b], True, [c], False) and \
        g.ask('GET', '/orders?after=wd-none').kind == 'bad_page'


@of('li-count')
def _(g):
    lot, _ = orders(g)
    return g.ask('GET', f'/orders?lot={lot["id"]}&take=2')['count'] == 3


# Versioning.
def in_old(g, path='/hours'):
    return g.ask('GET', path, edition=OLD)


of('ve-deprecation')(lambda g: in_old(g).headers['deprecation'] == '@1772323200' and g.ask('GET', '/hours').headers['deprecation'] is None)
of('ve-link')(lambda g: in_old(g).headers['link'] == '<https://granary.example/editions>; rel="deprecation", </bank/hours>; rel="successor-version"')
of('ve-sunset-date')(lambda g: in_old(g).headers['sunset'] == 'Thu, 01 Mar 2029 00:00:00 GMT')
of('ve-told')(lambda g: in_old(g).headers['granary-edition'] == OLD)
of('ve-unknown')(lambda g: g.ask('GET', '/hours', edition='2020-01').kind == 'edition_unknown')
of('ve-oldest')(lambda g: g.ask('GET', '/hours').headers['granary-edition'] == '2026-02')


@of('ve-list-names')
def _(g):
    t = g.taxon()['code']
    made = g.ask('POST', '/lots', {'taxon': t, 'title': 'Old words', 'seeds': 3}, 'ada', OLD)
    row = in_old(g, f'/lots?taxon={t}')['rows'][0]
    return made.json == row == in_old(g, f'/lots/{row["id"]}').json and row['title'] == 'Old words' and 'label' not in row and \
        g.ask('GET', f'/lots/{row["id"]}')['label'] == 'Old words' and \
        g.ask('POST', '/lots', {'taxon': t, 'label': 'x', 'seeds': 3}, 'ada', OLD).kind == 'unfit'


@of('ve-hook')
def _(g):
    hook = g.listener(edition=OLD, kinds=['lot.received'])
    g.lot()
    return [e['body'].get('title') for e in g.hears(hook)] == ['From the hill']


@of('ve-vigour')
def _(g):
    t = g.trial()
    g.move('trial', t, 'finish', {'sprouted': 40})
    return in_old(g, f'/trials/{t["id"]}')['vigour'] == 0.667


@of('ve-warmth')
def _(g):
    t = g.ask('POST', f'/lots/{g.drying()["id"]}/trials', {'sown': 10, 'warmth': 'medium'}, edition=OLD)
    return (t['warmth'], g.ask('GET', f'/trials/{t["id"]}')['warmth']) == ('medium', 'mild')


@of('ve-purpose')
def _(g):
    o = g.ask('POST', '/orders', {'lot': g.stored()['id'], 'seeds': 1}, 'ada', OLD)
    return 'purpose' not in o.json and g.ask('GET', f'/orders/{o["id"]}')['purpose'] == 'research' and in_old(g, '/orders?purpose=research').kind == 'bad_query'


@of('ve-sunset')
def _(g):
    g.clock(now='2029-03-01T00:00:00Z')
    return in_old(g).kind == 'edition_over' and g.ask('GET', '/hours').status == 200


def met(fault, trial):
    g = Granary(fault)
    try:
        return bool(trial(g))
    except Exception as why:
        return f'{type(why).__name__}: {why}'
    finally:
        g.stop()


if __name__ == '__main__':
    told = [f['id'] for f in TOLD['faults']]
    chosen = sys.argv[1:] or told
    bad = [f'{i} has no trial' for i in told if i not in TRIALS] + [f'{i} is not told' for i in TRIALS if i not in told]
    for one in chosen:
        right, wrong = met(None, TRIALS[one]), met(one, TRIALS[one])
        if right is not True:
            bad.append(f'{one}: the right service gave {right}')
        if wrong is True:
            bad.append(f'{one}: was not seen')
    print('\n'.join(bad + [f'{len(chosen)} faults, {len(bad)} wrong']))
    sys.exit(1 if bad else 0)
