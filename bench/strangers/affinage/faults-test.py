#!/usr/bin/env python3
"""One expectation for each fault: the right service meets it, the one with the fault does not.

faults-test.py [ID ...]   tries all, or those that are named
faults-test.py --write    writes stranger.json
"""
import base64, hashlib, hmac, http.client, http.server, json, os, socket, subprocess, sys, threading, time
from datetime import datetime

HERE = os.path.dirname(os.path.abspath(__file__))
NODE = os.environ.get('NODE', 'node')
STAFF = {'anton': 'mould-7781-rind', 'berta': 'brine-2204-salt'}
KEYS = {'alp': 'sk-alp-5d0f1c77aa90b3e2', 'brunni': 'sk-brunni-91b7c4e0f2d81a63', 'vera': 'sk-vera-3be8a7c5d9014f26', 'willi': 'sk-willi-c2a64d18e70b95f3', 'xaver': 'sk-xaver-08f3d6b1a4c72e95'}


def free_port():
    s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; s.close(); return p


class Answer:
    def __init__(self, status, headers, raw):
        self.status, self.raw = status, raw
        self.headers = {k.lower(): v for k, v in headers}
        try: self.json = json.loads(raw) if raw else None
        except ValueError: self.json = None

    def __getitem__(self, k): return self.json[k]
    def get(self, k, other=None): return self.json.get(k, other) if isinstance(self.json, dict) else other

    @property
    def code(self):
        try: return self.json['faults'][0]['kind']
        except Exception: return None

    def __repr__(self): return f'{self.status} {self.raw[:300]!r}'


class Service:
    def __init__(self, fault=None):
        self.port, self.clock = free_port(), free_port()
        self.p = subprocess.Popen([NODE, 'service.cjs', '--port', str(self.port), '--clock-port', str(self.clock)] + (['--fault', fault] if fault else []), cwd=HERE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(400):
            try: socket.create_connection(('127.0.0.1', self.clock), 1).close(); socket.create_connection(('127.0.0.1', self.port), 1).close(); break
            except OSError: time.sleep(0.01)
        self.n = 0
        self.off = None

    def stop(self):
        self.p.kill(); self.p.wait()

    def door(self, body=None):
        c = http.client.HTTPConnection('127.0.0.1', self.clock, timeout=10)
        c.request('POST' if body else 'GET', '/', json.dumps(body) if body else None); r = c.getresponse(); out = json.loads(r.read()); c.close()
        return datetime.fromisoformat(out['now'].replace('Z', '+00:00')).timestamp()

    def pass_time(self, d): self.off = self.door({'advance': d}) - time.time()
    def now(self): return time.time() + (self.off or 0)

    def seal(self, who, method, target, raw, at=None, key=None):
        at = int(self.now() if at is None else at)
        text = f'{at}\n{method}\n{target}\n{hashlib.sha256(raw).hexdigest()}'
        return f'Caveseal key=key_{who};at={at};mac={hmac.new((key or KEYS[who]).encode(), text.encode(), "sha256").hexdigest()}'

    def __call__(self, who, method, path, body=None, headers=None, raw=None, ed='e2', auth=None, base='/api'):
        target = f'{base}/{ed}{path}' if ed else f'{base}{path}'
        data = raw if raw is not None else (b'' if body is None else json.dumps(body).encode())
        h = {}
        if data: h['Content-Type'] = 'application/json'
        if auth: h['Authorization'] = auth
        elif who in STAFF: h['Authorization'] = 'Basic ' + base64.b64encode(f'{who}:{STAFF[who]}'.encode()).decode()
        elif who: h['Authorization'] = self.seal(who, method, target, data)
        for k, v in (headers or {}).items():
            if v is None: h.pop(k, None)
            else: h[k] = v
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=10)
        c.request(method, target, data or None, h)
        r = c.getresponse(); out = Answer(r.status, r.getheaders(), r.read()); c.close()
        return out

    # ways to have something
    def uniq(self): self.n += 1; return self.n
    def cave(self, **more):
        return self('anton', 'POST', '/caves', {'name': f'Cave {self.uniq()}', 'climate': {'celsius': 11.5, 'humidity': 92}, 'capacity': 9, **more})
    def recipe(self, code='alpine', **more):
        return self('anton', 'PUT', f'/recipes/{code}', {'title': 'Alpine hard', 'days': 3, **more})
    def wheel(self, cave=None, who='alp', ed='e2', **more):
        if cave is None: cave = self.cave()['no']
        self.recipe()
        b = {'recipe': 'alpine', 'mark': f'AL-{self.uniq():04}', 'milk': 'cow', 'weightGrams': 6200, 'madeOn': '2026-05-02', **more}
        return self(who, 'POST', f'/caves/{cave}/wheels', b, ed=ed)
    def laid(self, **more):
        w = self.wheel(**more)['no']; a = self('anton', 'POST', f'/wheels/{w}:lay'); assert a.status == 200, a; return w
    def ripe(self, **more):
        w = self.laid(**more); self.pass_time('P3DT1M'); return w
    def claim(self, w, who='vera', ed='e2', headers=None, **more):
        b = {'offerCents': 9000, 'shipTo': {'name': 'North', 'street': 'Quay 3', 'city': 'Hamburg', 'country': 'DE'}, **more}
        return self(who, 'POST', f'/wheels/{w}/claims', b, ed=ed, headers={'X-Once': f'k{self.uniq()}', **(headers or {})})
    def promised(self, **more):
        w = self.ripe(**more); k = self.claim(w)['id']; assert self('alp', 'POST', f'/claims/{k}:accept').status == 200; return w, k
    def hook(self, rx, who='alp', ed='e2', **more):
        return self(who, 'POST', '/hooks', {'url': rx.url, **more}, ed=ed)


class Receiver:
    def __init__(self):
        self.got, self.status, rx = [], 204, self
        class H(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get('content-length', 0)))
                rx.got.append(({k.lower(): v for k, v in self.headers.items()}, raw))
                self.send_response(rx.status); self.send_header('Content-Length', '0'); self.end_headers()
            def log_message(self, *a): pass
        self.srv = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H); self.srv.daemon_threads = True
        threading.Thread(target=self.srv.serve_forever, kwargs={'poll_interval': 0.02}, daemon=True).start()
        self.url = f'http://127.0.0.1:{self.srv.server_port}/in'

    def wait(self, n=1, t=1.0):
        end = time.time() + t
        while len(self.got) < n and time.time() < end: time.sleep(0.01)
        return len(self.got)

    def kinds(self): return [json.loads(b)['what'] for _, b in self.got]


TESTS = []
def fault(id, part, kind, subject, bug):
    def put(fn): TESTS.append((id, part, kind, subject, bug, fn)); return fn
    return put


