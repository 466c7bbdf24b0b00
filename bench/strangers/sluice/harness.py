"""What the tests share: a service in its own process, its callers, and a place where hooks arrive."""
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
SECRET = b"nine-gates-and-one-long-straight-canal"
MIN, HOUR, DAY = 60, 3600, 86400


def b64(b):
    return base64.urlsafe_b64encode(b).rstrip(b"=").decode()


def jwt(secret=SECRET, alg="HS256", **claims):
    c = {"iss": "https://waterways.example", "aud": "sluice", "exp": 4102444800, **claims}
    head = b64(json.dumps({"alg": alg, "typ": "JWT"}, separators=(",", ":")).encode()) + "." + b64(json.dumps(c, separators=(",", ":")).encode())
    return head + "." + (b64(hmac.new(secret, head.encode(), hashlib.sha256).digest()) if alg != "none" else "")


def lockpass(text):
    return {"Authorization": "Lockpass " + text}


def token(*a, **claims):
    return {"Sluice-Token": jwt(*a, **claims)}


# arne, brita, leo and tove are skippers; kaja, mons and ulf keepers, of whom mons has no scope
CRED = {
    "arne": lockpass("lp_aaaaaaaaaaaaaaaaarne"),
    "brita": lockpass("lp_bbbbbbbbbbbbbbbbrita"),
    "leo": lockpass("lp_cccccccccccccccccleo"),
    "kaja": lockpass("lp_ddddddddddddddddkaja"),
    "mons": lockpass("lp_eeeeeeeeeeeeeeeemons"),
    "tove": token(sub="tove", post="skipper"),
    "ulf": token(sub="ulf", post="keeper", scope="sluice"),
    "expired": token(sub="tove", post="skipper", exp=1577836800),
    "forged": token(b"not the secret", sub="tove", post="skipper"),
    "audience": token(sub="tove", post="skipper", aud="canal"),
    "issuer": token(sub="tove", post="skipper", iss="https://other.example"),
    "early": token(sub="tove", post="skipper", nbf=4102444000),
    "none": token(SECRET, "none", sub="tove", post="skipper"),
    "madeup": lockpass("lp_zzzzzzzzzzzzzzzzzzzz"),
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
    def next(self):
        m = re.search(r'<([^>]*)>; rel="next"', self.headers.get("link", ""))
        return m and m[1]

    def __repr__(self):
        return f"{self.status} {self.headers} {self.text[:300]}"


class Service:
    def __init__(self, fault=None):
        args = ["sh", "run.sh", "--port", "0", "--clock-port", "0"] + (["--fault", fault] if fault else [])
        self.p = subprocess.Popen(args, cwd=HERE, stdout=subprocess.PIPE, text=True)
        self.port, self.clock_port = map(int, re.findall(r":(\d+)", self.p.stdout.readline()))
        self.n = 0
        self.conn = None
        self.receivers = []

    def close(self):
        if self.conn:
            self.conn.close()
        self.p.terminate()
        self.p.wait()
        self.p.stdout.close()
        for r in self.receivers:
            r.close()

    def send(self, port, m, path, body, headers):
        if port != self.port:
            c = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        else:
            c = self.conn = self.conn or http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        c.request(m, path, body, headers)
        r = c.getresponse()
        headers = {}
        for k, v in r.getheaders():
            headers[k.lower()] = headers[k.lower()] + ", " + v if k.lower() in headers else v
        a = Answer(r.status, headers, r.read().decode())
        if r.will_close or port != self.port:
            c.close()
            if port == self.port:
                self.conn = None
        return a

    def __call__(self, m, path, body=None, who="arne", raw=None, base="/canal/api", old=False, **headers):
        h = {k.replace("_", "-"): v for k, v in headers.items()}
        for one in who if isinstance(who, tuple) else (who,):
            h.update(CRED[one])
        if old:
            h["Sluice-Edition"] = "spring"
        if body is not None:
            raw = json.dumps(body).encode()
        if raw is not None and "Content-Type" not in h:
            h["Content-Type"] = "application/json"
        return self.send(self.port, m, base + path, raw, {k: v for k, v in h.items() if v is not None})

    def clock(self, seconds=None, **body):
        if seconds is not None:
            body = {"advance": f"PT{seconds}S"}
        r = self.send(self.clock_port, "POST" if body else "GET", "/", json.dumps(body) if body else None, {})
        assert r.status == 200, r
        return r.json["now"]

    def a_barge(self, **more):
        self.n += 1
        return {"plate": f"AB-{self.n:04}", "name": f"Barge {self.n}", "length_cm": 900, "draught_cm": 100, **more}

    def made(self, path, body, who, **more):
        r = self("POST", path, body, who, **more)
        assert r.status == 201, r
        return r.json

    def barge(self, who="arne", **more):
        return self.made("/barges", self.a_barge(**more), who)

    def lock(self, who="kaja", **more):
        self.n += 1
        code = "gate" + "".join(chr(97 + int(c)) for c in str(self.n))
        return self.made("/locks", {"code": code, "title": "Gate", "chamber_cm": 4000, "toll": 300, **more}, who)

    def a_passage(self, who="arne", **more):
        body = {"direction": "up", "crew": 3, "eta": "2027-01-01T10:00:00Z", **more}
        body["barge"] = more.get("barge") or self.barge(who)["id"]
        body["lock"] = more.get("lock") or self.lock()["code"]
        return body

    def passage(self, who="arne", **more):
        return self.made("/passages", self.a_passage(who, **more), who)

    def do(self, p, verb, body=None, who=None, **more):
        who = who or ("kaja" if verb in ("admit", "pass", "refloat") else "arne")
        return self("POST", f"/passages/{p['id']}/{verb}", body, who, **more)

    def brought(self, state, who="arne", **more):
        """A passage in that state."""
        p = self.passage(who, **more)
        steps = {
            "booked": [], "waiting": ["arrive"], "chamber": ["arrive", "admit"], "through": ["arrive", "admit", 200],
            "aground": ["arrive", "admit", 10], "cancelled": ["cancel"],
        }[state]
        for step in steps:
            keeper = "kaja" if step != "arrive" and step != "cancel" else who
            r = self.do(p, "pass", {"water_cm": step}, keeper) if isinstance(step, int) else self.do(p, step, who=keeper)
            assert r.status == 200, r
        return p

    def status(self, p, who="kaja"):
        return self("GET", f"/passages/{p['id']}", who=who).json["status"]

    def hook(self, who="arne", status=204, old=False, **more):
        got = Receiver(status)
        self.receivers.append(got)
        r = self("POST", "/hooks", {"target": got.url, **more}, who, old=old)
        assert r.status == 201, r
        got.secret, got.id = r.json["secret"], r.json["id"]
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
        self.url = f"http://127.0.0.1:{self.server.server_port}/heard"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def wait(self, n, seconds=2.5):
        end = time.time() + seconds
        while len(self.got) < n and time.time() < end:
            time.sleep(0.01)
        return self.got

    def kinds(self, n, seconds=2.5):
        return [g[2]["topic"] for g in self.wait(n, seconds)]

    def none_more(self, n, seconds=0.4):
        time.sleep(seconds)
        assert len(self.got) == n, [g[2]["topic"] for g in self.got]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def signed(got, i=0):
    """Whether the signature of a try is right."""
    headers, body, _ = got.got[i]
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    mac = base64.b64encode(hmac.new(base64.b64decode(got.secret[6:]), text, hashlib.sha256).digest()).decode()
    return headers["webhook-signature"] == "v1," + mac


def is_(r, status, word=None):
    assert r.status == status, r
    if status >= 400:
        assert set(r.json) == {"fault", "http", "text", "where"} and r.json["http"] == status and r.json["text"], r
        assert all(set(w) == {"at"} for w in r.json["where"]), r
        assert r.headers["content-type"] == "application/json", r
    if word:
        assert r.json["fault"] == word, r
    return r


def places(r):
    return [w["at"] for w in r.json["where"]]
