"""For each fault a proof by hand: it holds on the service as it is, and fails with the fault."""
import http.client, json, os, socket, subprocess, sys, threading, time, hmac, hashlib
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
HERE = os.path.dirname(os.path.abspath(__file__))
ST = json.load(open(os.path.join(HERE, 'stranger.json')))
WHO = {c['id']: c for c in ST['callers']}
OLD = {'Aton-Version': '2025-02-01'}

def port():
    s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; s.close(); return p
class Resp:
    def __init__(self, r): self.status, self.h, raw = r.status, r.headers, r.read(); self.raw = raw; self.j = json.loads(raw) if raw[:1] in b'{[' and raw else None
    def __getitem__(self, k): return self.j[k]
class Service:
    def __init__(self, fault=None):
        self.port, self.door = port(), port()
        self.p = subprocess.Popen([sys.executable, 'service.py', '--port', str(self.port), '--clock-port', str(self.door)] + (['--fault', fault] if fault else []), cwd=HERE)
        for _ in range(200):
            try: socket.create_connection(('127.0.0.1', self.door), 1).close(); break
            except OSError: time.sleep(0.02)
        self.c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=8)
        self.streams = []
    def end(self):
        for s in self.streams: s.close()
        self.c.close(); self.p.terminate(); self.p.wait()
    def __call__(self, method, path, who=None, body=None, raw=None, base='/aton', **headers):
        h = {k.replace('_', '-'): v for k, v in headers.items()}
        if who:
            c = WHO[who]
            if c['scheme'] == 'key': h['X-Beacon-Key'] = c['credential']
            else: h['Authorization'] = 'Bearer ' + c['credential']
        data = raw
        if body is not None: data = json.dumps(body)
        if data is not None: h.setdefault('Content-Type', 'application/json')
        self.c.request(method, base + path, data, h)
        return Resp(self.c.getresponse())
    def clock(self, iso):
        c = http.client.HTTPConnection('127.0.0.1', self.door, timeout=8)
        c.request('POST', '/', json.dumps({'advance': iso} if iso[0] == 'P' else {'now': iso})); r = Resp(c.getresponse()); c.close(); return r['now']
    def ok(self, *a, st=None, **k):
        r = self(*a, **k)
        assert (r.status == st) if st else r.status < 300, (a, r.status, r.raw)
        return r
    def now(self, plus=0):
        c = http.client.HTTPConnection('127.0.0.1', self.door, timeout=8); c.request('GET', '/'); t = Resp(c.getresponse())['now']; c.close()
        import datetime as d
        return (d.datetime.fromisoformat(t.replace('Z', '+00:00')) + d.timedelta(seconds=plus)).strftime('%Y-%m-%dT%H:%M:%SZ')
    def aid(self, who='anna', station=True, **k):
        b = dict(name='Aid ' + os.urandom(4).hex(), kind='buoy', position={'lat': 54.1, 'lon': 7.9}, **{}); b.update(k)
        a = self.ok('POST', '/aids', who, b).j
        return self.ok('POST', '/aids/%s/commission' % a['id'], who).j if station else a
    def outage(self, aid, who='ines', **k):
        return self.ok('POST', '/outages', who, dict(dict(aid=aid['id'], kind='unlit', description='The light is out'), **k)).j
    def work(self, aid, who='anna', **k): return self.ok('POST', '/work_orders', who, dict(dict(aid=aid['id'], title='Paint it'), **k)).j
    def watch(self, aid, who='anna', keeper='emil', a=3600, z=7200, **k):
        return self.ok('POST', '/watches', who, dict(dict(aid=aid['id'], keeper=keeper, starts_at=self.now(a), ends_at=self.now(z)), **k)).j
    def inspection(self, aid, who='emil'): return self.ok('POST', '/aids/%s/inspections' % aid['id'], who, {'planned_for': '2027-01-10'}).j
    def act(self, what, row, verb, who='anna', body=None, **k): return self.ok('POST', '/%s/%s/%s' % (what, row['id'], verb), who, body, **k)
    def published(self, secs=86400):
        a = self.aid(); o = self.outage(a); self.act('outages', o, 'confirm')
        return a, self.act('outages', o, 'publish', body={'valid_until': self.now(secs)}).j
    def stream(self, who):
        s = socket.create_connection(('127.0.0.1', self.port), 8)
        c = WHO[who]
        cred = 'X-Beacon-Key: ' + c['credential'] if c['scheme'] == 'key' else 'Authorization: Bearer ' + c['credential']
        s.sendall(('GET /aton/events HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n' % cred).encode())
        b = b''
        while b'light is lit' not in b:
            x = s.recv(4096); assert x, b
            b += x
        self.streams.append(s)
        def read(wait=0.25):
            s.settimeout(wait); out = b''
            try:
                while True:
                    x = s.recv(65536)
                    if not x: break
                    out += x
            except socket.timeout: pass
            return [json.loads(l[6:]) for l in out.decode().replace('\r', '').split('\n') if l.startswith('data: ')]
        return read
