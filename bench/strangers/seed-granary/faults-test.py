"""Proves each fault: a small client passes on the right service and fails on the faulty one. `python3 faults-test.py [id ...]`; --json writes stranger.json."""
import sys, json, subprocess, http.client, socket, time, base64, threading, hmac, hashlib, os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
HERE = os.path.dirname(os.path.abspath(__file__))
ANISE, BASIL, CHIVE = 'card_aniseAAAAAAAAAAAAAAAAAAA', 'card_basilBBBBBBBBBBBBBBBBBBB', 'card_chiveCCCCCCCCCCCCCCCCCCC'
DILL, FERN, IVY = 'gr-dill:pw-dill-pickled', 'cu-fern:pw-fern-fronds', 'wa-ivy:pw-ivy-climbs'
ELDER, GORSE, HAZEL = 'card_elderEEEEEEEEEEEEEEEEEEE', 'card_gorseGGGGGGGGGGGGGGGGGGG', 'card_hazelHHHHHHHHHHHHHHHHHHH'
ports = iter(range(23100, 23900, 1))
class Got:
    def __init__(self, r, data):
        self.status, self.h, self.all = r.status, {k.lower(): v for k, v in r.getheaders()}, [(k.lower(), v) for k, v in r.getheaders()]
        self.raw = data
        try: self.b = json.loads(data) if data else None
        except ValueError: self.b = None
