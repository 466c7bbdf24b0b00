#!/usr/bin/env python3
"""One expectation for each fault: it holds of the right service and fails on the faulty one.
faults-test.py [ID ...] tries all or the named; --write writes stranger.json with those that are proven."""
import base64, concurrent.futures, hashlib, hmac, http.client, json, os, re, socket, subprocess, sys, time
HERE = os.path.dirname(os.path.abspath(__file__))
SECRET = 'a-wooden-spoon-and-a-long-winter-night'
b64 = lambda b: base64.urlsafe_b64encode(b).decode().rstrip('=')


def token(sub, role, guild, **more):
    claims = {'iss': 'https://guilds.example', 'aud': 'crock-house', 'sub': sub, 'role': role, 'guild': guild}
    claims.update(more)
    head = b64(b'{"alg":"HS256","typ":"JWT"}') + '.' + b64(json.dumps({k: v for k, v in claims.items() if v is not None}).encode())
    return head + '.' + b64(hmac.new(SECRET.encode(), head.encode(), hashlib.sha256).digest())


KEYS = {'ada': 'ck_AdaNorth000000000000000000aa', 'bo': 'ck_BoNorth0000000000000000000bb', 'cyd': 'ck_CydSouth000000000000000000cc',
        'ida': 'ck_IdaWarden00000000000000000dd', 'jon': 'ck_JonWarden00000000000000000ee'}
TOKENS = {'max': token('max', 'inspector', 'north'), 'nell': token('nell', 'inspector', 'south')}


def port():
    s = socket.socket(); s.bind(('127.0.0.1', 0)); n = s.getsockname()[1]; s.close(); return n


class R:
    pass


