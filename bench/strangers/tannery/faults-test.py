#!/usr/bin/env python3
"""For each fault a proof: it holds on the right service, and fails on the faulty one. Usage: faults-test.py [NAME …]"""
import concurrent.futures
import sys
from harness import *

FAULTS = {}


def fault(id, kind, subject, bug):
    def add(f):
        assert id not in FAULTS
        FAULTS[id] = (kind, subject, bug, f)
        return f
    return add


# ---- purpose ----

@fault("pu-base", "base address", "service", "A proxy in front strips /tanhouse, so the service only knows its paths without it.")
def _(s): is_(s("GET", "/openingHours", who=None), 200)


@fault("pu-buyer-out", "users", "service", "Buyers were left out of the table of roles: none of them gets in.")
def _(s): is_(s("GET", "/hides", who="bo"), 200)


@fault("pu-cancel", "functions", "service", "The route that cancels an order was never registered.")
def _(s): is_(s.do(f"/orders/{s.order()['id']}/cancel", who="berta"), 200)


@fault("pu-readings", "functions", "service", "Taking a reading is a stub that says 501.")
def _(s): is_(s.do(f"/batches/{s.batch()['nr']}/readings", {"ph": 5}), 201)


# ---- resources ----

def refused(s, **fields):
    return is_(s("POST", "/hides", {"tag": "ZZ-0001", "species": "cow", "weightKg": 2, **fields}), 422, "invalid")


@fault("re-tag-case", "allowed values", "hide.tag", "A tag in small letters passes.")
def _(s): refused(s, tag="zz-0001")


@fault("re-weight-edge", "allowed values", "hide.weightKg", "A hide of exactly 90 kg is refused.")
def _(s): s.hide(weightKg=90)


@fault("re-labels-twice", "allowed values", "hide.labels", "The same label can stand twice.")
def _(s): refused(s, labels=["wet", "wet"])


@fault("re-length-units", "allowed values", "hide.note", "Texts are measured in UTF-16 units, so that one of 150 emojis is too long.")
def _(s): s.hide(note="\U0001f404" * 150)


@fault("re-country", "formats", "origin.country", "Any two capitals pass for a country.")
def _(s): refused(s, origin={"farm": "F", "country": "QX"})


@fault("re-date", "formats", "pit.inspectedOn", "The 30th of February passes for a date.")
def _(s): is_(s("POST", "/pits", {"code": "abc", "title": "T", "litres": 500, "inspectedOn": "2026-02-30"}, "frida"), 422)


@fault("re-null-message", "types", "order.message", "A message that is null is refused.")
def _(s): assert s.order(message=None)["message"] is None


@fault("re-total-text", "types", "order.totalCents", "The total comes out as text.")
def _(s): assert s.order()["totalCents"] == 10000


@fault("re-when-seconds", "types", "order.placedAt", "The time of an order is cut to whole seconds.")
def _(s): assert re.fullmatch(r".*\.\d{3}Z", s.order()["placedAt"])


@fault("re-contact-lost", "field names", "hide", "The contact of a hide is kept when it is made, and lost when it is changed.")
def _(s):
    p = f"/hides/{s.hide(contact='a@farm.example')['id']}"
    is_(s("PATCH", p, {"contact": "b@farm.example"}), 200)
    assert s.get(p).data["contact"] == "b@farm.example"


@fault("re-extra", "field names", "hide", "Fields that nobody knows are stored instead of refused.")
def _(s): refused(s, smell="bad")


@fault("re-extra-nested", "field names", "origin", "Unknown fields of the origin are taken, and shown again.")
def _(s): refused(s, origin={"farm": "F", "country": "PT", "barn": 1})


@fault("re-labels", "required flags", "hide.labels", "A hide without labels says null where it should have an empty list.")
def _(s): assert s.hide()["labels"] == []


@fault("re-covered", "field names", "pit", "A pit is covered unless it says otherwise: the default is turned round.")
def _(s): assert s.pit()["covered"] is False


@fault("re-door-code", "field names", "order", "The door code, which is only to be written, comes back in answers.")
def _(s): assert "doorCode" not in s.order(doorCode="1234")


@fault("re-note-shown", "field names", "hide", "Buyers see the tanner's note.")
def _(s): assert "note" not in s.get(f"/hides/{s.tanned(note='hm')['id']}", "berta").data


@fault("re-shelf-shown", "field names", "hide", "The shelf mark, which nobody is to see, is shown.")
def _(s): assert "shelfMark" not in s.hide()


@fault("re-recipe", "required flags", "batch.recipe", "A batch can be made without a recipe.")
def _(s): is_(s("POST", "/batches", {"hide": s.hide()["id"], "pit": s.pit()["code"], "days": 3}), 422, "invalid")


@fault("re-hide-moved", "field names", "batch", "The hide of a batch can be changed afterwards.")
def _(s): is_(s("PATCH", f"/batches/{s.batch()['nr']}", {"hide": s.hide()["id"]}), 422, "invalid")


@fault("re-seal-again", "field names", "hook", "The seal key, shown once, is shown again at every reading.")
def _(s): assert "sealKey" not in s.get("/hooks/" + s.hook().id).data


