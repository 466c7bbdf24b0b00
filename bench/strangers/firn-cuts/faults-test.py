"""Each fault: the right service passes its check, the faulty one does not. python3 faults-test.py [ID ...]"""
import base64, hashlib, hmac, http.client, http.server, json, os, socket, subprocess, sys, threading, time
HERE = os.path.dirname(os.path.abspath(__file__))
KEY = {'nils': 'fk_aurora0000000000000000aa', 'tove': 'fk_aurora0000000000000000bb', 'piet': 'fk_borea00000000000000000cc', 'rosa': 'fk_borea00000000000000000dd', 'kaya': 'fk_sledge0000000000000000ee', 'luis': 'fk_sledge0000000000000000ff'}
PW = {'ada': 'ada:icefall-seventy', 'bo': 'bo:moraine-eleven'}
def eq(a, b): assert a == b, f'{a!r} is not {b!r}'
def free():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]
class R:
    def __init__(self, st, h, b): self.st, self.h, self.j = st, h, b
    @property
    def why(self): return self.j['cracked']['why']
class Hook:
    """a receiver of webhooks"""
    def __init__(self):
        self.got, self.plan, self.heads = [], [], []
        me = self
        class Hd(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                b = self.rfile.read(int(self.headers['Content-Length']))
                me.got.append((dict(self.headers.items()), b))
                st, h = me.plan.pop(0) if len(me.plan) > 1 else (me.plan[0] if me.plan else (200, {}))
                self.send_response(st)
                for k, v in h.items(): self.send_header(k, v)
                self.send_header('Content-Length', '0')
                self.end_headers()
            def log_message(self, *a): pass
        self.s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Hd)
        self.url = f'http://127.0.0.1:{self.s.server_port}/ice'
        threading.Thread(target=self.s.serve_forever, kwargs={'poll_interval': 0.05}, daemon=True).start()
    def bodies(self, n=None, wait=3):
        end = time.time() + wait
        while n is not None and len(self.got) < n and time.time() < end: time.sleep(0.02)
        if n is not None: time.sleep(0.08)
        return [json.loads(b) for _, b in self.got]
    def sorts(self, n): return [b.get('sort') for b in self.bodies(n)]
class W:
    """a service that runs"""
    def __init__(self, fault):
        for _ in range(5):       # another process may take a port that was free
            self.port, self.cp = free(), free()
            self.p = subprocess.Popen([sys.executable, '-B', 'service.py', '--port', str(self.port), '--clock-port', str(self.cp)] + (['--fault', fault] if fault else []), cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            if self.p.stdout.readline(): break
            self.p.wait()
            self.p.stdout.close()
        self.n, self.hooks = 0, []
    def end(self):
        self.p.terminate()
        self.p.wait()
        self.p.stdout.close()
        for h in self.hooks:
            h.s.shutdown()
            h.s.server_close()
    def q(self, who, m, path, body=None, v=None, raw=None, **h):
        h = {k.replace('_', '-'): x for k, x in h.items()}
        if who in KEY: h['Firn-Key'] = KEY[who]
        elif who in PW: h['Authorization'] = 'Basic ' + base64.b64encode(PW[who].encode()).decode()
        if v: h['Firn-Season'] = v
        if body is not None: raw = json.dumps(body)
        if raw is not None: h.setdefault('Content-Type', 'application/json')
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=10)
        c.request(m, '/cold' + path, raw, h)
        r = c.getresponse()
        b = r.read()
        c.close()
        return R(r.status, r.headers, json.loads(b) if b else None)
    def clock(self, **b):
        c = http.client.HTTPConnection('127.0.0.1', self.cp, timeout=30)
        c.request('POST' if b else 'GET', '/', json.dumps(b) if b else None)
        r = json.loads(c.getresponse().read())
        c.close()
        return r.get('now')
    def adv(self, d): return self.clock(advance=d)
    def at(self, hours):
        from datetime import datetime, timedelta
        t = datetime.fromisoformat(self.clock().replace('Z', '+00:00')) + timedelta(hours=hours)
        return t.isoformat(timespec='milliseconds').replace('+00:00', 'Z')
    def ok(self, r, st=None):
        assert r.st < 300 and (st is None or r.st == st), (r.st, r.j)
        return r.j
    def site(self, code='GRP', **k): return self.ok(self.q('ada', 'POST', '/sites', {'code': code, 'name': 'Site ' + code, 'surface_m': 100, **k}))
    def bay(self, **k):
        self.n += 1
        return self.ok(self.q('ada', 'POST', '/bays', {'name': f'bay {self.n}', 'slots': 5, 'celsius': -36.5, **k}))
    def core(self, **k): return self.ok(self.q('ada', 'POST', '/cores', {'site': 'VOS', 'length_mm': 2000, 'diameter_mm': 98, **k}))
    def stowed(self, **k):
        c = self.core(**k)
        b = self.bay()
        return self.ok(self.q('ada', 'POST', f'/cores/{c["id"]}/stow', {'bay': b['id']}))
    def act(self, who, what, row, body=None): return self.q(who, 'POST', f'/{"cuts" if row["id"].startswith("cut") else "cores"}/{row["id"]}/{what}', body)
    def ask(self, core, who='nils', v=None, **k): return self.q(who, 'POST', f'/cores/{core["id"]}/cuts', {'length_mm': 100, 'method': 'gas', **k}, v)
    def cut(self, core=None, who='nils', **k): return self.ok(self.ask(core or self.stowed(), who, **k))
    def granted(self, **k):
        c = self.cut(**k)
        return self.ok(self.act('ada', 'grant', c))
    def sawn(self, **k): return self.ok(self.act('ada', 'saw', self.granted(**k)))
    def shipped(self, **k): return self.ok(self.act('kaya', 'ship', self.sawn(**k), {'parcel': 'SLED-1'}))
    def get(self, row, who='ada', v=None):
        return self.q(who, 'GET', ('/cuts/' if row['id'].startswith('cut') else '/cores/') + row['id'], v=v)
    def hear(self, who='ada', v=None, plan=None, **k):
        h = Hook()
        if plan: h.plan = plan
        self.hooks.append(h)
        h.row = self.ok(self.q(who, 'POST', '/listeners', {'address': h.url, **k}, v))
        return h
    def patch_core(self, c, body, who='ada', tag=None):
        tag = tag or self.get(c, who).h['ETag']
        return self.q(who, 'PATCH', f'/cores/{c["id"]}', body, If_Match=tag)
