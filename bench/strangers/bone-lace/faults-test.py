#!/usr/bin/env python3
"""For each fault a proof by hand: it passes on the sound service and fails with the fault switched on.  python3 faults-test.py [ID ...]"""
import base64, hashlib, hmac, http.client, json, os, socket, subprocess, sys, threading, time
from http.server import BaseHTTPRequestHandler, HTTPServer
from datetime import datetime, timezone, timedelta

HERE = os.path.dirname(os.path.abspath(__file__))
DOC = json.load(open(os.path.join(HERE, 'stranger.json')))
CRED = {c['id']: (c['scheme'], c['credential']) for c in DOC['callers']}


def free():
    s = socket.socket()
    s.bind(('127.0.0.1', 0))
    p = s.getsockname()[1]
    s.close()
    return p


class Answer:
    def __init__(self, status, headers, raw):
        self.status, self.h, self.raw = status, headers, raw
        try: self.j = json.loads(raw) if raw else None
        except ValueError: self.j = None

    @property
    def name(self): return self.j['snag']['name']


class World:
    def __init__(self, fault):
        self.port, self.cport = free(), free()
        self.p = subprocess.Popen([sys.executable, os.path.join(HERE, 'service.py'), '--port', str(self.port), '--clock-port', str(self.cport)] + (['--fault', fault] if fault else []),
                                  stdout=subprocess.PIPE, text=True)
        self.p.stdout.readline()
        self.c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=10)
        self.n = 0
        self.heard = []
        self.hook = None
        self.answers = []

    def end(self):
        self.c.close()
        self.p.terminate()
        self.p.wait()
        if self.hook:
            self.hook.shutdown()
            self.hook.server_close()

    def __call__(self, who, line, body=None, **h):
        m, path = line.split(' ', 1)
        hs = {k.replace('_', '-'): v for k, v in h.items()}
        if who and 'Authorization' not in hs:
            s, k = CRED[who]
            hs['Authorization'] = 'Bobbin ' + k if s == 'bobbin' else 'Basic ' + base64.b64encode((k + ':').encode()).decode()
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            hs.setdefault('Content-Type', 'application/json')
        self.c.request(m, '/atelier' + path, data, hs)
        r = self.c.getresponse()
        return Answer(r.status, r.headers, r.read())

    def ok(self, *a, **h):
        r = self(*a, **h)
        assert r.status < 300, (a, r.status, r.raw)
        return r.j

    def clock(self, advance):
        c = http.client.HTTPConnection('127.0.0.1', self.cport, timeout=10)
        c.request('POST', '/', json.dumps({'advance': advance}) if advance else None)
        r = c.getresponse()
        assert r.status == 200, r.read()
        return json.loads(r.read())['now']

    # rows
    def pricking(self, **k):
        self.n += 1
        return self.ok('m-ida', 'POST /prickings', {'title': 'Leaf %d' % self.n, 'school': 'honiton', 'pairs': 24, **k})

    def commission(self, who='p-adel', **k):
        return self.ok(who, 'POST /commissions', {'pricking': self.pricking()['mark'], 'length_cm': 40, **k})

    def accepted(self, **k):
        c = self.commission(**k)
        return self.ok('m-ida', 'POST /commissions/%d/accept' % c['no'])

    def piece(self, c=None, who='u-lien', **k):
        c = c or self.accepted()
        return self.ok(who, 'POST /commissions/%d/pieces' % c['no'], {'label': 'edge', 'grams': 3.5, **k})

    def ready(self):
        c = self.accepted()
        p = self.piece(c)
        for v in ('work', 'press'): self.ok('u-lien', 'POST /pieces/%s/%s' % (p['id'], v))
        return self.ok('m-ida', 'POST /commissions/%d/finish' % c['no'])

    def fair(self, slug='brugge-2030', days=30, **k):
        at = (datetime.now(timezone.utc) + timedelta(days=days)).strftime('%Y-%m-%dT%H:%M:%SZ')
        return self.ok('m-ida', 'PUT /fairs/' + slug, {'town': 'Brugge', 'opens_at': at, **k})

    def entry(self, who='u-lien', title='Collar'):
        self.fair()
        return self.ok(who, 'POST /fairs/brugge-2030/entries', {'title': title})

    def listen(self, who, kinds=None):
        w = self

        class H(BaseHTTPRequestHandler):
            def do_POST(self):
                b = self.rfile.read(int(self.headers['Content-Length']))
                w.heard.append((dict(self.headers), b))
                self.send_response(w.answers.pop(0) if w.answers else 204)
                self.send_header('Content-Length', '0')
                self.end_headers()

            def log_message(self, *a): pass
        self.hook = HTTPServer(('127.0.0.1', 0), H)
        threading.Thread(target=self.hook.serve_forever, args=(0.02,), daemon=True).start()
        return self.ok(who, 'POST /bells', {'address': 'http://127.0.0.1:%d/x' % self.hook.server_port, **({'kinds': kinds} if kinds else {})})

    def wait(self, n, s=0.6):
        end = time.time() + s
        while len(self.heard) < n and time.time() < end: time.sleep(0.01)
        return [json.loads(b) for _, b in self.heard]


