#!/usr/bin/env python3
"""Shows each fault: a probe is true of the sound service and false of the one with the fault. Usage: faults-test.py [ID ...]"""
import base64, hashlib, hmac, http.client, http.server, json, os, socket, subprocess, sys, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
WHO = {}
for c in json.load(open(os.path.join(HERE, 'stranger.json')))['callers']:
    WHO.setdefault(c['id'], {})[c['scheme']] = c['credential']


def free():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Heard(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get('content-length', 0)))
        self.server.heard.append((dict((k.lower(), v) for k, v in self.headers.items()), body))
        self.send_response(self.server.status)
        self.send_header('content-length', '0')
        self.end_headers()

    def log_message(self, *a):
        pass


class House:
    def __init__(self, fault):
        self.port, self.door, self.once = free(), free(), 0
        self.p = subprocess.Popen([sys.executable, os.path.join(HERE, 'service.py'), '--port', str(self.port), '--clock-port', str(self.door)]
                                  + (['--fault', fault] if fault else []), stdout=subprocess.DEVNULL)
        for _ in range(200):
            try:
                socket.create_connection(('127.0.0.1', self.port), 1).close()
                break
            except OSError:
                time.sleep(0.02)
        self.ears = []

    def close(self):
        self.p.terminate()
        self.p.wait()
        for e in self.ears:
            e.shutdown()
            e.server_close()

    def ear(self, status=200):
        s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Heard)
        s.heard, s.status = [], status
        threading.Thread(target=s.serve_forever, args=(0.02,), daemon=True).start()
        self.ears.append(s)
        return s

    def call(self, port, method, target, headers, body):
        c = http.client.HTTPConnection('127.0.0.1', port, timeout=10)
        c.putrequest(method, target, skip_accept_encoding=True)
        for k, v in headers.items():
            c.putheader(k, v)
        if body is not None:
            c.putheader('Content-Length', str(len(body)))
        c.endheaders(body)
        r = c.getresponse()
        text = r.read()
        h = {k.lower(): v for k, v in r.getheaders()}
        c.close()
        try:
            data = json.loads(text) if text else None
        except ValueError:
            data = text
        return r.status, h, data

    def ask(self, method, path, who=None, body=None, scheme='wand', v='e2', raw=None, **headers):
        headers = {k.replace('_', '-'): x for k, x in headers.items()}
        target = raw or '/house/%s%s' % (v, path)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        if data is not None:
            headers.setdefault('Content-Type', 'application/json')
        for s in scheme.split('+') if who else []:
            cred = WHO[who][s]
            if s == 'wand':
                headers['Leech-Wand'] = cred
            elif s == 'badge':
                headers['Authorization'] = 'Basic ' + base64.b64encode(cred.encode()).decode()
            else:
                key, secret = cred.split(':', 1)
                stamp = str(self.now() // 1000)
                text = '%s\n%s\n%s\n' % (method, target, stamp)
                mark = hmac.new(secret.encode(), text.encode() + (data or b''), hashlib.sha256).digest()
                headers['Leech-Signer'], headers['Leech-Seal'] = key, 'at=%s;mark=%s' % (stamp, base64.b64encode(mark).decode())
        return self.call(self.port, method, target, headers, data)

    def now(self):
        text = self.call(self.door, 'GET', '/', {}, None)[2]['now']
        from datetime import datetime
        return int(datetime.fromisoformat(text.replace('Z', '+00:00')).timestamp() * 1000)

    def move(self, **wish):
        s, _, b = self.call(self.door, 'POST', '/', {}, json.dumps(wish).encode())
        assert s == 200, (s, b)

    # things to begin with
    def pond(self, code='mere', title='The Mere', **more):
        s, h, b = self.ask('PUT', '/ponds/' + code, 'mudlark', dict({'title': title, 'water': {'ph': 6, 'source': 'rain'}}, **more))
        assert s in (200, 201), b
        return s, h, b

    def jar(self, label='Old Ones', pond='mere', **more):
        s, _, b = self.ask('POST', '/ponds/%s/jars' % pond, 'mudlark', dict({'label': label, 'species': 'medicinal', 'count': 20}, **more))
        assert s == 201, b
        return b

    def stocked(self, **more):
        self.pond()
        return self.jar(**more)

    def hungry(self, **more):
        j = self.stocked(**more)
        self.move(advance='P10DT1S')
        return j

    def loan(self, jar, who='ada', **more):
        self.once += 1
        return self.ask('POST', '/loans', who, dict({'jar': jar['id'], 'purpose': 'congestion', 'patient': 'XY'}, **more), Once='k%d' % self.once)

    def granted(self, who='ada', **more):
        j = self.hungry()
        l = self.loan(j, who, **more)[2]
        s, _, b = self.ask('POST', '/loans/%s/grant' % l['id'], 'reed')
        assert s == 200, b
        return j, b

    def bite(self, loan, who='ada', **more):
        s, h, b = self.ask('POST', '/loans/%s/bites' % loan['id'], who, dict({'spot': 'left knee', 'minutes': 30, 'drawn_ml': 10}, **more))
        assert s == 201, b
        return b

    def hear(self, who, topics=None, v='e2', status=200):
        e = self.ear(status)
        body = {'url': 'http://127.0.0.1:%d/in' % e.server_address[1]}
        if topics:
            body['topics'] = topics
        s, _, b = self.ask('POST', '/listeners', who, body, v=v)
        assert s == 201, b
        return e, b

    def etag(self, path, who):
        return self.ask('GET', path, who)[1]['etag']

    def entries(self, kind):
        return self.ask('GET', '/entries?kind=' + kind, 'ink')[2]['found']


def wait(e, n=1, grace=0.25):
    end = time.time() + 2
    while len(e.heard) < n and time.time() < end:
        time.sleep(0.01)
    time.sleep(grace)
    return [json.loads(b) for _, b in e.heard]


def word(answer):
    return answer[2]['trouble']['word']


PROBES = {}


def probe(name):
    def keep(f):
        PROBES[name] = f
        return f
    return keep


# purpose
@probe('base-entries')
def _(h):
    return h.ask('GET', '/entries', 'ink')[0] == 200 and h.ask('GET', '', 'ink', raw='/e2/entries')[0] == 404


@probe('no-withdraw')
def _(h):
    l = h.loan(h.stocked())[2]
    return h.ask('POST', '/loans/%s/withdraw' % l['id'], 'ada')[0] == 200


@probe('users-inspector-wand')
def _(h):
    return h.ask('GET', '/entries', 'ink')[0] == 200 and h.ask('PUT', '/ponds/fen', 'ink', {})[0] == 403


# resources
@probe('label-two')
def _(h):
    h.pond()
    a = h.ask('POST', '/ponds/mere/jars', 'mudlark', {'label': 'Ab', 'species': 'dwarf', 'count': 1})
    return a[0] == 422 and word(a) == 'unfit'


@probe('count-251')
def _(h):
    h.pond()
    j = h.jar(count=250)
    a = h.ask('PATCH', '/jars/' + j['id'], 'mudlark', {'count': 251}, If_Match='*')
    return a[0] == 422


@probe('crowd-update')
def _(h):
    j = h.stocked(species='horse', count=60)
    a = h.ask('PATCH', '/jars/' + j['id'], 'mudlark', {'count': 61}, If_Match='*')
    return a[0] == 422 and a[2]['trouble']['faults'][0]['path'] == 'count'


@probe('label-twice-update')
def _(h):
    h.stocked()
    j = h.jar('New Ones')
    return h.ask('PATCH', '/jars/' + j['id'], 'mudlark', {'label': 'Old Ones'}, If_Match='*')[0] == 409


@probe('feed-untouched')
def _(h):
    j = h.hungry()
    h.move(advance='PT1H')
    was = h.ask('GET', '/jars/' + j['id'], 'mudlark')[2]['touched_at']
    s, _, b = h.ask('POST', '/jars/%s/feed' % j['id'], 'mudlark')
    return s == 200 and b['touched_at'] > was


@probe('species-changes')
def _(h):
    j = h.stocked()
    ok = h.ask('PATCH', '/jars/' + j['id'], 'mudlark', {'species': 'medicinal'}, If_Match='*')[0] == 200
    return ok and h.ask('PATCH', '/jars/' + j['id'], 'mudlark', {'species': 'dwarf'}, If_Match='*')[0] == 422


@probe('drawn-deleted')
def _(h):
    _, l = h.granted()
    b = h.bite(l)
    h.bite(l, drawn_ml=3)
    h.ask('DELETE', '/bites/' + b['id'], 'ada')
    r = h.ask('GET', '/loans/' + l['id'], 'ada')[2]
    return (r['bites'], r['drawn_ml']) == (1, 3)


@probe('secret-again')
def _(h):
    _, b = h.hear('ada')
    return 'secret' in b and 'secret' not in h.ask('GET', '/listeners/' + b['id'], 'ada')[2]


@probe('hours-default')
def _(h):
    return h.loan(h.stocked())[2]['hours'] == 12


@probe('number-over-all')
def _(h):
    j = h.stocked()
    h.pond('fen', 'The Fen')
    return j['number'] == 1 and h.jar(pond='fen')['number'] == 1


# states
@probe('starve-late')
def _(h):
    j = h.hungry()
    return h.ask('GET', '/jars/' + j['id'], 'ada')[2]['state'] == 'hungry'


@probe('back-hungry')
def _(h):
    j, l = h.granted()
    assert h.ask('POST', '/loans/%s/return' % l['id'], 'ada')[0] == 200
    return h.ask('GET', '/jars/' + j['id'], 'ada')[2]['state'] == 'digesting'


@probe('withdraw-declined')
def _(h):
    l = h.loan(h.stocked())[2]
    h.ask('POST', '/loans/%s/decline' % l['id'], 'reed', {'reason': 'Too hot.'})
    a = h.ask('POST', '/loans/%s/withdraw' % l['id'], 'ada')
    return a[0] == 409 and word(a) == 'too_late'


@probe('extend-71')
def _(h):
    _, l = h.granted(hours=60)
    a = h.ask('POST', '/loans/%s/extend' % l['id'], 'ada', {'more': 12})
    b = h.ask('POST', '/loans/%s/extend' % l['id'], 'ada', {'more': 1})
    return a[0] == 200 and a[2]['hours'] == 72 and word(b) == 'too_long'


@probe('grant-digesting')
def _(h):
    l = h.loan(h.stocked())[2]
    a = h.ask('POST', '/loans/%s/grant' % l['id'], 'reed')
    return a[0] == 409 and word(a) == 'jar_not_hungry'


@probe('delete-asked')
def _(h):
    l = h.loan(h.stocked())[2]
    a = h.ask('DELETE', '/loans/' + l['id'], 'reed')
    return a[0] == 409 and word(a) == 'wrong_moment'


@probe('no-late-return')
def _(h):
    _, l = h.granted(hours=1)
    h.move(advance='PT61M')
    assert h.ask('GET', '/loans/' + l['id'], 'ada')[2]['state'] == 'overdue'
    return h.ask('POST', '/loans/%s/return' % l['id'], 'ada')[0] == 200


# endpoints
@probe('jars-oldest')
def _(h):
    h.stocked()
    h.move(advance='PT1M')
    h.jar('New Ones')
    return [j['label'] for j in h.ask('GET', '/jars', 'ink')[2]['found']] == ['New Ones', 'Old Ones']


@probe('begins-anywhere')
def _(h):
    h.stocked()
    return len(h.ask('GET', '/jars?begins=Old', 'ink')[2]['found']) == 1 and h.ask('GET', '/jars?begins=Ones', 'ink')[2]['found'] == []


@probe('upsert-200')
def _(h):
    s, hd, _ = h.pond()
    return s == 201 and hd['location'] == '/house/e2/ponds/mere' and h.pond()[0] == 200


@probe('bite-no-304')
def _(h):
    _, l = h.granted()
    b = h.bite(l)
    return h.ask('GET', '/bites/' + b['id'], 'ada', If_None_Match=h.etag('/bites/' + b['id'], 'ada'))[0] == 304


@probe('scar-stays')
def _(h):
    _, l = h.granted()
    b = h.bite(l, scar='a small star')
    a = h.ask('PUT', '/bites/' + b['id'], 'ada', {'spot': 'left knee', 'minutes': 30, 'drawn_ml': 10})
    return a[0] == 200 and 'scar' not in a[2]


@probe('species-first')
def _(h):
    h.stocked()
    h.jar('Dwarves', species='dwarf')
    h.jar('Horses', species='horse')
    return len(h.ask('GET', '/jars?species=dwarf,horse', 'ink')[2]['found']) == 2


@probe('jar-once-again')
def _(h):
    h.pond()
    body = {'label': 'Old Ones', 'species': 'dwarf', 'count': 1}
    a = h.ask('POST', '/ponds/mere/jars', 'mudlark', body, Once='x1')
    b = h.ask('POST', '/ponds/mere/jars', 'mudlark', body, Once='x1')
    return b[0] == 201 and a[2] == b[2]


@probe('read-only-ignored')
def _(h):
    h.pond()
    return h.ask('PATCH', '/ponds/mere', 'mudlark', {'steward': 'reed'})[0] == 422


@probe('running-false')
def _(h):
    h.granted()
    return len(h.ask('GET', '/loans?running=true', 'ada')[2]['found']) == 1 and h.ask('GET', '/loans?running=false', 'ada')[2]['found'] == []


# authentication
@probe('loans-of-others')
def _(h):
    h.loan(h.stocked())
    return len(h.ask('GET', '/loans', 'bell')[2]['found']) == 1 and h.ask('GET', '/loans', 'crane')[2]['found'] == []


@probe('colleague-withdraws')
def _(h):
    l = h.loan(h.stocked())[2]
    a = h.ask('POST', '/loans/%s/withdraw' % l['id'], 'bell')
    return a[0] == 403 and word(a) == 'not_yours'


@probe('scope-unasked')
def _(h):
    a = h.loan(h.stocked(), 'dove')
    return a[0] == 403 and word(a) == 'no_licence'


@probe('retire-badge')
def _(h):
    j = h.stocked()
    a = h.ask('POST', '/jars/%s/retire' % j['id'], 'reed', scheme='badge')
    return a[0] == 401 and h.ask('POST', '/jars/%s/retire' % j['id'], 'reed', scheme='badge+wand')[0] == 200


@probe('seal-path')
def _(h):
    return h.ask('GET', '/jars', 'ada', scheme='seal')[0] == 200 and h.ask('GET', '/jars?take=5', 'ada', scheme='seal')[0] == 200


@probe('seal-forever')
def _(h):
    key, secret = WHO['ada']['seal'].split(':')
    stamp = str(h.now() // 1000)
    mark = base64.b64encode(hmac.new(secret.encode(), ('GET\n/house/e2/jars\n%s\n' % stamp).encode(), hashlib.sha256).digest()).decode()
    go = lambda: h.ask('GET', '/jars', Leech_Signer=key, Leech_Seal='at=%s;mark=%s' % (stamp, mark))
    first = go()[0]
    h.move(advance='PT3M5S')
    return first == 200 and go()[0] == 401


@probe('inspector-list-all')
def _(h):
    h.loan(h.stocked())
    row = h.ask('GET', '/loans', 'ink')[2]['found'][0]
    return sorted(row) == ['asked_at', 'drawn_ml', 'hours', 'id', 'jar', 'number', 'purpose', 'state']


# events
@probe('relabelled-always')
def _(h):
    j = h.stocked()
    h.ask('PATCH', '/jars/' + j['id'], 'mudlark', {'label': 'Older Ones'}, If_Match='*')
    h.ask('PATCH', '/jars/' + j['id'], 'mudlark', {'count': 21}, If_Match='*')
    return [e['detail'] for e in h.entries('jar.relabelled')] == [{'jar': j['id'], 'was': 'Old Ones', 'is': 'Older Ones'}]


@probe('decline-untold')
def _(h):
    l = h.loan(h.stocked())[2]
    h.ask('POST', '/loans/%s/decline' % l['id'], 'reed', {'reason': 'Too hot.'})
    return [e['detail']['outcome'] for e in h.entries('loan.settled')] == ['declined']


@probe('bite-told')
def _(h):
    _, l = h.granted()
    k, _ = h.hear('mudlark', ['bite.noted'])
    a, _ = h.hear('ada', ['bite.noted'])
    h.bite(l)
    return len(wait(k)) == 1 and a.heard == []


@probe('filled-twice')
def _(h):
    e, _ = h.hear('mudlark', ['jar.*'])
    h.stocked()
    return [x['what'] for x in wait(e)] == ['jar.filled']


@probe('log-patient')
def _(h):
    h.loan(h.stocked())
    d = h.entries('loan.asked')[0]['detail']
    return 'id' in d and 'patient' not in d and 'surgeon' not in d


@probe('sign-no-id')
def _(h):
    e, b = h.hear('mudlark', ['*'])
    h.stocked()
    wait(e)
    head, body = e.heard[0]
    stamp, by = head['leech-mark'].split(',')
    stamp, by = stamp[3:], by[3:]
    n = json.loads(body)['n']
    return hmac.new(b['secret'].encode(), ('%s.%s.' % (n, stamp)).encode() + body, hashlib.sha256).hexdigest() == by


@probe('retry-once')
def _(h):
    e, _ = h.hear('mudlark', ['jar.filled'], status=500)
    h.stocked()
    wait(e, 1, 0.1)
    h.move(advance='PT37S')
    wait(e, 2, 0.1)
    h.move(advance='PT13M')
    return len(wait(e, 3, 0.1)) == 3


@probe('overdue-untold')
def _(h):
    h.granted(hours=1)
    h.move(advance='PT61M')
    return len(h.entries('loan.ending')) == 1 and [e['by'] for e in h.entries('loan.overdue')] == ['the clock']


# errors
@probe('missing-unfit')
def _(h):
    h.pond()
    a = h.ask('POST', '/ponds/mere/jars', 'mudlark', {'species': 'dwarf', 'count': 1})
    return a[0] == 422 and word(a) == 'lacking' and a[2]['trouble']['said'] == 'label is missing'


@probe('deleted-404')
def _(h):
    _, l = h.granted()
    b = h.bite(l)
    assert h.ask('DELETE', '/bites/' + b['id'], 'ada')[0] == 204
    return h.ask('GET', '/bites/' + b['id'], 'ada')[0] == 410 and h.ask('GET', '/bites/' + b['id'], 'bell')[0] == 404


@probe('stale-409')
def _(h):
    j = h.stocked()
    a = h.ask('PATCH', '/jars/' + j['id'], 'mudlark', {'count': 9}, If_Match='"no"')
    return a[0] == 412 and h.ask('PATCH', '/jars/' + j['id'], 'mudlark', {'count': 9}, If_Match=h.etag('/jars/' + j['id'], 'mudlark'))[0] == 200


@probe('caller-before-parameters')
def _(h):
    return h.ask('GET', '/jars?nonsense=1')[0] == 400 and h.ask('GET', '/jars')[0] == 401


@probe('no-trouble-header')
def _(h):
    a = h.ask('GET', '/ponds/nowhere')
    return a[0] == 404 and a[1].get('leech-trouble') == 'unheard_of'


@probe('patch-unmatched')
def _(h):
    j = h.stocked()
    a = h.ask('PATCH', '/jars/' + j['id'], 'mudlark', {'count': 9})
    return a[0] == 428 and word(a) == 'say_which'


# limits
@probe('estimate-26')
def _(h):
    got = [h.ask('GET', '/estimate?hours=1') for _ in range(26)]
    return [g[0] for g in got] == [200] * 25 + [429] and 'retry-after' in got[-1][1]


@probe('seven-loans')
def _(h):
    h.pond()
    got = [h.loan(h.jar('Jar %d' % i))[0] for i in range(7)]
    return got == [201] * 6 + [403]


@probe('take-51')
def _(h):
    return h.ask('GET', '/jars?take=50', 'ink')[0] == 200 and h.ask('GET', '/jars?take=51', 'ink')[0] == 400


@probe('body-64-more')
def _(h):
    h.pond()
    body = lambda n: b'{"title":"The Mere","water":{"ph":6,"source":"rain"}}'.ljust(n)
    return h.ask('PUT', '/ponds/mere', 'mudlark', body(8192))[0] == 200 and h.ask('PUT', '/ponds/mere', 'mudlark', body(8193))[0] == 413


@probe('listeners-ever')
def _(h):
    ids = [h.hear('ada')[1]['id'] for _ in range(4)]
    body = {'url': 'http://127.0.0.1:9/'}
    full = h.ask('POST', '/listeners', 'ada', body)[0]
    h.ask('DELETE', '/listeners/' + ids[0], 'ada')
    return full == 403 and h.ask('POST', '/listeners', 'ada', body)[0] == 201


# versioning
@probe('old-list-count')
def _(h):
    h.stocked()
    row = h.ask('GET', '/jars', 'ink', v='e1')[2]['found'][0]
    return row.get('amount') == 20 and 'count' not in row and row['species'] == 'officinal'


@probe('old-event-names')
def _(h):
    e, _ = h.hear('mudlark', ['jar.filled'], v='e1')
    h.stocked()
    return wait(e)[0]['about'].get('amount') == 20


@probe('old-quiet-refusals')
def _(h):
    ok = h.ask('GET', '/ponds', v='e1')
    bad = h.ask('GET', '/ponds/nowhere', v='e1')
    return 'deprecation' in ok[1] and bad[1].get('deprecation') == '@1740787200' and 'sunset' in bad[1] and 'deprecation' not in h.ask('GET', '/ponds')[1]


@probe('old-hours-up')
def _(h):
    j = h.stocked()
    l = h.ask('POST', '/loans', 'ada', {'jar': j['id'], 'purpose': 'graft', 'patient': 'AB', 'hours': 60}, v='e1', Once='q')
    return l[0] == 201 and l[2]['hours'] == 60 and h.ask('GET', '/loans/' + l[2]['id'], 'ada')[2]['hours'] == 1


@probe('sunset-serves')
def _(h):
    was = h.ask('GET', '/ponds', v='e1')[0]
    h.move(now='2031-01-01T00:00:01Z')
    a = h.ask('GET', '/ponds', v='e1')
    return was == 200 and a[0] == 410 and word(a) == 'old_edition' and h.ask('GET', '/ponds')[0] == 200


def holds(name, fault):
    h = House(fault)
    try:
        return bool(PROBES[name](h))
    except Exception as e:
        if not fault:
            raise
        print('  (%s: by %r)' % (name, e))
        return False
    finally:
        h.close()


def main():
    listed = [f['id'] for f in json.load(open(os.path.join(HERE, 'stranger.json')))['faults']]
    assert sorted(listed) == sorted(PROBES), set(listed) ^ set(PROBES)
    names, bad = sys.argv[1:] or listed, []
    for name in names:
        try:
            sound = holds(name, None)
        except Exception as e:
            sound = repr(e)
        faulty = holds(name, name)
        if sound is not True or faulty:
            bad.append(name)
            print('NOT SHOWN', name, 'sound:', sound, 'faulty:', faulty, flush=True)
    print('%d of %d faults shown both ways' % (len(names) - len(bad), len(names)))
    sys.exit(1 if bad else 0)


main()
