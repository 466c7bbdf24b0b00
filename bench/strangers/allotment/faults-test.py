"""Starts the service right, and with each fault, and shows that the right one does it right and that the fault is seen.

    python3 faults-test.py [FAULT ...]
"""
import base64, hashlib, hmac, http.client, http.server, json, os, re, subprocess, sys, threading, time, datetime

HERE = os.path.dirname(os.path.abspath(__file__))
PORT, CLOCK, RECEIVER = 20210, 20211, 20212
BOOK = json.load(open(os.path.join(HERE, "stranger.json")))
AUTH = {}
for c in BOOK["callers"]:
    AUTH.setdefault(c["id"], ("Basic " + base64.b64encode(c["credential"].encode()).decode()) if c["scheme"] == "login" else "Bearer " + c["credential"])
    if c["scheme"] == "session":
        AUTH[c["id"] + "/session"] = "Bearer " + c["credential"]


class R:
    def __init__(self, r):
        self.status = r.status
        self.headers = r.headers
        raw = r.read()
        self.body = json.loads(raw) if raw else None

    @property
    def code(self):
        return self.body["error"]["code"] if self.body and "error" in self.body else None

    @property
    def fields(self):
        return self.body["error"]["fields"]


class Service:
    def __init__(self, fault):
        cmd = BOOK["command"] + ["--port", str(PORT), "--clock-port", str(CLOCK)] + (["--fault", fault] if fault else [])
        self.process = subprocess.Popen(cmd, cwd=HERE, stdout=subprocess.PIPE, stderr=sys.stderr)
        self.process.stdout.readline()
        self.c = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
        self.k = http.client.HTTPConnection("127.0.0.1", CLOCK, timeout=10)
        self.n = 0

    def stop(self):
        self.c.close()
        self.k.close()
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def __call__(self, who, method, path, body=None, edition=None, base="/api", auth=None, **headers):
        h = {k.replace("_", "-"): v for k, v in headers.items()}
        if who:
            h["Authorization"] = auth or AUTH[who]
        if edition:
            h["Gardens-Edition"] = edition
        data = None
        if body is not None:
            data = json.dumps(body).encode() if not isinstance(body, bytes) else body
            h.setdefault("Content-Type", "application/json")
        self.c.request(method, base + path, data, h)
        r = R(self.c.getresponse())
        assert r.status != 500, (method, path, r.body)
        return r

    def clock(self, **move):
        self.k.request("POST", "/", json.dumps(move).encode())
        r = R(self.k.getresponse())
        assert r.status == 200, r.body
        return r.body["now"]

    def now(self):
        self.k.request("GET", "/")
        return datetime.datetime.fromisoformat(R(self.k.getresponse()).body["now"].replace("Z", "+00:00"))

    def at(self, **later):
        return (self.now() + datetime.timedelta(**later)).strftime("%Y-%m-%dT%H:%M:%SZ")

    # what the trials need
    def plot(self, who="wilma", edition=None, **more):
        self.n += 1
        row = "lane" if edition in ("2024-10", "2025-09") else "row"
        b = {"name": f"Plot {self.n}", "spot": {row: "A", "nr": self.n % 90 + 1}, "area_m2": 100, "soil": "clay", **more}
        r = self(who, "POST", "/plots", b, edition)
        assert r.status == 201, r.body
        return r.body

    def let(self, tenant="anneke", who="wilma", **more):
        p = self.plot(who, **more)
        r = self(who, "POST", f"/plots/{p['id']}/assign", {"tenant": tenant})
        assert r.status == 200, r.body
        return r.body

    def apply(self, who="anneke", **more):
        r = self(who, "POST", "/applications", more)
        assert r.status == 201, r.body
        return r.body

    def offered(self, who="anneke", plot=None):
        p = plot or self.plot()
        a = self.apply(who)
        r = self("wilma", "POST", f"/applications/{a['id']}/offer", {"plot": p["id"]})
        assert r.status == 200, r.body
        return p, r.body

    def turn(self, plot, who="anneke", **more):
        b = {"starts_at": self.at(hours=3), **more}
        r = self(who, "POST", f"/plots/{plot['id']}/turns", b)
        assert r.status == 201, r.body
        return r.body

    def inspect(self, plot, who="wilma", **more):
        r = self(who, "POST", "/inspections", {"plot": plot["id"], "grade": "poor", **more})
        assert r.status == 201, r.body
        return r.body

    def hook(self, who, edition=None, path="/", **more):
        r = self(who, "POST", "/hooks", {"target": f"http://127.0.0.1:{RECEIVER}{path}", **more}, edition)
        assert r.status == 201, r.body
        return r.body

    def tag(self, who, path, edition=None):
        r = self(who, "GET", path, edition=edition)
        return r.headers["ETag"]

    def put(self, who, path, body, edition=None):
        return self(who, "PUT", path, body, edition, If_Match=self.tag(who, path, edition))


