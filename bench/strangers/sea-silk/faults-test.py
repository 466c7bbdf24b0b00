"""Starts the service once sound and once per fault: each fault has to differ from the sound service in what its test sees."""
import base64, hashlib, hmac, http.client, http.server, json, os, socket, subprocess, sys, threading, time
HERE = os.path.dirname(os.path.abspath(__file__))
META = json.load(open(os.path.join(HERE, 'stranger.json')))
CRED = {c['id']: c for c in META['callers']}
n = [100]


def uniq():
    n[0] += 1
    return n[0]


class Hook:
    def __init__(self, status=200):
        me = self
        self.got, self.status = [], status

        class H(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                b = self.rfile.read(int(self.headers['Content-Length']))
                me.got.append((dict(self.headers), b))
                self.send_response(me.status)
                self.send_header('Content-Length', '0')
                self.end_headers()

            def log_message(self, *a):
                pass
        self.srv = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H)
        self.url = 'http://127.0.0.1:%d/hook' % self.srv.server_port
        threading.Thread(target=self.srv.serve_forever, daemon=True).start()

    def kinds(self, wait=0.12):
        time.sleep(wait)
        return [json.loads(b)['kind'] for h, b in self.got]


def free():
    s = socket.socket()
    s.bind(('127.0.0.1', 0))
    p = s.getsockname()[1]
    s.close()
    return p


class S:
    def __init__(self, fault=None):
        self.port, self.cp = free(), free()
        self.p = subprocess.Popen([sys.executable, os.path.join(HERE, 'service.py'), '--port', str(self.port), '--clock-port', str(self.cp)] + (['--fault', fault] if fault else []), stdout=subprocess.PIPE)
        self.p.stdout.readline()
        self.c = http.client.HTTPConnection('127.0.0.1', self.port)

    def stop(self):
        self.c.close()
        self.p.terminate()
        self.p.wait()

    def clock(self, **d):
        c = http.client.HTTPConnection('127.0.0.1', self.cp)
        c.request('POST', '/', json.dumps(d))
        r = c.getresponse()
        out = json.loads(r.read())
        c.close()
        return out['now']

    def __call__(self, how, who=None, body=None, **h):
        m, path = how.split(' ', 1)
        hd = {k.replace('_', '-'): v for k, v in h.items()}
        if who:
            c = CRED.get(who) if isinstance(who, str) else None
            if c is None:
                hd.update(who)
            elif c['scheme'] == 'shell':
                hd['X-Shell'] = c['credential']
            elif c['scheme'] == 'door':
                hd['Authorization'] = 'Basic ' + base64.b64encode(c['credential'].encode()).decode()
            else:
                hd['Authorization'] = 'Bearer ' + c['credential']
        if body is not None:
            hd['Content-Type'] = 'application/json'
            body = json.dumps(body)
        self.c.request(m, '/guild' + path, body, hd)
        r = self.c.getresponse()
        raw = r.read()
        return R(r.status, r.headers, json.loads(raw) if raw else None)

    # what many need
    def bed(self, **f):
        i = uniq()
        f = dict({'code': 'bay-%04d' % i, 'name': 'Bed %d' % i, 'depth_m': 7}, **f)
        r = self('POST /beds', 'w-ilaria', f)
        assert r.status == 201, r.j
        return r.j['code']

    def skein(self, bed=None, who='d-nunzio', **f):
        r = self('POST /beds/%s/skeins' % (bed or self.bed()), who, dict({'grams': 20, 'shade': 'gold'}, **f))
        assert r.status == 201, r.j
        return r.j['id']

    def spun(self, **f):
        k = self.skein(**f)
        assert self('POST /skeins/%s/comb' % k, 'd-nunzio').status == 200
        assert self('POST /skeins/%s/spin' % k, 'v-tommaso').status == 200
        return k

    def com(self, who='p-aurelia', **f):
        r = self('POST /commissions', who, dict({'piece': 'cap', 'shade': 'gold', 'length_cm': 40, 'due_at': '2040-01-01T00:00:00Z'}, **f))
        assert r.status == 201, r.j
        return r.j['id']

    def taken(self, **f):
        k = self.com(**f)
        assert self('POST /commissions/%s/take' % k, 'v-tommaso').status == 200
        return k

    def strand(self, com, grams=15, skein=None):
        return self('POST /commissions/%s/strands' % com, 'v-tommaso', {'skein': skein or self.spun(), 'grams': grams})

    def finished(self, **f):
        k = self.taken(**f)
        assert self.strand(k).status == 201
        assert self('POST /commissions/%s/finish' % k, 'v-tommaso').status == 200
        return k

    def ear(self, url, who='w-oria', **f):
        r = self('POST /ears', who, dict({'url': url}, **f))
        assert r.status == 201, r.j
        return r.j

    def deaf(self, *ears):
        for e in ears:
            self('DELETE /ears/' + e['id'], 'w-oria')


