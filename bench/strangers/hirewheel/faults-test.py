"""Starts the service with each fault, and without any, and shows that one probe tells them apart.

python3 faults-test.py [ID...]   A probe returns true where the service does what its document states.
"""
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

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
STRANGER = json.load(open(os.path.join(HERE, "stranger.json")))
WHO = {c["id"]: c for c in STRANGER["callers"]}
OLD, NEW = "2025-09-01", "2026-03-01"
HOME = "sta_01JD00000000000000000000A1"
PROBES = {}


def probe(fault):
    def keep(fn):
        PROBES[fault] = fn
        return fn
    return keep


def free():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    n = s.getsockname()[1]
    s.close()
    return n


class R:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.raw = status, {k.lower(): v for k, v in headers}, body
        try:
            self.json = json.loads(body)
        except ValueError:
            self.json = None

    def __getitem__(self, k):
        return self.json[k]

    def get(self, k, d=None):
        return self.json.get(k, d) if isinstance(self.json, dict) else d

    @property
    def code(self):
        return self.get("code")

    @property
    def ids(self):
        return [x["id"] for x in self.json["data"]]


class Service:
    base = "/v1"

    def __init__(self, fault=None):
        self.port, self.clock = free(), free()
        cmd = [sys.executable, "-B", os.path.join(HERE, "service.py"), "--port", str(self.port), "--clock-port", str(self.clock)]
        self.p = subprocess.Popen(cmd + (["--fault", fault] if fault else []), stdout=subprocess.PIPE, cwd=HERE)
        self.p.stdout.readline()
        self.c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=15)
        self.n = 0

    def stop(self):
        self.c.close()
        self.p.terminate()
        self.p.wait()
        self.p.stdout.close()

    def auth(self, who, method, target, body, t=None):
        c = WHO[who]
        if c["scheme"] == "key":
            return {"X-Wheel-Key": c["credential"]}
        if c["scheme"] == "login":
            return {"Authorization": "Basic " + base64.b64encode(c["credential"].encode()).decode()}
        name, secret = c["credential"].split(":")
        t = str(t or int(time.time()))
        sig = hmac.new(secret.encode(), ("%s\n%s\n%s\n" % (method, target, t)).encode() + body, hashlib.sha256).hexdigest()
        return {"X-Wheel-Signer": name, "X-Wheel-Signature": "t=%s,v1=%s" % (t, sig)}

    def __call__(self, who, method, path, body=None, t=None, raw=None, **headers):
        target = path if raw else self.base + path
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        h = self.auth(who, method, target, data, t) if who else {}
        if body is not None:
            h["Content-Type"] = "application/json"
        h.update({k.replace("_", "-"): v for k, v in headers.items()})
        self.c.request(method, target, data or None, h)
        a = self.c.getresponse()
        return R(a.status, a.getheaders(), a.read())

    def move(self, duration):
        c = http.client.HTTPConnection("127.0.0.1", self.clock, timeout=10)
        c.request("POST", "/", json.dumps({"advance": duration}))
        c.getresponse().read()
        c.close()

    # ---- what is needed over and over ----
    def station(self, who="frank", opened=True, **k):
        self.n += 1
        b = {"code": "TST-%03d" % self.n, "name": "Stand %d" % self.n, "district": "north", "capacity": 5}
        b.update(k)
        r = self(who, "POST", "/stations", b)
        assert r.status == 201, r.raw
        if opened:
            self(who, "POST", "/stations/%s/open" % r["id"])
        return r.json

    def bike(self, **k):
        self.n += 1
        b = {"frame": "FRAME%03d" % self.n, "kind": "city", "station": HOME, "depot": "east"}
        b.update(k)
        r = self("frank", "POST", "/bicycles", b)
        assert r.status == 201, r.raw
        return r.json

    def profile(self, who="anna", **k):
        b = {"name": who, "email": who + "@example.org"}
        b.update(k)
        return self(who, "POST", "/profiles", b)

    def hire(self, who="anna", bike=None, **k):
        self.profile(who)
        return self(who, "POST", "/hires", dict({"bicycle": bike or self.bike()["id"]}, **k))

    def ride(self, who="anna", bike=None):
        h = self.hire(who, bike)
        self(who, "POST", "/hires/%s/start" % h["id"])
        return h.json

    def back(self, who, h, to=HOME):
        return self(who, "POST", "/hires/%s/return" % h["id"], {"destination": to})

    def report(self, who="anna", bike=None, **k):
        return self(who, "POST", "/bicycles/%s/reports" % (bike or self.bike()["id"]), dict({"text": "it squeaks"}, **k))

    def entries(self, **k):
        q = "&".join("%s=%s" % x for x in k.items())
        return self("frank", "GET", "/entries?per_page=50" + ("&" + q if q else "")).json["entries"]


class Ear:
    """A receiver of deliveries; `answers` are the statuses it gives, the last one for ever."""

    def __init__(self, *answers):
        ear, self.got, self.answers = self, [], list(answers) or [204]

        class H(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                ear.got.append(({k.lower(): v for k, v in self.headers.items()}, body))
                self.send_response(ear.answers.pop(0) if len(ear.answers) > 1 else ear.answers[0])
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *a):
                pass
        self.s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
        threading.Thread(target=self.s.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d/in" % self.s.server_address[1]

    def wait(self, n, s=1.0):
        end = time.time() + s
        while len(self.got) < n and time.time() < end:
            time.sleep(0.01)
        return len(self.got)

    def kinds(self):
        return [h["x-wheel-event"] for h, _ in self.got]

    def stop(self):
        self.s.shutdown()
        self.s.server_close()


def main():
    import importlib.util
    spec = importlib.util.spec_from_file_location("probes", os.path.join(HERE, "probes.py"))
    mod = importlib.util.module_from_spec(spec)
    mod.__dict__.update({k: v for k, v in globals().items() if not k.startswith("__")})
    spec.loader.exec_module(mod)
    wrong = 0
    faults = [f["id"] for f in STRANGER["faults"]]
    for ident in sys.argv[1:] or faults:
        if ident not in PROBES:
            print("no probe:", ident)
            wrong += 1
            continue
        told = []
        for fault in (None, ident):
            s = Service(fault)
            try:
                told.append(bool(PROBES[ident](s)))
            except Exception as e:
                told.append("%s: %s" % (type(e).__name__, e))
            finally:
                s.stop()
        if told[0] is not True or told[1] is True:
            wrong += 1
            print("FAILS", ident, told)
        elif told[1] is not False:
            print("note ", ident, told)
    print("%d faults, %d probes that fail" % (len(faults), wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
