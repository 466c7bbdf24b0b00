#!/usr/bin/env python3
"""The fish hall of Skerry: lots are landed, cleared, put up, bid for and paid. Python's own library alone, all in memory.

python3 service.py --port N --clock-port M [--fault NAME]
"""
import base64
import collections
import hashlib
import hmac
import json
import os
import re
import secrets
import string
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from datetime import datetime, timedelta, timezone
import wire
from fault import F
from shapes import GRADES, IDS, LOT_STATES, PORTS, SHAPES, called, carried, take

BASE, SITE = "/auction", "https://skerry.example/editions"
SECRET = os.environ.get("GAVEL_SECRET", "herring-under-the-ice").encode()
LOCK = threading.RLock()
SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000

# ------------------------------------------------------------------ the clock

MOVED = [0]


def now():
    return int(time.time() * 1000) + MOVED[0]


def iso(ms):
    d = datetime.fromtimestamp(0, timezone.utc) + timedelta(milliseconds=ms)
    return d.strftime("%Y-%m-%dT%H:%M:%S.") + f"{d.microsecond // 1000:03d}Z"


STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)\Z")


def instant(text):
    m = STAMP.match(text)
    if not m:
        raise ValueError
    zone = "+00:00" if m[4] in "Zz" else m[4]
    whole = datetime.fromisoformat(f"{m[1]}T{m[2]}{zone}")
    return whole.timestamp() * 1000 + float("0" + (m[3] or ".0")) * 1000


LASTING = re.compile(r"P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?\Z")


def lasting(text):
    w, d, h, m, s = (float(x or 0) for x in LASTING.match(text).groups())
    return int((((w * 7 + d) * 24 + h) * 60 + m) * MINUTE + s * SECOND)


def http_date(text):
    return datetime.fromisoformat(text + "T00:00:00+00:00").strftime("%a, %d %b %Y %H:%M:%S GMT")


# ------------------------------------------------------------------ refusals

WORDS = {
    "not_json": (415, "Send application/json."), "json_only": (406, "Answers are application/json."),
    "garbled": (400, "The request cannot be read."), "left_out": (422, "{} is missing"), "not_known": (422, "there is no {}"),
    "unfit": (422, "The body does not fit."), "who": (401, "Show a good badge or token."), "run_out": (401, "The token has run out."),
    "not_yours": (403, "This is not yours to do."), "no_licence": (403, "Your licence does not cover this."),
    "nowhere": (404, "There is nothing here."), "cast_back": (410, "It was cast back."), "no_such_thing": (422, "It refers to nothing."),
    "no_way": (405, "The path does not take this method."), "taken": (409, "That is taken."), "not_now": (409, "Not in this state."),
    "stale": (412, "It has changed since."), "say_which": (428, "Send If-Match."), "key_used": (422, "The key was used for something else."),
    "busy": (409, "The same is under way."), "slow_down": (429, "Too many requests."), "enough": (403, "No more of these."),
    "too_big": (413, "Too big."), "old_edition": (410, "That edition is gone."), "broken": (500, "Something broke."),
    "not_cleared": (409, "Nobody has cleared it."), "reserve_not_met": (409, "The reserve was not met."),
    "too_late": (409, "It is up or over."), "short_paid": (402, "That is less than what is due."), "paid_already": (409, "It is paid."),
    "laid_up": (409, "The vessel is laid up."), "undersized": (422, "There is too little of it."), "not_up": (409, "The lot is not up."),
    "outbid": (409, "Somebody bids more."),
}
OWN = {"not_cleared", "reserve_not_met", "too_late", "short_paid", "paid_already", "laid_up", "undersized", "not_up", "outbid"}


class No(Exception):
    def __init__(self, word, where=(), headers=(), name=""):
        super().__init__(word)
        self.word, self.where, self.headers, self.name = word, list(where), list(headers), name

    def answer(self, c):
        status, says = WORDS[self.word]
        if F("outbid-is-422") and self.word == "outbid":
            status = 422
        if F("short-paid-200") and self.word == "short_paid":
            status = 200
        if F("cast-back-404") and self.word == "cast_back":
            status = 404
        if F("licence-401") and self.word == "no_licence":
            status = 401
        told = {"word": self.word, "status": status, "says": says.format(self.name), "trace": c.trace}
        if F("status-in-body") and self.word == "taken":
            told["status"] = 400
        if F("trace-missing") and status == 404:
            del told["trace"]
        if F("says-no-name") and self.word == "left_out":
            told["says"] = "something is missing"
        if F("trace-differs"):
            told["trace"] = c.trace[::-1]
        body = {"refused": told, "where": [{"at": p} for p in self.where]}
        if F("where-as-texts") and self.word == "not_known":
            body["where"] = self.where
        if F("where-missing-at-401") and status == 401:
            del body["where"]
        headers = list(self.headers)
        if not (F("no-refusal-header") and status == 409):
            headers.append(("Hall-Refusal", self.word))
        return status, headers, body


def unfit(bad):
    """Refuses what was found wrong: the first that was sent names the word."""
    if bad:
        sort, place = bad[-1] if F("last-names-code") else bad[0]
        word = {"missing": "left_out", "unknown": "not_known"}.get(sort, "unfit")
        if F("missing-is-unfit") and word == "left_out":
            word = "unfit"
        where = [p for _, p in (bad[:1] if F("one-at-a-time") else bad)]
        if F("places-as-pointers"):
            where = ["/" + p.replace(".", "/") for p in where]
        raise No(word, where, name=place)


# ------------------------------------------------------------------ what is kept

T = {k: {} for k in ("species", "vessel", "crew", "lot", "crate", "bid", "invoice", "hook", "gone")}
DRAWN = collections.Counter()
SPENT = collections.Counter()
KEPT = {}
PENDING = []
QUEUES = {}
ALNUM = string.ascii_letters + string.digits
CROCK = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def random_of(n, letters=ALNUM):
    return "".join(secrets.choice(letters) for _ in range(n))


LAST_ULID = [0, 0]


def ulid():
    ms = now()
    LAST_ULID[:] = [ms, LAST_ULID[1] + 1] if ms == LAST_ULID[0] else [ms, secrets.randbits(79)]
    n = (ms << 80) | LAST_ULID[1]
    return "".join(CROCK[(n >> (5 * k)) & 31] for k in range(25, -1, -1))


T["species"]["cod"] = {"code": "cod", "name": "Cod", "least_g": 500}
if not F("no-ling"):
    T["species"]["ling"] = {"code": "ling", "name": "Ling", "least_g": 800}


def idof(res, row):
    return row[IDS.get(res, "id")]


def rows(res, **same):
    return [r for r in T[res].values() if all(r.get(k) == v for k, v in same.items())]


def store(res, row):
    T[res][idof(res, row)] = row
    return row


DERIVED = {
    "vessel": {
        "lots": lambda v: len(rows("lot", vessel=v["reg"])) if not F("lots-count-live") else len([x for x in rows("lot", vessel=v["reg"]) if x["state"] != "sold"]),
        "landed_g": lambda v: sum(weigh(x) for x in rows("lot", vessel=v["reg"]) if x["state"] != "spoiled" or F("spoiled-counts")),
    },
    "lot": {
        "weight_g": lambda x: weigh(x),
        "bids": lambda x: len([b for b in rows("bid", lot=x["id"]) if b["state"] == "standing" or F("retracted-count")]),
        "best": lambda x: best(x),
    },
}


def weigh(lot):
    crates = rows("crate", lot=lot["id"])
    return sum(k["net_g"] for k in (crates[:3] if F("three-crates-weigh") else crates))


def best(lot):
    standing = [b["pence"] for b in rows("bid", lot=lot["id"]) if b["state"] == "standing" or (F("retracted-is-best") and b["state"] == "retracted")]
    if not standing and F("best-of-none"):
        return 0
    return max(standing) if standing else None


def show(res, row, caller, ed, where="", once=False):
    """A row as its caller sees it in this edition."""
    user, out = caller and caller["user"], {}
    allowed = None
    if res == "invoice" and user == "skipper" and not (F("skippers-see-buyers") and where == "list"):
        allowed = ("id", "lot", "pence", "state")
    for name, f in SHAPES[res].items():
        word = called(res, name, ed)
        if F("old-lists-new-names") and where == "list" and name == "reserve":
            word = name
        if word is None and not (F("tags-in-old-lists") and where == "list"):
            continue
        word = word or name
        if allowed and name not in allowed:
            continue
        if f.get("wo") and not (F("seal-in-answers") and where == "update") and not (F("seal-in-events") and where == "event"):
            continue
        if f.get("once") and not once and not (F("secret-again") and where == "read"):
            continue
        if f.get("visible") and user not in f["visible"] and not (F("reserve-in-lists") and where == "list") and not (F("reserve-in-events") and where == "event"):
            continue
        if f.get("children"):
            if where != "event" or F("crates-in-events"):
                out[word] = [show("crate", k, caller, ed) for k in rows("crate", lot=row["id"])]
                if F("crates-reversed") and where == "list":
                    out[word].reverse()
            continue
        v = DERIVED[res][name](row) if name in DERIVED.get(res, ()) else row.get(name)
        if v is not None:
            out[word] = carried(res, name, v, "2" if F("grade-not-carried") and name == "grade" and where == "read" else ed)
    if res == "vessel" and ed == "1" and not F("no-flag"):
        out["flag"] = "GB"
    return out