class R:
    def __init__(self, status, headers, j):
        self.status, self.h, self.j = status, headers, j

    @property
    def code(self):
        return self.j.get('refused') if self.j else None


T = {}


def fault(good):
    def deco(f):
        T[f.__name__.replace('_', '-')] = (f, good)
        return f
    return deco


@fault(200)
def p_no_withdraw(s): return s('POST /commissions/%s/withdraw' % s.com(), 'p-aurelia').status
@fault(200)
def p_diver_unknown(s): return s('GET /skeins', 'd-pia').status
@fault(404)
def p_bare_base(s): return bare(s)


def bare(s):
    s.c.request('GET', '/beds')
    r = s.c.getresponse()
    r.read()
    return r.status


@fault((422, 201))
def r_name_max(s):
    i = '%04d' % uniq()
    return (s('POST /beds', 'w-ilaria', {'code': 'max-' + i, 'name': 'x' * 37 + i, 'depth_m': 3}).status,
            s('POST /beds', 'w-ilaria', {'code': 'max-' + i, 'name': 'x' * 36 + i, 'depth_m': 3}).status)
@fault(900)
def r_allowance_default(s): return s('GET /beds/' + s.bed()).j['allowance_g']
@fault([1, 2, 1])
def r_number_all(s):
    b, c = s.bed(), s.bed()
    return [s('GET /skeins/' + s.skein(x), 'd-nunzio').j['number'] for x in (b, b, c)]
@fault((30, 2))
def r_gathered_spoiled(s):
    b = s.bed()
    s.skein(b, grams=30)
    s('POST /skeins/%s/discard' % s.skein(b), 'd-nunzio')
    j = s('GET /beds/' + b).j
    return j['gathered_g'], j['skeins']
@fault((True, False))
def r_secret_again(s):
    e = s.ear('http://127.0.0.1:9/', 'd-pia')
    again = s('GET /ears/' + e['id'], 'd-pia').j
    s('DELETE /ears/' + e['id'], 'd-pia')
    return 'secret' in e, 'secret' in again
@fault((True, False, False))
def r_sounding_shown(s):
    b = s.bed(sounding='soft mud')
    return tuple('sounding' in s('GET /beds/' + b, w).j for w in ('w-ilaria', 'd-pia', None))
@fault(409)
def r_unique_update(s):
    a, b = s.bed(), s.bed()
    nm = s('GET /beds/' + a).j['name']
    return s('PATCH /beds/' + b, 'w-ilaria', {'name': nm}, If_Match='*').status
@fault((422, '/length_cm'))
def r_glove_update(s):
    k = s.com(piece='glove')
    r = s('PATCH /commissions/' + k, 'p-aurelia', {'length_cm': 61})
    return r.status, r.j.get('faults', [{}])[0].get('path')
@fault(True)
def r_changed_take(s):
    k = s.com()
    before = s('GET /commissions/' + k, 'p-aurelia').j['changed_at']
    s.clock(advance='PT1M')
    return s('POST /commissions/%s/take' % k, 'v-tommaso').j['changed_at'] > before
@fault('d-pia')
def r_diver_sent(s): return s('POST /beds/%s/skeins' % s.bed(), 'd-pia', {'grams': 3, 'shade': 'umber', 'diver': 'd-nunzio'}).j['diver']


@fault(('past_saving', 409))
def s_discard_spun(s):
    r = s('POST /skeins/%s/discard' % s.spun(), 'd-nunzio')
    return r.code, r.status
@fault(('raw', 'spoiled'))
def s_spoil_early(s):
    k = s.skein()
    s.clock(advance='P8DT1H')
    a = s('GET /skeins/' + k, 'd-nunzio').j['state']
    s.clock(advance='PT23H')
    return a, s('GET /skeins/' + k, 'd-nunzio').j['state']
@fault(('too_thin', 200))
def s_finish_nine(s):
    k = s.taken()
    s.strand(k, 9)
    a = s('POST /commissions/%s/finish' % k, 'v-tommaso').code
    s.strand(k, 1)
    return a, s('POST /commissions/%s/finish' % k, 'v-tommaso').status
