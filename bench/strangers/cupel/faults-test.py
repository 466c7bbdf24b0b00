#!/usr/bin/env python3
"""Shows of each fault, by plain HTTP, that the right service does right and the faulty one does wrong.
   python3 faults-test.py [--write] [ID...]     (--write writes stranger.json)"""
import http.client, json, subprocess, sys, time, threading, os, hmac, hashlib, socket, datetime, re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
HERE = os.path.dirname(os.path.abspath(__file__))
NODE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../../node_modules/.bin/node')
CALLERS = json.loads(subprocess.check_output([NODE, HERE + '/service.cjs', '--print-callers']))
NAMES = {'m1': 'mk-hester', 'm2': 'mk-garrard', 'm3': 'mk-apprentice', 'a1': 'as-oakes', 'a2': 'as-pyne', 'w1': 'wd-trial', 'w2': 'wd-deputy'}
CRED = {(c['id'], c['scheme']): c['credential'] for c in CALLERS}
port = [21000 + os.getpid() % 5000]
RECV = {'got': [], 'answer': 200, 'headers': {}}
class H(BaseHTTPRequestHandler):
    def do_POST(self):
        b = self.rfile.read(int(self.headers['content-length']))
        RECV['got'].append((dict((k.lower(), v) for k, v in self.headers.items()), b, self.path))
        a = RECV['answer']
        self.send_response(a); self.send_header('content-length', '0'); self.end_headers()
    def log_message(self, *a): pass
