#!/usr/bin/env python3
"""A proof for each fault: it holds against the correct service and fails against the one with the fault.
   python3 faults-test.py [ID ...]"""
import base64, datetime, hashlib, hmac, http.client, json, os, shutil, socket, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
SECRET = b'tideline-development-secret-of-32+'
b64 = lambda b: base64.urlsafe_b64encode(b).rstrip(b'=').decode()
def token(sub, role, secret=SECRET, **more):
    c = {'iss': 'https://id.tideline.example', 'aud': 'tideline', 'sub': sub, 'role': role, 'exp': 4102444800}; c.update(more)
    h = b64(b'{"alg":"HS256","typ":"JWT"}') + '.' + b64(json.dumps(c, separators=(',', ':')).encode())
    return h + '.' + b64(hmac.new(secret, h.encode(), hashlib.sha256).digest())
S1, S2, W1, W2 = token('surv-1', 'surveyor'), token('surv-2', 'surveyor'), token('ward-1', 'warden'), token('ward-2', 'warden')
EXPIRED = token('surv-1', 'surveyor', exp=1704067200)
FORGED = token('surv-1', 'surveyor', secret=b'some other secret, not the one it is')
OTHER = token('surv-1', 'surveyor', aud='elsewhere')
OLD = {'Tideline-Version': '2025-03-01'}

def free():
    l = [socket.socket() for _ in range(2)]
    for s in l: s.bind(('127.0.0.1', 0))
    p = [s.getsockname()[1] for s in l]
    for s in l: s.close()
    return p

class R:
    def __init__(self, r):
        self.status, self.h, raw = r.status, {k.lower(): v for k, v in r.getheaders()}, r.read()
        self.raw = raw
        try: self.j = json.loads(raw) if raw else None
        except ValueError: self.j = None
    def __getattr__(self, n):
        if n == 'd': return self.j['data']
        if n == 'code': return (self.j or {}).get('code')
        raise AttributeError(n)

class Svc:
    def __init__(self, classes, fault=None):
        self.n = 0
        while not self.start(classes, fault): self.stop() # another process took the port meanwhile
    def start(self, classes, fault):
        self.port, self.cp = free()
        self.p = subprocess.Popen(['java', '-XX:TieredStopAtLevel=1', '-cp', classes, 'Service', '--port', str(self.port), '--clock-port', str(self.cp)] + (['--fault', fault] if fault else []), stdout=subprocess.DEVNULL)
        for _ in range(300):
            if self.p.poll() is not None: return False
            try: socket.create_connection(('127.0.0.1', self.cp), 1).close(); return True
            except OSError: time.sleep(0.05)
        return False
    def stop(self): self.p.kill(); self.p.wait()
    def __call__(self, m, path, tok=None, body=None, h=None, base='/api', raw=None, chunked=False):
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=20); hd = dict(h or {})
        if tok: hd['Authorization'] = 'Bearer ' + tok
        if body is not None: raw = json.dumps(body).encode()
        if raw is not None: hd.setdefault('Content-Type', 'application/json')
        c.request(m, base + path, body=iter([raw]) if chunked else raw, headers=hd, encode_chunked=chunked)
        r = R(c.getresponse()); c.close(); return r
    def clock(self, **b):
        c = http.client.HTTPConnection('127.0.0.1', self.cp, timeout=20); c.request('POST' if b else 'GET', '/', body=json.dumps(b) if b else None)
        return datetime.datetime.fromisoformat(json.loads(c.getresponse().read())['now'].replace('Z', '+00:00'))
    def at(self, **d): return (self.clock() + datetime.timedelta(**d)).strftime('%Y-%m-%dT%H:%M:%SZ')
    def site(self, tok=W1, **b):
        self.n += 1; return self('POST', '/sites', tok, {'name': f'Site {self.n:03}', 'region': 'north', **b}).d
    def survey(self, tok=S1, site=None, h=None, **b):
        site = site or self.site()['id']
        r = self('POST', '/surveys', tok, {'site': site, 'title': 'Walk', 'lengthM': 500, 'dueAt': self.at(days=5), 'method': 'sweep', **b}, h=h)
        assert r.status == 201, r.raw
        return r.d
    def move(self, s, what, tok=S1, body=None, h=None): return self('POST', f"/surveys/{s['id']}/{what}", tok, body, h=h)
    def under(self, tok=S1, **b): s = self.survey(tok, **b); assert self.move(s, 'start', tok).status == 200; return s
    def submitted(self, **b): s = self.under(**b); assert self.move(s, 'submit').status == 200; return s
    def read(self, s, tok=S1, h=None): return self('GET', '/surveys/' + s['id'], tok, h=h)
    def patch(self, s, b, tok=S1, match='*', h=None): return self('PATCH', '/surveys/' + s['id'], tok, b, h={'If-Match': match, **(h or {})})
    def find(self, s, tok=S1, **b): return self('POST', f"/surveys/{s['id']}/finds", tok, {'kind': 'rope', **b})
    def stream(self, tok, last=None, wait=0.7, then=None, h=None):
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=wait)
        c.request('GET', '/api/stream', headers={'Authorization': 'Bearer ' + tok, **({'Last-Event-ID': last} if last else {}), **(h or {})})
        r = c.getresponse(); out, buf = [], b''
        assert r.status == 200
        if then: then()
        try:
            while True:
                b = r.read1(65536)
                if not b: break
                buf += b
        except (TimeoutError, socket.timeout): pass
        c.close()
        for part in buf.decode().split('\n\n'):
            lines = dict(l.split(': ', 1) for l in part.split('\n') if ': ' in l and not l.startswith(':'))
            if 'data' in lines: out.append((lines['id'], lines['event'], json.loads(lines['data'])['data']))
        return out

