"""One proof by hand for each fault: true of the correct service, false of the faulty one. `python3 faults-test.py [FAULT ...]`"""
import hashlib, hmac, http.client, http.server, json, re, socket, subprocess, sys, threading, time

C1, C2, K1, GONE = 'hk_rowan7Qe2LmXa9Tz', 'hk_sorrel4Vb8NpYc3U', 'hk_thyme6Wd1KrZs5Ho', 'hk_umbel9Xf3JtAg7Iq'

def free():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]

class Box(http.server.ThreadingHTTPServer):
    """A receiver of webhooks; answers the statuses in `plan`, then 200."""
    def __init__(self, plan=()):
        self.got, self.plan = [], list(plan)
        box = self
        class H(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                raw = self.rfile.read(int(self.headers['Content-Length']))
                status = box.plan.pop(0) if box.plan else 200
                box.got.append((dict(self.headers), raw, json.loads(raw), status))
                self.send_response(status)
                self.send_header('Content-Length', '0')
                self.end_headers()
            def log_message(self, *a):
                pass
        super().__init__(('127.0.0.1', 0), H)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = 'http://127.0.0.1:%d/in' % self.server_address[1]
    def wait(self, n, most=2.0):
        end = time.time() + most
        while len(self.got) < n and time.time() < end:
            time.sleep(0.02)
        return self.got
    def kinds(self, n):
        self.wait(n)
        time.sleep(0.25)
        return [g[2]['what'] for g in self.got]

class S:
    def __init__(self, fault=''):
        self.port, self.cp = free(), free()
        self.p = subprocess.Popen([sys.executable, 'service.py', '--port', str(self.port), '--clock-port', str(self.cp)] + (['--fault', fault] if fault else []),
                                  stdout=subprocess.PIPE, text=True)
        self.p.stdout.readline()
        self.n = 0
    def stop(self):
        self.p.kill()
        self.p.wait()
        self.p.stdout.close()
    def call(self, method, path, key=C1, body=None, prefix='/herb', **headers):
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=10)
        h = {k.replace('_', '-'): v for k, v in headers.items()}
        if key:
            h['X-Herb-Key'] = key
        if body is not None and not isinstance(body, (bytes, list)) :
            body = json.dumps(body).encode()
        if body is not None:
            h.setdefault('Content-Type', 'application/json')
        c.request(method, prefix + path, body=body, headers=h, encode_chunked=isinstance(body, list)) if not isinstance(body, list) else \
            c.request(method, prefix + path, body=iter(body), headers={**h, 'Transfer-Encoding': 'chunked'}, encode_chunked=True)
        r = c.getresponse()
        raw = r.read()
        c.close()
        self.h = r.headers
        self.s, self.b = r.status, json.loads(raw) if raw else None
        return self.s, self.b
    def status(self, *a, **k):
        return self.call(*a, **k)[0]
    def body(self, *a, **k):
        return self.call(*a, **k)[1]
    def clock(self, **said):
        c = http.client.HTTPConnection('127.0.0.1', self.cp, timeout=30)
        c.request('POST', '/', body=json.dumps(said))
        r = c.getresponse()
        assert r.status == 200, r.status
        return json.loads(r.read())['now']
    def now(self):
        c = http.client.HTTPConnection('127.0.0.1', self.cp, timeout=30)
        c.request('GET', '/')
        return json.loads(c.getresponse().read())['now']
    def sheet(self, key=C1, **more):
        self.n += 1
        s, b = self.call('POST', '/sheets', key, {'label': 'Sheet %d' % self.n, 'field_no': 'A-%d' % self.n, **more})
        assert s == 201, (s, b)
        return b['no']
    def patch(self, no, body, key=C1, **h):
        if 'If_Match' not in h:
            self.call('GET', f'/sheets/{no}', key)
            h['If_Match'] = self.h.get('ETag', '"x"')
        return self.call('PATCH', f'/sheets/{no}', key, body, **h)
    def drawer(self, code='ABC-01', **more):
        s, b = self.call('POST', '/drawers', K1, {'code': code, 'title': 'T', **more})
        assert s == 201, (s, b)
        return code
    def hook(self, box, key=C1, **more):
        headers = {'Herb_Edition': more.pop('ed')} if 'ed' in more else {}
        s, b = self.call('POST', '/hooks', key, {'url': box.url, **more}, **headers)
        assert s == 201, (s, b)
        return b
    def cleared(self, key=C1, **more):
        no = self.sheet(key, **more)
        assert self.status('POST', f'/sheets/{no}/freeze', key) == 200
        self.clock(advance='PT72H1S')
        assert self.body('GET', f'/sheets/{no}', key)['stage'] == 'cleared'
        return no
    def stage(self, no, key=C1):
        return self.body('GET', f'/sheets/{no}', key)['stage']
    def both(self, one, two):
        """Two calls at once."""
        out = []
        def go(a):
            me = S.__new__(S)
            me.__dict__.update(self.__dict__)
            out.append(me.call(*a[0], **a[1]))
        ts = [threading.Thread(target=go, args=(a,)) for a in (one, two)]
        [t.start() for t in ts]
        [t.join() for t in ts]
        return sorted(o[0] for o in out), [o[1] for o in out]

