#!/usr/bin/env python3
"""Shows each fault: the correct service does right, the faulty one does wrong. `--write` writes stranger.json, `ID…` tests these alone."""
import re
from harness import *
TABLE = []
def fault(id, part, kind, subject, operation, bug):
    def deco(fn):
        TABLE.append((dict(id=id, part=part, kind=kind, subject=subject, operation=operation, bug=bug), fn)); return fn
    return deco
def T(id, part, kind, subject, operation, bug, fn): TABLE.append((dict(id=id, part=part, kind=kind, subject=subject, operation=operation, bug=bug), fn))
R, ST, EP, AU, EV, ER, LI, VE = 'resources', 'states', 'endpoints', 'authentication', 'events', 'errors', 'limits', 'versioning'
AV, RF, TY, FO = 'allowed values', 'required flags', 'types', 'formats'
RP, QP, PA = 'response payload shapes', 'request payload shapes', 'parameters'
OLD = dict(Saggar_Edition='2025-09')
post_kiln = lambda s, **k: s.call('POST', '/kilns', EMBER, s.kbody(**k))
def post_ware(s, key=WREN, f=None, drop=(), **k):
    b = s.wbody(f or s.firing()['id'], **k)
    for d in drop: b.pop(d)
    return s.call('POST', '/wares', key, b)
def put_body(k, **c):
    return {**{x: k[x] for x in ('label', 'litres', 'peak_c', 'site', 'fuel')}, **c}
def put(s, k, **c):
    e = s.get('/kilns/' + k['code']).h['ETag']
    return s.call('PUT', '/kilns/' + k['code'], EMBER, put_body(k, **c), If_Match=e)
wpatch = lambda s, w, b, key=WREN: s.call('PATCH', '/wares/%d' % w['id'], key, b)
kinds = lambda s, k: [x for x in s.log() if x['kind'] == k]

# ---- purpose
T('base-path-also-bare', 'purpose', 'base address', 'service', 'list kiln', 'Paths are served without the base path too.', lambda s: s.call('GET', '/kilns', base='').ref(404, 'NO_SUCH_PATH') and s.get('/kilns').st == 200)
T('stoker-without-scopes-is-potter', 'purpose', 'users', 'service', 'accept ware', 'A stoker whose key has no scopes is taken for a potter.', lambda s: s.act(s.ware(), 'accept', {'shelf': 1}, ASH).st == 200)
T('fire-a-kiln-not-to-be-had', 'purpose', 'functions', 'service', 'light firing', 'The two endpoints that fire a kiln are not served.', lambda s: s.fact(s.accepted()['firing'], 'light').st == 200)
# ---- resources
T('code-pattern-dropped', R, AV, 'kiln.code', 'create kiln', 'The pattern of codes is not checked.', lambda s: post_kiln(s, code='kiln9').ref(422, 'FIELD_UNFIT'))
T('label-min-off-by-one', R, AV, 'kiln.label', 'create kiln', 'A label of two letters is taken.', lambda s: post_kiln(s, label='ab').ref(422, 'FIELD_UNFIT'))
T('label-max-off-by-one', R, AV, 'kiln.label', 'create kiln', 'A label of 41 letters is taken.', lambda s: post_kiln(s, label='a' * 41).ref(422, 'FIELD_UNFIT'))
T('peak-min-off-by-one', R, AV, 'kiln.peak_c', 'create kiln', 'A peak of 599 degrees is taken.', lambda s: post_kiln(s, peak_c=599).ref(422, 'FIELD_UNFIT'))
T('fuel-default-gas', R, AV, 'kiln.fuel', 'create kiln', 'The default fuel is gas.', lambda s: s.kiln()['fuel'] == 'electric')
T('label-not-unique', R, AV, 'kiln.label', 'create kiln', 'Two kilns may be made with one label.', lambda s: post_kiln(s, label=s.kiln()['label']).ref(409, 'ALREADY_THERE'))
T('label-not-unique-on-replace', R, AV, 'kiln.label', 'replace kiln', 'A replacement may take the label of another kiln.', lambda s: put(s, s.kiln(), label=s.kiln()['label']).ref(409, 'ALREADY_THERE'))
T('remark-shown-to-all', R, RF, 'kiln.remark', 'read kiln', 'The remark for stokers is shown to everybody.', lambda s: 'remark' not in s.get('/kilns/' + s.kiln(remark='leaks')['code'], WREN).j)
T('remark-not-kept', R, RF, 'kiln.remark', 'create kiln', 'The remark that is sent is not stored.', lambda s: s.kiln(remark='leaks').get('remark') == 'leaks')
T('replace-resets-entered', R, AV, 'kiln.entered_at', 'replace kiln', 'A replacement sets entered_at anew.', lambda s: (lambda k: (time.sleep(.02), put(s, k, litres=150).j['entered_at'] == k['entered_at'])[1])(s.kiln()))
T('busy-forgets-cooling', R, AV, 'kiln.busy', 'read kiln', 'Cooling firings are not counted.', lambda s: (lambda w: (s.fact(w['firing'], 'douse'), s.get('/kilns/' + s.get('/firings/' + w['firing']).j['kiln']).j['busy'] == 1)[1])(s.fired()))
T('gate-unbounded', R, AV, 'site.gate', 'create kiln', 'The upper bound of gates is not checked.', lambda s: post_kiln(s, site={'street': 'a', 'town': 'b', 'gate': 100}).ref(422, 'FIELD_UNFIT'))
T('site-extra-passes', R, 'field names', 'site', 'create kiln', 'Fields that a site does not have are stored.', lambda s: post_kiln(s, site={'street': 'a', 'town': 'b', 'door': 1}).ref(400, 'FIELD_UNKNOWN'))
T('pence-as-text', R, TY, 'worth.pence', 'create ware', 'An amount is taken as a text.', lambda s: post_ware(s, insured={'pence': '500', 'currency': 'GBP'}).ref(422, 'FIELD_UNFIT'))
T('seed-missing', R, 'resources', 'service', 'read kiln', 'The kiln that is there from the start is missing.', lambda s: s.get('/kilns/YD01').st == 200)
T('lights-at-any-text', R, FO, 'firing.lights_at', 'create firing', 'Any text is taken for a date-time.', lambda s: s.call('POST', '/kilns/YD01/firings', EMBER, {'kind': 'glaze', 'top_c': 900, 'lights_at': '2026-13-45'}).ref(422, 'FIELD_UNFIT'))
T('number-over-all-kilns', R, AV, 'firing.number', 'create firing', 'Firings are numbered over all kilns.', lambda s: (s.firing(), s.firing()['number'] == 1)[1])
T('number-from-zero', R, AV, 'firing.number', 'create firing', 'The first firing has the number 0.', lambda s: s.firing()['number'] == 1)
T('capacity-not-set', R, AV, 'firing.capacity', 'create firing', 'The capacity is always 2000.', lambda s: s.firing()['capacity'] == 100)
T('accepted-counts-offers', R, AV, 'firing.accepted', 'read firing', 'Offered wares count as accepted.', lambda s: s.get('/firings/' + s.ware()['firing']).j['accepted'] == 0)
T('room-taken-by-offers', R, AV, 'firing.litres_left', 'read firing', 'Offered wares take room.', lambda s: s.get('/firings/' + s.ware()['firing']).j['litres_left'] == 100)
T('room-back-after-firing', R, AV, 'firing.litres_left', 'read firing', 'Fired wares take no room any more.', lambda s: s.get('/firings/' + s.fired()['firing']).j['litres_left'] == 90)
T('firing-id-short', R, 'identifiers', 'firing', 'create firing', 'Identifiers have eleven characters.', lambda s: bool(re.match(r'^fir_[a-z0-9]{12}$', s.firing()['id'])))
T('shuts-rule-missing', R, AV, 'firing.shuts_at', 'create firing', 'A firing may shut before it is lit.', lambda s: s.call('POST', '/kilns/YD01/firings', EMBER, s.fire_body(lights_at=s.at(days=5), shuts_at=s.at(days=4))).ref(422, 'FIELD_UNFIT'))
T('shuts-rule-equal-passes', R, AV, 'firing.shuts_at', 'create firing', 'shuts_at may equal lights_at.', lambda s: (lambda t: s.call('POST', '/kilns/YD01/firings', EMBER, s.fire_body(lights_at=t, shuts_at=t)).ref(422, 'FIELD_UNFIT'))(s.at(days=5)))
T('lit-at-missing', R, AV, 'firing.lit_at', 'light firing', 'lit_at is not set.', lambda s: 'lit_at' in s.fact(s.accepted()['firing'], 'light').j)
T('doused-at-in-seconds', R, TY, 'firing.doused_at', 'douse firing', 'doused_at is a number of seconds.', lambda s: isinstance(s.fact(s.fired()['firing'], 'douse').j['doused_at'], str))
T('opened-at-missing', R, AV, 'firing.opened_at', 'open firing', 'opened_at is not set.', lambda s: 'opened_at' in s.get('/firings/' + s.opened()['firing']).j)
T('why-not-kept', R, AV, 'firing.why', 'call_off firing', 'The reason that is sent is not kept.', lambda s: s.fact(s.firing()['id'], 'call-off', {'why': 'rain came'}).j['why'] == 'rain came')
T('changed-at-frozen', R, AV, 'ware.changed_at', 'update ware', 'changed_at stays as it was made.', lambda s: (lambda w: (s.adv('PT5S'), wpatch(s, w, {'title': 'Red bowl'}).j['changed_at'] != w['changed_at'])[1])(s.ware()))
T('potter-taken-from-body', R, AV, 'ware.potter', 'create ware', 'A potter that is sent is stored.', lambda s: s.ware(potter='teal')['potter'] == 'wren')
T('guild-not-set', R, AV, 'ware.guild', 'create ware', 'Every ware is of the guild north.', lambda s: s.ware(key=TEAL)['guild'] == 'south')
T('ware-litres-max-off-by-one', R, AV, 'ware.litres', 'create ware', '501 litres are taken.', lambda s: post_ware(s, f=s.firing(s.kiln(litres=600)['code'])['id'], litres=501).ref(422, 'FIELD_UNFIT'))
T('clay-any', R, AV, 'ware.clay', 'create ware', 'Any clay is taken.', lambda s: post_ware(s, clay='mud').ref(422, 'FIELD_UNFIT'))
T('clay-optional', R, RF, 'ware.clay', 'create ware', 'A ware may be made without a clay.', lambda s: post_ware(s, drop=['clay']).ref(400, 'FIELD_ABSENT'))
T('ticket-mutable', R, AV, 'ware.ticket', 'update ware', 'The ticket may be changed.', lambda s: wpatch(s, s.ware(ticket='tick-1'), {'ticket': 'tick-2'}).ref(422, 'FIELD_UNFIT'))
T('ticket-not-unique', R, AV, 'ware.ticket', 'create ware', 'A potter may use a ticket twice.', lambda s: (s.ware(ticket='tick-1'), post_ware(s, ticket='tick-1').ref(409, 'ALREADY_THERE'))[1])
T('ticket-unique-over-all', R, AV, 'ware.ticket', 'create ware', 'A ticket that another potter used is refused.', lambda s: (s.ware(ticket='tick-1'), post_ware(s, MOSS, ticket='tick-1').st == 201)[1])
T('marks-max-off-by-one', R, AV, 'ware.marks', 'create ware', 'Five marks are taken.', lambda s: post_ware(s, marks=list('abcde')).ref(422, 'FIELD_UNFIT'))
T('marks-duplicates', R, AV, 'ware.marks', 'create ware', 'The same mark is taken twice.', lambda s: post_ware(s, marks=['a', 'a']).ref(422, 'FIELD_UNFIT'))
T('insured-not-kept', R, RF, 'ware.insured', 'create ware', 'What it is insured for is not stored.', lambda s: s.ware(insured={'pence': 5, 'currency': 'GBP'}).get('insured') == {'pence': 5, 'currency': 'GBP'})
T('unreadable-ref-passes', R, AV, 'ware.beside', 'create ware', 'A ware may stand beside one that its potter may not read.', lambda s: post_ware(s, beside=s.ware(key=TEAL)['id']).ref(422, 'ADRIFT'))
@fault('beside-not-cleared', R, AV, 'ware.beside', 'delete ware', 'A reference to a deleted ware stays.')
def _(s):
    a = s.ware(); b = s.ware(beside=a['id']); s.act(a, 'withdraw', key=WREN)
    return s.call('DELETE', '/wares/%d' % a['id'], WREN).st == 204 and 'beside' not in s.get('/wares/%d' % b['id']).j
