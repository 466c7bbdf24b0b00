// Ropewalk: a service in one file, on plain sockets. java service.java --port N --clock-port M [--fault ID]
import java.io.*;
import java.net.*;
import java.nio.charset.*;
import java.security.*;
import java.time.*;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.*;
import java.util.function.*;
import java.util.regex.*;
import java.util.stream.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
class Service {
  static String fault = "";
  static boolean f(String id) { return fault.equals(id); }
  static final Object LOCK = new Object();
  static final String BASE = "/rw";
  // ---------- JSON
  static final class Json {
    final String s; int i = 0;
    Json(String s) { this.s = s; }
    static Object read(String s) { Json j = new Json(s); Object v = j.value(0); j.ws(); if (j.i < s.length()) throw bad(); return v; }
    static RuntimeException bad() { return new IllegalArgumentException("json"); }
    void ws() { while (i < s.length() && " \t\r\n".indexOf(s.charAt(i)) >= 0) i++; }
    char at() { if (i >= s.length()) throw bad(); return s.charAt(i); }
    Object value(int d) {
      if (d > 60) throw bad();
      ws(); char c = at();
      if (c == '{') {
        Map<String, Object> m = new LinkedHashMap<>(); i++; ws();
        if (at() == '}') { i++; return m; }
        while (true) { ws(); if (at() != '"') throw bad();
          String k = str(); ws(); if (at() != ':') throw bad(); i++;
          m.put(k, value(d + 1)); ws();
          if (at() == ',') { i++; continue; }
          if (at() == '}') { i++; return m; }
          throw bad();
        }
      }
      if (c == '[') {
        List<Object> l = new ArrayList<>(); i++; ws();
        if (at() == ']') { i++; return l; }
        while (true) {
          l.add(value(d + 1)); ws();
          if (at() == ',') { i++; continue; }
          if (at() == ']') { i++; return l; }
          throw bad();
        }
      }
      if (c == '"') return str();
      for (String w : List.of("true", "false", "null")) if (s.startsWith(w, i)) { i += w.length(); return w.equals("null") ? null : (Object) w.equals("true"); }
      Matcher m = Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?").matcher(s).region(i, s.length());
      if (!m.lookingAt()) throw bad();
      i = m.end();
      if (m.group(2) == null && m.group(3) == null) try { return Long.parseLong(m.group()); } catch (NumberFormatException e) { }
      return Double.parseDouble(m.group());
    }
    String str() {
      StringBuilder b = new StringBuilder(); i++;
      while (true) {
        char c = at(); i++;
        if (c == '"') return b.toString();
        if (c < 0x20) throw bad();
        if (c != '\\') { b.append(c); continue; }
        c = at(); i++;
        int k = "\"\\/bfnrt".indexOf(c);
        if (k >= 0) b.append("\"\\/\b\f\n\r\t".charAt(k));
        else if (c == 'u' && i + 4 <= s.length()) { b.append((char) Integer.parseInt(s.substring(i, i + 4), 16)); i += 4; }
        else throw bad();
      }
    }
    static String write(Object o) { StringBuilder b = new StringBuilder(); write(o, b); return b.toString(); }
    static void write(Object o, StringBuilder b) {
      if (o instanceof String s) {
        b.append('"');
        for (char c : s.toCharArray()) {
          if (c == '"' || c == '\\') b.append('\\').append(c);
          else if (c < 0x20 || Character.isSurrogate(c)) b.append(String.format("\\u%04x", (int) c));
          else b.append(c);
        }
        b.append('"');
      } else if (o instanceof Map<?, ?> m) {
        b.append('{'); String sep = "";
        for (var e : m.entrySet()) { b.append(sep); write(e.getKey(), b); b.append(':'); write(e.getValue(), b); sep = ","; }
        b.append('}');
      } else if (o instanceof List<?> l) {
        b.append('['); String sep = "";
        for (Object x : l) { b.append(sep); write(x, b); sep = ","; }
        b.append(']');
      } else if (o instanceof Double d && d == Math.rint(d) && Math.abs(d) < 1e15) b.append((long) (double) d);
      else b.append(o);
    }
  }
  static Map<String, Object> map(Object... kv) {
    Map<String, Object> m = new LinkedHashMap<>();
    for (int i = 0; i < kv.length; i += 2) m.put((String) kv[i], kv[i + 1]);
    return m;
  }
  static boolean same(Object a, Object b) {
    if (a instanceof Number x && b instanceof Number y) return x.doubleValue() == y.doubleValue();
    if (a instanceof Map<?, ?> x && b instanceof Map<?, ?> y) return x.keySet().equals(y.keySet()) && x.keySet().stream().allMatch(k -> same(x.get(k), y.get(k)));
    return Objects.equals(a, b);
  }
  // ---------- the clock
  static long offset = 0;
  static long now() { return System.currentTimeMillis() + offset; }
  static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
  static final DateTimeFormatter HTTP_DATE = DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US).withZone(ZoneOffset.UTC);
  static String http(long ms) { return HTTP_DATE.format(Instant.ofEpochMilli(ms)); }
  static String iso(long ms) { return STAMP.format(Instant.ofEpochMilli(ms)); }
  static final long SEC = 1000, MIN = 60 * SEC, HOUR = 60 * MIN, DAY = 24 * HOUR;
  static Resp clock(Req q) {
    if (q.method.equals("GET")) return new Resp(200, map("now", iso(now())));
    if (!q.method.equals("POST")) return new Resp(400, map());
    long to;
    synchronized (LOCK) {
      try {
        Map<?, ?> m = (Map<?, ?>) Json.read(new String(q.body, StandardCharsets.UTF_8));
        if (m.get("advance") instanceof String d) {
          Matcher k = Pattern.compile("P(?:(\\d+)Y)?(?:(\\d+)M)?(?:(\\d+)W)?(?:(\\d+)D)?(?:T(?:(\\d+)H)?(?:(\\d+)M)?(?:(\\d+(?:\\.\\d+)?)S)?)?").matcher(d);
          if (!k.matches() || d.endsWith("P") || d.endsWith("T")) return new Resp(400, map());
          long[] n = new long[7];
          for (int i = 1; i < 7; i++) n[i] = k.group(i) == null ? 0 : Long.parseLong(k.group(i));
          ZonedDateTime t = Instant.ofEpochMilli(now()).atZone(ZoneOffset.UTC).plusYears(n[1]).plusMonths(n[2]).plusWeeks(n[3]).plusDays(n[4]).plusHours(n[5]).plusMinutes(n[6]);
          to = t.toInstant().toEpochMilli() + (k.group(7) == null ? 0 : Math.round(Double.parseDouble(k.group(7)) * 1000));
        } else to = OffsetDateTime.parse((String) m.get("now")).toInstant().toEpochMilli();
      } catch (RuntimeException e) { return new Resp(400, map()); }
      if (to < now()) return new Resp(422, map());
      offset = to - System.currentTimeMillis();
      tick();
      return new Resp(200, map("now", iso(now())));
    }
  }
  // ---------- resources
  static final class Fd {
    String name, old, type; Double min, max, over; int minLen = 0, maxLen = 1 << 20; Pattern pattern; List<?> values; Object def;
    boolean req, ro, imm, since2, gone; Set<String> visible, writable;
    Fd(String name, String type) { this.name = old = name; this.type = type; }
    Fd req() { req = true; return this; } Fd ro() { ro = true; return this; } Fd imm() { imm = true; return this; } Fd num(double a, double b) { min = a; max = b; return this; }
    Fd len(int a, int b) { minLen = a; maxLen = b; return this; } Fd of(Object... v) { values = List.of(v); return this; } Fd def(Object d) { def = d; return this; }
    Fd visible(String... u) { visible = Set.of(u); return this; } Fd old(String n) { old = n; return this; } String in(int v) { return v == 1 ? old : name; }
  }
  static Fd fd(String n, String t) { return new Fd(n, t); }
  static final Map<String, List<Fd>> SPEC = new LinkedHashMap<>();
  static final List<String> STAGES = List.of("sketched", "placed", "laying", "laid", "fetched", "scrapped", "lapsed");
  static final List<String> KINDS = List.of("order.placed", "order.laid", "order.ended", "order.rejected", "order.resized", "order.withdrawn", "proof.recorded", "yarn.low");
  static void specs() {
    Fd mark = fd("mark", "str").req().imm(); mark.pattern = Pattern.compile("^[a-z]{3}-[0-9]{1,3}$");
    SPEC.put("yarn", List.of(mark, fd("label", "str").req().len(3, 60), fd("fibre", "str").req().of("manila", "sisal", "hemp", "coir"),
      fd("twist_cm", "num").req().num(0.5, 40), fd("stock_kg", "int").req().num(0, 90000).def(0L),
      f("r-cost-leak") ? fd("cost_pence", "int").req().num(1, 5000).visible("master", "prover") : fd("cost_pence", "int").req().num(1, 5000).visible("master"),
      fd("retired", "bool").req().def(false), fd("remark", "str").len(0, 120), fd("open_orders", "int").req().ro(), fd("laid_in", "dt").req().ro(), fd("touched", "dt").req().ro()));
    Fd splice = fd("splice", "splice"); splice.since2 = true;
    Fd colour = fd("colour", "str"); colour.gone = true;
    Fd note = fd("shop_note", "str").len(0, 200).visible("master", "prover"); note.writable = f("r-note-written") ? Set.of("master", "rigger") : Set.of("master");
    SPEC.put("order", List.of(fd("id", "str").req().ro(), fd("number", "int").req().ro(), fd("yarn", "str").req().imm(), fd("rigger", "str").req().ro(),
      fd("tag", "str").len(2, 24), fd("length_m", "int").req().num(f("r-length-least") ? 4 : 5, 400), fd("strands", "int").req().of(3L, 4L, 9L).def(3L),
      fd("girth_mm", "num").req().num(4, 96).old("thickness"), fd("finish", "str").req().of("plain", "tarred", "waxed").def("plain"), splice, colour,
      fd("wanted_by", "date"), note, fd("price_pence", "int").ro().visible("rigger", "master"), fd("stage", "str").req().ro(), fd("why", "str").ro(),
      fd("proofs_held", "int").req().ro(), fd("placed_at", "dt").ro(), fd("made_at", "dt").req().ro(), fd("changed_at", "dt").req().ro()));
    Fd broke = fd("broke_kn", "num").num(0, 900); broke.over = 0.0;
    SPEC.put("proof", List.of(fd("id", "str").req().ro(), fd("ticket", "int").req().ro(), fd("order", "str").req().imm(), fd("prover", "str").req().ro(),
      fd("method", "str").req().imm().of("hang", "winch", "drop"), fd("load_kn", "num").req().num(0.5, 900), fd("held", "bool").req().imm(), broke,
      fd("remark", "str").len(0, 160).old("notes"), fd("proved_at", "dt").req().ro()));
    SPEC.put("listener", List.of(fd("id", "str").req().ro(), fd("owner", "str").req().ro(), fd("target", "uri").req().len(0, 300), fd("seal", "str").req().ro(),
      fd("topics", "topics"), fd("active", "bool").req().def(true), fd("made_at", "dt").req().ro()));
    for (String r : SPEC.keySet()) DB.put(r, new LinkedHashMap<>());
  }
  static final class Row extends LinkedHashMap<String, Object> {
    long since, edition; Caller maker;
    Row copy() { Row r = new Row(); r.putAll(this); r.since = since; r.edition = edition; r.maker = maker; return r; }
    String s(String k) { return (String) get(k); } long n(String k) { return ((Number) get(k)).longValue(); } double d(String k) { return ((Number) get(k)).doubleValue(); }
    boolean is(String k) { return Boolean.TRUE.equals(get(k)); } String key() { return containsKey("mark") ? s("mark") : s("id"); }
  }
  static final Map<String, LinkedHashMap<String, Row>> DB = new HashMap<>();
  static final Map<String, Long> COUNTS = new HashMap<>();
  static long count(String what) { return COUNTS.merge(what, 1L, Long::sum); }
  static Collection<Row> rows(String r) { return DB.get(r).values(); }
  static Row row(String r, Object id) { return DB.get(r).get(id); }
  static final SecureRandom RND = new SecureRandom();
  static String random(int n, String from) { StringBuilder b = new StringBuilder(); while (n-- > 0) b.append(from.charAt(RND.nextInt(from.length()))); return b.toString(); }
  static final String HEX = "0123456789abcdef", ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  static long openOrders(Row y) { return rows("order").stream().filter(o -> o.s("yarn").equals(y.key()) && (f("r-open-placed") ? o.s("stage").equals("placed") : List.of("placed", "laying").contains(o.s("stage")))).count(); }
  static long held(Row o) { return rows("proof").stream().filter(p -> p.s("order").equals(o.key()) && p.is("held")).count(); }
  /** What a caller is shown of a row, in a version. */
  static Map<String, Object> show(String res, Row row, Caller c, int v, boolean fresh) {
    Map<String, Object> out = new LinkedHashMap<>();
    for (Fd d : SPEC.get(res)) {
      if (d.visible != null && (c == null || !d.visible.contains(c.user))) continue;
      if (d.name.equals("seal") && !fresh && !f("r-seal-again")) continue;
      if (v == 1 && d.since2) continue;
      if (d.gone) { if (v == 1) out.put("colour", "raw"); continue; }
      Object x = d.name.equals("open_orders") ? (Object) openOrders(row) : d.name.equals("proofs_held") ? (Object) held(row) : row.get(d.name);
      if (x == null) continue;
      if (v == 1 && d.name.equals("finish") && x.equals("tarred") && !f("n-finish-up")) x = "pitched";
      out.put(d.in(v), x);
    }
    return out;
  }
  static boolean mayRead(String res, Row r, Caller c) {
    String u = c == null ? "" : c.user;
    switch (res) {
      case "yarn": return u.equals("master") || !r.is("retired");
      case "order": return u.equals("master") || u.equals("rigger") && r.s("rigger").equals(c.id)
        || u.equals("prover") && List.of("laying", "laid", "fetched").contains(r.s("stage"));
      case "proof": return u.equals("master") || u.equals("prover") || u.equals("rigger") && row("order", r.s("order")) != null && row("order", r.s("order")).s("rigger").equals(c.id);
      default: return c != null && r.s("owner").equals(c.id);
    }
  }
  // ---------- what is sent
  record Bad(String path, boolean missing) { }
  static Object fit(Fd d, Object x, String at, List<Bad> bad, int v) {
    boolean ok = true;
    switch (d.type) {
      case "int": case "num":
        ok = x instanceof Number;
        if (ok) {
          double n = ((Number) x).doubleValue();
          if (d.type.equals("int")) { ok = n == Math.rint(n); if (ok) x = (long) n; }
          ok = ok && !(d.min != null && n < d.min) && !(d.max != null && n > d.max + (f("r-stock-most") && d.name.equals("stock_kg") ? 1 : 0)) && !(d.over != null && n <= d.over) && (d.values == null || d.values.contains(x));
        }
        break;
      case "bool": ok = x instanceof Boolean; break;
      case "topics":
        if (!(x instanceof List<?> l) || l.isEmpty() || l.size() > 8) { ok = false; break; }
        for (int i = 0; i < l.size(); i++) {
          Object t = l.get(i);
          boolean known = t instanceof String s && (s.equals("*") || KINDS.contains(s) || s.endsWith(".*") && KINDS.stream().anyMatch(k -> k.startsWith(s.substring(0, s.length() - 1))));
          if (!known) bad.add(new Bad(at + "." + i, false));
        }
        break;
      default:
        ok = x instanceof String;
        if (!ok) break;
        String s = (String) x; int n = s.codePointCount(0, s.length());
        if (v == 1 && d.name.equals("finish")) { if (s.equals("pitched")) x = s = "tarred"; else if (s.equals("tarred")) ok = false; }
        ok = ok && n >= d.minLen && n <= d.maxLen && (d.values == null || d.values.contains(s)) && (d.pattern == null || d.pattern.matcher(s).matches());
        if (ok && d.type.equals("date")) ok = isDate(s);
        if (ok && d.type.equals("uri")) try { URI u = new URI(s); ok = u.getHost() != null && List.of("http", "https").contains(u.getScheme()); } catch (URISyntaxException e) { ok = false; }
    }
    if (!ok) bad.add(new Bad(at, false));
    return x;
  }
  static boolean isDate(String s) {
    if (!s.matches("\\d{4}-\\d\\d-\\d\\d")) return false;
    if (f("r-wanted-february")) return s.substring(8).compareTo("31") <= 0;
    try { LocalDate.parse(s); return true; } catch (RuntimeException e) { return false; }
  }
  static final List<Fd> SPLICE = List.of(fd("style", "str").of("eye", "back", "long"), fd("tucks", "int").num(3, 9));
  static Object splice(Object x, Object before, List<Bad> bad) {
    if (!(x instanceof Map<?, ?> m)) { bad.add(new Bad("splice", false)); return null; }
    Map<String, Object> out = new LinkedHashMap<>();
    if (before instanceof Map<?, ?> b && !f("r-splice-replaced")) b.forEach((k, y) -> out.put((String) k, y));
    Set<Object> told = new HashSet<>();
    for (var e : m.entrySet()) {
      Fd d = SPLICE.stream().filter(q -> q.name.equals(e.getKey())).findFirst().orElse(null);
      told.add(e.getKey());
      if (d == null || e.getValue() == null) bad.add(new Bad("splice." + e.getKey(), false));
      else out.put(d.name, fit(d, e.getValue(), "splice." + d.name, bad, 2));
    }
    for (Fd d : SPLICE) if (!out.containsKey(d.name) && !told.contains(d.name)) bad.add(new Bad("splice." + d.name, true));
    return out;
  }
  /** The row as it would be stored: of a creation (before is null) or of a merge patch. */
  static Row take(String res, Object body, Row before, Caller c, int v, Map<String, String> bound) {
    List<Bad> bad = new ArrayList<>(), late = new ArrayList<>();
    if (!(body instanceof Map<?, ?> m)) throw new Err("ill_made").at(List.of(new Bad("", false)));
    Row next = before == null ? new Row() : before.copy();
    List<Fd> spec = SPEC.get(res); Set<String> told = new HashSet<>();
    for (var e : m.entrySet()) {
      String name = (String) e.getKey(); Object x = e.getValue();
      Fd d = spec.stream().filter(q -> q.in(v).equals(name) && !(v == 1 && q.since2) && !(v == 2 && q.gone)).findFirst().orElse(null);
      if (d == null) { bad.add(new Bad(name, false)); continue; }
      if (d.ro || d.writable != null && !d.writable.contains(c.user)) continue;
      told.add(d.name);
      if (x == null) {
        if (before != null && !d.req) next.remove(d.name);
        else if (before == null || d.req) bad.add(new Bad(name, false));
        continue;
      }
      int had = bad.size();
      Object y = d.type.equals("splice") ? splice(x, before == null ? null : before.get("splice"), bad) : fit(d, x, name, bad, v);
      if (bad.size() > had || d.gone) continue;
      if (before != null && d.imm && !same(y, before.get(d.name))) bad.add(new Bad(name, false));
      if (bound.containsKey(d.name) && !bound.get(d.name).equals(y)) bad.add(new Bad(name, false));
      next.put(d.name, y);
    }
    next.putAll(bound);
    if (res.equals("proof") && next.get("broke_kn") instanceof Number b && next.get("load_kn") instanceof Number l && b.doubleValue() > l.doubleValue())
      if (bad.stream().noneMatch(b2 -> Set.of("broke_kn", "load_kn").contains(b2.path))) bad.add(new Bad("broke_kn", false));
    if (before == null) for (Fd d : spec) {
      if (!next.containsKey(d.name) && d.def != null && !told.contains(d.name)) next.put(d.name, d.def);
      if (d.req && !d.ro && !next.containsKey(d.name) && !told.contains(d.name)) late.add(new Bad(d.in(v), true));
    }
    for (Bad b : bad) if (b.missing) late.add(0, b);
    bad.removeIf(b -> b.missing); bad.addAll(late);
    if (!bad.isEmpty()) throw new Err(bad.get(0).missing && !f("x-incomplete") ? "incomplete" : "ill_made").at(bad);
    return next;
  }
  // ---------- errors
  static final Map<String, Object[]> CODES = new HashMap<>();
  static {
    for (String l : ("garbled 400 The body cannot be read.|wrong_kind 415 Send JSON.|odd_question 400 A parameter is not right.|ill_made 422 The body does not fit.|incomplete 422 Something is missing.|"
      + "nowhere 404 There is no such path.|no_such_way 405 Not by this method.|stranger 401 Show who you are.|not_yours_to_do 403 You may not.|no_scope 403 Your pass lacks a scope.|not_found 404 There is none.|"
      + "taken 409 There is one already.|no_such_ref 422 What it refers to is not there.|in_use 409 Something refers to it.|wrong_stage 409 Not at this stage.|past_scrapping 409 It is too late to scrap it.|"
      + "no_reason 422 Say why.|short_of_yarn 409 There is too little yarn.|unproved 409 No proof has held.|moved_on 412 It has changed since.|tag_first 428 Send If-Match.|used_once 422 This key was for something else.|"
      + "under_way 409 Try again.|slow_down 429 Too many requests.|no_more 403 That is enough for now.|too_big 413 Too large.|url_too_long 414 The address is too long.|head_too_big 431 The header is too large.|"
      + "too_slow 408 It took too long.|no_edition 404 There is no such edition.|edition_over 410 This edition is over.|closed 503 The walk is closed.|broken 500 Something broke.|too_soon 422 That day is over.|"
      + "too_thick 422 Three strands make no rope of this girth.|not_laid 409 It is not laid.").split("\\|")) { String[] p = l.split(" ", 3); CODES.put(p[0], new Object[] { Integer.parseInt(p[1]), p[2] }); }
  }
  static final class Err extends RuntimeException {
    final String code; List<Bad> bad = List.of(); final Map<String, String> head = new LinkedHashMap<>();
    Err(String code) { super(code, null, false, false); this.code = code; }
    Err at(List<Bad> b) { bad = b; return this; }
    Err head(String n, String v) { head.put(n, v); return this; }
    Resp resp(String trace) {
      Object[] c = CODES.get(code); int status = (int) c[0];
      if (f("x-held-status") && code.equals("in_use")) status = 422;
      Map<String, Object> b = map("fault", code, "words", c[1], "trace", trace);
      if (!bad.isEmpty()) b.put("wrong", bad.stream().map(x -> f("x-wrong-pointer") ? "/" + x.path.replace('.', '/') : x.path).collect(Collectors.toList()));
      Resp r = new Resp(status, b); r.head.putAll(head);
      r.head.put("Walk-Fault", code);
      return r;
    }
  }
  // ---------- callers
  record Caller(String user, String id, Set<String> scopes) { String name() { return user + " " + id; } }
  static final Map<String, Caller> PASS = new HashMap<>(), TALLY = new HashMap<>();
  static {
    Caller[] r = { new Caller("rigger", "rig-ada", Set.of()), new Caller("rigger", "rig-bo", Set.of()), new Caller("rigger", "rig-cy", Set.of()), new Caller("rigger", "rig-di", Set.of()) };
    Caller[] m = { new Caller("master", "mas-old", Set.of("stores")), new Caller("master", "mas-new", Set.of()), new Caller("master", "mas-mid", Set.of("stores")) };
    Caller[] p = { new Caller("prover", "prv-one", Set.of()), new Caller("prover", "prv-two", Set.of()) };
    for (Caller c : Stream.of(r, m, p).flatMap(Arrays::stream).toList()) PASS.put("rw_" + (c.id.replace("-", "") + "QwErTyUiOpAsDfGhJkLzXcVb").substring(0, 24), c);
    for (Caller c : p) TALLY.put("ty_" + (c.id.replace("-", "") + "MnBvCxZlKjHgFdSaPoIuYtRe").substring(0, 24), c);
  }
  static Caller who(Req q, Route e) {
    boolean passToo = !e.op.equals("create proof") || f("a-pass-proves"); boolean shown = false, good = true; Caller c = null;
    for (String h : passToo ? new String[] { "authorization", "x-tally" } : new String[] { "x-tally" }) {
      List<String> vs = q.all(h);
      if (vs.isEmpty()) continue;
      shown = true;
      Caller k = null; String v = vs.get(0).trim();
      if (vs.size() == 1) { if (h.equals("x-tally")) k = TALLY.get(v); else if (v.regionMatches(true, 0, "Walkpass ", 0, 9)) k = PASS.get(v.substring(9).trim()); }
      if (k == null || c != null && !c.equals(k)) good = false;
      c = k;
    }
    if (shown && good && !(f("p-prover-deaf") && c.user.equals("prover") && e.res.equals("listener"))) return c;
    if (e.anyone() && (!shown || f("a-bad-as-nobody"))) return null;
    Err x = new Err("stranger"); String why = shown ? ", error=\"invalid_key\"" : "";
    String t = "ApiKey realm=\"Ropewalk\", in=\"header\", name=\"X-Tally\"" + why;
    x.head("WWW-Authenticate", passToo ? "Walkpass realm=\"Ropewalk\"" + why + ", " + t : t);
    throw x;
  }
  static final Map<String, Set<String>> MAY = new HashMap<>();
  static {
    for (String l : ("list yarn,read yarn:rigger master prover|create yarn,update yarn,delete yarn:master|create order,place order,delete order,fetch order:rigger|update order,scrap order:rigger master|list order,read order:rigger master prover|"
      + "lay order,whip order:master|create proof,update proof:prover|list proof,read proof:rigger master prover|create listener,list listener,read listener,update listener,delete listener:rigger master prover").split("\\|"))
      for (String op : l.split(":")[0].split(",")) MAY.put(op, Set.of(l.split(":")[1].split(" ")));
  }
  // ---------- routes
  static final class Route {
    final String method, op, verb, res; final String[] path; final int from;
    Route(String method, String path, String op, int from) { this.method = method; this.path = path.substring(1).split("/"); this.op = op; verb = op.split(" ")[0]; res = op.split(" ")[1]; this.from = from; }
    boolean anyone() { return op.equals("list yarn") || op.equals("read yarn"); }
    Map<String, String> fits(List<String> segs) {
      if (segs.size() != path.length) return null;
      Map<String, String> m = new HashMap<>();
      for (int i = 0; i < path.length; i++) if (path[i].startsWith("{") && !segs.get(i).isEmpty()) m.put(path[i].substring(1, path[i].length() - 1), segs.get(i)); else if (!path[i].equals(segs.get(i))) return null;
      return m;
    }
  }
  static final List<Route> ROUTES = new ArrayList<>();
  static void routes() {
    for (String l : ("GET /about about walk|POST /yarns create yarn|GET /yarns list yarn|GET /yarns/{mark} read yarn|PATCH /yarns/{mark} update yarn|DELETE /yarns/{mark} delete yarn|POST /orders create order|GET /orders list order|"
      + "GET /orders/{id} read order|PATCH /orders/{id} update order|DELETE /orders/{id} delete order|POST /orders/{id}/place place order|POST /orders/{id}/lay lay order|POST /orders/{id}/whip whip order|POST /orders/{id}/fetch fetch order|"
      + "POST /orders/{id}/scrap scrap order|POST /orders/{order}/proofs create proof|GET /orders/{order}/proofs list proof|GET /proofs/{id} read proof|PATCH /proofs/{id} update proof|POST /listeners create listener|"
      + "GET /listeners list listener|GET /listeners/{id} read listener|PATCH /listeners/{id} update listener|DELETE /listeners/{id} delete listener").split("\\|")) {
      String[] p = l.split(" ", 3);
      ROUTES.add(new Route(p[0], p[1], p[2], p[2].equals("list listener") ? 2 : 1));
    }
  }
  static final class Req {
    String method, target, path, query = "", remote; final List<String[]> head = new ArrayList<>(); byte[] body = new byte[0]; boolean tooBig, hasBody;
    List<String> all(String n) { return head.stream().filter(h -> h[0].equalsIgnoreCase(n)).map(h -> h[1]).collect(Collectors.toList()); }
    String one(String n) { List<String> l = all(n); return l.isEmpty() ? null : String.join(", ", l); }
  }
  static final class Resp {
    final int status; final String body; final Map<String, String> head = new LinkedHashMap<>(); boolean close;
    Resp(int status, Object body) { this.status = status; this.body = body == null ? null : Json.write(body); }
    Resp(int status, String text, boolean raw) { this.status = status; this.body = text; }
    Resp head(String n, String v) { head.put(n, v); return this; }
  }
  static String dec(String s, boolean plus) { try { return URLDecoder.decode(plus ? s : s.replace("+", "%2B"), StandardCharsets.UTF_8); } catch (RuntimeException e) { return null; } }
  static final class Ctx { Req q; Route e; Map<String, String> path; Map<String, String> query = new LinkedHashMap<>(); Caller c; int v; Object body; }
  static final long E1_SUNSET = Instant.parse("2027-11-30T00:00:00Z").toEpochMilli();
  static Resp answer(Req q) {
    String trace = random(20, HEX); Resp r; Ctx x = new Ctx(); x.q = q;
    synchronized (LOCK) {
      tick();
      try { r = handle(x); }
      catch (Err e) { r = e.resp(trace); }
      catch (RuntimeException e) { e.printStackTrace(); r = new Err("broken").resp(trace); }
      pump();
    }
    boolean refused = r.head.containsKey("Walk-Fault") || r.status >= 400;
    r.head.put("Walk-Trace", trace);
    boolean fetch = x.e != null && x.e.op.equals("fetch order");
    List<String> links = new ArrayList<>();
    if (x.v == 1) {
      links.add("<https://walk.example/editions>; rel=\"deprecation\"");
      links.add("<" + q.target.replaceFirst("^/rw/e1", "/rw/e2") + ">; rel=\"successor-version\"");
      r.head.put("Sunset", http(E1_SUNSET));
    }
    if (fetch) links.add("<https://walk.example/fetching>; rel=\"deprecation\"");
    boolean told = x.v == 1 && !(refused && f("n-refusal-untold"));
    if (told || fetch) r.head.put("Deprecation", "@" + Instant.parse(x.v == 1 ? "2026-03-01T00:00:00Z" : "2026-08-01T00:00:00Z").getEpochSecond());
    if (!links.isEmpty()) r.head.put("Link", String.join(", ", links));
    if (x.e != null && !x.e.op.equals("about walk")) r.head.put("Vary", x.e.op.equals("create proof") ? "X-Tally" : "Authorization, X-Tally");
    return r;
  }
  static Resp handle(Ctx x) {
    Req q = x.q;
    // 2: route, method, version
    if (!q.path.startsWith(BASE + "/")) throw new Err("nowhere");
    List<String> segs = new ArrayList<>();
    for (String s : q.path.substring(BASE.length() + 1).split("/", -1)) { String d = dec(s, false); if (d == null) throw new Err("nowhere"); segs.add(d); }
    boolean bare = false; String edition = segs.get(0); List<String> rest = segs.subList(1, segs.size());
    if (ROUTES.stream().noneMatch(e -> e.fits(rest) != null)) { bare = true; edition = ""; }
    if (edition.equals("e1")) x.v = 1; else if (edition.equals("e2")) x.v = 2;
    List<String> at = bare ? segs : rest; int v = x.v;
    List<Route> here = ROUTES.stream().filter(e -> e.fits(at) != null && (v == 0 || v >= e.from)).toList();
    if (segs.get(0).equals("e1") && bare) x.v = 1;
    if (here.isEmpty() || f("p-whip-gone") && here.get(0).op.equals("whip order")) throw new Err("nowhere");
    String m = q.method.equals("HEAD") ? "GET" : q.method;
    TreeSet<String> allow = new TreeSet<>(Set.of("OPTIONS"));
    for (Route e : here) { allow.add(e.method); if (e.method.equals("GET")) allow.add("HEAD"); if (e.method.equals(m)) x.e = e; }
    if (x.e == null && !m.equals("OPTIONS")) throw new Err("no_such_way").head("Allow", String.join(", ", allow));
    if (bare && f("n-bare-newest")) x.v = 2;
    if (x.v == 0) throw new Err("no_edition");
    if (x.v == 1 && now() >= E1_SUNSET && !f("n-sunset-served")) throw new Err("edition_over");
    if (x.e == null) return new Resp(204, null).head("Allow", String.join(", ", allow));
    Route e = x.e; x.path = e.fits(at);
    // 4, 5: who calls, how often
    boolean open = e.op.equals("about walk");
    x.c = open ? null : who(q, e); rates(x);
    // 6
    if (x.c != null && !e.anyone()) {
      if (!MAY.get(e.op).contains(x.c.user)) throw new Err("not_yours_to_do");
      if (e.res.equals("yarn") && !x.c.scopes.contains("stores") && !(f("a-scope-update") && e.verb.equals("update"))) throw new Err("no_scope");
    }
    // 8
    boolean takes = e.verb.equals("create") || e.verb.equals("update") || e.verb.equals("scrap");
    if (takes) {
      String t = q.one("content-type"); if (t != null) t = t.split(";")[0].trim().toLowerCase();
      if (t != null && q.hasBody && !t.equals("application/json") && !(e.verb.equals("update") && t.equals("application/merge-patch+json"))) throw new Err("wrong_kind");
      if (q.tooBig || q.body.length > 8192 + (f("l-body-more") ? 1 : 0)) throw new Err("too_big");
      try { x.body = Json.read(StandardCharsets.UTF_8.newDecoder().decode(java.nio.ByteBuffer.wrap(q.body)).toString()); }
      catch (CharacterCodingException | IllegalArgumentException z) { throw new Err("garbled"); }
    }
    params(x);
    if (open) return new Resp(200, map("walk", "Long Walk", "fathoms", 188L));
    String once = e.op.equals("create order") ? q.one("walk-once") : null;
    if (once == null) return act(x);
    // 9: under a key
    String key = x.c.name() + "|" + once, print = q.target + "\n" + new String(q.body, StandardCharsets.ISO_8859_1);
    Kept k = KEPT.get(key);
    if (k != null && now() - k.at < 12 * HOUR) {
      if (!k.print.equals(print) && !f("e-once-any")) throw new Err("used_once");
      if (k.code != null) throw new Err(k.code);
      Resp r = new Resp(k.status, k.body, true); r.head.putAll(k.head); return r;
    }
    try {
      Resp r = act(x);
      KEPT.put(key, new Kept(now(), print, r.status, r.body, new LinkedHashMap<>(r.head), null));
      return r;
    } catch (Err z) { if (z.code.equals("too_soon")) KEPT.put(key, new Kept(now(), print, 0, null, null, z.code)); throw z; }
  }
  record Kept(long at, String print, int status, String body, Map<String, String> head, String code) { }
  static final Map<String, Kept> KEPT = new HashMap<>();
  // ---------- limits
  static final Map<String, ArrayDeque<Long>> SLID = new HashMap<>();
  static final Map<String, long[]> FIXED = new HashMap<>();
  static void rates(Ctx x) {
    String who = x.c == null ? "@" + x.q.remote : x.c.name(); long t = now(), wait = 0;
    ArrayDeque<Long> s = SLID.computeIfAbsent(who, k -> new ArrayDeque<>());
    while (!s.isEmpty() && s.peekFirst() <= t - MIN) s.pollFirst();
    if (s.size() >= 400) wait = Math.max(wait, s.peekFirst() + MIN - t);
    long[] w = null;
    if (x.c != null && x.c.user.equals("rigger") && x.e.op.equals("scrap order")) {
      w = FIXED.computeIfAbsent(who, k -> new long[] { t, 0 });
      if (t >= w[0] + 10 * MIN) { w[0] = t; w[1] = 0; }
      if (w[1] >= (f("l-scrap-eleven") ? 11 : 10)) wait = Math.max(wait, w[0] + 10 * MIN - t);
    }
    if (wait > 0) { Err z = new Err("slow_down"); if (!f("l-wait-untold")) z.head("Retry-After", "" + (wait + 999) / 1000); throw z; }
    s.addLast(t); if (w != null) w[1]++;
  }
  static final Map<String, Long> USED = new HashMap<>();
  static ZonedDateTime day() { return Instant.ofEpochMilli(now()).atZone(ZoneId.of("Europe/London")).truncatedTo(ChronoUnit.DAYS); }
  // ---------- parameters
  static final Map<String, List<String>> PARAMS = Map.of("list yarn", List.of("fibre", "label", "max_twist", "leaf", "per_leaf"),
    "list order", List.of("stage", "yarn", "finish", "longer", "before", "by", "way", "leaf", "per_leaf"), "list proof", List.of("held", "method"), "list listener", List.of("leaf", "per_leaf"));
  static void params(Ctx x) {
    List<String> known = PARAMS.getOrDefault(x.e.op, List.of()); Err odd = new Err("odd_question");
    for (String p : x.q.query.isEmpty() ? new String[0] : x.q.query.split("&")) {
      if (p.isEmpty()) continue;
      String[] kv = p.split("=", 2); String k = dec(kv[0], true), val = kv.length > 1 ? dec(kv[1], true) : "";
      if (k == null || val == null) throw odd;
      if (!known.contains(k)) { if (f("e-odd-question") && x.e.verb.equals("list")) continue; throw odd; }
      if (x.query.put(k, val) != null) throw odd;
    }
    for (var e : x.query.entrySet()) {
      String k = e.getKey(), s = e.getValue(); boolean ok = true;
      switch (k) {
        case "fibre": ok = List.of(s.split(",", -1)).stream().allMatch(List.of("manila", "sisal", "hemp", "coir")::contains); break;
        case "stage": ok = List.of(s.split(",", -1)).stream().allMatch(STAGES::contains); break; case "finish": ok = List.of("plain", x.v == 1 ? "pitched" : "tarred", "waxed").contains(s); break;
        case "method": ok = List.of("hang", "winch", "drop").contains(s); break; case "held": ok = s.equals("true") || s.equals("false"); break;
        case "by": ok = List.of("made", "-made", "length", "-length").contains(s); break; case "way": ok = s.equals("asc") || s.equals("desc"); break;
        case "max_twist": ok = s.matches("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][-+]?\\d+)?"); break; case "longer": ok = s.matches("-?(0|[1-9]\\d{0,14})"); break;
        case "leaf": ok = s.matches("[1-9]\\d{0,8}"); break; case "per_leaf": ok = s.matches("[1-9]\\d{0,8}") && Long.parseLong(s) <= 60; break;
        case "before": try { ok = s.contains(":") && s.matches(".*:\\d\\d:\\d\\d.*"); OffsetDateTime.parse(s); } catch (RuntimeException z) { ok = false; } break;
      }
      if (!ok) throw odd;
    }
  }
  // ---------- operations
  static Resp act(Ctx x) {
    Route e = x.e; Caller c = x.c; Row old = null, next; String res = e.res;
    if (e.verb.equals("list")) return list(x);
    if (e.verb.equals("create")) return create(x);
    // 10: the row, who may
    old = row(res, x.path.getOrDefault("mark", x.path.get("id")));
    if (old == null || !mayRead(res, old, c) && !(f("a-retired-read") && res.equals("yarn") && e.verb.equals("read")))
      throw new Err("not_found");
    if (e.op.equals("update proof") && !old.s("prover").equals(c.id) && !f("a-proof-others")) throw new Err("not_yours_to_do");
    switch (e.verb) {
      case "read": {
        Map<String, Object> shown = show(res, old, c, x.v, false);
        if (!res.equals("order")) return new Resp(200, shown);
        String tag = etag(shown), none = x.q.one("if-none-match");
        Resp r = none != null && (none.trim().equals("*") || List.of(none.split("\\s*,\\s*")).stream().anyMatch(t -> t.trim().replaceFirst("^W/", "").equals(tag))) ? new Resp(304, null) : new Resp(200, shown);
        return r.head("ETag", tag).head("Cache-Control", "private, no-cache");
      }
      case "update": return update(x, old);
      case "delete": {
        if (res.equals("order") && !List.of("sketched", "scrapped", "lapsed").contains(old.s("stage"))) throw new Err("wrong_stage");
        Row r = old;
        if (res.equals("yarn") && rows("order").stream().anyMatch(o -> o.s("yarn").equals(r.key()) && !(f("r-yarn-torn") && List.of("fetched", "scrapped", "lapsed").contains(o.s("stage"))))) throw new Err("in_use");
        if (res.equals("order")) {
          emit("order.withdrawn", "order", old, null, l -> r.key());
          if (!f("r-proofs-stay")) DB.get("proof").values().removeIf(p -> p.s("order").equals(r.key()));
        }
        DB.get(res).remove(old.key());
        if (res.equals("listener")) QUEUE.removeIf(d -> d.to.equals(r.key()));
        return new Resp(204, null);
      }
    }
    // transitions: 12
    String reason = null;
    if (e.verb.equals("scrap")) {
      if (!(x.body instanceof Map<?, ?> b)) throw new Err("ill_made").at(List.of(new Bad("", false)));
      if (!b.containsKey("reason")) throw new Err(f("x-incomplete") ? "ill_made" : "incomplete").at(List.of(new Bad("reason", true)));
      if (!(b.get("reason") instanceof String s) || s.codePointCount(0, s.length()) > 80) throw new Err("ill_made").at(List.of(new Bad("reason", false)));
      reason = (String) b.get("reason");
    }
    String stage = old.s("stage"), to; Err wrong = new Err("wrong_stage");
    next = old.copy();
    switch (e.verb) {
      case "place":
        if (!stage.equals("sketched") && !(f("s-place-lapsed") && stage.equals("lapsed"))) throw wrong;
        if (old.n("strands") == 3 && old.d("girth_mm") > 64) throw new Err("too_thick");
        String q = c.name() + " " + day(); long used = USED.getOrDefault(q, 0L);
        if (used >= 15) throw new Err("no_more").head("Retry-After", "" + (Math.max(0, day().plusDays(1).toInstant().toEpochMilli() - now()) + 999) / 1000);
        USED.put(q, used + 1);
        next.put("price_pence", old.n("length_m") * old.n("strands") * (old.s("finish").equals("plain") || f("r-price-waxed") && old.s("finish").equals("waxed") ? 4 : 6));
        next.put("placed_at", iso(now())); to = "placed"; break;
      case "lay":
        if (!stage.equals("placed")) throw wrong;
        if (row("yarn", old.s("yarn")).n("stock_kg") * 10 < old.n("length_m")) throw new Err("short_of_yarn");
        to = "laying"; break;
      case "whip": if (!stage.equals("laying")) throw wrong; to = "laid"; break;
      case "fetch":
        if (!stage.equals("laid")) throw wrong;
        Row o = old;
        if (held(old) < 1 && !(f("s-fetch-any") && rows("proof").stream().anyMatch(p -> p.s("order").equals(o.key())))) throw new Err("unproved");
        to = "fetched"; break;
      default:
        if (!List.of("sketched", "placed", "laying").contains(stage) && !(f("s-scrap-laid") && stage.equals("laid"))) throw new Err(f("x-past-scrapping") ? "wrong_stage" : "past_scrapping");
        if (reason.isEmpty()) throw new Err("no_reason");
        next.put("why", reason);
        to = "scrapped";
    }
    move(old, next, to);
    if (e.verb.equals("place")) for (int i = 0; i < (f("v-placed-twice") ? 2 : 1); i++) emit("order.placed", "order", next, next, null);
    if (e.verb.equals("whip")) emit("order.laid", "order", next, next, null);
    if (e.verb.equals("scrap")) ended(old, next);
    if (e.verb.equals("lay")) {
      Row y = row("yarn", old.s("yarn")), z = y.copy(); z.put("stock_kg", y.n("stock_kg") - next.n("length_m") / 10);
      if (!f("s-lay-free")) storeYarn(y, z);
      return new Resp(200, map("order", next.key(), "stage", next.s("stage"), "metres", f("e-lay-metres") ? next.n("strands") : next.n("length_m")));
    }
    return new Resp(200, show("order", next, c, x.v, false));
  }
  static void move(Row old, Row next, String to) {
    next.put("stage", to); next.put("changed_at", iso(now())); next.since = now();
    DB.get("order").put(next.key(), next);
  }
  static void ended(Row old, Row next) { emit("order.ended", "order", next, next, l -> map("order", next.key(), "stage", next.s("stage"), "was", old.s("stage"))); }
  static void storeYarn(Row old, Row next) {
    if (same(old, next)) return;
    if (!f("r-touched-made")) next.put("touched", iso(now()));
    DB.get("yarn").put(next.key(), next);
    if (next.n("stock_kg") < 50 && old.n("stock_kg") >= 50) emit("yarn.low", "yarn", next, next, l -> map("yarn", next.key(), "left_kg", next.n("stock_kg")));
  }
  static String etag(Object shown) {
    try { return "\"" + HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(Json.write(shown).getBytes(StandardCharsets.UTF_8))).substring(0, 24) + "\""; }
    catch (GeneralSecurityException e) { throw new IllegalStateException(e); }
  }
  static boolean past(Row r) { return r.containsKey("wanted_by") && LocalDate.parse(r.s("wanted_by"), DateTimeFormatter.ISO_LOCAL_DATE.withResolverStyle(java.time.format.ResolverStyle.LENIENT)).atStartOfDay(ZoneOffset.UTC).toInstant().toEpochMilli() < now(); }
  static void unique(String res, Row next, Row old) {
    for (Row r : rows(res)) {
      if (r == old) continue;
      if (res.equals("yarn") && r.get("label").equals(next.get("label")) && !(old != null && f("r-label-later"))) throw new Err("taken");
      if (res.equals("order") && next.containsKey("tag") && next.get("tag").equals(r.get("tag")) && (next.s("rigger").equals(r.s("rigger")) || f("r-tag-wide"))) throw new Err("taken");
    }
  }
  static Resp update(Ctx x, Row old) {
    String res = x.e.res; Caller c = x.c;
    if (res.equals("order")) { // 11
      String m = x.q.one("if-match"), tag = etag(show(res, old, c, x.v, false));
      if (m == null) throw new Err("tag_first");
      if (!m.trim().equals("*") && List.of(m.split("\\s*,\\s*")).stream().noneMatch(t -> t.trim().equals(tag)) && !(f("e-match-master") && c.user.equals("master"))) throw new Err("moved_on");
    }
    Row next = take(res, x.body, old, c, x.v, Map.of());
    if (res.equals("yarn")) { unique(res, next, old); storeYarn(old, next); }
    else {
      if (res.equals("order")) {
        if (!List.of("sketched", "placed").contains(old.s("stage")) && !(f("s-update-laying") && old.s("stage").equals("laying"))) throw new Err("wrong_stage");
        if (past(next) && !f("x-soon-later")) throw new Err("too_soon");
        unique(res, next, old);
      }
      if (!same(old, next)) {
        if (res.equals("order")) next.put("changed_at", iso(now()));
        DB.get(res).put(next.key(), next);
        if (res.equals("order") && (next.n("length_m") != old.n("length_m") || f("v-resized-any"))) emit("order.resized", "order", next, next, l -> map("order", next.key(), "was", old.n("length_m"), "is", next.n("length_m")));
        if (res.equals("listener") && !next.is("active")) QUEUE.removeIf(d -> d.to.equals(next.key()));
      }
    }
    return new Resp(200, show(res, row(res, old.key()), c, x.v, false));
  }
  static Resp create(Ctx x) {
    String res = x.e.res; Caller c = x.c; Map<String, String> bound = new HashMap<>();
    if (res.equals("proof")) {
      Row o = row("order", x.path.get("order"));
      if (o == null || !mayRead("order", o, c)) throw new Err("not_found");
      bound.put("order", o.key());
    }
    Row next = take(res, x.body, null, c, x.v, bound); String t = iso(now()), path;
    switch (res) {
      case "yarn":
        next.put("laid_in", t); next.put("touched", t);
        if (row("yarn", next.key()) != null) throw new Err("taken");
        unique(res, next, null); path = "/yarns/" + next.key(); break;
      case "order": {
        Row y = row("yarn", next.s("yarn"));
        if (y == null || !mayRead("yarn", y, c)) throw new Err("no_such_ref");
        next.put("rigger", c.id); next.put("stage", "sketched"); next.put("made_at", t); next.put("changed_at", t); next.since = now();
        if (past(next)) throw new Err("too_soon");
        unique(res, next, null);
        next.put("id", "lay-" + random(12, HEX)); next.put("number", count(f("r-number-all") ? "order" : "order " + y.key())); path = "/orders/" + next.key(); break;
      }
      case "proof":
        Row o = row("order", next.s("order"));
        if (!o.s("stage").equals("laid")) throw new Err("not_laid");
        next.put("prover", c.id); next.put("proved_at", t); next.put("id", UUID.randomUUID().toString()); next.put("ticket", count("proof " + next.s("order"))); path = "/proofs/" + next.key(); break;
      default:
        next.put("owner", c.id); next.put("made_at", t);
        if (rows(res).stream().filter(l -> l.s("owner").equals(c.id)).count() >= (f("l-ears-five") ? 5 : 4)) throw new Err("no_more");
        next.put("id", "ear_" + random(16, ALNUM)); next.put("seal", "wax_" + random(32, ALNUM)); next.edition = x.v; next.maker = c; path = "/listeners/" + next.key();
    }
    DB.get(res).put(next.key(), next);
    if (res.equals("proof")) {
      emit("proof.recorded", "proof", next, next, null);
      Row o = row("order", next.s("order"));
      if (!next.is("held") && !f("s-reject-never")) { Row n = o.copy(); move(o, n, "laying"); emit("order.rejected", "order", n, n, l -> n.key()); }
    }
    Resp r = new Resp(201, show(res, next, c, x.v, true));
    return r.head("Location", (f("p-location-bare") ? "" : BASE) + "/e" + x.v + path);
  }
  static Resp list(Ctx x) {
    String res = x.e.res; Map<String, String> p = x.query; Caller c = x.c;
    if (res.equals("proof")) { Row o = row("order", x.path.get("order")); if (o == null || !mayRead("order", o, c)) throw new Err("not_found"); }
    List<Row> rows = new ArrayList<>();
    for (Row r : rows(res)) {
      boolean ok = mayRead(res, r, c) || f("a-list-foreign") && res.equals("order") && p.containsKey("stage") && c.user.equals("rigger");
      for (var e : p.entrySet()) {
        String s = e.getValue();
        switch (e.getKey()) {
          case "fibre": case "stage": {
            List<String> in = List.of(s.split(","));
            if (f("e-fibre-first") && e.getKey().equals("fibre")) in = in.subList(0, 1);
            ok &= in.contains(r.s(e.getKey())); break;
          }
          case "label": ok &= f("e-label-inside") ? r.s("label").contains(s) : r.s("label").startsWith(s); break; case "max_twist": ok &= r.d("twist_cm") <= Double.parseDouble(s); break;
          case "yarn": ok &= r.s("yarn").equals(s); break; case "finish": ok &= r.s("finish").equals(s.equals("pitched") ? "tarred" : s); break;
          case "longer": ok &= f("e-longer-strict") ? r.n("length_m") > Long.parseLong(s) : r.n("length_m") >= Long.parseLong(s); break;
          case "before": ok &= OffsetDateTime.parse(r.s("made_at")).toInstant().isBefore(OffsetDateTime.parse(s).toInstant()); break; case "held": ok &= String.valueOf(r.is("held")).equals(s); break;
          case "method": ok &= r.s("method").equals(s); break;
        }
      }
      if (res.equals("proof")) ok &= r.s("order").equals(x.path.get("order"));
      if (ok) rows.add(r);
    }
    if (res.equals("yarn")) rows.sort(Comparator.comparing(r -> r.s("mark")));
    if (res.equals("proof")) rows.sort(Comparator.comparing((Row r) -> r.n("ticket")));
    if (res.equals("order")) {
      String by = p.getOrDefault("by", "-made"); boolean down = by.startsWith("-");
      if ("desc".equals(p.get("way")) && !(f("e-way-alone") && !p.containsKey("by"))) down = !down;
      Comparator<Row> k = by.endsWith("made") ? Comparator.comparing(r -> r.s("made_at")) : Comparator.comparing(r -> r.n("length_m"));
      rows.sort(down ? k.reversed() : k);
    }
    Function<Row, Object> shown = r -> show(res, r, c, x.v, false);
    if (res.equals("proof")) return new Resp(200, map("proofs", rows.stream().map(shown).collect(Collectors.toList())));
    long size = Long.parseLong(p.getOrDefault("per_leaf", "15")), leaf = Long.parseLong(p.getOrDefault("leaf", "1"));
    List<Object> page = rows.stream().skip((leaf - 1) * size).limit(size).map(shown).collect(Collectors.toList());
    boolean more = leaf * size < rows.size();
    return new Resp(200, map("rows", page, "next_leaf", more ? leaf + 1 : null, "more", more, "of_all", f("e-total-page") ? (long) page.size() : (long) rows.size()));
  }
  // ---------- time
  static void tick() {
    long t = now(); List<Row> due = new ArrayList<>();
    for (Row r : rows("order")) if (dueAt(r) <= t) due.add(r);
    due.sort(Comparator.comparing(Service::dueAt));
    for (Row r : due) {
      Row n = r.copy(); boolean lapse = r.s("stage").equals("sketched");
      move(r, n, lapse ? "lapsed" : "scrapped");
      if (!(lapse && f("v-lapse-silent"))) ended(r, n);
    }
    pump();
  }
  static long dueAt(Row r) {
    if (r.s("stage").equals("sketched")) return r.since + (f("s-lapse-late") ? 22 : 21) * DAY;
    return r.s("stage").equals("laid") && !f("s-forfeit-never") ? r.since + 60 * DAY : Long.MAX_VALUE;
  }
  // ---------- events
  static final class Delivery { String event, kind, to, about, body; int tries; long due; boolean away, done; }
  static final List<Delivery> QUEUE = new ArrayList<>();
  static final Map<String, Long> FAILING = new HashMap<>(), WAIT = new HashMap<>();
  /** Records an event of a row for each listener whose maker may read it; without data its payload is the row. */
  static void emit(String kind, String res, Row about, Row payload, Function<Row, Object> data) {
    String id = "evt_" + random(20, ALNUM), at = iso(now());
    for (Row l : rows("listener")) {
      if (!l.is("active") || l.get("topics") instanceof List<?> ts && ts.stream().noneMatch(t -> t.equals("*") || t.equals(kind) || ((String) t).endsWith(".*") && kind.startsWith(((String) t).substring(0, ((String) t).length() - 1)))) continue;
      if (!mayRead(res, about, l.maker)) continue;
      Map<String, Object> shown = data != null ? null : show(res, payload, l.maker, (int) l.edition, false);
      if (f("v-price-prover") && kind.equals("order.laid") && payload.containsKey("price_pence")) shown.put("price_pence", payload.get("price_pence"));
      Delivery d = new Delivery(); d.event = id; d.kind = kind; d.to = l.key(); d.about = res + " " + about.key(); d.due = now();
      d.body = Json.write(map("ref", id, "topic", kind, "told", at, "body", data != null ? data.apply(l) : shown));
      QUEUE.add(d);
    }
  }
  static void pump() {
    long t = now(); Set<String> waiting = new HashSet<>();
    for (Delivery d : QUEUE) {
      Row l = row("listener", d.to);
      if (l == null) continue;
      boolean head = waiting.add(d.to + "|" + d.about);
      if (!head || d.away || d.due > t || WAIT.getOrDefault(d.to, 0L) > t) continue;
      if (FAILING.containsKey(d.to) && QUEUE.stream().anyMatch(o -> o.away && o.to.equals(d.to))) continue;
      d.away = true; d.tries++;
      String url = l.s("target"), seal = l.s("seal"); long at = t / 1000;
      Thread th = new Thread(() -> post(d, url, seal, at)); th.setDaemon(true); th.start();
    }
  }
  static final java.net.http.HttpClient HTTP = java.net.http.HttpClient.newBuilder().version(java.net.http.HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(10)).build();
  static void post(Delivery d, String url, String seal, long at) {
    int status = 0; long wait = 0;
    try {
      Mac mac = Mac.getInstance("HmacSHA256"); mac.init(new SecretKeySpec(seal.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      String sum = HexFormat.of().formatHex(mac.doFinal(((f("v-seal-short") ? "" : d.event + ".") + at + "." + d.body).getBytes(StandardCharsets.UTF_8)));
      var b = java.net.http.HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(10)).header("Content-Type", "application/json").header("Walk-Seal", "at=" + at + ",mac=" + sum).header("Walk-Ref", d.event);
      b.header("Walk-Topic", d.kind);
      var r = HTTP.send(b.POST(java.net.http.HttpRequest.BodyPublishers.ofString(d.body)).build(), java.net.http.HttpResponse.BodyHandlers.discarding());
      status = r.statusCode();
      try { wait = Math.min(DAY, Long.parseLong(r.headers().firstValue("Retry-After").orElse("0")) * 1000); } catch (NumberFormatException e) { }
    } catch (Exception e) { status = 0; }
    synchronized (LOCK) {
      long t = now(); d.away = false;
      if (status >= 200 && status < 300) { QUEUE.remove(d); FAILING.remove(d.to); WAIT.remove(d.to); }
      else {
        long first = FAILING.computeIfAbsent(d.to, k -> t); Row l = row("listener", d.to);
        if (wait > 0) WAIT.put(d.to, t + wait);
        if (l != null && (status == 410 || t - first >= 2 * DAY)) {
          Row n = l.copy(); n.put("active", false); DB.get("listener").put(n.key(), n); QUEUE.removeIf(o -> o.to.equals(d.to)); FAILING.remove(d.to); WAIT.remove(d.to);
        }
        long[] waits = f("v-retry-less") ? new long[] { 40 * SEC, 10 * MIN } : new long[] { 40 * SEC, 10 * MIN, 3 * HOUR };
        if (d.tries > waits.length) QUEUE.remove(d); else d.due = t + Math.max(wait, waits[d.tries - 1]);
      }
      pump();
    }
  }
  // ---------- sockets
  static void open(int port, Function<Req, Resp> door) throws IOException {
    ServerSocket ss = new ServerSocket(port, 200, InetAddress.getByName("127.0.0.1"));
    Thread t = new Thread(() -> {
      while (true) try { Socket s = ss.accept(); Thread c = new Thread(() -> serve(s, door)); c.setDaemon(true); c.start(); } catch (IOException e) { }
    });
    t.start();
  }
  static void serve(Socket s, Function<Req, Resp> door) {
    try (s) {
      s.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(s.getInputStream(), 16384); OutputStream out = s.getOutputStream();
      while (true) {
        s.setSoTimeout(60000); in.mark(1);
        if (in.read() < 0) return;
        in.reset();
        long end = System.currentTimeMillis() + 10000; Req q = new Req(); q.remote = s.getInetAddress().getHostAddress(); Resp r; boolean keep = true;
        try {
          r = read(in, q, s, end, out);
          if (r == null) r = door.apply(q);
          keep = !r.close && !q.tooBig && !"close".equalsIgnoreCase(q.one("connection"));
        } catch (SocketTimeoutException e) { r = refuse("too_slow"); keep = false; }
        StringBuilder b = new StringBuilder("HTTP/1.1 " + r.status + " Told\r\n");
        byte[] body = r.body == null ? new byte[0] : r.body.getBytes(StandardCharsets.UTF_8);
        r.head.forEach((k, v) -> b.append(k).append(": ").append(v).append("\r\n"));
        b.append("Date: ").append(http(now())).append("\r\n");
        if (r.body != null) b.append("Content-Type: application/json\r\n");
        if (r.status != 204 && r.status != 304) b.append("Content-Length: ").append(body.length).append("\r\n");
        b.append(keep ? "\r\n" : "Connection: close\r\n\r\n");
        ByteArrayOutputStream all = new ByteArrayOutputStream(); all.writeBytes(b.toString().getBytes(StandardCharsets.UTF_8));
        if (!"HEAD".equals(q.method)) all.writeBytes(body);
        out.write(all.toByteArray()); out.flush();
        if (!keep) { s.shutdownOutput(); s.setSoTimeout(1000); byte[] sink = new byte[8192]; int n = 0; while (n++ < 400 && in.read(sink) >= 0) { } return; }
      }
    } catch (IOException | RuntimeException e) { }
  }
  static Resp refuse(String code) { String t = random(20, HEX); Resp r = new Err(code).resp(t).head("Walk-Trace", t); r.close = true; return r; }
  static int next(InputStream in, Socket s, long end) throws IOException {
    if (in.available() == 0) { long left = end - System.currentTimeMillis(); if (left <= 0) throw new SocketTimeoutException(); s.setSoTimeout((int) left); }
    return in.read();
  }
  static String line(InputStream in, Socket s, long end, int most) throws IOException {
    ByteArrayOutputStream b = new ByteArrayOutputStream();
    while (true) {
      int c = next(in, s, end);
      if (c < 0) throw new EOFException(); else if (c == '\n') { String t = b.toString(StandardCharsets.ISO_8859_1); return t.endsWith("\r") ? t.substring(0, t.length() - 1) : t; }
      b.write(c);
      if (b.size() > most) return null;
    }
  }
  static Resp read(InputStream in, Req q, Socket s, long end, OutputStream out) throws IOException {
    String first = line(in, s, end, 65536);
    if (first == null) return refuse("url_too_long");
    String[] p = first.split(" ");
    if (p.length != 3) return refuse("garbled");
    q.method = p[0]; q.target = p[1];
    int size = 0, qm = q.target.indexOf('?'); boolean big = false;
    q.path = qm < 0 ? q.target : q.target.substring(0, qm); q.query = qm < 0 ? "" : q.target.substring(qm + 1);
    while (true) {
      String h = line(in, s, end, 65536);
      if (h == null) return refuse("head_too_big"); else if (h.isEmpty()) break;
      int c = h.indexOf(':');
      if (c < 1) return refuse("garbled");
      String n = h.substring(0, c), v = h.substring(c + 1).trim();
      size += n.length() + 2 + v.length() + 2;
      q.head.add(new String[] { n, v });
    }
    if (q.target.length() > 2048) return refuse("url_too_long");
    if (size > 8192) return refuse("head_too_big");
    if ("100-continue".equalsIgnoreCase(q.one("expect"))) { out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes()); out.flush(); }
    ByteArrayOutputStream b = new ByteArrayOutputStream();
    String te = q.one("transfer-encoding"), cl = q.one("content-length");
    if (te != null) {
      q.hasBody = true;
      while (true) {
        int n = Integer.parseInt(line(in, s, end, 100).split(";")[0].trim(), 16);
        for (int i = 0; i < n; i++) { int c = next(in, s, end); if (c < 0) throw new EOFException(); if (b.size() <= 9000) b.write(c); }
        String l = line(in, s, end, 9000);
        if (n == 0) { while (!l.isEmpty()) l = line(in, s, end, 9000); break; }
        if (b.size() > 8200) { q.tooBig = true; break; }
      }
    } else if (cl != null) {
      long n = Long.parseLong(cl); q.hasBody = n > 0;
      if (n > 65536) q.tooBig = true;
      else for (long i = 0; i < n; i++) { int c = next(in, s, end); if (c < 0) throw new EOFException(); b.write(c); }
    }
    q.body = b.toByteArray();
    return null;
  }
  public static void main(String[] a) throws Exception {
    int port = 0, clockPort = 0;
    for (int i = 0; i + 1 < a.length; i += 2) switch (a[i]) { case "--port": port = Integer.parseInt(a[i + 1]); break; case "--clock-port": clockPort = Integer.parseInt(a[i + 1]); break; case "--fault": fault = a[i + 1]; break; }
    specs(); routes();
    open(clockPort, Service::clock); open(port, Service::answer);
    while (true) { Thread.sleep(100); synchronized (LOCK) { tick(); } }
  }
}