P = {}
def proof(fn):
    P[fn.__name__.replace('_', '-')] = fn
    return fn

# ---- purpose
@proof
def hooks_without_prefix(s):
    h = s.call('POST', '/hooks', C1, {'url': 'http://127.0.0.1:9/x'})[1]['id']
    return s.status('DELETE', f'/hooks/{h}') == 204
@proof
def old_edition_collector(s):
    no = s.sheet()
    return s.status('GET', f'/sheets/{no}', K1, Herb_Edition='2025') == 200
@proof
def refreeze_missing(s):
    no = s.sheet(); s.call('POST', f'/sheets/{no}/freeze')
    return s.status('POST', f'/sheets/{no}/refreeze', K1) == 200

# ---- resources
@proof
def label_in_bytes(s):
    return s.status('POST', '/sheets', C1, {'label': 'é' * 40, 'field_no': 'B-1'}) == 201
@proof
def altitude_edge(s):
    return s.status('POST', '/sheets', C1, {'label': 'high', 'field_no': 'B-1', 'altitude_m': 6000}) == 201
@proof
def extra_on_replace(s):
    s.drawer()
    return s.status('PUT', '/drawers/ABC-01', K1, {'title': 'U', 'colour': 'red'}) == 422
@proof
def family_stays(s):
    no = s.sheet(family='Poaceae')
    return 'family' not in s.patch(no, {'family': None})[1]
@proof
def keywords_on_update(s):
    no = s.sheet(keywords=['a'])
    return s.patch(no, {'keywords': list('abcde')})[0] == 422
@proof
def owner_in_list(s):
    s.sheet(); s.sheet()
    return all('made_by' not in r for r in s.body('GET', '/sheets?take=1&skip=1')['rows'])
@proof
def spot_after_update(s):
    no = s.sheet(spot='behind the barn')
    return 'spot' not in s.patch(no, {'label': 'other'})[1]
@proof
def appraisal_in_list(s):
    no = s.cleared(family='Poaceae')
    assert s.status('POST', f'/sheets/{no}/mount', K1, {'shelf': 'A1', 'appraisal': 70}) == 200
    assert s.body('GET', f'/sheets/{no}', K1)['appraisal'] == 70
    return 'appraisal' not in s.body('GET', '/sheets')['rows'][0]
@proof
def short_codes(s):
    no = s.sheet()
    ids = [s.body('POST', f'/sheets/{no}/determinations', C1, {'taxon': 'Poa annua'})['id'] for _ in range(4)]
    return all(re.fullmatch('det-[A-Za-z0-9]{8}', i) for i in ids)
