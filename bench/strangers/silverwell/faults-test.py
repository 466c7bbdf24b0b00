"""Starts the service right and with each fault; each fault has one trial, which the right service passes and the faulty one does not.
python3 faults-test.py [FAULT ...]"""
import hashlib, hmac, http.client, http.server, json, os, subprocess, sys, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
PORT, CLOCK, SINK = 20510, 20511, 20512
ADA, BEN, CYD, EVE = ("swt_%s%s" % (n, c * 29) for n, c in (("ada", "A"), ("ben", "B"), ("cyd", "C"), ("eve", "E")))
SIA, SOL, SUE = ("swt_%s%s" % (n, c * 29) for n, c in (("sia", "S"), ("sol", "L"), ("sue", "U")))
DESK = {t: "desk_%s%s" % (n, c * 21) for t, n, c in ((SIA, "sia", "S"), (SOL, "sol", "L"), (SUE, "sue", "U"))}
OLD = {"Darkroom-Date": "2026-03-01"}
SIZE = {"width_mm": 200, "height_mm": 250}
got, sink_status = [], [200]


class Sink(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        got.append((self.path, dict(self.headers), body))
        self.send_response(sink_status[0])
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *a):
        pass


class Answer:
    def __init__(self, r, raw):
        self.status, self.headers, self.raw = r.status, r.headers, raw
        self.json = json.loads(raw) if raw else None
        self.code = self.json.get("code") if isinstance(self.json, dict) else None


connection = [None]


def call(who, method, path, body=None, headers=None, raw=None, desk=None):
    h = dict(headers or {})
    if who:
        h["Authorization"] = "Bearer " + who
    if desk:
        h["X-Desk-Pass"] = desk
    data = raw
    if body is not None:
        data = json.dumps(body).encode()
    if data is not None:
        h.setdefault("Content-Type", "application/json")
    for i in (0, 1):
        try:
            if connection[0] is None:
                connection[0] = http.client.HTTPConnection("127.0.0.1", PORT, timeout=10)
            connection[0].request(method, path, data, h)
            r = connection[0].getresponse()
            return Answer(r, r.read())
        except (http.client.HTTPException, ConnectionError):
            connection[0] = None
            if i:
                raise


def advance(d):
    c = http.client.HTTPConnection("127.0.0.1", CLOCK, timeout=10)
    c.request("POST", "/", json.dumps({"advance": d} if d.startswith("P") else {"now": d}))
    r = c.getresponse()
    assert r.status == 200, r.read()
    r.read()
    c.close()


labels = [0]


def make(who, path, body, headers=None):
    a = call(who, "POST", path, body, headers)
    assert a.status == 201, (a.status, a.raw)
    return a.json


def roll(who=ADA, **k):
    labels[0] += 1
    return make(who, "/rolls", {"label": "L%d" % labels[0], "film": "Delta 100", "format": "135", "iso": 100, **k})["id"]


def handed(who=ADA, **k):
    r = roll(who, **k)
    assert call(who, "POST", "/rolls/%d/hand_in" % r).status == 200
    return r


def bath(who=SIA, **k):
    return make(who, "/baths", {"process": "bw", "volume_ml": 1000, "capacity": 5, **k})["id"]


def run(b, r, who=SIA, **k):
    return make(who, "/baths/%d/runs" % b, {"roll": r, "minutes": 10, **k})["number"]


def start(b, n, who=SIA):
    return call(who, "POST", "/baths/%d/runs/%d/start" % (b, n))


def abort(b, n, who=SIA):
    return call(who, "POST", "/baths/%d/runs/%d/abort" % (b, n), {"reason": "light leak"})


def print_(r, who=ADA, **k):
    return make(who, "/rolls/%d/prints" % r, {"frame": 3, "size": SIZE, **k})["number"]


def developed(b=None):
    b = b or bath()
    r = handed()
    assert start(b, run(b, r)).status == 200
    advance("PT11M")
    assert get(ADA, "/rolls/%d" % r)["status"] == "developed"
    return r


