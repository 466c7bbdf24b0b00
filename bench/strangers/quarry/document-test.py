#!/usr/bin/env python3
"""The right service against its document, part by part; faults-test.py does the rest."""
import socket
import sys
from harness import *

TESTS = []
V1 = "/quarry/v1"
STONE = {"name": "Basalt", "grade": "rough", "density": 2.9, "price": 100}
STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


def test(f):
    TESTS.append(f)
    return f


def fits(s, path, base, who, cases, good, made=201, parent=None):
    """Each wrong value is refused at its place, each right one comes back."""
    for k, wrong, right in cases:
        for v in wrong:
            r = is_(s("POST", path, {**base, k: v}, who), 422, "invalid")
            assert r.json["fields"] and all(f == "/" + k or f.startswith(f"/{k}/") for f in r.json["fields"]), (k, v, r)
        for v in right:
            s.n += 1
            r = is_(s("POST", path, {**base, **good(s.n), k: v}, who), made)
            assert r.json.get(k, v) == v, (k, v, r)


@test
def stone_fields(s):
    fits(s, "/stones", STONE, "fritz", [
        ("name", ["", "x" * 41, 1, None], ["x" * 40]), ("grade", ["raw", 1, None], ["crushed", "dressed"]),
        ("density", [0.9, 5.1, "2", None, True], [1, 5, 2.25]), ("price", [-1, 1000001, 1.5, "1", None], [0, 1000000]),
        ("colour", ["x" * 21, 1], ["", None, "red"]), ("sizes_mm", [[0], [3001], [1] * 2, [1, 2, 3, 4, 5, 6, 7], "x", ["1"], None], [[], [1, 3000]]),
        ("leaflet", ["x", "/a", 1, None, "http://a b"], ["https://a.example/x?y=1#z"]), ("since", ["1999-02-29", "1999-1-1", 1, None], ["2000-02-29"]),
        ("hazard", ["true", 1, None], [True, False]), ("foo", [1], [])], lambda n: {"name": f"S{n}"})
    for k in STONE:
        assert is_(s("POST", "/stones", {a: b for a, b in STONE.items() if a != k}, "fritz"), 422, "invalid").json["fields"] == ["/" + k]
    r = is_(s("POST", "/stones", {**STONE, "id": 900, "added_at": 7}, "fritz"), 201)
    assert set(r.json) == set(STONE) | {"id", "hazard", "added_at", "changed_at"} and r.json["hazard"] is False and r.json["id"] != 900
    assert re.fullmatch(STAMP, r.json["added_at"]) and r.headers["location"] == f"/quarry/v2/stones/{r.json['id']}"
    g = s("GET", f"/stones/{r.json['id']}", who=None)
    assert g.json == r.json and g.headers["cache-control"] == "public, max-age=30" and g.headers["etag"][0] == '"'
    is_(s("GET", f"/stones/{r.json['id']}", If_None_Match=g.headers["etag"]), 304)


@test
def bench_fields(s):
    st = s.stone()["id"]
    spot = {"easting": 999999, "northing": 9999999, "level_m": -200}
    base = {"name": "A1", "stone": st, "spot": spot, "capacity_t": 1}
    fits(s, "/benches", base, "fritz", [
        ("name", ["a1", "A", "A100", "AA1", "A1\n", None, 1], ["Z99"]), ("stone", ["1", None, 1.5], []),
        ("spot", [None, {}, {"easting": 1}, {**spot, "easting": -1}, {**spot, "northing": 10000000}, {**spot, "level_m": 901}, {**spot, "x": 1}, {**spot, "level_m": None}], [spot]),
        ("capacity_t", [0, 100001, 1.5, None], [1, 100000]), ("width_m", ["x", 12.5, "1e3", None], ["12.50", "-3"]), ("shotfirer", ["x" * 61, 1, None], ["Bo"])],
        lambda n: {"name": f"C{n}"})
    is_(s("POST", "/benches", {**base, "stone": 999}, "fritz"), 422, "no_such_reference")
    b = s.bench(st, shotfirer="Bo")
    assert b["shotfirer"] == "Bo" and "shotfirer" not in s.ok("GET", f"/benches/{b['id']}")
    is_(s("POST", "/benches", {**base, "name": b["name"]}, "fritz"), 409, "duplicate")


