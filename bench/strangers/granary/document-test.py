"""What the document says, beyond what the faults are tried by: one right service, asked from many sides.

    python3 document-test.py
"""
import sys

from harness import Granary

g = Granary()
bad = []


def same(what, found, wanted):
    if found != wanted:
        bad.append(f'{what}: {found!r}, not {wanted!r}')


def refused(what, answer, status, kind):
    same(what, (answer.status, answer.kind), (status, kind))


try:
    # Who may what: each operation by each user, told by its status.
    t = g.taxon()
    lot, stored = g.lot(), g.stored()
    drying = g.drying()
    trial, order = g.trial(drying), g.order(stored)
    note = g.note(lot)
    table = [
        ('GET', '/taxa', None, 200, 200, 200), ('GET', f'/taxa/{t["code"]}', None, 200, 200, 200),
        ('POST', '/taxa', {}, 403, 403, 400), ('PUT', f'/taxa/{t["code"]}', {}, 403, 403, 400),
        ('PATCH', f'/taxa/{t["code"]}', {}, 403, 403, 200), ('POST', '/lots', {}, 400, 403, 403),
        ('GET', f'/lots/{lot["id"]}', None, 404, 200, 200), ('GET', f'/lots/{stored["id"]}', None, 200, 200, 200),
        ('PATCH', f'/lots/{stored["id"]}', {}, 403, 403, 428), ('POST', f'/lots/{lot["id"]}/store', None, 403, 403, 409),
        ('POST', f'/lots/{lot["id"]}/discard', {}, 404, 403, 400), ('DELETE', f'/lots/{lot["id"]}', None, 404, 403, 403),
        ('GET', f'/lots/{drying["id"]}/trials', None, 404, 200, 200), ('GET', f'/lots/{stored["id"]}/trials', None, 200, 200, 200),
        ('POST', f'/lots/{lot["id"]}/trials', {}, 403, 403, 400), ('GET', f'/trials/{trial["id"]}', None, 404, 200, 200),
        ('POST', f'/trials/{trial["id"]}/finish', {}, 403, 403, 400), ('POST', '/orders', {}, 400, 403, 403),
        ('GET', f'/orders/{order["id"]}', None, 404, 200, 200), ('POST', f'/orders/{order["id"]}/refuse', {}, 403, 403, 400),
        ('POST', f'/orders/{order["id"]}/withdraw', None, 404, 403, 403), ('GET', f'/notes/{note["id"]}', None, 404, 403, 200),
        ('GET', f'/lots/{lot["id"]}/notes', None, 404, 403, 200), ('POST', f'/lots/{stored["id"]}/notes', {'text': 'x'}, 403, 403, 201),
        ('GET', '/listeners', None, 200, 200, 200), ('POST', '/listeners', {}, 400, 400, 400),
        ('GET', '/hours', None, 200, 200, 200),
    ]
    for method, path, body, *wanted in table:
        same(f'{method} {path}', [g.ask(method, path, body, w).status for w in ('ben', 'finn', 'dora')], wanted)
        same(f'{method} {path}, nobody', g.ask(method, path, body, None).status, 200 if path == '/hours' else 401)
        refused(f'{method} {path}, a bad pass', g.ask(method, path, body, None, Authorization='Pass nobody'),
                *((200, None) if path == '/hours' else (401, 'who_are_you')))

    # The order of refusals.
    refused('no path before no caller', g.ask('GET', '/nothing', who=None), 404, 'nowhere')
    refused('no edition before no caller', g.ask('GET', '/taxa', who=None, edition='x'), 400, 'edition_unknown')
    refused('caller before query', g.ask('GET', '/taxa?x=1', who=None), 401, 'who_are_you')
    refused('user before query', g.ask('POST', '/taxa?x=1', {}, 'ada'), 403, 'not_yours')
    refused('query before row', g.ask('GET', '/lots/none?x=1'), 400, 'bad_query')
    refused('row before body', g.ask('POST', '/lots/none/discard', raw=b'{'), 404, 'not_here')
    refused('body before tag', g.ask('PATCH', f'/lots/{lot["id"]}', raw=b'{'), 400, 'unreadable')
    refused('tag before request', g.ask('PATCH', f'/lots/{lot["id"]}', {'seeds': 'x'}), 428, 'tag_wanted')
    refused('request before state', g.move('order', g.granted(), 'refuse', {}), 400, 'incomplete')
    refused('request before state of a patch', g.patch(stored, {'seeds': 0}), 422, 'unfit')
    refused('no body', g.move('order', order, 'refuse'), 400, 'unreadable')

    # What is taken in.
    for what, body, kind in [
        ('no map', [], 'unfit'), ('a text for a number', {'seeds': '3'}, 'unfit'), ('a half seed', {'seeds': 1.5}, 'unfit'),
        ('no seeds', {'seeds': 0}, 'unfit'), ('too many', {'seeds': 1000001}, 'unfit'), ('a null', {'moisture': None}, 'unfit'),
        ('a place without shelf', {'place': {'aisle': 'A'}}, 'incomplete'), ('a place with more', {'place': {'aisle': 'A', 'shelf': 1, 'x': 1}}, 'unfit'),
        ('six traits', {'traits': list('abcdef')}, 'unfit'), ('a short seal', {'seal': 'abc'}, 'unfit'), ('no label', {'label': ''}, 'unfit'),
    ]:
        full = body if isinstance(body, list) else {'taxon': t['code'], 'label': 'x', 'seeds': 5, **body}
        refused(what, g.ask('POST', '/lots', full, 'ada'), 400 if kind == 'incomplete' else 422, kind)
    whole = g.ask('POST', '/lots', {'taxon': t['code'], 'label': 'x', 'seeds': 5.0, 'grower': 'ben', 'fee': 'x', 'state': 'stored', 'remark': 7,
                                    'place': {'aisle': 'B', 'shelf': 2}, 'collected_on': '2025-08-01'}, 'ada')
    same('what is read-only is ignored', (whole.status, whole['grower'], whole['seeds'], whole['state'], whole['place']),
         (201, 'ada', 5, 'received', {'aisle': 'B', 'shelf': 2}))
    same('a patch within a place', g.patch(whole.json, {'place': {'shelf': 9}})['place'], {'aisle': 'B', 'shelf': 9})
    same('a place taken away', 'place' in g.patch(whole.json, {'place': None}).json, False)
    same('moisture of another writing is no change', g.patch(lot, {'moisture': 6.0})['changed_at'], lot['changed_at'])
    same('aisle filter', g.ask('GET', '/lots?aisle=B')['count'], 0)
    refused('aisle filter', g.ask('GET', '/lots?aisle=E'), 400, 'bad_query')
    refused('twice', g.ask('GET', '/lots?taxon=A&taxon=B'), 400, 'bad_query')
    refused('a time', g.ask('GET', '/lots?since=yesterday'), 400, 'bad_query')
    same('since', g.ask('GET', f'/lots?since={lot["received_at"]}&take=1')['rows'] != [], True)
    refused('size', g.ask('GET', '/lots?take=x'), 400, 'bad_page')
    refused('another code', g.ask('PUT', f'/taxa/{t["code"]}', {'code': 'OTHER', 'name': 'Some'}), 422, 'unfit')
    refused('a code that none may have', g.ask('PUT', '/taxa/abc', {'name': 'Some name'}), 422, 'unfit')
    refused('a code that none may have', g.ask('GET', '/taxa/abc'), 404, 'not_here')
    refused('a note by a padded number', g.ask('GET', f'/notes/0{note["id"]}'), 404, 'not_here')
    refused('another lot', g.ask('POST', f'/lots/{lot["id"]}/notes', {'text': 'x', 'lot': stored['id']}), 422, 'unfit')
    refused('more than a finish takes', g.move('trial', trial, 'finish', {'sprouted': 1, 'x': 1}), 422, 'unfit')
    refused('an unknown kind', g.ask('POST', '/listeners', {'url': 'http://a/', 'kinds': ['lot.lost']}), 422, 'unfit')
    same('more than a discard takes passes', g.move('lot', g.lot(), 'discard', {'reason': 'mould', 'x': 1})['reason'], 'mould')
    same('a body that is not asked for is ignored', g.ask('POST', f'/lots/{g.lot()["id"]}/dry', raw=b'{').status, 200)
    same('HEAD', (g.ask('HEAD', '/taxa').status, g.ask('HEAD', '/taxa').raw), (200, b''))
    refused('without /bank', g.ask('GET', '/taxa', prefix=''), 404, 'nowhere')

    # Lists, their order and their pages.
    codes = [f'ZZ{c}' for c in 'CAB']
    for c in codes:
        g.ask('POST', '/taxa', {'code': c, 'name': f'Rye {c}', 'family': 'Rye family', 'rest_days': 100 - ord(c[2])})
    at = '/taxa?q=rye'
    same('by code', [r['code'] for r in g.ask('GET', at)['rows']], ['ZZA', 'ZZB', 'ZZC'])
    same('by rest', [r['code'] for r in g.ask('GET', at + '&sort=rest')['rows']], ['ZZC', 'ZZB', 'ZZA'])
    same('by rest, down', [r['code'] for r in g.ask('GET', at + '&sort=-rest')['rows']], ['ZZA', 'ZZB', 'ZZC'])
    same('after', [r['code'] for r in g.ask('GET', at + '&sort=rest&after=ZZC&take=1')['rows']], ['ZZB'])
    same('after the last', g.ask('GET', at + '&after=ZZC').json, {'rows': [], 'more': False, 'count': 3})
    same('held', g.ask('GET', f'/taxa?held_from=100&q={g.ask("GET", "/taxa/" + stored["taxon"])["name"].split()[1]}')['count'] >= 1, True)
    numbers = g.drying()
    for _ in range(3):
        g.move('trial', g.trial(numbers), 'abandon')
    same('trials', [r['number'] for r in g.ask('GET', f'/lots/{numbers["id"]}/trials')['rows']], [3, 2, 1])
    same('running trials', g.ask('GET', f'/lots/{numbers["id"]}/trials?state=running')['count'], 0)
    mine = g.ask('GET', '/lots?take=60', who='ben')['rows']
    same('lots that others are shown', {r['state'] for r in mine}, {'stored'})

    # A patch of a lot that is under the tag of another view.
    view = g.ask('GET', f'/lots/{lot["id"]}').headers['etag']
    g.patch(lot, {'remark': 'for us'}, 'dora')
    refused('a tag of before', g.ask('PATCH', f'/lots/{lot["id"]}', {'label': 'x'}, If_Match=view), 412, 'changed')
    own = g.ask('GET', f'/lots/{lot["id"]}', who='ada').headers['etag']
    refused('a weak tag', g.ask('PATCH', f'/lots/{lot["id"]}', {'label': 'x'}, 'ada', If_Match='W/' + own), 412, 'changed')
    same('one of several tags', g.ask('PATCH', f'/lots/{lot["id"]}', {'label': 'y'}, 'ada', If_Match='"a", ' + own).status, 200)

    # Own errors are kept with their token, and an order's quota is not used by what is refused.
    late = g.drying()
    send = lambda: g.ask('POST', '/orders', {'lot': late['id'], 'seeds': 1}, 'ada', Request_Token='kept')
    refused('not in store', send(), 409, 'not_stored')
    g.move('lot', late, 'store')
    refused('not in store, as told before', send(), 409, 'not_stored')
    expired = g.granted()
    g.clock(advance='P7DT1S')
    same('an order that expired gives back', g.ask('GET', f'/lots/{expired["lot"]}')['seeds_left'], 100)
    refused('an expired order', g.move('order', expired, 'withdraw', who='ada'), 409, 'too_late')
finally:
    g.stop()

print('\n'.join(bad + [f'{len(bad)} wrong']))
sys.exit(1 if bad else 0)
