"""Shows of every fault that the right service does right and the faulty one wrong. `--write` also writes stranger.json anew."""
import hashlib, hmac, http.client, json, os, re, socket, subprocess, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = os.path.dirname(os.path.abspath(__file__))
CALLERS = [
    ('operator', 'ada', 'hd_AdaKeepsTheLongestLogOf1', 'pass', ['log'], 'north'),
    ('operator', 'bela', 'hd_BelaCallsOnFortyMetres2x', 'pass', ['log'], 'south'),
    ('operator', 'cyd', 'key_cyd:cyd-signs-with-a-rather-long-secret', 'seal', ['log'], 'north'),
    ('operator', 'dov', 'hd_DovHasNoScopeAtAllTodayx', 'pass', [], 'south'),
    ('steward', 'sten', 'hd_StenJudgesAllTheEntriesx', 'pass', ['judge'], 'north'),
    ('steward', 'sue', 'key_sue:sue-signs-what-she-has-judged-here', 'seal', ['judge'], 'south'),
    ('steward', 'sal', 'hd_SalMayNotJudgeAnything5x', 'pass', [], 'south'),
    ('swl', 'wim', 'hd_WimListensEverySaturdayx', 'pass', [], 'north'),
    ('swl', 'wes', 'key_wes:wes-only-listens-but-signs-anyway', 'seal', [], 'south'),
]
KEYS = {c[1]: (c[3], c[2]) for c in CALLERS}


def free():
    s = socket.socket()
    s.bind(('127.0.0.1', 0))
    p = s.getsockname()[1]
    s.close()
    return p


class R:
    def __init__(self, status, headers, raw):
        self.status, self.headers, self.raw = status, headers, raw
        try:
            self.json = json.loads(raw) if raw else None
        except ValueError:
            self.json = None

    def h(self, name):
        v = [x for k, x in self.headers if k.lower() == name.lower()]
        return ', '.join(v) if v else None

    @property
    def sign(self):
        return (self.json or {}).get('fault', {}).get('sign') if isinstance(self.json, dict) else None

    def __getitem__(self, k):
        return self.json[k]

    def get(self, k, d=None):
        return self.json.get(k, d)

    @property
    def where(self):
        return self.json['fault'].get('where')


class Ear:
    """A receiver of deliveries."""

    def __init__(self, status=200, headers=()):
        self.got, self.status, self.more = [], status, list(headers)
        ear = self

        class H(BaseHTTPRequestHandler):
            def log_message(self, *a):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                ear.got.append((dict(self.headers), body, json.loads(body)))
                s = ear.status if isinstance(ear.status, int) else ear.status.pop(0) if len(ear.status) > 1 else ear.status[0]
                self.send_response(s)
                for k, v in ear.more:
                    self.send_header(k, v)
                self.send_header('Content-Length', '0')
                self.end_headers()
        self.server = ThreadingHTTPServer(('127.0.0.1', 0), H)
        threading.Thread(target=self.server.serve_forever, kwargs={'poll_interval': 0.05}, daemon=True).start()
        self.url = 'http://127.0.0.1:%d/in' % self.server.server_address[1]

    def wait(self, n=1, seconds=1.2):
        end = time.time() + seconds
        while len(self.got) < n and time.time() < end:
            time.sleep(0.02)
        return [x[2] for x in self.got]

    def quiet(self, seconds=0.25):
        time.sleep(seconds)
        return [x[2] for x in self.got]


