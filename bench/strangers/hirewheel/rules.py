"""Who may do what, the machines, and what follows from a change."""
import hooks
from schema import BY_NAME, FIELDS, ridden, docked
from store import bug, clock, iso, parse_iso, store, ulid, whsec

MIN, HOUR, DAY = 60000, 3600000, 86400000


class Refusal(Exception):
    def __init__(self, code, violations=None, headers=None, own=False):
        self.code, self.violations, self.headers, self.own = code, violations, headers or [], own


class Caller:
    def __init__(self, user, ident, scopes=(), depot="", scheme=""):
        self.user, self.id, self.scopes, self.depot, self.schemes = user, ident, set(scopes), depot, {scheme}


# ---- permissions: (operations, users, scopes, condition, fields) -------------------------------------------------

ALL_STATION = ["create station", "list station", "read station", "update station", "delete station", "open station", "close station", "reopen station"]
ALL_BICYCLE = ["create bicycle", "list bicycle", "read bicycle", "update bicycle", "delete bicycle", "flag bicycle", "mend bicycle", "retire bicycle", "recover bicycle"]


def on_street(row, c):
    return row["status"] != "retired"


def own_depot(row, c):
    return row["depot"] == c.depot


def owner(row, c):
    return row["owner"] == c.id


RULES = [
    (["list station", "read station"], ["anyone"], [], None, None),
    (ALL_STATION, ["operator"], [], None, None),
    (["list docked"], ["operator", "mechanic"], [], None, None),
    (["list docked", "list bicycle", "read bicycle"], ["rider"], [], on_street, None),
    (["list bicycle", "read bicycle"], ["mechanic"], [], None, None),
    (ALL_BICYCLE, ["operator"], [], None, None),
    (["update bicycle", "flag bicycle", "mend bicycle"], ["mechanic"], [], own_depot, None),
    (["create profile"], ["rider"], [], None, None),
    (["read profile", "replace profile", "delete profile"], ["rider"], [], owner, None),
    (["read profile", "list profile"], ["operator"], [], None, ["owner", "name", "locale"]),
    (["create hire"], ["rider"], ["ride"], None, None),
    (["list hire", "read hire", "start hire", "return hire", "cancel hire"], ["rider"], [], lambda r, c: r["rider"] == c.id, None),
    (["list hire", "read hire"], ["operator"], [], None, None),
    (["create report"], ["rider", "operator"], [], None, None),
    (["list report", "read report", "update report"], ["rider"], [], lambda r, c: r["reporter"] == c.id, None),
    (["list report", "read report", "update report", "accept report", "fix report", "reject report"], ["mechanic"], [], own_depot, None),
    (["list report", "read report", "update report", "reject report"], ["operator"], [], None, None),
    (["create hook"], ["operator", "mechanic"], [], None, None),
    (["list hook", "read hook", "delete hook"], ["operator", "mechanic"], [], owner, None),
    (["list entry", "read entry"], ["operator"], [], None, None),
]


FOUND = {}


def rules_for(op, caller):
    user = caller.user if caller is not None else None
    out = FOUND.get((op, user))
    if out is None:
        out = FOUND[(op, user)] = [(scopes, cond, fields) for ops, users, scopes, cond, fields in RULES
                                   if op in ops and ("anyone" in users or user in users)]
    return out


def for_anyone(op):
    return any(op in ops and "anyone" in users for ops, users, _, _, _ in RULES)


def lacks(caller, scopes):
    return bool(scopes) and not bug("a-scope") and not set(scopes) <= (caller.scopes if caller else set())


def holds(op, row, caller):
    if op == "read hire" and bug("a-hire-other"):
        return True
    if op == "list report" and bug("a-list-depot") and caller and caller.user == "mechanic":
        return True
    if op == "list bicycle" and bug("a-retired") or op == "mend bicycle" and bug("a-mend-depot"):
        return bool(rules_for(op, caller))
    return any(not lacks(caller, s) and (cond is None or cond(row, caller)) for s, cond, _ in rules_for(op, caller))


def visible_fields(res, op, row, caller):
    """None for all of them, or the set of those that the rules show."""
    out = set()
    for s, cond, fields in rules_for(op, caller):
        if not lacks(caller, s) and (cond is None or cond(row, caller)):
            if fields is None or bug("a-profile-fields") and op == "read profile":
                return None
            out |= set(fields)
    return out


def may_read(res, row, caller):
    return holds("read " + res, row, caller)


# ---- machines ----------------------------------------------------------------------------------------------------

