#!/usr/bin/env python3
"""The right service against its document, statement by statement, where faults-test.py does not already do it.

document-test.py [NAME ...]   only these
"""
import sys
import traceback
from harness import *

TESTS = []
ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


def test(f):
    TESTS.append(f)
    return f


def ids(r):
    return [x.get("id") or x["code"] for x in r.json]


@test
def barge_fields(s):
    wrong = {
        "plate": ["ab-1234", "ABC-123", "AB1234", "AB-123", "AB-1234\n", "", 7, None], "name": ["", "x" * 41, 1, None],
        "length_cm": [299, 11001, 900.5, "900", True, None, 1e300], "draught_cm": [29, 401, "100", None], "cargo": ["coal", "", 1, None],
        "laid_up": ["true", 0, None], "power": [-0.1, 2000.1, "7", None], "insured_until": ["2026-13-01", "2026-1-1", "2026-01-01T00:00:00Z", 20260101, None],
        "berth": ["x", {}, {"quay": ""}, {"quay": "x" * 31}, {"quay": "x", "number": 0}, {"quay": "x", "number": 501}, {"quay": "x", "side": 1}, None],
        "flags": ["red", [1], ["r"], ["Red"], ["x" * 13], ["aa", "bb", "cc", "dd", "ee"], None], "colour": ["red", None],
    }
    for k, values in wrong.items():
        for v in values:
            r = is_(s("POST", "/barges", s.a_barge(**{k: v})), 422, "does_not_fit")
            assert places(r)[0].startswith("/" + k), r
    for k in ("plate", "name", "length_cm", "draught_cm"):
        body = s.a_barge()
        del body[k]
        assert places(is_(s("POST", "/barges", body), 422, "does_not_fit")) == ["/" + k]
    full = {"plate": "ZZ-0000", "name": "\u00e9" * 40, "length_cm": 11000, "draught_cm": 400, "cargo": "timber", "laid_up": True, "power": 12.5,
            "insured_until": "2028-02-29", "berth": {"quay": "x" * 30, "number": 500}, "flags": ["ab", "cd", "ef", "abcdefghijkl"]}
    b = is_(s("POST", "/barges", {**full, "id": "mine", "skipper": 7, "touched_at": None}), 201).json
    assert {k: b[k] for k in full} == full and set(b) == set(full) | {"id", "skipper", "registered_at", "touched_at"}
    assert re.fullmatch(r"brg_[A-Za-z0-9]{10}", b["id"]) and b["skipper"] == "arne" and re.fullmatch(ISO, b["touched_at"])
    assert s("GET", "/barges/" + b["id"]).json == b
    b = s.barge(length_cm=300, draught_cm=30, power=0)
    assert b["cargo"] == "empty" and b["laid_up"] is False and "berth" not in b and b["power"] == 0
    is_(s("POST", "/barges", raw=b'{"plate":"AA-0001","name":"\\ud83d\\udea2","length_cm":9e2,"draught_cm":100.0}'), 201)
    for raw in (b"[]", b'"x"', b"1", b"null"):
        is_(s("POST", "/barges", raw=raw), 422, "does_not_fit")
    for raw in (b"", b"{", b"{}x", b'{"a":01}', b'{"a":"\x01"}', b"\xff", b"[1,]"):
        is_(s("POST", "/barges", raw=raw), 400, "not_json")
    is_(s("POST", "/barges"), 400, "not_json")


