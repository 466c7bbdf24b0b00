#!/usr/bin/env python3
"""For each fault one expectation by plain HTTP: the right service meets it, the one with that fault does not.

  faults-test.py            all of them
  faults-test.py ID ...     these alone
  faults-test.py --write    writes stranger.json
"""
import base64, hashlib, hmac, http.client, http.server, json, os, queue, re, socket, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
CALLERS = [
    dict(user='falconer', id='f-ada', credential='lure_a1Bc2dE3fG4hI5jK6lM7nO8p', scheme='lure', scopes=['lodge', 'fly'], attributes={'club': 'heath'}),
    dict(user='falconer', id='f-bram', credential='lure_b2Cd3eF4gH5iJ6kL7mN8oP9q', scheme='lure', scopes=['lodge', 'fly'], attributes={'club': 'heath'}),
    dict(user='falconer', id='f-cleo', credential='desk_c3De4fG5hI6jK7lM8nO9pQ0r', scheme='desk', scopes=['lodge', 'fly'], attributes={'club': 'moor'}),
    dict(user='falconer', id='f-dirk', credential='lure_d4Ef5gH6iJ7kL8mN9oP0qR1s', scheme='lure', scopes=['lodge'], attributes={'club': 'heath'}),
    dict(user='warden', id='w-edda', credential='lure_e5Fg6hI7jK8lM9nO0pQ1rS2t', scheme='lure', scopes=[], attributes={'club': 'house'}),
    dict(user='warden', id='w-finn', credential='desk_f6Gh7iJ8kL9mN0oP1qR2sT3u', scheme='desk', scopes=[], attributes={'club': 'house'}),
    dict(user='vet', id='v-gwen', credential='lure_g7Hi8jK9lM0nO1pQ2rS3tU4v', scheme='lure', scopes=[], attributes={'club': 'surgery'}),
    dict(user='vet', id='v-hal', credential='desk_h8Ij9kL0mN1oP2qR3sT4uV5w', scheme='desk', scopes=[], attributes={'club': 'surgery'}),
]
WHO = {c['id'].split('-')[1]: c for c in CALLERS}


def free():
    s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; s.close(); return p


class Answer:
    def __init__(self, status, headers, raw):
        self.status, self.h, self.raw = status, headers, raw
        try: self.j = json.loads(raw) if raw else None
        except ValueError: self.j = None
    @property
    def word(self): return ((self.j or {}).get('refusal') or {}).get('word') if isinstance(self.j, dict) else None
    def __repr__(self): return f'{self.status} {self.raw[:300]}'


class Sink:
    """Takes what the service posts."""
    def __init__(self):
        self.got, self.status = [], 204
        sink = self
        class H(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get('Content-Length', 0)))
                sink.got.append((dict((k.lower(), v) for k, v in self.headers.items()), raw, json.loads(raw)))
                self.send_response(sink.status); self.send_header('Content-Length', '0'); self.end_headers()
            def log_message(self, *a): pass
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), H)
        self.url = f'http://127.0.0.1:{self.server.server_port}/ear'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
    def wait(self, n=1, t=4.0):
        end = time.time() + t
        while len(self.got) < n and time.time() < end: time.sleep(.02)
        return len(self.got)
    def words(self): return [g[2].get('word') for g in self.got]
    def close(self): self.server.shutdown(); self.server.server_close()


