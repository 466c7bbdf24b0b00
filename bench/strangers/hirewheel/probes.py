"""One probe for each fault, read by faults-test.py, which puts its own names beside these."""
# ruff: noqa: F821


# ---- purpose ----
@probe("p-base")
def _(s):
    return s(None, "GET", "/tariff").status == 200


@probe("p-location")
def _(s):
    r = s("frank", "POST", "/stations", {"code": "ABC-111", "name": "There", "district": "north", "capacity": 3})
    return r.headers["location"] == "/v1/stations/" + r["id"]


@probe("p-recover")
def _(s):
    h = s.ride()
    s.move("PT25H")
    return s("frank", "POST", "/bicycles/%s/recover" % h["bicycle"]).get("status") == "broken"


@probe("p-profile-delete")
def _(s):
    return s("anna", "DELETE", "/profiles/" + s.profile()["id"]).status == 204


@probe("p-mechanic")
def _(s):
    return s("hugo", "GET", "/bicycles").status == 200 and s("jaap", "GET", "/bicycles").status == 200


# ---- resources ----
def station_with(s, **k):
    return s("frank", "POST", "/stations", dict({"code": "ABC-123", "name": "There", "district": "north", "capacity": 3}, **k))


@probe("r-capacity-max")
def _(s):
    return station_with(s, capacity=60).status == 201 and station_with(s, capacity=61, code="ABC-124").code == "invalid"


@probe("r-name-empty")
def _(s):
    return s.profile(name="").code == "invalid" and s.profile(name="x").status == 201


@probe("r-code-anchor")
def _(s):
    return station_with(s, code="xABC-1234").code == "invalid"


@probe("r-email-case")
def _(s):
    return s.profile("anna", email="A@b.nl").status == 201 and s.profile("bram", email="a@B.nl").code == "exists"


@probe("r-frame-changes")
def _(s):
    b = s.bike()
    same = s("frank", "PATCH", "/bicycles/" + b["id"], {"frame": b["frame"]}).status == 200
    return same and s("frank", "PATCH", "/bicycles/" + b["id"], {"frame": "OTHER999"}).code == "invalid"


@probe("r-battery-null")
def _(s):
    return "battery_pct" not in s("frank", "GET", "/bicycles/" + s.bike()["id"]).json


@probe("r-battery-rule")
def _(s):
    b = s.bike(kind="electric", battery_pct=50)
    r = s("frank", "PATCH", "/bicycles/" + b["id"], {"kind": "city"})
    return r.code == "invalid" and r["violations"][0]["path"] == "/battery_pct"


@probe("r-photo-uri")
def _(s):
    good = s.report(photos=[{"url": "https://p.example/1.jpg"}])
    return good.status == 201 and s.report("bram", photos=[{"url": "no uri"}]).code == "invalid"


@probe("r-parts-twice")
def _(s):
    return s.report(parts=["chain", "chain"]).code == "invalid"


@probe("r-remark-seen")
def _(s):
    b = s.bike(remark="mind the bell")
    return b["remark"] == "mind the bell" and "remark" not in s("anna", "GET", "/bicycles/" + b["id"]).json


@probe("r-secret-again")
def _(s):
    r = s("frank", "POST", "/hooks", {"url": "https://r.example/in"})
    return r["secret"].startswith("whsec_") and "secret" not in s("frank", "GET", "/hooks/" + r["id"]).json


@probe("r-docked-held")
def _(s):
    s.hire()
    return s(None, "GET", "/stations/" + HOME)["docked"] == 0


@probe("r-number-gap")
def _(s):
    b = s.bike()["id"]
    s.hire("anna", b)
    assert s.hire("bram", b).code == "bicycle_taken"
    h = s("anna", "GET", "/hires")["data"][0]
    s("anna", "POST", "/hires/%s/cancel" % h["id"])
    return h["number"] == 1 and s.hire("bram", b)["number"] == 2


@probe("r-updated-stale")
def _(s):
    st = s.station(opened=False)
    s.move("PT5S")
    return s("frank", "POST", "/stations/%s/open" % st["id"])["updated_at"] > st["updated_at"]


@probe("r-pin-shown")
def _(s):
    r = s.profile(pin="1234")
    return r.status == 201 and "pin" not in r.json


@probe("r-unknown-field")
def _(s):
    return s.profile(nickname="An").code == "unknown_field"


@probe("r-locale-default")
def _(s):
    return s.profile()["locale"] == "en"


