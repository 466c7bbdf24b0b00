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
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Glow Yard: lends the neon signs of a workshop to film sets. All in memory, all under one lock. */
public class service {
  static final Charset UTF = StandardCharsets.UTF_8;
  static final String BASE = "/api", OLD = "2025-11-03", NEW = "2026-09-01", TITLE = "Glow Yard";
  static final long SUNSET = Instant.parse("2027-09-01T00:00:00Z").toEpochMilli(), DEPRECATED = Instant.parse("2026-09-01T00:00:00Z").getEpochSecond();
  static final String TOKEN_SECRET = "glow-yard-trial-secret-0123456789abcdef";
  static final Object LOCK = new Object();
  static String fault = "";
  static boolean F(String id) { return fault.equals(id); }

  // ------------------------------------------------------------------ clock
  static long offset = 0;
  static long now() { return System.currentTimeMillis() + offset; }
  static final DateTimeFormatter ISO = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
  static String iso(long ms) { return ISO.format(Instant.ofEpochMilli(ms)); }
  static final long SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

  // ------------------------------------------------------------------ json
  static class Bad extends RuntimeException { Bad(String m) { super(m, null, false, false); } }
  static class Json {
    final String s; int i = 0;
    Json(String s) { this.s = s; }
    static Object parse(String s) { Json j = new Json(s); j.ws(); Object v = j.value(0); j.ws(); if (j.i != s.length()) throw new Bad("text after the end"); return v; }
    void ws() { while (i < s.length()) { char c = s.charAt(i); if (c == ' ' || c == '\t' || c == '\n' || c == '\r') i++; else break; } }
    char peek() { if (i >= s.length()) throw new Bad("ends early"); return s.charAt(i); }
    Object value(int depth) {
      if (depth > 100) throw new Bad("too deep");
      char c = peek();
      if (c == '{') {
        Map<String, Object> m = new LinkedHashMap<>(); i++; ws();
        if (peek() == '}') { i++; return m; }
        while (true) {
          ws(); if (peek() != '"') throw new Bad("a name is expected");
          String k = string(); ws(); if (peek() != ':') throw new Bad("a colon is expected"); i++; ws();
          m.put(k, value(depth + 1)); ws();
          char d = peek(); i++; if (d == '}') return m; if (d != ',') throw new Bad("a comma is expected");
        }
      }
      if (c == '[') {
        List<Object> l = new ArrayList<>(); i++; ws();
        if (peek() == ']') { i++; return l; }
        while (true) { ws(); l.add(value(depth + 1)); ws(); char d = peek(); i++; if (d == ']') return l; if (d != ',') throw new Bad("a comma is expected"); }
      }
      if (c == '"') return string();
      if (s.startsWith("true", i)) { i += 4; return true; }
      if (s.startsWith("false", i)) { i += 5; return false; }
      if (s.startsWith("null", i)) { i += 4; return null; }
      int b = i; if (peek() == '-') i++;
      if (i < s.length() && s.charAt(i) == '0') i++; else digits();
      boolean whole = true;
      if (i < s.length() && s.charAt(i) == '.') { whole = false; i++; digits(); }
      if (i < s.length() && (s.charAt(i) == 'e' || s.charAt(i) == 'E')) { whole = false; i++; if (i < s.length() && (s.charAt(i) == '+' || s.charAt(i) == '-')) i++; digits(); }
      String n = s.substring(b, i);
      if (whole && n.length() <= 18) return Long.parseLong(n);
      return Double.parseDouble(n);
    }
    void digits() { int b = i; while (i < s.length() && s.charAt(i) >= '0' && s.charAt(i) <= '9') i++; if (i == b) throw new Bad("a value is expected"); }
    String string() {
      StringBuilder o = new StringBuilder(); i++;
      while (true) {
        char c = peek(); i++;
        if (c == '"') return o.toString();
        if (c < 0x20) throw new Bad("a control character");
        if (c != '\\') { o.append(c); continue; }
        char e = peek(); i++;
        switch (e) {
          case '"': case '\\': case '/': o.append(e); break;
          case 'b': o.append('\b'); break; case 'f': o.append('\f'); break; case 'n': o.append('\n'); break;
          case 'r': o.append('\r'); break; case 't': o.append('\t'); break;
          case 'u':
            int u = 0;
            for (int k = 0; k < 4; k++) { int d = Character.digit(peek(), 16); if (d < 0 || peek() > 127) throw new Bad("a bad escape"); u = u * 16 + d; i++; }
            o.append((char) u); break;
          default: throw new Bad("a bad escape");
        }
      }
    }
    static String write(Object v) { StringBuilder b = new StringBuilder(); put(b, v); return b.toString(); }
    static void put(StringBuilder b, Object v) {
      if (v == null) b.append("null");
      else if (v instanceof Map) {
        b.append('{'); boolean first = true;
        for (Map.Entry<?, ?> e : ((Map<?, ?>) v).entrySet()) { if (!first) b.append(','); first = false; text(b, (String) e.getKey()); b.append(':'); put(b, e.getValue()); }
        b.append('}');
      } else if (v instanceof List) {
        b.append('['); boolean first = true;
        for (Object x : (List<?>) v) { if (!first) b.append(','); first = false; put(b, x); }
        b.append(']');
      } else if (v instanceof String) text(b, (String) v);
      else if (v instanceof Double) { double d = (Double) v; if (Double.isNaN(d) || Double.isInfinite(d)) b.append("1e999"); else if (d == Math.rint(d) && Math.abs(d) < 1e15) b.append((long) d); else b.append(d); }
      else b.append(v);
    }
    static void text(StringBuilder b, String s) {
      b.append('"');
      for (int k = 0; k < s.length(); k++) {
        char c = s.charAt(k);
        if (c == '"' || c == '\\') b.append('\\').append(c);
        else if (c < 0x20 || (c >= 0xd800 && c <= 0xdfff && !paired(s, k))) b.append(String.format("\\u%04x", (int) c));
        else b.append(c);
      }
      b.append('"');
    }
    static boolean paired(String s, int k) {
      return Character.isHighSurrogate(s.charAt(k)) ? k + 1 < s.length() && Character.isLowSurrogate(s.charAt(k + 1)) : k > 0 && Character.isHighSurrogate(s.charAt(k - 1));
    }
  }
  static Map<String, Object> map(Object... kv) { Map<String, Object> m = new LinkedHashMap<>(); for (int k = 0; k < kv.length; k += 2) m.put((String) kv[k], kv[k + 1]); return m; }

