"""One trial for each fault: it passes on the right service and fails on the faulty one. `python3 faults-test.py [ID ...]`.
Besides, `general` holds the right service to many more sentences of its document."""
import hashlib, hmac, http.client, http.server, json, os, socket, subprocess, sys, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
STRANGER = json.load(open(os.path.join(HERE, 'stranger.json')))
WHO = {c['id']: c for c in STRANGER['callers']}
TRIALS = {}


def free_port():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def code(self):
        return self.body['trouble']['code'] if isinstance(self.body, dict) and 'trouble' in self.body else None

    def __getitem__(self, k):
        return self.body[k]


class Receiver:
    def __init__(self):
        self.got, self.status = [], 200
        outer = self

        class H(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                status = outer.status
                outer.got.append({'headers': dict(self.headers), 'body': json.loads(body), 'raw': body})
                self.send_response(status)
                self.send_header('Content-Length', '0')
                self.end_headers()

            def log_message(self, *a):
                pass
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H)
        self.url = 'http://127.0.0.1:%d/told' % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wait(self, n, seconds=2.0):
        end = time.time() + seconds
        while len(self.got) < n and time.time() < end:
            time.sleep(0.01)
        assert len(self.got) >= n, 'told %d times, not %d' % (len(self.got), n)
        return self.got

    def quiet(self, n, seconds=0.4):
        time.sleep(seconds)
        assert len(self.got) == n, 'told %d times, not %d: %s' % (len(self.got), n, [g['body']['what'] for g in self.got])

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Service:
    def __init__(self, fault=None):
        self.port, self.clock = free_port(), free_port()
        cmd = STRANGER['command'] + ['--port', str(self.port), '--clock-port', str(self.clock)] + (['--fault', fault] if fault else [])
        self.p = subprocess.Popen(cmd, cwd=HERE, env={**os.environ, 'PYTHONDONTWRITEBYTECODE': '1'})
        for _ in range(200):
            try:
                socket.create_connection(('127.0.0.1', self.clock), 0.2).close()
                break
            except OSError:
                time.sleep(0.02)
        self.c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=10)
        self.n = 0
        self.receivers = []

    def stop(self):
        self.c.close()
        self.p.terminate()
        self.p.wait(5)
        for r in self.receivers:
            r.close()

    def receiver(self):
        r = Receiver()
        self.receivers.append(r)
        return r

    def ask(self, who, method, path, body=None, edition=None, raw=None, **headers):
        h = {k.replace('_', '-'): v for k, v in headers.items()}
        if who:
            w = WHO[who]
            if w['scheme'] == 'badge':
                h.setdefault('Authorization', 'Badge ' + w['credential'])
            else:
                h.setdefault('X-Tally', w['credential'])
        data = raw
        if body is not None:
            data = json.dumps(body)
        if data is not None:
            h.setdefault('Content-Type', 'application/json')
        if edition:
            h['Dale-Edition'] = edition
        self.c.request(method, path if path.startswith('/dale') else '/dale' + path, data, h)
        r = self.c.getresponse()
        text = r.read()
        return Answer(r.status, r.headers, json.loads(text) if text else None)

    def ok(self, *a, status=200, **k):
        r = self.ask(*a, **k)
        assert r.status == status, '%s %s: %d %s, not %d' % (a[1], a[2], r.status, r.body, status)
        return r

    def no(self, code, *a, **k):
        r = self.ask(*a, **k)
        assert r.code == code, '%s %s: %d %s, not %s' % (a[1], a[2], r.status, r.body, code)
        return r

    def advance(self, text):
        c = http.client.HTTPConnection('127.0.0.1', self.clock)
        c.request('POST', '/', json.dumps({'advance': text}))
        r = c.getresponse()
        assert r.status == 200
        r.read()
        c.close()

    # what trials begin with
    def wall(self, who='ada', name=None, **k):
        self.n += 1
        return self.ok(who, 'POST', '/walls', {'name': name or 'Wall %d' % self.n, 'stone': 'slate', 'metres': 500, 'foot_cm': 70, 'head_cm': 40, **k}, status=201).body

    def gap(self, wall, who='gwen', **k):
        self.n += 1
        return self.ok(who, 'POST', '/walls/%s/gaps' % wall['id'], {'at_metre': self.n, 'width_cm': 150, **k}, status=201, Once_Key='k%d' % self.n).body

    def go(self, gap, *verbs, waller='dirk'):
        for v in verbs:
            who = {'survey': 'ada', 'dismiss': 'ada', 'approve': 'ada'}.get(v, waller)
            if v == 'work':
                self.ok(who, 'POST', '/gaps/%s/shifts' % gap['id'], {'day': '2026-05-04', 'minutes': 60}, status=201)
            else:
                gap = self.ok(who, 'POST', '/gaps/%s/%s' % (gap['id'], v), {'grade': 'B', 'fee_pence': 9000} if v == 'survey' else None).body
        return gap

    def hook(self, who, url, edition=None, **k):
        return self.ok(who, 'POST', '/hooks', {'url': url, **k}, status=201, edition=edition).body


