#!/usr/bin/env python3
"""Each fault is shown by hand: its proof passes on the right service and fails on the one with the fault.

faults-test.py [ID ...]   only these
faults-test.py --write    write stranger.json from the table below
"""
import sys
from harness import *

FAULTS = []
PARTS = {kind: part for part, kinds in {
    "purpose": ["functions", "users", "base address"],
    "resources": ["field names", "types", "formats", "required flags", "allowed values"],
    "states": ["states", "transitions"],
    "endpoints": ["parameters", "request payload shapes", "response payload shapes"],
    "authentication": ["schemes", "token formats", "permission rules"],
    "events": ["kinds of event", "delivery mechanism", "payload shapes", "emitting operations"],
    "errors": ["error codes", "status codes", "error payload shapes", "conditions"],
    "limits": ["rate limits", "size limits", "time-outs", "pagination bounds", "quotas"],
    "versioning": ["version identifiers", "version selection", "deprecation rules", "compatibility guarantees"],
}.items() for kind in kinds}


def fault(id, kind, subject, bug):
    def add(proof):
        FAULTS.append(({"id": id, "part": PARTS[kind], "kind": kind, "subject": subject, "bug": bug}, proof))
        return proof
    return add


# ---------------------------------------------------------------- purpose

@fault("pu-base", "base address", "service", "A gateway rewrites the prefix, so the service answers under /api only.")
def _(s):
    is_(s("GET", "/board", who=None), 200)


@fault("pu-keeper", "users", "service", "Keepers were left out of the table of posts: none of them gets in.")
def _(s):
    is_(s("GET", "/barges", who="kaja"), 200)
    is_(s("GET", "/barges", who="ulf"), 200)


@fault("pu-refloat", "functions", "service", "The route by which a keeper refloats a barge was never registered.")
def _(s):
    is_(s.do(s.brought("aground"), "refloat"), 200)


@fault("pu-scrap", "functions", "service", "Deleting a barge is a stub that says 501.")
def _(s):
    is_(s("DELETE", "/barges/" + s.barge()["id"]), 204)


# ---------------------------------------------------------------- resources

@fault("re-extra-lock", "field names", "lock", "Fields of a lock that nobody knows are dropped in silence instead of being refused.")
def _(s):
    r = is_(s("POST", "/locks", {"code": "upper", "title": "Upper", "chamber_cm": 4000, "toll": 1, "tolls": 2}, "kaja"), 422, "does_not_fit")
    assert places(r) == ["/tolls"], r


@fault("re-toll-text", "types", "lock.toll", "The toll of a lock comes out as text.")
def _(s):
    assert s.lock(toll=77)["toll"] == 77


@fault("re-draught-max", "allowed values", "barge.draught_cm", "The greatest draught was raised tenfold.")
def _(s):
    s.barge(draught_cm=400)
    is_(s("POST", "/barges", s.a_barge(draught_cm=401)), 422, "does_not_fit")


@fault("re-plate-loose", "allowed values", "barge.plate", "The pattern of plates is not bound to the end: more may follow.")
def _(s):
    is_(s("POST", "/barges", s.a_barge(plate="CD-12345")), 422, "does_not_fit")
    s.barge(plate="CD-1234")


@fault("re-insured-date", "formats", "barge.insured_until", "Any text passes for a date.")
def _(s):
    is_(s("POST", "/barges", s.a_barge(insured_until="2026-02-30")), 422, "does_not_fit")


@fault("re-eta-zone", "formats", "passage.eta", "A date and time without a zone is taken as one.")
def _(s):
    is_(s("POST", "/passages", s.a_passage(eta="2027-01-01T10:00:00")), 422, "does_not_fit")


@fault("re-flags-twice", "allowed values", "barge.flags", "A flag can stand twice in the list.")
def _(s):
    is_(s("POST", "/barges", s.a_barge(flags=["red", "red"])), 422, "does_not_fit")


@fault("re-plate-twice", "conditions", "already_there", "A plate is unique among the barges of one skipper only.")
def _(s):
    s.barge(plate="CD-0001")
    is_(s("POST", "/barges", s.a_barge(plate="CD-0001"), "brita"), 409, "already_there")


@fault("re-name-clash", "conditions", "already_there", "A name that is taken is refused on creation, and not on a change.")
def _(s):
    s.barge(name="Nixe")
    b = s.barge()
    s.barge("brita", name="Nixe")
    is_(s("PATCH", "/barges/" + b["id"], {"name": "Nixe"}), 409, "already_there")


@fault("re-pin-shown", "field names", "passage", "The pin, which is only to be written, comes back in answers.")
def _(s):
    p = s.passage(pin="123456")
    assert "pin" not in p and "pin" not in s("GET", "/passages/" + p["id"]).json


@fault("re-berth-quay", "required flags", "berth.quay", "A berth can do without its quay.")
def _(s):
    is_(s("POST", "/barges", s.a_barge(berth={"number": 4})), 422, "does_not_fit")


@fault("re-cargo-default", "request payload shapes", "POST /barges", "A barge of which no cargo is said carries timber.")
def _(s):
    assert s.barge()["cargo"] == "empty"


