import com.sun.net.httpserver.*;
import java.io.*;
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.charset.*;
import java.security.*;
import java.time.*;
import java.time.format.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.*;
import java.util.regex.*;
import java.util.stream.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Tideline: surveys of the strandline. One file, no dependency, everything in memory, one lock. */
@SuppressWarnings({"unchecked", "rawtypes"})
public class Service {
  static String FAULT = "";
  static boolean f(String id) { return FAULT.equals(id); }

  // ---------------------------------------------------------------- clock
  static volatile long offset = 0;
  static long now() { return System.currentTimeMillis() + offset; }
  static final DateTimeFormatter ISO = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
  static String iso(long ms) { return ISO.format(Instant.ofEpochMilli(ms)); }
  static final Pattern DATE_TIME = Pattern.compile("\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)");
  static Instant instant(String text) {
    if (!DATE_TIME.matcher(text).matches()) return null;
    try { return OffsetDateTime.parse(text.toUpperCase(Locale.ROOT).replaceFirst("(\\.\\d{9})\\d+", "$1")).toInstant(); } catch (DateTimeException e) { return null; }
  }
  static boolean dueBy(Row r, long t) { return !instant((String) r.f.get("dueAt")).isAfter(Instant.ofEpochMilli(t)); }

  // ---------------------------------------------------------------- json
  static class BadJson extends Exception { }
  static class Json {
    final String s; int i = 0;
    Json(String s) { this.s = s; }
    static Object read(String s) throws BadJson { Json j = new Json(s); j.space(); Object v = j.value(0); j.space(); if (j.i < s.length()) throw new BadJson(); return v; }
    void space() { while (i < s.length() && " \t\r\n".indexOf(s.charAt(i)) >= 0) i++; }
    char next() throws BadJson { if (i >= s.length()) throw new BadJson(); return s.charAt(i++); }
    Object value(int depth) throws BadJson {
      if (depth > 60 || i >= s.length()) throw new BadJson();
      char c = s.charAt(i);
      if (c == '{') {
        i++; Map<String, Object> m = new LinkedHashMap<>(); space();
        if (i < s.length() && s.charAt(i) == '}') { i++; return m; }
        while (true) {
          space(); if (next() != '"') throw new BadJson();
          String k = text(); space(); if (next() != ':') throw new BadJson();
          space(); m.put(k, value(depth + 1)); space();
          char d = next(); if (d == '}') return m; if (d != ',') throw new BadJson();
        }
      }
      if (c == '[') {
        i++; List<Object> l = new ArrayList<>(); space();
        if (i < s.length() && s.charAt(i) == ']') { i++; return l; }
        while (true) { space(); l.add(value(depth + 1)); space(); char d = next(); if (d == ']') return l; if (d != ',') throw new BadJson(); }
      }
      if (c == '"') { i++; return text(); }
      for (String w : List.of("true", "false", "null")) if (s.startsWith(w, i)) { i += w.length(); return w.equals("null") ? null : (Object) w.equals("true"); }
      Matcher m = NUMBER.matcher(s).region(i, s.length());
      if (!m.lookingAt()) throw new BadJson();
      i = m.end();
      double d = Double.parseDouble(m.group());
      if (Double.isInfinite(d)) throw new BadJson();
      return d == Math.rint(d) && Math.abs(d) < 9e15 ? (Object) (long) d : (Object) d;
    }
    static final Pattern NUMBER = Pattern.compile("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?");
    String text() throws BadJson {
      StringBuilder b = new StringBuilder();
      while (true) {
        char c = next();
        if (c == '"') return b.toString();
        if (c < 0x20) throw new BadJson();
        if (c != '\\') { b.append(c); continue; }
        c = next();
        int k = "\"\\/bfnrt".indexOf(c);
        if (k >= 0) b.append("\"\\/\b\f\n\r\t".charAt(k));
        else if (c == 'u') { if (i + 4 > s.length() || !s.substring(i, i + 4).matches("[0-9a-fA-F]{4}")) throw new BadJson(); b.append((char) Integer.parseInt(s.substring(i, i + 4), 16)); i += 4; }
        else throw new BadJson();
      }
    }
    static String write(Object o) { StringBuilder b = new StringBuilder(); write(o, b); return b.toString(); }
    static void write(Object o, StringBuilder b) {
      if (o instanceof Map<?, ?> m) {
        b.append('{'); boolean first = true;
        for (var e : m.entrySet()) { if (!first) b.append(','); first = false; write(e.getKey(), b); b.append(':'); write(e.getValue(), b); }
        b.append('}');
      } else if (o instanceof List<?> l) {
        b.append('['); for (int k = 0; k < l.size(); k++) { if (k > 0) b.append(','); write(l.get(k), b); } b.append(']');
      } else if (o instanceof String s) {
        b.append('"');
        for (char c : s.toCharArray()) {
          if (c == '"' || c == '\\') b.append('\\').append(c);
          else if (c < 0x20 || c == 0x7f || (c >= 0xd800 && c < 0xe000 && Character.isSurrogate(c))) b.append(String.format("\\u%04x", (int) c));
          else b.append(c);
        }
        b.append('"');
      } else b.append(o);
    }
  }
  static Map<String, Object> map(Object... kv) { Map<String, Object> m = new LinkedHashMap<>(); for (int i = 0; i < kv.length; i += 2) m.put((String) kv[i], kv[i + 1]); return m; }

  // ---------------------------------------------------------------- refusals
  static class Refusal extends RuntimeException {
    final String code, detail; final int status; final List<Object> violations; final boolean own;
    Refusal(int status, String code, String detail, List<Object> violations, boolean own) { super(code, null, false, false); this.status = status; this.code = code; this.detail = detail; this.violations = violations; this.own = own; }
  }
  static Refusal no(int status, String code, String detail) { return new Refusal(status, code, detail, List.of(), false); }
  static Refusal own(int status, String code, String detail) { return new Refusal(status, code, detail, List.of(), true); }
  static Refusal parameter(String name, String expected) { return new Refusal(400, "badParameter", "The parameter " + name + " is not good.", List.of(map("in", "query", "path", name, "expected", expected)), false); }
  static Object brief(Object v) { String s = Json.write(v); return s.length() > 100 ? s.substring(0, 100) : v; }
  static Refusal missing() { return no(404, "notFound", "There is no such thing here."); }
  static Refusal forbidden() { return no(403, "forbidden", "That is not yours to do."); }
  static Refusal wrongState() { return no(409, "wrongState", "Its state does not allow that."); }
  static final Map<Integer, String> PHRASES = Map.ofEntries(Map.entry(400, "Bad Request"), Map.entry(401, "Unauthorized"), Map.entry(403, "Forbidden"), Map.entry(404, "Not Found"), Map.entry(405, "Method Not Allowed"), Map.entry(406, "Not Acceptable"),
    Map.entry(409, "Conflict"), Map.entry(410, "Gone"), Map.entry(412, "Precondition Failed"), Map.entry(413, "Content Too Large"), Map.entry(415, "Unsupported Media Type"), Map.entry(422, "Unprocessable Content"), Map.entry(428, "Precondition Required"), Map.entry(429, "Too Many Requests"), Map.entry(500, "Internal Server Error"));

