"""python3 faults-test.py [ID …]: each trial passes on the right service, and fails on the one with its fault."""
import hashlib, hmac, http.client, json, os, socket, subprocess, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
HERE = os.path.dirname(os.path.abspath(__file__))
DOC = json.load(open(HERE + '/stranger.json'))
KEYS = {p['id'].split('-')[1]: ('X-Reader-Card', p['credential']) if p['scheme'] == 'card' else ('Authorization', 'Staff ' + p['credential']) for p in DOC['callers']}
T = {}


def trial(fn):
    T[fn.__name__.replace('_', '-')] = fn
    return fn


def free():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Box(dict):
    __getattr__ = dict.get


class S:
    def __init__(self, fault):
        self.port, self.clock, self.n, self.got, self.answers = free(), free(), 0, [], []
        self.p = subprocess.Popen([sys.executable, 'service.py', '--port', str(self.port), '--clock-port', str(self.clock)] + (['--fault', fault] if fault else []),
                                  cwd=HERE, stdout=subprocess.PIPE)
        self.p.stdout.readline()
        me = self

        class R(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                me.got.append(Box(topic=self.headers['Desk-Topic'], seal=self.headers['Desk-Seal'], raw=body, path=self.path, about=json.loads(body)['about']))
                self.send_response(me.answers.pop(0) if me.answers else 204)
                self.send_header('Content-Length', '0')
                self.end_headers()

            def log_message(self, *_):
                pass
        self.hooks = ThreadingHTTPServer(('127.0.0.1', 0), R)
        threading.Thread(target=self.hooks.serve_forever, daemon=True).start()

    def end(self):
        self.hooks.shutdown()
        self.hooks.server_close()
        self.p.terminate()
        self.p.wait()

    def __call__(self, who, method, path, body=None, v='e4', port=None, **h):
        c = http.client.HTTPConnection('127.0.0.1', port or self.port, timeout=10)
        fields = {k.replace('_', '-'): x for k, x in h.items()}
        if v:
            fields['Desk-Edition'] = v
        if who:
            fields.setdefault(*KEYS[who])
        if body is not None:
            fields['Content-Type'] = 'application/json'
        c.request(method, path, None if body is None else json.dumps(body), fields)
        r = c.getresponse()
        raw = r.read()
        c.close()
        return Box(s=r.status, h=r.headers, b=json.loads(raw) if raw else None)

    def move(self, **k):
        return self(None, 'POST', '/', k, None, self.clock).b['now']

    def sheet(self, **k):
        self.n += 1
        b = {'barcode': 'HRB-%06d' % self.n, 'taxon': 'Viola odorata', 'cabinet': 'A01', 'height_cm': 30, **k}
        r = self('maud', 'POST', '/sheets', b)
        assert r.s == 201, r
        return b['barcode']

    def loan(self, sheet=None, who='linnea', to='asked', **k):
        self.n += 1
        r = self(who, 'POST', '/loans', {'sheet': sheet or self.sheet(), 'weeks': 2, **k}, Once_Key=f'k{self.n}')
        assert r.s == 201, r
        at = f"/loans/{r.b['number']}"
        for step in {'asked': [], 'granted': ['grant'], 'out': ['grant', 'dispatch']}[to]:
            assert self('maud', 'POST', f'{at}/{step}').s == 200
        return at

    def slip(self, sheet, who='linnea', **k):
        self.n += 1
        return self(who, 'POST', f'/sheets/{sheet}/slips', {'opinion': f'Opinion {self.n}', 'certainty': 0.7, **k})

    def hook(self, who='linnea', **k):
        r = self(who, 'POST', '/hooks', {'url': f'http://127.0.0.1:{self.hooks.server_address[1]}/{who}', **k})
        assert r.s == 201, r
        return r.b

    def settle(self, n=1, extra=0.15):
        end = time.time() + 3
        while len(self.got) < n and time.time() < end:
            time.sleep(0.01)
        time.sleep(extra)
        return self.got


def make(s, **k):
    return s('maud', 'POST', '/sheets', {'barcode': 'TST-000001', 'taxon': 'Viola alba', 'cabinet': 'A02', 'height_cm': 20, **k})


@trial
def p_shelve(s): b = s.sheet(); s('maud', 'POST', f'/sheets/{b}/mend'); assert s('maud', 'POST', f'/sheets/{b}/shelve').b.get('condition') == 'sound'
@trial
def p_auditor(s): assert s('pim', 'GET', '/sheets').s == 200
@trial
def r_height(s): assert make(s, height_cm=64.6).s == 422 and make(s, height_cm=64.5).s == 201
@trial
def r_weeks(s): assert s('linnea', 'POST', '/loans', {'sheet': s.sheet(), 'weeks': 27}, Once_Key='a').s == 422
@trial
def r_taxon(s): assert make(s, taxon='Vi').s == 422
@trial
def r_value(s): b = s.sheet(value_eur=10); assert 'value_eur' not in s('linnea', 'GET', f'/sheets/{b}').b and s('pim', 'GET', f'/sheets/{b}').b['value_eur'] == 10
@trial
def r_note(s): at = s.loan(); r = s('maud', 'POST', at + '/decline', {'reason': 'no room'}); assert r.b['desk_note'] == 'no room' and 'desk_note' not in s('linnea', 'GET', at).b
@trial
def r_secret(s): h = s.hook(); assert h['secret'].startswith('seal_') and 'secret' not in s('linnea', 'GET', '/hooks/' + h['id']).b
@trial
def r_unique(s): b = s.sheet(); assert [s.slip(b, w, opinion='Viola alba').s for w in ('linnea', 'asa', 'asa')] == [201, 201, 409]
@trial
def r_serial(s): a, b = s.sheet(), s.sheet(); assert [s.slip(x).b['serial'] for x in (a, a, b, a)] == [1, 2, 1, 3]
@trial
def r_immutable(s): at = s.loan(); assert s('linnea', 'PATCH', at, {'sheet': s.sheet()}).s == 422
@trial
def r_derive(s): b = s.sheet(); s.loan(b, to='out'); assert s('maud', 'GET', f'/sheets/{b}').b['out'] == 1; s.move(advance='P15D'); assert s('maud', 'GET', f'/sheets/{b}').b['out'] == 1
@trial
def r_costly(s): b = s.sheet(value_eur=9001); assert make(s, value_eur=9001, mount='glue').s == 422 == s('maud', 'PATCH', f'/sheets/{b}', {'mount': 'glue'}, If_Match='*').s
@trial
def r_date(s): assert make(s, collected_on='2021-02-30').s == 422
@trial
def s_calloff(s): at = s.loan(to='out'); assert s('linnea', 'POST', at + '/call-off').s == 410
@trial
def s_receive(s): at = s.loan(to='out'); s.move(advance='P14DT1S'); assert s('maud', 'GET', at).b['status'] == 'overdue' and s('maud', 'POST', at + '/receive').s == 200
@trial
def s_lapse(s):
    at = s.loan(); s.move(advance='P9DT23H')
    assert s('maud', 'GET', at).b['status'] == 'asked'
    s.move(advance='PT2H'); assert s('maud', 'GET', at).b['status'] == 'lapsed'
@trial
def s_grant(s): b = s.sheet(); at = s.loan(b); s('maud', 'POST', f'/sheets/{b}/mend'); assert s('maud', 'POST', at + '/grant').s == 423
@trial
def s_prolong(s): at = s.loan(to='out'); assert [s('linnea', 'POST', at + '/prolong').s for _ in 'ab'] == [200, 409]
@trial
def s_olddue(s):
    at = s.loan(to='out'); s('linnea', 'POST', at + '/prolong'); s.move(advance='P15D')
    assert s('maud', 'GET', at).b['status'] == 'out'
    s.move(advance='P28D'); assert s('maud', 'GET', at).b['status'] == 'overdue'
@trial
def s_withdraw(s): b = s.sheet(); s.loan(b, to='out'); assert s('maud', 'POST', f'/sheets/{b}/withdraw').b.get('fault', {}).get('code') == 'sheet_is_out'
@trial
def s_update(s): at = s.loan(to='granted'); assert s('linnea', 'PATCH', at, {'weeks': 3}).s == 409
@trial
def e_split(s): [s.sheet(mount=m) for m in ('glue', 'strap', 'packet')]; assert s('maud', 'GET', '/sheets?mount=glue,packet').b['all'] == 2
@trial
def e_taller(s): [s.sheet(height_cm=m) for m in (9, 10, 11)]; assert s('maud', 'GET', '/sheets?taller=10').b['all'] == 2
@trial
def e_before(s): [s.sheet(collected_on=f'1901-01-0{d}') for d in (1, 2, 3)]; s.sheet(); assert s('maud', 'GET', '/sheets?collected_before=1901-01-02').b['all'] == 1
@trial
def e_way(s):
    [s.sheet(cabinet=f'A0{d}') for d in (2, 3, 1)]
    assert [[r['cabinet'] for r in s('maud', 'GET', f'/sheets?arrange=place&way={w}').b['rows']] for w in ('asc', 'desc')] == [['A01', 'A02', 'A03'], ['A03', 'A02', 'A01']]
@trial
def e_ties(s): b = s.sheet(); [s.slip(b, certainty=x) for x in (.2, .6, .6)]; assert [r['serial'] for r in s('maud', 'GET', f'/sheets/{b}/slips').b['rows']] == [3, 2, 1]
@trial
def e_total(s): [s.sheet() for _ in range(7)]; r = s('maud', 'GET', '/sheets?skip=1').b; assert (r['all'], len(r['rows']), r['more']) == (7, 5, True)
@trial
def e_304(s): b = s.sheet(); t = s('maud', 'GET', f'/sheets/{b}').h['ETag']; assert s('maud', 'GET', f'/sheets/{b}', If_None_Match=t).s == 304
@trial
def e_location(s): r = s.slip(s.sheet()); assert s('maud', 'GET', r.h['Location'] or '/x').b.get('id') == r.b['id']
@trial
def e_once(s):
    b = {'sheet': s.sheet(), 'weeks': 2}
    assert len({s('linnea', 'POST', '/loans', b, Once_Key='z').b['number'] for _ in 'ab'}) == 1 and s('linnea', 'POST', '/loans', {**b, 'weeks': 3}, Once_Key='z').s == 409
    assert s('linnea', 'POST', '/loans', b).s == 400
@trial
def e_trace(s): r = s('maud', 'GET', '/loans/9'); assert r.s == 404 and r.h['X-Trace'] == r.b['fault']['trace']
@trial
def a_list(s): b = s.sheet(restricted=True); assert s('linnea', 'GET', '/sheets').b['all'] == 0 and s('linnea', 'GET', f'/sheets/{b}').s == 404
@trial
def a_read(s): at = s.loan(); assert s('asa', 'GET', at).s == 404
@trial
def a_scope(s): r = s('reader', 'POST', '/loans', {'sheet': s.sheet(), 'weeks': 2}, Once_Key='a'); assert r.s == 403 and r.b['fault']['code'] == 'not_entitled'
@trial
def a_calloff(s): at = s.loan(); assert s('asa', 'POST', at + '/call-off').s == 404
@trial
def a_slip(s): r = s.slip(s.sheet()); assert [s(w, 'DELETE', r.h['Location']).s for w in ('asa', 'linnea')] == [403, 204]
@trial
def a_fields(s): at = s.loan(purpose='a flora'); assert set(s('pim', 'GET', at).b) == {'number', 'sheet', 'borrower', 'status'}
@trial
def a_prefix(s): assert s(None, 'GET', '/sheets', Authorization=KEYS['maud'][1].replace('Staff', 'sTAFF')).s == 200
@trial
def a_filter(s): assert s('pim', 'GET', '/loans?care=padded').s == 400 and s('maud', 'GET', '/loans?care=padded').s == 200
@trial
def v_lapse(s): s.hook(topics=['loan.closed']); s.loan(); s.move(advance='P10DT1S'); assert [e.about['status'] for e in s.settle()] == ['lapsed']
@trial
def v_twice(s): s.hook(topics=['loan.sent']); s.loan(to='out'); assert len(s.settle()) == 1 and s.got[0].about['weeks'] == 2
@trial
def v_moved(s):
    s.hook('maud'); b = s.sheet()
    [s('maud', 'PATCH', f'/sheets/{b}', x, If_Match='*') for x in ({'taxon': 'Viola alba'}, {'cabinet': 'B07'})]
    assert [e.about for e in s.settle()] == [{'sheet': b, 'from': 'A01', 'to': 'B07'}]
@trial
def v_movedall(s): s.hook('linnea'); s.hook('odo'); b = s.sheet(); s('maud', 'PATCH', f'/sheets/{b}', {'cabinet': 'B07'}, If_Match='*'); assert [e.path for e in s.settle()] == ['/odo']
@trial
def v_seal(s):
    h = s.hook(); s.loan(); e = s.settle()[0]; at, seal = (x.split('=')[1] for x in e.seal.split(','))
    assert hmac.new(h['secret'].encode(), at.encode() + b':' + e.raw, hashlib.sha256).hexdigest() == seal
@trial
def v_retry(s):
    s.hook(); s.answers = [500] * 9; s.loan(); s.settle()
    for n, d in ((2, 'PT25S'), (3, 'PT5M'), (4, 'PT73M')):
        s.move(advance=d); assert len(s.settle(n)) == n
    s.move(advance='P1D'); assert len(s.settle(5, 0)) == 4
@trial
def v_410(s): h = s.hook(); s.answers = [410]; s.loan(); s.settle(); assert s('linnea', 'GET', '/hooks/' + h['id']).b['live'] is False
@trial
def v_half(s): s.hook(topics=['slip.*']); b = s.sheet(); [s.slip(b, certainty=x) for x in (.4, .5)]; assert [e.about['certainty'] for e in s.settle()] == [.5]
@trial
def x_unknown(s): r = make(s, smell='sweet'); assert r.s == 400 and r.b['fault']['code'] == 'field_unknown' == r.h['Desk-Fault']
@trial
def x_missing(s): assert s('maud', 'POST', '/sheets', {'barcode': 'TST-000001'}).b['fault']['code'] == 'field_missing'
@trial
def x_ref(s): r = s('linnea', 'POST', '/loans', {'sheet': 'NON-000000', 'weeks': 1}, Once_Key='a'); assert r.s == 422 and r.b['fault']['code'] == 'no_such_ref'
@trial
def x_wrong(s): assert make(s, taxon=7).b['fault']['wrong'][0]['path'] == '/taxon'
@trial
def l_cost(s): a = int(s('maud', 'GET', '/hooks').h['Desk-Left']); assert int(s('maud', 'GET', '/sheets').h['Desk-Left']) == a - 2
@trial
def l_house(s):
    r = [s(None, 'GET', '/house') for _ in range(21)]
    assert [x.s for x in r[19:]] == [200, 429] and 28 <= int(r[20].h['Retry-After']) <= 30
    s.move(advance='PT30S'); assert s(None, 'GET', '/house').s == 200
@trial
def l_zone(s):
    b = s.sheet(); day = s.move(advance='P1D')[:10]; s.move(now=day + 'T18:29:00Z') if s.move(advance='PT0S')[11:16] < '18:29' else s.move(advance='P1D')
    d = s.move(advance='PT0S')
    if d[11:16] > '18:29':
        import datetime as dt
        s.move(now=(dt.date.fromisoformat(d[:10]) + dt.timedelta(1)).isoformat() + 'T18:29:00Z')
    assert [s.slip(b).s for _ in range(41)][39:] == [201, 403]
    s.move(advance='PT61S'); assert s.slip(b).s == 201
@trial
def l_rows(s):
    s.loan(to='granted'); b = s.sheet(); [s.loan(b) for _ in range(24)]
    assert s('linnea', 'POST', '/loans', {'sheet': b, 'weeks': 2}, Once_Key='last').s == 403
@trial
def l_clamp(s): [s.sheet() for _ in range(14)]; assert len(s('maud', 'GET', '/sheets?take=13').b['rows']) == 12
@trial
def n_filter(s): [s.sheet(cabinet=f'A0{d}') for d in (1, 2)]; r = s('maud', 'GET', '/sheets?shelf=A02', v=None).b; assert [x['shelf'] for x in r['rows']] == ['A02']
@trial
def n_care(s): at = s.loan(); r = s('maud', 'GET', at, v='e3'); assert r.b['care'] == 'usual' and 'prolonged' not in r.b and r.h['Deprecation'] and s('maud', 'GET', at).b['care'] == 'standard'
@trial
def n_sunset(s): assert s('maud', 'GET', '/sheets', v='e3').s == 200; s.move(now='2028-03-01T00:00:00Z'); assert s('maud', 'GET', '/sheets', v='e3').s == 410 and s('maud', 'GET', '/sheets').s == 200


def run(name, fault):
    s = S(fault)
    try:
        T[name](s)
        return True
    except (AssertionError, KeyError, IndexError, TypeError, AttributeError) as e:
        return False if fault else repr(e)
    finally:
        s.end()


names, bad = sys.argv[1:] or [f['id'] for f in DOC['faults']], 0
assert set(T) == {f['id'] for f in DOC['faults']}
for n in names:
    right, faulty = run(n, None), run(n, n)
    if right is not True or faulty:
        bad += 1
        print(n, 'right:', right, 'faulty passes:', faulty, flush=True)
print(f'{len(names) - bad} of {len(names)} faults are told from the right service')
sys.exit(bool(bad))
