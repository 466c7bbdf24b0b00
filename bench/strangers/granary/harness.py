"""Starts the granary, speaks to it, and listens to what it tells."""
import hashlib
import hmac
import http.client
import http.server
import json
import os
import socket
import subprocess
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOLD = json.load(open(os.path.join(HERE, 'stranger.json')))
PASSES = {c['id']: c['credential'] for c in TOLD['callers'] if c['scheme'] == 'pass'}


def free():
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


class Answer:
    def __init__(self, status, headers, raw):
        self.status, self.headers, self.raw = status, headers, raw
        try:
            self.json = json.loads(raw) if raw else None
        except ValueError:
            self.json = None

    @property
    def kind(self):
        return (self.json or {}).get('error', {}).get('kind') if isinstance(self.json, dict) else None

    def __getitem__(self, key):
        return self.json.get(key)


class Granary:
    """One running service, and one receiver of what it tells."""

    def __init__(self, fault=None):
        self.port, self.door = free(), free()
        args = ['sh', 'run.sh', '--port', str(self.port), '--clock-port', str(self.door)]
        self.process = subprocess.Popen(args + (['--fault', fault] if fault else []), cwd=HERE, stderr=subprocess.DEVNULL)
        for _ in range(400):
            try:
                self.clock()
                break
            except OSError:
                time.sleep(0.02)
        self.heard, self.count, self.answers = [], 0, []
        heard, answers = self.heard, self.answers

        class Receiver(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['content-length']))
                heard.append((self.path[1:], dict(self.headers), body, json.loads(body)))
                self.send_response(answers.pop(0) if answers else 204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.receiver = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Receiver)
        threading.Thread(target=self.receiver.serve_forever, daemon=True).start()
        self.line = None

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.receiver.shutdown()
        self.receiver.server_close()

    def clock(self, **move):
        line = http.client.HTTPConnection('127.0.0.1', self.door, timeout=5)
        line.request('POST' if move else 'GET', '/', json.dumps(move) if move else None)
        return json.loads(line.getresponse().read())

    def ask(self, method, path, body=None, who='dora', edition=None, prefix='/bank', raw=None, **headers):
        if self.line is None:
            self.line = http.client.HTTPConnection('127.0.0.1', self.port, timeout=20)
        head = {k.replace('_', '-'): v for k, v in headers.items()}
        if who:
            head.setdefault('Authorization', 'Pass ' + PASSES[who])
        if edition:
            head['Granary-Edition'] = edition
        data = raw if raw is not None else json.dumps(body).encode() if body is not None else None
        if data is not None:
            head.setdefault('Content-Type', 'application/json')
        try:
            self.line.request(method, prefix + path, data, head)
            r = self.line.getresponse()
            answer = Answer(r.status, r.headers, r.read())
        except (http.client.HTTPException, OSError):
            self.line.close()
            self.line = None
            raise
        return answer

    # What most trials need.
    def new(self):
        self.count += 1
        return self.count

    def taxon(self, **more):
        n = self.new()
        return self.ask('POST', '/taxa', {'code': f'TAX-{n}', 'name': f'Grain {n}', **more}).json

    def lot(self, who='ada', taxon=None, **more):
        taxon = taxon or self.taxon()['code']
        return self.ask('POST', '/lots', {'taxon': taxon, 'label': 'From the hill', 'seeds': 100, 'moisture': 6, **more}, who).json

    def move(self, thing, row, move, body=None, who='dora'):
        return self.ask('POST', f'/{thing}s/{row["id"]}/{move}', body, who)

    def drying(self, **more):
        return self.move('lot', self.lot(**more), 'dry').json

    def stored(self, **more):
        return self.move('lot', self.drying(**more), 'store').json

    def trial(self, lot=None, **more):
        lot = lot or self.drying()
        return self.ask('POST', f'/lots/{lot["id"]}/trials', {'sown': 60, **more}).json

    def order(self, lot=None, who='ada', **more):
        lot = lot or self.stored(who=who)
        return self.ask('POST', '/orders', {'lot': lot['id'], 'seeds': 10, **more}, who).json

    def granted(self, **more):
        return self.move('order', self.order(**more), 'grant').json

    def note(self, lot, who='dora', **more):
        return self.ask('POST', f'/lots/{lot["id"]}/notes', {'text': 'dry and clean', **more}, who).json

    def patch(self, lot, body, who='ada'):
        tag = self.ask('GET', f'/lots/{lot["id"]}', who=who).headers['etag']
        return self.ask('PATCH', f'/lots/{lot["id"]}', body, who, If_Match=tag)

    def listener(self, who='dora', edition=None, **more):
        path = f'l{self.new()}'
        made = self.ask('POST', '/listeners', {'url': f'http://127.0.0.1:{self.receiver.server_port}/{path}', **more}, who, edition).json
        return {**made, 'path': path}

    def hears(self, listener, wait=0.15, want=1):
        """What a listener has been told, once `want` have come or nothing more comes."""
        for _ in range(100):
            if len([1 for p, *_ in self.heard if p == listener['path']]) >= want:
                break
            time.sleep(0.01)
        time.sleep(wait)
        return [e for p, _, _, e in self.heard if p == listener['path']]


def sealed(listener, headers, body, event):
    parts = dict(p.split('=', 1) for p in headers['Granary-Seal'].split(','))
    text = f'{event["event"]}:{parts["at"]}:'.encode() + body
    return hmac.new(listener['secret'].encode(), text, hashlib.sha256).hexdigest() == parts['sum']