  // ---------------------------------------------------------------- shapes
  static class Field {
    final String name, type; boolean required, readOnly, immutable, writeOnly, once; String visible; Object def; Double min, max; Pattern pattern; List<String> values; String old;
    Field(String name, String type) { this.name = name; this.type = type; }
    Field req() { required = true; return this; }
    Field ro() { readOnly = true; return this; }
    Field fixed() { immutable = true; return this; }
    Field size(double a, double b) { min = a; max = b; return this; }
    Field of(String... v) { values = List.of(v); return this; }
    Field def(Object d) { def = d; return this; }
  }
  static final List<String> STATES = List.of("planned", "underway", "submitted", "returned", "accepted", "withdrawn", "lapsed");
  static final Map<String, List<Field>> SHAPES = new LinkedHashMap<>();
  static Field fd(String n, String t) { return new Field(n, t); }
  static {
    Field note = fd("wardenNote", "string").size(0, 200); note.visible = "warden";
    SHAPES.put("site", List.of(fd("id", "string").req().ro(), fd("name", "string").req().size(2, 60), fd("region", "string").req().of("north", "east", "south", "west"),
      fd("open", "boolean").req().def(true), fd("access", "string").size(0, 200), note, fd("createdAt", "date").req().ro()));
    Field length = fd("lengthM", "integer").req().size(10, 5000); length.old = "length";
    Field shared = fd("shared", "boolean").req().def(false); shared.old = "";
    Field gate = fd("gateCode", "string"); gate.pattern = Pattern.compile("^[0-9]{4}$"); gate.writeOnly = true;
    Field key = fd("shareKey", "string").ro(); key.once = true;
    Field score = fd("score", "integer").ro(); score.visible = "warden";
    SHAPES.put("survey", List.of(fd("id", "string").req().ro(), fd("site", "site").req().fixed(), fd("surveyor", "string").req().ro(), fd("title", "string").req().size(1, 80), length,
      fd("dueAt", "date").req(), fd("method", "string").of("transect", "sweep"), fd("note", "string").size(0, 500), shared, gate, key, fd("status", "string").req().ro(),
      fd("returnReason", "string").ro(), score, fd("startedAt", "date").ro(), fd("createdAt", "date").req().ro(), fd("updatedAt", "date").req().ro()));
    Field count = fd("count", "integer").req().size(1, 10000).def(1L); count.old = "quantity";
    Field mass = fd("massG", "number"); mass.min = 0.0;
    SHAPES.put("find", List.of(fd("id", "string").req().ro(), fd("survey", "survey").req().fixed(), fd("kind", "string").req().fixed().of("plastic", "rope", "glass", "timber", "other"),
      count, mass, fd("note", "string").size(0, 200), fd("loggedAt", "date").req().ro()));
  }
  static String nameIn(Field x, boolean old) { return old && x.old != null ? x.old : x.name; }
  static Object down(Field x, Object v) { return x.values != null && x.name.equals("kind") && "timber".equals(v) ? "wood" : v; }
  static String wrong(Field x, Object v, boolean old) {
    switch (x.type) {
      case "boolean": return v instanceof Boolean ? null : "a boolean";
      case "integer": case "number":
        if (!(v instanceof Number n) || x.type.equals("integer") && !(v instanceof Long)) return "a number of type " + x.type;
        if (x.min != null && n.doubleValue() < x.min) return "at least " + x.min;
        if (x.max != null && n.doubleValue() > x.max) return "at most " + x.max;
        return null;
      default:
        if (!(v instanceof String s)) return "a string";
        if (x.type.equals("date")) return instant(s) == null ? "a date-time" : null;
        int n = s.codePointCount(0, s.length());
        if (x.min != null && n < x.min) return "at least " + x.min.intValue() + " characters";
        if (x.max != null && n > x.max) return "at most " + x.max.intValue() + " characters";
        if (x.pattern != null && !(f("gate-code-partial") ? Pattern.compile("[0-9]{4}").matcher(s).find() : x.pattern.matcher(s).matches())) return "a match of " + x.pattern;
        if (x.values != null) {
          List<String> allowed = x.values.stream().map(w -> old ? (String) down(x, w) : w).toList();
          if (!allowed.contains(f("kind-any-case") && x.name.equals("kind") ? s.toLowerCase() : s)) return "one of " + allowed;
        }
        return null;
    }
  }

