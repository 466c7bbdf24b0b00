#!/usr/bin/env python3
"""For each fault a proof by hand: it passes on the sound service and fails with the fault. `faults-test.py [ID ...]`"""
import hashlib, hmac, http.client, http.server, json, os, socket, subprocess, sys, threading, time
HERE = os.path.dirname(os.path.abspath(__file__))
DOC = json.load(open(os.path.join(HERE, 'stranger.json')))
CRED = {c['id'].split('-')[1]: c for c in DOC['callers']}
B = '/fishery/e2'

def free():
    s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; s.close(); return p
class Service:
    def __init__(self, fault=None):
        self.port, self.clock, self.n = free(), free(), 0
        self.p = subprocess.Popen([sys.executable, os.path.join(HERE, 'service.py'), '--port', str(self.port), '--clock-port', str(self.clock)] + (['--fault', fault] if fault else []), stdout=subprocess.PIPE)
        self.p.stdout.readline()
        self.c = http.client.HTTPConnection('127.0.0.1', self.port)
    def stop(self): self.c.close(); self.p.terminate(); self.p.wait(); self.p.stdout.close()
    def __call__(self, who, method, path, body=None, headers=None, raw=False, seal_age=0):
        path = path if raw else B + path
        h = dict(headers or {})
        data = b''
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            h.setdefault('Content-Type', 'application/json')
        if who:
            c = CRED[who]
            if c['scheme'] == 'seal':
                k, s = c['credential'].split(':')
                t = int(self.now() / 1000) - seal_age
                m = '%s %s\n%d\n%s' % (method, path, t, hashlib.sha256(data).hexdigest())
                h['Weir-Seal'] = 'k=%s;t=%d;s=%s' % (k, t, hmac.new(s.encode(), m.encode(), 'sha256').hexdigest())
            else: h.setdefault('Authorization', 'Tally ' + c['credential'])
        self.c.request(method, path, data or None, h)
        r = self.c.getresponse()
        b = r.read()
        r.json = json.loads(b) if b else None
        r.word = r.json['snag']['word'] if r.status >= 400 and r.json else None
        return r
    def door(self, o=None):
        c = http.client.HTTPConnection('127.0.0.1', self.clock)
        c.request('POST' if o else 'GET', '/', json.dumps(o) if o else None); r = json.loads(c.getresponse().read()); c.close(); return r['now']
    def advance(self, d): return self.door({'advance': d})
    def now(self):
        import datetime
        return datetime.datetime.fromisoformat(self.door().replace('Z', '+00:00')).timestamp() * 1000
    def iso(self, days=0, hours=0): return time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(self.now() / 1000 + days * 86400 + hours * 3600))
    # what most proofs need
    def weir(self, who='dirk', charter=True, **k):
        self.n += 1
        b = {'code': 'ALD-%02d' % self.n, 'name': 'Weir %d' % self.n, 'reach': 'upper', 'length_m': 40, **k}
        r = self(who, 'POST', '/weirs', b)
        assert r.status == 201, r.json
        if charter: assert self('ada', 'POST', '/weirs/%s/charter' % b['code']).status == 200
        return b['code']
    def licence(self, weir, who='dirk', grant=True, **k):
        r = self(who, 'POST', '/weirs/%s/licences' % weir, {'season': 'autumn', 'cap_g': 10000, 'ends_at': self.iso(60), **k})
        assert r.json.get('id'), r.json
        if grant: assert self('ada', 'POST', '/licences/%s/grant' % r.json['id']).status == 200
        return r.json['id']
    def catch(self, lic, who='dirk', land=False, **k):
        self.n += 1
        r = self(who, 'POST', '/licences/%s/catches' % lic, {'grams': 1500, 'stage': 'yellow', 'caught_at': self.iso(0, -1), **k}, {'Weir-Slip': 's%d' % self.n})
        assert r.status == 201, r.json
        if land: assert self(who, 'POST', '/catches/%s/land' % r.json['id']).status == 200
        return r.json['id']
    def bell(self, who='dirk', url='http://127.0.0.1:9/', **k):
        self.n += 1
        return self(who, 'POST', '/bells', {'label': 'b%d' % self.n, 'url': url, **k})
    def told(self, kind, about=None):
        return self('ada', 'GET', '/notices?kind=%s%s' % (kind, '&about=' + about if about else '')).json['rows']
