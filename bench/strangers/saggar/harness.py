import http.client, json, os, socket, subprocess, sys, threading, time, base64, hmac, hashlib, datetime as dt
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
HERE = os.path.dirname(os.path.abspath(__file__))
WREN, MOSS, TEAL = ('sgk_%saaaaaaaaaaaaaaaaaaa' % n for n in ('Wren0', 'Moss0', 'Teal0'))
EMBER, ASH = 'sgk_Ember0aaaaaaaaaaaaaaaaaa', 'sgk_Ash0aaaaaaaaaaaaaaaaaaaa'
def free():
    s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; s.close(); return p
class A:
    def __init__(self, st, h, text):
        self.st, self.h, self.text = st, h, text
        try: self.j = json.loads(text) if text else None
        except ValueError: self.j = None
    @property
    def name(self):
        return (self.j or {}).get('fault', {}).get('name') if isinstance(self.j, dict) else None
    def ref(self, st, name): return self.st == st and self.name == name
class S:
    def __init__(self, fault=None):
        self.port, self.cport = free(), free()
        self.p = subprocess.Popen([sys.executable, os.path.join(HERE, 'service.py'), '--port', str(self.port), '--clock-port', str(self.cport)] + (['--fault', fault] if fault else []),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE if not os.environ.get('SHOW') else None)
        self.n = 0; self.c = None; self.rec = None
        for _ in range(200):
            try:
                socket.create_connection(('127.0.0.1', self.cport), 1).close()
                socket.create_connection(('127.0.0.1', self.port), 1).close(); return
            except OSError: time.sleep(0.03)
        raise SystemExit('not started')
    def stop(self):
        self.p.terminate(); self.p.wait()
        if self.rec: self.rec.shutdown(); self.rec.server_close()
    def call(self, m, path, key=None, body=None, raw=None, base='/yard', **h):
        head = {k.replace('_', '-'): v for k, v in h.items()}
        if key: head['X-Saggar-Key'] = key
        if body is not None: raw = json.dumps(body)
        if raw is not None and 'Content-Type' not in head: head['Content-Type'] = 'application/json'
        for i in (0, 1):
            try:
                if self.c is None: self.c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=40)
                self.c.request(m, base + path, raw, {k: v for k, v in head.items() if v is not None})
                r = self.c.getresponse(); t = r.read()
                return A(r.status, r.headers, t)
            except (http.client.HTTPException, OSError):
                self.c = None
                if i: raise
    def clock(self, body=None):
        c = http.client.HTTPConnection('127.0.0.1', self.cport, timeout=40)
        c.request('POST' if body else 'GET', '/', json.dumps(body) if body else None); r = c.getresponse(); j = json.loads(r.read()); c.close(); return j.get('now')
    def adv(self, d): return self.clock({'advance': d})
    def now(self): return dt.datetime.strptime(self.clock(), '%Y-%m-%dT%H:%M:%S.%fZ').replace(tzinfo=dt.timezone.utc)
    def at(self, **k): return (self.now() + dt.timedelta(**k)).strftime('%Y-%m-%dT%H:%M:%SZ')
    def kbody(self, **k):
        self.n += 1
        return {'code': 'KA%02d' % self.n, 'label': 'Kiln %d' % self.n, 'litres': 100, 'peak_c': 1200, 'site': {'street': '1 Row', 'town': 'Stoke'}, **k}
    def kiln(self, key=EMBER, ok=201, **k):
        a = self.call('POST', '/kilns', key, self.kbody(**k)); assert a.st == ok, (a.st, a.j); return a.j
    def fire_body(self, **k): return {'kind': 'glaze', 'top_c': 1000, 'lights_at': self.at(days=3), **k}
    def firing(self, kiln=None, ok=(200, 201), **k):
        kiln = kiln or self.kiln()['code']
        a = self.call('POST', '/kilns/%s/firings' % kiln, EMBER, self.fire_body(**k)); assert a.st in ok, (a.st, a.j); return a.j
    def wbody(self, f, **k): return {'firing': f, 'title': 'Blue bowl', 'litres': 10, 'clay': 'stoneware', **k}
    def ware(self, f=None, key=WREN, **k):
        f = f or self.firing()['id']
        a = self.call('POST', '/wares', key, self.wbody(f, **k)); assert a.st == 201, (a.st, a.j); return a.j
    def act(self, w, what, body=None, key=EMBER): return self.call('POST', '/wares/%d/%s' % (w['id'], what), key, body)
    def accepted(self, f=None, **k):
        w = self.ware(f, **k); a = self.act(w, 'accept', {'shelf': 3}); assert a.st == 200, a.j; return a.j
    def fact(self, f, what, body=None, key=EMBER): return self.call('POST', '/firings/%s/%s' % (f, what), key, body)
    def fired(self, **k):
        w = self.accepted(**k); a = self.fact(w['firing'], 'light'); assert a.st == 200, a.j; return self.get('/wares/%d' % w['id']).j
    def opened(self, **k):
        w = self.fired(**k); self.fact(w['firing'], 'douse'); self.adv('PT19H'); return w
    def get(self, path, key=EMBER, **h): return self.call('GET', path, key, **h)
    def crack(self, w, **k):
        a = self.call('POST', '/wares/%d/cracks' % w['id'], EMBER, {'text': 'a hair', **k}); assert a.st == 201, a.j; return a.j
    def log(self, **q):
        a = self.get('/happenings?take=50' + ''.join('&%s=%s' % x for x in q.items())); return a.j['entries']
    # a receiver
    def receive(self, key=EMBER, kinds=None, status=200, **h):
        got = []
        S_ = self; self.status = status
        class R(BaseHTTPRequestHandler):
            def do_POST(self):
                b = self.rfile.read(int(self.headers['Content-Length'])); got.append((self.headers, b, json.loads(b)))
                st = S_.status
                self.send_response(st)
                if 300 <= st < 400: self.send_header('Location', '/elsewhere')
                self.send_header('Content-Length', '0'); self.end_headers()
            def log_message(self, *a): pass
        if self.rec is None:
            self.rec = ThreadingHTTPServer(('127.0.0.1', 0), R); threading.Thread(target=self.rec.serve_forever, daemon=True).start()
        body = {'url': 'http://127.0.0.1:%d/' % self.rec.server_address[1]}
        if kinds is not None: body['kinds'] = kinds
        a = self.call('POST', '/hooks', key, body, **h); assert a.st == 201, a.j
        self.hook = a.j
        return got
    def wait(self, got, n, t=2.0, settle=0.25):
        e = time.time() + t
        while len(got) < n and time.time() < e: time.sleep(0.02)
        time.sleep(settle); return len(got)