T('shelf-shown-to-potters', R, RF, 'ware.shelf', 'read ware', 'Potters are shown the shelf.', lambda s: 'shelf' not in s.get('/wares/%d' % s.accepted()['id'], WREN).j)
T('shelf-not-set', R, AV, 'ware.shelf', 'accept ware', 'The shelf is not stored.', lambda s: s.accepted().get('shelf') == 3)
T('claim-shown-again', R, RF, 'ware.claim', 'read ware', 'The claim is shown in every answer.', lambda s: 'claim' not in s.get('/wares/%d' % s.ware()['id'], WREN).j)
T('claim-never-shown', R, RF, 'ware.claim', 'create ware', 'The claim is not even shown at the creation.', lambda s: 'claim' in s.ware())
T('claim-lower-case', R, AV, 'ware.claim', 'create ware', 'Claims are in small letters.', lambda s: bool(re.match(r'^[A-Z0-9]{8}$', s.ware()['claim'])) and bool(re.match(r'^[A-Z0-9]{8}$', s.ware()['claim'])))
T('taken-by-the-caller', R, AV, 'ware.taken_by', 'collect ware', 'taken_by is the caller, not who was named.', lambda s: s.act(s.opened(), 'collect', {'by': 'Aunt Ann'}).j['taken_by'] == 'Aunt Ann')
T('cracks-count-stuck', R, AV, 'ware.cracks', 'read ware', 'More than one crack is not counted.', lambda s: (lambda w: (s.crack(w), s.crack(w), s.get('/wares/%d' % w['id']).j['cracks'] == 2)[2])(s.ware()))
T('grade-max-six', R, AV, 'crack.grade', 'create crack', 'A grade of 6 is taken.', lambda s: s.call('POST', '/wares/%d/cracks' % s.ware()['id'], EMBER, {'text': 'x', 'grade': 6}).ref(422, 'FIELD_UNFIT'))
T('crack-id-no-uuid', R, 'identifiers', 'crack', 'create crack', 'Identifiers are no UUIDs.', lambda s: bool(re.match(r'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', s.crack(s.ware())['id'])))
T('seen-at-without-zone', R, FO, 'crack.seen_at', 'create crack', 'seen_at has no zone.', lambda s: s.crack(s.ware())['seen_at'].endswith('Z'))
@fault('cascade-forgotten', R, AV, 'crack.ware', 'delete ware', 'The cracks of a deleted ware stay.')
def _(s):
    w = s.ware(); c = s.crack(w); s.act(w, 'withdraw', key=WREN)
    return s.call('DELETE', '/wares/%d' % w['id'], WREN).st == 204 and s.get('/cracks/' + c['id']).st in (404, 410)
T('gone-eight-days', R, 'identifiers', 'crack', 'read crack', 'A deleted crack is kept for eight days.', lambda s: (lambda c: (s.call('DELETE', '/cracks/' + c['id'], EMBER), s.adv('P7DT1H'), s.get('/cracks/' + c['id']).ref(404, 'NO_SUCH_THING'))[2])(s.crack(s.ware())))
T('seal-shown-again', R, RF, 'hook.seal', 'read hook', 'The secret of a hook is shown in every answer.', lambda s: (s.receive(), 'seal' not in s.get('/hooks/' + s.hook['id']).j)[1])
T('unknown-kind-passes', R, AV, 'hook.kinds', 'create hook', 'A hook may ask for kinds that there are not.', lambda s: s.call('POST', '/hooks', EMBER, {'url': 'http://127.0.0.1:9/', 'kinds': ['ware.eaten']}).ref(422, 'FIELD_UNFIT'))
T('log-without-about', R, AV, 'happening.about', 'list happening', 'about names the resource instead of the row.', lambda s: s.log()[0]['about'] == k['code'] if (k := s.kiln()) else None)
T('log-without-by', R, AV, 'happening.by', 'list happening', 'The log does not say who it was.', lambda s: (s.kiln(), s.log()[0].get('by') == 'ember')[1])
# ---- states
T('kiln-starts-laid-up', ST, 'states', 'kiln', 'create kiln', 'A kiln begins laid up.', lambda s: s.kiln()['state'] == 'in_service')
T('lay-up-while-busy', ST, 'transitions', 'kiln', 'lay_up kiln', 'A kiln with a planned firing may be laid up.', lambda s: (lambda f: s.call('POST', '/kilns/%s/lay-up' % f['kiln'], EMBER).ref(409, 'KILN_BUSY'))(s.firing()))
T('relight-twice', ST, 'transitions', 'kiln', 'relight kiln', 'A kiln in service may be relit.', lambda s: s.call('POST', '/kilns/YD01/relight', EMBER).ref(409, 'WRONG_STATE'))
T('delete-kiln-in-service', ST, 'transitions', 'kiln', 'delete kiln', 'A kiln in service may be deleted.', lambda s: s.call('DELETE', '/kilns/' + s.kiln()['code'], EMBER).ref(409, 'WRONG_STATE'))
T('light-empty', ST, 'transitions', 'firing', 'light firing', 'A firing without accepted wares may be lit.', lambda s: s.fact(s.ware()['firing'], 'light').ref(409, 'NOTHING_TO_FIRE'))
T('light-forgets-wares', ST, 'transitions', 'firing', 'light firing', 'The accepted wares are not fired.', lambda s: s.fired()['state'] == 'fired')
@fault('light-keeps-offers', ST, 'transitions', 'firing', 'light firing', 'Wares that were only offered are not bumped.')
def _(s):
    w = s.accepted(); o = s.ware(w['firing']); s.fact(w['firing'], 'light')
    return s.get('/wares/%d' % o['id']).j['state'] == 'bumped'
T('douse-planned', ST, 'transitions', 'firing', 'douse firing', 'A planned firing may be doused.', lambda s: s.fact(s.firing()['id'], 'douse').ref(409, 'WRONG_STATE'))
T('opens-after-twelve-hours', ST, 'transitions', 'firing', 'open firing', 'A kiln is opened after 12 hours.', lambda s: (lambda w: (s.fact(w['firing'], 'douse'), s.adv('PT17H'), s.get('/firings/' + w['firing']).j['phase'] == 'cooling')[2])(s.fired()))
T('never-opens', ST, 'transitions', 'firing', 'open firing', 'A kiln is never opened.', lambda s: s.get('/firings/' + s.opened()['firing']).j['phase'] == 'opened')
T('call-off-alight', ST, 'transitions', 'firing', 'call_off firing', 'A firing that is alight may be called off.', lambda s: s.fact(s.fired()['firing'], 'call-off', {}).ref(409, 'TOO_LATE'))
T('call-off-forgets-wares', ST, 'transitions', 'firing', 'call_off firing', 'The wares of a firing that is called off are not bumped.', lambda s: (lambda w: (s.fact(w['firing'], 'call-off', {}), s.get('/wares/%d' % w['id']).j['state'] == 'bumped')[1])(s.accepted()))
def lapse(s):
    f = s.firing(lights_at=s.at(hours=30), shuts_at=s.at(hours=40)); w = s.ware(f['id']); s.adv('PT41H')
    return s.get('/firings/' + f['id']).j, s.get('/wares/%d' % w['id']).j
