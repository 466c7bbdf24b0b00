"""For each fault a trial that passes on the right service and fails with the fault on.
python3 faults-test.py [ID ...]   runs them, both ways, and the checks of the right service."""
import base64, hashlib, hmac, http.client, http.server, json, os, socket, subprocess, sys, threading, time
from urllib.parse import parse_qs, quote

HERE = os.path.dirname(os.path.abspath(__file__))
STRANGER = json.load(open(os.path.join(HERE, 'stranger.json')))
WHO = {c['id']: c for c in STRANGER['callers']}
TRIALS = {}


def free():
    s = socket.socket()
    s.bind(('127.0.0.1', 0))
    p = s.getsockname()[1]
    s.close()
    return p


class A:
    def __init__(self, status, headers, raw):
        self.status, self.h, self.raw = status, headers, raw
        try:
            self.j = json.loads(raw)
        except ValueError:
            self.j = None


class Service:
    def __init__(self, fault=None):
        self.port, self.clock_port = free(), free()
        cmd = STRANGER['command'] + ['--port', str(self.port), '--clock-port', str(self.clock_port)] + (['--fault', fault] if fault else [])
        self.p = subprocess.Popen(cmd, cwd=HERE)
        for _ in range(200):
            try:
                socket.create_connection(('127.0.0.1', self.clock_port)).close()
                break
            except OSError:
                time.sleep(0.02)
        self.c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=20)
        self.server = None

    def stop(self):
        self.c.close()
        self.p.terminate()
        self.p.wait()
        if self.server:
            self.server.shutdown()
            self.server.server_close()

    def __call__(self, who, method, path, body=None, ver='e2', raw=None, **h):
        headers = {k.replace('_', '-'): v for k, v in h.items()}
        if who:
            c = WHO.get(who)
            headers['Authorization'] = who if c is None else 'Rope ' + c['credential'] if c['scheme'] == 'rope' else \
                'Basic ' + base64.b64encode((c['credential'] + ':').encode()).decode()
        if body is not None:
            raw = json.dumps(body).encode()
        if raw is not None:
            headers.setdefault('Content-Type', 'application/json')
        self.c.request(method, '/ropes/' + ver + path, raw, headers)
        r = self.c.getresponse()
        return A(r.status, r.headers, r.read())

    def clock(self, **d):
        c = http.client.HTTPConnection('127.0.0.1', self.clock_port, timeout=60)
        c.request('POST' if d else 'GET', '/', json.dumps(d) if d else None)
        r = c.getresponse()
        out = json.loads(r.read())
        c.close()
        assert r.status == 200, (r.status, out)
        return out['now']

    def at(self, **d):
        """a time from now on, as RFC 3339"""
        import datetime
        t = datetime.datetime.fromisoformat(self.clock().replace('Z', '+00:00')) + datetime.timedelta(**d)
        return t.strftime('%Y-%m-%dT%H:%M:%SZ')

    # what trials need
    def bell(self, mark, who='agnes', **more):
        d = dict(name='Bell ' + mark, kind='hand', weight_kg=2, diameter=100, pitch='C5')
        d.update(more)
        return ok(self(who, 'PUT', '/bells/' + mark, d), 200, 201).j

    def guild(self, name, who='cecily', **more):
        return ok(self(who, 'POST', '/guilds', dict(name=name, county='Kent', **more)), 201).j

    def loan(self, guild, bell='little-treble', who='cecily', days=(1, 5), **more):
        d = dict(bell=bell, starts=self.at(days=days[0]), ends=self.at(days=days[1]))
        d.update(more)
        return ok(self(who, 'POST', '/guilds/%s/loans' % guild, d), 201).j

    def do(self, who, what, body=None):
        return ok(self(who, 'POST', what, body), 200).j

    def out(self, guild, bell='little-treble', days=(0, 5), who='cecily'):
        """a loan that was collected"""
        l = self.loan(guild, bell, who, (days[0] + 0.01, days[1]))
        self.do('agnes', '/loans/%s/agree' % l['slip'])
        self.clock(advance='PT%dM' % (15 + days[0] * 1440))
        return self.do('agnes', '/loans/%s/collect' % l['slip'])

    def ear(self, who='cecily', ver='e2', answer=lambda n: 200, **more):
        """a listener, and a list of what it is told: (headers, body, secret, envelope)"""
        heard = []

        class Hear(http.server.BaseHTTPRequestHandler):
            def do_POST(me):
                body = me.rfile.read(int(me.headers['Content-Length']))
                heard.append((me.headers, body, json.loads(parse_qs(body.decode())['payload'][0])))
                me.send_response(answer(len(heard)))
                me.send_header('Content-Length', '0')
                me.end_headers()

            def log_message(me, *a):
                pass
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Hear)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        url = 'http://127.0.0.1:%d/hear' % self.server.server_address[1]
        l = ok(self(who, 'POST', '/listeners', dict(url=url, **more), ver=ver), 201).j
        heard_secret = l['secret']
        return heard, heard_secret, l

    def settle(self):
        self.clock(advance='PT0.001S')
        time.sleep(0.03)


