"""For every fault: the right service does right, the faulty one wrong. Usage: python3 faults-test.py [ID...]"""
import base64, concurrent.futures, datetime, hashlib, hmac, http.client, http.server, json, os, socket, subprocess, sys, threading, time
HERE = os.path.dirname(os.path.abspath(__file__))
SPEC = json.load(open(os.path.join(HERE, 'stranger.json')))
WHO = {c['id']: c for c in SPEC['callers']}
NODE = os.path.join(HERE, '..', 'tool', 'run', 'node_modules', 'node', 'bin', 'node')
if not os.path.exists(NODE): NODE = 'node'
NIL = object()

def free():
    s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; s.close(); return p

class R:
    def __init__(self, st, h, raw):
        self.st, self.h, self.raw = st, h, raw
        try: self.j = json.loads(raw) if raw else None
        except ValueError: self.j = None
    @property
    def name(self): return ((self.j or {}).get('refused') or {}).get('name')

class Ear:
    """A receiver of events; `plan` are the answers, one after the other, then 204."""
    def __init__(self, plan=(), headers={}):
        self.got, self.plan = [], list(plan); ear = self
        class H(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get('content-length', 0)))
                ear.got.append(({k.lower(): v for k, v in self.headers.items()}, json.loads(raw), raw))
                st = ear.plan.pop(0) if ear.plan else 204
                self.send_response(st)
                for k, v in headers.items() if st >= 300 else (): self.send_header(k, v)
                self.send_header('content-length', '0'); self.end_headers()
            def log_message(self, *a): pass
        self.srv = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H); self.srv.daemon_threads = True
        self.url = 'http://127.0.0.1:%d/ear' % self.srv.server_address[1]
        threading.Thread(target=self.srv.serve_forever, kwargs={'poll_interval': 0.05}, daemon=True).start()
    def wait(self, n=1, t=1.5):
        end = time.time() + t
        while len(self.got) < n and time.time() < end: time.sleep(0.015)
        return len(self.got) >= n
    def quiet(self): time.sleep(0.3); return self
    def kinds(self): return [g[1].get('what') for g in self.got]

