"""Silverwell darkroom: one process, in memory, asyncio streams, standard library alone."""
import asyncio, base64, hashlib, heapq, hmac, json, math, re, secrets, sys, time
from collections import deque
from datetime import datetime, timedelta, timezone
from urllib.parse import unquote, unquote_to_bytes, urlsplit

ARGS = dict(zip(sys.argv[1::2], sys.argv[2::2]))
PORT, CLOCK_PORT, FAULT = int(ARGS.get("--port", 0)), int(ARGS.get("--clock-port", 0)), ARGS.get("--fault", "")
NEW, OLD = "2026-09-15", "2026-03-01"
SUNSET = 1822348800000          # 2027-10-01T00:00:00Z
DEPRECATED = 1790812800         # 2026-10-01T00:00:00Z
MIN, HOUR, DAY = 60000, 3600000, 86400000

# ---------------------------------------------------------------- the clock
offset = 0


def now_ms():
    return int(time.time() * 1000) + offset


def iso(ms):
    d = datetime(1970, 1, 1) + timedelta(milliseconds=ms)
    return d.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (ms % 1000) if d.year >= 1000 else "%04d" % d.year


def ms_of(text):
    d = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    return (d - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)


DT = re.compile(r"^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|([+-])(\d\d):(\d\d))$", re.A)


