import java.io.*;
import java.net.*;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.*;
import java.nio.charset.StandardCharsets;
import java.security.*;
import java.time.*;
import java.time.Duration;
import java.time.format.DateTimeFormatter;
import java.util.*;
import java.util.function.*;
import java.util.regex.*;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

final class Service {
  static final Object LOCK = new Object(), REMOVED = new Object();
  static String fault = "";
  static boolean f(String id) { return fault.equals(id); }
  static final ThreadLocal<Boolean> landing = ThreadLocal.withInitial(() -> false);

  // ---- the clock -------------------------------------------------------------------------------------------------
  static volatile long offset = 0; static Long frozen = null;
  static long now() { Long z = frozen; return z != null && Thread.holdsLock(LOCK) ? z : System.currentTimeMillis() + offset; }
  static final DateTimeFormatter ISO = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);
  static String iso(long t) { return ISO.format(Instant.ofEpochMilli(t)); }
  static String httpDate(long t) { return DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US).withZone(ZoneOffset.UTC).format(Instant.ofEpochMilli(t)); }
  static final long DAY = 86_400_000L, HOUR = 3_600_000L, SUNSET = Instant.parse("2028-03-01T00:00:00Z").toEpochMilli(), DEPRECATED = Instant.parse("2025-03-01T00:00:00Z").getEpochSecond();

  // ---- rows ------------------------------------------------------------------------------------------------------
  static final class Row {
    final String res, id; final long seq; Map<String, Object> v = new LinkedHashMap<>(); long entered; Long deleted; boolean faded;
    Row(String r, String i) { res = r; id = i; seq = ++COUNT; }
    String t(String k) { return (String) v.get(k); }
  }
  static long COUNT = 0;
  static final Map<String, LinkedHashMap<String, Row>> STORE = new HashMap<>();
  static LinkedHashMap<String, Row> rows(String res) { return STORE.computeIfAbsent(res, k -> new LinkedHashMap<>()); }
  static Row row(String res, Object id) { Row r = id instanceof String ? rows(res).get(id) : null; return r == null || r.deleted != null ? null : r; }
  static final Map<String, Long> NUMBERS = new HashMap<>();
  static long draw(String of) { return NUMBERS.merge(of, 1L, Long::sum); }

  static final SecureRandom RND = new SecureRandom();
  static String pick(String of, int n) { StringBuilder b = new StringBuilder(); for (int k = 0; k < n; k++) b.append(of.charAt(RND.nextInt(of.length()))); return b.toString(); }
  static final String AZ = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", LOW = "abcdefghijklmnopqrstuvwxyz", DIG = "0123456789", B32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  static long lastUlid = 0;
  static String ulid() {
    long t = Math.max(now(), lastUlid + 1); lastUlid = t; StringBuilder b = new StringBuilder();
    for (int k = 9; k >= 0; k--) b.append(B32.charAt((int) (t >> (5 * k)) & 31));
    return b + pick(B32, 16);
  }

  // ---- callers ---------------------------------------------------------------------------------------------------
  static final class Caller {
    final String user, id, bureau, secret, scheme; final Set<String> scopes;
    Caller(String u, String i, String b, String sch, String s, String... sc) { user = u; id = i; bureau = b; scheme = sch; secret = s; scopes = Set.of(sc); }
  }
  static final List<Caller> ACCOUNTS = List.of(
    new Caller("office", "off_nora", "nordlys", "card", "sk_Q7nora0Zk3mP5tX8wB2cD4fG"), new Caller("office", "off_nils", "nordlys", "card", "sk_Q7nils0Zk3mP5tX8wB2cD4fG"),
    new Caller("office", "off_sven", "skerry", "card", "sk_Q7sven0Zk3mP5tX8wB2cD4fG"), new Caller("chaser", "cha_ada", "nordlys", "card", "sk_Q7ada00Zk3mP5tX8wB2cD4fG", "fetch"),
    new Caller("chaser", "cha_bo", "skerry", "card", "sk_Q7bo000Zk3mP5tX8wB2cD4fG", "fetch"), new Caller("chaser", "cha_cy", "nordlys", "card", "sk_Q7cy000Zk3mP5tX8wB2cD4fG"),
    new Caller("bench", "ben_eli", "bench", "desk", "spirit-level-77"), new Caller("bench", "ben_fay", "bench", "desk", "brass-barometer-9"));
  static Caller account(String id) { for (Caller c : ACCOUNTS) if (c.id.equals(id)) return c; return null; }

  // ---- refusals --------------------------------------------------------------------------------------------------
  static final Map<String, Object[]> CODES = new HashMap<>();
  static final Set<String> OWN = Set.of("site_busy", "sky_full", "beyond_scrap", "too_settled", "site_closed", "off_band", "not_recovered");
  static void code(String c, int s, String t) { CODES.put(c, new Object[] { s, t }); }
  static {
    code("not_json", 400, "The body cannot be read."); code("wrong_media", 415, "That media type is not taken here."); code("bad_query", 400, "A parameter is wrong.");
    code("bad_page", 400, "There is no such page."); code("lacking", 422, "{name} is missing"); code("unheard_of", 422, "{name} is not known here");
    code("not_writable", 422, "{name} is not yours to write"); code("misfit", 422, "{name} does not fit"); code("nowhere", 404, "There is no such path.");
    code("wrong_verb", 405, "That method is not for this path."); code("no_card", 401, "Show a card or log in."); code("bad_card", 401, "That card or login is not good.");
    code("no_scope", 403, "Your card does not go that far."); code("not_allowed", 403, "That is not for you."); code("not_found", 404, "There is nothing of that name.");
    code("thrown_away", 410, "It was thrown away."); code("duplicate", 409, "That is there already."); code("dangling", 422, "What it refers to is not there.");
    code("still_used", 409, "Something still refers to it."); code("wrong_state", 409, "Not in this state."); code("spoken_for", 409, "Somebody else is after that sonde.");
    code("stale", 412, "It has changed meanwhile."); code("tag_wanted", 428, "Say which state of it you saw."); code("token_reused", 409, "That token was used for something else.");
    code("too_often", 429, "Slow down."); code("used_up", 429, "That is enough."); code("rows_full", 403, "You have four hooks already."); code("too_large", 413, "That is too large.");
    code("long_address", 414, "That address is too long."); code("long_headers", 431, "These headers are too large."); code("which_version", 400, "Name a version, r1 or r2.");
    code("bygone", 410, "That version is over."); code("too_slow", 408, "That took too long."); code("unwell", 503, "Come back later."); code("broken", 500, "Something broke.");
    code("site_busy", 409, "Something of that site is still in the air."); code("sky_full", 409, "Three sondes of that site are up already."); code("beyond_scrap", 409, "It cannot be scrapped any more.");
    code("too_settled", 409, "That claim is over."); code("not_yours", 403, "Only its examiner signs an exam."); code("site_closed", 409, "That site is closed.");
    code("off_band", 422, "That frequency is outside of its band."); code("not_recovered", 409, "Only what was recovered is examined.");
  }
  static final class Slip extends RuntimeException {
    final String code; final List<String> spots; final Map<String, String> headers = new LinkedHashMap<>();
    Slip(String c, String... s) { super(c, null, false, false); code = c; spots = s.length == 0 ? null : List.of(s); }
    Slip(String c, List<String> s) { super(c, null, false, false); code = c; spots = s; }
    Slip with(String k, String v) { headers.put(k, v); return this; }
  }
  static void refuse(List<Model.Viol> bad) {
    if (bad.isEmpty()) return;
    List<String> spots = new ArrayList<>(); for (Model.Viol b : bad) spots.add(b.path);
    String k = bad.get(0).kind;
    throw new Slip(k.equals("missing") ? "lacking" : k.equals("unknown") ? "unheard_of" : k.equals("read_only") ? "not_writable" : "misfit", spots);
  }

  // ---- who may do what -------------------------------------------------------------------------------------------
  static final Map<String, Set<String>> USERS = new HashMap<>();
  static void users(String ops, String... u) { for (String o : ops.split(", ")) USERS.put(o, Set.of(u)); }
  static {
    users("list site, read site", "anyone"); users("create site, update site, replace site, delete site, create sonde, update sonde, delete sonde, launch sonde, land sonde, scrap sonde, accept claim, refuse claim, list entry, read entry", "office");
    users("list sonde, read sonde, look up sonde", "office", "chaser", "bench"); users("list sondes of site", "office", "chaser");
    users("create claim, update claim, deliver claim, withdraw claim, list watch, read watch, upsert watch, delete watch", "chaser"); users("list claim, read claim", "chaser", "office");
    users("create exam, update exam, sign exam, delete exam", "bench"); users("list exam, read exam", "bench", "office");
    users("create hook, list hook, read hook, update hook, delete hook", "office", "chaser", "bench"); users("band plan", "public");
  }
  static final Set<String> DOWN = Set.of("landed", "claimed", "recovered");
  static boolean mayRead(Row r, Caller c) {
    if (r == null) return false;
    if (r.res.equals("site")) return true;
    if (c == null) return false;
    switch (r.res) {
      case "sonde": return c.user.equals("office") ? c.bureau.equals(r.v.get("bureau")) : c.user.equals("bench") || DOWN.contains(r.v.get("status"));
      case "claim": return c.user.equals("chaser") ? c.id.equals(r.v.get("chaser")) : c.user.equals("office") && c.bureau.equals(r.v.get("bureau"));
      case "exam": return c.user.equals("bench") || c.user.equals("office") && c.bureau.equals(r.v.get("bureau")) && r.v.get("status").equals("signed");
      case "watch": return c.user.equals("chaser");
      case "hook": return c.id.equals(r.v.get("owner"));
      case "entry": return c.user.equals("office") && c.bureau.equals(r.v.get("bureau"));
      default: return false;
    }
  }
  /** The rules of changes over the row as it is, of a row that may be read. */
  static boolean mayAct(String op, Row r, Caller c) {
    switch (op) {
      case "update site": case "replace site": case "delete site": return c.bureau.equals(r.v.get("bureau"));
      case "update exam": case "delete exam": case "sign exam": return c.id.equals(r.v.get("examiner"));
      case "delete watch": return c.id.equals(r.v.get("chaser"));
      default: return true;
    }
  }
  static final Set<String> CHASER_SEES = Set.of("id", "site", "bureau", "number", "tag", "serial", "bounty", "status", "landing", "changed_at");
  static boolean sees(String res, String field, Caller c) {
    String u = c == null ? "" : c.user;
    if (res.equals("sonde") && u.equals("chaser")) return CHASER_SEES.contains(field);
    if (res.equals("sonde") && field.equals("remarks")) return u.equals("office") || u.equals("bench") && !f("remarks-hidden-from-bench");
    if (res.equals("claim") && field.equals("assessment")) return u.equals("office") || u.equals("bench");
    return true;
  }

  // ---- how rows are shown ----------------------------------------------------------------------------------------
  static Object derived(Row r, String n) {
    if (r.res.equals("site")) {
      long aloft = 0; Long rich = null;
      for (Row s : rows("sonde").values()) if (r.id.equals(s.v.get("site"))) {
        if (s.v.get("status").equals("aloft")) aloft++;
        if (s.v.get("status").equals("landed") || s.v.get("status").equals("claimed") || f("richest-counts-recovered") && s.v.get("status").equals("recovered")) { Long b = (Long) s.v.get("bounty"); if (rich == null || b > rich) rich = b; }
      }
      return n.equals("aloft") ? (Object) aloft : rich;
    }
    long sum = 0;
    for (Row x : rows("reading").values()) if (r.id.equals(x.v.get("exam")) && !(f("drift-without-humidity") && x.v.get("channel").equals("humidity"))) sum += (Long) x.v.get("drift_ppm");
    return sum;
  }
  static List<Object> readings(Row exam, String ver) {
    List<Row> l = new ArrayList<>();
    for (Row x : rows("reading").values()) if (exam.id.equals(x.v.get("exam"))) l.add(x);
    if (!f("readings-unsorted")) l.sort(Comparator.comparingLong((Row x) -> (Long) x.v.get("place")).thenComparingLong(x -> x.seq));
    List<Object> out = new ArrayList<>(); for (Row x : l) out.add(show(x, ver, null, false));
    return out;
  }
  static Map<String, Object> show(Row r, String ver, Caller c, boolean reveal) {
    Map<String, Object> m = new LinkedHashMap<>();
    for (Model.F fl : Model.spec(r.res, ver)) {
      String n = Model.newest(ver, fl.name);
      if (n == null) { m.put("call_sign", "none"); continue; }
      if (fl.wo || !sees(r.res, n, c)) continue;
      if (r.res.equals("hook") && n.equals("secret") && !reveal) continue;
      Object v;
      if (r.res.equals("site") && (n.equals("aloft") || n.equals("richest")) || r.res.equals("exam") && n.equals("drift")) v = derived(r, n);
      else if (r.res.equals("exam") && n.equals("readings")) v = readings(r, ver);
      else if (!r.v.containsKey(n)) continue;
      else v = r.v.get(n);
      if (v == null && !fl.nullable) continue;
      if (r.res.equals("sonde") && n.equals("status") && ver.equals("r1") && "aloft".equals(v)) v = "airborne";
      m.put(fl.name, Model.down(ver, fl.name, Model.copy(v)));
      if (r.res.equals("reading") && n.equals("id")) m.put("exam", r.v.get("exam"));
    }
    if (r.res.equals("sonde") && ver.equals("r1") && f("bounty-in-r1") && !(c != null && !sees("sonde", "bounty", c))) m.put("bounty", r.v.get("bounty"));
    return m;
  }
  static String etag(Row r, String ver, Caller c) {
    Map<String, Object> m = show(r, ver, c, false);
    if (f("tag-without-aloft")) m.remove("aloft");
    try {
      byte[] d = MessageDigest.getInstance("SHA-256").digest((ver + Json.write(m)).getBytes(StandardCharsets.UTF_8));
      return '"' + Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(d, 15)) + '"';
    } catch (NoSuchAlgorithmException e) { throw new IllegalStateException(e); }
  }

  // ---- events ----------------------------------------------------------------------------------------------------
  static final Set<String> KINDS = Set.of("sonde.launched", "sonde.down", "sonde.lost", "sonde.bounty_raised", "claim.opened", "claim.closed", "claim.fading");
  /** `payload` makes what is told, for a version and a reader. */
  static void emit(String kind, Row about, Caller by, BiFunction<String, Caller, Object> payload) {
    String id = "evt_" + ulid(); long at = now();
    Row log = new Row("entry", id);
    Caller staff = new Caller("office", "", (String) about.v.get("bureau"), "", "");
    log.v.put("id", id); log.v.put("bureau", about.v.get("bureau")); log.v.put("kind", kind); log.v.put("about", about.id);
    if (by != null) log.v.put("actor", by.id);
    log.v.put("body", payload.apply("r2", staff)); log.v.put("at", iso(at)); log.entered = at;
    rows("entry").put(id, log);
    for (Row h : rows("hook").values()) {
      Caller maker = account((String) h.v.get("owner"));
      if (!Boolean.TRUE.equals(h.v.get("live"))) continue;
      if (!mayRead(about, maker) && !(f("lost-told-to-chasers") && kind.equals("sonde.lost") && maker.user.equals("chaser"))) continue;
      List<?> kinds = (List<?>) h.v.get("kinds");
      boolean wants = kinds == null;
      if (kinds != null) for (Object k : kinds) if (k.equals("*") || k.equals(kind) || k.equals(kind.substring(0, kind.indexOf('.')) + ".*")) wants = true;
      if (!wants) continue;
      String ver = f("hooks-told-in-newest") ? "r2" : (String) h.v.get("#version");
      Object body = payload.apply(ver, f("assessment-told") && kind.equals("claim.closed") ? staff : maker);
      Hooks.Job j = new Hooks.Job(); j.hook = h.id; j.row = about.id; j.id = id; j.kind = kind; j.due = at;
      j.body = () -> {
        Map<String, Object> e = new LinkedHashMap<>();
        e.put("event", id); e.put("kind", kind); e.put("at", iso(f("envelope-at-of-try") ? now() : at)); e.put("body", body);
        return Json.write(e);
      };
      Hooks.waiting.add(j);
    }
  }
  static Map<String, Object> map(Object... kv) { Map<String, Object> m = new LinkedHashMap<>(); for (int k = 0; k < kv.length; k += 2) m.put((String) kv[k], kv[k + 1]); return m; }

  // ---- states ----------------------------------------------------------------------------------------------------
  static void move(Row r, String to) {
    boolean restart = !(f("lose-not-restarted") && r.res.equals("sonde") && to.equals("landed") && r.v.get("status").equals("claimed"));
    r.v.put("status", to);
    if (restart) { r.entered = now(); if (to.equals("landed")) r.v.put("#down", r.entered); } else r.entered = (Long) r.v.get("#down");
    if (r.res.equals("sonde") && !(f("clock-leaves-changed-at") && frozen != null)) r.v.put("changed_at", iso(now()));
  }
  static void release(Row claim) { Row s = row("sonde", claim.v.get("sonde")); if (s != null && s.v.get("status").equals("claimed")) move(s, "landed"); }
  static void closed(Row claim, Caller by) { emit("claim.closed", claim, by, (v, c) -> show(claim, v, c, false)); }
  static void down(Row s, Caller by) { boolean seen = s.v.containsKey("landing"); emit("sonde.down", s, by, (v, c) -> map("sonde", show(s, v, c, false), "seen", seen)); }

  /** Everything that has fallen due, in the order in which it did. */
  static void due() {
    long limit = System.currentTimeMillis() + offset;
    while (true) {
      long best = Long.MAX_VALUE; Runnable act = null;
      for (Row s : rows("sonde").values()) {
        long t = s.v.get("status").equals("aloft") ? s.entered + 6 * HOUR : s.v.get("status").equals("landed") ? s.entered + 30 * DAY : Long.MAX_VALUE;
        if (t < best) { best = t; act = s.v.get("status").equals("aloft") ? () -> { move(s, "landed"); if (!f("descend-untold")) down(s, null); }
          : () -> { move(s, "lost"); emit("sonde.lost", s, null, (v, c) -> map("sonde", s.id, "serial", s.v.get("serial"))); }; }
      }
      for (Row c : rows("claim").values()) {
        long until = Instant.parse(c.t("until")).toEpochMilli(), fade = until - (f("fading-at-six-hours") ? 6 : 12) * HOUR;
        if (!c.faded && fade < best) { best = fade; act = () -> { c.faded = true; emit("claim.fading", c, null, (v, x) -> map("claim", c.id, "until", c.v.get("until"))); }; }
        if (c.v.get("status").equals("open") && until < best) { best = until; act = () -> { move(c, "expired"); closed(c, null); if (!f("expire-keeps-sonde")) release(c); }; }
      }
      if (best > limit) break;
      frozen = best; try { act.run(); } finally { frozen = null; }
    }
    long keep = f("log-kept-thirty-days") ? 30 * DAY : 60 * DAY;
    rows("entry").values().removeIf(e -> e.entered + keep <= limit);
    long kept = f("exam-kept-a-day") ? DAY : 7 * DAY;
    for (String r : List.of("exam", "reading")) rows(r).values().removeIf(e -> e.deleted != null && e.deleted + kept <= limit);
    Hooks.go();
  }

  // ---- rates and quotas ------------------------------------------------------------------------------------------
  static final class Window { long opened, used; double level = -1; long at; }
  static final Map<String, Window> COUNTS = new HashMap<>();
  static final Map<String, Long> QUOTA = new HashMap<>();

  public static void main(String[] a) throws Exception {
    int port = 0, clock = 0;
    for (int k = 0; k + 1 < a.length; k += 2) {
      if (a[k].equals("--port")) port = Integer.parseInt(a[k + 1]); if (a[k].equals("--clock-port")) clock = Integer.parseInt(a[k + 1]); if (a[k].equals("--fault")) fault = a[k + 1];
    }
    Http.listen(port, 8192, 20_000, 60_000, Door::handle);
    Http.listen(clock, 65536, 20_000, 60_000, Service::clock);
    Thread t = new Thread(() -> { while (true) { try { Thread.sleep(100); } catch (InterruptedException e) { return; } synchronized (LOCK) { try { due(); } catch (RuntimeException e) { e.printStackTrace(); } } } });
    t.setDaemon(true); t.start();
    System.out.println("ready on " + port); System.out.flush();
  }

  static Http.Res clock(Http.Req r) {
    Http.Res bad = new Http.Res(400, "{\"error\":\"GET, or POST with advance or now\"}");
    if (r.method.equals("GET")) return new Http.Res(200, Json.write(map("now", iso(System.currentTimeMillis() + offset))));
    if (!r.method.equals("POST")) return bad;
    Map<?, ?> m;
    try { m = (Map<?, ?>) Json.read(new String(r.body, StandardCharsets.UTF_8)); } catch (RuntimeException e) { return bad; }
    if (m.size() != 1) return bad;
    synchronized (LOCK) {
      long n = System.currentTimeMillis() + offset, to;
      try {
        if (m.get("advance") instanceof String) to = advance(n, (String) m.get("advance"));
        else if (m.get("now") instanceof String) to = OffsetDateTime.parse((String) m.get("now")).toInstant().toEpochMilli();
        else return bad;
      } catch (RuntimeException e) { return bad; }
      if (to < n) return new Http.Res(422, "{\"error\":\"the clock goes forward alone\"}");
      offset = to - System.currentTimeMillis(); due();
      return new Http.Res(200, Json.write(map("now", iso(System.currentTimeMillis() + offset))));
    }
  }
  static long advance(long n, String d) {
    if (!d.matches("P(?=.)([0-9]+Y)?([0-9]+M)?([0-9]+W)?([0-9]+D)?(T(?=.)([0-9]+H)?([0-9]+M)?([0-9]+([.][0-9]+)?S)?)?")) throw new IllegalArgumentException();
    int t = d.indexOf('T'); String date = t < 0 ? d : d.substring(0, t);
    ZonedDateTime z = Instant.ofEpochMilli(n).atZone(ZoneOffset.UTC);
    if (date.length() > 1) z = z.plus(Period.parse(date));
    if (t >= 0) z = z.plus(Duration.parse("P" + d.substring(t)));
    return z.toInstant().toEpochMilli();
  }
}