class Ear:
    """hears a bell; answers the statuses that it is given, then 200"""
    def __init__(self, *statuses):
        self.got, st = [], list(statuses)
        ear = self
        class Hd(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                b = self.rfile.read(int(self.headers['Content-Length']))
                ear.got.append((dict(self.headers), b))
                self.send_response(st.pop(0) if st else 200); self.send_header('Content-Length', '0'); self.end_headers()
            def log_message(self, *a): pass
        self.s = http.server.HTTPServer(('127.0.0.1', 0), Hd)
        self.url = 'http://127.0.0.1:%d/x' % self.s.server_port
        threading.Thread(target=self.s.serve_forever, args=(0.02,), daemon=True).start()
    def wait(self, n, secs=1.0):
        t = time.time() + secs
        while len(self.got) < n and time.time() < t: time.sleep(0.01)
        return self.got

P = {}
def proof(f): P[f.__name__.replace('_', '-')] = f
def etag(s, who, path): return s(who, 'GET', path).getheader('ETag')
def patch_weir(s, w, b, who='dirk'): return s(who, 'PATCH', '/weirs/' + w, b, {'If-Match': etag(s, who, '/weirs/' + w)})

@proof
def p_function(s): return s('dirk', 'GET', '/bells').status == 200
@proof
def p_user(s): return s('gus', 'GET', '/catches').status == 200
@proof
def r_type(s): return s('dirk', 'GET', '/licences/' + s.licence(s.weir())).json['cap_g'] == 10000
@proof
def r_pattern(s): return s('dirk', 'POST', '/weirs', {'code': 'ALD-12345x', 'name': 'Long', 'reach': 'upper', 'length_m': 40}).word == 'misfit'
@proof
def r_date_only(s): return s('dirk', 'POST', '/weirs/%s/licences' % s.weir(), {'season': 'autumn', 'cap_g': 10000, 'ends_at': s.iso(60)[:10]}).word == 'misfit'
@proof
def r_required(s): return s('ada', 'POST', '/weirs/%s/inspections' % s.weir(), {'found': 'sound'}).word == 'left_out'
@proof
def r_unknown(s): return s('dirk', 'POST', '/weirs', {'code': 'ALD-99', 'name': 'Long', 'reach': 'upper', 'length_m': 40, 'colour': 'red'}).word == 'not_a_field'
@proof
def r_immutable(s): return patch_weir(s, s.weir(built_on='1890-05-01'), {'built_on': '1891-05-01'}).word == 'misfit'
@proof
def r_writeonly(s): return 'gate_word' not in s('dirk', 'GET', '/weirs/' + s.weir(gate_word='heron')).json
@proof
def r_reveal(s):
    b = s.bell().json
    return 'secret' in b and 'secret' not in s('dirk', 'GET', '/bells/' + b['id']).json
@proof
def r_set(s): return s('dirk', 'PATCH', '/licences/' + s.licence(s.weir(), grant=False), {'cap_g': 50000}).json['fee_pence'] == 1250
@proof
def r_unique(s):
    a, b = s.weir(), s.weir()
    return patch_weir(s, b, {'name': s('dirk', 'GET', '/weirs/' + a).json['name']}).word == 'taken'
@proof
def r_derived(s):
    l = s.licence(s.weir()); c = s.catch(l, land=True)
    return s('gus', 'POST', '/catches/%s/sell' % c, {'pence': 900}).status == 200 and s('dirk', 'GET', '/licences/' + l).json['landed_g'] == 1500
@proof
def r_within(s):
    s.licence(s.weir(), grant=False)
    return s('dirk', 'GET', '/licences/' + s.licence(s.weir(), grant=False)).json['slip'] == 'SLIP-0001'
@proof
def s_raise(s): return s('dirk', 'POST', '/weirs/%s/raise' % s.weir(charter=False)).word == 'not_chartered'
@proof
def s_settle(s):
    w = s.weir(); s('dirk', 'POST', '/weirs/%s/raise' % w); s.advance('PT12H1S')
    return s('dirk', 'GET', '/weirs/' + w).json['sluice'] == 'shut'
@proof
def s_lapse(s):
    l = s.licence(s.weir(), grant=False); s.advance('P10D'); s('dirk', 'PATCH', '/licences/' + l, {'cap_g': 20000}); s.advance('P4DT1S')
    return s('dirk', 'GET', '/licences/' + l).json['status'] == 'lapsed'
@proof
def s_expire(s):
    l = s.licence(s.weir(), grant=False); s('dirk', 'PATCH', '/licences/' + l, {'ends_at': s.iso(8)}); s('ada', 'POST', '/licences/%s/grant' % l); s.advance('P9D')
    return s('dirk', 'GET', '/licences/' + l).json['status'] == 'expired'
@proof
def s_withdraw(s): return s('dirk', 'POST', '/licences/%s/withdraw' % s.licence(s.weir())).status == 200
@proof
def s_then(s):
    w = s.weir(); l = s.licence(w, grant=False); s('ada', 'POST', '/weirs/%s/condemn' % w)
    return s('dirk', 'GET', '/licences/' + l).json['status'] == 'revoked'
@proof
def s_initial(s): return s('dirk', 'GET', '/catches/' + s.catch(s.licence(s.weir()))).json['status'] == 'logged'
@proof
def s_spoil(s):
    c = s.catch(s.licence(s.weir())); s.advance('P2D'); s('dirk', 'POST', '/catches/%s/land' % c); s.advance('P2D')
    ok = s('dirk', 'GET', '/catches/' + c).json['status'] == 'landed'
    s.advance('P1DT1S')
    return ok and s('dirk', 'GET', '/catches/' + c).json['status'] == 'released'
@proof
def s_land(s): return s('dirk', 'POST', '/catches/%s/land' % s.catch(s.licence(s.weir()), grams=10000)).status == 200
@proof
def e_created(s): return s('dirk', 'POST', '/weirs/%s/licences' % s.weir(), {'season': 'autumn', 'cap_g': 10000, 'ends_at': s.iso(60)}).status == 201
@proof
def e_location(s):
    r = s('ada', 'POST', '/weirs/%s/inspections' % s.weir(), {'found': 'leaking', 'words': 'Wet.'})
    return r.getheader('Location') == B + '/inspections/' + r.json['id']
@proof
def e_min(s): w = s.weir(); return [r['code'] for r in s(None, 'GET', '/weirs?min_length=40').json['rows']] == [w]
@proof
def e_since(s):
    c = s.catch(s.licence(s.weir()), caught_at='2026-05-01T10:00:00Z')
    return s('dirk', 'GET', '/catches?since=2026-05-01T11:00:00%2B02:00').json['counted'] == 1
@proof
def e_sort(s):
    s.licence(s.weir(), cap_g=5000); s.licence(s.weir(), cap_g=7000)
    return [r['cap_g'] for r in s('dirk', 'GET', '/licences?sort=-cap').json['rows']] == [7000, 5000]
@proof
def e_order(s):
    w = s.weir()
    for _ in 1, 2: s('ada', 'POST', '/weirs/%s/inspections' % w, {'found': 'leaking', 'words': 'Wet.'})
    return [r['no'] for r in s('dirk', 'GET', '/weirs/%s/inspections' % w).json['rows']] == [2, 1]
@proof
def e_deleted(s): r = s('dirk', 'DELETE', '/bells/' + s.bell().json['id']); return r.status == 204 and r.json is None
@proof
def e_etag(s): p = '/licences/' + s.licence(s.weir()); return s('dirk', 'GET', p, headers={'If-None-Match': etag(s, 'dirk', p)}).status == 304
@proof
def e_ifmatch(s): return s('dirk', 'PATCH', '/weirs/' + s.weir(), {'traps': 3}, {'If-Match': '"old"'}).word == 'stale'
@proof
def e_replay(s):
    b = {'code': 'ALD-77', 'name': 'Twice', 'reach': 'upper', 'length_m': 40}
    return [s('dirk', 'POST', '/weirs', b, {'Weir-Slip': 'one'}).status for _ in (1, 2)] == [201, 201]
@proof
def e_null(s):
    l = s.licence(s.weir(), grant=False); s('ada', 'PATCH', '/licences/' + l, {'file_note': 'odd'})
    return 'file_note' not in s('ada', 'PATCH', '/licences/' + l, {'file_note': None}).json
@proof
def a_read_licence(s): return s('elsa', 'GET', '/licences/' + s.licence(s.weir())).word == 'no_such_thing'
@proof
def a_list_catch(s): s.catch(s.licence(s.weir())); return s('elsa', 'GET', '/catches').json['haul'] == []
@proof
def a_bell(s): return s('elsa', 'PATCH', '/bells/' + s.bell().json['id'], {'label': 'mine'}).word == 'no_such_thing'
@proof
def a_scope(s): return s('cy', 'POST', '/licences/%s/grant' % s.licence(s.weir(), grant=False)).word == 'beyond_scope'
@proof
def a_tolerance(s):
    l = s.licence(s.weir(), grant=False)
    return s('bo', 'GET', '/licences/' + l).status == 200 and s('bo', 'GET', '/licences/' + l, seal_age=600).word == 'bad_tally'
@proof
def a_prefix(s): return s(None, 'GET', '/licences', headers={'Authorization': 'tALLY ' + CRED['dirk']['credential']}).status == 200
@proof
def a_create_licence(s): return s('elsa', 'POST', '/weirs/%s/licences' % s.weir(), {'season': 'autumn', 'cap_g': 10000, 'ends_at': s.iso(60)}).word == 'not_your_weir'
@proof
def a_raise(s): return s('elsa', 'POST', '/weirs/%s/raise' % s.weir()).word == 'out_of_bounds'
@proof
def v_renamed(s):
    w = s.weir(); patch_weir(s, w, {'traps': 3}); none = s.told('weir.renamed'); patch_weir(s, w, {'name': 'Other'})
    return none == [] and s.told('weir.renamed')[0]['body'] == {'weir': w, 'was': 'Weir 1', 'is': 'Other'}
@proof
def v_settle(s):
    w = s.weir(); s('dirk', 'POST', '/weirs/%s/raise' % w); s.advance('PT13H')
    return [n['body']['sluice'] for n in s.told('sluice.moved', w)] == ['shut', 'open']
@proof
def v_granted(s): l = s.licence(s.weir()); return s.told('licence.granted', l)[0]['body']['status'] == 'granted'
@proof
def v_signature(s):
    e = Ear(); b = s.bell(url=e.url, rings_for=['catch.*']).json; s.catch(s.licence(s.weir()), land=True)
    h, body = e.wait(1)[0]
    at, mac = [p.split('=')[1] for p in h['Weir-Ring'].split(',')]
    j = json.loads(body)
    good = hmac.new(b['secret'].encode(), ('%s.%s.' % (j['ring'], at)).encode() + body, 'sha512').hexdigest()
    return h['Weir-Kind'] == j['what'] == 'catch.landed' and mac == good and s.told('catch.landed')[0]['id'] == j['ring']
@proof
def v_retry(s):
    e = Ear(500, 503); s.bell(url=e.url, rings_for=['catch.landed']); s.catch(s.licence(s.weir()), land=True)
    e.wait(1); time.sleep(0.05); s.advance('PT13S'); e.wait(2); time.sleep(0.05); s.advance('PT150S'); e.wait(3)
    return len(e.got) == 3 and len({json.loads(b)['ring'] for _, b in e.got}) == 1
@proof
def v_ending(s): l = s.licence(s.weir(), ends_at=s.iso(10)); s.advance('P7DT1M'); return len(s.told('licence.ending', l)) == 1
@proof
def v_sound(s):
    w = s.weir(); s('ada', 'POST', '/weirs/%s/inspections' % w, {'found': 'sound', 'words': 'Well.'}); none = s.told('inspection.made')
    s('ada', 'POST', '/weirs/%s/inspections' % w, {'found': 'blocked', 'words': 'Reeds.'})
    return none == [] and len(s.told('inspection.made')) == 1
@proof
def x_status(s): w = s.weir(); r = s('dirk', 'POST', '/weirs', {'code': w, 'name': 'Again', 'reach': 'upper', 'length_m': 40}); return (r.status, r.word) == (409, 'taken')
@proof
def x_order(s):
    c = s.catch(s.licence(s.weir()), land=True); s('gus', 'POST', '/catches/%s/sell' % c, {'pence': 9})
    return s('gus', 'POST', '/catches/%s/sell' % c, {'pence': 0}).word == 'misfit' and s('gus', 'POST', '/catches/%s/sell' % c, {'pence': 1}).word == 'not_for_sale'
@proof
def x_ticket(s): r = s(None, 'GET', '/weirs/ZZZ-00'); return r.json['ticket'] == r.getheader('Weir-Ticket')
@proof
def x_gone(s):
    c = s.catch(s.licence(s.weir())); ok = s('dirk', 'DELETE', '/catches/' + c).status == 204 and s('dirk', 'GET', '/catches/' + c).status == 410
    s.advance('P5DT1S'); return ok and s('dirk', 'GET', '/catches/' + c).status == 404
@proof
def l_rate(s):
    w = s.weir(); st = [s('dirk', 'GET', '/weirs/%s/inspections' % w).status for _ in range(26)]
    s.advance('PT61S'); return st == [200] * 25 + [429] and s('dirk', 'GET', '/weirs/%s/inspections' % w).status == 200
@proof
def l_clamp(s):
    for _ in range(61): s.weir(charter=False)
    r = s(None, 'GET', '/weirs?take=100').json
    return len(r['rows']) == 60 and r['more'] is True
@proof
def l_size(s):
    def of(n): b = b'{"code":"ALD-88","name":"Wide","reach":"upper","length_m":40}'; return b + b' ' * (n - len(b))
    return s('dirk', 'POST', '/weirs', of(24577)).word == 'too_large' and s('dirk', 'POST', '/weirs', of(24576)).status == 201
@proof
def l_rows(s): return [s.bell().status for _ in range(7)] == [201] * 6 + [403]
@proof
def n_deprecation(s):
    r = s(None, 'GET', '/fishery/e1/weirs', raw=True)
    return r.getheader('Deprecation') == '@1788220800' and r.getheader('Sunset') == 'Wed, 01 Dec 2027 00:00:00 GMT' and s(None, 'GET', '/weirs').getheader('Deprecation') is None
@proof
def n_map(s): c = s.catch(s.licence(s.weir())); return s('dirk', 'GET', '/fishery/e1/catches/' + c, raw=True).json['grams'] == 1.5
@proof
def n_select(s): return s(None, 'GET', '/fishery/weirs', raw=True).word == 'no_edition'

def run(f, fault):
    s = Service(fault)
    try: return bool(P[f](s))
    except Exception as e: return False if fault else repr(e)
    finally: s.stop()
ids = [f['id'] for f in DOC['faults']]
assert set(ids) == set(P), set(ids) ^ set(P)
bad = 0
for i in [x for x in ids if x in sys.argv[1:]] or ids:
    a, b = run(i, None), run(i, i)
    if a is not True or b is not False: bad += 1; print(i, 'sound:', a, 'with the fault:', b)
print('%d faults, %d do not differ' % (len(ids), bad))
sys.exit(bad > 0)