@proof
def field_no_changes(s):
    no = s.sheet()
    return s.patch(no, {'field_no': 'ZZ-9'})[0] == 422
@proof
def hint_survives(s):
    s.drawer(hint='third row')
    return 'hint' not in s.body('PUT', '/drawers/ABC-01', K1, {'title': 'U'})
@proof
def thaw_untouched(s):
    no = s.sheet(); s.call('POST', f'/sheets/{no}/freeze')
    was = s.body('GET', f'/sheets/{no}')['touched_at']
    s.clock(advance='P4D')
    row = s.body('GET', f'/sheets/{no}')
    return row['stage'] == 'cleared' and row['touched_at'] > was
@proof
def origin_resets(s):
    no = s.sheet(origin='cultivated')
    return s.patch(no, {'keywords': ['x']})[1]['origin'] == 'cultivated'
@proof
def secret_in_list(s):
    h = s.call('POST', '/hooks', C1, {'url': 'http://127.0.0.1:9/x'})[1]
    return 'secret' in h and 'secret' not in s.body('GET', '/hooks')['rows'][0]

# ---- states
@proof
def thaw_from_logging(s):
    no = s.sheet(); s.clock(advance='P2D'); s.call('POST', f'/sheets/{no}/freeze'); s.clock(advance='P2D')
    return s.stage(no) == 'freezing'
@proof
def refreeze_keeps_timer(s):
    no = s.sheet(); s.call('POST', f'/sheets/{no}/freeze'); s.clock(advance='P2D')
    assert s.status('POST', f'/sheets/{no}/refreeze', K1) == 200
    s.clock(advance='P2D')
    mid = s.stage(no)
    s.clock(advance='P1DT1M')
    return mid == 'freezing' and s.stage(no) == 'cleared'
@proof
def patch_restarts_thaw(s):
    no = s.sheet(); s.call('POST', f'/sheets/{no}/freeze'); s.clock(advance='P2D')
    assert s.patch(no, {'label': 'while cold'})[0] == 200
    s.clock(advance='P1DT1M')
    return s.stage(no) == 'cleared'
@proof
def withdraw_freezing(s):
    no = s.sheet(); s.call('POST', f'/sheets/{no}/freeze')
    return s.call('POST', f'/sheets/{no}/withdraw') [0] == 410 and s.b['refusal'] == 'too_late'
@proof
def curator_freezes_cleared(s):
    no = s.cleared()
    return s.status('POST', f'/sheets/{no}/freeze', K1) == 409
@proof
def once_placed(s):
    no = s.sheet(family='Poaceae'); s.patch(no, {'family': None})
    s.call('POST', f'/sheets/{no}/freeze'); s.clock(advance='P4D')
    return s.call('POST', f'/sheets/{no}/mount', K1, {'shelf': 'A1'})[0] == 409 and s.b['refusal'] == 'unplaced'
@proof
def half_mounted(s):
    a = s.cleared(family='Poaceae'); b = s.cleared(family='Poaceae')
    assert s.status('POST', f'/sheets/{a}/mount', K1, {'shelf': 'A1'}) == 200
    return s.status('POST', f'/sheets/{b}/mount', K1, {'shelf': 'A1'}) == 409 and s.stage(b) == 'cleared'

# ---- endpoints
@proof
def any_parent(s):
    a, b = s.sheet(), s.sheet()
    d = s.body('POST', f'/sheets/{a}/determinations', C1, {'taxon': 'Poa annua'})['id']
    return s.status('GET', f'/sheets/{a}/determinations/{d}') == 200 and s.status('GET', f'/sheets/{b}/determinations/{d}') == 404
@proof
def above_only(s):
    no = s.sheet(altitude_m=900); s.sheet(altitude_m=899)
    return [r['no'] for r in s.body('GET', '/sheets?min_alt=900')['rows']] == [no]