T('never-lapses', ST, 'transitions', 'firing', 'lapse firing', 'A firing does not lapse when it shuts.', lambda s: lapse(s)[0]['phase'] == 'lapsed')
T('lapse-calls-off', ST, 'states', 'firing', 'lapse firing', 'A firing that lapses is called off instead.', lambda s: lapse(s)[0]['phase'] == 'lapsed')
T('lapse-forgets-wares', ST, 'transitions', 'firing', 'lapse firing', 'The wares of a lapsed firing are not bumped.', lambda s: lapse(s)[1]['state'] == 'bumped')
T('update-firing-when-alight', ST, 'transitions', 'firing', 'update firing', 'A firing that is alight may be changed.', lambda s: s.call('PATCH', '/firings/' + s.fired()['firing'], EMBER, {'memo': 'x'}).ref(409, 'WRONG_STATE'))
T('delete-planned-firing', ST, 'transitions', 'firing', 'delete firing', 'A planned firing may be deleted.', lambda s: s.call('DELETE', '/firings/' + s.firing()['id'], EMBER).ref(409, 'WRONG_STATE'))
@fault('overfilled', ST, 'transitions', 'ware', 'accept ware', 'More wares are accepted than there is room for.')
def _(s):
    f = s.firing()['id']; s.accepted(f, litres=60)
    return s.act(s.ware(f, litres=50), 'accept', {'shelf': 2}).ref(409, 'KILN_FULL')
@fault('full-off-by-one', ST, 'transitions', 'ware', 'accept ware', 'A ware that just fits is refused.')
def _(s):
    f = s.firing()['id']; s.accepted(f, litres=60)
    return s.act(s.ware(f, litres=40), 'accept', {'shelf': 2}).st == 200
T('refuse-accepted', ST, 'transitions', 'ware', 'refuse ware', 'An accepted ware may be refused.', lambda s: s.act(s.accepted(), 'refuse', {'reason': 'ugly'}).ref(409, 'WRONG_STATE'))
T('withdraw-offered-only', ST, 'transitions', 'ware', 'withdraw ware', 'An accepted ware cannot be withdrawn.', lambda s: s.act(s.accepted(), 'withdraw', key=WREN).st == 200)
T('collect-hot', ST, 'transitions', 'ware', 'collect ware', 'A ware may be collected before the kiln is opened.', lambda s: s.act(s.fired(), 'collect', {'by': 'Ann'}).ref(409, 'STILL_HOT'))
T('forfeit-after-six-days', ST, 'transitions', 'ware', 'forfeit ware', 'Wares are forfeited after six days.', lambda s: (lambda w: (s.adv('P10D'), s.get('/wares/%d' % w['id']).j['state'] == 'fired')[1])(s.fired()))
T('update-accepted-ware', ST, 'transitions', 'ware', 'update ware', 'An accepted ware may be changed.', lambda s: wpatch(s, s.accepted(), {'title': 'Other'}).ref(409, 'WRONG_STATE'))
T('delete-offered-ware', ST, 'transitions', 'ware', 'delete ware', 'An offered ware may be deleted.', lambda s: s.call('DELETE', '/wares/%d' % s.ware()['id'], WREN).ref(409, 'WRONG_STATE'))
# ---- endpoints
T('relight-path-missing', EP, 'path shapes', 'service', 'relight kiln', 'The path to relight a kiln is not served.', lambda s: (lambda k: (s.call('POST', '/kilns/%s/lay-up' % k['code'], EMBER), s.call('POST', '/kilns/%s/relight' % k['code'], EMBER).st == 200)[1])(s.kiln()))
T('kiln-firings-path-missing', EP, 'path shapes', 'service', 'kiln firings', 'The firings of a kiln are not served: a GET there is a wrong method.', lambda s: s.get('/kilns/YD01/firings').st == 200)
T('hooks-put-for-patch', EP, 'methods', 'service', 'update hook', 'Hooks are changed by PUT instead of PATCH.', lambda s: (s.receive(), s.call('PATCH', '/hooks/' + s.hook['id'], EMBER, {'live': False}).st == 200)[1])
T('min-litres-exclusive', EP, PA, 'GET /kilns', 'list kiln', 'min_litres leaves out what is exactly so large.', lambda s: s.get('/kilns?min_litres=400').j['total'] == 1)
T('named-contains', EP, PA, 'GET /kilns', 'list kiln', 'named finds labels that contain the text.', lambda s: s.get('/kilns?named=Bertha').j['total'] == 0)
T('kiln-state-filter-ignored', EP, PA, 'GET /kilns', 'list kiln', 'state does not filter.', lambda s: s.get('/kilns?state=laid_up').j['total'] == 0)
T('total-of-the-page', EP, RP, 'GET /kilns', 'list kiln', 'total counts the rows of the page.', lambda s: (s.kiln(), s.kiln(), s.get('/kilns?take=1').j['total'] == 3)[2])
T('skip-off-by-one', EP, RP, 'GET /kilns', 'list kiln', 'A page begins one row too early.', lambda s: (s.kiln(), s.kiln(), [k['code'] for k in s.get('/kilns?skip=1&take=1').j['kilns']] == ['KA02'])[2])
T('unknown-parameter-passes', EP, PA, 'GET /wares', 'list ware', 'Unknown parameters are ignored.', lambda s: s.get('/wares?colour=blue').ref(400, 'QUERY_UNFIT'))
@fault('split-takes-first-only', EP, PA, 'GET /wares', 'list ware', 'Of several states the first alone is looked at.')
def _(s):
    w = s.ware(); s.accepted(w['firing'])
    return len(s.get('/wares?state=offered,accepted').j['entries']) == 2
T('max-litres-turned-round', EP, PA, 'GET /wares', 'list ware', 'max_litres finds the larger ones.', lambda s: (s.ware(litres=10), len(s.get('/wares?max_litres=50').j['entries']) == 1)[1])
T('search-minds-case', EP, PA, 'GET /wares', 'list ware', 'q minds the case of words.', lambda s: (s.ware(title='Blue Bowl'), len(s.get('/wares?q=blue+BOWL').j['entries']) == 1)[1])
T('search-any-word', EP, PA, 'GET /wares', 'list ware', 'q finds what has any of the words.', lambda s: (s.ware(title='Blue Bowl'), len(s.get('/wares?q=blue+jug').j['entries']) == 0)[1])
T('potter-filters-by-clay', EP, PA, 'GET /wares', 'list ware', 'A potter may filter by a field that a rule leaves out.', lambda s: s.get('/wares?clay=stoneware', WREN).ref(400, 'QUERY_UNFIT') and s.get('/wares?clay=stoneware').st == 200)
@fault('ware-sort-descending-ignored', EP, PA, 'GET /wares', 'list ware', 'sort=-litres sorts upwards.')
def _(s):
    f = s.firing()['id']; s.ware(f, litres=5); s.ware(f, litres=9)
    return [w['litres'] for w in s.get('/wares?sort=-litres').j['entries']] == [9, 5]
T('till-inclusive', EP, PA, 'GET /firings', 'list firing', 'till includes the moment itself.', lambda s: (lambda f: len(s.get('/firings?till=' + f['lights_at']).j['entries']) == 0)(s.firing()))
T('burns-ignored', EP, PA, 'GET /firings', 'list firing', 'burns does not filter.', lambda s: (s.firing(), len(s.get('/firings?burns=wood').j['entries']) == 0)[1])
@fault('firings-oldest-first', EP, RP, 'GET /firings', 'list firing', 'Firings are listed from the earliest to the latest.')
def _(s):
    a = s.firing(lights_at=s.at(days=4)); b = s.firing(lights_at=s.at(days=6))
    return [f['id'] for f in s.get('/firings').j['entries']] == [b['id'], a['id']]
T('kiln-firings-of-all', EP, RP, 'GET /kilns/{kiln}/firings', 'kiln firings', 'The firings of all kilns are listed.', lambda s: (s.firing(), s.get('/kilns/YD01/firings').j['entries'] == [])[1])
T('missing-kiln-lists-empty', EP, RP, 'GET /kilns/{kiln}/firings', 'kiln firings', 'The firings of a kiln that there is not are an empty list.', lambda s: s.get('/kilns/ZZ99/firings').ref(404, 'NO_SUCH_THING'))
T('cracks-mildest-first', EP, RP, 'GET /wares/{ware}/cracks', 'list crack', 'Cracks are listed from the mildest on.', lambda s: (lambda w: (s.crack(w, grade=1), s.crack(w, grade=4), [c['grade'] for c in s.get('/wares/%d/cracks' % w['id']).j['cracks']] == [4, 1])[2])(s.ware()))
T('count-of-the-page', EP, RP, 'GET /wares/{ware}/cracks', 'list crack', 'count is the number on the page.', lambda s: (lambda w: (s.crack(w), s.crack(w), s.get('/wares/%d/cracks?per=1' % w['id']).j['count'] == 2)[2])(s.ware()))
T('page-from-zero', EP, RP, 'GET /wares/{ware}/cracks', 'list crack', 'Pages are counted from 0.', lambda s: (lambda w: (s.crack(w), len(s.get('/wares/%d/cracks?page=1' % w['id']).j['cracks']) == 1)[1])(s.ware()))
def two_pages(s):
    f = s.firing()['id']; ids = [s.ware(f)['id'] for _ in range(3)]
    a = s.get('/wares?take=2').j; b = s.get('/wares?take=2&after=' + a['next']).j
    return ids, a, b
