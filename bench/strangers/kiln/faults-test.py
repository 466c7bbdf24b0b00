"""Proves every fault of stranger.json by hand: its proof passes on the service as it is, and fails with the fault on.

    python3 faults-test.py            all faults
    python3 faults-test.py ID ...     some of them
    python3 faults-test.py -v         with what the faulty service gave

right-test.py goes through the document with the correct service.
"""
import base64, hashlib, hmac, http.client, http.server, json, os, re, socket, subprocess, sys, threading, time
from datetime import datetime, timedelta, timezone

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, 'stranger.json'), encoding='utf-8') as f:
    STRANGER = json.load(f)
KEYS = {c['id'].split('-')[1]: c['credential'] for c in STRANGER['callers'] if c['scheme'] == 'key' and not c.get('bad')}
BADGES = {c['id'].split('-')[1]: c['credential'] for c in STRANGER['callers'] if c['scheme'] == 'badge' and not c.get('bad')}
USERS = {'wanda': 'potter', 'bruno': 'potter', 'iris': 'potter', 'ada': 'stoker', 'hugo': 'stoker', 'mina': 'assayer', 'vera': 'assayer', 'otto': 'assayer'}


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.headers, self.text = status, headers, text

    @property
    def json(self):
        return json.loads(self.text)

    @property
    def wrong(self):
        return self.json.get('wrong') if self.text else None

    def __repr__(self):
        return f'{self.status} {self.text[:300]}'


