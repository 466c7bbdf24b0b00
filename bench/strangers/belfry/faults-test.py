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
    "events": ["delivery mechanism", "payload shapes", "emitting operations"],
    "errors": ["error codes", "status codes", "error payload shapes", "conditions"],
    "limits": ["rate limits", "size limits", "time-outs", "pagination bounds", "quotas"],
    "versioning": ["version identifiers", "version selection", "deprecation rules", "compatibility guarantees"],
}.items() for kind in kinds}


def fault(id, kind, subject, bug):
    part = PARTS[kind]

    def add(proof):
        FAULTS.append(({"id": id, "part": part, "kind": kind, "subject": subject, "bug": bug}, proof))
        return proof
    return add


def is_(r, status, word=None):
    assert r.status == status, r
    if word:
        assert r.word == word, r
    return r


# ---------------------------------------------------------------- purpose

@fault("pu-base", "base address", "service", "A proxy in front strips the prefix /tower, so the service only knows its paths without it.")
def _(s):
    is_(s("GET", "/rounds", who=None), 200)


@fault("pu-steward", "users", "service", "Stewards were left out of the table of roles: none of them gets in.")
def _(s):
    is_(s("GET", "/attempts", who="dorit"), 200)
    is_(s("GET", "/attempts", who="hugo"), 200)


@fault("pu-verdict", "functions", "service", "The route by which stewards strike an attempt was never registered.")
def _(s):
    a = s.rung()
    is_(s.do(a["nr"], "strike", {"reason": "false"}, "dorit"), 200)


@fault("pu-footnote", "functions", "service", "Writing footnotes is a stub that says 501.")
def _(s):
    a = s.attempt()
    is_(s("POST", f"/attempts/{a['nr']}/footnotes", {"text": "fine"}), 201)


# ---------------------------------------------------------------- resources

@fault("re-extra", "field names", "bell", "Fields that nobody knows are dropped in silence instead of being refused.")
def _(s):
    r = is_(s("POST", "/bells", {"slug": "one", "name": "One", "weight": 9, "wieght": 10}), 422, "unfit")
    assert r.json["trouble"]["places"] == ["/wieght"], r


@fault("re-weight-text", "types", "bell.weight", "The weight comes out as text.")
def _(s):
    assert s.bell(weight=77)["weight"] == 77


@fault("re-weight-range", "allowed values", "bell.weight", "The greatest weight was raised far above what is stated.")
def _(s):
    assert s.bell(weight=20000)["weight"] == 20000
    is_(s("POST", "/bells", {"slug": "one", "name": "One", "weight": 20001}), 422, "unfit")


@fault("re-label-long", "allowed values", "attempt.label", "Nobody looks at how long a label is.")
def _(s):
    b = s.bell()["slug"]
    s.attempt(bell=b, label="x" * 60)
    is_(s("POST", "/attempts", {"bell": b, "label": "x" * 61, "changes": 1, "duration": 1, "starts_at": "2027-01-01T10:00:00Z"}), 422, "unfit")


@fault("re-starts-at", "formats", "attempt.starts_at", "Any text passes for a date and time.")
def _(s):
    b = s.bell()["slug"]
    is_(s("POST", "/attempts", {"bell": b, "label": "x", "changes": 1, "duration": 1, "starts_at": "next Sunday"}), 422, "unfit")


@fault("re-case", "conditions", "taken", "Names are compared with their case, so that one name can be taken twice.")
def _(s):
    s.bell(name="Old Tom")
    is_(s("POST", "/bells", {"slug": "one", "name": "OLD tom", "weight": 9}), 409, "taken")
    s.bell("bert", name="old tom")


@fault("re-position", "conditions", "taken", "A position that is taken is refused on creation, and not on a change.")
def _(s):
    s.bell(position=1)
    b = s.bell(position=2)
    s.bell("bert", position=1)
    is_(s("PATCH", f"/bells/{b['slug']}", {"position": 1}), 409, "taken")


@fault("re-one-ringing", "conditions", "taken", "A bell can be rung in two attempts at once.")
def _(s):
    a = s.attempt()
    b = s.attempt(bell=a["bell"])
    is_(s.do(a["nr"], "begin"), 200)
    is_(s.do(b["nr"], "begin"), 409, "taken")
    is_(s.do(a["nr"], "scratch"), 200)
    is_(s.do(b["nr"], "begin"), 200)


@fault("re-hung-default", "request payload shapes", "POST /bells", "A new bell does not hang unless that is said.")
def _(s):
    assert s.bell()["hung"] is True