TESTS = {}
def t(*ids):
    def keep(fn):
        for i in ids:
            assert i not in TESTS, i
            TESTS[i] = fn
        return fn
    return keep
def refused(r, st, why):
    eq(r.st, st)
    eq(r.why, why)

# ---- purpose
@t('base-other')
def _(w): eq(w.q(None, 'GET', '/about').st, 200)
@t('fn-no-deliver')
def _(w): eq(w.ok(w.act('kaya', 'deliver', w.shipped()))['state'], 'delivered')
@t('fn-no-diary-read')
def _(w):
    w.core()
    e = w.q('ada', 'GET', '/diary').j['rows'][0]
    eq(w.q('ada', 'GET', '/diary/' + e['id']).j, e)
@t('user-courier-unknown')
def _(w): eq(w.q('luis', 'GET', '/sites').st, 200)
@t('about-private')
def _(w): eq(w.q(None, 'GET', '/about').j, {'keeps': 'ice'})
@t('perm-no-melt-scope')
def _(w): refused(w.act('bo', 'melt', w.core()), 403, 'short_scope')
@t('perm-courier-saws')
def _(w):
    c = w.granted()
    eq(w.act('kaya', 'saw', c).st, 403)
@t('perm-curator-withdraws')
def _(w): refused(w.act('ada', 'withdraw', w.cut()), 403, 'off_limits')
@t('perm-lab-sees-diary')
def _(w): refused(w.q('nils', 'GET', '/diary'), 403, 'off_limits')
# ---- resources
def site_bad(ids, **k):
    @t(ids)
    def _(w): eq(w.q('ada', 'POST', '/sites', {'code': 'GRP', 'name': 'Grip', 'surface_m': 1, **k}).st, 422)
site_bad('lat-unbounded', at={'lat': 91, 'lon': 0})
site_bad('code-lower', code='grp')
site_bad('name-one-letter', name='G')
site_bad('tags-six', tags=list('abcdef'))
site_bad('tags-twice', tags=['a', 'a'])
site_bad('spoken-five', spoken={k: 'x' for k in 'abcde'})
site_bad('lon-optional', at={'lat': 1})
site_bad('surface-float', surface_m=1.5)
site_bad('unknown-field-passes', colour='white')
@t('slots-zero')
def _(w): eq(w.q('ada', 'POST', '/bays', {'name': 'x', 'slots': 0, 'celsius': -30}).st, 422)
@t('cut-1001')
def _(w): eq(w.ask(w.stowed(), length_mm=1001).st, 422)
@t('date-any-text')
def _(w): eq(w.q('ada', 'POST', '/cores', {'site': 'VOS', 'length_mm': 2000, 'diameter_mm': 98, 'drilled_on': '2020-02-30'}).st, 422)
@t('drill-any')
def _(w): eq(w.q('ada', 'POST', '/cores', {'site': 'VOS', 'length_mm': 2000, 'diameter_mm': 98, 'drill': 'laser'}).st, 422)
@t('drill-default-thermal')
def _(w): eq(w.core()['drill'], 'hand')
@t('core-site-movable')
def _(w):
    w.site()
    c = w.core()
    eq(w.patch_core(c, {'site': 'VOS', 'length_mm': 2100}).st, 200)
    refused(w.patch_core(c, {'site': 'GRP'}), 422, 'misfit')
@t('diameter-exclusive')
def _(w): eq(w.core(diameter_mm=20)['diameter_mm'], 20)
@t('method-optional')
def _(w): refused(w.q('nils', 'POST', f'/cores/{w.stowed()["id"]}/cuts', {'length_mm': 50}), 422, 'blank')
@t('reason-empty')
def _(w): eq(w.ask(w.stowed(), reason='').st, 422)
@t('active-default-off')
def _(w): eq(w.hear().row['active'], True)
@t('note-to-labs')
def _(w):
    c = w.core(keeper_note='cracked')
    eq(w.get(c).j['keeper_note'], 'cracked')
    assert 'keeper_note' not in w.get(c, 'nils').j
@t('fee-to-couriers')
def _(w):
    c = w.sawn()
    eq(w.get(c, 'nils').j['fee_cents'], 1200)
    assert 'fee_cents' not in w.get(c, 'kaya').j
@t('secret-stays')
def _(w):
    h = w.hear()
    assert h.row['secret'].startswith('sh_')
    assert 'secret' not in w.q('ada', 'GET', '/listeners/' + h.row['id']).j
@t('door-code-stays')
def _(w): assert 'door_code' not in w.get(w.cut(), 'nils').j
@t('door-code-short')
def _(w): eq(len(w.cut()['door_code']), 6)
@t('asker-writable')
def _(w): eq(w.cut(asker='piet')['asker'], 'nils')
@t('cut-lab')
def _(w): eq(w.cut()['lab'], 'aurora')
@t('logged-by')
def _(w): eq(w.core()['logged_by'], 'ada')
@t('number-global')
def _(w):
    w.site()
    eq([w.core()['number'], w.core(site='GRP')['number'], w.core()['number']], [1, 1, 2])
@t('left-forgets-delivered')
def _(w):
    c = w.shipped()
    w.ok(w.act('kaya', 'deliver', c))
    eq(w.get({'id': c['core']}).j['left_mm'], 1900)
@t('left-forgets-referred')
def _(w):
    c = w.granted(length_mm=600)
    eq(w.get({'id': c['core']}).j['left_mm'], 1400)
@t('pending-without-referred')
def _(w):
    c = w.granted(length_mm=600)
    eq(w.get({'id': c['core']}).j['pending'], 1)
@t('held-without-sealed')
def _(w):
    c = w.stowed()
    w.ok(w.act('ada', 'seal', c))
    eq(w.q('ada', 'GET', f'/bays/{c["bay"]}').j['held'], 1)
@t('core-left-cached', 'etag-without-derived')
def _(w):
    c = w.stowed()
    a = w.get(c)
    w.cut(c)
    b = w.get(c)
    eq(b.j['left_mm'], 1900)
    assert a.h['ETag'] != b.h['ETag']
