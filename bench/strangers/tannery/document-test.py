#!/usr/bin/env python3
"""The right service against its document, statement by statement, where faults-test.py does not already do it. Usage: document-test.py [NAME …]"""
import sys
from harness import *

TESTS = []


def test(f):
    TESTS.append(f)
    return f


HIDE = {"tag": "HH-0001", "species": "goat", "weightKg": 3}
PIT = {"code": "one", "title": "One", "litres": 500}
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@test
def hide_fields(s):
    for k, bad in {"tag": ["AA-001", "AAA-0001", "AA-0001\n", 7, None], "species": ["pig", None, 1], "grade": ["D", None], "weightKg": [0.4, 90.1, "9", None, True], "areaDm2": [0, 901, 1.5, None],
                   "askCents": [-1, 10000001, 0.5, None], "origin": ["x", {}, {"farm": "", "country": "PT"}, {"farm": "F"}, {"farm": "F", "country": "pt"}, {"farm": "F", "country": "PT", "lots": [0]}, {"farm": "F", "country": "PT", "lots": [1000000]}, {"farm": "F", "country": "PT", "lots": [1, 2, 3, 4]}],
                   "labels": ["x", [""], ["x" * 21], ["a", "b", "c", "d", "e"], [1], None], "note": ["x" * 201, 1], "costCents": [-1, 1.5, 100000001], "certificateUrl": ["no", 1], "contact": ["no", "a@", 1], "foo": [1, None]}.items():
        for v in bad:
            r = is_(s("POST", "/hides", {**HIDE, k: v}), 422, "invalid")
            assert r.json["error"]["spots"][0]["at"].startswith("/" + k), r
    for k in HIDE:
        r = is_(s("POST", "/hides", {a: b for a, b in HIDE.items() if a != k}), 422, "invalid")
        assert [p["at"] for p in r.json["error"]["spots"]] == ["/" + k]
    full = {"tag": "HH-0002", "species": "deer", "grade": "C", "weightKg": 0.5, "areaDm2": 900, "askCents": 10000000, "origin": {"farm": "é" * 80, "country": "PT", "lots": [1, 2, 2]}, "labels": ["a", "b", "c", "\u2603" * 20],
            "note": "", "costCents": 0, "certificateUrl": "https://x.example/a?b#c", "contact": "a.b+c@d.example"}
    d = is_(s("POST", "/hides", full), 201).data
    assert {k: d[k] for k in full} == full and set(d) == set(full) | {"id", "owner", "saltings", "status", "arrivedAt", "changedAt"}, d
    assert re.fullmatch(r"hid_[0-9A-HJKMNP-TV-Z]{26}", d["id"]) and re.fullmatch(TIME, d["arrivedAt"])
    assert s.get(f"/hides/{d['id']}").json == {"data": d, "apiVersion": "v2"}
    d = is_(s("POST", "/hides", {**HIDE, "id": 5, "owner": "x", "status": None, "saltings": 9}), 201).data
    assert d["owner"] == "tilda" and d["status"] == "raw" and d["saltings"] == 0 and d["grade"] == "B" and d["askCents"] == 0
    is_(s("POST", "/hides", HIDE), 409, "taken")
    is_(s("POST", "/hides", raw=b'{"tag":"HH-0003","species":"cow","weightKg":10.0,"areaDm2":1e2}'), 201)