GOT, FAIL = [], set()


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        GOT.append((self.path, self.headers, body))
        self.send_response(500 if self.path in FAIL else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *a):
        pass


def heard(n=1, wait=1.5):
    end = time.time() + wait
    while len(GOT) < n and time.time() < end:
        time.sleep(0.01)
    time.sleep(0.08)
    return [json.loads(b) for _, _, b in GOT]


TRIALS = {}


def trial(name):
    def put(f):
        TRIALS[name] = f
        return f
    return put


def spot(**more):
    return {"name": "Corner", "spot": {"row": "B", "nr": 2}, "area_m2": 120, "soil": "loam", **more}


# ---- purpose
@trial("root-answers-too")
def _(s): return s("wilma", "GET", "/plots", base="").status == 404

@trial("location-without-base")
def _(s):
    r = s("wilma", "POST", "/plots", spot())
    return r.headers["Location"] == "/api/plots/" + r.body["id"]

@trial("close-route-lost")
def _(s): return s("wilma", "POST", f"/plots/{s.plot()['id']}/close").status == 200

@trial("warden-without-hooks")
def _(s): return s("wilma", "POST", "/hooks", {"target": f"http://127.0.0.1:{RECEIVER}/"}).status == 201

@trial("session-always-gardener")
def _(s):
    token = s("wilma", "POST", "/sessions").body["token"]
    return s("wilma", "POST", "/plots", spot(), auth="Bearer " + token).status == 201

# ---- resources
@trial("area-600-refused")
def _(s): return s("wilma", "POST", "/plots", spot(area_m2=600)).status == 201 and s("wilma", "POST", "/plots", spot(name="Q2", area_m2=601)).code == "unfit"

@trial("minutes-not-multiple")
def _(s): return s("anneke", "POST", f"/plots/{s.let()['id']}/turns", {"starts_at": s.at(hours=3), "minutes": 20}).code == "unfit"

@trial("ticket-over-all")
def _(s): return s.apply("anneke")["ticket"] == 1 and s.apply("cornelis")["ticket"] == 1 and s.apply("bram")["ticket"] == 2

@trial("secret-shown-again")
def _(s):
    h = s.hook("anneke")
    return re.fullmatch(r"gsk_[A-Za-z0-9]{32}", h["secret"]) and "secret" not in s("anneke", "GET", "/hooks/" + h["id"]).body

@trial("internal-shown")
def _(s):
    i = s.inspect(s.let(), internal="drinks")
    s("wilma", "POST", f"/inspections/{i['id']}/issue")
    r = s("anneke", "GET", "/inspections/" + i["id"])
    return r.status == 200 and "internal" not in r.body and s("wilma", "GET", "/inspections/" + i["id"]).body["internal"] == "drinks"

@trial("wish-left-behind")
def _(s):
    p = s.plot()
    a = s.apply(wish=p["id"])
    assert a["wish"] == p["id"]
    return s("wilma", "DELETE", "/plots/" + p["id"]).status == 204 and "wish" not in s("anneke", "GET", "/applications/" + a["id"]).body

@trial("cancelled-still-ahead")
def _(s):
    p = s.let()
    t = s.turn(p)
    assert s("anneke", "GET", "/plots/" + p["id"]).body["turns_ahead"] == 1
    s("anneke", "POST", f"/turns/{t['id']}/cancel")
    return s("anneke", "GET", "/plots/" + p["id"]).body["turns_ahead"] == 0