@probe("r-newsletter-text")
def _(s):
    return s.profile()["newsletter"] is False


@probe("r-time-format")
def _(s):
    return s.profile()["created_at"].endswith("Z") and "T" in s("frank", "GET", "/stations/" + HOME)["created_at"]


@probe("r-home-unchecked")
def _(s):
    return s.profile(home="sta_none").code == "no_such_reference" and s.profile(home=HOME).status == 201


@probe("r-cost-writable")
def _(s):
    r = s.report(cost_cents=500)
    return "cost_cents" not in s("hugo", "GET", "/reports/" + r["id"]).json


@probe("r-held")
def _(s):
    h = s.ride()
    s.back("anna", h)
    s("frank", "POST", "/bicycles/%s/retire" % h["bicycle"])
    return s("frank", "DELETE", "/bicycles/" + h["bicycle"]).code == "in_use"


# ---- states ----
@probe("s-initial")
def _(s):
    return s.station(opened=False)["status"] == "planned"


@probe("s-reopen-planned")
def _(s):
    st = s.station(opened=False)
    return s("frank", "POST", "/stations/%s/reopen" % st["id"]).code == "wrong_state"


@probe("s-close-full")
def _(s):
    st = s.station()
    s.bike(station=st["id"])
    return s("frank", "POST", "/stations/%s/close" % st["id"]).code == "station_not_empty"


@probe("s-free")
def _(s):
    h = s.hire()
    s.move("PT16M")
    r = s("anna", "GET", "/hires/" + h["id"])["status"]
    return r == "expired" and s("frank", "GET", "/bicycles/" + h["bicycle"])["status"] == "docked"


@probe("s-lost-name")
def _(s):
    h = s.ride()
    s.move("PT25H")
    return s("anna", "GET", "/hires/" + h["id"])["status"] == "lost"


@probe("s-reject-dangerous")
def _(s):
    r = s.report(severity="dangerous")
    return s("hugo", "POST", "/reports/%s/reject" % r["id"], {"reason": "no fault"}).code == "too_dangerous"


@probe("s-retire-held")
def _(s):
    return s("frank", "POST", "/bicycles/%s/retire" % s.hire()["bicycle"]).code == "bicycle_in_use"


@probe("s-lapse-restart")
def _(s):
    r = s.report()
    s.move("P20D")
    assert s("anna", "PATCH", "/reports/" + r["id"], {"text": "it squeaks more"}).status == 200
    s.move("P11D")
    return s("anna", "GET", "/reports/" + r["id"])["status"] == "lapsed"


# ---- endpoints ----
@probe("e-head")
def _(s):
    return s(None, "HEAD", "/stations").status == 200


@probe("e-in-last")
def _(s):
    a, b = s.station(district="south"), s.station(district="harbour")
    r = s(None, "GET", "/stations?district=south&district=harbour").ids
    return r == [a["id"], b["id"]] and r == s(None, "GET", "/stations?district=south,harbour").ids


@probe("e-search-any")
def _(s):
    a = s.station(name="River Bank")
    s.station(name="River Side")
    return s(None, "GET", "/stations?q=river+BANK").ids == [a["id"]]


@probe("e-sort")
def _(s):
    s.station(capacity=2), s.station(capacity=9)
    return [x["capacity"] for x in s(None, "GET", "/stations?sort=-capacity")["data"]] == [20, 9, 2]


@probe("e-unknown-parameter")
def _(s):
    return s("anna", "GET", "/hires?colour=red").code == "bad_parameter"


@probe("e-prefix")
def _(s):
    a = s.bike(frame="ABCDEF")
    s.bike(frame="XXABCDEF")
    return s("frank", "GET", "/bicycles?frame=ABC").ids == [a["id"]]


@probe("e-contains")
def _(s):
    s.profile(name="Anna Vos")
    return s("frank", "GET", "/profiles?name=vos").ids == [] and len(s("frank", "GET", "/profiles?name=Vos").ids) == 1


@probe("e-since")
def _(s):
    h = s.hire()
    return s("anna", "GET", "/hires?since=" + h["reserved_at"]).ids == [h["id"]]


@probe("e-weak")
def _(s):
    st = s.station()
    tag = s("frank", "GET", "/stations/" + st["id"]).headers["etag"]
    return s("frank", "PATCH", "/stations/" + st["id"], {"name": "Else"}, If_Match="W/" + tag).code == "changed"