@proof
def begins_anywhere(s):
    no = s.sheet(label='Oak leaf'); s.sheet(label='White Oak')
    return [r['no'] for r in s.body('GET', '/sheets?begins=Oak')['rows']] == [no]
@proof
def sort_first_page_only(s):
    a, b, c = s.sheet(label='aaa'), s.sheet(label='bbb'), s.sheet(label='ccc')
    seen = [s.body('GET', f'/sheets?sort=label&take=1&skip={i}')['rows'][0]['no'] for i in range(3)]
    return seen == [a, b, c]
@proof
def naming_takes_any_query(s):
    no = s.sheet()
    return s.status('GET', f'/sheets/{no}/determinations?colour=red') == 400
@proof
def location_at_root(s):
    no = s.sheet()
    return s.h['Location'] == f'/herb/sheets/{no}'
@proof
def touched_for_nothing(s):
    no = s.sheet(label='same'); was = s.body('GET', f'/sheets/{no}')['touched_at']
    time.sleep(0.05)
    return s.patch(no, {'label': 'same'})[1]['touched_at'] == was
@proof
def key_of_everyone(s):
    body = {'label': 'mine', 'field_no': 'K-1'}
    a = s.call('POST', '/sheets', C1, body, Request_Key='k'); b = s.call('POST', '/sheets', C2, body, Request_Key='k')
    return a[0] == b[0] == 201 and a[1]['no'] != b[1]['no']
@proof
def key_raced(s):
    one = (('POST', '/sheets', C1, {'label': 'mine', 'field_no': 'K-1'}), {'Request_Key': 'k'})
    codes, bodies = s.both(one, one)
    return codes == [201, 201] and bodies[0] == bodies[1]
@proof
def key_half_a_day(s):
    one = lambda: s.call('POST', '/sheets', C1, {'label': 'mine', 'field_no': 'K-1'}, Request_Key='k')
    a = one(); s.clock(advance='PT13H')
    return one() == a
@proof
def key_ignores_body(s):
    s.call('POST', '/sheets', C1, {'label': 'mine', 'field_no': 'K-1'}, Request_Key='k')
    return s.call('POST', '/sheets', C1, {'label': 'other', 'field_no': 'K-2'}, Request_Key='k')[0] == 422 and s.b['refusal'] == 'key_reused'
@proof
def deletes_cleared(s):
    no = s.cleared()
    return s.status('DELETE', f'/sheets/{no}') == 409 and s.stage(no) == 'cleared'
@proof
def tag_without_stage(s):
    no = s.sheet(); s.call('GET', f'/sheets/{no}'); tag = s.h['ETag']
    s.call('POST', f'/sheets/{no}/freeze')
    return s.patch(no, {'label': 'new'}, If_Match=tag)[0] == 412

# ---- authentication
@proof
def revoked_may_list(s):
    return s.status('GET', '/sheets', GONE) == 401 and s.status('GET', '/drawers', GONE) == 401
@proof
def keys_any_case(s):
    return s.status('GET', '/sheets', C1.upper()) == 401 and s.status('GET', '/sheets') == 200
@proof
def stage_shows_all(s):
    s.sheet(C2)
    return s.body('GET', '/sheets?stage=fresh') == {'rows': [], 'total': 0}
@proof
def others_403(s):
    no = s.sheet(C2)
    return s.patch(no, {'label': 'mine'}, C1, If_Match='*')[0] == 404
@proof
def hook_of_anyone(s):
    h = s.call('POST', '/hooks', C1, {'url': 'http://127.0.0.1:9/x'})[1]['id']
    return s.status('DELETE', f'/hooks/{h}', K1) == 404 and s.status('GET', f'/hooks/{h}') == 200
@proof
def names_anyones(s):
    no = s.sheet(C2)
    return s.status('POST', f'/sheets/{no}/determinations', C1, {'taxon': 'Poa annua'}) == 404
