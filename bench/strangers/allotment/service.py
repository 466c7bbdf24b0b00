"""Allotment gardens: one process, in memory, the standard library alone.

    python3 service.py --port 20200 --clock-port 20201 [--fault ID]
"""
import asyncio, base64, binascii, bisect, collections, datetime, hashlib, heapq, hmac, itertools, json, math, os, re
import secrets, signal, sys, time, traceback, urllib.parse, uuid
from email.utils import formatdate

try:
    from zoneinfo import ZoneInfo
    ZONE = ZoneInfo("Europe/Amsterdam")
except Exception:                                   # no tz data on the machine: the rule of the EU, by hand
    class _Amsterdam(datetime.tzinfo):
        @staticmethod
        def _last_sunday(year, month):
            d = datetime.datetime(year, month, 31, 1)
            return d - datetime.timedelta(days=(d.weekday() + 1) % 7)
        def fromutc(self, d):
            n = d.replace(tzinfo=None)
            summer = self._last_sunday(n.year, 3) <= n < self._last_sunday(n.year, 10)
            return (n + datetime.timedelta(hours=2 if summer else 1)).replace(tzinfo=self)
        def utcoffset(self, d):
            n = d.replace(tzinfo=None)
            h = datetime.timedelta(hours=1)
            return 2 * h if self._last_sunday(n.year, 3) + h <= n < self._last_sunday(n.year, 10) + 2 * h else h
        def dst(self, d): return self.utcoffset(d) - datetime.timedelta(hours=1)
        def tzname(self, d): return "CET"
    ZONE = _Amsterdam()

FAULT = ""
BASE = "/api"
TITLE = "Allotment gardens"
VERSIONS = ["2024-10", "2025-09", "2026-08"]
TOKEN_SECRET = os.environ.get("GARDENS_TOKEN_SECRET", "beet-root-and-broad-bean-2026").encode()
UTC = datetime.timezone.utc
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000

# ---------------------------------------------------------------- people
# name: (password, user, district)
PEOPLE = {
    "anneke": ("marigold-seven-spades", "gardener", "north"),
    "bram":   ("turnip-under-glass-4", "gardener", "north"),
    "cornelis": ("leek-and-lavender-19", "gardener", "south"),
    "dagmar": ("compost-heap-at-dawn", "gardener", "south"),
    "wilma":  ("gatekeeper-of-the-north", "warden", "north"),
    "xander": ("quince-hedge-clipper-2", "warden", "north"),
    "yvonne": ("southern-sluice-88-key", "warden", "south"),
    "zeger":  ("rain-barrel-inspector", "warden", "south"),
}

# ---------------------------------------------------------------- the clock
_offset = 0
_last = 0
_frozen = None


def now_ms():
    global _last
    if _frozen is not None:
        return _frozen
    t = int(time.time() * 1000) + _offset
    if t < _last:
        t = _last
    _last = t
    return t


EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)


def iso(ms):
    d = EPOCH + datetime.timedelta(milliseconds=ms)
    return "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ" % (d.year, d.month, d.day, d.hour, d.minute, d.second, d.microsecond // 1000)


DT = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))")
_MD = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]


def _days(y, m, d):
    y -= m <= 2
    era = y // 400
    yoe = y - era * 400
    doy = (153 * (m + (-3 if m > 2 else 9)) + 2) // 5 + d - 1
    return era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468


def instant(text):
    """nanoseconds since 1970 of an RFC 3339 date-time, or None"""
    m = DT.fullmatch(text)
    if not m:
        return None
    y, mo, d, h, mi, s = (int(m.group(i)) for i in range(1, 7))
    if not 1 <= mo <= 12 or d < 1 or h > 23 or mi > 59 or s > 60:
        return None
    leap = y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)
    if d > _MD[mo - 1] + (1 if mo == 2 and leap else 0):
        return None
    off = 0
    if m.group(8):
        oh, om = int(m.group(9)), int(m.group(10))
        if oh > 23 or om > 59:
            return None
        off = (oh * 60 + om) * (1 if m.group(8) == "+" else -1)
    minutes = _days(y, mo, d) * 1440 + h * 60 + mi - off
    if s == 60 and minutes % 1440 != 1439:
        return None
    ns = int(((m.group(7) or ".")[1:] + "000000000")[:9])
    return (minutes * 60 + s) * 1_000_000_000 + ns


LAST_INSTANT = _days(10000, 1, 1) * DAY * 1_000_000


def local_month(ms):
    zone = UTC if FAULT == "quota-month-in-utc" else ZONE
    d = (EPOCH + datetime.timedelta(milliseconds=ms)).astimezone(zone)
    return d.year, d.month


def month_ends(ms):
    y, m = local_month(ms)
    y, m = (y + 1, 1) if m == 12 else (y, m + 1)
    zone = UTC if FAULT == "quota-month-in-utc" else ZONE
    return int(datetime.datetime(y, m, 1, tzinfo=zone).timestamp() * 1000)


# ---------------------------------------------------------------- refusals
CODES = {
    "sign_in": (401, "Sign in first."),
    "session_over": (401, "The session is over."),
    "bad_credentials": (401, "These credentials are not good."),
    "wrong_role": (403, "This is not for you."),
    "not_yours": (403, "This is not yours."),
    "no_such_path": (404, "There is no such path."),
    "no_such_thing": (404, "There is no such thing."),
    "no_such_method": (405, "The path has no such method."),
    "unreadable": (400, "The body cannot be read."),
    "bad_parameter": (400, "A parameter cannot be."),
    "bad_page": (400, "There is no such page."),
    "wrong_media": (415, "Send application/json."),
    "unknown_field": (422, "A field is not known."),
    "unfit": (422, "Something does not fit."),
    "no_such_reference": (422, "What is referred to is not there."),
    "taken": (409, "There is one already."),
    "still_in_use": (409, "Something still refers to it."),
    "not_now": (409, "Its state does not allow it."),
    "changed_meanwhile": (412, "It was changed meanwhile."),
    "tag_needed": (428, "Send If-Match."),
    "key_reused": (409, "The key was used for something else."),
    "slow_down": (429, "Too many requests."),
    "month_used_up": (429, "No more turns this month."),
    "too_many_hooks": (409, "Four hooks are enough."),
    "too_large": (413, "That is too large."),
    "too_slow": (408, "That took too long."),
    "unknown_edition": (400, "There is no such edition."),
    "edition_over": (410, "This edition is over."),
    "broken": (500, "Something broke."),
    "application_over": (409, "The application is over."),
    "turn_begun": (409, "The turn has begun or is over."),
    "too_early": (409, "The tap opens a quarter before the turn."),
    "turns_left": (409, "There are turns ahead."),
    "plot_gone": (409, "Somebody else has it by now."),
    "plot_not_vacant": (409, "The plot is not vacant."),
    "plot_dry": (422, "There is no water there."),
    "turn_past": (422, "A turn begins later than now."),
}
OWN = {"application_over", "turn_begun", "too_early", "turns_left", "plot_not_vacant", "plot_dry", "turn_past"}


class Refuse(Exception):
    def __init__(self, code, fields=(), headers=()):
        self.code, self.fields, self.headers = code, list(fields), list(headers)

    def answer(self):
        status, text = CODES[self.code]
        body = {"error": {"code": self.code, "text": text, "fields": self.fields}}
        return Answer(status, body, self.headers)


class Answer:
    __slots__ = ("status", "body", "headers")

    def __init__(self, status, body=None, headers=()):
        self.status, self.body, self.headers = status, body, list(headers)


def dump(value):
    return json.dumps(value, separators=(",", ":")).encode()


# ---------------------------------------------------------------- shapes
class Bad(Exception):
    pass


URI = re.compile(r"https?://(?:[A-Za-z0-9._~!$&'()*+,;=:@%-]|\[[0-9A-Fa-f:.]+\])+(?:[/?#](?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)?")


def fit(shape, value, place, out):
    """the value as it is kept; what is wrong is put into out as (place, kind)"""
    kind = shape["type"]
    if kind == "object":
        if not isinstance(value, dict):
            out.append((place, "value"))
            return None
        props, made = shape["properties"], {}
        for name, v in value.items():
            inner = f"{place}.{name}" if place else name
            if FAULT == "nested-place-is-bare" and place:
                inner = name
            if name not in props:
                out.append((inner, "unknown"))
            else:
                made[name] = fit(props[name], v, inner, out)
        for name in shape["required"]:
            if name not in value:
                inner = f"{place}.{name}" if place else name
                if FAULT == "nested-place-is-bare" and place:
                    inner = name
                out.append((inner, "missing"))
        return made
    if kind == "array":
        if not isinstance(value, list):
            out.append((place, "value"))
            return None
        if not shape.get("minItems", 0) <= len(value) <= shape["maxItems"]:
            out.append((place, "value"))
        return [fit(shape["items"], v, f"{place}.{i}", out) for i, v in enumerate(value)]
    ok = True
    if kind == "string":
        ok = isinstance(value, str)
        if ok and "enum" in shape:
            ok = value in shape["enum"]
        if ok and ("minLength" in shape or "maxLength" in shape):
            ok = shape.get("minLength", 0) <= len(value) <= shape.get("maxLength", 1 << 30)
        if ok and "pattern" in shape:
            ok = re.fullmatch(shape["pattern"], value) is not None
        if ok and "also" in shape:
            ok = shape["also"](value)
    elif kind == "boolean":
        ok = isinstance(value, bool)
    else:
        ok = isinstance(value, (int, float)) and not isinstance(value, bool)
        if ok and kind == "integer":
            if isinstance(value, float):
                ok = value.is_integer()
                value = int(value) if ok else value
        if ok:
            top = shape["maximum"]
            ok = shape["minimum"] <= value <= top and not (FAULT == "area-600-refused" and top == 600 and value == 600)
        if ok and "multipleOf" in shape:
            ok = value % shape["multipleOf"] == 0
    if not ok:
        out.append((place, "value"))
        return None
    return value