T('cursor-repeats-last', EP, RP, 'GET /wares', 'list ware', 'A page begins with the last row of the one before.', lambda s: (lambda x: [w['id'] for w in x[1]['entries'] + x[2]['entries']] == x[0])(two_pages(s)))
T('more-always-false', EP, RP, 'GET /wares', 'list ware', 'more is always false.', lambda s: (lambda x: x[1]['more'] is True and x[2]['more'] is False)(two_pages(s)))
T('next-on-last-page', EP, RP, 'GET /wares', 'list ware', 'The last page has a next one.', lambda s: two_pages(s)[2]['next'] is None)
T('log-oldest-first', EP, RP, 'GET /happenings', 'list happening', 'The log begins with the oldest.', lambda s: (s.kiln(), s.firing(), s.log()[0]['kind'] == 'firing.planned')[2])
T('etag-missing', EP, RP, 'GET /kilns/{code}', 'read kiln', 'No ETag is told.', lambda s: 'ETag' in s.get('/kilns/YD01').h)
T('etag-constant', EP, RP, 'GET /firings/{id}', 'read firing', 'The ETag stays when the firing is changed.', lambda s: (lambda f: s.get('/firings/' + f['id']).h['ETag'] != (s.call('PATCH', '/firings/' + f['id'], EMBER, {'memo': 'x'}), s.get('/firings/' + f['id']))[1].h['ETag'])(s.firing()))
T('etag-ignores-derived', EP, RP, 'GET /firings/{id}', 'read firing', 'The ETag stays when derived fields change.', lambda s: (lambda w: s.get('/firings/' + w['firing']).h['ETag'] != (s.act(w, 'accept', {'shelf': 1}), s.get('/firings/' + w['firing']))[1].h['ETag'])(s.ware()))
T('if-none-match-ignored', EP, RP, 'GET /kilns/{code}', 'read kiln', 'If-None-Match is not looked at.', lambda s: s.get('/kilns/YD01', If_None_Match=s.get('/kilns/YD01').h['ETag']).st == 304)
T('replace-merges', EP, RP, 'PUT /kilns/{code}', 'replace kiln', 'What is left out of a replacement stays.', lambda s: 'remark' not in put(s, s.kiln(remark='leaks'), litres=150).j)
T('location-missing', EP, RP, 'POST /wares', 'create ware', 'A creation has no Location.', lambda s: 'Location' in post_ware(s).h)
T('firing-created-200', EP, RP, 'POST /kilns/{kiln}/firings', 'create firing', 'A creation is answered 200.', lambda s: s.call('POST', '/kilns/YD01/firings', EMBER, s.fire_body()).st == 201)
T('delete-firing-200', EP, RP, 'DELETE /firings/{id}', 'delete firing', 'A deletion is answered 200 with the firing.', lambda s: (lambda f: (s.fact(f, 'call-off', {}), s.call('DELETE', '/firings/' + f, EMBER).st == 204)[1])(s.firing()['id']))
T('delete-kiln-does-nothing', EP, RP, 'DELETE /kilns/{code}', 'delete kiln', 'A deleted kiln is still there.', lambda s: (lambda c: (s.call('POST', '/kilns/%s/lay-up' % c, EMBER), s.call('DELETE', '/kilns/' + c, EMBER).st == 204 and s.get('/kilns/' + c).st == 404)[1])(s.kiln()['code']))
T('nested-patch-replaces', EP, QP, 'PATCH /wares/{id}', 'update ware', 'A patch of a value inside is taken as the whole value.', lambda s: wpatch(s, s.ware(insured={'pence': 5, 'currency': 'GBP'}), {'insured': {'pence': 7}}).j.get('insured') == {'pence': 7, 'currency': 'GBP'})
T('null-does-not-remove', EP, QP, 'PATCH /firings/{id}', 'update firing', 'null does not take a field away.', lambda s: 'memo' not in s.call('PATCH', '/firings/' + s.firing(memo='x')['id'], EMBER, {'memo': None}).j)
T('null-on-required-ignored', EP, QP, 'PATCH /wares/{id}', 'update ware', 'null takes away a field that is required.', lambda s: wpatch(s, s.ware(), {'title': None}).ref(422, 'FIELD_UNFIT'))
T('idle-update-stamps', EP, RP, 'PATCH /wares/{id}', 'update ware', 'An update that changes nothing sets changed_at.', lambda s: (lambda w: (s.adv('PT5S'), wpatch(s, w, {'title': w['title']}).j['changed_at'] == w['changed_at'])[1])(s.ware()))
T('hook-update-not-stored', EP, RP, 'PATCH /hooks/{id}', 'update hook', 'A changed hook is not stored.', lambda s: (s.receive(), s.call('PATCH', '/hooks/' + s.hook['id'], EMBER, {'live': False}), s.get('/hooks/' + s.hook['id']).j['live'] is False)[2])
T('unknown-fields-pass', EP, QP, 'POST /wares', 'create ware', 'Fields that there are not are ignored.', lambda s: post_ware(s, colour='blue').ref(400, 'FIELD_UNKNOWN'))
T('path-and-body-differ', EP, QP, 'POST /kilns/{kiln}/firings', 'create firing', 'Another kiln in the body than in the path passes.', lambda s: s.call('POST', '/kilns/YD01/firings', EMBER, s.fire_body(kiln=s.kiln()['code'])).ref(422, 'FIELD_UNFIT'))
T('shelf-optional', EP, QP, 'POST /wares/{id}/accept', 'accept ware', 'A ware may be accepted without a shelf.', lambda s: s.act(s.ware(), 'accept', {}).ref(400, 'FIELD_ABSENT'))
T('shelf-ten', EP, QP, 'POST /wares/{id}/accept', 'accept ware', 'Shelf 10 is taken.', lambda s: s.act(s.ware(), 'accept', {'shelf': 10}).ref(422, 'FIELD_UNFIT'))
T('reason-optional', EP, QP, 'POST /wares/{id}/refuse', 'refuse ware', 'A ware may be refused without a reason.', lambda s: s.act(s.ware(), 'refuse', {}).ref(400, 'FIELD_ABSENT'))
T('why-min-ignored', EP, QP, 'POST /firings/{id}/call-off', 'call_off firing', 'A reason of one letter is taken.', lambda s: s.fact(s.firing()['id'], 'call-off', {'why': 'x'}).ref(422, 'FIELD_UNFIT'))
def once(s, key=WREN, wait=None, other=None, second=None):
    b = s.wbody(s.firing()['id'])
    a = s.call('POST', '/wares', key, b, Saggar_Once='k1')
    if wait: s.adv(wait)
    return a, s.call('POST', '/wares', second or key, other or b, Saggar_Once='k1')