def get(who, path, headers=None):
    a = call(who, "GET", path, None, headers)
    assert a.status == 200, (a.status, a.raw)
    return a.json


def is_(a, status, code=None):
    assert a.status == status and (code is None or a.code == code), (a.status, a.raw)
    return a


def hook(who=ADA, headers=None, **k):
    return make(who, "/hooks", {"url": "http://127.0.0.1:%d/h" % SINK, **k}, headers)


def wait(n=1, s=1.0):
    end = time.time() + s
    while len(got) < n and time.time() < end:
        time.sleep(0.01)
    return got


def kinds(who, q=""):
    return [e["kind"] for e in get(who, "/events?take=100" + q)["items"]]


T = {}


def trial(f):
    T[f.__name__.replace("_", "-")] = f
    return f


# ---- purpose
@trial
def location_below_api():
    a = call(ADA, "POST", "/rolls", {"label": "x", "film": "HP5", "format": "120", "iso": 400})
    assert call(ADA, "GET", a.headers["Location"]).status == 200
@trial
def entry_route_missing():
    roll()
    e = get(ADA, "/events")["items"][0]
    assert get(ADA, "/events/" + e["id"]) == e
@trial
def archive_does_nothing():
    r = developed()
    assert is_(call(SIA, "POST", "/rolls/%d/archive" % r), 200).json["status"] == "archived"
@trial
def steward_cannot_cancel():
    r = roll()
    is_(call(SIA, "POST", "/rolls/%d/prints/%d/cancel" % (r, print_(r))), 200)
@trial
def printer_cannot_list_runs():
    b, r = bath(), handed()
    run(b, r)
    assert len(get(ADA, "/baths/%d/runs" % b)["items"]) == 1
# ---- resources
@trial
def label_one_longer():
    is_(call(ADA, "POST", "/rolls", {"label": "x" * 24, "film": "HP5", "format": "120", "iso": 400}), 201)
    is_(call(ADA, "POST", "/rolls", {"label": "x" * 25, "film": "HP5", "format": "120", "iso": 400}), 422)
@trial
def frame_from_zero():
    is_(call(ADA, "POST", "/rolls/%d/prints" % roll(), {"frame": 0, "size": SIZE}), 422, "unfit")
@trial
def due_forgets_exposed():
    r = developed()
    n = print_(r)
    is_(call(SIA, "POST", "/rolls/%d/prints/%d/expose" % (r, n)), 200)
    assert get(ADA, "/rolls/%d" % r)["due_cents"] == 200
@trial
def spoiled_gives_capacity_back():
    b = bath()
    n = run(b, handed())
    start(b, n)
    abort(b, n)
    assert get(SIA, "/baths/%d" % b)["left"] == 4
@trial
def format_can_change():
    r = roll()
    is_(call(ADA, "PATCH", "/rolls/%d" % r, {"format": "120"}, {"If-Match": "*"}), 422, "unfit")
@trial
def numbers_over_all():
    r, s = roll(), roll()
    print_(r)
    assert print_(s) == 1 and print_(r) == 2
@trial
def price_not_redone():
    r = roll()
    n = print_(r)
    assert is_(call(ADA, "PATCH", "/rolls/%d/prints/%d" % (r, n), {"sheets": 3}), 200).json["price_cents"] == 600
@trial
def shelf_default_a_week():
    assert get(SIA, "/baths/%d" % bath())["shelf_hours"] == 336
@trial
def run_owned_by_steward():
    b = bath()
    n = run(b, handed())
    assert get(SIA, "/baths/%d/runs/%d" % (b, n))["owner"] == "ada"
@trial
def label_unique_for_all():
    roll(ADA, label="same")
    roll(BEN, label="same")
@trial
def secret_shown_again():
    assert "secret" not in get(ADA, "/hooks/" + hook()["id"])
@trial
def null_keeps_note():
    r = roll(note="wet")
    assert "note" not in is_(call(ADA, "PATCH", "/rolls/%d" % r, {"note": None}, {"If-Match": "*"}), 200).json
