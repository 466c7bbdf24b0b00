#!/usr/bin/env python3
"""Proves every fault by hand: its proof passes on the service as it is, and fails with the fault switched on.

    python3 faults-test.py            all faults
    python3 faults-test.py ID ...     some of them
    python3 faults-test.py -v         with what the faulty service gave
    python3 faults-test.py --write    writes the faults into stranger.json

The fault is told by the variable CUPPING_FAULT, or by --fault.
"""
import concurrent.futures, hashlib, hmac, http.client, http.server, json, os, re, subprocess, sys, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
SPOONS = {'rosie': 'sp_ro51eBe4nsGreen000001', 'remo': 'sp_rem0Be4nsGreen0000002', 'tamara': 'sp_t4mar4Slurps000000011', 'teo': 'sp_te0S1urps00000000012',
          'tilly': 'sp_t1l1yS1urps0000000013', 'cora': 'sp_c0r4Wax00000000000021', 'clem': 'sp_c1em0Wax0000000000022'}
FAULTS = []


def fault(id, part, kind, subject, bug):
    """The proof that stands below it; `s` is the service, `is_` what has to hold."""
    def keep(f):
        FAULTS.append(({'id': id, 'part': part, 'kind': kind, 'subject': subject, 'bug': bug}, f))
        return f
    return keep


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.headers, self.text = status, headers, text

    @property
    def json(self):
        return json.loads(self.text)

    def __getitem__(self, name):
        return self.json[name]

    def __repr__(self):
        return f'{self.status} {self.text[:300]}'


class Ear:
    """Hears web hooks: keeps what came, answers with the statuses that it was told, then with 204."""

    def __init__(self):
        ear = self
        self.got, self.answers = [], []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers['content-length']))
                ear.got.append(({k.lower(): v for k, v in self.headers.items()}, body))
                self.send_response(ear.answers.pop(0) if ear.answers else 204)
                self.send_header('content-length', '0')
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.server.daemon_threads = True
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}/ear'
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def wait(self, n, seconds=3):
        end = time.time() + seconds
        while len(self.got) < n and time.time() < end:
            time.sleep(0.01)
        return [json.loads(b) for _, b in self.got]

    def quiet(self, seconds=0.4):
        time.sleep(seconds)
        return [json.loads(b) for _, b in self.got]


class Room:
    def __init__(self, fault):
        self.process = subprocess.Popen([sys.executable, 'service.py', '--port', '0', '--clock-port', '0'], cwd=HERE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env={**os.environ, 'CUPPING_FAULT': fault or ''})
        line = self.process.stdout.readline()
        self.port, self.door = map(int, re.findall(r'127\.0\.0\.1:(\d+)', line))
        self.n = 0

    def end(self):
        self.process.kill()
        self.process.wait()

    def raw(self, method, path, who=None, body=None, headers=None, port=None):
        c = http.client.HTTPConnection('127.0.0.1', port or self.port, timeout=10)
        c.putrequest(method, path)
        sent = dict(headers or {})
        if who:
            sent.setdefault('Spoon', SPOONS.get(who, who))
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if data is not None:
            sent.setdefault('Content-Type', 'application/json')
            sent['Content-Length'] = str(len(data))
        for k, v in sent.items():
            if v is not None:
                c.putheader(k, v)
        c.endheaders(data)
        a = c.getresponse()
        text = a.read().decode()
        c.close()
        return Answer(a.status, {k.lower(): v for k, v in a.getheaders()}, text)

    def __call__(self, method, path, who=None, body=None, **headers):
        return self.raw(method, '/room' + path, who, body, {k.replace('_', '-'): v for k, v in headers.items()})

    def ok(self, method, path, who, body=None, status=None, **headers):
        a = self(method, path, who, body, **headers)
        assert a.status in ((status,) if status else (200, 201, 204)), a
        return a.json if a.text else None

    def no(self, status, code, method, path, who=None, body=None, **headers):
        a = self(method, path, who, body, **headers)
        assert a.status == status and a['error']['code'] == code, a
        return a['error']

    def clock(self, advance):
        a = self.raw('POST', '/', body={'advance': advance}, port=self.door)
        assert a.status == 200, a

    def new(self, **more):
        self.n += 1
        return {'name': f'Lot {self.n}', 'bags': 10, 'dry_from': 10, 'dry_to': 12, **more}

    def lot(self, who='rosie', accept=False, **more):
        made = self.ok('POST', '/lots', who, self.new(**more), 201)
        return self.ok('POST', f'/lots/{made["id"]}/accept', 'cora') if accept else made

    def panel(self, slug='north', *people, **more):
        self.ok('PUT', f'/panels/{slug}', 'cora', {'title': slug.title(), **more})
        for person in people:
            self.member(slug, person)
        return slug

    def member(self, slug, person, role='taster'):
        return self.ok('POST', f'/panels/{slug}/members', 'cora', {'person': person, 'role': role})

    def flight(self, slug, *lots, **more):
        return self.ok('POST', f'/panels/{slug}/flights', 'cora', {'title': 'Morning', 'pours': [{'lot': one['id']} for one in lots], **more}, 201)

    def running(self, *people, lots=1):
        """A flight that runs, with tamara at its panel."""
        self.panel('north', 'tamara', *people)
        f = self.flight('north', *[self.lot(accept=True) for _ in range(lots)])
        return self.ok('POST', f'/flights/{f["id"]}/start', 'cora')

    def score(self, f, points=80, who='tamara', at=0):
        return self.ok('POST', f'/samples/{f["pours"][at]["id"]}/scores', who, {'points': points}, 201)

    def read(self, kind, row, who='cora'):
        return self.ok('GET', f'/{kind}/{row["id"]}', who)

    def names(self, query='', who='cora'):
        return [one['name'] for one in self.ok('GET', '/lots?limit=20' + query, who)['items']]

    def hook(self, who='cora', **more):
        ear = Ear()
        ear.made = self.ok('POST', '/hooks', who, {'url': ear.url, **more}, 201)
        return ear


def is_(one, other):
    assert one == other, f'{one!r} is not {other!r}'


# ------------------------------------------------------------ purpose

@fault('pu-base', 'purpose', 'base address', 'service', 'The prefix of the base address is put before every path once more.')
def _(s): is_(s('GET', '/pulse').status, 200)


@fault('pu-taster-unknown', 'purpose', 'users', 'service', 'The tasters are left out of the book of spoons.')
def _(s): is_(s('GET', '/panels', 'tamara').status, 200)


@fault('en-undelete-lot-missing', 'purpose', 'functions', 'service', 'Nobody mounted the path that brings a lot back.')
def _(s):
    one = s.lot()
    s.ok('DELETE', f'/lots/{one["id"]}', 'rosie')
    is_(s('POST', f'/lots/{one["id"]}/undelete', 'rosie').status, 200)


# ------------------------------------------------------------ fields

@fault('re-bags-edge', 'resources', 'allowed values', 'lot.bags', 'The greatest number of bags itself is refused.')
def _(s): s.lot(bags=320)


@fault('re-seats-nine', 'resources', 'allowed values', 'panel.seats', 'A panel may have nine seats.')
def _(s): s.no(422, 'wrong_value', 'PUT', '/panels/east', 'cora', {'title': 'East', 'seats': 9})


@fault('re-seats-default', 'resources', 'allowed values', 'panel.seats', 'A panel of which nothing is said has six seats.')
def _(s): is_(s.ok('PUT', '/panels/east', 'cora', {'title': 'East'})['seats'], 4)


@fault('re-process-any', 'resources', 'allowed values', 'lot.process', 'The process may be any text.')
def _(s): s.no(422, 'wrong_value', 'POST', '/lots', 'rosie', s.new(process='boiled'))


@fault('re-tags-twice', 'resources', 'allowed values', 'lot.tags', 'A tag may stand twice.')
def _(s): s.no(422, 'wrong_value', 'POST', '/lots', 'rosie', s.new(tags=['dry', 'dry']))


@fault('re-tags-absent', 'resources', 'required flags', 'lot.tags', 'Tags that were not sent are absent.')
def _(s): is_(s.lot()['tags'], [])


@fault('re-note-long', 'resources', 'allowed values', 'lot.note', 'A note may be as long as anyone likes.')
def _(s): s.no(422, 'wrong_value', 'POST', '/lots', 'rosie', s.new(note='x' * 201))


@fault('re-name-bytes', 'resources', 'allowed values', 'lot.name', 'The length of a text is counted in bytes.')
def _(s): s.lot(name='é' * 40)


@fault('re-reference-open', 'resources', 'allowed values', 'lot.reference', 'The pattern of the reference is open at its end.')
def _(s): s.no(422, 'wrong_value', 'POST', '/lots', 'rosie', s.new(reference='abc DEF'))


@fault('re-reference-free', 'errors', 'conditions', 'there_already', 'Two lots of one roaster may have one reference.')
def _(s):
    s.lot(reference='ref-1')
    s.no(409, 'there_already', 'POST', '/lots', 'rosie', s.new(reference='ref-1'))


