"""Who calls: keys, passwords and signed requests. And how often: rates and quotas."""
import base64
import hashlib
import hmac
import math
import re
from collections import deque

from rules import Caller, Refusal
from store import bug, clock

# user, id, credential, scheme, scopes, depot
CREDENTIALS = [
    ("rider", "anna", "hw_aNna4k2Qz8LwPx7Rt1Vb6Yc3Hd9Jf5Mg", "key", ["ride"], "east"),
    ("rider", "bram", "hw_bRam7s3Wd9KvNy2Tq6Zc1Xe8Gf4Lh5Pj", "key", ["ride"], "west"),
    ("rider", "cleo", "cleo:pedal-and-bell-51", "login", ["ride"], "east"),
    ("rider", "dirk", "hw_dIrk5t1Yf8MbQx4Sn9Wz2Vc7Kg3Hj6Rl", "key", [], "west"),
    ("rider", "evi", "hw_eVie9u6Ag2NcRy5Tp1Xb8Wd4Lh7Kk3Sm", "key", ["ride"], "west"),
    ("operator", "frank", "hw_fRan2v7Bh4PdSz6Uq8Yc3Xe5Mj1Ln9To", "key", [], "east"),
    ("operator", "gina", "sig_gina:hws_gIna8w3Ck6QeTb1Vr5Zd9Yf2", "signed", [], "west"),
    ("mechanic", "hugo", "hw_hUgo3x9Dm7RfUc2Ws4Be6Zg8Nk5Op1Vq", "key", [], "east"),
    ("mechanic", "ines", "hw_iNes6y4En1SgVd8Xt7Cf3Bh9Pl2Qr5Wu", "key", [], "west"),
    ("mechanic", "jaap", "jaap:spokes+grease-77", "login", [], "east"),
]
KEYS = {c[2]: c for c in CREDENTIALS if c[3] == "key"}
LOGINS = {c[1]: c for c in CREDENTIALS if c[3] == "login"}
SIGNERS = {c[2].split(":")[0]: c for c in CREDENTIALS if c[3] == "signed"}
REALM = 'realm="Hirewheel"'
SIGNATURE = re.compile(r"t=(\d{1,15}),v1=([0-9a-f]{64})", re.ASCII)


def unknown(shown):
    e = ', error="invalid_key"' if shown else ""
    return Refusal("who_are_you", headers=[
        ("WWW-Authenticate", 'ApiKey %s, in="header", name="X-Wheel-Key"%s' % (REALM, e)),
        ("WWW-Authenticate", 'Basic %s, charset="UTF-8"' % REALM),
        ("WWW-Authenticate", 'ApiKey %s, in="header", name="X-Wheel-Signature"%s' % (REALM, e))])


def by_key(req):
    v = req.all("x-wheel-key")
    if not v:
        auth = req.get("authorization") or ""
        if bug("a-bearer") and auth.lower().startswith("bearer "):
            return KEYS.get(auth[7:].strip())
        return None
    return KEYS.get(v[0], False) if len(v) == 1 else False


def by_login(req):
    v = req.all("authorization")
    if not v:
        return None
    if bug("a-bearer") and v[0].lower().startswith("bearer "):
        return None
    if len(v) > 1 or v[0][:6].lower() != "basic ":
        return False
    try:
        text = base64.b64decode(v[0][6:].strip(), validate=True).decode("utf-8")
    except ValueError:
        return False
    name, sep, password = text.partition(":")
    c = LOGINS.get(name)
    if not sep or c is None:
        return False
    good = c[2].partition(":")[2]
    if bug("a-password-prefix"):
        return c if password and good.startswith(password) else False
    return c if hmac.compare_digest(password.encode(), good.encode()) else False


def by_signature(req):
    sig, who = req.all("x-wheel-signature"), req.all("x-wheel-signer")
    if not sig and not who:
        return None
    if len(sig) != 1 or len(who) != 1:
        return False
    m, c = SIGNATURE.fullmatch(sig[0]), SIGNERS.get(who[0])
    if not m or c is None:
        return False
    if abs(clock.now() - int(m[1]) * 1000) > 300000 and not (bug("a-old-signature") and int(m[1]) * 1000 < clock.now()):
        return False
    if len(req.body) > 16384:
        raise Refusal("too_large")
    target = req.path if bug("a-signed-path") else req.target
    text = "%s\n%s\n%s\n" % (req.method, target, m[1])
    want = hmac.new(c[2].partition(":")[2].encode(), text.encode("latin-1") + req.body, hashlib.sha256).hexdigest()
    if bug("a-signature-any"):
        return c
    return c if hmac.compare_digest(want, m[2]) else False


