"""Hirewheel: bicycle hire of a city. python3 service.py --port N --clock-port M [--fault ID]"""
import argparse
import asyncio
import base64
import hashlib
import hmac
import json
import os
import re
import sys
import uuid
from urllib.parse import parse_qsl, unquote

sys.dont_write_bytecode = True
import access
import hooks
import httpd
import rules
import schema
from rules import Refusal
from schema import NEW, OLD, Violation, down, fields_in
from store import FAULT, bug, clock, iso, parse_iso, plus, store

BASE = "/v1"
SECRET = os.urandom(16)
SUNSET = parse_iso("2028-03-01T00:00:00Z")
ERRORS = {
    "malformed": (400, "The body is no JSON."), "unsupported_media": (415, "A body is application/json."),
    "not_acceptable": (406, "Answers are application/json."), "bad_parameter": (400, "A parameter is not as stated."),
    "bad_page": (400, "There is no such page."), "missing_field": (422, "{name} is missing"), "unknown_field": (422, "{name} is no field"),
    "invalid": (422, "A field is not as stated."), "no_route": (404, "There is no such address."),
    "no_method": (405, "This address does not take that method."), "who_are_you": (401, "A good credential is needed."),
    "forbidden": (403, "This is not for you to do."), "scope_lacking": (403, "Your credential lacks a scope."),
    "not_found": (404, "There is no such thing."), "no_such_reference": (422, "It refers to what there is not."),
    "exists": (409, "There is one already."), "in_use": (409, "Something refers to it."), "wrong_state": (409, "Not in this state."),
    "bicycle_taken": (409, "This bicycle is not free."), "changed": (412, "It has changed meanwhile."), "tag_needed": (428, "Send If-Match."),
    "key_reused": (422, "This key was used for another request."), "busy": (409, "Try again."), "slow_down": (429, "Too many requests."),
    "used_up": (403, "That is as many as you may have."), "too_large": (413, "That is too large."),
    "url_too_long": (414, "This address is too long."), "too_slow": (408, "The request did not arrive in time."),
    "no_version": (400, "There is no such version."), "version_over": (410, "This version has ended."), "unavailable": (503, "Try again later."),
    "failed": (500, "Something failed here."), "no_profile": (409, "Make a profile first."), "battery_low": (422, "Its battery is nearly empty."),
    "station_shut": (409, "That station is not open."), "station_full": (409, "That station is full."),
    "station_not_empty": (409, "Bicycles stand at this station."), "bicycle_in_use": (409, "Somebody has this bicycle."),
    "too_late": (409, "It was begun or is over."), "too_dangerous": (409, "What is dangerous is mended."),
}
VARY = "Hirewheel-Version, X-Wheel-Key, Authorization, X-Wheel-Signature, X-Wheel-Signer, Origin"
ORIGIN = "https://app.hirewheel.example"
EXPOSE = ("X-Request-Id, X-Wheel-Error, Hirewheel-Version, Deprecation, Sunset, Link, ETag, Location, Retry-After, Allow, "
          "WWW-Authenticate, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset")


class Ctx:
    def __init__(self, req):
        self.req, self.rid, self.version = req, uuid.uuid4().hex, NEW
        self.caller, self.op, self.route, self.params, self.query = None, None, None, {}, []
        self.body, self.raw, self.rate_headers, self.cross = None, None, [], False


# ---- routes --------------------------------------------------------------------------------------------------------------

ROUTES = []


class Route:
    def __init__(self, method, path, op, fn, k):
        self.method, self.path, self.op, self.fn, self.k = method, path, op, fn, k
        self.pattern = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path) + r"\Z")
        self.takes = k.get("takes")          # "row" or "map"
        self.query = k.get("query", {})
        self.pages = k.get("pages")
        self.cache = k.get("cache")


def route(method, path, op, **k):
    def keep(fn):
        ROUTES.append(Route(method, path, op, fn, k))
        return fn
    return keep


