"""For each fault: the right service and the faulty one are started, asked the same, and have to differ exactly as said."""
import importlib.util, os, sys, time, json, hmac, hashlib, socket, base64
from concurrent.futures import ThreadPoolExecutor
here = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location('self_test', os.path.join(here, 'self-test.py'))
T = importlib.util.module_from_spec(spec); spec.loader.exec_module(T)
Svc, Hear, OLD = T.Svc, T.Hear, T.OLD

def code(a): return (a[0], a[1].get('error') if isinstance(a[1], dict) else None)
def ready(s, rounds=1):
    f = s.placed()
    for n in range(rounds):
        p = s('POST', '/founts/%s/proofs' % f['id'], 'fo', {'sheet': 'A'})[1]
        s('POST', '/proofs/%s/%s' % (p['id'], 'approve' if n == rounds - 1 else 'send-back'), 'cu', {'remarks': 'too thin'})
    return f
def state(s, f): return s('GET', '/founts/' + f['id'], 'cu')[1]['status']
def hour(n): return time.strftime('%Y-%m-%dT%H:00:00Z', time.gmtime(time.time() + 3600 * (24 + n)))
def book(s, who='pr', n=0, press='albion', **k): return s('POST', '/bookings', who, {'press': press, 'starts_at': hour(n)} | k)
def pulled(s): f = s.placed(); return s('POST', '/founts/%s/proofs' % f['id'], 'fo', {'sheet': 'A'})[1]
def hook(s, who, h, **k): return s('POST', '/hooks', who, {'url': h.url} | k)[1]
PAPER = {'name': 'Zerkall', 'gsm': 100, 'sheets': 5}

def p_ship(s): f = ready(s); return code(s('POST', '/founts/%s/ship' % f['id'], 'fo'))
def p_unhook(s): k = hook(s, 'pr', Hear()); return s('DELETE', '/hooks/' + k['id'], 'pr')[0]
def p_founder(s): return s('POST', '/matrices', 'login', {'face': 'Jannon', 'style': 'swash', 'body_pt': 9})[0]
def p_root(s): return s.raw('GET', '/matrices', 'fo')[0]
def r_id(s): return len(s.matrix()['id'])
def r_name(s): book(s); return sorted(k for k in s('GET', '/bookings', 'pr')[1]['rows'][0] if 'start' in k)
def r_type(s): return type(pulled(s)['round']).__name__
def r_zone(s): return s('POST', '/bookings', 'pr', {'press': 'albion', 'starts_at': hour(1)[:-1]})[0]
def r_bytes(s): return s('POST', '/matrices', 'fo', {'face': 'é' * 40, 'style': 'roman', 'body_pt': 9})[0]
def r_visible(s): s('PUT', '/papers/AB-12', 'fo', PAPER); return ['sheets' in s('GET', '/papers/AB-12', w)[1] for w in ('cu', None, 'pr')]
def r_price(s): f = s.fount(); return s('PATCH', '/founts/' + f['id'], 'cu', {'weight_kg': 20}, If_Match='*')[1]['price_pence']
def s_lapse(s): b = book(s)[1]; s.adv('P7DT1H'); return s('GET', '/bookings/' + b['id'], 'pr')[1]['status']
def s_scrap(s): f = ready(s); return code(s('POST', '/founts/%s/scrap' % f['id'], 'cu'))
def s_timer(s):
    m = '/matrices/' + s.matrix()['id']
    s('POST', m + '/lend', 'pr', {'days': 2}); s.adv('P1D'); s('POST', m + '/take-back', 'pr'); s('POST', m + '/lend', 'pr', {'days': 9}); s.adv('P1DT1H')
    return s('GET', m, 'pr')[1]['status']
def s_finish(s): return state(s, ready(s)), state(s, ready(s, 2))
def s_stale(s): p = pulled(s); s.adv('P10DT1M'); return s('GET', '/proofs/' + p['id'], 'cu')[1]['status']
def e_head(s): m = s.matrix(); return s('HEAD', '/matrices/' + m['id'], 'pr')[0]
def e_slash(s): return s('GET', '/matrices/', 'pr')[0]
def e_max(s): s.matrix(body_pt=12); s.matrix(body_pt=14); return [len(s('GET', '/matrices?max_pt=%d' % n, 'pr')[1]['matrices']) for n in (12, 13, 14)]
def e_remarks(s): p = pulled(s); return code(s('POST', '/proofs/%s/send-back' % p['id'], 'cu', {}))
def e_location(s): a = book(s); return a[0], a[2].get('Location') == '/shop/bookings/' + a[1]['id']
def e_hidden(s): return code(s('GET', '/matrices?borrower=pr-kelm', 'cu'))
def a_both(s): return [s('GET', '/matrices', 'fo', Authorization=a)[0] for a in (T.LOGIN, 'Basic ' + base64.b64encode(b'fo-garamond:no').decode())]
def a_prefix(s): return s('GET', '/matrices', T.C['pr'][:-3] + 'xxx')[0]
def a_password(s): return [s('GET', '/matrices', Authorization='Basic ' + base64.b64encode(b).decode())[0] for b in (b'fo-garamond:Punch&Counter9', b'fo-garamond:punch&counter9')]
def a_house(s):
    m = '/matrices/' + s.matrix()['id']; s('POST', m + '/lend', 'pr', {'days': 2}); return s('POST', m + '/take-back', 'pr2')[0]
