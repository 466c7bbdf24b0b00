"""Starts the service, with one fault or none, and asks it by plain HTTP."""
import base64
import hashlib
import hmac
import http.client
import http.server
import json
import os
import socket
import subprocess
import sys
import threading
import time
from datetime import datetime, timezone

HERE = os.path.dirname(os.path.abspath(__file__))
SECRET = b'the-stars-are-not-a-secret-2026'


def token(**claims):
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value, separators=(',', ':')).encode()).rstrip(b'=').decode()
    secret = claims.pop('secret', SECRET)
    text = part({'alg': 'HS256', 'typ': 'JWT'}) + '.' + part({'iss': 'https://stars.example', 'aud': 'lantern-hill', 'exp': 4102444800, **claims})
    sign = base64.urlsafe_b64encode(hmac.new(secret, text.encode(), hashlib.sha256).digest()).rstrip(b'=').decode()
    return f'{text}.{sign}'


WHO = {
    'ada': {'X-Dome-Key': 'dome_adaadaadaadaadaadaad'},
    'bela': {'X-Dome-Key': 'dome_belabelabelabelabela'},
    'dana': {'X-Dome-Key': 'dome_danadanadanadanadana'},
    'emil': {'X-Dome-Key': 'dome_emilemilemilemilemil'},
    'cleo': {'Authorization': 'Bearer ' + token(sub='cleo', post='astronomer')},
    'fred': {'Authorization': 'Bearer ' + token(sub='fred', post='director', scope='domes')},
    'gita': {'Authorization': 'Bearer ' + token(sub='gita', post='director')},
    None: {},
}


def free_port():
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return one.getsockname()[1]


class Answer:
    def __init__(self, status, headers, raw):
        self.status, self.headers, self.raw = status, headers, raw
        try:
            self.body = json.loads(raw) if raw else None
        except ValueError:
            self.body = raw

    @property
    def fault(self):
        return (self.status, self.body.get('fault', {}).get('name')) if isinstance(self.body, dict) and self.status >= 400 else self.status

    @property
    def spots(self):
        return sorted(self.body['spots']) if isinstance(self.body, dict) and 'spots' in self.body else None


class Service:
    def __init__(self, fault=None):
        self.port, self.clock_port = free_port(), free_port()
        self.process = subprocess.Popen(
            [sys.executable, 'service.py', '--port', str(self.port), '--clock-port', str(self.clock_port), *(['--fault', fault] if fault else [])],
            cwd=HERE)
        for _ in range(200):
            try:
                socket.create_connection(('127.0.0.1', self.clock_port), 1).close()
                break
            except OSError:
                time.sleep(0.03)
        self.bells = []

    def stop(self):
        self.process.kill()
        self.process.wait()
        for server in self.bells:
            server.shutdown()
            server.server_close()

    def ask(self, method, path, who=None, body=None, headers=None, raw=None, edition=None, chunked=False, base='/dome'):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=10)
        given = {**WHO[who], **(headers or {})}
        data = raw
        if body is not None:
            data = json.dumps(body).encode()
            given.setdefault('Content-Type', 'application/json')
        if edition:
            path += ('&' if '?' in path else '?') + 'edition=' + edition
        if chunked:
            whole = data
            data = (whole[at:at + 1000] for at in range(0, len(whole), 1000))
        connection.request(method, base + path, data, given, encode_chunked=chunked)
        answer = connection.getresponse()
        found = Answer(answer.status, answer.headers, answer.read())
        connection.close()
        return found

    def get(self, path, who=None, **more):
        return self.ask('GET', path, who, **more)

    def post(self, path, who=None, body=None, **more):
        return self.ask('POST', path, who, body, **more)

    def patch(self, path, who=None, body=None, **more):
        return self.ask('PATCH', path, who, body, **more)

    def put(self, path, who=None, body=None, **more):
        return self.ask('PUT', path, who, body, **more)

    def delete(self, path, who=None, **more):
        return self.ask('DELETE', path, who, **more)

    def clock(self, **asked):
        connection = http.client.HTTPConnection('127.0.0.1', self.clock_port, timeout=10)
        connection.request('POST' if asked else 'GET', '/', json.dumps(asked) if asked else None)
        told = json.loads(connection.getresponse().read())
        connection.close()
        return told['now']

    def now(self):
        return datetime.fromisoformat(self.clock().replace('Z', '+00:00')).timestamp()

    def at(self, seconds):
        return datetime.fromtimestamp(self.now() + seconds, timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')

    # what most trials begin with

    def telescope(self, code='big', **more):
        body = {'code': code, 'name': 'The ' + code, 'mount': 'alt_az', 'aperture': 1000, 'hours': 30, **more}
        return self.post('/telescopes', 'dana', body)

    def run_body(self, **more):
        body = {'telescope': 'big', 'title': 'A look at M31', 'target': 'M31', 'hours': 4, 'starts_at': self.at(1800), 'ends_at': self.at(9000), **more}
        return {name: value for name, value in body.items() if value is not None}

    def run(self, who='ada', **more):
        return self.post('/runs', who, self.run_body(**more))

    def submitted(self, who='ada', **more):
        number = self.run(who, **more).body['no']
        self.post(f'/runs/{number}/submit', who)
        return number

    def booked(self, who='ada', **more):
        number = self.submitted(who, **more)
        self.post(f'/runs/{number}/accept', 'dana', {'grade': 4})
        return number

    def observing(self, who='ada', **more):
        number = self.booked(who, **more)
        self.post(f'/runs/{number}/open', who)
        return number

    def frame(self, number, who='ada', **more):
        return self.post(f'/runs/{number}/frames', who, {'seconds': 30, 'filter': 'r', **more})

    def bell(self, who='ada', answers=(), **more):
        """A bell that rings here: gives what it was told, and the answer that made it."""
        told, left = [], list(answers)

        class Ear(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                raw = self.rfile.read(int(self.headers['Content-Length']))
                told.append((dict(self.headers), raw))
                self.send_response(left.pop(0) if left else 204)
                self.send_header('Content-Length', '0')
                self.end_headers()

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Ear)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        self.bells.append(server)
        edition = more.pop('edition', None)
        made = self.post('/bells', who, {'url': f'http://127.0.0.1:{server.server_address[1]}/ear', **more}, edition=edition)
        return told, made

    def heard(self, told, count, within=1.0):
        until = time.monotonic() + within
        while len(told) < count and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.15)
        return [json.loads(raw) for _, raw in told]

    def stream(self, who, last=None, edition=None):
        sock = socket.create_connection(('127.0.0.1', self.port))
        lines = [f'GET /dome/events{"?edition=" + edition if edition else ""} HTTP/1.1', 'Host: x']
        lines += [f'{name}: {value}' for name, value in WHO[who].items()]
        if last:
            lines.append('Last-Event-ID: ' + last)
        sock.sendall(('\r\n'.join(lines) + '\r\n\r\n').encode())
        time.sleep(0.1)
        return sock

    def streamed(self, sock, wait=0.4):
        sock.settimeout(wait)
        data = b''
        try:
            while True:
                piece = sock.recv(65536)
                if not piece:
                    break
                data += piece
        except TimeoutError:
            pass
        sock.close()
        return [block for block in data.decode().split('\n\n') if 'data: ' in block]