@test
def barge_changes(s):
    b = s.barge(power=5, berth={"quay": "East", "number": 3})
    path = "/barges/" + b["id"]
    r = is_(s("PATCH", path, {"berth": {"number": None}, "power": None, "cargo": "grain"}), 200).json
    assert r["berth"] == {"quay": "East"} and "power" not in r and r["cargo"] == "grain"
    for body in ({"name": None}, {"cargo": None}, {"berth": {"quay": None}}, {"plate": "QQ-0000"}, {"colour": 1}, {"length_cm": 1}, []):
        is_(s("PATCH", path, body), 422, "does_not_fit")
    is_(s("PATCH", path, {"plate": b["plate"], "skipper": "brita"}, Content_Type="application/merge-patch+json"), 200)
    is_(s("PUT", path, {}, Content_Type="application/merge-patch+json"), 415, "not_that_type")
    body = {k: b[k] for k in ("plate", "name", "length_cm", "draught_cm")}
    r = is_(s("PUT", path, body), 200).json
    assert r["cargo"] == "empty" and "berth" not in r and r["id"] == b["id"] and r["registered_at"] == b["registered_at"]
    is_(s("PUT", path, {**body, "plate": "QQ-0000"}), 422, "does_not_fit")
    is_(s("PUT", path, {"name": "x"}), 422, "does_not_fit")
    is_(s("PATCH", path, {"cargo": "gravel", "draught_cm": 79}), 422, "light_gravel")
    other = s.barge()
    is_(s("PATCH", path, {"name": other["name"]}), 409, "already_there")
    is_(s("PUT", path, {**body, "name": other["name"]}), 409, "already_there")
    tag = s("GET", path).headers["etag"]
    is_(s("PATCH", path, {"power": 1}, If_Match='"x", ' + tag), 200)
    for m, body in (("PATCH", {"power": 2}), ("PUT", body), ("DELETE", None)):
        is_(s(m, path, body, If_Match=tag), 412, "changed_since")
        is_(s(m, path, body, If_Match="W/" + s("GET", path).headers["etag"]), 412, "changed_since")
    # what is not there comes before what does not match, and that before what does not fit
    is_(s("PATCH", path, {"power": -2}, If_Match=tag), 412, "changed_since")
    is_(s("PATCH", "/barges/brg_none", {"power": -2}, If_Match=tag), 404, "gone_or_never")
    assert s("GET", path, old=True).headers["etag"] != s("GET", path).headers["etag"]
    is_(s("GET", path, If_None_Match='"x"'), 200)
    r = is_(s("GET", path, If_None_Match="*"), 304)
    assert r.text == "" and r.headers["etag"]
    is_(s("DELETE", path, If_Match="*"), 204)
    for m in ("GET", "PATCH", "PUT", "DELETE"):
        is_(s(m, path, {}), 404, "gone_or_never")


@test
def locks(s):
    good = {"code": "upper", "title": "Upper gate", "chamber_cm": 4000, "toll": 0}
    for k, values in {"code": ["ab", "x" * 13, "Upper", "up-per", 1, None], "title": ["", "x" * 61, None], "chamber_cm": [999, 20001, None], "toll": [-1, 100001, "1"],
                      "open": ["yes", None], "channel": [0, 89]}.items():
        for v in values:
            is_(s("POST", "/locks", {**good, k: v}, "kaja"), 422, "does_not_fit")
    r = is_(s("POST", "/locks", good, "kaja"), 201)
    assert r.json == {**good, "keeper": "kaja", "open": True, "opened_at": r.json["opened_at"]} and r.headers["location"] == "/canal/api/locks/upper"
    is_(s("POST", "/locks", good, "ulf"), 409, "already_there")
    path = "/locks/upper"
    assert s("GET", path, who=None).json == s("GET", path, who="arne").json == r.json
    assert s("GET", path, who=None).headers["cache-control"] == "public, max-age=120"
    is_(s("PATCH", path, {"code": "other"}, "kaja"), 422, "does_not_fit")
    is_(s("PATCH", path, {"toll": 5}), 403, "no_business")
    is_(s("PATCH", path, {"toll": 5}, None), 401, "stranger")
    is_(s("PATCH", path, {"toll": 5}, "kaja", If_Match='"no"'), 412, "changed_since")
    is_(s("PATCH", path, {"toll": 5, "channel": 20}, "kaja"), 200)
    is_(s("DELETE", path, who="mons"), 403, "no_business")
    is_(s("PUT", path, good, "kaja"), 405, "not_done_here")
    is_(s("DELETE", path, who="kaja"), 204)
    is_(s("GET", path), 404, "gone_or_never")
    s.lock("mons", chamber_cm=2000, open=False), s.lock(chamber_cm=3000), s.lock("ulf", chamber_cm=3000)
    assert [x["keeper"] for x in s("GET", "/locks", who=None).json] == ["kaja", "ulf", "mons"]
    assert [x["keeper"] for x in s("GET", "/locks?open=true&min_chamber=3000&keeper=ulf").json] == ["ulf"]
    for q in ("open=1", "min_chamber=x", "min_chamber=", "order_by=toll", "open=true&open=false", "edition=spring"):
        is_(s("GET", "/locks?" + q), 400, "odd_question")