@fault("re-lock-moved", "request payload shapes", "PATCH /passages/{id}", "The lock of a passage can be changed afterwards.")
def _(s):
    p, l = s.passage(), s.lock()["code"]
    is_(s("PATCH", "/passages/" + p["id"], {"lock": p["lock"]}, If_Match="*"), 200)
    is_(s("PATCH", "/passages/" + p["id"], {"lock": l}, If_Match="*"), 422, "does_not_fit")


@fault("re-short-id", "formats", "passage.id", "Passages get a short name instead of a UUID.")
def _(s):
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", s.passage()["id"])


@fault("re-not-cleared", "response payload shapes", "DELETE /barges/{id}", "A log goes on to name a barge that was deleted.")
def _(s):
    p, b = s.passage(), s.barge()
    e = s.made(f"/passages/{p['id']}/log", {"text": "bumped", "barge": b["id"]}, "arne")
    is_(s("DELETE", "/barges/" + b["id"]), 204)
    assert "barge" not in s("GET", f"/passages/{p['id']}/log/{e['id']}").json


@fault("re-touched", "response payload shapes", "PATCH /barges/{id}", "A change leaves touched_at as it was.")
def _(s):
    b = s.barge()
    s.clock(60)
    assert s("PATCH", "/barges/" + b["id"], {"power": 7}).json["touched_at"] > b["touched_at"]


@fault("re-touched-always", "response payload shapes", "PATCH /barges/{id}", "An update that changes nothing moves touched_at.")
def _(s):
    b = s.barge()
    s.clock(60)
    assert s("PATCH", "/barges/" + b["id"], {"name": b["name"]}).json == b


@fault("re-toll-flat", "response payload shapes", "POST /passages", "Going up costs no more than going down.")
def _(s):
    assert s.passage(direction="up")["toll"] == 450 and s.passage(direction="down")["toll"] == 300


@fault("re-water-seen", "field names", "passage", "The depth of the water, which keepers alone see, is shown to skippers.")
def _(s):
    p = s.brought("through")
    assert s("GET", "/passages/" + p["id"], who="kaja").json["water_cm"] == 200
    assert "water_cm" not in s("GET", "/passages/" + p["id"]).json


@fault("re-secret-again", "field names", "hook", "The secret of a hook is shown whenever it is read.")
def _(s):
    h = s.hook()
    assert h.secret and "secret" not in s("GET", "/hooks/" + h.id).json


@fault("re-ended", "response payload shapes", "POST /passages/{id}/cancel", "A passage that is cancelled does not say when it ended.")
def _(s):
    assert s.do(s.passage(), "cancel").json["ended_at"]


# ---------------------------------------------------------------- states

@fault("st-cancel", "transitions", "passage", "A passage that waits can no longer be cancelled.")
def _(s):
    is_(s.do(s.brought("waiting"), "cancel"), 200)


@fault("st-arrive-again", "transitions", "passage", "Who has cancelled can still arrive.")
def _(s):
    is_(s.do(s.brought("cancelled"), "arrive"), 409, "not_booked")


@fault("st-admit-booked", "transitions", "passage", "A keeper can let a passage in that has not arrived.")
def _(s):
    is_(s.do(s.brought("booked"), "admit"), 409, "not_waiting")


@fault("st-aground", "transitions", "passage", "However low the water is, the barge is taken to be through.")
def _(s):
    assert s.do(s.brought("chamber"), "pass", {"water_cm": 99}).json["status"] == "aground"


@fault("st-aground-edge", "transitions", "passage", "Water that is just deep enough counts as too low.")
def _(s):
    assert s.do(s.brought("chamber"), "pass", {"water_cm": 100}).json["status"] == "through"


@fault("st-seal", "transitions", "passage", "Sealed passages can be cancelled.")
def _(s):
    is_(s.do(s.passage(sealed=True), "cancel"), 409, "under_seal")


@fault("st-refloat", "transitions", "passage", "Refloating takes the barge out of the lock at once.")
def _(s):
    assert s.do(s.brought("aground"), "refloat").json["status"] == "chamber"


@fault("st-miss-never", "transitions", "passage", "The job that marks booked passages as missed does not run.")
def _(s):
    p = s.passage()
    s.clock(3 * DAY + 1)
    assert s.status(p) == "missed"


@fault("st-miss-early", "transitions", "passage", "Passages are missed after two days instead of three.")
def _(s):
    p = s.passage()
    s.clock(3 * DAY - 60)
    assert s.status(p) == "booked"


@fault("st-miss-sealed", "transitions", "passage", "Sealed passages are missed like any other.")
def _(s):
    p = s.passage(sealed=True)
    s.clock(4 * DAY)
    assert s.status(p) == "booked"


@fault("st-yield-never", "transitions", "passage", "Who waits is never turned away.")
def _(s):
    p = s.brought("waiting")
    s.clock(6 * HOUR + 1)
    assert s.status(p) == "turned_away"


@fault("st-yield-word", "states", "passage", "Who waited too long is called cancelled.")
def _(s):
    p = s.brought("waiting")
    s.clock(6 * HOUR + 1)
    assert s.status(p) != "cancelled"


