#!/usr/bin/env python3
"""python3 faults-test.py [ID ...]: each proof against the right service (has to pass) and the faulty one (has not to)."""
import json, subprocess, sys, os, http.client, threading, time, base64, queue, socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
HERE = os.path.dirname(os.path.abspath(__file__))
ST = json.load(open(os.path.join(HERE, 'stranger.json')))
PORT = [int(os.environ.get('PORT', '20100'))]
def cred(id, scheme=None):
    c = next(c for c in ST['callers'] if c['id'] == id and (scheme is None or c['scheme'] == scheme))
    if c['scheme'] == 'key': return {'X-Garden-Key': c['credential']}
    if c['scheme'] == 'badge': return {'Authorization': 'Badge ' + c['credential']}
    return {'Authorization': 'Basic ' + base64.b64encode(c['credential'].encode()).decode()}
class A:
    def __init__(s, r): s.st = r.status; s.h = r.headers; s.raw = r.read(); s.j = json.loads(s.raw) if s.raw and 'json' in (r.headers.get('Content-Type') or '') else None
    def __getitem__(s, k): return s.j[k]
class Svc:
    def __init__(s, fault=None):
        s.port = PORT[0]; PORT[0] += 2
        s.p = subprocess.Popen([*ST['command'], '--port', str(s.port), '--clock-port', str(s.port + 1), *(['--fault', fault] if fault else [])], cwd=HERE, stdout=subprocess.PIPE)
        s.p.stdout.readline(); s.c = http.client.HTTPConnection('127.0.0.1', s.port, timeout=10); s.n = 0
    def stop(s): s.c.close(); s.p.terminate(); s.p.wait()
    def q(s, method, path, who=None, body=None, scheme=None, key=None, raw=None, **h):
        hs = cred(who, scheme) if who else {}
        if body is not None: hs['Content-Type'] = 'application/json'; raw = json.dumps(body)
        if path == '/orders' and method == 'POST' and key is None: s.n += 1; key = 'k%d' % s.n
        if key: hs['Idempotency-Key'] = key
        for k, v in h.items(): hs[k.replace('_', '-')] = v
        s.c.request(method, '/dye' + path, raw, hs); return A(s.c.getresponse())
    def clock(s, d):
        c = http.client.HTTPConnection('127.0.0.1', s.port + 1, timeout=30); c.request('POST', '/', json.dumps({'advance': d})); r = A(c.getresponse()); c.close(); assert r.st == 200; return r
    def vat(s, who='rue', name='A vat', **k): r = s.q('POST', '/vats', who, dict(name=name, recipe={'plant': 'madder', 'mordant': 'alum'}, **k)); assert r.st == 201, r.raw; return r['id']
    def ready(s, **k): v = s.vat(**k); assert s.q('POST', '/vats/%s/heat' % v, 'rue').st == 200; s.clock('PT2H'); return v
    def order(s, who='wren', grams=100, fibre='wool', **k):
        r = s.q('POST', '/orders', who, dict(fibre=fibre, grams=grams, due='2030-01-05'), **k); assert r.st == 201, r.raw; return r['id']
    def dyed(s, n=1, fibre='wool'):
        v = s.ready(); os_ = [s.order(fibre=fibre) for _ in range(n)]
        for o in os_: r = s.q('POST', '/orders/%s/assign' % o, 'rue', {'vat': v}); assert r.st == 200, r.raw
        assert s.q('POST', '/vats/%s/exhaust' % v, 'rue').st == 200
        return os_
    def bed(s, code='MA-01'): assert s.q('PUT', '/beds/' + code, 'ivy', {'plant': 'madder'}).st == 201; return code
    def harvest(s, bed='MA-01', grams=500): r = s.q('POST', '/beds/%s/harvests' % bed, 'ivy', {'grams': grams}); assert r.st == 201, r.raw; return r.j
    def workshop(s, places=4):
        r = s.q('POST', '/workshops', 'rue', {'starts_at': '2031-05-01T10:00:00Z', 'places': places}); assert r.st == 201, r.raw
        assert s.q('POST', '/workshops/%s/publish' % r['id'], 'rue').st == 200; return r['id']
    def bell(s, hook, who='wren', **k): r = s.q('POST', '/bells', who, dict(url=hook.url, **k)); assert r.st == 201, r.raw; return r.j