@fault("re-total-stale", "field names", "order", "The total is not reckoned again when the pieces change.")
def _(s):
    p = f"/orders/{s.order()['id']}"
    assert is_(s("PATCH", p, {"pieces": 3}, "berta", If_Match="*"), 200).data["totalCents"] == 15000


@fault("re-reason", "field names", "hide", "The reason of a rejection is not kept.")
def _(s): assert s.ok(f"/hides/{s.hide()['id']}/reject", {"reason": "holes"})["rejectedBecause"] == "holes"


@fault("re-noop", "field names", "hide", "A change that changes nothing makes the hide look changed.")
def _(s):
    h = s.hide()
    s.clock("PT1S")
    assert is_(s("PATCH", f"/hides/{h['id']}", {"weightKg": 20}), 200).data == h


@fault("re-title-case", "conditions", "taken", "Titles of pits are compared with their case.")
def _(s):
    s.pit(title="The Deep")
    is_(s("POST", "/pits", {"code": "deep", "title": "the deep", "litres": 500}, "frida"), 409, "taken")


@fault("re-tag-global", "conditions", "taken", "A tag is taken when another tanner has it.")
def _(s):
    s.hide(tag="QQ-0001")
    s.hide("timo", tag="QQ-0001")


@fault("re-order-freed", "conditions", "taken", "A cancelled order goes on to hold its hide.")
def _(s):
    o = s.order()
    s.ok(f"/orders/{o['id']}/cancel", who="berta")
    s.order("bo", o["hide"])


@fault("re-pit-shared", "conditions", "taken", "Two batches can run in one pit.")
def _(s):
    a = s.batch()
    s.ok(f"/batches/{a['nr']}/start")
    is_(s.do(f"/batches/{s.batch(pit=a['pit'])['nr']}/start"), 409, "taken")


@fault("re-pit-held", "conditions", "stillUsed", "A pit with batches can be deleted.")
def _(s): is_(s("DELETE", f"/pits/{s.batch()['pit']}", who="frida"), 409, "stillUsed")


# ---- states ----

@fault("st-salt-clock", "transitions", "hide", "Salting does not start the ten days again.")
def _(s):
    h = s.hide()
    s.clock("P9D")
    s.ok(f"/hides/{h['id']}/salt")
    s.clock("P2D")
    assert s.get(f"/hides/{h['id']}").data["status"] == "raw"


@fault("st-salt-third", "transitions", "hide", "A hide can be salted a third time.")
def _(s):
    p = f"/hides/{s.hide()['id']}/salt"
    s.ok(p), s.ok(p)
    is_(s.do(p), 409, "tooSalty")


@fault("st-tan-edge", "transitions", "hide", "A softness of exactly five is rejected.")
def _(s): assert s.ok(f"/hides/{s.soaked()['id']}/tan", {"softness": 5})["status"] == "tanned"


@fault("st-reject-tanned", "transitions", "hide", "A tanned hide can still be rejected.")
def _(s): is_(s.do(f"/hides/{s.tanned()['id']}/reject", {"reason": "late"}), 409, "tooLateToReject")


@fault("st-spoil-soaked", "transitions", "hide", "The time of a raw hide runs on when it is soaked.")
def _(s):
    h = s.soaked()
    s.clock("P11D")
    assert s.get(f"/hides/{h['id']}").data["status"] == "soaked"


@fault("st-expire-early", "transitions", "order", "An order expires after one day instead of two.")
def _(s):
    o = s.order()
    s.clock("PT30H")
    assert s.get(f"/orders/{o['id']}", "berta").data["status"] == "open"


@fault("st-expire-postponed", "transitions", "order", "Each change of an order starts its two days again.")
def _(s):
    o = s.order()
    s.clock("PT40H")
    is_(s("PATCH", f"/orders/{o['id']}", {"pieces": 3}, "berta", If_Match="*"), 200)
    s.clock("PT10H")
    assert s.get(f"/orders/{o['id']}", "berta").data["status"] == "expired"


@fault("st-expire-cancelled", "states", "order", "An order that expires is called cancelled.")
def _(s):
    o = s.order()
    s.clock("P3D")
    assert s.get(f"/orders/{o['id']}", "berta").data["status"] == "expired"


@fault("st-rest-late", "transitions", "batch", "A batch comes to rest a day late.")
def _(s):
    b = s.batch(days=2)
    s.ok(f"/batches/{b['nr']}/start")
    s.clock("PT50H")
    assert s.get(f"/batches/{b['nr']}").data["status"] == "resting"


@fault("st-rest-planned", "field names", "batch", "The time of rest stays what was planned, and is not counted from the start.")
def _(s):
    b = s.batch(days=2)
    s.clock("P1D")
    assert s.ok(f"/batches/{b['nr']}/start")["restAt"] > b["restAt"]


@fault("st-ph-edge", "transitions", "batch", "A pH of exactly 4.5 is no longer ripe.")
def _(s):
    b = s.batch(days=1)
    s.ok(f"/batches/{b['nr']}/start")
    s.clock("P2D")
    assert s.ok(f"/batches/{b['nr']}/finish", {"ph": 4.5})["status"] == "done"