@test
def permit_fields(s):
    base = {"stone": s.stone()["id"], "tonnes": 1, "vehicle": "A-1", "contact": "a@b.example", "valid_until": FAR}
    fits(s, "/permits", base, "anton", [
        ("tonnes", [0, 501, 1.5, "1", None], [1, 500, 7.0]), ("vehicle", ["ABCD-1", "A-12345", "a-1", "A1", None, "A-1 "], ["ABC-1234"]),
        ("contact", ["a", "a@", "@b.example", 1, None], ["a.b+c@d.example"]), ("use", ["roof", None], ["paving", "monument"]),
        ("tags", ["x", [""], ["x" * 13], ["a"] * 5, [1], None], [[], ["a", "a"]]), ("gate_pin", ["123", "12345", "12a4", 1234, None], ["0000"]),
        ("valid_until", ["soon", "2031-01-01", "2031-02-30T00:00:00Z", "2031-01-01T00:00:00", 1, None], ["2031-01-01T00:00:00.5Z", "2031-01-01t00:00:00-03:30"]),
        ("reference", ["", "x" * 31, 1, None], ["R-1"]), ("foreman_note", ["x"], []), ("status", [], []), ("colour", ["x"], [])], lambda n: {})
    for k in base:
        assert is_(s("POST", "/permits", {a: b for a, b in base.items() if a != k}), 422).json["fields"] == ["/" + k]
    p = s.ok("POST", "/permits", {**base, "status": "granted", "serial": "x", "holder": "carl", "created_at": 1}, status=201)
    assert p["status"] == "requested" and p["holder"] == "anton" and p["company"] == "adler" and re.fullmatch("GHQ-[A-Za-z0-9]{10}", p["serial"])
    assert set(p) == set(base) | {"id", "serial", "company", "holder", "use", "tags", "status", "created_at", "changed_at"} and p["created_at"] == p["changed_at"]


@test
def load_fields(s):
    p, b = s.place()
    base = {"bench": b["id"], "tonnes": 1, "slot": FAR, "driver": "D"}
    path = f"/permits/{p['id']}/loads"
    fits(s, path, base, "anton", [
        ("bench", ["1", None, {"id": 1}], []), ("tonnes", [0, 41, 1.5, None], [40]), ("slot", ["x", None, 1], ["2027-01-01T00:00:00+01:00"]),
        ("driver", ["", "x" * 61, None], ["x" * 60]), ("note", ["x" * 141, None], [""]), ("permit", [p["id"] + 1, "x", None], [p["id"]]), ("foo", [1], [])],
        lambda n: {"slot": s.slot()})
    ld = s.load((p, b), gross_kg=5, weighings=9, company="brandt")
    assert ld["weighings"] == 0 and "gross_kg" not in ld and ld["company"] == "adler" and ld["permit"] == p["id"] and ld["booked_by"] == "anton"
    w = s.do("loads", ld["id"], "weigh", {"gross_kg": 31999, "tare_kg": 0}, "gate")
    assert (w["gross_kg"], w["tare_kg"], w["weighings"], w["status"]) == (31999, 0, 1, "weighed") and "fee" not in w
    assert s.ok("GET", f"/loads/{ld['id']}", who="fritz")["fee"] == 31999 * 1200 // 1000
    for bad in ({}, {"gross_kg": 1}, {"gross_kg": 60001, "tare_kg": 1}, {"gross_kg": 5, "tare_kg": -1}, {"gross_kg": "5", "tare_kg": 1}, {"gross_kg": 40000, "tare_kg": 30001}, [], 7):
        is_(s("POST", f"/loads/{ld['id']}/reweigh", bad, "gate"), 422, "invalid")
    r = s.ok("PATCH", f"/loads/{s.load((p, b))['id']}", {"driver": "Eva", "note": "n", "tonnes": 3})
    assert (r["driver"], r["note"], r["tonnes"]) == ("Eva", "n", 3)
    is_(s("PATCH", f"/loads/{r['id']}", {"slot": FAR}), 422, "invalid")
    is_(s("PATCH", f"/loads/{r['id']}", {"driver": None}), 422, "invalid")
    s.ok("PATCH", f"/loads/{r['id']}", {"slot": r["slot"], "bench": b["id"], "permit": p["id"]})
    is_(s("PATCH", f"/loads/{r['id']}", {"driver": "X"}, "berta"), 403, "forbidden")
    is_(s("PATCH", f"/loads/{r['id']}", {"driver": "X"}, "carl"), 404, "not_found")


@test
def remarks(s):
    ld, st = s.load(), s.stone()["id"]
    path = f"/loads/{ld['id']}/remarks"
    fits(s, path, {"text": "t"}, "south", [("text", ["", "x" * 501, None, 1], ["x" * 500]), ("urgent", [1, None], [True]), ("about", ["1", None], [st]), ("load", [ld["id"] + 1], [ld["id"]])], lambda n: {})
    is_(s("POST", path, {"text": "t", "about": 999}, "south"), 422, "no_such_reference")
    all_ = s.ok("GET", path)["remarks"]
    assert [r["id"] for r in all_] == sorted(r["id"] for r in all_) and all(r["author"] == "south-gate" for r in all_)
    assert all(r["urgent"] for r in s.ok("GET", path + "?urgent=true")["remarks"]) and len(s.ok("GET", path + "?urgent=false")["remarks"]) == len(all_) - 1
    is_(s("GET", path + "?urgent=yes"), 400, "bad_request")
    is_(s("POST", path, {"text": "t"}, "carl"), 404, "not_found")
    is_(s("DELETE", f"/remarks/{all_[0]['id']}", who="south"), 204)
    is_(s("DELETE", f"/remarks/{all_[0]['id']}", who="south"), 404, "not_found")


