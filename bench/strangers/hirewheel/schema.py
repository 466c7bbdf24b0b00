"""The shapes: what a field takes, who writes and sees it, and how it reads in the older version."""
import re

from store import bug, parse_iso, store

OLD, NEW = "2025-09-01", "2026-03-01"
STAFF = ("operator", "mechanic")


class F:
    def __init__(self, name, kind, req=False, ro=False, imm=False, default=None, staff=False, wo=False, **k):
        self.name, self.kind, self.req, self.ro, self.imm = name, kind, req, ro, imm
        self.default, self.staff, self.wo, self.k = default, staff, wo, k


def ro(name, kind="string", req=True, **k):
    return F(name, kind, req=req, ro=True, **k)


SPOT = [F("lat", "number", True, min=-90, max=90), F("lon", "number", True, min=-180, max=180)]
PHOTO = [F("url", "string", True, fmt="uri", maxlen=300), F("caption", "string", maxlen=80)]
KINDS = ["city", "cargo", "electric"]

FIELDS = {
    "station": [
        ro("id"), F("code", "string", True, imm=True, pattern=r"[A-Z]{3}-[0-9]{3}"),
        F("name", "string", True, minlen=2, maxlen=60), F("district", "string", True, enum=["centre", "north", "south", "harbour"]),
        F("capacity", "integer", True, min=1, max=60), F("spot", "map", of=SPOT), ro("docked", "integer"), ro("status"),
        ro("opened_at", req=False, fmt="date-time"), ro("created_at", fmt="date-time"), ro("updated_at", fmt="date-time")],
    "bicycle": [
        ro("id"), ro("number"), F("frame", "string", True, imm=True, pattern=r"[A-Z0-9]{6,12}"),
        F("kind", "string", True, enum=KINDS), F("battery_pct", "integer", min=0, max=100), F("station", "string", True, ref="station"),
        F("depot", "string", True, imm=True, enum=["east", "west"]), F("remark", "string", staff=True, maxlen=200),
        ro("mends", "integer"), ro("hires", "integer"), ro("status"), ro("updated_at", fmt="date-time")],
    "profile": [
        ro("id"), ro("owner"), F("name", "string", True, minlen=1, maxlen=40), F("email", "string", True, fmt="email", maxlen=100),
        F("locale", "string", True, default="en", enum=["en", "nl", "de"]), F("newsletter", "boolean", True, default=False),
        F("home", "string", ref="station"), F("pin", "string", wo=True, pattern=r"[0-9]{4}"), ro("created_at", fmt="date-time")],
    "hire": [
        ro("id"), ro("number", "integer"), F("bicycle", "string", True, imm=True, ref="bicycle"), ro("rider"), ro("origin"),
        ro("destination", req=False), F("insured", "boolean", True, default=False), F("note", "string", maxlen=120), ro("status"),
        ro("reserved_at", fmt="date-time"), ro("started_at", req=False, fmt="date-time"), ro("ended_at", req=False, fmt="date-time"),
        ro("price_cents", "integer")],
    "report": [
        ro("id"), ro("number"), F("bicycle", "string", True, imm=True, ref="bicycle"), ro("reporter"), ro("depot"),
        F("severity", "string", True, default="annoying", enum=["cosmetic", "annoying", "dangerous"]),
        F("text", "string", True, minlen=5, maxlen=500),
        F("parts", "list", maxitems=4, unique=True, item=F("", "string", enum=["brake", "chain", "light", "saddle", "tyre", "frame"])),
        F("photos", "list", maxitems=3, item=F("", "map", of=PHOTO)), F("cost_cents", "integer", staff=True, min=0, max=100000),
        ro("reason", req=False), ro("status"), ro("made_at", fmt="date-time"), ro("closed_at", req=False, fmt="date-time")],
    "hook": [
        ro("id"), ro("owner"), F("url", "string", True, fmt="http", maxlen=300),
        F("events", "list", minitems=1, maxitems=10, item=F("", "string", event=True)), ro("secret"), ro("enabled", "boolean")],
    "entry": [ro("id"), ro("kind"), ro("about"), ro("of"), ro("by"), ro("at", fmt="date-time"), ro("data", "map")],
}
BY_NAME = {r: {f.name: f for f in fs} for r, fs in FIELDS.items()}
STATES = {"station": ["planned", "open", "closed"], "bicycle": ["docked", "held", "hired", "broken", "lost", "retired"],
          "hire": ["reserved", "riding", "ended", "cancelled", "expired", "lost"],
          "report": ["open", "accepted", "fixed", "rejected", "lapsed"]}