P = {}
def proof(part, kind, subject, bug):
    def deco(fn): P[fn.__name__.replace('_', '-')] = (part, kind, subject, bug, fn); return fn
    return deco
ids = lambda r: [x['id'] for x in r.d]

def both(act, n):
    out = []; ts = [threading.Thread(target=lambda i=i: out.append(act(i))) for i in range(n)]; [t.start() for t in ts]; [t.join() for t in ts]; return out

# ---- purpose
@proof('purpose', 'base address', 'service', 'The endpoints are also served at the root, without the path of the base address.')
def also_without_base(s): return s('GET', '/sites', W1, base='').status == 404 and s('GET', '/sites', W1).status == 200
@proof('purpose', 'functions', 'service', 'A survey cannot be deleted: the endpoint was never wired.')
def delete_survey_unwired(s): return s('DELETE', '/surveys/' + s.survey()['id'], S1).status == 204
@proof('purpose', 'users', 'service', 'Only one warden is known; every other one is turned away as unknown.')
def second_warden_unknown(s): return s('POST', '/sites', W2, {'name': 'Aa', 'region': 'east'}).status == 201
# ---- resources
@proof('resources', 'identifiers', 'find', 'From the fourth find on, identifiers are short counters instead of random texts.')
def find_id_counts(s):
    v = s.under(); return all(len(s.find(v, kind=k).d['id']) == 16 for k in ('rope', 'glass', 'timber', 'other'))
@proof('resources', 'field names', 'survey', 'From the second page on, rows carry an internal counter.')
def second_page_extra(s):
    site = s.site()['id']
    for _ in range(3): s.survey(site=site)
    p = s('GET', '/surveys?limit=2', S1); q = s('GET', '/surveys?limit=2&cursor=' + p.j['nextCursor'], S1)
    return set(q.d[0]) == set(p.d[0])
@proof('resources', 'field names', 'site', 'A field that a site does not have is swallowed by PATCH instead of refused.')
def unknown_field_swallowed(s): return s('PATCH', '/sites/' + s.site()['id'], W1, {'colour': 'red'}).code == 'invalid'
@proof('resources', 'types', 'survey.lengthM', 'The bounds of the length are checked on create, not on update.')
def length_patched_freely(s): return s.patch(s.survey(), {'lengthM': 5001}).code == 'invalid'
@proof('resources', 'formats', 'survey.gateCode', 'The pattern of the gate code is searched for, not matched, so longer codes pass.')
def gate_code_partial(s):
    site = s.site()['id']; return s('POST', '/surveys', S1, {'site': site, 'title': 'a', 'lengthM': 50, 'dueAt': s.at(days=1), 'gateCode': '12345'}).code == 'invalid'
