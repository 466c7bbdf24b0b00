import base64, http.client, http.server, json, os, re, subprocess, sys, threading, time
from datetime import datetime, timedelta, timezone
HERE = os.path.dirname(os.path.abspath(__file__))
CFG = json.load(open(HERE + '/stranger.json'))
PORT, CLOCK, HOOKS = 20110, 20111, 20112
CRED = {}
for c in CFG['callers']:
    CRED[c['id'] + ('' if c['scheme'] == 'badge' else '/o')] = c['credential'] if c['scheme'] == 'badge' else None
    if c['scheme'] == 'office':
        CRED[c['id'] + '/o'] = 'Basic ' + base64.b64encode(c['credential'].encode()).decode()
    else:
        CRED[c['id']] = 'Badge ' + c['credential']
heard, fail = [], [0]
class Ear(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        b = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        heard.append((self.path, b))
        s = 200
        if fail[0]:
            fail[0] -= 1
            s = 500
        self.send_response(s); self.send_header('Content-Length', '0'); self.end_headers()
    def log_message(self, *a):
        pass
ear = http.server.ThreadingHTTPServer(('127.0.0.1', HOOKS), Ear)
threading.Thread(target=ear.serve_forever, daemon=True).start()

def call(m, p, who=None, body=None, base='/fair', raw=None, **h):
    k = http.client.HTTPConnection('127.0.0.1', PORT, timeout=10)
    h = {a.replace('_', '-'): b for a, b in h.items()}
    if who:
        h.setdefault('Authorization', CRED[who])
    if body is not None or raw is not None:
        h.setdefault('Content-Type', 'application/json')
    k.request(m, base + p, raw if raw is not None else json.dumps(body) if body is not None else None, h)
    r = k.getresponse(); d = r.read(); k.close()
    return r.status, {a.lower(): b for a, b in r.getheaders()}, json.loads(d) if d else None
def clock(**b):
    k = http.client.HTTPConnection('127.0.0.1', CLOCK, timeout=10)
    k.request('POST' if b else 'GET', '/', json.dumps(b) if b else None)
    r = k.getresponse(); d = json.loads(r.read()); k.close()
    return datetime.fromisoformat(d['now'].replace('Z', '+00:00'))
def at(days):
    return (clock() + timedelta(days=days)).strftime('%Y-%m-%dT%H:%M:%SZ')
def code(r):
    return r[2] and r[2].get('fault', {}).get('code') if isinstance(r[2], dict) else None
def ok(r, s=None):
    assert r[0] == s or (s is None and r[0] < 300), r
    return r[2]
n = [0]
def flock(who='b1', name=None):
    n[0] += 1
    return ok(call('POST', '/flocks', who, {'name': name or 'Flock %d' % n[0], 'breed': 'texel'}))['id']
def animal(who='b1', f=None, days=100, **k):
    n[0] += 1
    f = f or flock(who)
    return ok(call('POST', '/flocks/%s/animals' % f, who, {'tag': 'UK%06d' % n[0], 'sex': 'ewe', 'grams': 60000, 'papers_until': at(days), **k}))['id']
def entry(who='b1', a=None, **k):
    return ok(call('POST', '/entries', who, {'animal': a or animal(who), 'class': 'fleece', 'ring': 'north', **k}))
def lot(who='b1', a=None, reserve=5000, opened=True):
    l = ok(call('POST', '/lots', who, {'animal': a or animal(who), 'reserve': reserve}))['id']
    if opened:
        ok(call('POST', '/lots/%s/open' % l, who))
    return l
def bid(l, who, amount, key=None):
    n[0] += 1
    return call('POST', '/lots/%s/bids' % l, who, {'amount': amount}, Repeat_Key=key or 'k%d' % n[0])
def haul(who='b1', **k):
    return ok(call('POST', '/hauls', who, {'beat': 'north', 'drop': {'farm': 'Low Fell'}, 'head': 12, **k}))['id']
def hook(who, path, topics=None, **h):
    return ok(call('POST', '/hooks', who, {'url': 'http://127.0.0.1:%d/%s' % (HOOKS, path), **({'topics': topics} if topics else {})}, **h))
def got(path, k, wait=2.0):
    end = time.time() + wait
    while time.time() < end:
        x = [b for p, b in heard if p == '/' + path]
        if len(x) >= k:
            return x
        time.sleep(.03)
    return [b for p, b in heard if p == '/' + path]
def pen(c='A1', places=4, **k):
    return call('POST', '/pens', 's1', {'code': c, 'places': places, **k})
def tag(a, who='b1'):
    return call('GET', '/animals/' + a, who)[1]['etag']
def patch(a, b, who='b1', **h):
    return call('PATCH', '/animals/' + a, who, b, **{'If_Match': tag(a), **h})

T = {}
def t(f):
    T[f.__name__.replace('_', '-')] = f
@t
def no_renew():
    a = animal(); return call('POST', '/animals/%s/papers' % a, 's1', {'papers_until': at(300)})[0] == 200
@t
def judge_confirms():
    e = entry()['id']; ok(call('POST', '/entries/%d/mark' % e, 'j1', {'marks': 70}))
    r = call('POST', '/entries/%d/confirm' % e, 'j1'); return code(r) == 'hands_off' and call('POST', '/entries/%d/confirm' % e, 's1')[0] == 200
@t
def no_base():
    return call('GET', '/pens')[0] == 200 and call('GET', '/pens', base='')[0] == 404
@t
def location_base():
    return pen()[1].get('location') == '/fair/pens/A1'
@t
def grams_edge():
    f = flock(); return call('POST', '/flocks/%s/animals' % f, 'b1', {'tag': 'UK999999', 'sex': 'ram', 'grams': 250000, 'papers_until': at(9)})[0] == 201
@t
def flock_name_wide():
    flock('b1', 'Hill'); return call('POST', '/flocks', 'b2', {'name': 'Hill', 'breed': 'texel'})[0] == 201 and code(call('POST', '/flocks', 'b1', {'name': 'Hill', 'breed': 'texel'})) == 'already'
@t
def pen_not_cleared():
    ok(pen()); a = animal(pen='A1'); ok(call('DELETE', '/pens/A1', 's1'), 204); return 'pen' not in call('GET', '/animals/' + a, 'b1')[2]
@t
def number_wide():
    return entry()['number'] == 1 and entry()['number'] == 1
@t
def metres_kept():
    ok(call('PUT', '/stalls/pies', 's1/o', {'trade': 'food', 'metres': 7}), 201); return ok(call('PUT', '/stalls/pies', 's1/o', {'trade': 'wool'}), 200)['metres'] == 3
@t
def secret_again():
    h = hook('b1', 'x'); return 'secret' in h and 'secret' not in ok(call('GET', '/hooks/' + h['id'], 'b1'))
@t
def tag_mutable():
    a = animal(); return code(patch(a, {'tag': 'UK888888'})) == 'unfit' and patch(a, {'grams': 50000})[0] == 200
@t
def taken_gone():
    ok(pen()); a = animal(pen='A1'); l = lot(a=a, reserve=100); ok(bid(l, 'b2', 200)); clock(advance='PT49H')
    x = call('GET', '/pens/A1')[2]['taken']; ok(call('POST', '/lots/%s/settle' % l, 's1')); return x == 1 and call('GET', '/pens/A1')[2]['taken'] == 0
@t
def cancel_taken():
    h = haul(); ok(call('POST', '/hauls/%s/take' % h, 'h1')); return call('POST', '/hauls/%s/cancel' % h, 'b1')[0] == 200
@t
def sixty():
    e = entry()['id']; ok(call('POST', '/entries/%d/mark' % e, 'j1', {'marks': 60})); return call('POST', '/entries/%d/confirm' % e, 's1')[2].get('status') == 'placed'
@t
def old_papers():
    a = animal(days=2); ok(patch(a, {'papers_until': at(30)})); clock(advance='P3D'); x = call('GET', '/animals/' + a, 'b1')[2]['standing']
    clock(advance='P30D'); return x == 'fit' and call('GET', '/animals/' + a, 'b1')[2]['standing'] == 'lapsed'
@t
def settle_keeps():
    a = animal(); l = lot(a=a, reserve=100); ok(bid(l, 'b2', 100)); clock(advance='P2DT1S'); ok(call('POST', '/lots/%s/settle' % l, 's1')); return call('GET', '/animals/' + a, 'b1')[2]['standing'] == 'gone'
@t
def renew_lapsed():
    a = animal(days=1); clock(advance='P2D'); return call('POST', '/animals/%s/papers' % a, 's1', {'papers_until': at(9)})[2].get('standing') == 'fit'
@t
def ties_newest():
    for c in ('C1', 'A1', 'B1'):
        ok(pen(c))
    f = lambda q: [x['code'] for x in call('GET', '/pens' + q)[2]['rows']]
    return f('?sort=places') == ['C1', 'A1', 'B1'] == f('?sort=-places') and f('') == ['A1', 'B1', 'C1']
@t
def standing_first():
    f = flock(); animal(f=f, days=1); clock(advance='P2D'); animal(f=f); return call('GET', '/animals?standing=fit,lapsed', 'b1')[2]['count'] == 2
@t
def pen_no_304():
    ok(pen()); e = call('GET', '/pens/A1')[1]['etag']; return call('GET', '/pens/A1', If_None_Match=e)[0] == 304
@t
def mark_loose():
    e = entry()['id']; return code(call('POST', '/entries/%d/mark' % e, 'j1', {'marks': 5, 'why': 'x'})) == 'unfit'
@t
def key_any_body():
    l = lot(); a = ok(bid(l, 'b2', 200, 'q')); return bid(l, 'b2', 200, 'q')[2] == a and code(bid(l, 'b2', 300, 'q')) == 'key_again'
@t
def no_scope_delete():
    ok(pen()); return code(call('DELETE', '/pens/A1', 's2')) == 'no_scope'
@t
def any_ring():
    e = entry(ring='south')['id']; return code(call('POST', '/entries/%d/mark' % e, 'j1', {'marks': 5})) == 'hands_off' and call('POST', '/entries/%d/mark' % e, 'j2', {'marks': 5})[0] == 200
@t
def badge_case():
    return call('GET', '/lots', Authorization=CRED['b1'].replace('Badge', 'bAdGe'))[0] == 200
@t
def list_reserve():
    lot(); return 'reserve' in call('GET', '/lots', 'b1')[2]['rows'][0] and 'reserve' not in call('GET', '/lots', 'b2')[2]['rows'][0]
@t
def seller_bids():
    l = lot(); ok(bid(l, 'b2', 100)); ok(bid(l, 'b3', 200)); c = lambda w: call('GET', '/lots/%s/bids' % l, w)[2]['count']; return (c('b1'), c('b2'), c('s1')) == (2, 1, 2)
@t
def beat_filter():
    haul(); haul(beat='south'); c = lambda q: call('GET', '/hauls' + q, 'h1')[2]['count']; return c('') == 1 == c('?state=ordered')
@t
def unsold_told():
    hook('s1', 'u', ['lot.ended']); lot(); l = lot(reserve=100); ok(bid(l, 'b2', 150)); clock(advance='PT50H'); g = got('u', 1); time.sleep(.3); g = got('u', 2, .1)
    return [x['row']['state'] for x in g] == ['sold']
@t
def lapse_untold():
    hook('b1', 'l'); haul(); clock(advance='P3DT1M'); g = got('l', 1); return len(g) == 1 and g[0]['about'] == 'haul.moved' and g[0]['row']['state'] == 'lapsed'
@t
def marks_told():
    hook('b1', 'm', ['entry.*']); e = entry()['id']; ok(call('POST', '/entries/%d/mark' % e, 'j1', {'marks': 5})); g = got('m', 1); return len(g) == 1 and 'marks' not in g[0]['row'] and g[0]['row']['entrant'] == 'b1'
@t
def retry_new_ref():
    hook('b1', 'r'); fail[0] = 1; h = haul(); ok(call('POST', '/hauls/%s/take' % h, 'h1')); got('r', 1); time.sleep(.2); clock(advance='PT15S'); g = got('r', 2); return len(g) == 2 and g[0] == g[1]
@t
def moved_all_beats():
    hook('h1', 'n'); hook('h2', 's'); h = haul(); ok(call('POST', '/hauls/%s/take' % h, 'h1')); return len(got('n', 1)) == 1 and len(got('s', 1, .5)) == 0
@t
def own_lot_late():
    l = lot(); a = code(bid(l, 'b1', 100)); ok(bid(l, 'b2', 200)); return a == 'own_lot' == code(bid(l, 'b1', 300))
@t
def nested_lacking():
    return code(call('POST', '/hauls', 'b1', {'beat': 'north', 'drop': {}, 'head': 2})) == 'lacking'
@t
def slip_lost():
    r = call('GET', '/lots/lot_NONE', 'b1'); return r[0] == 404 and 'slip' in r[2]
@t
def stale_update():
    a = animal(); return code(patch(a, {'papers_until': at(-1)})) == 'stale_papers'
@t
def body_before_query():
    return code(call('POST', '/pens?x=1', 's1', raw='{')) == 'bad_query' and code(call('POST', '/pens', 's1', raw='{')) == 'garbled'
@t
def take_refused():
    return call('GET', '/pens?take=500')[0] == 200
@t
def quota_refused():
    for _ in range(3):
        call('POST', '/hauls', 'b1', {'beat': 'north'})
    for _ in range(6):
        haul()
    return True
@t
def hooks_not_freed():
    h = [hook('b1', 'x')['id'] for _ in range(4)]; r = call('POST', '/hooks', 'b1', {'url': 'http://127.0.0.1:1/'})
    ok(call('DELETE', '/hooks/' + h[0], 'b1'), 204); return code(r) == 'steady' and call('POST', '/hooks', 'b1', {'url': 'http://127.0.0.1:1/'})[0] == 201
@t
def bid_rate_shared():
    l = lot()
    for i in range(12):
        ok(bid(l, 'b2', 200 + i))
    return code(bid(l, 'b2', 900)) == 'steady' and bid(l, 'b3', 900)[0] == 201
@t
def past_repeats():
    a = [entry()['id'] for _ in range(7)]; r = call('GET', '/entries', 'b1'); p = re.search('<([^>]+)>; rel="next"', r[1]['link'])[1]
    return [x['id'] for x in r[2]] == a[:5] and [x['id'] for x in call('GET', p, 'b1', base='')[2]] == a[5:]
@t
def never_sunset():
    a = call('GET', '/pens', Fair_Edition='2024'); clock(now='2031-01-01T00:00:01Z'); return a[0] == 200 and a[1]['deprecation'] == '@1740787200' and code(call('GET', '/pens', Fair_Edition='2024')) == 'old_edition'
@t
def weight_sort():
    f = flock(); animal(f=f); animal(f=f, grams=2000); r = call('GET', '/animals?sort=weight', 'b1', Fair_Edition='2024'); return r[0] == 200 and [x['weight'] for x in r[2]['rows']] == [2000, 60000] and call('GET', '/animals?sort=grams', 'b1', Fair_Edition='2024')[0] == 400
@t
def hook_unpinned():
    hook('b1', 'v', Fair_Edition='2024'); animal(days=1); clock(advance='P2D'); g = got('v', 1); return g[0]['row'].get('weight') == 60000
@t
def reserve_cut():
    a = animal(); r = call('POST', '/lots', 'b1', {'animal': a, 'reserve': 19.99}, Fair_Edition='2025'); return r[2]['reserve'] == 19.99 and call('GET', '/lots/' + r[2]['id'], 'b1')[2]['reserve'] == 1999
@t
def depr_refusal():
    return call('GET', '/pens', Fair_Edition='2025')[1].get('deprecation') == '@1769904000' == call('GET', '/pens/A9', Fair_Edition='2025')[1].get('deprecation')

def run(fault, f):
    p = subprocess.Popen([*CFG['command'], '--port', str(PORT), '--clock-port', str(CLOCK), *(['--fault', fault] if fault else [])], cwd=HERE)
    heard.clear(); fail[0] = 0
    try:
        for _ in range(200):
            try:
                clock(); call('OPTIONS', '/pens'); break
            except OSError:
                time.sleep(.05)
        try:
            return bool(f()), ''
        except Exception as e:
            return False, repr(e)[:200]
    finally:
        p.terminate(); p.wait()
bad = 0
for i in sys.argv[1:] or [x['id'] for x in CFG['faults']]:
    right, why = run(None, T[i])
    faulty, w2 = run(i, T[i])
    good = right and not faulty
    bad += not good
    print('ok  ' if good else 'FAIL', i, '' if good else 'right=%s %s faulty=%s' % (right, why, faulty), flush=True)
print('%d failed' % bad)
sys.exit(1 if bad else 0)