def identify(req):
    """The caller, or None where no credential is shown."""
    found = [c for c in (by_key(req), by_login(req), by_signature(req)) if c is not None]
    if not found:
        return None
    if not all(found) or len({(c[0], c[1]) for c in found}) > 1:
        raise unknown(True)
    c = found[0]
    if bug("p-mechanic") and c[0] == "mechanic":
        raise unknown(True)
    who = Caller(c[0], c[1], c[4], c[5], c[3])
    for o in found[1:]:
        who.scopes |= set(o[4])
        who.schemes.add(o[3])
    return who


# ---- rates -----------------------------------------------------------------------------------------------------------

class Rate:
    def __init__(self, limit, window, kind):
        self.limit, self.window, self.kind, self.state = limit, window, kind, {}

    def look(self, key, now):
        """(left before this request, ms until there is more)"""
        s = self.state.get(key)
        if self.kind == "sliding":
            if s is None:
                s = self.state[key] = deque()
            while s and s[0] + self.window <= now:
                s.popleft()
            return self.limit - len(s), (s[0] + self.window - now if s else self.window)
        if self.kind == "fixed":
            if s is None or s[0] + self.window <= now:
                s = self.state[key] = [now, 0]
            return self.limit - s[1], s[0] + self.window - now
        per = self.window / self.limit
        if s is None:
            s = self.state[key] = [float(self.limit), now]
        s[0], s[1] = min(float(self.limit), s[0] + (now - s[1]) / per), now
        whole = math.floor(s[0] + 1e-9)
        return whole, (whole + 1 - s[0]) * per

    def take(self, key, now):
        s = self.state[key]
        if self.kind == "sliding":
            s.append(now)
        elif self.kind == "fixed":
            s[1] += 1
        else:
            s[0] -= 1


EVERY, REPORTS, STRANGERS = Rate(600, 60000, "sliding"), Rate(30, 3600000, "fixed"), Rate(240, 60000, "bucket")


def count_rates(ctx):
    """Counts the request in all rates that apply, or refuses; what is told of it goes to ctx.rate_headers."""
    now, c = clock.now(), ctx.caller
    REPORTS.limit = 31 if bug("l-reports") else 30
    who = "%s %s" % (c.user, c.id) if c else "address " + ctx.req.address
    apply = [(EVERY, who)]
    if c and c.user == "rider" and ctx.op == "create report":
        apply.append((REPORTS, "all" if bug("l-reports-shared") else who))
    if c is None:
        apply.append((STRANGERS, ctx.req.address))
    looked = [(r, k) + r.look(k, now) for r, k in apply]
    over = [x for x in looked if x[2] < 1]
    if over:
        wait = max(math.ceil(x[3] / 1000) for x in over)
        worst = min(looked, key=lambda x: x[2])
        ctx.rate_headers = tell(worst[0].limit, 0, wait)
        raise Refusal("slow_down", headers=[("Retry-After", str(wait))] if not bug("l-retry-after") else [])
    told = []
    for r, k, _, _ in looked:
        r.take(k, now)
        left, more = r.look(k, now)
        told.append((left, r.limit, more))
    left, limit, more = min(told)
    ctx.rate_headers = tell(limit, left + (1 if bug("l-remaining") else 0), math.ceil(more / 1000))


def tell(limit, left, reset):
    return [("X-RateLimit-Limit", str(limit)), ("X-RateLimit-Remaining", str(left)), ("X-RateLimit-Reset", str(reset))]


# ---- the quota: 25 hires a day ---------------------------------------------------------------------------------------

used = {}


def day():
    return clock.now() // 86400000


def quota_ask(caller):
    n = used.get((caller.id, day()), 0)
    if n >= (26 if bug("l-quota-one") else 25):
        left = (day() + 1) * 86400000 - clock.now()
        raise Refusal("used_up", headers=[("Retry-After", str(math.ceil(left / 1000)))])


def quota_use(caller):
    k = (caller.id, day())
    used[k] = used.get(k, 0) + 1
