import json, subprocess, socket, http.client, time, sys, os, hmac, hashlib, base64, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from concurrent.futures import ThreadPoolExecutor
HERE = os.path.dirname(os.path.abspath(__file__)); ST = json.load(open(HERE + '/stranger.json'))
CR = {c['id']: c for c in ST['callers']}
def free():
    s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; s.close(); return p
class Svc:
    def __init__(s, fault=None):
        for _ in range(3):
            s.port, s.cport = free(), free()
            s.p = subprocess.Popen([sys.executable, HERE + '/service.py', '--port', str(s.port), '--clock-port', str(s.cport)] + (['--fault', fault] if fault else []))
            for _ in range(300):
                if s.p.poll() is not None: break
                try: socket.create_connection(('127.0.0.1', s.cport), 1).close(); s.c = http.client.HTTPConnection('127.0.0.1', s.port); return
                except OSError: time.sleep(0.02)
        raise RuntimeError('no start')
    def __call__(s, m, path, who=None, body=None, h=None, base='/depot', raw=None):
        h = dict(h or {})
        if who:
            c = CR[who]
            if c['scheme'] == 'key': h['Depot-Key'] = c['credential']
            else: h['Authorization'] = 'Bearer ' + c['credential']
        b = raw if raw is not None else json.dumps(body) if body is not None else None
        if b is not None: h.setdefault('Content-Type', 'application/json')
        s.c.request(m, base + path, b, h); r = s.c.getresponse(); d = r.read()
        x = Ans(); x.st = r.status; x.h = r.headers; x.j = json.loads(d) if d else None; return x
    def adv(s, d):
        c = http.client.HTTPConnection('127.0.0.1', s.cport); c.request('POST', '/', json.dumps({'advance': d})); r = c.getresponse(); x = json.loads(r.read()); assert r.status == 200, x; c.close()
    def now(s):
        c = http.client.HTTPConnection('127.0.0.1', s.cport); c.request('GET', '/'); x = json.loads(c.getresponse().read())['now']; c.close(); return x
    def at(s, h):
        from datetime import datetime, timedelta
        return (datetime.strptime(s.now()[:19], '%Y-%m-%dT%H:%M:%S') + timedelta(hours=h)).strftime('%Y-%m-%dT%H:%M:%SZ')
    def end(s): s.c.close(); s.p.kill(); s.p.wait()
class Ans:
    @property
    def code(s): return (s.j or {}).get('problem', {}).get('code')
class Recv:
    def __init__(s, st=200):
        s.got = []; me = s
        class Hd(BaseHTTPRequestHandler):
            def do_POST(q):
                b = q.rfile.read(int(q.headers['Content-Length'])); me.got.append((dict(q.headers), b)); q.send_response(st); q.send_header('Content-Length', '0'); q.end_headers()
            def log_message(q, *a): pass
        s.h = HTTPServer(('127.0.0.1', 0), Hd); threading.Thread(target=s.h.serve_forever, args=(0.02,), daemon=True).start(); s.url = 'http://127.0.0.1:%d/in' % s.h.server_port
    def wait(s, n):
        for _ in range(60):
            if len(s.got) >= n: return True
            time.sleep(0.02)
        return False
def loco(s, n='1', who='m_ada', **k):
    r = s('POST', '/locomotives', who, dict(number=n, name='Fenchurch', wheels='0-6-0', weight_kg=28000, **k)); assert r.st == 201, r.j; return r.j['id']
def cert(s, l, sign=True, hours=24 * 365):
    r = s('POST', '/locomotives/%s/certificates' % l, 'i_jon', dict(exam='steam', pressure_psi=150, expires_at=s.at(hours))); assert r.st == 201, r.j
    if sign: assert s('POST', '/certificates/%s/sign' % r.j['id'], 'i_jon').st == 200
    return r.j['id']
def steam(s, n='1', **k):
    l = loco(s, n); cert(s, l, **k); assert s('POST', '/locomotives/%s/pass' % l, 'm_ada').st == 200
    assert s('POST', '/locomotives/%s/light' % l, 'c_gus').st == 200; return l
def defect(s, l, who='c_gus', **k):
    r = s('POST', '/defects', who, dict(dict(locomotive=l, title='Leaking gland', severity='running'), **k)); assert r.st == 201, r.j; return r.j['id']
def turn(s, l, **k):
    r = s('POST', '/turns', 'm_ada', dict(dict(locomotive=l, driver='c_gus', fireman='c_hal', starts_at=s.at(1), ends_at=s.at(8)), **k), h=k.pop('h', None)); return r
def stock(s, **k):
    r = s('POST', '/stocks', 'm_ada', dict(dict(kind='coal', place='Bunker', capacity=1000, reorder_at=50), **k)); assert r.st == 201, r.j; return r.j['id']