def trial(f):
    TRIALS[f.__name__.replace('_', '-')] = f
    return f


def is_(a, b):
    assert a == b, '%r, not %r' % (a, b)


# ---- purpose
@trial
def p_wrong_base(s): is_(s.ask(None, 'GET', '/dale/stones').status, 200)


@trial
def p_location_base(s):
    r = s.ok('ada', 'POST', '/walls', {'name': 'Long Rigg', 'stone': 'slate', 'metres': 5, 'foot_cm': 70, 'head_cm': 40}, status=201)
    is_(r.headers['Location'], '/dale/walls/' + r['id'])


@trial
def p_no_read_shift(s):
    g = s.go(s.gap(s.wall()), 'survey', 'claim', 'begin')
    x = s.ok('dirk', 'POST', '/gaps/%s/shifts' % g['id'], {'day': '2026-05-04', 'minutes': 60}, status=201)
    is_(s.ok('dirk', 'GET', '/shifts/' + x['id']).body, x.body)


@trial
def p_approve_nobody(s): is_(s.go(s.gap(s.wall()), 'survey', 'claim', 'begin', 'work', 'finish', 'approve')['state'], 'approved')


@trial
def p_farmers_unknown(s): s.ok('gwen', 'GET', '/walls')


# ---- resources
@trial
def r_wall_twice(s):
    s.wall(name='Hag Dyke')
    s.no('taken', 'bram', 'POST', '/walls', {'name': 'Hag Dyke', 'stone': 'whin', 'metres': 5, 'foot_cm': 70, 'head_cm': 40})
    s.wall('cleo', name='Hag Dyke')


@trial
def r_number_global(s):
    a, b = s.wall(), s.wall()
    is_([s.gap(a)['number'], s.gap(a)['number'], s.gap(b)['number']], [1, 2, 1])


@trial
def r_minutes_stale(s):
    g = s.go(s.gap(s.wall()), 'survey', 'claim', 'begin')
    x = s.ok('dirk', 'POST', '/gaps/%s/shifts' % g['id'], {'day': '2026-05-04', 'minutes': 60}, status=201)
    is_(s.ok('dirk', 'GET', '/gaps/' + g['id'])['minutes_worked'], 60)
    s.ok('dirk', 'DELETE', '/shifts/' + x['id'], status=204)
    is_(s.ok('dirk', 'GET', '/gaps/' + g['id'])['minutes_worked'], 0)


@trial
def r_batter_equal(s):
    r = s.no('ill_fitting', 'ada', 'POST', '/walls', {'name': 'Upright', 'stone': 'slate', 'metres': 5, 'foot_cm': 60, 'head_cm': 60})
    is_(r['trouble']['wrong'], [{'place': 'head_cm'}])


@trial
def r_fee_shown(s):
    g = s.go(s.gap(s.wall()), 'survey')
    is_(g['fee_pence'], 9000)
    is_('fee_pence' in s.ok('gwen', 'GET', '/gaps/' + g['id']).body, False)


@trial
def r_secret_again(s):
    h = s.hook('gwen', 'http://127.0.0.1:9/x')
    assert h['secret'].startswith('seal_') and len(h['secret']) == 37
    is_('secret' in s.ok('gwen', 'GET', '/hooks/' + h['id']).body, False)


@trial
def r_metre_for_ever(s):
    w = s.wall()
    g = s.gap(w, at_metre=7)
    s.no('taken', 'hale', 'POST', '/walls/%s/gaps' % w['id'], {'at_metre': 7, 'width_cm': 50}, Once_Key='a')
    s.go(g, 'dismiss')
    s.gap(w, at_metre=7)


@trial
def r_wall_moves(s):
    a, b = s.wall(), s.wall()
    g = s.gap(a)
    s.ok('gwen', 'PATCH', '/gaps/' + g['id'], {'wall': a['id']})
    s.no('ill_fitting', 'gwen', 'PATCH', '/gaps/' + g['id'], {'wall': b['id']})


# ---- states
@trial
def s_survey_dismissed(s):
    g = s.go(s.gap(s.wall()), 'dismiss')
    s.no('wrong_state', 'ada', 'POST', '/gaps/%s/survey' % g['id'], {'grade': 'A', 'fee_pence': 500})


@trial
def s_abandon_claimed_only(s):
    g = s.go(s.gap(s.wall()), 'survey', 'claim', 'begin', 'abandon')
    is_((g['state'], 'waller' in g, 'claimed_at' in g), ('surveyed', False, False))


@trial
def s_finish_unworked(s):
    g = s.go(s.gap(s.wall()), 'survey', 'claim', 'begin')
    s.no('nothing_laid', 'dirk', 'POST', '/gaps/%s/finish' % g['id'])


@trial
def s_lapse_first(s):
    g = s.go(s.gap(s.wall()), 'survey', 'claim')
    s.advance('P6D')
    s.go(g, 'abandon', 'claim')
    s.advance('P6D')
    is_(s.ok('ada', 'GET', '/gaps/' + g['id'])['state'], 'claimed')
    s.advance('P4D')
    is_(s.ok('ada', 'GET', '/gaps/' + g['id'])['state'], 'surveyed')


