#!/usr/bin/env python3
"""For each fault of stranger.json a proof by hand: it passes on the right service and fails with the fault switched on.
python3 faults-test.py [ID ...]"""
import sys, os, json, socket, subprocess, time, http.client, threading, hmac, hashlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from datetime import datetime, timedelta, timezone

HERE = os.path.dirname(os.path.abspath(__file__))
ST = json.load(open(os.path.join(HERE, 'stranger.json')))
CRED = {}
for c in ST['callers']:
    CRED[c['id'] + ('/token' if c['scheme'] == 'token' else '')] = c

def port():
    s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; s.close(); return p

class Answer:
    def __init__(self, status, headers, raw):
        self.status, self.headers, self.raw = status, headers, raw
        try:
            self.json = json.loads(raw)
        except ValueError:
            self.json = None
    @property
    def code(self):
        return self.json['refusal']['code']
    def __repr__(self):
        return '%s %s' % (self.status, self.raw[:300])

class Service:
    def __init__(self, fault=None):
        self.port, self.clock = port(), port()
        cmd = ST['command'] + ['--port', str(self.port), '--clock-port', str(self.clock)] + (['--fault', fault] if fault else [])
        self.p = subprocess.Popen(cmd, cwd=HERE)
        for _ in range(200):
            try:
                for p in (self.port, self.clock):
                    socket.create_connection(('127.0.0.1', p), 1).close()
                break
            except OSError:
                time.sleep(0.02)
        self.c = http.client.HTTPConnection('127.0.0.1', self.port)
        self.mark = 100
        self.imo = 1000000
        self.receivers = []
    def stop(self):
        self.c.close()
        for r in self.receivers:
            r.shutdown(); r.server_close()
        self.p.terminate(); self.p.wait()
    def __call__(self, who, method, path, body=None, root='/ps', raw=None, **headers):
        h = {k.replace('_', '-'): v for k, v in headers.items()}
        if who:
            c = CRED[who]
            if c['scheme'] == 'key':
                h['X-Station-Key'] = c['credential']
            else:
                h['Authorization'] = ('Badge ' if c['scheme'] == 'pass' else 'Bearer ') + c['credential']
        data = raw
        if body is not None:
            data = json.dumps(body).encode()
        if data is not None:
            h.setdefault('Content-Type', 'application/json')
        self.c.request(method, root + path, data, h)
        r = self.c.getresponse()
        return Answer(r.status, r.headers, r.read())
    def now(self):
        c = http.client.HTTPConnection('127.0.0.1', self.clock); c.request('GET', '/')
        return datetime.fromisoformat(json.loads(c.getresponse().read())['now'].replace('Z', '+00:00'))
    def advance(self, d):
        c = http.client.HTTPConnection('127.0.0.1', self.clock); c.request('POST', '/', json.dumps({'advance': d}))
        r = c.getresponse(); assert r.status == 200, r.read(); r.read()
    def at(self, **kw):
        return (self.now() + timedelta(**kw)).strftime('%Y-%m-%dT%H:%M:%SZ')
    # things that proofs need
    def window(self, opens=1, closes=240, draught=1200, **kw):
        self.mark += 1
        b = {'gauge': 'south_bar', 'mark': 'M%d' % self.mark, 'opens_at': self.at(hours=opens), 'closes_at': self.at(hours=closes), 'max_draught_cm': draught, **kw}
        r = self('ds-wim', 'POST', '/windows', b); assert r.status == 201, r
        return r.json['id']
    def order(self, window, who='ag-marit', **kw):
        self.imo += 1
        b = {'imo': str(self.imo), 'vessel': {'name': 'Zeemeeuw', 'flag': 'NL', 'draught_cm': 700}, 'band': 'feeder', 'heading': 'inbound',
             'window': window, 'eta': '2027-03-01T10:00:00Z', **kw}
        r = self(who, 'POST', '/boardings', b); assert r.status == 201, r
        return r.json['id']
    def launch(self, name, pilot='PX101', role='coxswain', seats=6):
        r = self('ds-wim', 'POST', '/launches', {'name': name, 'seats': seats}); assert r.status == 201, r
        l = r.json['id']
        if pilot:
            r = self('ds-wim', 'POST', '/launches/%s/roster' % l, {'pilot': pilot, 'role': role}); assert r.status == 201, r
        return l
    def muster(self, p='PX101'):
        r = self(p, 'POST', '/pilots/%s/muster' % p); assert r.status == 200, r
    def assign(self, b, l, p='PX101'):
        r = self('ds-wim', 'POST', '/boardings/%s/assign' % b, {'pilot': p, 'launch': l}); assert r.status == 200, r
    def aboard(self, **kw):
        """a boarding with its pilot aboard, and its launch"""
        w = self.window(); b = self.order(w, **kw); l = self.launch('Loodsboot'); self.muster(); self.assign(b, l)
        r = self('PX101', 'POST', '/launches/%s/cast-off' % l); assert r.status == 200, r
        r = self('PX101', 'POST', '/boardings/%s/board' % b); assert r.status == 200, r
        return b, l
    def tag(self, who, path):
        return self(who, 'GET', path).headers['ETag']
    def ear(self, who, kinds=None, answer=200, **headers):
        """(what is received, the ear)"""
        got = []
        class H(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                got.append((json.loads(body), dict(self.headers), body))
                self.send_response(answer); self.send_header('Content-Length', '0'); self.end_headers()
            def log_message(self, *a): pass
        srv = ThreadingHTTPServer(('127.0.0.1', 0), H); srv.daemon_threads = True
        threading.Thread(target=srv.serve_forever, kwargs={'poll_interval': 0.02}, daemon=True).start()
        self.receivers.append(srv)
        b = {'url': 'http://127.0.0.1:%d/hear' % srv.server_address[1]}
        if kinds: b['kinds'] = kinds
        r = self(who, 'POST', '/ears', b, **headers); assert r.status == 201, r
        return got, r.json

def heard(got, n, wait=1.5):
    end = time.time() + wait
    while len(got) < n and time.time() < end:
        time.sleep(0.01)
    return got

P = {}
def proof(f):
    P[f.__name__.replace('_', '-')] = f
    return f

def is_(a, b):
    assert a == b, '%r is not %r' % (a, b)

# ---------------------------------------------------------------- purpose
@proof
def p_base_tariffs(s):
    is_(s(None, 'GET', '/tariffs').status, 200)
    is_(s(None, 'GET', '/tariffs', root='').status, 404)
@proof
def p_functions_cancel(s):
    b = s.order(s.window())
    is_(s('ag-marit', 'POST', '/boardings/%s/cancel' % b, {'reason': 'fog'}).status, 200)
@proof
def p_functions_card(s):
    r = s('PX101', 'GET', '/me'); is_(r.status, 200); is_(r.json['badge'], 'PX101')
@proof
def p_users_token(s):
    is_(s('PX105/token', 'GET', '/launches').status, 200)

# ---------------------------------------------------------------- resources
@proof
def r_draught_type(s):
    w = s.window()
    r = s('ag-marit', 'POST', '/boardings', {'imo': '7654321', 'vessel': {'name': 'Tij', 'draught_cm': '700'}, 'band': 'coaster', 'heading': 'inbound', 'window': w, 'eta': '2027-03-01T10:00:00Z'})
    is_(r.status, 422); is_(r.json['refusal']['at'], ['vessel.draught_cm'])
@proof
def r_eta_offset(s):
    b = s.order(s.window())
    r = s('ag-marit', 'PATCH', '/boardings/' + b, {'eta': '2027-03-02T10:00:00'})
    is_(r.status, 422); is_(r.json['refusal']['at'], ['eta'])
@proof
def r_note_listed(s):
    b = s.order(s.window()); s('ds-wim', 'PATCH', '/boardings/' + b, {'desk_note': 'owes us'})
    is_(s('ds-wim', 'GET', '/boardings/' + b).json['desk_note'], 'owes us')
    is_('desk_note' in s('ag-marit', 'GET', '/boardings/' + b).json, False)
    is_('desk_note' in s('ag-marit', 'GET', '/boardings').json['rows'][0], False)
@proof
def r_name_case(s):
    s.launch('Stormvogel', None)
    is_(s('ds-wim', 'POST', '/launches', {'name': 'STORMVOGEL', 'seats': 4}).code, 'taken')
@proof
def r_unique_while(s):
    w = s.window(); b = s.order(w, imo='5555555')
    is_(s('ag-ilse', 'POST', '/boardings', {'imo': '5555555', 'vessel': {'name': 'Tij', 'draught_cm': 700}, 'band': 'coaster', 'heading': 'inbound', 'window': w, 'eta': '2027-03-01T10:00:00Z'}).code, 'taken')
    is_(s('ag-marit', 'POST', '/boardings/%s/cancel' % b, {'reason': 'fog'}).status, 200)
    s.order(w, imo='5555555')
@proof
def r_charge_tugs(s):
    for n in (1,):
        b, l = s.aboard(tugs=n)
        is_(s('PX101', 'POST', '/boardings/%s/land' % b).json['charge_cents'], 61000 + n * 5000)
@proof
def r_incident_number(s):
    w = s.window(); a, b = s.order(w), s.order(w)
    for x, n in ((a, 1), (a, 2), (b, 1)):
        r = s('ds-noor', 'POST', '/boardings/%s/incidents' % x, {'severity': 'minor', 'text': 'a rope'})
        is_(r.status, 201); is_(r.json['number'], n)
@proof
def r_jobs_aboard(s):
    s.aboard()
    is_(s('ds-wim', 'GET', '/pilots/PX101').json['jobs'], 1)
@proof
def r_launch_clear(s):
    b, l = s.aboard()
    is_(s('PX101', 'POST', '/boardings/%s/land' % b).status, 200)
    is_(s('ds-wim', 'GET', '/boardings/' + b).json['launch'], l)
    is_(s('ds-wim', 'DELETE', '/launches/' + l).status, 204)
    is_('launch' in s('ds-wim', 'GET', '/boardings/' + b).json, False)

# ---------------------------------------------------------------- states
@proof
def s_lapse_late(s):
    b = s.order(s.window()); s.advance('PT11H59M')
    is_(s('ag-marit', 'GET', '/boardings/' + b).json['state'], 'requested'); s.advance('PT61S')
    is_(s('ag-marit', 'GET', '/boardings/' + b).json['state'], 'lapsed')
@proof
def s_renew_timer(s):
    b = s.order(s.window()); s.advance('PT10H')
    is_(s('ag-marit', 'POST', '/boardings/%s/renew' % b).status, 200); s.advance('PT3H')
    is_(s('ag-marit', 'GET', '/boardings/' + b).json['state'], 'requested'); s.advance('PT10H')
    is_(s('ag-marit', 'GET', '/boardings/' + b).json['state'], 'lapsed')
@proof
def s_shut_assigned(s):
    w = s.window(closes=4); a, b = s.order(w), s.order(w); l = s.launch('Aal'); s.muster(); s.assign(a, l); s.advance('PT4H1M')
    is_(s('ds-wim', 'GET', '/windows/' + w).json['state'], 'shut')
    is_(s('ds-wim', 'GET', '/boardings/' + b).json['state'], 'lapsed')
    is_(s('ds-wim', 'GET', '/boardings/' + a).json['state'], 'assigned')
@proof
def s_relieve_engaged(s):
    b = s.order(s.window()); l = s.launch('Aal'); s.muster(); s.muster('PX102'); s.assign(b, l); s.advance('PT36H1M')
    is_(s('ds-wim', 'GET', '/pilots/PX101').json['duty'], 'on_call')
    is_(s('ds-wim', 'GET', '/pilots/PX102').json['duty'], 'ashore')
@proof
def s_layup_underway(s):
    l = s.launch('Aal'); is_(s('PX101', 'POST', '/launches/%s/cast-off' % l).status, 200)
    r = s('ds-wim', 'PATCH', '/launches/' + l, {'fitness': 'laid_up'}, If_Match='*'); is_(r.status, 409); is_(r.code, 'out_of_turn')
    is_(s('ds-wim', 'POST', '/launches/%s/moor' % l).status, 200)
    is_(s('ds-wim', 'PATCH', '/launches/' + l, {'fitness': 'laid_up'}, If_Match='*').json['fitness'], 'laid_up')
@proof
def s_land_moor(s):
    b, l = s.aboard(); is_(s('PX101', 'POST', '/boardings/%s/land' % b).status, 200)
    is_(s('PX101', 'GET', '/launches/' + l).json['mooring'], 'moored')
@proof
def s_cancel_aboard(s):
    b, l = s.aboard(); r = s('ag-marit', 'POST', '/boardings/%s/cancel' % b, {'reason': 'fog'})
    is_(r.status, 409); is_(r.code, 'too_late')

# ---------------------------------------------------------------- endpoints
@proof
def e_min_seats(s):
    for n, k in (('Aal', 4), ('Bot', 5), ('Cod', 6)): s.launch(n, None, seats=k)
    is_([l['name'] for l in s('ds-wim', 'GET', '/launches?min_seats=5').json['rows']], ['Bot', 'Cod'])
@proof
def e_before(s):
    w = s.window(closes_at='2027-05-01T12:00:00Z')
    is_([x['id'] for x in s('ds-wim', 'GET', '/windows?before=2027-05-01T14:00:00%2B02:00').json['rows']], [w])
    is_(s('ds-wim', 'GET', '/windows?before=2027-05-01T11:59:59Z').json['rows'], [])
@proof
def e_only_hidden(s):
    b = s.order(s.window())
    is_(s('ds-wim', 'GET', '/boardings/%s?only=imo,desk_note' % b).status, 200)
    is_(s('ag-marit', 'GET', '/boardings/%s?only=imo,desk_note' % b).status, 400)
@proof
def e_ties(s):
    w = s.window(); a, b = s.order(w), s.order(w); c = s.order(w, eta='2027-03-01T11:00:00Z')
    is_([x['id'] for x in s('ag-marit', 'GET', '/boardings').json['rows']], [c, b, a])
@proof
def e_etag_booked(s):
    w = s.window(); t = s.tag('ds-wim', '/windows/' + w)
    is_(s('ds-wim', 'GET', '/windows/' + w, If_None_Match=t).status, 304); s.order(w)
    is_(s('ds-wim', 'GET', '/windows/' + w, If_None_Match=t).status, 200)
@proof
def e_upsert_status(s):
    b = {'name': 'Dirksen', 'licence': 'first'}
    is_(s('ds-wim', 'PUT', '/pilots/PX777', b).status, 201); is_(s('ds-wim', 'PUT', '/pilots/PX777', b).status, 200)
@proof
def e_vessel_null(s):
    b = s.order(s.window()); r = s('ag-marit', 'PATCH', '/boardings/' + b, {'vessel': {'flag': None}})
    is_(r.status, 200); is_(r.json['vessel'], {'name': 'Zeemeeuw', 'draught_cm': 700})
@proof
def e_replace_note(s):
    t = s.tag('ds-wim', '/tariffs/giant'); is_(s('ds-wim', 'GET', '/tariffs/giant').json['note'], 'Two pilots above 350 m.')
    r = s('ds-wim', 'PUT', '/tariffs/giant', {'fee_cents': 190000}, If_Match=t)
    is_(r.status, 200); is_('note' in r.json, False)

# ---------------------------------------------------------------- authentication
@proof
def a_other_firm(s):
    b = s.order(s.window()); is_(s('ag-joost', 'GET', '/boardings/' + b).status, 200)
    is_(s('ag-ilse', 'GET', '/boardings/' + b).status, 404)
@proof
def a_deckhand(s):
    l = s.launch('Aal', 'PX102', 'deckhand'); r = s('PX102', 'POST', '/launches/%s/cast-off' % l); is_(r.status, 403); is_(r.code, 'barred')
@proof
def a_sealed_listed(s):
    b = s.order(s.window()); p = '/boardings/%s/incidents' % b
    r = s('ds-noor', 'POST', p, {'severity': 'serious', 'text': 'a quarrel', 'sealed': True}); is_(r.status, 201)
    is_(len(s('ds-noor', 'GET', p).json['rows']), 1); is_(s('ag-marit', 'GET', p).json['rows'], [])
@proof
def a_delete_serious(s):
    b, l = s.aboard(); p = '/boardings/%s/incidents' % b
    i = [s('PX101', 'POST', p, {'severity': v, 'text': 'a rope'}).json['id'] for v in ('minor', 'serious')]
    is_(s('PX101', 'DELETE', '/incidents/' + i[0]).status, 204)
    is_(s('PX101', 'DELETE', '/incidents/' + i[1]).status, 403)
@proof
def a_token_signature(s):
    t = CRED['ag-sanne/token']['credential']; is_(s('ag-sanne/token', 'GET', '/windows').status, 200)
    bad = t[:-6] + ('AAAAAA' if t[-6:] != 'AAAAAA' else 'BBBBBB')
    r = s(None, 'GET', '/windows', Authorization='Bearer ' + bad); is_(r.status, 401); is_(r.code, 'not_known')
@proof
def a_two_callers(s):
    k, p = CRED['ds-wim']['credential'], CRED['PX101']['credential']
    is_(s(None, 'GET', '/windows', X_Station_Key=k, Authorization='Badge ' + p).status, 401)
    is_(s(None, 'GET', '/windows', X_Station_Key=k).status, 200)

# ---------------------------------------------------------------- events
@proof
def ev_over_lapse(s):
    got, _ = s.ear('ag-marit', ['boarding.over']); w = s.window(); a, b = s.order(w), s.order(w)
    s('ag-marit', 'POST', '/boardings/%s/cancel' % a, {'reason': 'fog'}); s.advance('PT12H1M')
    heard(got, 2); is_(sorted((g[0]['about']['id'], g[0]['about']['state']) for g in got), sorted([(a, 'cancelled'), (b, 'lapsed')]))
@proof
def ev_amended_always(s):
    got, _ = s.ear('ds-wim', ['boarding.amended']); b = s.order(s.window())
    s('ag-marit', 'PATCH', '/boardings/' + b, {'tugs': 2}); s('ag-marit', 'PATCH', '/boardings/' + b, {'eta': '2027-03-01T11:00:00+01:00'})
    s('ag-marit', 'PATCH', '/boardings/' + b, {'eta': '2027-03-05T10:00:00Z'}); heard(got, 1); time.sleep(0.1)
    is_([g[0]['about'] for g in got], [{'boarding': b, 'was': '2027-03-01T11:00:00+01:00', 'is': '2027-03-05T10:00:00Z'}])
@proof
def ev_desk_note(s):
    ag, _ = s.ear('ag-marit', ['boarding.over']); ds, _ = s.ear('ds-kees', ['boarding.over'])
    b = s.order(s.window()); s('ds-wim', 'PATCH', '/boardings/' + b, {'desk_note': 'owes us'})
    s('ag-marit', 'POST', '/boardings/%s/cancel' % b, {'reason': 'fog'}); heard(ag, 1); heard(ds, 1)
    is_(ds[0][0]['about']['desk_note'], 'owes us'); is_('desk_note' in ag[0][0]['about'], False)
@proof
def ev_home_drift(s):
    got, _ = s.ear('PX102', ['launch.home']); l = s.launch('Aal'); s('PX101', 'POST', '/launches/%s/cast-off' % l); s.advance('PT8H1M')
    is_(s('PX101', 'GET', '/launches/' + l).json['mooring'], 'moored'); heard(got, 1); is_([g[0]['about'] for g in got], [l])
@proof
def ev_seal(s):
    got, ear = s.ear('ag-marit'); s.order(s.window()); heard(got, 1)
    env, h, body = got[0]; at, mac = h['Station-Seal'].split(','); ts = at[3:]
    good = hmac.new(ear['secret'].encode(), (env['ref'] + '.' + ts + '.').encode() + body, hashlib.sha256).hexdigest()
    is_(mac, 'mac=' + good); is_(h['Station-Kind'], 'boarding.ordered'); is_(sorted(env), ['about', 'at', 'kind', 'ref'])
@proof
def ev_wildcard(s):
    got, _ = s.ear('ag-marit', ['boarding.*']); b = s.order(s.window()); heard(got, 1); is_([g[0]['kind'] for g in got], ['boarding.ordered'])
@proof
def ev_closing_late(s):
    got, _ = s.ear('ag-marit', ['window.closing']); w = s.window(closes=2); s.advance('PT1H29M'); time.sleep(0.1); is_(len(got), 0)
    s.advance('PT61S'); heard(got, 1); is_([g[0]['about']['id'] for g in got], [w])

# ---------------------------------------------------------------- errors
@proof
def er_too_deep_status(s):
    b = s.order(s.window(draught=800)); r = s('ag-marit', 'PATCH', '/boardings/' + b, {'vessel': {'draught_cm': 801}}); is_(r.code, 'too_deep'); is_(r.status, 422)
@proof
def er_order(s):
    r = s('ag-marit', 'POST', '/boardings?what=1', raw=b'{'); is_(r.code, 'bad_query')
@proof
def er_nested_unknown(s):
    b = s.order(s.window())
    is_(s('ag-marit', 'PATCH', '/boardings/' + b, {'colour': 1}).code, 'unknown_field')
    r = s('ag-marit', 'PATCH', '/boardings/' + b, {'vessel': {'colour': 'red'}}); is_(r.code, 'unknown_field'); is_(r.status, 400)
    is_(r.json['refusal']['say'], 'vessel.colour is no field here.')
@proof
def er_scope_code(s):
    is_(s('ds-kees', 'POST', '/launches', {'name': 'Aal', 'seats': 3}).code, 'not_entrusted'); is_(s('PX101', 'POST', '/launches', {'name': 'Aal', 'seats': 3}).code, 'barred')
@proof
def er_gone(s):
    b = s.order(s.window()); i = s('ds-noor', 'POST', '/boardings/%s/incidents' % b, {'severity': 'minor', 'text': 'a rope'}).json['id']
    is_(s('ds-noor', 'DELETE', '/incidents/' + i).status, 204); r = s('ds-noor', 'GET', '/incidents/' + i); is_(r.status, 410); is_(r.code, 'struck_out')
    s.advance('P20DT1M'); is_(s('ds-noor', 'GET', '/incidents/' + i).status, 404)
@proof
def er_licence_first(s):
    b = s.order(s.window(), band='giant'); l = s.launch('Aal'); s.muster('PX102'); s.muster('PX103')
    for p in ('PX103', 'PX102'):
        r = s('ds-wim', 'POST', '/boardings/%s/assign' % b, {'pilot': p, 'launch': l}); is_(r.status, 409); is_(r.code, 'licence_short')
@proof
def er_paths(s):
    b = s.order(s.window()); r = s('ag-marit', 'PATCH', '/boardings/' + b, {'vessel': {'draught_cm': 1}}); is_(r.json['refusal']['at'], ['vessel.draught_cm'])

# ---------------------------------------------------------------- limits
@proof
def l_body(s):
    for n, want in ((8192, 422), (8193, 413)):
        raw = b'{"gauge":"x"' + b' ' * (n - 13) + b'}'; is_(len(raw), n); is_(s('ds-wim', 'POST', '/windows', raw=raw).status, want)
@proof
def l_take_max(s):
    is_(s('ds-wim', 'GET', '/launches?take=50').status, 200); r = s('ds-wim', 'GET', '/launches?take=51'); is_(r.status, 422); is_(r.code, 'bad_page')
@proof
def l_cursor_skip(s):
    w = s.window(); ids = [s.order(w) for _ in range(6)][::-1]; got, more = [], ''
    while True:
        r = s('ag-marit', 'GET', '/boardings?take=2' + more).json; got += [x['id'] for x in r['rows']]
        if r['more'] is None: break
        more = '&from=' + r['more']
    is_(got, ids)
@proof
def l_ear_rows(s):
    for n in range(5):
        r = s('ag-joost', 'POST', '/ears', {'url': 'http://127.0.0.1:9/'}); is_(r.status, 201 if n < 4 else 429)
    is_(r.code, 'used_up')
@proof
def l_window_rows(s):
    w = s.window(); ids = [s.order(w) for _ in range(8)]
    r = s('ag-ilse', 'POST', '/boardings', {'imo': '5555555', 'vessel': {'name': 'Tij', 'draught_cm': 700}, 'band': 'coaster', 'heading': 'inbound', 'window': w, 'eta': '2027-03-01T10:00:00Z'})
    is_(r.status, 429); is_(r.code, 'used_up')
    s('ag-marit', 'POST', '/boardings/%s/cancel' % ids[0], {'reason': 'fog'}); s.order(w)
@proof
def l_burst(s):
    b = s.order(s.window()); st = [s('ds-wim', 'GET', '/boardings/%s/incidents' % b).status for _ in range(31)]
    is_(st, [200] * 30 + [429]); s.advance('PT1S'); is_(s('ds-wim', 'GET', '/boardings/%s/incidents' % b).status, 200)
@proof
def l_rate_firm(s):
    is_([s('ag-marit', 'GET', '/boardings').status for _ in range(61)], [200] * 60 + [429])
    is_(s('ag-joost', 'GET', '/boardings').status, 200); s.advance('PT60S'); is_(s('ag-marit', 'GET', '/boardings').status, 200)

# ---------------------------------------------------------------- versioning
OLD = {'Station_Edition': 'spring-25'}
@proof
def v_tugs_listed(s):
    b = s.order(s.window(), tugs=3); is_(s('ag-marit', 'GET', '/boardings').json['rows'][0]['tugs'], 3)
    is_('tugs' in s('ag-marit', 'GET', '/boardings/' + b, **OLD).json, False); is_('tugs' in s('ag-marit', 'GET', '/boardings', **OLD).json['rows'][0], False)
@proof
def v_heading_read(s):
    b = s.order(s.window(), heading='shift'); is_(s('ag-marit', 'GET', '/boardings', **OLD).json['rows'][0]['heading'], 'move')
    is_(s('ag-marit', 'GET', '/boardings/' + b, **OLD).json['heading'], 'move')
@proof
def v_echo(s):
    is_(s('ag-marit', 'GET', '/windows', **OLD).headers['Station-Edition'], 'spring-25'); is_(s('ag-marit', 'GET', '/windows').headers['Station-Edition'], 'autumn-26')
@proof
def v_no_sunset(s):
    r = s('ag-marit', 'GET', '/windows', **OLD); is_(r.headers['Deprecation'], '@1780272000'); is_(r.headers['Sunset'], 'Sat, 01 Jan 2028 00:00:00 GMT')
@proof
def v_sunset_served(s):
    is_(s('ag-marit', 'GET', '/windows', **OLD).status, 200); s.advance('P2Y'); r = s('ag-marit', 'GET', '/windows', **OLD); is_(r.status, 410); is_(r.code, 'old_edition')

def run(fid, fault):
    s = Service(fault)
    try:
        P[fid](s)
        return None
    except AssertionError as e:
        return str(e) or 'failed'
    except (KeyError, IndexError, TypeError, http.client.HTTPException) as e:
        return '%s: %s' % (type(e).__name__, e)
    finally:
        s.stop()

if __name__ == '__main__':
    want = sys.argv[1:] or [f['id'] for f in ST['faults']]
    bad = 0
    for fid in want:
        right, wrong = run(fid, None), run(fid, fid)
        ok = right is None and wrong is not None
        bad += not ok
        print('%-4s %-22s %s' % ('ok' if ok else 'BAD', fid, 'right service: ' + right if right else wrong or 'not seen'), flush=True)
    print('%d of %d proven' % (len(want) - bad, len(want)))
    sys.exit(1 if bad else 0)