@fault("re-bell-moved", "request payload shapes", "PATCH /attempts/{nr}", "The bell of an attempt can be changed afterwards.")
def _(s):
    a, b = s.attempt(), s.bell()["slug"]
    is_(s("PATCH", f"/attempts/{a['nr']}", {"bell": a["bell"]}, If_Match="*"), 200)
    is_(s("PATCH", f"/attempts/{a['nr']}", {"bell": b}, If_Match="*"), 422, "unfit")


@fault("re-door-code", "field names", "attempt", "The door code, which is only to be written, comes back in answers.")
def _(s):
    a = s.attempt(door_code="1234")
    assert "door_code" not in a and "door_code" not in s("GET", f"/attempts/{a['nr']}").json["attempt"]


@fault("re-missing-name", "required flags", "bell.name", "A bell can be made without a name.")
def _(s):
    is_(s("POST", "/bells", {"slug": "one", "weight": 9}), 422, "unfit")


@fault("re-null-kept", "response payload shapes", "PATCH /bells/{slug}", "A null in a patch is skipped, so that nothing can be taken away.")
def _(s):
    b = s.bell(note="C#")
    assert "note" not in s("PATCH", f"/bells/{b['slug']}", {"note": None}).json["bell"]


@fault("re-replace-merge", "response payload shapes", "PUT /bells/{slug}", "PUT behaves as PATCH: what was not sent stays.")
def _(s):
    b = s.bell(note="C#", open=True)
    r = is_(s("PUT", f"/bells/{b['slug']}", {"name": "New", "weight": 5}), 200).json["bell"]
    assert "note" not in r and r["open"] is False


@fault("re-clear", "response payload shapes", "DELETE /bells/{slug}", "Footnotes keep pointing at a bell that is gone.")
def _(s):
    a, b = s.attempt(), s.bell()["slug"]
    f = s("POST", f"/attempts/{a['nr']}/footnotes", {"text": "x", "bell": b}).json["footnote"]
    assert f["bell"] == b
    is_(s("DELETE", f"/bells/{b}"), 204)
    assert "bell" not in s("GET", f"/attempts/{a['nr']}/footnotes/{f['id']}").json["footnote"]


@fault("re-restrict", "conditions", "in_use", "A bell that attempts need can be deleted.")
def _(s):
    a = s.attempt()
    is_(s("DELETE", f"/bells/{a['bell']}"), 409, "in_use")
    is_(s("DELETE", f"/attempts/{a['nr']}"), 204)
    is_(s("DELETE", f"/bells/{a['bell']}"), 204)


@fault("re-seal-again", "field names", "herald", "The seal of a herald can be read again later.")
def _(s):
    g = s.herald()
    assert "seal" not in s("GET", f"/heralds/{g.id}").json["herald"]


@fault("re-verdict-seen", "field names", "attempt", "Captains see the verdict that is meant for stewards.")
def _(s):
    a = s.rung()
    r = s.do(a["nr"], "strike", {"reason": "false"}, "dorit")
    assert r.json["attempt"]["verdict"] == "false"
    assert "verdict" not in s("GET", f"/attempts/{a['nr']}").json["attempt"]


@fault("re-captain", "request payload shapes", "POST /bells", "Whoever sends a captain along makes a bell in somebody else's name.")
def _(s):
    r = s("POST", "/bells", {"slug": "one", "name": "One", "weight": 9, "captain": "bert"})
    assert r.json["bell"]["captain"] == "anna", r


@fault("re-fee", "response payload shapes", "POST /attempts", "Ringing by hand costs as much as in the tower.")
def _(s):
    assert s.attempt(style="hand")["fee"] == 200
    assert s.attempt()["fee"] == 500


@fault("re-changed-at", "response payload shapes", "PATCH /bells/{slug}", "The time of the last change stays that of the creation.")
def _(s):
    b = s.bell()
    s.clock(advance=5000)
    assert s("PATCH", f"/bells/{b['slug']}", {"weight": 7}).json["bell"]["changed_at"] > b["changed_at"]


# ---------------------------------------------------------------- states

@fault("st-begin-any", "transitions", "attempt", "A scratched attempt can begin all the same.")
def _(s):
    a = s.attempt()
    is_(s.do(a["nr"], "scratch"), 200)
    is_(s.do(a["nr"], "begin"), 409, "not_planned")


@fault("st-finish-exact", "transitions", "attempt", "Exactly as many changes as planned count as too few.")
def _(s):
    a = s.attempt()
    s.do(a["nr"], "begin")
    assert s.do(a["nr"], "finish", {"rung": 5040}).json["attempt"]["status"] == "rung"
    b = s.attempt()
    s.do(b["nr"], "begin")
    assert s.do(b["nr"], "finish", {"rung": 5039}).json["attempt"]["status"] == "short"


@fault("st-no-lapse", "transitions", "attempt", "Planned attempts never lapse.")
def _(s):
    a = s.attempt()
    s.clock(advance=21 * DAY - 60_000)
    assert s.status(a["nr"]) == "planned"
    s.clock(advance=60_000)
    assert s.status(a["nr"]) == "lapsed"