@test
def passages(s):
    for k, values in {"barge": [1, None, {}], "lock": [1, None], "direction": ["upstream", 1, None], "crew": [0, 13, "3", None], "eta": ["tomorrow", "2027-02-30T10:00:00Z", 1],
                      "memo": ["x" * 201, 1, None], "sealed": ["no", None], "pin": ["12345", "abcdef", 123456, None], "note": ["x"]}.items():
        for v in values:
            body = s.a_passage()
            body[k] = v
            is_(s("POST", "/passages", body), 422, "does_not_fit")
    is_(s("POST", "/passages", s.a_passage(), "kaja"), 403, "no_business")
    for k, v in (("barge", "brg_none"), ("lock", "none"), ("barge", s.barge("brita")["id"])):
        assert places(is_(s("POST", "/passages", s.a_passage(**{k: v})), 422, "points_nowhere")) == ["/" + k]
    r = is_(s("POST", "/passages", s.a_passage(memo="", pin="000000", eta="2027-01-01t10:00:00.5+01:00", toll=1, status="through")), 201)
    p = r.json
    assert set(p) == {"id", "skipper", "barge", "lock", "direction", "crew", "eta", "memo", "sealed", "status", "toll", "wait_until", "booked_at", "touched_at"}
    assert p["toll"] == 450 and p["status"] == "booked" and p["eta"] == "2027-01-01t10:00:00.5+01:00" and p["sealed"] is False
    path = "/passages/" + p["id"]
    tag = r.headers["etag"]
    assert s("GET", path).headers["etag"] == tag and s("GET", path).json == p
    is_(s("PATCH", path, {"crew": 12}), 428, "tag_missing")
    is_(s("PATCH", path, {"crew": 13}, If_Match=tag), 422, "does_not_fit")
    r = is_(s("PATCH", path, {"crew": 12, "memo": None, "pin": None}, If_Match=tag), 200)
    assert r.json["crew"] == 12 and "memo" not in r.json and r.headers["etag"] != tag
    is_(s("PATCH", path, {"crew": 1}, If_Match=tag), 412, "changed_since")
    is_(s("PATCH", path, {"crew": 1}, "kaja", If_Match="*"), 403, "no_business")
    is_(s("PATCH", path, {"crew": 1}, "brita", If_Match="*"), 404, "gone_or_never")
    is_(s("PUT", path, {}), 405, "not_done_here")
    is_(s("DELETE", "/barges/" + p["barge"]), 409, "still_used")
    e = s.made(path + "/log", {"text": "x"}, "arne")
    is_(s("DELETE", path), 204)
    is_(s("GET", path + "/log/" + e["id"]), 404, "gone_or_never")
    is_(s("DELETE", "/barges/" + p["barge"]), 204)


@test
def the_machine(s):
    verbs = {"arrive": None, "admit": None, "pass": {"water_cm": 200}, "refloat": None, "cancel": None}
    may = {"booked": {"arrive": "waiting", "cancel": "cancelled"}, "waiting": {"admit": "chamber", "cancel": "cancelled"}, "chamber": {"pass": "through"},
           "aground": {"refloat": "chamber"}, "through": {}, "cancelled": {}}
    words = {"arrive": "not_booked", "admit": "not_waiting"}
    for state, to in may.items():
        for verb, body in verbs.items():
            p = s.brought(state)
            assert s.status(p) == state
            r = s.do(p, verb, body)
            if verb in to:
                assert is_(r, 200).json["status"] == to[verb]
            else:
                is_(r, 409, words.get(verb, "not_now"))
        p = s.brought(state)
        is_(s("PATCH", "/passages/" + p["id"], {"crew": 5}, If_Match="*"), 200 if state == "booked" else 409)
        is_(s("DELETE", "/passages/" + p["id"]), 204 if state in ("booked", "cancelled") else 409)
    p = s.brought("chamber")
    for body in ({}, {"water_cm": -1}, {"water_cm": 901}, {"water_cm": "9"}, {"water_cm": None}, []):
        is_(s.do(p, "pass", body), 422, "does_not_fit")
    is_(s.do(p, "pass"), 400, "not_json")
    is_(s.do(p, "pass", {"water_cm": 1}, "arne"), 403, "no_business")
    is_(s.do(p, "pass", {"water_cm": 1}, "ulf"), 404, "gone_or_never")
    assert s.do(p, "pass", {"water_cm": 900, "more": 1}).json["water_cm"] == 900
    is_(s.do(p, "arrive", raw=b"no json at all", Content_Type="text/plain"), 409, "not_booked")
    q = s.brought("waiting")
    is_(s.do(q, "admit", who="arne"), 403, "no_business")
    is_(s.do(q, "cancel", who="brita"), 404, "gone_or_never")
    # refloating into a chamber that is taken
    one = s.brought("aground")
    two = s.brought("chamber", lock=one["lock"])
    is_(s.do(one, "refloat"), 409, "already_there")
    is_(s.do(two, "pass", {"water_cm": 300}), 200)
    is_(s.do(one, "refloat"), 200)


