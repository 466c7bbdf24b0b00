#!/usr/bin/env python3
"""For each fault: a small client that passes on the right service and fails on the faulty one."""
import base64, datetime as dt, hashlib, hmac, http.client, http.server, json, os, re, socket, subprocess, sys, threading, time, uuid
HERE = os.path.dirname(os.path.abspath(__file__))
S = json.load(open(os.path.join(HERE, 'stranger.json')))
WHO = {c['id']: c for c in S['callers']}
def port():
    s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; s.close(); return p
class Svc:
    def __init__(self, fault=None):
        self.p, self.c = port(), port()
        cmd = S['command'] + ['--port', str(self.p), '--clock-port', str(self.c)] + (['--fault', fault] if fault else [])
        self.proc = subprocess.Popen(cmd, cwd=HERE, stdout=subprocess.PIPE, text=True)
        self.proc.stdout.readline()
    def stop(self): self.proc.terminate(); self.proc.wait()
    def raw(self, method, path, body=None, headers=None, to=None):
        c = http.client.HTTPConnection('127.0.0.1', to or self.p, timeout=10)
        c.request(method, path, body, headers or {})
        r = c.getresponse(); data = r.read(); c.close()
        try: j = json.loads(data) if data else None
        except ValueError: j = data
        return R(r.status, r.headers, j)
    def __call__(self, who, method, path, body=None, v=None, **h):
        headers = {k.replace('_', '-'): x for k, x in h.items()}
        if who:
            w = WHO[who]
            if w['scheme'] == 'seal': headers['X-Guild-Seal'] = w['credential']
            else: headers['Authorization'] = 'Basic ' + base64.b64encode(w['credential'].encode()).decode()
        if v: headers['Guild-Edition'] = v
        if body is not None and 'Content-Type' not in headers: headers['Content-Type'] = 'application/json'
        return self.raw(method, '/guild' + path, body if isinstance(body, (str, bytes, type(None))) else json.dumps(body), headers)
    def advance(self, d): return self.raw('POST', '/', json.dumps({'advance': d}), to=self.c)
    def goto(self, t): return self.raw('POST', '/', json.dumps({'now': t}), to=self.c)
    def now(self): return dt.datetime.fromisoformat(self.raw('GET', '/', to=self.c).j['now'].replace('Z', '+00:00'))
    def t(self, **k): return (self.now() + dt.timedelta(**k)).strftime('%Y-%m-%dT%H:%M:%SZ')
    # what the proofs build upon
    def building(self, who='p-ada', **k):
        b = dict(name='St ' + uuid.uuid4().hex[:8], place={'town': 'York', 'country': 'GB'}); b.update(k)
        r = self(who, 'POST', '/buildings', b); assert r.s == 201, r
        return r.j['mark']
    def window(self, b=None, who='p-ada', **k):
        w = dict(bay='nIV', title='Jesse', height_mm=3000, width_mm=900, age='medieval'); w.update(k)
        r = self(who, 'POST', f'/buildings/{b or self.building()}/windows', w); assert r.s == 201, r
        return r.j['id']
    def pane(self, w=None, who='r-dov', **k):
        p = dict(cell='1a', decay=2, area_cm2=400); p.update(k)
        r = self(who, 'POST', f'/windows/{w or self.window()}/panes', p); assert r.s == 201, r
        return r.j['id']
    def pmove(self, p, *names, who='r-dov'):
        for n in names:
            r = self(who, 'POST', f'/panes/{p}/{n}', {'method': 'cleaning'} if n == 'conserve' else None); assert r.s == 200, (n, r)
        return r
    def commission(self, w=None, upto='draft', amount=1000, **k):
        c = dict(window=w or self.window(), brief='Clean the great west window', work='clean', budget=250000); c.update(k)
        r = self('p-ada', 'POST', '/commissions', c); assert r.s == 201, r
        d = r.j['docket']
        for who, step, body in [('p-ada', 'submit', None), ('r-dov', 'quote', {'amount': amount}), ('p-ada', 'accept', None), ('r-dov', 'begin', None), ('r-dov', 'finish', None)]:
            if upto == 'draft': break
            r = self(who, 'POST', f'/commissions/{d}/{step}', body); assert r.s == 200, (step, r)
            if step == upto: break
        return d
    def kiln(self, name='big-kiln', who='w-gus', **k):
        r = self(who, 'PUT', '/kilns/' + name, dict(capacity=20, **k)); assert r.s in (200, 201), r
        return name
    def firing(self, k=None, lights=None, who='r-dov', **x):
        r = self(who, 'POST', f'/kilns/{k or self.kiln()}/firings', dict(dict(lights_at=lights or self.t(days=3), peak_c=600, pieces=5), **x)); assert r.s == 201, r
        return r
    def entries(self, q=''): return self('w-gus', 'GET', '/entries?take=40' + q).j['entries']
    def log(self, kind, row=None): return [e for e in self.entries('&kind=' + kind) if row is None or e['row'] == str(row)]