@fault("st-lapse-held", "transitions", "attempt", "Held attempts lapse too.")
def _(s):
    a = s.attempt(held=True)
    s.clock(advance=22 * DAY)
    assert s.status(a["nr"]) == "planned"


@fault("st-abandon-late", "transitions", "attempt", "Ringing is given up after sixty hours instead of six.")
def _(s):
    a = s.attempt()
    s.do(a["nr"], "begin")
    s.clock(advance=6 * HOUR - 60_000)
    assert s.status(a["nr"]) == "ringing"
    s.clock(advance=60_000)
    assert s.status(a["nr"]) == "abandoned"


@fault("st-patch-any", "conditions", "wrong_moment", "An attempt can be changed while it is being rung.")
def _(s):
    a = s.attempt()
    s.do(a["nr"], "begin")
    is_(s("PATCH", f"/attempts/{a['nr']}", {"label": "Monday"}, If_Match="*"), 409, "wrong_moment")


@fault("st-delete-any", "conditions", "wrong_moment", "An attempt can be deleted in every state.")
def _(s):
    a = s.rung()
    is_(s("DELETE", f"/attempts/{a['nr']}"), 409, "wrong_moment")


@fault("st-initial", "states", "attempt", "A new attempt says that it is being rung.")
def _(s):
    assert s.attempt()["status"] == "planned"


@fault("st-reopen-rung", "transitions", "attempt", "An attempt that was rung can be reopened, not only a short one.")
def _(s):
    a = s.rung()
    is_(s.do(a["nr"], "reopen"), 409, "wrong_moment")
    b = s.attempt()
    s.do(b["nr"], "begin")
    s.do(b["nr"], "finish", {"rung": 1})
    assert is_(s.do(b["nr"], "reopen"), 200).json["attempt"]["status"] == "planned"


@fault("st-restart", "transitions", "attempt", "Every change of a planned attempt starts its 21 days anew.")
def _(s):
    a = s.attempt()
    s.clock(advance=10 * DAY)
    is_(s("PATCH", f"/attempts/{a['nr']}", {"label": "Monday"}, If_Match="*"), 200)
    s.clock(advance=11 * DAY)
    assert s.status(a["nr"]) == "lapsed"


@fault("st-ratify-held", "transitions", "attempt", "Held attempts are ratified.")
def _(s):
    a = s.rung(held=True)
    is_(s.do(a["nr"], "ratify", who="dorit"), 409, "still_held")


# ---------------------------------------------------------------- endpoints

@fault("ep-location", "response payload shapes", "POST /bells", "The answer to a creation has no Location.")
def _(s):
    r = s("POST", "/bells", {"slug": "one", "name": "One", "weight": 9})
    assert r.headers.get("location") == "/tower/bells/one", r


@fault("ep-min-strict", "parameters", "GET /attempts", "The least number of changes is left out of what it finds.")
def _(s):
    s.attempt(changes=100)
    s.attempt(changes=99)
    assert [a["changes"] for a in s("GET", "/attempts?min_changes=100").json["rows"]] == [100]


@fault("ep-sort", "parameters", "GET /bells", "The wish for an order is taken and not followed.")
def _(s):
    for w in (20, 10, 30):
        s.bell(weight=w)
    assert [b["weight"] for b in s("GET", "/bells?sort=-weight").json["rows"]] == [30, 20, 10]


@fault("ep-order", "response payload shapes", "GET /attempts", "Attempts come earliest first instead of latest first.")
def _(s):
    s.attempt(starts_at="2027-01-01T10:00:00Z")
    s.attempt(starts_at="2027-01-01T11:30:00+01:00", label="second")
    s.attempt(starts_at="2027-01-01T11:00:00Z", label="third")
    s.attempt(starts_at="2027-01-01T10:30:00Z", label="fourth")
    assert [a["label"] for a in s("GET", "/attempts").json["rows"]] == ["third", "second", "fourth", "Sunday"]


@fault("ep-until-text", "parameters", "GET /attempts", "Times are compared as text, so that other time zones are misplaced.")
def _(s):
    s.attempt(starts_at="2027-01-01T12:30:00+02:00")
    assert s("GET", "/attempts?until=2027-01-01T11:00:00Z").json["count"] == 1
    assert s("GET", "/attempts?until=2027-01-01T10:30:00Z").json["count"] == 0


@fault("ep-etag-constant", "response payload shapes", "PATCH /bells/{slug}", "The ETag is made of the identifier alone and never changes.")
def _(s):
    b = s.bell()
    e = s("GET", f"/bells/{b['slug']}").headers["etag"]
    r = s("PATCH", f"/bells/{b['slug']}", {"weight": 7})
    assert r.headers["etag"] != e
    assert s("GET", f"/bells/{b['slug']}").headers["etag"] == r.headers["etag"]