@fault('re-reference-all', 'errors', 'conditions', 'there_already', 'A reference that another roaster uses is taken.')
def _(s):
    s.lot(reference='ref-1')
    s.lot('remo', reference='ref-1')


@fault('re-cups-eleven', 'resources', 'allowed values', 'sample.cups', 'Eleven cups may be poured.')
def _(s):
    one = s.lot()
    s.panel()
    s.no(422, 'wrong_value', 'POST', '/panels/north/flights', 'cora', {'title': 'A', 'pours': [{'lot': one['id'], 'cups': 11}]})


@fault('re-points-negative', 'resources', 'allowed values', 'score.points', 'Points may be negative.')
def _(s):
    f = s.running()
    s.no(422, 'wrong_value', 'POST', f'/samples/{f["pours"][0]["id"]}/scores', 'tamara', {'points': -1})


@fault('re-role-default', 'resources', 'allowed values', 'member.role', 'Whoever comes to a panel leads it.')
def _(s):
    s.panel()
    is_(s.ok('POST', '/panels/north/members', 'cora', {'person': 'teo'})['role'], 'taster')


@fault('re-unknown-dropped', 'resources', 'field names', 'lot', 'Fields that nobody knows are dropped in silence.')
def _(s): s.no(422, 'unknown_field', 'POST', '/lots', 'rosie', s.new(colour='green'))


@fault('re-docket-written', 'resources', 'allowed values', 'lot.docket', 'A docket that is sent is taken.')
def _(s): is_(s.lot(docket='mine')['docket'], 'L-0001')


@fault('re-docket-bare', 'resources', 'allowed values', 'lot.docket', 'The docket is the number alone.')
def _(s): is_(s.lot()['docket'], 'L-0001')


@fault('re-owner-sent', 'resources', 'allowed values', 'lot.owner', 'An owner that is sent beats the caller.')
def _(s): is_(s.lot(owner='remo')['owner'], 'rosie')


@fault('re-lab-written', 'resources', 'allowed values', 'lot.lab_note', 'Roasters can write the note of the lab.')
def _(s): assert 'lab_note' not in s.read('lots', s.lot(lab_note='sour'))


@fault('pe-lab-note', 'resources', 'required flags', 'lot.lab_note', 'Roasters are shown the note of the lab.')
def _(s):
    one = s.lot()
    s.ok('PATCH', f'/lots/{one["id"]}', 'cora', {'lab_note': 'sour'})
    is_(s.read('lots', one)['lab_note'], 'sour')
    assert 'lab_note' not in s.read('lots', one, 'rosie')


@fault('re-untouched', 'resources', 'allowed values', 'lot.touched_at', 'The time of the last change stays that of the creation.')
def _(s):
    one = s.lot()
    s.clock('PT5S')
    assert s.ok('PATCH', f'/lots/{one["id"]}', 'rosie', {'bags': 11})['touched_at'] > one['touched_at']


@fault('re-members-stay', 'resources', 'types', 'member.panel', 'The members of a panel that is deleted stay behind.')
def _(s):
    s.panel('north', 'tamara')
    s.ok('DELETE', '/panels/north', 'cora')
    s.panel('north')
    is_(s.ok('GET', '/panels/north/members', 'cora')['items'], [])


@fault('re-lot-unheld', 'resources', 'types', 'sample.lot', 'A lot that is poured can be deleted.')
def _(s):
    one = s.lot()
    s.flight(s.panel(), one)
    s.no(409, 'still_needed', 'DELETE', f'/lots/{one["id"]}', 'rosie')


@fault('re-score-twice', 'errors', 'conditions', 'there_already', 'One taster may score a sample twice.')
def _(s):
    f = s.running()
    s.score(f)
    s.no(409, 'there_already', 'POST', f'/samples/{f["pours"][0]["id"]}/scores', 'tamara', {'points': 70})


@fault('re-person-moved', 'resources', 'allowed values', 'member.person', 'A seat can be handed on to somebody else.')
def _(s):
    s.panel('north', 'tamara')
    s.no(422, 'wrong_value', 'PATCH', '/panels/north/members/tamara', 'cora', {'person': 'teo'})


@fault('re-secret-again', 'resources', 'required flags', 'hook.secret', 'The secret of a hook can be read again.')
def _(s): assert 'secret' not in s.read('hooks', s.hook().made)


@fault('re-secret-never', 'resources', 'required flags', 'hook.secret', 'The secret of a hook is never told.')
def _(s): assert re.fullmatch('sip_[A-Za-z0-9]{32}', s.hook().made['secret'])


@fault('re-kinds-any', 'endpoints', 'request payload shapes', 'POST /hooks', 'A hook can ask for kinds that there are not.')
def _(s): s.no(422, 'wrong_value', 'POST', '/hooks', 'cora', {'url': 'http://127.0.0.1:9/x', 'kinds': ['lot.burnt']})


@fault('re-position-text', 'resources', 'types', 'sample.position', 'The position of a sample is a text.')
def _(s): is_(s.flight(s.panel(), s.lot())['pours'][0]['position'], 1)


@fault('co-number-all', 'resources', 'allowed values', 'flight.number', 'Flights are counted over all panels.')
def _(s):
    s.flight(s.panel('north'))
    is_(s.flight(s.panel('south'))['number'], 1)


@fault('co-position-all', 'resources', 'allowed values', 'sample.position', 'Samples are counted over all flights.')
def _(s):
    s.flight(s.panel(), s.lot())
    is_(s.flight('north', s.lot())['pours'][0]['position'], 1)


@fault('co-position-zero', 'resources', 'allowed values', 'sample.position', 'The first sample of a flight has the position 0.')
def _(s): is_([p['position'] for p in s.flight(s.panel(), s.lot(), s.lot())['pours']], [1, 2])


# ------------------------------------------------------------ rules over fields

@fault('ru-none', 'resources', 'allowed values', 'lot.dry_to', 'A lot may be drier at its end than at its beginning.')
def _(s): s.no(422, 'wrong_value', 'POST', '/lots', 'rosie', s.new(dry_from=12, dry_to=11))


@fault('ru-patch', 'endpoints', 'request payload shapes', 'PATCH /lots/{id}', 'The rule over two fields is not looked at in a patch.')
def _(s): s.no(422, 'wrong_value', 'PATCH', f'/lots/{s.lot()["id"]}', 'rosie', {'dry_to': 9})


@fault('ru-equal', 'resources', 'allowed values', 'lot.dry_to', 'Two equal bounds are refused.')
def _(s): s.lot(dry_from=11, dry_to=11)


@fault('ru-place', 'errors', 'error payload shapes', 'wrong_value', 'What breaks the rule is told at the other field.')
def _(s): is_(s.no(422, 'wrong_value', 'POST', '/lots', 'rosie', s.new(dry_from=12, dry_to=11))['spots'], [{'in': 'body', 'path': '/dry_to'}])


# ------------------------------------------------------------ derived fields

@fault('de-samples-tasted', 'resources', 'allowed values', 'lot.samples', 'Only samples that are tasted count.')
def _(s):
    one = s.lot()
    s.flight(s.panel(), one)
    is_(s.read('lots', one)['samples'], 1)


@fault('de-cups-poured', 'resources', 'allowed values', 'lot.cups', 'Cups that were only poured count too.')
def _(s):
    one = s.lot()
    s.flight(s.panel(), one)
    is_(s.read('lots', one)['cups'], 0)


def tasted(s, points=80, **pour):
    one = s.lot(accept=True)
    s.panel('north', 'tamara')
    f = s.flight('north', pours=[{'lot': one['id'], **pour}])
    f = s.ok('POST', f'/flights/{f["id"]}/start', 'cora')
    s.score(f, points)
    return one, s.ok('POST', f'/flights/{f["id"]}/close', 'cora')


@fault('de-cups-count', 'resources', 'allowed values', 'lot.cups', 'The samples are counted instead of their cups.')
def _(s): is_(s.read('lots', tasted(s, cups=7)[0])['cups'], 7)


def two_flights(s):
    one = s.lot(accept=True)
    s.panel('north', 'tamara', 'teo')
    for points in (60, 90):
        f = s.ok('POST', f'/flights/{s.flight("north", one)["id"]}/start', 'cora')
        s.score(f, points)
        s.score(f, points - 5, 'teo')
    return one, f


@fault('de-best-first', 'resources', 'allowed values', 'lot.best', 'The best score is that of the first sample.')
def _(s): is_(s.read('lots', two_flights(s)[0])['best'], 90)


@fault('de-best-zero', 'resources', 'required flags', 'lot.best', 'A lot that nobody scored has 0 as its best.')
def _(s): assert 'best' not in s.read('lots', s.lot())


@fault('de-top-least', 'resources', 'allowed values', 'sample.top', 'The top of a sample is its least score.')
def _(s): is_(s.read('flights', two_flights(s)[1])['pours'][0]['top'], 90)