@fault("st-wait-8h", "transitions", "passage", "The time to wait is eight hours instead of six.")
def _(s):
    p = s.brought("waiting")
    s.clock(6 * HOUR + 1)
    assert s.status(p) != "waiting"


@fault("st-starts-waiting", "states", "passage", "A new passage is waiting already.")
def _(s):
    assert s.passage()["status"] == "booked"


@fault("st-patch-later", "conditions", "not_now", "A passage can be changed in every state.")
def _(s):
    p = s.brought("waiting")
    is_(s("PATCH", "/passages/" + p["id"], {"crew": 4}, If_Match="*"), 409, "not_now")


@fault("st-delete-any", "conditions", "not_now", "A passage can be deleted while the barge is in the chamber.")
def _(s):
    is_(s("DELETE", "/passages/" + s.brought("chamber")["id"]), 409, "not_now")


@fault("st-two-inside", "conditions", "already_there", "Two barges are let into one chamber.")
def _(s):
    p = s.brought("chamber")
    q = s.brought("waiting", lock=p["lock"])
    is_(s.do(q, "admit"), 409, "already_there")


# ---------------------------------------------------------------- endpoints

@fault("en-cargo", "parameters", "GET /barges", "The filter by cargo is ignored.")
def _(s):
    s.barge(cargo="grain"), s.barge()
    assert [b["cargo"] for b in s("GET", "/barges?cargo=grain").json] == ["grain"]


@fault("en-min", "parameters", "GET /barges", "min_length leaves out barges that are just so long.")
def _(s):
    s.barge(length_cm=800), s.barge(length_cm=801)
    assert [b["length_cm"] for b in s("GET", "/barges?min_length=801").json] == [801]


@fault("en-named", "parameters", "GET /barges", "named finds the text anywhere in the name.")
def _(s):
    s.barge(name="Nixe"), s.barge(name="Old Nixe")
    assert [b["name"] for b in s("GET", "/barges?named=Nixe").json] == ["Nixe"]


@fault("en-eta-text", "parameters", "GET /passages", "Times of arrival are compared as text, whatever their zone.")
def _(s):
    s.passage(eta="2027-01-01T10:00:00+05:00")
    assert s("GET", "/passages?eta_from=2027-01-01T06:00:00Z").json == []


@fault("en-minus", "parameters", "GET /passages", "The minus before an order is overlooked.")
def _(s):
    for crew in (2, 5, 3):
        s.passage(crew=crew)
    assert [p["crew"] for p in s("GET", "/passages?order_by=-crew").json] == [5, 3, 2]


@fault("en-order", "response payload shapes", "GET /locks", "Locks come with the shortest chamber first.")
def _(s):
    s.lock(chamber_cm=2000), s.lock(chamber_cm=3000)
    assert [x["chamber_cm"] for x in s("GET", "/locks").json] == [3000, 2000]


@fault("en-any-question", "conditions", "odd_question", "Parameters that nobody knows are ignored.")
def _(s):
    is_(s("GET", "/barges?cargoes=grain"), 400, "odd_question")


@fault("en-location", "response payload shapes", "POST /passages", "Location leaves out the path under which the service stands.")
def _(s):
    r = s("POST", "/passages", s.a_passage())
    assert r.headers["location"] == "/canal/api/passages/" + r.json["id"]


@fault("en-cache", "response payload shapes", "GET /barges/{id}", "A barge may be kept in caches that are shared.")
def _(s):
    assert s("GET", "/barges/" + s.barge()["id"]).headers["cache-control"] == "private, max-age=45"


@fault("en-304", "response payload shapes", "GET /barges/{id}", "A tag that still fits is answered with the whole barge.")
def _(s):
    path = "/barges/" + s.barge()["id"]
    is_(s("GET", path, If_None_Match=s("GET", path).headers["etag"]), 304)


@fault("en-no-tag", "response payload shapes", "GET /passages/{id}", "A passage that is read has no tag.")
def _(s):
    assert re.fullmatch(r'"[^"]+"', s("GET", "/passages/" + s.passage()["id"]).headers["etag"])


@fault("en-tag-still", "response payload shapes", "PATCH /barges/{id}", "The tag is made of the identifier, and stays when the barge changes.")
def _(s):
    path = "/barges/" + s.barge()["id"]
    assert s("PATCH", path, {"power": 3}).headers["etag"] != s("GET", "/barges/" + s.barge()["id"]).headers["etag"]
    tag = s("GET", path).headers["etag"]
    assert s("PATCH", path, {"power": 4}).headers["etag"] != tag


@fault("en-put-keeps", "request payload shapes", "PUT /barges/{id}", "Replacing keeps what was not sent.")
def _(s):
    b = s.barge(power=7)
    body = {k: b[k] for k in ("plate", "name", "length_cm", "draught_cm")}
    assert "power" not in is_(s("PUT", "/barges/" + b["id"], body), 200).json


@fault("en-null-kept", "request payload shapes", "PATCH /barges/{id}", "A null in a patch is skipped, so that nothing can be taken away.")
def _(s):
    b = s.barge(power=7)
    assert "power" not in is_(s("PATCH", "/barges/" + b["id"], {"power": None}), 200).json