class Mews:
    count = 0
    def __init__(self, fault=None):
        self.port, self.cport = free(), free()
        cmd = ['sh', os.path.join(HERE, 'run.sh'), '--port', str(self.port), '--clock-port', str(self.cport)] + (['--fault', fault] if fault else [])
        self.p = subprocess.Popen(cmd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.time() + 40
        while True:
            try:
                self.now(); socket.create_connection(('127.0.0.1', self.port), 1).close(); break
            except OSError:
                if time.time() > end or self.p.poll() is not None: self.close(); raise
                time.sleep(.05)
    def close(self):
        self.p.terminate()
        try: self.p.wait(5)
        except subprocess.TimeoutExpired: self.p.kill(); self.p.wait()
    def clock(self, body=None):
        c = http.client.HTTPConnection('127.0.0.1', self.cport, timeout=60)
        c.request('POST' if body else 'GET', '/', json.dumps(body) if body else None)
        r = c.getresponse(); j = json.loads(r.read()); c.close(); return j['now']
    def now(self): return self.clock()
    def go(self, d): return self.clock({'advance': d})
    def to(self, t): return self.clock({'now': t})
    def head(self, who):
        if who is None: return {}
        c = WHO[who]
        return {'Mews-Lure': c['credential']} if c['scheme'] == 'lure' else {'Authorization': 'Basic ' + base64.b64encode((c['credential'] + ':').encode()).decode()}
    def req(self, method, path, who='ada', body=None, ver='haggard', headers=None, raw=None):
        p = path[1:] if path.startswith('//') else '/book/' + ver + path
        h = self.head(who)
        if body is not None: raw = json.dumps(body)
        if raw is not None: h['Content-Type'] = 'application/json'
        for k, v in (headers or {}).items():
            if v is None: h.pop(k, None)
            else: h[k] = v
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=20)
        c.request(method, p, raw, h)
        r = c.getresponse(); a = Answer(r.status, dict((k.lower(), v) for k, v in r.getheaders()), r.read()); c.close(); return a
    def get(self, path, who='ada', **k): return self.req('GET', path, who, **k)
    def post(self, path, body=None, who='ada', **k): return self.req('POST', path, who, body, **k)
    def delete(self, path, who='ada', **k): return self.req('DELETE', path, who, **k)
    def patch(self, path, body, who='ada', **k):
        t = self.get(path, who, ver=k.get('ver', 'haggard')).h.get('etag')
        return self.req('PATCH', path, who, body, headers={'If-Match': t} if t else None, **k)
    # what is there
    def n(self): Mews.count += 1; return Mews.count
    def chamber(self, places=6, code=None, **over):
        n = self.n(); code = code or chr(65 + n // 100 % 26) + str(n % 100)
        a = self.req('PUT', '/chambers/' + code, 'edda', dict({'label': f'Chamber {n} {code}', 'side': 'north', 'places': places}, **over))
        return code if a.status == 201 or a.status == 200 else a
    def bird(self, **over):
        n = self.n()
        b = {'name': f'Hawk {n}', 'species': 'harris', 'ring_no': f'AB{10000 + n}', 'weight_g': 900, 'diet': {'kind': 'cut', 'meat': 'beef', 'grams': 60}}
        b.update(over)
        if 'chamber' not in b: b['chamber'] = self.chamber()
        return {k: v for k, v in b.items() if v is not ...}
    def hawk(self, who='ada', ver='haggard', **over):
        a = self.post('/hawks', self.bird(**over), who, ver=ver)
        assert a.status == 201, a
        return a.j
    def lodged(self, who='ada', **over):
        h = self.hawk(who, **over); a = self.post(f"/hawks/{h['id']}/admit", who='edda'); assert a.status == 200, a
        return a.j
    def weigh(self, h, who='ada', ver='haggard', **b):
        a = self.post(f"/hawks/{h['id']}/weighings", dict({'grams': 850}, **b), who, ver=ver); assert a.status == 201, a
        return a.j
    def time(self, seconds):
        import datetime
        return (datetime.datetime.fromisoformat(self.now().replace('Z', '+00:00')) + datetime.timedelta(seconds=seconds)).strftime('%Y-%m-%dT%H:%M:%SZ')
    def plan(self, h, start=300, length=3600, **b): return dict({'hawk': h['id'], 'ground': 'Long Heath', 'from': self.time(start), 'until': self.time(start + length)}, **b)
    def flight(self, h, who='ada', start=300, length=3600, **b):
        a = self.post('/flights', self.plan(h, start, length, **b), who); assert a.status in (200, 201), a
        return a.j
    def airborne(self, h, who='ada', **k):
        f = self.flight(h, who, **k); a = self.post(f"/flights/{f['id']}/launch", who=who); assert a.status == 200, a
        return a.j
    def state(self, h): return self.get('/hawks/' + h['id'], 'edda').j['status']
    def fstate(self, f): return self.get('/flights/' + f['id'], 'edda').j['status']
    def ear(self, who='ada', ver='haggard', **b):
        k = Sink(); a = self.post('/listeners', dict({'url': k.url}, **b), who, ver=ver); assert a.status == 201, a
        k.row = a.j; return k


FAULTS = []
def fault(id, part, kind, subject, bug):
    def take(fn): FAULTS.append((id, part, kind, subject, bug, fn)); return fn
    return take
def eq(a, b): assert a == b, (a, b)

# ------------------------------------------------------------------ purpose

@fault('base_in_links', 'purpose', 'base address', 'service', 'Location and Link leave out the path of the base address.')
def _(s): eq(s.post('/hawks', s.bird()).h['location'][:14], '/book/haggard/')

@fault('no_regain', 'purpose', 'functions', 'service', 'A lost hawk cannot be regained: the endpoint is not there.')
def _(s):
    h = s.lodged(); s.airborne(h); s.go('PT3H1M')
    eq(s.post(f"/hawks/{h['id']}/regain", who='edda').status, 200)

@fault('vet_unknown', 'purpose', 'users', 'service', 'The keys of vets are taken for unknown ones.')
def _(s): eq(s.get('/chambers', 'gwen').status, 200)

# ------------------------------------------------------------------ resources

@fault('species_row', 'resources', 'resources', 'service', 'One of the species that are there from the start is not.')
def _(s): eq(s.get('/species/merlin', None).status, 200)

@fault('hawk_id_form', 'resources', 'identifiers', 'hawk', 'Hawks have a UUID for an identifier.')
def _(s): assert re.fullmatch('hwk-[0-9a-f]{10}', s.hawk()['id'])

@fault('unknown_taken', 'resources', 'field names', 'hawk', 'A field that is not stated is passed over instead of refused.')
def _(s): a = s.post('/hawks', s.bird(perch='bow')); eq((a.status, a.word), (422, 'stranger_word'))

@fault('chamber_extra', 'resources', 'field names', 'chamber', 'Answers carry an inner number of the row.')
def _(s): eq(set(s.get('/chambers/' + s.chamber()).j), {'code', 'label', 'side', 'places', 'perches', 'occupied'})

@fault('diet_mixed', 'resources', 'field names', 'cut_diet', 'A diet takes the fields of the other kind of diet.')
def _(s): eq(s.post('/hawks', s.bird(diet={'kind': 'cut', 'meat': 'beef', 'grams': 60, 'prey': 'chick'})).status, 422)

@fault('weight_as_text', 'resources', 'types', 'hawk.weight_g', 'The weight is answered as a text.')
def _(s): eq(s.hawk()['weight_g'], 900)

@fault('hatched_any', 'resources', 'formats', 'hawk.hatched', 'Days that there are not are taken for dates.')
def _(s): eq(s.post('/hawks', s.bird(hatched='2025-02-30')).status, 422)

@fault('ring_pattern', 'resources', 'formats', 'hawk.ring_no', 'The pattern of rings is looked for anywhere in the text.')
def _(s): eq(s.post('/hawks', s.bird(ring_no=f'xAB{10000 + s.n()}')).status, 422)

@fault('url_any', 'resources', 'formats', 'listener.url', 'Any text is taken for an address.')
def _(s): eq(s.post('/listeners', {'url': 'not an address'}).status, 422)

@fault('weight_bound', 'resources', 'allowed values', 'hawk.weight_g', 'The greatest weight is one too many.')
def _(s): eq((s.post('/hawks', s.bird(weight_g=9000)).status, s.post('/hawks', s.bird(weight_g=9001)).status), (201, 422))

@fault('name_empty', 'resources', 'allowed values', 'hawk.name', 'An empty name is taken.')
def _(s): eq(s.post('/hawks', s.bird(name='')).status, 422)

@fault('places_zero', 'resources', 'allowed values', 'chamber.places', 'A chamber may have no places.')
def _(s): eq(s.chamber(places=0).status, 422)

@fault('sex_default', 'resources', 'allowed values', 'hawk.sex', 'The default is male.')
def _(s): eq(s.hawk()['sex'], 'unknown')

@fault('note_length', 'resources', 'allowed values', 'weighing.note', 'A note may be one character too long.')
def _(s): eq(s.post(f"/hawks/{s.hawk()['id']}/weighings", {'grams': 800, 'note': 'n' * 121}).status, 422)

@fault('diet_bound', 'resources', 'allowed values', 'cut_diet.grams', 'A diet may weigh a kilogram.')
def _(s): eq(s.post('/hawks', s.bird(diet={'kind': 'cut', 'meat': 'beef', 'grams': 501})).status, 422)

@fault('perches_twice', 'resources', 'allowed values', 'chamber.perches', 'One perch may be there twice.')
def _(s): eq(s.chamber(perches=['bow', 'bow']).status, 422)

@fault('ring_changes', 'resources', 'allowed values', 'hawk.ring_no', 'A ring can be changed.')
def _(s): h = s.hawk(); eq(s.patch('/hawks/' + h['id'], {'ring_no': f'ZZ{10000 + s.n()}'}).status, 422)

@fault('ring_twice', 'resources', 'allowed values', 'hawk.ring_no', 'Two hawks may have one ring.')
def _(s): h = s.hawk(); a = s.post('/hawks', s.bird(ring_no=h['ring_no'])); eq((a.status, a.word), (409, 'twin'))

@fault('label_twice', 'resources', 'allowed values', 'chamber.label', 'Two chambers may have one label.')
def _(s): l = f'Twin room {s.n()}'; s.chamber(label=l); eq(s.chamber(label=l).status, 409)

@fault('planned_twice', 'resources', 'allowed values', 'flight.from', 'A hawk may have two planned flights from one time on.')
def _(s): h = s.hawk(); p = s.plan(h); eq((s.post('/flights', p).status, s.post('/flights', p).status), (201, 409))

@fault('owner_sent', 'resources', 'allowed values', 'hawk.owner', 'Who sends an owner is believed.')
def _(s): eq(s.post('/hawks', s.bird(owner='f-bram')).j.get('owner'), 'f-ada')

@fault('changed_at_stuck', 'resources', 'allowed values', 'hawk.changed_at', 'The time of the last change stays that of the first.')
def _(s):
    h = s.hawk(); s.go('PT5S')
    assert s.patch('/hawks/' + h['id'], {'name': 'Other'}).j['changed_at'] > h['changed_at']

@fault('noop_touches', 'resources', 'allowed values', 'hawk.changed_at', 'An update that changes nothing counts as a change.')
def _(s):
    h = s.hawk(); s.go('PT5S')
    eq(s.patch('/hawks/' + h['id'], {'name': h['name']}).j['changed_at'], h['changed_at'])

@fault('admitted_at_unset', 'resources', 'allowed values', 'hawk.admitted_at', 'The time of admission is not set.')
def _(s): assert 'admitted_at' in s.lodged()

@fault('species_optional', 'resources', 'required flags', 'hawk.species', 'A hawk may be lodged without its species.')
def _(s): a = s.post('/hawks', s.bird(species=...)); eq((a.status, a.word), (422, 'gap'))

@fault('booked_at_missing', 'resources', 'required flags', 'hawk.booked_at', 'Answers leave out when a hawk was booked.')
def _(s): assert 'booked_at' in s.hawk()

@fault('remarks_shown', 'resources', 'allowed values', 'hawk.remarks', 'Falconers see the remarks of the house.')
def _(s):
    h = s.hawk(); eq(s.patch('/hawks/' + h['id'], {'remarks': 'bites'}, 'edda').j['remarks'], 'bites')
    assert 'remarks' not in s.get('/hawks/' + h['id']).j

@fault('remarks_written', 'resources', 'allowed values', 'hawk.remarks', 'Falconers can write the remarks of the house.')
def _(s): h = s.hawk(remarks='gentle'); assert 'remarks' not in s.get('/hawks/' + h['id'], 'edda').j

@fault('secret_again', 'resources', 'allowed values', 'listener.secret', 'The secret is shown at every reading.')
def _(s):
    a = s.post('/listeners', {'url': 'http://127.0.0.1:9/x'}); assert 'secret' in a.j
    assert 'secret' not in s.get('/listeners/' + a.j['id']).j

@fault('counted_all', 'resources', 'allowed values', 'weighing.number', 'Weighings are counted over all hawks.')
def _(s):
    a, b = s.hawk(), s.hawk()
    eq((s.weigh(a)['number'], s.weigh(b)['number'], s.weigh(a)['number']), (1, 1, 2))

@fault('number_reused', 'resources', 'allowed values', 'weighing.number', 'The number of a deleted weighing comes again.')
def _(s):
    h = s.hawk(); s.weigh(h); w = s.weigh(h); eq(s.delete('/weighings/' + w['id'], 'edda').status, 204)
    eq(s.weigh(h)['number'], 3)

@fault('occupied_booked', 'resources', 'allowed values', 'chamber.occupied', 'Hawks that are only booked take up a place.')
def _(s): c = s.chamber(); s.hawk(chamber=c); eq(s.get('/chambers/' + c).j['occupied'], 0)

@fault('lightest_is_last', 'resources', 'allowed values', 'hawk.lightest_g', 'The last weight is told for the least one.')
def _(s): h = s.hawk(); s.weigh(h, grams=700); s.weigh(h, grams=800); eq(s.get('/hawks/' + h['id']).j['lightest_g'], 700)

@fault('ends_with_begin', 'resources', 'allowed values', 'flight.until', 'A flight may end when it begins.')
def _(s): eq(s.post('/flights', s.plan(s.hawk(), length=0)).status, 422)

@fault('chamber_unchecked', 'resources', 'allowed values', 'hawk.chamber', 'A hawk may be lodged in a chamber that there is not.')
def _(s): a = s.post('/hawks', s.bird(chamber='Z99')); eq((a.status, a.word), (422, 'no_referent'))

@fault('chamber_not_held', 'resources', 'allowed values', 'hawk.chamber', 'A chamber with hawks in it can be deleted.')
def _(s): c = s.chamber(); s.hawk(chamber=c); eq(s.delete('/chambers/' + c, 'edda').status, 409)

@fault('weighings_stay', 'resources', 'allowed values', 'weighing.hawk', 'The weighings of a deleted hawk stay.')
def _(s):
    h = s.hawk(); w = s.weigh(h); eq(s.delete('/hawks/' + h['id']).status, 204)
    eq(s.get('/weighings/' + w['id'], 'edda').status, 404)

@fault('reason_unset', 'resources', 'allowed values', 'flight.reason', 'Why a flight was called off is not kept.')
def _(s): f = s.flight(s.hawk()); eq(s.post(f"/flights/{f['id']}/call-off", {'reason': 'fog'}).j.get('reason'), 'fog')

# ------------------------------------------------------------------ states

@fault('begins_lodged', 'states', 'states', 'hawk', 'A new hawk is lodged at once.')
def _(s): eq(s.hawk()['status'], 'booked')

@fault('airborne_word', 'states', 'states', 'flight', 'A flight in the air is told of as launched.')
def _(s): eq(s.airborne(s.lodged())['status'], 'airborne')

@fault('admit_lapsed', 'states', 'transitions', 'hawk', 'A booking that has lapsed can be admitted.')
def _(s): h = s.hawk(); s.go('PT73H'); a = s.post(f"/hawks/{h['id']}/admit", who='edda'); eq((a.status, a.word), (409, 'not_booked'))

@fault('one_too_many', 'states', 'transitions', 'hawk', 'A chamber takes one hawk more than it has places.')
def _(s):
    c = s.chamber(places=1); s.lodged(chamber=c); h = s.hawk(chamber=c)
    a = s.post(f"/hawks/{h['id']}/admit", who='edda'); eq((a.status, a.word), (409, 'chamber_full'))

@fault('lapse_never', 'states', 'transitions', 'hawk', 'Bookings never lapse.')
def _(s): h = s.hawk(); s.go('PT72H1M'); eq(s.state(h), 'lapsed')

@fault('lapse_early', 'states', 'transitions', 'hawk', 'Bookings lapse after two days.')
def _(s): h = s.hawk(); s.go('PT71H'); eq(s.state(h), 'booked')

@fault('collect_forgets', 'states', 'transitions', 'hawk', 'The planned flights of a hawk that was collected stay planned.')
def _(s): h = s.lodged(); f = s.flight(h); eq(s.post(f"/hawks/{h['id']}/collect").status, 200); eq(s.fstate(f), 'missed')

@fault('delete_any_state', 'states', 'transitions', 'hawk', 'A hawk that is lodged can be deleted.')
def _(s): h = s.lodged(); eq(s.delete('/hawks/' + h['id']).status, 409)

@fault('update_any_state', 'states', 'transitions', 'hawk', 'A hawk that is gone can be changed.')
def _(s): h = s.lodged(); s.post(f"/hawks/{h['id']}/collect"); a = s.patch('/hawks/' + h['id'], {'name': 'Late'}); eq((a.status, a.word), (409, 'not_now'))

@fault('never_fed', 'states', 'transitions', 'flight', 'A flight with a catch ends as one without.')
def _(s): f = s.airborne(s.lodged()); a = s.post(f"/flights/{f['id']}/land", {'catch': 2}); eq((a.j['status'], a.j['catch']), ('fed', 2))

@fault('stray_keeps_hawk', 'states', 'transitions', 'flight', 'The hawk of a flight that strayed stays aloft.')
def _(s): h = s.lodged(); f = s.airborne(h); s.go('PT3H1M'); eq((s.fstate(f), s.state(h)), ('strayed', 'lost'))

@fault('stray_late', 'states', 'transitions', 'flight', 'A flight strays after four hours.')
def _(s): f = s.airborne(s.lodged()); s.go('PT3H1M'); eq(s.fstate(f), 'strayed')

@fault('launch_any_time', 'states', 'transitions', 'flight', 'A flight can be launched long before its time.')
def _(s): f = s.flight(s.lodged(), start=7200); a = s.post(f"/flights/{f['id']}/launch"); eq((a.status, a.word), (425, 'too_early'))

@fault('miss_never', 'states', 'transitions', 'flight', 'A planned flight is never missed.')
def _(s): f = s.flight(s.hawk()); s.go('PT2H'); eq(s.fstate(f), 'missed')

@fault('launch_any_hawk', 'states', 'transitions', 'flight', 'A flight can be launched whose hawk is not lodged.')
def _(s): f = s.flight(s.hawk()); a = s.post(f"/flights/{f['id']}/launch"); eq((a.status, a.word), (409, 'hawk_not_in'))

# ------------------------------------------------------------------ endpoints

@fault('head_refused', 'endpoints', 'methods', 'service', 'HEAD is not done.')
def _(s): eq(s.req('HEAD', '/species', None).status, 200)

@fault('call_off_path', 'endpoints', 'path shapes', 'service', 'Calling off stands at another path.')
def _(s): f = s.flight(s.hawk()); eq(s.post(f"/flights/{f['id']}/call-off", {'reason': 'fog'}).status, 200)

@fault('tag_fixed', 'endpoints', 'response payload shapes', 'GET /hawks/{id}', 'The tag stays the same when the row changes.')
def _(s):
    h = s.hawk(); t = s.get('/hawks/' + h['id']).h['etag']; s.patch('/hawks/' + h['id'], {'name': 'Other'})
    assert s.get('/hawks/' + h['id']).h['etag'] != t

@fault('never_304', 'endpoints', 'response payload shapes', 'GET /flights/{id}', 'If-None-Match is not looked at.')
def _(s):
    f = s.flight(s.hawk()); t = s.get('/flights/' + f['id']).h['etag']; assert t.startswith('W/"')
    eq(s.get('/flights/' + f['id'], headers={'If-None-Match': t}).status, 304)

@fault('no_cache', 'endpoints', 'response payload shapes', 'GET /species/{slug}', 'Answers do not say how long they may be kept.')
def _(s): eq(s.get('/species/harris', None).h.get('cache-control'), 'public, max-age=300')

@fault('if_match_ignored', 'endpoints', 'request payload shapes', 'PATCH /hawks/{id}', 'If-Match is asked for and not compared.')
def _(s): h = s.hawk(); eq(s.req('PATCH', '/hawks/' + h['id'], 'ada', {'name': 'X'}, headers={'If-Match': '"old"'}).status, 412)

@fault('if_match_optional', 'endpoints', 'request payload shapes', 'PATCH /hawks/{id}', 'If-Match is not asked for.')
def _(s): h = s.hawk(); eq(s.req('PATCH', '/hawks/' + h['id'], 'ada', {'name': 'X'}).status, 428)

@fault('if_match_chamber', 'endpoints', 'request payload shapes', 'PUT /chambers/{code}', 'If-Match is not looked at.')
def _(s): c = s.chamber(); eq(s.req('PUT', '/chambers/' + c, 'edda', {'label': 'Other ' + c, 'side': 'south', 'places': 2}, headers={'If-Match': '"old"'}).status, 412)

@fault('patch_wipes', 'endpoints', 'request payload shapes', 'PATCH /hawks/{id}', 'An update takes away optional fields that were not sent.')
def _(s): h = s.hawk(hatched='2025-04-01'); eq(s.patch('/hawks/' + h['id'], {'name': 'X'}).j.get('hatched'), '2025-04-01')

@fault('null_ignored', 'endpoints', 'request payload shapes', 'PATCH /hawks/{id}', 'Null takes nothing away.')
def _(s): h = s.hawk(hatched='2025-04-01'); assert 'hatched' not in s.patch('/hawks/' + h['id'], {'hatched': None}).j

@fault('diet_not_merged', 'endpoints', 'request payload shapes', 'PATCH /hawks/{id}', 'A diet is replaced instead of merged.')
def _(s): h = s.hawk(); a = s.patch('/hawks/' + h['id'], {'diet': {'grams': 70}}); eq((a.status, a.j.get('diet')), (200, {'kind': 'cut', 'meat': 'beef', 'grams': 70}))

@fault('put_keeps', 'endpoints', 'request payload shapes', 'PUT /chambers/{code}', 'What a replacement leaves out stays instead of its default.')
def _(s):
    c = s.chamber(perches=['block']); a = s.req('PUT', '/chambers/' + c, 'edda', {'label': 'Other ' + c, 'side': 'south', 'places': 2})
    eq(a.j['perches'], ['bow'])

@fault('code_of_body', 'endpoints', 'request payload shapes', 'PUT /chambers/{code}', 'A code in the body may differ from that of the path.')
def _(s): eq(s.req('PUT', '/chambers/Q7', 'edda', {'code': 'Q8', 'label': 'Quiet', 'side': 'south', 'places': 2}).status, 422)

@fault('land_needs_body', 'endpoints', 'request payload shapes', 'POST /flights/{id}/land', 'Landing asks for a body.')
def _(s): f = s.airborne(s.lodged()); eq(s.post(f"/flights/{f['id']}/land").status, 200)

@fault('reason_optional', 'endpoints', 'request payload shapes', 'POST /flights/{id}/call-off', 'A flight can be called off without a reason.')
def _(s): f = s.flight(s.hawk()); eq(s.post(f"/flights/{f['id']}/call-off", {}).status, 422)

@fault('once_forgotten', 'endpoints', 'request payload shapes', 'POST /hawks/{hawk}/weighings', 'The key of a request is not looked at.')
def _(s):
    h = s.hawk(); p = f"/hawks/{h['id']}/weighings"
    a, b = (s.post(p, {'grams': 800}, headers={'Mews-Once': 'k1'}) for _ in 'ab'); eq((a.status, b.j['id']), (201, a.j['id']))

@fault('once_any_body', 'endpoints', 'request payload shapes', 'POST /hawks', 'A key that was used for another request is answered as if it were the same.')
def _(s):
    k = {'Mews-Once': f'k{s.n()}'}; s.post('/hawks', s.bird(), headers=k); a = s.post('/hawks', s.bird(), headers=k); eq((a.status, a.word), (422, 'once_used'))

@fault('once_short', 'endpoints', 'request payload shapes', 'POST /hawks', 'Keys are kept for an hour.')
def _(s):
    k = {'Mews-Once': f'k{s.n()}'}; b = s.bird(); a = s.post('/hawks', b, headers=k); s.go('PT11H'); eq(s.post('/hawks', b, headers=k).j.get('id'), a.j['id'])

@fault('replay_secret', 'endpoints', 'request payload shapes', 'POST /listeners', 'The secret is shown again to who repeats the request.')
def _(s):
    k = {'Mews-Once': 'k3'}; b = {'url': 'http://127.0.0.1:9/x'}; s.post('/listeners', b, headers=k); a = s.post('/listeners', b, headers=k)
    eq(a.status, 201); assert 'secret' not in a.j

@fault('no_location', 'endpoints', 'response payload shapes', 'POST /hawks', 'No Location tells where the new hawk is.')
def _(s): a = s.post('/hawks', s.bird()); eq(a.h.get('location'), '/book/haggard/hawks/' + a.j['id'])

@fault('flight_200', 'endpoints', 'response payload shapes', 'POST /flights', 'A creation is answered 200.')
def _(s): eq(s.post('/flights', s.plan(s.hawk())).status, 201)

@fault('put_200', 'endpoints', 'response payload shapes', 'PUT /chambers/{code}', 'A chamber that is made is answered 200.')
def _(s): eq(s.req('PUT', '/chambers/R5', 'edda', {'label': f'Room {s.n()}', 'side': 'south', 'places': 2}).status, 201)

@fault('delete_200', 'endpoints', 'response payload shapes', 'DELETE /listeners/{id}', 'A deletion is answered 200 with the row.')
def _(s): a = s.post('/listeners', {'url': 'http://127.0.0.1:9/x'}); eq(s.delete('/listeners/' + a.j['id']).status, 204)

@fault('order_oldest', 'endpoints', 'response payload shapes', 'GET /hawks', 'The oldest booking stands first.')
def _(s): c = s.chamber(); a = s.hawk(chamber=c); s.go('PT2S'); b = s.hawk(chamber=c); eq([h['id'] for h in s.get('/hawks?chamber=' + c).j['rows']], [b['id'], a['id']])

@fault('weighings_oldest', 'endpoints', 'response payload shapes', 'GET /hawks/{hawk}/weighings', 'The first weighing stands first.')
def _(s): h = s.hawk(); s.weigh(h); s.weigh(h); eq([w['number'] for w in s.get(f"/hawks/{h['id']}/weighings").j], [2, 1])

@fault('outings_of_all', 'endpoints', 'response payload shapes', 'GET /hawks/{hawk}/flights', 'The flights of other hawks are among those of a hawk.')
def _(s): a, b = s.hawk(), s.hawk(); s.flight(a); f = s.flight(b); eq([r['id'] for r in s.get(f"/hawks/{b['id']}/flights").j['rows']], [f['id']])

@fault('flight_status_ignored', 'endpoints', 'parameters', 'GET /flights', 'The filter by status lets all through.')
def _(s): h = s.hawk(); s.flight(h); eq(s.get(f"/flights?hawk={h['id']}&status=airborne").j['rows'], [])

@fault('since_after', 'endpoints', 'parameters', 'GET /flights', 'Flights of the very time that is asked for are left out.')
def _(s): h = s.hawk(); f = s.flight(h); eq(len(s.get(f"/flights?hawk={h['id']}&since={f['from']}").j['rows']), 1)

@fault('status_first', 'endpoints', 'parameters', 'GET /hawks', 'Of several states only the first one is looked for.')
def _(s): c = s.chamber(); s.hawk(chamber=c); eq(len(s.get(f'/hawks?chamber={c}&status=lodged,booked').j['rows']), 1)

@fault('called_anywhere', 'endpoints', 'parameters', 'GET /hawks', 'A beginning of the name is found anywhere in it.')
def _(s): c = s.chamber(); s.hawk(chamber=c, name='Old Mab'); eq(s.get(f'/hawks?chamber={c}&called=Mab').j['rows'], [])

@fault('sort_up_only', 'endpoints', 'parameters', 'GET /hawks', 'Names are always sorted upwards.')
def _(s):
    c = s.chamber(); s.hawk(chamber=c, name='Ann'); s.hawk(chamber=c, name='Bob')
    eq([h['name'] for h in s.get(f'/hawks?chamber={c}&sort=-name').j['rows']], ['Bob', 'Ann'])

@fault('roomy_more', 'endpoints', 'parameters', 'GET /chambers', 'Chambers with just so many places are left out.')
def _(s): c = s.chamber(places=12); assert c in [r['code'] for r in s.get('/chambers?roomy=12&take=40').j['rows']]

@fault('least_more', 'endpoints', 'parameters', 'GET /hawks/{hawk}/weighings', 'Weighings of just this weight are left out.')
def _(s): h = s.hawk(); s.weigh(h, grams=700); eq(len(s.get(f"/hawks/{h['id']}/weighings?least=700").j), 1)

@fault('unknown_param', 'endpoints', 'parameters', 'GET /chambers', 'A parameter that is not stated is passed over.')
def _(s): a = s.get('/chambers?colour=red'); eq((a.status, a.word), (400, 'odd_question'))

# ------------------------------------------------------------------ authentication

@fault('two_callers', 'authentication', 'schemes', 'service', 'Two credentials of two callers are taken.')
def _(s): eq(s.get('/chambers', 'ada', headers=s.head('finn')).status, 401)

@fault('no_challenge', 'authentication', 'schemes', 'service', 'A refusal of a credential has no challenge.')
def _(s): a = s.get('/chambers', None); eq(a.status, 401); assert 'www-authenticate' in a.h

@fault('desk_password', 'authentication', 'token formats', 'desk', 'A key with a password behind it is taken.')
def _(s): eq(s.get('/chambers', None, headers={'Authorization': 'Basic ' + base64.b64encode((WHO['finn']['credential'] + ':x').encode()).decode()}).status, 401)

@fault('lure_any_case', 'authentication', 'token formats', 'lure', 'The case of a key does not matter.')
def _(s): eq(s.get('/chambers', None, headers={'Mews-Lure': WHO['ada']['credential'].upper()}).status, 401)

@fault('other_owner_read', 'authentication', 'permission rules', 'read hawk', 'Falconers may read the hawks of others.')
def _(s): eq(s.get('/hawks/' + s.hawk('bram')['id']).status, 404)

@fault('shown_ignored', 'authentication', 'permission rules', 'read hawk', 'A club sees hawks that are not shown to it.')
def _(s): eq(s.get('/hawks/' + s.hawk('bram')['id']).status, 404)

@fault('club_ignored', 'authentication', 'permission rules', 'list hawk', 'A hawk that is shown is shown to other clubs as well.')
def _(s): c = s.chamber(); s.hawk('bram', shown=True, chamber=c); eq(len(s.get('/hawks?chamber=' + c, 'cleo').j['rows']), 0)

@fault('club_sees_all', 'authentication', 'permission rules', 'read hawk', 'A club sees all fields of a hawk that is shown to it.')
def _(s): h = s.hawk('bram', shown=True); eq(set(s.get('/hawks/' + h['id']).j), {'id', 'owner', 'club', 'name', 'species', 'status', 'chamber', 'shown', 'booked_at'})

@fault('list_leaks', 'authentication', 'permission rules', 'list hawk', 'The list has the hawks of everybody.')
def _(s): c = s.chamber(); s.hawk('bram', chamber=c); eq(s.get('/hawks?chamber=' + c).j['rows'], [])

@fault('list_own_only', 'authentication', 'permission rules', 'list hawk', 'The list lacks what the club shows.')
def _(s): c = s.chamber(); s.hawk('bram', chamber=c, shown=True); eq(len(s.get('/hawks?chamber=' + c).j['rows']), 1)

@fault('vet_sees_booked', 'authentication', 'permission rules', 'read hawk', 'Vets see hawks that are not in the house.')
def _(s): eq(s.get('/hawks/' + s.hawk()['id'], 'gwen').status, 404)

@fault('vet_deletes_any', 'authentication', 'permission rules', 'delete weighing', 'Vets may delete what others weighed.')
def _(s): w = s.weigh(s.lodged(), 'gwen'); eq(s.delete('/weighings/' + w['id'], 'hal').status, 403)

@fault('scope_ignored', 'authentication', 'permission rules', 'create flight', 'Nobody looks for the scope.')
def _(s): h = s.hawk('dirk'); a = s.post('/flights', s.plan(h), 'dirk'); eq((a.status, a.word), (403, 'no_licence'))

@fault('flies_others', 'authentication', 'permission rules', 'create flight', 'Falconers may plan flights of hawks that are only shown to them.')
def _(s): h = s.hawk('bram', shown=True); eq(s.post('/flights', s.plan(h)).status, 403)

@fault('flies_unseen', 'authentication', 'permission rules', 'create flight', 'Falconers may plan flights of hawks that they cannot read.')
def _(s): h = s.hawk('bram'); a = s.post('/flights', s.plan(h)); eq((a.status, a.word), (422, 'no_referent'))

@fault('flight_of_others', 'authentication', 'permission rules', 'read flight', 'Falconers may read the flights of others.')
def _(s): f = s.flight(s.hawk('bram'), 'bram'); eq(s.get('/flights/' + f['id']).status, 404)

@fault('club_weighs', 'authentication', 'permission rules', 'create weighing', 'Falconers may weigh hawks that are only shown to them.')
def _(s): h = s.hawk('bram', shown=True); eq(s.post(f"/hawks/{h['id']}/weighings", {'grams': 800}).status, 403)

@fault('club_updates', 'authentication', 'permission rules', 'update hawk', 'Falconers may change hawks that are only shown to them.')
def _(s): h = s.hawk('bram', shown=True); eq(s.patch('/hawks/' + h['id'], {'name': 'Mine'}).status, 403)

@fault('listener_of_others', 'authentication', 'permission rules', 'read listener', 'Anybody may read any listener.')
def _(s): a = s.post('/listeners', {'url': 'http://127.0.0.1:9/x'}, 'bram'); eq(s.get('/listeners/' + a.j['id']).status, 404)

# ------------------------------------------------------------------ events

def seal(k, i=0, row=None):
    h, raw, j = k.got[i]
    m = re.fullmatch(r'ts=(\d+),seal=([0-9a-f]{64})', h['mews-seal'])
    good = hmac.new(k.row['secret'].encode(), f"{j['ref']}|{m[1]}|".encode() + raw, hashlib.sha256).hexdigest()
    return m[1], m[2] == good

@fault('seal_body_only', 'events', 'delivery mechanism', 'service', 'The signature is over the body alone.')
def _(s): k = s.ear(); s.weigh(s.hawk()); eq(k.wait(), 1); assert seal(k)[1]

@fault('seal_ms', 'events', 'delivery mechanism', 'service', 'The time of the signature is in milliseconds.')
def _(s): k = s.ear(); s.weigh(s.hawk()); eq(k.wait(), 1); eq(len(seal(k)[0]), 10)

@fault('no_event_header', 'events', 'delivery mechanism', 'service', 'The header field that names the kind is not there.')
def _(s): k = s.ear(); s.weigh(s.hawk()); eq(k.wait(), 1); eq(k.got[0][0].get('mews-event'), 'weighing.taken')

@fault('no_told_at', 'events', 'delivery mechanism', 'service', 'The envelope lacks the time.')
def _(s): k = s.ear(); s.weigh(s.hawk()); eq(k.wait(), 1); eq(set(k.got[0][2]), {'ref', 'word', 'told_at', 'what'})

@fault('event_twice', 'events', 'delivery mechanism', 'service', 'Each event is told twice, under two identifiers.')
def _(s): k = s.ear(); s.weigh(s.hawk()); eq(k.wait(2, 1.2), 1)

@fault('no_retry', 'events', 'delivery mechanism', 'service', 'A delivery that fails is not tried again.')
def _(s):
    k = s.ear(); k.status = 500; s.weigh(s.hawk()); eq(k.wait(), 1); time.sleep(.2); k.status = 204; s.go('PT15S'); eq(k.wait(2), 2); eq(k.got[0][2]['ref'], k.got[1][2]['ref'])

@fault('event_to_all', 'events', 'delivery mechanism', 'service', 'Listeners hear of hawks that their makers cannot read.')
def _(s): k = s.ear(); s.weigh(s.hawk('bram'), 'bram'); eq(k.wait(1, 1), 0)

@fault('inactive_hears', 'events', 'delivery mechanism', 'service', 'A listener that is not active is told all the same.')
def _(s): k = s.ear(active=False); s.weigh(s.hawk()); eq(k.wait(1, 1), 0)

@fault('kinds_ignored', 'events', 'delivery mechanism', 'service', 'The kinds that a listener asks for are not looked at.')
def _(s): k = s.ear(kinds=['flight.*']); s.weigh(s.hawk()); eq(k.wait(1, 1), 0)

@fault('never_disabled', 'events', 'delivery mechanism', 'service', 'A listener that is gone (410) stays active.')
def _(s):
    k = s.ear(); k.status = 410; s.weigh(s.hawk()); k.wait(); time.sleep(.4)
    eq(s.get('/listeners/' + k.row['id']).j['active'], False)

@fault('lapse_silent', 'events', 'emitting operations', 'hawk.lapsed', 'Nobody is told that a booking has lapsed.')
def _(s): k = s.ear(); s.hawk(); s.go('PT73H'); k.wait(); eq(k.words(), ['hawk.lapsed'])

@fault('miss_silent', 'events', 'emitting operations', 'flight.ended', 'Nobody is told that a flight was missed.')
def _(s): k = s.ear(); s.flight(s.hawk()); s.go('PT2H'); k.wait(); eq(k.words(), ['flight.ended'])

@fault('moved_always', 'events', 'emitting operations', 'hawk.moved', 'Every update is told of as a move.')
def _(s): k = s.ear(); h = s.hawk(); s.patch('/hawks/' + h['id'], {'name': 'Other'}); eq(k.wait(1, 1), 0)

@fault('moved_swapped', 'events', 'payload shapes', 'hawk.moved', 'Where a hawk was and where it is are mixed up.')
def _(s):
    k = s.ear(); a, b = s.chamber(), s.chamber(); h = s.hawk(chamber=a); s.patch('/hawks/' + h['id'], {'chamber': b}); eq(k.wait(), 1)
    eq(k.got[0][2]['what'], {'hawk': h['id'], 'was': a, 'is': b})

@fault('taken_unnumbered', 'events', 'payload shapes', 'weighing.taken', 'The number of the weighing is not told.')
def _(s): k = s.ear(); w = s.weigh(s.hawk()); eq(k.wait(), 1); eq(k.got[0][2]['what'], w)

def listen(s, who, headers=None, seconds=1.0, then=None):
    c = socket.create_connection(('127.0.0.1', s.port)); h = dict(s.head(who), **(headers or {}))
    c.sendall(('GET /book/haggard/stream HTTP/1.1\r\nHost: x\r\n' + ''.join(f'{k}: {v}\r\n' for k, v in h.items()) + '\r\n').encode())
    c.settimeout(.2); raw = b''; end = time.time() + 3
    while b'the book is open' not in raw and time.time() < end:
        try: raw += c.recv(65536)
        except TimeoutError: pass
    if then: then()
    end = time.time() + seconds
    while time.time() < end:
        try: raw += c.recv(65536)
        except TimeoutError: pass
    c.close()
    return re.findall(r'id: (\S+)', raw.decode()), re.findall(r'event: (\S+)', raw.decode()), raw.decode()

@fault('no_resume', 'events', 'delivery mechanism', 'service', 'Last-Event-ID is not looked at.')
def _(s):
    h = s.hawk(); ids = listen(s, 'ada', then=lambda: (s.weigh(h), s.weigh(h)))[0]; eq(len(ids), 2)
    eq(listen(s, 'ada', {'Last-Event-ID': ids[0]})[0], ids[1:])

@fault('stream_to_all', 'events', 'delivery mechanism', 'service', 'Whoever listens to the stream hears of everything.')
def _(s): eq(listen(s, 'ada', then=lambda: s.weigh(s.hawk('bram'), 'bram'))[1], [])

@fault('stream_no_id', 'events', 'delivery mechanism', 'service', 'Events of the stream have no identifier.')
def _(s): h = s.hawk(); r = listen(s, 'ada', then=lambda: s.weigh(h)); eq((len(r[0]), r[1]), (1, ['weighing.taken']))

# ------------------------------------------------------------------ errors

@fault('twin_400', 'errors', 'status codes', 'twin', 'What is there already is answered 400.')
def _(s): h = s.hawk(); eq(s.post('/hawks', s.bird(ring_no=h['ring_no'])).status, 409)

@fault('too_late_409', 'errors', 'status codes', 'too_late', 'What is too late is answered 409.')
def _(s): f = s.flight(s.hawk()); p = f"/flights/{f['id']}/call-off"; s.post(p, {'reason': 'fog'}); eq(s.post(p, {'reason': 'fog'}).status, 410)

@fault('held_is_twin', 'errors', 'conditions', 'held_fast', 'What is held is told of by another word.')
def _(s): c = s.chamber(); s.hawk(chamber=c); eq(s.delete('/chambers/' + c, 'edda').word, 'held_fast')

@fault('gap_is_unfit', 'errors', 'conditions', 'gap', 'What is missing is told of by the word for what does not fit.')
def _(s): eq(s.post('/hawks', s.bird(name=...)).word, 'gap')

@fault('scope_word', 'errors', 'conditions', 'no_licence', 'A missing scope is told of by the general word.')
def _(s): h = s.hawk('dirk'); eq(s.post('/flights', s.plan(h), 'dirk').word, 'no_licence')

@fault('then_code', 'errors', 'conditions', 'hawk_not_in', 'That the hawk is not in is told of by the general word.')
def _(s): f = s.flight(s.hawk()); eq(s.post(f"/flights/{f['id']}/launch").word, 'hawk_not_in')

@fault('foreign_403', 'errors', 'conditions', 'no_such', 'Rows of others are answered 403, so that everybody learns of them.')
def _(s): f = s.flight(s.hawk('bram'), 'bram'); eq(s.get('/flights/' + f['id']).status, 404)

@fault('forbidden_404', 'errors', 'conditions', 'not_yours', 'What is not for a user is answered 404.')
def _(s): eq(s.get('/flights', 'gwen').status, 403)

@fault('media_ignored', 'errors', 'conditions', 'wrong_ink', 'The type of a body is not looked at.')
def _(s): eq(s.req('POST', '/hawks', 'ada', raw=json.dumps(s.bird()), headers={'Content-Type': 'text/plain'}).status, 415)

@fault('accept_ignored', 'errors', 'conditions', 'wrong_tongue', 'Accept is not looked at.')
def _(s): eq(s.get('/chambers', headers={'Accept': 'text/html'}).status, 406)

@fault('thin_flies', 'errors', 'conditions', 'thin_hawk', 'A hawk that is too light may be flown.')
def _(s): h = s.hawk(); s.weigh(h, grams=99); a = s.post('/flights', s.plan(h)); eq((a.status, a.word), (422, 'thin_hawk'))

@fault('thin_at_100', 'errors', 'conditions', 'thin_hawk', 'A hawk of just the weight may not be flown.')
def _(s): h = s.hawk(); s.weigh(h, grams=100); eq(s.post('/flights', s.plan(h)).status, 201)

@fault('six_hours_out', 'errors', 'conditions', 'long_flight', 'A flight of six hours is refused.')
def _(s): h = s.hawk(); p = s.plan(h, start=600, length=21600); eq(s.post('/flights', p).status, 201)

@fault('never_grounded', 'errors', 'conditions', 'grounded', 'A hawk that has left may be flown.')
def _(s): h = s.lodged(); s.post(f"/hawks/{h['id']}/collect"); a = s.post('/flights', s.plan(h)); eq((a.status, a.word), (409, 'grounded'))

@fault('user_before_body', 'errors', 'conditions', 'order', 'Who may not do it is refused before the body is looked at.')
def _(s): a = s.req('POST', '/hawks', 'gwen', raw='{'); eq((a.status, a.word), (400, 'torn_page'))

@fault('paths_pointer', 'errors', 'error payload shapes', 'service', 'Places are told as pointers.')
def _(s): a = s.post('/hawks', s.bird(diet={'kind': 'cut', 'meat': 'beef', 'grams': 1})); eq(a.j['flaws'][0]['path'], 'diet.grams')

@fault('first_flaw_only', 'errors', 'error payload shapes', 'service', 'Only the first of several flaws is told.')
def _(s): eq(len(s.post('/hawks', s.bird(name='', weight_g=1)).j['flaws']), 2)

@fault('no_trace_told', 'errors', 'error payload shapes', 'service', 'A refusal does not tell its trace.')
def _(s): assert s.get('/hawks/hwk-0').j['refusal'].get('trace')

@fault('kin_wrong', 'errors', 'error payload shapes', 'service', 'Refusals because of a state are said to be of another kin.')
def _(s): f = s.flight(s.hawk()); eq(s.post(f"/flights/{f['id']}/land").j['refusal']['kin'], 'state')

@fault('no_word_header', 'errors', 'error payload shapes', 'service', 'Refusals lack the header field with the word.')
def _(s): eq(s.get('/hawks/hwk-0').h.get('mews-word'), 'no_such')

@fault('no_trace', 'endpoints', 'response payload shapes', 'GET /chambers', 'Answers lack the header field with the trace.')
def _(s): assert s.get('/chambers').h.get('mews-trace')

# ------------------------------------------------------------------ limits

def many(s, n, who='bram', path='/book/haggard/chambers/Z1', method='GET', body=None):
    c = http.client.HTTPConnection('127.0.0.1', s.port, timeout=20); out = []
    for _ in range(n):
        h = s.head(who)
        if body: h['Content-Type'] = 'application/json'
        c.request(method, path, body, h); r = c.getresponse(); r.read(); out.append(r)
    c.close(); return out

@fault('rate_one_more', 'limits', 'rate limits', 'service', 'One request more than stated is let through.')
def _(s): r = many(s, 301); eq((r[299].status, r[300].status), (404, 429))

@fault('rate_never_again', 'limits', 'rate limits', 'service', 'Once used up the rate stays so.')
def _(s): eq(many(s, 301)[300].status, 429); s.go('PT61S'); eq(many(s, 1)[0].status, 404)

@fault('no_retry_after', 'limits', 'rate limits', 'service', 'A refusal by a rate does not say when to come again.')
def _(s): r = many(s, 301)[300]; eq(r.status, 429); assert 1 <= int(r.getheader('Retry-After')) <= 60

@fault('left_missing', 'limits', 'rate limits', 'service', 'Answers do not tell how many requests are left.')
def _(s): r = many(s, 1)[0]; eq((r.getheader('Mews-Calls'), r.getheader('Mews-Calls-Left')), ('300', '299'))

@fault('no_weighing_rate', 'limits', 'rate limits', 'service', 'Weighings have no rate of their own.')
def _(s):
    h = s.hawk(); r = many(s, 61, 'ada', f"/book/haggard/hawks/{h['id']}/weighings", 'POST', '{"grams":800}'); eq((r[59].status, r[60].status), (201, 429))

@fault('no_at_once', 'limits', 'rate limits', 'at once', 'Any number of requests may be under way.')
def _(s):
    open_ = []
    for _ in range(24):
        c = socket.create_connection(('127.0.0.1', s.port)); h = s.head('bram')
        c.sendall(('POST /book/haggard/hawks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 90\r\n' + ''.join(f'{k}: {v}\r\n' for k, v in h.items()) + '\r\n').encode()); open_.append(c)
    time.sleep(.6); st = s.get('/chambers', 'bram').status
    for c in open_: c.close()
    eq(st, 429)

@fault('body_longer', 'limits', 'size limits', 'service', 'Bodies may be twice as long.')
def _(s): eq(s.req('POST', '/hawks', 'ada', raw=json.dumps(s.bird()).ljust(4097)).status, 413); eq(s.req('POST', '/hawks', 'ada', raw=json.dumps(s.bird()).ljust(4096)).status, 201)

@fault('url_longer', 'limits', 'size limits', 'service', 'Addresses may be twice as long.')
def _(s): eq(s.get('/hawks?called=' + 'x' * 1010).status, 413)

@fault('quota_one_less', 'limits', 'quotas', 'service', 'The quota ends one flight too early.')
def _(s):
    h = s.hawk(); s.to(s.now()[:10] + 'T23:59:59Z'); s.go('PT1H'); r = []
    for i in range(61): r.append(s.post('/flights', s.plan(h, start=300 + i * 60)).status)
    eq((r[59], r[60]), (201, 403))

@fault('quota_forever', 'limits', 'quotas', 'service', 'The quota does not begin anew with the day.')
def _(s):
    h = s.hawk(); r = []
    for i in range(61): r.append(s.post('/flights', s.plan(h, start=300 + i * 60)).status)
    s.to(s.now()[:10] + 'T23:59:59Z'); s.go('PT1H'); eq(s.post('/flights', s.plan(h)).status, 201)

@fault('one_more_listener', 'limits', 'quotas', 'rows of listener', 'One listener too many may be made.')
def _(s): eq([s.post('/listeners', {'url': 'http://127.0.0.1:9/x'}, 'finn').status for _ in range(7)], [201] * 6 + [403])

@fault('take_clamped', 'limits', 'pagination bounds', 'GET /hawks', 'A size above the greatest is cut down.')
def _(s): a = s.get('/hawks?take=41'); eq((a.status, a.word), (400, 'off_the_book'))

@fault('weighings_refuse', 'limits', 'pagination bounds', 'GET /hawks/{hawk}/weighings', 'A size above the greatest is refused.')
def _(s): h = s.hawk(); eq(s.get(f"/hawks/{h['id']}/weighings?take=21").status, 200)

@fault('page_default', 'limits', 'pagination bounds', 'GET /chambers', 'A page has twenty rows where none are asked for.')
def _(s):
    for _ in range(11): s.chamber()
    eq(len(s.get('/chambers').j['rows']), 10)

@fault('total_of_page', 'limits', 'pagination bounds', 'GET /flights', 'The total is that of the page.')
def _(s): h = s.hawk(); s.flight(h); s.flight(h, start=900); eq(s.get(f"/flights?hawk={h['id']}&take=1").j['of_all'], 2)

@fault('total_of_all', 'limits', 'pagination bounds', 'GET /hawks', 'The total counts what its reader does not see.')
def _(s): c = s.chamber(); s.hawk(chamber=c); s.hawk('bram', chamber=c); eq(s.get('/hawks?chamber=' + c).j['of_all'], 1)

@fault('more_at_end', 'limits', 'pagination bounds', 'GET /species', 'The last page says that there is more.')
def _(s): eq(s.get('/species?take=2&skip=2', None).j['more'], False)

@fault('no_links', 'limits', 'pagination bounds', 'GET /species', 'Lists have no Link to the next page.')
def _(s): assert '</book/haggard/species?take=2&skip=2>; rel="next"' in s.get('/species?take=2', None).h.get('link', '')

@fault('after_again', 'limits', 'pagination bounds', 'GET /hawks/{hawk}/weighings', 'The page after a row begins with that row.')
def _(s): h = s.hawk(); s.weigh(h); w = s.weigh(h); eq([r['number'] for r in s.get(f"/hawks/{h['id']}/weighings?after={w['id']}").j], [1])

# ------------------------------------------------------------------ versioning

@fault('eyas_new_word', 'versioning', 'version identifiers', 'service', 'The older edition has the new name of the weight.')
def _(s): h = s.hawk(); j = s.get('/hawks/' + h['id'], ver='eyas').j; assert j.get('weight') == 900 and 'weight_g' not in j

@fault('eyas_lightest', 'versioning', 'version identifiers', 'service', 'The older edition shows a field that was added later.')
def _(s): h = s.hawk(); s.weigh(h); assert 'lightest_g' not in s.get('/hawks/' + h['id'], ver='eyas').j

@fault('eyas_no_hood', 'versioning', 'version identifiers', 'service', 'The older edition lacks a field that was removed later.')
def _(s): h = s.hawk(); eq(s.get('/hawks/' + h['id'], ver='eyas').j.get('hood'), 'plain')

@fault('grams_unmapped', 'versioning', 'version identifiers', 'service', 'The older edition weighs in grams.')
def _(s): h = s.hawk(); w = s.weigh(h, grams=850); eq(s.get('/weighings/' + w['id'], ver='eyas').j['grams'], 0.85)

@fault('eyas_called_off', 'versioning', 'version identifiers', 'service', 'The older edition shows the new word of a state.')
def _(s): f = s.flight(s.hawk()); s.post(f"/flights/{f['id']}/call-off", {'reason': 'fog'}); eq(s.get('/flights/' + f['id'], ver='eyas').j['status'], 'cancelled')

@fault('eyas_filter', 'versioning', 'version identifiers', 'service', 'The older edition filters by the new word of a state.')
def _(s):
    h = s.hawk(); f = s.flight(h); s.post(f"/flights/{f['id']}/call-off", {'reason': 'fog'})
    a = s.get(f"/flights?hawk={h['id']}&status=cancelled", ver='eyas'); eq(a.status, 200); eq(len(a.j['rows']), 1)

@fault('flaw_new_word', 'versioning', 'version identifiers', 'service', 'Flaws are told in the words of the newest edition.')
def _(s): a = s.post('/hawks', s.bird(weight_g=...), ver='eyas'); eq([x['path'] for x in a.j['flaws']], ['weight'])

@fault('event_new_words', 'versioning', 'version identifiers', 'service', 'A listener of the older edition is told in the words of the newer one.')
def _(s): k = s.ear(ver='eyas'); s.weigh(s.hawk(), grams=850); eq(k.wait(), 1); eq(k.got[0][2]['what']['grams'], 0.85)

@fault('eyas_outings', 'versioning', 'version identifiers', 'service', 'The older edition has an endpoint that was added later.')
def _(s): eq(s.get(f"/hawks/{s.hawk()['id']}/flights", ver='eyas').status, 404)

@fault('no_edition_current', 'versioning', 'version selection', 'service', 'A path without its edition is served.')
def _(s): a = s.get('//book/chambers'); eq((a.status, a.word), (400, 'no_edition'))

@fault('any_edition_current', 'versioning', 'version selection', 'service', 'An edition that there is not is taken for the current one.')
def _(s): a = s.get('//book/kite/chambers'); eq((a.status, a.word), (400, 'no_edition'))

@fault('no_deprecation', 'versioning', 'deprecation rules', 'eyas', 'The older edition does not say that it is deprecated.')
def _(s): a = s.get('/chambers', ver='eyas'); eq(a.h.get('deprecation'), '@1772323200'); assert 'sunset' in a.h

@fault('sunset_never', 'versioning', 'deprecation rules', 'eyas', 'The older edition is served after its end.')
def _(s): s.to('2027-09-01T00:00:01Z'); a = s.get('/chambers', ver='eyas'); eq((a.status, a.word), (410, 'old_edition'))


# ------------------------------------------------------------------ the run

def meets(fn, s):
    try: fn(s); return True, ''
    except Exception as e: return False, f'{type(e).__name__} {str(e)[:300]}'


def write():
    doc = dict(command=['sh', 'run.sh'], document='service.yaml', name='Mews', callers=CALLERS,
               faults=[dict(id=i, part=p, kind=k, subject=su, bug=b) for i, p, k, su, b, _ in FAULTS])
    with open(os.path.join(HERE, 'stranger.json'), 'w') as f: json.dump(doc, f, indent=1); f.write('\n')
    print(len(FAULTS), 'faults')


def main():
    if '--write' in sys.argv: return write()
    only = [a for a in sys.argv[1:] if not a.startswith('-')]
    todo = [f for f in FAULTS if not only or f[0] in only]
    assert len({f[0] for f in FAULTS}) == len(FAULTS), 'an identifier is there twice'
    bad = []
    lock, work = threading.Lock(), queue.Queue()
    for f in todo: work.put(f)
    def worker():
        right, used = None, 0
        while True:
            try: i, p, k, su, b, fn = work.get_nowait()
            except queue.Empty: break
            try:
                names, consts = fn.__code__.co_names, str(fn.__code__.co_consts)
                fresh = 'many' in names or 'ear' in names or 'listen' in names or '/listeners' in consts or k == 'quotas'
                if right is None or used >= 12 or fresh and used:
                    if right: right.close()
                    right, used = Mews(), 0
                used += 1
                before = right.now()
                ok, why = meets(fn, right)
                if ok and right.now()[:10] != before[:10]: used = 99
                if used < 99: right.go('PT61S')
                if fresh: used = 99
                wrong = Mews(i)
                try: held, _ = meets(fn, wrong)
                finally: wrong.close()
                with lock:
                    if not ok: bad.append(i); print(f'{i}: the right service does not meet it: {why}', flush=True)
                    if held: bad.append(i); print(f'{i}: the fault does not show', flush=True)
            except Exception as e:
                with lock: bad.append(i); print(f'{i}: {type(e).__name__} {e}', flush=True)
        if right: right.close()
    threads = [threading.Thread(target=worker) for _ in range(2)]
    for t in threads: t.start()
    for t in threads: t.join()
    print(f'{len(todo)} faults, {len(todo) - len(set(bad))} shown and met by the right service' + (f', {len(set(bad))} not: ' + ' '.join(sorted(set(bad))) if bad else ''))
    sys.exit(1 if bad else 0)


if __name__ == '__main__': main()