def sealed(body, ed):
    return hashlib.sha256((ed + json.dumps(body, sort_keys=True)).encode()).hexdigest()[:20]


def tag(res, row, caller, ed):
    body = show(res, row, caller, ed)
    if F("tag-without-bids"):
        body = {k: v for k, v in body.items() if k not in ("bids", "best")}
    return sealed(body, "" if F("tag-of-no-edition") and res == "species" else ed)


# ------------------------------------------------------------------ who may

def owns(reg, c):
    v = T["vessel"].get(reg)
    return bool(v) and v["owner"] == c["id"]


def sails(reg, c):
    return next((m for m in rows("crew", vessel=reg) if m["person"] == c["id"]), None)


def mate(reg, c):
    m = sails(reg, c)
    if F("hands-land") and m:
        return True
    return bool(m) and m["role"] == "mate"


def reads(res, row, c, where=""):
    user = c and c["user"]
    if res == "species":
        return True
    if user is None:
        return False
    if res == "vessel":
        return True
    if res == "hook":
        return row["owner"] == c["id"]
    if user == "auctioneer":
        return True
    if res == "crew":
        return user == "skipper" and (owns(row["vessel"], c) or row["person"] == c["id"])
    if res in ("lot", "crate"):
        lot = row if res == "lot" else T["lot"].get(row["lot"])
        if user == "buyer":
            return lot["state"] in ("catalogued", "up", "sold", "unsold") or (F("buyers-read-landed") and where == "ticket")
        if F("crew-leaves-lists") and where == "list":
            return owns(lot["vessel"], c)
        return owns(lot["vessel"], c) or bool(sails(lot["vessel"], c))
    if res == "bid":
        return user == "buyer" and (row["buyer"] == c["id"] or (F("bids-of-all") and where == "list"))
    if res == "invoice":
        if user == "buyer":
            return row["buyer"] == c["id"] or (F("invoices-of-all") and where == "filtered")
        lot = T["lot"].get(row["lot"])
        return bool(lot) and owns(lot["vessel"], c)
    return False


ALL = {"skipper": None, "buyer": None, "auctioneer": None}
RULES = {
    "list species": {"*": None}, "read species": {"*": None}, "upsert species": {"auctioneer": None},
    "create vessel": {"skipper": None}, "list vessel": ALL, "read vessel": ALL, "update vessel": {"skipper": None}, "delete vessel": {"skipper": None},
    "create crew": {"skipper": None}, "read crew": {"skipper": None, "auctioneer": None}, "delete crew": {"skipper": None},
    "create lot": {"skipper": None}, "list lot": ALL, "read lot": ALL, "read ticket": ALL,
    "update lot": {"skipper": None, "auctioneer": None}, "delete lot": {"skipper": None}, "withdraw lot": {"skipper": None},
    "catalogue lot": {"auctioneer": None}, "offer lot": {"auctioneer": None},
    "clear lot": {"auctioneer": "inspect"}, "condemn lot": {"auctioneer": None if F("condemn-without-scope") else "inspect"},
    "knock lot": {"auctioneer": None if F("knock-without-scope") else "gavel"},
    "create bid": {"buyer": None}, "list bid": {"buyer": None, "auctioneer": None}, "read bid": {"buyer": None, "auctioneer": None}, "retract bid": {"buyer": None},
    "list invoice": ALL, "read invoice": ALL, "pay invoice": {"buyer": None},
    "create hook": ALL, "read hook": ALL, "delete hook": ALL,
}
if F("skippers-name-species"):
    RULES["upsert species"] = {"auctioneer": None, "skipper": None}
if F("skippers-offer"):
    RULES["offer lot"] = {"auctioneer": None, "skipper": None}
if F("species-for-known"):
    RULES["read species"] = ALL

BADGES = {
    "bdg_annaannaannaannaanna": ("skipper", "anna", []), "bdg_bobobobobobobobobobo": ("skipper", "bo", []),
    "bdg_deedeedeedeedeedeede": ("buyer", "dee", []), "bdg_elielielielielieliel": ("buyer", "eli", []),
    "bdg_gusgusgusgusgusgusgu": ("auctioneer", "gus", ["gavel", "inspect"]),
}


def unb64(s):
    return base64.urlsafe_b64decode(s + "=" * (-len(s) % 4))


def by_token(text):
    try:
        head, claims, seal = text.split(".")
        if json.loads(unb64(head))["alg"] != "HS256" and not F("any-alg"):
            raise No("who")
        good = hmac.new(SECRET, f"{head}.{claims}".encode(), hashlib.sha256).digest()
        if not hmac.compare_digest(good, unb64(seal)) and not F("unsigned-tokens"):
            raise No("who")
        c = json.loads(unb64(claims))
    except (ValueError, KeyError, TypeError):
        raise No("who") from None
    if not isinstance(c, dict) or (c.get("iss") != "https://id.skerry.example" and not F("any-issuer")):
        raise No("who")
    heard = c.get("aud")
    if "fish-hall" not in (heard if isinstance(heard, list) else [heard]) and not F("any-audience"):
        raise No("who")
    if c.get("exp", 1e12) + 5 < now() / 1000 and not F("tokens-for-ever"):
        raise No("who" if F("run-out-is-who") else "run_out")
    if c.get("nbf", 0) > now() / 1000 + 5:
        raise No("who")
    if c.get("trade") not in ALL or not isinstance(c.get("sub"), str):
        raise No("who")
    user = c["trade"]
    if F("token-auctioneers") and user == "auctioneer":
        user = "buyer"
    return {"user": user, "id": c["sub"], "scopes": (c.get("scope") or "").split(" ")}


def caller_of(r, accept):
    found = []
    for b in r.all("hall-badge") if "badge" in accept else []:
        got = BADGES.get(b)
        if got is None and F("badge-any-case"):
            got = next((v for k, v in BADGES.items() if k.lower() == b.lower()), None)
        if got is None and F("badge-begins"):
            got = next((v for k, v in BADGES.items() if b.startswith(k)), None)
        if got is None or len(r.all("hall-badge")) > 1:
            raise No("who")
        found.append({"user": got[0], "id": got[1], "scopes": got[2]})
    for a in r.all("authorization"):
        kind, _, rest = a.partition(" ")
        if kind.lower() != "bearer" or len(r.all("authorization")) > 1:
            raise No("who")
        found.append(by_token(rest.strip()))
    if len({(f["user"], f["id"]) for f in found}) > 1 and not F("two-callers"):
        raise No("who")
    if not found:
        return None
    return {**found[0], "scopes": sorted({s for f in found for s in f["scopes"]})}


# ------------------------------------------------------------------ rates

SEEN = collections.defaultdict(collections.deque)
WINDOW = {}
BUCKET = {}