def find_route(ctx):
    req = ctx.req
    base = "/api" if bug("p-base") else BASE
    if not req.path.startswith(base + "/"):
        raise Refusal("no_route")
    path = req.path[len(base):]
    hits = [(r, m) for r in ROUTES for m in [r.pattern.match(path)] if m]
    if bug("p-recover"):
        hits = [h for h in hits if h[0].op != "recover bicycle"]
    if bug("p-profile-delete"):
        hits = [h for h in hits if h[0].op != "delete profile"]
    if not hits:
        raise Refusal("no_route")
    methods = {h[0].method for h in hits}
    allow = sorted(methods | ({"HEAD"} if "GET" in methods else set()) | {"OPTIONS"})
    ctx.allow = ", ".join(allow)
    method = "GET" if req.method == "HEAD" and not bug("e-head") else req.method
    if method != "OPTIONS" and method not in methods:
        raise Refusal("no_route" if bug("x-method") else "no_method", headers=[("Allow", ctx.allow)])
    said = req.all("hirewheel-version")
    if bug("w-default-old") and not said:
        said = [OLD]
    if said:
        if len(said) > 1 or said[0] not in (OLD, NEW):
            if not bug("w-unknown"):
                raise Refusal("no_version")
            said = [NEW]
        ctx.version = said[0]
        if ctx.version == OLD and clock.now() >= SUNSET and not bug("w-sunset"):
            raise Refusal("version_over")
    if method == "OPTIONS":
        return None
    r, m = next(h for h in hits if h[0].method == method)
    if ctx.version == OLD and r.op == "list docked" and not bug("w-endpoint"):
        raise Refusal("no_route")
    ctx.params = {k: unquote(v) for k, v in m.groupdict().items()}
    return r


# ---- one request ----------------------------------------------------------------------------------------------------------

def run(ctx):
    req = ctx.req
    limit = 2048
    if len(req.target) > limit + (1 if bug("l-url") else 0):
        raise Refusal("url_too_long")
    if sum(len(n) + len(v) + 4 for n, v in req.headers) > 8192:
        raise Refusal("too_large")
    r = ctx.route = find_route(ctx)
    if r is None:
        return preflight(ctx)
    op = ctx.op = r.op
    if op != "tell tariff":
        ctx.caller = access.identify(req)
        if ctx.caller is None and not rules.for_anyone(op):
            raise access.unknown(False)
    access.count_rates(ctx)
    if op != "tell tariff":
        allowed = rules.rules_for(op, ctx.caller)
        if not allowed or cross_site(ctx):
            raise Refusal("forbidden")
        if all(rules.lacks(ctx.caller, s) for s, _, _ in allowed):
            raise Refusal("forbidden" if bug("x-scope-code") else "scope_lacking")
    read_request(ctx)
    key = req.get("idempotency-key") if req.method == "POST" else None
    if key:
        return once(ctx, key)
    return act(ctx)


def act(ctx):
    ctx.route_answer = None
    try:
        quota = ctx.op == "create hire"
        if quota and bug("l-quota-early"):
            access.quota_ask(ctx.caller)
            access.quota_use(ctx.caller)
        ans = ctx.route.fn(ctx, **ctx.params)
        if quota and not bug("l-quota-early"):
            access.quota_ask(ctx.caller)
            access.quota_use(ctx.caller)
    except BaseException:
        store.rollback()
        raise
    hooks.publish(store.commit(), ctx.caller)
    return ans


KEPT = {}


def once(ctx, key):
    req, now = ctx.req, clock.now()
    who = ("", "") if bug("e-key-callers") and ctx.op == "create report" else (ctx.caller.user, ctx.caller.id)
    k = who + (ctx.op, key)
    print_ = (req.path, req.query, ctx.version, b"" if bug("e-key-body") and ctx.op == "create hire" else req.body)
    old = KEPT.get(k)
    if old and old[0] + 86400000 > now:
        if old[1] != print_:
            raise Refusal("key_reused")
        return httpd.Answer(old[2].status, list(old[2].headers), old[3])
    try:
        ans = act(ctx)
        body = ans.body
        if ctx.op == "create hook":
            body = dump({k: v for k, v in json.loads(body).items() if k != "secret"})
    except Refusal as e:
        if not e.own:
            raise
        ans = refuse(ctx, e)
        body = ans.body
    KEPT[k] = (now, print_, ans, body)
    return httpd.Answer(ans.status, list(ans.headers), ans.body)


def preflight(ctx):
    headers = [("Allow", ctx.allow)]
    if ctx.req.get("origin") == ORIGIN and ctx.req.get("access-control-request-method"):
        headers += [("Access-Control-Allow-Methods", ctx.allow), ("Access-Control-Max-Age", "600"),
                    ("Access-Control-Allow-Headers", ctx.req.get("access-control-request-headers") or "Content-Type")]
    return httpd.Answer(204, headers)