class Hook:
    def __init__(s):
        s.got = []; s.status = 200; me = s
        class H(BaseHTTPRequestHandler):
            def do_POST(h):
                b = h.rfile.read(int(h.headers['Content-Length'])); me.got.append((dict(h.headers), json.loads(b))); h.send_response(me.status); h.send_header('Content-Length', '0'); h.end_headers()
            def log_message(h, *a): pass
        s.srv = ThreadingHTTPServer(('127.0.0.1', 0), H); s.url = 'http://127.0.0.1:%d/hook' % s.srv.server_address[1]
        threading.Thread(target=s.srv.serve_forever, daemon=True).start()
    def wait(s, n, t=2.0):
        e = time.time() + t
        while len(s.got) < n and time.time() < e: time.sleep(0.02)
        return len(s.got) >= n
    def kinds(s): return [b['what'] for _, b in s.got]
def hooked(fn):
    def go(s):
        h = Hook()
        try: return fn(s, h)
        finally: h.srv.shutdown(); h.srv.server_close()
    return go
PROOFS = {}
def proof(id):
    def d(fn): PROOFS[id] = fn; return fn
    return d
@proof('p-base')
def _(s): r = s.q('POST', '/vats', 'rue', {'name': 'One'}); return r.st == 201 and r.h['Location'] == '/dye/vats/' + r['id']
@proof('p-receive')
def _(s):
    d = s.q('POST', '/deliveries', 'oak', {'mordant': 'alum', 'grams': 100}); r = s.q('POST', '/deliveries/%s/receive' % d['id'], 'rue', scheme='badge')
    return r.st == 200 and r['state'] == 'received'
def open_stream(s, who, **h):
    c = http.client.HTTPConnection('127.0.0.1', s.port, timeout=5); c.request('GET', '/dye/stream', None, {**cred(who), **h}); r = c.getresponse(); st = r.status; c.close(); return st
@proof('p-stream')
def _(s): return open_stream(s, 'rue') == 200 and open_stream(s, 'ivy') == 200
@proof('p-bells')
def _(s):
    b = s.q('POST', '/bells', 'ivy', {'url': 'http://127.0.0.1:9/x'}); r = s.q('GET', '/bells', 'ivy')
    return b.st == 201 and r.st == 200 and [x['id'] for x in r['rows']] == [b['id']] and s.q('DELETE', '/bells/' + b['id'], 'ivy').st == 204
@proof('p-almanac')
def _(s): return s.q('GET', '/almanac', Dye_Edition='madder').j == {'opens': '08:00', 'closes': '17:30', 'houses': ['north', 'south']}
@proof('r-celsius')
def _(s): return s.q('POST', '/vats', 'rue', {'name': 'Hot', 'celsius': 100}).st == 201 and s.q('POST', '/vats', 'rue', {'name': 'Hotter', 'celsius': 101}).st == 422
@proof('r-vatid')
def _(s): import re; return bool(re.fullmatch('vat_[a-z0-9]{8}', s.vat()))
@proof('r-topics')
def _(s): r = s.q('POST', '/bells', 'wren', {'url': 'http://127.0.0.1:9/x'}); return r.st == 201 and 'topics' not in r.j and len(r['secret']) == 40
@proof('r-held')
def _(s):
    s.bed(); s.harvest(); s.clock('P3D'); r = s.q('DELETE', '/beds/MA-01', 'ivy'); s.bed('MA-02')
    return r.st == 409 and r['fault'] == 'still_needed' and s.q('DELETE', '/beds/MA-02', 'ivy').st == 204
@proof('r-lot')
def _(s): s.bed(); s.bed('MA-02'); a, b, c = s.harvest(), s.harvest('MA-02'), s.harvest(); return [a['lot'], b['lot'], c['lot']] == [1, 1, 2]
@proof('r-secret')
def _(s): s.q('POST', '/bells', 'wren', {'url': 'http://127.0.0.1:9/x'}); r = s.q('GET', '/bells', 'wren'); return len(r['rows']) == 1 and 'secret' not in r['rows'][0]
@proof('s-cancel')
def _(s):
    v = s.ready(); o = s.order(); s.q('POST', '/orders/%s/assign' % o, 'rue', {'vat': v}); r = s.q('POST', '/orders/%s/cancel' % o, 'wren')
    return r.st == 409 and r['fault'] == 'too_late' and s.q('GET', '/orders/' + o, 'wren')['status'] == 'dyeing'