@test
def hooks(s):
    base = {"url": "http://127.0.0.1:9/x"}
    for k, wrong in (("url", ["x", None, "http://a.example/" + "x" * 300]), ("kinds", ["*", ["nothing"], ["stone.*", "x.*"], [1], ["*"] * 11]), ("active", [None, 1])):
        for v in wrong:
            is_(s("POST", "/hooks", {**base, k: v}, "fritz" if k == "url" else "oona"), 422, "invalid")
    r = is_(s("POST", "/hooks", {**base, "secret": "mine", "owner": "x"}), 201)
    h = r.json
    assert re.fullmatch("qs_[A-Za-z0-9]{32}", h["secret"]) and h["owner"] == "anton" and h["kinds"] == ["*"] and h["active"] is True
    shown = {k: v for k, v in h.items() if k != "secret"}
    assert s.ok("GET", f"/hooks/{h['id']}") == shown and s.ok("GET", "/hooks") == {"items": [shown], "total": 1, "more": False}
    u = s.ok("PATCH", f"/hooks/{h['id']}", {"kinds": ["load.*", "permit.ended"]})
    assert u["kinds"] == ["load.*", "permit.ended"] and "secret" not in u
    is_(s("PATCH", f"/hooks/{h['id']}", {"kinds": ["nope"]}), 422, "invalid")
    for m in ("GET", "PATCH", "DELETE"):
        is_(s(m, f"/hooks/{h['id']}", {} if m == "PATCH" else None, "berta"), 404, "not_found")
    is_(s("DELETE", f"/hooks/{h['id']}"), 204)
    is_(s("GET", f"/hooks/{h['id']}"), 404)


MATRIX = """
POST /stones: F | PATCH /stones/9: F | PUT /stones/9: F | DELETE /stones/9: F
POST /benches: F | GET /benches: FHW | GET /benches/9: FHW | PATCH /benches/9: F | DELETE /benches/9: F
POST /benches/9/start: F | POST /benches/9/rest: F | POST /benches/9/close: F | POST /benches/9/inspect: F
GET /estimates: FH
POST /permits: H | GET /permits: FHW | GET /permits/9: FHW | PATCH /permits/9: FH | DELETE /permits/9: H
POST /permits/9/grant: F | POST /permits/9/refuse: F | POST /permits/9/suspend: F | POST /permits/9/lift: F | POST /permits/9/withdraw: H
POST /permits/9/loads: H | GET /permits/9/loads: FH | GET /loads: FHW | GET /loads/9: FHW | PATCH /loads/9: H | DELETE /loads/9: H
POST /loads/9/weigh: W | POST /loads/9/reweigh: W | POST /loads/9/dispatch: W | POST /loads/9/deliver: H | POST /loads/9/cancel: H
POST /loads/9/remarks: FHW | GET /loads/9/remarks: FHW | DELETE /remarks/9: FHW
POST /hooks: FH | GET /hooks: FH | GET /hooks/9: FH | PATCH /hooks/9: FH | DELETE /hooks/9: FH
"""


@test
def who_may_what(s):
    for cell in MATRIX.replace("\n", "|").split("|"):
        if not cell.strip():
            continue
        (m, path), users = cell.split(":")[0].split(), cell.split(":")[1].strip()
        for u, who in (("F", "fritz"), ("H", "carl"), ("W", "gate")):
            r = s(m, path, {} if m in ("POST", "PATCH", "PUT") else None, who)
            assert (r.status != 403) == (u in users), (m, path, u, r)
            assert r.status in (200, 400, 403, 404, 422), (m, path, u, r)
        for who in (None, "forged", "stranger"):
            r = is_(s(m, path, who=who), 401, "unauthorized")
            assert "www-authenticate" in r.headers
    for path in ("/stones", "/hours", "/stones/1"):
        assert s("GET", path, who="forged").status in (200, 404)
    CRED["both"] = CRED["oona"] | {"Authorization": "Bearer " + jwt(sub="oona", role="foreman")}
    CRED["two"] = CRED["oona"] | CRED["anton"]
    is_(s("GET", "/permits", who="both"), 200)
    is_(s("GET", "/permits", who="two"), 401, "unauthorized")
    r = s("GET", "/permits", raw=None)
    assert {x.strip() for x in r.headers["vary"].split(",")} == {"Authorization", "X-Gate-Key"}