T('once-ignored', EP, RP, 'POST /wares', 'create ware', 'A repeated key makes another ware.', lambda s: (lambda x: x[1].st == 201 and x[0].j['id'] == x[1].j['id'])(once(s)))
T('once-ten-minutes', EP, RP, 'POST /wares', 'create ware', 'Keys are kept for ten minutes only.', lambda s: (lambda x: x[0].j['id'] == x[1].j['id'])(once(s, wait='PT5H')))
T('once-replays-claim', EP, RP, 'POST /wares', 'create ware', 'A replayed answer shows the claim again.', lambda s: (lambda x: 'claim' in x[0].j and 'claim' not in x[1].j)(once(s)))
T('once-replays-200', EP, RP, 'POST /wares', 'create ware', 'A replayed answer is 200.', lambda s: once(s)[1].st == 201)
T('once-shared-by-callers', EP, RP, 'POST /wares', 'create ware', 'The key of one potter answers another.', lambda s: (lambda x: x[1].st == 201 and x[0].j['id'] != x[1].j['id'])(once(s, second=MOSS)))
# ---- authentication
T('login-ignored', AU, 'schemes', 'service', 'list ware', 'A name and password are not looked at.', lambda s: s.get('/wares', None, Authorization='Basic ' + base64.b64encode(b'wren:mud-and-feathers').decode()).st == 200)
T('two-callers-at-once', AU, 'schemes', 'service', 'list ware', 'A key and a login of two callers pass together.', lambda s: s.get('/wares', WREN, Authorization='Basic ' + base64.b64encode(b'ember:glow-of-1280').decode()).ref(401, 'KEY_UNFIT'))
T('key-header-renamed', AU, 'header names', 'key', 'list ware', 'The key is read from X-Api-Key.', lambda s: s.get('/wares', WREN).st == 200)
T('password-not-checked', AU, 'token formats', 'login', 'list ware', 'Any password is good.', lambda s: s.get('/wares', None, Authorization='Basic ' + base64.b64encode(b'wren:guess').decode()).ref(401, 'KEY_UNFIT'))
T('key-prefix-is-enough', AU, 'token formats', 'key', 'list ware', 'The first letters of a key are enough.', lambda s: s.get('/wares', WREN[:-1] + 'X').ref(401, 'KEY_UNFIT'))
T('guild-mates-may-withdraw', AU, 'permission rules', 'withdraw ware', 'withdraw ware', 'Potters of the same guild may withdraw a ware.', lambda s: s.act(s.ware(), 'withdraw', key=MOSS).ref(403, 'NOT_FOR_YOU'))
T('guild-mates-may-update', AU, 'permission rules', 'update ware', 'update ware', 'Potters of the same guild may change a ware.', lambda s: wpatch(s, s.ware(), {'title': 'Mine now'}, MOSS).ref(403, 'NOT_FOR_YOU'))
T('guild-mates-may-collect', AU, 'permission rules', 'collect ware', 'collect ware', 'Potters of the same guild may collect a ware.', lambda s: s.act(s.opened(), 'collect', {'by': 'Moss'}, MOSS).ref(403, 'NOT_FOR_YOU'))
T('stoker-cannot-collect', AU, 'permission rules', 'collect ware', 'collect ware', 'Stokers cannot hand wares out.', lambda s: s.act(s.opened(), 'collect', {'by': 'Ann'}, ASH).st == 200)
T('anyone-deletes-crack', AU, 'permission rules', 'delete crack', 'delete crack', 'Any stoker may delete a crack.', lambda s: s.call('DELETE', '/cracks/' + s.crack(s.ware())['id'], ASH).ref(403, 'NOT_FOR_YOU'))
T('kilns-scope-forgotten', AU, 'permission rules', 'create kiln', 'create kiln', 'A kiln may be made without the scope.', lambda s: s.call('POST', '/kilns', ASH, s.kbody()).ref(403, 'NO_SCOPE'))
T('lay-up-scope-forgotten', AU, 'permission rules', 'lay_up kiln', 'lay_up kiln', 'A kiln may be laid up without the scope.', lambda s: s.call('POST', '/kilns/YD01/lay-up', ASH).ref(403, 'NO_SCOPE'))
T('log-scope-forgotten', AU, 'permission rules', 'list happening', 'list happening', 'The log is listed without the scope.', lambda s: s.get('/happenings', ASH).ref(403, 'NO_SCOPE'))
T('log-open-to-potters', AU, 'permission rules', 'read happening', 'read happening', 'Potters may read entries of the log.', lambda s: (s.kiln(), s.get('/happenings/' + s.log()[0]['id'], WREN).ref(403, 'NOT_FOR_YOU'))[1])
T('potter-lights', AU, 'permission rules', 'light firing', 'light firing', 'Potters may light a firing.', lambda s: s.fact(s.accepted()['firing'], 'light', key=WREN).ref(403, 'NOT_FOR_YOU'))
T('potter-accepts', AU, 'permission rules', 'accept ware', 'accept ware', 'Potters may accept their own wares.', lambda s: s.act(s.ware(), 'accept', {'shelf': 1}, WREN).ref(403, 'NOT_FOR_YOU'))
T('all-wares-readable', AU, 'permission rules', 'read ware', 'read ware', 'Any potter may read any ware.', lambda s: s.get('/wares/%d' % s.ware()['id'], TEAL).ref(404, 'NO_SUCH_THING'))
T('ware-list-leaks', AU, 'permission rules', 'list ware', 'list ware', 'Potters are listed the wares of other guilds.', lambda s: (s.ware(), s.get('/wares', TEAL).j['entries'] == [])[1])
T('guild-sees-all-fields', AU, 'permission rules', 'read ware', 'read ware', 'Potters of the guild are shown every field.', lambda s: set(s.get('/wares/%d' % s.ware()['id'], MOSS).j) == {'id', 'firing', 'potter', 'guild', 'title', 'litres', 'state'})
T('hook-list-leaks', AU, 'permission rules', 'list hook', 'list hook', 'Everybody is listed all hooks.', lambda s: (s.receive(), s.get('/hooks', WREN).j['entries'] == [])[1])
T('hook-delete-any', AU, 'permission rules', 'delete hook', 'delete hook', 'Anybody may delete a hook.', lambda s: (s.receive(), s.call('DELETE', '/hooks/' + s.hook['id'], WREN).ref(404, 'NO_SUCH_THING'))[1])
T('crack-list-leaks-to-guild', AU, 'permission rules', 'list crack', 'list crack', 'Potters of the guild are listed the cracks of a ware.', lambda s: (lambda w: (s.crack(w), s.get('/wares/%d/cracks' % w['id'], MOSS).j['cracks'] == [])[1])(s.ware()))
T('kilns-need-login', AU, 'permission rules', 'list kiln', 'list kiln', 'Nobody without a credential may list kilns.', lambda s: s.get('/kilns', None).st == 200)
# ---- events
for k, subj, op, do in [
    ('firing.opened', 'firing.opened', 'open firing', lambda s: s.opened()), ('ware.bumped', 'ware.bumped', 'bump ware', lambda s: s.fact(s.ware()['firing'], 'call-off', {})),
    ('kiln.entered', 'kiln.entered', 'create kiln', lambda s: s.kiln()), ('firing.soon', 'firing.soon', 'list happening', lambda s: (s.firing(), s.adv('PT60H'))),
    ('ware.deleted', 'ware.deleted', 'delete ware', lambda s: (lambda w: (s.act(w, 'withdraw', key=WREN), s.call('DELETE', '/wares/%d' % w['id'], WREN)))(s.ware()))]:
    T('no-' + k.replace('.', '-'), EV, 'emitting operations', subj, op, 'The event %s is never told.' % k, lambda s, k=k, do=do: (do(s), len(kinds(s, k)) == 1)[1])
for k, op, do in [('firing.lit', 'light firing', lambda s: s.fired()), ('ware.judged', 'accept ware', lambda s: s.accepted()), ('ware.offered', 'create ware', lambda s: s.ware())]:
    T('twice-' + k.replace('.', '-'), EV, 'emitting operations', k, op, 'The event %s is told twice.' % k, lambda s, k=k, do=do: (do(s), len(kinds(s, k)) == 1)[1])
T('refusal-not-told', EV, 'emitting operations', 'ware.judged', 'refuse ware', 'A refusal is not told.', lambda s: (s.act(s.ware(), 'refuse', {'reason': 'ugly'}), len(kinds(s, 'ware.judged')) == 1)[1])
T('relabelled-always', EV, 'emitting operations', 'kiln.relabelled', 'replace kiln', 'A replacement that keeps the label tells of another.', lambda s: (put(s, s.kiln(), litres=150), kinds(s, 'kiln.relabelled') == [])[1])
T('crack-seen-from-four', EV, 'emitting operations', 'crack.seen', 'create crack', 'A crack of grade 3 is not told of.', lambda s: (s.crack(s.ware(), grade=3), len(kinds(s, 'crack.seen')) == 1)[1])
T('crack-seen-always', EV, 'emitting operations', 'crack.seen', 'create crack', 'Every crack is told of.', lambda s: (s.crack(s.ware(), grade=2), kinds(s, 'crack.seen') == [])[1])
T('soon-two-hours', EV, 'emitting operations', 'firing.soon', 'create firing', 'firing.soon comes two hours before, not a day.', lambda s: (s.firing(), s.adv('PT50H'), len(kinds(s, 'firing.soon')) == 1)[2])
@fault('soon-not-replanned', EV, 'emitting operations', 'firing.soon', 'update firing', 'A firing that is put off is not told of at its new time.')
def _(s):
    f = s.firing(); s.call('PATCH', '/firings/' + f['id'], EMBER, {'lights_at': s.at(days=6)}); s.adv('PT49H'); a = len(kinds(s, 'firing.soon')); s.adv('PT73H')
    return a == 0 and len(kinds(s, 'firing.soon')) == 1
T('log-forgets-bumps', EV, 'kinds of event', 'service', 'list happening', 'Bumps are not written to the log.', lambda s: (s.fact(s.ware()['firing'], 'call-off', {}), len(kinds(s, 'ware.bumped')) == 1)[1])
T('log-kept-three-days', EV, 'kinds of event', 'service', 'list happening', 'The log is kept for three days.', lambda s: (s.kiln(), s.adv('P5D'), len(s.log()) == 1)[2])
T('log-kept-forever', EV, 'kinds of event', 'service', 'list happening', 'The log is kept for ever.', lambda s: (s.kiln(), s.adv('P31D'), s.log() == [])[2])
def heard(s, do, n, key=EMBER, **k):
    got = s.receive(key, **k); do(s); s.wait(got, n); return got
T('relabelled-was-wrong', EV, 'payload shapes', 'kiln.relabelled', 'replace kiln', 'was is the new label.', lambda s: (lambda k: heard(s, lambda s: put(s, k, label='Other'), 1)[0][2]['body'] == {'kiln': k['code'], 'was': k['label'], 'is': 'Other'})(s.kiln()))
@fault('gone-how-always-collected', EV, 'payload shapes', 'ware.gone', 'forfeit ware', 'A forfeited ware is told of as collected.')
def _(s):
    w = s.fired(); got = s.receive(kinds=['ware.gone']); s.adv('P61D'); s.wait(got, 1)
    return got[0][2]['body'] == {'ware': w['id'], 'how': 'forfeited'}
@fault('lapsed-told-as-called-off', EV, 'payload shapes', 'firing.off', 'lapse firing', 'lapsed is false for a firing that lapsed.')
def _(s):
    got = s.receive(kinds=['firing.off']); lapse(s); s.wait(got, 1); return got[0][2]['body']['lapsed'] is True
T('payload-drops-number', EV, 'payload shapes', 'firing.planned', 'create firing', 'The payload lacks the number.', lambda s: heard(s, lambda s: s.firing(), 1, kinds=['firing.planned'])[0][2]['body'].get('number') == 1)
@fault('deleted-payload-a-map', EV, 'payload shapes', 'ware.deleted', 'delete ware', 'The payload is a map and not the identifier.')
def _(s):
    w = s.ware(); s.act(w, 'withdraw', key=WREN); got = heard(s, lambda s: s.call('DELETE', '/wares/%d' % w['id'], WREN), 1); return got[0][2]['body'] == w['id']