@test
def the_clock(s):
    start = s.clock()
    p, q, w = s.passage(), s.passage(sealed=True), s.brought("waiting")
    assert s("GET", "/passages/" + w["id"]).json["wait_until"][:13] != w["wait_until"][:13]
    s.clock(6 * HOUR - 30)
    assert s.status(w) == "waiting"
    s.clock(31)
    r = s("GET", "/passages/" + w["id"]).json
    assert r["status"] == "turned_away" and r["ended_at"] == r["touched_at"]
    is_(s.do(w, "arrive"), 409, "not_booked")
    s.clock(3 * DAY - 6 * HOUR + 5)
    assert s.status(p) == "missed" and s.status(q) == "booked"
    # a transition that its condition has cancelled does not come back
    is_(s("PATCH", "/passages/" + q["id"], {"sealed": False}, If_Match="*"), 200)
    s.clock(4 * DAY)
    assert s.status(q) == "booked"
    is_(s("DELETE", "/passages/" + p["id"]), 204), is_(s("DELETE", "/passages/" + w["id"]), 204)
    for body, status in (({"advance": "P1D"}, 200), ({"advance": "P1M"}, 200), ({"advance": "1h"}, 400), ({"advance": "PT"}, 400), ({}, 400), ({"now": start}, 422), ({"now": "x"}, 400)):
        assert s.send(s.clock_port, "POST", "/", json.dumps(body), {}).status == status, body
    assert s.send(s.clock_port, "POST", "/", "x", {}).status == 400 and s.send(s.clock_port, "PUT", "/", "{}", {}).status == 400
    assert s.clock(now="2031-06-01T00:00:00+02:00")[:19] == "2031-05-31T22:00:00"


@test
def the_log(s):
    p = s.passage()
    path = f"/passages/{p['id']}/log"
    for body in ({}, {"text": ""}, {"text": "x" * 401}, {"text": "x", "grade": 0}, {"text": "x", "grade": 6}, {"text": "x", "passage": "other"}, {"text": "x", "barge": None}):
        is_(s("POST", path, body), 422, "does_not_fit")
    is_(s("POST", path, {"text": "x", "barge": "brg_none"}), 422, "points_nowhere")
    is_(s("POST", path, {"text": "x", "barge": s.barge("brita")["id"]}), 422, "points_nowhere")
    is_(s("POST", path, {"text": ""}, "brita"), 404, "gone_or_never")
    is_(s("POST", path, {"text": ""}, "mons"), 404, "gone_or_never")
    is_(s("POST", "/passages/none/log", {"text": "x"}), 404, "gone_or_never")
    r = is_(s("POST", path, {"text": "one", "grade": 2, "passage": p["id"]}), 201)
    assert r.headers["location"] == "/canal/api" + path + "/" + r.json["id"] and re.fullmatch(r"log-[A-Za-z0-9]{16}", r.json["id"])
    s.made(path, {"text": "two"}, "kaja"), s.made(path, {"text": "three", "grade": 5}, "arne"), s.made(path, {"text": "four"}, "arne")
    assert [e["text"] for e in s("GET", path).json] == ["three", "two", "four", "one"]
    assert [e["text"] for e in s("GET", path + "?grade=3&author=arne", who="kaja").json] == ["four"]
    for q in ("grade=6", "grade=x", "text=one"):
        is_(s("GET", path + "?" + q), 400, "odd_question")
    assert s("GET", path + "/" + r.json["id"], who="kaja").json == r.json
    other = s.passage()
    is_(s("GET", f"/passages/{other['id']}/log/{r.json['id']}"), 404, "gone_or_never")
    is_(s("GET", path + "/none"), 404, "gone_or_never")
    is_(s("GET", path, who="brita"), 404, "gone_or_never")


@test
def lists(s):
    made = [s.barge(length_cm=n, name=f"{c} {n}", laid_up=n > 500) for n, c in ((700, "a"), (500, "b"), (600, "a"), (500, "A"), (800, "a"))]
    s.barge("brita", length_cm=400)
    assert [b["length_cm"] for b in s("GET", "/barges").json] == [500, 500, 600, 700, 800] and ids(s("GET", "/barges"))[:2] == [made[1]["id"], made[3]["id"]]
    assert ids(s("GET", "/barges?order_by=-length_cm"))[-2:] == [made[1]["id"], made[3]["id"]]
    assert ids(s("GET", "/barges?order_by=registered_at")) == [b["id"] for b in made]
    assert [b["length_cm"] for b in s("GET", "/barges?min_length=500&max_length=600&named=a%20").json] == [600]
    assert len(s("GET", "/barges?laid_up=true").json) == 3 and len(s("GET", "/barges", who="kaja").json) == 6
    for q in ("cargo=coal", "laid_up=TRUE", "min_length=1.5", "order_by=name", "name=x", "count=1&count=2"):
        is_(s("GET", "/barges?" + q), 400, "odd_question")
    for q in ("count=0", "count=41", "count=x", "count=-1", "count=", "from=x", "from="):
        is_(s("GET", "/barges?" + q), 400, "odd_page")
    got, page = [], "/canal/api/barges?order_by=-length_cm&count=2"
    while page:
        r = is_(s("GET", page, base=""), 200)
        got += [b["length_cm"] for b in r.json]
        page = r.next
    assert got == [800, 700, 600, 500, 500]
    cursor = s("GET", "/barges?count=2").next.split("from=")[1]
    is_(s("GET", "/barges?count=4&from=" + cursor), 200)
    for q, who, old in (("&order_by=-length_cm", "arne", False), ("", "brita", False), ("", "arne", True)):
        is_(s("GET", "/barges?count=2&from=" + cursor + q, who=who, old=old), 400, "odd_page")
    is_(s("GET", "/locks?from=" + cursor), 400, "odd_page")
    a, b = s.passage(eta="2027-03-01T10:00:00Z", crew=2), s.passage(eta="2027-03-01T09:30:00-02:00", direction="down", crew=9)
    assert ids(s("GET", "/passages")) == [a["id"], b["id"]] == ids(s("GET", "/passages", who="kaja")) and s("GET", "/passages", who="mons").json == []
    assert ids(s("GET", "/passages?order_by=-eta")) == [b["id"], a["id"]] == ids(s("GET", "/passages?order_by=-crew"))
    assert ids(s("GET", "/passages?eta_from=2027-03-01T11:30:00Z")) == [b["id"]] and ids(s("GET", "/passages?eta_before=2027-03-01T11:30:00Z")) == [a["id"]]
    assert ids(s("GET", f"/passages?lock={a['lock']}&status=booked&direction=up&min_crew=2&barge={a['barge']}")) == [a["id"]]
    assert s("GET", "/passages?lock=none").json == [] and s("GET", "/passages?status=missed").json == []
    for q in ("status=lost", "direction=upstream", "eta_from=2027-03-01", "min_crew=many"):
        is_(s("GET", "/passages?" + q), 400, "odd_question")