@probe("e-if-match")
def _(s):
    return s("frank", "PATCH", "/stations/" + s.station()["id"], {"name": "Else"}).code == "tag_needed"


@probe("e-stale-tag")
def _(s):
    b = s.bike()
    tag = s("frank", "GET", "/bicycles/" + b["id"]).headers["etag"]
    ok = s("frank", "PATCH", "/bicycles/" + b["id"], {"remark": "one"}, If_Match=tag).status == 200
    return ok and s("frank", "PATCH", "/bicycles/" + b["id"], {"remark": "two"}, If_Match=tag).code == "changed"


@probe("e-304")
def _(s):
    b = s.bike()
    tag = s("frank", "GET", "/bicycles/" + b["id"]).headers["etag"]
    return s("frank", "GET", "/bicycles/" + b["id"], If_None_Match=tag).status == 304


@probe("e-location")
def _(s):
    r = s("frank", "POST", "/bicycles", {"frame": "LOCATION1", "kind": "city", "station": HOME, "depot": "east"})
    return r.headers.get("location") == "/v1/bicycles/" + r["id"]


@probe("e-created-200")
def _(s):
    return s.report().status == 201


@probe("e-key-body")
def _(s):
    s.profile()
    a, b = s.bike()["id"], s.bike()["id"]
    one = s("anna", "POST", "/hires", {"bicycle": a}, Idempotency_Key="k1")
    again = s("anna", "POST", "/hires", {"bicycle": a}, Idempotency_Key="k1")
    other = s("anna", "POST", "/hires", {"bicycle": b}, Idempotency_Key="k1")
    return one.status == again.status == 201 and one["id"] == again["id"] and other.code == "key_reused"


@probe("e-key-callers")
def _(s):
    b = "/bicycles/%s/reports" % s.bike()["id"]
    one = s("anna", "POST", b, {"text": "it squeaks"}, Idempotency_Key="k")
    two = s("bram", "POST", b, {"text": "it squeaks"}, Idempotency_Key="k")
    return one["reporter"] == "anna" and two.get("reporter") == "bram"


@probe("e-noop")
def _(s):
    st = s.station()
    before = s("frank", "GET", "/stations/" + st["id"])["updated_at"]
    s.move("PT3S")
    return s("frank", "PATCH", "/stations/" + st["id"], {"name": st["name"]}, If_Match="*")["updated_at"] == before


@probe("e-put-keeps")
def _(s):
    p = s.profile(home=HOME)
    return "home" not in s("anna", "PUT", "/profiles/" + p["id"], {"name": "A", "email": "a@b.nl"}).json


@probe("e-select-id")
def _(s):
    s.bike()
    return sorted(s("frank", "GET", "/bicycles?fields=kind")["data"][0]) == ["id", "kind"]


@probe("e-order")
def _(s):
    a = s.hire().json
    s.move("PT1S")
    b = s.hire().json
    return s("anna", "GET", "/hires").ids == [b["id"], a["id"]]


# ---- authentication ----
@probe("a-hire-other")
def _(s):
    return s("bram", "GET", "/hires/" + s.hire()["id"]).code == "not_found"


@probe("a-scope")
def _(s):
    s.profile("dirk")
    return s("dirk", "POST", "/hires", {"bicycle": s.bike()["id"]}).code == "scope_lacking"


@probe("a-signature-any")
def _(s):
    h = s.auth("gina", "GET", "/v1/hires", b"")
    good = s(None, "GET", "/hires", **h).status == 200
    h["X-Wheel-Signature"] = h["X-Wheel-Signature"][:-64] + "0" * 64
    return good and s(None, "GET", "/hires", **h).code == "who_are_you"


@probe("a-signed-path")
def _(s):
    return s("gina", "GET", "/hires?limit=5").status == 200 and s("gina", "GET", "/hires").status == 200


@probe("a-old-signature")
def _(s):
    now = int(time.time())
    return s("gina", "GET", "/hires", t=now - 250).status == 200 and s("gina", "GET", "/hires", t=now - 310).status == 401


@probe("a-password-prefix")
def _(s):
    bad = base64.b64encode(b"cleo:pedal").decode()
    return s("cleo", "GET", "/hires").status == 200 and s(None, "GET", "/hires", Authorization="Basic " + bad).status == 401


@probe("a-bearer")
def _(s):
    return s(None, "GET", "/hires", Authorization="Bearer " + WHO["anna"]["credential"]).status == 401