@test
def hide_changes(s):
    h = s.hide(note="n", origin={"farm": "F", "country": "PT"}, labels=["a"])
    p = f"/hides/{h['id']}"
    for k in ("tag", "species", "grade", "weightKg", "askCents", "labels"):
        is_(s("PATCH", p, {k: None}), 422, "invalid")
    is_(s("PATCH", p, {"origin": {"farm": None}}), 422, "invalid")
    is_(s("PATCH", p, {"foo": None}), 422, "invalid")
    s.clock("PT1S")
    r = is_(s("PATCH", p, {"note": None, "origin": None, "weightKg": 4, "owner": "x"}, Content_Type="application/merge-patch+json"), 200)
    assert not {"note", "origin"} & set(r.data) and r.data["changedAt"] > h["changedAt"] and r.data["arrivedAt"] == h["arrivedAt"] and r.data["owner"] == "tilda"
    assert r.headers["etag"] == s.get(p).headers["etag"]
    is_(s("PATCH", p, {"weightKg": 5}, If_Match=r.headers["etag"]), 200)
    is_(s("PATCH", p, {"weightKg": 5}, If_Match=r.headers["etag"]), 412, "changedMeanwhile")
    is_(s("PATCH", p, {"weightKg": 6}, If_Match='"x", ' + s.get(p).headers["etag"]), 200)
    body = {"tag": h["tag"], "species": "cow", "weightKg": 5}
    is_(s("PUT", p, body), 428, "sayWhich")
    is_(s("PUT", p, {"tag": h["tag"]}, If_Match="*"), 422, "invalid")
    r = is_(s("PUT", p, body, If_Match="*"), 200).data
    assert r["labels"] == [] and r["saltings"] == 0 and r["id"] == h["id"] and r["arrivedAt"] == h["arrivedAt"]
    other = s.hide()
    is_(s("PATCH", p, {"tag": other["tag"]}), 409, "taken")
    s.ok(p + "/soak")
    is_(s("PUT", p, body, If_Match="*"), 423, "hideLocked")
    is_(s("PATCH", p, {"weightKg": 9}), 200)
    is_(s("DELETE", p), 423, "hideLocked")
    s.ok(p + "/reject", {"reason": "rot"})
    is_(s("PATCH", p, {"weightKg": 9}), 423, "hideLocked")
    is_(s("DELETE", p), 204)
    is_(s("GET", p), 404, "notFound")
    assert s.get(f"/hides/{other['id']}").headers["cache-control"] == "private, max-age=30"


@test
def hide_states(s):
    p = f"/hides/{s.hide()['id']}"
    is_(s.do(p + "/tan", {"softness": 5}), 409, "wrongState")
    assert s.ok(p + "/salt")["saltings"] == 1
    s.ok(p + "/soak")
    is_(s.do(p + "/salt"), 409, "wrongState")
    is_(s.do(p + "/soak"), 409, "wrongState")
    for bad in ({}, {"softness": 11}, {"softness": "5"}, {"softness": -1}):
        is_(s.do(p + "/tan", bad), 422, "invalid")
    is_(s.do(p + "/tan"), 400, "unreadable")
    assert s.ok(p + "/tan", {"softness": 4})["status"] == "rejected"
    is_(s.do(p + "/reject", {"reason": "abc"}), 409, "tooLateToReject")
    h = s.hide()
    is_(s.do(f"/hides/{h['id']}/reject", {"reason": "ab"}), 422, "invalid")
    assert s.ok(f"/hides/{h['id']}/reject", {"reason": "abc"}, "frida")["status"] == "rejected"
    h = s.hide()
    s.clock("PT239H")
    assert s.get(f"/hides/{h['id']}").data["status"] == "raw"
    s.clock("PT1H")
    d = s.get(f"/hides/{h['id']}").data
    assert d["status"] == "rejected" and d["changedAt"] > h["changedAt"]


