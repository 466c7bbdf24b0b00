import java.math.BigDecimal;
import java.math.RoundingMode;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.*;
import java.time.*;
import java.time.format.DateTimeFormatter;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** The mews: hawks, their chambers, their weight and their flights. */
final class Mews {
  static String fault = "";
  static boolean f(String id) { return fault.equals(id); }

  static final String BASE = "/book";
  static final String OLD = "eyas", NEW = "haggard";
  static final Object lock = new Object();

  // ---------------------------------------------------------------- time

  static volatile long shift = 0;
  static long now() { return System.currentTimeMillis() + shift; }
  static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
  static String stamp(long ms) { return STAMP.format(Instant.ofEpochMilli(ms)); }
  static String httpDate(long ms) { return DateTimeFormatter.RFC_1123_DATE_TIME.format(ZonedDateTime.ofInstant(Instant.ofEpochSecond(ms / 1000), ZoneId.of("GMT"))).replaceFirst("^(\\w+), (\\d) ", "$1, 0$2 "); }
  static final long DEPRECATED = Instant.parse("2026-03-01T00:00:00Z").toEpochMilli(), SUNSET = Instant.parse("2027-09-01T00:00:00Z").toEpochMilli();

  static final class Timer { final long at, seq; final Runnable run; Timer(long at, long seq, Runnable run) { this.at = at; this.seq = seq; this.run = run; } }
  static long timerSeq = 0;
  static final PriorityQueue<Timer> timers = new PriorityQueue<>((a, b) -> a.at != b.at ? Long.compare(a.at, b.at) : Long.compare(a.seq, b.seq));
  static void at(long when, Runnable run) { synchronized (lock) { timers.add(new Timer(when, timerSeq++, run)); lock.notifyAll(); } }

  static void runDue() {
    synchronized (lock) {
      while (!timers.isEmpty() && timers.peek().at <= now()) { Timer t = timers.poll(); try { t.run.run(); } catch (RuntimeException e) { e.printStackTrace(); } }
    }
  }

  static void moveTo(long target) throws InterruptedException {
    while (true) {
      synchronized (lock) {
        Timer t = timers.peek();
        if (t == null || t.at > target) break;
        if (t.at > now()) shift = t.at - System.currentTimeMillis();
        runDue();
      }
      settle(2500);
    }
    synchronized (lock) { if (target > now()) shift = target - System.currentTimeMillis(); runDue(); }
    settle(2500);
  }
  static int sending = 0;
  static void settle(long ms) throws InterruptedException {
    long until = System.currentTimeMillis() + ms;
    synchronized (lock) { while (sending > 0 && System.currentTimeMillis() < until) lock.wait(20); }
  }

  // ---------------------------------------------------------------- refusals

  static final Map<String, Object[]> CODES = new LinkedHashMap<>();
  static void code(String w, String kin, int status, String says) { CODES.put(w, new Object[] { kin, status, says }); }
  static {
    code("torn_page", "request", 400, "The body cannot be read.");
    code("empty_page", "request", 400, "A body is asked for.");
    code("wrong_ink", "request", 415, "The body is of a type that is not taken.");
    code("wrong_tongue", "request", 406, "The answer is JSON.");
    code("odd_question", "request", 400, "A parameter is not as it is stated.");
    code("off_the_book", "request", 400, "There is no such page.");
    code("gap", "request", 422, "Something is missing.");
    code("stranger_word", "request", 422, "A field is sent that there is not.");
    code("unfit", "request", 422, "Something that was sent does not fit.");
    code("no_path", "place", 404, "There is nothing at this path.");
    code("no_such", "place", 404, "There is no such row.");
    code("no_way", "place", 405, "This is not done here.");
    code("who_calls", "caller", 401, "Show a lure or a desk key.");
    code("bad_lure", "caller", 401, "What was shown is not good.");
    code("not_yours", "caller", 403, "This is not for you to do.");
    code("no_licence", "caller", 403, "The key lacks a scope for this.");
    code("no_referent", "row", 422, "What is referred to is not there.");
    code("held_fast", "row", 409, "Something still refers to it.");
    code("twin", "row", 409, "There is one with these values already.");
    code("hawk_not_in", "state", 409, "The hawk is not in its chamber.");
    code("not_now", "state", 409, "This cannot be done in this state.");
    code("not_booked", "state", 409, "The hawk is not booked any more.");
    code("not_airborne", "state", 409, "The hawk is not in the air.");
    code("chamber_full", "state", 409, "All places of the chamber are taken.");
    code("too_early", "state", 425, "The flight begins later than in half an hour.");
    code("too_late", "state", 410, "The flight was begun or is over.");
    code("long_flight", "rule", 422, "A flight takes six hours at the most.");
    code("thin_hawk", "rule", 422, "The hawk was weighed too light to be flown.");
    code("grounded", "rule", 409, "The hawk is not of the house.");
    code("stale_tag", "row", 412, "The row was changed meanwhile.");
    code("tag_wanted", "row", 428, "If-Match is asked for.");
    code("once_used", "request", 422, "The key was used for another request.");
    code("under_way", "request", 409, "Something else is under way.");
    code("too_often", "limit", 429, "Too many requests.");
    code("used_up", "limit", 403, "There may be no more of this.");
    code("too_big", "limit", 413, "This is too large.");
    code("too_slow", "limit", 408, "This took too long.");
    code("no_edition", "version", 400, "There is no such edition.");
    code("old_edition", "version", 410, "This edition is served no more.");
    code("closed", "house", 503, "The mews cannot answer now.");
    code("broken", "house", 500, "Something failed.");
  }
  static final Set<String> OWN = Set.of("chamber_full", "too_early", "too_late", "not_booked", "not_airborne", "long_flight", "thin_hawk", "grounded");

  /** One thing that is wrong in what was sent. */
  static final class Flaw {
    final String in, path, expected, kind; final Object found;
    Flaw(String in, String path, Object found, String expected, String kind) { this.in = in; this.path = path; this.found = found; this.expected = expected; this.kind = kind; }
    Map<String, Object> show() {
      Map<String, Object> m = new LinkedHashMap<>();
      m.put("in", in); m.put("path", f("paths_pointer") && in.equals("body") ? "/" + path.replace('.', '/') : path); m.put("found", found); m.put("expected", expected);
      return m;
    }
  }
  static final class Refusal extends RuntimeException {
    final String word; final List<Flaw> flaws; final Map<String, String> headers = new LinkedHashMap<>();
    Refusal(String word, List<Flaw> flaws) { super(word, null, false, false); this.word = word; this.flaws = flaws; }
    Refusal with(String n, String v) { headers.put(n, v); return this; }
  }
  static Refusal no(String word) { return new Refusal(word, null); }
  static Refusal odd(String name, Object found, String expected) { return new Refusal("odd_question", List.of(new Flaw("query", name, found, expected, "value"))); }
  static void unfit(List<Flaw> sent, List<Flaw> missing) {
    List<Flaw> all = new ArrayList<>(sent); all.addAll(missing);
    if (all.isEmpty()) return;
    String kind = all.get(0).kind;
    if (f("first_flaw_only")) all = all.subList(0, 1);
    throw new Refusal(kind.equals("missing") ? f("gap_is_unfit") ? "unfit" : "gap" : kind.equals("unknown") ? "stranger_word" : "unfit", all);
  }
  static String found(Object v) {
    String s = Json.write(v);
    return s.length() > 60 ? s.substring(0, 57) + "..." : s;
  }

  // ---------------------------------------------------------------- callers

  static final class Caller {
    final String user, id, club; final Set<String> scopes;
    Caller(String user, String id, String club, String... scopes) { this.user = user; this.id = id; this.club = club; this.scopes = Set.of(scopes); }
    String key() { return user + " " + id; }
    boolean is(String u) { return user.equals(u); }
  }
  static final Map<String, Caller> LURES = new HashMap<>(), DESKS = new HashMap<>();
  static {
    LURES.put("lure_a1Bc2dE3fG4hI5jK6lM7nO8p", new Caller("falconer", "f-ada", "heath", "lodge", "fly"));
    LURES.put("lure_b2Cd3eF4gH5iJ6kL7mN8oP9q", new Caller("falconer", "f-bram", "heath", "lodge", "fly"));
    DESKS.put("desk_c3De4fG5hI6jK7lM8nO9pQ0r", new Caller("falconer", "f-cleo", "moor", "lodge", "fly"));
    LURES.put("lure_d4Ef5gH6iJ7kL8mN9oP0qR1s", new Caller("falconer", "f-dirk", "heath", "lodge"));
    LURES.put("lure_e5Fg6hI7jK8lM9nO0pQ1rS2t", new Caller("warden", "w-edda", "house"));
    DESKS.put("desk_f6Gh7iJ8kL9mN0oP1qR2sT3u", new Caller("warden", "w-finn", "house"));
    LURES.put("lure_g7Hi8jK9lM0nO1pQ2rS3tU4v", new Caller("vet", "v-gwen", "surgery"));
    DESKS.put("desk_h8Ij9kL0mN1oP2qR3sT4uV5w", new Caller("vet", "v-hal", "surgery"));
  }

  static Refusal unknown(String word, boolean lure, boolean desk) {
    Refusal r = no(word);
    if (f("no_challenge")) return r;
    return r.with("WWW-Authenticate", "ApiKey realm=\"Mews\", in=\"header\", name=\"Mews-Lure\"" + (lure ? ", error=\"invalid_key\"" : "") + ", Basic realm=\"Mews\", charset=\"UTF-8\"");
  }
  static Caller caller(Http.Request q) {
    List<String> l = q.all("Mews-Lure"), a = q.all("Authorization");
    if (l.isEmpty() && a.isEmpty()) throw unknown("who_calls", false, false);
    if (l.size() > 1 || a.size() > 1) throw unknown("bad_lure", true, true);
    Caller c = null;
    if (!l.isEmpty()) {
      c = LURES.get(l.get(0));
      if (c == null && f("lure_any_case")) for (String k : LURES.keySet()) if (k.equalsIgnoreCase(l.get(0))) c = LURES.get(k);
      if (c == null) throw unknown("bad_lure", true, false);
    }
    if (!a.isEmpty()) {
      Caller d = null; String h = a.get(0);
      if (h.length() > 6 && h.substring(0, 6).equalsIgnoreCase("Basic ")) {
        try {
          String p = new String(Base64.getDecoder().decode(h.substring(6).trim()), StandardCharsets.UTF_8);
          if (p.endsWith(":")) d = DESKS.get(p.substring(0, p.length() - 1));
          else if (f("desk_password") && p.indexOf(':') > 0) d = DESKS.get(p.substring(0, p.indexOf(':')));
        } catch (IllegalArgumentException e) { }
      }
      if (d == null) throw unknown("bad_lure", false, true);
      if (c != null && !c.key().equals(d.key()) && !f("two_callers")) throw unknown("bad_lure", true, true);
      if (c == null) c = d;
    }
    if (f("vet_unknown") && c.is("vet")) throw unknown("bad_lure", true, true);
    return c;
  }

  // ---------------------------------------------------------------- rows

  static final class Row {
    final Map<String, Object> v = new LinkedHashMap<>();
    long seq, entered; int visit;
    String version; Caller maker; long failingSince = -1;   // of listeners
    String s(String k) { return (String) v.get(k); }
    long n(String k) { return (Long) v.get(k); }
    boolean b(String k) { return Boolean.TRUE.equals(v.get(k)); }
  }
  static long rowSeq = 0;
  static final Map<String, Row> species = new TreeMap<>(), chambers = new TreeMap<>();
  static final Map<String, Row> hawks = new LinkedHashMap<>(), weighings = new LinkedHashMap<>(), flights = new LinkedHashMap<>(), listeners = new LinkedHashMap<>();
  static final Map<String, List<Row>> weighingsOf = new HashMap<>();
  static final Map<String, Long> numbers = new HashMap<>();
  static void kind(String slug, String name, boolean wild) { Row r = new Row(); r.v.put("slug", slug); r.v.put("name", name); r.v.put("wild", wild); r.seq = rowSeq++; species.put(slug, r); }