# ---- states
@trial
def cancel_exposed():
    r = developed()
    n = print_(r)
    is_(call(SIA, "POST", "/rolls/%d/prints/%d/expose" % (r, n)), 200)
    is_(call(ADA, "POST", "/rolls/%d/prints/%d/cancel" % (r, n)), 409, "too_late")
@trial
def expired_bath_not_discardable():
    b = bath(shelf_hours=1)
    advance("PT61M")
    assert get(SIA, "/baths/%d" % b)["status"] == "expired"
    is_(call(None, "POST", "/baths/%d/discard" % b, desk=DESK[SIA]), 200)
@trial
def discard_with_film_in_tank():
    b = bath()
    start(b, run(b, handed()))
    is_(call(None, "POST", "/baths/%d/discard" % b, desk=DESK[SIA]), 409, "tank_busy")
@trial
def abort_running_is_aborted():
    b = bath()
    n = run(b, handed())
    start(b, n)
    assert is_(abort(b, n), 200).json["status"] == "spoiled"
@trial
def abort_leaves_roll_in_tank():
    b, r = bath(), handed()
    n = run(b, r)
    start(b, n)
    abort(b, n)
    assert get(ADA, "/rolls/%d" % r)["status"] == "handed_in"
@trial
def ready_in_hours():
    b, r = bath(), handed()
    n = run(b, r)
    start(b, n)
    advance("PT11M")
    assert get(SIA, "/baths/%d/runs/%d" % (b, n))["status"] == "done"
@trial
def old_expiry_still_fires():
    b = bath(shelf_hours=2)
    is_(call(SIA, "PATCH", "/baths/%d" % b, {"shelf_hours": 10}), 200)
    advance("PT3H")
    assert get(SIA, "/baths/%d" % b)["status"] == "fresh"
@trial
def full_bath_stays_fresh():
    b = bath(capacity=1)
    start(b, run(b, handed()))
    assert get(SIA, "/baths/%d" % b)["status"] == "spent"
@trial
def archive_keeps_orders():
    r = developed()
    n = print_(r)
    is_(call(SIA, "POST", "/rolls/%d/archive" % r), 200)
    assert get(ADA, "/rolls/%d/prints/%d" % (r, n))["status"] == "cancelled"
@trial
def lapse_after_three_days():
    r = roll()
    n = print_(r)
    advance("P29D")
    assert get(ADA, "/rolls/%d/prints/%d" % (r, n))["status"] == "ordered"
    advance("P1DT1S")
    assert get(ADA, "/rolls/%d/prints/%d" % (r, n))["status"] == "lapsed"
# ---- endpoints
@trial
def runs_oldest_first():
    b = bath()
    run(b, handed())
    run(b, handed())
    assert [x["number"] for x in get(SIA, "/baths/%d/runs" % b)["items"]] == [2, 1]
@trial
def chosen_fields_drop_id():
    r = roll()
    assert get(ADA, "/rolls?fields=label")["items"][0] == {"id": r, "label": "L%d" % labels[0]}
@trial
def min_iso_exclusive():
    roll(iso=400)
    assert len(get(ADA, "/rolls?min_iso=400")["items"]) == 1 and not get(ADA, "/rolls?min_iso=401")["items"]
@trial
def patch_replaces_size():
    r = roll()
    n = print_(r)
    assert call(ADA, "PATCH", "/rolls/%d/prints/%d" % (r, n), {"size": {"width_mm": 100}}).json["size"] == {"width_mm": 100, "height_mm": 250}
@trial
def key_ignores_the_path():
    r, s = roll(), roll()
    b = {"frame": 3, "size": SIZE}
    is_(call(ADA, "POST", "/rolls/%d/prints" % r, b, {"Idempotency-Key": "k"}), 201)
    is_(call(ADA, "POST", "/rolls/%d/prints" % s, b, {"Idempotency-Key": "k"}), 422, "key_reused")
@trial
def run_found_below_any_bath():
    b, c = bath(), bath()
    n = run(b, handed())
    is_(call(SIA, "GET", "/baths/%d/runs/%d" % (c, n)), 404)