@test
def pits(s):
    r = is_(s("POST", "/pits", PIT, "fritz"), 201)
    assert r.headers["location"] == "/tanhouse/v2/pits/one" and r.data == {**PIT, "liquor": "oak", "covered": False, "changedAt": r.data["changedAt"]}
    is_(s("POST", "/pits", PIT, "frida"), 409, "taken")
    is_(s("POST", "/pits", {**PIT, "code": "two"}, "frida2"), 409, "taken")
    is_(s("POST", "/pits", PIT), 403, "notYours")
    for k, bad in {"code": ["O", "1a", "a", "a" * 21], "title": ["", "x" * 61], "litres": [99, 50001, 1.5], "liquor": ["bark", None], "covered": ["true"], "inspectedOn": ["1.1.2026", "2026-13-01"]}.items():
        for v in bad:
            is_(s("POST", "/pits", {**PIT, k: v}, "frida"), 422, "invalid")
    s.clock("PT1S")
    r2 = is_(s("PUT", "/pits/one", {"title": "One", "litres": 500}, "frida"), 200)
    assert r2.data == r.data
    r2 = is_(s("PUT", "/pits/one", {"title": "ONE", "litres": 600, "inspectedOn": "2026-02-28"}, "frida"), 200)
    assert r2.data["inspectedOn"] == "2026-02-28" and r2.data["changedAt"] > r.data["changedAt"]
    assert "inspectedOn" not in is_(s("PUT", "/pits/one", {"code": "one", "title": "ONE", "litres": 600}, "frida"), 200).data
    r = is_(s("PUT", "/pits/new", {"title": "New", "litres": 700, "covered": True}, "frida"), 201)
    assert r.headers["location"] == "/tanhouse/v2/pits/new"
    is_(s("PUT", "/pits/Bad", {"title": "Bad", "litres": 700}, "frida"), 422, "invalid")
    assert [p["code"] for p in s.get("/pits?covered=true", "bo").items] == ["new"]
    assert [p["code"] for p in s.get("/pits?minLitres=700").items] == ["new"]
    assert [p["code"] for p in s.get("/pits").items] == ["new", "one"]
    assert [p["code"] for p in s.get("/pits?sort=-code").items] == ["one", "new"]
    for bad in ("covered=yes", "minLitres=x", "minLitres=1.5", "sort=title", "liquor=bark", "sort=litres&sort=litres"):
        is_(s("GET", "/pits?" + bad), 400, "badParameter")
    is_(s("DELETE", "/pits/new", who="frida"), 204)
    is_(s("DELETE", "/pits/new", who="frida"), 404, "notFound")
    is_(s("DELETE", "/pits/one"), 403, "notYours")


@test
def batches(s):
    b = s.batch()
    p = f"/batches/{b['nr']}"
    assert b["nr"] == 1 and b["status"] == "planned"
    is_(s("GET", p, who="timo"), 404, "notFound")
    is_(s("GET", p, who="berta"), 403, "notYours")
    assert s.get(p, "fritz").headers["etag"]
    is_(s("POST", "/batches", {"hide": b["hide"], "pit": "nope", "recipe": "r", "days": 1}), 422, "danglingReference")
    is_(s("POST", "/batches", {"hide": b["hide"], "pit": s.pit(litres=199)["code"], "recipe": "r", "days": 1}), 409, "pitTooSmall")
    for k, bad in {"days": [0, 61, 1.5, None], "recipe": ["", "x" * 101], "hide": [1], "foo": [1]}.items():
        for v in bad:
            is_(s("PATCH", p, {k: v}), 422, "invalid")
    is_(s("PATCH", p, {"days": 6, "hide": b["hide"]}, If_Match=s.get(p).headers["etag"]), 200)
    is_(s("PATCH", p, {"days": 7}, "frida"), 403, "notYours")
    is_(s.do(p + "/finish", {"ph": 4}), 409, "wrongState")
    d = s.ok(p + "/start")
    assert d["status"] == "running" and "startedAt" in d
    is_(s("PATCH", p, {"days": 7}), 409, "wrongState")
    is_(s("DELETE", p), 409, "wrongState")
    s.clock("PT143H")
    assert s.get(p).data["status"] == "running"
    s.clock("PT1H")
    assert s.get(p).data["status"] == "resting"
    is_(s.do(p + "/abandon", who="frida"), 409, "batchClosed")
    is_(s.do(p + "/finish", {"ph": 3.1}), 422, "badPh")
    is_(s.do(p + "/finish", {"ph": 15}), 422, "invalid")
    assert s.ok(p + "/finish", {"ph": 3.2})["finalPh"] == 3.2
    c = s.batch("timo")
    assert s.ok(f"/batches/{c['nr']}/abandon", who="fritz")["status"] == "abandoned"
    is_(s("DELETE", f"/batches/{c['nr']}", who="timo"), 204)
    c = s.batch(days=9)
    assert [x["nr"] for x in s.get("/batches?sort=-days").items] == [c["nr"], b["nr"]]
    assert [x["nr"] for x in s.get("/batches?maxDays=6").items] == [b["nr"]] and len(s.get(f"/batches?pit={c['pit']}&status=planned").items) == 1
    s.clock("P14D")
    assert s.get(f"/batches/{c['nr']}").data["status"] == "abandoned"
    is_(s("DELETE", f"/hides/{s.hide()['id']}"), 204)
    h = s.hide()
    s.batch(hide=h["id"])
    is_(s("DELETE", f"/hides/{h['id']}"), 409, "stillUsed")


