#!/usr/bin/env python3
"""For each fault a proof that passes on the right service and fails on the faulty one."""
import json
import os
import sys
from harness import *

PROOFS = {}


def proof(f):
    PROOFS[f.__name__.replace("_", "-")] = f
    return f


PERMIT = {"tonnes": 10, "vehicle": "AB-12", "contact": "a@adler.example", "valid_until": FAR}
STONE = {"name": "Basalt", "grade": "rough", "density": 2.9, "price": 100}
V1 = "/quarry/v1"


def post_permit(s, status=201, who="anton", base="/quarry/v2", **more):
    stone = more.pop("stone", None) or s.stone()["id"]
    return s.ok("POST", "/permits", {"stone": stone, **PERMIT, **more}, who, base=base, status=status)


# ------------------------------------------------------------ purpose

@proof
def pu_base(s): is_(s("GET", "/stones"), 200)


@proof
def pu_weigher(s): is_(s("GET", "/loads", who="gate"), 200)


@proof
def pu_lift(s):
    p = s.permit()
    s.do("permits", p["id"], "suspend")
    assert s.do("permits", p["id"], "lift")["status"] == "granted"


@proof
def pu_estimate(s): assert s.ok("GET", "/estimates?tonnes=26&use=paving") == {"trips": 2, "use": "paving"}


# ------------------------------------------------------------ resources

@proof
def re_unknown_dropped(s):
    r = is_(s("POST", "/stones", {**STONE, "shape": 1}, "fritz"), 422, "invalid")
    assert r.json["fields"] == ["/shape"]


@proof
def re_tonnes_edge(s): post_permit(s, tonnes=500)


@proof
def re_length_bytes(s): s.stone(name="é" * 40)


@proof
def re_vehicle_anchor(s): post_permit(s, 422, vehicle="see AB-12")


@proof
def re_only_utc(s):
    assert post_permit(s, valid_until="2031-01-01T02:00:00+02:00")["valid_until"] == "2031-01-01T02:00:00+02:00"


@proof
def re_name_case(s):
    s.stone(name="Gneiss")
    is_(s("POST", "/stones", {**STONE, "name": "gNEISS"}, "fritz"), 409, "duplicate")


@proof
def re_price_text(s): assert s.ok("GET", f"/stones/{s.stone()['id']}")["price"] == 1200


@proof
def re_pin_shown(s): assert "gate_pin" not in post_permit(s, gate_pin="1234")


@proof
def re_note_listed(s):
    p = s.permit(granted=False)
    r = s("GET", f"/permits/{p['id']}", who="fritz")
    s.ok("PATCH", f"/permits/{p['id']}", {"foreman_note": "watch him"}, "fritz", If_Match=r.headers["etag"])
    assert "foreman_note" not in s.ok("GET", "/permits")["items"][0]
    assert s.ok("GET", "/permits", who="fritz")["items"][0]["foreman_note"] == "watch him"


@proof
def re_note_written(s): is_(s("POST", "/permits", {"stone": s.stone()["id"], **PERMIT, "foreman_note": "fine man"}), 422, "invalid")


@proof
def re_secret_again(s):
    h = s.hook()
    assert "secret" not in s.ok("GET", f"/hooks/{h.id}", who="fritz")


@proof
def re_company_sent(s): assert post_permit(s, company="brandt")["company"] == "adler"


@proof
def re_null_kept(s):
    st = s.stone(leaflet="https://a.example/x")
    assert "leaflet" not in s.ok("PATCH", f"/stones/{st['id']}", {"leaflet": None}, "fritz")


@proof
def re_spot_whole(s):
    b = s.bench()
    assert s.ok("PATCH", f"/benches/{b['id']}", {"spot": {"level_m": 7.5}}, "fritz")["spot"] == {"easting": 1, "northing": 2, "level_m": 7.5}


@proof
def re_put_merges(s):
    st = s.stone(colour="grey", hazard=True)
    e = s("GET", f"/stones/{st['id']}").headers["etag"]
    new = s.ok("PUT", f"/stones/{st['id']}", {**STONE, "name": st["name"]}, "fritz", If_Match=e)
    assert "colour" not in new and new["hazard"] is False and new["added_at"] == st["added_at"]


