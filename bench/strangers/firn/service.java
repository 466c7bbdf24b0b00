// Firn: a vault of ice cores. One process, everything in memory, one lock around all of it.
import com.sun.net.httpserver.*;
import java.io.*;
import java.net.*;
import java.net.http.*;
import java.nio.charset.StandardCharsets;
import java.security.*;
import java.time.*;
import java.time.format.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.regex.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class service {
  // ---------------------------------------------------------------- faults, clock
  static String FAULT = "";
  static boolean f(String id) { return FAULT.equals(id); }
  static final Object L = new Object();
  static long base, nano0; static Long pinned;
  static long now() { return pinned != null ? pinned : base + (System.nanoTime() - nano0) / 1000000; }
  static void setClock(long t) { base = t; nano0 = System.nanoTime(); }
  static final DateTimeFormatter ISO = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
  static String iso(long t) { return ISO.format(Instant.ofEpochMilli(t)); }
  static String httpDate(long t) { return DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US).withZone(ZoneOffset.UTC).format(Instant.ofEpochMilli(t)); }
  static final Pattern DT = Pattern.compile("\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)");
  static Long instant(Object o) {
    if (!(o instanceof String) || !DT.matcher((String) o).matches()) return null;
    try { return OffsetDateTime.parse(((String) o).toUpperCase()).toInstant().toEpochMilli(); } catch (Exception e) { return null; }
  }

  // ---------------------------------------------------------------- JSON
  static class Bad extends RuntimeException { }
  static class P {
    final String s; int i = 0; int depth = 0;
    P(String s) { this.s = s; }
    void ws() { while (i < s.length() && " \t\r\n".indexOf(s.charAt(i)) >= 0) i++; }
    Object all() { Object v = val(); ws(); if (i != s.length()) throw new Bad(); return v; }
    Object val() {
      ws(); if (i >= s.length() || ++depth > 200) throw new Bad();
      try {
        char c = s.charAt(i);
        if (c == '{') {
          Map<String, Object> m = new LinkedHashMap<>(); i++; ws();
          if (pk('}')) return m;
          do { ws(); if (i >= s.length() || s.charAt(i) != '"') throw new Bad(); String k = str(); ws(); need(':'); m.put(k, val()); ws(); } while (pk(','));
          need('}'); return m;
        }
        if (c == '[') {
          List<Object> l = new ArrayList<>(); i++; ws(); if (pk(']')) return l;
          do { l.add(val()); ws(); } while (pk(','));
          need(']'); return l;
        }
        if (c == '"') return str();
        if (s.startsWith("true", i)) { i += 4; return true; }
        if (s.startsWith("false", i)) { i += 5; return false; }
        if (s.startsWith("null", i)) { i += 4; return null; }
        Matcher m = Pattern.compile("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?").matcher(s); m.region(i, s.length());
        if (!m.lookingAt()) throw new Bad();
        i = m.end();
        if (m.group(2) == null && m.group(3) == null) try { return Long.parseLong(m.group()); } catch (NumberFormatException e) { return Double.parseDouble(m.group()); }
        return Double.parseDouble(m.group());
      } finally { depth--; }
    }
    boolean pk(char c) { if (i < s.length() && s.charAt(i) == c) { i++; return true; } return false; }
    void need(char c) { if (!pk(c)) throw new Bad(); }
    String str() {
      StringBuilder b = new StringBuilder(); i++;
      while (true) {
        if (i >= s.length()) throw new Bad();
        char c = s.charAt(i++);
        if (c == '"') return b.toString();
        if (c < 32) throw new Bad();
        if (c != '\\') { b.append(c); continue; }
        if (i >= s.length()) throw new Bad();
        c = s.charAt(i++);
        int k = "\"\\/bfnrt".indexOf(c);
        if (k >= 0) b.append("\"\\/\b\f\n\r\t".charAt(k));
        else if (c == 'u' && i + 4 <= s.length()) { try { b.append((char) Integer.parseInt(s.substring(i, i + 4), 16)); } catch (NumberFormatException e) { throw new Bad(); } i += 4; }
        else throw new Bad();
      }
    }
  }
  static Object parse(String s) { return new P(s).all(); }
  static String json(Object o) { StringBuilder b = new StringBuilder(); w(b, o); return b.toString(); }
  static void w(StringBuilder b, Object o) {
    if (o instanceof Map) { b.append('{'); boolean x = false; for (Map.Entry<?, ?> e : ((Map<?, ?>) o).entrySet()) { if (x) b.append(','); x = true; w(b, e.getKey()); b.append(':'); w(b, e.getValue()); } b.append('}'); }
    else if (o instanceof List) { b.append('['); boolean x = false; for (Object e : (List<?>) o) { if (x) b.append(','); x = true; w(b, e); } b.append(']'); }
    else if (o instanceof String) { b.append('"'); for (char c : ((String) o).toCharArray()) { if (c == '"' || c == '\\') b.append('\\').append(c); else if (c < 32) b.append(String.format("\\u%04x", (int) c)); else b.append(c); } b.append('"'); }
    else if (o instanceof Double && ((Double) o) == Math.rint((Double) o) && Math.abs((Double) o) < 1e15) b.append(((Double) o).longValue());
    else b.append(o);
  }
  @SuppressWarnings("unchecked") static Map<String, Object> map(Object o) { return (Map<String, Object>) o; }
  @SuppressWarnings("unchecked") static List<Object> list(Object o) { return (List<Object>) o; }
  static Map<String, Object> m(Object... kv) { Map<String, Object> m = new LinkedHashMap<>(); for (int i = 0; i < kv.length; i += 2) if (kv[i + 1] != null) m.put((String) kv[i], kv[i + 1]); return m; }
  static Object copy(Object o) {
    if (o instanceof Map) { Map<String, Object> r = new LinkedHashMap<>(); for (Map.Entry<String, Object> e : map(o).entrySet()) r.put(e.getKey(), copy(e.getValue())); return r; }
    if (o instanceof List) { List<Object> r = new ArrayList<>(); for (Object e : list(o)) r.add(copy(e)); return r; }
    return o;
  }
  static boolean eq(Object a, Object b) {
    if (a instanceof Number && b instanceof Number) return ((Number) a).doubleValue() == ((Number) b).doubleValue();
    if (a instanceof Map && b instanceof Map) { if (!map(a).keySet().equals(map(b).keySet())) return false; for (String k : map(a).keySet()) if (!eq(map(a).get(k), map(b).get(k))) return false; return true; }
    if (a instanceof List && b instanceof List) { if (list(a).size() != list(b).size()) return false; for (int i = 0; i < list(a).size(); i++) if (!eq(list(a).get(i), list(b).get(i))) return false; return true; }
    return Objects.equals(a, b);
  }

  // ---------------------------------------------------------------- shapes
  static final Map<String, Object> SPEC = map(parse(("{"
    + "'place':{'glacier':{'type':'string','minLength':2,'maxLength':60,'req':1},'lat':{'type':'number','minimum':-90,'maximum':90,'req':1},'lon':{'type':'number','minimum':-180,'maximum':180,'req':1},'half':{'type':'string','ro':1}},"
    + "'bay':{'code':{'type':'string','pattern':'^[A-Z][0-9]{2}$'},'celsius':{'type':'number','minimum':-90,'maximum':-10,'req':1},'capacity':{'type':'integer','minimum':1,'maximum':500,'req':1},'remark':{'type':'string','maxLength':80},'held':{'type':'integer','ro':1},'opened_at':{'type':'string','ro':1}},"
    + "'core':{'id':{'type':'string','ro':1},'serial':{'type':'string','ro':1},'bay':{'type':'string','ref':'bay','req':1},'label':{'type':'string','pattern':'^[a-z0-9-]{3,30}$','req':1},'place':{'type':'place','req':1},'drilled_on':{'type':'string','format':'date','req':1,'imm':1},'length_mm':{'type':'integer','minimum':100,'maximum':6000,'req':1},'rest_mm':{'type':'integer','ro':1},'grade':{'enum':['prime','fair','poor'],'type':'string','default':'fair','req':1},'tags':{'type':'array','items':{'type':'string','minLength':1,'maxLength':20},'maxItems':6,'uniqueItems':true,'default':[],'req':1},'marks':{'type':'object','additionalProperties':{'type':'string','maxLength':40},'maxProperties':4},'cellar_note':{'type':'string','maxLength':200},'curator':{'type':'string','ro':1},'state':{'type':'string','ro':1},'shelved_at':{'type':'string','ro':1},'logged_at':{'type':'string','ro':1},'touched_at':{'type':'string','ro':1}},"
    + "'cut':{'id':{'type':'string','ro':1},'number':{'type':'integer','ro':1},'core':{'type':'string','imm':1,'req':1},'lab':{'type':'string','ro':1},'firm':{'type':'string','ro':1},'top_mm':{'type':'integer','minimum':0,'maximum':5990,'req':1},'length_mm':{'type':'integer','minimum':10,'maximum':1500,'req':1},'aim':{'type':'string','minLength':3,'maxLength':120,'req':1},'urgency':{'type':'integer','enum':[1,2,3],'default':2,'req':1},'needed_by':{'type':'string','format':'date-time'},'verdict':{'type':'string','ro':1},'state':{'type':'string','ro':1},'asked_at':{'type':'string','ro':1},'sent_at':{'type':'string','ro':1},'readings':{'type':'array','ro':1}},"
    + "'reading':{'id':{'type':'integer','ro':1},'cut':{'type':'string','imm':1,'req':1},'isotope':{'type':'string','enum':['d18o','dd','dust','ash'],'req':1},'value':{'type':'number','minimum':-1000,'maximum':1000,'req':1},'sigma':{'type':'number','minimum':0,'maximum':100},'remark':{'type':'string','maxLength':80},'by':{'type':'string','ro':1},'revised_at':{'type':'string','ro':1}},"
    + "'hook':{'id':{'type':'string','ro':1},'target':{'type':'string','format':'uri','maxLength':200,'req':1},'secret':{'type':'string','ro':1},'wants':{'type':'array','items':{'type':'string'},'maxItems':8},'live':{'type':'boolean','default':true,'req':1},'owner':{'type':'string','ro':1},'made_at':{'type':'string','ro':1}},"
    + "'trace':{'id':{'type':'string','ro':1},'kind':{'type':'string','ro':1},'subject':{'type':'string','ro':1},'body':{'type':'object','ro':1},'at':{'type':'string','ro':1}},"
    + "'refusal':{'reason':{'type':'string','minLength':4,'maxLength':100,'req':1}}"
    + "}").replace('\'', '"')));
  static final Map<String, Object> OLD = new LinkedHashMap<>();
  static {
    for (String r : SPEC.keySet()) {
      Map<String, Object> o = new LinkedHashMap<>();
      for (Map.Entry<String, Object> e : map(SPEC.get(r)).entrySet()) {
        String k = e.getKey(); Map<String, Object> v = map(copy(e.getValue()));
        if (r.equals("core") && k.equals("length_mm")) k = "length";
        if (r.equals("core") && k.equals("tags")) continue;
        if (r.equals("core") && k.equals("grade")) v.put("enum", List.of("clear", "fair", "poor"));
        if (r.equals("cut") && k.equals("length_mm")) { k = "length_m"; v = m("type", "number", "minimum", 0.01, "maximum", 1.5, "req", 1L); }
        if (r.equals("reading") && k.equals("sigma")) continue;
        o.put(k, v);
      }
      if (r.equals("core")) o.put("crate", m("type", "string"));
      OLD.put(r, o);
    }
  }
  static final String V1 = "2025-02", V2 = "2026-09";
  static Map<String, Object> spec(String res, String ver) { return map((ver.equals(V1) ? OLD : SPEC).get(res)); }
  static Map<String, Object> down(String res, Map<String, Object> row, String ver) {
    if (!ver.equals(V1)) return row;
    Map<String, Object> o = new LinkedHashMap<>();
    for (Map.Entry<String, Object> e : row.entrySet()) {
      String k = e.getKey(); Object v = e.getValue();
      if (res.equals("core") && k.equals("length_mm") && !f("old-core-keeps-length-mm")) k = "length";
      if (res.equals("core") && k.equals("tags") && !f("old-core-shows-tags")) continue;
      if (res.equals("core") && k.equals("grade") && v.equals("prime") && !f("old-grade-not-renamed")) v = "clear";
      if (res.equals("cut") && k.equals("length_mm")) { k = "length_m"; v = ((Number) v).longValue() / (f("old-cut-in-centimetres") ? 100.0 : 1000.0); }
      if (res.equals("cut") && k.equals("readings") && v instanceof List) { List<Object> l = new ArrayList<>(); for (Object x : list(v)) l.add(f("old-children-keep-sigma") ? x : down("reading", map(x), ver)); v = l; }
      if (res.equals("reading") && k.equals("sigma")) continue;
      o.put(k, v);
    }
    if (res.equals("core") && !f("old-core-without-crate")) o.put("crate", "unboxed");
    return o;
  }
  static String upName(String res, String k, String ver) {
    if (!ver.equals(V1)) return k;
    if (res.equals("core") && k.equals("length")) return "length_mm";
    if (res.equals("cut") && k.equals("length_m")) return "length_mm";
    return k;
  }
  static Object upValue(String res, String k, Object v, String ver) {
    if (!ver.equals(V1)) return v;
    if (res.equals("core") && k.equals("grade") && "clear".equals(v)) return "prime";
    if (res.equals("cut") && k.equals("length_m")) { double d = ((Number) v).doubleValue() * 1000.0; return f("old-length-truncated") ? (long) d : (long) (Math.signum(d) * Math.floor(Math.abs(d) + 0.5)); }
    return v;
  }

  // ---------------------------------------------------------------- refusals
  static class E extends RuntimeException {
    final String code; List<Object> cracks; String message; Map<String, String> headers = new LinkedHashMap<>(); boolean own;
    E(String code) { super(code, null, false, false); this.code = code; }
    E(String code, List<Object> cracks) { this(code); this.cracks = cracks; }
    E h(String k, String v) { headers.put(k, v); return this; }
    E own() { own = true; return this; }
  }
  static final Map<String, Integer> STATUS = new HashMap<>();
  static final Map<String, String> SAYS = new HashMap<>();
  static {
    String t = "garbled 400 not_json 415 odd_query 400 bad_leaf 400 lacking 422 stray 422 unfit 422 no_trail 404 wrong_tool 405 no_pass 401 stale_seal 401 bad_pass 401 out_of_scope 403 keep_out 403 not_here 404 dangling 422 label_taken 409 still_held 409 wrong_state 409 melted_tag 412 tag_wanted 428 key_worn 409 too_fast 429 used_up 402 too_big 413 long_way 414 top_heavy 431 strange_edition 400 old_edition 410 cracked 500 not_on_shelf 409 past_recall 409 bay_full 409 no_shrinking 409 not_frozen 409 too_little_ice 409 ice_gone 409 time_past 422 not_in_hand 409";
    String[] a = t.split(" "); for (int i = 0; i < a.length; i += 2) STATUS.put(a[i], Integer.parseInt(a[i + 1]));
    SAYS.put("not_on_shelf", "That core is not on a shelf."); SAYS.put("past_recall", "The saw has begun."); SAYS.put("bay_full", "The bay has no room."); SAYS.put("no_shrinking", "Pieces are promised of it.");
    SAYS.put("not_frozen", "That core is not for sawing."); SAYS.put("too_little_ice", "So much is not left of it."); SAYS.put("ice_gone", "Others were quicker."); SAYS.put("time_past", "That time is over."); SAYS.put("not_in_hand", "You have not got that piece.");
  }
  static class V { final String path, kind, expected; final Object found; V(String p, String k, Object f, String e) { path = p; kind = k; found = f; expected = e; } }
  static E invalid(List<V> vs) {
    List<Object> cracks = new ArrayList<>();
    for (V v : vs) { cracks.add(m("in", "body", "path", f("violations-as-pointers") ? "/" + v.path.replace('.', '/') : v.path, "found", v.found == null ? null : v.found, "expected", v.expected)); if (f("only-first-violation")) break; }
    V v = vs.get(0);
    if (f("missing-names-the-code")) for (V x : vs) if (x.kind.equals("missing")) { v = x; break; }
    E e = new E(v.kind.equals("missing") ? "lacking" : v.kind.equals("unknown") && !f("stray-field-is-unfit") ? "stray" : "unfit", cracks);
    e.message = v.kind.equals("missing") ? v.path + " is lacking" : v.kind.equals("unknown") ? v.path + " is stray" : v.path + " is not " + v.expected;
    if (f("lacking-message-shows-value") && v.kind.equals("missing")) e.message = "something is lacking";
    return e;
  }
  static E odd(String name, String exp) { return new E("odd_query", List.of(m("in", "query", "path", name, "expected", exp))); }

  static void check(String path, Map<String, Object> s, Object v, String ver, List<V> out, String op) {
    String type = (String) s.get("type");
    boolean ok;
    switch (type) {
      case "place":
        if (!(v instanceof Map)) { out.add(new V(path, "type", v, "a map")); return; }
        object("place", map(v), ver, path, out, op); return;
      case "string": ok = v instanceof String; break;
      case "boolean": ok = v instanceof Boolean; break;
      case "number": ok = v instanceof Number; break;
      case "integer": ok = v instanceof Long || v instanceof Double && ((Double) v) == Math.rint((Double) v) || f("numbers-pass-for-integers") && v instanceof Double; break;
      case "array": ok = v instanceof List; break;
      default: ok = v instanceof Map;
    }
    if (!ok) { out.add(new V(path, "type", v, "a value of type " + type)); return; }
    String no = null;
    if (s.containsKey("enum")) { boolean in = false; for (Object x : list(s.get("enum"))) in |= eq(x, v); if (!in && !(f("urgency-takes-anything") && path.equals("urgency"))) no = "one of " + json(s.get("enum")); }
    if (v instanceof String) {
      String t = (String) v; int n = t.codePointCount(0, t.length());
      if (f("length-in-utf16")) n = t.length();
      if (s.containsKey("minLength") && n < ((Number) s.get("minLength")).intValue()) no = "at least " + s.get("minLength") + " characters";
      if (s.containsKey("maxLength") && n > ((Number) s.get("maxLength")).intValue() + (f("aim-one-too-long") && path.equals("aim") ? 1 : 0)) no = "at most " + s.get("maxLength") + " characters";
      if (s.containsKey("pattern")) { Matcher mm = Pattern.compile((String) s.get("pattern")).matcher(t); if (!(f("label-any-case") && path.equals("label") ? Pattern.compile("(?i)" + s.get("pattern")).matcher(t).find() : mm.find() && !t.endsWith("\n"))) no = "a text like " + s.get("pattern"); }
      String fm = (String) s.get("format");
      if ("date".equals(fm)) { boolean g = t.matches("\\d{4}-\\d\\d-\\d\\d"); if (g && !f("drilled-on-any-digits")) try { LocalDate.parse(t); } catch (Exception e) { g = false; } if (!g) no = "a date"; }
      if ("date-time".equals(fm) && instant(t) == null && !(f("needed-by-takes-a-date") && t.matches("\\d{4}-\\d\\d-\\d\\d"))) no = "a date-time";
      if ("uri".equals(fm)) { boolean g; try { URI u = new URI(t); g = u.isAbsolute() && (!u.getScheme().matches("https?") || u.getHost() != null) && u.getScheme().matches("https?"); } catch (Exception e) { g = false; } if (!g && !f("target-any-text")) no = "a uri"; }
    }
    if (v instanceof Number) {
      double d = ((Number) v).doubleValue();
      if (s.containsKey("minimum") && (d < ((Number) s.get("minimum")).doubleValue() || f("top-zero-refused") && path.equals("top_mm") && d == 0)) no = "at least " + s.get("minimum");
      if (s.containsKey("maximum") && d > ((Number) s.get("maximum")).doubleValue() && !(f("celsius-above-ten") && path.equals("celsius") && d < 0)) no = "at most " + s.get("maximum");
    }
    if (v instanceof List) {
      List<Object> l = list(v);
      if (s.containsKey("maxItems") && l.size() > ((Number) s.get("maxItems")).intValue()) no = "at most " + s.get("maxItems") + " items";
      if (s.containsKey("uniqueItems") && !f("tags-may-repeat")) for (int i = 0; i < l.size(); i++) for (int j = 0; j < i; j++) if (eq(l.get(i), l.get(j))) no = "items that differ";
      if (no == null) for (int i = 0; i < l.size(); i++) check(path + "." + i, map(s.get("items")), l.get(i), ver, out, op);
    }
    if (v instanceof Map && type.equals("object")) {
      if (s.containsKey("maxProperties") && map(v).size() > ((Number) s.get("maxProperties")).intValue() && !f("marks-without-end")) no = "at most " + s.get("maxProperties") + " members";
      if (no == null && s.containsKey("additionalProperties") && !f("marks-take-anything")) for (Map.Entry<String, Object> e : map(v).entrySet()) check(path + "." + e.getKey(), map(s.get("additionalProperties")), e.getValue(), ver, out, op);
    }
    if (no != null) out.add(new V(path, "value", v, no));
  }
  // drops from `body` what its caller does not write; says what is wrong with the rest
  static void object(String res, Map<String, Object> body, String ver, String at, List<V> out, String op) {
    Map<String, Object> sp = spec(res, ver);
    String pre = at.isEmpty() ? "" : at + ".";
    for (String k : new ArrayList<>(body.keySet())) {
      if (!sp.containsKey(k)) { if (!f("stray-fields-pass") || !at.isEmpty()) { if (!(f("place-takes-strays") && !at.isEmpty())) out.add(new V(pre + k, "unknown", body.get(k), "no such field")); else body.remove(k); } else body.remove(k); continue; }
      Map<String, Object> s = map(sp.get(k));
      if (s.containsKey("ro") || op.equals("writes-no-" + k)) { if (f("read-only-refused")) out.add(new V(pre + k, "value", body.get(k), "read-only")); else if (f("curator-is-taken") && k.equals("curator")) ; else body.remove(k); continue; }
      if (body.get(k) == null && op.equals("update") && at.isEmpty()) {
        if (s.containsKey("req") && !(f("null-takes-required-away") && s.containsKey("default"))) out.add(new V(k, "value", null, "a value"));
        continue;
      }
      check(pre + k, s, body.get(k), ver, out, at.isEmpty() ? op : op);
    }
    if (op.equals("update") && at.isEmpty()) return;
    for (Map.Entry<String, Object> e : sp.entrySet()) if (map(e.getValue()).containsKey("req") && !map(e.getValue()).containsKey("default") && !map(e.getValue()).containsKey("imm-kept") && !body.containsKey(e.getKey()) && !(op.equals("replace") && map(e.getValue()).containsKey("imm"))) out.add(new V(pre + e.getKey(), "missing", null, "a value"));
  }

  // ---------------------------------------------------------------- rows
  static final Map<String, LinkedHashMap<String, Map<String, Object>>> T = new HashMap<>();
  static { for (String r : List.of("bay", "core", "cut", "reading", "hook", "trace")) T.put(r, new LinkedHashMap<>()); }
  static Map<String, Object> row(String res, Object id) { return T.get(res).get(String.valueOf(id)); }
  static Collection<Map<String, Object>> rows(String res) { return T.get(res).values(); }
  static long num(Object o) { return ((Number) o).longValue(); }
  static final SecureRandom RND = new SecureRandom();
  static String rnd(int n, String abc) { StringBuilder b = new StringBuilder(); for (int i = 0; i < n; i++) b.append(abc.charAt(RND.nextInt(abc.length()))); return b.toString(); }
  static final String ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  static String ulid() { String c = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"; StringBuilder b = new StringBuilder(); long t = now(); for (int i = 9; i >= 0; i--) b.append(c.charAt((int) (t >> (5 * i)) & 31)); return b + rnd(16, c); }
  static long serials = 0, readingIds = 0;
  static final Map<String, Long> cutNumbers = new HashMap<>();
  // what the clock has yet to do for a row, beside it
  static final Map<String, Long> spoilAt = new LinkedHashMap<>(), meltAt = new LinkedHashMap<>(), lapseAt = new LinkedHashMap<>(), dueAt = new LinkedHashMap<>(), dueTold = new HashMap<>();
  static final Map<String, String> hookVersion = new HashMap<>();
  static final Map<String, Map<String, Object>> heldCache = new HashMap<>();

  static long held(String code) { long n = 0; for (Map<String, Object> c : rows("core")) if (c.get("bay").equals(code) && (c.get("state").equals("frozen") || f("held-counts-logged") && c.get("state").equals("logged"))) n++; return n; }
  static long rest(Map<String, Object> core) {
    long n = num(core.get("length_mm"));
    for (Map<String, Object> c : rows("cut")) if (c.get("core").equals(core.get("id"))) {
      String s = (String) c.get("state");
      if (List.of("granted", "sawn", "sent", "received").contains(s) && !(f("rest-forgets-received") && s.equals("received")) || f("rest-counts-asked") && s.equals("asked") || f("rest-counts-melted") && s.equals("melted")) n -= num(c.get("length_mm"));
    }
    return n;
  }
  static class Caller { String user, id, firm; Set<String> scopes = new HashSet<>(); String key() { return user + "/" + id; } }

  static boolean mayRead(String user, String id, String res, Map<String, Object> r) {
    switch (res) {
      case "bay": return true;
      case "core": return !user.equals("lab") || List.of("frozen", "retired").contains(r.get("state")) && !(f("labs-lose-retired-cores") && r.get("state").equals("retired")) || f("labs-see-logged-cores");
      case "cut": return !user.equals("lab") || r.get("lab").equals(id);
      case "reading": { if (!user.equals("lab")) return true; Map<String, Object> c = row("cut", r.get("cut")); return c != null && c.get("lab").equals(id) || f("readings-for-all-labs"); }
      case "hook": return r.get("owner").equals(id) && !user.equals("auditor") || f("hooks-for-all-keepers") && user.equals("keeper");
      case "trace": return user.equals("auditor");
    }
    return false;
  }
  static final List<String> AUDIT = List.of("id", "number", "core", "length_mm", "state", "asked_at");
  static Map<String, Object> show(String res, Map<String, Object> r, String user, String ver, boolean children, boolean reveal) {
    Map<String, Object> o = new LinkedHashMap<>();
    for (String k : map(SPEC.get(res)).keySet()) {
      if (res.equals("cut") && user.equals("auditor") && !AUDIT.contains(k) && !(f("auditors-see-labs") && (k.equals("lab") || k.equals("firm")))) continue;
      if (k.equals("cellar_note") && !user.equals("keeper") && !(f("cellar-note-for-auditors") && user.equals("auditor"))) continue;
      if (k.equals("secret") && !reveal) continue;
      Object v = r.get(k);
      if (res.equals("bay") && k.equals("held")) v = held((String) r.get("code"));
      if (res.equals("core") && k.equals("rest_mm")) v = rest(r);
      if (res.equals("cut") && k.equals("readings")) {
        if (!children) continue;
        List<Map<String, Object>> l = new ArrayList<>();
        for (Map<String, Object> x : rows("reading")) if (x.get("cut").equals(r.get("id"))) l.add(x);
        if (!f("children-by-age")) l.sort(Comparator.comparing(x -> (String) x.get("isotope")));
        List<Object> ll = new ArrayList<>(); for (Map<String, Object> x : l) ll.add(show("reading", x, user, V2, false, false)); v = ll;
      }
      if (v != null) o.put(k, v);
    }
    return down(res, o, ver);
  }

  // ---------------------------------------------------------------- events
  static final List<String> KINDS = List.of("core.shelved", "core.regraded", "core.lost", "cut.asked", "cut.decided", "cut.moved", "cut.dropped", "cut.due", "reading.in");
  static class Delivery { String hook, event, kind, rowKey, body; long due, seq; int tries; boolean flying; }
  static final List<Delivery> queue = new ArrayList<>();
  static final Map<String, Long> failingSince = new HashMap<>(), notBefore = new HashMap<>();
  static long seq = 0; static int flying = 0;
  static boolean wants(Map<String, Object> hook, String kind) {
    if (!hook.containsKey("wants")) return !f("no-wants-is-none");
    for (Object w : list(hook.get("wants"))) { String s = (String) w; if (s.equals("*") || s.equals(kind) || s.endsWith(".*") && kind.startsWith(s.substring(0, s.length() - 1)) && !f("star-of-a-family-ignored")) return true; }
    return false;
  }
  static void emit(String kind, String res, Map<String, Object> r, Map<String, Object> data) {
    String id = "tr_" + rnd(18, ALNUM);
    String at = iso(now());
    if (f("event-time-in-seconds")) at = at.substring(0, 19) + "Z";
    Object rid = r.get(res.equals("bay") ? "code" : "id");
    Map<String, Object> logged = data != null ? data : show(res, r, f("log-shows-labs") ? "keeper" : "auditor", V2, false, false);
    if (res.equals("core") && data == null && !f("log-holds-cellar-note")) logged.remove("cellar_note");
    if (res.equals("core") && data == null && f("log-holds-cellar-note") && r.containsKey("cellar_note")) logged.put("cellar_note", r.get("cellar_note"));
    if (!(f("clock-events-not-logged") && (kind.equals("cut.due") || "lapsed".equals(r.get("state")))))
      T.get("trace").put(id, m("id", f("log-has-ids-of-its-own") ? "tr_" + rnd(18, ALNUM) : id, "kind", kind, "subject", String.valueOf(f("log-subject-is-core") && res.equals("cut") ? r.get("core") : rid), "body", copy(logged), "at", at));
    if (f("log-has-ids-of-its-own")) { Map<String, Object> x = T.get("trace").remove(id); if (x != null) T.get("trace").put((String) x.get("id"), x); }
    for (Map<String, Object> h : rows("hook")) {
      if (!Boolean.TRUE.equals(h.get("live")) && !f("dead-hooks-are-told") || !wants(h, kind)) continue;
      String owner = (String) h.get("owner"); String user = userOf(owner);
      if (!mayRead(user, owner, res, r) && !(f("hooks-hear-of-all-cuts") && res.equals("cut"))) continue;
      String ver = f("hooks-told-in-current") ? V2 : hookVersion.get(h.get("id"));
      Object about = data != null ? data : show(res, r, f("hooks-leak-cellar-note") ? "keeper" : user, ver, f("payload-has-children"), false);
      Delivery d = new Delivery(); d.hook = (String) h.get("id"); d.event = id; d.kind = kind; d.rowKey = res + "/" + rid; d.due = now(); d.seq = seq++;
      d.body = json(f("envelope-id-not-event") ? m("id", id, "what", kind, "when", at, "about", about) : m("event", id, "what", kind, "when", at, "about", about));
      queue.add(d);
      if (f("events-twice") && kind.equals("cut.moved")) { Delivery e = new Delivery(); e.hook = d.hook; e.event = "tr_" + rnd(18, ALNUM); e.kind = kind; e.rowKey = d.rowKey; e.due = d.due; e.seq = seq++; e.body = d.body.replace(id, e.event); queue.add(e); }
    }
    L.notifyAll();
  }
  static String userOf(String id) { for (Caller c : PASS.values()) if (c.id.equals(id)) return c.user; for (Caller c : SEAL.values()) if (c.id.equals(id)) return c.user; return "lab"; }
  static final long[] RETRY = { 10000, 120000, 1200000 };
  static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(3)).build();
  static final ExecutorService POOL = Executors.newCachedThreadPool(r -> { Thread t = new Thread(r); t.setDaemon(true); return t; });
  static boolean ready(Delivery d) {
    if (d.flying) return false;
    if (!f("deliveries-out-of-order")) for (Delivery e : queue) if (e.seq < d.seq && e.hook.equals(d.hook) && e.rowKey.equals(d.rowKey)) return false;
    return true;
  }
  static long dueOf(Delivery d) { return Math.max(d.due, notBefore.getOrDefault(d.hook, 0L)); }
  static void launch(Delivery d) {
    d.flying = true; flying++;
    Map<String, Object> h = row("hook", d.hook);
    String target = (String) h.get("target"), secret = (String) h.get("secret");
    long ts = now() / 1000;
    POOL.execute(() -> {
      int st = 0; String ra = null;
      try {
        String mac = hmac(secret, (f("mark-without-id") ? "" : d.event + ".") + ts + "." + d.body);
        if (f("mark-in-base64")) mac = Base64.getEncoder().encodeToString(hexBytes(mac));
        HttpRequest.Builder b = HttpRequest.newBuilder(URI.create(target)).timeout(Duration.ofSeconds(4)).header("Content-Type", "application/json")
          .header("Firn-Mark", "at=" + (f("mark-time-of-first-try") && d.tries > 0 ? ts - 10 : ts) + ",mac=" + mac).POST(HttpRequest.BodyPublishers.ofString(d.body));
        if (!f("no-kind-header")) b.header("Firn-Kind", d.kind);
        HttpResponse<String> a = HTTP.send(b.build(), HttpResponse.BodyHandlers.ofString());
        st = a.statusCode(); ra = a.headers().firstValue("Retry-After").orElse(null);
      } catch (Exception e) { st = 0; }
      synchronized (L) {
        d.flying = false; flying--;
        boolean ok = st / 100 == 2 || f("redirect-is-success") && st / 100 == 3;
        if (!T.get("hook").containsKey(d.hook)) queue.remove(d);
        else if (ok) { queue.remove(d); failingSince.remove(d.hook); }
        else {
          failingSince.putIfAbsent(d.hook, now());
          boolean off = st == 410 && !f("gone-hooks-stay-live") || now() - failingSince.get(d.hook) >= 86400000L && !f("never-disabled");
          if (off) { row("hook", d.hook).put("live", false); failingSince.remove(d.hook); queue.removeIf(x -> x.hook.equals(d.hook)); }
          else if (d.tries >= (f("one-retry-less") ? 2 : f("one-retry-more") ? 9 : RETRY.length)) queue.remove(d);
          else { d.due = now() + RETRY[Math.min(2, f("retries-all-after-ten-seconds") ? 0 : d.tries)]; d.tries++;
            if (ra != null && ra.matches("\\d{1,6}") && !f("retry-after-of-hooks-ignored")) notBefore.put(d.hook, now() + Math.min(86400000L, Long.parseLong(ra) * 1000)); }
        }
        L.notifyAll();
      }
    });
  }
  // does what is due at this moment; true where something was done
  static boolean tick() {
    boolean any = false; long t = now();
    for (String id : new ArrayList<>(spoilAt.keySet())) if (spoilAt.get(id) <= t) { spoilAt.remove(id); moveCore(row("core", id), "spoiled", null); any = true; }
    for (String id : new ArrayList<>(lapseAt.keySet())) if (lapseAt.get(id) <= t) { lapseAt.remove(id); Map<String, Object> c = row("cut", id); if (c.get("state").equals("asked") || f("lapse-takes-granted") && c.get("state").equals("granted")) moveCut(c, "lapsed", null); any = true; }
    for (String id : new ArrayList<>(meltAt.keySet())) if (meltAt.get(id) <= t) { meltAt.remove(id); Map<String, Object> c = row("cut", id); if (c.get("state").equals("sent") || f("received-cuts-melt")) moveCut(c, "melted", null); any = true; }
    for (String id : new ArrayList<>(dueAt.keySet())) if (dueAt.get(id) <= t) { long at = dueAt.remove(id); dueTold.put(id, at); Map<String, Object> c = row("cut", id); emit("cut.due", "cut", c, m("cut", id, "number", c.get("number"))); any = true; }
    for (Map<String, Object> x : new ArrayList<>(rows("trace"))) { if (instant(x.get("at")) + 7 * 86400000L <= t && !f("log-kept-for-ever")) { T.get("trace").remove(x.get("id")); any = true; } else break; }
    for (Delivery d : new ArrayList<>(queue)) if (queue.contains(d) && ready(d) && dueOf(d) <= t) { launch(d); any = true; }
    return any;
  }
  static long nextDue() {
    long n = Long.MAX_VALUE;
    for (Map<String, Long> mm : List.of(spoilAt, lapseAt, meltAt, dueAt)) for (long x : mm.values()) n = Math.min(n, x);
    for (Delivery d : queue) if (ready(d)) n = Math.min(n, dueOf(d));
    for (Map<String, Object> x : rows("trace")) { if (!f("log-kept-for-ever")) n = Math.min(n, instant(x.get("at")) + 7 * 86400000L); break; }
    return n;
  }
  static void settle() throws InterruptedException { long end = System.nanoTime() + 8000000000L; while (flying > 0 && System.nanoTime() < end) L.wait(200); }
  static void moveTo(long target) throws InterruptedException {
    while (true) {
      settle();
      long n = nextDue();
      if (n > target) break;
      pinned = Math.max(n, now());
      if (!tick()) L.wait(5);
    }
    setClock(target); pinned = null; tick(); settle(); L.notifyAll();
  }

  // ---------------------------------------------------------------- changes
  static void touch(Map<String, Object> core, String how) { if (!(f("clock-does-not-touch") && how.equals("clock")) && !(f("shelving-does-not-touch") && how.equals("shelve"))) core.put("touched_at", iso(now())); }
  static void moveCore(Map<String, Object> c, String to, String op) {
    c.put("state", to); touch(c, op == null ? "clock" : op); spoilAt.remove(c.get("id"));
    if (to.equals("frozen")) { if (!f("no-shelved-at")) c.put("shelved_at", iso(now())); emit("core.shelved", "core", c, null); }
    else if (!(f("spoil-is-silent") && to.equals("spoiled"))) emit("core.lost", "core", c, m("core", c.get("id"), "serial", c.get("serial"), "how", f("lost-tells-old-state") ? (to.equals("retired") ? "frozen" : "logged") : to));
    if (to.equals("retired") && !f("retire-leaves-cuts")) for (Map<String, Object> x : new ArrayList<>(rows("cut"))) if (x.get("core").equals(c.get("id")) && (x.get("state").equals("asked") || x.get("state").equals("granted") && !f("retire-leaves-granted"))) moveCut(x, "voided", null);
  }
  static void moveCut(Map<String, Object> c, String to, String op) {
    String id = (String) c.get("id");
    c.put("state", to);
    if (!to.equals("asked") && !f("lapse-takes-granted")) lapseAt.remove(id);
    if (!f("received-cuts-melt")) meltAt.remove(id);
    switch (to) {
      case "granted": case "refused": emit("cut.decided", "cut", c, m("cut", id, "state", to, "verdict", c.containsKey("verdict") && !f("verdict-always-yes") ? c.get("verdict") : "yes")); break;
      case "sent": c.put("sent_at", iso(now())); meltAt.put(id, now() + (f("melts-after-a-day") ? 24 : 72) * 3600000L); emit("cut.moved", "cut", c, null); break;
      case "received": case "melted": if (!(f("melting-is-silent") && to.equals("melted"))) emit("cut.moved", "cut", c, null); break;
      case "withdrawn": case "voided": case "lapsed": if (!(f("voiding-is-silent") && to.equals("voided"))) emit("cut.dropped", "cut", c, m("cut", id, "number", c.get("number"), "why", to)); break;
    }
  }
  static void timers(Map<String, Object> cut) {
    String id = (String) cut.get("id"); Long nb = instant(cut.get("needed_by"));
    if (nb == null) { lapseAt.remove(id); dueAt.remove(id); return; }
    if (cut.get("state").equals("asked")) lapseAt.put(id, nb + (f("lapses-an-hour-late") ? 3600000L : 0));
    long at = nb - (f("due-an-hour-early") ? 25 : 24) * 3600000L;
    if (Objects.equals(dueTold.get(id), at)) dueAt.remove(id); else dueAt.put(id, at);
  }
  // ---------------------------------------------------------------- callers
  static final Map<String, Caller> PASS = new LinkedHashMap<>(), SEAL = new LinkedHashMap<>();
  static final Map<String, String> SECRET = new HashMap<>();
  static void caller(String user, String id, String firm, String scopes, String pass, String seal) {
    Caller c = new Caller(); c.user = user; c.id = id; c.firm = firm; if (!scopes.isEmpty()) c.scopes.addAll(List.of(scopes.split(" ")));
    if (pass != null) PASS.put(pass, c);
    if (seal != null) { String[] a = seal.split(":"); SEAL.put(a[0], c); SECRET.put(a[0], a[1]); }
  }
  static {
    caller("lab", "quill", "north", "cuts", "fp_QuillQuillQuillQuill0001", null);
    caller("lab", "ember", "south", "cuts", "fp_EmberEmberEmberEmber0002", null);
    caller("lab", "moss", "north", "", "fp_MossMossMossMossMoss0003", null);
    caller("lab", "tarn", "north", "cuts", "fp_TarnTarnTarnTarnTarn0004", null);
    caller("keeper", "orla", "vault", "vault", null, "key_orla:orla-keeps-the-cold-inside-0001");
    caller("keeper", "bran", "vault", "", null, "key_bran:bran-saws-by-the-blue-lamp-0002");
    caller("auditor", "vesper", "court", "", "fp_VesperVesperVesperV00005", null);
    caller("auditor", "lumen", "court", "", "fp_LumenLumenLumenLume00006", null);
  }
  static byte[] hexBytes(String h) { byte[] b = new byte[h.length() / 2]; for (int i = 0; i < b.length; i++) b[i] = (byte) Integer.parseInt(h.substring(2 * i, 2 * i + 2), 16); return b; }
  static String hex(byte[] b) { StringBuilder s = new StringBuilder(); for (byte x : b) s.append(String.format("%02x", x)); return s.toString(); }
  static String hmac(String key, String text) throws Exception { return hmac(key, text.getBytes(StandardCharsets.UTF_8)); }
  static String hmac(String key, byte[] text) throws Exception { Mac k = Mac.getInstance("HmacSHA256"); k.init(new SecretKeySpec(key.getBytes(StandardCharsets.UTF_8), "HmacSHA256")); return hex(k.doFinal(text)); }
  static String sha(String s) { try { return hex(MessageDigest.getInstance("SHA-256").digest(s.getBytes(StandardCharsets.UTF_8))); } catch (Exception e) { throw new RuntimeException(e); } }

  // op -> "user:scope user user"
  static final Map<String, String> RULES = new HashMap<>();
  static void rule(String ops, String who) { for (String o : ops.split(",")) RULES.put(o, who); }
  static {
    rule("list bay,read bay,list core,read core,look up core,list cut,read cut,list reading,read reading", "lab keeper auditor");
    rule("upsert bay,delete bay,create core,update core,delete core,shelve core,retire core,delete cut", "keeper:vault");
    rule("create cut,receive cut", "lab:cuts"); rule("update cut,withdraw cut,create reading,replace reading,delete reading", "lab");
    rule("grant cut,refuse cut,saw cut,dispatch cut", "keeper");
    rule("create hook,list hook,read hook,update hook,delete hook", "lab keeper"); rule("list trace,read trace", "auditor");
  }

  // ---------------------------------------------------------------- routes
  static class R { String method, path, op, res; String[] seg; R(String m, String p, String op, String res) { method = m; path = p; this.op = op; this.res = res; seg = p.split("/"); } }
  static final List<R> ROUTES = new ArrayList<>();
  static {
    String t = "GET /notice|read notice|;PUT /bays/{code}|upsert bay|bay;GET /bays/{code}|read bay|bay;DELETE /bays/{code}|delete bay|bay;GET /bays|list bay|bay;POST /cores|create core|core;GET /cores|list core|core;GET /cores/serial/{serial}|look up core|core;GET /cores/{id}|read core|core;PATCH /cores/{id}|update core|core;DELETE /cores/{id}|delete core|core;POST /cores/{id}/shelve|shelve core|core;POST /cores/{id}/retire|retire core|core;POST /cores/{core}/cuts|create cut|cut;GET /cuts|list cut|cut;GET /cuts/{id}|read cut|cut;PATCH /cuts/{id}|update cut|cut;DELETE /cuts/{id}|delete cut|cut;POST /cuts/{id}/grant|grant cut|cut;POST /cuts/{id}/refuse|refuse cut|cut;POST /cuts/{id}/withdraw|withdraw cut|cut;POST /cuts/{id}/saw|saw cut|cut;POST /cuts/{id}/dispatch|dispatch cut|cut;POST /cuts/{id}/receive|receive cut|cut;POST /cuts/{cut}/readings|create reading|reading;GET /cuts/{cut}/readings|list reading|reading;GET /readings/{id}|read reading|reading;PUT /readings/{id}|replace reading|reading;DELETE /readings/{id}|delete reading|reading;POST /hooks|create hook|hook;GET /hooks|list hook|hook;GET /hooks/{id}|read hook|hook;PATCH /hooks/{id}|update hook|hook;DELETE /hooks/{id}|delete hook|hook;GET /traces|list trace|trace;GET /traces/{id}|read trace|trace";
    for (String r : t.split(";")) { String[] a = r.split("\\|", -1); String[] b = a[0].split(" "); ROUTES.add(new R(b[0], b[1], a[1], a[2])); }
  }

  // ---------------------------------------------------------------- rates
  static final Map<String, long[]> fixed = new HashMap<>();
  static final Map<String, ArrayDeque<Long>> sliding = new HashMap<>();
  static double bucket = 30; static long bucketAt = 0;
  static class Rate { long limit, left, reset; }
  static void strictest(X x) { Rate s = null; for (Rate r : x.rates) if (s == null || r.left < s.left) s = r; x.rate = s; if (f("rate-tells-the-laxest")) for (Rate r : x.rates) if (r.left > s.left) x.rate = r; }
  static void rates(X x) {
    long t = now(), wait = 0; String k = x.caller != null ? x.caller.key() : "address";
    boolean full = false;
    if (f("rate-shared-by-all")) k = "all";
    long[] w = fixed.get(k);
    if (w == null || t >= w[0] + 60000) w = new long[] { t, 0 };
    if (w[1] >= (f("rate-one-more") ? 151 : 150)) { full = true; wait = Math.max(wait, w[0] + 60000 - t); }
    ArrayDeque<Long> q = null; boolean cut = x.op.equals("create cut"), aud = x.caller != null && x.caller.user.equals("auditor");
    if (cut) { q = sliding.computeIfAbsent(k, z -> new ArrayDeque<>()); while (!q.isEmpty() && q.peekFirst() + (f("cut-window-of-ten-seconds") ? 10000 : 60000) <= t) q.removeFirst(); if (q.size() >= 8) { full = true; wait = Math.max(wait, q.peekFirst() + 60000 - t); } }
    int cost = x.op.equals("list trace") && !f("traces-cost-one") ? 2 : 1; int cap = f("bucket-holds-twenty") ? 20 : 30;
    if (aud) { bucket = Math.min(cap, bucket + (t - bucketAt) * 20.0 / 60000); bucketAt = t; if (bucket + 1e-9 < cost) { full = true; wait = Math.max(wait, (long) Math.ceil((cost - bucket) * 3000)); } }
    if (!full ) { w[1]++; fixed.put(k, w); if (cut && !full) { q.addLast(t); x.slid = q; } if (aud && !full) bucket -= cost; }
    Rate a = new Rate(); a.limit = 150; a.left = Math.max(0, 150 - w[1]); a.reset = w[0] + 60000; x.rates.add(a);
    if (cut) { Rate b = new Rate(); b.limit = 8; b.left = 8 - q.size(); b.reset = q.isEmpty() ? t : q.peekFirst() + 60000; x.rates.add(b); x.cutRate = b; }
    if (aud) { Rate b = new Rate(); b.limit = 20; b.left = (long) Math.floor(bucket + 1e-9); b.reset = bucket >= cap ? t : t + (long) Math.ceil((Math.floor(bucket + 1e-9) + 1 - bucket) * 3000); x.rates.add(b); }
    strictest(x);
    if (full) { E e = new E("too_fast"); if (!f("no-retry-after")) e.h("Retry-After", String.valueOf(Math.max(1, (wait + 999) / 1000))); throw e; }
  }
  static final Map<String, Integer> quota = new HashMap<>();

  // ---------------------------------------------------------------- one exchange
  static class X {
    HttpExchange ex; String method, target, path, query, op, ticket, ver = V2; R route; Map<String, String> params = new LinkedHashMap<>();
    Map<String, List<String>> q = new LinkedHashMap<>(); byte[] raw = new byte[0]; Map<String, Object> body; Caller caller; List<Rate> rates = new ArrayList<>(); Rate rate, cutRate; ArrayDeque<Long> slid;
    Map<String, String> out = new LinkedHashMap<>(); int status = 200; String text; boolean replay; String onceKey, fp;
    String q(String n) { List<String> l = q.get(n); return l == null ? null : l.get(0); }
    String head(String n) { return ex.getRequestHeaders().getFirst(n); }
  }
  static class Kept { String fp, code, text; long at; int status; Map<String, String> headers; }
  static final Map<String, Kept> kept = new HashMap<>();
  static final Set<String> MODES = Set.of("create", "update", "upsert", "replace");

  static void handle(HttpExchange ex) throws IOException {
    X x = new X(); x.ex = ex; x.ticket = "t" + rnd(15, ALNUM);
    try {
      x.raw = ex.getRequestBody().readNBytes(1 << 20);
      synchronized (L) {
        while (pinned != null) L.wait();
        while (tick()) { }
        E err = null;
        try { run(x); } catch (E e) { err = e; } catch (Exception e) { e.printStackTrace(); err = new E("cracked"); }
        if (err != null) refuse(x, err);
        if (x.slid != null && x.status == 422 && !f("unfit-asks-count")) { x.slid.pollLast(); x.cutRate.left++; if (x.slid.isEmpty()) x.cutRate.reset = now(); strictest(x); }
        if (x.onceKey != null && !x.replay && (err == null ? x.status / 100 == 2 : err.own && !f("own-errors-not-kept"))) {
          Kept k = new Kept(); k.fp = x.fp; k.at = now(); k.status = x.status; k.headers = new LinkedHashMap<>(x.out);
          if (err != null) k.code = err.code; else { k.text = x.text; if (x.op.equals("create hook") && !f("replay-shows-secret")) { Map<String, Object> b = map(parse(x.text)); b.remove("secret"); k.text = json(b); } }
          kept.put(x.onceKey, k);
        }
        while (tick()) { }
      }
    } catch (InterruptedException e) { x.status = 503; }
    Headers h = ex.getResponseHeaders();
    if (!(f("ticket-only-on-success") && x.status >= 400)) h.set("Firn-Ticket", x.ticket);
    if (!f("no-edition-header")) h.set("Firn-Edition", x.ver);
    h.set("Vary", f("vary-forgets-edition") ? "Firn-Pass, Authorization" : "Firn-Edition, Firn-Pass, Authorization");
    if (x.rate != null) { h.set("Firn-Rate", "" + x.rate.limit); h.set("Firn-Left", "" + (f("left-is-off-by-one") ? x.rate.left + 1 : x.rate.left)); h.set("Firn-Reset", "" + (f("reset-in-seconds") ? (x.rate.reset - now() + 999) / 1000 : (x.rate.reset + 999) / 1000)); }
    if (x.ver.equals(V1) && x.route != null) {
      if (!f("no-deprecation")) h.set("Deprecation", "@" + Instant.parse("2026-09-15T00:00:00Z").getEpochSecond());
      h.set("Sunset", httpDate(Instant.parse(f("sunset-a-year-early") ? "2027-03-01T00:00:00Z" : "2028-03-01T00:00:00Z").toEpochMilli()));
      if (!f("no-link-to-moving")) h.add("Link", "<https://vault.firn.example/moving>; rel=\"deprecation\"");
      h.add("Link", "<" + x.target + ">; rel=\"successor-version\"");
    }
    for (Map.Entry<String, String> e : x.out.entrySet()) h.set(e.getKey(), e.getValue());
    byte[] b = x.text == null ? new byte[0] : x.text.getBytes(StandardCharsets.UTF_8);
    if (x.text != null) h.set("Content-Type", "application/json");
    boolean none = b.length == 0 || ex.getRequestMethod().equals("HEAD");
    if (ex.getRequestMethod().equals("HEAD") && b.length > 0) h.set("Content-Length", "" + b.length);
    ex.sendResponseHeaders(x.status, none ? -1 : b.length);
    if (!none) ex.getResponseBody().write(b);
    ex.close();
  }
  static void refuse(X x, E e) {
    x.status = STATUS.get(e.code); x.out.clear();
    if (f("used-up-is-429") && e.code.equals("used_up")) x.status = 429;
    if (f("dangling-is-404") && e.code.equals("dangling")) x.status = 404;
    if (f("time-past-is-409") && e.code.equals("time_past")) x.status = 409;
    String says = e.message != null ? e.message : SAYS.getOrDefault(e.code, e.code.replace('_', ' '));
    if (f("bay-full-says-nothing") && e.code.equals("bay_full")) says = "bay full";
    Map<String, Object> fr = m("is", e.code, "says", says, "http", (long) (f("http-is-always-400") ? 400 : x.status), "ticket", f("ticket-in-body-differs") ? "t" + rnd(15, ALNUM) : x.ticket, "cracks", f("cracks-forgotten") ? null : e.cracks);
    if (f("cracks-empty-list") && e.cracks == null) fr.put("cracks", new ArrayList<>());
    x.text = json(f("error-without-frost") ? fr : m("frost", fr));
    x.out.putAll(e.headers); if (!f("no-frost-header")) x.out.put("Firn-Frost", e.code);
  }

  static void run(X x) throws Exception {
    x.method = x.ex.getRequestMethod(); x.target = x.ex.getRequestURI().toString();
    if (x.target.length() > 1024 && !f("url-without-end")) throw new E("long_way");
    int hs = 0; for (Map.Entry<String, List<String>> e : x.ex.getRequestHeaders().entrySet()) for (String v : e.getValue()) hs += e.getKey().length() + 4 + v.length();
    if (hs > 6144) throw new E(f("top-heavy-is-too-big") ? "too_big" : "top_heavy");
    x.path = x.ex.getRequestURI().getRawPath(); x.query = x.ex.getRequestURI().getRawQuery();
    String pre = f("base-without-cold") ? "" : "/cold";
    if (!x.path.startsWith(pre + "/")) throw new E("no_trail");
    String[] seg = x.path.substring(pre.length()).split("/", -1);
    List<R> here = new ArrayList<>();
    for (R r : ROUTES) if (match(r, seg)) here.add(r);
    if (here.isEmpty()) throw new E("no_trail");
    boolean lit = false; for (R r : here) lit |= !r.seg[r.seg.length - 1].startsWith("{") && r.seg.length > 2;
    String meth = x.method.equals("HEAD") ? "GET" : x.method;
    TreeSet<String> allow = new TreeSet<>(); for (R r : here) { allow.add(r.method); if (r.method.equals("GET")) allow.add("HEAD"); } allow.add("OPTIONS");
    if (x.method.equals("OPTIONS")) { x.status = 204; x.out.put("Allow", String.join(", ", allow)); return; }
    for (R r : here) if (r.method.equals(meth)) { x.route = r; break; }
    if (x.route == null) { E e = new E("wrong_tool"); if (!f("wrong-tool-without-allow")) e.h("Allow", String.join(", ", allow)); throw e; }
    R r0 = x.route; x.route = null;
    String ed = x.head("Firn-Edition");
    if (ed != null && !ed.equals(V1) && !ed.equals(V2)) { if (!f("unknown-edition-is-current")) throw new E("strange_edition"); ed = null; }
    if (ed == null) ed = f("default-is-oldest") ? V1 : V2;
    x.ver = ed; x.route = r0; x.op = r0.op;
    if (ed.equals(V1) && now() >= Instant.parse("2028-03-01T00:00:00Z").toEpochMilli() && !f("sunset-never-comes")) throw new E("old_edition");
    if (ed.equals(V1) && x.op.equals("look up core") && !f("serials-in-the-old-edition")) throw new E("no_trail");
    for (int i = 1; i < seg.length; i++) if (r0.seg[i].startsWith("{")) x.params.put(r0.seg[i].substring(1, r0.seg[i].length() - 1), URLDecoder.decode(seg[i].replace("+", "%2B"), StandardCharsets.UTF_8));

    boolean pub = x.op.equals("read notice");
    if (!pub || f("notice-asks-for-a-pass")) x.caller = who(x);
    if (x.caller != null && !pub && !f("rates-before-user")) user(x);
    rates(x);
    if (x.caller != null && !pub && f("rates-before-user")) user(x);
    if (x.raw.length > (f("body-of-eight-kib") ? 8192 : 4096)) throw new E("too_big");
    String verb = x.op.split(" ")[0];
    if (f("parameters-before-body")) query(x);
    if (MODES.contains(verb) || verb.equals("refuse")) body(x, verb);
    if (!f("parameters-before-body")) query(x);
    if (x.method.equals("POST")) {
      String once = x.head("Firn-Once");
      if (once == null && x.op.equals("create cut") && !f("once-is-optional")) throw new E("odd_query", List.of(m("in", "header", "path", "Firn-Once", "expected", "a key")));
      if (once != null && !f("once-is-ignored")) {
        x.onceKey = (f("once-shared-by-callers") ? "" : x.caller.key() + "|") + x.op + "|" + once;
        x.fp = sha(x.target + "|" + x.ver + "|" + hex(x.raw));
        Kept k = kept.get(x.onceKey);
        if (k != null && now() - k.at < (f("once-kept-an-hour") ? 1 : 12) * 3600000L) {
          if (!k.fp.equals(x.fp)) { x.onceKey = null; if (f("worn-key-replays")) { x.replay = true; x.status = k.status; x.text = k.text; return; } throw new E("key_worn"); }
          x.replay = true;
          if (k.code != null) throw new E(k.code);
          x.status = k.status; x.text = k.text; x.out.putAll(k.headers); return;
        }
      }
    }
    act(x, verb);
  }
  static boolean match(R r, String[] seg) {
    if (seg.length != r.seg.length) return false;
    for (int i = 1; i < seg.length; i++) if (r.seg[i].startsWith("{") ? seg[i].isEmpty() : !r.seg[i].equals(seg[i])) return false;
    return true;
  }
  static E unknown(String code, boolean bad) {
    if (f("stale-seal-is-bad-pass") && code.equals("stale_seal")) code = "bad_pass";
    if (f("bad-pass-is-no-pass") && code.equals("bad_pass")) code = "no_pass";
    E e = new E(code); if (!f("no-challenge")) e.h("WWW-Authenticate", "ApiKey realm=\"Firn\", in=\"header\", name=\"Firn-Pass\"" + (bad ? ", error=\"invalid_key\"" : "") + ", Seal realm=\"Firn\"" + (bad ? ", error=\"invalid_key\"" : "")); return e;
  }
  static final Pattern SEALED = Pattern.compile("(?i:seal) +key=([^;]+); at=(\\d{1,12}); mac=([0-9a-f]{64})");
  static Caller who(X x) throws Exception {
    List<String> p = x.ex.getRequestHeaders().get("Firn-Pass"), a = x.ex.getRequestHeaders().get("Authorization");
    if (p == null && a == null) throw unknown("no_pass", false);
    Caller c = null;
    if (p != null) { if (p.size() != 1) throw unknown("bad_pass", true); String k = p.get(0); c = PASS.get(k); if (c == null && f("passes-in-any-case")) for (String s : PASS.keySet()) if (s.equalsIgnoreCase(k)) c = PASS.get(s); if (c == null) throw unknown("bad_pass", true); }
    if (a != null && !(p != null && f("second-credential-unseen"))) {
      Matcher mm = SEALED.matcher(a.get(0));
      if (a.size() != 1 || !mm.matches() || !SEAL.containsKey(mm.group(1))) throw unknown("bad_pass", true);
      long at = Long.parseLong(mm.group(2)) * 1000, tol = f("seals-hold-an-hour") ? 3600000 : 120000;
      if (now() - at > tol + 999 && !f("seals-never-stale")) throw unknown("stale_seal", true);
      if (at - now() > tol && !f("seals-from-the-future")) throw unknown("bad_pass", true);
      if (x.raw.length > 4096) throw new E("too_big");
      String pre = mm.group(2) + "|" + x.method + "|" + (f("seal-without-query") ? "" : x.target) + "|";
      ByteArrayOutputStream o = new ByteArrayOutputStream(); o.write(pre.getBytes(StandardCharsets.UTF_8)); o.write(x.raw);
      boolean good = hmac(SECRET.get(mm.group(1)), o.toByteArray()).equals(mm.group(3));
      if (!good && f("seal-without-query")) { // takes any target
        good = true;
      }
      if (!good && f("seal-without-body")) good = hmac(SECRET.get(mm.group(1)), pre).equals(mm.group(3)) || x.raw.length > 0;
      if (!good) throw unknown("bad_pass", true);
      Caller d = SEAL.get(mm.group(1));
      if (c != null && !c.key().equals(d.key())) throw unknown("bad_pass", true);
      c = d;
    }
    return c;
  }
  static void user(X x) {
    String rule = RULES.get(x.op); boolean any = false;
    if (f("labs-may-saw") && x.op.equals("saw cut")) return;
    if (f("auditors-may-hook") && x.op.equals("create hook")) return;
    if (f("keepers-read-traces") && x.op.endsWith("trace") && x.caller.user.equals("keeper")) return;
    for (String w : rule.split(" ")) { String[] a = w.split(":"); if (!a[0].equals(x.caller.user)) continue; any = true; if (a.length == 1 || x.caller.scopes.contains(a[1])) return;
      if (f("scope-forgotten-on-" + x.op.replace(' ', '-'))) return; }
    throw new E(any && !f("scope-is-keep-out") ? "out_of_scope" : "keep_out");
  }
  static void body(X x, String verb) {
    if (x.raw.length == 0) { throw new E(f("no-body-is-lacking") ? "lacking" : "garbled"); }
    String ct = x.head("Content-Type"); ct = ct == null ? "" : ct.split(";")[0].trim().toLowerCase();
    if (!ct.equals("application/json") && !(verb.equals("update") && ct.equals("application/merge-patch+json") && !f("merge-patch-refused")) && !f("any-media")) throw new E("not_json");
    Object o;
    try { String s = StandardCharsets.UTF_8.newDecoder().decode(java.nio.ByteBuffer.wrap(x.raw)).toString(); o = parse(s); } catch (Bad | java.nio.charset.CharacterCodingException e) { throw new E(f("garbled-is-cracked") ? "cracked" : "garbled"); }
    x.body = o instanceof Map ? map(o) : null;
  }
  static final Map<String, List<String>> PARAMS = Map.of(
    "list bay", List.of("colder", "leaf", "take"), "list core", List.of("bay", "state", "tag", "glacier", "longer", "find", "fine", "by", "way", "only", "skip", "take"), "read core", List.of("only"),
    "list cut", List.of("core", "lab", "state", "urgency", "isotope", "sort", "skip", "take"), "list reading", List.of("isotope"), "list hook", List.of("skip", "take"), "list trace", List.of("kind", "subject", "since", "from", "take"));
  static void query(X x) {
    if (x.query != null && !x.query.isEmpty()) for (String p : x.query.split("&")) {
      if (p.isEmpty()) continue;
      String[] a = p.split("=", 2); String k = dec(a[0]), v = a.length > 1 ? dec(a[1]) : "";
      if (!PARAMS.getOrDefault(x.op, List.of()).contains(k)) { if (f("strange-parameters-pass")) continue; throw odd(k, "no such parameter"); }
      if (x.q.containsKey(k) && !k.equals("only") && !f("doubled-parameters-pass")) throw odd(k, "one value");
      x.q.computeIfAbsent(k, z -> new ArrayList<>()).add(v);
    }
    if (x.op.equals("list core")) {
      if (x.q("state") != null) for (String s : x.q("state").split(",", -1)) if (!List.of("logged", "frozen", "retired", "spoiled").contains(s)) throw odd("state", "a state");
      if (x.q("longer") != null && !x.q("longer").matches("-?\\d{1,15}")) throw odd("longer", "an integer");
      if (x.q("fine") != null && !x.q("fine").matches("true|false")) throw odd("fine", "true or false");
      if (x.q("by") != null && !x.q("by").matches("-?(size|name)")) throw odd("by", "size or name");
      if (x.q("way") != null && !x.q("way").matches("asc|desc")) throw odd("way", "asc or desc");
      if (x.q("find") != null && x.q("find").trim().split("\\s+").length > 16) throw odd("find", "up to 16 words");
    }
    if (x.op.equals("list cut")) {
      if (x.caller.user.equals("auditor") && !f("auditors-filter-by-lab")) for (String k : List.of("lab", "urgency")) if (x.q.containsKey(k)) throw odd(k, "no such parameter");
      if (x.q("state") != null && !List.of("asked", "granted", "sawn", "sent", "received", "refused", "withdrawn", "voided", "lapsed", "melted").contains(x.q("state"))) throw odd("state", "a state");
      if (x.q("urgency") != null && !x.q("urgency").matches("[123]")) throw odd("urgency", "1, 2 or 3");
      String ln = x.ver.equals(V1) && !f("old-sort-by-new-name") ? "length_m" : "length_mm";
      if (x.q("sort") != null && !x.q("sort").matches("-?(asked_at|" + ln + ")")) throw odd("sort", "asked_at or " + ln);
    }
    if ((x.op.equals("list cut") || x.op.equals("list reading")) && x.q("isotope") != null && !List.of("d18o", "dd", "dust", "ash").contains(x.q("isotope"))) throw odd("isotope", "an isotope");
    if (x.op.equals("list bay") && x.q("colder") != null) try { Double.parseDouble(x.q("colder")); } catch (NumberFormatException e) { throw odd("colder", "a number"); }
    if (x.op.equals("list trace") && x.q("since") != null && instant(x.q("since")) == null) throw odd("since", "a date-time");
    if (x.q.containsKey("only")) for (String s : only(x)) {
      String[] a = s.split("\\."); Map<String, Object> sp = spec("core", x.ver);
      boolean ok = sp.containsKey(a[0]) && (a.length == 1 || a.length == 2 && a[0].equals("place") && map(SPEC.get("place")).containsKey(a[1]));
      if (a[0].equals("cellar_note") && !x.caller.user.equals("keeper") && !f("only-cellar-note-for-all")) ok = false;
      if (!ok) throw odd("only", "fields that are there");
    }
    if (x.q.containsKey("take")) { String t = x.q("take"); if (!t.matches("\\d{1,9}") || Integer.parseInt(t) < 1) { if (!f("take-zero-passes") || !t.equals("0")) throw new E("bad_leaf"); } if (x.op.equals("list bay") && Integer.parseInt(t) > 20 && !f("bays-clamp")) throw new E("bad_leaf"); }
    if (x.q.containsKey("skip") && !x.q("skip").matches("\\d{1,9}")) throw new E(f("bad-skip-is-odd-query") ? "odd_query" : "bad_leaf");
    if (x.q.containsKey("leaf") && (!x.q("leaf").matches("\\d{1,9}") || Integer.parseInt(x.q("leaf")) < 1)) throw new E("bad_leaf");
  }
  static String dec(String s) { try { return URLDecoder.decode(s, StandardCharsets.UTF_8); } catch (IllegalArgumentException e) { return s; } }
  static List<String> only(X x) { List<String> l = new ArrayList<>(); for (String s : x.q.get("only")) l.addAll(List.of(s.split(","))); return l; }
  static Map<String, Object> choose(X x, Map<String, Object> row) {
    if (!x.q.containsKey("only")) return row;
    Map<String, Object> o = new LinkedHashMap<>(); List<String> l = only(x);
    for (String k : row.keySet()) {
      if (k.equals("id") && !f("only-drops-the-id") || l.contains(k)) { o.put(k, row.get(k)); continue; }
      if (k.equals("place")) { Map<String, Object> p = new LinkedHashMap<>(); for (String z : map(row.get(k)).keySet()) if (l.contains("place." + z)) p.put(z, map(row.get(k)).get(z)); if (!p.isEmpty()) o.put(k, f("only-shows-whole-place") ? row.get(k) : p); }
    }
    return o;
  }
  static Map<String, Object> view(X x, String res, Map<String, Object> r) { return show(res, r, x.caller.user, x.ver, true, false); }
  static String tag(X x, String res, Map<String, Object> r) { Map<String, Object> v = view(x, res, r); if (f("tag-blind-to-rest")) v.remove("rest_mm"); return sha(x.ver + json(v)).substring(0, 20); }

  // ---------------------------------------------------------------- operations
  static E own(String code) { return new E(code).own(); }
  static void precondition(X x, String res, Map<String, Object> r, boolean required) {
    String im = x.head("If-Match");
    if (im == null) { if (required && !f("tag-not-wanted")) throw new E("tag_wanted"); return; }
    if (im.trim().equals("*")) return;
    if (f("if-match-of-readings-unseen") && res.equals("reading") || f("if-match-of-deletes-unseen") && x.method.equals("DELETE")) return;
    String t = tag(x, res, r);
    for (String p : im.split(",")) { p = p.trim(); if (f("weak-tags-match") && p.startsWith("W/")) p = p.substring(2); if (p.startsWith("\"") && p.endsWith("\"") && p.length() > 1 && p.substring(1, p.length() - 1).split("\\.")[0].equals(t)) return; }
    throw new E("melted_tag");
  }
  static Map<String, Object> find(X x, String res, String id) {
    Map<String, Object> r = null;
    if (x.op.equals("look up core")) { for (Map<String, Object> c : rows("core")) if (c.get("serial").equals(id) || f("serials-in-any-case") && ((String) c.get("serial")).equalsIgnoreCase(id)) r = c; }
    else r = res.equals("reading") && !id.matches("[1-9]\\d{0,17}") ? null : row(res, id);
    if (r == null) throw new E("not_here");
    if (!mayRead(x.caller.user, x.caller.id, res, r) && !(f("lookup-shows-logged") && x.op.equals("look up core"))) throw new E(f("unreadable-is-keep-out") ? "keep_out" : "not_here");
    return r;
  }
  static void answer(X x, int status, Object o) { x.status = status; x.text = json(o); }
  static void tagged(X x, String res, Map<String, Object> r) {
    String t = tag(x, res, r); if (x.q.containsKey("only")) t += "." + sha(String.valueOf(only(x))).substring(0, 8);
    x.out.put("ETag", (f("tags-are-weak") ? "W/" : "") + "\"" + t + "\"");
    if (x.op.equals("read core") && !f("cores-not-cached")) x.out.put("Cache-Control", f("cores-cached-in-public") ? "public, max-age=30" : "private, max-age=30");
    String inm = x.head("If-None-Match");
    if (inm != null && (x.method.equals("GET") || x.method.equals("HEAD")) && !f("never-304")) for (String p : inm.split(",")) { p = p.trim(); if (p.startsWith("W/")) p = p.substring(2); if (p.equals("*") || p.equals("\"" + t + "\"")) { x.status = 304; x.text = null; } }
  }
  static Object merge(Object old, Object p) {
    if (!(p instanceof Map)) return p;
    Map<String, Object> o = old instanceof Map ? map(copy(old)) : new LinkedHashMap<>();
    Map<String, Object> r = new LinkedHashMap<>();
    for (String k : map(p).keySet()) if (map(p).get(k) != null) r.put(k, merge(o.get(k), map(p).get(k)));
    for (String k : o.keySet()) if (!map(p).containsKey(k)) r.put(k, o.get(k));
    return r;
  }
  static void half(Map<String, Object> row) {
    Map<String, Object> p = map(row.get("place")); Map<String, Object> q = new LinkedHashMap<>();
    for (String k : List.of("glacier", "lat", "lon")) q.put(k, p.get(k));
    double lat = ((Number) p.get("lat")).doubleValue();
    q.put("half", lat < 0 || f("equator-is-south") && lat == 0 ? "south" : "north");
    row.put("place", q);
  }
  static void inState(Map<String, Object> r, String... in) { if (!List.of(in).contains(r.get("state"))) throw new E("wrong_state"); }
  static boolean kindKnown(String s) { if (s.equals("*") || KINDS.contains(s)) return true; if (!s.endsWith(".*")) return false; for (String k : KINDS) if (k.startsWith(s.substring(0, s.length() - 1))) return true; return false; }

  static Map<String, Object> sent(X x, String res, String op, Map<String, Object> stored) {
    if (x.body == null) throw invalid(List.of(new V("", "type", null, "a map")));
    Map<String, Object> b = map(copy(x.body)); List<V> vs = new ArrayList<>();
    Map<String, Object> before = stored == null ? null : down(res, stored, x.ver);
    if (op.equals("update")) for (String k : b.keySet()) if (b.get(k) instanceof Map && !f("patch-replaces-place")) b.put(k, merge(before.get(k), b.get(k)));
    String bind = x.op.equals("create cut") ? "core" : x.op.equals("create reading") ? "cut" : res.equals("bay") ? "code" : null;
    if (bind != null) { String pv = x.params.get(bind); if (!b.containsKey(bind)) b.put(bind, pv); else if (!pv.equals(b.get(bind)) && !(f("body-beats-path") )) vs.add(new V(bind, "value", b.get(bind), pv)); }
    object(res, b, x.ver, "", vs, op);
    if (stored != null) for (String k : b.keySet()) if (map(spec(res, x.ver).get(k)).containsKey("imm") && !eq(b.get(k), before.get(k)) && !(f("drilled-on-may-change") && k.equals("drilled_on")) && b.get(k) != null) vs.add(new V(k, "value", b.get(k), "what it is"));
    if (res.equals("hook") && b.get("wants") instanceof List && !f("wants-anything")) { int i = 0; for (Object w : list(b.get("wants"))) { if (w instanceof String && !kindKnown((String) w)) vs.add(new V("wants." + i, "value", w, "a kind of event")); i++; } }
    if (res.equals("cut")) {
      String ln = x.ver.equals(V1) ? "length_m" : "length_mm"; Map<String, Object> o = before == null ? Map.of() : before;
      Object top = b.containsKey("top_mm") ? b.get("top_mm") : o.get("top_mm"), len = b.containsKey(ln) ? b.get(ln) : o.get(ln);
      if (top instanceof Number && len instanceof Number && !(f("ends-outside-on-update") && op.equals("update"))) { boolean clean = true; for (V v : vs) if (v.path.equals("top_mm") || v.path.equals(ln)) clean = false; double end = ((Number) top).doubleValue() + ((Number) upValue(res, ln, len, x.ver)).doubleValue(); if (clean && (end > 6000 || f("ends-before-the-end") && end == 6000)) vs.add(new V(ln, "value", len, "an end within 6000 mm")); }
    }
    if (!vs.isEmpty()) throw invalid(vs);
    // carry up
    Map<String, Object> up = new LinkedHashMap<>();
    for (Map.Entry<String, Object> e : b.entrySet()) { if (x.ver.equals(V1) && res.equals("core") && e.getKey().equals("crate")) continue; if (stored != null && eq(e.getValue(), before.get(e.getKey()))) continue; up.put(upName(res, e.getKey(), x.ver), whole(res, upName(res, e.getKey(), x.ver), e.getValue() == null ? null : upValue(res, e.getKey(), e.getValue(), x.ver))); }
    return up;
  }
  static Object whole(String res, String k, Object v) { return v instanceof Double && "integer".equals(map(map(SPEC.get(res)).get(k)).get("type")) ? (Object) ((Double) v).longValue() : v; }
  static void defaults(String res, Map<String, Object> b) { for (Map.Entry<String, Object> e : map(SPEC.get(res)).entrySet()) if (map(e.getValue()).containsKey("default") && !b.containsKey(e.getKey()) && !(f("urgency-defaults-to-one") && e.getKey().equals("urgency"))) b.put(e.getKey(), copy(map(e.getValue()).get("default"))); else if (e.getKey().equals("urgency") && !b.containsKey("urgency")) b.put("urgency", 1L); }
  static boolean labelFree(String label, Object but) { if (f("labels-may-repeat")) return true; for (Map<String, Object> c : rows("core")) if (!c.get("id").equals(but) && c.get("label").equals(label) && (List.of("logged", "frozen").contains(c.get("state")) || f("labels-taken-for-ever"))) return false; return true; }
  static long openCuts(String lab) { long n = 0; for (Map<String, Object> c : rows("cut")) if (c.get("lab").equals(lab) && (c.get("state").equals("asked") || c.get("state").equals("granted") && !f("granted-not-counted"))) n++; return n; }

  static void act(X x, String verb) throws Exception {
    String res = x.route.res, me = x.caller == null ? null : x.caller.id;
    if (x.op.equals("read notice")) { answer(x, 200, m("vault", "Firn", "celsius", f("notice-says-minus-thirty") ? -30L : -36L)); return; }
    if (verb.equals("list")) { lister(x, res); return; }
    if (verb.equals("create")) { create(x, res, me); return; }
    if (verb.equals("upsert")) {
      String code = x.params.get("code"); Map<String, Object> old = row("bay", code), b = sent(x, "bay", "create", null);
      if (old == null) { b.put("code", code); b.put("opened_at", iso(now())); T.get("bay").put(code, b); x.out.put("Location", "/cold/bays/" + code); answer(x, f("bays-made-with-200") ? 200 : 201, view(x, "bay", b)); return; }
      if (!f("upsert-keeps-remark") && !b.containsKey("remark")) old.remove("remark");
      if (f("opened-at-moves")) old.put("opened_at", iso(now() + 1));
      old.putAll(b); answer(x, 200, view(x, "bay", old)); return;
    }
    Map<String, Object> r = find(x, res, x.params.values().iterator().next());
    boolean mine = !res.equals("reading") || !x.caller.user.equals("lab") || r.get("by").equals(me) || verb.equals("read");
    if (!mine) throw new E("keep_out");
    switch (verb) {
      case "read": case "look": {
        answer(x, 200, choose(x, view(x, res, r)));
        if (x.op.equals("read core") || x.op.equals("read reading")) tagged(x, res, r);
        return;
      }
      case "delete": {
        if (res.equals("core")) precondition(x, res, r, false);
        if (res.equals("core") && !f("frozen-cores-go")) inState(r, "logged", "retired", "spoiled");
        if (res.equals("cut") && !f("any-cut-goes")) inState(r, "received", "refused", "withdrawn", "voided", "lapsed", "melted");
        Object id = r.get(res.equals("bay") ? "code" : "id");
        if (res.equals("core") && !f("cores-go-with-cuts")) for (Map<String, Object> c : rows("cut")) if (c.get("core").equals(id)) throw new E("still_held");
        if (res.equals("bay") && !f("bays-go-with-cores")) for (Map<String, Object> c : rows("core")) if (c.get("bay").equals(id)) throw new E("still_held");
        T.get(res).remove(String.valueOf(id));
        if (res.equals("cut")) { if (!f("readings-outlive-cuts")) rows("reading").removeIf(z -> z.get("cut").equals(id)); for (Map<String, Long> z : List.of(lapseAt, meltAt, dueAt, dueTold)) z.remove(id); }
        if (res.equals("core")) spoilAt.remove(id);
        if (res.equals("hook")) { queue.removeIf(d -> d.hook.equals(id) && !d.flying); failingSince.remove(id); }
        x.status = f("deleted-with-200") ? 200 : 204; if (x.status == 200) x.text = "{}"; return;
      }
      case "update": {
        if (res.equals("core")) precondition(x, res, r, true);
        if (f("request-before-state")) sent(x, res, "update", r);
        if (res.equals("core") && !f("retired-cores-change")) inState(r, "logged", "frozen");
        if (res.equals("cut") && !(f("granted-cuts-change") && r.get("state").equals("granted"))) inState(r, "asked");
        Map<String, Object> p = sent(x, res, "update", r), next = map(copy(r));
        for (Map.Entry<String, Object> e : p.entrySet()) if (e.getValue() == null) next.remove(e.getKey()); else next.put(e.getKey(), e.getValue());
        if (res.equals("core")) {
          if (row("bay", next.get("bay")) == null) throw new E("dangling", List.of(m("in", "body", "path", "bay", "found", next.get("bay"), "expected", "a bay that is there")));
          if (num(next.get("length_mm")) < num(r.get("length_mm")) && num(r.get("length_mm")) != rest(r) && !f("cores-shrink")) throw own("no_shrinking");
          if (p.containsKey("place") && !f("half-made-once")) half(next); else if (p.containsKey("place")) { Object h = map(r.get("place")).get("half"); half(next); map(next.get("place")).put("half", h); }
          if (!labelFree((String) next.get("label"), r.get("id")) && !f("labels-may-be-changed-to-taken")) throw new E("label_taken");
        }
        if (res.equals("cut")) { if (num(next.get("length_mm")) > rest(row("core", r.get("core"))) && !f("asked-may-grow")) throw own("too_little_ice"); Long nb = instant(next.get("needed_by")); if (nb != null && nb <= now() && !f("time-past-on-update")) throw own("time_past"); }
        boolean changed = !eq(next, r) || f("nothing-is-a-change");
        if (changed) {
          Map<String, Object> old = map(copy(r)); String oldNb = (String) r.get("needed_by");
          for (String k : new ArrayList<>(r.keySet())) if (!next.containsKey(k)) r.remove(k);
          r.putAll(next);
          if (res.equals("core")) { if (!f("touched-at-stands-still")) touch(r, "update"); if (!old.get("grade").equals(r.get("grade")) || f("regraded-at-every-change")) emit("core.regraded", "core", r, m("core", r.get("id"), "was", f("regraded-tells-new-twice") ? r.get("grade") : old.get("grade"), "is", r.get("grade"))); }
          if (res.equals("cut") && !Objects.equals(oldNb, r.get("needed_by")) && !f("lapse-keeps-old-time")) timers(r);
        }
        answer(x, 200, view(x, res, r)); if (res.equals("core") && !f("no-tag-after-update")) tagged(x, res, r); return;
      }
      case "replace": {
        precondition(x, res, r, false);
        Map<String, Object> p = sent(x, res, "replace", r), next = map(copy(r));
        for (String k : List.of("remark", "sigma")) if (!x.body.containsKey(k) && !(k.equals("sigma") && x.ver.equals(V1) && !f("old-replace-drops-sigma")) && !f("replace-keeps-remark")) next.remove(k);
        next.putAll(p);
        for (Map<String, Object> z : rows("reading")) if (z != r && z.get("cut").equals(r.get("cut")) && z.get("isotope").equals(next.get("isotope")) && !f("isotopes-may-repeat")) throw new E("label_taken");
        if (!eq(next, r)) { next.put("revised_at", iso(now())); if (f("never-revised")) next.remove("revised_at"); for (String k : new ArrayList<>(r.keySet())) if (!next.containsKey(k)) r.remove(k); r.putAll(next); }
        answer(x, 200, view(x, res, r)); tagged(x, res, r); return;
      }
      case "shelve":
        if (!r.get("state").equals("logged")) throw new E("wrong_state");
        if (held((String) r.get("bay")) >= num(row("bay", r.get("bay")).get("capacity")) + (f("bay-holds-one-more") ? 1 : 0)) throw own("bay_full");
        moveCore(r, "frozen", "shelve"); break;
      case "retire":
        if (!r.get("state").equals("frozen") && !(f("logged-cores-retire") && r.get("state").equals("logged"))) throw f("retire-refused-as-wrong-state") ? new E("wrong_state") : own("not_on_shelf");
        moveCore(r, "retired", "retire"); break;
      case "grant":
        inState(r, "asked"); if (num(r.get("length_mm")) > rest(row("core", r.get("core"))) && !f("grants-more-than-there-is")) throw own("ice_gone");
        moveCut(r, "granted", verb); break;
      case "refuse": {
        if (!(f("granted-may-be-refused") && r.get("state").equals("granted"))) inState(r, "asked");
        if (x.body == null) throw invalid(List.of(new V("", "type", null, "a map")));
        List<V> vs = new ArrayList<>(); object("refusal", x.body, V2, "", vs, "create"); if (!vs.isEmpty() && !f("refused-without-reason")) throw invalid(vs);
        if (!f("verdict-not-kept") && x.body.get("reason") != null) r.put("verdict", x.body.get("reason")); moveCut(r, "refused", verb); break;
      }
      case "withdraw":
        if (!List.of("asked", "granted").contains(r.get("state")) && !(f("sawn-may-be-withdrawn") && r.get("state").equals("sawn"))) throw own("past_recall");
        moveCut(r, "withdrawn", verb); break;
      case "saw": if (!(f("asked-may-be-sawn") && r.get("state").equals("asked"))) inState(r, "granted"); moveCut(r, "sawn", verb); break;
      case "dispatch": inState(r, "sawn"); moveCut(r, "sent", verb); break;
      case "receive": inState(r, "sent"); moveCut(r, "received", verb); answer(x, 200, m("cut", r.get("id"), "state", "received", "left", f("left-is-the-whole") ? row("core", r.get("core")).get("length_mm") : rest(row("core", r.get("core"))))); return;
    }
    answer(x, 200, view(x, res, r));
  }
  static void create(X x, String res, String me) throws Exception {
    if (res.equals("core")) {
      Map<String, Object> b = sent(x, res, "create", null); defaults(res, b);
      if (row("bay", b.get("bay")) == null && !f("bays-need-not-be")) throw new E("dangling", List.of(m("in", "body", "path", "bay", "found", b.get("bay"), "expected", "a bay that is there")));
      half(b);
      if (f("serial-drawn-too-early")) serials++;
      if (!labelFree((String) b.get("label"), null)) throw new E("label_taken");
      String id = "core-" + (f("core-ids-in-capitals") ? rnd(12, "0123456789ABCDEF") : rnd(12, "0123456789abcdef"));
      b.put("id", id); b.put("serial", String.format(f("serial-of-three-digits") ? "FC-%03d" : "FC-%04d", f("serial-drawn-too-early") ? serials : ++serials)); if (!(f("curator-is-taken") && b.containsKey("curator"))) b.put("curator", me); b.put("state", "logged"); b.put("logged_at", iso(now())); b.put("touched_at", iso(now()));
      T.get(res).put(id, b); spoilAt.put(id, now() + (f("spoils-after-seven-hours") ? 7 : 6) * 3600000L);
      made(x, res, b, "/cold/cores/" + id);
    } else if (res.equals("cut")) {
      x.op = "read core"; Map<String, Object> core = find(x, "core", x.params.get("core")); x.op = "create cut";
      Map<String, Object> b = sent(x, res, "create", null); defaults(res, b);
      b.put("core", core.get("id"));
      Long nb = instant(b.get("needed_by"));
      boolean past = nb != null && nb <= now() && !f("needed-yesterday");
      if (f("time-past-told-first") && past) throw own("time_past");
      if (!core.get("state").equals("frozen") && !f("retired-cores-are-cut")) throw own("not_frozen");
      if (num(b.get("length_mm")) > rest(core) || f("whole-rest-refused") && num(b.get("length_mm")) == rest(core)) throw own("too_little_ice");
      if (past) throw own("time_past");
      LocalDate day = Instant.ofEpochMilli(now()).atZone(ZoneOffset.UTC).toLocalDate(); String qk = (f("quota-per-lab") ? me : x.caller.firm) + "|" + (f("quota-per-month") ? day.withDayOfMonth(1) : day);
      if (openCuts(me) >= (f("six-open-cuts") ? 6 : 5)) throw new E("used_up");
      if (quota.getOrDefault(qk, 0) >= 12 && !f("no-quota")) { long end = day.plusDays(1).atStartOfDay(ZoneOffset.UTC).toInstant().toEpochMilli(); throw new E("used_up").h("Retry-After", "" + Math.max(1, (end - now() + 999) / 1000)); }
      quota.merge(qk, 1, Integer::sum);
      String id = ulid(), core0 = f("numbers-across-cores") ? "all" : (String) core.get("id");
      b.put("id", id); b.put("number", cutNumbers.merge(core0, 1L, Long::sum)); b.put("lab", me); b.put("firm", f("firm-is-the-lab") ? me : x.caller.firm); b.put("state", "asked"); b.put("asked_at", iso(now()));
      if (f("asked-at-in-local-time")) b.put("asked_at", iso(now() + 3600000));
      T.get(res).put(id, b);
      if (!f("asking-is-silent")) emit("cut.asked", "cut", b, null); timers(b);
      made(x, res, b, "/cold/cuts/" + id);
    } else if (res.equals("reading")) {
      Map<String, Object> cut = find(x, "cut", x.params.get("cut"));
      Map<String, Object> b = sent(x, res, "create", null); b.put("cut", cut.get("id"));
      if (!cut.get("state").equals("received") && !(f("readings-before-receipt") && cut.get("state").equals("sent"))) throw own("not_in_hand");
      for (Map<String, Object> z : rows("reading")) if (z.get("cut").equals(cut.get("id")) && z.get("isotope").equals(b.get("isotope"))) { if (f("second-reading-refused")) throw new E("label_taken"); if (f("second-reading-overwrites")) z.putAll(b); if (f("found-readings-are-told")) emit("reading.in", "reading", z, null); answer(x, f("found-readings-are-201") ? 201 : 200, view(x, res, z)); return; }
      b.put("id", ++readingIds); b.put("by", me); T.get(res).put(String.valueOf(b.get("id")), b);
      emit("reading.in", "reading", b, null);
      made(x, res, b, "/cold/readings/" + b.get("id"));
    } else {
      Map<String, Object> b = sent(x, res, "create", null); defaults(res, b);
      long n = 0; for (Map<String, Object> h : rows("hook")) if (h.get("owner").equals(me)) n++;
      if (n >= (f("four-hooks") ? 4 : 3)) throw new E("used_up");
      String id = UUID.randomUUID().toString(); b.put("id", id); b.put("secret", "fh_" + rnd(f("short-secrets") ? 20 : 30, ALNUM)); b.put("owner", me); b.put("made_at", iso(now()));
      T.get(res).put(id, b); hookVersion.put(id, x.ver);
      made(x, res, b, "/cold/hooks/" + id);
    }
  }
  static void made(X x, String res, Map<String, Object> b, String loc) {
    if (!f("no-location")) x.out.put("Location", f("location-without-base") ? loc.substring(5) : loc);
    answer(x, 201, show(res, b, x.caller.user, x.ver, true, !f("secret-never-shown")));
  }
  static void lister(X x, String res) {
    List<Map<String, Object>> l = new ArrayList<>();
    if (res.equals("reading")) find(x, "cut", x.params.get("cut"));
    for (Map<String, Object> r : rows(res)) {
      if (!mayRead(x.caller.user, x.caller.id, res, r) && !(f("lists-show-all-cuts") && res.equals("cut"))) continue;
      boolean in = true;
      for (String k : x.q.keySet()) { String v = x.q(k);
        switch (res + " " + k) {
          case "bay colder": in &= f("colder-is-strict") ? ((Number) r.get("celsius")).doubleValue() < Double.parseDouble(v) : ((Number) r.get("celsius")).doubleValue() <= Double.parseDouble(v); break;
          case "core bay": in &= r.get("bay").equals(v); break;
          case "core state": in &= (f("first-state-alone") ? List.of(v.split(",")[0]) : List.of(v.split(","))).contains(r.get("state")); break;
          case "core tag": in &= f("first-tag-alone") ? !list(r.get("tags")).isEmpty() && list(r.get("tags")).get(0).equals(v) : list(r.get("tags")).contains(v); break;
          case "core glacier": { String g = (String) map(r.get("place")).get("glacier"); in &= f("glacier-minds-case") ? g.equals(v) : g.equalsIgnoreCase(v); break; }
          case "core longer": in &= f("longer-is-strict") ? num(r.get("length_mm")) > Long.parseLong(v) : num(r.get("length_mm")) >= Long.parseLong(v); break;
          case "core fine": in &= r.get("grade").equals(v.equals("true") ? "prime" : f("not-fine-is-fair-too") ? "fair" : "poor"); break;
          case "core find": { String t = (r.get("label") + "\n" + (f("find-overlooks-curator") ? "" : r.get("curator"))).toLowerCase(); boolean all = true, some = false; for (String w : v.trim().toLowerCase().split("\\s+")) { all &= t.contains(w); some |= t.contains(w); } in &= f("find-any-word") ? some : all; break; }
          case "cut core": in &= r.get("core").equals(v); break;
          case "cut lab": in &= r.get("lab").equals(v); break;
          case "cut state": in &= r.get("state").equals(v); break;
          case "cut urgency": in &= f("urgency-by-equality") ? num(r.get("urgency")) == Long.parseLong(v) : num(r.get("urgency")) <= Long.parseLong(v); break;
          case "cut isotope": { boolean has = false; for (Map<String, Object> z : rows("reading")) has |= z.get("cut").equals(r.get("id")) && (z.get("isotope").equals(v) || f("isotope-filter-any")); in &= has; break; }
          case "reading isotope": in &= r.get("isotope").equals(v); break;
          case "trace kind": in &= f("kind-to-the-letter") ? r.get("kind").equals(v) : ((String) r.get("kind")).startsWith(v); break;
          case "trace subject": in &= r.get("subject").equals(v); break;
          case "trace since": in &= instant(r.get("at")) >= instant(v); break;
        } }
      if (res.equals("reading")) in &= r.get("cut").equals(x.params.get("cut"));
      if (in) l.add(r);
    }
    boolean newest = res.equals("core") && !f("cores-tie-oldest") || res.equals("trace") && !f("traces-oldest-first");
    if (newest) Collections.reverse(l);
    Comparator<Map<String, Object>> c = null;
    if (res.equals("bay") && !f("bays-by-age")) c = Comparator.comparing(r -> (String) r.get("code"));
    if (res.equals("core")) {
      String by = x.q.containsKey("by") ? x.q("by") : "-logged_at"; String k = by.replace("-", "");
      c = k.equals("size") ? Comparator.comparing(r -> num(r.get("length_mm"))) : k.equals("name") ? Comparator.comparing(r -> (String) r.get("label")) : Comparator.comparing(r -> (String) r.get("logged_at"));
      boolean back = by.startsWith("-"); if ("desc".equals(x.q("way")) && !f("way-is-ignored")) back = !back; if (back) c = c.reversed();
    }
    if (res.equals("cut") && x.q.containsKey("sort")) { String s = x.q("sort"); c = s.contains("length") ? Comparator.comparing(r -> num(r.get("length_mm"))) : Comparator.comparing(r -> (String) r.get("asked_at")); if (s.startsWith("-") && !f("cuts-only-upward")) c = c.reversed(); }
    if (c != null) l.sort(c);
    int total = l.size(), take = x.q.containsKey("take") ? Integer.parseInt(x.q("take")) : res.equals("bay") ? (f("bays-ten-a-page") ? 10 : 5) : 10, start = 0;
    if (!res.equals("bay") && !f("take-without-end")) take = Math.min(take, 40);
    String bind = res.equals("trace") ? sha(json(List.of(String.valueOf(x.q("kind")), String.valueOf(x.q("subject")), String.valueOf(x.q("since")), x.ver))).substring(0, 16) : null;
    if (res.equals("bay")) start = (int) Math.min(Integer.MAX_VALUE / 2, ((x.q.containsKey("leaf") ? Long.parseLong(x.q("leaf")) : 1) - (f("leaves-from-zero") ? 0 : 1)) * (long) take);
    else if (res.equals("reading")) take = Integer.MAX_VALUE / 2;
    else if (res.equals("trace")) { if (x.q.containsKey("from")) { String[] a; try { a = new String(Base64.getUrlDecoder().decode(x.q("from")), StandardCharsets.UTF_8).split("\\|"); } catch (IllegalArgumentException e) { throw new E("bad_leaf"); }
        boolean good; try { good = a.length == 3 && (f("cursors-of-any-query") || a[1].equals(bind)) && a[2].equals(hmac("cursor" + base0, a[0] + a[1]).substring(0, 16)); } catch (Exception e) { good = false; }
        if (!good) throw new E("bad_leaf");
        String mark = a[0]; long at = Long.parseLong(mark.split("_", 2)[0]); int i = 0;
        List<String> ord = new ArrayList<>(); // a place: everything after it in the order
        for (Map<String, Object> r : l) { if (order.get(r.get("id")) < at) break; i++; }
        start = i; if (f("pages-overlap")) start = Math.max(0, i - 1); } }
    else if (x.q.containsKey("skip")) start = Integer.parseInt(x.q("skip"));
    List<Object> ice = new ArrayList<>();
    for (int i = Math.min(start, total); i < total && i - start < take; i++) ice.add(choose(x, view(x, res, l.get(i))));
    int end = start + ice.size(); boolean more = start < total && end < total || f("more-at-the-end") && end == total && total > 0;
    if (res.equals("reading")) { answer(x, 200, f("readings-bare") ? ice : m("ice", ice)); return; }
    if (res.equals("trace")) {
      Map<String, Object> o = m("ice", ice); o.put("onward", null);
      if (more) try { String p = order.get(l.get(end - 1).get("id")) + "_"; o.put("onward", Base64.getUrlEncoder().withoutPadding().encodeToString((p + "|" + bind + "|" + hmac("cursor" + base0, p + bind).substring(0, 16)).getBytes())); } catch (Exception e) { throw new RuntimeException(e); }
      answer(x, 200, o); return;
    }
    answer(x, 200, m("ice", ice, "of", (long) (f("of-counts-the-page") ? ice.size() : f("of-counts-unseen") ? rows(res).size() : total), "more", more));
  }
  static final long base0 = System.nanoTime();
  static final Map<Object, Long> order = new HashMap<Object, Long>() { public Long get(Object k) { Long v = super.get(k); if (v == null) { long i = 0; for (Map<String, Object> r : rows("trace")) if (!containsKey(r.get("id"))) put(r.get("id"), (long) size()); v = super.get(k); } return v; } };

  // ---------------------------------------------------------------- start
  public static void main(String[] a) throws Exception {
    int port = 0, clock = 0;
    for (int i = 0; i + 1 < a.length; i += 2) { if (a[i].equals("--port")) port = Integer.parseInt(a[i + 1]); if (a[i].equals("--clock-port")) clock = Integer.parseInt(a[i + 1]); if (a[i].equals("--fault")) FAULT = a[i + 1]; }
    setClock(System.currentTimeMillis()); bucketAt = now();
    HttpServer s = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 64);
    s.setExecutor(POOL); s.createContext("/", service::handle); s.start();
    if (clock != 0) { HttpServer d = HttpServer.create(new InetSocketAddress("127.0.0.1", clock), 16); d.setExecutor(POOL); d.createContext("/", service::door); d.start(); }
    Thread t = new Thread(() -> { synchronized (L) { while (true) try { if (pinned == null) { while (tick()) { } } long n = nextDue(); L.wait(Math.max(5, Math.min(60000, n == Long.MAX_VALUE ? 60000 : n - now()))); } catch (InterruptedException e) { return; } catch (Exception e) { e.printStackTrace(); } } });
    t.setDaemon(true); t.start();
    System.out.println("firn " + port);
    Thread.currentThread().join();
  }
  static void door(HttpExchange ex) throws IOException {
    String in = new String(ex.getRequestBody().readNBytes(65536), StandardCharsets.UTF_8); int st = 200;
    synchronized (L) {
      try {
        if (ex.getRequestMethod().equals("POST")) {
          Object o = parse(in); long to;
          if (!(o instanceof Map)) st = 400;
          else if (map(o).get("advance") instanceof String) { String d = (String) map(o).get("advance"); Matcher mm = Pattern.compile("P(?:(\\d+)Y)?(?:(\\d+)M)?(?:(\\d+)W)?(?:(\\d+)D)?(?:T(?:(\\d+)H)?(?:(\\d+)M)?(?:(\\d+(?:\\.\\d+)?)S)?)?").matcher(d);
            if (!mm.matches() || d.endsWith("P") || d.endsWith("T")) st = 400;
            else { ZonedDateTime z = Instant.ofEpochMilli(now()).atZone(ZoneOffset.UTC); long[] g = new long[7]; for (int i = 1; i <= 6; i++) g[i] = mm.group(i) == null ? 0 : Long.parseLong(mm.group(i)); z = z.plusYears(g[1]).plusMonths(g[2]).plusWeeks(g[3]).plusDays(g[4]).plusHours(g[5]).plusMinutes(g[6]); if (mm.group(7) != null) z = z.plusNanos((long) (Double.parseDouble(mm.group(7)) * 1e9)); moveTo(z.toInstant().toEpochMilli()); } }
          else if (map(o).get("now") instanceof String) { Long t = instant(map(o).get("now")); if (t == null) st = 400; else if (t < now()) st = 422; else moveTo(t); }
          else st = 400;
        } else if (!ex.getRequestMethod().equals("GET")) st = 400;
      } catch (Bad e) { st = 400; } catch (InterruptedException e) { st = 400; }
    }
    byte[] b = json(m("now", iso(now()))).getBytes();
    ex.getResponseHeaders().set("Content-Type", "application/json"); ex.sendResponseHeaders(st, b.length); ex.getResponseBody().write(b); ex.close();
  }
}
