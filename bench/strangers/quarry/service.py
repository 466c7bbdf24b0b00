#!/usr/bin/env python3
"""Grey Hollow Quarry: stones, benches, permits, loads, remarks and hooks. See service.yaml."""
import argparse
import base64
import datetime as dt
import hashlib
import hmac
import http.client
import json
import math
import os
import re
import secrets
import socket
import sqlite3
import string
import threading
import time
from collections import defaultdict, deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

SECRET = os.environ.get("QUARRY_SECRET", "limestone-remembers-the-sea-it-was").encode()
BASE = "/quarry"
SEC, MIN, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
KEYS = {  # gate keys: user, id, scopes
    "gk_wwwwwwwwwwwwwwwwwwwwgate": ("weigher", "north-gate", []),
    "gk_wwwwwwwwwwwwwwwwwwwsouth": ("weigher", "south-gate", []),
    "gk_ffffffffffffffffffffoona": ("foreman", "oona", ["permits"]),
}
FAULT = None


def bad(name):
    return FAULT == name


# ---------------------------------------------------------------- time

class Clock:
    offset, held = 0, None  # during one exchange it is one time

    def now(self):
        return self.held or int(time.time() * 1000) + self.offset

    def set(self, ms):
        self.offset = ms - int(time.time() * 1000)


CLOCK = Clock()
NOW = CLOCK.now


def iso(ms):
    d = dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=ms)
    return d.strftime("%Y-%m-%dT%H:%M:%S.") + f"{d.microsecond // 1000:03d}Z"


STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.A)


def instant(text):
    """Milliseconds (perhaps with a fraction) of an RFC 3339 date-time, or None."""
    m = STAMP.fullmatch(text)
    if not m:
        return None
    y, mo, d, h, mi, s = (int(x) for x in m.groups()[:6])
    leap = s == 60
    try:
        t = dt.datetime(y, mo, d, h, mi, 59 if leap else s)
    except ValueError:
        return None
    ms = (t - dt.datetime(1970, 1, 1)) // dt.timedelta(milliseconds=1) + (SEC if leap else 0)
    if m[7]:
        f = float(m[7]) * 1000
        ms += int(f) if f == int(f) else f
    z = m[8]
    if z not in "Zz":
        if int(z[1:3]) > 23 or int(z[4:]) > 59:
            return None
        if not bad("st-expire-offset"):
            ms -= (1 if z[0] == "+" else -1) * (int(z[1:3]) * HOUR + int(z[4:]) * MIN)
    return ms


# ---------------------------------------------------------------- shapes

def S(**k): return {"t": "string", **k}
def I(**k): return {"t": "integer", **k}
def N(**k): return {"t": "number", **k}
def B(**k): return {"t": "boolean", **k}
def A(items, **k): return {"t": "array", "items": items, **k}
def T(**k): return S(format="date-time", **k)
def REF(kind, **k): return {"t": "ref", "ref": kind, **k}


SPOT = {"t": "object", "fields": {"easting": I(min=0, max=999999, req=1), "northing": I(min=0, max=9999999, req=1), "level_m": N(min=-200, max=900)}}
FIELDS = {
    "stone": {
        "id": I(ro=1), "name": S(minlen=1, maxlen=40, req=1), "grade": S(enum=["rough", "crushed", "dressed"], req=1),
        "density": N(min=1, max=5, req=1), "price": I(min=0, max=1000000, req=1), "colour": S(maxlen=20, null=1),
        "sizes_mm": A(I(min=1, max=3000), maxitems=6, uniq=1), "leaflet": S(format="uri"), "since": S(format="date"),
        "hazard": B(default=False), "added_at": T(ro=1), "changed_at": T(ro=1)},
    "bench": {
        "id": I(ro=1), "name": S(pattern="[A-Z][0-9]{1,2}", req=1), "stone": REF("stone", req=1, on="restrict"), "spot": {**SPOT, "req": 1},
        "capacity_t": I(min=1, max=100000, req=1), "width_m": S(format="decimal"), "shotfirer": S(maxlen=60, visible=["foreman"], writable=["foreman"]),
        "closed_because": S(ro=1), "inspected_at": T(ro=1), "status": S(ro=1), "changed_at": T(ro=1)},
    "permit": {
        "id": I(ro=1), "serial": S(ro=1), "company": S(ro=1), "holder": S(ro=1), "reference": S(minlen=1, maxlen=30),
        "stone": REF("stone", req=1, imm=1, on="restrict"), "tonnes": I(min=1, max=500, req=1), "vehicle": S(pattern="[A-Z]{1,3}-[0-9]{1,4}", req=1),
        "contact": S(format="email", req=1), "use": S(enum=["building", "paving", "monument"], default="building"),
        "tags": A(S(minlen=1, maxlen=12), maxitems=4, default=[]), "gate_pin": S(pattern="[0-9]{4}", wo=1),
        "foreman_note": S(maxlen=200, visible=["foreman"], writable=["foreman"]), "refused_because": S(ro=1), "granted_by": S(ro=1, visible=["foreman", "weigher"]),
        "valid_until": T(req=1), "status": S(ro=1), "created_at": T(ro=1), "changed_at": T(ro=1)},
    "load": {
        "id": I(ro=1), "permit": REF("permit", imm=1, req=1, on="restrict"), "bench": REF("bench", imm=1, req=1, on="restrict"), "company": S(ro=1), "booked_by": S(ro=1),
        "tonnes": I(min=1, max=40, req=1), "slot": T(imm=1, req=1), "driver": S(minlen=1, maxlen=60, req=1), "note": S(maxlen=140),
        "gross_kg": I(ro=1), "tare_kg": I(ro=1), "weighings": I(ro=1), "fee": I(ro=1, visible=["foreman", "haulier"]), "left_at": T(ro=1),
        "status": S(ro=1), "created_at": T(ro=1), "changed_at": T(ro=1)},
    "remark": {
        "id": I(ro=1), "load": REF("load", imm=1, req=1, on="cascade"), "about": REF("stone", on="clear"), "author": S(ro=1),
        "text": S(minlen=1, maxlen=500, req=1), "urgent": B(default=False), "written_at": T(ro=1)},
    "hook": {
        "id": I(ro=1), "owner": S(ro=1), "url": S(format="uri", maxlen=300, req=1), "kinds": A(S(), maxitems=10, default=["*"]),
        "secret": S(ro=1, once=1), "active": B(default=True)},
}
STATES = {
    "bench": ["surveyed", "working", "resting", "closed", "condemned"],
    "permit": ["requested", "granted", "refused", "withdrawn", "suspended", "expired", "lapsed"],
    "load": ["booked", "weighed", "dispatched", "delivered", "cancelled", "lapsed", "lost"],
}
PLURAL = {"stone": "stones", "bench": "benches", "permit": "permits", "load": "loads", "remark": "remarks", "hook": "hooks"}
REASON = {"reason": S(minlen=3, maxlen=120, req=1)}
SCALES = {"gross_kg": I(min=1, max=60000, req=1), "tare_kg": I(min=0, max=30000, req=1)}


def is_int(v):
    return not isinstance(v, bool) and (isinstance(v, int) or isinstance(v, float) and v.is_integer())