def rate(c):
    """Counts in every rate that applies, or refuses; tells of the strictest."""
    who = (c.caller["user"], c.caller["id"]) if c.caller else c.r.address
    t, told, adds = now(), [], []
    if F("rate-of-everyone") and c.op == "create crew":
        who = "all"
    d = SEEN[who]
    while d and d[0] <= t - MINUTE:
        d.popleft()
    limit = 900
    wait = 0
    if len(d) >= limit:
        wait = d[0] + MINUTE - t
    else:
        adds.append(lambda: d.append(t))
    told.append((limit, limit - len(d) - 1, (d[0] + MINUTE - t) if d else MINUTE))
    if c.op == "create bid" and c.caller and c.caller["user"] == "buyer":
        cap = 60 if F("no-burst") else 80
        left, at = BUCKET.get(who, (cap, t))
        left = min(cap, left + ((t - at) / 1000 if not F("bucket-never-fills") else 0))
        if left < 1:
            wait = max(wait, (1 - left) * 1000)
        else:
            adds.append(lambda kept=left - 1: BUCKET.__setitem__(who, (kept, t)))
        told.append((60, int(left) - 1, 1000))
    if c.op == "create crew":
        begun, n = WINDOW.get(who, (t, 0))
        if t - begun >= MINUTE:
            begun, n = t, 0
        if n >= 40:
            wait = max(wait, begun + MINUTE - t)
        else:
            adds.append(lambda: WINDOW.__setitem__(who, (t if F("window-slides") else begun, n + 1)))
        told.append((40, 40 - n - 1, begun + MINUTE - t))
    limit, rest, reset = min(told, key=lambda x: x[1])
    names = ("X-Limit", "X-Left", "X-Reset") if F("rate-names") else ("Hall-Limit", "Hall-Left", "Hall-Reset")
    seconds = reset if F("reset-in-ms") else -(-int(reset) // 1000)
    c.told = [(names[0], str(limit)), (names[1], str(max(rest, 0) + (1 if F("left-not-counted") else 0))), (names[2], str(seconds))]
    if wait > 0:
        c.told = [(names[0], str(limit)), (names[1], "0"), (names[2], str(seconds))]
        raise No("slow_down", headers=[] if F("no-retry-after") else [("Retry-After", str(max(1, -(-int(wait) // 1000))))])
    for add in adds:
        add()


# ------------------------------------------------------------------ events

def wanted(hook, word):
    return any(k == "*" or k == word or (k.endswith(".*") and word.startswith(k[:-1])) or (F("star-of-any") and k.endswith(".*")) for k in hook["kinds"])


def emit(word, res, row, render, to=None):
    """Told to every hook that asks for it and whose maker may read the row."""
    mark = "evt_" + random_of(20)
    for hook in T["hook"].values():
        if not wanted(hook, word) or (not hook["live"] and not F("told-when-off")):
            continue
        maker = {"user": hook["_user"], "id": hook["owner"]}
        if to is not None:
            if not to(hook) and not F("vessel-moved-to-all"):
                continue
        elif not reads(res, row, maker) and not (F("bids-told-to-all") and res == "bid"):
            continue
        PENDING.append({"hook": hook["id"], "place": (hook["id"], res, idof(res, row)), "word": word, "mark": mark, "when": iso(now()),
                        "render": render, "maker": maker, "ed": "2" if F("hooks-not-pinned") else hook["_ed"], "tries": 0, "due": now(), "failed_since": None})


def whole(res, row):
    return lambda e: show(res, row, e["maker"], e["ed"], "event")


def told_over(before, after):
    if F("bin-is-silent") and after["state"] == "spoiled":
        return
    if F("lapse-is-silent") and before["state"] == "up" and after["state"] == "unsold":
        return
    was = after["state"] if F("before-is-after") else before["state"]
    emit("lot.over", "lot", after, lambda e: {"lot": after["id"], "before": was, "after": after["state"]})


def queue_up():
    for e in PENDING:
        if "body" not in e:
            fish = e.pop("render")(e)
            e["body"] = {"mark": e["mark"], "word": e["word"], "when": e["when"], "fish": fish}
            if F("envelope-word") and e["word"] == "invoice.drawn":
                e["body"]["word"] = "invoice.made"
        place = (e["mark"], e["hook"]) if F("overtakes") else e["place"]
        QUEUES.setdefault(place, []).append(e)
    PENDING.clear()


WAITS = [10 * SECOND, 2 * MINUTE] if F("two-retries") else [10 * SECOND, 2 * MINUTE, 30 * MINUTE]
UNDER_WAY = set()


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *a):
        return None


OPEN = urllib.request.build_opener(Stay) if not F("follows-redirects") else urllib.request.build_opener()


def attempt(place, e):
    with LOCK:
        hook = T["hook"].get(e["hook"])
        if not hook or (not hook["live"] and not F("told-when-off")):
            QUEUES.pop(place, None)
            UNDER_WAY.discard(place)
            return
        if F("new-mark-on-retry") and e["tries"]:
            e["body"]["mark"] = e["mark"] = "evt_" + random_of(20)
        text = json.dumps(e["body"], ensure_ascii=False, separators=(",", ":")).encode()
        stamp = str(now() // 1000)
        signed = f"{e['mark']}:{stamp}:".encode() + text
        if F("seal-of-ascii"):
            signed = f"{e['mark']}:{stamp}:".encode() + json.dumps(e["body"], separators=(",", ":")).encode()
        if F("seal-without-mark"):
            signed = f"{stamp}:".encode() + text
        seal = base64.b64encode(hmac.new(hook["secret"].encode(), signed, hashlib.sha256).digest()).decode()
        headers = {"Content-Type": "application/json", "Hall-Seal": f"at={stamp};seal={seal}", "Hall-Kind": e["word"]}
        if F("no-kind-header"):
            del headers["Hall-Kind"]
        url = hook["url"]
    status, later = 0, 0
    try:
        with OPEN.open(urllib.request.Request(url, text, headers, method="POST"), timeout=5) as got:
            status = got.status
    except urllib.error.HTTPError as bad:
        status = bad.code
        later = int(bad.headers.get("Retry-After") or 0) if (bad.headers.get("Retry-After") or "0").isdigit() else 0
        bad.close()
    except Exception:
        status = 0
    with LOCK:
        queue = QUEUES.get(place, [])
        hook = T["hook"].get(e["hook"])
        if 200 <= status < 300 or (F("refusals-accepted") and 400 <= status < 500):
            if hook:
                store("hook", {**hook, "_failing": None})
            queue[:] = queue[1:]
        elif hook:
            since = hook.get("_failing") or now()
            off = status == 410 or now() - since >= DAY
            store("hook", {**hook, "_failing": since, "live": hook["live"] and (not off or F("never-disabled"))})
            e["tries"] += 1
            if e["tries"] > len(WAITS):
                queue[:] = queue[1:]
            else:
                e["due"] = now() + max(WAITS[e["tries"] - 1], later * 1000)
        else:
            queue[:] = []
        if not queue:
            QUEUES.pop(place, None)
        UNDER_WAY.discard(place)


def deliver():
    while True:
        time.sleep(0.015)
        with LOCK:
            tick()
            t = now()
            due = [(p, q[0]) for p, q in QUEUES.items() if q and p not in UNDER_WAY and q[0]["due"] <= t][:40]
            UNDER_WAY.update(p for p, _ in due)
        for p, e in due:
            threading.Thread(target=attempt, args=(p, e), daemon=True).start()


# ------------------------------------------------------------------ changes and what follows from them

class Change:
    """All of it is kept, or nothing is."""

    def __enter__(self):
        self.was = {k: dict(v) for k, v in T.items()}, DRAWN.copy(), SPENT.copy()
        PENDING.clear()

    def __exit__(self, kind, value, tb):
        if kind is not None:
            if F("told-though-refused") and getattr(value, "word", "") == "enough":
                queue_up()
            PENDING.clear()
            for k, v in self.was[0].items():
                T[k] = v
            if not F("numbers-lost"):
                DRAWN.clear()
                DRAWN.update(self.was[1])
            SPENT.clear()
            SPENT.update(self.was[2])
        else:
            queue_up()


LIVE_LOT = ("landed", "catalogued", "up")


def unique(res, row):
    others = [r for r in T[res].values() if idof(res, r) != idof(res, row)]
    if res == "species":
        fold = (lambda s: s) if F("names-mind-case") else str.lower
        clash = any(fold(r["name"]) == fold(row["name"]) for r in others)
    elif res == "crew":
        clash = any((r["vessel"], r["person"]) == (row["vessel"], row["person"]) for r in others) and not F("signed-twice")
    elif res == "lot":
        live = LIVE_LOT + (LOT_STATES if F("words-stay-taken") else ())
        clash = row.get("words") is not None and row["state"] in live and any(
            r.get("words") == row["words"] and (r["vessel"] == row["vessel"] or F("words-of-all-vessels")) and r["state"] in live for r in others)
    elif res == "bid":
        live = ("standing", "retracted") if F("retracted-bids-hold") else ("standing",)
        clash = row["state"] in live and any(r["lot"] == row["lot"] and r["pence"] == row["pence"] and r["state"] in live for r in others)
    else:
        clash = False
    if clash:
        raise No("taken")


def put(res, row, write=True):
    unique(res, row)
    if res == "lot" and write:
        row = {**row, "changed_at": iso(now())}
    return store(res, row)


def move_lot(lot, state):
    after = {**lot, "state": state, "_since": now()}
    if F("transitions-untouched") and state == "withdrawn":
        return put("lot", after, write=False)
    return put("lot", after)


def bin_lot(lot):
    if lot["state"] not in LIVE_LOT:
        return
    after = move_lot(lot, "spoiled")
    told_over(lot, after)
    for b in rows("bid", lot=lot["id"]):
        if b["state"] == "standing" and not F("bids-stay"):
            fall(b, "void")


def fall(b, state):
    after = put("bid", {**b, "state": state})
    if not (F("retract-is-silent") and state == "retracted"):
        emit("bid.fallen", "bid", after, lambda e: {"id": after["id"]} if F("ref-as-map") else after["id"])
    return after


def lapse(lot):
    after = move_lot(lot, "unsold")
    told_over(lot, after)


def remind(inv):
    put("invoice", {**inv, "state": "overdue", "_reminded": True})


def near(inv):
    store("invoice", {**inv, "_near": True})
    if not F("near-is-silent"):
        emit("invoice.near", "invoice", inv, whole("invoice", T["invoice"][inv["id"]]))


LASTS = 45 * MINUTE


def tick():
    """What the clock brings about, in the order in which it was due."""
    while True:
        t, due = now(), []
        for lot in T["lot"].values():
            if lot["state"] == "up":
                begun = lot["_born"] if F("lapse-from-landing") else lot["_since"]
                lasts = 60 * MINUTE if F("hour-up") else LASTS
                if begun + lasts <= t:
                    due.append((begun + lasts, "lot", lot["id"], lapse))
        for i in T["invoice"].values():
            if not i.get("_near") and i["_due"] - (12 * HOUR if F("near-at-12h") else DAY) <= t:
                due.append((i["_due"] - DAY, "invoice", i["id"], near))
            if i["state"] in (("due", "short") if F("reminds-short") else ("due",)) and i["_due"] <= t and not F("never-reminds"):
                due.append((i["_due"], "invoice", i["id"], remind))
        if not due:
            return
        due.sort(key=lambda d: d[0])
        _, res, key, act = due[0]
        with Change():
            act(T[res][key])


def kept_lot(key):
    g = T["gone"].get(key)
    return g if g and g["_gone"] + (3 if F("kept-three-days") else 7) * DAY > now() else None


def find_lot(key, c, where=""):
    lot = T["lot"].get(key)
    if lot is None:
        g = kept_lot(key)
        if g and reads("lot", g, c.caller):
            raise No("cast_back")
        raise No("nowhere")
    if not reads("lot", lot, c.caller, where):
        raise No("not_yours" if F("foreign-lots-403") and where == "read" else "nowhere")
    return lot


def readable(res, key, c):
    row = T[res].get(key)
    if row is None or not reads(res, row, c.caller):
        raise No("nowhere")
    return row


def ours(ok):
    if not ok:
        raise No("not_yours")


def matches(c, res, row, must=False):
    """If-Match, as this caller would read the row now."""
    sent = ", ".join(c.r.all("if-match"))
    if not sent:
        if must and not F("tag-optional"):
            raise No("say_which")
        return
    if row is None:
        raise No("stale")
    if sent.strip() == "*":
        return
    mine = tag(res, row, c.caller, c.ed)
    for one in sent.split(","):
        one = one.strip()
        if one.startswith("W/") and F("weak-tags-match"):
            one = one[2:]
        m = re.fullmatch(r'"([^"]*)"', one)
        if m and m[1].split(".")[0] == mine:
            return
    if not F("stale-tags-pass"):
        raise No("stale")


# ------------------------------------------------------------------ operations

def location(*parts):
    return [("Location", ("" if F("location-at-root") else BASE) + "".join("/" + p for p in parts))]


def one(c, res, row, where="read"):
    """The answer of a read: its tag, and 304 where it is known."""
    body = show(res, row, c.caller, c.ed, where)
    base = mark = tag(res, row, c.caller, c.ed)
    if res == "lot":
        body = expanded(c, row, body)
        if c.only or c.wide:
            body = chosen(c, body)
            mark = base if F("one-tag-for-all") and not c.wide else base + "." + sealed(body, "")
    headers = [("ETag", f'"{mark}"')]
    if res == "species" and not F("no-cache-header"):
        headers.append(("Cache-Control", "public, max-age=30"))
    asked = ", ".join(c.r.all("if-none-match"))
    if asked and not F("never-304"):
        if asked.strip() == "*" or any(re.sub(r"^W/", "", x.strip()) == f'"{mark}"' for x in asked.split(",")):
            return 304, headers, None
    return 200, headers, body


def expanded(c, row, body):
    for name in c.wide:
        if name == "vessel" and "vessel" in body:
            body["vessel"] = show("vessel", T["vessel"][row["vessel"]], c.caller, "2" if F("expanded-new-edition") else c.ed)
        if name == "species":
            body["species"] = show("species", T["species"][row["species"]], c.caller, c.ed)
    return body


def tree(c):
    """What `only` asks for, as a map of maps; a name that there is not is refused."""
    root = {}
    user = c.caller["user"]

    def names(res):
        out = {}
        for n, f in SHAPES[res].items():
            if f.get("wo") or (f.get("visible") and user not in f["visible"] and not F("chooses-reserve")):
                continue
            w = called(res, n, c.ed)
            if w:
                out[w] = "crate" if f.get("children") else n if res == "lot" and n in c.wide else None
        if res == "vessel" and c.ed == "1":
            out["flag"] = None
        return out

    for path in c.only:
        here, res, steps = root, "lot", path.split(".")
        if len(steps) > 8:
            raise No("garbled", ["only"])
        for k, s in enumerate(steps):
            known = names(res) if res else {}
            if s not in known:
                if F("unknown-names-chosen"):
                    break
                raise No("garbled", ["only"])
            here = here.setdefault(s, {})
            res = known[s]
            if k == len(steps) - 1:
                here["*"] = {}
    return root


def chosen(c, body):
    want = tree(c)

    def cut(value, part, key):
        if "*" in part:
            return value
        if isinstance(value, list):
            return [cut(v, part, "id") for v in value]
        return {k: (cut(v, part[k], IDS.get(k, "id")) if k in part else v) for k, v in value.items() if k in part or (k == key and not F("chosen-without-id"))}

    if not c.only:
        return body
    return cut(body, want, "id")


def list_species(c):
    name, least = c.params.get("name"), c.params.get("at_least")
    got = [r for r in T["species"].values() if (name is None or (r["name"] == name if F("filter-minds-case") else r["name"].lower() == name.lower()))
           and (least is None or (r["least_g"] > least if F("at-least-is-over") else r["least_g"] >= least))]
    got.sort(key=lambda r: r["code"], reverse=F("species-backwards"))
    return 200, [], {"species": [show("species", r, c.caller, c.ed, "list") for r in got]}


def read_species(c):
    return one(c, "species", readable("species", c.path[0], c))


def upsert_species(c):
    code = c.path[0]
    old = T["species"].get(code)
    matches(c, "species", old)
    if old and (c.r.one("if-none-match") or "").strip() == "*":
        raise No("stale")
    body = c.body if not isinstance(c.body, dict) or "code" in c.body else {**c.body, "code": code}
    said, bad = take("species", body, "create", c.ed, fixed={"code": code})
    unfit(bad)
    if F("upsert-keeps-least") and old and "least_g" not in c.body:
        said["least_g"] = old["least_g"]
    row = said if old is None else {**old, **said}
    if row != old:
        put("species", row)
    made = old is None or F("upsert-always-201")
    return (201 if made else 200), [("ETag", f'"{tag("species", row, c.caller, c.ed)}"')] + (location("species", code) if made else []), show("species", row, c.caller, c.ed)


def create_vessel(c):
    said, bad = take("vessel", c.body, "create", c.ed)
    unfit(bad)
    old = T["vessel"].get(said["reg"])
    if old and not F("exists-overwrites"):
        if F("exists-is-201"):
            return 201, location("vessels", old["reg"]), show("vessel", old, c.caller, c.ed)
        if F("exists-refused"):
            raise No("taken")
        return 200, [], show("vessel", old, c.caller, c.ed)
    row = put("vessel", {**said, "owner": c.caller["id"], "state": "active"})
    return 201, location("vessels", row["reg"]), show("vessel", row, c.caller, c.ed)


def list_vessel(c):
    p = c.params
    got = list(T["vessel"].values())
    if "port" in p:
        wants = p["port"][:1] if F("first-port-only") else p["port"]
        got = [v for v in got if v["port"] in wants]
    if "begins" in p:
        fold = str.lower if F("begins-any-case") else (lambda s: s)
        got = [v for v in got if (fold(p["begins"]) in fold(v["name"]) if F("begins-anywhere") else fold(v["name"]).startswith(fold(p["begins"])))]
    if "fished" in p:
        got = [v for v in got if any(x["species"] == p["fished"] and (reads("lot", x, c.caller) or F("fished-by-unseen")) for x in rows("lot", vessel=v["reg"]))]
    got.sort(key=lambda v: v["reg"])
    size, page = p.get("per", 5), p.get("page", 1)
    start = (page - 1) * size - (1 if F("pages-overlap") and page > 1 else 0)
    part = got[start:start + size]
    others = [f"{k}={v}" for k, v in (x.split("=", 1) if "=" in x else (x, "") for x in c.r.target.partition("?")[2].split("&") if x) if k not in ("page",)]

    def to(n):
        return f"<{BASE}/vessels?" + "&".join(([] if F("links-forget") else others) + [f"page={n}"]) + ">"
    links = [f'{to(1)}; rel="first"']
    if start + size < len(got) or (F("next-on-last") and start + size == len(got)):
        links.append(f'{to(page + 1)}; rel="next"')
    if page > 1:
        links.append(f'{to(page - 1)}; rel="prev"')
    total = len(part) if F("total-of-page") else len(got)
    return 200, [("Link", x) for x in links], {"vessels": [show("vessel", v, c.caller, c.ed, "list") for v in part], "total": total}


def read_vessel(c):
    return one(c, "vessel", readable("vessel", c.path[0], c))


def update_vessel(c):
    row = readable("vessel", c.path[0], c)
    ours(row["owner"] == c.caller["id"] or F("vessels-of-anyone"))
    matches(c, "vessel", row)
    said, bad = take("vessel", c.body, "update", c.ed, refuse=True, fixed={"reg": row["reg"]})
    unfit(bad)
    after = {**row, **said}
    if after["state"] != row["state"] and after["state"] == "laid_up" and len(rows("lot", vessel=row["reg"])) >= (6 if F("five-lots-laid-up") else 5):
        raise No("not_now")
    if after != row:
        put("vessel", after)
        if after["state"] != row["state"] and not (F("launch-is-silent") and after["state"] == "active"):
            emit("vessel.moved", "vessel", after, whole("vessel", after), to=lambda h: h["owner"] == after["owner"])
    return 200, [("ETag", f'"{tag("vessel", after, c.caller, c.ed)}"')], show("vessel", after, c.caller, c.ed, "update")


def delete_vessel(c):
    row = readable("vessel", c.path[0], c)
    ours(row["owner"] == c.caller["id"])
    if row["state"] != "active" and not F("laid-up-deleted"):
        raise No("not_now")
    if rows("lot", vessel=row["reg"]) and not F("vessels-not-held"):
        raise No("taken")
    del T["vessel"][row["reg"]]
    for m in rows("crew", vessel=row["reg"]):
        if not F("crew-survives"):
            del T["crew"][m["id"]]
    return 204, [], None


def create_crew(c):
    vessel = readable("vessel", c.path[0], c)
    body = c.body if not isinstance(c.body, dict) or "vessel" in c.body else {**c.body, "vessel": vessel["reg"]}
    said, bad = take("crew", body, "create", c.ed, fixed={"vessel": vessel["reg"]})
    unfit(bad)
    ours(vessel["owner"] == c.caller["id"] or F("crew-by-anyone"))
    row = {"id": str(uuid.uuid4()), **said}
    if F("short-uuid"):
        row["id"] = row["id"].replace("-", "")
    put("crew", row)
    mates = [m for m in (T["crew"].values() if F("mates-of-all") else rows("crew", vessel=vessel["reg"])) if m["role"] == "mate" or F("hands-are-mates")]
    if row["role"] == "mate" and len(mates) > 3:
        raise No("enough")
    return 201, location("vessels", vessel["reg"], "crew", row["person"]), show("crew", row, c.caller, c.ed)


def find_crew(c):
    vessel = readable("vessel", c.path[0], c)
    row = next((m for m in T["crew"].values() if m["person"] == c.path[1] and (m["vessel"] == vessel["reg"] or F("crew-of-any-vessel"))), None)
    if row is None or not reads("crew", row, c.caller):
        raise No("nowhere")
    return row


def read_crew(c):
    return 200, [], show("crew", find_crew(c), c.caller, c.ed)


def delete_crew(c):
    row = find_crew(c)
    ours(owns(row["vessel"], c.caller) or F("crew-leave-themselves"))
    del T["crew"][row["id"]]
    return 204, [], None


def rule_bad(c, said, after, bad):
    """A reserve above what is asked does not fit, where both can be told."""
    word = called("lot", "reserve", c.ed)
    if after.get("reserve", 0) > after.get("asking", 10**9) and not (F("reserve-unasked-in-patch") and c.op == "update lot"):
        if F("rule-at-asking"):
            word = "asking"
        sent = list(c.body)
        if word in sent:
            at = sent.index(word)
            n = len([b for b in bad if b[0] != "missing" and b[1].split(".")[0] in sent and sent.index(b[1].split(".")[0]) < at])
        else:
            n = len([b for b in bad if b[0] != "missing"])
        bad.insert(n, ("value", word))


def create_lot(c):
    said, bad = take("lot", c.body, "create", c.ed)
    if isinstance(c.body, dict) and not any(p in ("asking", "reserve", "minimum") for _, p in bad):
        rule_bad(c, said, said, bad)
    unfit(bad)
    missing = [n for n in c.body if n in ("vessel", "species") and said[n] not in T[n]]
    if missing:
        if F("ref-is-404"):
            raise No("nowhere")
        raise No("no_such_thing", missing)
    ours(owns(said["vessel"], c.caller) or mate(said["vessel"], c.caller))
    crates = said.pop("crates")
    DRAWN["all" if F("numbers-of-all") else said["vessel"]] += 1
    t = now()
    row = {"id": ("lot_" + ulid().lower()) if F("ulid-small") else "lot_" + ulid(), **said, "number": DRAWN["all" if F("numbers-of-all") else said["vessel"]], "state": "landed", "check": "unseen",
           "landed_at": iso(t) if not F("no-milliseconds") else iso(t)[:19] + "Z", "changed_at": iso(t), "_born": t, "_since": t}
    weight = sum(k["net_g"] for k in crates)
    if T["vessel"][row["vessel"]]["state"] == "laid_up" and not F("laid-up-lands"):
        raise No("laid_up")
    least = T["species"][row["species"]]["least_g"]
    if (weight <= least if F("undersized-edge") else weight < least):
        raise No("undersized")
    unique("lot", row)
    store("lot", row)
    for k in crates:
        key = "crt_" + random_of(10, "0123456789abcdef")
        T["crate"][key] = {"id": key, "lot": row["id"], "net_g": k["net_g"]}
    emit("lot.landed", "lot", row, whole("lot", row))
    spend(c)
    body = show("lot", row, c.caller, c.ed, "create")
    if F("crates-not-answered"):
        body["crates"] = []
    return 201, location("lots", row["id"]), body


def spend(c):
    t = now()
    day = (t + (12 * HOUR if F("day-from-noon") else 0)) // DAY
    key = ("all" if F("quota-of-everyone") else (c.caller["user"], c.caller["id"]), day)
    if SPENT[key] >= (140 if F("quota-140") else 150):
        raise No("enough", headers=[("Retry-After", str(-(-((day + 1) * DAY - t) // SECOND)))])
    SPENT[key] += 1


CURSOR_KEY = secrets.token_bytes(16)


def list_lot(c):
    p = c.params
    got = [x for x in T["lot"].values() if reads("lot", x, c.caller, "list") or (F("filter-shows-all") and "state" in p)]
    if F("deleted-listed"):
        got += [g for g in T["gone"].values() if reads("lot", g, c.caller)]
    for name in ("grade", "vessel"):
        if name in p:
            got = [x for x in got if x[name] == p[name]]
    if "state" in p:
        got = [x for x in got if x["state"] in (p["state"][-1:] if F("last-state-only") else p["state"])]
    if "port" in p:
        got = [x for x in got if T["vessel"][x["vessel"]]["port"] == p["port"]]
    if "min_weight" in p:
        got = [x for x in got if (weigh(x) > p["min_weight"] if F("weight-over") else weigh(x) >= p["min_weight"])]
    if "landed_before" in p:
        got = [x for x in got if (instant(x["landed_at"]) < p["landed_before"] if not F("landed-not-before") else instant(x["landed_at"]) >= p["landed_before"])]
    if "find" in p:
        words = p["find"].lower().split()
        if len(words) > 16:
            raise No("garbled", ["find"])
        every = any if F("any-word") else all
        if F("find-minds-case"):
            words = p["find"].split()
        got = [x for x in got if x.get("words") is not None and every(w in (x["words"] if F("find-minds-case") else x["words"].lower()) for w in words)]
    if p.get("show") == "open":
        got = [x for x in got if x["state"] in (LIVE_LOT if not F("open-is-up") else ("up",))]
    by, down = p.get("by", "-landed"), p.get("way") == "desc"
    back = by.startswith("-") != (down and not F("way-ignored"))
    field = {"landed": "_born", "weight": "weight_g", "price": "asking"}[by.lstrip("-")]

    def key(x):
        v = weigh(x) if field == "weight_g" else x[field]
        if F("weights-as-texts") and field == "weight_g":
            return (str(v) if not back else "".join(chr(200 - ord(d)) for d in str(v))), x["_n"]
        return (-v if back else v), (-x["_n"] if F("ties-newest") else x["_n"])
    got.sort(key=key)
    size = p.get("take", 6)
    bound = sealed([sorted((k, v) for k, v in c.raw if k not in ("take", "from", "only")) if not F("cursor-any-query") else 0, c.caller["user"], c.caller["id"]], c.ed)
    if "from" in p:
        try:
            data, mac = p["from"].split("~")
            if not hmac.compare_digest(hmac.new(CURSOR_KEY, (bound + data).encode(), hashlib.sha256).hexdigest()[:20], mac):
                raise ValueError
            at = tuple(json.loads(unb64(data)))
        except (ValueError, TypeError):
            raise No("garbled", ["from"]) from None
        got = [x for x in got if (key(x) >= at if F("cursor-repeats") else key(x) > at)]
    part, rest = got[:size], got[size:]
    onward = None
    if rest or (F("onward-on-last") and part):
        data = base64.urlsafe_b64encode(json.dumps(key(part[-1])).encode()).decode().rstrip("=")
        onward = data + "~" + hmac.new(CURSOR_KEY, (bound + data).encode(), hashlib.sha256).hexdigest()[:20]
    more = bool(rest) if not F("more-always") else bool(part)
    body = {"lots": [chosen(c, show("lot", x, c.caller, c.ed, "list")) for x in part], "onward": onward, "more": more, "kind": "lots"}
    if F("no-kind-in-page"):
        del body["kind"]
    return 200, [], body


def read_lot(c):
    return one(c, "lot", find_lot(c.path[0], c, "read"))


def read_ticket(c):
    x = find_lot(c.path[0], c, "ticket")
    kilos = weigh(x) // 1000 if F("whole-kilos") else weigh(x) / 1000.0
    text = f"{x['vessel']}/{x['number']} {x['species']}" if not F("ticket-of-species") else f"{x['species']}/{x['number']} {x['vessel']}"
    headers = [] if F("no-ticket-header") else [("Ticket-State", x["state"])]
    return 200, headers, {"lot": x["id"], "text": text, "kilos": kilos, "open": x["state"] == "up" or (F("catalogued-is-open") and x["state"] == "catalogued")}


def changes(c, where=""):
    """The lot that is to be changed, by whom it may be."""
    x = find_lot(c.path[0], c, where)
    if c.caller["user"] == "skipper":
        ours(owns(x["vessel"], c.caller) or mate(x["vessel"], c.caller) or (F("hands-withdraw") and where == "withdraw"))
    return x


def update_lot(c):
    x = changes(c)
    matches(c, "lot", x, must=True)
    said, bad = take("lot", c.body, "update", c.ed, fixed={} if F("vessel-changes") else {"vessel": x["vessel"]})
    after = {k: v for k, v in {**x, **said}.items() if v is not None}
    if F("words-not-removed") and isinstance(c.body, dict) and c.body.get("words", 1) is None and "words" in x:
        after["words"] = x["words"]
    if F("patch-resets-grade") and isinstance(c.body, dict) and "words" in c.body and "grade" not in c.body:
        after["grade"] = "B"
    if F("old-patch-drops-tags") and c.ed == "1":
        after["tags"] = []
    if isinstance(c.body, dict) and not any(p in ("asking", "reserve", "minimum") for _, p in bad):
        rule_bad(c, said, after, bad)
    unfit(bad)
    if after["species"] not in T["species"]:
        if F("species-unchecked-in-patch"):
            pass
        else:
            raise No("no_such_thing", ["species"])
    if x["state"] not in (("landed", "catalogued", "up") if F("up-is-updated") else ("landed", "catalogued")):
        raise No("not_now")
    if after != x or F("nothing-counts"):
        row = put("lot", after)
        if row["grade"] != x["grade"] or F("regraded-always"):
            emit("lot.regraded", "lot", row, lambda e: {"lot": row["id"], "was": x["grade"], "is": row["grade"]} if not F("regraded-swapped") else {"lot": row["id"], "was": row["grade"], "is": x["grade"]})
        for t in row["tags"]:
            if t not in x["tags"] or F("old-tags-told"):
                emit("lot.tagged", "lot", row, lambda e, t=t: {"lot": row["id"], "tag": t})
                if F("one-tag-told"):
                    break
        after = row
    return 200, [("ETag", f'"{tag("lot", after, c.caller, c.ed)}"')], show("lot", after, c.caller, c.ed, "update")


def delete_lot(c):
    x = changes(c)
    matches(c, "lot", x)
    if x["state"] not in ("landed", "withdrawn", "spoiled") + (("catalogued",) if F("catalogued-deleted") else ()):
        raise No("not_now")
    emit("lot.removed", "lot", x, lambda e: {"lot": x["id"]} if not F("removed-without-lot") else {"id": x["id"]})
    del T["lot"][x["id"]]
    if not F("gone-at-once"):
        T["gone"][x["id"]] = {**x, "_gone": now()}
    for res in ("crate", "bid"):
        for r in rows(res, lot=x["id"]):
            if not (F("bids-outlive") and res == "bid"):
                del T[res][r["id"]]
    return 204, [], None


def answer_lot(c, x):
    return 200, [], show("lot", T["lot"][x["id"]], c.caller, c.ed)


def clear_lot(c):
    x = find_lot(c.path[0], c)
    if x["check"] != "unseen" and not (F("clears-condemned") and x["check"] == "condemned"):
        raise No("not_now")
    return answer_lot(c, put("lot", {**x, "check": "cleared"}))


def condemn_lot(c):
    x = find_lot(c.path[0], c)
    if x["check"] == "condemned" or (F("cleared-for-good") and x["check"] == "cleared"):
        raise No("not_now")
    after = put("lot", {**x, "check": "condemned"})
    if not F("condemned-stays"):
        bin_lot(after)
    if F("condemn-answers-early"):
        return 200, [], show("lot", after, c.caller, c.ed)
    return answer_lot(c, after)


def catalogue_lot(c):
    x = find_lot(c.path[0], c)
    if x["state"] != "landed":
        raise No("not_now")
    if x["check"] != "cleared" and not F("catalogues-unseen"):
        raise No("not_cleared")
    return answer_lot(c, move_lot(x, "catalogued"))


def offer_lot(c):
    x = find_lot(c.path[0], c)
    if x["state"] not in (("catalogued",) if F("unsold-for-ever") else ("catalogued", "unsold")):
        raise No("not_now")
    if x["check"] != "cleared" and not F("offers-condemned"):
        raise No("not_now")
    after = move_lot(x, "up")
    emit("lot.up", "lot", after, whole("lot", after))
    return answer_lot(c, after)


def knock_lot(c):
    x = find_lot(c.path[0], c)
    if F("knock-breaks") and best(x) is not None:
        raise ZeroDivisionError
    if x["state"] != "up":
        raise No("not_now")
    top = best(x)
    met = top is not None and (top > x["reserve"] if F("reserve-edge") else top >= x["reserve"] or F("no-reserve"))
    if F("unsold-undone") and not met:
        raise No("reserve_not_met")
    after = move_lot(x, "sold" if met else "unsold")
    told_over(x, after)
    if not met:
        c.refusal = No("reserve_not_met")
        return 409, [], None
    for b in rows("bid", lot=x["id"]):
        if (b["state"] == "standing" and b["pence"] == top) or (F("all-bids-billed") and b["state"] == "standing"):
            if F("no-invoice"):
                continue
            due = now() + (14 if F("due-in-14") else 7) * DAY
            inv = {"id": "inv_" + random_of(12, "0123456789abcdef"), "lot": x["id"], "buyer": b["buyer"] if not F("billed-to-seller") else T["vessel"][x["vessel"]]["owner"],
                   "pence": x["asking"] if F("billed-asking") else b["pence"], "state": "due", "due_at": iso(due), "_due": due}
            put("invoice", inv)
            emit("invoice.drawn", "invoice", inv, whole("invoice", inv))
    return answer_lot(c, after)


def withdraw_lot(c):
    x = changes(c, "withdraw")
    if x["state"] not in ("landed", "catalogued") + (("up",) if F("withdraws-up") else ()):
        raise No("not_now" if F("second-withdrawal") and x["state"] == "withdrawn" else "too_late")
    after = move_lot(x, "withdrawn")
    told_over(x, after)
    return answer_lot(c, after)


def create_bid(c):
    x = find_lot(c.path[0], c)
    body = c.body if not isinstance(c.body, dict) or "lot" in c.body else {**c.body, "lot": x["id"]}
    said, bad = take("bid", body, "create", c.ed, fixed={"lot": x["id"]})
    unfit(bad)
    if x["state"] != "up" and not (F("bids-on-catalogued") and x["state"] == "catalogued"):
        raise No("not_up")
    top = best(x)
    if top is not None and (top > said["pence"]) and not F("lower-bids"):
        raise No("outbid")
    DRAWN["bid"] += 1
    row = {"id": DRAWN["bid"] if not F("bid-ids-as-texts") else str(DRAWN["bid"]), "lot": x["id"], "buyer": c.caller["id"], "pence": said["pence"], "state": "standing"}
    put("bid", row)
    emit("bid.made", "bid", row, whole("bid", row))
    return 201, location("bids", str(row["id"])), show("bid", row, c.caller, c.ed)


def list_bid(c):
    x = find_lot(c.path[0], c)
    p = c.params
    got = [b for b in T["bid"].values() if (b["lot"] == x["id"] or F("bids-of-any-lot")) and reads("bid", b, c.caller, "list")]
    if "state" in p:
        got = [b for b in got if b["state"] == p["state"]]
    if "over" in p:
        got = [b for b in got if (b["pence"] >= p["over"] if F("over-is-from") else b["pence"] > p["over"])]
    got.sort(key=lambda b: (b["pence"] if F("cheapest-first") else -b["pence"], b["id"]))
    skip, size = p.get("skip", 0), p.get("take", 5)
    count = len(got)
    if F("count-of-all-bids"):
        count = len(rows("bid", lot=x["id"]))
    return 200, [], {"bids": [show("bid", b, c.caller, c.ed, "list") for b in got[skip:skip + size]], "count": count}


def find_bid(c):
    if not re.fullmatch(r"[1-9]\d{0,17}", c.path[0]):
        raise No("nowhere")
    key = int(c.path[0])
    if F("bid-ids-as-texts"):
        key = c.path[0]
    return readable("bid", key, c)


def read_bid(c):
    return 200, [], show("bid", find_bid(c), c.caller, c.ed)


def retract_bid(c):
    b = find_bid(c)
    if b["state"] != "standing":
        raise No("not_now")
    if T["lot"][b["lot"]]["state"] != "up" and not F("retracts-after"):
        raise No("too_late")
    return 200, [], show("bid", fall(b, "retracted"), c.caller, c.ed)


def list_invoice(c):
    p = c.params
    got = [i for i in T["invoice"].values() if reads("invoice", i, c.caller, "filtered" if "state" in p else "list")]
    if "state" in p:
        got = [i for i in got if i["state"] == p["state"]]
    if "sort" in p and not F("sort-ignored"):
        got.sort(key=lambda i: -i["pence"] if p["sort"] == "-pence" else i["pence"])
    ids, size = [i["id"] for i in got], p.get("take", 5)
    if "past" in p or "until" in p:
        mark = p.get("past", p.get("until"))
        if mark not in ids or ("past" in p and "until" in p):
            if F("any-mark") and mark not in ids:
                return 200, [], {"invoices": [], "more": False}
            raise No("garbled", ["past" if "past" in p else "until"])
        at = ids.index(mark)
        if "past" in p:
            got = got[at + (0 if F("past-included") else 1):]
        else:
            got = got[max(0, at - size):at] if not F("until-from-start") else got[:min(at, size)]
            return 200, [], {"invoices": [show("invoice", i, c.caller, c.ed, "list") for i in got], "more": at > size}
    return 200, [], {"invoices": [show("invoice", i, c.caller, c.ed, "list") for i in got[:size]], "more": len(got) > size}


def read_invoice(c):
    return one(c, "invoice", readable("invoice", c.path[0], c))


def pay_invoice(c):
    i = readable("invoice", c.path[0], c)
    bad = []
    pence = None
    if not isinstance(c.body, dict):
        bad.append(("type", ""))
    else:
        for k, v in c.body.items():
            if k != "pence":
                if not F("pay-with-anything"):
                    bad.append(("unknown", k))
            elif isinstance(v, bool) or not isinstance(v, (int, float)) or v != int(v):
                bad.append(("type", k))
            elif not 1 <= v <= 9000000:
                bad.append(("value", k))
            else:
                pence = v
        if "pence" not in c.body:
            bad.append(("missing", "pence"))
    unfit(bad)
    if i["state"] not in ("due", "short", "overdue") and not F("paid-twice"):
        raise No("paid_already")
    if F("overdue-unpayable") and i["state"] == "overdue":
        raise No("not_now")
    if F("short-undone") and pence < i["pence"]:
        raise No("short_paid")
    done = pence > i["pence"] if F("exact-is-short") else pence >= i["pence"]
    after = put("invoice", {**i, "state": "paid" if done else "short"})
    if not done:
        if F("paid-told-short"):
            emit("invoice.paid", "invoice", after, whole("invoice", after))
        c.refusal = No("short_paid")
        return 402, [], None
    emit("invoice.paid", "invoice", after, whole("invoice", i if F("paid-as-it-was") else after))
    return 200, [], show("invoice", after, c.caller, c.ed)


def create_hook(c):
    said, bad = take("hook", c.body, "create", c.ed)
    unfit(bad)
    mine = [h for h in T["hook"].values() if h["owner"] == c.caller["id"] or F("hooks-counted-together")]
    if len(mine) >= (7 if F("seven-hooks") else 6):
        raise No("enough")
    row = {"id": "hk-" + random_of(8, string.ascii_lowercase + string.digits), "owner": c.caller["id"], **said,
           "secret": "gs_" + random_of(30), "_user": c.caller["user"], "_ed": c.ed}
    if F("hook-id-capitals"):
        row["id"] = row["id"].upper()
    store("hook", row)
    return 201, location("hooks", row["id"]), show("hook", row, c.caller, c.ed, once=not F("secret-never"))


def read_hook(c):
    return 200, [], show("hook", readable("hook", c.path[0], c), c.caller, c.ed, "read")


def delete_hook(c):
    if F("hooks-of-anyone") and c.path[0] in T["hook"]:
        row = T["hook"][c.path[0]]
    else:
        row = readable("hook", c.path[0], c)
    del T["hook"][row["id"]]
    return 204, [], None


# ------------------------------------------------------------------ parameters

def p_text(least=0, rx=None):
    def read(v):
        if len(v) < least or (rx and not re.fullmatch(rx, v)):
            raise ValueError
        return v
    return read


def p_int(v):
    if not re.fullmatch(r"-?\d{1,18}", v):
        raise ValueError
    return int(v)


def p_one(*words, old=None):
    def read(v, ed="2"):
        if ed == "1" and old and not F("prime-unknown"):
            v = old.get(v, "" if v in old.values() else v)
        if v not in words:
            if F("unknown-values-find-nothing"):
                return v
            raise ValueError
        return v
    read.old = bool(old)
    return read


def p_many(*words):
    def read(v):
        got = v.split(",")
        if len(got) > 100 or any(g not in words for g in got):
            raise ValueError
        return got
    return read


def p_name(v):
    if not 2 <= len(v) <= 40:
        raise ValueError
    return v


def p_size(most, clamp, least=1):
    def read(v):
        if not re.fullmatch(r"\d{1,15}", v) or int(v) < least:
            raise ValueError
        n = int(v)
        if n > most and not clamp:
            raise ValueError
        return min(n, most) if clamp else n
    return read


class Route:
    def __init__(self, method, path, op, act, body=None, params=None, once=None, accept=("badge", "token"), change=False, wide=False, only=False, since=None):
        self.method, self.op, self.act, self.body, self.params, self.once = method, op, act, body, params or {}, once
        self.accept, self.change, self.wide, self.only, self.since = accept, change, wide, only, since
        self.rx = re.compile("".join(f"/{'([^/]+)' if s.startswith('{') else re.escape(s)}" for s in path.strip("/").split("/")))


PARAMS = {
    "species": {"name": p_name, "at_least": p_int},
    "vessels": {"port": p_many(*PORTS), "begins": p_text(), "fished": p_text(rx="[a-z]{3,8}"), "page": p_size(10**12, False),
                "per": p_size(100 if F("per-to-100") else 20, not F("per-refused"))},
    "lots": {"state": p_many(*LOT_STATES), "grade": p_one(*GRADES, old={"prime": "A"}), "vessel": p_text(), "port": p_one(*PORTS), "min_weight": p_int,
             "landed_before": instant, "find": p_text(1), "show": p_one("all", "open"),
             "by": p_one("landed", "-landed", "weight", "-weight", "price", "-price"), "way": p_one("asc", "desc"),
             "from": p_text(), "take": p_size(31 if F("take-31") else 30, F("take-clamped"))},
    "bids": {"state": p_one("standing", "retracted", "void"), "over": p_int, "skip": p_size(10**12, False, 0), "take": p_size(10, F("bids-clamped"))},
    "invoices": {"state": p_one("due", "short", "overdue", "paid"), "sort": p_one("pence", "-pence"), "past": p_text(), "until": p_text(), "take": p_size(20, True)},
}
R = Route
ROUTES = [
    R("GET", "/species", "list species", list_species, params=PARAMS["species"]),
    R("GET", "/species/{code}", "read species", read_species),
    R("PUT", "/species/{code}", "upsert species", upsert_species, body="json", change=True),
    R("POST", "/vessels", "create vessel", create_vessel, body="json", change=True),
    R("GET", "/vessels", "list vessel", list_vessel, params=PARAMS["vessels"]),
    R("GET", "/vessels/{reg}", "read vessel", read_vessel),
    R("PATCH", "/vessels/{reg}", "update vessel", update_vessel, body="merge", change=True),
    R("DELETE", "/vessels/{reg}", "delete vessel", delete_vessel, change=True),
    R("POST", "/vessels/{vessel}/crew", "create crew", create_crew, body="json", change=True),
    R("GET", "/vessels/{vessel}/crew/{person}", "read crew", read_crew),
    R("DELETE", "/vessels/{vessel}/crew/{person}", "delete crew", delete_crew, change=True, accept=("badge", "token") if F("badges-dismiss") else ("token",)),
    R("POST", "/lots", "create lot", create_lot, body="json", change=True, once="may"),
    R("GET", "/lots", "list lot", list_lot, params=PARAMS["lots"], only=True),
    R("GET", "/lots/{id}", "read lot", read_lot, only=True, wide=True),
    R("GET", "/lots/{id}/ticket", "read ticket", read_ticket, since="2"),
    R("PATCH", "/lots/{id}", "update lot", update_lot, body="merge", change=True),
    R("DELETE", "/lots/{id}", "delete lot", delete_lot, change=True),
    R("POST", "/lots/{id}/clear", "clear lot", clear_lot, change=True),
    R("POST", "/lots/{id}/condemn", "condemn lot", condemn_lot, change=True),
    R("POST", "/lots/{id}/catalogue", "catalogue lot", catalogue_lot, change=True),
    R("POST", "/lots/{id}/offer", "offer lot", offer_lot, change=True),
    R("POST", "/lots/{id}/knock", "knock lot", knock_lot, change=True),
    R("POST", "/lots/{id}/withdraw", "withdraw lot", withdraw_lot, change=True),
    R("POST", "/lots/{lot}/bids", "create bid", create_bid, body="json", change=True, once="may"),
    R("GET", "/lots/{lot}/bids", "list bid", list_bid, params=PARAMS["bids"]),
    R("GET", "/bids/{id}", "read bid", read_bid),
    R("POST", "/bids/{id}/retract", "retract bid", retract_bid, change=True),
    R("GET", "/invoices", "list invoice", list_invoice, params=PARAMS["invoices"]),
    R("GET", "/invoices/{id}", "read invoice", read_invoice),
    R("POST", "/invoices/{id}/pay", "pay invoice", pay_invoice, body="json", change=True, once="may" if F("key-not-required") else "must"),
    R("POST", "/hooks", "create hook", create_hook, body="json", change=True),
    R("GET", "/hooks/{id}", "read hook", read_hook),
    R("DELETE", "/hooks/{id}", "delete hook", delete_hook, change=True),
]


# ------------------------------------------------------------------ one request

class Call:
    def __init__(self, r):
        self.r, self.trace, self.ed, self.caller, self.told, self.refusal = r, "tr_" + random_of(12), "2", None, [], None
        self.op, self.path, self.params, self.raw, self.body, self.only, self.wide = None, (), {}, [], None, [], []
        self.post = False


def choose_route(c):
    r = c.r
    if len(r.target) > 2048 or r.head_bytes > 12288:
        raise No("too_big")
    path = r.path
    if F("species-at-root") and path.startswith("/species") and r.method == "PUT":
        path = BASE + path
    elif F("species-at-root") and path.startswith(BASE + "/species") and r.method == "PUT":
        raise No("nowhere")
    if not path.startswith(BASE + "/"):
        raise No("nowhere")
    path = path[len(BASE):]
    if F("slashes-ignored"):
        path = path.rstrip("/")
    found = [(o, m) for o in ROUTES for m in [o.rx.fullmatch(path)] if m]
    if not found:
        raise No("nowhere")
    method = "GET" if r.method == "HEAD" and not F("no-head") else r.method
    allow = ", ".join(dict.fromkeys([o.method for o, _ in found] + (["HEAD"] if any(o.method == "GET" for o, _ in found) else []) + ["OPTIONS"]))
    if method == "OPTIONS":
        return None, allow
    mine = [(o, m) for o, m in found if o.method == method]
    if not mine:
        raise No("no_way", headers=[] if F("no-allow") else [("Allow", allow)])
    route, m = mine[0]
    c.post = route.method == "POST"
    sent = r.all("hall-edition")
    if sent:
        if len(sent) > 1 or sent[0] not in ("1", "2"):
            if not F("any-edition"):
                raise No("garbled", ["Hall-Edition"])
        else:
            c.ed = sent[0]
    elif F("oldest-by-default"):
        c.ed = "1"
    if c.ed == "1" and now() >= instant("2027-09-01T00:00:00Z") and not F("never-sunset"):
        raise No("old_edition")
    if route.since == "2" and c.ed == "1" and not F("ticket-in-old"):
        raise No("nowhere")
    c.op, c.path = route.op, tuple(wire.plain(g) for g in m.groups())
    return route, allow


def known(c, route):
    c.caller = caller_of(c.r, route.accept)
    if c.caller is None and "*" not in RULES[route.op]:
        raise No("who")
    rate(c)
    rule = RULES[route.op]
    if "*" in rule:
        return
    if c.caller["user"] not in rule:
        raise No("not_yours")
    scope = rule[c.caller["user"]]
    if scope and scope not in c.caller["scopes"]:
        raise No("no_licence")


def flat_no(_):
    raise ValueError


def read_body(c, route):
    accept = c.r.one("accept")
    if accept and not F("accept-ignored"):
        kinds = [(a.split(";")[0].strip().lower(), a) for a in ",".join(c.r.all("accept")).split(",")]
        if not any(k in ("*/*", "application/*", "application/json") and not re.search(r";\s*q=0(\.0*)?\s*(;|$)", a) for k, a in kinds):
            raise No("json_only")
    if not route.body:
        return
    if not c.r.body:
        raise No("garbled")
    kind = (c.r.one("content-type") or "").split(";")[0].strip().lower()
    if kind != "application/json" and not (kind == "application/merge-patch+json" and route.body == "merge" and not F("merge-type-refused")) and not F("any-media"):
        raise No("not_json")
    if len(c.r.body) > (12289 if F("body-edge") else 12288) or (F("body-12000") and len(c.r.body) > 12000):
        raise No("too_big")
    try:
        text = c.r.body.decode("utf-8")
        c.body = json.loads(text, parse_constant=flat_no)
        json.dumps(c.body, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeDecodeError:
        if F("latin-breaks"):
            raise ZeroDivisionError from None
        raise No("garbled") from None
    except (ValueError, RecursionError):
        raise No("garbled") from None


def read_params(c, route):
    c.raw = c.r.query()
    seen = set()
    for k, v in c.raw:
        if k == "only" and route.only:
            c.only += v.split(",")
            continue
        if k == "with" and route.wide:
            for w in v.split(","):
                if w not in ("vessel", "species"):
                    raise No("garbled", [k])
                c.wide.append(w)
            continue
        read = route.params.get(k)
        if read is None:
            if F("unknown-params-taken") and route.op == "list bid":
                continue
            raise No("garbled", [k])
        if k in seen and not F("params-twice"):
            raise No("garbled", [k])
        seen.add(k)
        try:
            if F("bad-integers-ignored") and read is p_int and not re.fullmatch(r"-?\d{1,18}", v):
                continue
            c.params[k] = read(v, c.ed) if getattr(read, "old", False) else read(v)
        except ValueError:
            raise No("garbled", [k]) from None
    if c.only and len(c.only) > 100:
        raise No("garbled", ["only"])
    if c.only:
        tree(c)


def carry_out(c, route):
    if not route.change:
        return route.act(c)
    key = c.r.one("once") if route.once else None
    if route.once == "must" and not key:
        raise No("garbled", ["Once"])
    if not key:
        with Change():
            return route.act(c)
    place = (route.op, key) if F("keys-of-everyone") else (c.caller["user"], c.caller["id"], route.op, key)
    print_ = hashlib.sha256(json.dumps([c.r.target if not F("key-ignores-path") else "", c.ed, "" if F("key-ignores-body") else c.r.body.decode("latin-1")]).encode()).hexdigest()
    kept = KEPT.get(place)
    if kept and kept[1] > now():
        if kept[0] != print_:
            raise No("key_used")
        if F("replays-201-as-200"):
            return 200, kept[3], json.loads(kept[4])
        return kept[2], kept[3], json.loads(kept[4])
    try:
        with Change():
            status, headers, body = route.act(c)
        if c.refusal and not F("answers-not-kept"):
            status, headers, body = c.refusal.answer(c)
            c.refusal = None
        elif c.refusal:
            return status, headers, body
    except No as no:
        if no.word not in OWN or F("own-errors-not-kept"):
            if F("refusals-kept") and no.word == "taken":
                KEPT[place] = (print_, now() + 8 * HOUR, *no.answer(c)[:2], json.dumps(no.answer(c)[2]))
            raise
        status, headers, body = no.answer(c)
    KEPT[place] = (print_, now() + (4 if F("keys-four-hours") else 8) * HOUR, status, headers, json.dumps(body))
    return status, headers, body


COUNTED = [0]


def answer(r):
    with LOCK:
        return answer_now(r)


def answer_now(r):
    c = Call(r)
    route = None
    try:
        tick()
        route, allow = choose_route(c)
        if route is None:
            status, headers, body = 204, [("Allow", allow)], None
        else:
            known(c, route)
            read_body(c, route)
            read_params(c, route)
            status, headers, body = carry_out(c, route)
            if c.refusal:
                status, headers, body = c.refusal.answer(c)
            for x in T["lot"].values():
                if "_n" not in x:
                    COUNTED[0] += 1
                    x["_n"] = COUNTED[0]
    except No as no:
        status, headers, body = no.answer(c)
    except Exception:
        if "--loud" in sys.argv:
            import traceback
            traceback.print_exc()
        status, headers, body = No("broken").answer(c)
    out = [("Date", datetime.fromtimestamp(time.time(), timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT")), ("Hall-Edition", c.ed),
           ("Vary", "Hall-Edition, Hall-Badge, Authorization")]
    if F("edition-not-named"):
        out = [h for h in out if h[0] != "Hall-Edition"]
    if F("vary-without-badge"):
        out = [("Vary", "Hall-Edition") if h[0] == "Vary" else h for h in out]
    if c.post and not (F("no-trace-on-refusals") and status >= 400):
        out.append(("Hall-Trace", c.trace))
    if status == 401 and not F("no-challenge"):
        out += [("WWW-Authenticate", 'Bearer realm="Skerry Fish Auction"')]
        if route is None or "badge" in route.accept:
            out += [("WWW-Authenticate", 'ApiKey realm="Skerry Fish Auction", in="header", name="Hall-Badge"')]
    if c.ed == "1" and not (F("lists-undeprecated") and route and route.op.startswith("list")):
        out += [("Deprecation", "@1769904000" if not F("deprecation-as-date") else http_date("2026-02-01")), ("Sunset", http_date("2027-09-01")),
                ("Link", f'<{SITE}>; rel="deprecation"'), ("Link", f'<{r.target}>; rel="successor-version"')]
    out += c.told + headers
    text = b""
    if body is not None:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        out.append(("Content-Type", "application/json"))
    return status, out, text


def door(r):
    with LOCK:
        if r.method == "POST":
            said = json.loads(r.body or b"{}")
            if "advance" in said:
                MOVED[0] += lasting(said["advance"])
            if "now" in said:
                MOVED[0] += max(0, int(instant(said["now"])) - now())
            tick()
        return 200, [("Content-Type", "application/json")], json.dumps({"now": iso(now())}).encode()


def option(name):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else 0


if __name__ == "__main__":
    threading.Thread(target=deliver, daemon=True).start()
    clock = wire.listen(option("--clock-port"), door)
    port = wire.listen(option("--port"), answer)
    print(f"http://127.0.0.1:{port} clock http://127.0.0.1:{clock}", flush=True)
    while True:
        time.sleep(3600)