@proof
def re_bench_unchanged(s):
    b = s.bench()
    s.clock("PT5S")
    assert s.ok("PATCH", f"/benches/{b['id']}", {"capacity_t": 7}, "fritz")["changed_at"] > b["changed_at"]


@proof
def re_noop_touches(s):
    st = s.stone()
    s.clock("PT5S")
    assert s.ok("PATCH", f"/stones/{st['id']}", {"density": 2.5}, "fritz")["changed_at"] == st["changed_at"]


@proof
def re_tags_default(s): assert post_permit(s)["tags"] == []


@proof
def re_about_stays(s):
    ld, st = s.load(), s.stone()
    s.ok("POST", f"/loads/{ld['id']}/remarks", {"text": "wet", "about": st["id"]}, status=201)
    s.ok("DELETE", f"/stones/{st['id']}", who="fritz", status=204)
    assert "about" not in s.ok("GET", f"/loads/{ld['id']}/remarks")["remarks"][0]


@proof
def re_remarks_stay(s):
    ld = s.load()
    r = s.ok("POST", f"/loads/{ld['id']}/remarks", {"text": "wet"}, "fritz", status=201)
    s.do("loads", ld["id"], "cancel", None, "anton")
    s.ok("DELETE", f"/loads/{ld['id']}", status=204)
    is_(s("DELETE", f"/remarks/{r['id']}", who="fritz"), 404, "not_found")


@proof
def re_stone_held(s):
    p = s.permit()
    is_(s("DELETE", f"/stones/{p['stone']}", who="fritz"), 409, "in_use")


@proof
def re_bench_id(s):
    p, b = s.place()
    assert s.load((p, b))["bench"] == {"id": b["id"], "name": b["name"]}


@proof
def re_colour_null(s): assert s.stone(colour=None)["colour"] is None


@proof
def re_sizes_twice(s): is_(s("POST", "/stones", {**STONE, "sizes_mm": [20, 20]}, "fritz"), 422, "invalid")


@proof
def re_stone_moved(s):
    p, other = s.permit(granted=False), s.stone()["id"]
    is_(s("PATCH", f"/permits/{p['id']}", {"stone": other}, If_Match="*"), 422, "invalid")


# ------------------------------------------------------------ states

@proof
def st_grant_refused(s):
    p = s.permit(granted=False)
    s.do("permits", p["id"], "refuse", {"reason": "too wet"})
    is_(s("POST", f"/permits/{p['id']}/grant", who="fritz"), 409, "already_decided")


@proof
def st_granted_by(s):
    p = s.permit()
    assert p["granted_by"] == "fritz" and "granted_by" not in s.ok("GET", f"/permits/{p['id']}")


@proof
def st_withdraw_requested(s): assert s.do("permits", s.permit()["id"], "withdraw", None, "anton")["status"] == "withdrawn"


@proof
def st_lapse_restarts(s):
    p = s.permit(granted=False)
    s.clock("P6D")
    s.ok("PATCH", f"/permits/{p['id']}", {"tonnes": 7}, If_Match="*")
    s.clock("P1DT1M")
    assert s.status("permits", p["id"]) == "lapsed"


@proof
def st_suspended_stays(s):
    now = s.clock()
    p = s.permit(valid_until=f"{int(now[:4]) + 1}{now[4:10]}T00:00:00Z")
    s.do("permits", p["id"], "suspend")
    s.clock(now=f"{int(now[:4]) + 1}{now[4:10]}T00:00:01Z")
    assert s.status("permits", p["id"]) == "expired"


@proof
def st_expire_offset(s):
    s.clock(now="2027-02-01T12:00:00Z")
    p = s.permit(valid_until="2027-02-02T12:00:00+02:00")
    s.clock(now="2027-02-02T10:00:01Z")
    assert s.status("permits", p["id"]) == "expired"


