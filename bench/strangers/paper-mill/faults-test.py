#!/usr/bin/env python3
"""For each fault: the right service and the faulty one are asked the same; the first has to answer rightly, the second wrongly."""
import hashlib, hmac, http.client, http.server, json, os, re, socket, subprocess, sys, threading, time
from datetime import datetime, timezone

HERE = os.path.dirname(os.path.abspath(__file__))
STRANGER = json.load(open(os.path.join(HERE, 'stranger.json')))
KEYS = {}
for c in STRANGER['callers']:
    KEYS.setdefault(c['id'], {})[c['scheme']] = c['credential']


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Receiver:
    """Takes deliveries; answers with `status` (a number, or a function of the delivery)."""

    def __init__(self):
        got, me = [], self
        self.got, self.status = got, 200

        class H(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get('Content-Length', 0)))
                d = {'headers': dict(self.headers), 'raw': body, 'body': json.loads(body)}
                got.append(d)
                s = me.status(d) if callable(me.status) else me.status
                self.send_response(s)
                self.send_header('Content-Length', '0')
                self.end_headers()

            def log_message(self, *a):
                pass
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H)
        self.url = 'http://127.0.0.1:%d/in' % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wait(self, n, seconds=2.0):
        end = time.monotonic() + seconds
        while len(self.got) < n and time.monotonic() < end:
            time.sleep(0.02)
        return self.got

    def kinds(self):
        return [d['body']['kind'] for d in self.got]


class Mill:
    def __init__(self, fault=None):
        self.port, self.clock_port = free_port(), free_port()
        self.p = subprocess.Popen(STRANGER['command'] + ['--port', str(self.port), '--clock-port', str(self.clock_port)] + (['--fault', fault] if fault else []),
                                  cwd=HERE, stdout=subprocess.PIPE, stderr=sys.stderr)
        self.p.stdout.readline()
        self.receivers = []

    def close(self):
        self.p.terminate()
        self.p.wait()
        self.p.stdout.close()
        for r in self.receivers:
            r.server.shutdown()
            r.server.server_close()

    def receiver(self):
        r = Receiver()
        self.receivers.append(r)
        return r

    def clock(self, **move):
        con = http.client.HTTPConnection('127.0.0.1', self.clock_port, timeout=60)
        if move:
            con.request('POST', '/', json.dumps(move), {'Content-Type': 'application/json'})
        else:
            con.request('GET', '/')
        res = con.getresponse()
        out = json.loads(res.read())
        con.close()
        assert res.status == 200, out
        return datetime.fromisoformat(out['now'].replace('Z', '+00:00'))

    def ask(self, who, method, path, body=None, folio='folio-3', base='/weir', scheme=None, sealed_path=None, ahead=0, **headers):
        h = {k.replace('_', '-'): v for k, v in headers.items()}
        if folio:
            h['Mill-Folio'] = folio
        data = b''
        if body is not None:
            data = json.dumps(body).encode()
            h['Content-Type'] = 'application/json'
        target = base + path
        for w in (who if isinstance(who, list) else [who] if who else []):
            name, _, by = w.partition(':')
            by = by or ('pass' if 'pass' in KEYS[name] else next(iter(KEYS[name])))
            key = KEYS[name][by]
            if by == 'pass':
                h['Authorization'] = 'Mill ' + key
            elif by == 'badge':
                h['X-Loft-Badge'] = key
            else:
                kid, secret = key.split(':', 1)
                t = str(int(self.clock().timestamp()) + ahead)
                s = ('%s\n%s\n%s\n' % (method, base + (sealed_path or path), t)).encode() + data
                h['X-Mill-Seal'] = 'k=%s;t=%s;s=%s' % (kid, t, hmac.new(secret.encode(), s, hashlib.sha256).hexdigest())
        con = http.client.HTTPConnection('127.0.0.1', self.port, timeout=30)
        con.request(method, target, data or None, h)
        res = con.getresponse()
        raw = res.read()
        con.close()
        a = Answer()
        a.status, a.headers, a.json = res.status, res.headers, json.loads(raw) if raw else None
        return a

    # what is needed again and again
    def mould(self, code='AB-101', folio='folio-3', **more):
        a = self.ask('w-hart', 'PUT', '/moulds/' + code, {'watermark': {'device': 'hand', 'kind': 'line'}, 'width_mm': 500, 'height_mm': 400, 'wire': 'laid', **more})
        assert a.status in (200, 201), a.json
        return code

    def loft(self, **more):
        a = self.ask('w-hart', 'POST', '/lofts', {'name': 'North', 'ropes': 2, **more})
        assert a.status == 201, a.json
        return a.json['id']

    def order(self, who='s-ash', **more):
        a = self.ask(who, 'POST', '/orders', {'mould': 'AB-101', 'sheets': 100, **more})
        assert a.status == 201, a.json
        return a.json['id']

    def go(self, who, order, step, body=None):
        a = self.ask(who, 'POST', '/orders/%s/%s' % (order, step), body)
        assert a.status in (200, 202), a.json
        return a

    def tag(self, who, path):
        return self.ask(who, 'GET', path).headers['ETag']

    def hook(self, who, url, folio='folio-3', **more):
        a = self.ask(who, 'POST', '/hooks', {'url': url, **more}, folio=folio)
        assert a.status == 201, a.json
        return a.json

    def subscribe(self, who='s-ash', key=None, **more):
        a = self.ask(who, 'POST', '/subscriptions', {'mould': 'AB-101', 'sheets': 50, **more}, Idempotency_Key=key or os.urandom(6).hex())
        assert a.status == 201, a.json
        return a.json