  // ------------------------------------------------------------------ small things
  static final SecureRandom RANDOM = new SecureRandom();
  static String random(int n, String of) { StringBuilder b = new StringBuilder(); for (int k = 0; k < n; k++) b.append(of.charAt(RANDOM.nextInt(of.length()))); return b.toString(); }
  static final String UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", WORD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", HEX = "0123456789abcdef";
  static String hex(byte[] b) { StringBuilder s = new StringBuilder(); for (byte x : b) s.append(HEX.charAt((x >> 4) & 15)).append(HEX.charAt(x & 15)); return s.toString(); }
  static byte[] hmac(byte[] key, String text) {
    try { Mac m = Mac.getInstance("HmacSHA256"); m.init(new SecretKeySpec(key, "HmacSHA256")); return m.doFinal(text.getBytes(UTF)); } catch (GeneralSecurityException e) { throw new IllegalStateException(e); }
  }
  static String sha(String text) { try { return hex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF))); } catch (GeneralSecurityException e) { throw new IllegalStateException(e); } }
  static final byte[] CURSOR_KEY = random(32, WORD).getBytes(UTF);

  // ------------------------------------------------------------------ errors
  static class Viol { final String in, path, kind, expected; final Object found; final boolean absent; Viol(String in, String path, String kind, Object found, boolean absent, String expected) { this.in = in; this.path = path; this.kind = kind; this.found = found; this.absent = absent; this.expected = expected; } }
  static class Err extends RuntimeException {
    final int status; final String code, message; List<Viol> violations = List.of(); Map<String, String> headers = new LinkedHashMap<>(); List<String> challenges = List.of(); boolean own = false;
    Err(int status, String code, String message) { super(message, null, false, false); this.status = status; this.code = code; this.message = message; }
    Err header(String n, String v) { headers.put(n, v); return this; }
  }
  static Err err(int status, String code, String message) { return new Err(status, code, message); }
  static Err missing() { return err(404, "not_found", "There is no such thing."); }
  static Err notYours() { return err(403, "not_yours", "It is not for you to do this."); }
  static Err state() { return err(409, "not_in_state", "It is in a state that does not allow this."); }
  static Err busySign() { Err e = err(409, "sign_busy", "The sign is not where it should be."); e.own = true; return e; }
  static Err parameter(String in, String name, Object found, String expected) { Err e = err(400, "bad_parameter", name + " is not as it should be: " + expected); e.violations = List.of(new Viol(in, name, "value", found, found == null, expected)); return e; }
  static Err badPage(String name, Object found, String expected) { Err e = err(400, "bad_page", name + " is not as it should be: " + expected); e.violations = List.of(new Viol("query", name, "value", found, found == null, expected)); return e; }
  static String cut(String s) { return length(s) > 200 ? s.substring(0, s.offsetByCodePoints(0, 200)) : s; }
  static Err invalid(List<Viol> v) {
    Viol f = v.get(0);
    Err e;
    if (f.kind.equals("unknown") && !(F("nested-unknown-wrong") && f.path.indexOf('/', 1) > 0)) e = err(400, "field_unknown", cut(f.path.substring(1).replace('/', '.').replace("~1", "/").replace("~0", "~")) + " is no field");
    else e = err(422, "field_wrong", f.path.isEmpty() ? "The body is not as it should be." : f.path + " is not as it should be: " + f.expected);
    e.violations = v; return e;
  }
  static final Map<Integer, String> PHRASE = new HashMap<>();
  static { Object[] p = { 200, "OK", 201, "Created", 204, "No Content", 304, "Not Modified", 400, "Bad Request", 401, "Unauthorized", 403, "Forbidden", 404, "Not Found", 405, "Method Not Allowed", 408, "Request Timeout", 409, "Conflict", 410, "Gone", 412, "Precondition Failed", 413, "Content Too Large", 415, "Unsupported Media Type", 422, "Unprocessable Content", 428, "Precondition Required", 429, "Too Many Requests", 500, "Internal Server Error", 503, "Service Unavailable" }; for (int k = 0; k < p.length; k += 2) PHRASE.put((Integer) p[k], (String) p[k + 1]); }

  // ------------------------------------------------------------------ callers
  static class Caller { String user, id, house; Set<String> scopes = new HashSet<>(); boolean is(String u) { return user.equals(u); } }
  static Caller caller(String user, String id, String house, String... scopes) { Caller c = new Caller(); c.user = user; c.id = id; c.house = house; c.scopes.addAll(List.of(scopes)); return c; }
  static final Map<String, Caller> KEYS = new HashMap<>();
  static {
    KEYS.put("glow_Qm7dT2xVb9LpZr4KcYw8HsNf3GjE", caller("propmaster", "pm-ada", "ealing"));
    KEYS.put("glow_W3kRz8PvXn5MbTq1JyLg6DcHs9Fa", caller("propmaster", "pm-cyd", "pinewood"));
    KEYS.put("glow_Zt6NcB4qLr1XvKm9PwYd3GhJs7Re", caller("bender", "bn-ivo", "yard", "stock", "floor"));
    KEYS.put("glow_Hb2YvQ9sKx7LnTd5RzCm8WfPj4Ga", caller("bender", "bn-kit", "yard", "stock"));
  }
  static Caller token(String t) {
    String[] p = t.split("\\.", -1);
    if (p.length != 3) return null;
    try {
      Object h = Json.parse(new String(Base64.getUrlDecoder().decode(p[0]), UTF));
      if (!(h instanceof Map)) return null;
      Object alg = ((Map<?, ?>) h).get("alg");
      boolean unsigned = F("alg-none") && alg instanceof String && ((String) alg).equalsIgnoreCase("none");
      if (!unsigned) {
        if (!"HS256".equals(alg)) return null;
        String good = Base64.getUrlEncoder().withoutPadding().encodeToString(hmac(TOKEN_SECRET.getBytes(UTF), p[0] + "." + p[1]));
        if (!MessageDigest.isEqual(good.getBytes(UTF), p[2].getBytes(UTF))) return null;
      }
      Object b = Json.parse(new String(Base64.getUrlDecoder().decode(p[1]), UTF));
      if (!(b instanceof Map)) return null;
      Map<?, ?> c = (Map<?, ?>) b;
      if (!"https://id.glow.example".equals(c.get("iss"))) return null;
      Object aud = c.get("aud");
      if (!("glow-yard".equals(aud) || aud instanceof List && ((List<?>) aud).contains("glow-yard"))) return null;
      double t0 = now() / 1000.0;
      if (c.containsKey("exp") && !(c.get("exp") instanceof Number && ((Number) c.get("exp")).doubleValue() > t0 - 5)) return null;
      if (c.containsKey("nbf") && !(c.get("nbf") instanceof Number && ((Number) c.get("nbf")).doubleValue() <= t0 + 5)) return null;
      String user = null;
      for (Object u : c.get("role") instanceof List ? (List<?>) c.get("role") : Collections.singletonList(c.get("role"))) if (user == null && ("propmaster".equals(u) || "bender".equals(u))) user = (String) u;
      if (user == null || !(c.get("sub") instanceof String) || !(c.get("house") instanceof String)) return null;
      Caller r = caller(user, (String) c.get("sub"), (String) c.get("house"));
      Object scope = c.get("scope");
      if (scope instanceof String) r.scopes.addAll(List.of(((String) scope).split(" "))); else if (scope != null) return null;
      return r;
    } catch (IllegalArgumentException | Bad e) { return null; }
  }
  static Caller identify(Req q) {
    List<String> keys = q.all("glow-key"), auth = q.all("authorization");
    boolean keyBad = false, tokenBad = false;
    Caller a = null, b = null;
    if (keys.size() > 1) keyBad = true;
    else if (keys.size() == 1) {
      a = KEYS.get(keys.get(0));
      if (F("bender-key-unknown") && a != null && a.is("bender")) a = null;
      if (a == null) keyBad = true;
    }
    if (auth.size() > 1) tokenBad = true;
    else if (auth.size() == 1) {
      String v = auth.get(0);
      boolean bearer = v.regionMatches(true, 0, "Bearer ", 0, 7);
      if (bearer) b = token(v.substring(7).trim());
      if (b == null) tokenBad = true;
    }
    if (F("bad-token-beside-key") && a != null) tokenBad = false;
    boolean differ = a != null && b != null && !(a.user.equals(b.user) && a.id.equals(b.id));
    if (keyBad || tokenBad || differ || a == null && b == null) {
      Err e = err(401, "who_are_you", "Show a key or a token that is good.");
      e.challenges = List.of("ApiKey realm=\"" + TITLE + "\", in=\"header\", name=\"Glow-Key\"" + (keyBad || differ ? ", error=\"invalid_key\"" : ""), "Bearer realm=\"" + TITLE + "\"" + (tokenBad || differ ? ", error=\"invalid_token\"" : ""));
      throw e;
    }
    if (a == null) return b;
    if (b == null) return a;
    Caller c = caller(a.user, a.id, a.house); c.scopes.addAll(a.scopes); c.scopes.addAll(b.scopes); return c;
  }

  // ------------------------------------------------------------------ fields
  static class Fd {
    String name, canon, type; boolean required, readOnly, immutable, hidden, bound, defaulted, pounds; Object def; Long min, max; int minLen = 0, maxLen = Integer.MAX_VALUE; Pattern pattern; String format; List<String> of;
    Fd copy(String n) {
      Fd f = new Fd(); f.name = n; f.canon = canon; f.type = type; f.required = required; f.readOnly = readOnly; f.immutable = immutable; f.hidden = hidden; f.bound = bound; f.defaulted = defaulted; f.pounds = pounds;
      f.def = def; f.min = min; f.max = max; f.minLen = minLen; f.maxLen = maxLen; f.pattern = pattern; f.format = format; f.of = of; return f;
    }
    Fd opt() { required = false; return this; }
    Fd ro() { readOnly = true; return this; }
    Fd fixed() { immutable = true; return this; }
    Fd bound() { immutable = true; bound = true; return this; }
    Fd yard() { hidden = true; return this; }
    Fd def(Object v) { def = v; defaulted = true; return this; }
    Fd len(int a, int b) { minLen = a; maxLen = b; return this; }
    Fd range(long a, long b) { min = a; max = b; return this; }
    Fd pat(String p) { pattern = Pattern.compile(p); return this; }
    Fd fmt(String f) { format = f; return this; }
    Fd of(String... v) { of = List.of(v); return this; }
  }
  static Fd fd(String name, String type) { Fd f = new Fd(); f.name = name; f.canon = name; f.type = type; f.required = true; return f; }
  static final String[] LOAN_STATES = { "asked", "reserved", "out", "overdue", "back", "cancelled", "lapsed" }, SIGN_STATES = { "shelved", "lent", "repair", "scrapped" };
  static final Map<String, List<Fd>> FIELDS = new HashMap<>(), OLD_FIELDS = new HashMap<>();
  static final List<Fd> CONTACT = List.of(fd("name", "string").len(1, 60), fd("radio", "integer").range(1, 16));
  static {
    FIELDS.put("sign", List.of(fd("id", "integer").ro(), fd("title", "string").len(2, 60), fd("colour", "string").of("ruby", "amber", "jade", "cobalt", "violet"), fd("gas", "string").of("neon", "argon", "krypton").def("neon"),
      fd("width_cm", "integer").range(10, 600), fd("day_rate", "integer").range(100, 500000), fd("shelf", "string").pat("^[A-Z][0-9]{1,3}\\z").opt().yard(), fd("state", "string").of(SIGN_STATES).ro(), fd("house", "string").ro(), fd("loans_open", "integer").ro(), fd("created_at", "string").ro(), fd("changed_at", "string").ro()));
    FIELDS.put("stage", List.of(fd("slug", "string").pat("^[a-z0-9]+(-[a-z0-9]+)*\\z").len(3, 32).fixed(), fd("title", "string").len(1, 80), fd("city", "string").len(2, 40), fd("wraps_on", "string").fmt("date"), fd("contact", "contact").opt(), fd("owner", "string").ro(), fd("house", "string").ro(), fd("created_at", "string").ro()));
    FIELDS.put("loan", List.of(fd("code", "string").ro(), fd("number", "integer").ro(), fd("stage", "string").bound(), fd("sign", "integer").fixed(), fd("borrower", "string").ro(), fd("house", "string").ro(), fd("days", "integer").range(1, 60), fd("fee", "integer").ro(), fd("note", "string").len(0, 200).opt(), fd("yard_note", "string").len(0, 200).opt().yard(),
      fd("status", "string").of(LOAN_STATES).ro(), fd("extended", "integer").ro(), fd("why", "string").ro().opt(), fd("due_at", "string").ro().opt(), fd("asked_at", "string").ro(), fd("changed_at", "string").ro()));
    FIELDS.put("mishap", List.of(fd("id", "string").ro(), fd("loan", "string").bound(), fd("kind", "string").of("crack", "flicker", "dead", "stain"), fd("told", "string").len(1, 300), fd("house", "string").ro(), fd("reported_by", "string").ro(), fd("reported_at", "string").ro()));
    FIELDS.put("hook", List.of(fd("id", "string").ro(), fd("owner", "string").ro(), fd("url", "string").pat("^https?://").len(0, 300).fmt("uri"), fd("secret", "string").ro(), fd("kinds", "kinds").opt(), fd("active", "boolean").def(true)));
    FIELDS.put("entry", List.of(fd("id", "string").ro(), fd("kind", "string").ro(), fd("about", "string").ro(), fd("house", "string").ro(), fd("actor", "string").ro().opt(), fd("at", "string").ro(), fd("payload", "object").ro()));
    for (String r : FIELDS.keySet()) {
      List<Fd> l = new ArrayList<>();
      for (Fd f : FIELDS.get(r)) {
        if (r.equals("loan") && f.name.equals("days")) l.add(f.copy("nights"));
        else if (r.equals("sign") && f.name.equals("gas")) continue;
        else if (r.equals("sign") && f.name.equals("day_rate")) { Fd p = f.copy("day_rate"); p.type = "number"; p.pounds = true; p.range(1, 5000); l.add(p); }
        else l.add(f);
      }
      if (r.equals("sign")) { Fd m = fd("maker_mark", "string").len(0, 20).opt(); m.canon = null; l.add(m); }
      OLD_FIELDS.put(r, l);
    }
  }
  static List<Fd> fields(String res, boolean old) { return (old ? OLD_FIELDS : FIELDS).get(res); }
  static Fd field(String res, boolean old, String name) { for (Fd f : fields(res, old)) if (f.name.equals(name)) return f; return null; }

  static final List<String> KINDS = List.of("loan.asked", "loan.moved", "loan.extended", "loan.due_soon", "mishap.told", "stage.struck", "sign.repriced", "sign.scrapped");
  static boolean kindKnown(String k) {
    if (k.equals("*") || KINDS.contains(k)) return true;
    if (k.endsWith(".*")) for (String x : KINDS) if (x.startsWith(k.substring(0, k.length() - 1))) return true;
    return false;
  }
  static int length(String s) { return s.codePointCount(0, s.length()); }

  /** Holds one value to its field; what it comes to is returned, and what is wrong with it is added. */
  static Object check(Fd f, Object v, String path, List<Viol> out) {
    switch (f.type) {
      case "integer": case "number": {
        if (!(v instanceof Number)) { out.add(new Viol("body", path, "type", v, false, "a value of type " + f.type)); return null; }
        if (f.type.equals("integer")) {
          if (v instanceof Double) {
            double d = (Double) v;
            if (d != Math.rint(d)) { out.add(new Viol("body", path, "type", v, false, "a value of type integer")); return null; }
            if (Math.abs(d) > 9e15) { if (f.min == null) return d < 0 ? -1L : Long.MAX_VALUE; out.add(new Viol("body", path, "value", v, false, "at most " + f.max)); return null; }
            v = (long) d;
          }
          long n = (Long) v;
          if (f.min != null && n < f.min) out.add(new Viol("body", path, "value", v, false, "at least " + f.min));
          if (f.max != null && n > f.max) out.add(new Viol("body", path, "value", v, false, "at most " + f.max));
          return n;
        }
        double d = ((Number) v).doubleValue();
        if (d < f.min || Double.isNaN(d)) { out.add(new Viol("body", path, "value", v, false, "at least " + f.min)); return null; }
        if (d > f.max) { out.add(new Viol("body", path, "value", v, false, "at most " + f.max)); return null; }
        return F("pounds-cut-off") ? (long) (d * 100.0) : (Object) Math.round(d * 100.0);
      }
      case "boolean":
        if (!(v instanceof Boolean)) { out.add(new Viol("body", path, "type", v, false, "a value of type boolean")); return null; }
        return v;
      case "string": {
        if (!(v instanceof String)) { out.add(new Viol("body", path, f.of == null ? "type" : "type", v, false, "a value of type string")); return null; }
        String s = (String) v;
        if (f.of != null && !f.of.contains(s)) out.add(new Viol("body", path, "value", v, false, "one of " + String.join(", ", f.of)));
        if (length(s) < f.minLen) out.add(new Viol("body", path, "value", v, false, "at least " + f.minLen + " characters"));
        if (length(s) > f.maxLen) out.add(new Viol("body", path, "value", v, false, "at most " + f.maxLen + " characters"));
        if (f.pattern != null && !f.pattern.matcher(s).find()) out.add(new Viol("body", path, "value", v, false, "a text that matches " + f.pattern.pattern().replace("\\z", "$")));
        if ("date".equals(f.format) && !isDate(s)) out.add(new Viol("body", path, "value", v, false, "a date"));
        if ("uri".equals(f.format) && !isUri(s)) out.add(new Viol("body", path, "value", v, false, "an address"));
        return s;
      }
      case "kinds": {
        if (!(v instanceof List)) { out.add(new Viol("body", path, "type", v, false, "a value of type array")); return null; }
        List<?> l = (List<?>) v;
        if (l.size() < 1) out.add(new Viol("body", path, "value", v, false, "at least 1 item"));
        if (l.size() > 10) out.add(new Viol("body", path, "value", v, false, "at most 10 items"));
        for (int k = 0; k < l.size(); k++) {
          if (!(l.get(k) instanceof String)) out.add(new Viol("body", path + "/" + k, "type", l.get(k), false, "a value of type string"));
          else if (!kindKnown((String) l.get(k))) out.add(new Viol("body", path + "/" + k, "value", l.get(k), false, "a kind of event"));
        }
        return new ArrayList<>(l);
      }
      case "contact": {
        if (!(v instanceof Map)) { out.add(new Viol("body", path, "type", v, false, "a value of type object")); return null; }
        Map<String, Object> r = new LinkedHashMap<>();
        for (Map.Entry<?, ?> e : ((Map<?, ?>) v).entrySet()) {
          Fd g = null; for (Fd x : CONTACT) if (x.name.equals(e.getKey())) g = x;
          String at = path + "/" + pointer((String) e.getKey());
          if (g == null) out.add(new Viol("body", at, "unknown", e.getValue(), false, "no such field")); else r.put(g.name, check(g, e.getValue(), at, out));
        }
        for (Fd x : CONTACT) if (!((Map<?, ?>) v).containsKey(x.name)) out.add(new Viol("body", path + "/" + x.name, "missing", null, true, "a value"));
        Map<String, Object> sorted = new LinkedHashMap<>(); for (Fd x : CONTACT) if (r.containsKey(x.name)) sorted.put(x.name, r.get(x.name));
        return sorted;
      }
    }
    return v;
  }
  static String pointer(String s) { return s.replace("~", "~0").replace("/", "~1"); }
  static final Pattern DATE = Pattern.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}");
  static boolean isDate(String s) {
    if (!DATE.matcher(s).matches()) return false;
    if (F("february-thirtieth")) return Integer.parseInt(s.substring(5, 7)) >= 1 && Integer.parseInt(s.substring(5, 7)) <= 12 && Integer.parseInt(s.substring(8)) >= 1 && Integer.parseInt(s.substring(8)) <= 31;
    try { LocalDate.parse(s); return true; } catch (DateTimeParseException e) { return false; }
  }
  static boolean isUri(String s) {
    for (int k = 0; k < s.length(); k++) if (s.charAt(k) <= 32 || s.charAt(k) > 126) return false;
    try { URI u = new URI(s); return u.isAbsolute() && u.getRawAuthority() != null; } catch (URISyntaxException e) { return false; }
  }

  // ------------------------------------------------------------------ rows
  static class Row extends LinkedHashMap<String, Object> { final String res; long seq, epoch, due, ms; boolean old, told; String user, ownerHouse; long failingSince = -1, notBefore = 0; Row(String res) { this.res = res; } String s(String k) { return (String) get(k); } long n(String k) { return (Long) get(k); } }
  static long seq = 0, signIds = 0;
  static final Map<String, LinkedHashMap<String, Row>> ROWS = new HashMap<>();
  static { for (String r : List.of("sign", "stage", "loan", "mishap", "hook", "entry")) ROWS.put(r, new LinkedHashMap<>()); }
  static final Map<String, List<Row>> LOANS_OF_SIGN = new HashMap<>(), LOANS_OF_STAGE = new HashMap<>(), MISHAPS_OF_LOAN = new HashMap<>();
  static final Map<String, Long> NUMBERS = new HashMap<>();
  static String idOf(Row r) { return r.res.equals("sign") ? String.valueOf(r.get("id")) : r.res.equals("stage") ? r.s("slug") : r.res.equals("loan") ? r.s("code") : r.s("id"); }
  static Row row(String res, String id) { return ROWS.get(res).get(id); }
  static void store(Row r) { r.seq = ++seq; ROWS.get(r.res).put(idOf(r), r); }
  static long loansOpen(Row sign) {
    long n = 0;
    for (Row l : LOANS_OF_SIGN.getOrDefault(idOf(sign), List.of())) { String s = l.s("status"); if (s.equals("reserved") || s.equals("out") || s.equals("overdue") && !F("overdue-not-open")) n++; }
    return n;
  }
  static Row signOf(Row loan) { return row("sign", String.valueOf(loan.get("sign"))); }

  static Map<String, Object> show(Row r, String user, boolean old, boolean secret) {
    Map<String, Object> m = new LinkedHashMap<>();
    for (Fd f : fields(r.res, old)) {
      if (f.hidden && !user.equals("bender")) continue;
      if (f.name.equals("secret") && !secret) continue;
      if (f.canon == null) { m.put(f.name, "unmarked"); continue; }
      Object v = f.name.equals("loans_open") ? (Object) loansOpen(r) : r.get(f.canon);
      if (v == null) continue;
      if (f.pounds) v = ((Long) v) / 100.0;
      if (old && r.res.equals("loan") && f.canon.equals("status") && v.equals("asked")) v = "requested";
      m.put(f.name, v);
    }
    return m;
  }

  // ------------------------------------------------------------------ who may read
  static boolean mayRead(Row r, String user, String id, String house, boolean list) {
    boolean prop = user.equals("propmaster");
    switch (r.res) {
      case "sign": return !prop || !"scrapped".equals(r.get("state")) || F("scrapped-by-number") && !list;
      case "stage": case "loan": case "mishap": case "entry": return !prop || house.equals(r.get("house"));
      case "hook": return id.equals(r.get("owner"));
    }
    return false;
  }
  static boolean mayRead(Row r, Caller c) { return mayRead(r, c.user, c.id, c.house, false); }

  /** What each operation asks for: users, and for each the scope that its rule asks for ("" = none). */
  static final Map<String, Map<String, String>> RULES = new HashMap<>();
  static void rule(String ops, String user, String scope) { for (String o : ops.split(", ")) RULES.computeIfAbsent(o, k -> new HashMap<>()).put(user, scope); }
  static {
    for (String u : List.of("propmaster", "bender")) rule("list sign, read sign, list stage, read stage, list loan, read loan, create mishap, list mishap, read mishap, create hook, list hook, read hook, update hook, delete hook, list entry, read entry", u, "");
    rule("create sign, update sign, bench sign, mend sign, scrap sign", "bender", "stock");
    rule("create stage, update stage, delete stage, create loan, update loan, cancel loan, extend loan", "propmaster", "");
    rule("update loan, approve loan, hand_over loan, take_back loan", "bender", "floor");
  }

  // ------------------------------------------------------------------ events
  static final ExecutorService SENDERS = Executors.newFixedThreadPool(32, r -> { Thread t = new Thread(r); t.setDaemon(true); return t; });
  static final long[] RETRY = { 10 * SECOND, 2 * MINUTE, 15 * MINUTE };
  static class Delivery { Row hook; String event, kind, body; int tries = 0; long at; boolean busy = false; }
  static final Map<String, ArrayDeque<Delivery>> QUEUES = new LinkedHashMap<>();

  static boolean wants(Row hook, String kind) {
    Object k = hook.get("kinds");
    if (k == null) return true;
    for (Object x : (List<?>) k) { String s = (String) x; if (s.equals("*") || s.equals(kind) || s.endsWith(".*") && kind.startsWith(s.substring(0, s.length() - 1))) return true; }
    return false;
  }
  static void emit(String kind, Row about, Object payload, long now, Caller c) {
    String id = "evt_" + random(20, WORD);
    Row e = new Row("entry");
    e.put("id", id); e.put("kind", kind); e.put("about", idOf(about));
    e.put("house", F("log-house-of-caller") && c != null ? c.house : about.get("house"));
    if (c != null) e.put("actor", c.id);
    e.put("at", iso(now));
    e.put("payload", payload instanceof Row ? show((Row) payload, F("yard-note-in-log") ? "bender" : "propmaster", false, false) : payload);
    e.ms = now;
    store(e);
    for (Row h : new ArrayList<>(ROWS.get("hook").values())) {
      if (!(Boolean) h.get("active") || !wants(h, kind)) continue;
      if (!mayRead(about, h.user, h.s("owner"), h.ownerHouse, false) && !F("told-across-houses")) continue;
      Delivery d = new Delivery();
      d.hook = h; d.event = id; d.kind = kind; d.at = now;
      d.body = Json.write(map("event", id, "kind", kind, "at", iso(now), "about", payload instanceof Row ? show((Row) payload, h.user, h.old && !F("old-hook-new-words"), false) : payload));
      QUEUES.computeIfAbsent(idOf(h) + " " + about.res + " " + idOf(about), k -> new ArrayDeque<>()).add(d);
    }
  }
  static void giveUp(Row hook) { QUEUES.keySet().removeIf(k -> k.startsWith(idOf(hook) + " ")); }
  static void deliver(long now) {
    for (Map.Entry<String, ArrayDeque<Delivery>> q : QUEUES.entrySet()) {
      Delivery d = q.getValue().peek();
      if (d == null || d.busy || Math.max(d.at, d.hook.notBefore) > now) continue;
      d.busy = true;
      String key = q.getKey(), secret = d.hook.s("secret"), url = d.hook.s("url");
      String t = String.valueOf(now / 1000);
      String sig = "t=" + t + ",s=" + hex(hmac(secret.getBytes(UTF), (F("signed-without-id") ? "" : d.event + ".") + t + "." + d.body));
      SENDERS.execute(() -> {
        int status = 0; String after = null;
        try {
          String[] r = post(new URI(url), d, sig);
          status = Integer.parseInt(r[0]); after = r[1];
        } catch (Exception e) { /* a try that failed */ }
        synchronized (LOCK) { done(key, d, status, after); }
      });
    }
  }
  /** One try: its status and its Retry-After. A connection of its own, which ends with it. */
  static String[] post(URI u, Delivery d, String sig) throws IOException {
    String host = u.getHost();
    if (host == null || !"http".equalsIgnoreCase(u.getScheme()) || !(host.equals("localhost") || host.startsWith("127.") || host.equals("[::1]"))) throw new IOException("no address of this machine");
    String target = (u.getRawPath() == null || u.getRawPath().isEmpty() ? "/" : u.getRawPath()) + (u.getRawQuery() == null ? "" : "?" + u.getRawQuery());
    long end = System.currentTimeMillis() + 5000;
    try (Socket s = new Socket()) {
      s.connect(new InetSocketAddress(InetAddress.getByName(host), u.getPort() < 0 ? 80 : u.getPort()), 5000);
      s.setTcpNoDelay(true);
      byte[] body = d.body.getBytes(UTF);
      ByteArrayOutputStream o = new ByteArrayOutputStream();
      o.write(("POST " + target + " HTTP/1.1\r\nHost: " + u.getRawAuthority().replaceFirst("^.*@", "") + "\r\nUser-Agent: glow-yard\r\nContent-Type: application/json\r\nContent-Length: " + body.length + "\r\nGlow-Event: " + d.kind + "\r\nGlow-Delivery: " + d.event + "\r\nGlow-Signature: " + sig + "\r\nConnection: close\r\n\r\n").getBytes(UTF));
      o.write(body);
      o.writeTo(s.getOutputStream()); s.getOutputStream().flush();
      InputStream in = s.getInputStream();
      int status = 0; String after = null;
      StringBuilder l = new StringBuilder();
      for (int size = 0; size < 65536; size++) {
        long left = end - System.currentTimeMillis();
        if (left <= 0) throw new SocketTimeoutException();
        s.setSoTimeout((int) left);
        int c = in.read();
        if (c < 0) break;
        if (c != '\n') { if (c != '\r') l.append((char) c); continue; }
        String x = l.toString(); l.setLength(0);
        if (status == 0) { if (!x.matches("HTTP/1\\.[01] [1-5][0-9][0-9].*")) throw new IOException("no answer"); status = Integer.parseInt(x.substring(9, 12)); }
        else if (x.isEmpty()) { if (status >= 200) return new String[] { String.valueOf(status), after }; status = 0; }
        else if (x.regionMatches(true, 0, "retry-after:", 0, 12)) after = x.substring(12).trim();
      }
      throw new IOException("no answer");
    }
  }
  static void done(String key, Delivery d, int status, String after) {
    d.busy = false;
    ArrayDeque<Delivery> q = QUEUES.get(key);
    if (q == null || q.peek() != d) return;
    long now = now();
    boolean good = status >= 200 && status < 300;
    Row h = d.hook;
    if (good) h.failingSince = -1;
    else {
      if (h.failingSince < 0) h.failingSince = now;
      if (status == 410 || now - h.failingSince >= HOUR) { h.put("active", false); giveUp(h); return; }
      if (after != null && after.matches("[0-9]{1,6}")) h.notBefore = Math.max(h.notBefore, now + Math.min(Long.parseLong(after), 86400) * 1000);
    }
    if (good || d.tries >= RETRY.length) { q.poll(); if (q.isEmpty()) QUEUES.remove(key); } else d.at = now + RETRY[d.tries++];
    deliver(now);
  }

  // ------------------------------------------------------------------ time
  static class Timer { long due, seq, epoch; String what; Row row; }
  static final PriorityQueue<Timer> TIMERS = new PriorityQueue<>((a, b) -> a.due != b.due ? Long.compare(a.due, b.due) : Long.compare(a.seq, b.seq));
  static long timers = 0;
  static void timer(String what, Row row, long due) { Timer t = new Timer(); t.due = due; t.seq = ++timers; t.epoch = row.epoch; t.what = what; t.row = row; TIMERS.add(t); }
  static void tick(long now) {
    while (!TIMERS.isEmpty() && TIMERS.peek().due <= now) {
      Timer t = TIMERS.poll();
      Row r = t.row;
      if (t.what.equals("pump")) { if ("repair".equals(r.get("state")) && (t.epoch == r.epoch || F("pump-forgets-mend"))) moveSign(r, "shelved", now); continue; }
      if (t.epoch != r.epoch && !(F("old-due-time") && t.what.equals("run_over"))) continue;
      switch (t.what) {
        case "lapse": if ("asked".equals(r.get("status"))) moveLoan(r, "lapsed", now, null, true); break;
        case "drop": if ("reserved".equals(r.get("status"))) moveLoan(r, "lapsed", now, null, true); break;
        case "run_over": if ("out".equals(r.get("status"))) moveLoan(r, "overdue", now, null, true); break;
        case "due_soon": if ("out".equals(r.get("status"))) { r.told = true; emit("loan.due_soon", r, r, now, null); } break;
      }
    }
    Iterator<Row> it = ROWS.get("entry").values().iterator();
    while (it.hasNext() && it.next().ms + 30 * DAY <= now) it.remove();
    deliver(now);
  }
  static void moveSign(Row s, String to, long now) {
    s.put("state", to); s.put("changed_at", iso(now)); s.epoch++;
    if (to.equals("repair")) timer("pump", s, now + 72 * HOUR);
  }
  static void moveLoan(Row l, String to, long now, Caller c, boolean clock) {
    String was = l.s("status");
    l.put("status", to); l.epoch++;
    if (!(clock && F("clock-leaves-stamp"))) l.put("changed_at", iso(now));
    if (to.equals("reserved")) timer("drop", l, now + 5 * DAY);
    if (to.equals("out")) dueTimers(l);
    if (!(clock && to.equals("lapsed") && was.equals("asked") && F("lapse-silent")))
      emit("loan.moved", l, map("loan", l.get("code"), "was", F("was-as-is") ? to : was, "is", to), now, c);
  }
  static void dueTimers(Row l) {
    if (!(F("due-soon-once") && l.told)) timer("due_soon", l, l.due - DAY);
    timer("run_over", l, l.due);
  }

  // ------------------------------------------------------------------ limits
  static final Map<String, ArrayDeque<Long>> SLIDING = new HashMap<>();
  static final Map<String, long[]> BUCKETS = new HashMap<>();
  static final Map<String, Integer> QUOTA = new HashMap<>();
  static void tell(Req q, long limit, long left, long resetMs) {
    q.out.put("Glow-Rate-Limit", String.valueOf(limit)); q.out.put("Glow-Rate-Left", String.valueOf(left)); q.out.put("Glow-Rate-Reset", String.valueOf(Math.max(0, (resetMs + 999) / 1000)));
  }
  static void rateCaller(Req q, Caller c, long now) {
    ArrayDeque<Long> d = SLIDING.computeIfAbsent(c.user + " " + c.id, k -> new ArrayDeque<>());
    while (!d.isEmpty() && d.peek() <= now - MINUTE) d.poll();
    boolean full = d.size() >= 600;
    if (!full) d.add(now);
    long wait = d.peek() + MINUTE - now;
    tell(q, 600, 600 - d.size(), wait);
    if (full) throw err(429, "slow_down", "Too many requests.").header("Retry-After", String.valueOf((wait + 999) / 1000));
  }
  static void rateAddress(Req q, long now) {
    final long unit = MINUTE, cap = (F("burst-as-limit") ? 20 : 30) * unit;
    long[] b = BUCKETS.computeIfAbsent(q.address, k -> new long[] { cap, now });
    b[0] = Math.min(cap, b[0] + (now - b[1]) * 20); b[1] = now;
    boolean empty = b[0] < unit;
    if (!empty) b[0] -= unit;
    long wait = (unit - b[0] % unit + 19) / 20;
    tell(q, 20, b[0] / unit, wait);
    if (empty) throw err(429, "slow_down", "Too many requests.").header("Retry-After", String.valueOf((wait + 999) / 1000));
  }

  // ------------------------------------------------------------------ requests
  static class Req {
    Object parsed; String method, target, path, rawQuery, address = "127.0.0.1", id = "req_" + random(16, WORD), version = NEW; boolean old, head, urlTooLarge, headersTooLarge, bodyTooLarge, late, syntax, deprecatedSeen;
    Map<String, List<String>> headers = new HashMap<>(); byte[] body = new byte[0]; Map<String, String> out = new LinkedHashMap<>(); Map<String, String> pathParams = new LinkedHashMap<>(); Map<String, List<String>> query = new LinkedHashMap<>(); boolean keep = true;
    List<String> all(String n) { return headers.getOrDefault(n, List.of()); }
    String one(String n) { List<String> l = all(n); return l.isEmpty() ? null : l.get(0); }
  }
  static class Res { int status; Object body; Map<String, String> headers = new LinkedHashMap<>(); List<String> challenges = List.of(); String type = "application/json"; Res(int s, Object b) { status = s; body = b; } Res h(String k, String v) { headers.put(k, v); return this; } }
  interface Act { Res run(Req q, Caller c, long now); }
  static class Route { String method, op; String[] parts; boolean newOnly, open; Set<String> params = new HashSet<>(); Act act; String body = ""; /* "" = ignored, json, patch */ }
  static final List<Route> ROUTES = new ArrayList<>();
  static Route on(String method, String path, String op, String body, String params, Act act) {
    Route r = new Route(); r.method = method; r.op = op; r.parts = (F("log-at-root") && path.startsWith("/log") ? path : BASE + path).substring(1).split("/"); r.body = body; r.act = act;
    if (!params.isEmpty()) r.params.addAll(List.of(params.split(" ")));
    ROUTES.add(r); return r;
  }
  static String decode(String s, boolean plus) {
    if (plus) s = s.replace('+', ' ');
    if (s.indexOf('%') < 0) return s;
    ByteArrayOutputStream o = new ByteArrayOutputStream();
    byte[] b = s.getBytes(UTF);
    for (int k = 0; k < b.length; k++) {
      if (b[k] == '%') {
        int h = k + 2 < b.length ? Character.digit(b[k + 1], 16) : -1, l = k + 2 < b.length ? Character.digit(b[k + 2], 16) : -1;
        if (h < 0 || l < 0) o.write('%'); else { o.write(h * 16 + l); k += 2; }
      } else o.write(b[k]);
    }
    return new String(o.toByteArray(), UTF);
  }

  static Res answer(Req q) {
    Res res;
    try { res = handle(q); }
    catch (Err e) {
      Map<String, Object> p = map("type", "about:blank", "title", PHRASE.getOrDefault(e.status, "Error"), "status", (long) e.status, "detail", e.message, "code", e.code, "request_id", q.id);
      if (!e.violations.isEmpty()) {
        List<Object> l = new ArrayList<>();
        for (Viol v : e.violations) {
          String found = v.absent ? "nothing" : Json.write(v.found);
          if (found.length() > 200) found = found.substring(0, 200);
          l.add(map("in", v.in, "path", v.path, "found", found, "expected", v.expected));
        }
        p.put("violations", l);
      }
      res = new Res(e.status, p); res.headers.putAll(e.headers); res.challenges = e.challenges;
      res.type = F("missing-as-json") && e.code.equals("not_found") ? "application/json" : "application/problem+json";
    } catch (RuntimeException | StackOverflowError e) {
      e.printStackTrace();
      res = new Res(500, map("type", "about:blank", "title", PHRASE.get(500), "status", 500L, "detail", "Something is broken.", "code", "broken", "request_id", q.id)); res.type = "application/problem+json";
    }
    res.headers.putAll(q.out);
    res.h("Glow-Trace", q.id).h("Glow-Version", q.version).h("Vary", "Glow-Version, Glow-Key, Authorization");
    if (q.old && !(F("refusals-not-deprecated") && res.status >= 400)) {
      res.h("Deprecation", "@" + DEPRECATED).h("Sunset", DateTimeFormatter.RFC_1123_DATE_TIME.format(Instant.ofEpochMilli(SUNSET).atZone(ZoneOffset.UTC)).replaceFirst(", ([0-9]) ", ", 0$1 "));
      res.h("Link", "<https://glow.example/upgrade>; rel=\"deprecation\", <" + q.target.replace(">", "%3E") + ">; rel=\"successor-version\"");
    }
    return res;
  }
  static Res handle(Req q) {
    if (q.urlTooLarge) throw err(413, "too_large", "The address is too long.");
    if (q.headersTooLarge) throw err(413, "too_large", "The header fields are too large.");
    if (q.syntax) throw err(400, "unreadable", "This is no request that can be read.");
    // route, method, version
    String[] parts = q.path.startsWith("/") ? q.path.substring(1).split("/", -1) : new String[] { "" };
    List<Route> fits = new ArrayList<>();
    int best = -1;
    for (Route r : ROUTES) {
      if (r.parts.length != parts.length) continue;
      boolean ok = true; int literal = 0;
      for (int k = 0; k < parts.length && ok; k++) { if (r.parts[k].startsWith("{")) ok = !parts[k].isEmpty(); else { ok = r.parts[k].equals(decode(parts[k], false)); literal++; } }
      if (!ok) continue;
      if (literal > best) { best = literal; fits.clear(); }
      if (literal == best) fits.add(r);
    }
    if (fits.isEmpty()) throw err(404, "no_route", "There is no such path.");
    Set<String> allow = new TreeSet<>(List.of("OPTIONS"));
    for (Route r : fits) { allow.add(r.method); if (r.method.equals("GET")) allow.add("HEAD"); }
    if (q.method.equals("OPTIONS")) return new Res(204, null).h("Allow", String.join(", ", allow));
    String method = q.method.equals("HEAD") && !(F("no-head-of-log") && fits.get(0).op.endsWith("entry")) ? "GET" : q.method;
    Route route = null;
    for (Route r : fits) if (r.method.equals(method)) route = r;
    if (route == null) throw err(405, "no_method", "This path has no such method.").header("Allow", String.join(", ", allow));
    List<String> vs = q.all("glow-version");
    if (!vs.isEmpty()) {
      String v = vs.get(0);
      for (String x : vs) if (!x.equals(v)) throw err(400, "version_unknown", "There is no such version.");
      if (v.equals(OLD)) {
        q.old = true; q.version = OLD;
        if (now() >= SUNSET && !F("serves-after-sunset")) throw err(410, "version_gone", "This version is not served any more.");
      } else if (!v.equals(NEW)) throw err(400, "version_unknown", "There is no such version.");
    }
    if (q.old && route.newOnly && !F("extend-in-old")) throw err(404, "no_route", "There is no such path.");
    for (int k = 0; k < parts.length; k++) if (route.parts[k].startsWith("{")) q.pathParams.put(route.parts[k].substring(1, route.parts[k].length() - 1), decode(parts[k], false));
    synchronized (LOCK) {
      long now = now();
      tick(now);
      Caller c = null;
      if (route.open) rateAddress(q, now);
      else {
        c = identify(q);
        rateCaller(q, c, now);
        Map<String, String> rule = RULES.get(route.op);
        if (!rule.containsKey(c.user)) throw notYours();
        String scope = rule.get(c.user);
        if (F("hand-over-without-scope") && route.op.equals("hand_over loan")) scope = "";
        if (!scope.isEmpty() && !c.scopes.contains(scope)) { Err e = err(403, "scope_lacking", "This asks for the scope " + scope + "."); e.challenges = List.of("Bearer realm=\"" + TITLE + "\", error=\"insufficient_scope\", scope=\"" + scope + "\""); throw e; }
      }
      Object parsed = null;
      if (!route.body.isEmpty()) parsed = body(q, route.body.equals("patch"));
      parameters(q, route);
      q.parsed = parsed;
      Res r = route.act.run(q, c, now);
      tick(now);
      return r;
    }
  }
  static Object body(Req q, boolean patch) {
    String type = q.one("content-type");
    if (q.body.length == 0 && !q.bodyTooLarge) throw err(400, "unreadable", "A body is expected.");
    String t = type == null ? "" : type.split(";", 2)[0].trim().toLowerCase(Locale.ROOT);
    if (!(t.equals("application/json") || patch && t.equals("application/merge-patch+json"))) throw err(415, "wrong_media", "Send application/json.");
    if (q.bodyTooLarge && !(F("body-in-characters") && q.body.length < 65536)) throw err(413, "too_large", "The body is too large.");
    String text;
    try { text = UTF.newDecoder().onMalformedInput(CodingErrorAction.REPORT).onUnmappableCharacter(CodingErrorAction.REPORT).decode(ByteBuffer.wrap(q.body)).toString(); } catch (CharacterCodingException e) { throw err(400, "unreadable", "The body is no UTF-8."); }
    if (F("body-in-characters") && text.length() > 16384) throw err(413, "too_large", "The body is too large.");
    try { return Json.parse(text); } catch (Bad e) { throw err(400, "unreadable", "The body is no JSON: " + e.getMessage()); }
  }
  static void parameters(Req q, Route route) {
    if (q.rawQuery != null && !q.rawQuery.isEmpty()) for (String p : q.rawQuery.split("&")) {
      if (p.isEmpty()) continue;
      int k = p.indexOf('=');
      q.query.computeIfAbsent(decode(k < 0 ? p : p.substring(0, k), true), x -> new ArrayList<>()).add(k < 0 ? "" : decode(p.substring(k + 1), true));
    }
    for (Map.Entry<String, List<String>> e : q.query.entrySet()) {
      String n = e.getKey();
      boolean known = route.params.contains(n);
      if (route.op.equals("list loan") && (n.equals("days") || n.equals("nights"))) known = n.equals(q.old ? "nights" : "days");
      if (!known) throw parameter("query", n, e.getValue().get(0), "no such parameter");
      if (e.getValue().size() > 1) throw parameter("query", n, e.getValue().get(1), "one value");
    }
  }
  static String param(Req q, String n) { List<String> l = q.query.get(n); return l == null ? null : l.get(0); }
  static final Pattern INT = Pattern.compile("-?(0|[1-9][0-9]{0,17})");
  static Long intParam(Req q, String n, long min, long max) {
    String v = param(q, n);
    if (v == null) return null;
    if (!INT.matcher(v).matches() || v.equals("-0")) throw parameter("query", n, v, "a whole number from " + min + " to " + max);
    long x = Long.parseLong(v);
    if (x < min || x > max) throw parameter("query", n, v, "a whole number from " + min + " to " + max);
    return x;
  }
  static String enumParam(Req q, String n, List<String> of) { String v = param(q, n); if (v != null && !of.contains(v)) throw parameter("query", n, v, "one of " + String.join(", ", of)); return v; }
  static String textParam(Req q, String n, int min, int max) { String v = param(q, n); if (v != null && (length(v) < min || length(v) > max)) throw parameter("query", n, v, "from " + min + " to " + max + " characters"); return v; }

  // ------------------------------------------------------------------ pages
  static long pageSize(Req q, long def, long max, boolean clamp) {
    String v = param(q, "take");
    if (v == null) return def;
    if (!v.matches("[1-9][0-9]{0,17}|[1-9][0-9]{18,}")) throw badPage("take", v, "a whole number from 1 to " + max);
    long n = v.length() > 18 ? Long.MAX_VALUE : Long.parseLong(v);
    if (n > max) { if (clamp) return max; throw badPage("take", v, "a whole number from 1 to " + max); }
    return n;
  }
  static List<Object> shown(List<Row> l, Req q, Caller c) {
    List<Object> o = new ArrayList<>();
    for (Row r : l) {
      Map<String, Object> m = show(r, c.user, q.old, false);
      if (r.res.equals("sign")) {
        if (F("shelf-in-list") && r.get("shelf") != null) m.put("shelf", r.get("shelf"));
        if (F("pence-in-old-list") && q.old) m.put("day_rate", r.get("day_rate"));
      }
      o.add(m);
    }
    return o;
  }
  static Res cursorPage(Req q, Caller c, String op, String filters, List<Row> rows, boolean newest) {
    long size = pageSize(q, 20, 100, false);
    String mark = param(q, "mark"), bound = op + "|" + q.version + "|" + filters + "|" + c.user + "|" + (c.is("propmaster") ? c.house : "");
    Comparator<Row> order = newest ? (a, b) -> a.ms != b.ms ? Long.compare(b.ms, a.ms) : Long.compare(a.seq, b.seq) : (a, b) -> Long.compare(a.seq, b.seq);
    rows.sort(order);
    int from = 0;
    if (mark != null) {
      Row at = new Row("mark");
      try {
        String[] p = new String(Base64.getUrlDecoder().decode(mark), UTF).split("\\.");
        if (p.length != 3 || !MessageDigest.isEqual(p[2].getBytes(UTF), hex(hmac(CURSOR_KEY, p[0] + "." + p[1] + "." + bound)).substring(0, 24).getBytes(UTF))) throw new IllegalArgumentException();
        at.ms = Long.parseLong(p[0]); at.seq = Long.parseLong(p[1]);
      } catch (IllegalArgumentException e) { throw badPage("mark", mark, "a mark of this list"); }
      while (from < rows.size() && order.compare(rows.get(from), at) <= 0) from++;
    }
    int to = (int) Math.min(rows.size(), from + size);
    Object next = null;
    if (to < rows.size() || F("mark-behind-the-end") && to - from == size) {
      Row l = rows.get(to - 1);
      String p = l.ms + "." + l.seq;
      next = Base64.getUrlEncoder().withoutPadding().encodeToString((p + "." + hex(hmac(CURSOR_KEY, p + "." + bound)).substring(0, 24)).getBytes(UTF));
    }
    return new Res(200, map("rows", shown(rows.subList(from, to), q, c), "next_mark", next));
  }

  // ------------------------------------------------------------------ bodies
  static Map<String, Object> object(Object b) {
    if (!(b instanceof Map)) { throw invalid(new ArrayList<>(List.of(new Viol("body", "", "type", b, false, "a value of type object")))); }
    @SuppressWarnings("unchecked") Map<String, Object> m = (Map<String, Object>) b; return m;
  }
  static boolean writes(Fd f, Caller c) { return !f.readOnly && !(f.hidden && !c.is("bender")); }
  /** A creation's body, held to its version and carried up. */
  static Map<String, Object> creation(Req q, Caller c, String res, Map<String, Object> bound) {
    Map<String, Object> body = object(q.parsed), up = new LinkedHashMap<>();
    List<Viol> v = new ArrayList<>();
    for (Map.Entry<String, Object> e : body.entrySet()) {
      Fd f = field(res, q.old, e.getKey());
      String path = "/" + pointer(e.getKey());
      if (f == null) { v.add(new Viol("body", path, "unknown", e.getValue(), false, "no such field")); continue; }
      if (!writes(f, c)) continue;
      Object x = check(f, e.getValue(), path, v);
      if (f.bound && e.getValue() instanceof String && !bound.get(f.canon).equals(x)) v.add(new Viol("body", path, "value", e.getValue(), false, "what the path says"));
      if (f.canon != null) up.put(f.canon, x);
    }
    for (Fd f : fields(res, q.old)) if (f.required && writes(f, c) && !f.bound && !f.defaulted && !body.containsKey(f.name)) v.add(new Viol("body", "/" + f.name, "missing", null, true, "a value"));
    if (!v.isEmpty()) throw invalid(v);
    for (Fd f : fields(res, false)) if (f.defaulted && !up.containsKey(f.canon)) up.put(f.canon, f.def);
    up.putAll(bound);
    return up;
  }
  /** A merge patch, held to its version; what it comes to are the fields that it changes (null = taken away). */
  static Map<String, Object> patch(Req q, Caller c, Row row) {
    Map<String, Object> body = object(q.parsed), up = new LinkedHashMap<>();
    List<Viol> v = new ArrayList<>();
    for (Map.Entry<String, Object> e : body.entrySet()) {
      Fd f = field(row.res, q.old, e.getKey());
      String path = "/" + pointer(e.getKey());
      Object x = e.getValue();
      if (f == null) { v.add(new Viol("body", path, "unknown", x, false, "no such field")); continue; }
      if (!writes(f, c)) continue;
      if (x == null) {
        if (f.required) v.add(new Viol("body", path, "value", null, false, "a value"));
        else if (f.canon != null && !(F("null-leaves-note") && f.canon.equals("note"))) up.put(f.canon, null);
        continue;
      }
      if (f.type.equals("contact") && x instanceof Map && !F("contact-replaced")) {
        Map<String, Object> m = new LinkedHashMap<>();
        Object was = row.get(f.canon);
        if (was instanceof Map) for (Map.Entry<?, ?> w : ((Map<?, ?>) was).entrySet()) m.put((String) w.getKey(), w.getValue());
        for (Map.Entry<?, ?> w : ((Map<?, ?>) x).entrySet()) { if (w.getValue() == null && (w.getKey().equals("name") || w.getKey().equals("radio"))) m.remove(w.getKey()); else { m.remove(w.getKey()); m.put((String) w.getKey(), w.getValue()); } }
        x = m;
      }
      int before = v.size();
      Object y = check(f, x, path, v);
      if (f.immutable && v.size() == before && !Objects.equals(y, row.get(f.canon))) v.add(new Viol("body", path, "value", x, false, "what it is"));
      if (f.canon != null) up.put(f.canon, y);
    }
    if (!v.isEmpty()) throw invalid(v);
    return up;
  }
  static boolean apply(Row row, Map<String, Object> up) {
    boolean changed = false;
    for (Map.Entry<String, Object> e : up.entrySet()) {
      if (Objects.equals(row.get(e.getKey()), e.getValue())) continue;
      changed = true;
      if (e.getValue() == null) row.remove(e.getKey()); else row.put(e.getKey(), e.getValue());
    }
    return changed;
  }

  // ------------------------------------------------------------------ tags
  static String tag(Req q, Row r, Caller c) {
    Map<String, Object> m = show(r, c.user, q.old, false);
    if (F("tag-without-count")) m.remove("loans_open");
    return "\"" + sha(q.version + " " + c.user + " " + Json.write(m)).substring(0, 32) + "\"";
  }
  static boolean matches(List<String> fields, String tag, boolean weak) {
    for (String f : fields) for (String t : f.split(",")) { t = t.trim(); if (t.equals("*") || t.equals(tag) || weak && t.startsWith("W/") && t.substring(2).equals(tag)) return true; }
    return false;
  }

  // ------------------------------------------------------------------ idempotency
  static class Kept { String print; Res res; Err err; long until; }
  static final Map<String, Kept> ONCE = new HashMap<>();
  static Res once(Req q, Caller c, String op, boolean required, long now, Supplier<Res> act) {
    List<String> k = q.all("glow-once");
    if (k.size() > 1) throw parameter("header", "Glow-Once", k.get(1), "one value");
    if (k.isEmpty() || k.get(0).isEmpty()) { if (required) throw parameter("header", "Glow-Once", null, "a key"); return act.get(); }
    String key = c.user + " " + c.id + " " + op + " " + k.get(0), print = q.path + "?" + q.rawQuery + " " + q.version + " " + (F("once-without-body") ? "" : new String(q.body, UTF));
    Kept had = ONCE.get(key);
    if (had != null && had.until > now) {
      if (!had.print.equals(print)) throw err(422, "once_reused", "This key was sent with another request.");
      if (had.err != null) throw had.err;
      Res r = new Res(had.res.status, had.res.body); r.headers.putAll(had.res.headers); return r;
    }
    Kept n = new Kept(); n.print = print; n.until = now + 24 * HOUR;
    try { Res r = act.get(); n.res = new Res(r.status, r.body); n.res.headers.putAll(r.headers); ONCE.put(key, n); return r; }
    catch (Err e) { if (e.own) { n.err = e; ONCE.put(key, n); } throw e; }
  }

  // ------------------------------------------------------------------ operations
  static Row readable(String res, String id, Caller c) {
    Row r = row(res, id);
    if (r == null || !mayRead(r, c)) throw missing();
    return r;
  }
  static Res ok(Row r, Req q, Caller c) { return new Res(200, show(r, c.user, q.old, F("secret-shown-again"))); }
  static Res made(Row r, Req q, Caller c, String path) { return new Res(201, show(r, c.user, q.old, true)).h("Location", BASE + path + URLEncoder.encode(idOf(r), UTF)); }
  static Err tooWide() { Err e = err(422, "wide_and_long", "Signs wider than three metres are lent for thirty days at the most."); e.own = true; return e; }
  static boolean tooWide(long days, Row sign) { return days > 30 && sign.n("width_cm") > 300; }
  static void uniqueTitle(Object title, Row but) { for (Row s : ROWS.get("sign").values()) if (s != but && s.get("title").equals(title)) throw err(409, "taken", "There is one of this title."); }

  static Res transition(String what, Req q, Caller c, long now) {
    if (what.equals("bench") || what.equals("mend") || what.equals("scrap")) {
      Row s = readable("sign", q.pathParams.get("id"), c);
      String st = s.s("state");
      if (what.equals("bench")) { if (!st.equals("shelved")) throw state(); moveSign(s, "repair", now); }
      else if (what.equals("mend")) { if (!st.equals("repair")) throw state(); moveSign(s, "shelved", now); }
      else {
        if (!st.equals("shelved") && !st.equals("repair")) throw state();
        boolean open = loansOpen(s) > 0;
        if (F("scrap-reserved")) { open = false; for (Row l : LOANS_OF_SIGN.getOrDefault(idOf(s), List.of())) if (l.get("status").equals("out")) open = true; }
        if (open) throw busySign();
        moveSign(s, "scrapped", now);
        emit("sign.scrapped", s, map("sign", s.get("id"), "title", s.get("title")), now, c);
      }
      return ok(s, q, c);
    }
    Row l = readable("loan", q.pathParams.get("code"), c);
    if ((what.equals("cancel") || what.equals("extend")) && !c.id.equals(l.get("borrower")) && !(F("cancel-by-house") && what.equals("cancel"))) throw notYours();
    String st = l.s("status");
    Row sign = signOf(l);
    switch (what) {
      case "approve":
        if (!st.equals("asked")) throw state();
        if (!sign.get("state").equals("shelved") || loansOpen(sign) != 0) throw busySign();
        moveLoan(l, "reserved", now, c, false); break;
      case "hand_over":
        if (!st.equals("reserved")) throw state();
        if (!sign.get("state").equals("shelved")) throw busySign();
        l.due = now + l.n("days") * DAY; l.put("due_at", iso(l.due));
        moveLoan(l, "out", now, c, false);
        moveSign(sign, "lent", now); break;
      case "take_back":
        if (!st.equals("out") && (!st.equals("overdue") || F("overdue-not-back"))) throw state();
        if (!sign.get("state").equals("lent")) throw busySign();
        moveLoan(l, "back", now, c, false);
        moveSign(sign, "shelved", now); break;
      case "cancel": {
        Map<String, Object> b = object(q.parsed);
        List<Viol> v = new ArrayList<>();
        if (!b.containsKey("reason")) v.add(new Viol("body", "/reason", "missing", null, true, "a value")); else check(fd("reason", "string").len(3, 120), b.get("reason"), "/reason", v);
        if (!v.isEmpty()) throw invalid(v);
        if (!st.equals("asked") && !st.equals("reserved") && !(F("cancel-when-out") && st.equals("out"))) { Err e = err(409, "too_late", "It has left the yard or is over."); e.own = true; throw e; }
        l.put("why", b.get("reason"));
        moveLoan(l, "cancelled", now, c, false); break;
      }
      case "extend":
        if (!st.equals("out")) throw state();
        if (l.n("extended") >= (F("extended-thrice") ? 3 : 2)) throw state();
        l.put("extended", l.n("extended") + 1);
        l.due += 48 * HOUR; l.put("due_at", iso(l.due)); l.put("changed_at", iso(now));
        l.epoch++;
        dueTimers(l);
        emit("loan.extended", l, l, now, c); break;
    }
    return ok(l, q, c);
  }

  static void routes() {
    on("GET", "/quote", "handler quote", "", "width_cm days", (q, c, now) -> {
      Long w = intParam(q, "width_cm", 10, 600), d = intParam(q, "days", 1, 60);
      if (w == null) throw parameter("query", "width_cm", null, "a value");
      if (d == null) d = 1L;
      return new Res(200, map("fee", (500 + w * 4) * d, "days", d));
    }).open = true;

    on("POST", "/signs", "create sign", "json", "", (q, c, now) -> {
      Map<String, Object> b = creation(q, c, "sign", Map.of());
      uniqueTitle(b.get("title"), null);
      Row s = new Row("sign");
      s.put("id", ++signIds); s.putAll(b); s.put("state", "shelved"); s.put("house", c.house); s.put("created_at", iso(now)); s.put("changed_at", iso(now));
      store(s);
      return made(s, q, c, "/signs/");
    });
    on("GET", "/signs", "list sign", "", "colour state min_width has_text sort skip take", (q, c, now) -> {
      String colour = enumParam(q, "colour", field("sign", false, "colour").of), state = enumParam(q, "state", List.of(SIGN_STATES)), text = textParam(q, "has_text", 1, 40), sort = enumParam(q, "sort", List.of("width_cm", "-width_cm"));
      Long min = intParam(q, "min_width", 10, 600);
      long size = pageSize(q, 10, 50, true);
      String sk = param(q, "skip");
      if (sk != null && !sk.matches("0|[1-9][0-9]*")) throw badPage("skip", sk, "a whole number from 0");
      long skip = sk == null ? 0 : sk.length() > 15 ? Long.MAX_VALUE / 4 : Long.parseLong(sk);
      List<Row> l = new ArrayList<>(); long total = 0;
      for (Row s : ROWS.get("sign").values()) {
        if (colour != null && !s.get("colour").equals(colour) || state != null && !s.get("state").equals(state)) continue;
        if (min != null && (F("min-width-above") ? s.n("width_cm") <= min : s.n("width_cm") < min)) continue;
        if (text != null && !s.s("title").contains(text)) continue;
        if (!mayRead(s, c.user, c.id, c.house, true)) continue;
        total++;
        l.add(s);
      }
      if (sort != null) l.sort((a, b) -> { int d = Long.compare(a.n("width_cm"), b.n("width_cm")); if (sort.startsWith("-")) d = -d; return d != 0 ? d : Long.compare(a.seq, b.seq); });
      int from = (int) Math.min(skip, l.size()), to = (int) Math.min(l.size(), from + size);
      return new Res(200, map("signs", shown(l.subList(from, to), q, c), "total", total, "more", to < l.size()));
    });
    on("GET", "/signs/{id}", "read sign", "", "", (q, c, now) -> {
      Row s = readable("sign", q.pathParams.get("id"), c);
      String t = tag(q, s, c);
      if (matches(q.all("if-none-match"), t, true)) return new Res(304, null).h("ETag", t);
      return ok(s, q, c).h("ETag", t);
    });
    on("PATCH", "/signs/{id}", "update sign", "patch", "", (q, c, now) -> {
      Row s = readable("sign", q.pathParams.get("id"), c);
      if (q.all("if-match").isEmpty()) throw err(428, "tag_missing", "Send If-Match.");
      if (!matches(q.all("if-match"), tag(q, s, c), false)) throw err(412, "tag_stale", "It has changed meanwhile.");
      Map<String, Object> b = patch(q, c, s);
      if (s.get("state").equals("scrapped")) throw state();
      if (b.containsKey("title") && !F("title-clash-on-update")) uniqueTitle(b.get("title"), s);
      Object was = s.get("day_rate");
      boolean changed = apply(s, b);
      if (changed || F("stamp-without-change")) s.put("changed_at", iso(now));
      if (changed && (!was.equals(s.get("day_rate")) || F("repriced-always"))) emit("sign.repriced", s, map("sign", s.get("id"), "was", was, "is", s.get("day_rate")), now, c);
      return ok(s, q, c);
    });
    for (String t : List.of("bench", "mend", "scrap")) if (!(F("mend-not-wired") && t.equals("mend"))) on("POST", "/signs/{id}/" + t, t + " sign", "", "", (q, c, now) -> transition(t, q, c, now));

    on("POST", "/stages", "create stage", "json", "", (q, c, now) -> {
      Map<String, Object> b = creation(q, c, "stage", Map.of());
      if (row("stage", (String) b.get("slug")) != null) throw err(409, "taken", "There is one of this slug.");
      Row s = new Row("stage");
      s.putAll(b); s.put("owner", c.id); s.put("house", c.house); s.put("created_at", iso(now));
      store(s);
      return made(s, q, c, "/stages/");
    });
    on("GET", "/stages", "list stage", "", "city mark take", (q, c, now) -> {
      String city = textParam(q, "city", 2, 40);
      List<Row> l = new ArrayList<>();
      for (Row s : ROWS.get("stage").values()) if (mayRead(s, c) && (city == null || s.get("city").equals(city))) l.add(s);
      return cursorPage(q, c, "list stage", "city=" + city, l, false);
    });
    on("GET", "/stages/{slug}", "read stage", "", "", (q, c, now) -> ok(readable("stage", q.pathParams.get("slug"), c), q, c));
    on("PATCH", "/stages/{slug}", "update stage", "patch", "", (q, c, now) -> {
      Row s = readable("stage", q.pathParams.get("slug"), c);
      if (!c.id.equals(s.get("owner"))) throw notYours();
      apply(s, patch(q, c, s));
      return ok(s, q, c);
    });
    on("DELETE", "/stages/{slug}", "delete stage", "", "", (q, c, now) -> {
      Row s = readable("stage", q.pathParams.get("slug"), c);
      if (!c.id.equals(s.get("owner"))) throw notYours();
      if (!LOANS_OF_STAGE.getOrDefault(idOf(s), List.of()).isEmpty()) {
        boolean held = true;
        if (F("held-by-open-only")) { held = false; for (Row l : LOANS_OF_STAGE.get(idOf(s))) if (List.of("asked", "reserved", "out", "overdue").contains(l.get("status"))) held = true; }
        if (held) throw err(409, "still_lent", "There are loans for it.");
      }
      emit("stage.struck", s, s, now, c);
      if (!F("struck-stage-stays")) ROWS.get("stage").remove(idOf(s));
      return new Res(204, null);
    });

    on("POST", "/stages/{stage}/loans", "create loan", "json", "", (q, c, now) -> once(q, c, "create loan", false, now, () -> {
      String slug = q.pathParams.get("stage");
      Row stage = row("stage", slug);
      if (stage == null || !mayRead(stage, c) && !F("stage-of-another-house")) throw missing();
      Map<String, Object> b = creation(q, c, "loan", map("stage", slug));
      Row sign = row("sign", String.valueOf(b.get("sign")));
      if (sign == null || !mayRead(sign, c)) throw err(F("no-sign-as-404") ? 404 : 422, "no_such_thing", "There is no such sign.");
      if (tooWide((Long) b.get("days"), sign)) throw tooWide();
      Row l = new Row("loan");
      String code; do code = "LN-" + random(8, UPPER); while (row("loan", code) != null);
      l.put("code", code); l.put("number", NUMBERS.merge(F("number-over-all") ? "" : slug, 1L, Long::sum)); l.putAll(b);
      l.put("borrower", c.id); l.put("house", c.house); l.put("fee", sign.n("day_rate") * l.n("days")); l.put("extended", 0L); l.put("status", "asked"); l.put("asked_at", iso(now)); l.put("changed_at", iso(now)); l.ms = now;
      store(l);
      LOANS_OF_SIGN.computeIfAbsent(idOf(sign), k -> new ArrayList<>()).add(l);
      LOANS_OF_STAGE.computeIfAbsent(slug, k -> new ArrayList<>()).add(l);
      timer("lapse", l, now + 2 * DAY);
      emit("loan.asked", l, l, now, c);
      return made(l, q, c, "/loans/");
    }));
    on("GET", "/loans", "list loan", "", "status mark take", (q, c, now) -> {
      List<String> states = new ArrayList<>(List.of(LOAN_STATES));
      if (q.old && !F("old-filter-by-new-word")) states.set(0, "requested");
      String st = enumParam(q, "status", states);
      if ("requested".equals(st)) st = "asked";
      Long days = intParam(q, q.old ? "nights" : "days", 1, 60);
      List<Row> l = new ArrayList<>();
      for (Row r : ROWS.get("loan").values()) if (mayRead(r, c) && (st == null || r.get("status").equals(st)) && (days == null || r.get("days").equals(days))) l.add(r);
      return cursorPage(q, c, "list loan", "status=" + st + "&days=" + days, l, !F("oldest-loans-first"));
    });
    on("GET", "/loans/{code}", "read loan", "", "", (q, c, now) -> ok(readable("loan", q.pathParams.get("code"), c), q, c));
    on("PATCH", "/loans/{code}", "update loan", "patch", "", (q, c, now) -> {
      Row l = readable("loan", q.pathParams.get("code"), c);
      if (c.is("propmaster") && !c.id.equals(l.get("borrower"))) throw notYours();
      Map<String, Object> b = patch(q, c, l);
      if (!l.get("status").equals("asked") && !l.get("status").equals("reserved")) throw state();
      long days = b.get("days") == null ? l.n("days") : (Long) b.get("days");
      if (tooWide(days, signOf(l)) && !F("wide-on-update")) throw tooWide();
      if (!F("fee-not-renewed")) b.put("fee", signOf(l).n("day_rate") * days);
      if (apply(l, b)) {
        l.put("changed_at", iso(now));
        if (F("lapse-from-last-change") && l.get("status").equals("asked")) { l.epoch++; timer("lapse", l, now + 2 * DAY); }
      }
      return ok(l, q, c);
    });
    for (String t : List.of("approve", "hand_over", "take_back", "cancel", "extend"))
      on("POST", "/loans/{code}/" + t.replace('_', '-'), t + " loan", t.equals("cancel") ? "json" : "", "", (q, c, now) -> transition(t, q, c, now)).newOnly = t.equals("extend");

    on("POST", "/loans/{loan}/mishaps", "create mishap", "json", "", (q, c, now) -> once(q, c, "create mishap", true, now, () -> {
      String window = F("quota-never-anew") ? "" : LocalDate.ofInstant(Instant.ofEpochMilli(now), ZoneId.of("Europe/London")).toString();
      String counter = c.user + " " + c.id + " " + window;
      int used = QUOTA.getOrDefault(counter, 0);
      if (F("refused-uses-quota") && c.is("propmaster")) QUOTA.put(counter, used + 1);
      Row l = readable("loan", q.pathParams.get("loan"), c);
      Map<String, Object> b = creation(q, c, "mishap", map("loan", l.get("code")));
      if (List.of("asked", "cancelled", "lapsed").contains(l.get("status"))) { Err e = err(409, "not_lent_yet", "Nothing can have happened to it."); e.own = true; throw e; }
      List<Row> of = MISHAPS_OF_LOAN.computeIfAbsent(idOf(l), k -> new ArrayList<>());
      if (c.is("propmaster") && used >= 8) {
        long end = LocalDate.ofInstant(Instant.ofEpochMilli(now), ZoneId.of("Europe/London")).plusDays(1).atStartOfDay(ZoneId.of("Europe/London")).toInstant().toEpochMilli();
        throw err(429, "used_up", "No more mishaps today.").header("Retry-After", String.valueOf((end - now + 999) / 1000));
      }
      if (of.size() >= 5) throw err(429, "used_up", "No more mishaps of one loan.");
      Row m = new Row("mishap");
      m.put("id", "mh_" + random(12, HEX)); m.putAll(b); m.put("house", l.get("house")); m.put("reported_by", c.id); m.put("reported_at", iso(now));
      store(m); of.add(m);
      if (c.is("propmaster")) QUOTA.put(counter, used + 1);
      emit("mishap.told", m, m, now, c);
      return made(m, q, c, "/mishaps/");
    }));
    on("GET", "/loans/{loan}/mishaps", "list mishap", "", "kind mark take", (q, c, now) -> {
      String kind = enumParam(q, "kind", field("mishap", false, "kind").of);
      pageSize(q, 20, 100, false);
      Row l = readable("loan", q.pathParams.get("loan"), c);
      List<Row> o = new ArrayList<>();
      for (Row m : MISHAPS_OF_LOAN.getOrDefault(idOf(l), List.of())) if (mayRead(m, c) && (kind == null || m.get("kind").equals(kind))) o.add(m);
      return cursorPage(q, c, "list mishap", idOf(l) + "&kind=" + kind, o, false);
    });
    on("GET", "/mishaps/{id}", "read mishap", "", "", (q, c, now) -> ok(readable("mishap", q.pathParams.get("id"), c), q, c));

    on("POST", "/hooks", "create hook", "json", "", (q, c, now) -> {
      Map<String, Object> b = creation(q, c, "hook", Map.of());
      int n = 0;
      for (Row h : ROWS.get("hook").values()) if (c.id.equals(h.get("owner"))) { if (h.get("url").equals(b.get("url"))) throw err(409, "taken", "You have a hook of this address."); n++; }
      if (F("deleted-hooks-count")) n = HOOKS_MADE.getOrDefault(c.id, 0);
      if (n >= 4) throw err(429, "used_up", "Four hooks at the most.");
      HOOKS_MADE.merge(c.id, 1, Integer::sum);
      Row h = new Row("hook");
      h.put("id", "hk_" + random(12, WORD)); h.put("owner", c.id); h.putAll(b); h.put("secret", "shh_" + random(40, WORD)); h.old = q.old; h.user = c.user; h.ownerHouse = c.house;
      store(h);
      return made(h, q, c, "/hooks/");
    });
    on("GET", "/hooks", "list hook", "", "", (q, c, now) -> {
      List<Row> l = new ArrayList<>();
      for (Row h : ROWS.get("hook").values()) if (mayRead(h, c)) l.add(h);
      return new Res(200, map("hooks", shown(l, q, c)));
    });
    on("GET", "/hooks/{id}", "read hook", "", "", (q, c, now) -> ok(readable("hook", q.pathParams.get("id"), c), q, c));
    on("PATCH", "/hooks/{id}", "update hook", "patch", "", (q, c, now) -> {
      Row h = readable("hook", q.pathParams.get("id"), c);
      Map<String, Object> b = patch(q, c, h);
      if (b.get("url") != null) for (Row o : ROWS.get("hook").values()) if (o != h && o.get("owner").equals(h.get("owner")) && o.get("url").equals(b.get("url"))) throw err(409, "taken", "You have a hook of this address.");
      boolean was = (Boolean) h.get("active");
      apply(h, b);
      if (was && !(Boolean) h.get("active")) giveUp(h);
      if (!was && (Boolean) h.get("active")) h.failingSince = -1;
      return ok(h, q, c);
    });
    on("DELETE", "/hooks/{id}", "delete hook", "", "", (q, c, now) -> {
      Row h = row("hook", q.pathParams.get("id"));
      if (h == null || !mayRead(h, c) && !(F("hook-of-another-deleted") && h.user.equals(c.user))) throw missing();
      ROWS.get("hook").remove(idOf(h)); giveUp(h);
      return new Res(204, null);
    });

    on("GET", "/log", "list entry", "", "kind about mark take", (q, c, now) -> {
      String kind = param(q, "kind"), about = param(q, "about");
      List<Row> l = new ArrayList<>();
      for (Row e : ROWS.get("entry").values()) if (mayRead(e, c) && (kind == null || e.get("kind").equals(kind)) && (about == null || e.get("about").equals(about))) l.add(e);
      return cursorPage(q, c, "list entry", Json.write(map("kind", kind, "about", about)), l, false);
    });
    on("GET", "/log/{id}", "read entry", "", "", (q, c, now) -> ok(readable("entry", q.pathParams.get("id"), c), q, c));
  }
  static final Map<String, Integer> HOOKS_MADE = new HashMap<>();

  // ------------------------------------------------------------------ the clock door
  static Res door(Req q) {
    if (q.method.equals("GET")) return new Res(200, map("now", iso(now())));
    if (!q.method.equals("POST")) return new Res(400, map("error", "GET or POST"));
    synchronized (LOCK) {
      long from = now(), to;
      try {
        Object b = Json.parse(new String(q.body, UTF));
        if (!(b instanceof Map)) throw new Bad("no map");
        Map<?, ?> m = (Map<?, ?>) b;
        if (m.size() == 1 && m.get("advance") instanceof String) to = plus(from, (String) m.get("advance"));
        else if (m.size() == 1 && m.get("now") instanceof String) to = OffsetDateTime.parse((String) m.get("now")).toInstant().toEpochMilli();
        else throw new Bad("advance or now");
      } catch (Bad | DateTimeException | ArithmeticException | IllegalArgumentException e) { return new Res(400, map("error", "Send {\"advance\": \"PT1H\"} or {\"now\": \"2027-01-01T00:00:00Z\"}.")); }
      if (to < from) return new Res(422, map("error", "That time has passed."));
      if (to > 253370764800000L) return new Res(400, map("error", "That is too far."));
      offset += to - from;
      tick(now());
      return new Res(200, map("now", iso(now())));
    }
  }
  static final Pattern DURATION = Pattern.compile("(-?)P(?:(\\d+)Y)?(?:(\\d+)M)?(?:(\\d+)W)?(?:(\\d+)D)?(?:T(?:(\\d+)H)?(?:(\\d+)M)?(?:(\\d+)(?:[.,](\\d{1,9}))?S)?)?");
  static long plus(long from, String d) {
    var m = DURATION.matcher(d);
    if (!m.matches() || d.endsWith("P") || d.endsWith("T")) throw new Bad("no duration");
    long s = m.group(1).isEmpty() ? 1 : -1;
    ZonedDateTime z = Instant.ofEpochMilli(from).atZone(ZoneOffset.UTC);
    z = z.plusYears(s * part(m.group(2))).plusMonths(s * part(m.group(3))).plusWeeks(s * part(m.group(4))).plusDays(s * part(m.group(5))).plusHours(s * part(m.group(6))).plusMinutes(s * part(m.group(7))).plusSeconds(s * part(m.group(8)));
    if (m.group(9) != null) z = z.plusNanos(s * Long.parseLong((m.group(9) + "000000000").substring(0, 9)));
    return z.toInstant().toEpochMilli();
  }
  static long part(String s) { return s == null ? 0 : s.length() > 9 ? 999999999L : Long.parseLong(s); }

  // ------------------------------------------------------------------ HTTP
  static class Late extends IOException { }
  static class Conn implements Runnable {
    final Socket sock; final Function<Req, Res> handler; InputStream in; OutputStream out; final byte[] buf = new byte[16384]; int at = 0, end = 0; long deadline;
    Conn(Socket s, Function<Req, Res> h) { sock = s; handler = h; }
    int read() throws IOException { if (at == end) { fill(); if (end < 0) return -1; } return buf[at++] & 255; }
    void fill() throws IOException {
      long left = deadline - System.currentTimeMillis();
      if (left <= 0) throw new Late();
      sock.setSoTimeout((int) left);
      try { at = 0; end = in.read(buf); } catch (SocketTimeoutException e) { end = 0; throw new Late(); }
    }
    String line(int[] room) throws IOException {
      ByteArrayOutputStream b = new ByteArrayOutputStream(64);
      while (true) {
        int c = read();
        if (c < 0) return null;
        if (--room[0] < 0) throw new EOFException();
        if (c == '\n') { byte[] r = b.toByteArray(); int n = r.length; if (n > 0 && r[n - 1] == '\r') n--; return new String(r, 0, n, StandardCharsets.ISO_8859_1); }
        b.write(c);
      }
    }
    public void run() {
      try (Socket s = sock) {
        s.setTcpNoDelay(true);
        in = s.getInputStream(); out = s.getOutputStream();
        while (true) {
          if (at == end) { deadline = System.currentTimeMillis() + 60000; try { fill(); } catch (Late e) { return; } if (end < 0) return; }
          deadline = System.currentTimeMillis() + 10000;
          Req q = new Req(); q.address = s.getInetAddress().getHostAddress();
          try { if (!request(q)) return; }
          catch (Late e) {
            q.keep = false; if (q.method == null) { q.method = "GET"; q.target = "/"; q.path = "/"; }
            Req p = q;
            Map<String, Object> b = map("type", "about:blank", "title", PHRASE.get(408), "status", 408L, "detail", "It took too long to arrive.", "code", "too_slow", "request_id", p.id);
            Res r = new Res(408, b); r.type = "application/problem+json"; r.h("Glow-Trace", q.id).h("Glow-Version", NEW);
            write(q, r); return;
          }
          Res r = handler.apply(q);
          write(q, r);
          if (!q.keep) return;
        }
      } catch (IOException e) { /* gone */ } catch (RuntimeException e) { e.printStackTrace(); }
    }
    boolean request(Req q) throws IOException {
      int[] room = { 1 << 20 };
      String l;
      do { l = line(room); if (l == null) return false; } while (l.isEmpty());
      String[] p = l.split(" ");
      if (p.length != 3 || !p[2].startsWith("HTTP/1.")) { q.syntax = true; q.keep = false; q.method = "GET"; q.target = "/"; q.path = "/"; return true; }
      q.method = p[0]; q.target = p[1];
      if (q.target.regionMatches(true, 0, "http://", 0, 7)) { int k = q.target.indexOf('/', 7); q.target = k < 0 ? "/" : q.target.substring(k); }
      q.urlTooLarge = q.target.length() > 2048;
      int k = q.target.indexOf('#'); String t = k < 0 ? q.target : q.target.substring(0, k);
      k = t.indexOf('?'); q.path = k < 0 ? t : t.substring(0, k); q.rawQuery = k < 0 ? null : t.substring(k + 1);
      q.head = q.method.equals("HEAD"); if (p[2].equals("HTTP/1.0")) q.keep = false;
      int size = 0;
      while (true) {
        l = line(room);
        if (l == null) return false;
        if (l.isEmpty()) break;
        int c = l.indexOf(':');
        if (c <= 0) { q.syntax = true; q.keep = false; continue; }
        String n = l.substring(0, c).trim(), v = l.substring(c + 1).trim();
        size += n.length() + 2 + v.length() + 2;
        q.headers.computeIfAbsent(n.toLowerCase(Locale.ROOT), x -> new ArrayList<>()).add(v);
      }
      q.headersTooLarge = size > 8192;
      String conn = q.one("connection");
      if (conn != null && conn.toLowerCase(Locale.ROOT).contains("close")) q.keep = false;
      String te = q.one("transfer-encoding"), cl = q.one("content-length");
      if ("100-continue".equalsIgnoreCase(q.one("expect"))) { out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(UTF)); out.flush(); }
      ByteArrayOutputStream b = new ByteArrayOutputStream();
      long total = 0;
      if (te != null) {
        if (!te.equalsIgnoreCase("chunked")) { q.syntax = true; q.keep = false; return true; }
        while (true) {
          String h = line(room); if (h == null) return false;
          int sc = h.indexOf(';'); String hx = (sc < 0 ? h : h.substring(0, sc)).trim();
          if (!hx.matches("[0-9a-fA-F]{1,8}")) { q.syntax = true; q.keep = false; return true; }
          long n = Long.parseLong(hx, 16);
          if (n == 0) { while ((h = line(room)) != null && !h.isEmpty()) { } break; }
          total += n;
          if (!take(b, n, total)) return over(q);
          line(room);
        }
      } else if (cl != null) {
        if (!cl.matches("[0-9]{1,12}")) { q.syntax = true; q.keep = false; return true; }
        total = Long.parseLong(cl);
        if (!take(b, total, total)) return over(q);
      }
      q.bodyTooLarge = total > 16384;
      q.body = b.toByteArray();
      return true;
    }
    boolean over(Req q) { q.bodyTooLarge = true; q.keep = false; q.body = new byte[65536]; return true; }
    boolean take(ByteArrayOutputStream b, long n, long total) throws IOException {
      if (total > (16 << 20)) return false;
      while (n > 0) {
        if (at == end) { fill(); if (end < 0) throw new EOFException(); }
        int m = (int) Math.min(n, end - at);
        if (b.size() < 65536) b.write(buf, at, m);
        at += m; n -= m;
      }
      return true;
    }
    void write(Req q, Res r) throws IOException {
      byte[] body = r.body == null ? new byte[0] : Json.write(r.body).getBytes(UTF);
      StringBuilder h = new StringBuilder("HTTP/1.1 ").append(r.status).append(' ').append(PHRASE.getOrDefault(r.status, "OK")).append("\r\n");
      h.append("Date: ").append(DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.now(ZoneOffset.UTC)).replaceFirst(", ([0-9]) ", ", 0$1 ")).append("\r\n");
      for (Map.Entry<String, String> e : r.headers.entrySet()) h.append(e.getKey()).append(": ").append(e.getValue().replaceAll("[\\r\\n]", " ")).append("\r\n");
      for (String c : r.challenges) h.append("WWW-Authenticate: ").append(c).append("\r\n");
      if (r.body != null) h.append("Content-Type: ").append(r.type).append("\r\n");
      if (r.status != 204 && r.status != 304) h.append("Content-Length: ").append(body.length).append("\r\n");
      if (!q.keep) h.append("Connection: close\r\n");
      h.append("\r\n");
      ByteArrayOutputStream o = new ByteArrayOutputStream(h.length() + body.length);
      o.write(h.toString().getBytes(StandardCharsets.ISO_8859_1));
      if (!q.head && r.status != 204 && r.status != 304) o.write(body);
      o.writeTo(out); out.flush();
    }
  }
  static void listen(int port, Function<Req, Res> handler, ExecutorService pool) throws IOException {
    ServerSocket s = new ServerSocket();
    s.setReuseAddress(true);
    s.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), 512);
    Thread t = new Thread(() -> { while (true) try { pool.execute(new Conn(s.accept(), handler)); } catch (IOException e) { return; } });
    t.start();
  }
  public static void main(String[] args) throws Exception {
    int port = 20100, clock = 20101;
    for (int k = 0; k + 1 < args.length; k += 2) { if (args[k].equals("--port")) port = Integer.parseInt(args[k + 1]); if (args[k].equals("--clock-port")) clock = Integer.parseInt(args[k + 1]); if (args[k].equals("--fault")) fault = args[k + 1]; }
    routes();
    ExecutorService pool = Executors.newCachedThreadPool();
    Thread ticker = new Thread(() -> { while (true) { try { Thread.sleep(25); synchronized (LOCK) { tick(now()); } } catch (InterruptedException e) { return; } catch (RuntimeException e) { e.printStackTrace(); } } });
    ticker.setDaemon(true); ticker.start();
    listen(clock, service::door, pool);
    listen(port, service::answer, pool);
    System.out.println("listening on 127.0.0.1:" + port + ", clock on " + clock);
  }
}
