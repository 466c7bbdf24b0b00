"""Every fault by hand: the same requests to the right service (passes) and to the faulty one (fails)."""
import base64, hashlib, hmac, http.client, http.server, json, os, socket, subprocess, sys, threading, time
HERE = os.path.dirname(os.path.abspath(__file__))
STRANGER = json.load(open(os.path.join(HERE, "stranger.json")))
KEY = {c["id"]: c["credential"] for c in STRANGER["callers"] if c["scheme"] == "key"}
LOGIN = {c["id"]: c["credential"] for c in STRANGER["callers"] if c["scheme"] == "login"}
HEARD = []

class Ear(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        HEARD.append((dict(self.headers), raw, json.loads(raw)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *a): pass

EAR = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ear)
threading.Thread(target=EAR.serve_forever, daemon=True).start()
EAR_URL = "http://127.0.0.1:%d/ear" % EAR.server_port

def free():
    s = socket.socket(); s.bind(("127.0.0.1", 0)); p = s.getsockname()[1]; s.close()
    return p

class Api:
    def __init__(self, fault=None):
        self.port, self.clock = free(), free()
        self.process = subprocess.Popen([*STRANGER["command"], "--port", str(self.port), "--clock-port", str(self.clock), *(["--fault", fault] if fault else [])],
                                        cwd=HERE, stdout=subprocess.DEVNULL)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.clock), 1).close()
                break
            except OSError:
                time.sleep(0.02)
        self.c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)

    def __call__(self, who, method, path, body=None, v=None, login=False, raw=None, **headers):
        head = {k.replace("_", "-"): x for k, x in headers.items()}
        if who:
            head.update({"Authorization": "Basic " + base64.b64encode((login if isinstance(login, str) else LOGIN[who]).encode()).decode()} if login else {"X-Post-Key": KEY[who]})
        if v:
            head["Post-Version"] = v
        data = raw if raw is not None else json.dumps(body) if body is not None else None
        if data is not None:
            head.setdefault("Content-Type", "application/json")
        self.c.request(method, path, data, head)
        r = self.c.getresponse()
        out = r.read()
        self.status, self.head = r.status, r.headers
        self.json = json.loads(out) if out else None
        return self.status

    def get(self, who, path, **k):
        assert self(who, "GET", path, **k) == 200, (self.status, self.json)
        return self.json

    def make(self, who, path, body=None, status=201, method="POST", **k):
        assert self(who, method, path, body, **k) == status, (self.status, self.json)
        return self.json

    def pass_time(self, duration):
        c = http.client.HTTPConnection("127.0.0.1", self.clock)
        c.request("POST", "/", json.dumps({"advance": duration}))
        assert c.getresponse().status == 200

    # what most proofs need
    def callout(self, who="ann", **k):
        return self.make(who, "/callouts", {"kind": "fall", "place": {"name": "Col", "grid": "AB123456"}, "summary": "Fallen climber", **k})
    def active(self, team="ALFA", leader="lea", **k):
        c = self.callout(team=team, **k)
        self.make("ann", "/callouts/%s/alert" % c["id"], status=200)
        self.turnout = self.make("val", "/callouts/%s/turnouts" % c["id"], {"eta_min": 20})
        self.make(leader, "/callouts/%s/deploy" % c["id"], status=200)
        return c
    def close(self, c, who="lea"):
        return self.make(who, "/callouts/%s/close" % c["id"], {"outcome": "rescued"}, 200)
    def gear(self, tag="AA-001", who="sam", **k):
        return self.make(who, "/gear/" + tag, {"kind": "rope", "weight": 5000, **k}, method="PUT")
    def loan(self, tag="AA-001", who="val", **k):
        return self.make(who, "/loans", {"gear": tag, **k})
    def report(self, c, who="val"):
        return self.make(who, "/callouts/%s/reports" % c["id"], {"text": "We went up and came down."})
    def course(self, who="lea", seats=2, at="2099-01-01T09:00:00Z", status=201):
        return self.make(who, "/courses", {"title": "Ropes", "starts_at": at, "seats": seats}, status)
    def hook(self, who="ann", **k):
        HEARD.clear()
        return self.make(who, "/hooks", {"url": EAR_URL}, **k)