  // ---------------------------------------------------------------- store
  static class Row { String type; long seq, entered, madeAt; Map<String, Object> f = new LinkedHashMap<>(); String id() { return (String) f.get("id"); } Object g(String k) { return f.get(k); } boolean is(String s) { return s.equals(f.get("status")); } }
  static final Object LOCK = new Object();
  static final Map<String, Map<String, Row>> STORE = new HashMap<>(Map.of("site", new LinkedHashMap<>(), "survey", new LinkedHashMap<>(), "find", new LinkedHashMap<>()));
  static final Map<String, String> firstDue = new HashMap<>();
  static final Set<String> onceShared = new HashSet<>();
  static long seq = 0;
  static final SecureRandom CHANCE = new SecureRandom();
  static String random(int n) { String a = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"; StringBuilder b = new StringBuilder(); for (int i = 0; i < n; i++) b.append(a.charAt(CHANCE.nextInt(62))); return b.toString(); }
  static Row get(String type, Object id) { return id == null ? null : STORE.get(type).get(id); }

  static Map<String, Object> show(Row r, String user, boolean old, boolean fresh) { return show(r.type, r.f, user, old, fresh, false); }
  static Map<String, Object> show(String type, Map<String, Object> row, String user, boolean old, boolean fresh, boolean event) {
    Map<String, Object> m = new LinkedHashMap<>();
    for (Field x : SHAPES.get(type)) {
      Object v = row.get(x.name);
      if (v == null) continue;
      if (x.writeOnly || x.once && !fresh) continue;
      if (x.visible != null && !x.visible.equals(user) && !(f("event-shows-score") && event)) continue;
      String n = nameIn(x, old);
      if (!n.isEmpty()) m.put(n, old && !(f("old-kind-read") && !fresh) ? down(x, v) : v);
    }
    return m;
  }

  // ---------------------------------------------------------------- callers
  record Caller(String user, String id) { String key() { return user + "/" + id; } }
  static final byte[] SECRET = Optional.ofNullable(System.getenv("TIDELINE_SECRET")).orElse("tideline-development-secret-of-32+").getBytes(StandardCharsets.UTF_8);
  static byte[] hmac(byte[] key, String text) { try { Mac m = Mac.getInstance("HmacSHA256"); m.init(new SecretKeySpec(key, "HmacSHA256")); return m.doFinal(text.getBytes(StandardCharsets.UTF_8)); } catch (GeneralSecurityException e) { throw new RuntimeException(e); } }
  static Caller caller(String header) {
    Refusal unknown = no(401, "unauthorized", "Show a good token.");
    if (header.length() < 8 || !header.substring(0, 7).equalsIgnoreCase("Bearer ")) throw unknown;
    String[] p = header.substring(7).trim().split("\\.", -1);
    try {
      if (p.length != 3 || !MessageDigest.isEqual(hmac(SECRET, p[0] + "." + p[1]), Base64.getUrlDecoder().decode(p[2]))) throw unknown;
      Map<?, ?> head = (Map<?, ?>) Json.read(new String(Base64.getUrlDecoder().decode(p[0]), StandardCharsets.UTF_8)), c = (Map<?, ?>) Json.read(new String(Base64.getUrlDecoder().decode(p[1]), StandardCharsets.UTF_8));
      if (!"HS256".equals(head.get("alg"))) throw unknown;
      if (!"https://id.tideline.example".equals(c.get("iss"))) throw unknown;
      if (!f("audience-unchecked") && !"tideline".equals(c.get("aud")) && !(c.get("aud") instanceof List<?> l && l.contains("tideline"))) throw unknown;
      if (c.get("exp") != null && !f("expired-accepted") && ((Number) c.get("exp")).doubleValue() * 1000 <= now()) throw unknown;
      if (c.get("nbf") != null && ((Number) c.get("nbf")).doubleValue() * 1000 > now()) throw unknown;
      if (!(c.get("sub") instanceof String id) || id.isEmpty() || !(c.get("role") instanceof String user)) throw unknown;
      if (!user.equals("surveyor") && !user.equals("warden")) throw unknown;
      if (f("second-warden-unknown") && user.equals("warden") && !id.equals("ward-1")) throw unknown;
      return new Caller(user, id);
    } catch (BadJson | IllegalArgumentException | ClassCastException e) { throw unknown; }
  }
  static Row surveyOf(Row r) { return r.type.equals("survey") ? r : get("survey", r.g("survey")); }
  static boolean mayRead(Caller c, Row r) {
    if (r.type.equals("site")) return true;
    if (c == null) return false;
    if (c.user.equals("warden")) return true;
    Row s = surveyOf(r);
    if (s == null) return true; // only where finds outlive their survey, which is a fault
    return c.id.equals(s.g("surveyor")) || Boolean.TRUE.equals(s.g("shared")) || f("unshare-forgotten") && r.type.equals("survey") && onceShared.contains(s.id());
  }
  static boolean owns(Caller c, Row r) { return c.id.equals(surveyOf(r).g("surveyor")); }

  // ---------------------------------------------------------------- events
  static class Event { String id, kind, type; long at; Map<String, Object> row; String owner; boolean shared; }
  static final LinkedList<Event> EVENTS = new LinkedList<>();
  static class Listener { Caller caller; boolean old; BlockingQueue<Event> queue = new LinkedBlockingQueue<>(); }
  static final List<Listener> LISTENERS = new ArrayList<>();
  static boolean receives(Caller c, Event e) {
    return e.type.equals("site") || c.user.equals("warden") || c.id.equals(e.owner) || e.shared || f("stream-of-all") && e.kind.equals("survey.changed");
  }
  static void emit(String kind, Row r) {
    Event e = new Event(); e.id = "evt_" + random(14); e.kind = kind; e.type = r.type; e.at = now(); e.row = new LinkedHashMap<>(r.f);
    Row s = r.type.equals("site") ? null : surveyOf(r);
    if (s != null) { e.owner = (String) s.g("surveyor"); e.shared = Boolean.TRUE.equals(s.g("shared")); }
    EVENTS.add(e);
    for (Listener l : LISTENERS) if (receives(l.caller, e)) l.queue.add(e);
  }
  static void prune() { while (!EVENTS.isEmpty() && EVENTS.getFirst().at < now() - 86_400_000L) EVENTS.removeFirst(); }
  static String sse(Event e, Listener l) {
    Object p = show(e.type, e.row, l.caller.user, l.old && !f("old-stream-is-new"), false, true);
    if (e.kind.equals("survey.accepted")) p = map("survey", p, "at", iso(e.at));
    return "id: " + e.id + "\nevent: " + e.kind + "\ndata: " + Json.write(map("id", e.id, "type", e.kind, "occurredAt", iso(e.at), "data", p)) + "\n\n";
  }

  // ---------------------------------------------------------------- machine
  static void enter(Row r, String state, String by) {
    r.f.put("status", state); r.entered = now();
    if (!f("updated-at-forgets-moves")) r.f.put("updatedAt", iso(now()));
    if (by.equals("start")) r.f.put("startedAt", iso(now()));
    if (state.equals("accepted") && !(by.equals("submit") && f("short-accept-silent"))) emit("survey.accepted", r);
    if (by.equals("submit") && state.equals("submitted")) emit("survey.submitted", r);
    if (by.equals("return")) emit("survey.returned", r);
    if (by.equals("lapse") && !f("lapse-silent")) emit("survey.lapsed", r);
  }
  /** Fires the timers that are due, in the order of their times. */
  static void due() {
    record Timer(long at, Row row, String what) { }
    List<Timer> l = new ArrayList<>();
    for (Row r : STORE.get("survey").values()) {
      if (r.is("planned")) { long at = instant(f("lapse-first-date") ? firstDue.get(r.id()) : (String) r.g("dueAt")).toEpochMilli(); if (at <= now()) l.add(new Timer(at, r, "lapse")); }
      if (r.is("submitted")) { long at = (f("settle-from-creation") ? r.madeAt : r.entered) + 7 * 86_400_000L; if (at <= now()) l.add(new Timer(at, r, "settle")); }
    }
    l.sort(Comparator.comparingLong(Timer::at));
    for (Timer t : l) enter(t.row, t.what.equals("lapse") ? "lapsed" : "accepted", t.what);
    prune();
  }

  // ---------------------------------------------------------------- limits
  static final Map<String, ArrayDeque<Long>> SLIDING = new HashMap<>();
  static final Map<String, double[]> BUCKETS = new HashMap<>();
  static final Map<String, Map<String, Integer>> QUOTA = new HashMap<>();
  static void rates(String who, Caller c, String op) {
    long t = now();
    ArrayDeque<Long> q = SLIDING.computeIfAbsent(f("rate-per-user") && c != null ? c.user : who, k -> new ArrayDeque<>());
    while (!q.isEmpty() && q.peekFirst() <= t - 60_000) q.pollFirst();
    double wait = q.size() >= (f("rate-off-by-much") ? 4000 : 400) ? (q.peekFirst() + 60_000 - t) / 1000.0 : 0;
    double[] b = null;
    if (op.equals("create site") && c != null && c.user.equals("warden")) {
      b = BUCKETS.computeIfAbsent(f("bucket-of-everyone") ? "*" : who, k -> new double[] { 20, t });
      b[0] = Math.min(20, b[0] + (t - b[1]) / 1000.0); b[1] = t;
      if (b[0] < 1) wait = Math.max(wait, 1 - b[0]);
    }
    if (wait > 0) throw new Refusal(429, "tooFast", "Wait a while.", List.of((Object) (long) Math.ceil(wait)), false);
    q.add(t); if (b != null) b[0] -= 1;
  }
  static void spend(Caller c, boolean check) {
    String day = iso(now()).substring(0, f("quota-per-month") ? 7 : 10);
    Map<String, Integer> m = QUOTA.computeIfAbsent(c.key(), k -> new HashMap<>());
    if (check) { if (m.getOrDefault(day, 0) >= 150) throw no(403, "quotaSpent", "No more surveys today."); } else m.merge(day, 1, Integer::sum);
  }

  // ---------------------------------------------------------------- routes
  record Route(String method, Pattern path, String op, List<String> query, boolean body) { }
  static final List<Route> ROUTES = new ArrayList<>();
  static void route(String method, String path, String op, boolean body, String... query) { ROUTES.add(new Route(method, Pattern.compile("^" + path.replace("{id}", "([^/]+)") + (f("trailing-slash") ? "/?$" : "$")), op, List.of(query), body)); }
  static void routes() {
    route("GET", "/ping", "ping", false);
    route("GET", "/stream", "stream events", false);
    route("POST", "/sites", "create site", true);
    route("GET", "/sites", "list site", false, "region", "name", "sort", "cursor", "limit");
    route("GET", "/sites/{id}", "read site", false);
    route("PATCH", "/sites/{id}", "update site", true);
    if (f("put-as-patch")) route("PUT", "/sites/{id}", "update site", true);
    route("DELETE", "/sites/{id}", "delete site", false);
    route("POST", "/surveys", "create survey", true);
    route("GET", "/surveys", "list survey", false, "status", "site", "minLength", "dueBefore", "q", "sort", "cursor", "limit");
    route("GET", "/surveys/{id}", "read survey", false);
    route("PATCH", "/surveys/{id}", "update survey", true);
    if (!f("delete-survey-unwired")) route("DELETE", "/surveys/{id}", "delete survey", false);
    for (String t : List.of("start", "submit", "accept", "return", "withdraw")) route("POST", "/surveys/{id}/" + t, t + " survey", t.equals("accept") || t.equals("return"));
    route("POST", "/surveys/{id}/finds", "create find", true);
    route("GET", "/surveys/{id}/finds", "list find", false, "kind", "cursor", "limit");
    route("GET", "/finds/{id}", "read find", false);
    route("PATCH", "/finds/{id}", "update find", true);
    route("DELETE", "/finds/{id}", "delete find", false);
  }
  static final Map<String, String> WHO = new HashMap<>();
  static {
    for (String o : List.of("create site", "update site", "delete site", "accept survey", "return survey")) WHO.put(o, "warden");
    for (String o : List.of("create survey", "update survey", "delete survey", "start survey", "submit survey", "withdraw survey", "create find", "update find", "delete find")) WHO.put(o, "surveyor");
  }

  // ---------------------------------------------------------------- one exchange
  static class Answer { int status; String body; Map<String, String> headers = new LinkedHashMap<>(); Answer(int status, Object body) { this.status = status; this.body = body == null ? null : Json.write(body); } }
  record Kept(String print, Answer answer, long at) { }
  static final Map<String, Kept> KEYS = new HashMap<>();
  static class Call { HttpExchange x; Route route; String op, verb, type, id, path; Caller caller; boolean old; Map<String, String> query = new LinkedHashMap<>(); Map<String, Object> body = Map.of(); }

  static void handle(HttpExchange x) {
    Call c = new Call(); c.x = x; Answer a;
    try {
      try { a = answer(c); } catch (Refusal r) { a = problem(r); } catch (RuntimeException e) { e.printStackTrace(); a = problem(no(500, "internal", "Something went wrong here.")); }
      if (a != null) send(c, a);
    } catch (IOException e) { /* the caller has gone */ } finally { x.close(); }
  }
  static Answer problem(Refusal r) {
    boolean rate = r.status == 429;
    int status = r.code.equals("stale") && f("stale-is-conflict") ? 409 : r.status;
    Answer a = new Answer(status, map("type", "about:blank", "title", PHRASES.get(status), "status", (long) status, "detail", r.detail, "code", r.code, "request_id", "req_" + random(12), "violations", rate ? List.of() : r.violations));
    a.headers.put("Content-Type", f("missing-as-json") && r.code.equals("notFound") ? "application/json" : "application/problem+json");
    if (rate) a.headers.put("Retry-After", "" + r.violations.get(0));
    if (status == 401) a.headers.put("WWW-Authenticate", "Bearer");
    return a;
  }
  static void send(Call c, Answer a) throws IOException {
    Headers h = c.x.getResponseHeaders();
    common(c, h, a.status);
    a.headers.forEach(h::set);
    if (a.body == null) { c.x.sendResponseHeaders(a.status, -1); return; }
    if (!a.headers.containsKey("Content-Type")) h.set("Content-Type", "application/json");
    byte[] b = a.body.getBytes(StandardCharsets.UTF_8);
    boolean head = c.x.getRequestMethod().equals("HEAD");
    c.x.sendResponseHeaders(a.status, head ? -1 : b.length);
    if (!head) c.x.getResponseBody().write(b);
  }
  static void common(Call c, Headers h, int status) {
    h.set("Vary", "Authorization, Tideline-Version");
    if (c.old && !(f("refusals-not-deprecated") && status >= 400)) {
      h.set("Deprecation", "@" + Instant.parse("2026-02-01T00:00:00Z").getEpochSecond());
      h.set("Sunset", "Tue, 01 Feb 2028 00:00:00 GMT");
      h.set("Link", "<https://tideline.example/upgrade>; rel=\"deprecation\"");
    }
  }
  static byte[] body(HttpExchange x) throws IOException {
    InputStream in = x.getRequestBody(); ByteArrayOutputStream out = new ByteArrayOutputStream(); byte[] b = new byte[8192]; long total = 0; int n;
    while ((n = in.read(b)) > 0) { total += n; if (total <= 1 << 20) out.write(b, 0, n); if (total > 8 << 20) break; }
    return out.toByteArray();
  }
  static boolean accepts(HttpExchange x, String type) {
    List<String> l = x.getRequestHeaders().get("Accept");
    if (l == null) return true;
    int best = -1; boolean ok = false;
    for (String part : String.join(",", l).split(",")) {
      String[] p = part.trim().toLowerCase().split("\\s*;\\s*");
      int rank = p[0].equals(type) ? 2 : p[0].equals(type.split("/")[0] + "/*") ? 1 : p[0].equals("*/*") ? 0 : -1;
      if (rank <= best) continue;
      best = rank; ok = true;
      for (String w : p) if (w.matches("q=0(\\.0*)?")) ok = false;
    }
    return best < 0 ? String.join("", l).isBlank() : ok;
  }

  static Answer answer(Call c) throws IOException {
    HttpExchange x = c.x; URI uri = x.getRequestURI(); Headers h = x.getRequestHeaders();
    byte[] raw = body(x);
    // 1: sizes
    if (!f("url-unlimited") && uri.toString().length() > 2048) throw no(413, "tooLarge", "The address is too long.");
    int size = 0; for (var e : h.entrySet()) for (String v : e.getValue()) size += e.getKey().length() + v.length() + 4;
    if (size > 8192) throw no(413, "tooLarge", "The headers are too large.");
    // 2: route, method, version
    String path = uri.getRawPath();
    if (path.startsWith("/api/")) path = path.substring(4); else if (!f("also-without-base")) throw missing();
    List<String> allowed = new ArrayList<>();
    for (Route r : ROUTES) {
      Matcher m = r.path.matcher(path);
      if (!m.matches()) continue;
      allowed.add(r.method);
      if (r.method.equals(x.getRequestMethod())) { c.route = r; c.id = m.groupCount() > 0 ? URLDecoder.decode(m.group(1).replace("+", "%2B"), StandardCharsets.UTF_8) : null; }
    }
    if (allowed.isEmpty()) throw missing();
    if (c.route == null) { x.getResponseHeaders().set("Allow", String.join(", ", allowed)); throw no(405, "methodNotAllowed", "That method is not for this."); }
    c.op = c.route.op; c.path = path;
    String version = h.getFirst("Tideline-Version");
    if (version != null && !version.equals("2026-02-01")) {
      if (version.equals("2025-03-01")) c.old = true; else if (!f("version-unknown-passes")) throw no(400, "badVersion", "There is no such version.");
    }
    if (c.old && !f("sunset-ignored") && now() >= Instant.parse("2028-02-01T00:00:00Z").toEpochMilli()) throw no(410, "goneVersion", "That version is gone.");
    if (c.old && c.op.equals("withdraw survey") && !f("old-withdraw")) throw missing();
    // 4, 5, 6: caller, rates, user
    String auth = h.getFirst("Authorization");
    boolean open = c.op.equals("ping"), anyone = c.op.equals("list site") || c.op.equals("read site");
    if (!open && (auth != null || !anyone)) {
      if (auth == null) throw no(401, "unauthorized", "Show a token.");
      try { c.caller = caller(auth); } catch (Refusal r) { if (!(anyone && f("bad-token-anonymous"))) throw r; }
    }
    synchronized (LOCK) { rates(c.caller == null ? "@" + x.getRemoteAddress().getAddress().getHostAddress() : c.caller.key(), c.caller, c.op); }
    String[] words = c.op.split(" "); c.verb = words[0]; c.type = words.length > 1 ? words[1] : "";
    if (WHO.containsKey(c.op) && !WHO.get(c.op).equals(c.caller.user)) throw forbidden();
    // 8: media, body, parameters
    if (c.route.body) {
      String ct = h.getFirst("Content-Type"); String media = ct == null ? "" : ct.split(";")[0].trim().toLowerCase();
      boolean good = media.equals("application/json") || media.equals("application/merge-patch+json") && c.verb.equals("update");
      if (!good && (raw.length > 0 || !media.isEmpty())) throw no(415, "unsupportedMedia", "Send application/json.");
    }
    if (!c.verb.equals("delete") && !accepts(x, c.op.equals("stream events") ? "text/event-stream" : "application/json")) throw no(406, "notAcceptable", "That cannot be given.");
    if (raw.length > 16384 && !(f("chunked-unlimited") && h.getFirst("Content-Length") == null)) throw no(413, "tooLarge", "The body is too large.");
    Object sent = Map.of();
    if (c.route.body && !(raw.length == 0 && c.verb.equals("accept"))) {
      try { sent = Json.read(StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT).onUnmappableCharacter(CodingErrorAction.REPORT).decode(ByteBuffer.wrap(raw)).toString()); }
      catch (BadJson | CharacterCodingException e) { throw no(400, "malformed", "The body is no JSON."); }
    }
    if (uri.getRawQuery() != null && !uri.getRawQuery().isEmpty()) for (String part : uri.getRawQuery().split("&")) {
      if (part.isEmpty()) continue;
      int k = part.indexOf('='); String n, v;
      try { n = URLDecoder.decode(k < 0 ? part : part.substring(0, k), StandardCharsets.UTF_8); v = k < 0 ? "" : URLDecoder.decode(part.substring(k + 1), StandardCharsets.UTF_8); } catch (IllegalArgumentException e) { throw parameter(part, "percent-encoded text"); }
      if (!c.route.query.contains(n) && !(f("stray-parameter") && c.op.equals("list find"))) throw parameter(n, "no such parameter");
      if (c.query.put(n, v) != null) throw parameter(n, "one value");
    }
    if (c.op.equals("ping")) return new Answer(200, map("data", "up"));
    if (c.op.equals("stream events")) { stream(c); return null; }
    String idem = c.verb.equals("create") ? h.getFirst("Idempotency-Key") : null;
    Kept early = null;
    if (idem != null && f("keys-raced")) { // looks the key up, then works: the fault
      synchronized (LOCK) { early = KEYS.get(c.caller.key() + " " + c.op + " " + idem); }
      try { Thread.sleep(40); } catch (InterruptedException e) { Thread.currentThread().interrupt(); }
    }
    synchronized (LOCK) {
      due();
      if (idem == null) return act(c, sent);
      String key = (f("keys-shared") ? "" : c.caller.key()) + " " + c.op + " " + idem, print = c.path + "?" + uri.getRawQuery() + " " + c.old + " " + Json.write(sent);
      Kept k = f("keys-raced") ? early : KEYS.get(key);
      if (k != null && k.at + 86_400_000L > now()) {
        if (!k.print.equals(print) && !(f("key-reuse-replays"))) throw no(422, "keyReused", "That key was for another request.");
        return k.answer;
      }
      Answer a;
      try { a = act(c, sent); } catch (Refusal r) { if (!r.own) throw r; a = problem(r); }
      Answer copy = new Answer(a.status, null); copy.headers.putAll(a.headers);
      copy.body = f("replay-reveals") ? a.body : a.body.replaceFirst("\"shareKey\":\"[^\"]*\",", "");
      KEYS.put(key, new Kept(print, copy, now()));
      return a;
    }
  }

