#!/usr/bin/env python3
"""For each fault a proof that holds of the right service and not of the faulty one. `python3 faults-test.py [FAULT ...]`"""
import sys
import concurrent.futures
from harness import *

SPECIES = {"name": "Hake", "least_g": 100}
UNFIT = (422, "unfit")


def hake(s, who="gus", code="hake", **k):
    return s("PUT", f"/species/{code}", {**SPECIES, **k}, who)


def refused_lot(s, status, word, **more):
    return s.no(status, word, "POST", "/lots", s.lot_body(s.vessel(), **more))


def ids(s, path, who="anna", name="lots", key="id", **k):
    return [x[key] for x in s.ok("GET", path, who=who, **k)[name]]


def person(n):
    return chr(97 + n // 26) + chr(97 + n % 26)


def links(r):
    return " ".join(v for k, v in r.pairs if k.lower() == "link")


def vessel_of(s, key):
    return s.read(key)["vessel"]


class Proofs:
    # ---------------------------------------------------------------- purpose
    def species_at_root(s): assert hake(s).status == 201
    def token_auctioneers(s): assert hake(s, "hal").status == 201
    def knock_breaks(s): s.sold()

    # ---------------------------------------------------------------- resources
    def no_ling(s): assert s.ok("GET", "/species/ling") == {"code": "ling", "name": "Ling", "least_g": 800}
    def length_in_bytes(s): s.vessel(name="é" * 40)
    def pattern_prefix(s): s.no(*UNFIT, "POST", "/vessels", {"reg": "SK1xyz", "name": "Ada"})
    def digits_as_text(s): refused_lot(s, *UNFIT, asking="100")
    def halves_rounded(s): refused_lot(s, *UNFIT, asking=100.5)
    def ports_any_case(s): s.no(*UNFIT, "POST", "/vessels", {"reg": "SK1", "name": "Ada", "port": "AYR"})
    def port_default(s): assert s.ok("GET", f"/vessels/{s.vessel()}")["port"] == "wick"
    def asking_edge(s): s.lot(asking=1000000)
    def words_81(s): refused_lot(s, *UNFIT, words="x" * 81)
    def five_tags(s): refused_lot(s, *UNFIT, tags=list("abcde"))
    def tags_twice(s): refused_lot(s, *UNFIT, tags=["a", "a"])
    def tags_unchecked_in_patch(s): assert s.patch(s.lot(), {"tags": ["x" * 13]}).status == 422
    def seven_crates(s): refused_lot(s, *UNFIT, crates=[{"net_g": 200}] * 7)
    def bid_of_nothing(s): s.no(*UNFIT, "POST", f"/lots/{s.up()}/bids", {"pence": 0}, "dee")
    def url_anything(s): s.no(*UNFIT, "POST", "/hooks", {"url": "down by the quay"})
    def kind_anything(s): s.no(*UNFIT, "POST", "/hooks", {"url": "http://127.0.0.1:9/", "kinds": ["lot.eaten"]})
    def null_keeps(s): assert s.patch(s.lot(), {"asking": None}).status == 422

    def words_not_removed(s):
        key = s.lot(words="fresh")
        assert "words" not in s.patch(key, {"words": None}).json

    def unknown_in_patch(s): assert s.patch(s.lot(), {"colour": 1}).json["refused"]["word"] == "not_known"
    def read_only_taken(s): s.no(*UNFIT, "PATCH", f"/vessels/{s.vessel()}", {"owner": "me"})

    def vessel_changes(s):
        assert s.patch(s.lot(), {"vessel": s.vessel()}).status == 422

    def patch_resets_grade(s): assert s.patch(s.lot(grade="C"), {"words": "firm"}).json["grade"] == "C"

    def nothing_counts(s):
        key = s.lot()
        was = s.read(key)["changed_at"]
        s.clock("PT5S")
        assert s.patch(key, {"asking": 100}).json["changed_at"] == was
        assert s.patch(key, {"asking": 101}).json["changed_at"] > was

    def transitions_untouched(s):
        key = s.lot()
        was = s.read(key)["changed_at"]
        s.clock("PT5S")
        assert s.do(key, "withdraw", who="anna")["changed_at"] > was

    def no_milliseconds(s): assert len(s.read(s.lot())["landed_at"]) == 24
    def ulid_small(s): assert s.lot()[4:].isupper()
    def short_uuid(s): assert len(s.crew(s.vessel(), "cal").json["id"]) == 36

    def hook_id_capitals(s):
        key = s.hook().id
        assert key[:3] == "hk-" and key == key.lower()

    def bid_ids_as_texts(s): assert isinstance(s.bid(s.up(), 100)["id"], int)

    def numbers_of_all(s):
        s.lot()
        assert s.read(s.lot())["number"] == 1

    def numbers_lost(s):
        v = s.vessel()
        s.lot(v, words="x")
        s.no(409, "taken", "POST", "/lots", s.lot_body(v, words="x"))
        assert s.read(s.lot(v))["number"] == 2

    def seal_in_answers(s): assert "seal" not in s.patch(s.lot(seal="abcdef"), {"asking": 200}).json
    def secret_again(s): assert "secret" not in s.ok("GET", f"/hooks/{s.hook().id}")
    def secret_never(s): assert s.hook().secret.startswith("gs_")

    def reserve_in_lists(s):
        s.up(reserve=50)
        assert "reserve" not in s.ok("GET", "/lots", who="dee")["lots"][0]
        assert s.ok("GET", "/lots", who="anna")["lots"][0]["reserve"] == 50

    def lots_count_live(s): assert s.ok("GET", f"/vessels/{vessel_of(s, s.sold())}")["lots"] == 1

    def spoiled_counts(s):
        key = s.lot()
        v = vessel_of(s, key)
        assert s.ok("GET", f"/vessels/{v}")["landed_g"] == 2000
        s.do(key, "condemn")
        assert s.ok("GET", f"/vessels/{v}")["landed_g"] == 0

    def three_crates_weigh(s): assert s.read(s.lot(crates=[{"net_g": 1000}] * 5))["weight_g"] == 5000

    def retracted_count(s):
        key = s.up()
        b = s.bid(key, 100)
        assert s.read(key)["bids"] == 1
        s.do(b["id"], "retract", who="dee", kind="bids")
        assert s.read(key)["bids"] == 0

    def retracted_is_best(s):
        key = s.up()
        s.bid(key, 100)
        s.do(s.bid(key, 200)["id"], "retract", who="dee", kind="bids")
        assert s.read(key)["best"] == 100

    def best_of_none(s): assert "best" not in s.read(s.lot())

    def crates_not_answered(s):
        got = s.ok("POST", "/lots", s.lot_body(s.vessel()), status=201)["crates"]
        assert [k["net_g"] for k in got] == [2000] and set(got[0]) == {"id", "lot", "net_g"}

    def crates_reversed(s):
        s.lot(crates=[{"net_g": 1000}, {"net_g": 3000}])
        assert [k["net_g"] for k in s.ok("GET", "/lots")["lots"][0]["crates"]] == [1000, 3000]

    def reserve_unasked_in_patch(s): assert s.patch(s.lot(), {"reserve": 101}).status == 422
    def rule_at_asking(s): assert s.places("POST", "/lots", s.lot_body(s.vessel(), reserve=101)) == ["reserve"]
    def names_mind_case(s): s.no(409, "taken", "PUT", "/species/codd", {"name": "COD"}, "gus")

    def signed_twice(s):
        v = s.vessel()
        assert [s.crew(v, "cal").status, s.crew(v, "cal").status] == [201, 409]

    def words_stay_taken(s):
        v = s.vessel()
        s.do(s.lot(v, words="x"), "withdraw", who="anna")
        s.lot(v, words="x")

    def words_of_all_vessels(s):
        s.lot(words="x")
        s.lot(words="x")

    def retracted_bids_hold(s):
        key = s.up()
        s.do(s.bid(key, 100)["id"], "retract", who="dee", kind="bids")
        s.bid(key, 100, "eli")
        s.no(409, "taken", "POST", f"/lots/{key}/bids", {"pence": 100}, "dee")

    def vessels_not_held(s): s.no(409, "taken", "DELETE", f"/vessels/{vessel_of(s, s.lot())}")

    def crew_survives(s):
        v = s.vessel()
        s.crew(v, "cal")
        assert s("DELETE", f"/vessels/{v}").status == 204
        s.ok("POST", "/vessels", {"reg": v, "name": "Ada"}, status=201)
        s.no(404, "nowhere", "GET", f"/vessels/{v}/crew/cal")

    def bids_outlive(s):
        key = s.up()
        b = s.bid(key, 100)
        s.do(key, "condemn")
        assert s("DELETE", f"/lots/{key}").status == 204
        s.no(404, "nowhere", "GET", f"/bids/{b['id']}", who="dee")

    def species_unchecked_in_patch(s): assert s.patch(s.lot(), {"species": "eel"}).json["refused"]["word"] == "no_such_thing"
    def due_in_14(s): assert s.invoice()["due_at"][:10] == s.clock("P7D")[:10]

    # ---------------------------------------------------------------- states
    def five_lots_laid_up(s):
        v = s.vessel()
        for n in range(4):
            s.lot(v)
        assert s.ok("PATCH", f"/vessels/{v}", {"state": "laid_up"})["state"] == "laid_up"
        assert s.ok("PATCH", f"/vessels/{v}", {"state": "active"})["state"] == "active"
        s.lot(v)
        s.no(409, "not_now", "PATCH", f"/vessels/{v}", {"state": "laid_up"})

    def laid_up_lands(s):
        v = s.vessel()
        s.ok("PATCH", f"/vessels/{v}", {"state": "laid_up"})
        s.no(409, "laid_up", "POST", "/lots", s.lot_body(v))

    def laid_up_deleted(s):
        v = s.vessel()
        s.ok("PATCH", f"/vessels/{v}", {"state": "laid_up"})
        s.no(409, "not_now", "DELETE", f"/vessels/{v}")

    def catalogues_unseen(s): s.no(409, "not_cleared", "POST", f"/lots/{s.lot()}/catalogue", who="gus")

    def clears_condemned(s):
        key = s.lot()
        s.do(key, "condemn")
        s.no(409, "not_now", "POST", f"/lots/{key}/clear", who="gus")

    def cleared_for_good(s): assert s.do(s.lot(), "clear", "condemn")["check"] == "condemned"

    def condemned_stays(s):
        key = s.lot()
        s.do(key, "condemn")
        assert s.read(key)["state"] == "spoiled"

    def condemn_answers_early(s): assert s.do(s.lot(), "condemn")["state"] == "spoiled"

    def bids_stay(s):
        key = s.up()
        b = s.bid(key, 100)
        s.do(key, "condemn")
        assert s.ok("GET", f"/bids/{b['id']}", who="dee")["state"] == "void"

    def unsold_for_ever(s):
        key = s.up()
        s.do(key, "knock", status=409)
        s.do(key, "offer")

    def offers_condemned(s):
        key = s.up()
        s.do(key, "knock", status=409)
        assert s.do(key, "condemn")["state"] == "unsold"
        s.no(409, "not_now", "POST", f"/lots/{key}/offer", who="gus")

    def reserve_edge(s):
        key = s.up(reserve=100)
        s.bid(key, 100)
        assert s.do(key, "knock")["state"] == "sold"

    def no_reserve(s):
        key = s.up(reserve=100)
        s.bid(key, 99)
        s.no(409, "reserve_not_met", "POST", f"/lots/{key}/knock", who="gus")

    def unsold_undone(s):
        key = s.up()
        s.no(409, "reserve_not_met", "POST", f"/lots/{key}/knock", who="gus")
        assert s.read(key)["state"] == "unsold"

    def hour_up(s):
        key = s.up()
        s.clock("PT44M")
        assert s.read(key)["state"] == "up"
        s.clock("PT2M")
        assert s.read(key)["state"] == "unsold"

    def lapse_from_landing(s):
        key = s.lot()
        s.do(key, "clear", "catalogue")
        s.clock("PT30M")
        s.do(key, "offer")
        s.clock("PT20M")
        assert s.read(key)["state"] == "up"
        s.clock("PT26M")
        assert s.read(key)["state"] == "unsold"

    def withdraws_up(s): s.no(409, "too_late", "POST", f"/lots/{s.up()}/withdraw")

    def retracts_after(s):
        key = s.up()
        b = s.bid(key, 100)
        s.do(key, "knock")
        s.no(409, "too_late", "POST", f"/bids/{b['id']}/retract", who="dee")

    def exact_is_short(s):
        i = s.invoice(150)
        assert s.pay(i["id"], 150).json["state"] == "paid"

    def overdue_unpayable(s):
        i = s.invoice()
        s.clock("P7DT1M")
        assert s.ok("GET", f"/invoices/{i['id']}", who="dee")["state"] == "overdue"
        assert s.pay(i["id"], 150).json["state"] == "paid"

    def paid_twice(s):
        i = s.invoice()
        s.pay(i["id"], 150)
        assert s.pay(i["id"], 150).json["refused"]["word"] == "paid_already"

    def short_undone(s):
        i = s.invoice()
        assert s.pay(i["id"], 10).status == 402
        assert s.ok("GET", f"/invoices/{i['id']}", who="dee")["state"] == "short"

    def reminds_short(s):
        i = s.invoice()
        s.pay(i["id"], 10)
        s.clock("P8D")
        assert s.ok("GET", f"/invoices/{i['id']}", who="dee")["state"] == "short"

    def never_reminds(s):
        i = s.invoice()
        s.clock("P6DT23H")
        assert s.ok("GET", f"/invoices/{i['id']}", who="dee")["state"] == "due"
        s.clock("PT2H")
        assert s.ok("GET", f"/invoices/{i['id']}", who="dee")["state"] == "overdue"

    def no_invoice(s):
        s.sold()
        assert [i["state"] for i in s.ok("GET", "/invoices", who="gus")["invoices"]] == ["due"]

    def all_bids_billed(s):
        key = s.up()
        s.bid(key, 100, "eli")
        s.bid(key, 200)
        s.do(key, "knock")
        assert len(s.ok("GET", "/invoices", who="gus")["invoices"]) == 1

    def billed_asking(s): assert s.invoice(150)["pence"] == 150
    def billed_to_seller(s): assert s.invoice(150)["buyer"] == "dee"

    def kept_three_days(s):
        key = s.lot()
        s("DELETE", f"/lots/{key}")
        s.clock("P6D")
        s.no(410, "cast_back", "GET", f"/lots/{key}")
        s.clock("P2D")
        s.no(404, "nowhere", "GET", f"/lots/{key}")

    def gone_at_once(s):
        key = s.lot()
        s("DELETE", f"/lots/{key}")
        assert s("GET", f"/lots/{key}").status == 410
        s.no(404, "nowhere", "GET", f"/lots/{key}", who="bo")

    def deleted_listed(s):
        s("DELETE", f"/lots/{s.lot()}")
        assert s.ok("GET", "/lots")["lots"] == []

    # ---------------------------------------------------------------- endpoints
    def upsert_keeps_least(s):
        hake(s)
        assert s.ok("PUT", "/species/hake", {"name": "Hake"}, "gus")["least_g"] == 0

    def catalogued_deleted(s):
        key = s.lot()
        s.do(key, "clear", "catalogue")
        s.no(409, "not_now", "DELETE", f"/lots/{key}")

    def up_is_updated(s): assert s.patch(s.up(), {"asking": 101}).json["refused"]["word"] == "not_now"
    def no_head(s): assert s("HEAD", "/species").status == 200
    def no_allow(s): assert "GET" in s.no(405, "no_way", "DELETE", "/species").h["allow"]
    def slashes_ignored(s): s.no(404, "nowhere", "GET", "/species/")

    def crew_of_any_vessel(s):
        v, w = s.vessel(), s.vessel()
        s.crew(v, "cal")
        s.no(404, "nowhere", "GET", f"/vessels/{w}/crew/cal")
        assert s("GET", f"/vessels/{v}/crew/cal").status == 200

    def at_least_is_over(s): assert ids(s, "/species?at_least=800", name="species", key="code") == ["ling"]
    def filter_minds_case(s): assert ids(s, "/species?name=cOD", name="species", key="code") == ["cod"]
    def species_backwards(s): assert ids(s, "/species", name="species", key="code") == ["cod", "ling"]

    def first_port_only(s):
        s.vessel(port="ayr"), s.vessel(port="lerwick"), s.vessel()
        assert len(ids(s, "/vessels?port=ayr,lerwick", name="vessels", key="reg")) == 2

    def begins_any_case(s):
        s.vessel(name="Gannet")
        assert ids(s, "/vessels?begins=gann", name="vessels", key="reg") == []
        assert ids(s, "/vessels?begins=Gann", name="vessels", key="reg") == ["SK1"]

    def begins_anywhere(s):
        s.vessel(name="Gannet")
        assert ids(s, "/vessels?begins=annet", name="vessels", key="reg") == []

    def fished_by_unseen(s):
        s.lot()
        assert ids(s, "/vessels?fished=cod", name="vessels", key="reg") == ["SK1"]
        assert ids(s, "/vessels?fished=cod", "bo", name="vessels", key="reg") == []

    def last_state_only(s):
        s.lot(), s.do(s.lot(), "withdraw", who="anna"), s.up()
        assert len(ids(s, "/lots?state=landed,withdrawn")) == 2

    def weight_over(s): assert ids(s, f"/lots?min_weight=2000&vessel={vessel_of(s, s.lot())}")

    def landed_not_before(s):
        key = s.lot()
        assert ids(s, "/lots?landed_before=2020-01-01T00:00:00Z") == []
        assert ids(s, "/lots?landed_before=2100-01-01T00:00:00%2B01:00") == [key]

    def any_word(s):
        s.lot(words="big cod")
        assert ids(s, "/lots?find=big+ling") == [] and len(ids(s, "/lots?find=cod+big")) == 1

    def find_minds_case(s):
        s.lot(words="Big cod")
        assert len(ids(s, "/lots?find=bIG")) == 1

    def open_is_up(s):
        s.lot(), s.do(s.lot(), "withdraw", who="anna")
        assert len(ids(s, "/lots?show=open")) == 1 and len(ids(s, "/lots?show=all")) == 2

    def way_ignored(s):
        a, b = s.lot(asking=200), s.lot(asking=100)
        assert ids(s, "/lots?by=price&way=desc") == [a, b] and ids(s, "/lots?by=price") == [b, a]

    def weights_as_texts(s):
        a, b = s.lot(crates=[{"net_g": 10000}]), s.lot(crates=[{"net_g": 2000}])
        assert ids(s, "/lots?by=weight") == [b, a]

    def ties_newest(s):
        a, b = s.lot(), s.lot()
        assert ids(s, "/lots?by=price") == [a, b]

    def unknown_params_taken(s): s.no(400, "garbled", "GET", f"/lots/{s.up()}/bids?colour=red", who="dee")
    def params_twice(s): s.no(400, "garbled", "GET", "/lots?grade=A&grade=B")
    def bad_integers_ignored(s): s.no(400, "garbled", "GET", "/lots?min_weight=much")
    def unknown_values_find_nothing(s): s.no(400, "garbled", "GET", "/lots?grade=Z")

    def over_is_from(s):
        key = s.up()
        s.bid(key, 100), s.bid(key, 200)
        assert [b["pence"] for b in s.ok("GET", f"/lots/{key}/bids?over=100", who="dee")["bids"]] == [200]

    def cheapest_first(s):
        key = s.up()
        s.bid(key, 100), s.bid(key, 200)
        assert [b["pence"] for b in s.ok("GET", f"/lots/{key}/bids", who="dee")["bids"]] == [200, 100]

    def bids_of_any_lot(s):
        s.bid(s.up(), 100)
        assert s.ok("GET", f"/lots/{s.up()}/bids", who="dee")["bids"] == []

    def sort_ignored(s):
        s.invoice(300), s.invoice(200)
        assert ids(s, "/invoices?sort=pence", "dee", "invoices", "pence") == [200, 300]
        assert ids(s, "/invoices?sort=-pence", "dee", "invoices", "pence") == [300, 200]

    def unknown_names_chosen(s): s.no(400, "garbled", "GET", f"/lots/{s.lot()}?only=asking,colour")
    def chooses_reserve(s): s.no(400, "garbled", "GET", f"/lots/{s.up()}?only=reserve", who="dee")

    def chosen_without_id(s):
        key = s.lot()
        got = s.read(key, query="?only=asking,crates.net_g")
        assert set(got) == {"id", "asking", "crates"} and set(got["crates"][0]) == {"id", "net_g"}

    def one_tag_for_all(s):
        key = s.lot()
        part = s.tag(f"/lots/{key}?only=asking")
        assert part != s.tag(f"/lots/{key}")
        assert s.patch(key, {"asking": 300}, If_Match=part).status == 200

    def exists_overwrites(s):
        v = s.vessel(name="Ada")
        assert s.ok("POST", "/vessels", {"reg": v, "name": "Bea"})["name"] == "Ada"
        assert s.ok("GET", f"/vessels/{v}")["name"] == "Ada"

    def exists_is_201(s): s.ok("POST", "/vessels", {"reg": s.vessel(), "name": "Bea"})
    def exists_refused(s): s.ok("POST", "/vessels", {"reg": s.vessel(), "name": "Bea"}, "bo")
    def upsert_always_201(s): assert [hake(s).status, hake(s, least_g=3).status] == [201, 200]

    def location_at_root(s):
        r = s("POST", "/lots", s.lot_body(s.vessel()))
        assert r.h["location"] == f"/auction/lots/{r.json['id']}"

    def no_cache_header(s): assert s("GET", "/species/cod").h["cache-control"] == "public, max-age=30"
    def no_ticket_header(s): assert s("GET", f"/lots/{s.lot()}/ticket").h["ticket-state"] == "landed"
    def whole_kilos(s): assert s.ok("GET", f"/lots/{s.lot(crates=[{'net_g': 2500}])}/ticket")["kilos"] == 2.5
    def ticket_of_species(s): assert s.ok("GET", f"/lots/{s.lot()}/ticket")["text"] == "SK1/1 cod"

    def catalogued_is_open(s):
        key = s.lot()
        s.do(key, "clear", "catalogue")
        assert s.ok("GET", f"/lots/{key}/ticket")["open"] is False

    def never_304(s): assert s("GET", "/species/cod", If_None_Match=s.tag("/species/cod")).status == 304

    def tag_without_bids(s):
        key = s.up()
        was = s.tag(f"/lots/{key}")
        s.bid(key, 100)
        assert s.tag(f"/lots/{key}") != was

    def weak_tags_match(s):
        key = s.lot()
        assert s.patch(key, {"asking": 300}, If_Match="W/" + s.tag(f"/lots/{key}")).status == 412

    def key_not_required(s): s.no(400, "garbled", "POST", f"/invoices/{s.invoice()['id']}/pay", {"pence": 150}, "dee")

    def keys_of_everyone(s):
        v = s.vessel()
        s.crew(v, "bo", "mate")
        a = s.ok("POST", "/lots", s.lot_body(v), Once="k", status=201)
        assert s.ok("POST", "/lots", s.lot_body(v), Once="k", status=201) == a
        assert s.ok("POST", "/lots", s.lot_body(v), "bo", Once="k", status=201)["id"] != a["id"]

    def keys_four_hours(s):
        body = s.lot_body(s.vessel())
        a = s.ok("POST", "/lots", body, Once="k", status=201)["id"]
        s.clock("PT7H")
        assert s.ok("POST", "/lots", body, Once="k", status=201)["id"] == a
        s.clock("PT2H")
        assert s.ok("POST", "/lots", body, Once="k", status=201)["id"] != a

    def replays_201_as_200(s):
        body = s.lot_body(s.vessel())
        assert [s("POST", "/lots", body, Once="k").status for n in range(2)] == [201, 201]

    def own_errors_not_kept(s):
        key = s.up()
        high = s.bid(key, 200, "eli")
        s.no(409, "outbid", "POST", f"/lots/{key}/bids", {"pence": 100}, "dee", Once="k")
        s.do(high["id"], "retract", who="eli", kind="bids")
        s.no(409, "outbid", "POST", f"/lots/{key}/bids", {"pence": 100}, "dee", Once="k")

    def answers_not_kept(s):
        i = s.invoice()
        a, b = s.pay(i["id"], 10, once="k"), s.pay(i["id"], 10, once="k")
        assert a.status == b.status == 402 and a.json == b.json, (a, b)

    def refusals_kept(s):
        v = s.vessel()
        key = s.lot(v, words="x")
        s.no(409, "taken", "POST", "/lots", s.lot_body(v, words="x"), Once="k")
        s.do(key, "withdraw", who="anna")
        s.ok("POST", "/lots", s.lot_body(v, words="x"), Once="k", status=201)

    def merge_type_refused(s): s.ok("PATCH", f"/vessels/{s.vessel()}", {"name": "Cid"}, Content_Type="application/merge-patch+json")

    def pay_with_anything(s):
        s.no(422, "not_known", "POST", f"/invoices/{s.invoice()['id']}/pay", {"tip": 1, "pence": 150}, "dee", Once="k")

    def vary_without_badge(s): assert "Hall-Badge" in s("GET", f"/lots/{s.lot()}").h["vary"]
    def no_trace_on_refusals(s): assert refused_lot(s, *UNFIT, asking=0).h["hall-trace"]

    # ---------------------------------------------------------------- authentication
    def filter_shows_all(s):
        s.lot()
        assert ids(s, "/lots?state=landed", "bo") == [] and len(ids(s, "/lots?state=landed")) == 1

    def badge_any_case(s): s.no(401, "who", "GET", "/vessels", who=None, Hall_Badge="BDG_annaannaannaannaanna")
    def badge_begins(s): s.no(401, "who", "GET", "/vessels", who=None, Hall_Badge="bdg_annaannaannaannaannax")
    def any_alg(s): s.no(401, "who", "GET", "/vessels", who=None, **bearer(token("cal", "skipper", alg="HS512")))
    def unsigned_tokens(s): s.no(401, "who", "GET", "/vessels", who=None, **bearer(token("cal", "skipper", secret=b"no")))
    def any_issuer(s): s.no(401, "who", "GET", "/vessels", who=None, **bearer(token("cal", "skipper", iss="https://else.example")))
    def any_audience(s): s.no(401, "who", "GET", "/vessels", who=None, **bearer(token("cal", "skipper", aud="meat-hall")))
    def tokens_for_ever(s): assert s("GET", "/vessels", who=None, **bearer(token("cal", "skipper", exp=1577836800))).status == 401
    def two_callers(s): s.no(401, "who", "GET", "/vessels", who="anna", **CRED["bo2"])

    def badges_dismiss(s):
        v = s.vessel()
        s.crew(v, "cal")
        s.no(401, "who", "DELETE", f"/vessels/{v}/crew/cal")
        assert s("DELETE", f"/vessels/{v}/crew/cal", who="anna2").status == 204

    def hands_land(s):
        v = s.vessel()
        s.crew(v, "cal"), s.crew(v, "bo", "mate")
        s.no(403, "not_yours", "POST", "/lots", s.lot_body(v), "cal")
        s.lot(v, "bo")

    def hands_withdraw(s):
        key = s.lot()
        s.crew(vessel_of(s, key), "cal")
        s.no(403, "not_yours", "POST", f"/lots/{key}/withdraw", who="cal")

    def buyers_read_landed(s): s.no(404, "nowhere", "GET", f"/lots/{s.lot()}/ticket", who="dee")

    def crew_leaves_lists(s):
        key = s.lot()
        s.crew(vessel_of(s, key), "cal")
        assert ids(s, "/lots", "cal") == [key]

    def bids_of_all(s):
        key = s.up()
        s.bid(key, 100, "eli"), s.bid(key, 200)
        assert [b["buyer"] for b in s.ok("GET", f"/lots/{key}/bids", who="dee")["bids"]] == ["dee"]

    def invoices_of_all(s):
        s.invoice(who="eli")
        assert ids(s, "/invoices?state=due", "dee", "invoices") == []

    def skippers_see_buyers(s):
        i = s.invoice()
        assert set(s.ok("GET", "/invoices")["invoices"][0]) == {"id", "lot", "pence", "state"}
        assert set(s.ok("GET", f"/invoices/{i['id']}")) == {"id", "lot", "pence", "state"}

    def condemn_without_scope(s): s.no(403, "no_licence", "POST", f"/lots/{s.lot()}/condemn", who="hal")
    def knock_without_scope(s): s.no(403, "no_licence", "POST", f"/lots/{s.up()}/knock", who="hal")
    def skippers_name_species(s): assert hake(s, "anna").status == 403

    def skippers_offer(s):
        key = s.lot()
        s.do(key, "clear", "catalogue")
        s.no(403, "not_yours", "POST", f"/lots/{key}/offer")

    def species_for_known(s): s.ok("GET", "/species/cod", who=None)
    def foreign_lots_403(s): s.no(404, "nowhere", "GET", f"/lots/{s.lot()}", who="bo")
    def vessels_of_anyone(s): s.no(403, "not_yours", "PATCH", f"/vessels/{s.vessel()}", {"name": "Mine"}, "bo")
    def crew_by_anyone(s): assert s.crew(s.vessel(), "bo", "mate", "bo").status == 403

    def crew_leave_themselves(s):
        v = s.vessel()
        s.crew(v, "bo")
        s.no(403, "not_yours", "DELETE", f"/vessels/{v}/crew/bo", who="bo2")

    def hooks_of_anyone(s): s.no(404, "nowhere", "DELETE", f"/hooks/{s.hook().id}", who="bo")
    def no_challenge(s): assert "ApiKey" in "".join(v for k, v in s("GET", "/vessels", who=None).pairs if k == "WWW-Authenticate")

    # ---------------------------------------------------------------- events
    def seal_of_ascii(s): well_sealed(s, words="bønhase")
    def seal_without_mark(s): well_sealed(s)

    def no_kind_header(s):
        q = s.hook()
        s.lot()
        q.wait(1)
        assert q.got[0][0]["hall-kind"] == "lot.landed"

    def new_mark_on_retry(s):
        q = s.hook(answers=[500])
        s.lot()
        q.wait(1), s.clock("PT11S")
        a, b = q.wait(2)
        assert a == b

    def two_retries(s):
        q = s.hook(answers=[500, 500, 500])
        s.lot()
        for n, wait in enumerate(["PT11S", "PT2M1S", "PT30M1S"]):
            q.wait(n + 1)
            time.sleep(0.05)
            s.clock(wait)
        q.wait(4)

    def follows_redirects(s):
        q = s.hook(answers=[302])
        s.lot()
        q.wait(1), time.sleep(0.05), s.clock("PT11S")
        q.wait(2)

    def refusals_accepted(s):
        q = s.hook(answers=[404])
        s.lot()
        q.wait(1), time.sleep(0.05), s.clock("PT11S")
        q.wait(2)

    def never_disabled(s):
        q = s.hook(answers=[410])
        s.lot()
        q.wait(1), time.sleep(0.1)
        assert s.ok("GET", f"/hooks/{q.id}")["live"] is False

    def overtakes(s):
        q = s.hook(answers=[500])
        key = s.lot()
        q.wait(1)
        s.do(key, "withdraw", who="anna")
        q.only("lot.landed")
        s.clock("PT11S")
        q.wait(3)
        assert q.words() == ["lot.landed", "lot.landed", "lot.over"]

    def told_when_off(s):
        q = s.hook(live=False)
        s.lot()
        q.only()

    def star_of_any(s):
        q = s.hook(kinds=["bid.*"])
        s.lot()
        q.only()

    def envelope_word(s):
        q = s.hook("dee", kinds=["invoice.*"])
        s.invoice()
        q.only("invoice.drawn")
        assert set(q.got[0][2]) == {"mark", "word", "when", "fish"}

    def bids_told_to_all(s):
        q, mine = s.hook("eli", kinds=["bid.made"]), s.hook("dee", kinds=["bid.made"])
        s.bid(s.up(), 100)
        mine.only("bid.made"), q.only()

    def vessel_moved_to_all(s):
        q, mine = s.hook("bo"), s.hook()
        s.ok("PATCH", f"/vessels/{s.vessel()}", {"state": "laid_up"})
        mine.only("vessel.moved"), q.only()

    def bin_is_silent(s):
        q = s.hook(kinds=["lot.over"])
        s.do(s.up(), "condemn")
        assert q.fish(1)[0]["before"] == "up"

    def lapse_is_silent(s):
        q = s.hook("dee", kinds=["lot.over"])
        key = s.up()
        s.clock("PT46M")
        assert q.fish(1) == [{"lot": key, "before": "up", "after": "unsold"}]

    def retract_is_silent(s):
        q = s.hook("dee", kinds=["bid.fallen"])
        s.do(s.bid(s.up(), 100)["id"], "retract", who="dee", kind="bids")
        q.wait(1)

    def launch_is_silent(s):
        q, v = s.hook(), s.vessel()
        s.ok("PATCH", f"/vessels/{v}", {"state": "laid_up"}), s.ok("PATCH", f"/vessels/{v}", {"state": "active"})
        assert [f["state"] for f in q.fish(2)] == ["laid_up", "active"]

    def near_is_silent(s):
        q = s.hook("dee", kinds=["invoice.near"])
        i = s.invoice()
        s.clock("P6DT1M")
        assert q.fish(1)[0]["id"] == i["id"]

    def near_at_12h(s):
        q = s.hook("dee", kinds=["invoice.near"])
        s.invoice()
        s.clock("P5DT23H")
        q.only()
        s.clock("PT2H")
        q.only("invoice.near")

    def paid_told_short(s):
        q, i = s.hook("dee", kinds=["invoice.paid"]), s.invoice()
        s.pay(i["id"], 10)
        q.only()
        s.pay(i["id"], 150)
        q.only("invoice.paid")

    def regraded_always(s):
        q, key = s.hook(kinds=["lot.regraded"]), s.lot()
        s.patch(key, {"asking": 120}), s.patch(key, {"grade": "C"})
        q.only("lot.regraded")

    def told_though_refused(s):
        morning(s)
        v = s.vessel()
        for n in range(150):
            s.lot(v)
        q = s.hook()
        s("POST", "/lots", s.lot_body(v))
        q.only()

    def old_tags_told(s):
        q = s.hook(kinds=["lot.tagged"])
        s.patch(s.lot(tags=["a"]), {"tags": ["a", "b"]})
        q.only("lot.tagged")
        assert q.fish(1)[0]["tag"] == "b"

    def one_tag_told(s):
        q = s.hook(kinds=["lot.tagged"])
        s.patch(s.lot(), {"tags": ["a", "b"]})
        assert [f["tag"] for f in q.fish(2)] == ["a", "b"]

    def before_is_after(s):
        q, key = s.hook(kinds=["lot.over"]), s.lot()
        s.do(key, "withdraw", who="anna")
        assert q.fish(1) == [{"lot": key, "before": "landed", "after": "withdrawn"}]

    def regraded_swapped(s):
        q, key = s.hook(kinds=["lot.regraded"]), s.lot()
        s.patch(key, {"grade": "C"})
        assert q.fish(1) == [{"lot": key, "was": "B", "is": "C"}]

    def ref_as_map(s):
        q, b = s.hook("dee", kinds=["bid.fallen"]), s.bid(s.up(), 100)
        s.do(b["id"], "retract", who="dee", kind="bids")
        assert q.fish(1) == [b["id"]]

    def removed_without_lot(s):
        q, key = s.hook(kinds=["lot.removed"]), s.lot()
        s("DELETE", f"/lots/{key}")
        assert q.fish(1) == [{"lot": key}]

    def paid_as_it_was(s):
        q, i = s.hook("dee", kinds=["invoice.paid"]), s.invoice()
        s.pay(i["id"], 150)
        assert q.fish(1)[0]["state"] == "paid"

    def seal_in_events(s):
        q = s.hook()
        s.lot(seal="abcdef")
        assert "seal" not in q.fish(1)[0]

    def reserve_in_events(s):
        q = s.hook("dee", kinds=["lot.up"])
        s.up(reserve=20)
        assert "reserve" not in q.fish(1)[0]

    def crates_in_events(s):
        q = s.hook()
        s.lot()
        fish = q.fish(1)[0]
        assert "crates" not in fish and fish["weight_g"] == 2000

    # ---------------------------------------------------------------- errors
    def ref_is_404(s): refused_lot(s, 422, "no_such_thing", species="eel")

    def cast_back_404(s):
        key = s.lot()
        s("DELETE", f"/lots/{key}")
        s.no(410, "cast_back", "GET", f"/lots/{key}")

    def tag_optional(s): assert s.patch(s.lot(), {"asking": 120}, If_Match=None).status == 428

    def stale_tags_pass(s):
        key = s.lot()
        was = s.tag(f"/lots/{key}")
        s.patch(key, {"asking": 120})
        assert s.patch(key, {"asking": 130}, If_Match=was).json["refused"]["word"] == "stale"

    def key_ignores_body(s):
        v = s.vessel()
        s.ok("POST", "/lots", s.lot_body(v), Once="k", status=201)
        s.no(422, "key_used", "POST", "/lots", s.lot_body(v, asking=3), Once="k")

    def key_ignores_path(s):
        s.bid(s.up(), 100, Once="k")
        s.no(422, "key_used", "POST", f"/lots/{s.up()}/bids", {"pence": 100}, "dee", Once="k")

    def any_media(s): s.no(415, "not_json", "POST", "/vessels", {"reg": "SK1", "name": "Ada"}, Content_Type="text/plain")
    def accept_ignored(s): s.no(406, "json_only", "GET", "/species", Accept="text/html")
    def run_out_is_who(s): s.no(401, "run_out", "GET", "/vessels", who=None, **bearer(token("cal", "skipper", exp=1577836800)))
    def licence_401(s): s.no(403, "no_licence", "POST", f"/lots/{s.lot()}/clear", who="hal")

    def outbid_is_422(s):
        key = s.up()
        s.bid(key, 200, "eli")
        s.no(409, "outbid", "POST", f"/lots/{key}/bids", {"pence": 100}, "dee")

    def short_paid_200(s):
        r = s.pay(s.invoice()["id"], 10)
        assert r.status == r.json["refused"]["status"] == 402

    def lower_bids(s):
        key = s.up()
        s.bid(key, 200, "eli")
        assert s("POST", f"/lots/{key}/bids", {"pence": 100}, "dee").status == 409

    def bids_on_catalogued(s):
        key = s.lot()
        s.do(key, "clear", "catalogue")
        s.no(409, "not_up", "POST", f"/lots/{key}/bids", {"pence": 100}, "dee")

    def undersized_edge(s):
        s.lot(crates=[{"net_g": 500}])
        refused_lot(s, 422, "undersized", crates=[{"net_g": 499}])

    def second_withdrawal(s):
        key = s.lot()
        s.do(key, "withdraw", who="anna")
        s.no(409, "too_late", "POST", f"/lots/{key}/withdraw")

    def missing_is_unfit(s): s.no(422, "left_out", "POST", "/vessels", {"reg": "SK1"})
    def last_names_code(s): s.no(422, "not_known", "POST", "/vessels", {"colour": 1, "reg": "SK1", "name": 3})
    def latin_breaks(s): s.no(400, "garbled", "POST", "/vessels", raw='{"name":"caf\xe9"}'.encode("latin-1"))

    def status_in_body(s):
        v = s.vessel()
        s.lot(v, words="x")
        s.no(409, "taken", "POST", "/lots", s.lot_body(v, words="x"))

    def trace_missing(s): assert set(s("GET", "/lots/nothing").json["refused"]) == {"word", "status", "says", "trace"}

    def trace_differs(s):
        r = s("POST", "/vessels", {})
        assert r.json["refused"]["trace"] == r.h["hall-trace"]

    def says_no_name(s): assert s("POST", "/vessels", {"reg": "SK1"}).json["refused"]["says"] == "name is missing"
    def where_as_texts(s): assert s("POST", "/vessels", {"colour": 1}).json["where"][0] == {"at": "colour"}
    def where_missing_at_401(s): s.no(401, "who", "GET", "/vessels", who=None)
    def one_at_a_time(s): assert s.places("POST", "/vessels", {"reg": 3, "colour": 1}) == ["reg", "colour", "name"]
    def places_as_pointers(s): assert s.places("POST", "/lots", s.lot_body(s.vessel(), crates=[{"net_g": 3}])) == ["crates.0.net_g"]
    def place_of_first(s): assert s.places("POST", "/lots", s.lot_body(s.vessel(), crates=[{"net_g": 300}, {"net_g": 3}])) == ["crates.1.net_g"]
    def no_refusal_header(s): assert s.no(409, "not_cleared", "POST", f"/lots/{s.lot()}/catalogue", who="gus").h["hall-refusal"] == "not_cleared"

    # ---------------------------------------------------------------- limits
    def rate_of_everyone(s):
        v = s.vessel()
        for n in range(40):
            assert s.crew(v, person(n)).status == 201
        assert s.crew(v, "zz").json["refused"]["word"] == "slow_down"
        assert s.crew(s.vessel("bo"), "zz", who="bo").status == 201

    def window_slides(s):
        v = s.vessel()
        for n in range(20):
            s.crew(v, person(n))
        s.clock("PT40S")
        for n in range(20, 40):
            assert s.crew(v, person(n)).status == 201
        s.clock("PT21S")
        assert s.crew(v, "zz").status == 201

    def no_burst(s):
        key = s.up()
        assert [s("POST", f"/lots/{key}/bids", {"pence": n + 1}, "dee").status for n in range(80)] == [201] * 80

    def bucket_never_fills(s):
        key = s.up()
        last = [s("POST", f"/lots/{key}/bids", {"pence": n + 1}, "dee").status for n in range(90)][-1]
        assert last == 429
        s.clock("PT10S")
        s.bid(key, 500)

    def rate_names(s): assert s("GET", "/vessels").h["hall-limit"] == "900"
    def reset_in_ms(s): assert 0 <= int(s("GET", "/vessels").h["hall-reset"]) <= 60
    def left_not_counted(s): assert [s("GET", "/vessels").h["hall-left"] for n in range(2)] == ["899", "898"]

    def no_retry_after(s):
        v = s.vessel()
        for n in range(41):
            r = s.crew(v, person(n))
        assert r.status == 429 and 1 <= int(r.h["retry-after"]) <= 60 and r.h["hall-left"] == "0"

    def quota_140(s):
        morning(s)
        v = s.vessel()
        for n in range(150):
            s.lot(v)
        assert s.no(403, "enough", "POST", "/lots", s.lot_body(v)).h["retry-after"]

    def quota_of_everyone(s):
        morning(s)
        v, w = s.vessel(), s.vessel("bo")
        for n in range(150):
            s.lot(v)
        s.lot(w, "bo")

    def day_from_noon(s):
        morning(s)
        v = s.vessel()
        for n in range(150):
            s.lot(v)
        s.clock("PT13H")
        s.no(403, "enough", "POST", "/lots", s.lot_body(v))
        s.clock("PT11H")
        s.lot(v)

    def seven_hooks(s):
        for n in range(6):
            s.hook()
        s.no(403, "enough", "POST", "/hooks", {"url": "http://127.0.0.1:9/"})

    def hooks_counted_together(s):
        for n in range(6):
            s.hook()
        s.hook("bo")

    def mates_of_all(s):
        v, w = s.vessel(), s.vessel()
        assert [s.crew(v, person(n), "mate").status for n in range(4)] == [201, 201, 201, 403]
        assert s.crew(w, "bo", "mate").status == 201

    def hands_are_mates(s):
        v = s.vessel()
        for n in range(3):
            s.crew(v, person(n))
        assert s.crew(v, "bo", "mate").status == 201

    def per_to_100(s):
        for n in range(21):
            s.vessel()
        got = s.ok("GET", "/vessels?per=50")
        assert len(got["vessels"]) == 20 and got["total"] == 21

    def per_refused(s): s.ok("GET", "/vessels?per=50")

    def pages_overlap(s):
        regs = [s.vessel() for n in range(4)]
        assert ids(s, "/vessels?per=2&page=2", name="vessels", key="reg") == regs[2:]

    def next_on_last(s):
        s.vessel(), s.vessel()
        assert 'rel="next"' not in links(s("GET", "/vessels?per=2")) and 'rel="next"' in links(s("GET", "/vessels?per=1"))

    def links_forget(s):
        s.vessel(), s.vessel()
        assert '</auction/vessels?port=wick&per=1&page=2>; rel="next"' in links(s("GET", "/vessels?port=wick&per=1"))

    def total_of_page(s):
        s.vessel(), s.vessel()
        assert s.ok("GET", "/vessels?per=1")["total"] == 2

    def take_31(s): s.no(400, "garbled", "GET", "/lots?take=31")
    def take_clamped(s): s.no(400, "garbled", "GET", "/lots?take=100")

    def cursor_repeats(s):
        keys = [s.lot() for n in range(3)]
        first = s.ok("GET", "/lots?by=price&take=2")
        assert ids(s, f"/lots?by=price&take=2&from={first['onward']}") == keys[2:]

    def cursor_any_query(s):
        for n in range(3):
            s.lot()
        onward = s.ok("GET", "/lots?by=price&take=1")["onward"]
        s.ok("GET", f"/lots?by=price&take=2&from={onward}")
        s.no(400, "garbled", "GET", f"/lots?by=price&take=1&grade=B&from={onward}")

    def onward_on_last(s):
        s.lot()
        assert s.ok("GET", "/lots")["onward"] is None

    def more_always(s):
        s.lot(), s.lot()
        assert s.ok("GET", "/lots?take=2")["more"] is False and s.ok("GET", "/lots?take=1")["more"] is True

    def no_kind_in_page(s): assert s.ok("GET", "/lots") == {"lots": [], "onward": None, "more": False, "kind": "lots"}
    def bids_clamped(s): s.no(400, "garbled", "GET", f"/lots/{s.up()}/bids?take=11", who="dee")

    def count_of_all_bids(s):
        key = s.up()
        s.bid(key, 100, "eli"), s.bid(key, 200)
        assert s.ok("GET", f"/lots/{key}/bids", who="dee")["count"] == 1

    def past_included(s):
        a, b = s.invoice()["id"], s.invoice()["id"]
        assert ids(s, f"/invoices?past={a}", "dee", "invoices") == [b]

    def until_from_start(s):
        keys = [s.invoice()["id"] for n in range(4)]
        got = s.ok("GET", f"/invoices?until={keys[3]}&take=2", who="dee")
        assert [i["id"] for i in got["invoices"]] == keys[1:3] and got["more"] is True

    def any_mark(s): s.no(400, "garbled", "GET", "/invoices?past=inv_nothing", who="dee")
    def body_edge(s): s.no(413, "too_big", "POST", "/vessels", raw=b'{"reg":"SK1","name":"Ada"}'.ljust(12289))
    def body_12000(s): s.ok("POST", "/vessels", raw=b'{"reg":"SK1","name":"Ada"}'.ljust(12288), status=201)

    # ---------------------------------------------------------------- versioning
    def grams_cut_off(s):
        body = {**s.lot_body(s.vessel()), "crates": [{"kilos": 2.0007}]}
        assert s.read(s.ok("POST", "/lots", body, ed="1", status=201)["id"])["weight_g"] == 2001

    def expanded_new_edition(s): assert s.read(s.lot(), query="?with=vessel", ed="1")["vessel"]["flag"] == "GB"

    def new_names_in_old(s):
        body = {**s.lot_body(s.vessel()), "crates": [{"kilos": 2}], "reserve": 3}
        s.no(422, "not_known", "POST", "/lots", body, ed="1")

    def old_lists_new_names(s):
        s.lot(reserve=20)
        row = s.ok("GET", "/lots", ed="1")["lots"][0]
        assert row["minimum"] == 20 and "reserve" not in row

    def tags_in_old_lists(s):
        s.lot(tags=["a"])
        assert "tags" not in s.ok("GET", "/lots", ed="1")["lots"][0]

    def grade_not_carried(s): assert s.read(s.lot(grade="A"), ed="1")["grade"] == "prime"

    def prime_unknown(s):
        key = s.lot(grade="A")
        assert ids(s, "/lots?grade=prime", ed="1") == [key]
        s.no(400, "garbled", "GET", "/lots?grade=prime")

    def grams_in_old(s): assert s.read(s.lot(), ed="1")["crates"][0]["kilos"] == 2.0
    def no_flag(s): assert s.ok("GET", f"/vessels/{s.vessel()}", ed="1")["flag"] == "GB"
    def ticket_in_old(s): s.no(404, "nowhere", "GET", f"/lots/{s.lot()}/ticket", ed="1")

    def old_patch_drops_tags(s):
        key = s.lot(tags=["a"])
        assert s.patch(key, {"words": "firm"}, ed="1").status == 200
        assert s.read(key)["tags"] == ["a"]

    def hooks_not_pinned(s):
        q = s.hook(ed="1")
        s.lot(grade="A", reserve=20)
        fish = q.fish(1)[0]
        assert fish["grade"] == "prime" and fish["minimum"] == 20 and "tags" not in fish

    def any_edition(s): s.no(400, "garbled", "GET", "/species", ed="3")

    def oldest_by_default(s): assert "flag" not in s.ok("GET", f"/vessels/{s.vessel()}")
    def edition_not_named(s): assert [s("GET", "/species").h["hall-edition"], s("GET", "/species", ed="1").h["hall-edition"]] == ["2", "1"]
    def tag_of_no_edition(s): assert s.tag("/species/cod") != s.tag("/species/cod", ed="1")

    def lists_undeprecated(s):
        r = s("GET", "/lots", ed="1")
        assert r.h["deprecation"] == "@1769904000" and r.h["sunset"] == "Wed, 01 Sep 2027 00:00:00 GMT"
        assert 'rel="deprecation"' in links(r) and 'rel="successor-version"' in links(r)
        assert "deprecation" not in s("GET", "/lots").h

    def deprecation_as_date(s): assert s("GET", "/species", ed="1").h["deprecation"] == "@1769904000"

    def never_sunset(s):
        s.clock(at="2027-08-31T23:00:00Z")
        s.ok("GET", "/species", ed="1")
        s.clock(at="2027-09-01T00:00:00Z")
        s.no(410, "old_edition", "GET", "/species", ed="1")
        s.ok("GET", "/species")


def morning(s):
    """The first hour of a day, so that the quota's day is not over before the proof is."""
    at = s.clock()
    s.clock(f"PT{24 - int(at[11:13])}H")


def well_sealed(s, **more):
    q = s.hook()
    s.lot(**more)
    q.wait(1)
    headers, text, said = q.got[0]
    stamp, seal = headers["hall-seal"].split(";")
    signed = f"{said['mark']}:{stamp[3:]}:".encode() + text
    assert seal == "seal=" + base64.b64encode(hmac.new(q.secret.encode(), signed, hashlib.sha256).digest()).decode()


PROOFS = {n.replace("_", "-"): f for n, f in vars(Proofs).items() if not n.startswith("__")}


def run(name, fault):
    s = Hall(fault)
    try:
        PROOFS[name](s)
        return None
    except Exception as e:
        return f"{type(e).__name__}: {str(e)[:300]} line {e.__traceback__.tb_next.tb_lineno if e.__traceback__.tb_next else 0}"
    finally:
        s.close()


def shown(name):
    right, faulty = run(name, None), run(name, name)
    wrong = [f"{name}: the right service fails it: {right}"] if right else []
    if faulty is None:
        wrong.append(f"{name}: the faulty service passes it")
    elif not faulty.startswith(("AssertionError", "KeyError", "TypeError")):
        wrong.append(f"{name}: the faulty service breaks down: {faulty}")
    return wrong


if __name__ == "__main__":
    with open(os.path.join(HERE, "stranger.json")) as f:
        stated = [x["id"] for x in json.load(f)["faults"]]
    wrong = [f"{n}: a proof is wanted for each fault, and a fault for each proof" for n in set(stated) ^ set(PROOFS)]
    names = sys.argv[1:] or stated
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for found in pool.map(shown, names):
            wrong += found
    print("\n".join(wrong) or f"all {len(names)} faults are shown")
    sys.exit(bool(wrong))