@t('rule-length')
def _(w): eq(w.q('ada', 'POST', '/cores', {'site': 'VOS', 'length_mm': 100, 'diameter_mm': 101}).st, 422)
@t('unique-site')
def _(w): refused(w.q('ada', 'POST', '/sites', {'code': 'XYZ', 'name': 'Vostok', 'surface_m': 1}), 409, 'twin')
@t('unique-case')
def _(w): refused(w.q('ada', 'POST', '/sites', {'code': 'XYZ', 'name': 'VOSTOK', 'surface_m': 1}), 409, 'twin')
@t('unique-bay')
def _(w):
    w.bay(name='A')
    refused(w.q('ada', 'POST', '/bays', {'name': 'A', 'slots': 5, 'celsius': -30}), 409, 'twin')
@t('no-first-row')
def _(w): eq(w.q('ada', 'GET', '/sites/VOS').j['surface_m'], 3488)
@t('gone-missing')
def _(w):
    w.site()
    eq(w.q('ada', 'DELETE', '/sites/GRP').st, 204)
    refused(w.q('nils', 'GET', '/sites/GRP'), 410, 'thawed')
@t('gone-three-days', 'gone-forever', 'err-gone-404')
def _(w):
    w.site()
    w.q('ada', 'DELETE', '/sites/GRP')
    w.adv('P29D')
    refused(w.q('ada', 'GET', '/sites/GRP'), 410, 'thawed')
    w.adv('P2D')
    refused(w.q('ada', 'GET', '/sites/GRP'), 404, 'no_such_ice')
@t('gone-listed')
def _(w):
    w.site()
    w.q('ada', 'DELETE', '/sites/GRP')
    eq(w.q('ada', 'GET', '/sites').j['of'], 1)
@t('site-not-held')
def _(w):
    w.core()
    refused(w.q('ada', 'DELETE', '/sites/VOS'), 409, 'held_fast')
@t('core-any-site', 'err-loose-404')
def _(w): refused(w.q('ada', 'POST', '/cores', {'site': 'QQQ', 'length_mm': 2000, 'diameter_mm': 98}), 422, 'loose_end')
@t('changed-only-update')
def _(w):
    c = w.core()
    w.adv('PT1H')
    b = w.bay()
    s = w.ok(w.act('ada', 'stow', c, {'bay': b['id']}))
    assert s['changed_at'] > c['changed_at']
@t('core-changed-by-clock')
def _(w):
    c = w.core()
    w.adv('PT37H')
    assert w.get(c).j['changed_at'] > c['changed_at']
@t('changed-at-noop')
def _(w):
    c = w.core()
    w.adv('PT1H')
    eq(w.ok(w.patch_core(c, {'length_mm': 2000}))['changed_at'], c['changed_at'])
@t('moved-at-stale')
def _(w):
    c = w.shipped()
    w.adv('PT1H')
    assert w.ok(w.act('kaya', 'deliver', c))['moved_at'] > c['moved_at']
@t('fee-gas')
def _(w): eq(w.granted()['fee_cents'], 1200)
@t('fee-referred-none')
def _(w): eq(w.granted(length_mm=600, method='dust').get('fee_cents'), 4200)
@t('entered-writable')
def _(w): assert w.site(entered_at='2001-01-01T00:00:00Z')['entered_at'] > '2002'
# ---- states
@t('bay-starts-warm')
def _(w): eq(w.bay()['condition'], 'cold')
@t('chill-unguarded', 'chill-old-celsius', 'chill-exclusive')
def _(w):
    b = w.bay(celsius=-5)
    p = f'/bays/{b["id"]}'
    eq(w.ok(w.q('ada', 'PATCH', p, {'condition': 'warm'}))['condition'], 'warm')
    refused(w.q('ada', 'PATCH', p, {'condition': 'cold', 'celsius': -19.9}), 409, 'not_cold')
    eq(w.ok(w.q('ada', 'PATCH', p, {'condition': 'cold', 'celsius': -20}))['condition'], 'cold')
@t('bay-any-move')
def _(w):
    b = w.bay()
    refused(w.q('ada', 'PATCH', f'/bays/{b["id"]}', {'condition': 'shut'}), 409, 'wrong_state')
@t('shut-in-use')
def _(w):
    c = w.stowed()
    refused(w.q('ada', 'POST', f'/bays/{c["bay"]}/shut'), 409, 'bay_in_use')
@t('seal-pending')
def _(w):
    c = w.stowed()
    w.cut(c)
    refused(w.act('ada', 'seal', c), 409, 'cuts_pending')
@t('melt-not-sealed')
def _(w):
    c = w.stowed()
    w.ok(w.act('ada', 'seal', c))
    eq(w.ok(w.act('ada', 'melt', c))['state'], 'melted')
@t('unseal-to-logged')
def _(w):
    c = w.stowed()
    w.ok(w.act('ada', 'seal', c))
    eq(w.ok(w.act('ada', 'unseal', c))['state'], 'stowed')
@t('withdraw-sawn', 'err-wrong-state-own')
def _(w): refused(w.act('nils', 'withdraw', w.sawn()), 409, 'too_late')
@t('refuse-not-granted')
def _(w): eq(w.ok(w.act('ada', 'refuse', w.granted()))['state'], 'refused')
@t('deliver-from-sawn')
def _(w): refused(w.act('kaya', 'deliver', w.sawn()), 409, 'wrong_state')
@t('saw-asked')
def _(w): refused(w.act('ada', 'saw', w.cut()), 409, 'wrong_state')
@t('lapse-withdrawn', 'lapse-never', 'lapse-week', 'lapse-from-asked')
def _(w):
    c = w.cut()
    w.adv('PT60H')
    w.ok(w.act('ada', 'grant', c))
    w.adv('PT71H')
    eq(w.get(c).j['state'], 'granted')
    w.adv('PT2H')
    eq(w.get(c).j['state'], 'lapsed')
@t('spoil-48', 'spoil-never')
def _(w):
    c = w.core()
    w.adv('PT35H59M')
    eq(w.get(c).j['state'], 'logged')
    w.adv('PT2M')
    eq(w.get(c).j['state'], 'melted')
@t('forget-never', 'forget-late')
def _(w):
    c = w.cut(needed_by=w.at(60))
    w.adv('PT59H')
    eq(w.get(c).j['state'], 'asked')
    w.adv('PT2H')
    eq(w.get(c).j['state'], 'withdrawn')