@trial
def weak_tag_passes():
    r = roll()
    tag = call(ADA, "GET", "/rolls/%d" % r).headers["ETag"]
    is_(call(ADA, "PATCH", "/rolls/%d" % r, {"iso": 200}, {"If-Match": "W/" + tag}), 412)
    is_(call(ADA, "PATCH", "/rolls/%d" % r, {"iso": 200}, {"If-Match": tag}), 200)
@trial
def unknown_parameter_ignored():
    is_(call(ADA, "GET", "/rolls?colour=red"), 400, "bad_query")
@trial
def replay_shows_secret():
    b = {"url": "http://127.0.0.1:%d/h" % SINK}
    a = call(ADA, "POST", "/hooks", b, {"Idempotency-Key": "k"})
    c = call(ADA, "POST", "/hooks", b, {"Idempotency-Key": "k"})
    assert c.status == 201 and c.json["id"] == a.json["id"] and "secret" in a.json and "secret" not in c.json
@trial
def expanded_bath_shows_recipe():
    b = bath(recipe="secret salt")
    run(b, handed())
    assert "recipe" not in get(ADA, "/baths/%d/runs?expand=bath" % b)["items"][0]["bath"]
# ---- authentication
@trial
def any_steward_updates_bath():
    b = bath(SIA)
    is_(call(SOL, "PATCH", "/baths/%d" % b, {"capacity": 9}), 403, "forbidden")
@trial
def list_rolls_of_the_lab():
    roll(BEN)
    assert not get(ADA, "/rolls")["items"]
@trial
def discard_by_token():
    is_(call(SIA, "POST", "/baths/%d/discard" % bath()), 401)
@trial
def bad_desk_pass_beside_token():
    is_(call(SIA, "GET", "/rolls", desk="desk_wrong"), 401)
    is_(call(SIA, "GET", "/rolls", desk=DESK[SIA]), 200)
@trial
def two_credentials_two_callers():
    is_(call(SIA, "GET", "/rolls", desk=DESK[SOL]), 401)
@trial
def take_back_asks_no_scope():
    # nobody hands films in without `films`; so it is asked of one who has none of its scopes
    is_(call(EVE, "POST", "/rolls/%d/prints" % roll(EVE), {"frame": 1, "size": SIZE}), 403)
    r = roll(EVE)
    n = call(EVE, "PATCH", "/rolls/%d/prints/1" % r, {"frame": 2})
    is_(n, 403)
@trial
def update_print_asks_no_scope():
    is_(call(EVE, "PATCH", "/rolls/%d/prints/1" % roll(EVE), {"frame": 2}), 403, "scope_missing")
@trial
def entries_by_lab():
    roll(BEN)
    assert not get(ADA, "/events")["items"]
@trial
def desk_pass_lab_fixed():
    b = bath(SUE)
    is_(call(None, "POST", "/baths/%d/discard" % b, desk=DESK[SUE]), 200)
# ---- events
@trial
def develop_untold():
    developed()
    assert kinds(ADA).count("roll.moved") == 3
@trial
def drop_untold():
    r = handed()
    run(bath(), r)
    is_(call(ADA, "POST", "/rolls/%d/take_back" % r), 200)
    assert "run.ended" in kinds(ADA)
@trial
def run_ended_tells_before():
    developed()
    e = [x for x in get(ADA, "/events")["items"] if x["kind"] == "run.ended"][0]
    assert e["payload"]["status"] == "done"
@trial
def moved_from_is_to():
    r = handed()
    e = get(ADA, "/events?kind=roll.moved")["items"][0]
    assert e["payload"] == {"roll": r, "from": "logged", "to": "handed_in"}
@trial
def hook_hears_the_lab():
    hook(BEN)
    roll(ADA)
    assert not wait(1, 0.3)
    roll(BEN)
    assert len(wait(1)) == 1
@trial
def paused_hook_hears():
    h = hook()
    is_(call(ADA, "PATCH", "/hooks/" + h["id"], {"active": False}), 200)
    roll()
    assert not wait(1, 0.3)