def read_datetime(text):
    """RFC 3339 to milliseconds (with a fraction), or None."""
    m = DT.match(text)
    if not m or text.endswith("\n"):
        return None
    y, mo, d, h, mi, s = (int(m.group(i)) for i in range(1, 7))
    leap = s == 60
    try:
        t = datetime(y, mo, d, h, mi, 59 if leap else s, tzinfo=timezone.utc)
    except ValueError:
        return None
    ms = (t - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(milliseconds=1)
    if m.group(9):
        oh, om = int(m.group(10)), int(m.group(11))
        if oh > 23 or om > 59:
            return None
        ms -= (1 if m.group(9) == "+" else -1) * (oh * HOUR + om * MIN)
    if leap:
        if (ms // 1000) % 86400 != 86399:
            return None
        ms += 1000
    frac = float("0" + m.group(7)) * 1000 if m.group(7) else 0
    return ms + frac


# ---------------------------------------------------------------- callers
def person(user, id, lab, scopes):
    return {"user": user, "id": id, "lab": lab, "scopes": scopes}


TOKENS = {
    "swt_adaAAAAAAAAAAAAAAAAAAAAAAAAAAAAA": person("printer", "ada", "north", ["films", "prints"]),
    "swt_benBBBBBBBBBBBBBBBBBBBBBBBBBBBBB": person("printer", "ben", "north", ["films", "prints"]),
    "swt_cydCCCCCCCCCCCCCCCCCCCCCCCCCCCCC": person("printer", "cyd", "south", ["films", "prints"]),
    "swt_eveEEEEEEEEEEEEEEEEEEEEEEEEEEEEE": person("printer", "eve", "north", ["films"]),
    "swt_siaSSSSSSSSSSSSSSSSSSSSSSSSSSSSS": person("steward", "sia", "north", ["tanks"]),
    "swt_solLLLLLLLLLLLLLLLLLLLLLLLLLLLLL": person("steward", "sol", "north", ["tanks"]),
    "swt_sueUUUUUUUUUUUUUUUUUUUUUUUUUUUUU": person("steward", "sue", "south", ["tanks"]),
}
DESKS = {
    "desk_siaSSSSSSSSSSSSSSSSSSSSS": person("steward", "sia", "north", ["tanks"]),
    "desk_solLLLLLLLLLLLLLLLLLLLLL": person("steward", "sol", "north", ["tanks"]),
    "desk_sueUUUUUUUUUUUUUUUUUUUUU": person("steward", "sue", "south", ["tanks"]),
}

# ---------------------------------------------------------------- errors
CODES = {  # code: (status, message)
    "unreadable": (400, "The body is no JSON, or is missing."), "not_json": (415, "Send application/json."),
    "bad_query": (400, "A parameter is not as it should be."), "missing_field": (422, "A field is missing."),
    "unfit": (422, "The body does not fit."), "no_such_row": (422, "What is referred to is not there."),
    "not_found": (404, "There is nothing here."), "not_allowed": (405, "Not by this method."),
    "who_are_you": (401, "Who are you?"), "scope_missing": (403, "A scope is missing."), "forbidden": (403, "That is not for you."),
    "taken": (409, "There is one already."), "in_use": (409, "Something refers to it."), "wrong_state": (409, "Not in this state."),
    "too_late": (409, "That is over."), "tank_busy": (409, "Film is in the tank."), "bath_worn": (409, "This bath takes no more film."),
    "not_developed": (409, "The film is not developed yet."), "wrong_process": (422, "The film is for another process."),
    "bath_closed": (409, "The bath is not fresh."), "roll_not_here": (409, "The roll is not handed in."),
    "roll_closed": (409, "The roll is archived."), "too_wide": (422, "Fibre paper is up to 600 mm wide."),
    "below_used": (422, "More was developed in it already."), "stale": (412, "It has changed."), "tag_missing": (428, "Send If-Match."),
    "key_reused": (422, "This key was used for another request."), "busy": (409, "Under way."), "slow_down": (429, "Too many requests."),
    "enough": (429, "That is enough."), "too_large": (413, "The body is too large."), "url_too_long": (414, "The address is too long."),
    "headers_too_large": (431, "The headers are too large."), "too_slow": (503, "That took too long."),
    "old_version": (410, "This version is gone."), "no_version": (400, "There is no such version."), "failed": (500, "Something failed."),
}
OWN = {"too_late", "tank_busy", "bath_worn", "not_developed", "wrong_process", "bath_closed", "roll_not_here", "roll_closed", "too_wide", "below_used"}
PHRASES = {200: "OK", 201: "Created", 204: "No Content", 304: "Not Modified", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
           404: "Not Found", 405: "Method Not Allowed", 409: "Conflict", 410: "Gone", 412: "Precondition Failed", 413: "Content Too Large",
           414: "URI Too Long", 415: "Unsupported Media Type", 422: "Unprocessable Content", 428: "Precondition Required",
           429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error", 503: "Service Unavailable"}


class Refusal(Exception):
    def __init__(self, code, violations=None, headers=None):
        self.code, self.violations, self.headers = code, violations, headers or []


# ---------------------------------------------------------------- store
DB = {"roll": {}, "bath": {}, "run": {}, "print": {}, "hook": {}, "entry": {}}
PRINTS_OF, RUNS_OF_BATH, RUNS_OF_ROLL = {}, {}, {}
COUNT = {"roll": 0, "bath": 0, "seq": 0}
NUMBERS = {}
TIMERS = []
timer_seq = 0
B32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def rand(n):
    return "".join(secrets.choice(ALNUM) for _ in range(n))


def ulid():
    v = (now_ms() << 80) | secrets.randbits(80)
    return "".join(B32[(v >> (5 * i)) & 31] for i in range(25, -1, -1))


def set_timer(due, what, id, mark=None):
    global timer_seq
    timer_seq += 1
    heapq.heappush(TIMERS, (due, timer_seq, what, id, mark))


def prints_of(roll):
    return [DB["print"][i] for i in PRINTS_OF.get(roll, ())]


def runs_of_bath(bath):
    return [DB["run"][i] for i in RUNS_OF_BATH.get(bath, ())]


def runs_of_roll(roll):
    return [DB["run"][i] for i in RUNS_OF_ROLL.get(roll, ())]


def derived(res, row):
    if res == "roll":
        ps = prints_of(row["id"])
        due = ("ordered",) if FAULT == "due-forgets-exposed" else ("ordered", "exposed")
        if FAULT == "due-counts-cancelled":
            due = ("ordered", "exposed", "cancelled")
        return {"open_prints": sum(p["status"] == "ordered" for p in ps),
                "due_cents": sum(p["price_cents"] for p in ps if p["status"] in due),
                "runs_done": sum(r["status"] in (("done", "spoiled") if FAULT == "runs-done-counts-spoiled" else ("done",)) for r in runs_of_roll(row["id"]))}
    if res == "bath":
        rs = runs_of_bath(row["id"])
        counted = ("running", "done") if FAULT == "spoiled-gives-capacity-back" else ("running", "done", "spoiled")
        used = sum(r["status"] in counted for r in rs)
        return {"used": used, "left": row["capacity"] - used, "in_tank": sum(r["status"] == "running" for r in rs)}
    return {}


# ---------------------------------------------------------------- shapes
ORDER = {
    "roll": ["id", "owner", "lab", "label", "film", "format", "process", "iso", "push", "note", "status", "logged_at", "handed_in_at", "updated_at",
             "open_prints", "due_cents", "runs_done"],
    "bath": ["id", "owner", "lab", "process", "volume_ml", "capacity", "shelf_hours", "recipe", "status", "mixed_at", "good_until", "used", "left", "in_tank"],
    "run": ["id", "bath", "number", "roll", "owner", "lab", "steward", "minutes", "temp_c", "status", "queued_at", "started_at", "ready_at", "reason"],
    "print": ["id", "roll", "number", "owner", "lab", "frame", "paper", "size", "sheets", "price_cents", "status", "ordered_at", "exposed_at", "exposed_by"],
    "hook": ["id", "owner", "url", "secret", "kinds", "active"],
    "entry": ["id", "kind", "about", "row", "owner", "lab", "at", "payload"],
}
OLD_NAMES = {"roll": {"film": "emulsion"}, "bath": {"good_until": "expires"}, "run": {"minutes": "duration"}, "print": {}, "hook": {"active": "enabled"}, "entry": {}}
NOT_IN_OLD = {"roll": {"push"}}
ROLL_STATES = {"handed_in": "received", "developed": "done"}
PAPERS = {"resin": "rc", "fibre": "fb"}
STATES = {"roll": ["logged", "handed_in", "in_tank", "developed", "archived"], "bath": ["fresh", "spent", "expired", "discarded"],
          "run": ["queued", "running", "done", "aborted", "spoiled"], "print": ["ordered", "exposed", "cancelled", "lapsed"]}
REFS = {"run": {"bath": "bath", "roll": "roll"}, "print": {"roll": "roll"}}


def name_in(res, field, version):
    """The name of a field in a version, or None where it is not there."""
    if version == NEW:
        return field
    if field in NOT_IN_OLD.get(res, ()):
        return None
    return OLD_NAMES[res].get(field, field)


def down_value(res, field, v):
    if res == "roll" and field == "status":
        if FAULT == "old-status-developed-unmapped" and v == "developed":
            return v
        return ROLL_STATES.get(v, v)
    if res == "bath" and field == "volume_ml":
        return v / 1000.0
    if res == "print" and field == "paper":
        return PAPERS[v]
    if res == "print" and field == "size":
        return "%dx%d" % ((v["height_mm"], v["width_mm"]) if FAULT == "old-size-turned" else (v["width_mm"], v["height_mm"]))
    return v


def visible(res, field, user):
    if res == "bath" and field == "recipe":
        return user == "steward"
    return True


def show(res, row, user, version, once=False, log=False, given=None):
    """A row as it is answered."""
    full = {**row, **(given if given is not None else derived(res, row))}
    out = {}
    for f in ORDER[res]:
        if f not in full:
            continue
        if f == "secret" and not once:
            continue
        if log and res == "bath" and f == "recipe":
            if FAULT != "log-shows-recipe":
                continue
        elif not log and not visible(res, f, user):
            continue
        n = name_in(res, f, version)
        if n is None:
            continue
        v = full[f]
        out[n] = v if version == NEW else down_value(res, f, v)
        if isinstance(out[n], (dict, list)):
            out[n] = dict(out[n]) if isinstance(out[n], dict) else list(out[n])
    return out


# A check gives (value, violations); a violation is (path, condition, found, expected).
def found(v):
    t = json.dumps(v)
    return t if len(t) < 60 else t[:57] + "..."


def is_int(v):
    return (isinstance(v, int) and not isinstance(v, bool)) or (isinstance(v, float) and math.isfinite(v) and v == int(v))


def text(lo, hi):
    def check(v, path):
        if not isinstance(v, str):
            return v, [(path, "type", found(v), "a text")]
        if not lo <= len(v) <= hi:
            return v, [(path, "value", found(v), "a text of %d to %d characters" % (lo, hi))]
        return v, []
    return check


def whole(lo, hi):
    def check(v, path):
        if not is_int(v):
            return v, [(path, "type", found(v), "a whole number")]
        if not lo <= v <= hi:
            return v, [(path, "value", found(v), "a number from %d to %d" % (lo, hi))]
        return int(v), []
    return check


def one_of(*values):
    def check(v, path):
        if not isinstance(v, str):
            return v, [(path, "type", found(v), "a text")]
        if v not in values:
            return v, [(path, "value", found(v), "one of " + ", ".join(values))]
        return v, []
    return check


def truth(v, path):
    return (v, []) if isinstance(v, bool) else (v, [(path, "type", found(v), "true or false")])


def any_int(v, path):
    return (int(v), []) if is_int(v) else (v, [(path, "type", found(v), "a whole number")])


URI = re.compile(r"^[A-Za-z][A-Za-z0-9+.\-]*:(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+$")


def address(v, path):
    if not isinstance(v, str):
        return v, [(path, "type", found(v), "a text")]
    ok = len(v) <= 300 and URI.match(v) and not v.endswith("\n")
    if ok:
        try:
            u = urlsplit(v)
            u.port
            ok = u.scheme in ("http", "https") and u.hostname
        except ValueError:
            ok = False
    return (v, []) if ok else (v, [(path, "value", found(v), "an http address")])


KINDS = ["roll.logged", "roll.changed", "roll.moved", "roll.removed", "bath.mixed", "bath.closed", "run.queued", "run.started", "run.ended",
         "print.ordered", "print.exposed", "print.ended"]
PATTERNS = {"*", "roll.*", "bath.*", "run.*", "print.*"}


def kind_list(v, path):
    if not isinstance(v, list):
        return v, [(path, "type", found(v), "a list")]
    bad = []
    if not 1 <= len(v) <= 12:
        bad.append((path, "value", "%d items" % len(v), "1 to 12 items"))
    for i, k in enumerate(v):
        if not isinstance(k, str):
            bad.append(("%s/%d" % (path, i), "type", found(k), "a text"))
        elif k not in KINDS and k not in PATTERNS and FAULT != "unknown-kind-taken":
            bad.append(("%s/%d" % (path, i), "value", found(k), "a kind of event"))
    return v, bad


def sides(v, path):
    if not isinstance(v, dict):
        return v, [(path, "type", found(v), "a map")]
    bad, out = [], {}
    top = {"width_mm": 1200, "height_mm": 1800}
    for k, x in v.items():
        if k not in top:
            bad.append((path + "/" + pointer(k), "unknown", found(x), "no such member"))
            continue
        out[k], b = whole(50, top[k])(x, path + "/" + k)
        bad += b
    for k in top:
        if k not in v:
            bad.append((path + "/" + k, "missing", "nothing", "a whole number"))
    return ({k: out[k] for k in top} if not bad else v), bad


OLD_SIZE = re.compile(r"^[1-9][0-9]{1,3}x[1-9][0-9]{1,3}\Z")


def old_sides(v, path):
    if not isinstance(v, str):
        return v, [(path, "type", found(v), "a text")]
    if not OLD_SIZE.match(v):
        return v, [(path, "value", found(v), "WIDTHxHEIGHT")]
    w, h = (int(x) for x in v.split("x"))
    if not (50 <= w <= 1200 and 50 <= h <= 1800):
        return v, [(path, "value", found(v), "50x50 to 1200x1800")]
    return {"width_mm": w, "height_mm": h}, []


def old_volume(v, path):
    if isinstance(v, bool) or not isinstance(v, (int, float)) or (isinstance(v, float) and not math.isfinite(v)):
        return v, [(path, "type", found(v), "a number")]
    try:
        x = float(v) * 1000.0
        up = int(math.floor(x + 0.5)) if x >= 0 else -int(math.floor(-x + 0.5))
    except OverflowError:
        up = -1
    if FAULT == "old-volume-truncates":
        up = int(float(v) * 1000.0) if up != -1 else up
    if not 250 <= up <= 20000:
        return v, [(path, "value", found(v), "0.25 to 20 litres")]
    return up, []


def old_paper(v, path):
    v2, bad = one_of("rc", "fb")(v, path)
    return ({"rc": "resin", "fb": "fibre"}[v2], []) if not bad else (v, bad)


LABEL_MAX = 25 if FAULT == "label-one-longer" else 24
# field: (check, required, default, immutable)
SPEC = {
    "roll": {"label": (text(1, LABEL_MAX), True, None, False), "film": (text(2, 40), True, None, False),
             "format": (one_of("135", "120", "sheet"), True, None, True), "process": (one_of("bw", "c41", "e6"), True, "bw", False),
             "iso": (whole(6, 12800 if FAULT == "iso-up-to-12800" else 6400), True, None, False), "push": (whole(-2, 3), True, 0, False), "note": (text(0, 200), False, None, False)},
    "bath": {"process": (one_of("bw", "c41", "e6"), True, None, True), "volume_ml": (whole(250, 20000), True, None, False),
             "capacity": (whole(1, 40), True, None, False), "shelf_hours": (whole(1, 720), True, 336, False), "recipe": (text(0, 300), False, None, False)},
    "run": {"bath": (any_int, True, None, True), "roll": (any_int, True, None, True), "minutes": (whole(1, 90), True, None, False),
            "temp_c": (whole(16, 45), True, 20, False)},
    "print": {"roll": (any_int, True, None, True), "frame": (whole(0 if FAULT == "frame-from-zero" else 1, 40), True, None, False), "paper": (one_of("resin", "fibre"), True, "resin", False),
              "size": (sides, True, None, False), "sheets": (whole(1, 20), True, 1, False)},
    "hook": {"url": (address, True, None, False), "kinds": (kind_list, False, None, False), "active": (truth, True, True, False)},
}
OLD_CHECK = {("bath", "volume_ml"): old_volume, ("print", "size"): old_sides, ("print", "paper"): old_paper}
CONDITION_CODE = {"missing": "missing_field"}


def pointer(k):
    return k.replace("~", "~0").replace("/", "~1")


def checker(res, field, version):
    return OLD_CHECK[(res, field)] if version == OLD and (res, field) in OLD_CHECK else SPEC[res][field][0]


def fields_of(res, version):
    names = {}
    for f in ORDER[res]:
        n = name_in(res, f, version)
        if n is not None:
            names[n] = f
    if FAULT == "old-request-takes-film" and res == "roll" and version == OLD:
        names["film"] = "film"
    return names


def refuse_body(bad):
    first = bad[0][1]
    vs = [{"in": "body", "path": p, "found": f, "expected": e} for p, _, f, e in bad]
    raise Refusal(CONDITION_CODE.get(first, "unfit"), vs)


def ordered(bad):
    return [b for b in bad if b[1] != "missing"] + [b for b in bad if b[1] == "missing"]


def read_creation(res, version, body, bound):
    if not isinstance(body, dict):
        refuse_body([("", "type", found(body), "a map")])
    names, out, bad, seen = fields_of(res, version), {}, [], set()
    for k, v in body.items():
        f = names.get(k)
        if f is None:
            bad.append(("/" + pointer(k), "unknown", found(v), "no such field"))
            continue
        if f not in SPEC[res]:
            continue                                     # read-only: ignored
        seen.add(f)
        value, b = checker(res, f, version)(v, "/" + pointer(k))
        if not b and f in bound and value != bound[f]:
            b = [("/" + k, "value", found(v), "what the path names")]
        bad += b
        out[f] = value
    for f, (_, required, default, _) in SPEC[res].items():
        n = name_in(res, f, version)
        if f in seen:
            continue
        if f in bound:
            out[f] = bound[f]
        elif default is not None:
            out[f] = default
        elif required and n is not None:
            bad.append(("/" + n, "missing", "nothing", "a value"))
    if bad:
        refuse_body(ordered(bad))
    out.update(bound)
    return out


def read_update(res, version, row, body):
    if not isinstance(body, dict):
        refuse_body([("", "type", found(body), "a map")])
    names, out, bad = fields_of(res, version), {f: row[f] for f in SPEC[res] if f in row}, []
    for k, v in body.items():
        f = names.get(k)
        if f is None:
            bad.append(("/" + pointer(k), "unknown", found(v), "no such field"))
            continue
        if f not in SPEC[res]:
            continue
        _, required, _, immutable = SPEC[res][f]
        if v is None:
            if required:
                bad.append(("/" + pointer(k), "value", "null", "a value"))
            elif FAULT != "null-keeps-note" or f != "note":
                out.pop(f, None)
            continue
        if f in row and version == OLD and v == down_value(res, f, row[f]) and type(v) is not bool:
            continue                                     # reads as it did: stays as it is stored
        nulls = []
        if isinstance(v, dict) and f == "size" and version == NEW:
            if FAULT == "patch-replaces-size":
                v = {"width_mm": 200, "height_mm": 200, **{a: b for a, b in v.items() if b is not None}}
            merged = dict(row[f])
            for a, b in v.items():
                if b is None and a in merged:
                    nulls.append(("/size/" + a, "value", "null", "a whole number"))
                elif b is not None:
                    merged[a] = b
            v = merged
        value, b = checker(res, f, version)(v, "/" + pointer(k))
        b = b + nulls
        if not b and immutable and value != row.get(f) and not (FAULT == "format-can-change" and f == "format"):
            b = [("/" + pointer(k), "value", found(v), "what it is")]
        bad += b
        out[f] = value
    if bad:
        refuse_body(ordered(bad))
    return out


# ---------------------------------------------------------------- rules
RULES = {  # operation: {user: scope or None}
    "create roll": {"printer": "films"}, "list roll": {"printer": None, "steward": None}, "read roll": {"printer": None, "steward": None},
    "update roll": {"printer": "films"}, "delete roll": {"printer": "films"}, "hand_in roll": {"printer": "films"}, "take_back roll": {"printer": "films"},
    "archive roll": {"steward": "tanks"}, "create bath": {"steward": "tanks"}, "list bath": {"printer": None, "steward": None},
    "read bath": {"printer": None, "steward": None}, "update bath": {"steward": "tanks"}, "discard bath": {"steward": None},
    "create run": {"steward": "tanks"}, "list run": {"printer": None, "steward": None}, "read run": {"printer": None, "steward": None},
    "start run": {"steward": "tanks"}, "abort run": {"steward": "tanks"}, "create print": {"printer": "prints"},
    "list print": {"printer": None, "steward": None}, "read print": {"printer": None, "steward": None}, "update print": {"printer": "prints"},
    "cancel print": {"printer": "prints", "steward": None}, "expose print": {"steward": None}, "create hook": {"printer": None, "steward": None},
    "list hook": {"printer": None, "steward": None}, "read hook": {"printer": None, "steward": None}, "update hook": {"printer": None, "steward": None},
    "delete hook": {"printer": None, "steward": None}, "list entry": {"printer": None, "steward": None}, "read entry": {"printer": None, "steward": None},
}
if FAULT == "steward-cannot-cancel":
    del RULES["cancel print"]["steward"]
if FAULT == "steward-orders-prints":
    RULES["create print"]["steward"] = None
if FAULT == "printer-cannot-list-runs":
    del RULES["list run"]["printer"]
if FAULT == "update-print-asks-no-scope":
    RULES["update print"]["printer"] = None
if FAULT == "take-back-asks-no-scope":
    RULES["take_back roll"]["printer"] = None


def may_read(res, row, who):
    if res == "hook":
        return row["owner"] == who["id"]
    if res == "bath" or who["user"] == "steward":
        if FAULT == "steward-reads-other-labs-runs" and res == "run":
            return True
        return row["lab"] == who["lab"]
    if FAULT == "printer-reads-labs-prints" and res == "print":
        return row["lab"] == who["lab"]
    if FAULT == "entries-by-lab" and res == "entry":
        return row["lab"] == who["lab"]
    return row["owner"] == who["id"]


def may_act(op, res, row, who):
    if op == "update bath":
        return row["owner"] == who["id"] if FAULT != "any-steward-updates-bath" else row["lab"] == who["lab"]
    return may_read(res, row, who)


# ---------------------------------------------------------------- events and web hooks
class Tx:
    def __init__(self, who=None):
        self.who, self.events, self.timers, self.journal = who, [], [], []
        self.now = now_ms()                              # one moment for all of a change

    def save(self, row):
        self.journal.append((row, dict(row)))

    def emit(self, kind, res, row, data=None):
        self.events.append((kind, res, dict(row), data))

    def undo(self):
        for row, old in reversed(self.journal):
            row.clear()
            row.update(old)

    def commit(self):
        at = self.now
        for t in self.timers:
            set_timer(*t)
        for kind, res, row, data in self.events:
            record(kind, res, row, data, at)


def record(kind, res, row, data, at):
    id = "evt_" + rand(20)
    COUNT["seq"] += 1
    extra = derived(res, row)
    full = data if data is not None else show(res, row, None, NEW, log=True, given=extra)
    owner = row["owner"]
    if FAULT == "log-owner-is-steward" and res == "run":
        owner = row["steward"]
    DB["entry"][id] = {"_seq": COUNT["seq"], "id": id, "kind": kind, "about": res, "row": str(row["id"]), "owner": owner, "lab": row["lab"],
                       "at": iso(at), "payload": full}
    set_timer(at + (31 if FAULT == "log-kept-a-day-longer" else 30) * DAY, "forget", id)
    for hook in list(DB["hook"].values()):
        if not hook["active"] and FAULT != "paused-hook-hears":
            continue
        kinds = hook.get("kinds")
        if kinds is not None and not (kind in kinds or "*" in kinds or kind.split(".")[0] + ".*" in kinds):
            continue
        who = hook["_who"]
        if not may_read(res, row, who) and not (FAULT == "hook-hears-the-lab" and row["lab"] == who["lab"]):
            continue
        payload = data if data is not None else show(res, row, who["user"], NEW if FAULT == "hook-in-newest-version" else hook["_version"], given=extra)
        what = {"event": id, "kind": kind, "at": iso(at), "what": payload}
        deliver(hook["id"], (res, row["id"]), kind, json.dumps(what, separators=(",", ":")).encode())


QUEUES = {}
WAITS = [10000, 60000, 600000]
loop_tasks = set()


def deliver(hook, row, kind, body):
    key = (hook,) + row
    q = QUEUES.setdefault(key, deque())
    q.append({"kind": kind, "body": body, "tries": 0, "due": now_ms(), "busy": False})
    pump(key)


def pump(key):
    q = QUEUES.get(key)
    if not q:
        QUEUES.pop(key, None)
        return
    hook = DB["hook"].get(key[0])
    if hook is None or not hook["active"] and FAULT != "paused-hook-hears":
        QUEUES.pop(key, None)
        return
    d = q[0]
    if d["busy"] or d["due"] > now_ms():
        return
    d["busy"] = True
    t = asyncio.get_running_loop().create_task(attempt(key, d))
    loop_tasks.add(t)
    t.add_done_callback(loop_tasks.discard)


async def post(hook, d):
    u = urlsplit(hook["url"])
    host = u.hostname
    if u.scheme != "http" or not (host in ("localhost", "::1") or re.match(r"^127\.\d+\.\d+\.\d+$", host or "")):
        return 0
    t = str(now_ms() // 1000)
    signed = d["body"] if FAULT == "signature-without-time" else t.encode() + b"." + d["body"]
    mac = hmac.new(hook["secret"].encode(), signed, hashlib.sha256).hexdigest()
    path = (u.path or "/") + ("?" + u.query if u.query else "")
    port = u.port or 80
    head = ("POST %s HTTP/1.1\r\nHost: %s:%d\r\nContent-Type: application/json\r\nContent-Length: %d\r\nSilverwell-Event: %s\r\n"
            "Silverwell-Signature: t=%s,v1=%s\r\nConnection: close\r\n\r\n" % (path, host, port, len(d["body"]), d["kind"], t, mac))
    writer = None
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1" if host == "localhost" else host, port)
        writer.write(head.encode() + d["body"])
        await writer.drain()
        while True:
            line = await reader.readline()
            m = re.match(rb"HTTP/1\.[01] (\d{3})", line)
            if not m:
                return 0
            status = int(m.group(1))
            if status >= 200:
                return status
            while (await reader.readline()).strip():
                pass
    finally:
        if writer:
            writer.close()


async def attempt(key, d):
    hook = DB["hook"].get(key[0])
    status = 0
    if hook:
        try:
            status = await asyncio.wait_for(post(hook, d), 5)
        except Exception:
            status = 0
    d["busy"] = False
    q = QUEUES.get(key)
    hook = DB["hook"].get(key[0])
    if not q or q[0] is not d or hook is None:
        return
    good = 200 <= status < (400 if FAULT == "redirect-counts-as-taken" else 300)
    if good:
        hook["_failing"] = None
        q.popleft()
        pump(key)
        return
    if hook["_failing"] is None:
        hook["_failing"] = now_ms()
    if status == 410 or now_ms() - hook["_failing"] >= 2 * DAY:
        hook["active"] = False
        for k in [k for k in QUEUES if k[0] == hook["id"]]:
            del QUEUES[k]
        return
    waits = WAITS[:2] if FAULT == "one-retry-less" else WAITS
    if d["tries"] < len(waits):
        d["due"] = now_ms() + waits[d["tries"]]
        d["tries"] += 1
        set_timer(d["due"], "pump", key)
    else:
        q.popleft()
        pump(key)


# ---------------------------------------------------------------- transitions and what follows
def price(row):
    return row["sheets"] * (450 if row["paper"] == "fibre" else 200)


FROM = {("roll", "hand_in"): ["logged"], ("roll", "take_back"): ["handed_in"], ("roll", "load"): ["handed_in"], ("roll", "unload"): ["in_tank"],
        ("roll", "develop"): ["in_tank"], ("roll", "archive"): ["developed"], ("bath", "exhaust"): ["fresh"], ("bath", "expire"): ["fresh"],
        ("bath", "discard"): ["fresh", "spent", "expired"], ("run", "start"): ["queued"], ("run", "finish"): ["running"],
        ("run", "abort"): ["queued", "running"], ("run", "drop"): ["queued"], ("print", "expose"): ["ordered"], ("print", "cancel"): ["ordered"],
        ("print", "lapse"): ["ordered"]}
TO = {"hand_in": "handed_in", "take_back": "logged", "load": "in_tank", "unload": "handed_in", "develop": "developed", "archive": "archived",
      "exhaust": "spent", "expire": "expired", "discard": "discarded", "start": "running", "finish": "done", "drop": "aborted", "expose": "exposed",
      "cancel": "cancelled", "lapse": "lapsed"}
ELSE = {("roll", "take_back"): "too_late", ("print", "cancel"): "too_late"}
if FAULT == "cancel-says-wrong-state":
    del ELSE[("print", "cancel")]
if FAULT == "expired-bath-not-discardable":
    FROM[("bath", "discard")] = ["fresh", "spent"]
if FAULT == "archive-from-in-tank":
    FROM[("roll", "archive")] = ["in_tank", "developed"]
if FAULT == "cancel-exposed":
    FROM[("print", "cancel")] = ["ordered", "exposed"]
if FAULT == "archive-does-nothing":
    TO["archive"] = "developed"


def drop_queued(tx, runs, reason):
    for r in list(runs):
        if r["status"] == "queued":
            fire(tx, "run", r, "drop", given={"reason": reason})


def fire(tx, res, row, name, request=None, given=None):
    state = row["status"]
    if state not in FROM[(res, name)]:
        raise Refusal(ELSE.get((res, name), "wrong_state"))
    # its condition
    if name == "discard" and derived("bath", row)["in_tank"] > 0 and FAULT != "discard-with-film-in-tank":
        raise Refusal("tank_busy")
    if name == "start":
        bath = DB["bath"][row["bath"]]
        least = 0 if FAULT != "start-one-too-many" else -1
        if bath["status"] != "fresh" or derived("bath", bath)["left"] <= least:
            raise Refusal("bath_worn")
    if name == "expose" and DB["roll"][row["roll"]]["status"] != "developed":
        if not (FAULT == "expose-while-in-tank" and DB["roll"][row["roll"]]["status"] == "in_tank"):
            raise Refusal("not_developed")
    before = dict(row)
    tx.save(row)
    now = tx.now
    if name == "abort":
        row["status"] = "spoiled" if state == "running" else "aborted"
        if FAULT == "abort-running-is-aborted":
            row["status"] = "aborted"
        row["reason"] = request["reason"]
    else:
        row["status"] = TO[name]
    if given:
        row.update(given)
    if name == "hand_in":
        row["handed_in_at"] = iso(now)
    elif name == "start":
        row["started_at"] = iso(now)
        ready = now + row["minutes"] * (MIN if FAULT != "ready-in-hours" else HOUR)
        row["ready_at"] = iso(ready)
        tx.timers.append((ready, "finish", row["id"]))
    elif name == "expose":
        row["exposed_at"] = iso(now)
        row["exposed_by"] = tx.who["id"] if FAULT != "exposed-by-owner" else row["owner"]
    if res == "roll" and FAULT != "moves-leave-updated-at":
        row["updated_at"] = iso(now)
    # what is told
    if res == "roll":
        if not (FAULT == "develop-untold" and name == "develop"):
            data = {"roll": row["id"], "from": before["status"], "to": row["status"]}
            if FAULT == "moved-from-is-to":
                data["from"] = row["status"]
            tx.emit("roll.moved", res, row, data)
    elif res == "bath":
        if not (FAULT == "exhaust-untold" and name == "exhaust"):
            tx.emit("bath.closed", res, row)
    elif name == "start":
        tx.emit("run.started", res, row)
    elif res == "run":
        if not (FAULT == "drop-untold" and name == "drop"):
            tx.emit("run.ended", res, before if FAULT == "run-ended-tells-before" else row)
    elif name == "expose":
        tx.emit("print.exposed", res, row)
    else:
        if not (FAULT == "lapse-untold" and name == "lapse"):
            tx.emit("print.ended", res, row)
    # what follows
    if name == "take_back" and FAULT != "take-back-keeps-queue":
        drop_queued(tx, runs_of_roll(row["id"]), "roll taken back")
    elif name == "archive":
        for p in prints_of(row["id"]):
            if p["status"] == "ordered" and FAULT != "archive-keeps-orders":
                fire(tx, "print", p, "cancel")
    elif name == "exhaust":
        drop_queued(tx, runs_of_bath(row["id"]), "bath spent")
    elif name == "expire":
        if FAULT != "expire-keeps-queue":
            drop_queued(tx, runs_of_bath(row["id"]), "bath expired")
    elif name == "discard":
        drop_queued(tx, runs_of_bath(row["id"]), "bath discarded")
    elif name == "start":
        fire(tx, "roll", DB["roll"][row["roll"]], "load")
        bath = DB["bath"][row["bath"]]
        if derived("bath", bath)["left"] <= 0 and FAULT != "full-bath-stays-fresh":
            fire(tx, "bath", bath, "exhaust")
    elif name == "finish":
        fire(tx, "roll", DB["roll"][row["roll"]], "develop")
    elif name == "abort" and state == "running" and FAULT != "abort-leaves-roll-in-tank":
        fire(tx, "roll", DB["roll"][row["roll"]], "unload")


def clock_fires(res, row, name):
    tx = Tx()
    try:
        fire(tx, res, row, name)
    except Refusal:
        tx.undo()
        return
    tx.commit()


def fire_due():
    while TIMERS and TIMERS[0][0] <= now_ms():
        _, _, what, id, mark = heapq.heappop(TIMERS)
        if what == "pump":
            pump(id)
        elif what == "forget":
            DB["entry"].pop(id, None)
        elif what == "forget key":
            if KEYS.get(id, (0,))[0] == mark:
                KEYS.pop(id, None)
        elif what == "expire":
            row = DB["bath"].get(id)
            if row and row["status"] == "fresh" and (row["good_until"] == mark or FAULT == "old-expiry-still-fires"):
                clock_fires("bath", row, "expire")
        elif what == "finish":
            row = DB["run"].get(id)
            if row and row["status"] == "running":
                clock_fires("run", row, "finish")
        elif what == "lapse":
            row = DB["print"].get(id)
            if row and row["status"] == "ordered":
                clock_fires("print", row, "lapse")


# ---------------------------------------------------------------- limits
SLIDING, BUCKET, FIXED, QUOTA = {}, {}, {}, {}


def count_rates(who, op):
    """Counts the request, or refuses it; gives the header fields that tell of it."""
    me, now = (who["user"], who["id"]), now_ms()
    if FAULT == "rate-per-lab":
        me = (who["user"], who["lab"])
    told, waits = [], []
    q = SLIDING.setdefault(me, deque())
    while q and q[0] <= now - MIN:
        q.popleft()
    left = 900 - len(q)
    if left <= 0:
        waits.append((900, q[0] + MIN - now))
    told.append((left - 1, 900))
    b = None
    if op in ("create roll", "create print"):
        cap = 120 * MIN
        b = BUCKET.setdefault((me, op) if FAULT == "bucket-per-operation" else me, [cap, now])
        b[0] = min(cap, b[0] + (now - b[1]) * 120)
        b[1] = now
        if FAULT == "bucket-never-refills" and b[0] < cap:
            b[0] = b[0] - b[0] % MIN
        if b[0] < MIN:
            waits.append((120, -(-(MIN - b[0]) // 120)))
        told.append(((b[0] - MIN) // MIN, 120))
    f = None
    if op == "list entry" and who["user"] == "printer":
        f = FIXED.get(me)
        if f is None or now >= f[0] + 30000:
            f = FIXED[me] = [now, 0]
        limit = 241 if FAULT == "fixed-one-more" else 240
        if f[1] >= limit:
            waits.append((240, f[0] + 30000 - now))
        told.append((240 - f[1] - 1, 240))
    if waits:
        limit, wait = max(waits, key=lambda w: w[1])
        raise Refusal("slow_down", headers=[("Retry-After", str(max(1, -(-wait // 1000)))), ("Darkroom-Limit", str(limit)), ("Darkroom-Left", "0")])
    q.append(now)
    if b is not None:
        b[0] -= MIN
    if f is not None:
        f[1] += 1
    left, limit = min(told)
    return [("Darkroom-Limit", str(limit)), ("Darkroom-Left", str(max(0, left + (1 if FAULT == "left-before-this-one" else 0))))]


def ask_quota(who):
    day = now_ms() // DAY
    key = (who["user"], who["id"], day)
    if QUOTA.get(key, 0) >= 100:
        raise Refusal("enough", headers=[("Retry-After", str(max(1, -(-((day + 1) * DAY - now_ms()) // 1000))))])
    return key


# ---------------------------------------------------------------- operations
class Call:
    """One request on its way."""
    __slots__ = ("method", "path", "query", "headers", "body", "oversize", "version", "who", "params", "args", "data", "etag")


def segment_int(s):
    return int(s) if re.match(r"^(0|-?[1-9][0-9]{0,17})\Z", s, re.A) else None


def find_row(res, params):
    if res in ("roll", "bath"):
        return DB[res].get(segment_int(params[res]))
    if res in ("run", "print"):
        n = segment_int(params["number"])
        parent = "bath" if res == "run" else "roll"
        rows = (runs_of_bath if res == "run" else prints_of)(segment_int(params[parent]))
        for r in rows:
            if r["number"] == n:
                return r
        if FAULT == "run-found-below-any-bath" and res == "run":
            for r in DB["run"].values():
                if r["number"] == n:
                    return r
        return None
    return DB[res].get(params["hook" if res == "hook" else "id"])


PARENT = {"run": "bath", "print": "roll"}


def parent_of(c, res):
    p = PARENT.get(res)
    if not p:
        return None
    row = find_row(p, c.params)
    if row is None or not may_read(p, row, c.who):
        raise Refusal("not_found")
    return row


def load(c, op, res):
    parent_of(c, res)
    row = find_row(res, c.params)
    if row is None or not may_read(res, row, c.who):
        if row is not None and FAULT == "others-row-is-403":
            raise Refusal("forbidden")
        raise Refusal("not_found")
    if not may_act(op, res, row, c.who):
        raise Refusal("forbidden")
    return row


def tag_of(res, row, c):
    r = show(res, row, c.who["user"], c.version)
    if FAULT == "tag-misses-derived":
        r = {k: v for k, v in r.items() if k not in derived(res, row)}
    return '"' + hashlib.sha256((c.version + c.who["user"] + json.dumps(r, sort_keys=True)).encode()).hexdigest()[:24] + '"'


def tags(text):
    return [t.strip() for t in re.findall(r'\s*((?:W/)?"[^"]*"|\*)\s*(?:,|$)', text)]


def precondition(c, res, row, required):
    m = c.headers.get("if-match")
    if m is None:
        if required:
            raise Refusal("tag_missing")
        return
    ts = tags(m)
    if FAULT == "weak-tag-passes":
        ts = [t[2:] if t.startswith("W/") else t for t in ts]
    if "*" not in ts and tag_of(res, row, c) not in ts:
        raise Refusal("stale")


def location(res, row):
    base = "/api" if FAULT == "location-below-api" else ""
    if res == "run":
        return base + "/baths/%d/runs/%d" % (row["bath"], row["number"])
    if res == "print":
        return base + "/rolls/%d/prints/%d" % (row["roll"], row["number"])
    return base + "/%ss/%s" % (res, row["id"])


def next_number(kind, parent):
    key = kind if FAULT == "numbers-over-all" else (kind, parent)
    if FAULT == "numbers-come-again" and kind == "print":
        return len(PRINTS_OF.get(parent, ())) + 1 - sum(p["status"] == "cancelled" for p in prints_of(parent))
    NUMBERS[key] = NUMBERS.get(key, 0) + 1
    return NUMBERS[key]


def create(c, op, res):
    who = c.who
    parent = parent_of(c, res)
    bound = {PARENT[res]: parent["id"]} if parent else {}
    row = read_creation(res, c.version, c.data, bound)
    tx = Tx(who)
    now = tx.now
    row["owner"], row["lab"] = who["id"], who["lab"]
    if res == "run":
        roll = DB["roll"].get(row["roll"])
        if roll is None or not may_read("roll", roll, who) and FAULT != "run-of-unreadable-roll":
            raise Refusal("no_such_row", [{"in": "body", "path": "/roll", "found": found(row["roll"]), "expected": "a roll"}])
        row["owner"], row["steward"] = roll["owner"], who["id"]
        if FAULT == "run-owned-by-steward":
            row["owner"] = who["id"]
        row["status"], row["queued_at"] = "queued", iso(now)
        if roll["process"] != parent["process"]:
            raise Refusal("wrong_process")
        if parent["status"] != "fresh":
            raise Refusal("bath_closed")
        if roll["status"] != "handed_in" and FAULT != "run-of-roll-elsewhere":
            raise Refusal("roll_not_here")
        active = ("running",) if FAULT == "roll-queued-twice" else ("queued", "running")
        if any(r["status"] in active for r in runs_of_roll(roll["id"])):
            raise Refusal("taken")
        row["id"] = "run_" + ulid()
        row["number"] = next_number("run", parent["id"])
    elif res == "print":
        row["price_cents"] = price(row)
        row["status"], row["ordered_at"] = "ordered", iso(now)
        if parent["status"] == "archived" and FAULT != "prints-of-archived":
            raise Refusal("roll_closed")
        if too_wide(row):
            raise Refusal("too_wide")
        if FAULT == "cap-counts-cancelled":
            n = sum(p["status"] in ("ordered", "cancelled") for p in prints_of(parent["id"]))
        else:
            n = sum(p["status"] == "ordered" for p in prints_of(parent["id"]))
        if n >= 8:
            raise Refusal("enough")
        row["id"] = "prt_" + ulid()
        row["number"] = next_number("print", parent["id"])
        tx.timers.append((now + (3 if FAULT == "lapse-after-three-days" else 30) * DAY, "lapse", row["id"]))
    elif res == "roll":
        row["status"], row["logged_at"], row["updated_at"] = "logged", iso(now), iso(now)
        label_free(row, None)
        COUNT["roll"] += 1
        row["id"] = COUNT["roll"]
    elif res == "bath":
        if FAULT == "shelf-default-a-week" and "shelf_hours" not in c.data:
            row["shelf_hours"] = 168
        row["status"], row["mixed_at"] = "fresh", iso(now)
        row["good_until"] = iso(now + row["shelf_hours"] * HOUR)
        COUNT["bath"] += 1
        row["id"] = COUNT["bath"]
        tx.timers.append((now + row["shelf_hours"] * HOUR, "expire", row["id"], row["good_until"]))
    else:
        del row["lab"]
        if sum(h["owner"] == who["id"] for h in DB["hook"].values()) >= (5 if FAULT == "five-hooks" else 4):
            raise Refusal("enough")
        row["id"] = "hok_" + rand(16)
        row["secret"] = "whk_" + rand(32)
        row["_who"], row["_version"], row["_failing"] = dict(who), c.version, None
    COUNT["seq"] += 1
    row["_seq"] = COUNT["seq"]
    DB[res][row["id"]] = row
    if res == "run":
        RUNS_OF_BATH.setdefault(row["bath"], []).append(row["id"])
        RUNS_OF_ROLL.setdefault(row["roll"], []).append(row["id"])
        tx.emit("run.queued", res, row)
    elif res == "print":
        PRINTS_OF.setdefault(row["roll"], []).append(row["id"])
        tx.emit("print.ordered", res, row)
    elif res == "roll":
        tx.emit("roll.logged", res, row)
    elif res == "bath":
        tx.emit("bath.mixed", res, row)
    tx.commit()
    return 201, show(res, row, who["user"], c.version, once=True), [("Location", location(res, row))]


def too_wide(row):
    return row["paper"] == "fibre" and (row["size"]["width_mm"] >= 600 if FAULT == "six-hundred-too-wide" else row["size"]["width_mm"] > 600)


def label_free(row, id):
    for r in DB["roll"].values():
        if r["label"] == row["label"] and r["id"] != id and (r["owner"] == row["owner"] or FAULT == "label-unique-for-all"):
            raise Refusal("taken")


def update(c, op, res):
    row = load(c, op, res)
    if op in ("update roll", "update print", "update bath"):
        precondition(c, res, row, op == "update roll" and FAULT != "if-match-optional")
    new = read_update(res, c.version, row, c.data)
    allowed = {"roll": "logged", "bath": "fresh", "print": "ordered"}.get(res)
    if allowed and row["status"] != allowed and not (FAULT == "update-handed-in" and row["status"] == "handed_in"):
        raise Refusal("wrong_state")
    if res == "print" and too_wide(new) and FAULT != "too-wide-by-update":
        raise Refusal("too_wide")
    if res == "bath" and new["capacity"] < derived("bath", row)["used"]:
        raise Refusal("below_used")
    old = {f: row[f] for f in SPEC[res] if f in row}
    if new == old and FAULT != "empty-update-counts":
        return 200, show(res, row, c.who["user"], c.version), []
    if res == "roll":
        label_free({**row, **new}, row["id"])
    tx, before = Tx(c.who), dict(row)
    for f in old:
        if f not in new:
            del row[f]
    row.update(new)
    if res == "roll":
        row["updated_at"] = iso(tx.now)
        if row["label"] != before["label"] or FAULT == "changed-always-told":
            tx.emit("roll.changed", res, row, {"roll": row["id"], "was": before["label"], "is": row["label"]})
    elif res == "print":
        if FAULT != "price-not-redone":
            row["price_cents"] = price(row)
    elif res == "bath":
        good = ms_of(row["mixed_at"]) + row["shelf_hours"] * HOUR
        if FAULT == "shelf-counts-from-now" and row["shelf_hours"] != before["shelf_hours"]:
            good = now_ms() + row["shelf_hours"] * HOUR
        if iso(good) != row["good_until"]:
            row["good_until"] = iso(good)
            tx.timers.append((good, "expire", row["id"], row["good_until"]))
    elif res == "hook" and row["active"] and not before["active"]:
        row["_failing"] = None
    tx.commit()
    return 200, show(res, row, c.who["user"], c.version), []


def delete(c, op, res):
    row = load(c, op, res)
    tx = Tx(c.who)
    if res == "roll":
        if row["status"] != "logged":
            raise Refusal("wrong_state")
        if runs_of_roll(row["id"]) and FAULT != "delete-roll-with-runs":
            raise Refusal("in_use")
        tx.emit("roll.removed", res, row, {"roll": row["id"], "label": row["label"]})
        for p in prints_of(row["id"]):
            DB["print"].pop(p["id"])
        PRINTS_OF.pop(row["id"], None)
        if FAULT == "delete-roll-with-runs":
            for r in runs_of_roll(row["id"]):
                DB["run"].pop(r["id"])
                RUNS_OF_BATH[r["bath"]].remove(r["id"])
            RUNS_OF_ROLL.pop(row["id"], None)
    DB[res].pop(row["id"])
    tx.commit()
    return 204, None, []


def read(c, op, res):
    row = load(c, op, res)
    headers = []
    if res in ("roll", "bath", "run", "print"):
        tag = tag_of(res, row, c)
        headers = [("ETag", tag)]
        n = c.headers.get("if-none-match")
        if n is not None:
            ts = [t[2:] if t.startswith("W/") else t for t in tags(n)]
            if "*" in ts or tag in ts:
                return 304, None, headers
    return 200, show(res, row, c.who["user"], c.version, once=FAULT == "secret-shown-again" and res == "hook"), headers


def move(c, op, res):
    name = op.split()[0]
    row = load(c, op, res)
    request = None
    if name == "abort":
        request = c.data
        if not isinstance(request, dict):
            refuse_body([("", "type", found(request), "a map")])
        if "reason" not in request:
            refuse_body([("/reason", "missing", "nothing", "a text")])
        _, bad = text(3, 120)(request["reason"], "/reason")
        if bad and FAULT != "short-reason-taken":
            refuse_body(bad)
    tx = Tx(c.who)
    try:
        fire(tx, res, row, name, request)
        quota = ask_quota(c.who) if name == "hand_in" else None
    except Refusal:
        tx.undo()
        raise
    if quota:
        QUOTA[quota] = QUOTA.get(quota, 0) + 1
    tx.commit()
    return 200, show(res, row, c.who["user"], c.version), []


# ---------------------------------------------------------------- lists
def p_text(lo, hi):
    return lambda s: s if lo <= len(s) <= hi else None


def p_int(lo, hi):
    def f(s):
        if not re.match(r"^-?(0|[1-9][0-9]{0,17})\Z", s, re.A):
            return None
        n = int(s)
        return n if lo <= n <= hi else None
    return f


def p_enum(*vs):
    return lambda s: s if s in vs else None


def p_time(s):
    return read_datetime(s)


BIG = 10 ** 18
# name: (field, op, reader, several)
FILTERS = {
    "list roll": {"status": ("status", "=", p_enum(*STATES["roll"]), True), "format": ("format", "=", p_enum("135", "120", "sheet"), False),
                  "process": ("process", "=", p_enum("bw", "c41", "e6"), False), "film": ("film", "=", p_text(2, 40), False),
                  "label_starts": ("label", "prefix", p_text(1, 24), False), "min_iso": ("iso", ">=", p_int(6, 6400), False),
                  "max_iso": ("iso", "<=", p_int(6, 6400), False), "least_open": ("open_prints", ">=", p_int(0, BIG), False)},
    "list print": {"status": ("status", "=", p_enum(*STATES["print"]), True), "paper": ("paper", "=", p_enum("resin", "fibre"), False)},
    "list bath": {"status": ("status", "=", p_enum(*STATES["bath"]), False), "process": ("process", "=", p_enum("bw", "c41", "e6"), False)},
    "list run": {"status": ("status", "=", p_enum(*STATES["run"]), True)},
    "list hook": {},
    "list entry": {"kind": ("kind", "=", lambda s: s, False), "about": ("about", "=", lambda s: s, False), "row": ("row", "=", lambda s: s, False),
                   "since": ("at", ">=", p_time, False)},
}
SORTS = {"list roll": (None, ["label", "film", "iso", "due_cents"]), "list print": ("number", ["number", "price_cents", "frame"]),
         "list bath": ("good_until", ["good_until", "left"]), "list run": ("-number", ["number", "minutes"]), "list hook": (None, []), "list entry": (None, [])}
SELECTS = {"list roll", "list print", "list bath", "list run"}
EXPANDS = {"list print": ["roll"], "list run": ["bath", "roll"]}
SECRET = secrets.token_bytes(32)


def bad_query(name):
    raise Refusal("bad_query", [{"in": "query", "path": name, "found": "another value", "expected": "as it is stated"}])


def read_query(op, res, version, query, user):
    """The query, read and carried up; refuses what does not fit."""
    out = {"filters": [], "sort": None, "take": 20, "after": None, "fields": None, "expand": []}
    filters, sorts, seen, fields = FILTERS.get(op, {}), {}, set(), []
    named = {}
    for n, spec in filters.items():
        n2 = name_in(res, n, version) if n == spec[0] else n
        if n2:
            named[n2] = spec
    for f in SORTS.get(op, (None, []))[1]:
        n = name_in(res, f, version)
        if FAULT == "old-sort-by-new-name" and f == "minutes":
            n = "minutes"
        sorts[n] = f
        sorts["-" + n] = "-" + f
    is_list = op.startswith("list ")
    for k, v in query:
        if is_list and k in ("take", "after"):
            if k in seen:
                bad_query(k)
            seen.add(k)
            if k == "take":
                n = segment_int(v)
                if n is not None and n > 100 and FAULT == "take-clamped":
                    n = 100
                if n is None or not 1 <= n <= 100:
                    bad_query(k)
                out["take"] = n
            else:
                out["after"] = v
        elif k == "fields" and op in SELECTS:
            fields += v.split(",")
            out["fields"] = fields
        elif k == "expand" and op in EXPANDS:
            for e in v.split(","):
                if e not in EXPANDS[op]:
                    bad_query(k)
                if e not in out["expand"]:
                    out["expand"].append(e)
        elif k == "sort" and sorts:
            if k in seen or v not in sorts:
                bad_query(k)
            seen.add(k)
            out["sort"] = sorts[v]
        elif k in named:
            field, how, reader, several = named[k]
            if k in seen and not several:
                bad_query(k)
            seen.add(k)
            values = []
            for s in (v.split(",") if several else [v]):
                if version == OLD and field == "status" and res == "roll":
                    back = {b: a for a, b in ROLL_STATES.items()}
                    s = "" if s in ROLL_STATES else back.get(s, s)
                elif version == OLD and field == "paper":
                    s = {"rc": "resin", "fb": "fibre"}.get(s, "")
                x = reader(s)
                if x is None:
                    bad_query(k)
                values.append(x)
            if len(values) > 100:
                bad_query(k)
            out["filters"].append((k, field, how, values))
        else:
            if FAULT == "unknown-parameter-ignored":
                continue
            bad_query(k)
    if out["fields"] is not None:
        if len(out["fields"]) > 100:
            bad_query("fields")
        out["fields"] = choose(res, version, user, out["fields"], out["expand"])
    return out


def choose(res, version, user, paths, expanded):
    tree = {}
    for p in paths:
        steps = p.split(".")
        if len(steps) > 8:
            bad_query("fields")
        node, here, ex = tree, res, expanded
        for i, s in enumerate(steps):
            last = i == len(steps) - 1
            if here == "size":
                if s not in ("width_mm", "height_mm"):
                    bad_query("fields")
                nxt = None
            elif here is None:
                bad_query("fields")
            else:
                f = fields_of(here, version).get(s)
                if f is None or not visible(here, f, user) and FAULT != "fields-tell-of-recipe":
                    bad_query("fields")
                nxt = None
                if here == "print" and f == "size" and version == NEW:
                    nxt = "size"
                elif here == res and f in ex:
                    nxt = REFS[here][f]
            if last:
                node[s] = True
            else:
                if node.get(s) is True:
                    node = {}                            # the whole is shown already
                else:
                    node = node.setdefault(s, {})
            here = nxt
    return tree


def pick(d, tree):
    out = {}
    for k, v in d.items():
        if k == "id":
            if not (FAULT == "chosen-fields-drop-id" and "id" not in tree):
                out[k] = v
        elif k in tree:
            out[k] = pick(v, tree[k]) if isinstance(tree[k], dict) and isinstance(v, dict) else v
    return out


def keep(row, extra, filters):
    for _, field, how, values in filters:
        v = extra[field] if field in extra else row.get(field)
        if v is None:
            return False
        x = values[0]
        if field == "at":
            v = ms_of(v)
        if how == "=":
            if v not in values:
                return False
        elif how == ">=":
            if FAULT == "since-leaves-out-the-moment" and field == "at":
                if v <= x:
                    return False
            elif FAULT == "min-iso-exclusive" and field == "iso":
                if v <= x:
                    return False
            elif v < x:
                return False
        elif how == "<=":
            if v > x:
                return False
        elif how == "prefix":
            if not v.startswith(x) and not (FAULT == "prefix-in-any-case" and v.lower().startswith(x.lower())):
                return False
    return True


def list_rows(c, op, res):
    parent = parent_of(c, res)
    a, who = c.args, c.who
    if res == "run":
        rows = runs_of_bath(parent["id"])
    elif res == "print":
        rows = prints_of(parent["id"])
    else:
        rows = DB[res].values()
    order = a["sort"] or SORTS[op][0]
    if FAULT == "runs-oldest-first" and op == "list run" and not a["sort"]:
        order = "number"
    turned = bool(order) and order[0] == "-"
    field = order.lstrip("-") if order else None
    found_rows = []
    need = field in ("due_cents", "left") or any(f[1] == "open_prints" for f in a["filters"])
    for r in rows:
        if not may_read(res, r, who) and not (FAULT == "list-rolls-of-the-lab" and res == "roll" and r["lab"] == who["lab"]):
            continue
        extra = derived(res, r) if need else {}
        if a["filters"] and not keep(r, extra, a["filters"]):
            continue
        key = (extra[field] if field in extra else r[field]) if field else None
        found_rows.append((key, r["_seq"], r))
    found_rows.sort(key=lambda t: t[1])
    if field:
        found_rows.sort(key=lambda t: t[0], reverse=turned)      # stable, also when it is turned: ties stay oldest first
    bind = json.dumps([op, c.version, c.params, sorted((f[0], [str(v) for v in f[3]]) for f in a["filters"]), order, who["user"], who["id"], who["lab"]], sort_keys=True)
    start = 0
    if a["after"] is not None:
        key, seq = open_cursor(a["after"], bind)
        for i, (k, s, _) in enumerate(found_rows):
            if not field:
                past = s > seq if FAULT != "page-repeats-last" else s >= seq
            elif k == key:
                past = s > seq if FAULT != "page-repeats-last" else s >= seq
            else:
                past = (k < key) if turned else (k > key)
            if past:
                start = i
                break
        else:
            start = len(found_rows)
    page = found_rows[start:start + a["take"]]
    more = len(found_rows) > start + a["take"]
    if FAULT == "full-last-page-goes-on" and page and len(page) == a["take"]:
        more = True
    items = []
    for _, _, r in page:
        d = show(res, r, who["user"], c.version)
        if FAULT == "old-list-keeps-film" and c.version == OLD and res == "roll":
            d = {("film" if k == "emulsion" else k): v for k, v in d.items()}
        for e in a["expand"]:
            target = DB[REFS[res][e]].get(r[e])
            if target is not None and may_read(e, target, who):
                d[e] = show(e, target, "steward" if FAULT == "expanded-bath-shows-recipe" else who["user"], NEW if FAULT == "expanded-in-newest-version" else c.version)
        if a["fields"] is not None:
            d = pick(d, a["fields"])
        items.append(d)
    cursor = None
    if more:
        cursor = make_cursor([page[-1][0], page[-1][1]], bind)
    return 200, {"items": items, "next_after": cursor}, []


def make_cursor(place, bind):
    body = json.dumps(place).encode()
    mac = hmac.new(SECRET, body + bind.encode(), hashlib.sha256).digest()[:12]
    return base64.urlsafe_b64encode(mac + body).decode().rstrip("=")


def open_cursor(text, bind):
    try:
        raw = base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        mac, body = raw[:12], raw[12:]
        good = hmac.compare_digest(mac, hmac.new(SECRET, body + bind.encode(), hashlib.sha256).digest()[:12])
        if good and base64.urlsafe_b64encode(raw).decode().rstrip("=") == text or FAULT == "cursor-of-another-query" and body:
            place = json.loads(body)
            return place[0], place[1]
    except Exception:
        pass
    bad_query("after")


# ---------------------------------------------------------------- endpoints
ENDPOINTS = [  # method, path, operation, function
    ("POST", "/rolls", "create roll", create), ("GET", "/rolls", "list roll", list_rows), ("GET", "/rolls/{roll}", "read roll", read),
    ("PATCH", "/rolls/{roll}", "update roll", update), ("DELETE", "/rolls/{roll}", "delete roll", delete),
    ("POST", "/rolls/{roll}/hand_in", "hand_in roll", move), ("POST", "/rolls/{roll}/take_back", "take_back roll", move),
    ("POST", "/rolls/{roll}/archive", "archive roll", move), ("POST", "/rolls/{roll}/prints", "create print", create),
    ("GET", "/rolls/{roll}/prints", "list print", list_rows), ("GET", "/rolls/{roll}/prints/{number}", "read print", read),
    ("PATCH", "/rolls/{roll}/prints/{number}", "update print", update), ("POST", "/rolls/{roll}/prints/{number}/expose", "expose print", move),
    ("POST", "/rolls/{roll}/prints/{number}/cancel", "cancel print", move), ("POST", "/baths", "create bath", create),
    ("GET", "/baths", "list bath", list_rows), ("GET", "/baths/{bath}", "read bath", read), ("PATCH", "/baths/{bath}", "update bath", update),
    ("POST", "/baths/{bath}/discard", "discard bath", move), ("POST", "/baths/{bath}/runs", "create run", create),
    ("GET", "/baths/{bath}/runs", "list run", list_rows), ("GET", "/baths/{bath}/runs/{number}", "read run", read),
    ("POST", "/baths/{bath}/runs/{number}/start", "start run", move), ("POST", "/baths/{bath}/runs/{number}/abort", "abort run", move),
    ("POST", "/hooks", "create hook", create), ("GET", "/hooks", "list hook", list_rows), ("GET", "/hooks/{hook}", "read hook", read),
    ("PATCH", "/hooks/{hook}", "update hook", update), ("DELETE", "/hooks/{hook}", "delete hook", delete),
    ("GET", "/events", "list entry", list_rows), ("GET", "/events/{id}", "read entry", read),
]
if FAULT == "entry-route-missing":
    ENDPOINTS = [e for e in ENDPOINTS if e[2] != "read entry"]
ROUTES = []
for m, p, op, fn in ENDPOINTS:
    for i, (parts, methods) in enumerate(ROUTES):
        if parts == p[1:].split("/"):
            methods[m] = (op, fn)
            break
    else:
        ROUTES.append((p[1:].split("/"), {m: (op, fn)}))
KEYED = {"create roll", "create print", "create run", "create hook"}
if FAULT == "runs-take-no-key":
    KEYED = KEYED - {"create run"}
BODIED = {"create roll", "create print", "create run", "create hook", "create bath", "update roll", "update print", "update bath", "update hook", "abort run"}
KEYS = {}


def route(path, version):
    parts = path[1:].split("/") if path.startswith("/") else None
    if not parts:
        return None, None
    for pattern, methods in ROUTES:
        if len(pattern) != len(parts):
            continue
        params = {}
        for a, b in zip(pattern, parts):
            if a[0] == "{":
                if not b:
                    break
                params[a[1:-1]] = b
            elif a != b:
                break
        else:
            if version == OLD and pattern[-1] == "take_back" and FAULT != "old-version-has-take-back":
                return None, None
            return methods, params
    return None, None


def who_calls(c, op):
    accepted = ("desk",) if op == "discard bath" and FAULT != "discard-by-token" else ("token", "desk")
    callers, bad, shown = [], False, False
    if "token" in accepted:
        for v in c.headers.get_all("authorization"):
            shown = True
            m = re.match(r"^bearer +(\S+)$", v, re.I)
            p = TOKENS.get(m.group(1)) if m else None
            if p is None:
                bad = True
            else:
                callers.append(p)
        if len(c.headers.get_all("authorization")) > 1:
            bad = True
    desks = c.headers.get_all("x-desk-pass")
    for v in desks:
        shown = True
        p = DESKS.get(v)
        if p is None:
            bad = True
        else:
            callers.append(p)
    if len(desks) > 1:
        bad = True
    if FAULT == "bad-desk-pass-beside-token" and callers:
        bad = False
        callers = callers[:1]
    if FAULT == "two-credentials-two-callers":
        callers = callers[:1]
    if bad or not callers or len({(p["user"], p["id"]) for p in callers}) > 1:
        bearer = 'Bearer realm="Silverwell darkroom"' + (', error="invalid_key"' if shown else "")
        desk = 'ApiKey realm="Silverwell darkroom", in="header", name="X-Desk-Pass"' + (', error="invalid_key"' if shown else "")
        raise Refusal("who_are_you", headers=([("WWW-Authenticate", bearer)] if "token" in accepted else []) + [("WWW-Authenticate", desk)])
    p = callers[0]
    if FAULT == "desk-pass-lab-fixed" and desks:
        return {**p, "lab": "north"}
    return {**p, "scopes": sorted({s for x in callers for s in x["scopes"]})}


def strict_constant(_):
    raise ValueError


def parse_query(q):
    out = []
    for piece in q.split("&"):
        if not piece:
            continue
        k, _, v = piece.partition("=")
        try:
            out.append((unquote_to_bytes(k.replace("+", " ")).decode("utf-8"), unquote_to_bytes(v.replace("+", " ")).decode("utf-8")))
        except UnicodeDecodeError:
            out.append(("\0", ""))
    return out


def handle(c, target, out):
    """Answers one request: status, body or None; header fields are gathered in `out`."""
    fire_due()
    # (1) sizes
    if len(target) > (2049 if FAULT == "url-one-byte-more" else 2048):
        raise Refusal("url_too_long")
    if c.headers.size > 8192:
        raise Refusal("headers_too_large")
    # (2) route, method, version
    rawpath, _, rawquery = target.partition("?")
    named = c.headers.get_all("darkroom-date")
    asked = None
    if named:
        asked = named[0] if len(named) == 1 else "several"
        if asked in (OLD, NEW):
            c.version = asked
    elif FAULT == "oldest-by-default":
        c.version = OLD
    segs = rawpath.split("/")
    try:
        segs = [unquote(s, errors="strict") for s in segs]
    except UnicodeDecodeError:
        raise Refusal("not_found")
    if any("/" in s for s in segs):
        segs = [s.replace("/", "\0") for s in segs]
    methods, c.params = route("/".join(segs), c.version)
    if methods is None:
        raise Refusal("not_found")
    allow = sorted(set(methods) | ({"HEAD"} if "GET" in methods else set()) | {"OPTIONS"})
    if c.method == "OPTIONS":
        out.append(("Allow", ", ".join(allow)))
        return 204, None
    verb = "GET" if c.method == "HEAD" else c.method
    if verb not in methods:
        raise Refusal("not_allowed", headers=[("Allow", ", ".join(allow))] if FAULT != "no-allow-at-405" else [])
    if asked is not None and asked not in (OLD, NEW):
        if FAULT != "unknown-version-is-current":
            raise Refusal("no_version")
    if c.version == OLD and now_ms() >= SUNSET + (DAY if FAULT == "sunset-a-day-late" else 0):
        raise Refusal("old_version")
    op, fn = methods[verb]
    res = op.split()[1]
    # (4) who calls
    c.who = who_calls(c, op)
    # (5) rates
    out += count_rates(c.who, op)
    # (6) what this user may do at all
    rules = RULES[op]
    if c.who["user"] not in rules:
        raise Refusal("forbidden")
    need = rules[c.who["user"]]
    if need and need not in c.who["scopes"]:
        raise Refusal("scope_missing" if FAULT != "scope-code-lost" else "forbidden",
                      headers=[("WWW-Authenticate", 'Bearer realm="Silverwell darkroom", error="insufficient_scope"')])
    # (8) media type, size, body, parameters
    c.data = None
    if op in BODIED:
        kind = c.headers.get("content-type")
        if c.body or c.oversize:
            plain = (kind or "").split(";")[0].strip().lower()
            if plain != "application/json" and not (verb == "PATCH" and plain == "application/merge-patch+json"):
                if FAULT != "any-media-type":
                    raise Refusal("not_json")
        if c.oversize or len(c.body) > 16384:
            if FAULT != "large-body-is-400":
                raise Refusal("too_large")
            raise Refusal("unreadable")
        if not c.body:
            raise Refusal("unreadable")
        try:
            c.data = json.loads(c.body.decode("utf-8"), parse_constant=strict_constant)
        except (ValueError, RecursionError):
            raise Refusal("unreadable" if FAULT != "broken-json-is-422" else "unfit")
    elif c.oversize or len(c.body) > 16384:
        raise Refusal("too_large")
    c.args = read_query(op, res, c.version, parse_query(rawquery), c.who["user"])
    # (9) idempotency
    key = c.headers.get("idempotency-key") if op in KEYED else None
    slot = None
    if key:
        slot = (c.who["user"], c.who["id"], op, key)
        if FAULT == "key-of-all-callers":
            slot = (op, key)
        print_ = json.dumps([target, c.version, c.data], sort_keys=True)
        if FAULT == "key-ignores-the-path":
            print_ = json.dumps([c.version, c.data], sort_keys=True)
        kept = KEYS.get(slot)
        if kept and now_ms() >= kept[0] + (DAY if FAULT != "key-kept-an-hour" else HOUR):
            kept = None
        if kept:
            if kept[1] != print_ and FAULT != "another-body-is-replayed":
                raise Refusal("key_reused")
            out += kept[4]
            if isinstance(kept[3], Refusal):
                raise kept[3]
            return kept[2], kept[3]
    # (10) to (15)
    try:
        status, body, headers = fn(c, op, res)
    except Refusal as r:
        if slot and r.code in OWN:
            remember(slot, print_, None, Refusal(r.code), [])
        raise
    if slot:
        again = {k: v for k, v in body.items() if k != "secret" or FAULT == "replay-shows-secret"}
        remember(slot, print_, status, again, headers)
    out += headers
    fire_due()
    return status, body


def remember(slot, print_, status, body, headers):
    now = now_ms()
    KEYS[slot] = (now, print_, status, body, headers)
    set_timer(now + DAY, "forget key", slot, now)


# ---------------------------------------------------------------- HTTP
class Headers(dict):
    size = 0

    def get_all(self, name):
        v = dict.get(self, name)
        return v if v is not None else []

    def get(self, name, default=None):
        v = dict.get(self, name)
        return ", ".join(v) if v is not None else default


def respond(c, target):
    trace = "req_" + secrets.token_hex(8)
    out = []
    ctype = "application/json"
    try:
        status, body = handle(c, target, out)
    except Refusal as r:
        status, message = CODES[r.code]
        if FAULT == "invalid-is-400" and r.code == "missing_field":
            status = 400
        if FAULT == "taken-is-422" and r.code == "taken":
            status = 422
        if r.code == "slow_down":
            out = [h for h in out if not h[0].startswith("Darkroom-")]
        out += [h for h in r.headers if not (FAULT == "no-retry-after" and h[0] == "Retry-After")]
        body = {"type": "about:blank", "title": PHRASES[status], "status": status, "detail": message, "code": r.code, "request_id": trace}
        if r.violations:
            vs = r.violations
            if FAULT == "violations-first-only":
                vs = vs[:1]
            if FAULT == "old-violations-new-names":
                vs = [{**v, "path": v["path"].replace("/emulsion", "/film")} for v in vs]
            body["violations"] = vs
        if FAULT == "problem-without-request-id":
            del body["request_id"]
        ctype = "application/problem+json" if FAULT != "problem-as-json" else "application/json"
    except Exception as e:
        import traceback
        traceback.print_exc()
        status = 500
        body = {"type": "about:blank", "title": PHRASES[500], "status": 500, "detail": "Something failed.", "code": "failed", "request_id": trace}
        ctype = "application/problem+json"
    out.append(("X-Trace", trace))
    out.append(("Darkroom-Date", c.version))
    out.append(("Vary", "Darkroom-Date, Authorization, X-Desk-Pass"))
    if c.version == OLD:
        if FAULT != "no-deprecation":
            out.append(("Deprecation", "@%d" % DEPRECATED))
        out.append(("Sunset", "Fri, 01 Oct 2027 00:00:00 GMT"))
        out.append(("Link", '<%s>; rel="successor-version"' % (target if re.match(r"^/[!-;=?-~]*$", target) else "/")))
    return status, body, ctype, out


def encode(method, status, body, ctype, headers, close):
    raw = b"" if body is None else json.dumps(body, separators=(",", ":")).encode()
    lines = ["HTTP/1.1 %d %s" % (status, PHRASES.get(status, "Status"))]
    if status not in (204, 304):
        lines.append("Content-Type: " + ctype)
        lines.append("Content-Length: %d" % len(raw))
    lines += ["%s: %s" % h for h in headers]
    if close:
        lines.append("Connection: close")
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
    return head if method == "HEAD" or status in (204, 304) else head + raw


MOST = 4 * 1024 * 1024


async def read_body(reader, headers, writer):
    """(body, oversize, usable afterwards); the body is cut where it is too large."""
    te, cl = headers.get("transfer-encoding"), headers.get_all("content-length")
    if te is not None:
        if te.strip().lower() != "chunked" or cl:
            return None, False, False
        body, over = b"", False
        total = 0
        while True:
            size = (await reader.readuntil(b"\n")).split(b";")[0].strip()
            if not re.match(rb"^[0-9A-Fa-f]{1,8}\Z", size):
                return None, False, False
            n = int(size, 16)
            total += n
            if total > MOST:
                return body, True, False
            if n == 0:
                while (await reader.readuntil(b"\n")).strip():
                    pass
                return body, over, True
            data = await reader.readexactly(n)
            if total > 16384:
                over = True
            else:
                body += data
            await reader.readexactly(2)
    if not cl:
        return b"", False, True
    if len(set(cl)) > 1 or not re.match(r"^[0-9]{1,15}\Z", cl[0], re.A):
        return None, False, False
    n = int(cl[0])
    if n > MOST:
        return b"", True, False
    body = await reader.readexactly(n)
    return (body, False, True) if n <= 16384 else (b"", True, True)


def plain_refusal(code, writer):
    status, message = CODES[code]
    body = {"type": "about:blank", "title": PHRASES[status], "status": status, "detail": message, "code": code, "request_id": "req_" + secrets.token_hex(8)}
    writer.write(encode("GET", status, body, "application/problem+json", [("X-Trace", body["request_id"]), ("Darkroom-Date", NEW)], True))


async def serve(reader, writer):
    try:
        while True:
            try:
                first = await asyncio.wait_for(reader.readexactly(1), 60)
            except asyncio.TimeoutError:
                return
            try:
                head = first + await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            except asyncio.TimeoutError:
                plain_refusal("too_slow", writer)
                return
            except asyncio.LimitOverrunError:
                plain_refusal("headers_too_large", writer)
                await writer.drain()
                writer.write_eof()
                try:
                    for _ in range(200):
                        if not await asyncio.wait_for(reader.read(65536), 2):
                            break
                except asyncio.TimeoutError:
                    pass
                return
            lines = head.decode("latin-1").lstrip("\r\n").split("\r\n")
            m = re.match(r"^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) (\S+) HTTP/1\.([01])$", lines[0])
            headers, fine = Headers(), bool(m)
            for line in lines[1:]:
                if not line:
                    continue
                k, sep, v = line.partition(":")
                if not sep or not k or k != k.strip():
                    fine = False
                    break
                v = v.strip(" \t")
                headers.size += len(k) + len(v) + 4
                headers.setdefault(k.lower(), []).append(v)
            if not fine:
                plain_refusal("unreadable", writer)
                return
            target = m.group(2)
            if target.startswith("http://") or target.startswith("https://"):
                u = urlsplit(target)
                target = (u.path or "/") + ("?" + u.query if u.query else "")
            if (headers.get("expect") or "").lower() == "100-continue":
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            try:
                body, oversize, usable = await asyncio.wait_for(read_body(reader, headers, writer), 10) if "content-length" in headers or "transfer-encoding" in headers else (b"", False, True)
            except asyncio.TimeoutError:
                plain_refusal("too_slow", writer)
                return
            if body is None:
                plain_refusal("unreadable", writer)
                return
            c = Call()
            c.method, c.headers, c.body, c.oversize, c.version, c.who = m.group(1), headers, body, oversize, NEW, None
            status, answer, ctype, out = respond(c, target)
            connection = (headers.get("connection") or "").lower()
            close = not usable or "close" in connection or (m.group(3) == "0" and "keep-alive" not in connection)
            writer.write(encode(c.method, status, answer, ctype, out, close))
            await writer.drain()
            if close:
                return
    except (asyncio.IncompleteReadError, ConnectionError, asyncio.LimitOverrunError):
        pass
    finally:
        try:
            writer.close()
        except Exception:
            pass


# ---------------------------------------------------------------- the clock door
DUR = re.compile(r"^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?\Z", re.A)


def advanced(now, text):
    m = DUR.match(text)
    if not m:
        return None
    y, mo, w, d, h, mi = (int(x or 0) for x in m.groups()[:6])
    t = datetime(1970, 1, 1) + timedelta(milliseconds=now)
    months = t.year * 12 + t.month - 1 + y * 12 + mo
    year, month = months // 12, months % 12 + 1
    day = t.day
    while True:
        try:
            t = t.replace(year=year, month=month, day=day)
            break
        except ValueError:
            day -= 1
            if day < 1:
                return None
    base = (t - datetime(1970, 1, 1)) // timedelta(milliseconds=1)
    return base + w * 7 * DAY + d * DAY + h * HOUR + mi * MIN + int(float(m.group(7) or 0) * 1000 + 0.5)


def door(method, body):
    global offset
    if method == "GET":
        return 200
    if method != "POST":
        return 400
    try:
        said = json.loads(body.decode("utf-8"))
        if not isinstance(said, dict) or len(said) != 1:
            return 400
        now = int(time.time() * 1000)
        if isinstance(said.get("advance"), str):
            to = advanced(now + offset, said["advance"])
        elif isinstance(said.get("now"), str):
            to = read_datetime(said["now"])
            to = None if to is None else math.ceil(to)
        else:
            return 400
    except (ValueError, OverflowError, RecursionError):
        return 400
    if to is None:
        return 400
    if to < now + offset:
        return 422
    if to > 253370764800000:
        return 400
    offset = to - now
    fire_due()
    return 200


async def clock(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            headers = Headers()
            for line in lines[1:]:
                k, _, v = line.partition(":")
                if k:
                    headers.setdefault(k.lower(), []).append(v.strip())
            body, _, usable = await read_body(reader, headers, writer)
            status = door(lines[0].split(" ")[0], body or b"")
            if status == 200:
                for _ in range(5):
                    await asyncio.sleep(0.002)
            answer = {"now": iso(now_ms())} if status == 200 else {"error": "That is no time to go to." if status == 400 else "The clock goes forward alone."}
            writer.write(encode("GET", status, answer, "application/json", [], not usable))
            await writer.drain()
            if not usable or (headers.get("connection") or "").lower() == "close":
                return
    except (asyncio.IncompleteReadError, ConnectionError, asyncio.LimitOverrunError):
        pass
    finally:
        writer.close()


async def main():
    await asyncio.start_server(serve, "127.0.0.1", PORT, limit=65536, backlog=512)
    await asyncio.start_server(clock, "127.0.0.1", CLOCK_PORT, limit=65536)
    while True:
        await asyncio.sleep(0.05)
        try:
            fire_due()
        except Exception:
            import traceback
            traceback.print_exc()


if __name__ == "__main__":
    sys.setrecursionlimit(20000)
    asyncio.run(main())