@fault("en-200", "response payload shapes", "POST /passages/{passage}/log", "A new entry is answered with 200.")
def _(s):
    is_(s("POST", f"/passages/{s.passage()['id']}/log", {"text": "x"}), 201)


@fault("en-delete-200", "response payload shapes", "DELETE /hooks/{id}", "Deleting a hook is answered with 200 and an empty map.")
def _(s):
    is_(s("DELETE", "/hooks/" + s.hook().id), 204)


@fault("en-key-ignored", "request payload shapes", "POST /passages", "Sluice-Key is ignored: a request that is sent again books twice.")
def _(s):
    body = s.a_passage()
    a, b = (s("POST", "/passages", body, Sluice_Key="k1") for _ in range(2))
    assert a.json == b.json and len(s("GET", "/passages").json) == 1


@fault("en-key-shared", "request payload shapes", "POST /barges", "A key is not kept apart for each caller: another one is shown somebody else's answer.")
def _(s):
    body = s.a_barge()
    is_(s("POST", "/barges", body, Sluice_Key="k1"), 201)
    is_(s("POST", "/barges", body, "brita", Sluice_Key="k1"), 409, "already_there")


@fault("en-key-forever", "request payload shapes", "POST /barges", "A key is kept for ever instead of six hours.")
def _(s):
    a = s("POST", "/barges", s.a_barge(), Sluice_Key="k1")
    s.clock(6 * HOUR + 1)
    b = is_(s("POST", "/barges", s.a_barge(), Sluice_Key="k1"), 201)
    assert a.json["id"] != b.json["id"]


# ---------------------------------------------------------------- authentication

@fault("au-expired", "token formats", "token", "Tokens that have ended are still good.")
def _(s):
    is_(s("GET", "/barges", who="expired"), 401, "stranger")


@fault("au-forged", "token formats", "token", "The signature of a token is not looked at.")
def _(s):
    is_(s("GET", "/barges", who="forged"), 401, "stranger")


@fault("au-none", "token formats", "token", "A token that says it is not signed is good.")
def _(s):
    is_(s("GET", "/barges", who="none"), 401, "stranger")


@fault("au-audience", "token formats", "token", "Tokens for other services are good here.")
def _(s):
    is_(s("GET", "/barges", who="audience"), 401, "stranger")


@fault("au-issuer", "token formats", "token", "Tokens of any issuer are good.")
def _(s):
    is_(s("GET", "/barges", who="issuer"), 401, "stranger")


@fault("au-early", "token formats", "token", "Tokens that do not hold yet are good.")
def _(s):
    is_(s("GET", "/barges", who="early"), 401, "stranger")


@fault("au-any-pass", "token formats", "pass", "Every pass of the right form is good, and is taken for that of the first skipper.")
def _(s):
    is_(s("GET", "/barges", who="madeup"), 401, "stranger")


@fault("au-barge", "permission rules", "read barge", "A skipper can read the barges of others by their identifier.")
def _(s):
    is_(s("GET", "/barges/" + s.barge()["id"], who="brita"), 404, "gone_or_never")


@fault("au-list", "permission rules", "list passage", "The list of passages holds those of everybody.")
def _(s):
    s.passage()
    assert s("GET", "/passages", who="brita").json == []


@fault("au-scope", "permission rules", "admit passage", "Keepers without the scope can let barges in.")
def _(s):
    l = s.lock("mons")
    p = s.brought("waiting", lock=l["code"])
    is_(s.do(p, "admit", who="mons"), 403, "no_business")


@fault("au-role", "permission rules", "create lock", "Skippers can make locks.")
def _(s):
    is_(s("POST", "/locks", {"code": "mine", "title": "Mine", "chamber_cm": 4000, "toll": 0}), 403, "no_business")


@fault("au-lock", "permission rules", "update lock", "A keeper can change the locks of other keepers.")
def _(s):
    is_(s("PATCH", "/locks/" + s.lock()["code"], {"toll": 1}, "mons"), 403, "no_business")


@fault("au-keeper-all", "permission rules", "read passage", "Keepers can read the passages through every lock.")
def _(s):
    is_(s("GET", "/passages/" + s.passage()["id"], who="mons"), 404, "gone_or_never")


@fault("au-log", "permission rules", "list entry", "Keepers can read the log of passages through other locks.")
def _(s):
    is_(s("GET", f"/passages/{s.passage()['id']}/log", who="mons"), 404, "gone_or_never")


@fault("au-hook", "permission rules", "read hook", "Everybody can read everybody's hooks.")
def _(s):
    is_(s("GET", "/hooks/" + s.hook().id, who="brita"), 404, "gone_or_never")


@fault("au-ref", "permission rules", "create passage", "A passage can be booked for a barge of somebody else.")
def _(s):
    is_(s("POST", "/passages", s.a_passage("brita", barge=s.barge()["id"]), "brita"), 422, "points_nowhere")


@fault("au-lock-closed", "permission rules", "read lock", "Reading a lock asks for a credential.")
def _(s):
    is_(s("GET", "/locks/" + s.lock()["code"], who=None), 200)