@test
def callers(s):
    r = is_(s("GET", "/barges", who=None), 401, "stranger")
    assert 'Lockpass realm="Sluice"' in r.headers["www-authenticate"]
    for who in ("expired", "forged", "audience", "issuer", "early", "none", "madeup", ("arne", "forged"), ("arne", "tove")):
        is_(s("GET", "/locks", who=who), 401, "stranger")
        is_(s("GET", "/board", who=who), 200)
    CRED["nobody"], CRED["both"], CRED["arne2"] = token(sub="x", post="diver"), token(sub="kaja", post="keeper"), token(sub="arne", post="skipper", aud=["x", "sluice"], nbf=1)
    is_(s("GET", "/barges", who="nobody"), 401, "stranger")
    b = s.barge()
    assert s("GET", "/barges", who="arne2").json == [b] == s("GET", "/barges", who=("arne", "arne2")).json
    p = s.brought("waiting")
    is_(s.do(p, "admit", who="both"), 403, "no_business")
    is_(s.do(p, "admit", who=("kaja", "both")), 200)
    for v in ("lockpass lp_aaaaaaaaaaaaaaaaarne", "LOCKPASS lp_aaaaaaaaaaaaaaaaarne"):
        is_(s("GET", "/hooks", who=None, Authorization=v), 200)
    for v in ("lp_aaaaaaaaaaaaaaaaarne", "Bearer lp_aaaaaaaaaaaaaaaaarne", "Lockpass", "Lockpass x", ""):
        is_(s("GET", "/hooks", who=None, Authorization=v), 401, "stranger")
    s.clock(now="2101-01-01T00:00:00Z")
    is_(s("GET", "/barges", who="tove"), 401, "stranger")


@test
def refusals_in_order(s):
    is_(s("GET", "/nowhere", who=None, base=""), 404, "no_such_place")
    for path in ("", "/", "/barges/", "/barges/a/b", "/passages/a/sink", "/Barges"):
        is_(s("GET", path), 404, "no_such_place")
    r = is_(s("PUT", "/barges", who=None, Sluice_Edition="winter"), 405, "not_done_here")
    assert r.headers["allow"] == "POST, GET"
    is_(s("GET", "/barges", who=None, Sluice_Edition="winter"), 400, "edition_never")
    is_(s("POST", "/locks", who="arne", raw=b"{", Content_Type="text/plain"), 403, "no_business")
    is_(s("POST", "/barges", raw=b"{", Content_Type="text/plain", Accept="text/html"), 406, "not_that_form")
    is_(s("POST", "/barges", raw=b"{", Content_Type="text/plain"), 415, "not_that_type")
    is_(s("POST", "/barges", raw=b"{" * 13000, Content_Type="text/plain"), 415, "not_that_type")
    is_(s("POST", "/barges", raw=b"{" * 13000), 413, "too_large")
    is_(s("POST", "/barges?x=1", raw=b"{"), 400, "not_json")
    is_(s("POST", "/barges?x=1", {}), 400, "odd_question")
    is_(s("POST", "/barges", raw=json.dumps(s.a_barge()).encode(), Content_Type="Application/JSON; charset=utf-8", Accept="text/html, application/*;q=0.5"), 201)
    is_(s("GET", "/barges", Accept="application/json;q=0, */*"), 406, "not_that_form")
    b = s.barge()
    is_(s("POST", "/barges", s.a_barge(name=b["name"], cargo="gravel", draught_cm=50)), 422, "light_gravel")
    r = s("GET", "/barges")
    assert {"sluice-edition", "authorization", "sluice-token"} <= set(r.headers["vary"].lower().split(", "))
    assert r.headers["ratelimit-policy"] == '"caller-1m";q=5000;w=60'
    head = "POST /canal/api/barges HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nAuthorization: " + CRED["arne"]["Authorization"] + "\r\n\r\n"
    for size, status in ((12288, b" 201 "), (12289, b" 413 ")):
        c = socket.create_connection(("127.0.0.1", s.port), timeout=12)
        body = json.dumps(s.a_barge()).encode().ljust(size)
        c.sendall(head.encode() + b"".join(b"%x\r\n%s\r\n" % (len(x), x) for x in (body[:5000], body[5000:])) + b"0\r\n\r\n")
        assert status in c.recv(65536)[:20]
        c.close()


