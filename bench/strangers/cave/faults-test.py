"""Shows each fault: python3 faults-test.py [ID ...] [--write]   (--write makes stranger.json anew)"""
import hashlib
import hmac
import http.server
import json
import socket
import sys
import threading
import time

from probe import PEOPLE, S

FAULTS = []


def fault(id, part, kind, subject, operation, bug):
    def mark(test):
        FAULTS.append(({'id': id, 'part': part, 'kind': kind, 'subject': subject, 'operation': operation, 'bug': bug}, test))
        return test
    return mark


def cave(s, code='LOW1', **k):
    return s('greta', 'POST', '/caves', dict({'code': code, 'name': 'Low cave', 'shelves': 5}, **k))


def recipe(s, slug='tomme', **k):
    return s('greta', 'PUT', '/recipes/' + slug, dict({'title': 'Tomme', 'milk': 'cow', 'days': 10}, **k))


def wheel(s, who='odile', code='LOW1', q='', **k):
    return s(who, 'POST', '/caves/%s/wheels%s' % (code, q), dict({'recipe': 'tomme', 'weight_g': 2000, 'made_on': '2026-11-01'}, **k))


def young(s, who='odile', **k):
    """A wheel at rest: its id."""
    if s('greta', 'GET', '/caves/LOW1').status == 404:
        cave(s)
    if s('greta', 'GET', '/recipes/tomme').status == 404:
        recipe(s)
    return wheel(s, who, **k).doc['wheel']['id']


def laid(s, who='odile', **k):
    i = young(s, who, **k)
    assert s('greta', 'POST', '/wheels/%s/lay' % i).status == 200
    return i


def ripe(s, n=1, who='odile', days=10):
    out = [laid(s, who) for _ in range(n)]
    s.clock(advance='P%dD' % days)
    return out if n > 1 else out[0]


def pick(s, wheels, day='2026-12-20', who='odile', key=None, q='', **k):
    return s(who, 'POST', '/pickups' + q, dict({'day': day, 'pin': '1234', 'lines': [{'wheel': w} for w in wheels]}, **k),
             {'Once-Key': key or '%s-%f' % (day, time.time())})


def taste(s, w, who='miren', **k):
    return s(who, 'POST', '/wheels/%s/tastings' % w, {'tasting': dict({'score': 7}, **k)})


def get(s, w, who='greta'):
    return s(who, 'GET', '/wheels/' + w).doc['wheel']


def patch(s, who, w, **k):
    r = s(who, 'GET', '/wheels/' + w)
    return s(who, 'PATCH', '/wheels/' + w, k, {'If-Match': r.headers['ETag'] or '*'})


