"""A trial for each fault: passes on the right service, fails on the faulty one. python3 faults-test.py [ID ...]"""
import hashlib, hmac, http.client, http.server, json, os, subprocess, sys, tempfile, threading, time
HERE = os.path.dirname(os.path.abspath(__file__)); S = json.load(open(HERE + '/stranger.json')); P = 7461
CRED = {(c['id'], c['scheme']): c['credential'] for c in S['callers']}
ADA, BO, OLD, NEW, ONE, TWO = 'rig-ada', 'rig-bo', 'mas-old', 'mas-new', 'prv-one', 'prv-two'
class A:
    def __init__(s, st, h, b): s.st, s.h, s.raw = st, h, b; s.j = json.loads(b) if b else None
def call(who, method, path, body=None, v='/e2', scheme=None, port=P, **head):
    h = {k.replace('_', '-'): x for k, x in head.items()}
    if who:
        scheme = scheme or ('tally' if who in (ONE, TWO) else 'pass'); cr = CRED.get((who, scheme), who)
        h.update({'X-Tally': cr} if scheme == 'tally' else {'Authorization': 'Walkpass ' + cr})
    if body is not None and not isinstance(body, bytes): body = json.dumps(body).encode()
    if body is not None: h.setdefault('Content-Type', 'application/json')
    c = http.client.HTTPConnection('127.0.0.1', port, timeout=20); c.request(method, ('/rw' + v if port == P else '') + path, body, h)
    r = c.getresponse(); a = A(r.status, dict((k.lower(), x) for k, x in r.getheaders()), r.read()); c.close(); return a
def move(d): a = call(None, 'POST', '/', {'advance': d} if d[0] == 'P' else {'now': d}, port=P + 1); assert a.st == 200, a.raw; return a
def is_(a, st, fault=None):
    assert a.st == st and (fault is None or a.j['fault'] == fault), f'{a.st} {a.raw}, not {st} {fault}'; return a
def eq(a, b): assert a == b, f'{a!r}, not {b!r}'
N = [0]
def yarn(**k):
    N[0] += 1; b = dict(mark=f'abc-{N[0]}', label=f'Label {N[0]}', fibre='hemp', twist_cm=2.5, stock_kg=500, cost_pence=70); b.update(k)
    return is_(call(OLD, 'POST', '/yarns', b), 201).j['mark']
def spec(y, **k): b = dict(yarn=y, length_m=100, girth_mm=20); b.update(k); return b
def order(who=ADA, y=None, **k): return is_(call(who, 'POST', '/orders', spec(y or yarn(), **k)), 201).j['id']
def do(who, o, act, st=200, fault=None, body=None): return is_(call(who, 'POST', f'/orders/{o}/{act}', body), st, fault)
def to(stage, who=ADA, y=None, **k):
    o = order(who, y, **k)
    for s, w, a in [('placed', who, 'place'), ('laying', OLD, 'lay'), ('laid', OLD, 'whip')]:
        do(w, o, a)
        if s == stage: return o
def get(who, p, **k): return is_(call(who, 'GET', p, **k), 200).j
def tag(who, o): return call(who, 'GET', '/orders/' + o).h['etag']
def patch(who, o, b, **k): return call(who, 'PATCH', '/orders/' + o, b, If_Match=tag(who, o), **k)
def proof(o, held=True, who=ONE, **k): return call(who, 'POST', f'/orders/{o}/proofs', dict(method='hang', load_kn=9, held=held), **k)
GOT = []
class Ear(http.server.BaseHTTPRequestHandler):
    status = 204
    def do_POST(s): b = s.rfile.read(int(s.headers['Content-Length'])); GOT.append((dict((k.lower(), v) for k, v in s.headers.items()), b)); s.send_response(Ear.status); s.send_header('Content-Length', '0'); s.end_headers()
    def log_message(s, *a): pass
