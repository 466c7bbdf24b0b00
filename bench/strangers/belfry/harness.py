"""What the tests share: a service in its own process, its callers, and a place where heralds arrive."""
import base64
import hashlib
import hmac
import http.client
import json
import os
import re
import socket
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = os.path.dirname(os.path.abspath(__file__))
SECRET = b"the-great-bell-weighs-thirteen-tons"
MIN, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def b64(b):
    return base64.urlsafe_b64encode(b).rstrip(b"=").decode()


def jwt(secret=SECRET, **claims):
    c = {"iss": "https://guild.example", "aud": "belfry", "exp": 4102444800, **claims}
    head = b64(b'{"alg":"HS256","typ":"JWT"}') + "." + b64(json.dumps(c, separators=(",", ":")).encode())
    return head + "." + b64(hmac.new(secret, head.encode(), hashlib.sha256).digest())


CRED = {
    "anna": {"Belfry-Rope": "rope_aaaaaaaaaaaaaaaaaaaaanna"},
    "bert": {"Belfry-Rope": "rope_bbbbbbbbbbbbbbbbbbbbbert"},
    "clara": {"Belfry-Rope": "rope_cccccccccccccccccccclara"},
    "dorit": {"Belfry-Rope": "rope_ddddddddddddddddddddorit"},
    "emile": {"Belfry-Rope": "rope_eeeeeeeeeeeeeeeeeeeemile"},
    "gilda": {"Authorization": "Bearer " + jwt(sub="gilda", role="captain")},
    "hugo": {"Authorization": "Bearer " + jwt(sub="hugo", role="steward", scope="verdicts")},
    "expired": {"Authorization": "Bearer " + jwt(sub="gilda", role="captain", exp=1577836800)},
    "forged": {"Authorization": "Bearer " + jwt(b"not the secret", sub="gilda", role="captain")},
    "audience": {"Authorization": "Bearer " + jwt(sub="gilda", role="captain", aud="steeple")},
    None: {},
}


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.headers, self.text = status, headers, text
        try:
            self.json = json.loads(text)
        except ValueError:
            self.json = None

    @property
    def word(self):
        return self.json["trouble"]["word"]

    def __repr__(self):
        return f"{self.status} {self.headers} {self.text[:300]}"


class Service:
    def __init__(self, fault=None):
        args = ["perl", "service.pl", "--port", "0", "--clock-port", "0"] + (["--fault", fault] if fault else [])
        self.p = subprocess.Popen(args, cwd=HERE, stdout=subprocess.PIPE, text=True)
        line = self.p.stdout.readline()
        self.port, self.clock_port = map(int, re.findall(r":(\d+)", line))
        self.n = 0
        self.conn = None
        self.receivers = []

    def close(self):
        if self.conn:
            self.conn.close()
        self.p.terminate()
        self.p.wait()
        for r in self.receivers:
            r.close()

    def send(self, port, m, path, body, headers):
        for again in (1, 0):
            try:
                if port != self.port:
                    c = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
                else:
                    c = self.conn = self.conn or http.client.HTTPConnection("127.0.0.1", port, timeout=20)
                c.request(m, path, body, headers)
                r = c.getresponse()
                a = Answer(r.status, {k.lower(): v for k, v in r.getheaders()}, r.read().decode())
                if r.will_close and port == self.port:
                    c.close()
                    self.conn = None
                return a
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                if self.conn:
                    self.conn.close()
                    self.conn = None
                if not again:
                    raise

    def __call__(self, m, path, body=None, who="anna", raw=None, base="/tower", **headers):
        h = {k.replace("_", "-"): v for k, v in headers.items()}
        h.update(CRED[who])
        if body is not None:
            raw = json.dumps(body).encode()
        if raw is not None and "Content-Type" not in h:
            h["Content-Type"] = "application/json"
        return self.send(self.port, m, base + path, raw, {k: v for k, v in h.items() if v is not None})

    def clock(self, **body):
        r = self.send(self.clock_port, "POST" if body else "GET", "/", json.dumps(body) if body else None, {})
        assert r.status == 200, r
        return r.json["now"]

    def bell(self, who="anna", **more):
        self.n += 1
        r = self("POST", "/bells", {"slug": f"bell-{self.n}", "name": f"Bell {self.n}", "weight": 100, **more}, who)
        assert r.status == 201, r
        return r.json["bell"]

    def attempt(self, who="anna", bell=None, q="", **more):
        bell = bell or self.bell(who)["slug"]
        r = self("POST", "/attempts" + q, {"bell": bell, "label": "Sunday", "changes": 5040, "duration": 180, "starts_at": "2027-01-01T10:00:00Z", **more}, who)
        assert r.status == 201, r
        return r.json["attempt"]

    def do(self, nr, verb, body=None, who="anna"):
        return self("POST", f"/attempts/{nr}/{verb}", body, who)

    def rung(self, who="anna", **more):
        a = self.attempt(who, **more)
        assert self.do(a["nr"], "begin", None, who).status == 200
        r = self.do(a["nr"], "finish", {"rung": a["changes"]}, who)
        assert r.status == 200, r
        return r.json["attempt"]

    def status(self, nr, who="dorit"):
        return self("GET", f"/attempts/{nr}", who=who).json["attempt"]["status"]

    def herald(self, who="anna", q="", status=204, **more):
        got = Receiver(status)
        self.receivers.append(got)
        r = self("POST", "/heralds" + q, {"url": got.url, **more}, who)
        assert r.status == 201, r
        got.seal, got.id = r.json["herald"]["seal"], r.json["herald"]["id"]
        return got


class Receiver:
    def __init__(self, status):
        self.status, self.got = status, []
        me = self

        class H(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                me.got.append(({k.lower(): v for k, v in self.headers.items()}, body, json.loads(body)))
                self.send_response(me.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *a):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), H)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hear"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def wait(self, n, seconds=1.5):
        end = time.time() + seconds
        while len(self.got) < n and time.time() < end:
            time.sleep(0.01)
        return self.got

    def kinds(self, n, seconds=1.5):
        return [g[2]["what"] for g in self.wait(n, seconds)]

    def none_more(self, n, seconds=0.3):
        time.sleep(seconds)
        assert len(self.got) == n, [g[2]["what"] for g in self.got]

    def close(self):
        self.server.shutdown()
        self.server.server_close()