class Ear:
    """Somebody who listens to web hooks."""
    def __init__(self, answers=()):
        self.heard, ear, answers = [], self, list(answers)

        class H(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                ear.heard.append((dict(self.headers), body))
                a = answers.pop(0) if len(answers) > 1 else answers[0] if answers else 200
                self.send_response(a)
                if a == 302:
                    self.send_header('Location', '/elsewhere')
                self.send_header('Content-Length', '0')
                self.end_headers()

            def log_message(self, *a):
                pass
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = 'http://127.0.0.1:%d/in' % self.server.server_port

    def docs(self, n=1, wait=2.0):
        end = time.time() + wait
        while len(self.heard) < n and time.time() < end:
            time.sleep(0.02)
        time.sleep(0.15)
        return [json.loads(b) for _, b in self.heard]


def hook(s, ear, who='greta', q='', **k):
    return s(who, 'POST', '/hooks' + q, dict({'url': ear.url}, **k)).doc['hook']


def entries(s, kind=None):
    return s('greta', 'GET', '/entries?per=50' + ('&kind=' + kind if kind else '')).doc['rows']


# -- purpose
@fault('no-base', 'purpose', 'base address', 'service', 'list recipe', 'Recipes are also answered without the /api prefix of the base address.')
def t(s):
    return s(None, 'GET', '/recipes', base='').status == 404 and s(None, 'GET', '/recipes').status == 200


@fault('taster-locked', 'purpose', 'users', 'service', 'list cave', 'A taster is refused the list of caves as if no rule were for tasters.')
def t(s):
    return s('miren', 'GET', '/caves').status == 200


@fault('offer-lost', 'purpose', 'functions', 'service', 'offer recipe', 'The route that offers a withdrawn recipe again was lost, so keepers of recipes cannot do it.')
def t(s):
    recipe(s)
    s('greta', 'POST', '/recipes/tomme/withdraw')
    return s('greta', 'POST', '/recipes/tomme/offer').status == 200


# -- resources
@fault('no-default-temp', 'resources', 'allowed values', 'cave.temp_c', 'create cave', 'A cave without a stated temperature begins at 12 degrees rather than 11.')
def t(s):
    return cave(s).doc['cave']['temp_c'] == 11


@fault('name-long', 'resources', 'allowed values', 'cave.name', 'create cave', 'Off by one: a name of 41 characters is taken.')
def t(s):
    return cave(s, name='n' * 41).status == 422 and cave(s, name='n' * 40).status == 201


@fault('made-on-loose', 'resources', 'formats', 'wheel.made_on', 'create wheel', 'A date is checked by its digits alone, so the 31st of February is taken.')
def t(s):
    young(s)
    return wheel(s, made_on='2026-02-31').status == 422


@fault('marks-twice', 'resources', 'allowed values', 'wheel.marks', 'create wheel', 'The same mark may stand twice on a wheel.')
def t(s):
    young(s)
    return wheel(s, marks=['a', 'a']).status == 422


@fault('code-quiet', 'resources', 'allowed values', 'cave.code', 'update cave', 'Another code for a cave is quietly passed over instead of refused.')
def t(s):
    cave(s)
    return s('greta', 'PATCH', '/caves/LOW1', {'code': 'LOW2'}).status == 422 and s('greta', 'PATCH', '/caves/LOW1', {'code': 'LOW1'}).status == 200


@fault('number-over-all', 'resources', 'allowed values', 'wheel.number', 'create wheel', 'Wheels are numbered over all caves rather than within each.')
def t(s):
    young(s)
    cave(s, 'TOP1')
    return wheel(s, code='TOP1').doc['wheel']['number'] == 1


@fault('batch-twice', 'resources', 'allowed values', 'wheel.batch', 'create wheel', 'A house may use the same batch for two wheels.')
def t(s):
    young(s, batch='b1')
    return wheel(s, batch='b1').status == 409 and wheel(s, 'salka', batch='b1').status == 201


@fault('fee-shown', 'resources', 'required flags', 'wheel.fee_c', 'read wheel', 'Tasters are shown the fee of a wheel.')
def t(s):
    return 'fee_c' not in s('miren', 'GET', '/wheels/' + laid(s)).doc['wheel']


@fault('fee-stays', 'resources', 'allowed values', 'wheel.fee_c', 'update wheel', 'The fee is reckoned when the wheel comes and not anew when its weight is changed.')
def t(s):
    i = young(s)
    return patch(s, 'odile', i, weight_g=3000).doc['wheel']['fee_c'] == 300


@fault('old-line', 'resources', 'allowed values', 'label.line', 'update wheel', 'The line of a label is made once and keeps its old text when the town is changed.')
def t(s):
    i = young(s, label={'maker_name': 'O', 'town': 'Arc'})
    return patch(s, 'odile', i, label={'town': 'Brie'}).doc['wheel']['label']['line'] == 'O / Brie'


@fault('shelf-by-dairy', 'resources', 'allowed values', 'wheel.shelf_no', 'create wheel', 'A dairy can say on which shelf its wheel lies.')
def t(s):
    i = young(s, shelf_no=3)
    return 'shelf_no' not in get(s, i) and patch(s, 'greta', i, shelf_no=4).doc['wheel']['shelf_no'] == 4


@fault('best-of-all', 'resources', 'allowed values', 'wheel.best', 'read wheel', 'The best score counts tastings that are not signed.')
def t(s):
    i = laid(s)
    taste(s, i, score=19)
    return 'best' not in get(s, i)


@fault('room-forgets-claimed', 'resources', 'allowed values', 'cave.room', 'read cave', 'Wheels that are claimed by a pickup are taken for gone when the room of a cave is reckoned.')
def t(s):
    pick(s, [ripe(s)])
    return s('greta', 'GET', '/caves/LOW1').doc['cave']['room'] == 4


@fault('turning-unruled', 'resources', 'allowed values', 'recipe.turn_every_h', 'upsert recipe', 'A recipe may turn a wheel less often than once in its ripening.')
def t(s):
    return recipe(s, days=1, turn_every_h=25).status == 422 and recipe(s, days=1, turn_every_h=24).status == 201


@fault('words-once', 'resources', 'allowed values', 'tasting.words', 'update tasting', 'That a harsh score needs words is asked at the creation alone.')
def t(s):
    r = taste(s, laid(s))
    return s('miren', 'PATCH', '/tastings/' + r.doc['tasting']['id'], {'score': 1}).status == 422


@fault('token-again', 'resources', 'required flags', 'pickup.token', 'read pickup', 'The token of a pickup is shown whenever it is read.')
def t(s):
    p = pick(s, [ripe(s)]).doc['pickup']
    return 'token' in p and 'token' not in s('odile', 'GET', '/pickups/%d' % p['id']).doc['pickup']


@fault('pin-shown', 'resources', 'required flags', 'pickup.pin', 'create pickup', 'The answer to the booking repeats the pin, which is write-only.')
def t(s):
    return 'pin' not in pick(s, [ripe(s)]).doc['pickup']


@fault('seven-lines', 'resources', 'allowed values', 'pickup.lines', 'create pickup', 'Seven wheels fit into one pickup.')
def t(s):
    ws = ripe(s, 5)
    return pick(s, ws + ['x', 'y']).code == 'unfit' and pick(s, ws + ['x']).code == 'dangling'


@fault('ready-day', 'resources', 'allowed values', 'pickup.day', 'create pickup', 'A pickup that is ready no longer holds its day.')
def t(s):
    a, b = ripe(s, 2)
    p = pick(s, [a]).doc['pickup']['id']
    s('greta', 'POST', '/pickups/%d/prepare' % p)
    return pick(s, [b]).status == 409


@fault('stamp-always', 'resources', 'allowed values', 'wheel.updated_at', 'update wheel', 'A patch that changes nothing moves updated_at.')
def t(s):
    i = young(s)
    before = get(s, i)['updated_at']
    s.clock(advance='PT1M')
    return patch(s, 'odile', i, weight_g=2000).doc['wheel']['updated_at'] == before


@fault('put-keeper', 'resources', 'allowed values', 'recipe.keeper', 'upsert recipe', 'Who replaces a recipe becomes its keeper.')
def t(s):
    recipe(s)
    return s('anton', 'PUT', '/recipes/tomme', {'title': 'T', 'milk': 'cow', 'days': 9}).doc['recipe']['keeper'] == 'greta'


@fault('bin-forever', 'resources', 'resources', 'service', 'read recipe', 'Recipes that were deleted are kept in the bin for ever.')
def t(s):
    recipe(s)
    s('greta', 'DELETE', '/recipes/tomme')
    a = s('greta', 'GET', '/recipes/tomme').status
    s.clock(advance='P20DT1M')
    return (a, s('greta', 'GET', '/recipes/tomme').status) == (410, 404)


@fault('recipe-let-go', 'resources', 'allowed values', 'wheel.recipe', 'delete recipe', 'A recipe can be deleted while wheels refer to it.')
def t(s):
    young(s)
    return s('greta', 'DELETE', '/recipes/tomme').status == 409


@fault('label-stays', 'resources', 'required flags', 'wheel.label', 'update wheel', 'Null for the label leaves it where it is.')
def t(s):
    i = young(s, label={'maker_name': 'O', 'town': 'Arc'})
    return 'label' not in patch(s, 'odile', i, label=None).doc['wheel']


# -- states
@fault('one-too-many', 'states', 'transitions', 'wheel.stage', 'lay wheel', 'A cave takes one wheel more than it has shelves.')
def t(s):
    cave(s, shelves=1)
    laid(s)
    return s('greta', 'POST', '/wheels/%s/lay' % young(s)).code == 'cave_full'


@fault('claim-held', 'states', 'transitions', 'wheel.stage', 'claim wheel', 'A wheel that is held back can be claimed by a pickup.')
def t(s):
    i = ripe(s)
    s('greta', 'POST', '/wheels/%s/hold' % i)
    return pick(s, [i]).code == 'wheel_held' and get(s, i)['stage'] == 'ripe'


@fault('condemn-claimed', 'states', 'transitions', 'wheel.stage', 'condemn wheel', 'A wheel that a pickup has claimed can still be condemned.')
def t(s):
    i = ripe(s)
    pick(s, [i])
    return s('greta!', 'POST', '/wheels/%s/condemn' % i, {'reason': 'mites'}).code == 'wrong_moment'


@fault('lapse-late', 'states', 'transitions', 'pickup', 'lapse pickup', 'A pickup lapses after 48 hours instead of 36.')
def t(s):
    p = pick(s, [ripe(s)]).doc['pickup']['id']
    s.clock(advance='PT35H')
    a = s('odile', 'GET', '/pickups/%d' % p).doc['pickup']['state']
    s.clock(advance='PT1H1M')
    return a == 'booked' and s('odile', 'GET', '/pickups/%d' % p).doc['pickup']['state'] == 'lapsed'


@fault('lapse-keeps', 'states', 'transitions', 'pickup', 'lapse pickup', 'The wheels of a pickup that lapsed stay claimed.')
def t(s):
    i = ripe(s)
    pick(s, [i])
    s.clock(advance='PT37H')
    return get(s, i)['stage'] == 'ripe'


@fault('first-line-only', 'states', 'transitions', 'pickup', 'collect pickup', 'Of a pickup that is collected the first wheel alone leaves.')
def t(s):
    ws = ripe(s, 2)
    p = pick(s, ws).doc['pickup']['id']
    s('greta', 'POST', '/pickups/%d/prepare' % p)
    r = s('greta', 'POST', '/pickups/%d/collect' % p, {'pin': '1234'})
    return r.status == 200 and [get(s, w)['stage'] for w in ws] == ['gone', 'gone']


@fault('any-pin', 'states', 'transitions', 'pickup', 'collect pickup', 'Any pin of four digits collects a pickup.')
def t(s):
    p = pick(s, [ripe(s)]).doc['pickup']['id']
    s('greta', 'POST', '/pickups/%d/prepare' % p)
    return s('greta', 'POST', '/pickups/%d/collect' % p, {'pin': '9999'}).code == 'wrong_pin'


@fault('cancel-booked-only', 'states', 'transitions', 'pickup', 'cancel pickup', 'A pickup that is ready can no longer be cancelled.')
def t(s):
    p = pick(s, [ripe(s)]).doc['pickup']['id']
    s('greta', 'POST', '/pickups/%d/prepare' % p)
    return s('odile', 'POST', '/pickups/%d/cancel' % p).status == 200


@fault('no-spoil-again', 'states', 'transitions', 'wheel.stage', 'spoil wheel', 'A wheel that was claimed and let go again never spoils.')
def t(s):
    i = ripe(s)
    p = pick(s, [i]).doc['pickup']['id']
    s('odile', 'POST', '/pickups/%d/cancel' % p)
    s.clock(advance='P59D')
    a = get(s, i)['stage']
    s.clock(advance='P1DT1H')
    return (a, get(s, i)['stage']) == ('ripe', 'condemned')


@fault('drafts-stay', 'states', 'transitions', 'wheel.stage', 'condemn wheel', 'Drafts of tastings of a condemned wheel stay drafts.')
def t(s):
    i = laid(s)
    r = taste(s, i).doc['tasting']['id']
    s('greta!', 'POST', '/wheels/%s/condemn' % i, {'reason': 'mites'})
    return s('miren', 'GET', '/tastings/' + r).doc['tasting']['verdict'] == 'void'


@fault('harsh-six', 'states', 'transitions', 'tasting', 'sign tasting', 'A score of 5 is disputed too.')
def t(s):
    r = taste(s, laid(s), score=5).doc['tasting']['id']
    return s('miren', 'POST', '/tastings/%s/sign' % r).doc.get('tasting', {}).get('verdict') == 'signed'


@fault('reopen-warm', 'states', 'transitions', 'cave', 'update cave', 'A cave that is warmed above 14 degrees by the same patch is opened all the same.')
def t(s):
    cave(s)
    s('greta', 'PATCH', '/caves/LOW1', {'door': 'shut'})
    return s('greta', 'PATCH', '/caves/LOW1', {'door': 'open', 'temp_c': 15}).code == 'too_warm'


@fault('door-only', 'states', 'transitions', 'cave', 'update cave', 'What is sent beside the door is lost when the door moves.')
def t(s):
    cave(s)
    r = s('greta', 'PATCH', '/caves/LOW1', {'door': 'shut', 'name': 'Other'}).doc['cave']
    return (r['door'], r['name']) == ('shut', 'Other')


@fault('update-ripe', 'states', 'states', 'wheel.stage', 'update wheel', 'A wheel that is ripe can still be updated.')
def t(s):
    return patch(s, 'odile', ripe(s), weight_g=3000).code == 'wrong_moment'


@fault('unbin-withdrawn', 'states', 'transitions', 'recipe', 'unbin recipe', 'A recipe out of the bin comes back withdrawn.')
def t(s):
    recipe(s)
    s('greta', 'DELETE', '/recipes/tomme')
    return s('greta', 'POST', '/recipes/tomme/unbin').doc['recipe']['shelf'] == 'offered'


@fault('put-shelf', 'states', 'states', 'recipe', 'upsert recipe', 'Replacing a withdrawn recipe offers it again.')
def t(s):
    recipe(s)
    s('greta', 'POST', '/recipes/tomme/withdraw')
    return recipe(s, days=9).doc['recipe']['shelf'] == 'withdrawn'


@fault('delete-signed', 'states', 'states', 'tasting', 'delete tasting', 'A signed tasting can be deleted.')
def t(s):
    r = taste(s, laid(s)).doc['tasting']['id']
    s('miren', 'POST', '/tastings/%s/sign' % r)
    return s('miren', 'DELETE', '/tastings/' + r).code == 'wrong_moment'


# -- endpoints
@fault('put-merges', 'endpoints', 'request payload shapes', 'PUT /recipes/{slug}', 'upsert recipe', 'A replacement that leaves turn_every_h out keeps the old one.')
def t(s):
    recipe(s, turn_every_h=12)
    return 'turn_every_h' not in recipe(s).doc['recipe']


@fault('put-200', 'endpoints', 'response payload shapes', 'PUT /recipes/{slug}', 'upsert recipe', 'A put that makes a recipe is answered with 200.')
def t(s):
    return recipe(s).status == 201 and recipe(s, days=8).status == 200


@fault('wash-any', 'endpoints', 'parameters', 'GET /recipes', 'list recipe', 'The filter wash finds recipes that have any of the washes rather than all.')
def t(s):
    recipe(s, washes=['brine', 'marc'])
    recipe(s, 'cidre', washes=['brine'])
    return len(s(None, 'GET', '/recipes?wash=brine,marc').doc['rows']) == 1


@fault('title-any-case', 'endpoints', 'parameters', 'GET /recipes', 'list recipe', 'The filter title does not mind case.')
def t(s):
    recipe(s)
    return not s(None, 'GET', '/recipes?title=tOM').doc['rows'] and s(None, 'GET', '/recipes?title=omm').doc['rows']


@fault('first-stage', 'endpoints', 'parameters', 'GET /wheels', 'list wheel', 'Of several stages in one parameter the first alone counts.')
def t(s):
    young(s), laid(s)
    return len(s('greta', 'GET', '/wheels?stage=resting,ripening').doc['rows']) == 2


@fault('town-case', 'endpoints', 'parameters', 'GET /wheels', 'list wheel', 'The filter town minds case.')
def t(s):
    young(s, label={'maker_name': 'O', 'town': 'Arc'})
    return len(s('greta', 'GET', '/wheels?town=aRC').doc['rows']) == 1


@fault('fetch-held', 'endpoints', 'parameters', 'GET /wheels', 'list wheel', 'The filter fetchable also keeps ripe wheels that are held back.')
def t(s):
    i, j = ripe(s, 2)
    s('greta', 'POST', '/wheels/%s/hold' % i)
    return [r['id'] for r in s('greta', 'GET', '/wheels?fetchable=true').doc['rows']] == [j]


@fault('way-bare', 'endpoints', 'parameters', 'GET /wheels', 'list wheel', 'The parameter way turns a stated sort alone, and not the order that the list has by itself.')
def t(s):
    young(s, made_on='2026-11-01'), young(s, made_on='2026-11-02')
    return [r['made_on'] for r in s('greta', 'GET', '/wheels?way=desc').doc['rows']] == ['2026-11-01', '2026-11-02']


@fault('ties-oldest', 'endpoints', 'response payload shapes', 'GET /wheels', 'list wheel', 'Wheels of one day are listed with the oldest first.')
def t(s):
    i, j = young(s), young(s)
    return [r['id'] for r in s('greta', 'GET', '/wheels').doc['rows']] == [j, i]


@fault('room-above', 'endpoints', 'parameters', 'GET /caves', 'list cave', 'The filter room finds caves with more room than asked for, and not those with as much.')
def t(s):
    cave(s)
    return len(s('greta', 'GET', '/caves?room=5').doc['rows']) == 1


@fault('to-day-open', 'endpoints', 'parameters', 'GET /pickups', 'list pickup', 'The end of a range of days is left out of it.')
def t(s):
    pick(s, [ripe(s)])
    return len(s('odile', 'GET', '/pickups?to_day=2026-12-20').doc['rows']) == 1


@fault('loose-query', 'endpoints', 'parameters', 'GET /hooks', 'list hook', 'Parameters that a list does not have are passed over.')
def t(s):
    return s('odile', 'GET', '/hooks?url=x').status == 400


@fault('only-id', 'endpoints', 'response payload shapes', 'GET /tastings', 'list tasting', 'Chosen fields come without the identifier.')
def t(s):
    taste(s, laid(s))
    return set(s('miren', 'GET', '/tastings?only=score').doc['rows'][0]) == {'id', 'score'}


@fault('only-any', 'endpoints', 'parameters', 'GET /tastings', 'list tasting', 'A dairy may choose fields that it is never shown, and gets rows without them instead of a refusal.')
def t(s):
    return s('odile', 'GET', '/tastings?only=words').status == 400 and s('odile', 'GET', '/tastings?only=score').status == 200


@fault('exists-201', 'endpoints', 'response payload shapes', 'POST /wheels/{wheel}/tastings', 'create tasting', 'A second tasting of the same wheel answers with the first one, and 201.')
def t(s):
    i = laid(s)
    a, b = taste(s, i), taste(s, i, score=9)
    return (a.status, b.status) == (201, 200) and a.doc == b.doc


@fault('tag-of-stamp', 'endpoints', 'response payload shapes', 'GET /wheels/{id}', 'read wheel', 'The tag of a wheel follows updated_at alone, so it stays when a tasting changes what is shown.')
def t(s):
    i = laid(s)
    a = s('greta', 'GET', '/wheels/' + i).headers['ETag']
    taste(s, i)
    return a != s('greta', 'GET', '/wheels/' + i).headers['ETag']


@fault('tag-optional', 'endpoints', 'request payload shapes', 'PATCH /wheels/{id}', 'update wheel', 'A wheel can be updated without If-Match.')
def t(s):
    return s('odile', 'PATCH', '/wheels/' + young(s), {'weight_g': 3000}).status == 428


@fault('if-match-cave', 'endpoints', 'request payload shapes', 'PATCH /caves/{code}', 'update cave', 'A tag that is sent with a patch of a cave is not looked at.')
def t(s):
    cave(s)
    return s('greta', 'PATCH', '/caves/LOW1', {'name': 'Other'}, {'If-Match': '"old"'}).status == 412


@fault('no-304', 'endpoints', 'response payload shapes', 'GET /caves/{code}/wheels/{number}', 'numbered wheel', 'If-None-Match is not looked at where a wheel is read by its number.')
def t(s):
    young(s)
    r = s('greta', 'GET', '/caves/LOW1/wheels/1')
    return s('greta', 'GET', '/caves/LOW1/wheels/1', headers={'If-None-Match': r.headers['ETag']}).status == 304


@fault('once-no-body', 'endpoints', 'request payload shapes', 'POST /caves/{code}/wheels', 'create wheel', 'A key that comes again with another body is answered with the first wheel.')
def t(s):
    young(s)
    go = lambda g: s('odile', 'POST', '/caves/LOW1/wheels', {'recipe': 'tomme', 'weight_g': g, 'made_on': '2026-11-01'}, {'Once-Key': 'k'})
    return go(1000).status == 201 and go(1000).status == 201 and go(1500).code == 'key_reused'


@fault('once-shared', 'endpoints', 'request payload shapes', 'POST /caves/{code}/wheels', 'create wheel', 'Keys are not kept apart by caller, so another dairy is answered with a wheel that is not its own.')
def t(s):
    young(s)
    go = lambda w: s(w, 'POST', '/caves/LOW1/wheels', {'recipe': 'tomme', 'weight_g': 900, 'made_on': '2026-11-01'}, {'Once-Key': 'k'})
    return go('odile').doc['wheel']['id'] != go('salka').doc['wheel']['id']


@fault('once-token', 'endpoints', 'response payload shapes', 'POST /pickups', 'create pickup', 'What is answered again under a key shows the token again.')
def t(s):
    i = ripe(s)
    a, b = pick(s, [i], key='k'), pick(s, [i], key='k')
    return 'token' in a.doc['pickup'] and b.status == 201 and 'token' not in b.doc['pickup']


@fault('once-13h', 'endpoints', 'request payload shapes', 'POST /caves/{code}/wheels', 'create wheel', 'Keys are kept for an hour longer than stated.')
def t(s):
    young(s)
    go = lambda: s('odile', 'POST', '/caves/LOW1/wheels', {'recipe': 'tomme', 'weight_g': 900, 'made_on': '2026-11-01'}, {'Once-Key': 'k'}).doc['wheel']['id']
    a = go()
    s.clock(advance='PT12H10M')
    return a != go()


@fault('key-optional', 'endpoints', 'request payload shapes', 'POST /pickups', 'create pickup', 'A pickup can be booked without the key that is required.')
def t(s):
    return s('odile', 'POST', '/pickups', {'day': '2026-12-20', 'pin': '1234', 'lines': [{'wheel': ripe(s)}]}).status == 400


@fault('location-base', 'endpoints', 'response payload shapes', 'POST /caves/{code}/wheels', 'create wheel', 'The Location of a new wheel lacks the base path.')
def t(s):
    young(s)
    r = wheel(s)
    return r.headers['Location'] == '/api/wheels/' + r.doc['wheel']['id']


@fault('line-foreign', 'endpoints', 'request payload shapes', 'POST /pickups', 'create pickup', 'A dairy can book the wheel of another house.')
def t(s):
    return pick(s, [ripe(s)], who='salka').code == 'dangling'


@fault('no-merge-type', 'endpoints', 'request payload shapes', 'PATCH /hooks/{id}', 'update hook', 'A merge patch under its own media type is refused.')
def t(s):
    s('odile', 'POST', '/hooks', {'url': 'http://127.0.0.1:9/x'})
    return s('odile', 'PATCH', '/hooks/1', {'live': False}, {'Content-Type': 'application/merge-patch+json'}).status == 200


@fault('reason-short', 'endpoints', 'request payload shapes', 'POST /wheels/{id}/condemn', 'condemn wheel', 'A reason of two letters is enough to condemn a wheel.')
def t(s):
    i = young(s)
    return s('greta!', 'POST', '/wheels/%s/condemn' % i, {'reason': 'no'}).status == 422


# -- authentication
@fault('mate-updates', 'authentication', 'permission rules', 'update wheel', 'update wheel', 'Anybody of the house can change a wheel, not its maker alone.')
def t(s):
    return patch(s, 'bruno', young(s), weight_g=2100).code == 'not_for_you'


@fault('mate-deletes', 'authentication', 'permission rules', 'delete wheel', 'delete wheel', 'Anybody of the house can delete a wheel.')
def t(s):
    return s('bruno', 'DELETE', '/wheels/' + young(s)).status == 403


@fault('scope-ignored', 'authentication', 'permission rules', 'create wheel', 'create wheel', 'A dairy whose key lacks the scope can bring a wheel.')
def t(s):
    young(s)
    return wheel(s, 'bruno').code == 'lacks_scope'


@fault('words-shown', 'authentication', 'permission rules', 'read tasting', 'read tasting', 'A dairy is shown the words of a tasting.')
def t(s):
    i = laid(s)
    r = taste(s, i, words='fine').doc['tasting']['id']
    s('miren', 'POST', '/tastings/%s/sign' % r)
    return set(s('odile', 'GET', '/tastings/' + r).doc['tasting']) == {'id', 'wheel', 'score', 'verdict'}


@fault('other-drafts', 'authentication', 'permission rules', 'list tasting', 'list tasting', 'Tasters see the drafts of other tasters.')
def t(s):
    taste(s, laid(s))
    return s('yorick', 'GET', '/tastings').doc['rows'] == []


@fault('draft-told', 'authentication', 'permission rules', 'read tasting', 'read tasting', 'A draft of somebody else is forbidden instead of missing, which tells that it is there.')
def t(s):
    r = taste(s, laid(s)).doc['tasting']['id']
    return s('yorick', 'GET', '/tastings/' + r).status == 404


@fault('taster-sees-resting', 'authentication', 'permission rules', 'read wheel', 'read wheel', 'Tasters can read wheels that are not laid yet, and those that are gone.')
def t(s):
    return s('miren', 'GET', '/wheels/' + young(s)).status == 404


@fault('foreign-pickup', 'authentication', 'permission rules', 'read pickup', 'read pickup', 'A dairy can read the pickups of other houses.')
def t(s):
    p = pick(s, [ripe(s)]).doc['pickup']['id']
    return s('salka', 'GET', '/pickups/%d' % p).status == 404


@fault('house-list', 'authentication', 'permission rules', 'wheels of cave', 'wheels of cave', 'The list of the wheels of a cave shows those of all houses.')
def t(s):
    young(s)
    return s('salka', 'GET', '/caves/LOW1/wheels').doc['rows'] == []


@fault('hook-owner-any', 'authentication', 'permission rules', 'read hook', 'read hook', 'Everybody can read everybody\'s hooks.')
def t(s):
    s('odile', 'POST', '/hooks', {'url': 'http://127.0.0.1:9/x'})
    return s('bruno', 'GET', '/hooks/1').status == 404


@fault('condemn-key', 'authentication', 'permission rules', 'condemn wheel', 'condemn wheel', 'A wheel can be condemned with a key instead of a badge.')
def t(s):
    return s('greta', 'POST', '/wheels/%s/condemn' % young(s), {'reason': 'mites'}).status == 401


@fault('two-callers', 'authentication', 'schemes', 'service', 'list cave', 'A key and a badge of two different people are taken together.')
def t(s):
    return s('greta', 'GET', '/caves', headers={'Authorization': 'Badge bdg-b81e6620f94dca0357e9'}).status == 401 and s('greta!', 'GET', '/caves').status == 200


@fault('badge-case', 'authentication', 'token formats', 'badge', 'list cave', 'The prefix of a badge is read in one case alone.')
def t(s):
    return s(None, 'GET', '/caves', headers={'Authorization': 'badge bdg-b81e6620f94dca0357e9'}).status == 200


@fault('bad-key-anonymous', 'authentication', 'schemes', 'service', 'list recipe', 'A key that is no good is taken for none where anyone may list.')
def t(s):
    return s(None, 'GET', '/recipes', headers={'X-Cave-Key': 'nonsense'}).status == 401


@fault('attribute-lost', 'authentication', 'permission rules', 'list wheel', 'list wheel', 'One key carries the house of somebody else.')
def t(s):
    i = young(s)
    return [r['id'] for r in s('bruno', 'GET', '/wheels').doc['rows']] == [i]


# -- events
@fault('spoil-untold', 'events', 'emitting operations', 'wheel.lost', 'spoil wheel', 'A wheel that spoils by the clock is told to nobody.')
def t(s):
    ripe(s)
    s.clock(advance='P60DT1M')
    return len(entries(s, 'wheel.lost')) == 1


@fault('cancel-untold', 'events', 'emitting operations', 'pickup.over', 'cancel pickup', 'A cancelled pickup is told to nobody.')
def t(s):
    p = pick(s, [ripe(s)]).doc['pickup']['id']
    s('odile', 'POST', '/pickups/%d/cancel' % p)
    return len(entries(s, 'pickup.over')) == 1


@fault('reweighed-always', 'events', 'emitting operations', 'wheel.reweighed', 'update wheel', 'Any update of a wheel is told as another weight.')
def t(s):
    patch(s, 'odile', young(s), batch='b2')
    return entries(s, 'wheel.reweighed') == []


@fault('was-is', 'events', 'payload shapes', 'wheel.reweighed', 'update wheel', 'The old weight in the event is the new one.')
def t(s):
    i = young(s)
    patch(s, 'odile', i, weight_g=2500)
    return entries(s, 'wheel.reweighed')[0]['body']['row'] == {'wheel': i, 'was': 2000, 'is': 2500}


@fault('one-mark', 'events', 'emitting operations', 'wheel.marked', 'update wheel', 'Of several new marks the first alone is told.')
def t(s):
    patch(s, 'odile', young(s), marks=['a', 'b'])
    return len(entries(s, 'wheel.marked')) == 2


@fault('soon-late', 'events', 'emitting operations', 'wheel.soon', 'lay wheel', 'That a wheel will be ripe is told a day before, not two.')
def t(s):
    laid(s)
    s.clock(advance='P8DT1M')
    return len(entries(s, 'wheel.soon')) == 1


@fault('who-hill', 'events', 'kinds of event', 'service', 'list entry', 'The log says of every event that the hill brought it about.')
def t(s):
    laid(s)
    return entries(s, 'wheel.laid')[0]['who'] == 'greta'


@fault('log-forever', 'events', 'kinds of event', 'service', 'list entry', 'The log is never cleared.')
def t(s):
    laid(s)
    s.clock(advance='P7D')
    a = len(entries(s, 'wheel.laid'))
    s.clock(advance='P3DT1M')
    return (a, len(entries(s, 'wheel.laid'))) == (1, 0)


@fault('topics-ignored', 'events', 'delivery mechanism', 'service', 'create hook', 'A hook that asks for one kind is told of all kinds of the same family.')
def t(s):
    ear = Ear()
    hook(s, ear, topics=['wheel.laid'])
    i = laid(s)
    s('greta!', 'POST', '/wheels/%s/condemn' % i, {'reason': 'mites'})
    return [d['kind'] for d in ear.docs(2, 0.8)] == ['wheel.laid']


@fault('told-to-all', 'events', 'delivery mechanism', 'service', 'lay wheel', 'A hook is told of wheels that its maker may not read.')
def t(s):
    ear, mine = Ear(), Ear()
    hook(s, ear, 'salka'), hook(s, mine, 'odile')
    laid(s)
    return len(mine.docs()) == 1 and ear.docs(1, 0.2) == []


@fault('dead-hook', 'events', 'delivery mechanism', 'service', 'update hook', 'What happened while a hook was switched off is sent once it is on again.')
def t(s):
    ear = Ear()
    h = hook(s, ear)['id']
    s('greta', 'PATCH', '/hooks/%d' % h, {'live': False})
    s('greta', 'GET', '/caves')
    i = laid(s)
    s('greta', 'PATCH', '/hooks/%d' % h, {'live': True})
    s('greta!', 'POST', '/wheels/%s/condemn' % i, {'reason': 'mites'})
    return [d['kind'] for d in ear.docs(1)] == ['wheel.lost']


@fault('sign-no-id', 'events', 'delivery mechanism', 'service', 'create hook', 'The identifier is left out of what is signed.')
def t(s):
    ear = Ear()
    secret = hook(s, ear)['secret']
    laid(s)
    ear.docs()
    headers, body = ear.heard[0]
    p = dict(x.split('=', 1) for x in headers['Cave-Signature'].split(','))
    return hmac.new(secret.encode(), ('%s.%s.' % (p['n'], p['t'])).encode() + body, hashlib.sha256).hexdigest() == p['s']


@fault('no-event-header', 'events', 'delivery mechanism', 'service', 'create hook', 'The header that names the kind is not sent.')
def t(s):
    ear = Ear()
    hook(s, ear)
    laid(s)
    ear.docs()
    return ear.heard[0][0].get('X-Cave-Event') == 'wheel.laid'


@fault('new-id-each-try', 'events', 'delivery mechanism', 'service', 'create hook', 'Every try of a delivery has another identifier.')
def t(s):
    ear = Ear([500, 200])
    hook(s, ear)
    laid(s)
    ear.docs()
    s.clock(advance='PT13S')
    d = ear.docs(2)
    return len(d) == 2 and d[0] == d[1]


@fault('one-retry', 'events', 'delivery mechanism', 'service', 'create hook', 'A delivery is given up after its second try.')
def t(s):
    ear = Ear([500, 500, 200])
    hook(s, ear)
    laid(s)
    ear.docs()
    s.clock(advance='PT13S')
    ear.docs(2)
    s.clock(advance='PT3M')
    return len(ear.docs(3)) == 3


@fault('redirect-good', 'events', 'delivery mechanism', 'service', 'create hook', 'A redirect counts as delivered.')
def t(s):
    ear = Ear([302, 200])
    hook(s, ear)
    laid(s)
    ear.docs()
    s.clock(advance='PT13S')
    return len(ear.docs(2)) == 2


@fault('410-retried', 'events', 'delivery mechanism', 'service', 'read hook', 'A receiver that answers 410 is asked again instead of switched off.')
def t(s):
    ear = Ear([410])
    h = hook(s, ear)['id']
    laid(s)
    ear.docs()
    return s('greta', 'GET', '/hooks/%d' % h).doc['hook']['live'] is False


@fault('never-disabled', 'events', 'delivery mechanism', 'service', 'read hook', 'A receiver that fails for more than six hours is never switched off.')
def t(s):
    ear = Ear([500])
    h = hook(s, ear)['id']
    i = laid(s)
    ear.docs()
    s.clock(advance='PT7H')
    ear.docs(2)
    return s('greta', 'GET', '/hooks/%d' % h).doc['hook']['live'] is False


@fault('out-of-order', 'events', 'delivery mechanism', 'service', 'create hook', 'A later event of a wheel overtakes an earlier one that was not taken.')
def t(s):
    ear = Ear([500, 200])
    hook(s, ear)
    i = laid(s)
    ear.docs()
    s('greta!', 'POST', '/wheels/%s/condemn' % i, {'reason': 'mites'})
    ear.docs(2, 0.3)
    s.clock(advance='PT13S')
    return [d['kind'] for d in ear.docs(3)] == ['wheel.laid', 'wheel.laid', 'wheel.lost']


# -- errors
@fault('held-code', 'errors', 'error codes', 'service', 'free wheel', 'Freeing a wheel that nobody holds has the general code instead of its own.')
def t(s):
    return s('greta', 'POST', '/wheels/%s/free' % young(s)).code == 'nothing_held'


@fault('late-code', 'errors', 'error codes', 'service', 'cancel pickup', 'Cancelling a pickup that is over has the general code instead of too_late.')
def t(s):
    p = pick(s, [ripe(s)]).doc['pickup']['id']
    s('odile', 'POST', '/pickups/%d/cancel' % p)
    return s('odile', 'POST', '/pickups/%d/cancel' % p).code == 'too_late'


@fault('lay-shut', 'errors', 'conditions', 'cave_shut', 'lay wheel', 'Wheels are laid in a cave whose door is shut.')
def t(s):
    i = young(s)
    s('greta', 'PATCH', '/caves/LOW1', {'door': 'shut'})
    return s('greta', 'POST', '/wheels/%s/lay' % i).code == 'cave_shut'


@fault('few-shelves', 'errors', 'conditions', 'too_few', 'update cave', 'A cave may have fewer shelves than wheels lie in it.')
def t(s):
    laid(s), laid(s)
    return s('greta', 'PATCH', '/caves/LOW1', {'shelves': 1}).code == 'too_few'


@fault('withdrawn-taken', 'errors', 'conditions', 'off_the_list', 'create wheel', 'A wheel of a withdrawn recipe is taken.')
def t(s):
    young(s)
    s('greta', 'POST', '/recipes/tomme/withdraw')
    return wheel(s).code == 'off_the_list'


@fault('hands-on', 'errors', 'conditions', 'hands_off', 'create tasting', 'A wheel that is held back can be tasted.')
def t(s):
    i = laid(s)
    s('greta', 'POST', '/wheels/%s/hold' % i)
    return taste(s, i).code == 'hands_off'


@fault('harsh-quiet', 'errors', 'conditions', 'harsh', 'sign tasting', 'A score that is disputed is answered with 200 rather than the error.')
def t(s):
    r = taste(s, laid(s), score=4).doc['tasting']['id']
    a = s('miren', 'POST', '/tastings/%s/sign' % r)
    return a.code == 'harsh' and s('miren', 'GET', '/tastings/' + r).doc['tasting']['verdict'] == 'disputed'


@fault('bin-404', 'errors', 'conditions', 'in_the_bin', 'read recipe', 'A deleted recipe is missing instead of gone.')
def t(s):
    recipe(s)
    s('greta', 'DELETE', '/recipes/tomme')
    return s(None, 'GET', '/recipes/tomme').code == 'in_the_bin'


@fault('missing-code', 'errors', 'conditions', 'incomplete', 'create cave', 'A field that is missing has the code of one that does not fit.')
def t(s):
    return s('greta', 'POST', '/caves', {'code': 'LOW1', 'shelves': 1}).code == 'incomplete'


@fault('no-body-code', 'errors', 'conditions', 'no_body', 'create cave', 'A request without its body is told that it is no JSON.')
def t(s):
    return s('greta', 'POST', '/caves').code == 'no_body'


@fault('sealed-quiet', 'errors', 'conditions', 'sealed', 'update cave', 'Read-only fields in a patch of a cave are passed over instead of refused.')
def t(s):
    cave(s)
    return s('greta', 'PATCH', '/caves/LOW1', {'lying': 3}).code == 'sealed'


@fault('scope-code', 'errors', 'conditions', 'lacks_scope', 'create wheel', 'Who lacks a scope is told that it is for others.')
def t(s):
    young(s)
    return wheel(s, 'bruno').code == 'lacks_scope'


@fault('not-yours-plain', 'errors', 'conditions', 'not_for_you', 'cancel pickup', 'Cancelling a pickup that somebody else of the house booked has the general code instead of not_yours.')
def t(s):
    p = pick(s, [ripe(s)]).doc['pickup']['id']
    return s('bruno', 'POST', '/pickups/%d/cancel' % p).code == 'not_yours'


@fault('bad-as-missing', 'errors', 'conditions', 'bad_key', 'list cave', 'A key that is no good is told to show one.')
def t(s):
    return s(None, 'GET', '/caves', headers={'X-Cave-Key': 'nonsense'}).code == 'bad_key' and s(None, 'GET', '/caves').code == 'who_are_you'


@fault('403-as-404', 'errors', 'conditions', 'not_for_you', 'update wheel', 'A wheel that may be read and not changed is missing.')
def t(s):
    return patch(s, 'bruno', young(s), weight_g=2100).status == 403


@fault('body-first', 'errors', 'conditions', 'order', 'create cave', 'The body is read before the parameters, against the stated order.')
def t(s):
    return s('greta', 'POST', '/caves?x=1', raw='{', headers={'Content-Type': 'application/json'}).code == 'odd_query'


@fault('pointer-paths', 'errors', 'error payload shapes', 'service', 'create wheel', 'Places below a field are written as JSON Pointers.')
def t(s):
    young(s)
    r = wheel(s, label={'maker_name': 'O', 'town': 3})
    return r.doc['faults'][0]['path'] == 'label.town'


@fault('first-fault', 'errors', 'error payload shapes', 'service', 'create cave', 'Of several faults the first alone is told.')
def t(s):
    return len(s('greta', 'POST', '/caves', {'code': 'x', 'name': 'y', 'shelves': 0}).doc['faults']) == 3


@fault('no-instance', 'errors', 'error payload shapes', 'service', 'read cave', 'What is missing is answered without instance.')
def t(s):
    return 'instance' in s('greta', 'GET', '/caves/NO1').doc


@fault('trouble-lost', 'errors', 'error payload shapes', 'service', 'create cave', 'Conflicts lack the header field that tells their code.')
def t(s):
    cave(s)
    return cave(s).headers['X-Cave-Trouble'] == 'taken'


@fault('no-allow', 'errors', 'conditions', 'wrong_verb', 'list cave', '405 comes without Allow.')
def t(s):
    return 'GET' in (s('greta', 'DELETE', '/caves').headers['Allow'] or '')


# -- limits
def per(s, path, n, who='greta'):
    return s(who, 'GET', '%s%sper=%s' % (path, '&' if '?' in path else '?', n))


@fault('flat-cost', 'limits', 'rate limits', 'service', 'list wheel', 'The list of wheels costs one like everything else.')
def t(s):
    a = [s('greta', 'GET', '/wheels').status for _ in range(61)]
    return a == [200] * 60 + [429]


@fault('rate-by-house', 'limits', 'rate limits', 'service', 'list wheel', 'The rate counts the callers of a house together.')
def t(s):
    for _ in range(61):
        s('odile', 'GET', '/wheels')
    return s('bruno', 'GET', '/wheels').status == 200


@fault('304-counts', 'limits', 'rate limits', 'service', 'read cave', 'Answers of 304 count in the rate.')
def t(s):
    cave(s)
    tag = s('greta', 'GET', '/caves/LOW1').headers['ETag']
    left = lambda r: int(r.headers['RateLimit'].split('r=')[1].split(';')[0])
    a = left(s('greta', 'GET', '/caves/LOW1'))
    for _ in range(5):
        s('greta', 'GET', '/caves/LOW1', headers={'If-None-Match': tag})
    return left(s('greta', 'GET', '/caves/LOW1')) == a - 1


@fault('strangers-free', 'limits', 'rate limits', 'service', 'list recipe', 'Nobody counts what strangers ask.')
def t(s):
    a = [s(None, 'GET', '/recipes').status for _ in range(41)]
    s.clock(advance='PT61S')
    return a == [200] * 40 + [429] and s(None, 'GET', '/recipes').status == 200


@fault('no-retry-after', 'limits', 'rate limits', 'service', 'list wheel', 'Who asks too often is not told how long to wait.')
def t(s):
    r = [s('greta', 'GET', '/wheels') for _ in range(61)][-1]
    return r.status == 429 and 0 < int(r.headers['Retry-After'] or 0) <= 60


@fault('no-quota', 'limits', 'quotas', 'service', 'create wheel', 'A house may bring as many wheels a day as it likes.')
def t(s):
    young(s)
    a = [wheel(s).status for _ in range(60)]
    return a == [201] * 59 + [429]


@fault('quota-utc', 'limits', 'quotas', 'service', 'create wheel', 'The day of the quota ends by UTC and not by the clocks of Paris.')
def t(s):
    s.clock(now='2026-12-10T22:30:00Z')
    young(s)
    for _ in range(59):
        wheel(s)
    s.clock(now='2026-12-10T23:10:00Z')
    return wheel(s).status == 201


@fault('five-hooks', 'limits', 'quotas', 'rows of hook', 'create hook', 'A fifth hook is taken.')
def t(s):
    a = [s('odile', 'POST', '/hooks', {'url': 'http://127.0.0.1:9/x'}).status for _ in range(5)]
    return a == [201] * 4 + [429]


@fault('drafts-all', 'limits', 'quotas', 'rows of tasting', 'create tasting', 'Tastings that are signed count among the drafts that a taster may have.')
def t(s):
    cave(s, shelves=9)
    for i in range(6):
        r = taste(s, laid(s)).doc['tasting']['id']
    s('miren', 'POST', '/tastings/%s/sign' % r)
    return taste(s, laid(s)).status == 201 and taste(s, laid(s)).code == 'enough'


@fault('six-pickups', 'limits', 'quotas', 'rows of pickup', 'create pickup', 'A house may have six pickups under way.')
def t(s):
    cave(s, shelves=9)
    ws = ripe(s, 6)
    return [pick(s, [w], '2026-12-2%d' % n).status for n, w in enumerate(ws)] == [201] * 5 + [429]


@fault('clamp-all', 'limits', 'pagination bounds', 'GET /recipes', 'list recipe', 'A page that is too large is cut down instead of refused.')
def t(s):
    return per(s, '/recipes', 51).code == 'bad_page' and per(s, '/recipes', 50).status == 200


@fault('refuse-clamp', 'limits', 'pagination bounds', 'GET /pickups', 'list pickup', 'A page of pickups that is too large is refused instead of cut down.')
def t(s):
    return per(s, '/pickups', 21).status == 200


@fault('per-zero', 'limits', 'pagination bounds', 'GET /caves', 'list cave', 'A page of no rows is given.')
def t(s):
    return per(s, '/caves', 0).code == 'bad_page'


@fault('per-default', 'limits', 'pagination bounds', 'GET /recipes', 'list recipe', 'Pages of recipes have 20 rows where nothing is asked for.')
def t(s):
    for n in range(12):
        recipe(s, 'r%d' % n + 'x')
    return len(s('greta', 'GET', '/recipes').doc['rows']) == 10


@fault('page-skips', 'limits', 'pagination bounds', 'GET /recipes', 'list recipe', 'The cursor leads one row too far, so that a recipe is on no page.')
def t(s):
    for n in 'abcde':
        recipe(s, n + 'x')
    out, mark = [], ''
    while mark is not None:
        d = per(s, '/recipes' + ('?from=' + mark if mark else ''), 2).doc
        out, mark = out + [r['slug'] for r in d['rows']], d['next_mark']
    return out == ['ax', 'bx', 'cx', 'dx', 'ex']


@fault('more-always', 'limits', 'pagination bounds', 'GET /caves', 'list cave', 'A last page that is full says that there is more.')
def t(s):
    cave(s), cave(s, 'TOP1')
    d = per(s, '/caves', 2).doc
    return d['more'] is False and d['next_mark'] is None


@fault('cursor-any', 'limits', 'pagination bounds', 'GET /recipes', 'list recipe', 'A cursor is taken with other filters than those it was made for.')
def t(s):
    for n in 'abc':
        recipe(s, n + 'x')
    m = per(s, '/recipes?milk=cow', 1).doc['next_mark']
    return per(s, '/recipes?from=%s&milk=goat' % m, 1).code == 'bad_page' and per(s, '/recipes?milk=cow&from=' + m, 2).status == 200


@fault('total-of-page', 'limits', 'pagination bounds', 'GET /pickups', 'list pickup', 'The total of pickups is that of the page.')
def t(s):
    a, b = ripe(s, 2)
    pick(s, [a]), pick(s, [b], '2026-12-21')
    return per(s, '/pickups', 1).doc['in_all'] == 2


@fault('body-16k', 'limits', 'size limits', 'service', 'create cave', 'Bodies of up to 16 KiB are read.')
def t(s):
    return s('greta', 'POST', '/caves', raw=' ' * 8191 + '{}', headers={'Content-Type': 'application/json'}).code == 'too_big' and \
        s('greta', 'POST', '/caves', raw=' ' * 8190 + '{}', headers={'Content-Type': 'application/json'}).code == 'incomplete'


@fault('url-4k', 'limits', 'size limits', 'service', 'list entry', 'Addresses of up to 4 KiB are read.')
def t(s):
    path = '/entries?about='
    return s('greta', 'GET', path + 'a' * (2048 - 4 - len(path))).status == 200 and s('greta', 'GET', path + 'a' * (2049 - 4 - len(path))).status == 414


@fault('slow-taken', 'limits', 'time-outs', 'service', 'create cave', 'A body that does not arrive is waited for, far beyond the time that is stated.')
def t(s):
    c = socket.create_connection(('127.0.0.1', s.p))
    c.settimeout(8)
    c.sendall(b'POST /api/caves HTTP/1.1\r\nHost: x\r\nX-Cave-Key: %s\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{' % PEOPLE[3][4].encode())
    try:
        return b' 408 ' in c.recv(4096)
    except TimeoutError:
        return False


# -- versioning
@fault('oldest-default', 'versioning', 'version selection', 'service', 'read wheel', 'Who names no edition is answered in the first one.')
def t(s):
    return 'weight_g' in get(s, young(s, q='?edition=2'))


@fault('edition-code', 'versioning', 'version selection', 'service', 'list cave', 'An edition that there is not is told to be an odd parameter.')
def t(s):
    return s('greta', 'GET', '/caves?edition=3').code == 'no_edition'


@fault('never-sunset', 'versioning', 'deprecation rules', '1', 'list cave', 'The first edition is served after its sunset.')
def t(s):
    s.clock(now='2027-07-31T23:00:00Z')
    a = s('greta', 'GET', '/caves?edition=1').status
    s.clock(now='2027-08-01T00:00:01Z')
    return (a, s('greta', 'GET', '/caves?edition=1').status) == (200, 410)


@fault('sunset-date', 'versioning', 'deprecation rules', '1', 'list cave', 'The sunset that is announced is a month late.')
def t(s):
    return s('greta', 'GET', '/caves?edition=1').headers['Sunset'] == 'Sun, 01 Aug 2027 00:00:00 GMT'


@fault('undeprecated', 'versioning', 'deprecation rules', '1', 'list cave', 'Answers in the first edition do not say that it is deprecated.')
def t(s):
    h = s('greta', 'GET', '/caves?edition=1').headers
    return h['Deprecation'] == '@1780272000' and 'successor-version' in h['Link']


@fault('old-milk', 'versioning', 'version identifiers', 'service', 'read recipe', 'Ewe\'s milk keeps its new name in the first edition.')
def t(s):
    recipe(s, milk='ewe')
    return s('greta', 'GET', '/recipes/tomme?edition=1').doc['recipe']['milk'] == 'sheep'


@fault('old-gate', 'versioning', 'version identifiers', 'service', 'read pickup', 'The first edition shows the gate, which it does not have.')
def t(s):
    p = pick(s, [ripe(s)]).doc['pickup']['id']
    return 'gate' not in s('odile', 'GET', '/pickups/%d?edition=1' % p).doc['pickup']


@fault('old-temp-up', 'versioning', 'version identifiers', 'service', 'create cave', 'A temperature of the first edition is not divided by ten on its way up.')
def t(s):
    r = s('greta', 'POST', '/caves?edition=1', {'code': 'LOW1', 'name': 'Low', 'shelves': 2, 'temp_c': 125})
    return r.status == 201 and s('greta', 'GET', '/caves/LOW1').doc['cave']['temp_c'] == 12.5


@fault('old-fault-name', 'versioning', 'version identifiers', 'service', 'create wheel', 'What is wrong with a weight in the first edition is told under its new name.')
def t(s):
    young(s)
    r = s('odile', 'POST', '/caves/LOW1/wheels?edition=1', {'recipe': 'tomme', 'grams': 1, 'made_on': '2026-11-01'})
    return r.doc['faults'][0]['path'] == 'grams'


@fault('board-again', 'versioning', 'version identifiers', 'service', 'board', 'The board, which the second edition took away, is still there in it.')
def t(s):
    return s(None, 'GET', '/board').status == 404 and s(None, 'GET', '/board?edition=1').status == 200


@fault('entries-old', 'versioning', 'version identifiers', 'service', 'list entry', 'The log is there in the first edition, which did not have it.')
def t(s):
    return s('greta', 'GET', '/entries?edition=1').status == 404


@fault('hook-newest', 'versioning', 'version identifiers', 'service', 'create hook', 'A hook that was made in the first edition is told in the newest words.')
def t(s):
    ear = Ear()
    hook(s, ear, q='?edition=1')
    laid(s)
    return 'grams' in ear.docs()[0]['about']


@fault('ripe-untold', 'events', 'emitting operations', 'wheel.ripe', 'ripen wheel', 'That a wheel has become ripe is told to nobody.')
def t(s):
    ripe(s)
    return len(entries(s, 'wheel.ripe')) == 1


@fault('seconds-ms', 'events', 'delivery mechanism', 'service', 'create hook', 'The time in the signature is in milliseconds, not in seconds.')
def t(s):
    ear = Ear()
    hook(s, ear)
    laid(s)
    ear.docs()
    return abs(int(dict(x.split('=', 1) for x in ear.heard[0][0]['Cave-Signature'].split(','))['t']) - time.time()) < 60


@fault('no-collected-at', 'resources', 'required flags', 'pickup.collected_at', 'collect pickup', 'The time at which a pickup was collected is not set.')
def t(s):
    p = pick(s, [ripe(s)]).doc['pickup']['id']
    s('greta', 'POST', '/pickups/%d/prepare' % p)
    return 'collected_at' in s('greta', 'POST', '/pickups/%d/collect' % p, {'pin': '1234'}).doc['pickup']


@fault('no-request-id', 'endpoints', 'response payload shapes', 'GET /caves/{code}', 'read cave', 'Refusals lack the header field that is stated for every answer.')
def t(s):
    r = s('greta', 'GET', '/caves/NO1')
    return r.headers['X-Cave-Request'] == r.doc['instance']


@fault('bad-mark-first', 'limits', 'pagination bounds', 'GET /wheels', 'list wheel', 'A cursor that is none leads to the first page.')
def t(s):
    return s('greta', 'GET', '/wheels?from=nonsense').code == 'bad_page'


@fault('rate-250', 'limits', 'rate limits', 'service', 'list cave', 'Ten requests more than stated pass in a minute.')
def t(s):
    a = [s('greta', 'GET', '/caves').status for _ in range(241)]
    return a == [200] * 240 + [429]


@fault('no-sunset', 'versioning', 'deprecation rules', '1', 'list cave', 'Answers in the first edition that succeed do not tell of its sunset.')
def t(s):
    return s('greta', 'GET', '/caves?edition=1').headers['Sunset'] is not None


def write():
    callers = []
    for user, id, house, scopes, key, badge in PEOPLE:
        callers.append({'user': user, 'id': id, 'credential': key, 'scheme': 'key', 'scopes': scopes, 'attributes': {'house': house}})
        if badge:
            callers.append({'user': user, 'id': id, 'credential': badge, 'scheme': 'badge', 'scopes': scopes, 'attributes': {'house': house}})
    with open('stranger.json', 'w') as out:
        json.dump({'command': ['python3', 'service.py'], 'document': 'service.yaml', 'callers': callers, 'faults': [f for f, _ in FAULTS]}, out, indent=1)


def run(test, id):
    s = S(id)
    try:
        return bool(test(s))
    except Exception as e:
        return 'no answer: %s: %s' % (type(e).__name__, str(e)[:100])
    finally:
        s.stop()


if __name__ == '__main__':
    if '--write' in sys.argv:
        write()
    ids = [a for a in sys.argv[1:] if a[0] != '-']
    bad = 0
    for about, test in FAULTS:
        if ids and about['id'] not in ids or '--only-write' in sys.argv:
            continue
        right, wrong = run(test, None), run(test, about['id'])
        if right is not True or wrong is True:
            bad += 1
            print('%-22s right: %s  with the fault: %s' % (about['id'], right, wrong), flush=True)
    print('%d faults, %d that do not show' % (len(FAULTS), bad))