@proof('resources', 'field names', 'survey', 'The write-only gate code is echoed in the answer of an update.')
def gate_code_echoed(s): return 'gateCode' not in s.patch(s.survey(gateCode='1234'), {'title': 'B'}).d
@proof('resources', 'required flags', 'survey.title', 'PATCH with null takes the required title away.')
def title_removable(s): return s.patch(s.survey(), {'title': None}).code == 'invalid'
@proof('resources', 'required flags', 'survey.shared', 'What is created in the older version lacks the default of a field that version does not have.')
def old_create_lacks_default(s):
    site = s.site()['id']; r = s('POST', '/surveys', S1, {'site': site, 'title': 'a', 'length': 50, 'dueAt': s.at(days=1)}, h=OLD)
    return s.read(r.d).d.get('shared') is False
@proof('resources', 'allowed values', 'find.kind', 'Kinds are taken in any case and stored as sent.')
def kind_any_case(s): return s.find(s.under(), kind='Rope').code == 'invalid'
@proof('resources', 'types', 'survey.site', 'The immutable site of a survey can be changed while it is planned.')
def site_changes(s): v = s.survey(); return s.patch(v, {'site': s.site()['id']}).code == 'invalid'
@proof('resources', 'types', 'survey.updatedAt', 'The time of the last change is not renewed by transitions.')
def updated_at_forgets_moves(s):
    v = s.survey(); s.clock(advance='PT1H'); return s.move(v, 'start').d['updatedAt'] > v['updatedAt'] and s.read(v).d['updatedAt'] > v['updatedAt']
@proof('resources', 'types', 'survey.shareKey', 'A replay under an idempotency key shows the key that is to be revealed once.')
def replay_reveals(s):
    b = {'site': s.site()['id'], 'title': 'a', 'lengthM': 50, 'dueAt': s.at(days=1)}; a = s('POST', '/surveys', S1, b, h={'Idempotency-Key': 'k1'}); c = s('POST', '/surveys', S1, b, h={'Idempotency-Key': 'k1'})
    return a.d['id'] == c.d['id'] and 'shareKey' in a.d and 'shareKey' not in c.d
@proof('resources', 'field names', 'site', 'Lists of sites show the note for wardens to everybody.')
def note_in_lists(s): s.site(wardenNote='adders'); return 'wardenNote' not in s('GET', '/sites', S1).d[0] and 'wardenNote' in s('GET', '/sites', W1).d[0]
@proof('resources', 'types', 'find.survey', 'The finds of a deleted survey stay.')
def finds_orphaned(s):
    v = s.under(); f = s.find(v).d; s.move(v, 'withdraw'); d = s('DELETE', '/surveys/' + v['id'], S1); return d.status == 204 and s('GET', '/finds/' + f['id'], W1).status == 404
# ---- states
@proof('states', 'states', 'survey', 'A state that is sent on create is taken.')
def status_writable(s): return s.survey(status='accepted')['status'] == 'planned'
@proof('states', 'transitions', 'survey', 'A survey of exactly 100 m is submitted instead of accepted at once.')
def short_is_below_100(s): v = s.under(lengthM=100); return s.move(v, 'submit').d['status'] == 'accepted'
@proof('states', 'transitions', 'survey', 'A submitted survey can still be withdrawn.')
def withdraw_submitted(s): return s.move(s.submitted(), 'withdraw').status == 409
@proof('states', 'transitions', 'survey', 'The lapse goes by the due time of creation, though it was put off since.')
def lapse_first_date(s):
    v = s.survey(); s.patch(v, {'dueAt': s.at(days=20)}); s.clock(advance='P6D'); a = s.read(v).d['status']; s.clock(advance='P15D'); return (a, s.read(v).d['status']) == ('planned', 'lapsed')