@t('timer-not-moved')
def _(w):
    c = w.cut(needed_by=w.at(60))
    w.ok(w.q('nils', 'PATCH', '/cuts/' + c['id'], {'needed_by': w.at(100)}))
    w.adv('PT61H')
    eq(w.get(c).j['state'], 'asked')
    w.adv('PT40H')
    eq(w.get(c).j['state'], 'withdrawn')
@t('grant-500')
def _(w): eq(w.granted(length_mm=500)['state'], 'granted')
@t('grant-never-refers')
def _(w): eq(w.granted(length_mm=501)['state'], 'referred')
@t('melt-leaves-cuts', 'melt-leaves-granted')
def _(w):
    c = w.granted()
    w.ok(w.act('ada', 'melt', {'id': c['core']}))
    eq(w.get(c).j['state'], 'refused')
@t('update-sealed')
def _(w):
    c = w.stowed()
    w.ok(w.act('ada', 'seal', c))
    refused(w.patch_core(c, {'length_mm': 2100}), 409, 'wrong_state')
@t('update-referred')
def _(w):
    c = w.granted(length_mm=600)
    refused(w.q('nils', 'PATCH', '/cuts/' + c['id'], {'reason': 'y'}), 409, 'wrong_state')
# ---- endpoints
@t('no-location', 'created-200')
def _(w):
    r = w.q('ada', 'POST', '/sites', {'code': 'GRP', 'name': 'Grip', 'surface_m': 1})
    eq((r.st, r.h['Location']), (201, '/cold/sites/GRP'))
@t('null-kept')
def _(w):
    w.site(tags=['deep'])
    assert 'tags' not in w.ok(w.q('ada', 'PATCH', '/sites/GRP', {'tags': None}))
@t('patch-shallow')
def _(w): eq(w.ok(w.q('ada', 'PATCH', '/sites/VOS', {'at': {'lat': -78}}))['at'], {'lat': -78, 'lon': 106.83})
@t('no-merge-patch')
def _(w): eq(w.q('ada', 'PATCH', '/sites/VOS', {'surface_m': 3490}, Content_Type='application/merge-patch+json').st, 200)
@t('readonly-taken')
def _(w): eq(w.q('ada', 'POST', '/bays', {'name': 'x', 'slots': 1, 'celsius': -30, 'held': 3}).st, 422)
@t('if-match-optional', 'err-tag-412')
def _(w): refused(w.q('ada', 'PATCH', f'/cores/{w.core()["id"]}', {'length_mm': 2500}), 428, 'tag_wanted')
@t('if-match-ignored')
def _(w): refused(w.q('ada', 'PATCH', f'/cores/{w.core()["id"]}', {'length_mm': 2500}, If_Match='"old"'), 412, 'stale')
@t('if-match-weak')
def _(w):
    c = w.core()
    refused(w.patch_core(c, {'length_mm': 2500}, tag='W/' + w.get(c).h['ETag'].removeprefix('W/')), 412, 'stale')
@t('no-304')
def _(w):
    e = w.q('ada', 'GET', '/sites/VOS').h['ETag']
    eq(w.q('ada', 'GET', '/sites/VOS', If_None_Match=e).st, 304)
@t('etag-weak', 'no-etag')
def _(w): assert (w.q('ada', 'GET', '/sites/VOS').h['ETag'] or '').startswith('"')
@t('no-cache-control')
def _(w): eq(w.q('ada', 'GET', '/sites/VOS').h['Cache-Control'], 'private, max-age=30')
def codes(r): return [x['code'] for x in r.j['rows']]
@t('above-inclusive')
def _(w): eq(codes(w.q('ada', 'GET', '/sites?above=3488')), [])
@t('q-case', 'q-first-word')
def _(w):
    w.site('DOM', name='Dome Charlie')
    w.site('DOF', name='Dome Fuji')
    eq(codes(w.q('nils', 'GET', '/sites?q=fuji+DOME')), ['DOF'])
    eq(codes(w.q('nils', 'GET', '/sites?q=dome+charlie')), ['DOM'])
@t('sites-unordered')
def _(w):
    w.site('AAA')
    eq(codes(w.q('ada', 'GET', '/sites')), ['AAA', 'VOS'])
@t('sort-no-desc')
def _(w):
    w.site('AAA')
    eq(codes(w.q('ada', 'GET', '/sites?sort=-height')), ['VOS', 'AAA'])
@t('bays-wrapped')
def _(w):
    w.bay()
    eq(type(w.q('ada', 'GET', '/bays').j), list)
@t('bays-first-only')
def _(w):
    w.bay()
    b = w.bay()
    w.q('ada', 'POST', f'/bays/{b["id"]}/shut')
    eq(len(w.q('ada', 'GET', '/bays?condition=cold,shut').j), 2)
@t('core-state-filter')
def _(w):
    w.core()
    eq(w.q('ada', 'GET', '/cores?state=stowed').j['rows'], [])
@t('min-left-length')
def _(w):
    w.cut()
    eq(w.q('ada', 'GET', '/cores?min_left=1901').j['of'], 0)
    eq(w.q('ada', 'GET', '/cores?min_left=1900').j['of'], 1)
@t('before-inclusive')
def _(w):
    w.core(drilled_on='2020-01-05')
    eq(w.q('ada', 'GET', '/cores?drilled_before=2020-01-05').j['of'], 0)
@t('ties-oldest')
def _(w):
    a, b = w.core(), w.core()
    eq([x['id'] for x in w.q('ada', 'GET', '/cores').j['rows']], [b['id'], a['id']])
@t('cuts-site-filter')
def _(w):
    w.site()
    w.cut()
    eq(w.q('ada', 'GET', '/cuts?site=GRP').j['of'], 0)
@t('since-exclusive')
def _(w):
    c = w.cut()
    eq(w.q('ada', 'GET', '/cuts?asked_since=' + c['asked_at']).j['of'], 1)
@t('cuts-oldest-first')
def _(w):
    k = w.stowed()
    a, b = w.cut(k), w.cut(k)
    eq([x['id'] for x in w.q('ada', 'GET', '/cuts').j['rows']], [b['id'], a['id']])