@fault("st-start-any", "transitions", "batch", "A batch starts although its hide is still raw.")
def _(s): is_(s.do(f"/batches/{s.batch(hide=s.hide()['id'])['nr']}/start"), 409, "wrongState")


@fault("st-rush", "transitions", "order", "Orders in a rush begin as open ones.")
def _(s): assert s.order(rush=True)["status"] == "confirmed"


@fault("st-ship-open", "transitions", "order", "An order can be shipped that nobody has confirmed.")
def _(s): is_(s.do(f"/orders/{s.order()['id']}/ship", {"trackingCode": "ABCDEF1"}), 409, "wrongState")


@fault("st-order-edit", "transitions", "order", "A confirmed order can still be changed.")
def _(s): is_(s("PATCH", f"/orders/{s.order(rush=True)['id']}", {"pieces": 5}, "berta", If_Match="*"), 409, "wrongState")


# ---- endpoints ----

@fault("en-location", "response payload shapes", "POST /hides", "The place of what was made leaves out the version.")
def _(s):
    r = s("POST", "/hides", {"tag": "LL-0001", "species": "goat", "weightKg": 3})
    assert r.headers["location"] == "/tanhouse/v2/hides/" + r.data["id"]


@fault("en-upsert", "response payload shapes", "PUT /pits/{code}", "Putting a new pit answers 200 like putting one that is there.")
def _(s): is_(s("PUT", "/pits/fresh", {"title": "Fresh", "litres": 500}, "frida"), 201)


@fault("en-put-path", "request payload shapes", "PUT /pits/{code}", "A code in the body that differs from the path's is passed over.")
def _(s): is_(s("PUT", "/pits/fresh", {"code": "stale", "title": "Fresh", "litres": 500}, "frida"), 422, "invalid")


@fault("en-min", "parameters", "GET /hides", "The least weight is itself left out.")
def _(s):
    s.hide(weightKg=12.5)
    assert len(s.get("/hides?minWeight=12.5").items) == 1


@fault("en-under", "parameters", "GET /hides", "The weight to stay under is itself let in.")
def _(s):
    s.hide(weightKg=12.5)
    assert s.get("/hides?underWeight=12.5").items == []


@fault("en-prefix", "parameters", "GET /hides", "The beginning of a tag is looked for anywhere in it.")
def _(s):
    s.hide(tag="AB-0001"), s.hide(tag="BC-0001")
    assert [h["tag"] for h in s.get("/hides?tagPrefix=B").items] == ["BC-0001"]


@fault("en-in-first", "parameters", "GET /orders", "Of several states that are asked for only the first counts.")
def _(s):
    s.order(), s.order(rush=True)
    assert len(s.get("/orders?status=open,confirmed", "berta").items) == 2


@fault("en-sort-text", "parameters", "GET /pits", "Litres are sorted as if they were text.")
def _(s):
    s.pit(litres=9000), s.pit(litres=10000)
    assert [p["litres"] for p in s.get("/pits?sort=litres").items] == [9000, 10000]


@fault("en-unknown-param", "parameters", "GET /hides", "A parameter that nobody knows is passed over.")
def _(s): is_(s("GET", "/hides?colour=red"), 400, "badParameter")


@fault("en-ties", "response payload shapes", "GET /hides", "Hides of one weight come newest first.")
def _(s):
    ids = [s.hide()["id"] for _ in range(3)]
    assert [h["id"] for h in s.get("/hides?sort=weightKg").items] == ids


@fault("en-order", "response payload shapes", "GET /hides", "Hides come oldest first unless sorted.")
def _(s):
    a = s.hide()["id"]
    s.clock("PT1S")
    b = s.hide()["id"]
    assert [h["id"] for h in s.get("/hides").items] == [b, a]


@fault("en-order-second", "response payload shapes", "GET /orders", "Among orders of one total the newest comes first.")
def _(s):
    a = s.order()["id"]
    s.clock("PT1S")
    b = s.order()["id"]
    assert [o["id"] for o in s.get("/orders", "berta").items] == [a, b]


@fault("en-put-keeps", "request payload shapes", "PUT /hides/{id}", "Replacing a hide keeps the optional fields that were not sent.")
def _(s):
    h = s.hide(contact="a@farm.example")
    r = is_(s("PUT", f"/hides/{h['id']}", {"tag": h["tag"], "species": "cow", "weightKg": 5}, If_Match="*"), 200)
    assert "contact" not in r.data


@fault("en-merge-flat", "request payload shapes", "PATCH /hides/{id}", "A part of the origin that is sent stands for the whole of it.")
def _(s):
    h = s.hide(origin={"farm": "Hill", "country": "PT"})
    r = is_(s("PATCH", f"/hides/{h['id']}", {"origin": {"country": "ES"}}), 200)
    assert r.data["origin"] == {"farm": "Hill", "country": "ES"}


