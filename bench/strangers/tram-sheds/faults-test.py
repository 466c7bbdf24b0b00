#!/usr/bin/env python3
"""A proof by hand of each fault: it passes on the right service, and fails on the faulty one."""
import hashlib
import hmac
import http.client
import json
import os
import random
import re
import socket
import subprocess
import sys
import threading
import time
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = os.path.dirname(os.path.abspath(__file__))
STRANGER = json.load(open(os.path.join(HERE, 'stranger.json')))
WHO = {}
for c in STRANGER['callers']:
    WHO.setdefault(c['id'], c)
    WHO[c['id'] + '/' + c['scheme']] = c


def free_port():
    while True:
        port = random.randint(20000, 40000)
        with socket.socket() as s:
            try:
                s.bind(('127.0.0.1', port))
                return port
            except OSError:
                pass


class Receiver:
    """Takes web hooks, and answers as it is told."""

    def __init__(self):
        self.got, self.status = [], 200
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                outer.got.append((dict(self.headers), body))
                self.send_response(outer.status)
                self.send_header('Content-Length', '0')
                self.end_headers()

            def log_message(self, *a):
                pass

        self.server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = 'http://127.0.0.1:%d/in' % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={'poll_interval': 0.05}, daemon=True).start()

    def bodies(self):
        return [json.loads(b) for _, b in self.got]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Service:
    def __init__(self, fault):
        self.port, self.door = free_port(), free_port()
        command = [sys.executable, '-B'] + STRANGER['command'][1:] + ['--port', str(self.port), '--clock-port', str(self.door)]
        self.process = subprocess.Popen(command + (['--fault', fault] if fault else []), cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.process.stdout.readline()
        self.conn = http.client.HTTPConnection('127.0.0.1', self.port, timeout=20)
        self.receivers = []
        self.n = 0

    def close(self):
        self.conn.close()
        for r in self.receivers:
            r.close()
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def receiver(self):
        r = Receiver()
        self.receivers.append(r)
        return r

    def call(self, method, path, body=None, who=None, version=None, headers=None, base='/sheds'):
        h = dict(headers or {})
        if who:
            c = WHO[who]
            h.update({'Authorization': 'Bearer ' + c['credential']} if c['scheme'] == 'token' else {'X-Sheds-Key': c['credential']})
        if version:
            h['Sheds-Version'] = version
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            h.setdefault('Content-Type', 'application/json')
        self.conn.request(method, base + path, data, h)
        r = self.conn.getresponse()
        raw = r.read()
        return Got(r.status, {k.lower(): v for k, v in r.getheaders()}, json.loads(raw) if raw else None)

    def make(self, path, body, who, **kw):
        got = self.call('POST', path, body, who, **kw)
        need(got.status == 201, 'made at %s: %s %s' % (path, got.status, got.body))
        return got.body

    def clock(self, **kw):
        c = http.client.HTTPConnection('127.0.0.1', self.door, timeout=30)
        if kw:
            c.request('POST', '/', json.dumps(kw), {'Content-Type': 'application/json'})
        else:
            c.request('GET', '/')
        r = c.getresponse()
        got = json.loads(r.read())
        need(r.status == 200, 'the clock moves: %s' % got)
        c.close()
        return datetime.strptime(got['now'], '%Y-%m-%dT%H:%M:%S.%fZ').replace(tzinfo=timezone.utc)

    def at(self, **kw):
        return (self.clock() + timedelta(**kw)).strftime('%Y-%m-%dT%H:%M:%SZ')

    # what is needed often
    def tram(self, **kw):
        self.n += 1
        return self.make('/trams', dict({'fleet_number': 100 + self.n, 'name': 'Tram %d' % self.n, 'kind': 'single_deck', 'built': 1912, 'seats': 32}, **kw), 'f_piet')

    def duty(self, tram=None, starts=None, hours=2, **kw):
        tram = tram or self.tram()['id']
        begin = starts or self.clock() + timedelta(days=1)
        form = '%Y-%m-%dT%H:%M:%SZ'
        return self.make('/trams/%s/duties' % tram, dict({'line': 'heath', 'starts_at': begin.strftime(form), 'ends_at': (begin + timedelta(hours=hours)).strftime(form)}, **kw), 'd_nora')

    def ticket(self, duty, who='v_iris', **kw):
        return self.make('/tickets', dict({'duty': duty, 'name': 'A. Rider'}, **kw), who)

    def part(self, **kw):
        self.n += 1
        return self.make('/parts', dict({'sku': 'AB-%04d' % self.n, 'name': 'Brake shoe', 'fits': ['single_deck'], 'on_hand': 20, 'fee_pence': 1250}, **kw), 'f_piet')

    def loan(self, part, who='p_ruth', **kw):
        return self.make('/parts/%s/loans' % part, dict({'purpose': 'running', 'due_at': self.at(days=5)}, **kw), who)

    def hook(self, receiver, who, **kw):
        return self.make('/hooks', {'url': receiver.url, **{k: v for k, v in kw.items() if k != 'version'}}, who, version=kw.get('version'))

    def raw(self, data, wait=15):
        with socket.create_connection(('127.0.0.1', self.port), timeout=wait) as s:
            s.sendall(data)
            out = b''
            try:
                while b'\r\n\r\n' not in out:
                    piece = s.recv(65536)
                    if not piece:
                        break
                    out += piece
            except socket.timeout:
                return None
        return int(out.split()[1]) if out else None


class Got:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def code(self):
        return self.body['error']['code'] if self.body else None


class Broken(Exception):
    pass


def need(holds, what):
    if not holds:
        raise RuntimeError('the proof itself went wrong: ' + what)


def that(holds, what=''):
    if not holds:
        raise Broken(what)


PROOFS = {}


def proof(f):
    PROOFS[f.__name__.replace('_', '-')] = f
    return f


def eventually(holds):
    for _ in range(60):
        if holds():
            return True
        time.sleep(0.02)
    return holds()


# ---- purpose

@proof
def pu_no_prefix(s):
    that(s.call('GET', '/trams', base='').status == 404)
    that(s.call('GET', '/trams').status == 200)


@proof
def pu_hours_at_root(s):
    that(s.call('GET', '/opening-hours').status == 200)


@proof
def pu_no_retract(s):
    loan = s.loan(s.part()['id'])
    got = s.call('POST', '/loans/%s/retract' % loan['id'], who='p_ruth')
    that(got.status == 200 and got.body['status'] == 'retracted')


@proof
def pu_no_job_update(s):
    o = s.make('/overhauls', {'tram': s.tram()['id'], 'title': 'Wheels'}, 'f_piet')
    j = s.make('/overhauls/%s/jobs' % o['id'], {'position': 1, 'work': 'Turn', 'hours': 3}, 'f_piet')
    got = s.call('PATCH', '/jobs/' + j['id'], {'done': True}, 'f_piet')
    that(got.status == 200 and got.body['done'] is True)


@proof
def pu_crew_unknown(s):
    d = s.duty()
    that(s.call('POST', '/duties/%s/take' % d['id'], who='c_lena').status == 200)


@proof
def pu_partner_visitor(s):
    that(s.call('GET', '/parts', who='p_sven').status == 200)


# ---- resources

TRAM = {'fleet_number': 7, 'name': 'Seven', 'kind': 'trailer', 'built': 1920, 'seats': 20}


@proof
def re_fleet_maximum(s):
    that(s.call('POST', '/trams', dict(TRAM, fleet_number=9999), 'f_piet').status == 201)
    that(s.call('POST', '/trams', dict(TRAM, fleet_number=10000), 'f_piet').status == 422)


@proof
def re_name_bytes(s):
    that(s.call('POST', '/trams', dict(TRAM, name='é' * 60), 'f_piet').status == 201)
    that(s.call('POST', '/trams', dict(TRAM, name='é' * 61, fleet_number=8), 'f_piet').status == 422)


@proof
def re_email(s):
    d = s.duty()
    body = {'duty': d['id'], 'name': 'Rider'}
    that(s.call('POST', '/tickets', dict(body, email='not an address'), 'v_iris').status == 422)
    that(s.call('POST', '/tickets', dict(body, email='a.b@example.org'), 'v_iris').status == 201)


@proof
def re_livery_default(s):
    that(s.tram().get('livery') == 'cream')


@proof
def re_number_text(s):
    d = s.duty()
    that(d['number'] == 1 and isinstance(d['number'], int))


@proof
def re_hook_identifier(s):
    h = s.make('/hooks', {'url': 'http://127.0.0.1:9/x'}, 'd_nora')
    that(re.match(r'hok_[0-9A-HJKMNP-TV-Z]{26}$', h['id']))


@proof
def re_unknown_field(s):
    got = s.call('POST', '/trams', dict(TRAM, colour='red'), 'f_piet')
    that(got.status == 422 and got.body['error']['details'][0]['path'] == 'colour')


@proof
def re_gate_code(s):
    t = s.ticket(s.duty()['id'])
    need(re.match('[A-Z0-9]{8}$', t['gate_code']), 'shown once')
    that('gate_code' not in s.call('GET', '/tickets/' + t['id'], who='v_iris').body)


@proof
def re_places_left(s):
    d = s.duty(places=10)
    t = s.ticket(d['id'], places=3)
    that(s.call('GET', '/duties/' + d['id']).body['places_left'] == 10)
    s.call('POST', '/tickets/%s/pay' % t['id'], who='v_iris')
    that(s.call('GET', '/duties/' + d['id']).body['places_left'] == 7)


# ---- states

@proof
def st_withdraw_in_service(s):
    t = s.tram()
    need(s.call('POST', '/trams/%s/enter' % t['id'], who='f_piet').status == 200, 'entered')
    got = s.call('POST', '/trams/%s/withdraw' % t['id'], who='f_piet')
    that(got.status == 409 and got.code == 'not_now')


@proof
def st_begin_unguarded(s):
    d = s.duty()
    s.call('POST', '/duties/%s/take' % d['id'], who='c_lena')
    got = s.call('POST', '/duties/%s/begin' % d['id'], who='c_lena')
    that(got.status == 409 and got.code == 'tram_not_ready')
    s.call('POST', '/trams/%s/enter' % d['tram'], who='f_piet')
    that(s.call('POST', '/duties/%s/begin' % d['id'], who='c_lena').status == 200)


@proof
def st_cancel_paid(s):
    d = s.duty()
    a, b = s.ticket(d['id']), s.ticket(d['id'])
    s.call('POST', '/tickets/%s/pay' % a['id'], who='v_iris')
    got = s.call('POST', '/duties/%s/cancel' % d['id'], {'reason': 'flood'}, 'd_nora')
    need(got.status == 200 and got.body['cancelled_for'] == 'flood', 'cancelled')
    for t in (a, b):
        that(s.call('GET', '/tickets/' + t['id'], who='v_iris').body['status'] == 'refunded')


@proof
def st_expire_restarts(s):
    t = s.ticket(s.duty()['id'])
    s.clock(advance='PT20M')
    need(s.call('PATCH', '/tickets/' + t['id'], {'name': 'B. Rider'}, 'v_iris').status == 200, 'changed')
    that(s.call('GET', '/tickets/' + t['id'], who='v_iris').body['status'] == 'reserved')
    s.clock(advance='PT11M')
    that(s.call('GET', '/tickets/' + t['id'], who='v_iris').body['status'] == 'expired')


@proof
def st_lapse_stale(s):
    now = s.clock()
    d = s.duty(starts=now + timedelta(hours=5))
    later = now + timedelta(hours=50)
    form = '%Y-%m-%dT%H:%M:%SZ'
    need(s.call('PATCH', '/duties/' + d['id'], {'starts_at': later.strftime(form), 'ends_at': (later + timedelta(hours=1)).strftime(form)}, 'd_nora').status == 200, 'put off')
    s.clock(advance='PT6H')
    that(s.call('GET', '/duties/' + d['id']).body['status'] == 'planned')
    s.clock(advance='PT45H')
    that(s.call('GET', '/duties/' + d['id']).body['status'] == 'lapsed')


@proof
def st_overdue_stock(s):
    p = s.part()
    loan = s.loan(p['id'], pieces=3, due_at=s.at(days=3))
    s.call('POST', '/loans/%s/lend' % loan['id'], who='f_piet')
    need(s.call('GET', '/parts/' + p['id'], who='f_piet').body['on_hand'] == 17, 'lent')
    s.clock(advance='P4D')
    need(s.call('GET', '/loans/' + loan['id'], who='f_piet').body['status'] == 'overdue', 'overdue')
    need(s.call('POST', '/loans/%s/hand-back' % loan['id'], who='f_piet').status == 200, 'back')
    that(s.call('GET', '/parts/' + p['id'], who='f_piet').body['on_hand'] == 20)


@proof
def st_overhaul_initial(s):
    o = s.make('/overhauls', {'tram': s.tram()['id'], 'title': 'Roof', 'jobs': [{'position': 1, 'work': 'Paint', 'hours': 9}]}, 'f_piet')
    that(o['status'] == 'drafted' and o['hours'] == 9)


# ---- endpoints

@proof
def en_no_head(s):
    that(s.call('HEAD', '/trams').status == 200)


@proof
def en_trailing_slash(s):
    that(s.call('GET', '/trams/').status == 404)


@proof
def en_built_before(s):
    s.tram(built=1912)
    s.tram(built=1905)
    got = s.call('GET', '/trams?built_before=1912')
    that([t['built'] for t in got.body['items']] == [1905])


@proof
def en_time_as_text(s):
    day = (s.clock() + timedelta(days=3)).strftime('%Y-%m-%d')
    t = s.tram()['id']
    for begin, end in (('T12:00:00Z', 'T15:00:00Z'), ('T13:00:00+03:00', 'T18:00:00+03:00'), ('T11:00:00Z', 'T11:30:00Z')):
        s.make('/trams/%s/duties' % t, {'line': 'quay', 'starts_at': day + begin, 'ends_at': day + end}, 'd_nora')
    got = s.call('GET', '/duties?line=quay')
    that([d['number'] for d in got.body['items']] == [2, 3, 1])


@proof
def en_berth_whole(s):
    t = s.tram(berth={'shed': 'north', 'track': 2})
    got = s.call('PATCH', '/trams/' + t['id'], {'berth': {'track': 5}}, 'f_piet', headers={'If-Match': '*'})
    that(got.status == 200 and got.body['berth'] == {'shed': 'north', 'track': 5})


@proof
def en_replace_keeps(s):
    p = s.part(shelf='K4', weight_kg=2.5)
    body = {k: p[k] for k in ('sku', 'name', 'fits', 'on_hand', 'fee_pence')}
    got = s.call('PUT', '/parts/' + p['id'], body, 'f_piet')
    that(got.status == 200 and 'shelf' not in got.body and 'weight_kg' not in got.body)


@proof
def en_shared_keys(s):
    d = s.duty()
    body = {'duty': d['id'], 'name': 'Rider'}
    a = s.call('POST', '/tickets', body, 'v_iris', headers={'Idempotency-Key': 'k-1'})
    again = s.call('POST', '/tickets', body, 'v_iris', headers={'Idempotency-Key': 'k-1'})
    need(a.status == again.status == 201 and a.body['id'] == again.body['id'], 'the same answer')
    b = s.call('POST', '/tickets', body, 'v_joost', headers={'Idempotency-Key': 'k-1'})
    that(b.status == 201 and b.body['id'] != a.body['id'] and b.body['buyer'] == 'v_joost')


@proof
def en_jobs_order(s):
    o = s.make('/overhauls', {'tram': s.tram()['id'], 'title': 'Motor'}, 'f_piet')
    for n in (5, 1, 3):
        s.make('/overhauls/%s/jobs' % o['id'], {'position': n, 'work': 'Job', 'hours': 1}, 'f_piet')
    got = s.call('GET', '/overhauls/%s/jobs' % o['id'], who='d_nora')
    that([j['position'] for j in got.body] == [1, 3, 5])


# ---- authentication

@proof
def au_bad_is_nobody(s):
    that(s.call('GET', '/trams').status == 200)
    that(s.call('GET', '/trams', headers={'Authorization': 'Bearer tst_wrong'}).status == 401)


@proof
def au_bare_token(s):
    token = WHO['d_nora']['credential']
    that(s.call('GET', '/tickets', headers={'Authorization': 'bearer ' + token}).status == 200)
    that(s.call('GET', '/tickets', headers={'Authorization': token}).status == 401)


@proof
def au_loan_list(s):
    p = s.part()
    mine, other = s.loan(p['id']), s.loan(p['id'], who='p_sven')
    that([x['id'] for x in s.call('GET', '/loans', who='p_tess').body['items']] == [mine['id']])
    that(len(s.call('GET', '/loans', who='f_piet').body['items']) == 2)


@proof
def au_ticket_scope(s):
    got = s.call('POST', '/tickets', {'duty': s.duty()['id'], 'name': 'Kay'}, 'v_kay')
    that(got.status == 403 and got.code == 'scope_lacking')


@proof
def au_part_lendable(s):
    p = s.part(lendable=False)
    that(s.call('GET', '/parts/' + p['id'], who='p_ruth').status == 404)


@proof
def au_begin_anyone(s):
    d = s.duty()
    s.call('POST', '/duties/%s/take' % d['id'], who='c_lena')
    s.call('POST', '/trams/%s/enter' % d['tram'], who='f_piet')
    got = s.call('POST', '/duties/%s/begin' % d['id'], who='c_marc')
    that(got.status == 403 and got.code == 'not_yours')
    that(s.call('POST', '/duties/%s/begin' % d['id'], who='c_lena').status == 200)


# ---- events

@proof
def ev_sign_body(s):
    r = s.receiver()
    h = s.hook(r, 'd_nora')
    s.duty()
    need(eventually(lambda: r.got), 'told')
    headers, body = r.got[0]
    stamp, mac = re.match(r't=(\d+),v1=([0-9a-f]{64})$', headers['Sheds-Signature']).groups()
    that(hmac.new(h['secret'].encode(), stamp.encode() + b'.' + body, hashlib.sha256).hexdigest() == mac)


@proof
def ev_retry_once(s):
    r = s.receiver()
    r.status = 500
    s.hook(r, 'd_nora')
    s.duty()
    need(eventually(lambda: len(r.got) == 1), 'tried')
    for step, tries in (('PT15S', 2), ('PT3M', 3), ('PT25M', 4), ('PT2H', 4)):
        s.clock(advance=step)
        that(eventually(lambda: len(r.got) == tries), tries)
    that(len({h['Sheds-Event-Id'] for h, _ in r.got}) == 1)


@proof
def ev_expire_silent(s):
    r = s.receiver()
    s.hook(r, 'v_iris', events=['ticket.ended'])
    t = s.ticket(s.duty()['id'])
    s.clock(advance='PT31M')
    that(eventually(lambda: len(r.got) == 1))
    that(r.bodies()[0]['body']['id'] == t['id'] and r.bodies()[0]['body']['status'] == 'expired')


@proof
def ev_renamed_always(s):
    r = s.receiver()
    s.hook(r, 'd_nora', events=['tram.*'])
    t = s.tram()
    s.call('PATCH', '/trams/' + t['id'], {'seats': 30}, 'f_piet', headers={'If-Match': '*'})
    s.call('PATCH', '/trams/' + t['id'], {'name': 'Old Smoky'}, 'f_piet', headers={'If-Match': '*'})
    need(eventually(lambda: r.got), 'told')
    time.sleep(0.1)
    that([b['body'] for b in r.bodies()] == [{'tram': t['id'], 'was': t['name'], 'is': 'Old Smoky'}])


@proof
def ev_part_payload(s):
    r = s.receiver()
    s.hook(r, 'p_ruth', events=['part.changed'])
    s.part(shelf='B2')
    need(eventually(lambda: r.got), 'told')
    that(set(r.bodies()[0]['body']) == {'id', 'sku', 'name', 'fits', 'fee_pence', 'lendable'})


@proof
def ev_unknown_kind(s):
    that(s.call('POST', '/hooks', {'url': 'http://127.0.0.1:9/x', 'events': ['tram.*', 'tram.painted']}, 'd_nora').status == 422)
    that(s.call('POST', '/hooks', {'url': 'http://127.0.0.1:9/x', 'events': ['tram.*', 'loan.overdue']}, 'd_nora').status == 201)


# ---- errors

@proof
def er_held_400(s):
    d = s.duty()
    got = s.call('DELETE', '/trams/' + d['tram'], who='f_piet')
    that(got.code == 'in_use' and got.status == 409)


@proof
def er_nested_missing(s):
    got = s.call('POST', '/trams', dict(TRAM, berth={'shed': 'north'}), 'f_piet')
    that(got.status == 400 and got.code == 'missing_field' and got.body['error']['message'] == 'berth.track is missing')


@proof
def er_no_request_id(s):
    got = s.call('GET', '/trams/trm_none')
    that(got.status == 404 and got.body['error'].get('request_id') == got.headers['x-request-id'])


@proof
def er_past_update(s):
    d = s.duty()
    now = s.clock()
    got = s.call('PATCH', '/duties/' + d['id'], {'starts_at': (now - timedelta(hours=1)).strftime('%Y-%m-%dT%H:%M:%SZ')}, 'd_nora')
    that(got.status == 422 and got.code == 'in_the_past')


@proof
def er_refund_code(s):
    t = s.ticket(s.duty()['id'])
    need(s.call('POST', '/tickets/%s/refund' % t['id'], who='v_iris').status == 200, 'refunded')
    got = s.call('POST', '/tickets/%s/refund' % t['id'], who='v_iris')
    that(got.status == 409 and got.code == 'too_late')


@proof
def er_accept_ignored(s):
    that(s.call('GET', '/trams', headers={'Accept': 'application/*;q=0.5'}).status == 200)
    got = s.call('GET', '/trams', headers={'Accept': 'text/html'})
    that(got.status == 406 and got.code == 'unacceptable')


# ---- limits

@proof
def li_refused_count(s):
    for _ in range(600):
        got = s.call('GET', '/opening-hours')
    need(got.status == 200 and got.headers['x-ratelimit-remaining'] == '0', 'used up')
    got = s.call('GET', '/opening-hours')
    need(got.status == 429 and 'retry-after' in got.headers, 'refused')
    s.clock(advance='PT50S')
    need(s.call('GET', '/opening-hours').status == 429, 'refused')
    s.clock(advance='PT15S')
    got = s.call('GET', '/opening-hours')
    that(got.status == 200 and got.headers['x-ratelimit-remaining'] == '599')


@proof
def li_chunked_body(s):
    body = json.dumps(dict(TRAM, name='x' * 17000)).encode()
    head = 'POST /sheds/trams HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n' % WHO['f_piet']['credential']
    that(s.raw((head + 'Content-Length: %d\r\n\r\n' % len(body)).encode() + body) == 413)
    that(s.raw((head + 'Transfer-Encoding: chunked\r\n\r\n%x\r\n' % len(body)).encode() + body + b'\r\n0\r\n\r\n') == 413)


@proof
def li_slow_body(s):
    head = 'POST /sheds/trams HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{' % WHO['f_piet']['credential']
    that(s.raw(head.encode(), wait=13) == 408)


@proof
def li_loans_max(s):
    that(s.call('GET', '/loans?limit=100', who='f_piet').status == 200)
    got = s.call('GET', '/loans?limit=101', who='f_piet')
    that(got.status == 400 and got.code == 'wrong_page')


@proof
def li_loans_over(s):
    p = s.part()
    for n in range(12):
        loan = s.loan(p['id'])
    got = s.call('POST', '/parts/%s/loans' % p['id'], {'purpose': 'running', 'due_at': s.at(days=5)}, 'p_ruth')
    need(got.status == 403 and got.code == 'used_up', 'used up')
    s.call('POST', '/loans/%s/retract' % loan['id'], who='p_ruth')
    got = s.call('POST', '/parts/%s/loans' % p['id'], {'purpose': 'running', 'due_at': s.at(days=5)}, 'p_ruth')
    that(got.status == 201)


@proof
def li_quota_utc(s):
    day = (s.clock() + timedelta(days=1)).strftime('%Y-%m-%d')
    s.clock(now=day + 'T20:00:00Z')      # evening in Amsterdam, in summer and winter
    d = s.duty()
    for n in range(40):
        if n == 30:
            s.clock(advance='PT2M')
        s.ticket(d['id'])
    s.clock(advance='PT2M')
    got = s.call('POST', '/tickets', {'duty': d['id'], 'name': 'One more'}, 'v_iris')
    need(got.status == 403 and got.code == 'used_up', 'used up')
    s.clock(now=day + 'T23:30:00Z')      # the next day there, not yet in UTC
    that(s.call('POST', '/tickets', {'duty': d['id'], 'name': 'One more'}, 'v_iris').status == 201)


# ---- versioning

@proof
def ve_unknown_is_current(s):
    got = s.call('GET', '/trams', version='2024-12-31')
    that(got.status == 400 and got.code == 'no_version')


@proof
def ve_fee_down(s):
    p = s.part(fee_pence=1250)
    got = s.call('GET', '/parts/' + p['id'], who='f_piet', version='2024-04-01')
    that(got.body.get('fee') == 12.5 and 'fee_pence' not in got.body)


@proof
def ve_purpose_up(s):
    p = s.part()
    loan = s.make('/parts/%s/loans' % p['id'], {'purpose': 'exhibition', 'due_at': s.at(days=5)}, 'p_ruth', version='2024-04-01')
    need(loan['purpose'] == 'exhibition', 'as it was sent')
    that(s.call('GET', '/loans/' + loan['id'], who='p_ruth').body['purpose'] == 'display')


@proof
def ve_event_version(s):
    r = s.receiver()
    s.hook(r, 'd_nora', version='2023-04-01', events=['duty.planned'])
    s.duty()
    need(eventually(lambda: r.got), 'told')
    that(r.bodies()[0]['body'].get('route') == 'heath' and 'line' not in r.bodies()[0]['body'])


@proof
def ve_sunset_served(s):
    need(s.call('GET', '/trams', version='2023-04-01').headers.get('sunset') == 'Tue, 01 Jun 2027 00:00:00 GMT', 'announced')
    s.clock(now='2027-06-01T00:00:01Z')
    got = s.call('GET', '/trams', version='2023-04-01')
    that(got.status == 410 and got.code == 'old_version')
    that(s.call('GET', '/trams', version='2024-04-01').status == 200)


@proof
def ve_refusal_silent(s):
    stamp = '@%d' % datetime(2025, 10, 1, tzinfo=timezone.utc).timestamp()
    that(s.call('GET', '/trams', version='2024-04-01').headers.get('deprecation') == stamp)
    that(s.call('GET', '/trams/trm_none', version='2024-04-01').headers.get('deprecation') == stamp)


# ----

def run(fault, f):
    s = Service(fault)
    try:
        f(s)
        return 'holds', ''
    except Broken as e:
        return 'broken', str(e)
    except Exception as e:  # the proof itself
        return 'wrong', '%s: %s' % (type(e).__name__, e)
    finally:
        s.close()


def main():
    ids = [f['id'] for f in STRANGER['faults']]
    if set(ids) != set(PROOFS):
        print('without a proof, or without a fault:', sorted(set(ids) ^ set(PROOFS)))
        return 1
    wanted = sys.argv[1:] or ids
    good = 0
    for id in wanted:
        right, why = run('', PROOFS[id])
        faulty, why_faulty = run(id, PROOFS[id])
        ok = right == 'holds' and faulty == 'broken'
        good += ok
        print('%s %-24s right: %s %s, faulty: %s %s' % ('ok ' if ok else 'BAD', id, right, why, faulty, why_faulty), flush=True)
    print('%d of %d faults are proved: each proof holds on the right service and is broken on the faulty one.' % (good, len(wanted)))
    return 0 if good == len(wanted) else 1


if __name__ == '__main__':
    sys.exit(main())
