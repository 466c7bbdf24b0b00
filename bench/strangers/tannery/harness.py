"""What the tests share: the service in a process of its own, its callers, a place where hooks arrive, and a listener."""
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


def basic(name, word):
    return {"Authorization": "Basic " + base64.b64encode(f"{name}:{word}".encode()).decode()}


def cookie(value):
    return {"Cookie": "theme=dark; tanSession=" + value}


CRED = {
    "tilda": basic("tilda", "oak:and:water"),
    "timo": cookie("ses_timotimotimotimotimotimo"),
    "berta": basic("berta", "saddles4ever"),
    "bo": cookie("ses_bobobobobobobobobobobobo"),
    "frida": basic("frida", "pit-and-paddle"),
    "frida2": cookie("ses_fridafridafridafridafrid"),
    "fritz": cookie("ses_fritzfritzfritzfritzfrit"),
    None: {},
}
TO = {"name": "Berta", "street": "Rua 1", "city": "Porto", "country": "PT"}


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.headers, self.text = status, headers, text
        try:
            self.json = json.loads(text)
        except ValueError:
            self.json = None

    @property
    def data(self):
        return self.json["data"]

    @property
    def items(self):
        return self.json["items"]

    @property
    def name(self):
        return self.json["error"]["name"]

    def __repr__(self):
        return f"{self.status} {self.headers} {self.text[:300]}"


class Service:
    def __init__(self, fault=None):
        args = ["sh", "run.sh", "--port", "0", "--clock-port", "0"] + (["--fault", fault] if fault else [])
        self.p = subprocess.Popen(args, cwd=HERE, stdout=subprocess.PIPE, text=True)
        self.port, self.clock_port = map(int, re.findall(r":(\d+)", self.p.stdout.readline()))
        self.n, self.conn, self.open, self.count = 0, None, [], 0

    def close(self):
        if self.conn:
            self.conn.close()
        for o in self.open:
            o.close()
        self.p.terminate()
        self.p.wait()

    def send(self, port, m, path, body, headers):
        for again in (1, 0):
            c = self.conn if port == self.port else None
            try:
                c = c or http.client.HTTPConnection("127.0.0.1", port, timeout=20)
                c.request(m, path, body, headers)
                r = c.getresponse()
                a = Answer(r.status, {k.lower(): v for k, v in r.getheaders()}, r.read().decode())
                self.conn = c if port == self.port and not r.will_close else self.conn if port != self.port else None
                return a
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                self.conn = None
                if not again:
                    raise

    def __call__(self, m, path, body=None, who="tilda", raw=None, v="v2", base="/tanhouse/", **headers):
        self.count += 1
        h = {**CRED[who], **{k.replace("_", "-"): x for k, x in headers.items()}}
        if body is not None:
            raw = json.dumps(body).encode()
        if raw is not None:
            h.setdefault("Content-Type", "application/json")
        return self.send(self.port, m, base + v + path, raw, h)

    def clock(self, to=None, **body):
        body = {"advance": to} if to else body
        r = self.send(self.clock_port, "POST" if body else "GET", "/", json.dumps(body) if body else None, {})
        assert r.status == 200, r
        return r.json["now"]

    def made(self, path, body, who, v="v2", **h):
        r = self("POST", path, body, who, v=v, **h)
        assert r.status == 201, r
        return r.data

    def pit(self, **more):
        self.n += 1
        return self.made("/pits", {"code": f"pit-{self.n}", "title": f"Pit {self.n}", "litres": 1000, **more}, "frida")

    def hide(self, who="tilda", v="v2", h={}, **more):
        self.n += 1
        kind = {"kind" if v == "v1" else "species": "cow"}
        return self.made("/hides", {"tag": f"AA-{self.n:04}", "weightKg": 20, **kind, **more}, who, v, **h)

    def do(self, what, body=None, who="tilda", v="v2", **h):
        return self("POST", what, body, who, v=v, **h)

    def ok(self, what, body=None, who="tilda", **h):
        r = self.do(what, body, who, **h)
        assert r.status == 200, r
        return r.data

    def soaked(self, who="tilda", **more):
        return self.ok(f"/hides/{self.hide(who, **more)['id']}/soak", who=who)

    def tanned(self, who="tilda", **more):
        return self.ok(f"/hides/{self.soaked(who, **{'askCents': 5000, **more})['id']}/tan", {"softness": 7}, who)

    def batch(self, who="tilda", hide=None, pit=None, **more):
        return self.made("/batches", {"hide": hide or self.soaked(who)["id"], "pit": pit or self.pit()["code"], "recipe": "slow oak", "days": 5, **more}, who)

    def order(self, who="berta", hide=None, key=None, seller="tilda", **more):
        self.n += 1
        return self.made("/orders", {"hide": hide or self.tanned(seller)["id"], "pieces": 2, "deliverTo": TO, **more}, who, X_Request_Key=key or f"key-{self.n}")

    def get(self, path, who="tilda", v="v2", **h):
        r = self("GET", path, None, who, v=v, **h)
        assert r.status == 200, r
        return r

    def hook(self, who="tilda", v="v2", status=200, **more):
        got = Receiver(status)
        self.open.append(got)
        d = self.made("/hooks", {"callbackUrl": got.url, **more}, who, v)
        got.key, got.id = d["sealKey"], d["id"]
        return got

    def listen(self, who="tilda", v="v2", last=None):
        got = Stream(self.port, f"/tanhouse/{v}/stream", {**CRED[who], **({"Last-Event-ID": last} if last is not None else {})})
        self.open.append(got)
        return got