@t('param-unknown-passes')
def _(w): refused(w.q('ada', 'GET', '/cores?colour=blue'), 400, 'odd_query')
@t('param-twice')
def _(w): refused(w.q('ada', 'GET', '/cores?state=logged&state=stowed'), 400, 'odd_query')
@t('param-state-any')
def _(w): refused(w.q('ada', 'GET', '/cuts?state=frozen'), 400, 'odd_query')
@t('no-allow')
def _(w):
    r = w.q('ada', 'DELETE', '/bays')
    refused(r, 405, 'wrong_tool')
    assert 'GET' in r.h['Allow'] and 'POST' in r.h['Allow']
@t('diary-oldest', 'diary-kind-exact')
def _(w):
    w.stowed()
    eq([x['kind'] for x in w.q('ada', 'GET', '/diary?kind=core').j['rows']], ['core.moved', 'core.logged'])
@t('parcel-25')
def _(w): eq(w.act('kaya', 'ship', w.sawn(), {'parcel': 'x' * 25}).st, 422)
# ---- authentication
@t('auth-key-any-case')
def _(w): refused(w.q(None, 'GET', '/sites', Firn_Key=KEY['nils'].upper()), 401, 'stranger')
@t('auth-key-prefix')
def _(w): refused(w.q(None, 'GET', '/sites', Firn_Key=KEY['nils'][:-1]), 401, 'stranger')
def basic(x): return 'Basic ' + base64.b64encode(x.encode()).decode()
@t('auth-any-password')
def _(w): refused(w.q(None, 'GET', '/sites', Authorization=basic('ada:wrong')), 401, 'stranger')
@t('auth-password-start')
def _(w): refused(w.q(None, 'GET', '/sites', Authorization=basic('ada:icefall')), 401, 'stranger')
@t('auth-one-good-enough')
def _(w): refused(w.q('nils', 'GET', '/sites', Authorization=basic('ada:wrong')), 401, 'stranger')
@t('auth-two-callers')
def _(w): refused(w.q('nils', 'GET', '/sites', Authorization=basic(PW['ada'])), 401, 'stranger')
@t('auth-no-challenge')
def _(w):
    c = w.q(None, 'GET', '/sites').h.get_all('WWW-Authenticate') or []
    assert 'Basic realm="Firn"' in ', '.join(c)
@t('perm-site-fields')
def _(w): eq(w.q('kaya', 'GET', '/sites/VOS').j, {'code': 'VOS', 'name': 'Vostok'})
@t('perm-shut-bay')
def _(w):
    b = w.bay()
    w.q('ada', 'POST', f'/bays/{b["id"]}/shut')
    refused(w.q('nils', 'GET', f'/bays/{b["id"]}'), 404, 'no_such_ice')
@t('perm-bay-fields')
def _(w): eq(sorted(w.q('nils', 'GET', f'/bays/{w.bay()["id"]}').j), ['condition', 'id', 'name'])
@t('perm-melted-read', 'perm-melted-list')
def _(w):
    c = w.core()
    w.ok(w.act('ada', 'melt', c))
    eq(w.q('nils', 'GET', '/cores').j['of'], 0)
    refused(w.get(c, 'nils'), 404, 'no_such_ice')
@t('perm-colleague-hidden')
def _(w): eq(w.get(w.cut(), 'tove').st, 200)
@t('perm-all-labs-read', 'perm-forbidden-leak')
def _(w): refused(w.get(w.cut(), 'piet'), 404, 'no_such_ice')
@t('perm-list-all-cuts')
def _(w):
    w.cut()
    eq(w.q('piet', 'GET', '/cuts').j['of'], 0)
@t('perm-courier-granted')
def _(w): refused(w.get(w.granted(), 'kaya'), 404, 'no_such_ice')
@t('perm-courier-no-delivered')
def _(w):
    w.ok(w.act('kaya', 'deliver', w.shipped()))
    eq(w.q('kaya', 'GET', '/cuts').j['of'], 1)
@t('perm-no-ask-scope', 'err-scope-401')
def _(w): refused(w.ask(w.stowed(), 'rosa'), 403, 'short_scope')
@t('perm-colleague-acts')
def _(w): refused(w.act('tove', 'withdraw', w.cut()), 403, 'off_limits')
@t('perm-listener-any')
def _(w): refused(w.q('ada', 'GET', '/listeners/' + w.hear('nils').row['id']), 404, 'no_such_ice')
@t('perm-listener-list')
def _(w):
    w.hear('nils')
    eq(w.q('ada', 'GET', '/listeners').j['of'], 0)
@t('perm-filter-hidden')
def _(w): refused(w.q('kaya', 'GET', '/sites?above=10'), 400, 'odd_query')
# ---- events
@t('ev-sha256', 'ev-signs-no-id', 'ev-kind-header', 'ev-envelope-default', 'ev-id-apart', 'log-lost-core-logged')
def _(w):
    h = w.hear()
    c = w.core()
    b = h.bodies(1)[0]
    head, raw = h.got[0]
    eq(sorted(b), ['ice', 'no', 'sort', 'when'])
    eq((b['sort'], b['ice']['id'], head['Firn-Kind']), ('core.logged', c['id'], 'core.logged'))
    at, ice = (x.split('=')[1] for x in head['Firn-Seal'].split(','))
    eq(ice, hmac.new(h.row['secret'].encode(), f'{b["no"]}|{at}|'.encode() + raw, hashlib.sha512).hexdigest())
    eq(w.q('ada', 'GET', '/diary').j['rows'][0]['id'], b['no'])
@t('ev-inactive-heard')
def _(w):
    h, k = w.hear(active=False), w.hear()
    w.core()
    k.bodies(1)
    eq(len(h.got), 0)
@t('ev-topics-ignored', 'ev-wildcard-dead')
def _(w):
    h = w.hear(topics=['cut.*'])
    c = w.cut()
    eq(h.sorts(1), ['cut.asked'])
@t('topics-unchecked')
def _(w): eq(w.q('ada', 'POST', '/listeners', {'address': 'http://127.0.0.1:1/', 'topics': ['core.eaten']}).st, 422)
@t('ev-moved-readers-only')
def _(w):
    h = w.hear('kaya')
    w.stowed()
    eq(h.sorts(1), ['core.moved'])
@t('ev-anyone-hears')
def _(w):
    h, k = w.hear('piet', topics=['cut.*']), w.hear('tove', topics=['cut.*'])
    w.cut()
    eq(k.sorts(1), ['cut.asked'])
    eq(len(h.got), 0)