def heard(n=1, wait=3):
    end = time.time() + wait
    while len(HEARD) < n and time.time() < end:
        time.sleep(0.01)
    time.sleep(0.1)
    return HEARD

def log_types(a, who="ann"):
    return [e["type"] for e in a.get(who, "/log")["rows"]]

P = {}
def proof(f): P[f.__name__.replace("_", "-")] = f

@proof
def arrive_unrouted(a): a.active(); assert a("val", "POST", "/turnouts/%s/arrive" % a.turnout["id"]) == 200 and a.json["state"] == "on_scene"
@proof
def leader_no_hooks(a): a.hook("lea")
@proof
def location_prefix(a): c = a.callout(); assert a.head["Location"] == "/callouts/" + c["id"] and a("ann", "GET", a.head["Location"]) == 200
@proof
def weight_as_text(a): a.gear(); assert a.get("sam", "/gear")["rows"][0]["weight"] == 5000
@proof
def due_without_zone(a): a.gear(); a.loan(); assert a.get("val", "/loans")["rows"][0]["due_at"].endswith("Z")
@proof
def eta_optional(a): c = a.callout(team="ALFA"); a("ann", "POST", "/callouts/%s/alert" % c["id"]); assert a("val", "POST", "/callouts/%s/turnouts" % c["id"], {}) == 422 and a.json["refused"] == "incomplete"
@proof
def severity_six(a): c = a.callout(); assert a("ann", "PATCH", "/callouts/" + c["id"], {"severity": 6}) == 422; a.make("ann", "/callouts/" + c["id"], {"severity": 5}, 200, "PATCH")
@proof
def responders_all(a): c = a.active(); assert a.get("lea", "/callouts/" + c["id"])["responders"] == 1; assert a.close(c)["responders"] == 0
@proof
def cost_to_leader(a): a.gear(cost=900); assert "cost" not in a.get("lea", "/gear/AA-001") and a.get("sam", "/gear/AA-001")["cost"] == 900
@proof
def any_tag(a): assert a("sam", "PUT", "/gear/aa-001", {"kind": "rope", "weight": 1}) == 422
@proof
def report_unknown_field(a): r = a.report(a.active()); a.get("val", "/reports/" + r["id"]); assert a("val", "PATCH", "/reports/" + r["id"], {"wether": "snow"}, If_Match=a.head["ETag"]) == 422
@proof
def extend_overdue(a): a.gear(); l = a.loan(days=1); a.pass_time("P2D"); assert a.get("val", "/loans")["rows"][0]["state"] == "overdue"; assert a("val", "POST", "/loans/%s/extend" % l["id"], {"days": 3}) == 409 and a.json["refused"] == "wrong_state"
@proof
def lapse_24h(a): c = a.callout(); a.pass_time("PT11H"); assert a.get("ann", "/callouts/" + c["id"])["state"] == "raised"; a.pass_time("PT1H1M"); assert a.get("ann", "/callouts/" + c["id"])["state"] == "stood_down"
@proof
def on_scene_stays(a): c = a.active(); a("val", "POST", "/turnouts/%s/arrive" % a.turnout["id"]); a.close(c); assert a.get("lea", "/callouts/%s/turnouts" % c["id"])["rows"][0]["state"] == "released"
@proof
def lock_day_late(a): a.gear(); a.pass_time("P6M"); assert a.get("sam", "/gear/AA-001")["state"] == "quarantined"
@proof
def course_one_day(a):
    a.course(at="2099-01-01T09:00:00Z"); c = http.client.HTTPConnection("127.0.0.1", a.clock)
    c.request("POST", "/", json.dumps({"now": "2099-01-01T10:00:00Z"})); c.getresponse().read()
    assert a.get(None, "/courses")["rows"][0]["state"] == "running"
    a.pass_time("P1DT12H"); assert a.get(None, "/courses")["rows"][0]["state"] == "running"
    a.pass_time("PT12H"); assert a.get(None, "/courses")["rows"][0]["state"] == "held"
