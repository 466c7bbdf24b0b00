"""Rescue Post: one process, everything in memory, one event loop. See service.yaml for what it promises."""
import asyncio, base64, bisect, calendar, hashlib, hmac, heapq, json, os, re, secrets, sys, time, traceback
from collections import OrderedDict, deque
from datetime import datetime, timedelta, timezone
from urllib.parse import unquote, unquote_plus, urlsplit
def option(name, default=None): return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default
PORT, CLOCK_PORT, FAULT = int(option("--port", "8080")), option("--clock-port"), option("--fault", "")
HERE = os.path.dirname(os.path.abspath(__file__))
TITLE = "Rescue Post"
def bug(name): return FAULT == name
# ---------------------------------------------------------------- the clock
class Clock:
    offset, last, held = 0, 0, None
    def now(self):                      # milliseconds; while things that fell due are done, the time at which they did
        return self.real() if self.held is None else self.held
    def real(self):
        self.last = max(self.last, int(time.time() * 1000) + self.offset)
        return self.last

CLOCK = Clock()
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
HOUR, DAY = 3600_000, 86400_000
def moment(ms): return EPOCH + timedelta(milliseconds=ms)
def iso(ms): return moment(ms).strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (ms % 1000)
INSTANT = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)\Z", re.A)
def instant(text):                      # an RFC 3339 date-time as milliseconds, or None
    m = INSTANT.match(text) if isinstance(text, str) else None
    if not m: return None
    y, mo, d, h, mi, s = (int(x) for x in m.groups()[:6]); zone = 0
    if m[8] not in "Zz":
        zh, zm = int(m[8][1:3]), int(m[8][4:6])
        if zh > 23 or zm > 59: return None
        zone = (zh * 60 + zm) * (-1 if m[8][0] == "-" else 1)
    try: base = calendar.timegm(datetime(y, mo, d, h, mi, min(s, 59)).timetuple()) + (1 if s == 60 else 0)
    except ValueError: return None
    if s > 60: return None
    whole = (base - zone * 60) * 1000; fraction = float("0" + m[7]) * 1000 if m[7] else 0
    return whole + (int(fraction) if fraction == int(fraction) else fraction)
def months_on(ms, months):
    t = moment(ms); y, m = divmod(t.year * 12 + t.month - 1 + months, 12)
    t = t.replace(year=y, month=m + 1, day=min(t.day, calendar.monthrange(y, m + 1)[1]))
    return int((t - EPOCH) / timedelta(milliseconds=1))
def http_date(ms): return moment(ms).strftime("%a, %d %b %Y %H:%M:%S GMT")
# ---------------------------------------------------------------- what there is
def text(lo=0, hi=None, pattern=None, **k): return dict(type="string", lo=lo, hi=hi, pattern=re.compile(pattern) if pattern else None, **k)
def whole(lo, hi=None, **k): return dict(type="integer", lo=lo, hi=hi, **k)
def one_of(*values, **k): return dict(type="string", enum=list(values), **k)
RO = dict(ro=True)
KINDS = ["fall", "lost", "avalanche", "illness", "animal"]
OUTCOMES = ["rescued", "recovered", "false_alarm"]
STATES = {
    "callout": ["raised", "alerted", "active", "closed", "stood_down"],
    "turnout": ["going", "on_scene", "released", "missed"],
    "gear": ["ready", "lent", "quarantined", "retired"],
    "loan": ["out", "overdue", "returned"],
    "course": ["planned", "running", "held"],
    "report": ["draft", "submitted", "approved"],
}
PLACE = dict(type="map", fields={"name": text(2, 60), "grid": text(pattern=r"[A-Z]{2}[0-9]{6}\Z")}, required=["name", "grid"])
INJURY = dict(type="map", fields={"part": one_of("head", "chest", "spine", "arm", "leg"), "grade": whole(0, 6)}, required=["part", "grade"])
TAG = re.compile(r"[A-Z]{2}-[0-9]{3,6}\Z", re.A)
def state(res): return one_of(*STATES[res], ro=True)
FIELDS = {
    "callout": {
        "id": RO, "number": RO, "post": RO, "kind": one_of(*KINDS, req=True), "severity": whole(1, 5, req=True, default=3),
        "place": dict(PLACE, req=True), "summary": text(5, 200, req=True), "casualty": text(0, 80, see=("dispatcher", "leader")),
        "team": text(pattern=r"[A-Z]{3,6}\Z"), "state": state("callout"), "raised_at": RO, "outcome": one_of(*OUTCOMES, ro=True), "responders": RO},
    "turnout": {"id": RO, "callout": text(req=True, immutable=True), "volunteer": RO, "eta_min": whole(0, 240, req=True), "state": state("turnout")},
    "gear": {
        "tag": text(req=True, immutable=True), "post": RO, "kind": one_of("rope", "harness", "stretcher", "radio", "beacon", req=True, immutable=True),
        "weight": whole(1, 60000, req=True), "cost": whole(0, None, see=("storekeeper",)), "inspect_by": dict(RO, type="time"), "state": state("gear")},
    "loan": {"id": RO, "gear": text(req=True, immutable=True), "borrower": RO, "days": whole(1, 30, req=True, default=7), "due_at": RO, "state": state("loan")},
    "course": {"id": RO, "title": text(3, 80, req=True), "starts_at": dict(type="time", req=True), "seats": whole(1, 40, req=True), "roll": RO, "state": state("course")},
    "report": {
        "id": RO, "post": RO, "callout": text(req=True, immutable=True), "author": RO, "text": text(10, 2000, req=True),
        "injuries": dict(type="list", items=INJURY, hi=8, req=True, default=[]), "state": state("report")},
    "hook": {"id": RO, "owner": RO, "url": dict(type="uri", hi=300, req=True), "secret": RO, "events": dict(type="list", items=text(), hi=10)},
    "entry": {"id": RO, "type": RO, "post": RO, "at": dict(RO, type="time")},
}
EVENT_KINDS = ["callout.raised", "callout.regraded", "callout.over", "gear.locked", "report.approved"]
PREFIX = {"callout": "cal_", "turnout": "trn_", "loan": "loa_", "course": "crs_", "report": "rep_", "hook": "hok_"}
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
def ulid():
    n = (CLOCK.now() << 80) | secrets.randbits(80)
    return "".join(CROCKFORD[(n >> s) & 31] for s in range(125, -1, -5))

# ---------------------------------------------------------------- versions: the newest shape is the stored one
VERSIONS = ["2025-04-01", "2025-11-01", "2026-06-01"]
NEWEST = 2
SUNSET_OF_OLDEST = instant("2028-03-01T00:00:00Z")
def name_in(res, field, v):             # a field's name in a version; None where it is not there yet
    if res == "callout" and v == 0: return None if field == "team" else "urgency" if field == "severity" else field
    return field
def spec_in(res, field, v):
    spec = FIELDS[res][field]
    if v < 2 and res == "callout" and field == "kind": return dict(spec, enum=["slide" if x == "avalanche" else x for x in KINDS])
    if v < 2 and res == "gear" and field == "weight": return dict(spec, type="number", lo=0.001, hi=60)
    return spec

SHAPES = {(res, v): {name_in(res, f, v): (f, spec_in(res, f, v)) for f in FIELDS[res] if name_in(res, f, v)}
          for res in FIELDS for v in range(3)}
def up(res, field, value, v):
    if v < 2 and res == "callout" and field == "kind" and value == "slide": return "avalanche"
    if v < 2 and res == "gear" and field == "weight": return int(value * 1000.0 + 0.5)
    return value
def down(res, field, value, v):
    if v < 2 and res == "callout" and field == "kind" and value == "avalanche": return "slide"
    if v < 2 and res == "gear" and field == "weight": return value / 1000.0
    return value