EAR = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Ear); threading.Thread(target=EAR.serve_forever, daemon=True).start()
def ear(who, **k): return is_(call(who, 'POST', '/listeners', dict(target=f'http://127.0.0.1:{EAR.server_port}/x', **k)), 201).j
def heard(n, kind=None, wait=.5):
    end = time.time() + 4
    while len(GOT) < n and time.time() < end: time.sleep(.02)
    time.sleep(wait); return [json.loads(b) for h, b in GOT if kind is None or h['walk-topic'] == kind]
def scraps(n):
    for i in range(n): is_(call(ADA, 'POST', '/orders/x/scrap', {'reason': 'a'}), 404)
    return call(ADA, 'POST', '/orders/x/scrap', {'reason': 'a'})
def retire(**k): y = yarn(); is_(call(OLD, 'PATCH', '/yarns/' + y, {'retired': True}), 200); return y
def t_label(): a, b = yarn(label='One'), yarn(); is_(call(OLD, 'PATCH', '/yarns/' + b, {'label': 'One'}), 409, 'taken')
def t_numbers(): a, b = yarn(), yarn(); o = [order(y=a), order(y=b), order(y=a)]; eq([get(ADA, '/orders/' + x)['number'] for x in o], [1, 1, 2])
def t_open(): y = yarn(); to('placed', y=y); to('laying', y=y); order(y=y); eq(get(None, '/yarns/' + y)['open_orders'], 2)
def t_proofs_stay():
    o = to('laid'); p = is_(proof(o, False), 201).j['id']; do(OLD, o, 'scrap', body={'reason': 'x'}); is_(call(ADA, 'DELETE', '/orders/' + o), 204); is_(call(ONE, 'GET', '/proofs/' + p), 404)
def t_splice(): o = order(splice=dict(style='eye', tucks=4)); eq(is_(patch(ADA, o, {'splice': {'tucks': 5}}), 200).j['splice'], dict(style='eye', tucks=5))
def t_seal_again(): l = ear(ADA); assert l['seal']; assert 'seal' not in get(ADA, '/listeners/' + l['id'])
def t_tag(): y = yarn(); order(y=y, tag='T1'); order(BO, y=y, tag='T1'); is_(call(ADA, 'POST', '/orders', spec(y, tag='T1')), 409, 'taken')
def t_touched(): y = yarn(); a = get(OLD, '/yarns/' + y)['touched']; time.sleep(.02); b = is_(call(OLD, 'PATCH', '/yarns/' + y, {'remark': 'x'}), 200).j; assert b['touched'] > a and b['laid_in'] == a
def t_torn(): y = yarn(); o = order(y=y); do(ADA, o, 'scrap', body={'reason': 'x'}); is_(call(OLD, 'DELETE', '/yarns/' + y), 409, 'in_use')
def t_fetch(): o = to('laid'); is_(proof(o, False), 201); do(OLD, o, 'whip'); do(ADA, o, 'fetch', 409, 'unproved'); is_(proof(o), 201); do(ADA, o, 'fetch')
def t_forfeit(): o = to('laid'); move('P59DT23H'); eq(get(ADA, '/orders/' + o)['stage'], 'laid'); move('PT2H'); eq(get(ADA, '/orders/' + o)['stage'], 'scrapped')
def t_lapse(): o = order(); move('P20DT23H'); eq(get(ADA, '/orders/' + o)['stage'], 'sketched'); move('PT2H'); eq(get(ADA, '/orders/' + o)['stage'], 'lapsed')
def t_lay(): y = yarn(stock_kg=60); o = to('laying', y=y, length_m=105); eq(get(None, '/yarns/' + y)['stock_kg'], 50)
def t_place_lapsed(): o = order(); move('P22D'); do(ADA, o, 'place', 409, 'wrong_stage')
def t_reject(): o = to('laid'); is_(proof(o, False), 201); eq(get(ADA, '/orders/' + o)['stage'], 'laying')
def t_update_laying(): o = to('laying'); is_(patch(OLD, o, {'shop_note': 'x'}), 409, 'wrong_stage')
def t_fibres(): yarn(fibre='coir'); yarn(fibre='sisal'); yarn(); eq([y['fibre'] for y in get(None, '/yarns?fibre=coir,sisal')['rows']], ['coir', 'sisal'])
def t_prefix(): yarn(label='Fine Grey'); yarn(label='Grey'); yarn(label='Grey fine'); eq(get(None, '/yarns?label=Grey')['of_all'], 2)
def t_longer(): y = yarn(); order(y=y, length_m=50); order(y=y, length_m=49); eq(get(ADA, '/orders?longer=50')['of_all'], 1)
def t_match(): o = order(); t = tag(OLD, o); is_(call(OLD, 'PATCH', '/orders/' + o, {'length_m': 50}, If_Match=t), 200); is_(call(OLD, 'PATCH', '/orders/' + o, {'length_m': 60}, If_Match=t), 412, 'moved_on')
def t_once(): y = yarn(); a = call(ADA, 'POST', '/orders', spec(y), Walk_Once='k'); b = call(ADA, 'POST', '/orders', spec(y), Walk_Once='k'); eq(a.raw, b.raw); is_(call(ADA, 'POST', '/orders', spec(y, length_m=7), Walk_Once='k'), 422, 'used_once')
def t_total(): [yarn() for _ in range(3)]; a = get(None, '/yarns?per_leaf=2'); eq((len(a['rows']), a['of_all'], a['more'], a['next_leaf']), (2, 3, True, 2))
def t_way():
    y = yarn(); a = order(y=y); time.sleep(.01); b = order(y=y); ids = lambda q: [r['id'] for r in get(ADA, '/orders' + q)['rows']]
    eq(ids(''), [b, a]); eq(ids('?by=made'), [a, b]); eq(ids('?by=made&way=desc'), [b, a]); eq(ids('?way=desc'), [a, b])