  static final SecureRandom random = new SecureRandom();
  static String pick(String of, int n) { StringBuilder b = new StringBuilder(); for (int i = 0; i < n; i++) b.append(of.charAt(random.nextInt(of.length()))); return b.toString(); }
  static final String HEX = "0123456789abcdef", UP = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", ALL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", B32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  static String ulid() { long t = now(); char[] c = new char[10]; for (int i = 9; i >= 0; i--) { c[i] = B32.charAt((int) (t & 31)); t >>= 5; } return new String(c) + pick(B32, 16); }

  static long occupied(Row c) {
    long n = 0; String code = c.s("code");
    for (Row h : hawks.values()) if (h.s("chamber").equals(code) && (h.s("status").equals("lodged") || h.s("status").equals("aloft") || f("occupied_booked") && h.s("status").equals("booked"))) n++;
    return n;
  }
  static Long lightest(Row h) {
    Long m = null;
    for (Row w : weighingsOf.getOrDefault(h.s("id"), List.of())) { long g = w.n("grams"); if (m == null || (f("lightest_is_last") || g < m)) m = g; }
    return m;
  }

  // ---------------------------------------------------------------- fields

  static final class Field {
    final String name; final String type; boolean required, readOnly, immutable; Object def; String writable;
    long min = Long.MIN_VALUE, max = Long.MAX_VALUE; Pattern pattern; List<String> values;
    Field(String name, String type) { this.name = name; this.type = type; }
    Field req() { required = true; return this; }
    Field range(long a, long b) { min = a; max = b; return this; }
    Field pat(String p) { pattern = Pattern.compile(p); return this; }
    Field of(String... v) { values = List.of(v); return this; }
    Field def(Object d) { def = d; return this; }
  }
  static Field ro(String n) { Field x = new Field(n, "string"); x.readOnly = true; return x; }
  static Field fd(String n, String t) { return new Field(n, t); }
  static final Map<String, Map<String, Field>> FIELDS = new HashMap<>();
  static void fields(String r, Field... fs) { Map<String, Field> m = new LinkedHashMap<>(); for (Field x : fs) m.put(x.name, x); FIELDS.put(r, m); }
  static void build() {
    Field ring = fd("ring_no", "string").req().pat(f("ring_pattern") ? "[A-Z]{2}[0-9]{3,6}" : "^[A-Z]{2}[0-9]{3,6}$"); ring.immutable = true;
    Field remarks = fd("remarks", "string").range(0, 300); remarks.writable = "warden";
    Field sp = fd("species", "ref"); if (!f("species_optional")) sp.req();
    fields("chamber", fd("code", "string").pat("^[A-Z][0-9]{1,2}$"), fd("label", "string").range(2, 40).req(), fd("side", "enum").of("north", "south", "infirmary").req(),
        fd("places", "integer").range(f("places_zero") ? 0 : 1, 12).req(), fd("perches", "perches").def(new ArrayList<>(List.of("bow"))), ro("occupied"));
    fields("hawk", ro("id"), ro("owner"), ro("club"), fd("name", "string").range(f("name_empty") ? 0 : 1, 40).req(), sp, ring,
        fd("sex", "enum").of("male", "female", "unknown").def(f("sex_default") ? "male" : "unknown"), fd("hatched", "date"),
        fd("weight_g", "integer").range(50, f("weight_bound") ? 9001 : 9000).req(), fd("diet", "diet").req(), fd("chamber", "ref").req(), fd("shown", "boolean").def(Boolean.FALSE), remarks,
        ro("status"), ro("lightest_g"), ro("weighings"), ro("booked_at"), ro("admitted_at"), ro("changed_at"));
    fields("weighing", ro("id"), ro("number"), fd("hawk", "ref"), fd("grams", "integer").range(50, 9000).req(), fd("crop", "enum").of("empty", "half", "full").def("empty"),
        fd("note", "string").range(0, f("note_length") ? 121 : 120), ro("by"), ro("at"));
    fields("flight", ro("id"), fd("hawk", "ref").req(), ro("flier"), fd("ground", "string").range(2, 60).req(), fd("from", "date-time").req(), fd("until", "date-time").req(), fd("bells", "boolean").def(Boolean.TRUE),
        ro("status"), ro("catch"), ro("reason"), ro("launched_at"), ro("ended_at"));
    fields("listener", ro("id"), ro("owner"), fd("label", "string").range(0, 30).def("a listener"), fd("url", "uri").req(), ro("secret"), fd("kinds", "kinds"), fd("active", "boolean").def(Boolean.TRUE), ro("made_at"));
    kind("peregrine", "Peregrine falcon", true);
    kind("goshawk", "Northern goshawk", true);
    kind("harris", "Harris's hawk", false);
    if (!f("species_row")) kind("merlin", "Merlin", true);
  }

  static final Pattern DATE = Pattern.compile("\\d{4}-\\d{2}-\\d{2}"), DATETIME = Pattern.compile("\\d{4}-\\d{2}-\\d{2}[Tt]([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?([Zz]|[+-]([01]\\d|2[0-3]):[0-5]\\d)");
  static Long instant(Object v) {
    if (!(v instanceof String) || !DATETIME.matcher((String) v).matches()) return null;
    try { return OffsetDateTime.parse(((String) v).toUpperCase()).toInstant().toEpochMilli(); } catch (DateTimeException e) { return null; }
  }
  static Instant exact(Object v) { return OffsetDateTime.parse(((String) v).toUpperCase()).toInstant(); }
  static Long whole(Object v) {
    if (v instanceof Long) return (Long) v;
    if (v instanceof BigDecimal) try { return ((BigDecimal) v).longValueExact(); } catch (ArithmeticException e) { return null; }
    return null;
  }

  static Flaw bad(String path, Object v, String expected) { return new Flaw("body", path, found(v), expected, "value"); }
  static final List<String> KINDS = List.of("hawk.admitted", "hawk.lapsed", "hawk.moved", "weighing.taken", "flight.begun", "flight.ended");

  /** Holds a value to its field, and gives it as it is stored. */
  static Object fit(Field d, Object v, String path, String ver, List<Flaw> out, List<Flaw> missing) {
    switch (d.type) {
      case "string": {
        if (!(v instanceof String)) { out.add(new Flaw("body", path, found(v), "a text", "value")); return null; }
        String s = (String) v; int n = s.codePointCount(0, s.length());
        if (n < d.min) out.add(bad(path, v, "at least " + d.min + " characters"));
        else if (n > d.max) out.add(bad(path, v, "at most " + d.max + " characters"));
        else if (d.pattern != null && !d.pattern.matcher(s).find()) out.add(bad(path, v, "a text like " + d.pattern.pattern()));
        return s;
      }
      case "ref": if (!(v instanceof String)) { out.add(bad(path, v, "an identifier")); return null; } return v;
      case "enum": if (!(v instanceof String) || !d.values.contains(v)) { out.add(bad(path, v, "one of " + String.join(", ", d.values))); return null; } return v;
      case "boolean": if (!(v instanceof Boolean)) { out.add(bad(path, v, "true or false")); return null; } return v;
      case "integer": {
        if (d.name.equals("grams") && OLD.equals(ver) && path.equals("grams")) {
          if (!(v instanceof Long || v instanceof BigDecimal)) { out.add(bad(path, v, "a number")); return null; }
          BigDecimal x = v instanceof Long ? BigDecimal.valueOf((Long) v) : (BigDecimal) v;
          if (f("grams_unmapped")) { Long w = whole(v); if (w != null) return w; }
          if (x.compareTo(new BigDecimal("0.05")) < 0) { out.add(bad(path, v, "at least 0.05")); return null; }
          if (x.compareTo(BigDecimal.valueOf(9)) > 0) { out.add(bad(path, v, "at most 9")); return null; }
          return x.multiply(BigDecimal.valueOf(1000)).setScale(0, RoundingMode.HALF_UP).longValueExact();
        }
        Long n = whole(v);
        if (n == null) { out.add(bad(path, v, "a whole number")); return null; }
        if (n < d.min) out.add(bad(path, v, "at least " + d.min));
        else if (n > d.max) out.add(bad(path, v, "at most " + d.max));
        return n;
      }
      case "date": {
        boolean ok = v instanceof String && DATE.matcher((String) v).matches();
        if (ok && !f("hatched_any")) try { LocalDate.parse((String) v); } catch (DateTimeException e) { ok = false; }
        if (!ok) { out.add(bad(path, v, "a date")); return null; }
        return v;
      }
      case "date-time": if (instant(v) == null) { out.add(bad(path, v, "a date-time")); return null; } return v;
      case "uri": {
        boolean ok = v instanceof String;
        if (ok && !f("url_any")) try { URI u = new URI((String) v); ok = u.getScheme() != null && (u.getScheme().equalsIgnoreCase("http") || u.getScheme().equalsIgnoreCase("https")) && u.getHost() != null; } catch (Exception e) { ok = false; }
        if (!ok) { out.add(bad(path, v, "an address")); return null; }
        return v;
      }
      case "perches": {
        if (!(v instanceof List)) { out.add(bad(path, v, "a list")); return null; }
        List<?> l = (List<?>) v; Set<Object> seen = new HashSet<>();
        if (l.size() > 4) out.add(bad(path, v, "at most 4 items"));
        boolean twice = false;
        for (int i = 0; i < l.size(); i++) {
          if (!(l.get(i) instanceof String) || !List.of("bow", "block", "shelf", "screen").contains(l.get(i))) out.add(bad(path + "." + i, l.get(i), "one of bow, block, shelf, screen"));
          if (!seen.add(l.get(i))) twice = true;
        }
        if (twice && !f("perches_twice")) out.add(bad(path, v, "no item twice"));
        return v;
      }
      case "kinds": {
        if (!(v instanceof List)) { out.add(bad(path, v, "a list")); return null; }
        List<?> l = (List<?>) v;
        if (l.isEmpty()) out.add(bad(path, v, "at least 1 item"));
        if (l.size() > 8) out.add(bad(path, v, "at most 8 items"));
        for (int i = 0; i < l.size(); i++) {
          Object o = l.get(i);
          if (!(o instanceof String)) out.add(bad(path + "." + i, o, "a text"));
          else if (!(KINDS.contains(o) || o.equals("*") || o.equals("hawk.*") || o.equals("weighing.*") || o.equals("flight.*"))) out.add(bad(path + "." + i, o, "a kind of event"));
        }
        return v;
      }
      case "diet": {
        if (!(v instanceof Map)) { out.add(bad(path, v, "a diet")); return null; }
        Map<?, ?> m = (Map<?, ?>) v;
        if (!m.containsKey("kind")) { missing.add(new Flaw("body", path + ".kind", "nothing", "cut or whole", "missing")); return null; }
        Object k = m.get("kind");
        if (!"cut".equals(k) && !"whole".equals(k)) { out.add(bad(path + ".kind", k, "cut or whole")); return null; }
        Map<String, Field> fs = new LinkedHashMap<>();
        if (k.equals("cut")) { fs.put("meat", fd("meat", "enum").of("beef", "quail", "rabbit")); fs.put("grams", fd("grams", "integer").range(5, f("diet_bound") ? 1000 : 500)); }
        else { fs.put("prey", fd("prey", "enum").of("chick", "mouse", "quail")); fs.put("per_day", fd("per_day", "integer").range(1, 6)); }
        Map<String, Object> kept = new LinkedHashMap<>(); kept.put("kind", k);
        for (Map.Entry<?, ?> e : m.entrySet()) {
          String n = (String) e.getKey();
          if (n.equals("kind")) continue;
          Field x = fs.get(n);
          if (x == null) { if (!f("diet_mixed")) out.add(new Flaw("body", path + "." + n, found(e.getValue()), "no such field", "unknown")); continue; }
          kept.put(n, fit(x, e.getValue(), path + "." + n, ver, out, missing));
        }
        for (String n : fs.keySet()) if (!m.containsKey(n)) missing.add(new Flaw("body", path + "." + n, "nothing", "a value", "missing"));
        return kept;
      }
      default: throw new IllegalStateException(d.type);
    }
  }