class S:
    def __init__(self, fault=None):
        self.port, self.cport, self.base, self.ears, self.n = free(), free(), '/exchange', [], 0
        cmd = [NODE, os.path.join(HERE, 'service.mjs'), '--port', str(self.port), '--clock-port', str(self.cport)] + (['--fault', fault] if fault else [])
        self.p = subprocess.Popen(cmd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(400):
            try: socket.create_connection(('127.0.0.1', self.port), 1).close(); socket.create_connection(('127.0.0.1', self.cport), 1).close(); break
            except OSError: time.sleep(0.02)
    def end(self):
        self.p.kill(); self.p.wait()
        for e in self.ears: e.srv.shutdown(); e.srv.server_close()
    def raw(self, m, path, body=None, h={}, port=None):
        c = http.client.HTTPConnection('127.0.0.1', port or self.port, timeout=15)
        try:
            c.putrequest(m, path, skip_accept_encoding=True)
            for k, v in h.items(): c.putheader(k, v)
            if body is not None: c.putheader('Content-Length', str(len(body)))
            c.endheaders(body); r = c.getresponse(); hs = {}
            for k, v in r.getheaders(): hs[k.lower()] = hs[k.lower()] + ', ' + v if k.lower() in hs else v
            return R(r.status, hs, r.read())
        finally: c.close()
    def now(self): return self.raw('GET', '/', port=self.cport).j['now']
    def t(self): return datetime.datetime.fromisoformat(self.now().replace('Z', '+00:00'))
    def adv(self, d): assert self.raw('POST', '/', json.dumps({'advance': d}).encode(), {'Content-Type': 'application/json'}, self.cport).st == 200
    def to_time(self, d): assert self.raw('POST', '/', json.dumps({'now': d}).encode(), {'Content-Type': 'application/json'}, self.cport).st == 200
    def creds(self, who, m, target, raw, at=None):
        if not who: return {}
        c = WHO[who]
        if c['scheme'] == 'seed': return {'Authorization': 'Seed ' + c['credential']}
        kid, sec = c['credential'].split(':')
        ts = str(at if at is not None else int(self.t().timestamp()))
        msg = '%s %s\n%s\n%s' % (m, target, ts, hashlib.sha256(raw or b'').hexdigest())
        return {'X-Seal-Key': kid, 'X-Seal': ts + '.' + hmac.new(sec.encode(), msg.encode(), hashlib.sha256).hexdigest()}
    def r(self, who, m, path, body=NIL, h={}, at=None):
        raw = None if body is NIL else body if isinstance(body, bytes) else json.dumps(body).encode()
        target = self.base + path
        hs = dict(self.creds(who, m, target, raw, at))
        if raw is not None: hs['Content-Type'] = 'application/json'
        hs.update(h)
        return self.raw(m, target, raw, {k: v for k, v in hs.items() if v is not None})
    # what tests begin with
    def var(self, slug='ruby', h={}, who='fay', **kw):
        return self.r(who, 'POST', '/varieties', {'slug': slug, 'name': 'Name of ' + slug, 'kind': 'legume', 'sow_months': [3, 4], **kw}, h)
    def lot(self, who='ada', h={}, **kw):
        if not getattr(self, 'has', 0): self.has = 1; self.var()
        b = {'variety': 'ruby', 'grams': 100, 'harvested': '2025-09-01', 'gift': True}; b.update(kw)
        return self.r(who, 'POST', '/lots', {k: v for k, v in b.items() if v is not None}, h)
    def testing(self, who='ada', **kw):
        i = self.lot(who, **kw).j['id']; self.do(who, 'lots', i, 'submit'); return i
    def offered(self, who='ada', percent=80, **kw):
        i = self.testing(who, **kw); self.do('fay', 'lots', i, 'pass', {'percent': percent, 'note': 'dry seed'}); return i
    def do(self, who, what, i, act, body=NIL, h={}): return self.r(who, 'POST', '/%s/%s/%s' % (what, i, act), body, h)
    def ask(self, lot, who='bo', grams=10, h={}, **kw): return self.r(who, 'POST', '/lots/%s/swaps' % lot, {'grams': grams, **kw}, h)
    def get(self, path, who='fay', h={}): return self.r(who, 'GET', path, h=h)
    def swap(self, upto='pending', lot=None, who='bo', grams=10, giver='ada'):
        lot = lot or self.offered(giver); i = self.ask(lot, who, grams).j['id']
        for w, a, b in ((giver, 'agree', NIL), (giver, 'ship', {'parcel': 'AB12x'}), (who, 'receive', NIL)):
            if upto == {'agree': 'pending', 'ship': 'agreed', 'receive': 'shipped'}[a]: break
            self.do(w, 'swaps', i, a, b)
        return i
    def sow(self, swap=None, who='bo', sown=8, sprouted=7, h={}): return self.r(who, 'POST', '/swaps/%s/sowings' % (swap or self.swap('received')), {'sown': sown, 'sprouted': sprouted}, h)
    def ear(self, who='ada', plan=(), headers={}, h={}, **kw):
        e = Ear(plan, headers); self.ears.append(e)
        r = self.r(who, 'POST', '/beacons', {'url': e.url, **kw}, h); e.made = r.j; e.id = (r.j or {}).get('id'); return e
    def tag(self, lot, who='ada'): return self.get('/lots/' + lot, who).h.get('etag', '')
    def patch(self, lot, body, who='ada', h={}): return self.r(who, 'PATCH', '/lots/' + lot, body, {'If-Match': self.tag(lot, who), **h})
    def ids(self, path, who='fay', k='id', of='rows', h={}): return [x.get(k) for x in self.get(path, who, h).j[of]]
    def status(self, lot, who='fay'): return self.get('/lots/' + lot, who).j['status']
    def sstatus(self, i, who='fay'): return self.get('/swaps/' + i, who).j['status']
    def put(self, body, slug='ruby', who='fay', h={}): return self.r(who, 'PUT', '/varieties/' + slug, {'name': 'Name of ' + slug, 'kind': 'legume', 'sow_months': [3], **body}, h)
    def kinds(self, who='fay', q=''): return self.ids('/entries?take=100' + q, who, 'kind', 'entries')

T = {}
def t(name):
    def put(f): T[name] = f; return f
    return put
SP = {'Edition': 'spring'}

T['base-elsewhere'] = lambda s: s.get('/varieties', None).st == 200
T['no-location-base'] = lambda s: (lambda r: r.h['location'] == '/exchange/lots/' + r.j['id'])(s.lot())
T['judging-unserved'] = lambda s: s.do('fay', 'sowings', s.sow().j['sowing']['id'], 'judge', {'verdict': 'sound'}).st == 200
T['inspectors-unknown'] = lambda s: s.get('/lots', 'gus').st == 200
@t('relisting-forbidden')
def _(s): i = s.offered(); s.adv('P61D'); return s.do('ada', 'lots', i, 'relist').st == 200

T['keeps-default-365'] = lambda s: s.var().j['keeps_days'] == 730
T['name-sixty-one'] = lambda s: s.var(name='n' * 60).st == 201 and s.var('opal', name='m' * 61).name == 'unfit'
T['name-case-counts'] = lambda s: s.var(name='Ruby Red').st == 201 and s.var('opal', name='RUBY red').name == 'taken'
T['put-takes-name'] = lambda s: s.var().st == 201 and s.var('opal').st == 201 and s.put({'name': 'Name of opal'}).name == 'taken'
T['country-any-two-letters'] = lambda s: s.var(origin={'country': 'IT'}).st == 201 and s.var('opal', origin={'country': 'QX'}).st == 422
T['origin-since-2200'] = lambda s: s.var(origin={'country': 'IT', 'since': 2100}).st == 201 and s.var('opal', origin={'country': 'IT', 'since': 2101}).st == 422
T['nested-unknown-taken'] = lambda s: s.var(origin={'country': 'IT', 'valley': 'x'}).name == 'strange_field'
T['month-zero'] = lambda s: s.var(sow_months=[0]).st == 422
T['no-months-taken'] = lambda s: s.var(sow_months=[]).st == 422
T['traits-unbounded'] = lambda s: s.var(traits={'k%d' % i: 'v' for i in range(8)}).st == 201 and s.var('opal', traits={'k%d' % i: 'v' for i in range(9)}).st == 422
@t('offers-count-testing')
def _(s): s.testing(); s.offered(); return s.get('/varieties/ruby').j['offers'] == 1
T['slug-changes'] = lambda s: s.var().st == 201 and s.put({'slug': 'opal'}).name == 'unfit'
T['put-new-registrar'] = lambda s: s.var().st == 201 and s.put({'kind': 'cereal'}, who='eve').j['registrar'] == 'fay'
T['variety-uprooted'] = lambda s: s.lot().st == 201 and s.r('fay', 'DELETE', '/varieties/ruby').name == 'rooted'
T['grams-as-text'] = lambda s: s.lot(grams='100').name == 'unfit'
T['date-february-thirtieth'] = lambda s: s.lot(harvested='2025-02-30').name == 'unfit'
T['tag-upper-case'] = lambda s: s.lot(tags=['Blue']).name == 'unfit'
T['six-tags'] = lambda s: s.lot(tags=['ta', 'tb', 'tc', 'td', 'te']).st == 201 and s.lot(tags=['ta', 'tb', 'tc', 'td', 'te', 'tf']).name == 'unfit'
T['tags-twice'] = lambda s: s.lot(tags=['ta', 'ta']).name == 'unfit'
@t('left-forgets-received')
def _(s): i = s.offered(); s.swap('received', i); return s.get('/lots/' + i).j['grams_left'] == 90
@t('left-counts-pending')
def _(s): i = s.offered(); s.swap('pending', i); return s.get('/lots/' + i).j['grams_left'] == 100
T['number-per-grower'] = lambda s: [s.lot().j['number'], s.lot('bo').j['number']] == ['L-0001', 'L-0002']
@t('note-shown-to-owner')
def _(s): i = s.offered(); return 'keeper_note' not in s.get('/lots/' + i, 'ada').j and s.get('/lots/' + i).j['keeper_note'] == 'dry seed'
T['grower-writes-note'] = lambda s: 'keeper_note' not in s.get('/lots/' + s.lot(keeper_note='mine').j['id']).j
@t('changed-at-stale')
def _(s): l = s.lot().j; s.adv('PT5S'); return s.patch(l['id'], {'grams': 90}).j['changed_at'] > l['changed_at']
T['region-north-always'] = lambda s: s.lot('bo').j['region'] == 'south'
T['gift-and-wants'] = lambda s: s.lot(wants='beans').st == 422 and s.lot(gift=None).st == 422
@t('kept-nine-days')
def _(s):
    i = s.lot().j['id']; s.r('ada', 'DELETE', '/lots/' + i); s.adv('P9DT12H'); a = s.get('/lots/' + i, 'ada').st; s.adv('P1D'); return (a, s.get('/lots/' + i, 'ada').st) == (410, 404)
@t('swaps-outlive-lot')
def _(s): i = s.offered(); w = s.ask(i).j['id']; s.do('ada', 'lots', i, 'withdraw'); s.r('ada', 'DELETE', '/lots/' + i); return s.get('/swaps/' + w).st == 404
T['pickup-code-shown'] = lambda s: s.lot(pickup={'city': 'Ulm', 'code': '1234'}).j['pickup'] == {'city': 'Ulm'}
@t('patch-replaces-nested')
def _(s): i = s.lot(pickup={'city': 'Ulm', 'hint': 'gate'}).j['id']; return s.patch(i, {'pickup': {'city': 'Bonn'}}).j['pickup'] == {'city': 'Bonn', 'hint': 'gate'}
@t('variety-of-lot-changes')
def _(s): i = s.lot().j['id']; s.var('opal'); return s.patch(i, {'variety': 'opal'}).name == 'unfit'
T['null-clears-required'] = lambda s: s.patch(s.lot().j['id'], {'grams': None}).name == 'unfit'
T['swap-501-grams'] = lambda s: (lambda i: s.ask(i, grams=501).st == 422)(s.offered(grams=900))
@t('turn-over-all')
def _(s): a, b = s.offered(), s.offered(); return [s.ask(a).j['turn'], s.ask(a, 'dee').j['turn'], s.ask(b).j['turn']] == [1, 2, 1]
@t('again-after-agreed')
def _(s): i = s.offered(); s.swap('agreed', i); return s.ask(i).name == 'asked_already'
@t('never-again')
def _(s): i = s.offered(); w = s.swap('pending', i); s.do('ada', 'swaps', w, 'decline'); return s.ask(i).st == 201
@t('ship-by-four-days')
def _(s): r = s.do('ada', 'swaps', s.swap(), 'agree').j; return datetime.timedelta(days=4, hours=12) < datetime.datetime.fromisoformat(r['ship_by'].replace('Z', '+00:00')) - s.t() < datetime.timedelta(days=5, hours=1)
T['decline-no-close'] = lambda s: 'closed_at' in s.do('ada', 'swaps', s.swap(), 'decline').j
T['parcel-lower-case'] = lambda s: s.do('ada', 'swaps', s.swap('agreed'), 'ship', {'parcel': 'QX77'}).j['parcel'] == 'QX77'
@t('closed-at-asked')
def _(s): r = s.get('/swaps/' + s.swap('received')).j; return r['closed_at'] >= r['asked_at']
T['percent-rounded'] = lambda s: s.sow(sown=3, sprouted=2).j['sowing']['percent'] == 66
@t('two-sowings')
def _(s): w = s.swap('received'); return s.sow(w).st == 201 and s.sow(w).name == 'taken'
T['more-sprouted'] = lambda s: s.sow(sown=3, sprouted=4).name == 'unfit'
T['judge-is-sower'] = lambda s: s.do('eve', 'sowings', s.sow().j['sowing']['id'], 'judge', {'verdict': 'sound'}).j['judge'] == 'eve'
@t('secret-shown-again')
def _(s): e = s.ear(); return e.made['secret'].startswith('fur_') and 'secret' not in s.get('/beacons/' + e.id, 'ada').j
T['beacon-starts-dark'] = lambda s: s.ear().made['lit'] is True

@t('submit-from-rejected')
def _(s): i = s.offered(percent=10); return s.status(i) == 'rejected' and s.do('ada', 'lots', i, 'submit').name == 'wrong_season'
T['pass-from-draft'] = lambda s: s.do('fay', 'lots', s.lot().j['id'], 'pass', {'percent': 90, 'note': ''}).name == 'wrong_season'
T['pass-needs-more-than-60'] = lambda s: s.status(s.offered(percent=60)) == 'offered' and s.status(s.offered(percent=59)) == 'rejected'
@t('withdraw-lapsed')
def _(s): i = s.offered(); s.adv('P61D'); return s.do('ada', 'lots', i, 'withdraw').name == 'lot_over'
@t('withdraw-leaves-pending')
def _(s): i = s.offered(); w = s.ask(i).j['id']; s.do('ada', 'lots', i, 'withdraw'); return s.sstatus(w) == 'declined'
@t('lapse-after-61-days')
def _(s): i = s.offered(); s.adv('P59D'); a = s.status(i); s.adv('P1DT1M'); return (a, s.status(i)) == ('offered', 'lapsed')
@t('lapse-into-withdrawn')
def _(s): i = s.offered(); s.adv('P62D'); return s.status(i) == 'lapsed'
@t('relist-60-days')
def _(s): i = s.offered(); s.adv('P61D'); s.do('ada', 'lots', i, 'relist'); s.adv('P29D'); a = s.status(i); s.adv('P2D'); return (a, s.status(i)) == ('offered', 'lapsed')
@t('never-spent')
def _(s): i = s.offered(); s.swap('received', i, grams=100); return s.status(i) == 'spent'
@t('exhaust-too-early')
def _(s): i = s.offered(); s.swap('received', i, grams=95); return s.status(i) == 'offered'
@t('agree-oversells')
def _(s): i = s.offered(); a, b = s.ask(i, 'bo', 60).j['id'], s.ask(i, 'dee', 60).j['id']; return s.do('ada', 'swaps', a, 'agree').st == 200 and s.do('ada', 'swaps', b, 'agree').name == 'lot_short'
T['decline-agreed'] = lambda s: s.do('ada', 'swaps', s.swap('agreed'), 'decline').name == 'wrong_season'
T['cancel-shipped'] = lambda s: s.do('bo', 'swaps', s.swap('shipped'), 'cancel').name == 'too_late'
T['cancel-only-pending'] = lambda s: s.do('bo', 'swaps', s.swap('agreed'), 'cancel').st == 200
T['ship-before-agreed'] = lambda s: s.do('ada', 'swaps', s.swap(), 'ship', {'parcel': 'QX77'}).name == 'wrong_season'
@t('expire-after-8-days')
def _(s): w = s.swap(); s.adv('P6DT23H'); a = s.sstatus(w); s.adv('PT2H'); return (a, s.sstatus(w)) == ('pending', 'expired')
@t('expired-as-declined')
def _(s): w = s.swap(); s.adv('P9D'); return s.sstatus(w) == 'expired'
@t('forfeit-never')
def _(s): w = s.swap('agreed'); s.adv('P6D'); return s.sstatus(w) == 'forfeited'
@t('judged-twice')
def _(s): i = s.sow().j['sowing']['id']; s.do('fay', 'sowings', i, 'judge', {'verdict': 'sound'}); return s.do('fay', 'sowings', i, 'judge', {'verdict': 'doubtful'}).name == 'already_judged'
T['verdicts-swapped'] = lambda s: s.do('fay', 'sowings', s.sow().j['sowing']['id'], 'judge', {'verdict': 'sound'}).j['verdict'] == 'confirmed'
T['patch-testing-lot'] = lambda s: s.patch(s.testing(), {'grams': 5}).name == 'wrong_season'
T['delete-offered'] = lambda s: s.r('ada', 'DELETE', '/lots/' + s.offered()).name == 'wrong_season'

T['month-first-only'] = lambda s: s.var(sow_months=[3, 4]).st == 201 and s.ids('/varieties?month=4', k='slug') == ['ruby']
T['search-minds-case'] = lambda s: s.var(name='Ruby Red').st == 201 and s.ids('/varieties?q=rUBy', k='slug') == ['ruby']
T['search-any-word'] = lambda s: s.var(latin='pisum').st == 201 and s.ids('/varieties?q=ruby%20vicia', k='slug') == [] and s.ids('/varieties?q=ruby%20pisum', k='slug') == ['ruby']
T['varieties-backwards'] = lambda s: s.var().st == 201 and s.var('amber').st == 201 and s.ids('/varieties', k='slug') == ['amber', 'ruby']
T['only-drops-slug'] = lambda s: s.var(origin={'country': 'IT', 'place': 'Po'}).st == 201 and s.get('/varieties?only=name,origin.country').j['rows'] == [{'slug': 'ruby', 'name': 'Name of ruby', 'origin': {'country': 'IT'}}]
@t('status-first-only')
def _(s): a, b = s.lot().j['id'], s.testing(); return set(s.ids('/lots?status=draft,testing')) == {a, b}
@t('least-excludes')
def _(s): a = s.lot(grams=50).j['id']; s.lot(grams=49); return s.ids('/lots?least=50') == [a]
@t('kind-filter-ignored')
def _(s): a = s.lot().j['id']; s.var('oat', kind='cereal'); b = s.lot(variety='oat').j['id']; return s.ids('/lots?kind=cereal') == [b]
@t('mine-does-nothing')
def _(s): a = s.lot().j['id']; s.offered(); return s.ids('/lots?mine=true', 'ada') == [a]
@t('way-ignored')
def _(s): a, b = s.lot(grams=9).j['id'], s.lot(grams=7).j['id']; return s.ids('/lots?sort=heft') == [b, a] and s.ids('/lots?sort=heft&way=desc') == [a, b]
@t('ties-oldest')
def _(s): a, b = s.lot().j['id'], s.lot().j['id']; return s.ids('/lots?sort=heft') == [b, a]
@t('swaps-of-all-lots')
def _(s): a, b = s.offered(), s.offered(); w = s.ask(a).j['id']; s.ask(b); return s.ids('/lots/%s/swaps' % a) == [w]
@t('closed-with-shipped')
def _(s): s.swap('shipped'); return s.ids('/swaps?role=closed') == []
@t('swaps-oldest-first')
def _(s): a = s.swap(); s.adv('PT2S'); b = s.swap(); return s.ids('/swaps') == [b, a]
@t('sowings-worst-first')
def _(s): a = s.sow(sprouted=2).j['sowing']['id']; b = s.sow(sprouted=6).j['sowing']['id']; return s.ids('/sowings') == [b, a]
@t('entry-kind-exact')
def _(s): s.swap('agreed'); return s.kinds(q='&kind=swap.') == ['swap.asked', 'swap.moved']
T['expand-ignored'] = lambda s: s.get('/swaps/%s?with=lot' % s.swap(), 'bo').j['lot']['grams'] == 100
@t('expand-leaks')
def _(s): i = s.offered(); w = s.ask(i).j['id']; s.do('ada', 'lots', i, 'withdraw'); return 'grams' not in s.get('/swaps/%s?with=lot' % w, 'bo').j['lot']
T['no-304'] = lambda s: (lambda i: s.get('/lots/' + i, 'ada', {'If-None-Match': s.tag(i)}).st == 304)(s.lot().j['id'])
T['cache-an-hour'] = lambda s: s.var().st == 201 and s.get('/varieties/ruby', None).h['cache-control'] == 'public, max-age=120'
T['put-ignores-if-match'] = lambda s: s.var().st == 201 and s.put({'kind': 'cereal'}, h={'If-Match': '"old"'}).st == 412
T['put-keeps-optional'] = lambda s: s.var(latin='pisum').st == 201 and 'latin' not in s.put({'kind': 'cereal'}).j
T['read-only-ignored'] = lambda s: s.var(registrar='me').name == 'sealed_field'
T['pass-note-optional'] = lambda s: s.do('fay', 'lots', s.testing(), 'pass', {'percent': 70}).name == 'absent_field'
T['percent-over-100'] = lambda s: s.do('fay', 'lots', s.testing(), 'pass', {'percent': 101, 'note': ''}).name == 'unfit'
T['parcel-three-signs'] = lambda s: s.do('ada', 'swaps', s.swap('agreed'), 'ship', {'parcel': 'QX7'}).name == 'unfit'
T['unknown-field-passes'] = lambda s: s.lot(colour='red').name == 'strange_field'
T['unknown-parameter-passes'] = lambda s: s.get('/lots?colour=red').name == 'odd_parameter'
T['points-tenfold'] = lambda s: s.sow(sown=8, sprouted=7).j['points'] == 8
T['no-sowing-header'] = lambda s: s.sow().h.get('x-sowing') == '1'
T['no-location'] = lambda s: 'location' in s.lot().h
T['swap-200'] = lambda s: s.ask(s.offered()).st == 201
T['no-ticket-on-get'] = lambda s: 'x-ticket' in s.get('/lots').h
@t('empty-patch-changes')
def _(s): l = s.lot().j; s.adv('PT3S'); return s.patch(l['id'], {'grams': 100}).j['changed_at'] == l['changed_at']
T['no-allow'] = lambda s: 'GET' in s.r('fay', 'PUT', '/lots').h.get('allow', '')
@t('replay-reveals')
def _(s):
    b = {'url': 'http://127.0.0.1:9/x'}; k = {'Once-Key': 'k1'}; a, c = s.r('ada', 'POST', '/beacons', b, k), s.r('ada', 'POST', '/beacons', b, k)
    return a.j['id'] == c.j['id'] and 'secret' in a.j and 'secret' not in c.j
@t('key-any-body')
def _(s): k = {'Once-Key': 'k1'}; s.lot(h=k); return s.lot(h=k, grams=7).name == 'key_spent'
@t('key-kept-a-day')
def _(s): k = {'Once-Key': 'k1'}; a = s.lot(h=k).j['id']; s.adv('PT13H'); return s.lot(h=k).j['id'] != a
@t('key-kept-an-hour')
def _(s): k = {'Once-Key': 'k1'}; a = s.lot(h=k).j['id']; s.adv('PT11H'); return s.lot(h=k).j['id'] == a
@t('keys-shared')
def _(s): k = {'Once-Key': 'k1'}; return s.lot(h=k).j['id'] != s.lot('bo', h=k).j['id']
@t('refusal-not-replayed')
def _(s): k = {'Once-Key': 'k1'}; i = s.testing(); s.lot(); s.do('fay', 'lots', i, 'pass', {'percent': 90, 'note': ''}); a = s.ask(i, grams=200, h=k).name; w = s.ask(i, 'ada', h=k); i2 = s.offered(); x = s.swap('agreed', i2, 'dee', 100); b = s.ask(i2, grams=5, h={'Once-Key': 'k2'}).name; s.do('dee', 'swaps', x, 'cancel'); return (a, b, s.ask(i2, grams=5, h={'Once-Key': 'k2'}).name) == ('over_ask', 'over_ask', 'over_ask')

T['grower-replaces-variety'] = lambda s: s.var().st == 201 and s.put({}, who='ada').name == 'not_your_trade'
T['varieties-need-key'] = lambda s: s.get('/varieties', None).st == 200
T['create-lot-no-scope'] = lambda s: s.lot('cy').name == 'needs_scope'
T['create-swap-no-scope'] = lambda s: s.ask(s.offered(), 'cy').name == 'needs_scope'
T['decline-no-scope'] = lambda s: s.do('cy', 'swaps', s.swap(), 'decline').name == 'needs_scope'
T['testing-lot-readable'] = lambda s: s.get('/lots/' + s.testing(), 'bo').st == 404
T['inspector-all-regions'] = lambda s: (lambda i: s.get('/lots/' + i, 'gus').st == 200 and s.get('/lots/' + i, 'hal').st == 404)(s.lot().j['id'])
T['inspector-sees-grower'] = lambda s: s.lot().st == 201 and set(s.get('/lots', 'gus').j['rows'][0]) == {'id', 'number', 'variety', 'region', 'grams', 'harvested', 'status', 'made_at'}
T['inspector-picks-tag'] = lambda s: s.get('/lots?tag=blue', 'gus').name == 'odd_parameter' and s.get('/lots?tag=blue', 'ada').st == 200
T['drafts-in-list'] = lambda s: s.lot().st == 201 and s.ids('/lots', 'bo') == []
T['swap-read-by-all'] = lambda s: s.get('/swaps/' + s.swap(), 'dee').st == 404
T['giver-misses-swaps'] = lambda s: [s.swap()] == s.ids('/swaps', 'ada')
T['others-withdraw'] = lambda s: s.do('bo', 'lots', s.offered(), 'withdraw').name == 'not_yours'
T['asker-agrees'] = lambda s: s.do('bo', 'swaps', s.swap(), 'agree').name == 'not_yours'
T['giver-receives'] = lambda s: s.do('ada', 'swaps', s.swap('shipped'), 'receive').name == 'not_yours'
T['giver-tells'] = lambda s: s.sow(who='bo', swap=None).st == 201 and s.sow(s.swap('received'), 'ada').name == 'not_yours'
T['grower-judges'] = lambda s: s.do('ada', 'sowings', s.sow().j['sowing']['id'], 'judge', {'verdict': 'sound'}).name == 'not_your_trade'
T['inspector-makes-beacon'] = lambda s: s.r('gus', 'POST', '/beacons', {'url': 'http://127.0.0.1:9/x'}).name == 'not_your_trade'
T['beacon-read-by-all'] = lambda s: s.get('/beacons/' + s.ear().id, 'bo').st == 404
@t('entries-of-others')
def _(s): s.swap(); i = s.ids('/entries', of='entries', q='') if 0 else s.ids('/entries?kind=lot', of='entries')[0]; return s.get('/entries/' + i, 'bo').st == 404
T['entries-without-audit'] = lambda s: s.get('/entries', 'hal').name == 'needs_scope' and s.get('/entries', 'gus').st == 200
T['key-case-blind'] = lambda s: s.get('/lots', None, {'Authorization': 'Seed ' + WHO['ada']['credential'].upper()}).st == 401
T['bad-key-is-nobody'] = lambda s: s.get('/varieties', None, {'Authorization': 'Seed nonsense'}).st == 401
@t('seal-body-unsigned')
def _(s):
    c = s.creds('eve', 'POST', '/exchange/varieties', b'{}')
    return s.r(None, 'POST', '/varieties', {'slug': 'ruby', 'name': 'Ruby', 'kind': 'legume', 'sow_months': [3]}, c).st == 401 and s.var(who='eve').st == 201
@t('seal-holds-ten-minutes')
def _(s): n = int(s.t().timestamp()); return s.r('eve', 'GET', '/lots', at=n - 170).st == 200 and s.r('eve', 'GET', '/lots', at=n - 200).st == 401
@t('seal-without-query')
def _(s): return s.get('/lots?take=3', 'eve').st == 200
T['two-callers-taken'] = lambda s: s.get('/lots', None, {**s.creds('ada', 'GET', '/exchange/lots', b''), **s.creds('eve', 'GET', '/exchange/lots', b'')}).st == 401
T['no-challenge'] = lambda s: 'seed' in s.get('/lots', None).h.get('www-authenticate', '').lower()
T['any-origin'] = lambda s: 'access-control-allow-origin' not in s.get('/varieties', None, {'Origin': 'https://evil.example'}).h and s.get('/varieties', None, {'Origin': 'https://garden.landrace.example'}).h['access-control-allow-origin'] == 'https://garden.landrace.example'
T['hidden-is-forbidden'] = lambda s: s.get('/lots/' + s.lot().j['id'], 'bo').st == 404

@t('dark-beacon-told')
def _(s): e = s.ear(lit=False); s.swap(); return not e.quiet().got
@t('star-kinds-deaf')
def _(s): e = s.ear(kinds=['swap.*']); s.swap(); return e.wait() and e.kinds() == ['swap.asked']
T['unknown-kind-taken'] = lambda s: s.r('ada', 'POST', '/beacons', {'url': 'http://127.0.0.1:9/x', 'kinds': ['lot.eaten']}).name == 'unfit'
@t('rejected-to-all')
def _(s): a, f = s.ear(), s.ear('fay'); s.offered(percent=1); return a.wait() and a.kinds() == ['lot.rejected'] and not f.quiet().got
@t('asked-to-everybody')
def _(s): i = s.offered(); d, a = s.ear('dee'), s.ear('ada'); s.ask(i); return a.wait() and not d.quiet().got
@t('cancel-untold')
def _(s): w = s.swap(); e = s.ear(); s.do('bo', 'swaps', w, 'cancel'); return e.wait() and e.kinds() == ['swap.moved']
@t('relist-untold')
def _(s): i = s.offered(); s.adv('P61D'); e = s.ear(); s.do('ada', 'lots', i, 'relist'); return e.wait() and e.kinds() == ['lot.offered']
@t('offered-for-rejected')
def _(s): s.offered(percent=1); return 'lot.offered' not in s.kinds()
@t('rejected-percent-zero')
def _(s): e = s.ear(); i = s.offered(percent=12); return e.wait() and e.got[0][1]['about'] == {'lot': i, 'percent': 12}
@t('trimmed-when-grown')
def _(s): i = s.lot().j['id']; s.patch(i, {'grams': 120}); return s.kinds() == []
@t('trimmed-was-new')
def _(s): i = s.lot().j['id']; e = s.ear(); s.patch(i, {'grams': 20}); return e.wait() and e.got[0][1]['about'] == {'lot': i, 'was': 100, 'is': 20}
@t('closed-whole-row')
def _(s): i = s.offered(); e = s.ear(); s.do('ada', 'lots', i, 'withdraw'); return e.wait() and e.got[0][1]['about'] == i
@t('exhaust-untold')
def _(s): i = s.offered(); s.swap('received', i, grams=100); return s.kinds()[-2:] == ['swap.moved', 'lot.closed']
@t('forfeit-untold')
def _(s): s.swap('agreed'); s.adv('P6D'); return 'swap.timed_out' in s.kinds()
@t('lapsing-48h')
def _(s): s.offered(); s.adv('P56D'); s.adv('PT36H'); return s.kinds()[-1:] == ['lot.lapsing']
@t('event-leaks-note')
def _(s): e = s.ear('bo'); s.offered(); return e.wait() and e.got[0][1]['about']['status'] == 'offered' and 'keeper_note' not in e.got[0][1]['about']
@t('payload-of-before')
def _(s): w = s.swap(); e = s.ear(); s.do('ada', 'swaps', w, 'agree'); return e.wait() and e.got[0][1]['about']['status'] == 'agreed'
@t('events-doubled')
def _(s): w = s.swap(); e = s.ear(); s.do('ada', 'swaps', w, 'agree'); return e.wait() and len(e.quiet().got) == 1
def asked(s, **kw):
    i = s.offered(); e = s.ear(kinds=['swap.asked'], **kw); s.ask(i); e.wait(); return e
T['event-when-seconds'] = lambda s: isinstance(asked(s).got[0][1]['when'], str)
T['envelope-type-not-what'] = lambda s: set(asked(s).got[0][1]) == {'id', 'what', 'when', 'about'}
def mac_good(e, n=0):
    h, j, raw = e.got[n]; at, mac = [x.split('=', 1)[1] for x in h['x-furrow'].split(',')]
    return mac == base64.b64encode(hmac.new(e.made['secret'].encode(), ('%s.%s.' % (j['id'], at)).encode() + raw, hashlib.sha256).digest()).decode()
T['mac-in-hex'] = lambda s: mac_good(asked(s))
T['signs-without-id'] = lambda s: mac_good(asked(s))
@t('stamp-machine-time')
def _(s): s.adv('P3D'); e = asked(s); return abs(int(e.got[0][0]['x-furrow'].split(',')[0][3:]) - s.t().timestamp()) < 60
T['kind-header-family'] = lambda s: asked(s).got[0][0]['x-landrace-kind'] == 'swap.asked'
@t('no-retry')
def _(s): e = asked(s, plan=[500]); time.sleep(.1); s.adv('PT13S'); return e.wait(2) and len(e.got) == 2
@t('two-retries-only')
def _(s):
    e = asked(s, plan=[500] * 9); time.sleep(.1)
    for d in ('PT13S', 'PT80S', 'PT13M', 'PT2H'): s.adv(d); time.sleep(.1)
    return len(e.got) == 4
@t('second-retry-5m')
def _(s): e = asked(s, plan=[500] * 2); time.sleep(.1); s.adv('PT13S'); e.wait(2); time.sleep(.1); s.adv('PT75S'); return e.wait(3)
@t('redirect-counts')
def _(s): e = asked(s, plan=[302]); time.sleep(.1); s.adv('PT13S'); return e.wait(2)
@t('new-id-each-try')
def _(s): e = asked(s, plan=[500]); time.sleep(.1); s.adv('PT13S'); return e.wait(2) and e.got[0][1]['id'] == e.got[1][1]['id']
@t('gone-not-silenced')
def _(s): e = asked(s, plan=[410]); time.sleep(.1); return s.get('/beacons/' + e.id, 'ada').j['lit'] is False
@t('retry-after-unheard')
def _(s): e = asked(s, plan=[503], headers={'Retry-After': '3600'}); time.sleep(.1); s.adv('PT10M'); a = len(e.got); s.adv('PT1H'); return a == 1 and e.wait(2)
@t('overtaking')
def _(s): i = s.offered(); e = s.ear(plan=[500]); w = s.ask(i).j['id']; e.wait(); time.sleep(.1); s.do('ada', 'swaps', w, 'agree'); e.quiet(); s.adv('PT13S'); return e.wait(3) and e.kinds() == ['swap.asked', 'swap.asked', 'swap.moved']
@t('log-misses-sowings')
def _(s): s.sow(); return 'sowing.told' in s.kinds()
@t('log-misses-clock')
def _(s): s.swap(); s.adv('P8D'); e = s.get('/entries?kind=swap.timed').j['entries']; return len(e) == 1 and e[0]['actor'] == 'clock'
@t('log-actor-owner')
def _(s): s.offered(); return s.ids('/entries', k='actor', of='entries') == ['fay']
@t('log-kind-of-resource')
def _(s): s.swap(); return s.kinds() == ['lot.offered', 'swap.asked']
@t('entries-kept-60-days')
def _(s): s.offered(); s.adv('P44D'); a = s.kinds(); s.adv('P2D'); return a == ['lot.offered'] and s.kinds() == []

T['garbled-as-unfit'] = lambda s: s.r('ada', 'POST', '/lots', b'{"a":').name == 'garbled'
T['no-refused-header'] = lambda s: s.get('/lots/x').h.get('x-refused') == 'not_here'
T['flat-refusal'] = lambda s: set(s.get('/lots/x').j) == {'refused'}
T['status-in-body-500'] = lambda s: s.get('/lots/x').j['refused']['status'] == 404
T['other-ticket'] = lambda s: (lambda r: r.j['refused']['ticket'] == r.h['x-ticket'])(s.get('/lots/x'))
T['places-left-out'] = lambda s: s.lot(grams=0).j['refused']['places'][0]['path'] == 'grams'
T['only-first-violation'] = lambda s: len(s.lot(grams=0, harvested='x').j['refused']['places']) == 2
T['paths-as-pointers'] = lambda s: s.lot(pickup={'city': ''}).j['refused']['places'][0]['path'] == 'pickup.city'
T['message-without-name'] = lambda s: s.lot(colour=1).j['refused']['why'] == 'colour is not known here'
T['missing-named-first'] = lambda s: s.lot() and s.r('ada', 'POST', '/lots', {'colour': 1}).name == 'strange_field'
T['invalid-is-400'] = lambda s: s.lot(grams=0).st == 422
T['refused-with-200'] = lambda s: s.do('ada', 'lots', s.testing(), 'submit').st == 409
T['withdraw-plain-code'] = lambda s: s.do('ada', 'lots', s.offered(percent=1), 'withdraw').name == 'lot_over'
@t('asked-as-taken')
def _(s): i = s.offered(); s.ask(i); return s.ask(i).name == 'asked_already'
@t('gone-as-missing')
def _(s): i = s.lot().j['id']; s.r('ada', 'DELETE', '/lots/' + i); return s.get('/lots/' + i, 'ada').name == 'composted' and s.get('/lots/' + i, 'bo').name == 'not_here'
T['user-as-not-yours'] = lambda s: s.lot('fay').name == 'not_your_trade'
T['scope-as-trade'] = lambda s: s.lot('cy').name == 'needs_scope'
T['stale-seal-plain'] = lambda s: s.r('eve', 'GET', '/lots', at=int(s.t().timestamp()) - 3000).name == 'stale_seal'
T['wrong-verb-404'] = lambda s: s.r('fay', 'PUT', '/lots').name == 'wrong_verb'
T['page-as-parameter'] = lambda s: s.get('/lots?skip=-1').name == 'odd_page'
T['body-before-parameters'] = lambda s: s.r('ada', 'POST', '/lots?x=1', b'{').name == 'odd_parameter'
T['swaps-with-himself'] = lambda s: s.ask(s.offered(), 'ada').name == 'own_lot'
@t('spent-lot-askable')
def _(s): i = s.offered(); s.swap('received', i, 'dee', 100); return s.ask(i).name == 'not_offered'
T['over-ask-at-equal'] = lambda s: s.ask(s.offered(), grams=100).st == 201
@t('over-ask-of-whole')
def _(s): i = s.offered(); s.swap('agreed', i, 'dee', 60); return s.ask(i, grams=41).name == 'over_ask'
T['patch-future-harvest'] = lambda s: s.patch(s.lot().j['id'], {'harvested': '2099-01-01'}).name == 'from_tomorrow'
@t('harvest-by-machine')
def _(s): d = (s.t() + datetime.timedelta(days=9)).date().isoformat(); a = s.lot(harvested=d).name; s.adv('P10D'); return a == 'from_tomorrow' and s.lot(harvested=d).st == 201
T['sown-before-received'] = lambda s: s.sow(s.swap('shipped')).name == 'unripe'
T['if-match-optional'] = lambda s: s.patch(s.lot().j['id'], {'grams': 5}, h={'If-Match': None}).name == 'tag_wanted'
T['weak-tag-matches'] = lambda s: (lambda i: s.patch(i, {'grams': 5}, h={'If-Match': 'W/' + s.tag(i)}).name == 'moved_on')(s.lot().j['id'])
T['accept-ignored'] = lambda s: s.get('/lots', h={'Accept': 'text/html'}).name == 'no_such_format'
T['text-taken'] = lambda s: s.lot(h={'Content-Type': 'text/plain'}).name == 'wrong_type'
T['first-of-two'] = lambda s: s.get('/lots?least=1&least=2').name == 'odd_parameter'

def spend(s, n, path='/sowings', who='bo'): return [s.get(path, who).st for _ in range(n)]
T['rate-121'] = lambda s: spend(s, 121) == [200] * 120 + [429]
T['list-lot-costs-one'] = lambda s: spend(s, 41, '/lots') == [200] * 40 + [429]
T['rate-by-user'] = lambda s: s.get('/sowings', 'ada').st == 200 and s.get('/sowings', 'bo').h['x-budget-left'] == '119'
@t('counts-304')
def _(s): i = s.lot().j['id']; g = s.tag(i); a = s.get('/sowings', 'ada').h['x-budget-left']; r = s.get('/lots/' + i, 'ada', {'If-None-Match': g}); return r.st == 304 and s.get('/sowings', 'ada').h['x-budget-left'] == str(int(a) - 1)
@t('bucket-of-six')
def _(s): i = s.offered(); return [s.ask(i, grams=400).st for _ in range(9)] == [422] * 8 + [429]
@t('bucket-refills-fast')
def _(s): i = s.offered(); [s.ask(i, grams=400) for _ in range(8)]; s.adv('PT65S'); a = s.ask(i, grams=400).st; s.adv('PT40S'); return (a, s.ask(i, grams=400).st) == (429, 422)
@t('rate-no-retry')
def _(s): spend(s, 40, '/lots'); return 0 < int(s.get('/lots', 'bo').h.get('retry-after', 0)) <= 60
T['budget-left-before'] = lambda s: s.get('/sowings', 'bo').h['x-budget-left'] == '119'
T['renews-in-ms'] = lambda s: 50 <= int(s.get('/sowings', 'bo').h['x-budget-renews']) <= 60
def lots(s, n): return [s.lot('dee').st for _ in range(n)]
def midnight(s): s.to_time((s.t() + datetime.timedelta(days=1)).strftime('%Y-%m-%dT03:00:00Z'))
@t('quota-26')
def _(s): midnight(s); return lots(s, 26) == [201] * 25 + [429]
@t('quota-local-noon')
def _(s): midnight(s); lots(s, 25); s.adv('PT12H'); a = s.lot('dee').st; s.adv('PT10H'); return (a, s.lot('dee').st) == (429, 201)
@t('quota-no-retry')
def _(s): midnight(s); lots(s, 25); return 70000 < int(s.lot('dee').h.get('retry-after', 0)) < 80000
T['five-beacons'] = lambda s: [s.r('ada', 'POST', '/beacons', {'url': 'http://127.0.0.1:9/x'}).st for _ in range(5)] == [201] * 4 + [429]
T['six-pending'] = lambda s: [s.ask(s.offered()).st for _ in range(6)] == [201] * 5 + [429]
@t('five-swaps-ever')
def _(s):
    for _ in range(5): s.do('ada', 'swaps', s.swap(), 'decline')
    return s.ask(s.offered()).st == 201
T['url-3k'] = lambda s: s.get('/lots?tag=' + 'a' * 2100).name == 'long_address'
T['headers-16k'] = lambda s: s.get('/lots', h={'X-Pad': 'a' * 9000}).name == 'long_headers'
def sized(s, n): s.lot(); b = json.dumps({'variety': 'ruby', 'grams': 9, 'harvested': '2025-09-01', 'gift': True}).encode(); return s.r('ada', 'POST', '/lots', b + b' ' * (n - len(b)))
T['body-16k'] = lambda s: sized(s, 8193).name == 'too_bulky'
T['body-8191'] = lambda s: sized(s, 8192).st == 201
@t('slow-body-waits')
def _(s):
    c = socket.create_connection(('127.0.0.1', s.port)); c.settimeout(12.5)
    c.sendall(b'POST /exchange/lots HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"a"')
    try: return b'408' in c.recv(2000)
    except OSError: return False
    finally: c.close()
@t('default-page-20')
def _(s): [s.sow(s.swap('received', s.offered(), w), w) for w in ('bo', 'dee') for _ in range(6)]; r = s.get('/sowings').j; return len(r['rows']) == 10 and r['count'] == 12 and r['more'] is True
T['over-max-refused'] = lambda s: s.get('/lots?take=51').st == 200
T['take-zero'] = lambda s: s.get('/swaps?take=0').name == 'odd_page'
T['count-of-page'] = lambda s: s.var().st == 201 and s.var('opal').st == 201 and s.get('/varieties?take=1').j['count'] == 2
T['count-of-all'] = lambda s: s.lot().st == 201 and s.get('/lots', 'bo').j['count'] == 0
T['form-missing'] = lambda s: s.get('/beacons').j.get('form') == 'page'
T['entries-clamp'] = lambda s: s.get('/entries?take=101').name == 'odd_page'
def three(s): [s.offered() for _ in range(3)]; return s.ids('/entries', of='entries')
@t('past-includes')
def _(s): a = three(s); return s.ids('/entries?take=1&past=' + a[0], of='entries') == [a[1]]
T['more-at-end'] = lambda s: three(s) and s.get('/entries').j['more'] is False
@t('ahead-from-start')
def _(s): a = three(s); return s.ids('/entries?take=1&ahead=' + a[2], of='entries') == [a[1]]

T['spring-shows-tags'] = lambda s: 'tags' not in s.get('/lots/' + s.lot(tags=['blue']).j['id'], h=SP).j
T['spring-kind-new'] = lambda s: s.var(kind='nightshade').st == 201 and s.get('/varieties/ruby', h=SP).j['kind'] == 'tomato'
T['spring-germination-whole'] = lambda s: s.get('/lots/' + s.offered(), h=SP).j['germination'] == 0.8
T['spring-weight-new-name'] = lambda s: s.get('/lots/' + s.lot().j['id'], h=SP).j.get('weight') == 100
@t('relist-in-spring')
def _(s): i = s.offered(); s.adv('P61D'); return s.do('ada', 'lots', i, 'relist', h=SP).st == 404
@t('event-in-autumn-always')
def _(s): e = s.ear(h=SP); s.offered(); return e.wait() and e.got[0][1]['about'].get('weight') == 100
@t('key-any-edition')
def _(s):
    s.lot(); b = {'url': 'http://127.0.0.1:9/x'}; k = {'Once-Key': 'k1'}
    s.r('ada', 'POST', '/beacons', b, k); return s.r('ada', 'POST', '/beacons', b, {**k, **SP}).name == 'key_spent'
T['default-spring'] = lambda s: 'grams' in s.lot().j
T['unknown-edition-served'] = lambda s: s.get('/lots', h={'Edition': 'winter'}).name == 'lost_edition'
T['edition-not-named'] = lambda s: s.get('/lots').h.get('edition') == 'autumn'
T['vary-forgets-edition'] = lambda s: 'edition' in s.get('/lots').h['vary'].lower()
@t('never-sunset')
def _(s): s.to_time('2028-06-01T00:00:01Z'); return s.get('/lots', h=SP).name == 'past_edition' and s.get('/lots').st == 200
T['sunset-a-year-late'] = lambda s: s.get('/lots', h=SP).h['sunset'] == 'Thu, 01 Jun 2028 00:00:00 GMT'
T['no-sunset-header'] = lambda s: 'sunset' in s.get('/lots', h=SP).h
T['deprecation-in-ms'] = lambda s: s.get('/lots', h=SP).h['deprecation'] == '@1772323200'
T['successor-as-next'] = lambda s: 'rel="successor-version"' in s.get('/lots', h=SP).h['link']
T['endpoint-not-deprecated'] = lambda s: s.get('/lots/%s/swaps' % s.offered()).h.get('deprecation') == '@1777593600'

T['entries-newest-first'] = lambda s: (lambda a: a[0] < a[1])((s.offered(), s.adv('PT2S'), s.offered(), s.ids('/entries', k='at', of='entries'))[-1])
T['inspector-no-sowings'] = lambda s: s.get('/sowings', 'hal').st == 200
@t('keys-ignored')
def _(s): k = {'Once-Key': 'k1'}; return s.lot(h=k).j['id'] == s.lot(h=k).j['id']
T['more-missing'] = lambda s: s.get('/sowings').j.get('more') is False
T['never-slowed'] = lambda s: spend(s, 42, '/lots')[-1] == 429
T['no-budget'] = lambda s: s.get('/sowings').h.get('x-budget') == '120'
T['no-deprecation'] = lambda s: 'deprecation' in s.get('/lots', h=SP).h
T['no-etag-on-lots'] = lambda s: s.get('/lots/' + s.lot().j['id']).h.get('etag', '').startswith('"')
T['no-event-header'] = lambda s: (lambda g: g[0].get('x-landrace-event') == g[1]['id'])(asked(s).got[0])
T['no-links'] = lambda s: 'rel="deprecation"' in s.get('/lots', h=SP).h.get('link', '')
T['pass-forgets-note'] = lambda s: s.get('/lots/' + s.offered()).j.get('keeper_note') == 'dry seed'
@t('since-excludes')
def _(s): w = s.get('/swaps/' + s.swap()).j; return s.ids('/swaps?since=' + w['asked_at']) == [w['id']]
@t('quota-counts-refused')
def _(s): midnight(s); [s.lot('dee', grams=0) for _ in range(5)]; return lots(s, 25) == [201] * 25
T['number-gaps'] = lambda s: s.lot(harvested='2099-01-01').st == 422 and s.lot().j['number'] == 'L-0001'
@t('refusals-all-replayed')
def _(s): s.lot(); k = {'Once-Key': 'k1'}; a = s.lot(variety='opal', h=k).name; s.var('opal'); return a == 'dangling' and s.lot(variety='opal', h=k).st == 201
@t('offers-cached')
def _(s): s.lot(); a = s.get('/varieties/ruby').j['offers']; s.offered(); return (a, s.get('/varieties/ruby').j['offers']) == (0, 1)
T['seal-of-the-future'] = lambda s: s.r('eve', 'GET', '/lots', at=int(s.t().timestamp()) + 400).st == 401
@t('deleted-lot-roots')
def _(s): i = s.lot().j['id']; s.r('ada', 'DELETE', '/lots/' + i); return s.r('fay', 'DELETE', '/varieties/ruby').st == 204
@t('spent-by-clock')
def _(s): i = s.offered(); s.swap('received', i, grams=100); return s.ids('/entries?kind=lot.closed', k='actor', of='entries') == ['bo']
@t('closed-judged-before')
def _(s): i = s.offered(); b, a = s.ear('bo'), s.ear('ada'); s.do('ada', 'lots', i, 'withdraw'); return a.wait() and not b.quiet().got
@t('label-null-drops')
def _(s): e = s.ear(label='x'); r = s.r('ada', 'PATCH', '/beacons/' + e.id, {'label': None}).j; return 'label' in r and r['label'] is None
T['put-keeps-default'] = lambda s: s.var(keeps_days=90).st == 201 and s.put({'kind': 'cereal'}).j['keeps_days'] == 730
T['spring-filter-stored'] = lambda s: s.var(kind='nightshade').st == 201 and s.ids('/varieties?kind=tomato', k='slug', h=SP) == ['ruby']
T['spring-violation-new-name'] = lambda s: s.lot(h=SP, grams=None, weight=0).j['refused']['places'][0]['path'] == 'weight'
@t('spring-patch-loses-tags')
def _(s): i = s.lot(tags=['blue']).j['id']; g = s.get('/lots/' + i, 'ada', SP).h['etag']; r = s.r('ada', 'PATCH', '/lots/' + i, {'weight': 50}, {**SP, 'If-Match': g}); return r.j['weight'] == 50 and s.get('/lots/' + i).j['tags'] == ['blue']
T['leading-zero-found'] = lambda s: s.sow().st == 201 and s.get('/sowings/1').st == 200 and s.get('/sowings/01').st == 404
@t('gone-to-all')
def _(s): i = s.lot().j['id']; s.r('ada', 'DELETE', '/lots/' + i); return s.get('/lots/' + i, 'bo').st == 404
T['etag-any-edition'] = lambda s: s.var().st == 201 and s.get('/varieties/ruby').h['etag'] != s.get('/varieties/ruby', h=SP).h['etag']

def once(fault, name):
    s = S(fault)
    try: return bool(T[name](s))
    except Exception as x: return ('error %r' % x) if fault is None else False
    finally: s.end()
def trial(name):
    right = once(None, name)
    if right is not True: return name, 'the right service fails: %s' % right
    return name, None if once(name, name) is False else 'the fault is not noticed'

if __name__ == '__main__':
    names = sys.argv[1:] or [f['id'] for f in SPEC['faults']]
    lacking = [n for n in names if n not in T]
    if lacking: print('no test:', *lacking)
    bad = len(lacking)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for n, r in pool.map(trial, [n for n in names if n in T]):
            if r: bad += 1; print(n, '-', r)
    print('%d faults, %d bad' % (len(names), bad)); sys.exit(1 if bad else 0)