class R:
    def __init__(self, s, h, j): self.s, self.h, self.j = s, h, j
    @property
    def word(self): return self.j['broken']['word'] if isinstance(self.j, dict) and 'broken' in self.j else None
    def __repr__(self): return f'<{self.s} {self.j}>'
class Ear:
    """a receiver of web hooks; the first `fail` deliveries are refused"""
    def __init__(self, fail=0):
        ear = self; self.got = []
        class H(http.server.BaseHTTPRequestHandler):
            def log_message(self, *a): pass
            def do_POST(self):
                raw = self.rfile.read(int(self.headers['Content-Length']))
                ear.got.append((dict(self.headers.items()), raw, json.loads(raw)))
                self.send_response(500 if len(ear.got) <= fail else 204); self.end_headers()
        self.srv = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H)
        self.url = f'http://127.0.0.1:{self.srv.server_address[1]}/ear'
        threading.Thread(target=self.srv.serve_forever, daemon=True).start()
    def wait(self, n=1, s=1.2):
        end = time.time() + s
        while len(self.got) < n and time.time() < end: time.sleep(0.01)
        return self.got
PROOF = {}
def proof(id):
    def deco(fn): PROOF[id] = fn; return fn
    return deco

# purpose
@proof('pu-loc')
def _(s): r = s.firing(); return r.h['Location'] == f"/guild/firings/{r.j['no']}"
@proof('pu-link')
def _(s):
    s.building(); s.building()
    return '</guild/buildings?take=1&leaf=2>; rel="next"' in s('p-ada', 'GET', '/buildings?take=1').h['Link']
@proof('pu-root')
def _(s): return s.raw('GET', '/motto').s == 404 and s('', 'GET', '/motto').s == 200
@proof('pu-desk')
def _(s):
    d = s.commission()
    return [r['docket'] for r in s('w-hal', 'GET', '/commissions').j['rows']] == [d]
@proof('pu-read-entry')
def _(s):
    s.firing(); s.advance('P2DT1H')
    e = s.log('firing.near')[0]
    return s('w-gus', 'GET', '/entries/' + e['id']).s == 200
@proof('pu-warden-hook')
def _(s): return s('w-ivy', 'POST', '/hooks', {'url': 'http://127.0.0.1:9/x'}).s == 201
# resources
@proof('re-number')
def _(s):
    a, b = s.building(), s.building()
    s.window(a); w = s.window(b)
    return s('p-ada', 'GET', '/windows/' + w).j['number'] == 1
@proof('re-default')
def _(s):
    s.kiln(hottest_c=1000); s.kiln()
    return s('', 'GET', '/kilns/big-kiln').j['hottest_c'] == 850
@proof('re-keysafe')
def _(s):
    s.building(key_safe='1631 by the porch')
    return 'key_safe' not in s('r-dov', 'GET', '/buildings').j['rows'][0] and 'key_safe' in s('p-ada', 'GET', '/buildings').j['rows'][0]
@proof('re-unique')
def _(s):
    b = s.building(); s.window(b); w = s.window(b, bay='sII')
    return s('p-ada', 'PATCH', '/windows/' + w, {'bay': 'nIV'}).word == 'there-already'
@proof('re-worst')
def _(s):
    w = s.window(); s.pane(w, decay=1); p = s.pane(w, cell='2b', decay=5)
    assert s('w-gus', 'DELETE', '/panes/' + p).s == 204
    return s('p-ada', 'GET', '/windows/' + w).j['worst'] == 1
@proof('re-pattern')
def _(s): return s('r-dov', 'POST', f'/windows/{s.window()}/panes', {'cell': '12a and b', 'decay': 1, 'area_cm2': 5}).word == 'unfit'
@proof('re-kept')
def _(s):
    w = s.window(maker='Clayton'); r = s('p-ada', 'PATCH', '/windows/' + w, {'maker': None})
    return r.s == 200 and 'maker' in r.j and r.j['maker'] is None