@test
def readings(s):
    b = s.batch()
    p = f"/batches/{b['nr']}/readings"
    for bad in ({}, {"ph": 15}, {"ph": -0.1}, {"ph": 5, "celsius": 61}, {"ph": 5, "remark": "x" * 101}, {"ph": 5, "batch": 99}, {"ph": 5, "x": 1}):
        is_(s.do(p, bad), 422, "invalid")
    d = is_(s.do(p, {"ph": 5.5, "celsius": -5, "remark": None, "batch": b["nr"]}), 201).data
    assert d["remark"] is None and d["batch"] == b["nr"] and re.fullmatch(r"[0-9a-f-]{36}", d["id"])
    s.clock("PT1S")
    e = is_(s.do(p, {"ph": 0}), 201).data
    r = s.get(p)
    assert r.json == {"items": [e, d], "totalItems": 2}
    assert s.get(p + "?skip=1&pageSize=1", "frida").items == [d]
    is_(s("GET", p + "?pageSize=101"), 400, "badPage")
    is_(s("GET", p + "?skip=-1"), 400, "badPage")
    is_(s("GET", p, who="timo"), 404, "notFound")
    is_(s("GET", p, who="bo"), 403, "notYours")
    is_(s.do("/batches/77/readings", {}), 404, "notFound")
    is_(s("GET", "/batches/77/readings"), 404, "notFound")
    is_(s("GET", "/batches/x/readings"), 404, "notFound")


@test
def orders(s):
    h = s.tanned()
    body = {"hide": h["id"], "pieces": 2, "deliverTo": TO}
    for k, bad in {"pieces": [0, 21, 1.5, None], "deliverTo": [{}, {**TO, "name": ""}, {**TO, "country": "XX"}, {**TO, "x": 1}, None], "doorCode": ["123", "1234567", 1234], "message": ["x" * 301, 1], "deliverBy": ["soon", "2026-01-01"], "rush": ["yes"], "x": [1]}.items():
        for v in bad:
            is_(s("POST", "/orders", {**body, k: v}, "berta", X_Request_Key="k"), 422, "invalid")
    is_(s("POST", "/orders", {**body, "hide": s.hide()["id"]}, "berta", X_Request_Key="k"), 422, "danglingReference")
    is_(s("POST", "/orders", body, "tilda", X_Request_Key="k"), 403, "notYours")
    r = is_(s("POST", "/orders", {**body, "deliverBy": "2027-01-01T10:00:00+01:00", "doorCode": "1234"}, "berta", X_Request_Key="k2"), 201)
    o = r.data
    assert re.fullmatch(r"ORD-[A-Za-z0-9]{10}", o["id"]) and o["seller"] == "tilda" and o["buyer"] == "berta" and o["deliverBy"] == "2027-01-01T10:00:00+01:00" and r.headers["location"] == "/tanhouse/v2/orders/" + o["id"]
    p = f"/orders/{o['id']}"
    for who, status in (("tilda", 200), ("berta", 200), ("frida", 200), ("timo", 404), ("bo", 404)):
        is_(s("GET", p, who=who), status)
    is_(s("POST", "/orders", body, "bo", X_Request_Key="k"), 409, "taken")
    is_(s("PATCH", p, {"rush": True}, "berta", If_Match="*"), 422, "invalid")
    is_(s("PATCH", p, {"pieces": 3}, "tilda", If_Match="*"), 403, "notYours")
    r = is_(s("PATCH", p, {"message": "hi", "deliverTo": {"street": "Rua 2"}}, "berta", If_Match=s.get(p, "berta").headers["etag"]), 200)
    assert r.data["deliverTo"]["street"] == "Rua 2" and r.headers["etag"]
    is_(s("DELETE", f"/hides/{h['id']}"), 423)
    is_(s.do(p + "/confirm", who="berta"), 403, "notYours")
    assert s.ok(p + "/confirm")["status"] == "confirmed"
    is_(s.do(p + "/confirm"), 409, "wrongState")
    is_(s.do(p + "/ship", {"trackingCode": "abc"}), 422, "invalid")
    a = is_(s.do(p + "/ship", {"trackingCode": "ABC123"}, X_Request_Key="z"), 200)
    assert a.json == is_(s.do(p + "/ship", {"trackingCode": "ABC123"}, X_Request_Key="z"), 200).json and a.data["closedAt"]
    is_(s.do(p + "/cancel", who="berta"), 409, "orderClosed")
    is_(s.do(p + "/cancel", who="fritz"), 403, "notYours")
    q = s.order("bo")
    assert s.ok(f"/orders/{q['id']}/cancel", who="frida")["status"] == "cancelled"
    n = s.tanned(askCents=0)
    x = {"hide": n["id"], "pieces": 1, "deliverTo": TO}
    is_(s("POST", "/orders", x, "bo", X_Request_Key="own"), 409, "notForSale")
    s("PATCH", f"/hides/{n['id']}", {"askCents": 9})
    is_(s("POST", "/orders", x, "bo", X_Request_Key="own"), 409, "notForSale")
    e = s.order("bo", n["id"])
    s.clock("P2D")
    assert s.get(f"/orders/{e['id']}", "bo").data["status"] == "expired"
    assert len(s.get("/orders?status=expired,cancelled", "bo").items) == 2 and s.get("/orders?rush=true", "bo").items == []
    assert len(s.get("/orders?placedBefore=" + s.clock()).items) == 3 and len(s.get("/orders?seller=timo", "bo").items) == 0
    is_(s("GET", "/orders?status=open,foo"), 400, "badParameter")