class Answer:
    pass


PROOFS = {}


def proof(fault, right, wrong):
    def add(f):
        PROOFS[fault] = (f, right, wrong)
        return f
    return add


# ---- purpose
@proof('location-unbased', True, False)
def _(m):
    return m.ask('w-hart', 'POST', '/lofts', {'name': 'East', 'ropes': 1}).headers['Location'].startswith('/weir/lofts/')


@proof('base-is-optional', 404, 200)
def _(m):
    assert m.ask(None, 'GET', '/sizes').status == 200
    return m.ask(None, 'GET', '/sizes', base='').status


@proof('no-pause', 200, 404)
def _(m):
    m.mould()
    return m.ask('s-ash', 'POST', '/subscriptions/%s/pause' % m.subscribe()['id']).status


@proof('warden-by-seal', 201, 403)
def _(m):
    assert m.ask('w-hart', 'POST', '/lofts', {'name': 'East', 'ropes': 1}).status == 201
    return m.ask('w-jay', 'POST', '/lofts', {'name': 'West', 'ropes': 1}).status


# ---- resources
@proof('loose-code', 422, 201)
def _(m):
    return m.ask('w-hart', 'PUT', '/moulds/AB-1234', {'watermark': {'device': 'hand', 'kind': 'line'}, 'width_mm': 500, 'height_mm': 400, 'wire': 'laid'}).status


@proof('made-forgets-sent', [100, 100], [100, 0])
def _(m):
    m.mould(), m.loft()
    o = m.order()
    m.go('s-ash', o, 'place'), m.go('v-elm', o, 'couch'), m.go('v-elm', o, 'hang', {'loft': 1})
    m.clock(advance='P4D')
    before = m.ask('w-hart', 'GET', '/moulds/AB-101').json['made']
    m.go('v-elm', o, 'send', {'sheets_counted': 100})
    return [before, m.ask('w-hart', 'GET', '/moulds/AB-101').json['made']]


@proof('shelf-for-all', False, True)
def _(m):
    m.mould(shelf='B12')
    assert m.ask('v-elm', 'GET', '/moulds/AB-101').json['shelf'] == 'B12'
    return 'shelf' in m.ask('s-ash', 'GET', '/moulds/AB-101').json


