"""What things look like: fields, what is taken and shown of them, and the first edition's words for them."""
import re
from fault import F

USERS = ("skipper", "buyer", "auctioneer")
GRADES, PORTS, FLAGS = ("A", "B", "C"), ("ayr", "wick", "lerwick"), ("GB", "IE")
LOT_STATES = ("landed", "catalogued", "up", "sold", "unsold", "withdrawn", "spoiled")
KINDS = ("lot.landed", "lot.regraded", "lot.tagged", "lot.up", "lot.over", "lot.removed", "bid.made", "bid.fallen",
         "invoice.drawn", "invoice.paid", "invoice.near", "vessel.moved")
ASKED = set(KINDS) | {k.split(".")[0] + ".*" for k in KINDS} | {"*"}
URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(//)?[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+\Z")


class Unfit(Exception):
    def __init__(self, sort="value", at=""):
        self.sort, self.at = sort, at


def text(least=0, most=10**9, pattern=None):
    rx = pattern and re.compile(pattern)

    def fits(v, ed):
        if not isinstance(v, str):
            raise Unfit("type")
        size = len(v.encode()) if F("length-in-bytes") else len(v)
        if not least <= size <= most or (rx and not (rx.match if F("pattern-prefix") else rx.fullmatch)(v)):
            raise Unfit
        return v
    return fits


def whole(least=-(2**63), most=2**63 - 1):
    def fits(v, ed):
        if F("digits-as-text") and isinstance(v, str) and v.isdigit():
            v = int(v)
        if isinstance(v, bool) or not isinstance(v, (int, float)):
            raise Unfit("type")
        if isinstance(v, float):
            if v != v or v in (float("inf"), float("-inf")) or v != int(v):
                if F("halves-rounded") and v == v and abs(v) < 1e9:
                    v = round(v)
                else:
                    raise Unfit("type")
            v = int(v)
        if not least <= v <= most:
            raise Unfit
        return v
    return fits


def among(words, old=None):
    def fits(v, ed):
        if not isinstance(v, str):
            raise Unfit("type")
        if old and ed == "1":
            v = old.get(v, None if v in old.values() else v)
        if F("ports-any-case") and words is PORTS and v:
            v = v.lower()
        if v not in words:
            raise Unfit
        return v
    return fits


def yes_no(v, ed):
    if not isinstance(v, bool):
        raise Unfit("type")
    return v


def listed(item, most, unique=False):
    def fits(v, ed):
        if not isinstance(v, list):
            raise Unfit("type")
        if len(v) > most:
            raise Unfit
        out = []
        for n, one in enumerate(v):
            try:
                out.append(item(one, ed))
            except Unfit as e:
                raise Unfit(e.sort, f".{n}") from None
        if unique and len(set(out)) < len(out) and not F("tags-twice"):
            raise Unfit
        return out
    return fits


def weight(v, ed):
    if ed != "1":
        return whole(100, 60000)(v, ed)
    if isinstance(v, bool) or not isinstance(v, (int, float)):
        raise Unfit("type")
    if not 0.1 <= v <= 60:
        raise Unfit
    grams = v * 1000.0
    return int(grams) if F("grams-cut-off") else int(grams + 0.5)


def address(v, ed):
    text(0, 200)(v, ed)
    if not URI.match(v) and not F("url-anything"):
        raise Unfit
    return v


def kind(v, ed):
    text()(v, ed)
    if v not in ASKED and not F("kind-anything"):
        raise Unfit
    return v


RO = {"ro": True}


def need(fits, **more):
    return {"fits": fits, "need": True, **more}


SHAPES = {
    "species": {
        "code": need(text(pattern="[a-z]{3,8}"), imm=True),
        "name": need(text(2, 40)),
        "least_g": need(whole(0, 50000), default=0),
    },
    "vessel": {
        "reg": need(text(pattern="[A-Z]{2}[0-9]{1,4}"), imm=True),
        "name": need(text(2, 40)),
        "port": need(among(PORTS), default="lerwick" if F("port-default") else "wick"),
        "owner": RO, "lots": RO, "landed_g": RO,
        "state": need(among(("active", "laid_up")), by_update=True),
    },
    "crew": {
        "id": RO,
        "vessel": need(text(), imm=True),
        "person": need(text(pattern="[a-z]{2,12}"), imm=True),
        "role": need(among(("mate", "hand")), default="hand"),
    },
    "lot": {
        "id": RO,
        "vessel": need(text(), imm=True),
        "number": RO,
        "species": need(text()),
        "grade": need(among(GRADES, {"prime": "A"}), default="B"),
        "asking": need(whole(1, 999999 if F("asking-edge") else 1000000)),
        "reserve": need(whole(0, 1000000), default=0, visible=("skipper", "auctioneer")),
        "words": {"fits": text(0, 81 if F("words-81") else 80)},
        "tags": need(listed(text(1, 12), 5 if F("five-tags") else 4, True), default=[]),
        "seal": {"fits": text(pattern="[0-9a-f]{6}"), "wo": True},
        "crates": {"children": True, "need": True},
        "weight_g": RO, "bids": RO, "best": RO, "state": RO, "check": RO, "landed_at": RO, "changed_at": RO,
    },
    "crate": {"id": RO, "lot": need(text(), imm=True), "net_g": need(weight)},
    "bid": {"id": RO, "lot": need(text(), imm=True), "buyer": RO, "pence": need(whole(0 if F("bid-of-nothing") else 1, 5000000)), "state": RO},
    "invoice": {"id": RO, "lot": RO, "buyer": RO, "pence": RO, "state": RO, "due_at": RO},
    "hook": {
        "id": RO, "owner": RO,
        "url": need(address),
        "kinds": need(listed(kind, 8), default=["*"]),
        "secret": {"ro": True, "once": True},
        "live": need(yes_no, default=True),
    },
}
IDS = {"species": "code", "vessel": "reg"}
OLD = {("lot", "minimum"): "reserve", ("crate", "kilos"): "net_g"}
NEW = {("lot", "reserve"): "minimum", ("crate", "net_g"): "kilos"}
UNSEEN = {("lot", "tags")}


def named(res, key, ed):
    """Today's name of a field that an edition calls `key`, or nothing."""
    if ed == "1":
        if (res, key) in OLD:
            return OLD[res, key]
        if (res, key) in NEW or (res, key) in UNSEEN:
            return key if F("new-names-in-old") and key == "reserve" else None
        if (res, key) == ("vessel", "flag"):
            return "flag"
    return key if key in SHAPES[res] else None


def called(res, name, ed):
    """What an edition calls the field, or nothing where it has none."""
    if ed != "1":
        return name
    return None if (res, name) in UNSEEN else NEW.get((res, name), name)


def carried(res, name, value, ed):
    """A value as an edition says it."""
    if ed == "1" and (res, name) == ("lot", "grade") and value == "A":
        return "prime"
    if ed == "1" and (res, name) == ("crate", "net_g"):
        return value if F("grams-in-old") else value / 1000.0
    return value


def take(res, body, mode, ed, at="", refuse=False, less=(), fixed=None):
    """What a body says of a thing, in today's words, and what is wrong with it: (sort, place), as it was sent. `fixed` may be sent as it is alone."""
    if not isinstance(body, dict):
        return {}, [("type", at.rstrip("."))]
    said, bad = {}, []
    for key, v in body.items():
        place, name = at + key, named(res, key, ed)
        if name == "flag" and res == "vessel":
            if v not in FLAGS and not (v is None and mode == "update"):
                bad.append(("value", place))
            continue
        f = SHAPES[res].get(name) if name not in less else None
        if f is None:
            if not (F("unknown-in-patch") and mode == "update"):
                bad.append(("unknown", place))
        elif f.get("ro") or (f.get("by_update") and mode != "update") or (f.get("children") and mode != "create"):
            if refuse and not F("read-only-taken"):
                bad.append(("read_only", place))
        elif f.get("children"):
            if not isinstance(v, list):
                bad.append(("type", place))
            elif not 1 <= len(v) <= (7 if F("seven-crates") else 6):
                bad.append(("value", place))
            else:
                said[name] = []
                for n, one in enumerate(v):
                    got, wrong = take("crate", one, "create", ed, f"{place}.{n}.", less=("lot",))
                    said[name].append(got)
                    bad += [(s, (f"{place}.0.{p.rsplit('.', 1)[1]}" if F("place-of-first") and n else p)) for s, p in wrong]
        elif v is None:
            if mode == "update" and not f.get("need"):
                said[name] = None
            elif not (F("null-keeps") and mode == "update" and name == "asking"):
                bad.append(("type", place))
        else:
            try:
                said[name] = f["fits"](v, ed)
                if fixed and said[name] != fixed.get(name, said[name]):
                    bad.append(("value", place))
            except Unfit as e:
                if F("tags-unchecked-in-patch") and mode == "update" and name == "tags" and isinstance(v, list):
                    said[name] = v
                else:
                    bad.append((e.sort, place + e.at))
    if mode != "update":
        wrong = {p for _, p in bad}
        for name, f in SHAPES[res].items():
            word = called(res, name, ed)
            if f.get("by_update") or name in less or f.get("ro") or name in said:
                continue
            if "default" in f:
                if not any(p == at + str(word) or p.startswith(f"{at}{word}.") for p in wrong):
                    said[name] = f["default"]
            elif f.get("need") and not any(p == at + word or p.startswith(f"{at}{word}.") for p in wrong):
                bad.append(("missing", at + word))
    return said, bad