@test
def lists(s):
    hs = [s.hide(weightKg=w) for w in (5, 7, 7, 9)]
    seen, t = [], ""
    while t is not None:
        r = s.get("/hides?sort=-weightKg&pageSize=2" + (f"&pageToken={t}" if t else "")).json
        assert set(r) == {"items", "nextPageToken", "hasMore", "totalItems", "kind"} and r["kind"] == "page" and r["totalItems"] == 4
        seen += [h["id"] for h in r["items"]]
        t = r["nextPageToken"]
        assert r["hasMore"] is (t is not None)
    assert seen == [hs[i]["id"] for i in (3, 1, 2, 0)]
    for bad in ("pageSize=0", "pageSize=x", "pageSize=-1", "pageToken=x", "pageToken="):
        is_(s("GET", "/hides?" + bad), 400, "badPage")
    s.ok(f"/hides/{hs[0]['id']}/soak")
    assert len(s.get("/hides?status=soaked").items) == 1 and len(s.get("/hides?notStatus=soaked").items) == 3
    assert len(s.get("/hides?owner=timo", "frida").items) == 0 and len(s.get("/hides?species=cow", "frida").items) == 4 and s.get("/hides", "berta").items == []
    assert s.get("/hides?arrivedAfter=" + s.clock()).items == []
    for _ in range(8):
        s.hide()
    assert len(s.get("/hides").items) == 10
    for bad in ("status=dry", "minWeight=x", "arrivedAfter=now", "sort=weight", "kind=cow"):
        is_(s("GET", "/hides?" + bad), 400, "badParameter")