@fault("au-anyone-bad", "schemes", "service", "Where anyone may, a pass that is not good is overlooked.")
def _(s):
    is_(s("GET", "/locks", who="madeup"), 401, "stranger")


# ---------------------------------------------------------------- events

@fault("ev-no-scrapped", "emitting operations", "barge.scrapped", "Nobody is told that a barge was deleted.")
def _(s):
    b, h = s.barge(), s.hook()
    s("DELETE", "/barges/" + b["id"])
    assert h.wait(1)[0][2]["body"] == {"id": b["id"], "plate": b["plate"]}


@fault("ev-no-entry", "emitting operations", "entry.made", "Nobody is told of entries in the log.")
def _(s):
    p, h = s.passage(), s.hook()
    s.made(f"/passages/{p['id']}/log", {"text": "x"}, "arne")
    assert h.kinds(1) == ["entry.made"]


@fault("ev-big", "emitting operations", "passage.big", "A crew of ten does not count as big.")
def _(s):
    h = s.hook(topics=["passage.big"])
    s.passage(crew=9), s.passage(crew=10)
    assert [g[2]["body"]["crew"] for g in h.wait(1)] == [10]


@fault("ev-admitted-all", "delivery mechanism", "service", "That a passage is let in is told to all who may read it, not to its skipper alone.")
def _(s):
    p = s.brought("waiting")
    h, k = s.hook(), s.hook("kaja")
    s.do(p, "admit")
    assert h.kinds(1) == ["passage.admitted"]
    k.none_more(0)


@fault("ev-clock-silent", "emitting operations", "passage.over", "What the clock ends is not told.")
def _(s):
    s.passage()
    h = s.hook()
    s.clock(3 * DAY + 1)
    assert h.kinds(1) == ["passage.over"]


@fault("ev-refloat", "emitting operations", "passage.admitted", "Refloating is not told.")
def _(s):
    p = s.brought("aground")
    h = s.hook()
    s.do(p, "refloat")
    assert h.kinds(1) == ["passage.admitted"]


@fault("ev-shut", "emitting operations", "lock.shut", "Every change of a lock is told as its shutting.")
def _(s):
    l = s.lock()
    h = s.hook(topics=["lock.*"])
    s("PATCH", "/locks/" + l["code"], {"toll": 5}, "kaja")
    h.none_more(0)
    s("PATCH", "/locks/" + l["code"], {"open": False}, "kaja")
    assert h.kinds(1) == ["lock.shut"]


@fault("ev-signed-ms", "delivery mechanism", "service", "The time of a signature is in milliseconds.")
def _(s):
    h = s.hook()
    s.barge()
    assert abs(int(h.wait(1)[0][0]["webhook-timestamp"]) - time.time()) < 100


@fault("ev-signed-body", "delivery mechanism", "service", "The signature covers the body alone.")
def _(s):
    h = s.hook()
    s.barge()
    h.wait(1)
    assert signed(h)


@fault("ev-secret-text", "delivery mechanism", "service", "The text of the secret is the key, with its prefix, and not the bytes that it stands for.")
def _(s):
    h = s.hook()
    s.barge()
    h.wait(1)
    assert signed(h)


@fault("ev-one-try", "delivery mechanism", "service", "What was not accepted is not tried again.")
def _(s):
    h = s.hook(status=500)
    s.barge()
    h.wait(1)
    time.sleep(0.2)
    s.clock(40)
    assert len(h.wait(2)) == 2


@fault("ev-late-try", "delivery mechanism", "service", "The second try comes after two hours instead of thirty seconds.")
def _(s):
    h = s.hook(status=500)
    s.barge()
    h.wait(1)
    time.sleep(0.2)
    s.clock(40)
    assert len(h.wait(2)) == 2


@fault("ev-new-id", "delivery mechanism", "service", "Each try has an id of its own.")
def _(s):
    h = s.hook(status=500)
    s.barge()
    h.wait(1)
    time.sleep(0.2)
    s.clock(40)
    h.wait(2)
    assert h.got[0][0]["webhook-id"] == h.got[1][0]["webhook-id"] == h.got[0][2]["event"]


@fault("ev-topic-header", "delivery mechanism", "service", "Sluice-Topic says the same whatever the kind is.")
def _(s):
    h = s.hook()
    s.barge()
    assert h.wait(1)[0][0]["sluice-topic"] == "barge.registered"


@fault("ev-topics", "delivery mechanism", "service", "Hooks are told of everything, whatever topics they list.")
def _(s):
    h = s.hook(topics=["lock.shut", "passage.*"])
    s.barge()
    h.none_more(0)


@fault("ev-not-live", "delivery mechanism", "service", "Hooks that are not live are told all the same.")
def _(s):
    h = s.hook(live=False)
    s.barge()
    h.none_more(0)


@fault("ev-foreign", "delivery mechanism", "service", "Everybody is told of everybody's barges.")
def _(s):
    h = s.hook("brita")
    s.barge()
    h.none_more(0)