@fault("en-etag-stale", "response payload shapes", "GET /hides/{id}", "The ETag stays the same when the weight changes.")
def _(s):
    p = f"/hides/{s.hide()['id']}"
    e = s.get(p).headers["etag"]
    s("PATCH", p, {"weightKg": 21})
    assert s.get(p).headers["etag"] != e


@fault("en-304", "response payload shapes", "GET /hides/{id}", "If-None-Match is not looked at.")
def _(s):
    p = f"/hides/{s.hide()['id']}"
    is_(s("GET", p, If_None_Match=s.get(p).headers["etag"]), 304)


@fault("en-if-match", "conditions", "changedMeanwhile", "If-Match is not looked at when a hide is updated: the last writer wins.")
def _(s): is_(s("PATCH", f"/hides/{s.hide()['id']}", {"weightKg": 1}, If_Match='"old"'), 412, "changedMeanwhile")


@fault("en-428", "conditions", "sayWhich", "An order can be changed without saying which revision.")
def _(s): is_(s("PATCH", f"/orders/{s.order()['id']}", {"pieces": 3}, "berta"), 428, "sayWhich")


HIDE = {"tag": "KK-0001", "species": "goat", "weightKg": 3}


@fault("en-key-ignored", "request payload shapes", "POST /hides", "The key of a request is not looked at, so that a repeated one is done again.")
def _(s):
    a, b = [s("POST", "/hides", HIDE, X_Request_Key="k1") for _ in "ab"]
    assert a.status == b.status == 201 and a.data["id"] == b.data["id"]


@fault("en-key-shared", "request payload shapes", "POST /hides", "One caller's key gives another caller the first one's answer.")
def _(s):
    a, b = [is_(s("POST", "/hides", HIDE, who, X_Request_Key="k1"), 201) for who in ("tilda", "timo")]
    assert a.data["owner"] == "tilda" and b.data["owner"] == "timo"


@fault("en-key-print", "conditions", "keyReused", "Another request with the same key gets the answer of the first.")
def _(s):
    s("POST", "/hides", HIDE, X_Request_Key="k1")
    is_(s("POST", "/hides", {**HIDE, "tag": "KK-0002"}, X_Request_Key="k1"), 422, "keyReused")


@fault("en-key-forever", "request payload shapes", "POST /hides", "Keys are kept past their twelve hours.")
def _(s):
    s("POST", "/hides", HIDE, X_Request_Key="k1")
    s.clock("PT13H")
    is_(s("POST", "/hides", HIDE, X_Request_Key="k1"), 409, "taken")


@fault("en-key-optional", "request payload shapes", "POST /orders", "An order can be placed without a key.")
def _(s): is_(s("POST", "/orders", {"hide": s.tanned()["id"], "pieces": 2, "deliverTo": TO}, "berta"), 400)


@fault("en-total", "response payload shapes", "GET /pits", "The total counts the page alone.")
def _(s):
    s.pit(), s.pit(), s.pit()
    assert s.get("/pits?pageSize=2").json["totalItems"] == 3


# ---- authentication ----

@fault("au-colon", "token formats", "password", "A password is cut off at its first colon.")
def _(s): is_(s("GET", "/hides"), 200)


@fault("au-password-start", "schemes", "service", "The beginning of a password is enough.")
def _(s): is_(s("GET", "/hides", who=None, **basic("tilda", "oak")), 401, "whoAreYou")


@fault("au-session-case", "token formats", "session", "Sessions are compared without their case.")
def _(s): is_(s("GET", "/hides", who=None, **cookie("ses_TIMOtimotimotimotimotimo")), 401, "whoAreYou")


@fault("au-both", "schemes", "service", "With a good password the session beside it is not looked at.")
def _(s): is_(s("GET", "/hides", **cookie("ses_wrongwrongwrongwrongwron")), 401, "whoAreYou")


@fault("au-cross-site", "schemes", "service", "Another site can have a browser write with the session of its user.")
def _(s): is_(s("POST", "/hides", HIDE, "timo", Origin="https://evil.example", Sec_Fetch_Site="cross-site"), 403, "notYours")


@fault("au-scope", "permission rules", "delete pit", "A foreman without the scope can demolish a pit.")
def _(s): is_(s("DELETE", f"/pits/{s.pit()['code']}", who="fritz"), 403, "notYours")


@fault("au-list-leak", "permission rules", "list hide", "The list of hides shows those of other tanners.")
def _(s):
    s.hide("timo")
    assert s.get("/hides").items == []


@fault("au-buyer-raw", "permission rules", "read hide", "A buyer who knows its number reads a hide that is not yet tanned.")
def _(s): is_(s("GET", f"/hides/{s.hide()['id']}", who="berta"), 404, "notFound")


@fault("au-foreman-writes", "permission rules", "update hide", "A foreman can change what is a tanner's.")
def _(s): is_(s("PATCH", f"/hides/{s.hide()['id']}", {"weightKg": 1}, "frida"), 403, "notYours")


@fault("au-forbidden", "permission rules", "read hide", "A hide of somebody else is forbidden, not missing, which tells that it is there.")
def _(s): is_(s("GET", f"/hides/{s.hide('timo')['id']}"), 404, "notFound")