@proof('states', 'transitions', 'survey', 'The seven days until a survey settles are counted from its creation.')
def settle_from_creation(s):
    v = s.under(); s.clock(advance='P4D'); s.move(v, 'submit'); s.clock(advance='P4D'); a = s.read(v).d['status']; s.clock(advance='P4D'); return (a, s.read(v).d['status']) == ('submitted', 'accepted')
@proof('states', 'transitions', 'survey', 'A survey that was returned starts again without the guard on its method.')
def second_start_unguarded(s):
    v = s.under(); s.patch(v, {'method': None}); s.move(v, 'submit'); s.move(v, 'return', W1, {'reason': 'again'}); return s.move(v, 'start').code == 'methodMissing'
@proof('states', 'transitions', 'survey', 'A returned survey can be updated, though only planned ones and those underway may be.')
def returned_editable(s):
    v = s.submitted(); s.move(v, 'return', W1, {'reason': 'again'}); return s.patch(v, {'title': 'x'}).code == 'wrongState'
# ---- endpoints
@proof('endpoints', 'methods', 'service', 'PUT on a site works as PATCH does.')
def put_as_patch(s): return s('PUT', '/sites/' + s.site()['id'], W1, {'region': 'south'}).status == 405
@proof('endpoints', 'path shapes', 'service', 'Paths with a slash at their end are served as well.')
def trailing_slash(s): return s('GET', '/surveys/', S1).status == 404
@proof('endpoints', 'parameters', 'GET /sites', 'The name filter finds names that contain the text, not only those that begin with it.')
def name_contains(s): s.site(name='East Sands'); s.site(name='Sands'); return [x['name'] for x in s('GET', '/sites?name=Sands').d] == ['Sands']
@proof('endpoints', 'parameters', 'GET /surveys', 'The status filter is forgotten from the second page on.')
def filter_first_page_only(s):
    t = s.site()['id']
    for k in range(6): v = s.survey(site=t); k % 2 and s.move(v, 'start')
    p = s('GET', '/surveys?status=planned&limit=2', S1); q = s('GET', '/surveys?status=planned&limit=2&cursor=' + p.j['nextCursor'], S1); return [x['status'] for x in q.d] == ['planned']
@proof('endpoints', 'parameters', 'GET /surveys', 'Sorting by length compares digits as text.')
def length_sorted_as_text(s):
    t = s.site()['id']
    for n in (900, 1000, 50): s.survey(site=t, lengthM=n)
    return [x['lengthM'] for x in s('GET', '/surveys?sort=lengthM', S1).d] == [50, 900, 1000]
@proof('endpoints', 'parameters', 'GET /surveys', 'The filter by least length leaves out the length itself.')
def min_length_above(s): s.survey(lengthM=300); return len(s('GET', '/surveys?minLength=300', S1).d) == 1
@proof('endpoints', 'parameters', 'GET /surveys', 'Due times of another offset are compared as text.')
def due_before_as_text(s):
    t = s.clock() + datetime.timedelta(days=3); d = t.strftime('%Y-%m-%d'); s.survey(dueAt=d + 'T23:30:00+05:00'); return len(s('GET', f'/surveys?dueBefore={d}T20:00:00Z', S1).d) == 1
@proof('endpoints', 'parameters', 'GET /surveys/{survey}/finds', 'A query parameter that is not there is ignored on the list of finds.')
def stray_parameter(s): return s('GET', f"/surveys/{s.survey()['id']}/finds?colour=red", S1).code == 'badParameter'
@proof('endpoints', 'request payload shapes', 'POST /surveys/{id}/return', 'A reason of one letter is enough.')
def reason_may_be_short(s): return s.move(s.submitted(), 'return', W1, {'reason': 'x'}).code == 'invalid'
@proof('endpoints', 'response payload shapes', 'POST /surveys/{id}/return', 'The answer of return lacks its envelope.')
def returned_bare(s): return s.move(s.submitted(), 'return', W1, {'reason': 'again'}).j.get('data', {}).get('status') == 'returned'
@proof('endpoints', 'response payload shapes', 'POST /surveys', 'Location leaves out the path of the base address.')
def location_without_base(s):
    b = {'site': s.site()['id'], 'title': 'a', 'lengthM': 50, 'dueAt': s.at(days=1)}; r = s('POST', '/surveys', S1, b); return r.h['location'] == '/api/surveys/' + r.d['id']
