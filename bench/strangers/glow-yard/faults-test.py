"""Starts the service right and with each fault, and shows that the right one does it right and that the fault is seen.
   python3 faults-test.py [fault ...]      (compiles once into a temporary folder; ports 20110 and 20111, hooks on 20112)"""
import base64, hashlib, hmac, http.client, http.server, json, subprocess, sys, tempfile, threading, time, os
HERE = os.path.dirname(os.path.abspath(__file__))
ST = json.load(open(os.path.join(HERE, 'stranger.json')))
PORT, CLOCK, HOOK = 20110, 20111, 20112
OLD = {'Glow-Version': '2025-11-03'}
CRED = {}
for c in ST['callers']: CRED[(c['id'], c['scheme'])] = c['credential']
def auth(who):
    if who is None: return {}
    for s in ('key', 'token'):
        if (who, s) in CRED: return {'Glow-Key': CRED[(who, s)]} if s == 'key' else {'Authorization': 'Bearer ' + CRED[(who, s)]}
    raise KeyError(who)
ADA, BO, CYD, DEE, IVO, JOY, KIT = 'pm-ada', 'pm-bo', 'pm-cyd', 'pm-dee', 'bn-ivo', 'bn-joy', 'bn-kit'

class Got:
    def __init__(self, r):
        self.status = r.status; self.headers = {k.lower(): v for k, v in r.getheaders()}; raw = r.read(); self.raw = raw
        try: self.json = json.loads(raw) if raw else None
        except ValueError: self.json = None
    @property
    def code(self): return (self.json or {}).get('code')
    def __getitem__(self, k): return self.json[k]
def call(who, method, path, body=None, headers=None, port=PORT, base='/api'):
    h = dict(auth(who)); h.update(headers or {})
    data = None
    if body is not None: data = body if isinstance(body, bytes) else json.dumps(body).encode(); h.setdefault('Content-Type', 'application/json')
    c = http.client.HTTPConnection('127.0.0.1', port, timeout=10); c.request(method, base + path, data, h); g = Got(c.getresponse()); c.close(); return g
def clock(d): g = call(None, 'POST', '/', {'advance': d}, port=CLOCK, base=''); assert g.status == 200, g.raw; return g['now']