# states
@proof('st-recall')
def _(s):
    p = s.pane(); s.advance('P10D'); s.pmove(p, 'take-out'); s.advance('P13D')
    a = s('r-dov', 'GET', '/panes/' + p).j['stage']; s.advance('P1DT1S')
    return a == 'taken_out' and s('r-dov', 'GET', '/panes/' + p).j['stage'] == 'in_situ'
@proof('st-condemn')
def _(s): p = s.pane(decay=4); s.pmove(p, 'take-out'); return s('w-gus', 'POST', f'/panes/{p}/condemn').s == 200
@proof('st-inspect')
def _(s):
    w = s.window(); s.pane(w)
    return s('p-ada', 'GET', '/commissions/' + s.commission(w, 'finish', 500000)).j['status'] == 'finished'
@proof('st-early')
def _(s):
    lights = (s.now() + dt.timedelta(hours=3)).astimezone(dt.timezone(dt.timedelta(hours=-5))).isoformat(timespec='seconds')
    n = s.firing(lights=lights).j['no']
    a = s('r-dov', 'POST', f'/firings/{n}/light')
    s.advance('PT2H1M')
    return a.word == 'too-early' and s('r-dov', 'POST', f'/firings/{n}/light').s == 200
@proof('st-late')
def _(s): return s('w-gus', 'POST', f"/commissions/{s.commission(upto='accept')}/withdraw", {'reason': 'no money'}).word == 'too-late'
@proof('st-restored')
def _(s):
    w = s.window(); s.pane(w); s.commission(w, 'finish'); s.advance('P7DT1M')
    return 'restored_at' in s('p-ada', 'GET', '/windows/' + w).j
@proof('st-miss')
def _(s):
    n = s.firing().j['no']; s.advance('P3DT1H')
    a = s('r-dov', 'GET', f'/firings/{n}').j['status']; s.advance('PT1H1M')
    return (a, s('r-dov', 'GET', f'/firings/{n}').j['status']) == ('planned', 'missed')
# endpoints
@proof('en-select')
def _(s): w = s.window(); return s('p-ada', 'GET', f'/windows/{w}?only=title').j == {'id': w, 'title': 'Jesse'}
@proof('en-weak')
def _(s):
    b = s.building(); t = s('p-ada', 'GET', '/buildings/' + b).h['ETag']
    return s('p-ada', 'PATCH', '/buildings/' + b, {'name': 'Minster'}, If_Match='W/' + t).s == 412 and s('p-ada', 'PATCH', '/buildings/' + b, {'name': 'Minster'}, If_Match=t).s == 200
@proof('en-least')
def _(s): s.window(height_mm=2500); return s('p-ada', 'GET', '/windows?least_height=2500').j['total'] == 1
@proof('en-put201')
def _(s): return s('w-gus', 'PUT', '/kilns/new-kiln', {'capacity': 4}).s == 201
@proof('en-replay')
def _(s):
    a, b = (s('r-dov', 'POST', '/hooks', {'url': 'http://127.0.0.1:9/x'}, Once_Mark='m1') for _ in 'ab')
    return (a.s, b.s) == (201, 201) and a.j['id'] == b.j['id'] and 'secret' in a.j and 'secret' not in b.j
@proof('en-textsort')
def _(s):
    b = s.building()
    for bay, h in (('nI', 900), ('nII', 1200), ('nIII', 10000)): s.window(b, bay=bay, height_mm=h)
    return [r['height_mm'] for r in s('p-ada', 'GET', '/windows?sort=height_mm').j['rows']] == [900, 1200, 10000]
@proof('en-in')
def _(s): p = s.pane(); s.pmove(p, 'take-out'); return s('w-gus', 'PATCH', '/panes/' + p, {'decay': 3}).word == 'not-in-this-state'
# authentication
@proof('au-quoted')
def _(s): s.commission(upto='quote'); return s('r-eva', 'GET', '/commissions').j['total'] == 0 and s('r-dov', 'GET', '/commissions').j['total'] == 1
@proof('au-bench')
def _(s): p = s.pane(); s.pmove(p, 'take-out', 'bench'); return s('r-eva', 'PATCH', '/panes/' + p, {'decay': 3}).word == 'not-yours'
@proof('au-scope')
def _(s):
    w = s.window(); s.pane(w)
    return s('w-ivy', 'POST', f"/commissions/{s.commission(w, 'finish', 600000)}/pass").word == 'out-of-scope'