@test
def keys(s):
    body = s.a_barge()
    one = is_(s("POST", "/barges", body, Sluice_Key="k"), 201)
    two = is_(s("POST", "/barges", raw=json.dumps(dict(reversed(body.items()))).encode(), Sluice_Key="k"), 201)
    assert one.json == two.json and one.headers["location"] == two.headers["location"]
    is_(s("POST", "/barges", body, old=True, Sluice_Key="k"), 422, "key_reused")
    p = s.passage()
    is_(s.do(p, "arrive", Sluice_Key="k"), 200)
    is_(s.do(p, "arrive", Sluice_Key="k"), 200)
    is_(s.do(s.passage(), "arrive", Sluice_Key="k"), 422, "key_reused")
    # the service's own errors are kept, other refusals are not
    light = s.a_barge(cargo="gravel", draught_cm=50)
    is_(s("POST", "/barges", light, Sluice_Key="g"), 422, "light_gravel")
    is_(s("POST", "/barges", light, Sluice_Key="g"), 422, "light_gravel")
    is_(s("POST", "/barges", s.a_barge(), Sluice_Key="g"), 422, "key_reused")
    is_(s("POST", "/barges", {}, Sluice_Key="n"), 422, "does_not_fit")
    is_(s("POST", "/barges", s.a_barge(), Sluice_Key="n"), 201)
    hook = {"target": "http://127.0.0.1:1/x"}
    one, two = (is_(s("POST", "/hooks", hook, Sluice_Key="h"), 201).json for _ in range(2))
    assert one.pop("secret") and one == two
    s.clock(6 * HOUR - 60)
    is_(s("POST", "/barges", {}, Sluice_Key="k"), 422, "key_reused")


@test
def hooks(s):
    for body in ({}, {"target": "x"}, {"target": "ftp://a.example/"}, {"target": "http://a b/"}, {"target": "http://x/" + "a" * 250}, {"target": 1},
                 {"target": "http://x/", "topics": ["nothing"]}, {"target": "http://x/", "topics": ["ship.*"]}, {"target": "http://x/", "topics": "*"}, {"target": "http://x/", "live": 1}):
        is_(s("POST", "/hooks", body), 422, "does_not_fit")
    h = is_(s("POST", "/hooks", {"target": "https://a.example/x?y=1", "topics": ["*", "barge.*", "lock.shut"], "secret": "mine"}), 201).json
    assert re.fullmatch(r"[0-9A-HJKMNP-TV-Z]{26}", h["id"]) and len(base64.b64decode(h["secret"][6:])) == 32 and h["live"] is True and h["owner"] == "arne"
    path = "/hooks/" + h["id"]
    assert ids(s("GET", "/hooks")) == [h["id"]] and s("GET", "/hooks", who="kaja").json == []
    assert "secret" not in is_(s("PATCH", path, {"live": False}), 200).json
    for m in ("GET", "PATCH", "DELETE"):
        is_(s(m, path, {}, who="brita"), 404, "gone_or_never")
    is_(s("DELETE", path), 204)
    is_(s("GET", path), 404, "gone_or_never")