def cross_site(ctx):
    """A name with a password is kept by browsers: other sites may not write with it."""
    c, req = ctx.caller, ctx.req
    if c is None or "login" not in c.schemes or req.method in ("GET", "HEAD") or req.get("origin") == ORIGIN:
        return False
    site, origin = req.get("sec-fetch-site"), req.get("origin")
    if site:
        return site not in ("same-origin", "none")
    return bool(origin) and origin.partition("://")[2] != req.get("host")


def accepts(text):
    for part in text.split(","):
        bits = [b.strip().lower() for b in part.split(";")]
        q = 1.0
        for b in bits[1:]:
            if b.startswith("q="):
                try:
                    q = float(b[2:])
                except ValueError:
                    q = 0
        if bits[0] in ("application/json", "application/*", "*/*") and q > 0:
            return True
    return False


def read_request(ctx):
    req, r = ctx.req, ctx.route
    accept = ", ".join(req.all("accept"))
    if accept and not accepts(accept) and not bug("x-accept"):
        raise Refusal("not_acceptable")
    if r.takes and req.body:
        media = (req.get("content-type") or "").partition(";")[0].strip().lower()
        if media != "application/json" and not (req.method == "PATCH" and media == "application/merge-patch+json"):
            raise Refusal("unsupported_media")
    if len(req.body) > (16383 if bug("l-body") else 16384):
        raise Refusal("too_large")
    if r.takes:
        if not req.body.strip():
            raise Refusal("malformed")
        try:
            ctx.body = json.loads(req.body.decode("utf-8"), parse_constant=no_constant)
            if b"\\u" in req.body:
                dump(ctx.body)          # half a surrogate pair is no text
        except (ValueError, RecursionError):
            raise Refusal("malformed")
    read_query(ctx)


def no_constant(text):
    raise ValueError(text)


# ---- parameters and pages -----------------------------------------------------------------------------------------------------

def read_query(ctx):
    r = ctx.route
    pairs = parse_qsl(ctx.req.query, keep_blank_values=True)
    page = {"cursor": ["cursor", "limit"], "page": ["page", "per_page"]}.get(r.pages, [])
    seen = {}
    for n, v in pairs:
        if n in page or n in r.query:
            if n in seen and (n in page or r.query[n][0] not in ("in", "fields")):
                raise Refusal("bad_parameter")
            seen.setdefault(n, []).append(v)
        elif not (bug("e-unknown-parameter") and r.op == "list hire"):
            raise Refusal("bad_parameter")
    ctx.filters, ctx.sort, ctx.chosen = [], None, None
    for n, vs in seen.items():
        if n not in page:
            r.query[n][1](ctx, n, vs)
    ctx.pairs = sorted((n, v) for n, v in pairs if n not in page)
    if r.pages:
        read_page(ctx, seen)


def whole(text, low=1):
    if not re.fullmatch(r"[0-9]{1,15}", text) or int(text) < low:
        raise Refusal("bad_page")
    return int(text)


def read_page(ctx, seen):
    if ctx.route.pages == "page":
        ctx.page, ctx.size = whole(seen.get("page", ["1"])[0]), whole(seen.get("per_page", ["10"])[0])
        ctx.size = min(ctx.size, 60 if bug("l-clamp") else 50)
        return
    ctx.size = whole(seen.get("limit", ["20"])[0])
    if ctx.size > 100:
        if not (bug("l-over-max") and ctx.op == "list hire"):
            raise Refusal("bad_page")
        ctx.size = 100
    ctx.start = None
    if "cursor" in seen:
        ctx.start = open_cursor(ctx, seen["cursor"][0])


def cursor_of(ctx):
    c = ctx.caller
    pairs = [] if bug("l-cursor") and ctx.op == "list bicycle" else ctx.pairs
    text = repr((ctx.op, ctx.version, c and (c.user, c.id), pairs, ctx.params))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def make_cursor(ctx, key, seq):
    data = json.dumps([cursor_of(ctx), key, seq]).encode()
    return base64.urlsafe_b64encode(hmac.new(SECRET, data, hashlib.sha256).digest()[:12] + data).decode().rstrip("=")


def open_cursor(ctx, text):
    try:
        raw = base64.urlsafe_b64decode((text + "=" * (-len(text) % 4)).encode())
        if not hmac.compare_digest(raw[:12], hmac.new(SECRET, raw[12:], hashlib.sha256).digest()[:12]):
            raise ValueError
        bound, key, seq = json.loads(raw[12:])
    except ValueError:
        raise Refusal("bad_page")
    if bound != cursor_of(ctx):
        raise Refusal("bad_page")
    return key, seq