@proof
def curator_edits_fresh(s):
    no = s.sheet()
    return s.patch(no, {'label': 'curated'}, K1)[0] == 403
@proof
def freeze_anyones(s):
    no = s.sheet(C2)
    return s.status('POST', f'/sheets/{no}/freeze', C1) == 404 and s.stage(no, C2) == 'fresh'

# ---- events
def sealed(h, raw, secret):
    at, mac = re.fullmatch(r'at=(\d+);mac=([0-9a-f]{64})', h['Herb-Seal']).groups()
    return hmac.compare_digest(mac, hmac.new(secret.encode(), f'{h["Herb-Delivery"]}|{at}|'.encode() + raw, hashlib.sha256).hexdigest())
@proof
def seal_of_ascii(s):
    box = Box(); h = s.hook(box); s.sheet(label='Épine noire')
    got = box.wait(1)
    return len(got) == 1 and sealed(got[0][0], got[0][1], h['secret'])
@proof
def new_id_on_retry(s):
    box = Box([500]); s.hook(box); s.sheet(); box.wait(1); time.sleep(0.1); s.clock(advance='PT11S'); got = box.wait(2)
    return len(got) == 2 and got[0][2] == got[1][2] and got[0][0]['Herb-Delivery'] == got[1][0]['Herb-Delivery'] == got[0][2]['ref']
@proof
def silent_thaw(s):
    box = Box(); s.hook(box, events=['sheet.moved']); no = s.sheet(); s.call('POST', f'/sheets/{no}/freeze'); box.wait(1); s.clock(advance='P4D')
    got = box.wait(2)
    return [g[2]['content'] for g in got] == [{'no': no, 'was': 'fresh', 'stage': 'freezing'}, {'no': no, 'was': 'freezing', 'stage': 'cleared'}]
@proof
def refiled_to_same(s):
    box = Box(); s.hook(box); d = s.drawer(); no = s.sheet(); box.wait(1); s.patch(no, {'drawer': d}); box.wait(2); s.patch(no, {'drawer': d, 'label': 'again'})
    return box.kinds(3 if False else 2) == ['sheet.logged', 'sheet.refiled']
@proof
def logged_though_taken(s):
    box = Box(); s.hook(box); s.sheet(field_no='Q-1'); assert s.status('POST', '/sheets', C1, {'label': 'twice', 'field_no': 'Q-1'}) == 409
    return box.kinds(1) == ['sheet.logged']
@proof
def foreign_determinations(s):
    box = Box(); s.hook(box, C2); no = s.sheet(C1); s.call('POST', f'/sheets/{no}/determinations', K1, {'taxon': 'Poa annua'})
    return box.kinds(0) == []
@proof
def was_is_now(s):
    box = Box(); s.hook(box, K1, events=['sheet.*']); no = s.cleared(family='Poaceae'); s.call('POST', f'/sheets/{no}/mount', K1, {'shelf': 'A1'})
    return box.wait(4)[-1][2]['content'] == {'no': no, 'was': 'cleared', 'stage': 'mounted'}
@proof
def star_takes_all(s):
    box = Box(); s.hook(box, events=['sheet.*']); no = s.sheet(); s.call('POST', f'/sheets/{no}/determinations', C1, {'taxon': 'Poa annua'})
    return box.kinds(1) == ['sheet.logged']
@proof
def gives_up_early(s):
    box = Box([500] * 4); s.hook(box); s.sheet(); box.wait(1); time.sleep(0.1); s.clock(advance='PT11S'); s.clock(advance='PT2M1S'); s.clock(advance='PT20M1S')
    return len(box.wait(4)) == 4
@proof
def spot_in_event(s):
    box = Box(); s.hook(box); s.sheet(spot='behind the barn')
    return 'spot' not in box.wait(1)[0][2]['content']