@test
def companies(s):
    at = s.place()
    p, ld = at[0], s.load(at)
    other = s.load(s.place(who="carl"), "carl")
    for who, mine in (("anton", True), ("berta", True), ("carl", False)):
        assert (s("GET", f"/permits/{p['id']}", who=who).status == 200) == mine
        assert (s("GET", f"/loads/{ld['id']}", who=who).status == 200) == mine
        assert (s("GET", f"/permits/{p['id']}/loads", who=who).status == 200) == mine
        assert [x["id"] for x in s.ok("GET", "/loads", who=who)["loads"]] == [ld["id"] if mine else other["id"]]
    assert len(s.ok("GET", "/loads", who="fritz")["loads"]) == len(s.ok("GET", "/loads", who="gate")["loads"]) == 2
    is_(s("POST", f"/loads/{ld['id']}/cancel", who="carl"), 404, "not_found")
    is_(s("POST", f"/permits/{p['id']}/withdraw", who="carl"), 404, "not_found")
    is_(s("GET", f"/permits/{p['id']}/loads", who="gate"), 403, "forbidden")
    assert s.do("permits", p["id"], "suspend", None, "oona")["status"] == "suspended"


@test
def states_of_permits(s):
    way = {"requested": "", "granted": "grant", "refused": "refuse", "withdrawn": "withdraw", "suspended": "grant suspend"}
    ok = {"grant": ["requested"], "refuse": ["requested"], "withdraw": ["requested", "granted"], "suspend": ["granted"], "lift": ["suspended"]}
    body = {"refuse": {"reason": "too steep"}}
    who = {"withdraw": "anton"}
    for state, steps in way.items():
        for verb, frm in ok.items():
            p = s.permit(granted=False)["id"]
            for x in steps.split():
                s.do("permits", p, x, body.get(x), who.get(x, "fritz"))
            assert s.status("permits", p) == state
            r = s("POST", f"/permits/{p}/{verb}", body.get(verb), who.get(verb, "fritz"))
            is_(r, 200 if state in frm else 409, None if state in frm else "already_decided" if verb in ("grant", "refuse") else "wrong_state")
        is_(s("PATCH", f"/permits/{p}", {"tonnes": 3}, If_Match="*"), *((200,) if state == "requested" else (409, "wrong_state")))
    p = s.permit(granted=False, valid_until="2020-01-01T00:00:00Z")["id"]
    is_(s("POST", f"/permits/{p}/grant", who="fritz"), 409, "permit_over")
    assert s.do("permits", p, "refuse", {"reason": "over"})["refused_because"] == "over"
    for bad in ({}, {"reason": "xx"}, {"reason": "x" * 121}, {"reason": 1}, []):
        is_(s("POST", f"/permits/{s.permit(granted=False)['id']}/refuse", bad, "fritz"), 422, "invalid")
    is_(s("DELETE", f"/permits/{p}"), 204)
    is_(s("DELETE", f"/permits/{s.permit()['id']}"), 409, "wrong_state")
    is_(s("GET", f"/permits/{p}", who="fritz"), 404, "not_found")


@test
def states_of_loads(s):
    at = s.place()
    way = {"booked": "", "weighed": "weigh", "dispatched": "weigh dispatch", "delivered": "weigh dispatch deliver", "cancelled": "cancel"}
    ok = {"weigh": "booked", "reweigh": "weighed", "dispatch": "weighed", "deliver": "dispatched", "cancel": "booked"}
    body = {"weigh": {"gross_kg": 2, "tare_kg": 1}, "reweigh": {"gross_kg": 2, "tare_kg": 1}}
    who = {"weigh": "gate", "reweigh": "gate", "dispatch": "gate"}
    for state, steps in way.items():
        for verb, frm in ok.items():
            n = s.load(at)["id"]
            for x in steps.split():
                s.do("loads", n, x, body.get(x), who.get(x, "anton"))
            r = s("POST", f"/loads/{n}/{verb}", body.get(verb), who.get(verb, "anton"))
            is_(r, 200 if state == frm else 409, None if state == frm else "too_late" if verb == "cancel" else "wrong_state")
        is_(s("PATCH", f"/loads/{n}", {"driver": "Z"}), 423, "load_on_its_way") if state not in ("booked",) else None
    is_(s("DELETE", f"/loads/{s.load(at)['id']}"), 409, "wrong_state")
    p = at[0]["id"]
    s.do("permits", p, "withdraw", None, "anton")
    is_(s("DELETE", f"/permits/{p}"), 409, "in_use")
    d = s.ok("GET", "/loads?status=dispatched,delivered")["loads"]
    assert d and all(re.fullmatch(STAMP, x["left_at"]) for x in d)