@trial("replace-skips-fine-rule")
def _(s):
    i = s.inspect(s.plot())
    r = s.put("wilma", "/inspections/" + i["id"], {"grade": "good", "fine_cents": 100})
    return r.code == "unfit" and r.fields == ["fine_cents"]

# ---- states
@trial("lapse-counted-from-making")
def _(s):
    a = s.apply()
    s.clock(advance="P10D")
    s("wilma", "POST", f"/applications/{a['id']}/offer", {"plot": s.plot()["id"]})
    s.clock(advance="P13DT23H")
    r = s("anneke", "GET", "/applications/" + a["id"]).body["status"]
    s.clock(advance="PT2H")
    b = s("anneke", "GET", "/applications/" + a["id"]).body
    return r == "offered" and b["status"] == "waiting" and "offered" not in b

@trial("appealed-rests-too")
def _(s):
    i = s.inspect(s.let())
    s("wilma", "POST", f"/inspections/{i['id']}/issue")
    s("anneke", "POST", f"/inspections/{i['id']}/appeal", {"plea": "It rained."})
    s.clock(advance="P31D")
    return s("wilma", "GET", "/inspections/" + i["id"]).body["status"] == "appealed"

@trial("running-turn-missed")
def _(s):
    t = s.turn(s.let(), starts_at=s.at(minutes=10))
    assert s("anneke", "POST", f"/turns/{t['id']}/open").status == 200
    s.clock(advance="PT75M")
    a = s("anneke", "GET", "/turns/" + t["id"]).body["status"]
    s.clock(advance="PT50M")
    return a == "running" and s("anneke", "GET", "/turns/" + t["id"]).body["status"] == "done"

@trial("let-plot-closed")
def _(s): return s("wilma", "POST", f"/plots/{s.let()['id']}/close").code == "not_now"

@trial("award-without-tenant")
def _(s):
    p, a = s.offered()
    assert s("anneke", "POST", f"/applications/{a['id']}/accept").body["status"] == "accepted"
    b = s("anneke", "GET", "/plots/" + p["id"]).body
    return b["status"] == "let" and b.get("tenant") == "anneke"

@trial("offered-not-withdrawn")
def _(s):
    p, a = s.offered()
    r = s("anneke", "POST", f"/applications/{a['id']}/withdraw")
    return r.status == 200 and s("anneke", "POST", f"/applications/{a['id']}/withdraw").code == "application_over"

@trial("opened-an-hour-before")
def _(s):
    t = s.turn(s.let(), starts_at=s.at(minutes=40))
    a = s("anneke", "POST", f"/turns/{t['id']}/open")
    s.clock(advance="PT26M")
    return a.code == "too_early" and s("anneke", "POST", f"/turns/{t['id']}/open").status == 200

# ---- endpoints
@trial("remark-stays")
def _(s):
    p = s.plot(remark="shady")
    return "remark" not in s.put("wilma", "/plots/" + p["id"], spot()).body

@trial("first-status-alone")
def _(s):
    s.plot(), s.let()
    return s("wilma", "GET", "/plots?status=vacant,let").body["total"] == 2

@trial("area-sorted-as-text")
def _(s):
    for a in (90, 100, 500): s.plot(area_m2=a)
    return [r["area_m2"] for r in s("wilma", "GET", "/plots?sort=-area_m2").body["rows"]] == [500, 100, 90]

@trial("turns-of-all-plots")
def _(s):
    p, q = s.let(), s.let()
    s.turn(p)
    return s("anneke", "GET", f"/plots/{q['id']}/turns").body["total"] == 0 and s("anneke", "GET", f"/plots/{p['id']}/turns").body["total"] == 1

@trial("replace-without-tag")
def _(s): return s("wilma", "PUT", "/plots/" + s.plot()["id"], spot()).status == 428

@trial("let-plot-deleted")
def _(s): return s("wilma", "DELETE", "/plots/" + s.let()["id"]).code == "not_now"

@trial("tag-of-time-alone")
def _(s):
    p = s.let()
    a = s.tag("wilma", "/plots/" + p["id"])
    s.turn(p)
    return s.tag("wilma", "/plots/" + p["id"]) != a and s("wilma", "PUT", "/plots/" + p["id"], spot(), If_Match=a).status == 412