@fault("ep-if-match", "conditions", "stale", "If-Match is not looked at.")
def _(s):
    b = s.bell()
    e = s("GET", f"/bells/{b['slug']}").headers["etag"]
    is_(s("PATCH", f"/bells/{b['slug']}", {"weight": 7}, If_Match=e), 200)
    is_(s("PATCH", f"/bells/{b['slug']}", {"weight": 8}, If_Match=e), 412, "stale")


@fault("ep-tag-optional", "conditions", "tag_needed", "An attempt can be changed without If-Match.")
def _(s):
    a = s.attempt()
    is_(s("PATCH", f"/attempts/{a['nr']}", {"label": "Monday"}), 428, "tag_needed")


@fault("ep-unknown-parameter", "parameters", "GET /bells", "Parameters that nobody knows are ignored.")
def _(s):
    is_(s("GET", "/bells?colour=red"), 400, "wrong_query")


@fault("ep-once", "parameters", "POST /bells", "The idempotency key is ignored: what is sent again is done again.")
def _(s):
    b = {"bell": s.bell()["slug"], "label": "x", "changes": 1, "duration": 1, "starts_at": "2027-01-01T10:00:00Z"}
    one = is_(s("POST", "/attempts", b, Belfry_Once="k"), 201)
    two = is_(s("POST", "/attempts", b, Belfry_Once="k"), 201)
    assert one.text == two.text and s("GET", "/attempts").json["count"] == 1


@fault("ep-once-body", "conditions", "once_reused", "A key that comes back with another body gets the old answer.")
def _(s):
    is_(s("POST", "/bells", {"slug": "one", "name": "One", "weight": 9}, Belfry_Once="k"), 201)
    is_(s("POST", "/bells", {"slug": "two", "name": "Two", "weight": 9}, Belfry_Once="k"), 422, "once_reused")


@fault("ep-once-forever", "parameters", "POST /attempts", "Keys are kept for fifty days instead of twelve hours.")
def _(s):
    b = {"bell": s.bell()["slug"], "label": "x", "changes": 1, "duration": 1, "starts_at": "2027-01-01T10:00:00Z"}
    one = s("POST", "/attempts", b, Belfry_Once="k")
    s.clock(advance=12 * HOUR - MIN)
    assert s("POST", "/attempts", b, Belfry_Once="k").text == one.text
    s.clock(advance=2 * MIN)
    assert is_(s("POST", "/attempts", b, Belfry_Once="k"), 201).text != one.text


@fault("ep-delete-200", "response payload shapes", "DELETE /bells/{slug}", "A deletion answers 200 with an empty map.")
def _(s):
    b = s.bell()
    r = is_(s("DELETE", f"/bells/{b['slug']}"), 204)
    assert r.text == ""


@fault("ep-bare-patch", "response payload shapes", "PATCH /bells/{slug}", "The answer to a patch lacks its envelope.")
def _(s):
    b = s.bell()
    assert s("PATCH", f"/bells/{b['slug']}", {"weight": 8}).json["bell"]["weight"] == 8


@fault("ep-cache", "response payload shapes", "GET /bells/{slug}", "Cache-Control is missing.")
def _(s):
    b = s.bell()
    assert s("GET", f"/bells/{b['slug']}").headers.get("cache-control") == "private, max-age=30"


@fault("ep-parent", "parameters", "GET /attempts/{attempt}/footnotes/{id}", "A footnote is found below any attempt, not only its own.")
def _(s):
    a, b = s.attempt(), s.attempt()
    f = s("POST", f"/attempts/{a['nr']}/footnotes", {"text": "x"}).json["footnote"]
    is_(s("GET", f"/attempts/{a['nr']}/footnotes/{f['id']}"), 200)
    is_(s("GET", f"/attempts/{b['nr']}/footnotes/{f['id']}"), 404, "not_here")


# ---------------------------------------------------------------- authentication

@fault("au-expired", "token formats", "token", "Tokens that have expired are still good.")
def _(s):
    is_(s("GET", "/bells", who="gilda"), 200)
    is_(s("GET", "/bells", who="expired"), 401, "who_rings")


@fault("au-audience", "token formats", "token", "Tokens made for another service are taken.")
def _(s):
    is_(s("GET", "/bells", who="audience"), 401, "who_rings")


@fault("au-forged", "token formats", "token", "The signature of a token is not verified.")
def _(s):
    is_(s("GET", "/bells", who="forged"), 401, "who_rings")


@fault("au-list-leak", "permission rules", "list attempt", "The list of attempts shows those of all captains.")
def _(s):
    s.attempt()
    assert s("GET", "/attempts", who="bert").json["count"] == 0
    assert s("GET", "/attempts", who="dorit").json["count"] == 1