  static String told(String res, String field, String ver) { return OLD.equals(ver) && res.equals("hawk") && field.equals("weight_g") && !f("flaw_new_word") ? "weight" : field; }
  /** The field that a sent name means in a version; null = there is none. */
  static Field meant(String res, String name, String ver) {
    if (OLD.equals(ver) && res.equals("hawk")) {
      if (name.equals("weight")) return FIELDS.get(res).get("weight_g");
      if (name.equals("weight_g") || name.equals("lightest_g")) return f("eyas_new_word") && name.equals("weight_g") ? FIELDS.get(res).get("weight_g") : null;
      if (name.equals("hood")) return HOOD;
    }
    return FIELDS.get(res).get(name);
  }
  static final Field HOOD = fd("hood", "string").range(0, 20);

  /** What a creation or a replacement comes to of what was sent. */
  static Map<String, Object> made(String res, Object body, Caller c, String ver, String bound) {
    List<Flaw> out = new ArrayList<>(), missing = new ArrayList<>();
    Map<String, Object> next = new LinkedHashMap<>();
    if (!(body instanceof Map)) { out.add(bad("", body, "a map")); unfit(out, missing); }
    Set<String> sent = new HashSet<>();
    for (Map.Entry<?, ?> e : ((Map<?, ?>) body).entrySet()) {
      String n = (String) e.getKey(); Field d = meant(res, n, ver);
      if (d == null) { if (!f("unknown_taken")) out.add(new Flaw("body", n, found(e.getValue()), "no such field", "unknown")); continue; }
      if (f("owner_sent") && n.equals("owner") && e.getValue() instanceof String) next.put("owner", e.getValue());
      if (d.readOnly) continue;
      if (d.writable != null && !c.is(d.writable) && !f("remarks_written")) continue;
      sent.add(d.name);
      Object v = fit(d, e.getValue(), n, ver, out, missing);
      if (d == HOOD) continue;
      if (d.name.equals(bound) || res.equals("chamber") && d.name.equals("code")) { next.put(" " + d.name, e.getValue()); continue; }
      if (v != null) next.put(d.name, v);
    }
    for (Field d : FIELDS.get(res).values()) {
      if (sent.contains(d.name) || d.readOnly) continue;
      if (d.def != null) next.put(d.name, d.def);
      else if (d.required && !d.name.equals(bound)) missing.add(new Flaw("body", told(res, d.name, ver), "nothing", "a value", "missing"));
    }
    if (res.equals("flight") && next.get("from") != null && next.get("until") != null) {
      int k = exact(next.get("until")).compareTo(exact(next.get("from")));
      if (k < 0 || k == 0 && !f("ends_with_begin")) out.add(bad("until", next.get("until"), "a time after from"));
    }
    if (bound != null && next.containsKey(" " + bound)) next.put(" sent", next.remove(" " + bound));
    if (next.containsKey(" sent") || next.containsKey(" code")) { next.put(" out", out); next.put(" missing", missing); return next; }
    unfit(out, missing);
    return next;
  }

  /** A merge patch of a row: the row as it would be. */
  static Map<String, Object> patched(String res, Row row, Object body, Caller c, String ver) {
    List<Flaw> out = new ArrayList<>(), missing = new ArrayList<>();
    Map<String, Object> next = new LinkedHashMap<>(row.v);
    if (!(body instanceof Map)) { out.add(bad("", body, "a map")); unfit(out, missing); }
    Map<?, ?> m = (Map<?, ?>) body;
    if (f("patch_wipes")) for (Field d : FIELDS.get(res).values()) if (!d.readOnly && !d.required && d.def == null) next.remove(d.name);
    for (Map.Entry<?, ?> e : m.entrySet()) {
      String n = (String) e.getKey(); Field d = meant(res, n, ver); Object v = e.getValue();
      if (d == null) { if (!f("unknown_taken")) out.add(new Flaw("body", n, found(v), "no such field", "unknown")); continue; }
      if (d.readOnly) continue;
      if (d.writable != null && !c.is(d.writable) && !f("remarks_written")) continue;
      if (v == null) {
        if (d.required || d.def != null) out.add(bad(n, null, "a value"));
        else if (!f("null_ignored")) next.remove(d.name);
        continue;
      }
      if (d.type.equals("diet") && v instanceof Map && next.get(d.name) instanceof Map && !f("diet_not_merged")) {
        Map<String, Object> x = new LinkedHashMap<>();
        ((Map<?, ?>) next.get(d.name)).forEach((k, o) -> x.put((String) k, o));
        ((Map<?, ?>) v).forEach((k, o) -> { if (o == null) x.remove(k); else x.put((String) k, o); });
        v = x;
      }
      Object w = fit(d, v, n, ver, out, missing);
      if (d == HOOD) continue;
      if (d.immutable && !f("ring_changes")) { if (w != null && !w.equals(next.get(d.name))) out.add(bad(n, v, "the value that it has")); continue; }
      if (w != null) next.put(d.name, w);
    }
    unfit(out, missing);
    return next;
  }

  // ---------------------------------------------------------------- who may see what

  static final Set<String> CLUB_SEES = Set.of("id", "owner", "club", "name", "species", "status", "chamber", "shown", "booked_at");
  /** 0 = not at all, 1 = what a club shows, 2 = everything. */
  static int sees(Caller c, Row h) { return sees(c, h.v); }
  static int sees(Caller c, Map<String, Object> h) {
    switch (c.user) {
      case "falconer":
        if (c.id.equals(h.get("owner"))) return 2;
        if (f("other_owner_read")) return 2;
        if ((Boolean.TRUE.equals(h.get("shown")) || f("shown_ignored")) && (c.club.equals(h.get("club")) || f("club_ignored"))) return f("club_sees_all") ? 2 : 1;
        return 0;
      case "warden": return 2;
      default: return "lodged".equals(h.get("status")) || "aloft".equals(h.get("status")) || f("vet_sees_booked") && "booked".equals(h.get("status")) ? 2 : 0;
    }
  }
  static boolean seesWeighing(Caller c, Map<String, Object> hawk) { return !c.is("falconer") || c.id.equals(hawk.get("owner")); }
  static boolean seesFlight(Caller c, Map<String, Object> v) { return c.is("warden") || c.is("falconer") && (c.id.equals(v.get("flier")) || f("flight_of_others")); }
  static boolean seesListener(Caller c, Row r) { return f("listener_of_others") || !c.is("vet") && c.id.equals(r.s("owner")); }

  static Map<String, Object> showHawk(Row h, Caller c, String ver) {
    Map<String, Object> m = new LinkedHashMap<>(); int level = sees(c, h);
    Long light = lightest(h);
    for (String k : FIELDS.get("hawk").keySet()) {
      Object v = h.v.get(k);
      if (k.equals("lightest_g")) v = light;
      if (k.equals("weighings")) v = (long) weighingsOf.getOrDefault(h.s("id"), List.of()).size();
      if (v == null || level < 2 && !CLUB_SEES.contains(k)) continue;
      if (k.equals("remarks") && c.is("falconer") && !f("remarks_shown")) continue;
      if (k.equals("weight_g") && f("weight_as_text")) v = String.valueOf(v);
      if (k.equals("booked_at") && f("booked_at_missing")) continue;
      if (OLD.equals(ver)) {
        if (k.equals("lightest_g") && !f("eyas_lightest")) continue;
        if (k.equals("weight_g") && !f("eyas_new_word")) { m.put("weight", v); continue; }
      }
      m.put(k, v);
    }
    if (OLD.equals(ver) && level == 2 && !f("eyas_no_hood")) m.put("hood", "plain");
    return m;
  }
  static Map<String, Object> showChamber(Row r) {
    Map<String, Object> m = new LinkedHashMap<>(r.v); m.put("occupied", occupied(r));
    if (f("chamber_extra")) m.put("row", r.seq);
    return m;
  }
  static Map<String, Object> showWeighing(Row r, String ver) {
    Map<String, Object> m = new LinkedHashMap<>(r.v);
    if (OLD.equals(ver) && !f("grams_unmapped")) m.put("grams", new BigDecimal(r.n("grams")).divide(BigDecimal.valueOf(1000)));
    return m;
  }
  static Map<String, Object> showFlight(Row r, String ver) {
    Map<String, Object> m = new LinkedHashMap<>(r.v);
    if (OLD.equals(ver) && "called_off".equals(m.get("status")) && !f("eyas_called_off")) m.put("status", "cancelled");
    if (f("airborne_word") && "airborne".equals(m.get("status"))) m.put("status", "launched");
    return m;
  }
  static Map<String, Object> showListener(Row r, boolean first) {
    Map<String, Object> m = new LinkedHashMap<>(r.v);
    if (!first && !f("secret_again")) m.remove("secret");
    return m;
  }

  // ---------------------------------------------------------------- events

  static final class Event {
    String id, kind, row; long at; Map<String, Object> now, old; Predicate<Caller> reader;
    Map<String, Object> envelope(String ver) {
      Map<String, Object> m = new LinkedHashMap<>();
      m.put("ref", id); m.put("word", kind); if (!f("no_told_at")) m.put("told_at", stamp(at)); m.put("what", OLD.equals(ver) && !f("event_new_words") ? old : now);
      return m;
    }
  }
  static final List<Event> kept = new ArrayList<>();
  static final class Delivery { Event e; Row sub; int tries; String lane; }
  static final Map<String, ArrayDeque<Delivery>> lanes = new HashMap<>();
  static final Set<BlockingQueue<Event>> streams = new HashSet<>();
  static final ExecutorService couriers = Executors.newFixedThreadPool(8, r -> { Thread t = new Thread(r); t.setDaemon(true); return t; });
  static final long[] WAITS = { 10_000, 120_000, 1_200_000 };