@trial("key-of-everybody")
def _(s):
    a = s("anneke", "POST", "/applications", {}, Once_Key="k1")
    b = s("bram", "POST", "/applications", {}, Once_Key="k1")
    c = s("anneke", "POST", "/applications", {}, Once_Key="k1")
    return a.status == b.status == c.status == 201 and b.body["applicant"] == "bram" and c.body == a.body and s("anneke", "POST", "/applications", {"household": 2}, Once_Key="k1").code == "key_reused"

# ---- authentication
@trial("read-any-district")
def _(s): return s("yvonne", "GET", "/plots/" + s.plot()["id"]).status == 404

@trial("drafts-listed")
def _(s):
    s.inspect(s.let())
    return s("anneke", "GET", "/inspections").body["total"] == 0

@trial("any-warden-replaces")
def _(s):
    i = s.inspect(s.plot())
    return s.put("xander", "/inspections/" + i["id"], {"grade": "fair"}).code == "not_yours"

@trial("gardener-sets-priority")
def _(s):
    a = s("anneke", "POST", "/applications", {"priority": 9}).body
    assert a["priority"] == 0
    b = s("anneke", "PATCH", "/applications/" + a["id"], {"priority": 9, "household": 3})
    c = s("wilma", "PATCH", "/applications/" + a["id"], {"priority": 4})
    return b.body["priority"] == 0 and b.body["household"] == 3 and c.body["priority"] == 4

@trial("turn-for-any-let-plot")
def _(s): return s("bram", "POST", f"/plots/{s.let('anneke')['id']}/turns", {"starts_at": s.at(hours=2)}).code == "not_yours"

@trial("password-eight-letters")
def _(s):
    return s("anneke", "GET", "/plots", auth="Basic " + base64.b64encode(b"anneke:marigold-nine").decode()).code == "bad_credentials"

@trial("session-never-ends")
def _(s):
    assert s("anneke", "GET", "/plots", auth=AUTH["anneke/session"]).status == 200
    s.clock(now="2027-07-01T00:01:00Z")
    return s("anneke", "GET", "/plots", auth=AUTH["anneke/session"]).code == "session_over"

# ---- events
@trial("event-tells-internal")
def _(s):
    i = s.inspect(s.let(), internal="drinks")
    s.hook("anneke")
    s.hook("wilma", path="/w")
    s("wilma", "POST", f"/inspections/{i['id']}/issue")
    heard(2)
    told = {p: json.loads(b)["about"] for p, _, b in GOT}
    return "internal" not in told["/"] and told["/w"]["internal"] == "drinks"

@trial("offered-told-to-readers")
def _(s):
    s.hook("anneke", topics=["application.offered"])
    s.hook("wilma", path="/w", topics=["application.*"])
    s.offered()
    heard(2, 0.4)
    return [p for p, _, _ in GOT] == ["/"]

@trial("retry-keeps-old-seal")
def _(s):
    h = s.hook("wilma", path="/down")
    FAIL.add("/down")
    s.let()
    heard(1)
    s.clock(advance="PT13S")
    heard(2)
    assert len(GOT) == 2, GOT
    for _, head, body in GOT:
        m = re.fullmatch(r"at=(\d+),seal=([0-9a-f]{64})", head["Gardens-Seal"])
        ident = json.loads(body)["delivery"]
        assert head["Gardens-Delivery"] == ident and head["Gardens-Event"] == "plot.let"
        if hmac.new(h["secret"].encode(), f"{m.group(1)}.{ident}.".encode() + body, hashlib.sha256).hexdigest() != m.group(2):
            return False
    return GOT[0][2] == GOT[1][2] and GOT[0][1]["Gardens-Seal"] != GOT[1][1]["Gardens-Seal"]

@trial("missed-tells-all")
def _(s):
    s.hook("anneke", topics=["turn.missed"])
    t = s.turn(s.let())
    s.clock(advance="PT5H")
    return [e["about"] for e in heard()] == [t["id"]]