@test
def states_of_benches(s):
    st = s.stone()["id"]
    way = {"surveyed": "", "working": "start", "resting": "start rest", "closed": "start close"}
    ok = {"start": ["surveyed"], "rest": ["working"], "close": ["working", "resting"], "inspect": ["closed"]}
    body = {"close": {"reason": "rockfall"}, "inspect": {"sound": True}}
    for state in way:
        for verb, frm in ok.items():
            b = s.bench(st, state)["id"]
            r = is_(s("POST", f"/benches/{b}/{verb}", body.get(verb), "fritz"), 200 if state in frm else 409, None if state in frm else "wrong_state")
        patch = s("PATCH", f"/benches/{s.bench(st, state)['id']}", {"capacity_t": 2}, "fritz")
        is_(patch, 409 if state == "closed" else 200)
        is_(s("DELETE", f"/benches/{s.bench(st, state)['id']}", who="fritz"), 204 if state == "surveyed" else 409)
    b = s.bench(st, "closed")
    assert b["closed_because"] == "done with"
    r = s.do("benches", b["id"], "inspect", {"sound": False})
    assert r["status"] == "condemned" and re.fullmatch(STAMP, r["inspected_at"])
    is_(s("DELETE", f"/benches/{b['id']}", who="fritz"), 204)
    is_(s("GET", f"/benches/{s.bench(st, 'surveyed')['id']}", who="gate"), 404, "not_found")


@test
def the_clock(s):
    at = s.place()
    st = s.stone()["id"]
    p, b, ld = s.permit(granted=False)["id"], s.bench(st, "resting")["id"], s.load(at)["id"]
    w = s.weighed(at=at)["id"]
    s.clock("PT1H59M")
    assert s.status("loads", w) == "weighed"
    s.clock("PT2M")
    assert s.status("loads", w) == "booked"
    s.clock("PT5H58M")
    assert s.status("benches", b) == "resting"
    s.clock("PT2M")
    assert s.status("benches", b) == "working" and s.status("loads", ld) == "booked"
    s.clock("PT4H")
    assert s.status("loads", ld) == "lapsed" and s.status("loads", w) == "booked"
    is_(s("DELETE", f"/loads/{ld}"), 204)
    s.clock("P6DT11H")
    assert s.status("permits", p) == "requested"
    s.clock("PT1H1M")
    assert s.status("permits", p) == "lapsed"
    c = http.client.HTTPConnection("127.0.0.1", s.clock_port)
    for m, b, n in (("POST", {"now": "2020-01-01T00:00:00Z"}, 422), ("POST", {"advance": "soon"}, 400), ("POST", {}, 400), ("PUT", {}, 400), ("GET", None, 200)):
        assert s.send(c, m, "/", None if b is None else json.dumps(b), {}).status == n
    c.close()


@test
def lists(s):
    for n, (g, d) in enumerate([("rough", 2), ("crushed", 3), ("dressed", 4), ("rough", 5)]):
        s.stone(name=f"N{n}", grade=g, density=d)
    def ids(q): return [x["id"] for x in s.ok("GET", "/stones" + q)["items"]]
    assert ids("") == [4, 3, 2, 1] == ids("?sort=-density") and ids("?sort=density") == [1, 2, 3, 4]
    s.clock("PT1S"), s.stone(name="late", density=1)
    assert ids("?sort=-added_at")[0] == 5
    assert ids("?grade=rough") == [4, 1, 5] and ids("?name=n2") == [3] and ids("?min_density=4.5") == [4] and ids("?per_page=2&page=2") == [2, 1]
    assert s.ok("GET", "/stones?page=9") == {"items": [], "total": 5, "more": False}
    for q in ("page=0", "page=x", "per_page=0", "per_page=-1", "per_page=x"):
        is_(s("GET", "/stones?" + q), 400, "bad_page")
    for q in ("grade=raw", "min_density=x", "sort=name", "colour=red", "name=a&name=b"):
        is_(s("GET", "/stones?" + q), 400, "bad_request")
    for _ in range(12):
        s.bench(5, "surveyed")
    r = s.ok("GET", "/benches", who="fritz")
    assert len(r["benches"]) == 10 and r["more"] and set(r) == {"benches", "more"}
    names = [b["name"] for b in r["benches"]]
    assert names == sorted(names)
    t = s.ok("GET", f"/benches?starting_after={r['benches'][-1]['id']}", who="fritz")
    assert len(t["benches"]) == 2 and not t["more"]
    assert s.ok("GET", f"/benches?limit=50&ending_before={t['benches'][0]['id']}", who="fritz") == {"benches": r["benches"], "more": False}
    assert s.ok("GET", "/benches?status=working", who="fritz")["benches"] == [] and len(s.ok("GET", "/benches?stone=5&limit=50", who="fritz")["benches"]) == 12
    for q in ("limit=0", "limit=51", "starting_after=999", "starting_after=x"):
        is_(s("GET", "/benches?" + q, who="fritz"), 400, "bad_page")
    is_(s("GET", "/benches?status=open", who="fritz"), 400, "bad_request")
    for i in range(21):
        s.stone()
    assert len(s.ok("GET", "/stones")["items"]) == 20