EVENT_KINDS = ["station.opened", "bicycle.added", "bicycle.broken", "bicycle.moved", "hire.reserved", "hire.ended", "hire.dropped",
               "hire.lost", "report.made", "report.closed"]

EMAIL = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)+")
URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+")


def format_ok(fmt, v):
    if fmt == "email":
        local = v.rpartition("@")[0]
        return bool(EMAIL.fullmatch(v)) and not (local.startswith(".") or local.endswith(".") or ".." in local)
    if fmt == "http":
        return bool(URI.fullmatch(v)) and bool(re.match(r"https?://[^/?#]+", v, re.I))
    if fmt == "uri":
        return bool(URI.fullmatch(v)) or bug("r-photo-uri")
    return parse_iso(v) is not None if fmt == "date-time" else True


def show(v):
    t = "null" if v is None else str(v) if isinstance(v, str) else repr(v)
    return t[:200]


class Violation:
    def __init__(self, kind, path, expected, found=None):
        self.kind, self.path, self.expected, self.found = kind, path, expected, found

    def json(self):
        path = self.path[1:].replace("/", ".") if bug("x-dotted") else self.path
        out = {"in": "body", "path": path, "expected": self.expected}
        if self.found is not None:
            out["found"] = self.found
        return out


def check(f, v, path, out):
    """The value as it is kept; what is wrong goes to `out`."""
    def bad(expected):
        out.append(Violation("value", path, expected, show(v)))
        return v
    k, kind = f.k, f.kind
    if kind == "string":
        if not isinstance(v, str):
            return bad("a text")
        n = len(v)
        if n < k.get("minlen", 0) and not (bug("r-name-empty") and f.name == "name" and k["minlen"] == 1):
            return bad("at least %d characters" % k["minlen"])
        if n > k.get("maxlen", 1 << 30):
            return bad("at most %d characters" % k["maxlen"])
        if "pattern" in k:
            match = re.search(k["pattern"], v) if bug("r-code-anchor") and f.name == "code" else re.fullmatch(k["pattern"], v)
            if not match:
                return bad("of the pattern " + k["pattern"])
        if "enum" in k and v not in k["enum"]:
            return bad("one of " + ", ".join(k["enum"]))
        if "fmt" in k and not format_ok(k["fmt"], v):
            return bad("of the format " + k["fmt"])
        if "event" in k and not (v == "*" or v in EVENT_KINDS or v.endswith(".*") and any(e.startswith(v[:-1]) for e in EVENT_KINDS)):
            return bad("a kind of event")
    elif kind in ("integer", "number"):
        if isinstance(v, bool) or not isinstance(v, (int, float)) or v != v or v in (float("inf"), float("-inf")):
            return bad("a number")
        if kind == "integer":
            if isinstance(v, float):
                if not v.is_integer():
                    return bad("a whole number")
                v = int(v)
        top = k.get("max", 1 << 62)
        if bug("r-capacity-max") and f.name == "capacity":
            top += 1
        if v < k.get("min", -(1 << 62)) or v > top:
            return bad("from %s to %s" % (k.get("min"), k.get("max")))
    elif kind == "boolean":
        if not isinstance(v, bool):
            return bad("true or false")
    elif kind == "map":
        if not isinstance(v, dict):
            return bad("a map")
        return check_map(k["of"], v, path, out) if "of" in k else v
    elif kind == "list":
        if not isinstance(v, list):
            return bad("a list")
        if not k.get("minitems", 0) <= len(v) <= k.get("maxitems", 1000):
            return bad("from %d to %d items" % (k.get("minitems", 0), k.get("maxitems", 1000)))
        if k.get("unique") and len({repr(x) for x in v}) < len(v) and not bug("r-parts-twice"):
            return bad("no item twice")
        return [check(k["item"], x, "%s/%d" % (path, i), out) for i, x in enumerate(v)]
    return v