class Ear:
    """A receiver of web hooks: keeps what came, answers with the statuses that it was told, then with 204."""

    def __init__(self):
        ear = self
        self.got, self.answers = [], []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers['content-length']))
                ear.got.append((dict((k.lower(), v) for k, v in self.headers.items()), body, self.path))
                status = ear.answers.pop(0) if ear.answers else 204
                self.send_response(status)
                self.send_header('content-length', '0')
                self.end_headers()

            def log_message(self, *a):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}/ear'
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def wait(self, n, seconds=4):
        end = time.time() + seconds
        while len(self.got) < n and time.time() < end:
            time.sleep(0.01)
        return self.got

    def quiet(self, seconds=0.4):
        time.sleep(seconds)
        return self.got

    def bodies(self):
        return [json.loads(b) for _, b, _ in self.got]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Kiln:
    def __init__(self, fault=None):
        cmd = STRANGER['command'] + ['--port', '0', '--clock-port', '0'] + (['--fault', fault] if fault else [])
        self.process = subprocess.Popen(cmd, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        ports = re.findall(r'127\.0\.0\.1:(\d+)', line)
        assert len(ports) == 2, line
        self.port, self.clock_port = map(int, ports)
        self.count = 0
        self.ears = []

    def close(self):
        for e in self.ears:
            e.close()
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def ear(self):
        e = Ear()
        self.ears.append(e)
        return e

    def send(self, method, path, who=None, body=None, headers=None, raw=None, base='/yard', port=None, timeout=15):
        c = http.client.HTTPConnection('127.0.0.1', port or self.port, timeout=timeout)
        h = dict(headers or {})
        if who in KEYS:
            h['Kiln-Key'] = KEYS[who]
        elif who:
            h['Kiln-Key'] = who
        if body is not None:
            raw = json.dumps(body, ensure_ascii=False).encode()
            h.setdefault('Content-Type', 'application/json')
        try:
            c.request(method, base + path, body=raw, headers=h)
            r = c.getresponse()
            return Answer(r.status, {k.lower(): v for k, v in r.getheaders()}, r.read().decode())
        finally:
            c.close()

    def get(self, path, who=None, **k): return self.send('GET', path, who, **k)
    def post(self, path, who=None, body=None, **k): return self.send('POST', path, who, body, **k)
    def put(self, path, who=None, body=None, **k): return self.send('PUT', path, who, body, **k)
    def delete(self, path, who=None, **k): return self.send('DELETE', path, who, **k)

    def patch(self, path, who=None, body=None, match='*', **k):
        h = k.pop('headers', {})
        if match is not None and path.startswith('/firings') and '/wares' not in path:
            h = {'If-Match': match, **h}
        return self.send('PATCH', path, who, body, headers=h, **k)

    def clock(self, **what):
        r = self.send('POST', '/', body={'advance': int(timedelta(**what).total_seconds() * 1000)}, base='', port=self.clock_port)
        assert r.status == 200, r
        return moment(r.json['now'])

    def clock_to(self, when):
        r = self.send('POST', '/', body={'now': when}, base='', port=self.clock_port)
        assert r.status == 200, r

    def now(self):
        return moment(self.send('GET', '/', base='', port=self.clock_port).json['now'])

    # what most proofs begin with
    def draft(self, **over):
        self.count += 1
        d = {'mark': f'mark {self.count}', 'clay': 'stoneware', 'cone': 6, **over}
        return {k: v for k, v in d.items() if v is not None}

    def ask(self, who='wanda', **over):
        return made(self.post('/firings', who, self.draft(**over)))

    def glaze_draft(self, **over):
        self.count += 1
        n = self.count
        d = {'code': f'celadon-{n:02d}', 'title': f'Celadon {n}', 'symbol': 'Ce' + ''.join('ABCDEFGHIJ'[int(x)] for x in f'{n:02d}'), 'span': {'low': 3, 'high': 9}, 'shown': True, **over}
        return {k: v for k, v in d.items() if v is not None}

    def glaze(self, who='mina', **over):
        return made(self.post('/glazes', who, self.glaze_draft(**over)))

    def ware_draft(self, glaze, **over):
        self.count += 1
        d = {'glaze': glaze, 'name': f'piece {self.count}', 'form': 'vase', 'height': 120, 'mass': 800, **over}
        return {k: v for k, v in d.items() if v is not None}

    def ware(self, firing, glaze, who='wanda', **over):
        return made(self.post(f'/firings/{firing}/wares', who, self.ware_draft(glaze, **over)))

    def accept(self, no, who='ada', bay='B2'): return good(self.post(f'/firings/{no}/accept', who, {'bay': bay}))
    def light(self, no, who='ada'): return good(self.post(f'/firings/{no}/light', who, {'degrees': 900}), 202)
    def stage(self, no, who='mina'): return good(self.get(f'/firings/{no}', who))['stage']

    def hook(self, url, who='wanda', edition=None, **over):
        return made(self.post('/hooks' + (f'?edition={edition}' if edition else ''), who, {'url': url, **over}))

    def listen(self, who, last=None, edition=None):
        return Murmur(self, who, last, edition)


class Murmur:
    def __init__(self, kiln, who, last=None, edition=None):
        self.socket = socket.create_connection(('127.0.0.1', kiln.port), timeout=5)
        h = f'GET /yard/murmur{"?edition=" + edition if edition else ""} HTTP/1.1\r\nHost: kiln\r\nKiln-Key: {KEYS[who]}\r\nAccept: text/event-stream\r\n'
        if last:
            h += f'Last-Event-ID: {last}\r\n'
        self.socket.sendall((h + '\r\n').encode())
        self.buffer = b''
        self.read_until(lambda: b'murmurs' in self.buffer)

    def read_until(self, enough, seconds=3):
        end = time.time() + seconds
        while not enough() and time.time() < end:
            self.socket.settimeout(max(0.01, end - time.time()))
            try:
                bit = self.socket.recv(65536)
            except (TimeoutError, socket.timeout):
                break
            if not bit:
                break
            self.buffer += bit

    def events(self, n, seconds=3):
        self.read_until(lambda: len(self.parsed()) >= n, seconds)
        return self.parsed()

    def parsed(self):
        out = []
        for block in re.findall(r'id: (.*)\nevent: (.*)\ndata: (.*)\n\n', self.buffer.decode(errors='replace')):
            out.append((block[0], block[1], json.loads(block[2])))
        return out

    def close(self):
        self.socket.close()


def moment(s): return datetime.fromisoformat(s.replace('Z', '+00:00'))
def made(r): return good(r, 201)


def good(r, status=200):
    assert r.status == status, r
    return r.json


def is_refusal(r, status, code):
    assert r.status == status and r.wrong == code, f'{status} {code} expected: {r}'
    b = r.json
    assert b['status'] == status and isinstance(b['says'], str) and isinstance(b['trace'], str), b
    assert all(isinstance(s['in'], str) and isinstance(s['path'], str) for s in b['spots']), b


def seal_of(secret, ref, stamp, body):
    return base64.b64encode(hmac.new(secret.encode(), f'{ref}:{stamp}:'.encode() + body, hashlib.sha256).digest()).decode()


PROOFS = {}


def proof(*ids):
    def keep(f):
        for i in ids:
            PROOFS[i] = f
        return f
    return keep


# ---------------------------------------------------------------- purpose

@proof('base-missing')
def _(k):
    good(k.get('/pulse'))
    assert k.get('/pulse', base='').status == 404


@proof('base-hooks-elsewhere')
def _(k): good(k.get('/hooks', 'wanda'))


@proof('functions-no-draw')
def _(k):
    no = k.ask()['no']
    k.accept(no)
    k.light(no)
    k.clock(hours=7)
    assert good(k.post(f'/firings/{no}/draw', 'wanda'))['stage'] == 'drawn'


@proof('functions-no-hook-change')
def _(k):
    h = k.hook('http://127.0.0.1:9/x')
    assert good(k.patch('/hooks/' + h['id'], 'wanda', {'live': False}))['live'] is False


@proof('users-assayer-unknown')
def _(k):
    good(k.get('/glazes', 'mina'))
    good(k.get('/glazes', 'vera'))


@proof('users-stoker-shut-out')
def _(k): good(k.get('/firings', 'ada'))


# ---------------------------------------------------------------- resources

@proof('resources-any-clay')
def _(k): is_refusal(k.post('/firings', 'wanda', k.draft(clay='mud')), 422, 'misshapen')


@proof('resources-lenient-date')
def _(k):
    f, g = k.ask()['no'], k.glaze()['code']
    is_refusal(k.post(f'/firings/{f}/wares', 'wanda', k.ware_draft(g, **{'made-on': '2025-02-30'})), 422, 'misshapen')
    k.ware(f, g, **{'made-on': '2024-02-29'})


@proof('resources-length-in-bytes')
def _(k):
    assert k.ask(mark='ü' * 24)['mark'] == 'ü' * 24
    assert k.ask(mark='🏺' * 24)['mark'] == '🏺' * 24
    is_refusal(k.post('/firings', 'wanda', k.draft(mark='ü' * 25)), 422, 'misshapen')


@proof('resources-open-nested')
def _(k): is_refusal(k.post('/firings', 'wanda', k.draft(soak={'minutes': 3, 'hold-c': 900, 'mood': 'calm'})), 422, 'misshapen')


@proof('resources-wrong-default')
def _(k): assert k.ask()['pace'] == 'slow'


@proof('resources-fractions')
def _(k):
    f, g = k.ask()['no'], k.glaze()['code']
    is_refusal(k.post(f'/firings/{f}/wares', 'wanda', k.ware_draft(g, mass=12.5)), 422, 'misshapen')


@proof('resources-false-left-out')
def _(k): assert k.ware(k.ask()['no'], k.glaze()['code'])['packed'] is False


@proof('resources-recipe-seen')
def _(k):
    g = k.glaze(recipe=[{'oxide': 'Fe2O3', 'percent': 1.5}])
    assert good(k.get('/glazes/' + g['code'], 'vera'))['recipe'][0]['percent'] == 1.5
    assert 'recipe' not in good(k.get('/glazes/' + g['code'], 'wanda'))


@proof('resources-secret-again')
def _(k):
    h = k.hook('http://127.0.0.1:9/x')
    assert re.fullmatch(r'seal-[A-Za-z0-9]{40}', h['secret'])
    assert 'secret' not in good(k.get('/hooks/' + h['id'], 'wanda'))


@proof('resources-symbol-case')
def _(k):
    k.glaze(symbol='CuO')
    is_refusal(k.post('/glazes', 'mina', k.glaze_draft(symbol='cUo')), 409, 'taken')


@proof('resources-clay-changes')
def _(k):
    f = k.ask()
    is_refusal(k.patch(f'/firings/{f["no"]}', 'wanda', {'clay': 'earthenware'}), 422, 'misshapen')
    good(k.patch(f'/firings/{f["no"]}', 'wanda', {'clay': 'stoneware'}))


@proof('resources-fee-stays')
def _(k):
    f = k.ask()
    assert f['fee'] == 720
    assert good(k.patch(f'/firings/{f["no"]}', 'wanda', {'pace': 'brisk'}))['fee'] == 1800


@proof('resources-shallow-merge')
def _(k):
    f = k.ask(soak={'minutes': 10, 'hold-c': 1000})
    assert good(k.patch(f'/firings/{f["no"]}', 'wanda', {'soak': {'minutes': 20}}))['soak'] == {'minutes': 20, 'hold-c': 1000}


@proof('resources-accent-dangles')
def _(k):
    f, a, b = k.ask()['no'], k.glaze()['code'], k.glaze()['code']
    w = k.ware(f, a, accent=b)
    assert w['accent'] == b
    is_refusal(k.delete('/glazes/' + a, 'mina'), 409, 'still-used')
    assert k.delete('/glazes/' + b, 'mina').status == 204
    assert 'accent' not in good(k.get(f'/firings/{f}/wares/{w["no"]}', 'wanda'))


@proof('resources-mark-twice')
def _(k):
    f = k.ask(mark='spring')
    is_refusal(k.post('/firings', 'wanda', k.draft(mark='spring')), 409, 'taken')
    k.ask('bruno', mark='spring')
    good(k.post(f'/firings/{f["no"]}/withdraw', 'wanda'))
    k.ask(mark='spring')


@proof('resources-code-overwrites')
def _(k):
    g = k.glaze(title='Old')
    is_refusal(k.post('/glazes', 'mina', k.glaze_draft(code=g['code'], title='New')), 409, 'taken')
    assert good(k.get('/glazes/' + g['code'], 'mina'))['title'] == 'Old'


@proof('resources-empty-change-counts')
def _(k):
    f = k.ask()
    k.clock(minutes=1)
    assert good(k.patch(f'/firings/{f["no"]}', 'wanda', {'cone': 6}))['touched-at'] == f['touched-at']
    k.clock(minutes=1)
    assert good(k.patch(f'/firings/{f["no"]}', 'wanda', {'cone': 7}))['touched-at'] > f['touched-at']


# ---------------------------------------------------------------- states

@proof('states-lapses-early')
def _(k):
    no = k.ask()['no']
    k.clock(hours=47)
    assert k.stage(no) == 'asked'
    k.clock(hours=2)
    assert k.stage(no) == 'lapsed'


@proof('states-nudge-no-hold')
def _(k):
    f = k.ask()
    k.clock(hours=24)
    n = good(k.post(f'/firings/{f["no"]}/nudge', 'wanda'))
    assert n['stage'] == 'asked' and moment(n['holds']) - moment(n['touched-at']) == timedelta(days=2)


@proof('states-nudge-no-timer')
def _(k):
    f = k.ask()
    k.clock(hours=24)
    good(k.post(f'/firings/{f["no"]}/nudge', 'wanda'))
    k.clock(hours=25)
    assert k.stage(f['no']) == 'asked'
    k.clock(hours=24)
    assert k.stage(f['no']) == 'lapsed'


@proof('states-never-cools')
def _(k):
    no = k.ask()['no']
    k.accept(no)
    k.light(no)
    k.clock(hours=5, minutes=50)
    assert k.stage(no) == 'lit'
    k.clock(minutes=11)
    assert k.stage(no) == 'cooled'


@proof('states-lights-cold')
def _(k):
    no = k.ask()['no']
    k.accept(no)
    is_refusal(k.post(f'/firings/{no}/light', 'ada', {'degrees': 599}), 422, 'too-cold')
    assert k.stage(no) == 'accepted'
    good(k.post(f'/firings/{no}/light', 'ada', {'degrees': 600}), 202)


@proof('states-refuse-withdraws')
def _(k):
    no = k.ask()['no']
    assert good(k.post(f'/firings/{no}/refuse', 'ada', {'reason': 'full'}))['stage'] == 'refused'


@proof('states-withdraw-lit')
def _(k):
    no = k.ask()['no']
    k.accept(no)
    k.light(no)
    is_refusal(k.post(f'/firings/{no}/withdraw', 'wanda'), 409, 'too-late')


# ---------------------------------------------------------------- endpoints

@proof('endpoints-contains-any-case')
def _(k):
    f, g = k.ask()['no'], k.glaze()['code']
    k.ware(f, g, name='Tall Öl jug')
    assert good(k.get(f'/firings/{f}/wares?name-has=%C3%96l', 'wanda'))['tally'] == 1
    assert good(k.get(f'/firings/{f}/wares?name-has=tall', 'wanda'))['tally'] == 0


@proof('endpoints-etag-ignores-shelves')
def _(k):
    f = k.ask(shelves=[{'label': 'a', 'gap': 30}])
    tag = k.get(f'/firings/{f["no"]}', 'wanda').headers['etag']
    good(k.patch(f'/firings/{f["no"]}', 'wanda', {'shelves': [{'label': 'b', 'gap': 30}]}, match=tag))
    assert k.get(f'/firings/{f["no"]}', 'wanda').headers['etag'] != tag
    is_refusal(k.patch(f'/firings/{f["no"]}', 'wanda', {'cone': 3}, match=tag), 412, 'stale')


@proof('endpoints-filter-strict')
def _(k):
    for cone in (4, 5, 6):
        k.ask(cone=cone)
    assert good(k.get('/firings?hottest=5', 'wanda'))['tally'] == 2


@proof('endpoints-if-match-ignored')
def _(k):
    f = k.ask()
    is_refusal(k.patch(f'/firings/{f["no"]}', 'wanda', {'cone': 3}, match='"other"'), 412, 'stale')
    is_refusal(k.patch(f'/firings/{f["no"]}', 'wanda', {'cone': 3}, match=None), 428, 'say-which')


@proof('endpoints-location-without-base')
def _(k):
    r = k.post('/firings', 'wanda', k.draft())
    assert r.headers['location'] == f'/yard/firings/{r.json["no"]}'
    good(k.get(r.headers['location'], 'wanda', base=''))


@proof('endpoints-loose-query')
def _(k): is_refusal(k.get('/firings?colour=red', 'wanda'), 400, 'bad-query')


@proof('endpoints-once-shared')
def _(k):
    h, d = {'Kiln-Once': 'a1'}, k.draft()
    a = made(k.post('/firings', 'wanda', d, headers=h))
    assert made(k.post('/firings', 'wanda', d, headers=h)) == a
    b = made(k.post('/firings', 'bruno', d, headers=h))
    assert b['no'] != a['no'] and b['potter'] == 'po-bruno'


@proof('endpoints-once-unchecked')
def _(k):
    h = {'Kiln-Once': 'a1'}
    made(k.post('/firings', 'wanda', k.draft(), headers=h))
    is_refusal(k.post('/firings', 'wanda', k.draft(), headers=h), 422, 'once-reused')


@proof('endpoints-parent-unchecked')
def _(k):
    a, b, g = k.ask()['no'], k.ask()['no'], k.glaze()['code']
    w = k.ware(a, g)
    good(k.get(f'/firings/{a}/wares/{w["no"]}', 'wanda'))
    is_refusal(k.get(f'/firings/{b}/wares/{w["no"]}', 'wanda'), 404, 'not-here')


@proof('endpoints-replace-merges')
def _(k):
    g = k.glaze(remark='runs')
    new = k.glaze_draft(code=None)
    assert 'remark' not in good(k.put('/glazes/' + g['code'], 'mina', new))


@proof('endpoints-ties-backwards')
def _(k):
    nos = [k.ask(cone=c)['no'] for c in (5, 3, 5, 5)]
    rows = good(k.get('/firings?sort=-cone', 'wanda'))['rows']
    assert [r['no'] for r in rows] == [nos[0], nos[2], nos[3], nos[1]], rows


@proof('endpoints-update-when-accepted')
def _(k):
    no = k.ask()['no']
    k.accept(no)
    is_refusal(k.patch(f'/firings/{no}', 'wanda', {'cone': 3}), 409, 'wrong-stage')


# ---------------------------------------------------------------- authentication

@proof('auth-any-assayer-replaces')
def _(k):
    g = k.glaze('mina')
    is_refusal(k.put('/glazes/' + g['code'], 'vera', k.glaze_draft(code=None)), 403, 'not-yours')


def badge(text): return {'Authorization': 'Basic ' + base64.b64encode(text.encode()).decode()}


@proof('auth-any-password')
def _(k):
    good(k.get('/firings', headers=badge(BADGES['ada'])))
    is_refusal(k.get('/firings', headers=badge('st-ada:wrong')), 401, 'who-are-you')


@proof('auth-hidden-glaze-used')
def _(k):
    f, g = k.ask()['no'], k.glaze(shown=False)['code']
    is_refusal(k.get('/glazes/' + g, 'wanda'), 404, 'not-here')
    is_refusal(k.post(f'/firings/{f}/wares', 'wanda', k.ware_draft(g)), 422, 'no-such-ref')


@proof('auth-hot-on-update')
def _(k):
    is_refusal(k.post('/firings', 'wanda', k.draft(cone=13)), 403, 'not-yours')
    is_refusal(k.patch(f'/firings/{k.ask()["no"]}', 'wanda', {'cone': 13}), 403, 'not-yours')
    good(k.patch(f'/firings/{k.ask("bruno")["no"]}', 'bruno', {'cone': 14}))


@proof('auth-list-of-others')
def _(k):
    k.ask('bruno')
    mine = k.ask('wanda')['no']
    assert [r['no'] for r in good(k.get('/firings', 'wanda'))['rows']] == [mine]


@proof('auth-others-forbidden')
def _(k): is_refusal(k.get(f'/firings/{k.ask("bruno")["no"]}', 'wanda'), 404, 'not-here')


@proof('auth-potter-reads-by-number')
def _(k): assert k.get(f'/firings/{k.ask("bruno")["no"]}', 'wanda').status == 404


@proof('auth-revoked-key')
def _(k):
    for c in STRANGER['callers']:
        if c.get('bad') and c['scheme'] == 'key':
            is_refusal(k.get('/firings', c['credential']), 401, 'who-are-you')


@proof('auth-second-credential')
def _(k):
    good(k.get('/firings', 'ada', headers=badge(BADGES['ada'])))
    is_refusal(k.get('/firings', 'ada', headers=badge('st-ada:wrong')), 401, 'who-are-you')
    is_refusal(k.get('/firings', 'ada', headers=badge(BADGES['hugo'])), 401, 'who-are-you')


@proof('auth-stoker-reads-all')
def _(k):
    no = k.ask()['no']
    good(k.get(f'/firings/{no}', 'hugo'))
    k.accept(no, 'ada')
    is_refusal(k.get(f'/firings/{no}', 'hugo'), 404, 'not-here')
    assert good(k.get('/firings', 'hugo'))['tally'] == 0


@proof('auth-strike-for-all')
def _(k): is_refusal(k.delete('/glazes/' + k.glaze('otto')['code'], 'otto'), 403, 'not-yours')


# ---------------------------------------------------------------- events

@proof('events-bay-leaks')
def _(k):
    e, s = k.ear(), k.ear()
    k.hook(e.url, 'wanda', kinds=['firing.accepted'])
    k.hook(s.url, 'ada', kinds=['firing.accepted'])
    k.accept(k.ask()['no'], bay='C7')
    e.wait(1)
    s.wait(1)
    assert s.bodies()[0]['body']['bay'] == 'C7'
    b = e.bodies()[0]['body']
    assert 'bay' not in b and b['fee'] == 720 and b['stage'] == 'accepted', b


@proof('events-edition-lost')
def _(k):
    e = k.ear()
    k.hook(e.url, edition='1')
    k.ask()
    e.wait(1)
    b = e.bodies()[0]['body']
    assert b['heat'] == 6 and b['pace'] == 'gentle' and 'cone' not in b, b


@proof('events-fierce-too-soon')
def _(k):
    m = k.listen('wanda')
    k.ask(cone=10)
    k.ask(cone=11)
    got = [x[1] for x in m.events(3)]
    m.close()
    assert got == ['firing.asked', 'firing.asked', 'firing.fierce'], got


@proof('events-hook-of-others')
def _(k):
    e = k.ear()
    k.hook(e.url, 'bruno')
    k.ask('wanda')
    k.ask('bruno', mark='mine')
    e.wait(1)
    assert [b['body']['mark'] for b in (e.quiet() and e.bodies())] == ['mine']


@proof('events-lapse-silent')
def _(k):
    e = k.ear()
    k.hook(e.url, kinds=['firing.lapsed'])
    no = k.ask()['no']
    k.clock(days=2, seconds=1)
    e.wait(1)
    assert [(b['what'], b['body']['no'], b['body']['stage']) for b in e.bodies()] == [('firing.lapsed', no, 'lapsed')]


@proof('events-new-id')
def _(k):
    e = k.ear()
    e.answers = [500, 503]
    k.hook(e.url)
    k.ask()
    e.wait(1)
    time.sleep(0.3)
    k.clock(seconds=11)
    e.wait(2)
    time.sleep(0.3)
    k.clock(seconds=121)
    e.wait(3)
    got = e.bodies()
    assert len(got) == 3 and got[0] == got[1] == got[2], got


@proof('events-no-resume')
def _(k):
    m = k.listen('wanda')
    k.ask(mark='one')
    first = m.events(1)[0][0]
    m.close()
    k.ask(mark='two')
    k.ask('bruno')
    k.ask(mark='three')
    m = k.listen('wanda', last=first)
    got = [x[2]['body']['mark'] for x in m.events(2)]
    m.close()
    assert got == ['two', 'three'], got
    m = k.listen('wanda', last='never-was')
    got = [x[2]['body']['mark'] for x in m.events(3)]
    m.close()
    assert got == ['one', 'two', 'three'], got


@proof('events-no-wildcard')
def _(k):
    e = k.ear()
    k.hook(e.url, kinds=['firing.*'])
    f = k.ask()['no']
    k.ware(f, k.glaze()['code'])
    e.wait(1)
    assert [b['what'] for b in (e.quiet() and e.bodies())] == ['firing.asked']


@proof('events-of-refused')
def _(k):
    m = k.listen('wanda')
    is_refusal(k.post('/firings', 'wanda', k.draft(clay='porcelain', cone=5)), 422, 'porcelain-low')
    k.ask(mark='real')
    got = [x[2]['body']['mark'] for x in m.events(1)]
    m.close()
    assert got == ['real'], got


@proof('events-out-of-order')
def _(k):
    e = k.ear()
    e.answers = [500]
    k.hook(e.url)
    no = k.ask()['no']
    e.wait(1)
    k.accept(no)
    assert len(e.quiet()) == 1, 'the second event waits for the first'
    k.clock(seconds=11)
    e.wait(3)
    assert [b['what'] for b in e.bodies()] == ['firing.asked', 'firing.asked', 'firing.accepted']


@proof('events-seal-body-only')
def _(k):
    e = k.ear()
    h = k.hook(e.url)
    k.ask(mark='mit Ölfaß')
    headers, body, _ = e.wait(1)[0]
    m = re.fullmatch(r'at=(\d+);seal=(\S+)', headers['kiln-seal'])
    assert m.group(2) == seal_of(h['secret'], json.loads(body)['ref'], m.group(1), body)
    assert headers['kiln-kind'] == 'firing.asked' == json.loads(body)['what']


@proof('events-stream-of-others')
def _(k):
    m = k.listen('bruno')
    k.ask('wanda')
    k.ask('bruno', mark='mine')
    got = [x[2]['body']['mark'] for x in m.events(1)]
    m.close()
    assert got == ['mine'], got


# ---------------------------------------------------------------- errors

@proof('errors-any-media')
def _(k): is_refusal(k.post('/firings', 'wanda', raw=json.dumps(k.draft()).encode(), headers={'Content-Type': 'text/plain'}), 415, 'wrong-media')


@proof('errors-garbled-mishap')
def _(k):
    for raw in (b'{"mark":', b'', b'{"mark":"\xff"}'):
        is_refusal(k.post('/firings', 'wanda', raw=raw, headers={'Content-Type': 'application/json'}), 400, 'garbled')


@proof('errors-lead-allowed')
def _(k):
    f, g = k.ask()['no'], k.glaze(hazard='lead')['code']
    is_refusal(k.post(f'/firings/{f}/wares', 'wanda', k.ware_draft(g, form='bowl')), 422, 'leaded-bowl')
    w = k.ware(f, g, form='tile')
    is_refusal(k.patch(f'/firings/{f}/wares/{w["no"]}', 'wanda', {'form': 'bowl'}), 422, 'leaded-bowl')


@proof('errors-no-spots')
def _(k):
    r = k.post('/firings', 'wanda', k.draft(cone=15))
    is_refusal(r, 422, 'misshapen')
    assert [s['path'] for s in r.json['spots']] == ['/cone']


@proof('errors-porcelain-on-update')
def _(k):
    is_refusal(k.post('/firings', 'wanda', k.draft(clay='porcelain', cone=5)), 422, 'porcelain-low')
    f = k.ask(clay='porcelain', cone=6)
    is_refusal(k.patch(f'/firings/{f["no"]}', 'wanda', {'cone': 5}), 422, 'porcelain-low')


@proof('errors-reference-code')
def _(k): is_refusal(k.post(f'/firings/{k.ask()["no"]}/wares', 'wanda', k.ware_draft('nowhere-99')), 422, 'no-such-ref')


@proof('errors-shelves-open')
def _(k):
    f, g = k.ask()['no'], k.glaze()['code']
    k.accept(f)
    is_refusal(k.post(f'/firings/{f}/wares', 'wanda', k.ware_draft(g)), 409, 'shelves-shut')


@proof('errors-too-late-lost')
def _(k):
    no = k.ask()['no']
    good(k.post(f'/firings/{no}/withdraw', 'wanda'))
    is_refusal(k.post(f'/firings/{no}/withdraw', 'wanda'), 409, 'too-late')


@proof('errors-transition-status')
def _(k): is_refusal(k.post(f'/firings/{k.ask()["no"]}/draw', 'wanda'), 409, 'wrong-stage')


# ---------------------------------------------------------------- limits

@proof('limits-body-unbounded')
def _(k):
    for chunked in (False, True):
        body = json.dumps(k.draft(notes='x' * 17000)).encode()
        raw = iter([body[:9000], body[9000:]]) if chunked else body
        is_refusal(k.post('/firings', 'wanda', raw=raw, headers={'Content-Type': 'application/json'}), 413, 'too-big')


def slow_body(k, seconds):
    s = socket.create_connection(('127.0.0.1', k.port), timeout=seconds)
    s.sendall(f'POST /yard/firings HTTP/1.1\r\nHost: kiln\r\nKiln-Key: {KEYS["wanda"]}\r\nContent-Type: application/json\r\nContent-Length: 200\r\n\r\n{{"mark":'.encode())
    try:
        return s.recv(65536).decode()
    except (TimeoutError, socket.timeout):
        return ''
    finally:
        s.close()


@proof('limits-no-timeout')
def _(k):
    got = slow_body(k, 8)
    assert got.startswith('HTTP/1.1 408') and '"too-slow"' in got, got


@proof('limits-over-max-clamped')
def _(k):
    f = k.ask()['no']
    is_refusal(k.get(f'/firings/{f}/wares?take=21', 'wanda'), 400, 'bad-query')
    good(k.get(f'/firings/{f}/wares?take=20', 'wanda'))


@proof('limits-page-unbounded')
def _(k):
    for _ in range(42):
        k.ask()
    b = good(k.get('/firings?take=100', 'wanda'))
    assert len(b['rows']) == 40 and b['tally'] == 42 and b['more'] is True


def refuse_one(k, who='ada'): return k.post(f'/firings/{k.ask()["no"]}/refuse', who, {'reason': 'full'})


@proof('limits-quota-never-resets')
def _(k):
    for _ in range(12):
        good(refuse_one(k))
    is_refusal(refuse_one(k), 429, 'enough-today')
    good(refuse_one(k, 'hugo'))
    n = k.now()
    k.clock_to((n.replace(hour=0, minute=0, second=1, microsecond=0) + timedelta(days=1)).isoformat(timespec='milliseconds').replace('+00:00', 'Z'))
    good(refuse_one(k))


@proof('limits-rate-off')
def _(k):
    no = k.ask()['no']
    got = [k.post(f'/firings/{no}/nudge', 'wanda').status for _ in range(11)]
    assert got == [200] * 10 + [429], got


@proof('limits-rate-shared')
def _(k):
    a, b = k.ask('wanda')['no'], k.ask('bruno')['no']
    for _ in range(10):
        good(k.post(f'/firings/{a}/nudge', 'wanda'))
    is_refusal(k.post(f'/firings/{a}/nudge', 'wanda'), 429, 'too-often')
    good(k.post(f'/firings/{b}/nudge', 'bruno'))


@proof('limits-refused-count')
def _(k):
    no = k.ask()['no']
    for _ in range(10):
        good(k.post(f'/firings/{no}/nudge', 'wanda'))
    k.clock(seconds=40)
    for _ in range(10):
        is_refusal(k.post(f'/firings/{no}/nudge', 'wanda'), 429, 'too-often')
    k.clock(seconds=22)
    good(k.post(f'/firings/{no}/nudge', 'wanda'))


@proof('limits-tally-of-page')
def _(k):
    for _ in range(3):
        k.ask()
    b = good(k.get('/firings?take=2', 'wanda'))
    assert (b['tally'], b['more'], len(b['rows']), b['kind']) == (3, True, 2, 'sheet')


# ---------------------------------------------------------------- versioning

@proof('versioning-default-oldest')
def _(k):
    b = k.ask()
    assert b['cone'] == 6 and 'heat' not in b


@proof('versioning-enum-unmapped')
def _(k):
    d = {'mark': 'a', 'clay': 'stoneware', 'heat': 6, 'pace': 'quick'}
    assert made(k.post('/firings?edition=1', 'wanda', d))['pace'] == 'quick'
    is_refusal(k.post('/firings?edition=1', 'wanda', {**d, 'mark': 'b', 'pace': 'brisk'}), 422, 'misshapen')


@proof('versioning-estimate-too-old')
def _(k):
    assert good(k.get('/estimate?cone=5&edition=2'))['fee'] == 600
    is_refusal(k.get('/estimate?cone=5&edition=1'), 404, 'no-such-path')


@proof('versioning-height-truncated')
def _(k):
    f, g = k.ask()['no'], k.glaze()['code']
    w = k.ware(f, g, height=123)
    assert good(k.get(f'/firings/{f}/wares/{w["no"]}?edition=1', 'wanda'))['height'] == 12.3


@proof('versioning-old-name-lost')
def _(k):
    b = good(k.get(f'/firings/{k.ask()["no"]}?edition=1', 'wanda'))
    assert b['heat'] == 6 and 'cone' not in b and b['shop'] == 'main' and b['pace'] == 'gentle', b


@proof('versioning-silent-deprecation')
def _(k):
    h = k.get('/firings?edition=1', 'wanda').headers
    assert h['deprecation'] == '@1780272000' and h['sunset'] == 'Wed, 01 Jan 2031 00:00:00 GMT' and 'https://kiln.example/editions' in h['link'], h
    assert 'deprecation' not in k.get('/firings', 'wanda').headers


@proof('versioning-sunset-passes')
def _(k):
    k.clock_to('2030-12-31T23:50:00Z')
    good(k.get('/firings?edition=1', 'wanda'))
    k.clock_to('2031-01-01T00:00:00Z')
    is_refusal(k.get('/firings?edition=1', 'wanda'), 410, 'edition-gone')
    good(k.get('/firings', 'wanda'))


@proof('versioning-unknown-is-current')
def _(k): is_refusal(k.get('/firings?edition=3', 'wanda'), 400, 'no-such-edition')


@proof('versioning-update-drops-soak')
def _(k):
    f = k.ask(soak={'minutes': 5, 'hold-c': 700})
    assert 'soak' not in good(k.patch(f'/firings/{f["no"]}?edition=1', 'wanda', {'notes': 'slowly'}))
    assert good(k.get(f'/firings/{f["no"]}', 'wanda'))['soak'] == {'minutes': 5, 'hold-c': 700}


# ---------------------------------------------------------------- running them

def run(f, fault):
    k = Kiln(fault)
    try:
        f(k)
        return None
    except Exception as e:
        return f'{type(e).__name__}: {e}'
    finally:
        k.close()


def main(ids):
    listed = [f['id'] for f in STRANGER['faults']]
    assert len(set(listed)) == len(listed)
    missing = set(listed) ^ set(PROOFS)
    assert not missing, missing
    right, failed = {}, 0
    for i in listed:
        if ids and i not in ids:
            continue
        f = PROOFS[i]
        if f not in right:
            right[f] = run(f, None)
        wrong = run(f, i)
        ok = right[f] is None and wrong is not None and not wrong.startswith(('ConnectionRefused', 'NameError', 'TypeError: unsupported'))
        failed += not ok
        print(('ok   ' if ok else 'FAIL ') + i + ('' if right[f] is None else f'\n       as it is: {right[f]}') + ('' if wrong else '\n       with the fault: passes') + (f'\n       {wrong[:150]}' if ok and '-v' in sys.argv else ''), flush=True)
    print('all true' if not failed else f'{failed} failed')
    return failed


if __name__ == '__main__':
    sys.exit(1 if main([a for a in sys.argv[1:] if not a.startswith('-')]) else 0)