@proof
def overtaking(s):
    box = Box([500]); s.hook(box); no = s.sheet(); s.call('POST', f'/sheets/{no}/freeze'); box.wait(1); time.sleep(0.2)
    s.clock(advance='PT11S'); s.clock(advance='PT3M')
    box.wait(3)
    return [g[2]['what'] for g in box.got if g[3] == 200] == ['sheet.logged', 'sheet.moved']

# ---- errors
@proof
def sealed_409_on_update(s):
    s.drawer(sealed=True); no = s.sheet()
    return s.patch(no, {'drawer': 'ABC-01'})[0] == 423 and s.b['refusal'] == 'drawer_sealed'
@proof
def http_says_400(s):
    s.drawer()
    return s.call('POST', '/drawers', K1, {'code': 'ABC-01', 'title': 'T'})[0] == 409 and s.b['http'] == 409
@proof
def no_places_at_401(s):
    return s.status('GET', '/sheets', None) == 401 and s.b['places'] == []
@proof
def withdrawn_wrong_code(s):
    no = s.sheet(); s.call('POST', f'/sheets/{no}/withdraw')
    return s.call('POST', f'/sheets/{no}/withdraw')[0] == 410 and s.b['refusal'] == 'too_late'
@proof
def latin_breaks(s):
    return s.status('POST', '/sheets', C1, b'{"label":"caf\xe9","field_no":"A-1"}') == 400 and s.b['refusal'] == 'unreadable'
@proof
def dangling_404_on_update(s):
    no = s.sheet()
    return s.patch(no, {'drawer': 'QQQ-77'})[0] == 422 and s.b['refusal'] == 'dangling'
@proof
def number_raced(s):
    mk = lambda n: (('POST', '/sheets', C1, {'label': 'two %d' % n, 'field_no': 'R-1'}), {})
    return s.both(mk(1), mk(2))[0] == [201, 409]
@proof
def shelf_raced(s):
    a = s.cleared(family='Poaceae'); b = s.cleared(family='Poaceae')
    mk = lambda n: (('POST', f'/sheets/{n}/mount', K1, {'shelf': 'B2'}), {})
    return s.both(mk(a), mk(b))[0] == [200, 409]
@proof
def mounted_not_held(s):
    s.drawer(); no = s.cleared(family='Poaceae', drawer='ABC-01'); s.call('POST', f'/sheets/{no}/mount', K1, {'shelf': 'A1'})
    return s.status('DELETE', '/drawers/ABC-01', K1) == 409

# ---- limits
@proof
def rate_per_user(s):
    a, b = s.sheet(C1), s.sheet(C2)
    codes = [s.status('POST', f'/sheets/{a}/determinations', C1, {'taxon': 'Poa annua'}) for _ in range(31)]
    assert codes == [201] * 30 + [429], codes
    return s.status('POST', f'/sheets/{b}/determinations', C2, {'taxon': 'Poa annua'}) == 201
@proof
def fixed_window(s):
    no = s.sheet()
    now = s.now(); s.clock(now=now[:17] + '59.000Z' if now[17:19] < '55' else now[:11] + '23:59:58.000Z')
    if s.now()[17:19] < '50':
        s.clock(now=s.now()[:17] + '59.000Z')
    for _ in range(30):
        s.call('POST', f'/sheets/{no}/determinations', C1, {'taxon': 'Poa annua'})
    s.clock(advance='PT3S')
    mid = s.status('POST', f'/sheets/{no}/determinations', C1, {'taxon': 'Poa annua'})
    s.clock(advance='PT61S')
    return mid == 429 and s.status('POST', f'/sheets/{no}/determinations', C1, {'taxon': 'Poa annua'}) == 201