@proof('month-of-30-days', '2030-04-15', '2030-04-14')
def _(m):
    m.clock(now='2030-03-15T10:00:00Z')
    a = m.ask('w-hart', 'PUT', '/moulds/AB-101', {'watermark': {'device': 'hand', 'kind': 'line'}, 'width_mm': 500, 'height_mm': 400, 'wire': 'laid'})
    return m.subscribe()['next_on'][:10]


@proof('multiple-on-create', 422, 200)
def _(m):
    m.mould()
    assert m.ask('s-ash', 'POST', '/orders', {'mould': 'AB-101', 'sheets': 30}).status == 422
    o = m.order()
    return m.ask('s-ash', 'PATCH', '/orders/' + o, {'sheets': 30}, If_Match='*').status


@proof('wire-changes', [422, 'laid'], [200, 'wove'])
def _(m):
    m.mould()
    a = m.ask('w-hart', 'PUT', '/moulds/AB-101', {'watermark': {'device': 'hand', 'kind': 'line'}, 'width_mm': 500, 'height_mm': 400, 'wire': 'wove'})
    return [a.status, m.ask('w-hart', 'GET', '/moulds/AB-101').json['wire']]


@proof('price-as-made', 2100, 1200)
def _(m):
    m.mould()
    o = m.order()
    return m.ask('s-ash', 'PATCH', '/orders/' + o, {'finish': 'plated'}, If_Match='*').json['pence']


# ---- states
@proof('dry-from-couch', ['hung', 'dried'], ['dried', 'dried'])
def _(m):
    m.mould(), m.loft()
    o = m.order()
    m.go('s-ash', o, 'place'), m.go('v-elm', o, 'couch')
    m.clock(advance='P2D')
    m.go('v-elm', o, 'hang', {'loft': 1})
    m.clock(advance='P1DT1H')
    first = m.ask('s-ash', 'GET', '/orders/' + o).json['status']
    m.clock(advance='P2D')
    return [first, m.ask('s-ash', 'GET', '/orders/' + o).json['status']]


@proof('wear-before', ['ready', 'worn'], ['ready', 'ready'])
def _(m):
    m.mould()
    out = []
    orders = [m.order(sheets=3000), m.order(sheets=3000)]
    for o in orders:
        m.go('s-ash', o, 'place')
    for o in orders:
        m.go('v-elm', o, 'couch')
        out.append(m.ask('w-hart', 'GET', '/moulds/AB-101').json['condition'])
    return out


@proof('paused-renews', 0, 1)
def _(m):
    m.mould()
    s = m.subscribe()
    assert m.ask('s-ash', 'POST', '/subscriptions/%s/pause' % s['id']).status == 200
    m.clock(advance='P40D')
    return m.ask('s-ash', 'GET', '/orders').json['of']


@proof('place-unless-retired', 409, 200)
def _(m):
    m.mould()
    o = m.order()
    assert m.ask('v-elm', 'POST', '/moulds/AB-101/wear').status == 200
    return m.ask('s-ash', 'POST', '/orders/%s/place' % o).status


@proof('lapse-anew', 'void', 'drafted')
def _(m):
    m.mould()
    o = m.order()
    m.clock(advance='P6D')
    assert m.ask('s-ash', 'PATCH', '/orders/' + o, {'sheets': 125}, If_Match='*').status == 200
    m.clock(advance='P5D')
    return m.ask('s-ash', 'GET', '/orders/' + o).json['status']


# ---- endpoints
@proof('weak-will-do', [412, 200], [200, 412])
def _(m):
    m.mould()
    o = m.order()
    t = m.tag('s-ash', '/orders/' + o)
    return [m.ask('s-ash', 'PATCH', '/orders/' + o, {'sheets': 125}, If_Match=x).status for x in ('W/' + t, t)]


@proof('price-upwards', [2400, 1200, 600], [600, 1200, 2400])
def _(m):
    m.mould()
    for n in (100, 50, 200):
        m.order(sheets=n)
    return [o['pence'] for o in m.ask('s-ash', 'GET', '/orders?by=-price').json['rows']]


