"""For each fault: the right service does it right, and the service with the fault does it wrong.
   python3 faults-test.py [ID ...]"""
import base64, datetime, hashlib, hmac, http.client, http.server, json, socket, subprocess, sys, threading, time, urllib.parse

BOOK = json.load(open('stranger.json'))
CARDS = {c['id']: c for c in BOOK['callers']}
def auth(who):
    if who is None: return {}
    if who not in CARDS: return {'Authorization': who}
    c = CARDS[who]
    return {'Authorization': 'Sonde ' + c['credential']} if c['scheme'] == 'card' else {'Authorization': 'Basic ' + base64.b64encode(c['credential'].encode()).decode()}
def free():
    s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; s.close(); return p
class A:
    def __init__(self, status, body, headers): self.status, self.body, self.h = status, body, headers
    def __getitem__(self, k): return self.body.get(k) if isinstance(self.body, dict) else None
    def slip(self): return self.body.get('slip') if isinstance(self.body, dict) else None
class S:
    def __init__(self, fault=None):
        self.port, self.clock = free(), free(); self.n = 0; self.got = []
        self.p = subprocess.Popen(BOOK['command'] + ['--port', str(self.port), '--clock-port', str(self.clock)] + (['--fault', fault] if fault else []), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.p.stdout.readline(); self.srv = None; self.answer = 200
    def close(self):
        self.p.kill(); self.p.wait()
        if self.srv: self.srv.shutdown(); self.srv.server_close()
    def raw(self, method, path, body=None, who=None, headers=None):
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=20)
        h = dict(auth(who)); h.update(headers or {})
        if body is not None and not isinstance(body, (bytes, str)): body = json.dumps(body); h.setdefault('Content-Type', 'application/json')
        c.request(method, path, body, h); r = c.getresponse(); t = r.read(); hs = {}
        for k, v in r.getheaders(): hs[k.lower()] = hs[k.lower()] + ', ' + v if k.lower() in hs else v
        c.close()
        try: b = json.loads(t) if t else None
        except ValueError: b = t
        return A(r.status, b, hs)
    def __call__(self, line, who=None, body=None, v='r2', **h):
        m, p = line.split(' ', 1)
        if m == 'POST' and p.endswith('/claims') and 'Request_Token' not in h: self.n += 1; h['Request_Token'] = 'tok%d' % self.n
        return self.raw(m, '/recovery/' + v + p, body, who, {k.replace('_', '-'): x for k, x in h.items()})
    def move(self, **k):
        c = http.client.HTTPConnection('127.0.0.1', self.clock, timeout=20); c.request('POST', '/', json.dumps(k)); r = c.getresponse(); b = json.loads(r.read()); c.close(); assert r.status == 200, b; return b['now']
    def now(self):
        c = http.client.HTTPConnection('127.0.0.1', self.clock); c.request('GET', '/'); b = json.loads(c.getresponse().read()); c.close(); return datetime.datetime.fromisoformat(b['now'].replace('Z', '+00:00'))
    # stories
    def site(self, code='NORD', who='off_nora', v='r2', **more):
        b = {'code': code, 'name': 'Mast ' + code, ('height' if v == 'r1' else 'elevation_m'): 120, 'position': {'lat': 60.5, 'lon': 5}}; b.update(more)
        return self('POST /sites', who, b, v)
    def sonde(self, site, serial, who='off_nora', v='r2', **more):
        b = {'serial': serial, 'frequency_khz': 403500}; b.update(more)
        if v == 'r1' or 'frequency_mhz' in b: b.pop('frequency_khz')
        return self('POST /sites/%s/sondes' % site, who, b, v)
    def landed(self, site, serial, who='off_nora', **more):
        d = self.sonde(site, serial, who, **more)['id']; assert self('POST /sondes/%s/launch' % d, who).status == 200
        assert self('POST /sondes/%s/land' % d, who, {'position': {'lat': 61, 'lon': 6}}).status == 200; return d
    def claim(self, d, who='cha_ada', **b): return self('POST /sondes/%s/claims' % d, who, b)
    def delivered(self, site, serial, **more):
        d = self.landed(site, serial, **more); c = self.claim(d)['id']
        assert self('POST /claims/%s/deliver' % c, 'cha_ada', {'photo': '0123456789abcdef'}).status == 200; return d, c
    def recovered(self, site, serial, **more):
        d, c = self.delivered(site, serial, **more); assert self('POST /claims/%s/accept' % c, 'off_nora', {'condition': 'whole'}).status == 200; return d, c
    def exam(self, d, verdict='reusable', who='ben_eli', readings=None):
        return self('POST /exams', who, {'sonde': d, 'verdict': verdict, 'readings': readings or [{'place': 1, 'channel': 'pressure', 'drift_ppm': 10}]})
    def hook(self, who, v='r2', **more):
        if not self.srv:
            me = self
            class H(http.server.BaseHTTPRequestHandler):
                def do_POST(self):
                    b = self.rfile.read(int(self.headers['Content-Length'])); me.got.append((self.path, dict(self.headers), b.decode()))
                    self.send_response(me.answer); self.send_header('Content-Length', '0'); self.end_headers()
                def log_message(self, *a): pass
            self.srv = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H); threading.Thread(target=self.srv.serve_forever, daemon=True).start()
        b = {'url': 'http://127.0.0.1:%d/%s' % (self.srv.server_port, who)}; b.update(more); return self('POST /hooks', who, b, v)
    def heard(self, n=1, wait=1.5):
        end = time.time() + wait
        while len(self.got) < n and time.time() < end: time.sleep(0.03)
        if len(self.got) >= n: time.sleep(0.15)
        return [(p, h, json.loads(b)) for p, h, b in self.got]