@fault('de-members-all', 'resources', 'allowed values', 'panel.members', 'The members of all panels are counted.')
def _(s):
    s.panel('north', 'tamara')
    s.panel('south', 'teo')
    is_(s.ok('GET', '/panels/south', 'cora')['members'], 1)


@fault('de-scored-samples', 'resources', 'allowed values', 'flight.scored', 'Samples with scores are counted instead of scores.')
def _(s): is_(s.read('flights', two_flights(s)[1])['scored'], 2)


# ------------------------------------------------------------ children

def pours(s): return s.flight(s.panel(), s.lot(), s.lot())


@fault('ch-order', 'endpoints', 'response payload shapes', 'GET /flights/{id}', 'The pours stand in the wrong order.')
def _(s): is_([p['position'] for p in s.read('flights', pours(s))['pours']], [1, 2])


@fault('ch-ids', 'endpoints', 'response payload shapes', 'GET /flights/{id}', 'The pours are shown as numbers alone.')
def _(s): is_(s.read('flights', pours(s))['pours'][0]['cups'], 5)


@fault('ch-hidden', 'endpoints', 'response payload shapes', 'GET /flights/{id}', 'The pours are not shown.')
def _(s): is_(len(s.read('flights', pours(s))['pours']), 2)


@fault('ch-six', 'endpoints', 'request payload shapes', 'POST /panels/{panel}/flights', 'Six pours are taken.')
def _(s):
    s.panel()
    s.no(422, 'wrong_value', 'POST', '/panels/north/flights', 'cora', {'title': 'A', 'pours': [{'lot': s.lot()['id']} for _ in range(6)]})


@fault('ch-unknown', 'resources', 'field names', 'sample', 'Unknown members of a pour are dropped.')
def _(s):
    s.panel()
    s.no(422, 'unknown_field', 'POST', '/panels/north/flights', 'cora', {'title': 'A', 'pours': [{'lot': s.lot()['id'], 'milk': True}]})


@fault('ch-place', 'errors', 'error payload shapes', 'wrong_value', 'What is wrong with a pour is told without its place in the list.')
def _(s):
    s.panel()
    two = [{'lot': s.lot()['id']}, {'lot': s.lot()['id'], 'cups': 0}]
    e = s.no(422, 'wrong_value', 'POST', '/panels/north/flights', 'cora', {'title': 'A', 'pours': two})
    is_([e['spots'][0]['path'], e['text']], ['/pours/1/cups', 'pours.1.cups has a value that does not go.'])


@fault('ch-ref-unchecked', 'resources', 'types', 'sample.lot', 'A pour of a lot that is not there is taken.')
def _(s):
    s.panel()
    s.no(422, 'no_such_ref', 'POST', '/panels/north/flights', 'cora', {'title': 'A', 'pours': [{'lot': 'lot_000000000000'}]})


@fault('ch-twice', 'errors', 'conditions', 'there_already', 'One lot can be poured twice in a flight.')
def _(s):
    s.panel()
    one = s.lot()['id']
    s.no(409, 'there_already', 'POST', '/panels/north/flights', 'cora', {'title': 'A', 'pours': [{'lot': one}, {'lot': one}]})


@fault('ch-cups-default', 'resources', 'allowed values', 'sample.cups', 'Cups that are sent with a pour are forgotten.')
def _(s): is_(s.flight(s.panel(), pours=[{'lot': s.lot()['id'], 'cups': 3}])['pours'][0]['cups'], 3)


@fault('ch-first-only', 'endpoints', 'request payload shapes', 'POST /panels/{panel}/flights', 'Only the first pour is made.')
def _(s): is_(pours(s)['poured'], 2)


@fault('st-start-half', 'endpoints', 'request payload shapes', 'POST /panels/{panel}/flights', 'A flight whose second pour is refused is there all the same.')
def _(s):
    s.panel()
    one = s.lot()['id']
    s('POST', '/panels/north/flights', 'cora', {'title': 'A', 'pours': [{'lot': one}, {'lot': one}]})
    is_(s.ok('GET', '/flights', 'cora')['items'], [])


# ------------------------------------------------------------ states

def turn(s, one, what, who='cora', body=None): return s.ok('POST', f'/lots/{one["id"]}/{what}', who, body)


@fault('st-accept-declined', 'states', 'transitions', 'lot', 'A declined lot cannot be accepted after all.')
def _(s):
    one = s.lot()
    turn(s, one, 'decline', body={'reason': 'wet'})
    is_(turn(s, one, 'accept')['stage'], 'accepted')


@fault('st-reason-stays', 'resources', 'allowed values', 'lot.reason', 'The reason stays when the lot is accepted after all.')
def _(s):
    one = s.lot()
    is_(turn(s, one, 'decline', body={'reason': 'wet'})['reason'], 'wet')
    assert 'reason' not in turn(s, one, 'accept')


@fault('st-reason-lost', 'resources', 'allowed values', 'lot.reason', 'The reason of a refusal is not kept.')
def _(s): is_(turn(s, s.lot(), 'decline', body={'reason': 'wet'}).get('reason'), 'wet')


@fault('st-seals-too', 'states', 'transitions', 'lot.seal', 'Accepting a lot seals it.')
def _(s): is_(s.lot(accept=True)['seal'], 'open')


@fault('st-seal-resets', 'states', 'transitions', 'lot.stage', 'Sealing a lot puts it back among those that are offered.')
def _(s): is_(turn(s, s.lot(accept=True), 'seal')['stage'], 'accepted')


@fault('st-seal-any', 'states', 'transitions', 'lot.seal', 'A lot can be sealed before it is accepted.')
def _(s): s.no(409, 'not_accepted', 'POST', f'/lots/{s.lot()["id"]}/seal', 'cora')


@fault('st-unseal-open', 'states', 'transitions', 'lot.seal', 'A seal that is not there can be broken.')
def _(s): s.no(409, 'wrong_stage', 'POST', f'/lots/{s.lot()["id"]}/unseal', 'cora')


@fault('st-no-lapse', 'states', 'transitions', 'lot.stage', 'A lot that nobody decides on stays offered for ever.')
def _(s):
    one = s.lot()
    s.clock('P14DT1M')
    is_(s.read('lots', one)['stage'], 'declined')


@fault('st-lapse-soon', 'states', 'transitions', 'lot.stage', 'A lot lapses before its 14 days are over.')
def _(s):
    one = s.lot()
    s.clock('P13D')
    is_(s.read('lots', one)['stage'], 'offered')


@fault('st-lapse-accepts', 'states', 'transitions', 'lot.stage', 'A lot that nobody decides on is accepted.')
def _(s):
    one = s.lot()
    s.clock('P15D')
    is_(s.read('lots', one)['stage'], 'declined')


@fault('st-lapse-created', 'states', 'transitions', 'lot.stage', 'The 14 days are counted from the creation, though the lot was offered anew.')
def _(s):
    one = s.lot()
    s.clock('P10D')
    s.ok('DELETE', f'/lots/{one["id"]}', 'rosie')
    turn(s, one, 'undelete', 'rosie')
    s.clock('P10D')
    is_(s.read('lots', one)['stage'], 'offered')


@fault('st-update-restarts', 'states', 'transitions', 'lot.stage', 'Every change of a lot starts its 14 days anew.')
def _(s):
    one = s.lot()
    s.clock('P10D')
    s.ok('PATCH', f'/lots/{one["id"]}', 'rosie', {'bags': 11})
    s.clock('P5D')
    is_(s.read('lots', one)['stage'], 'declined')


@fault('st-update-any', 'endpoints', 'response payload shapes', 'PATCH /lots/{id}', 'A lot can be changed after it was accepted.')
def _(s): s.no(409, 'wrong_stage', 'PATCH', f'/lots/{s.lot(accept=True)["id"]}', 'rosie', {'bags': 11})


@fault('st-delete-accepted', 'endpoints', 'response payload shapes', 'DELETE /lots/{id}', 'An accepted lot can be deleted.')
def _(s): s.no(409, 'wrong_stage', 'DELETE', f'/lots/{s.lot(accept=True)["id"]}', 'rosie')


@fault('st-start-empty', 'states', 'transitions', 'flight', 'A flight starts with nothing poured.')
def _(s): s.no(422, 'nothing_poured', 'POST', f'/flights/{s.flight(s.panel())["id"]}/start', 'cora')


@fault('st-close-planned', 'states', 'transitions', 'flight', 'A flight can be closed before it has started.')
def _(s): s.no(409, 'wrong_stage', 'POST', f'/flights/{pours(s)["id"]}/close', 'cora')


@fault('st-closed-unset', 'resources', 'allowed values', 'flight.closed_at', 'When a flight was closed is not kept.')
def _(s): assert 'closed_at' in s.ok('POST', f'/flights/{s.running()["id"]}/close', 'cora')


@fault('st-no-overrun', 'states', 'transitions', 'flight', 'A flight runs until somebody closes it.')
def _(s):
    f = s.running()
    s.clock('PT8H1M')
    is_(s.read('flights', f)['state'], 'closed')