def t_foreign(): y = yarn(); order(y=y); order(BO, y=y); eq(get(ADA, '/orders?stage=sketched,placed')['of_all'], 1)
def t_others(): o = to('laid'); p = is_(proof(o), 201).j['id']; is_(call(TWO, 'PATCH', '/proofs/' + p, {'remark': 'x'}), 403, 'not_yours_to_do'); is_(call(ONE, 'PATCH', '/proofs/' + p, {'remark': 'x'}), 200)
def t_lapse_told(): ear(ADA, topics=['order.ended']); o = order(); move('P21DT1M'); e = heard(1); eq([x['body'] for x in e], [dict(order=o, stage='lapsed', was='sketched')])
def t_placed(): ear(ADA); o = to('placed'); e = heard(1); eq([(x['topic'], x['body']['id']) for x in e], [('order.placed', o)])
def t_price(): ear(ONE, topics=['order.laid']); to('laid'); e = heard(1); eq(len(e), 1); assert 'price_pence' not in e[0]['body'] and e[0]['body']['stage'] == 'laid'
def t_resized(): ear(ADA, topics=['order.resized']); o = order(); is_(patch(ADA, o, {'girth_mm': 30}), 200); is_(patch(ADA, o, {'length_m': 90}), 200); eq([x['body'] for x in heard(1)], [dict(order=o, was=100, **{'is': 90})])
def t_retry():
    Ear.status = 500; ear(ADA); to('placed'); eq(len(heard(1)), 1)
    for n, d in [(2, 'PT41S'), (3, 'PT11M'), (4, 'PT3H1M')]: move(d); eq(len(heard(n, wait=.3)), n)
    move('P1D'); eq(len(heard(4)), 4)
def t_seal():
    l = ear(ADA); to('placed'); heard(1); h, b = GOT[0]; p = dict(x.split('=') for x in h['walk-seal'].split(','))
    eq(p['mac'], hmac.new(l['seal'].encode(), f"{h['walk-ref']}.{p['at']}.".encode() + b, hashlib.sha256).hexdigest()); eq(h['walk-topic'], 'order.placed')