/** The operations themselves. */
final class Acts {
  static boolean f(String id) { return Service.f(id); }
  static Service.Row make(String res, String id, Door.Ctx c, Map<String, Object> m) {
    Service.Row r = new Service.Row(res, id); r.v.put("id", id); m.remove("id"); Ops.apply(c, r, m); r.entered = Service.now(); return r;
  }
  static void put(Service.Row r) { Service.rows(r.res).put(r.id, r); }
  static String now() { return Service.iso(Service.now()); }

  static Http.Res run(Door.Ctx c) throws Exception {
    Service.Caller me = c.caller; Service.Row r; Map<String, Object> m; String op = c.end.op;
    switch (op) {
      case "band plan": return Ops.json(200, Service.map("bands", List.of("uhf403", "l1680"), "step_khz", 10L)).set("Cache-Control", "public, max-age=3600");

      // sites
      case "list site": return Ops.listSites(c);
      case "read site": return Ops.tagged(c, Ops.named(c, "site"), "private, no-cache");
      case "create site":
        m = Ops.sent(c, "site", Model.Mode.CREATE, null);
        for (Service.Row s : Service.rows("site").values()) if (s.v.get("code").equals(m.get("code")) && (s.v.get("bureau").equals(me.bureau) || f("code-unique-everywhere"))) throw new Service.Slip("duplicate");
        r = make("site", "site_" + Service.pick(Service.LOW + Service.DIG, 12), c, m);
        r.v.put("bureau", me.bureau); r.v.put("gated", r.v.containsKey("gate_code")); r.v.put("standing", "open");
        r.v.put("self", "https://api.sondes.example/recovery/r2/sites/" + r.id); r.v.put("opened_at", now()); put(r);
        return Ops.created(c, r, "/sites/", false);
      case "update site": {
        r = Ops.named(c, "site"); Ops.precondition(c, r, true);
        List<Model.F> spec = new ArrayList<>(); for (Model.F x : Model.spec("site", c.ver)) spec.add(x.name.equals("standing") ? Model.s("standing").req().en("open", "closed") : x);
        m = Ops.sent(c, spec, Model.Mode.PATCH, false, Ops.old(c, r), null, new LinkedHashMap<>());
        if ("closed".equals(m.get("standing")) && r.v.get("standing").equals("open") && (Long) Service.derived(r, "aloft") > 0 && !f("site-closes-anyway")) throw new Service.Slip("site_busy");
        if (Ops.apply(c, r, m) && !(f("gated-stays") && m.get("gate_code") == Service.REMOVED)) r.v.put("gated", r.v.containsKey("gate_code"));
        return Ops.shown(c, r); }
      case "replace site":
        r = Ops.named(c, "site"); Ops.precondition(c, r, false);
        m = Ops.sent(c, "site", Model.Mode.REPLACE, Ops.old(c, r));
        if (!m.containsKey("contacts")) m.put("contacts", Service.REMOVED);
        if (!m.containsKey("gate_code") && f("gate-code-lost")) m.put("gate_code", Service.REMOVED);
        if (Ops.apply(c, r, m)) r.v.put("gated", r.v.containsKey("gate_code"));
        return Ops.shown(c, r);
      case "delete site":
        r = Ops.named(c, "site");
        for (Service.Row s : Service.rows("sonde").values()) if (s.v.get("site").equals(r.id)) throw new Service.Slip("still_used");
        Service.rows("site").remove(r.id); return new Http.Res(204, null);

      // sondes
      case "create sonde": {
        Service.Row site = Ops.parent(c, "site"); Map<String, Object> out = new LinkedHashMap<>();
        m = Ops.sent(c, Model.spec("sonde", c.ver), Model.Mode.CREATE, true, null, bad -> Ops.sameAsPath(out, "site", site.id, bad), out);
        if (!site.v.get("bureau").equals(me.bureau)) throw new Service.Slip("not_allowed");
        if (site.v.get("standing").equals("closed")) throw new Service.Slip("site_closed");
        for (Service.Row s : Service.rows("sonde").values()) if (s.v.get("serial").equals(m.get("serial"))) throw new Service.Slip("duplicate");
        r = make("sonde", "snd_" + Service.ulid(), c, m);
        r.v.put("site", site.id); r.v.put("bureau", me.bureau); r.v.put("number", Service.draw(f("number-over-all") ? "all" : "site " + site.id)); r.v.put("tag", String.format("FL-%04d", Service.draw("tag")));
        r.v.putIfAbsent("bounty", 0L); r.v.put("status", "packed"); r.v.put("changed_at", now()); put(r);
        return Ops.created(c, r, "/sondes/", false); }
      case "list sonde": return Ops.listSondes(c);
      case "list sondes of site": {
        Service.Row site = Ops.parent(c, "site"); List<Service.Row> l = Ops.keep(c, "sonde", s -> s.v.get("site").equals(site.id));
        Comparator<Service.Row> by = Comparator.comparing(s -> (Long) s.v.get("number")); l.sort(f("site-sondes-upwards") ? by : by.reversed());
        return Ops.page(c, l, s -> Service.show(s, c.ver, me, false), 0); }
      case "read sonde": return Ops.tagged(c, Ops.named(c, "sonde"), null);
      case "look up sonde":
        for (Service.Row s : Service.rows("sonde").values()) if (s.v.get("serial").equals(c.path.get("serial")) && (Service.mayRead(s, me) || f("look-up-of-any-bureau") && me.user.equals("office"))) return Ops.shown(c, s);
        throw new Service.Slip("not_found");
      case "update sonde": {
        r = Ops.named(c, "sonde"); Ops.precondition(c, r, false);
        m = Ops.sent(c, "sonde", Model.Mode.PATCH, Ops.old(c, r));
        Ops.in(r, "packed", "landed"); long was = (Long) r.v.get("bounty"); Service.Row s = r;
        if (Ops.apply(c, r, m) || f("nothing-changed-counts")) {
          r.v.put("changed_at", now()); long is = (Long) r.v.get("bounty");
          if (is > was || f("lowering-is-raising") && is < was) Service.emit("sonde.bounty_raised", r, me, (v, x) -> Service.map("sonde", s.id, "was", was, "is", is));
        }
        return Ops.shown(c, r); }
      case "delete sonde":
        r = Ops.named(c, "sonde"); Ops.in(r, "packed", "scrapped");
        for (String res : List.of("claim", "exam")) for (Service.Row x : Service.rows(res).values()) if (x.deleted == null && x.v.get("sonde").equals(r.id)) throw new Service.Slip("still_used");
        Service.rows("sonde").remove(r.id); return new Http.Res(204, null);
      case "launch sonde": {
        r = Ops.named(c, "sonde"); Ops.in(r, "packed");
        if ((Long) Service.derived(Service.row("site", r.v.get("site")), "aloft") >= (f("four-may-be-up") ? 4 : 3)) throw new Service.Slip("sky_full");
        long k = (Long) r.v.get("frequency_khz"); if (r.v.get("band").equals("uhf403") && (k < 400150 || k > 406000 || f("band-edge-refused") && k == 406000)) throw new Service.Slip("off_band");
        r.v.put("launched_at", now()); Service.move(r, "aloft"); Service.Row s = r;
        Service.emit("sonde.launched", r, me, (v, x) -> Service.show(s, v, x, false));
        return Ops.shown(c, r); }
      case "land sonde": {
        r = Ops.named(c, "sonde"); Service.landing.set(true);
        try { m = Ops.sent(c, List.of(new Model.F("position", "value").val("position").req()), Model.Mode.OPEN, false, null, null, new LinkedHashMap<>()); } finally { Service.landing.set(false); }
        Ops.in(r, "aloft"); r.v.put("landing", m.get("position")); Service.move(r, "landed"); Service.down(r, me);
        return Ops.shown(c, r); }
      case "scrap sonde":
        r = Ops.named(c, "sonde");
        if (!r.v.get("status").equals("packed") && (!r.v.get("status").equals("recovered") || f("recovered-not-scrapped"))) throw new Service.Slip("beyond_scrap");
        Service.move(r, "scrapped"); return f("scrap-shows-row") ? Ops.shown(c, r) : Ops.json(200, Service.map("sonde", r.id, "state", "scrapped"));

      // claims
      case "create claim": {
        Service.Row s = Ops.parent(c, "sonde"); Map<String, Object> out = new LinkedHashMap<>();
        m = Ops.sent(c, Model.spec("claim", c.ver), Model.Mode.CREATE, false, null, bad -> Ops.sameAsPath(out, "sonde", s.id, bad), out);
        int open = 0; for (Service.Row x : Service.rows("claim").values()) if (x.v.get("chaser").equals(me.id) && (x.v.get("status").equals("open") || f("delivered-claims-count") && x.v.get("status").equals("delivered"))) open++;
        if (open >= 3) throw new Service.Slip("used_up");
        ZonedDateTime day = Instant.ofEpochMilli(Service.now()).atZone(f("day-of-utc") ? ZoneOffset.UTC : ZoneId.of("Europe/Oslo")).toLocalDate().atStartOfDay(f("day-of-utc") ? ZoneOffset.UTC : ZoneId.of("Europe/Oslo"));
        String quota = me.id + " " + day;
        boolean free = s.v.get("status").equals("landed");
        if (!free) { if (f("refused-uses-quota")) Service.QUOTA.merge(quota, 1L, Long::sum); throw new Service.Slip(f("spoken-for-in-general") ? "wrong_state" : "spoken_for"); }
        if (Service.QUOTA.getOrDefault(quota, 0L) >= 6) throw new Service.Slip("used_up").with("Retry-After", "" + ((day.plusDays(1).toInstant().toEpochMilli() - Service.now() + 999) / 1000));
        Service.QUOTA.merge(quota, 1L, Long::sum);
        r = make("claim", "clm_" + Service.pick(Service.AZ + Service.LOW + Service.DIG, 16), c, m);
        r.v.put("sonde", s.id); r.v.put("chaser", me.id); r.v.put("bureau", s.v.get("bureau")); r.v.put("status", "open");
        r.v.put("until", Service.iso(Service.now() + 72 * Service.HOUR)); r.v.put("made_at", now()); put(r);
        Service.move(s, "claimed"); Service.Row k = r;
        Service.emit("claim.opened", r, me, (v, x) -> Service.show(k, v, x, false));
        return Ops.created(c, r, "/claims/", false); }
      case "list claim": {
        List<Service.Row> l = Ops.keep(c, "claim", x -> {
          if (!Ops.eq(c, "status", x, "status") || !Ops.eq(c, "sonde", x, "sonde")) return false;
          if (c.q.containsKey("site")) { Service.Row s = Service.row("sonde", x.v.get("sonde")); if (!Service.mayRead(s, me) || !c.q.get("site").equals(s.v.get("site"))) return false; }
          return !c.p.containsKey("made_since") || Instant.parse(x.t("made_at")).toEpochMilli() >= (Long) c.p.get("made_since");
        });
        if (!f("claims-oldest-first")) l.sort(Comparator.comparingLong((Service.Row x) -> x.seq).reversed());
        return Ops.page(c, l, x -> Service.show(x, c.ver, me, false), Service.rows("claim").size()); }
      case "read claim": {
        r = Ops.named(c, "claim"); m = Service.show(r, c.ver, me, false);
        Service.Row s = Service.row("sonde", r.v.get("sonde"));
        if (c.q.containsKey("with") && Service.mayRead(s, me)) m.put("sonde", Service.show(s, c.ver, f("expansion-shows-all") ? Service.account("off_nora") : me, false));
        return Ops.json(200, m); }
      case "update claim":
        r = Ops.named(c, "claim"); m = Ops.sent(c, "claim", Model.Mode.PATCH, r.v); Ops.in(r, "open"); Ops.apply(c, r, m); return Ops.shown(c, r);
      case "deliver claim":
        r = Ops.named(c, "claim"); m = Ops.sent(c, List.of(Model.s("photo").req().pat("^[0-9a-f]{16}$")), Model.Mode.OPEN, false, null, null, new LinkedHashMap<>());
        Ops.in(r, "open"); r.v.put("photo", m.get("photo")); Service.move(r, "delivered"); return Ops.shown(c, r);
      case "withdraw claim":
        r = Ops.named(c, "claim");
        if (!r.v.get("status").equals("open") && (!r.v.get("status").equals("delivered") || f("delivered-not-withdrawn"))) throw new Service.Slip("too_settled");
        Service.move(r, "withdrawn"); Service.closed(r, me); Service.release(r); return Ops.shown(c, r);
      case "accept claim": {
        r = Ops.named(c, "claim"); if (f("state-before-body")) Ops.in(r, "delivered");
        m = Ops.sent(c, List.of(Model.s("condition").req().en("whole", "broken"), Model.s("remark").len(0, 120)), Model.Mode.OPEN, false, null, null, new LinkedHashMap<>());
        Ops.in(r, "delivered"); r.v.put("assessment", m.getOrDefault("remark", "nothing to add"));
        Service.move(r, m.get("condition").equals("whole") || f("broken-is-settled") ? "settled" : "written_off"); Service.closed(r, me);
        Service.move(Service.row("sonde", r.v.get("sonde")), "recovered"); return Ops.shown(c, r); }
      case "refuse claim":
        r = Ops.named(c, "claim"); m = Ops.sent(c, List.of(Model.s("remark").req().len(3, 120)), Model.Mode.OPEN, false, null, null, new LinkedHashMap<>());
        Ops.in(r, "delivered"); r.v.put("assessment", m.get("remark")); Service.move(r, "refused"); Service.closed(r, me); Service.release(r); return Ops.shown(c, r);

      // exams
      case "create exam": {
        m = Ops.sent(c, "exam", Model.Mode.CREATE, null); Service.Row s = Service.row("sonde", m.get("sonde"));
        if (s == null) throw new Service.Slip("dangling", "sonde");
        if (!s.v.get("status").equals("recovered")) throw new Service.Slip("not_recovered");
        List<?> lines = (List<?>) m.remove("readings"); r = make("exam", "exm_" + Service.ulid(), c, m);
        r.v.put("bureau", s.v.get("bureau")); r.v.put("examiner", me.id); r.v.put("status", "draft"); put(r);
        for (Object o : lines) { @SuppressWarnings("unchecked") Map<String, Object> x = new LinkedHashMap<>((Map<String, Object>) o); Service.Row line = make("reading", "rdg_" + Service.ulid(), c, x); line.v.put("exam", r.id); put(line); }
        return Ops.created(c, r, "/exams/", false); }
      case "list exam": return Ops.page(c, Ops.keep(c, "exam", x -> Ops.eq(c, "sonde", x, "sonde") && !(c.q.containsKey("but_verdict") && c.q.get("but_verdict").equals(x.v.get("verdict")))
          && !(c.p.containsKey("drift_upto") && (Long) Service.derived(x, "drift") > (Long) c.p.get("drift_upto"))), x -> Service.show(x, c.ver, me, false), 0);
      case "read exam": return Ops.shown(c, Ops.named(c, "exam"));
      case "update exam":
        r = Ops.named(c, "exam"); m = Ops.sent(c, "exam", Model.Mode.PATCH, r.v); Ops.in(r, "draft"); Ops.apply(c, r, m); return Ops.shown(c, r);
      case "sign exam": {
        r = Ops.named(c, "exam"); Ops.in(r, "draft");
        if (f("waste-not-signed") && r.v.get("verdict").equals("waste")) throw new IllegalStateException("to do: waste");
        if ((Long) Service.derived(r, "drift") > 500000 && !r.v.get("verdict").equals("waste")) throw new Service.Slip("wrong_state");
        Service.move(r, "signed"); r.v.put("signed_at", now()); Service.Row s = Service.row("sonde", r.v.get("sonde"));
        if ((r.v.get("verdict").equals("reusable") || f("parts-fly-again") && r.v.get("verdict").equals("parts")) && s.v.get("status").equals("recovered")) Service.move(s, "packed");
        return Ops.shown(c, r); }
      case "delete exam": {
        r = Ops.named(c, "exam"); if (!f("signed-is-deleted")) Ops.in(r, "draft");
        r.deleted = Service.now(); String id = r.id; Service.rows("reading").values().removeIf(x -> x.v.get("exam").equals(id)); return new Http.Res(204, null); }

      // watches
      case "upsert watch": {
        String id = c.path.get("id"); r = Service.row("watch", id); Service.Row old = r;
        if (c.body instanceof Map && !((Map<?, ?>) c.body).containsKey("id")) { Map<String, Object> b = new LinkedHashMap<>(); b.put("id", id); for (Map.Entry<?, ?> e : ((Map<?, ?>) c.body).entrySet()) b.put((String) e.getKey(), e.getValue()); c.body = b; }
        Map<String, Object> out = new LinkedHashMap<>();
        m = Ops.sent(c, Model.spec("watch", c.ver), Model.Mode.CREATE, false, null, bad -> {
          if (out.get("id") instanceof String && !out.get("id").equals(id)) bad.add(new Model.Viol("value", "id"));
          if (bad.isEmpty() && (Double) out.get("south") >= (Double) out.get("north") && !(f("changed-watch-upside-down") && old != null)) bad.add(new Model.Viol("value", "north"));
          if (bad.isEmpty() && out.containsKey("by_mail") == out.containsKey("by_text")) bad.add(new Model.Viol("value", ""));
        }, out);
        if (r != null && !r.v.get("chaser").equals(me.id) && !f("watch-of-another")) throw new Service.Slip("not_allowed");
        if (r == null) { r = make("watch", id, c, m); r.v.put("chaser", me.id); r.v.put("saved_at", now()); put(r); return Ops.created(c, r, "/watches/", false); }
        for (String n : List.of("by_mail", "by_text")) if (!m.containsKey(n)) m.put(n, Service.REMOVED);
        if (Ops.apply(c, r, m)) r.v.put("saved_at", now());
        return Ops.shown(c, r); }
      case "list watch": {
        List<Service.Row> l = Ops.keep(c, "watch", x -> {
          if (Boolean.TRUE.equals(c.p.get("mine")) && !me.id.equals(x.v.get("chaser"))) return false;
          if (c.p.containsKey("text")) { boolean any = false; for (Object w : (List<?>) c.p.get("text")) { boolean has = x.t("label").toLowerCase().contains((String) w); any |= has; if (!has && !f("any-word-is-enough")) return false; } if (!any) return ((List<?>) c.p.get("text")).isEmpty(); }
          return true;
        });
        l.sort(Comparator.comparing((Service.Row x) -> x.t("label")).thenComparingLong(x -> x.seq));
        List<Object> rows = new ArrayList<>(); for (Service.Row x : l) rows.add(Service.show(x, c.ver, me, false));
        return Ops.json(200, rows); }
      case "read watch": return Ops.shown(c, Ops.named(c, "watch"));
      case "delete watch": r = Ops.named(c, "watch"); Service.rows("watch").remove(r.id); return new Http.Res(204, null);

      // hooks
      case "create hook": {
        m = Ops.sent(c, "hook", Model.Mode.CREATE, null); int n = 0; for (Service.Row x : Service.rows("hook").values()) if (x.v.get("owner").equals(me.id)) n++;
        if (n >= 4) throw new Service.Slip(f("hooks-used-up-in-general") ? "used_up" : "rows_full");
        r = make("hook", "hok_" + Service.pick("0123456789abcdef", 16), c, m);
        r.v.put("owner", me.id); r.v.put("secret", "rcv_" + Service.pick(Service.AZ + Service.LOW + Service.DIG, 32)); r.v.put("made_at", now()); r.v.put("#version", c.ver); put(r);
        return Ops.created(c, r, "/hooks/", true); }
      case "list hook": return Ops.page(c, Ops.keep(c, "hook", x -> true), x -> Service.show(x, c.ver, me, false), 0);
      case "read hook": return Ops.shown(c, Ops.named(c, "hook"));
      case "update hook":
        r = Ops.named(c, "hook"); m = Ops.sent(c, "hook", Model.Mode.PATCH, r.v); boolean was = (Boolean) r.v.get("live"); Ops.apply(c, r, m);
        if (was != (Boolean) r.v.get("live")) { Hooks.failing.remove(r.id); Hooks.notBefore.remove(r.id); if (was) { String id = r.id; Hooks.waiting.removeIf(j -> j.hook.equals(id)); } }
        return Ops.json(200, Service.show(r, c.ver, me, f("secret-shown-again")));
      case "delete hook": { r = Ops.named(c, "hook"); String id = r.id; Service.rows("hook").remove(id); Hooks.waiting.removeIf(j -> j.hook.equals(id)); return new Http.Res(204, null); }

      case "list entry": return Ops.listEntries(c);
      case "read entry": return Ops.shown(c, Ops.named(c, "entry"));
      default: throw new IllegalStateException(op);
    }
  }
}