@fault('st-overrun-late', 'states', 'transitions', 'flight', 'A flight runs for eighty hours.')
def _(s):
    f = s.running()
    s.clock('PT9H')
    is_(s.read('flights', f)['state'], 'closed')


@fault('st-overrun-unset', 'resources', 'allowed values', 'flight.closed_at', 'A flight that the clock closes has no time of its closing.')
def _(s):
    f = s.running()
    s.clock('PT9H')
    assert 'closed_at' in s.read('flights', f)


@fault('st-flight-in', 'endpoints', 'response payload shapes', 'PATCH /flights/{id}', 'A flight can be renamed while it runs.')
def _(s): s.no(409, 'wrong_stage', 'PATCH', f'/flights/{s.running()["id"]}', 'cora', {'title': 'Late'})


@fault('mo-any-state', 'states', 'transitions', 'flight', 'A patch moves a flight to any state.')
def _(s): s.no(409, 'wrong_stage', 'PATCH', f'/flights/{pours(s)["id"]}', 'cora', {'state': 'closed'})


@fault('mo-invalid', 'errors', 'conditions', 'wrong_stage', 'A state that cannot be reached is told as a wrong value.')
def _(s): s.no(409, 'wrong_stage', 'PATCH', f'/flights/{pours(s)["id"]}', 'cora', {'state': 'closed'})


@fault('mo-title-lost', 'endpoints', 'response payload shapes', 'PATCH /flights/{id}', 'What is sent beside a new state is forgotten.')
def _(s):
    new = s.ok('PATCH', f'/flights/{pours(s)["id"]}', 'cora', {'state': 'abandoned', 'title': 'No water'})
    is_([new['state'], new['title']], ['abandoned', 'No water'])


@fault('mo-ignored', 'states', 'transitions', 'flight', 'A new state in a patch is ignored.')
def _(s): is_(s.ok('PATCH', f'/flights/{pours(s)["id"]}', 'cora', {'state': 'abandoned'})['state'], 'abandoned')


# ------------------------------------------------------------ what follows

@fault('th-no-seal', 'states', 'transitions', 'flight', 'The start of a flight seals nothing.')
def _(s): is_(s.read('lots', {'id': s.running()['pours'][0]['lot']})['seal'], 'sealed')


@fault('th-first-sealed', 'states', 'transitions', 'flight', 'The start of a flight seals its first lot alone.')
def _(s): is_(s.read('lots', {'id': s.running(lots=2)['pours'][1]['lot']})['seal'], 'sealed')


@fault('th-no-skip', 'states', 'transitions', 'flight', 'A lot that cannot be sealed keeps its flight from starting.')
def _(s): is_(s.ok('POST', f'/flights/{s.flight(s.panel(), s.lot(), s.lot(accept=True))["id"]}/start', 'cora')['state'], 'running')


@fault('th-no-taste', 'states', 'transitions', 'flight', 'Closing a flight leaves its samples as they were.')
def _(s): is_(tasted(s)[1]['pours'][0]['stage'], 'tasted')


@fault('th-taste-all', 'states', 'transitions', 'flight', 'Samples that nobody scored are tasted too.')
def _(s): is_(s.ok('POST', f'/flights/{s.running()["id"]}/close', 'cora')['pours'][0]['stage'], 'poured')


@fault('th-overrun-untasted', 'states', 'transitions', 'flight', 'A flight that the clock closes leaves its samples as they were.')
def _(s):
    f = s.running()
    s.score(f)
    s.clock('PT9H')
    is_(s.read('flights', f)['pours'][0]['stage'], 'tasted')


# ------------------------------------------------------------ kept when deleted

def gone(s, **more):
    one = s.lot(**more)
    s.ok('DELETE', f'/lots/{one["id"]}', 'rosie', status=204)
    return one


@fault('ke-missing', 'errors', 'conditions', 'thrown_out', 'A lot that was deleted is told as one that never was.')
def _(s): s.no(410, 'thrown_out', 'GET', f'/lots/{gone(s)["id"]}', 'rosie')


@fault('ke-read-again', 'endpoints', 'response payload shapes', 'GET /lots/{id}', 'A deleted lot can still be read.')
def _(s): s.no(410, 'thrown_out', 'GET', f'/lots/{gone(s)["id"]}', 'rosie')


@fault('er-gone-404', 'errors', 'status codes', 'thrown_out', 'A deleted lot is answered with 404.')
def _(s): is_(s('GET', f'/lots/{gone(s)["id"]}', 'rosie').status, 410)


@fault('ke-not-kept', 'states', 'transitions', 'lot', 'A deleted lot is not kept, so nobody can bring it back.')
def _(s): is_(turn(s, gone(s), 'undelete', 'rosie')['stage'], 'offered')


@fault('ke-three-days', 'states', 'transitions', 'lot', 'A deleted lot is kept for three days.')
def _(s):
    one = gone(s)
    s.clock('P29D')
    is_(turn(s, one, 'undelete', 'rosie')['stage'], 'offered')


@fault('ke-forever', 'states', 'transitions', 'lot', 'A deleted lot can be brought back for ever.')
def _(s):
    one = gone(s)
    s.clock('P31D')
    s.no(404, 'not_there', 'POST', f'/lots/{one["id"]}/undelete', 'rosie')


@fault('ke-undelete-live', 'states', 'transitions', 'lot', 'A lot that was never deleted can be brought back.')
def _(s): s.no(409, 'wrong_stage', 'POST', f'/lots/{s.lot()["id"]}/undelete', 'rosie')


@fault('ke-stage-kept', 'states', 'transitions', 'lot', 'A declined lot that is brought back is declined still.')
def _(s):
    one = s.lot()
    turn(s, one, 'decline', body={'reason': 'wet'})
    s.ok('DELETE', f'/lots/{one["id"]}', 'rosie')
    is_(turn(s, one, 'undelete', 'rosie')['stage'], 'offered')


@fault('ke-note-lost', 'states', 'transitions', 'lot', 'A lot that is brought back lacks its note.')
def _(s): is_(turn(s, gone(s, note='sweet'), 'undelete', 'rosie').get('note'), 'sweet')


@fault('ke-reference-twice', 'errors', 'conditions', 'there_already', 'A lot is brought back though another has its reference by now.')
def _(s):
    one = gone(s, reference='ref-1')
    s.lot(reference='ref-1')
    s.no(409, 'there_already', 'POST', f'/lots/{one["id"]}/undelete', 'rosie')


# ------------------------------------------------------------ endpoints

@fault('en-create-200', 'endpoints', 'response payload shapes', 'POST /lots', 'What is made is answered with 200.')
def _(s): is_(s('POST', '/lots', 'rosie', s.new()).status, 201)


@fault('en-no-location', 'endpoints', 'response payload shapes', 'POST /lots', 'No Location says where the lot is.')
def _(s):
    a = s('POST', '/lots', 'rosie', s.new())
    is_(a.headers.get('location'), '/room/lots/' + a['id'])


@fault('en-no-etag', 'endpoints', 'response payload shapes', 'GET /lots/{id}', 'The answer has no ETag.')
def _(s): assert s('GET', f'/lots/{s.lot()["id"]}', 'rosie').headers.get('etag')


@fault('en-no-304', 'endpoints', 'response payload shapes', 'GET /lots/{id}', 'If-None-Match is not looked at.')
def _(s):
    one = s.lot()
    tag = s('GET', f'/lots/{one["id"]}', 'rosie').headers['etag']
    is_(s('GET', f'/lots/{one["id"]}', 'rosie', If_None_Match=tag).status, 304)


@fault('en-if-match', 'errors', 'conditions', 'stale', 'If-Match is not looked at.')
def _(s): s.no(412, 'stale', 'PATCH', f'/lots/{s.lot()["id"]}', 'rosie', {'bags': 11}, If_Match='"old"')


@fault('en-noop-touches', 'endpoints', 'response payload shapes', 'PATCH /lots/{id}', 'An update that changes nothing sets the time of the last change.')
def _(s):
    one = s.lot()
    s.clock('PT5S')
    is_(s.ok('PATCH', f'/lots/{one["id"]}', 'rosie', {'bags': 10})['touched_at'], one['touched_at'])


@fault('en-no-merge-patch', 'endpoints', 'request payload shapes', 'PATCH /lots/{id}', 'application/merge-patch+json is not taken.')
def _(s): is_(s('PATCH', f'/lots/{s.lot()["id"]}', 'rosie', {'bags': 11}, Content_Type='application/merge-patch+json').status, 200)


@fault('en-unseal-200', 'endpoints', 'response payload shapes', 'POST /lots/{id}/unseal', 'Breaking a seal answers 200 with the lot.')
def _(s):
    one = turn(s, s.lot(accept=True), 'seal')
    is_(s('POST', f'/lots/{one["id"]}/unseal', 'cora').status, 204)