def values_of(res, name, ctx):
    """The values that a text of this field may have, or None for any."""
    if name == "status":
        return schema.STATES[res]
    hit = fields_in(res, ctx.version).get(name)
    f = hit[0] if hit else schema.BY_NAME[res][name]
    return (f.k["item"].k if f.kind == "list" else f.k).get("enum")


def by(res, field, op="="):
    """A filter by a field of the row."""
    def read(ctx, name, vs):
        if name == field and name != "status" and name not in fields_in(res, ctx.version) and not bug("w-added"):
            raise Refusal("bad_parameter")
        if op == "in":
            vs = [x for v in vs for x in v.split(",")]
            if bug("e-in-last"):
                vs = vs[-1:]
        allowed = values_of(res, field, ctx)
        if allowed and op in ("=", "in") and any(v not in allowed for v in vs):
            raise Refusal("bad_parameter")
        kind = schema.BY_NAME[res][field].kind
        if kind == "integer":
            if not re.fullmatch(r"-?[0-9]{1,15}", vs[0]):
                raise Refusal("bad_parameter")
            vs = [int(vs[0])]
        elif field.endswith("_at"):
            vs = [parse_iso(vs[0])]
            if vs[0] is None:
                raise Refusal("bad_parameter")
        vs = [schema.up_value(res, field, v) if ctx.version == OLD else v for v in vs]
        v = vs[0]

        def keep(row):
            x = row.get(field)
            if x is None:
                return False
            if field.endswith("_at"):
                x = parse_iso(x)
            if op == ">=":
                return x > v if bug("e-since") and field == "reserved_at" else x >= v
            if op == "<=":
                return x <= v
            if op == "prefix":
                return v in x if bug("e-prefix") else x.startswith(v)
            if op == "contains":
                return v.lower() in x.lower() if bug("e-contains") else v in x
            return v in x if isinstance(x, list) else x in vs
        ctx.filters.append(keep)
    return (op, read)


def through(field, res, of):
    def read(ctx, name, vs):
        if vs[0] not in schema.BY_NAME[res][of].k["enum"]:
            raise Refusal("bad_parameter")
        ctx.filters.append(lambda row: store.get(res, row[field])[of] == vs[0])
    return ("=", read)


def search(*fields):
    def read(ctx, name, vs):
        words = vs[0].lower().split()
        if len(words) > 16:
            raise Refusal("bad_parameter")
        some = any if bug("e-search-any") and words else all
        ctx.filters.append(lambda row: some(any(w in row[f].lower() for f in fields) for w in words))
    return ("=", read)


def sorts(names):
    def read(ctx, name, vs):
        n, descending = vs[0].lstrip("-") if vs[0][:2] != "--" else "", vs[0].startswith("-")
        if n not in names:
            raise Refusal("bad_parameter")
        ctx.sort = (names[n], descending and not (bug("e-sort") and n == "capacity"))
    return ("=", read)


def chooses(res):
    def read(ctx, name, vs):
        fields, out = fields_in(res, ctx.version), set()
        for n in [x for v in vs for x in v.split(",")]:
            if n not in fields or fields[n][0].staff and ctx.caller.user not in schema.STAFF:
                raise Refusal("bad_parameter")
            out.add(n)
        ctx.chosen = out
    return ("fields", read)


# ---- what is sent ------------------------------------------------------------------------------------------------------------

def merge(old, patch):
    if not isinstance(patch, dict) or not isinstance(old, dict):
        return patch
    out = dict(old)
    for k, v in patch.items():
        if v is None:
            out.pop(k, None)
        else:
            out[k] = merge(out.get(k), v)
    return out