recv = ThreadingHTTPServer(('127.0.0.1', 0), H); threading.Thread(target=recv.serve_forever, daemon=True).start()
HOOK = 'http://127.0.0.1:%d/' % recv.server_address[1]
class S:
    def __init__(s, fault=None):
        port[0] += 2; s.p, s.cp = port[0], port[0] + 1
        s.proc = subprocess.Popen([NODE, HERE + '/service.cjs', '--port', str(s.p), '--clock-port', str(s.cp)] + (['--fault', fault] if fault else []), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            try: socket.create_connection(('127.0.0.1', s.cp), 1).close(); break
            except OSError: time.sleep(0.03)
        s.c = None; s.n = 0; RECV['got'].clear(); RECV['answer'] = 200
    def stop(s): s.proc.kill(); s.proc.wait()
    def r(s, m, path, body=None, who='m1', h=None, scheme='touch', raw=None, base='/assay'):
        hd = dict(h or {})
        if who:
            for sc in (['touch', 'bench'] if scheme == 'both' else [scheme]):
                k = CRED[(NAMES[who], sc)]
                if sc == 'touch': hd.setdefault('Authorization', 'Touch ' + k)
                else: hd.setdefault('X-Bench-Pass', k)
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        if data is not None: hd.setdefault('Content-Type', 'application/json')
        hd = {k: v for k, v in hd.items() if v is not None}
        for i in (0, 1):
            try:
                if s.c is None: s.c = http.client.HTTPConnection('127.0.0.1', s.p, timeout=20)
                s.c.request(m, base + path, data, hd); x = s.c.getresponse(); t = x.read(); break
            except (http.client.RemoteDisconnected, ConnectionError, BrokenPipeError):
                s.c = None
                if i: raise
        try: j = json.loads(t) if t else None
        except ValueError: j = t
        return R(x.status, j, {k.lower(): v for k, v in x.getheaders()})
    def adv(s, d):
        c = http.client.HTTPConnection('127.0.0.1', s.cp, timeout=20); c.request('POST', '/', json.dumps({'advance': d})); x = c.getresponse(); x.read(); c.close(); assert x.status == 200; s.c = None
    def u(s): s.n += 1; n = s.n; return chr(65 + n // 676 % 26) + chr(65 + n // 26 % 26) + chr(65 + n % 26) + 'Q'
    def mark(s, who='m1', **k): return s.r('POST', '/marks', {'letters': s.u(), **k}, who).j
    def lodx(s, who='m1', **k):
        m = k.pop('mark', None) or s.mark(who)['id']
        b = {'mark': m, 'return_to': dict(ADDR), 'declared_grams': 120, 'pin': '4711', **k}
        return s.r('POST', '/lodgements', {a: c for a, c in b.items() if c is not None}, who)
    def lod(s, who='m1', **k): return s.lodx(who, **k).j
    def piecex(s, l, who='m1', h=None, **k): return s.r('POST', '/lodgements/%s/pieces' % l['id'], {'wording': 'A plain ring', 'alloy': 'AU750', 'milligrams': 4200, **k}, who, h)
    def piece(s, l, who='m1', **k): return s.piecex(l, who, **k).j
    def do(s, l, what, who='m1', b=None, **k): return s.r('POST', '/lodgements/%s/%s' % (l['id'], what), b, who, **k)
    def get(s, p, who='m1', **k): return s.r('GET', p, None, who, **k)
    def lodged(s, who='m1', n=1, **k):
        l = s.lod(who, **k); ps = [s.piece(l, who) for _ in range(n)]; s.do(l, 'lodge', who); return l, ps
    def onbench(s, who='m1', a='a1', n=1, **k): l, ps = s.lodged(who, n, **k); s.do(l, 'begin', a); return l, ps
    def assay(s, p, ppt=800, a='a1', **k): return s.r('POST', '/pieces/%s/assay' % p['id'], {'ppt': ppt}, a, scheme='bench', **k)
    def released(s, who='m1', a='a1', ppt=800, n=1, **k):
        l, ps = s.onbench(who, a, n, **k)
        for p in ps: s.assay(p, ppt, a)
        s.do(l, 'release', a); return l, ps
    def bill(s, who='m1', a='a1', **k):
        l, _ = s.released(who, a, **k); bs = s.get('/bills?lodgement=' + l['id'], who).j['rows']; return l, (bs[0] if bs else None)
    def settle(s, b, pence=None, key=None, who='m1', method='card'):
        s.n += 1; return s.r('POST', '/bills/%s/settle' % b['id'], {'pence': b['total_pence'] if pence is None else pence, 'method': method}, who, {'Cupel-Once': key or 'k%d' % s.n})
    def hook(s, who='m1', h=None, **k): return s.r('POST', '/listeners', {'url': HOOK, **k}, who, h)
    def got(s, kind=None, wait=0.35, n=None):
        t = time.time() + (2 if n else wait)
        while time.time() < t:
            if n and len(s.evs(kind)) >= n: break
            time.sleep(0.02)
        return s.evs(kind)
    def evs(s, kind=None): return [(h, json.loads(b), b) for h, b, _ in list(RECV['got']) if kind is None or h.get('cupel-kind', '') == kind or json.loads(b).get('what') == kind]
    def patch(s, l, b, who='m1', h=None):
        e = s.get('/lodgements/' + l['id'], who).h.get('etag'); return s.r('PATCH', '/lodgements/' + l['id'], b, who, {'If-Match': e, **(h or {})})
    def st(s, l, who='m1'): return s.get('/lodgements/' + l['id'], who).j['status']
class R:
    def __init__(s, st, j, h): s.s, s.j, s.h = st, j, h
    def no(s, st, code=None): return s.s == st and (code is None or (isinstance(s.j, dict) and s.j.get('refusal', {}).get('code') == code))
ADDR = {'street': '1 Goldsmith Row', 'town': 'London', 'postcode': 'EC2V 8AQ', 'country': 'GB'}
def addr(**k): return {**ADDR, **k}
V3 = {'Cupel-Edition': '3'}
FAULTS = []
def T(id, part, kind, subject, operation, bug, fn): FAULTS.append((id, part, kind, subject, operation, bug, fn))
ids = lambda r: [x.get('id') for x in r.j['rows']]
RS, ST, EN, AU, EV, ER, LI, VE, PU = 'resources', 'states', 'endpoints', 'authentication', 'events', 'errors', 'limits', 'versioning', 'purpose'
RQ, RP, PA, PR = 'request payload shapes', 'response payload shapes', 'parameters', 'permission rules'

# purpose
T('base-longer', PU, 'base address', 'service', 'list alloy', 'Everything is served below /assay/api instead of /assay.', lambda s: s.get('/alloys', None).s == 200)
T('no-wardens', PU, 'users', 'service', 'upsert alloy', 'Wardens are no longer known: each of their credentials is refused.', lambda s: s.get('/marks', 'w1').s == 200)
T('unhold-unrouted', PU, 'functions', 'service', 'unhold lodgement', 'The route that takes a lodgement off hold was never wired up.', lambda s: (lambda l: (s.do(l, 'hold', 'a1', {'reason': 'odd weight'}), s.do(l, 'unhold', 'a1').s == 200)[1])(s.lodged()[0]))

# resources
def bad(s, **k): return s.lodx(**k).s == 422
T('town-loose', RS, 'allowed values', 'address.town', 'create lodgement', 'A town may be ten times as long as stated.', lambda s: bad(s, return_to=addr(town='x' * 41)))
T('postcode-unanchored', RS, 'allowed values', 'address.postcode', 'create lodgement', 'The pattern of the postcode is matched anywhere in the text.', lambda s: bad(s, return_to=addr(postcode='zz EC2V 8AQ zz')))
T('country-extra', RS, 'allowed values', 'address.country', 'create lodgement', 'Countries that are not stated are taken.', lambda s: bad(s, return_to=addr(country='FR')))
T('country-no-isle', RS, 'allowed values', 'address.country', 'create lodgement', 'The Isle of Man is forgotten among the countries.', lambda s: s.lodx(return_to=addr(country='IM')).s == 201)
T('postcode-optional', RS, 'required flags', 'address.postcode', 'create lodgement', 'An address may lack its postcode.', lambda s: bad(s, return_to={k: v for k, v in ADDR.items() if k != 'postcode'}))
alloy = lambda s, code='PT950', who='w1', h=None, **k: s.r('PUT', '/alloys/' + code, {'metal': 'platinum', 'fineness': 950, 'fee_pence': 900, **k}, who, h)
T('metal-unchecked', RS, 'allowed values', 'alloy.metal', 'upsert alloy', 'Any text is taken for a metal.', lambda s: alloy(s, metal='brass').s == 422)
T('fineness-thousand', RS, 'allowed values', 'alloy.fineness', 'upsert alloy', 'A fineness of 1000 is let through.', lambda s: alloy(s, fineness=1000).s == 422)
T('fee-negative', RS, 'allowed values', 'alloy.fee_pence', 'upsert alloy', 'A fee may be negative.', lambda s: alloy(s, fee_pence=-1).s == 422)
T('alloy-fee-optional', RS, 'required flags', 'alloy.fee_pence', 'upsert alloy', 'An alloy without a fee is taken as free of charge.', lambda s: s.r('PUT', '/alloys/PT950', {'metal': 'platinum', 'fineness': 950}, 'w1').s == 422)
T('start-row-absent', RS, 'resources', 'service', 'list alloy', 'Sterling is not there from the start.', lambda s: s.get('/alloys/AG925', None).s == 200)
T('fineness-twice', RS, 'allowed values', 'alloy.fineness', 'upsert alloy', 'Two alloys of one metal may have one fineness.', lambda s: alloy(s, 'AU751', metal='gold', fineness=750).s == 409)
T('amended-still', RS, 'allowed values', 'alloy.amended_at', 'upsert alloy', 'The time of the last change is kept from the creation.', lambda s: (alloy(s), s.adv('PT5M'), alloy(s, fee_pence=901).j['amended_at'] > alloy(s, 'PT850', fineness=850).j['amended_at'][:16])[2])
T('alloy-local-time', RS, 'formats', 'alloy.amended_at', 'read alloy', 'The time is written without T and zone.', lambda s: 'T' in s.get('/alloys/AU375', None).j['amended_at'])
T('letters-digits', RS, 'allowed values', 'mark.letters', 'create mark', 'Letters of a mark may be digits.', lambda s: s.r('POST', '/marks', {'letters': 'A1B'}).s == 422)
T('outline-default', RS, 'allowed values', 'mark.outline', 'create mark', 'The default of the outline is the shield.', lambda s: s.mark()['outline'] == 'oval')
T('motto-short', RS, 'allowed values', 'mark.motto', 'create mark', 'A motto of one character is taken.', lambda s: s.r('POST', '/marks', {'letters': 'ABC', 'motto': 'x'}).s == 422)
T('letters-twice', RS, 'allowed values', 'mark.letters', 'create mark', 'Letters are not kept unique.', lambda s: (s.r('POST', '/marks', {'letters': 'ABC'}), s.r('POST', '/marks', {'letters': 'ABC'}, 'm2').s == 409)[1])
T('letters-case', RS, 'allowed values', 'mark.letters', 'create mark', 'Uniqueness of letters minds their case.', lambda s: (s.r('POST', '/marks', {'letters': 'ABC'}), s.r('POST', '/marks', {'letters': 'abC'}).s == 409)[1])
T('mark-id-upper', RS, 'identifiers', 'mark', 'create mark', 'Identifiers of marks have eight digits in capitals.', lambda s: bool(re.match(r'^mrk_[0-9a-f]{10}$', s.mark()['id'])))
T('uses-as-text', RS, 'types', 'mark.uses', 'read mark', 'The count of uses is a text.', lambda s: s.mark()['uses'] == 0)
T('erased-not-kept', RS, 'resources', 'service', 'read mark', 'An erased mark is forgotten at once instead of kept.', lambda s: (lambda m: (s.r('DELETE', '/marks/' + m['id']), s.get('/marks/' + m['id']).s == 410)[1])(s.mark()))
T('kept-ten-days', RS, 'resources', 'service', 'reinstate mark', 'An erased mark is kept for ten days only.', lambda s: (lambda m: (s.r('DELETE', '/marks/' + m['id']), s.adv('P20D'), s.get('/marks/' + m['id']).s == 410)[2])(s.mark()))
T('kept-longer', RS, 'resources', 'service', 'read mark', 'An erased mark is kept for 45 days.', lambda s: (lambda m: (s.r('DELETE', '/marks/' + m['id']), s.adv('P31D'), s.get('/marks/' + m['id']).s == 404)[2])(s.mark()))
T('grams-zero', RS, 'allowed values', 'lodgement.declared_grams', 'create lodgement', 'Nothing at all may be declared as weight.', lambda s: bad(s, declared_grams=0))
T('grams-optional', RS, 'required flags', 'lodgement.declared_grams', 'create lodgement', 'The weight may be left out.', lambda s: bad(s, declared_grams=None))
T('pin-any', RS, 'allowed values', 'lodgement.pin', 'create lodgement', 'A pin may be any text.', lambda s: bad(s, pin='12345x'))
T('pin-shown', RS, 'allowed values', 'lodgement.pin', 'read lodgement', 'The pin is shown in answers.', lambda s: 'pin' not in s.get('/lodgements/' + s.lod()['id']).j)
T('customs-long', RS, 'allowed values', 'lodgement.customs_ref', 'create lodgement', 'A customs reference may be longer than 20.', lambda s: bad(s, customs_ref='x' * 21))
T('customs-twice', RS, 'allowed values', 'lodgement.customs_ref', 'create lodgement', 'One maker may use a customs reference twice.', lambda s: (s.lod(customs_ref='CU-1'), s.lodx(customs_ref='CU-1').s == 409)[1])
T('bench-note-writable', RS, 'allowed values', 'lodgement.bench_note', 'create lodgement', 'Makers can write the note of the bench.', lambda s: 'bench_note' not in s.get('/lodgements/' + s.lod(bench_note='mine')['id'], 'w1').j)
T('bench-note-shown', RS, 'allowed values', 'lodgement.bench_note', 'read lodgement', 'Makers are shown the note of the bench.', lambda s: (lambda l: (s.patch(l, {'bench_note': 'scratched'}, 'w1'), 'bench_note' not in s.get('/lodgements/' + l['id']).j)[1])(s.lod()))
T('hall-dropped', RS, 'required flags', 'lodgement.hall', 'read lodgement', 'Answers lack the hall.', lambda s: 'hall' in s.lod())
T('hall-fixed', RS, 'allowed values', 'lodgement.hall', 'create lodgement', 'Every lodgement is of the hall in London.', lambda s: s.lod('m2')['hall'] == 'york')
T('docket-number', RS, 'types', 'lodgement.docket', 'create lodgement', 'The docket is a number.', lambda s: isinstance(s.lod()['docket'], str))
T('docket-stuck', RS, 'allowed values', 'lodgement.docket', 'create lodgement', 'Every lodgement has the same docket.', lambda s: s.lod()['docket'] != s.lod()['docket'])
T('touched-unix', RS, 'formats', 'lodgement.touched_at', 'read lodgement', 'The time of the last change is a count of milliseconds.', lambda s: 'T' in s.lod()['touched_at'])
T('touched-still', RS, 'allowed values', 'lodgement.touched_at', 'update lodgement', 'Changes leave touched_at alone.', lambda s: (lambda l: (s.adv('PT5M'), s.patch(l, {'declared_grams': 9}).j['touched_at'] > l['touched_at'])[1])(s.lod()))
T('lodged-at-unset', RS, 'allowed values', 'lodgement.lodged_at', 'lodge lodgement', 'The time of lodging is not set.', lambda s: 'lodged_at' in s.get('/lodgements/' + s.lodged()[0]['id']).j)
T('hold-reason-lost', RS, 'allowed values', 'lodgement.hold_reason', 'hold lodgement', 'The reason of a hold is thrown away.', lambda s: s.do(s.lodged()[0], 'hold', 'a1', {'reason': 'odd weight'}).j.get('hold_reason') == 'odd weight')
T('failed-count-pending', RS, 'allowed values', 'lodgement.failed_count', 'read lodgement', 'Pieces that are pending count as failed.', lambda s: s.get('/lodgements/' + s.lodged()[0]['id']).j['failed_count'] == 0)
T('fee-skips-failed', RS, 'allowed values', 'lodgement.fee_pence', 'read lodgement', 'Failed pieces are left out of the sum of fees.', lambda s: s.get('/lodgements/' + s.released(ppt=10)[0]['id']).j['fee_pence'] == 620)
T('wording-two', RS, 'allowed values', 'piece.wording', 'create piece', 'A wording of two characters is taken.', lambda s: s.piecex(s.lod(), wording='ab').s == 422)
T('alloy-mutable', RS, 'allowed values', 'piece.alloy', 'update piece', 'The alloy of a piece can be changed.', lambda s: s.r('PATCH', '/pieces/' + s.piece(s.lod())['id'], {'alloy': 'AU375'}).s == 422)
T('milligrams-fraction', RS, 'types', 'piece.milligrams', 'create piece', 'Fractions of a milligram are taken.', lambda s: s.piecex(s.lod(), milligrams=500.5).s == 422)
T('features-four', RS, 'allowed values', 'piece.features', 'create piece', 'Four features are taken.', lambda s: s.piecex(s.lod(), features=['hinge', 'solder', 'enamel', 'chain']).s == 422)
T('features-doubled', RS, 'allowed values', 'piece.features', 'create piece', 'A feature may come twice.', lambda s: s.piecex(s.lod(), features=['hinge', 'hinge']).s == 422)
T('light-stones', RS, 'allowed values', 'piece.milligrams', 'create piece', 'Light pieces may have stones.', lambda s: s.piecex(s.lod(), stones=True, milligrams=400).s == 422)
T('number-reused', RS, 'allowed values', 'piece.number', 'create piece', 'The number of a deleted piece comes again.', lambda s: (lambda l: (s.piece(l), (lambda p: s.r('DELETE', '/pieces/' + p['id']))(s.piece(l)), s.piece(l)['number'] == 3)[2])(s.lod()))
T('number-global', RS, 'allowed values', 'piece.number', 'create piece', 'Pieces are numbered over all lodgements.', lambda s: (s.piece(s.lod()), s.piece(s.lod())['number'] == 1)[1])
T('piece-id-plain', RS, 'identifiers', 'piece', 'create piece', 'Identifiers of pieces are no UUIDs.', lambda s: len(s.piece(s.lod())['id']) == 36)
T('fee-flat', RS, 'allowed values', 'piece.fee_pence', 'create piece', 'Each piece costs 500, whatever its alloy.', lambda s: s.piece(s.lod())['fee_pence'] == 620)
T('ppt-unset', RS, 'allowed values', 'piece.ppt', 'assay piece', 'The reading is not kept.', lambda s: s.assay(s.onbench()[1][0]).j.get('ppt') == 800)
T('assayed-by-shown', RS, 'allowed values', 'piece.assayed_by', 'read piece', 'Makers are shown who assayed.', lambda s: (lambda p: (s.assay(p), 'assayed_by' not in s.get('/pieces/' + p['id']).j)[1])(s.onbench()[1][0]))
T('assayed-by-hall', RS, 'allowed values', 'piece.assayed_by', 'assay piece', 'The hall is kept in place of the assayer.', lambda s: s.assay(s.onbench()[1][0]).j['assayed_by'] == 'as-oakes')
T('pieces-orphaned', RS, 'allowed values', 'piece.lodgement', 'delete lodgement', 'Pieces stay when their lodgement is deleted.', lambda s: (lambda l: (lambda p: (s.r('DELETE', '/lodgements/' + l['id']), s.get('/pieces/' + p['id']).s == 404)[1])(s.piece(l)))(s.lod()))
T('alloy-delete-used', RS, 'allowed values', 'piece.alloy', 'delete alloy', 'An alloy that pieces refer to can be deleted.', lambda s: (s.piece(s.lod()), s.r('DELETE', '/alloys/AU750', None, 'w1').s == 409)[1])
T('mark-delete-used', RS, 'allowed values', 'lodgement.mark', 'delete mark', 'A mark that lodgements refer to can be erased.', lambda s: s.r('DELETE', '/marks/' + s.lod()['mark']).s == 409)
T('urgent-single', RS, 'allowed values', 'bill.amount_pence', 'release lodgement', 'Urgent work costs no more than usual.', lambda s: s.bill(speed='urgent')[1]['amount_pence'] == 1240)
T('total-without-late', RS, 'allowed values', 'bill.total_pence', 'read bill', 'The late fee is left out of the total.', lambda s: (lambda b: (s.adv('P14DT1M'), s.get('/bills/' + b['id']).j['total_pence'] == 1120)[1])(s.bill()[1]))
T('no-late-fee', RS, 'allowed values', 'bill.late_fee_pence', 'fall_due bill', 'No late fee is set when a bill falls due.', lambda s: (lambda b: (s.adv('P14DT1M'), s.get('/bills/' + b['id']).j['late_fee_pence'] == 500)[1])(s.bill()[1]))
T('due-date-only', RS, 'formats', 'bill.due_at', 'read bill', 'The due time is a date alone.', lambda s: 'T' in s.bill()[1]['due_at'])
T('due-ten-days', RS, 'allowed values', 'bill.due_at', 'release lodgement', 'Bills are due after ten days.', lambda s: (lambda b, l: (datetime.datetime.fromisoformat(b['due_at'].replace('Z', '+00:00')) - datetime.datetime.fromisoformat(s.get('/lodgements/' + l['id']).j['touched_at'].replace('Z', '+00:00'))).days in (13, 14))(*(lambda x: (x[1], x[0]))(s.bill())))
T('paid-at-unset', RS, 'allowed values', 'bill.paid_at', 'settle bill', 'The time of payment is not set.', lambda s: 'paid_at' in s.settle(s.bill()[1]).j)
T('method-lost', RS, 'allowed values', 'bill.method', 'settle bill', 'How it was paid is forgotten.', lambda s: s.settle(s.bill()[1], method='cash').j.get('method') == 'cash')
waive = lambda s, b, who='w1', body={'why': 'kindness'}, scheme='both': s.r('POST', '/bills/%s/waive' % b['id'], body, who, scheme=scheme)
T('waive-why-shown', RS, 'allowed values', 'bill.waived_why', 'read bill', 'Makers are shown why a bill was waived.', lambda s: (lambda b: (waive(s, b), 'waived_why' not in s.get('/bills/' + b['id']).j)[1])(s.bill()[1]))
T('secret-shown-again', RS, 'allowed values', 'listener.secret', 'read listener', 'The secret of a listener is shown whenever it is read.', lambda s: 'secret' not in s.get('/listeners/' + s.hook().j['id']).j)
T('secret-never', RS, 'allowed values', 'listener.secret', 'create listener', 'The secret is not even shown once.', lambda s: len(s.hook().j.get('secret', '')) == 32)
T('any-kind', RS, 'allowed values', 'listener.kinds', 'create listener', 'Kinds of events that there are not are taken.', lambda s: s.hook(kinds=['bill.eaten']).s == 422)
T('entry-about-dropped', RS, 'required flags', 'entry.about', 'list entry', 'Entries lack what they are about.', lambda s: (s.mark(), 'about' in s.get('/journal').j['rows'][0])[1])
T('about-kind', RS, 'allowed values', 'entry.about', 'list entry', 'Entries say the kind in place of the resource.', lambda s: (s.mark(), s.get('/journal').j['rows'][0]['about'] == 'mark')[1])

# states
M, L = 'transitions', 'lodgement'
T('born-lodged', ST, 'states', L, 'create lodgement', 'A lodgement begins as lodged.', lambda s: s.lod()['status'] == 'draft')
T('lodge-empty', ST, M, L, 'lodge lodgement', 'A lodgement without pieces can be lodged.', lambda s: s.do(s.lod(), 'lodge').no(409, 'nothing_inside'))
T('lodge-again', ST, M, L, 'lodge lodgement', 'What was withdrawn can be lodged.', lambda s: (lambda l: (s.piece(l), s.do(l, 'withdraw'), s.do(l, 'lodge').no(409, 'wrong_stage'))[2])(s.lod()))
T('begin-held', ST, M, L, 'begin lodgement', 'What is held can be begun.', lambda s: (lambda l: (s.do(l, 'hold', 'a1', {'reason': 'odd weight'}), s.do(l, 'begin', 'a1').s == 409)[1])(s.lodged()[0]))
T('hold-only-lodged', ST, M, L, 'hold lodgement', 'What is on the bench cannot be held.', lambda s: s.do(s.onbench()[0], 'hold', 'a1', {'reason': 'odd weight'}).s == 200)
T('unhold-to-assaying', ST, M, L, 'unhold lodgement', 'Taking off hold leads to the bench.', lambda s: (lambda l: (s.do(l, 'hold', 'a1', {'reason': 'odd weight'}), s.do(l, 'unhold', 'a1').j['status'] == 'lodged')[1])(s.lodged()[0]))
T('never-rejected', ST, M, L, 'release lodgement', 'A lodgement with a failed piece is released.', lambda s: s.st(s.released(ppt=10)[0]) == 'rejected')
T('release-pending', ST, M, L, 'release lodgement', 'Pieces that are pending do not hinder the release.', lambda s: s.do(s.onbench()[0], 'release', 'a1').no(409, 'still_pending'))
T('no-bill', ST, M, L, 'release lodgement', 'No bill is drawn.', lambda s: s.bill()[1] is not None)
T('withdraw-assaying', ST, M, L, 'withdraw lodgement', 'What is on the bench can be withdrawn.', lambda s: s.do(s.onbench()[0], 'withdraw').s == 409)
T('any-pin', ST, M, L, 'collect lodgement', 'The pin is not compared.', lambda s: s.do(s.released()[0], 'collect', b={'pin': '0000'}).no(403, 'wrong_pin'))
T('collect-released-only', ST, M, L, 'collect lodgement', 'What was rejected cannot be collected.', lambda s: s.do(s.released(ppt=10)[0], 'collect', b={'pin': '4711'}).s == 200)
T('never-lapse', ST, M, L, 'lapse lodgement', 'Drafts never lapse.', lambda s: (lambda l: (s.adv('P7DT1M'), s.st(l) == 'lapsed')[1])(s.lod()))
T('lapse-day-late', ST, M, L, 'lapse lodgement', 'Drafts lapse a day late.', lambda s: (lambda l: (s.adv('P7DT1M'), s.st(l) == 'lapsed')[1])(s.lod()))
T('lapse-early', ST, M, L, 'lapse lodgement', 'Drafts lapse after five days.', lambda s: (lambda l: (s.adv('P6D'), s.st(l) == 'draft')[1])(s.lod()))
T('lapse-lodged', ST, M, L, 'lapse lodgement', 'What was lodged in time lapses all the same.', lambda s: (lambda l: (s.adv('P7DT1M'), s.st(l) == 'lodged')[1])(s.lodged()[0]))
T('never-forfeit', ST, M, L, 'forfeit lodgement', 'Nothing is ever forfeited.', lambda s: (lambda l: (s.adv('P30DT1M'), s.st(l) == 'forfeited')[1])(s.released()[0]))
T('rejected-never-forfeited', ST, M, L, 'forfeit lodgement', 'What was rejected is never forfeited.', lambda s: (lambda l: (s.adv('P30DT1M'), s.st(l) == 'forfeited')[1])(s.released(ppt=10)[0]))
T('patch-any-state', ST, 'states', L, 'update lodgement', 'A lodgement can be changed after it was lodged.', lambda s: s.patch(s.lodged()[0], {'declared_grams': 5}).no(409, 'wrong_stage'))
T('delete-lodged', ST, 'states', L, 'delete lodgement', 'What is lodged can be deleted.', lambda s: s.r('DELETE', '/lodgements/' + s.lodged()[0]['id']).s == 409)
T('assay-anywhere', ST, M, 'piece', 'assay piece', 'Pieces are assayed whether their lodgement is on the bench or not.', lambda s: s.assay(s.lodged()[1][0]).no(409, 'not_on_bench'))
T('assay-again', ST, M, 'piece', 'assay piece', 'What has failed can be assayed again at once.', lambda s: (lambda p: (s.assay(p, 10), s.assay(p).no(409, 'wrong_stage'))[1])(s.onbench()[1][0]))
T('pass-strict', ST, M, 'piece', 'assay piece', 'A reading of just the fineness fails.', lambda s: s.assay(s.onbench()[1][0], 750).j['status'] == 'passed')
T('retest-passed', ST, M, 'piece', 'retest piece', 'What has passed can be tested again.', lambda s: (lambda p: (s.assay(p), s.r('POST', '/pieces/%s/retest' % p['id'], None, 'w1').s == 409)[1])(s.onbench()[1][0]))
T('never-overdue', ST, M, 'bill', 'fall_due bill', 'Bills never fall due.', lambda s: (lambda b: (s.adv('P14DT1M'), s.get('/bills/' + b['id']).j['status'] == 'overdue')[1])(s.bill()[1]))
T('overdue-paid', ST, M, 'bill', 'fall_due bill', 'What was paid falls due all the same.', lambda s: (lambda b: (s.settle(b), s.adv('P14DT1M'), s.get('/bills/' + b['id']).j['status'] == 'paid')[2])(s.bill()[1]))
T('settle-open-only', ST, M, 'bill', 'settle bill', 'Overdue bills cannot be paid.', lambda s: (lambda b: (s.adv('P14DT1M'), s.settle(b, 1120).s == 200)[1])(s.bill()[1]))
T('underpay-passes', ST, M, 'bill', 'settle bill', 'Less than what is owed settles a bill.', lambda s: s.settle(s.bill()[1], 1).no(422, 'wrong_sum'))
T('overpay-passes', ST, M, 'bill', 'settle bill', 'More than what is owed settles a bill.', lambda s: s.settle(s.bill()[1], 99999).no(422, 'wrong_sum'))
T('pay-waived', ST, M, 'bill', 'settle bill', 'A waived bill can be paid.', lambda s: (lambda b: (waive(s, b), s.settle(b).no(409, 'closed_bill'))[1])(s.bill()[1]))
T('waive-paid', ST, M, 'bill', 'waive bill', 'A paid bill can be waived.', lambda s: (lambda b: (s.settle(b), waive(s, b).no(409, 'closed_bill'))[1])(s.bill()[1]))
T('waive-as-paid', ST, M, 'bill', 'waive bill', 'A waived bill becomes paid.', lambda s: waive(s, s.bill()[1]).j['status'] == 'waived')
erase = lambda s, m: s.r('DELETE', '/marks/' + m['id'])
back = lambda s, m, who='m1': s.r('POST', '/marks/%s/reinstate' % m['id'], None, who)
T('reinstate-status', ST, M, 'mark', 'reinstate mark', 'A mark that was brought back stays erased.', lambda s: (lambda m: (erase(s, m), back(s, m).j['status'] == 'live')[1])(s.mark()))
T('reinstate-twin', ST, M, 'mark', 'reinstate mark', 'A mark comes back though its letters are taken by now.', lambda s: (lambda m: (erase(s, m), s.r('POST', '/marks', {'letters': m['letters']}), back(s, m).s == 409)[2])(s.mark()))

# endpoints
T('listener-put', EN, 'methods', 'service', 'update listener', 'Listeners are changed by PUT instead of PATCH.', lambda s: s.r('PATCH', '/listeners/' + s.hook().j['id'], {'enabled': False}).s == 200)
T('bill-singular', EN, 'path shapes', 'service', 'list bill', 'Bills are served under /bill.', lambda s: s.get('/bills').s == 200)
T('head-405', EN, 'methods', 'service', 'list alloy', 'HEAD is refused where GET is there.', lambda s: s.r('HEAD', '/alloys', None, None).s == 200)
T('finer-inclusive', EN, PA, 'GET /alloys', 'list alloy', 'The filter by fineness takes the bound itself.', lambda s: [x['code'] for x in s.get('/alloys?finer_than=750', None).j['rows']] == ['AG925'])
T('filter-dead-list-alloy-metal', EN, PA, 'GET /alloys', 'list alloy', 'The filter by metal does nothing.', lambda s: s.get('/alloys?metal=silver', None).j['count'] == 1)
T('sort-ignored', EN, PA, 'GET /alloys', 'list alloy', 'What is asked as sort is ignored.', lambda s: [x['fineness'] for x in s.get('/alloys?sort=fineness', None).j['rows']] == [375, 750, 925])
T('alloy-order-turned', EN, RP, 'GET /alloys', 'list alloy', 'Alloys are listed from the end.', lambda s: [x['code'] for x in s.get('/alloys', None).j['rows']] == ['AG925', 'AU375', 'AU750'])
T('sort-anything', EN, PA, 'GET /alloys', 'list alloy', 'Sort takes any field.', lambda s: s.get('/alloys?sort=metal', None).no(400, 'bad_query'))
T('odd-query-passes', EN, PA, 'GET /marks', 'list mark', 'Parameters that are not stated are ignored.', lambda s: s.get('/marks?colour=red').no(400, 'bad_query'))
T('filter-dead-list-mark-outline', EN, PA, 'GET /marks', 'list mark', 'The filter by outline does nothing.', lambda s: (s.mark(), s.mark(outline='shield'), s.get('/marks?outline=shield').j['count'] == 1)[2])
T('pieces-unbounded', EN, PA, 'GET /quote', 'handler quote', 'A quote for any number of pieces is given.', lambda s: s.get('/quote?pieces=501', None).s == 400)
T('pieces-optional', EN, PA, 'GET /quote', 'handler quote', 'The number of pieces may be left out.', lambda s: s.get('/quote', None).s == 400)
T('quote-no-days', EN, RP, 'GET /quote', 'handler quote', 'The quote lacks its days.', lambda s: 'days' in s.get('/quote?pieces=2', None).j)
T('quote-pounds', EN, RP, 'GET /quote', 'handler quote', 'The quote is in pounds with fractions.', lambda s: isinstance(s.get('/quote?pieces=2', None).j['pence'], int))
T('filter-dead-list-lodgement-status', EN, PA, 'GET /lodgements', 'list lodgement', 'The filter by status does nothing.', lambda s: (s.lod(), s.get('/lodgements?status=lodged,held').j['lodgements'] == [])[1])
T('town-prefix', EN, PA, 'GET /lodgements', 'list lodgement', 'The filter by town looks at its first letter alone.', lambda s: (s.lod(), s.get('/lodgements?town=Leeds').j['lodgements'] == [])[1])
T('lightest-strict', EN, PA, 'GET /lodgements', 'list lodgement', 'The lower bound of weight leaves out the bound itself.', lambda s: (s.lod(), len(s.get('/lodgements?lightest=120').j['lodgements']) == 1)[1])
T('heaviest-strict', EN, PA, 'GET /lodgements', 'list lodgement', 'The upper bound of weight leaves out the bound itself.', lambda s: (s.lod(), len(s.get('/lodgements?heaviest=120').j['lodgements']) == 1)[1])
T('filter-dead-list-lodgement-speed', EN, PA, 'GET /lodgements', 'list lodgement', 'The filter by speed does nothing.', lambda s: (s.lod(), s.get('/lodgements?speed=urgent').j['lodgements'] == [])[1])
T('order-turned', EN, RP, 'GET /lodgements', 'list lodgement', 'The oldest lodgement comes first.', lambda s: (lambda a: (s.adv('PT1M'), s.lod(), s.get('/lodgements').j['lodgements'][1]['id'] == a['id'])[2])(s.lod()))
T('no-location', EN, RP, 'POST /lodgements', 'create lodgement', 'A creation does not tell the address of the row.', lambda s: 'location' in s.lodx().h)
T('location-bare', EN, RP, 'POST /marks', 'create mark', 'Location lacks the base path.', lambda s: s.r('POST', '/marks', {'letters': 'ABC'}).h['location'].endswith('/assay/marks/' + s.get('/marks').j['rows'][0]['id']))
T('create-200', EN, RP, 'POST /lodgements', 'create lodgement', 'A creation is answered with 200.', lambda s: s.lodx().s == 201)
T('put-200', EN, RP, 'PUT /alloys/{code}', 'upsert alloy', 'An upsert that makes a row answers 200.', lambda s: alloy(s).s == 201)
T('put-merges', EN, RQ, 'PUT /alloys/{code}', 'upsert alloy', 'A replacement keeps the note that was not sent.', lambda s: 'note' not in s.r('PUT', '/alloys/AG925', {'metal': 'silver', 'fineness': 925, 'fee_pence': 200}, 'w1').j)
T('delete-200', EN, RP, 'DELETE /marks/{id}', 'delete mark', 'A deletion answers 200 with an empty map.', lambda s: erase(s, s.mark()).s == 204)
T('delete-does-nothing', EN, RP, 'DELETE /pieces/{id}', 'delete piece', 'A deletion of a piece is answered, and not done.', lambda s: (lambda p: (s.r('DELETE', '/pieces/' + p['id']), s.get('/pieces/' + p['id']).s == 404)[1])(s.piece(s.lod())))
T('unknown-field-passes', EN, RQ, 'POST /marks', 'create mark', 'Fields that are not stated are ignored.', lambda s: s.r('POST', '/marks', {'letters': 'ABC', 'colour': 'red'}).no(422, 'unheard_of'))
T('address-unknown-passes', EN, RQ, 'POST /lodgements', 'create lodgement', 'Unknown members of an address pass.', lambda s: s.lodx(return_to=addr(planet='Earth')).s == 422)
T('read-only-ignored', EN, RQ, 'PATCH /marks/{id}', 'update mark', 'Read-only fields that are sent are ignored instead of refused.', lambda s: s.r('PATCH', '/marks/' + s.mark()['id'], {'maker': 'x'}).no(422, 'not_yours_to_write'))
T('immutable-changes', EN, RQ, 'PATCH /marks/{id}', 'update mark', 'Letters can be changed.', lambda s: s.r('PATCH', '/marks/' + s.mark()['id'], {'letters': 'ZZZ'}).no(422, 'unfit'))
T('null-ignored', EN, RQ, 'PATCH /marks/{id}', 'update mark', 'Null does not take a field away.', lambda s: 'motto' not in s.r('PATCH', '/marks/' + s.mark(motto='Semper')['id'], {'motto': None}).j)
T('address-replaced', EN, RQ, 'PATCH /lodgements/{id}', 'update lodgement', 'A patch of an address replaces it whole.', lambda s: s.patch(s.lod(), {'return_to': {'town': 'York'}}).s == 200)
T('no-merge-patch', EN, RQ, 'PATCH /lodgements/{id}', 'update lodgement', 'application/merge-patch+json is refused.', lambda s: s.patch(s.lod(), {'declared_grams': 3}, h={'Content-Type': 'application/merge-patch+json'}).s == 200)
T('idle-patch-touches', EN, RP, 'PATCH /lodgements/{id}', 'update lodgement', 'A patch that changes nothing counts as a change.', lambda s: (lambda l: (s.adv('PT1M'), s.patch(l, {'declared_grams': 120}).j['touched_at'] == l['touched_at'])[1])(s.lod()))
T('if-match-ignored', EN, RQ, 'PATCH /lodgements/{id}', 'update lodgement', 'The tag of If-Match is not compared.', lambda s: s.r('PATCH', '/lodgements/' + s.lod()['id'], {'declared_grams': 3}, h={'If-Match': '"x"'}).s == 412)
T('tag-not-needed', EN, RQ, 'PATCH /lodgements/{id}', 'update lodgement', 'A change without If-Match goes through.', lambda s: s.r('PATCH', '/lodgements/' + s.lod()['id'], {'declared_grams': 3}).s == 428)
T('no-etag', EN, RP, 'GET /lodgements/{id}', 'read lodgement', 'Answers carry no tag.', lambda s: 'etag' in s.get('/lodgements/' + s.lod()['id']).h)
T('etag-constant', EN, RP, 'GET /lodgements/{id}', 'read lodgement', 'The tag never changes.', lambda s: s.get('/alloys/AU375', None).h['etag'] != s.get('/alloys/AU750', None).h['etag'])
T('etag-weak', EN, RP, 'GET /alloys/{code}', 'read alloy', 'Tags are weak.', lambda s: s.get('/alloys/AU375', None).h['etag'].startswith('"'))
T('never-304', EN, RP, 'GET /alloys/{code}', 'read alloy', 'If-None-Match is not looked at.', lambda s: s.get('/alloys/AU375', None, h={'If-None-Match': s.get('/alloys/AU375', None).h['etag']}).s == 304)
T('no-cache-control', EN, RP, 'GET /alloys/{code}', 'read alloy', 'Cache-Control is not told.', lambda s: s.get('/alloys/AU375', None).h.get('cache-control') == 'public, max-age=30')
T('reason-short', EN, RQ, 'POST /lodgements/{id}/hold', 'hold lodgement', 'A reason of one character is enough.', lambda s: s.do(s.lodged()[0], 'hold', 'a1', {'reason': 'x'}).s == 422)
T('ppt-over', EN, RQ, 'POST /pieces/{id}/assay', 'assay piece', 'A reading above 1000 is taken.', lambda s: s.assay(s.onbench()[1][0], 1001).s == 422)
T('settle-cheque', EN, RQ, 'POST /bills/{id}/settle', 'settle bill', 'Cheques are taken.', lambda s: s.settle(s.bill()[1], method='cheque').s == 422)
T('settle-method-optional', EN, RQ, 'POST /bills/{id}/settle', 'settle bill', 'The method may be left out.', lambda s: s.r('POST', '/bills/%s/settle' % s.bill()[1]['id'], {'pence': 620}, h={'Cupel-Once': 'a'}).s == 422)
T('waive-why-optional', EN, RQ, 'POST /bills/{id}/waive', 'waive bill', 'No reason is needed to waive.', lambda s: waive(s, s.bill()[1], body={}).s == 422)
T('parent-unchecked', EN, PA, 'GET /lodgements/{lodgement}/pieces', 'list piece', 'The pieces of a lodgement that there is not are an empty page.', lambda s: s.get('/lodgements/lod_X/pieces').s == 404)
T('siblings-all', EN, RP, 'GET /lodgements/{lodgement}/pieces', 'list piece', 'The list below a lodgement shows pieces of others too.', lambda s: (s.piece(s.lod()), s.get('/lodgements/%s/pieces' % s.lod()['id']).j['count'] == 0)[1])
T('says-any-case', EN, PA, 'GET /pieces', 'list_all', 'The search in the wording passes over case.', lambda s: (s.piece(s.lod()), s.get('/pieces?says=PLAIN').j['count'] == 0)[1])
T('says-prefix', EN, PA, 'GET /pieces', 'list_all', 'The search looks at the beginning alone.', lambda s: (s.piece(s.lod()), s.get('/pieces?says=plain').j['count'] == 1)[1])
T('heavier-inclusive', EN, PA, 'GET /pieces', 'list_all', 'The bound of the weight is itself taken.', lambda s: (s.piece(s.lod()), s.get('/pieces?heavier_than=4200').j['count'] == 0)[1])
T('filter-dead-list_all-stones', EN, PA, 'GET /pieces', 'list_all', 'The filter by stones does nothing.', lambda s: (s.piece(s.lod()), s.get('/pieces?stones=true').j['count'] == 0)[1])
T('expand-ignored', EN, RP, 'GET /pieces/{id}', 'read piece', 'The alloy is not shown whole where that is asked.', lambda s: isinstance(s.get('/pieces/%s?with=alloy' % s.piece(s.lod())['id']).j['alloy'], dict))
T('due-after', EN, PA, 'GET /bills', 'list bill', 'due_before finds what is due after.', lambda s: (s.bill(), s.get('/bills?due_before=2020-01-01T00:00:00Z').j['count'] == 0)[1])
T('filter-dead-list-bill-status', EN, PA, 'GET /bills', 'list bill', 'The filter by status does nothing.', lambda s: (s.bill(), s.get('/bills?status=paid').j['count'] == 0)[1])
T('filter-dead-list-entry-kind', EN, PA, 'GET /journal', 'list entry', 'The filter by kind does nothing.', lambda s: (s.mark(), s.get('/journal?kind=bill.drawn').j['count'] == 0)[1])
T('once-ignored', EN, RQ, 'POST /marks', 'create mark', 'Idempotency keys are ignored.', lambda s: (s.r('POST', '/marks', {'letters': 'ABC'}, h={'Cupel-Once': 'q'}), s.r('POST', '/marks', {'letters': 'ABC'}, h={'Cupel-Once': 'q'}).s == 201)[1])
T('once-ignored-piece', EN, RQ, 'POST /lodgements/{lodgement}/pieces', 'create piece', 'A repeated creation of a piece makes another one.', lambda s: (lambda l: s.piecex(l, h={'Cupel-Once': 'q'}).j['id'] == s.piecex(l, h={'Cupel-Once': 'q'}).j['id'])(s.lod()))
T('once-shared', EN, RQ, 'POST /marks', 'create mark', 'A key of one caller answers another one.', lambda s: (lambda a: s.r('POST', '/marks', {'letters': 'ABD'}, 'm2', {'Cupel-Once': 'q'}).s == 201)(s.r('POST', '/marks', {'letters': 'ABC'}, h={'Cupel-Once': 'q'})))
T('once-any-body', EN, RQ, 'POST /marks', 'create mark', 'A key that comes with another body is answered as before.', lambda s: (s.r('POST', '/marks', {'letters': 'ABC'}, h={'Cupel-Once': 'q'}), s.r('POST', '/marks', {'letters': 'ABD'}, h={'Cupel-Once': 'q'}).no(422, 'once_only'))[1])
T('once-short', EN, RQ, 'POST /marks', 'create mark', 'Keys are kept for an hour.', lambda s: (s.r('POST', '/marks', {'letters': 'ABC'}, h={'Cupel-Once': 'q'}), s.adv('PT11H'), s.r('POST', '/marks', {'letters': 'ABC'}, h={'Cupel-Once': 'q'}).s == 201)[2])
T('once-not-needed', EN, RQ, 'POST /bills/{id}/settle', 'settle bill', 'A bill is settled without a key.', lambda s: s.r('POST', '/bills/%s/settle' % s.bill()[1]['id'], {'pence': 620, 'method': 'card'}).no(400, 'bad_query'))
T('once-forgets-refusals', EN, RQ, 'POST /bills/{id}/settle', 'settle bill', 'A refusal of the service is not kept under its key.', lambda s: (lambda b: (s.settle(b, 620, 'z'), s.settle(b, 620, 'y').no(409, 'closed_bill'), (lambda a, c: a.j['trace'] == c.j['trace'])(s.settle(b, 1, 'x'), s.settle(b, 1, 'x')))[2])(s.bill()[1]))
T('secret-replayed', EN, RP, 'POST /listeners', 'create listener', 'A replay shows the secret again.', lambda s: (s.hook(h={'Cupel-Once': 'q'}), 'secret' not in s.hook(h={'Cupel-Once': 'q'}).j)[1])
T('no-trace', EN, RP, 'GET /marks', 'list mark', 'Cupel-Trace is missing.', lambda s: 'cupel-trace' in s.get('/marks').h)
T('text-plain', EN, RP, 'GET /alloys', 'list alloy', 'Answers say that they are plain text.', lambda s: s.get('/alloys', None).h['content-type'].startswith('application/json'))
T('vary-short', VE, 'version selection', 'service', 'list mark', 'Vary does not name the version.', lambda s: 'Cupel-Edition' in s.get('/marks').h['vary'])

# authentication
T('any-touch', AU, 'schemes', 'service', 'list mark', 'Any key of the form Touch is taken.', lambda s: s.get('/marks', None, h={'Authorization': 'Touch nonsense'}).s == 401)
T('anonymous-lists', AU, 'schemes', 'service', 'list mark', 'Marks are listed for nobody in particular.', lambda s: s.get('/marks', None).s == 401)
T('no-challenge', AU, 'schemes', 'service', 'list mark', '401 has no challenge.', lambda s: 'www-authenticate' in s.get('/marks', None).h)
T('two-callers', AU, 'schemes', 'service', 'list mark', 'Credentials of two callers on one request are taken.', lambda s: s.get('/marks', 'm1', h={'X-Bench-Pass': CRED[('mk-garrard', 'bench')]}).s == 401)
T('bad-bench-ignored', AU, 'schemes', 'service', 'list mark', 'A bad second credential is passed over.', lambda s: s.get('/marks', 'm1', h={'X-Bench-Pass': 'bp-000000000000'}).s == 401)
T('assay-with-touch', AU, 'schemes', 'service', 'assay piece', 'The bench pass is not asked for at the assay.', lambda s: s.r('POST', '/pieces/%s/assay' % s.onbench()[1][0]['id'], {'ppt': 800}, 'a1').s == 401)
T('waive-either', AU, 'schemes', 'service', 'waive bill', 'One credential is enough to waive.', lambda s: waive(s, s.bill()[1], scheme='touch').s == 401)
T('alloys-need-key', AU, 'schemes', 'service', 'list alloy', 'The public tariff asks for a key.', lambda s: s.get('/alloys', None).s == 200)
mk = lambda s: s.mark('m2')
T('mark-read-any-maker', AU, PR, 'read mark', 'read mark', 'A maker reads the marks of others.', lambda s: s.get('/marks/' + mk(s)['id']).s == 404)
T('mark-list-any-maker', AU, PR, 'list mark', 'list mark', 'A maker lists the marks of others.', lambda s: (mk(s), s.get('/marks').j['count'] == 0)[1])
T('lodgement-list-leak', AU, PR, 'list lodgement', 'list lodgement', 'A maker lists the lodgements of others.', lambda s: (s.lod('m2'), s.get('/lodgements').j['lodgements'] == [])[1])
T('lodgement-read-leak', AU, PR, 'read lodgement', 'read lodgement', 'A maker reads the lodgements of others.', lambda s: s.get('/lodgements/' + s.lod('m2')['id']).s == 404)
T('lodgement-read-hall', AU, PR, 'read lodgement', 'read lodgement', 'An assayer reads lodgements of other halls.', lambda s: s.get('/lodgements/' + s.lod('m2')['id'], 'a1').s == 404)
T('piece-read-leak', AU, PR, 'read piece', 'read piece', 'A maker reads the pieces of others.', lambda s: s.get('/pieces/' + s.piece(s.lod('m2'), 'm2')['id']).s == 404)
T('piece-list-leak', AU, PR, 'list_all', 'list_all', 'A maker lists the pieces of others.', lambda s: (s.piece(s.lod('m2'), 'm2'), s.get('/pieces').j['count'] == 0)[1])
T('bill-list-leak', AU, PR, 'list bill', 'list bill', 'A maker lists the bills of others.', lambda s: (s.bill('m2', 'a2'), s.get('/bills').j['count'] == 0)[1])
T('bill-read-leak', AU, PR, 'read bill', 'read bill', 'A maker reads the bills of others.', lambda s: s.get('/bills/' + s.bill('m2', 'a2')[1]['id']).s == 404)
T('bill-fields-all', AU, PR, 'read bill', 'read bill', 'Assayers see what a bill comes to.', lambda s: 'amount_pence' not in s.get('/bills/' + s.bill()[1]['id'], 'a1').j)
T('assayer-sorts-money', AU, PR, 'list bill', 'list bill', 'Assayers sort bills by an amount that they may not see.', lambda s: s.get('/bills?sort=amount_pence', 'a1').no(400, 'bad_query'))
T('listener-read-leak', AU, PR, 'read listener', 'read listener', 'A maker reads the listeners of others.', lambda s: s.get('/listeners/' + s.hook('m2').j['id']).s == 404)
T('listener-delete-any', AU, PR, 'delete listener', 'delete listener', 'A maker deletes the listeners of others.', lambda s: s.r('DELETE', '/listeners/' + s.hook('m2').j['id']).s == 404)
T('journal-leak', AU, PR, 'list entry', 'list entry', 'A maker reads what happened to others.', lambda s: (mk(s), s.get('/journal').j['count'] == 0)[1])
T('journal-assayer', AU, PR, 'list entry', 'list entry', 'Assayers read the journal.', lambda s: s.get('/journal', 'a1').s == 403)
T('alloy-maker-writes', AU, PR, 'upsert alloy', 'upsert alloy', 'Makers write the tariff.', lambda s: alloy(s, who='m1').s == 403)
T('mark-no-scope', AU, PR, 'create mark', 'create mark', 'A mark is registered without the scope.', lambda s: s.r('POST', '/marks', {'letters': 'ABC'}, 'm3').no(403, 'scope_short'))
T('begin-by-maker', AU, PR, 'begin lodgement', 'begin lodgement', 'Makers put their own lodgements on the bench.', lambda s: s.do(s.lodged()[0], 'begin').s == 403)
T('retest-by-assayer', AU, PR, 'retest piece', 'retest piece', 'Assayers order a retest.', lambda s: s.r('POST', '/pieces/%s/retest' % s.onbench()[1][0]['id'], None, 'a1').s == 403)
T('collect-by-warden', AU, PR, 'collect lodgement', 'collect lodgement', 'Wardens collect for makers.', lambda s: s.do(s.released()[0], 'collect', 'w1', {'pin': '4711'}).s == 403)
T('warden-cannot-update', AU, PR, 'update lodgement', 'update lodgement', 'Wardens can no longer correct a draft.', lambda s: s.patch(s.lod(), {'declared_grams': 7}, 'w1').s == 200)
T('assayer-no-marks', AU, PR, 'list mark', 'list mark', 'Assayers cannot list marks.', lambda s: s.get('/marks', 'a1').s == 200)
T('foreign-mark', AU, PR, 'create lodgement', 'create lodgement', 'A lodgement may bear the mark of another maker.', lambda s: s.lodx(mark=mk(s)['id']).s == 422)
T('foreign-forbidden', AU, PR, 'read lodgement', 'read lodgement', 'What is of others is answered 403, so its being there is told.', lambda s: s.get('/lodgements/' + s.lod('m2')['id']).s == 404)

# events
D, E, Y = 'delivery mechanism', 'emitting operations', 'payload shapes'
def heard(s, kind, fn, who='m1', n=1, **k): s.hook(who, **k); fn(); return len(s.got(kind, n=n)) == n
T('no-mark-registered', EV, E, 'mark.registered', 'create mark', 'Nobody hears of a new mark.', lambda s: heard(s, 'mark.registered', s.mark))
T('no-mark-erased', EV, E, 'mark.erased', 'delete mark', 'Nobody hears of an erased mark.', lambda s: heard(s, 'mark.erased', lambda: erase(s, s.mark())))
T('no-lodgement-hastened', EV, E, 'lodgement.hastened', 'update lodgement', 'Nobody hears that a lodgement became urgent.', lambda s: heard(s, 'lodgement.hastened', lambda: s.patch(s.lod(), {'speed': 'urgent'})))
T('hastened-always', EV, E, 'lodgement.hastened', 'update lodgement', 'Any update counts as hastened.', lambda s: (s.hook(), s.patch(s.lod(), {'declared_grams': 6}), s.got('lodgement.hastened') == [])[2])
T('no-lodgement-scrapped', EV, E, 'lodgement.scrapped', 'delete lodgement', 'Nobody hears of a deleted lodgement.', lambda s: heard(s, 'lodgement.scrapped', lambda: s.r('DELETE', '/lodgements/' + s.lod()['id'])))
T('lapse-silent', EV, E, 'lodgement.moved', 'lapse lodgement', 'A lapse is told to nobody.', lambda s: heard(s, 'lodgement.moved', lambda: (s.lod(), s.adv('P7DT1M'))))
T('kinds-swapped', EV, E, 'piece.passed', 'assay piece', 'Passed and failed are told the wrong way round.', lambda s: heard(s, 'piece.passed', lambda: s.assay(s.onbench()[1][0])))
T('no-bill-drawn', EV, E, 'bill.drawn', 'release lodgement', 'A bill is drawn silently.', lambda s: heard(s, 'bill.drawn', s.bill))
T('waive-silent', EV, E, 'bill.closed', 'waive bill', 'A waived bill is told to nobody.', lambda s: heard(s, 'bill.closed', lambda: waive(s, s.bill()[1])))
T('overdue-twice', EV, E, 'bill.overdue', 'fall_due bill', 'An overdue bill is told twice.', lambda s: (s.hook(), s.bill(), s.adv('P14DT1M'), len(s.got('bill.overdue')) == 1)[3])
T('event-twice', EV, E, 'mark.registered', 'create mark', 'A new mark is told of twice, under two ids.', lambda s: (s.hook(), s.mark(), len(s.got('mark.registered')) == 1)[2])
T('moved-was-is', EV, Y, 'lodgement.moved', 'lodge lodgement', 'The former state is told as the new one.', lambda s: (s.hook(), s.lodged(), s.got('lodgement.moved', n=1)[0][1]['body']['was'] == 'draft')[2])
T('moved-docket', EV, Y, 'lodgement.moved', 'lodge lodgement', 'The docket is told in place of the identifier.', lambda s: (s.hook(), s.lodged(), s.got('lodgement.moved', n=1)[0][1]['body']['lodgement'].startswith('lod_'))[2])
T('registered-no-letters', EV, Y, 'mark.registered', 'create mark', 'The payload lacks the letters.', lambda s: (s.hook(), s.mark(), 'letters' in s.got('mark.registered', n=1)[0][1]['body'])[2])
T('passed-no-ppt', EV, Y, 'piece.passed', 'assay piece', 'The payload lacks the reading.', lambda s: (s.hook(), s.assay(s.onbench()[1][0]), 'ppt' in s.got('piece.passed', n=1)[0][1]['body'])[2])
T('passed-number-text', EV, Y, 'piece.passed', 'assay piece', 'The number of the piece is a text in the payload.', lambda s: (s.hook(), s.assay(s.onbench()[1][0]), s.got('piece.passed', n=1)[0][1]['body']['number'] == 1)[2])
T('opened-leaks-pin', EV, Y, 'lodgement.opened', 'create lodgement', 'The pin is in the event.', lambda s: (s.hook(), s.lod(), 'pin' not in s.got('lodgement.opened', n=1)[0][1]['body'])[2])
T('erased-whole', EV, Y, 'mark.erased', 'delete mark', 'The whole mark is sent instead of its identifier.', lambda s: (s.hook(), erase(s, s.mark()), isinstance(s.got('mark.erased', n=1)[0][1]['body'], str))[2])
T('envelope-type', EV, D, 'service', 'create mark', 'The envelope names the kind as type.', lambda s: (s.hook(), s.mark(), 'what' in s.got(n=1)[0][1])[2])
T('envelope-no-when', EV, D, 'service', 'create mark', 'The envelope lacks its time.', lambda s: (s.hook(), s.mark(), 'when' in s.got(n=1)[0][1])[2])
def sealed(s):
    k = s.hook().j['secret']; s.mark(); h, j, b = s.got(n=1)[0]
    m = re.match(r'^at=(\d+),mac=([0-9a-f]{64})$', h.get('cupel-seal', ''))
    return bool(m) and m[2] == hmac.new(k.encode(), (h['cupel-event'] + '|' + m[1] + '|').encode() + b, hashlib.sha256).hexdigest()
T('seal-without-id', EV, D, 'service', 'create mark', 'The seal leaves the id out of what it signs.', sealed)
T('seal-wrong-secret', EV, D, 'service', 'create mark', 'The seal is made with the id of the listener.', sealed)
T('seal-base64', EV, D, 'service', 'create mark', 'The seal is written in base64.', sealed)
T('unsealed', EV, D, 'service', 'create mark', 'Deliveries are not sealed.', sealed)
T('kind-header-gone', EV, D, 'service', 'create mark', 'The header with the kind is missing.', lambda s: (s.hook(), s.mark(), 'cupel-kind' in s.got(n=1)[0][0])[2])
def tries(s, adv, code=500):
    RECV['answer'] = code; s.hook(); s.mark(); s.got(n=1)
    for a in adv: s.adv(a); time.sleep(0.25)
    return [j['event'] for _, j, _ in s.evs()]
T('no-retry', EV, D, 'service', 'create mark', 'A delivery that failed is not tried again.', lambda s: len(tries(s, ['PT15S'])) == 2)
T('retry-late', EV, D, 'service', 'create mark', 'The first wait is ten minutes.', lambda s: len(tries(s, ['PT15S'])) == 2)
T('third-try-lost', EV, D, 'service', 'create mark', 'It is given up after two tries.', lambda s: len(tries(s, ['PT15S', 'PT3M', 'PT25M'])) == 4)
T('new-id-per-try', EV, D, 'service', 'create mark', 'Each try has an id of its own.', lambda s: (lambda t: len(t) == 2 and t[0] == t[1])(tries(s, ['PT15S'])))
T('gone-keeps-on', EV, D, 'service', 'disable listener', '410 does not disable a listener.', lambda s: (tries(s, [], 410), time.sleep(0.2), s.get('/listeners').j['rows'][0]['enabled'] is False)[2])
def hour(s): tries(s, ['PT15S', 'PT3M', 'PT25M']); s.adv('PT40M'); s.mark(); time.sleep(0.3); return s.get('/listeners').j['rows'][0]['enabled'] is False
T('never-disabled', EV, D, 'service', 'disable listener', 'A listener that fails for an hour stays enabled.', hour)
T('delivered-again', EV, D, 'service', 'create mark', 'What was taken is sent once more.', lambda s: (s.hook(), s.mark(), s.got(n=1), s.adv('PT1M'), len(s.got()) == 1)[4])
T('hears-anything', EV, D, 'service', 'create mark', 'A maker hears of marks of others.', lambda s: (s.hook(), s.mark('m2'), s.got() == [])[2])
T('disabled-hears', EV, D, 'service', 'create mark', 'A listener that is not enabled is told.', lambda s: (s.hook(enabled=False), s.mark(), s.got() == [])[2])
T('kinds-ignored', EV, D, 'service', 'create mark', 'A listener is told of kinds that it did not ask for.', lambda s: (s.hook(kinds=['bill.drawn']), s.mark(), s.got() == [])[2])
T('kind-star-dead', EV, D, 'service', 'create mark', 'mark.* matches nothing.', lambda s: heard(s, 'mark.registered', s.mark, kinds=['mark.*']))
T('no-kinds-none', EV, D, 'service', 'create mark', 'A listener without kinds is told of nothing.', lambda s: heard(s, 'mark.registered', s.mark))
def ordered(s):
    RECV['answer'] = 500; s.hook(); l = s.lod(); s.got(n=1); s.piece(l); s.do(l, 'lodge'); return all(j['what'] != 'lodgement.moved' for _, j, _ in s.got(wait=0.5))
T('order-per-event', EV, D, 'service', 'lodge lodgement', 'A later event of a row does not wait for the earlier one.', ordered)
T('journal-short', EV, 'kinds of event', 'service', 'list entry', 'Entries are kept for 20 days.', lambda s: (s.mark(), s.adv('P25D'), s.get('/journal').j['count'] == 1)[2])
T('journal-kept-forever', EV, 'kinds of event', 'service', 'list entry', 'Entries are never let go.', lambda s: (s.mark(), s.adv('P31D'), s.get('/journal').j['count'] == 0)[2])
T('journal-no-clock', EV, 'kinds of event', 'service', 'list entry', 'What the clock brings about is not in the journal.', lambda s: (s.bill(), s.adv('P14DT1M'), s.get('/journal?kind=bill.overdue').j['count'] == 1)[2])

# errors
def two(s): return s.r('POST', '/marks', {'letters': 'A1', 'outline': 'star'})
C, X = 'conditions', 'status codes'
T('st-garbled', ER, X, 'garbled', 'create mark', 'A body that is no JSON is 422.', lambda s: s.r('POST', '/marks', raw=b'{').s == 400)
T('st-media', ER, X, 'odd_media', 'create mark', 'A wrong media type is 400.', lambda s: s.r('POST', '/marks', raw=b'a', h={'Content-Type': 'text/csv'}).s == 415)
T('st-taken', ER, X, 'taken', 'create mark', 'What is taken is 422.', lambda s: (s.r('POST', '/marks', {'letters': 'ABC'}), s.r('POST', '/marks', {'letters': 'ABC'}).s == 409)[1])
T('st-dangling', ER, X, 'dangling', 'create lodgement', 'A reference to nothing is 404.', lambda s: s.lodx(mark='mrk_0').s == 422)
T('st-inuse', ER, X, 'in_use', 'delete alloy', 'What is in use is 422.', lambda s: (s.piece(s.lod()), s.r('DELETE', '/alloys/AU750', None, 'w1').s == 409)[1])
T('st-erased', ER, X, 'erased', 'read mark', 'What was erased is 404.', lambda s: (lambda m: (erase(s, m), s.get('/marks/' + m['id']).s == 410)[1])(s.mark()))
T('st-page', ER, X, 'bad_page', 'list mark', 'A bad page is 400.', lambda s: s.get('/marks?take=x').s == 416)
T('st-sum', ER, X, 'wrong_sum', 'settle bill', 'A wrong sum is 409.', lambda s: s.settle(s.bill()[1], 1).s == 422)
T('st-edition', ER, X, 'no_edition', 'list alloy', 'An unknown edition is 404.', lambda s: s.get('/alloys', None, h={'Cupel-Edition': '9'}).s == 400)
T('st-once', ER, X, 'once_only', 'create mark', 'A key that is used again is 409.', lambda s: (s.r('POST', '/marks', {'letters': 'ABC'}, h={'Cupel-Once': 'q'}), s.r('POST', '/marks', {'letters': 'ABD'}, h={'Cupel-Once': 'q'}).s == 422)[1])
T('code-erased', ER, 'error codes', 'service', 'read mark', 'What was erased bears the code not_found.', lambda s: (lambda m: (erase(s, m), s.get('/marks/' + m['id']).no(410, 'erased'))[1])(s.mark()))
T('code-nothing', ER, C, 'nothing_inside', 'lodge lodgement', 'An empty lodgement is refused as wrong_stage.', lambda s: s.do(s.lod(), 'lodge').no(409, 'nothing_inside'))
T('code-scope', ER, C, 'scope_short', 'create mark', 'A lack of scope is refused as not_allowed.', lambda s: s.r('POST', '/marks', {'letters': 'ABC'}, 'm3').no(403, 'scope_short'))
T('code-unknown-field', ER, C, 'unheard_of', 'create mark', 'An unknown field is refused as unfit.', lambda s: s.r('POST', '/marks', {'letters': 'ABC', 'x': 1}).no(422, 'unheard_of'))
T('code-recall', ER, C, 'past_recall', 'withdraw lodgement', 'A late withdrawal is refused as wrong_stage.', lambda s: s.do(s.onbench()[0], 'withdraw').no(409, 'past_recall'))
T('code-closed', ER, C, 'closed_bill', 'settle bill', 'A closed bill is refused as wrong_stage.', lambda s: (lambda b: (s.settle(b), s.settle(b).no(409, 'closed_bill'))[1])(s.bill()[1]))
T('gone-as-missing', ER, C, 'erased', 'read mark', 'What was erased is answered as if it had never been.', lambda s: (lambda m: (erase(s, m), s.get('/marks/' + m['id']).s == 410)[1])(s.mark()))
T('dangling-mark', ER, C, 'dangling', 'create lodgement', 'A lodgement may refer to no mark.', lambda s: s.lodx(mark='mrk_0').s == 422)
T('dangling-alloy', ER, C, 'dangling', 'create piece', 'A piece may refer to no alloy.', lambda s: s.piecex(s.lod(), alloy='XX001').s == 422)
T('piece-any-state', ER, C, 'sealed_up', 'create piece', 'Pieces are added to what was lodged.', lambda s: s.piecex(s.lodged()[0]).no(409, 'sealed_up'))
T('sealed-open', ER, C, 'sealed', 'update piece', 'Pieces of what was lodged can be changed.', lambda s: s.r('PATCH', '/pieces/' + s.lodged()[1][0]['id'], {'wording': 'other'}).no(409, 'sealed'))
T('coarse-passes', ER, C, 'coarse', 'upsert alloy', 'Coarse platinum is taken.', lambda s: alloy(s, fineness=300).no(422, 'coarse'))
T('coarse-at-400', ER, C, 'coarse', 'upsert alloy', 'The bound for platinum is 400.', lambda s: alloy(s, fineness=450).no(422, 'coarse'))
T('any-media', ER, C, 'odd_media', 'create mark', 'The type of a body is not looked at.', lambda s: s.r('POST', '/marks', {'letters': 'ABC'}, h={'Content-Type': 'text/plain'}).s == 415)
T('empty-body-map', ER, C, 'garbled', 'create mark', 'A missing body is read as an empty map.', lambda s: s.r('POST', '/marks').no(400, 'garbled'))
T('method-as-path', ER, C, 'no_such_verb', 'list alloy', 'A method that there is not is told as a path that there is not.', lambda s: s.r('DELETE', '/alloys', None, 'w1').no(405, 'no_such_verb'))
T('no-allow', ER, C, 'no_such_verb', 'list alloy', '405 does not say which methods there are.', lambda s: 'GET' in s.r('DELETE', '/alloys', None, 'w1').h.get('allow', ''))
T('error-flat', ER, 'error payload shapes', 'service', 'read mark', 'Errors are not wrapped.', lambda s: 'refusal' in s.get('/marks/x').j)
T('error-no-text', ER, 'error payload shapes', 'service', 'read mark', 'Errors lack their text.', lambda s: 'text' in s.get('/marks/x').j['refusal'])
T('error-no-trace', ER, 'error payload shapes', 'service', 'read mark', 'Errors lack their trace.', lambda s: 'trace' in s.get('/marks/x').j)
T('error-no-spots', ER, 'error payload shapes', 'service', 'create mark', 'What is wrong is not told by its place.', lambda s: 'spots' in two(s).j['refusal'])
T('spots-first-only', ER, 'error payload shapes', 'service', 'create mark', 'Of several things that are wrong one is told.', lambda s: len(two(s).j['refusal']['spots']) == 2)
T('paths-pointer', ER, 'error payload shapes', 'service', 'create lodgement', 'Places are JSON pointers.', lambda s: s.lodx(return_to=addr(town='')).j['refusal']['spots'][0]['path'] == 'return_to.town')
T('no-refusal-header', ER, 'error payload shapes', 'service', 'read mark', 'Cupel-Refusal is missing.', lambda s: s.get('/marks/x').h.get('cupel-refusal') == 'not_found')
T('wrong-message', ER, 'error payload shapes', 'service', 'lodge lodgement', 'The stated message is not told.', lambda s: s.do(s.lod(), 'lodge').j['refusal']['text'] == 'There is no piece in it.')
T('parameters-before-user', ER, C, 'order', 'list entry', 'Parameters are looked at before it is asked whether the user may.', lambda s: s.get('/journal?x=1', 'a1').s == 403)
T('body-before-parameters', ER, C, 'order', 'create mark', 'The body is looked at before the parameters.', lambda s: s.r('POST', '/marks?x=1', raw=b'{').no(400, 'bad_query'))

# limits
def many(s, n, who='m1'): return [s.r('POST', '/marks', {'letters': '1'}, who).s for _ in range(n)]
T('mark-rate-off-one', LI, 'rate limits', 'service', 'create mark', 'One creation of a mark more than stated goes through.', lambda s: many(s, 151)[-2:] == [422, 429])
T('no-mark-rate', LI, 'rate limits', 'service', 'create mark', 'The rate of new marks is never refused.', lambda s: many(s, 151)[-1] == 429)
T('mark-rate-hour', LI, 'rate limits', 'service', 'create mark', 'The window of the rate is an hour.', lambda s: (many(s, 151), s.adv('PT11M'), many(s, 1)[0] == 422)[2])
T('rate-for-all', LI, 'rate limits', 'service', 'create mark', 'All callers share one rate.', lambda s: (many(s, 150), many(s, 1, 'm2')[0] == 422)[1])
T('rate-double', LI, 'rate limits', 'service', 'list mark', 'Twice as much as stated goes through.', lambda s: s.get('/marks').h['cupel-allowance'] == '1200' and [s.get('/marks/x').s for _ in range(1200)][-1] == 429)
T('no-retry-after', LI, 'rate limits', 'service', 'create mark', 'A refusal does not say how long to wait.', lambda s: (many(s, 150), 'retry-after' in s.r('POST', '/marks', {'letters': '1'}).h)[1])
T('no-rate-headers', LI, 'rate limits', 'service', 'list mark', 'The rate is not told.', lambda s: 'cupel-left' in s.get('/marks').h)
T('left-stuck', LI, 'rate limits', 'service', 'list mark', 'What is left never sinks.', lambda s: s.get('/marks').h['cupel-left'] != s.get('/marks').h['cupel-left'])
T('reset-unix', LI, 'rate limits', 'service', 'list mark', 'The reset is told as a point in time.', lambda s: int(s.get('/marks').h['cupel-reset']) <= 60)
def lodges(s, n, who='m1', m=None):
    m = m or s.mark(who)['id']; out = []
    for _ in range(n): l = s.lod(who, mark=m); s.piece(l, who); out.append(s.do(l, 'lodge', who).s)
    return out
T('quota-off-one', LI, 'quotas', 'service', 'lodge lodgement', 'One more than stated may be lodged in a day.', lambda s: lodges(s, 61)[-2:] == [200, 402])
T('no-quota', LI, 'quotas', 'service', 'lodge lodgement', 'The quota is never used up.', lambda s: lodges(s, 61)[-1] == 402)
T('quota-shared', LI, 'quotas', 'service', 'lodge lodgement', 'All makers share one quota.', lambda s: (lodges(s, 60), lodges(s, 1, 'm2') == [200])[1])
T('seven-listeners', LI, 'quotas', 'rows of listener', 'create listener', 'A caller may have seven listeners.', lambda s: [s.hook().s for _ in range(7)][-2:] == [201, 402])
T('five-listeners', LI, 'quotas', 'rows of listener', 'create listener', 'A caller may have five listeners only.', lambda s: [s.hook().s for _ in range(6)][-1] == 201)
big = lambda s, n: s.r('POST', '/marks', raw=(b'{"letters":"ABC"' + b' ' * 20000)[:n - 1] + b'}')
T('body-nine', LI, 'size limits', 'service', 'create mark', 'A body may be 9 KiB.', lambda s: big(s, 8193).s == 413)
T('body-small', LI, 'size limits', 'service', 'create mark', 'A body may be 4 KiB only.', lambda s: big(s, 8192).s == 201)
T('url-four', LI, 'size limits', 'service', 'list mark', 'An address may be 4 KiB.', lambda s: s.get('/marks?outline=' + 'x' * 2100).s == 414)
T('headers-unbounded', LI, 'size limits', 'service', 'list mark', 'Header fields may be of any size.', lambda s: s.get('/marks', h={'X-Pad': 'x' * 8300}).s == 413)
def slow(s):
    k = socket.create_connection(('127.0.0.1', s.p)); k.settimeout(14); k.sendall(('POST /assay/marks HTTP/1.1\r\nHost: x\r\nAuthorization: Touch %s\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{' % CRED[('mk-hester', 'touch')]).encode())
    try: return b' 408 ' in k.recv(200)
    except socket.timeout: return False
    finally: k.close()
T('slow-body-allowed', LI, 'time-outs', 'service', 'create mark', 'A body may take a minute to arrive.', slow)
P = 'pagination bounds'
def three(s):
    m = s.mark()['id']
    for i in range(3): s.lod(mark=m); s.adv('PT1S')
def walk(s):
    three(s); seen = []; u = '/lodgements?take=1'
    for _ in range(6):
        r = s.get(u).j; seen += [x['id'] for x in r['lodgements']]
        if not r['onward']: break
        u = '/lodgements?take=1&from=' + r['onward']
    return len(seen) == 3 and len(set(seen)) == 3 and r['onward'] is None
T('cursor-skips-row', LI, P, 'GET /lodgements', 'list lodgement', 'A row falls between two pages.', walk)
T('cursor-repeats-row', LI, P, 'GET /lodgements', 'list lodgement', 'The last row of a page is the first of the next.', walk)
T('onward-never-null', LI, P, 'GET /lodgements', 'list lodgement', 'The last page leads to another one.', lambda s: (three(s), s.get('/lodgements').j['onward'] is None)[1])
T('cursor-any-filter', LI, P, 'GET /lodgements', 'list lodgement', 'A cursor is taken under other filters.', lambda s: (three(s), s.get('/lodgements?take=1&speed=usual&from=' + s.get('/lodgements?take=1').j['onward']).no(416, 'bad_page'))[1])
T('bad-cursor-first', LI, P, 'GET /lodgements', 'list lodgement', 'A cursor that is none begins at the first page.', lambda s: s.get('/lodgements?from=zzz').s in (416,))
T('take-over-clamped', LI, P, 'GET /lodgements', 'list lodgement', 'A size above the most is cut down instead of refused.', lambda s: s.get('/lodgements?take=51').s == 416)
T('default-twelve', LI, P, 'GET /lodgements', 'list lodgement', 'A page has twelve rows where none are asked for.', lambda s: (lambda m: ([s.lod(mark=m) for _ in range(13)], len(s.get('/lodgements').j['lodgements']) == 10)[1])(s.mark()['id']))
T('skip-off-one', LI, P, 'GET /alloys', 'list alloy', 'One row too few is passed over.', lambda s: [x['code'] for x in s.get('/alloys?skip=1', None).j['rows']] == ['AU375', 'AU750'])
T('count-of-page', LI, P, 'GET /alloys', 'list alloy', 'The count is that of the page.', lambda s: s.get('/alloys?take=1', None).j['count'] == 3)
T('more-inclusive', LI, P, 'GET /alloys', 'list alloy', 'The last page says that there are more.', lambda s: s.get('/alloys', None).j['more'] is False)
T('count-missing', LI, P, 'GET /bills', 'list bill', 'Pages of bills lack their count.', lambda s: 'count' in s.get('/bills').j)
T('zero-take', LI, P, 'GET /alloys', 'list alloy', 'A page of no rows is given.', lambda s: s.get('/alloys?take=0', None).s == 416)

# versioning
v3 = lambda s, p, who='m1': s.get(p, who, h=V3)
T('edition-anything', VE, 'version identifiers', 'service', 'list alloy', 'Any edition is taken for the current one.', lambda s: s.get('/alloys', None, h={'Cupel-Edition': '9'}).s == 400)
T('default-oldest', VE, 'version selection', 'service', 'list mark', 'Without a header edition 3 is meant.', lambda s: s.get('/marks').h['cupel-edition'] == '4')
T('edition-unnamed', VE, 'version selection', 'service', 'list mark', 'Answers do not name their edition.', lambda s: 'cupel-edition' in s.get('/marks').h)
T('edition-always-4', VE, 'version selection', 'service', 'list mark', 'Answers of edition 3 say that they are of 4.', lambda s: v3(s, '/marks').h['cupel-edition'] == '3')
T('v3-label-new-name', VE, 'version identifiers', 'service', 'read piece', 'In edition 3 the wording has its new name.', lambda s: 'label' in v3(s, '/pieces/' + s.piece(s.lod())['id']).j)
T('v3-speed-shown', VE, 'version identifiers', 'service', 'read lodgement', 'Edition 3 shows the speed.', lambda s: 'speed' not in v3(s, '/lodgements/' + s.lod()['id']).j)
T('v3-outline-new', VE, 'version identifiers', 'service', 'read mark', 'Edition 3 shows a rhombus as such.', lambda s: v3(s, '/marks/' + s.mark(outline='rhombus')['id']).j['outline'] == 'lozenge')
T('v3-quote', VE, 'version identifiers', 'service', 'handler quote', 'The quote is there in edition 3.', lambda s: s.get('/quote?pieces=1', None, h=V3).s == 404)
T('listener-always-current', VE, 'version identifiers', 'service', 'create mark', 'Listeners of edition 3 are told in edition 4.', lambda s: (s.hook(h=V3), s.mark(outline='rhombus'), s.got(n=1)[0][1]['body']['outline'] == 'lozenge')[2])
T('no-deprecation', VE, 'deprecation rules', '3', 'list alloy', 'Edition 3 does not say that it is deprecated.', lambda s: 'deprecation' in v3(s, '/alloys').h)
T('deprecation-wrong-day', VE, 'deprecation rules', '3', 'list alloy', 'The deprecation is told a month late.', lambda s: v3(s, '/alloys').h['deprecation'] == '@1777593600')
T('no-sunset', VE, 'deprecation rules', '3', 'list alloy', 'The sunset is not told.', lambda s: 'sunset' in v3(s, '/alloys').h)
T('no-successor', VE, 'deprecation rules', '3', 'list alloy', 'No link leads to the next edition.', lambda s: 'successor-version' in v3(s, '/alloys').h.get('link', ''))
T('current-deprecated', VE, 'deprecation rules', '4', 'list alloy', 'The current edition says that it is deprecated.', lambda s: 'deprecation' not in s.get('/alloys', None).h)
T('sunset-serves', VE, 'deprecation rules', '3', 'list alloy', 'Edition 3 is served after its sunset.', lambda s: (s.adv('P2Y'), v3(s, '/alloys').no(410, 'old_edition'))[1])

def main():
    only = [a for a in sys.argv[1:] if not a.startswith('--')]
    facts = {(f['part'], f['kind'], f['subject']) for f in json.load(open(HERE + '/facts.json'))['facts']} if os.path.exists(HERE + '/facts.json') else None
    failed = []; done = set()
    for id, part, kind, subject, op, bug, fn in FAULTS:
        assert id not in done, id; done.add(id)
        if facts and (part, kind, subject) not in facts: failed.append(id); print('NO SUCH FACT', id, part, kind, subject)
        if only and id not in only: continue
        out = []
        for f in (None, id):
            s = S(f)
            try: out.append(bool(fn(s)))
            except Exception as e: out.append('%s: %s' % (type(e).__name__, e))
            finally: s.stop()
        if out[0] is not True or out[1] is True: failed.append(id); print('NOT SHOWN', id, out, flush=True)
    print(len(FAULTS), 'faults;', 'all shown' if not failed else '%d not shown: %s' % (len(failed), ' '.join(failed)))
    if '--write' in sys.argv:
        json.dump({'command': ['node', 'service.cjs'], 'document': 'service.yaml', 'callers': CALLERS, 'faults': [dict(id=a, part=b, kind=c, subject=d, operation=e, bug=f) for a, b, c, d, e, f, _ in FAULTS if a not in failed]}, open(HERE + '/stranger.json', 'w'), indent=1)
    return 1 if failed else 0
if __name__ == '__main__': sys.exit(main())