def a_scope(s):
    def own(verb):
        m = s.matrix(); f = s('POST', '/founts', 'cu0', {'matrix': m['id'], 'weight_kg': 1, 'ship_to': {'town': 'Bath', 'country': 'GB'}})[1]
        s('POST', '/founts/%s/place' % f['id'], 'cu0'); p = s('POST', '/founts/%s/proofs' % f['id'], 'fo', {'sheet': 'A'})[1]
        return s('POST', '/proofs/%s/%s' % (p['id'], verb), 'cu0', {'remarks': 'too thin'})[0]
    return own('approve'), own('send-back')
def a_list(s):
    f = ready(s); s('POST', '/founts/%s/ship' % f['id'], 'fo'); return [len(s('GET', '/invoices', w)[1]['rows']) for w in ('cu', 'cu2', 'pr', 'fo')]
def v_kind(s): return s('POST', '/hooks', 'cu', {'url': 'http://127.0.0.1:9/x', 'kinds': ['fount.melted']})[0]
def v_lapse(s):
    h = Hear(); hook(s, 'pr', h, kinds=['booking.ended']); b = book(s)[1]; c = book(s, n=3)[1]; s('POST', '/bookings/%s/cancel' % c['id'], 'pr'); s.adv('P7DT1H'); h.wait(2, .6)
    return [x['about']['status'] for x in h.wait(1)]
def v_seal(s):
    h = Hear(); k = hook(s, 'cu', h); s.placed(); h.wait(1); hd, b = h.got[0]; t, v = [x.split('=')[1] for x in hd['Foundry-Seal'].split(',')]
    return v == hmac.new(k['secret'].encode(), t.encode() + b'.' + b, hashlib.sha256).hexdigest()
def v_waits(s):
    h = Hear(lambda n: (500, {})); hook(s, 'cu', h); s.placed(); h.wait(1); time.sleep(.1); out = []
    for d in ('PT13S', 'PT13S', 'PT132S', 'PT73M', 'P1D'): s.adv(d); out.append(len(h.got))
    return out
def v_fields(s):
    h = Hear(); hook(s, 'cu', h); m = s.matrix(); s('POST', '/matrices/%s/lend' % m['id'], 'pr', {'days': 1}); s.adv('P1DT1M'); return sorted(h.wait(1)[0]['about'])
def x_status(s): f = s.fount(); return code(s('POST', '/founts/%s/proofs' % f['id'], 'fo', {'sheet': 'A'}))
def x_gone(s):
    s('PUT', '/papers/AB-12', 'fo', PAPER); s('DELETE', '/papers/AB-12', 'fo'); return code(s('GET', '/papers/AB-12')), code(s('DELETE', '/papers/AB-12', 'fo'))
def x_number(s):
    ms = [s.matrix() for _ in range(4)]; a = [s('POST', '/matrices/%s/lend' % m['id'], 'pr', {'days': 1}) for m in ms]; return a[3][0], a[3][1].get('number')
def x_order(s): f = s.placed(); return code(s('PATCH', '/founts/' + f['id'], 'cu', {}, If_Match='"old"')), code(s('PATCH', '/founts/' + f['id'], 'cu', {}, If_Match='*'))
def x_held(s):
    f = s.fount(); a = s('DELETE', '/matrices/' + f['matrix'], 'fo')[0]; s('POST', '/founts/%s/scrap' % f['id'], 'cu'); return a, s('DELETE', '/matrices/' + f['matrix'], 'fo')[0]
def l_service(s):
    m = '/matrices/' + s.matrix()['id']; out = []
    for n in range(10): s('POST', m + '/lend', 'pr', {'days': 0})
    return s('POST', m + '/lend', 'pr', {'days': 0})[0], s('POST', m + '/lend', 'pr2', {'days': 0})[0]
def l_body(s):
    b = json.dumps(PAPER)[:-1]; return [s('PUT', '/papers/AB-12', 'fo', b + ' ' * (n - len(b) - 1) + '}', Content_Type='application/json')[0] for n in (8191, 8192, 8193)]
def l_clamp(s): return [s('GET', '/founts?take=%d' % n, 'fo')[0] for n in (100, 101)]
def l_rows(s):
    b = [book(s, n=n)[1]['id'] for n in range(4)]; a = book(s, n=9)[0]; s('POST', '/bookings/%s/cancel' % b[0], 'pr'); return a, book(s, n=10)[0]
def l_slow(s):
    c = socket.create_connection(('127.0.0.1', s.p)); c.settimeout(7); c.sendall(b'POST /shop/founts HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{')
    try: return c.recv(999).split(b' ')[1].decode()
    except TimeoutError: return 'nothing'