def take(ctx, res, mode, row=None, bound=None):
    """The values that a create, update or replace sends, in the newest shape. Refuses what does not fit."""
    body, fields, out, bad, refs = ctx.body, fields_in(res, ctx.version), {}, [], []
    if not isinstance(body, dict):
        raise Refusal("invalid", [Violation("value", "", "a map", schema.show(body))])
    staff = ctx.caller.user in schema.STAFF
    for n, v in body.items():
        path = "/" + schema.esc(n)
        if n not in fields:
            if not (bug("r-unknown-field") and res == "profile"):
                bad.append(Violation("unknown", path, "no such field"))
            continue
        f, now = fields[n]
        if f.ro or f.staff and not staff and not bug("r-cost-writable"):
            continue
        if v is None and mode == "update":
            if f.req:
                bad.append(Violation("value", path, "a value", "null"))
            elif now:
                out[now] = None
            continue
        if mode == "update" and f.kind == "map" and isinstance(v, dict):
            v = merge(row.get(now) or {}, v)
        before = len(bad)
        v = schema.check(f, v, path, bad)
        if now is None:
            continue
        v = schema.up_value(res, now, v) if ctx.version == OLD else v
        if len(bad) == before:
            if row is not None and f.imm and v != row.get(now) and not (bug("r-frame-changes") and n == "frame"):
                bad.append(Violation("value", path, "as it was", schema.show(v)))
            elif bound and now in bound and bound[now] != v:
                bad.append(Violation("value", path, "as the path says", schema.show(v)))
            elif "ref" in f.k:
                refs.append((f.k["ref"], v))
        out[now] = v
    if mode != "update":
        for n, (f, now) in fields.items():
            if f.req and not f.ro and f.default is None and n not in body and not (bound and now in bound):
                bad.append(Violation("missing", "/" + n, "to be there"))
    if bound:
        out.update(bound)
    if res == "bicycle" and not bug("r-battery-rule"):
        nxt = dict(row or {}, **out)
        name = "charge" if ctx.version == OLD else "battery_pct"
        wrong = {v.path for v in bad}
        if nxt.get("kind") in ("city", "cargo") and nxt.get("battery_pct") is not None and not wrong & {"/kind", "/" + name}:
            bad.append(Violation("value", "/" + name, "nothing for a bicycle without a motor", schema.show(nxt["battery_pct"])))
    if bad:
        order = {schema.esc(n): i for i, n in enumerate(body)}
        bad.sort(key=lambda v: order.get(v.path[1:].split("/")[0], 1 << 20))
        invalid(bad)
    for to, ident in refs:
        target = store.get(to, ident)
        if (target is None or not rules.may_read(to, target, ctx.caller)) and not (bug("r-home-unchecked") and to == "station" and res == "profile"):
            raise Refusal("no_such_reference")
    return out


def invalid(bad):
    kind = "value" if bug("x-missing") and bad[0].kind == "missing" else bad[0].kind
    raise Refusal({"missing": "missing_field", "unknown": "unknown_field"}.get(kind, "invalid"), bad)


def take_map(ctx, f):
    """The one member that a transition asks for."""
    body, bad = ctx.body, []
    if not isinstance(body, dict):
        bad.append(Violation("value", "", "a map", schema.show(body)))
    elif f.name not in body:
        bad.append(Violation("missing", "/" + f.name, "to be there"))
    else:
        schema.check(f, body[f.name], "/" + f.name, bad)
    if bad:
        invalid(bad)


# ---- rows -----------------------------------------------------------------------------------------------------------------------

def load(ctx, res, ident, op=None):
    """The row of the path, if this caller may do `op` with it."""
    row = store.get(res, ident)
    if row is None:
        raise Refusal("not_found")
    if not rules.holds(op or ctx.op, row, ctx.caller):
        seen = rules.may_read(res, row, ctx.caller)
        raise Refusal("forbidden" if seen or bug("a-hook-told") and ctx.op == "delete hook" else "not_found")
    return row


def view(ctx, res, row, first=False, op=None):
    op = op or "read " + res
    fields = rules.visible_fields(res, op, row, ctx.caller) if rules.rules_for(op, ctx.caller) else None
    user = ctx.caller.user if ctx.caller else None
    return down(res, schema.shown(res, row, user, first, fields), ctx.version)