class Waiting:
    def wait(self, n, seconds=8):
        end = time.time() + seconds
        while len(self.got) < n and time.time() < end:
            time.sleep(0.01)
        assert len(self.got) >= n, f"{len(self.got)} of {n} events"
        return self.got

    def none_more(self, n, seconds=2.5):
        time.sleep(seconds)
        assert len(self.got) == n, [g["topic"] for g in self.got]


class Receiver(Waiting):
    def __init__(self, status):
        self.status, self.got, self.headers, self.bodies = status, [], [], []
        me = self

        class H(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                me.headers.append({k.lower(): v for k, v in self.headers.items()})
                me.bodies.append(body)
                me.got.append(json.loads(body))
                self.send_response(me.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *a):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), H)
        self.url = f"http://127.0.0.1:{self.server.server_port}/in"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def topics(self, n):
        return [g["topic"] for g in self.wait(n)]

    def sealed(self, i=-1):
        m = re.fullmatch(r"at=(\d+);seal=([0-9a-f]{64})", self.headers[i]["tannery-seal"])
        return m and hmac.new(self.key.encode(), m[1].encode() + b":" + self.bodies[i], hashlib.sha256).hexdigest() == m[2] and int(m[1])

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Stream(Waiting):
    def __init__(self, port, path, headers):
        self.got, self.frames = [], []
        self.s = socket.create_connection(("127.0.0.1", port))
        self.s.sendall((f"GET {path} HTTP/1.1\r\nHost: x\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n").encode())
        self.f = self.s.makefile("rb")
        self.status = int(self.f.readline().split()[1])
        while self.f.readline().strip():
            pass
        self.ready = threading.Event()
        threading.Thread(target=self.read, daemon=True).start()
        self.ready.wait(3)

    def read(self):
        frame = {}
        try:
            for line in self.f:
                line = line.decode().rstrip("\r\n")
                if line.startswith(":"):
                    self.ready.set()
                elif ": " in line:
                    k, v = line.split(": ", 1)
                    frame[k] = v
                elif not line and frame.get("data"):
                    self.frames.append(frame)
                    self.got.append(json.loads(frame["data"]))
                    frame = {}
        except (OSError, ValueError):
            pass

    def close(self):
        try:
            self.s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def is_(r, status, name=None):
    """The answer is this, and a refusal has the shape that every refusal has."""
    assert r.status == status, r
    if status >= 400:
        assert set(r.json) == {"error"} and set(r.json["error"]) == {"name", "httpStatus", "text", "spots", "traceId"}, r
        assert r.json["error"]["httpStatus"] == status and r.headers["content-type"] == "application/json", r
    if name:
        assert r.name == name, r
    return r