def w_unknown(s): return code(s('GET', '/founts', 'cu', Foundry_Version='2031-01'))
def w_default(s):
    m = s.matrix(); f = s('POST', '/founts', 'cu', {'matrix': m['id'], 'weight_kg': 1}, Foundry_Version='2026-02')[1]; a = s('GET', '/founts/' + f['id'], 'cu'); return 'weight_kg' in a[1], a[2]['Foundry-Version']
def w_both(s): s.fount(); return sorted(k for k in s('GET', '/founts', 'cu', **OLD)[1]['rows'][0] if 'weight' in k)
def w_finish(s):
    s('PUT', '/papers/AB-12', 'fo', PAPER | {'finish': 'laid'}); s('PUT', '/papers/AB-12', 'fo', PAPER | {'sheets': 3}, **OLD); return s('GET', '/papers/AB-12')[1]['finish']
def w_sunset(s): return [s('GET', p, 'cu', **OLD)[2].get('Sunset') for p in ('/founts', '/founts/none')]

SUN = 'Tue, 01 Mar 2033 00:00:00 GMT'
SEEN = {   # what the right service shows, what the faulty one shows
    'p-ship': ((200, None), (404, 'not_found')), 'p-unhook': (204, 405), 'p-founder': (201, 403), 'p-root': (404, 200),
    'r-id': (14, 12), 'r-name': (['starts_at'], ['start_at']), 'r-type': ('int', 'str'), 'r-zone': (422, 201), 'r-bytes': (201, 422),
    'r-visible': ([False, False, True], [True, False, True]), 'r-price': (36000, 18000),
    's-lapse': ('lapsed', 'held'), 's-scrap': ((409, 'too_late'), (200, None)), 's-timer': ('lent', 'overdue'), 's-finish': (('ready', 'ready'), ('ready', 'placed')), 's-stale': ('stale', 'expired'),
    'e-head': (200, 405), 'e-slash': (404, 200), 'e-max': ([1, 1, 2], [0, 1, 1]), 'e-remarks': ((422, 'invalid'), (200, None)), 'e-location': ((201, True), (201, False)), 'e-hidden': ((400, 'bad_parameter'), (200, None)),
    'a-both': ([200, 401], [200, 200]), 'a-prefix': (401, 200), 'a-password': ([200, 401], [200, 200]), 'a-house': (403, 200), 'a-scope': ((403, 403), (403, 200)), 'a-list': ([1, 0, 0, 1], [1, 1, 1, 1]),
    'v-kind': (422, 201), 'v-lapse': (['cancelled', 'lapsed'], ['cancelled']), 'v-seal': (True, False), 'v-waits': ([2, 2, 3, 4, 4], [2, 3, 3, 4, 4]),
    'v-fields': (['body_pt', 'face', 'id', 'status', 'style'], ['body_pt', 'borrower', 'due_at', 'face', 'house', 'id', 'status', 'style']),
    'x-status': ((409, 'not_placed'), (422, 'not_placed')), 'x-gone': (((410, 'gone'), (410, 'gone')), ((410, 'gone'), (404, 'not_found'))), 'x-number': ((429, 4292), (429, None)),
    'x-order': (((412, 'changed'), (409, 'wrong_state')), ((409, 'wrong_state'), (409, 'wrong_state'))), 'x-held': ((409, 409), (409, 204)),
    'l-service': ((429, 422), (429, 429)), 'l-body': ([201, 200, 413], [201, 413, 413]), 'l-clamp': ([200, 400], [200, 200]), 'l-rows': ((429, 201), (429, 429)), 'l-slow': ('408', 'nothing'),
    'w-unknown': ((400, 'no_version'), (200, None)), 'w-default': ((True, '2026-02'), (False, '2024-09')), 'w-both': (['weight'], ['weight', 'weight_kg']), 'w-finish': ('laid', 'coated'), 'w-sunset': ([SUN, SUN], [SUN, None]),
}

def one(fault, at):
    out = []
    for n, f in enumerate(('', fault)):
        T_port = 24550 + at * 8 + n * 4
        s = Svc(f, T_port)
        try: out.append(globals()[fault.replace('-', '_')](s))
        except Exception as e: out.append(repr(e))
        finally: s.stop()
    return fault, out

def main():
    listed = [f['id'] for f in json.load(open(os.path.join(here, 'stranger.json')))['faults']]
    shown = 0
    with ThreadPoolExecutor(3) as pool:
        for fault, (right, bad) in pool.map(lambda x: one(x[1], x[0]), enumerate(listed)):
            ok = (right, bad) == SEEN[fault]
            shown += ok
            print('%-6s %-10s right %s | faulty %s%s' % ('shown' if ok else 'NOT', fault, right, bad, '' if ok else '   wanted %s' % (SEEN[fault],)))
    print('%d of %d shown' % (shown, len(listed)))
if __name__ == '__main__':
    main()