# ---------------------------------------------------------------- refusals
CODES = {
    "unreadable": (400, "The request cannot be read."), "wrong_media": (415, "Send application/json."),
    "incomplete": (422, "Something is missing."), "invalid": (422, "Something does not fit."),
    "unknown_caller": (401, "Show a credential that is good here."), "forbidden": (403, "That is not yours to do."),
    "not_found": (404, "There is no such thing."), "gone": (410, "It was here and is gone."),
    "no_such_thing": (422, "It refers to something that is not there."), "method": (405, "Not by this method."),
    "conflict": (409, "It is in the way of something else."), "wrong_state": (409, "Its state does not allow that."),
    "too_late": (409, "The team is out already or it is over."), "no_team": (409, "Name a team first."),
    "own_report": (403, "Nobody signs a report of their own."), "not_ready": (409, "That piece is not ready to be lent."),
    "full": (409, "No seat is left."), "past": (422, "A course begins later than now."), "stale": (412, "It has changed since."),
    "tag_needed": (428, "Say in If-Match which state of it you mean."), "too_many": (429, "Too many; later."),
    "too_large": (413, "Too large."), "failed": (500, "Something failed here."),
}
OWN = {"too_late", "no_team", "full", "past"}           # kept under an idempotency key

class Refuse(Exception):
    request_id = None
    def __init__(self, code, wrong=None, **headers): self.code, self.wrong, self.headers = code, wrong, {k.replace("_", "-"): v for k, v in headers.items()}
def pack(value): return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
def refusal(code, wrong, request_id):
    status, says = CODES[code]
    if bug("own-report-status") and code == "own_report": status = 409
    body = {"refused": code, "status": status, "says": says}
    if wrong or bug("empty-wrong"): body["wrong"] = wrong or []
    body["request"] = request_id
    return status, pack(body)
def at(where, path, found, expected, missing=False): return {"in": where, "path": path, "found": found, "expected": expected}, missing
def refuse_body(found):                 # the first that was sent names the code
    raise Refuse("incomplete" if found[0][1] else "invalid", [v for v, _ in found])
def seen(value): return "nothing" if value is None else json.dumps(value, ensure_ascii=False)[:60]
def whole_number(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)): return None
    return value if isinstance(value, int) else int(value) if value == value and abs(value) != float("inf") and value == int(value) else None

URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+\Z")
def fit(spec, value, path, out):
    """Holds a value to its shape: what is wrong goes to `out`; what is kept is returned."""
    def no(expected):
        out.append(at("body", path, seen(value), expected))
        return None
    kind = spec["type"]
    if kind in ("integer", "number"):
        n = whole_number(value) if kind == "integer" else value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
        if n is None or n != n or n in (float("inf"), float("-inf")): return no("a whole number" if kind == "integer" else "a number")
        if n < spec["lo"]: return no("at least %s" % spec["lo"])
        return n if spec["hi"] is None or n <= spec["hi"] else no("at most %s" % spec["hi"])
    if kind == "map":
        if not isinstance(value, dict): return no("a map")
        for k, v in value.items():
            if k not in spec["fields"]: out.append(at("body", path + "/" + k, seen(v), "no such field"))
            else: fit(spec["fields"][k], v, path + "/" + k, out)
        for k in spec["required"]:
            if k not in value: out.append(at("body", path + "/" + k, "nothing", "a value", True))
        return {k: value[k] if "lo" not in spec["fields"][k] or spec["fields"][k]["type"] != "integer" else whole_number(value[k]) for k in spec["fields"] if k in value}
    if kind == "list":
        if not isinstance(value, list): return no("a list")
        if len(value) > spec["hi"]: return no("at most %d items" % spec["hi"])
        return [fit(spec["items"], v, "%s/%d" % (path, i), out) for i, v in enumerate(value)]
    if not isinstance(value, str): return no("a text")
    if kind == "time": return value if instant(value) is not None else no("a date-time")
    if kind == "uri":
        if len(value) > spec["hi"] or not URI.match(value): return no("an address of at most 300 characters")
        try:
            parts = urlsplit(value)
            good = parts.scheme.lower() in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError: good = False
        return value if good else no("an address by http or https")
    if "enum" in spec: return value if value in spec["enum"] else no("one of " + ", ".join(spec["enum"]))
    if len(value) < spec["lo"] or spec["hi"] is not None and len(value) > spec["hi"]: return no("%s to %s characters" % (spec["lo"], spec["hi"]))
    return value if not spec["pattern"] or spec["pattern"].match(value) else no("a text of its form")

def take(res, v, body, bound=None, row=None, patch=False):
    """What a body comes to, in the newest shape. `row` = what is there; returns the fields to be stored."""
    if not isinstance(body, dict): refuse_body([at("body", "", seen(body), "a map")])
    shape, sent, missing, kept = SHAPES[res, v], [], [], {}
    for name, value in body.items():
        field, spec = shape.get(name, (None, None)); path = "/" + name.replace("~", "~0").replace("/", "~1")
        if field is None:
            if not (bug("report-unknown-field") and res == "report" and patch): sent.append(at("body", path, seen(value), "no such field"))
        elif spec.get("ro"): continue
        elif bound and field in bound:
            if value != bound[field]: sent.append(at("body", path, seen(value), "what the path says"))
        elif row is not None and spec.get("immutable"):
            if value != row.get(field): sent.append(at("body", path, seen(value), "what it is"))
        elif value is None:
            if spec.get("req") or not patch: sent.append(at("body", path, "nothing", "a value"))
            else: kept[field] = None
        else:
            old = row.get(field) if row is not None else None
            if patch and spec["type"] == "map" and isinstance(value, dict) and isinstance(old, dict) and not bug("place-not-merged"):
                nulls = [k for k in value if value[k] is None and k in spec["fields"]]
                for k in nulls: sent.append(at("body", path + "/" + k, "nothing", "a value"))
                value = {**old, **{k: x for k, x in value.items() if k not in nulls}}
            if bug("severity-six") and field == "severity" and patch: spec = dict(spec, hi=6)
            mark = len(sent); fitted = fit(spec, value, path, sent)
            if res == "hook" and field == "events" and len(sent) == mark:
                for i, k in enumerate(fitted):
                    if not (k == "*" or k in EVENT_KINDS or k.endswith(".*") and any(e.startswith(k[:-1]) for e in EVENT_KINDS)):
                        sent.append(at("body", "%s/%d" % (path, i), seen(k), "a kind of event"))
            if len(sent) == mark: kept[field] = up(res, field, fitted, v)
    for name, (field, spec) in shape.items():
        if name in body or spec.get("ro") or (bound and field in bound) or patch: continue
        if row is not None and spec.get("immutable"): continue
        if "default" in spec: kept[field] = spec["default"]
        elif spec.get("req") and not (bug("eta-optional") and field == "eta_min"): missing.append(at("body", "/" + name, "nothing", "a value", True))
    if res == "callout":
        kind, grade = (kept.get(f, row.get(f) if row is not None else None) for f in ("kind", "severity"))
        bad = {x["path"] for x, _ in sent}; own = name_in("callout", "severity", v)
        if kind == "avalanche" and grade is not None and grade < 3 and not bad & {"/kind", "/" + own}:
            sent.append(at("body", "/" + own, str(grade), "an avalanche of 3 or more"))
    if sent or missing: refuse_body(sent + missing)
    return kept

# ---------------------------------------------------------------- callers
class Caller:
    def __init__(self, c):
        self.user, self.id, self.scopes = c["user"], c["id"], set(c.get("scopes") or [])
        self.post, self.team = c.get("attributes", {}).get("post"), c.get("attributes", {}).get("team")
        self.key = self.user + " " + self.id

PEOPLE, BY_KEY, BY_LOGIN = {}, {}, {}
for each in json.load(open(os.path.join(HERE, "stranger.json")))["callers"]:
    who = PEOPLE.setdefault((each["user"], each["id"]), Caller(each))
    who.scopes |= set(each.get("scopes") or [])
    (BY_KEY if each["scheme"] == "key" else BY_LOGIN)[each["credential"]] = who