PROOF = {}


def proof(f):
    PROOF[f.__name__.replace('_', '-')] = f
    return f


PR = {'title': 'Rose ground', 'school': 'bruges', 'pairs': 30}


@proof
def p_location(w):
    r = w('m-ida', 'POST /prickings', PR)
    return r.h['Location'] == '/atelier/prickings/' + r.j['mark']
@proof
def p_delete_bell(w):
    b = w.ok('p-adel', 'POST /bells', {'address': 'http://127.0.0.1:9/'})
    return w('p-adel', 'DELETE /bells/' + b['id']).status == 204
@proof
def r_pairs_max(w):
    return w('m-ida', 'POST /prickings', {**PR, 'pairs': 400}).status == 201 and w('m-ida', 'POST /prickings', {**PR, 'title': 'Other', 'pairs': 401}).status == 422
@proof
def r_title_twice(w):
    w.ok('m-ida', 'POST /prickings', PR)
    return w('m-ida', 'POST /prickings', PR).status == 409
@proof
def r_remark_seen(w):
    p = w.pricking(remark='dull')
    return p['remark'] == 'dull' and 'remark' not in w.ok('p-adel', 'GET /prickings/' + p['mark'])
@proof
def r_opens_at(w): return w('m-ida', 'PUT /fairs/gent-2031', {'town': 'Gent', 'opens_at': '2031-05-05T10:00:00'}).status == 422
@proof
def r_stalls_default(w): return w.fair()['stalls'] == 4
@proof
def r_price(w): return w.accepted(grade='fine')['price'] == 200
@proof
def r_changed_at(w):
    c = w.commission()
    w.clock('PT1H')
    return w.ok('m-ida', 'POST /commissions/%d/accept' % c['no'])['changed_at'] > c['changed_at']
@proof
def r_whisper(w): return 'whisper' not in w.ok('p-adel', 'GET /commissions/%d' % w.commission(whisper='for a veil')['no'])
@proof
def r_seq_overall(w): return w.piece()['seq'] == 1 and w.piece()['seq'] == 1
@proof
def r_label_changes(w):
    p = w.piece()
    return w('u-lien', 'PATCH /pieces/' + p['id'], {'label': 'edge'}).status == 200 and w('u-lien', 'PATCH /pieces/' + p['id'], {'label': 'other'}).status == 422
@proof
def r_measure_open(w):
    r = w('m-ida', 'POST /prickings', {**PR, 'measure': {'width_mm': 4, 'repeat_mm': 9, 'depth': 2}})
    return r.status == 422 and r.name == 'odd_thread' and r.j['spots'][0]['path'] == 'measure.depth'