@test
def plain_http(s):
    r = is_(s("GET", "/openingHours", who=None), 200)
    assert r.json == {"timeZone": "Europe/Lisbon", "weekdays": "07-17", "saturday": "08-12"} and r.headers["cache-control"] == "public, max-age=3600"
    is_(s("GET", "/nowhere"), 404, "noSuchPath")
    is_(s("GET", "/hides/"), 404, "noSuchPath")
    r = is_(s("DELETE", "/hides"), 405, "wrongMethod")
    assert r.headers["allow"] == "GET, HEAD, POST"
    r = is_(s("GET", "/hides", who=None), 401, "whoAreYou")
    assert r.headers["www-authenticate"].startswith("Basic") and r.headers["vary"] == "Authorization, Cookie"
    is_(s("GET", "/hides", who=None, Authorization="Bearer x"), 401)
    is_(s("GET", "/hides", who=None, **basic("timo", "")), 401)
    is_(s("GET", "/hides", **{"Cookie": CRED["bo"]["Cookie"]}), 401)
    is_(s("GET", "/hides", who="frida", **{"Cookie": CRED["frida2"]["Cookie"]}), 200)
    for raw in (b"{", b"", b'{"a":1}x', b"\xff", b'{"a":01}', b"{'a':1}"):
        is_(s("POST", "/hides", raw=raw), 400, "unreadable")
    is_(s("POST", "/hides", raw=b"[1]"), 422, "invalid")
    is_(s("POST", "/hides", HIDE, Content_Type="text/plain"), 415, "wrongMedia")
    is_(s("POST", "/hides", HIDE, Content_Type="application/merge-patch+json"), 415, "wrongMedia")
    is_(s("POST", "/hides", HIDE, Content_Type="application/json; charset=utf-8", Accept="application/*;q=0.5, text/html"), 201)
    is_(s("GET", "/hides", Accept="application/json;q=0"), 406, "notAcceptable")
    is_(s("POST", "/hides", raw=json.dumps(HIDE).encode().ljust(16385)), 413, "tooBig")
    is_(s("GET", "/hides?tagPrefix=" + "x" * 2048), 413, "tooBig")
    is_(s("GET", "/hides", If_Match='"x"'), 200)
    is_(s("POST", f"/hides/{s.hide()['id']}/salt", raw=b"not looked at"), 200)
    assert s("HEAD", "/hides").text == ""


@test
def estimates(s):
    r = is_(s("GET", "/estimates?species=deer&weightKg=2.5&rush=true"), 200).json
    assert r["species"] == "deer" and r["rush"] is True and r["days"] >= 1
    for bad in ("", "?species=deer", "?species=pig&weightKg=2", "?species=cow&weightKg=0.4", "?species=cow&weightKg=2&rush=1"):
        is_(s("GET", "/estimates" + bad), 400, "badParameter")
    is_(s("GET", "/estimates?species=deer&weightKg=2", who="frida"), 403, "notYours")


@test
def hooks(s):
    for bad in ({}, {"callbackUrl": "x"}, {"callbackUrl": "http://127.0.0.1/", "topics": ["hide.bought"]}, {"callbackUrl": "http://127.0.0.1/", "topics": ["*"] * 9}, {"callbackUrl": "http://127.0.0.1/", "active": 1}):
        is_(s("POST", "/hooks", bad), 422, "invalid")
    k = s.hook()
    assert re.fullmatch(r"seal_[A-Za-z0-9]{32}", k.key)
    p = "/hooks/" + k.id
    is_(s("GET", p, who="timo"), 404, "notFound")
    assert s.get("/hooks").json == {"items": [s.get(p).data]}
    h = s.hide()
    d = k.wait(1)[0]
    assert set(d) == {"eventId", "topic", "occurredAt", "content"} and d["content"] == h and re.fullmatch(TIME, d["occurredAt"]) and k.sealed()
    is_(s("PATCH", p, {"active": False}), 200)
    s.hide()
    k.none_more(1)
    is_(s("PATCH", p, {"active": True, "topics": ["order.*"]}), 200)
    f = s.hook("berta")
    o = s.order()
    assert k.topics(2)[1] == "order.placed" and [t for t in f.topics(2)] == ["hide.changed", "order.placed"] and f.got[1]["content"]["id"] == o["id"]
    s.ok(f"/orders/{o['id']}/cancel", who="berta")
    assert k.topics(3)[2] == "order.closed" and k.got[2]["content"]["status"] == "cancelled"
    is_(s("DELETE", p), 204)
    s.order()
    k.none_more(3)