PROOF = {}
def proof(f): PROOF[f.__name__.replace('_', '-')] = f; return f
def eq(a, b): assert a == b, (a, b)

@proof
def p_base(s): eq(s('GET', '/aids').status, 200)
@proof
def p_base_hooks(s): eq(s('GET', '/hooks', 'anna').status, 200)
@proof
def p_fn_reinstate(s):
    a = s.aid(); s.act('aids', a, 'discontinue'); eq(s('POST', '/aids/%s/reinstate' % a['id'], 'anna').status, 200)
@proof
def p_fn_relieve(s):
    w = s.watch(s.aid()); s.act('watches', w, 'take', 'emil'); eq(s('POST', '/watches/%s/relieve' % w['id'], 'emil').status, 200)
@proof
def p_user_mariner(s): eq(s('GET', '/outages', 'ines').status, 200)
@proof
def p_user_keeper_token(s): eq(s('GET', '/watches', 'frida').status, 200)
@proof
def r_id_form(s): assert s.outage(s.aid())['id'].startswith('out_')
@proof
def r_leak_cost(s):
    w = s.work(s.aid(), cost=500); eq(w['cost'], 500); assert 'cost' not in s.ok('GET', '/work_orders/' + w['id'], 'emil').j
@proof
def r_secret_again(s):
    h = s.ok('POST', '/hooks', 'anna', {'url': 'http://127.0.0.1:9/'}).j; assert h['secret'].startswith('bks_')
    assert 'secret' not in s.ok('GET', '/hooks/' + h['id'], 'anna').j
@proof
def r_name_len(s):
    s.aid(name='n' * 60)
    eq(s('POST', '/aids', 'anna', dict(name='m' * 61, kind='buoy', position={'lat': 1, 'lon': 1})).status, 422)
@proof
def r_date_format(s):
    a = s.aid(); eq(s('POST', '/aids/%s/inspections' % a['id'], 'emil', {'planned_for': '2027-02-30'}).status, 422)
@proof
def r_unknown_member(s):
    r = s('POST', '/aids', 'anna', dict(name='Ness', kind='buoy', position={'lat': 1, 'lon': 1, 'alt': 2})); eq((r.status, r['code']), (422, 'member_unknown'))
    eq(r['violations'][0]['path'], '/position/alt')
@proof
def r_immutable(s):
    a, b = s.aid(), s.aid(); w = s.work(a); t = s.ok('GET', '/work_orders/' + w['id'], 'anna').h['ETag']
    r = s('PATCH', '/work_orders/' + w['id'], 'anna', {'aid': b['id']}, If_Match=t); eq((r.status, r['code']), (422, 'invalid'))
@proof
def r_number_global(s):
    a, b = s.aid(), s.aid(); eq([s.work(a)['number'], s.work(a)['number'], s.work(b)['number']], [1, 2, 1])
@proof
def r_type_height(s): eq(s.aid(height=1200)['height'], 1200)
@proof
def s_lapse_late(s):
    i = s.inspection(s.aid()); s.clock('P13DT23H'); eq(s('GET', '/inspections/' + i['id'], 'emil')['status'], 'scheduled')
    s.clock('PT2H'); eq(s('GET', '/inspections/' + i['id'], 'emil')['status'], 'lapsed')
@proof
def s_withdraw_never(s):
    a, o = s.published(3600); s.clock('PT59M'); eq(s('GET', '/outages/' + o['id'])['status'], 'published')
    s.clock('PT2M'); eq(s('GET', '/outages/' + o['id'], 'ines')['status'], 'withdrawn')
