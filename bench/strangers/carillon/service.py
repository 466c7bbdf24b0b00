#!/usr/bin/env python3
"""Carillon: towers, bells, tunes and recitals over HTTP/1.1, kept in memory.

    python3 service.py --port N --clock-port M [--fault ID]
"""
import argparse
import asyncio
import base64
import csv
import datetime
import hashlib
import io
import itertools
import json
import math
import os
import re
import signal
import sys
import time
import uuid
from http import HTTPStatus
from urllib.parse import unquote, unquote_plus

FAULTS = """
tower-created-200 bellcount-text owner-missing-in-list missing-tune-html
recital-no-location etag-bare total-count-words bell-delete-200 export-as-text
towers-open token-any key-for-bearer bulk-takes-bearer no-challenge
tunes-limit-51 recital-status-any country-unanchored bell-extra-members
tags-repeated bulk-empty bell-weight-zero duration-odd idempotency-key-any
bell-position-zero cancel-no-reason tempo-true publish-conflict-body
search-details-text city-null-refused access-code-shown created-at-writable
kind-capital published-at-empty fresh-204 recording-any-type
recording-as-json calls-any-value export-year-optional
offset-huge q-ascii composer-null patch-array unknown-tune search-empty-text
bells-of-removed start-overflow title-overlong bulk-broken-json cursor-garbage
recital-id-word limit-empty
towers-cached tune-delete-kept bell-delete-listed patch-wipes-tags
patch-not-stored put-merges cancel-not-stored publish-not-stored
tunes-limit-ignored recital-status-ignored search-tags-any bulk-loses-last
replay-doubles drafts-visible foreign-delete recording-text bells-survive
bellcount-stale position-overwritten offset-overlap cancel-twice
published-editable if-match-ignored patch-null-kept sort-ignored
""".split()
FAULT = None


def bug(name):
    return FAULT == name


# ------------------------------------------------------------------ answers

JSON = "application/json"
PROBLEM = "application/problem+json"
TROUBLES = {
    400: ("invalid", "The request is not valid."),
    401: ("unauthorized", "A valid credential is needed."),
    403: ("forbidden", "This belongs to somebody else."),
    404: ("not_found", "There is no such thing."),
    405: ("method", "This method is not offered here."),
    409: ("conflict", "Not possible in the present state."),
    412: ("stale", "The tower has changed meanwhile."),
    413: ("too_large", "The body is too large."),
    415: ("media_type", "This media type is not taken here."),
    422: ("unprocessable", "The body makes no sense."),
    431: ("too_large", "The header is too large."),
}


class Trouble(Exception):
    def __init__(self, status, message=None, details=None, headers=()):
        super().__init__(message)
        self.status = status
        self.message = message
        self.details = details
        self.headers = list(headers)

    def reply(self):
        code, text = TROUBLES[self.status]
        body = {"code": code, "status": self.status,
                "message": (self.message or text)[:300]}
        if self.details:
            body["details"] = [{"field": f[:120], "problem": p[:200]}
                               for f, p in self.details[:10]]
        return Reply(self.status, body, PROBLEM, self.headers)


class Reply:
    def __init__(self, status, body=None, media=JSON, headers=()):
        self.status = status
        self.media = media
        self.headers = list(headers)
        if body is None:
            self.body = b""
        elif isinstance(body, bytes):
            self.body = body
        elif isinstance(body, str):
            self.body = body.encode("utf-8")
        else:
            self.body = json.dumps(body).encode("ascii")


def now():
    t = time.time()
    return (time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(t))
            + ".%03dZ" % (t % 1 * 1000))


# --------------------------------------------------------------- validation

EMAIL = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
                   r"(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*")
URI_CHAR = r"(?:[A-Za-z0-9._~!$&'()*+,;=%s-]|%%[0-9A-Fa-f]{2})*"
URI = re.compile(r"https?://(?=[a-z0-9])(?:" + URI_CHAR % ":" + "@)?" + URI_CHAR % "" + r"(?::[0-9]*)?"
                 + r"(?:/" + URI_CHAR % ":@/" + r")?(?:\?" + URI_CHAR % ":@/?" + r")?(?:#" + URI_CHAR % ":@/?" + ")?")
UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
MOMENT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})"
                    r"(\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))")