@proof('endpoints', 'response payload shapes', 'GET /surveys/{id}', 'The ETag is made of the time of the last change to the minute, so two changes in one minute share it.')
def etag_of_date_seconds(s): v = s.survey(); a = s.read(v).h['etag']; s.patch(v, {'title': 'B'}); return s.read(v).h['etag'] != a and s.patch(v, {'title': 'C'}, match=a).status == 412
@proof('endpoints', 'parameters', 'POST /surveys', 'Idempotency keys are shared by all callers, so one gets the answer of another.')
def keys_shared(s):
    b = {'site': s.site()['id'], 'title': 'a', 'lengthM': 50, 'dueAt': s.at(days=1)}; a, c = (s('POST', '/surveys', t, b, h={'Idempotency-Key': 'k'}) for t in (S1, S2)); return a.d['id'] != c.d['id'] and c.d['surveyor'] == 'surv-2'
@proof('endpoints', 'parameters', 'POST /surveys', 'Two requests with one idempotency key at the same time both create.')
def keys_raced(s):
    b = {'site': s.site()['id'], 'title': 'a', 'lengthM': 50, 'dueAt': s.at(days=1)}; out = []
    ts = [threading.Thread(target=lambda: out.append(s('POST', '/surveys', S1, b, h={'Idempotency-Key': 'k'}).j)) for _ in range(4)]
    [t.start() for t in ts]; [t.join() for t in ts]; return len(s('GET', '/surveys', S1).d) == 1
# ---- authentication
@proof('authentication', 'token formats', 'token', 'Tokens that have expired are good.')
def expired_accepted(s): return s('GET', '/surveys', EXPIRED).status == 401 and s('GET', '/surveys', FORGED).status == 401
@proof('authentication', 'token formats', 'token', 'Tokens for another audience are good.')
def audience_unchecked(s): return s('GET', '/surveys', OTHER).status == 401
@proof('authentication', 'schemes', 'service', 'Where anyone may, a bad token passes for none at all.')
def bad_token_anonymous(s): return s('GET', '/sites', FORGED).status == 401 and s('GET', '/sites').status == 200
@proof('authentication', 'permission rules', 'delete find', 'Any surveyor may delete finds of a survey that is shared.')
def shared_finds_deletable(s): f = s.find(s.under(shared=True)).d; return s('DELETE', '/finds/' + f['id'], S2).status == 403
@proof('authentication', 'permission rules', 'list survey', 'Filtered by site, the list shows the surveys of everybody.')
def site_filter_leaks(s): t = s.site()['id']; s.survey(site=t); return s('GET', '/surveys?site=' + t, S2).d == [] and s('GET', '/surveys', S2).d == []
@proof('authentication', 'permission rules', 'read survey', 'A survey that was shared once can be read for good.')
def unshare_forgotten(s): v = s.survey(shared=True); a = s.read(v, S2).status; s.patch(v, {'shared': False}); return (a, s.read(v, S2).status) == (200, 404)
# ---- events
@proof('events', 'emitting operations', 'survey.lapsed', 'A lapse by the clock emits nothing.')
def lapse_silent(s): return 'survey.lapsed' in [e[1] for e in s.stream(S1, then=lambda: (s.survey(), s.clock(advance='P6D')))]
@proof('events', 'emitting operations', 'survey.accepted', 'A short survey that is accepted by its submission emits nothing.')
def short_accept_silent(s): return 'survey.accepted' in [e[1] for e in s.stream(S1, then=lambda: s.submitted(lengthM=50))]
@proof('events', 'emitting operations', 'survey.changed', 'A PATCH that changes nothing counts as a change, and emits.')
def idle_patch_counts(s): v = s.survey(); return [e[1] for e in s.stream(S1, then=lambda: s.patch(v, {'title': 'Walk'}))] == [] and s.read(v).d['updatedAt'] == v['updatedAt']
@proof('events', 'emitting operations', 'site.closed', 'A site that is closed already is announced again with every update.')
def closed_again(s): t = s.site(open=False); return s.stream(S1, then=lambda: s('PATCH', '/sites/' + t['id'], W1, {'region': 'west'})) == []
@proof('events', 'emitting operations', 'find.mass', 'The event of a mass find starts at 501 instead of 500.')
def mass_from_501(s): v = s.under(); return [e[1] for e in s.stream(S1, then=lambda: s.find(v, count=500))] == ['find.mass']
@proof('events', 'delivery mechanism', 'service', 'Changes of anybody’s surveys are streamed to all surveyors.')
def stream_of_all(s): v = s.survey(); return s.stream(S2, then=lambda: s.patch(v, {'title': 'B'})) == []
@proof('events', 'delivery mechanism', 'service', 'A stream that is resumed leaves out the first event after the one it names.')
def resume_skips_one(s):
    got = s.stream(S1, then=lambda: [s.survey() for _ in range(3)]); return [e[0] for e in s.stream(S1, last=got[0][0])] == [e[0] for e in got[1:]] and len(got) == 3
