"""The clock, the tables, and one transaction at a time."""
import base64
import calendar
import datetime as dt
import heapq
import os
import re
import time

FAULT = {"id": None}


def bug(name):
    return FAULT["id"] == name


# ---- time ------------------------------------------------------------------------------------------------------

class Clock:
    def __init__(self):
        self.offset = 0
        self.jobs, self.n = [], 0
        self.wake = lambda: None

    def now(self):
        return int(time.time() * 1000) + self.offset

    def at(self, due, fn):
        self.n += 1
        heapq.heappush(self.jobs, (due, self.n, fn))
        self.wake()

    def run_due(self):
        while self.jobs and self.jobs[0][0] <= self.now():
            heapq.heappop(self.jobs)[2]()

    def move(self, to):
        now = self.now()
        if to < now:
            return False
        self.offset += to - now
        self.run_due()
        return True


clock = Clock()


def iso(ms):
    d = dt.datetime.fromtimestamp(ms // 1000, dt.timezone.utc)
    return d.strftime("%Y-%m-%dT%H:%M:%S") + ".%03dZ" % (ms % 1000)


DATE = re.compile(r"^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)\Z", re.ASCII)


def parse_iso(text):
    """Milliseconds since 1970 of an RFC 3339 date-time, or None."""
    m = DATE.match(text) if isinstance(text, str) else None
    if not m:
        return None
    try:
        sec = int(m[6])
        leap = sec == 60
        d = dt.datetime(int(m[1]), int(m[2]), int(m[3]), int(m[4]), int(m[5]), 59 if leap else sec)
    except ValueError:
        return None
    ms = calendar.timegm(d.timetuple()) * 1000 + (1000 if leap else 0)
    if m[7]:
        ms += int((m[7][1:] + "000")[:3])
    if m[8] not in "Zz":
        h, mi = int(m[8][1:3]), int(m[8][4:6])
        if h > 23 or mi > 59:
            return None
        ms -= (1 if m[8][0] == "+" else -1) * (h * 60 + mi) * 60000
    return ms


DURATION = re.compile(r"^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?\Z", re.ASCII)


def plus(ms, text):
    m = DURATION.match(text) if isinstance(text, str) else None
    if not m or text.endswith("T") or not any(m.groups()):
        return None
    months = int(m[1] or 0) * 12 + int(m[2] or 0)
    if months:
        d = dt.datetime.fromtimestamp(ms // 1000, dt.timezone.utc)
        k = d.year * 12 + d.month - 1 + months
        y, mo = divmod(k, 12)
        d = d.replace(year=y, month=mo + 1, day=min(d.day, calendar.monthrange(y, mo + 1)[1]))
        ms = calendar.timegm(d.timetuple()) * 1000 + ms % 1000
    days = int(m[3] or 0) * 7 + int(m[4] or 0)
    return ms + days * 86400000 + int(m[5] or 0) * 3600000 + int(m[6] or 0) * 60000 + int(float(m[7] or 0) * 1000)


# ---- identifiers -----------------------------------------------------------------------------------------------

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
last_ulid = [0]


def ulid():
    n = clock.now() << 80 | int.from_bytes(os.urandom(10), "big") >> 1
    if n <= last_ulid[0]:
        n = last_ulid[0] + 1
    last_ulid[0] = n
    return "".join(CROCKFORD[n >> s & 31] for s in range(125, -5, -5))


def whsec():
    return "whsec_" + base64.b64encode(os.urandom(32)).decode()


# ---- rows ------------------------------------------------------------------------------------------------------

REFS = [("bicycle", "station", "restrict"), ("profile", "home", "clear"), ("hire", "bicycle", "restrict"),
        ("hire", "origin", "restrict"), ("hire", "destination", "restrict"), ("report", "bicycle", "cascade")]
REF_TO = {("bicycle", "station"): "station", ("profile", "home"): "station", ("hire", "bicycle"): "bicycle",
          ("hire", "origin"): "station", ("hire", "destination"): "station", ("report", "bicycle"): "bicycle"}


class Store:
    def __init__(self):
        self.rows = {r: {} for r in ("station", "bicycle", "profile", "hire", "report", "hook", "entry")}
        self.index = {(r, f): {} for r, f, _ in REFS}
        self.counters, self.seq = {}, 0
        self.journal, self.events, self.after = [], [], []

    def get(self, res, ident):
        row = self.rows[res].get(ident)
        if row is not None and res == "entry" and row["_made"] + 30 * 86400000 <= clock.now():
            return None
        return row

    def all(self, res):
        if res == "entry":
            edge, t = clock.now() - 30 * 86400000, self.rows["entry"]
            for k in [k for k, r in t.items() if r["_made"] <= edge]:
                del t[k]
        return list(self.rows[res].values())

    def referring(self, res, field, ident):
        t = self.rows[res]
        return [t[i] for i in self.index[(res, field)].get(ident, ())]

    def _set(self, res, ident, row):
        old = self.rows[res].get(ident)
        for (r, f), idx in self.index.items():
            if r == res:
                a, b = old and old.get(f), row and row.get(f)
                if a != b:
                    if a is not None:
                        idx[a].pop(ident, None)
                    if b is not None:
                        idx.setdefault(b, {})[ident] = 1
        if row is None:
            self.rows[res].pop(ident, None)
        else:
            self.rows[res][ident] = row

    def put(self, res, row):
        old = self.rows[res].get(row["id"])
        if old is None and "_seq" not in row:
            self.seq += 1
            row["_seq"] = self.seq
        self.journal.append((res, row["id"], old))
        self._set(res, row["id"], row)

    def drop(self, res, ident):
        self.journal.append((res, ident, self.rows[res].get(ident)))
        self._set(res, ident, None)

    def count(self, name):
        n = self.counters.get(name, 0) + 1
        if not (bug("r-number-gap") and name.startswith("hire")):
            self.journal.append((None, name, n - 1))
        self.counters[name] = n
        return n

    def rollback(self):
        for res, ident, old in reversed(self.journal):
            if res is None:
                self.counters[ident] = old
            else:
                self._set(res, ident, old)
        self.journal, self.events, self.after = [], [], []

    def commit(self):
        events, after = self.events, self.after
        self.journal, self.events, self.after = [], [], []
        for fn in after:
            fn()
        return events


store = Store()