@proof('s-rot')
def _(s):
    s.bed(); h = s.harvest(); s.clock('P2DT23H'); a = s.q('GET', '/harvests/' + h['id'], 'ivy')['stage']; s.clock('PT1H')
    return a == 'picked' and s.q('GET', '/harvests/' + h['id'], 'ivy')['stage'] == 'rotten'
@proof('s-seat')
def _(s): w = s.workshop(); r = s.q('POST', '/workshops/%s/seats' % w, 'wren', {}); return r.st == 201 and r['heads'] == 1 and r['state'] == 'asked'
@proof('s-places')
def _(s):
    w = s.workshop(4); a = s.q('POST', '/workshops/%s/seats' % w, 'wren', {'heads': 3})['id']; b = s.q('POST', '/workshops/%s/seats' % w, 'lark', {'heads': 2})['id']; c = s.q('POST', '/workshops/%s/seats' % w, 'dove', {})['id']
    x, y, z = s.q('POST', '/seats/%s/confirm' % a, 'wren'), s.q('POST', '/seats/%s/confirm' % b, 'lark'), s.q('POST', '/seats/%s/confirm' % c, 'dove')
    return x.st == 200 and y.st == 409 and y['fault'] == 'no_places' and z.st == 200 and s.q('GET', '/workshops/' + w)['left'] == 0
@proof('s-finish')
def _(s): o = s.dyed(3); return [s.q('GET', '/orders/' + x, 'wren')['status'] for x in o] == ['dyed'] * 3
@proof('s-lapsed')
def _(s): o = s.order(); s.clock('P14D'); r = s.q('GET', '/orders?status=lapsed', 'wren'); return r.st == 200 and [x['id'] for x in r['rows']] == [o]
@proof('e-due')
def _(s): r = s.q('POST', '/orders', 'wren', {'fibre': 'wool', 'grams': 100}); return r.st == 422 and r['fault'] == 'field_missing' and r['says'] == 'due is missing'
@proof('e-sort')
def _(s):
    for g in (200, 400, 300): s.order(grams=g)
    f = lambda p: [x['grams'] for x in s.q('GET', '/orders?sort=' + p, 'wren')['rows']]
    return f('weight') == [200, 300, 400] and f('-weight') == [400, 300, 200]
@proof('e-head')
def _(s): r = s.q('HEAD', '/orders', 'wren'); return r.st == 200 and r.raw == b''
@proof('e-collect')
def _(s): o = s.dyed()[0]; r = s.q('POST', '/orders/%s/collect' % o, 'wren'); return r.st == 200 and r.j == {'order': o, 'status': 'collected', 'to_pay': 700}
@proof('e-seatpath')
def _(s): w = s.workshop(); i = s.q('POST', '/workshops/%s/seats' % w, 'wren', {})['id']; r = s.q('POST', '/seats/%s/release' % i, 'wren'); return r.st == 200 and r['state'] == 'released'
@proof('a-order')
def _(s): o = s.order(); r = s.q('GET', '/orders/' + o, 'oak'); return r.st == 404 and r['fault'] == 'not_here' and s.q('GET', '/orders/' + o, 'rue').st == 200
@proof('a-accept')
def _(s):
    b = {'mordant': 'alum', 'grams': 100}; r = s.q('POST', '/deliveries', 'rue', b, scheme='key')
    return r.st == 401 and r.h['WWW-Authenticate'].startswith('Badge ') and s.q('POST', '/deliveries', 'rue', b, scheme='badge').st == 201