@proof
def leader_skips_draft(a): assert a.report(a.callout(), "lea")["state"] == "draft"
@proof
def min_severity_above(a): a.callout(severity=4); assert len(a.get("ann", "/callouts?min_severity=4")["rows"]) == 1
@proof
def ties_oldest(a): ids = [a.callout()["id"] for _ in range(3)]; assert [r["id"] for r in a.get("ann", "/callouts?sort=severity")["rows"]] == ids[::-1]
@proof
def stale_tag(a): c = a.callout(); a.make("ann", "/callouts/" + c["id"], {"severity": 5}, 200, "PATCH"); tag = a.head["ETag"]; a.get("ann", "/callouts/" + c["id"]); assert a.head["ETag"] == tag
@proof
def place_not_merged(a): c = a.callout(); assert a.make("ann", "/callouts/" + c["id"], {"place": {"name": "Saddle"}}, 200, "PATCH")["place"] == {"name": "Saddle", "grid": "AB123456"}
@proof
def cost_stays(a): a.gear(cost=5); a.make("sam", "/gear/AA-001", {"kind": "rope", "weight": 7}, 200, "PUT"); assert "cost" not in a.json
@proof
def secret_again(a): h = a.hook(Idempotency_Key="k1"); assert h["secret"]; h = a.hook(Idempotency_Key="k1"); assert "secret" not in h
@proof
def key_shared(a):
    a.gear(); a.gear("AA-002"); a.loan(who="val"); body = {"gear": "AA-002"}
    one = a.make("val", "/loans", body, Idempotency_Key="same"); a.make("sam", "/loans/%s/give-back" % one["id"], status=200)
    assert a.make("vic", "/loans", body, Idempotency_Key="same")["borrower"] == "vic"
@proof
def no_head_of_reports(a): r = a.report(a.active()); assert a("val", "HEAD", "/reports/" + r["id"]) == 200
@proof
def loans_of_all(a): a.gear(); a.loan(); assert len(a.get("sam", "/loans")["rows"]) == 1 and a.get("sue", "/loans")["rows"] == []
@proof
def volunteer_reads_closed(a): c = a.active(); a.get("val", "/callouts/" + c["id"]); a.close(c); assert a("val", "GET", "/callouts/" + c["id"]) == 404
@proof
def deploy_any_team(a):
    c = a.callout(team="ALFA"); a("ann", "POST", "/callouts/%s/alert" % c["id"]); a.make("val", "/callouts/%s/turnouts" % c["id"], {"eta_min": 1})
    assert a("leo", "POST", "/callouts/%s/deploy" % c["id"]) == 403; a.make("lea", "/callouts/%s/deploy" % c["id"], status=200)

def submitted(a, who):
    c = a.active(); r = a.report(c, who); a.close(c); a.make(who, "/reports/%s/submit" % r["id"], status=200)
    return "/reports/%s/approve" % r["id"]
@proof
def approve_own(a): p = submitted(a, "lea"); assert a("lea", "POST", p, login=True) == 403; assert a("leo", "POST", p, login=True) == 200
@proof
def own_report_status(a): p = submitted(a, "lea"); assert a("lea", "POST", p, login=True) == 403 and a.json["refused"] == "own_report"
@proof
def approve_by_key(a): p = submitted(a, "val"); assert a("lea", "POST", p) == 401; assert a("lea", "POST", p, login=True) == 200
@proof
def login_prefix(a): c = a.callout(); assert a("lea", "GET", "/callouts/" + c["id"], login=True) == 200; assert a("lea", "GET", "/callouts/" + c["id"], login=LOGIN["lea"] + "x") == 401
@proof
def lapse_silent(a): a.callout(); a.pass_time("PT13H"); assert log_types(a) == ["callout.over", "callout.raised"]
@proof
def regraded_always(a): c = a.callout(); a("ann", "PATCH", "/callouts/" + c["id"], {"summary": "Another one"}); assert log_types(a) == ["callout.raised"]; a("ann", "PATCH", "/callouts/" + c["id"], {"severity": 1}); assert log_types(a)[0] == "callout.regraded"
@proof
def was_is_new(a): c = a.callout(); a.hook(); a("ann", "PATCH", "/callouts/" + c["id"], {"severity": 5}); assert heard()[0][2]["about"] == {"callout": c["id"], "was": 3, "is": 5}
@proof
def hook_newest(a): a.hook(v="2025-04-01"); a.callout(kind="avalanche", team="ALFA"); about = heard()[0][2]["about"]; assert about["kind"] == "slide" and about["urgency"] == 3 and "team" not in about
@proof
def signature_no_id(a):
    h = a.hook(); a.callout(); head, raw, _ = heard()[0]
    mac = hmac.new(base64.b64decode(h["secret"][6:]), (head["webhook-id"] + "." + head["webhook-timestamp"] + ".").encode() + raw, hashlib.sha256).digest()
    assert head["webhook-signature"] == "v1," + base64.b64encode(mac).decode()