class Svc:
    def __init__(self, fault=None):
        self.p, self.c = next(ports), next(ports)
        self.proc = subprocess.Popen([sys.executable, HERE + '/service.py', '--port', str(self.p), '--clock-port', str(self.c)] + (['--fault', fault] if fault else []), stdout=subprocess.PIPE, text=True)
        assert 'listens' in self.proc.stdout.readline()
        self.closing = []
    def end(self):
        for c in self.closing: c()
        self.proc.terminate(); self.proc.wait()
    def __call__(self, who, method, path, body=None, raw=None, **h):
        c = http.client.HTTPConnection('127.0.0.1', self.p, timeout=8)
        hh = {k.replace('_', '-'): v for k, v in h.items()}
        if who: hh.update({'Authorization': 'Basic ' + base64.b64encode(who.encode()).decode()} if ':' in who else {'Seed-Card': who})
        if body is not None: raw = json.dumps(body).encode(); hh.setdefault('Content-Type', 'application/json')
        elif raw is not None: hh.setdefault('Content-Type', 'application/json')
        c.request(method, path if path[0] != '!' else path[1:], raw, hh)
        r = c.getresponse(); g = Got(r, r.read()); c.close(); return g
    def clock(self, **move):
        c = http.client.HTTPConnection('127.0.0.1', self.c, timeout=20)
        c.request('POST', '/', json.dumps(move)) if move else c.request('GET', '/')
        r = c.getresponse(); d = json.loads(r.read()); c.close(); assert r.status == 200, d; return d['now']
    def ahead(self, d): return self.clock(advance=d)
    def at(self, secs):
        import datetime as D
        return (D.datetime.fromisoformat(self.clock().replace('Z', '+00:00')) + D.timedelta(seconds=secs)).isoformat().replace('+00:00', 'Z')
    # what is needed of the domain
    def variety(self, who=ANISE, name=None, **k):
        self.n = getattr(self, 'n', 0) + 1
        return ok(self(who, 'POST', '/seeds/varieties', dict({'name': name or 'Pod %d' % self.n, 'species': 'pea'}, **k)), 201)
    def lot(self, who=ANISE, branch='ashford', grams=500, v=None, **k):
        v = v or self.variety(ELDER)['id']
        return ok(self(who, 'POST', '/seeds/varieties/%s/lots' % v, dict({'branch': branch, 'harvest_year': 2025, 'grams': grams}, **k)), 201)
    def shelved(self, **k):
        l = self.lot(**k); ok(self(FERN if l['branch'] == 'birchley' else ELDER, 'POST', '/seeds/lots/%s/accept' % l['id'], {'germination': 90})); return l
    def loan(self, who=BASIL, lot=None, grams=10):
        return ok(self(who, 'POST', '/seeds/lots/%s/loans' % (lot or self.shelved()['id']), {'grams': grams}), 201)
    def lent(self, **k):
        l = self.loan(**k); return ok(self(ELDER, 'POST', '/seeds/loans/%d/lend' % l['number']))
    def sample(self):
        l = self.lent(); ok(self(BASIL, 'POST', '/seeds/loans/%d/give-back' % l['number'], {'grams': 40}))
        return ok(self(BASIL, 'GET', '/seeds/samples?loan=%d' % l['number']))['rows'][0]
    def swap(self, secs=40 * 86400, **k):
        return ok(self(ELDER, 'POST', '/seeds/swaps', dict({'branch': 'ashford', 'title': 'Spring swap', 'opens_at': self.at(secs), 'closes_at': self.at(secs + 7200)}, **k)), 201)
    def table(self, swap, who=BASIL): return ok(self(who, 'POST', '/seeds/swaps/%s/tables' % swap['id'], {}), 201)
    def receiver(self, who, events=None, status=lambda n: 204, **h):
        got = []
        class R(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length'])); got.append((dict(self.headers), body))
                self.send_response(status(len(got))); self.end_headers()
            def log_message(self, *a): pass
        srv = ThreadingHTTPServer(('127.0.0.1', 0), R); threading.Thread(target=srv.serve_forever, daemon=True).start(); self.closing.append(srv.shutdown)
        got_hook = ok(self(who, 'POST', '/seeds/hooks', dict({'url': 'http://127.0.0.1:%d/in' % srv.server_port}, **({'events': events} if events else {})), **h), 201)
        return got_hook, got
    def stream(self, who, **h):
        s = socket.create_connection(('127.0.0.1', self.p)); s.settimeout(1.0)
        s.sendall(('GET /seeds/stream HTTP/1.1\r\nHost: x\r\nSeed-Card: %s\r\n%s\r\n' % (who, ''.join('%s: %s\r\n' % (k.replace('_', '-'), v) for k, v in h.items()))).encode())
        time.sleep(0.15); return s
def events(s):
    out = b''
    try:
        while True:
            d = s.recv(65536)
            if not d: break
            out += d
    except socket.timeout: pass
    s.close()
    return [dict(l.split(': ', 1) for l in b.split('\n') if ': ' in l and l[0] != ':') for b in out.decode().split('\r\n\r\n', 1)[1].split('\n\n') if 'data: ' in b]
def wait(f, secs=2.0):
    end = time.time() + secs
    while time.time() < end:
        if f(): return True
        time.sleep(0.03)
    return f()
def ok(g, status=200):
    assert g.status == status, (g.status, g.raw[:300]); return g.b
def no(g, status, code=None):
    assert g.status == status and (code is None or g.b['verdict'] == code), (g.status, g.raw[:300]); return g.b
FAULTS, PROOFS = [], {}
def fault(id, part, kind, subject, operation, text):
    def keep(f): FAULTS.append(dict(id=id, part=part, kind=kind, subject=subject, operation=operation, bug=text)); PROOFS[id] = f; return f
    return keep
# ---------------------------------------------------------------- purpose
@fault('p-bare', 'purpose', 'base address', 'service', 'list branch', 'The branches are served at the root, and no longer below the base path /seeds.')
def _(s): ok(s(None, 'GET', '/seeds/branches'))
@fault('p-location', 'purpose', 'base address', 'service', 'create lot', 'The Location of a lot that was made lacks the base path.')
def _(s):
    v = s.variety(); g = s(ANISE, 'POST', '/seeds/varieties/%s/lots' % v['id'], {'branch': 'ashford', 'harvest_year': 2025, 'grams': 5}); ok(g, 201)
    assert '/seeds/lots/' in g.h['location']
@fault('p-withdraw', 'purpose', 'functions', 'service', 'withdraw lot', 'Nobody can withdraw a lot: the path of it is not registered.')
def _(s): l = s.lot(); assert ok(s(ANISE, 'POST', '/seeds/lots/%s/withdraw' % l['id']))['state'] == 'withdrawn'
@fault('p-forgive', 'purpose', 'functions', 'service', 'forgive loan', 'Nobody can forgive a loan: the path of it is not registered.')
def _(s):
    l = s.lent(); s.ahead('P10M'); assert ok(s(HAZEL, 'POST', '/seeds/loans/%d/forgive' % l['number']))['status'] == 'forgiven'
@fault('p-warden', 'purpose', 'users', 'warden', 'list entry', 'A warden who logs in by name and password is taken for a curator.')
def _(s): ok(s(IVY, 'GET', '/seeds/entries')); no(s(IVY, 'POST', '/seeds/swaps', {}), 403)
@fault('p-desk', 'purpose', 'users', 'curator', 'list entry', 'A curator who logs in by name and password is taken for a grower.')
def _(s): l = s.lot(branch='birchley'); ok(s(FERN, 'POST', '/seeds/lots/%s/accept' % l['id'], {'germination': 80}))
# ---------------------------------------------------------------- resources
@fault('r-case', 'resources', 'allowed values', 'variety.name', 'create variety', 'Names of varieties are compared with their case, so that one name is taken twice.')
def _(s): s.variety(name='Lazy Housewife'); no(s(ANISE, 'POST', '/seeds/varieties', {'name': 'lazy HOUSEWIFE', 'species': 'bean'}), 409, 'twin')
@fault('r-secret', 'resources', 'allowed values', 'hook.secret', 'read hook', 'The secret of a hook, to be revealed once, is shown again where it is read.')
def _(s):
    h = ok(s(ANISE, 'POST', '/seeds/hooks', {'url': 'http://127.0.0.1:9/x'}), 201); assert h['secret'].startswith('whsec_'); assert 'secret' not in ok(s(ANISE, 'GET', '/seeds/hooks/' + h['id']))
@fault('r-remark', 'resources', 'allowed values', 'variety.remark', 'list variety', 'The list of varieties shows the remark of curators to everybody.')
def _(s): s.variety(ELDER, remark='poor stock'); assert 'remark' in ok(s(HAZEL, 'GET', '/seeds/varieties'))['rows'][0]; assert 'remark' not in ok(s(ANISE, 'GET', '/seeds/varieties'))['rows'][0]
@fault('r-gap', 'resources', 'allowed values', 'lot.accession', 'create lot', 'An accession number is drawn before the body is held to its shape, so refusals leave gaps.')
def _(s):
    v = s.variety()['id']; a = s.lot(v=v)['accession']; no(s(ANISE, 'POST', '/seeds/varieties/%s/lots' % v, {'branch': 'ashford'}), 422); b = s.lot(v=v)['accession']; assert int(b[4:]) == int(a[4:]) + 1, (a, b)
@fault('r-changed', 'resources', 'allowed values', 'variety.changed_at', 'update variety', 'An update of a variety leaves changed_at as it was.')
def _(s): v = s.variety(); s.ahead('PT1H'); assert ok(s(ANISE, 'PATCH', '/seeds/varieties/' + v['id'], {'story': 'old'}, If_Match='*'))['changed_at'] > v['changed_at']
@fault('r-variety', 'resources', 'allowed values', 'lot.variety', 'update lot', 'The variety of a lot, which is immutable, can be changed by an update.')
def _(s):
    l, w = s.lot(), s.variety(); ok(s(ANISE, 'PATCH', '/seeds/lots/' + l['id'], {'variety': l['variety']})); no(s(ANISE, 'PATCH', '/seeds/lots/' + l['id'], {'variety': w['id']}), 422, 'unsound')
@fault('r-left', 'resources', 'allowed values', 'lot.grams_left', 'read lot', 'grams_left forgets the loans that are overdue.')
def _(s): l = s.lent(); s.ahead('P10M'); assert ok(s(ELDER, 'GET', '/seeds/lots/' + l['lot']))['grams_left'] == 490
# ---------------------------------------------------------------- states
@fault('s-withdraw', 'states', 'transitions', 'lot', 'withdraw lot', 'A lot that is on the shelf can be withdrawn as well.')
def _(s): l = s.shelved(); no(s(ANISE, 'POST', '/seeds/lots/%s/withdraw' % l['id']), 409, 'wrong_season')
@fault('s-giveback', 'states', 'transitions', 'loan', 'give_back loan', 'A loan that is overdue cannot be given back.')
def _(s): l = s.lent(); s.ahead('P10M'); ok(s(BASIL, 'POST', '/seeds/loans/%d/give-back' % l['number'], {'grams': 20}))
@fault('s-lapse', 'states', 'transitions', 'loan', 'lapse loan', 'A requested loan lapses after 15 days in place of 14.')
def _(s): l = s.loan(); s.ahead('P14DT1M'); assert ok(s(BASIL, 'GET', '/seeds/loans/%d' % l['number']))['status'] == 'lapsed'
@fault('s-judge', 'states', 'transitions', 'sample', 'judge sample', 'A sample of which exactly 70 in a hundred sprouted fails.')
def _(s): a = s.sample(); assert ok(s(ELDER, 'POST', '/seeds/samples/%s/judge' % a['id'], {'sown': 100, 'sprouted': 70, 'purity': 950}))['result'] == 'passed'
@fault('s-calloff', 'states', 'transitions', 'swap', 'call_off swap', 'Calling off a swap day releases the held tables and forgets the confirmed ones.')
def _(s):
    w = s.swap(); t = s.table(w); ok(s(BASIL, 'POST', '/seeds/tables/%s/confirm' % t['id'])); ok(s(ELDER, 'POST', '/seeds/swaps/%s/call-off' % w['id'])); assert ok(s(BASIL, 'GET', '/seeds/tables/' + t['id']))['status'] == 'released'
@fault('s-expire', 'states', 'transitions', 'table', 'expire table', 'The timer of a held table is not stopped when it is confirmed.')
def _(s): t = s.table(s.swap()); ok(s(BASIL, 'POST', '/seeds/tables/%s/confirm' % t['id'])); s.ahead('P4D'); assert ok(s(BASIL, 'GET', '/seeds/tables/' + t['id']))['status'] == 'confirmed'
@fault('s-lend', 'states', 'transitions', 'loan', 'lend loan', 'Lending does not look at how much of the lot is left.')
def _(s):
    l = s.shelved(grams=15)['id']; a, b = s.loan(lot=l), s.loan(lot=l); ok(s(ELDER, 'POST', '/seeds/loans/%d/lend' % a['number'])); no(s(ELDER, 'POST', '/seeds/loans/%d/lend' % b['number']), 409, 'too_little')
# ---------------------------------------------------------------- endpoints
@fault('e-match', 'endpoints', 'request payload shapes', 'PATCH /lots/{id}', 'update lot', 'If-Match is not looked at when a lot is updated.')
def _(s):
    l = s.lot(); t = s(ANISE, 'GET', '/seeds/lots/' + l['id']).h['etag']; ok(s(ANISE, 'PATCH', '/seeds/lots/' + l['id'], {'grams': 7}, If_Match=t)); no(s(ANISE, 'PATCH', '/seeds/lots/' + l['id'], {'grams': 8}, If_Match=t), 412, 'stale')
@fault('e-order', 'endpoints', 'response payload shapes', 'GET /lots', 'list lot', 'Lots are listed oldest first, though the newest is stated to come first.')
def _(s): v = s.variety()['id']; a, b = s.lot(v=v), s.lot(v=v); assert [r['id'] for r in ok(s(ANISE, 'GET', '/seeds/lots'))['rows']] == [b['id'], a['id']]
@fault('e-far', 'endpoints', 'parameters', 'GET /varieties', 'list variety', 'far keeps varieties with a greater isolation only, not with the same.')
def _(s): s.variety(isolation_m=50); assert len(ok(s(ANISE, 'GET', '/seeds/varieties?far=50'))['rows']) == 1; assert not ok(s(ANISE, 'GET', '/seeds/varieties?far=51'))['rows']
@fault('e-location', 'endpoints', 'response payload shapes', 'POST /swaps/{swap}/tables', 'create table', 'The answer that makes a table has no Location.')
def _(s): w = s.swap(); g = s(BASIL, 'POST', '/seeds/swaps/%s/tables' % w['id'], {}); ok(g, 201); assert g.h.get('location', '').endswith('/tables/' + g.b['id'])
@fault('e-slip', 'endpoints', 'request payload shapes', 'POST /swaps', 'create swap', 'The fingerprint of an idempotency key leaves out the body.')
def _(s):
    b = {'branch': 'ashford', 'title': 'Autumn swap', 'opens_at': s.at(9e5), 'closes_at': s.at(9.1e5)}; a = s(ELDER, 'POST', '/seeds/swaps', b, Slip_Number='k1'); ok(a, 201)
    assert ok(s(ELDER, 'POST', '/seeds/swaps', b, Slip_Number='k1'), 201) == a.b; no(s(ELDER, 'POST', '/seeds/swaps', {**b, 'title': 'Another'}, Slip_Number='k1'), 422, 'slip_reused')
@fault('e-head', 'endpoints', 'methods', 'GET /swaps/{id}', 'read swap', 'HEAD of a swap day is refused with 405.')
def _(s): w = s.swap(); g = s(None, 'HEAD', '/seeds/swaps/' + w['id']); assert g.status == 200 and g.raw == b''
@fault('e-none', 'endpoints', 'response payload shapes', 'GET /branches/{slug}', 'read branch', 'Of several tags in If-None-Match the first alone is compared.')
def _(s): t = s(None, 'GET', '/seeds/branches/ashford').h['etag']; assert s(None, 'GET', '/seeds/branches/ashford', If_None_Match='"other", ' + t).status == 304
# ---------------------------------------------------------------- authentication
@fault('a-lots', 'authentication', 'permission rules', 'list lot', 'list lot', 'Growers are listed the lots that others have offered.')
def _(s): s.lot(); assert not ok(s(BASIL, 'GET', '/seeds/lots'))['rows']; assert ok(s(ANISE, 'GET', '/seeds/lots'))['rows']
@fault('a-loan', 'authentication', 'permission rules', 'read loan', 'read loan', 'A grower can read the loan of another by its number.')
def _(s): l = s.loan(); no(s(ANISE, 'GET', '/seeds/loans/%d' % l['number']), 404, 'no_such_thing')
@fault('a-scope', 'authentication', 'permission rules', 'judge sample', 'judge sample', 'The scope judge is not asked for.')
def _(s): a = s.sample(); no(s(GORSE, 'POST', '/seeds/samples/%s/judge' % a['id'], {'sown': 10, 'sprouted': 9, 'purity': 1000}), 403, 'card_too_small')
@fault('a-branch', 'authentication', 'permission rules', 'accept lot', 'accept lot', 'A curator can accept lots of another branch.')
def _(s): l = s.lot(branch='birchley'); no(s(ELDER, 'POST', '/seeds/lots/%s/accept' % l['id'], {'germination': 80}), 403, 'not_yours')
@fault('a-two', 'authentication', 'schemes', 'card', 'list loan', 'Of two good credentials of different callers the first counts, and nobody is refused.')
def _(s): no(s(DILL, 'GET', '/seeds/loans', Seed_Card=ANISE), 401, 'bad_card')
@fault('a-challenge', 'authentication', 'schemes', 'desk', 'list loan', 'A 401 has no challenge for the second scheme.')
def _(s): g = s(None, 'GET', '/seeds/loans'); no(g, 401, 'who_goes'); assert any(k == 'www-authenticate' and 'Basic realm="Seed Granary"' in v for k, v in g.all)
@fault('a-badcard', 'authentication', 'schemes', 'card', 'list branch', 'A card that is not good is taken for none where anyone may.')
def _(s): no(s('card_unknownXXXXXXXXXXXXXXXXX', 'GET', '/seeds/branches'), 401, 'bad_card')
# ---------------------------------------------------------------- events
@fault('v-renamed', 'events', 'emitting operations', 'variety.renamed', 'update variety', 'variety.renamed is emitted by each update, also one that leaves the name.')
def _(s): v = s.variety(); ok(s(ANISE, 'PATCH', '/seeds/varieties/' + v['id'], {'story': 'x'}, If_Match='*')); assert not ok(s(HAZEL, 'GET', '/seeds/entries?kind=variety.renamed'))['rows']
@fault('v-seal', 'events', 'delivery mechanism', 'service', 'create lot', 'The signature of a delivery is not over the identifier of the event.')
def _(s):
    h, got = s.receiver(ANISE, ['lot.*']); s.lot(); assert wait(lambda: got); head, body = got[0]
    t = head['Granary-Seal'].split(',')[0][3:]; d = json.loads(body)
    assert head['Granary-Seal'] == 'at=%s,seal=%s' % (t, hmac.new(h['secret'].encode(), ('%s.%s.' % (t, d['event'])).encode() + body, hashlib.sha256).hexdigest())
@fault('v-retry', 'events', 'delivery mechanism', 'service', 'create lot', 'The first retry waits for ten minutes in place of one.')
def _(s): h, got = s.receiver(ANISE, ['lot.offered'], lambda n: 500 if n == 1 else 204); s.lot(); assert wait(lambda: got); time.sleep(.2); s.ahead('PT1M20S'); assert wait(lambda: len(got) == 2)
@fault('v-hears', 'events', 'delivery mechanism', 'service', 'lend loan', 'loan.lent is delivered to subscribers who may not read the loan.')
def _(s): h, got = s.receiver(ANISE); s.lent(); assert wait(lambda: len(got) >= 2); time.sleep(.4); assert not any(json.loads(b)['kind'] == 'loan.lent' for _, b in got)
@fault('v-resume', 'events', 'delivery mechanism', 'service', 'stream events', 'A stream that resumes tells the event of Last-Event-ID once more.')
def _(s):
    v = s.variety()['id']; s.lot(v=v); s.lot(v=v); rows = ok(s(HAZEL, 'GET', '/seeds/entries?kind=lot.offered'))['rows']
    got = events(s.stream(ANISE, Last_Event_ID=rows[1]['id'])); assert [e['id'] for e in got] == [rows[0]['id']], got
@fault('v-judge', 'events', 'payload shapes', 'sample.judged', 'judge sample', 'The payload of sample.judged shows the grower who judged.')
def _(s):
    h, got = s.receiver(BASIL, ['sample.*']); a = s.sample(); ok(s(ELDER, 'POST', '/seeds/samples/%s/judge' % a['id'], {'sown': 10, 'sprouted': 9, 'purity': 1000}))
    assert wait(lambda: got); d = json.loads(got[0][1])['about']; assert d['result'] == 'passed' and 'judged_by' not in d
@fault('v-soon', 'events', 'emitting operations', 'loan.due_soon', 'lend loan', 'loan.due_soon is told six days ahead in place of seven.')
def _(s):
    l = s.lent(); import datetime as D
    s.clock(now=(D.datetime.fromisoformat(l['due_at'].replace('Z', '+00:00')) - D.timedelta(days=6, hours=12)).isoformat().replace('+00:00', 'Z'))
    assert len(ok(s(HAZEL, 'GET', '/seeds/entries?kind=loan.due_soon'))['rows']) == 1
# ---------------------------------------------------------------- errors
@fault('x-full', 'errors', 'status codes', 'house_full', 'confirm table', 'house_full is answered with 422 in place of 409.')
def _(s):
    w = s.swap(tables=1); a, b = s.table(w), s.table(w, ANISE); ok(s(BASIL, 'POST', '/seeds/tables/%s/confirm' % a['id'])); no(s(ANISE, 'POST', '/seeds/tables/%s/confirm' % b['id']), 409, 'house_full')
@fault('x-overshot', 'errors', 'conditions', 'overshot', 'judge sample', 'A sample of which every seed sprouted is refused as overshot.')
def _(s): a = s.sample(); ok(s(ELDER, 'POST', '/seeds/samples/%s/judge' % a['id'], {'sown': 50, 'sprouted': 50, 'purity': 990}))
@fault('x-lacking', 'errors', 'conditions', 'lacking', 'create variety', 'A field that is missing is told as unsound.')
def _(s): no(s(ANISE, 'POST', '/seeds/varieties', {'name': 'Alone'}), 422, 'lacking')
@fault('x-notice', 'errors', 'conditions', 'late_notice', 'create swap', 'A swap day may be announced 23 hours before.')
def _(s): no(s(ELDER, 'POST', '/seeds/swaps', {'branch': 'ashford', 'title': 'Hurried', 'opens_at': s.at(23.5 * 3600), 'closes_at': s.at(30 * 3600)}), 422, 'late_notice')
@fault('x-rooted', 'errors', 'error codes', 'service', 'delete variety', 'A deletion that is held by references is told as twin.')
def _(s): l = s.lot(); no(s(HAZEL, 'DELETE', '/seeds/varieties/' + l['variety']), 409, 'rooted')
@fault('x-path', 'errors', 'error payload shapes', 'service', 'upsert branch', 'The place of a member that is missing inside a value is told without the value.')
def _(s): assert no(s(HAZEL, 'PUT', '/seeds/branches/newtown', {'name': 'N', 'address': {'street': 'a'}}), 422, 'lacking')['amiss'][0]['path'] == '/address/town'
# ---------------------------------------------------------------- limits
@fault('l-rate', 'limits', 'rate limits', 'service', 'list loan', 'One request more than stated passes in a minute.')
def _(s):
    for i in range(240): ok(s(CHIVE, 'GET', '/seeds/loans'))
    g = s(CHIVE, 'GET', '/seeds/loans'); no(g, 429, 'too_often'); assert 0 < int(g.h['retry-after']) <= 60
@fault('l-take', 'limits', 'pagination bounds', 'GET /lots', 'list lot', 'A page of 61 is given, though 60 is the most.')
def _(s): ok(s(ANISE, 'GET', '/seeds/lots?take=60')); no(s(ANISE, 'GET', '/seeds/lots?take=61'), 400, 'odd_page')
@fault('l-clamp', 'limits', 'pagination bounds', 'GET /loans', 'list loan', 'A size above the most is refused, though it is stated to be cut down.')
def _(s): ok(s(ANISE, 'GET', '/seeds/loans?per_page=51'))
@fault('l-loans', 'limits', 'quotas', 'rows of loan', 'create loan', 'Loans that are overdue do not count among the five that a grower may have.')
def _(s):
    l = s.shelved()['id']; s.lent(lot=l); s.ahead('P10M')
    for i in range(4): s.loan(lot=l)
    no(s(BASIL, 'POST', '/seeds/lots/%s/loans' % l, {'grams': 1}), 403, 'enough')
@fault('l-hooks', 'limits', 'quotas', 'rows of hook', 'create hook', 'A fourth hook is taken.')
def _(s):
    for i in range(3): ok(s(CHIVE, 'POST', '/seeds/hooks', {'url': 'http://127.0.0.1:9/x'}), 201)
    no(s(CHIVE, 'POST', '/seeds/hooks', {'url': 'http://127.0.0.1:9/x'}), 403, 'enough')
@fault('l-quota', 'limits', 'quotas', 'service', 'create loan', 'A thirteenth loan in a month is made.')
def _(s):
    s.clock(now='2027-02-01T00:00:10Z'); l = s.shelved()['id']
    for i in range(12): a = s.loan(lot=l, grams=1); ok(s(BASIL, 'POST', '/seeds/loans/%d/drop' % a['number']))
    g = s(BASIL, 'POST', '/seeds/lots/%s/loans' % l, {'grams': 1}); no(g, 403, 'enough'); assert 27 * 86400 < int(g.h['retry-after']) <= 28 * 86400
    s.clock(now='2027-03-01T00:00:00Z'); s.loan(lot=l, grams=1)
@fault('l-body', 'limits', 'size limits', 'service', 'create variety', 'A body of exactly 16 KiB is refused.')
def _(s):
    b = json.dumps({'name': 'Big pod', 'species': 'pea'}).encode(); ok(s(ANISE, 'POST', '/seeds/varieties', raw=b + b' ' * (16384 - len(b))), 201); no(s(ANISE, 'POST', '/seeds/varieties', raw=b + b' ' * (16385 - len(b))), 413, 'too_big')
# ---------------------------------------------------------------- versioning
FIRST, SECOND = dict(Granary_Edition='first-sowing'), dict(Granary_Edition='second-sowing')
@fault('w-weight', 'versioning', 'version identifiers', 'service', 'list lot', 'In first-sowing the list of lots calls the field grams, not weight.')
def _(s): l = s.lot(); assert ok(s(ANISE, 'GET', '/seeds/lots/' + l['id'], **FIRST))['weight'] == 500; r = ok(s(ANISE, 'GET', '/seeds/lots', **FIRST))['rows'][0]; assert r.get('weight') == 500 and 'grams' not in r
@fault('w-filter', 'versioning', 'version identifiers', 'service', 'list loan', 'In older editions the filter by status does not know the old word expired.')
def _(s): s.loan(); s.ahead('P15D'); r = ok(s(BASIL, 'GET', '/seeds/loans?status=expired', **SECOND))['loans']; assert r[0]['status'] == 'expired'
@fault('w-sunset', 'versioning', 'deprecation rules', 'first-sowing', 'list branch', 'The sunset of first-sowing comes into force a day late.')
def _(s):
    ok(s(None, 'GET', '/seeds/branches', **FIRST)); s.clock(now='2031-01-01T00:00:01Z'); no(s(None, 'GET', '/seeds/branches', **FIRST), 410, 'out_of_print')
@fault('w-refused', 'versioning', 'deprecation rules', 'second-sowing', 'read lot', 'Refusals in a deprecated edition have no Deprecation.')
def _(s): g = s(ANISE, 'GET', '/seeds/lots/LOTNONE', **SECOND); no(g, 404); assert g.h.get('deprecation') == '@1767225600' and 'successor-version' in g.h['link']
@fault('w-entries', 'versioning', 'version identifiers', 'service', 'list entry', 'GET /entries, which second-sowing added, is there in first-sowing.')
def _(s): ok(s(HAZEL, 'GET', '/seeds/entries', **SECOND)); no(s(HAZEL, 'GET', '/seeds/entries', **FIRST), 404, 'nowhere')
@fault('v-edition', 'versioning', 'version identifiers', 'service', 'judge sample', 'A subscriber of second-sowing is told the purity of a sample in the newest form.')
def _(s):
    h, got = s.receiver(ELDER, ['sample.judged'], **SECOND); a = s.sample(); ok(s(ELDER, 'POST', '/seeds/samples/%s/judge' % a['id'], {'sown': 10, 'sprouted': 9, 'purity': 985})); assert wait(lambda: got); assert json.loads(got[0][1])['about']['purity'] == 98.5
def run(id, fault):
    s = Svc(fault)
    try: PROOFS[id](s); return None
    except AssertionError as e: return 'assert: %s' % (str(e)[:160] or '(breach)')
    except Exception as e: return 'ERROR %r' % e
    finally: s.end()
if __name__ == '__main__':
    if '--json' in sys.argv:
        import importlib.util
        sp = importlib.util.spec_from_file_location('service', HERE + '/service.py'); m = importlib.util.module_from_spec(sp); sp.loader.exec_module(m)
        json.dump({'command': ['python3', 'service.py'], 'document': 'service.yaml',
                   'callers': [{'user': u, 'id': i, 'credential': c, 'scheme': s, 'scopes': sc, 'attributes': {'branch': b}} for u, i, s, c, sc, b in m.CALLERS], 'faults': FAULTS}, open(HERE + '/stranger.json', 'w'), indent=1)
        print(len(FAULTS)); from collections import Counter; print(Counter(f['part'] for f in FAULTS)); sys.exit()
    ids, bad = [a for a in sys.argv[1:]] or [f['id'] for f in FAULTS], 0
    for id in ids:
        right, faulty = run(id, None), run(id, id)
        good = right is None and faulty is not None and faulty.startswith('assert')
        bad += not good
        print('proves' if good else 'FAILS ', id, '' if good else 'right: %s | faulty: %s' % (right, faulty), flush=True)
    print('%d of %d faults prove' % (len(ids) - bad, len(ids)))
    sys.exit(bool(bad))