  static void emit(String kind, String row, Map<String, Object> now, Map<String, Object> old, Predicate<Caller> reader) {
    Event e = new Event(); e.id = "evt-" + pick(HEX, 16); e.kind = kind; e.row = row; e.at = now(); e.now = now; e.old = old; e.reader = reader;
    while (!kept.isEmpty() && kept.get(0).at < e.at - 2 * 3_600_000L) kept.remove(0);
    kept.add(e);
    for (BlockingQueue<Event> s : streams) s.add(e);
    for (Row l : listeners.values()) {
      if (!l.b("active") && !f("inactive_hears")) continue;
      List<?> ks = (List<?>) l.v.get("kinds");
      if (ks != null && !f("kinds_ignored") && !ks.contains(kind) && !ks.contains("*") && !ks.contains(kind.substring(0, kind.indexOf('.')) + ".*")) continue;
      if (!reader.test(l.maker) && !f("event_to_all")) continue;
      for (int i = 0; i < (f("event_twice") ? 2 : 1); i++) {
        Delivery d = new Delivery(); d.e = e; d.sub = l; d.lane = l.s("id") + "|" + row;
        if (i == 1) { Event x = new Event(); x.id = "evt-" + pick(HEX, 16); x.kind = kind; x.row = row; x.at = e.at; x.now = now; x.old = old; x.reader = reader; d.e = x; }
        ArrayDeque<Delivery> lane = lanes.computeIfAbsent(d.lane, k -> new ArrayDeque<>());
        lane.add(d);
        if (lane.size() == 1) send(d);
      }
    }
  }
  static void emitFlight(String kind, Row r) {
    Map<String, Object> snap = new LinkedHashMap<>(r.v);
    emit(kind, r.s("id"), showFlight(r, NEW), showFlight(r, OLD), c -> seesFlight(c, snap));
  }
  static void emitHawk(String kind, Row h, Map<String, Object> what) {
    Map<String, Object> snap = new LinkedHashMap<>(h.v);
    emit(kind, h.s("id"), what, what, c -> sees(c, snap) > 0);
  }
  static void send(Delivery d) { sending++; couriers.execute(() -> courier(d)); }
  static void laneNext(Delivery d) {
    ArrayDeque<Delivery> lane = lanes.get(d.lane);
    if (lane == null) return;
    if (lane.peek() == d) lane.poll();
    if (lane.isEmpty()) lanes.remove(d.lane); else send(lane.peek());
  }
  static void courier(Delivery d) {
    int status = 0; String body, url, seal; String ts; long wait = 0; boolean go;
    synchronized (lock) {
      go = listeners.get(d.sub.s("id")) == d.sub && (d.sub.b("active") || f("inactive_hears"));
      body = Json.write(d.e.envelope(d.sub.version));
      url = d.sub.s("url");
      long t = now(); ts = String.valueOf(f("seal_ms") ? t : t / 1000);
      seal = "ts=" + ts + ",seal=" + hmac(d.sub.s("secret"), f("seal_body_only") ? body : d.e.id + "|" + ts + "|" + body);
    }
    if (go) {
      try {
        java.net.HttpURLConnection c = (java.net.HttpURLConnection) new java.net.URL(url).openConnection(java.net.Proxy.NO_PROXY);
        c.setConnectTimeout(5000); c.setReadTimeout(5000); c.setInstanceFollowRedirects(false); c.setRequestMethod("POST"); c.setDoOutput(true);
        c.setRequestProperty("Content-Type", "application/json");
        c.setRequestProperty("Mews-Seal", seal);
        if (!f("no_event_header")) c.setRequestProperty("Mews-Event", d.e.kind);
        byte[] b = body.getBytes(StandardCharsets.UTF_8);
        c.setFixedLengthStreamingMode(b.length);
        c.getOutputStream().write(b);
        status = c.getResponseCode();
        String ra = c.getHeaderField("Retry-After");
        if (ra != null && ra.matches("\\d{1,6}")) wait = Math.min(86_400_000L, Long.parseLong(ra) * 1000);
        c.disconnect();
      } catch (Exception e) { status = 0; }
    }
    synchronized (lock) {
      if (!go) { lanes.remove(d.lane); }
      else if (status >= 200 && status < 300) { d.sub.failingSince = -1; laneNext(d); }
      else {
        if (d.sub.failingSince < 0) d.sub.failingSince = now();
        if ((status == 410 || now() - d.sub.failingSince >= 12 * 3_600_000L) && !f("never_disabled")) { d.sub.v.put("active", Boolean.FALSE); d.sub.failingSince = -1; lanes.keySet().removeIf(k -> k.startsWith(d.sub.s("id") + "|")); }
        else if (d.tries >= WAITS.length || f("no_retry")) laneNext(d);
        else { long w = Math.max(WAITS[d.tries], wait); d.tries++; at(now() + w, () -> { if (lanes.containsKey(d.lane)) send(d); }); }
      }
      sending--; lock.notifyAll();
    }
  }
  static String hmac(String key, String text) {
    try {
      javax.crypto.Mac m = javax.crypto.Mac.getInstance("HmacSHA256");
      m.init(new javax.crypto.spec.SecretKeySpec(key.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      StringBuilder b = new StringBuilder(); for (byte x : m.doFinal(text.getBytes(StandardCharsets.UTF_8))) b.append(HEX.charAt((x >> 4) & 15)).append(HEX.charAt(x & 15)); return b.toString();
    } catch (GeneralSecurityException e) { throw new IllegalStateException(e); }
  }

  // ---------------------------------------------------------------- states

  static void store(Row h) { if (!f("changed_at_stuck")) h.v.put("changed_at", stamp(now())); }
  static void enter(Row r, String state) { r.v.put("status", state); r.entered = now(); r.visit++; }

  static void enterHawk(Row h, String state) {
    enter(h, state);
    if (state.equals("booked") && !f("lapse_never")) {
      int visit = h.visit;
      at(now() + (f("lapse_early") ? 48 : 72) * 3_600_000L, () -> {
        if (hawks.get(h.s("id")) != h || h.visit != visit || !h.s("status").equals("booked")) return;
        enterHawk(h, "lapsed"); store(h);
        Map<String, Object> w = new LinkedHashMap<>(); w.put("hawk", h.s("id")); w.put("owner", h.s("owner"));
        if (!f("lapse_silent")) emitHawk("hawk.lapsed", h, w);
      });
    }
  }
  static void moveHawk(String id, String from, String to) { Row h = hawks.get(id); if (h == null || !h.s("status").equals(from)) throw no(to.equals("aloft") ? f("then_code") ? "not_now" : "hawk_not_in" : "not_now"); enterHawk(h, to); store(h); }
  static void endFlight(Row r, String state) {
    enter(r, state); r.v.put("ended_at", stamp(now()));
    if (!(f("miss_silent") && state.equals("missed"))) emitFlight("flight.ended", r);
  }
  static void planFlight(Row r) {
    enter(r, "planned");
    if (f("miss_never")) return;
    at(instant(r.v.get("until")), () -> { if (flights.get(r.s("id")) == r && r.s("status").equals("planned")) endFlight(r, "missed"); });
  }
  static void launch(Row r) {
    if (!f("launch_any_hawk") || hawks.get(r.s("hawk")).s("status").equals("lodged")) moveHawk(r.s("hawk"), "lodged", "aloft");
    enter(r, "airborne"); r.v.put("launched_at", stamp(now()));
    int visit = r.visit;
    at(now() + (f("stray_late") ? 4 : 3) * 3_600_000L, () -> {
      if (flights.get(r.s("id")) != r || r.visit != visit) return;
      if (!f("stray_keeps_hawk")) { Row h = hawks.get(r.s("hawk")); if (h.s("status").equals("aloft")) { enterHawk(h, "lost"); store(h); } }
      endFlight(r, "strayed");
    });
    emitFlight("flight.begun", r);
  }

  // ---------------------------------------------------------------- endpoints

  static final class Ep { final String method, path, op; final String[] segs; Ep(String m, String p, String op) { method = m; path = p; segs = p.substring(1).split("/"); this.op = op; } }
  static final List<Ep> EPS = new ArrayList<>();
  static void ep(String m, String p, String op) { EPS.add(new Ep(m, p, op)); }
  static void endpoints() {
    ep("GET", "/species", "list species"); ep("GET", "/species/{slug}", "read species");
    ep("GET", "/chambers", "list chamber"); ep("GET", "/chambers/{code}", "read chamber"); ep("PUT", "/chambers/{code}", "upsert chamber"); ep("DELETE", "/chambers/{code}", "delete chamber");
    ep("POST", "/hawks", "create hawk"); ep("GET", "/hawks", "list hawk"); ep("GET", "/hawks/{id}", "read hawk"); ep("PATCH", "/hawks/{id}", "update hawk"); ep("DELETE", "/hawks/{id}", "delete hawk");
    ep("POST", "/hawks/{id}/admit", "admit hawk"); ep("POST", "/hawks/{id}/collect", "collect hawk"); if (!f("no_regain")) ep("POST", "/hawks/{id}/regain", "regain hawk");
    ep("POST", "/hawks/{hawk}/weighings", "create weighing"); ep("GET", "/hawks/{hawk}/weighings", "list weighing"); ep("GET", "/weighings/{id}", "read weighing"); ep("DELETE", "/weighings/{id}", "delete weighing");
    ep("POST", "/flights", "create flight"); ep("GET", "/flights", "list flight"); ep("GET", "/hawks/{hawk}/flights", "list outings"); ep("GET", "/flights/{id}", "read flight");
    ep("POST", "/flights/{id}/launch", "launch flight"); ep("POST", "/flights/{id}/land", "land flight"); ep("POST", f("call_off_path") ? "/flights/{id}/call_off" : "/flights/{id}/call-off", "call_off flight");
    ep("POST", "/listeners", "create listener"); ep("GET", "/listeners", "list listener"); ep("GET", "/listeners/{id}", "read listener"); ep("PATCH", "/listeners/{id}", "update listener"); ep("DELETE", "/listeners/{id}", "delete listener");
    ep("GET", "/stream", "stream events");
  }
  static List<Ep> match(String[] segs, int from, String ver, List<String> vars) {
    List<Ep> l = new ArrayList<>();
    for (Ep e : EPS) {
      if (e.segs.length != segs.length - from) continue;
      boolean ok = true;
      for (int i = 0; i < e.segs.length && ok; i++) ok = e.segs[i].startsWith("{") ? !segs[from + i].isEmpty() : e.segs[i].equals(segs[from + i]);
      if (ok && OLD.equals(ver) && e.op.equals("list outings") && !f("eyas_outings")) ok = false;
      if (ok) l.add(e);
    }
    return l;
  }

  static final Map<String, List<String>> PARAMS = Map.of(
      "list species", List.of("wild"), "list chamber", List.of("side", "roomy"), "list hawk", List.of("status", "species", "chamber", "called", "sort"),
      "list weighing", List.of("crop", "least", "after", "before", "take"), "list flight", List.of("status", "hawk", "since", "before"), "list listener", List.of("active"));
  static final List<String> HAWK_STATES = List.of("booked", "lodged", "aloft", "lost", "gone", "lapsed"), FLIGHT_STATES = List.of("planned", "airborne", "landed", "fed", "called_off", "strayed", "missed");

  // who may call what at all: the users of each operation, and the scope that is asked for
  static final Map<String, List<String>> MAY = new HashMap<>();
  static void may(String users, String... ops) { for (String o : ops) MAY.put(o, List.of(users.split(" "))); }
  static {
    may("falconer warden vet", "list chamber", "read chamber", "list hawk", "read hawk", "create weighing", "list weighing", "read weighing");
    may("warden", "upsert chamber", "delete chamber", "admit hawk", "regain hawk");
    may("falconer", "create hawk", "create flight", "launch flight", "land flight");
    may("falconer warden", "update hawk", "delete hawk", "collect hawk", "list flight", "list outings", "read flight", "call_off flight", "create listener", "list listener", "read listener", "update listener", "delete listener", "stream events");
    may("warden vet", "delete weighing");
  }

  // ---------------------------------------------------------------- limits

  static final class Window { long start; long count; }
  static final Map<String, Window> wide = new HashMap<>();
  static final Map<String, ArrayDeque<Long>> narrow = new HashMap<>();
  static final Map<String, Integer> open = new HashMap<>();
  static final Map<String, long[]> quota = new HashMap<>();

  static void rates(Ctx x) {
    long t = now(); String who = x.who();
    Window w = wide.computeIfAbsent(who, k -> new Window());
    if (w.count > 0 && t >= w.start + 60_000 && !f("rate_never_again")) w.count = 0;
    long limit = f("rate_one_more") ? 301 : 300;
    boolean weigh = x.op.equals("create weighing") && !f("no_weighing_rate");
    ArrayDeque<Long> d = weigh ? narrow.computeIfAbsent(who, k -> new ArrayDeque<>()) : null;
    if (d != null) while (!d.isEmpty() && d.peek() <= t - 60_000) d.poll();
    long wait = 0; boolean refused = false;
    if (w.count >= limit) { refused = true; wait = w.start + 60_000 - t; }
    if (d != null && d.size() >= 60) { refused = true; wait = Math.max(wait, d.peek() + 60_000 - t); }
    if (!refused) { if (w.count == 0) w.start = t; w.count++; if (d != null) d.add(t); }
    long left = 300 - w.count, reset = w.count == 0 ? 60_000 : w.start + 60_000 - t, told = 300;
    if (d != null && 60 - d.size() < left) { left = 60 - d.size(); told = 60; reset = d.peek() + 60_000 - t; }
    x.told.put("Mews-Calls", String.valueOf(told));
    if (!f("left_missing")) x.told.put("Mews-Calls-Left", String.valueOf(Math.max(0, left)));
    x.told.put("Mews-Calls-Reset", String.valueOf(Math.max(0, (reset + 999) / 1000)));
    if (refused) { Refusal r = no("too_often"); if (!f("no_retry_after")) r.with("Retry-After", String.valueOf(Math.max(1, (wait + 999) / 1000))); throw r; }
  }

  // ---------------------------------------------------------------- one exchange

  static final class Ctx {
    Http.Request q; String ver, op = "", trace; Ep ep; String[] seg; Caller c; Map<String, String> params = new LinkedHashMap<>(); Map<String, String> told = new LinkedHashMap<>();
    Object body; byte[] raw; boolean counted; boolean pub;
    int skip, take; String after, before;
    String var(int i) { int n = 0; for (int k = 0; k < ep.segs.length; k++) if (ep.segs[k].startsWith("{") && n++ == i) return decode(seg[k], false); return null; }
    String who() { return c == null ? "@" + q.address : c.key(); }
    String link(String p) { return (f("base_in_links") ? "" : BASE) + "/" + ver + p; }
  }
  static String decode(String s, boolean plus) { try { return URLDecoder.decode(plus ? s : s.replace("+", "%2B"), StandardCharsets.UTF_8); } catch (IllegalArgumentException e) { return plus ? null : s; } }

  static Http.Answer answer(Http.Request q) {
    Ctx x = new Ctx(); x.q = q; x.trace = "tr-" + pick(HEX, 12);
    Http.Answer a;
    try {
      a = exchange(x);
    } catch (Refusal r) { a = refused(x, r); }
    catch (Http.TooLarge e) { a = refused(x, no("too_big")); }
    catch (Http.TooSlow e) { a = refused(x, no("too_slow")); a.close = true; }
    catch (Http.BadBody e) { a = refused(x, no("torn_page")); a.close = true; }
    catch (Http.Cut e) { a = null; }
    catch (RuntimeException e) { e.printStackTrace(); a = refused(x, no("broken")); }
    finally { if (x.counted) synchronized (lock) { open.merge(x.who(), -1, Integer::sum); } }
    if (a == null) return null;
    if (!f("no_trace")) a.headers.put("Mews-Trace", x.trace);
    a.headers.putAll(x.told);
    if (x.ep != null && !x.pub) a.headers.put("Vary", "Mews-Lure, Authorization");
    if (OLD.equals(x.ver) && !f("no_deprecation")) {
      a.headers.put("Deprecation", "@" + DEPRECATED / 1000);
      a.headers.put("Sunset", httpDate(SUNSET));
      String l = a.headers.get("Link"), more = "<https://mews.example/editions>; rel=\"deprecation\", <" + q.target.replaceFirst("/eyas(?=/|\\?|$)", "/haggard") + ">; rel=\"successor-version\"";
      a.headers.put("Link", l == null ? more : l + ", " + more);
    }
    return a;
  }

  static Http.Answer refused(Ctx x, Refusal r) {
    Object[] c = CODES.get(r.word); String word = r.word; int status = (Integer) c[1];
    if (f("twin_400") && word.equals("twin")) status = 400;
    if (f("too_late_409") && word.equals("too_late")) status = 409;
    if (f("held_is_twin") && word.equals("held_fast")) word = "twin";
    Map<String, Object> ref = new LinkedHashMap<>(), m = new LinkedHashMap<>();
    ref.put("word", word); ref.put("kin", f("kin_wrong") && c[0].equals("state") ? "row" : c[0]); ref.put("says", c[2]); ref.put("status", (long) status); if (!f("no_trace_told")) ref.put("trace", x.trace);
    m.put("refusal", ref);
    if (r.flaws != null && !r.flaws.isEmpty()) { List<Object> l = new ArrayList<>(); for (Flaw w : r.flaws) l.add(w.show()); m.put("flaws", l); }
    Http.Answer a = new Http.Answer(); a.status = status; a.headers.put("Content-Type", "application/json");
    if (!f("no_word_header")) a.headers.put("Mews-Word", word);
    a.headers.putAll(r.headers);
    a.body = Json.write(m).getBytes(StandardCharsets.UTF_8);
    return a;
  }
  static Http.Answer ok(int status, Object body) {
    Http.Answer a = new Http.Answer(); a.status = status;
    if (body != null) { a.headers.put("Content-Type", "application/json"); a.body = Json.write(body).getBytes(StandardCharsets.UTF_8); }
    return a;
  }

  static Http.Answer exchange(Ctx x) {
    Http.Request q = x.q;
    // 1: sizes
    if (q.slow) throw no("too_slow");
    if (q.target.length() > (f("url_longer") ? 2048 : 1024)) throw no("too_big");
    if (q.headerBytes > 8192) throw no("too_big");
    if (q.broken) throw no("torn_page");
    // 2: route, method, version
    if (!q.path.startsWith(BASE + "/")) throw no("no_path");
    String[] segs = q.path.substring(BASE.length() + 1).split("/", -1);
    boolean known = segs[0].equals(OLD) || segs[0].equals(NEW);
    List<Ep> eps; String ver = null; int from = 1;
    if (known) { ver = segs[0]; eps = match(segs, 1, ver, null); }
    else {
      eps = match(segs, 0, NEW, null); from = 0;
      if (eps.isEmpty()) { eps = match(segs, 1, NEW, null); from = 1; }
    }
    if (eps.isEmpty()) throw no("no_path");
    x.ver = ver;
    TreeSet<String> allow = new TreeSet<>(); allow.add("OPTIONS");
    for (Ep e : eps) { allow.add(e.method); if (e.method.equals("GET") && !f("head_refused")) allow.add("HEAD"); }
    String allowed = String.join(", ", allow);
    Ep ep = null;
    for (Ep e : eps) if (e.method.equals(q.method) || q.method.equals("HEAD") && e.method.equals("GET") && !f("head_refused")) ep = e;
    if (ep == null && !q.method.equals("OPTIONS")) throw no("no_way").with("Allow", allowed);
    if (!known) {
      if (f("no_edition_current") && from == 0 || f("any_edition_current") && from == 1) x.ver = ver = NEW; else throw no("no_edition");
    }
    if (ver.equals(OLD) && now() >= SUNSET && !f("sunset_never")) throw no("old_edition");
    if (q.method.equals("OPTIONS")) { Http.Answer a = ok(204, null); a.headers.put("Allow", allowed); return a; }
    x.ep = ep; x.op = ep.op; x.seg = Arrays.copyOfRange(segs, from, segs.length); x.ver = ver;
    x.pub = x.op.equals("list species") || x.op.equals("read species");

    // parameters
    parameters(x);
    // caller
    if (!x.pub) {
      x.c = caller(q);
    }
    // rates
    synchronized (lock) {
      int n = open.getOrDefault(x.who(), 0);
      if (n >= 24 && !x.op.equals("stream events") && !f("no_at_once")) throw no("too_often").with("Retry-After", "1");
      rates(x);
      if (!x.op.equals("stream events")) { open.merge(x.who(), 1, Integer::sum); x.counted = true; }
    }
    if (f("user_before_body") && !x.pub) user(x);
    // accept, body
    accept(x);
    body(x);
    // user
    if (!x.pub) user(x);
    if (x.op.equals("stream events")) return stream(x);
    synchronized (lock) { return once(x); }
  }

  static void parameters(Ctx x) {
    List<String> names = PARAMS.getOrDefault(x.op, List.of());
    boolean list = x.op.startsWith("list ");
    Map<String, String> got = new LinkedHashMap<>();
    if (x.q.query != null) for (String p : x.q.query.split("&")) {
      if (p.isEmpty()) continue;
      int k = p.indexOf('=');
      String n = decode(k < 0 ? p : p.substring(0, k), true), v = k < 0 ? "" : decode(p.substring(k + 1), true);
      if (n == null || v == null) throw odd(p, p, "a text that can be read");
      boolean page = list && !x.op.equals("list weighing") && (n.equals("skip") || n.equals("take"));
      if (!names.contains(n) && !page) { if (f("unknown_param")) continue; throw odd(n, v, "no such parameter"); }
      if (got.put(n, v) != null) throw odd(n, v, "one value");
    }
    for (Map.Entry<String, String> e : got.entrySet()) {
      String n = e.getKey(), v = e.getValue(), k = x.op + "." + n;
      switch (k) {
        case "list species.wild": case "list listener.active": if (!v.equals("true") && !v.equals("false")) throw odd(n, v, "true or false"); break;
        case "list chamber.side": if (!List.of("north", "south", "infirmary").contains(v)) throw odd(n, v, "a side"); break;
        case "list chamber.roomy": within(n, v, 1, 12); break;
        case "list hawk.status": for (String s : v.split(",", -1)) if (!HAWK_STATES.contains(s)) throw odd(n, s, "a state"); break;
        case "list hawk.species": if (!v.matches("[a-z]{3,20}")) throw odd(n, v, "a species"); break;
        case "list hawk.chamber": if (!v.matches("[A-Z][0-9]{1,2}")) throw odd(n, v, "a chamber"); break;
        case "list hawk.called": if (v.isEmpty() || v.codePointCount(0, v.length()) > 40) throw odd(n, v, "1 to 40 characters"); break;
        case "list hawk.sort": if (!v.matches("-?(name|booked)")) throw odd(n, v, "name or booked"); break;
        case "list weighing.crop": if (!List.of("empty", "half", "full").contains(v)) throw odd(n, v, "a crop"); break;
        case "list weighing.least": if (x.ver.equals(OLD)) throw odd(n, v, "no such filter in this edition"); within(n, v, 50, 9000); break;
        case "list flight.status": {
          String s = v;
          if (x.ver.equals(OLD) && !f("eyas_filter")) { if (s.equals("called_off")) throw odd(n, v, "a state"); if (s.equals("cancelled")) s = "called_off"; }
          if (!FLIGHT_STATES.contains(s)) throw odd(n, v, "a state");
          e.setValue(s); break;
        }
        case "list flight.since": case "list flight.before": if (instant(v) == null) throw odd(n, v, "a date-time"); break;
        default:
      }
    }
    x.params = got;
    if (!list) return;
    boolean after = x.op.equals("list weighing");
    x.take = after ? 5 : f("page_default") ? 20 : 10;
    String t = got.get("take");
    if (t != null) {
      if (!t.matches("\\d{1,9}") || Integer.parseInt(t) < 1) throw page("take", t, "a size of a page");
      x.take = Integer.parseInt(t);
      if (after) { if (x.take > 20) { if (f("weighings_refuse")) throw page("take", t, "at most 20"); x.take = 20; } }
      else if (x.take > 40) { if (f("take_clamped")) x.take = 40; else throw page("take", t, "at most 40"); }
    }
    String s = got.get("skip");
    if (!after && s != null) { if (!s.matches("\\d{1,9}")) throw page("skip", s, "how many rows to pass over"); x.skip = Integer.parseInt(s); }
    if (after) { x.after = got.get("after"); x.before = got.get("before"); if (x.after != null && x.before != null) throw page("before", x.before, "one of after and before"); }
  }
  static Refusal page(String n, String v, String expected) { return new Refusal("off_the_book", List.of(new Flaw("query", n, v, expected, "value"))); }
  static void within(String n, String v, long a, long b) { if (!v.matches("-?\\d{1,9}") || Long.parseLong(v) < a || Long.parseLong(v) > b) throw odd(n, v, a + " to " + b); }

  static void accept(Ctx x) {
    String a = x.q.header("Accept");
    if (a == null || a.isBlank() || x.ep.method.equals("DELETE")) return;
    String want = x.op.equals("stream events") ? "text/event-stream" : "application/json";
    int best = -1; boolean yes = false;
    for (String p : a.split(",")) {
      String[] w = p.trim().split(";"); String r = w[0].trim().toLowerCase(); double qv = 1;
      for (int i = 1; i < w.length; i++) { String z = w[i].trim(); if (z.startsWith("q=")) try { qv = Double.parseDouble(z.substring(2)); } catch (NumberFormatException e) { } }
      int rank = r.equals(want) ? 2 : r.equals(want.substring(0, want.indexOf('/')) + "/*") ? 1 : r.equals("*/*") ? 0 : -1;
      if (rank > best) { best = rank; yes = qv > 0; }
    }
    if (!yes && !f("accept_ignored")) throw no("wrong_tongue");
  }

  static final Set<String> BODIED = Set.of("upsert chamber", "create hawk", "update hawk", "create weighing", "create flight", "land flight", "call_off flight", "create listener", "update listener");
  static void body(Ctx x) {
    boolean has = x.q.hasBody();
    int limit = f("body_longer") ? 8192 : 4096;
    if (!BODIED.contains(x.op)) { x.raw = has ? x.q.body(limit) : new byte[0]; return; }
    boolean optional = x.op.equals("land flight") && !f("land_needs_body");
    if (has) {
      String t = x.q.header("Content-Type");
      String m = t == null ? "" : t.split(";")[0].trim().toLowerCase();
      if (!m.equals("application/json") && !(m.equals("application/merge-patch+json") && x.ep.method.equals("PATCH")) && !f("media_ignored")) {
        if (t == null) { x.raw = x.q.body(limit); if (x.raw.length == 0) { if (optional) { x.body = new LinkedHashMap<String, Object>(); return; } throw no("empty_page"); } }
        throw no("wrong_ink");
      }
    }
    x.raw = has ? x.q.body(limit) : new byte[0];
    if (x.raw.length == 0) { if (optional) { x.body = new LinkedHashMap<String, Object>(); return; } throw no("empty_page"); }
    try { x.body = Json.read(x.raw); } catch (Json.Bad e) { throw no("torn_page"); }
  }

  static void user(Ctx x) {
    if (!MAY.get(x.op).contains(x.c.user)) throw no(f("forbidden_404") ? "no_such" : "not_yours");
    if (x.op.equals("create hawk") && !x.c.scopes.contains("lodge")) throw no("no_licence");
    if (x.op.equals("create flight") && !x.c.scopes.contains("fly") && !f("scope_ignored")) throw no(f("scope_word") ? "not_yours" : "no_licence");
  }

  static final class Kept { String print; int status; Map<String, String> headers; byte[] body; long until; }
  static final Map<String, Kept> onces = new HashMap<>();

  static Http.Answer once(Ctx x) {
    String key = x.ep.method.equals("POST") ? x.q.header("Mews-Once") : null;
    if (key == null || f("once_forgotten")) return act(x);
    String k = x.c.key() + "\n" + x.op + "\n" + key, print = x.q.target + "\n" + new String(x.raw, StandardCharsets.ISO_8859_1);
    Kept o = onces.get(k);
    if (o != null && o.until <= now()) { onces.remove(k); o = null; }
    if (o != null) {
      if (!o.print.equals(print) && !f("once_any_body")) throw no("once_used");
      Http.Answer a = new Http.Answer(); a.status = o.status; a.headers.putAll(o.headers); a.body = o.body; return a;
    }
    Http.Answer a; Refusal r = null;
    try { a = act(x); } catch (Refusal e) { if (!OWN.contains(e.word)) throw e; r = e; a = refused(x, e); }
    Kept n = new Kept(); n.print = print; n.status = a.status; n.headers = new LinkedHashMap<>(a.headers); n.body = a.body; n.until = now() + (f("once_short") ? 1 : 12) * 3_600_000L;
    if (x.op.equals("create listener") && a.status == 201 && !f("replay_secret")) { @SuppressWarnings("unchecked") Map<String, Object> m = (Map<String, Object>) Json.read(a.body); m.remove("secret"); n.body = Json.write(m).getBytes(StandardCharsets.UTF_8); }
    onces.put(k, n);
    if (r != null) throw r;
    return a;
  }

  static String tag(String ver, Object shown) {
    if (f("tag_fixed")) return "\"" + Integer.toHexString((ver + ((Map<?, ?>) shown).values().iterator().next()).hashCode()) + "\"";
    try {
      byte[] d = MessageDigest.getInstance("SHA-1").digest((ver + Json.write(shown)).getBytes(StandardCharsets.UTF_8));
      StringBuilder b = new StringBuilder("\""); for (int i = 0; i < 9; i++) b.append(HEX.charAt((d[i] >> 4) & 15)).append(HEX.charAt(d[i] & 15)); return b.append('"').toString();
    } catch (GeneralSecurityException e) { throw new IllegalStateException(e); }
  }
  static boolean tagged(String header, String tag, boolean weak) {
    for (String t : header.split(",")) {
      t = t.trim();
      if (t.equals("*")) return true;
      if (weak) { if (t.startsWith("W/")) t = t.substring(2); if (t.equals(tag.startsWith("W/") ? tag.substring(2) : tag)) return true; }
      else if (t.equals(tag)) return true;
    }
    return false;
  }
  static Http.Answer read(Ctx x, Map<String, Object> shown, String tag, String cache) {
    String inm = x.q.header("If-None-Match");
    Http.Answer a = tag != null && inm != null && tagged(inm, tag, true) && !f("never_304") ? ok(304, null) : ok(200, shown);
    if (tag != null) a.headers.put("ETag", tag);
    if (cache != null && !f("no_cache")) a.headers.put("Cache-Control", cache);
    return a;
  }

  interface Show { Map<String, Object> of(Row r); }
  static String query(Ctx x, Map<String, String> with, String... without) {
    StringBuilder b = new StringBuilder();
    if (x.q.query != null) for (String p : x.q.query.split("&")) {
      if (p.isEmpty()) continue;
      String n = decode(p.contains("=") ? p.substring(0, p.indexOf('=')) : p, true);
      if (List.of(without).contains(n) || with.containsKey(n)) continue;
      b.append(b.length() == 0 ? "?" : "&").append(p);
    }
    for (Map.Entry<String, String> e : with.entrySet()) b.append(b.length() == 0 ? "?" : "&").append(e.getKey()).append('=').append(e.getValue());
    return b.toString();
  }
  static Http.Answer pageOf(Ctx x, List<Row> rows, int all, Show show) {
    StringBuilder p = new StringBuilder(); for (String s : x.seg) p.append('/').append(s);
    String path = x.link(p.toString());
    int a = Math.min(x.skip, rows.size()), b = Math.min(rows.size(), a + x.take);
    List<Object> l = new ArrayList<>(); for (Row r : rows.subList(a, b)) l.add(show.of(r));
    boolean more = b < rows.size() || f("more_at_end") && b == rows.size() && l.size() == x.take;
    Map<String, Object> m = new LinkedHashMap<>(); m.put("rows", l); m.put("more", more); m.put("of_all", (long) (f("total_of_all") ? all : f("total_of_page") ? l.size() : rows.size()));
    Http.Answer o = ok(200, m);
    List<String> links = new ArrayList<>();
    if (more) links.add("<" + path + query(x, Map.of("skip", String.valueOf(a + x.take))) + ">; rel=\"next\"");
    if (x.skip > 0) links.add("<" + path + query(x, Map.of("skip", String.valueOf(Math.max(0, x.skip - x.take)))) + ">; rel=\"prev\"");
    links.add("<" + path + query(x, Map.of(), "skip") + ">; rel=\"first\"");
    if (!f("no_links")) o.headers.put("Link", String.join(", ", links));
    return o;
  }

  static Row hawk(String id, Caller c) { Row h = hawks.get(id); if (h == null || sees(c, h) == 0) throw no("no_such"); return h; }
  static Row flight(Ctx x) {
    Row r = flights.get(x.var(0));
    if (r == null) throw no("no_such");
    if (!seesFlight(x.c, r.v)) throw no(f("foreign_403") ? "not_yours" : "no_such");
    return r;
  }
  static Row listener(Ctx x) { Row r = listeners.get(x.var(0)); if (r == null || !seesListener(x.c, r)) throw no("no_such"); return r; }
  static boolean booked(String owner) { int n = 0; for (Row h : hawks.values()) if (h.s("owner").equals(owner) && h.s("status").equals("booked")) n++; return n >= 40; }

  static Http.Answer act(Ctx x) {
    Caller c = x.c; String ver = x.ver;
    switch (x.op) {
      case "list species": {
        List<Row> l = new ArrayList<>(species.values()); int all = l.size();
        String w = x.params.get("wild"); if (w != null) l.removeIf(r -> r.b("wild") != w.equals("true"));
        Http.Answer a = pageOf(x, l, all, r -> r.v);
        if (!f("no_cache")) a.headers.put("Cache-Control", "public, max-age=300");
        return a;
      }
      case "read species": { Row r = species.get(x.var(0)); if (r == null) throw no("no_such"); return read(x, r.v, null, "public, max-age=300"); }

      case "list chamber": {
        List<Row> l = new ArrayList<>(chambers.values()); int all = l.size();
        String s = x.params.get("side"), m = x.params.get("roomy");
        if (s != null) l.removeIf(r -> !r.s("side").equals(s));
        if (m != null) { long n = Long.parseLong(m); l.removeIf(r -> f("roomy_more") ? r.n("places") <= n : r.n("places") < n); }
        return pageOf(x, l, all, Mews::showChamber);
      }
      case "read chamber": { Row r = chambers.get(x.var(0)); if (r == null) throw no("no_such"); Map<String, Object> m = showChamber(r); return read(x, m, tag(ver, m), null); }
      case "upsert chamber": return upsert(x);
      case "delete chamber": {
        Row r = chambers.get(x.var(0)); if (r == null) throw no("no_such");
        for (Row h : hawks.values()) if (h.s("chamber").equals(r.s("code")) && !f("chamber_not_held")) throw no("held_fast");
        chambers.remove(r.s("code"));
        return ok(204, null);
      }

      case "create hawk": {
        Map<String, Object> n = made("hawk", x.body, c, ver, null);
        if (n.get("species") != null && !species.containsKey(n.get("species"))) throw no("no_referent");
        if (!chambers.containsKey(n.get("chamber")) && !f("chamber_unchecked")) throw no("no_referent");
        for (Row h : hawks.values()) if (h.s("ring_no").equals(n.get("ring_no")) && !f("ring_twice")) throw no("twin");
        if (booked(c.id)) throw no("used_up");
        Row h = new Row(); h.seq = rowSeq++; h.version = ver;
        for (String k : FIELDS.get("hawk").keySet()) if (n.containsKey(k)) h.v.put(k, n.get(k));
        h.v.put("id", f("hawk_id_form") ? UUID.randomUUID().toString() : "hwk-" + pick(HEX, 10));
        h.v.putIfAbsent("owner", c.id); h.v.put("club", c.club); h.v.put("booked_at", stamp(now())); h.v.put("changed_at", stamp(now()));
        if (!n.containsKey("species")) h.v.put("species", "harris");
        hawks.put(h.s("id"), h);
        enterHawk(h, f("begins_lodged") ? "lodged" : "booked");
        Http.Answer a = ok(201, showHawk(h, c, ver));
        if (!f("no_location")) a.headers.put("Location", x.link("/hawks/" + h.s("id")));
        return a;
      }
      case "list hawk": {
        List<Row> l = new ArrayList<>(hawks.values()); int all = l.size();
        if (!f("list_leaks")) l.removeIf(h -> sees(c, h) == 0);
        if (f("list_own_only") && c.is("falconer")) l.removeIf(h -> !h.s("owner").equals(c.id));
        String s = x.params.get("status"), sp = x.params.get("species"), ch = x.params.get("chamber"), called = x.params.get("called"), sort = x.params.get("sort");
        if (s != null) { List<String> in = f("status_first") ? List.of(s.split(",")[0]) : List.of(s.split(",")); l.removeIf(h -> !in.contains(h.s("status"))); }
        if (sp != null) l.removeIf(h -> !h.s("species").equals(sp));
        if (ch != null) l.removeIf(h -> !h.s("chamber").equals(ch));
        if (called != null) l.removeIf(h -> f("called_anywhere") ? !h.s("name").contains(called) : !h.s("name").startsWith(called));
        if (sort == null) sort = f("order_oldest") ? "booked" : "-booked";
        boolean down = sort.startsWith("-") && !(f("sort_up_only") && sort.equals("-name")); String by = sort.endsWith("name") ? "name" : "booked_at";
        Comparator<Row> o = Comparator.comparing((Row h) -> h.s(by)); if (down) o = o.reversed();
        l.sort(o.thenComparing(h -> h.seq));
        return pageOf(x, l, all, h -> showHawk(h, c, ver));
      }
      case "read hawk": { Row h = hawk(x.var(0), c); Map<String, Object> m = showHawk(h, c, ver); return read(x, m, tag(ver, m), "private, no-cache"); }
      case "update hawk": {
        Row h = hawk(x.var(0), c);
        if (c.is("falconer") && !h.s("owner").equals(c.id) && !f("club_updates")) throw no("not_yours");
        String im = x.q.header("If-Match");
        if (im == null && !f("if_match_optional")) throw no("tag_wanted");
        if (im != null && !tagged(im, tag(ver, showHawk(h, c, ver)), false) && !f("if_match_ignored")) throw no("stale_tag");
        Map<String, Object> n = patched("hawk", h, x.body, c, ver);
        if (!species.containsKey(n.get("species")) || !chambers.containsKey(n.get("chamber"))) throw no("no_referent");
        if (List.of("gone", "lapsed").contains(h.s("status")) && !f("update_any_state")) throw no("not_now");
        for (Row o : hawks.values()) if (o != h && o.s("ring_no").equals(n.get("ring_no"))) throw no("twin");
        if (!n.equals(h.v) || f("noop_touches")) {
          String was = h.s("chamber");
          h.v.clear(); for (String k : FIELDS.get("hawk").keySet()) if (n.get(k) != null) h.v.put(k, n.get(k));
          store(h);
          if (!was.equals(h.s("chamber")) || f("moved_always")) {
            Map<String, Object> w = new LinkedHashMap<>(); w.put("hawk", h.s("id"));
            if (f("moved_swapped")) { w.put("was", h.s("chamber")); w.put("is", was); } else { w.put("was", was); w.put("is", h.s("chamber")); }
            emitHawk("hawk.moved", h, w);
          }
        }
        return ok(200, showHawk(h, c, ver));
      }
      case "delete hawk": {
        Row h = hawk(x.var(0), c);
        if (c.is("falconer") && !h.s("owner").equals(c.id)) throw no("not_yours");
        if (!List.of("booked", "lapsed", "gone").contains(h.s("status")) && !f("delete_any_state")) throw no("not_now");
        for (Row r : flights.values()) if (r.s("hawk").equals(h.s("id"))) throw no("held_fast");
        List<Row> ws = weighingsOf.remove(h.s("id")); if (ws != null && !f("weighings_stay")) for (Row w : ws) weighings.remove(w.s("id"));
        hawks.remove(h.s("id"));
        return ok(204, null);
      }
      case "admit hawk": {
        Row h = hawk(x.var(0), c);
        if (!h.s("status").equals("booked") && !(f("admit_lapsed") && h.s("status").equals("lapsed"))) throw no("not_booked");
        Row ch = chambers.get(h.s("chamber"));
        if (occupied(ch) >= ch.n("places") + (f("one_too_many") ? 1 : 0)) throw no("chamber_full");
        enterHawk(h, "lodged"); if (!f("admitted_at_unset")) h.v.put("admitted_at", stamp(now())); store(h);
        Map<String, Object> w = new LinkedHashMap<>(); w.put("hawk", h.s("id")); w.put("chamber", h.s("chamber")); w.put("at", stamp(now()));
        emitHawk("hawk.admitted", h, w);
        return ok(200, showHawk(h, c, ver));
      }
      case "collect hawk": {
        Row h = hawk(x.var(0), c);
        if (c.is("falconer") && !h.s("owner").equals(c.id)) throw no("not_yours");
        if (!h.s("status").equals("lodged")) throw no("not_now");
        enterHawk(h, "gone"); store(h);
        if (!f("collect_forgets")) for (Row r : flights.values()) if (r.s("hawk").equals(h.s("id")) && r.s("status").equals("planned")) endFlight(r, "missed");
        return ok(200, showHawk(h, c, ver));
      }
      case "regain hawk": {
        Row h = hawk(x.var(0), c);
        if (!h.s("status").equals("lost")) throw no("not_now");
        enterHawk(h, "lodged"); store(h);
        return ok(200, showHawk(h, c, ver));
      }

      case "create weighing": {
        Row h = hawk(x.var(0), c);
        Map<String, Object> n = made("weighing", x.body, c, ver, "hawk");
        if (n.containsKey(" out")) {
          @SuppressWarnings("unchecked") List<Flaw> out = (List<Flaw>) n.get(" out"), missing = (List<Flaw>) n.get(" missing");
          if (!h.s("id").equals(n.get(" sent"))) out.add(bad("hawk", n.get(" sent"), "the hawk of the path"));
          unfit(out, missing);
        }
        if (c.is("falconer") && !h.s("owner").equals(c.id) && !f("club_weighs")) throw no("not_yours");
        Row w = new Row(); w.seq = rowSeq++;
        List<Row> of = weighingsOf.computeIfAbsent(h.s("id"), k -> new ArrayList<>());
        long number = f("number_reused") ? (of.isEmpty() ? 1 : of.get(of.size() - 1).n("number") + 1) : numbers.merge(f("counted_all") ? "" : h.s("id"), 1L, Long::sum);
        w.v.put("id", ulid()); w.v.put("number", number); w.v.put("hawk", h.s("id"));
        for (String k : List.of("grams", "crop", "note")) if (n.get(k) != null) w.v.put(k, n.get(k));
        w.v.put("by", c.id); w.v.put("at", stamp(now()));
        weighings.put(w.s("id"), w); of.add(w);
        Map<String, Object> snap = new LinkedHashMap<>(h.v), p = showWeighing(w, NEW), p1 = showWeighing(w, OLD);
        if (f("taken_unnumbered")) { p.remove("number"); p1.remove("number"); }
        emit("weighing.taken", w.s("id"), p, p1, k -> seesWeighing(k, snap));
        Http.Answer a = ok(201, showWeighing(w, ver)); a.headers.put("Location", x.link("/weighings/" + w.s("id")));
        return a;
      }
      case "list weighing": {
        Row h = hawk(x.var(0), c);
        List<Row> l = new ArrayList<>(); if (seesWeighing(c, h.v)) l.addAll(weighingsOf.getOrDefault(h.s("id"), List.of()));
        if (!f("weighings_oldest")) Collections.reverse(l);
        String crop = x.params.get("crop"), least = x.params.get("least");
        List<Row> every = new ArrayList<>(l);
        Predicate<Row> keep = r -> (crop == null || r.s("crop").equals(crop)) && (least == null || r.n("grams") >= Long.parseLong(least) && !(f("least_more") && r.n("grams") == Long.parseLong(least)));
        int a = 0, b;
        String mark = x.after != null ? x.after : x.before;
        int at = -1;
        if (mark != null) { for (int i = 0; i < every.size(); i++) if (every.get(i).s("id").equals(mark)) at = i; if (at < 0) throw page(x.after != null ? "after" : "before", mark, "the identifier of a row"); }
        List<Row> kept = new ArrayList<>(); int cut = -1;
        for (int i = 0; i < every.size(); i++) { if (i == at) cut = kept.size(); if (keep.test(every.get(i))) { kept.add(every.get(i)); } }
        boolean markKept = at >= 0 && keep.test(every.get(at));
        if (x.after != null) { a = cut + (markKept && !f("after_again") ? 1 : 0); b = Math.min(kept.size(), a + x.take); }
        else if (x.before != null) { b = cut; a = Math.max(0, b - x.take); }
        else b = Math.min(kept.size(), x.take);
        List<Object> o = new ArrayList<>(); for (Row r : kept.subList(a, b)) o.add(showWeighing(r, ver));
        Http.Answer ans = ok(200, o);
        String path = x.link("/hawks/" + h.s("id") + "/weighings");
        List<String> links = new ArrayList<>();
        if (b < kept.size() && b > a) links.add("<" + path + query(x, Map.of("after", kept.get(b - 1).s("id")), "before") + ">; rel=\"next\"");
        if (a > 0 && b > a) links.add("<" + path + query(x, Map.of("before", kept.get(a).s("id")), "after") + ">; rel=\"prev\"");
        links.add("<" + path + query(x, Map.of(), "after", "before") + ">; rel=\"first\"");
        if (!f("no_links")) ans.headers.put("Link", String.join(", ", links));
        return ans;
      }
      case "read weighing": {
        Row w = weighings.get(x.var(0)); Row h = w == null ? null : hawks.get(w.s("hawk"));
        if (w == null || h == null && !f("weighings_stay") || h != null && !seesWeighing(c, h.v)) throw no("no_such");
        return ok(200, showWeighing(w, ver));
      }
      case "delete weighing": {
        Row w = weighings.get(x.var(0)); if (w == null) throw no("no_such");
        if (c.is("vet") && !w.s("by").equals(c.id) && !f("vet_deletes_any")) throw no("not_yours");
        weighings.remove(w.s("id")); weighingsOf.get(w.s("hawk")).remove(w);
        return ok(204, null);
      }

      case "create flight": {
        Map<String, Object> n = made("flight", x.body, c, ver, null);
        Row h = hawks.get(n.get("hawk"));
        if (h == null || sees(c, h) == 0 && !f("flies_unseen")) throw no("no_referent");
        if (!h.s("owner").equals(c.id) && !f("flies_others") && !f("flies_unseen")) throw no("not_yours");
        Duration d = Duration.between(exact(n.get("from")), exact(n.get("until")));
        int k = d.compareTo(Duration.ofHours(6));
        if (k > 0 || k == 0 && f("six_hours_out")) throw no("long_flight");
        Long light = lightest(h);
        if (light != null && (light < 100 || light == 100 && f("thin_at_100")) && !f("thin_flies")) throw no("thin_hawk");
        if (List.of("gone", "lapsed").contains(h.s("status")) && !f("never_grounded")) throw no("grounded");
        for (Row r : flights.values()) if (r.s("hawk").equals(h.s("id")) && r.s("status").equals("planned") && exact(r.v.get("from")).equals(exact(n.get("from"))) && !f("planned_twice")) throw no("twin");
        long day = Math.floorDiv(now(), 86_400_000L);
        long[] used = quota.computeIfAbsent(c.key(), z -> new long[] { day, 0 });
        if (used[0] != day && !f("quota_forever")) { used[0] = day; used[1] = 0; }
        if (used[1] >= (f("quota_one_less") ? 59 : 60)) throw no("used_up").with("Retry-After", String.valueOf(((day + 1) * 86_400_000L - now() + 999) / 1000));
        used[1]++;
        Row r = new Row(); r.seq = rowSeq++;
        r.v.put("id", "flt-" + pick(UP, 10)); r.v.put("hawk", h.s("id")); r.v.put("flier", c.id);
        for (String z : List.of("ground", "from", "until", "bells")) if (n.get(z) != null) r.v.put(z, n.get(z));
        flights.put(r.s("id"), r);
        planFlight(r);
        Http.Answer a = ok(f("flight_200") ? 200 : 201, showFlight(r, ver)); a.headers.put("Location", x.link("/flights/" + r.s("id")));
        return a;
      }
      case "list flight": case "list outings": {
        List<Row> l = new ArrayList<>(flights.values()); int all = l.size();
        l.removeIf(r -> !seesFlight(c, r.v));
        Comparator<Row> o = Comparator.comparing((Row r) -> exact(r.v.get("from")));
        if (x.op.equals("list outings")) { Row h = hawk(x.var(0), c); if (!f("outings_of_all")) l.removeIf(r -> !r.s("hawk").equals(h.s("id"))); o = o.reversed(); }
        String s = x.params.get("status"), hk = x.params.get("hawk"), since = x.params.get("since"), before = x.params.get("before");
        if (s != null && !f("flight_status_ignored")) l.removeIf(r -> !r.s("status").equals(s));
        if (hk != null) l.removeIf(r -> !r.s("hawk").equals(hk));
        if (since != null) { Instant i = exact(since); l.removeIf(r -> { int z = exact(r.v.get("from")).compareTo(i); return z < 0 || z == 0 && f("since_after"); }); }
        if (before != null) { Instant i = exact(before); l.removeIf(r -> exact(r.v.get("from")).compareTo(i) >= 0); }
        l.sort(o.thenComparing(r -> r.seq));
        return pageOf(x, l, all, r -> showFlight(r, ver));
      }
      case "read flight": { Row r = flight(x); Map<String, Object> m = showFlight(r, ver); return read(x, m, "W/" + tag(ver, m), null); }
      case "launch flight": {
        Row r = flight(x);
        if (!r.s("status").equals("planned")) throw no("not_now");
        if (exact(r.v.get("from")).toEpochMilli() - 30 * 60_000L > now() && !f("launch_any_time")) throw no("too_early");
        launch(r);
        return ok(200, showFlight(r, ver));
      }
      case "land flight": {
        Row r = flight(x);
        List<Flaw> out = new ArrayList<>(), missing = new ArrayList<>();
        long n = 0;
        if (!(x.body instanceof Map)) out.add(bad("", x.body, "a map"));
        else for (Map.Entry<?, ?> e : ((Map<?, ?>) x.body).entrySet()) {
          if (!e.getKey().equals("catch")) { out.add(new Flaw("body", (String) e.getKey(), found(e.getValue()), "no such field", "unknown")); continue; }
          Object v = fit(fd("catch", "integer").range(0, 20), e.getValue(), "catch", ver, out, missing); if (v != null) n = (Long) v;
        }
        unfit(out, missing);
        if (!r.s("status").equals("airborne")) throw no("not_airborne");
        moveHawk(r.s("hawk"), "aloft", "lodged");
        r.v.put("catch", n);
        endFlight(r, n > 0 && !f("never_fed") ? "fed" : "landed");
        return ok(200, showFlight(r, ver));
      }
      case "call_off flight": {
        Row r = flight(x);
        List<Flaw> out = new ArrayList<>(), missing = new ArrayList<>();
        if (!(x.body instanceof Map)) out.add(bad("", x.body, "a map"));
        else {
          for (Map.Entry<?, ?> e : ((Map<?, ?>) x.body).entrySet()) {
            if (!e.getKey().equals("reason")) out.add(new Flaw("body", (String) e.getKey(), found(e.getValue()), "no such field", "unknown"));
            else fit(fd("reason", "string").range(1, 80), e.getValue(), "reason", ver, out, missing);
          }
          if (!((Map<?, ?>) x.body).containsKey("reason") && !f("reason_optional")) missing.add(new Flaw("body", "reason", "nothing", "a value", "missing"));
        }
        unfit(out, missing);
        if (!r.s("status").equals("planned")) throw no("too_late");
        Object reason = ((Map<?, ?>) x.body).get("reason");
        if (!f("reason_unset") && reason != null) r.v.put("reason", reason);
        endFlight(r, "called_off");
        return ok(200, showFlight(r, ver));
      }

      case "create listener": {
        Map<String, Object> n = made("listener", x.body, c, ver, null);
        int mine = 0; for (Row r : listeners.values()) if (r.s("owner").equals(c.id)) mine++;
        if (mine >= (f("one_more_listener") ? 7 : 6)) throw no("used_up");
        Row r = new Row(); r.seq = rowSeq++; r.version = ver; r.maker = c;
        r.v.put("id", "lis-" + pick(HEX, 12)); r.v.put("owner", c.id);
        for (String k : List.of("label", "url")) r.v.put(k, n.get(k));
        r.v.put("secret", "seal_" + pick(ALL, 32));
        if (n.get("kinds") != null) r.v.put("kinds", n.get("kinds"));
        r.v.put("active", n.get("active")); r.v.put("made_at", stamp(now()));
        listeners.put(r.s("id"), r);
        Http.Answer a = ok(201, showListener(r, true)); a.headers.put("Location", x.link("/listeners/" + r.s("id")));
        return a;
      }
      case "list listener": {
        List<Row> l = new ArrayList<>(listeners.values()); int all = l.size();
        l.removeIf(r -> !seesListener(c, r));
        String w = x.params.get("active"); if (w != null) l.removeIf(r -> r.b("active") != w.equals("true"));
        return pageOf(x, l, all, r -> showListener(r, false));
      }
      case "read listener": return ok(200, showListener(listener(x), false));
      case "update listener": {
        Row r = listener(x);
        Map<String, Object> n = patched("listener", r, x.body, c, ver);
        r.v.clear(); for (String k : FIELDS.get("listener").keySet()) if (n.get(k) != null) r.v.put(k, n.get(k));
        return ok(200, showListener(r, false));
      }
      case "delete listener": {
        Row r = listener(x); listeners.remove(r.s("id"));
        return f("delete_200") ? ok(200, showListener(r, false)) : ok(204, null);
      }
      default: throw no("broken");
    }
  }

  static Http.Answer upsert(Ctx x) {
    String code = x.var(0); Row r = chambers.get(code);
    String im = x.q.header("If-Match");
    if (im != null && !f("if_match_chamber") && (r == null || !tagged(im, tag(x.ver, showChamber(r)), false))) throw no("stale_tag");
    Map<String, Object> n = made("chamber", x.body, x.c, x.ver, null);
    List<Flaw> first = new ArrayList<>();
    if (!code.matches("[A-Z][0-9]{1,2}")) first.add(new Flaw("path", "code", code, "a letter and one or two digits", "value"));
    if (n.containsKey(" out")) {
      @SuppressWarnings("unchecked") List<Flaw> out = (List<Flaw>) n.get(" out"), missing = (List<Flaw>) n.get(" missing");
      if (!code.equals(n.get(" code")) && !f("code_of_body")) out.add(bad("code", n.get(" code"), "the code of the path"));
      first.addAll(out); unfit(first, missing);
    } else unfit(first, List.of());
    for (Row o : chambers.values()) if (o != r && o.s("label").equals(n.get("label")) && !f("label_twice")) throw no("twin");
    boolean made = r == null;
    if (made) { r = new Row(); r.seq = rowSeq++; chambers.put(code, r); }
    Object perches = f("put_keeps") && !made && !((Map<?, ?>) x.body).containsKey("perches") ? r.v.get("perches") : n.get("perches");
    r.v.clear(); r.v.put("code", code);
    for (String k : List.of("label", "side", "places")) r.v.put(k, n.get(k));
    r.v.put("perches", perches);
    Http.Answer a = ok(made && !f("put_200") ? 201 : 200, showChamber(r));
    if (made) a.headers.put("Location", x.link("/chambers/" + code));
    return a;
  }

  static Http.Answer stream(Ctx x) {
    Http.Answer a = new Http.Answer(); a.headers.put("Content-Type", "text/event-stream"); a.headers.put("Cache-Control", "no-store");
    LinkedBlockingQueue<Event> queue = new LinkedBlockingQueue<>(); List<Event> back = new ArrayList<>();
    synchronized (lock) {
      String last = x.q.header("Last-Event-ID");
      while (!kept.isEmpty() && kept.get(0).at < now() - 2 * 3_600_000L) kept.remove(0);
      if (last != null && !f("no_resume")) { int from = 0; for (int i = 0; i < kept.size(); i++) if (kept.get(i).id.equals(last)) from = i + 1; back.addAll(kept.subList(from, kept.size())); }
      if (!x.q.method.equals("HEAD")) streams.add(queue);
    }
    a.stream = out -> {
      try {
        out.write(": the book is open\n\n".getBytes());
        for (Event e : back) tell(x, e, out);
        while (true) {
          Event e = queue.poll(15, TimeUnit.SECONDS);
          if (e == null) out.write(": still here\n\n".getBytes()); else tell(x, e, out);
        }
      } finally { synchronized (lock) { streams.remove(queue); } }
    };
    return a;
  }
  static void tell(Ctx x, Event e, java.io.OutputStream out) throws java.io.IOException {
    if (!e.reader.test(x.c) && !f("stream_to_all")) return;
    out.write(((f("stream_no_id") ? "" : "id: " + e.id + "\n") + "event: " + e.kind + "\ndata: " + Json.write(e.envelope(x.ver)) + "\n\n").getBytes(StandardCharsets.UTF_8));
  }

  // ---------------------------------------------------------------- the clock's door

  static final Pattern PERIOD = Pattern.compile("P(?=.)(\\d+Y)?(\\d+M)?(\\d+W)?(\\d+D)?(T(?=.)(\\d+H)?(\\d+M)?(\\d+(?:\\.\\d+)?S)?)?");
  static Http.Answer clock(Http.Request q) {
    try {
      if (q.method.equals("POST")) {
        Object b = Json.read(q.body(4096));
        if (!(b instanceof Map) || ((Map<?, ?>) b).size() != 1) return ok(400, Map.of("error", "advance or now"));
        Object adv = ((Map<?, ?>) b).get("advance"), to = ((Map<?, ?>) b).get("now");
        long target;
        if (adv instanceof String) {
          java.util.regex.Matcher m = PERIOD.matcher((String) adv);
          if (!m.matches()) return ok(400, Map.of("error", "no duration"));
          ZonedDateTime z = Instant.ofEpochMilli(now()).atZone(ZoneOffset.UTC);
          z = z.plusYears(num(m.group(1))).plusMonths(num(m.group(2))).plusWeeks(num(m.group(3))).plusDays(num(m.group(4))).plusHours(num(m.group(6))).plusMinutes(num(m.group(7)));
          if (m.group(8) != null) z = z.plus(Duration.ofMillis(new BigDecimal(m.group(8).substring(0, m.group(8).length() - 1)).movePointRight(3).longValue()));
          target = z.toInstant().toEpochMilli();
        } else if (to instanceof String) {
          if (instant(to) == null) return ok(400, Map.of("error", "no time"));
          target = instant(to);
          if (target < now()) return ok(422, Map.of("error", "the clock goes forward alone"));
        } else return ok(400, Map.of("error", "advance or now"));
        moveTo(target);
      } else if (!q.method.equals("GET")) return ok(400, Map.of("error", "GET or POST"));
      return ok(200, Map.of("now", stamp(now())));
    } catch (Json.Bad | Http.BadBody | Http.TooLarge e) { return ok(400, Map.of("error", "no JSON")); }
    catch (InterruptedException e) { return ok(500, null); }
  }
  static long num(String s) { return s == null ? 0 : Long.parseLong(s.substring(0, s.length() - 1)); }

  public static void main(String[] args) throws Exception {
    int port = 0, clockPort = 0;
    for (int i = 0; i + 1 < args.length; i += 2) switch (args[i]) {
      case "--port": port = Integer.parseInt(args[i + 1]); break;
      case "--clock-port": clockPort = Integer.parseInt(args[i + 1]); break;
      case "--fault": fault = args[i + 1]; break;
      default: System.err.println("unknown option " + args[i]); System.exit(2);
    }
    System.setProperty("sun.net.http.retryPost", "false");
    System.setProperty("http.keepAlive", "false");
    build(); endpoints();
    Http.serve(port, Mews::answer, 10_000, 60_000);
    if (clockPort != 0) Http.serve(clockPort, Mews::clock, 10_000, 60_000);
    while (true) {
      long wait;
      synchronized (lock) { runDue(); Timer t = timers.peek(); wait = t == null ? 200 : Math.min(200, Math.max(1, t.at - now())); lock.wait(wait); }
    }
  }
}