@proof
def request_before_tag(a): r = a.report(a.active()); assert a("val", "PATCH", "/reports/" + r["id"], {"text": "short"}, If_Match='"old"') == 412
@proof
def gone_is_missing(a): r = a.report(a.active()); assert a("val", "DELETE", "/reports/" + r["id"]) == 204; assert a("val", "GET", "/reports/" + r["id"]) == 410; assert a("vic", "GET", "/reports/" + r["id"]) == 404
@proof
def empty_wrong(a): assert a("ann", "GET", "/callouts/no") == 404 and "wrong" not in a.json
@proof
def page_clamped(a): assert a("ann", "GET", "/log?count=101") == 400; a.get("ann", "/log?count=100")
@proof
def overdue_not_counted(a):
    for i in range(4): a.gear("AA-00%d" % i)
    for i in range(3): a.loan("AA-00%d" % i, days=1)
    a.pass_time("P2D"); assert a("val", "POST", "/loans", {"gear": "AA-003"}) == 429
@proof
def quota_13(a):
    for _ in range(12): a.course()
    a.course(status=429)
@proof
def rate_per_caller(a):
    c = a.active()
    for i in range(40): a("val" if i % 2 else "vic", "POST", "/callouts/%s/reports" % c["id"], {})
    assert a("lea", "POST", "/callouts/%s/reports" % c["id"], {}) == 429 and a.json["refused"] == "too_many"
@proof
def body_edge(a):
    raw = json.dumps({"kind": "fall", "place": {"name": "Col", "grid": "AB123456"}, "summary": "Fallen climber"})
    assert a("ann", "POST", "/callouts", raw=raw.ljust(16384)) == 201; assert a("ann", "POST", "/callouts", raw=raw.ljust(16385)) == 413
@proof
def version_echo(a): c = a.callout(); a.get("ann", "/callouts/" + c["id"], v="2025-11-01"); assert a.head["Post-Version"] == "2025-11-01"
@proof
def old_filter_name(a): a.callout(); assert len(a.get("ann", "/callouts?urgency=3", v="2025-04-01")["rows"]) == 1; assert a("ann", "GET", "/callouts?severity=3", v="2025-04-01") == 400
@proof
def no_sunset_on_refusals(a): assert a("ann", "GET", "/callouts/no", v="2025-04-01") == 404 and a.head["Sunset"] == "Wed, 01 Mar 2028 00:00:00 GMT" and a.head["Deprecation"].startswith("@")

def holds(f, fault):
    a = Api(fault)
    try:
        f(a)
        return True, ""
    except (AssertionError, KeyError, IndexError) as e:
        return False, repr(e)
    finally:
        a.c.close(); a.process.terminate(); a.process.wait()

if __name__ == "__main__":
    only, proven = sys.argv[1:], 0
    faults = [f["id"] for f in STRANGER["faults"] if not only or f["id"] in only]
    for fault in faults:
        right, why = holds(P[fault], None)
        wrong, _ = holds(P[fault], fault)
        proven += right and not wrong
        if not right or wrong:
            print("NOT PROVEN", fault, "right fails: " + why if not right else "faulty passes")
    print("%d of %d faults proven" % (proven, len(faults)))
    sys.exit(proven != len(faults))