/** What stands between a request and its operation, in the order of refusals. */
final class Door {
  static final class End { final String method, path, op; final String[] segs; final Set<String> params; String page, body; boolean token, tokenNeeded; String query[] = {};
    End(String m, String p, String o, String... params) { method = m; path = p; op = o; segs = p.substring(1).split("/"); this.params = new LinkedHashSet<>(List.of(params)); token = m.equals("POST"); }
    End page(String s) { page = s; return this; } End body(String b) { body = b; return this; } }
  static final List<End> ENDS = new ArrayList<>();
  static End end(String m, String p, String o, String... q) { End e = new End(m, p, o, q); ENDS.add(e); return e; }
  static {
    end("GET", "/bands", "band plan");
    end("POST", "/sites", "create site").body("json");
    end("GET", "/sites", "list site", "bureau", "code", "named", "above", "sort", "way", "only").page("offset");
    end("GET", "/sites/{id}", "read site"); end("PATCH", "/sites/{id}", "update site").body("patch"); end("PUT", "/sites/{id}", "replace site").body("json"); end("DELETE", "/sites/{id}", "delete site");
    end("POST", "/sites/{site}/sondes", "create sonde").body("json"); end("GET", "/sites/{site}/sondes", "list sondes of site").page("offset");
    end("GET", "/sondes", "list sonde", "status", "site", "site_code", "bounty_from", "frequency_khz", "serial", "down", "sort").page("cursor");
    end("GET", "/sondes/{id}", "read sonde"); end("GET", "/serials/{serial}", "look up sonde"); end("PATCH", "/sondes/{id}", "update sonde").body("patch"); end("DELETE", "/sondes/{id}", "delete sonde");
    end("POST", "/sondes/{id}/launch", "launch sonde"); end("POST", "/sondes/{id}/land", "land sonde").body("json"); end("POST", "/sondes/{id}/scrap", "scrap sonde");
    end("POST", "/sondes/{sonde}/claims", "create claim").body("json").tokenNeeded = true;
    end("GET", "/claims", "list claim", "status", "sonde", "site", "made_since").page("offset");
    end("GET", "/claims/{id}", "read claim", "with"); end("PATCH", "/claims/{id}", "update claim").body("patch");
    end("POST", "/claims/{id}/deliver", "deliver claim").body("form"); end("POST", "/claims/{id}/withdraw", "withdraw claim");
    end("POST", "/claims/{id}/accept", "accept claim").body("json"); end("POST", "/claims/{id}/refuse", "refuse claim").body("json");
    end("POST", "/exams", "create exam").body("json"); end("GET", "/exams", "list exam", "sonde", "but_verdict", "drift_upto").page("offset");
    end("GET", "/exams/{id}", "read exam"); end("PATCH", "/exams/{id}", "update exam").body("patch"); end("POST", "/exams/{id}/sign", "sign exam"); end("DELETE", "/exams/{id}", "delete exam");
    end("PUT", "/watches/{id}", "upsert watch").body("json"); end("GET", "/watches", "list watch", "mine", "text");
    end("GET", "/watches/{id}", "read watch"); end("DELETE", "/watches/{id}", "delete watch");
    end("POST", "/hooks", "create hook").body("json"); end("GET", "/hooks", "list hook").page("offset"); end("GET", "/hooks/{id}", "read hook"); end("PATCH", "/hooks/{id}", "update hook").body("patch"); end("DELETE", "/hooks/{id}", "delete hook");
    end("GET", "/entries", "list entry", "kind", "about").page("after"); end("GET", "/entries/{id}", "read entry");
  }