T = {}
def test(f): T[f.__name__.replace('_', '-')] = f; return f
# ---- purpose
@test
def location_without_base(s): return s.site().h['location'].startswith('/recovery/r2/sites/site_')
@test
def withdraw_not_there(s): w = s.site()['id']; c = s.claim(s.landed(w, 'A0000001'))['id']; a = s('POST /claims/%s/withdraw' % c, 'cha_ada'); return a.status == 200 and a['status'] == 'withdrawn'
@test
def bench_sees_no_entries(s): a = s('GET /entries', 'ben_eli'); return a.status == 403 and a.slip() == 'not_allowed'
@test
def waste_not_signed(s): d, _ = s.recovered(s.site()['id'], 'A0000001'); e = s.exam(d, 'waste')['id']; a = s('POST /exams/%s/sign' % e, 'ben_eli'); return a.status == 200 and a['status'] == 'signed'
# ---- resources
@test
def code_unique_everywhere(s): return s.site().status == 201 and s.site(who='off_sven').status == 201 and s.site(who='off_nils').slip() == 'duplicate'
@test
def number_over_all(s): a, b = s.site()['id'], s.site('SUDD')['id']; return [s.sonde(x, n)['number'] for x, n in ((a, 'A0000001'), (b, 'A0000002'), (a, 'A0000003'))] == [1, 1, 2]
@test
def fix_not_defaulted(s): d = s.landed(s.site()['id'], 'A0000001'); return s('GET /sondes/' + d, 'off_nora')['landing'] == {'lat': 61, 'lon': 6, 'fix': 'gps'}
def tag(s, i, who='off_nora', v='r2'): return s('GET /sites/' + i, who, v=v).h['etag']
@test
def gated_stays(s): w = s.site(gate_code='1234'); i = w['id']; a = s('PATCH /sites/' + i, 'off_nora', {'gate_code': None}, If_Match=tag(s, i)); return w['gated'] is True and a.status == 200 and a['gated'] is False and 'gate_code' not in w.body
@test
def gate_code_lost(s): i = s.site(gate_code='1234')['id']; a = s('PUT /sites/' + i, 'off_nora', {'name': 'Other', 'elevation_m': 7, 'position': {'lat': 1, 'lon': 2}}); return a.status == 200 and a['gated'] is True and a['code'] == 'NORD' and a['elevation_m'] == 7
@test
def eta_step_unchecked(s): c = s.claim(s.landed(s.site()['id'], 'A0000001')); a = s('PATCH /claims/' + c['id'], 'cha_ada', {'eta_minutes': 33}); return c['eta_minutes'] == 120 and a.slip() == 'misfit' and a['spots'] == ['eta_minutes']
@test
def secret_shown_again(s): h = s.hook('off_nora'); a = s('PATCH /hooks/' + h['id'], 'off_nora', {'kinds': ['sonde.*']}); return h['secret'].startswith('rcv_') and a.status == 200 and 'secret' not in a.body and 'secret' not in s('GET /hooks/' + h['id'], 'off_nora').body
@test
def note_null_dropped(s): c = s.claim(s.landed(s.site()['id'], 'A0000001'), note='by ski'); a = s('PATCH /claims/' + c['id'], 'cha_ada', {'note': None}); return c['note'] == 'by ski' and 'note' in a.body and a['note'] is None
@test
def drift_without_humidity(s): d, _ = s.recovered(s.site()['id'], 'A0000001'); e = s.exam(d, readings=[{'place': 1, 'channel': 'humidity', 'drift_ppm': 5}, {'place': 2, 'channel': 'pressure', 'drift_ppm': 7}]); return e['drift'] == 12
W = {'label': 'Fell', 'south': 60, 'north': 61, 'by_mail': 'a@b.no'}
@test
def changed_watch_upside_down(s): a = s('PUT /watches/wat_fell', 'cha_ada', W); b = s('PUT /watches/wat_fell', 'cha_ada', dict(W, north=59)); c = s('PUT /watches/wat_hill', 'cha_ada', dict(W, north=60)); return a.status == 201 and b.slip() == c.slip() == 'misfit' and b['spots'] == ['north']
@test
def clock_leaves_changed_at(s): d = s.sonde(s.site()['id'], 'A0000001')['id']; a = s('POST /sondes/%s/launch' % d, 'off_nora'); s.move(advance='PT7H'); b = s('GET /sondes/' + d, 'off_nora'); return b['status'] == 'landed' and b['changed_at'] > a['changed_at']
@test
def richest_counts_recovered(s): w = s.site()['id']; s.recovered(w, 'A0000001', bounty=90); s.landed(w, 'A0000002', bounty=20); return s('GET /sites/' + w)['richest'] == 20
@test
def contacts_twice(s): a = s.site(contacts=['a@b.no', 'a@b.no']); return a.slip() == 'misfit' and a['spots'] == ['contacts']
@test
def remarks_hidden_from_bench(s): d = s.sonde(s.site()['id'], 'A0000001', remarks='old battery')['id']; return s('GET /sondes/' + d, 'ben_eli')['remarks'] == 'old battery'
# ---- states
@test
def lose_not_restarted(s):
    d = s.landed(s.site()['id'], 'A0000001'); s.move(advance='P20D'); c = s.claim(d)['id']; s('POST /claims/%s/withdraw' % c, 'cha_ada'); s.move(advance='P15D')
    a = s('GET /sondes/' + d, 'off_nora')['status']; s.move(advance='P16D'); return a == 'landed' and s('GET /sondes/' + d, 'off_nora')['status'] == 'lost'