@fault("au-ref-leak", "conditions", "danglingReference", "A batch can take the hide of another tanner.")
def _(s): is_(s("POST", "/batches", {"hide": s.hide("timo")["id"], "pit": s.pit()["code"], "recipe": "r", "days": 1}), 422, "danglingReference")


@fault("au-parent", "permission rules", "create reading", "Readings can be taken of another tanner's batch.")
def _(s): is_(s.do(f"/batches/{s.batch('timo')['nr']}/readings", {"ph": 5}), 404, "notFound")


@fault("au-any-ships", "permission rules", "ship order", "Any tanner can ship what another has sold.")
def _(s): is_(s.do(f"/orders/{s.order(rush=True)['id']}/ship", {"trackingCode": "ABCDEF1"}, "timo"), 404, "notFound")


@fault("au-hooks-shown", "permission rules", "list hook", "The list of hooks shows those of everybody.")
def _(s):
    s.hook("timo")
    assert s.get("/hooks").items == []


# ---- events ----

@fault("ev-no-spoil", "emitting operations", "hide.spoiled", "What the clock does tells nobody: a hide spoils in silence.")
def _(s):
    k = s.hook(topics=["hide.spoiled"])
    s.hide()
    s.clock("P11D")
    k.wait(1)


@fault("ev-no-lapse", "emitting operations", "batch.closed", "A batch that lapses is not told to be closed.")
def _(s):
    k = s.hook(topics=["batch.closed"])
    s.batch()
    s.clock("P15D")
    k.wait(1)


@fault("ev-abandon", "emitting operations", "batch.closed", "A batch that is abandoned is not told to be closed.")
def _(s):
    k = s.hook(topics=["batch.closed"])
    s.ok(f"/batches/{s.batch()['nr']}/abandon")
    k.wait(1)


@fault("ev-gone", "emitting operations", "hide.gone", "A deleted hide is told to nobody, as nobody may read it any more.")
def _(s):
    k = s.hook(topics=["hide.gone"])
    h = s.hide()
    s("DELETE", f"/hides/{h['id']}")
    assert k.wait(1)[0]["content"] == {"id": h["id"], "tag": h["tag"]}


@fault("ev-alarm", "emitting operations", "reading.alarm", "A pH of exactly nine is an alarm.")
def _(s):
    k = s.hook(topics=["reading.alarm"])
    p = f"/batches/{s.batch()['nr']}/readings"
    s.do(p, {"ph": 9}), s.do(p, {"ph": 9.1})
    assert k.wait(1)[0]["content"]["ph"] == 9.1
    k.none_more(1)


@fault("ev-noop", "emitting operations", "hide.changed", "A change that changes nothing is told.")
def _(s):
    k = s.hook(topics=["hide.changed"])
    s("PATCH", f"/hides/{s.hide()['id']}", {"weightKg": 20})
    k.none_more(0)


@fault("ev-leak", "delivery mechanism", "service", "Every tanner's hook hears of every tanner's hides.")
def _(s):
    k = s.hook("timo")
    s.hide()
    k.none_more(0)


@fault("ev-to", "delivery mechanism", "service", "Foremen hear of batches at rest, which only their owners are to hear of.")
def _(s):
    k = s.hook("frida", topics=["batch.rested"])
    s.ok(f"/batches/{s.batch(days=1)['nr']}/start")
    s.clock("P2D")
    k.none_more(0)


@fault("ev-note", "payload shapes", "hide.changed", "Events to buyers carry what only tanners may see.")
def _(s):
    k = s.hook("berta", topics=["hide.changed"])
    s.tanned(note="hm", costCents=7)
    assert not {"note", "costCents"} & set(k.wait(1)[0]["content"])


@fault("ev-seal", "delivery mechanism", "service", "The seal is made over the body alone.")
def _(s):
    k = s.hook()
    s.hide()
    k.wait(1)
    assert k.sealed()


@fault("ev-stamp", "delivery mechanism", "service", "The time in the seal is in milliseconds.")
def _(s):
    k = s.hook()
    s.hide()
    k.wait(1)
    assert abs(k.sealed() - time.time()) < 60


@fault("ev-topic", "delivery mechanism", "service", "The header with the topic has it in capitals.")
def _(s):
    k = s.hook()
    s.hide()
    k.wait(1)
    assert k.headers[0]["tannery-topic"] == "hide.arrived"


@fault("ev-prefix", "delivery mechanism", "service", "hide.* matches nothing.")
def _(s):
    k = s.hook(topics=["hide.*"])
    s.hide()
    k.wait(1)


@fault("ev-disabled", "delivery mechanism", "service", "A hook that is switched off goes on hearing.")
def _(s):
    k = s.hook(active=False)
    s.hide()
    k.none_more(0)


@fault("ev-retries", "delivery mechanism", "service", "After the second try a delivery is given up.")
def _(s):
    k = s.hook(status=500)
    s.hide()
    k.wait(1)
    s.clock("PT11S"), s.clock("PT61S"), k.wait(3)


