"""For every fault of stranger.json: the right service passes its check, and the one with the fault does not."""
import base64, hashlib, hmac, http.client, http.server, json, os, shutil, socket, subprocess, sys, tempfile, threading, time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

HERE = os.path.dirname(os.path.abspath(__file__))
S = json.load(open(os.path.join(HERE, 'stranger.json')))
WHO = {c['id']: c for c in S['callers']}
TMP = tempfile.mkdtemp()


def free():
    s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; s.close(); return p


class R:
    def __init__(self, status, headers, text):
        self.status, self.h, self.text = status, headers, text
    @property
    def j(self): return json.loads(self.text)
    @property
    def code(self): return self.j['frost']['is']


class Hook(http.server.ThreadingHTTPServer):
    def __init__(self):
        outer = self; self.got = []; self.status = 200; self.extra = {}
        class H(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                b = self.rfile.read(int(self.headers['Content-Length']))
                outer.got.append((dict((k.lower(), v) for k, v in self.headers.items()), b))
                self.send_response(outer.status)
                for k, v in outer.extra.items(): self.send_header(k, v)
                self.send_header('Content-Length', '0'); self.end_headers()
            def log_message(self, *a): pass
        super().__init__(('127.0.0.1', 0), H)
        threading.Thread(target=self.serve_forever, daemon=True).start()
    @property
    def url(self): return 'http://127.0.0.1:%d/in' % self.server_address[1]
    def bodies(self): return [json.loads(b) for _, b in self.got]


class W:
    def __init__(self, fault=None):
        self.port, self.cport = free(), free(); self.n = 0; self.hooks = []
        cmd = ['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-cp', TMP, 'service', '--port', str(self.port), '--clock-port', str(self.cport)]
        self.p = subprocess.Popen(cmd + (['--fault', fault] if fault else []), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.p.stdout.readline()
    def close(self):
        self.p.kill(); self.p.wait(); self.p.stdout.close()
        for h in self.hooks: h.shutdown(); h.server_close()
    def raw(self, port, m, path, body=None, headers={}):
        c = http.client.HTTPConnection('127.0.0.1', port, timeout=20)
        c.request(m, path, body, headers); r = c.getresponse(); t = r.read().decode()
        h = {}
        for k, v in r.getheaders(): h[k.lower()] = h[k.lower()] + ', ' + v if k.lower() in h else v
        c.close(); return R(r.status, h, t)
    def clock(self, **kw):
        r = self.raw(self.cport, 'POST' if kw else 'GET', '/', json.dumps(kw) if kw else None)
        assert r.status == 200, r.text
        return datetime.fromisoformat(r.j['now'].replace('Z', '+00:00'))
    def go(self, d): return self.clock(advance=d)
    def at(self, **kw): return (self.clock() + timedelta(**kw)).strftime('%Y-%m-%dT%H:%M:%SZ')
    def seal(self, who, m, target, body=b'', at=None):
        k, s = WHO[who]['credential'].split(':'); at = int(self.clock().timestamp()) if at is None else at
        return 'Seal key=%s; at=%d; mac=%s' % (k, at, hmac.new(s.encode(), ('%d|%s|%s|' % (at, m, target)).encode() + body, hashlib.sha256).hexdigest())
    def q(self, who, m, path, body=None, once=None, ed=None, **headers):
        h = {k.replace('_', '-'): v for k, v in headers.items()}
        if body is not None and not isinstance(body, bytes): body = json.dumps(body).encode(); h.setdefault('Content-Type', 'application/json')
        target = path if path.startswith('!') else '/cold' + path
        target = target.lstrip('!')
        if who:
            if WHO[who]['scheme'] == 'pass': h['Firn-Pass'] = WHO[who]['credential']
            else: h['Authorization'] = self.seal(who, m, target, body or b'')
        if once: h['Firn-Once'] = once
        if ed: h['Firn-Edition'] = ed
        return self.raw(self.port, m, target, body, h)
    # things
    def uniq(self): self.n += 1; return '%s%d' % (os.urandom(3).hex(), self.n)
    def bay(self, code='A01', capacity=20): r = self.q('orla', 'PUT', '/bays/' + code, {'celsius': -36, 'capacity': capacity}); assert r.status in (200, 201), r.text; return r.j
    def cbody(self, **kw):
        b = {'bay': 'A01', 'label': 'ice-' + self.uniq(), 'place': {'glacier': 'Aletsch', 'lat': 46.4, 'lon': 8.0}, 'drilled_on': '2026-03-01', 'length_mm': 2000}; b.update(kw); return {k: v for k, v in b.items() if v is not None}
    def core(self, **kw):
        if not getattr(self, 'b', 0): self.b = 1; self.bay()
        r = self.q('orla', 'POST', '/cores', self.cbody(**kw)); assert r.status == 201, r.text; return r.j
    def frozen(self, **kw):
        c = self.core(**kw); r = self.q('orla', 'POST', '/cores/%s/shelve' % c['id']); assert r.status == 200, r.text; return r.j
    def ask(self, core, who='quill', ok=True, once=None, ed=None, **kw):
        b = {'top_mm': 0, 'length_mm': 100, 'aim': 'dust layers'}; b.update(kw); b = {k: v for k, v in b.items() if v is not None}
        r = self.q(who, 'POST', '/cores/%s/cuts' % core['id'], b, once=once or self.uniq(), ed=ed)
        if ok: assert r.status == 201, r.text; return r.j
        return r
    def do(self, cut, verb, who=None, body=None):
        return self.q(who or ('quill' if verb in ('withdraw', 'receive') else 'orla'), 'POST', '/cuts/%s/%s' % (cut['id'], verb), body)
    def to(self, cut, state):
        for v, s in (('grant', 'granted'), ('saw', 'sawn'), ('dispatch', 'sent'), ('receive', 'received')):
            r = self.do(cut, v); assert r.status == 200, r.text
            if s == state: return r.j
    def cut(self, state='asked', core=None, **kw):
        c = self.ask(core or self.frozen(), **kw)
        if state != 'asked': self.to(c, state)
        return self.q('quill', 'GET', '/cuts/' + c['id']).j
    def hook(self, who='quill', **kw):
        h = Hook(); self.hooks.append(h)
        ed = kw.pop('ed', None)
        r = self.q(who, 'POST', '/hooks', dict({'target': h.url}, **kw), ed=ed); assert r.status == 201, r.text
        h.row = r.j; return h
    def tell(self, hook, n):
        end = time.time() + 3
        while len(hook.got) < n and time.time() < end: time.sleep(.02)
        time.sleep(.08); assert len(hook.got) == n, (n, hook.bodies()); return hook.bodies()
    def log(self, **kw):
        r = self.q('vesper', 'GET', '/traces?take=40' + ''.join('&%s=%s' % i for i in kw.items())); assert r.status == 200, r.text; return r.j['ice']


def is_(r, status, code=None):
    assert r.status == status, (r.status, status, r.text)
    if code: assert r.code == code, (r.code, code)
    return r
def same(a, b): assert a == b, (a, b)

C = {}
def t(*ids):
    def d(fn):
        for i in ids: assert i not in C, i; C[i] = fn
        return fn
    return d

# ---- purpose
@t('base-without-cold')
def _(w): is_(w.q(None, 'GET', '!/cold/notice'), 200); is_(w.q(None, 'GET', '!/notice'), 404, 'no_trail')
@t('labs-may-saw')
def _(w):
    c = w.cut('granted'); is_(w.do(c, 'saw', 'quill'), 403, 'keep_out'); is_(w.do(c, 'saw'), 200)
@t('auditors-may-hook')
def _(w): is_(w.q('vesper', 'POST', '/hooks', {'target': 'http://127.0.0.1:9/x'}), 403, 'keep_out')
@t('keepers-read-traces')
def _(w): is_(w.q('orla', 'GET', '/traces'), 403, 'keep_out')
# ---- resources: shapes
def core_no(w, status=422, code='unfit', **kw):
    w.core(); is_(w.q('orla', 'POST', '/cores', w.cbody(**kw)), status, code)
def cut_no(w, code='unfit', **kw): is_(w.ask(w.frozen(), ok=False, **kw), 422, code)
@t('urgency-takes-anything')
def _(w): cut_no(w, urgency=4)
@t('aim-one-too-long')
def _(w): k = w.frozen(); w.ask(k, aim='a' * 120); is_(w.ask(k, ok=False, aim='a' * 121), 422, 'unfit')
@t('length-in-utf16')
def _(w): w.ask(w.frozen(), aim='\U0001f9ca' * 70)
@t('label-any-case')
def _(w): core_no(w, label='Ice-Core')
@t('drilled-on-any-digits')
def _(w): core_no(w, drilled_on='2026-02-31')
@t('needed-by-takes-a-date')
def _(w): cut_no(w, needed_by='2031-01-01')
@t('target-any-text')
def _(w): is_(w.q('quill', 'POST', '/hooks', {'target': 'over there'}), 422, 'unfit')
@t('top-zero-refused')
def _(w): w.ask(w.frozen(), top_mm=0)
@t('celsius-above-ten')
def _(w): is_(w.q('orla', 'PUT', '/bays/B01', {'celsius': -9.5, 'capacity': 3}), 422, 'unfit')
@t('tags-may-repeat')
def _(w): core_no(w, tags=['a', 'a'])
@t('marks-without-end')
def _(w): core_no(w, marks={k: 'x' for k in 'abcde'})
@t('marks-take-anything')
def _(w): core_no(w, marks={'a': 5})
@t('numbers-pass-for-integers')
def _(w): core_no(w, length_mm=150.5)
@t('stray-fields-pass')
def _(w): core_no(w, 422, 'stray', colour='blue')
@t('place-takes-strays')
def _(w): core_no(w, 422, 'stray', place={'glacier': 'Gorner', 'lat': 1, 'lon': 1, 'alt': 4})
@t('read-only-refused', 'curator-is-taken')
def _(w): same(w.core(curator='bran')['curator'], 'orla')
@t('null-takes-required-away')
def _(w):
    c = w.core(); is_(w.q('orla', 'PATCH', '/cores/' + c['id'], {'grade': None}, If_Match='*'), 422, 'unfit')
@t('equator-is-south')
def _(w): same(w.core(place={'glacier': 'Lewis', 'lat': 0, 'lon': 37})['place']['half'], 'north')
@t('half-made-once')
def _(w):
    c = w.core(); r = is_(w.q('orla', 'PATCH', '/cores/' + c['id'], {'place': {'lat': -70}}, If_Match='*'), 200); same(r.j['place']['half'], 'south')
@t('patch-replaces-place')
def _(w):
    c = w.core(); r = is_(w.q('orla', 'PATCH', '/cores/' + c['id'], {'place': {'lat': 12.5}}, If_Match='*'), 200); same(r.j['place']['glacier'], 'Aletsch')
@t('drilled-on-may-change')
def _(w):
    c = w.core(); is_(w.q('orla', 'PATCH', '/cores/' + c['id'], {'drilled_on': '2026-03-01', 'grade': 'poor'}, If_Match='*'), 200)
    is_(w.q('orla', 'PATCH', '/cores/' + c['id'], {'drilled_on': '2026-03-02'}, If_Match='*'), 422, 'unfit')
@t('held-counts-logged')
def _(w): w.core(); w.frozen(); same(w.q('quill', 'GET', '/bays/A01').j['held'], 1)
@t('rest-forgets-received')
def _(w):
    k = w.frozen(); w.cut('received', core=k); same(w.q('orla', 'GET', '/cores/' + k['id']).j['rest_mm'], 1900)
@t('rest-counts-asked')
def _(w): k = w.frozen(); w.ask(k); same(w.q('orla', 'GET', '/cores/' + k['id']).j['rest_mm'], 2000)
@t('rest-counts-melted', 'melting-is-silent')
def _(w):
    k = w.frozen(); c = w.cut('sent', core=k); w.go('PT72H'); same(w.q('quill', 'GET', '/cuts/' + c['id']).j['state'], 'melted')
    same(w.q('orla', 'GET', '/cores/' + k['id']).j['rest_mm'], 2000); same([x['body']['state'] for x in w.log(kind='cut.moved')], ['melted', 'sent'])
@t('touched-at-stands-still', 'nothing-is-a-change')
def _(w):
    c = w.core(); w.go('PT5S'); p = '/cores/' + c['id']
    same(w.q('orla', 'PATCH', p, {'grade': 'fair'}, If_Match='*').j['touched_at'], c['touched_at'])
    assert w.q('orla', 'PATCH', p, {'grade': 'poor'}, If_Match='*').j['touched_at'] > c['touched_at']
@t('clock-does-not-touch', 'spoil-is-silent', 'spoils-after-seven-hours')
def _(w):
    c = w.core(); w.go('PT5H59M'); same(w.q('orla', 'GET', '/cores/' + c['id']).j['state'], 'logged'); w.go('PT1M')
    d = w.q('orla', 'GET', '/cores/' + c['id']).j; same(d['state'], 'spoiled'); assert d['touched_at'] > c['touched_at']; same(len(w.log(kind='core.lost')), 1)
@t('shelving-does-not-touch', 'no-shelved-at')
def _(w):
    c = w.core(); w.go('PT5S'); d = w.q('orla', 'POST', '/cores/%s/shelve' % c['id']).j; assert d['touched_at'] > c['touched_at']; same(d['shelved_at'], d['touched_at'])
@t('serial-drawn-too-early', 'serial-of-three-digits')
def _(w):
    a = w.core(); is_(w.q('orla', 'POST', '/cores', w.cbody(label=a['label'])), 409, 'label_taken'); b = w.core(); same((a['serial'], b['serial']), ('FC-0001', 'FC-0002'))
@t('core-ids-in-capitals')
def _(w):
    for _ in range(3):
        i = w.core()['id']; assert i[5:] == i[5:].lower() and i.startswith('core-') and len(i) == 17
@t('labels-may-repeat')
def _(w): c = w.core(); is_(w.q('orla', 'POST', '/cores', w.cbody(label=c['label'])), 409, 'label_taken')
@t('labels-may-be-changed-to-taken')
def _(w):
    a, b = w.core(), w.core(); is_(w.q('orla', 'PATCH', '/cores/' + b['id'], {'label': a['label']}, If_Match='*'), 409, 'label_taken')
@t('labels-taken-for-ever')
def _(w):
    a = w.frozen(); is_(w.q('orla', 'POST', '/cores/%s/retire' % a['id']), 200); w.core(label=a['label'])
@t('bays-need-not-be')
def _(w): core_no(w, 422, 'dangling', bay='Z99')
@t('numbers-across-cores')
def _(w): a, b = w.frozen(), w.frozen(); same([w.ask(a)['number'], w.ask(b)['number'], w.ask(a)['number']], [1, 1, 2])
@t('firm-is-the-lab', 'urgency-defaults-to-one')
def _(w): c = w.cut(); same((c['firm'], c['urgency'], c['lab']), ('north', 2, 'quill'))
@t('verdict-not-kept', 'verdict-always-yes')
def _(w):
    c = w.cut(); r = is_(w.do(c, 'refuse', body={'reason': 'too little of it'}), 200); same(r.j['verdict'], 'too little of it'); same(w.log(kind='cut.decided')[0]['body']['verdict'], 'too little of it')
@t('ends-before-the-end')
def _(w):
    k = w.frozen(); w.ask(k, top_mm=5900, length_mm=100); is_(w.ask(k, ok=False, top_mm=5901, length_mm=100), 422, 'unfit')
@t('ends-outside-on-update')
def _(w): c = w.cut(top_mm=5500); is_(w.q('quill', 'PATCH', '/cuts/' + c['id'], {'length_mm': 600}), 422, 'unfit')
def reading(w, c, iso='dust', who='quill', **kw): return w.q(who, 'POST', '/cuts/%s/readings' % c['id'], dict({'isotope': iso, 'value': 3.5}, **kw))
@t('children-by-age', 'payload-has-children')
def _(w):
    c = w.cut('received')
    for i in ('dust', 'ash', 'dd'): is_(reading(w, c, i), 201)
    same([x['isotope'] for x in w.q('orla', 'GET', '/cuts/' + c['id']).j['readings']], ['ash', 'dd', 'dust'])
    h = w.hook(); d = w.cut('sent'); b = [x for x in w.tell(h, 4) if x['what'] == 'cut.moved'][0]; assert 'readings' not in b['about']
@t('readings-outlive-cuts', 'any-cut-goes')
def _(w):
    c = w.cut('received'); r = is_(reading(w, c), 201).j; d = w.cut()
    is_(w.q('orla', 'DELETE', '/cuts/' + d['id']), 409, 'wrong_state'); is_(w.q('orla', 'DELETE', '/cuts/' + c['id']), 204); is_(w.q('orla', 'GET', '/readings/%d' % r['id']), 404, 'not_here')
@t('isotopes-may-repeat', 'replace-keeps-remark', 'never-revised', 'if-match-of-readings-unseen')
def _(w):
    c = w.cut('received'); a = is_(reading(w, c, 'dd', remark='x', sigma=1), 201).j; is_(reading(w, c, 'ash'), 201); p = '/readings/%d' % a['id']
    is_(w.q('quill', 'PUT', p, {'isotope': 'ash', 'value': 1}), 409, 'label_taken')
    is_(w.q('quill', 'PUT', p, {'isotope': 'dd', 'value': 1}, If_Match='"no"'), 412, 'melted_tag')
    r = is_(w.q('quill', 'PUT', p, {'isotope': 'dd', 'value': 1}), 200).j; assert 'remark' not in r and 'sigma' not in r and 'revised_at' in r
@t('secret-never-shown', 'short-secrets', 'replay-shows-secret')
def _(w):
    r = w.q('quill', 'POST', '/hooks', {'target': 'http://127.0.0.1:9/x'}, once='k1'); s = is_(r, 201).j['secret']; assert s.startswith('fh_') and len(s) == 33
    assert 'secret' not in w.q('quill', 'GET', '/hooks/' + r.j['id']).j
    b = w.q('quill', 'POST', '/hooks', {'target': 'http://127.0.0.1:9/x'}, once='k1'); same(is_(b, 201).j['id'], r.j['id']); assert 'secret' not in b.j
@t('wants-anything')
def _(w): is_(w.q('quill', 'POST', '/hooks', {'target': 'http://127.0.0.1:9/x', 'wants': ['cut.*', 'cut.eaten']}), 422, 'unfit')
@t('opened-at-moves', 'upsert-keeps-remark', 'bays-made-with-200')
def _(w):
    r = is_(w.q('orla', 'PUT', '/bays/B07', {'celsius': -20, 'capacity': 2, 'remark': 'loud'}), 201); s = is_(w.q('orla', 'PUT', '/bays/B07', {'celsius': -21, 'capacity': 2}), 200).j
    same(s['opened_at'], r.j['opened_at']); assert 'remark' not in s
@t('asked-at-in-local-time')
def _(w):
    c = w.cut(); a = datetime.fromisoformat(c['asked_at'].replace('Z', '+00:00')); assert abs((w.clock() - a).total_seconds()) < 60
@t('body-beats-path')
def _(w): a, b = w.frozen(), w.frozen(); is_(w.q('quill', 'POST', '/cores/%s/cuts' % a['id'], {'core': b['id'], 'top_mm': 0, 'length_mm': 100, 'aim': 'dust'}, once='k'), 422, 'unfit')
# ---- states
@t('retire-leaves-cuts', 'retire-leaves-granted', 'voiding-is-silent')
def _(w):
    k = w.frozen(); a = w.cut(core=k); b = w.cut('granted', core=k); c = w.cut('sawn', core=k); is_(w.q('orla', 'POST', '/cores/%s/retire' % k['id']), 200)
    same([w.q('orla', 'GET', '/cuts/' + x['id']).j['state'] for x in (a, b, c)], ['voided', 'voided', 'sawn']); same([x['body']['why'] for x in w.log(kind='cut.dropped')], ['voided'] * 2)
@t('received-cuts-melt', 'melts-after-a-day')
def _(w):
    a, b = w.cut('received'), w.cut('sent'); w.go('PT71H59M'); same(w.q('quill', 'GET', '/cuts/' + b['id']).j['state'], 'sent'); w.go('PT2M')
    same([w.q('quill', 'GET', '/cuts/' + x['id']).j['state'] for x in (a, b)], ['received', 'melted'])
@t('lapse-takes-granted', 'lapses-an-hour-late')
def _(w):
    k = w.frozen(); n = w.at(days=3); a = w.cut(core=k, needed_by=n); b = w.cut('granted', core=k, needed_by=n); w.go('P3D')
    same([w.q('quill', 'GET', '/cuts/' + x['id']).j['state'] for x in (a, b)], ['lapsed', 'granted'])
@t('lapse-keeps-old-time')
def _(w):
    c = w.cut(needed_by=w.at(days=3)); is_(w.q('quill', 'PATCH', '/cuts/' + c['id'], {'needed_by': w.at(days=9)}), 200); w.go('P4D'); same(w.q('quill', 'GET', '/cuts/' + c['id']).j['state'], 'asked')
@t('logged-cores-retire', 'retire-refused-as-wrong-state')
def _(w): c = w.core(); is_(w.q('orla', 'POST', '/cores/%s/retire' % c['id']), 409, 'not_on_shelf')
@t('granted-may-be-refused')
def _(w): c = w.cut('granted'); is_(w.do(c, 'refuse', body={'reason': 'changed minds'}), 409, 'wrong_state')
@t('sawn-may-be-withdrawn')
def _(w): c = w.cut('sawn'); is_(w.do(c, 'withdraw'), 409, 'past_recall')
@t('asked-may-be-sawn')
def _(w): c = w.cut(); is_(w.do(c, 'saw'), 409, 'wrong_state')
@t('granted-cuts-change')
def _(w): c = w.cut('granted'); is_(w.q('quill', 'PATCH', '/cuts/' + c['id'], {'aim': 'other'}), 409, 'wrong_state')
@t('retired-cores-change')
def _(w):
    c = w.frozen(); w.q('orla', 'POST', '/cores/%s/retire' % c['id']); is_(w.q('orla', 'PATCH', '/cores/' + c['id'], {'grade': 'poor'}, If_Match='*'), 409, 'wrong_state')
@t('frozen-cores-go', 'if-match-of-deletes-unseen')
def _(w):
    c = w.frozen(); is_(w.q('orla', 'DELETE', '/cores/' + c['id']), 409, 'wrong_state'); d = w.core(); is_(w.q('orla', 'DELETE', '/cores/' + d['id'], If_Match='"no"'), 412, 'melted_tag'); is_(w.q('orla', 'DELETE', '/cores/' + d['id']), 204)
# ---- endpoints
@t('notice-says-minus-thirty', 'notice-asks-for-a-pass')
def _(w): same(is_(w.q(None, 'GET', '/notice'), 200).j, {'vault': 'Firn', 'celsius': -36}); is_(w.raw(w.port, 'GET', '/cold/notice', headers={'Firn-Pass': 'wrong'}), 200)
@t('no-location', 'location-without-base')
def _(w): w.bay(); r = w.q('orla', 'POST', '/cores', w.cbody()); same(r.h.get('location'), '/cold/cores/' + r.j['id'])
@t('deleted-with-200')
def _(w): w.bay('C03'); is_(w.q('orla', 'DELETE', '/bays/C03'), 204)
@t('left-is-the-whole')
def _(w): c = w.cut('sent'); same(is_(w.do(c, 'receive'), 200).j, {'cut': c['id'], 'state': 'received', 'left': 1900})
@t('second-reading-refused', 'second-reading-overwrites', 'found-readings-are-201', 'found-readings-are-told')
def _(w):
    c = w.cut('received'); a = is_(reading(w, c), 201).j; b = is_(reading(w, c, value=9), 200).j; same(a, b); same(len(w.log(kind='reading.in')), 1)
@t('tags-are-weak', 'never-304', 'cores-not-cached', 'cores-cached-in-public')
def _(w):
    c = w.core(); r = w.q('orla', 'GET', '/cores/' + c['id']); e = r.h['etag']; assert e.startswith('"'); same(r.h.get('cache-control'), 'private, max-age=30'); is_(w.q('orla', 'GET', '/cores/' + c['id'], If_None_Match=e), 304)
@t('tag-not-wanted')
def _(w): c = w.core(); is_(w.q('orla', 'PATCH', '/cores/' + c['id'], {'grade': 'poor'}), 428, 'tag_wanted')
@t('weak-tags-match')
def _(w): c = w.core(); e = w.q('orla', 'GET', '/cores/' + c['id']).h['etag']; is_(w.q('orla', 'PATCH', '/cores/' + c['id'], {'grade': 'poor'}, If_Match='W/' + e), 412, 'melted_tag')
@t('tag-blind-to-rest')
def _(w):
    k = w.frozen(); e = w.q('orla', 'GET', '/cores/' + k['id']).h['etag']; w.cut('granted', core=k); r = w.q('orla', 'GET', '/cores/' + k['id'], If_None_Match=e); is_(r, 200); assert r.h['etag'] != e
@t('no-tag-after-update')
def _(w):
    k = w.core(); p = '/cores/' + k['id']; e = w.q('orla', 'GET', p).h['etag']; r = is_(w.q('orla', 'PATCH', p, {'cellar_note': 'rings'}, If_Match=e), 200); assert r.h['etag'] != e; same(w.q('orla', 'GET', p).h['etag'], r.h['etag'])
@t('only-drops-the-id', 'only-shows-whole-place')
def _(w): c = w.core(); same(w.q('orla', 'GET', '/cores/%s?only=grade,place.lat' % c['id']).j, {'id': c['id'], 'grade': 'fair', 'place': {'lat': 46.4}})
@t('only-cellar-note-for-all')
def _(w): c = w.core(); is_(w.q('vesper', 'GET', '/cores/%s?only=cellar_note' % c['id']), 400, 'odd_query'); is_(w.q('orla', 'GET', '/cores/%s?only=cellar_note' % c['id']), 200)
@t('serials-in-any-case', 'lookup-shows-logged')
def _(w):
    c = w.core(); is_(w.q('quill', 'GET', '/cores/serial/' + c['serial']), 404, 'not_here'); same(w.q('orla', 'GET', '/cores/serial/' + c['serial']).j['id'], c['id']); is_(w.q('orla', 'GET', '/cores/serial/' + c['serial'].lower()), 404, 'not_here')
def ids(r): return [x['id'] for x in is_(r, 200).j['ice']]
@t('strange-parameters-pass')
def _(w): is_(w.q('orla', 'GET', '/cores?colour=blue'), 400, 'odd_query')
@t('doubled-parameters-pass')
def _(w): is_(w.q('orla', 'GET', '/cores?fine=true&fine=true'), 400, 'odd_query')
@t('colder-is-strict', 'bays-by-age')
def _(w):
    for c, t_ in (('B02', -20), ('A09', -30), ('C01', -10)): w.q('orla', 'PUT', '/bays/' + c, {'celsius': t_, 'capacity': 1})
    same([x['code'] for x in w.q('quill', 'GET', '/bays?colder=-20').j['ice']], ['A09', 'B02'])
@t('first-state-alone', 'first-tag-alone', 'glacier-minds-case', 'longer-is-strict')
def _(w):
    a = w.core(tags=['x', 'y'], place={'glacier': 'Vatna', 'lat': 64, 'lon': -17}, length_mm=900); b = w.frozen(length_mm=901)
    same(set(ids(w.q('orla', 'GET', '/cores?state=frozen,logged'))), {a['id'], b['id']}); same(ids(w.q('orla', 'GET', '/cores?tag=y')), [a['id']]); same(ids(w.q('orla', 'GET', '/cores?glacier=VATNA')), [a['id']])
    same(ids(w.q('orla', 'GET', '/cores?longer=901')), [b['id']])
@t('not-fine-is-fair-too', 'find-any-word', 'find-overlooks-curator')
def _(w):
    a = w.core(grade='poor', label='blue-one'); b = w.core(label='blue-two'); same(ids(w.q('orla', 'GET', '/cores?fine=false')), [a['id']]); same(ids(w.q('orla', 'GET', '/cores?find=BLUE%20two')), [b['id']]); same(ids(w.q('orla', 'GET', '/cores?find=one+orl')), [a['id']])
@t('cores-tie-oldest', 'way-is-ignored')
def _(w):
    a, b, c = w.core(length_mm=700), w.core(length_mm=800), w.core(length_mm=700)
    same(ids(w.q('orla', 'GET', '/cores?by=size')), [c['id'], a['id'], b['id']]); same(ids(w.q('orla', 'GET', '/cores?by=size&way=desc')), [b['id'], c['id'], a['id']])
@t('urgency-by-equality', 'cuts-only-upward', 'isotope-filter-any')
def _(w):
    k = w.frozen(); a = w.ask(k, urgency=1, length_mm=50); b = w.ask(k, urgency=3, length_mm=60); c = w.cut('received', core=k, urgency=2, length_mm=55); is_(reading(w, c), 201)
    same(ids(w.q('quill', 'GET', '/cuts?urgency=2')), [a['id'], c['id']]); same(ids(w.q('quill', 'GET', '/cuts?sort=-length_mm')), [b['id'], c['id'], a['id']]); same(ids(w.q('quill', 'GET', '/cuts?isotope=ash')), []); same(ids(w.q('quill', 'GET', '/cuts?isotope=dust')), [c['id']])
@t('kind-to-the-letter', 'traces-oldest-first')
def _(w): w.cut('granted'); same([x['kind'] for x in w.log(kind='cut.')], ['cut.decided', 'cut.asked'])
@t('readings-bare')
def _(w): c = w.cut('received'); r = reading(w, c).j; same(w.q('quill', 'GET', '/cuts/%s/readings' % c['id']).j, {'ice': [r]})
@t('merge-patch-refused')
def _(w): c = w.cut(); is_(w.q('quill', 'PATCH', '/cuts/' + c['id'], {'aim': 'ash bands'}, Content_Type='application/merge-patch+json'), 200)
@t('ticket-only-on-success', 'ticket-in-body-differs')
def _(w): r = w.q('orla', 'GET', '/cores/nope'); same(r.h.get('firn-ticket'), r.j['frost']['ticket'])
# ---- authentication
@t('labs-see-logged-cores')
def _(w): c = w.core(); is_(w.q('quill', 'GET', '/cores/' + c['id']), 404, 'not_here'); same(ids(w.q('quill', 'GET', '/cores')), [])
@t('labs-lose-retired-cores', 'retired-cores-are-cut')
def _(w): c = w.frozen(); w.q('orla', 'POST', '/cores/%s/retire' % c['id']); is_(w.ask(c, ok=False), 409, 'not_frozen')
@t('readings-for-all-labs')
def _(w): c = w.cut('received'); r = reading(w, c).j; is_(w.q('ember', 'GET', '/readings/%d' % r['id']), 404, 'not_here')
@t('hooks-for-all-keepers')
def _(w): h = w.hook('orla'); is_(w.q('bran', 'GET', '/hooks/' + h.row['id']), 404, 'not_here')
@t('auditors-see-labs', 'auditors-filter-by-lab')
def _(w):
    c = w.cut(); same(set(w.q('vesper', 'GET', '/cuts/' + c['id']).j), {'id', 'number', 'core', 'length_mm', 'state', 'asked_at'}); is_(w.q('vesper', 'GET', '/cuts?lab=quill'), 400, 'odd_query')
@t('cellar-note-for-auditors')
def _(w): c = w.core(cellar_note='cracked'); assert 'cellar_note' in c; assert 'cellar_note' not in w.q('vesper', 'GET', '/cores/' + c['id']).j
@t('unreadable-is-keep-out', 'lists-show-all-cuts')
def _(w): c = w.cut(); is_(w.q('ember', 'GET', '/cuts/' + c['id']), 404, 'not_here'); same(ids(w.q('ember', 'GET', '/cuts')), [])
@t('passes-in-any-case')
def _(w): is_(w.raw(w.port, 'GET', '/cold/cores', headers={'Firn-Pass': WHO['quill']['credential'].upper()}), 401, 'bad_pass')
@t('second-credential-unseen')
def _(w): is_(w.q('quill', 'GET', '/cuts', Authorization=w.seal('orla', 'GET', '/cold/cuts')), 401, 'bad_pass')
def sealed(w, target, signed=None, dt=0, m='GET', body=None, sbody=b''):
    at = int(w.clock().timestamp()) + dt
    return w.raw(w.port, m, target, body, {'Authorization': w.seal('orla', m, signed or target, sbody, at), 'Content-Type': 'application/json'})
@t('seals-hold-an-hour', 'seals-never-stale', 'stale-seal-is-bad-pass')
def _(w): is_(sealed(w, '/cold/cores', dt=-110), 200); is_(sealed(w, '/cold/cores', dt=-300), 401, 'stale_seal'); is_(sealed(w, '/cold/cores', dt=-7200), 401, 'stale_seal')
@t('seals-from-the-future')
def _(w): is_(sealed(w, '/cold/cores', dt=300), 401)
@t('seal-without-query')
def _(w): is_(sealed(w, '/cold/cores?take=3', signed='/cold/cores'), 401, 'bad_pass')
@t('seal-without-body')
def _(w): w.bay(); b = json.dumps(w.cbody()).encode(); is_(sealed(w, '/cold/cores', m='POST', body=b, sbody=b.replace(b'Alet', b'Elet')), 401, 'bad_pass'); is_(sealed(w, '/cold/cores', m='POST', body=b, sbody=b), 201)
@t('bad-pass-is-no-pass')
def _(w): is_(w.raw(w.port, 'GET', '/cold/cores', headers={'Firn-Pass': 'fp_nobody'}), 401, 'bad_pass'); is_(w.q(None, 'GET', '/cores'), 401, 'no_pass')
@t('no-challenge')
def _(w): assert 'ApiKey realm="Firn"' in w.q(None, 'GET', '/cores').h.get('www-authenticate', '')
@t('scope-forgotten-on-create-cut')
def _(w): is_(w.ask(w.frozen(), 'moss', ok=False), 403, 'out_of_scope')
@t('scope-forgotten-on-retire-core', 'scope-is-keep-out')
def _(w): c = w.frozen(); is_(w.q('bran', 'POST', '/cores/%s/retire' % c['id']), 403, 'out_of_scope')
@t('scope-forgotten-on-delete-cut')
def _(w): c = w.cut('received'); is_(w.q('bran', 'DELETE', '/cuts/' + c['id']), 403, 'out_of_scope')
# ---- events
@t('no-wants-is-none', 'envelope-id-not-event', 'event-time-in-seconds', 'log-has-ids-of-its-own', 'no-kind-header')
def _(w):
    h = w.hook(); c = w.cut(); w.tell(h, 2); hd, b = [(k, json.loads(v)) for k, v in h.got if b'cut.asked' in v][0]; same(b['what'], 'cut.asked'); same(b['about']['id'], c['id']); assert b['when'][-5] == '.'; same(hd.get('firn-kind'), 'cut.asked'); assert b['event'] in [x['id'] for x in w.log(kind='cut.asked')]
@t('mark-without-id', 'mark-in-base64')
def _(w):
    h = w.hook('orla', wants=['cut.*']); w.cut(); w.tell(h, 1); hd, b = h.got[0]; at = hd['firn-mark'].split(',')[0][3:]
    same(hd['firn-mark'].split('mac=')[1], hmac.new(h.row['secret'].encode(), (json.loads(b)['event'] + '.' + at + '.').encode() + b, hashlib.sha256).hexdigest())
@t('star-of-a-family-ignored', 'events-twice')
def _(w): h = w.hook(wants=['cut.*']); w.cut('sent'); same([x['what'] for x in w.tell(h, 3)], ['cut.asked', 'cut.decided', 'cut.moved'])
@t('dead-hooks-are-told')
def _(w): h = w.hook(live=False); w.cut(); w.tell(h, 0)
@t('hooks-hear-of-all-cuts')
def _(w): h = w.hook('ember', wants=['cut.*']); w.cut(); w.tell(h, 0)
@t('hooks-leak-cellar-note')
def _(w):
    h, g = w.hook(), w.hook('orla'); w.frozen(cellar_note='hush'); assert 'cellar_note' in w.tell(g, 1)[0]['about']; assert 'cellar_note' not in w.tell(h, 1)[0]['about']
@t('log-holds-cellar-note')
def _(w): w.frozen(cellar_note='hush'); assert 'cellar_note' not in w.log(kind='core.shelved')[0]['body']
@t('log-shows-labs', 'log-subject-is-core', 'asking-is-silent')
def _(w): c = w.cut(); x = w.log(kind='cut.asked')[0]; same(x['subject'], c['id']); assert 'lab' not in x['body'] and 'firm' not in x['body'] and x['body']['number'] == 1
@t('log-kept-for-ever')
def _(w): w.cut(); w.go('P6DT23H59M'); assert len(w.log()) == 2; w.go('PT2M'); same(w.log(), [])
@t('clock-events-not-logged', 'due-an-hour-early')
def _(w):
    w.cut(needed_by=w.at(days=3)); w.go('P1DT23H30M'); same(w.log(kind='cut.due'), []); w.go('PT31M'); same(len(w.log(kind='cut.due')), 1); w.go('P1D'); same(w.log(kind='cut.dropped')[0]['body']['why'], 'lapsed')
@t('regraded-at-every-change', 'regraded-tells-new-twice')
def _(w):
    c = w.core(); p = '/cores/' + c['id']; w.q('orla', 'PATCH', p, {'tags': ['q']}, If_Match='*'); w.q('orla', 'PATCH', p, {'grade': 'prime'}, If_Match='*'); same([x['body'] for x in w.log(kind='core.regraded')], [{'core': c['id'], 'was': 'fair', 'is': 'prime'}])
@t('lost-tells-old-state')
def _(w): c = w.frozen(); w.q('orla', 'POST', '/cores/%s/retire' % c['id']); same(w.log(kind='core.lost')[0]['body'], {'core': c['id'], 'serial': c['serial'], 'how': 'retired'})
@t('one-retry-less', 'one-retry-more', 'retries-all-after-ten-seconds', 'mark-time-of-first-try')
def _(w):
    h = w.hook(wants=['cut.asked']); h.status = 500; w.cut(); w.tell(h, 1); w.go('PT13S'); w.tell(h, 2); now = w.clock().timestamp()
    assert abs(int(h.got[1][0]['firn-mark'].split(',')[0][3:]) - now) <= 5, h.got[1][0]
    w.go('PT30S'); w.tell(h, 2); w.go('PT2M'); w.tell(h, 3); w.go('PT5M'); w.tell(h, 3); w.go('PT25M'); w.tell(h, 4); w.go('PT10H'); w.tell(h, 4); same(len(set(x['event'] for x in h.bodies())), 1)
@t('deliveries-out-of-order')
def _(w):
    k = w.frozen(); h = w.hook(wants=['cut.*']); h.status = 500; c = w.ask(k); w.tell(h, 1); w.do(c, 'grant'); w.tell(h, 1); h.status = 200; w.go('PT15S'); same([x['what'] for x in w.tell(h, 3)], ['cut.asked', 'cut.asked', 'cut.decided'])
@t('redirect-is-success')
def _(w): h = w.hook(wants=['cut.*']); h.status = 302; h.extra = {'Location': h.url}; w.cut(); w.tell(h, 1); w.go('PT15S'); w.tell(h, 2)
@t('gone-hooks-stay-live')
def _(w): h = w.hook(wants=['cut.*']); h.status = 410; w.cut(); w.tell(h, 1); same(w.q('quill', 'GET', '/hooks/' + h.row['id']).j['live'], False)
@t('never-disabled')
def _(w):
    k = w.frozen(); h = w.hook(wants=['cut.*']); h.status = 500; w.ask(k); w.tell(h, 1); w.go('PT3H'); same(w.q('quill', 'GET', '/hooks/' + h.row['id']).j['live'], True); w.go('P1D'); w.ask(k); time.sleep(.3); same(w.q('quill', 'GET', '/hooks/' + h.row['id']).j['live'], False)
@t('retry-after-of-hooks-ignored')
def _(w): h = w.hook(wants=['cut.*']); h.status = 503; h.extra = {'Retry-After': '600'}; w.cut(); w.tell(h, 1); w.go('PT1M'); w.tell(h, 1); w.go('PT10M'); w.tell(h, 2)
# ---- errors
@t('violations-as-pointers', 'cracks-forgotten', 'only-first-violation')
def _(w): w.core(); r = is_(w.q('orla', 'POST', '/cores', w.cbody(length_mm=1, place={'glacier': 'x', 'lat': 1, 'lon': 1})), 422, 'unfit'); same({x['path'] for x in r.j['frost']['cracks']}, {'place.glacier', 'length_mm'})
@t('missing-names-the-code')
def _(w): w.core(); r = w.q('orla', 'POST', '/cores', w.cbody(drilled_on=None, length_mm=1)); is_(r, 422, 'unfit')
@t('stray-field-is-unfit', 'lacking-message-shows-value')
def _(w): core_no(w, 422, 'stray', blue=1); r = is_(w.q('orla', 'POST', '/cores', w.cbody(bay=None)), 422, 'lacking'); same(r.j['frost']['says'], 'bay is lacking')
@t('error-without-frost', 'http-is-always-400', 'no-frost-header', 'cracks-empty-list')
def _(w): r = w.q('orla', 'GET', '/cores/nope'); same(r.j['frost']['http'], 404); same(r.h.get('firn-frost'), 'not_here'); assert 'cracks' not in r.j['frost']
@t('used-up-is-429', 'four-hooks')
def _(w):
    for i in range(3): is_(w.q('quill', 'POST', '/hooks', {'target': 'http://127.0.0.1:9/x'}), 201)
    is_(w.q('quill', 'POST', '/hooks', {'target': 'http://127.0.0.1:9/x'}), 402, 'used_up')
@t('dangling-is-404')
def _(w): core_no(w, 422, 'dangling', bay='Q11')
@t('time-past-is-409', 'needed-yesterday')
def _(w): is_(w.ask(w.frozen(), ok=False, needed_by='2020-01-01T00:00:00Z'), 422, 'time_past')
@t('time-past-told-first')
def _(w): is_(w.ask(w.frozen(length_mm=100), ok=False, length_mm=200, needed_by='2020-01-01T00:00:00Z'), 409, 'too_little_ice')
@t('time-past-on-update')
def _(w): c = w.cut(); is_(w.q('quill', 'PATCH', '/cuts/' + c['id'], {'needed_by': '2020-01-01T00:00:00Z'}), 422, 'time_past')
@t('bay-full-says-nothing', 'bay-holds-one-more')
def _(w):
    w.bay('F01', 1); w.frozen(bay='F01'); c = w.core(bay='F01'); r = is_(w.q('orla', 'POST', '/cores/%s/shelve' % c['id']), 409, 'bay_full'); same(r.j['frost']['says'], 'The bay has no room.')
@t('cores-shrink')
def _(w):
    k = w.frozen(); w.cut('granted', core=k); is_(w.q('orla', 'PATCH', '/cores/' + k['id'], {'length_mm': 1999}, If_Match='*'), 409, 'no_shrinking')
@t('whole-rest-refused')
def _(w): w.ask(w.frozen(length_mm=300), length_mm=300)
@t('asked-may-grow')
def _(w): c = w.cut(core=w.frozen(length_mm=300)); is_(w.q('quill', 'PATCH', '/cuts/' + c['id'], {'length_mm': 301}), 409, 'too_little_ice')
@t('grants-more-than-there-is')
def _(w):
    k = w.frozen(length_mm=300); a, b = w.ask(k, length_mm=200), w.ask(k, length_mm=200); is_(w.do(a, 'grant'), 200); is_(w.do(b, 'grant'), 409, 'ice_gone')
@t('readings-before-receipt')
def _(w): c = w.cut('sent'); is_(reading(w, c), 409, 'not_in_hand')
@t('cores-go-with-cuts', 'bays-go-with-cores')
def _(w):
    k = w.frozen(); w.cut('sawn', core=k); w.q('orla', 'POST', '/cores/%s/retire' % k['id']); is_(w.q('orla', 'DELETE', '/cores/' + k['id']), 409, 'still_held'); is_(w.q('orla', 'DELETE', '/bays/A01'), 409, 'still_held')
@t('request-before-state')
def _(w): c = w.cut('granted'); is_(w.q('quill', 'PATCH', '/cuts/' + c['id'], {'length_mm': 1}), 409, 'wrong_state')
@t('parameters-before-body')
def _(w): is_(w.q('orla', 'POST', '/cores?x=1', b'{', Content_Type='application/json'), 400, 'garbled')
@t('any-media')
def _(w): c = w.cut(); is_(w.q('quill', 'PATCH', '/cuts/' + c['id'], b'{"aim":"other"}', Content_Type='text/plain'), 415, 'not_json')
@t('garbled-is-cracked', 'no-body-is-lacking')
def _(w): is_(w.q('orla', 'POST', '/cores', b'{"bay":', Content_Type='application/json'), 400, 'garbled'); is_(w.q('orla', 'POST', '/cores'), 400, 'garbled')
@t('wrong-tool-without-allow')
def _(w): r = is_(w.q('orla', 'PATCH', '/bays/A01', {}), 405, 'wrong_tool'); assert 'PUT' in r.h['allow']
@t('refused-without-reason')
def _(w): c = w.cut(); is_(w.do(c, 'refuse', body={'reason': 'no'}), 422, 'unfit')
# ---- limits
@t('rate-one-more', 'left-is-off-by-one', 'no-retry-after')
def _(w):
    for i in range(150):
        r = w.q('quill', 'GET', '/hooks'); is_(r, 200); same(r.h['firn-left'], str(149 - i))
    r = is_(w.q('quill', 'GET', '/hooks'), 429, 'too_fast'); assert 0 < int(r.h['retry-after']) <= 60
    is_(w.q('ember', 'GET', '/hooks'), 200); w.go('PT1M'); is_(w.q('quill', 'GET', '/hooks'), 200)
@t('rate-shared-by-all')
def _(w): w.q('quill', 'GET', '/hooks'); same(w.q('ember', 'GET', '/hooks').h['firn-left'], '149')
@t('reset-in-seconds')
def _(w): r = w.q('quill', 'GET', '/hooks'); assert 0 < int(r.h['firn-reset']) - w.clock().timestamp() <= 62
@t('rates-before-user')
def _(w): same(w.q('quill', 'GET', '/traces').h.get('firn-left'), None); same(w.q('quill', 'GET', '/hooks').h['firn-left'], '149')
@t('cut-window-of-ten-seconds', 'unfit-asks-count', 'rate-tells-the-laxest')
def _(w):
    k = w.frozen(); r = w.ask(k, ok=False, length_mm=1); is_(r, 422); same((r.h['firn-rate'], r.h['firn-left']), ('8', '8'))
    for i in range(8): is_(w.ask(k, ok=False, length_mm=1500, top_mm=0) if i else w.ask(k, ok=False), 201 if i < 5 else 402)
    w.go('PT20S'); is_(w.ask(k, ok=False), 429, 'too_fast')
@t('bucket-holds-twenty', 'traces-cost-one')
def _(w):
    for i in range(14): is_(w.q('vesper' if i % 2 else 'lumen', 'GET', '/traces'), 200)
    same(w.q('vesper', 'GET', '/bays').h['firn-left'], '1'); is_(w.q('vesper', 'GET', '/traces'), 429, 'too_fast'); w.go('PT3S'); is_(w.q('vesper', 'GET', '/traces'), 200)
def quota(w, k, who, n):
    for i in range(n):
        c = w.ask(k, who); is_(w.do(c, 'withdraw', who), 200)
        if i % 6 == 5: w.go('PT61S')
@t('no-quota', 'quota-per-lab', 'quota-per-month')
def _(w):
    n = w.clock(); w.clock(now=(n + timedelta(days=1)).strftime('%Y-%m-%dT02:00:00Z')) if n.hour > 20 or n.day > 20 else None
    n = w.clock()
    if n.day > 20: w.clock(now='%04d-%02d-03T02:00:00Z' % (n.year + n.month // 12, n.month % 12 + 1))
    k = w.frozen(); quota(w, k, 'quill', 6); quota(w, k, 'tarn', 6); r = is_(w.ask(k, 'tarn', ok=False), 402, 'used_up'); assert int(r.h['retry-after']) > 0; w.ask(k, 'ember'); w.go('P1D'); w.ask(k, 'tarn')
@t('six-open-cuts', 'granted-not-counted')
def _(w):
    k = w.frozen(); c = [w.ask(k) for _ in range(5)]; is_(w.do(c[0], 'grant'), 200); is_(w.ask(k, ok=False), 402, 'used_up'); is_(w.do(c[0], 'saw'), 200); w.ask(k)
@t('url-without-end')
def _(w): is_(w.q('orla', 'GET', '/cores?find=' + 'a' * 1100), 414, 'long_way')
@t('top-heavy-is-too-big')
def _(w): is_(w.q('orla', 'GET', '/cores', X_Big='a' * 7000), 431, 'top_heavy')
@t('body-of-eight-kib')
def _(w): c = w.cut(); is_(w.q('quill', 'PATCH', '/cuts/' + c['id'], {'aim': 'x' * 5000}), 413, 'too_big')
@t('take-zero-passes', 'bad-skip-is-odd-query')
def _(w): is_(w.q('orla', 'GET', '/cores?take=0'), 400, 'bad_leaf'); is_(w.q('orla', 'GET', '/cores?skip=-1'), 400, 'bad_leaf')
@t('bays-clamp', 'bays-ten-a-page', 'leaves-from-zero')
def _(w):
    for i in range(7): w.bay('A%02d' % i)
    is_(w.q('quill', 'GET', '/bays?take=21'), 400, 'bad_leaf'); r = w.q('quill', 'GET', '/bays').j; same((len(r['ice']), r['of'], r['more']), (5, 7, True)); same([x['code'] for x in w.q('quill', 'GET', '/bays?leaf=2').j['ice']], ['A05', 'A06'])
@t('take-without-end')
def _(w):
    for _ in range(42): w.core()
    same(len(w.q('orla', 'GET', '/cores?take=90').j['ice']), 40)
@t('more-at-the-end', 'of-counts-the-page', 'of-counts-unseen')
def _(w):
    w.frozen(); w.frozen(); w.frozen(); w.core(); r = w.q('quill', 'GET', '/cores?take=2').j; same((r['of'], r['more']), (3, True)); r = w.q('quill', 'GET', '/cores?take=2&skip=1').j; same((len(r['ice']), r['of'], r['more']), (2, 3, False))
@t('pages-overlap', 'cursors-of-any-query')
def _(w):
    w.cut('sent'); r = w.q('vesper', 'GET', '/traces?take=3').j; s = w.q('vesper', 'GET', '/traces?take=3&from=' + r['onward']).j; same(s['onward'], None); same([x['kind'] for x in r['ice'] + s['ice']], ['cut.moved', 'cut.decided', 'cut.asked', 'core.shelved'])
    is_(w.q('vesper', 'GET', '/traces?kind=cut&from=' + r['onward']), 400, 'bad_leaf')
@t('once-is-optional')
def _(w): k = w.frozen(); is_(w.q('quill', 'POST', '/cores/%s/cuts' % k['id'], {'top_mm': 0, 'length_mm': 100, 'aim': 'dust'}), 400, 'odd_query')
@t('once-is-ignored', 'once-kept-an-hour')
def _(w): k = w.frozen(); a = w.ask(k, once='k'); w.go('PT11H'); b = w.ask(k, once='k'); same(a['id'], b['id']); w.go('PT2H'); assert w.ask(k, once='k')['id'] != a['id']
@t('once-shared-by-callers')
def _(w): k = w.frozen(); a = w.ask(k, once='k'); assert w.ask(k, 'ember', once='k')['id'] != a['id']
@t('worn-key-replays')
def _(w): k = w.frozen(); w.ask(k, once='k'); is_(w.ask(k, ok=False, once='k', length_mm=101), 409, 'key_worn')
@t('own-errors-not-kept')
def _(w):
    k = w.frozen(length_mm=200); a = w.ask(k, length_mm=200); w.do(a, 'grant'); is_(w.ask(k, ok=False, once='z'), 409, 'too_little_ice'); w.do(a, 'withdraw'); is_(w.ask(k, ok=False, once='z'), 409, 'too_little_ice')
# ---- versioning
OLD = '2025-02'
@t('old-core-keeps-length-mm', 'old-core-shows-tags', 'old-grade-not-renamed', 'old-core-without-crate')
def _(w):
    c = w.core(grade='prime', tags=['a']); r = w.q('orla', 'GET', '/cores/' + c['id'], ed=OLD).j; same((r['length'], r['grade'], r['crate'], 'tags' in r, 'length_mm' in r), (2000, 'clear', 'unboxed', False, False))
@t('old-cut-in-centimetres', 'old-length-truncated')
def _(w):
    k = w.frozen(); c = w.ask(k, ed=OLD, length_mm=None, length_m=0.57); same(c['length_m'], 0.57); same(w.q('quill', 'GET', '/cuts/' + c['id']).j['length_mm'], 570)
    d = w.ask(k, ed=OLD, length_mm=None, length_m=0.3006); same(w.q('quill', 'GET', '/cuts/' + d['id']).j['length_mm'], 301)
@t('old-children-keep-sigma', 'old-replace-drops-sigma')
def _(w):
    c = w.cut('received'); r = reading(w, c, sigma=2).j; assert 'sigma' not in w.q('quill', 'GET', '/cuts/' + c['id'], ed=OLD).j['readings'][0]
    is_(w.q('quill', 'PUT', '/readings/%d' % r['id'], {'isotope': 'dust', 'value': 7}, ed=OLD), 200); same(w.q('quill', 'GET', '/readings/%d' % r['id']).j['sigma'], 2)
@t('old-sort-by-new-name')
def _(w): is_(w.q('quill', 'GET', '/cuts?sort=length_m', ed=OLD), 200); is_(w.q('quill', 'GET', '/cuts?sort=length_mm', ed=OLD), 400, 'odd_query')
@t('hooks-told-in-current')
def _(w): h = w.hook(ed=OLD, wants=['cut.asked']); w.cut(); same(w.tell(h, 1)[0]['about'].get('length_m'), 0.1)
@t('unknown-edition-is-current')
def _(w): is_(w.q('quill', 'GET', '/cores', ed='2024-01'), 400, 'strange_edition')
@t('default-is-oldest', 'no-edition-header')
def _(w): same(w.q('quill', 'GET', '/cores').h.get('firn-edition'), '2026-09')
@t('vary-forgets-edition')
def _(w): assert 'Firn-Edition' in w.q('quill', 'GET', '/cores').h.get('vary', '')
@t('sunset-never-comes')
def _(w): is_(w.q('quill', 'GET', '/cores', ed=OLD), 200); w.clock(now='2028-03-01T00:00:01Z'); is_(w.q('quill', 'GET', '/cores', ed=OLD), 410, 'old_edition'); is_(w.q('quill', 'GET', '/cores'), 200)
@t('serials-in-the-old-edition')
def _(w): c = w.core(); is_(w.q('orla', 'GET', '/cores/serial/' + c['serial'], ed=OLD), 404, 'no_trail')
@t('no-deprecation', 'sunset-a-year-early', 'no-link-to-moving')
def _(w):
    h = w.q('quill', 'GET', '/cores', ed=OLD).h; same(h.get('deprecation'), '@1789430400'); same(h.get('sunset'), 'Wed, 01 Mar 2028 00:00:00 GMT'); assert 'https://vault.firn.example/moving' in h['link']; assert 'deprecation' not in w.q('quill', 'GET', '/cores').h


def run(fn, fault):
    w = W(fault)
    try: fn(w); return None
    except Exception as e: return '%s: %s' % (type(e).__name__, str(e)[:300])
    finally: w.close()


def main():
    want = [f['id'] for f in S['faults']]
    if len(sys.argv) > 1: want = sys.argv[1:]
    bad = []
    try:
        shutil.copy(os.path.join(HERE, 'service.java'), TMP)
        subprocess.run(['javac', '-nowarn', '-d', TMP, os.path.join(TMP, 'service.java')], check=True)
        right = {}
        for i in want: right.setdefault(C[i], i) if i in C else bad.append((i, 'no check'))
        with ThreadPoolExecutor(3) as ex:
            for (fn, i), r in zip(right.items(), ex.map(lambda fn: run(fn, None), right)):
                if r: bad.append((i, 'the right service fails: ' + r))
            for i, r in zip([i for i in want if i in C], ex.map(lambda i: run(C[i], i), [i for i in want if i in C])):
                if not r: bad.append((i, 'not noticed'))
    finally: shutil.rmtree(TMP)
    for b in bad: print(*b)
    print('%d faults, %d checks, %d wrong' % (len(want), len(right), len(bad)))
    sys.exit(1 if bad else 0)


if __name__ == '__main__': main()