@fault('en-pulse-text', 'endpoints', 'response payload shapes', 'GET /pulse', 'The degrees are a text.')
def _(s): is_(s('GET', '/pulse').json, {'water': 'hot', 'degrees': 93})


@fault('en-text-json', 'endpoints', 'response payload shapes', 'GET /panels', 'Answers say that they are text/json.')
def _(s): is_(s('GET', '/panels', 'cora').headers['content-type'], 'application/json')


@fault('en-slug-sent', 'endpoints', 'request payload shapes', 'PUT /panels/{slug}', 'Another slug in the body is passed over.')
def _(s): s.no(422, 'wrong_value', 'PUT', '/panels/north', 'cora', {'title': 'N', 'slug': 'south'})


@fault('en-put-merges', 'endpoints', 'response payload shapes', 'PUT /panels/{slug}', 'What is not sent stays as it was, instead of its default.')
def _(s):
    s.panel('north', seats=7)
    is_(s.ok('PUT', '/panels/north', 'cora', {'title': 'N'})['seats'], 4)


@fault('en-put-refuses', 'endpoints', 'response payload shapes', 'PUT /panels/{slug}', 'A panel that is there cannot be put again.')
def _(s):
    s.panel()
    s.ok('PUT', '/panels/north', 'cora', {'title': 'N'}, 200)


@fault('en-put-201', 'endpoints', 'response payload shapes', 'PUT /panels/{slug}', 'A panel that is put again is answered with 201.')
def _(s):
    s.panel()
    s.ok('PUT', '/panels/north', 'cora', {'title': 'N'}, 200)


@fault('en-exists-409', 'endpoints', 'response payload shapes', 'POST /panels/{panel}/members', 'Somebody who sits there already is refused.')
def _(s):
    s.panel('north', 'tamara')
    s.ok('POST', '/panels/north/members', 'cora', {'person': 'tamara'}, 200)


@fault('en-exists-201', 'endpoints', 'response payload shapes', 'POST /panels/{panel}/members', 'Somebody who sits there already is answered with 201.')
def _(s):
    s.panel('north', 'tamara')
    s.ok('POST', '/panels/north/members', 'cora', {'person': 'tamara'}, 200)


@fault('en-exists-changes', 'endpoints', 'response payload shapes', 'POST /panels/{panel}/members', 'Somebody who sits there already is changed.')
def _(s):
    s.panel('north', 'tamara')
    is_(s.member('north', 'tamara', 'lead')['role'], 'taster')


@fault('en-list-sample-missing', 'endpoints', 'methods', 'service', 'The list of samples is not mounted.')
def _(s): is_(s('GET', '/samples', 'cora').status, 200)


@fault('en-update-score-missing', 'endpoints', 'methods', 'service', 'Scores cannot be changed: the method is not there.')
def _(s): is_(s.ok('PATCH', f'/scores/{s.score(s.running())["id"]}', 'tamara', {'points': 81})['points'], 81)


# ------------------------------------------------------------ found by another key

@fault('id-any-flight', 'endpoints', 'parameters', 'GET /flights/{flight}/samples/{position}', 'The position is looked up in all flights.')
def _(s):
    s.flight(s.panel(), s.lot())
    f = s.flight('north', s.lot())
    is_(s.ok('GET', f'/flights/{f["id"]}/samples/1', 'cora')['id'], f['pours'][0]['id'])


@fault('id-by-id', 'endpoints', 'parameters', 'GET /flights/{flight}/samples/{position}', 'The number in the path is taken for the identifier.')
def _(s):
    s.flight(s.panel(), s.lot(), s.lot())
    f = s.flight('north', s.lot())
    is_(s.ok('GET', f'/flights/{f["id"]}/samples/1', 'cora')['position'], 1)


@fault('id-once-none', 'endpoints', 'parameters', 'POST /lots', 'The Once-Key is not looked at.')
def _(s):
    body = s.new()
    is_(s.ok('POST', '/lots', 'rosie', body, Once_Key='k1')['id'], s.ok('POST', '/lots', 'rosie', body, Once_Key='k1')['id'])


@fault('id-once-any', 'errors', 'conditions', 'once_reused', 'A Once-Key answers for any body.')
def _(s):
    s.ok('POST', '/lots', 'rosie', s.new(), Once_Key='k1')
    s.no(422, 'once_reused', 'POST', '/lots', 'rosie', s.new(), Once_Key='k1')


@fault('id-once-shared', 'endpoints', 'parameters', 'POST /lots', 'The Once-Keys of all roasters are one.')
def _(s):
    body = s.new()
    s.ok('POST', '/lots', 'rosie', body, Once_Key='k1')
    is_(s.ok('POST', '/lots', 'remo', body, Once_Key='k1')['owner'], 'remo')


@fault('id-once-hour', 'endpoints', 'parameters', 'POST /lots', 'A Once-Key is kept for an hour.')
def _(s):
    body = s.new()
    one = s.ok('POST', '/lots', 'rosie', body, Once_Key='k1')['id']
    s.clock('PT20H')
    is_(s.ok('POST', '/lots', 'rosie', body, Once_Key='k1')['id'], one)


# ------------------------------------------------------------ choosing and sorting

@fault('fl-every-offered', 'endpoints', 'parameters', 'GET /lots', 'Every stage leaves out the declined.')
def _(s):
    turn(s, s.lot(name='A'), 'decline', body={'reason': 'wet'})
    is_(s.names('&stage=every'), ['A'])


@fault('fl-split', 'endpoints', 'parameters', 'GET /lots', 'Two processes in one parameter find nothing.')
def _(s):
    s.lot(name='A', process='honey')
    s.lot(name='B', process='natural')
    s.lot(name='C')
    is_(s.names('&process=honey,natural'), ['A', 'B'])


@fault('fl-tag-only', 'endpoints', 'parameters', 'GET /lots', 'A tag finds lots with this tag alone.')
def _(s):
    s.lot(name='A', tags=['dry', 'new'])
    is_(s.names('&tag=dry'), ['A'])


@fault('fl-heavy-edge', 'endpoints', 'parameters', 'GET /lots', 'The bound itself is left out.')
def _(s):
    s.lot(name='A', bags=20)
    is_(s.names('&heavy=20'), ['A'])


def on_two_panels(s):
    s.panel('north', 'tamara')
    s.panel('south')
    one, other = s.lot(name='A', accept=True, process='honey'), s.lot(name='B', accept=True)
    return s.flight('north', one), s.flight('south', other)


@fault('fl-lot-panel', 'endpoints', 'parameters', 'GET /lots', 'The panel chooses nothing.')
def _(s):
    on_two_panels(s)
    is_(s.names('&panel=north'), ['A'])


@fault('fl-lot-unread', 'authentication', 'permission rules', 'list lot', 'Tasters find lots by flights that they may not read.')
def _(s):
    on_two_panels(s)
    is_(s.names('&panel=south', 'tamara'), [])
    is_(s.names('&panel=north', 'tamara'), ['A'])


@fault('fl-flight-lot', 'endpoints', 'parameters', 'GET /flights', 'The lot chooses nothing.')
def _(s):
    f, _ = on_two_panels(s)
    is_([one['id'] for one in s.ok('GET', '/flights?lot=' + f['pours'][0]['lot'], 'cora')['items']], [f['id']])


@fault('fl-sample-process', 'endpoints', 'parameters', 'GET /samples', 'The process of the lot chooses nothing.')
def _(s):
    f, _ = on_two_panels(s)
    is_([one['id'] for one in s.ok('GET', '/samples?process=honey', 'cora')['items']], [f['pours'][0]['id']])


@fault('fl-panel-part', 'endpoints', 'parameters', 'GET /samples', 'A part of the name of a panel is enough.')
def _(s):
    on_two_panels(s)
    is_(s.ok('GET', '/samples?panel=nor', 'cora')['items'], [])


@fault('fl-taster-unread', 'authentication', 'permission rules', 'list sample', 'Tasters find samples by scores that they may not read.')
def _(s):
    f = s.running('teo')
    s.score(f, who='teo')
    is_(s.ok('GET', '/samples?taster=teo', 'tamara')['items'], [])
    is_(len(s.ok('GET', '/samples?taster=teo', 'teo')['items']), 1)


@fault('fl-members-all', 'endpoints', 'parameters', 'GET /panels/{panel}/members', 'The members of all panels are listed.')
def _(s):
    s.panel('north', 'tamara')
    s.panel('south', 'teo')
    is_([m['person'] for m in s.ok('GET', '/panels/south/members', 'cora')['items']], ['teo'])


@fault('fl-role', 'endpoints', 'parameters', 'GET /panels/{panel}/members', 'The role chooses nothing.')
def _(s):
    s.panel('north', 'tamara')
    is_(s.ok('GET', '/panels/north/members?role=lead', 'cora')['items'], [])


@fault('se-case', 'endpoints', 'parameters', 'GET /lots', 'The search minds case.')
def _(s):
    s.lot(name='Yirga')
    is_(s.names('&q=yirga'), ['Yirga'])