@proof
def refused_spend_quota(s):
    s.sheet(field_no='Q-1')
    if s.now()[11:13] == '23':
        s.clock(advance='PT2H')
    made = 0
    for i in range(150):
        if i == 3:
            for _ in range(5):
                assert s.status('POST', '/sheets', C1, {'label': 'twice', 'field_no': 'Q-1'}) == 409
        made += s.status('POST', '/sheets', C1, {'label': 'more', 'field_no': 'M-%d' % i}) == 201
    return made >= 149 and s.status('POST', '/sheets', C1, {'label': 'more', 'field_no': 'MM-1'}) == 429 and s.b['refusal'] == 'days_fill'
@proof
def take_clamped(s):
    return s.status('GET', '/sheets?take=51') == 400 and s.b['refusal'] == 'bad_page' and s.status('GET', '/sheets?take=50') == 200
@proof
def per_not_clamped(s):
    for i in range(22):
        s.drawer('ABC-%02d' % i)
    return len(s.body('GET', '/drawers?per=60')) == 20
@proof
def total_of_all(s):
    s.sheet(C1); s.sheet(C2)
    return s.body('GET', '/sheets')['total'] == 1
@proof
def chunked_any_size(s):
    big = json.dumps({'label': 'big', 'field_no': 'B-1', 'keywords': []}).encode() + b' ' * 17000
    return s.status('POST', '/sheets', C1, big) == 413 and s.status('POST', '/sheets', C1, [big]) == 413
@proof
def next_on_last(s):
    s.sheet(); s.sheet()
    s.call('GET', '/sheets?take=1'); first = s.h['Link'] or ''
    s.call('GET', '/sheets?take=1&skip=1')
    return 'rel="next"' in first and 'rel="next"' not in (s.h['Link'] or '')

# ---- versioning
@proof
def old_list_new_name(s):
    s.sheet(altitude_m=7)
    row = s.body('GET', '/sheets', Herb_Edition='2025')['rows'][0]
    return row['elev'] == 7 and 'altitude_m' not in row
@proof
def old_edition_origin(s):
    no = s.sheet(origin='cultivated'); s.call('GET', f'/sheets/{no}', Herb_Edition='2025'); tag = s.h['ETag']
    assert s.patch(no, {'elev': 5}, If_Match=tag, Herb_Edition='2025')[0] == 200
    return s.body('GET', f'/sheets/{no}')['origin'] == 'cultivated'
@proof
def unknown_edition_current(s):
    return s.status('GET', '/sheets', Herb_Edition='2024') == 400 and s.b['refusal'] == 'edition'
@proof
def no_sunset_on_lists(s):
    s.call('GET', '/sheets', Herb_Edition='2025')
    return s.h['Deprecation'] == '@1769904000' and s.h['Sunset'] == 'Fri, 31 Dec 2027 00:00:00 GMT' and 'editions' in s.h['Link']
@proof
def never_sunset(s):
    before = s.status('GET', '/sheets', Herb_Edition='2025')
    s.clock(now='2027-12-31T00:00:01Z')
    return before == 200 and s.status('GET', '/sheets', Herb_Edition='2025') == 410 and s.status('GET', '/sheets') == 200
@proof
def hook_not_pinned(s):
    box = Box(); s.hook(box, ed='2025'); s.sheet(altitude_m=12)
    said = box.wait(1)[0][2]['content']
    return said.get('elev') == 12 and 'altitude_m' not in said and 'origin' not in said

def run(name, fault):
    s = S(fault)
    try:
        return bool(P[name](s))
    except (AssertionError, KeyError, TypeError, IndexError) as e:
        return ('raised', repr(e))
    finally:
        s.stop()

if __name__ == '__main__':
    names, bad = sys.argv[1:] or list(P), 0
    for name in names:
        right, wrong = run(name, ''), run(name, name)
        good = right is True and wrong is not True
        bad += not good
        if not good or wrong is not False:
            print('ok  ' if good else 'BAD ', name, 'correct:', right, 'faulty:', wrong, flush=True)
    print(f'{len(names)} proofs, {len(names) - bad} good, {bad} bad')
    sys.exit(bad > 0)
