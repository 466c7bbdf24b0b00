"""One proof by hand for each fault: it passes on the correct service, and fails with the fault. `python3 faults-test.py [ID ...]`"""
import base64, datetime as dt, hashlib, hmac, http.client, http.server, json, os, socket, subprocess, sys, threading, time, zoneinfo

HERE = os.path.dirname(os.path.abspath(__file__))
PAPER = json.load(open(os.path.join(HERE, 'stranger.json')))
WHO = {c['id']: ('Fuse ' if c['scheme'] == 'fuse' else 'Bearer ') + c['credential'] for c in PAPER['callers']}


def free():
    s = socket.socket()
    s.bind(('127.0.0.1', 0))
    p = s.getsockname()[1]
    s.close()
    return p


class Got:
    def __init__(self, status, headers, raw):
        self.status, self.headers, self.raw = status, headers, raw
        self.json = json.loads(raw) if raw else None

    def h(self, name):
        return [v for k, v in self.headers if k.lower() == name.lower()]

    @property
    def code(self):
        return self.json['refusal']['name'] if self.json and 'refusal' in self.json else None

    def ok(self, *want):
        assert self.status in (want or (200, 201, 204)), (self.status, self.raw[:400])
        return self


class Service:
    def __init__(self, fault=None):
        self.port, self.door = free(), free()
        cmd = [sys.executable, os.path.join(HERE, 'service.py'), '--port', str(self.port), '--clock-port', str(self.door)] + (['--fault', fault] if fault else [])
        self.proc = subprocess.Popen(cmd, stdout=subprocess.PIPE, cwd=HERE)
        assert self.proc.stdout.readline().startswith(b'listening'), 'did not start'
        self.con = http.client.HTTPConnection('127.0.0.1', self.port, timeout=10)
        self.receivers = []

    def close(self):
        self.con.close()
        for r in self.receivers:
            r.stop()
        self.proc.terminate()
        self.proc.wait()
        self.proc.stdout.close()

    def __call__(self, method, path, who=None, body=None, v='e3', base='/pyro', raw=None, **headers):
        hs = {k.replace('_', '-'): x for k, x in headers.items()}
        if who:
            hs['Authorization'] = WHO.get(who, who)
        data = raw if raw is not None else json.dumps(body).encode() if body is not None else None
        if data is not None:
            hs.setdefault('Content-Type', 'application/json')
        self.con.request(method, base + ('/' + v if v else '') + path, data, hs)
        r = self.con.getresponse()
        return Got(r.status, r.getheaders(), r.read())

    def clock(self, **body):
        c = http.client.HTTPConnection('127.0.0.1', self.door, timeout=30)
        c.request('POST' if body else 'GET', '/', json.dumps(body) if body else None)
        r = c.getresponse()
        out = json.loads(r.read())
        c.close()
        assert r.status == 200, r.status
        return dt.datetime.fromisoformat(out['now'].replace('Z', '+00:00'))

    def later(self, d):
        return self.clock(advance=d)

    def when(self, **delta):
        return (self.clock() + dt.timedelta(**delta)).strftime('%Y-%m-%dT%H:%M:%SZ')

    # what most proofs need
    def site(self, code='quay-01', who='m-fox', v='e3', **over):
        body = dict({'code': code, 'title': 'Site ' + code, 'at': {'lat': 51.1, 'lon': 1.2}, 'massLimitG': 4000}, **over)
        return self('POST', '/sites', who, body, v).ok(201).json

    def display(self, who='c-ash', site='quay-01', v='e3', **over):
        body = dict({'site': site, 'title': 'Harvest night', 'startsAt': self.when(days=8)}, **over)
        return self('POST', '/displays', who, body, v).ok(201).json['id']

    def cue(self, d, slot=1, who='c-ash', **over):
        body = dict({'slot': slot, 'effect': 'peony', 'calibreMm': 75, 'massG': 1000, 'colours': ['red']}, **over)
        return self('POST', '/displays/%s/cues' % d, who, body).ok(201).json['id']

    def cued(self, *masses, **over):
        d = self.display(**over)
        for i, m in enumerate(masses or (1000,)):
            self.cue(d, i + 1, massG=m)
        return d

    def go(self, d, what, who='c-ash', body=None):
        return self('POST', '/displays/%s/%s' % (d, what), who, body)

    def filed(self, *masses, **over):
        d = self.cued(*masses, **over)
        self.go(d, 'file').ok()
        return d

    def cleared(self, *masses, **over):
        d = self.filed(*masses, **over)
        assert self.go(d, 'clear', 'm-fox').ok().json['phase'] == 'cleared'
        return d

    def referred(self, by='m-fox'):
        d = self.filed(4001)
        assert self.go(d, 'clear', by).ok().json['phase'] == 'referred'
        return d

    def phase(self, d):
        return self('GET', '/displays/' + d, 'c-ash').ok().json['phase']

    def object(self, d, who='n-kite', **over):
        return self('POST', '/displays/%s/objections' % d, who, dict({'text': 'It frightens the geese.'}, **over))

    def hook(self, who, topics=None, v='e3', label='one', answers=()):
        r = Receiver(answers)
        self.receivers.append(r)
        body = {'label': label, 'url': 'http://127.0.0.1:%d/in' % r.port}
        if topics:
            body['topics'] = topics
        made = self('POST', '/hooks', who, body, v).ok(201).json
        r.key, r.id = made['key'], made['id']
        return r