def hook(s, url, who='m_ada', **k): return s('POST', '/hooks', who, dict(dict(url=url), **k))
def entries(s, kind): return s('GET', '/entries?kind=' + kind, 'm_ada').j['items']
def tok(**k):
    c = dict(CR['c_gus']['claims'], **k); b = lambda x: base64.urlsafe_b64encode(x).decode().rstrip('=')
    m = b(b'{"alg":"HS256"}') + '.' + b(json.dumps(c).encode()); return {'Authorization': 'Bearer ' + m + '.' + b(hmac.new(b'steam-depot-secret-of-the-shed-0123456789', m.encode(), 'sha256').digest())}
T = {}
def t(f): T[f.__name__.replace('_', '-')] = f; return f
L = '/locomotives'
@t
def p_base(s): return s('GET', L, 'm_ada').st == 200
@t
def p_location(s): r = s('POST', L, 'm_ada', dict(number='1', name='Ab', wheels='0-6-0', weight_kg=9000)); return r.h['Location'] == '/depot/locomotives/' + r.j['id']
@t
def p_crew(s): return s('GET', L, 'c_gus').st == 200 and s('GET', L, 'c_ivy').st == 200
@t
def p_inspector(s): return s('GET', L, 'i_jon').st == 200
@t
def p_draw(s): i = stock(s); s('POST', '/stocks/%s/deliver' % i, 'm_ada', dict(amount=9)); r = s('POST', '/stocks/%s/draw' % i, 'c_gus', dict(amount=9)); return r.st == 200 and r.j['level'] == 0
@t
def p_about(s): r = s('GET', '/about'); return r.st == 200 and r.j == {'depot': 'Ashby Road', 'tracks': 7}
@t
def r_max(s): return s('POST', L, 'm_ada', dict(number='1', name='Ab', wheels='0-6-0', weight_kg=200000)).st == 201
@t
def r_certified(s): l = loco(s); cert(s, l, False); return s('GET', L + '/' + l, 'm_ada').j['certified'] is False
@t
def r_updated(s): l = loco(s); cert(s, l); s.adv('PT1H'); a = s('GET', L + '/' + l, 'm_ada').j['updated_at']; return s('POST', L + '/%s/pass' % l, 'm_ada').j['updated_at'] > a
@t
def r_visible(s): d = defect(s, loco(s), 'm_ada', cost_pence=500); return s('GET', '/defects/' + d, 'm_ada').j['cost_pence'] == 500 and 'cost_pence' not in s('GET', '/defects/' + d, 'f_dan').j
@t
def r_id(s): return hook(s, 'https://a.example/').j['id'].startswith('whk_')
@t
def r_reveal(s): r = hook(s, 'https://a.example/').j; return r['secret'].startswith('hs_') and 'secret' not in s('GET', '/hooks/' + r['id'], 'm_ada').j
@t
def r_pattern(s): return s('POST', L, 'm_ada', dict(number='12ab', name='Ab', wheels='0-6-0', weight_kg=9000)).code == 'field_invalid'
@t
def r_count(s): a, b = loco(s), loco(s, '2'); return [turn(s, x).j['number'] for x in (a, b, a)] == [1, 1, 2]
@t
def s_light(s):
    l = loco(s); cert(s, l); s('POST', L + '/%s/pass' % l, 'm_ada')
    for _ in range(3): defect(s, l)
    return s('POST', L + '/%s/light' % l, 'c_gus').code == 'too_many_defects'
@t
def s_drop(s): l = steam(s); return s('POST', L + '/%s/drop' % l, 'c_gus').j['status'] == 'fit' and s('POST', L + '/%s/drop' % l, 'c_gus').code == 'wrong_state'
@t
def s_cool(s): l = steam(s); s.adv('PT35H'); a = s('GET', L + '/' + l, 'm_ada').j['status']; s.adv('PT1H1M'); return (a, s('GET', L + '/' + l, 'm_ada').j['status']) == ('in_steam', 'fit')
@t
def s_sign_on(s): l = loco(s); x = turn(s, l).j['id']; return s('POST', '/turns/%s/sign_on' % x, 'c_gus').code == 'engine_cold'
@t
def s_reopen(s): d = defect(s, loco(s)); s('POST', '/defects/%s/reject' % d, 'm_ada'); return s('POST', '/defects/%s/reopen' % d, 'm_ada').st == 200
@t
def s_lapse(s): d = defect(s, loco(s)); s('POST', '/defects/%s/take' % d, 'f_dan'); s.adv('P14DT1M'); return s('GET', '/defects/' + d, 'm_ada').j['status'] == 'reported'
@t
def s_expire(s): l = steam(s, hours=2); s.adv('PT3H'); return s('GET', L + '/' + l, 'm_ada').j['status'] == 'stopped'
@t
def e_put(s): i = stock(s, supplier='Ffos'); r = s('PUT', '/stocks/' + i, 'm_ada', dict(kind='coal', place='Bunker', capacity=900)); return r.st == 200 and 'supplier' not in r.j and r.j['reorder_at'] == 0
@t
def e_heavier(s): loco(s); return s('GET', L + '?heavier_than=28000', 'm_ada').j['items'] == [] and len(s('GET', L + '?heavier_than=27999', 'm_ada').j['items']) == 1
@t
def e_param(s): return s('GET', '/stocks?colour=red', 'm_ada').code == 'bad_parameter'
@t
def e_idem(s):
    i = stock(s)
    for _ in range(2): r = s('POST', '/stocks/%s/deliver' % i, 'm_ada', dict(amount=5), h={'Idempotency-Key': 'k1'})
    return r.j['level'] == 5 and s('GET', '/stocks/' + i, 'm_ada').j['level'] == 5