@test
def lists_of_loads(s):
    p, b = s.place()
    made = [s.load((p, b), tonnes=1 + n % 2, driver="Dora" if n % 2 else "Emil", slot=f"2027-06-0{1 + n // 2}T0{n % 2}:00:00Z")["id"] for n in range(8)]
    assert [x["id"] for x in s.ok("GET", "/loads")["loads"]] == made[::-1]
    assert [x["id"] for x in s.ok("GET", f"/permits/{p['id']}/loads")["items"]] == made
    got, q = [], ""
    while q is not None:
        r = s.ok("GET", "/loads?limit=3" + q)
        assert set(r) == {"loads", "next", "more"} and r["more"] == (r["next"] is not None)
        got += [x["id"] for x in r["loads"]]
        q = r["next"] and "&cursor=" + r["next"]
    assert got == made[::-1]
    c = s.ok("GET", "/loads?limit=3")["next"]
    is_(s("GET", "/loads?driver=or&cursor=" + c), 400, "bad_page")
    is_(s("GET", "/loads?cursor=zzz"), 400, "bad_page")
    is_(s("GET", "/loads?limit=51"), 400, "bad_page")
    assert len(s.ok("GET", "/loads?driver=or")["loads"]) == 4 and s.ok("GET", "/loads?driver=DORA")["loads"] == []
    assert len(s.ok("GET", "/loads?slot_from=2027-06-02T00:00:00Z&slot_before=2027-06-03T00:00:00Z")["loads"]) == 2
    assert len(s.ok("GET", f"/loads?bench={b['id']}")["loads"]) == 8 and s.ok("GET", "/loads?bench=999")["loads"] == []
    is_(s("GET", "/loads?slot_from=x"), 400, "bad_request")
    is_(s("GET", f"/permits/{p['id']}/loads?status=booked"), 400, "bad_request")


@test
def updates(s):
    st = s.stone(colour="red", leaflet="https://a.example")
    path = f"/stones/{st['id']}"
    s.clock("PT1S")
    r = s("PATCH", path, {"colour": None, "price": 5, "id": 77}, "fritz", Content_Type="application/merge-patch+json")
    assert r.json["price"] == 5 and "colour" not in r.json and r.json["id"] == st["id"] and r.json["changed_at"] > st["changed_at"]
    assert r.headers["etag"] == s("GET", path).headers["etag"]
    is_(s("PATCH", path, {"price": 6}, "fritz", If_Match='"x"'), 412, "changed_meanwhile")
    is_(s("PATCH", path, {"price": 6}, "fritz", If_Match="W/" + r.headers["etag"]), 412)
    is_(s("PATCH", path, {"price": 6}, "fritz", If_Match='"x", ' + r.headers["etag"]), 200)
    is_(s("PATCH", path, {"name": None}, "fritz"), 422, "invalid")
    is_(s("PATCH", path, {"foo": 1}, "fritz"), 422, "invalid")
    is_(s("PUT", path, STONE, "fritz"), 428, "if_match_needed")
    is_(s("PUT", path, {"name": "x"}, "fritz", If_Match="*"), 422, "invalid")
    assert "leaflet" not in s.ok("PUT", path, STONE, "fritz", If_Match="*")
    p = s.permit(granted=False, gate_pin="1111")
    e = s("GET", f"/permits/{p['id']}").headers["etag"]
    assert s("GET", f"/permits/{p['id']}", base=V1).headers["etag"] != e
    is_(s("PATCH", f"/permits/{p['id']}", {"tonnes": 4}, "carl", If_Match=e), 404)
    r = is_(s("PATCH", f"/permits/{p['id']}", {"tonnes": 4, "use": "paving"}, "berta", If_Match=e), 200)
    is_(s("PATCH", f"/permits/{p['id']}", {"use": None}, If_Match=r.headers["etag"]), 422, "invalid")
    s.permit(reference="taken", granted=False)
    is_(s("PATCH", f"/permits/{p['id']}", {"reference": "taken"}, If_Match="*"), 409, "duplicate")
    b = s.bench()
    is_(s("PATCH", f"/benches/{b['id']}", {"stone": 999}, "fritz"), 422, "no_such_reference")
    assert s.ok("PATCH", f"/benches/{b['id']}", {"spot": {"level_m": 3}}, "fritz")["spot"]["easting"] == 1