def refuse_unfit(out):
    if out:
        raise Refuse("unknown_field" if out[0][1] == "unknown" else "unfit", [p for p, _ in out])


KINDS = ["plot.let", "plot.resized", "application.offered", "application.lapsed", "application.closed", "turn.booked",
         "turn.missed", "turn.over", "inspection.issued"]


def topic_known(t):
    return t == "*" or t in KINDS or (t.endswith(".*") and any(k.startswith(t[:-1]) for k in KINDS))


def text(**more):
    return dict(type="string", **more)


def whole(low, high, **more):
    return dict(type="integer", minimum=low, maximum=high, **more)


REF = text()
SOILS = ["clay", "sand", "loam", "peat"]
PLOT_STATES = ["vacant", "let", "closed"]
APPLICATION_STATES = ["waiting", "offered", "accepted", "withdrawn"]
TURN_STATES = ["booked", "running", "done", "missed", "cancelled"]
INSPECTION_STATES = ["draft", "issued", "appealed", "settled"]
GRADES = ["good", "fair", "poor"]

READ_ONLY = {
    "plot": {"id", "district", "tenant", "status", "turns_ahead", "made_at", "changed_at"},
    "application": {"id", "ticket", "applicant", "district", "offered", "status", "made_at", "closed_at"},
    "turn": {"id", "gardener", "void_at", "litres", "status", "opened_at"},
    "inspection": {"id", "inspector", "plea", "status", "issued_at", "changed_at"},
    "hook": {"id", "owner", "live", "secret"},
}


def shapes_of(v):
    """what may be sent in version v, by its names"""
    spot = dict(type="object", required=["lane" if v < 2 else "row", "nr"],
                properties={("lane" if v < 2 else "row"): text(pattern="[A-Z]{1,2}"), "nr": whole(1, 99)})
    plot = {"name": text(minLength=2, maxLength=40), "spot": spot, "area_m2": whole(20, 600),
            "soil": text(enum=["clay", "sand", "loamy", "peat"] if v < 2 else SOILS)}
    if v == 2:
        plot["water"] = dict(type="boolean")
    plot["keys"] = text(maxLength=120)
    plot["remark"] = text(maxLength=200)
    if v < 2:
        plot["office"] = text(maxLength=20)
    application = {("household_size" if v == 0 else "household"): whole(1, 12), "motive": text(maxLength=300),
                   "wish": REF, "priority": whole(0, 9)}
    minutes = whole(15, 120, multipleOf=15)
    if FAULT == "minutes-not-multiple":
        minutes = whole(15, 120)
    turn = {"plot": REF, "starts_at": text(also=lambda t: instant(t) is not None), ("duration" if v < 2 else "minutes"): minutes}
    inspection = {"plot": REF, "grade": text(enum=GRADES),
                  "fine_cents": dict(type="number", minimum=0, maximum=500) if v == 0 else whole(0, 50000),
                  "findings": dict(type="array", items=text(minLength=1, maxLength=80), maxItems=8),
                  "internal": text(maxLength=200)}
    hook = {"target": text(maxLength=300, also=lambda t: URI.fullmatch(t) is not None),
            "topics": dict(type="array", items=text(also=topic_known), minItems=1, maxItems=10)}
    return {
        "plot": (plot, ["name", "spot", "area_m2", "soil"]),
        "application": (application, []),
        "turn": (turn, ["starts_at"]),
        "inspection": (inspection, ["plot", "grade"]),
        "hook": (hook, ["target"]),
    }


SHAPES = []


def round_half(x):
    r = math.floor(abs(x))
    if abs(x) - r >= 0.5:
        r += 1
    return r if x >= 0 else -r


def up(res, d, v):
    """carries what was sent in version v up to the newest shape"""
    if v == 2:
        return d
    d = dict(d)
    if res == "plot":
        d.pop("office", None)
        if d.get("soil") == "loamy":
            d["soil"] = "loam"
        if "spot" in d:
            d["spot"] = {"row": d["spot"]["lane"], "nr": d["spot"]["nr"]}
    elif res == "application" and v == 0 and "household_size" in d:
        d["household"] = d.pop("household_size")
    elif res == "turn" and "duration" in d:
        d["minutes"] = d.pop("duration")
    elif res == "inspection" and v == 0 and d.get("fine_cents") is not None:
        d["fine_cents"] = int(d["fine_cents"] * 100.0) if FAULT == "fine-truncated" else int(round_half(d["fine_cents"] * 100.0))
    return d


def down(res, d, v, listed=False):
    """d is a new map of the newest shape, and is changed"""
    if v == 2:
        return d
    if res == "plot":
        d["spot"] = {"lane": d["spot"]["row"], "nr": d["spot"]["nr"]}
        if d["soil"] == "loam":
            d["soil"] = "loamy"
        d.pop("water", None)
        d["office"] = "town hall"
    elif res == "application" and v == 0:
        d["household_size"] = d.pop("household")
    elif res == "turn":
        d["duration"] = d.pop("minutes")
        if v == 0 and d["status"] == "booked" and not (FAULT == "list-not-queued" and listed):
            d["status"] = "queued"
    elif res == "inspection" and v == 0:
        d["fine_cents"] = d["fine_cents"] / 100.0
    return d


OLD_NAME = {("application", "household"): (1, "household_size"), ("turn", "minutes"): (2, "duration")}

# ---------------------------------------------------------------- the store
rows = {"plot": {}, "application": {}, "turn": {}, "inspection": {}, "hook": {}}
unique = {}                                  # (resource, key) -> id
turns_of = collections.defaultdict(dict)     # plot -> {turn: True}
refers = collections.defaultdict(set)        # plot -> {(resource, id)} of applications and inspections
tickets = collections.Counter()
sequence = itertools.count(1)
timers = []                                  # (due, n, resource, id, transition, entered)
keys_kept = {}                               # idempotency
quota_used = collections.Counter()
rates = {}
hook_count = collections.Counter()
stuck_turns = collections.Counter()          # a fault: counts that are not taken back


def unique_key(res, row):
    if res == "plot":
        return ("plot", row["district"], row["name"])
    if res == "application" and row["status"] in ("waiting", "offered"):
        return ("application", row["applicant"], row["district"])
    if res == "turn" and row["status"] in ("booked", "running"):
        return ("turn", row["plot"], instant(row["starts_at"]))
    return None


def hold_unique(res, row):
    k = unique_key(res, row)
    if k is not None and unique.get(k, row["id"]) != row["id"]:
        raise Refuse("taken")


def keep(res, row):
    """stores a row in place of what is there"""
    old = rows[res].get(row["id"])
    k_new = unique_key(res, row)
    if old is not None:
        k_old = unique_key(res, old)
        if k_old is not None and k_old != k_new:
            unique.pop(k_old, None)
    if k_new is not None:
        unique[k_new] = row["id"]
    rows[res][row["id"]] = row
    if res == "turn":
        turns_of[row["plot"]][row["id"]] = True
    elif res == "application":
        for name in ("wish", "offered"):
            if old is not None and old.get(name) and old.get(name) not in (row.get("wish"), row.get("offered")):
                refers[old[name]].discard((res, row["id"]))
            if row.get(name):
                refers[row[name]].add((res, row["id"]))
    elif res == "inspection":
        refers[row["plot"]].add((res, row["id"]))
    if old is None and res == "hook":
        hook_count[row["owner"]] += 1


def drop(res, row):
    rows[res].pop(row["id"], None)
    k = unique_key(res, row)
    if k is not None and unique.get(k) == row["id"]:
        unique.pop(k)
    if res == "turn":
        turns_of[row["plot"]].pop(row["id"], None)
    elif res == "hook" and FAULT != "hook-place-not-freed":
        hook_count[row["owner"]] -= 1


def made(res, ident, fields):
    return {**{k: v for k, v in fields.items() if v is not None}, "id": ident, "_n": next(sequence)}