@fault(('too_late', 200))
def s_withdraw_finished(s):
    k = s.finished()
    return s('POST /commissions/%s/withdraw' % k, 'p-aurelia').code, s('POST /commissions/%s/withdraw' % s.taken(), 'p-aurelia').status
@fault(('lapsed', 'taken'))
def s_lapse_taken(s):
    a, b = s.com(), s.taken()
    s.clock(advance='P21DT1M')
    return tuple(s('GET /commissions/' + k, 'p-aurelia').j['status'] for k in (a, b))
@fault('woven')
def s_weave_forgot(s):
    k = s.spun()
    s.strand(s.taken(), skein=k)
    return s('GET /skeins/' + k, 'd-nunzio').j['state']
@fault(('finished', 'forfeited'))
def s_forfeit_never(s):
    t = s.clock(advance='PT1S')
    k = s.finished(due_at=t[:4] + '-12-31T23:59:59Z')
    a = s('GET /commissions/' + k, 'p-aurelia').j['status']
    s.clock(now='%d-01-01T00:00:30Z' % (int(t[:4]) + 1))
    return a, s('GET /commissions/' + k, 'p-aurelia').j['status']


@fault(True)
def e_no_location(s):
    r = s('POST /beds/%s/skeins' % s.bed(), 'd-pia', {'grams': 3, 'shade': 'umber'})
    return r.h.get('Location') == '/guild/skeins/' + r.j['id']
@fault([30, 20])
def e_heavier_gt(s):
    b = s.bed()
    for g in (10, 20, 30):
        s.skein(b, grams=g)
    return [r['grams'] for r in s('GET /skeins?heavier=20&bed=' + b, 'd-nunzio').j['rows']]
@fault(['gold', 'umber'])
def e_shade_first(s):
    b = s.bed()
    for x in ('gold', 'bronze', 'umber'):
        s.skein(b, shade=x)
    return sorted(r['shade'] for r in s('GET /skeins?shade=gold&shade=umber&bed=' + b, 'd-nunzio').j['rows'])
@fault(1)
def e_q_case(s):
    i = uniq()
    s.bed(name='Quiet Lagoon %d' % i)
    return s('GET /beds?q=lagoon+QUIET+%d' % i).j['total']
@fault(True)
def e_oldest_first(s):
    a = s.com()
    s.clock(advance='PT1S')
    b = s.com()
    return s('GET /commissions?take=1', 'p-aurelia').j['rows'][0]['id'] == b
@fault(('tag_wanted', 428))
def e_no_tag_wanted(s):
    r = s('PATCH /beds/' + s.bed(), 'w-ilaria', {'depth_m': 9})
    return r.code, r.status
@fault((True, 'key_spent'))
def e_once_twice(s):
    b = {'piece': 'cap', 'shade': 'gold', 'length_cm': 40, 'due_at': '2040-01-01T00:00:00Z'}
    k = 'k%d' % uniq()
    x, y = (s('POST /commissions', 'p-corrado', b, Once_Key=k).j['id'] for _ in 'ab')
    return x == y, s('POST /commissions', 'p-corrado', dict(b, length_cm=41), Once_Key=k).code
@fault(False)
def e_null_kept(s): return 'wish' in s('PATCH /commissions/' + s.com(wish='fringes'), 'p-aurelia', {'wish': None}).j
@fault((1, 1))
def e_all_strands(s):
    a, b = s.taken(), s.taken()
    s.strand(a), s.strand(b)
    return tuple(len(s('GET /commissions/%s/strands' % x, 'v-tommaso').j['strands']) for x in (a, b))


@fault(True)
def a_skeins_all(s):
    b = s.bed()
    s.skein(b, who='d-pia'), s.skein(b)
    return all(r['diver'] == 'd-nunzio' for r in s('GET /skeins?bed=' + b, 'd-nunzio').j['rows'])
@fault((404, 200))
def a_discard_others(s): return s('POST /skeins/%s/discard' % s.skein(who='d-pia'), 'd-nunzio').status, s('POST /skeins/%s/discard' % s.skein(who='d-pia'), 'd-pia').status
@fault((200, 404))
def a_weaver_sees_all(s):
    k = s.taken()
    return s('GET /commissions/' + k, 'v-tommaso').status, s('GET /commissions/' + k, 'v-efisia').status