@test
def delivered_not_withdrawn(s): d, c = s.delivered(s.site()['id'], 'A0000001'); a = s('POST /claims/%s/withdraw' % c, 'cha_ada'); return a.status == 200 and s('POST /claims/%s/withdraw' % c, 'cha_ada').slip() == 'too_settled' and s('GET /sondes/' + d, 'off_nora')['status'] == 'landed'
@test
def site_closes_anyway(s): w = s.site()['id']; d = s.sonde(w, 'A0000001')['id']; s('POST /sondes/%s/launch' % d, 'off_nora'); return s('PATCH /sites/' + w, 'off_nora', {'standing': 'closed'}, If_Match='*').slip() == 'site_busy'
@test
def four_may_be_up(s): w = s.site()['id']; l = [s('POST /sondes/%s/launch' % s.sonde(w, 'A000000%d' % k)['id'], 'off_nora') for k in range(4)]; return [x.status for x in l] == [200, 200, 200, 409] and l[3].slip() == 'sky_full'
@test
def broken_is_settled(s): d, c = s.delivered(s.site()['id'], 'A0000001'); a = s('POST /claims/%s/accept' % c, 'off_nora', {'condition': 'broken'}); return a['status'] == 'written_off' and a['assessment'] == 'nothing to add' and s('GET /sondes/' + d, 'off_nora')['status'] == 'recovered'
@test
def expire_keeps_sonde(s): d = s.landed(s.site()['id'], 'A0000001'); c = s.claim(d)['id']; s.move(advance='PT73H'); return s('GET /claims/' + c, 'cha_ada')['status'] == 'expired' and s('GET /sondes/' + d, 'off_nora')['status'] == 'landed'
@test
def parts_fly_again(s):
    w = s.site()['id']; d, _ = s.recovered(w, 'A0000001'); s('POST /exams/%s/sign' % s.exam(d, 'parts')['id'], 'ben_eli'); e, _ = s.recovered(w, 'A0000002'); s('POST /exams/%s/sign' % s.exam(e)['id'], 'ben_eli')
    return s('GET /sondes/' + d, 'off_nora')['status'] == 'recovered' and s('GET /sondes/' + e, 'off_nora')['status'] == 'packed'