@proof
def st_inspect_sound(s): assert s.do("benches", s.bench(to="closed")["id"], "inspect", {"sound": False})["status"] == "condemned"


@proof
def st_reweigh_clock(s):
    ld = s.weighed()
    s.clock("PT90M")
    s.do("loads", ld["id"], "reweigh", {"gross_kg": 31000, "tare_kg": 10000}, "gate")
    s.clock("PT1H")
    assert s.status("loads", ld["id"]) == "weighed"
    s.clock("PT1H1M")
    assert s.status("loads", ld["id"]) == "booked"


@proof
def st_lapse_created(s):
    ld = s.weighed()
    s.clock("PT11H")
    assert s.status("loads", ld["id"]) == "booked"
    s.clock("PT2H")
    assert s.status("loads", ld["id"]) == "booked"
    s.clock("PT2H")
    assert s.status("loads", ld["id"]) == "lapsed"


@proof
def st_weighings(s):
    ld = s.weighed()
    for g in (31000, 32000):
        n = s.do("loads", ld["id"], "reweigh", {"gross_kg": g, "tare_kg": 10000}, "gate")
    assert n["weighings"] == 3
    is_(s("POST", f"/loads/{ld['id']}/reweigh", {"gross_kg": 9, "tare_kg": 1}, "gate"), 409, "weighed_enough")


@proof
def st_wake_closed(s):
    b = s.bench(to="resting")
    s.do("benches", b["id"], "close", {"reason": "rockfall"})
    s.clock("PT9H")
    assert s.status("benches", b["id"]) == "closed"


@proof
def st_scales_equal(s): is_(s("POST", f"/loads/{s.load()['id']}/weigh", {"gross_kg": 900, "tare_kg": 900}, "gate"), 422, "scales_wrong")


@proof
def st_fee_first(s):
    ld = s.weighed()
    s.do("loads", ld["id"], "reweigh", {"gross_kg": 15000, "tare_kg": 10000}, "gate")
    assert s.ok("GET", f"/loads/{ld['id']}")["fee"] == 6000


@proof
def st_fee_tonnes(s): assert s.ok("GET", f"/loads/{s.weighed(25500, 10000)['id']}")["fee"] == 18600


@proof
def st_never_lost(s):
    ld = s.weighed()
    s.do("loads", ld["id"], "dispatch", None, "gate")
    s.clock("P3DT1M")
    assert s.status("loads", ld["id"]) == "lost"


# ------------------------------------------------------------ endpoints

@proof
def en_order_permits(s):
    a, _, b = s.permit(), s.clock("PT1S"), s.permit()
    assert [x["id"] for x in s.ok("GET", "/permits")["items"]] == [b["id"], a["id"]]


@proof
def en_ties(s):
    ids = [s.stone()["id"] for _ in range(3)]
    assert [x["id"] for x in s.ok("GET", "/stones")["items"]] == ids


@proof
def en_sort_text(s):
    for t in (9, 100, 20):
        post_permit(s, tonnes=t)
    assert [x["tonnes"] for x in s.ok("GET", "/permits?sort=tonnes")["items"]] == [9, 20, 100]


@proof
def en_last_filter(s):
    s.permit()
    p = s.permit(granted=False)
    assert s.ok("GET", f"/permits?status=granted&stone={p['stone']}")["items"] == []


@proof
def en_below(s):
    post_permit(s, tonnes=10)
    assert s.ok("GET", "/permits?below_tonnes=10")["total"] == 0


@proof
def en_min_density(s):
    s.stone()
    assert s.ok("GET", "/stones?min_density=2.5")["total"] == 1


@proof
def en_prefix(s):
    post_permit(s, reference="A-77")
    assert s.ok("GET", "/permits?reference=A-")["total"] == 1 and s.ok("GET", "/permits?reference=77")["total"] == 0


@proof
def en_total_page(s):
    for _ in range(3):
        s.stone()
    r = s.ok("GET", "/stones?per_page=2")
    assert r["total"] == 3 and len(r["items"]) == 2 and r["more"] is True
    assert s.ok("GET", "/stones?per_page=2&page=2")["more"] is False