@fault("au-read-leak", "permission rules", "read attempt", "Whoever knows its number reads any attempt.")
def _(s):
    a = s.attempt()
    is_(s("GET", f"/attempts/{a['nr']}", who="bert"), 404, "not_here")


@fault("au-scope", "permission rules", "ratify attempt", "A steward without the scope for it gives verdicts.")
def _(s):
    a = s.rung()
    is_(s.do(a["nr"], "ratify", who="emile"), 403, "hands_off")
    is_(s.do(a["nr"], "ratify", who="hugo"), 200)


@fault("au-steward-plans", "permission rules", "create attempt", "Stewards can plan attempts.")
def _(s):
    b = s.bell()["slug"]
    is_(s("POST", "/attempts", {"bell": b, "label": "x", "changes": 1, "duration": 1, "starts_at": "2027-01-01T10:00:00Z"}, "dorit"), 403, "hands_off")


@fault("au-open-write", "permission rules", "update bell", "Whoever may see an open bell may change it.")
def _(s):
    b = s.bell(open=True)
    is_(s("GET", f"/bells/{b['slug']}", who="bert"), 200)
    is_(s("PATCH", f"/bells/{b['slug']}", {"weight": 9}, "bert"), 403, "hands_off")


@fault("au-begin", "permission rules", "begin attempt", "A captain can begin the attempts of others.")
def _(s):
    a = s.attempt()
    is_(s.do(a["nr"], "begin", who="bert"), 404, "not_here")


@fault("au-two", "schemes", "service", "Where two credentials are shown only the first is looked at.")
def _(s):
    is_(s("GET", "/bells", Authorization=CRED["forged"]["Authorization"]), 401, "who_rings")
    is_(s("GET", "/bells", Authorization=CRED["gilda"]["Authorization"]), 401, "who_rings")


# ---------------------------------------------------------------- events

def mac(seal, head, body):
    m = re.fullmatch(r"n=([^;]+);at=(\d+);mac=(\S+)", head)
    assert m, head
    want = base64.b64encode(hmac.new(seal.encode(), f"{m[1]}|{m[2]}|".encode() + body, hashlib.sha256).digest()).decode()
    assert m[3] == want, head
    return m


@fault("ev-mac-body", "delivery mechanism", "service", "Only the body is signed, without number and time.")
def _(s):
    g = s.herald()
    s.bell()
    h, body, e = g.wait(1)[0]
    assert mac(g.seal, h["belfry-seal"], body)[1] == e["number"]


@fault("ev-mac-hex", "delivery mechanism", "service", "The signature is written in hex instead of base64.")
def _(s):
    g = s.herald()
    s.bell()
    h, body, e = g.wait(1)[0]
    mac(g.seal, h["belfry-seal"], body)


@fault("ev-no-retry", "delivery mechanism", "service", "What was not taken is never sent again.")
def _(s):
    g = s.herald(status=500)
    s.bell()
    g.wait(1)
    for i, wait in enumerate((20_000, 3 * MIN, HOUR), 2):
        time.sleep(0.15)
        s.clock(advance=wait - 2000)
        g.none_more(i - 1, 0.15)
        s.clock(advance=2000)
        assert len(g.wait(i)) == i
    time.sleep(0.15)
    s.clock(advance=10 * HOUR)
    g.none_more(4)


@fault("ev-new-number", "delivery mechanism", "service", "Every try has a new number, so that receivers cannot see that it is the same event.")
def _(s):
    g = s.herald(status=500)
    s.bell()
    g.wait(1)
    time.sleep(0.15)
    g.status = 200
    s.clock(advance=20_000)
    a, b = g.wait(2)
    assert a[2] == b[2] and mac(g.seal, b[0]["belfry-seal"], b[1])[1] == a[2]["number"]


@fault("ev-long", "emitting operations", "attempt.long", "Every new attempt is told to be a long one.")
def _(s):
    g = s.herald(kinds=["attempt.long"])
    s.attempt(changes=9999)
    s.attempt(changes=10000)
    assert g.wait(1)[0][2]["about"]["changes"] == 10000
    g.none_more(1)


@fault("ev-leak", "delivery mechanism", "service", "Heralds of other captains hear of attempts that their maker may not read.")
def _(s):
    g = s.herald("bert")
    s.attempt()
    s.bell("bert")
    assert g.kinds(1) == ["bell.added"] and g.got[0][2]["about"]["captain"] == "bert"
    g.none_more(1)