@test
def recovered_not_scrapped(s): d, _ = s.recovered(s.site()['id'], 'A0000001'); a = s('POST /sondes/%s/scrap' % d, 'off_nora'); return a.status == 200 and s('POST /sondes/%s/scrap' % d, 'off_nora').slip() == 'beyond_scrap'
@test
def signed_is_deleted(s): d, _ = s.recovered(s.site()['id'], 'A0000001'); e = s.exam(d)['id']; s('POST /exams/%s/sign' % e, 'ben_eli'); return s('DELETE /exams/' + e, 'ben_eli').slip() == 'wrong_state'
# ---- endpoints
@test
def above_takes_equal(s): s.site(); s.site('SUDD', elevation_m=121); return [x['code'] for x in s('GET /sites?above=120')['rows']] == ['SUDD']
@test
def way_needs_sort(s): s.site(); s.site('SUDD'); return [x['code'] for x in s('GET /sites?way=desc')['rows']] == ['SUDD', 'NORD']
@test
def named_minds_case(s): s.site(); return s('GET /sites?named=mAST')['total'] == 1 and s('GET /sites?named=mist')['total'] == 0
@test
def only_shows_whole_position(s): w = s.site(); return s('GET /sites?only=code,position.lat')['rows'] == [{'id': w['id'], 'code': 'NORD', 'position': {'lat': 60.5}}] and s('GET /sites?only=gate_code').slip() == 'bad_query'
@test
def status_takes_the_first(s): w = s.site()['id']; s.sonde(w, 'A0000001'); s.landed(w, 'A0000002'); return [x['serial'] for x in s('GET /sondes?status=packed,landed', 'off_nora')['rows']] == ['A0000001', 'A0000002']
@test
def tag_without_aloft(s):
    w = s.site()['id']; t = tag(s, w); a = s('GET /sites/' + w, None, If_None_Match=t); d = s.sonde(w, 'A0000001')['id']; s('POST /sondes/%s/launch' % d, 'off_nora'); return a.status == 304 and s('GET /sites/' + w, None, If_None_Match=t).status == 200
@test
def site_sondes_upwards(s): w = s.site()['id']; s.sonde(w, 'A0000001'); s.sonde(w, 'A0000002'); return [x['number'] for x in s('GET /sites/%s/sondes' % w, 'off_nora')['rows']] == [2, 1]
@test
def claims_oldest_first(s): w = s.site()['id']; l = [s.claim(s.landed(w, 'A000000%d' % k))['id'] for k in (1, 2)]; return [x['id'] for x in s('GET /claims', 'cha_ada')['rows']] == l[::-1]
@test
def readings_unsorted(s): d, _ = s.recovered(s.site()['id'], 'A0000001'); e = s.exam(d, readings=[{'place': 9, 'channel': 'humidity', 'drift_ppm': 5}, {'place': 2, 'channel': 'pressure', 'drift_ppm': 7}]); return [x['place'] for x in s('GET /exams/' + e['id'], 'ben_fay')['readings']] == [2, 9]
@test
def scrap_shows_row(s): d = s.sonde(s.site()['id'], 'A0000001')['id']; return s('POST /sondes/%s/scrap' % d, 'off_nora').body == {'sonde': d, 'state': 'scrapped'}
@test
def form_not_taken(s): c = s.claim(s.landed(s.site()['id'], 'A0000001'))['id']; a = s('POST /claims/%s/deliver' % c, 'cha_ada', 'photo=0123456789abcdef', Content_Type='application/x-www-form-urlencoded'); return a.status == 200 and a['photo'] == '0123456789abcdef'
@test
def token_of_everybody(s):
    d = s.landed(s.site()['id'], 'A0000001'); a = s('POST /sondes/%s/claims' % d, 'cha_ada', {}, Request_Token='one'); a2 = s('POST /sondes/%s/claims' % d, 'cha_ada', {}, Request_Token='one'); b = s('POST /sondes/%s/claims' % d, 'cha_bo', {}, Request_Token='one')
    return a.status == a2.status == 201 and a.body == a2.body and b.slip() == 'spoken_for'