def known(headers, accept):
    """The caller that the credentials show, or None where none was shown."""
    found, shown = [], False
    if "key" in accept and "x-post-key" in headers:
        shown, values = True, headers["x-post-key"]
        found.append(BY_KEY.get(values[0]) if len(values) == 1 else None)
    if "authorization" in headers:
        values, good = headers["authorization"], None; shown = True
        scheme, _, rest = values[0].partition(" ")
        if len(values) == 1 and scheme.lower() == "basic":
            try:
                pair = base64.b64decode(rest.strip(), validate=True).decode(); good = BY_LOGIN.get(pair)
                if good is None and bug("login-prefix"): good = next((c for k, c in BY_LOGIN.items() if pair.startswith(k)), None)
            except ValueError: pass
        found.append(good)
    if not shown: return None
    if None in found or len({id(c) for c in found}) > 1 or found[0].post is None or found[0].team is None: raise Refuse("unknown_caller", bad=True)
    return found[0]
def challenges(accept, bad):
    out = []
    if "key" in accept: out.append('ApiKey realm="%s", in="header", name="X-Post-Key"%s' % (TITLE, ', error="invalid_key"' if bad else ""))
    return out + ['Basic realm="%s", charset="UTF-8"' % TITLE]

# ---------------------------------------------------------------- rows and their indices
class Row(dict):
    __slots__ = ("res", "key", "seq", "since", "due", "spots", "maker", "version", "off")

ROWS = {res: {} for res in FIELDS}
GONE = {}                               # deleted reports: id -> (row, until)
UNIQUE, OF_CALLOUT, LOANS_OF, HELD, HOOKS_OF = set(), {}, {}, {}, {}
LISTS, BY_SEQ, TIMERS = {}, {}, []      # TIMERS: (due, n, what, key)
COUNT = {"seq": 0, "number": 0, "timer": 0}
def post_of(row):
    if row.res == "turnout": return ROWS["callout"][row["callout"]]["post"]
    return ROWS["gear"][row["gear"]]["post"] if row.res == "loan" else row["post"]
def places(row):                        # where a row stands in which list: (list, (key, tie))
    res, n = row.res, row.seq
    if res == "callout": return [(("callout", row["post"]), (-instant(row["raised_at"]), -n))]
    if res == "entry": return [(("entry", row["post"]), (0, -n))]
    if res == "turnout": return [(("turnout", row["callout"]), (row.get("eta_min", 0), n))]
    if res == "gear": return [(("gear", row["post"]), (row["tag"], n))]
    if res == "loan":
        key = (-instant(row["due_at"]), n)
        return [(("loan", "post", post_of(row)), key), (("loan", "by", row["borrower"]), key)]
    return [(("course",), (instant(row["starts_at"]), n))] if res == "course" else []
def file(row):
    new = places(row)
    if new != row.spots:
        unfile(row)
        for name, spot in new: bisect.insort(LISTS.setdefault(name, []), spot)
        row.spots = new
def unfile(row):
    for name, spot in row.spots:
        where = LISTS[name]
        del where[bisect.bisect_left(where, spot)]
    row.spots = []
def unique_of(row): return (row.res, row["callout"], row["volunteer"] if row.res == "turnout" else row["author"]) if row.res in ("turnout", "report") else None
def put(res, key, fields, now):
    COUNT["seq"] += 1
    row = Row((f, fields[f]) for f in FIELDS[res] if fields.get(f) is not None)
    row.res, row.key, row.seq, row.since, row.due, row.spots, row.off = res, key, COUNT["seq"], now, None, [], False
    ROWS[res][key] = BY_SEQ[row.seq] = row
    if unique_of(row): UNIQUE.add(unique_of(row))
    if res == "turnout": OF_CALLOUT.setdefault(row["callout"], []).append(row)
    file(row)
    arm(row)
    return row
def drop(row):
    unfile(row)
    del ROWS[row.res][row.key], BY_SEQ[row.seq]
    row.due = None
    UNIQUE.discard(unique_of(row))
def timed(row):                         # the timed transition that the row waits for: (when, name)
    res, s = row.res, row.get("state")
    if res == "callout" and s == "raised": return row.since + (24 if bug("lapse-24h") else 12) * HOUR, "lapse"
    if res == "turnout" and s == "going": return row.since + 6 * HOUR, "miss"
    if res == "gear" and s == "ready": return instant(row["inspect_by"]) + (DAY if bug("lock-day-late") else 0), "lock"
    if res == "loan" and s == "out": return instant(row["due_at"]), "remind"
    if res == "course" and s == "planned": return instant(row["starts_at"]), "begin"
    if res == "course" and s == "running": return row.since + (1 if bug("course-one-day") else 2) * DAY, "finish"
    return None
def later(due, what, key):
    COUNT["timer"] += 1
    heapq.heappush(TIMERS, (due, COUNT["timer"], what, key))
def arm(row):
    t = timed(row); due = t[0] if t else None
    if due != row.due:
        row.due = due
        if due is not None: later(due, "row", (row.res, row.key))
def run_due():
    """Does what fell due until now, in its order, each at its time."""
    upto = CLOCK.now()
    while TIMERS and TIMERS[0][0] <= upto:
        due, _, what, key = heapq.heappop(TIMERS)
        CLOCK.held = int(due) if due == int(due) else int(due) + 1
        try:
            if what == "row":
                row = ROWS[key[0]].get(key[1])
                if row is not None and row.due == due:
                    move(row, timed(row)[1], None, {})
            elif what == "entry": drop(ROWS["entry"][key])
            elif what == "try": key.attempt()
            elif what == "gone" and GONE.get(key, (0, 0))[1] <= CLOCK.held: GONE.pop(key, None)
        finally: CLOCK.held = None
def responders(callout_id):
    rows = OF_CALLOUT.get(callout_id, ())
    if bug("responders-all"): return len(rows)
    return sum(1 for t in rows if t["state"] in ("going", "on_scene"))

def show(row, caller, v, secret=False):
    """A row as this caller reads it in this version."""
    res, out, user = row.res, {}, caller.user if caller else None
    for name, (field, spec) in SHAPES[res, v].items():
        if field == "responders": out[name] = responders(row.key)
        if field not in row or field == "secret" and not secret: continue
        if "see" in spec and user not in spec["see"] and not (bug("cost-to-leader") and field == "cost" and user == "leader"): continue
        if res == "course" and user not in ("leader", "volunteer") and field not in ("id", "title", "starts_at", "state"): continue
        out[name] = down(res, field, row[field], v)
    if res == "loan" and bug("due-without-zone"): out["due_at"] = out["due_at"][:-1]
    return out

# ---------------------------------------------------------------- who may do what
ALLOWED = {
    "create callout": "dispatcher", "read callout": "dispatcher leader volunteer", "list callout": "dispatcher leader volunteer",
    "update callout": "dispatcher", "alert callout": "dispatcher", "stand_down callout": "dispatcher", "deploy callout": "leader", "close callout": "leader",
    "create turnout": "volunteer", "list turnout": "dispatcher leader volunteer", "arrive turnout": "volunteer",
    "upsert gear": "storekeeper", "read gear": "storekeeper leader volunteer", "list gear": "storekeeper leader volunteer",
    "inspect gear": "storekeeper", "retire gear": "storekeeper", "delete gear": "storekeeper",
    "create loan": "leader volunteer", "list loan": "leader volunteer storekeeper", "extend loan": "leader volunteer", "give_back loan": "storekeeper",
    "create course": "leader", "list course": "dispatcher leader storekeeper volunteer", "enrol course": "volunteer",
    "create report": "leader volunteer", "read report": "leader volunteer", "update report": "leader volunteer", "delete report": "leader volunteer",
    "submit report": "leader volunteer", "approve report": "leader",
    "create hook": "dispatcher leader storekeeper", "read hook": "dispatcher leader storekeeper", "delete hook": "dispatcher leader storekeeper",
    "list entry": "dispatcher leader",
}
ALLOWED = {op: set(users.split()) for op, users in ALLOWED.items()}
SCOPES = {"enrol course": "train", "approve report": "sign"}
def may_read(c, row):
    res = row.res
    if res == "callout":
        if c.user == "volunteer": return row["post"] == c.post and row["state"] in ("alerted", "active")
        return c.user in ("dispatcher", "leader") and row["post"] == c.post
    if res == "turnout": return row["volunteer"] == c.id if c.user == "volunteer" else c.user in ("dispatcher", "leader") and post_of(row) == c.post
    if res == "gear": return c.user != "dispatcher" and row["post"] == c.post and (c.user == "storekeeper" or row["state"] != "retired")
    if res == "loan": return post_of(row) == c.post if c.user == "storekeeper" else c.user != "dispatcher" and row["borrower"] == c.id
    if res == "report":
        return c.user in ("leader", "volunteer") and row["author"] == c.id or c.user == "leader" and row["post"] == c.post and row["state"] != "draft"
    if res == "hook": return c.user != "volunteer" and row["owner"] == c.id
    return res == "course" or c.user in ("dispatcher", "leader") and row["post"] == c.post