@trial
def signature_without_time():
    h = hook()
    roll()
    _, hs, body = wait(1)[0]
    t, v = (x.split("=", 1)[1] for x in hs["Silverwell-Signature"].split(","))
    assert v == hmac.new(h["secret"].encode(), t.encode() + b"." + body, hashlib.sha256).hexdigest()
    assert hs["Silverwell-Event"] == "roll.logged"
@trial
def one_retry_less():
    sink_status[0] = 500
    hook()
    roll()
    wait(1)
    for i, d in enumerate(("PT13S", "PT73S", "PT13M")):
        time.sleep(0.1)
        advance(d)
        assert len(wait(i + 2)) == i + 2
@trial
def redirect_counts_as_taken():
    sink_status[0] = 302
    hook()
    roll()
    wait(1)
    time.sleep(0.1)
    advance("PT13S")
    assert len(wait(2)) == 2
@trial
def log_shows_recipe():
    bath(recipe="salt")
    assert "recipe" not in get(SIA, "/events")["items"][0]["payload"]
@trial
def changed_always_told():
    r = roll()
    is_(call(ADA, "PATCH", "/rolls/%d" % r, {"iso": 800}, {"If-Match": "*"}), 200)
    assert "roll.changed" not in kinds(ADA)
# ---- errors
@trial
def cancel_says_wrong_state():
    r = roll()
    n = print_(r)
    for want in ((200, None), (409, "too_late")):
        is_(call(ADA, "POST", "/rolls/%d/prints/%d/cancel" % (r, n)), *want)
@trial
def scope_code_lost():
    is_(call(EVE, "POST", "/rolls/%d/prints" % roll(EVE), {"frame": 1, "size": SIZE}), 403, "scope_missing")
@trial
def invalid_is_400():
    is_(call(ADA, "POST", "/rolls", {"label": "x"}), 422, "missing_field")
@trial
def violations_first_only():
    a = is_(call(ADA, "POST", "/rolls", {"label": "", "film": 3, "format": "135", "iso": 100}), 422, "unfit")
    assert [v["path"] for v in a.json["violations"]] == ["/label", "/film"]
@trial
def problem_as_json():
    assert call(ADA, "GET", "/rolls/99").headers["Content-Type"] == "application/problem+json"
@trial
def run_of_unreadable_roll():
    is_(call(SIA, "POST", "/baths/%d/runs" % bath(), {"roll": handed(CYD), "minutes": 9}), 422, "no_such_row")
@trial
def six_hundred_too_wide():
    r = roll()
    print_(r, paper="fibre", size={"width_mm": 600, "height_mm": 800})
    is_(call(ADA, "POST", "/rolls/%d/prints" % r, {"frame": 1, "paper": "fibre", "size": {"width_mm": 601, "height_mm": 800}}), 422, "too_wide")
@trial
def too_wide_by_update():
    r = roll()
    n = print_(r, size={"width_mm": 700, "height_mm": 800})
    is_(call(ADA, "PATCH", "/rolls/%d/prints/%d" % (r, n), {"paper": "fibre"}), 422, "too_wide")
# ---- limits
@trial
def rate_per_lab():
    left = lambda w: int(call(w, "GET", "/rolls").headers["Darkroom-Left"])
    left(ADA), left(ADA)
    assert left(BEN) == 899
@trial
def bucket_per_operation():
    r = roll()
    a = call(ADA, "POST", "/rolls/%d/prints" % r, {"frame": 3, "size": SIZE})
    assert a.headers["Darkroom-Limit"] == "120" and a.headers["Darkroom-Left"] == "118"
@trial
def fixed_one_more():
    for _ in range(240):
        is_(call(ADA, "GET", "/events?take=1"), 200)
    a = is_(call(ADA, "GET", "/events?take=1"), 429, "slow_down")
    assert 1 <= int(a.headers["Retry-After"]) <= 30
@trial
def five_hooks():
    for _ in range(4):
        hook()
    is_(call(ADA, "POST", "/hooks", {"url": "http://127.0.0.1:1/"}), 429, "enough")