@t('ev-note-leaks')
def _(w):
    h = w.hear('nils')
    w.core(keeper_note='secret')
    assert 'keeper_note' not in h.bodies(1)[0]['ice']
@t('ev-bay-fields')
def _(w):
    h = w.hear('nils')
    b = w.bay()
    w.q('ada', 'PATCH', f'/bays/{b["id"]}', {'condition': 'warm'})
    eq(h.bodies(1)[0]['ice'], {'id': b['id'], 'name': b['name'], 'condition': 'warm'})
@t('ev-warmed-always')
def _(w):
    h = w.hear()
    b = w.bay()
    w.q('ada', 'PATCH', f'/bays/{b["id"]}', {'slots': 9})
    w.core()
    eq(h.sorts(1), ['core.logged'])
@t('ev-newest-version')
def _(w):
    h = w.hear(v='winter-1', topics=['cut.asked'])
    w.cut(method='chemistry')
    eq(h.bodies(1)[0]['ice']['method'], 'ions')
@t('ev-doubled', 'ev-before-row')
def _(w):
    h = w.hear(topics=['cut.decided'])
    w.granted()
    eq([b['ice']['state'] for b in h.bodies(1)], ['granted'])
@t('ev-was-is', 'ev-unseal-silent')
def _(w):
    h = w.hear(topics=['core.moved'])
    c = w.stowed()
    w.ok(w.act('ada', 'seal', c))
    w.ok(w.act('ada', 'unseal', c))
    eq([(b['ice']['was'], b['ice']['is']) for b in h.bodies(3)], [('logged', 'stowed'), ('stowed', 'sealed'), ('sealed', 'stowed')])
@t('ev-spoil-silent')
def _(w):
    h = w.hear(topics=['core.moved'])
    w.core()
    w.adv('PT37H')
    eq(h.sorts(1), ['core.moved'])
@t('ev-how', 'ev-lapse-silent')
def _(w):
    h = w.hear(topics=['cut.ended'])
    w.granted()
    w.adv('PT73H')
    eq([b['ice']['how'] for b in h.bodies(1)], ['lapsed'])
@t('ev-melt-refusal-silent')
def _(w):
    h = w.hear(topics=['cut.decided'])
    c = w.cut()
    w.act('ada', 'melt', {'id': c['core']})
    eq([b['ice']['state'] for b in h.bodies(1)], ['refused'])
@t('ev-deliver-silent')
def _(w):
    h = w.hear('kaya', topics=['cut.moving'])
    c = w.shipped()
    w.ok(w.act('kaya', 'deliver', c))
    eq([b['ice'] for b in h.bodies(3)], [c['id']] * 3)
@t('ev-remeasured-always', 'ev-remeasured-swapped')
def _(w):
    h = w.hear(topics=['core.remeasured'])
    c = w.core()
    w.ok(w.patch_core(c, {'drill': 'thermal'}))
    w.ok(w.patch_core(c, {'length_mm': 2200}))
    eq([b['ice'] for b in h.bodies(1)], [{'core': c['id'], 'from_mm': 2000, 'to_mm': 2200}])
@t('pressing-never', 'pressing-half-day')
def _(w):
    h = w.hear(topics=['cut.pressing'])
    w.cut(needed_by=w.at(60))
    w.adv('PT35H')
    eq(len(h.got), 0)
    w.adv('PT2H')
    eq(h.sorts(1), ['cut.pressing'])
@t('ev-retry-two', 'ev-never-retry', 'ev-retry-late')
def _(w):
    h = w.hear(plan=[(500, {})])
    w.core()
    h.bodies(1)
    for d, n in (('PT25S', 2), ('PT4M', 3), ('PT80M', 4), ('PT30H', 4)):
        w.adv(d)
        eq(len([b for b in h.bodies() if b['sort'] == 'core.logged']), n)
@t('ev-old-timestamp')
def _(w):
    h = w.hear(plan=[(500, {})])
    w.core()
    h.bodies(1)
    w.adv('PT30S')
    a, b = (int(x[0]['Firn-Seal'].split(',')[0][3:]) for x in h.got[:2])
    assert b - a >= 15
@t('ev-redirect-ok')
def _(w):
    h = w.hear(plan=[(302, {'Location': '/x'})])
    w.core()
    h.bodies(1)
    w.adv('PT25S')
    eq(len(h.got), 2)
@t('ev-410-goes-on')
def _(w):
    h = w.hear(plan=[(410, {})])
    w.core()
    h.bodies(1)
    eq(w.q('ada', 'GET', '/listeners/' + h.row['id']).j['active'], False)
@t('log-lost-listener-silenced')
def _(w):
    h = w.hear(plan=[(410, {})])
    w.core()
    h.bodies(1)
    eq(w.q('ada', 'GET', '/diary').j['rows'][0]['told'], {'listener': h.row['id']})
@t('ev-retry-after')
def _(w):
    h = w.hear(plan=[(503, {'Retry-After': '600'})])
    w.core()
    h.bodies(1)
    w.adv('PT5M')
    eq(len(h.got), 1)
    w.adv('PT6M')
    eq(len(h.bodies(2)), 2)
@t('ev-never-silenced')
def _(w):
    h = w.hear(plan=[(500, {})])
    for _ in range(5):
        w.core()
        w.adv('PT15H')
    eq(w.q('ada', 'GET', '/listeners/' + h.row['id']).j['active'], False)
@t('ev-any-order')
def _(w):
    h = w.hear(plan=[(500, {}), (200, {})])
    c = w.core()
    h.bodies(1)
    w.act('ada', 'melt', c)
    h.bodies(2, 0.4)
    eq(len(h.got), 1)
    w.adv('PT30S')
    eq(h.sorts(3), ['core.logged', 'core.logged', 'core.moved'])
@t('log-doubled', 'log-lost-cut-asked')
def _(w):
    w.cut()
    eq(w.q('ada', 'GET', '/diary?kind=cut').j['of'], 1)
@t('log-thing')
def _(w):
    w.core()
    eq(w.q('ada', 'GET', '/diary').j['rows'][0]['thing'], 'core')
@t('log-thirty-days')
def _(w):
    w.stowed()
    w.adv('P19DT23H')
    eq(w.q('ada', 'GET', '/diary').j['of'], 2)
    w.adv('P1D')
    eq(w.q('ada', 'GET', '/diary').j['of'], 0)