@proof('au-kiln')
def _(s): s.kiln(); return s('w-ivy', 'DELETE', '/kilns/big-kiln').word == 'not-yours' and s('w-gus', 'DELETE', '/kilns/big-kiln').s == 204
@proof('au-badseal')
def _(s): return s('', 'GET', '/kilns', X_Guild_Seal='gs_forged').word == 'false-seal' and s('', 'GET', '/kilns').s == 200
@proof('au-holder')
def _(s): p = s.pane(); s.pmove(p, 'take-out'); return set(s('p-ada', 'GET', '/panes/' + p).j) == {'id', 'window', 'cell', 'technique', 'decay', 'stage'}
@proof('au-challenge')
def _(s): h = s('', 'GET', '/buildings').h['WWW-Authenticate']; return 'ApiKey realm="Cathedral Glass"' in h and 'Basic realm="Cathedral Glass"' in h
# events
@proof('ev-worse')
def _(s): p = s.pane(decay=3); s('r-dov', 'PATCH', '/panes/' + p, {'decay': 1}); return s.log('pane.worsened', p) == []
@proof('ev-recall')
def _(s): p = s.pane(); s.pmove(p, 'take-out'); s.advance('P14DT1M'); return [(e['by'], e['body']['is']) for e in s.log('pane.moved', p)] == [('clock', 'in_situ'), ('r-dov', 'taken_out')]
@proof('ev-near')
def _(s): n = s.firing().j['no']; s('r-dov', 'POST', f'/firings/{n}/scrub'); s.advance('P2DT1H'); return s.log('firing.near', n) == []
@proof('ev-keep')
def _(s): s.building(); s.advance('P59D'); a = len(s.entries()); s.advance('P2D'); return (a, len(s.entries())) == (1, 0)
@proof('ev-sign')
def _(s):
    e = Ear(); h = s('r-dov', 'POST', '/hooks', {'url': e.url}).j; s.pmove(s.pane(), 'take-out')
    head, raw, j = e.wait()[0]; m = re.fullmatch(r'at=(\d+);seal=([0-9a-f]{64})', head['Guild-Stamp'])
    return j['kind'] == head['Guild-Kind'] and hmac.new(h['secret'].encode(), f"{m[1]}|{j['event']}|".encode() + raw, hashlib.sha256).hexdigest() == m[2]
@proof('ev-star')
def _(s):
    e = Ear(); s('r-dov', 'POST', '/hooks', {'url': e.url, 'kinds': ['pane.*']}); s.pmove(s.pane(), 'take-out')
    return [g[2]['kind'] for g in e.wait()] == ['pane.moved']
@proof('ev-retryid')
def _(s):
    e = Ear(fail=1); s('r-dov', 'POST', '/hooks', {'url': e.url, 'kinds': ['pane.moved']}); s.pmove(s.pane(), 'take-out'); e.wait(1); time.sleep(0.1)
    s.advance('PT13S'); e.wait(2)
    return len(e.got) == 2 and e.got[0][2] == e.got[1][2]
# errors
@proof('er-nested')
def _(s): r = s('p-ada', 'POST', '/buildings', {'name': 'Minster', 'place': {'country': 'GB'}}); return r.word == 'lacking' and r.j['broken']['shards'][0]['path'] == 'place.town' and r.j['broken']['because'] == 'place.town is missing'
@proof('er-first')
def _(s): return s('p-ada', 'POST', '/buildings', {'steeple': 1, 'name': 'Minster'}).word == 'foreign-field'
@proof('er-word')
def _(s): r = s('p-ada', 'PUT', '/buildings', {}); return r.s == 405 and r.h['Guild-Word'] == 'no-such-tool'
@proof('er-order')
def _(s): return s('p-ada', 'POST', f"/commissions/{s.commission(upto='accept')}/withdraw", {'reason': 'x'}).word == 'unfit'
@proof('er-gone')
def _(s): p = s.pane(); s('w-gus', 'DELETE', '/panes/' + p); return s('r-dov', 'GET', '/panes/' + p).word == 'struck-out'
@proof('er-ref')
def _(s): r = s('p-ada', 'POST', '/commissions', dict(window=str(uuid.uuid4()), brief='Clean the great window', work='clean', budget=5000)); return (r.s, r.word) == (422, 'leads-nowhere')
# limits
@proof('li-take')
def _(s): return s('p-ada', 'GET', '/buildings?take=50').s == 200 and s('p-ada', 'GET', '/buildings?take=51').word == 'no-such-leaf'
@proof('li-cost')
def _(s): a = s('w-gus', 'GET', '/entries').h; b = s('w-gus', 'GET', '/entries').h; return (a['Guild-Allowance'], a['Guild-Left'], b['Guild-Left']) == ('600', '597', '594')
@proof('li-zone')
def _(s):
    s.goto('2027-06-30T22:30:00Z'); w = s.window(); body = dict(window=w, brief='Clean the great west window', work='clean', budget=9000)
    a = [s('p-ada', 'POST', '/commissions', body).s for _ in range(31)]
    s.goto('2027-06-30T23:01:00Z')          # in London July has begun
    return a == [201] * 30 + [429] and s('p-ada', 'POST', '/commissions', body).s == 201