# --- purpose
@fault('base-moved', 'purpose', 'base address', 'service', 'the endpoints stand below another base path')
def _(s, rx): return s(None, 'GET', '/placard').status == 200
@fault('dealers-unknown', 'purpose', 'users', 'service', 'the keys of dealers are not known')
def _(s, rx): return s('vera', 'GET', '/wheels').status == 200
@fault('no-withdraw', 'purpose', 'functions', 'service', 'nobody can withdraw a claim: the endpoint is missing')
def _(s, rx): k = s.claim(s.ripe())['id']; return s('vera', 'POST', f'/claims/{k}:withdraw').status == 200

# --- resources
@fault('cave-no-text', 'resources', 'types', 'cave.no', 'the number of a cave is shown as a text')
def _(s, rx): return isinstance(s.cave()['no'], int)
@fault('humidity-over', 'resources', 'allowed values', 'climate.humidity', '101 percent of humidity is taken')
def _(s, rx): return s.cave(climate={'celsius': 9, 'humidity': 101}).code == 'unfit'
@fault('cave-name-short', 'resources', 'allowed values', 'cave.name', 'names of fewer than three letters are taken')
def _(s, rx): return s.cave(name='Ab').code == 'unfit'
@fault('name-twice', 'resources', 'allowed values', 'cave.name', 'two caves may have one name')
def _(s, rx): s.cave(name='Long one'); return s.cave(name='Long one').code == 'twice'
@fault('mark-loose', 'resources', 'allowed values', 'wheel.mark', 'the pattern of marks is not anchored')
def _(s, rx): return s.wheel(mark='xAB-12345').code == 'unfit'
@fault('mark-twice', 'resources', 'allowed values', 'wheel.mark', 'a farm may use a mark twice')
def _(s, rx): s.wheel(mark='ZZ-0001'); return s.wheel(mark='ZZ-0001').code == 'twice'
@fault('weight-open', 'resources', 'allowed values', 'wheel.weightGrams', 'wheels may have any weight')
def _(s, rx): return s.wheel(weightGrams=60001).code == 'unfit'
@fault('date-loose', 'resources', 'formats', 'wheel.madeOn', 'days that there are not are taken')
def _(s, rx): return s.wheel(madeOn='2026-02-30').code == 'unfit'
@fault('country-any', 'resources', 'formats', 'address.country', 'countries in small letters are taken')
def _(s, rx): return s.claim(s.ripe(), shipTo={'name': 'N', 'street': 'S', 'city': 'C', 'country': 'de'}).code == 'unfit'
@fault('stray-taken', 'resources', 'field names', 'recipe', 'fields that are not stated are passed over')
def _(s, rx): return s.recipe(colour='red').code == 'stray'
@fault('title-optional', 'resources', 'required flags', 'recipe.title', 'a recipe may come without a title')
def _(s, rx): return s('anton', 'PUT', '/recipes/plain', {'days': 3}).code == 'lacking'
@fault('wash-default', 'resources', 'allowed values', 'recipe.wash', 'the default of wash is another one')
def _(s, rx): return s.recipe()['wash'] == 'dry'
@fault('rule-forgotten', 'resources', 'allowed values', 'recipe.maxDays', 'maxDays may be fewer than days')
def _(s, rx): return s.recipe(days=9, maxDays=8).code == 'unfit'
@fault('floor-seen', 'resources', 'required flags', 'wheel.floorCents', 'dealers see the floor of the price')
def _(s, rx): w = s.laid(floorCents=100); return 'floorCents' not in s('vera', 'GET', f'/wheels/{w}').json and s('alp', 'GET', f'/wheels/{w}')['floorCents'] == 100
@fault('memo-seen', 'resources', 'required flags', 'cave.memo', 'farms see the memo of a cave')
def _(s, rx): c = s.cave(memo='wet')['no']; return 'memo' not in s('alp', 'GET', f'/caves/{c}').json
@fault('limit-seen', 'resources', 'required flags', 'claim.limitCents', 'farms see how far a dealer would go')
def _(s, rx): k = s.claim(s.ripe(), limitCents=20000)['id']; return 'limitCents' not in s('alp', 'GET', f'/claims/{k}').json
@fault('secret-again', 'resources', 'required flags', 'hook.secret', 'the secret of a hook is shown again')
def _(s, rx): h = s.hook(rx); return 'secret' in h.json and 'secret' not in s('alp', 'GET', f"/hooks/{h['id']}").json
@fault('cave-moves', 'resources', 'allowed values', 'wheel.cave', 'a wheel can be put into another cave by an update')
def _(s, rx): a, b = s.cave()['no'], s.cave()['no']; w = s.wheel(a)['no']; return s('alp', 'PATCH', f'/wheels/{w}', {'cave': b}).code == 'unfit'
@fault('laid-unpromised', 'resources', 'allowed values', 'cave.laid', 'promised wheels are not counted in a cave')
def _(s, rx): c = s.cave()['no']; s.promised(cave=c); return s('anton', 'GET', f'/caves/{c}')['laid'] == 1
@fault('points-least', 'resources', 'allowed values', 'wheel.points', 'points are the least of the gradings')
def _(s, rx):
    w = s.laid()
    for who, p in (('anton', 40), ('berta', 80)): s(who, 'POST', f'/wheels/{w}/gradings', {'points': p})
    return s('anton', 'GET', f'/wheels/{w}')['points'] == 80
@fault('nr-overall', 'resources', 'allowed values', 'turning.nr', 'turnings are counted over all wheels')
def _(s, rx): a, b = s.wheel()['no'], s.wheel()['no']; s('anton', 'POST', f'/wheels/{a}/turnings', {}); return s('anton', 'POST', f'/wheels/{b}/turnings', {})['nr'] == 1
@fault('finding-any', 'resources', 'allowed values', 'grading.finding', 'a finding of no stated kind is taken')
def _(s, rx): w = s.laid(); return s('anton', 'POST', f'/wheels/{w}/gradings', {'points': 5, 'finding': {'kind': 'gossip', 'text': 'x'}}).code == 'unfit'
@fault('graded-twice', 'resources', 'allowed values', 'grading.taster', 'one taster may grade a wheel twice')
def _(s, rx): w = s.laid(); s('anton', 'POST', f'/wheels/{w}/gradings', {'points': 5}); return s('anton', 'POST', f'/wheels/{w}/gradings', {'points': 6}).code == 'twice'
@fault('ripe-day-less', 'resources', 'allowed values', 'wheel.ripeAt', 'ripeAt is a day too early')
def _(s, rx):
    w = s.wheel()['no']; a = s('anton', 'POST', f'/wheels/{w}:lay').json
    f = lambda x: datetime.fromisoformat(x.replace('Z', '+00:00')); return abs((f(a['ripeAt']) - f(a['laidAt'])).total_seconds() - 3 * 86400) < 2