T('claim-in-events', EV, 'payload shapes', 'ware.offered', 'create ware', 'The claim stands in events.', lambda s: 'claim' not in heard(s, lambda s: s.ware(), 1, kinds=['ware.*'])[0][2]['body'])
T('event-shows-all-fields', EV, 'payload shapes', 'ware.offered', 'create ware', 'A potter is told fields in events that a rule leaves out.', lambda s: set(heard(s, lambda s: s.ware(), 1, WREN, kinds=['ware.*'])[0][2]['body']) == {'id', 'firing', 'potter', 'guild', 'title', 'litres', 'state'})
T('hook-kinds-ignored', EV, 'delivery mechanism', 'service', 'create hook', 'A hook is told of kinds that it does not list.', lambda s: heard(s, lambda s: s.kiln(), 1, kinds=['ware.*']) == [])
T('wildcard-ignored', EV, 'delivery mechanism', 'service', 'create hook', 'ware.* is told of nothing.', lambda s: len(heard(s, lambda s: s.ware(), 1, kinds=['ware.*'])) == 1)
@fault('dead-hooks-told', EV, 'delivery mechanism', 'service', 'update hook', 'A hook that is not live is told all the same.')
def _(s):
    got = s.receive(); s.call('PATCH', '/hooks/' + s.hook['id'], EMBER, {'live': False}); s.kiln(); s.wait(got, 1, 0.5); return got == []
T('events-to-everyone', EV, 'delivery mechanism', 'service', 'create ware', 'Hooks hear of wares that their makers may not read.', lambda s: heard(s, lambda s: s.ware(), 1, TEAL, kinds=['ware.*']) == [])
def sealed(s, g):
    h, b, j = g; m = re.match(r'^t=(\d+),s=([0-9a-f]{64})$', h['X-Saggar-Seal'] or '')
    return bool(m) and hmac.compare_digest(m[2], hmac.new(s.hook['seal'].encode(), ('%s.%s.' % (m[1], j['no'])).encode() + b, hashlib.sha256).hexdigest())
T('signature-without-id', EV, 'delivery mechanism', 'service', 'create kiln', 'The identifier is not signed.', lambda s: sealed(s, heard(s, lambda s: s.kiln(), 1)[0]))
T('signature-of-hook-id', EV, 'delivery mechanism', 'service', 'create kiln', 'It is signed with the identifier of the hook.', lambda s: sealed(s, heard(s, lambda s: s.kiln(), 1)[0]))
T('seal-header-renamed', EV, 'delivery mechanism', 'service', 'create kiln', 'The signature stands in X-Seal.', lambda s: sealed(s, heard(s, lambda s: s.kiln(), 1)[0]))
T('kind-header-lost', EV, 'delivery mechanism', 'service', 'create kiln', 'X-Saggar-Kind is not sent.', lambda s: heard(s, lambda s: s.kiln(), 1)[0][0]['X-Saggar-Kind'] == 'kiln.entered')
T('envelope-without-when', EV, 'delivery mechanism', 'service', 'create kiln', 'The envelope lacks when.', lambda s: set(heard(s, lambda s: s.kiln(), 1)[0][2]) == {'no', 'what', 'when', 'body'})
def failing(s, status=500, steps=('PT13S', 'PT3M', 'PT25M'), do=None):
    got = s.receive(kinds=['kiln.*'], status=status); s.kiln(); out = [s.wait(got, 1)]
    for d in steps: s.adv(d); out.append(s.wait(got, out[-1] + 1, 0.8))
    return got, out
T('no-retry', EV, 'delivery mechanism', 'service', 'create kiln', 'A delivery that fails is not tried again.', lambda s: failing(s)[1] == [1, 2, 3, 4])
T('one-retry-too-few', EV, 'delivery mechanism', 'service', 'create kiln', 'The last of the tries is left out.', lambda s: failing(s)[1] == [1, 2, 3, 4])
T('retry-thrice-fast', EV, 'delivery mechanism', 'service', 'create kiln', 'Every try comes after ten seconds.', lambda s: failing(s, steps=('PT13S', 'PT15S', 'PT15S'))[1] == [1, 2, 2, 2])
T('new-id-each-try', EV, 'delivery mechanism', 'service', 'create kiln', 'Each try has an identifier of its own.', lambda s: (lambda g: g[0][2]['no'] == g[1][2]['no'])(failing(s, steps=('PT13S',))[0]))
T('client-error-counts-as-taken', EV, 'delivery mechanism', 'service', 'create kiln', 'An answer of 4xx counts as taken.', lambda s: failing(s, 404, ('PT13S',))[1] == [1, 2])
T('redirect-counts-as-taken', EV, 'delivery mechanism', 'service', 'create kiln', 'A redirect counts as taken.', lambda s: failing(s, 302, ('PT13S',))[1] == [1, 2])
T('gone-receiver-kept', EV, 'delivery mechanism', 'service', 'disable hook', 'A receiver that answers 410 is asked again.', lambda s: (failing(s, 410, ()), s.get('/hooks/' + s.hook['id']).j['live'] is False)[1])
T('no-hook-dead', EV, 'emitting operations', 'hook.dead', 'disable hook', 'That a hook was disabled is not told.', lambda s: (failing(s, 410, ()), len(kinds(s, 'hook.dead')) == 1)[1])
@fault('never-disabled', EV, 'delivery mechanism', 'service', 'disable hook', 'A hook that fails for hours is never disabled.')
def _(s):
    got = s.receive(kinds=['kiln.*'], status=500); n = 0
    for _ in range(6): s.kiln(); s.wait(got, len(got) + 1, 1, .1); s.adv('PT30M')
    s.wait(got, 99, 0.6); return s.get('/hooks/' + s.hook['id']).j['live'] is False
@fault('order-lost', EV, 'delivery mechanism', 'service', 'accept ware', 'A later event of a ware does not wait for the earlier one.')
def _(s):
    got = s.receive(kinds=['ware.*'], status=500); w = s.ware(); s.wait(got, 1); s.act(w, 'accept', {'shelf': 1}); s.wait(got, 2, .6)
    return [g[2]['what'] for g in got] == ['ware.offered']
# ---- errors
bad_ware = lambda s: post_ware(s, litres=0)
for id, code, st, right, op, do in [
    ('status-unfit-field-400', 'FIELD_UNFIT', 400, 422, 'create ware', bad_ware), ('status-absent-field-422', 'FIELD_ABSENT', 422, 400, 'create ware', lambda s: post_ware(s, drop=['title'])),
    ('status-stale-409', 'STALE', 409, 412, 'replace kiln', lambda s: s.call('PUT', '/kilns/YD01', EMBER, put_body(s.get('/kilns/YD01').j), If_Match='"no"')),
    ('status-held-400', 'STILL_HELD', 400, 409, 'delete firing', lambda s: (lambda w: (s.fact(w['firing'], 'call-off', {}), s.call('DELETE', '/firings/' + w['firing'], EMBER))[1])(s.ware())),
    ('status-gone-404', 'THING_GONE', 404, 410, 'read crack', lambda s: (lambda c: (s.call('DELETE', '/cracks/' + c['id'], EMBER), s.get('/cracks/' + c['id']))[1])(s.crack(s.ware()))),
    ('status-adrift-404', 'ADRIFT', 404, 422, 'create ware', lambda s: post_ware(s, f='fir_zzzzzzzzzzzz')), ('status-wrong-state-400', 'WRONG_STATE', 400, 409, 'douse firing', lambda s: s.fact(s.firing()['id'], 'douse')),
    ('status-exists-422', 'ALREADY_THERE', 422, 409, 'create kiln', lambda s: post_kiln(s, code='YD01')), ('status-not-for-you-401', 'NOT_FOR_YOU', 401, 403, 'create ware', lambda s: post_ware(s, EMBER)),
    ('status-full-422', 'KILN_FULL', 422, 409, 'accept ware', lambda s: (lambda f: (s.accepted(f, litres=60), s.act(s.ware(f, litres=50), 'accept', {'shelf': 2}))[1])(s.firing()['id'])),
    ('status-foreign-400', 'BODY_FOREIGN', 400, 415, 'create ware', lambda s: s.call('POST', '/wares', WREN, raw='a=b', Content_Type='text/plain')),
    ('status-tag-needed-412', 'TAG_NEEDED', 412, 428, 'replace kiln', lambda s: s.call('PUT', '/kilns/YD01', EMBER, put_body(s.get('/kilns/YD01').j)))]:
    T(id, ER, 'status codes', code, op, '%s is answered %d.' % (code, st), lambda s, do=do, right=right, code=code: do(s).ref(right, code))