def ok(a, *statuses):
    assert a.status in statuses, (a.status, a.raw[:300])
    return a


def why(a, code, status=None):
    assert a.j and a.j.get('why') == code, (code, a.status, a.raw[:300])
    if status:
        assert a.status == status, a.status
    return a


def same(a, b):
    assert a == b, (a, b)


def trial(f):
    TRIALS[f.__name__.replace('_', '-')] = f
    return f


# ---------------------------------------------------------------- purpose
@trial
def here_no_base(s): same(s('agnes', 'GET', '/bells').j['here'], '/ropes/e2/bells')


@trial
def location_no_base(s):
    a = s('cecily', 'POST', '/guilds', dict(name='Northers', county='Kent'))
    same(a.h['Location'], '/ropes/e2/guilds/1')


@trial
def no_auditor(s): ok(s('godric', 'GET', '/loans'), 200)


@trial
def no_abandon(s):
    t = ok(s('cecily', 'POST', '/tunings', dict(bell='great-tom', target_hz=440)), 201).j
    same(s.do('cecily', '/tunings/%s/abandon' % t['id'])['state'], 'abandoned')


# ---------------------------------------------------------------- resources
@trial
def name_case(s):
    s.guild('Northers')
    why(s('dunstan', 'POST', '/guilds', dict(name='nORTHERS', county='Kent')), 'name_taken', 409)


@trial
def kind_changes(s):
    s.bell('abc')
    why(s('agnes', 'PUT', '/bells/abc', dict(name='Abc', kind='tower', weight_kg=2, diameter=100, pitch='C5')), 'wont_do', 422)


@trial
def code_shown(s): assert 'door_code' not in s.guild('Northers', door_code='1234')


@trial
def overdue_not_held(s):
    g = s.guild('Northers')
    l = s.out(g['no'])
    s.clock(advance='P6D')
    same(s('agnes', 'GET', '/loans/' + l['slip']).j['state'], 'overdue')
    same(s(None, 'GET', '/bells/little-treble').j['on_loan'], True)


@trial
def ends_equal(s):
    g = s.guild('Northers')
    t = s.at(days=1)
    a = why(s('cecily', 'POST', '/guilds/%d/loans' % g['no'], dict(bell='great-tom', starts=t, ends=t)), 'wont_do', 422)
    same(a.j['wrong'][0]['path'], 'ends')


@trial
def numbers_over_all(s):
    a, b = s.guild('Northers'), s.guild('Southers')
    same([s.loan(a['no'])['number'], s.loan(b['no'])['number'], s.loan(a['no'])['number']], [1, 1, 2])


@trial
def noop_counts(s):
    b = s.bell('abc')
    s.clock(advance='PT1M')
    same(ok(s('agnes', 'PATCH', '/bells/abc', dict(name=b['name']), If_Match='*'), 200).j['changed_at'], b['changed_at'])


@trial
def metal_kept(s):
    s.bell('abc', metal='steel')
    same(s.bell('abc')['metal'], 'bronze')


@trial
def secret_again(s):
    l = ok(s('cecily', 'POST', '/listeners', dict(url='http://127.0.0.1:9/x')), 201).j
    assert l['secret'].startswith('clapper_')
    assert 'secret' not in ok(s('cecily', 'GET', '/listeners/' + l['id']), 200).j