@test
def nothing_changed_counts(s): d = s.sonde(s.site()['id'], 'A0000001', bounty=5); time.sleep(0.05); a = s('PATCH /sondes/' + d['id'], 'off_nora', {'bounty': 5}); return a.status == 200 and a['changed_at'] == d['changed_at']
@test
def any_word_is_enough(s): s('PUT /watches/wat_aaa', 'cha_ada', dict(W, label='North fell')); s('PUT /watches/wat_bbb', 'cha_ada', dict(W, label='South fell')); return [x['id'] for x in s('GET /watches?text=FELL+north', 'cha_bo').body] == ['wat_aaa']
# ---- authentication
@test
def look_up_of_any_bureau(s): s.sonde(s.site()['id'], 'A0000001'); return s('GET /serials/A0000001', 'off_sven').status == 404 and s('GET /serials/A0000001', 'off_nils').status == 200
@test
def expansion_shows_all(s): c = s.claim(s.landed(s.site()['id'], 'A0000001'))['id']; a = s('GET /claims/%s?with=sonde' % c, 'cha_ada')['sonde']; return a['serial'] == 'A0000001' and 'frequency_khz' not in a
@test
def scope_not_asked(s): d = s.landed(s.site()['id'], 'A0000001'); return s.claim(d, 'cha_cy').slip() == 'no_scope'
@test
def lost_listed_for_chasers(s): d = s.landed(s.site()['id'], 'A0000001'); a = len(s('GET /sondes', 'cha_ada')['rows']); s.move(advance='P31D'); return a == 1 and s('GET /sondes', 'cha_ada')['rows'] == [] and s('GET /sondes/' + d, 'cha_ada').status == 404
def basic(x): return 'Basic ' + base64.b64encode(x.encode()).decode()
@test
def eight_letters_of_a_password(s): a = s('GET /exams', basic('ben_eli:spirit-lantern')); return a.slip() == 'bad_card' and s('GET /exams', basic('ben_eli:spirit-level-77')).status == 200
@test
def prefix_by_case(s): return s('GET /sondes', 'sonde ' + CARDS['off_nora']['credential']).status == 200
@test
def bad_card_is_anyone(s): a = s('GET /sites', 'Sonde sk_wrong'); return a.status == 401 and a.slip() == 'bad_card' and s('GET /sites').status == 200
@test
def chaser_filters_frequency(s): s.landed(s.site()['id'], 'A0000001'); return s('GET /sondes?frequency_khz=403500', 'cha_ada').slip() == 'bad_query' and len(s('GET /sondes?frequency_khz=403500', 'off_nora')['rows']) == 1
@test
def watch_of_another(s): s('PUT /watches/wat_fell', 'cha_ada', W); a = s('PUT /watches/wat_fell', 'cha_bo', dict(W, label='Mine')); return a.slip() == 'not_allowed' and s('GET /watches/wat_fell', 'cha_bo')['label'] == 'Fell'
# ---- events
@test
def descend_untold(s): d = s.sonde(s.site()['id'], 'A0000001')['id']; s('POST /sondes/%s/launch' % d, 'off_nora'); s.move(advance='PT7H'); r = s('GET /entries?kind=sonde.down', 'off_nora')['rows']; return len(r) == 1 and r[0]['body']['seen'] is False and 'actor' not in r[0]
@test
def lowering_is_raising(s): d = s.sonde(s.site()['id'], 'A0000001', bounty=50)['id']; s('PATCH /sondes/' + d, 'off_nora', {'bounty': 60}); s('PATCH /sondes/' + d, 'off_nora', {'bounty': 40}); return [x['body'] for x in s('GET /entries', 'off_nora')['rows']] == [{'sonde': d, 'was': 50, 'is': 60}]
@test
def seal_without_id(s):
    h = s.hook('off_nora'); d = s.sonde(s.site()['id'], 'A0000001')['id']; s('POST /sondes/%s/launch' % d, 'off_nora'); s.heard(); p, hs, b = s.got[0]
    t, m = hs['X-Recovery-Seal'].split(','); return m == 'mac=' + hmac.new(h['secret'].encode(), (hs['X-Recovery-Id'] + '|' + t[3:] + '|' + b).encode(), hashlib.sha256).hexdigest() and hs['X-Recovery-Kind'] == 'sonde.launched'
@test
def gives_up_early(s):
    s.answer = 500; s.hook('off_nora'); d = s.sonde(s.site()['id'], 'A0000001')['id']; s('POST /sondes/%s/launch' % d, 'off_nora'); s.heard(1)
    for k, t in ((2, 'PT15S'), (3, 'PT3M'), (4, 'PT75M'), (5, 'PT5H')): s.move(advance=t); s.heard(k, 0.6)
    return len([1 for g in s.got if g[1]['X-Recovery-Kind'] == 'sonde.launched']) == 4