@proof
def en_more_full(s):
    s.stone(), s.stone()
    assert s.ok("GET", "/stones?per_page=2")["more"] is False


@proof
def en_cursor_ties(s):
    st = s.stone()["id"]
    p = s.permit(stone=st)
    ids = [s.load((p, s.bench(st)), slot="2027-05-05T08:00:00Z", tonnes=t)["id"] for t in (3, 1, 2)]
    a = s.ok("GET", "/loads?limit=2")
    b = s.ok("GET", "/loads?limit=2&cursor=" + a["next"])
    assert [x["id"] for x in a["loads"] + b["loads"]] == [ids[1], ids[2], ids[0]] and b["next"] is None and not b["more"]


@proof
def en_slot_text(s):
    s.load(slot="2027-05-05T10:00:00+02:00")
    assert s.ok("GET", "/loads?slot_from=2027-05-05T08:30:00Z")["loads"] == []


@proof
def en_before_first(s):
    st = s.stone()["id"]
    ids = [s.bench(st, name=f"K{i}")["id"] for i in range(4)]
    r = s.ok("GET", f"/benches?limit=2&ending_before={ids[3]}")
    assert [x["id"] for x in r["benches"]] == ids[1:3] and r["more"]


@proof
def en_status_first(s):
    at = s.place()
    s.load(at)
    s.weighed(at=at)
    assert len(s.ok("GET", "/loads?status=booked,weighed")["loads"]) == 2


@proof
def en_use_default(s): assert s.ok("GET", "/estimates?tonnes=1")["use"] == "building"


@proof
def en_params_loose(s): is_(s("GET", "/permits?colour=red"), 400, "bad_request")


@proof
def en_if_match_any(s):
    p = s.permit(granted=False)
    e = s("GET", f"/permits/{p['id']}").headers["etag"]
    s.ok("PATCH", f"/permits/{p['id']}", {"tonnes": 8}, If_Match=e)
    is_(s("PATCH", f"/permits/{p['id']}", {"tonnes": 9}, If_Match=e), 412, "changed_meanwhile")


@proof
def en_if_match_optional(s):
    is_(s("PATCH", f"/permits/{s.permit(granted=False)['id']}", {"tonnes": 9}), 428, "if_match_needed")


@proof
def en_answer_before(s):
    st = s.stone()
    assert s.ok("PATCH", f"/stones/{st['id']}", {"price": 7}, "fritz")["price"] == 7


@proof
def en_location(s):
    r = is_(s("POST", "/stones", {**STONE, "grade": "raw"}, "fritz", base=V1), 201)
    assert r.headers["location"] == f"{V1}/stones/{r.json['id']}"


@proof
def en_key_shared(s):
    b = {"stone": s.stone()["id"], **PERMIT}
    a = is_(s("POST", "/permits", b, Idempotency_Key="k1"), 201).json
    c = is_(s("POST", "/permits", b, "carl", Idempotency_Key="k1"), 201).json
    assert a["id"] != c["id"] and c["company"] == "brandt"
    assert s("POST", "/permits", b, Idempotency_Key="k1").json == a


@proof
def en_key_body(s):
    b = {"stone": s.stone()["id"], **PERMIT}
    is_(s("POST", "/permits", b, Idempotency_Key="k1"), 201)
    is_(s("POST", "/permits", {**b, "tonnes": 11}, Idempotency_Key="k1"), 422, "key_reused")


@proof
def en_key_hour(s):
    b = {"stone": s.stone()["id"], **PERMIT}
    a = s("POST", "/permits", b, Idempotency_Key="k1").json
    s.clock("PT23H")
    assert s("POST", "/permits", b, Idempotency_Key="k1").json == a
    s.clock("PT2H")
    assert s("POST", "/permits", b, Idempotency_Key="k1").json["id"] != a["id"]


@proof
def en_key_load(s):
    p, b = s.place()
    body = {"bench": b["id"], "tonnes": 2, "slot": s.slot(), "driver": "D"}
    a = s.ok("POST", f"/permits/{p['id']}/loads", body, status=201, Idempotency_Key="q")
    assert s.ok("POST", f"/permits/{p['id']}/loads", body, status=201, Idempotency_Key="q") == a