@fault("ev-retry-late", "delivery mechanism", "service", "The first wait before another try is twice as long as stated.")
def _(s):
    k = s.hook(status=500)
    s.hide()
    k.wait(1)
    s.clock("PT12S")
    k.wait(2)


@fault("ev-new-id", "delivery mechanism", "service", "Each try of a delivery has an id of its own.")
def _(s):
    k = s.hook(status=500)
    s.hide()
    k.wait(1)
    s.clock("PT15S")
    a, b = k.wait(2)[:2]
    assert a["eventId"] == b["eventId"]


@fault("ev-order", "delivery mechanism", "service", "A later event overtakes an earlier one of the same hide that has not been accepted.")
def _(s):
    k = s.hook(status=500)
    h = s.hide()
    k.wait(1)
    s.ok(f"/hides/{h['id']}/salt")
    k.none_more(1)


@fault("ev-never-off", "delivery mechanism", "service", "A hook that has failed for more than half a day is not switched off.")
def _(s):
    k = s.hook(status=500)
    s.hide()
    k.wait(1)
    s.clock("P1D")
    assert s.get("/hooks/" + k.id).data["active"] is False


@fault("ev-resume", "delivery mechanism", "service", "Who comes back to the stream hears the last event again.")
def _(s):
    g = s.listen()
    s.hide(), s.hide()
    g.wait(2)
    b = s.listen(last=g.frames[0]["id"])
    assert [e["eventId"] for e in b.wait(1)] == [g.got[1]["eventId"]]


@fault("ev-keep", "delivery mechanism", "service", "The stream keeps events for one hour instead of six.")
def _(s):
    g = s.listen()
    s.hide(), s.hide()
    last = g.wait(2)[0]["eventId"]
    s.clock("PT5H")
    s.hide()
    assert len(s.listen(last=last).wait(2)) == 2


@fault("ev-stream-leak", "delivery mechanism", "service", "The stream tells everybody everything.")
def _(s):
    g = s.listen("timo")
    s.hide()
    g.none_more(0)


@fault("ev-stream-kind", "delivery mechanism", "service", "Events on the stream have no name.")
def _(s):
    g = s.listen()
    s.hide()
    g.wait(1)
    assert g.frames[0].get("event") == "hide.arrived"


# ---- errors ----

@fault("er-status-field", "error payload shapes", "service", "The status in the body is 400 whatever the answer's own is.")
def _(s): assert s("GET", "/hides/none").json["error"]["httpStatus"] == 404


@fault("er-pointer", "error payload shapes", "service", "Spots are written with dots instead of as JSON Pointers.")
def _(s): assert refused(s, origin={"farm": "", "country": "PT"}).json["error"]["spots"][0]["at"] == "/origin/farm"


@fault("er-trace", "error payload shapes", "service", "Refusals have no trace id.")
def _(s): assert s("GET", "/hides/none").json["error"]["traceId"]


@fault("er-flat", "error payload shapes", "service", "Refusals are not wrapped in a member of their own.")
def _(s): assert "error" in s("GET", "/hides/none").json


@fault("er-case", "error codes", "service", "What is missing is called not_found, in another way of writing than the rest.")
def _(s): is_(s("GET", "/hides/none"), 404, "notFound")


@fault("er-locked", "status codes", "hideLocked", "A hide that can no longer be deleted is a plain conflict.")
def _(s): is_(s("DELETE", f"/hides/{s.tanned()['id']}"), 423, "hideLocked")


@fault("er-else", "error codes", "service", "Cancelling a closed order is told as any wrong state.")
def _(s):
    p = f"/orders/{s.order()['id']}/cancel"
    s.ok(p, who="berta")
    is_(s.do(p, who="berta"), 409, "orderClosed")


@fault("er-dangling", "status codes", "danglingReference", "A reference to nothing answers 404, as if the path were wrong.")
def _(s): is_(s("POST", "/batches", {"hide": "hid_0", "pit": s.pit()["code"], "recipe": "r", "days": 1}), 422, "danglingReference")


@fault("er-media", "status codes", "wrongMedia", "A body of a wrong type is told as unreadable.")
def _(s): is_(s("POST", "/hides", raw=b"a=1", Content_Type="application/x-www-form-urlencoded"), 415, "wrongMedia")


@fault("er-accept", "conditions", "notAcceptable", "Accept is not looked at.")
def _(s): is_(s("GET", "/hides", Accept="text/html"), 406, "notAcceptable")


@fault("er-not-for-sale", "conditions", "notForSale", "A hide without a price can be ordered for nothing.")
def _(s): is_(s("POST", "/orders", {"hide": s.tanned(askCents=0)["id"], "pieces": 1, "deliverTo": TO}, "berta", X_Request_Key="k"), 409, "notForSale")


@fault("er-pit-update", "conditions", "pitTooSmall", "The size of a pit is looked at for a new batch, and not when a batch is moved.")
def _(s): is_(s("PATCH", f"/batches/{s.batch()['nr']}", {"pit": s.pit(litres=150)["code"]}), 409, "pitTooSmall")