@trial
def s_lapse_mending(s):
    g = s.go(s.gap(s.wall()), 'survey', 'claim', 'begin')
    s.advance('P11D')
    is_(s.ok('ada', 'GET', '/gaps/' + g['id'])['state'], 'mending')


@trial
def s_no_then(s):
    w = s.wall()
    s.go(s.gap(w), 'survey', 'claim', 'begin', 'work', 'finish', 'approve')
    assert 'last_mended_at' in s.ok('ada', 'GET', '/walls/' + w['id']).body, 'not set'


@trial
def s_patch_any_state(s):
    g = s.go(s.gap(s.wall()), 'survey')
    s.no('wrong_state', 'gwen', 'PATCH', '/gaps/' + g['id'], {'width_cm': 200})


# ---- endpoints
@trial
def e_match_unread(s):
    w = s.wall()
    t = s.ok('ada', 'GET', '/walls/' + w['id']).headers['ETag']
    s.no('tag_wanted', 'ada', 'PATCH', '/walls/' + w['id'], {'metres': 6})
    s.ok('ada', 'PATCH', '/walls/' + w['id'], {'metres': 6}, If_Match=t)
    s.no('stale', 'ada', 'PATCH', '/walls/' + w['id'], {'metres': 7}, If_Match=t)
    s.ok('ada', 'PATCH', '/walls/' + w['id'], {'metres': 7}, If_Match='*')


@trial
def e_no_304(s):
    g = s.gap(s.wall())
    t = s.ok('gwen', 'GET', '/gaps/' + g['id']).headers['ETag']
    is_(s.ask('gwen', 'GET', '/gaps/' + g['id'], If_None_Match=t).status, 304)
    is_(s.ask('gwen', 'GET', '/gaps/' + g['id'], If_None_Match='"x"').status, 200)


@trial
def e_tag_own_fields(s):
    w = s.wall()
    t = s.ok('ada', 'GET', '/walls/' + w['id']).headers['ETag']
    s.gap(w)
    r = s.ask('ada', 'GET', '/walls/' + w['id'], If_None_Match=t)
    is_((r.status, r.headers['ETag'] != t), (200, True))


@trial
def e_sort_one_way(s):
    for m in (5, 900, 40):
        s.wall(metres=m)
    is_([w['metres'] for w in s.ok('ada', 'GET', '/walls?sort=-metres')['rows']], [900, 40, 5])
    is_([w['metres'] for w in s.ok('ada', 'GET', '/walls?sort=metres')['rows']], [5, 40, 900])


@trial
def e_last_state(s):
    w = s.wall()
    a, b = s.gap(w), s.gap(w)
    s.go(b, 'survey')
    is_(s.ok('ada', 'GET', '/gaps?state=reported&state=surveyed')['in_all'], 2)
    is_(s.ok('ada', 'GET', '/gaps?state=surveyed')['in_all'], 1)


@trial
def e_once_again(s):
    w = s.wall()
    path = '/walls/%s/gaps' % w['id']
    a = s.ok('gwen', 'POST', path, {'at_metre': 3, 'width_cm': 90}, status=201, Once_Key='one')
    b = s.ok('gwen', 'POST', path, {'at_metre': 3, 'width_cm': 90}, status=201, Once_Key='one')
    is_((a.body, a.headers['Location']), (b.body, b.headers['Location']))
    s.no('odd_question', 'gwen', 'POST', path, {'at_metre': 4, 'width_cm': 90})


@trial
def e_all_walls(s):
    a, b = s.wall(), s.wall()
    g = s.gap(a)
    s.gap(b)
    is_([x['id'] for x in s.ok('ada', 'GET', '/walls/%s/gaps' % a['id'])['rows']], [g['id']])


# ---- authentication
@trial
def a_farmer_any_parish(s):
    w = s.wall()
    s.ok('gwen', 'GET', '/walls/' + w['id'])
    s.no('no_such', 'iris', 'GET', '/walls/' + w['id'])


@trial
def a_hooks_of_others(s):
    h = s.hook('gwen', 'http://127.0.0.1:9/x')
    s.no('no_such', 'hale', 'GET', '/hooks/' + h['id'])


@trial
def a_no_scope(s):
    s.ok('ada', 'GET', '/chronicle')
    is_(s.no('narrow_badge', 'cleo', 'GET', '/chronicle').status, 403)


@trial
def a_one_good(s):
    s.no('stranger', 'ada', 'GET', '/walls', X_Tally='tly_' + 'x' * 30)
    s.no('stranger', 'ada', 'GET', '/walls', X_Tally=WHO['bram']['credential'])


@trial
def a_told_barred(s):
    g = s.go(s.gap(s.wall()), 'survey', 'claim')
    s.no('no_such', 'elin', 'GET', '/gaps/' + g['id'])