@fault('se-name-only', 'endpoints', 'parameters', 'GET /lots', 'The search looks at names alone.')
def _(s):
    s.lot(name='Yirga', note='like jasmine')
    is_(s.names('&q=jasmine'), ['Yirga'])


@fault('se-any-word', 'endpoints', 'parameters', 'GET /lots', 'One of the words that are searched is enough.')
def _(s):
    s.lot(name='Yirga', note='like jasmine')
    is_(s.names('&q=jasmine%20tar'), [])


@fault('so-way', 'endpoints', 'parameters', 'GET /lots', 'The way is not looked at.')
def _(s):
    s.lot(name='A', bags=1)
    s.lot(name='B', bags=2)
    is_(s.names('&sort=bags&way=desc'), ['B', 'A'])


@fault('so-bags-name', 'endpoints', 'parameters', 'GET /lots', 'Lots that are sorted by their bags are sorted by their names.')
def _(s):
    s.lot(name='A', bags=2)
    s.lot(name='B', bags=1)
    is_(s.names('&sort=bags'), ['B', 'A'])


@fault('so-panels', 'endpoints', 'response payload shapes', 'GET /panels', 'Panels are listed from the last to the first.')
def _(s):
    s.panel('north')
    s.panel('south')
    is_([one['slug'] for one in s.ok('GET', '/panels', 'cora')['rows']], ['north', 'south'])


@fault('so-scores', 'endpoints', 'response payload shapes', 'GET /samples/{sample}/scores', 'The least points come first.')
def _(s):
    f = s.running('teo')
    s.score(f, 70)
    s.score(f, 90, 'teo')
    is_([one['points'] for one in s.ok('GET', f'/samples/{f["pours"][0]["id"]}/scores', 'cora')['items']], [90, 70])


# ------------------------------------------------------------ who may

@fault('au-any-spoon', 'authentication', 'schemes', 'spoon', 'Any spoon of the right form is taken for a clerk.')
def _(s): s.no(401, 'bad_spoon', 'GET', '/panels', 'sp_AAAAAAAAAAAAAAAAAAAA')


@fault('au-pulse-locked', 'authentication', 'permission rules', 'reply pulse', 'The pulse asks for a spoon.')
def _(s): is_(s('GET', '/pulse').status, 200)


@fault('pe-clerk-panels', 'authentication', 'permission rules', 'delete panel', 'Clerks cannot delete panels.')
def _(s): s.ok('DELETE', f'/panels/{s.panel()}', 'cora', status=204)


@fault('pe-taster-offers', 'authentication', 'permission rules', 'create lot', 'Tasters can hand in lots.')
def _(s): s.no(403, 'not_your_table', 'POST', '/lots', 'tamara', s.new())


@fault('pe-no-wax', 'authentication', 'permission rules', 'unseal lot', 'Clerks break seals without the scope.')
def _(s): s.no(403, 'no_wax', 'POST', f'/lots/{turn(s, s.lot(accept=True), "seal")["id"]}/unseal', 'clem')


@fault('pe-taster-offered', 'authentication', 'permission rules', 'read lot', 'Tasters see lots that are only offered.')
def _(s): s.no(404, 'not_there', 'GET', f'/lots/{s.lot()["id"]}', 'tamara')


@fault('pe-fields-owner', 'authentication', 'permission rules', 'read lot', 'Tasters are shown whose lot it is.')
def _(s): is_(set(s.read('lots', s.lot(accept=True), 'tamara')), {'id', 'docket', 'name', 'process', 'stage'})


@fault('pe-list-whole', 'authentication', 'permission rules', 'list lot', 'Lists show tasters the whole lot.')
def _(s):
    s.lot(accept=True)
    is_(set(s.ok('GET', '/lots', 'tamara')['items'][0]), {'id', 'docket', 'name', 'process', 'stage'})


@fault('pe-taster-filters', 'authentication', 'permission rules', 'list lot', 'Tasters choose lots by what they are not shown.')
def _(s): s.no(400, 'bad_parameter', 'GET', '/lots?tag=dry', 'tamara')


@fault('pe-flight-all', 'authentication', 'permission rules', 'read flight', 'Tasters read the flights of all panels.')
def _(s): s.no(404, 'not_there', 'GET', f'/flights/{pours(s)["id"]}', 'tamara')


@fault('pe-score-others', 'authentication', 'permission rules', 'list score', 'Tasters see the scores of others.')
def _(s):
    f = s.running('teo')
    s.score(f, who='teo')
    is_(s.ok('GET', f'/samples/{f["pours"][0]["id"]}/scores', 'tamara')['items'], [])


@fault('pe-hooks-all', 'authentication', 'permission rules', 'list hook', 'Everybody sees the hooks of everybody.')
def _(s):
    s.hook('cora')
    is_(s.ok('GET', '/hooks', 'clem')['items'], [])


@fault('fi-any-panel', 'authentication', 'permission rules', 'read flight', 'A seat at any panel is enough.')
def _(s):
    s.panel('south', 'tamara')
    s.no(404, 'not_there', 'GET', f'/flights/{pours(s)["id"]}', 'tamara')


@fault('fi-any-role', 'authentication', 'permission rules', 'start flight', 'Whoever has a seat may start a flight.')
def _(s):
    s.panel('north', 'tamara')
    s.member('north', 'teo', 'lead')
    f = s.flight('north', s.lot())
    s.no(403, 'not_your_table', 'POST', f'/flights/{f["id"]}/start', 'tamara')
    is_(s.ok('POST', f'/flights/{f["id"]}/start', 'teo')['state'], 'running')


@fault('er-forbidden-404', 'errors', 'conditions', 'not_your_table', 'What may be read and not be done is told as missing.')
def _(s):
    s.panel('north', 'tamara')
    s.no(403, 'not_your_table', 'POST', f'/flights/{s.flight("north", s.lot())["id"]}/start', 'tamara')


# ------------------------------------------------------------ events

@fault('ev-none', 'events', 'delivery mechanism', 'service', 'Nothing is delivered.')
def _(s):
    ear = s.hook()
    one = s.lot()
    got = ear.wait(1)
    is_([(e['type'], e['data']['id']) for e in got], [('lot.offered', one['id'])])


@fault('ev-offered-twice', 'events', 'emitting operations', 'lot.offered', 'An offer is told twice.')
def _(s):
    ear = s.hook()
    s.lot()
    ear.wait(1)
    is_(len(ear.quiet()), 1)


@fault('ev-lapse-silent', 'events', 'emitting operations', 'lot.declined', 'A lot that lapses is not told.')
def _(s):
    ear = s.hook(kinds=['lot.declined'])
    one = s.lot()
    s.clock('P15D')
    is_([e['data'] for e in ear.wait(1)], [{'lot': one['id'], 'docket': one['docket']}])


@fault('ev-changed-any', 'events', 'emitting operations', 'lot.changed', 'Every change of a lot is told.')
def _(s):
    ear = s.hook(kinds=['lot.changed'])
    one = s.lot()
    s.ok('PATCH', f'/lots/{one["id"]}', 'rosie', {'name': 'Z'})
    s.ok('PATCH', f'/lots/{one["id"]}', 'rosie', {'bags': 33})
    ear.wait(1)
    is_([e['data']['bags'] for e in ear.quiet()], [33])


@fault('ev-sealed-whole', 'events', 'payload shapes', 'lot.sealed', 'The whole lot is sent where its identifier is due.')
def _(s):
    ear = s.hook(kinds=['lot.sealed'])
    one = turn(s, s.lot(accept=True), 'seal')
    is_([e['data'] for e in ear.wait(1)], [one['id']])


@fault('ev-tasted-silent', 'events', 'emitting operations', 'sample.tasted', 'A sample that is tasted is not told.')
def _(s):
    ear = s.hook(kinds=['sample.tasted'])
    one, f = tasted(s)
    is_([e['data'] for e in ear.wait(1)], [{'sample': f['pours'][0]['id'], 'lot': one['id']}])


@fault('ev-score-all', 'events', 'delivery mechanism', 'service', 'Scores are told to others than their taster.')
def _(s):
    ear, own = s.hook('teo', kinds=['score.given']), s.hook('tamara', kinds=['score.given'])
    s.score(s.running('teo'), 77)
    is_([e['data']['points'] for e in own.wait(1)], [77])
    is_(ear.quiet(), [])


@fault('ev-everyone', 'events', 'delivery mechanism', 'service', 'Hooks hear of lots that their maker may not read.')
def _(s):
    other, own = s.hook('remo'), s.hook('rosie')
    s.lot()
    is_(len(own.wait(1)), 1)
    is_(other.quiet(), [])


@fault('ev-kinds-all', 'events', 'delivery mechanism', 'service', 'Every kind is sent, whatever was asked for.')
def _(s):
    ear, all_ = s.hook(kinds=['lot.sealed']), s.hook('clem')
    s.lot()
    all_.wait(1)
    is_(ear.quiet(), [])