class T:
    def __init__(self, fault):
        self.p, self.k, self.n = port(), port(), 0
        self.proc = subprocess.Popen([sys.executable, os.path.join(HERE, 'service.py'), '--port', str(self.p), '--clock-port', str(self.k)] + (['--fault', fault] if fault else []),
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.proc.stdout.readline()

    def close(self):
        self.proc.kill(); self.proc.wait()

    def c(self, method, path, body=None, who='ada', raw=None, base='/house', **h):
        h = {k.replace('_', '-'): v for k, v in h.items()}
        if who in KEYS: h['X-Crock-Key'] = KEYS[who]
        elif who in TOKENS: h['Authorization'] = 'Bearer ' + TOKENS[who]
        data = raw if raw is not None else json.dumps(body).encode() if body is not None else None
        if data is not None: h.setdefault('Content-Type', 'application/json')
        con = http.client.HTTPConnection('127.0.0.1', self.p, timeout=15)
        con.request(method, base + path, data, h)
        a = con.getresponse(); r = R(); r.s, r.h, t = a.status, a.headers, a.read(); con.close()
        try: r.b = json.loads(t)
        except Exception: r.b = None
        r.why = r.b['sorry']['why'] if isinstance(r.b, dict) and 'sorry' in r.b else None
        return r

    def go(self, d):
        con = http.client.HTTPConnection('127.0.0.1', self.k); con.request('POST', '/', json.dumps({'advance': d})); con.getresponse().read(); con.close()

    def shelf(self, **f):
        self.n += 1
        return self.c('POST', '/shelves', dict({'name': 'shelf %d' % self.n, 'jars': 9}, **f), 'ida').b['id']

    def cul(self, who='ada', **f):
        self.n += 1
        return self.c('POST', '/cultures', {'data': dict({'name': 'c%d' % self.n, 'flour': 'rye'}, **f)}, who)

    def cid(self, who='ada', **f):
        return self.cul(who, **f).b['data']['id']

    def stay(self, who='ada', nights=4, shelf=None, culture=None, **f):
        return self.c('POST', '/stays', dict({'culture': culture or self.cid(who), 'shelf': shelf or self.shelf(), 'nights': nights}, **f), who)

    def sid(self, *a, **k):
        return self.stay(*a, **k).b['id']

    def house(self, id, t=20):
        return self.c('POST', '/stays/%s/house' % id, {'temperature_c': t}, 'ida')

    def housed(self, *a, **k):
        id = self.sid(*a, **k); self.house(id); return id

    def collect(self, id, **b):
        return self.c('POST', '/stays/%s/collect' % id, b or None)

    def read(self, id, who='ada'):
        return self.c('GET', '/stays/' + id, None, who).b

    def status(self, id):
        return self.read(id)['status']

    def cread(self, id, who='ada', **h):
        return self.c('GET', '/cultures/' + id, None, who, **h)

    def patch(self, id, who='ada', **b):
        return self.c('PATCH', '/cultures/' + id, b, who, If_Match='*')

    def names(self, q='', who='ada'):
        return [x['name'] for x in self.c('GET', '/cultures' + q, None, who).b['data']]

    def log(self):
        return [x['kind'] for x in self.c('GET', '/entries?take=50', None, 'max').b['data']]

    def hear(self, answers=(), **f):
        from http.server import BaseHTTPRequestHandler, HTTPServer
        import threading
        got, todo = [], list(answers)
        class H(BaseHTTPRequestHandler):
            def log_message(self, *a): pass
            def do_POST(self):
                raw = self.rfile.read(int(self.headers['Content-Length']))
                got.append((self.headers, raw, json.loads(raw)))
                self.send_response(todo.pop(0) if len(todo) > 1 else todo[0] if todo else 200); self.send_header('Content-Length', '0'); self.end_headers()
        s = HTTPServer(('127.0.0.1', 0), H)
        threading.Thread(target=s.serve_forever, daemon=True).start()
        who = f.pop('who', 'ada')
        hook = self.c('POST', '/hooks', dict({'url': 'http://127.0.0.1:%d/' % s.server_address[1]}, **f), who).b
        return got, hook

    def wait(self, got, n=1, s=1.5):
        t = time.time() + s
        while len(got) < n and time.time() < t: time.sleep(.03)
        return got


def bad_key(t): return t.c('POST', '/stays', {'culture': 'x'}, Idempotency_Key='k')
def twice(t, **h):
    b = {'data': {'name': 'twin', 'flour': 'rye'}}
    return t.c('POST', '/cultures', b, Idempotency_Key='k'), b
def gone(t):
    id = t.cid(); t.c('DELETE', '/cultures/' + id); return id
def many(t, n, f):
    return [f() for _ in range(n)]
def sealed(t):
    got, hook = t.hear(); t.stay(); m = t.wait(got)[0]
    p = dict(x.split('=', 1) for x in m[0]['X-Crock-Signature'].split(','))
    return p.get('seal') == hmac.new(hook['secret'].encode(), m[2]['id'].encode() + b'|' + p['at'].encode() + b'|' + m[1], hashlib.sha256).hexdigest()
def kinds(t, do, **f):
    got, hook = t.hear(**f); do(); t.wait(got, 9, .5); return [m[2].get('kind') for m in got]
OLD = {'Crock_Version': '2026-02-01'}

X = []
def add(id, part, kind, subject, bug, fn): X.append((id, part, kind, subject, bug, fn))
R_, S_, E_, A_, V_, O_, L_, N_ = 'resources', 'states', 'endpoints', 'authentication', 'events', 'errors', 'limits', 'versioning'
av = 'allowed values'
add('p-base-path', 'purpose', 'base address', 'base address', 'It is served below /crock.', lambda t: t.c('GET', '/flours').s == 200)
add('p-location-base', 'purpose', 'base address', 'base address', 'Locations leave out the path of the base address.', lambda t: t.cul().h['Location'].startswith('https://api.crock-house.example/house/'))
add('p-no-inspector', 'purpose', 'users', 'users', 'Inspectors are no users.', lambda t: t.c('GET', '/shelves', None, 'max').s == 200)
add('p-no-receipts', 'purpose', 'functions', 'functions', 'Nobody can read a receipt.', lambda t: (t.collect(t.housed()), t.c('GET', '/receipts/R-00001').s)[1] == 200)
add('r-culture-id', R_, 'identifiers', 'culture', 'Capital letters.', lambda t: re.match(r'cul_[a-z0-9]{16}$', t.cid()))
add('r-stay-id', R_, 'identifiers', 'stay', 'UUIDs without dashes.', lambda t: '-' in t.sid())
add('r-ticket', R_, av, 'stay.ticket', 'Three digits.', lambda t: t.stay().b['ticket'] == 'T-0001')
add('r-number-global', R_, av, 'culture.number', 'Counted over all owners.', lambda t: (t.cul('bo'), t.cul().b['data']['number'])[1] == 1)
add('r-owner-set', R_, av, 'culture.owner', 'The user in place of the caller.', lambda t: t.cul().b['data']['owner'] == 'ada')
add('r-price', R_, av, 'stay.price_cents', 'A tenth of the price.', lambda t: t.stay(nights=4).b['price_cents'] == 600)
add('r-price-stale', R_, av, 'stay.price_cents', 'Not reckoned anew by an update.', lambda t: t.c('PATCH', '/stays/' + t.sid(), {'nights': 5}).b['price_cents'] == 750)
add('r-hydration-default', R_, av, 'culture.hydration', 'Another default.', lambda t: t.cul().b['data']['hydration'] == 100)
add('r-hydration-max', R_, av, 'culture.hydration', 'More than 200 is taken.', lambda t: t.cul(hydration=201).s == 422)
add('r-mood-more', R_, av, 'culture.mood', 'A value that is not stated is taken.', lambda t: t.cul(mood='sleepy').s == 422)
add('r-country-any', R_, 'formats', 'origin.country', 'Any text is a country.', lambda t: t.cul(origin={'town': 'A', 'country': 'QQ'}).s == 422)
add('r-label', R_, av, 'origin.label', 'Town and country change places.', lambda t: t.cul(origin={'town': 'A', 'country': 'DE'}).b['data']['origin']['label'] == 'A (DE)')
add('r-code-pattern', R_, av, 'flour.code', 'Capital letters are taken.', lambda t: t.c('PUT', '/flours/RYE', {'name': 'Rye two'}, 'ida').s == 422)
add('r-mills-twice', R_, av, 'flour.mills', 'Items may be equal.', lambda t: t.c('PUT', '/flours/oat', {'name': 'Oat', 'mills': ['a', 'a']}, 'ida').s == 422)
add('r-nights-optional', R_, 'required flags', 'stay.nights', 'May be left out.', lambda t: t.c('POST', '/stays', {'culture': t.cid(), 'shelf': t.shelf()}).why == 'lacks-a-field')
add('r-fractions', R_, 'types', 'stay.nights', 'Fractions are cut off.', lambda t: t.stay(nights=2.5).s == 422)
add('r-enabled-text', R_, 'types', 'hook.enabled', 'Texts are taken.', lambda t: t.c('POST', '/hooks', {'url': 'http://127.0.0.1:9/', 'enabled': 'yes'}).s == 422)
add('r-uri-any', R_, 'formats', 'hook.url', 'Any text is an address.', lambda t: t.c('POST', '/hooks', {'url': 'no address'}).s == 422)
add('r-extra-field', R_, 'field names', 'culture', 'Unknown fields pass.', lambda t: t.cul(colour='red').why == 'stranger-field')
add('r-null-required', R_, 'required flags', 'culture.name', 'Null passes in an update.', lambda t: t.patch(t.cid(), name=None).s == 422)
add('r-culture-twin', R_, av, 'culture.name', 'Not unique for its owner.', lambda t: (t.cul(name='q'), t.cul(name='q').s)[1] == 409)
add('r-name-global', R_, av, 'culture.name', 'Unique over all owners.', lambda t: (t.cul('bo', name='q'), t.cul(name='q').s)[1] == 201)
add('r-gone-name', R_, 'identifiers', 'culture', 'A deleted one keeps its name.', lambda t: (t.c('DELETE', '/cultures/' + t.cid(name='q')), t.cul(name='q').s)[1] == 201)
add('r-shelf-case', R_, av, 'shelf.name', 'Unique by its case.', lambda t: (t.shelf(name='Top'), t.c('POST', '/shelves', {'name': 'TOP', 'jars': 3}, 'ida').s)[1] == 200)
add('r-two-stays', R_, av, 'stay.culture', 'Two live stays of one culture.', lambda t: (lambda c: (t.stay(culture=c), t.stay(culture=c).s)[1])(t.cid()) == 409)
add('r-rule-fierce', R_, av, 'culture.hydration', 'The rule is not asked by updates.', lambda t: t.patch(t.cid(hydration=55), mood='fierce').s == 422)
add('r-culture-mutable', R_, av, 'stay.culture', 'It can be changed.', lambda t: t.c('PATCH', '/stays/' + t.sid(), {'culture': t.cid()}).s == 422)
add('r-owner-sent', R_, av, 'culture.owner', 'What is sent is stored.', lambda t: t.cul(owner='bo').b['data']['owner'] == 'ada')
add('r-code-again', R_, 'required flags', 'stay.pick_up_code', 'Shown again.', lambda t: 'pick_up_code' not in t.read(t.sid()))
add('r-tip-seen', R_, av, 'culture.keeper_tip', 'Bakers see it.', lambda t: (lambda i: (t.patch(i, 'ida', keeper_tip='warm'), t.cread(i).b['data'])[1])(t.cid()).get('keeper_tip') is None)
add('r-tip-written', R_, av, 'culture.keeper_tip', 'Bakers write it.', lambda t: 'keeper_tip' not in t.cread(t.cid(keeper_tip='x'), 'ida').b['data'])
add('r-taken-all', R_, av, 'shelf.taken', 'Booked stays count.', lambda t: (lambda s: (t.sid(shelf=s), t.c('GET', '/shelves/' + s).b['taken'])[1])(t.shelf()) == 0)
add('r-nights-count', R_, av, 'shelf.nights', 'The number of stays.', lambda t: (lambda s: (t.housed(shelf=s, nights=7), t.c('GET', '/shelves/' + s).b['nights'])[1])(t.shelf()) == 7)
add('r-housed-stuck', R_, av, 'culture.housed', 'True after it was collected.', lambda t: (lambda c: (t.collect(t.housed(culture=c)), t.cread(c).b['data']['housed'])[1])(t.cid()) is False)
add('r-noop', R_, av, 'culture.updated_at', 'Moves where nothing changes.', lambda t: (lambda a: (time.sleep(.01), t.patch(a['id'], name=a['name']).b['updated_at'])[1] == a['updated_at'])(t.cul().b['data']))
add('r-water', R_, av, 'feeding.water_g', 'The hydration does not count.', lambda t: t.c('POST', '/stays/%s/feedings' % t.housed(culture=t.cid(hydration=150)), {'flour_g': 10}, 'ida').b['water_g'] == 15)
add('r-verdict', R_, av, 'stay.verdict', 'Another one where none is sent.', lambda t: t.collect(t.housed()).b['verdict'] == 'alive')
add('r-ends', R_, av, 'stay.ends_at', 'A day later.', lambda t: (lambda b: abs((__import__('datetime').datetime.fromisoformat(b['ends_at'][:19]) - __import__('datetime').datetime.fromisoformat(b['booked_at'][:19])).total_seconds() - 4 * 86400) < 60)(t.read(t.housed())))
add('r-flour-held', R_, av, 'culture.flour', 'A flour in use is deleted.', lambda t: (t.cul(), t.c('DELETE', '/flours/rye', None, 'ida').s)[1] == 409)
add('r-not-kept', R_, 'identifiers', 'culture', 'A deleted one is forgotten at once.', lambda t: t.cread(gone(t)).s == 410)
add('r-gone-early', R_, 'identifiers', 'culture', 'Kept for three days.', lambda t: (lambda i: (t.go('P10D'), t.cread(i).s)[1])(gone(t)) == 410)
add('r-merge', R_, 'types', 'culture.origin', 'A patch replaces the whole value.', lambda t: t.patch(t.cid(origin={'town': 'A', 'country': 'DE'}), origin={'year': 1900}).s == 200)
add('r-replace-keeps', R_, 'required flags', 'flour.mills', 'Kept by a replacement without it.', lambda t: (t.c('PUT', '/flours/oat', {'name': 'Oat', 'mills': ['a']}, 'ida'), 'mills' in t.c('PUT', '/flours/oat', {'name': 'Oat'}, 'ida').b)[1] is False)
add('r-no-meals', R_, 'field names', 'stay', 'Its meals are not shown.', lambda t: t.read(t.sid()).get('meals') == [])
add('s-initial', S_, 'states', 'stay', 'Begins as housed.', lambda t: t.stay().b['status'] == 'booked')
add('s-cancel-housed', S_, 'transitions', 'stay', 'A housed one is cancelled.', lambda t: t.c('POST', '/stays/%s/cancel' % t.housed()).s == 409)
add('s-collect-booked', S_, 'transitions', 'stay', 'A booked one is collected.', lambda t: t.collect(t.sid()).s == 409)
add('s-update-late', S_, 'transitions', 'stay', 'A housed one is updated.', lambda t: t.c('PATCH', '/stays/' + t.housed(), {'nights': 9}).s == 409)
add('s-refused-lost', S_, 'transitions', 'stay', 'A hot one stays booked.', lambda t: (lambda i: (t.house(i, 50), t.status(i))[1])(t.sid()) == 'refused')
add('s-hot-edge', S_, 'transitions', 'stay', '35 degrees are too hot.', lambda t: t.house(t.sid(), 35).s == 200)
add('s-overfull', S_, 'transitions', 'stay', 'More are housed than the shelf has jars.', lambda t: (lambda s: (t.housed(shelf=s), t.house(t.sid(shelf=s)).why)[1])(t.shelf(jars=1)) == 'shelf-full')
add('s-greedy-two', S_, 'transitions', 'stay', 'Three meals are too many.', lambda t: t.collect(t.housed(), meals_wanted=3).s == 200)
add('s-lapse-early', S_, 'transitions', 'stay', 'Lapses after two days.', lambda t: (lambda i: (t.go('PT60H'), t.status(i))[1])(t.sid()) == 'booked')
add('s-lapse-never', S_, 'transitions', 'stay', 'Never lapses.', lambda t: (lambda i: (t.go('P4D'), t.status(i))[1])(t.sid()) == 'lapsed')
add('s-lapse-restart', S_, 'transitions', 'stay', 'An update restarts the time.', lambda t: (lambda i: (t.go('P2D'), t.c('PATCH', '/stays/' + i, {'nights': 9}), t.go('P2D'), t.status(i))[3])(t.sid()) == 'lapsed')
add('s-compost-never', S_, 'transitions', 'stay', 'Never composted.', lambda t: (lambda i: (t.go('P5D'), t.status(i))[1])(t.housed()) == 'composted')
add('s-no-receipt', S_, 'transitions', 'stay', 'No receipt follows.', lambda t: (t.collect(t.housed()), t.c('GET', '/receipts').b['counted'])[1] == 1)
rp, pa = 'response payload shapes', 'parameters'
add('e-201', E_, rp, 'POST /stays', '200 in place of 201.', lambda t: t.stay().s == 201)
add('e-envelope', E_, rp, 'POST /cultures', 'No kind.', lambda t: t.cul().b.get('kind') == 'culture')
add('e-read-bare', E_, rp, 'GET /cultures/{id}', 'No envelope.', lambda t: t.cread(t.cid()).b.get('kind') == 'culture')
add('e-takes', E_, 'request payload shapes', 'POST /cultures', 'Fields are taken beside data.', lambda t: t.c('POST', '/cultures', {'name': 'a', 'flour': 'rye'}).s == 400)
add('e-no-etag', E_, rp, 'GET /cultures/{id}', 'No tag.', lambda t: t.cread(t.cid()).h['ETag'])
add('e-if-match', E_, 'request payload shapes', 'PATCH /cultures/{id}', 'A tag that does not fit is taken.', lambda t: t.c('PATCH', '/cultures/' + t.cid(), {'name': 'n'}, If_Match='"x"').s == 412)
add('e-tag-optional', E_, 'request payload shapes', 'PATCH /cultures/{id}', 'The tag may be left out.', lambda t: t.c('PATCH', '/cultures/' + t.cid(), {'name': 'n'}).s == 428)
add('e-order-culture', E_, rp, 'GET /cultures', 'The other way round.', lambda t: (t.cul(name='a'), t.cul(name='b'), t.names())[2] == ['b', 'a'])
add('e-sort-way', E_, pa, 'GET /cultures by', 'The minus is passed over.', lambda t: (t.cul(name='a'), t.cul(name='b'), t.names('?by=-name'))[2] == ['b', 'a'])
add('e-wetter', E_, pa, 'GET /cultures wetter_than', 'Equal ones are found.', lambda t: (t.cul(), t.names('?wetter_than=100'))[1] == [])
add('e-town-case', E_, pa, 'GET /cultures town', 'Minds case.', lambda t: (t.cul(name='x', origin={'town': 'Ulm', 'country': 'DE'}), t.names('?town=ULM'))[1] == ['x'])
add('e-search-any', E_, pa, 'GET /cultures words', 'One word is enough.', lambda t: (t.cul(name='old rye'), t.names('?words=old%20wheat'))[1] == [])
add('e-filter-status', E_, pa, 'GET /stays status', 'Filters nothing.', lambda t: (t.sid(), t.c('GET', '/stays?status=housed').b['data'])[1] == [])
add('e-unknown-parameter', E_, pa, 'GET /shelves', 'Unknown ones pass.', lambda t: t.c('GET', '/shelves?colour=1').s == 400)
add('e-expand-read', E_, rp, 'GET /stays/{id}', 'Nothing is expanded.', lambda t: isinstance(t.c('GET', '/stays/%s?with=shelf' % t.sid()).b['shelf'], dict))
add('e-only', E_, rp, 'GET /shelves', 'All fields are shown.', lambda t: (t.shelf(), set(t.c('GET', '/shelves?only=name').b['data'][0]))[1] == {'id', 'name'})
add('e-exists', E_, rp, 'POST /shelves', 'What is there is refused.', lambda t: (t.shelf(name='Top'), t.c('POST', '/shelves', {'name': 'Top', 'jars': 3}, 'ida').s)[1] == 200)
add('e-no-keys', E_, 'request payload shapes', 'POST /cultures', 'Keys are passed over.', lambda t: (lambda a, b: t.c('POST', '/cultures', b, Idempotency_Key='k').b == a.b)(*twice(t)))
add('e-key-body', E_, 'request payload shapes', 'POST /cultures', 'Another body is the same request.', lambda t: (twice(t), t.c('POST', '/cultures', {'data': {'name': 'o', 'flour': 'rye'}}, Idempotency_Key='k').s)[1] == 422)
add('e-upsert-200', E_, rp, 'PUT /flours/{code}', '200 where it makes one.', lambda t: t.c('PUT', '/flours/oat', {'name': 'Oat'}, 'ida').s == 201)
add('e-body-needed', E_, 'request payload shapes', 'POST /stays/{id}/collect', 'The body may not be left out.', lambda t: t.collect(t.housed()).s == 200)
add('e-read-only', E_, 'request payload shapes', 'PATCH /cultures/{id}', 'Read-only ones are ignored.', lambda t: t.patch(t.cid(), owner='bo').s == 403)
pr = 'permission rules'
add('a-signature', A_, 'token formats', 'token', 'The signature is not looked at.', lambda t: t.c('GET', '/shelves', None, None, Authorization='Bearer ' + TOKENS['max'][:-6] + 'AAAAAA').s == 401)
add('a-audience', A_, 'token formats', 'token', 'Any audience.', lambda t: t.c('GET', '/shelves', None, None, Authorization='Bearer ' + token('m', 'baker', 'n', aud='x')).s == 401)
add('a-expired', A_, 'token formats', 'token', 'Tokens never end.', lambda t: t.c('GET', '/shelves', None, None, Authorization='Bearer ' + token('m', 'baker', 'n', exp=1000)).s == 401)
add('a-hook-token', A_, 'schemes', 'POST /hooks', 'Tokens are taken.', lambda t: t.c('POST', '/hooks', {'url': 'http://127.0.0.1:9/'}, None, Authorization='Bearer ' + token('m', 'baker', 'n')).s == 401)
for id, op, bug, fn in [
    ('a-flour-needs-key', 'list flour', 'Not for anyone.', lambda t: t.c('GET', '/flours', None, None).s == 200),
    ('a-culture-read-all', 'read culture', 'Any baker.', lambda t: t.cread(t.cid(), 'bo').s == 404),
    ('a-culture-list-all', 'list culture', 'Those of all bakers.', lambda t: (t.cul(), t.names('', 'bo'))[1] == []),
    ('a-guild-any', 'read culture', 'Inspectors of any guild.', lambda t: t.cread(t.cid(), 'nell').s == 404),
    ('a-inspector-all-fields', 'read culture', 'Inspectors see all fields.', lambda t: 'hydration' not in t.cread(t.cid(), 'max').b['data']),
    ('a-stay-read-all', 'read stay', 'Any baker.', lambda t: t.c('GET', '/stays/' + t.sid(), None, 'bo').s == 404),
    ('a-receipt-all', 'list receipt', 'Those of all bakers.', lambda t: (t.collect(t.housed()), t.c('GET', '/receipts', None, 'bo').b['counted'])[1] == 0),
    ('a-hook-all', 'read hook', 'Those of others.', lambda t: t.c('GET', '/hooks/' + t.hear()[1]['id'], None, 'bo').s == 404),
    ('a-scope-shelves', 'create shelf', 'Without the scope.', lambda t: t.c('POST', '/shelves', {'name': 'aa', 'jars': 2}, 'jon').s == 403),
    ('a-scope-feed', 'create feeding', 'Without the scope.', lambda t: t.c('POST', '/stays/%s/feedings' % t.housed(), {'flour_g': 2}, 'jon').s == 403),
    ('a-warden-renames', 'update culture', 'Wardens rename.', lambda t: t.patch(t.cid(), 'ida', name='n').s == 403),
    ('a-baker-flours', 'upsert flour', 'Bakers too.', lambda t: t.c('PUT', '/flours/oat', {'name': 'Oat'}).s == 403),
    ('a-baker-houses', 'house stay', 'Bakers too.', lambda t: t.c('POST', '/stays/%s/house' % t.sid(), {'temperature_c': 9}).s == 403),
    ('a-warden-receipts', 'list receipt', 'Wardens too.', lambda t: t.c('GET', '/receipts', None, 'ida').s == 403),
    ('a-ref-unread', 'create stay', 'With the culture of another.', lambda t: t.stay('bo', culture=t.cid()).s == 422)]:
    add(id, A_, pr, op, bug, fn)
dm = 'delivery mechanism'
add('v-sign-body', V_, dm, 'webhook', 'The body alone is signed.', sealed)
add('v-no-header', V_, dm, 'webhook', 'No X-Crock-Event.', lambda t: (lambda g: (t.stay(), t.wait(g[0])[0][0]['X-Crock-Event'])[1])(t.hear()) == 'stay.booked')
add('v-envelope', V_, dm, 'webhook', 'The kind is called type.', lambda t: kinds(t, t.stay) == ['stay.booked'])
add('v-retry-late', V_, dm, 'webhook', 'Tried again after a minute.', lambda t: (lambda g: (t.stay(), t.wait(g[0]), time.sleep(.1), t.go('PT13S'), len(t.wait(g[0], 2)))[4])(t.hear([500, 200])) == 2)
add('v-410', V_, dm, 'webhook', '410 does not disable.', lambda t: (lambda g: (t.stay(), t.wait(g[0]), time.sleep(.2), t.c('GET', '/hooks/' + g[1]['id']).b['enabled'])[3])(t.hear([410])) is False)
add('v-kinds-ignored', V_, dm, 'webhook', 'The kinds that are asked for are passed over.', lambda t: kinds(t, t.stay, kinds=['receipt.issued']) == [])
add('v-anyone-told', V_, dm, 'webhook', 'Told of what it may not read.', lambda t: kinds(t, t.stay, who='bo') == [])
add('v-code-told', V_, 'payload shapes', 'stay.booked', 'It has the code.', lambda t: (lambda g: (t.stay(), t.wait(g[0])[0][2]['body'])[1])(t.hear()).get('pick_up_code') is None)
add('v-renamed-swapped', V_, 'payload shapes', 'culture.renamed', 'Was and is change places.', lambda t: (lambda g: (t.patch(t.cid(name='aa'), name='bb'), t.wait(g[0])[0][2]['body']['is'])[1])(t.hear()) == 'bb')
add('v-renamed-always', V_, 'emitting operations', 'culture.renamed', 'By any update.', lambda t: (t.patch(t.cid(), mood='sharp'), t.log())[1] == [])
for id, k, fn in [('v-lapse-untold', 'stay.over', lambda t: (t.sid(), t.go('P4D'))), ('v-cancel-untold', 'stay.over', lambda t: t.c('POST', '/stays/%s/cancel' % t.sid())),
                  ('v-away-untold', 'stay.turned_away', lambda t: t.house(t.sid(), 50)), ('v-due-never', 'stay.due_soon', lambda t: (t.housed(), t.go('PT85H'))),
                  ('v-receipt-untold', 'receipt.issued', lambda t: t.collect(t.housed())), ('v-housed-untold', 'stay.housed', lambda t: t.housed())]:
    add(id, V_, 'emitting operations', k, 'Not emitted (%s).' % id[2:], lambda t, k=k, fn=fn: (fn(t), k in t.log())[1])
add('v-log-keep', V_, 'kinds of event', 'log', 'Kept for two days.', lambda t: (t.sid(), t.go('PT60H'), t.log())[2] == ['stay.booked'])
cd, sc = 'error codes', 'status codes'
for id, code, st, fn in [
    ('x-missing-422', 'lacks-a-field', 400, lambda t: t.c('POST', '/stays', {'shelf': t.shelf(), 'nights': 2})), ('x-fit-400', 'does-not-fit', 422, lambda t: t.cul(hydration=1)),
    ('x-taken-422', 'name-taken', 409, lambda t: (t.cul(name='a'), t.cul(name='a'))[1]), ('x-reference-404', 'leads-nowhere', 422, lambda t: t.cul(flour='no')),
    ('x-parameter-422', 'odd-question', 400, lambda t: t.c('GET', '/shelves?x=1')), ('x-moment-422', 'wrong-moment', 409, lambda t: t.collect(t.sid())),
    ('x-hot-400', 'too_hot', 409, lambda t: t.house(t.sid(), 60)), ('x-page-400', 'bad-page', 416, lambda t: t.c('GET', '/shelves?take=99')),
    ('x-empty-400', 'empty-handed', 411, lambda t: t.c('POST', '/stays')), ('x-version-404', 'no-such-version', 400, lambda t: t.c('GET', '/shelves', Crock_Version='x')),
    ('x-stiff-409', 'too-stiff', 422, lambda t: t.stay(nights=31, shelf=t.shelf(warmth='cold')))]:
    add(id, O_, sc, code, 'Another status.', lambda t, st=st, fn=fn: fn(t).s == st)
for id, code, fn in [('x-place-code', 'no-such-place', lambda t: t.c('GET', '/moon')), ('x-scope-code', 'lacks-a-scope', lambda t: t.c('POST', '/shelves', {}, 'jon')),
                     ('x-who-code', 'who-are-you', lambda t: t.c('GET', '/shelves', None, None)), ('x-stranger-code', 'stranger-field', lambda t: t.cul(zz=1)),
                     ('x-greedy-code', 'greedy', lambda t: t.collect(t.housed(), meals_wanted=9)), ('x-not-housed-code', 'not-housed', lambda t: t.c('POST', '/stays/%s/feedings' % t.sid(), {'flour_g': 2}, 'ida'))]:
    add(id, O_, cd, code, 'Another code.', lambda t, code=code, fn=fn: fn(t).why == code)
add('x-never-stiff', O_, 'conditions', 'too-stiff', 'Never arises.', lambda t: t.stay(nights=31, shelf=t.shelf(warmth='cold')).s == 422)
add('x-no-ask', O_, 'error payload shapes', 'error payload shapes', 'No ask.', lambda t: t.c('GET', '/moon').b['sorry'].get('ask'))
add('x-pointer', O_, 'error payload shapes', 'error payload shapes', 'Places are pointers.', lambda t: t.cul(hydration=1).b['sorry']['at'][0]['path'] == 'data.hydration')
add('x-no-header', O_, 'error payload shapes', 'error payload shapes', 'No X-Crock-Sorry.', lambda t: t.c('GET', '/moon').h['X-Crock-Sorry'] == 'no-such-place')
pb = 'pagination bounds'
add('l-rate-off', L_, 'rate limits', 'rate limits', 'Nobody is slowed down.', lambda t: [t.c('GET', '/entries', None, 'max').s for _ in range(201)][-1] == 429)
add('l-cost', L_, 'rate limits', 'rate limits', 'Entries cost 1.', lambda t: int(t.c('GET', '/entries', None, 'max').h['X-Crock-Left']) == 597)
add('l-bucket-off', L_, 'rate limits', 'rate limits', 'Starters are not counted.', lambda t: t.cul().h['X-Crock-Limit'] == '60')
add('l-anyone-off', L_, 'rate limits', 'rate limits', 'Addresses are not counted.', lambda t: [t.c('GET', '/flours', None, None).s for _ in range(91)][-1] == 429)
add('l-body-big', L_, 'size limits', 'size limits', 'Bodies may be larger.', lambda t: t.c('POST', '/cultures', raw=b'{"data":{"name":"' + b'x' * 9000 + b'"}}').s == 413)
add('l-default-size', L_, pb, 'GET /cultures', 'Twenty unless asked.', lambda t: (many(t, 11, t.cul), len(t.names()))[1] == 10)
add('l-over-max', L_, pb, 'GET /shelves', 'A size above the most is cut.', lambda t: t.c('GET', '/shelves?take=51').s == 416)
add('l-more', L_, pb, 'GET /cultures', 'There is always more.', lambda t: t.c('GET', '/cultures').b['more'] is False)
add('l-stays-many', L_, 'quotas', 'rows of stay', 'More than eight.', lambda t: many(t, 9, lambda: t.stay().s)[-1] == 429)
add('n-unknown-taken', N_, 'version selection', 'version selection', 'An unknown one is the current.', lambda t: t.c('GET', '/shelves', Crock_Version='x').s == 400)
add('n-default-old', N_, 'version selection', 'version selection', 'The older one unless asked.', lambda t: t.c('GET', '/shelves').h['Crock-Version'] == '2026-08-01')
add('n-sunset-open', N_, 'deprecation rules', '2025-05-01', 'Served after its sunset.', lambda t: t.c('GET', '/shelves', Crock_Version='2025-05-01').s == 410)
add('n-sunset-never', N_, 'deprecation rules', '2026-02-01', 'Served after its sunset.', lambda t: (t.go('P2Y'), t.c('GET', '/shelves', **OLD).s)[1] == 410)
add('n-sunset-date', N_, 'deprecation rules', '2026-02-01', 'Another Sunset.', lambda t: '01 Sep 2027' in t.c('GET', '/shelves', **OLD).h['Sunset'])
add('n-rename-out', N_, 'version identifiers', '2026-08-01', 'hydration is not wetness before.', lambda t: t.cread(t.cid(), **OLD).b['data'].get('wetness') == 100)
add('n-price-cents', N_, 'version identifiers', '2026-08-01', 'Cents in place of the number before.', lambda t: t.c('GET', '/stays/' + t.sid(), **OLD).b['price_cents'] == 6)
add('n-remark-old', N_, 'version identifiers', '2026-08-01', 'The remark is shown before.', lambda t: 'remark' not in t.c('GET', '/stays/' + t.sid(remark='r'), **OLD).b)
add('n-room-gone', N_, 'version identifiers', '2026-08-01', 'No room before.', lambda t: t.c('GET', '/shelves/' + t.shelf(), **OLD).b.get('room') == 'cellar')
add('n-receipts-old', N_, 'version identifiers', '2026-08-01', 'The list of receipts is there before.', lambda t: t.c('GET', '/receipts', **OLD).s == 404)


def holds(fault, fn):
    t = T(fault)
    try: return bool(fn(t)), ''
    except Exception as e: return False, repr(e)
    finally: t.close()


def main():
    args = sys.argv[1:]
    names = [a for a in args if not a.startswith('--')]
    todo = [x for x in X if not names or x[0] in names]
    def prove(x):
        right, why = holds(None, x[5])
        wrong, _ = holds(x[0], x[5])
        return x, right, wrong, why
    proven = []
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for x, right, wrong, why in pool.map(prove, todo):
            if right and not wrong: proven.append(x); print("proven", x[0], flush=True)
            else: print('NOT PROVEN', x[0], 'right' if right else 'fails on the right service ' + why, 'passes on the faulty one' if wrong else '', flush=True)
    print('%d of %d proven' % (len(proven), len(todo)))
    if '--write' in args:
        c = [{'user': 'baker', 'id': n, 'credential': KEYS[n], 'scheme': 'key', 'scopes': [], 'attributes': {'guild': g}} for n, g in (('ada', 'north'), ('bo', 'north'), ('cyd', 'south'))]
        c += [{'user': 'warden', 'id': n, 'credential': KEYS[n], 'scheme': 'key', 'scopes': s, 'attributes': {'guild': g}} for n, g, s in (('ida', 'north', ['feed', 'shelves']), ('jon', 'south', []))]
        c += [{'user': 'inspector', 'id': n, 'credential': TOKENS[n], 'scheme': 'token', 'scopes': [], 'attributes': {'guild': g}} for n, g in (('max', 'north'), ('nell', 'south'))]
        out = {'command': ['python3', 'service.py'], 'document': 'service.yaml', 'callers': c, 'faults': [{'id': i, 'part': p, 'kind': k, 'subject': s, 'bug': b} for i, p, k, s, b, _ in proven]}
        open(os.path.join(HERE, 'stranger.json'), 'w').write(json.dumps(out, indent=1) + '\n')


main()