@probe("a-list-depot")
def _(s):
    r = s.report()
    return s("hugo", "GET", "/reports").ids == [r["id"]] and s("ines", "GET", "/reports").ids == []


@probe("a-mend-depot")
def _(s):
    b = s.bike()["id"]
    s("frank", "POST", "/bicycles/%s/flag" % b)
    no = s("ines", "POST", "/bicycles/%s/mend" % b).code == "forbidden"
    return no and s("hugo", "POST", "/bicycles/%s/mend" % b)["mends"] == 1


@probe("a-retired")
def _(s):
    b = s.bike()["id"]
    s("frank", "POST", "/bicycles/%s/retire" % b)
    return s("anna", "GET", "/bicycles").ids == [] and s("frank", "GET", "/bicycles").ids == [b]


@probe("a-profile-fields")
def _(s):
    return sorted(s("frank", "GET", "/profiles/" + s.profile()["id"]).json) == ["id", "locale", "name", "owner"]


@probe("a-hook-told")
def _(s):
    h = s("frank", "POST", "/hooks", {"url": "https://r.example/in"})["id"]
    return s("hugo", "DELETE", "/hooks/" + h).code == "not_found" and s("frank", "DELETE", "/hooks/" + h).status == 204


# ---- events ----
def heard(s, what, n, who="frank", answers=(204,), version=None, **k):
    ear = Ear(*answers)
    try:
        h = {"Hirewheel_Version": version} if version else {}
        hook = s(who, "POST", "/hooks", dict({"url": ear.url}, **k), **h).json
        what()
        ear.wait(n)
        return ear, hook
    finally:
        ear.stop()


@probe("v-moved-always")
def _(s):
    b = s.bike()["id"]
    s("frank", "PATCH", "/bicycles/" + b, {"remark": "x"})
    return s.entries(kind="bicycle.moved") == []


@probe("v-moved-swapped")
def _(s):
    b, to = s.bike()["id"], s.station()["id"]
    s("frank", "PATCH", "/bicycles/" + b, {"station": to})
    return s.entries(kind="bicycle.moved")[0]["data"] == {"bicycle": b, "was": HOME, "is": to}


@probe("v-ended-twice")
def _(s):
    h = s.ride()
    s.back("anna", h)
    return len(s.entries(about=h["id"], kind="hire.ended")) == 1


@probe("v-expire-silent")
def _(s):
    h = s.hire()
    s.move("PT16M")
    e = s.entries(about=h["id"], kind="hire.dropped")
    return len(e) == 1 and e[0]["by"] == "service"


@probe("v-reopen-silent")
def _(s):
    st = s.station()["id"]
    s("frank", "POST", "/stations/%s/close" % st), s("frank", "POST", "/stations/%s/reopen" % st)
    return len(s.entries(kind="station.opened")) == 2


@probe("v-log-lost")
def _(s):
    h = s.ride()
    s.move("PT25H")
    return len(s.entries(kind="hire.lost", about=h["id"])) == 1


@probe("v-broken-number")
def _(s):
    b = s.bike()
    s("frank", "POST", "/bicycles/%s/flag" % b["id"])
    return s.entries(kind="bicycle.broken")[0]["data"] == {"bicycle": b["id"], "number": b["number"], "station": HOME}


@probe("v-closed-before")
def _(s):
    r = s.report()["id"]
    s("frank", "POST", "/reports/%s/reject" % r, {"reason": "no fault"})
    return s.entries(kind="report.closed")[0]["data"]["status"] == "rejected"


@probe("v-signed-body")
def _(s):
    ear, hook = heard(s, s.bike, 1)
    h, body = ear.got[0]
    key = base64.b64decode(hook["secret"][6:])
    text = ("%s.%s." % (h["webhook-id"], h["webhook-timestamp"])).encode() + body
    return h["webhook-signature"] == "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()


@probe("v-new-id")
def _(s):
    ear, _ = heard(s, lambda: (s.bike(), time.sleep(0.1), s.move("PT13S")), 2, answers=(500, 204))
    return len(ear.got) == 2 and ear.got[0][0]["webhook-id"] == ear.got[1][0]["webhook-id"]


@probe("v-redirect")
def _(s):
    ear, _ = heard(s, lambda: (s.bike(), time.sleep(0.1), s.move("PT13S")), 2, answers=(302, 204))
    return len(ear.got) == 2