@fault("ev-verdict", "payload shapes", "attempt.struck", "The payload shows captains the verdict that they may not see.")
def _(s):
    g, d = s.herald(kinds=["attempt.struck"]), s.herald("dorit", kinds=["attempt.struck"])
    a = s.rung()
    s.do(a["nr"], "strike", {"reason": "false"}, "dorit")
    assert d.wait(1)[0][2]["about"]["verdict"] == "false"
    assert "verdict" not in g.wait(1)[0][2]["about"]


@fault("ev-to", "emitting operations", "attempt.ratified", "Stewards hear of ratified attempts too, though only the attempt's captain is meant.")
def _(s):
    g, d = s.herald(kinds=["attempt.ratified"]), s.herald("dorit", kinds=["attempt.ratified"])
    a = s.rung()
    s.do(a["nr"], "ratify", who="dorit")
    assert g.kinds(1) == ["attempt.ratified"]
    d.none_more(0)


@fault("ev-abandon", "emitting operations", "attempt.ended", "When the clock ends an attempt nobody is told.")
def _(s):
    g = s.herald(kinds=["attempt.ended"])
    a = s.attempt()
    s.do(a["nr"], "begin")
    s.clock(advance=6 * HOUR)
    assert len(g.wait(1)) == 1
    assert g.got[0][2]["about"]["status"] == "abandoned"


@fault("ev-kind-header", "delivery mechanism", "service", "The header with the kind is missing.")
def _(s):
    g = s.herald()
    s.bell()
    assert g.wait(1)[0][0].get("belfry-kind") == "bell.added"


@fault("ev-kinds", "delivery mechanism", "service", "A herald hears of everything, whatever kinds it asked for.")
def _(s):
    g, h = s.herald(kinds=["bell.*"]), s.herald(kinds=["attempt.planned"])
    s.attempt()
    assert g.kinds(1) == ["bell.added"] and h.kinds(1) == ["attempt.planned"]
    g.none_more(1)
    h.none_more(1)


@fault("ev-noop", "emitting operations", "bell.recast", "A change that changes nothing is told as a change.")
def _(s):
    g = s.herald(kinds=["bell.recast"])
    b = s.bell()
    s("PATCH", f"/bells/{b['slug']}", {"weight": 100})
    g.none_more(0)
    s("PATCH", f"/bells/{b['slug']}", {"weight": 101})
    assert len(g.wait(1)) == 1


@fault("ev-inactive", "delivery mechanism", "service", "A herald that was switched off goes on being told.")
def _(s):
    g = s.herald()
    is_(s("PATCH", f"/heralds/{g.id}", {"active": False}), 200)
    s.bell()
    g.none_more(0)
    is_(s("PATCH", f"/heralds/{g.id}", {"active": True}), 200)
    s.bell()
    assert len(g.wait(1)) == 1


# ---------------------------------------------------------------- errors

@fault("er-unfit-400", "status codes", "unfit", "A body that does not fit is answered with 400.")
def _(s):
    is_(s("POST", "/bells", {"slug": "one"}), 422, "unfit")


@fault("er-dangling-404", "status codes", "dangling", "A reference to nothing is answered with 404.")
def _(s):
    is_(s("POST", "/attempts", {"bell": "nowhere", "label": "x", "changes": 1, "duration": 1, "starts_at": "2027-01-01T10:00:00Z"}), 422, "dangling")


@fault("er-places", "error payload shapes", "service", "Where there are no places to name, the list of places is left out.")
def _(s):
    assert s("GET", "/bells/nowhere").json["trouble"]["places"] == []


@fault("er-unhung", "conditions", "unhung", "Nobody looks whether the bell hangs before ringing begins.")
def _(s):
    a = s.attempt(bell=s.bell(hung=False)["slug"])
    is_(s.do(a["nr"], "begin"), 409, "unhung")


@fault("er-too-long", "conditions", "too_long", "By hand any number of changes can be planned.")
def _(s):
    s.attempt(style="hand", changes=20000)
    b = s.bell()["slug"]
    is_(s("POST", "/attempts", {"bell": b, "label": "x", "style": "hand", "changes": 20001, "duration": 1, "starts_at": "2027-01-01T10:00:00Z"}), 422, "too_long")


@fault("er-message", "error codes", "service", "The message of an error is not the stated one.")
def _(s):
    a = s.attempt(bell=s.bell(hung=False)["slug"])
    assert s.do(a["nr"], "begin").json["trouble"]["said"] == "The bell does not hang."


@fault("er-illegal-500", "conditions", "wrong_moment", "A transition from a wrong state ends as an internal error.")
def _(s):
    a = s.attempt()
    is_(s.do(a["nr"], "reopen"), 409, "wrong_moment")


@fault("er-method-404", "conditions", "no_act", "A method that a path does not have is answered as if the path were unknown.")
def _(s):
    is_(s("PATCH", "/bells", {}), 405, "no_act")