  /** One request on its way. */
  static final class Ctx {
    Http.Req req; String trace = "req_" + Service.pick("0123456789abcdef", 20), ver = "r2", rest = "", query = ""; End end; Service.Caller caller; Object body;
    Map<String, String> path = new HashMap<>(), q = new LinkedHashMap<>(); List<String[]> raw = new ArrayList<>();
    List<Service.Window> counted = new ArrayList<>(); List<double[]> told = new ArrayList<>();
    Map<String, Object> p = new HashMap<>(); int take, skip; String past; Object[] from;
    String at(String p) { return "/recovery/" + ver + p; }
  }

  static Http.Res handle(Http.Req req) {
    Ctx c = new Ctx(); c.req = req; Http.Res a;
    synchronized (Service.LOCK) {
      try { Service.due(); a = steps(c); }
      catch (Service.Slip s) { a = slip(c, s); }
      catch (RuntimeException e) { e.printStackTrace(); a = slip(c, new Service.Slip("broken")); }
      if (a.status == 304 && !c.told.isEmpty() && !Service.f("not-modified-counts")) { c.counted.get(0).used--; c.told.get(0)[1]++; }
      a.set("X-Trace", c.trace);
      double[] strict = null; for (double[] t : c.told) if (strict == null || t[1] < strict[1]) strict = t;
      if (strict != null) { a.set("X-Sky-Limit", "" + (long) strict[0]); a.set("X-Sky-Left", "" + (long) strict[1]); a.set("X-Sky-Reset", "" + (long) strict[2]); }
      if (c.end != null && !c.end.op.equals("band plan")) a.set("Vary", "Authorization");
      if (c.ver.equals("r1") && c.end != null && !(Service.f("refusals-not-deprecated") && a.status >= 400)) {
        a.set("Deprecation", "@" + Service.DEPRECATED); a.set("Sunset", Service.httpDate(Service.SUNSET));
        a.add("Link", "<https://sondes.example/moving-to-r2>; rel=\"deprecation\"");
        a.add("Link", "</recovery/r2" + c.rest + (c.query.isEmpty() ? "" : "?" + c.query) + ">; rel=\"successor-version\"");
      }
      List<String> links = a.headers.get("Link"); if (links != null && links.size() > 1) a.set("Link", String.join(", ", links));
    }
    return a;
  }
  static Http.Res slip(Ctx c, Service.Slip s) {
    Object[] k = Service.CODES.get(s.code); String text = (String) k[1]; int status = (Integer) k[0];
    if (Service.f("duplicate-is-unprocessable") && s.code.equals("duplicate") && c.end.op.equals("create sonde")) status = 422;
    if (text.contains("{name}")) text = text.replace("{name}", s.spots == null ? "" : s.spots.get(0));
    Map<String, Object> m = Service.map("slip", s.code, "text", text, "status", (long) status);
    if (s.spots != null) m.put("spots", s.spots);
    m.put("trace", Service.f("own-trace-in-body") ? "req_" + Service.pick("0123456789abcdef", 20) : c.trace);
    Http.Res a = new Http.Res(status, Json.write(m));
    if (!(Service.f("no-slip-at-rows") && OWNROW.contains(s.code))) a.set("X-Slip", s.code);
    for (Map.Entry<String, String> h : s.headers.entrySet()) a.set(h.getKey(), h.getValue());
    if (status == 401) {
      boolean bad = s.code.equals("bad_card");
      a.add("WWW-Authenticate", "Sonde realm=\"Sonde Recovery Exchange\"" + (bad ? ", error=\"invalid_key\"" : ""));
      a.add("WWW-Authenticate", "Basic realm=\"Sonde Recovery Exchange\", charset=\"UTF-8\"");
    }
    return a;
  }
  static final Set<String> OWNROW = Set.of("stale", "tag_wanted");

  static String dec(String s, boolean plus) { try { return URLDecoder.decode(plus ? s : s.replace("+", "%2B"), "UTF-8"); } catch (Exception e) { return s; } }
  static Map<String, String> match(End e, List<String> segs) {
    if (segs.size() != e.segs.length) return null;
    Map<String, String> m = new HashMap<>();
    for (int k = 0; k < segs.size(); k++) {
      if (e.segs[k].startsWith("{")) { if (segs.get(k).isEmpty()) return null; m.put(e.segs[k].substring(1, e.segs[k].length() - 1), dec(segs.get(k), false)); }
      else if (!e.segs[k].equals(segs.get(k))) return null;
    }
    return m;
  }
  static List<End> find(List<String> segs, String ver) {
    List<End> l = new ArrayList<>();
    for (End e : ENDS) if (match(e, segs) != null && !("r1".equals(ver) && e.op.equals("look up sonde") && !Service.f("look-up-in-r1")) && !(Service.f("withdraw-not-there") && e.op.equals("withdraw claim"))) l.add(e);
    return l;
  }

  static Http.Res steps(Ctx c) {
    Http.Req r = c.req;
    // 1: sizes of the head
    if (r.target.getBytes(StandardCharsets.ISO_8859_1).length > (Service.f("address-half-as-long") ? 1024 : 2048)) throw new Service.Slip("long_address");
    if (r.headerBytes > 8192) throw new Service.Slip("long_headers");
    if (r.tooSlow) throw new Service.Slip("too_slow");
    // 2: route, method, version
    int qm = r.target.indexOf('?'); String path = qm < 0 ? r.target : r.target.substring(0, qm); c.query = qm < 0 ? "" : r.target.substring(qm + 1);
    if (!path.startsWith("/recovery/")) throw new Service.Slip("nowhere");
    List<String> segs = Arrays.asList(path.substring(10).split("/", -1));
    List<String> rest = segs.subList(1, segs.size()); String ver = segs.get(0);
    List<End> found = rest.isEmpty() ? List.of() : find(rest, ver); boolean named = true;
    if (found.isEmpty()) { rest = segs; ver = null; named = false; found = find(rest, null); }
    if (found.isEmpty()) throw new Service.Slip("nowhere");
    TreeSet<String> allow = new TreeSet<>(); allow.add("OPTIONS");
    for (End e : found) { allow.add(e.method); if (e.method.equals("GET")) allow.add("HEAD"); }
    String method = r.method.equals("HEAD") ? "GET" : r.method;
    for (End e : found) if (e.method.equals(method)) { c.end = e; c.path = match(e, rest); }
    if (c.end == null && !method.equals("OPTIONS")) throw new Service.Slip("wrong_verb").with("Allow", String.join(", ", allow));
    if (!named && Service.f("no-version-is-newest")) ver = "r2";
    if (ver == null || !ver.equals("r1") && !ver.equals("r2")) throw new Service.Slip("which_version");
    c.ver = ver; c.rest = "/" + String.join("/", rest);
    if (ver.equals("r1") && Service.now() >= Service.SUNSET && !Service.f("no-sunset")) throw new Service.Slip("bygone");
    if (method.equals("OPTIONS")) return new Http.Res(204, null).set("Allow", String.join(", ", allow));
    End e = c.end;
    Set<String> users = Service.USERS.get(e.op); boolean pub = users.contains("public"), anyone = users.contains("anyone");
    // 4: who calls
    if (!pub) credentials(c, anyone);
    // 5: rates
    rates(c);
    // 6: what its user may do
    if (!pub && !anyone && !users.contains(c.caller.user) && !(Service.f("bench-sees-no-entries") && e.op.equals("list entry") && c.caller.user.equals("bench"))) throw new Service.Slip("not_allowed");
    if (e.op.equals("create claim") && !c.caller.scopes.contains("fetch") && !Service.f("scope-not-asked")) throw new Service.Slip("no_scope");
    // 8: parameters, then the body
    parameters(c);
    String token = e.token ? r.header("Request-Token") : null;
    if (e.tokenNeeded && (token == null || token.isEmpty())) throw new Service.Slip("bad_query", "Request-Token");
    if (token != null && token.isEmpty()) token = null;
    body(c);
    // 9: idempotency
    String key = token == null ? null : (Service.f("token-of-everybody") && e.op.equals("create claim") ? "" : c.caller.user + " " + c.caller.id) + "|" + e.op + "|" + token;
    String print = r.target + "\n" + new String(r.body, StandardCharsets.ISO_8859_1);
    if (key != null) {
      Kept k = KEPT.get(key);
      if (k != null && Service.now() < k.at + 12 * Service.HOUR) {
        if (!k.print.equals(print)) throw new Service.Slip("token_reused");
        if (k.slip != null) throw k.slip;
        Http.Res a = new Http.Res(k.status, k.body); for (Map.Entry<String, String> h : k.headers.entrySet()) a.set(h.getKey(), h.getValue()); return a;
      }
    }
    Kept keep = new Kept(); keep.print = print; keep.at = Service.now();
    try {
      Http.Res a = Ops.run(c);
      if (key != null) {
        keep.status = a.status; keep.body = a.body; for (String h : List.of("Location")) if (a.headers.containsKey(h)) keep.headers.put(h, a.headers.get(h).get(0));
        if (e.op.equals("create hook")) { @SuppressWarnings("unchecked") Map<String, Object> m = (Map<String, Object>) Json.read(a.body); m.remove("secret"); keep.body = Json.write(m); }
        KEPT.put(key, keep);
      }
      return a;
    } catch (Service.Slip s) {
      if (key != null && Service.OWN.contains(s.code)) { keep.slip = s; KEPT.put(key, keep); }
      throw s;
    }
  }
  static final class Kept { String print, body; int status; long at; Map<String, String> headers = new HashMap<>(); Service.Slip slip; }
  static final Map<String, Kept> KEPT = new HashMap<>();

