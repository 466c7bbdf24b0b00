"""What the tests share: the service in its own process, its callers, and a place where hooks arrive."""
import base64
import hashlib
import hmac
import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = os.path.dirname(os.path.abspath(__file__))
SECRET = b"limestone-remembers-the-sea-it-was"
FAR = "2031-01-01T00:00:00Z"


def b64(b):
    return base64.urlsafe_b64encode(b).rstrip(b"=").decode()


def jwt(secret=SECRET, **claims):
    c = {"iss": "https://id.greyhollow.example", "aud": "quarry", "exp": 4102444800, **claims}
    head = b64(b'{"alg":"HS256","typ":"JWT"}') + "." + b64(json.dumps(c, separators=(",", ":")).encode())
    return head + "." + b64(hmac.new(secret, head.encode(), hashlib.sha256).digest())


TOKENS = {
    "fritz": jwt(sub="fritz", role="foreman", scope="permits"),
    "gerda": jwt(sub="gerda", role="foreman"),
    "anton": jwt(sub="anton", role="haulier", company="adler"),
    "berta": jwt(sub="berta", role="haulier", company="adler"),
    "carl": jwt(sub="carl", role="haulier", company="brandt"),
    "expired": jwt(sub="anton", role="haulier", company="adler", exp=1577836800),
    "forged": jwt(b"not the secret", sub="anton", role="haulier", company="adler"),
    "audience": jwt(sub="anton", role="haulier", company="adler", aud="harbour"),
    "stranger": jwt(sub="zoe", role="tourist"),
}
CRED = {k: {"Authorization": "Bearer " + t} for k, t in TOKENS.items()}
CRED |= {"gate": {"X-Gate-Key": "gk_wwwwwwwwwwwwwwwwwwwwgate"}, "south": {"X-Gate-Key": "gk_wwwwwwwwwwwwwwwwwwwsouth"},
         "oona": {"X-Gate-Key": "gk_ffffffffffffffffffffoona"}, None: {}}


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.headers = status, headers
        self.json = json.loads(text) if text else None

    def __repr__(self):
        return f"{self.status} {self.headers} {json.dumps(self.json)[:400]}"


class Service:
    count = 0

    def __init__(self, fault=None):
        args = [sys.executable, "service.py", "--port", "0", "--clock-port", "0"] + (["--fault", fault] if fault else [])
        self.p = subprocess.Popen(args, cwd=HERE, stdout=subprocess.PIPE, text=True)
        self.port, self.clock_port = map(int, re.findall(r":(\d+)", self.p.stdout.readline()))
        self.n, self.conn, self.receivers = 0, None, []

    def close(self):
        if self.conn:
            self.conn.close()
        self.p.terminate()
        self.p.wait()
        self.p.stdout.close()
        for r in self.receivers:
            r.close()

    def send(self, c, m, path, body, headers):
        c.request(m, path, body, headers)
        r = c.getresponse()
        return Answer(r.status, {k.lower(): v for k, v in r.getheaders()}, r.read().decode())

    def __call__(self, m, path, body=None, who="anton", raw=None, base="/quarry/v2", **headers):
        Service.count += 1
        h = {k.replace("_", "-"): v for k, v in headers.items()} | CRED[who]
        if body is not None:
            raw = json.dumps(body).encode()
        if raw is not None and "Content-Type" not in h:
            h["Content-Type"] = "application/json"
        self.conn = self.conn or http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        return self.send(self.conn, m, base + path, raw, h)

    def clock(self, advance=None, now=None):
        b = {"advance": advance} if advance else {"now": now} if now else None
        c = http.client.HTTPConnection("127.0.0.1", self.clock_port, timeout=60)
        r = self.send(c, "POST" if b else "GET", "/", json.dumps(b) if b else None, {})
        c.close()
        assert r.status == 200, r
        return r.json["now"]

    def ok(self, *a, status=200, **k):
        r = self(*a, **k)
        assert r.status == status, r
        return r.json

    def next(self):
        self.n += 1
        return self.n

    def stone(self, **more):
        return self.ok("POST", "/stones", {"name": f"Stone {self.next()}", "grade": "rough", "density": 2.5, "price": 1200, **more}, "fritz", status=201)

    def bench(self, stone=None, to="working", **more):
        stone = stone or self.stone()["id"]
        n = self.next()
        b = self.ok("POST", "/benches", {"name": f"{chr(65 + n // 100)}{n % 100}", "stone": stone, "spot": {"easting": 1, "northing": 2}, "capacity_t": 100, **more}, "fritz", status=201)
        for step in {"surveyed": "", "working": "start", "resting": "start rest", "closed": "start close"}[to].split():
            b = self.ok("POST", f"/benches/{b['id']}/{step}", {"reason": "done with"} if step == "close" else None, "fritz")
        return b

    def permit(self, who="anton", granted=True, **more):
        stone = more.pop("stone", None) or self.stone()["id"]
        p = self.ok("POST", "/permits", {"stone": stone, "tonnes": 100, "vehicle": "AB-12", "contact": "a@adler.example", "valid_until": FAR, **more}, who, status=201)
        return self.do("permits", p["id"], "grant") if granted else p

    def do(self, kind, id, verb, body=None, who="fritz"):
        return self.ok("POST", f"/{kind}/{id}/{verb}", body, who)

    def place(self, **more):
        """A granted permit and a working bench for one stone."""
        st = self.stone()["id"]
        return self.permit(stone=st, **more), self.bench(st)

    def slot(self):
        n = self.next()
        return f"2027-{1 + n // 600:02d}-{1 + n // 24 % 25:02d}T{n % 24:02d}:00:00Z"

    def book(self, p, b, who="anton", **more):
        return self("POST", f"/permits/{p['id']}/loads", {"bench": b["id"], "tonnes": 20, "slot": self.slot(), "driver": "Dora", **more}, who)

    def load(self, at=None, who="anton", **more):
        p, b = at or self.place()
        r = self.book(p, b, who, **more)
        assert r.status == 201, r
        return r.json

    def weighed(self, gross=30000, tare=10000, at=None):
        return self.do("loads", self.load(at)["id"], "weigh", {"gross_kg": gross, "tare_kg": tare}, "gate")

    def status(self, kind, id):
        return self.ok("GET", f"/{kind}/{id}", who="fritz")["status"]

    def hook(self, who="fritz", base="/quarry/v2", status=204, **more):
        got = Receiver(status)
        self.receivers.append(got)
        h = self.ok("POST", "/hooks", {"url": got.url, **more}, who, base=base, status=201)
        got.secret, got.id = h["secret"], h["id"]
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

    def wait(self, n, seconds=2.5):
        end = time.time() + seconds
        while len(self.got) < n and time.time() < end:
            time.sleep(0.01)
        assert len(self.got) >= n, self.kinds()
        return [g[2] for g in self.got]

    def kinds(self):
        return [g[2]["kind"] for g in self.got]

    def only(self, n, seconds=0.3):
        time.sleep(seconds)
        assert len(self.got) == n, self.kinds()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def is_(r, status, code=None):
    assert r.status == status, r
    if status >= 400:
        assert set(r.json) == {"code", "status", "title", "fields"} and r.json["status"] == status, r
        assert r.headers["content-type"] == "application/json", r
    if code:
        assert r.json["code"] == code, r
    return r