@proof
def r_entry_code(w): return len(w.entry()['code']) == 15
@proof
def s_gift_accepted(w): return w.commission(gift=True)['stage'] == 'asked'
@proof
def s_withdraw_ready(w): 
    r = w('p-adel', 'POST /commissions/%d/withdraw' % w.ready()['no'])
    return r.status == 409 and r.name == 'too_late'
@proof
def s_finish_free(w):
    r = w('m-ida', 'POST /commissions/%d/finish' % w.accepted()['no'])
    return r.status == 409 and r.name == 'nothing_pressed'
@proof
def s_hand_over_part(w):
    c = w.ready()
    w.ok('p-adel', 'POST /commissions/%d/deposit' % c['no'])
    r = w('m-ida', 'POST /commissions/%d/hand-over' % c['no'])
    if (r.status, r.name if r.status > 300 else '') != (402, 'unpaid'): return False
    w.ok('p-adel', 'POST /commissions/%d/settle' % c['no'])
    return w.ok('m-ida', 'POST /commissions/%d/hand-over' % c['no'])['stage'] == 'handed_over'
@proof
def s_lapse_late(w):
    c = w.commission()
    w.clock('P13DT23H')
    a = w.ok('p-adel', 'GET /commissions/%d' % c['no'])['stage']
    w.clock('PT2H')
    return (a, w.ok('p-adel', 'GET /commissions/%d' % c['no'])['stage']) == ('asked', 'lapsed')
@proof
def s_settle_empty(w): return w('p-adel', 'POST /commissions/%d/settle' % w.accepted()['no']).status == 409
@proof
def s_unpick_worked(w):
    p = w.piece()
    w.ok('u-lien', 'POST /pieces/%s/work' % p['id'])
    return w('m-rosa', 'POST /pieces/%s/unpick' % p['id']).status == 200
@proof
def s_spoil_restarts(w):
    p = w.piece()
    w.ok('u-lien', 'POST /pieces/%s/work' % p['id'])
    w.clock('P4D')
    w.ok('u-lien', 'PATCH /pieces/' + p['id'], {'grams': 8})
    w.clock('P4D')
    return w.ok('u-lien', 'GET /pieces/' + p['id'])['step'] == 'spoilt'
@proof
def s_never_closes(w):
    w.fair()
    w.clock('P31D')
    a = w.ok(None, 'GET /fairs/brugge-2030')['phase']
    w.clock('P3D')
    return (a, w.ok(None, 'GET /fairs/brugge-2030')['phase']) == ('open', 'closed')
@proof
def e_called(w):
    w.pricking(title='Old rose'), w.pricking(title='rose new')
    return [r['title'] for r in w.ok('p-adel', 'GET /prickings?called=rose')['rows']] == ['rose new']
@proof
def e_pairs_from(w):
    w.pricking(pairs=20), w.pricking(pairs=19)
    return w.ok('p-adel', 'GET /prickings?pairs_from=20')['whole'] == 1
@proof
def e_sort_down(w):
    for n in (30, 50, 40): w.commission(length_cm=n)
    return [r['length_cm'] for r in w.ok('p-adel', 'GET /commissions?sort=-length_cm')['rows']] == [50, 40, 30]
@proof
def e_stage_first(w):
    w.commission(), w.accepted()
    return w.ok('p-adel', 'GET /commissions?stage=asked,accepted')['whole'] == 2
@proof
def e_no_location(w): return w('m-ida', 'POST /prickings', PR).h['Location'] is not None
@proof
def e_delete_200(w):
    r = w('u-lien', 'DELETE /pieces/' + w.piece()['id'])
    return r.status == 204 and not r.raw
@proof
def e_null_kept(w):
    c = w.commission(wanted_on='2030-01-01')
    t = w('p-adel', 'GET /commissions/%d' % c['no']).h['ETag']
    return 'wanted_on' not in w.ok('p-adel', 'PATCH /commissions/%d' % c['no'], {'wanted_on': None}, If_Match=t)