@fault("er-pit-edge", "conditions", "pitTooSmall", "A pit of exactly 200 litres is too small.")
def _(s): s.batch(pit=s.pit(litres=200)["code"])


@fault("er-pieces", "conditions", "tooManyPieces", "More than twelve pieces can be confirmed.")
def _(s): is_(s.do(f"/orders/{s.order(pieces=13)['id']}/confirm"), 422, "tooManyPieces")


@fault("er-order", "conditions", "notForSale", "That a hide is taken is told before that it is not for sale.")
def _(s):
    o = s.order()
    is_(s("PATCH", f"/hides/{o['hide']}", {"askCents": 0}), 200)
    is_(s("POST", "/orders", {"hide": o["hide"], "pieces": 1, "deliverTo": TO}, "bo", X_Request_Key="k"), 409, "notForSale")


@fault("er-412-late", "conditions", "changedMeanwhile", "An invalid body is told before that the hide has changed meanwhile.")
def _(s): is_(s("PATCH", f"/hides/{s.hide()['id']}", {"weightKg": -1}, If_Match='"old"'), 412, "changedMeanwhile")


# ---- limits ----

@fault("li-clamp", "pagination bounds", "GET /pits", "A page larger than the largest is refused instead of cut.")
def _(s): is_(s("GET", "/pits?pageSize=41"), 200)


@fault("li-max", "pagination bounds", "GET /hides", "Up to a hundred hides stand on a page.")
def _(s):
    for _ in range(42):
        s.hide()
    assert len(s.get("/hides?pageSize=100").items) == 40


@fault("li-token-last", "pagination bounds", "GET /pits", "A last page that is full has a token for a next one.")
def _(s):
    s.pit(), s.pit()
    assert s.get("/pits?pageSize=2").json["nextPageToken"] is None


@fault("li-token-query", "pagination bounds", "GET /hides", "The token of one list is taken for another filter.")
def _(s):
    s.hide(), s.hide()
    t = s.get("/hides?pageSize=1").json["nextPageToken"]
    is_(s("GET", f"/hides?pageSize=1&status=soaked&pageToken={t}"), 400, "badPage")


@fault("li-token-again", "pagination bounds", "GET /pits", "Each page begins with the last row of the one before.")
def _(s):
    s.pit(), s.pit()
    r = s.get("/pits?pageSize=1").json
    assert s.get(f"/pits?pageSize=1&pageToken={r['nextPageToken']}").items != r["items"]


@fault("li-skip", "pagination bounds", "GET /batches/{batch}/readings", "One row more is skipped than asked for.")
def _(s):
    p = f"/batches/{s.batch()['nr']}/readings"
    s.do(p, {"ph": 5}), s.do(p, {"ph": 6})
    assert len(s.get(p + "?skip=1").items) == 1


@fault("li-rate", "rate limits", "service", "Nobody counts the requests of a caller.")
def _(s):
    for _ in range(300):
        s("GET", "/hides")
    is_(s("GET", "/hides"), 429, "tooFast")


@fault("li-cost", "rate limits", "service", "A list of hides counts as one request instead of three.")
def _(s):
    for _ in range(300):
        s("GET", "/hides")
    is_(s("GET", "/pits"), 429, "tooFast")


def minute(s):
    """Go to the beginning of a minute, so that it does not end in the middle."""
    s.clock(f"PT{60 - int(s.clock()[17:19])}S")


@fault("li-rate-13", "rate limits", "service", "Thirteen estimates a minute are given.")
def _(s):
    minute(s)
    got = [s("GET", "/estimates?species=goat&weightKg=3").status for _ in range(13)]
    assert got == [200] * 12 + [429], got


@fault("li-rate-shared", "rate limits", "service", "All callers share one count of estimates.")
def _(s):
    minute(s)
    for _ in range(12):
        s("GET", "/estimates?species=goat&weightKg=3")
    is_(s("GET", "/estimates?species=goat&weightKg=3", who="bo"), 200)


def ships(s, n):
    """Orders ready to be shipped."""
    return [f"/orders/{s.order(rush=True)['id']}/ship" for _ in range(n)]


@fault("li-no-quota", "quotas", "service", "There is no end to what is shipped in a day.")
def _(s):
    for p in ships(s, 20):
        s.ok(p, {"trackingCode": "ABCDEF1"})
    is_(s.do(ships(s, 1)[0], {"trackingCode": "ABCDEF1"}), 429, "quotaUsed")


@fault("li-quota-failed", "quotas", "service", "Refused shipments use up the quota.")
def _(s):
    ps = ships(s, 20)
    for p in ps[:3]:
        s.ok(p, {"trackingCode": "ABCDEF1"}), s.do(p, {"trackingCode": "ABCDEF1"})
    for p in ps[3:]:
        s.ok(p, {"trackingCode": "ABCDEF1"})


@fault("li-quota-ever", "quotas", "service", "The quota does not begin again with the day.")
def _(s):
    for p in ships(s, 20):
        s.ok(p, {"trackingCode": "ABCDEF1"})
    s.clock("P1D")
    s.ok(ships(s, 1)[0], {"trackingCode": "ABCDEF1"})