@proof
def en_key_secret(s):
    b = {"url": "http://127.0.0.1:9/x"}
    assert "secret" in s.ok("POST", "/hooks", b, status=201, Idempotency_Key="h")
    assert "secret" not in s.ok("POST", "/hooks", b, status=201, Idempotency_Key="h")


@proof
def en_update_weighed(s): is_(s("PATCH", f"/loads/{s.weighed()['id']}", {"driver": "Emil"}), 423)


# ------------------------------------------------------------ authentication

@proof
def au_403(s):
    is_(s("GET", f"/permits/{s.permit()['id']}", who="carl"), 404, "not_found")


@proof
def au_read_any(s): is_(s("GET", f"/permits/{s.permit()['id']}", who="carl"), 404)


@proof
def au_audience(s): is_(s("GET", "/permits", who="audience"), 401, "unauthorized")


@proof
def au_expired(s): is_(s("GET", "/permits", who="expired"), 401, "unauthorized")


@proof
def au_colleague_delete(s):
    p = s.permit()
    s.do("permits", p["id"], "withdraw", None, "berta")
    is_(s("DELETE", f"/permits/{p['id']}", who="berta"), 403, "not_the_holder")
    is_(s("DELETE", f"/permits/{p['id']}"), 204)


@proof
def au_colleague_cancel(s):
    ld = s.load()
    is_(s("POST", f"/loads/{ld['id']}/cancel", who="berta"), 403, "forbidden")


@proof
def au_hook_any(s):
    h = s.hook("anton")
    is_(s("GET", f"/hooks/{h.id}", who="berta"), 404)


@proof
def au_list_filtered(s):
    s.permit()
    assert s.ok("GET", "/permits?vehicle=AB-12", who="carl")["items"] == []


@proof
def au_parent(s):
    p, b = s.place()
    is_(s.book(p, b, "carl"), 404, "not_found")


@proof
def au_ref_surveyed(s):
    st = s.stone()["id"]
    is_(s.book(s.permit(stone=st), s.bench(st, "surveyed")), 422, "no_such_reference")


@proof
def au_remark_any(s):
    ld = s.load()
    r = s.ok("POST", f"/loads/{ld['id']}/remarks", {"text": "wet"}, "gate", status=201)
    is_(s("DELETE", f"/remarks/{r['id']}", who="anton"), 403, "forbidden")


@proof
def au_remarks_parent(s):
    is_(s("GET", f"/loads/{s.load()['id']}/remarks", who="carl"), 404)


@proof
def au_scope(s): is_(s("POST", f"/permits/{s.permit(granted=False)['id']}/grant", who="gerda"), 403, "forbidden")


@proof
def au_surveyed_list(s):
    s.bench(to="surveyed")
    assert s.ok("GET", "/benches")["benches"] == []


@proof
def au_total(s):
    s.permit()
    assert s.ok("GET", "/permits", who="carl")["total"] == 0


# ------------------------------------------------------------ events

@proof
def ev_sign_body(s):
    h = s.hook(kinds=["permit.requested"])
    s.permit()
    h.wait(1)
    head, body, _ = h.got[0]
    t, sig = re.fullmatch(r"t=(\d+),s=([0-9a-f]{64})", head["x-quarry-signature"]).groups()
    assert sig == hmac.new(h.secret.encode(), f"{t}.".encode() + body, hashlib.sha256).hexdigest()
    assert head["x-quarry-kind"] == "permit.requested" and head["content-type"] == "application/json"


@proof
def ev_sign_millis(s):
    h = s.hook(kinds=["permit.requested"])
    s.permit()
    h.wait(1)
    assert re.match(r"t=\d{10},", h.got[0][0]["x-quarry-signature"])


@proof
def ev_others(s):
    h = s.hook("carl")
    s.permit()
    s.permit("carl")
    assert [e["data"].get("company") for e in h.wait(2)][0] == "brandt"
    h.only(2)