@trial("stop-tells-nobody")
def _(s):
    s.hook("anneke", topics=["turn.over"])
    t = s.turn(s.let(), starts_at=s.at(minutes=10))
    s("anneke", "POST", f"/turns/{t['id']}/open")
    s.clock(advance="PT3H")
    return [(e["kind"], e["about"]["status"]) for e in heard(1, 0.5)] == [("turn.over", "done")]

@trial("resized-always")
def _(s):
    p = s.plot()
    s.hook("wilma", topics=["plot.resized"])
    s.put("wilma", "/plots/" + p["id"], {**spot(), "area_m2": 100})
    s.put("wilma", "/plots/" + p["id"], {**spot(), "area_m2": 200})
    return [e["about"] for e in heard(2, 0.4)] == [{"plot": p["id"], "was": 100, "is": 200}]

# ---- errors
@trial("nested-place-is-bare")
def _(s): return s("wilma", "POST", "/plots", spot(spot={"row": "abc", "nr": 1})).fields == ["spot.row"]

@trial("charset-refused")
def _(s): return s("wilma", "POST", "/plots", spot(), Content_Type="application/json; charset=utf-8").status == 201 and s("wilma", "POST", "/plots", spot(name="Z2"), Content_Type="text/plain").status == 415

@trial("foreign-plot-forbidden")
def _(s): return s("yvonne", "PUT", "/plots/" + s.plot()["id"], spot(), If_Match="*").code == "no_such_thing"

@trial("plot-gone-unnamed")
def _(s):
    p, a = s.offered()
    s("wilma", "POST", f"/plots/{p['id']}/assign", {"tenant": "bram"})
    r = s("anneke", "POST", f"/applications/{a['id']}/accept")
    return r.code == "plot_gone" and s("anneke", "GET", "/applications/" + a["id"]).body["status"] == "offered"

@trial("offered-not-held")
def _(s):
    p, a = s.offered()
    s("anneke", "POST", f"/applications/{a['id']}/withdraw")
    return s("wilma", "DELETE", "/plots/" + p["id"]).code == "still_in_use"

@trial("past-compared-as-text")
def _(s):
    p = s.let()
    early = (s.now() - datetime.timedelta(hours=1)).astimezone(datetime.timezone(datetime.timedelta(hours=5))).isoformat(timespec="seconds")
    late = (s.now() + datetime.timedelta(hours=1)).astimezone(datetime.timezone(datetime.timedelta(hours=-5))).isoformat(timespec="seconds")
    return s("anneke", "POST", f"/plots/{p['id']}/turns", {"starts_at": early}).code == "turn_past" and s("anneke", "POST", f"/plots/{p['id']}/turns", {"starts_at": late}).status == 201

# ---- limits
def book(s, p, n, who="anneke"):
    out = []
    for i in range(n):
        r = s(who, "POST", f"/plots/{p['id']}/turns", {"starts_at": s.at(hours=2, minutes=i)})
        out.append(r.status if r.status == 201 else r.code)
    return out

@trial("quota-counts-refusals")
def _(s):
    p = s.let()
    for i in range(3): s("anneke", "POST", f"/plots/{p['id']}/turns", {})
    return book(s, p, 13) == [201] * 12 + ["month_used_up"]

@trial("quota-month-in-utc")
def _(s):
    s.clock(now="2027-01-31T22:30:00Z")
    p = s.let()
    assert book(s, p, 13) == [201] * 12 + ["month_used_up"]
    s.clock(now="2027-01-31T23:01:00Z")
    return book(s, s.let(), 1) == [201]

@trial("list-plot-costs-one")
def _(s):
    a = int(s("wilma", "GET", "/applications").headers["Gardens-Rate-Left"])
    return int(s("wilma", "GET", "/plots").headers["Gardens-Rate-Left"]) == a - 2 == 297

@trial("not-modified-counts")
def _(s):
    p = s.plot()
    r = s("wilma", "GET", "/plots/" + p["id"])
    q = s("wilma", "GET", "/plots/" + p["id"], If_None_Match=r.headers["ETag"])
    return q.status == 304 and q.headers["Gardens-Rate-Left"] == r.headers["Gardens-Rate-Left"]

