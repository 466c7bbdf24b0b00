"""What the proofs share: the service in a process of its own, its callers, and a quay where hooks arrive."""
import base64
import hashlib
import hmac
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = os.path.dirname(os.path.abspath(__file__))


def b64(b):
    return base64.urlsafe_b64encode(b).rstrip(b"=").decode()


def token(sub, trade, scope=None, secret=b"herring-under-the-ice", alg="HS256", **more):
    c = {"iss": "https://id.skerry.example", "aud": "fish-hall", "exp": 4102444800, "sub": sub, "trade": trade, **({"scope": scope} if scope else {}), **more}
    head = ".".join(b64(json.dumps(x, separators=(",", ":")).encode()) for x in ({"alg": alg, "typ": "JWT"}, c))
    return head + "." + b64(hmac.new(secret, head.encode(), hashlib.sha256).digest())


def bearer(t):
    return {"Authorization": "Bearer " + t}


CRED = {
    "anna": {"Hall-Badge": "bdg_annaannaannaannaanna"}, "bo": {"Hall-Badge": "bdg_bobobobobobobobobobo"},
    "dee": {"Hall-Badge": "bdg_deedeedeedeedeedeede"}, "eli": {"Hall-Badge": "bdg_elielielielielieliel"},
    "gus": {"Hall-Badge": "bdg_gusgusgusgusgusgusgu"}, "cal": bearer(token("cal", "skipper")), "fay": bearer(token("fay", "buyer")),
    "hal": bearer(token("hal", "auctioneer")), "anna2": bearer(token("anna", "skipper")), "bo2": bearer(token("bo", "skipper")),
    "gus2": bearer(token("gus", "auctioneer", "gavel inspect")), None: {},
}


class Answer:
    def __init__(self, status, headers, text):
        self.status, self.pairs = status, headers
        self.h = {k.lower(): v for k, v in headers}
        self.json = json.loads(text) if text else None

    def __repr__(self):
        return f"{self.status} {json.dumps(self.json)[:300]}"