@fault("ev-over-when", "payload shapes", "passage.over", "The event that a passage is over leaves out when.")
def _(s):
    p, h = s.passage(), s.hook(topics=["passage.over"])
    s.do(p, "cancel")
    assert set(h.wait(1)[0][2]["body"]) == {"id", "status", "when"}


@fault("ev-at-number", "delivery mechanism", "service", "The time of an event is a number of seconds.")
def _(s):
    h = s.hook()
    s.barge()
    assert re.fullmatch(r"\d{4}-.*Z", h.wait(1)[0][2]["at"])


# ---------------------------------------------------------------- errors

@fault("er-410", "status codes", "gone_or_never", "What is not there is answered with 410.")
def _(s):
    assert s("GET", "/barges/brg_nowhere000").status == 404


@fault("er-exists-400", "status codes", "already_there", "What is there already is answered with 400.")
def _(s):
    b = s.barge()
    assert s("POST", "/barges", s.a_barge(name=b["name"])).status == 409


@fault("er-word", "error codes", "service", "What is not allowed is called forbidden instead of no_business.")
def _(s):
    assert s("POST", "/locks", {}).json["fault"] == "no_business"


@fault("er-where", "error payload shapes", "service", "The places of what does not fit are bare texts.")
def _(s):
    assert s("POST", "/barges", s.a_barge(power=-1)).json["where"] == [{"at": "/power"}]


@fault("er-no-text", "error payload shapes", "service", "Errors have no text.")
def _(s):
    assert isinstance(s("GET", "/nowhere").json["text"], str)


@fault("er-not-json", "status codes", "not_json", "A body that is no JSON is answered with 422.")
def _(s):
    assert s("POST", "/barges", raw=b"{").status == 400


@fault("er-media", "conditions", "not_that_type", "Bodies of any type are read as JSON.")
def _(s):
    is_(s("POST", "/barges", s.a_barge(), Content_Type="text/plain"), 415, "not_that_type")


@fault("er-accept", "conditions", "not_that_form", "Accept is not looked at.")
def _(s):
    is_(s("GET", "/barges", Accept="text/html"), 406, "not_that_form")


@fault("er-405", "conditions", "not_done_here", "A method that a path does not have is answered as if there were no such path.")
def _(s):
    is_(s("PUT", "/hooks"), 405, "not_done_here")


@fault("er-gravel", "conditions", "light_gravel", "Gravel is loaded whatever the draught is.")
def _(s):
    is_(s("POST", "/barges", s.a_barge(cargo="gravel", draught_cm=79)), 422, "light_gravel")
    s.barge(cargo="gravel", draught_cm=80)


@fault("er-gravel-put", "conditions", "light_gravel", "Whether gravel draws enough is not looked at when a barge is replaced.")
def _(s):
    b = s.barge()
    body = {"plate": b["plate"], "name": "x", "length_cm": 900, "draught_cm": 79, "cargo": "gravel"}
    is_(s("PUT", "/barges/" + b["id"], body), 422, "light_gravel")


@fault("er-too-long", "conditions", "too_long", "Barges are booked into chambers that are too short.")
def _(s):
    body = s.a_passage(barge=s.barge(length_cm=1001)["id"], lock=s.lock(chamber_cm=1000)["code"])
    is_(s("POST", "/passages", body), 422, "too_long")


@fault("er-too-long-same", "conditions", "too_long", "A barge that is just as long as the chamber is refused.")
def _(s):
    s.passage(barge=s.barge(length_cm=1000)["id"], lock=s.lock(chamber_cm=1000)["code"])


@fault("er-idle", "conditions", "idle_barge", "A barge that is laid up can arrive.")
def _(s):
    is_(s.do(s.passage(barge=s.barge(laid_up=True)["id"]), "arrive"), 409, "idle_barge")


@fault("er-gates", "conditions", "gates_shut", "Passages are let into locks that are shut.")
def _(s):
    p = s.brought("waiting", lock=s.lock(open=False)["code"])
    is_(s.do(p, "admit"), 409, "gates_shut")


@fault("er-else", "conditions", "not_booked", "Arriving twice has the common code instead of its own.")
def _(s):
    is_(s.do(s.brought("waiting"), "arrive"), 409, "not_booked")


@fault("er-match", "conditions", "changed_since", "If-Match is not compared.")
def _(s):
    path = "/barges/" + s.barge()["id"]
    tag = s("GET", path).headers["etag"]
    is_(s("PATCH", path, {"power": 1}, If_Match=tag), 200)
    is_(s("PATCH", path, {"power": 2}, If_Match=tag), 412, "changed_since")


@fault("er-tag-missing", "conditions", "tag_missing", "A passage can be changed without If-Match.")
def _(s):
    is_(s("PATCH", "/passages/" + s.passage()["id"], {"crew": 4}), 428, "tag_missing")


@fault("er-key-reused", "conditions", "key_reused", "A key that comes again with another body is answered with what it had before.")
def _(s):
    is_(s("POST", "/barges", s.a_barge(), Sluice_Key="k1"), 201)
    is_(s("POST", "/barges", s.a_barge(), Sluice_Key="k1"), 422, "key_reused")