# ---- errors
@t('err-spent-409', 'cut-spent')
def _(w):
    c = w.stowed(length_mm=150)
    w.cut(c)
    refused(w.ask(c), 422, 'core_spent')
@t('cut-spent-off')
def _(w): eq(w.ask(w.stowed(length_mm=100)).st, 201)
@t('spent-on-update')
def _(w):
    c = w.cut(w.stowed(length_mm=150))
    refused(w.q('nils', 'PATCH', '/cuts/' + c['id'], {'length_mm': 151}), 422, 'core_spent')
@t('err-media-400', 'media-any')
def _(w): refused(w.q('ada', 'POST', '/sites', {'code': 'AAA', 'name': 'aa', 'surface_m': 1}, Content_Type='text/plain'), 415, 'wrong_media')
@t('err-season-404', 'v-unknown-current')
def _(w): refused(w.q('ada', 'GET', '/sites', v='winter-9'), 400, 'unknown_season')
@t('err-code-misfit-blank', 'err-http-member', 'err-name-left', 'err-envelope', 'err-no-crack')
def _(w):
    r = w.q('ada', 'POST', '/sites', {'code': 'AAA', 'surface_m': 1})
    eq(r.j, {'cracked': {'why': 'blank', 'http': 422, 'words': 'name is missing', 'where': ['name']}})
    eq(r.h['Firn-Crack'], 'blank')
@t('err-pointer-paths', 'err-first-only')
def _(w): eq(w.q('ada', 'POST', '/sites', {'code': 'AAA', 'name': 'aa', 'surface_m': 1, 'at': {'lat': 99, 'lon': 199}}).j['cracked']['where'], ['at.lat', 'at.lon'])
@t('order-body-first')
def _(w): refused(w.q('ada', 'POST', '/sites?x=1', raw='{'), 400, 'odd_query')
@t('stow-in-warm')
def _(w):
    b = w.bay()
    w.q('ada', 'PATCH', f'/bays/{b["id"]}', {'condition': 'warm'})
    refused(w.act('ada', 'stow', w.core(), {'bay': b['id']}), 409, 'bay_unfit')
@t('stow-one-too-many')
def _(w):
    b = w.bay(slots=1)
    w.ok(w.act('ada', 'stow', w.core(), {'bay': b['id']}))
    refused(w.act('ada', 'stow', w.core(), {'bay': b['id']}), 409, 'bay_full')
@t('cut-sealed')
def _(w):
    c = w.stowed()
    w.ok(w.act('ada', 'seal', c))
    refused(w.ask(c), 409, 'core_shut')
@t('soon-24')
def _(w): refused(w.ask(w.stowed(), needed_by=w.at(47)), 422, 'too_soon')
@t('overcut-passes')
def _(w):
    c = w.stowed()
    w.cut(c, length_mm=500)
    refused(w.patch_core(c, {'length_mm': 499}), 422, 'overcut')
# ---- limits
@t('rate-main', 'no-retry-after')
def _(w):
    for _ in range(240): eq(w.q('nils', 'GET', '/diary').st, 403)
    r = w.q('nils', 'GET', '/sites')
    refused(r, 429, 'slow_down')
    assert 1 <= int(r.h['Retry-After']) <= 60
    w.adv('PT61S')
    eq(w.q('nils', 'GET', '/sites').st, 200)
@t('rate-shared', 'no-rate-headers', 'rate-left-off')
def _(w):
    w.q('nils', 'GET', '/sites')
    h = w.q('piet', 'GET', '/sites').h
    eq((h['Firn-Allowed'], h['Firn-Left']), ('240', '239'))
@t('rate-anyone')
def _(w): eq([w.q(None, 'GET', '/about').st for _ in range(84)][-1], 429)
@t('rate-cut-13', 'rate-cut-minute', 'rate-refused-counts')
def _(w):
    c = {'id': 'core-none'}
    for _ in range(12): eq(w.ask(c).st, 404)
    refused(w.ask(c), 429, 'slow_down')
    w.adv('PT9M')
    for _ in range(12): refused(w.ask(c), 429, 'slow_down')
    w.adv('PT61S')
    eq(w.ask(c).st, 404)
def use_up(w, n):
    c = w.stowed()
    for i in range(n):
        if i and i % 5 == 0: w.adv('PT10M1S')
        k = w.ok(w.ask(c, 'nils' if i % 2 else 'tove', length_mm=5))
        w.ok(w.act('ada', 'refuse', k))
    return c
@t('quota-21', 'quota-per-caller', 'quota-hour', 'err-quota-429')
def _(w):
    w.clock(now=w.clock()[:10] + 'T23:59:59Z')
    w.adv('PT5M')
    c = use_up(w, 20)
    w.adv('PT1H')
    r = w.ask(c)
    refused(r, 403, 'used_up')
    w.adv('P1D')
    w.ok(w.ask(c))
@t('rows-cuts', 'rows-cuts-seven')
def _(w):
    c = w.stowed()
    for _ in range(6): w.cut(c)
    refused(w.ask(c), 403, 'used_up')
@t('rows-cuts-all')
def _(w):
    c = w.stowed()
    for _ in range(6): w.ok(w.act('ada', 'refuse', w.cut(c)))
    w.cut(c)
@t('rows-listeners')
def _(w):
    for _ in range(3): w.hear()
    refused(w.q('ada', 'POST', '/listeners', {'address': 'http://127.0.0.1:1/'}), 403, 'used_up')
@t('size-url')
def _(w): refused(w.q('ada', 'GET', '/sites?q=' + 'x' * (1025 - len('/cold/sites?q='))), 413, 'too_big')
@t('size-headers')
def _(w): refused(w.q('ada', 'GET', '/sites', X_Long='y' * 8192), 413, 'too_big')
@t('size-body')
def _(w):
    j = json.dumps({'code': 'AAA', 'name': 'aa', 'surface_m': 1})
    refused(w.q('ada', 'POST', '/sites', raw=j + ' ' * (6145 - len(j))), 413, 'too_big')
    eq(w.q('ada', 'POST', '/sites', raw=j + ' ' * (6144 - len(j))).st, 201)
@t('page-from-zero', 'page-overlap', 'page-more', 'page-total', 'page-here')
def _(w):
    ids = [w.core()['id'] for _ in range(4)][::-1]
    a, b = w.q('ada', 'GET', '/cores?per=2').j, w.q('ada', 'GET', '/cores?per=2&sheet=2').j
    eq([x['id'] for x in a['rows'] + b['rows']], ids)
    eq((a['more'], b['more'], a['of'], b['here']), (True, False, 4, '/cold/cores'))