@trial
def promised_twice(s):
    g = s.guild('Northers')
    a, b = s.loan(g['no']), s.loan(g['no'])
    s.do('agnes', '/loans/%s/agree' % a['slip'])
    why(s('agnes', 'POST', '/loans/%s/agree' % b['slip']), 'bell_promised', 409)


# ---------------------------------------------------------------- states
@trial
def withdraw_asked_alone(s):
    l = s.loan(s.guild('Northers')['no'])
    s.do('agnes', '/loans/%s/agree' % l['slip'])
    same(s.do('cecily', '/loans/%s/withdraw' % l['slip'])['state'], 'withdrawn')
    why(s('cecily', 'POST', '/loans/%s/withdraw' % l['slip']), 'too_late', 409)


@trial
def collect_early(s):
    l = s.loan(s.guild('Northers')['no'])
    s.do('agnes', '/loans/%s/agree' % l['slip'])
    why(s('agnes', 'POST', '/loans/%s/collect' % l['slip']), 'too_early', 409)


@trial
def lapse_8d(s):
    l = s.loan(s.guild('Northers')['no'], days=(20, 30))
    s.clock(advance='P6DT23H')
    same(s('cecily', 'GET', '/loans/' + l['slip']).j['state'], 'asked')
    s.clock(advance='PT2H')
    same(s('cecily', 'GET', '/loans/' + l['slip']).j['state'], 'lapsed')


@trial
def ends_as_agreed(s):
    l = s.loan(s.guild('Northers')['no'], days=(1, 3))
    s.do('agnes', '/loans/%s/agree' % l['slip'])
    ok(s('cecily', 'PATCH', '/loans/' + l['slip'], dict(ends=s.at(days=9))), 200)
    s.clock(advance='P4D')
    same(s('cecily', 'GET', '/loans/' + l['slip']).j['state'], 'agreed')
    s.clock(advance='P6D')
    same(s('cecily', 'GET', '/loans/' + l['slip']).j['state'], 'lapsed')


def on_lathe(s, hz=440):
    t = ok(s('cecily', 'POST', '/tunings', dict(bell='great-tom', target_hz=hz)), 201).j
    return s.do('agnes', '/tunings/%s/begin' % t['id'])


@trial
def half_is_rough(s):
    t = on_lathe(s)
    same(s.do('agnes', '/tunings/%s/finish' % t['id'], dict(measured_hz=440.5))['state'], 'tuned')


@trial
def not_mounted_again(s):
    t = on_lathe(s)
    same(s(None, 'GET', '/bells/great-tom').j['standing'], 'lathe')
    same(s.do('agnes', '/tunings/%s/finish' % t['id'], dict(measured_hz=441))['state'], 'rough')
    same(s(None, 'GET', '/bells/great-tom').j['standing'], 'ready')
    s.do('agnes', '/tunings/%s/begin' % t['id'])
    same(s(None, 'GET', '/bells/great-tom').j['standing'], 'lathe')


@trial
def lost_early(s):
    l = s.out(s.guild('Northers')['no'], days=(0, 2))
    s.clock(advance='P2D')
    s.clock(advance='P29DT12H')
    same(s('cecily', 'GET', '/loans/' + l['slip']).j['state'], 'overdue')
    s.clock(advance='P1D')
    same(s('cecily', 'GET', '/loans/' + l['slip']).j['state'], 'lost')


# ---------------------------------------------------------------- endpoints
@trial
def first_tag_alone(s):
    l = s.loan(s.guild('Northers')['no'])
    tag = s('cecily', 'GET', '/loans/' + l['slip']).h['ETag']
    ok(s('cecily', 'GET', '/loans/' + l['slip'], If_None_Match='"other", W/' + tag), 304)


@trial
def called_any_case(s):
    same(s(None, 'GET', '/bells?called=great').j['of'], 0)
    same(s(None, 'GET', '/bells?called=Great').j['of'], 1)


@trial
def further_too_far(s):
    for _ in range(4):
        ok(s('cecily', 'POST', '/tunings', dict(bell='great-tom', target_hz=440)), 201)
    same(s('cecily', 'GET', '/tunings?count=2').j['further'], 3)
    same(s('cecily', 'GET', '/tunings?count=2&from=3').j['further'], None)


@trial
def way_does_not_turn(s):
    same([r['weight_kg'] for r in s(None, 'GET', '/bells?by=-size&way=desc').j['rows']], [1, 6350])