@probe("v-retry-less")
def _(s):
    def go():
        s.bike()
        for d in ("PT13S", "PT3M", "PT40M", "PT40M"):
            time.sleep(0.1)
            s.move(d)
    ear, _ = heard(s, go, 5, answers=(500,))
    return len(ear.got) == 4


@probe("v-star")
def _(s):
    ear, _ = heard(s, lambda: (s.bike(), s.station()), 1, events=["bicycle.*"])
    return ear.kinds() == ["bicycle.added"]


@probe("v-unread")
def _(s):
    ear, _ = heard(s, lambda: (s.hire(), time.sleep(0.1)), 1, who="hugo")
    return ear.kinds() == ["bicycle.added"]


# ---- errors ----
@probe("x-battery")
def _(s):
    low = s.bike(kind="electric", battery_pct=9)["id"]
    ok = s.bike(kind="electric", battery_pct=10)["id"]
    return s.hire("anna", low).code == "battery_low" and s.hire("anna", ok).status == 201


@probe("x-shut")
def _(s):
    to = s.station(opened=False)["id"]
    return s.back("anna", s.ride(), to).code == "station_shut"


@probe("x-full")
def _(s):
    to = s.station(capacity=1)["id"]
    s.bike(station=to)
    return s.back("anna", s.ride(), to).code == "station_full"


@probe("x-missing")
def _(s):
    r = s("anna", "POST", "/profiles", {"name": "An"})
    return r.code == "missing_field" and r["message"] == "email is missing"


@probe("x-dotted")
def _(s):
    return station_with(s, spot={"lat": 91, "lon": 0})["violations"][0]["path"] == "/spot/lat"


@probe("x-too-late")
def _(s):
    r = s("anna", "POST", "/hires/%s/cancel" % s.ride()["id"])
    return r.status == 409 and r.code == "too_late"


@probe("x-exists")
def _(s):
    s.profile()
    return s.profile().status == 409


@probe("x-code-name")
def _(s):
    return s.hire("bram", s.hire()["bicycle"]).code == "bicycle_taken"


@probe("x-header")
def _(s):
    return s(None, "GET", "/hires").headers.get("x-wheel-error") == "who_are_you"


@probe("x-request-id")
def _(s):
    r = s("anna", "GET", "/nowhere")
    return r.get("request_id") == r.headers["x-request-id"]


@probe("x-method")
def _(s):
    return s("anna", "PUT", "/hires", {}).status == 405


@probe("x-scope-code")
def _(s):
    return s("dirk", "POST", "/hires", {"bicycle": s.bike()["id"]}).code == "scope_lacking"


@probe("x-accept")
def _(s):
    return s(None, "GET", "/stations", Accept="text/html").code == "not_acceptable"


# ---- limits ----
@probe("l-over-max")
def _(s):
    return s("anna", "GET", "/hires?limit=100").status == 200 and s("anna", "GET", "/hires?limit=101").code == "bad_page"


@probe("l-clamp")
def _(s):
    for _ in range(27):
        st = s.bike()["id"]
        s("frank", "POST", "/bicycles/%s/flag" % st)
    return len(s("frank", "GET", "/entries?per_page=99")["entries"]) == 50


@probe("l-total")
def _(s):
    s.bike(), s.bike()
    return s("frank", "GET", "/entries?per_page=1")["total"] == 2


@probe("l-more")
def _(s):
    s.station()
    r = s(None, "GET", "/stations?limit=2")
    return r["has_more"] is False and r["next_cursor"] is None


@probe("l-skip")
def _(s):
    ids = [s.report(bike=s.bike()["id"])["id"] for _ in range(5)]
    r = s("anna", "GET", "/reports?limit=2")
    return r.ids + s("anna", "GET", "/reports?limit=3&cursor=" + r["next_cursor"]).ids == ids


@probe("l-cursor")
def _(s):
    s.bike(), s.bike()
    c = s("frank", "GET", "/bicycles?limit=1")["next_cursor"]
    ok = s("frank", "GET", "/bicycles?cursor=" + c).status == 200
    return ok and s("frank", "GET", "/bicycles?kind=city&cursor=" + c).code == "bad_page"


@probe("l-hires")
def _(s):
    return [s.hire().status for _ in range(3)] == [201, 201, 403]


@probe("l-hooks")
def _(s):
    def made(who):
        return s(who, "POST", "/hooks", {"url": "https://r.example/in"}).status
    return [made("frank") for _ in range(4)] == [201, 201, 201, 403] and made("hugo") == 201