def begun(s):
    w = s.work(s.aid()); s.act('work_orders', w, 'assign', body={'keeper': 'emil'}); s.act('work_orders', w, 'start', 'emil'); return w
@proof
def s_cancel_from(s):
    w = begun(s); r = s('POST', '/work_orders/%s/cancel' % w['id'], 'anna'); eq((r.status, r['code']), (409, 'work_begun'))
@proof
def s_then_skip(s):
    a = s.aid(); o = s.outage(a, severity=3); s.act('outages', o, 'confirm')
    w = s.ok('GET', '/work_orders?aid=' + a['id'], 'anna')['items'][0]; eq((w['outage'], w['priority']), (o['id'], 'urgent'))
    s.act('work_orders', w, 'assign', body={'keeper': 'emil'}); s.act('work_orders', w, 'start', 'emil'); s.act('work_orders', w, 'finish', 'emil')
    eq(s('GET', '/outages/' + o['id'], 'anna')['status'], 'restored')
@proof
def s_guard_open(s):
    a = s.aid(); s.outage(a); r = s('POST', '/aids/%s/discontinue' % a['id'], 'anna'); eq((r.status, r.j.get('code')), (409, 'outages_open'))
@proof
def s_take_anyone(s):
    w = s.watch(s.aid(), keeper='emil'); r = s('POST', '/watches/%s/take' % w['id'], 'frida'); eq((r.status, r.j.get('code')), (409, 'not_your_watch'))
@proof
def s_abandon_state(s): eq(s.act('inspections', s.inspection(s.aid()), 'abandon')['status'], 'abandoned')
@proof
def e_location(s):
    r = s.ok('POST', '/aids', 'anna', dict(name='Ness', kind='buoy', position={'lat': 1, 'lon': 1}), st=201); eq(r.h['Location'], '/aton/aids/' + r['id'])
@proof
def e_delete_200(s):
    w = s.work(s.aid()); eq(s('DELETE', '/work_orders/' + w['id'], 'anna').status, 204); eq(s('GET', '/work_orders/' + w['id'], 'anna').status, 404)
@proof
def e_patch_null(s):
    o = s.outage(s.aid(), seen_at='2026-01-01T00:00:00Z'); assert 'seen_at' in o
    assert 'seen_at' not in s.ok('PATCH', '/outages/' + o['id'], 'ines', {'seen_at': None}).j
@proof
def e_due_by(s):
    a = s.aid(); s.work(a, due_on='2027-05-01'); s.work(a, due_on='2027-05-02')
    eq(len(s.ok('GET', '/work_orders?due_by=2027-05-01', 'anna')['items']), 1)
@proof
def e_sort_desc(s):
    s.aid(name='Alpha'); s.aid(name='Beta'); eq([a['name'] for a in s.ok('GET', '/aids?sort=-name')['items']], ['Beta', 'Alpha'])
@proof
def e_undeclared(s): r = s('GET', '/watches?colour=red', 'anna'); eq((r.status, r.j.get('code')), (400, 'bad_parameter'))
@proof
def e_put_keeps(s):
    w = s.watch(s.aid(), orders='Look out'); eq(w['orders'], 'Look out')
    r = s.ok('PUT', '/watches/' + w['id'], 'anna', dict(keeper='emil', starts_at=w['starts_at'], ends_at=w['ends_at'])); assert 'orders' not in r.j, r.j
@proof
def a_read_planned(s):
    a = s.aid(station=False); eq(s('GET', '/aids/' + a['id'], 'emil').status, 200); eq(s('GET', '/aids/' + a['id'], 'gudrun').status, 404)
@proof
def a_list_others(s):
    s.work(s.aid()); eq(len(s.ok('GET', '/work_orders', 'emil')['items']), 1); eq(len(s.ok('GET', '/work_orders', 'gudrun')['items']), 0)
@proof
def a_scope_publish(s):
    o = s.outage(s.aid()); s.act('outages', o, 'confirm')
    r = s('POST', '/outages/%s/publish' % o['id'], 'bert', {'valid_until': s.now(9999)}); eq((r.status, r.j.get('code')), (403, 'scope_lacking'))
@proof
def a_restore_foreign(s):
    a, o = s.published(); r = s('POST', '/outages/%s/restore' % o['id'], 'carl'); eq((r.status, r.j.get('code')), (403, 'not_yours'))