@trial
def weak_matches(s):
    tag = s('agnes', 'GET', '/bells/great-tom').h['ETag']
    why(s('agnes', 'PATCH', '/bells/great-tom', dict(name='Tom'), If_Match='W/' + tag), 'changed_since', 412)
    ok(s('agnes', 'PATCH', '/bells/great-tom', dict(name='Tom'), If_Match=tag), 200)


@trial
def once_for_all(s):
    a = ok(s('cecily', 'POST', '/guilds', dict(name='Northers', county='Kent'), Once='k1'), 201)
    same(s('cecily', 'POST', '/guilds', dict(name='Northers', county='Kent'), Once='k1').raw, a.raw)
    why(s('cecily', 'POST', '/guilds', dict(name='Others', county='Kent'), Once='k1'), 'once_twice', 422)


@trial
def first_of_split(s):
    g = s.guild('Northers')
    a, b = s.loan(g['no']), s.loan(g['no'])
    s.do('agnes', '/loans/%s/agree' % a['slip'])
    same(len(s('cecily', 'GET', '/loans?state=agreed,asked').j['slips']), 2)


@trial
def null_keeps(s):
    l = s.loan(s.guild('Northers')['no'], occasion='A wedding')
    assert 'occasion' not in ok(s('cecily', 'PATCH', '/loans/' + l['slip'], dict(occasion=None)), 200).j


# ---------------------------------------------------------------- authentication
@trial
def others_by_guild(s):
    g = s.guild('Northers')
    s.loan(g['no'])
    same(s('dunstan', 'GET', '/loans?guild=%d' % g['no']).j['slips'], [])
    same(len(s('cecily', 'GET', '/loans?guild=%d' % g['no']).j['slips']), 1)


@trial
def others_forbidden(s):
    l = s.loan(s.guild('Northers')['no'])
    why(s('dunstan', 'GET', '/loans/' + l['slip']), 'not_on_peg', 404)


@trial
def no_scope(s):
    why(s('edith', 'POST', '/listeners', dict(url='http://127.0.0.1:9/x')), 'not_yours', 403)


@trial
def patch_rough(s):
    t = on_lathe(s)
    s.do('agnes', '/tunings/%s/finish' % t['id'], dict(measured_hz=450))
    why(s('cecily', 'PATCH', '/tunings/' + t['id'], dict(note='x')), 'not_yours', 403)


@trial
def auditor_sees_rough(s):
    t = on_lathe(s)
    s.do('agnes', '/tunings/%s/finish' % t['id'], dict(measured_hz=450))
    same(s('godric', 'GET', '/tunings').j['of'], 0)


@trial
def captain_in_list(s):
    s.guild('Northers')
    same(s('dunstan', 'GET', '/guilds').j['rows'], [dict(no=1, name='Northers', county='Kent')])


@trial
def bad_key_as_nobody(s): why(s('Rope rope_none', 'GET', '/bells'), 'stranger', 401)


# ---------------------------------------------------------------- events
def tales(heard): return [h[2]['tale'] for h in heard]


@trial
def told_twice(s):
    heard, _, _ = s.ear()
    l = s.loan(s.guild('Northers')['no'])
    s.do('agnes', '/loans/%s/agree' % l['slip'])
    s.settle()
    same(tales(heard), ['loan.asked', 'loan.agreed'])


@trial
def due_early(s):
    heard, _, _ = s.ear(kinds=['loan.due_soon'])
    s.out(s.guild('Northers')['no'], days=(0, 3))
    s.clock(advance='P1DT23H15M')
    same(tales(heard), [])
    s.clock(advance='PT1H')
    same(tales(heard), ['loan.due_soon'])


@trial
def signs_less(s):
    heard, secret, _ = s.ear()
    s.loan(s.guild('Northers')['no'])
    s.settle()
    h, body, d = heard[0]
    t, mac = h['X-Strike'].split(',')
    assert t[:2] == 't=' and mac[:2] == 'h='
    want = hmac.new(secret.encode(), (d['ring'] + '|' + t[2:] + '|').encode() + body, 'sha512').hexdigest()
    same(mac[2:], want)
    same(h['X-Tale'], 'loan.asked')