@test
def rules_of_loads(s):
    p, b = s.place(tonnes=10)
    is_(s.book(p, b, tonnes=11), 422, "over_permit")
    is_(s.book(p, b, tonnes=10), 201)
    is_(s.book(p, {"id": 999}), 422, "no_such_reference")
    is_(s.book(s.permit(stone=p["stone"], granted=False), b), 409, "permit_not_granted")
    is_(s.book(p, s.bench(p["stone"], "closed")), 409, "bench_not_working")
    is_(s.book({"id": 999}, b), 404, "not_found")
    body = {"bench": b["id"], "tonnes": 11, "slot": FAR, "driver": "D"}
    for _ in range(2):
        is_(s("POST", f"/permits/{p['id']}/loads", body, Idempotency_Key="e"), 422, "over_permit")
    is_(s("POST", f"/permits/{p['id']}/loads", {**body, "tonnes": 1}, Idempotency_Key="e"), 422, "key_reused")


@test
def errors(s):
    is_(s("GET", "/nothing"), 404, "not_found")
    is_(s("GET", "/stones/", ), 404, "not_found")
    is_(s("GET", "/stones", base=""), 404, "not_found")
    for x in ("0", "x", "1.5", "-1", "01", "99999999999999999999"):
        is_(s("GET", "/stones/" + x), 404, "not_found")
    for m, p, allow in (("PUT", "/stones", "GET, POST"), ("POST", "/stones/1", "DELETE, GET, PATCH, PUT"), ("GET", "/permits/1/grant", "POST"), ("OPTIONS", "/hours", "GET")):
        assert is_(s(m, p), 405, "method_not_allowed").headers["allow"] == allow
    for raw in (b"", b"{", b"nope", b'{"a":NaN}', b"\xff", b'{"a":1}x'):
        is_(s("POST", "/stones", who="fritz", raw=raw), 400, "bad_request")
    for v in (b"[]", b"7", b"null", b'"x"'):
        is_(s("POST", "/stones", who="fritz", raw=v), 422, "invalid")
    is_(s("POST", "/stones", who="fritz", raw=b"a=1", Content_Type="application/x-www-form-urlencoded"), 415, "media_type")
    is_(s("POST", "/stones", STONE, "fritz", Content_Type="application/merge-patch+json"), 415)
    is_(s("GET", "/stones", Accept="text/html"), 406, "not_acceptable")
    is_(s("GET", "/stones", Accept="*/*, application/json;q=0"), 406)
    for a in ("*/*", "application/*", "text/html, application/json;q=0.1"):
        is_(s("GET", "/stones", Accept=a), 200)
    r = is_(s("POST", "/stones", {"price": -1, "x": 1}, "fritz"), 422)
    assert set(r.json["fields"]) == {"/price", "/x", "/name", "/grade", "/density"}
    s.do("permits", s.permit(granted=False)["id"], "withdraw", {"ignored": True}, "anton")
    assert is_(s("POST", "/loads/9/weigh", {"gross_kg": 1, "tare_kg": 2}, "gate"), 404)
    assert s("POST", f"/loads/{s.load()['id']}/weigh", {"gross_kg": 1, "tare_kg": 2}, "gate").json["title"] == "Gross must be more than tare."


@test
def limits(s):
    size = 16384 - len(json.dumps({**STONE, "name": ""}))
    is_(s("POST", "/stones", {**STONE, "name": "x" * size}, "fritz"), 422, "invalid")
    is_(s("POST", "/stones", {**STONE, "name": "x" * (size + 1)}, "fritz"), 413, "too_large")
    is_(s("GET", "/stones", Pad="x" * 17000), 413, "too_large")
    n = 2048 - len("/quarry/v2/stones?name=")
    is_(s("GET", "/stones?name=" + "x" * n), 400)
    is_(s("GET", "/stones?name=" + "x" * (n + 1)), 413, "too_large")
    k = socket.create_connection(("127.0.0.1", s.port))
    began = time.time()
    k.sendall(b"POST /quarry/v2/stones HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{")
    k.settimeout(15)
    assert k.recv(4096).startswith(b"HTTP/1.1 503") and 9 < time.time() - began < 12
    k.close()
    for _ in range(399):
        is_(s("GET", "/permits", who="berta"), 200)
    is_(s("GET", "/loads", who="berta"), 429, "slow_down")
    is_(s("GET", "/permits", who="berta"), 200)
    assert "retry-after" in is_(s("GET", "/permits", who="berta"), 429).headers
    is_(s("GET", "/permits", who="forged"), 401)
    is_(s("GET", "/permits"), 200)
    s.clock("PT61S")
    is_(s("GET", "/permits", who="berta"), 200)