@t('page-default')
def _(w):
    for _ in range(11): w.core()
    eq(len(w.q('ada', 'GET', '/cores').j['rows']), 10)
@t('page-max', 'page-clamp')
def _(w): refused(w.q('ada', 'GET', '/cores?per=41'), 400, 'bad_page')
@t('page-zero')
def _(w): refused(w.q('ada', 'GET', '/cores?sheet=0'), 400, 'bad_page')
@t('once-ignored', 'once-secret')
def _(w):
    c = w.stowed()
    a = w.q('nils', 'POST', f'/cores/{c["id"]}/cuts', {'length_mm': 10, 'method': 'gas'}, Firn_Once='k1')
    b = w.q('nils', 'POST', f'/cores/{c["id"]}/cuts', {'length_mm': 10, 'method': 'gas'}, Firn_Once='k1')
    eq((b.st, b.j['id']), (201, a.j['id']))
    assert 'door_code' in a.j and 'door_code' not in b.j
@t('once-shared')
def _(w):
    p = f'/cores/{w.stowed()["id"]}/cuts'
    a, b = (w.q(x, 'POST', p, {'length_mm': 10, 'method': 'gas'}, Firn_Once='k1').j for x in ('nils', 'piet'))
    eq((a['asker'], b['asker']), ('nils', 'piet'))
@t('once-body-ignored', 'err-reused-422')
def _(w):
    w.q('ada', 'POST', '/sites', {'code': 'AAA', 'name': 'aa', 'surface_m': 1}, Firn_Once='k')
    refused(w.q('ada', 'POST', '/sites', {'code': 'BBB', 'name': 'bb', 'surface_m': 1}, Firn_Once='k'), 409, 'key_reused')
@t('once-one-hour')
def _(w):
    b = {'site': 'VOS', 'length_mm': 2000, 'diameter_mm': 98}
    a = w.q('ada', 'POST', '/cores', b, Firn_Once='k').j['id']
    w.adv('PT11H')
    eq(w.q('ada', 'POST', '/cores', b, Firn_Once='k').j['id'], a)
    w.adv('PT2H')
    assert w.q('ada', 'POST', '/cores', b, Firn_Once='k').j['id'] != a
@t('once-not-errors')
def _(w):
    c = w.core()
    b = w.bay()
    p = f'/cores/{c["id"]}/stow'
    w.q('ada', 'PATCH', f'/bays/{b["id"]}', {'condition': 'warm'})
    eq(w.q('ada', 'POST', p, {'bay': b['id']}, Firn_Once='k').why, 'bay_unfit')
    w.q('ada', 'PATCH', f'/bays/{b["id"]}', {'condition': 'cold'})
    refused(w.q('ada', 'POST', p, {'bay': b['id']}, Firn_Once='k'), 409, 'bay_unfit')
# ---- versioning
V1 = 'winter-1'
@t('v1-reason')
def _(w):
    c = w.cut(reason='dust veil')
    r = w.get(c, 'nils', V1).j
    assert 'reason' not in r
    eq(r['purpose'], 'dust veil')
@t('v1-ions-down')
def _(w): eq(w.get(w.cut(method='chemistry'), 'nils', V1).j['method'], 'ions')
@t('v1-ions-up')
def _(w):
    c = w.ok(w.ask(w.stowed(), v=V1, method='ions'))
    eq(w.get(c).j['method'], 'chemistry')
@t('v1-drill-shown')
def _(w): assert 'drill' not in w.get(w.core(), 'ada', V1).j
@t('v1-no-country')
def _(w): eq(w.q('ada', 'GET', '/sites/VOS', v=V1).j['country'], 'AQ')
@t('v1-list-newest')
def _(w): eq(w.q('ada', 'GET', '/sites', v=V1).j['rows'][0]['country'], 'AQ')
@t('v1-filter')
def _(w):
    w.cut(method='chemistry')
    eq(w.q('ada', 'GET', '/cuts?method=ions', v=V1).j['of'], 1)
@t('v1-bays-there')
def _(w): eq(w.q('ada', 'GET', '/bays', v=V1).st, 405)
@t('v-default-oldest')
def _(w): assert 'country' not in w.q('ada', 'GET', '/sites/VOS').j
@t('v-not-named')
def _(w): eq(w.q('ada', 'GET', '/sites', v=V1).h['Firn-Season'], V1)
@t('v-never-sunset')
def _(w):
    w.clock(now='2029-02-28T23:59:00Z')
    eq(w.q('ada', 'GET', '/sites', v=V1).st, 200)
    w.adv('PT2M')
    refused(w.q('ada', 'GET', '/sites', v=V1), 410, 'past_season')
@t('v-no-deprecation', 'v-no-sunset-header', 'v-no-link')
def _(w):
    h = w.q('ada', 'GET', '/sites', v=V1).h
    eq((h['Deprecation'], h['Sunset']), ('@1772323200', 'Thu, 01 Mar 2029 00:00:00 GMT'))
    assert 'https://firn.example/thaw' in h['Link'] and 'successor-version' in h['Link']

def run(fault, fn):
    w = W(fault)
    try:
        fn(w)
        return None
    except Exception as e: return e
    finally: w.end()
if __name__ == '__main__':
    faults = [x['id'] for x in json.load(open(os.path.join(HERE, 'stranger.json')))['faults']] if os.path.exists(os.path.join(HERE, 'stranger.json')) else list(TESTS)
    if sys.argv[1:]: faults = sys.argv[1:]
    seen, bad = {}, 0
    for i in faults:
        fn = TESTS.get(i)
        if not fn: print('no test:', i)
        if fn and fn not in seen:
            seen[fn] = run('', fn)
            if seen[fn]: print('right service fails', i, repr(seen[fn])[:300])
        r = fn and run(i, fn)
        if not r: print('not noticed:', i)
        elif not isinstance(r, (AssertionError, KeyError, TypeError, ValueError, IndexError, AttributeError)): print('died:', i, repr(r)[:200])
        if not fn or seen[fn] or not r: bad += 1
    print(len(faults) - bad, 'of', len(faults), 'faults shown')
    sys.exit(bool(bad))