@proof('events', 'payload shapes', 'survey.accepted', 'The payload shows the score to surveyors.')
def event_shows_score(s): v = s.submitted(); return 'score' not in s.stream(S1, then=lambda: s.move(v, 'accept', W1, {'score': 2}))[0][2]['survey']
@proof('events', 'emitting operations', 'survey.changed', 'An update of the due time that is refused is announced all the same.')
def refused_update_emits(s): v = s.survey(); return s.stream(S1, then=lambda: s.patch(v, {'dueAt': s.at(hours=-1)})) == []
# ---- errors
@proof('errors', 'error payload shapes', 'service', 'What is missing is told as application/json.')
def missing_as_json(s): return s('GET', '/surveys/none', S1).h['content-type'] == 'application/problem+json'
@proof('errors', 'status codes', 'stale', 'A failed precondition is 409 instead of 412.')
def stale_is_conflict(s): return s.patch(s.survey(), {'title': 'B'}, match='"x"').status == 412
@proof('errors', 'conditions', 'stale', 'If-Match on a site is ignored.')
def if_match_ignored(s): t = s.site(); return s('PATCH', '/sites/' + t['id'], W1, {'region': 'west'}, h={'If-Match': '"x"'}).status == 412
@proof('errors', 'conditions', 'tooLate', 'A withdrawal that comes too late gets the general code.')
def too_late_unnamed(s): return s.move(s.submitted(), 'withdraw').code == 'tooLate'
@proof('errors', 'conditions', 'dueInPast', 'A due time in the past is refused on create alone.')
def due_past_on_update(s): return s.patch(s.survey(), {'dueAt': s.at(hours=-1)}).code == 'dueInPast'
@proof('errors', 'conditions', 'invalid', 'A survey for a site that there is not is answered as if the endpoint’s own thing were missing.')
def missing_site_is_404(s): return s('POST', '/surveys', S1, {'site': 'ste_none', 'title': 'a', 'lengthM': 50, 'dueAt': s.at(days=1)}).status == 422
@proof('errors', 'conditions', 'notUnderway', 'Finds can be deleted after the survey was submitted.')
def finds_deleted_late(s): v = s.under(); f = s.find(v).d; s.move(v, 'submit'); return s('DELETE', '/finds/' + f['id'], S1).code == 'notUnderway'
@proof('errors', 'conditions', 'inUse', 'A site goes while withdrawn surveys stand on it.')
def held_by_live_only(s): t = s.site()['id']; s.move(s.survey(site=t), 'withdraw'); return s('DELETE', '/sites/' + t, W1).code == 'inUse'
@proof('errors', 'conditions', 'exists', 'A name that is taken can be given to a second site by an update.')
def name_taken_on_update(s): s.site(name='Aa'); return s('PATCH', '/sites/' + s.site(name='Bb')['id'], W1, {'name': 'Aa'}).code == 'exists'
@proof('errors', 'conditions', 'keyReused', 'A key that is used again for another body replays the first answer.')
def key_reuse_replays(s):
    s('POST', '/sites', W1, {'name': 'Aa', 'region': 'east'}, h={'Idempotency-Key': 'k'}); return s('POST', '/sites', W1, {'name': 'Bb', 'region': 'east'}, h={'Idempotency-Key': 'k'}).code == 'keyReused'