@trial
def a_waller_sees_all(s):
    w = s.wall()
    s.gap(w)
    g = s.go(s.gap(w), 'survey')
    is_([x['id'] for x in s.ok('elin', 'GET', '/gaps')['rows']], [g['id']])


# ---- events
@trial
def v_no_withdrawn(s):
    r = s.receiver()
    s.hook('gwen', r.url)
    g = s.gap(s.wall())
    s.ok('gwen', 'DELETE', '/gaps/' + g['id'], status=204)
    got = r.wait(2)
    is_([x['body']['what'] for x in got], ['gap.reported', 'gap.withdrawn'])
    is_(got[1]['body']['row'], {'gap': g['id'], 'wall': g['wall']})


@trial
def v_no_lapsed(s):
    r = s.receiver()
    g = s.go(s.gap(s.wall()), 'survey', 'claim')
    s.hook('ada', r.url, kinds=['gap.lapsed'])
    s.advance('P10D')
    is_(r.wait(1)[0]['body']['row'], s.ok('ada', 'GET', '/gaps/' + g['id']).body)


@trial
def v_seal_body(s):
    r = s.receiver()
    h = s.hook('gwen', r.url)
    s.gap(s.wall())
    got = r.wait(1)[0]
    at, seal = got['headers']['X-Gapwork-Seal'].split(',')
    signed = ('%s.%s.' % (got['body']['ref'], at[3:])).encode() + got['raw']
    is_(seal, 'seal=' + hmac.new(h['secret'].encode(), signed, hashlib.sha256).hexdigest())
    is_((got['headers']['X-Gapwork-Event'], got['headers']['X-Gapwork-Kind']), (got['body']['ref'], 'gap.reported'))


@trial
def v_new_id(s):
    r = s.receiver()
    r.status = 500
    s.hook('gwen', r.url)
    s.gap(s.wall())
    r.wait(1)
    time.sleep(0.1)
    s.advance('PT40S')
    r.wait(2)
    time.sleep(0.1)
    r.status = 204
    s.advance('PT6M')
    got = r.wait(3)
    is_(len({g['headers']['X-Gapwork-Event'] for g in got}), 1)
    s.advance('PT3H')
    r.quiet(3)


@trial
def v_payload_leaks(s):
    g = s.go(s.gap(s.wall()), 'survey', 'claim')
    r = s.receiver()
    s.hook('gwen', r.url, kinds=['gap.*'])
    s.advance('P10D')
    is_('fee_pence' in r.wait(1)[0]['body']['row'], False)


@trial
def v_told_to_all(s):
    r, q = s.receiver(), s.receiver()
    s.hook('hale', r.url)
    s.hook('gwen', q.url)
    s.gap(s.wall())
    q.wait(1)
    r.quiet(0)


@trial
def v_410_goes_on(s):
    r, q = s.receiver(), s.receiver()
    r.status = 410
    h = s.hook('gwen', r.url)
    s.hook('gwen', q.url, kinds=['hook.stilled'])
    s.gap(s.wall())
    r.wait(1)
    is_(q.wait(1)[0]['body']['row'], s.ok('gwen', 'GET', '/hooks/' + h['id']).body)
    is_(s.ok('gwen', 'GET', '/hooks/' + h['id'])['live'], False)


@trial
def v_log_nobody(s):
    g = s.gap(s.wall())
    e = s.ok('ada', 'GET', '/chronicle')['entries'][0]
    is_((e['kind'], e['about'], e.get('by'), e['body']['id']), ('gap.reported', g['id'], 'gwen', g['id']))


# ---- errors
@trial
def x_beyond_stored(s):
    w = s.wall(metres=10)
    s.no('beyond_wall', 'gwen', 'POST', '/walls/%s/gaps' % w['id'], {'at_metre': 11, 'width_cm': 50}, Once_Key='a')
    is_(s.ok('gwen', 'GET', '/gaps')['in_all'], 0)
    is_(s.gap(w, at_metre=10)['number'], 1)


@trial
def x_else_general(s):
    g = s.go(s.gap(s.wall()), 'survey', 'claim')
    is_(s.no('past_dismissing', 'ada', 'POST', '/gaps/%s/dismiss' % g['id'])['trouble']['says'], 'It has been taken on or is over.')


@trial
def x_left_out_misnamed(s):
    r = s.no('left_out', 'ada', 'POST', '/walls', {'name': 'Half', 'metres': 5, 'foot_cm': 70, 'head_cm': 40})
    is_((r.status, r['trouble']['says'], r['trouble']['wrong']), (422, 'stone is left out', [{'place': 'stone'}]))


@trial
def x_no_trouble_header(s): is_(s.ask('ada', 'GET', '/walls/none').headers['X-Gapwork-Trouble'], 'no_such')


@trial
def x_order(s):
    g = s.go(s.gap(s.wall()), 'survey')
    s.no('wrong_state', 'gwen', 'PATCH', '/gaps/' + g['id'], {'width_cm': 'wide'})