  static Answer data(Call c, int status, Row r) {
    boolean fresh = status == 201;
    Map<String, Object> m = show(r, c.caller == null ? null : c.caller.user, c.old, fresh);
    if (f("gate-code-echoed") && c.verb.equals("update") && r.g("gateCode") != null) m.put("gateCode", r.g("gateCode"));
    Answer a = new Answer(status, f("returned-bare") && c.verb.equals("return") ? m : map("data", m));
    if (fresh) a.headers.put("Location", (f("location-without-base") ? "/" : "/api/") + r.type + "s/" + r.id());
    if (c.verb.equals("read")) a.headers.put("ETag", etag(c, r));
    return a;
  }
  static String etag(Call c, Row r) {
    Map<String, Object> m = show(r, c.caller == null ? null : c.caller.user, c.old, false);
    if (f("etag-of-date-seconds") && r.type.equals("survey")) m = map("id", r.id(), "at", ((String) r.g("updatedAt")).substring(0, 16));
    try { return '"' + HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest((c.old + Json.write(m)).getBytes(StandardCharsets.UTF_8))).substring(0, 24) + '"'; } catch (NoSuchAlgorithmException e) { throw new RuntimeException(e); }
  }
  static void ifMatch(Call c, Row r) {
    String m = c.x.getRequestHeaders().getFirst("If-Match");
    if (m == null) { if (c.op.equals("update survey")) throw no(428, "conditionNeeded", "Send If-Match."); return; }
    if (m.trim().equals("*") || f("if-match-ignored") && c.op.equals("update site")) return;
    for (String p : m.split(",")) if (p.trim().equals(etag(c, r))) return;
    throw no(412, "stale", "It has changed meanwhile.");
  }

  // ---------------------------------------------------------------- acts, under the lock
  static Answer act(Call c, Object sent) {
    Caller who = c.caller;
    if (c.verb.equals("list")) return list(c);
    if (c.verb.equals("create")) return create(c, sent);
    Row r = get(c.type, c.id);
    if (r == null) throw missing();
    if (!mayRead(who, r)) throw f("foreign-is-forbidden") ? forbidden() : missing();
    if ("surveyor".equals(WHO.get(c.op)) && !owns(who, r) && !(f("shared-finds-deletable") && c.op.equals("delete find"))) throw forbidden();
    switch (c.verb) {
      case "read": {
        Answer a = data(c, 200, r);
        String inm = c.x.getRequestHeaders().getFirst("If-None-Match");
        if (inm != null) for (String p : inm.split(",")) if (p.trim().equals("*") || p.trim().replaceFirst("^W/", "").equals(a.headers.get("ETag"))) { a.status = 304; a.body = null; }
        return a;
      }
      case "update": return update(c, r, sent);
      case "delete": return delete(c, r);
      default: return move(c, r, sent);
    }
  }
  static void violation(List<Object> l, String path, String expected) { l.add(map("in", "body", "path", "/" + path.replace("~", "~0").replace("/", "~1"), "expected", expected)); }
  static Refusal invalid(List<Object> l) { return new Refusal(422, "invalid", "The body is not as it should be.", l, false); }
  static Map<String, Object> object(Object sent) {
    if (sent instanceof Map<?, ?>) { @SuppressWarnings("unchecked") Map<String, Object> m = (Map<String, Object>) sent; return m; }
    List<Object> l = new ArrayList<>(); violation(l, "", "an object"); ((Map<String, Object>) l.get(0)).put("path", ""); throw invalid(l);
  }
  /** Reads the body in the caller's version, checks it, and gives what would be stored (null removes). */
  static Map<String, Object> next(Call c, Object sent, Map<String, Object> before, Map<String, Object> bound) {
    Map<String, Object> in = object(sent), out = new LinkedHashMap<>(before); List<Object> bad = new ArrayList<>();
    Map<String, Field> known = new LinkedHashMap<>();
    for (Field x : SHAPES.get(c.type)) if (!nameIn(x, c.old).isEmpty()) known.put(nameIn(x, c.old), x);
    boolean create = c.verb.equals("create");
    for (var e : in.entrySet()) {
      Field x = known.get(e.getKey()); Object v = e.getValue();
      if (x == null) { if (!(f("unknown-field-swallowed") && c.op.equals("update site"))) violation(bad, e.getKey(), "no such field"); continue; }
      if (f("status-writable") && create && x.name.equals("status") && STATES.contains(v)) out.put("status", v);
      if (x.readOnly) continue;
      if (v == null && !create) {
        if (x.required && !(f("title-removable") && x.name.equals("title"))) violation(bad, e.getKey(), "a value"); else out.remove(x.name);
        continue;
      }
      String w = wrong(x, v, c.old);
      if (w != null && !(f("length-patched-freely") && x.name.equals("lengthM") && !create && v instanceof Long)) { violation(bad, e.getKey(), w); @SuppressWarnings("unchecked") Map<String, Object> last = (Map<String, Object>) bad.get(bad.size() - 1); if (!x.writeOnly) last.put("found", brief(v)); continue; }
      if (c.old && x.name.equals("kind") && "wood".equals(v)) v = "timber";
      if (bound.containsKey(x.name) && !bound.get(x.name).equals(v)) { violation(bad, e.getKey(), "what the path says"); continue; }
      if (!create && x.immutable && !before.get(x.name).equals(v) && !(f("site-changes") && x.name.equals("site") && "planned".equals(before.get("status")))) { violation(bad, e.getKey(), "what it was"); continue; }
      out.put(x.name, v);
    }
    out.putAll(bound);
    for (Field x : SHAPES.get(c.type)) if (create && x.def != null && !out.containsKey(x.name) && !(f("old-create-lacks-default") && c.old && x.name.equals("shared"))) out.put(x.name, x.def);
    for (Field x : SHAPES.get(c.type)) if (create && x.required && !x.readOnly && !out.containsKey(x.name) && !in.containsKey(nameIn(x, c.old)) && !x.name.equals("shared")) violation(bad, nameIn(x, c.old), "a value");
    if (!bad.isEmpty()) throw invalid(bad);
    Row site = get("site", out.get("site"));
    if (c.type.equals("survey") && site == null) {
      if (f("missing-site-is-404")) throw missing();
      violation(bad, "site", "a site that there is"); throw invalid(bad);
    }
    return out;
  }
  static void ownErrors(Call c, Map<String, Object> next, Row r) {
    if (c.op.equals("create survey") && !Boolean.TRUE.equals(get("site", next.get("site")).g("open"))) throw own(409, "siteClosed", "The stretch is closed.");
    if (c.type.equals("survey") && (c.verb.equals("create") || c.verb.equals("update") && !f("due-past-on-update")) && "planned".equals(next.get("status")) && !instant((String) next.get("dueAt")).isAfter(Instant.ofEpochMilli(now()))) throw own(422, "dueInPast", "The survey would be due already.");
    if (c.type.equals("find") && !get("survey", next.get("survey")).is("underway") && !(c.verb.equals("delete") && f("finds-deleted-late"))) throw own(409, "notUnderway", "The survey is not underway.");
  }
  static void unique(Call c, Map<String, Object> next, Row self) {
    for (Row o : STORE.get(c.type).values()) {
      if (o == self) continue;
      if (c.type.equals("site") && o.g("name").equals(next.get("name")) && !(f("name-taken-on-update") && self != null)) throw no(409, "exists", "There is a site of that name.");
      if (c.type.equals("find") && o.g("survey").equals(next.get("survey")) && o.g("kind").equals(next.get("kind"))) throw no(409, "exists", "There is a find of that kind.");
    }
  }
  static Answer create(Call c, Object sent) {
    Map<String, Object> bound = Map.of();
    if (c.type.equals("find")) {
      Row parent = get("survey", c.id);
      if (parent == null || !mayRead(c.caller, parent)) throw missing();
      bound = map("survey", c.id);
    }
    if (f("quota-counts-refused") && c.type.equals("survey")) spend(c.caller, false);
    Map<String, Object> n = next(c, sent, Map.of(), bound);
    if (c.type.equals("find") && !owns(c.caller, get("survey", c.id))) throw forbidden();
    if (c.type.equals("survey")) n.putIfAbsent("status", "planned");
    ownErrors(c, n, null);
    if (c.type.equals("survey")) spend(c.caller, true); else unique(c, n, null);
    if (f("names-raced") && c.type.equals("site")) pause();
    Row r = new Row(); r.type = c.type; r.seq = ++seq; r.entered = r.madeAt = now();
    Map<String, Object> made = new LinkedHashMap<>(n); String at = iso(now());
    made.put("id", switch (c.type) { case "site" -> "ste_" + random(10); case "survey" -> "srv_" + random(12); default -> f("find-id-counts") && STORE.get("find").size() >= 3 ? "fnd_" + (STORE.get("find").size() + 1) : "fnd_" + random(12); });
    made.put(c.type.equals("find") ? "loggedAt" : "createdAt", at);
    if (c.type.equals("survey")) { made.put("surveyor", c.caller.id); made.put("shareKey", "shr_" + random(16)); made.put("updatedAt", at); }
    for (Field x : SHAPES.get(c.type)) if (made.containsKey(x.name)) r.f.put(x.name, made.get(x.name));
    STORE.get(c.type).put(r.id(), r);
    if (c.type.equals("survey")) { if (!f("quota-counts-refused")) spend(c.caller, false); firstDue.put(r.id(), (String) r.g("dueAt")); if (Boolean.TRUE.equals(r.g("shared"))) onceShared.add(r.id()); emit("survey.planned", r); }
    if (c.type.equals("find")) mass(r);
    return data(c, 201, r);
  }
  static void mass(Row r) { if ((Long) r.g("count") > (f("mass-from-501") ? 500 : 499)) emit("find.mass", r); }
  /** Lets go of the lock between a check and the change that rests on it: for the faults that are races. */
  static void pause() { try { LOCK.wait(50); } catch (InterruptedException e) { Thread.currentThread().interrupt(); } }
  static boolean same(Object a, Object b) { return a instanceof Number x && b instanceof Number y ? x.doubleValue() == y.doubleValue() : Objects.equals(a, b); }
  static Answer update(Call c, Row r, Object sent) {
    ifMatch(c, r);
    if (f("if-match-raced")) pause();
    Map<String, Object> n = next(c, sent, r.f, Map.of());
    if (c.type.equals("survey") && !r.is("planned") && !r.is("underway") && !(f("returned-editable") && r.is("returned"))) throw wrongState();
    if (f("refused-update-emits") && c.type.equals("survey") && !r.g("dueAt").equals(n.get("dueAt"))) emit("survey.changed", r);
    ownErrors(c, n, r);
    unique(c, n, r);
    boolean changed = !n.keySet().equals(r.f.keySet()); for (var e : n.entrySet()) changed |= !same(e.getValue(), r.g(e.getKey()));
    if (!changed && !f("idle-patch-counts")) return data(c, 200, r);
    boolean wasOpen = Boolean.TRUE.equals(r.g("open"));
    Map<String, Object> f = new LinkedHashMap<>(); for (Field x : SHAPES.get(c.type)) if (n.containsKey(x.name)) f.put(x.name, n.get(x.name));
    r.f = f;
    if (c.type.equals("survey")) { r.f.put("updatedAt", iso(now())); if (Boolean.TRUE.equals(r.g("shared"))) onceShared.add(r.id()); emit("survey.changed", r); }
    if (c.type.equals("find")) mass(r);
    if (c.type.equals("site") && (wasOpen || f("closed-again")) && !Boolean.TRUE.equals(r.g("open"))) emit("site.closed", r);
    return data(c, 200, r);
  }
  static Answer delete(Call c, Row r) {
    if (c.op.equals("delete survey")) ifMatch(c, r);
    if (c.type.equals("survey")) {
      if (!r.is("planned") && !r.is("withdrawn") && !r.is("lapsed")) throw wrongState();
      emit("survey.deleted", r);
      if (!f("finds-orphaned")) STORE.get("find").values().removeIf(o -> r.id().equals(o.g("survey")));
    }
    if (c.type.equals("find")) ownErrors(c, r.f, r);
    if (c.type.equals("site")) for (Row s : STORE.get("survey").values()) if (r.id().equals(s.g("site")) && !(f("held-by-live-only") && s.is("withdrawn"))) throw no(409, "inUse", "Surveys stand on this stretch.");
    STORE.get(c.type).remove(r.id());
    return new Answer(204, null);
  }
  static Answer move(Call c, Row r, Object sent) {
    Map<String, Object> in = object(sent); List<Object> bad = new ArrayList<>();
    String word = c.verb.equals("accept") ? "score" : c.verb.equals("return") ? "reason" : null;
    if (word != null) {
      for (var e : in.entrySet()) {
        if (!e.getKey().equals(word)) violation(bad, e.getKey(), "no such property");
        else if (word.equals("score") && !(e.getValue() instanceof Long n && n >= 1 && n <= 5)) violation(bad, word, "an integer from 1 to 5");
        else if (word.equals("reason") && !(e.getValue() instanceof String s && s.codePointCount(0, s.length()) >= (f("reason-may-be-short") ? 1 : 3) && s.codePointCount(0, s.length()) <= 200)) violation(bad, word, "3 to 200 characters");
      }
      if (word.equals("reason") && !in.containsKey(word)) violation(bad, word, "a value");
      if (!bad.isEmpty()) throw invalid(bad);
    }
    switch (c.verb) {
      case "start":
        if (!r.is("planned") && !r.is("returned")) throw wrongState();
        if (r.g("method") == null && !(f("second-start-unguarded") && r.is("returned"))) throw own(409, "methodMissing", "Say by which method the survey is walked.");
        enter(r, "underway", "start"); break;
      case "submit":
        if (!r.is("underway")) throw wrongState();
        long n = (Long) r.g("lengthM");
        enter(r, n < 100 || n == 100 && !f("short-is-below-100") ? "accepted" : "submitted", "submit"); break;
      case "accept":
        if (!r.is("submitted")) throw wrongState();
        r.f.put("score", in.getOrDefault("score", 3L)); enter(r, "accepted", "accept"); break;
      case "return":
        if (!r.is("submitted")) throw wrongState();
        r.f.put("returnReason", in.get("reason")); enter(r, "returned", "return"); break;
      default:
        if (!r.is("planned") && !r.is("underway") && !(f("withdraw-submitted") && r.is("submitted"))) throw f("too-late-unnamed") ? wrongState() : own(409, "tooLate", "It is too late for that.");
        enter(r, "withdrawn", "withdraw");
    }
    return data(c, 200, r);
  }

  // ---------------------------------------------------------------- lists
  static Comparable<?> sortKey(Row r, String k) {
    Object v = r.g(k);
    if (k.equals("dueAt")) return instant((String) v);
    return f("length-sorted-as-text") ? String.valueOf(v) : (Comparable<?>) v;
  }
  static final byte[] CURSOR_KEY = random(32).getBytes(StandardCharsets.UTF_8);
  static Answer list(Call c) {
    Map<String, String> q = c.query;
    int limit = f("sites-by-twenty") && c.op.equals("list site") ? 20 : 10;
    if (q.containsKey("limit")) {
      if (!q.get("limit").matches("[1-9]\\d{0,3}")) throw parameter("limit", "1 to 50");
      limit = Integer.parseInt(q.get("limit"));
      if (limit > 50) { if (f("page-clamped") && c.op.equals("list survey")) limit = 50; else throw parameter("limit", "1 to 50"); }
    }
    List<Predicate<Row>> where = new ArrayList<>();
    String sort = c.op.equals("list site") ? "name" : c.op.equals("list survey") ? "-createdAt" : "";
    Long minLength = null; Instant before = null;
    for (var e : q.entrySet()) {
      String v = e.getValue();
      switch (e.getKey()) {
        case "region": if (!List.of("north", "east", "south", "west").contains(v)) throw parameter("region", "a region"); where.add(r -> r.g("region").equals(v)); break;
        case "name": where.add(r -> f("name-contains") ? ((String) r.g("name")).contains(v) : ((String) r.g("name")).startsWith(v)); break;
        case "status": if (!STATES.contains(v)) throw parameter("status", "one of " + STATES); if (!(f("filter-first-page-only") && q.containsKey("cursor"))) where.add(r -> r.is(v)); break;
        case "site": where.add(r -> r.g("site").equals(v)); break;
        case "minLength": if (!v.matches("-?\\d{1,15}")) throw parameter("minLength", "an integer"); long n = Long.parseLong(v); where.add(r -> f("min-length-above") ? (Long) r.g("lengthM") > n : (Long) r.g("lengthM") >= n); break;
        case "dueBefore": Instant t = instant(v); if (t == null) throw parameter("dueBefore", "a date-time"); where.add(r -> f("due-before-as-text") ? ((String) r.g("dueAt")).compareTo(v) < 0 : instant((String) r.g("dueAt")).isBefore(t)); break;
        case "q": where.add(r -> ((String) r.g("title")).contains(v)); break;
        case "kind": {
          Field x = SHAPES.get("find").stream().filter(y -> y.name.equals("kind")).findFirst().get();
          if (wrong(x, v, c.old) != null) throw parameter("kind", "a kind");
          String up = c.old && v.equals("wood") ? "timber" : v; where.add(r -> r.g("kind").equals(up)); break;
        }
        case "sort": {
          List<String> ok = c.type.equals("site") ? List.of("name", "-name", "createdAt", "-createdAt") : c.old ? List.of("dueAt", "-dueAt", "length", "-length") : List.of("dueAt", "-dueAt", "lengthM", "-lengthM");
          if (!ok.contains(v)) throw parameter("sort", "one of " + ok);
          sort = v.replaceFirst("length$", "lengthM"); break;
        }
        default:
      }
    }
    Map<String, String> bare = new TreeMap<>(q); bare.remove("cursor"); bare.remove("limit");
    String query = c.op + " " + c.id + " " + (f("cursor-of-any-query") ? "" : bare) + " " + c.old + " " + (c.caller == null ? "" : c.caller.key());
    String after = null;
    if (q.containsKey("cursor")) {
      String[] p = q.get("cursor").split("\\.", -1);
      try {
        if (p.length != 2 || !MessageDigest.isEqual(hmac(CURSOR_KEY, query + p[0]), Base64.getUrlDecoder().decode(p[1]))) throw parameter("cursor", "a cursor of this list");
        after = new String(Base64.getUrlDecoder().decode(p[0]), StandardCharsets.UTF_8);
      } catch (IllegalArgumentException e) { throw parameter("cursor", "a cursor of this list"); }
    }
    if (c.type.equals("find")) {
      Row parent = get("survey", c.id);
      if (parent == null || !mayRead(c.caller, parent)) throw missing();
      where.add(r -> r.g("survey").equals(c.id));
    }
    boolean turned = sort.startsWith("-"); String by = turned ? sort.substring(1) : sort;
    @SuppressWarnings({"unchecked", "rawtypes"}) Comparator<Row> order = by.isEmpty() ? (a, b) -> 0 : (a, b) -> ((Comparable) sortKey(a, by)).compareTo(sortKey(b, by)) * (turned ? -1 : 1);
    order = order.thenComparingLong(r -> r.seq);
    boolean leak = f("site-filter-leaks") && q.containsKey("site");
    List<Row> rows = STORE.get(c.type).values().stream().filter(r -> leak || mayRead(c.caller, r)).filter(r -> where.stream().allMatch(w -> w.test(r))).sorted(order).collect(Collectors.toList());
    if (after != null) { // the cursor holds the sort key and the number of the last row shown
      String[] p = after.split(" ", 2); Row mark = new Row(); mark.type = c.type; mark.seq = Long.parseLong(p[0]);
      if (!by.isEmpty()) mark.f.put(by, by.equals("lengthM") ? (Object) Long.parseLong(p[1]) : p[1]);
      final Comparator<Row> o = order;
      rows = rows.stream().filter(r -> o.compare(r, mark) > 0).collect(Collectors.toList());
    }
    boolean more = rows.size() > limit;
    List<Object> data = new ArrayList<>();
    for (Row r : rows.subList(0, Math.min(limit, rows.size()))) {
      Map<String, Object> m = show(r, c.caller == null ? null : f("note-in-lists") ? "warden" : c.caller.user, c.old && !f("old-list-is-new"), false);
      if (f("second-page-extra") && after != null) m.put("seq", r.seq);
      data.add(m);
    }
    String next = null;
    if (more) {
      Row last = rows.get(limit - 1);
      String p = Base64.getUrlEncoder().withoutPadding().encodeToString((last.seq + " " + (by.isEmpty() ? "" : last.g(by))).getBytes(StandardCharsets.UTF_8));
      next = p + "." + Base64.getUrlEncoder().withoutPadding().encodeToString(hmac(CURSOR_KEY, query + p));
    }
    return new Answer(200, map("data", data, "nextCursor", next, "hasMore", more));
  }

  // ---------------------------------------------------------------- stream
  static void stream(Call c) throws IOException {
    Listener l = new Listener(); l.caller = c.caller; l.old = c.old;
    String last = c.x.getRequestHeaders().getFirst("Last-Event-ID");
    synchronized (LOCK) {
      due();
      if (last != null) {
        int at = -1, k = 0; for (Event e : EVENTS) { if (e.id.equals(last)) at = k; k++; }
        if (f("resume-skips-one") && at >= 0) at++;
        k = 0; for (Event e : EVENTS) if (k++ > at && receives(c.caller, e)) l.queue.add(e);
      }
      LISTENERS.add(l);
    }
    try {
      Headers h = c.x.getResponseHeaders(); common(c, h, 200); h.set("Content-Type", "text/event-stream"); h.set("Cache-Control", "no-store");
      c.x.sendResponseHeaders(200, 0);
      OutputStream out = c.x.getResponseBody(); out.write(": tideline\n\n".getBytes()); out.flush();
      while (true) {
        Event e = l.queue.poll(10, TimeUnit.SECONDS);
        out.write((e == null ? ":\n\n" : sse(e, l)).getBytes(StandardCharsets.UTF_8)); out.flush();
      }
    } catch (InterruptedException e) { Thread.currentThread().interrupt(); } finally { synchronized (LOCK) { LISTENERS.remove(l); } }
  }

  // ---------------------------------------------------------------- clock port
  static void clock(HttpExchange x) {
    try {
      int status = 200; byte[] raw = body(x); Long to = null;
      if (x.getRequestMethod().equals("POST")) {
        try {
          Map<?, ?> m = (Map<?, ?>) Json.read(new String(raw, StandardCharsets.UTF_8));
          if (m.size() != 1) status = 400;
          else if (m.get("now") instanceof String s && instant(s) != null) to = instant(s).toEpochMilli();
          else if (m.get("advance") instanceof String s) { synchronized (LOCK) { to = advance(s); offset += Math.max(0, to - now()); due(); } to = null; }
          else status = 400;
        } catch (BadJson | RuntimeException e) { status = 400; }
      } else if (!x.getRequestMethod().equals("GET")) status = 400;
      if (to != null) synchronized (LOCK) {
        long t = now();
        if (to < t) status = 422; else { offset += to - t; due(); }
      }
      byte[] b = Json.write(status == 200 ? map("now", iso(now())) : map("error", "no such move")).getBytes(StandardCharsets.UTF_8);
      x.getResponseHeaders().set("Content-Type", "application/json"); x.sendResponseHeaders(status, b.length); x.getResponseBody().write(b);
    } catch (IOException e) { /* gone */ } finally { x.close(); }
  }
  static long advance(String s) {
    Matcher m = Pattern.compile("P(?:(\\d+)Y)?(?:(\\d+)M)?(?:(\\d+)W)?(?:(\\d+)D)?(T(?:\\d+H)?(?:\\d+M)?(?:\\d+(?:\\.\\d+)?S)?)?").matcher(s);
    if (!m.matches() || s.equals("P") || s.endsWith("T")) throw new DateTimeException(s);
    ToLongFunction<String> n = g -> g == null ? 0 : Long.parseLong(g);
    ZonedDateTime t = Instant.ofEpochMilli(now()).atZone(ZoneOffset.UTC).plusYears(n.applyAsLong(m.group(1))).plusMonths(n.applyAsLong(m.group(2))).plusWeeks(n.applyAsLong(m.group(3))).plusDays(n.applyAsLong(m.group(4)));
    if (m.group(5) != null) t = t.plus(Duration.parse("P" + m.group(5)));
    return t.toInstant().toEpochMilli();
  }

  public static void main(String[] args) throws Exception {
    int port = 4700, clockPort = 0;
    for (int i = 0; i + 1 < args.length; i += 2) switch (args[i]) { case "--port" -> port = Integer.parseInt(args[i + 1]); case "--clock-port" -> clockPort = Integer.parseInt(args[i + 1]); case "--fault" -> FAULT = args[i + 1]; default -> { } }
    System.setProperty("sun.net.httpserver.nodelay", "true");
    routes();
    InetAddress local = InetAddress.getByName("127.0.0.1");
    ExecutorService pool = Executors.newCachedThreadPool();
    HttpServer s = HttpServer.create(new InetSocketAddress(local, port), 128);
    s.createContext("/", Service::handle); s.setExecutor(pool); s.start();
    if (clockPort > 0) { HttpServer k = HttpServer.create(new InetSocketAddress(local, clockPort), 16); k.createContext("/", Service::clock); k.setExecutor(pool); k.start(); }
    ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    timer.scheduleWithFixedDelay(() -> { synchronized (LOCK) { due(); } }, 200, 200, TimeUnit.MILLISECONDS);
    System.out.println("Tideline listens on http://127.0.0.1:" + port + "/api");
  }
}