def entered(res, row):
    """a row has entered its state: sets the timers of that state"""
    t = now_ms()
    row["_in"] = t
    state, ident = row["status"], row["id"]
    if res == "application" and state == "offered":
        due = t + 14 * DAY
        if FAULT == "lapse-counted-from-making":
            due = max(t, row["_made"] + 14 * DAY)
        heapq.heappush(timers, (due, next(sequence), res, ident, "lapse", t))
    elif res == "turn" and state == "booked":
        heapq.heappush(timers, (instant(row["void_at"]) // 1_000_000, next(sequence), res, ident, "miss", t))
    elif res == "turn" and state == "running":
        heapq.heappush(timers, (t + 2 * HOUR, next(sequence), res, ident, "stop", t))
    elif res == "inspection" and state == "issued":
        heapq.heappush(timers, (t + 30 * DAY, next(sequence), res, ident, "rest", t))


def turns_ahead(plot):
    n = sum(1 for t in turns_of.get(plot, ()) if rows["turn"][t]["status"] in ("booked", "running"))
    return n + stuck_turns[plot]


FIELDS = {
    "plot": ["id", "district", "name", "spot", "area_m2", "soil", "water", "keys", "remark", "tenant", "status", "turns_ahead", "made_at", "changed_at"],
    "application": ["id", "ticket", "applicant", "district", "household", "motive", "wish", "priority", "offered", "status", "made_at", "closed_at"],
    "turn": ["id", "plot", "gardener", "starts_at", "minutes", "void_at", "litres", "status", "opened_at"],
    "inspection": ["id", "plot", "inspector", "grade", "fine_cents", "findings", "internal", "plea", "status", "issued_at", "changed_at"],
    "hook": ["id", "owner", "target", "topics", "live"],
}


def show(res, row, user, v, listed=False, told=False):
    d = {}
    for f in FIELDS[res]:
        if f == "turns_ahead":
            d[f] = turns_ahead(row["id"])
        elif f in row:
            d[f] = row[f]
    if user != "warden":
        d.pop("keys", None)
        if not (FAULT == "internal-shown" and not told) and not (FAULT == "event-tells-internal" and told):
            d.pop("internal", None)
    if res == "hook" and FAULT == "secret-shown-again":
        d["secret"] = row["secret"]
    return down(res, d, v, listed)


def tag_of(res, row, user, v):
    shown = show(res, row, user, v)
    if FAULT == "tag-of-time-alone":
        shown = [row["id"], row["changed_at"][:19]]
    return '"' + hashlib.sha256(dump([VERSIONS[v], shown])).hexdigest()[:24] + '"'


# ---------------------------------------------------------------- who may do what
class Caller:
    __slots__ = ("user", "id", "district")

    def __init__(self, user, id, district):
        self.user, self.id, self.district = user, id, district


def rule(op, row, c):
    """whether a rule lets c do op with this row (of update and the like: with the row as it is stored)"""
    verb, res = op.split(" ")
    g = c.user == "gardener"
    if res == "plot":
        same = row["district"] == c.district
        if verb in ("list", "read"):
            return same or (FAULT == "read-any-district" and verb == "read")
        if verb == "vacate" and g:
            return row.get("tenant") == c.id and same
        return not g and same
    if res == "application":
        if verb in ("accept", "withdraw") or g:
            return g and row["applicant"] == c.id
        return row["district"] == c.district
    if res == "turn":
        if g:
            return row["gardener"] == c.id
        return rows["plot"][row["plot"]]["district"] == c.district
    if res == "inspection":
        plot = rows["plot"][row["plot"]]
        if g:
            if FAULT == "drafts-listed" and verb == "list":
                return plot.get("tenant") == c.id
            return plot.get("tenant") == c.id and row["status"] != "draft"
        if verb in ("replace", "issue") and not (FAULT == "any-warden-replaces" and verb == "replace"):
            return row["inspector"] == c.id
        return plot["district"] == c.district
    return row["owner"] == c.id


def may_read(res, row, c):
    return rule("read " + res, row, c)


def load(op, ident, c):
    res = op.split(" ")[1]
    row = rows[res].get(ident)
    if row is None:
        raise Refuse("no_such_thing")
    if not rule(op, row, c):
        if may_read(res, row, c) or (FAULT == "foreign-plot-forbidden" and op == "replace plot"):
            raise Refuse("not_yours")
        raise Refuse("no_such_thing")
    return row


# ---------------------------------------------------------------- events
class Queue:
    __slots__ = ("items", "busy")

    def __init__(self):
        self.items, self.busy = collections.deque(), False


class Delivery:
    __slots__ = ("event", "kind", "body", "tries", "due", "stamp")


queues = {}          # (hook, row) -> Queue
due_heap = []        # (due, n, key)
RETRY = [10_000, 2 * MINUTE, 15 * MINUTE]


def emit(kind, res, row, payload, to=None):
    """payload(user, v) is what one receiver is told"""
    event, at = "evt_" + secrets.token_hex(10), iso(now_ms())
    for hook in list(rows["hook"].values()):
        if not hook["live"]:
            continue
        topics = hook.get("topics")
        if topics is not None and not any(t == "*" or t == kind or (t.endswith(".*") and kind.startswith(t[:-1])) for t in topics):
            continue
        maker = hook["_maker"]
        if to is not None and not (FAULT == "offered-told-to-readers" and may_read(res, row, maker)):
            if not to(hook):
                continue
        elif to is None and not may_read(res, row, maker):
            continue
        v = 2 if FAULT == "events-in-newest" else hook["_v"]
        d = Delivery()
        d.event, d.kind, d.tries, d.due, d.stamp = event, kind, 0, 0, None
        d.body = dump({"kind": kind, "delivery": event, "at": at, "about": payload(maker.user, v)})
        key = (hook["id"], res, row["id"])
        q = queues.get(key)
        if q is None:
            q = queues[key] = Queue()
        q.items.append(d)
        if len(q.items) == 1 and not q.busy:
            heapq.heappush(due_heap, (0, next(sequence), key))


def emit_row(kind, res, row, to=None):
    emit(kind, res, row, lambda user, v: show(res, row, user, v, told=True), to)


def pump():
    t = now_ms()
    while due_heap and due_heap[0][0] <= t:
        _, _, key = heapq.heappop(due_heap)
        q = queues.get(key)
        if q is None or q.busy:
            continue
        hook = rows["hook"].get(key[0])
        if hook is None or not hook["live"] or not q.items:
            queues.pop(key, None)
            continue
        if q.items[0].due > t or hook["_state"]["hold"] > t:
            heapq.heappush(due_heap, (max(q.items[0].due, hook["_state"]["hold"]), next(sequence), key))
            continue
        q.busy = True
        task = asyncio.get_running_loop().create_task(deliver(key, q, hook))
        running.add(task)
        task.add_done_callback(running.discard)


running = set()
gate = None


def loopback(host):
    return host in ("localhost", "::1") or re.fullmatch(r"127\.[0-9]+\.[0-9]+\.[0-9]+", host) is not None


async def post(hook, d):
    """one try: (status or 0, Retry-After in ms)"""
    u = urllib.parse.urlsplit(hook["target"])
    if u.scheme != "http" or not u.hostname or not loopback(u.hostname):
        return 0, 0
    stamp = str(now_ms() // 1000)
    signed = stamp
    if FAULT == "retry-keeps-old-seal":
        d.stamp = d.stamp or stamp
        signed = d.stamp
    event = d.event
    mac = hmac.new(hook["secret"].encode(), (signed + "." + event + ".").encode() + d.body, hashlib.sha256).hexdigest()
    path = (u.path or "/") + ("?" + u.query if u.query else "")
    host = u.netloc.rpartition("@")[2]
    head = (f"POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(d.body)}\r\n"
            f"Gardens-Seal: at={stamp},seal={mac}\r\nGardens-Event: {d.kind}\r\nGardens-Delivery: {event}\r\n"
            "User-Agent: allotment-gardens\r\nConnection: close\r\n\r\n")
    writer = None
    try:
        reader, writer = await asyncio.open_connection(u.hostname, u.port or 80)
        writer.write(head.encode("latin-1", "replace") + d.body)
        line = await reader.readline()
        m = re.match(rb"HTTP/1\.[01] ([0-9]{3})", line)
        status, wait = int(m.group(1)) if m else 0, 0
        while True:
            line = await reader.readline()
            if line in (b"\r\n", b"\n", b""):
                break
            name, _, value = line.decode("latin-1").partition(":")
            if name.strip().lower() == "retry-after" and value.strip().isdigit() and len(value.strip()) < 9:
                wait = min(int(value.strip()) * 1000, DAY)
        return status, wait
    finally:
        if writer is not None:
            writer.close()


async def deliver(key, q, hook):
    d = q.items[0]
    try:
        async with gate:
            status, wait = await asyncio.wait_for(post(hook, d), 5)
    except (OSError, asyncio.TimeoutError, ValueError, UnicodeError, asyncio.IncompleteReadError):
        status, wait = 0, 0
    q.busy = False
    state, t = hook["_state"], now_ms()
    current = rows["hook"].get(key[0])
    if current is None or not current["live"]:
        queues.pop(key, None)
        return
    if 200 <= status <= 299:
        state["failing"] = None
        q.items.popleft()
    else:
        if state["failing"] is None:
            state["failing"] = t
        if status == 410 or t - state["failing"] >= DAY:
            keep("hook", {**current, "live": False})
            queues.pop(key, None)
            return
        if d.tries >= len(RETRY):
            q.items.popleft()
        else:
            d.due = t + max(RETRY[d.tries], wait)
            d.tries += 1
        if wait:
            state["hold"] = max(state["hold"], t + wait)
    if q.items:
        heapq.heappush(due_heap, (max(q.items[0].due, state["hold"]), next(sequence), key))
    else:
        queues.pop(key, None)
    pump()


# ---------------------------------------------------------------- what the clock does
def tick():
    global _frozen
    t = now_ms()
    while timers and timers[0][0] <= t:
        due, _, res, ident, name, since = heapq.heappop(timers)
        row = rows[res].get(ident)
        if row is None:
            continue
        state = row["status"]
        if name == "rest" and FAULT == "appealed-rests-too":
            if state not in ("issued", "appealed"):
                continue
        elif name == "miss" and FAULT == "running-turn-missed":
            if state not in ("booked", "running"):
                continue
        elif row["_in"] != since or state != {"lapse": "offered", "miss": "booked", "stop": "running", "rest": "issued"}[name]:
            continue
        _frozen = max(due, since)
        try:
            fire(res, row, name)
        finally:
            _frozen = None


def fire(res, row, name):
    if name == "lapse":
        row = {k: v for k, v in row.items() if k != "offered"}
        row = move(res, row, "waiting")
        emit_row("application.lapsed", res, row)
    elif name == "miss":
        row = move(res, row, "missed")
        if FAULT == "missed-tells-all":
            emit_row("turn.missed", res, row)
        else:
            emit("turn.missed", res, row, lambda user, v: row["id"])
    elif name == "stop":
        row = move(res, row, "done")
        if FAULT != "stop-tells-nobody":
            emit_row("turn.over", res, row)
    elif name == "rest":
        move(res, row, "settled")


def move(res, row, state, **sets):
    """a transition, which always counts as a change"""
    new = dict(row)
    for k, v in sets.items():
        if v is None:
            new.pop(k, None)
        else:
            new[k] = v
    new["status"] = state
    if res in ("plot", "inspection"):
        new["changed_at"] = iso(now_ms())
    entered(res, new)
    keep(res, new)
    return new


# ---------------------------------------------------------------- one exchange
class Exchange:
    __slots__ = ("method", "target", "headers", "raw", "long", "v", "route", "params", "query", "caller", "rate", "op", "body", "location")


class Op:
    def __init__(self, method, path, name, run, users, body=None, params=None, page=False):
        self.method, self.path, self.name, self.run, self.users = method, path, name, run, users
        self.body, self.params, self.page = body, params or (lambda v: {}), page
        self.segments = path.split("/")[1:]


def header(x, name):
    return x.headers.get(name, [None])[0]


def own_body(x, res, keep_out=()):
    """what was sent, without what its caller cannot write"""
    if not isinstance(x.body, dict):
        raise Refuse("unfit", [""])
    hidden = set(READ_ONLY[res])
    if res == "application" and x.caller.user != "warden" and not (FAULT == "gardener-sets-priority" and x.method == "PATCH"):
        hidden.add("priority")
    return {k: v for k, v in x.body.items() if k not in hidden}


def name_in(res, field, v):
    old = OLD_NAME.get((res, field))
    return old[1] if old and v < old[0] else field


def fit_row(x, res, skip_required=(), bound=None):
    body = own_body(x, res)
    v = x.v
    props, required = SHAPES[v][res]
    out = []
    shape = {"type": "object", "properties": props, "required": [r for r in required if r not in skip_required]}
    made_of = fit(shape, body, "", out)
    if bound is not None and "plot" in made_of and made_of["plot"] is not None and made_of["plot"] != bound:
        out.append(("plot", "value"))
        out.sort(key=lambda o: list(body).index(o[0].split(".")[0]) if o[0].split(".")[0] in body else len(body))
    if FAULT == "places-in-newest":
        out = [("household", k) if p == "household_size" else (p, k) for p, k in out]
    return body, made_of, out


def fined(fields, out, body):
    """the rule of inspections, told with what else is wrong"""
    bad = {p.split(".")[0] for p, _ in out}
    if "grade" in bad or "fine_cents" in bad or fields.get("grade") is None:
        return
    if fields.get("fine_cents", 0) > 0 and fields["grade"] != "poor":
        out.append(("fine_cents", "value"))
        order = list(body)
        out.sort(key=lambda o: order.index(o[0].split(".")[0]) if o[0].split(".")[0] in order else len(order))


def hold_ref(x, ident, place):
    plot = rows["plot"].get(ident)
    if plot is None or not may_read("plot", plot, x.caller):
        raise Refuse("no_such_reference", [place])


def shown(x, res, row, status=200, headers=()):
    return Answer(status, show(res, row, x.caller.user, x.v), headers)


def created(x, res, row, body=None):
    base = "" if FAULT == "location-without-base" else BASE
    a = Answer(201, body or show(res, row, x.caller.user, x.v), [("Location", f"{base}/{res}s/{row['id']}")])
    return a


def sign_token(claims):
    def enc(b):
        return base64.urlsafe_b64encode(b).rstrip(b"=")
    head = enc(dump({"alg": "HS256", "typ": "JWT"})) + b"." + enc(dump(claims))
    return (head + b"." + enc(hmac.new(TOKEN_SECRET, head, hashlib.sha256).digest())).decode()


def open_session(x):
    c, t = x.caller, now_ms() // 1000
    role = "gardener" if FAULT == "session-always-gardener" else c.user
    token = sign_token({"iss": "gardens", "aud": "gardens-api", "sub": c.id, "role": role, "district": c.district, "iat": t, "exp": t + 8 * 3600})
    return Answer(201, {"token": token, "ends_at": iso((t + 8 * 3600) * 1000)})


def check_tag(x, res, row, needed):
    sent = x.headers.get("if-match")
    if not sent:
        if needed and FAULT != "replace-without-tag":
            raise Refuse("tag_needed")
        return
    tags = [t.strip() for t in ",".join(sent).split(",")]
    if "*" in tags or tag_of(res, row, x.caller.user, x.v) in tags:
        return
    raise Refuse("changed_meanwhile")


# plots
def create_plot(x):
    body, f, out = fit_row(x, "plot")
    refuse_unfit(out)
    f = up("plot", f, x.v)
    t = iso(now_ms())
    f.setdefault("water", True)
    row = made("plot", "plt_" + secrets.token_hex(6), {**f, "district": x.caller.district, "status": "vacant", "made_at": t, "changed_at": t})
    row["_in"] = now_ms()
    hold_unique("plot", row)
    keep("plot", row)
    return created(x, "plot", row)


def read_row(res):
    def run(x):
        row = load("read " + res, x.params["id"], x.caller)
        if res not in ("plot", "inspection"):
            return shown(x, res, row)
        tag = tag_of(res, row, x.caller.user, x.v)
        sent = x.headers.get("if-none-match")
        if sent:
            tags = [t.strip() for t in ",".join(sent).split(",")]
            if "*" in tags or any((t[2:] if t.startswith("W/") else t) == tag for t in tags):
                return Answer(304, None, [("ETag", tag)])
        return shown(x, res, row, 200, [("ETag", tag)])
    return run


def replaced(old, new):
    """a replacement that changes nothing stores nothing"""
    return {k: v for k, v in old.items()} != {k: v for k, v in new.items()}


def replace_plot(x):
    row = load("replace plot", x.params["id"], x.caller)
    check_tag(x, "plot", row, True)
    body, f, out = fit_row(x, "plot")
    refuse_unfit(out)
    f = up("plot", f, x.v)
    new = {k: v for k, v in row.items() if k not in ("name", "spot", "area_m2", "soil", "water", "keys", "remark")}
    if FAULT == "remark-stays" and "remark" in row:
        new["remark"] = row["remark"]
    if x.v < 2 and FAULT != "old-replace-resets-water":
        f["water"] = row["water"]
    f.setdefault("water", True)
    new.update(f)
    hold_unique("plot", new)
    if replaced(row, new):
        new["changed_at"] = iso(now_ms())
        keep("plot", new)
        if new["area_m2"] != row["area_m2"] or FAULT == "resized-always":
            emit("plot.resized", "plot", new, lambda user, v: {"plot": new["id"], "was": row["area_m2"], "is": new["area_m2"]})
        row = new
    return shown(x, "plot", row)


def delete_plot(x):
    row = load("delete plot", x.params["id"], x.caller)
    check_tag(x, "plot", row, False)
    if row["status"] == "let" and FAULT != "let-plot-deleted":
        raise Refuse("not_now")
    ident = row["id"]
    clear = []
    for res, other in refers.get(ident, ()):
        r = rows[res].get(other)
        if r is None:
            continue
        if res == "inspection":
            raise Refuse("still_in_use")
        if r.get("offered") == ident:
            if FAULT != "offered-not-held" or r["status"] == "offered":
                raise Refuse("still_in_use")
            clear.append(("offered", r["id"]))
        if r.get("wish") == ident:
            clear.append(("wish", r["id"]))
    for name, other in clear:
        if name == "wish" and FAULT == "wish-left-behind":
            continue
        keep("application", {k: v for k, v in rows["application"][other].items() if k != name})
    for t in list(turns_of.get(ident, ())):
        drop("turn", rows["turn"][t])
    turns_of.pop(ident, None)
    refers.pop(ident, None)
    drop("plot", row)
    return Answer(204)


def stated(x, shape):
    """the body of a transition, held to its own shape"""
    out = []
    body = fit(shape, x.body, "", out)
    refuse_unfit(out)
    return body


ASSIGN = dict(type="object", properties={"tenant": text(minLength=1, maxLength=60)}, required=["tenant"])
OFFER = dict(type="object", properties={"plot": REF}, required=["plot"])
SHUT = dict(type="object", properties={"litres": whole(0, 5000)}, required=["litres"])
APPEAL = dict(type="object", properties={"plea": text(minLength=5, maxLength=300)}, required=["plea"])


def assign_plot(x):
    row = load("assign plot", x.params["id"], x.caller)
    b = stated(x, ASSIGN)
    if row["status"] != "vacant":
        raise Refuse("not_now")
    row = move("plot", row, "let", tenant=b["tenant"])
    emit_row("plot.let", "plot", row)
    return shown(x, "plot", row)


def vacate_plot(x):
    row = load("vacate plot", x.params["id"], x.caller)
    if row["status"] != "let":
        raise Refuse("not_now")
    if turns_ahead(row["id"]) != 0:
        raise Refuse("turns_left")
    row = move("plot", row, "vacant", tenant=None)
    return shown(x, "plot", row)


def close_plot(x):
    row = load("close plot", x.params["id"], x.caller)
    if row["status"] != "vacant" and not (FAULT == "let-plot-closed" and row["status"] == "let"):
        raise Refuse("not_now")
    return shown(x, "plot", move("plot", row, "closed"))


# applications
def create_application(x):
    body, f, out = fit_row(x, "application")
    refuse_unfit(out)
    f = up("application", f, x.v)
    if f.get("wish") is not None:
        hold_ref(x, f["wish"], "wish")
    c, t = x.caller, now_ms()
    f.setdefault("household", 1)
    f.setdefault("priority", 0)
    ident = str(uuid.uuid4())
    row = made("application", ident, {**f, "applicant": c.id, "district": c.district, "status": "waiting", "made_at": iso(t)})
    row["_in"] = row["_made"] = t
    hold_unique("application", row)
    counted = "" if FAULT == "ticket-over-all" else c.district
    tickets[counted] += 1
    row["ticket"] = tickets[counted]
    keep("application", row)
    return created(x, "application", row)


def update_application(x):
    row = load("update application", x.params["id"], x.caller)
    body = own_body(x, "application")
    props, _ = SHAPES[x.v]["application"]
    out, f, gone = [], {}, []
    needed = ("household", "household_size", "priority")
    for name, value in body.items():
        if name not in props:
            out.append((name, "unknown"))
        elif value is None:
            if name in needed:
                out.append((name, "value"))
            else:
                gone.append(name)
        else:
            f[name] = fit(props[name], value, name, out)
    if FAULT == "places-in-newest":
        out = [("household", k) if p == "household_size" else (p, k) for p, k in out]
    refuse_unfit(out)
    f = up("application", f, x.v)
    if f.get("wish") is not None and f["wish"] != row.get("wish"):
        hold_ref(x, f["wish"], "wish")
    if row["status"] != "waiting":
        raise Refuse("not_now")
    new = {k: v for k, v in row.items() if k not in gone}
    new.update(f)
    if replaced(row, new):
        keep("application", new)
        row = new
    return shown(x, "application", row)


def offer_application(x):
    row = load("offer application", x.params["id"], x.caller)
    b = stated(x, OFFER)
    hold_ref(x, b["plot"], "plot")
    if row["status"] != "waiting":
        raise Refuse("not_now")
    if rows["plot"][b["plot"]]["status"] != "vacant":
        raise Refuse("plot_not_vacant")
    row = move("application", row, "offered", offered=b["plot"])
    emit_row("application.offered", "application", row, lambda hook: hook["owner"] == row["applicant"])
    return shown(x, "application", row)


def accept_application(x):
    row = load("accept application", x.params["id"], x.caller)
    if row["status"] != "offered":
        raise Refuse("not_now")
    plot = rows["plot"].get(row.get("offered"))
    if plot is not None and plot["status"] != "vacant":
        raise Refuse("not_now" if FAULT == "plot-gone-unnamed" else "plot_gone")
    row = move("application", row, "accepted", closed_at=iso(now_ms()))
    emit_row("application.closed", "application", row)
    if plot is not None:
        tenant = row["applicant"]
        plot = move("plot", plot, "let", **({} if FAULT == "award-without-tenant" else {"tenant": tenant}))
        emit_row("plot.let", "plot", plot)
    return shown(x, "application", row)


def withdraw_application(x):
    row = load("withdraw application", x.params["id"], x.caller)
    if row["status"] not in (("waiting",) if FAULT == "offered-not-withdrawn" else ("waiting", "offered")):
        raise Refuse("application_over")
    row = move("application", row, "withdrawn", closed_at=iso(now_ms()))
    emit_row("application.closed", "application", row)
    return shown(x, "application", row)


# turns
def parent(x):
    plot = rows["plot"].get(x.params["plot"])
    if plot is None or not may_read("plot", plot, x.caller):
        raise Refuse("no_such_thing")
    return plot


def create_turn(x):
    plot = parent(x)
    if FAULT == "quota-counts-refusals":
        hold_quota(x)
        quota_used[quota_key(x)] += 1
    body, f, out = fit_row(x, "turn", bound=plot["id"])
    refuse_unfit(out)
    f = up("turn", f, x.v)
    start, t = instant(f["starts_at"]), now_ms()
    if start + HOUR * 1_000_000 >= LAST_INSTANT:
        raise Refuse("unfit", ["starts_at"])
    if FAULT == "turn-for-any-let-plot":
        if plot.get("tenant") is None:
            raise Refuse("not_yours")
    elif plot.get("tenant") != x.caller.id:
        raise Refuse("not_yours")
    if not plot["water"]:
        raise Refuse("plot_dry")
    if FAULT == "past-compared-as-text":
        if f["starts_at"][:19] <= iso(t)[:19]:
            raise Refuse("turn_past")
    elif start <= t * 1_000_000:
        raise Refuse("turn_past")
    f.setdefault("minutes", 30)
    f["void_at"] = iso(start // 1_000_000 + HOUR)
    row = made("turn", "wtr_" + secrets.token_hex(6), {**f, "plot": plot["id"], "gardener": x.caller.id, "status": "booked"})
    hold_unique("turn", row)
    if FAULT != "quota-counts-refusals":
        hold_quota(x)
        quota_used[quota_key(x)] += 1
    entered("turn", row)
    keep("turn", row)
    emit_row("turn.booked", "turn", row)
    return created(x, "turn", row)


def quota_key(x):
    return (x.caller.id, local_month(now_ms()))


def hold_quota(x):
    t = now_ms()
    if quota_used[quota_key(x)] >= 12:
        raise Refuse("month_used_up", headers=[("Retry-After", str(-(-(month_ends(t) - t) // 1000)))])


def open_turn(x):
    row = load("open turn", x.params["id"], x.caller)
    if row["status"] != "booked":
        raise Refuse("not_now")
    early = HOUR if FAULT == "opened-an-hour-before" else 15 * MINUTE
    if now_ms() * 1_000_000 < instant(row["starts_at"]) - early * 1_000_000:
        raise Refuse("too_early")
    row = move("turn", row, "running", opened_at=iso(now_ms()))
    return shown(x, "turn", row)


def shut_turn(x):
    row = load("shut turn", x.params["id"], x.caller)
    b = stated(x, SHUT)
    if row["status"] != "running":
        raise Refuse("not_now")
    row = move("turn", row, "done", litres=b["litres"])
    emit_row("turn.over", "turn", row)
    return shown(x, "turn", row)


def cancel_turn(x):
    row = load("cancel turn", x.params["id"], x.caller)
    if row["status"] != "booked":
        raise Refuse("turn_begun")
    row = move("turn", row, "cancelled")
    if FAULT == "cancelled-still-ahead":
        stuck_turns[row["plot"]] += 1
    if not may_read("turn", row, x.caller):
        return Answer(204)
    return shown(x, "turn", row)


# inspections
def create_inspection(x):
    body, f, out = fit_row(x, "inspection")
    g = up("inspection", f, x.v)
    fined(g, out, body)
    refuse_unfit(out)
    hold_ref(x, g["plot"], "plot")
    t = now_ms()
    g.setdefault("fine_cents", 0)
    row = made("inspection", "ins_" + secrets.token_hex(6), {**g, "inspector": x.caller.id, "status": "draft", "changed_at": iso(t)})
    row["_in"] = t
    keep("inspection", row)
    return created(x, "inspection", row)


def replace_inspection(x):
    row = load("replace inspection", x.params["id"], x.caller)
    check_tag(x, "inspection", row, True)
    body, f, out = fit_row(x, "inspection", skip_required=("plot",), bound=row["plot"])
    g = up("inspection", f, x.v)
    if FAULT != "replace-skips-fine-rule":
        fined(g, out, body)
    refuse_unfit(out)
    if row["status"] != "draft":
        raise Refuse("not_now")
    g["plot"] = row["plot"]
    g.setdefault("fine_cents", 0)
    new = {k: v for k, v in row.items() if k not in ("grade", "fine_cents", "findings", "internal")}
    new.update(g)
    if replaced(row, new):
        new["changed_at"] = iso(now_ms())
        keep("inspection", new)
        row = new
    return shown(x, "inspection", row)


def issue_inspection(x):
    row = load("issue inspection", x.params["id"], x.caller)
    if row["status"] != "draft":
        raise Refuse("not_now")
    row = move("inspection", row, "issued", issued_at=iso(now_ms()))
    emit_row("inspection.issued", "inspection", row)
    return shown(x, "inspection", row)


def appeal_inspection(x):
    row = load("appeal inspection", x.params["id"], x.caller)
    b = stated(x, APPEAL)
    if row["status"] != "issued":
        raise Refuse("not_now")
    return shown(x, "inspection", move("inspection", row, "appealed", plea=b["plea"]))


def settle_inspection(x):
    row = load("settle inspection", x.params["id"], x.caller)
    if row["status"] not in ("issued", "appealed"):
        raise Refuse("not_now")
    return shown(x, "inspection", move("inspection", row, "settled"))


# hooks
def create_hook(x):
    body, f, out = fit_row(x, "hook")
    refuse_unfit(out)
    if hook_count[x.caller.id] >= 4:
        raise Refuse("too_many_hooks")
    row = made("hook", "hok_" + secrets.token_hex(6), {**f, "owner": x.caller.id, "live": True})
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    row["secret"] = "gsk_" + "".join(secrets.choice(letters) for _ in range(32))
    row["_maker"], row["_v"], row["_state"] = x.caller, x.v, {"failing": None, "hold": 0}
    keep("hook", row)
    return created(x, "hook", row, {**show("hook", row, x.caller.user, x.v), "secret": row["secret"]})


def delete_hook(x):
    row = load("delete hook", x.params["id"], x.caller)
    drop("hook", row)
    return Answer(204)


# lists
def one_of(values):
    def read(t):
        if t not in values:
            raise Bad()
        return t
    return read


def several_of(values):
    def read(t):
        parts = t.split(",")
        if len(parts) > 100 or any(p not in values for p in parts):
            raise Bad()
        return parts[:1] if FAULT == "first-status-alone" else parts
    return read


def read_bool(t):
    if t not in ("true", "false"):
        raise Bad()
    return t == "true"


def read_area(t):
    if not re.fullmatch(r"-?[0-9]{1,9}", t) or not 20 <= int(t) <= 600:
        raise Bad()
    return int(t)


def read_instant(t):
    i = instant(t)
    if i is None:
        raise Bad()
    return i


def read_text(t):
    return t


def read_soil(v):
    old = ["clay", "sand", "loamy", "peat"]

    def read(t):
        if v == 2:
            return one_of(SOILS)(t)
        return {"loamy": "loam"}.get(one_of(old)(t), t)
    return read


def turn_status(v):
    def read(t):
        if v > 0:
            return one_of(TURN_STATES)(t)
        return {"queued": "booked"}.get(one_of(["queued"] + TURN_STATES[1:])(t), t)
    return read


def list_rows(x, res, candidates, filters, order, newest=False):
    c, op = x.caller, "list " + res
    found = []
    hidden = 0
    for r in candidates:
        if not all(f(r) for f in filters):
            continue
        if not rule(op, r, c):
            hidden += 1
            continue
        found.append(r)
    back = order.startswith("-")
    name = order.lstrip("-")
    if name.endswith("_at"):
        sort_key = lambda r: instant(r[name])
    elif FAULT == "area-sorted-as-text" and name == "area_m2":
        sort_key = lambda r: str(r[name])
    else:
        sort_key = lambda r: r[name]
    found.sort(key=lambda r: r["_n"], reverse=newest)
    found.sort(key=sort_key, reverse=back)
    size, page = x.query["per_page"], x.query["page"]
    total = len(found) + (hidden if FAULT == "total-counts-hidden" else 0)
    part = found[(page - 1) * size:page * size]
    return Answer(200, {"rows": [show(res, r, c.user, x.v, listed=True) for r in part], "total": total, "more": page * size < total})


def list_plots(x):
    q, filters = x.query, []
    if "status" in q:
        filters.append(lambda r: r["status"] in q["status"])
    if "soil" in q:
        filters.append(lambda r: r["soil"] == q["soil"])
    if "water" in q:
        filters.append(lambda r: r["water"] == q["water"])
    if "min_area" in q:
        filters.append(lambda r: r["area_m2"] >= q["min_area"])
    return list_rows(x, "plot", rows["plot"].values(), filters, q.get("sort", "name"))


def list_applications(x):
    q, filters = x.query, []
    for name in ("status", "applicant"):
        if name in q:
            filters.append(lambda r, name=name: r[name] == q[name])
    if "since" in q:
        filters.append(lambda r: instant(r["made_at"]) >= q["since"])
    return list_rows(x, "application", rows["application"].values(), filters, "ticket")


def list_turns(x):
    plot = parent(x)
    q, filters = x.query, []
    if "status" in q:
        filters.append(lambda r: r["status"] == q["status"])
    if "from" in q:
        filters.append(lambda r: instant(r["starts_at"]) >= q["from"])
    if FAULT == "turns-of-all-plots":
        candidates = list(rows["turn"].values())
    else:
        candidates = [rows["turn"][t] for t in turns_of.get(plot["id"], ())]
    return list_rows(x, "turn", candidates, filters, q.get("sort", "starts_at").replace("duration", "minutes"))


def list_inspections(x):
    q, filters = x.query, []
    for name in ("plot", "grade", "status"):
        if name in q:
            filters.append(lambda r, name=name: r[name] == q[name])
    return list_rows(x, "inspection", rows["inspection"].values(), filters, "-changed_at", newest=True)


def plot_params(v):
    p = {"status": several_of(PLOT_STATES), "soil": read_soil(v), "min_area": read_area,
         "sort": one_of(["name", "-name", "area_m2", "-area_m2"])}
    if v == 2:
        p["water"] = read_bool
    return p


def application_params(v):
    return {"status": one_of(APPLICATION_STATES), "applicant": read_text, "since": read_instant}


def turn_params(v):
    m = "minutes" if v == 2 else "duration"
    return {"status": turn_status(v), "from": read_instant, "sort": one_of(["starts_at", "-starts_at", m, "-" + m])}


def inspection_params(v):
    return {"plot": read_text, "grade": one_of(GRADES), "status": one_of(INSPECTION_STATES)}


G, W, BOTH = ("gardener",), ("warden",), ("gardener", "warden")
JSON = ("application/json",)
PATCHES = ("application/json", "application/merge-patch+json")
OPS = [
    Op("POST", "/sessions", "handler session", open_session, BOTH),
    Op("POST", "/plots", "create plot", create_plot, W, JSON),
    Op("GET", "/plots", "list plot", list_plots, BOTH, params=plot_params, page=True),
    Op("GET", "/plots/{id}", "read plot", read_row("plot"), BOTH),
    Op("PUT", "/plots/{id}", "replace plot", replace_plot, W, JSON),
    Op("DELETE", "/plots/{id}", "delete plot", delete_plot, W),
    Op("POST", "/plots/{id}/assign", "assign plot", assign_plot, W, JSON),
    Op("POST", "/plots/{id}/vacate", "vacate plot", vacate_plot, BOTH),
    Op("POST", "/plots/{id}/close", "close plot", close_plot, W),
    Op("POST", "/applications", "create application", create_application, G, JSON),
    Op("GET", "/applications", "list application", list_applications, BOTH, params=application_params, page=True),
    Op("GET", "/applications/{id}", "read application", read_row("application"), BOTH),
    Op("PATCH", "/applications/{id}", "update application", update_application, BOTH, PATCHES),
    Op("POST", "/applications/{id}/offer", "offer application", offer_application, W, JSON),
    Op("POST", "/applications/{id}/accept", "accept application", accept_application, G),
    Op("POST", "/applications/{id}/withdraw", "withdraw application", withdraw_application, G),
    Op("POST", "/plots/{plot}/turns", "create turn", create_turn, G, JSON),
    Op("GET", "/plots/{plot}/turns", "list turn", list_turns, BOTH, params=turn_params, page=True),
    Op("GET", "/turns/{id}", "read turn", read_row("turn"), BOTH),
    Op("POST", "/turns/{id}/open", "open turn", open_turn, G),
    Op("POST", "/turns/{id}/shut", "shut turn", shut_turn, G, JSON),
    Op("POST", "/turns/{id}/cancel", "cancel turn", cancel_turn, BOTH),
    Op("POST", "/inspections", "create inspection", create_inspection, W, JSON),
    Op("GET", "/inspections", "list inspection", list_inspections, BOTH, params=inspection_params, page=True),
    Op("GET", "/inspections/{id}", "read inspection", read_row("inspection"), BOTH),
    Op("PUT", "/inspections/{id}", "replace inspection", replace_inspection, W, JSON),
    Op("POST", "/inspections/{id}/issue", "issue inspection", issue_inspection, W),
    Op("POST", "/inspections/{id}/appeal", "appeal inspection", appeal_inspection, G, JSON),
    Op("POST", "/inspections/{id}/settle", "settle inspection", settle_inspection, W),
    Op("POST", "/hooks", "create hook", create_hook, BOTH, JSON),
    Op("GET", "/hooks/{id}", "read hook", read_row("hook"), BOTH),
    Op("DELETE", "/hooks/{id}", "delete hook", delete_hook, BOTH),
]


# ---------------------------------------------------------------- the steps, in the order of the document's language
def find_route(segments, v):
    found = []
    for op in OPS:
        if len(op.segments) != len(segments):
            continue
        params = {}
        for want, have in zip(op.segments, segments):
            if want.startswith("{"):
                if have == "":
                    break
                params[want[1:-1]] = have
            elif want != have:
                break
        else:
            if op.name == "appeal inspection" and v < 2 and FAULT != "appeal-in-older":
                continue
            if op.name == "close plot" and FAULT == "close-route-lost":
                continue
            found.append((op, params))
    return found


def challenges(op, bad):
    more = ', error="invalid_token"' if bad else ""
    out = [("WWW-Authenticate", f'Basic realm="{TITLE}", charset="UTF-8"{more}')]
    if op.path != "/sessions":
        out.append(("WWW-Authenticate", f'Bearer realm="{TITLE}"{more}'))
    return out


def b64url(t):
    if not re.fullmatch(r"[A-Za-z0-9_-]*", t) or len(t) % 4 == 1:
        raise ValueError("no base64url")
    return base64.urlsafe_b64decode(t + "=" * (-len(t) % 4))


def who(x, op):
    sent = x.headers.get("authorization")
    if not sent:
        raise Refuse("sign_in", headers=challenges(op, False))
    bad = Refuse("bad_credentials", headers=challenges(op, True))
    if len(sent) > 1:
        raise bad
    scheme, _, rest = sent[0].partition(" ")
    scheme, rest = scheme.lower(), rest.strip()
    if scheme == "basic":
        try:
            name, colon, password = base64.b64decode(rest, validate=True).decode().partition(":")
        except (ValueError, binascii.Error):
            raise bad
        person = PEOPLE.get(name)
        if not colon or person is None:
            raise bad
        want, given = person[0], password
        if FAULT == "password-eight-letters":
            want, given = want[:8], given[:8]
        if not hmac.compare_digest(want.encode(), given.encode()):
            raise bad
        c = Caller(person[1], name, person[2])
        if x.method not in ("GET", "HEAD"):
            site, origin = header(x, "sec-fetch-site"), header(x, "origin")
            if site is not None:
                if site not in ("same-origin", "none"):
                    raise Refuse("not_yours")
            elif origin is not None and origin.partition("://")[2].lower() != (header(x, "host") or "").lower():
                raise Refuse("not_yours")
        return c
    if scheme == "bearer" and op.path != "/sessions":
        try:
            head, payload, seal = rest.split(".")
            h = json.loads(b64url(head))
            if h.get("alg") != "HS256":
                raise ValueError("another algorithm")
            if not hmac.compare_digest(b64url(seal), hmac.new(TOKEN_SECRET, f"{head}.{payload}".encode(), hashlib.sha256).digest()):
                raise ValueError("no good seal")
            p = json.loads(b64url(payload))
            aud = p.get("aud")
            if p.get("iss") != "gardens" or not (aud == "gardens-api" or (isinstance(aud, list) and "gardens-api" in aud)):
                raise ValueError("of another or for another")
            exp, nbf = p.get("exp"), p.get("nbf", 0)
            if isinstance(exp, bool) or not isinstance(exp, (int, float)) or isinstance(nbf, bool) or not isinstance(nbf, (int, float)):
                raise ValueError("no end")
            if p.get("role") not in BOTH or not isinstance(p.get("sub"), str) or not p["sub"] or not isinstance(p.get("district"), str):
                raise ValueError("of nobody")
        except (ValueError, AttributeError, TypeError, RecursionError):
            raise bad
        t = now_ms() / 1000
        if t >= exp + 5 and FAULT != "session-never-ends":
            raise Refuse("session_over", headers=challenges(op, True))
        if t < nbf - 5:
            raise bad
        return Caller(p["role"], p["sub"], p["district"])
    raise bad


def count_rate(x, op, c):
    key, t = (c.user, c.id), now_ms()
    w = rates.get(key)
    if w is None or t >= w[0] + MINUTE:
        w = rates[key] = [t, 0]
    cost = 2 if op.name == "list plot" and FAULT != "list-plot-costs-one" else 1
    x.rate = [w, 0]
    if w[1] + cost > 300:
        raise Refuse("slow_down", headers=[("Retry-After", str(max(1, -(-(w[0] + MINUTE - t) // 1000))))])
    w[1] += cost
    x.rate[1] = cost


def read_json(raw):
    def no(_):
        raise ValueError("no JSON")

    def number(t):
        f = float(t)
        if math.isinf(f):
            raise ValueError("too large")
        return f
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=no, parse_float=number)
        if b"\\u" in raw:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except (ValueError, RecursionError):
        raise Refuse("unreadable")


def take_body(x, op):
    if op.body is None:
        if x.long:
            raise Refuse("too_large")
        return
    if not x.raw and not x.long:
        raise Refuse("unreadable")
    kind = header(x, "content-type")
    if kind is not None and FAULT != "charset-refused":
        kind = kind.partition(";")[0].strip()
    if kind is None or kind.lower() not in op.body:
        raise Refuse("wrong_media")
    if x.long:
        raise Refuse("too_large")
    x.body = read_json(x.raw)


def take_query(x, op, text_of):
    try:
        pairs = urllib.parse.parse_qsl(text_of, keep_blank_values=True, errors="strict") if text_of else []
    except ValueError:
        raise Refuse("bad_parameter")
    known = op.params(x.v)
    seen = set()
    x.query = {}
    for name, _ in pairs:
        if name in seen or (name not in known and not (op.page and name in ("page", "per_page"))):
            raise Refuse("bad_parameter", [name])
        seen.add(name)
    for name, value in pairs:
        if name in known:
            try:
                x.query[name] = known[name](value)
            except Bad:
                raise Refuse("bad_parameter", [name])
    if op.page:
        sent = dict(pairs)
        size, page = sent.get("per_page", "20"), sent.get("page", "1")
        if not re.fullmatch(r"[1-9][0-9]*", size):
            raise Refuse("bad_page", ["per_page"])
        size = int(size)
        if size > 50:
            raise Refuse("bad_page", ["per_page"])
        if not re.fullmatch(r"[1-9][0-9]*", page):
            raise Refuse("bad_page", ["page"])
        x.query["per_page"], x.query["page"] = size, int(page)


SUNSET_0 = int(datetime.datetime(2027, 3, 15, tzinfo=UTC).timestamp() * 1000)
AGES = {
    0: [("Deprecation", "@%d" % datetime.datetime(2025, 12, 1, tzinfo=UTC).timestamp()), ("Sunset", formatdate(SUNSET_0 / 1000, usegmt=True)),
        ("Link", '<https://gardens.veldhoek.example/editions>; rel="deprecation"')],
    1: [("Deprecation", "@%d" % datetime.datetime(2026, 10, 1, tzinfo=UTC).timestamp())],
    2: [],
}


def steps(x):
    path, _, query = x.target.partition("?")
    query = query.partition("#")[0]
    if not path.startswith("/"):
        m = re.match(r"https?://[^/?#]*", path)
        path = path[m.end():] if m else "*"
    if len(x.target) > 2048:
        raise Refuse("too_large")
    if sum(len(n) + 4 + len(v) for n, vs in x.headers.items() for v in vs) > 8192:
        raise Refuse("too_large")
    named = header(x, "gardens-edition")
    if named in VERSIONS:
        x.v = VERSIONS.index(named)
    if path.startswith(BASE + "/"):
        path = path[len(BASE):]
    elif FAULT != "root-answers-too":
        raise Refuse("no_such_path")
    segments = []
    for s in path.split("/")[1:]:
        try:
            segments.append(urllib.parse.unquote_to_bytes(s).decode("utf-8"))
        except UnicodeDecodeError:
            segments.append(s)
    found = find_route(segments, x.v)
    if not found:
        raise Refuse("no_such_path")
    allow = {op.method for op, _ in found} | {"OPTIONS"}
    if "GET" in allow:
        allow.add("HEAD")
    allowed = [("Allow", ", ".join(sorted(allow)))]
    if x.method == "OPTIONS":
        return Answer(204, None, allowed)
    method = "GET" if x.method == "HEAD" else x.method
    for op, params in found:
        if op.method == method:
            break
    else:
        raise Refuse("no_such_method", headers=allowed)
    if named is not None and named not in VERSIONS:
        raise Refuse("unknown_edition")
    if x.v == 0 and now_ms() >= SUNSET_0 and FAULT != "sunset-forgotten":
        raise Refuse("edition_over")
    x.op, x.params = op, params
    c = x.caller = who(x, op)
    count_rate(x, op, c)
    if c.user not in op.users or (FAULT == "warden-without-hooks" and op.name == "create hook" and c.user == "warden"):
        raise Refuse("wrong_role")
    take_body(x, op)
    take_query(x, op, query)
    once = header(x, "once-key") if op.method == "POST" and op.path != "/sessions" else None
    if not once:
        return op.run(x)
    slot = (c.user, c.id, op.name, once)
    if FAULT == "key-of-everybody":
        slot = (op.name, once)
    mark = (x.target, x.v, hashlib.sha256(x.raw).digest())
    kept = keys_kept.get(slot)
    if kept is not None and kept[0] > now_ms():
        if kept[1] != mark:
            raise Refuse("key_reused")
        return Answer(kept[2].status, kept[2].body, kept[2].headers)
    try:
        answer = op.run(x)
    except Refuse as r:
        if r.code in OWN:
            keys_kept[slot] = (now_ms() + DAY, mark, r.answer())
        raise
    body = answer.body
    if op.name == "create hook":
        body = {k: v for k, v in body.items() if k != "secret"}
    keys_kept[slot] = (now_ms() + DAY, mark, Answer(answer.status, body, answer.headers))
    return answer


def exchange(method, target, headers, raw, long):
    """(status, header fields, body): never fails"""
    x = Exchange()
    x.method, x.target, x.headers, x.raw, x.long = method, target, headers, raw, long
    x.v, x.rate, x.caller, x.op, x.body = 2, None, None, None, None
    try:
        tick()
        answer = steps(x)
    except Refuse as r:
        answer = r.answer()
    except Exception:
        traceback.print_exc()
        answer = Refuse("broken").answer()
    out = list(answer.headers)
    out.append(("Vary", "Authorization, Gardens-Edition"))
    out.append(("Gardens-Edition", VERSIONS[x.v]))
    if x.v < 2:
        out.extend(AGES[x.v])
        out.append(("Link", f'<{target}>; rel="successor-version"'))
    if x.rate is not None:
        w, cost = x.rate
        if answer.status == 304 and FAULT != "not-modified-counts":
            w[1] -= cost
        out.append(("Gardens-Rate-Limit", "300"))
        out.append(("Gardens-Rate-Left", str(max(0, 300 - w[1]))))
        out.append(("Gardens-Rate-Reset", str(max(0, -(-(w[0] + MINUTE - now_ms()) // 1000)))))
    body = b""
    if answer.body is not None:
        body = dump(answer.body)
        out.append(("Content-Type", "application/json"))
    return answer.status, out, body


# ---------------------------------------------------------------- HTTP/1.1
REASONS = {200: "OK", 201: "Created", 204: "No Content", 304: "Not Modified", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
           404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout", 409: "Conflict", 410: "Gone", 412: "Precondition Failed",
           413: "Content Too Large", 415: "Unsupported Media Type", 422: "Unprocessable Content", 428: "Precondition Required",
           429: "Too Many Requests", 500: "Internal Server Error"}
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
BODY_MAX = 16 * 1024
BUFFER_MAX = 16 * 1024 * 1024


class Door(asyncio.Protocol):
    def __init__(self, answer):
        self.answer = answer
        self.buffer = bytearray()
        self.timer = None
        self.closing = False
        self.continued = False

    def connection_made(self, transport):
        self.transport = transport
        self.loop = asyncio.get_running_loop()
        self.rest()

    def connection_lost(self, exc):
        if self.timer:
            self.timer.cancel()
            self.timer = None
        self.closing = True

    def rest(self):
        if self.timer:
            self.timer.cancel()
        self.timer = self.loop.call_later(60, self.transport.close)
        self.working = False

    def work(self):
        if not self.working:
            self.timer.cancel()
            self.timer = self.loop.call_later(10, self.late)
            self.working = True

    def late(self):
        self.fail("too_slow")

    def fail(self, code):
        if self.closing:
            return
        a = Refuse(code).answer()
        head = [("Vary", "Authorization, Gardens-Edition"), ("Gardens-Edition", VERSIONS[2]), ("Content-Type", "application/json")]
        self.send(a.status, head, dump(a.body), False, True)

    def data_received(self, data):
        if self.closing:
            return
        self.buffer += data
        try:
            while not self.closing and self.buffer and self.one():
                pass
        except Exception:
            traceback.print_exc()
            self.fail("unreadable")

    def one(self):
        """reads one request, if it is all there"""
        b = self.buffer
        while b[:2] == b"\r\n":
            del b[:2]
        if not b:
            return False
        self.work()
        end = b.find(b"\r\n\r\n")
        if end < 0:
            if len(b) > 256 * 1024:
                self.fail("too_large")
            return False
        lines = bytes(b[:end]).decode("latin-1").split("\r\n")
        parts = lines[0].split(" ")
        if len(parts) != 3 or not TOKEN.fullmatch(parts[0]) or not re.fullmatch(r"HTTP/1\.[01]", parts[2]) or not parts[1]:
            self.fail("unreadable")
            return False
        headers = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon or not TOKEN.fullmatch(name):
                self.fail("unreadable")
                return False
            headers.setdefault(name.lower(), []).append(value.strip(" \t"))
        start = end + 4
        coding, lengths = headers.get("transfer-encoding"), headers.get("content-length")
        if coding is not None or lengths is not None:
            if headers.get("expect", [""])[0].lower() == "100-continue" and not self.continued:
                self.continued = True
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if coding is not None:
            if lengths is not None or len(coding) != 1 or coding[0].lower() != "chunked":
                self.fail("unreadable")
                return False
            got = self.chunks(start)
            if got is None:
                if not self.closing and len(b) > BUFFER_MAX:
                    self.fail("too_large")
                return False
            raw, after = got
        elif lengths is not None:
            if len(set(lengths)) != 1 or not re.fullmatch(r"[0-9]{1,15}", lengths[0]):
                self.fail("unreadable")
                return False
            n = int(lengths[0])
            if n > BUFFER_MAX:
                self.fail("too_large")
                return False
            if len(b) < start + n:
                return False
            raw, after = bytes(b[start:start + n]), start + n
        else:
            raw, after = b"", start
        del b[:after]
        self.continued = False
        long = len(raw) > BODY_MAX
        if long:
            raw = b""
        connection = ",".join(headers.get("connection", [])).lower()
        last = "close" in connection or (parts[2] == "HTTP/1.0" and "keep-alive" not in connection)
        status, out, body = self.answer(parts[0], parts[1], headers, raw, long)
        self.send(status, out, body, parts[0] == "HEAD", last)
        if not self.closing:
            self.rest()
        return True

    def chunks(self, at):
        b, out = self.buffer, []
        while True:
            line = b.find(b"\r\n", at)
            if line < 0:
                return None
            size = bytes(b[at:line]).split(b";")[0].strip()
            if not re.fullmatch(rb"[0-9A-Fa-f]{1,8}", size):
                self.fail("unreadable")
                return None
            n = int(size, 16)
            at = line + 2
            if n == 0:
                while True:                                   # trailers
                    line = b.find(b"\r\n", at)
                    if line < 0:
                        return None
                    if line == at:
                        return b"".join(out), at + 2
                    at = line + 2
            if len(b) < at + n + 2:
                return None
            if b[at + n:at + n + 2] != b"\r\n":
                self.fail("unreadable")
                return None
            out.append(bytes(b[at:at + n]))
            at += n + 2

    def send(self, status, headers, body, bare, last):
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}"]
        lines += [f"{n}: {v}" for n, v in headers]
        lines.append("Date: " + formatdate(now_ms() / 1000, usegmt=True))
        if status not in (204, 304):
            lines.append(f"Content-Length: {len(body)}")
        if last:
            lines.append("Connection: close")
        data = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
        self.transport.write(data if bare or status in (204, 304) else data + body)
        if last:
            self.closing = True
            if self.timer:
                self.timer.cancel()
            self.transport.close()


# ---------------------------------------------------------------- the clock door
DURATION = re.compile(r"P(?:([0-9]+)Y)?(?:([0-9]+)M)?(?:([0-9]+)W)?(?:([0-9]+)D)?(?:T(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:\.[0-9]+)?)S)?)?")


def later(ms, duration):
    m = DURATION.fullmatch(duration)
    if not m or not any(m.groups()) or duration.endswith("T"):
        raise ValueError("no duration")
    y, mo, w, d, h, mi = (int(m.group(i) or 0) for i in range(1, 7))
    s = float(m.group(7) or 0)
    t = EPOCH + datetime.timedelta(milliseconds=ms)
    months = t.year * 12 + t.month - 1 + y * 12 + mo
    year, month = divmod(months, 12)
    month += 1
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    t = t.replace(year=year, month=month, day=min(t.day, _MD[month - 1] + (1 if month == 2 and leap else 0)))
    t += datetime.timedelta(weeks=w, days=d, hours=h, minutes=mi)
    return round((t - EPOCH) / datetime.timedelta(milliseconds=1)) + round(s * 1000)


def clock_answer(method, target, headers, raw, long):
    global _offset

    def tell(status, body):
        return status, [("Content-Type", "application/json")], dump(body)
    try:
        if method == "GET":
            return tell(200, {"now": iso(now_ms())})
        if method != "POST":
            return tell(400, {"wrong": "GET or POST"})
        b = json.loads(raw.decode())
        t = now_ms()
        if not isinstance(b, dict) or len(b) != 1:
            raise ValueError("one of advance and now")
        if isinstance(b.get("advance"), str):
            to = later(t, b["advance"])
        elif isinstance(b.get("now"), str) and instant(b["now"]) is not None:
            to = -(-instant(b["now"]) // 1_000_000)
        else:
            raise ValueError("one of advance and now")
        iso(to)
        if to < t:
            return tell(422, {"wrong": "that time has passed"})
        _offset += to - t
        tick()
        pump()
        return tell(200, {"now": iso(now_ms())})
    except (ValueError, OverflowError, RecursionError):
        return tell(400, {"wrong": "not understood"})


async def beat():
    while True:
        try:
            tick()
            pump()
        except Exception:
            traceback.print_exc()
        await asyncio.sleep(0.03)


def answer_and_pump(*a):
    r = exchange(*a)
    if due_heap:
        pump()
    return r


async def main(port, clock_port):
    global gate
    gate = asyncio.Semaphore(64)
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for s in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(s, stop.set)
    a = await loop.create_server(lambda: Door(answer_and_pump), "127.0.0.1", port, backlog=1024)
    b = await loop.create_server(lambda: Door(clock_answer), "127.0.0.1", clock_port)
    task = loop.create_task(beat())
    print(f"listening on 127.0.0.1:{port}, clock on 127.0.0.1:{clock_port}", flush=True)
    await stop.wait()
    task.cancel()
    a.close()
    b.close()


if __name__ == "__main__":
    args = dict(zip(sys.argv[1::2], sys.argv[2::2]))
    FAULT = args.get("--fault", "")
    SHAPES[:] = [shapes_of(v) for v in range(3)]
    asyncio.run(main(int(args["--port"]), int(args["--clock-port"])))
