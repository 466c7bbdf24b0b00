#!/usr/bin/env python3
"""Proves service.py: the correct service keeps openapi.yaml, every fault breaks it.

    python3 faults-test.py              everything
    python3 faults-test.py FAULT ...    these faults only
"""
import copy
import datetime
import http.client
import itertools
import json
import os
import re
import socket
import subprocess
import sys
import time
import uuid
from fractions import Fraction
from urllib.parse import quote

HERE = os.path.dirname(os.path.abspath(__file__))
sys.set_int_max_str_digits(0)


# ------------------------------------------------- YAML, as far as it is used

class Yaml:
    KEY = re.compile(r"('[^']*'|[^\s:'\"\[{][^:]*):(?: +(.*))?")

    def __init__(self, text):
        self.lines = text.split("\n")
        self.at = 0

    def peek(self):
        """(indent, content) of the next line that says something."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            content = line.strip()
            if content and not content.startswith("#"):
                return len(line) - len(line.lstrip(" ")), content
            self.at += 1
        return -1, ""

    def block(self):
        indent, content = self.peek()
        if content == "-" or content.startswith("- "):
            return self.sequence(indent)
        return self.mapping(indent)

    def sequence(self, indent):
        out = []
        while True:
            here, content = self.peek()
            if here != indent or not (content == "-" or content.startswith("- ")):
                return out
            rest = content[1:].strip()
            if not rest:
                self.at += 1
                out.append(self.block())
            elif self.KEY.fullmatch(rest):
                self.lines[self.at] = " " * (indent + 2) + rest
                out.append(self.mapping(indent + 2))
            else:
                self.at += 1
                out.append(self.scalar(rest))

    def mapping(self, indent):
        out = {}
        while True:
            here, content = self.peek()
            m = self.KEY.fullmatch(content)
            if here != indent or content.startswith("- "):
                return out
            assert m, "cannot read line %d: %s" % (self.at + 1, content)
            key, rest = self.scalar(m[1]) if m[1][0] == "'" else m[1], m[2]
            assert key not in out, "twice: line %d" % (self.at + 1)
            self.at += 1
            if not rest:
                deeper, next_content = self.peek()
                if deeper > indent or deeper == indent and next_content.startswith("- "):
                    out[key] = self.block()
                else:
                    out[key] = None
            elif rest == "|":
                out[key] = self.literal(indent)
            else:
                out[key] = self.scalar(rest)

    def literal(self, indent):
        taken = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and len(line) - len(line.lstrip(" ")) <= indent:
                break
            taken.append(line)
            self.at += 1
        margin = min(len(x) - len(x.lstrip(" ")) for x in taken if x.strip())
        return "\n".join(x[margin:] for x in taken).rstrip("\n") + "\n"

    def scalar(self, text):
        if text.startswith("["):
            inner = text[1:-1].strip()
            return [self.scalar(x.strip()) for x in inner.split(",")] if inner else []
        if text.startswith("'"):
            return text[1:-1].replace("''", "'")
        if text.startswith('"'):
            return json.loads(text)
        if text in ("true", "false", "null"):
            return json.loads(text)
        if re.fullmatch(r"-?[0-9]+", text):
            return int(text)
        if re.fullmatch(r"-?[0-9]+\.[0-9]+", text):
            return float(text)
        return text


with open(os.path.join(HERE, "openapi.yaml"), encoding="utf-8") as f:
    DOC = Yaml(f.read()).block()
with open(os.path.join(HERE, "stranger.json"), encoding="utf-8") as f:
    STRANGER = json.load(f)


# ----------------------------------------------------------- schema validator

def deref(node):
    while "$ref" in node:
        at = DOC
        for step in node["$ref"][2:].split("/"):
            at = at[step]
        node = at
    return node


def rfc_date(s):
    return re.fullmatch(r"\d{4}-\d\d-\d\d", s, re.A) is not None and bool(try_(datetime.date.fromisoformat, s))


def rfc_moment(s):
    m = re.fullmatch(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)", s, re.A)
    return bool(m) and rfc_date(m[1]) and bool(try_(datetime.time.fromisoformat, m[2], lambda t: True))


def try_(f, s, then=lambda x: x):
    try:
        return then(f(s))
    except ValueError:
        return None


FORMATS = {
    "date": rfc_date,
    "date-time": rfc_moment,
    "uuid": lambda s: re.fullmatch(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", s) is not None,
    "email": lambda s: re.fullmatch(r"[!-?A-~]+@[A-Za-z0-9.-]+", s) is not None,
    "uri": lambda s: re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[!#-;=?-\[\]_a-z~]+", s) is not None,
}


def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return a == b


def problems(schema, v, way, at="$"):
    """What is wrong with v; way is 'request' or 'response'."""
    schema = deref(schema)
    out = []

    def bad(text):
        out.append("%s %s" % (at, text))

    for sub in schema.get("allOf", ()):
        out += problems(sub, v, way, at)
    if "oneOf" in schema:
        if "discriminator" in schema and isinstance(v, dict):
            d = schema["discriminator"]
            name = v.get(d["propertyName"])
            if not isinstance(name, str) or name not in d["mapping"]:
                bad("discriminator %r" % (name,))
            else:
                out += problems({"$ref": d["mapping"][name]}, v, way, at)
        fits = [s for s in schema["oneOf"] if not problems(s, v, way, at)]
        if len(fits) != 1:
            bad("fits %d of oneOf" % len(fits))
    if v is None:
        if schema.get("nullable") or ("type" not in schema and "enum" not in schema):
            return out
        bad("is null")
        return out
    if "enum" in schema and not any(same(v, e) for e in schema["enum"]):
        bad("not in enum: %r" % (v,))
    kind = schema.get("type")
    if kind:
        number = isinstance(v, (int, float)) and not isinstance(v, bool)
        fits = {"string": isinstance(v, str), "boolean": isinstance(v, bool), "array": isinstance(v, list),
                "object": isinstance(v, dict), "number": number, "integer": number and (isinstance(v, int) or v.is_integer())}[kind]
        if not fits:
            bad("is no %s: %r" % (kind, v))
            return out
    if isinstance(v, str):
        if len(v) < schema.get("minLength", 0) or len(v) > schema.get("maxLength", 10 ** 9):
            bad("length %d" % len(v))
        if "pattern" in schema and not re.search(schema["pattern"].replace("$", r"\Z"), v, re.A):
            bad("pattern %s: %r" % (schema["pattern"], v))
        if schema.get("format") in FORMATS and not FORMATS[schema["format"]](v):
            bad("no %s: %r" % (schema["format"], v))
    elif isinstance(v, (int, float)) and not isinstance(v, bool):
        low = schema.get("minimum")
        if low is not None and (v < low or v == low and schema.get("exclusiveMinimum")):
            bad("too small: %r" % v)
        if v > schema.get("maximum", float("inf")):
            bad("too large: %r" % v)
        if "multipleOf" in schema and Fraction(v) % Fraction(schema["multipleOf"]) != 0:
            bad("no multiple: %r" % v)
        if schema.get("format") == "int64" and abs(v) > 2 ** 63 - 1:
            bad("beyond int64")
    elif isinstance(v, list):
        if len(v) < schema.get("minItems", 0) or len(v) > schema.get("maxItems", 10 ** 9):
            bad("has %d items" % len(v))
        if schema.get("uniqueItems"):
            for a, b in itertools.combinations(v, 2):
                if same(a, b):
                    bad("repeats %r" % (a,))
        for i, item in enumerate(v):
            out += problems(schema.get("items", {}), item, way, "%s[%d]" % (at, i))
    elif isinstance(v, dict):
        props = schema.get("properties", {})
        for name in schema.get("required", ()):
            p = deref(props.get(name, {}))
            if name not in v and not p.get("readOnly" if way == "request" else "writeOnly"):
                bad("lacks " + name)
        if len(v) < schema.get("minProperties", 0) or len(v) > schema.get("maxProperties", 10 ** 9):
            bad("has %d members" % len(v))
        extra = schema.get("additionalProperties", True)
        for name, item in v.items():
            if name in props:
                if way == "response" and deref(props[name]).get("writeOnly"):
                    bad("shows writeOnly " + name)
                out += problems(props[name], item, way, at + "." + name)
            elif extra is False:
                bad("unknown member " + name)
            elif isinstance(extra, dict):
                out += problems(extra, item, way, at + "." + name)
    return out


def from_text(schema, text):
    """The value of a parameter or header given as text."""
    kind = deref(schema).get("type")
    if kind == "integer" and re.fullmatch(r"-?[0-9]+", text, re.A):
        return int(text)
    if kind == "number" and re.fullmatch(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?", text, re.A):
        return float(text)
    return text


# --------------------------------------------------- answers against document

OPS = {}
for _path, _item in DOC["paths"].items():
    for _method in ("get", "post", "put", "patch", "delete"):
        if _method in _item:
            OPS[_method.upper(), _path] = _item[_method]


def operation_of(method, path):
    path = path.partition("?")[0]
    best = None
    for (m, template) in OPS:
        if re.fullmatch(re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(template)), path):
            if best is None or template.count("{") < best.count("{"):
                best = template
    return (method, best) if (method, best) in OPS else None


SEEN = set()


def complaints(r):
    key = operation_of("GET" if r.method == "HEAD" else r.method, r.path)
    if key is None:
        return [] if r.status in (204, 404, 405) else ["undescribed operation answered %d" % r.status]
    spec = OPS[key]["responses"].get(str(r.status))
    if spec is None:
        return ["status %d is not described" % r.status]
    spec = deref(spec)
    out = []
    for name, header in spec.get("headers", {}).items():
        header = deref(header)
        text = r.headers.get(name)
        if text is None:
            if header.get("required"):
                out.append("header %s is missing" % name)
        else:
            out += problems(header["schema"], from_text(header["schema"], text), "response", name)
    media = (r.headers.get("Content-Type") or "").partition(";")[0].strip()
    SEEN.add((key, str(r.status), media))
    content = spec.get("content", {})
    if not content:
        if r.body:
            out.append("a body where none is described")
        return out
    if media not in content:
        return out + ["media type %r is not described" % media]
    if r.method == "HEAD":
        return out
    schema = deref(content[media].get("schema", {}))
    if media.endswith("json"):
        return out + problems(schema, r.json, "response")
    if schema.get("format") != "binary":
        return out + problems(schema, r.body.decode("utf-8"), "response")
    return out


class Failed(AssertionError):
    pass


def want(truth, text):
    if not truth:
        raise Failed(text)


class Answer:
    def __init__(self, method, path, status, headers, body):
        self.method, self.path, self.status, self.headers, self.body = method, path, status, headers, body

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    def conforms(self):
        bad = complaints(self)
        want(not bad, "%s %s -> %d: %s" % (self.method, self.path, self.status, "; ".join(bad[:4])))
        return self

    def has(self, *statuses):
        want(self.status in statuses, "%s %s -> %d, not %s: %s" % (
            self.method, self.path, self.status, statuses, self.body[:300]))
        return self


CALLERS = {c["user"]: c for c in STRANGER["callers"]}


class Client:
    def __init__(self, port):
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=20)

    def call(self, method, path, body=None, who="anna", media="application/json", headers=None):
        h = dict(headers or {})
        if who:
            caller = CALLERS[who]
            if caller["scheme"] == "bearerAuth":
                h["Authorization"] = "Bearer " + caller["credential"]
            else:
                h["X-Station-Key"] = caller["credential"]
        data = None
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            if media:
                h["Content-Type"] = media
        self.http.request(method, path, body=data, headers=h)
        r = self.http.getresponse()
        return Answer(method, path, r.status, r.headers, r.read())

    def tower(self, **more):
        return self.call("POST", "/towers", {"name": "Test tower", "country": "NL", "temperament": "equal",
                                             **more}).has(200, 201).json

    def bell(self, tower, position, **more):
        return self.call("POST", "/towers/%s/bells" % tower["id"],
                         {"position": position, "note": "C4", "weightKg": 100.5, **more}).has(201).json

    def tune(self, who="anna", published=False, **more):
        body = {"kind": "melody", "title": "Test tune", "tempo": 90, "notes": ["C4", "D4"], **more}
        tune = self.call("POST", "/tunes", body, who).has(201).json
        if published:
            tune = self.call("POST", "/tunes/%s/publish" % tune["id"], who=who).has(200).json
        return tune

    def changes(self, **more):
        body = {"kind": "changes", "title": "Test changes", "method": "stedman", "stage": 7, **more}
        return self.call("POST", "/tunes", body).has(201).json

    def recital_body(self, **more):
        return {"towerId": "twr_5e1f0a90c2", "title": "Test recital", "startsAt": "2040-05-01T10:00:00Z",
                "durationMinutes": 30, "programme": [{"tuneId": "3f0c9a52-7d1e-4b86-9a41-0c5d2e8f7b10"}], **more}

    def recital(self, **more):
        return self.call("POST", "/recitals", self.recital_body(**more)).has(201).json


# ------------------------------------------------------------------- proofs

PROOFS = {}


def proof(f):
    PROOFS[f.__name__.replace("_", "-")] = f
    return f


def refused(r):
    r.has(400)
    r.conforms()


@proof
def tower_created_200(c):
    c.call("POST", "/towers", {"name": "Ab", "country": "NL", "temperament": "equal"}).conforms().has(201)


@proof
def bellcount_text(c):
    c.call("GET", "/towers/twr_5e1f0a90c2").conforms()


@proof
def owner_missing_in_list(c):
    c.call("GET", "/tunes").conforms()


@proof
def missing_tune_html(c):
    c.call("GET", "/tunes/" + str(uuid.uuid4())).has(404).conforms()


@proof
def recital_no_location(c):
    c.call("POST", "/recitals", c.recital_body()).has(201).conforms()


@proof
def etag_bare(c):
    c.call("PATCH", "/towers/" + c.tower()["id"], {"name": "New"}).has(200).conforms()


@proof
def total_count_words(c):
    c.call("GET", "/recitals").has(200).conforms()


@proof
def bell_delete_200(c):
    t = c.tower()
    c.bell(t, 4)
    c.call("DELETE", "/towers/%s/bells/4" % t["id"]).conforms().has(204)


@proof
def export_as_text(c):
    c.call("GET", "/recitals/export?year=2031").has(200).conforms()


@proof
def towers_open(c):
    c.call("POST", "/towers", {"name": "Ab", "country": "NL", "temperament": "equal"}, None).has(401).conforms()


@proof
def token_any(c):
    c.call("GET", "/recitals", who=None, headers={"Authorization": "Bearer nonsense"}).has(401).conforms()


@proof
def key_for_bearer(c):
    c.call("DELETE", "/towers/" + c.tower()["id"], who="bram").has(401).conforms()


@proof
def bulk_takes_bearer(c):
    t = c.tower()
    c.call("POST", "/towers/%s/bells/bulk" % t["id"], [{"position": 1, "note": "C4", "weightKg": 1}],
           "anna").has(401).conforms()


@proof
def no_challenge(c):
    c.call("GET", "/tunes", who=None).has(401).conforms()


@proof
def tunes_limit_51(c):
    refused(c.call("GET", "/tunes?limit=51"))


@proof
def recital_status_any(c):
    refused(c.call("GET", "/recitals?status=bogus"))


@proof
def country_unanchored(c):
    refused(c.call("POST", "/towers", {"name": "Ab", "country": "NLD", "temperament": "equal"}))


@proof
def bell_extra_members(c):
    refused(c.call("POST", "/towers/%s/bells" % c.tower()["id"],
                   {"position": 1, "note": "C4", "weightKg": 1, "colour": "green"}))


@proof
def tags_repeated(c):
    refused(c.call("POST", "/tunes", {"kind": "melody", "title": "x", "tempo": 90, "notes": ["C4"],
                                      "tags": ["aa", "aa"]}))


@proof
def bulk_empty(c):
    refused(c.call("POST", "/towers/%s/bells/bulk" % c.tower()["id"], [], "bram"))


@proof
def bell_weight_zero(c):
    refused(c.call("POST", "/towers/%s/bells" % c.tower()["id"], {"position": 1, "note": "C4", "weightKg": 0}))


@proof
def duration_odd(c):
    refused(c.call("POST", "/recitals", c.recital_body(durationMinutes=7)))


@proof
def idempotency_key_any(c):
    refused(c.call("POST", "/recitals", c.recital_body(), headers={"Idempotency-Key": "a b"}))


@proof
def bell_position_zero(c):
    c.call("GET", "/towers/twr_5e1f0a90c2/bells/0").has(400, 404).conforms()


@proof
def cancel_no_reason(c):
    refused(c.call("POST", "/recitals/%d/cancel" % c.recital()["id"], {}))


@proof
def tempo_true(c):
    refused(c.call("POST", "/tunes", {"kind": "melody", "title": "x", "tempo": True, "notes": ["C4"]}))


@proof
def publish_conflict_body(c):
    c.call("POST", "/tunes/%s/publish" % c.tune(published=True)["id"]).has(409).conforms()


@proof
def search_details_text(c):
    refused(c.call("POST", "/tunes/search", {"limit": 0}))


@proof
def city_null_refused(c):
    t = c.tower(city="Delft")
    r = c.call("PATCH", "/towers/" + t["id"], {"city": None}).has(200).conforms()
    want(r.json["city"] is None, "city stays")


@proof
def access_code_shown(c):
    c.call("GET", "/towers/" + c.tower(accessCode="1234")["id"]).has(200).conforms()


@proof
def created_at_writable(c):
    t = c.tower(createdAt="1999-01-01T00:00:00Z")
    want(not t["createdAt"].startswith("1999"), "createdAt was taken from the client")


@proof
def kind_capital(c):
    c.call("GET", "/tunes/" + c.changes()["id"]).has(200).conforms()


@proof
def published_at_empty(c):
    c.call("POST", "/tunes", {"kind": "melody", "title": "x", "tempo": 90, "notes": ["C4"]}).has(201).conforms()


@proof
def fresh_204(c):
    tag = c.call("GET", "/towers/twr_5e1f0a90c2").headers["ETag"]
    c.call("GET", "/towers/twr_5e1f0a90c2", headers={"If-None-Match": tag}).conforms().has(304)


@proof
def recording_any_type(c):
    c.call("PUT", "/tunes/%s/recording" % c.tune()["id"], b"\x89PNG", media="image/png").has(415).conforms()


@proof
def recording_as_json(c):
    path = "/tunes/%s/recording" % c.tune()["id"]
    c.call("PUT", path, b"MThd", media="audio/midi").has(204).conforms()
    c.call("GET", path).has(200).conforms()


@proof
def calls_any_value(c):
    refused(c.call("POST", "/tunes", {"kind": "changes", "title": "x", "method": "stedman", "stage": 5,
                                      "calls": {"bob": "three"}}))


@proof
def export_year_optional(c):
    refused(c.call("GET", "/recitals/export"))


@proof
def offset_huge(c):
    refused(c.call("GET", "/towers?offset=99999999999999999999999"))


@proof
def q_ascii(c):
    c.call("GET", "/towers?q=" + quote("Böhm鐘")).has(200).conforms()


@proof
def composer_null(c):
    c.call("POST", "/tunes", {"kind": "melody", "title": "x", "tempo": 90, "notes": ["C4"],
                              "composer": None}).has(201).conforms()


@proof
def patch_array(c):
    refused(c.call("PATCH", "/tunes/" + c.tune()["id"], []))


@proof
def unknown_tune(c):
    c.call("POST", "/recitals", c.recital_body(programme=[{"tuneId": str(uuid.uuid4())}])).has(422).conforms()


@proof
def search_empty_text(c):
    refused(c.call("POST", "/tunes/search", {"text": ""}))


@proof
def bells_of_removed(c):
    t = c.tower()
    c.call("DELETE", "/towers/" + t["id"]).has(204)
    c.call("GET", "/towers/%s/bells" % t["id"]).has(404).conforms()


@proof
def start_overflow(c):
    c.call("POST", "/recitals", c.recital_body(startsAt="9999-12-31T23:59:59-05:00")).has(422).conforms()


@proof
def title_overlong(c):
    refused(c.call("PATCH", "/tunes/" + c.tune()["id"], {"title": "x" * 121}))


@proof
def bulk_broken_json(c):
    refused(c.call("POST", "/towers/%s/bells/bulk" % c.tower()["id"], b"[{", "bram"))


@proof
def cursor_garbage(c):
    refused(c.call("GET", "/tunes?cursor=garbage"))


@proof
def recital_id_word(c):
    c.call("GET", "/recitals/latest").has(400, 404).conforms()


@proof
def limit_empty(c):
    refused(c.call("GET", "/recitals?limit="))


@proof
def towers_cached(c):
    c.call("GET", "/towers?country=IS").has(200)
    t = c.tower(country="IS")
    ids = [x["id"] for x in c.call("GET", "/towers?country=IS").json["items"]]
    want(t["id"] in ids, "the new tower is not listed")


@proof
def tune_delete_kept(c):
    path = "/tunes/" + c.tune()["id"]
    c.call("DELETE", path).has(204)
    c.call("GET", path).has(404)


@proof
def bell_delete_listed(c):
    t = c.tower()
    c.bell(t, 1), c.bell(t, 2)
    c.call("DELETE", "/towers/%s/bells/1" % t["id"]).has(204)
    got = [b["position"] for b in c.call("GET", "/towers/%s/bells" % t["id"]).json]
    want(got == [2], "listed: %s" % got)


@proof
def patch_wipes_tags(c):
    t = c.tune(tags=["aa", "bb"])
    c.call("PATCH", "/tunes/" + t["id"], {"title": "Other"}).has(200)
    got = c.call("GET", "/tunes/" + t["id"]).json
    want(got["title"] == "Other" and got["tags"] == ["aa", "bb"], "tags: %s" % got["tags"])


@proof
def patch_not_stored(c):
    t = c.tower()
    c.call("PATCH", "/towers/" + t["id"], {"name": "Other"}).has(200)
    want(c.call("GET", "/towers/" + t["id"]).json["name"] == "Other", "the old name is read")


@proof
def put_merges(c):
    t = c.tower(city="Gent", heightM=40)
    c.call("PUT", "/towers/" + t["id"], {"name": "Other", "country": "BE", "temperament": "equal"}).has(200)
    got = c.call("GET", "/towers/" + t["id"]).json
    want(got["name"] == "Other" and got["city"] is None and got["heightM"] is None, "old members stay")


@proof
def cancel_not_stored(c):
    r = c.recital()
    c.call("POST", "/recitals/%d/cancel" % r["id"], {"reason": "storm"}).has(200)
    got = c.call("GET", "/recitals/%d" % r["id"]).json
    want(got["status"] == "cancelled" and got["cancelReason"] == "storm", "status: " + got["status"])


@proof
def publish_not_stored(c):
    t = c.tune(published=True)
    want(c.call("GET", "/tunes/" + t["id"]).json["status"] == "published", "still a draft")


@proof
def tunes_limit_ignored(c):
    c.tune(), c.tune()
    want(len(c.call("GET", "/tunes?limit=1").has(200).json["items"]) == 1, "more than one")


@proof
def recital_status_ignored(c):
    c.recital()
    items = c.call("GET", "/recitals?status=cancelled&limit=100").has(200).json["items"]
    want(all(r["status"] == "cancelled" for r in items), "scheduled ones are listed")


@proof
def search_tags_any(c):
    both, one = c.tune(tags=["red-x", "blue-x"]), c.tune(tags=["red-x"])
    ids = [t["id"] for t in c.call("POST", "/tunes/search", {"tags": ["red-x", "blue-x"], "limit": 50}).json["items"]]
    want(both["id"] in ids and one["id"] not in ids, "found one that lacks a tag")


@proof
def bulk_loses_last(c):
    t = c.tower()
    bells = [{"position": p, "note": "C4", "weightKg": p} for p in (5, 6, 7)]
    r = c.call("POST", "/towers/%s/bells/bulk" % t["id"], bells, "bram").has(200).conforms()
    want(r.json["hung"] == 3, "not all hung")
    got = [b["position"] for b in c.call("GET", "/towers/%s/bells" % t["id"]).json]
    want(got == [5, 6, 7], "listed: %s" % got)


@proof
def replay_doubles(c):
    key = {"Idempotency-Key": "key-" + uuid.uuid4().hex}
    first = c.call("POST", "/recitals", c.recital_body(), headers=key).has(201).json
    again = c.call("POST", "/recitals", c.recital_body(), headers=key).has(201).conforms().json
    want(first["id"] == again["id"], "two recitals")


@proof
def drafts_visible(c):
    c.call("GET", "/tunes/" + c.tune("anna")["id"], who="bram").has(404)


@proof
def foreign_delete(c):
    t = c.tune("anna", published=True)
    c.call("DELETE", "/tunes/" + t["id"], who="bram").has(403).conforms()
    c.call("GET", "/tunes/" + t["id"]).has(200)


@proof
def recording_text(c):
    path = "/tunes/%s/recording" % c.tune()["id"]
    data = bytes(range(256)) + b"\r\n\r\nMTrk\r\n"
    c.call("PUT", path, data, media="application/octet-stream").has(204)
    want(c.call("GET", path).body == data, "other bytes")


@proof
def bells_survive(c):
    t = c.tower()
    c.bell(t, 1)
    c.call("DELETE", "/towers/" + t["id"]).has(204)
    c.call("GET", "/towers/%s/bells" % t["id"]).has(404)


@proof
def bellcount_stale(c):
    t = c.tower()
    c.bell(t, 1), c.bell(t, 2)
    c.call("DELETE", "/towers/%s/bells/2" % t["id"])
    want(c.call("GET", "/towers/" + t["id"]).json["bellCount"] == 1, "bellCount")


@proof
def position_overwritten(c):
    t = c.tower()
    c.bell(t, 1, note="A4")
    c.call("POST", "/towers/%s/bells" % t["id"], {"position": 1, "note": "B4", "weightKg": 7}).has(409).conforms()
    want(c.call("GET", "/towers/%s/bells/1" % t["id"]).json["note"] == "A4", "another bell")


@proof
def offset_overlap(c):
    t = c.tower()
    made = [c.recital(towerId=t["id"], startsAt="2050-01-0%dT10:00:00Z" % d)["id"] for d in (1, 2, 3, 4)]
    got = [r["id"] for o in (0, 2)
           for r in c.call("GET", "/recitals?towerId=%s&limit=2&offset=%d" % (t["id"], o)).json["items"]]
    want(got == made, "pages: %s of %s" % (got, made))


@proof
def cancel_twice(c):
    path = "/recitals/%d/cancel" % c.recital()["id"]
    c.call("POST", path, {"reason": "storm"}).has(200)
    c.call("POST", path, {"reason": "storm"}).has(409).conforms()


@proof
def published_editable(c):
    t = c.tune(published=True)
    c.call("PATCH", "/tunes/" + t["id"], {"title": "Other"}).has(409).conforms()


@proof
def if_match_ignored(c):
    t = c.tower()
    old = c.call("GET", "/towers/" + t["id"]).headers["ETag"]
    c.call("PATCH", "/towers/" + t["id"], {"name": "Newer"}).has(200)
    c.call("PUT", "/towers/" + t["id"], {"name": "Mine", "country": "BE", "temperament": "equal"},
           headers={"If-Match": old}).has(412).conforms()
    want(c.call("GET", "/towers/" + t["id"]).json["name"] == "Newer", "lost update")


@proof
def patch_null_kept(c):
    t = c.tower(heightM=40)
    c.call("PATCH", "/towers/" + t["id"], {"heightM": None}, media="application/merge-patch+json").has(200)
    want(c.call("GET", "/towers/" + t["id"]).json["heightM"] is None, "heightM stays")


@proof
def sort_ignored(c):
    c.tower(name="AAA"), c.tower(name="ZZZ")
    up = [t["name"] for t in c.call("GET", "/towers?limit=100&sort=name").json["items"]]
    down = [t["name"] for t in c.call("GET", "/towers?limit=100&sort=-name").json["items"]]
    want(up == sorted(up) and down == sorted(down, reverse=True), "order")


# ----------------------------------------- the correct service, at every turn

ODD = [None, True, False, 0, 1, -1, 1.0, 0.25, 3.7, 2, 5, 7, 12, 99, 100, 241, 2100, 20000, 20000.5, 10 ** 30, 1e300,
       "", " ", "x", "xy", "x" * 100, "x" * 121, "x" * 600, "é", "鐘🔔", "NL", "nl", "NLD", "NL\n", "equal",
       "bronze", "melody", "changes", "C4", "C#4", "H4", "2024-02-29", "2023-02-29", "0099-01-01",
       "2031-04-13T09:30:00+02:00", "2031-04-13t09:30:00.123456789z", "2031-04-13 09:30:00Z", "2031-04-13T25:00:00Z",
       "a@b.example", "a@b@c", "http://x.example/a?b=c#d", "https://", "ftp://x.example", "http://a b",
       "http://u:p@x.example:80/", "3f0c9a52-7d1e-4b86-9a41-0c5d2e8f7b10", "3F0C9A52-7D1E-4B86-9A41-0C5D2E8F7B10",
       "twr_5e1f0a90c2", "twr_5E1F0A90C2", "1234", "123", "12a4", "\u0000", "plain-bob",
       [], ["aa"], ["aa", "aa"], ["C4", "D4"], [None], [[]], ["xx"] * 13, [{}], {}, {"a": 1}, {"min": 60},
       {"min": 100, "max": 50}, {"bob": 3}, {"bob": "3"}, {str(i): i for i in range(7)}]


def mutants(value):
    """The value with one place changed."""
    for odd in ODD:
        yield odd
    if isinstance(value, dict):
        for name in value:
            yield {k: v for k, v in value.items() if k != name}
            for m in mutants(value[name]):
                yield {**value, name: m}
        yield {**value, "surplus": 1}
    elif isinstance(value, list):
        for i, item in enumerate(value):
            for m in mutants(item):
                yield value[:i] + [m] + value[i + 1:]
        yield value + value
        yield value * 30


def body_fuzz(c):
    sent = 0
    tower = c.tower()
    tune = c.tune()
    full_tower = {"name": "Dom", "country": "NL", "city": "Utrecht", "temperament": "meantone", "heightM": 112.5,
                  "consecratedOn": "1382-11-01", "contactEmail": "dom@ringers.example",
                  "website": "https://dom.example/bells", "accessCode": "48213", "id": "twr_5e1f0a90c2",
                  "bellCount": 3, "revision": 9, "createdAt": "2020-01-01T00:00:00Z"}
    patch = {k: full_tower[k] for k in list(full_tower)[:9]}
    bell = {"position": 12, "note": "F#4", "weightKg": 412.5, "metal": "bronze", "castYear": 1664,
            "founder": "Hemony", "inscription": None, "towerId": "twr_5e1f0a90c2", "hungAt": "2020-01-01T00:00:00Z"}
    melody = {"kind": "melody", "title": "x", "tempo": 90, "notes": ["C4"], "tags": ["aa"], "composer": "y"}
    changes = {"kind": "changes", "title": "x", "method": "stedman", "stage": 5, "extent": True,
               "calls": {"bob": 1}, "tags": [], "composer": None}
    recital = c.recital_body(audience="public", remarks=None,
                             programme=[{"tuneId": "3f0c9a52-7d1e-4b86-9a41-0c5d2e8f7b10", "repeats": 2}])
    query = {"text": "call", "kinds": ["melody"], "tags": ["evening"], "tempo": {"min": 60, "max": 120}, "limit": 10}
    todo = [("POST", "/towers", full_tower, "anna"), ("PUT", "/towers/" + tower["id"], full_tower, "anna"),
            ("PATCH", "/towers/" + tower["id"], patch, "anna"),
            ("POST", "/towers/%s/bells" % tower["id"], bell, "anna"),
            ("POST", "/towers/%s/bells/bulk" % tower["id"], [bell], "bram"),
            ("POST", "/tunes", melody, "anna"), ("POST", "/tunes", changes, "bram"),
            ("PATCH", "/tunes/" + tune["id"], {k: melody[k] for k in ("title", "composer", "tags", "tempo")}, "anna"),
            ("POST", "/tunes/search", query, "bram"), ("POST", "/recitals", recital, "anna"),
            ("POST", "/recitals/1001/cancel", {"reason": "storm"}, "anna")]
    for method, path, base, who in todo:
        spec = OPS[operation_of(method, path)]["requestBody"]["content"]["application/json"]["schema"]
        want(not problems(spec, base, "request"), "the base body of %s %s: %s" % (
            method, path, problems(spec, base, "request")))
        for body in itertools.chain([base], mutants(base)):
            bad = problems(spec, body, "request")
            r = c.call(method, path, body, who).conforms()
            sent += 1
            text = "%s %s with %s -> %d, %s" % (method, path, json.dumps(body)[:400], r.status, bad[:2])
            want((r.status == 400) == bool(bad), text + " " + r.body.decode()[:300])
        for raw in (b"{", b"", b"null", b"\xff", b"NaN", b'{"a":1e999}', b'["\\ud800"]', b"[" * 50000,
                    b"[" * 400 + b"]" * 400, b"9" * 5000, b'{"name":', b"\xef\xbb\xbf{}"):
            refused(c.call(method, path, raw, who))
            sent += 1
    return sent


VALUES = ["", "0", "-1", "1", "50", "51", "100", "101", "99999999999999999999999", "1.5", "1e3", "abc", "true",
          "null", "NL", "nl", "NLD", "équal", "equal", "鐘", "x" * 41, "bronze", "bronze,iron", "bronze,", "gold",
          "draft", "published", "melody", "advent", "a", "2031-01-01", "2031-02-30", "scheduled", "-name", "name",
          "twr_5e1f0a90c2", "twr_x", "2031", "1999", "semicolon", "+5", "%00", "0x10", "9" * 5000]


def query_fuzz(c):
    sent = 0
    for (method, template), op in OPS.items():
        path = template.replace("{towerId}", "twr_5e1f0a90c2")
        for p in op.get("parameters", ()):
            p = deref(p)
            if p["in"] != "query" or p["name"] == "cursor":
                continue
            rest = "&year=2031" if template.endswith("export") and p["name"] != "year" else ""
            schema = deref(p["schema"])
            for text in VALUES:
                if schema["type"] == "array":
                    items = text.split(",") if p.get("explode") is False else [text]
                    bad = problems(schema, items, "request")
                else:
                    bad = problems(schema, from_text(schema, text), "request")
                r = c.call(method, "%s?%s=%s%s" % (path, p["name"], quote(text, safe=","), rest)).conforms()
                sent += 1
                want(r.status == (400 if bad else 200), "%s %s?%s=%s -> %d" % (method, path, p["name"], text, r.status))
    for text in ("", "abc", "%25%25", "dHVuZTp4", "dHVuZToxMjM0NTY", "x" * 41, "dHVuZTo5"):
        c.call("GET", "/tunes?cursor=" + text).has(200, 400).conforms()
    for text in ('"r1"', "*", "r1", '""', '"r1", "r2"', 'W/"r1"', "x" * 2000):
        ok = text in ('"r1"', "*")
        c.call("GET", "/towers/twr_5e1f0a90c2", headers={"If-None-Match": text}).has(*(200, 304) if ok else (400,)).conforms()
        for method in ("PUT", "PATCH"):
            c.call(method, "/towers/twr_0b7c44d1e9", {"name": "Mill", "country": "GB", "temperament": "equal"},
                   headers={"If-Match": text}).has(*(200, 412) if ok else (400,)).conforms()
    for text in ("short", "x" * 65, "with space", "", "ünïcode-key".encode("utf-8").decode("latin-1")):
        refused(c.call("POST", "/recitals", c.recital_body(), headers={"Idempotency-Key": text}))
    for id in ("0", "-1", "1.5", "abc", "9223372036854775808", "9" * 60, "9" * 5000, "%C3%A9", "%00", "1%2F2", "%FF"):
        c.call("GET", "/recitals/" + id).has(400, 404).conforms()
        for method in ("GET", "DELETE"):
            c.call(method, "/towers/twr_5e1f0a90c2/bells/" + id).has(400, 404).conforms()
        c.call("GET", "/towers/" + id).has(404).conforms()
        c.call("GET", "/tunes/" + id).has(404).conforms()
    return sent


def each_operation(c):
    """401, 404, 413 and 415 of every operation that describes them."""
    for (method, template), op in OPS.items():
        ways = [list(s)[0] for s in op.get("security", DOC["security"])]
        good = [u for u, caller in CALLERS.items() if caller["scheme"] in ways] or [None]
        path = (template.replace("{towerId}", "twr_5e1f0a90c2").replace("{recitalId}", "1001")
                .replace("{tuneId}", "3f0c9a52-7d1e-4b86-9a41-0c5d2e8f7b10").replace("{position}", "1"))
        if ways:
            for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer"},
                            {"Authorization": "Basic " + CALLERS["anna"]["credential"]}, {"X-Station-Key": ""},
                            {"Authorization": "Bearer " + CALLERS["bram"]["credential"]},
                            {"X-Station-Key": CALLERS["anna"]["credential"]}):
                c.call(method, path, who=None, headers=headers).has(401).conforms()
            for user in set(CALLERS) - set(good):
                c.call(method, path, who=user).has(401).conforms()
        if "{" in template:
            lost = (template.replace("{towerId}", "twr_ffffffffff").replace("{recitalId}", "999999")
                    .replace("{tuneId}", str(uuid.uuid4())).replace("{position}", "98"))
            c.call(method, lost, who=good[0]).has(404).conforms()
        if "requestBody" in op:
            refused(c.call(method, path, who="anna" if "anna" in good else "bram"))
            c.call(method, path, b"<a/>", who=good[0], media="text/xml").has(415).conforms()
            first = list(op["requestBody"]["content"])[0]
            c.call(method, path, b'"' + b"x" * 300000 + b'"', who=good[0], media=first).has(413).conforms()
        for other in ("PROPFIND", "TRACE"):
            r = c.call(other, path, who=good[0]).has(405)
            want(r.headers["Allow"], "405 without Allow")


def further(c):
    """What the rest leaves out: statuses and freedoms."""
    t = c.tower(contactEmail="a@b.example", website="http://u@x.example:8080/a%20b?c#d")
    c.bell(t, 3)
    c.call("GET", "/towers/%s/bells?metal=bronze,iron&minWeightKg=1.5" % t["id"]).has(200).conforms()
    c.call("GET", "/towers/%s/bells/3" % t["id"]).has(200).conforms()
    c.call("HEAD", "/towers/" + t["id"]).has(200).conforms()
    c.call("OPTIONS", "/towers").has(204)
    r = c.recital(towerId=t["id"])
    c.call("DELETE", "/towers/" + t["id"]).has(409).conforms()
    c.call("POST", "/recitals/%d/cancel" % r["id"], {"reason": "storm"}).has(200).conforms()
    c.call("DELETE", "/towers/" + t["id"]).has(204).conforms()
    mine, theirs = c.tune(published=True), c.tune("bram", published=True)
    for method, path, body, media in (("PATCH", "", {"title": "x"}, "application/json"),
                                      ("PUT", "/recording", b"x", "audio/midi"), ("POST", "/publish", None, None),
                                      ("DELETE", "", None, None)):
        c.call(method, "/tunes/" + theirs["id"] + path, body, "anna", media).has(403).conforms()
    c.call("PATCH", "/tunes/" + c.changes()["id"], {"tempo": 60}).has(422).conforms()
    c.recital(programme=[{"tuneId": mine["id"].upper()}])
    c.call("DELETE", "/tunes/" + mine["id"]).has(409).conforms()
    c.call("DELETE", "/tunes/" + c.tune()["id"]).has(204).conforms()
    c.call("PUT", "/tunes/%s/recording" % mine["id"], b"MThd", media="audio/midi").has(204).conforms()
    c.call("GET", "/tunes/%s/recording" % mine["id"], who="bram").has(200).conforms()
    c.call("PUT", "/tunes/%s/recording" % mine["id"], b"x" * 65536, media="application/octet-stream").has(204)
    c.call("GET", "/tunes/%s/recording" % mine["id"]).has(200).conforms()
    want(c.call("GET", "/tunes/" + mine["id"]).conforms().json["hasRecording"], "hasRecording")
    for tune in (mine, c.changes(calls={"bob": 2})):
        sheet = c.call("GET", "/tunes/" + tune["id"], headers={"Accept": "text/plain"}).has(200).conforms()
        want(sheet.headers["Content-Type"].startswith("text/plain"), "no sheet")
    for accept in ("application/xml", "", "*/*", "text/plain;q=0.1, application/json", "text/html, */*;q=0.1"):
        got = c.call("GET", "/tunes/" + mine["id"], headers={"Accept": accept}).has(200).conforms()
        want(got.json, "no JSON for " + accept)
    c.call("POST", "/tunes/%s/publish" % c.tune()["id"]).has(200).conforms()
    key = {"Idempotency-Key": "key-" + uuid.uuid4().hex}
    c.call("POST", "/recitals", c.recital_body(), headers=key).has(201).conforms()
    c.call("POST", "/recitals", c.recital_body(title="Other"), headers=key).has(409).conforms()
    r = c.recital(startsAt="2031-12-31T23:30:00-01:00", title='Quote ", comma; line\nand \x00')
    want(r["startsAt"] == "2032-01-01T00:30:00Z", "UTC: " + r["startsAt"])
    c.call("GET", "/recitals/%d" % r["id"]).has(200).conforms()
    table = c.call("GET", "/recitals/export?year=2032&separator=semicolon").has(200).conforms()
    want(b'"Quote "", comma; line' in table.body, "CSV")
    c.call("GET", "/recitals?from=2031-01-01&to=2031-12-31&unknown=1").has(200).conforms()
    # all pages of tunes, each tune once
    seen, cursor = [], ""
    while cursor is not None:
        page = c.call("GET", "/tunes?limit=50" + (cursor and "&cursor=" + cursor)).has(200).conforms().json
        seen += [t["id"] for t in page["items"]]
        cursor = page["nextCursor"]
    want(len(seen) == len(set(seen)) and mine["id"] in seen and theirs["id"] in seen, "pages of tunes")
    c.call("GET", "/nothing").has(404)
    c.call("GET", "/towers/").has(404)


def examples():
    """Every example of the document keeps its schema."""
    count = 0

    def visit(node, way):
        nonlocal count
        if isinstance(node, list):
            for x in node:
                visit(x, way)
        if not isinstance(node, dict):
            return
        schema = node.get("schema", node if "type" in node else None)
        values = []
        if "example" in node and schema is not None:
            values.append(node["example"])
        if "examples" in node and isinstance(node["examples"], dict) and schema is not None:
            values += [e["value"] for e in node["examples"].values()]
        for value in values:
            bad = problems(schema, value, way)
            want(not bad, "example %r: %s" % (value, bad))
            count += 1
        for name, x in node.items():
            if name not in ("example", "examples", "enum"):
                visit(x, "response" if name == "responses" else "request" if name == "requestBody" else way)

    visit(DOC, "request")
    return count


def speed(c):
    n, start = 2000, time.time()
    for _ in range(n):
        c.http.request("GET", "/towers/twr_5e1f0a90c2")
        c.http.getresponse().read()
    return n / (time.time() - start)


# ------------------------------------------------------------------ the run

class Service:
    def __init__(self, fault=None):
        with socket.socket() as s, socket.socket() as t:
            s.bind(("127.0.0.1", 0))
            t.bind(("127.0.0.1", 0))
            port, clock = s.getsockname()[1], t.getsockname()[1]
        command = STRANGER["command"] + ["--port", str(port), "--clock-port", str(clock)]
        if fault:
            command += ["--fault", fault]
        self.process = subprocess.Popen([sys.executable] + command[1:], cwd=HERE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.process.stdout.readline()
        self.client = Client(port)

    def __enter__(self):
        return self.client

    def __exit__(self, *_):
        self.client.http.close()
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()


def main():
    faults = STRANGER["faults"]
    ids = [f["id"] for f in faults]
    assert len(set(ids)) == len(ids) and set(ids) == set(PROOFS), set(ids) ^ set(PROOFS)
    for f in faults:
        assert tuple(f["operation"].split(" ")) in OPS, f
        assert f["sort"] in ("promise", "crash", "stateful"), f
    names = sys.argv[1:] or ids
    sort_of = {f["id"]: f["sort"] for f in faults}
    wrong = 0
    with Service() as c:
        for name in names:
            try:
                PROOFS[name](c)
            except Failed as e:
                wrong += 1
                print("WRONG  %-24s fails on the correct service: %s" % (name, e))
        if not sys.argv[1:]:
            print("%d operations, %d examples" % (len(OPS), examples()))
            try:
                each_operation(c)
                further(c)
                rate = speed(c)
                print("%d queries, %d bodies; %.0f requests/s" % (query_fuzz(c), body_fuzz(c), rate))
            except Failed as e:
                wrong += 1
                print("WRONG  correct service: %s" % e)
            for key, op in OPS.items():
                for status, spec in op["responses"].items():
                    for media in deref(spec).get("content", {"": None}):
                        if (key, status, media) not in SEEN:
                            wrong += 1
                            print("UNSEEN %s %s %s %s" % (*key, status, media))
    for name in names:
        with Service(name) as c:
            try:
                PROOFS[name](c)
            except Failed as e:
                if (sort_of[name] == "crash") != ("-> 500" in str(e)):
                    wrong += 1
                    print("WRONG  %-24s is no %s: %s" % (name, sort_of[name], e))
                elif sys.argv[1:]:
                    print("shown  %-24s %s" % (name, e))
            else:
                wrong += 1
                print("WRONG  %-24s passes on the faulty service" % name)
    sorts = {s: sum(f["sort"] == s for f in faults if f["id"] in names) for s in ("promise", "crash", "stateful")}
    print("%d faults (%s): %s" % (len(names), ", ".join("%d %s" % (n, s) for s, n in sorts.items()),
                                  "all shown" if not wrong else "%d wrong" % wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