@t
def e_304(s): l = loco(s); r = s('GET', L + '/' + l, 'm_ada'); return s('GET', L + '/' + l, 'm_ada', h={'If-None-Match': r.h['ETag']}).st == 304
@t
def e_if_match(s):
    l = loco(s); e = s('GET', L + '/' + l, 'm_ada').h['ETag']
    return s('PATCH', L + '/' + l, 'm_ada', dict(name='Bo'), h={'If-Match': e}).st == 200 and s('PATCH', L + '/' + l, 'm_ada', dict(name='Cy'), h={'If-Match': e}).code == 'tag_differs'
@t
def e_delete(s): i = hook(s, 'https://a.example/').j['id']; return s('DELETE', '/hooks/' + i, 'm_ada').st == 204
@t
def a_challenge(s): r = s('GET', L); return r.code == 'no_credential' and any('Bearer' in x for x in r.h.get_all('WWW-Authenticate', []))
@t
def a_header(s): return s('GET', L, 'm_ada').st == 200
@t
def a_audience(s): return s('GET', L, h=tok()).st == 200 and s('GET', L, h=tok(aud='other')).code == 'bad_credential'
@t
def a_expired(s): return s('GET', L, h=tok(exp=1600000000)).code == 'credential_over'
@t
def a_list_turn(s): l = loco(s); turn(s, l); turn(s, l, driver='c_zoe'); turn(s, l, driver='c_zoe', fireman='c_yan'); return len(s('GET', '/turns', 'c_gus').j['items']) == 1
@t
def a_tenant(s): d = defect(s, loco(s)); return s('GET', '/defects/' + d, 'f_fay').st == 404
@t
def a_mend(s): d = defect(s, loco(s)); s('POST', '/defects/%s/take' % d, 'f_dan'); return s('POST', '/defects/%s/mend' % d, 'f_eve', dict(work='packed')).code == 'not_your_job' and s('POST', '/defects/%s/mend' % d, 'f_dan', dict(work='packed')).st == 200
@t
def v_renamed(s):
    l = loco(s)
    for b in (dict(weight_kg=29000), dict(name='Stepney')): s('PATCH', L + '/' + l, 'm_ada', b, h={'If-Match': '*'})
    x = entries(s, 'locomotive.renamed'); return len(x) == 1 and x[0]['payload'] == dict(locomotive=l, was='Fenchurch', name='Stepney')
@t
def v_cool(s): l = steam(s); s.adv('PT37H'); x = entries(s, 'locomotive.moved'); return x[0]['payload'] == {'locomotive': l, 'from': 'in_steam', 'to': 'fit'} and 'actor' not in x[0]
@t
def v_from(s): l = steam(s); return entries(s, 'locomotive.moved')[-1]['payload']['from'] == 'stored'
@t
def v_twice(s): turn(s, loco(s)); return len(entries(s, 'turn.rostered')) == 1
@t
def v_low(s):
    i = stock(s); s('POST', '/stocks/%s/deliver' % i, 'm_ada', dict(amount=60))
    for _ in range(3): s('POST', '/stocks/%s/draw' % i, 'm_ada', dict(amount=10))
    return len(entries(s, 'stock.low')) == 1
@t
def v_sign(s):
    q = Recv(); k = hook(s, q.url).j['secret']; loco(s)
    if not q.wait(1): return False
    h, b = q.got[0]; p = dict(x.split('=', 1) for x in h['Depot-Signature'].split(','))
    return h['Depot-Event'] == 'locomotive.added' and p['v1'] == hmac.new(k.encode(), p['t'].encode() + b'.' + b, 'sha256').hexdigest()