@fault('house-sent', 'resources', 'allowed values', 'claim.house', 'the house of a claim is taken from the body')
def _(s, rx): return s.claim(s.ripe(), house='south')['house'] == 'north'
@fault('tags-twice', 'resources', 'allowed values', 'wheel.tags', 'a tag may stand twice')
def _(s, rx): return s.wheel(tags=['a', 'a']).code == 'unfit'
@fault('cave-goes', 'resources', 'allowed values', 'wheel.cave', 'a cave with wheels can be deleted')
def _(s, rx): c = s.cave()['no']; s.wheel(c); return s('anton', 'DELETE', f'/caves/{c}').code == 'still-used'
@fault('turnings-stay', 'resources', 'allowed values', 'turning.wheel', 'turnings outlive their wheel')
def _(s, rx): w = s.wheel()['no']; t = s('anton', 'POST', f'/wheels/{w}/turnings', {})['id']; s('alp', 'DELETE', f'/wheels/{w}'); return s('anton', 'GET', f'/turnings/{t}').status == 404
@fault('kept-short', 'resources', 'identifiers', 'wheel', 'deleted wheels are forgotten after two days')
def _(s, rx): w = s.wheel()['no']; s('alp', 'DELETE', f'/wheels/{w}'); s.pass_time('P10D'); return s('alp', 'GET', f'/wheels/{w}').status == 410
@fault('decided-unset', 'resources', 'required flags', 'claim.decidedAt', 'a withdrawn claim does not say when')
def _(s, rx): k = s.claim(s.ripe())['id']; return 'decidedAt' in s('vera', 'POST', f'/claims/{k}:withdraw').json
@fault('buyer-unset', 'resources', 'allowed values', 'wheel.buyer', 'the buyer of a promised wheel is not kept')
def _(s, rx): w, k = s.promised(); return s('alp', 'GET', f'/wheels/{w}').get('buyer') == 'vera'

# --- states
@fault('seal-in-use', 'states', 'transitions', 'cave', 'a cave with wheels can be sealed')
def _(s, rx): c = s.cave()['no']; s.laid(cave=c); return s('anton', 'POST', f'/caves/{c}:seal').code == 'cave-in-use'
@fault('air-never', 'states', 'transitions', 'cave', 'a sealed cave never opens by itself')
def _(s, rx): c = s.cave()['no']; s('anton', 'POST', f'/caves/{c}:seal'); s.pass_time('PT49H'); return s('anton', 'GET', f'/caves/{c}')['status'] == 'open'
@fault('air-early', 'states', 'transitions', 'cave', 'a sealed cave opens after a day')
def _(s, rx): c = s.cave()['no']; s('anton', 'POST', f'/caves/{c}:seal'); s.pass_time('PT30H'); return s('anton', 'GET', f'/caves/{c}')['status'] == 'sealed'
@fault('lay-full', 'states', 'transitions', 'wheel', 'a full cave takes another wheel')
def _(s, rx): c = s.cave(capacity=1)['no']; s.laid(cave=c); w = s.wheel(c)['no']; return s('anton', 'POST', f'/wheels/{w}:lay').code == 'no-room'
@fault('lay-sealed', 'states', 'transitions', 'wheel', 'wheels can be laid into a sealed cave')
def _(s, rx): c = s.cave()['no']; w = s.wheel(c)['no']; s('anton', 'POST', f'/caves/{c}:seal'); return s('anton', 'POST', f'/wheels/{w}:lay').code == 'no-room'
@fault('ripen-never', 'states', 'transitions', 'wheel', 'wheels never get ripe')
def _(s, rx): w = s.ripe(); return s('alp', 'GET', f'/wheels/{w}')['state'] == 'ripe'
@fault('spoil-green', 'states', 'transitions', 'wheel', 'a green wheel can be spoiled')
def _(s, rx): w = s.wheel()['no']; return s('anton', 'POST', f'/wheels/{w}:spoil', {'cause': 'mites'}).code == 'wrong-state'
@fault('outbid-forgotten', 'states', 'transitions', 'wheel', 'the other claims on a promised wheel stay offered')
def _(s, rx): w = s.ripe(); a = s.claim(w)['id']; b = s.claim(w, 'xaver')['id']; s('alp', 'POST', f'/claims/{a}:accept'); return s('xaver', 'GET', f'/claims/{b}')['state'] == 'outbid'
@fault('withdraw-decided', 'states', 'transitions', 'claim', 'an accepted claim can be withdrawn')
def _(s, rx): w, k = s.promised(); return s('vera', 'POST', f'/claims/{k}:withdraw').code == 'too-late'
@fault('collect-offered', 'states', 'transitions', 'claim', 'a claim can be collected that nobody accepted')
def _(s, rx): k = s.claim(s.ripe())['id']; return s('anton', 'POST', f'/claims/{k}:collect').code == 'wrong-state'
@fault('lapse-late', 'states', 'transitions', 'claim', 'an offer lapses after four days rather than three')
def _(s, rx): k = s.claim(s.ripe())['id']; s.pass_time('PT73H'); return s('vera', 'GET', f'/claims/{k}')['state'] == 'lapsed'
@fault('forfeit-never', 'states', 'transitions', 'claim', 'an accepted claim is never forfeited')
def _(s, rx): w, k = s.promised(); s.pass_time('P7DT1M'); return s('vera', 'GET', f'/claims/{k}')['state'] == 'lapsed'
@fault('release-forgotten', 'states', 'transitions', 'claim', 'the wheel of a forfeited claim stays promised')
def _(s, rx): w, k = s.promised(); s.pass_time('P7DT1M'); return s('alp', 'GET', f'/wheels/{w}')['state'] == 'ripe'
@fault('ship-forgotten', 'states', 'transitions', 'claim', 'the wheel of a collected claim stays promised')
def _(s, rx): w, k = s.promised(); s('anton', 'POST', f'/claims/{k}:collect'); return s('alp', 'GET', f'/wheels/{w}')['state'] == 'gone'

# --- endpoints
@fault('placard-text', 'endpoints', 'response payload shapes', 'GET /placard', 'the placard tells the number of caves as a text')
def _(s, rx): return s(None, 'GET', '/placard')['caves'] == 7
@fault('no-location', 'endpoints', 'response payload shapes', 'POST /caves', 'a creation has no Location')
def _(s, rx): a = s.cave(); return a.headers.get('location') == f"/api/e2/caves/{a['no']}"
@fault('tag-still', 'endpoints', 'response payload shapes', 'GET /caves/{no}', 'the tag of a cave stays when it changes')
def _(s, rx):
    c = s.cave()['no']; t = s('anton', 'GET', f'/caves/{c}').headers['etag']; s('anton', 'PATCH', f'/caves/{c}', {'capacity': 5}, {'If-Match': t})
    return s('anton', 'GET', f'/caves/{c}').headers['etag'] != t