T('unknown-field-named-unfit', ER, 'conditions', 'FIELD_UNKNOWN', 'create ware', 'An unknown field is FIELD_UNFIT.', lambda s: post_ware(s, colour='x').ref(400, 'FIELD_UNKNOWN'))
T('no-scope-told-as-forbidden', ER, 'conditions', 'NO_SCOPE', 'create kiln', 'A missing scope is NOT_FOR_YOU.', lambda s: s.call('POST', '/kilns', ASH, s.kbody()).ref(403, 'NO_SCOPE'))
T('method-told-as-path', ER, 'conditions', 'NO_SUCH_METHOD', 'list kiln', 'A wrong method is NO_SUCH_PATH.', lambda s: s.call('DELETE', '/kilns', EMBER).ref(405, 'NO_SUCH_METHOD'))
T('gone-told-as-missing', ER, 'conditions', 'THING_GONE', 'read crack', 'A deleted crack is NO_SUCH_THING.', lambda s: (lambda c: (s.call('DELETE', '/cracks/' + c['id'], EMBER), s.get('/cracks/' + c['id']).ref(410, 'THING_GONE'))[1])(s.crack(s.ware())))
T('unreadable-told-as-forbidden', ER, 'conditions', 'NO_SUCH_THING', 'read ware', 'Who may not read a ware learns that it is there.', lambda s: s.get('/wares/%d' % s.ware()['id'], TEAL).ref(404, 'NO_SUCH_THING'))
T('call-off-wrong-code', ER, 'conditions', 'TOO_LATE', 'call_off firing', 'A firing that is alight is WRONG_STATE.', lambda s: s.fact(s.fired()['firing'], 'call-off', {}).ref(409, 'TOO_LATE'))
T('firing-in-laid-up-kiln', ER, 'conditions', 'KILN_LAID_UP', 'create firing', 'A firing may be planned in a kiln that is laid up.', lambda s: (s.call('POST', '/kilns/YD01/lay-up', EMBER), s.call('POST', '/kilns/YD01/firings', EMBER, s.fire_body()).ref(409, 'KILN_LAID_UP'))[1])
T('too-hot-unchecked', ER, 'conditions', 'TOO_HOT', 'create firing', 'A firing may be hotter than its kiln.', lambda s: s.call('POST', '/kilns/YD01/firings', EMBER, s.fire_body(top_c=1301)).ref(422, 'TOO_HOT'))
T('too-hot-at-peak', ER, 'conditions', 'TOO_HOT', 'create firing', 'A firing that is exactly as hot as its kiln gets is refused.', lambda s: s.call('POST', '/kilns/YD01/firings', EMBER, s.fire_body(top_c=1300)).st == 201)
T('too-hot-unchecked-on-update', ER, 'conditions', 'TOO_HOT_NOW', 'update firing', 'A change may make a firing hotter than its kiln.', lambda s: s.call('PATCH', '/firings/' + s.firing()['id'], EMBER, {'top_c': 1201}).ref(422, 'TOO_HOT_NOW'))
T('offer-to-closed-firing', ER, 'conditions', 'FIRING_CLOSED', 'create ware', 'Wares may be offered to a firing that is alight.', lambda s: post_ware(s, f=s.fired()['firing']).ref(409, 'FIRING_CLOSED'))
T('too-big-unchecked', ER, 'conditions', 'TOO_BIG', 'create ware', 'A ware may be larger than the kiln.', lambda s: post_ware(s, litres=101).ref(422, 'TOO_BIG'))
T('delete-kiln-not-restricted', ER, 'conditions', 'STILL_HELD', 'delete kiln', 'A kiln with firings may be deleted.', lambda s: (lambda f: (s.fact(f['id'], 'call-off', {}), s.call('POST', '/kilns/%s/lay-up' % f['kiln'], EMBER), s.call('DELETE', '/kilns/' + f['kiln'], EMBER).ref(409, 'STILL_HELD'))[2])(s.firing()))
T('if-match-optional', ER, 'conditions', 'TAG_NEEDED', 'replace kiln', 'A replacement needs no If-Match.', lambda s: s.call('PUT', '/kilns/YD01', EMBER, put_body(s.get('/kilns/YD01').j)).ref(428, 'TAG_NEEDED'))
T('if-match-ignored-on-firing', ER, 'conditions', 'STALE', 'update firing', 'If-Match is not looked at when a firing is changed.', lambda s: s.call('PATCH', '/firings/' + s.firing()['id'], EMBER, {'memo': 'x'}, If_Match='"no"').ref(412, 'STALE'))
T('once-body-not-compared', ER, 'conditions', 'ONCE_REUSED', 'create ware', 'A key with another body is answered as before.', lambda s: once(s, other={'title': 'Other'})[1].ref(422, 'ONCE_REUSED'))
T('accept-ignored', ER, 'conditions', 'ANSWER_FOREIGN', 'read kiln', 'Accept is not looked at.', lambda s: s.get('/kilns/YD01', Accept='text/html').ref(406, 'ANSWER_FOREIGN'))
T('media-not-checked', ER, 'conditions', 'BODY_FOREIGN', 'create kiln', 'Any media type is read as JSON.', lambda s: s.call('POST', '/kilns', EMBER, s.kbody(), Content_Type='text/plain').ref(415, 'BODY_FOREIGN'))
T('broken-json-crashes', ER, 'conditions', 'BODY_UNREADABLE', 'create kiln', 'Broken JSON is an internal error.', lambda s: s.call('POST', '/kilns', EMBER, raw='{"a":').ref(400, 'BODY_UNREADABLE'))
T('fault-without-http', ER, 'error payload shapes', 'service', 'read kiln', 'Refusals lack http.', lambda s: s.get('/kilns/ZZ99').j['fault'].get('http') == 404)
T('fault-code-member', ER, 'error payload shapes', 'service', 'read kiln', 'The name stands in the member code.', lambda s: s.get('/kilns/ZZ99').j['fault'].get('name') == 'NO_SUCH_THING')
T('spots-as-pointers', ER, 'error payload shapes', 'service', 'create kiln', 'Places are JSON pointers and not dotted.', lambda s: post_kiln(s, site={'street': 'a', 'town': 7}).j['fault']['spots'][0]['path'] == 'site.town')
T('spots-dropped', ER, 'error payload shapes', 'service', 'create kiln', 'Refusals do not say what is wrong.', lambda s: len(post_kiln(s, litres=1).j['fault'].get('spots', [])) == 1)
T('first-spot-only', ER, 'error payload shapes', 'service', 'create kiln', 'Of several wrong fields one is told.', lambda s: len(post_kiln(s, litres=1, peak_c=1).j['fault']['spots']) == 2)
T('fault-header-missing', ER, 'error payload shapes', 'service', 'read kiln', 'X-Saggar-Fault is not sent.', lambda s: s.get('/kilns/ZZ99').h['X-Saggar-Fault'] == 'NO_SUCH_THING')
# ---- limits
@fault('rate-twice-as-high', LI, 'rate limits', 'service', 'about', 'Twice as many requests are let in.')
def _(s):
    out = [s.call('GET', '/kilns/YD01', TEAL).st for _ in range(601)]
    return out[:600] == [200] * 600 and out[600] == 429
def many_cracks(s, n):
    w = s.ware(); return [s.call('POST', '/wares/%d/cracks' % w['id'], EMBER, {'text': 'x'}) for _ in range(n)]
T('crack-rate-missing', LI, 'rate limits', 'service', 'create crack', 'The rate for cracks is not kept.', lambda s: many_cracks(s, 14)[-1].ref(429, 'TOO_FAST'))
T('crack-rate-off-by-one', LI, 'rate limits', 'service', 'create crack', 'A thirteenth crack is let in.', lambda s: [a.st for a in many_cracks(s, 13)] == [201] * 12 + [429])
T('rate-shared-by-user', LI, 'rate limits', 'service', 'create crack', 'All stokers share one count.', lambda s: (many_cracks(s, 12), s.call('POST', '/wares/1/cracks', ASH, {'text': 'x'}).st == 201)[1])
T('rate-window-never-ends', LI, 'rate limits', 'service', 'create crack', 'The window begins anew with every request.', lambda s: (many_cracks(s, 11), s.adv('PT40S'), s.call('POST', '/wares/1/cracks', EMBER, {'text': 'x'}), s.adv('PT30S'), s.call('POST', '/wares/1/cracks', EMBER, {'text': 'x'}).st == 201)[4])
T('retry-after-missing', LI, 'rate limits', 'service', 'create crack', 'A refusal has no Retry-After.', lambda s: 'Retry-After' in many_cracks(s, 13)[-1].h)
T('rate-left-off-by-one', LI, 'rate limits', 'service', 'create crack', 'X-Rate-Left tells one too many.', lambda s: (lambda a: (a[0].h['X-Rate-Limit'], a[0].h['X-Rate-Left']) == ('12', '11'))(many_cracks(s, 1)))
T('rate-headers-missing', LI, 'rate limits', 'service', 'read kiln', 'Answers do not tell of rates.', lambda s: s.get('/kilns/YD01').h['X-Rate-Limit'] == '600')
T('body-limit-doubled', LI, 'size limits', 'service', 'create kiln', 'Bodies of up to 32 KiB are taken.', lambda s: s.call('POST', '/kilns', EMBER, raw=json.dumps(s.kbody()) + ' ' * 17000).ref(413, 'BODY_TOO_LARGE'))
T('url-limit-doubled', LI, 'size limits', 'service', 'list kiln', 'Addresses of up to 4 KiB are taken.', lambda s: s.get('/kilns?town=' + 'a' * 3000).ref(414, 'URL_TOO_LONG'))
T('header-limit-missing', LI, 'size limits', 'service', 'list kiln', 'The size of headers is not looked at.', lambda s: s.get('/kilns', X_Long='a' * 13000).ref(431, 'HEADERS_TOO_LARGE'))
@fault('request-time-out-thirty', LI, 'time-outs', 'service', 'create kiln', 'A body that does not come is waited for for 30 seconds.')
def _(s):
    c = socket.create_connection(('127.0.0.1', s.port)); c.settimeout(12)
    c.sendall(('POST /yard/kilns HTTP/1.1\r\nHost: x\r\nX-Saggar-Key: %s\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{' % EMBER).encode())
    try: return c.recv(4096).startswith(b'HTTP/1.1 408')
    except OSError: return False
    finally: c.close()
@fault('idle-time-out-short', LI, 'time-outs', 'service', 'list kiln', 'A connection on which nothing is asked is ended after 8 seconds.')
def _(s):
    c = socket.create_connection(('127.0.0.1', s.port)); c.settimeout(11)
    try: return c.recv(10) != b''
    except TimeoutError: return True
    finally: c.close()
def wares(s, n, key=WREN):
    f = s.firing()['id']; return [s.call('POST', '/wares', key, s.wbody(f)) for _ in range(n)]
