"""What the proofs have in common: a service of their own, those who call it, and a stream to listen to."""
import http.client
import json
import pathlib
import socket
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).parent
KEYS = {
    'anna': 'trw_AnnaAnnaAnnaAnnaAnnaAnna', 'boris': 'trw_BorisBorisBorisBorisBori', 'chloe': 'trw_ChloeChloeChloeChloeChlo',
    'dmitri': 'trw_DmitriDmitriDmitriDmitri', 'erika': 'trw_ErikaErikaErikaErikaErik', 'fabio': 'trw_FabioFabioFabioFabioFabi',
}


def free_port():
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return one.getsockname()[1]


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.headers, self.text = status, headers, text
        self.type = (headers.get('content-type') or '').split(';')[0]
        self.body = json.loads(text) if text and 'json' in self.type else None

    def __getitem__(self, key):
        return self.body[key]

    @property
    def code(self):
        return self.body and self.body.get('code')


def same(found, wanted):
    assert found == wanted, f'{found!r}, not {wanted!r}'


def refused(answer, status, code):
    same((answer.status, answer.code), (status, code))


class World:
    """A running service, with one fault or none."""

    def __init__(self, fault=None):
        self.port, self.door = free_port(), free_port()
        command = [sys.executable, str(HERE / 'service.py'), '--port', str(self.port), '--clock-port', str(self.door)]
        self.child = subprocess.Popen(command + (['--fault', fault] if fault else []), stdout=subprocess.DEVNULL)
        for _ in range(1000):
            try:
                socket.create_connection(('127.0.0.1', self.door), 1).close()
                break
            except OSError:
                time.sleep(0.02)
        self.lines = {}
        self.codes = 0
        self.streams = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()

    def ask(self, who, method, path, body=None, headers=None, raw=None, base='/api'):
        sent = {**({'X-Trowel-Key': KEYS.get(who, who)} if who else {}), **({'Content-Type': 'application/json'} if body is not None else {}), **(headers or {})}
        line = http.client.HTTPConnection('127.0.0.1', self.port, timeout=20)
        line.request(method, base + path, raw if raw is not None else None if body is None else json.dumps(body), sent)
        got = line.getresponse()
        text = got.read().decode()
        line.close()
        return Answer(got.status, {name.lower(): value for name, value in got.getheaders()}, text)

    def get(self, who, path, **more):
        return self.ask(who, 'GET', path, **more)

    def post(self, who, path, body=None, **more):
        return self.ask(who, 'POST', path, body, **more)

    def patch(self, who, path, body, **more):
        return self.ask(who, 'PATCH', path, body, **more)

    def delete(self, who, path, **more):
        return self.ask(who, 'DELETE', path, **more)

    def later(self, span):
        line = http.client.HTTPConnection('127.0.0.1', self.door, timeout=20)
        line.request('POST', '/', json.dumps({'advance': span}))
        line.getresponse().read()
        line.close()

    # -- what most proofs begin with
    def code(self):
        self.codes += 1
        return f'ABC{self.codes:02d}'

    def dig_body(self, **more):
        return {'code': self.code(), 'title': 'North field', 'season': 2026, **more}

    def dig(self, who='anna', **more):
        made = self.post(who, '/digs', self.dig_body(**more))
        assert made.status in (200, 201), made.text
        return made.body

    def member(self, dig, person, role='novice'):
        made = self.post('anna', f'/digs/{dig["id"]}/members', {'person': person, 'role': role})
        assert made.status in (200, 201), made.text
        return made.body

    def trench(self, dig=None, who='anna', **more):
        dig = dig or self.dig()
        made = self.post(who, f'/digs/{dig["id"]}/trenches', {'title': 'A', 'top_cm': 0, 'bottom_cm': 50, **more})
        assert made.status == 201, made.text
        return made.body

    def artefact(self, trench=None, who='anna', **more):
        trench = trench or self.trench()
        made = self.post(who, f'/trenches/{trench["id"]}/artefacts', {'material': 'bone', 'mass_g': 10, **more})
        assert made.status == 201, made.text
        return made.body

    def dried(self, **more):
        artefact = self.artefact(**more)
        same(self.post('anna', f'/artefacts/{artefact["id"]}/wash').status, 200)
        self.later('49h')
        return artefact

    def crate(self, *positions, **more):
        items = [{'position': n, 'text': f'no {n}', 'mass_g': 10 * n} for n in positions or (1,)]
        made = self.post('erika', '/crates', {'destination': 'Store', 'items': items, **more})
        return made

    def listen(self, who='anna', headers=None):
        stream = Stream(self.port, who, headers or {})
        self.streams.append(stream)
        return stream


class Stream:
    def __init__(self, port, who, headers):
        self.line = http.client.HTTPConnection('127.0.0.1', port, timeout=30)
        self.line.request('GET', '/api/events/stream', headers={'X-Trowel-Key': KEYS[who], **headers})
        self.got = self.line.getresponse()
        self.status = self.got.status
        self.events = []
        threading.Thread(target=self.read, daemon=True).start()
        time.sleep(0.1)

    def read(self):
        one = {}
        try:
            for raw in self.got:
                text = raw.decode().rstrip('\n')
                if not text:
                    if one.get('data'):
                        self.events.append({**one, 'data': json.loads(one['data'])})
                    one = {}
                elif not text.startswith(':'):
                    name, _, value = text.partition(': ')
                    one[name] = value
        except (OSError, ValueError, AttributeError):
            pass

    def of(self, kind, count=1, wait=2.0):
        """The events of a kind, once there are so many, or after a while."""
        until = time.monotonic() + wait
        while time.monotonic() < until:
            found = [one for one in self.events if one.get('event') == kind]
            if len(found) >= count:
                time.sleep(0.05)
                return [one for one in self.events if one.get('event') == kind]
            time.sleep(0.02)
        return [one for one in self.events if one.get('event') == kind]