@proof('a-prefix')
def _(s): v = cred('oak')['Authorization'].split(' ')[1]; return s.q('GET', '/vats', Authorization='Badge ' + v).st == 200 and s.q('GET', '/vats', Authorization='bAdGe ' + v).st == 200
@proof('a-replace')
def _(s): s.bed(); a, b = s.q('PUT', '/beds/MA-09', 'fern', {'plant': 'weld'}), s.q('PUT', '/beds/MA-01', 'fern', {'plant': 'weld'}); return (a.st, a['fault'], b.st) == (403, 'scope_lacking', 403) and b['fault'] == 'scope_lacking'
@proof('a-fields')
def _(s): v = s.vat(); one = s.q('GET', '/vats/' + v, 'wren').j; r = s.q('GET', '/vats', 'wren')['vats'][0]; return set(one) == set(r) == {'id', 'name', 'swatches', 'stage'}
@proof('v-vat')
@hooked
def _(s, h): s.bell(h, topics=['order.dyed']); s.dyed(); return h.wait(1) and h.got[0][1]['about']['status'] == 'dyed' and 'vat' not in h.got[0][1]['about']
@proof('v-lost')
def _(s):
    g, d = Hook(), Hook()
    try:
        s.bell(g, 'ivy'); s.bell(d, 'rue'); s.bed(); s.harvest(); i = s.harvest(grams=70); s.clock('P3D'); s.bed('MA-02'); x = s.harvest('MA-02')
        s.q('POST', '/harvests/%s/dry' % x['id'], 'ivy'); return g.wait(3) and d.wait(1) and sorted(g.kinds()) == ['harvest.dried', 'harvest.lost', 'harvest.lost'] and d.kinds() == ['harvest.dried']
    finally:
        for x in (g, d): x.srv.shutdown(); x.srv.server_close()
@proof('v-star')
@hooked
def _(s, h): s.bell(h, topics=['seat.*', 'order.*']); s.order(); return h.wait(1, 1) and h.kinds() == ['order.placed']
@proof('v-order')
@hooked
def _(s, h):
    v = s.ready(); s.bell(h); h.status = 500; o = s.order(); h.wait(1); s.q('POST', '/orders/%s/assign' % o, 'rue', {'vat': v}); s.q('POST', '/vats/%s/exhaust' % v, 'rue'); time.sleep(0.3)
    a = h.kinds(); h.status = 200; s.clock('PT10S'); h.wait(3); return a == ['order.placed'] and h.kinds() == ['order.placed', 'order.placed', 'order.dyed'] and h.got[0][1]['event'] == h.got[1][1]['event']
@proof('v-tries')
@hooked
def _(s, h):
    s.bell(h); h.status = 503; s.order(); h.wait(1); n = [len(h.got)]
    for d in ('PT13S', 'PT2M30S', 'PT37M', 'P1D'): s.clock(d); time.sleep(0.15); n.append(len(h.got))
    return n == [1, 2, 3, 4, 4]
@proof('v-silk')
@hooked
def _(s, h): s.bell(h, topics=['order.dyed']); s.dyed(fibre='silk'); return h.wait(1, 1) and h.got[0][1]['about']['fibre'] == 'silk'
@proof('x-pointer')
def _(s): r = s.q('POST', '/vats', 'rue', {'name': 'One', 'recipe': {'plant': 'moss', 'mordant': 'alum'}}); return r.st == 422 and r['fault'] == 'unfit' and [p['at'] for p in r['places']] == ['recipe.plant']
@proof('x-order')
def _(s): a, b = s.q('GET', '/vats?colour=red'), s.q('GET', '/vats'); return a.st == 400 and a['fault'] == 'bad_query' and b.st == 401
@proof('x-reused')
def _(s):
    a, b, c = s.q('POST', '/vats', 'rue', {'name': 'One'}, key='x'), s.q('POST', '/vats', 'rue', {'name': 'One'}, key='x'), s.q('POST', '/vats', 'rue', {'name': 'Two'}, key='x')
    return a.st == b.st == 201 and a['id'] == b['id'] and c.st == 422 and c['fault'] == 'key_reused'