@proof
def e_body_parent(w):
    c = w.accepted()
    return w('u-lien', 'POST /commissions/%d/pieces' % c['no'], {'label': 'x', 'grams': 2, 'commission': c['no'] + 1}).status == 422
@proof
def e_options(w):
    r = w(None, 'OPTIONS /prickings/pk-0')
    return r.status == 204 and 'DELETE' in r.h['Allow']
@proof
def e_none_match(w):
    p = w.pricking()['mark']
    r = w('p-adel', 'GET /prickings/' + p)
    return w('p-adel', 'GET /prickings/' + p, If_None_Match=r.h['ETag']).status == 304
@proof
def e_once(w):
    b = {'pricking': w.pricking()['mark'], 'length_cm': 9}
    a, c = (w.ok('p-adel', 'POST /commissions', b, Once_Key='k1') for _ in '12')
    return a == c and w('p-adel', 'POST /commissions', {**b, 'length_cm': 10}, Once_Key='k1').status == 422
@proof
def a_read_any(w): return w('p-bram', 'GET /commissions/%d' % w.commission()['no']).status == 404
@proof
def a_list_pieces(w):
    c = w.accepted()
    w.piece(c), w.piece(c, 'u-joos')
    return w.ok('u-lien', 'GET /commissions/%d/pieces' % c['no'])['whole'] == 1
@proof
def a_draw_scope(w):
    r = w('m-novice', 'POST /prickings', PR)
    return r.status == 403 and r.name == 'unsworn'
@proof
def a_judge_scope(w):
    e = w.entry()
    return w('m-novice', 'PATCH /entries/' + e['code'], {'points': 5}).status == 403 and w('m-ida', 'PATCH /entries/' + e['code'], {'points': 5}).status == 200
@proof
def a_pupil_asked(w): return w('u-lien', 'GET /commissions/%d' % w.commission()['no']).status == 404
@proof
def a_gate_password(w): return w('', 'GET /prickings', Authorization='Basic ' + base64.b64encode((CRED['p-bram'][1] + ':x').encode()).decode()).status == 401
@proof
def a_any_prefix(w): return w('', 'GET /prickings', Authorization='Bearer ' + CRED['p-adel'][1]).status == 401
@proof
def a_chronicle(w): return w('p-adel', 'GET /chronicle').status == 403 and w('m-ida', 'GET /chronicle').status == 200
@proof
def v_signature(w):
    b = w.listen('m-rosa')
    w.pricking()
    w.wait(1)
    h, body = w.heard[0]
    t, s = (x.split('=', 1)[1] for x in h['Lace-Seal'].split(','))
    return hmac.new(b['seal'].encode(), ('%s.%s.' % (h['Lace-Event-Id'], t)).encode() + body, hashlib.sha256).hexdigest() == s and json.loads(body)['told'] == h['Lace-Event-Id']
@proof
def v_no_retry(w):
    w.listen('m-rosa')
    w.answers = [500]
    w.pricking()
    w.wait(1)
    time.sleep(0.05)
    w.clock('PT13S')
    a = w.wait(2)
    return len(a) == 2 and a[0] == a[1]
@proof
def v_lapse_silent(w):
    w.commission()
    w.clock('P15D')
    return [r['sheet']['is'] for r in w.ok('m-ida', 'GET /chronicle?what=commission.moved')['rows']] == ['lapsed']
@proof
def v_was(w):
    w.accepted()
    return [r['sheet']['was'] for r in w.ok('m-ida', 'GET /chronicle?what=commission.moved')['rows']] == ['asked']
@proof
def v_judged_always(w):
    e = w.entry()
    w.ok('m-ida', 'PATCH /entries/' + e['code'], {'points': 50})
    w.ok('m-ida', 'PATCH /entries/' + e['code'], {'title': 'Cuff'})
    return w.ok('m-ida', 'GET /chronicle?what=entry.judged')['whole'] == 1