received = []
class Sink(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        b = self.rfile.read(int(self.headers.get('Content-Length', 0))); received.append((self.path, dict(self.headers), b)); self.send_response(200); self.send_header('Content-Length', '0'); self.end_headers()
    def log_message(self, *a): pass
def got(path, n=1, wait=1.0):
    end = time.time() + wait
    while time.time() < end:
        l = [r for r in received if r[0] == path]
        if len(l) >= n: return l
        time.sleep(0.02)
    return [r for r in received if r[0] == path]

N = [0]
def sign(**k):
    N[0] += 1; b = {'title': 'Sign %d' % N[0], 'colour': 'ruby', 'width_cm': 120, 'day_rate': 1000}; b.update(k)
    g = call(IVO, 'POST', '/signs', b); assert g.status == 201, g.raw; return g.json
def stage(who=ADA, **k):
    N[0] += 1; b = {'slug': 'stage-%d' % N[0], 'title': 'A stage', 'city': 'London', 'wraps_on': '2027-03-01'}; b.update(k)
    g = call(who, 'POST', '/stages', b); assert g.status == 201, g.raw; return g.json
def loan(who=ADA, st=None, si=None, headers=None, **k):
    st = st or stage(who); si = si or sign(); b = {'sign': si['id'], 'days': 3}; b.update(k)
    g = call(who, 'POST', '/stages/%s/loans' % st['slug'], b, headers); assert g.status == 201, g.raw; return g.json
def do(who, l, what, body=None, headers=None): return call(who, 'POST', '/loans/%s/%s' % (l['code'], what), body, headers)
def out(**k):
    l = loan(**k); assert do(IVO, l, 'approve').status == 200; g = do(IVO, l, 'hand-over'); assert g.status == 200, g.raw; return g.json
def status(l): return call(IVO, 'GET', '/loans/' + l['code'])['status']
def mishap(who, l, key, **k): b = {'kind': 'crack', 'told': 'It fell.'}; b.update(k); return call(who, 'POST', '/loans/%s/mishaps' % l['code'], b, {'Glow-Once': key})
def patch_sign(s, b):
    t = call(IVO, 'GET', '/signs/%d' % s['id']).headers['etag']; return call(IVO, 'PATCH', '/signs/%d' % s['id'], b, {'If-Match': t})
def log(who, about): return call(who, 'GET', '/log?take=100&about=' + str(about))['rows']
def hook(who, path, headers=None, **k):
    b = {'url': 'http://127.0.0.1:%d%s' % (HOOK, path)}; b.update(k); g = call(who, 'POST', '/hooks', b, headers); assert g.status == 201, g.raw; return g.json

T = {}
def t(f): T[f.__name__.replace('_', '-')] = f; return f
# each is true where the service is right
@t
def bender_key_unknown(): return call(IVO, 'GET', '/signs').status == 200
@t
def log_at_root(): return call(IVO, 'GET', '/log').status == 200
@t
def mend_not_wired(): s = sign(); call(IVO, 'POST', '/signs/%d/bench' % s['id']); g = call(IVO, 'POST', '/signs/%d/mend' % s['id']); return g.status == 200 and g['state'] == 'shelved'
@t
def struck_stage_stays(): s = stage(); return call(ADA, 'DELETE', '/stages/' + s['slug']).status == 204 and call(ADA, 'GET', '/stages/' + s['slug']).status == 404
@t
def title_clash_on_update(): a, b = sign(), sign(); g = patch_sign(b, {'title': a['title']}); return g.status == 409 and g.code == 'taken'
@t
def shelf_in_list(): sign(shelf='B7'); g = call(ADA, 'GET', '/signs'); return all('shelf' not in x for x in g['signs']) and call(IVO, 'GET', '/signs')['signs'][0]['shelf'] == 'B7'
@t
def number_over_all(): a, b = stage(), stage(); return [loan(st=a)['number'], loan(st=a)['number'], loan(st=b)['number']] == [1, 2, 1]
@t
def fee_not_renewed(): l = loan(); return l['fee'] == 3000 and call(ADA, 'PATCH', '/loans/' + l['code'], {'days': 5})['fee'] == 5000
@t
def secret_shown_again(): h = hook(ADA, '/a'); return 'secret' in h and 'secret' not in call(ADA, 'GET', '/hooks/' + h['id']).json
@t
def clock_leaves_stamp(): l = loan(); clock('P2DT1M'); g = call(ADA, 'GET', '/loans/' + l['code']); return g['status'] == 'lapsed' and g['changed_at'] > l['changed_at']
@t
def overdue_not_open(): l = out(days=1); clock('P1DT1M'); return status(l) == 'overdue' and call(ADA, 'GET', '/signs/%d' % l['sign'])['loans_open'] == 1
@t
def february_thirtieth(): return call(ADA, 'POST', '/stages', {'slug': 'leap', 'title': 'A', 'city': 'Rome', 'wraps_on': '2027-02-30'}).status == 422
@t
def cancel_when_out(): l = out(); g = do(ADA, l, 'cancel', {'reason': 'no need'}); return g.status == 409 and g.code == 'too_late'
@t
def lapse_from_last_change(): l = loan(); clock('P1D'); call(ADA, 'PATCH', '/loans/' + l['code'], {'days': 4}); clock('P1DT1M'); return status(l) == 'lapsed'
@t
def extended_thrice(): l = out(); return [do(ADA, l, 'extend').status for _ in range(3)] == [200, 200, 409]
@t
def scrap_reserved(): l = loan(); do(IVO, l, 'approve'); g = call(IVO, 'POST', '/signs/%d/scrap' % l['sign']); return g.status == 409 and g.code == 'sign_busy'
@t
def old_due_time():
    l = out(days=1); do(ADA, l, 'extend'); clock('P2D'); a = status(l); clock('P1DT1M'); return (a, status(l)) == ('out', 'overdue')
@t
def pump_forgets_mend():
    s = sign(); p = '/signs/%d' % s['id']; call(IVO, 'POST', p + '/bench'); clock('PT40H'); call(IVO, 'POST', p + '/mend'); call(IVO, 'POST', p + '/bench'); clock('PT40H'); a = call(IVO, 'GET', p)['state']; clock('PT33H'); return (a, call(IVO, 'GET', p)['state']) == ('repair', 'shelved')
@t
def overdue_not_back(): l = out(days=1); clock('P1DT1M'); g = do(IVO, l, 'take-back'); return g.status == 200 and g['status'] == 'back'
@t
def null_leaves_note(): l = loan(note='careful'); g = call(ADA, 'PATCH', '/loans/' + l['code'], {'note': None}); return 'note' in l and g.status == 200 and 'note' not in g.json
@t
def contact_replaced(): s = stage(contact={'name': 'Flo', 'radio': 4}); g = call(ADA, 'PATCH', '/stages/' + s['slug'], {'contact': {'radio': 5}}); return g.status == 200 and g['contact'] == {'name': 'Flo', 'radio': 5}
@t
def min_width_above(): s = sign(width_cm=200); return [x['id'] for x in call(ADA, 'GET', '/signs?min_width=200')['signs']] == [s['id']]
@t
def stamp_without_change(): s = sign(); clock('PT1M'); g = patch_sign(s, {'title': s['title']}); return g.status == 200 and g['changed_at'] == s['changed_at']
@t
def once_without_body():
    st, si = stage(), sign(); k = {'Glow-Once': 'k1'}; p = '/stages/%s/loans' % st['slug']
    a = call(ADA, 'POST', p, {'sign': si['id'], 'days': 3}, k); b = call(ADA, 'POST', p, {'sign': si['id'], 'days': 3}, k); c = call(ADA, 'POST', p, {'sign': si['id'], 'days': 4}, k)
    return a.status == b.status == 201 and a['code'] == b['code'] and c.status == 422 and c.code == 'once_reused'
@t
def oldest_loans_first(): a = loan(); clock('PT1M'); b = loan(); return [x['code'] for x in call(ADA, 'GET', '/loans')['rows']] == [b['code'], a['code']]
@t
def tag_without_count():
    l = loan(); p = '/signs/%d' % l['sign']; t0 = call(ADA, 'GET', p).headers['etag']; same = call(ADA, 'GET', p, None, {'If-None-Match': t0}).status; do(IVO, l, 'approve'); return (same, call(ADA, 'GET', p, None, {'If-None-Match': t0}).status) == (304, 200)
@t
def no_head_of_log(): return call(IVO, 'HEAD', '/log').status == 200
@t
def cancel_by_house(): l = loan(); g = do(BO, l, 'cancel', {'reason': 'no need'}); return call(BO, 'GET', '/loans/' + l['code']).status == 200 and g.status == 403 and g.code == 'not_yours'
@t
def hand_over_without_scope(): l = loan(); do(JOY, l, 'approve'); g = do(KIT, l, 'hand-over'); return g.status == 403 and g.code == 'scope_lacking' and do(JOY, l, 'hand-over').status == 200
@t
def stage_of_another_house(): st, si = stage(), sign(); g = call(CYD, 'POST', '/stages/%s/loans' % st['slug'], {'sign': si['id'], 'days': 3}); return g.status == 404 and g.code == 'not_found'
@t
def scrapped_by_number(): s = sign(); call(IVO, 'POST', '/signs/%d/scrap' % s['id']); return call(ADA, 'GET', '/signs/%d' % s['id']).status == 404 and call(IVO, 'GET', '/signs/%d' % s['id']).status == 200
@t
def alg_none():
    p = CRED[(IVO, 'token')].split('.')[1]; h = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').rstrip(b'=').decode()
    return call(None, 'GET', '/signs', None, {'Authorization': 'Bearer %s.%s.' % (h, p)}).status == 401 and call(None, 'GET', '/signs', None, {'Authorization': 'Bearer ' + CRED[(IVO, 'token')]}).status == 200
@t
def bad_token_beside_key(): return call(ADA, 'GET', '/signs', None, {'Authorization': 'Bearer a.b.c'}).status == 401 and call(ADA, 'GET', '/signs', None, {'Authorization': 'Bearer ' + CRED[(ADA, 'token')]}).status == 200
@t
def hook_of_another_deleted(): h = hook(ADA, '/a'); return call(CYD, 'DELETE', '/hooks/' + h['id']).status == 404 and call(ADA, 'DELETE', '/hooks/' + h['id']).status == 204
@t
def lapse_silent(): l = loan(); clock('P2DT1M'); return [(e['kind'], e['payload'].get('is')) for e in log(ADA, l['code'])] == [('loan.asked', None), ('loan.moved', 'lapsed')]
@t
def was_as_is(): l = loan(); do(IVO, l, 'approve'); return log(IVO, l['code'])[-1]['payload'] == {'loan': l['code'], 'was': 'asked', 'is': 'reserved'}
@t
def signed_without_id():
    h = hook(ADA, '/sig'); loan(); r = got('/sig')[0]; v = dict(x.split('=') for x in r[1]['Glow-Signature'].split(','))
    return hmac.new(h['secret'].encode(), (json.loads(r[2])['event'] + '.' + v['t'] + '.').encode() + r[2], hashlib.sha256).hexdigest() == v['s']
@t
def told_across_houses(): hook(CYD, '/cyd'); hook(BO, '/bo'); loan(); return len(got('/bo')) == 1 and got('/cyd', 1, 0.3) == []
@t
def repriced_always(): s = sign(); patch_sign(s, {'colour': 'jade'}); a = log(IVO, s['id']); patch_sign(s, {'day_rate': 1200}); return a == [] and [e['payload'] for e in log(IVO, s['id'])] == [{'sign': s['id'], 'was': 1000, 'is': 1200}]
@t
def due_soon_once():
    l = out(days=2); clock('P1DT1M'); a = len([e for e in log(ADA, l['code']) if e['kind'] == 'loan.due_soon']); do(ADA, l, 'extend'); clock('P2D'); return (a, len([e for e in log(ADA, l['code']) if e['kind'] == 'loan.due_soon'])) == (1, 2)
@t
def log_house_of_caller(): l = loan(); do(IVO, l, 'approve'); return len(log(ADA, l['code'])) == 2 and log(CYD, l['code']) == []
@t
def yard_note_in_log():
    l = loan(); call(IVO, 'PATCH', '/loans/' + l['code'], {'yard_note': 'owes us'}); do(IVO, l, 'approve'); do(IVO, l, 'hand-over'); do(ADA, l, 'extend'); e = log(ADA, l['code'])[-1]; return e['kind'] == 'loan.extended' and 'yard_note' not in e['payload']
@t
def no_sign_as_404(): st = stage(); g = call(ADA, 'POST', '/stages/%s/loans' % st['slug'], {'sign': 999, 'days': 3}); return g.status == 422 and g.code == 'no_such_thing'
@t
def wide_on_update(): l = loan(si=sign(width_cm=301)); g = call(ADA, 'PATCH', '/loans/' + l['code'], {'days': 31}); return g.status == 422 and g.code == 'wide_and_long' and call(ADA, 'PATCH', '/loans/' + l['code'], {'days': 30}).status == 200
@t
def missing_as_json(): g = call(ADA, 'GET', '/loans/LN-NONE0000'); return g.status == 404 and g.headers['content-type'] == 'application/problem+json'
@t
def nested_unknown_wrong(): g = call(ADA, 'POST', '/stages', {'slug': 'nest', 'title': 'A', 'city': 'Rome', 'wraps_on': '2027-02-03', 'contact': {'name': 'F', 'radio': 1, 'phone': '1'}}); return (g.status, g.code) == (400, 'field_unknown')
@t
def held_by_open_only(): l = loan(); do(ADA, l, 'cancel', {'reason': 'no need'}); g = call(ADA, 'DELETE', '/stages/' + l['stage']); return (g.status, g.code) == (409, 'still_lent')
@t
def body_in_characters():
    def body(n): b = json.dumps({'slug': 'x', 'title': ''}, ensure_ascii=False)[:-2].encode(); return b + ('é' * ((n - len(b) - 2) // 2)).encode() + b' ' * ((n - len(b) - 2) % 2) + b'"}'
    a, b = call(ADA, 'POST', '/stages', body(16384)), call(ADA, 'POST', '/stages', body(16386)); return (a.status, b.status, b.code) == (422, 413, 'too_large')
@t
def deleted_hooks_count():
    hs = [hook(ADA, '/%d' % k) for k in range(4)]; g = call(ADA, 'POST', '/hooks', {'url': 'http://127.0.0.1:%d/5' % HOOK}); call(ADA, 'DELETE', '/hooks/' + hs[0]['id']); return (g.status, g.code) == (429, 'used_up') and call(ADA, 'POST', '/hooks', {'url': 'http://127.0.0.1:%d/5' % HOOK}).status == 201
@t
def refused_uses_quota():
    a, b = out(), out(); [mishap(ADA, a, 'r%d' % k, kind='gone') for k in range(4)]; s = [mishap(ADA, (a, b)[k // 5], 'q%d' % k).status for k in range(8)]; g = mishap(ADA, b, 'q9'); return s == [201] * 8 and (g.status, g.code) == (429, 'used_up')
@t
def quota_never_anew():
    a, b, c = out(days=9), out(days=9), out(days=9); s = [mishap(ADA, (a, b)[k // 5], 'q%d' % k).status for k in range(8)]; x = mishap(ADA, c, 'x'); clock('P1D'); return s == [201] * 8 and x.status == 429 and 'retry-after' in x.headers and mishap(ADA, c, 'y').status == 201
@t
def mark_behind_the_end():
    for k in range(4): stage()
    a = call(ADA, 'GET', '/stages?take=2'); b = call(ADA, 'GET', '/stages?take=2&mark=' + a['next_mark']); return len(b['rows']) == 2 and b['next_mark'] is None
@t
def burst_as_limit(): s = [call(None, 'GET', '/quote?width_cm=50').status for _ in range(31)]; return s[:30] == [200] * 30 and s[30] == 429
@t
def old_hook_new_words(): hook(ADA, '/old', OLD); loan(); b = json.loads(got('/old')[0][2])['about']; return b.get('nights') == 3 and 'days' not in b and b['status'] == 'requested'
@t
def old_filter_by_new_word(): l = loan(); g = call(ADA, 'GET', '/loans?status=requested', None, OLD); return g.status == 200 and len(g['rows']) == 1 and call(ADA, 'GET', '/loans?status=asked', None, OLD).status == 400
@t
def pence_in_old_list(): s = sign(day_rate=1250); return call(ADA, 'GET', '/signs', None, OLD)['signs'][0]['day_rate'] == 12.5 == call(ADA, 'GET', '/signs/%d' % s['id'], None, OLD)['day_rate']
@t
def pounds_cut_off(): g = call(IVO, 'POST', '/signs', {'title': 'Pounds', 'colour': 'jade', 'width_cm': 50, 'day_rate': 19.99}, OLD); return g.status == 201 and g['day_rate'] == 19.99 and g['maker_mark'] == 'unmarked' and 'gas' not in g.json and call(IVO, 'GET', '/signs/%d' % g['id'])['day_rate'] == 1999
@t
def extend_in_old(): l = out(); g = do(ADA, l, 'extend', None, OLD); return (g.status, g.code) == (404, 'no_route')
@t
def serves_after_sunset(): a = call(ADA, 'GET', '/signs', None, OLD).status; clock('P1Y'); g = call(ADA, 'GET', '/signs', None, OLD); return a == 200 and (g.status, g.code) == (410, 'version_gone')
@t
def refusals_not_deprecated(): g = call(ADA, 'GET', '/signs/999', None, OLD); return g.status == 404 and {'deprecation', 'sunset', 'link'} <= set(g.headers)

def run(cp, fault):
    p = subprocess.Popen(['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-cp', cp, 'service', '--port', str(PORT), '--clock-port', str(CLOCK)] + (['--fault', fault] if fault else []), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    p.stdout.readline(); return p
def main():
    names = sys.argv[1:] or [f['id'] for f in ST['faults']]
    assert {f['id'] for f in ST['faults']} == set(T), {f['id'] for f in ST['faults']} ^ set(T)
    sink = http.server.ThreadingHTTPServer(('127.0.0.1', HOOK), Sink); threading.Thread(target=sink.serve_forever, daemon=True).start()
    shown = 0
    with tempfile.TemporaryDirectory() as cp:
        subprocess.check_call(['javac', '-d', cp, os.path.join(HERE, 'service.java')])
        for n in names:
            res = []
            for fault in (None, n):
                received.clear(); p = run(cp, fault)
                try: res.append(bool(T[n]()))
                except Exception as e: res.append('%s: %s' % (type(e).__name__, str(e)[:200]))
                finally: p.terminate(); p.wait(); rest = p.stdout.read().decode()
                if rest.strip(): print('   says:', rest[:400])
            good = res[0] is True and res[1] is not True; shown += good
            print('ok  ' if good else 'NOT ', n, '' if good else res, '' if res[1] is False else '(%s)' % res[1], flush=True)
    sink.shutdown(); print('%d of %d shown' % (shown, len(names))); sys.exit(shown != len(names))
main()