@test
def envelope_at_of_try(s): s.answer = 500; s.hook('off_nora'); d = s.sonde(s.site()['id'], 'A0000001')['id']; s('POST /sondes/%s/launch' % d, 'off_nora'); s.heard(1); s.move(advance='PT15S'); g = s.heard(2); return len(g) == 2 and g[0][2] == g[1][2]
@test
def assessment_told(s):
    s.hook('cha_ada', kinds=['claim.closed']); s.hook('off_nora', kinds=['claim.*']); s.recovered(s.site()['id'], 'A0000001'); g = s.heard(3)
    a = [x[2]['body'] for x in g if x[0] == '/cha_ada']; b = [x[2]['body'] for x in g if x[0] == '/off_nora']; return len(a) == 1 and len(b) == 2 and 'assessment' not in a[0] and 'assessment' in b[1]
@test
def lost_told_to_chasers(s): s.hook('cha_ada'); s.hook('off_nora', kinds=['sonde.lost']); s.landed(s.site()['id'], 'A0000001'); s.heard(1); s.move(advance='P31D'); g = s.heard(3, 0.8); return sorted((x[0], x[2]['kind']) for x in g) == [('/cha_ada', 'sonde.down'), ('/off_nora', 'sonde.lost')]
@test
def fading_at_six_hours(s): s.claim(s.landed(s.site()['id'], 'A0000001')); s.move(advance='PT61H'); return len(s('GET /entries?kind=claim.fading', 'off_nora')['rows']) == 1
@test
def log_kept_thirty_days(s): s.landed(s.site()['id'], 'A0000001'); s.move(advance='P40D'); a = len(s('GET /entries', 'off_nora')['rows']); s.move(advance='P21D'); return a == 3 and [x['kind'] for x in s('GET /entries', 'off_nora')['rows']] == ['sonde.lost']
@test
def gone_goes_on(s): s.answer = 410; h = s.hook('off_nora')['id']; d = s.sonde(s.site()['id'], 'A0000001')['id']; s('POST /sondes/%s/launch' % d, 'off_nora'); s.heard(1); return s('GET /hooks/' + h, 'off_nora')['live'] is False
@test
def redirect_is_success(s): s.answer = 302; s.hook('off_nora'); d = s.sonde(s.site()['id'], 'A0000001')['id']; s('POST /sondes/%s/launch' % d, 'off_nora'); s.heard(1); s.move(advance='PT15S'); return len(s.heard(2, 0.8)) == 2
# ---- errors
@test
def duplicate_is_unprocessable(s): w = s.site()['id']; s.sonde(w, 'A0000001'); a = s.sonde(w, 'A0000001'); return a.status == 409 and a['status'] == 409
@test
def nested_missing_is_misfit(s): a = s.site(position={'lon': 5}); return a.slip() == 'lacking' and a['spots'] == ['position.lat'] and a['text'] == 'position.lat is missing'
@test
def exam_kept_a_day(s): d, _ = s.recovered(s.site()['id'], 'A0000001'); e = s.exam(d)['id']; s('DELETE /exams/' + e, 'ben_eli'); s.move(advance='P2D'); a = s('GET /exams/' + e, 'ben_fay'); s.move(advance='P6D'); return a.slip() == 'thrown_away' and s('GET /exams/' + e, 'ben_fay').slip() == 'not_found'
@test
def state_before_body(s): c = s.claim(s.landed(s.site()['id'], 'A0000001'))['id']; return s('POST /claims/%s/accept' % c, 'off_nora', {}).slip() == 'lacking' and s('POST /claims/%s/accept' % c, 'off_nora', {'condition': 'whole'}).slip() == 'wrong_state'
@test
def no_slip_at_rows(s): w = s.site()['id']; a = s('PATCH /sites/' + w, 'off_nora', {'name': 'Xy'}); b = s('PATCH /sites/' + w, 'off_nora', {'name': 'Xy'}, If_Match='"x"'); return a.status == 428 and b.status == 412 and a.h.get('x-slip') == 'tag_wanted' and b.h.get('x-slip') == 'stale'
@test
def own_trace_in_body(s): a = s('GET /sondes/nope', 'off_nora'); return a.status == 404 and a['trace'] == a.h['x-trace']
@test
def hooks_used_up_in_general(s): l = [s.hook('cha_bo') for _ in range(5)]; return [x.status for x in l] == [201] * 4 + [403] and l[4].slip() == 'rows_full'
@test
def spots_bracketed(s): d, _ = s.recovered(s.site()['id'], 'A0000001'); return s.exam(d, readings=[{'place': 1, 'channel': 'pressure', 'drift_ppm': 1}, {'place': 0, 'channel': 'pressure', 'drift_ppm': 1}])['spots'] == ['readings.1.place']
@test
def star_is_stale(s): w = s.site()['id']; return s('PATCH /sites/' + w, 'off_nora', {'name': 'Xy'}, If_Match='*').status == 200
@test
def sign_refused_in_general(s): d, _ = s.recovered(s.site()['id'], 'A0000001'); return s('POST /exams/%s/sign' % s.exam(d)['id'], 'ben_fay').slip() == 'not_yours'
@test
def tag_not_refused(s): w = s.site()['id']; return s.sonde(w, 'A0000001', tag='FL-9999').slip() == 'not_writable' and s.sonde(w, 'A0000001', number=3).slip() == 'not_writable'
@test
def spoken_for_in_general(s): d = s.landed(s.site()['id'], 'A0000001'); s.claim(d); return s.claim(d, 'cha_bo').slip() == 'spoken_for'
@test
def band_edge_refused(s): w = s.site()['id']; return [s('POST /sondes/%s/launch' % s.sonde(w, 'A000000%d' % k, frequency_khz=q)['id'], 'off_nora').status for k, q in ((1, 406000), (2, 406001), (3, 400150))] == [200, 422, 200]
# ---- limits
@test
def look_ups_of_a_bureau(s): s.sonde(s.site()['id'], 'A0000001'); l = [s('GET /serials/A0000001', 'off_nora').status for _ in range(11)]; return l == [200] * 10 + [429] and s('GET /serials/A0000001', 'off_nils').status == 200
@test
def not_modified_counts(s): w = s.site()['id']; t = tag(s, w); a = int(s('GET /sites/' + w, 'off_nora').h['x-sky-left']); b = s('GET /sites/' + w, 'off_nora', If_None_Match=t); return b.status == 304 and int(b.h['x-sky-left']) == a and int(s('GET /hooks', 'off_nora').h['x-sky-left']) == a - 1
@test
def clamp_refuses(s): a = s('GET /sites?take=41'); b = s('GET /hooks?take=900', 'off_nora'); return a.status == 200 and b.status == 200 and s('GET /sondes?take=31', 'off_nora').slip() == 'bad_page'
@test
def total_of_everybody(s): w = s.site()['id']; s.claim(s.landed(w, 'A0000001')); s.claim(s.landed(w, 'A0000002'), 'cha_bo'); return s('GET /claims', 'cha_bo')['total'] == 1
@test
def day_of_utc(s):
    n = s.now(); t = (n + datetime.timedelta(days=1)).replace(hour=22, minute=30, second=0, microsecond=0); s.move(now=t.isoformat().replace('+00:00', 'Z')); w = s.site()['id']
    def go(k): d = s.landed(w, 'A000000%d' % k); c = s.claim(d); s('POST /claims/%s/withdraw' % (c['id'] or 'x'), 'cha_ada'); return c
    a = [go(k).status for k in range(7)]; s.move(advance='PT45M'); return a == [201] * 6 + [429] and go(8).status == 201