def is_date(text):
    m = DATE.fullmatch(text)
    if not m:
        return False
    y, mo, d = map(int, m.groups())
    if not 1 <= mo <= 12:
        return False
    leap = y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)
    return 1 <= d <= (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[mo - 1]


def is_moment(text):
    m = MOMENT.fullmatch(text)
    if not m or not is_date(m[1]):
        return False
    h, mi, s = int(m[2]), int(m[3]), int(m[4])
    if h > 23 or mi > 59 or s > 60:
        return False
    off = 0
    if m[6]:
        if int(m[7]) > 23 or int(m[8]) > 59:
            return False
        off = (int(m[7]) * 60 + int(m[8])) * (1 if m[6] == "+" else -1)
    return s < 60 or (h * 60 + mi - off) % 1440 == 1439


FORMATS = {
    "date": is_date,
    "date-time": is_moment,
    "email": lambda s: EMAIL.fullmatch(s) is not None,
    "uri": lambda s: URI.fullmatch(s) is not None,
    "uuid": lambda s: UUID.fullmatch(s) is not None,
}


def plain(value):
    """A form of a JSON value in which equal values are equal."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return repr(float(value)) if abs(value) < 2 ** 53 else repr(value)
    if isinstance(value, list):
        return "[" + ",".join(map(plain, value)) + "]"
    return "{" + ",".join(json.dumps(k) + ":" + plain(v) for k, v in sorted(value.items())) + "}"


def check(schema, value, at, errs):
    """Appends (field, problem) to errs; gives the value back, 3.0 as 3."""
    kind = schema["type"]
    if kind == "any":
        return value
    if value is None:
        if not schema.get("nullable"):
            errs.append((at, "must not be null"))
        return value
    if kind == "string":
        if not isinstance(value, str):
            errs.append((at, "must be a string"))
            return value
        if "enum" in schema:
            if value not in schema["enum"]:
                errs.append((at, "must be one of " + ", ".join(schema["enum"])))
            return value
        n = len(value)
        if n < schema.get("min", 0):
            errs.append((at, "must have at least %d characters" % schema["min"]))
        if n > schema.get("max", n):
            errs.append((at, "must have at most %d characters" % schema["max"]))
        elif "pattern" in schema and not schema["pattern"].match(value):
            errs.append((at, "must match the pattern"))
        elif "format" in schema and not FORMATS[schema["format"]](value):
            errs.append((at, "must be a valid " + schema["format"]))
        return value
    if kind in ("integer", "number"):
        if isinstance(value, bool) and not (kind == "integer" and schema.get("loose")):
            errs.append((at, "must be a number"))
            return value
        if not isinstance(value, (int, float)):
            errs.append((at, "must be a number"))
            return value
        if kind == "integer" and isinstance(value, float):
            if value != math.floor(value):
                errs.append((at, "must be an integer"))
                return value
            value = int(value)
        if isinstance(value, bool):
            return value
        if "min" in schema and (value < schema["min"] or schema.get("open") and value == schema["min"]):
            errs.append((at, "is too small"))
        elif "max" in schema and value > schema["max"]:
            errs.append((at, "is too large"))
        elif "step" in schema and math.fmod(value, schema["step"]) != 0:
            errs.append((at, "must be a multiple of %s" % schema["step"]))
        return value
    if kind == "boolean":
        if not isinstance(value, bool):
            errs.append((at, "must be true or false"))
        return value
    if kind == "array":
        if not isinstance(value, list):
            errs.append((at, "must be an array"))
            return value
        if len(value) < schema.get("min", 0):
            errs.append((at, "must have at least %d items" % schema["min"]))
        if len(value) > schema.get("max", len(value)):
            errs.append((at, "must have at most %d items" % schema["max"]))
            return value
        if schema.get("unique") and len({plain(v) for v in value}) < len(value):
            errs.append((at, "must not repeat items"))
        return [check(schema["items"], v, "%s[%d]" % (at, i), errs) for i, v in enumerate(value)]
    # object
    if not isinstance(value, dict):
        errs.append((at, "must be an object"))
        return value
    for name in schema.get("required", ()):
        if name not in value:
            errs.append((join(at, name), "is required"))
    if len(value) < schema.get("min", 0):
        errs.append((at, "must have at least %d member" % schema["min"]))
    if len(value) > schema.get("max", len(value)):
        errs.append((at, "must have at most %d members" % schema["max"]))
        return value
    out = {}
    rest = schema.get("rest")
    for name, v in value.items():
        sub = schema["properties"].get(name)
        if sub is not None:
            out[name] = check(sub, v, join(at, name), errs)
        elif rest is None:
            errs.append((join(at, name), "is not known"))
        elif rest != "ignore":
            out[name] = check(rest, v, join(at, name), errs)
    return out


def join(at, name):
    return at + "." + name if at else name


def rx(pattern):
    return re.compile(pattern.replace("$", r"\Z"))


def S(**kw):
    return dict(type="string", **kw)


def I(low, high=None, **kw):
    out = dict(type="integer", min=low, **kw)
    if high is not None:
        out["max"] = high
    return out


def enum(*values):
    return S(enum=values)


def nullable(schema):
    return dict(schema, nullable=True)


def obj(required, **properties):
    return {"type": "object", "required": required, "properties": properties}


def listof(items, **kw):
    return dict(type="array", items=items, **kw)


INT64 = 2 ** 63 - 1


def make_schemas():
    g = globals()
    country = S(pattern=rx("^[A-Z]{2}$"))
    temperament = enum("equal", "meantone", "pythagorean")
    metal = enum("bronze", "iron", "steel")
    towerkey = S(pattern=rx("^twr_[0-9a-f]{10}$"))
    moment = S(format="date-time")
    fields = dict(
        name=S(min=2, max=80),
        country=country,
        city=nullable(S(min=1, max=80)),
        temperament=temperament,
        heightM=dict(type="number", nullable=True, min=3, max=200),
        consecratedOn=nullable(S(format="date")),
        contactEmail=nullable(S(format="email", max=120)),
        website=nullable(S(format="uri", max=200)),
        accessCode=S(pattern=rx("^[0-9]{4,8}$")),
    )
    loose_country = S(pattern=re.compile("^[A-Z]{2}")) if bug("country-unanchored") else country
    g["TOWER"] = obj(["name", "country", "temperament"], **fields, id=towerkey,
                     bellCount=I(0, 99), revision=I(1), createdAt=moment)
    g["NEW_TOWER"] = obj(TOWER["required"], **dict(TOWER["properties"], country=loose_country))
    g["TOWER_PATCH"] = dict(obj([], **fields), min=1)
    if bug("city-null-refused"):
        TOWER_PATCH["properties"] = dict(fields, city=S(min=1, max=80))
    weight = dict(type="number", min=0, open=True, max=20000, step=0.5)
    bell = dict(
        position=I(1, 99), note=S(pattern=rx("^[A-G]#?[0-8]$")), weightKg=weight,
        metal=metal, castYear=nullable(I(1000, 2100)), founder=nullable(S(max=80)),
        inscription=nullable(S(max=300)), towerId=towerkey, hungAt=moment)
    g["BELL"] = obj(["position", "note", "weightKg"], **bell)
    g["NEW_BELL"] = dict(BELL)
    if bug("bell-extra-members"):
        NEW_BELL["rest"] = "ignore"
    if bug("bell-weight-zero"):
        NEW_BELL["properties"] = dict(bell, weightKg=dict(weight, open=False))
    g["BELLS"] = listof(BELL, min=0 if bug("bulk-empty") else 1, max=20, unique=True)
    kind = enum("melody", "changes")
    tag = S(pattern=rx("^[a-z0-9-]{2,20}$"))
    tags = listof(tag, max=8, unique=True)
    title = S(min=1, max=120)
    tempo = I(30, 240)
    head = dict(title=title, composer=nullable(S(max=100)), tags=tags)
    new_head = dict(head, tags=listof(tag, max=8, unique=not bug("tags-repeated")))
    call = I(0, 99)
    calls = {"type": "object", "properties": {}, "rest": call, "max": 6}
    if bug("calls-any-value"):
        calls["rest"] = {"type": "any"}
    g["MELODY"] = obj(["kind", "title", "tempo", "notes"], **new_head, kind=enum("melody"),
                      tempo=dict(tempo, loose=bug("tempo-true")),
                      notes=listof(S(pattern=rx("^[A-G]#?[0-8]$")), min=1, max=200))
    g["CHANGES"] = obj(["kind", "title", "method", "stage"], **new_head, kind=enum("changes"),
                       method=enum("plain-bob", "grandsire", "stedman"), stage=I(3, 12),
                       extent=dict(type="boolean"), calls=calls)
    g["TUNE_PATCH"] = dict(obj([], **head, tempo=tempo), min=1)
    if bug("title-overlong"):
        TUNE_PATCH["properties"] = dict(TUNE_PATCH["properties"], title=S(min=1))
    g["TUNE_QUERY"] = obj([], text=S(min=0 if bug("search-empty-text") else 1, max=60),
                          kinds=listof(kind, min=1, unique=True), tags=tags,
                          tempo=obj([], min=tempo, max=tempo), limit=I(1, 50))
    duration = I(5, 240, step=5)
    if bug("duration-odd"):
        del duration["step"]
    g["RECITAL"] = dict(obj(
        ["towerId", "title", "startsAt", "durationMinutes", "programme"],
        towerId=towerkey, title=title, startsAt=moment, durationMinutes=duration,
        programme=listof(obj(["tuneId"], tuneId=S(format="uuid"), repeats=I(1, 10)), min=1, max=12),
        audience=enum("public", "private"), remarks=nullable(S(max=500))), rest="ignore")
    g["CANCEL"] = obj([] if bug("cancel-no-reason") else ["reason"], reason=S(min=3, max=200))
    g["Q_TOWERS"] = dict(
        country=country, temperament=temperament, q=S(min=1, max=40),
        sort=enum("name", "-name", "createdAt", "-createdAt"), limit=I(1, 100),
        offset=I(0) if bug("offset-huge") else I(0, 100000))
    g["Q_BELLS"] = dict(metal=listof(metal, min=1, split=True),
                        minWeightKg=dict(type="number", min=0, max=20000))
    g["Q_TUNES"] = dict(status=enum("draft", "published"), kind=kind, tag=listof(tag, max=4),
                        limit=I(1, None if bug("tunes-limit-51") else 50),
                        cursor=S() if bug("cursor-garbage") else S(pattern=rx("^[A-Za-z0-9_-]{4,40}$")))
    status = S() if bug("recital-status-any") else enum("scheduled", "cancelled")
    g["Q_RECITALS"] = {"from": S(format="date"), "to": S(format="date"), "status": status,
                       "towerId": towerkey, "limit": I(1, 100), "offset": I(0, 100000)}
    g["Q_EXPORT"] = dict(year=I(2000, 2099), separator=enum("comma", "semicolon"))


INT_TEXT = re.compile(r"-?[0-9]{1,40}")
NUM_TEXT = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,4})?")


def read_query(req, schemas):
    """Known query parameters, checked; unknown ones are passed over."""
    out, errs = {}, []
    if not req.query:
        return out
    for pair in req.query.split("&"):
        name, _, raw = pair.partition("=")
        name = unquote_plus(name)
        schema = schemas.get(name)
        if schema is None:
            continue
        text = unquote_plus(raw)
        kind = schema["type"]
        if kind == "array":
            if schema.get("split"):
                out[name] = text.split(",")
            else:
                out.setdefault(name, []).append(text)
        elif kind == "integer":
            if bug("limit-empty") and name == "limit" and schemas is Q_RECITALS and text == "":
                int(text)
            if INT_TEXT.fullmatch(text):
                out[name] = int(text)
            else:
                errs.append((name, "must be an integer"))
        elif kind == "number":
            value = float(text) if NUM_TEXT.fullmatch(text) else math.inf
            if math.isinf(value):
                errs.append((name, "must be a number"))
            else:
                out[name] = value
        else:
            out[name] = text
    for name in list(out):
        out[name] = check(schemas[name], out[name], name, errs)
    if errs:
        raise Trouble(400, details=errs)
    return out


def no_constant(text):
    raise ValueError("not JSON: " + text)


def finite(text):
    value = float(text)
    if math.isinf(value):
        raise ValueError("number too large")
    return value


def media_of(req):
    raw = req.headers.get("content-type", "")
    media, _, params = raw.partition(";")
    m = re.search(r"charset\s*=\s*\"?([^\s;\"]+)", params, re.I)
    return media.strip().lower(), m[1].lower() if m else "utf-8"


MAX_JSON = 256 * 1024
MAX_DEPTH = 100


def read_json(req, medias=(JSON,)):
    if not req.body:
        raise Trouble(400, "A body is needed.")
    media, charset = media_of(req)
    if media not in medias or charset not in ("utf-8", "us-ascii"):
        raise Trouble(415)
    if len(req.body) > MAX_JSON:
        raise Trouble(413)
    try:
        value = json.loads(req.body.decode("utf-8"), parse_constant=no_constant, parse_float=finite)
        if b"\\u" in req.body:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        if req.body.count(b"[") + req.body.count(b"{") > MAX_DEPTH:
            level, depth = [value], 0
            while level:
                depth += 1
                if depth > MAX_DEPTH:
                    raise ValueError("nested too deep")
                level = [v for x in level if isinstance(x, (list, dict))
                         for v in (x.values() if isinstance(x, dict) else x)]
        return value
    except (ValueError, RecursionError):
        raise Trouble(400, "The body is not valid JSON.") from None


def checked(schema, value):
    errs = []
    value = check(schema, value, "", errs)
    if errs:
        raise Trouble(400, details=[(f or "(body)", p) for f, p in errs])
    return value


# ------------------------------------------------------------------- store

TOKENS = {"rg_7Qm2xV9pLk4TzB8s": "usr_anna"}
STATIONS = {"st_c41d90e7a25b63f8": "usr_bram"}

TOWERS = {}         # id -> tower
BELLS_OF = {}       # tower id -> {position: bell}
TUNES = {}          # id -> tune
RECORDINGS = {}     # tune id -> (media, bytes, checksum)
RECITALS = {}       # id -> recital
REPLAYS = {}        # (user, key) -> (fingerprint, recital id)
REMOVED = set()     # ids of removed towers
LISTS = {}          # for a fault
SEQ = itertools.count(1)
RECITAL_IDS = itertools.count(1001)
EMPTY_TOWER = dict(city=None, heightM=None, consecratedOn=None, contactEmail=None, website=None)
READ_ONLY = ("id", "bellCount", "revision", "createdAt")


def add_tower(body, id=None):
    tower = dict(EMPTY_TOWER)
    tower.update((k, v) for k, v in body.items() if k not in READ_ONLY)
    tower.update(id=id or "twr_" + os.urandom(5).hex(), revision=1, createdAt=now(), seq=next(SEQ))
    if bug("created-at-writable") and "createdAt" in body:
        tower["createdAt"] = body["createdAt"]
    tower["bellCount"] = 0
    TOWERS[tower["id"]] = tower
    BELLS_OF[tower["id"]] = {}
    return tower


def add_bell(tower, body):
    bell = dict(metal="bronze", castYear=None, founder=None, inscription=None)
    bell.update(body)
    bell.update(towerId=tower["id"], hungAt=now())
    BELLS_OF[tower["id"]][bell["position"]] = bell
    count(tower)
    return bell


def count(tower):
    tower["bellCount"] = len(BELLS_OF[tower["id"]])
    tower["revision"] += 1


def add_tune(owner, body, id=None):
    tune = {"composer": None, "tags": []}
    if body["kind"] == "changes":
        tune.update(extent=False, calls={})
    tune.update(body)
    tune.update(id=id or str(uuid.uuid4()), owner=owner, status="draft", hasRecording=False,
                createdAt=now(), publishedAt=None, seq=next(SEQ))
    TUNES[tune["id"]] = tune
    return tune


def add_recital(user, body):
    recital = dict(audience="public", remarks=None)
    recital.update(body)
    recital["programme"] = [{"repeats": 1, **p, "tuneId": p["tuneId"].lower()} for p in body["programme"]]
    recital.update(id=next(RECITAL_IDS), status="scheduled", createdBy=user, createdAt=now(),
                   cancelReason=None)
    RECITALS[recital["id"]] = recital
    return recital


def seed():
    tower = add_tower(dict(name="Lange Wapper Toren", country="BE", city="Antwerpen",
                           temperament="meantone", heightM=61.5, consecratedOn="1521-08-24",
                           contactEmail="toren@ringers.example",
                           website="https://toren.example/bells", accessCode="48213"),
                      "twr_5e1f0a90c2")
    for position, note, weight in ((1, "C4", 1204.5), (2, "D4", 861), (3, "E4", 610.5)):
        add_bell(tower, dict(position=position, note=note, weightKg=weight, castYear=1664,
                             founder="Hemony"))
    add_tower(dict(name="Old Mill Belfry", country="GB", temperament="equal"), "twr_0b7c44d1e9")
    tune = add_tune("usr_anna", dict(kind="melody", title="Evening call", tempo=72,
                                     notes=["G4", "A4", "B4", "D5"], tags=["evening", "short"],
                                     composer="J. Denyn"),
                    "3f0c9a52-7d1e-4b86-9a41-0c5d2e8f7b10")
    tune.update(status="published", publishedAt=now())
    tune = add_tune("usr_bram", dict(kind="changes", title="Sunday six", method="plain-bob", stage=6,
                                     extent=True, calls={"bob": 3, "single": 1}))
    tune.update(status="published", publishedAt=now())
    add_recital("usr_anna", dict(towerId=tower["id"], title="Opening", startsAt="2031-01-01T11:00:00Z",
                     durationMinutes=30, remarks=None,
                     programme=[{"tuneId": "3f0c9a52-7d1e-4b86-9a41-0c5d2e8f7b10"}]))


def show_tower(tower):
    return {k: v for k, v in tower.items() if k not in ("seq", "accessCode")}


def show_tune(tune):
    return {k: v for k, v in tune.items() if k not in ("seq", "removed")}


# ----------------------------------------------------------- authentication

EITHER, BEARER, KEY = ("bearer", "key"), ("bearer",), ("key",)


def bearer_user(req, op):
    scheme, _, token = req.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return None
    token = token.strip()
    if bug("token-any") and op == "listRecitals" and token:
        return TOKENS.get(token, "usr_anna")
    return TOKENS.get(token)


def authenticate(req, op, ways):
    if bug("bulk-takes-bearer") and op == "hangBells":
        ways = EITHER
    if bug("key-for-bearer") and op == "removeTower":
        ways = EITHER
    user = None
    if "bearer" in ways:
        user = bearer_user(req, op)
    if user is None and "key" in ways:
        user = STATIONS.get(req.headers.get("x-station-key", ""))
    if user is None and bug("towers-open") and op == "createTower":
        user = "usr_guest"
    if user is None:
        challenge = ("Bearer" if "bearer" in ways else "ApiKey") + ' realm="carillon"'
        headers = [("WWW-Authenticate", challenge)]
        if bug("no-challenge") and op == "listTunes":
            headers = []
        raise Trouble(401, headers=headers)
    return user


# ---------------------------------------------------------------- operations

ETAG = rx(r'^(\*|"r[0-9]{1,9}")$')


def etag(tower):
    return '"r%d"' % tower["revision"]


def the_tower(id):
    tower = TOWERS.get(id)
    if tower is None:
        raise Trouble(404, "No such tower.")
    return tower


def if_match(req, tower, op):
    want = req.headers.get("if-match")
    if want is None:
        return
    if not ETAG.match(want):
        raise Trouble(400, details=[("If-Match", "must be an ETag")])
    if bug("if-match-ignored") and op == "replaceTower":
        return
    if want != "*" and want != etag(tower):
        raise Trouble(412)


def listTowers(req, user):
    query = read_query(req, Q_TOWERS)
    if bug("towers-cached") and req.query in LISTS:
        return LISTS[req.query]
    found = list(TOWERS.values())
    if "country" in query:
        found = [t for t in found if t["country"] == query["country"]]
    if "temperament" in query:
        found = [t for t in found if t["temperament"] == query["temperament"]]
    if "q" in query:
        if bug("q-ascii"):
            query["q"].encode("ascii")
        part = query["q"].casefold()
        found = [t for t in found if part in t["name"].casefold()]
    order = query.get("sort", "name")
    key = "seq" if order.endswith("createdAt") else "name"
    down = order.startswith("-") and not bug("sort-ignored")
    found.sort(key=lambda t: (t[key], t["seq"]), reverse=down)
    limit, offset = query.get("limit", 20), query.get("offset", 0)
    page = list(itertools.islice(found, offset, offset + limit))
    reply = Reply(200, {"items": [show_tower(t) for t in page], "total": len(found),
                        "limit": limit, "offset": offset},
                  headers=[("X-Total-Count", str(len(found))), ("X-Order", order)])
    if bug("towers-cached"):
        LISTS[req.query] = reply
    return reply


def createTower(req, user):
    tower = add_tower(checked(NEW_TOWER, read_json(req)))
    return Reply(200 if bug("tower-created-200") else 201, show_tower(tower),
                 headers=[("Location", "/towers/" + tower["id"]), ("ETag", etag(tower))])


def getTower(req, user, id):
    tower = the_tower(id)
    want = req.headers.get("if-none-match")
    if want is not None:
        if not ETAG.match(want):
            raise Trouble(400, details=[("If-None-Match", "must be an ETag")])
        if want in ("*", etag(tower)):
            return Reply(204 if bug("fresh-204") else 304, headers=[("ETag", etag(tower))])
    body = show_tower(tower)
    if bug("bellcount-text"):
        body["bellCount"] = str(body["bellCount"])
    if bug("access-code-shown") and "accessCode" in tower:
        body["accessCode"] = tower["accessCode"]
    return Reply(200, body, headers=[("ETag", etag(tower))])


def replaceTower(req, user, id):
    tower = the_tower(id)
    body = checked(TOWER, read_json(req))
    if_match(req, tower, "replaceTower")
    if not bug("put-merges"):
        tower.update(EMPTY_TOWER)
        tower.pop("accessCode", None)
    tower.update((k, v) for k, v in body.items() if k not in READ_ONLY)
    tower["revision"] += 1
    return Reply(200, show_tower(tower), headers=[("ETag", etag(tower))])


def changeTower(req, user, id):
    tower = the_tower(id)
    body = checked(TOWER_PATCH, read_json(req, ("application/merge-patch+json", JSON)))
    if_match(req, tower, "changeTower")
    if bug("patch-null-kept"):
        body = {k: v for k, v in body.items() if v is not None}
    if bug("patch-not-stored"):
        tower = dict(tower)
    tower.update(body)
    tower["revision"] += 1
    tag = etag(tower)
    if bug("etag-bare"):
        tag = tag.strip('"')
    return Reply(200, show_tower(tower), headers=[("ETag", tag)])


def removeTower(req, user, id):
    the_tower(id)
    if any(r["towerId"] == id and r["status"] == "scheduled" for r in RECITALS.values()):
        raise Trouble(409, "A recital is scheduled in this tower.")
    del TOWERS[id]
    if not bug("bells-survive"):
        del BELLS_OF[id]
    REMOVED.add(id)
    return Reply(204)


def listBells(req, user, id):
    if bug("bells-of-removed") and id in REMOVED:
        BELLS_OF[id]
    if not (bug("bells-survive") and id in REMOVED):
        the_tower(id)
    query = read_query(req, Q_BELLS)
    bells = sorted(BELLS_OF[id].values(), key=lambda b: b["position"])
    if bug("bell-delete-listed"):
        gone = LISTS.get(id, {})
        bells = sorted({**gone, **BELLS_OF[id]}.values(), key=lambda b: b["position"])
    if "metal" in query:
        bells = [b for b in bells if b["metal"] in query["metal"]]
    if "minWeightKg" in query:
        bells = [b for b in bells if b["weightKg"] >= query["minWeightKg"]]
    return Reply(200, bells, headers=[("X-Total-Count", str(len(bells)))])


def hangBell(req, user, id):
    tower = the_tower(id)
    body = checked(NEW_BELL, read_json(req))
    position = body["position"]
    if position in BELLS_OF[id] and not bug("position-overwritten"):
        raise Trouble(409, "Another bell hangs there.")
    bell = add_bell(tower, body)
    return Reply(201, bell, headers=[("Location", "/towers/%s/bells/%d" % (id, position))])


def hangBells(req, user, id):
    tower = the_tower(id)
    if bug("bulk-broken-json") and req.body and media_of(req)[0] == JSON:
        json.loads(req.body)
    bells = checked(BELLS, read_json(req))
    results = []
    hung = 0
    for i, body in enumerate(bells):
        taken = body["position"] in BELLS_OF[id]
        if not taken:
            hung += 1
            if not (bug("bulk-loses-last") and i == len(bells) - 1):
                add_bell(tower, body)
        results.append({"index": i, "position": body["position"], "outcome": "taken" if taken else "hung"})
    return Reply(200, {"hung": hung, "passedOver": len(results) - hung, "results": results})


def the_bell(id, position):
    tower = the_tower(id)
    if not INT_TEXT.fullmatch(position) or not 1 <= int(position) <= 99:
        raise Trouble(400, details=[("position", "must be an integer from 1 to 99")])
    bell = BELLS_OF[id].get(int(position))
    if bell is None:
        raise Trouble(404, "No such bell.")
    return tower, bell


def getBell(req, user, id, position):
    if bug("bell-position-zero") and position == "0" and BELLS_OF.get(id):
        return Reply(200, [BELLS_OF[id][p] for p in sorted(BELLS_OF[id])][int(position) - 1])
    return Reply(200, the_bell(id, position)[1])


def takeDownBell(req, user, id, position):
    tower, bell = the_bell(id, position)
    del BELLS_OF[id][bell["position"]]
    if bug("bell-delete-listed"):
        LISTS.setdefault(id, {})[bell["position"]] = bell
    if not bug("bellcount-stale"):
        count(tower)
    if bug("bell-delete-200"):
        return Reply(200, {"deleted": True})
    return Reply(204)


def visible(tune, user):
    return tune["status"] == "published" or tune["owner"] == user


def the_tune(id, user):
    tune = TUNES.get(id.lower())
    if tune is None or not visible(tune, user):
        raise Trouble(404, "No such tune.")
    return tune


def own_tune(id, user):
    tune = the_tune(id, user)
    if tune["owner"] != user:
        raise Trouble(403)
    return tune


def make_cursor(seq):
    return base64.urlsafe_b64encode(b"tune:%d" % seq).decode().rstrip("=")


def read_cursor(text):
    if bug("cursor-garbage"):
        return int(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).split(b":")[1])
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        head, _, digits = raw.partition(b":")
        if head == b"tune" and digits.isdigit():
            return int(digits)
    except ValueError:
        pass
    raise Trouble(400, details=[("cursor", "is not one of ours")])


def listTunes(req, user):
    query = read_query(req, Q_TUNES)
    after = read_cursor(query["cursor"]) if "cursor" in query else 0
    limit = query.get("limit", 20)
    if bug("tunes-limit-ignored"):
        limit = 20
    page, more = [], False
    for tune in TUNES.values():
        if tune["seq"] <= after or not visible(tune, user) or tune.get("removed"):
            continue
        if "status" in query and tune["status"] != query["status"]:
            continue
        if "kind" in query and tune["kind"] != query["kind"]:
            continue
        if not set(query.get("tag", ())) <= set(tune["tags"]):
            continue
        if len(page) == limit:
            more = True
            break
        page.append(tune)
    items = [show_tune(t) for t in page]
    if bug("owner-missing-in-list"):
        for item in items:
            del item["owner"]
    return Reply(200, {"items": items, "nextCursor": make_cursor(page[-1]["seq"]) if more else None})


def createTune(req, user):
    body = read_json(req)
    kind = body.get("kind") if isinstance(body, dict) else None
    if bug("composer-null") and isinstance(body, dict) and "composer" in body:
        body["composer"].strip()
    if isinstance(body, dict) and kind not in ("melody", "changes"):
        raise Trouble(400, details=[("kind", "must be melody or changes")])
    tune = add_tune(user, checked(CHANGES if kind == "changes" else MELODY, body))
    out = show_tune(tune)
    if bug("published-at-empty"):
        out["publishedAt"] = ""
    return Reply(201, out, headers=[("Location", "/tunes/" + tune["id"])])


def searchTunes(req, user):
    try:
        query = checked(TUNE_QUERY, read_json(req))
    except Trouble as t:
        if bug("search-details-text") and t.status == 400:
            return Reply(400, {"code": "invalid", "status": 400, "message": "The request is not valid.",
                               "details": str(t.details)}, PROBLEM)
        raise
    tempo = query.get("tempo")
    if tempo is not None and tempo.get("min", 0) > tempo.get("max", 999):
        raise Trouble(422, "tempo.min is greater than tempo.max.")
    text = query.get("text")
    if text is not None:
        if bug("search-empty-text"):
            text[0]
        text = text.casefold()
    tags = set(query.get("tags", ()))
    found = []
    for tune in TUNES.values():
        if not visible(tune, user):
            continue
        if text is not None and text not in tune["title"].casefold():
            continue
        if "kinds" in query and tune["kind"] not in query["kinds"]:
            continue
        if bug("search-tags-any"):
            if tags and not tags & set(tune["tags"]):
                continue
        elif not tags <= set(tune["tags"]):
            continue
        if tempo is not None and not (tune["kind"] == "melody" and
                                      tempo.get("min", 0) <= tune["tempo"] <= tempo.get("max", 999)):
            continue
        found.append(tune)
    return Reply(200, {"items": [show_tune(t) for t in found[:query.get("limit", 20)]],
                       "total": len(found)})


def prefers_text(accept):
    """True if the Accept header ranks text/plain above application/json."""
    best = {}
    for part in accept.split(","):
        media, _, params = part.partition(";")
        media = media.strip().lower()
        q = 1.0
        m = re.search(r"(?:^|;)\s*q\s*=\s*([01](?:\.[0-9]{0,3})?)", params)
        if m:
            q = float(m[1])
        for want, patterns in (("text", ("text/plain", "text/*", "*/*")),
                               ("json", ("application/json", "application/*", "*/*"))):
            if media in patterns:
                rank = -patterns.index(media)
                if want not in best or rank > best[want][0]:
                    best[want] = (rank, q)
    return best.get("text", (0, 0.0))[1] > best.get("json", (0, 0.0))[1]


def getTune(req, user, id):
    try:
        if bug("drafts-visible") and id in TUNES:
            tune = TUNES[id]
        else:
            tune = the_tune(id, user)
    except Trouble:
        if bug("missing-tune-html"):
            return Reply(404, "<h1>Not Found</h1>", "text/html; charset=utf-8")
        raise
    if prefers_text(req.headers.get("accept", "*/*")):
        if tune["kind"] == "melody":
            lines = ["melody, %d bpm" % tune["tempo"], " ".join(tune["notes"])]
        else:
            lines = ["changes, %s on %d" % (tune["method"], tune["stage"]),
                     ", ".join("%s %d" % c for c in tune["calls"].items()) or "no calls"]
        return Reply(200, "\n".join([tune["title"]] + lines) + "\n", "text/plain; charset=utf-8")
    body = show_tune(tune)
    if bug("kind-capital") and body["kind"] == "changes":
        body["kind"] = "Changes"
    return Reply(200, body)


def changeTune(req, user, id):
    tune = own_tune(id, user)
    body = read_json(req)
    if bug("patch-array") and not isinstance(body, dict):
        body.items()
    body = checked(TUNE_PATCH, body)
    if len(body.get("title", "")) > 120:
        raise RuntimeError("value too long for column title (120)")
    if tune["status"] == "published" and not bug("published-editable"):
        raise Trouble(409, "Published tunes cannot be changed.")
    if "tempo" in body and tune["kind"] != "melody":
        raise Trouble(422, "Only melodies have a tempo.")
    if bug("patch-wipes-tags") and "tags" not in body:
        body["tags"] = []
    tune.update(body)
    return Reply(200, show_tune(tune))


def removeTune(req, user, id):
    tune = the_tune(id, user) if bug("foreign-delete") else own_tune(id, user)
    id = tune["id"]
    if any(r["status"] == "scheduled" and any(p["tuneId"] == id for p in r["programme"])
           for r in RECITALS.values()):
        raise Trouble(409, "A scheduled recital has this tune in its programme.")
    if bug("tune-delete-kept"):
        tune["removed"] = True
        return Reply(204)
    del TUNES[id]
    RECORDINGS.pop(id, None)
    return Reply(204)


def publishTune(req, user, id):
    tune = own_tune(id, user)
    if tune["status"] == "published":
        if bug("publish-conflict-body"):
            return Reply(409, {"error": "already published"}, PROBLEM)
        raise Trouble(409, "This tune is published already.")
    out = tune
    if bug("publish-not-stored"):
        out = dict(tune)
    out.update(status="published", publishedAt=now())
    return Reply(200, show_tune(out))


def getRecording(req, user, id):
    tune = the_tune(id, user)
    if tune["id"] not in RECORDINGS:
        raise Trouble(404, "This tune has no recording.")
    media, data, checksum = RECORDINGS[tune["id"]]
    if bug("recording-as-json"):
        media = JSON
    return Reply(200, data, media, [("X-Checksum", checksum)])


def storeRecording(req, user, id):
    tune = own_tune(id, user)
    if not req.body:
        raise Trouble(400, "A recording has at least one byte.")
    media = media_of(req)[0]
    if media not in ("audio/midi", "application/octet-stream"):
        if not (bug("recording-any-type") and media):
            raise Trouble(415)
        media = "application/octet-stream"
    if len(req.body) > 65536:
        raise Trouble(413)
    data = req.body
    checksum = "sha256:" + hashlib.sha256(data).hexdigest()
    if bug("recording-text"):
        data = data.replace(b"\r\n", b"\n")
    RECORDINGS[tune["id"]] = (media, data, checksum)
    tune["hasRecording"] = True
    return Reply(204, headers=[("X-Checksum", checksum)])


def select_recitals(query):
    found = sorted(RECITALS.values(), key=lambda r: (r["startsAt"].rstrip("Z"), r["id"]))
    if "from" in query:
        found = [r for r in found if r["startsAt"][:10] >= query["from"]]
    if "to" in query:
        found = [r for r in found if r["startsAt"][:10] <= query["to"]]
    if "status" in query and not bug("recital-status-ignored"):
        found = [r for r in found if r["status"] == query["status"]]
    if "towerId" in query:
        found = [r for r in found if r["towerId"] == query["towerId"]]
    return found


def listRecitals(req, user):
    query = read_query(req, Q_RECITALS)
    found = select_recitals(query)
    limit, offset = query.get("limit", 25), query.get("offset", 0)
    total = str(len(found))
    if bug("total-count-words"):
        total = "%s recitals" % total
    if bug("offset-overlap") and offset > 0:
        offset -= 1
    return Reply(200, {"items": found[offset:offset + limit], "total": len(found)},
                 headers=[("X-Total-Count", total)])


def to_utc(text):
    m = MOMENT.fullmatch(text)
    if not bug("start-overflow") and not 1999 <= int(text[:4]) <= 2100:
        raise Trouble(422, "startsAt must lie in the years 2000 to 2099.")
    moment = datetime.datetime(*map(int, m[1].split("-")), int(m[2]), int(m[3]), min(int(m[4]), 59))
    if m[4] == "60":
        moment += datetime.timedelta(seconds=1)
    if m[6]:
        shift = datetime.timedelta(hours=int(m[7]), minutes=int(m[8]))
        moment += -shift if m[6] == "+" else shift
    if not 2000 <= moment.year <= 2099:
        raise Trouble(422, "startsAt must lie in the years 2000 to 2099.")
    return moment.strftime("%Y-%m-%dT%H:%M:%S") + (m[5] or "") + "Z"


KEY_TEXT = rx("^[A-Za-z0-9_-]{8,64}$")


def scheduleRecital(req, user):
    key = req.headers.get("idempotency-key")
    if key is not None and not KEY_TEXT.match(key) and not bug("idempotency-key-any"):
        raise Trouble(400, details=[("Idempotency-Key", "must match the pattern")])
    body = read_json(req)
    mark = plain(body)
    body = checked(RECITAL, body)
    headers = lambda r: [] if bug("recital-no-location") else [("Location", "/recitals/%d" % r["id"])]
    if key is not None and (user, key) in REPLAYS and not bug("replay-doubles"):
        known, id = REPLAYS[user, key]
        if known != mark:
            raise Trouble(409, "This Idempotency-Key was used for another body.")
        return Reply(201, RECITALS[id], headers=headers(RECITALS[id]))
    if body["towerId"] not in TOWERS:
        raise Trouble(422, "towerId: no such tower.")
    for item in body["programme"]:
        if bug("unknown-tune"):
            TUNES[item["tuneId"]]
        tune = TUNES.get(item["tuneId"].lower())
        if tune is None or tune["status"] != "published":
            raise Trouble(422, "programme: only published tunes can be played.")
    recital = add_recital(user, dict(body, startsAt=to_utc(body["startsAt"])))
    if key is not None:
        REPLAYS[user, key] = (mark, recital["id"])
    return Reply(201, recital, headers=headers(recital))


def exportRecitals(req, user):
    query = read_query(req, Q_EXPORT)
    if "year" not in query:
        if not bug("export-year-optional"):
            raise Trouble(400, details=[("year", "is required")])
        query["year"] = 2031
    out = io.StringIO()
    table = csv.writer(out, delimiter=";" if query.get("separator") == "semicolon" else ",")
    columns = ("id", "towerId", "title", "startsAt", "durationMinutes", "status")
    table.writerow(columns)
    year = "%d-" % query["year"]
    for r in select_recitals({}):
        if r["startsAt"].startswith(year):
            table.writerow([r[c] for c in columns])
    media = "text/plain; charset=utf-8" if bug("export-as-text") else "text/csv; charset=utf-8"
    return Reply(200, out.getvalue(), media,
                 [("Content-Disposition", 'attachment; filename="recitals-%d.csv"' % query["year"])])


def the_recital(id):
    if not INT_TEXT.fullmatch(id) or not 1 <= int(id) <= INT64:
        raise Trouble(400, details=[("recitalId", "must be a positive integer")])
    recital = RECITALS.get(int(id))
    if recital is None:
        raise Trouble(404, "No such recital.")
    return recital


def getRecital(req, user, id):
    if bug("recital-id-word"):
        int(id)
    return Reply(200, the_recital(id))


def cancelRecital(req, user, id):
    recital = the_recital(id)
    body = checked(CANCEL, read_json(req))
    if recital["status"] == "cancelled" and not bug("cancel-twice"):
        raise Trouble(409, "This recital is cancelled already.")
    if bug("cancel-not-stored"):
        recital = dict(recital)
    recital.update(status="cancelled", cancelReason=body.get("reason"))
    return Reply(200, recital)


# ------------------------------------------------------------------- routes

ROUTES = {
    "/towers": {"GET": (listTowers, None), "POST": (createTower, EITHER)},
    "/towers/*": {"GET": (getTower, None), "PUT": (replaceTower, BEARER),
                  "PATCH": (changeTower, EITHER), "DELETE": (removeTower, BEARER)},
    "/towers/*/bells": {"GET": (listBells, None), "POST": (hangBell, EITHER)},
    "/towers/*/bells/bulk": {"POST": (hangBells, KEY)},
    "/towers/*/bells/*": {"GET": (getBell, None), "DELETE": (takeDownBell, EITHER)},
    "/tunes": {"GET": (listTunes, EITHER), "POST": (createTune, EITHER)},
    "/tunes/search": {"POST": (searchTunes, EITHER)},
    "/tunes/*": {"GET": (getTune, EITHER), "PATCH": (changeTune, EITHER), "DELETE": (removeTune, EITHER)},
    "/tunes/*/publish": {"POST": (publishTune, EITHER)},
    "/tunes/*/recording": {"GET": (getRecording, EITHER), "PUT": (storeRecording, EITHER)},
    "/recitals": {"GET": (listRecitals, EITHER), "POST": (scheduleRecital, EITHER)},
    "/recitals/export": {"GET": (exportRecitals, EITHER)},
    "/recitals/*": {"GET": (getRecital, EITHER)},
    "/recitals/*/cancel": {"POST": (cancelRecital, BEARER)},
}
TREE = {}
for template, methods in ROUTES.items():
    node = TREE
    for step in template.split("/")[1:]:
        node = node.setdefault(step, {})
    node[""] = methods


def find(path):
    """(methods, path arguments) of the path, literal steps first."""
    node, args = TREE, []
    for step in path.split("/")[1:]:
        step = unquote(step)
        if step and step != "*" and step in node:
            node = node[step]
        elif step and "*" in node:
            node = node["*"]
            args.append(step)
        else:
            return None, ()
    return node.get(""), args


def answer(req):
    try:
        methods, args = find(req.path)
        if methods is None:
            raise Trouble(404, "There is nothing at this path.")
        method = "GET" if req.method == "HEAD" else req.method
        if method not in methods:
            allow = list(methods) + (["HEAD"] if "GET" in methods else []) + ["OPTIONS"]
            allowed = [("Allow", ", ".join(allow))]
            if method == "OPTIONS":
                return Reply(204, headers=allowed)
            raise Trouble(405, headers=allowed)
        operation, ways = methods[method]
        user = authenticate(req, operation.__name__, ways) if ways else None
        return operation(req, user, *args)
    except Trouble as t:
        return t.reply()
    except Exception as e:
        print("error: %s %s: %r" % (req.method, req.path[:200], e), file=sys.stderr, flush=True)
        return Reply(500, "Internal Server Error", "text/plain; charset=utf-8")


# --------------------------------------------------------------------- HTTP

MAX_HEAD = 128 * 1024
MAX_BODY = 16 * 1024 * 1024
REQUEST_NUMBERS = itertools.count(1)
METHOD = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,40}")


class Request:
    __slots__ = ("method", "path", "query", "headers", "body", "version")


class Broken(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status, self.message = status, message


class Connection(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport = transport
        self.buffer = bytearray()
        self.req = None         # the request whose body is awaited
        self.need = None        # its length, or None if it comes in chunks
        self.closing = False

    def data_received(self, data):
        if self.closing:
            return
        self.buffer += data
        try:
            while not self.closing and self.step():
                pass
        except Broken as b:
            self.send(Trouble(b.status, b.message).reply(), None, close=True)

    def step(self):
        if self.req is None:
            while self.buffer[:2] == b"\r\n":
                del self.buffer[:2]
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self.buffer) > MAX_HEAD:
                    raise Broken(431, "The header is too large.")
                return False
            head = bytes(self.buffer[:end])
            del self.buffer[:end + 4]
            self.read_head(head)
        req = self.req
        if self.need is not None:
            if len(self.buffer) < self.need:
                return False
            req.body = bytes(self.buffer[:self.need])
            del self.buffer[:self.need]
        else:
            body = self.read_chunks()
            if body is None:
                return False
            req.body = body
        self.req = None
        wanted = req.headers.get("connection", "").lower()
        close = "close" in wanted or (req.version == "HTTP/1.0" and "keep-alive" not in wanted)
        self.send(answer(req), req, close)
        return True

    def read_head(self, head):
        lines = head.decode("latin-1").split("\r\n")
        parts = lines[0].split(" ")
        if len(parts) != 3 or parts[2] not in ("HTTP/1.1", "HTTP/1.0") or not METHOD.fullmatch(parts[0]):
            raise Broken(400, "The request line is not valid.")
        req = Request()
        req.method, target, req.version = parts
        if not target.startswith("/"):
            target = re.sub(r"^[A-Za-z]+://[^/?]*", "", target)
        target = target.partition("#")[0]
        req.path, _, req.query = target.partition("?")
        req.body = b""
        req.headers = headers = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon or not METHOD.fullmatch(name[:40]):
                raise Broken(400, "A header line is not valid.")
            name = name.lower()
            value = value.strip(" \t")
            headers[name] = headers[name] + ", " + value if name in headers else value
        if "chunked" in headers.get("transfer-encoding", "").lower():
            self.need = None
        else:
            length = headers.get("content-length", "0")
            if not re.fullmatch("[0-9]{1,15}", length):
                raise Broken(400, "Content-Length is not valid.")
            self.need = int(length)
            if self.need > MAX_BODY:
                raise Broken(413, "The body is too large.")
        self.req = req
        if headers.get("expect", "").lower() == "100-continue":
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def read_chunks(self):
        """The whole body, or None if more is to come."""
        at, parts, total = 0, [], 0
        while True:
            end = self.buffer.find(b"\r\n", at)
            if end < 0:
                break
            size = bytes(self.buffer[at:end]).partition(b";")[0].strip()
            if not re.fullmatch(b"[0-9A-Fa-f]{1,12}", size):
                raise Broken(400, "A chunk is not valid.")
            size = int(size, 16)
            if size == 0:
                if self.buffer[end + 2:end + 4] == b"\r\n":
                    done = end + 4
                else:
                    stop = self.buffer.find(b"\r\n\r\n", end)
                    if stop < 0:
                        break
                    done = stop + 4
                del self.buffer[:done]
                return b"".join(parts)
            total += size
            if total > MAX_BODY:
                raise Broken(413, "The body is too large.")
            start = end + 2
            if len(self.buffer) < start + size + 2:
                break
            parts.append(bytes(self.buffer[start:start + size]))
            at = start + size + 2
        return None

    def send(self, reply, req, close=False):
        try:
            phrase = HTTPStatus(reply.status).phrase
        except ValueError:
            phrase = "Unknown"
        lines = ["HTTP/1.1 %d %s" % (reply.status, phrase),
                 "Date: " + time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime()),
                 "Server: carillon",
                 "X-Request-Id: req_%08x" % next(REQUEST_NUMBERS)]
        body = reply.body
        if reply.status not in (204, 304):
            lines.append("Content-Type: " + reply.media)
            lines.append("Content-Length: %d" % len(body))
        else:
            body = b""
        lines += ["%s: %s" % h for h in reply.headers]
        if close:
            lines.append("Connection: close")
        elif req is not None and req.version == "HTTP/1.0":
            lines.append("Connection: keep-alive")
        if req is not None and req.method == "HEAD":
            body = b""
        self.transport.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
        if close:
            self.closing = True
            self.transport.close()


async def serve(port):
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    server = await loop.create_server(Connection, "127.0.0.1", port, backlog=256)
    print("carillon listens on http://127.0.0.1:%d" % port, flush=True)
    await stop.wait()
    server.close()


def main():
    global FAULT
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--clock-port", type=int, help="accepted, not used")
    parser.add_argument("--fault", choices=FAULTS, metavar="ID")
    args = parser.parse_args()
    FAULT = args.fault
    make_schemas()
    seed()
    asyncio.run(serve(args.port))


if __name__ == "__main__":
    main()