class Receiver:
    def __init__(self, answers=()):
        self.got, self.answers = [], list(answers)
        outer = self

        class H(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                raw = self.rfile.read(int(self.headers['Content-Length']))
                status = outer.answers.pop(0) if outer.answers else 200
                outer.got.append((dict(self.headers), raw))
                self.send_response(status)
                self.send_header('Content-Length', '0')
                self.end_headers()

            def log_message(self, *a):
                pass
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={'poll_interval': 0.05}, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def wait(self, n):
        end = time.time() + 1.5
        while len(self.got) < n and time.time() < end:
            time.sleep(0.01)
        return len(self.got)

    def bodies(self, topic=None):
        out = [json.loads(raw) for _, raw in self.got]
        return [b for b in out if topic is None or b['topic'] == topic]


PROOFS = {}


def proof(id):
    def put(fn):
        PROOFS[id] = fn
        return fn
    return put


# ---- purpose

@proof('location-no-base')
def _(s):
    s.site()
    d = s.display()
    r = s('POST', '/displays/%s/cues' % d, 'c-ash', {'slot': 1, 'effect': 'mine', 'calibreMm': 50, 'massG': 10, 'shade': '#00ff00'}).ok(201)
    assert r.h('Location')[0].endswith('/pyro/e3/cues/%d' % r.json['id']), r.h('Location')


@proof('base-optional')
def _(s):
    assert s('GET', '/sites', base='').status == 404


@proof('successor-no-base')
def _(s):
    link = s('GET', '/sites', v='e1').ok().h('Link')
    assert any('successor-version' in x and x.startswith('</pyro/e3/sites>') for x in link), link


@proof('lookup-not-wired')
def _(s):
    s.site()
    d = s.display()
    n = s('GET', '/displays/' + d, 'c-ash').json['number']
    assert n == 'FW-0001'
    assert s('GET', '/permits/KEN/' + n, 'c-ash').ok(200).json['id'] == d


@proof('uphold-not-wired')
def _(s):
    s.site()
    o = s.object(s.filed()).ok(201).json['id']
    assert s('POST', '/objections/%s/uphold' % o, 'm-gale').ok(200).json['status'] == 'upheld'


@proof('neighbour-badge-unknown')
def _(s):
    s.site()
    d = s.filed()
    s.object(d, 'n-nash').ok(201)


# ---- resources

@proof('mass-limit-loose')
def _(s):
    s.site()
    d = s.display()
    s.cue(d, 1, massG=20000)
    r = s('POST', '/displays/%s/cues' % d, 'c-ash', {'slot': 2, 'effect': 'mine', 'calibreMm': 50, 'massG': 20001, 'shade': '#00ff00'})
    assert r.code == 'field_bad', r.raw


@proof('contact-name-optional')
def _(s):
    s.site()
    r = s('POST', '/displays', 'c-ash', {'site': 'quay-01', 'title': 'Night', 'startsAt': s.when(days=5), 'contact': {'phone': '+441234567890'}})
    assert r.status == 400 and r.code == 'field_missing' and r.json['refusal']['spots'][0]['path'] == 'contact.name', r.raw


@proof('short-display-id')
def _(s):
    s.site()
    import re
    d = s.display()
    assert re.fullmatch('dsp_[0-9a-f]{12}', d), d


@proof('title-taken-on-replace')
def _(s):
    s.site('quay-01', title='Long Quay')
    s.site('quay-02', title='Short Quay')
    r = s('PUT', '/sites/quay-02', 'm-fox', {'title': 'LONG quay', 'at': {'lat': 1, 'lon': 2}, 'massLimitG': 4000})
    assert r.code == 'taken' and r.status == 409, r.raw


@proof('tier-at-5000')
def _(s):
    s.site()
    d = s.cued(3000, 2000)
    assert s('GET', '/displays/' + d, 'c-ash').json['tier'] == 'minor'
    s.cue(d, 3, massG=1)
    assert s('GET', '/displays/' + d, 'c-ash').json['tier'] == 'major'


@proof('site-writable')
def _(s):
    s.site()
    s.site('quay-02')
    d = s.display()
    r = s('PATCH', '/displays/' + d, 'c-ash', {'site': 'quay-02'}, If_Match='*')
    assert r.code == 'field_bad', r.raw
    s('PATCH', '/displays/' + d, 'c-ash', {'site': 'quay-01'}, If_Match='*').ok(200)


# ---- states

@proof('lapse-from-creation')
def _(s):
    s.site()
    d = s.cued(startsAt=s.when(days=40))
    s.later('P6D')
    s.go(d, 'file').ok()
    s.later('P5D')
    assert s.phase(d) == 'filed'
    s.later('P5D')
    assert s.phase(d) == 'lapsed'


@proof('recall-not-referred')
def _(s):
    s.site()
    d = s.referred()
    assert s.go(d, 'recall').ok(200).json['phase'] == 'drafted'


@proof('clear-below-limit')
def _(s):
    s.site()
    d = s.filed(4000)
    assert s.go(d, 'clear', 'm-fox').ok().json['phase'] == 'cleared'


@proof('fire-at-start')
def _(s):
    s.site()
    at = s.clock() + dt.timedelta(days=5)
    d = s.cleared(startsAt=at.strftime('%Y-%m-%dT%H:%M:%SZ'))
    s.clock(now=(at - dt.timedelta(minutes=30)).strftime('%Y-%m-%dT%H:%M:%SZ'))
    assert s.go(d, 'fire').ok(200).json['phase'] == 'fired'


@proof('fade-after-dismiss')
def _(s):
    s.site()
    o = s.object(s.filed()).ok(201).json['id']
    s('POST', '/objections/%s/dismiss' % o, 'm-gale', {'remark': 'No geese there.'}).ok(200)
    s.later('P5DT1M')
    assert s('GET', '/objections/' + o, 'n-kite').ok().json['status'] == 'dismissed'


@proof('approve-no-timer')
def _(s):
    s.site()
    d = s.referred()
    s.go(d, 'approve', 'm-kerr').ok(200)
    s.later('P8DT6H1M')
    assert s.phase(d) == 'missed'


@proof('uphold-leaves-cleared')
def _(s):
    s.site()
    d = s.cleared()
    o = s.object(d).ok(201).json['id']
    s('POST', '/objections/%s/uphold' % o, 'm-gale').ok(200)
    assert s.phase(d) == 'drafted'


# ---- endpoints

@proof('until-inclusive')
def _(s):
    s.site()
    t = s.when(days=6)
    s.display(startsAt=t)
    assert s('GET', '/displays?until=' + t, 'c-ash').ok().json['total'] == 0
    assert s('GET', '/displays?from=' + t, 'c-ash').ok().json['total'] == 1


@proof('way-needs-sort')
def _(s):
    s.site()
    a, b = s.display(startsAt=s.when(days=6)), s.display(startsAt=s.when(days=7))
    assert [r['id'] for r in s('GET', '/displays', 'c-ash').json['rows']] == [b, a]
    assert [r['id'] for r in s('GET', '/displays?way=desc', 'c-ash').json['rows']] == [a, b]
    assert [r['id'] for r in s('GET', '/displays?way=asc', 'c-ash').json['rows']] == [b, a]


@proof('once-ignores-body')
def _(s):
    s.site()
    body = {'site': 'quay-01', 'title': 'Night one', 'startsAt': s.when(days=5)}
    a = s('POST', '/displays', 'c-ash', body, Once_Key='k1').ok(201).json
    b = s('POST', '/displays', 'c-ash', body, Once_Key='k1').ok(201).json
    assert a['id'] == b['id'] and 'passcode' in a and 'passcode' not in b
    r = s('POST', '/displays', 'c-ash', dict(body, title='Night two'), Once_Key='k1')
    assert r.code == 'once_reused' and r.status == 422, r.raw


@proof('weak-tag-equal')
def _(s):
    s.site()
    d = s.display()
    tag = s('GET', '/displays/' + d, 'c-ash').h('ETag')[0]
    assert s('PATCH', '/displays/' + d, 'c-ash', {'lengthMin': 3}, If_Match='W/' + tag).code == 'stale_tag'
    s('PATCH', '/displays/' + d, 'c-ash', {'lengthMin': 3}, If_Match=tag).ok(200)


@proof('only-forgets-id')
def _(s):
    s.site()
    d = s.display()
    assert s('GET', '/displays/%s?only=title' % d, 'c-ash').ok().json == {'id': d, 'title': 'Harvest night'}


@proof('replace-keeps-note')
def _(s):
    s.site()
    c = s.cue(s.display(), note='mind the wind')
    r = s('PUT', '/cues/%d' % c, 'c-ash', {'slot': 2, 'effect': 'mine', 'calibreMm': 50, 'massG': 10, 'shade': '#00ff00'}).ok(200)
    assert 'note' not in r.json and 'colours' not in r.json and r.json['slot'] == 2, r.raw


@proof('expand-shows-memo')
def _(s):
    s.site(memo='Gate code 4711')
    d = s.display()
    site = s('GET', '/displays/%s?with=site' % d, 'c-ash').ok().json['site']
    assert site['code'] == 'quay-01' and 'memo' not in site
    assert 'memo' in s('GET', '/displays/%s?with=site' % d, 'm-ives').ok().json['site']


# ---- authentication

@proof('delete-cue-unscoped')
def _(s):
    s.site()
    c = s.cue(s.display())
    r = s('DELETE', '/cues/%d' % c, 'c-dunn')
    assert r.status == 403 and r.code == 'scope_lacking', r.raw


@proof('neighbour-list-all')
def _(s):
    s.site()
    s.filed()
    rows = s('GET', '/displays', 'n-kite').ok().json['rows']
    assert len(rows) == 1 and set(rows[0]) == {'id', 'title', 'site', 'startsAt', 'phase', 'county'}, rows


@proof('approve-own')
def _(s):
    s.site()
    d = s.referred('m-fox')
    r = s.go(d, 'approve', 'm-fox')
    assert r.status == 403 and r.code == 'not_yours', r.raw
    s.go(d, 'approve', 'm-kerr').ok(200)


@proof('one-challenge')
def _(s):
    r = s('GET', '/displays')
    told = ', '.join(r.h('WWW-Authenticate'))
    assert r.status == 401 and r.code == 'no_credential' and 'Fuse realm="Skyfall"' in told and 'Bearer realm="Skyfall"' in told, told


@proof('bad-key-passes-public')
def _(s):
    s('GET', '/sites').ok(200)
    r = s('GET', '/sites', 'Fuse fz_notakey')
    assert r.status == 401 and r.code == 'credential_bad', r.raw


@proof('crew-reads-any-cue')
def _(s):
    s.site()
    c = s.cue(s.display())
    s('GET', '/cues/%d' % c, 'c-ash').ok(200)
    assert s('GET', '/cues/%d' % c, 'c-birch').status == 404


# ---- events

@proof('seal-order')
def _(s):
    s.site()
    r = s.hook('c-ash', ['display.filed'])
    s.filed()
    assert r.wait(1) == 1
    head, raw = r.got[0]
    ts, mac = head['Skyfall-Seal'].removeprefix('ts=').split(',mac=')
    want = hmac.new(r.key.encode(), ('%s.%s.' % (json.loads(raw)['ref'], ts)).encode() + raw, hashlib.sha256).digest()
    assert base64.b64encode(want).decode() == mac
    assert head['Skyfall-Topic'] == 'display.filed'


@proof('retitled-always')
def _(s):
    s.site()
    r = s.hook('c-ash', ['display.*'])
    d = s.display()
    s('PATCH', '/displays/' + d, 'c-ash', {'lengthMin': 4}, If_Match='*').ok()
    s('PATCH', '/displays/' + d, 'c-ash', {'title': 'Spring night'}, If_Match='*').ok()
    r.wait(1)
    s.later('PT1S')
    assert [b['body'] for b in r.bodies()] == [{'display': d, 'was': 'Harvest night', 'is': 'Spring night'}], r.bodies()


@proof('reject-event-lacks-was')
def _(s):
    s.site()
    r = s.hook('m-fox', ['display.decided'])
    d = s.filed()
    s.go(d, 'reject', 'm-gale', {'reason': 'Too near the barn'}).ok()
    assert r.wait(1) == 1
    assert r.bodies()[0]['body'] == {'display': d, 'phase': 'rejected', 'was': 'filed', 'by': 'm-gale', 'reason': 'Too near the barn'}


@proof('cascade-silent')
def _(s):
    s.site()
    r = s.hook('c-ash', ['cue.cut'])
    d = s.display()
    a, b = s.cue(d, 1), s.cue(d, 2)
    s('DELETE', '/displays/' + d, 'c-ash').ok(204)
    r.wait(2)
    assert sorted(x['body'] for x in r.bodies()) == [a, b], r.bodies()


@proof('second-retry-early')
def _(s):
    s.site()
    d = s.display()
    r = s.hook('c-ash', ['cue.added'], answers=[500, 500, 200])
    s.cue(d)
    assert r.wait(1) == 1
    s.later('PT25S')
    assert r.wait(2) == 2
    s.later('PT2M')
    assert len(r.got) == 2, len(r.got)
    s.later('PT2M')
    assert r.wait(3) == 3
    assert len({json.loads(raw)['ref'] for _, raw in r.got}) == 1


@proof('fade-silent')
def _(s):
    s.site()
    d = s.filed()
    r = s.hook('n-kite', ['objection.closed'])
    s.object(d).ok(201)
    s.later('P5DT1S')
    assert r.wait(1) == 1 and r.bodies()[0]['body']['status'] == 'faded'


@proof('soon-not-moved')
def _(s):
    s.site()
    r = s.hook('c-ash', ['display.soon'])
    t = s.clock()
    d = s.display(startsAt=(t + dt.timedelta(days=5)).strftime('%Y-%m-%dT%H:%M:%SZ'))
    s('PATCH', '/displays/' + d, 'c-ash', {'startsAt': (t + dt.timedelta(days=7)).strftime('%Y-%m-%dT%H:%M:%SZ')}, If_Match='*').ok()
    s.later('P5D')
    assert len(r.got) == 0
    s.later('P1DT1M')
    assert r.wait(1) == 1


# ---- errors

@proof('fire-early-code')
def _(s):
    s.site()
    r = s.go(s.cleared(), 'fire')
    assert r.status == 409 and r.code == 'not_yet', r.raw


@proof('sealed-status')
def _(s):
    s.site()
    d = s.display()
    c = s.cue(d)
    s.go(d, 'file').ok()
    body = {'slot': 2, 'effect': 'mine', 'calibreMm': 50, 'massG': 10, 'shade': '#00ff00'}
    a, b = s('POST', '/displays/%s/cues' % d, 'c-ash', body), s('PUT', '/cues/%d' % c, 'c-ash', body)
    assert (a.status, a.code, b.status, b.code) == (423, 'sealed', 423, 'sealed'), (a.raw, b.raw)


BAD_SITE = {'code': 'quay-01', 'title': 'Quay', 'at': {'lat': 91, 'lon': 2}}


@proof('spots-pointer')
def _(s):
    r = s('POST', '/sites', 'm-fox', dict(BAD_SITE, massLimitG=4000))
    assert r.code == 'field_bad' and [x['path'] for x in r.json['refusal']['spots']] == ['at.lat'], r.raw


@proof('missing-first')
def _(s):
    r = s('POST', '/sites', 'm-fox', BAD_SITE)
    assert r.code == 'field_bad' and r.status == 422 and [x['path'] for x in r.json['refusal']['spots']] == ['at.lat', 'massLimitG'], r.raw


@proof('withdrawn-as-missing')
def _(s):
    s.site()
    o = s.object(s.filed()).ok(201).json['id']
    s('DELETE', '/objections/' + o, 'n-kite').ok(204)
    r = s('GET', '/objections/' + o, 'n-kite')
    assert r.status == 410 and r.code == 'withdrawn', r.raw
    assert s('GET', '/objections/' + o, 'n-lark').code == 'no_such_thing'
    s.later('P14DT1S')
    assert s('GET', '/objections/' + o, 'n-kite').code == 'no_such_thing'


@proof('body-before-parameters')
def _(s):
    r = s('POST', '/sites?x=1', 'm-fox', raw=b'{not json')
    assert r.code == 'query_bad', r.raw
    assert s('POST', '/sites', 'm-fox', raw=b'{not json').code == 'body_garbled'


@proof('refusal-header-412')
def _(s):
    s.site()
    d = s.display()
    r = s('PATCH', '/displays/' + d, 'c-ash', {'lengthMin': 3}, If_Match='"x"')
    assert r.status == 412 and r.h('Skyfall-Refusal') == ['stale_tag'], r.headers
    assert s('PATCH', '/displays/' + d, 'c-ash', {'lengthMin': 3}).h('Skyfall-Refusal') == ['tag_needed']


# ---- limits

@proof('take-off-by-one')
def _(s):
    s('GET', '/sites?take=40').ok(200)
    r = s('GET', '/sites?take=41')
    assert r.status == 416 and r.code == 'sheet_bad', r.raw


@proof('fixed-window-slides')
def _(s):
    s.site()
    d = s.filed()
    for i in range(10):
        s.object(d).ok(201, 409)
        if i == 4:
            s.later('PT6M')
    r = s.object(d)
    assert r.status == 429 and r.code == 'slow_down' and 230 <= int(r.h('Retry-After')[0]) <= 240, (r.raw, r.h('Retry-After'))
    s.later('PT4M1S')
    assert s.object(d).status == 409


@proof('file-quota-on-refusal')
def _(s):
    s.site()
    d, e = s.display(), s.cued()
    for i in range(30):
        assert s.go(d, 'file').code == 'no_cues'
    s.go(e, 'file').ok(200)


@proof('quota-day-utc')
def _(s):
    s.site()
    berlin = zoneinfo.ZoneInfo('Europe/Berlin')
    local = s.clock().astimezone(berlin)
    night = dt.datetime.combine(local.date() + dt.timedelta(days=1), dt.time(23, 50), tzinfo=berlin)
    s.clock(now=night.astimezone(dt.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ'))
    d = s.cued(startsAt=s.when(days=9))
    for i in range(30):
        s.go(d, 'file').ok(200)
        s.go(d, 'recall').ok(200)
    r = s.go(d, 'file')
    assert r.status == 403 and r.code == 'used_up' and 500 <= int(r.h('Retry-After')[0]) <= 600, (r.raw, r.headers)
    s.later('PT11M')
    s.go(d, 'file').ok(200)


@proof('hook-cap-on-patch')
def _(s):
    ids = [s('POST', '/hooks', 'c-ash', {'label': 'h%d' % i, 'url': 'http://127.0.0.1:9/', 'active': i < 4}).ok(201).json['id'] for i in range(5)]
    assert s('POST', '/hooks', 'c-ash', {'label': 'h9', 'url': 'http://127.0.0.1:9/'}).code == 'used_up'
    r = s('PATCH', '/hooks/' + ids[4], 'c-ash', {'active': True})
    assert r.status == 403 and r.code == 'used_up' and not r.h('Retry-After'), r.raw
    s('PATCH', '/hooks/' + ids[0], 'c-ash', {'active': False}).ok()
    s('PATCH', '/hooks/' + ids[4], 'c-ash', {'active': True}).ok()


@proof('body-boundary')
def _(s):
    raw = json.dumps({'code': 'quay-01', 'title': 'The quay', 'at': {'lat': 1, 'lon': 2}, 'massLimitG': 4000}).encode()
    r = s('POST', '/sites', 'm-fox', raw=raw + b' ' * (8193 - len(raw)))
    assert r.status == 413 and r.code == 'too_big', r.raw
    s('POST', '/sites', 'm-fox', raw=raw + b' ' * (8192 - len(raw))).ok(201)


@proof('bucket-whole-minutes')
def _(s):
    s.site()
    d = s.cleared()
    n = 0
    while s.go(d, 'clear', 'm-fox').status == 409:
        n += 1
        assert n < 40
    assert n == 19, n
    s.later('PT11S')
    assert [s.go(d, 'clear', 'm-gale').status for _ in range(3)] == [409, 409, 429]


# ---- versioning

@proof('e1-lists-newest')
def _(s):
    s.site()
    d = s.display(v='e1', minutes=20)
    row = s('GET', '/displays', 'c-ash', v='e1').ok().json['rows'][0]
    assert row.get('minutes') == 20 and 'lengthMin' not in row, row
    assert s('GET', '/displays/' + d, 'c-ash').json['lengthMin'] == 20


@proof('hooks-newest')
def _(s):
    s.site()
    d = s.display()
    r = s.hook('c-ash', ['cue.added'], v='e2')
    s.cue(d, massG=1500)
    assert r.wait(1) == 1
    b = r.bodies()[0]['body']
    assert b.get('kg') == 1.5 and 'massG' not in b, b


@proof('e1-surface-filter')
def _(s):
    s.site('lawn-01', v='e1', surface='lawn')
    assert s('GET', '/sites/lawn-01').json['surface'] == 'grass'
    assert s('GET', '/sites?surface=lawn', v='e1').ok(200).json['count'] == 1
    assert s('GET', '/sites?surface=lawn').code == 'query_bad'


@proof('sunset-day-late')
def _(s):
    s.clock(now='2028-02-29T23:59:00Z')
    s('GET', '/sites', v='e1').ok(200)
    s.later('PT2M')
    r = s('GET', '/sites', v='e1')
    assert r.status == 410 and r.code == 'edition_over', r.raw
    s('GET', '/sites', v='e2').ok(200)


@proof('refusals-not-deprecated')
def _(s):
    r = s('GET', '/sites/nope-01', v='e1')
    assert r.status == 404 and r.h('Deprecation') == ['@1740787200'] and r.h('Sunset') == ['Wed, 01 Mar 2028 00:00:00 GMT'] and len(r.h('Link')) >= 1, r.headers


@proof('e1-replace-clears-tags')
def _(s):
    s.site(tags=['wet', 'lit'])
    s('PUT', '/sites/quay-01', 'm-fox', {'title': 'The quay', 'at': {'lat': 1, 'lon': 2}, 'massLimitG': 4000}, v='e1').ok(200)
    assert s('GET', '/sites/quay-01').json['tags'] == ['wet', 'lit']


@proof('kg-truncated')
def _(s):
    s.site()
    d = s.display()
    c = s('POST', '/displays/%s/cues' % d, 'c-ash', {'slot': 1, 'effect': 'mine', 'calibreMm': 50, 'kg': 1.001, 'shade': '#00ff00'}, v='e2').ok(201).json['id']
    assert s('GET', '/cues/%d' % c, 'c-ash').json['massG'] == 1001


def run(id, fault):
    s = Service(fault)
    try:
        PROOFS[id](s)
        return None
    except AssertionError as e:
        return 'assert: ' + str(e)[:300]
    except Exception as e:                      # a proof that breaks is not a proof that fails
        return 'BROKE %s: %s' % (type(e).__name__, str(e)[:300])
    finally:
        s.close()


def main():
    wanted = sys.argv[1:] or [x['id'] for x in PAPER['faults']]
    assert set(PROOFS) == {x['id'] for x in PAPER['faults']}, set(PROOFS) ^ {x['id'] for x in PAPER['faults']}
    bad = 0
    for id in wanted:
        good, faulty = run(id, None), run(id, id)
        fine = good is None and faulty is not None and not faulty.startswith('BROKE')
        bad += not fine
        print('%-4s %-26s %s' % ('ok' if fine else 'BAD', id, '' if fine else 'correct: %s | faulty: %s' % (good, faulty)), flush=True)
    print('%d of %d proofs pass on the correct service and fail with their fault' % (len(wanted) - bad, len(wanted)))
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