class Service:
    def __init__(self, fault=None):
        self.port, self.clock = free(), free()
        args = [sys.executable, '-B', os.path.join(HERE, 'service.py'), '--port', str(self.port), '--clock-port', str(self.clock)]
        self.p = subprocess.Popen(args + (['--fault', fault] if fault else []), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.p.stdout.readline()
        self.ears = []

    def stop(self):
        self.p.kill()
        self.p.wait()
        self.p.stdout.close()
        for e in self.ears:
            e.server.shutdown()
            e.server.server_close()

    def raw(self, port, method, path, body=None, headers=()):
        con = http.client.HTTPConnection('127.0.0.1', port, timeout=12)
        con.putrequest(method, path, skip_accept_encoding=True)
        for k, v in headers:
            con.putheader(k, v)
        if body is not None:
            con.putheader('Content-Length', str(len(body)))
        con.endheaders(body)
        r = con.getresponse()
        out = R(r.status, r.getheaders(), r.read())
        con.close()
        return out

    def now(self):
        return datetime.fromisoformat(json.loads(self.raw(self.clock, 'GET', '/').raw)['now'].replace('Z', '+00:00'))

    def go(self, span):
        r = self.raw(self.clock, 'POST', '/', json.dumps({'advance': span}).encode(), [('Content-Type', 'application/json')])
        assert r.status == 200, r.raw

    def goto(self, t):
        r = self.raw(self.clock, 'POST', '/', json.dumps({'now': t}).encode())
        assert r.status == 200, r.raw

    def t(self, **d):
        return (self.now() + timedelta(**d)).strftime('%Y-%m-%dT%H:%M:%SZ')

    def __call__(self, method, path, body=None, who='ada', kind='application/json', base='/air', sealed=None, **heads):
        h = [(k.replace('_', '-'), v) for k, v in heads.items()]
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        target = base + path
        if data is not None and kind:
            h.append(('Content-Type', kind))
        for w in ([who] if isinstance(who, str) else who or []):
            scheme, key = KEYS[w]
            if scheme == 'pass':
                h.append(('Authorization', 'Callbook ' + key))
            else:
                h.append(('X-Seal', seal(key, method, target, data, self.now(), **(sealed or {}))))
        return self.raw(self.port, method, target, data, h)

    # what tests are made of
    def station(self, call='DL1ADA', who='ada', **more):
        r = self('PUT', '/stations/' + call, {'locator': 'JO31', **more}, who)
        assert r.status in (200, 201), r.raw
        return r

    def both(self):
        self.station()
        self.station('HA2BEL', 'bela')

    def log(self, **more):
        who = more.pop('who', 'ada')
        station = more.pop('station', 'DL1ADA')
        path = more.pop('path', '')
        return self('POST', '/stations/%s/contacts%s' % (station, path), self.qso(**more), who)

    def qso(self, **more):
        return {**{'other': 'HA2BEL', 'band': '40m', 'made_at': self.t(hours=-1), 'report': {'sent': '59', 'heard': '57'}}, **more}

    def contact(self, **more):
        r = self.log(**more)
        assert r.status == 201, r.raw
        return r['id']

    def contest(self, who='sten', **more):
        r = self('POST', '/contests', {**{'name': 'Spring sprint', 'bands': ['40m'], 'opens_at': self.t(days=3), 'shuts_at': self.t(days=4)}, **more}, who)
        assert r.status == 201, r.raw
        return r['id']

    def enter(self, contest, station='DL1ADA', who='ada', **more):
        heads = more.pop('heads', {})
        return self('POST', '/contests/%d/entries' % contest, {'station': station, 'category': 'low', **more}, who, **heads)

    def entry(self, contest, station='DL1ADA', who='ada', **more):
        r = self.enter(contest, station, who, **more)
        assert r.status == 201, r.raw
        return r['id']

    def judged(self, score=10, contest=None, station='DL1ADA', who='ada'):
        k = contest or self.contest()
        e = self.entry(k, station, who, claimed=5)
        assert self('POST', '/entries/%s/submit' % e, None, who).status == 200
        r = self('POST', '/entries/%s/judge' % e, {'score': score}, 'sten')
        assert r.status == 200, r.raw
        return k, e

    def relay(self, who='ada', ear=None, path='', **more):
        ear = ear or Ear()
        self.ears.append(ear)
        r = self('POST', '/relays' + path, {'url': ear.url, **more}, who)
        assert r.status == 201, r.raw
        ear.key, ear.id = r['key'], r['id']
        return ear


def seal(key, method, target, body, t, skew=0, sign_target=None, sign_body=None):
    kid, _, secret = key.partition(':')
    ts = str(int(t.timestamp()) + skew)
    text = '%s %s\n%s\n%s' % (method, sign_target or target, ts, hashlib.sha256(sign_body if sign_body is not None else body or b'').hexdigest())
    return 'k=%s;t=%s;m=%s' % (kid, ts, hmac.new(secret.encode(), text.encode(), hashlib.sha256).hexdigest())


FAULTS = []


def fault(id, part, kind, subject, operation, bug):
    def put(fn):
        FAULTS.append(({'id': id, 'part': part, 'kind': kind, 'subject': subject, 'operation': operation, 'bug': bug}, fn))
        return fn
    return put


def F(id, part, kind, subject, operation, bug, fn):
    FAULTS.append(({'id': id, 'part': part, 'kind': kind, 'subject': subject, 'operation': operation, 'bug': bug}, fn))


def seq(*xs):
    """The last of them; the others are done for what they do."""
    return xs[-1]


def field(r, name):
    return r.json.get(name)


def items(r):
    return r.json['pages']


A = {'who': 'ada'}
P = lambda s, call='DL1ADA', who='ada', **q: s('GET', '/stations/%s%s' % (call, q.get('q', '')), None, who)
C = lambda s, id, who='ada', q='': s('GET', '/contacts/%s%s' % (id, q), None, who)
L = lambda s, q='', who='ada': s('GET', '/contacts' + q, None, who)
K = lambda s, id, who='sten', q='': s('GET', '/contests/%d%s' % (id, q), None, who)
N = lambda s, k, e, who='ada', q='': s('GET', '/contests/%d/entries/%s%s' % (k, e, q), None, who)
J = lambda s, q='', who='sten': s('GET', '/journal' + q, None, who)
X = lambda s, id, what, who='ada', body=None, **h: s('POST', '/contacts/%s/%s' % (id, what), body, who, **h)
XE = lambda s, id, what, who='ada', body=None, **h: s('POST', '/entries/%s/%s' % (id, what), body, who, **h)
XK = lambda s, id, what, who='sten', **h: s('POST', '/contests/%d/%s' % (id, what), None, who, **h)
busted = {'reason': 'busted'}


def logged(s, **m):
    s.both()
    return s.contact(**m)


# purpose
F('base-left-out', 'purpose', 'base address', 'service', 'list station', 'The endpoints are served without the base path as well.', lambda s: s('GET', '/stations', base='').status == 404)
F('no-beacon', 'resources', 'resources', 'service', 'read station', 'The station that is there from the start is missing.', lambda s: P(s, 'HD0BCN').status == 200)

F('location-without-base', 'purpose', 'base address', 'service', 'create contact', 'Location lacks the base path, so that it leads nowhere.', lambda s: seq(s.both(), (lambda l: s('GET', re.sub('^http://[^/]*', '', l), base='').status == 200)(s.log().h('Location'))))
F('revive-not-served', 'purpose', 'functions', 'service', 'revive station', 'A station cannot be revived, which is part of keeping it.', lambda s: seq(s.station(), s('POST', '/stations/DL1ADA/silence'), s('POST', '/stations/DL1ADA/revive').status == 200))
F('listeners-are-nobody', 'purpose', 'users', 'service', 'list contact', 'The keys of listeners are not known.', lambda s: L(s, '', 'wim').status == 200)
F('stewards-are-operators', 'purpose', 'users', 'service', 'create contest', 'Stewards are taken for operators.', lambda s: s.contest() > 0)
F('contest-without-judging', 'purpose', 'functions', 'service', 'judge entry', 'Entries cannot be judged: there is no such path.', lambda s: seq(s.station(), s.judged()[1]))

# resources
F('mail-unchecked', 'resources', 'formats', 'station.mail', 'upsert station', 'A text that is no address of mail is taken.', lambda s: s('PUT', '/stations/DL1ADA', {'locator': 'JO31', 'mail': 'nobody'}).sign == 'QSB')
F('tags-twice', 'resources', 'allowed values', 'contact.tags', 'create contact', 'A tag may stand twice in the list.', lambda s: seq(s.both(), s.log(tags=['dx', 'dx']).sign == 'QSB'))
F('five-antennas', 'resources', 'allowed values', 'station.antennas', 'upsert station', 'Five antennas are taken where four are the most.', lambda s: s('PUT', '/stations/DL1ADA', {'locator': 'JO31', 'antennas': dict(a=1, b=2, c=3, d=4, e=5)}).sign == 'QSB')
F('full-circle', 'resources', 'allowed values', 'station.antennas', 'upsert station', 'A bearing of 360 degrees is taken.', lambda s: s('PUT', '/stations/DL1ADA', {'locator': 'JO31', 'antennas': {'a': 360}}).sign == 'QSB')
F('qrp-below-five', 'resources', 'allowed values', 'rig.class', 'upsert station', 'A rig of exactly five watts is no longer classed as qrp.', lambda s: s.station(rig={'model': 'KX2', 'watts': 5})['rig']['class'] == 'qrp')
F('struck-counts', 'resources', 'allowed values', 'station.contacts', 'strike contact', 'Struck contacts are still counted at the station.', lambda s: seq(X(s, logged(s), 'strike'), P(s)['contacts'] == 0))
F('best-of-all', 'resources', 'allowed values', 'station.best_km', 'read station', 'The best distance counts contacts that were never confirmed.', lambda s: seq(logged(s, distance_km=900), 'best_km' not in P(s).json))
F('dupe-of-confirmed', 'resources', 'allowed values', 'contact.band', 'create contact', 'A contact that repeats a confirmed one is taken.', lambda s: seq(X(s, logged(s), 'confirm', 'bela'), s.log().sign == 'DUPE'))
F('talks-to-itself', 'resources', 'allowed values', 'contact.other', 'create contact', 'A station may log a contact with itself.', lambda s: seq(s.both(), s.log(other='DL1ADA').sign == 'QSB'))
F('withdrawn-counts', 'resources', 'allowed values', 'contest.entries', 'withdraw entry', 'Withdrawn entries still count in the number of entries.', lambda s: (lambda k: seq(XE(s, s.entry(k), 'withdraw'), K(s, k)['entries'] == 0))(seq(s.station(), s.contest())))
def _top(s):
    s.both()
    k, _ = s.judged(10)
    s.judged(30, k, 'HA2BEL', 'bela')
    return K(s, k)['top'] == 30
F('top-is-lowest', 'resources', 'allowed values', 'contest.top', 'judge entry', 'The top of a contest is its lowest score.', _top)
F('shuts-as-it-opens', 'resources', 'allowed values', 'contest.shuts_at', 'create contest', 'A contest may shut at the moment at which it opens.', lambda s: s('POST', '/contests', {'name': 'abc', 'bands': ['40m'], 'opens_at': '2030-01-01T00:00:00Z', 'shuts_at': '2030-01-01T00:00:00Z'}, 'sten').sign == 'QSB')
F('times-as-texts', 'resources', 'formats', 'contest.shuts_at', 'create contest', 'Opening and shutting are compared as texts and not as instants.', lambda s: s('POST', '/contests', {'name': 'abc', 'bands': ['40m'], 'opens_at': '2030-01-01T10:00:00+09:00', 'shuts_at': '2030-01-01T02:00:00Z'}, 'sten').status == 201)
F('withdrawn-still-unique', 'resources', 'allowed values', 'entry.station', 'create entry', 'A station that withdrew cannot enter the contest again.', lambda s: (lambda k: seq(XE(s, s.entry(k), 'withdraw'), s.enter(k).status == 201))(seq(s.station(), s.contest())))
F('hidden-owner-shown', 'resources', 'field names', 'contact', 'read contact', 'The hidden owner of a contact is shown.', lambda s: 'owner' not in C(s, logged(s)).json)
F('mail-for-anyone', 'resources', 'field names', 'station', 'read station', 'The mail of a station is shown to whoever asks.', lambda s: seq(s.station(mail='a@b.example'), 'mail' not in P(s, who=None).json and P(s)['mail'] == 'a@b.example'))
F('remark-for-steward', 'resources', 'field names', 'contact', 'read contact', 'The remark, which is for operators, is shown to stewards.', lambda s: 'remark' not in C(s, logged(s, remark='hi'), 'sten').json)
F('slip-shown-again', 'resources', 'required flags', 'entry.slip', 'read entry', 'The slip of an entry, revealed once, is shown on every read.', lambda s: (lambda k: 'slip' not in N(s, k, s.entry(k)).json)(seq(s.station(), s.contest())))
F('key-shown-again', 'resources', 'required flags', 'relay.key', 'read relay', 'The key of a relay is shown again.', lambda s: 'key' not in s('GET', '/relays/' + s.relay().id).json)
F('unknown-taken', 'resources', 'field names', 'station', 'upsert station', 'A field that a station does not have is dropped in silence.', lambda s: s('PUT', '/stations/DL1ADA', {'locator': 'JO31', 'colour': 'red'}).sign == 'UNHEARD_OF')
F('nested-unknown-taken', 'resources', 'field names', 'rig', 'upsert station', 'A field that a rig does not have is dropped in silence.', lambda s: s('PUT', '/stations/DL1ADA', {'locator': 'JO31', 'rig': {'model': 'KX2', 'hue': 1}}).sign == 'UNHEARD_OF')
F('station-moved-by-patch', 'resources', 'allowed values', 'contact.station', 'update contact', 'The station of a contact, which is immutable, can be patched.', lambda s: seq(s.station('DL2ADA'), s('PATCH', '/contacts/' + logged(s), {'station': 'DL2ADA'}).sign == 'QSB'))
F('required-taken-away', 'resources', 'required flags', 'contact.made_at', 'update contact', 'A null takes away the time of a contact, which is required.', lambda s: s('PATCH', '/contacts/' + logged(s), {'made_at': None}).sign == 'QSB')
F('body-beats-path', 'endpoints', 'parameters', 'POST /stations/{station}/contacts', 'create contact', 'A station in the body wins over that of the path.', lambda s: seq(s.station('DL2ADA'), s.both(), s.log(station='DL1ADA', **{}).status == 201 and s('POST', '/stations/DL1ADA/contacts', {**s.qso(band='20m'), 'station': 'DL2ADA'}).sign == 'QSB'))
F('short-contact-id', 'resources', 'identifiers', 'contact', 'create contact', 'Identifiers of contacts are two digits short.', lambda s: re.match(r'^ct-[0-9a-f]{12}$', logged(s)))
F('relay-uuid4', 'resources', 'identifiers', 'relay', 'create relay', 'Identifiers of relays are random UUIDs and not of version 7.', lambda s: s.relay().id[14] == '7')
def _gaps(s):
    s.both()
    s.contact()
    s.log()
    return C(s, s.contact(band='20m'))['serial'] == 2
F('serial-leaves-gaps', 'resources', 'allowed values', 'contact.serial', 'create contact', 'A contact that is refused as a dupe uses up a serial number.', _gaps)
def _over(s):
    s.both()
    s.contact()
    return C(s, s.contact(who='bela', station='HA2BEL', other='DL1ADA'), 'bela')['serial'] == 1
F('serial-over-all', 'resources', 'allowed values', 'contact.serial', 'create contact', 'Serials are counted over all stations, not within each.', _over)
F('label-unpadded', 'resources', 'formats', 'entry.label', 'create entry', 'Labels of entries lack their leading zeros.', lambda s: seq(s.station(), s.enter(s.contest())['label'] == 'E-001'))
F('name-minds-case', 'resources', 'allowed values', 'contest.name', 'create contest', 'Two contests may bear one name in different case.', lambda s: seq(s.contest(), s('POST', '/contests', {'name': 'SPRING sprint', 'bands': ['40m'], 'opens_at': s.t(days=1), 'shuts_at': s.t(days=2)}, 'sten').sign == 'DUPE'))
F('points-from-3000', 'resources', 'allowed values', 'contact.points', 'confirm contact', 'A distance of exactly 3000 km earns three points.', lambda s: X(s, logged(s, distance_km=3000), 'confirm', 'bela')['points'] == 1)
F('logs-lost', 'resources', 'required flags', 'contact.station', 'delete station', 'A station with contacts can be deleted.', lambda s: seq(logged(s), s('DELETE', '/stations/DL1ADA').sign == 'STILL_LOGGED'))
def _orphan(s):
    s.station()
    k = s.contest()
    s.entry(k)
    return s('DELETE', '/stations/DL1ADA').status == 204 and K(s, k)['entries'] == 0
F('orphan-entries', 'resources', 'allowed values', 'entry.station', 'delete station', 'Entries of a deleted station stay.', _orphan)
F('changed-at-of-patch', 'resources', 'allowed values', 'station.changed_at', 'update station', 'A patch leaves changed_at as it was.', lambda s: (lambda a: seq(time.sleep(.02), s('PATCH', '/stations/DL1ADA', {'motto': 'x'}, If_Match='*'), P(s)['changed_at'] > a))(s.station()['changed_at']))
F('unchanged-stamped', 'resources', 'allowed values', 'station.changed_at', 'upsert station', 'A replacement that changes nothing moves changed_at.', lambda s: (lambda a: seq(time.sleep(.02), s.station(), P(s)['changed_at'] == a))(s.station()['changed_at']))
F('silence-keeps-changed', 'resources', 'allowed values', 'station.changed_at', 'silence station', 'A transition does not move changed_at.', lambda s: (lambda a: seq(time.sleep(.02), s('POST', '/stations/DL1ADA/silence'), P(s)['changed_at'] > a))(s.station()['changed_at']))
F('club-forgotten', 'resources', 'allowed values', 'station.club', 'upsert station', 'A new station is of no club, whoever makes it.', lambda s: s.station()['club'] == 'north')
F('confirmed-at-made', 'resources', 'allowed values', 'contact.confirmed_at', 'confirm contact', 'confirmed_at is the time of the contact, not of its confirmation.', lambda s: X(s, logged(s, made_at='2026-01-01T00:00:00Z'), 'confirm', 'bela')['confirmed_at'][:10] == s.now().strftime('%Y-%m-%d'))
F('sent-at-forgotten', 'resources', 'allowed values', 'entry.sent_at', 'submit entry', 'A submitted entry has no sent_at.', lambda s: seq(s.station(), 'sent_at' in XE(s, s.entry(s.contest(), claimed=3), 'submit').json))
F('struck-why-empty', 'resources', 'allowed values', 'contact.struck_why', 'strike contact', 'Struck without a reason, the reason is empty and not unsaid.', lambda s: X(s, logged(s), 'strike')['struck_why'] == 'unsaid')
F('mode-extended-by-callers', 'resources', 'allowed values', 'contact.mode', 'create contact', 'A mode that is not listed is taken, since the list is extensible.', lambda s: seq(s.both(), s.log(mode='rtty').sign == 'QSB'))

# states
F('silence-twice', 'states', 'transitions', 'station', 'silence station', 'A silent station can be silenced again.', lambda s: seq(s.station(), s('POST', '/stations/DL1ADA/silence'), s('POST', '/stations/DL1ADA/silence').sign == 'OUT_OF_TURN'))
def _lapsed(s):
    i = logged(s)
    s.go('P31D')
    return X(s, i, 'confirm', 'bela').sign == 'OUT_OF_TURN'
F('confirm-lapsed', 'states', 'transitions', 'contact', 'confirm contact', 'A lapsed contact can be confirmed.', _lapsed)
F('disputed-not-confirmable', 'states', 'transitions', 'contact', 'confirm contact', 'A disputed contact cannot be confirmed any more.', lambda s: (lambda i: seq(X(s, i, 'dispute', 'bela', busted), X(s, i, 'confirm', 'bela').status == 200))(logged(s)))
F('dispute-confirmed', 'states', 'transitions', 'contact', 'dispute contact', 'A confirmed contact can be disputed.', lambda s: (lambda i: seq(X(s, i, 'confirm', 'bela'), X(s, i, 'dispute', 'bela', busted).sign == 'OUT_OF_TURN'))(logged(s)))
F('strike-confirmed', 'states', 'transitions', 'contact', 'strike contact', 'A confirmed contact can be struck.', lambda s: (lambda i: seq(X(s, i, 'confirm', 'bela'), X(s, i, 'strike').sign == 'sealed_log'))(logged(s)))
F('never-lapses', 'states', 'transitions', 'contact', 'lapse contact', 'Contacts never lapse.', lambda s: (lambda i: seq(s.go('P31D'), C(s, i)['state'] == 'lapsed'))(logged(s)))
F('lapse-a-day-early', 'states', 'transitions', 'contact', 'lapse contact', 'Contacts lapse after 29 days.', lambda s: (lambda i: seq(s.go('P29DT1H'), C(s, i)['state'] == 'logged'))(logged(s)))
F('lapse-from-made', 'states', 'transitions', 'contact', 'lapse contact', 'The 30 days are counted from the time of the contact, not of its logging.', lambda s: (lambda i: seq(s.go('PT1M'), C(s, i)['state'] == 'logged'))(logged(s, made_at='2026-01-01T00:00:00Z')))
def _settle(s, a, reason='busted', first=None):
    i = logged(s)
    if first:
        s.go(first)
    X(s, i, 'dispute', 'bela', {'reason': reason})
    s.go(a)
    return C(s, i)['state']
F('settle-from-birth', 'states', 'transitions', 'contact', 'settle contact', 'The seven days of a dispute are counted from the logging.', lambda s: _settle(s, 'P2D', first='P6D') == 'disputed')
F('settle-late', 'states', 'transitions', 'contact', 'settle contact', 'Disputes are settled after eight days.', lambda s: _settle(s, 'P7DT1M') == 'struck')
F('settle-crossed', 'states', 'transitions', 'contact', 'settle contact', 'Busted contacts lapse and all others are struck.', lambda s: _settle(s, 'P8D') == 'struck')
F('patch-restarts-lapse', 'states', 'transitions', 'contact', 'update contact', 'A patch restarts the time after which a contact lapses.', lambda s: (lambda i: seq(s.go('P20D'), s('PATCH', '/contacts/' + i, {'remark': 'x'}), s.go('P11D'), C(s, i)['state'] == 'lapsed'))(logged(s)))
def _running(s, **m):
    k = s.contest(opens_at=s.t(hours=30), shuts_at=s.t(days=4), **m)
    s.go('P2D')
    return k
F('cancel-running', 'states', 'transitions', 'contest', 'cancel contest', 'A contest that runs can be cancelled.', lambda s: XK(s, _running(s), 'cancel').sign == 'under_way')
F('publish-running', 'states', 'transitions', 'contest', 'publish contest', 'A contest that runs can be published.', lambda s: XK(s, _running(s), 'publish').sign == 'OUT_OF_TURN')
F('never-shuts', 'states', 'transitions', 'contest', 'shut contest', 'A contest that runs is never closed.', lambda s: (lambda k: seq(s.go('P3D'), K(s, k)['state'] == 'closed'))(_running(s)))
F('old-opening-kept', 'states', 'transitions', 'contest', 'open contest', 'A contest that was put off opens at its old time.', lambda s: (lambda k: seq(s('PATCH', '/contests/%d' % k, {'opens_at': s.t(days=8), 'shuts_at': s.t(days=9)}, 'sten'), s.go('P5D'), K(s, k)['state'] == 'announced'))(s.contest()))
F('judge-open', 'states', 'transitions', 'entry', 'judge entry', 'An entry that was not submitted can be judged.', lambda s: seq(s.station(), XE(s, s.entry(s.contest()), 'judge', 'sten', {'score': 4}).sign == 'OUT_OF_TURN'))
F('withdraw-judged', 'states', 'transitions', 'entry', 'withdraw entry', 'An entry can be withdrawn after it was judged.', lambda s: seq(s.station(), XE(s, s.judged()[1], 'withdraw').sign == 'OUT_OF_TURN'))
F('submitted-not-withdrawn', 'states', 'transitions', 'entry', 'withdraw entry', 'A submitted entry cannot be withdrawn.', lambda s: (lambda e: seq(XE(s, e, 'submit'), XE(s, e, 'withdraw').status == 200))(seq(s.station(), s.entry(s.contest(), claimed=3))))
def _closed(s, submit=False, claimed=3):
    s.station()
    k = s.contest()
    e = s.entry(k, claimed=claimed)
    if submit:
        XE(s, e, 'submit')
    s.go('P5D')
    return k, e
F('void-submitted', 'states', 'transitions', 'entry', 'void entry', 'Submitted entries are voided as well when the contest shuts.', lambda s: N(s, *_closed(s, True))['state'] == 'submitted')
F('open-entries-stay', 'states', 'transitions', 'contest', 'shut contest', 'Open entries stay open when the contest shuts.', lambda s: N(s, *_closed(s))['state'] == 'void')
F('publish-unjudged', 'states', 'transitions', 'contest', 'publish contest', 'A contest is published while entries wait to be judged.', lambda s: XK(s, _closed(s, True)[0], 'publish').sign == 'unjudged')
def _published(s):
    s.both()
    k, e = s.judged(10)
    _, f = s.judged(30, k, 'HA2BEL', 'bela')
    s.go('P5D')
    XK(s, k, 'publish')
    return k, e, f
F('never-ranked', 'states', 'transitions', 'contest', 'publish contest', 'Judged entries are not ranked when the contest is published.', lambda s: (lambda k, e, f: N(s, k, e)['state'] == 'ranked')(*_published(s)))
F('no-laureate', 'states', 'transitions', 'entry', 'rank entry', 'The best entry is ranked like all others.', lambda s: (lambda k, e, f: N(s, k, f, 'bela')['state'] == 'laureate')(*_published(s)))
F('submit-nothing', 'states', 'transitions', 'entry', 'submit entry', 'An entry that claims nothing can be submitted.', lambda s: seq(s.station(), XE(s, s.entry(s.contest()), 'submit').sign == 'nothing_claimed'))
F('disputed-edited', 'states', 'transitions', 'contact', 'update contact', 'A disputed contact can still be patched.', lambda s: (lambda i: seq(X(s, i, 'dispute', 'bela', busted), s('PATCH', '/contacts/' + i, {'remark': 'x'}).sign == 'OUT_OF_TURN'))(logged(s)))
F('submitted-edited', 'states', 'transitions', 'entry', 'update entry', 'A submitted entry can still be patched.', lambda s: (lambda k: (lambda e: seq(XE(s, e, 'submit'), s('PATCH', '/contests/%d/entries/%s' % (k, e), {'claimed': 9}).sign == 'OUT_OF_TURN'))(s.entry(k, claimed=3)))(seq(s.station(), s.contest())))
F('running-edited', 'states', 'transitions', 'contest', 'update contest', 'A contest that runs can still be patched.', lambda s: s('PATCH', '/contests/%d' % _running(s), {'seats': 3}, 'sten').sign == 'OUT_OF_TURN')
F('else-of-strike-forgotten', 'states', 'transitions', 'contact', 'strike contact', 'Striking a settled contact is told as out of turn, not by its own code.', lambda s: (lambda i: seq(X(s, i, 'strike'), X(s, i, 'strike').sign == 'sealed_log'))(logged(s)))

# endpoints
F('ten-metres-gone', 'endpoints', 'response payload shapes', 'GET /bands', 'list bands', 'The last band is left out.', lambda s: s('GET', '/bands', None, None)['bands'][-1] == '10m')
F('put-always-200', 'endpoints', 'response payload shapes', 'PUT /stations/{call}', 'upsert station', 'A station that is made is answered with 200.', lambda s: s.station().status == 201)
F('location-of-nothing', 'endpoints', 'response payload shapes', 'PUT /stations/{call}', 'upsert station', 'Location of a new station does not lead to it.', lambda s: s.station().h('Location').endswith('/air/stations/DL1ADA'))
F('put-keeps-optional', 'endpoints', 'request payload shapes', 'PUT /stations/{call}', 'upsert station', 'A replacement keeps optional fields that were not sent.', lambda s: seq(s.station(motto='x'), 'motto' not in s.station().json))
F('rig-replaced-by-patch', 'endpoints', 'request payload shapes', 'PATCH /stations/{call}', 'update station', 'A patch of the rig replaces it instead of being merged.', lambda s: seq(s.station(rig={'model': 'KX2', 'watts': 5}), s('PATCH', '/stations/DL1ADA', {'rig': {'watts': 10}}, If_Match='*').status == 200))
F('tag-of-first', 'endpoints', 'response payload shapes', 'GET /stations/{call}', 'read station', 'The tag of a station stays as it was when it was first read.', lambda s: seq(s.station(), (lambda a: seq(s.station(motto='new'), P(s).h('ETag') != a))(P(s).h('ETag'))))
F('weak-tag', 'endpoints', 'response payload shapes', 'GET /stations/{call}', 'read station', 'The tag is weak.', lambda s: P(s, 'HD0BCN').h('ETag')[0] == '"')
F('cached-publicly', 'endpoints', 'response payload shapes', 'GET /stations/{call}', 'read station', 'What is for one caller may be cached by everybody.', lambda s: P(s, 'HD0BCN').h('Cache-Control') == 'private, no-cache')
F('never-304', 'endpoints', 'response payload shapes', 'GET /stations/{call}', 'read station', 'If-None-Match is not looked at.', lambda s: s('GET', '/stations/HD0BCN', If_None_Match=P(s, 'HD0BCN').h('ETag')).status == 304)
F('square-anywhere', 'endpoints', 'parameters', 'GET /stations', 'list station', 'square finds texts within the locator, not only at its start.', lambda s: items(s('GET', '/stations?square=31')) == [])
F('first-state-alone', 'endpoints', 'parameters', 'GET /stations', 'list station', 'Of several states only the first is looked at.', lambda s: s('GET', '/stations?state=silent&state=on_air')['all'] == 1)
F('min-contacts-above', 'endpoints', 'parameters', 'GET /stations', 'list station', 'min_contacts leaves out stations with exactly so many.', lambda s: seq(logged(s), s('GET', '/stations?min_contacts=1')['all'] == 1))
F('search-minds-case', 'endpoints', 'parameters', 'GET /stations', 'list station', 'The search minds case.', lambda s: s('GET', '/stations?q=ALWAYS')['all'] == 1)
F('search-any-word', 'endpoints', 'parameters', 'GET /stations', 'list station', 'Stations are found that have any of the words, not all.', lambda s: s('GET', '/stations?q=always+never')['all'] == 0)
F('stations-by-age', 'endpoints', 'response payload shapes', 'GET /stations', 'list station', 'Stations are listed by age, not by call.', lambda s: seq(s.both(), [x['call'] for x in items(s('GET', '/stations'))] == ['DL1ADA', 'HA2BEL', 'HD0BCN']))
F('other-minds-case', 'endpoints', 'parameters', 'GET /contacts', 'list contact', 'The filter by the other station minds case.', lambda s: seq(logged(s), L(s, '?other=ha2bel')['all'] == 1))
F('last-band-alone', 'endpoints', 'parameters', 'GET /contacts', 'list contact', 'Of several bands in one parameter only the last counts.', lambda s: seq(logged(s), L(s, '?band=40m|20m')['all'] == 1))
F('first-tag-alone', 'endpoints', 'parameters', 'GET /contacts', 'list contact', 'The filter by tag looks at the first tag alone.', lambda s: seq(logged(s, tags=['dx', 'qrp']), L(s, '?tag=qrp')['all'] == 1))
F('since-excludes', 'endpoints', 'parameters', 'GET /contacts', 'list contact', 'since leaves out a contact of exactly that time.', lambda s: seq(logged(s, made_at='2026-05-01T10:00:00Z'), L(s, '?since=2026-05-01T10:00:00Z')['all'] == 1))
F('until-includes', 'endpoints', 'parameters', 'GET /contacts', 'list contact', 'until includes a contact of exactly that time.', lambda s: seq(logged(s, made_at='2026-05-01T10:00:00Z'), L(s, '?until=2026-05-01T10:00:00Z')['all'] == 0))
F('over-km-includes', 'endpoints', 'parameters', 'GET /contacts', 'list contact', 'over_km includes contacts of exactly that distance.', lambda s: seq(logged(s, distance_km=50), L(s, '?over_km=50')['all'] == 0))
F('disputed-not-open', 'endpoints', 'parameters', 'GET /contacts', 'list contact', 'Disputed contacts are left out of the open ones.', lambda s: seq(X(s, logged(s), 'dispute', 'bela', busted), L(s, '?open=true')['all'] == 1))
def _order(q, want, **m):
    def go(s):
        s.both()
        for band, t in (('40m', '2026-05-01T10:00:00Z'), ('20m', '2026-05-01T11:00:00+03:00'), ('10m', '2026-05-01T10:00:00Z')):
            s.contact(band=band, made_at=t)
        return [x['band'] for x in items(L(s, q))] == want
    return go
F('way-ignored', 'endpoints', 'parameters', 'GET /contacts', 'list contact', 'way=desc does not turn the order.', _order('?sort=band&way=desc', ['40m', '20m', '10m']))
F('ties-oldest', 'endpoints', 'response payload shapes', 'GET /contacts', 'list contact', 'Of contacts of one time the oldest comes first.', _order('', ['10m', '40m', '20m']))
F('made-at-as-text', 'endpoints', 'response payload shapes', 'GET /contacts', 'list contact', 'Contacts are sorted by the text of their time, not by the instant.', _order('', ['10m', '40m', '20m']))
F('dispute-is-200', 'endpoints', 'response payload shapes', 'POST /contacts/{id}/dispute', 'dispute contact', 'A dispute is answered with 200.', lambda s: X(s, logged(s), 'dispute', 'bela', busted).status == 202)
F('until-six-days', 'endpoints', 'response payload shapes', 'POST /contacts/{id}/dispute', 'dispute contact', 'The end of a dispute that is told is a day too early.', lambda s: (lambda u: datetime.fromisoformat(u.replace('Z', '+00:00')) - s.now() > timedelta(days=6, hours=12))(X(s, logged(s), 'dispute', 'bela', busted)['until']))
F('strike-needs-body', 'endpoints', 'request payload shapes', 'POST /contacts/{id}/strike', 'strike contact', 'Striking without a body is refused.', lambda s: X(s, logged(s), 'strike').status == 200)
F('points-silently-dropped', 'endpoints', 'request payload shapes', 'PATCH /contacts/{id}', 'update contact', 'Points that are sent are dropped in silence instead of refused.', lambda s: s('PATCH', '/contacts/' + logged(s), {'points': 9}).sign == 'NOT_YOURS_TO_WRITE')
F('merge-patch-refused', 'endpoints', 'request payload shapes', 'PATCH /contacts/{id}', 'update contact', 'A patch as application/merge-patch+json is refused.', lambda s: s('PATCH', '/contacts/' + logged(s), {'remark': 'x'}, kind='application/merge-patch+json').status == 200)
F('judge-unbounded', 'endpoints', 'request payload shapes', 'POST /entries/{id}/judge', 'judge entry', 'Any score is taken.', lambda s: (lambda e: seq(XE(s, e, 'submit'), XE(s, e, 'judge', 'sten', {'score': 100000}).sign == 'QSB'))(seq(s.station(), s.entry(s.contest(), claimed=3))))
def _best(s):
    s.both()
    k, _ = s.judged(30)
    e = s.entry(k, 'HA2BEL', 'bela', claimed=1)
    XE(s, e, 'submit', 'bela')
    return XE(s, e, 'judge', 'sten', {'score': 7})['best'] == 30
F('best-is-own', 'endpoints', 'response payload shapes', 'POST /entries/{id}/judge', 'judge entry', 'The best score that is told is that of the entry itself.', _best)
F('no-x-label', 'endpoints', 'response payload shapes', 'POST /contests/{contest}/entries', 'create entry', 'X-Label is not told.', lambda s: seq(s.station(), s.enter(s.contest()).h('X-Label') == 'E-001'))
def _two(s):
    s.both()
    k, m = s.contest(), s.contest(name='Other one')
    return k, m, s.entry(k, claimed=1), s.entry(m, 'HA2BEL', 'bela', claimed=2)
F('entries-of-all-contests', 'endpoints', 'response payload shapes', 'GET /contests/{contest}/entries', 'list entry', 'Entries of other contests are listed too.', lambda s: (lambda k, m, e, f: s('GET', '/contests/%d/entries' % k, None, 'sten')['all'] == 1)(*_two(s)))
F('entry-under-any-contest', 'endpoints', 'path shapes', 'service', 'read entry', 'An entry is found below a contest that it is not of.', lambda s: (lambda k, m, e, f: N(s, m, e).sign == 'NOBODY_THERE')(*_two(s)))
F('state-is-equal', 'endpoints', 'parameters', 'GET /contests/{contest}/entries', 'list entry', 'state chooses the entries in that state, not those in others.', lambda s: (lambda k, m, e, f: s('GET', '/contests/%d/entries?state=open' % k, None, 'sten')['all'] == 0)(*_two(s)))
def _claim(s):
    s.both()
    k = s.contest()
    s.entry(k, claimed=1)
    s.entry(k, 'HA2BEL', 'bela', claimed=9)
    return [x['claimed'] for x in items(s('GET', '/contests/%d/entries' % k, None, 'sten'))] == [9, 1]
F('least-claimed-first', 'endpoints', 'response payload shapes', 'GET /contests/{contest}/entries', 'list entry', 'The entry that claims least comes first.', _claim)
F('with-ignored', 'endpoints', 'response payload shapes', 'GET /contests/{contest}/entries/{id}', 'read entry', 'with does not put in the row.', lambda s: (lambda k, m, e, f: isinstance(N(s, k, e, 'ada', '?with=station')['station'], dict))(*_two(s)))
F('with-unveiled', 'authentication', 'permission rules', 'read entry', 'read entry', 'A station that is put in shows its mail to listeners.', lambda s: (lambda k, e, f: seq(s.station(mail='a@b.example'), (lambda v: v['call'] == 'DL1ADA' and 'mail' not in v)(N(s, k, e, 'wim', '?with=station')['station'])))(*_published(s)))
F('show-without-id', 'endpoints', 'response payload shapes', 'GET /contests/{id}', 'read contest', 'Chosen fields come without the identifier.', lambda s: set(K(s, s.contest(), q='?show=name').json) == {'id', 'name'})
F('show-takes-anything', 'endpoints', 'parameters', 'GET /contests/{id}', 'read contest', 'A field that there is not may be chosen.', lambda s: K(s, s.contest(), q='?show=colour').sign == 'BAD_QUERY')
F('minus-ignored', 'endpoints', 'parameters', 'GET /contests', 'list contest', 'A minus before the sort key is ignored.', lambda s: seq(s.contest(), s.contest(name='Autumn cup'), [x['name'] for x in items(s('GET', '/contests?sort=-name'))] == ['Spring sprint', 'Autumn cup']))
F('contains-is-prefix', 'endpoints', 'parameters', 'GET /contests', 'list contest', 'name finds the beginning of names alone.', lambda s: seq(s.contest(), s('GET', '/contests?name=sprint')['all'] == 1))
F('unknown-parameters-taken', 'endpoints', 'parameters', 'GET /contests', 'list contest', 'A parameter that is not stated is passed over.', lambda s: s('GET', '/contests?colour=red').sign == 'BAD_QUERY')
F('delete-answers-200', 'endpoints', 'response payload shapes', 'DELETE /relays/{id}', 'delete relay', 'A deletion answers 200 with the row.', lambda s: s('DELETE', '/relays/' + s.relay().id).status == 204)
F('relays-wrapped', 'endpoints', 'response payload shapes', 'GET /relays', 'list relay', 'Relays come in an envelope instead of a bare list.', lambda s: s('GET', '/relays').json == [])
F('kind-whole', 'endpoints', 'parameters', 'GET /journal', 'list journal', 'kind has to be the whole kind, not its beginning.', lambda s: seq(logged(s), len(items(J(s, '?kind=contact.'))) == 1))
F('journal-newest-first', 'endpoints', 'response payload shapes', 'GET /journal', 'list journal', 'The journal is listed with the newest first.', lambda s: seq(logged(s), s.contact(band='20m'), (lambda p: p[0]['at'] <= p[1]['at'] and J(s, '?after=' + p[0]['id'])['pages'] == p[1:])(items(J(s)))))
F('no-head', 'endpoints', 'methods', 'service', 'list bands', 'HEAD is refused where GET is served.', lambda s: s('HEAD', '/bands', None, None).status == 200)
F('no-trace', 'endpoints', 'response payload shapes', 'GET /bands', 'list bands', 'X-Trace is left out.', lambda s: s('GET', '/bands', None, None).h('X-Trace'))
F('put-blind', 'endpoints', 'parameters', 'PUT /stations/{call}', 'upsert station', 'If-Match of a replacement is not looked at.', lambda s: seq(s.station(), s('PUT', '/stations/DL1ADA', {'locator': 'JO32'}, If_Match='"old"').sign == 'DRIFTED'))

# authentication
F('upsert-anyones', 'authentication', 'permission rules', 'upsert station', 'upsert station', 'Any operator may replace the station of another.', lambda s: seq(s.station(), s('PUT', '/stations/DL1ADA', {'locator': 'AA00'}, 'bela').sign == 'QRT'))
F('log-for-anyone', 'authentication', 'permission rules', 'create contact', 'create contact', 'An operator may write into the log of another.', lambda s: seq(s.both(), s.log(who='bela').sign == 'not_your_station'))
F('other-side-blind', 'authentication', 'permission rules', 'read contact', 'read contact', 'The other side of a contact cannot read it.', lambda s: C(s, logged(s), 'bela').status == 200)
F('swl-sees-unconfirmed', 'authentication', 'permission rules', 'list contact', 'list contact', 'Listeners see disputed contacts.', lambda s: seq(X(s, logged(s), 'dispute', 'bela', busted), L(s, '', 'wim')['all'] == 0))
F('swl-sees-distance', 'authentication', 'permission rules', 'read contact', 'read contact', 'Listeners are shown the distance.', lambda s: (lambda i: seq(X(s, i, 'confirm', 'bela'), 'distance_km' not in C(s, i, 'wim').json))(logged(s, distance_km=5)))
F('swl-filters-unseen', 'authentication', 'permission rules', 'list contact', 'list contact', 'Listeners may filter by the distance that they are not shown.', lambda s: L(s, '?over_km=5', 'wim').sign == 'BAD_QUERY')
F('other-side-edits', 'authentication', 'permission rules', 'update contact', 'update contact', 'The other side may change the contact.', lambda s: s('PATCH', '/contacts/' + logged(s), {'band': '20m'}, 'bela').sign == 'QRT')
F('own-confirmation', 'authentication', 'permission rules', 'confirm contact', 'confirm contact', 'Whoever logged a contact may confirm it himself.', lambda s: X(s, logged(s), 'confirm').sign == 'QRT')
F('contest-without-scope', 'authentication', 'permission rules', 'create contest', 'create contest', 'A steward without the scope may announce contests.', lambda s: s('POST', '/contests', {'name': 'abc', 'bands': ['40m'], 'opens_at': s.t(days=1), 'shuts_at': s.t(days=2)}, 'sal').sign == 'NO_LICENCE')
F('any-steward-rules', 'authentication', 'permission rules', 'cancel contest', 'cancel contest', 'A steward may cancel the contest of another.', lambda s: XK(s, s.contest(), 'cancel', 'sue').sign == 'QRT')
F('enter-anyones-station', 'authentication', 'permission rules', 'create entry', 'create entry', 'An operator may enter the station of another.', lambda s: seq(s.station(), s.enter(s.contest(), who='bela').sign == 'not_your_station'))
F('swl-sees-entries-early', 'authentication', 'permission rules', 'list entry', 'list entry', 'Listeners see entries as soon as the contest is closed.', lambda s: (lambda k, e: s('GET', '/contests/%d/entries' % k, None, 'wim')['all'] == 0)(*_closed(s)))
F('any-steward-judges', 'authentication', 'permission rules', 'judge entry', 'judge entry', 'A steward may judge entries of a contest of another.', lambda s: (lambda e: seq(XE(s, e, 'submit'), XE(s, e, 'judge', 'sue', {'score': 3}).sign == 'QRT'))(seq(s.station(), s.entry(s.contest(), claimed=3))))
F('journal-for-all', 'authentication', 'permission rules', 'list journal', 'list journal', 'Operators read what the journal tells of others.', lambda s: seq(logged(s), len(items(J(s, '', 'bela'))) == 0))
F('relays-of-others', 'authentication', 'permission rules', 'list relay', 'list relay', 'Relays of others are listed and can be read.', lambda s: seq(s.relay(), s('GET', '/relays', None, 'bela').json == []))
F('scopes-of-entries-forgotten', 'authentication', 'permission rules', 'submit entry', 'submit entry', 'The scope is not asked for when an entry is submitted.', lambda s: XE(s, '00000000-0000-4000-8000-000000000000', 'submit', 'dov').sign == 'NO_LICENCE')
F('unreadable-is-forbidden', 'authentication', 'permission rules', 'read relay', 'read relay', 'A row that a caller may not read is told as forbidden, which says that it is there.', lambda s: s('GET', '/relays/' + s.relay().id, None, 'bela').sign == 'NOBODY_THERE')
F('lists-unruled', 'authentication', 'permission rules', 'list contact', 'list contact', 'Lists of contacts show the rows of everybody.', lambda s: seq(logged(s), L(s, '', 'cyd')['all'] == 0))
F('any-prefix', 'authentication', 'header names', 'pass', 'list contact', 'A key is taken behind whatever prefix.', lambda s: s('GET', '/contacts', None, None, Authorization='Bearer ' + CALLERS[0][2]).sign == 'WHO')
F('prefix-minds-case', 'authentication', 'header names', 'pass', 'list contact', 'The prefix of a key is minded by case.', lambda s: s('GET', '/contacts', None, None, Authorization='callbook ' + CALLERS[0][2]).status == 200)
F('key-case-ignored', 'authentication', 'token formats', 'pass', 'list contact', 'Keys are compared whatever their case.', lambda s: s('GET', '/contacts', None, None, Authorization='Callbook ' + CALLERS[0][2].lower()).sign == 'WHO')
F('seal-twenty-minutes', 'authentication', 'token formats', 'seal', 'list contact', 'A seal is taken for twenty minutes.', lambda s: s('GET', '/contacts', None, 'cyd', sealed={'skew': -300}).sign == 'STALE_SEAL')
F('seal-of-tomorrow', 'authentication', 'token formats', 'seal', 'list contact', 'A seal of a time to come is taken.', lambda s: s('GET', '/contacts', None, 'cyd', sealed={'skew': 900}).sign == 'WHO')
F('query-unsigned', 'authentication', 'token formats', 'seal', 'list contact', 'The query is not part of what is sealed.', lambda s: s('GET', '/contacts?lines=5', None, 'cyd').status == 200 and s('GET', '/contacts?lines=5', None, 'cyd', sealed={'sign_target': '/air/contacts'}).sign == 'WHO')
F('body-unsigned', 'authentication', 'token formats', 'seal', 'upsert station', 'The seal of a body is not looked at.', lambda s: s('PUT', '/stations/DL9CYD', {'locator': 'JO31'}, 'cyd', sealed={'sign_body': b'{"locator":"AA00"}'}).sign == 'WHO')
F('two-callers', 'authentication', 'schemes', 'service', 'list contact', 'Credentials of two callers on one request are taken.', lambda s: L(s, '', ['ada', 'cyd']).sign == 'WHO')
F('no-challenge', 'authentication', 'header names', 'pass', 'list contact', 'A 401 carries no challenge.', lambda s: 'Callbook realm="Heterodyne"' in (L(s, '', None).h('WWW-Authenticate') or ''))

# events
F('topics-ignored', 'events', 'delivery mechanism', 'service', 'create contact', 'A relay is told of kinds that it did not ask for.', lambda s: (lambda e: seq(logged(s), e.quiet() == []))(s.relay(topics=['entry.judged'])))
F('star-topics-deaf', 'events', 'delivery mechanism', 'service', 'create contact', 'A relay that asks for contact.* is told of nothing.', lambda s: (lambda e: seq(logged(s), len(e.wait()) == 1))(s.relay(topics=['contact.*'])))
F('unknown-topic-taken', 'events', 'kinds of event', 'service', 'create relay', 'A topic that there is not is taken.', lambda s: s('POST', '/relays', {'url': 'http://127.0.0.1:9/x', 'topics': ['contact.eaten']}).sign == 'QSB')
F('asleep-still-told', 'events', 'delivery mechanism', 'service', 'create contact', 'A relay that is not awake is told of events.', lambda s: (lambda e: seq(logged(s), e.quiet() == []))(s.relay(awake=False)))
F('moves-told-to-all', 'events', 'payload shapes', 'station.moved', 'update station', 'That a station moved is told to others than its owner.', lambda s: (lambda e: seq(s.station(), s.station(locator='JO32'), e.quiet() == []))(s.relay('bela')))
F('told-what-is-unreadable', 'events', 'delivery mechanism', 'service', 'create contact', 'Operators are told of contacts that they may not read.', lambda s: (lambda e: seq(logged(s), e.quiet() == []))(s.relay('cyd')))
F('disputed-in-full', 'events', 'payload shapes', 'contact.disputed', 'dispute contact', 'The payload is the whole contact instead of its identifier.', lambda s: (lambda e, i: seq(X(s, i, 'dispute', 'bela', busted), e.wait()[0]['message'] == i))(s.relay(topics=['contact.disputed']), logged(s)))
F('slip-in-events', 'events', 'payload shapes', 'entry.judged', 'judge entry', 'The slip, revealed once, stands in events.', lambda s: (lambda e: seq(s.station(), s.judged(), 'slip' not in e.wait()[0]['message']))(s.relay(topics=['entry.*'])))
F('events-unveiled', 'events', 'payload shapes', 'contact.logged', 'create contact', 'The hidden owner stands in events.', lambda s: (lambda e: seq(logged(s), 'owner' not in e.wait()[0]['message']))(s.relay()))
F('envelope-says-id', 'events', 'delivery mechanism', 'service', 'create contact', 'The envelope calls the number id.', lambda s: (lambda e: seq(logged(s), set(e.wait()[0]) == {'sign', 'number', 'sent', 'message'}))(s.relay()))
F('told-twice', 'events', 'emitting operations', 'contact.settled', 'confirm contact', 'A settled contact is told of twice, under two numbers.', lambda s: (lambda e: seq(X(s, logged(s), 'confirm', 'bela'), time.sleep(.3), len({x['number'] for x in e.wait(1)}) == 1))(s.relay(topics=['contact.settled'])))
F('seal-without-id', 'events', 'delivery mechanism', 'service', 'create contact', 'The number is left out of what is signed.', lambda s: _sealed(s))
F('seal-sha256', 'events', 'delivery mechanism', 'service', 'create contact', 'Deliveries are signed with SHA-256.', lambda s: _sealed(s))


def _sealed(s):
    e = s.relay()
    logged(s)
    e.wait()
    h, body, j = e.got[0]
    m = re.match(r'^at=(\d+),mac=([0-9a-f]+)$', h['X-Relay-Seal'])
    return hmac.new(e.key.encode(), j['number'].encode() + b'.' + m.group(1).encode() + b'.' + body, hashlib.sha512).hexdigest() == m.group(2)


F('kind-header-short', 'events', 'delivery mechanism', 'service', 'create contact', 'X-Relay-Kind holds the first part of the kind alone.', lambda s: (lambda e: seq(logged(s), e.wait(), e.got[0][0]['X-Relay-Kind'] == 'contact.logged'))(s.relay()))
F('redirect-is-success', 'events', 'delivery mechanism', 'service', 'create contact', 'A redirect counts as a delivery.', lambda s: (lambda e: seq(logged(s), e.wait(), s.go('PT2M'), len(e.wait(2)) == 2))(s.relay(ear=Ear([302, 200]))))
F('fourth-retry', 'events', 'delivery mechanism', 'service', 'create contact', 'The last of the stated tries is not made.', lambda s: _tries(s, ['PT2M', 'PT13M', 'PT2H']) == 4)
F('no-retry', 'events', 'delivery mechanism', 'service', 'create contact', 'What failed is not tried again.', lambda s: _tries(s, ['PT2M']) == 2)


def _tries(s, spans):
    e = s.relay(ear=Ear(500))
    logged(s)
    e.wait(1)
    time.sleep(.05)
    for i, x in enumerate(spans):
        s.go(x)
        e.wait(i + 2, .8)
        time.sleep(.05)
    return len(e.got)


F('new-number-each-try', 'events', 'delivery mechanism', 'service', 'create contact', 'The number changes with every try.', lambda s: (lambda e: seq(logged(s), e.wait(), time.sleep(.05), s.go('PT2M'), e.wait(2), e.got[0][0]['X-Relay-Id'] == e.got[1][0]['X-Relay-Id']))(s.relay(ear=Ear([500, 200]))))
F('retry-at-once', 'events', 'delivery mechanism', 'service', 'create contact', 'A failed delivery is tried again after a second.', lambda s: (lambda e: seq(logged(s), e.wait(), time.sleep(.05), s.go('PT30S'), len(e.quiet(.4)) == 1))(s.relay(ear=Ear(500))))
F('retry-after-ignored', 'events', 'delivery mechanism', 'service', 'create contact', 'Retry-After of a receiver is not heeded.', lambda s: (lambda e: seq(logged(s), e.wait(), time.sleep(.05), s.go('PT5M'), len(e.quiet(.4)) == 1))(s.relay(ear=Ear(500, [('Retry-After', '3600')]))))
F('gone-ignored', 'events', 'delivery mechanism', 'service', 'create contact', 'A receiver that answers 410 is not disabled.', lambda s: (lambda e: seq(logged(s), e.wait(), time.sleep(.15), s('GET', '/relays/' + e.id)['awake'] is False))(s.relay(ear=Ear(410))))
def _inorder(s):
    e = s.relay(ear=Ear([500, 200]))
    i = logged(s)
    e.wait()
    X(s, i, 'strike')
    time.sleep(.3)
    n = len(e.got)
    s.go('PT2M')
    return n == 1 and [x['sign'] for x in e.wait(3)] == ['contact.logged', 'contact.logged', 'contact.settled']
F('out-of-order', 'events', 'delivery mechanism', 'service', 'strike contact', 'A later event of a row is delivered before the earlier one.', _inorder)
F('relay-lives-on', 'endpoints', 'response payload shapes', 'DELETE /relays/{id}', 'delete relay', 'A deleted relay is still there.', lambda s: (lambda e: seq(s('DELETE', '/relays/' + e.id), s('GET', '/relays/' + e.id).status == 404))(s.relay()))
F('settled-was-is', 'events', 'payload shapes', 'contact.settled', 'confirm contact', 'was is the new state.', lambda s: (lambda e: seq(X(s, logged(s), 'confirm', 'bela'), e.wait()[0]['message']['was'] == 'logged'))(s.relay(topics=['contact.settled'])))
F('lapse-untold', 'events', 'emitting operations', 'contact.settled', 'lapse contact', 'Nobody is told of a contact that lapsed.', lambda s: (lambda e: seq(logged(s), s.go('P31D'), len(e.wait()) == 1))(s.relay(topics=['contact.settled'])))
F('cancel-untold', 'events', 'emitting operations', 'contest.over', 'cancel contest', 'That a contest was cancelled is not told.', lambda s: (lambda e: seq(XK(s, s.contest(), 'cancel'), len(e.wait()) == 1))(s.relay(topics=['contest.over'])))
F('void-untold', 'events', 'emitting operations', 'entry.voided', 'void entry', 'That an entry is void is not told.', lambda s: (lambda e: seq(_closed(s), len(e.wait()) == 1))(s.relay(topics=['entry.voided'])))
F('put-moves-untold', 'events', 'emitting operations', 'station.moved', 'upsert station', 'A move by a replacement is not told.', lambda s: (lambda e: seq(s.station(), s.station(locator='JO32'), len(e.wait()) == 1))(s.relay()))
F('moved-without-moving', 'events', 'emitting operations', 'station.moved', 'upsert station', 'A move is told though the locator stayed.', lambda s: (lambda e: seq(s.station(), s.station(motto='x'), e.quiet() == []))(s.relay()))
F('moved-from-to', 'events', 'payload shapes', 'station.moved', 'upsert station', 'from is the new locator.', lambda s: (lambda e: seq(s.station(), s.station(locator='JO32'), e.wait()[0]['message']['from'] == 'JO31'))(s.relay()))
F('soon-an-hour-before', 'events', 'emitting operations', 'contest.soon', 'contest.soon', 'That a contest is soon is told an hour before it.', lambda s: (lambda e: seq(s.contest(), s.go('P2DT1H'), len(e.wait()) == 1))(s.relay(topics=['contest.soon'])))
F('soon-untold-if-late', 'events', 'emitting operations', 'contest.soon', 'contest.soon', 'A contest that is made less than a day before it opens is not told of.', lambda s: (lambda e: seq(s.contest(opens_at=s.t(hours=3)), len(e.wait(1, 2)) == 1))(s.relay(topics=['contest.soon'])))
F('clock-not-logged', 'events', 'delivery mechanism', 'service', 'list journal', 'What the clock did is not in the journal.', lambda s: seq(logged(s), s.go('P31D'), [x['kind'] for x in items(J(s))] == ['contact.settled']))
F('clock-has-no-name', 'resources', 'allowed values', 'journal.by', 'list journal', 'What the clock did is logged as done by nobody.', lambda s: seq(logged(s), s.go('P31D'), items(J(s))[0]['by'] == 'clock'))
F('log-of-contacts-only', 'events', 'kinds of event', 'service', 'list journal', 'Events of entries are not in the journal.', lambda s: seq(s.station(), s.judged(), [x['kind'] for x in items(J(s, '?about=entry'))] == ['entry.judged']))
F('journal-owner-is-actor', 'resources', 'allowed values', 'journal.owner', 'read journal', 'The journal gives an event to whoever brought it about, not to the owner of the row.', lambda s: seq(X(s, logged(s), 'confirm', 'bela'), items(J(s, '?kind=contact.settled'))[0]['owner'] == 'ada'))
F('journal-forever', 'events', 'delivery mechanism', 'service', 'list journal', 'Rows of the journal never go.', lambda s: seq(logged(s), s.go('P15D'), items(J(s)) == []))
F('journal-a-week', 'events', 'delivery mechanism', 'service', 'list journal', 'Rows of the journal go after a week.', lambda s: seq(logged(s), s.go('P8D'), len(items(J(s))) == 1))
F('events-in-newest-edition', 'events', 'payload shapes', 'contact.logged', 'create contact', 'A relay of spring is told in the words of autumn.', lambda s: (lambda e: seq(logged(s), 'partner' in e.wait()[0]['message']))(s.relay(path='?edition=spring')))

# errors
F('dupe-is-422', 'errors', 'status codes', 'DUPE', 'create contact', 'A dupe is answered with 422.', lambda s: seq(logged(s), s.log().status == 409))
F('missing-is-410', 'errors', 'status codes', 'NOBODY_THERE', 'read contact', 'A row that is not there is answered with 410.', lambda s: C(s, 'ct-000000000000').status == 404)
F('missing-as-qsb', 'errors', 'conditions', 'LACKS', 'upsert station', 'A missing field has the code of one that does not fit.', lambda s: s('PUT', '/stations/DL1ADA', {}).sign == 'LACKS')
F('unknown-as-qsb', 'errors', 'conditions', 'UNHEARD_OF', 'upsert station', 'A field that there is not has the code of one that does not fit.', lambda s: s('PUT', '/stations/DL1ADA', {'locator': 'JO31', 'x': 1}).sign == 'UNHEARD_OF')
F('first-trouble-last', 'errors', 'conditions', 'QSB', 'upsert station', 'The last of several troubles names the code.', lambda s: s('PUT', '/stations/DL1ADA', {'locator': 'zz', 'x': 1}).sign == 'QSB')
F('only-one-trouble', 'errors', 'error payload shapes', 'service', 'upsert station', 'Of several troubles one alone is told.', lambda s: len(s('PUT', '/stations/DL1ADA', {'locator': 'zz', 'x': 1}).where) == 2)
F('paths-with-slashes', 'errors', 'error payload shapes', 'service', 'upsert station', 'Places in a body are written with slashes.', lambda s: s('PUT', '/stations/DL1ADA', {'locator': 'JO31', 'rig': {'model': 'K', 'watts': 5}}).where[0]['path'] == 'rig.model')
F('where-forgotten', 'errors', 'error payload shapes', 'service', 'upsert station', 'The places of what is wrong are not told.', lambda s: s('PUT', '/stations/DL1ADA', {'locator': 'zz'}).where)
F('fault-unwrapped', 'errors', 'error payload shapes', 'service', 'list contact', 'Refusals come without the member fault.', lambda s: list(L(s, '', None).json) == ['fault'])
F('sign-in-small-letters', 'errors', 'error codes', 'service', 'list contact', 'Codes are written in small letters.', lambda s: L(s, '', None).sign == 'NO_CALL')
F('no-x-fault', 'errors', 'error payload shapes', 'service', 'list contact', 'X-Fault is left out of refusals.', lambda s: L(s, '', None).h('X-Fault') == 'NO_CALL')
F('trace-differs', 'errors', 'error payload shapes', 'service', 'list contact', 'The trace of the body is not that of X-Trace.', lambda s: (lambda r: r.h('X-Trace') == r['fault']['trace'])(L(s, '', None)))
F('fault-at-host', 'errors', 'error payload shapes', 'service', 'read contact', 'at does not say the path.', lambda s: C(s, 'ct-1')['fault']['at'] == '/air/contacts/ct-1')
F('words-for-all', 'errors', 'error payload shapes', 'service', 'read contact', 'words is a number where no message is stated.', lambda s: isinstance(C(s, 'ct-1')['fault'].get('words', ''), str))
F('no-allow', 'errors', 'conditions', 'NO_SUCH_KEYING', 'list contact', 'A 405 does not tell the methods that there are.', lambda s: 'GET' in (s('DELETE', '/contacts').h('Allow') or ''))
F('scope-as-qrt', 'errors', 'conditions', 'NO_LICENCE', 'upsert station', 'A missing scope has the general code.', lambda s: s('PUT', '/stations/DL1DOV', {'locator': 'JO31'}, 'dov').sign == 'NO_LICENCE')
F('stale-as-who', 'errors', 'conditions', 'STALE_SEAL', 'list contact', 'A seal that is over has the code of a bad one.', lambda s: s('GET', '/contacts', None, 'cyd', sealed={'skew': -300}).sign == 'STALE_SEAL')
F('nobody-as-who', 'errors', 'conditions', 'NO_CALL', 'list contact', 'Who shows nothing is told what a bad credential is told.', lambda s: L(s, '', None).sign == 'NO_CALL')
F('no-body-as-qrm', 'errors', 'conditions', 'NO_BODY', 'create contest', 'A missing body has the code of an unreadable one.', lambda s: s('POST', '/contests', None, 'sten').sign == 'NO_BODY')
F('any-alphabet', 'errors', 'conditions', 'WRONG_ALPHABET', 'upsert station', 'A body of any media type is taken.', lambda s: s('PUT', '/stations/DL1ADA', {'locator': 'JO31'}, kind='text/plain').sign == 'WRONG_ALPHABET')
F('body-before-parameters', 'errors', 'conditions', 'BAD_QUERY', 'upsert station', 'The body is looked at before the parameters.', lambda s: s('PUT', '/stations/DL1ADA?x=1', b'{').sign == 'BAD_QUERY')
F('state-before-request', 'errors', 'conditions', 'OUT_OF_TURN', 'update contact', 'The state is looked at before the body.', lambda s: (lambda i: seq(X(s, i, 'strike'), s('PATCH', '/contacts/' + i, {'band': '1m'}).sign == 'QSB'))(logged(s)))
F('no-reply-as-qsb', 'errors', 'conditions', 'NO_REPLY', 'create entry', 'A reference to no station has the code of a value that does not fit.', lambda s: s.enter(s.contest(), 'ZZ9ZZ').sign == 'NO_REPLY')
F('silent-logs', 'errors', 'conditions', 'silent_key', 'create contact', 'A silent station can log contacts.', lambda s: seq(s.both(), s('POST', '/stations/DL1ADA/silence'), s.log().sign == 'silent_key'))
F('tomorrow-is-fine', 'errors', 'conditions', 'not_yet_made', 'create contact', 'A contact of the next hours is taken.', lambda s: seq(s.both(), s.log(made_at=s.t(hours=2)).sign == 'not_yet_made'))
F('future-by-patch', 'errors', 'conditions', 'not_yet_made', 'update contact', 'A patch may put a contact into the future.', lambda s: s('PATCH', '/contacts/' + logged(s), {'made_at': s.t(hours=2)}).sign == 'not_yet_made')
F('dupe-by-patch', 'errors', 'conditions', 'DUPE', 'update contact', 'A patch may make a contact a dupe of another.', lambda s: seq(logged(s), s('PATCH', '/contacts/' + s.contact(band='20m'), {'band': '40m'}).sign == 'DUPE'))
F('late-entries', 'errors', 'conditions', 'entries_over', 'create entry', 'A closed contest can still be entered.', lambda s: (lambda k, e: seq(s.station('DL2ADA'), s.enter(k, 'DL2ADA').sign == 'entries_over'))(*_closed(s)))
F('one-seat-more', 'errors', 'conditions', 'contest_full', 'create entry', 'One entry more than there are seats is taken.', lambda s: (lambda k: seq(s.entry(k), s.enter(k, 'HA2BEL', 'bela').sign == 'contest_full'))(seq(s.both(), s.contest(seats=1))))
F('if-match-optional', 'errors', 'conditions', 'UNTUNED', 'update station', 'A patch without a tag is taken.', lambda s: seq(s.station(), s('PATCH', '/stations/DL1ADA', {'motto': 'x'}).sign == 'UNTUNED'))
F('any-tag-fits', 'errors', 'conditions', 'DRIFTED', 'update station', 'A patch with an old tag is taken.', lambda s: seq(s.station(), s('PATCH', '/stations/DL1ADA', {'motto': 'x'}, If_Match='"old"').sign == 'DRIFTED'))
F('weak-tags-fit', 'errors', 'conditions', 'DRIFTED', 'update station', 'A weak tag fits.', lambda s: seq(s.station(), s('PATCH', '/stations/DL1ADA', {'motto': 'x'}, If_Match='W/' + P(s).h('ETag')).sign == 'DRIFTED'))

# limits
def _many(n, who, path, left=0):
    def go(s):
        r = [s('GET', path, None, who) for _ in range(n)]
        return all(x.status == 200 for x in r[:-1]) and r[-1].sign == 'QRS'
    return go
F('rate-one-more', 'limits', 'rate limits', 'service', 'list bands', 'One request more than stated passes.', lambda s: s('GET', '/contests').h('X-Air-Left') == '399')
F('no-rate-for-anyone', 'limits', 'rate limits', 'service', 'list station', 'Whoever shows no credential is not counted apart.', _many(61, None, '/stations'))
F('anyone-window', 'limits', 'rate limits', 'service', 'list station', 'The window of those without a credential is two minutes.', lambda s: seq(_many(61, None, '/stations')(s), s.go('PT61S'), s('GET', '/stations', None, None).status == 200))
def _slide(s):
    for _ in range(15):
        L(s, '', 'wim')
    s.go('PT100S')
    for _ in range(15):
        L(s, '', 'wim')
    s.go('PT25S')
    return [L(s, '', 'wim').status for _ in range(16)] == [200] * 15 + [429]
F('sliding-is-fixed', 'limits', 'rate limits', 'service', 'list contact', 'The window slides no more, so twice as much passes at its end.', _slide)
F('swl-rate-for-all', 'limits', 'rate limits', 'service', 'list contact', 'The rate of listeners counts for operators too.', lambda s: [L(s).status for _ in range(31)][-1] == 200)
F('rate-per-user', 'limits', 'rate limits', 'service', 'list contact', 'All listeners share one rate.', lambda s: seq(_many(31, 'wim', '/contacts')(s), L(s, '', 'wes').status == 200))
F('burst-forgotten', 'limits', 'rate limits', 'service', 'create contact', 'The bucket holds no more than its limit.', lambda s: seq(s.both(), [s('POST', '/stations/DL1ADA/contacts', {}).sign for _ in range(75)][-1] == 'LACKS'))
F('no-retry-after', 'limits', 'rate limits', 'service', 'list contact', 'A refusal by a rate has no Retry-After.', lambda s: seq([L(s, '', 'wim') for _ in range(30)], L(s, '', 'wim').h('Retry-After')))
F('no-x-wait', 'errors', 'error payload shapes', 'service', 'list contact', 'X-Wait is left out of a refusal by a rate.', lambda s: seq([L(s, '', 'wim') for _ in range(30)], L(s, '', 'wim').h('X-Wait')))
F('left-one-more', 'limits', 'rate limits', 'service', 'list contest', 'X-Air-Left tells one more than is left.', lambda s: s('GET', '/contests').h('X-Air-Left') == '399')
F('reset-as-unix', 'limits', 'rate limits', 'service', 'list contest', 'X-Air-Reset is a time and not seconds.', lambda s: int(s('GET', '/contests').h('X-Air-Reset')) <= 60)
F('no-rate-headers', 'limits', 'rate limits', 'service', 'list contest', 'Answers tell nothing of rates.', lambda s: s('GET', '/contests').h('X-Air-Limit') == '400')
F('304-counts', 'limits', 'rate limits', 'service', 'read station', 'Answers of 304 are counted.', lambda s: (lambda t: seq(s('GET', '/stations/HD0BCN', If_None_Match=t), P(s, 'HD0BCN').h('X-Air-Left') == '398'))(P(s, 'HD0BCN').h('ETag')))
def _quota(s, refused=False):
    s.station()
    if refused:
        full = s.contest(name='Full one', seats=1)
        s.entry(full)
        s.station('DL2ADA')
    ks = [s.contest(name='Contest %02d' % i) for i in range(13)]
    if refused:
        s.enter(ks[0])
        s.enter(ks[0])
        return [s.enter(k).status for k in ks[1:11]] == [201] * 10
    r = [s.enter(k) for k in ks]
    return [x.status for x in r[:12]] == [201] * 12 and r[12].sign == 'QUOTA'
F('quota-thirteen', 'limits', 'quotas', 'service', 'create entry', 'Thirteen entries a week are taken.', _quota)
F('quota-of-refused', 'limits', 'quotas', 'service', 'create entry', 'Entries that were refused use up the quota.', lambda s: _quota(s, True))
def _week(s, berlin):
    d = s.now() + timedelta(days=7)
    monday = d - timedelta(days=d.weekday())
    start = monday.replace(hour=0, minute=0, second=0, microsecond=0)
    s.station()
    s.goto((start - (timedelta(minutes=90) if berlin else timedelta(hours=30))).strftime('%Y-%m-%dT%H:%M:%SZ'))
    ks = [s.contest(name='Contest %02d' % i) for i in range(14)]
    [s.enter(k) for k in ks[:12]]
    s.go('PT45M' if berlin else 'PT10H')
    return s.enter(ks[12]).status
F('quota-week-utc', 'limits', 'quotas', 'service', 'create entry', 'The week of the quota begins by UTC and not by the clocks of Berlin.', lambda s: _week(s, True) == 201)
F('quota-from-sunday', 'limits', 'quotas', 'service', 'create entry', 'The week of the quota begins on Sunday.', lambda s: _week(s, False) == 429)
F('five-relays', 'limits', 'quotas', 'rows of relay', 'create relay', 'A caller may have five relays.', lambda s: [s('POST', '/relays', {'url': 'http://127.0.0.1:9/x'}).status for _ in range(5)] == [201] * 4 + [429])
F('four-disputes', 'limits', 'quotas', 'rows of contact', 'dispute contact', 'Four contacts of a station may be disputed at once.', lambda s: seq(s.both(), [X(s, s.contact(band=b), 'dispute', 'bela', busted).status for b in ('160m', '80m', '40m', '20m')] == [202, 202, 202, 429]))
F('size-in-thousands', 'limits', 'size limits', 'service', 'upsert station', 'A body of 6100 bytes is refused.', lambda s: s('PUT', '/stations/DL1ADA', b'{"locator":"JO31"' + b' ' * 6082 + b'}').status == 201)
F('size-ignored', 'limits', 'size limits', 'service', 'upsert station', 'A body of any size is taken.', lambda s: s('PUT', '/stations/DL1ADA', b'{"locator":"JO31"' + b' ' * 6200 + b'}').sign == 'TOO_LONG')
F('url-four-k', 'limits', 'size limits', 'service', 'list station', 'An address of three thousand bytes is taken.', lambda s: s('GET', '/stations?q=' + 'a' * 3000).sign == 'TOO_LONG')
F('headers-any-size', 'limits', 'size limits', 'service', 'list station', 'Header fields of twice the size are taken.', lambda s: s('GET', '/stations', X_Long='a' * 9000).sign == 'TOO_LONG')
def _twelve(s, n=12):
    for i in range(n - 1):
        s.station('DL1A%02d' % i)
    return s
F('default-twenty', 'limits', 'pagination bounds', 'GET /stations', 'list station', 'A leaf has twenty rows where none is asked for.', lambda s: len(items(_twelve(s)('GET', '/stations'))) == 10)
F('lines-unclamped', 'limits', 'pagination bounds', 'GET /stations', 'list station', 'A leaf may have any number of rows.', lambda s: len(items(_twelve(s, 43)('GET', '/stations?lines=50'))) == 40)
F('over-max-refused', 'limits', 'pagination bounds', 'GET /contests', 'list contest', 'A size above the most is refused and not cut down.', lambda s: s('GET', '/contests?lines=50').status == 200)
F('leaf-from-zero', 'limits', 'pagination bounds', 'GET /stations', 'list station', 'The second leaf leaves rows out.', lambda s: len(items(_twelve(s)('GET', '/stations?leaf=2'))) == 2)
F('more-when-full', 'limits', 'pagination bounds', 'GET /stations', 'list station', 'more is true on a last leaf that is full.', lambda s: _twelve(s, 10)('GET', '/stations')['more'] is False)
F('all-of-leaf', 'limits', 'pagination bounds', 'GET /stations', 'list station', 'all counts the rows of the leaf alone.', lambda s: _twelve(s)('GET', '/stations')['all'] == 12)
F('no-links', 'limits', 'pagination bounds', 'GET /stations', 'list station', 'Links to other leaves are left out.', lambda s: 'rel="next"' in (_twelve(s)('GET', '/stations').h('Link') or ''))
F('links-lose-filters', 'limits', 'pagination bounds', 'GET /stations', 'list station', 'The link to the next leaf has lost the filters.', lambda s: 'club=north' in _twelve(s)('GET', '/stations?club=north').h('Link'))
F('journal-unbounded', 'limits', 'pagination bounds', 'GET /journal', 'list journal', 'A page of the journal may have any size.', lambda s: J(s, '?lines=21').sign == 'NO_SUCH_LEAF')
def _journal(s):
    s.both()
    for b in ('160m', '80m', '40m', '20m'):
        s.contact(band=b)
    return items(J(s))
F('after-includes', 'limits', 'pagination bounds', 'GET /journal', 'list journal', 'A page begins with the row after which it was asked for.', lambda s: (lambda p: items(J(s, '?after=' + p[1]['id'])) == p[2:])(_journal(s)))
F('before-from-start', 'limits', 'pagination bounds', 'GET /journal', 'list journal', 'The page before a row is the first of all, not that just before it.', lambda s: (lambda p: items(J(s, '?lines=2&before=' + p[3]['id'])) == p[1:3])(_journal(s)))
F('once-ignored', 'endpoints', 'parameters', 'POST /contests/{contest}/entries', 'create entry', 'A key of idempotency is not looked at.', lambda s: (lambda k: s.enter(k, heads={'Once': 'a'})['id'] == s.enter(k, heads={'Once': 'a'})['id'])(seq(s.station(), s.contest())))
F('once-for-all', 'endpoints', 'parameters', 'POST /relays', 'create relay', 'A key of idempotency is shared by all callers.', lambda s: (lambda b: s('POST', '/relays', b, Once='a').json['owner'] != s('POST', '/relays', b, 'bela', Once='a').json['owner'])({'url': 'http://127.0.0.1:9/x'}))
F('once-without-body', 'errors', 'conditions', 'ECHO', 'create relay', 'Another body under a key is answered as the first.', lambda s: seq(s('POST', '/relays', {'url': 'http://127.0.0.1:9/x'}, Once='a'), s('POST', '/relays', {'url': 'http://127.0.0.1:9/y'}, Once='a').sign == 'ECHO'))
F('once-without-version', 'errors', 'conditions', 'ECHO', 'create relay', 'The same request in another edition is answered as the first.', lambda s: seq(s('POST', '/relays', {'url': 'http://127.0.0.1:9/x'}, Once='a'), s('POST', '/relays?edition=spring', {'url': 'http://127.0.0.1:9/x'}, Once='a').sign == 'ECHO'))
F('once-shows-slip', 'endpoints', 'response payload shapes', 'POST /contests/{contest}/entries', 'create entry', 'A replay reveals the slip again.', lambda s: (lambda k: seq(s.enter(k, heads={'Once': 'a'}), 'slip' not in s.enter(k, heads={'Once': 'a'}).json))(seq(s.station(), s.contest())))
F('once-for-an-hour', 'endpoints', 'parameters', 'POST /contests/{contest}/entries', 'create entry', 'A key is forgotten after an hour.', lambda s: (lambda k: seq(s.enter(k, heads={'Once': 'a'}), s.go('PT6H'), s.enter(k, heads={'Once': 'a'}).status == 201))(seq(s.station(), s.contest())))
def _own(s):
    s.both()
    s('POST', '/stations/DL1ADA/silence')
    b = s.qso()
    a = s('POST', '/stations/DL1ADA/contacts', b, Once='a').sign
    s('POST', '/stations/DL1ADA/revive')
    return a == s('POST', '/stations/DL1ADA/contacts', b, Once='a').sign == 'silent_key'
F('own-errors-not-kept', 'endpoints', 'response payload shapes', 'POST /stations/{station}/contacts', 'create contact', "The service's own errors are not kept under a key.", _own)

# versioning
F('spring-by-default', 'versioning', 'version selection', 'service', 'list contact', 'A request that names no edition is in spring.', lambda s: 'other' in C(s, logged(s)).json)
F('unknown-edition-taken', 'versioning', 'version selection', 'service', 'list contact', 'An edition that there is not is taken for the current one.', lambda s: L(s, '?edition=winter').sign == 'NO_EDITION')
F('sunset-a-day-late', 'versioning', 'deprecation rules', 'spring', 'list contact', 'Spring is served for a day after its sunset.', lambda s: seq(s.goto('2027-06-01T00:00:05Z'), L(s, '?edition=spring').sign == 'OLD_EDITION'))
F('spring-for-ever', 'versioning', 'deprecation rules', 'spring', 'list contact', 'Spring is served for ever.', lambda s: seq(s.goto('2027-08-01T00:00:00Z'), L(s, '?edition=spring').sign == 'OLD_EDITION'))
F('spring-not-deprecated', 'versioning', 'deprecation rules', 'spring', 'list contact', 'Answers in spring do not say that it is deprecated.', lambda s: L(s, '?edition=spring').h('Deprecation'))
F('sunset-untold', 'versioning', 'deprecation rules', 'spring', 'list contact', 'Answers in spring do not tell its sunset.', lambda s: L(s, '?edition=spring').h('Sunset') == 'Tue, 01 Jun 2027 00:00:00 GMT')
F('no-successor', 'versioning', 'deprecation rules', 'spring', 'list contact', 'The edition that comes after is not linked to.', lambda s: 'successor-version' in L(s, '?edition=spring').h('Link'))
F('deprecated-today', 'versioning', 'deprecation rules', 'spring', 'list contact', 'Deprecation is no date.', lambda s: L(s, '?edition=spring').h('Deprecation') == '@%d' % datetime(2026, 3, 1, tzinfo=timezone.utc).timestamp())
F('bands-in-spring', 'versioning', 'version identifiers', 'service', 'list bands', 'Bands are served in spring, before they were added.', lambda s: s('GET', '/bands?edition=spring', None, None).sign == 'DEAD_AIR')
F('partner-renamed-too-soon', 'versioning', 'version identifiers', 'service', 'read contact', 'In spring the partner is called other.', lambda s: 'partner' in C(s, logged(s), q='?edition=spring').json)
F('tags-in-spring', 'versioning', 'version identifiers', 'service', 'read contact', 'Tags are shown in spring.', lambda s: 'tags' not in C(s, logged(s, tags=['dx']), q='?edition=spring').json)
F('zone-forgotten', 'versioning', 'version identifiers', 'service', 'read station', 'The zone is left out in spring.', lambda s: P(s, 'HD0BCN', q='?edition=spring').get('zone') == 'unknown')
F('morse-not-carried-down', 'versioning', 'version identifiers', 'service', 'read contact', 'In spring the mode is cw instead of morse.', lambda s: C(s, logged(s, mode='cw'), q='?edition=spring')['mode'] == 'morse')
F('morse-filter-not-carried', 'versioning', 'version identifiers', 'service', 'list contact', 'The filter by morse finds nothing in spring.', lambda s: seq(logged(s, mode='cw'), L(s, '?edition=spring&mode=morse')['all'] == 1))
F('kilowatts-not-carried-down', 'versioning', 'version identifiers', 'service', 'read station', 'In spring watts are shown where kilowatts should be.', lambda s: seq(s.station(rig={'model': 'KX2', 'watts': 50}), P(s, q='?edition=spring')['rig']['watts'] == 0.05))
F('kilowatts-not-carried-up', 'versioning', 'version identifiers', 'service', 'upsert station', 'Kilowatts that are sent in spring are stored as watts.', lambda s: seq(s('PUT', '/stations/DL1ADA?edition=spring', {'locator': 'JO31', 'rig': {'model': 'KX2', 'watts': 0.05}}), P(s)['rig']['watts'] == 50))
F('contest-search-minds-case', 'endpoints', 'parameters', 'GET /contests', 'list contest', 'The search by name minds case.', lambda s: seq(s.contest(), s('GET', '/contests?name=SPRINT')['all'] == 1))
F('no-vary', 'endpoints', 'response payload shapes', 'GET /stations/{call}', 'read station', 'Answers do not say that they vary with the credential.', lambda s: 'authorization' in (P(s, 'HD0BCN').h('Vary') or '').lower())


def run(case):
    meta, fn = case
    said = []
    for f in (None, meta['id']):
        s = Service(f)
        try:
            said.append(bool(fn(s)))
        except Exception as e:
            said.append('%s: %s' % (type(e).__name__, str(e)[:150]))
        finally:
            s.stop()
    # the faulty one may also fail in a helper, whose answer was not as it should be
    good = said[0] is True and said[1] is not True
    return meta['id'], good, said


def main():
    names = [a for a in sys.argv[1:] if not a.startswith('-')]
    cases = [c for c in FAULTS if not names or c[0]['id'] in names]
    assert len({c[0]['id'] for c in FAULTS}) == len(FAULTS)
    with ThreadPoolExecutor(2) as pool:
        out = list(pool.map(run, cases))
    for id, good, said in out:
        if not good:
            print('FAIL', id, said)
    print('%d of %d' % (sum(g for _, g, _ in out), len(out)))
    if '--write' in sys.argv:
        doc = {'command': ['python3', 'service.py'], 'document': 'service.yaml',
               'callers': [{'user': u, 'id': i, 'credential': c, 'scheme': s, 'scopes': p, 'attributes': {'club': a}} for u, i, c, s, p, a in CALLERS],
               'faults': [m for m, _ in FAULTS]}
        with open(os.path.join(HERE, 'stranger.json'), 'w') as f:
            json.dump(doc, f, indent=1)
            f.write('\n')
    sys.exit(0 if all(g for _, g, _ in out) else 1)


if __name__ == '__main__':
    main()