@probe("l-reports")
def _(s):
    b = s.bike()["id"]
    told = [s.report(bike=b).status for _ in range(31)]
    s.move("PT1H")
    return told == [201] + [409] * 29 + [429] and s.report(bike=b).status == 409


@probe("l-reports-shared")
def _(s):
    b = s.bike()["id"]
    for _ in range(30):
        s.report(bike=b)
    return s.report("bram", bike=b).status == 201


@probe("l-retry-after")
def _(s):
    b = s.bike()["id"]
    r = [s.report(bike=b) for _ in range(31)][-1]
    return r.status == 429 and 3590 <= int(r.headers.get("retry-after", "0")) <= 3600


@probe("l-remaining")
def _(s):
    return s("anna", "GET", "/hires").headers["x-ratelimit-remaining"] == "599"


def hires_today(s, refused=0):
    s.profile()
    b, told = s.bike()["id"], []
    for i in range(refused):
        s("anna", "POST", "/hires", {"bicycle": "none"})
    for i in range(26):
        h = s("anna", "POST", "/hires", {"bicycle": b})
        told.append(h.status)
        if h.status == 201:
            s("anna", "POST", "/hires/%s/cancel" % h["id"])
    return told


@probe("l-quota-one")
def _(s):
    return hires_today(s) == [201] * 25 + [403]


@probe("l-quota-early")
def _(s):
    return hires_today(s, 3) == [201] * 25 + [403]


@probe("l-body")
def _(s):
    def sized(n):
        head = b'{"name":"An","email":"a@b.nl","locale":"en"'
        return head + b" " * (n - len(head) - 1) + b"}"
    return s("anna", "POST", "/profiles", sized(16384)).status == 201 and s("bram", "POST", "/profiles", sized(16385)).status == 413


@probe("l-url")
def _(s):
    def target(n):
        return "/v1/stations?q=" + "a" * (n - len("/v1/stations?q="))
    return s(None, "GET", target(2048), raw=1).status == 200 and s(None, "GET", target(2049), raw=1).status == 414


# ---- versioning ----
def old(s, who, method, path, body=None):
    return s(who, method, path, body, Hirewheel_Version=OLD)


@probe("w-rename")
def _(s):
    b = old(s, "frank", "GET", "/bicycles/" + s.bike(kind="electric", battery_pct=50)["id"]).json
    return b.get("charge") == 50 and "battery_pct" not in b


@probe("w-enum")
def _(s):
    return old(s, "frank", "GET", "/bicycles/" + s.bike(kind="electric")["id"])["kind"] == "ebike"


@probe("w-price")
def _(s):
    h = s.ride()
    s.back("anna", h)
    return old(s, "anna", "GET", "/hires/" + h["id"])["price_cents"] == 1.0


@probe("w-added")
def _(s):
    r = s.report()["id"]
    return "severity" not in old(s, "anna", "GET", "/reports/" + r).json and old(s, "anna", "GET", "/reports?severity=annoying").code == "bad_parameter"


@probe("w-removed")
def _(s):
    return old(s, None, "GET", "/stations/" + HOME).get("zone") == "city"


@probe("w-endpoint")
def _(s):
    p = "/stations/%s/bicycles" % HOME
    return s("anna", "GET", p).status == 200 and old(s, "anna", "GET", p).status == 404


@probe("w-hook")
def _(s):
    ear, _ = heard(s, lambda: s.bike(kind="electric"), 1, version=OLD)
    return json.loads(ear.got[0][1])["data"]["kind"] == "ebike"


@probe("w-sunset")
def _(s):
    ok = old(s, None, "GET", "/stations").status == 200
    s.move("P2Y")
    return ok and old(s, None, "GET", "/stations").code == "version_over"


@probe("w-sunset-date")
def _(s):
    return old(s, None, "GET", "/stations").headers["sunset"] == "Wed, 01 Mar 2028 00:00:00 GMT"


@probe("w-deprecation")
def _(s):
    return old(s, None, "GET", "/stations/none").headers.get("deprecation") == "@1772323200"


@probe("w-no-header")
def _(s):
    return s(None, "GET", "/stations").headers.get("hirewheel-version") == NEW


@probe("w-default-old")
def _(s):
    return "zone" not in s(None, "GET", "/stations/" + HOME).json


@probe("w-unknown")
def _(s):
    return s(None, "GET", "/stations", Hirewheel_Version="2024-01-01").code == "no_version"