@proof
def a_signature(s):
    t = WHO['bert']['credential']; t = t[:-6] + ('AAAAAA' if t[-6:] != 'AAAAAA' else 'BBBBBB')
    eq(s('GET', '/aids', Authorization='Bearer ' + t).status, 401)
@proof
def a_key_header(s): eq(s('GET', '/hooks', 'anna').status, 200)
@proof
def a_hook_owner(s):
    h = s.ok('POST', '/hooks', 'anna', {'url': 'http://127.0.0.1:9/'}).j; eq(s('DELETE', '/hooks/' + h['id'], 'ines').status, 404)
    eq(s('DELETE', '/hooks/' + h['id'], 'anna').status, 204)
@proof
def ev_lapsed_never(s):
    i = s.inspection(s.aid()); read = s.stream('emil'); s.clock('P14DT1M'); e = read()
    eq([(x['kind'], x['data']['status']) for x in e], [('inspection.lapsed', 'lapsed')])
@proof
def ev_twice(s):
    read = s.stream('ines'); s.published(); eq([e['kind'] for e in read()], ['aid.commissioned', 'outage.reported', 'outage.published'])
@proof
def ev_rename(s):
    a = s.aid(); read = s.stream('jonas'); tag = lambda: s.ok('GET', '/aids/' + a['id'], 'anna').h['ETag']
    s.ok('PATCH', '/aids/' + a['id'], 'anna', {'height': 5}, If_Match=tag()); s.ok('PATCH', '/aids/' + a['id'], 'anna', {'name': 'New name'}, If_Match=tag())
    eq([e['data'] for e in read()], [{'aid': a['id'], 'was': a['name'], 'now': 'New name'}])
@proof
def ev_payload_leak(s):
    a = s.aid(); read = s.stream('ines'); s.outage(a); e, = read(); eq(e['kind'], 'outage.reported'); assert 'reporter' not in e['data']
@proof
def ev_others(s):
    near, far = s.stream('frida'), s.stream('gudrun'); w = begun(s); s.act('work_orders', w, 'finish', 'emil')
    assert 'work_order.done' in [e['kind'] for e in near()]; assert 'work_order.done' not in [e['kind'] for e in far()]
@proof
def ev_sign(s):
    got = []
    class R(BaseHTTPRequestHandler):
        def do_POST(self):
            got.append((self.headers, self.rfile.read(int(self.headers['Content-Length'])))); self.send_response(204); self.end_headers()
        def log_message(self, *a): pass
    srv = HTTPServer(('127.0.0.1', 0), R); threading.Thread(target=srv.serve_forever, daemon=True).start()
    try:
        h = s.ok('POST', '/hooks', 'anna', {'url': 'http://127.0.0.1:%d/in' % srv.server_port, 'events': ['aid.*']}).j
        s.aid()
        for _ in range(100):
            if got: break
            time.sleep(0.02)
        hd, body = got[0]
        t, v = [x.split('=', 1)[1] for x in hd['Beacon-Signature'].split(',')]
        eq(json.loads(body)['kind'], 'aid.commissioned')
        eq(v, hmac.new(h['secret'].encode(), t.encode() + b'.' + body, hashlib.sha256).hexdigest())
    finally: srv.shutdown(); srv.server_close()
@proof
def er_status_taken(s):
    a = s.aid(); r = s('POST', '/aids', 'anna', dict(name=a['name'], kind='buoy', position={'lat': 1, 'lon': 1})); eq((r.status, r['code']), (409, 'taken'))
@proof
def er_reference(s):
    r = s('POST', '/outages', 'ines', dict(aid='aid_00000000000000000000000000', kind='unlit', description='The light is out')); eq((r.status, r['code']), (422, 'reference_missing'))
@proof
def er_missing(s): r = s('POST', '/aids', 'anna', dict(kind='buoy', position={'lat': 1, 'lon': 1})); eq((r['code'], r['detail']), ('member_missing', 'name is missing'))
@proof
def er_trace(s):
    r = s('GET', '/aids/aid_none'); eq(r.status, 404); eq(r.j.get('trace'), r.h['X-Request-Id'])
@proof
def er_watch_long(s):
    w = s.watch(s.aid()); b = dict(keeper='emil', starts_at=s.now(3600), ends_at=s.now(3600 + 90000))
    r = s('PUT', '/watches/' + w['id'], 'anna', b); eq((r.status, r.j.get('code')), (422, 'watch_too_long'))
