"""Events: which there are, the log of them, and their deliveries to those who subscribed."""
import asyncio
import base64
import email.utils
import hashlib
import hmac
import json
import random
import ssl
import urllib.parse

import schema
from store import bug, clock, iso, store, ulid

OPS = {"station.opened": ["open station", "reopen station"], "bicycle.added": ["create bicycle"], "bicycle.broken": ["flag bicycle"],
       "bicycle.moved": ["update bicycle"], "hire.reserved": ["create hire"], "hire.ended": ["return hire"],
       "hire.dropped": ["cancel hire", "expire hire"], "hire.lost": ["lose hire"], "report.made": ["create report"],
       "report.closed": ["fix report", "reject report", "lapse report"]}
WAITS = [10000, 120000, 1800000]
queues = {}
tasks = set()


def emit(op, res, before, after, ctx):
    for kind, ops in OPS.items():
        if op not in ops:
            continue
        if op == "expire hire" and bug("v-expire-silent") or op == "reopen station" and bug("v-reopen-silent"):
            continue
        if kind == "bicycle.moved" and before["station"] == after["station"] and not bug("v-moved-always"):
            continue
        for _ in range(2 if bug("v-ended-twice") and kind == "hire.ended" else 1):
            store.events.append({"id": "evt_" + ulid(), "kind": kind, "at": clock.now(), "res": res, "before": before, "row": after})


def payload(e, version):
    r, b = e["row"], e["before"]
    if e["kind"] == "bicycle.broken":
        out = {"bicycle": r["id"], "number": r["number"], "station": r["station"]}
        if bug("v-broken-number"):
            del out["number"]
        return out
    if e["kind"] == "bicycle.moved":
        was, now = b["station"], r["station"]
        if bug("v-moved-swapped"):
            was, now = now, was
        return {"bicycle": r["id"], "was": was, "is": now}
    if bug("v-closed-before") and e["kind"] == "report.closed":
        r = b
    return schema.down(e["res"], schema.shown(e["res"], r, "operator"), version)


def wants(hook, kind):
    if not hook.get("events"):
        return True
    return any(p == "*" or p == kind or p.endswith(".*") and kind.startswith(p[:-1]) and not bug("v-star") for p in hook["events"])


def publish(events, caller):
    import rules
    for e in events:
        entry = {"id": e["id"], "kind": e["kind"], "about": e["row"]["id"], "of": e["res"], "by": caller.id if caller else "service",
                 "at": iso(e["at"]), "data": payload(e, schema.NEW), "_made": e["at"]}
        if not (bug("v-log-lost") and e["kind"] == "hire.lost"):
            store.put("entry", entry)
            store.journal = []
        for hook in store.all("hook"):
            if not hook["enabled"] or not wants(hook, e["kind"]):
                continue
            if not rules.may_read(e["res"], e["row"], hook["_maker"]) and not bug("v-unread"):
                continue
            version = schema.NEW if bug("w-hook") else hook["_version"]
            at = iso(e["at"])
            body = {"id": e["id"], "type": e["kind"], "timestamp": at, "data": payload(e, version)}
            d = {"hook": hook["id"], "id": e["id"], "kind": e["kind"], "body": json.dumps(body, ensure_ascii=False).encode(), "tries": 0}
            q = queues.setdefault((hook["id"], e["row"]["id"]), [])
            q.append(d)
            if len(q) == 1:
                begin(q)


def begin(q):
    t = asyncio.get_event_loop().create_task(attempt(q))
    tasks.add(t)
    t.add_done_callback(tasks.discard)


def wait_of(value):
    if value.isdigit():
        return int(value) * 1000
    try:
        return max(0, int(email.utils.parsedate_to_datetime(value).timestamp() * 1000) - clock.now())
    except (TypeError, ValueError):
        return 0


async def post(url, headers, body):
    u = urllib.parse.urlsplit(url)
    tls = u.scheme.lower() == "https"
    reader, writer = await asyncio.open_connection(u.hostname, u.port or (443 if tls else 80), ssl=ssl.create_default_context() if tls else None)
    try:
        path = (u.path or "/") + ("?" + u.query if u.query else "")
        head = ["POST %s HTTP/1.1" % path, "Host: " + u.netloc.rpartition("@")[2], "Content-Length: %d" % len(body), "Connection: close"]
        head += ["%s: %s" % h for h in headers]
        writer.write(("\r\n".join(head) + "\r\n\r\n").encode() + body)
        await writer.drain()
        while True:
            status, later = int((await reader.readline()).split(b" ")[1]), 0
            while True:
                line = (await reader.readline()).strip().decode("latin-1")
                if not line:
                    break
                name, _, value = line.partition(":")
                if name.lower() == "retry-after":
                    later = wait_of(value.strip())
            if status >= 200:
                return status, min(later, 86400000)
    finally:
        writer.close()


async def attempt(q):
    d = q[0]
    hook = store.get("hook", d["hook"])
    if hook is None or not hook["enabled"]:
        q.clear()
        return
    if hook.get("_until", 0) > clock.now():
        clock.at(hook["_until"], lambda: q and q[0] is d and begin(q))
        return
    ts = str(clock.now() // 1000)
    key = base64.b64decode(hook["secret"][6:])
    signed = d["body"] if bug("v-signed-body") else b"%s.%s.%s" % (d["id"].encode(), ts.encode(), d["body"])
    sig = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    ident = "evt_" + ulid() if bug("v-new-id") and d["tries"] else d["id"]
    if ident != d["id"]:
        sig = "v1," + base64.b64encode(hmac.new(key, b"%s.%s.%s" % (ident.encode(), ts.encode(), d["body"]), hashlib.sha256).digest()).decode()
    headers = [("Content-Type", "application/json"), ("webhook-id", ident), ("webhook-timestamp", ts), ("webhook-signature", sig),
               ("X-Wheel-Event", d["kind"])]
    try:
        status, later = await asyncio.wait_for(post(hook["url"], headers, d["body"]), 5)
    except Exception:
        status = later = 0
    hook = store.get("hook", d["hook"])
    if hook is None:
        q.clear()
        return
    d["tries"] += 1
    if 200 <= status < 300 or bug("v-redirect") and 300 <= status < 400:
        hook.pop("_failing", None)
        return done(q)
    if later:
        hook["_until"] = clock.now() + later
    failing = hook.setdefault("_failing", clock.now())
    if status == 410 or clock.now() - failing >= 2 * 86400000:
        hook["enabled"] = False
        q.clear()
        return
    waits = WAITS[:2] if bug("v-retry-less") else WAITS
    if d["tries"] > len(waits):
        return done(q)
    wait = waits[d["tries"] - 1]
    clock.at(clock.now() + int(wait * random.uniform(0.85, 1.15)), lambda: q and q[0] is d and begin(q))


def done(q):
    if q:
        q.pop(0)
    if q:
        begin(q)