@test
def delivered_claims_count(s): w = s.site()['id']; s.delivered(w, 'A0000001'); l = [s.claim(s.landed(w, 'A000001%d' % k)) for k in range(4)]; return [x.status for x in l] == [201, 201, 201, 429] and 'retry-after' not in l[3].h
@test
def size_in_characters(s): a = s.site(name='\u00e5' * 4500); b = s.raw('POST', '/recovery/r2/sites', json.dumps({'name': '\u00e5' * 4500}, ensure_ascii=False).encode(), 'off_nora', {'Content-Type': 'application/json'}); return b.slip() == 'too_large'
@test
def more_when_full(s): s.hook('off_nora'); s.hook('off_nora'); return s('GET /hooks?take=2', 'off_nora')['more'] is False and s('GET /hooks?take=1', 'off_nora')['more'] is True
@test
def refused_uses_quota(s):
    w = s.site()['id']; b = s.landed(w, 'B0000001'); s.claim(b, 'cha_bo'); l = [s.claim(b).status for _ in range(3)]
    for k in range(6): c = s.claim(s.landed(w, 'A000000%d' % k)); l.append(c.status); s('POST /claims/%s/withdraw' % (c['id'] or 'x'), 'cha_ada')
    return l == [409] * 3 + [201] * 6
