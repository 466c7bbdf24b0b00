#!/usr/bin/env python3
"""The right service against its document, statement by statement, where faults-test.py does not already do it."""
import sys
from harness import *

TESTS = []


def test(f):
    TESTS.append(f)
    return f


def is_(r, status, word=None):
    assert r.status == status, r
    if status >= 400:
        t = r.json["trouble"]
        assert set(t) == {"word", "status", "said", "places"} and t["status"] == status and isinstance(t["places"], list), r
        assert r.headers["content-type"] == "application/json"
    if word:
        assert r.word == word, r
    return r


ATT = {"label": "x", "changes": 1, "duration": 1, "starts_at": "2027-01-01T10:00:00Z"}
BELL = {"slug": "one", "name": "One", "weight": 9}


@test
def bell_fields(s):
    for k, bad in [("slug", ["On", "1ab", "ab", "a" * 41, "a_b", "abc\n", 7, None, "ab c"]), ("name", ["", "x" * 61, 1, None]),
                   ("weight", [4, 20001, 1.5, "9", None, True, 1e300]), ("material", ["gold", 1, None]), ("note", ["H", "Cis", "c", "C#\n", None, 1]),
                   ("position", [0, 1000, "1", None]), ("open", ["true", 0, None]), ("hung", [1, None]), ("maker", ["x", {}, {"name": ""}, {"name": "x", "year": 899}, {"name": "x", "foo": 1}, None]),
                   ("tags", ["x", [1], [""], ["x" * 21], ["a"] * 6, None]), ("foo", [1, None])]:
        for v in bad:
            r = is_(s("POST", "/bells", {**BELL, k: v}), 422, "unfit")
            assert r.json["trouble"]["places"][0].startswith("/" + k), r
    for k in BELL:
        r = is_(s("POST", "/bells", {a: b for a, b in BELL.items() if a != k}), 422, "unfit")
        assert r.json["trouble"]["places"] == ["/" + k]
    full = {"slug": "a" + "-" * 39, "name": "é" * 60, "weight": 20000, "material": "steel", "note": "Gb", "position": 999, "open": True, "hung": False,
            "maker": {"name": "Ü", "year": 2100}, "tags": ["\u2603" * 20] * 5}
    r = is_(s("POST", "/bells", full), 201).json["bell"]
    assert {k: r[k] for k in full} == full and set(r) == set(full) | {"captain", "made_at", "changed_at"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", r["made_at"])
    assert s("GET", "/bells/" + full["slug"]).json["bell"] == r
    raw = b'{"slug":"latin","name":"caf\\u00e9 \\ud83d\\udd14","weight":10.0}'
    r = is_(s("POST", "/bells", raw=raw), 201).json["bell"]
    assert r["name"] == "caf\u00e9 \U0001f514" and r["weight"] == 10
    # read-only fields that are sent are ignored, whatever they hold
    r = is_(s("POST", "/bells", {**BELL, "captain": 5, "made_at": "x", "changed_at": None}), 201).json["bell"]
    assert r["captain"] == "anna"
    is_(s("POST", "/bells", {**BELL, "slug": "other", "name": "ONE"}), 409, "taken")
    is_(s("POST", "/bells", {**BELL, "name": "Other"}), 409, "taken")
    is_(s("POST", "/bells", BELL, "bert"), 409, "taken")
    is_(s("POST", "/bells", {**BELL, "slug": "other"}, "bert"), 201)


@test
def bell_update(s):
    b = s.bell(note="C", maker={"name": "T", "year": 1900}, tags=["a"])
    p = f"/bells/{b['slug']}"
    e = s("GET", p).headers["etag"]
    s.clock(advance=1000)
    r = is_(s("PATCH", p, {"weight": 100}), 200)
    assert r.json["bell"] == b and r.headers["etag"] == e
    is_(s("PATCH", p, {}), 200)
    is_(s("PATCH", p, {"slug": b["slug"], "captain": "x"}), 200)
    assert s("GET", p).json["bell"] == b
    is_(s("PATCH", p, {"slug": "other"}), 422, "unfit")
    for k in ("name", "weight", "material", "open", "hung", "slug"):
        is_(s("PATCH", p, {k: None}), 422, "unfit")
    is_(s("PATCH", p, {"maker": {"name": None}}), 422, "unfit")
    r = is_(s("PATCH", p, {"maker": {"year": None}}, Content_Type="application/merge-patch+json"), 200).json["bell"]
    assert r["maker"] == {"name": "T"} and r["changed_at"] > b["changed_at"] and r["made_at"] == b["made_at"]
    r = is_(s("PATCH", p, {"maker": None, "note": None, "tags": None, "position": None}), 200).json["bell"]
    assert not {"maker", "note", "tags"} & set(r)
    is_(s("PATCH", p, {"maker": {"year": 1900}}), 422, "unfit")
    is_(s("PATCH", p, {"foo": None}), 422, "unfit")
    # replace
    is_(s("PUT", p, {"name": "N"}), 422, "unfit")
    is_(s("PUT", p, {"slug": "other", "name": "N", "weight": 5}), 422, "unfit")
    s("PATCH", p, {"material": "iron", "hung": False})
    r = is_(s("PUT", p + "?edition=e1", {"name": "N", "weight": 5}), 200).json["bell"]
    assert "material" not in r and r["hung"] is True
    assert s("GET", p).json["bell"]["material"] == "iron"
    r = is_(s("PATCH", p + "?edition=e1", {"weight": 6}), 200).json["bell"]
    assert s("GET", p).json["bell"]["material"] == "iron"
    is_(s("PATCH", p + "?edition=e1", {"material": "iron"}), 422, "unfit")
    r = is_(s("PUT", p, {"slug": b["slug"], "name": "N", "weight": 5}, If_Match=s("GET", p).headers["etag"]), 200).json["bell"]
    assert r["material"] == "bronze" and r["made_at"] == b["made_at"] and r["captain"] == "anna"
    is_(s("PUT", p, {"name": "N", "weight": 7}, If_Match='"x"'), 412, "stale")
    is_(s("DELETE", p, If_Match='"x"'), 412, "stale")
    is_(s("PUT", p, {"name": "N", "weight": 7}, Content_Type="application/merge-patch+json"), 415, "wrong_media")
    is_(s("DELETE", p, If_Match=s("GET", p).headers["etag"]), 204)
    is_(s("GET", p), 404, "not_here")
    is_(s("DELETE", p), 404, "not_here")
    is_(s("PUT", p, {"name": "N", "weight": 7}), 404, "not_here")
    is_(s("POST", "/bells", {**BELL, "slug": b["slug"], "name": "N"}), 201)
    # own name again, other case
    is_(s("PATCH", p, {"name": "n"}), 200)
    a, c = s.bell(position=5), s.bell()
    is_(s("PATCH", f"/bells/{c['slug']}", {"position": 5}), 409, "taken")
    is_(s("PATCH", f"/bells/{a['slug']}", {"position": None}), 200)
    is_(s("PATCH", f"/bells/{c['slug']}", {"position": 5}), 200)
    is_(s("PATCH", f"/bells/{c['slug']}", {"name": a["name"].upper()}), 409, "taken")


@test
def attempt_fields(s):
    b = s.bell()["slug"]
    base = {**ATT, "bell": b}
    for k, bad in [("bell", [1, None]), ("label", ["", "x" * 61, None]), ("style", ["handbell", None, 1]), ("changes", [0, 40321, "1", 1.5]),
                   ("duration", [0, 1441]), ("starts_at", ["2027-01-01", "2027-02-30T10:00:00Z", "2027-01-01T25:00:00Z", "2027-01-01T10:00:00", 5]),
                   ("conductor", ["", "x" * 81, None]), ("held", ["no", None]), ("door_code", ["123", "12345", 1234, None]), ("length", [1])]:
        for v in bad:
            is_(s("POST", "/attempts", {**base, k: v}), 422, "unfit")
    for k in base:
        is_(s("POST", "/attempts", {a: v for a, v in base.items() if a != k}), 422, "unfit")
    full = {**base, "style": "hand", "changes": 20000, "duration": 1440, "starts_at": "2027-01-01T10:00:00.25+05:30", "conductor": "C", "held": True, "door_code": "0042", "status": "rung", "fee": 1, "nr": "x", "verdict": 3}
    r = is_(s("POST", "/attempts", full), 201)
    a = r.json["attempt"]
    assert r.headers["location"] == f"/tower/attempts/{a['nr']}" and isinstance(a["nr"], int)
    want = {k: v for k, v in full.items() if k not in ("door_code", "verdict", "nr", "status", "fee")}
    assert {k: a[k] for k in want} == want and a["fee"] == 200 and a["status"] == "planned"
    assert set(a) == set(want) | {"nr", "captain", "status", "fee", "planned_at", "changed_at"}, a
    got = s("GET", r.headers["location"], base="")
    assert got.json == r.json and got.headers["etag"] == r.headers["etag"]
    d = s("GET", f"/attempts/{a['nr']}", who="dorit")
    assert d.json == r.json
    p = f"/attempts/{a['nr']}"
    r2 = is_(s("PATCH", p, {"conductor": None, "style": "tower"}, If_Match=f'"zz", {got.headers["etag"]}'), 200)
    assert "conductor" not in r2.json["attempt"] and r2.json["attempt"]["fee"] == 200
    is_(s("PATCH", p, {"label": None}, If_Match="*"), 422, "unfit")
    is_(s("PATCH", p, {"label": "q"}, If_Match=got.headers["etag"]), 412, "stale")
    is_(s("PATCH", p, {"label": "q"}, If_Match="W/" + r2.headers["etag"]), 412, "stale")
    is_(s("PATCH", p, {"style": "hand", "changes": 20001}, If_Match="*"), 422, "too_long")
    is_(s("PATCH", p, {"changes": 40320}, If_Match="*"), 200)
    is_(s("PATCH", p, {"style": "hand"}, If_Match="*"), 422, "too_long")
    is_(s("PATCH", p, {"style": "handbell"}, If_Match="*"), 422, "unfit")
    is_(s("PATCH", p, {"foo": 1}), 428, "tag_needed")
    is_(s("PATCH", p, {"foo": 1}, If_Match='"q"'), 412, "stale")
    is_(s("PATCH", p, {"door_code": None, "conductor": None}, If_Match="*"), 200)
    is_(s("PATCH", p, {"label": "x"}, "dorit", If_Match="*"), 403, "hands_off")
    is_(s("PATCH", p, {"label": "x"}, "bert"), 404, "not_here")
    for nr in ("0", "abc", "99999", "01", "-1", "1.0"):
        is_(s("GET", f"/attempts/{nr}"), 404, "not_here")


@test
def references(s):
    b = s.bell("bert")["slug"]
    is_(s("POST", "/attempts", {**ATT, "bell": b}), 422, "dangling")
    o = s.bell("bert", open=True)["slug"]
    is_(s("POST", "/attempts", {**ATT, "bell": o}), 201)
    is_(s("DELETE", f"/bells/{o}", who="bert"), 409, "in_use")
    is_(s("PATCH", f"/bells/{o}", {"open": False}, "bert"), 200)
    a = s("GET", "/attempts").json["rows"][0]
    is_(s("PATCH", f"/attempts/{a['nr']}", {"label": "y", "bell": o}, If_Match="*"), 200)
    n = f"/attempts/{a['nr']}/footnotes"
    is_(s("POST", n, {"text": "x", "bell": b}), 422, "dangling")
    f = is_(s("POST", n, {"text": "x", "bell": b}, "emile"), 201).json["footnote"]
    assert f["author"] == "emile" and f["attempt"] == a["nr"] and re.fullmatch(r"fn-[A-Za-z0-9]{12}", f["id"])
    is_(s("POST", n, {"text": "x", "attempt": a["nr"]}), 201)
    is_(s("POST", n, {"text": "x", "attempt": a["nr"] + 1}), 422, "unfit")
    is_(s("POST", n, {"text": "x", "attempt": str(a["nr"])}), 422, "unfit")
    for t in ("", "x" * 501, None, 5):
        is_(s("POST", n, {"text": t}), 422, "unfit")
    is_(s("POST", n, {"text": "x"}, "bert"), 404, "not_here")
    is_(s("GET", n, who="bert"), 404, "not_here")
    is_(s("GET", n + "/" + f["id"], who="bert"), 404, "not_here")
    is_(s("GET", "/attempts/77/footnotes"), 404, "not_here")
    s.clock(advance=1000)
    last = s("POST", n, {"text": "z"}).json["footnote"]
    rows = s("GET", n).json
    assert rows["count"] == 3 and rows["rows"][0]["id"] == last["id"]
    times = [x["made_at"] for x in rows["rows"]]
    assert times == sorted(times, reverse=True)
    assert [x["id"] for x in s("GET", n + "?author=emile").json["rows"]] == [f["id"]]
    r = s("GET", n + "/" + f["id"])
    assert r.json["footnote"] == f and "etag" not in r.headers
    is_(s("DELETE", f"/attempts/{a['nr']}"), 204)
    is_(s("GET", n), 404, "not_here")
    is_(s("DELETE", f"/bells/{o}", who="bert"), 204)


@test
def machine(s):
    """every transition from every state"""
    table = {"begin": (["planned"], "not_planned"), "finish": (["ringing"], "not_ringing"), "scratch": (["planned", "ringing"], "wrong_moment"),
             "reopen": (["short"], "wrong_moment"), "ratify": (["rung"], "wrong_moment"), "strike": (["rung", "short"], "wrong_moment")}
    body = {"finish": {"rung": 9999}, "strike": {"reason": "r"}}

    def into(state):
        a = s.attempt()
        nr = a["nr"]
        if state in ("ringing", "rung", "short", "ratified", "struck", "abandoned"):
            is_(s.do(nr, "begin"), 200)
        if state in ("rung", "ratified", "struck"):
            is_(s.do(nr, "finish", {"rung": 5040}), 200)
        if state == "short":
            is_(s.do(nr, "finish", {"rung": 0}), 200)
        if state == "ratified":
            is_(s.do(nr, "ratify", who="hugo"), 200)
        if state == "struck":
            is_(s.do(nr, "strike", {"reason": "r"}, "hugo"), 200)
        if state == "scratched":
            is_(s.do(nr, "scratch"), 200)
        if state == "abandoned":
            s.clock(advance=6 * HOUR)
        if state == "lapsed":
            s.clock(advance=21 * DAY)
        assert s.status(nr) == state
        return nr
    for state in ["planned", "ringing", "rung", "short", "ratified", "struck", "scratched", "lapsed", "abandoned"]:
        for verb, (ok, word) in table.items():
            nr = into(state)
            who = "hugo" if verb in ("ratify", "strike") else "anna"
            r = s.do(nr, verb, body.get(verb), who)
            if state in ok:
                is_(r, 200)
                assert r.json["attempt"]["changed_at"] >= r.json["attempt"]["planned_at"]
            else:
                is_(r, 409, word)
                assert s.status(nr) == state
        nr = into(state)
        is_(s("PATCH", f"/attempts/{nr}", {"label": "m"}, If_Match="*"), *((200,) if state == "planned" else (409, "wrong_moment")))
        is_(s("PATCH", f"/attempts/{nr}", {"label": ""}, If_Match="*"), 422, "unfit")
        is_(s("DELETE", f"/attempts/{nr}"), *((204,) if state in ("planned", "scratched", "lapsed") else (409, "wrong_moment")))
    s.clock(advance=2 * DAY)
    r = s.rung()
    assert r["rung_changes"] == 5040 and r["finished_at"] and r["status"] == "rung"
    # bodies of those that take none are ignored; those that take one need it
    a = s.attempt()["nr"]
    is_(s("POST", f"/attempts/{a}/begin", raw=b"{nonsense", Content_Type="text/plain"), 200)
    is_(s("POST", f"/attempts/{a}/finish"), 400, "garbled")
    for b in ({}, {"rung": -1}, {"rung": "1"}, {"rung": 100000}, [], {"rung": None}):
        is_(s("POST", f"/attempts/{a}/finish", b), 422, "unfit")
    is_(s("POST", f"/attempts/{a}/finish", {"rung": 1, "other": 1}), 200)
    is_(s.do(a, "strike", {"reason": ""}, "dorit"), 422, "unfit")
    is_(s.do(a, "strike", {"reason": "x" * 201}, "dorit"), 422, "unfit")
    # reopened: the 21 days start again
    is_(s.do(a, "reopen"), 200)
    s.clock(advance=21 * DAY - 5000)
    assert s.status(a) == "planned"
    s.clock(advance=5000)
    assert s.status(a) == "lapsed"
    # held when due: cancelled for good
    h = s.attempt(held=True)["nr"]
    s.clock(advance=21 * DAY)
    is_(s("PATCH", f"/attempts/{h}", {"held": False}, If_Match="*"), 200)
    s.clock(advance=30 * DAY)
    assert s.status(h) == "planned"


@test
def lists(s):
    for i in range(7):
        s.bell(weight=[50, 20, 20, 90, 20, 5, 60][i], open=i % 2 == 0)
    s.clock(advance=10)
    s.bell("bert", weight=1000, open=True)
    s.bell("bert", weight=2000)
    get = lambda q="", who="anna": [b["slug"] for b in is_(s("GET", "/bells" + q, who=who), 200).json["rows"]]
    assert get() == ["bell-6", "bell-2", "bell-3", "bell-5", "bell-1", "bell-7", "bell-4", "bell-8"]
    assert get("?sort=weight") == get()
    assert get("?sort=-weight") == ["bell-8", "bell-4", "bell-7", "bell-1", "bell-2", "bell-3", "bell-5", "bell-6"]
    assert get("?sort=made_at") == [f"bell-{i}" for i in range(1, 9)] and get("?sort=-made_at")[0] == "bell-8"
    assert len(get(who="dorit")) == 9 and get("?captain=bert") == ["bell-8"] and get("?captain=nobody") == []
    assert get("?min_weight=20&max_weight=20") == ["bell-2", "bell-3", "bell-5"]
    assert get("?open=false") == ["bell-6", "bell-2", "bell-4"]
    assert get("?min_weight=-5")[0] == "bell-6"
    r = s("GET", "/bells?skip=6&take=2").json
    assert len(r["rows"]) == 2 and r["count"] == 8 and r["more"] is False and set(r) == {"rows", "count", "more"}
    r = s("GET", "/bells?skip=5&take=2").json
    assert r["more"] is True
    r = s("GET", "/bells?skip=100").json
    assert r == {"rows": [], "count": 8, "more": False}
    for q in ("take=0", "take=-1", "take=x", "take=", "take=1.5", "skip=-1", "skip=x", "open=1", "min_weight=x", "min_weight=1.5", "sort=name", "sort=", "x=1", "cursor=a", "weight=20"):
        is_(s("GET", "/bells?" + q), 400, "wrong_query")
    assert len(s("GET", "/bells?take=1000").json["rows"]) == 8
    is_(s("GET", "/bells/bell-1?x=1"), 400, "wrong_query")
    is_(s("GET", "/rounds?x=1"), 400, "wrong_query")
    is_(s("POST", "/bells?x=1", BELL), 400, "wrong_query")
    b = s.bell()["slug"]
    for st, n, l, t in (("hand", 100, "Grandsire", "2027-05-01T00:00:00Z"), ("tower", 300, "Grand", "2027-04-01T00:00:00Z"), ("tower", 200, "grandsire", "2027-06-01T00:00:00Z")):
        s.attempt(bell=b, style=st, changes=n, label=l, starts_at=t)
    s.attempt(bell=s.bell()["slug"], changes=200, label="Z", starts_at="2026-01-01T00:00:00Z")
    nrs = lambda q="", who="anna": [a["nr"] for a in is_(s("GET", "/attempts" + q, who=who), 200).json["rows"]]
    assert nrs() == [3, 1, 2, 4] and nrs("?sort=starts_at") == [4, 2, 1, 3] and nrs("?sort=changes") == [1, 3, 4, 2] and nrs("?sort=-changes") == [2, 3, 4, 1]
    assert nrs("?begins=Grand") == [1, 2] and nrs("?style=hand") == [1] and nrs(f"?bell={b}&min_changes=200") == [3, 2]
    assert nrs("?status=planned&until=2027-05-01T00:00:00Z") == [2, 4] and nrs("?status=rung") == [] and nrs("?bell=none-such") == []
    assert nrs("?edition=e1&sort=-length") == [2, 3, 4, 1] and nrs("?edition=e1&style=handbell") == [1]
    assert nrs("?until=2027-05-01T00:00:00%2B02:00") == [2, 4]
    for q in ("status=foo", "style=handbell", "until=x", "edition=e1&sort=changes", "edition=e1&style=hand", "sort=length"):
        is_(s("GET", "/attempts?" + q), 400, "wrong_query")


@test
def heralds(s):
    u = "http://127.0.0.1:9/x"
    r = is_(s("POST", "/heralds", {"url": u, "kinds": ["bell.*", "attempt.ended", "*"]}), 201)
    h = r.json["herald"]
    assert re.fullmatch(r"seal_[A-Za-z0-9]{32}", h["seal"]) and r.headers["location"] == f"/tower/heralds/{h['id']}" and h["owner"] == "anna" and h["active"] is True
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", h["id"])
    for b in ({}, {"url": "x y"}, {"url": "/x"}, {"url": u, "kinds": ["bell.melt"]}, {"url": u, "kinds": ["tower.*"]}, {"url": u, "kinds": "*"}, {"url": u, "kinds": [1]},
              {"url": u, "active": "yes"}, {"url": "http://h/" + "x" * 300}, {"url": u, "foo": 1}, {"url": u, "kinds": ["*"] * 21}):
        is_(s("POST", "/heralds", b), 422, "unfit")
    p = f"/heralds/{h['id']}"
    is_(s("GET", p, who="bert"), 404, "not_here")
    is_(s("PATCH", p, {"active": False}, "dorit"), 404, "not_here")
    is_(s("DELETE", p, who="bert"), 404, "not_here")
    assert s("GET", "/heralds", who="bert").json["count"] == 0 and s("GET", "/heralds").json["rows"][0]["id"] == h["id"]
    r = is_(s("PATCH", p, {"kinds": None, "active": False, "seal": "x"}), 200).json["herald"]
    assert "kinds" not in r and "seal" not in r and r["active"] is False
    is_(s("PATCH", p, {"active": None}), 422, "unfit")
    one = s("POST", "/heralds", {"url": u, "active": False}, Belfry_Once="h")
    two = s("POST", "/heralds", {"url": u, "active": False}, Belfry_Once="h")
    del one.json["herald"]["seal"]
    assert two.status == 201 and two.json == one.json and two.headers["location"] == one.headers["location"]
    is_(s("DELETE", p), 204)
    is_(s("GET", p), 404, "not_here")


@test
def once(s):
    b = s.bell()["slug"]
    body = {**ATT, "bell": b}
    one = is_(s("POST", "/attempts", body, Belfry_Once="a"), 201)
    two = is_(s("POST", "/attempts", {**ATT, "bell": b}, Belfry_Once="a"), 201)
    assert one.text == two.text and one.headers["etag"] == two.headers["etag"] and one.headers["location"] == two.headers["location"]
    is_(s("POST", "/attempts?edition=e1", body, Belfry_Once="a"), 422, "once_reused")
    is_(s("POST", "/bells", BELL, Belfry_Once="a"), 201)
    b2 = s.bell("bert")["slug"]
    is_(s("POST", "/attempts", {**ATT, "bell": b2}, "bert", Belfry_Once="a"), 201)
    nr = one.json["attempt"]["nr"]
    is_(s("POST", f"/attempts/{nr}/begin", Belfry_Once="b"), 200)
    is_(s("POST", f"/attempts/{nr}/begin", Belfry_Once="b"), 200)
    is_(s("POST", f"/attempts/{nr}/begin"), 409, "not_planned")
    other = s.attempt()["nr"]
    is_(s("POST", f"/attempts/{other}/begin", Belfry_Once="b"), 422, "once_reused")
    # refusals are not kept, the service's own errors are
    is_(s("POST", "/bells", {"slug": "two"}, Belfry_Once="c"), 422, "unfit")
    is_(s("POST", "/bells", {"slug": "two", "name": "Two", "weight": 9}, Belfry_Once="c"), 201)
    u = s.bell(hung=False)["slug"]
    x = s.attempt(bell=u)["nr"]
    is_(s("POST", f"/attempts/{x}/begin", Belfry_Once="d"), 409, "unhung")
    is_(s("PATCH", f"/bells/{u}", {"hung": True}), 200)
    is_(s("POST", f"/attempts/{x}/begin", Belfry_Once="d"), 409, "unhung")
    is_(s("POST", f"/attempts/{x}/begin", Belfry_Once="e"), 200)


@test
def order_of_refusals(s):
    b = s.bell(open=True)
    p = f"/bells/{b['slug']}"
    is_(s("GET", "/nowhere/" + "x" * 2100, who=None), 413, "too_big")
    is_(s("GET", "/nowhere?edition=e9", who=None), 404, "no_path")
    is_(s("DELETE", "/bells?edition=e9", who=None), 405, "no_act")
    is_(s("GET", "/bells?edition=e9", who=None), 400, "edition_unknown")
    is_(s("POST", "/bells", raw=b"x" * 20000, who=None), 401, "who_rings")
    is_(s("POST", "/bells", raw=b"x" * 20000, who="dorit"), 403, "hands_off")
    is_(s("POST", "/bells", raw=b"x" * 20000, Content_Type="text/plain"), 415, "wrong_media")
    is_(s("POST", "/bells?x=1", raw=b"x" * 20000), 413, "too_big")
    is_(s("POST", "/bells?x=1", raw=b"x"), 400, "garbled")
    is_(s("POST", "/bells?x=1", {}, Belfry_Once="k"), 400, "wrong_query")
    is_(s("POST", "/bells", {}, Accept="text/html"), 406, "wrong_accept")
    is_(s("PATCH", "/bells/nowhere", {"x": 1}, If_Match='"x"'), 404, "not_here")
    is_(s("PATCH", p, {"x": 1}, "bert", If_Match='"x"'), 403, "hands_off")
    is_(s("PUT", p, {"x": 1}, "bert"), 403, "hands_off")
    is_(s("DELETE", p, who="bert"), 403, "hands_off")
    is_(s("DELETE", "/bells/nowhere", who="dorit"), 403, "hands_off")
    is_(s("POST", "/attempts", {**ATT, "bell": "nowhere", "label": ""}), 422, "unfit")
    is_(s("POST", "/attempts", {**ATT, "bell": "nowhere", "style": "hand", "changes": 30000}), 422, "dangling")
    is_(s("POST", "/attempts/99/ratify", who="emile"), 403, "hands_off")
    is_(s("POST", "/attempts/99/ratify", who="dorit"), 404, "not_here")
    for who, op in (("dorit", "begin"), ("dorit", "finish"), ("dorit", "scratch"), ("dorit", "reopen"), ("anna", "ratify"), ("anna", "strike")):
        is_(s.do(99, op, who=who), 403, "hands_off")


@test
def media(s):
    for raw in (b"{", b"", b"{}x", b"{'a':1}", b"[1,]", b'{"a":01}', b'{"a":"\xff"}', b'{"a":"\x01"}', b"nul"):
        is_(s("POST", "/bells", raw=raw), 400, "garbled")
    for raw in (b"[]", b"null", b"1", b'"x"'):
        is_(s("POST", "/bells", raw=raw), 422, "unfit")
    for t in ("text/plain", "application/xml", "application/x-www-form-urlencoded", "application/merge-patch+json"):
        is_(s("POST", "/bells", BELL, Content_Type=t), 415, "wrong_media")
    is_(s("POST", "/bells", BELL, Content_Type="application/json; charset=utf-8"), 201)
    for a, st in (("*/*", 200), ("application/*", 200), ("application/json", 200), ("text/html, */*;q=0.1", 200), ("text/html", 406), ("application/json;q=0", 406), ("application/problem+json", 406)):
        is_(s("GET", "/bells", Accept=a), st)
    r = is_(s("GET", "/bells/one", Accept="application/json"), 200)
    assert r.headers["content-type"] == "application/json" and r.headers["vary"] == "Belfry-Rope, Authorization"
    n = s("GET", "/bells/one", If_None_Match=r.headers["etag"])
    assert n.status == 304 and n.text == "" and n.headers["etag"] == r.headers["etag"]
    assert s("GET", "/bells/one", If_None_Match='"x"').status == 200
    assert s("GET", "/bells/one", who="dorit").headers["vary"]
    assert s("HEAD", "/bells").status == 405 and s("OPTIONS", "/bells").status == 405
    assert "access-control-allow-origin" not in s("GET", "/bells", Origin="https://a.example").headers
    r = is_(s("PUT", "/rounds"), 405, "no_act")
    assert r.headers["allow"] == "GET"
    for p in ("/bells/", "/attempts/1/foo", "/attempts/1/begin/x", "/bells/a/b", "//bells", "/Bells"):
        is_(s("GET", p), 404, "no_path")
    is_(s("GET", "/bells", base=""), 404, "no_path")
    is_(s("GET", "/rounds", base="/towers"), 404, "no_path")
    r = is_(s("GET", "/rounds", who=None), 200)
    assert r.json == {"stage": 8, "row": "12345678"}
    is_(s("GET", "/rounds", who="forged"), 200)
    is_(s("GET", "/bells/" + "x" * (2048 - len("/tower/bells/"))), 404, "not_here")
    is_(s("GET", "/bells/" + "x" * (2049 - len("/tower/bells/"))), 413, "too_big")
    is_(s("GET", "/bells", X_Pad="x" * 7000), 200)
    is_(s("GET", "/bells", X_Pad="x" * 8200), 413, "too_big")


@test
def callers(s):
    now = int(time.time())
    good = {"sub": "gilda", "role": "captain"}
    for c, st in ((good, 200), ({**good, "exp": now + 100}, 200), ({**good, "exp": now - 1}, 401), ({**good, "nbf": now + 100}, 401), ({**good, "aud": ["x", "belfry"]}, 200),
                  ({**good, "aud": "x"}, 401), ({**good, "iss": "https://other.example"}, 401), ({"role": "captain"}, 401), ({"sub": "gilda"}, 401), ({**good, "role": "ringer"}, 401),
                  ({**good, "role": "steward"}, 200), ({**good, "scope": "a b"}, 200)):
        r = s("GET", "/bells", who=None, Authorization="Bearer " + jwt(**c))
        assert r.status == st, (c, r)
    none = b64(b'{"alg":"none"}') + "." + b64(json.dumps({**good, "iss": "https://guild.example", "aud": "belfry"}).encode()) + "."
    for a in (none, none + "x", "x", "", "a.b.c"):
        is_(s("GET", "/bells", who=None, Authorization="Bearer " + a), 401, "who_rings")
    is_(s("GET", "/bells", who=None), 401, "who_rings")
    is_(s("GET", "/bells", who=None, Belfry_Rope="rope_nobody"), 401, "who_rings")
    is_(s("GET", "/bells", who=None, Belfry_Rope=""), 401, "who_rings")
    is_(s("GET", "/bells?Belfry-Rope=x"), 400, "wrong_query")
    mine = "Bearer " + jwt(sub="anna", role="captain")
    is_(s("GET", "/bells", Authorization=mine), 200)
    s.bell()
    assert s("GET", "/bells", who=None, Authorization=mine).json["count"] == 1
    is_(s("GET", "/bells", Authorization="Bearer " + jwt(sub="anna", role="steward")), 401, "who_rings")
    # a key that time makes bad
    t = "Bearer " + jwt(**{**good, "exp": now + 3600})
    is_(s("GET", "/bells", who=None, Authorization=t), 200)
    s.clock(advance=HOUR + 1000)
    is_(s("GET", "/bells", who=None, Authorization=t), 401, "who_rings")


@test
def events(s):
    a, d, b = s.herald(), s.herald("dorit"), s.herald("bert")
    bell = s.bell(open=True, material="iron")
    assert b.kinds(1) == ["bell.added"]
    p = f"/bells/{bell['slug']}"
    s("PATCH", p, {"open": False})
    s("PUT", p, {"name": "N", "weight": 5})
    at = s.attempt(bell=bell["slug"], changes=10000)
    n = at["nr"]
    f = s("POST", f"/attempts/{n}/footnotes", {"text": "x"}).json["footnote"]
    s.do(n, "begin")
    s.do(n, "finish", {"rung": 5})
    s.do(n, "reopen")
    s.do(n, "scratch")
    s("DELETE", f"/attempts/{n}")
    s("DELETE", p)
    want = {"bell/" + bell["slug"]: ["bell.added", "bell.recast", "bell.recast", "bell.melted"],
            f"attempt/{n}": ["attempt.planned", "attempt.long", "attempt.begun", "attempt.ended", "attempt.planned", "attempt.ended"], "footnote": ["footnote.added"]}
    for g in (a, d):
        got = g.wait(11)
        time.sleep(0.2)
        assert len(got) == 11
        by = {}
        for h, body, e in got:
            assert set(e) == {"number", "what", "told", "about"} and h["belfry-kind"] == e["what"] and h["content-type"] == "application/json"
            x = e["about"]
            k = "footnote" if "text" in x else "bell/" + x["slug"] if "slug" in x else f"attempt/{x['nr']}"
            by.setdefault(k, []).append(e["what"])
        assert by == want, by
        assert len({e["number"] for _, _, e in got}) == 11
    assert {e["number"] for _, _, e in a.got} == {e["number"] for _, _, e in d.got}
    melted = [e for _, _, e in a.got if e["what"] == "bell.melted"][0]
    assert melted["about"] == {"slug": bell["slug"], "captain": "anna"}
    ended = [e["about"] for _, _, e in a.got if e["what"] == "attempt.ended"]
    assert [x["status"] for x in ended] == ["short", "scratched"] and set(ended[0]) == {"nr", "status", "at"}
    assert [e["about"] for _, _, e in a.got if e["what"] == "footnote.added"] == [f]
    b.none_more(1)
    x = s.attempt()["nr"]
    s.clock(advance=21 * DAY)
    assert a.wait(14)[-1][2]["what"] == "attempt.lapsed" and a.got[-1][2]["about"]["status"] == "lapsed"
    is_(s("DELETE", f"/heralds/{a.id}"), 204)
    s.bell()
    d.wait(15)
    a.none_more(14)


@test
def deliveries(s):
    """in order for one resource: the later waits for the earlier; others do not wait"""
    g = s.herald(status=503)
    b = s.bell()
    s("PATCH", f"/bells/{b['slug']}", {"weight": 7})
    s.bell()
    assert g.kinds(2) == ["bell.added", "bell.added"]
    g.none_more(2)
    g.status = 204
    s.clock(advance=20_000)
    g.wait(5)
    kinds = [(e["what"], e["about"]["slug"]) for _, _, e in g.got[2:]]
    mine = [k for k, slug in kinds if slug == b["slug"]]
    assert mine == ["bell.added", "bell.recast"] and len(kinds) == 3, kinds
    # given up: the later goes on
    g.status = 500
    g.got.clear()
    s("PATCH", f"/bells/{b['slug']}", {"weight": 8})
    g.wait(1)
    s("PATCH", f"/bells/{b['slug']}", {"weight": 9})
    for i, w in enumerate((20_000, 3 * MIN, HOUR), 2):
        time.sleep(0.2)
        s.clock(advance=w)
        g.wait(i)
    g.wait(5)
    assert [e["about"]["weight"] for _, _, e in g.got] == [8, 8, 8, 8, 9]
    # redirects are no acceptance; a receiver that hangs is given 5 seconds
    h = s.herald("bert", status=302)
    s.bell("bert")
    h.wait(1)
    time.sleep(0.2)
    s.clock(advance=20_000)
    assert len(h.wait(2)) == 2
    quiet = socket.create_server(("127.0.0.1", 0))
    port = quiet.getsockname()[1]
    s("POST", "/heralds", {"url": f"http://127.0.0.1:{port}/"}, "clara")
    s.bell("clara")
    quiet.settimeout(2)
    c, _ = quiet.accept()
    c.settimeout(7)
    t = time.time()
    while c.recv(65536):
        pass
    assert 4 < time.time() - t < 6.5
    s.clock(advance=20_000)
    c2, _ = quiet.accept()
    for x in (c, c2, quiet):
        x.close()


@test
def editions(s):
    b = s.bell()["slug"]
    r = is_(s("POST", "/attempts?edition=e1", {**{k: v for k, v in ATT.items() if k != "changes"}, "bell": b, "length": 0, "duration": 90}), 422, "unfit")
    assert r.json["trouble"]["places"] == ["/duration", "/length"] and r.headers["deprecation"]
    is_(s("POST", "/attempts?edition=e1", {**ATT, "bell": b, "length": 1, "duration": 60}), 422, "unfit")
    a = is_(s("POST", "/attempts?edition=e1", {"bell": b, "label": "x", "style": "handbell", "length": 7, "duration": 86400, "starts_at": ATT["starts_at"]}), 201)
    nr = a.json["attempt"]["nr"]
    old, new = s("GET", f"/attempts/{nr}?edition=e1"), s("GET", f"/attempts/{nr}?edition=e2")
    assert old.json == a.json and old.headers["etag"] == a.headers["etag"] != new.headers["etag"]
    assert new.json["attempt"]["duration"] == 1440 and new.json["attempt"]["changes"] == 7 and new.json["attempt"]["style"] == "hand" and new.json["attempt"]["fee"] == 200
    assert "deprecation" not in new.headers and new.json == s("GET", f"/attempts/{nr}").json
    is_(s("PATCH", f"/attempts/{nr}?edition=e1", {"length": 8}, If_Match=new.headers["etag"]), 412, "stale")
    r = is_(s("PATCH", f"/attempts/{nr}?edition=e1", {"length": 8, "duration": 120, "style": "tower"}, If_Match=old.headers["etag"]), 200)
    assert r.json["attempt"]["length"] == 8 and s("GET", f"/attempts/{nr}").json["attempt"]["duration"] == 2
    is_(s("PATCH", f"/attempts/{nr}?edition=e1", {"changes": 8}, If_Match="*"), 422, "unfit")
    is_(s("PATCH", f"/attempts/{nr}", {"length": 8}, If_Match="*"), 422, "unfit")
    is_(s("POST", "/bells?edition=e1", {**BELL, "material": "iron"}), 422, "unfit")
    is_(s("POST", "/bells?edition=e1", BELL), 201)
    assert s("GET", "/bells/one").json["bell"]["material"] == "bronze"
    for q in ("e3", "", "E1", "e1&edition=e1"):
        is_(s("GET", "/bells?edition=" + q), 400, "edition_unknown")
    r = is_(s("GET", "/rounds?edition=e1", who=None), 200)
    assert r.headers["deprecation"] == "@1736899200" and r.headers["sunset"] == "Wed, 15 Jan 2031 00:00:00 GMT"
    r = is_(s("GET", "/bells?edition=e1", who=None), 401)
    assert r.headers["deprecation"]


@test
def clock(s):
    a = s.clock()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", a)
    b = s.clock(advance=1000)
    assert b > a
    s.clock(now="2035-01-01T00:00:00Z")
    assert s.clock().startswith("2035-01-01T00:00:0")
    put = lambda raw: s.send(s.clock_port, "POST", "/", raw, {}).status
    assert put('{"now":"2034-01-01T00:00:00Z"}') == 422 and put('{"advance":-1}') == 422
    for raw in ("", "x", "{}", '{"advance":"1"}', '{"now":"x"}', "[]", '{"advance":null}', '{"advance":true}'):
        assert put(raw) == 400, raw
    assert put('{"advance":0}') == 200
    assert s.bell()["made_at"].startswith("2035-01-01T00:00:0")


@test
def rates(s):
    for i in range(5990):
        assert s("GET", "/bells/none").status == 404
    for i in range(10):
        is_(s("GET", "/bells?x=1"), 400)
    r = is_(s("GET", "/bells"), 429, "too_fast")
    assert 1 <= int(r.headers["retry-after"]) <= 60
    is_(s("GET", "/bells", who="bert"), 200)
    is_(s("GET", "/rounds"), 200)
    is_(s("GET", "/nowhere"), 404, "no_path")
    s.clock(advance=55_000)
    for i in range(20):
        s("GET", "/bells")
    s.clock(advance=5_000)
    is_(s("GET", "/bells"), 200)


@test
def wire(s):
    """pipelined requests, a chunked body, pieces, HTTP/1.0, an idle connection"""
    def talk(data, parts=1):
        c = socket.create_connection(("127.0.0.1", s.port), timeout=3)
        step = max(1, len(data) // parts)
        for i in range(0, len(data), step):
            c.sendall(data[i:i + step])
            if parts > 1:
                time.sleep(0.01)
        out = b""
        while True:
            try:
                more = c.recv(65536)
            except TimeoutError:
                break
            if not more:
                break
            out += more
        c.close()
        return out
    get = b"GET /tower/rounds HTTP/1.1\r\nHost: x\r\n"
    assert talk(get + b"\r\n" + get + b"Connection: close\r\n\r\n").count(b"HTTP/1.1 200") == 2
    assert b"200 OK" in talk(b"GET /tower/rounds HTTP/1.0\r\n\r\n")
    body = json.dumps(BELL).encode()
    head = b"POST /tower/bells HTTP/1.1\r\nHost: x\r\nBelfry-Rope: " + CRED["anna"]["Belfry-Rope"].encode() + b"\r\nContent-Type: application/json\r\nConnection: close\r\n"
    chunks = b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (10, body[:10], len(body) - 10, body[10:])
    assert b"201 Created" in talk(head + chunks, 7)
    big = json.dumps({**BELL, "slug": "two", "name": "x" * 100000}).encode()
    assert b" 413 " in talk(head + b"Content-Length: %d\r\n\r\n" % len(big) + big, 3)
    assert b" 400 " in talk(b"nonsense\r\n\r\n")


@test
def time_outs(s):
    """a slow body is given 10 seconds, an idle connection 60"""
    idle = socket.create_connection(("127.0.0.1", s.port), timeout=70)
    started = time.time()
    c = socket.create_connection(("127.0.0.1", s.port), timeout=15)
    c.sendall(b"POST /tower/bells HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(4):
        time.sleep(2)
        c.sendall(b" ")
    assert b" 408 " in c.recv(65536) and 9.5 < time.time() - started < 11.5
    c.close()
    idle.sendall(b"GET /tower/rounds HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b" 200 " in idle.recv(65536)
    t = time.time()
    assert idle.recv(65536) == b"" and 59 < time.time() - t < 62
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
        except (AssertionError, KeyError, IndexError, TypeError, OSError, http.client.HTTPException) as e:
            bad += 1
            import traceback
            print("WRONG", t.__name__, traceback.extract_tb(e.__traceback__)[1].lineno, type(e).__name__, str(e)[:400], flush=True)
        finally:
            s.close()
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