@trial
def cap_counts_cancelled():
    r = roll()
    ns = [print_(r) for _ in range(8)]
    is_(call(ADA, "POST", "/rolls/%d/prints" % r, {"frame": 3, "size": SIZE}), 429, "enough")
    is_(call(ADA, "POST", "/rolls/%d/prints/%d/cancel" % (r, ns[0])), 200)
    print_(r)
@trial
def take_clamped():
    is_(call(ADA, "GET", "/rolls?take=100"), 200)
    is_(call(ADA, "GET", "/rolls?take=101"), 400, "bad_query")
@trial
def full_last_page_goes_on():
    roll(), roll()
    assert get(ADA, "/rolls?take=2")["next_after"] is None
@trial
def url_one_byte_more():
    p = "/rolls?film="
    assert call(ADA, "GET", p + "x" * (2049 - len(p))).status == 414
    assert call(ADA, "GET", p + "x" * (2048 - len(p))).status == 400
# ---- versioning
@trial
def old_status_developed_unmapped():
    assert get(ADA, "/rolls/%d" % developed(), OLD)["status"] == "done"
@trial
def old_size_turned():
    r = roll()
    n = print_(r)
    assert get(ADA, "/rolls/%d/prints/%d" % (r, n), OLD)["size"] == "200x250"
@trial
def old_volume_truncates():
    a = make(SIA, "/baths", {"process": "bw", "volume_ml": 1.001, "capacity": 3}, OLD)
    assert get(SIA, "/baths/%d" % a["id"])["volume_ml"] == 1001
@trial
def old_version_has_take_back():
    is_(call(ADA, "POST", "/rolls/%d/take_back" % handed(), headers=OLD), 404)
@trial
def hook_in_newest_version():
    hook(headers=OLD)
    roll()
    e = json.loads(wait(1)[0][2])["what"]
    assert e["emulsion"] == "Delta 100" and "film" not in e and "push" not in e
@trial
def expanded_in_newest_version():
    r = roll()
    print_(r)
    assert "emulsion" in get(ADA, "/rolls/%d/prints?expand=roll" % r, OLD)["items"][0]["roll"]
@trial
def old_list_keeps_film():
    roll()
    assert "emulsion" in get(ADA, "/rolls", OLD)["items"][0]
@trial
def sunset_a_day_late():
    advance("2027-10-01T00:00:01Z")
    is_(call(ADA, "GET", "/rolls", headers=OLD), 410, "old_version")
@trial
def old_violations_new_names():
    a = call(ADA, "POST", "/rolls", {"label": "a", "emulsion": 1, "format": "135", "iso": 100}, OLD)
    assert a.json["violations"][0]["path"] == "/emulsion"


del T["take-back-asks-no-scope"]
FAULTS = [f["id"] for f in json.load(open(os.path.join(HERE, "stranger.json")))["faults"]] if os.path.exists(os.path.join(HERE, "stranger.json")) else list(T)


def attempt(name, fault):
    got.clear()
    sink_status[0] = 200
    connection[0] = None
    cmd = [sys.executable, os.path.join(HERE, "service.py"), "--port", str(PORT), "--clock-port", str(CLOCK)] + (["--fault", fault] if fault else [])
    p = subprocess.Popen(cmd)
    try:
        for _ in range(400):
            try:
                call(None, "OPTIONS", "/rolls")
                break
            except OSError:
                connection[0] = None
                time.sleep(0.02)
        T[name]()
        return None
    except (AssertionError, KeyError, IndexError) as e:
        return repr(e)[:120]
    finally:
        p.terminate()
        p.wait()


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", SINK), Sink)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    names, wrong = sys.argv[1:] or FAULTS, 0
    for n in names:
        right, seen = attempt(n, None), attempt(n, n)
        ok = right is None and seen is not None
        wrong += not ok
        print("%-34s %s" % (n, "shown" if ok else "WRONG: right=%r seen=%r" % (right, seen)), flush=True)
    print("%d of %d shown" % (len(names) - wrong, len(names)))
    server.shutdown()
    return wrong


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