class Hall:
    def __init__(self, fault=None):
        args = [sys.executable, "service.py"] + (["--fault", fault] if fault else [])
        self.p = subprocess.Popen(args, cwd=HERE, stdout=subprocess.PIPE, text=True)
        line = self.p.stdout.readline().split()
        self.port, self.door = (int(x.rsplit(":", 1)[1]) for x in (line[0], line[2]))
        self.n, self.c, self.quays = 0, None, []

    def close(self):
        self.p.kill()
        self.p.wait()
        self.p.stdout.close()
        for q in self.quays:
            q.server.shutdown()
            q.server.server_close()

    def __call__(self, method, path, body=None, who="anna", raw=None, base="/auction", ed=None, **headers):
        h = {k.replace("_", "-"): v for k, v in headers.items()} | CRED[who]
        if ed:
            h["Hall-Edition"] = ed
        if body is not None:
            raw = json.dumps(body).encode()
        if raw is not None and "Content-Type" not in h:
            h["Content-Type"] = "application/json"
        h = {k: v for k, v in h.items() if v is not None}
        self.c = self.c or http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        self.c.request(method, base + path, raw, h)
        r = self.c.getresponse()
        return Answer(r.status, r.getheaders(), r.read().decode())

    def ok(self, *a, status=200, **k):
        r = self(*a, **k)
        assert r.status == status, r
        return r.json

    def no(self, status, word, *a, **k):
        """A refusal: its status, its word in both places, and its whole form."""
        r = self(*a, **k)
        assert r.status == status, r
        assert r.json["refused"]["word"] == word, r
        assert r.json["refused"]["status"] == status, r
        assert sorted(r.json) == ["refused", "where"], r
        return r

    def places(self, *a, **k):
        return [w["at"] for w in self(*a, **k).json["where"]]

    def clock(self, advance=None, at=None):
        c = http.client.HTTPConnection("127.0.0.1", self.door, timeout=60)
        said = {"advance": advance} if advance else {"now": at} if at else None
        c.request("POST" if said else "GET", "/", json.dumps(said) if said else None)
        got = json.loads(c.getresponse().read())["now"]
        c.close()
        return got

    # ---- things
    def vessel(self, who="anna", **more):
        self.n += 1
        return self.ok("POST", "/vessels", {"reg": f"SK{self.n}", "name": f"Vessel {self.n}", **more}, who, status=201)["reg"]

    def lot_body(self, vessel, **more):
        return {"vessel": vessel, "species": "cod", "asking": 100, "crates": [{"net_g": 2000}], **more}

    def lot(self, vessel=None, who="anna", ed=None, **more):
        return self.ok("POST", "/lots", self.lot_body(vessel or self.vessel(who), **more), who, status=201, ed=ed)["id"]

    def do(self, key, *verbs, who="gus", kind="lots", status=200):
        for v in verbs:
            got = self.ok("POST", f"/{kind}/{key}/{v}", who=who, status=status)
        return got

    def up(self, vessel=None, **more):
        key = self.lot(vessel, **more)
        self.do(key, "clear", "catalogue", "offer")
        return key

    def bid(self, lot, pence, who="dee", status=201, **k):
        return self.ok("POST", f"/lots/{lot}/bids", {"pence": pence}, who, status=status, **k)

    def sold(self, pence=150, who="dee", **more):
        key = self.up(**more)
        self.bid(key, pence, who)
        self.do(key, "knock")
        return key

    def invoice(self, pence=150, who="dee", **more):
        key = self.sold(pence, who, **more)
        return next(i for i in self.ok("GET", "/invoices?take=20", who="gus")["invoices"] if i["lot"] == key)

    def pay(self, key, pence, who="dee", once=None, **k):
        self.n += 1
        return self("POST", f"/invoices/{key}/pay", {"pence": pence}, who, Once=once or f"pay-{self.n}", **k)

    def read(self, key, who="anna", query="", **k):
        return self.ok("GET", f"/lots/{key}{query}", who=who, **k)

    def tag(self, path, who="anna", **k):
        return self("GET", path, who=who, **k).h["etag"]

    def patch(self, key, body, who="anna", ed=None, **h):
        h.setdefault("If_Match", self.tag(f"/lots/{key}", who, ed=ed))
        return self("PATCH", f"/lots/{key}", body, who, ed=ed, **h)

    def crew(self, vessel, person, role=None, who="anna"):
        return self("POST", f"/vessels/{vessel}/crew", {"person": person, **({"role": role} if role else {})}, who)

    def hook(self, who="anna", answers=(), ed=None, **more):
        q = Quay(answers)
        self.quays.append(q)
        h = self.ok("POST", "/hooks", {"url": q.url, **more}, who, status=201, ed=ed)
        q.id, q.secret = h["id"], h["secret"]
        return q


class Quay:
    """Where hooks arrive: it answers what it is told to, then 204."""

    def __init__(self, answers=()):
        self.got, plan, me = [], list(answers), self

        class Hears(BaseHTTPRequestHandler):
            def do_POST(self):
                text = self.rfile.read(int(self.headers["Content-Length"]))
                me.got.append(({k.lower(): v for k, v in self.headers.items()}, text, json.loads(text)))
                status = plan.pop(0) if plan else 204
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", me.url)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def do_GET(self):
                self.send_response(204)
                self.end_headers()

            def log_message(self, *a):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Hears)
        self.url = f"http://127.0.0.1:{self.server.server_port}/quay"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def wait(self, n, seconds=2.0):
        end = time.time() + seconds
        while len(self.got) < n and time.time() < end:
            time.sleep(0.01)
        assert len(self.got) >= n, self.words()
        return [g[2] for g in self.got]

    def words(self):
        return [g[2]["word"] for g in self.got]

    def fish(self, n, seconds=2.0):
        return [g["fish"] for g in self.wait(n, seconds)]

    def only(self, *words, seconds=0.25):
        """These, in any order of rows, and after a while nothing more."""
        end = time.time() + 2
        while len(self.got) < len(words) and time.time() < end:
            time.sleep(0.01)
        time.sleep(seconds)
        assert sorted(self.words()) == sorted(words), self.words()