@proof('errors', 'conditions', 'notFound', 'A survey that the caller may not read is forbidden instead of missing.')
def foreign_is_forbidden(s): return s.read(s.survey(), S2).status == 404
@proof('errors', 'conditions', 'exists', 'Two sites of one name that are made at the same time are both made.')
def names_raced(s): return sorted(both(lambda i: s('POST', '/sites', W1, {'name': 'Aa', 'region': 'east'}).status, 3)) == [201, 409, 409]
@proof('errors', 'conditions', 'stale', 'Two updates with the same ETag at the same time both succeed.')
def if_match_raced(s): v = s.survey(); e = s.read(v).h['etag']; return sorted(both(lambda i: s.patch(v, {'title': f'T{i}'}, match=e).status, 3)) == [200, 412, 412]
# ---- limits
@proof('limits', 'pagination bounds', 'GET /surveys', 'A page above the maximum is cut down instead of refused.')
def page_clamped(s): return s('GET', '/surveys?limit=51', S1).code == 'badParameter' and s('GET', '/surveys?limit=50', S1).status == 200
@proof('limits', 'pagination bounds', 'GET /sites', 'Sites come twenty to a page by default.')
def sites_by_twenty(s):
    for t in (W1, W2): [s.site(t) for _ in range(6)]
    p = s('GET', '/sites'); return len(p.d) == 10 and p.j['hasMore'] is True
@proof('limits', 'pagination bounds', 'GET /surveys', 'A cursor of one query is taken by another.')
def cursor_of_any_query(s):
    t = s.site()['id']; [s.survey(site=t) for _ in range(3)]; p = s('GET', '/surveys?limit=2', S1); return s('GET', '/surveys?status=planned&limit=2&cursor=' + p.j['nextCursor'], S1).code == 'badParameter'
@proof('limits', 'rate limits', 'service', 'A caller may ask ten times as often as stated.')
def rate_off_by_much(s): return [s('GET', '/surveys?limit=1', S1).status for _ in range(402)].count(429) == 2
@proof('limits', 'rate limits', 'service', 'The rate of a caller is counted over all callers of its user.')
def rate_per_user(s): [s('GET', '/surveys?limit=1', S1) for _ in range(400)]; return s('GET', '/surveys', S2).status == 200 and s('GET', '/surveys', S1).status == 429
@proof('limits', 'rate limits', 'service', 'All wardens draw from one bucket.')
def bucket_of_everyone(s): [s('POST', '/sites', W1, {}) for _ in range(24)]; return s('POST', '/sites', W2, {'name': 'Aa', 'region': 'east'}).status == 201 and s('POST', '/sites', W1, {}).status in (422, 429)
@proof('limits', 'quotas', 'service', 'Surveys that are refused use the quota too.')
def quota_counts_refused(s):
    t = s.site()['id']; [s('POST', '/surveys', S1, {}) for _ in range(150)]; return s('POST', '/surveys', S1, {'site': t, 'title': 'a', 'lengthM': 50, 'dueAt': s.at(days=1)}).status == 201
@proof('limits', 'quotas', 'service', 'The quota of a day begins anew with the month only.')
def quota_per_month(s):
    t = s.site()['id']; b = {'site': t, 'title': 'a', 'lengthM': 50, 'dueAt': s.at(days=5)}; s.clock(now=s.at(days=1)[:10] + 'T00:00:10Z')
    if s.clock().day > 26: s.clock(advance='P7D'); b['dueAt'] = s.at(days=5)
    a = [s('POST', '/surveys', S1, b).status for _ in range(151)]; s.clock(advance='P1D'); return a[149:] == [201, 403] and s('POST', '/surveys', S1, b).status == 201
@proof('limits', 'size limits', 'service', 'A body that comes in chunks may be of any size.')
def chunked_unlimited(s):
    r = s('PATCH', '/sites/' + s.site()['id'], W1, raw=b'{"access":"x"' + b' ' * 20000 + b'}', chunked=True); return r.status == 413