T('page-default-off', LI, 'pagination bounds', 'GET /wares', 'list ware', 'A page has 20 rows where nothing is asked.', lambda s: (wares(s, 12), len(s.get('/wares').j['entries']) == 10)[1])
T('page-max-ten-more', LI, 'pagination bounds', 'GET /firings', 'list firing', 'Pages of up to 60 rows are given.', lambda s: s.get('/firings?take=51').ref(400, 'PAGE_UNFIT') and s.get('/firings?take=50').st == 200)
T('over-max-clamped', LI, 'pagination bounds', 'GET /wares', 'list ware', 'A size above the most is cut down.', lambda s: s.get('/wares?take=500').ref(400, 'PAGE_UNFIT'))
T('kilns-over-max-refused', LI, 'pagination bounds', 'GET /kilns', 'list kiln', 'A size above the most is refused.', lambda s: s.get('/kilns?take=500').st == 200)
T('page-of-none-passes', LI, 'pagination bounds', 'GET /hooks', 'list hook', 'A page of no rows is given.', lambda s: s.get('/hooks?take=0').ref(400, 'PAGE_UNFIT'))
T('cursor-for-any-filter', LI, 'pagination bounds', 'GET /wares', 'list ware', 'A cursor is taken with another filter.', lambda s: (wares(s, 3), s.get('/wares?state=offered&take=1&after=' + s.get('/wares?take=1').j['next']).ref(400, 'PAGE_UNFIT'))[1])
T('hooks-unlimited', LI, 'quotas', 'rows of hook', 'create hook', 'There is no end to hooks.', lambda s: [s.call('POST', '/hooks', EMBER, {'url': 'http://127.0.0.1:9/'}).st for _ in range(6)] == [201] * 4 + [429] * 2)
T('hooks-limit-off-by-one', LI, 'quotas', 'rows of hook', 'create hook', 'A fifth hook is made.', lambda s: [s.call('POST', '/hooks', EMBER, {'url': 'http://127.0.0.1:9/'}).st for _ in range(5)] == [201] * 4 + [429])
T('offers-unlimited', LI, 'quotas', 'rows of ware', 'create ware', 'There is no end to offered wares.', lambda s: wares(s, 17)[-1].ref(429, 'USED_UP'))
T('offers-limit-off-by-one', LI, 'quotas', 'rows of ware', 'create ware', 'A sixteenth ware may be offered.', lambda s: [a.st for a in wares(s, 16)] == [201] * 15 + [429])
T('offers-count-ended', LI, 'quotas', 'rows of ware', 'create ware', 'Wares that are offered no more count as well.', lambda s: (lambda a: (s.act(a[0].j, 'withdraw', key=WREN), post_ware(s).st == 201)[1])(wares(s, 15)))
def day(s, n, key=WREN):
    h = s.now().hour
    s.adv('PT%dH' % (24 - h + 1)); f = s.firing(lights_at=s.at(days=9))['id']; out = []
    for _ in range(n):
        a = s.call('POST', '/wares', key, s.wbody(f)); out.append(a)
        if a.st == 201: s.act(a.j, 'withdraw', key=key)
    return f, out
T('quota-off-by-one', LI, 'quotas', 'service', 'create ware', 'A sixty-first ware of a day is taken.', lambda s: [a.st for a in day(s, 61)[1]] == [201] * 60 + [429])
T('quota-missing', LI, 'quotas', 'service', 'create ware', 'The quota is not kept.', lambda s: day(s, 62)[1][-1].ref(429, 'USED_UP'))
T('quota-never-resets', LI, 'quotas', 'service', 'create ware', 'What was used stays used on the next day.', lambda s: (day(s, 60), s.adv('P1D'), post_ware(s).st == 201)[2])
T('quota-over-all-potters', LI, 'quotas', 'service', 'create ware', 'All potters use one quota.', lambda s: (lambda x: s.call('POST', '/wares', MOSS, s.wbody(x[0])).st == 201)(day(s, 60)))
# ---- versioning
T('old-rename-forgotten', VE, 'version identifiers', 'service', 'read ware', 'The old edition calls litres litres.', lambda s: s.get('/wares/%d' % s.ware()['id'], **OLD).j.get('volume') == 10)
T('old-fuel-not-mapped', VE, 'version identifiers', 'service', 'read kiln', 'The old edition calls electric electric.', lambda s: s.get('/kilns/' + s.kiln()['code'], **OLD).j['fuel'] == 'mains')
T('old-has-happenings', VE, 'version identifiers', 'service', 'list happening', 'The old edition has the log too.', lambda s: s.get('/happenings', **OLD).ref(404, 'NO_SUCH_PATH'))
T('spots-in-new-words', VE, 'version identifiers', 'service', 'create ware', 'What is wrong is told in the names of the newest edition.', lambda s: s.call('POST', '/wares', WREN, {'firing': s.firing()['id'], 'title': 'Jug', 'volume': 0, 'clay': 'stoneware'}, **OLD).j['fault']['spots'][0]['path'] == 'volume')
T('hooks-always-new-edition', VE, 'version identifiers', 'service', 'create hook', 'A hook of the old edition is told in the newest.', lambda s: 'volume' in heard(s, lambda s: s.ware(), 1, kinds=['ware.*'], **OLD)[0][2]['body'])
T('default-oldest', VE, 'version selection', 'service', 'read ware', 'Who names no edition is given the oldest.', lambda s: 'volume' not in s.get('/wares/%d' % s.ware()['id']).j if s.get('/kilns/YD01').h['Saggar-Edition'] == '2026-04' else False)
T('unknown-edition-passes', VE, 'version selection', 'service', 'read kiln', 'An unknown edition is taken for the current one.', lambda s: s.get('/kilns/YD01', Saggar_Edition='2031-01').ref(400, 'EDITION_UNKNOWN'))
T('edition-header-missing', VE, 'version selection', 'service', 'read kiln', 'Answers do not name their edition.', lambda s: s.get('/kilns/YD01').h['Saggar-Edition'] == '2026-04')
T('edition-not-in-vary', VE, 'version selection', 'service', 'read kiln', 'Vary does not name the header of the edition.', lambda s: 'Saggar-Edition' in s.get('/kilns/YD01').h['Vary'])
T('deprecation-missing', VE, 'deprecation rules', '2025-09', 'read kiln', 'The old edition is not said to be deprecated.', lambda s: 'Deprecation' in s.get('/kilns/YD01', **OLD).h)
T('deprecation-not-structured', VE, 'deprecation rules', '2025-09', 'read kiln', 'Deprecation says true and not when.', lambda s: s.get('/kilns/YD01', **OLD).h['Deprecation'] == '@1780272000')
T('sunset-header-missing', VE, 'deprecation rules', '2025-09', 'read kiln', 'The old edition does not say when it ends.', lambda s: s.get('/kilns/YD01', **OLD).h['Sunset'] == 'Sun, 01 Aug 2027 00:00:00 GMT')
T('sunset-a-year-late', VE, 'deprecation rules', '2025-09', 'read kiln', 'Sunset tells a time a year later.', lambda s: s.get('/kilns/YD01', **OLD).h['Sunset'] == 'Sun, 01 Aug 2027 00:00:00 GMT')
T('successor-link-missing', VE, 'deprecation rules', '2025-09', 'read kiln', 'Link does not lead to the successor.', lambda s: 'successor-version' in s.get('/kilns/YD01', **OLD).h['Link'])
T('sunset-not-kept', VE, 'deprecation rules', '2025-09', 'read kiln', 'The old edition is served after its end.', lambda s: (s.clock({'now': '2027-08-01T00:00:01Z'}), s.get('/kilns/YD01', **OLD).ref(410, 'EDITION_OVER'))[1])

CALLERS = [dict(user=u, id=i, credential=c, scheme='key', scopes=sc, attributes={'guild': g}) for u, i, c, sc, g in [
    ('potter', 'wren', WREN, [], 'north'), ('potter', 'moss', MOSS, [], 'north'), ('potter', 'teal', TEAL, [], 'south'),
    ('stoker', 'ember', EMBER, ['kilns', 'log'], 'yard'), ('stoker', 'ash', ASH, [], 'yard')]] + [
    dict(user='stoker', id='ember', credential='ember:glow-of-1280', scheme='login', scopes=['kilns', 'log'], attributes={'guild': 'yard'}),
    dict(user='potter', id='wren', credential='wren:mud-and-feathers', scheme='login', scopes=[], attributes={'guild': 'north'})]
def write():
    json.dump({'command': ['python3', 'service.py'], 'document': 'service.yaml', 'callers': CALLERS, 'faults': [t for t, _ in TABLE]}, open(os.path.join(HERE, 'stranger.json'), 'w'), indent=1)
def run(fn, fault=None):
    s = S(fault)
    try:
        if s.call('GET', '/about').st != 200: return 'no service'
        try: return bool(fn(s))
        except (AssertionError, KeyError, IndexError, TypeError, AttributeError) as e: return 'raised %r' % (e,)
    finally: s.stop()
if __name__ == '__main__':
    ids = [a for a in sys.argv[1:] if not a.startswith('-')]
    if '--write' in sys.argv: write()
    assert len({t['id'] for t, _ in TABLE}) == len(TABLE)
    src = open(os.path.join(HERE, 'service.py')).read()
    shown, bad = 0, []
    for t, fn in TABLE:
        if ids and t['id'] not in ids: continue
        a, b = run(fn), run(fn, t['id'])
        if a is True and b is not True and b != 'no service': shown += 1; ok = 'shown'
        else: bad.append(t['id']); ok = 'NOT SHOWN'
        print('%-9s %-32s right: %s, faulty: %s' % (ok, t['id'], a, b), flush=True)
    print('%d faults, %d shown, not shown: %s' % (len(ids) or len(TABLE), shown, bad))