@proof('any-word', ['North gable'], ['North gable', 'South gable'])
def _(m):
    m.loft(name='North gable'), m.loft(name='South gable')
    return [l['name'] for l in m.ask('w-hart', 'GET', '/lofts?find=GABLE+north').json['rows']]


@proof('key-forgets-body', [201, 422], [201, 201])
def _(m):
    m.mould()
    return [m.ask('s-ash', 'POST', '/orders', {'mould': 'AB-101', 'sheets': n}, Idempotency_Key='k1').status for n in (100, 200)]


@proof('secret-replayed', [True, False], [True, True])
def _(m):
    ans = [m.ask('s-ash', 'POST', '/hooks', {'url': 'http://127.0.0.1:9/x'}, Idempotency_Key='k1') for _ in range(2)]
    assert ans[0].json['id'] == ans[1].json['id']
    return ['secret' in a.json for a in ans]


@proof('expand-unread', [1, 'North'], ['North', 'North'])
def _(m):
    m.mould(), m.loft()
    o = m.order()
    m.go('s-ash', o, 'place'), m.go('v-elm', o, 'couch'), m.go('v-elm', o, 'hang', {'loft': 1})
    seen = [m.ask(w, 'GET', '/orders/%s?with=loft' % o).json['loft'] for w in ('s-ash', 'w-hart')]
    return [x['name'] if isinstance(x, dict) else x for x in seen]


# ---- authentication
@proof('house-may-change', 403, 200)
def _(m):
    m.mould()
    o = m.order('s-ash')
    assert m.ask('s-bell', 'GET', '/orders/' + o).status == 200
    return m.ask('s-bell', 'PATCH', '/orders/' + o, {'sheets': 125}, If_Match='*').status


@proof('seal-from-tomorrow', [200, 401, 401], [200, 200, 401])
def _(m):
    return [m.ask('v-gale', 'GET', '/moulds', ahead=n).status for n in (0, 600, -600)]


@proof('seal-leaves-query', [200, 401], [401, 401])
def _(m):
    return [m.ask('v-gale', 'GET', '/moulds?wire=laid').status, m.ask('v-gale', 'GET', '/moulds?wire=laid', sealed_path='/moulds?wire=wove').status]


@proof('bad-key-is-nobody', [200, 401], [200, 200])
def _(m):
    return [m.ask(None, 'GET', '/lofts').status, m.ask(None, 'GET', '/lofts', Authorization='Mill wp_nobody').status]


@proof('first-credential-counts', 401, 200)
def _(m):
    assert m.ask(['w-hart:pass', 'w-hart:badge'], 'GET', '/moulds').status == 200
    return m.ask(['w-hart:pass', 'v-elm:badge'], 'GET', '/moulds').status


@proof('proof-c-by-number', [404, 200], [200, 200])
def _(m):
    m.mould()
    assert m.ask('v-elm', 'POST', '/moulds/AB-101/proofs', {'grade': 'C'}).status == 201
    return [m.ask(w, 'GET', '/moulds/AB-101/proofs/1').status for w in ('s-ash', 'v-elm')]