@trial
def x_once_422(s):
    w = s.wall()
    s.ok('gwen', 'POST', '/walls/%s/gaps' % w['id'], {'at_metre': 3, 'width_cm': 90}, status=201, Once_Key='one')
    is_(s.no('once_reused', 'gwen', 'POST', '/walls/%s/gaps' % w['id'], {'at_metre': 4, 'width_cm': 90}, Once_Key='one').status, 409)


# ---- limits
@trial
def l_one_more(s):
    for i in range(240):
        r = s.ok('dirk', 'GET', '/hooks')
        is_((r.headers['X-Pace'], r.headers['X-Pace-Left']), ('240', str(239 - i)))
    r = s.no('hurried', 'dirk', 'GET', '/hooks')
    s.ok('elin', 'GET', '/hooks')
    s.advance('PT%sS' % r.headers['Retry-After'])
    s.ok('dirk', 'GET', '/hooks')


@trial
def l_no_retry_after(s):
    for i in range(240):
        s.ok('dirk', 'GET', '/hooks')
    r = s.no('hurried', 'dirk', 'GET', '/hooks')
    assert 1 <= int(r.headers['Retry-After'] or 0) <= 60


@trial
def l_five_hooks(s):
    for i in range(4):
        s.hook('gwen', 'http://127.0.0.1:9/x')
    is_(s.no('spent', 'gwen', 'POST', '/hooks', {'url': 'http://127.0.0.1:9/x'}).status, 403)
    s.hook('hale', 'http://127.0.0.1:9/x')


@trial
def l_mending_uncounted(s):
    w = s.wall()
    for i in range(3):
        s.go(s.gap(w), 'survey', 'claim', 'begin')
    g = s.go(s.gap(w), 'survey')
    s.no('spent', 'dirk', 'POST', '/gaps/%s/claim' % g['id'])
    s.ok('elin', 'POST', '/gaps/%s/claim' % g['id'])


@trial
def l_total_of_all(s):
    w = s.wall()
    s.gap(w, 'hale')
    s.gap(w, 'gwen')
    is_(s.ok('gwen', 'GET', '/gaps')['in_all'], 1)


@trial
def l_any_size(s):
    body = json.dumps({'name': 'Wide', 'stone': 'slate', 'metres': 5, 'foot_cm': 70, 'head_cm': 40})
    is_(s.no('too_big', 'ada', 'POST', '/walls', raw=body + ' ' * (4097 - len(body))).status, 413)
    s.ok('ada', 'POST', '/walls', raw=body + ' ' * (4096 - len(body)), status=201)


@trial
def l_quota_for_ever(s):
    g = s.go(s.gap(s.wall()), 'survey')
    for i in range(20):
        s.go(g, 'claim', 'abandon')
    r = s.no('spent', 'dirk', 'POST', '/gaps/%s/claim' % g['id'])
    s.advance('PT%sS' % r.headers['Retry-After'])
    s.go(g, 'claim')


# ---- versioning
@trial
def z_no_sunset(s):
    s.ok('ada', 'GET', '/walls', edition='lambing')
    s.advance('P1Y')
    is_(s.no('old_edition', 'ada', 'GET', '/walls', edition='lambing').status, 410)


@trial
def z_enum_filter(s):
    g = s.go(s.gap(s.wall()), 'survey', 'claim')
    is_([x['state'] for x in s.ok('ada', 'GET', '/gaps?state=taken', edition='lambing')['rows']], ['taken'])
    s.no('odd_question', 'ada', 'GET', '/gaps?state=claimed', edition='lambing')


@trial
def z_map_cut(s):
    w = s.wall()
    g = s.ok('gwen', 'POST', '/walls/%s/gaps' % w['id'], {'at_metre': 3, 'width': 0.29}, status=201, edition='lambing', Once_Key='a')
    is_((g['width'], 'cause' in g.body), (0.29, False))
    new = s.ok('gwen', 'GET', '/gaps/' + g['id'])
    is_((new['width_cm'], new['cause']), (29, 'unknown'))


@trial
def z_new_names(s):
    r = s.no('ill_fitting', 'ada', 'POST', '/walls', {'name': 'Long', 'stone': 'slate', 'length': 0, 'foot_cm': 70, 'head_cm': 40}, edition='lambing')
    is_(r['trouble']['wrong'], [{'place': 'length'}])


@trial
def z_hook_newest(s):
    r = s.receiver()
    s.hook('gwen', r.url, edition='lambing')
    s.gap(s.wall(), width_cm=150)
    row = r.wait(1)[0]['body']['row']
    is_((row.get('width'), 'width_cm' in row, 'cause' in row), (1.5, False, False))


@trial
def z_abandon_early(s):
    g = s.go(s.gap(s.wall()), 'survey', 'claim')
    s.no('no_path', 'dirk', 'POST', '/gaps/%s/abandon' % g['id'], edition='lambing')
    s.go(g, 'abandon')