def dump(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def reply(status, value, headers=None):
    return httpd.Answer(status, [("Content-Type", "application/json")] + (headers or []), dump(value))


def tag_of(ctx, shown):
    return '"%s"' % hashlib.sha256(ctx.version.encode() + dump(shown)).hexdigest()[:24]


def precondition(ctx, res, row, required):
    sent = ctx.req.all("if-match")
    if not sent:
        if required and not bug("e-if-match"):
            raise Refusal("tag_needed")
        return
    tags = [t.strip() for t in ", ".join(sent).split(",")]
    mine = tag_of(ctx, view(ctx, res, row))
    if bug("e-weak"):
        tags = [t[2:] if t.startswith("W/") else t for t in tags]
    if "*" not in tags and mine not in tags and not (bug("e-stale-tag") and res == "bicycle"):
        raise Refusal("changed")


def reader(path, res, **k):
    tagged = k.pop("etag", False)

    @route("GET", path, "read " + res, **k)
    def read(ctx, id):
        row = load(ctx, res, id)
        shown = view(ctx, res, row)
        if not tagged:
            return reply(200, shown)
        tag = tag_of(ctx, shown)
        known = [t.strip().removeprefix("W/") for t in ", ".join(ctx.req.all("if-none-match")).split(",")]
        if (tag in known or "*" in known) and not (bug("e-304") and res == "bicycle"):
            return httpd.Answer(304, [("ETag", tag)])
        return reply(200, shown, [("ETag", tag)])
    return read


def lister(path, res, op=None, order=None, pages="cursor", **k):
    op = op or "list " + res

    @route("GET", path, op, pages=pages, **k)
    def many(ctx, **parents):
        for name, ident in parents.items():
            parent = store.get(name, ident)
            if parent is None or not rules.may_read(name, parent, ctx.caller):
                raise Refusal("not_found")
        rows = [r for r in store.all(res) if rules.holds(op, r, ctx.caller) and all(r[n] == i for n, i in parents.items())
                and all(keep(r) for keep in ctx.filters)]
        field, descending = ctx.sort or order or ("_seq", False)
        if bug("e-order") and op == "list hire" and not ctx.sort:
            descending = False
        rows.sort(key=lambda r: r["_seq"])
        if field != "_seq":
            rows.sort(key=lambda r: r[field], reverse=descending)
        return page(ctx, res, rows, field, descending, op)
    return many


def page(ctx, res, rows, field, descending, op):
    total = len(rows)
    if ctx.route.pages == "page":
        start = (ctx.page - 1) * ctx.size
        part = rows[start:start + ctx.size]
        total = len(part) if bug("l-total") else total
        return reply(200, {"entries": [view(ctx, res, r, op=op) for r in part], "total": total, "more": start + ctx.size < len(rows)})
    if ctx.start:
        key, seq = ctx.start

        def after(r):
            if r[field] == key:
                return r["_seq"] > seq
            return (r[field] < key) == descending
        rows = [r for r in rows if after(r)]
    part = rows[:ctx.size]
    more = len(rows) >= ctx.size if bug("l-more") and op == "list station" else len(rows) > ctx.size
    if bug("l-skip") and more and len(part) > 1 and op == "list report":
        last = rows[ctx.size]
    elif part:
        last = part[-1]
    nxt = make_cursor(ctx, last[field], last["_seq"]) if more and part else None
    items = [view(ctx, res, r, op=op) for r in part]
    if ctx.chosen is not None:
        keep = ctx.chosen | (set() if bug("e-select-id") else {"id"})
        items = [{n: v for n, v in i.items() if n in keep} for i in items]
    return reply(200, {"data": items, "next_cursor": nxt, "has_more": more})


def created(ctx, res, row):
    where = ("" if bug("p-location") else BASE) + "/" + res + "s/" + row["id"]
    headers = [] if bug("e-location") and res == "bicycle" else [("Location", where)]
    return reply(200 if bug("e-created-200") and res == "report" else 201, view(ctx, res, row, first=True), headers)


def creator(path, res):
    @route("POST", path, "create " + res, takes="row")
    def create(ctx, **parents):
        for name, ident in parents.items():
            parent = store.get(name, ident)
            if parent is None or not rules.may_read(name, parent, ctx.caller):
                raise Refusal("not_found")
        return created(ctx, res, rules.make(ctx, res, take(ctx, res, "create", None, parents)))


def mover(path, res, name, takes=None):
    @route("POST", path + "/" + name, name + " " + res, takes="map" if takes else None)
    def move(ctx, id):
        row = load(ctx, res, id)
        if takes:
            take_map(ctx, takes)
            if "ref" in takes.k:
                target = store.get(takes.k["ref"], ctx.body[takes.name])
                if target is None:
                    raise Refusal("no_such_reference")
        return reply(200, view(ctx, res, rules.fire(ctx, res, row, name, called=True)))


def updater(path, res, states=None, if_match=None):
    @route("PATCH", path, "update " + res, takes="row")
    def update(ctx, id):
        row = load(ctx, res, id)
        if if_match:
            precondition(ctx, res, row, if_match == "required")
        values = take(ctx, res, "update", row)
        if states and row["status"] not in states:
            raise Refusal("wrong_state")
        nxt = {k: v for k, v in dict(row, **values).items() if v is not None}
        return reply(200, view(ctx, res, rules.change(ctx, "update " + res, res, row, nxt)))


def deleter(path, res, states=None):
    @route("DELETE", path, "delete " + res)
    def delete(ctx, id):
        row = load(ctx, res, id)
        if states and row["status"] not in states:
            raise Refusal("wrong_state")
        rules.remove(ctx, res, row)
        return httpd.Answer(204)


# ---- stations -------------------------------------------------------------------------------------------------------------------

creator("/stations", "station")
lister("/stations", "station", order=("code", False), query={
    "district": by("station", "district", "in"), "status": by("station", "status"), "q": search("name", "code"),
    "min_capacity": by("station", "capacity", ">="), "sort": sorts({"name": "name", "capacity": "capacity"})})
reader("/stations/{id}", "station", etag=True, cache="public, max-age=5")
updater("/stations/{id}", "station", if_match="required")
deleter("/stations/{id}", "station", ["planned", "closed"])
for step in ("open", "close", "reopen"):
    mover("/stations/{id}", "station", step)
lister("/stations/{station}/bicycles", "bicycle", "list docked", ("number", False), query={"kind": by("bicycle", "kind")})

# ---- bicycles -------------------------------------------------------------------------------------------------------------------

creator("/bicycles", "bicycle")
lister("/bicycles", "bicycle", order=("number", True), query={
    "kind": by("bicycle", "kind"), "status": by("bicycle", "status", "in"), "station": by("bicycle", "station"),
    "max_battery": by("bicycle", "battery_pct", "<="), "frame": by("bicycle", "frame", "prefix"),
    "district": through("station", "station", "district"), "fields": chooses("bicycle")})
reader("/bicycles/{id}", "bicycle", etag=True)
updater("/bicycles/{id}", "bicycle", ["docked", "broken"], "accepted")
deleter("/bicycles/{id}", "bicycle", ["retired"])
for step in ("flag", "mend", "retire", "recover"):
    mover("/bicycles/{id}", "bicycle", step)

# ---- profiles -------------------------------------------------------------------------------------------------------------------

creator("/profiles", "profile")
lister("/profiles", "profile", query={"locale": by("profile", "locale"), "name": by("profile", "name", "contains")})
reader("/profiles/{id}", "profile")
deleter("/profiles/{id}", "profile")


@route("PUT", "/profiles/{id}", "replace profile", takes="row")
def replace_profile(ctx, id):
    row = load(ctx, "profile", id)
    values = take(ctx, "profile", "replace", row)
    kept = {n: row[n] for n in ("id", "owner", "created_at", "pin", "_seq") if n in row}
    nxt = dict(kept, locale="en", newsletter=False)
    if bug("e-put-keeps") and "home" in row:
        nxt["home"] = row["home"]
    nxt.update(values)
    return reply(200, view(ctx, "profile", rules.change(ctx, "replace profile", "profile", row, nxt)))


# ---- hires ----------------------------------------------------------------------------------------------------------------------

creator("/hires", "hire")
lister("/hires", "hire", order=("reserved_at", True), query={
    "status": by("hire", "status", "in"), "bicycle": by("hire", "bicycle"), "since": by("hire", "reserved_at", ">="),
    "sort": sorts({"reserved": "reserved_at", "price": "price_cents"})})
reader("/hires/{id}", "hire")
mover("/hires/{id}", "hire", "start")
mover("/hires/{id}", "hire", "return", schema.F("destination", "string", True, ref="station"))
mover("/hires/{id}", "hire", "cancel")

# ---- reports --------------------------------------------------------------------------------------------------------------------

creator("/bicycles/{bicycle}/reports", "report")
lister("/reports", "report", query={"status": by("report", "status"), "severity": by("report", "severity", "in"),
                                    "bicycle": by("report", "bicycle"), "part": by("report", "parts")})
reader("/reports/{id}", "report")
updater("/reports/{id}", "report", ["open", "accepted"])
mover("/reports/{id}", "report", "accept")
mover("/reports/{id}", "report", "fix")
mover("/reports/{id}", "report", "reject", schema.F("reason", "string", True, minlen=3, maxlen=120))

# ---- hooks, entries, the tariff -------------------------------------------------------------------------------------------------

creator("/hooks", "hook")
lister("/hooks", "hook")
reader("/hooks/{id}", "hook")
deleter("/hooks/{id}", "hook")
lister("/entries", "entry", pages="page", query={"kind": by("entry", "kind"), "about": by("entry", "about")})
reader("/entries/{id}", "entry")


@route("GET", "/tariff", "tell tariff", cache="public, max-age=3600")
def tariff(ctx):
    return reply(200, {"unlock_cents": 100, "minute_cents": 5, "insurance_cents": 50})


# ---- answers --------------------------------------------------------------------------------------------------------------------

def refuse(ctx, e):
    status, message = ERRORS[e.code]
    code = e.code
    if bug("x-too-late") and code == "too_late":
        status = 400
    if bug("x-exists") and code == "exists":
        status = 422
    if bug("x-code-name") and code == "bicycle_taken":
        code = "bicycle-taken"
    if e.violations:
        message = message.replace("{name}", e.violations[0].path[1:].replace("/", "."))
    out = {"code": code, "status": status, "message": message, "request_id": ctx.rid}
    if e.violations:
        out["violations"] = [v.json() for v in e.violations]
    if bug("x-request-id"):
        del out["request_id"]
    headers = [] if bug("x-header") and status == 401 else [("X-Wheel-Error", code)]
    return reply(status, out, headers + e.headers)


def finish(ctx, ans):
    h = ans.headers
    if ctx.route is not None and ctx.route.cache and ans.status in (200, 304):
        h.append(("Cache-Control", ctx.route.cache))
    h.append(("X-Request-Id", ctx.rid))
    if not bug("w-no-header"):
        h.append(("Hirewheel-Version", ctx.version))
    h.append(("Vary", VARY))
    h.extend(ctx.rate_headers)
    if ctx.version == OLD and not (bug("w-deprecation") and ans.status >= 400):
        h.append(("Deprecation", "@1772323200"))
        h.append(("Sunset", "Tue, 29 Feb 2028 23:00:00 GMT" if bug("w-sunset-date") else "Wed, 01 Mar 2028 00:00:00 GMT"))
        h.append(("Link", '<https://hirewheel.example/upgrade>; rel="deprecation", <%s>; rel="successor-version"' % ctx.req.target))
    if ctx.req.get("origin") == ORIGIN:
        h.append(("Access-Control-Allow-Origin", ORIGIN))
        h.append(("Access-Control-Expose-Headers", EXPOSE))
    return ans


def app(req):
    ctx = Ctx(req)
    try:
        ans = run(ctx)
    except Refusal as e:
        ans = refuse(ctx, e)
    except Exception:
        import traceback
        traceback.print_exc()
        store.rollback()
        ans = refuse(ctx, Refusal("failed"))
    return finish(ctx, ans)


def bare(code):
    ctx = Ctx(httpd.Request("GET", "/", [], "?"))
    return finish(ctx, refuse(ctx, Refusal(code)))


# ---- the clock's door -----------------------------------------------------------------------------------------------------------

async def clock_app(req):
    status = 200
    if req.method == "POST":
        try:
            said = json.loads(req.body)
            assert isinstance(said, dict) and len(said) == 1
            to = plus(clock.now(), said["advance"]) if "advance" in said else parse_iso(said["now"])
            assert to is not None
        except (ValueError, KeyError, AssertionError, OverflowError):
            return reply(400, {"error": "advance or now"})
        if not clock.move(to):
            return reply(422, {"error": "the clock goes forward alone"})
        await asyncio.sleep(0.002)
    elif req.method != "GET":
        return reply(400, {"error": "GET or POST"})
    return reply(status, {"now": iso(clock.now())})


def seed():
    now = iso(clock.now())
    store.put("station", {"id": "sta_01JD00000000000000000000A1", "code": "CTR-001", "name": "Central Square", "district": "centre", "capacity": 20,
                          "spot": {"lat": 52.37, "lon": 4.9}, "status": "open", "opened_at": "2025-04-01T06:00:00.000Z", "created_at": now,
                          "updated_at": now, "_since": clock.now()})
    store.commit()


async def main(args):
    loop = asyncio.get_running_loop()
    handle = [None]

    def wake():
        if handle[0]:
            handle[0].cancel()
        if clock.jobs:
            wait = (clock.jobs[0][0] - clock.now()) / 1000
            handle[0] = loop.call_later(min(max(wait, 0), 3600), due)

    def due():
        handle[0] = None
        clock.run_due()
        wake()
    clock.wake = wake
    seed()
    door = httpd.Door(app, lambda: bare("too_slow"), lambda: bare("malformed"))
    a = await door.open(args.port)
    b = await httpd.Door(clock_app, lambda: bare("too_slow"), lambda: bare("malformed"), 30, 600).open(args.clock_port)
    print("listening", flush=True)
    async with a, b:
        await asyncio.gather(a.serve_forever(), b.serve_forever())


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--port", type=int, required=True)
    p.add_argument("--clock-port", type=int, required=True)
    p.add_argument("--fault")
    args = p.parse_args()
    FAULT["id"] = args.fault
    try:
        asyncio.run(main(args))
    except KeyboardInterrupt:
        pass