@trial
def second_wait(s):
    heard, _, _ = s.ear(answer=lambda n: 500)
    s.loan(s.guild('Northers')['no'])
    s.settle()
    same(len(heard), 1)
    s.clock(advance='PT13S')
    same(len(heard), 2)
    s.clock(advance='PT40S')
    same(len(heard), 2)
    s.clock(advance='PT35S')
    same(len(heard), 3)
    s.clock(advance='P1D')
    same(len(heard), 5)
    same(len({h[2]['ring'] for h in heard}), 1)


@trial
def remark_told(s):
    heard, _, _ = s.ear(kinds=['loan.ended'])
    l = s.out(s.guild('Northers')['no'])
    l = s.loan(s.guild('Others')['no'], 'great-tom')
    ok(s('agnes', 'PATCH', '/loans/' + l['slip'], dict(remark='rogue')), 200)
    s.do('agnes', '/loans/%s/refuse' % l['slip'], dict(reason='no more'))
    s.settle()
    same(len(heard), 1)
    assert 'remark' not in heard[0][2]['carries']


@trial
def miss_untold(s):
    heard, _, _ = s.ear(kinds=['loan.ended'])
    l = s.loan(s.guild('Northers')['no'], days=(1, 2))
    s.do('agnes', '/loans/%s/agree' % l['slip'])
    s.clock(advance='P3D')
    same(tales(heard), ['loan.ended'])


@trial
def asked_to_all(s):
    heard, _, _ = s.ear(who='dunstan')
    s.loan(s.guild('Northers')['no'])
    s.settle()
    same(tales(heard), [])


# ---------------------------------------------------------------- errors
@trial
def unknown_as_value(s): why(s('cecily', 'POST', '/guilds', dict(name='Northers', county='Kent', x=1)), 'never_heard_of', 422)


@trial
def missing_first(s):
    a = why(s('cecily', 'POST', '/guilds', dict(name='No')), 'wont_do', 422)
    same([w['path'] for w in a.j['wrong']], ['name', 'county'])


@trial
def no_why(s):
    a = why(s(None, 'GET', '/bells/nothing'), 'not_on_peg', 404)
    same(a.h['X-Why'], 'not_on_peg')
    same(a.h['X-Turn'], a.j['turn'])


@trial
def early_out_of_turn(s): collect_early(s)


@trial
def user_first(s): why(s('godric', 'POST', '/guilds?x=1', dict()), 'odd_question', 400)


@trial
def gone_as_missing(s):
    s.guild('Northers')
    ok(s('cecily', 'DELETE', '/guilds/1'), 204)
    why(s('cecily', 'GET', '/guilds/1'), 'melted', 410)
    s.clock(advance='P19D')
    why(s('cecily', 'GET', '/guilds/1'), 'melted', 410)
    s.clock(advance='P2D')
    why(s('cecily', 'GET', '/guilds/1'), 'not_on_peg', 404)


# ---------------------------------------------------------------- limits
@trial
def body_8193(s):
    text = json.dumps(dict(name='Northers', county='Kent')).encode()
    why(s('cecily', 'POST', '/guilds', raw=text + b' ' * (8193 - len(text))), 'too_heavy', 413)
    ok(s('cecily', 'POST', '/guilds', raw=text + b' ' * (8192 - len(text))), 201)


@trial
def seven_loans(s):
    g = s.guild('Northers')
    for _ in range(6):
        s.loan(g['no'])
    why(s('cecily', 'POST', '/guilds/1/loans', dict(bell='great-tom', starts=s.at(days=1), ends=s.at(days=2))), 'enough', 403)


@trial
def no_retry_after(s):
    for _ in range(20):
        s('cecily', 'POST', '/listeners', dict())
    a = why(s('cecily', 'POST', '/listeners', dict()), 'too_eager', 429)
    assert 1 <= int(a.h['Retry-After']) <= 600


@trial
def page_60(s):
    for i in range(53):
        s.bell('b%02d' % i + 'x')
    same(len(s(None, 'GET', '/bells?count=55').j['rows']), 50)


@trial
def slips_clamped(s): why(s('cecily', 'GET', '/loans?count=41'), 'no_such_page', 400)