@fault('ev-family', 'events', 'delivery mechanism', 'service', 'lot.* is taken for the name of a kind.')
def _(s):
    ear = s.hook(kinds=['lot.*'])
    s.lot()
    is_(len(ear.wait(1)), 1)


@fault('ev-lab-note', 'events', 'payload shapes', 'lot.changed', 'Roasters are told the note of the lab.')
def _(s):
    ear = s.hook('rosie', kinds=['lot.changed'])
    one = s.lot()
    s.ok('PATCH', f'/lots/{one["id"]}', 'cora', {'lab_note': 'sour', 'bags': 12})
    assert 'lab_note' not in ear.wait(1)[0]['data']


@fault('ev-bare', 'events', 'delivery mechanism', 'service', 'The payload comes without its envelope.')
def _(s):
    ear = s.hook()
    s.lot()
    is_(set(ear.wait(1)[0]), {'id', 'type', 'timestamp', 'data'})


def sealed(s):
    ear = s.hook()
    s.lot()
    ear.wait(1)
    headers, body = ear.got[0]
    t, seal = re.fullmatch(r't=(\d+),s=([0-9a-f]+)', headers['cupping-seal']).groups()
    return ear, headers, body, t, seal


@fault('ev-sign-body', 'events', 'delivery mechanism', 'service', 'The seal leaves the time out.')
def _(s):
    ear, _, body, t, seal = sealed(s)
    is_(seal, hmac.new(ear.made['secret'].encode(), t.encode() + b'.' + body, hashlib.sha256).hexdigest())


@fault('ev-sha1', 'events', 'delivery mechanism', 'service', 'The seal is made with SHA-1.')
def _(s): is_(len(sealed(s)[4]), 64)


@fault('ev-stamp-millis', 'events', 'delivery mechanism', 'service', 'The time in the seal is in milliseconds.')
def _(s): assert abs(int(sealed(s)[3]) - time.time()) < 100


@fault('ev-no-kind', 'events', 'delivery mechanism', 'service', 'The header with the kind is not sent.')
def _(s): is_(sealed(s)[1].get('cupping-kind'), 'lot.offered')


@fault('ev-no-retry', 'events', 'delivery mechanism', 'service', 'A delivery that fails is not tried again.')
def _(s):
    ear = s.hook()
    ear.answers = [500]
    s.lot()
    ear.wait(1)
    time.sleep(0.2)
    s.clock('PT11S')
    got = ear.wait(2)
    is_([len(got), got[0]['id']], [2, got[-1]['id']])


@fault('ev-one-retry', 'events', 'delivery mechanism', 'service', 'The last try is left out.')
def _(s):
    ear = s.hook()
    ear.answers = [500, 500]
    s.lot()
    for n, ahead in ((1, 'PT11S'), (2, 'PT5M1S')):
        ear.wait(n)
        time.sleep(0.2)
        s.clock(ahead)
    is_(len(ear.wait(3, 1)), 3)


@fault('ev-overtakes', 'events', 'delivery mechanism', 'service', 'A later event of a lot overtakes an earlier one that waits.')
def _(s):
    ear = s.hook()
    ear.answers = [500]
    one = s.lot()
    ear.wait(1)
    time.sleep(0.2)
    s.ok('PATCH', f'/lots/{one["id"]}', 'rosie', {'bags': 33})
    is_([e['type'] for e in ear.quiet()], ['lot.offered'])


# ------------------------------------------------------------ errors

@fault('er-declined-422', 'errors', 'status codes', 'too_late', 'What was decided already is answered with 422.')
def _(s): is_(s('POST', f'/lots/{s.lot(accept=True)["id"]}/decline', 'cora', {'reason': 'wet'}).status, 409)


@fault('er-else-general', 'errors', 'conditions', 'too_late', 'What was decided already is told with the general code.')
def _(s): s.no(409, 'too_late', 'POST', f'/lots/{s.lot(accept=True)["id"]}/decline', 'cora', {'reason': 'wet'})


@fault('er-message-held', 'errors', 'error payload shapes', 'still_needed', 'The text of one code is that of another.')
def _(s):
    s.flight(s.panel())
    is_(s.no(409, 'still_needed', 'DELETE', '/panels/north', 'cora')['text'], 'Something still refers to it.')


@fault('er-held-stage', 'errors', 'conditions', 'still_needed', 'A panel with flights is told to be at the wrong stage.')
def _(s):
    s.flight(s.panel())
    s.no(409, 'still_needed', 'DELETE', '/panels/north', 'cora')


@fault('er-unknown-400', 'errors', 'status codes', 'unknown_field', 'An unknown field is answered with 400.')
def _(s): is_(s('POST', '/lots', 'rosie', s.new(colour=1)).status, 422)


@fault('er-full-429', 'errors', 'status codes', 'full', 'One hook too many is answered with 429.')
def _(s): is_([s.hook() and 201, s.hook() and 201, s('POST', '/hooks', 'cora', {'url': 'http://127.0.0.1:9/x'}).status], [201, 201, 409])


@fault('er-missing-invalid', 'errors', 'conditions', 'missing_field', 'A field that is missing is told as a wrong value.')
def _(s): s.no(422, 'missing_field', 'PUT', '/panels/north', 'cora', {})


@fault('er-type-value', 'errors', 'conditions', 'wrong_type', 'A wrong type is told as a wrong value.')
def _(s): s.no(422, 'wrong_type', 'POST', '/lots', 'rosie', s.new(bags='ten'))


@fault('er-last-named', 'errors', 'conditions', 'unknown_field', 'Of several things that are wrong the last one names the code.')
def _(s): s.no(422, 'unknown_field', 'POST', '/lots', 'rosie', {'colour': 1, **s.new(bags='ten')})


@fault('er-one-spot', 'errors', 'error payload shapes', 'unknown_field', 'Only the first thing that is wrong is told.')
def _(s): is_(len(s.no(422, 'unknown_field', 'POST', '/lots', 'rosie', {'colour': 1, **s.new(bags='ten')})['spots']), 2)


@fault('er-no-spots', 'errors', 'error payload shapes', 'wrong_type', 'Nothing says which field is meant.')
def _(s): is_(s.no(422, 'wrong_type', 'POST', '/lots', 'rosie', s.new(bags='ten'))['spots'], [{'in': 'body', 'path': '/bags'}])


@fault('er-number', 'errors', 'error payload shapes', 'not_there', 'The number in an error is always 400.')
def _(s): is_(s.no(404, 'not_there', 'GET', '/lots/lot_000000000000', 'cora')['number'], 404)


@fault('er-no-request', 'errors', 'error payload shapes', 'not_there', 'An error does not tell its request.')
def _(s): assert s('GET', '/lots/lot_000000000000', 'cora').json.get('request')


@fault('er-flat', 'errors', 'error payload shapes', 'not_there', 'An error stands at the top of its answer.')
def _(s): is_(s('GET', '/lots/lot_000000000000', 'cora').json.get('error', {}).get('code'), 'not_there')


@fault('er-missing-bad', 'errors', 'conditions', 'no_spoon', 'Who shows no spoon is told that it is a bad one.')
def _(s): s.no(401, 'no_spoon', 'GET', '/panels')


@fault('er-bad-missing', 'errors', 'conditions', 'bad_spoon', 'Who shows a bad spoon is told to show one.')
def _(s): s.no(401, 'bad_spoon', 'GET', '/panels', 'sp_nobody')


@fault('er-scope-general', 'errors', 'conditions', 'no_wax', 'A scope that is lacking is told with the general code.')
def _(s): s.no(403, 'no_wax', 'POST', f'/lots/{turn(s, s.lot(accept=True), "seal")["id"]}/unseal', 'clem')


@fault('er-405', 'errors', 'conditions', 'no_method', 'A method that a path does not take is told as no path.')
def _(s): s.no(405, 'no_method', 'DELETE', '/lots', 'cora')


@fault('er-no-allow', 'errors', 'error payload shapes', 'no_method', 'Allow is not sent.')
def _(s): is_(s('DELETE', '/lots', 'cora').headers.get('allow'), 'GET, HEAD, OPTIONS, POST')


@fault('er-accept', 'errors', 'conditions', 'only_json', 'Accept is not looked at.')
def _(s): s.no(406, 'only_json', 'GET', '/panels', 'cora', Accept='text/html')


@fault('er-no-body', 'errors', 'conditions', 'no_body', 'A body that is missing is told as one that cannot be read.')
def _(s): s.no(400, 'no_body', 'POST', '/lots', 'rosie')


@fault('er-media', 'errors', 'conditions', 'not_json', 'The type of a body is not looked at.')
def _(s): s.no(415, 'not_json', 'POST', '/lots', 'rosie', s.new(), Content_Type='text/plain')


@fault('er-malformed-500', 'errors', 'status codes', 'unreadable', 'A body that is no JSON breaks the room.')
def _(s): s.no(400, 'unreadable', 'POST', '/lots', 'rosie', b'{')