  static void credentials(Ctx c, boolean anyone) {
    String h = c.req.header("Authorization");
    if (h == null) { if (anyone) return; throw new Service.Slip("no_card"); }
    Service.Caller found = null; int sp = h.indexOf(' ');
    if (c.req.count("Authorization") == 1 && sp > 0) {
      String prefix = h.substring(0, sp), rest = h.substring(sp + 1).trim();
      if (Service.f("prefix-by-case") ? prefix.equals("Sonde") : prefix.equalsIgnoreCase("Sonde")) { for (Service.Caller k : Service.ACCOUNTS) if (k.scheme.equals("card") && k.secret.equals(rest)) found = k; }
      else if (prefix.equalsIgnoreCase("Basic")) try {
        String p = new String(Base64.getDecoder().decode(rest), StandardCharsets.UTF_8); int k = p.indexOf(':');
        if (k >= 0) { Service.Caller x = Service.account(p.substring(0, k)); if (x != null && x.scheme.equals("desk") && same(x.secret, p.substring(k + 1))) found = x; }
      } catch (IllegalArgumentException e) { /* not good */ }
    }
    if (found == null) { if (anyone && Service.f("bad-card-is-anyone")) return; throw new Service.Slip("bad_card"); }
    c.caller = found;
  }
  static boolean same(String secret, String p) { return Service.f("eight-letters-of-a-password") ? p.length() >= 8 && secret.substring(0, 8).equals(p.substring(0, 8)) : secret.equals(p); }

  static void rates(Ctx c) {
    long n = Service.now(); String who = c.caller == null ? "address " + c.req.address : c.caller.user + " " + c.caller.id;
    List<Object[]> l = new ArrayList<>();
    l.add(new Object[] { "main " + who, 600L, 0L });
    if (c.end.op.equals("look up sonde")) l.add(new Object[] { "look " + (Service.f("look-ups-of-a-bureau") ? c.caller.bureau : who), 10L, 0L });
    if (c.caller == null) l.add(new Object[] { "anyone " + c.req.address, 120L, 0L });
    if (c.end.op.equals("update hook")) l.add(new Object[] { "hook " + who, 6L, 8L });
    long wait = -1; double[] strict = null; List<double[]> told = new ArrayList<>();
    List<Service.Window> ws = new ArrayList<>();
    for (Object[] x : l) {
      Service.Window w = Service.COUNTS.computeIfAbsent((String) x[0], k -> new Service.Window()); long limit = (Long) x[1], burst = (Long) x[2]; ws.add(w);
      if (burst == 0) {
        if (w.used == 0 && w.opened == 0 || n >= w.opened + 60_000) { w.opened = n; w.used = 0; }
        if (w.used >= limit) { long t = (w.opened + 60_000 - n + 999) / 1000; if (t > wait) wait = t; strict = new double[] { limit, 0, t }; }
        told.add(new double[] { limit, limit - w.used - 1, (w.opened + 60_000 - n + 999) / 1000 });
      } else {
        if (w.level < 0) { w.level = burst; w.at = n; }
        if (Service.f("bucket-refilled-at-once")) { if (n - w.at >= 60_000) { w.level = burst; w.at = n; } }
        else { w.level = Math.min(burst, w.level + (n - w.at) * limit / 60_000.0); w.at = n; }
        if (w.level < 1 - 1e-9) { long t = (long) Math.ceil((1 - w.level) * 60 / limit - 1e-9); if (t > wait) wait = t; strict = new double[] { limit, 0, t }; }
        double left = Math.max(0, w.level - 1), whole = Math.floor(left + 1e-9);
        told.add(new double[] { limit, whole, Math.ceil((whole + 1 - left) * 60 / limit - 1e-9) });
      }
    }
    if (strict != null) { c.told.add(strict); c.counted.add(new Service.Window()); throw new Service.Slip("too_often").with("Retry-After", "" + Math.max(1, wait)); }
    for (int k = 0; k < ws.size(); k++) { Service.Window w = ws.get(k); w.used++; if (w.level >= 0) w.level -= 1; }
    c.told = told; c.counted = ws;
  }

  static void parameters(Ctx c) {
    if (!c.query.isEmpty()) for (String p : c.query.split("&")) if (!p.isEmpty()) { int k = p.indexOf('='); c.raw.add(new String[] { dec(k < 0 ? p : p.substring(0, k), true), k < 0 ? "" : dec(p.substring(k + 1), true) }); }
    Set<String> known = new HashSet<>(c.end.params); String pg = c.end.page;
    if (pg != null) { known.add("take"); known.add(pg.equals("offset") ? "skip" : pg.equals("cursor") ? "from" : "past"); }
    if (c.ver.equals("r1") && c.end.op.equals("list sonde")) { known.remove("frequency_khz"); known.add("frequency_mhz"); known.remove("bounty_from"); }
    for (String[] p : c.raw) {
      if (!known.contains(p[0])) throw new Service.Slip("bad_query", p[0]);
      if (c.q.containsKey(p[0]) && !p[0].equals("only") && !p[0].equals("with")) throw new Service.Slip("bad_query", p[0]);
      c.q.merge(p[0], p[1], (x, y) -> x + "," + y);
    }
    Ops.parameters(c);
  }

  static void body(Ctx c) {
    End e = c.end; byte[] b = c.req.body;
    if (e.body == null) { if (c.req.tooLarge) throw new Service.Slip("too_large"); return; }
    String type = c.req.header("Content-Type"); String t = type == null ? null : type.split(";")[0].trim().toLowerCase();
    boolean form = "application/x-www-form-urlencoded".equals(t) && e.body.equals("form") && !Service.f("form-not-taken");
    boolean ok = "application/json".equals(t) || form || "application/merge-patch+json".equals(t) && e.body.equals("patch");
    if (b.length == 0 && (t == null || ok)) throw new Service.Slip("not_json");
    if (!ok) throw new Service.Slip("wrong_media");
    String text = new String(b, StandardCharsets.UTF_8);
    if (Service.f("size-in-characters") ? text.length() > 8192 : c.req.tooLarge) throw new Service.Slip("too_large");
    if (form) {
      Map<String, Object> m = new LinkedHashMap<>();
      for (String p : text.split("&")) if (!p.isEmpty()) { int k = p.indexOf('='); m.put(dec(k < 0 ? p : p.substring(0, k), true), k < 0 ? "" : dec(p.substring(k + 1), true)); }
      c.body = m; return;
    }
    try { c.body = Json.read(text); } catch (Json.Bad x) { throw new Service.Slip("not_json"); }
  }
}

/** What waits to be delivered, and its delivering: one try at a time for each hook. */
final class Hooks {
  static final class Job { String hook, row, id, kind; java.util.function.Supplier<String> body; int tries; long due; }
  static final long[] WAITS = { 10_000, 120_000, 3_600_000 };
  static final List<Job> waiting = new ArrayList<>();
  static final Map<String, Long> failing = new HashMap<>(), notBefore = new HashMap<>();
  static final Set<String> busy = new HashSet<>();
  static final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(10)).executor(r -> { Thread t = new Thread(r); t.setDaemon(true); t.start(); }).build();

  /** Starts what is due. Called with the lock held. */
  static void go() {
    for (String hook : new ArrayList<>(new LinkedHashSet<>(hooksOf()))) if (busy.add(hook)) {
      Thread t = new Thread(() -> run(hook)); t.setDaemon(true); t.start();
    }
  }
  private static List<String> hooksOf() {
    List<String> l = new ArrayList<>(); long n = Service.now();
    for (Job j : waiting) if (j.due <= n && notBefore.getOrDefault(j.hook, 0L) <= n) l.add(j.hook);
    return l;
  }
  private static void run(String hook) {
    while (true) {
      Job next = null; String url, secret;
      synchronized (Service.LOCK) {
        Service.Row h = Service.rows("hook").get(hook);
        long n = Service.now(); Set<String> blocked = new HashSet<>();
        if (h == null || !Boolean.TRUE.equals(h.v.get("live"))) waiting.removeIf(j -> j.hook.equals(hook));
        for (Job j : waiting) {
          if (!j.hook.equals(hook) || notBefore.getOrDefault(hook, 0L) > n) continue;
          if (!blocked.contains(j.row) && j.due <= n) { next = j; break; }
          blocked.add(j.row);
        }
        if (next == null) { busy.remove(hook); return; }
        url = (String) h.v.get("url"); secret = (String) h.v.get("secret");
      }
      int status = 0; long later = 0;
      try {
        String body = next.body.get(), ts = Long.toString(Service.now() / 1000);
        String signed = Service.f("seal-without-id") ? ts + "|" + body : next.id + "|" + ts + "|" + body;
        HttpResponse<String> a = client.send(HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(10)).header("Content-Type", "application/json")
          .header("X-Recovery-Kind", next.kind).header("X-Recovery-Id", next.id).header("X-Recovery-Seal", "at=" + ts + ",mac=" + hmac(secret, signed))
          .POST(HttpRequest.BodyPublishers.ofString(body)).build(), HttpResponse.BodyHandlers.ofString());
        status = a.statusCode();
        String ra = a.headers().firstValue("Retry-After").orElse("");
        if (ra.matches("[0-9]{1,6}")) later = Math.min(86400_000L, Long.parseLong(ra) * 1000);
      } catch (Exception e) { status = 0; }
      synchronized (Service.LOCK) {
        long n = Service.now();
        if (status >= 200 && status < 300 || (Service.f("redirect-is-success") && status >= 300 && status < 400)) { waiting.remove(next); failing.remove(hook); continue; }
        long since = failing.computeIfAbsent(hook, k -> n);
        next.tries++;
        if ((status == 410 && !Service.f("gone-goes-on")) || n - since >= 86400_000L) {
          waiting.removeIf(j -> j.hook.equals(hook)); failing.remove(hook);
          Service.Row h = Service.rows("hook").get(hook);
          if (h != null) h.v.put("live", false);
          continue;
        }
        int max = Service.f("gives-up-early") ? 2 : WAITS.length;
        if (next.tries > max) { waiting.remove(next); continue; }
        next.due = n + WAITS[next.tries - 1];
        if (later > 0) { notBefore.put(hook, n + later); next.due = Math.max(next.due, n + later); }
      }
    }
  }
  static String hmac(String secret, String text) throws Exception {
    Mac m = Mac.getInstance("HmacSHA256"); m.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    StringBuilder b = new StringBuilder(); for (byte x : m.doFinal(text.getBytes(StandardCharsets.UTF_8))) b.append(String.format("%02x", x));
    return b.toString();
  }
}