@proof('limits', 'size limits', 'service', 'Addresses may be of any length.')
def url_unlimited(s): return s('GET', '/surveys?q=' + 'a' * 2100, S1).status == 413
# ---- versioning
@proof('versioning', 'version identifiers', 'service', 'Lists in the older version show the newer names.')
def old_list_is_new(s): s.survey(); r = s('GET', '/surveys', S1, h=OLD).d[0]; return 'length' in r and 'lengthM' not in r and 'shared' not in r
@proof('versioning', 'version identifiers', 'service', 'The older version reads the newer word for wood.')
def old_kind_read(s): f = s.find(s.under(), kind='timber').d; return s('GET', '/finds/' + f['id'], S1, h=OLD).d['kind'] == 'wood'
@proof('versioning', 'version identifiers', 'service', 'The older version has the endpoint that came later.')
def old_withdraw(s): return s.move(s.survey(), 'withdraw', h=OLD).status == 404
@proof('versioning', 'version identifiers', 'service', 'The stream of the older version carries the newer names.')
def old_stream_is_new(s): e = s.stream(S1, h=OLD, then=lambda: s.survey()); return 'length' in e[0][2] and 'lengthM' not in e[0][2]
@proof('versioning', 'version selection', 'service', 'A version that is not known passes for the current one.')
def version_unknown_passes(s): return s('GET', '/sites', W1, h={'Tideline-Version': '2024-01-01'}).code == 'badVersion'
@proof('versioning', 'deprecation rules', '2025-03-01', 'Refusals in the older version do not say that it is deprecated.')
def refusals_not_deprecated(s): return 'deprecation' in s('GET', '/surveys/none', S1, h=OLD).h and 'sunset' in s('GET', '/sites', h=OLD).h
@proof('versioning', 'deprecation rules', '2025-03-01', 'The older version is served after its sunset.')
def sunset_ignored(s): s.clock(now='2028-02-01T00:00:01Z'); return s('GET', '/sites', W1, h=OLD).status == 410 and s('GET', '/sites', W1).status == 200

def stranger():
    callers = [{'user': u, 'id': i, 'credential': t, 'scheme': 'token', 'scopes': []} for u, i, t in (('surveyor', 'surv-1', S1), ('surveyor', 'surv-2', S2), ('warden', 'ward-1', W1), ('warden', 'ward-2', W2))]
    callers += [{'user': 'surveyor', 'id': 'surv-1', 'credential': t, 'scheme': 'token', 'scopes': [], 'bad': b} for t, b in ((EXPIRED, 'expired'), (FORGED, 'forged'), (OTHER, 'audience'))]
    faults = [{'id': i, 'part': p[0], 'kind': p[1], 'subject': p[2], 'bug': p[3]} for i, p in P.items()]
    with open(os.path.join(HERE, 'stranger.json'), 'w') as out: json.dump({'command': ['java', '-XX:TieredStopAtLevel=1', 'service.java'], 'document': 'service.yaml', 'callers': callers, 'faults': faults}, out, indent=1, ensure_ascii=False)

if __name__ == '__main__':
    stranger(); want = sys.argv[1:] or list(P); bad = 0
    classes = tempfile.mkdtemp()
    subprocess.run(['javac', '-nowarn', '-d', classes, os.path.join(HERE, 'service.java')], check=True, stderr=subprocess.DEVNULL)
    def once(i, fault):
        s = Svc(classes, fault)
        try: return bool(P[i][4](s))
        except Exception as e: return f'{type(e).__name__}: {e}'
        finally: s.stop()
    try:
        for i in want:
            good, broken = once(i, None), once(i, i)
            ok = good is True and broken is not True
            if not ok or isinstance(broken, str): print(('ok  ' if ok else 'BAD ') + i, 'correct:', good, 'fault:', broken, flush=True)
            bad += not ok
    finally: shutil.rmtree(classes)
    print(f'{len(want) - bad} of {len(want)} proofs hold'); sys.exit(bad > 0)