@test
def tries(s):
    k = s.hook(status=503, topics=["hide.arrived"])
    s.hide()
    k.wait(1)
    for n, (less, rest) in enumerate((("PT9S", "PT1S"), ("PT59S", "PT1S"), ("PT9M", "PT1M"), ("PT59M", "PT1M")), 2):
        s.clock(less)
        assert len(k.got) == n - 1, (n, len(k.got))
        s.clock(rest)
        k.wait(n)
    k.status = 200
    s.clock("PT12H")
    k.wait(6)
    assert len({g["eventId"] for g in k.got}) == 1 and len({b for b in k.bodies}) == 1 and all(k.sealed(i) for i in range(6))
    s.hide()
    k.wait(7)


@test
def streams(s):
    g, f = s.listen(), s.listen("frida2", v="v1")
    h = s.hide()
    s("DELETE", f"/hides/{h['id']}")
    assert [e["topic"] for e in g.wait(2)] == ["hide.arrived", "hide.gone"]
    assert f.wait(2)[0]["content"]["kind"] == "cow" and "costCents" not in f.got[0]["content"]
    assert g.frames[0]["id"] == g.got[0]["eventId"] and g.frames[1]["event"] == "hide.gone"
    s.clock("PT7H")
    s.hide()
    assert len(s.listen(last=g.got[0]["eventId"]).wait(1)) == 1
    assert s.listen(None).status == 401


@test
def versions(s):
    r = is_(s("POST", "/hides", {"tag": "VV-0001", "kind": "sheep", "weightKg": 3, "colour": "red", "askCents": 12.345}, v="v1"), 201)
    assert r.headers["location"] == "/tanhouse/v1/hides/" + r.data["id"] and r.data["askCents"] == 12.35 and r.json["apiVersion"] == "v1" and r.data["colour"] == "brown"
    p = f"/hides/{r.data['id']}"
    d = s.get(p).data
    assert d["species"] == "sheep" and d["grade"] == "B" and d["askCents"] == 1235 and "colour" not in d
    for bad in ({"species": "cow"}, {"grade": "A"}, {"kind": "pig"}, {"kind": None}, {"colour": 1}, {"askCents": -0.5}):
        is_(s("PATCH", p, bad, v="v1"), 422, "invalid")
    assert s.get(p, v="v1").headers["etag"] != s.get(p).headers["etag"]
    assert len(s.get("/hides?kind=sheep", v="v1").items) == 1
    is_(s("GET", "/hides?species=sheep", v="v1"), 400, "badParameter")
    is_(s("POST", "/pits", {**PIT, "liquor": "oak"}, "frida", v="v1"), 422, "invalid")
    assert is_(s("POST", "/pits", {**PIT, "liquor": "bark"}, "frida", v="v1"), 201).data["liquor"] == "bark"
    assert s.get("/pits/one").data["liquor"] == "oak"
    is_(s("GET", "/pits?liquor=oak", v="v1"), 400, "badParameter")
    r = s("GET", "/pits", v="v1")
    assert "https://tannery.example/moving-to-v2" in r.headers["link"] and "deprecation" not in s.get("/pits").headers
    is_(s("GET", "/pits", v="V2"), 404, "noSuchVersion")
    is_(s("GET", "/nowhere", v="v3"), 404, "noSuchPath")


@test
def clock_door(s):
    now = s.clock()
    assert re.fullmatch(TIME, now)
    assert s.clock("P1M")[:10] > now[:10]
    for body, status in ((b"{", 400), (b"{}", 400), (b'{"advance":"x"}', 400), (b'{"advance":5}', 400), (b'{"now":"2020-01-01T00:00:00Z"}', 422)):
        assert s.send(s.clock_port, "POST", "/", body, {}).status == status
    assert s.send(s.clock_port, "PUT", "/", b"", {}).status == 400


def main():
    bad = count = 0
    for t in TESTS:
        if sys.argv[1:] and t.__name__ not in sys.argv[1:]:
            continue
        s = Service()
        try:
            t(s)
            print("ok   ", t.__name__, s.count, flush=True)
        except (AssertionError, KeyError, IndexError, TypeError, AttributeError, OSError, http.client.HTTPException) as e:
            bad += 1
            import traceback
            print("WRONG", t.__name__, traceback.extract_tb(e.__traceback__)[1].lineno, type(e).__name__, str(e)[:400], flush=True)
        finally:
            count += s.count
            s.close()
    print(f"{count} requests, {bad} wrong")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