def t_soon(): o = order(); is_(call(ADA, 'POST', '/orders', spec(yarn(), wanted_by='2020-01-01')), 422, 'too_soon'); is_(patch(ADA, o, {'wanted_by': '2020-01-01'}), 422, 'too_soon')
def t_body(): b = json.dumps(dict(mark='zzz-1', label='Zed', fibre='hemp', twist_cm=1, cost_pence=2)).encode(); is_(call(OLD, 'POST', '/yarns', b + b' ' * (8193 - len(b))), 413, 'too_big'); is_(call(OLD, 'POST', '/yarns', b + b' ' * (8192 - len(b))), 201)
def t_ears(): [ear(ADA) for _ in range(4)]; is_(call(ADA, 'POST', '/listeners', {'target': 'http://127.0.0.1:9/'}), 403, 'no_more')
def t_pitched(): o = order(finish='tarred'); a = get(ADA, '/orders/' + o, v='/e1'); eq((a['finish'], a['thickness'], a['colour'], 'girth_mm' in a), ('pitched', 20, 'raw', False))
def t_sunset(): is_(call(None, 'GET', '/yarns', v='/e1'), 200); move('2027-11-30T00:00:01Z'); is_(call(None, 'GET', '/yarns', v='/e1'), 410, 'edition_over')
def t_refusal(): a = is_(call(None, 'GET', '/orders', v='/e1'), 401); eq(a.h.get('deprecation'), '@1772323200')
def t_held(): y = yarn(); order(y=y); is_(call(OLD, 'DELETE', '/yarns/' + y), 409, 'in_use')
def t_note(): o = is_(call(ADA, 'POST', '/orders', spec(yarn(), shop_note='mine')), 201).j['id']; assert 'shop_note' not in get(OLD, '/orders/' + o)
def t_waxed(): o = to('placed', finish='waxed'); eq(get(ADA, '/orders/' + o)['price_pence'], 1800)
def t_location(): a = call(OLD, 'POST', '/yarns', dict(mark='zzz-1', label='Zed', fibre='hemp', twist_cm=1, cost_pence=2)); eq(a.h['location'], '/rw/e2/yarns/zzz-1')
def t_metres(): o = to('placed'); eq(do(OLD, o, 'lay').j, dict(order=o, stage='laying', metres=100))
def t_wrong(): a = is_(call(OLD, 'POST', '/yarns', dict(mark='zzz-1', label='Z', fibre='hemp', twist_cm=1, cost_pence=2)), 422, 'ill_made'); eq(a.j['wrong'], ['label'])
T = {
 'p-whip-gone': lambda: to('laid'), 'p-prover-deaf': lambda: ear(ONE), 'p-location-bare': t_location,
 'r-cost-leak': lambda: eq(['cost_pence' in get(w, '/yarns/' + yarn()) for w in (ONE, ADA, None, OLD)], [False, False, False, True]),
 'r-label-later': t_label, 'r-length-least': lambda: is_(call(ADA, 'POST', '/orders', spec(yarn(), length_m=4)), 422, 'ill_made'), 'r-note-written': t_note,
 'r-number-all': t_numbers, 'r-open-placed': t_open, 'r-price-waxed': t_waxed, 'r-proofs-stay': t_proofs_stay, 'r-seal-again': t_seal_again, 'r-splice-replaced': t_splice,
 'r-stock-most': lambda: (yarn(stock_kg=90000), is_(call(OLD, 'POST', '/yarns', dict(mark='zzz-1', label='Zed', fibre='hemp', twist_cm=1, cost_pence=2, stock_kg=90001)), 422, 'ill_made')),
 'r-tag-wide': t_tag, 'r-touched-made': t_touched, 'r-wanted-february': lambda: (order(wanted_by='2096-02-29'), is_(call(ADA, 'POST', '/orders', spec(yarn(), wanted_by='2099-02-30')), 422, 'ill_made')),
 'r-yarn-torn': t_torn, 's-fetch-any': t_fetch, 's-forfeit-never': t_forfeit, 's-lapse-late': t_lapse, 's-lay-free': t_lay, 's-place-lapsed': t_place_lapsed, 's-reject-never': t_reject,
 's-scrap-laid': lambda: do(OLD, to('laid'), 'scrap', 409, 'past_scrapping', {'reason': 'x'}), 's-update-laying': t_update_laying, 'e-fibre-first': t_fibres, 'e-label-inside': t_prefix,
 'e-lay-metres': t_metres, 'e-longer-strict': t_longer, 'e-match-master': t_match, 'e-odd-question': lambda: is_(call(None, 'GET', '/yarns?colour=red'), 400, 'odd_question'), 'e-once-any': t_once,
 'e-total-page': t_total, 'e-way-alone': t_way, 'a-bad-as-nobody': lambda: is_(call('rw_nobody', 'GET', '/yarns'), 401, 'stranger'), 'a-list-foreign': t_foreign,
 'a-pass-proves': lambda: is_(proof(to('laid'), scheme='pass'), 401, 'stranger'), 'a-proof-others': t_others, 'a-retired-read': lambda: is_(call(ADA, 'GET', '/yarns/' + retire()), 404, 'not_found'),
 'a-scope-update': lambda: is_(call(NEW, 'PATCH', '/yarns/' + yarn(), {'remark': 'x'}), 403, 'no_scope'), 'v-lapse-silent': t_lapse_told, 'v-placed-twice': t_placed, 'v-price-prover': t_price,
 'v-resized-any': t_resized, 'v-retry-less': t_retry, 'v-seal-short': t_seal, 'x-incomplete': lambda: is_(call(OLD, 'POST', '/yarns', {'mark': 'abc-1'}), 422, 'incomplete'),
 'x-past-scrapping': lambda: do(OLD, to('laid'), 'scrap', 409, 'past_scrapping', {'reason': 'x'}), 'x-soon-later': t_soon, 'x-wrong-pointer': t_wrong, 'x-held-status': t_held, 'l-body-more': t_body,
 'l-ears-five': t_ears, 'l-scrap-eleven': lambda: is_(scraps(10), 429, 'slow_down'), 'l-wait-untold': lambda: eq(599 <= int(is_(scraps(10), 429).h.get('retry-after', 0)) <= 600, True),
 'n-finish-up': t_pitched, 'n-sunset-served': t_sunset, 'n-refusal-untold': t_refusal, 'n-bare-newest': lambda: is_(call(None, 'GET', '/yarns', v=''), 404, 'no_edition')}
def run(cp, i, fault):
    N[0] = 0; GOT.clear(); Ear.status = 204
    p = subprocess.Popen(['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-cp', cp, 'Service', '--port', str(P), '--clock-port', str(P + 1)] + (['--fault', i] if fault else []))
    try:
        for _ in range(200):
            try: call(None, 'GET', '/', port=P + 1); break
            except OSError: time.sleep(.05)
        try: T[i](); return None
        except (AssertionError, KeyError, IndexError) as e: return f'{type(e).__name__}: {e}'[:150]
    finally: p.kill(); p.wait()
if __name__ == '__main__':
    ids = sys.argv[1:] or [f['id'] for f in S['faults']]; assert set(T) == {f['id'] for f in S['faults']}; bad = 0
    with tempfile.TemporaryDirectory() as cp:
        subprocess.run(['javac', '-d', cp, HERE + '/service.java'], check=True)
        for i in ids:
            right, wrong = run(cp, i, False), run(cp, i, True); ok = right is None and wrong is not None; bad += not ok
            print('ok  ' if ok else 'BAD ', i, '' if ok else f'right: {right} | faulty: {wrong}', flush=True)
    print(len(ids) - bad, 'of', len(ids)); sys.exit(bad > 0)