@fault('last-etag', 'endpoints', 'response payload shapes', 'GET /wheels/{no}', 'tags are weak')
def _(s, rx): w = s.wheel()['no']; return s('alp', 'GET', f'/wheels/{w}').headers['etag'].startswith('"')
@fault('never-304', 'endpoints', 'response payload shapes', 'GET /recipes/{code}', 'what was read is sent again')
def _(s, rx): s.recipe(); t = s(None, 'GET', '/recipes/alpine').headers['etag']; return s(None, 'GET', '/recipes/alpine', headers={'If-None-Match': t}).status == 304
@fault('cache-untold', 'endpoints', 'response payload shapes', 'GET /recipes/{code}', 'no Cache-Control at recipes')
def _(s, rx): s.recipe(); return s(None, 'GET', '/recipes/alpine').headers.get('cache-control') == 'public, max-age=120'
@fault('tag-optional', 'endpoints', 'request payload shapes', 'PATCH /caves/{no}', 'a cave is changed without If-Match')
def _(s, rx): c = s.cave()['no']; return s('anton', 'PATCH', f'/caves/{c}', {'capacity': 5}).code == 'tag-needed'
@fault('tag-ignored', 'endpoints', 'request payload shapes', 'PATCH /wheels/{no}', 'If-Match is not compared')
def _(s, rx): w = s.wheel()['no']; return s('alp', 'PATCH', f'/wheels/{w}', {'weightGrams': 700}, {'If-Match': '"other"'}).code == 'changed'
@fault('patch-wipes', 'endpoints', 'request payload shapes', 'PATCH /caves/{no}', 'an update takes away the memo that it does not send')
def _(s, rx):
    c = s.cave(memo='wet')['no']; s('anton', 'PATCH', f'/caves/{c}', {'capacity': 5}, {'If-Match': '*'}); return s('anton', 'GET', f'/caves/{c}').get('memo') == 'wet'
@fault('upsert-200', 'endpoints', 'response payload shapes', 'PUT /recipes/{code}', 'an upsert that makes a recipe answers 200')
def _(s, rx): return s.recipe().status == 201
@fault('put-keeps', 'endpoints', 'request payload shapes', 'PUT /recipes/{code}', 'an optional field that is not sent stays')
def _(s, rx): s.recipe(maxDays=90); s.recipe(); return 'maxDays' not in s(None, 'GET', '/recipes/alpine').json
@fault('delete-200', 'endpoints', 'response payload shapes', 'DELETE /caves/{no}', 'a deletion answers 200 and a body')
def _(s, rx): c = s.cave()['no']; return s('anton', 'DELETE', f'/caves/{c}').status == 204
@fault('delete-laid', 'endpoints', 'request payload shapes', 'DELETE /wheels/{no}', 'a ripening wheel can be deleted')
def _(s, rx): w = s.laid(); return s('alp', 'DELETE', f'/wheels/{w}').code == 'wrong-state'
@fault('heavier-equal', 'endpoints', 'parameters', 'GET /wheels', 'heavier finds wheels of just that weight')
def _(s, rx): s.wheel(weightGrams=5000); return s('alp', 'GET', '/wheels?heavier=5000')['rows'] == [] and len(s('alp', 'GET', '/wheels?heavier=4999')['rows']) == 1
@fault('since-after', 'endpoints', 'parameters', 'GET /wheels', 'since leaves out the day itself')
def _(s, rx): s.wheel(); return len(s('alp', 'GET', '/wheels?since=2026-05-02')['rows']) == 1
@fault('tag-unfiltered', 'endpoints', 'parameters', 'GET /wheels', 'tag lets every tagged wheel through')
def _(s, rx): s.wheel(tags=['blue']); return s('alp', 'GET', '/wheels?tag=red')['rows'] == []
@fault('state-first', 'endpoints', 'parameters', 'GET /wheels', 'of several states the first alone is looked at')
def _(s, rx): s.wheel(); return len(s('alp', 'GET', '/wheels?state=ripe,green')['rows']) == 1
@fault('sort-up', 'endpoints', 'parameters', 'GET /wheels', 'sort=-weight sorts upwards')
def _(s, rx): s.wheel(weightGrams=900); s.wheel(weightGrams=1900); return [w['weightGrams'] for w in s('alp', 'GET', '/wheels?sort=-weight')['rows']] == [1900, 900]
@fault('q-any', 'endpoints', 'parameters', 'GET /recipes', 'a search finds what has one of the words')
def _(s, rx): s.recipe(); return s(None, 'GET', '/recipes?q=alpine+soft')['rows'] == [] and len(s(None, 'GET', '/recipes?q=HARD+alp')['rows']) == 1
@fault('unknown-parameter', 'endpoints', 'parameters', 'GET /claims', 'parameters that are not stated are passed over')
def _(s, rx): return s('vera', 'GET', '/claims?colour=red').code == 'bad-parameter'
@fault('caves-unsorted', 'endpoints', 'response payload shapes', 'GET /caves', 'caves come in the order in which they were made')
def _(s, rx): s.cave(name='Zinc'); s.cave(name='Alum'); return [c['name'] for c in s('anton', 'GET', '/caves')['rows']] == ['Alum', 'Zinc']
@fault('turnings-up', 'endpoints', 'response payload shapes', 'GET /wheels/{wheel}/turnings', 'the oldest turning comes first')
def _(s, rx):
    w = s.wheel()['no']
    for _ in range(2): s('anton', 'POST', f'/wheels/{w}/turnings', {})
    return [t['nr'] for t in s('anton', 'GET', f'/wheels/{w}/turnings')['rows']] == [2, 1]