@fault((200, 401))
def a_slate_unsigned(s):
    t = CRED['v-efisia']['credential']
    h, p, g = t.split('.')
    return s('GET /skeins', {'Authorization': 'Bearer ' + t}).status, s('GET /skeins', {'Authorization': 'Bearer %s.%s.%s' % (h, p, g[:5] + ('A' if g[5] != 'A' else 'B') + g[6:])}).status
@fault(('scope_lacking', 403))
def a_scope_update(s):
    r = s('PATCH /beds/' + s.bed(), 'w-bastian', {'depth_m': 9}, If_Match='*')
    return r.code, r.status
@fault(401)
def a_any_word(s): return s('GET /commissions', {'Authorization': 'Basic ' + base64.b64encode(b'p-aurelia:wrong').decode()}).status
@fault((200, 401))
def a_shell_tail(s):
    k = CRED['d-pia']['credential']
    return s('GET /skeins', {'X-Shell': k}).status, s('GET /skeins', {'X-Shell': k + 'x'}).status
@fault((200, 401))
def a_bad_as_nobody(s): return s('GET /beds').status, s('GET /beds', {'X-Shell': 'shl_nobody'}).status


@fault(['skein.spoiled'])
def v_clock_silent(s):
    h = Hook()
    e = s.ear(h.url, kinds=['skein.spoiled'])
    s.clock(advance='P10D')
    time.sleep(.1)
    h.got.clear()
    s.skein()
    s.clock(advance='P9DT1M')
    out = h.kinds()
    s.deaf(e)
    return out
@fault([])
def v_renamed_always(s):
    h = Hook()
    b = s.bed()
    e = s.ear(h.url, kinds=['bed.*'])
    assert s('PATCH /beds/' + b, 'w-ilaria', {'depth_m': 11}, If_Match='*').status == 200
    out = h.kinds()
    s.deaf(e)
    return out
@fault(('asked', 'taken'))
def v_moved_was(s):
    h = Hook()
    e = s.ear(h.url, kinds=['commission.moved'])
    s.taken()
    h.kinds()
    s.deaf(e)
    b = json.loads(h.got[0][1])['body']
    return b['was'], b['is']
@fault(1)
def v_laid_twice(s):
    h = Hook()
    k = s.taken()
    e = s.ear(h.url, who='v-tommaso', kinds=['strand.laid'])
    s.strand(k)
    out = h.kinds()
    s('DELETE /ears/' + e['id'], 'v-tommaso')
    return len(out)
@fault(True)
def v_seal_no_id(s):
    h = Hook()
    e = s.ear(h.url, kinds=['skein.gathered'])
    s.skein()
    h.kinds()
    s.deaf(e)
    hd, b = h.got[0]
    t, sig = (x.split('=')[1] for x in hd['X-Guild-Seal'].split(','))
    return hmac.new(e['secret'].encode(), (t + '.' + hd['X-Tiding-Id'] + '.').encode() + b, 'sha256').hexdigest() == sig
@fault(['skein.gathered'])
def v_others_told(s):
    h = Hook()
    e = s.ear(h.url, who='d-pia', kinds=['skein.gathered'])
    s.skein(who='d-nunzio'), s.skein(who='d-pia')
    out = h.kinds()
    s('DELETE /ears/' + e['id'], 'd-pia')
    return out
@fault(['skein.gathered'])
def v_kinds_ignored(s):
    h = Hook()
    e = s.ear(h.url, kinds=['skein.gathered'])
    s.com(), s.skein()
    out = h.kinds()
    s.deaf(e)
    return out
@fault([1, 2, 3, 4, 4])
def v_one_try(s):
    h = Hook(500)
    e = s.ear(h.url, kinds=['skein.gathered'])
    s.skein()
    out = [len(h.kinds())]
    for d in ('PT13S', 'PT1M13S', 'PT12M5S', 'PT2H'):
        s.clock(advance=d)
        out.append(len(h.kinds()))
    s.deaf(e)
    return out


@fault((409, 'past_saving'))
def x_saving_400(s):
    k = s.skein()
    s('POST /skeins/%s/discard' % k, 'w-bastian')
    r = s('POST /skeins/%s/discard' % k, 'w-bastian')
    return r.status, r.code
@fault((400, 'lacking'))
def x_lacking_unfit(s):
    r = s('POST /beds/%s/skeins' % s.bed(), 'd-pia', {'grams': 3})
    return r.status, r.code