FORMATS = {
    "date-time": lambda s: instant(s) is not None,
    "date": lambda s: re.fullmatch(r"\d{4}-\d\d-\d\d", s, re.A) and instant(s + "T00:00:00Z") is not None,
    "email": lambda s: re.fullmatch(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*", s)
    and ".." not in s.split("@")[0] and s[0] != "." and s.split("@")[0][-1] != ".",
    "uri": lambda s: re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:([A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+", s) and not re.match(r"https?:(?!//[^/?#])", s),
    "decimal": lambda s: re.fullmatch(r"-?\d+(\.\d+)?", s, re.A),
}


def check(v, f, path):
    """The paths at which a value does not fit its field."""
    if v is None:
        return [] if f.get("null") and not bad("re-colour-null") else [path]
    t = f["t"]
    if t in ("integer", "ref"):
        if not is_int(v):
            return [path]
    elif t == "number":
        if isinstance(v, bool) or not isinstance(v, (int, float)):
            return [path]
    elif t == "boolean":
        return [] if isinstance(v, bool) else [path]
    elif t == "string":
        if not isinstance(v, str):
            return [path]
        n = len(v.encode("utf-8", "surrogatepass")) if bad("re-length-bytes") else len(v)
        if not f.get("minlen", 0) <= n <= f.get("maxlen", math.inf):
            return [path]
        if "enum" in f and v not in f["enum"]:
            return [path]
        if "pattern" in f and not (re.search if bad("re-vehicle-anchor") else re.fullmatch)(f["pattern"], v):
            return [path]
        if "format" in f and not FORMATS[f["format"]](v):
            return [path]
        return [path] if bad("re-only-utc") and f.get("format") == "date-time" and v[-1] not in "Zz" else []
    elif t == "array":
        if not isinstance(v, list):
            return [path]
        out = [p for i, x in enumerate(v) for p in check(x, f["items"], f"{path}/{i}")]
        if len(v) > f.get("maxitems", math.inf):
            out.append(path)
        if f.get("uniq") and not bad("re-sizes-twice") and len({float(x) for x in v if is_int(x)}) < len(v):
            out.append(path)
        return out
    elif t == "object":
        if not isinstance(v, dict):
            return [path]
        out = [f"{path}/{k}" for k in v if k not in f["fields"]]
        for k, g in f["fields"].items():
            if k in v:
                out += check(v[k], g, f"{path}/{k}")
            elif g.get("req"):
                out.append(f"{path}/{k}")
        return out
    top = f.get("max", math.inf)
    if bad("re-tonnes-edge") and top == 500:
        top = 499
    return [] if f.get("min", -math.inf) <= v <= top else [path]


def tidy(v, f):
    """10.0 is an integer too."""
    if f["t"] in ("integer", "ref") and isinstance(v, float):
        return int(v)
    if f["t"] == "array" and isinstance(v, list):
        return [tidy(x, f["items"]) for x in v]
    if f["t"] == "object" and isinstance(v, dict):
        return {k: tidy(x, f["fields"][k]) for k, x in v.items()}
    return v


# ---------------------------------------------------------------- versions

def shape(kind, v):
    f = FIELDS[kind]
    if v == 2:
        return f
    if kind == "permit":
        return {("lorry" if k == "vehicle" else k): s for k, s in f.items()}
    if kind == "bench":
        return {**f, "colour": S()}
    if kind == "stone":
        f = {k: s for k, s in f.items() if k != "hazard" or bad("ve-hazard-shown")}
        return {**f, "grade": S(enum=f["grade"]["enum"] if bad("ve-raw-refused") else ["raw", "crushed", "dressed"], req=1), "price": N(min=0, max=10000, req=1)}
    return f


def down(kind, doc, v):
    if v == 2:
        return doc
    doc = dict(doc)
    if kind == "permit" and "vehicle" in doc:
        doc["lorry"] = doc.pop("vehicle")
    elif kind == "bench":
        doc["colour"] = "grey"
    elif kind == "stone":
        if not bad("ve-hazard-shown"):
            doc.pop("hazard", None)
        if doc.get("grade") == "rough" and not bad("ve-raw-shown"):
            doc["grade"] = "raw"
        if "price" in doc:
            doc["price"] = doc["price"] / 100
    return doc


def up(kind, doc, v):
    if v == 2:
        return doc
    doc = dict(doc)
    if kind == "permit" and "lorry" in doc:
        doc["vehicle"] = doc.pop("lorry")
    elif kind == "bench":
        doc.pop("colour", None)
    elif kind == "stone":
        if doc.get("grade") == "raw":
            doc["grade"] = "rough"
        if "price" in doc:
            p = doc["price"] * 100
            doc["price"] = int(p) if bad("ve-price-cut") else math.floor(p + 0.5)
    return doc


# ---------------------------------------------------------------- store

DB = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
LOCK = threading.RLock()
for _k in FIELDS:
    DB.execute(f"create table {_k} (id integer primary key autoincrement, doc text not null)")


def get(kind, id):
    r = DB.execute(f"select doc from {kind} where id = ?", (id,)).fetchone()
    return json.loads(r[0]) if r else None


def rows(kind):
    return [json.loads(r[0]) for r in DB.execute(f"select doc from {kind} order by id")]


def put(kind, doc):
    DB.execute(f"update {kind} set doc = ? where id = ?", (json.dumps(doc), doc["id"]))


def add(kind, doc):
    doc["id"] = DB.execute(f"insert into {kind} (doc) values ('')").lastrowid
    put(kind, doc)
    return doc


class Refuse(Exception):
    def __init__(self, status, code, title=None, fields=(), headers=None, own=False):
        self.status, self.code, self.fields, self.headers, self.own = status, code, list(fields), headers or {}, own
        self.title = title or code.replace("_", " ")


def random_text(n):
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(n))


# ---------------------------------------------------------------- callers and what they may do

class Caller:
    def __init__(self, user, id, scopes=(), company=None):
        self.user, self.id, self.scopes, self.company = user, id, list(scopes), company

    @property
    def key(self):
        return (self.user, self.id)


USERS = {"foreman", "haulier", "weigher"}


def rule(users, cond=None, scopes=(), other=None):
    return {"users": users.split(), "if": cond, "scopes": scopes, "else": other}


def mine(r, c): return c.company is not None and r["company"] == c.company


def own_hook(r, c): return bad("au-hook-any") or r["owner"] == c.id


ALL = "foreman haulier weigher"
F, H, W = "foreman", "haulier", "weigher"
RULES = defaultdict(list)
for _op in "create stone,update stone,replace stone,delete stone,create bench,list bench,read bench,update bench,delete bench,start bench,rest bench,close bench,inspect bench".split(","):
    RULES[_op].append(rule(F))
for _op in ("list bench", "read bench"):
    RULES[_op].append(rule("haulier weigher", lambda r, c, op=_op: r["status"] != "surveyed" or bad("au-surveyed-list") and op[0] == "l"))
RULES["handler estimate"] = [rule("foreman haulier")]
RULES["create permit"] = [rule(H)]
for _op in "list permit,read permit,update permit,withdraw permit".split(","):
    RULES[_op].append(rule(H, lambda r, c, op=_op: mine(r, c) or bad("au-read-any") and op == "read permit"))
RULES["delete permit"] = [rule(H, lambda r, c: r["holder"] == c.id or bad("au-colleague-delete") and mine(r, c), other=(403, "not_the_holder"))]
for _op in "list permit,read permit,update permit".split(","):
    RULES[_op].append(rule(F))
for _op in ("list permit", "read permit"):
    RULES[_op].append(rule(W))
for _op in "grant permit,refuse permit,suspend permit,lift permit".split(","):
    RULES[_op].append(rule(F, scopes=["permits"]))
RULES["create load"] = [rule(H)]
for _op in "list load,loads of a permit,read load,deliver load".split(","):
    RULES[_op].append(rule(H, mine))
for _op in "update load,cancel load,delete load".split(","):
    RULES[_op].append(rule(H, lambda r, c, op=_op: r["booked_by"] == c.id or bad("au-colleague-cancel") and op == "cancel load" and mine(r, c)))
for _op in "list load,loads of a permit,read load".split(","):
    RULES[_op].append(rule(F))
for _op in "list load,read load,weigh load,reweigh load,dispatch load".split(","):
    RULES[_op].append(rule(W))
RULES["create remark"] = [rule(ALL)]
RULES["list remark"] = [rule("foreman weigher"), rule(H, lambda r, c: mine(get("load", r["load"]) or {"company": None}, c))]
RULES["delete remark"] = [rule(ALL, lambda r, c: r["author"] == c.id or bad("au-remark-any"))]
RULES["create hook"] = [rule("foreman haulier")]
for _op in "list hook,read hook,update hook,delete hook".split(","):
    RULES[_op].append(rule("foreman haulier", own_hook))


def rules(op, c):
    return [r for r in RULES[op] if c.user in r["users"] and (bad("au-scope") or set(r["scopes"]) <= set(c.scopes))]


def allowed(op, c, row):
    return any(r["if"] is None or r["if"](row, c) for r in rules(op, c))


def readable(kind, c, row):
    return kind == "stone" or allowed("list remark" if kind == "remark" else "read " + kind, c, row)


def b64(s):
    return base64.urlsafe_b64decode(s + "=" * (-len(s) % 4))


def bearer(token):
    try:
        head, body, sig = token.split(".")
        if json.loads(b64(head)).get("alg") != "HS256":
            return None
        if not hmac.compare_digest(hmac.new(SECRET, f"{head}.{body}".encode(), hashlib.sha256).digest(), b64(sig)):
            return None
        c = json.loads(b64(body))
        aud = c.get("aud")
        if c.get("iss") != "https://id.greyhollow.example":
            return None
        if "quarry" not in (aud if isinstance(aud, list) else [aud]) and not bad("au-audience"):
            return None
        if "exp" in c and c["exp"] * 1000 <= NOW() and not bad("au-expired") or c.get("nbf", 0) * 1000 > NOW():
            return None
        if not isinstance(c["sub"], str) or c["role"] not in USERS:
            return None
        scope = c.get("scope")
        return Caller(c["role"], c["sub"], scope.split(" ") if scope else [], c.get("company"))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def who(headers):
    found = []
    key, auth = headers.get("x-gate-key"), headers.get("authorization")
    if key is not None:
        k = KEYS.get(key)
        found.append(Caller(k[0], k[1], k[2]) if k else None)
    if auth is not None:
        m = re.fullmatch(r"Bearer +(\S+)", auth, re.I)
        found.append(bearer(m[1]) if m else None)
    if not found or None in found or len({c.key for c in found}) > 1 or bad("pu-weigher") and found[0].user == W:
        raise Refuse(401, "unauthorized", headers={"WWW-Authenticate": "Bearer"})
    return found[-1]


# ---------------------------------------------------------------- limits

WINDOWS = defaultdict(deque)
FIXED = {}
QUOTA = {}


def rates(key, op):
    now, cost = NOW(), 2 if op == "list load" and not bad("li-cost") else 1
    if bad("li-shared"):
        key = key[:1]
    w = WINDOWS[key]
    while w and w[0][0] <= now - MIN:
        w.popleft()
    wait = 0
    if sum(c for _, c in w) + cost > 400:
        wait = w[0][0] + MIN - now
        if bad("li-refused-counts"):
            w.append((now, cost))
    slot, n = now // (10 * MIN), 0
    if op == "create hook":
        n = FIXED.get((key, slot), 0)
        if n >= 12 and not bad("li-hooks"):
            wait = max(wait, (slot + 1) * 10 * MIN - now)
    if wait:
        raise Refuse(429, "slow_down", headers={"Retry-After": str(math.ceil(wait / 1000))})
    w.append((now, cost))
    if op == "create hook":
        FIXED[key, slot] = n + 1


def quota_day():
    return 0 if bad("li-quota-forever") else NOW() // DAY


# ---------------------------------------------------------------- what changes and what follows

def tr(name, frm, to, other=(409, "wrong_state"), cond=None, cond_else=None, **k):
    return name, {"from": frm.split(), "to": to, "else": other, "if": cond, "if_else": cond_else, **k}


TRANSITIONS = {
    "bench": dict([
        tr("start", "surveyed", "working"), tr("rest", "working", "resting"), tr("wake", "resting", "working"),
        tr("close", "working resting", "closed", body=REASON), tr("inspect", "closed", None, body={"sound": B(req=1)})]),
    "permit": dict([
        tr("grant", "requested", "granted", (409, "already_decided"), lambda r, b: instant(r["valid_until"]) > NOW(), (409, "permit_over", "The permit would already be over.")),
        tr("refuse", "requested", "refused", (409, "already_decided"), body=REASON), tr("withdraw", "requested granted", "withdrawn"),
        tr("suspend", "granted", "suspended"), tr("lift", "suspended", "granted"), tr("lapse", "requested", "lapsed"), tr("expire", "granted suspended", "expired")]),
    "load": dict([
        tr("weigh", "booked", "weighed", cond=lambda r, b: b["gross_kg"] > b["tare_kg"] or bad("st-scales-equal") and b["gross_kg"] == b["tare_kg"],
           cond_else=(422, "scales_wrong", "Gross must be more than tare."), body=SCALES),
        tr("reweigh", "weighed", "weighed", cond=lambda r, b: r["weighings"] < (4 if bad("st-weighings") else 3),
           cond_else=(409, "weighed_enough", "A load is weighed three times at most."), body=SCALES),
        tr("stale", "weighed", "booked"), tr("dispatch", "weighed", "dispatched"), tr("deliver", "dispatched", "delivered"),
        tr("lose", "dispatched", "lost"), tr("cancel", "booked", "cancelled", (409, "too_late")), tr("lapse", "booked", "lapsed")]),
}
TIMED = {"bench": [("wake", 8 * HOUR)], "permit": [("lapse", 7 * DAY), ("expire", None)], "load": [("stale", 2 * HOUR), ("lapse", 12 * HOUR), ("lose", 3 * DAY)]}


def transition(kind, row, name, body, caller):
    t, nxt = TRANSITIONS[kind][name], dict(row)
    frm = list(t["from"])
    if bad("st-grant-refused") and name == "grant":
        frm.append("refused")
    if bad("st-withdraw-requested") and name == "withdraw":
        frm = ["requested"]
    if row["status"] not in frm:
        raise Refuse(*t["else"])
    if t["if"] and not t["if"](row, body):
        raise Refuse(*t["if_else"])
    nxt["status"] = t["to"] or ("working" if body["sound"] or bad("st-inspect-sound") else "condemned")
    if not (bad("st-reweigh-clock") and name == "reweigh"):
        nxt["_since"] = NOW()
    stamp = iso(NOW())
    if name == "close":
        nxt["closed_because"] = body["reason"]
    elif name == "refuse":
        nxt["refused_because"] = body["reason"]
    elif name == "inspect":
        nxt["inspected_at"] = stamp
    elif name == "grant" and not bad("st-granted-by"):
        nxt["granted_by"] = caller.id
    elif name == "dispatch":
        nxt["left_at"] = stamp
    elif name in ("weigh", "reweigh"):
        nxt.update(body)
        nxt["weighings"] = row["weighings"] + 1
        price = get("stone", get("permit", row["permit"])["stone"])["price"]
        if not (bad("st-fee-first") and name == "reweigh"):
            nxt["fee"] = (body["gross_kg"] - body["tare_kg"]) * price // 1000
        if bad("st-fee-tonnes") and name == "weigh":
            nxt["fee"] = row["tonnes"] * price
    nxt["changed_at"] = stamp
    put(kind, nxt)
    emit(f"{name} {kind}", kind, nxt, body)
    return nxt


def due_of(kind, r):
    out = []
    for name, after in TIMED[kind]:
        frm = TRANSITIONS[kind][name]["from"]
        if bad("st-wake-closed") and name == "wake":
            frm = frm + ["closed"]
        if bad("st-suspended-stays") and name == "expire":
            frm = ["granted"]
        if bad("st-never-lost") and name == "lose" or r["status"] not in frm:
            continue
        since = r["_since"]
        if bad("st-lapse-restarts") and name == "lapse" and kind == "permit":
            since = instant(r["changed_at"])
        if bad("st-lapse-created") and name == "lapse" and kind == "load":
            since = instant(r["created_at"])
        out.append((math.ceil(instant(r["valid_until"])) if after is None else since + after, kind, r["id"], name))
    return out


KNOWN = [None, []]


def timers():
    if KNOWN[0] != DB.total_changes:
        KNOWN[:] = [DB.total_changes, sorted(d for kind in TIMED for r in rows(kind) for d in due_of(kind, r))]
    return KNOWN[1]


def settle():
    """Fires what has fallen due."""
    while True:
        due = [d for d in timers() if d[0] <= NOW()]
        if not due:
            return
        _, kind, id, name = due[0]
        r = get(kind, id)
        t = TRANSITIONS[kind][name]
        if r["status"] not in t["from"]:
            r["status"] = t["from"][0]
        transition(kind, r, name, {}, None)


# ---------------------------------------------------------------- events

KINDS = {  # operation -> kind, condition, data
    "create permit": ("permit.requested", None, None), "grant permit": ("permit.decided", None, lambda r: {"permit": r["id"], "status": r["status"]}),
    "refuse permit": ("permit.decided", None, lambda r: {"permit": r["id"], "status": r["status"]}),
    "update permit": ("permit.changed", None, None), "suspend permit": ("permit.changed", None, None), "lift permit": ("permit.changed", None, None),
    "withdraw permit": ("permit.ended", None, None), "lapse permit": ("permit.ended", None, None), "expire permit": ("permit.ended", None, None),
    "create load": ("load.booked", None, None),
    "weigh load": ("load.heavy", lambda b: b["gross_kg"] - b["tare_kg"] > 30000, None), "reweigh load": ("load.heavy", lambda b: b["gross_kg"] - b["tare_kg"] > 30000, None),
    "dispatch load": ("load.moved", None, None), "deliver load": ("load.moved", None, None), "lose load": ("load.moved", None, None),
    "cancel load": ("load.dropped", None, None), "lapse load": ("load.dropped", None, None),
    "update stone": ("stone.changed", None, None), "replace stone": ("stone.changed", None, None),
    "delete remark": ("remark.removed", None, lambda r: {"id": r["id"], "load": r["load"]}), "wake bench": ("bench.woken", None, None),
}
ALL_KINDS = {k for k, _, _ in KINDS.values()}
QUEUE = []  # deliveries, oldest first
QLOCK = threading.RLock()
RETRY = [30 * SEC, 5 * MIN, HOUR]


def wants(kinds, kind):
    return any(k in ("*", kind) or k.endswith(".*") and kind.startswith(k[:-1]) and not bad("ev-family") for k in kinds)


def emit(op, kind, row, body=None):
    if op not in KINDS or bad("ev-expire-silent") and op == "expire permit":
        return
    name, cond, data = KINDS[op]
    if cond and not cond(body) and not bad("ev-heavy-any"):
        return
    event = {"id": "evt_" + random_text(20), "kind": name, "at": iso(NOW())}
    for h in rows("hook"):
        maker = Caller(*h["_maker"])
        if not (h["active"] or bad("ev-inactive")) or not wants(h["kinds"], name) or not (readable(kind, maker, row) or bad("ev-others")):
            continue
        v = 2 if bad("ev-version") else h["_version"]
        payload = data(row) if data else present(kind, row, Caller(F, "") if bad("ev-note") else maker, v)
        with QLOCK:
            QUEUE.append({"hook": h["id"], "about": (kind, row["id"]), "body": {**event, "data": payload}, "due": NOW(), "tries": 0, "busy": False})


def ready():
    """Deliveries whose turn it is: per hook and resource only the oldest."""
    seen, out = set(), []
    with QLOCK:
        for d in QUEUE:
            k = (d["hook"], d["about"])
            if k not in seen or bad("ev-overtakes"):
                seen.add(k)
                out.append(d)
    return out


def send(h, d):
    body = dict(d["body"])
    if bad("ev-new-id") and d["tries"]:
        body["id"] = "evt_" + random_text(20)
    if bad("ev-at"):
        body["at"] = iso(NOW())
    text, t = json.dumps(body).encode(), NOW() // 1000
    if bad("ev-sign-millis"):
        t = NOW()
    signed = text if bad("ev-sign-body") else f"{t}.".encode() + text
    sig = hmac.new(h["secret"].encode(), signed, hashlib.sha256).hexdigest()
    try:
        u = urlsplit(h["url"])
        if u.scheme not in ("http", "https") or not u.hostname:
            return False
        make = http.client.HTTPSConnection if u.scheme == "https" else http.client.HTTPConnection
        c = make(u.hostname, u.port, timeout=5)
        c.request("POST", (u.path or "/") + ("?" + u.query if u.query else ""), text,
                  {"Content-Type": "application/json", "X-Quarry-Kind": body["kind"], "X-Quarry-Signature": f"t={t},s={sig}"})
        status = c.getresponse().status
        c.close()
        return 200 <= status < 300
    except (OSError, http.client.HTTPException, ValueError):
        return False


def attempt(d):
    with LOCK:
        h = get("hook", d["hook"])
    ok = bool(h) and (h["active"] or bad("ev-inactive")) and send(h, d)
    with LOCK, QLOCK:
        d["busy"] = False
        h = get("hook", d["hook"])
        if not h or not (h["active"] or bad("ev-inactive")):
            QUEUE[:] = [x for x in QUEUE if x["hook"] != d["hook"]]
            return
        if ok:
            QUEUE.remove(d)
            if h.pop("_failing", None):
                put("hook", h)
            return
        since = h.setdefault("_failing", NOW())
        if NOW() - since >= 2 * DAY and not bad("ev-never-disabled"):
            h["active"] = False
            del h["_failing"]
            QUEUE[:] = [x for x in QUEUE if x["hook"] != d["hook"]]
        elif d["tries"] == (2 if bad("ev-fewer-tries") else len(RETRY)):
            QUEUE.remove(d)
        else:
            d["due"] = NOW() + RETRY[d["tries"]]
            d["tries"] += 1
        put("hook", h)


def deliver(wait=False):
    todo = []
    with QLOCK:
        for d in ready():
            if d["due"] <= NOW() and not d["busy"]:
                d["busy"] = True
                todo.append(threading.Thread(target=attempt, args=(d,), daemon=True))
    for t in todo:
        t.start()
    for t in todo if wait else []:
        t.join()
    return bool(todo)


def background():
    while True:
        time.sleep(0.02)
        with LOCK:
            settle()
        deliver()


def quiet():
    """Waits until nothing is on its way."""
    while deliver(True) or any(d["busy"] for d in ready()):
        time.sleep(0.005)


DOOR = threading.Lock()


def advance_to(target):
    with DOOR:
        quiet()
        while True:
            with LOCK:
                settle()
                due = [d[0] for d in timers()] + [d["due"] for d in ready()]
                due = [d for d in due if NOW() < d <= target]
                if due:
                    CLOCK.set(min(due))
                    settle()
                else:
                    CLOCK.set(max(target, NOW()))
                    settle()
            quiet()
            if not due:
                return


# ---------------------------------------------------------------- answers

def present(kind, row, c, v, first=False, listed=False):
    user = c.user if c else None
    out = {}
    for k, f in FIELDS[kind].items():
        if k not in row or f.get("wo") and not bad("re-pin-shown") or f.get("once") and not (first or bad("re-secret-again")):
            continue
        if "visible" in f and user not in f["visible"] and not (bad("re-note-listed") and listed):
            continue
        x = row[k]
        if kind == "load" and k == "bench" and not bad("re-bench-id"):
            b = get("bench", x)
            x = {"id": b["id"], "name": b["name"]}
        if bad("re-price-text") and k == "price":
            x = str(x)
        out[k] = x
    return down(kind, out, v) if not (bad("re-price-text") and kind == "stone" and v == 1) else out


def etag(rep, v):
    return '"' + hashlib.sha256(json.dumps([v, rep], sort_keys=True).encode()).hexdigest()[:24] + '"'


def tags(text):
    return re.findall(r'(?:W/)?"[^"]*"', text)


# ---------------------------------------------------------------- routes

class Route:
    def __init__(self, method, path, op, kind, act, **o):
        self.method, self.path, self.op, self.kind, self.act, self.o = method, path, op, kind, act, o
        self.re = re.compile("".join("([^/]+)" if p.startswith("{") else re.escape(p) for p in re.split(r"(\{\w+\})", path)))
        self.names = re.findall(r"\{(\w+)\}", path)


ROUTES = []


def route(method, path, op, kind, act, **o):
    ROUTES.append(Route(method, path, op, kind, act, **o))


def P(field=None, op="=", **k): return {"field": field, "op": op, **k}


PAGE = {"style": "page", "default": 20, "max": 100}
route("GET", "/hours", "opening hours", None, "hours", public=1)
route("GET", "/estimates", "handler estimate", None, "estimate",
      params={"tonnes": P(shape=I(min=1, max=500), req=1), "use": P(shape=S(enum=["building", "paving", "monument"]))}, since=2)
route("POST", "/stones", "create stone", "stone", "create")
route("GET", "/stones", "list stone", "stone", "list", public=1, order=["-density"], page=PAGE,
      params={"name": P("name"), "grade": P("grade"), "min_density": P("density", ">="), "sort": P(sort=["density", "-density", "added_at", "-added_at"])})
route("GET", "/stones/{id}", "read stone", "stone", "read", public=1, etag=1, cache="public, max-age=30")
route("PATCH", "/stones/{id}", "update stone", "stone", "update", etag=1, if_match="accepted")
route("PUT", "/stones/{id}", "replace stone", "stone", "replace", etag=1, if_match="required")
route("DELETE", "/stones/{id}", "delete stone", "stone", "delete")
route("POST", "/benches", "create bench", "bench", "create")
route("GET", "/benches", "list bench", "bench", "list", order=["name"], params={"stone": P("stone"), "status": P("status")}, page={"style": "after", "default": 10, "max": 50})
route("GET", "/benches/{id}", "read bench", "bench", "read")
route("PATCH", "/benches/{id}", "update bench", "bench", "update", states=["surveyed", "working", "resting"])
route("DELETE", "/benches/{id}", "delete bench", "bench", "delete", states=["surveyed", "condemned"])
for _n in ("start", "rest", "close", "inspect"):
    route("POST", "/benches/{id}/" + _n, _n + " bench", "bench", "transition", name=_n)
route("POST", "/permits", "create permit", "permit", "create", idem=1)
route("GET", "/permits", "list permit", "permit", "list", order=["-created_at"], page=PAGE,
      params={"status": P("status"), "stone": P("stone"), "vehicle": P("vehicle"), "reference": P("reference", "prefix"),
              "min_tonnes": P("tonnes", ">="), "below_tonnes": P("tonnes", "<"), "sort": P(sort=["tonnes", "-tonnes", "created_at", "-created_at"])})
route("GET", "/permits/{id}", "read permit", "permit", "read", etag=1)
route("PATCH", "/permits/{id}", "update permit", "permit", "update", etag=1, if_match="required", states=["requested"])
route("DELETE", "/permits/{id}", "delete permit", "permit", "delete", states=["refused", "withdrawn", "lapsed"])
for _n in ("grant", "refuse", "withdraw", "suspend", "lift"):
    route("POST", "/permits/{id}/" + _n, _n + " permit", "permit", "transition", name=_n)
route("POST", "/permits/{permit}/loads", "create load", "load", "create", idem=1, parent="permit")
route("GET", "/permits/{permit}/loads", "loads of a permit", "load", "list", order=["slot"], parent="permit", page=PAGE)
route("GET", "/loads", "list load", "load", "list", order=["-slot", "tonnes"], page={"style": "cursor", "default": 20, "max": 50},
      params={"status": P("status", "in"), "bench": P("bench"), "driver": P("driver", "contains"), "slot_from": P("slot", ">="), "slot_before": P("slot", "<")})
route("GET", "/loads/{id}", "read load", "load", "read")
route("PATCH", "/loads/{id}", "update load", "load", "update", states=["booked"], states_else=(423, "load_on_its_way", "Only a booked load can be changed."))
route("DELETE", "/loads/{id}", "delete load", "load", "delete", states=["cancelled", "lapsed"])
for _n in ("weigh", "reweigh", "dispatch", "deliver", "cancel"):
    route("POST", "/loads/{id}/" + _n, _n + " load", "load", "transition", name=_n)
route("POST", "/loads/{load}/remarks", "create remark", "remark", "create", parent="load")
route("GET", "/loads/{load}/remarks", "list remark", "remark", "list", parent="load", params={"urgent": P("urgent")}, page={"style": "none"})
route("DELETE", "/remarks/{id}", "delete remark", "remark", "delete")
route("POST", "/hooks", "create hook", "hook", "create", idem=1)
route("GET", "/hooks", "list hook", "hook", "list", page=PAGE)
route("GET", "/hooks/{id}", "read hook", "hook", "read")
route("PATCH", "/hooks/{id}", "update hook", "hook", "update")
route("DELETE", "/hooks/{id}", "delete hook", "hook", "delete")


# ---------------------------------------------------------------- one exchange

IDEM = {}
SUNSET = instant("2027-06-01T00:00:00Z")
NEEDS_BODY = ("create", "update", "replace")


class Exchange:
    def __init__(self, method, target, headers, body, address, too_large=False, headers_size=0):
        self.method, self.target, self.headers, self.raw, self.address = method, target, headers, body, address
        self.too_large, self.headers_size, self.v, self.caller, self.public = too_large, headers_size, None, None, False

    def answer(self):
        try:
            status, headers, body = self.run()
        except Refuse as e:
            status, headers = e.status, dict(e.headers)
            body = {"code": e.code, "status": 400 if bad("er-status-400") else e.status, "title": e.title,
                    "fields": [] if bad("er-no-fields") else e.fields}
        if self.v == 1:
            headers.setdefault("Deprecation", "@1772323200")
            headers.setdefault("Sunset", "Tue, 01 Jun 2027 00:00:00 GMT")
            headers.setdefault("Link", '<https://greyhollow.example/moving-to-v2>; rel="deprecation"')
            if bad("ve-undeprecated"):
                for k in ("Deprecation", "Sunset", "Link"):
                    headers.pop(k)
        if not self.public:
            headers["Vary"] = "Authorization, X-Gate-Key"
        return status, headers, body

    def run(self):
        settle()
        if len(self.target.encode()) > 2048 and not bad("li-url") or self.headers_size > 16384:
            raise Refuse(413, "too_large")
        r = self.route()
        self.r = r
        self.public = bool(r.o.get("public"))
        if not self.public:
            self.caller = who(self.headers)
        rates((("caller",) + self.caller.key) if self.caller else ("address", self.address), r.op)
        if not self.public and not rules(r.op, self.caller):
            raise Refuse(403, "forbidden")
        self.media()
        self.parameters()
        key = self.headers.get("idempotency-key") if r.o.get("idem") else None
        if key is None:
            return self.act()
        slot = (None if bad("en-key-shared") else self.caller.key, r.op, key)
        print_ = hashlib.sha256(b"\0".join([self.target.encode(), str(self.v).encode(), b"" if bad("en-key-body") else self.raw])).hexdigest()
        old = IDEM.get(slot)
        if old and old["until"] > NOW():
            if old["print"] != print_:
                raise Refuse(422, "key_reused")
            return old["answer"]
        try:
            status, headers, body = self.act()
            kept = {k: x for k, x in body.items() if k != "secret" or bad("en-key-secret")} if isinstance(body, dict) else body
        except Refuse as e:
            if e.own:
                IDEM[slot] = {"until": NOW() + DAY, "print": print_, "answer": (e.status, {}, {"code": e.code, "status": e.status, "title": e.title, "fields": []})}
            raise
        if not (bad("en-key-load") and r.op == "create load"):
            IDEM[slot] = {"until": NOW() + (HOUR if bad("en-key-hour") else DAY), "print": print_, "answer": (status, headers, kept)}
        return status, dict(headers), body

    def route(self):
        path, _, self.query = self.target.partition("?")
        base = "" if bad("pu-base") else BASE
        if not path.startswith(base + "/"):
            raise Refuse(404, "not_found")
        version, _, rest = path[len(base) + 1:].partition("/")
        rest = "/" + rest
        found = [(r, m) for r in ROUTES if (m := r.re.fullmatch(rest))]
        if bad("pu-lift"):
            found = [(r, m) for r, m in found if r.op != "lift permit"]
        if not found:
            raise Refuse(404, "not_found")
        v = {"v1": 1, "v2": 2}.get(version)
        if v is None:
            if not bad("ve-unknown"):
                raise Refuse(404, "no_such_version")
            v = 2
        if v == 1:
            found = [(r, m) for r, m in found if r.o.get("since", 1) <= 1 or bad("ve-estimates-old")]
            if not found:
                self.v = 1
                raise Refuse(404, "not_found")
        right = [(r, m) for r, m in found if r.method == self.method]
        if not right:
            self.v = v
            raise Refuse(404, "not_found") if bad("er-405") else Refuse(405, "method_not_allowed", headers={"Allow": ", ".join(sorted({r.method for r, _ in found}))})
        if v == 1 and NOW() >= SUNSET and not bad("ve-sunset"):
            self.v = v
            raise Refuse(410, "version_gone")
        self.v = v
        r, m = right[0]
        self.path = {n: unquote(x) for n, x in zip(r.names, m.groups())}
        return r

    def body_fields(self):
        r = self.r
        return TRANSITIONS[r.kind][r.o["name"]].get("body") if r.act == "transition" else True if r.act in NEEDS_BODY else None

    def media(self):
        r, needs = self.r, self.body_fields()
        if needs and self.raw:
            kind = self.headers.get("content-type", "").split(";")[0].strip().lower()
            if kind != "application/json" and not (r.act == "update" and kind == "application/merge-patch+json"):
                raise Refuse(415, "media_type")
        best = None
        for part in self.headers.get("accept", "*/*").split(","):
            kind, *ps = (x.strip().lower() for x in part.split(";"))
            q = next((p[2:] for p in ps if p.startswith("q=")), "1")
            rank = {"*/*": 0, "application/*": 1, "application/json": 2}.get(kind)
            if rank is not None and (best is None or rank > best[0]):
                best = (rank, q)
        if best is None or re.fullmatch(r"0(\.0*)?", best[1]):
            raise Refuse(406, "not_acceptable")
        if needs and (self.too_large or len(self.raw) > 16384) and not bad("li-body"):
            raise Refuse(413, "too_large")
        self.body = None
        if needs:
            def nope(_): raise ValueError
            try:
                self.body = json.loads(self.raw.decode("utf-8"), parse_constant=nope)
            except (ValueError, RecursionError):
                if bad("er-malformed-500"):
                    raise Refuse(500, "broken")
                raise Refuse(400, "bad_request")

    def parameters(self):
        r, page = self.r, self.r.o.get("page", {})
        words = {"page": ["page", "per_page"], "after": ["starting_after", "ending_before", "limit"], "cursor": ["cursor", "limit"]}.get(page.get("style"), [])
        specs = dict(r.o.get("params", {}))
        if self.v == 1 and "vehicle" in specs and not bad("ve-filter-new"):
            specs["lorry"] = specs.pop("vehicle")
        try:
            pairs = parse_qsl(self.query, keep_blank_values=True, errors="strict")
        except ValueError:
            raise Refuse(400, "bad_request")
        self.args, self.paging = {}, {}
        for k, x in pairs:
            if k in words:
                if k in self.paging:
                    raise Refuse(400, "bad_page", fields=[k])
                self.paging[k] = x
                continue
            if k not in specs or k in self.args:
                if bad("en-params-loose") and k not in specs:
                    continue
                raise Refuse(400, "bad_request", fields=[k])
            self.args[k] = self.argument(k, specs[k], x)
        for k, p in specs.items():
            if p.get("req") and k not in self.args:
                raise Refuse(400, "bad_request", fields=[k])
        self.specs = specs
        if words:
            self.page_words(page)

    def argument(self, k, p, x):
        def no(): raise Refuse(400, "bad_request", fields=[k])
        if "sort" in p:
            return x if x in p["sort"] else no()
        f = p.get("shape")
        if f is None:
            f = {**shape(self.r.kind, self.v).get(k if p["field"] == "vehicle" else p["field"], FIELDS[self.r.kind][p["field"]])}
            if p["field"] == "status" and p["op"] == "=":
                f["enum"] = STATES[self.r.kind]
            if p["op"] != "=":
                f = {w: f[w] for w in ("t", "format") if w in f}
            f.pop("null", None)
        if p["op"] == "in":
            return x.split(",")
        t = f["t"]
        try:
            v = x
            if t in ("integer", "ref"):
                v = int(x) if re.fullmatch(r"-?\d+", x, re.A) else no()
            elif t == "number":
                v = float(x) if re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", x, re.A) else no()
            elif t == "boolean":
                v = {"true": True, "false": False}[x]
        except (ValueError, KeyError):
            no()
        if check(v, f, k):
            no()
        if p["field"] in ("grade", "price"):
            v = up("stone", {p["field"]: v}, self.v)[p["field"]]
        return v

    def page_words(self, page):
        def no(k): raise Refuse(400, "bad_page", fields=[k])
        size, max_ = "per_page" if page["style"] == "page" else "limit", page["max"]
        n = self.paging.get(size, str(page["default"]))
        if not re.fullmatch(r"\d{1,9}", n, re.A) or int(n) < 1:
            no(size)
        n = int(n)
        if n > max_:
            if page["style"] == "page":
                n = n if bad("li-page-unclamped") else max_
            elif not bad("li-limit-clamped"):
                no(size)
            else:
                n = max_
        self.size = n
        if page["style"] == "page":
            x = self.paging.get("page", "1")
            self.number = int(x) if re.fullmatch(r"\d{1,9}", x, re.A) and int(x) >= 1 else no("page")
        if page["style"] == "after":
            if "starting_after" in self.paging and "ending_before" in self.paging:
                no("ending_before")
        if page["style"] == "cursor" and "cursor" in self.paging:
            try:
                text, sig = self.paging["cursor"].split(".")
                if not hmac.compare_digest(self.sign(text), sig):
                    no("cursor")
                self.position = json.loads(b64(text))
            except ValueError:
                no("cursor")
            if self.position["q"] != self.bound():
                no("cursor")

    def bound(self):
        return hashlib.sha256(json.dumps([self.r.op, self.v, self.args], sort_keys=True).encode()).hexdigest()[:16]

    def sign(self, text):
        return hmac.new(SECRET, text.encode(), hashlib.sha256).hexdigest()[:24]

    # ------------------------------------------------------------ acting

    def act(self):
        if self.r.o.get("parent"):
            kind = self.r.o["parent"]
            self.parent = self.load(kind, self.path[kind])
            if not readable(kind, self.caller, self.parent) and not (bad("au-parent") and kind == "permit" or bad("au-remarks-parent") and kind == "load"):
                raise Refuse(404, "not_found")
        return getattr(self, self.r.act)()

    def load(self, kind, id):
        row = get(kind, int(id)) if re.fullmatch(r"[1-9]\d{0,17}", id, re.A) else None
        if row is None:
            raise Refuse(404, "not_found")
        return row

    def target_row(self):
        row, r = self.load(self.r.kind, self.path["id"]), self.r
        if self.public:
            return row
        if not readable(r.kind, self.caller, row):
            raise Refuse(403, "forbidden") if bad("au-403") else Refuse(404, "not_found")
        if not allowed(r.op, self.caller, row):
            other = next((x["else"] for x in rules(r.op, self.caller) if x["else"]), (403, "forbidden"))
            raise Refuse(*other)
        return row

    def hours(self):
        return 200, {"Cache-Control": "public, max-age=3600"}, {"opens": "06:30", "closes": "17:00", "zone": "Europe/Berlin"}

    def estimate(self):
        if bad("pu-estimate"):
            raise Refuse(501, "broken")
        return 200, {}, {"trips": -(-self.args["tonnes"] // 25), "use": self.args.get("use", "paving" if bad("en-use-default") else "building")}

    def show(self, status, row, first=False, headers=None):
        rep = present(self.r.kind, row, self.caller, self.v, first)
        headers = dict(headers or {})
        if self.r.o.get("etag"):
            headers["ETag"] = etag(rep, self.v)
        if self.r.o.get("cache"):
            headers["Cache-Control"] = self.r.o["cache"]
        return status, headers, rep

    def read(self):
        status, headers, rep = self.show(200, self.target_row())
        none = self.headers.get("if-none-match")
        if none and "ETag" in headers and (none.strip() == "*" or headers["ETag"] in [t.removeprefix("W/") for t in tags(none)]):
            return 304, headers, None
        return status, headers, rep

    def writable(self, k, f):
        if "writable" in f and self.caller.user not in f["writable"]:
            return bad("re-note-written")
        return True

    def fields(self, body, base=None):
        """The body without what is read-only; refuses what is not known."""
        if not isinstance(body, dict):
            raise Refuse(422, "invalid", fields=[""])
        fs = shape(self.r.kind, self.v)
        keep = {k: x for k, x in body.items() if not fs.get(k, {}).get("ro")}
        wrong = ["/" + k for k in keep if k not in fs or not self.writable(k, fs[k])]
        if bad("re-unknown-dropped"):
            wrong, keep = [], {k: x for k, x in keep.items() if k in fs}
        return fs, keep, wrong

    def refuse_invalid(self, wrong):
        if wrong:
            if bad("ve-field-new"):
                wrong = [re.sub("^/lorry", "/vehicle", w) for w in wrong]
            raise Refuse(422, "invalid", fields=list(dict.fromkeys(wrong)))

    def references(self, doc, old=None):
        for k, f in FIELDS[self.r.kind].items():
            if "ref" in f and doc.get(k) is not None and (old is None or old.get(k) != doc[k]) and k != self.r.o.get("parent"):
                row = get(f["ref"], doc[k]) if 0 < doc[k] < 2 ** 62 else None
                if row is None or not readable(f["ref"], self.caller, row) and not bad("au-ref-surveyed"):
                    raise Refuse(404, "not_found") if bad("er-reference-404") else Refuse(422, "no_such_reference", fields=["/" + k])

    def kinds_known(self, doc):
        return [f"/kinds/{i}" for i, k in enumerate(doc.get("kinds") or []) if isinstance(k, str)
                and k != "*" and k not in ALL_KINDS and not (k.endswith(".*") and any(a.startswith(k[:-1]) for a in ALL_KINDS))]

    def unique(self, doc):
        kind = self.r.kind
        if bad("er-duplicate-update") and self.r.act != "create":
            return

        def clash(same):
            if any(o["id"] != doc.get("id") and same(o) for o in rows(kind)):
                raise Refuse(409, "duplicate")
        if kind == "stone":
            fold = (lambda s: s) if bad("re-name-case") else str.casefold
            clash(lambda o: fold(o["name"]) == fold(doc["name"]))
        elif kind == "bench":
            clash(lambda o: o["name"] == doc["name"])
        elif kind == "permit" and "reference" in doc:
            clash(lambda o: o.get("reference") == doc["reference"] and (o["company"] == doc["company"] or bad("er-reference-all")))
        elif kind == "load" and doc["status"] in ("booked", "weighed"):
            on = ("booked", "weighed", "cancelled") if bad("er-slot-cancelled") else ("booked", "weighed")
            same = (lambda o: o["slot"] == doc["slot"]) if bad("er-slot-text") else lambda o: instant(o["slot"]) == instant(doc["slot"])
            clash(lambda o: o["bench"] == doc["bench"] and o["status"] in on and same(o))

    def create(self):
        kind, now = self.r.kind, iso(NOW())
        fs, doc, wrong = self.fields(self.body)
        parent = self.r.o.get("parent")
        if parent:
            if parent in doc and not (is_int(doc[parent]) and doc[parent] == self.parent["id"]):
                wrong.append("/" + parent)
            doc[parent] = self.parent["id"]
        for k, f in fs.items():
            if k in doc:
                wrong += check(doc[k], f, "/" + k)
            elif f.get("req"):
                wrong.append("/" + k)
        if kind == "hook" and not wrong:
            wrong += self.kinds_known(doc)
        self.refuse_invalid(wrong)
        doc = up(kind, {k: tidy(x, fs[k]) for k, x in doc.items()}, self.v)
        for k, f in FIELDS[kind].items():
            if "default" in f and k not in doc and not (bad("re-tags-default") and k == "tags"):
                doc[k] = f["default"]
        self.references(doc)
        c = self.caller
        if kind in ("permit", "load") and not c.company:
            raise Refuse(500, "broken")
        if kind == "stone":
            doc |= {"added_at": now, "changed_at": now}
        elif kind == "bench":
            doc |= {"status": "surveyed", "changed_at": now}
        elif kind == "permit":
            doc |= {"serial": "GHQ-" + random_text(10), "company": c.company, "holder": c.id, "status": "requested", "created_at": now, "changed_at": now}
            if bad("re-company-sent") and isinstance(self.body.get("company"), str):
                doc["company"] = self.body["company"]
        elif kind == "load":
            doc |= {"company": c.company, "booked_by": c.id, "weighings": 0, "status": "booked", "created_at": now, "changed_at": now}
        elif kind == "remark":
            doc |= {"author": c.id, "written_at": now}
        elif kind == "hook":
            doc |= {"owner": c.id, "secret": "qs_" + random_text(32), "_maker": [c.user, c.id, c.scopes, c.company], "_version": self.v}
        if kind in STATES:
            doc["_since"] = NOW()
        if kind == "load":
            self.load_rules(doc)
        self.unique(doc)
        if kind == "load":
            q = c.key + (quota_day(),)
            if QUOTA.get(q, 0) >= 60:
                raise Refuse(403, "enough_today")
            QUOTA[q] = QUOTA.get(q, 0) + 1
        doc = add(kind, doc)
        emit("create " + kind, kind, doc)
        where = f"{BASE}/{'v2' if bad('en-location') else 'v' + str(self.v)}/{PLURAL[kind]}/{doc['id']}"
        return self.show(201, doc, True, {} if kind == "remark" else {"Location": where})

    def load_rules(self, doc):
        bench = get("bench", doc["bench"])
        rules_ = [
            (self.parent["status"] != "granted", 409, "permit_not_granted", "The permit is not granted."),
            (bench["status"] != "working" and not (bad("er-resting") and bench["status"] == "resting"), 409, "bench_not_working", "The bench is not worked."),
            (bench["stone"] != self.parent["stone"], 422, "wrong_stone", "The permit is for another stone."),
            (doc["tonnes"] > self.parent["tonnes"], 422, "over_permit", "The permit is for less.")]
        for wrong, *refusal in reversed(rules_) if bad("er-rules-order") else rules_:
            if wrong:
                if bad("li-quota-tries"):
                    q = self.caller.key + (quota_day(),)
                    QUOTA[q] = QUOTA.get(q, 0) + 1
                raise Refuse(*refusal, own=True)

    def precondition(self, row):
        need, sent = self.r.o.get("if_match"), self.headers.get("if-match")
        if not need:
            return
        if sent is None:
            if need == "required" and not bad("en-if-match-optional"):
                raise Refuse(428, "if_match_needed")
            return
        if sent.strip() != "*" and etag(present(self.r.kind, row, self.caller, self.v), self.v) not in tags(sent) and not bad("en-if-match-any"):
            raise Refuse(412, "changed_meanwhile")

    def state(self, row):
        allowed_in = self.r.o.get("states")
        if allowed_in and row["status"] not in allowed_in and not (bad("en-update-weighed") and self.r.op == "update load" and row["status"] == "weighed"):
            if bad("er-423"):
                raise Refuse(409, "wrong_state")
            raise Refuse(*self.r.o.get("states_else", (409, "wrong_state")))

    def update(self):
        row = self.target_row()
        if bad("er-invalid-first"):
            self.refuse_invalid(self.fields(self.body)[2])
        self.precondition(row)
        fs, patch, wrong = self.fields(self.body)
        view = down(self.r.kind, row, self.v)

        def merge(old, new):
            if not isinstance(new, dict) or bad("re-spot-whole"):
                return new
            out = dict(old) if isinstance(old, dict) else {}
            for k, x in new.items():
                out.pop(k, None) if x is None else out.__setitem__(k, merge(out.get(k), x))
            return out
        new = {k: x for k, x in view.items() if k in fs}
        for k, x in patch.items():
            if x is not None:
                new[k] = merge(new.get(k), x)
            elif not bad("re-null-kept"):
                new.pop(k, None)
        return self.store(row, view, new, fs, wrong)

    def replace(self):
        row = self.target_row()
        self.precondition(row)
        fs, body, wrong = self.fields(self.body)
        view = down(self.r.kind, row, self.v)
        new = dict(view) if bad("re-put-merges") else {k: x for k, x in view.items() if fs.get(k, {}).get("ro")}
        new |= body
        for k, f in fs.items():
            if "default" in f and k not in new:
                new[k] = f["default"]
        return self.store(row, view, new, fs, wrong)

    def store(self, row, view, new, fs, wrong):
        kind = self.r.kind
        new = {k: tidy(x, fs[k]) if k in fs and not check(x, fs[k], "") else x for k, x in new.items()}
        for k, f in fs.items():
            if f.get("ro"):
                continue
            if k in new:
                wrong += check(new[k], f, "/" + k) if new[k] is not None or self.r.act == "replace" or view.get(k, 0) is not None else []
            elif f.get("req") or "default" in f:
                wrong.append("/" + k)
            if f.get("imm") and new.get(k) != view.get(k) and not (bad("re-stone-moved") and k == "stone"):
                wrong.append("/" + k)
        if kind == "hook" and not wrong:
            wrong += self.kinds_known(new)
        self.refuse_invalid(wrong)
        nxt = {k: x for k, x in row.items() if k.startswith("_") or FIELDS[kind].get(k, {}).get("ro")}
        seen = {k for k in FIELDS[kind] if k in fs or self.v == 1 and k == "vehicle"}
        nxt |= {k: x for k, x in row.items() if k in FIELDS[kind] and k not in seen}  # what this version cannot see stays
        if bad("ve-put-hazard") and self.r.act == "replace" and self.v == 1 and kind == "stone":
            nxt["hazard"] = False
        if kind == "hook" and new["active"] != row["active"]:
            nxt.pop("_failing", None)
        raised = up(kind, new, self.v)
        for k, x in raised.items():
            if k in FIELDS[kind] and not FIELDS[kind][k].get("ro"):
                old = "lorry" if k == "vehicle" and self.v == 1 else k
                nxt[k] = row[k] if old in view and old in new and view[old] == new[old] and k in row else x
        self.references(nxt, row)
        self.state(row)
        same = nxt == row
        if same and not bad("re-noop-touches"):
            if bad("ev-noop"):
                emit(self.r.op, kind, row)
            return self.show(200, row)
        self.unique(nxt)
        if "changed_at" in FIELDS[kind] and not (bad("re-bench-unchanged") and kind == "bench"):
            nxt["changed_at"] = iso(NOW())
        put(kind, nxt)
        if not same or bad("ev-noop"):
            emit(self.r.op, kind, nxt)
        return self.show(200, row if bad("en-answer-before") else nxt)

    def delete(self):
        row, kind = self.target_row(), self.r.kind
        self.state(row)
        refs = [(k, n, f["on"]) for k, fs in FIELDS.items() for n, f in fs.items() if f.get("ref") == kind]
        held = [(k, n, on, r) for k, n, on in refs for r in rows(k) if r.get(n) == row["id"]]
        if any(on == "restrict" for _, _, on, _ in held) and not (bad("re-stone-held") and kind == "stone"):
            raise Refuse(409, "in_use")
        emit(self.r.op, kind, row)
        for k, n, on, r in held:
            if on == "cascade" and not bad("re-remarks-stay"):
                DB.execute(f"delete from {k} where id = ?", (r["id"],))
            elif on == "clear" and not bad("re-about-stays"):
                del r[n]
                put(k, r)
        DB.execute(f"delete from {kind} where id = ?", (row["id"],))
        return 204, {}, None

    def transition(self):
        row = self.target_row()
        kind, name = self.r.kind, self.r.o["name"]
        fields = TRANSITIONS[kind][name].get("body")
        body = {}
        if fields:
            if not isinstance(self.body, dict):
                raise Refuse(422, "invalid", fields=[""])
            wrong = []
            for k, f in fields.items():
                wrong += check(self.body[k], f, "/" + k) if k in self.body else ["/" + k]
            self.refuse_invalid(wrong)
            body = {k: tidy(self.body[k], f) for k, f in fields.items()}
        return self.show(200, transition(kind, row, name, body, self.caller))

    # ------------------------------------------------------------ lists

    def passes(self, p, arg, row):
        x, op = row.get(p["field"]), p["op"]
        if x is None:
            return False
        if FIELDS[self.r.kind][p["field"]].get("format") == "date-time" and not bad("en-slot-text"):
            x, arg = instant(x), instant(arg)
        if op == "=":
            return x.casefold() == arg.casefold() if p["field"] == "name" else x == arg
        if op == "<":
            return x <= arg if bad("en-below") else x < arg
        if op == ">=":
            return x > arg if bad("en-min-density") and p["field"] == "density" else x >= arg
        if op == "in":
            return x in (arg[:1] if bad("en-status-first") else arg)
        if op == "prefix":
            return arg in x if bad("en-prefix") else x.startswith(arg)
        return arg in x

    def sort_key(self, row, field):
        x = row[field]
        if bad("en-sort-text") and field == "tonnes":
            return str(x)
        return instant(x) if FIELDS[self.r.kind][field].get("format") == "date-time" else x

    def list(self):
        r, c = self.r, self.caller
        out = rows(r.kind)
        if r.o.get("parent"):
            out = [x for x in out if x[r.o["parent"]] == self.parent["id"]]
        everything = out
        filters = [(self.specs[k], a) for k, a in self.args.items() if self.specs[k]["field"]]
        if bad("en-last-filter"):
            filters = filters[-1:]
        if not self.public:
            loose = bad("au-list-filtered") and "vehicle" in self.args or bad("au-remarks-parent") and r.kind == "remark"
            out = [x for x in out if loose or allowed(r.op, c, x)]
        for p, a in filters:
            out = [x for x in out if self.passes(p, a, x)]
            everything = [x for x in everything if self.passes(p, a, x)]
        order = list(r.o.get("order", []))
        if "sort" in self.args:
            order = [self.args["sort"]]
        if bad("en-order-permits") and r.op == "list permit" and "sort" not in self.args:
            order = ["created_at"]
        if bad("en-ties"):
            out.reverse()
        for o in reversed(order):
            out.sort(key=lambda x: self.sort_key(x, o.lstrip("-")), reverse=o[0] == "-")
        def show(xs): return [present(r.kind, x, c, self.v, listed=True) for x in xs]
        style = r.o["page"]["style"]
        if style == "none":
            return 200, {}, {"remarks": show(out)}
        if style == "page":
            at = (self.number - 1) * self.size
            page = out[at:at + self.size]
            total = len(page) if bad("en-total-page") else len(everything) if bad("au-total") else len(out)
            more = len(page) == self.size if bad("en-more-full") else at + self.size < len(out)
            return 200, {}, {"items": show(page), "total": total, "more": more}
        if style == "after":
            return self.after(out, show)
        return self.cursor(out, show)

    def after(self, out, show):
        ids = [x["id"] for x in out]
        k = next((k for k in ("starting_after", "ending_before") if k in self.paging), None)
        at = 0
        if k:
            x = self.paging[k]
            if not re.fullmatch(r"\d{1,18}", x, re.A) or int(x) not in ids:
                raise Refuse(400, "bad_page", fields=[k])
            at = ids.index(int(x))
        if k == "ending_before":
            start = 0 if bad("en-before-first") else max(0, at - self.size)
            return 200, {}, {"benches": show(out[start:min(at, start + self.size)]), "more": start > 0}
        start = at + 1 if k else 0
        return 200, {}, {"benches": show(out[start:start + self.size]), "more": start + self.size < len(out)}

    def cursor(self, out, show):
        start = 0
        keys = [[-self.sort_key(x, "slot"), x["tonnes"], x["id"]] for x in out]
        if hasattr(self, "position"):
            p = self.position["p"]
            if bad("en-cursor-ties"):
                start = next((i for i, k in enumerate(keys) if k[0] > p[0]), len(out))
            else:
                start = next((i for i, k in enumerate(keys) if k > p), len(out))
        page = out[start:start + self.size]
        more = start + self.size < len(out)
        nxt = None
        if more:
            text = base64.urlsafe_b64encode(json.dumps({"q": self.bound(), "p": keys[start + len(page) - 1]}).encode()).rstrip(b"=").decode()
            nxt = text + "." + self.sign(text)
        return 200, {}, {"loads": show(page), "next": nxt, "more": more}


# ---------------------------------------------------------------- HTTP

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "quarry", ""
    timeout = 60
    wbufsize = -1
    disable_nagle_algorithm = True

    def log_message(self, *a):
        pass

    def reply(self, status, headers, body):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for k, x in headers.items():
            self.send_header(k, x)
        if body is not None:
            self.send_header("Content-Type", "application/json")
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
        self.wfile.flush()

    def send_error(self, code, message=None, explain=None):
        self.close_connection = True
        code, word = (413, "too_large") if code in (414, 431) else (400, "bad_request") if code < 500 else (405, "method_not_allowed")
        self.command = getattr(self, "command", None) or "GET"
        self.reply(code, {}, {"code": word, "status": code, "title": word, "fields": []})

    def body(self):
        """The body, and whether there is more of it than anyone would read."""
        end = time.time() + 10

        def take(n):
            got = b""
            while len(got) < n:
                left = end - time.time()
                if left <= 0:
                    raise TimeoutError
                self.connection.settimeout(left)
                more = self.rfile.read1(n - len(got))
                if not more:
                    raise ConnectionError
                got += more
            return got
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            out = b""
            while True:
                line = b""
                while not line.endswith(b"\n"):
                    line += take(1)
                n = int(line.split(b";")[0], 16)
                if len(out) + n > 1 << 20:
                    return out, True
                out += take(n)
                take(2)
                if not n:
                    return out, False
        n = int(self.headers.get("Content-Length") or 0)
        return (b"", True) if n > 1 << 20 else (take(n), False)

    def exchange(self):
        try:
            raw, cut = self.body()
        except TimeoutError:
            self.close_connection = True
            return self.reply(503, {}, {"code": "timed_out", "status": 503, "title": "timed out", "fields": []})
        except ValueError:
            return self.send_error(400)
        except ConnectionError:
            self.close_connection = True
            return
        finally:
            self.connection.settimeout(60)
        self.close_connection = self.close_connection or cut
        headers = {}
        for k, x in self.headers.items():
            k = k.lower()
            headers[k] = headers[k] + ", " + x if k in headers else x
        size = sum(len(k) + len(x) + 4 for k, x in self.headers.items())
        with LOCK:
            DB.execute("begin")
            CLOCK.held = NOW()
            try:
                e = Exchange(self.command, self.path, headers, raw, self.client_address[0], cut, size)
                status, hs, body = e.answer()
                DB.execute("commit")
            except Exception:
                DB.execute("rollback")
                import traceback
                traceback.print_exc()
                status, hs, body = 500, {}, {"code": "broken", "status": 500, "title": "broken", "fields": []}
            CLOCK.held = None
        self.reply(status, hs, body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = exchange


LENGTH = re.compile(r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")


def later(ms, text):
    m = LENGTH.fullmatch(text)
    if not m or text[-1] in "PT":
        return None
    y, mo, w, d, h, mi = (int(x or 0) for x in m.groups()[:6])
    if y or mo:
        t = dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=ms)
        k = t.year * 12 + t.month - 1 + y * 12 + mo
        last = (dt.date(k // 12 + (k % 12 == 11), (k + 1) % 12 + 1, 1) - dt.timedelta(1)).day
        t = t.replace(year=k // 12, month=k % 12 + 1, day=min(t.day, last))
        ms = (t - dt.datetime(1970, 1, 1)) // dt.timedelta(milliseconds=1)
    return ms + (w * 7 + d) * DAY + h * HOUR + mi * MIN + int(float(m[7] or 0) * 1000)


class Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def log_message(self, *a):
        pass

    def do(self):
        try:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status = 200
            if self.command == "POST":
                b = json.loads(raw)
                to = later(NOW(), b["advance"]) if set(b) == {"advance"} else instant(b["now"]) if set(b) == {"now"} else None
                if to is None:
                    status = 400
                elif to < NOW():
                    status = 422
                else:
                    advance_to(math.ceil(to))
            elif self.command != "GET":
                status = 400
        except (ValueError, TypeError, KeyError):
            status = 400
        data = json.dumps({"now": iso(NOW())} if status == 200 else {"error": status}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def main():
    global FAULT
    p = argparse.ArgumentParser()
    p.add_argument("--port", type=int, default=0)
    p.add_argument("--clock-port", type=int)
    p.add_argument("--fault")
    a = p.parse_args()
    FAULT = a.fault
    main_ = Server(("127.0.0.1", a.port), Handler)
    line = f"listening on http://127.0.0.1:{main_.server_port}{BASE}"
    if a.clock_port is not None:
        door = Server(("127.0.0.1", a.clock_port), Door)
        threading.Thread(target=door.serve_forever, args=(0.05,), daemon=True).start()
        line += f" clock http://127.0.0.1:{door.server_port}/"
    threading.Thread(target=background, daemon=True).start()
    print(line, flush=True)
    main_.serve_forever(0.05)


if __name__ == "__main__":
    main()