@test
def what_is_told(s):
    mine, keeper, other, stranger_ = s.hook(), s.hook("kaja"), s.hook("brita"), s.hook("mons")
    b = s.barge(length_cm=950)
    s("PATCH", "/barges/" + b["id"], {"power": 3})
    s("PATCH", "/barges/" + b["id"], {"power": 3})
    s("PUT", "/barges/" + b["id"], {k: b[k] for k in ("plate", "name", "length_cm", "draught_cm")})
    assert mine.kinds(3) == ["barge.registered", "barge.changed", "barge.changed"] and mine.got[0][2]["body"] == b
    assert keeper.kinds(3) == stranger_.kinds(3) == mine.kinds(3)
    headers, _, e = mine.got[0]
    assert set(e) == {"event", "topic", "at", "body"} and headers["webhook-id"] == e["event"] and headers["sluice-topic"] == e["topic"]
    assert headers["sluice-sent"] == e["at"] and signed(mine) and headers["content-type"] == "application/json"
    l = s.lock()["code"]
    p = s.passage(barge=b["id"], lock=l, crew=10, pin="123456")
    tag = {"If_Match": "*"}
    s("PATCH", "/passages/" + p["id"], {"crew": 9}, **tag)
    s.do(p, "arrive"), s.do(p, "admit"), s.do(p, "pass", {"water_cm": 1}), s.do(p, "refloat"), s.do(p, "pass", {"water_cm": 500})
    s.made(f"/passages/{p['id']}/log", {"text": "done"}, "arne")
    said = ["passage.booked", "passage.big", "passage.changed", "passage.waiting", "passage.admitted", "passage.aground", "passage.admitted", "passage.over"]
    assert mine.kinds(12)[3:] == said + ["entry.made"] or sorted(mine.kinds(12)[3:]) == sorted(said + ["entry.made"])
    assert [k for k in mine.kinds(12) if k.startswith("passage.")] == said
    assert [k for k in keeper.kinds(10) if k.startswith("passage.")] == [k for k in said if k != "passage.admitted"]
    over = next(g[2] for g in mine.got if g[2]["topic"] == "passage.over")
    assert over["body"] == {"id": p["id"], "status": "through", "when": over["body"]["when"]} and re.fullmatch(ISO, over["body"]["when"])
    assert not any("pin" in g[2]["body"] for g in mine.got)
    aground = [next(g[2]["body"] for g in h.got if g[2]["topic"] == "passage.aground") for h in (mine, keeper)]
    assert "water_cm" not in aground[0] and aground[1]["water_cm"] == 1
    s("PATCH", "/locks/" + l, {"open": False}, "kaja"), s("PATCH", "/locks/" + l, {"toll": 1}, "kaja"), s("PATCH", "/locks/" + l, {"open": True}, "kaja")
    assert other.kinds(1) == ["lock.shut"]
    other.none_more(1)
    assert stranger_.kinds(4)[3:] == ["lock.shut"]


@test
def deliveries(s):
    h = s.hook(status=503)
    b = s.barge()
    h.wait(1)
    s("PATCH", "/barges/" + b["id"], {"power": 1})
    s.barge()
    assert sorted(h.kinds(2)) == ["barge.registered"] * 2      # a later event of the first barge waits, another barge does not
    time.sleep(0.2)
    for seconds, n in ((31, 4), (301, 6), (7201, 8)):
        s.clock(seconds - 10)
        h.none_more(n - 2)
        s.clock(11)
        assert len(h.wait(n)) >= n
        time.sleep(0.2)
    assert len(h.wait(9)) == 9 and h.got[8][2]["topic"] == "barge.changed"     # given up after four tries, and the next one goes
    first = [g for g in h.got if g[2]["event"] == h.got[0][2]["event"]]
    assert len(first) == 4 and len({g[1] for g in first}) == 1 and all(signed(h, i) for i in range(9))
    assert len({g[0]["webhook-timestamp"] for g in first}) == 4
    h.status = 204
    s.clock(31)
    assert len(h.wait(10)) == 10
    s.clock(DAY)
    h.none_more(10)
    # a redirect is a failure; 410 ends it
    for status in (302, 404):
        g = s.hook("brita", status=status)
        s.barge("brita")
        g.wait(1)
        time.sleep(0.2)
        s.clock(31)
        assert len(g.wait(2)) == 2
    gone = s.hook("leo", status=410)
    s.barge("leo")
    gone.wait(1)
    time.sleep(0.2)
    assert s("GET", "/hooks/" + gone.id, who="leo").json["live"] is False
    # one that is deleted is told nothing more
    d = s.hook("tove", status=500)
    s.barge("tove")
    d.wait(1)
    time.sleep(0.2)
    is_(s("DELETE", "/hooks/" + d.id, who="tove"), 204)
    s.clock(31)
    d.none_more(1)