def price(row, now):
    if row.get("started_at") is None:
        base = 100
    else:
        base = 100 + int((now // 1000 - parse_iso(row["started_at"]) // 1000) / 60) * 5
    return base + (50 if row["insured"] else 0)


def T(froms, to, els=None, guard=None, then=None, sets=None):
    return dict(froms=froms.split(), to=to, els=els, guard=guard, then=then, sets=sets)


def bike(name, extra=None):
    def follow(row, ctx):
        if bug("s-free") and name == "free" and ctx is None:
            return
        fire(ctx, "bicycle", store.get("bicycle", row["bicycle"]), name, extra(row) if extra else None)
    return follow


TRANS = {
    "station": {
        "open": T("planned", "open", sets=lambda r, now, ctx: {"opened_at": iso(now)}),
        "close": T("open", "closed", guard=("station_not_empty", lambda r: docked(r["id"]) == 0 or bug("s-close-full"))),
        "reopen": T("closed", "open")},
    "bicycle": {
        "hold": T("docked", "held", "bicycle_taken"), "free": T("held", "docked"), "ride": T("held", "hired"),
        "dock": T("hired", "docked"), "lose": T("hired", "lost"), "flag": T("docked", "broken"), "recover": T("lost", "broken"),
        "mend": T("broken", "docked", sets=lambda r, now, ctx: {"mends": r["mends"] + 1}),
        "retire": T("docked broken lost", "retired", "bicycle_in_use")},
    "hire": {
        "start": T("reserved", "riding", then=bike("ride"), sets=lambda r, now, ctx: {"started_at": iso(now)}),
        "return": T("riding", "ended", then=bike("dock", lambda h: {"station": h["destination"]}),
                    sets=lambda r, now, ctx: {"ended_at": iso(now), "destination": ctx.body["destination"], "price_cents": price(r, now)}),
        "cancel": T("reserved", "cancelled", "too_late", then=bike("free")),
        "expire": T("reserved", "expired", then=bike("free")),
        "lose": T("riding", "lost", then=bike("lose"), sets=lambda r, now, ctx: {"ended_at": iso(now)})},
    "report": {
        "accept": T("open", "accepted"),
        "fix": T("accepted", "fixed", sets=lambda r, now, ctx: {"closed_at": iso(now)}),
        "reject": T("open accepted", "rejected", guard=("too_dangerous", lambda r: r["severity"] != "dangerous" or bug("s-reject-dangerous")),
                    sets=lambda r, now, ctx: {"closed_at": iso(now), "reason": ctx.body["reason"]}),
        "lapse": T("open", "lapsed", sets=lambda r, now, ctx: {"closed_at": iso(now)})},
}
OWN = {"bicycle_in_use", "too_late"}
TIMED = {("hire", "reserved"): ("expire", 15 * MIN), ("hire", "riding"): ("lose", 24 * HOUR), ("report", "open"): ("lapse", 30 * DAY)}


def timer(res, row):
    t = TIMED.get((res, row["status"]))
    if not t:
        return
    ident, since = row["id"], row["_since"]

    def due():
        r = store.get(res, ident)
        if r is None or r["_since"] != since or t[0] not in TRANS[res] or r["status"] not in TRANS[res][t[0]]["froms"]:
            return
        try:
            fire(None, res, r, t[0])
            hooks.publish(store.commit(), None)
        except Refusal:
            store.rollback()
    store.after.append(lambda: clock.at(since + t[1], due))


def stamp(res, row, now):
    if "updated_at" in BY_NAME[res]:
        row["updated_at"] = iso(now)


def own_errors(ctx, op, row, nxt):
    if op == "create hire":
        if not any(p["owner"] == ctx.caller.id for p in store.rows["profile"].values()):
            raise Refusal("no_profile", own=True)
        b = store.get("bicycle", nxt["bicycle"])
        low = 11 if bug("x-battery") else 10
        if b.get("battery_pct") is not None and b["battery_pct"] < low:
            raise Refusal("battery_low", own=True)
    elif op == "return hire":
        st = store.get("station", nxt["destination"])
        if st["status"] != "open" and not bug("x-shut"):
            raise Refusal("station_shut", own=True)
        if docked(st["id"]) >= st["capacity"] + (1 if bug("x-full") else 0):
            raise Refusal("station_full", own=True)


def fire(ctx, res, row, name, extra=None, called=False):
    """One transition, whoever makes it: a caller (`called`), what follows, or the clock (no ctx)."""
    t = TRANS[res][name]
    froms = t["froms"]
    if bug("s-reopen-planned") and name == "reopen":
        froms = ["planned", "closed"]
    if bug("s-retire-held") and name == "retire":
        froms = froms + ["held"]
    if row["status"] not in froms:
        raise Refusal(t["els"] or "wrong_state", own=t["els"] in OWN)
    if t["guard"] and not t["guard"][1](row):
        raise Refusal(t["guard"][0], own=True)
    now = clock.now()
    nxt = dict(row)
    if t["sets"]:
        nxt.update(t["sets"](row, now, ctx))
    if extra:
        nxt.update(extra)
    if called:
        own_errors(ctx, name + " " + res, row, nxt)
    nxt["status"], nxt["_since"] = t["to"], now
    if bug("s-lost-name") and res == "hire" and name == "lose":
        nxt["status"] = "missing"
    if not (bug("r-updated-stale") and res == "station"):
        stamp(res, nxt, now)
    if res == "hire":
        hire_limit(nxt, row)
    store.put(res, nxt)
    timer(res, nxt)
    hooks.emit(name + " " + res, res, row, nxt, ctx)
    if t["then"]:
        t["then"](nxt, ctx)
    return store.get(res, row["id"])


def hire_limit(nxt, row=None):
    live = ("reserved", "riding")
    if nxt["status"] in live and (row is None or row["status"] not in live):
        n = sum(1 for h in store.rows["hire"].values() if h["rider"] == nxt["rider"] and h["status"] in live)
        if n >= (3 if bug("l-hires") else 2):
            raise Refusal("used_up")


# ---- rows made, changed, deleted -----------------------------------------------------------------------------------

PREFIX = {"station": "sta_", "bicycle": "bic_", "profile": "pro_", "hire": "hir_", "report": "rep_", "hook": "hok_"}
INITIAL = {"station": "planned", "bicycle": "docked", "hire": "reserved", "report": "open"}


def unique(res, row):
    for other in store.rows[res].values():
        if other["id"] == row["id"]:
            continue
        if res == "station" and other["code"] == row["code"] or res == "bicycle" and other["frame"] == row["frame"]:
            raise Refusal("exists")
        if res == "profile":
            a, b = other["email"], row["email"]
            if other["owner"] == row["owner"] or (a == b if bug("r-email-case") else a.lower() == b.lower()):
                raise Refusal("exists")
        if res == "report" and other["status"] == row["status"] == "open" and (other["bicycle"], other["reporter"]) == (row["bicycle"], row["reporter"]):
            raise Refusal("exists")


def make(ctx, res, values):
    now, c = clock.now(), ctx.caller
    row = {"id": PREFIX[res] + ulid()}
    for f in FIELDS[res]:
        if f.name in values:
            row[f.name] = values[f.name]
        elif f.default is not None:
            row[f.name] = "nl" if bug("r-locale-default") and f.name == "locale" else f.default
    if res in INITIAL:
        row["status"], row["_since"] = INITIAL[res], now
        if bug("s-initial") and res == "station":
            row["status"] = "open"
    if res == "station":
        row["created_at"] = iso(now)
    elif res == "bicycle":
        row["mends"] = 0
    elif res == "profile":
        row["owner"], row["created_at"] = c.id, iso(now)
    elif res == "hire":
        row.update(rider=c.id, origin=store.get("bicycle", row["bicycle"])["station"], reserved_at=iso(now), price_cents=0)
    elif res == "report":
        row.update(reporter=c.id, depot=store.get("bicycle", row["bicycle"])["depot"], made_at=iso(now))
    elif res == "hook":
        row.update(owner=c.id, secret=whsec(), enabled=True, _version=ctx.version, _maker=c)
    stamp(res, row, now)
    own_errors(ctx, "create " + res, None, row)
    if res == "hire":
        row["number"] = store.count("hire " + row["bicycle"])
    elif res == "bicycle":
        row["number"] = "B-%05d" % store.count("bicycle")
    elif res == "report":
        row["number"] = "R-%04d" % store.count("report")
    unique(res, row)
    if res == "hire":
        hire_limit(row)
    elif res == "hook":
        n = sum(1 for h in store.rows["hook"].values() if h["owner"] == c.id or bug("l-hooks"))
        if n >= 3:
            raise Refusal("used_up")
    store.put(res, row)
    if res in INITIAL:
        timer(res, row)
    hooks.emit("create " + res, res, None, row, ctx)
    if res == "hire":
        fire(ctx, "bicycle", store.get("bicycle", row["bicycle"]), "hold")
    elif res == "report" and row["severity"] == "dangerous":
        b = store.get("bicycle", row["bicycle"])
        if b["status"] == "docked":
            fire(ctx, "bicycle", b, "flag")
    return store.get(res, row["id"])


def change(ctx, op, res, row, nxt):
    """Stores what an update or a replacement makes of a row; nothing where it is as it was."""
    if {k: v for k, v in row.items() if v is not None} == {k: v for k, v in nxt.items() if v is not None} and not (bug("e-noop") and res == "station"):
        return row
    unique(res, nxt)
    now = clock.now()
    stamp(res, nxt, now)
    if bug("s-lapse-restart") and res == "report":
        nxt["_since"] = now
    store.put(res, nxt)
    if bug("s-lapse-restart") and res == "report":
        timer(res, nxt)
    hooks.emit(op, res, row, nxt, ctx)
    return nxt


def remove(ctx, res, row):
    from store import REFS, REF_TO
    for r, f, how in REFS:
        if REF_TO[(r, f)] != res:
            continue
        for other in store.referring(r, f, row["id"]):
            if how == "restrict":
                if bug("r-held") and r == "hire":
                    continue
                raise Refusal("in_use")
            if how == "cascade":
                store.drop(r, other["id"])
            else:
                store.put(r, {k: v for k, v in other.items() if k != f})
    store.drop(res, row["id"])