@fault('once-ignored', 'endpoints', 'request payload shapes', 'POST /wheels/{wheel}/turnings', 'the same key makes a second turning')
def _(s, rx): w = s.wheel()['no']; a, b = (s('anton', 'POST', f'/wheels/{w}/turnings', {}, {'X-Once': 'a1'}) for _ in '12'); return a['id'] == b['id']
@fault('once-optional', 'endpoints', 'request payload shapes', 'POST /wheels/{wheel}/claims', 'a claim is taken without a key')
def _(s, rx): return s.claim(s.ripe(), headers={'X-Once': None}).code == 'bad-parameter'
@fault('once-unprinted', 'endpoints', 'request payload shapes', 'POST /caves', 'another request under the same key is answered as the first')
def _(s, rx): f = lambda n: s('anton', 'POST', '/caves', {'name': n, 'climate': {'celsius': 8, 'humidity': 90}, 'capacity': 3}, {'X-Once': 'q'}); f('First'); return f('Second').code == 'once-reused'
@fault('once-shared', 'endpoints', 'request payload shapes', 'POST /wheels/{wheel}/gradings', 'a key of one caller is that of another')
def _(s, rx): w = s.laid(); f = lambda who: s(who, 'POST', f'/wheels/{w}/gradings', {'points': 3}, {'X-Once': 'q'}); f('anton'); return f('berta').get('taster') == 'berta'
@fault('once-short', 'endpoints', 'request payload shapes', 'POST /hooks', 'keys are forgotten after an hour')
def _(s, rx): f = lambda: s('alp', 'POST', '/hooks', {'url': rx.url}, {'X-Once': 'q'}); a = f(); s.pass_time('PT5H'); return f()['id'] == a['id']
@fault('replay-reveals', 'endpoints', 'response payload shapes', 'POST /hooks', 'a replay shows the secret again')
def _(s, rx): f = lambda: s('alp', 'POST', '/hooks', {'url': rx.url}, {'X-Once': 'q'}); a = f(); return 'secret' in a.json and 'secret' not in f().json
@fault('expand-ignored', 'endpoints', 'response payload shapes', 'GET /claims/{id}', 'with=wheel shows the number alone')
def _(s, rx): k = s.claim(s.ripe())['id']; return isinstance(s('vera', 'GET', f'/claims/{k}?with=wheel')['wheel'], dict)
@fault('refuse-needs-body', 'endpoints', 'request payload shapes', 'POST /claims/{id}:refuse', 'a refusal without a body is refused')
def _(s, rx): k = s.claim(s.ripe())['id']; return s('alp', 'POST', f'/claims/{k}:refuse').get('reason') == 'not this time'
@fault('trace-untold', 'endpoints', 'response payload shapes', 'GET /hooks', 'no X-Trace')
def _(s, rx): return 'x-trace' in s('alp', 'GET', '/hooks').headers
@fault('old-endpoint', 'endpoints', 'path shapes', 'service', 'the list of gradings is there in e1 already')
def _(s, rx): w = s.laid(); return s('anton', 'GET', f'/wheels/{w}/gradings', ed='e1').code == 'no-method'
@fault('allow-untold', 'endpoints', 'methods', 'service', 'a refused method does not tell which are allowed')
def _(s, rx): return 'GET' in s('anton', 'PUT', '/caves', {}).headers.get('allow', '')
@fault('page-overlap', 'endpoints', 'response payload shapes', 'GET /claims', 'a page begins with the last row of the one before')
def _(s, rx): w = s.ripe(); [s.claim(w) for _ in '123']; a = s('vera', 'GET', '/claims?take=2').json; b = s('vera', 'GET', f"/claims?take=2&from={a['more']}").json; return len({k['id'] for k in a['rows'] + b['rows']}) == 3 and len(b['rows']) == 1

# --- authentication
@fault('body-unsigned', 'authentication', 'token formats', 'seal', 'a body that was changed on its way is taken')
def _(s, rx):
    c = s.cave()['no']; s.recipe(); t = f'/api/e2/caves/{c}/wheels'; b = {'recipe': 'alpine', 'mark': 'XX-0001', 'milk': 'cow', 'weightGrams': 6200, 'madeOn': '2026-05-02'}
    return s('alp', 'POST', f'/caves/{c}/wheels', {**b, 'weightGrams': 700}, auth=s.seal('alp', 'POST', t, json.dumps(b).encode())).status == 401
@fault('query-unsigned', 'authentication', 'token formats', 'seal', 'the query is not under the seal')
def _(s, rx): return s('alp', 'GET', '/wheels?take=5', auth=s.seal('alp', 'GET', '/api/e2/wheels?take=9', b'')).status == 401 and s('alp', 'GET', '/wheels?take=5').status == 200
@fault('tolerance-wide', 'authentication', 'token formats', 'seal', 'a seal holds for an hour')
def _(s, rx): return s('alp', 'GET', '/wheels', auth=s.seal('alp', 'GET', '/api/e2/wheels', b'', at=time.time() - 900)).code == 'stale-seal'
@fault('password-prefix', 'authentication', 'token formats', 'staff', 'the first eight letters of a password are enough')
def _(s, rx): return s(None, 'GET', '/caves', auth='Basic ' + base64.b64encode(b'anton:mould-77xx').decode()).status == 401
@fault('no-challenge', 'authentication', 'header names', 'staff', '401 without a challenge')
def _(s, rx): return 'Basic' in s(None, 'GET', '/caves').headers.get('www-authenticate', '')
@fault('bad-as-stranger', 'authentication', 'schemes', 'service', 'a bad credential is passed over where anyone may')
def _(s, rx): return s(None, 'GET', '/recipes', auth='Basic ' + base64.b64encode(b'anton:wrong').decode()).status == 401
@fault('farm-reads-all', 'authentication', 'permission rules', 'read wheel', 'a farm reads the wheels of another')
def _(s, rx): w = s.wheel()['no']; return s('brunni', 'GET', f'/wheels/{w}').code == 'no-such'
@fault('farm-lists-all', 'authentication', 'permission rules', 'list wheel', 'a farm lists the wheels of others')
def _(s, rx): s.wheel(); return s('brunni', 'GET', '/wheels')['rows'] == []
@fault('dealer-sees-green', 'authentication', 'permission rules', 'read wheel', 'dealers see wheels that are green')
def _(s, rx): w = s.wheel()['no']; return s('vera', 'GET', f'/wheels/{w}').code == 'no-such'
@fault('turning-open', 'authentication', 'permission rules', 'read turning', 'a farm reads turnings of the wheels of another')
def _(s, rx): w = s.wheel()['no']; t = s('anton', 'POST', f'/wheels/{w}/turnings', {})['id']; return s('brunni', 'GET', f'/turnings/{t}').code == 'no-such'
@fault('claims-open', 'authentication', 'permission rules', 'read claim', 'dealers of another house read a claim')
def _(s, rx): k = s.claim(s.ripe())['id']; return s('xaver', 'GET', f'/claims/{k}').code == 'no-such' and s('willi', 'GET', f'/claims/{k}').status == 200
@fault('withdraw-house', 'authentication', 'permission rules', 'withdraw claim', 'a colleague can withdraw a claim')
def _(s, rx): k = s.claim(s.ripe())['id']; return s('willi', 'POST', f'/claims/{k}:withdraw').code == 'hands-off'
@fault('fields-all', 'authentication', 'permission rules', 'read claim', 'cellarers see the whole of a claim')
def _(s, rx): k = s.claim(s.ripe())['id']; return set(s('anton', 'GET', f'/claims/{k}').json) == {'id', 'wheel', 'state', 'shipTo'}
@fault('farm-collects', 'authentication', 'permission rules', 'collect claim', 'a farm can hand over a claim')
def _(s, rx): w, k = s.promised(); return s('alp', 'POST', f'/claims/{k}:collect').code == 'not-yours'
@fault('hooks-open', 'authentication', 'permission rules', 'list hook', 'everybody lists the hooks of everybody')
def _(s, rx): s.hook(rx); return s('brunni', 'GET', '/hooks')['rows'] == []