@proof
def v_wildcard(w):
    w.listen('m-rosa', ['piece.*'])
    p = w.piece()
    for v in ('work', 'press'): w.ok('u-lien', 'POST /pieces/%s/%s' % (p['id'], v))
    return [x['kind'] for x in w.wait(1)] == ['piece.pressed']
@proof
def v_remark_told(w):
    w.listen('p-adel')
    w.pricking(remark='dull')
    a = w.wait(1)
    return len(a) == 1 and 'remark' not in a[0]['sheet'] and a[0]['sheet']['pairs'] == 24
@proof
def x_still_used(w):
    r = w('m-ida', 'DELETE /prickings/' + w.commission()['pricking'])
    return r.status == 409 and r.name == 'still_used'
@proof
def x_lost_thread(w):
    r = w('p-adel', 'POST /commissions', {'pricking': 'pk-0000000000', 'length_cm': 9})
    return r.status == 422 and r.name == 'lost_thread'
@proof
def x_spots(w):
    r = w('m-ida', 'POST /prickings', {'title': 'ab', 'school': 'bruges'})
    return r.name == 'unfit' and [s['path'] for s in r.j['spots']] == ['title', 'pairs']
@proof
def x_order(w): return w('p-adel', 'POST /prickings', {'title': 5}).status == 403
@proof
def l_entry_rate(w):
    a = [w('u-lien', 'GET /entries') for _ in range(31)]
    if not (all(r.status == 200 for r in a[:30]) and a[30].status == 429 and int(a[30].h['Retry-After']) <= 60 and a[0].h['Lace-Left'] == '29'): return False
    w.clock('PT61S')
    return w('u-lien', 'GET /entries').status == 200
@proof
def l_take(w):
    for _ in range(52): w.pricking()
    r = w.ok('p-adel', 'GET /prickings?take=60&from=2')
    return len(r['rows']) == 50 and r['more'] is True and r['whole'] == 52 and r['here'] == '/atelier/prickings'
@proof
def l_bells(w): return [w('p-adel', 'POST /bells', {'address': 'http://127.0.0.1:9/'}).status for _ in range(9)] == [201] * 8 + [403]
@proof
def l_body(w): return w('m-ida', 'POST /prickings', {**PR, 'keeper': 'x' * 8200}).status == 413
@proof
def w_deprecation(w):
    r = w('p-adel', 'GET /prickings/' + w.pricking()['mark'], Lace_Edition='ed1')
    return r.j['threads'] == 24 and r.j['school'] == 'devon' and r.h['Deprecation'] == '@1777593600' and r.h['Sunset'] == 'Mon, 01 May 2028 00:00:00 GMT' and 'successor-version' in r.h['Link']
@proof
def w_unknown(w): return w('p-adel', 'GET /prickings', Lace_Edition='ed9').status == 400
@proof
def w_points(w):
    e = w.entry()
    w.ok('m-ida', 'PATCH /entries/' + e['code'], {'points': 75})
    a = w.ok('m-ida', 'GET /entries/' + e['code'], Lace_Edition='ed1')['points']
    return a == 7.5 and w.ok('m-ida', 'PATCH /entries/' + e['code'], {'points': 3.3}, Lace_Edition='ed1')['points'] == 3.3 and w.ok('m-ida', 'GET /entries/' + e['code'])['points'] == 33


def run(fault, f):
    w = World(fault)
    try:
        return bool(f(w)), ''
    except Exception as e:
        return False, repr(e)[:200]
    finally:
        w.end()


def main():
    ids = sys.argv[1:] or [f['id'] for f in DOC['faults']]
    wrong = 0
    for i in ids:
        sound, why = run(None, PROOF[i])
        faulty, _ = run(i, PROOF[i])
        if not sound or faulty:
            wrong += 1
            print('WRONG', i, 'sound' if sound else 'NOT SOUND', 'faulty passes' if faulty else 'faulty fails', why)
    print('%d of %d faults differ' % (len(ids) - wrong, len(ids)))
    sys.exit(1 if wrong else 0)


main()