def esc(name):
    return name.replace("~", "~0").replace("/", "~1")


def check_map(fields, v, path, out):
    names, kept = {f.name: f for f in fields}, {}
    for n, x in v.items():
        p = path + "/" + esc(n)
        if n not in names:
            out.append(Violation("unknown", p, "no such field"))
        else:
            kept[n] = check(names[n], x, p, out)
    for f in fields:
        if f.req and f.name not in v:
            out.append(Violation("missing", path + "/" + f.name, "to be there"))
    return kept


# ---- versions --------------------------------------------------------------------------------------------------

def old_fields(res):
    """The fields of a resource as the older version has them: name there -> (field, name now or None)."""
    out = {}
    for f in FIELDS[res]:
        if res == "report" and f.name == "severity":
            continue
        if res == "bicycle" and f.name == "battery_pct":
            out["charge"] = (F("charge", f.kind, **f.k), f.name)
        elif res == "bicycle" and f.name == "kind":
            out["kind"] = (F("kind", "string", True, enum=["city", "cargo", "ebike"]), f.name)
        else:
            out[f.name] = (f, f.name)
    if res == "station":
        out["zone"] = (F("zone", "string"), None)
    return out


OLD_FIELDS = {r: old_fields(r) for r in FIELDS}
NEW_FIELDS = {r: {f.name: (f, f.name) for f in fs} for r, fs in FIELDS.items()}


def fields_in(res, version):
    return OLD_FIELDS[res] if version == OLD else NEW_FIELDS[res]


def up_value(res, name, v):
    return "electric" if res == "bicycle" and name == "kind" and v == "ebike" else v


def down(res, shown, version):
    """A row as it is shown, in the shape of `version`."""
    if version != OLD:
        return shown
    out = {}
    for n, v in shown.items():
        if res == "bicycle" and n == "battery_pct" and not bug("w-rename"):
            n = "charge"
        elif res == "bicycle" and n == "kind" and v == "electric" and not bug("w-enum"):
            v = "ebike"
        elif res == "hire" and n == "price_cents" and not bug("w-price"):
            v = v / 100.0
        elif res == "report" and n == "severity" and not bug("w-added"):
            continue
        out[n] = v
    if res == "station" and not bug("w-removed"):
        out["zone"] = "city"
    return out


# ---- what is shown ---------------------------------------------------------------------------------------------

def docked(ident):
    good = ("docked", "held") if bug("r-docked-held") else ("docked",)
    return sum(1 for b in store.referring("bicycle", "station", ident) if b["status"] in good)


def ridden(ident):
    return sum(1 for h in store.referring("hire", "bicycle", ident) if h["status"] == "ended")


def shown(res, row, user, first=False, fields=None):
    """A row as this user sees it, in the newest shape."""
    out = {}
    for f in FIELDS[res]:
        n = f.name
        if n == "docked" and res == "station":
            v = docked(row["id"])
        elif n == "hires":
            v = ridden(row["id"])
        else:
            v = row.get(n)
        if v is None:
            if bug("r-battery-null") and n == "battery_pct":
                out[n] = None
            continue
        if f.wo and not bug("r-pin-shown") or f.staff and user not in STAFF and not (bug("r-remark-seen") and n == "remark"):
            continue
        if res == "hook" and n == "secret" and not first and not bug("r-secret-again"):
            continue
        if fields and n not in fields and n != "id":
            continue
        if bug("r-time-format") and n == "created_at" and res == "profile":
            v = v[:19].replace("T", " ")
        if bug("r-newsletter-text") and n == "newsletter":
            v = "true" if v else "false"
        out[n] = v
    return out