/** HTTP/1.1 over a bare socket: one thread for each connection. */
final class Http {
  interface App { Res handle(Req r); }
  static final class Req {
    String method, target; List<String[]> headers = new ArrayList<>(); byte[] body = new byte[0];
    boolean tooLarge, tooSlow; int headerBytes; String address = "127.0.0.1";
    String header(String n) { for (String[] h : headers) if (h[0].equalsIgnoreCase(n)) return h[1]; return null; }
    int count(String n) { int c = 0; for (String[] h : headers) if (h[0].equalsIgnoreCase(n)) c++; return c; }
  }
  static final class Res {
    int status; String body; String type = "application/json"; Map<String, List<String>> headers = new LinkedHashMap<>();
    Res(int s, String b) { status = s; body = b; }
    Res set(String k, String v) { headers.put(k, new ArrayList<>(List.of(v))); return this; }
    Res add(String k, String v) { headers.computeIfAbsent(k, x -> new ArrayList<>()).add(v); return this; }
  }
  static void listen(int port, int maxBody, int requestMs, int idleMs, App app) throws IOException {
    ServerSocket ss = new ServerSocket(); ss.setReuseAddress(true);
    ss.bind(new InetSocketAddress("127.0.0.1", port), 200);
    Thread t = new Thread(() -> {
      while (true) try {
        Socket s = ss.accept();
        Thread c = new Thread(() -> serve(s, maxBody, requestMs, idleMs, app)); c.setDaemon(true); c.start();
      } catch (IOException e) { return; }
    });
    t.start();
  }
  private static String line(InputStream in) throws IOException {
    ByteArrayOutputStream b = new ByteArrayOutputStream(); int c;
    while ((c = in.read()) >= 0) { if (c == '\n') break; if (c != '\r') b.write(c); if (b.size() > 200000) throw new IOException(); }
    if (c < 0 && b.size() == 0) return null;
    return b.toString(StandardCharsets.ISO_8859_1);
  }
  private static void serve(Socket s, int maxBody, int requestMs, int idleMs, App app) {
    try (s) {
      s.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(s.getInputStream()); OutputStream out = new BufferedOutputStream(s.getOutputStream());
      while (true) {
        s.setSoTimeout(idleMs);
        String first = line(in);
        while (first != null && first.isEmpty()) first = line(in);
        if (first == null) return;
        String[] p = first.split(" ");
        if (p.length < 3) return;
        Req r = new Req(); r.method = p[0]; r.target = p[1];
        boolean slow = false, close = false;
        long end = System.currentTimeMillis() + requestMs;
        try {
          s.setSoTimeout(requestMs);
          String h;
          while ((h = line(in)) != null && !h.isEmpty()) {
            r.headerBytes += h.length() + 2;
            int k = h.indexOf(':');
            if (k > 0) r.headers.add(new String[] { h.substring(0, k).trim(), h.substring(k + 1).trim() });
          }
          if ("100-continue".equalsIgnoreCase(r.header("Expect"))) { out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes()); out.flush(); }
          String te = r.header("Transfer-Encoding"), cl = r.header("Content-Length");
          ByteArrayOutputStream body = new ByteArrayOutputStream();
          if (te != null && te.toLowerCase().contains("chunked")) {
            while (true) {
              String sz = line(in); if (sz == null) return;
              int n = Integer.parseInt(sz.split(";")[0].trim(), 16);
              if (n == 0) { while ((h = line(in)) != null && !h.isEmpty()) {} break; }
              copy(s, in, body, n, end); line(in);
            }
          } else if (cl != null) copy(s, in, body, Long.parseLong(cl.trim()), end);
          r.body = body.toByteArray();
        } catch (SocketTimeoutException e) { slow = true; r.tooSlow = true; }
        r.tooLarge = r.body.length > maxBody;
        if ("close".equalsIgnoreCase(r.header("Connection")) || slow) close = true;
        Res a = app.handle(r);
        byte[] b = a.body == null ? new byte[0] : a.body.getBytes(StandardCharsets.UTF_8);
        StringBuilder o = new StringBuilder("HTTP/1.1 " + a.status + " " + phrase(a.status) + "\r\n");
        for (Map.Entry<String, List<String>> e : a.headers.entrySet()) for (String v : e.getValue()) o.append(e.getKey()).append(": ").append(v).append("\r\n");
        if (a.status != 204 && a.status != 304) {
          if (a.body != null) o.append("Content-Type: ").append(a.type).append("\r\n");
          o.append("Content-Length: ").append(b.length).append("\r\n");
        }
        o.append("Date: ").append(Service.httpDate(Service.now())).append("\r\n");
        o.append(close ? "Connection: close\r\n\r\n" : "Connection: keep-alive\r\n\r\n");
        out.write(o.toString().getBytes(StandardCharsets.ISO_8859_1));
        if (!r.method.equals("HEAD") && a.status != 204 && a.status != 304) out.write(b);
        out.flush();
        if (close) return;
      }
    } catch (IOException | RuntimeException e) { /* the connection is over */ }
  }
  private static void copy(Socket s, InputStream in, ByteArrayOutputStream out, long n, long end) throws IOException {
    byte[] buf = new byte[8192]; long total = 0;
    while (total < n) {
      long left = end - System.currentTimeMillis(); if (left <= 0) throw new SocketTimeoutException();
      s.setSoTimeout((int) left);
      int k = in.read(buf, 0, (int) Math.min(buf.length, n - total)); if (k < 0) throw new EOFException();
      total += k; if (out.size() < 4_000_000) out.write(buf, 0, k);
    }
  }
  static String phrase(int s) {
    switch (s) { case 200: return "OK"; case 201: return "Created"; case 204: return "No Content"; case 304: return "Not Modified"; case 400: return "Bad Request";
      case 401: return "Unauthorized"; case 403: return "Forbidden"; case 404: return "Not Found"; case 405: return "Method Not Allowed"; case 409: return "Conflict";
      case 410: return "Gone"; case 412: return "Precondition Failed"; case 422: return "Unprocessable Content"; case 428: return "Precondition Required"; case 429: return "Too Many Requests"; default: return "Status"; }
  }
}

/** A small reader and writer of JSON: maps keep their order, integers are Long, other numbers Double. */
final class Json {
  static final class Bad extends RuntimeException {}
  private final String s; private int i = 0;
  private Json(String s) { this.s = s; }
  static Object read(String s) {
    Json j = new Json(s); j.ws(); Object o = j.value(0); j.ws();
    if (j.i != s.length()) throw new Bad();
    return o;
  }
  private void ws() { while (i < s.length() && " \t\r\n".indexOf(s.charAt(i)) >= 0) i++; }
  private char ch() { if (i >= s.length()) throw new Bad(); return s.charAt(i); }
  private Object value(int d) {
    if (d > 60) throw new Bad();
    char c = ch();
    if (c == '{') {
      Map<String, Object> m = new LinkedHashMap<>(); i++; ws();
      if (ch() == '}') { i++; return m; }
      while (true) {
        ws(); if (ch() != '"') throw new Bad();
        String k = str(); ws(); if (ch() != ':') throw new Bad(); i++; ws();
        m.put(k, value(d + 1)); ws();
        if (ch() == ',') { i++; continue; }
        if (ch() == '}') { i++; return m; }
        throw new Bad();
      }
    }
    if (c == '[') {
      List<Object> l = new ArrayList<>(); i++; ws();
      if (ch() == ']') { i++; return l; }
      while (true) {
        ws(); l.add(value(d + 1)); ws();
        if (ch() == ',') { i++; continue; }
        if (ch() == ']') { i++; return l; }
        throw new Bad();
      }
    }
    if (c == '"') return str();
    if (s.startsWith("true", i)) { i += 4; return true; }
    if (s.startsWith("false", i)) { i += 5; return false; }
    if (s.startsWith("null", i)) { i += 4; return null; }
    int st = i;
    while (i < s.length() && "+-0123456789.eE".indexOf(s.charAt(i)) >= 0) i++;
    String n = s.substring(st, i);
    if (!n.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?")) throw new Bad();
    double v = Double.parseDouble(n);
    if (Double.isInfinite(v)) throw new Bad();
    if (n.matches("-?[0-9]{1,18}")) return Long.parseLong(n);
    return v;
  }
  private String str() {
    StringBuilder b = new StringBuilder(); i++;
    while (true) {
      char c = ch(); i++;
      if (c == '"') return b.toString();
      if (c < 0x20) throw new Bad();
      if (c != '\\') { b.append(c); continue; }
      c = ch(); i++;
      switch (c) {
        case '"': case '\\': case '/': b.append(c); break;
        case 'b': b.append('\b'); break; case 'f': b.append('\f'); break; case 'n': b.append('\n'); break;
        case 'r': b.append('\r'); break; case 't': b.append('\t'); break;
        case 'u':
          if (i + 4 > s.length() || !s.substring(i, i + 4).matches("[0-9a-fA-F]{4}")) throw new Bad();
          b.append((char) Integer.parseInt(s.substring(i, i + 4), 16)); i += 4; break;
        default: throw new Bad();
      }
    }
  }
  static String write(Object o) { StringBuilder b = new StringBuilder(); put(b, o); return b.toString(); }
  private static void put(StringBuilder b, Object o) {
    if (o == null) b.append("null");
    else if (o instanceof String) quote(b, (String) o);
    else if (o instanceof Map) {
      b.append('{'); boolean first = true;
      for (Map.Entry<?, ?> e : ((Map<?, ?>) o).entrySet()) {
        if (!first) b.append(','); first = false;
        quote(b, (String) e.getKey()); b.append(':'); put(b, e.getValue());
      }
      b.append('}');
    } else if (o instanceof List) {
      b.append('['); boolean first = true;
      for (Object x : (List<?>) o) { if (!first) b.append(','); first = false; put(b, x); }
      b.append(']');
    } else if (o instanceof Double) {
      double d = (Double) o;
      if (d == Math.rint(d) && Math.abs(d) < 1e15) b.append((long) d); else b.append(d);
    } else b.append(o);
  }
  private static void quote(StringBuilder b, String s) {
    b.append('"');
    for (int k = 0; k < s.length(); k++) {
      char c = s.charAt(k);
      if (c == '"' || c == '\\') b.append('\\').append(c);
      else if (c < 0x20) b.append(String.format("\\u%04x", (int) c));
      else b.append(c);
    }
    b.append('"');
  }
}

/** The fields of each resource, in each version, and what may be sent of them. */
final class Model {
  static final class F {
    final String name, type; boolean req, ro, imm, wo, nullable, path; Object def; Double min, max; Integer minLen, maxLen, minItems, maxItems;
    Pattern pat; List<String> en; String format, value; F items; boolean unique; int mult;
    F(String n, String t) { name = n; type = t; }
    F req() { req = true; return this; } F ro() { ro = true; return this; } F imm() { imm = true; return this; }
    F def(Object d) { def = d; return this; } F range(double a, double b) { min = a; max = b; return this; }
    F len(int a, int b) { minLen = a; maxLen = b; return this; } F pat(String p) { pat = Pattern.compile(p); return this; }
    F en(String... e) { en = List.of(e); return this; } F fmt(String f) { format = f; return this; } F val(String v) { value = v; return this; }
    F list(F i, Integer a, Integer b, boolean u) { items = i; minItems = a; maxItems = b; unique = u; return this; }
  }
  static final class Viol { final String kind, path; Viol(String k, String p) { kind = k; path = p; } }
  enum Mode { CREATE, REPLACE, PATCH, OPEN }

  static F s(String n) { return new F(n, "string"); }
  static F i(String n) { return new F(n, "integer"); }
  static F d(String n) { return new F(n, "number"); }
  static F b(String n) { return new F(n, "boolean"); }
  static final Map<String, List<F>> SPEC = new HashMap<>();
  static {
    SPEC.put("position", List.of(d("lat").req().range(-90, 90), d("lon").req().range(-180, 180), s("fix").req().en("gps", "heard").def("gps")));
    F ga = s("gate_code").len(4, 12); ga.wo = true;
    SPEC.put("site", List.of(s("id").req().ro(), s("bureau").req().ro(), s("code").req().pat("^[A-Z]{4}$").imm(), s("name").req().len(2, 40),
      i("elevation_m").req().range(-430, 5500), new F("position", "value").val("position").req(), ga, b("gated").req().ro(),
      new F("contacts", "array").list(s("").fmt("email"), null, 3, true), s("standing").req().ro(), i("aloft").req().ro(), i("richest").ro(),
      s("self").req().ro(), s("opened_at").req().ro()));
    F sp = s("site").req().imm(); sp.path = true;
    SPEC.put("sonde", List.of(s("id").req().ro(), sp, s("bureau").req().ro(), i("number").req().ro(), s("tag").req().ro(),
      s("serial").req().pat("^[A-Z][0-9]{7}$").imm(), s("band").req().en("uhf403", "l1680").def("uhf403"), i("frequency_khz").req().range(395000, 1700000),
      i("bounty").req().range(0, 500).def(0L), s("remarks").len(0, 120), s("status").req().ro(), new F("landing", "value").val("position").ro(),
      s("launched_at").ro(), s("changed_at").req().ro()));
    F cs = s("sonde").req().imm(); cs.path = true;
    F note = s("note").len(0, 140); note.nullable = true;
    F eta = i("eta_minutes").req().range(5, 2880).def(120L); eta.mult = 5;
    SPEC.put("claim", List.of(s("id").req().ro(), cs, s("chaser").req().ro(), s("bureau").req().ro(), eta, note, s("status").req().ro(),
      s("until").req().ro(), s("photo").ro(), s("assessment").ro(), s("made_at").req().ro()));
    SPEC.put("reading", List.of(s("id").req().ro(), i("place").req().range(1, 99), s("channel").req().en("pressure", "temperature", "humidity"),
      i("drift_ppm").req().range(0, 1000000)));
    SPEC.put("exam", List.of(s("id").req().ro(), s("sonde").req().imm(), s("bureau").req().ro(), s("examiner").req().ro(),
      s("verdict").req().en("reusable", "parts", "waste"), s("summary").len(0, 200),
      new F("readings", "array").list(new F("", "value").val("reading"), 1, 5, false).req(), i("drift").req().ro(), s("status").req().ro(), s("signed_at").ro()));
    SPEC.put("watch", List.of(s("id").req().pat("^wat_[a-z0-9]{3,12}$").imm(), s("chaser").req().ro(), s("label").req().len(1, 30), d("south").req().range(-90, 90),
      d("north").req().range(-90, 90), s("by_mail").fmt("email"), s("by_text").pat("^[+][0-9]{8,14}$"), b("muted").req().def(false), s("saved_at").req().ro()));
    SPEC.put("hook", List.of(s("id").req().ro(), s("owner").req().ro(), s("url").req().len(0, 200).fmt("uri"),
      new F("kinds", "array").list(s("").fmt("kind"), 1, 8, false), b("live").req().def(true), s("secret").req().ro(), s("made_at").req().ro()));
    SPEC.put("entry", List.of(s("id"), s("bureau"), s("kind"), s("about"), s("actor"), new F("body", "object"), s("at")));
  }
  static final Map<String, List<F>> R1 = new HashMap<>();
  static {
    List<F> si = new ArrayList<>();
    for (F f : SPEC.get("site")) {
      if (f.name.equals("elevation_m")) si.add(i("height").req().range(-430, 5500)); else si.add(f);
      if (f.name.equals("name")) si.add(s("call_sign"));
    }
    R1.put("site", si);
    List<F> so = new ArrayList<>();
    for (F f : SPEC.get("sonde")) {
      if (f.name.equals("frequency_khz")) so.add(d("frequency_mhz").req().fmt("mhz")); else if (!f.name.equals("bounty")) so.add(f);
    }
    R1.put("sonde", so);
  }
  static List<F> spec(String res, String ver) { return ver.equals("r1") && R1.containsKey(res) ? R1.get(res) : SPEC.get(res); }
  static F field(List<F> spec, String n) { for (F f : spec) if (f.name.equals(n)) return f; return null; }
  /** The newest name of a field of a version, or null where it is not stored. */
  static String newest(String ver, String n) {
    if (!ver.equals("r1")) return n;
    return n.equals("height") ? "elevation_m" : n.equals("frequency_mhz") ? "frequency_khz" : n.equals("call_sign") ? null : n;
  }
  static long khz(double mhz) {
    if (Service.f("r1-frequency-truncated")) return (long) (mhz * 1000.0);
    double v = mhz * 1000.0; return (long) (v < 0 ? -Math.floor(-v + 0.5) : Math.floor(v + 0.5));
  }
  static Object up(String ver, String name, Object v) { return ver.equals("r1") && name.equals("frequency_mhz") && v != null ? (Object) khz(((Number) v).doubleValue()) : v; }
  static Object down(String ver, String name, Object v) {
    if (!ver.equals("r1") || v == null) return v;
    if (name.equals("frequency_mhz")) return ((Long) v).doubleValue() / 1000.0;
    return v;
  }