@test
def versions(s):
    assert s.ok("GET", "/hours", who=None) == {"opens": "06:30", "closes": "17:00", "zone": "Europe/Berlin"}
    assert s("GET", "/hours").headers["cache-control"] == "public, max-age=3600"
    b = s.bench()
    assert s.ok("GET", f"/benches/{b['id']}", base=V1)["colour"] == "grey" and "colour" not in b
    s.ok("POST", "/benches", {"name": "Q9", "stone": b["stone"], "spot": {"easting": 1, "northing": 1}, "capacity_t": 3, "colour": "red"}, "fritz", base=V1, status=201)
    is_(s("POST", "/benches", {"name": "Q8", "stone": b["stone"], "spot": {"easting": 1, "northing": 1}, "capacity_t": 3, "colour": "red"}, "fritz"), 422, "invalid")
    is_(s("POST", "/stones", {**STONE, "grade": "raw", "hazard": True}, "fritz", base=V1), 422, "invalid")
    is_(s("POST", "/stones", STONE, "fritz", base=V1), 422, "invalid")
    st = s.stone(price=1234)
    assert s.ok("GET", f"/stones/{st['id']}", base=V1)["price"] == 12.34
    r = s.ok("PATCH", f"/stones/{st['id']}", {"price": 0.57}, "fritz", base=V1)
    assert r["price"] == 0.57 and r["grade"] == "raw" and s.ok("GET", f"/stones/{st['id']}")["price"] == 57
    assert s.ok("GET", "/stones?grade=raw", base=V1)["total"] == 2
    is_(s("GET", "/stones?grade=rough", base=V1), 400, "bad_request")
    p = s.permit(granted=False)
    e = s("GET", f"/permits/{p['id']}", base=V1)
    assert e.json["lorry"] == "AB-12" and "vehicle" not in e.json
    is_(s("PATCH", f"/permits/{p['id']}", {"vehicle": "Z-1"}, base=V1, If_Match="*"), 422, "invalid")
    is_(s("PATCH", f"/permits/{p['id']}", {"lorry": "Z-1"}, base=V1, If_Match=s("GET", f"/permits/{p['id']}").headers["etag"]), 412)
    is_(s("PATCH", f"/permits/{p['id']}", {"lorry": "Z-1"}, base=V1, If_Match=e.headers["etag"]), 200)
    assert s.ok("GET", f"/permits/{p['id']}")["vehicle"] == "Z-1"
    is_(s("GET", "/permits/999", base=V1), 404)
    assert "deprecation" in s("GET", "/permits/999", base=V1).headers


@test
def events(s):
    at = s.place()
    all_, few, mine = s.hook(), s.hook(kinds=["load.moved", "bench.*"]), s.hook("carl")
    p = s.permit(granted=False)["id"]
    s.ok("PATCH", f"/permits/{p}", {"tonnes": 9}, If_Match="*")
    s.do("permits", p, "refuse", {"reason": "too dry"})
    ld = s.weighed(at=at, gross=45000)["id"]
    s.do("loads", ld, "dispatch", None, "gate")
    s.do("loads", ld, "deliver", None, "anton")
    s.do("loads", s.load(at)["id"], "cancel", None, "anton")
    r = s.ok("POST", f"/loads/{ld}/remarks", {"text": "x"}, status=201)["id"]
    s.ok("DELETE", f"/remarks/{r}", status=204)
    s.ok("PATCH", f"/stones/{s.stone()['id']}", {"price": 1}, "fritz")
    s.bench(to="resting")
    s.clock("PT8H1S")
    want = ["permit.requested", "permit.changed", "permit.decided", "load.booked", "load.heavy", "load.moved", "load.moved", "load.booked", "load.dropped", "remark.removed", "stone.changed", "bench.woken"]
    all_.wait(len(want))
    assert sorted(all_.kinds()) == sorted(want), all_.kinds()
    assert [k for k in all_.kinds() if k.startswith("permit")] == want[:3]
    got = {e["kind"]: e for e in all_.wait(1)}
    assert got["permit.decided"]["data"] == {"permit": p, "status": "refused"} and got["remark.removed"]["data"] == {"id": r, "load": ld}
    assert all(set(e) == {"id", "kind", "at", "data"} and re.fullmatch(STAMP, e["at"]) for e in got.values()) and len({e["id"] for e in all_.wait(1)}) == len(want)
    assert got["load.moved"]["data"] == s.ok("GET", f"/loads/{ld}", who="fritz")
    assert sorted(few.kinds()) == ["bench.woken", "load.moved", "load.moved"]
    mine.wait(2)
    assert sorted(mine.kinds()) == ["bench.woken", "stone.changed"], mine.kinds()
    s.ok("PATCH", f"/hooks/{few.id}", {"active": False}, "fritz")
    n = len(few.got)
    s.do("loads", s.weighed(at=at)["id"], "dispatch", None, "gate")
    few.only(n)


if __name__ == "__main__":
    failed = 0
    for t in TESTS:
        if sys.argv[1:] and t.__name__ not in sys.argv[1:]:
            continue
        s = Service()
        try:
            t(s)
        except Exception:
            import traceback
            traceback.print_exc()
            failed += 1
        finally:
            s.close()
    print(f"{failed} failed" if failed else f"all hold ({Service.count} requests)")
    sys.exit(bool(failed))