@proof
def er_malformed(s): r = s('POST', '/aids', 'anna', raw='{"name": '); eq((r.status, r['code']), (400, 'unreadable'))
@proof
def l_body(s):
    r = s('POST', '/aids', 'anna', raw=json.dumps(dict(name='Ness', kind='buoy', position={'lat': 1, 'lon': 1})).ljust(32769)); eq(r.status, 413)
    eq(s('POST', '/aids', 'anna', raw=json.dumps(dict(name='Ness', kind='buoy', position={'lat': 1, 'lon': 1})).ljust(32768)).status, 201)
@proof
def l_page_max(s): eq(s('GET', '/aids?limit=100').status, 200); r = s('GET', '/aids?limit=101'); eq((r.status, r.j.get('code')), (400, 'bad_page'))
@proof
def l_watch_clamp(s): eq(s('GET', '/watches?limit=51', 'anna').status, 200)
@proof
def l_rows_hook(s):
    for i in range(4): s.ok('POST', '/hooks', 'anna', {'url': 'http://127.0.0.1:9/'})
    r = s('POST', '/hooks', 'anna', {'url': 'http://127.0.0.1:9/'}); eq((r.status, r.j.get('code')), (429, 'quota_used'))
@proof
def l_anon_rate(s):
    eq({s('GET', '/legend').status for _ in range(120)}, {200}); r = s('GET', '/legend'); eq(r.status, 429); assert int(r.h['Retry-After']) <= 60
@proof
def l_quota_day(s):
    a = s.aid()
    s.clock(s.now(86400)[:10] + 'T06:00:00Z')
    for i in range(40):
        if i == 25: s.clock('PT2M')
        s.outage(a)
    r = s('POST', '/outages', 'ines', dict(aid=a['id'], kind='unlit', description='The light is out')); eq((r.status, r.j.get('code')), (429, 'quota_used'))
@proof
def v_rename_leak(s):
    s.aid(light='Fl W 5s'); i = s.ok('GET', '/aids', Aton_Version='2025-02-01')['items'][0]; eq(i.get('character'), 'Fl W 5s'); assert 'light' not in i
@proof
def v_map_up(s):
    a = s.aid(); r = s.ok('GET', '/aids/' + a['id'], 'anna', Aton_Version='2025-02-01')
    s.ok('PATCH', '/aids/' + a['id'], 'anna', {'height': 12.5}, If_Match=r.h['ETag'], Aton_Version='2025-02-01'); eq(s('GET', '/aids/' + a['id'])['height'], 1250)
@proof
def v_deprecation(s):
    r = s('GET', '/aids/aid_none', Aton_Version='2025-02-01'); eq((r.status, r.h['Deprecation']), (404, '@1748736000')); assert r.h['Sunset'] and 'successor-version' in r.h['Link']
@proof
def v_sunset(s):
    eq(s('GET', '/aids', Aton_Version='2025-02-01').status, 200); s.clock('2029-06-01T00:00:01Z'); eq(s('GET', '/aids', Aton_Version='2025-02-01').status, 410); eq(s('GET', '/aids').status, 200)
@proof
def v_default(s): eq(s('GET', '/aids').h['Aton-Version'], '2026-01-15')
@proof
def v_unknown(s): r = s('GET', '/aids', Aton_Version='2024-01-01'); eq((r.status, r.j.get('code')), (400, 'no_such_version'))

def run(fid, fault):
    s = Service(fault)
    try: PROOF[fid](s); return None
    except Exception as e: return '%s: %s' % (type(e).__name__, str(e)[:160])
    finally: s.end()
def both(fid):
    good = run(fid, None); bad = run(fid, fid)
    return fid, good, bad
if __name__ == '__main__':
    ids = sys.argv[1:] or [f['id'] for f in ST['faults']]
    hold = 0
    with ThreadPoolExecutor(2) as ex:
        for fid, good, bad in ex.map(both, ids):
            if good is None and bad is not None: hold += 1
            if good is not None: print('NOT ON THE CORRECT SERVICE', fid, good)
            if bad is None: print('NOT SEEN', fid)
            if '-v' in os.environ.get('T', ''): print(fid, '->', bad)
    print('%d of %d hold' % (hold, len(ids)))
    sys.exit(hold != len(ids))