  static Object copy(Object o) {
    if (o instanceof Map) { Map<String, Object> m = new LinkedHashMap<>(); for (Map.Entry<?, ?> e : ((Map<?, ?>) o).entrySet()) m.put((String) e.getKey(), copy(e.getValue())); return m; }
    if (o instanceof List) { List<Object> l = new ArrayList<>(); for (Object x : (List<?>) o) l.add(copy(x)); return l; }
    return o;
  }
  static Object merge(Object cur, Object patch) {
    if (!(patch instanceof Map)) return patch;
    Map<String, Object> m = new LinkedHashMap<>();
    if (cur instanceof Map) for (Map.Entry<?, ?> e : ((Map<?, ?>) cur).entrySet()) m.put((String) e.getKey(), e.getValue());
    for (Map.Entry<?, ?> e : ((Map<?, ?>) patch).entrySet()) {
      if (e.getValue() == null) m.put((String) e.getKey(), null); else m.put((String) e.getKey(), merge(m.get(e.getKey()), e.getValue()));
    }
    return m;
  }

  /** What was sent, by the names of its version: checked, and with what its values leave out filled in. */
  static Map<String, Object> check(List<F> spec, Object body, String at, Mode mode, boolean refuse, Map<String, Object> current, List<Viol> bad) {
    Map<String, Object> out = new LinkedHashMap<>();
    if (!(body instanceof Map)) { bad.add(new Viol("type", at)); return out; }
    Map<?, ?> m = (Map<?, ?>) body;
    for (Map.Entry<?, ?> e : m.entrySet()) {
      String k = (String) e.getKey(), p = at.isEmpty() ? k : at + "." + k; Object v = e.getValue();
      F f = field(spec, k);
      if (f == null) { if (mode != Mode.OPEN) bad.add(new Viol("unknown", p)); continue; }
      if (f.ro) { if (refuse && !(Service.f("tag-not-refused") && k.equals("tag"))) bad.add(new Viol("read_only", p)); continue; }
      if (mode == Mode.PATCH) {
        if (f.name.equals("readings")) continue;
        if (v == null && f.nullable) { if (!Service.f("note-null-dropped")) out.put(k, null); else out.put(k, Service.REMOVED); continue; }
        if (v == null) { if (f.req) bad.add(new Viol("value", p)); else out.put(k, Service.REMOVED); continue; }
        if (f.type.equals("value")) v = merge(current.get(k), v);
      }
      int n = bad.size();
      Object c = value(f, v, p, mode == Mode.PATCH, bad);
      if (bad.size() == n && f.imm && current != null && !Objects.equals(current.get(k), c)) bad.add(new Viol("value", p));
      out.put(k, c);
    }
    if (mode != Mode.PATCH) for (F f : spec) {
      if (m.containsKey(f.name) || f.ro) continue;
      if (f.def != null) { if (!(f.name.equals("fix") && at.equals("position") && mode == Mode.CREATE && Service.f("fix-not-defaulted") && Service.landing.get())) out.put(f.name, f.def); continue; }
      if (!f.req || f.path || (f.imm && current != null)) continue;
      bad.add(new Viol(Service.f("nested-missing-is-misfit") && !at.isEmpty() ? "value" : "missing", at.isEmpty() ? f.name : at + "." + f.name));
    }
    return out;
  }
  static final Pattern MAIL = Pattern.compile("^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+([.][A-Za-z0-9-]+)*$");
  static Object value(F f, Object v, String p, boolean patch, List<Viol> bad) {
    if (v == null) { if (!f.nullable) bad.add(new Viol("type", p)); return null; }
    switch (f.type) {
      case "string": {
        if (!(v instanceof String)) { bad.add(new Viol("type", p)); return v; }
        String t = (String) v; int len = t.codePointCount(0, t.length());
        boolean ok = !(f.minLen != null && len < f.minLen) && !(f.maxLen != null && len > f.maxLen) && !(f.pat != null && !f.pat.matcher(t).find())
          && !(f.en != null && !f.en.contains(t)) && (f.format == null || format(f.format, t)) && !(f.pat != null && t.endsWith("\n"));
        if (!ok) bad.add(new Viol("value", p));
        return t;
      }
      case "integer": {
        Long n = v instanceof Long ? (Long) v : v instanceof Double && (Double) v == Math.rint((Double) v) && Math.abs((Double) v) < 9e15 ? (Long) (long) (double) (Double) v : null;
        if (n == null) { bad.add(new Viol("type", p)); return v; }
        if (f.min != null && (n < f.min || n > f.max) || f.mult > 0 && n % f.mult != 0 && !(patch && Service.f("eta-step-unchecked"))) bad.add(new Viol("value", p));
        return n;
      }
      case "number": {
        if (!(v instanceof Number)) { bad.add(new Viol("type", p)); return v; }
        double n = ((Number) v).doubleValue();
        if (f.min != null && (n < f.min || n > f.max)) bad.add(new Viol("value", p));
        if ("mhz".equals(f.format)) { long k = khz(n); if (k < 395000 || k > 1700000) bad.add(new Viol("value", p)); }
        return n;
      }
      case "boolean": if (!(v instanceof Boolean)) bad.add(new Viol("type", p)); return v;
      case "value": return check(SPEC.get(f.value), v, p, Mode.CREATE, false, null, bad);
      default: {
        if (!(v instanceof List)) { bad.add(new Viol("type", p)); return v; }
        List<?> l = (List<?>) v; List<Object> out = new ArrayList<>();
        if (f.minItems != null && l.size() < f.minItems || f.maxItems != null && l.size() > f.maxItems) bad.add(new Viol("value", p));
        else if (f.unique && !Service.f("contacts-twice") && new HashSet<Object>(l).size() != l.size()) bad.add(new Viol("value", p));
        String sep = Service.f("spots-bracketed") ? "[%d]" : ".%d";
        for (int k = 0; k < l.size(); k++) out.add(value(f.items, l.get(k), p + String.format(sep, k), patch, bad));
        return out;
      }
    }
  }
  static boolean format(String f, String t) {
    switch (f) {
      case "email": return MAIL.matcher(t).matches();
      case "uri": try { java.net.URI u = new java.net.URI(t); return u.isAbsolute() && ("http".equalsIgnoreCase(u.getScheme()) || "https".equalsIgnoreCase(u.getScheme())) && u.getHost() != null; } catch (Exception e) { return false; }
      case "kind": return t.equals("*") || Service.KINDS.contains(t) || (t.endsWith(".*") && (t.equals("sonde.*") || t.equals("claim.*")));
      default: return true;
    }
  }
}

/** What each operation does, once it is known who asks for what. */
final class Ops {
  static boolean f(String id) { return Service.f(id); }
  static Service.Slip wrong(String name) { return new Service.Slip("bad_query", name); }
  static Long whole(String name, String v) { if (!v.matches("-?[0-9]{1,15}")) throw wrong(name); return Long.parseLong(v); }
  static Boolean bool(String name, String v) { if (!v.equals("true") && !v.equals("false")) throw wrong(name); return v.equals("true"); }
  static List<String> split(String v) { return Arrays.asList(v.split(",", -1)); }
  static String one(String name, String v, String... of) { if (!Arrays.asList(of).contains(v)) throw wrong(name); return v; }
  static final Set<String> SONDE_STATES = Set.of("packed", "aloft", "landed", "claimed", "recovered", "lost", "scrapped");

  static void parameters(Door.Ctx c) {
    String op = c.end.op; boolean r1 = c.ver.equals("r1");
    for (Map.Entry<String, String> e : c.q.entrySet()) {
      String n = e.getKey(), v = e.getValue();
      switch (n) {
        case "code": case "site_code": {
          List<String> l = n.equals("code") ? split(v) : List.of(v); if (l.size() > 100) throw wrong(n);
          for (String x : l) if (!x.matches("[A-Z]{4}")) throw wrong(n); c.p.put(n, l); break; }
        case "above": case "bounty_from": case "drift_upto": c.p.put(n, whole(n, v)); break;
        case "way": one(n, v, "asc", "desc"); break;
        case "sort":
          if (op.equals("list site")) one(n, v, "height", "-height", "code", "-code");
          else if (r1) one(n, v, "serial", "-serial"); else one(n, v, "bounty", "-bounty", "serial", "-serial"); break;
        case "only": { for (String x : split(v)) if (!selectable(x, c.ver)) throw wrong(n); if (split(v).size() > 100) throw wrong(n); break; }
        case "status":
          if (op.equals("list claim")) one(n, v, "open", "delivered", "settled", "written_off", "refused", "withdrawn", "expired");
          else {
            List<String> l = new ArrayList<>(); if (split(v).size() > 100) throw wrong(n);
            for (String x : split(v)) { if (r1 && !f("airborne-not-found")) { if (x.equals("aloft")) throw wrong(n); if (x.equals("airborne")) x = "aloft"; } if (!SONDE_STATES.contains(x)) throw wrong(n); l.add(x); }
            c.p.put(n, l);
          } break;
        case "frequency_khz": case "frequency_mhz": {
          if (c.caller.user.equals("chaser") && !f("chaser-filters-frequency")) throw wrong(n);
          long k; if (r1) { try { k = Model.khz(Double.parseDouble(v)); } catch (NumberFormatException x) { throw wrong(n); } } else k = whole(n, v);
          if (k < 395000 || k > 1700000) throw wrong(n); c.p.put("frequency", k); break; }
        case "down": case "mine": c.p.put(n, bool(n, v)); break;
        case "made_since": try { c.p.put(n, OffsetDateTime.parse(v).toInstant().toEpochMilli()); } catch (RuntimeException x) { throw wrong(n); } break;
        case "but_verdict": one(n, v, "reusable", "parts", "waste"); break;
        case "text": { List<String> w = new ArrayList<>(); for (String x : v.trim().toLowerCase().split("\\s+")) if (!x.isEmpty()) w.add(x); if (w.size() > 16) throw wrong(n); c.p.put(n, w); break; }
        case "with": for (String x : split(v)) if (!x.equals("sonde")) throw wrong(n); break;
        default:
      }
    }
    if (c.end.page == null) return;
    int def = c.end.page.equals("cursor") ? 8 : 10, max = c.end.page.equals("cursor") ? 30 : c.end.page.equals("after") ? 50 : 40;
    c.take = def;
    if (c.q.containsKey("take")) {
      String v = c.q.get("take"); if (!v.matches("[0-9]{1,12}") || Long.parseLong(v) < 1) throw new Service.Slip("bad_page", "take");
      long t = Long.parseLong(v);
      if (t > max && (c.end.page.equals("cursor") || f("clamp-refuses") && c.end.op.equals("list site"))) throw new Service.Slip("bad_page", "take");
      c.take = (int) Math.min(t, max);
    }
    if (c.q.containsKey("skip")) { String v = c.q.get("skip"); if (!v.matches("[0-9]{1,9}")) throw new Service.Slip("bad_page", "skip"); c.skip = Integer.parseInt(v); }
    if (c.q.containsKey("from")) {
      try {
        String[] p = c.q.get("from").split("[.]"); if (p.length != 2 || !Hooks.hmac(SECRET, p[0]).substring(0, 20).equals(p[1])) throw new IllegalArgumentException();
        List<?> l = (List<?>) Json.read(new String(Base64.getUrlDecoder().decode(p[0]), StandardCharsets.UTF_8));
        if (!l.get(0).equals(bound(c))) throw new IllegalArgumentException();
        c.from = new Object[] { l.get(1), l.get(2) };
      } catch (Exception x) { throw new Service.Slip("bad_page", "from"); }
    }
  }
  static final String SECRET = Service.pick(Service.AZ, 30);
  static String bound(Door.Ctx c) { TreeMap<String, String> m = new TreeMap<>(c.q); m.remove("take"); m.remove("from"); return (f("cursor-of-any-version") ? "" : c.ver) + m + c.caller.user + c.caller.bureau; }
  static boolean selectable(String x, String ver) {
    String[] p = x.split("[.]", -1); Model.F fl = Model.field(Model.spec("site", ver), p[0]);
    if (fl == null || fl.wo) return false;
    return p.length == 1 || p.length == 2 && p[0].equals("position") && Set.of("lat", "lon", "fix").contains(p[1]);
  }