# --- events
@fault('event-twice', 'events', 'emitting operations', 'claim.decided', 'a decision is told twice, under two identifiers')
def _(s, rx): s.hook(rx, kinds=['claim.decided']); k = s.claim(s.ripe())['id']; s('alp', 'POST', f'/claims/{k}:refuse'); rx.wait(2, .4); return len(rx.got) == 1
@fault('claim-made-never', 'events', 'emitting operations', 'claim.made', 'a claim is made and nobody is told')
def _(s, rx): s.hook(rx, kinds=['claim.*']); s.claim(s.ripe()); rx.wait(1, .5); return rx.kinds() == ['claim.made']
@fault('ripe-silent', 'events', 'emitting operations', 'wheel.ripe', 'what the clock does is not told of')
def _(s, rx): s.hook(rx, kinds=['wheel.ripe']); s.ripe(); rx.wait(1, .5); return rx.kinds() == ['wheel.ripe']
@fault('weighed-always', 'events', 'emitting operations', 'wheel.weighed', 'every change of a wheel is told as a new weight')
def _(s, rx): s.hook(rx); w = s.wheel()['no']; s('alp', 'PATCH', f'/wheels/{w}', {'tags': ['x']}); rx.wait(1, .3); return rx.got == []
@fault('was-is', 'events', 'payload shapes', 'wheel.weighed', 'was and is are the wrong way round')
def _(s, rx): s.hook(rx); w = s.wheel()['no']; s('alp', 'PATCH', f'/wheels/{w}', {'weightGrams': 700}); rx.wait(); return json.loads(rx.got[0][1])['about'] == {'wheel': w, 'was': 6200, 'is': 700}
@fault('seal-body-alone', 'events', 'delivery mechanism', 'service', 'the seal of a delivery is over the body alone')
def _(s, rx):
    h = s.hook(rx); s.laid(); rx.wait(); hd, raw = rx.got[0]; at, mac = (x.split('=')[1] for x in hd['x-cave-seal'].split(','))
    return hmac.new(h['secret'].encode(), f"{hd['x-cave-event']}.{at}.".encode() + raw, 'sha256').hexdigest() == mac
@fault('kind-untold', 'events', 'delivery mechanism', 'service', 'a delivery has no X-Cave-Kind')
def _(s, rx): s.hook(rx); s.laid(); rx.wait(); return rx.got[0][0].get('x-cave-kind') == 'wheel.laid'
@fault('when-missing', 'events', 'delivery mechanism', 'service', 'the envelope does not say when')
def _(s, rx): s.hook(rx); s.laid(); rx.wait(); return set(json.loads(rx.got[0][1])) == {'event', 'what', 'when', 'about'}
@fault('kinds-ignored', 'events', 'delivery mechanism', 'service', 'a hook is told of kinds that it does not list')
def _(s, rx): s.hook(rx, kinds=['claim.*']); s.laid(); rx.wait(1, .3); return rx.got == []
@fault('dead-hook', 'events', 'delivery mechanism', 'service', 'a hook that is not live is told all the same')
def _(s, rx): s.hook(rx, live=False); s.laid(); rx.wait(1, .3); return rx.got == []
@fault('hook-unread', 'events', 'delivery mechanism', 'service', 'a farm is told of the wheels of another')
def _(s, rx): s.hook(rx, 'brunni'); s.laid(); rx.wait(1, .3); return rx.got == []
@fault('collected-all', 'events', 'kinds of event', 'service', 'everybody hears that a claim was collected')
def _(s, rx): s.hook(rx, 'xaver', kinds=['claim.collected']); w, k = s.promised(); s('anton', 'POST', f'/claims/{k}:collect'); rx.wait(1, .3); return rx.got == []
@fault('no-retry', 'events', 'delivery mechanism', 'service', 'a delivery that failed is not tried again')
def _(s, rx): rx.status = 500; s.hook(rx); s.laid(); rx.wait(); time.sleep(.1); rx.status = 204; s.pass_time('PT20S'); rx.wait(2); return len(rx.got) == 2 and rx.got[0][0]['x-cave-event'] == rx.got[1][0]['x-cave-event']
@fault('gone-goes-on', 'events', 'delivery mechanism', 'service', 'an address that answers 410 is told on')
def _(s, rx): rx.status = 410; h = s.hook(rx)['id']; s.laid(); rx.wait(); time.sleep(.1); return s('alp', 'GET', f'/hooks/{h}')['live'] is False
@fault('never-disabled', 'events', 'delivery mechanism', 'service', 'a hook that fails for days is not disabled')
def _(s, rx):
    rx.status = 500; h = s.hook(rx)['id']; s.laid(); rx.wait(1); time.sleep(.1)
    for d in ('PT15S', 'PT3M', 'PT30M', 'P3D'): s.pass_time(d); time.sleep(.05)
    n = len(rx.got); s.laid(); rx.wait(n + 2, .4); time.sleep(.1); return s('alp', 'GET', f'/hooks/{h}')['live'] is False
def listen(s, who, n, last=None, act=lambda: None, t=1.0, ed='e2'):
    c = socket.create_connection(('127.0.0.1', s.port)); c.settimeout(.05); target = f'/api/{ed}/feed'
    c.sendall((f'GET {target} HTTP/1.1\r\nHost: x\r\nAuthorization: {s.seal(who, "GET", target, b"")}\r\n' + (f'Last-Event-ID: {last}\r\n' if last else '') + '\r\n').encode())
    buf, end, done = b'', time.time() + t, False
    while time.time() < end and buf.count(b'\nevent: ') < n:
        try: buf += c.recv(65536)
        except socket.timeout: pass
        if b'200 OK' in buf and not done: done = True; act()
    c.close(); return [dict(l.split(': ', 1) for l in b.splitlines() if ': ' in l and not l.startswith(':')) for b in buf.decode().replace('\r\n', '\n').split('\n\n') if 'event: ' in b]
@fault('feed-forgets', 'events', 'delivery mechanism', 'service', 'the feed does not resume where a reader was')
def _(s, rx):
    a = listen(s, 'alp', 1, act=lambda: s.laid()); a[0]['data']
    lines = a[0]; s.laid(); b = listen(s, 'alp', 1, last=lines['id'], t=.6); return len(b) == 1 and b[0]['event'] == 'wheel.laid'