@fault("er-else", "conditions", "not_planned", "The general code is given where a code of its own is stated.")
def _(s):
    a = s.attempt()
    is_(s.do(a["nr"], "finish", {"rung": 1}), 409, "not_ringing")
    is_(s.do(a["nr"], "scratch"), 200)
    is_(s.do(a["nr"], "begin"), 409, "not_planned")


@fault("er-html", "error payload shapes", "service", "An unknown path is answered by the web server's own page.")
def _(s):
    is_(s("GET", "/nowhere"), 404, "no_path")


@fault("er-foreign-403", "conditions", "not_here", "What a caller may not read is refused with 403, which tells that it exists.")
def _(s):
    b = s.bell()
    is_(s("GET", f"/bells/{b['slug']}", who="bert"), 404, "not_here")


# ---------------------------------------------------------------- limits

@fault("li-body", "size limits", "service", "A body may have any size.")
def _(s):
    pad = json.dumps({"slug": "one", "name": "One", "weight": 9}).encode()
    is_(s("POST", "/bells", raw=pad + b" " * (16384 - len(pad) + 1)), 413, "too_big")
    is_(s("POST", "/bells", raw=pad + b" " * (16384 - len(pad))), 201)


@fault("li-url", "size limits", "service", "An address may have any length.")
def _(s):
    is_(s("GET", "/bells/" + "a" * 2100), 413, "too_big")


@fault("li-rate", "rate limits", "service", "The rate of all requests is not counted.")
def _(s):
    for i in range(6000):
        is_(s("GET", "/heralds"), 200)
    is_(s("GET", "/heralds"), 429, "too_fast")
    is_(s("GET", "/heralds", who="bert"), 200)
    s.clock(advance=60_000)
    is_(s("GET", "/heralds"), 200)


@fault("li-footnote-rate", "rate limits", "service", "Footnotes have ten times the rate that is stated.")
def _(s):
    a = s.attempt()["nr"]
    for i in range(400):
        is_(s("POST", f"/attempts/{a}/footnotes", {"text": "x"}), 201)
    is_(s("POST", f"/attempts/{a}/footnotes", {"text": "x"}), 429, "too_fast")
    is_(s("GET", f"/attempts/{a}/footnotes"), 200)
    s.clock(advance=HOUR)
    is_(s("POST", f"/attempts/{a}/footnotes", {"text": "x"}), 201)


@fault("li-take-max", "pagination bounds", "GET /bells", "A page may be as large as one likes.")
def _(s):
    for i in range(51):
        s.bell()
    assert len(is_(s("GET", "/bells?take=51"), 200).json["rows"]) == 50


@fault("li-take-default", "pagination bounds", "GET /bells", "A page has twenty rows where ten are stated.")
def _(s):
    for i in range(12):
        s.bell()
    assert len(s("GET", "/bells").json["rows"]) == 10


@fault("li-more", "response payload shapes", "GET /bells", "A last page that is full says that there is more.")
def _(s):
    for i in range(4):
        s.bell()
    assert s("GET", "/bells?take=2").json["more"] is True
    assert s("GET", "/bells?take=2&skip=2").json["more"] is False


@fault("li-skip", "pagination bounds", "GET /bells", "Every page but the first begins with the last row of the one before.")
def _(s):
    made = [s.bell(weight=10 + i)["slug"] for i in range(6)]
    seen = [b["slug"] for skip in (0, 2, 4) for b in s("GET", f"/bells?take=2&skip={skip}").json["rows"]]
    assert seen == made, seen


@fault("li-count", "response payload shapes", "GET /bells", "The count is that of the page, not of the whole list.")
def _(s):
    for i in range(4):
        s.bell()
    assert s("GET", "/bells?take=2").json["count"] == 4


@fault("li-quota", "quotas", "service", "The quota of heralds for a day is not counted.")
def _(s):
    h = {"url": "http://127.0.0.1:9/x", "active": False}
    for i in range(60):
        is_(s("POST", "/heralds", h), 201)
    is_(s("POST", "/heralds", h), 403, "day_spent")
    is_(s("POST", "/heralds", h, "bert"), 201)
    s.clock(advance=DAY)
    is_(s("POST", "/heralds", h), 201)


@fault("li-timeout", "time-outs", "service", "A request that never ends is waited for without end.")
def _(s):
    c = socket.create_connection(("127.0.0.1", s.port), timeout=13)
    try:
        c.sendall(b"GET /tower/rounds HTTP/1.1\r\nHost: x\r\n")
        assert b" 408 " in c.recv(4096)
    finally:
        c.close()


# ---------------------------------------------------------------- versioning

@fault("ve-length-list", "compatibility guarantees", "service", "Lists give the new names in the old edition.")
def _(s):
    s.attempt()
    r = s("GET", "/attempts?edition=e1").json["rows"][0]
    assert r["length"] == 5040 and "changes" not in r