@fault("li-body-edge", "size limits", "service", "A body of exactly 16 KiB is too large.")
def _(s): is_(s("POST", "/hides", raw=json.dumps(HIDE).encode().ljust(16384)), 201)


@fault("li-headers", "size limits", "service", "Headers can be as large as they like.")
def _(s): is_(s("GET", "/hides", X_Padding="x" * 9000), 413, "tooBig")


@fault("li-timeout", "time-outs", "service", "A body that does not come is waited for twice as long as stated.")
def _(s):
    c = socket.create_connection(("127.0.0.1", s.port), timeout=9)
    c.sendall(f"POST /tanhouse/v2/hides HTTP/1.1\r\nHost: x\r\nAuthorization: {CRED['tilda']['Authorization']}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{{".encode())
    assert b" 408 " in c.recv(100)


# ---- versioning ----

@fault("ve-kind", "compatibility guarantees", "service", "In v1 the kind of a hide cannot be changed: the new name of the field is looked for.")
def _(s): assert s("PATCH", f"/hides/{s.hide()['id']}", {"kind": "deer"}, v="v1").data["kind"] == "deer"


@fault("ve-ask-cut", "compatibility guarantees", "service", "A price of v1 is cut instead of rounded, so that 0.29 becomes 28 cents.")
def _(s): assert s.get(f"/hides/{s.hide(v='v1', askCents=0.29)['id']}").data["askCents"] == 29


@fault("ve-grade-lost", "compatibility guarantees", "service", "Replacing a hide in v1 throws away its grade, which v1 does not know.")
def _(s):
    h = s.hide(grade="A")
    is_(s("PUT", f"/hides/{h['id']}", {"tag": h["tag"], "kind": "cow", "weightKg": 3}, v="v1", If_Match="*"), 200)
    assert s.get(f"/hides/{h['id']}").data["grade"] == "A"


@fault("ve-grade-shown", "compatibility guarantees", "service", "The grade, new in v2, shows in v1.")
def _(s): assert "grade" not in s.hide(v="v1")


@fault("ve-colour", "compatibility guarantees", "service", "The colour that v1 has is gone from it.")
def _(s): assert s.hide(v="v1")["colour"] == "brown"


@fault("ve-filter", "compatibility guarantees", "service", "In v1 a filter by liquor wants the new name.")
def _(s):
    s.pit()
    assert len(s.get("/pits?liquor=bark", v="v1").items) == 1


@fault("ve-list", "compatibility guarantees", "service", "Lists of v1 show what v2 shows.")
def _(s):
    s.hide()
    assert s.get("/hides", v="v1").items[0]["kind"] == "cow"


@fault("ve-event-version", "compatibility guarantees", "service", "Hooks made in v1 are told in v2.")
def _(s):
    k = s.hook(v="v1")
    s.hide()
    assert k.wait(1)[0]["content"]["kind"] == "cow"


@fault("ve-estimates", "compatibility guarantees", "service", "Estimates, new in v2, are given in v1.")
def _(s): is_(s("GET", "/estimates?species=cow&weightKg=3", v="v1"), 404, "noSuchPath")


@fault("ve-said", "version selection", "service", "Answers of v1 say that they are of v2.")
def _(s): assert s("GET", f"/hides/{s.hide()['id']}", v="v1").json["apiVersion"] == "v1"


@fault("ve-unknown", "version identifiers", "service", "A version that there is not is taken for the newest.")
def _(s): is_(s("GET", "/hides", v="v3"), 404, "noSuchVersion")


@fault("ve-no-deprecation", "deprecation rules", "v1", "Answers of v1 do not say that it is deprecated.")
def _(s): assert s.get("/hides", v="v1").headers["deprecation"] == "@1772323200"


@fault("ve-sunset-header", "deprecation rules", "v1", "The Sunset of v1 is no HTTP date.")
def _(s): assert s.get("/hides", v="v1").headers["sunset"] == "Wed, 01 Mar 2028 00:00:00 GMT"


@fault("ve-sunset", "deprecation rules", "v1", "v1 goes on after its end.")
def _(s):
    s.clock(now="2028-03-01T00:00:01Z")
    is_(s("GET", "/hides", v="v1"), 410, "versionGone")


def run(id, on):
    s = Service(on)
    try:
        FAULTS[id][3](s)
        return None
    except (AssertionError, KeyError, IndexError, TypeError, AttributeError, OSError, http.client.HTTPException) as e:
        import traceback
        return f"{traceback.extract_tb(e.__traceback__)[1].lineno}: {type(e).__name__} {str(e)[:300]}"
    finally:
        s.close()


def proof(id):
    right, wrong = run(id, None), run(id, id)
    return f"WRONG {id}: fails on the right service: {right}" if right else f"WRONG {id}: holds on the faulty one" if not wrong else f"ok    {id}"


def main():
    Service().close()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        bad = 0
        for line in pool.map(proof, sys.argv[1:] or FAULTS):
            bad += line.startswith("WRONG")
            print(line, flush=True)
    print(f"{len(sys.argv[1:] or FAULTS)} proofs, {bad} wrong")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