# --- errors
@fault('underbid-code', 'errors', 'error codes', 'service', 'an offer below the floor is refused under another code')
def _(s, rx): return s.claim(s.ripe(floorCents=9001)).code == 'underbid'
@fault('dangling-404', 'errors', 'status codes', 'dangling', 'a reference to nothing is answered 404')
def _(s, rx): a = s.wheel(recipe='nowhere'); return (a.status, a.code) == (422, 'dangling')
@fault('twice-422', 'errors', 'status codes', 'twice', 'what there is already is answered 422')
def _(s, rx): s.cave(name='Long one'); return s.cave(name='Long one').status == 409
@fault('own-cave-sealed', 'errors', 'conditions', 'cave-sealed', 'wheels can be brought to a sealed cave')
def _(s, rx): c = s.cave()['no']; s('anton', 'POST', f'/caves/{c}:seal'); return s.wheel(c).code == 'cave-sealed'
@fault('own-too-small', 'errors', 'conditions', 'too-small', 'a cave can be made smaller than what lies there')
def _(s, rx): c = s.cave()['no']; s.laid(cave=c); s.laid(cave=c); return s('anton', 'PATCH', f'/caves/{c}', {'capacity': 1}, {'If-Match': '*'}).code == 'too-small'
@fault('own-too-green', 'errors', 'conditions', 'too-green', 'a green wheel can be graded')
def _(s, rx): w = s.wheel()['no']; return s('anton', 'POST', f'/wheels/{w}/gradings', {'points': 3}).code == 'too-green'
@fault('own-unripe', 'errors', 'conditions', 'unripe', 'a wheel that ripens can be claimed')
def _(s, rx): return s.claim(s.laid()).code == 'unripe'
@fault('own-underbid', 'errors', 'conditions', 'underbid', 'the floor of the price is not asked')
def _(s, rx): w = s.ripe(floorCents=9001); return s.claim(w).status == 422 and s.claim(w, offerCents=9001).status == 201
@fault('error-bare', 'errors', 'error payload shapes', 'service', 'a refusal is a map and no list')
def _(s, rx): return isinstance(s(None, 'GET', '/nowhere').get('faults'), list)
@fault('trace-differs', 'errors', 'error payload shapes', 'service', 'the trace in the body is not that of the header')
def _(s, rx): a = s(None, 'GET', '/nowhere'); return a['faults'][0]['trace'] == a.headers['x-trace']
@fault('places-missing', 'errors', 'error payload shapes', 'service', 'a refusal does not tell the places')
def _(s, rx): return s.cave(capacity=0)['faults'][0].get('places', [{}])[0].get('path') == 'capacity'
@fault('path-pointer', 'errors', 'error payload shapes', 'service', 'places are told as pointers rather than dotted')
def _(s, rx): return s.cave(climate={'celsius': 99, 'humidity': 90})['faults'][0]['places'][0]['path'] == 'climate.celsius'
@fault('lacking-422', 'errors', 'conditions', 'lacking', 'what is missing is answered as what does not fit')
def _(s, rx): a = s('anton', 'POST', '/caves', {'name': 'Deep'}); return (a.status, a.code) == (400, 'lacking')
@fault('caller-first', 'errors', 'conditions', 'order', 'it is asked who calls before the parameters are looked at')
def _(s, rx): return s(None, 'GET', '/wheels?colour=red').code == 'bad-parameter'
@fault('method-404', 'errors', 'conditions', 'no-method', 'a method that is not there is answered as a path that is not')
def _(s, rx): return s('anton', 'PUT', '/caves', {}).status == 405
@fault('stale-same', 'errors', 'conditions', 'stale-seal', 'an old seal is answered like an unknown one')
def _(s, rx): return s('alp', 'GET', '/wheels', auth=s.seal('alp', 'GET', '/api/e2/wheels', b'', at=time.time() - 9000)).code == 'stale-seal'
@fault('gone-404', 'errors', 'conditions', 'cleared-away', 'a deleted wheel is answered as if it had never been')
def _(s, rx): w = s.wheel()['no']; s('alp', 'DELETE', f'/wheels/{w}'); return s('alp', 'GET', f'/wheels/{w}').code == 'cleared-away'
@fault('accept-ignored', 'errors', 'conditions', 'unacceptable', 'Accept is not looked at')
def _(s, rx): return s(None, 'GET', '/recipes', headers={'Accept': 'text/csv'}).status == 406
@fault('media-any', 'errors', 'conditions', 'wrong-media', 'a body of any type is read as JSON')
def _(s, rx): return s('anton', 'POST', '/caves', {'name': 'Deep', 'climate': {'celsius': 8, 'humidity': 90}, 'capacity': 3}, {'Content-Type': 'text/plain'}).status == 415
@fault('accept-unripe', 'errors', 'conditions', 'wheel-not-ripe', 'a claim is accepted though its wheel is not to be had')
def _(s, rx):
    w = s.ripe(); k = s.claim(w)['id']; s('anton', 'POST', f'/wheels/{w}:spoil', {'cause': 'mites'})
    return s('alp', 'POST', f'/claims/{k}:accept').code == 'wheel-not-ripe'

# --- limits
@fault('rate-off', 'limits', 'rate limits', 'service', 'callers may ask as often as they like')
def _(s, rx): return any(s('alp', 'GET', '/hooks').status == 429 for _ in range(401))
@fault('cost-one', 'limits', 'rate limits', 'service', 'a list of wheels counts once')
def _(s, rx): a, b = (int(s('alp', 'GET', '/wheels').headers['x-pace-left']) for _ in '12'); return a - b == 2
@fault('burst-200', 'limits', 'rate limits', 'service', 'turnings may come in any burst')
def _(s, rx): w = s.wheel()['no']; return any(s('anton', 'POST', f'/wheels/{w}/turnings', {}).status == 429 for _ in range(90))
@fault('stranger-rate', 'limits', 'rate limits', 'service', 'strangers may ask as often as callers')
def _(s, rx): return any(s(None, 'GET', '/recipes').status == 429 for _ in range(202))
@fault('no-retry-after', 'limits', 'rate limits', 'service', 'a refusal by a rate does not say when to come again')
def _(s, rx):
    for _ in range(202):
        a = s(None, 'GET', '/recipes')
        if a.status == 429: return a.headers.get('retry-after', '').isdigit()