def may_act(c, op, row):
    if op in ("deploy callout", "close callout"):
        return row["post"] == c.post and ("team" in row and row["team"] == c.team or bug("deploy-any-team") and op == "deploy callout")
    if op in ("update report", "delete report", "submit report"): return row["author"] == c.id
    if op == "approve report":
        if row["post"] == c.post and row["author"] == c.id and not bug("approve-own"): raise Refuse("own_report")
        return row["post"] == c.post
    return True                         # the others hold for whoever reads the row, if its user has a rule at all

def find(c, op, res, key):
    """The row that a path names, for whoever may do this to it."""
    row = ROWS[res].get(key)
    if row is None:
        if res == "report" and key in GONE and may_read(c, GONE[key][0]) and not bug("gone-is-missing"): raise Refuse("gone")
        raise Refuse("not_found")
    if not may_read(c, row) and not (bug("volunteer-reads-closed") and op == "read callout" and row["post"] == c.post and row["state"] == "closed"):
        raise Refuse("not_found")
    if not may_act(c, op, row): raise Refuse("forbidden")
    return row

# ---------------------------------------------------------------- events, their log and their deliveries
FLYING = set()

class Delivery:
    """What one subscriber is still to be told of one row: in order, each tried again."""
    WAITS = [10_000, 120_000, 900_000]
    def __init__(self, hook, about): self.hook, self.about, self.queue, self.tries, self.due = hook, about, deque(), 0, None
    def attempt(self):
        self.due = None
        if ROWS["hook"].get(self.hook.key) is not self.hook or self.hook.off or not self.queue: return self.stop()
        task = asyncio.ensure_future(self.send(*self.queue[0], CLOCK.real()))
        FLYING.add(task); task.add_done_callback(FLYING.discard)
    def stop(self): HOOKS_OF.pop((self.hook.key, self.about), None)
    async def send(self, kind, event_id, body, now):
        status, wait = 0, 0
        try: status, wait = await asyncio.wait_for(self.post(kind, event_id, body, now), 5)
        except Exception: pass
        if 200 <= status < 300 or self.tries >= len(self.WAITS):
            self.queue.popleft(); self.tries = 0
            return self.attempt() if self.queue else self.stop()
        self.hook.off = status == 410
        if self.hook.off: return self.stop()
        pause = max(self.WAITS[self.tries], wait); self.tries += 1
        later(CLOCK.now() + pause, "try", self)
    async def post(self, kind, event_id, body, now):
        to = urlsplit(self.hook["url"]); tls = to.scheme.lower() == "https"
        reader, writer = await asyncio.open_connection(to.hostname, to.port or (443 if tls else 80), ssl=tls or None)
        try:
            stamp = str(now // 1000); key = base64.b64decode(self.hook["secret"][6:])
            signed = (event_id + "." + stamp + ".").encode() + body
            if bug("signature-no-id"): signed = (stamp + ".").encode() + body
            mac = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
            head = ["POST %s HTTP/1.1" % ((to.path or "/") + ("?" + to.query if to.query else "")), "Host: " + to.netloc.rpartition("@")[2],
                    "Content-Type: application/json", "Content-Length: %d" % len(body), "webhook-id: " + event_id, "webhook-timestamp: " + stamp,
                    "webhook-signature: v1," + mac, "X-Post-Event: " + kind, "Connection: close", "", ""]
            writer.write("\r\n".join(head).encode() + body)
            await writer.drain()
            lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            wait = next((l.split(":", 1)[1].strip() for l in lines if l.lower().startswith("retry-after:")), "0")
            return int(lines[0].split()[1]), min(int(wait), 86400) * 1000 if wait.isdigit() else 0
        finally: writer.close()
def emit(kind, row, data=None):
    now = CLOCK.now(); event_id = "evt_" + "".join(LETTERS[b % 62] for b in secrets.token_bytes(24))
    put("entry", event_id, {"id": event_id, "type": kind, "post": row["post"], "at": iso(now)}, now)
    later(now + 30 * DAY, "entry", event_id)
    for hook in list(ROWS["hook"].values()):
        wanted = hook.get("events")
        if hook.off or not may_read(hook.maker, row): continue
        if wanted is not None and not any(w in ("*", kind) or w.endswith(".*") and kind.startswith(w[:-1]) for w in wanted): continue
        about = data or show(row, hook.maker, NEWEST if bug("hook-newest") else hook.version)
        line = HOOKS_OF.get((hook.key, row.key))
        body = pack({"id": event_id, "kind": kind, "at": iso(now), "about": about})
        if line is None:
            line = HOOKS_OF[hook.key, row.key] = Delivery(hook, row.key)
            line.queue.append((kind, event_id, body))
            line.attempt()
        else: line.queue.append((kind, event_id, body))

# ---------------------------------------------------------------- the states
PATHS = {
    "alert": (("raised",), "alerted"), "deploy": (("alerted",), "active"), "close": (("active",), "closed"),
    "stand_down": (("raised", "alerted"), "stood_down"), "lapse": (("raised",), "stood_down"),
    "arrive": (("going",), "on_scene"), "miss": (("going",), "missed"), "release": (("going", "on_scene"), "released"),
    "lend": (("ready",), "lent"), "take_back": (("lent",), None), "inspect": (("ready", "quarantined"), "ready"),
    "lock": (("ready",), "quarantined"), "retire": (("ready", "quarantined"), "retired"),
    "extend": (("out",), "out"), "remind": (("out",), "overdue"), "give_back": (("out", "overdue"), "returned"),
    "enrol": (("planned",), "planned"), "begin": (("planned",), "running"), "finish": (("running",), "held"),
    "submit": (("draft",), "submitted"), "approve": (("submitted",), "approved"),
}
ELSE = {"stand_down": "too_late"}
def guard(row, name, caller):
    if row["state"] not in PATHS[name][0] and not (bug("extend-overdue") and name == "extend" and row["state"] == "overdue"):
        raise Refuse(ELSE.get(name, "wrong_state"))
    if name == "alert" and "team" not in row: raise Refuse("no_team")
    callout = ROWS["callout"].get(row.get("callout"))
    if name == "deploy" and responders(row.key) < 1 or name == "arrive" and callout["state"] != "active" \
            or name == "submit" and callout["state"] != "closed" \
            or name == "enrol" and caller.id in row["roll"]:
        raise Refuse("wrong_state")
    if name == "enrol" and len(row["roll"]) >= row["seats"]: raise Refuse("full")
def move(row, name, caller, request):
    """One transition with what it sets and what follows from it."""
    now, res = CLOCK.now(), row.res; target = PATHS[name][1]
    if name == "take_back": target = "quarantined" if instant(row["inspect_by"]) <= now else "ready"
    if res == "loan" and target == "returned": HELD[row["borrower"]] -= 0 if bug("overdue-not-counted") and row["state"] == "overdue" else 1
    elif res == "loan" and target == "overdue" and bug("overdue-not-counted"): HELD[row["borrower"]] -= 1
    row["state"], row.since, row.due = target, now, None
    if name == "close": row["outcome"] = request["outcome"]
    elif name == "inspect": row["inspect_by"] = iso(months_on(now, 6))
    elif name == "extend": row["due_at"] = iso(int(instant(row["due_at"])) + request["days"] * DAY)
    elif name == "enrol": row["roll"] = row["roll"] + [caller.id]
    if name in ("close", "stand_down"):
        for t in list(OF_CALLOUT.get(row.key, ())):
            if t["state"] in (("going",) if bug("on-scene-stays") else PATHS["release"][0]): move(t, "release", None, {})
    elif name == "give_back": move(ROWS["gear"][row["gear"]], "take_back", None, {})
    file(row)
    arm(row)
    if name in ("close", "stand_down") or name == "lapse" and not bug("lapse-silent"): emit("callout.over", row)
    elif name in ("lock", "take_back") and target == "quarantined": emit("gear.locked", row)
    elif name == "approve": emit("report.approved", row)

# ---------------------------------------------------------------- rates and keys
WINDOWS, REPORTS, QUOTA, KEYS = {}, {}, {}, OrderedDict()
def rate(caller, address, op, now):
    """Counts a request in all rates that apply; returns [limit, left, reset in s] of the strictest, and what gives it back."""
    who = caller.key if caller else address; w = WINDOWS.get(who)
    if w is None or now >= w[0] + 60_000: w = WINDOWS[who] = [now, 0]
    rates = [[3000, 3000 - w[1], w[0] + 60_000 - now]]; log = None
    if op == "create report":
        log = REPORTS.setdefault(caller.key if bug("rate-per-caller") else caller.post, deque())
        while log and log[0] + 600_000 <= now: log.popleft()
        rates.append([40, 40 - len(log), (log[0] if log else now) + 600_000 - now])
    refused = [r[2] for r in rates if r[1] <= 0]
    if not refused:
        w[1] += 1
        if log is not None: log.append(now)
        for r in rates: r[1] -= 1
    limit, left, reset = min(rates, key=lambda r: r[1])
    told = {"X-Rate-Limit": str(limit), "X-Rate-Left": str(left), "X-Rate-Reset": str(-(-reset // 1000))}
    return told, w, -(-max(refused) // 1000) if refused else None

# ---------------------------------------------------------------- lists
class Param:
    """A query parameter that filters: how it is read, and whether a row is kept."""
    def __init__(self, field=None, op="=", split=False, read=None, keep=None): self.field, self.op, self.split, self.read, self.keep = field, op, split, read, keep
def search_words(value, v):
    if len(value) > 60 or len(value.split()) > 16: raise ValueError
    return [w.lower() for w in value.split()]
def boolean(value, v):
    if value not in ("true", "false"): raise ValueError
    return value == "true"
def gear_kind_keeps(value, row, c):
    piece = ROWS["gear"][row["gear"]]
    return piece["kind"] == value and may_read(c, piece)

LISTED = {
    "callout": {"state": Param("state", split=True), "severity": Param("severity"), "kind": Param("kind"), "min_severity": Param("severity", ">="),
                "q": Param(read=search_words, keep=lambda ws, r, c: all(w in r["summary"].lower() or w in r["number"].lower() for w in ws))},
    "turnout": {"state": Param("state")},
    "gear": {"kind": Param("kind", split=True), "state": Param("state"), "due_before": Param("inspect_by", "<"),
             "heavy": Param(read=boolean, keep=lambda on, r, c: (r["weight"] >= 5000) == on)},
    "loan": {"state": Param("state"), "gear": Param("gear"),
             "gear_kind": Param(read=lambda t, v: FIELDS["gear"]["kind"]["enum"][FIELDS["gear"]["kind"]["enum"].index(t)], keep=gear_kind_keeps)},
    "course": {"state": Param("state")},
    "entry": {"type": Param("type"), "since": Param("at", ">=")},
}
def read_filter(res, p, value, v):
    spec = SHAPES[res, v][name_in(res, p.field, v)][1]
    if spec.get("type") == "time":
        t = instant(value)
        if t is None: raise ValueError
        return t
    if spec.get("type") == "integer":
        if not re.fullmatch(r"-?(0|[1-9][0-9]*)", value, re.A) or not spec["lo"] <= int(value) <= spec["hi"]: raise ValueError
        return int(value)
    if "enum" in spec and value not in spec["enum"]: raise ValueError
    return up(res, p.field, value, v)

def read_list(res, query, v):
    """The parameters of a list: the filters, its order, size and place."""
    known_names = {}
    for name, p in LISTED[res].items():
        own = name_in(res, name, v) if p.field == name and not bug("old-filter-name") else name
        if own: known_names[own] = p
    filters, sort, size, cursor = [], None, 25, None
    for name, value in query:
        try:
            if name == "count":
                if not re.fullmatch(r"[0-9]{1,9}", value, re.A) or not 1 <= int(value) <= (10**9 if bug("page-clamped") and res == "entry" else 100):
                    raise ValueError
                size = min(int(value), 100)
            elif name == "from": cursor = value
            elif name == "sort" and res == "callout":
                grade = name_in("callout", "severity", v)
                sort = {"raised_at": "raised_at", "-raised_at": None, grade: "severity", "-" + grade: "-severity"}[value]
            else:
                p = known_names[name]
                if p.read: got = p.read(value, v)
                elif p.split:
                    parts = value.split(",")
                    if len(parts) > 100: raise ValueError
                    got = {read_filter(res, p, x, v) for x in parts}
                else: got = read_filter(res, p, value, v)
                filters.append((name, p, got))
        except (ValueError, KeyError): raise Refuse("unreadable", [at("query", name, seen(value), "what this list takes")[0]])
    return filters, sort, size, cursor
def kept(row, p, value, c):
    if p.keep: return p.keep(value, row, c)
    if p.split: return row.get(p.field) in value
    mine = row.get(p.field)
    if mine is None: return False
    if p.op == "=": return mine == value
    if FIELDS[row.res][p.field].get("type") == "time": mine = instant(mine)
    if p.op == "<": return mine < value
    return mine > value if bug("min-severity-above") and p.field == "severity" else mine >= value

SEAL = secrets.token_bytes(16)
SORTS = {"raised_at": lambda r: instant(r["raised_at"]), "severity": lambda r: r["severity"], "-severity": lambda r: -r["severity"]}
def seal(value):
    raw = pack(value)
    return base64.urlsafe_b64encode(hmac.new(SEAL, raw, hashlib.sha256).digest()[:9] + raw).decode().rstrip("=")
def unseal(value):
    try:
        raw = base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)); got = json.loads(raw[9:])
        return got if seal(got) == value else None
    except (ValueError, TypeError): return None
def answer_list(res, c, v, asked, params):
    filters, sort, size, cursor = asked
    if res == "loan": name = ("loan", "post", c.post) if c.user == "storekeeper" else ("loan", "by", c.id)
    else: name = {"turnout": (res, params.get("callout")), "course": (res,)}.get(res) or (res, c.post)
    reads = [c.user, c.id if res == "turnout" and c.user == "volunteer" or res == "loan" and c.user != "storekeeper" else c.post] if c else None
    if res == "course": reads = None
    bound = hashlib.sha256(repr((name, reads, v, sort, sorted((n, sorted(g) if isinstance(g, set) else g) for n, _, g in filters))).encode()).hexdigest()[:16]
    after = None
    if cursor is not None:
        place = unseal(cursor)
        if not place or place[0] != bound: raise Refuse("unreadable", [at("query", "from", seen(cursor), "a cursor of this list")[0]])
        after = tuple(place[1:])
    good = lambda row: all(kept(row, p, g, c) for _, p, g in filters) and (res == "course" or may_read(c, row) or bug("loans-of-all") and res == "loan" and c.user == "storekeeper")
    where = LISTS.get(name, [])
    if bug("loans-of-all") and res == "loan" and c.user == "storekeeper": where = sorted(s for n, l in LISTS.items() if n[:2] == ("loan", "post") for s in l)
    if sort:
        tie = 1 if bug("ties-oldest") else -1
        where = sorted((SORTS[sort](r), tie * r.seq) for r in (BY_SEQ[abs(s[1])] for s in where) if good(r))
    i, page = bisect.bisect_right(where, after) if after else 0, []
    while i < len(where) and len(page) <= size:
        row = BY_SEQ[abs(where[i][1])]
        if sort or good(row): page.append((where[i], row))
        i += 1
    more = len(page) > size; page = page[:size]
    rows = [show(r, c, v) for _, r in page]
    if bug("weight-as-text") and res == "gear": rows = [dict(r, weight=str(r["weight"])) for r in rows]
    return {"rows": rows, "onward": seal([bound, *page[-1][0]]) if more else None, "more": more}

# ---------------------------------------------------------------- the operations
ENDPOINTS = """POST /callouts create callout|GET /callouts/* read callout|GET /callouts list callout|PATCH /callouts/* update callout
POST /callouts/*/alert alert callout|POST /callouts/*/deploy deploy callout|POST /callouts/*/close close callout|POST /callouts/*/stand-down stand_down callout
POST /callouts/*/turnouts create turnout|GET /callouts/*/turnouts list turnout|POST /turnouts/*/arrive arrive turnout
PUT /gear/* upsert gear|GET /gear/* read gear|GET /gear list gear|POST /gear/*/inspect inspect gear|POST /gear/*/retire retire gear|DELETE /gear/* delete gear
POST /loans create loan|GET /loans list loan|POST /loans/*/extend extend loan|POST /loans/*/give-back give_back loan
POST /courses create course|GET /courses list course|POST /courses/*/enrol enrol course
POST /callouts/*/reports create report|GET /reports/* read report|PATCH /reports/* update report|DELETE /reports/* delete report
POST /reports/*/submit submit report|POST /reports/*/approve approve report
POST /hooks create hook|GET /hooks/* read hook|DELETE /hooks/* delete hook|GET /log list entry"""
ROUTES = {}
for line in ENDPOINTS.replace("\n", "|").split("|"):
    method, path, op = line.split(" ", 2); pieces = path.split("/")[1:]
    ROUTES.setdefault((len(pieces), pieces[0], pieces[2] if len(pieces) > 2 else None), {})[method] = op
WITH_BODY = {"create", "update", "upsert"}
REQUESTS = {"close callout": ("outcome", one_of(*OUTCOMES)), "extend loan": ("days", whole(1, 14))}
TAGGED = {"read callout", "update callout", "read gear", "read report", "update report"}
CACHED = {"read gear": "private, max-age=20", "list course": "public, max-age=60"}

class Call:
    """One request on its way through the order of refusals."""
    def __init__(self, method, target, headers, address):
        self.method, self.target, self.headers, self.address = method, target, headers, address
        self.told, self.v, self.late, self.caller, self.op = {}, NEWEST, False, None, None
    def tag(self, row):
        body = pack(show(row, self.caller, self.v))
        return '"' + hashlib.sha1(VERSIONS[self.v].encode() + body).hexdigest()[:24] + '"'
    def handle(self, body, too_large):
        self.request_id = "req_" + secrets.token_hex(8)
        try:
            run_due()
            self.now = CLOCK.now(); status, out, value = self.steps(body, too_large)
            payload = None if value is None else value if isinstance(value, bytes) else pack(value)
        except Refuse as no:
            status, payload = refusal(no.code, no.wrong, no.request_id or self.request_id)
            out = {k: x for k, x in no.headers.items() if k != "bad"}
            if no.code == "unknown_caller": out["WWW-Authenticate"] = challenges(self.accept, no.headers.get("bad"))
        except Exception:
            traceback.print_exc()
            status, payload, out = *refusal("failed", None, self.request_id), {}
        if status == 304:
            self.window[1] -= 1
            if self.told.get("X-Rate-Limit") == "3000": self.told["X-Rate-Left"] = str(int(self.told["X-Rate-Left"]) + 1)
        head = {"Post-Version": VERSIONS[NEWEST if bug("version-echo") else self.v], "Vary": "Post-Version, X-Post-Key, Authorization", **self.told, **out}
        if self.late:
            head["Deprecation"] = "@%d" % (instant("2026-03-01T00:00:00Z") // 1000)
            if not (bug("no-sunset-on-refusals") and status >= 400): head["Sunset"] = http_date(SUNSET_OF_OLDEST)
            head["Link"] = '<https://rescuepost.example/moving>; rel="deprecation", <%s>; rel="successor-version"' % self.target
        if payload is not None: head["Content-Type"] = "application/json"
        return status, head, payload
    def steps(self, body, too_large):
        wanted = self.headers.get("post-version")
        if wanted and len(wanted) == 1 and wanted[0] in VERSIONS:
            self.v = VERSIONS.index(wanted[0]); self.late = self.v == 0
        if len(self.target.encode("latin-1", "replace")) > 2048 or self.headers.size > 8192: raise Refuse("too_large")
        path, _, raw_query = self.target.partition("?"); pieces = path.split("/")[1:]
        methods = ROUTES.get((len(pieces), pieces[0] if pieces else "", pieces[2] if len(pieces) > 2 else None)) if path.startswith("/") else None
        if not methods or len(pieces) > 1 and not pieces[1] or bug("arrive-unrouted") and pieces[-1] == "arrive": raise Refuse("not_found")
        key = unquote(pieces[1]) if len(pieces) > 1 else None
        allow = ", ".join(sorted(list(methods) + ["OPTIONS"] + (["HEAD"] if "GET" in methods else [])))
        if self.method == "OPTIONS": return 204, {"Allow": allow}, None
        self.op = methods.get("GET" if self.method == "HEAD" else self.method)
        if self.op is None or bug("no-head-of-reports") and self.method == "HEAD" and self.op == "read report": raise Refuse("method", Allow=allow)
        if wanted is not None:
            if len(wanted) > 1 or wanted[0] not in VERSIONS:
                raise Refuse("unreadable", [at("header", "Post-Version", seen(wanted[0]), "one of " + ", ".join(VERSIONS))[0]])
            if self.v == 0 and self.now >= SUNSET_OF_OLDEST: raise Refuse("gone")
            if self.v == 0 and self.op == "extend loan": raise Refuse("not_found")
        op = self.op; verb, res = op.split()
        # caller, user, rates
        self.accept = ("login",) if op == "approve report" and not bug("approve-by-key") else ("key", "login")
        c = self.caller = known(self.headers, self.accept)
        if c is None and op != "list course": raise Refuse("unknown_caller")
        if bug("leader-no-hooks") and op == "create hook" and c.user == "leader": raise Refuse("unknown_caller", bad=True)
        if c is not None and (c.user not in ALLOWED[op] or op in SCOPES and SCOPES[op] not in c.scopes): raise Refuse("forbidden")
        self.told, self.window, wait = rate(c, self.address, op, self.now)
        if wait is not None: raise Refuse("too_many", Retry_After=str(wait))
        # body, parameters
        takes = verb in WITH_BODY or op in REQUESTS; sent = self.read_body(verb, body, too_large, takes)
        query = []
        for piece in raw_query.split("&") if raw_query else []:
            name, _, value = piece.partition("=")
            query.append((unquote_plus(name), unquote_plus(value)))
        names = [n for n, _ in query]
        if len(set(names)) != len(names) or verb != "list" and query: raise Refuse("unreadable", [at("query", names[0], "it", "no such parameter, or once")[0]])
        asked = read_list(res, query, self.v) if verb == "list" else None
        # keys
        slot = None
        if self.method == "POST" and "idempotency-key" in self.headers:
            while KEYS and next(iter(KEYS.values()))[0] <= self.now: KEYS.popitem(last=False)
            slot = (None if bug("key-shared") and op == "create loan" else c.key, op, self.headers["idempotency-key"][0])
            print_of = (self.target, self.v, hashlib.sha256(body).digest())
            if slot in KEYS:
                _, was, reply = KEYS[slot]
                if was != print_of: raise Refuse("conflict")
                if isinstance(reply, Refuse): raise reply
                return reply
        try: done = getattr(self, "do_" + verb, self.do_move)(verb, res, key, sent, asked)
        except Refuse as no:
            if slot and no.code in OWN:
                no.request_id = self.request_id; KEYS[slot] = (self.now + DAY, print_of, no)
            raise
        if slot:
            status, out, value = done; again = {k: x for k, x in value.items() if k != "secret" or bug("secret-again")}
            KEYS[slot] = (self.now + DAY, print_of, (status, out, pack(again)))
        return done
    def read_body(self, verb, body, too_large, takes):
        if takes:
            media = self.headers.get("content-type")
            if (body or too_large) and (media is None or len(media) > 1 or media[0].partition(";")[0].strip().lower() not in
                         (("application/json", "application/merge-patch+json") if verb == "update" else ("application/json",))):
                raise Refuse("wrong_media")
        if too_large or bug("body-edge") and len(body) >= 16384: raise Refuse("too_large")
        if not takes: return None
        try: return json.loads(body.decode("utf-8"), parse_constant=lambda x: int("no number"))
        except (ValueError, RecursionError): raise Refuse("unreadable", [at("body", "", "no JSON" if body else "nothing", "JSON")[0]])
    def shown(self, status, row, secret=False):
        out = {}
        if status == 201 and row.res in ("callout", "gear", "report", "hook"):
            out["Location"] = ("/v1/" if bug("location-prefix") else "/") + ("gear/" if row.res == "gear" else row.res + "s/") + row.key
        if self.op in TAGGED: out["ETag"] = self.tag(row)
        return status, out, show(row, self.caller, self.v, secret)
    def parent(self, key):
        callout = ROWS["callout"].get(key)
        if callout is None or not may_read(self.caller, callout): raise Refuse("not_found")
        return callout
    def do_create(self, verb, res, key, sent, asked):
        c, now, v = self.caller, self.now, self.v; bound = {"callout": self.parent(key).key} if key is not None else {}
        new = take(res, v, sent, bound)
        new.update(bound)
        new["id"] = PREFIX[res] + ulid()
        if res == "callout": new.update(post=c.post, state="raised", raised_at=iso(now))
        elif res == "turnout": new.update(volunteer=c.id, state="going")
        elif res == "report": new.update(post=c.post, author=c.id, state="submitted" if bug("leader-skips-draft") and c.user == "leader" else "draft")
        elif res == "course":
            new.update(roll=[], state="planned")
            if instant(new["starts_at"]) <= now: raise Refuse("past")
        elif res == "loan":
            piece = ROWS["gear"].get(new["gear"])
            if piece is None or not may_read(c, piece): raise Refuse("no_such_thing", [at("body", "/gear", seen(new["gear"]), "gear that is there")[0]])
            new.update(borrower=c.id, state="out", due_at=iso(now + new["days"] * DAY))
        elif res == "hook": new.update(owner=c.id, secret="whsec_" + base64.b64encode(secrets.token_bytes(32)).decode())
        # unique values, quotas
        if res in ("turnout", "report") and (res, new["callout"], c.id) in UNIQUE: raise Refuse("conflict")
        if res == "course":
            day = (c.key, now // DAY)
            if QUOTA.get(day, 0) >= (13 if bug("quota-13") else 12): raise Refuse("too_many", Retry_After=str(-(-(DAY - now % DAY) // 1000)))
            QUOTA[day] = QUOTA.get(day, 0) + 1
        elif res == "hook" and HELD.get(("hook", c.id), 0) >= 4 or res == "loan" and HELD.get(c.id, 0) >= 3: raise Refuse("too_many")
        if res == "loan":
            if piece["state"] != "ready": raise Refuse("not_ready")
            HELD[c.id] = HELD.get(c.id, 0) + 1
        elif res == "hook": HELD["hook", c.id] = HELD.get(("hook", c.id), 0) + 1
        if res == "callout":
            COUNT["number"] += 1; new["number"] = "C-%05d" % COUNT["number"]
        row = put(res, new["id"], new, now)
        if res == "hook": row.maker, row.version = c, v
        elif res == "loan":
            LOANS_OF[piece.key] = LOANS_OF.get(piece.key, 0) + 1; move(piece, "lend", None, {})
        elif res == "callout": emit("callout.raised", row)
        return self.shown(201, row, secret=True)
    def do_read(self, verb, res, key, sent, asked):
        row = find(self.caller, self.op, res, key); status, out, value = self.shown(200, row)
        if self.op in CACHED: out["Cache-Control"] = CACHED[self.op]
        if "ETag" in out and "if-none-match" in self.headers:
            tags = [t.strip() for t in ",".join(self.headers["if-none-match"]).split(",")]
            if "*" in tags or out["ETag"] in (t[2:] if t.startswith("W/") else t for t in tags): return 304, out, None
        return status, out, value
    def do_list(self, verb, res, key, sent, asked):
        if key is not None: self.parent(key)
        page = answer_list(res, self.caller, self.v, asked, {"callout": key})
        return 200, {"Cache-Control": CACHED[self.op]} if self.op in CACHED else {}, page
    def do_update(self, verb, res, key, sent, asked):
        row = find(self.caller, self.op, res, key); tag = self.tag(row)
        if bug("request-before-tag"): take(res, self.v, sent, row=row, patch=True)
        if "if-match" in self.headers:
            tags = [t.strip() for t in ",".join(self.headers["if-match"]).split(",")]
            if "*" not in tags and tag not in tags: raise Refuse("stale")
        elif res == "report": raise Refuse("tag_needed")
        changes = take(res, self.v, sent, row=row, patch=True)
        if row["state"] not in (("raised", "alerted", "active") if res == "callout" else ("draft",)): raise Refuse("wrong_state")
        changes = {f: x for f, x in changes.items() if row.get(f) != x}; was = row.get("severity")
        for f, x in changes.items():
            if x is None: row.pop(f, None)
            else: row[f] = x
        if changes and res == "callout" and (row["severity"] != was or bug("regraded-always")):
            emit("callout.regraded", row, {"callout": row.key, "was": row["severity"] if bug("was-is-new") else was, "is": row["severity"]})
        done = self.shown(200, row)
        if bug("stale-tag"): done[1]["ETag"] = tag
        return done
    def do_upsert(self, verb, res, key, sent, asked):
        c, row = self.caller, ROWS["gear"].get(key)
        if row is not None and not may_read(c, row): raise Refuse("not_found")
        if not TAG.match(key) and not (bug("any-tag") and re.match(r"[A-Za-z]{2}-[0-9]{3,6}\Z", key)):
            refuse_body([at("path", "tag", seen(key), "two letters, a dash and digits")])
        new = take(res, self.v, sent, {"tag": key}, row)
        if row is None:
            new.update(tag=key, post=c.post, state="ready", inspect_by=iso(months_on(self.now, 6)))
            return self.shown(201, put("gear", key, new, self.now))
        row["weight"] = new["weight"]
        if "cost" in new: row["cost"] = new["cost"]
        elif not bug("cost-stays"): row.pop("cost", None)
        return self.shown(200, row)
    def do_delete(self, verb, res, key, sent, asked):
        row = find(self.caller, self.op, res, key)
        if res == "gear" and row["state"] != "retired" or res == "report" and row["state"] != "draft": raise Refuse("wrong_state")
        if res == "gear" and LOANS_OF.get(key): raise Refuse("conflict")
        if res == "hook": HELD["hook", row["owner"]] -= 1
        drop(row)
        if res == "report":
            GONE[key] = (row, self.now + 30 * DAY); later(self.now + 30 * DAY, "gone", key)
        return 204, {}, None
    def do_move(self, verb, res, key, sent, asked):
        row = find(self.caller, self.op, res, key); request = {}
        if self.op in REQUESTS:
            name, spec = REQUESTS[self.op]
            if not isinstance(sent, dict): refuse_body([at("body", "", seen(sent), "a map")])
            found = []
            for k, x in sent.items():
                if k != name: found.append(at("body", "/" + k, seen(x), "no such field"))
                else: request[name] = fit(spec, x, "/" + name, found)
            if name not in sent: found.append(at("body", "/" + name, "nothing", "a value", True))
            if found: refuse_body(found)
        guard(row, verb, self.caller)
        move(row, verb, self.caller, request)
        return self.shown(200, row)

# ---------------------------------------------------------------- HTTP
REASONS = {200: "OK", 201: "Created", 204: "No Content", 304: "Not Modified", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
           405: "Method Not Allowed", 409: "Conflict", 410: "Gone", 412: "Precondition Failed", 413: "Content Too Large", 415: "Unsupported Media Type",
           422: "Unprocessable Content", 428: "Precondition Required", 429: "Too Many Requests", 500: "Internal Server Error"}
BODY_LIMIT, SWALLOW = 16384, 16 * 1024 * 1024

class Headers(dict): size = 0
class Door(asyncio.Protocol):
    """HTTP/1.1 over one connection: heads, bodies with a length or in chunks, one after the other."""
    def connection_made(self, transport):
        self.transport, self.buffer, self.call, self.head_at = transport, b"", None, None
        self.address = (transport.get_extra_info("peername") or ("?",))[0]
        self.timer = asyncio.get_running_loop().call_later(60, self.idle)
    def connection_lost(self, error): self.timer.cancel()
    def idle(self):
        if self.call or self.buffer: self.answer_bare("failed", True)
        self.transport.close()
    def wait(self, seconds):
        self.timer.cancel()
        self.timer = asyncio.get_running_loop().call_later(seconds, self.idle)
    def data_received(self, data):
        self.buffer = self.buffer + data if self.buffer else data
        while not self.transport.is_closing() and self.step(): pass
    def step(self):
        if self.call is None:
            while self.buffer.startswith(b"\r\n"): self.buffer = self.buffer[2:]
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self.buffer) > 65536: self.answer_bare("too_large", True)
                elif self.buffer and self.head_at is None: self.head_at = 1; self.wait(10)
                return False
            lines = self.buffer[:end].decode("latin-1").split("\r\n")
            size, self.buffer, self.head_at = end - len(lines[0]), self.buffer[end + 4:], None
            first, headers = lines[0].split(" "), Headers(); headers.size = size
            for line in lines[1:]:
                name, colon, value = line.partition(":")
                if not colon or name != name.strip() or not name: return self.answer_bare("unreadable", True)
                headers.setdefault(name.lower(), []).append(value.strip())
            if len(first) != 3 or not first[2].startswith("HTTP/1."): return self.answer_bare("unreadable", True)
            self.close_after = "close" in headers.get("connection", [""])[0].lower() or first[2] == "HTTP/1.0"
            target = first[1]
            if target.startswith("http://"): target = "/" + target[7:].partition("/")[2]
            self.call = Call(first[0], target, headers, self.address)
            self.body, self.over, self.chunked, self.left = b"", False, False, 0
            if "chunked" in headers.get("transfer-encoding", [""])[0].lower(): self.chunked = True
            elif "content-length" in headers:
                if not headers["content-length"][0].isdigit(): return self.answer_bare("unreadable", True)
                self.left = int(headers["content-length"][0]); self.over = self.left > BODY_LIMIT
                if self.left > SWALLOW: self.left, self.close_after = 0, True
            if "100-continue" in headers.get("expect", [""])[0].lower() and not self.over: self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.wait(10)
        if self.chunked:
            if not self.chunks(): return False
        elif self.left:
            if not self.buffer: return False
            piece, self.buffer = self.buffer[:self.left], self.buffer[self.left:]; self.left -= len(piece)
            if not self.over: self.body += piece
            if self.left: return False
        call, self.call = self.call, None
        self.wait(60)
        self.write(call, *call.handle(self.body, self.over))
        return bool(self.buffer)
    def chunks(self):
        while True:
            end = self.buffer.find(b"\r\n")
            if end < 0: return False
            try: size = int(self.buffer[:end].split(b";")[0], 16)
            except ValueError: return self.answer_bare("unreadable", True)
            if size == 0:
                stop = self.buffer.find(b"\r\n\r\n", end) if self.buffer[end + 2:end + 4] != b"\r\n" else end
                if stop < 0 or len(self.buffer) < stop + 4: return False
                self.buffer = self.buffer[stop + 4:]; return True
            if len(self.buffer) < end + 2 + size + 2: return False
            if len(self.body) + size > BODY_LIMIT: self.over, self.body = True, b""
            elif not self.over: self.body += self.buffer[end + 2:end + 2 + size]
            self.buffer = self.buffer[end + 4 + size:]
    def answer_bare(self, code, close):
        status, payload = refusal(code, None, "req_" + secrets.token_hex(8)); self.close_after = close
        self.write(None, status, {"Post-Version": VERSIONS[NEWEST], "Content-Type": "application/json"}, payload)
        return False
    def write(self, call, status, headers, payload):
        lines = ["HTTP/1.1 %d %s" % (status, REASONS.get(status, ""))]
        for name, value in headers.items():
            for one in value if isinstance(value, list) else [value]: lines.append(name + ": " + one)
        if payload is not None: lines.append("Content-Length: %d" % len(payload))
        if self.close_after: lines.append("Connection: close")
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
        self.transport.write(head if payload is None or call and call.method == "HEAD" else head + payload)
        if self.close_after: self.transport.close()

# ---------------------------------------------------------------- the clock's own door
DURATION = re.compile(r"P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?\Z")
def move_clock(asked):
    """200, 400 or 422."""
    now = CLOCK.now()
    if not isinstance(asked, dict) or len(asked) != 1: return 400
    if isinstance(asked.get("advance"), str):
        m = DURATION.match(asked["advance"])
        if not m: return 400
        y, mo, w, d, h, mi = (int(x or 0) for x in m.groups()[:6])
        to = months_on(now, y * 12 + mo) + (w * 7 + d) * DAY + h * HOUR + mi * 60_000 + int(float(m[7] or 0) * 1000)
    else:
        to = instant(asked.get("now"))
        if to is None: return 400
    if to < now: return 422
    CLOCK.offset += int(to) - now
    run_due()
    return 200
async def clock_door(reader, writer):
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = re.search(r"(?im)^content-length:\s*(\d+)", head)
            body = await reader.readexactly(int(length[1])) if length else b""; status, method = 400, head.split(" ")[0]
            if method == "GET": status = 200
            elif method == "POST":
                try: status = move_clock(json.loads(body))
                except (ValueError, OverflowError): status = 400
                if FLYING:
                    await asyncio.sleep(0); await asyncio.wait(set(FLYING), timeout=0.4)
            out = pack({"now": iso(CLOCK.now())} if status == 200 else {"error": status})
            writer.write(b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % (status, len(out)) + out)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, asyncio.LimitOverrunError): writer.close()
async def main():
    await asyncio.get_running_loop().create_server(Door, "127.0.0.1", PORT)
    if CLOCK_PORT is not None: await asyncio.start_server(clock_door, "127.0.0.1", int(CLOCK_PORT))
    print("rescue post on %d" % PORT, flush=True)
    while True:
        await asyncio.sleep(0.05); run_due()

asyncio.run(main())