@fault((422, 'no_such_ref'))
def x_ref_404(s):
    r = s.strand(s.taken(), skein='sk_000000000000')
    return r.status, r.code
@fault((201, 'over_allowance'))
def x_allowance_met(s):
    b = s.bed(allowance_g=50)
    return s('POST /beds/%s/skeins' % b, 'd-pia', {'grams': 50, 'shade': 'gold'}).status, s('POST /beds/%s/skeins' % b, 'd-pia', {'grams': 1, 'shade': 'gold'}).code
@fault('wrong_shade')
def x_shade_unasked(s): return s.strand(s.taken(shade='umber')).code


@fault((30, 429))
def l_rate_31(s):
    s.clock(advance='PT2M')
    st = [s('GET /tidings', 'w-oria').status for _ in range(31)]
    s.clock(advance='PT2M')
    return st.count(200), st[30]
@fault((12, 'enough'))
def l_quota_13(s):
    t = s.clock(advance='P1D')
    b = s.bed()
    r = [s('POST /skeins/%s/discard' % s.skein(b, grams=1), 'w-ilaria') for _ in range(13)]
    return sum(x.status == 200 for x in r), r[12].code
@fault((8, 'enough'))
def l_rows_9(s):
    r = [s('POST /ears', 'p-corrado', {'url': 'http://127.0.0.1:9/'}) for _ in range(9)]
    for x in r:
        if x.status == 201:
            s('DELETE /ears/' + x.j['id'], 'p-corrado')
    return sum(x.status == 201 for x in r), r[8].code
@fault((201, 413))
def l_body_9000(s):
    out = []
    for size in (8192, 8193):
        i = '%04d' % uniq()
        b = json.dumps({'code': 'big-' + i, 'name': 'Big ' + i, 'depth_m': 3})
        s.c.request('POST', '/guild/beds', b + ' ' * (size - len(b)), {'X-Shell': CRED['w-ilaria']['credential'], 'Content-Type': 'application/json'})
        r = s.c.getresponse()
        r.read()
        out.append(r.status)
    return tuple(out)
@fault((15, True))
def l_default_16(s):
    b = s.bed()
    for _ in range(17):
        s.skein(b, grams=1)
    j = s('GET /skeins?bed=' + b, 'd-nunzio').j
    return len(j['rows']), j['more']


@fault((True, False))
def n_list_grams(s):
    b = s.bed()
    s.skein(b)
    r = s('GET /skeins?bed=' + b, 'd-nunzio', X_Edition='ed-1').j['rows'][0]
    return 'weight' in r, 'grams' in r
@fault((29, 0.29))
def n_metres_cut(s):
    k = s.com()
    r = s('PATCH /commissions/' + k, 'p-aurelia', {'length_cm': 0.29}, X_Edition='ed-1')
    return s('GET /commissions/' + k, 'p-aurelia').j['length_cm'], r.j['length_cm']
@fault(('@1777593600', True))
def n_not_deprecated(s):
    r = s('GET /beds', X_Edition='ed-1')
    return r.h.get('Deprecation'), 'Sunset' in r.h
@fault((400, 'no_edition'))
def n_edition_guess(s):
    r = s('GET /beds', X_Edition='ed-9')
    return r.status, r.j.get('refused')
@fault((410, 'old_edition', 200))
def n_no_sunset(s):
    s.clock(now='2029-05-01T00:00:01Z')
    r = s('GET /beds', X_Edition='ed-1')
    return r.status, r.j.get('refused'), s('GET /beds').status


if __name__ == '__main__':
    want = [f['id'] for f in META['faults']]
    assert sorted(want) == sorted(T), set(want) ^ set(T)
    s, badly, t0 = S(), 0, time.time()
    only = sys.argv[1:]
    for i, (f, good) in T.items():
        if only and i not in only:
            continue
        try:
            got = f(s)
        except Exception as e:
            got = repr(e)
        if got != good:
            badly += 1
            print('SOUND DIFFERS', i, got, 'wanted', good)
    s.stop()
    for i, (f, good) in T.items():
        if only and i not in only:
            continue
        s = S(i)
        try:
            got = f(s)
        except Exception as e:
            got = repr(e)
        s.stop()
        if got == good:
            badly += 1
            print('FAULT NOT SEEN', i)
        else:
            print('shown', i, 'sound:', good, 'fault:', got)
    print('%d faults, %d failures, %.1f s' % (len(T), badly, time.time() - t0))
    sys.exit(1 if badly else 0)