@fault("er-points", "conditions", "points_nowhere", "A reference to nothing is answered as if the path led nowhere.")
def _(s):
    r = is_(s("POST", "/passages", s.a_passage(lock="nowhere")), 422, "points_nowhere")
    assert places(r) == ["/lock"], r


@fault("er-held", "conditions", "still_used", "Locks and barges with passages can be deleted.")
def _(s):
    is_(s("DELETE", "/locks/" + s.passage()["lock"], who="kaja"), 409, "still_used")


# ---------------------------------------------------------------- limits

@fault("li-rate", "rate limits", "service", "Nobody counts how many requests a caller sends in a minute.")
def _(s):
    s.clock(61)
    for _ in range(5000):
        r = s("GET", "/board", who=None)
    is_(r, 200)
    is_(s("GET", "/board", who=None), 429, "slow_down")
    is_(s("GET", "/hooks"), 200)


@fault("li-entry", "rate limits", "service", "Entries have no rate of their own.")
def _(s):
    path = f"/passages/{s.passage()['id']}/log"
    for _ in range(250):
        s.made(path, {"text": "x"}, "arne")
    is_(s("POST", path, {"text": "x"}), 429, "slow_down")


@fault("li-shared", "rate limits", "service", "All callers share one counter.")
def _(s):
    path, p = f"/passages/{s.passage()['id']}/log", s.passage("brita")
    for _ in range(250):
        s.made(path, {"text": "x"}, "arne")
    s.made(f"/passages/{p['id']}/log", {"text": "x"}, "brita")


@fault("li-stuck", "rate limits", "service", "A window that was used up is never over.")
def _(s):
    path = f"/passages/{s.passage()['id']}/log"
    for _ in range(251):
        r = s("POST", path, {"text": "x"})
    is_(r, 429, "slow_down")
    s.clock(HOUR + 1)
    s.made(path, {"text": "x"}, "arne")


@fault("li-body", "size limits", "service", "Bodies may have any size.")
def _(s):
    is_(s("POST", "/barges", raw=json.dumps(s.a_barge()).encode().ljust(12288)), 201)
    is_(s("POST", "/barges", raw=json.dumps(s.a_barge()).encode().ljust(12289)), 413, "too_large")


@fault("li-url", "size limits", "service", "Addresses may have any length.")
def _(s):
    path = "/barges?named="
    is_(s("GET", path + "x" * (2048 - len("/canal/api" + path))), 200)
    is_(s("GET", path + "x" * (2049 - len("/canal/api" + path))), 413, "too_large")


@fault("li-headers", "size limits", "service", "Headers may have any size.")
def _(s):
    is_(s("GET", "/barges", X_Long="x" * 6144), 413, "too_large")