  // ---- rows of the path, tags, answers ---------------------------------------------------------------------------
  static Service.Row named(Door.Ctx c, String res) {
    Service.Row r = Service.rows(res).get(c.path.get("id"));
    if (r == null || !Service.mayRead(r, c.caller)) throw new Service.Slip("not_found");
    if (r.deleted != null) throw new Service.Slip("thrown_away");
    if (!Service.mayAct(c.end.op, r, c.caller)) throw new Service.Slip(c.end.op.equals("sign exam") && !f("sign-refused-in-general") ? "not_yours" : "not_allowed");
    return r;
  }
  static Service.Row parent(Door.Ctx c, String res) {
    Service.Row r = Service.row(res, c.path.get(res)); if (r == null || !Service.mayRead(r, c.caller)) throw new Service.Slip("not_found"); return r;
  }
  static void precondition(Door.Ctx c, Service.Row r, boolean required) {
    String h = c.req.header("If-Match");
    if (h == null) { if (required) throw new Service.Slip("tag_wanted"); return; }
    if (h.trim().equals("*") && !f("star-is-stale")) return;
    String tag = Service.etag(r, c.ver, c.caller);
    for (String t : h.split(",")) if (t.trim().equals(tag)) return;
    throw new Service.Slip("stale");
  }
  static Http.Res json(int s, Object o) { return new Http.Res(s, Json.write(o)); }
  static Http.Res shown(Door.Ctx c, Service.Row r) { return json(200, Service.show(r, c.ver, c.caller, false)); }
  static Http.Res created(Door.Ctx c, Service.Row r, String path, boolean reveal) {
    return json(201, Service.show(r, c.ver, c.caller, reveal)).set("Location", f("location-without-base") && r.res.equals("site") ? "/" + c.ver + path + r.id : c.at(path + r.id));
  }
  static Http.Res tagged(Door.Ctx c, Service.Row r, String cache) {
    String tag = Service.etag(r, c.ver, c.caller), inm = c.req.header("If-None-Match"); boolean same = false;
    if (inm != null) for (String t : inm.split(",")) { t = t.trim(); if (t.startsWith("W/")) t = t.substring(2); if (t.equals("*") || t.equals(tag)) same = true; }
    Http.Res a = same ? new Http.Res(304, null) : shown(c, r);
    a.set("ETag", tag); if (cache != null) a.set("Cache-Control", cache);
    return a;
  }
  /** Lays what was sent over the row; says whether anything changed. */
  static boolean apply(Door.Ctx c, Service.Row r, Map<String, Object> sent) {
    boolean changed = false;
    for (Map.Entry<String, Object> e : sent.entrySet()) {
      String n = Model.newest(c.ver, e.getKey()); Object v = e.getValue(); if (n == null) continue;
      if (v == Service.REMOVED) { if (r.v.containsKey(n)) { r.v.remove(n); changed = true; } continue; }
      if (r.v.containsKey(n) && Objects.equals(Model.down(c.ver, e.getKey(), r.v.get(n)), v)) continue;
      r.v.put(n, Model.up(c.ver, e.getKey(), v)); changed = true;
    }
    return changed;
  }
  static Map<String, Object> old(Door.Ctx c, Service.Row r) {
    Map<String, Object> m = new LinkedHashMap<>(r.v);
    if (c.ver.equals("r1") && r.res.equals("sonde")) m.put("frequency_mhz", Model.down("r1", "frequency_mhz", r.v.get("frequency_khz")));
    return m;
  }
  static Map<String, Object> sent(Door.Ctx c, List<Model.F> spec, Model.Mode mode, boolean refuse, Map<String, Object> current, Consumer<List<Model.Viol>> more, Map<String, Object> out) {
    List<Model.Viol> bad = new ArrayList<>();
    out.putAll(Model.check(spec, c.body, "", mode, refuse, current, bad));
    if (more != null) more.accept(bad);
    Service.refuse(bad);
    return out;
  }
  static Map<String, Object> sent(Door.Ctx c, String res, Model.Mode mode, Map<String, Object> current) { return sent(c, Model.spec(res, c.ver), mode, false, current, null, new LinkedHashMap<>()); }
  static void sameAsPath(Map<String, Object> m, String n, String v, List<Model.Viol> bad) { if (m.containsKey(n) && m.get(n) instanceof String && !m.get(n).equals(v)) bad.add(new Model.Viol("value", n)); m.remove(n); }
  static void in(Service.Row r, String... states) { if (!Arrays.asList(states).contains(r.v.get("status"))) throw new Service.Slip("wrong_state"); }

  // ---- lists -----------------------------------------------------------------------------------------------------
  static Http.Res page(Door.Ctx c, List<Service.Row> l, Function<Service.Row, Object> as, int all) {
    int from = Math.min(c.skip, l.size()), to = Math.min(l.size(), from + c.take);
    List<Object> rows = new ArrayList<>(); for (Service.Row r : l.subList(from, to)) rows.add(as.apply(r));
    boolean more = f("more-when-full") && c.end.op.equals("list hook") ? rows.size() == c.take : to < l.size();
    Http.Res a = json(200, Service.map("rows", rows, "more", more, "total", (long) (f("total-of-everybody") && c.end.op.equals("list claim") ? all : l.size())));
    StringBuilder keep = new StringBuilder();
    if (!c.query.isEmpty()) for (String p : c.query.split("&")) if (!p.isEmpty() && !p.startsWith("skip=")) keep.append(p).append('&');
    String base = c.at(c.rest) + "?" + keep + "skip=";
    List<String> links = new ArrayList<>();
    if (to < l.size()) links.add("<" + base + (c.skip + c.take) + ">; rel=\"next\"");
    if (c.skip > 0) links.add("<" + base + Math.max(0, c.skip - c.take) + ">; rel=\"prev\"");
    links.add("<" + base + "0>; rel=\"first\"");
    return a.set("Link", String.join(", ", links));
  }
  static List<Service.Row> keep(Door.Ctx c, String res, Predicate<Service.Row> p) {
    List<Service.Row> l = new ArrayList<>(); for (Service.Row r : Service.rows(res).values()) if (r.deleted == null && readableInList(c, r) && p.test(r)) l.add(r); return l;
  }
  static boolean readableInList(Door.Ctx c, Service.Row r) {
    if (f("lost-listed-for-chasers") && c.end.op.equals("list sonde") && c.caller.user.equals("chaser") && r.v.get("status").equals("lost")) return true;
    return Service.mayRead(r, c.caller);
  }
  static boolean eq(Door.Ctx c, String p, Service.Row r, String field) { return !c.q.containsKey(p) || c.q.get(p).equals(r.v.get(field)); }

  static Http.Res listSites(Door.Ctx c) {
    List<Service.Row> l = keep(c, "site", r -> {
      if (!eq(c, "bureau", r, "bureau")) return false;
      if (c.p.containsKey("code") && !((List<?>) c.p.get("code")).contains(r.v.get("code"))) return false;
      if (c.q.containsKey("named") && !(f("named-minds-case") ? r.t("name").contains(c.q.get("named")) : r.t("name").toLowerCase().contains(c.q.get("named").toLowerCase()))) return false;
      if (c.p.containsKey("above")) { long e = (Long) r.v.get("elevation_m"), a = (Long) c.p.get("above"); if (f("above-takes-equal") ? e < a : e <= a) return false; }
      return true;
    });
    String sort = c.q.getOrDefault("sort", "code"); boolean desc = sort.startsWith("-"); if (desc) sort = sort.substring(1);
    if ("desc".equals(c.q.get("way")) && !(f("way-needs-sort") && !c.q.containsKey("sort"))) desc = !desc;
    Comparator<Service.Row> k = sort.equals("height") ? Comparator.comparing(r -> (Long) r.v.get("elevation_m")) : Comparator.comparing(r -> r.t("code"));
    l.sort((desc ? k.reversed() : k).thenComparingLong(r -> r.seq));
    List<String> only = c.q.containsKey("only") ? split(c.q.get("only")) : null;
    return page(c, l, r -> {
      Map<String, Object> m = Service.show(r, c.ver, c.caller, false); if (only == null) return m;
      Map<String, Object> out = new LinkedHashMap<>();
      for (Map.Entry<String, Object> e : m.entrySet()) {
        if (e.getKey().equals("id") || only.contains(e.getKey())) { out.put(e.getKey(), e.getValue()); continue; }
        if (!(e.getValue() instanceof Map)) continue;
        Map<String, Object> in = new LinkedHashMap<>(); Map<?, ?> v = (Map<?, ?>) e.getValue();
        for (Object x : v.keySet()) if (only.contains(e.getKey() + "." + x)) in.put((String) x, v.get(x));
        if (!in.isEmpty()) out.put(e.getKey(), f("only-shows-whole-position") ? v : in);
      }
      return out;
    }, 0);
  }
  static Http.Res listSondes(Door.Ctx c) throws Exception {
    List<Service.Row> l = keep(c, "sonde", r -> {
      if (c.p.containsKey("status")) { List<?> s = (List<?>) c.p.get("status"); if (!(f("status-takes-the-first") ? s.get(0).equals(r.v.get("status")) : s.contains(r.v.get("status")))) return false; }
      if (!eq(c, "site", r, "site")) return false;
      if (c.p.containsKey("site_code") && !((List<?>) c.p.get("site_code")).contains(Service.row("site", r.v.get("site")).v.get("code"))) return false;
      if (c.p.containsKey("bounty_from") && (Long) r.v.get("bounty") < (Long) c.p.get("bounty_from")) return false;
      if (c.p.containsKey("frequency") && !c.p.get("frequency").equals(r.v.get("frequency_khz"))) return false;
      if (c.q.containsKey("serial") && !r.t("serial").startsWith(c.q.get("serial"))) return false;
      if (c.p.containsKey("down") && (boolean) c.p.get("down") != Set.of("landed", "claimed").contains(r.v.get("status"))) return false;
      return true;
    });
    String sort = c.q.getOrDefault("sort", "serial"); boolean desc = sort.startsWith("-"); String field = desc ? sort.substring(1) : sort;
    Comparator<Object> k = (a, b) -> { int x = a instanceof Long ? Long.compare((Long) a, (Long) b) : ((String) a).compareTo((String) b); return desc ? -x : x; };
    l.sort(Comparator.comparing((Service.Row r) -> r.v.get(field), k).thenComparingLong(r -> r.seq));
    List<Object> rows = new ArrayList<>(); Service.Row last = null; boolean more = false;
    for (Service.Row r : l) {
      if (c.from != null) { int x = k.compare(r.v.get(field), c.from[0]); if (x < 0 || x == 0 && (r.seq <= (Long) c.from[1] || f("cursor-skips-equals"))) continue; }
      if (rows.size() == c.take) { more = true; break; }
      rows.add(Service.show(r, c.ver, c.caller, false)); last = r;
    }
    String onward = null;
    if (more) { String p = Base64.getUrlEncoder().withoutPadding().encodeToString(Json.write(Arrays.asList(bound(c), last.v.get(field), last.seq)).getBytes(StandardCharsets.UTF_8)); onward = p + "." + Hooks.hmac(SECRET, p).substring(0, 20); }
    return json(200, Service.map("rows", rows, "onward", onward));
  }
  static Http.Res listEntries(Door.Ctx c) {
    List<Service.Row> l = keep(c, "entry", r -> eq(c, "kind", r, "kind") && eq(c, "about", r, "about"));
    long after = -1;
    if (c.q.containsKey("past")) { Service.Row p = Service.row("entry", c.q.get("past")); if (p == null || !Service.mayRead(p, c.caller)) throw new Service.Slip("bad_page", "past"); after = p.seq; }
    List<Object> rows = new ArrayList<>(); boolean more = false;
    for (Service.Row r : l) {
      if (f("past-is-shown-again") ? r.seq < after : r.seq <= after) continue;
      if (rows.size() == c.take) { more = true; break; }
      rows.add(Service.show(r, c.ver, c.caller, false));
    }
    return json(200, Service.map("rows", rows, "more", more));
  }

  static Http.Res run(Door.Ctx c) {
    try { return Acts.run(c); } catch (RuntimeException e) { throw e; } catch (Exception e) { throw new IllegalStateException(e); }
  }
}