@proof
def ev_version(s):
    h = s.hook(base=V1, kinds=["permit.requested"])
    s.permit()
    d = h.wait(1)[0]["data"]
    assert d["lorry"] == "AB-12" and "vehicle" not in d


@proof
def ev_heavy_any(s):
    h = s.hook(kinds=["load.heavy"])
    s.weighed(40000, 10000)
    s.weighed(40001, 10000)
    assert h.wait(1)[0]["data"]["gross_kg"] == 40001
    h.only(1)


@proof
def ev_expire_silent(s):
    h = s.hook(kinds=["permit.ended"])
    s.clock(now="2030-12-20T00:00:00Z")
    s.permit()
    s.clock(now="2031-01-01T00:00:01Z")
    assert h.wait(1)[0]["data"]["status"] == "expired"


@proof
def ev_new_id(s):
    h = s.hook(kinds=["permit.requested"], status=500)
    s.permit()
    h.wait(1)
    h.status = 204
    s.clock("PT31S")
    a, b = h.wait(2)
    assert a == b


@proof
def ev_at(s):
    h = s.hook(kinds=["permit.requested"], status=500)
    s.permit()
    h.wait(1)
    s.clock("PT31S")
    a, b = h.wait(2)
    assert a["at"] == b["at"] and a["at"] == a["data"]["created_at"]


@proof
def ev_overtakes(s):
    h = s.hook(kinds=["permit.*"], status=500)
    p = s.permit(granted=False)
    h.wait(1)
    s.do("permits", p["id"], "grant")
    h.only(1)
    h.status = 204
    s.clock("PT31S")
    h.wait(3)
    assert h.kinds() == ["permit.requested", "permit.requested", "permit.decided"]


@proof
def ev_family(s):
    h = s.hook(kinds=["permit.*"])
    s.permit(granted=False)
    h.wait(1)


@proof
def ev_inactive(s):
    h = s.hook(active=False)
    s.permit()
    h.only(0)


@proof
def ev_note(s):
    h = s.hook("anton", kinds=["permit.changed"])
    p = s.permit(granted=False)
    s.ok("PATCH", f"/permits/{p['id']}", {"foreman_note": "hm"}, "fritz", If_Match="*")
    assert "foreman_note" not in h.wait(1)[0]["data"]


@proof
def ev_noop(s):
    h = s.hook(kinds=["stone.changed"])
    st = s.stone()
    s.ok("PATCH", f"/stones/{st['id']}", {"price": 1200}, "fritz")
    h.only(0)


@proof
def ev_fewer_tries(s):
    h = s.hook(kinds=["permit.requested"], status=500)
    s.permit()
    h.wait(1)
    for t, n in (("PT31S", 2), ("PT5M1S", 3), ("PT1H1S", 4), ("PT3H", 4)):
        s.clock(t)
        h.wait(n)
    h.only(4)


@proof
def ev_never_disabled(s):
    h = s.hook(kinds=["permit.requested"], status=500)
    for _ in range(4):
        s.permit()
        h.wait(1)
        s.clock("P1D")
    assert s.ok("GET", f"/hooks/{h.id}", who="fritz")["active"] is False


# ------------------------------------------------------------ errors

@proof
def er_405(s): assert is_(s("DELETE", "/stones", who="fritz"), 405, "method_not_allowed").headers["allow"] == "GET, POST"


@proof
def er_423(s): is_(s("PATCH", f"/loads/{s.weighed()['id']}", {"driver": "Emil"}), 423, "load_on_its_way")


@proof
def er_duplicate_update(s):
    s.stone(name="Tuff")
    is_(s("PATCH", f"/stones/{s.stone()['id']}", {"name": "tuff"}, "fritz"), 409, "duplicate")


@proof
def er_invalid_first(s):
    is_(s("PATCH", f"/permits/{s.permit(granted=False)['id']}", {"nonsense": 1}), 428, "if_match_needed")


@proof
def er_malformed_500(s): is_(s("POST", "/stones", who="fritz", raw=b'{"name":'), 400, "bad_request")