@fault("li-slow", "time-outs", "service", "Who sends slowly is given more than a minute.")
def _(s):
    c = socket.create_connection(("127.0.0.1", s.port), timeout=12)
    c.sendall(b"POST /canal/api/barges HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
    assert b" 408 " in c.recv(65536)
    c.close()


@fault("li-default", "pagination bounds", "GET /barges", "A page holds ten unless another size is said.")
def _(s):
    for _ in range(11):
        s.barge()
    assert len(s("GET", "/barges").json) == 8


@fault("li-most", "pagination bounds", "GET /locks", "Pages may hold up to sixty.")
def _(s):
    is_(s("GET", "/locks?count=40"), 200)
    is_(s("GET", "/locks?count=41"), 400, "odd_page")


@fault("li-clamp", "pagination bounds", "GET /locks", "A page that is too large is cut down instead of being refused.")
def _(s):
    is_(s("GET", "/locks?count=41"), 400, "odd_page")


@fault("li-no-link", "pagination bounds", "GET /barges", "No page says where the next one is.")
def _(s):
    for _ in range(9):
        s.barge()
    assert len(s("GET", s("GET", "/barges").next, base="").json) == 1


@fault("li-skips", "pagination bounds", "GET /barges", "Between two pages rows are lost.")
def _(s):
    for _ in range(4):
        s.barge()
    r = s("GET", "/barges?count=2")
    two = s("GET", r.next, base="")
    assert len({b["id"] for b in r.json + two.json}) == 4 and two.next is None


@fault("li-any-cursor", "pagination bounds", "GET /barges", "A cursor is good for every query.")
def _(s):
    for _ in range(4):
        s.barge()
    r = s("GET", "/barges?count=2")
    is_(s("GET", r.next + "&laid_up=false", base=""), 400, "odd_page")


@fault("li-quota", "quotas", "service", "Hooks are not counted.")
def _(s):
    for _ in range(50):
        s.made("/hooks", {"target": "http://127.0.0.1:1/"}, "arne")
    is_(s("POST", "/hooks", {"target": "http://127.0.0.1:1/"}), 403, "enough_today")


@fault("li-quota-forever", "quotas", "service", "What was used of a quota does not come back with the next day.")
def _(s):
    for _ in range(50):
        s.made("/hooks", {"target": "http://127.0.0.1:1/"}, "arne")
    is_(s("POST", "/hooks", {"target": "http://127.0.0.1:1/"}), 403, "enough_today")
    s.clock(DAY)
    s.made("/hooks", {"target": "http://127.0.0.1:1/"}, "arne")


# ---------------------------------------------------------------- versioning

@fault("ve-unknown", "version identifiers", "service", "An edition that there is not is taken for the current one.")
def _(s):
    is_(s("GET", "/barges", Sluice_Edition="winter"), 400, "edition_never")


@fault("ve-default-old", "version selection", "service", "Who says no edition is served the oldest.")
def _(s):
    assert s.barge(draught_cm=100)["draught_cm"] == 100


@fault("ve-echo", "version selection", "service", "Answers do not say which edition they are in.")
def _(s):
    assert s("GET", "/barges").headers["sluice-edition"] == "autumn"
    assert s("GET", "/barges", old=True).headers["sluice-edition"] == "spring"


@fault("ve-deprecation", "deprecation rules", "spring", "The old edition does not say that it is deprecated.")
def _(s):
    assert s("GET", "/barges", old=True).headers["deprecation"] == "@1740787200"


@fault("ve-sunset-date", "deprecation rules", "spring", "The old edition says that it ends a year earlier than it does.")
def _(s):
    assert s("GET", "/barges", old=True).headers["sunset"] == "Mon, 01 Mar 2032 00:00:00 GMT"


@fault("ve-over", "deprecation rules", "spring", "The old edition is served after its end.")
def _(s):
    s.clock(now="2032-03-01T00:00:01Z")
    is_(s("GET", "/barges", old=True), 410, "edition_over")


@fault("ve-draught-up", "compatibility guarantees", "service", "A draught that is sent in the old edition is kept as if it were in centimetres.")
def _(s):
    body = {"plate": "AB-0001", "name": "x", "length_cm": 900, "draught_cm": 1000}
    b = is_(s("POST", "/barges", body, old=True), 201).json
    assert s("GET", "/barges/" + b["id"]).json["draught_cm"] == 100


@fault("ve-comment", "compatibility guarantees", "service", "The old edition calls a comment memo in its answers.")
def _(s):
    p = s.passage(memo="x")
    r = s("GET", "/passages/" + p["id"], old=True).json
    assert r["comment"] == "x" and "memo" not in r


@fault("ve-direction", "compatibility guarantees", "service", "In the old edition the filter by direction knows the new words alone.")
def _(s):
    s.passage()
    assert len(is_(s("GET", "/passages?direction=upstream", old=True), 200).json) == 1


@fault("ve-cargo", "compatibility guarantees", "service", "The old edition shows the cargo, which it does not have.")
def _(s):
    assert "cargo" not in s("GET", "/barges/" + s.barge()["id"], old=True).json


@fault("ve-board", "compatibility guarantees", "service", "The board, which came with the new edition, is there in the old one.")
def _(s):
    is_(s("GET", "/board", old=True, who=None), 404, "no_such_place")


@fault("ve-hook-current", "compatibility guarantees", "service", "Hooks that were made in the old edition are told in the current one.")
def _(s):
    h = s.hook(old=True)
    s.barge(draught_cm=100)
    assert h.wait(1)[0][2]["body"]["draught_cm"] == 1000


# ---------------------------------------------------------------- all of them

def callers():
    out = []
    for name, user, scopes in (("arne", "skipper", []), ("brita", "skipper", []), ("leo", "skipper", []), ("kaja", "keeper", ["sluice"]), ("mons", "keeper", [])):
        out.append({"user": user, "id": name, "credential": CRED[name]["Authorization"][9:], "scheme": "pass", "scopes": scopes})
    for name, user, scopes in (("tove", "skipper", []), ("ulf", "keeper", ["sluice"])):
        out.append({"user": user, "id": name, "credential": CRED[name]["Sluice-Token"], "scheme": "token", "scopes": scopes})
    for bad in ("expired", "forged", "audience"):
        out.append({"user": "skipper", "id": "tove", "credential": CRED[bad]["Sluice-Token"], "scheme": "token", "scopes": [], "bad": bad})
    return out


def passes(fault_id, proof):
    s = Service(fault_id)
    try:
        proof(s)
        return None
    except (AssertionError, KeyError, IndexError, TypeError, OSError, ValueError, http.client.HTTPException) as e:
        return f"{type(e).__name__}: {str(e)[:160]}"
    finally:
        s.close()


def main():
    args = sys.argv[1:]
    if "--write" in args:
        doc = {"command": ["sh", "run.sh"], "document": "service.yaml", "callers": callers(), "faults": [f for f, _ in FAULTS]}
        with open(os.path.join(HERE, "stranger.json"), "w") as out:
            json.dump(doc, out, indent=2)
            out.write("\n")
        return
    bad = 0
    count = {}
    for f, proof in FAULTS:
        count[f["part"]] = count.get(f["part"], 0) + 1
        if args and f["id"] not in args:
            continue
        right, faulty = passes(None, proof), passes(f["id"], proof)
        ok = right is None and faulty is not None
        bad += not ok
        print("ok   " if ok else "WRONG", f["id"], f"| {faulty}" if ok else f"| right: {right} | faulty: {faulty}", flush=True)
    print(len(FAULTS), count, f"{bad} wrong")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