@test
def the_old_edition(s):
    r = s("POST", "/barges", {"plate": "AB-9999", "name": "x", "length_cm": 900, "draught_cm": 1230}, old=True)
    b = is_(r, 201).json
    assert b["draught_cm"] == 1230 and "cargo" not in b and s("GET", "/barges/" + b["id"]).json["draught_cm"] == 123
    assert 'rel="deprecation"' in r.headers["link"] and 'rel="successor-version"' in r.headers["link"] and r.headers["sunset"]
    for bad in (123, 1235, 290, 4010):
        assert places(is_(s("PATCH", "/barges/" + b["id"], {"draught_cm": bad}, old=True), 422)) == ["/draught_cm"]
    is_(s("PATCH", "/barges/" + b["id"], {"cargo": "grain"}, old=True), 422, "does_not_fit")
    is_(s("GET", "/barges?cargo=grain", old=True), 400, "odd_question")
    is_(s("PATCH", "/barges/" + b["id"], {"cargo": "grain"}), 200)
    body = {k: b[k] for k in ("plate", "name", "length_cm", "draught_cm")}
    is_(s("PUT", "/barges/" + b["id"], {**body, "draught_cm": 1000}, old=True), 200)
    assert s("GET", "/barges/" + b["id"]).json["cargo"] == "grain"
    new = s.a_passage(barge=b["id"], memo="m")
    is_(s("POST", "/passages", new, old=True), 422, "does_not_fit")
    new["comment"], new["direction"] = new.pop("memo"), "downstream"
    p = is_(s("POST", "/passages", new, old=True), 201).json
    assert p["comment"] == "m" and p["direction"] == "downstream" and p["toll"] == 300
    now = s("GET", "/passages/" + p["id"]).json
    assert now["memo"] == "m" and now["direction"] == "down" and "comment" not in now
    r = is_(s("PATCH", "/passages/" + p["id"], {"comment": None, "direction": "upstream"}, old=True, If_Match="*"), 200).json
    assert "comment" not in r and r["direction"] == "upstream"
    assert ids(s("GET", "/passages?direction=upstream", old=True)) == [p["id"]]
    is_(s("GET", "/passages?direction=up", old=True), 400, "odd_question")
    h, g = s.hook(old=True), s.hook()
    assert is_(s.do(p, "arrive", old=True), 200).json["direction"] == "upstream"
    assert h.wait(1)[0][2]["body"]["direction"] == "upstream" and g.wait(1)[0][2]["body"]["direction"] == "up"
    assert "deprecation" not in s("GET", "/barges").headers and "sunset" not in s("GET", "/barges", Sluice_Edition="autumn").headers
    is_(s("GET", "/board", who=None, Sluice_Edition="autumn"), 200)
    s.clock(now="2032-02-29T23:59:50Z")
    is_(s("GET", "/barges", old=True), 200)
    s.clock(11)
    is_(s("GET", "/barges", old=True, who=None), 410, "edition_over")
    is_(s("GET", "/barges"), 200)


@test
def limits(s):
    p = s.passage()
    path = f"/passages/{p['id']}/log"
    for i in range(250):
        r = s("POST", path, {"text": "x"} if i % 2 else {})
    r = is_(s("POST", path, {}), 429, "slow_down")
    assert 3500 < int(r.headers["retry-after"]) <= 3600
    is_(s("POST", path, {"text": "x"}, "kaja"), 201)
    s.clock(int(r.headers["retry-after"]))
    is_(s("POST", path, {"text": "x"}), 201)
    for i in range(60):     # refusals use no quota
        is_(s("POST", "/hooks", {}), 422)
    for i in range(50):
        is_(s("POST", "/hooks", {"target": "http://127.0.0.1:1/"}), 201)
    r = is_(s("POST", "/hooks", {"target": "http://127.0.0.1:1/"}), 403, "enough_today")
    is_(s("POST", "/hooks", {"target": "http://127.0.0.1:1/"}, "brita"), 201)
    s.clock(int(r.headers["retry-after"]))
    is_(s("POST", "/hooks", {"target": "http://127.0.0.1:1/"}), 201)


@test
def time_outs(s):
    """a slow body is given 8 seconds, an idle connection 45"""
    idle = socket.create_connection(("127.0.0.1", s.port), timeout=60)
    started = time.time()
    c = socket.create_connection(("127.0.0.1", s.port), timeout=12)
    c.sendall(b"POST /canal/api/barges HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(3):
        time.sleep(2)
        c.sendall(b" ")
    assert b" 408 " in c.recv(65536) and 7.5 < time.time() - started < 10
    c.close()
    idle.sendall(b"GET /canal/api/board HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b" 200 " in idle.recv(65536)
    t = time.time()
    assert idle.recv(65536) == b"" and 44 < time.time() - t < 48
    idle.close()


def main():
    bad = 0
    for t in TESTS:
        if sys.argv[1:] and t.__name__ not in sys.argv[1:]:
            continue
        s = Service()
        try:
            t(s)
            print("ok   ", t.__name__, flush=True)
        except (AssertionError, KeyError, IndexError, TypeError, OSError, ValueError, http.client.HTTPException) as e:
            bad += 1
            lines = [f.lineno for f in traceback.extract_tb(e.__traceback__) if f.filename.endswith("document-test.py")]
            print("WRONG", t.__name__, lines, type(e).__name__, str(e)[:400], flush=True)
        finally:
            s.close()
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