@fault("ve-duration-up", "compatibility guarantees", "service", "Seconds that come in by the old edition are kept as minutes.")
def _(s):
    b = s.bell()["slug"]
    r = is_(s("POST", "/attempts?edition=e1", {"bell": b, "label": "x", "length": 1, "duration": 3600, "starts_at": "2027-01-01T10:00:00Z"}), 201)
    assert r.json["attempt"]["duration"] == 3600
    assert s("GET", f"/attempts/{r.json['attempt']['nr']}").json["attempt"]["duration"] == 60


@fault("ve-handbell-in", "compatibility guarantees", "service", "The old name of a style is refused in the old edition.")
def _(s):
    b = s.bell()["slug"]
    r = is_(s("POST", "/attempts?edition=e1", {"bell": b, "label": "x", "style": "handbell", "length": 1, "duration": 3600, "starts_at": "2027-01-01T10:00:00Z"}), 201)
    assert r.json["attempt"]["style"] == "handbell"
    assert s("GET", f"/attempts/{r.json['attempt']['nr']}").json["attempt"]["style"] == "hand"


@fault("ve-filter-old", "compatibility guarantees", "service", "A filter wants the new name of a style in the old edition.")
def _(s):
    s.attempt(style="hand")
    s.attempt()
    assert is_(s("GET", "/attempts?edition=e1&style=handbell"), 200).json["count"] == 1


@fault("ve-material-shown", "compatibility guarantees", "service", "A field of the new edition shows in the old one.")
def _(s):
    b = s.bell(material="iron")
    assert "material" not in s("GET", f"/bells/{b['slug']}?edition=e1").json["bell"]


@fault("ve-unknown", "version identifiers", "service", "An edition that there is not is taken for the current one.")
def _(s):
    is_(s("GET", "/bells?edition=e3"), 400, "edition_unknown")


@fault("ve-no-deprecation", "deprecation rules", "e1", "Answers of the old edition do not say that it is deprecated.")
def _(s):
    r = s("GET", "/bells?edition=e1")
    assert r.headers.get("deprecation") == "@1736899200" and r.headers.get("sunset") == "Wed, 15 Jan 2031 00:00:00 GMT"
    assert "https://belfry.example/editions" in r.headers.get("link", "")
    assert "deprecation" not in s("GET", "/bells").headers


@fault("ve-sunset", "deprecation rules", "e1", "The old edition goes on after its end.")
def _(s):
    s.clock(now="2031-01-14T23:59:00Z")
    is_(s("GET", "/bells?edition=e1"), 200)
    s.clock(now="2031-01-15T00:00:00Z")
    is_(s("GET", "/bells?edition=e1"), 410, "edition_gone")
    is_(s("GET", "/bells"), 200)


@fault("ve-event-current", "compatibility guarantees", "service", "Heralds of the old edition are told in the new one.")
def _(s):
    g = s.herald(q="?edition=e1", kinds=["attempt.planned"])
    s.attempt()
    about = g.wait(1)[0][2]["about"]
    assert about["length"] == 5040 and about["duration"] == 10800 and "changes" not in about


@fault("ve-default-old", "version selection", "service", "Without a choice the oldest edition is served instead of the current one.")
def _(s):
    b = s.bell()
    assert s("GET", f"/bells/{b['slug']}").json["bell"]["material"] == "bronze"


# ---------------------------------------------------------------- all of them

def callers():
    out = []
    for name, user, scopes in (("anna", "captain", []), ("bert", "captain", []), ("clara", "captain", []),
                               ("dorit", "steward", ["verdicts"]), ("emile", "steward", [])):
        out.append({"user": user, "id": name, "credential": CRED[name]["Belfry-Rope"], "scheme": "rope", "scopes": scopes})
    for name, user, scopes in (("gilda", "captain", []), ("hugo", "steward", ["verdicts"])):
        out.append({"user": user, "id": name, "credential": CRED[name]["Authorization"][7:], "scheme": "token", "scopes": scopes})
    for bad in ("expired", "forged", "audience"):
        out.append({"user": "captain", "id": "gilda", "credential": CRED[bad]["Authorization"][7:], "scheme": "token", "scopes": [], "bad": bad})
    return out


def passes(fault_id, proof):
    s = Service(fault_id)
    try:
        proof(s)
        return None
    except (AssertionError, KeyError, IndexError, TypeError, OSError, http.client.HTTPException) as e:
        return f"{type(e).__name__}: {str(e)[:160]}"
    finally:
        s.close()


def main():
    args = sys.argv[1:]
    if "--write" in args:
        doc = {"command": ["perl", "service.pl"], "document": "service.yaml", "callers": callers(), "faults": [f for f, _ in FAULTS]}
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