@proof
def er_no_fields(s): assert is_(s("POST", "/stones", {**STONE, "price": -1}, "fritz"), 422, "invalid").json["fields"] == ["/price"]


@proof
def er_reference_404(s): is_(s("POST", "/permits", {**PERMIT, "stone": 999}), 422, "no_such_reference")


@proof
def er_reference_all(s):
    post_permit(s, reference="R1")
    post_permit(s, reference="R1", who="carl")
    post_permit(s, 409, reference="R1")


@proof
def er_resting(s):
    st = s.stone()["id"]
    is_(s.book(s.permit(stone=st), s.bench(st, "resting")), 409, "bench_not_working")


@proof
def er_rules_order(s):
    is_(s.book(s.permit(tonnes=5), s.bench()), 422, "wrong_stone")
    p, b = s.place(tonnes=5)
    is_(s.book(p, b), 422, "over_permit")


@proof
def er_slot_cancelled(s):
    p, b = s.place()
    ld = s.load((p, b), slot="2027-07-07T07:00:00Z")
    s.do("loads", ld["id"], "cancel", None, "anton")
    is_(s.book(p, b, slot="2027-07-07T07:00:00Z"), 201)


@proof
def er_slot_text(s):
    p, b = s.place()
    s.load((p, b), slot="2027-07-07T07:00:00Z")
    is_(s.book(p, b, slot="2027-07-07T08:00:00+01:00"), 409, "duplicate")


@proof
def er_status_400(s):
    r = s("GET", "/permits/77")
    assert r.status == r.json["status"] == 404


# ------------------------------------------------------------ limits

def drain(s, path, n, who="anton"):
    for _ in range(n):
        is_(s("GET", path, who=who), 200)


@proof
def li_cost(s):
    drain(s, "/loads", 200)
    is_(s("GET", "/loads"), 429, "slow_down")


@proof
def li_refused_counts(s):
    drain(s, "/loads", 200)
    s.clock("PT40S")
    for _ in range(4):
        assert 0 < int(is_(s("GET", "/permits"), 429).headers["retry-after"]) <= 60
    s.clock("PT21S")
    drain(s, "/loads", 200)


@proof
def li_shared(s):
    drain(s, "/loads", 200)
    is_(s("GET", "/loads", who="carl"), 200)


@proof
def li_hooks(s):
    for _ in range(12):
        s.ok("POST", "/hooks", {"url": "http://127.0.0.1:9/"}, status=201)
    r = s("POST", "/hooks", {"url": "http://127.0.0.1:9/"})
    is_(r, 429, "slow_down")
    s.clock("PT10M")
    is_(s("POST", "/hooks", {"url": "http://127.0.0.1:9/"}), 201)


@proof
def li_quota_forever(s):
    s.clock(now="2027-03-03T10:00:00Z")
    p, b = s.place()
    for _ in range(60):
        s.load((p, b))
    is_(s.book(p, b), 403, "enough_today")
    s.clock(now="2027-03-04T00:00:00Z")
    is_(s.book(p, b), 201)


@proof
def li_quota_tries(s):
    s.clock(now="2027-03-03T10:00:00Z")
    p, b = s.place()
    for _ in range(60):
        is_(s.book(p, {"id": b["id"]}, tonnes=40, slot="2027-01-01T00:00:00Z") if _ else s.book(p, b, slot="2027-01-01T00:00:00Z"), 409 if _ else 201)
    other = s.bench()
    for _ in range(60):
        is_(s.book(p, other), 422, "wrong_stone")
    is_(s.book(p, b), 201)


@proof
def li_body(s): is_(s("POST", "/stones", {**STONE, "name": "x" * 16400}, "fritz"), 413, "too_large")


@proof
def li_url(s): is_(s("GET", "/stones?name=" + "x" * 2040), 413, "too_large")


@proof
def li_page_unclamped(s):
    for _ in range(101):
        s.stone()
    r = s.ok("GET", "/stones?per_page=500")
    assert len(r["items"]) == 100 and r["more"]