@proof('x-tag')
def _(s): v = s.vat(); r = s.q('PATCH', '/vats/' + v, 'rue', {'celsius': 30}); return r.st == 428 and r['fault'] == 'tag_wanted'
@proof('x-else')
def _(s): o = s.order(); s.clock('P14D'); r = s.q('POST', '/orders/%s/cancel' % o, 'wren'); return r.st == 409 and r['fault'] == 'too_late'
@proof('l-rate')
def _(s):
    for _ in range(12): s.order()
    r = s.q('POST', '/orders', 'wren', {'fibre': 'wool', 'grams': 100, 'due': '2030-01-05'}); return r.st == 429 and r['fault'] == 'too_fast' and 1 <= int(r.h['Retry-After']) <= 60
@proof('l-house')
def _(s):
    if time.gmtime().tm_hour == 23: s.clock('PT2H')
    for i in range(40):
        if i % 12 == 0: s.clock('PT61S')
        s.q('POST', '/orders/%s/cancel' % s.order(), 'wren')
    s.clock('PT61S'); o = lambda w: s.q('POST', '/orders', w, {'fibre': 'wool', 'grams': 100, 'due': '2030-01-05'})
    a, b = o('wren'), o('lark'); return a.st == 403 and a['fault'] == 'used_up' and 'Retry-After' in a.h and b.st == 201
@proof('l-page')
def _(s): return s.q('GET', '/harvests?per=60', 'ivy').st == 200 and s.q('GET', '/harvests?per=61', 'ivy').st == 400
@proof('l-size')
def _(s):
    b = json.dumps({'name': 'One'}); f = lambda n, name: s.q('POST', '/vats', 'rue', raw=json.dumps({'name': name}).ljust(n), Content_Type='application/json')
    a, c = f(8192, 'One'), f(8193, 'Two'); return a.st == 201 and c.st == 413 and c['fault'] == 'too_large'
@proof('l-rows')
def _(s):
    os_ = [s.order() for _ in range(12)]; s.clock('PT61S'); os_ += [s.order() for _ in range(3)]
    f = lambda: s.q('POST', '/orders', 'wren', {'fibre': 'wool', 'grams': 100, 'due': '2030-01-05'}); a = f(); s.q('POST', '/orders/%s/cancel' % os_[0], 'wren'); b = f()
    return a.st == 403 and a['fault'] == 'used_up' and b.st == 201
@proof('n-case')
def _(s): r = s.q('GET', '/vats', 'rue', Dye_Edition='Weld'); return r.st == 400 and r['fault'] == 'no_edition' and s.q('GET', '/vats', 'rue', Dye_Edition='weld').st == 200
@proof('n-default')
def _(s): r = s.q('POST', '/orders', 'wren', {'fibre': 'wool', 'grams': 100, 'due': '2030-01-05'}); return r.st == 201 and r.h['Dye-Edition'] == 'woad' and 'grams' in r.j
@proof('n-refused')
def _(s): a, b = s.q('GET', '/vats', 'rue', Dye_Edition='weld'), s.q('GET', '/vats/vat_00000000', 'rue', Dye_Edition='weld'); return b.st == 404 and a.h['Deprecation'] == b.h['Deprecation'] == '@1788220800'
@proof('n-words')
def _(s): r = s.q('POST', '/orders', 'wren', {'fibre': 'wool', 'weight': 100, 'due': '2030-01-05'}, Dye_Edition='madder'); return r.st == 201 and r['weight'] == 100 and s.q('GET', '/orders/' + r['id'], 'wren')['grams'] == 100
@proof('n-bells')
def _(s): r = s.q('GET', '/bells', 'rue', Dye_Edition='weld'); return r.st == 405 and r['fault'] == 'no_method' and s.q('GET', '/bells', 'rue').st == 200
def run(id, fault):
    s = Svc(fault)
    try: return bool(PROOFS[id](s)), ''
    except Exception as e: return False, repr(e)[:160]
    finally: s.stop()
ids = sys.argv[1:] or [f['id'] for f in ST['faults']]
failed = 0
for i in ids:
    (r, rw), (f, fw) = run(i, None), run(i, i)
    ok = r and not f; failed += not ok
    print('%-4s %-10s right: %s %s faulty: %s %s' % ('ok' if ok else 'FAIL', i, 'as documented' if r else 'NOT', rw, 'shown' if not f else 'NOT SHOWN', fw), flush=True)
print('%d of %d' % (len(ids) - failed, len(ids)))
sys.exit(1 if failed else 0)