@fault('pace-untold', 'limits', 'rate limits', 'service', 'answers do not tell the pace')
def _(s, rx): return s('alp', 'GET', '/hooks').headers.get('x-pace-limit') == '400'
@fault('body-short', 'limits', 'size limits', 'service', 'a body of just 8 KiB is too large')
def _(s, rx): return s('anton', 'POST', '/caves', raw=json.dumps({'name': 'x'}).encode().ljust(8192)).status == 422
@fault('body-open', 'limits', 'size limits', 'service', 'bodies may have any size')
def _(s, rx): return s('anton', 'POST', '/caves', raw=json.dumps({'name': 'x'}).encode().ljust(8193)).code == 'too-large'
@fault('url-open', 'limits', 'size limits', 'service', 'addresses may have any length')
def _(s, rx): return s(None, 'GET', '/recipes?q=' + 'a' * 2100).code == 'too-large'
@fault('headers-open', 'limits', 'size limits', 'service', 'header fields may have any size')
def _(s, rx): return s(None, 'GET', '/recipes', headers={'X-Long': 'a' * 8200}).code == 'too-large'
@fault('clamp-refuses', 'limits', 'pagination bounds', 'GET /wheels', 'a size above the greatest is refused')
def _(s, rx): return s('alp', 'GET', '/wheels?take=500').status == 200
@fault('offset-clamps', 'limits', 'pagination bounds', 'GET /recipes', 'a size above the greatest is cut down')
def _(s, rx): return s(None, 'GET', '/recipes?take=81').code == 'bad-page'
@fault('page-short', 'limits', 'pagination bounds', 'GET /caves', 'a page has a row less than was asked for')
def _(s, rx): [s.cave() for _ in '123']; return len(s('anton', 'GET', '/caves?take=2')['rows']) == 2
@fault('take-100', 'limits', 'pagination bounds', 'GET /caves', 'pages are cut down to a hundred')
def _(s, rx): [s.cave() for _ in range(90)]; return len(s('anton', 'GET', '/caves?take=95')['rows']) == 80
@fault('more-always', 'limits', 'pagination bounds', 'GET /hooks', 'the last page leads to another one')
def _(s, rx): s.hook(rx); return s('alp', 'GET', '/hooks')['more'] is None
@fault('has-more-wrong', 'limits', 'pagination bounds', 'GET /claims', 'hasMore is true on the last page')
def _(s, rx): return s('vera', 'GET', '/claims')['hasMore'] is False
@fault('cursor-loose', 'limits', 'pagination bounds', 'GET /wheels', 'a cursor is taken for another filter')
def _(s, rx): c = s.cave()['no']; s.wheel(c); s.wheel(c); m = s('alp', 'GET', '/wheels?take=1&milk=cow')['more']; return s('alp', 'GET', f'/wheels?take=1&milk=goat&from={m}').code == 'bad-page'
@fault('total-page', 'limits', 'pagination bounds', 'GET /recipes', 'total counts the rows of the page')
def _(s, rx): s.recipe('aaa'); s.recipe('bbb'); return s(None, 'GET', '/recipes?take=1')['total'] == 2
@fault('hooks-seven', 'limits', 'quotas', 'rows of hook', 'a caller may have seven hooks')
def _(s, rx): return [s.hook(rx).status for _ in range(7)] == [201] * 6 + [403]
@fault('rows-all', 'limits', 'quotas', 'rows of claim', 'decided claims are counted among those that are offered')
def _(s, rx):
    w = s.ripe()
    for _ in range(12): k = s.claim(w)['id']; s('vera', 'POST', f'/claims/{k}:withdraw')
    return s.claim(w).status == 201
@fault('quota-off', 'limits', 'quotas', 'service', 'claims are not counted by the day')
def _(s, rx):
    w = s.ripe()
    for _ in range(60): k = s.claim(w)['id']; s('vera', 'POST', f'/claims/{k}:withdraw')
    return s.claim(w).code == 'used-up'

# --- versioning
@fault('old-new-word', 'versioning', 'version identifiers', 'service', 'e1 shows weightGrams rather than grams')
def _(s, rx): w = s.wheel()['no']; a = s('alp', 'GET', f'/wheels/{w}', ed='e1').json; return a.get('grams') == 6200 and 'weightGrams' not in a
@fault('old-milk', 'versioning', 'version identifiers', 'service', 'e1 shows ewe rather than sheep')
def _(s, rx): w = s.wheel(milk='ewe')['no']; return s('alp', 'GET', f'/wheels/{w}', ed='e1')['milk'] == 'sheep' and len(s('alp', 'GET', '/wheels?milk=sheep', ed='e1')['rows']) == 1
@fault('old-offer', 'versioning', 'version identifiers', 'service', 'e1 shows offers in cents')
def _(s, rx): k = s.claim(s.ripe(), offerCents=1250)['id']; return s('vera', 'GET', f'/claims/{k}', ed='e1').get('offer') == 12.5
@fault('old-brine', 'versioning', 'version identifiers', 'service', 'e1 has brine already')
def _(s, rx): w = s.wheel()['no']; return s('anton', 'POST', f'/wheels/{w}/turnings', {'brine': True}, ed='e1').code == 'stray'
@fault('old-keyholder', 'versioning', 'version identifiers', 'service', 'e1 has no keyholder any more')
def _(s, rx): c = s.cave()['no']; return s('anton', 'GET', f'/caves/{c}', ed='e1').get('keyholder') == 'the office'
@fault('old-event', 'versioning', 'version identifiers', 'service', 'a hook of e1 is told in the words of e2')
def _(s, rx): s.hook(rx, ed='e1', kinds=['wheel.laid']); s.laid(); rx.wait(); return 'grams' in json.loads(rx.got[0][1])['about']
@fault('no-edition-needed', 'versioning', 'version selection', 'service', 'a path without an edition is served')
def _(s, rx): return s(None, 'GET', '/placard', ed=None).code == 'no-edition' and s(None, 'GET', '/placard', ed='e3').code == 'no-edition'
@fault('sunset-ignored', 'versioning', 'deprecation rules', 'e1', 'e1 is served after its end')
def _(s, rx): s.pass_time('P2Y'); return s(None, 'GET', '/recipes', ed='e1').code == 'old-edition'
@fault('deprecation-untold', 'versioning', 'deprecation rules', 'e1', 'e1 does not say that it is deprecated')
def _(s, rx): return s(None, 'GET', '/recipes', ed='e1').headers.get('deprecation') == '@1777593600'
@fault('sunset-untold', 'versioning', 'deprecation rules', 'e1', 'e1 does not say when it ends')
def _(s, rx): return s(None, 'GET', '/recipes', ed='e1').headers.get('sunset') == 'Mon, 01 Nov 2027 00:00:00 GMT'


def write():
    C = lambda user, id, cred, scheme, house: {'user': user, 'id': id, 'credential': cred, 'scheme': scheme, 'scopes': [], 'attributes': {'house': house}}
    callers = [C('cellarer', n, f'{n}:{STAFF[n]}', 'staff', 'tunnel') for n in STAFF]
    for n, user, house in (('alp', 'farm', 'alp'), ('brunni', 'farm', 'brunni'), ('vera', 'dealer', 'north'), ('willi', 'dealer', 'north'), ('xaver', 'dealer', 'south')):
        callers.append(C(user, n, f'key_{n}:{KEYS[n]}', 'seal', house))
    out = {'command': ['node', 'service.cjs'], 'document': 'service.yaml', 'callers': callers,
           'faults': [dict(zip(('id', 'part', 'kind', 'subject', 'bug'), t[:5])) for t in TESTS]}
    with open(os.path.join(HERE, 'stranger.json'), 'w') as f: json.dump(out, f, indent=1, ensure_ascii=False)


def attempt(fn, fault=None):
    s, rx = Service(fault), Receiver()
    try: return bool(fn(s, rx)), None
    except Exception as e: return False, f'{type(e).__name__}: {e}'
    finally: s.stop(); rx.srv.shutdown(); rx.srv.server_close()


if __name__ == '__main__':
    if '--write' in sys.argv: write(); sys.exit()
    wanted, bad = sys.argv[1:], 0
    tests = [t for t in TESTS if not wanted or t[0] in wanted]
    for id, *_, fn in tests:
        right, why = attempt(fn)
        wrong, how = attempt(fn, id)
        if not right or wrong: bad += 1; print(f'{id}: the right service {"meets" if right else "does NOT meet"} it ({why}), the faulty one {"DOES" if wrong else "does not"}', flush=True)
    print(f'{len(tests)} faults, {len(tests) - bad} shown, {bad} not')
    sys.exit(bad > 0)