@proof('li-rows')
def _(s):
    k = s.kiln(); l = s.t(days=3); n = s.firing(k, l).j['no']; s('r-dov', 'POST', f'/firings/{n}/scrub')
    for _ in range(8): s.firing(k, l)
    return s('r-dov', 'POST', f'/kilns/{k}/firings', dict(lights_at=l, peak_c=600, pieces=1)).word == 'enough'
@proof('li-size')
def _(s):
    b = json.dumps({'name': 'Minster', 'place': {'town': 'York', 'country': 'GB'}})
    a = s('p-ada', 'POST', '/buildings', b + ' ' * (24576 - len(b))); c = s('p-ada', 'POST', '/buildings', b + ' ' * (24577 - len(b)))
    return a.s == 201 and c.word == 'too-big'
@proof('li-uncounted')
def _(s): return [s('', 'GET', '/kilns/none').s for _ in range(22)] == [404] * 22 and s('', 'GET', '/kilns').h['Guild-Left'] == '19'
# versioning
@proof('ve-budget')
def _(s): d = s('p-ada', 'POST', '/commissions', dict(window=s.window(), brief='Clean the great window', work='clean', budget=1024.09), v='lammas-25').j['docket']; return s('p-ada', 'GET', '/commissions/' + d).j['budget'] == 102409
@proof('ve-enumlist')
def _(s): w = s.window(); s.pane(w, technique='silver_stain'); return s('r-dov', 'GET', f'/windows/{w}/panes', v='candlemas-26').j['rows'][0]['technique'] == 'yellow_stain'
@proof('ve-condemn')
def _(s): p = s.pane(decay=5); s.pmove(p, 'take-out'); return s('w-gus', 'POST', f'/panes/{p}/condemn', v='lammas-25').word == 'no-way'
@proof('ve-path')
def _(s): return s('p-ada', 'POST', '/buildings', {'name': 'Minster', 'place': {'country': 'GB'}}, v='candlemas-26').j['broken']['shards'][0]['path'] == 'place.city'
@proof('ve-hook')
def _(s):
    e = Ear(); s('p-ada', 'POST', '/hooks', {'url': e.url, 'kinds': ['building.entered']}, v='lammas-25'); s.building()
    g = e.wait()[0][2]['subject']; return g['place'] == {'city': 'York', 'country': 'GB'} and 'grade' not in g
@proof('ve-key')
def _(s):
    w = s.window(); b = dict(window=w, brief='Clean the great window', work='clean', budget=5000)
    s('p-ada', 'POST', '/commissions', b, Once_Mark='k', v='candlemas-26'); return s('p-ada', 'POST', '/commissions', b, Once_Mark='k').word == 'mark-reused'
@proof('ve-sunset')
def _(s):
    a = s('p-ada', 'GET', '/buildings', v='lammas-25'); s.goto('2031-03-01T00:00:01Z')
    return a.s == 200 and a.h['Sunset'] == 'Sat, 01 Mar 2031 00:00:00 GMT' and s('p-ada', 'GET', '/buildings', v='lammas-25').word == 'edition-ended'

def run(id, fault):
    s = Svc(fault)
    try: return bool(PROOF[id](s)), ''
    except Exception as e: return False, f'{type(e).__name__}: {e}'
    finally: s.stop()
if __name__ == '__main__':
    ids = [x['id'] for x in S['faults']]
    only = sys.argv[1:] or ids
    assert set(ids) == set(PROOF) and len(ids) == len(set(ids)), set(ids) ^ set(PROOF)
    good = 0
    for id in only:
        (ok, why), (caught, why2) = run(id, None), run(id, id)
        good += ok and not caught
        print(f"{'proved' if ok and not caught else 'NOT PROVED'}  {id}" + ('' if ok else f'  the right service fails: {why}') + ('  the faulty one passes' if caught else '') + (f'  (faulty: {why2[:100]})' if why2 else ''), flush=True)
    print(f'{good} of {len(only)} faults prove')
    sys.exit(good != len(only))