@proof
def li_limit_clamped(s): is_(s("GET", "/benches?limit=51"), 400, "bad_page")


# ------------------------------------------------------------ versioning

@proof
def ve_raw_shown(s): assert s.ok("GET", f"/stones/{s.stone()['id']}", base=V1)["grade"] == "raw"


@proof
def ve_raw_refused(s):
    r = s.ok("POST", "/stones", {**STONE, "grade": "raw", "price": 1.5}, "fritz", base=V1, status=201)
    assert r["grade"] == "raw" and s.ok("GET", f"/stones/{r['id']}")["grade"] == "rough"


@proof
def ve_filter_new(s):
    s.permit()
    assert s.ok("GET", "/permits?lorry=AB-12", base=V1)["total"] == 1
    is_(s("GET", "/permits?vehicle=AB-12", base=V1), 400, "bad_request")


@proof
def ve_price_cut(s):
    r = s.ok("POST", "/stones", {**STONE, "grade": "raw", "price": 0.29}, "fritz", base=V1, status=201)
    assert r["price"] == 0.29 and s.ok("GET", f"/stones/{r['id']}")["price"] == 29


@proof
def ve_hazard_shown(s):
    st = s.stone(hazard=True)
    assert "hazard" not in s.ok("GET", f"/stones/{st['id']}", base=V1)


@proof
def ve_put_hazard(s):
    st = s.stone(hazard=True)
    s.ok("PUT", f"/stones/{st['id']}", {**STONE, "grade": "raw", "price": 3}, "fritz", base=V1, If_Match="*")
    assert s.ok("GET", f"/stones/{st['id']}")["hazard"] is True


@proof
def ve_undeprecated(s):
    h = s("GET", "/stones", base=V1).headers
    assert h["deprecation"] == "@1772323200" and h["sunset"] == "Tue, 01 Jun 2027 00:00:00 GMT" and "https://greyhollow.example/moving-to-v2" in h["link"]
    assert "deprecation" not in s("GET", "/stones").headers


@proof
def ve_sunset(s):
    s.clock(now="2027-05-31T23:59:00Z")
    is_(s("GET", "/stones", base=V1), 200)
    s.clock(now="2027-06-01T00:00:00Z")
    is_(s("GET", "/stones", base=V1), 410, "version_gone")


@proof
def ve_field_new(s):
    r = is_(s("POST", "/permits", {"stone": s.stone()["id"], "tonnes": 1, "lorry": "x", "contact": "a@b.example", "valid_until": FAR}, base=V1), 422)
    assert r.json["fields"] == ["/lorry"]


@proof
def ve_unknown(s): is_(s("GET", "/stones", base="/quarry/v3"), 404, "no_such_version")


@proof
def ve_estimates_old(s): is_(s("GET", "/estimates?tonnes=3", base=V1), 404, "not_found")


def run(name, fault):
    s = Service(fault)
    try:
        PROOFS[name](s)
        return None
    except Exception as e:
        return f"{type(e).__name__}: {str(e)[:300]}"
    finally:
        s.close()


if __name__ == "__main__":
    stated = [f["id"] for f in json.load(open(os.path.join(HERE, "stranger.json")))["faults"]] if os.path.exists(os.path.join(HERE, "stranger.json")) else list(PROOFS)
    wrong = [f"{n}: a proof is wanted for each fault, and a fault for each proof" for n in set(stated) ^ set(PROOFS)]
    for n in sys.argv[1:] or PROOFS:
        right, faulty = run(n, None), run(n, n)
        if right is not None:
            wrong.append(f"{n}: fails on the right service: {right}")
        if faulty is None:
            wrong.append(f"{n}: passes on the faulty service")
        elif not faulty.startswith(("Assert", "KeyError", "TypeError", "AttributeError", "IndexError")):
            wrong.append(f"{n}: the faulty service breaks down: {faulty}")
    print("\n".join(wrong) or f"all {len(sys.argv[1:] or PROOFS)} proofs hold ({Service.count} requests)")
    sys.exit(bool(wrong))