@test
def past_is_shown_again(s): s.landed(s.site()['id'], 'A0000001'); a = s('GET /entries?take=1', 'off_nora'); b = s('GET /entries?past=' + a['rows'][0]['id'], 'off_nora'); return a['more'] is True and [x['kind'] for x in b['rows']] == ['sonde.down'] and b['more'] is False and s('GET /entries?past=evt_no', 'off_nora').slip() == 'bad_page'
@test
def bucket_refilled_at_once(s): h = s.hook('off_nora')['id']; l = [s('PATCH /hooks/' + h, 'off_nora', {}) for _ in range(9)]; s.move(advance='PT21S'); m = [s('PATCH /hooks/' + h, 'off_nora', {}).status for _ in range(3)]; return [x.status for x in l] == [200] * 8 + [429] and int(l[8].h['retry-after']) in (9, 10) and m == [200, 200, 429]
@test
def cursor_skips_equals(s):
    w = s.site()['id']; [s.sonde(w, 'A000000%d' % k, bounty=5) for k in range(4)]; a = s('GET /sondes?sort=-bounty&take=3', 'off_nora'); b = s('GET /sondes?sort=-bounty&take=9&from=' + a['onward'], 'off_nora'); return [x['serial'] for x in b['rows']] == ['A0000003'] and b['onward'] is None
@test
def address_half_as_long(s): return s('GET /sites?named=' + 'x' * 1500).status == 200 and s('GET /sites?named=' + 'x' * 2040).slip() == 'long_address'
# ---- versioning
@test
def r1_frequency_truncated(s):
    w = s.site()['id']; l = [s.sonde(w, 'A000000%d' % n, v='r1', frequency_mhz=q) for n, q in enumerate((403.5006, 403.5004, 401))]
    return [x['frequency_mhz'] for x in l] == [403.501, 403.5, 401] and [s('GET /sondes/' + x['id'], 'off_nora')['frequency_khz'] for x in l] == [403501, 403500, 401000]
@test
def bounty_in_r1(s): d = s.sonde(s.site()['id'], 'A0000001')['id']; a = s('GET /sondes/' + d, 'off_nora', v='r1'); return 'bounty' not in a.body and a['frequency_mhz'] == 403.5 and 'frequency_khz' not in a.body
@test
def refusals_not_deprecated(s): a = s('GET /sites/nope', v='r1'); b = s('GET /sites', v='r1'); return a.status == 404 and a.h.get('deprecation') == b.h.get('deprecation') == '@1740787200' and 'successor-version' in a.h.get('link', '')
@test
def no_sunset(s): a = s('GET /sites', v='r1'); s.move(now='2028-03-01T00:00:01Z'); return a.status == 200 and s('GET /sites', v='r1').slip() == 'bygone' and s('GET /sites').status == 200
@test
def hooks_told_in_newest(s): s.hook('off_nora', v='r1'); d = s.sonde(s.site()['id'], 'A0000001')['id']; s('POST /sondes/%s/launch' % d, 'off_nora'); b = s.heard(1)[0][2]['body']; return b['status'] == 'airborne' and b['frequency_mhz'] == 403.5
@test
def airborne_not_found(s): d = s.sonde(s.site()['id'], 'A0000001')['id']; s('POST /sondes/%s/launch' % d, 'off_nora'); a = s('GET /sondes?status=airborne', 'off_nora', v='r1'); return a.status == 200 and len(a['rows']) == 1 and s('GET /sondes?status=airborne', 'off_nora').slip() == 'bad_query'
@test
def look_up_in_r1(s): s.sonde(s.site()['id'], 'A0000001'); return s('GET /serials/A0000001', 'off_nora', v='r1').slip() == 'nowhere'
@test
def no_version_is_newest(s): return s.raw('GET', '/recovery/sites').slip() == 'which_version' and s.raw('GET', '/recovery/r3/sites').slip() == 'which_version' and s.raw('GET', '/sites').slip() == 'nowhere'
@test
def cursor_of_any_version(s): w = s.site()['id']; [s.sonde(w, 'A000000%d' % k) for k in range(3)]; c = s('GET /sondes?take=1', 'off_nora', v='r1')['onward']; return s('GET /sondes?from=' + c, 'off_nora', v='r1').status == 200 and s('GET /sondes?from=' + c, 'off_nora').slip() == 'bad_page'

def main():
    ids = sys.argv[1:] or [f['id'] for f in BOOK['faults']]; bad = 0
    for i in [f['id'] for f in BOOK['faults']]:
        if i not in T: print('no test for', i); bad += 1
    for i in T:
        if i not in [f['id'] for f in BOOK['faults']]: print('no fault for', i); bad += 1
    for i in ids:
        res = []
        for fault in (None, i):
            s = S(fault)
            try: res.append(bool(T[i](s)))
            except Exception as e: res.append('%s: %s' % (type(e).__name__, e))
            finally: s.close()
        if res[0] is not True or res[1] is True: print('NOT SHOWN', i, res); bad += 1
    print(len(ids), 'faults,', bad, 'not as they should be'); sys.exit(1 if bad else 0)
main()