@t
def v_retry(s): q = Recv(500); hook(s, q.url); loco(s); a = q.wait(1); time.sleep(.1); s.adv('PT13S'); return a and q.wait(2) and q.got[0][1] == q.got[1][1]
@t
def x_dup_status(s): loco(s); r = s('POST', L, 'm_ada', dict(number='1', name='Ab', wheels='0-6-0', weight_kg=9000)); return (r.st, r.code) == (409, 'taken')
@t
def x_reference(s): r = turn(s, 'loc_' + 'x' * 16); return (r.st, r.code) == (422, 'no_such_reference')
@t
def x_else(s): x = turn(s, loco(s)).j['id']; s('POST', '/turns/%s/cancel' % x, 'm_ada'); r = s('POST', '/turns/%s/cancel' % x, 'm_ada'); return (r.st, r.code) == (409, 'turn_begun')
@t
def x_missing(s): r = s('POST', '/stocks', 'm_ada', dict(kind='oil', place='Lamp room')); return (r.st, r.code, r.j['problem']['fields'][0]['path']) == (422, 'field_missing', '/capacity')
@t
def x_shape(s): return s('GET', L + '/loc_nothing', 'm_ada').code == 'not_found'
@t
def x_past(s): r = turn(s, loco(s), starts_at=s.at(-1)); return (r.st, r.code) == (422, 'in_the_past')
@t
def l_rate(s): c = [s('GET', '/stocks', 'f_dan').st for _ in range(301)]; return c == [200] * 300 + [429]
@t
def l_retry_after(s):
    for _ in range(315): r = s('GET', '/stocks', 'f_dan')
    return r.code == 'too_often' and 1 <= int(r.h.get('Retry-After', 0)) <= 60
@t
def l_body(s): b = json.dumps(dict(kind='coal', place='Yard', capacity=9)); return s('POST', '/stocks', 'm_ada', raw=b + ' ' * (8193 - len(b))).code == 'too_large' and s('POST', '/stocks', 'm_ada', raw=b + ' ' * (8192 - len(b))).st == 201
@t
def l_clamp(s): return s('GET', '/entries?limit=201', 'm_ada').st == 200
@t
def l_rows(s): return [hook(s, 'https://a.example/').st for _ in range(5)] == [201] * 4 + [429]
@t
def l_quota(s):
    l = loco(s)
    if s.now()[11:16] >= '23:50': s.adv('PT20M')
    for i in range(30):
        if i == 20: s.adv('PT2M')
        defect(s, l)
    return s('POST', '/defects', 'c_gus', dict(locomotive=l, title='One more', severity='running')).code == 'used_up'
O = {'Depot-Version': '2024-10-01'}
@t
def w_rename(s): x = turn(s, loco(s)).j['id']; r = s('GET', '/turns/' + x, 'm_ada', h=O).j; return r.get('engine_driver') == 'c_gus' and 'driver' not in r
@t
def w_note(s): x = turn(s, loco(s), note='Early').j['id']; return 'note' not in s('GET', '/turns/' + x, 'm_ada', h=O).j and s('GET', '/turns/' + x, 'm_ada').j['note'] == 'Early'
@t
def w_enum(s): d = defect(s, loco(s), severity='stopping'); return s('GET', '/defects/' + d, 'm_ada', h=O).j['grade'] == 'grounding'
@t
def w_unknown(s): return s('GET', '/stocks', 'm_ada', h={'Depot-Version': '2023-01-01'}).code == 'version_unknown'
@t
def w_sunset(s): a = s('GET', '/stocks', 'm_ada', h=O).st; s.adv('P2Y'); r = s('GET', '/stocks', 'm_ada', h=O); return a == 200 and (r.st, r.code) == (410, 'version_over')
@t
def w_sunset_head(s): return s('GET', '/stocks', 'm_ada', h=O).h['Sunset'] == 'Fri, 01 Oct 2027 00:00:00 GMT'
def one(fn, fault):
    s = Svc(fault)
    try: return bool(fn(s))
    except Exception as x: return x
    finally: s.end()
def both(f):
    fn = T.get(f['id'])
    if not fn: return f['id'], 'no proof', None
    a, b = one(fn, None), one(fn, f['id'])
    return f['id'], a, b
if __name__ == '__main__':
    ok = 0
    with ThreadPoolExecutor(2) as ex:
        for i, a, b in ex.map(both, ST['faults']):
            if '-v' in sys.argv and isinstance(b, Exception): print('raised', i, repr(b)[:150])
            if a is True and b is not True: ok += 1
            else: print('NOT HELD', i, 'correct:', repr(a), 'faulty:', repr(b))
    print('%d of %d' % (ok, len(ST['faults'])))