# ---- events
@proof('nearing-a-day', [0, 1], [0, 0])
def _(m):
    m.mould()
    r = m.receiver()
    m.hook('s-ash', r.url, kinds=['subscription.nearing'])
    s = m.subscribe()
    at = datetime.fromisoformat(s['next_on'].replace('Z', '+00:00')).timestamp()
    out = []
    for hours in (49, 47):
        m.clock(now=datetime.fromtimestamp(at - hours * 3600, timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ'))
        time.sleep(0.3)
        out.append(len(r.got))
    return out


@proof('lapse-untold', ['order.void'], [])
def _(m):
    m.mould()
    r = m.receiver()
    m.hook('s-ash', r.url)
    m.order()
    m.clock(advance='P11D')
    r.wait(1, 0.7)
    return r.kinds()


@proof('told-to-strangers', [1, 0], [1, 1])
def _(m):
    m.mould()
    a, b = m.receiver(), m.receiver()
    m.hook('s-bell', a.url), m.hook('s-cole', b.url)
    m.go('s-ash', m.order('s-ash'), 'place')
    a.wait(1)
    b.wait(1, 0.5)
    return [len(a.got), len(b.got)]


@proof('no-waiting-in-line', ['order.placed'], ['order.placed', 'order.void'])
def _(m):
    m.mould()
    r = m.receiver()
    r.status = 500
    m.hook('s-ash', r.url)
    o = m.order()
    m.go('s-ash', o, 'place')
    r.wait(1)
    time.sleep(0.2)
    m.go('s-ash', o, 'drop')
    r.wait(2, 0.7)
    first = r.kinds()
    if len(first) == 1:
        r.status = 200
        m.clock(advance='PT15S')
        r.wait(3)
        assert r.kinds() == ['order.placed', 'order.placed', 'order.void'], r.kinds()
    return first


@proof('sign-without-id', True, False)
def _(m):
    m.mould()
    r = m.receiver()
    h = m.hook('s-ash', r.url)
    m.go('s-ash', m.order(), 'place')
    d = r.wait(1)[0]
    t, mark = re.match(r'^t=(\d+),h=([0-9a-f]{64})$', d['headers']['X-Mill-Mark']).groups()
    return mark == hmac.new(h['secret'].encode(), (d['body']['ticket'] + '.' + t + '.').encode() + d['raw'], hashlib.sha256).hexdigest()


@proof('redirect-is-fine', 2, 1)
def _(m):
    m.mould()
    r = m.receiver()
    r.status = 302
    m.hook('s-ash', r.url)
    m.go('s-ash', m.order(), 'place')
    r.wait(1)
    time.sleep(0.2)
    m.clock(advance='PT15S')
    r.wait(2, 0.7)
    assert len({d['body']['ticket'] for d in r.got}) == 1
    return len(r.got)


# ---- errors
@proof('places-by-pointer', ['quantity'], ['/quantity'])
def _(m):
    m.mould()
    a = m.ask('s-ash', 'POST', '/orders', {'mould': 'AB-101', 'quantity': 'many'}, folio='folio-1')
    assert a.status == 422
    return [p['path'] for p in a.json['fault']['places']]


@proof('caller-first', 'bad_question', 'who_goes')
def _(m):
    return m.ask(None, 'GET', '/moulds?colour=blue').json['fault']['code']


@proof('burnt-is-missing', [410, 404], [404, 404])
def _(m):
    m.mould()
    o = m.order('s-ash')
    assert m.ask('s-ash', 'DELETE', '/orders/' + o).status == 204
    return [m.ask(w, 'GET', '/orders/' + o).status for w in ('s-bell', 's-cole')]


@proof('thin-when-changed', ['thin_plate', 'thin_plate'], ['thin_plate', None])
def _(m):
    m.mould()
    a = m.ask('s-ash', 'POST', '/orders', {'mould': 'AB-101', 'sheets': 50, 'finish': 'plated', 'weight_gsm': 90})
    o = m.order(weight_gsm=90)
    b = m.ask('s-ash', 'PATCH', '/orders/' + o, {'finish': 'plated'}, If_Match='*')
    return [a.headers['X-Fault'], b.headers['X-Fault']]


@proof('miscount-is-not-now', [409, 422], [409, 409])
def _(m):
    m.mould(), m.loft()
    o = m.order()
    m.go('s-ash', o, 'place')
    a = m.ask('v-elm', 'POST', '/orders/%s/send' % o, {'sheets_counted': 1})
    m.go('v-elm', o, 'couch'), m.go('v-elm', o, 'hang', {'loft': 1})
    m.clock(advance='P3DT1M')
    b = m.ask('v-elm', 'POST', '/orders/%s/send' % o, {'sheets_counted': 1})
    return [a.status, b.status]


# ---- limits
@proof('rate-per-caller', ['59', '58'], ['59', '59'])
def _(m):
    m.mould()
    return [m.ask(w, 'POST', '/orders', {'mould': 'AB-101', 'sheets': 50}).headers['X-Left'] for w in ('s-ash', 's-bell')]


@proof('not-modified-counts', [304, '498'], [304, '497'])
def _(m):
    m.mould()
    t = m.tag('s-ash', '/moulds/AB-101')
    a = m.ask('s-ash', 'GET', '/moulds/AB-101', If_None_Match=t)
    return [a.status, m.ask('s-ash', 'GET', '/moulds/AB-101').headers['X-Left']]


@proof('burst-is-limit', [201] * 20 + [429], [201] * 12 + [429] * 9)
def _(m):
    m.mould()
    return [m.ask('v-elm', 'POST', '/moulds/AB-101/proofs', {'grade': 'A'}).status for _ in range(21)]


@proof('resume-uncounted', 403, 200)
def _(m):
    m.mould()
    first = m.subscribe()['id']
    assert m.ask('s-ash', 'POST', '/subscriptions/%s/pause' % first).status == 200
    for _ in range(3):
        m.subscribe()
    return m.ask('s-ash', 'POST', '/subscriptions/%s/resume' % first).status


@proof('quota-by-try', [200, 403], [403, 403])
def _(m):
    m.clock(now='2030-03-15T00:00:10Z')
    m.mould()
    orders = [m.order() for _ in range(16)]
    for o in orders[:14]:
        m.go('s-ash', o, 'place')
    assert m.ask('s-ash', 'POST', '/orders/%s/place' % orders[0]).status == 409
    return [m.ask('s-ash', 'POST', '/orders/%s/place' % o).status for o in orders[14:]]


# ---- versioning
@proof('told-in-newest', [100, 'plain'], [None, 'waterleaf'])
def _(m):
    m.mould()
    r = m.receiver()
    m.hook('s-ash', r.url, folio='folio-1')
    m.go('s-ash', m.order(), 'place')
    b = r.wait(1)[0]['body']['body']
    return [b.get('quantity'), b['finish']]


@proof('plain-unfiltered', 1, 0)
def _(m):
    m.mould()
    m.order(), m.order(finish='sized')
    return m.ask('s-ash', 'GET', '/orders?finish=plain', folio='folio-2').json['of']


@proof('folio-2-ends', [200, 200], [200, 410])
def _(m):
    a = m.ask('s-ash', 'GET', '/moulds', folio='folio-2').status
    m.clock(now='2028-01-02T00:00:00Z')
    return [a, m.ask('s-ash', 'GET', '/moulds', folio='folio-2').status]


@proof('old-folio-unsaid', [True, True], [True, False])
def _(m):
    return ['Deprecation' in m.ask('s-ash', 'GET', p, folio=None).headers for p in ('/moulds', '/moulds/AB-999')]


if __name__ == '__main__':
    ids = [f['id'] for f in STRANGER['faults']]
    assert set(ids) == set(PROOFS), set(ids) ^ set(PROOFS)
    only, bad = sys.argv[1:], 0
    for fault in ids:
        if only and fault not in only:
            continue
        f, right, wrong = PROOFS[fault]
        got = []
        for switch in (None, fault):
            m = Mill(switch)
            try:
                got.append(f(m))
            except Exception as e:
                import traceback
                traceback.print_exc()
                got.append('failed: %r' % e)
            finally:
                m.close()
        good = got == [right, wrong]
        bad += not good
        print(('ok   ' if good else 'FAIL ') + fault + ('' if good else ' right %r (wanted %r), faulty %r (wanted %r)' % (got[0], right, got[1], wrong)), flush=True)
    print('%d of %d shown' % ((len(only) or len(ids)) - bad, len(only) or len(ids)))
    sys.exit(1 if bad else 0)