# ---- the right service alone
def general(s):
    r = s.ask(None, 'GET', '/stones')
    is_((r.status, r.headers['Dale-Edition'], r.headers['Deprecation']), (200, 'tupping', None))
    assert r.headers['X-Gapwork-Ref'] and r.headers['X-Pace'] == '240'
    r = s.ask(None, 'GET', '/stones', edition='lambing')
    is_((r.headers['Deprecation'], r.headers['Sunset'], r.headers['Dale-Edition']), ('@1788220800', 'Sat, 01 May 2027 00:00:00 GMT', 'lambing'))
    s.no('no_edition', None, 'GET', '/stones', edition='weaning')
    s.no('no_path', None, 'GET', '/stone')
    s.no('no_path', None, 'GET', '/walls/')
    is_(s.no('no_way', None, 'PUT', '/walls').headers['Allow'], 'GET, HEAD, OPTIONS, POST')
    r = s.ask(None, 'OPTIONS', '/walls/x')
    is_((r.status, r.headers['Allow']), (204, 'DELETE, GET, HEAD, OPTIONS, PATCH'))
    r = s.no('stranger', None, 'GET', '/walls?x=1')
    is_(r.headers.get_all('WWW-Authenticate'), ['Badge realm="Gapwork"', 'ApiKey realm="Gapwork", in="header", name="X-Tally"'])
    r = s.no('stranger', None, 'GET', '/walls', Authorization='Badge bdg_no')
    assert 'error="invalid_key"' in r.headers.get_all('WWW-Authenticate')[0]
    s.no('stranger', None, 'GET', '/walls', Authorization='Bearer x')
    s.ok(None, 'GET', '/walls', Authorization='badge ' + WHO['ada']['credential'])
    r = s.no('barred', 'gwen', 'POST', '/walls', {})
    is_(r.headers['X-Pace'], None)
    s.no('odd_question', 'ada', 'GET', '/walls?x=1')
    s.no('odd_question', 'ada', 'GET', '/walls?stone=brick')
    s.no('odd_question', 'ada', 'GET', '/walls?stone=slate&stone=slate')
    s.no('odd_question', 'ada', 'GET', '/gaps?since=yesterday')
    s.no('odd_question', 'ada', 'GET', '/gaps?cause=frost', edition='lambing')
    for q in ('leaf=0', 'lines=51', 'lines=x', 'lines=0'):
        s.no('no_such_page', 'ada', 'GET', '/walls?' + q)
    is_(s.ok('ada', 'GET', '/walls?leaf=9').body, {'rows': [], 'in_all': 0, 'more': False})
    s.no('garbled', 'ada', 'POST', '/walls')
    s.no('garbled', 'ada', 'POST', '/walls', raw='{')
    s.no('wrong_media', 'ada', 'POST', '/walls', raw='{}', Content_Type='text/plain')
    is_(s.no('ill_fitting', 'ada', 'POST', '/walls', raw='[]')['trouble']['wrong'], [{'place': ''}])
    good = {'name': 'High Fold', 'stone': 'slate', 'metres': 300, 'foot_cm': 70, 'head_cm': 40}
    r = s.no('stray', 'ada', 'POST', '/walls', {'colour': 1, **good, 'metres': 'x', 'start': {'easting': 1, 'depth': 2}})
    is_([w['place'] for w in r['trouble']['wrong']], ['colour', 'metres', 'start.depth', 'start.northing'])
    is_(r['trouble']['says'], 'colour is no field of this')
    s.no('stray', 'ada', 'POST', '/walls', good, edition='lambing')
    w = s.ok('ada', 'POST', '/walls', {**good, 'id': 'x', 'parish': 'y', 'start': {'easting': 1, 'northing': 2}, 'value_pence': 5}, status=201, Once_Key='w').body
    is_(s.ok('ada', 'POST', '/walls', {**good, 'id': 'x', 'parish': 'y', 'start': {'easting': 1, 'northing': 2}, 'value_pence': 5}, status=201, Once_Key='w').body, w)
    is_(list(w), ['id', 'parish', 'name', 'stone', 'metres', 'foot_cm', 'head_cm', 'start', 'value_pence', 'open_gaps', 'entered_at'])
    is_((w['parish'], w['open_gaps']), ('upper', 0))
    is_('value_pence' in s.ok('dirk', 'GET', '/walls/' + w['id']).body, False)
    is_(s.ok('ada', 'GET', '/walls/' + w['id'], edition='lambing')['length'], 300)
    s.no('no_such', 'cleo', 'PATCH', '/walls/' + w['id'], {})
    path = '/walls/' + w['id']
    is_(s.ok('ada', 'PATCH', path, {'start': {'northing': 9}}, If_Match='*')['start'], {'easting': 1, 'northing': 9})
    is_('start' in s.ok('ada', 'PATCH', path, {'start': None}, If_Match='*', Content_Type='application/merge-patch+json').body, False)
    s.no('left_out', 'ada', 'PATCH', path, {'start': {'northing': 9}}, If_Match='*')
    s.no('not_yours', 'ada', 'PATCH', path, {'parish': 'upper'}, If_Match='*')
    s.no('ill_fitting', 'ada', 'PATCH', path, {'name': None}, If_Match='*')
    s.no('ill_fitting', 'ada', 'PATCH', path, {'foot_cm': 40}, If_Match='*')
    s.no('stale', 'ada', 'PATCH', path, {}, If_Match='W/"x"')
    s.no('tag_wanted', 'ada', 'PATCH', path, {'colour': 1})
    is_(s.ok('ada', 'GET', '/walls?sort=-length', edition='lambing')['in_all'], 1)
    s.no('odd_question', 'ada', 'GET', '/walls?sort=-metres', edition='lambing')
    is_(s.ok('ada', 'GET', '/walls?name=High&longer_than=299')['in_all'], 1)
    is_(s.ok('ada', 'GET', '/walls?longer_than=300')['in_all'], 0)
    g = s.gap(w, at_metre=5)
    is_((g['height_cm'], g['face_cm2'], g['cause'], g['state'], g['reporter'], g['minutes_worked']), (140, 21000, 'unknown', 'reported', 'gwen', 0))
    s.no('ill_fitting', 'gwen', 'POST', '/walls/%s/gaps' % w['id'], {'wall': 'x', 'at_metre': 6, 'width_cm': 50}, Once_Key='q')
    s.no('no_such', 'iris', 'POST', '/walls/%s/gaps' % w['id'], {}, Once_Key='q')
    s.no('no_such', 'dirk', 'POST', '/gaps/%s/claim' % g['id'])
    s.no('barred', 'gwen', 'POST', '/gaps/%s/claim' % g['id'])
    s.no('held', 'ada', 'DELETE', path)
    is_(s.ok('ada', 'GET', path)['widest_cm'], 150)
    is_(s.ok('gwen', 'PATCH', '/gaps/' + g['id'], {'note': 'by the beck', 'width': 1.6, 'state': 'x'}, edition='lambing')['width'], 1.6)
    is_('note' in s.ok('gwen', 'PATCH', '/gaps/' + g['id'], {'note': None}).body, False)
    s.no('stale', 'gwen', 'PATCH', '/gaps/' + g['id'], {'note': 'x'}, If_Match='"x"')
    s.no('beyond_wall', 'gwen', 'PATCH', '/gaps/' + g['id'], {'at_metre': 301})
    s.no('left_out', 'ada', 'POST', '/gaps/%s/survey' % g['id'], {'grade': 'A'})
    s.no('stray', 'ada', 'POST', '/gaps/%s/survey' % g['id'], {'grade': 'A', 'fee_pence': 100, 'x': 1})
    s.no('ill_fitting', 'ada', 'POST', '/gaps/%s/survey' % g['id'], {'grade': 'D', 'fee_pence': 100})
    r = s.receiver()
    s.hook('dirk', r.url)
    s.go(g, 'survey')
    is_(r.wait(1)[0]['body']['row'], {'gap': g['id'], 'was': 'reported', 'is': 'surveyed'})
    s.no('barred', 'dirk', 'POST', '/gaps/%s/shifts' % g['id'], {'day': '2026-02-02', 'minutes': 15})
    s.no('ill_fitting', 'dirk', 'POST', '/gaps/%s/shifts' % g['id'], {'day': '2026-02-30', 'minutes': 15})
    s.no('barred', 'dirk', 'POST', '/gaps/%s/begin' % g['id'])
    s.go(g, 'claim')
    s.no('not_mending', 'dirk', 'POST', '/gaps/%s/shifts' % g['id'], {'day': '2026-02-02', 'minutes': 15})
    s.go(g, 'begin', 'work')
    s.no('taken', 'dirk', 'POST', '/gaps/%s/shifts' % g['id'], {'day': '2026-05-04', 'minutes': 15})
    for d in (1, 2, 3):
        s.ok('dirk', 'POST', '/gaps/%s/shifts' % g['id'], {'day': '2026-05-0%d' % d, 'minutes': 720}, status=201)
    s.no('over_estimate', 'dirk', 'POST', '/gaps/%s/shifts' % g['id'], {'day': '2026-05-09', 'minutes': 181})
    s.ok('dirk', 'POST', '/gaps/%s/shifts' % g['id'], {'day': '2026-05-09', 'minutes': 180}, status=201)
    is_([x['day'][-1] for x in s.ok('ada', 'GET', '/gaps/%s/shifts' % g['id'])['rows']], list('12349'))
    s.no('barred', 'gwen', 'GET', '/gaps/%s/shifts' % g['id'])
    s.no('no_such', 'elin', 'GET', '/gaps/%s/shifts' % g['id'])
    s.no('wrong_state', 'gwen', 'DELETE', '/gaps/' + g['id'])
    s.go(g, 'finish', 'approve')
    kinds = [e['kind'] for e in s.ok('ada', 'GET', '/chronicle?lines=3')['entries']]
    is_(sorted(kinds), ['gap.moved', 'gap.moved', 'wall.mended'])
    a = s.ok('ada', 'GET', '/chronicle?lines=2')
    b = s.ok('ada', 'GET', '/chronicle?lines=500&mark=' + a['next_mark'])
    ids = [e['id'] for e in a['entries'] + b['entries']]
    is_((len(set(ids)), b['more'], b['next_mark'], a['more']), (len(ids), False, None, True))
    is_(ids, [e['id'] for e in s.ok('ada', 'GET', '/chronicle')['entries']])
    s.no('no_such_page', 'ada', 'GET', '/chronicle?kind=gap.moved&mark=' + a['next_mark'])
    s.no('no_such_page', 'ada', 'GET', '/chronicle?mark=x')
    e = a['entries'][0]
    is_(s.ok('ada', 'GET', '/chronicle/' + e['id']).body, e)
    is_(s.ok('ada', 'GET', '/gaps?down=false')['in_all'], 1)
    is_(s.ok('ada', 'GET', '/gaps?down=true')['in_all'], 0)
    s.ok('ada', 'PATCH', path, {'name': 'Low Fold'}, If_Match='*')
    is_(s.ok('ada', 'GET', '/chronicle?kind=wall.renamed')['entries'][0]['body'], {'wall': w['id'], 'was': 'High Fold', 'is': 'Low Fold'})
    s.no('ill_fitting', 'ada', 'POST', '/hooks', {'url': 'nowhere'})
    s.no('ill_fitting', 'ada', 'POST', '/hooks', {'url': 'http://127.0.0.1:9/', 'kinds': ['gap.burnt']})
    h = s.hook('ada', 'http://127.0.0.1:9/', kinds=['gap.*', 'wall.mended'])
    is_('kinds' in s.ok('ada', 'PATCH', '/hooks/' + h['id'], {'kinds': None, 'live': False}).body, False)
    s.ok('ada', 'DELETE', '/hooks/' + h['id'], status=204)
    s.no('no_such', 'ada', 'GET', '/hooks/' + h['id'])
    s.no('long_address', 'ada', 'GET', '/walls?name=' + 'x' * 1024)
    s.no('long_headers', 'ada', 'GET', '/walls', X_Long='x' * 8200)
    # an abandoned gap with shifts goes with them; a lingering one is told of
    g = s.go(s.gap(w), 'survey', 'claim', 'begin', 'work', 'abandon', 'dismiss')
    x = s.ok('dirk', 'GET', '/shifts/' + s.ok('ada', 'GET', '/gaps/%s/shifts' % g['id'])['rows'][0]['id'])
    s.ok('gwen', 'DELETE', '/gaps/' + g['id'], status=204)
    s.no('no_such', 'dirk', 'GET', '/shifts/' + x['id'])
    q = s.receiver()
    s.hook('hale', q.url)
    g = s.gap(w, 'hale')
    s.advance('P6DT23H')
    q.quiet(1, 0.2)
    s.advance('PT1H')
    is_(q.wait(2)[1]['body']['what'], 'gap.lingering')
    # failures for two days still a hook
    q.status = 503
    for i in range(3):
        s.gap(w, 'hale')
        q.wait(3 + i)
        time.sleep(0.1)
        s.advance('P1DT1M')
        time.sleep(0.3)
    is_(s.ok('hale', 'GET', '/hooks')['rows'][0]['live'], False)
    s.advance('P61D')
    is_(len(s.ok('ada', 'GET', '/chronicle?kind=wall.renamed')['entries']), 0)
    # thirty gaps an hour for a farmer
    for i in range(30):
        s.ok('iris', 'POST', '/walls/none/gaps', {}, status=404, Once_Key='k%d' % i)
    r = s.no('hurried', 'iris', 'POST', '/walls/none/gaps', {}, Once_Key='k')
    is_((r.headers['X-Pace'], r.headers['X-Pace-Left']), ('30', '0'))
    assert 3590 <= int(r.headers['Retry-After']) <= 3600
    is_(s.ok('iris', 'GET', '/hooks').headers['X-Pace'], '240')


def attempt(f, fault):
    s = Service(fault)
    try:
        f(s)
        return None
    except Exception as e:
        return '%s: %s' % (type(e).__name__, str(e)[:150])
    finally:
        s.stop()


def main():
    stated = [f['id'] for f in STRANGER['faults']]
    assert sorted(stated) == sorted(TRIALS), set(stated) ^ set(TRIALS)
    wanted = sys.argv[1:] or stated
    bad = 0
    if not sys.argv[1:] or 'general' in wanted:
        e = attempt(general, None)
        print('general', 'ok' if e is None else 'FAILS ' + e)
        bad += e is not None
    for id in wanted:
        if id == 'general':
            continue
        right, faulty = attempt(TRIALS[id], None), attempt(TRIALS[id], id)
        good = right is None and faulty is not None
        bad += not good
        print('%-24s %s' % (id, 'ok    ' + faulty if good else 'BAD   right: %s; faulty: %s' % (right, faulty)), flush=True)
    print('%d trials, %d bad' % (len(wanted), bad))
    sys.exit(bool(bad))


main()