@fault('er-parameter-passes', 'errors', 'conditions', 'bad_parameter', 'Parameters that nobody knows are passed over.')
def _(s): s.no(400, 'bad_parameter', 'GET', '/lots?colour=green', 'cora')


@fault('er-filter-any', 'errors', 'conditions', 'bad_parameter', 'A parameter with a value that it cannot have finds nothing.')
def _(s): s.no(400, 'bad_parameter', 'GET', '/lots?heavy=0', 'cora')


@fault('er-score-planned', 'errors', 'conditions', 'not_running', 'Scores are taken before the flight runs.')
def _(s):
    s.panel('north', 'tamara')
    f = s.flight('north', s.lot())
    s.no(409, 'not_running', 'POST', f'/samples/{f["pours"][0]["id"]}/scores', 'tamara', {'points': 80})


@fault('er-seats-free', 'errors', 'conditions', 'table_full', 'A panel takes more members than it has seats.')
def _(s):
    s.panel('north', 'tamara', seats=1)
    s.no(409, 'table_full', 'POST', '/panels/north/members', 'cora', {'person': 'teo'})


@fault('er-seats-one-more', 'errors', 'conditions', 'table_full', 'A panel takes one member more than it has seats.')
def _(s):
    s.panel('north', 'tamara', seats=1)
    s.no(409, 'table_full', 'POST', '/panels/north/members', 'cora', {'person': 'teo'})


def done(s):
    f = s.running()
    made = s.score(f)
    s.ok('POST', f'/flights/{f["id"]}/close', 'cora')
    return made


@fault('er-tasted-changes', 'errors', 'conditions', 'scored_already', 'A score of what is tasted can be changed.')
def _(s): s.no(409, 'scored_already', 'PATCH', f'/scores/{done(s)["id"]}', 'tamara', {'points': 81})


@fault('er-tasted-deleted', 'errors', 'conditions', 'scored_already', 'A score of what is tasted can be deleted.')
def _(s): s.no(409, 'scored_already', 'DELETE', f'/scores/{done(s)["id"]}', 'tamara')


# ------------------------------------------------------------ limits

def scores(s, n, who='tamara'):
    return [s('POST', '/samples/9/scores', who, {'points': 1}).status for _ in range(n)]


@fault('li-rate-none', 'limits', 'rate limits', 'service', 'Nobody counts how fast scores come.')
def _(s): is_(scores(s, 31), [404] * 30 + [429])


@fault('li-rate-shared', 'limits', 'rate limits', 'service', 'All tasters share one rate.')
def _(s): is_(scores(s, 30)[-1:] + scores(s, 1, 'teo'), [404, 404])


@fault('li-rate-forever', 'limits', 'rate limits', 'service', 'The window of the rate never ends.')
def _(s):
    scores(s, 31)
    s.clock('PT61S')
    is_(scores(s, 1), [404])


@fault('li-no-retry-after', 'limits', 'rate limits', 'service', 'Nothing says how long to wait.')
def _(s):
    scores(s, 30)
    assert 1 <= int(s('POST', '/samples/9/scores', 'tamara', {'points': 1}).headers.get('retry-after', 0)) <= 60


@fault('li-body', 'limits', 'size limits', 'service', 'Nobody looks at the size of a body.')
def _(s): s.no(413, 'too_big', 'POST', '/lots', 'rosie', json.dumps(s.new()).encode() + b' ' * 8192)


@fault('li-url', 'limits', 'size limits', 'service', 'Nobody looks at the length of an address.')
def _(s): s.no(413, 'too_big', 'GET', '/lots?q=' + 'x' * 1100, 'cora')


@fault('li-hooks-none', 'limits', 'quotas', 'service', 'There may be any number of hooks.')
def _(s):
    s.hook(), s.hook()
    s.no(409, 'full', 'POST', '/hooks', 'cora', {'url': 'http://127.0.0.1:9/x'})


@fault('li-hooks-three', 'limits', 'quotas', 'service', 'There may be three hooks.')
def _(s):
    s.hook(), s.hook()
    s.no(409, 'full', 'POST', '/hooks', 'cora', {'url': 'http://127.0.0.1:9/x'})


@fault('li-hooks-shared', 'limits', 'quotas', 'service', 'The hooks of all callers are counted together.')
def _(s):
    s.hook(), s.hook(), s.hook('clem')


def declines(s, n, who='cora'):
    return [s('POST', f'/lots/{s.lot()["id"]}/decline', who, {'reason': 'wet'}).status for _ in range(n)]


@fault('li-quota-none', 'limits', 'quotas', 'service', 'A clerk may decline as many lots in a day as it likes.')
def _(s): is_(declines(s, 5), [200] * 4 + [409])


@fault('li-quota-shared', 'limits', 'quotas', 'service', 'All clerks share one quota.')
def _(s): is_(declines(s, 4) + declines(s, 1, 'clem'), [200] * 5)


def listed(s, n):
    for _ in range(n):
        s.lot()
    return s.ok('GET', '/lots', 'cora')


@fault('li-default-ten', 'limits', 'pagination bounds', 'GET /lots', 'A page of which nothing is said has ten rows.')
def _(s): is_(len(listed(s, 8)['items']), 6)


@fault('li-unclamped', 'limits', 'pagination bounds', 'GET /lots', 'A page can be as large as anyone likes.')
def _(s):
    listed(s, 22)
    is_(len(s.ok('GET', '/lots?limit=50', 'cora')['items']), 20)


@fault('li-limit-refused', 'limits', 'pagination bounds', 'GET /lots', 'A limit that is too large is refused instead of cut.')
def _(s): is_(s('GET', '/lots?limit=50', 'cora').status, 200)


@fault('li-cursor-overlaps', 'endpoints', 'response payload shapes', 'GET /lots', 'A page begins with the last row of the one before.')
def _(s):
    page = listed(s, 8)
    is_(len(s.ok('GET', '/lots?after=' + page['next'], 'cora')['items']), 2)


@fault('li-cursor-loose', 'errors', 'conditions', 'bad_page', 'The cursor of one query goes with another.')
def _(s):
    page = listed(s, 8)
    s.no(400, 'bad_page', 'GET', '/lots?stage=offered&after=' + page['next'], 'cora')


@fault('li-next-always', 'endpoints', 'response payload shapes', 'GET /lots', 'The last page tells of a next one.')
def _(s): is_(listed(s, 2)['next'], None)


@fault('li-take-clamped', 'limits', 'pagination bounds', 'GET /panels', 'A size that is too large is cut instead of refused.')
def _(s): s.no(400, 'bad_page', 'GET', '/panels?take=11', 'cora')


@fault('li-all-page', 'endpoints', 'response payload shapes', 'GET /panels', 'All is what is on the page.')
def _(s):
    for slug in ('aaa', 'bbb', 'ccc'):
        s.panel(slug)
    is_(s.ok('GET', '/panels?take=2', 'cora')['all'], 3)


# ------------------------------------------------------------ running them

CALLERS = [{'user': 'roaster' if n.startswith('r') else 'taster' if n.startswith('t') else 'clerk', 'id': n, 'credential': k, 'scheme': 'spoon',
            'scopes': ['wax'] if n == 'cora' else []} for n, k in SPOONS.items()] + [
    {'user': 'clerk', 'id': 'carla', 'credential': 'sp_n0b0dyMadeTh1s0ne0001', 'scheme': 'spoon', 'scopes': [], 'bad': 'forged'}]


def run(f, fault):
    s = Room(fault)
    try:
        f(s)
        return None
    except Exception as e:
        return f'{type(e).__name__}: {e}'
    finally:
        s.end()


def try_one(one):
    what, f = one
    return what['id'], run(f, None), run(f, what['id'])


def main(args):
    ids = [f['id'] for f, _ in FAULTS]
    assert len(set(ids)) == len(ids), [i for i in ids if ids.count(i) > 1]
    if '--write' in args:
        lines = lambda rows: ',\n'.join('    ' + json.dumps(r) for r in rows)
        with open(os.path.join(HERE, 'stranger.json'), 'w', encoding='utf-8') as out:
            out.write('{\n  "command": ["python3", "service.py"],\n  "document": "service.yaml",\n  "callers": [\n' + lines(CALLERS) + '\n  ],\n  "faults": [\n' + lines([f for f, _ in FAULTS]) + '\n  ]\n}\n')
        return 0
    named = [a for a in args if not a.startswith('-')]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for id, right, wrong in pool.map(try_one, [f for f in FAULTS if not named or f[0]['id'] in named]):
            ok = right is None and wrong is not None and not wrong.startswith(('Connection', 'RemoteDisconnected', 'NameError'))
            failed += not ok
            if not ok or '-v' in args:
                print(('ok   ' if ok else 'FAIL ') + id, '' if right is None else f'\n     as it is: {right[:300]}', f'\n     with the fault: {(wrong or "passes")[:160]}', flush=True)
    print(f'{len(named or FAULTS) - failed} faults proved, {failed} not')
    return failed


if __name__ == '__main__':
    sys.exit(1 if main(sys.argv[1:]) else 0)