@trial("hook-place-not-freed")
def _(s):
    hs = [s.hook("anneke") for _ in range(4)]
    assert s("anneke", "POST", "/hooks", {"target": "http://127.0.0.1:9/"}).code == "too_many_hooks"
    s("anneke", "DELETE", "/hooks/" + hs[0]["id"])
    return s("anneke", "POST", "/hooks", {"target": "http://127.0.0.1:9/"}).status == 201

@trial("total-counts-hidden")
def _(s):
    s.plot("wilma"), s.plot("yvonne")
    r = s("wilma", "GET", "/plots").body
    return r["total"] == 1 and len(r["rows"]) == 1 and r["more"] is False

# ---- versioning
@trial("fine-truncated")
def _(s):
    p = s.plot()
    r = s("wilma", "POST", "/inspections", {"plot": p["id"], "grade": "poor", "fine_cents": 19.99}, "2024-10")
    return r.body["fine_cents"] == 19.99 and s("wilma", "GET", "/inspections/" + r.body["id"]).body["fine_cents"] == 1999

@trial("list-not-queued")
def _(s):
    p = s.let()
    t = s.turn(p)
    l = s("anneke", "GET", f"/plots/{p['id']}/turns?status=queued", edition="2024-10").body
    r = s("anneke", "GET", "/turns/" + t["id"], edition="2024-10").body
    return l["rows"][0]["status"] == r["status"] == "queued" and l["rows"][0]["duration"] == 30 and s("anneke", "GET", "/turns/" + t["id"], edition="2025-09").body["status"] == "booked"

@trial("places-in-newest")
def _(s):
    r = s("anneke", "POST", "/applications", {"household_size": 99}, "2024-10")
    return r.code == "unfit" and r.fields == ["household_size"]

@trial("events-in-newest")
def _(s):
    s.hook("anneke", "2025-09", topics=["turn.booked"])
    s.turn(s.let())
    e = heard()[0]["about"]
    return "duration" in e and "minutes" not in e

@trial("old-replace-resets-water")
def _(s):
    p = s.plot(water=False)
    path = "/plots/" + p["id"]
    old = {"name": "Older", "spot": {"lane": "C", "nr": 3}, "area_m2": 100, "soil": "loamy"}
    r = s.put("wilma", path, old, "2025-09")
    assert r.status == 200 and r.body["office"] == "town hall" and r.body["soil"] == "loamy", r.body
    b = s("wilma", "GET", path).body
    return b["water"] is False and b["soil"] == "loam" and b["spot"] == {"row": "C", "nr": 3}

@trial("appeal-in-older")
def _(s):
    i = s.inspect(s.let())
    s("wilma", "POST", f"/inspections/{i['id']}/issue")
    return s("anneke", "POST", f"/inspections/{i['id']}/appeal", {"plea": "It rained."}, "2025-09").code == "no_such_path"

@trial("sunset-forgotten")
def _(s):
    r = s("wilma", "GET", "/plots", edition="2024-10")
    assert r.status == 200 and r.headers["Sunset"] and r.headers["Deprecation"] == "@1764547200"
    s.clock(now="2027-03-15T00:00:01Z")
    return s("wilma", "GET", "/plots", edition="2024-10").code == "edition_over" and s("wilma", "GET", "/plots", edition="2025-09").status == 200


def run(fault, name):
    GOT.clear()
    FAIL.clear()
    s = Service(fault)
    try:
        return bool(TRIALS[name](s))
    except (AssertionError, KeyError, IndexError, TypeError) as e:
        if not fault:
            print("  right service:", repr(e))
        return False
    finally:
        s.stop()


if __name__ == "__main__":
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", RECEIVER), Receiver)
    receiver.daemon_threads = True
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    names = sys.argv[1:] or [f["id"] for f in BOOK["faults"]]
    wrong = [n for n in TRIALS if n not in {f["id"] for f in BOOK["faults"]}]
    assert not wrong, wrong
    shown = 0
    for n in names:
        right, broken = run("", n), run(n, n)
        good = right and not broken
        shown += good
        print(f"{'shown    ' if good else 'NOT SHOWN'} {n}" + ("" if good else f"  (right: {right}, fault: {broken})"))
    print(f"{shown} of {len(names)} faults shown")
    receiver.shutdown()
    sys.exit(0 if shown == len(names) else 1)