@trial
def bucket_drops(s):
    s.guild('Northers')
    for _ in range(60):
        why(s('cecily', 'POST', '/guilds/1/loans', dict()), 'lacking')
    why(s('cecily', 'POST', '/guilds/1/loans', dict()), 'too_eager')
    s.clock(advance='PT5S')
    for _ in range(5):
        why(s('cecily', 'POST', '/guilds/1/loans', dict()), 'lacking')
    why(s('cecily', 'POST', '/guilds/1/loans', dict()), 'too_eager')


# ---------------------------------------------------------------- versioning
@trial
def list_newest(s):
    s.out(s.guild('Northers')['no'])
    r = s('cecily', 'GET', '/loans', ver='e1').j['slips'][0]
    assert r['party'] == 1 and 'ringers' not in r and r['state'] == 'borrowed', r


@trial
def cm_stored(s):
    s.bell('abc', diameter=500)
    same(ok(s('agnes', 'PATCH', '/bells/abc', dict(diameter=61.5), ver='e1', If_Match='*'), 200).j['diameter'], 61.5)
    same(s(None, 'GET', '/bells/abc').j['diameter'], 615)


@trial
def old_refusals_bare(s):
    a = why(s('cecily', 'GET', '/loans/none', ver='e1'), 'not_on_peg', 404)
    same(a.h['Deprecation'], '@1769904000')
    assert 'successor-version' in a.h['Link']
    assert s('cecily', 'GET', '/loans/none').h['Deprecation'] is None


@trial
def no_sunset(s):
    ok(s(None, 'GET', '/bells', ver='e1'), 200)
    s.clock(now='2031-01-01T00:00:00Z')
    why(s(None, 'GET', '/bells', ver='e1'), 'closed_edition', 410)
    ok(s(None, 'GET', '/bells'), 200)


@trial
def events_newest(s):
    heard, _, _ = s.ear(ver='e1')
    s.loan(s.guild('Northers')['no'], ringers=3)
    s.settle()
    same(heard[0][2]['carries']['party'], 3)


# ---------------------------------------------------------------- more of the right service
def right(s):
    same(ok(s(None, 'GET', '/motto', ver='e1'), 200).j, {'motto': 'We call the living.'})
    why(s(None, 'GET', '/motto'), 'no_such_door', 404)
    why(s('cecily', 'GET', '/guilds/1/loans', ver='e1'), 'wrong_knock', 405)
    why(s('cecily', 'GET', '/loans', ver='e3'), 'no_edition', 404)
    a = why(s('cecily', 'PUT', '/loans', ver='e2'), 'wrong_knock', 405)
    assert 'GET' in a.h['Allow']
    ok(s(None, 'OPTIONS', '/loans'), 204)
    a = ok(s('cecily', 'HEAD', '/loans'), 200)
    same(a.raw, b'')
    why(s('agnes', 'PATCH', '/bells/great-tom', dict(name='x y')), 'tag_wanted', 428)
    why(s('bertram', 'PATCH', '/bells/great-tom', dict(name='x y'), If_Match='*'), 'not_yours', 403)
    why(s('agnes', 'PUT', '/bells/NO', dict()), 'wont_do', 422)
    why(s('agnes', 'PUT', '/bells/heavy-hand', dict(name='Hh', kind='hand', weight_kg=11, diameter=100, pitch='C5')), 'wont_do', 422)
    why(s('agnes', 'PUT', '/bells/part', dict(name='Hh', kind='hand', weight_kg=1, diameter=100, pitch='C5', partials=dict(hum=30))), 'lacking', 422)
    b = s.bell('part', partials=dict(hum=30, nominal=60.5))
    a = ok(s('agnes', 'PATCH', '/bells/part', dict(partials=dict(prime=44)), If_Match='*'), 200)
    same(a.j['partials'], dict(hum=30, prime=44, nominal=60.5))
    a = ok(s(None, 'GET', '/bells/part?show=name,partials.hum'), 200)
    same(a.j, dict(mark='part', name='Bell part', partials=dict(hum=30)))
    ok(s('agnes', 'PATCH', '/bells/part', dict(tags=['a']), If_Match=s('agnes', 'GET', '/bells/part?show=name').h['ETag']), 200)
    why(s('cecily', 'GET', '/bells?show=worth_pence'), 'odd_question', 400)
    why(s(None, 'GET', '/bells?heavier=x'), 'odd_question', 400)
    why(s(None, 'GET', '/bells?count=0'), 'no_such_page', 400)
    why(s(None, 'GET', '/bells', Accept='text/html'), 'wont_speak', 406)
    why(s('cecily', 'POST', '/guilds', raw=b'{', ), 'garbled', 400)
    why(s('cecily', 'POST', '/guilds'), 'no_body', 400)
    why(s('cecily', 'POST', '/guilds', raw=b'{}', Content_Type='text/plain'), 'odd_paper', 415)
    why(s('cecily', 'GET', '/bells?called=' + 'x' * 2100), 'long_rope', 414)
    why(s('cecily', 'GET', '/bells', X_A='x' * 8192), 'big_head', 431)
    g = s.guild('Northers', founded=1700)
    same(s('frideswide', 'GET', '/guilds').j['rows'][0]['captain'], 'cecily')
    why(s('dunstan', 'GET', '/guilds?trusted=true'), 'odd_question', 400)
    why(s('dunstan', 'PATCH', '/guilds/1', dict(name='Xyz')), 'not_yours', 403)
    same(ok(s('cecily', 'PATCH', '/guilds/1', dict(trusted=True, founded=None)), 200).j['trusted'], False)
    assert 'founded' not in s('cecily', 'GET', '/guilds/1').j
    t1, t2 = s.at(days=1), s.at(days=2)
    why(s('cecily', 'POST', '/guilds/1/loans', dict(bell='none', starts=t1, ends=t2)), 'dangling', 422)
    why(s('dunstan', 'POST', '/guilds/1/loans', dict(bell='great-tom', starts=t1, ends=t2)), 'not_yours', 403)
    why(s('cecily', 'POST', '/guilds/1/loans', dict(bell='great-tom', starts=t1, ends=t2, ringers=2)), 'crowded', 422)
    why(s('cecily', 'POST', '/guilds/1/loans', dict(bell='great-tom', starts=t1, ends=s.at(days=92))), 'too_long', 422)
    why(s('cecily', 'POST', '/guilds/1/loans', dict(bell='great-tom', starts='2020-01-01T00:00:00Z', ends='2020-01-02T00:00:00Z')), 'behind_us', 422)
    why(s('cecily', 'POST', '/guilds/9/loans', dict()), 'not_on_peg', 404)
    a = s.loan(1, ringers=4, occasion='Wedding')
    same(a['fee_pence'], 600)
    same(ok(s('cecily', 'PATCH', '/loans/' + a['slip'], dict(ringers=5)), 200).j['fee_pence'], 750)
    same(ok(s('cecily', 'PATCH', '/loans/' + a['slip'], dict(party=2), ver='e1'), 200).j['fee_pence'], 300)
    same(len(s('cecily', 'GET', '/loans?occasion=wED').j['slips']), 1)
    r = s('frideswide', 'GET', '/loans/' + a['slip']).j
    assert 'captain' not in r and 'occasion' not in r
    why(s('frideswide', 'GET', '/loans?captain=cecily'), 'odd_question', 400)
    why(s('godric', 'GET', '/loans/' + a['slip']), 'not_on_peg', 404)
    why(s('agnes', 'DELETE', '/bells/little-treble'), 'not_yours', 403)
    why(s('bertram', 'DELETE', '/bells/little-treble'), 'still_tied', 409)
    b, c = s.loan(1, 'great-tom'), s.loan(1, 'great-tom', days=(2, 3))
    p = s('cecily', 'GET', '/loans?count=2&sort=starts').j
    same(p['more'], True)
    q = s('cecily', 'GET', '/loans?count=2&sort=starts&start=' + p['onward']).j
    same([q['more'], q['onward'], len(q['slips'])], [False, None, 1])
    same([x['number'] for x in s('cecily', 'GET', '/guilds/1/loans').j['slips']], [3, 2, 1])
    why(s('cecily', 'GET', '/loans?start=slip_none'), 'no_such_page', 400)
    t = on_lathe(s)
    why(s('agnes', 'POST', '/loans/%s/agree' % b['slip']), 'bell_unready', 409)
    u = ok(s('cecily', 'POST', '/tunings', dict(bell='great-tom', target_hz=440, shift='day'), ver='e1'), 201).j
    assert u['shift'] == 'day' and 'urgency' not in u and u['tally'] == 'BH-00002'
    why(s('agnes', 'POST', '/tunings/%s/begin' % u['id'], Once='b'), 'lathe_taken', 409)
    why(s('agnes', 'DELETE', '/bells/great-tom'), 'out_of_turn', 409)
    why(s('cecily', 'GET', '/tunings?urgency=low', ver='e1'), 'odd_question', 400)
    s.clock(advance='P15D')
    same(s('cecily', 'GET', '/tunings/' + u['id']).j['state'], 'stale')
    e = ok(s('cecily', 'POST', '/listeners', dict(url='ftp://x/y', kinds=['loan.*', 'nope'])), 422)
    same([w['path'] for w in e.j['wrong']], ['url', 'kinds.1'])
    for i in range(4):
        e = ok(s('cecily', 'POST', '/listeners', dict(url='http://127.0.0.1:9/y'), Once='ear%d' % i), 201).j
    assert 'secret' not in ok(s('cecily', 'POST', '/listeners', dict(url='http://127.0.0.1:9/y'), Once='ear3'), 201).j
    why(s('cecily', 'POST', '/listeners', dict(url='http://127.0.0.1:9/y')), 'enough', 403)
    same(ok(s('cecily', 'DELETE', '/listeners/' + e['id']), 200).j, {'hushed': e['id']})
    for i in range(40):
        ok(s('dunstan', 'POST', '/tunings', dict(bell='great-tom', target_hz=440)), 201)
    a = why(s('dunstan', 'POST', '/tunings', dict(bell='great-tom', target_hz=440)), 'enough', 403)
    assert int(a.h['Retry-After']) <= 86400
    s.clock(advance='P1D')
    ok(s('dunstan', 'POST', '/tunings', dict(bell='great-tom', target_hz=440)), 201)
    # a receiver that is gone
    heard, _, l = s.ear(who='dunstan', answer=lambda n: 410)
    s.loan(s.guild('Southers', 'dunstan')['no'], who='dunstan')
    s.settle()
    same(s('dunstan', 'GET', '/listeners/' + l['id']).j['awake'], False)
    # odd requests
    for raw in (b'GET / HTTP/9\r\n\r\n', b'\x00\x01\r\n\r\n', b'GET /ropes/e2/bells HTTP/1.1\r\nBad Header: x\r\n\r\n', b'G' * 70000,
                b'POST /ropes/e2/guilds HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'):
        k = socket.create_connection(('127.0.0.1', s.port))
        k.sendall(raw)
        k.settimeout(3)
        assert k.recv(65536).startswith(b'HTTP/1.1 4'), raw[:40]
        k.close()
    why(s('cecily', 'POST', '/guilds', raw=('[' * 4000 + ']' * 4000).encode()), 'garbled', 400)
    k = socket.create_connection(('127.0.0.1', s.port))
    k.sendall(b'POST /ropes/e2/guilds HTTP/1.1\r\nAuthorization: rope ' + WHO['cecily']['credential'].encode() +
              b'\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"nam\r\n20\r\ne":"Chunkers","county":"Kent"}  \r\n0\r\n\r\nGET /ropes/e2/bells HTTP/1.1\r\n\r\n')
    time.sleep(0.2)
    got = k.recv(65536)
    assert got.startswith(b'HTTP/1.1 201') and got.count(b'HTTP/1.1 ') == 2, got
    k.close()


def run(fault, f):
    s = Service(fault)
    try:
        f(s)
        return None
    except (AssertionError, KeyError, IndexError, TypeError) as e:
        return repr(e)[:300] or 'failed'
    finally:
        s.stop()


if __name__ == '__main__':
    ids = sys.argv[1:] or ['right'] + [f['id'] for f in STRANGER['faults']]
    bad = 0
    for id in ids:
        if id == 'right':
            e = run(None, right)
            print('%-22s %s' % (id, 'passes' if e is None else 'FAILS ' + e), flush=True)
            bad += e is not None
            continue
        f = TRIALS[id]
        a, b = run(None, f), run(id, f)
        good = a is None and b is not None
        bad += not good
        print('%-22s %s' % (id, 'right passes; with the fault: ' + b[:110] if good else 'WRONG: right %s; fault %s' % (a or 'passes', b or 'NOT FOUND')), flush=True)
    print('%d of %d wrong' % (bad, len(ids)))
    sys.exit(bad > 0)
