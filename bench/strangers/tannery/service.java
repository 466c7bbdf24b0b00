import com.sun.net.httpserver.*;
import java.io.*;
import java.net.*;
import java.net.http.*;
import java.nio.charset.StandardCharsets;
import java.security.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Predicate;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The Tanhouse: hides, pits, batches and orders over HTTP. */
final class Tannery {
  static String FAULT = "";
  static final String BASE = "/tanhouse";
  static final Object LOCK = new Object();
  static final long MIN = 60_000, HOUR = 60 * MIN, DAY = 24 * HOUR;
  static final SecureRandom RANDOM = new SecureRandom();
  static final ExecutorService POOL = Executors.newCachedThreadPool(r -> { Thread t = new Thread(r); t.setDaemon(true); return t; });
  static final byte[] SECRET = new byte[32];

  static boolean fault(String name) { return FAULT.equals(name); }

  // ---- callers ----

  record Caller(String user, String id, Set<String> scopes, String password, String session) {
    String key() { return user + "/" + id; }
  }

  static final List<Caller> CALLERS = List.of(
      new Caller("tanner", "tilda", Set.of(), "oak:and:water", null),
      new Caller("tanner", "timo", Set.of(), null, "ses_timotimotimotimotimotimo"),
      new Caller("buyer", "berta", Set.of(), "saddles4ever", null),
      new Caller("buyer", "bo", Set.of(), null, "ses_bobobobobobobobobobobobo"),
      new Caller("foreman", "frida", Set.of("demolish"), "pit-and-paddle", "ses_fridafridafridafridafrid"),
      new Caller("foreman", "fritz", Set.of(), null, "ses_fritzfritzfritzfritzfrit"));

  // ---- refusals ----

  static final Map<String, Integer> STATUS = new HashMap<>();
  static final Map<String, String> SAID = Map.of("hideLocked", "This hide can no longer be changed.", "tooSalty", "A hide is salted twice at most.", "badPh", "The liquor is not ripe.",
      "notForSale", "This hide has no price.", "pitTooSmall", "This pit is too small for a batch.", "tooManyPieces", "Twelve pieces at most.");
  static final Set<String> OWN = Set.of("tooSalty", "tooLateToReject", "badPh", "batchClosed", "orderClosed", "notForSale", "pitTooSmall", "tooManyPieces");

  static {
    String all = "unreadable 400 badParameter 400 badPage 400 wrongMedia 415 notAcceptable 406 invalid 422 danglingReference 422 whoAreYou 401 notYours 403 notFound 404 noSuchPath 404 noSuchVersion 404 "
        + "versionGone 410 wrongMethod 405 taken 409 stillUsed 409 wrongState 409 hideLocked 423 changedMeanwhile 412 sayWhich 428 keyReused 422 tooFast 429 quotaUsed 429 tooBig 413 tooSlow 408 broken 500 "
        + "tooSalty 409 tooLateToReject 409 badPh 422 batchClosed 409 orderClosed 409 notForSale 409 pitTooSmall 409 tooManyPieces 422";
    String[] w = all.split(" ");
    for (int i = 0; i < w.length; i += 2) STATUS.put(w[i], Integer.valueOf(w[i + 1]));
  }

  static final class Fail extends RuntimeException {
    final String code;
    final List<Shape.Spot> spots;
    final Map<String, String> headers = new LinkedHashMap<>();

    Fail(String code, List<Shape.Spot> spots) { super(code, null, false, false); this.code = code; this.spots = spots; }

    Fail(String code) { this(code, List.of()); }

    Fail(String code, String at, String expected) { this(code, List.of(new Shape.Spot(at, expected))); }

    Fail with(String k, String v) { headers.put(k, v); return this; }
  }

  record Answer(int status, Map<String, String> headers, Object body) {}

  static Answer refusal(Fail f) {
    String code = f.code;
    int status = STATUS.get(code);
    if (fault("er-locked") && code.equals("hideLocked")) { code = "wrongState"; status = 409; }
    if (fault("er-else") && code.equals("orderClosed")) code = "wrongState";
    if (fault("er-dangling") && code.equals("danglingReference")) status = 404;
    if (fault("er-media") && code.equals("wrongMedia")) { code = "unreadable"; status = 400; }
    if (fault("er-case") && code.equals("notFound")) code = "not_found";
    List<Object> spots = new ArrayList<>();
    for (var s : f.spots) spots.add(map("at", fault("er-pointer") && s.at().startsWith("/") ? s.at().substring(1).replace('/', '.') : s.at(), "expected", s.expected()));
    Map<String, Object> e = map("name", code, "httpStatus", fault("er-status-field") ? (Object) 400 : (Object) status, "text", SAID.getOrDefault(code, code), "spots", spots);
    if (!fault("er-trace")) e.put("traceId", random(16));
    return new Answer(status, f.headers, fault("er-flat") ? e : map("error", e));
  }

  static Map<String, Object> map(Object... kv) {
    Map<String, Object> m = new LinkedHashMap<>();
    for (int i = 0; i < kv.length; i += 2) m.put((String) kv[i], kv[i + 1]);
    return m;
  }

  static String random(int n) { return random(n, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"); }

  static String random(int n, String of) {
    StringBuilder b = new StringBuilder();
    while (n-- > 0) b.append(of.charAt(RANDOM.nextInt(of.length())));
    return b.toString();
  }

  static String ulid() {
    String a = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    long t = now();
    StringBuilder b = new StringBuilder();
    for (int i = 45; i >= 0; i -= 5) b.append(a.charAt((int) (t >> i & 31)));
    return b + random(16, a);
  }

  static byte[] hmac(byte[] key, String text) {
    try {
      Mac m = Mac.getInstance("HmacSHA256");
      m.init(new SecretKeySpec(key, "HmacSHA256"));
      return m.doFinal(text.getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  static String sha(String text) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  // ---- the clock ----

  static volatile long offset;

  static long now() { return System.currentTimeMillis() + offset; }

  static final java.time.format.DateTimeFormatter MILLIS = java.time.format.DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  static String iso(long t) { return MILLIS.format(Instant.ofEpochMilli(t)); }

  /** When a thing changes its state by itself, or null. */
  static Long due(Model.Row r) {
    String s = (String) r.m.get("status");
    if (s == null) return null;
    return switch (r.res.name + " " + s) {
      case "hide raw" -> r.entered + 10 * DAY;
      case "hide soaked" -> fault("st-spoil-soaked") ? r.entered + 10 * DAY : null;
      case "batch planned" -> r.entered + 14 * DAY;
      case "batch running" -> Shape.instant(r.s("restAt")) + (fault("st-rest-late") ? DAY : 0);
      case "order open" -> (fault("st-expire-postponed") ? Shape.instant(r.s("changedAt")) : r.entered) + (fault("st-expire-early") ? 24 : 48) * HOUR;
      default -> null;
    };
  }

  static void lapse(Model.Row r) {
    switch (r.res.name) {
      case "hide" -> { change(r, "rejected", map()); if (!fault("ev-no-spoil")) emit("hide.spoiled", r, null, null); }
      case "order" -> { change(r, fault("st-expire-cancelled") ? "cancelled" : "expired", map("closedAt", iso(now()))); emit("order.closed", r, null, null); }
      default -> {
        if (r.s("status").equals("running")) {
          change(r, "resting", map());
          String owner = r.s("owner");
          emit("batch.rested", r, null, fault("ev-to") ? null : c -> c.id.equals(owner));
        } else {
          change(r, "abandoned", map());
          if (!fault("ev-no-lapse")) closed(r);
        }
      }
    }
  }

  static void closed(Model.Row r) { emit("batch.closed", r, map("nr", r.m.get("nr"), "status", r.s("status"), "at", iso(now())), null); }

  /** Enter a state, or stay in it, with other fields beside. */
  static void change(Model.Row r, String status, Map<String, Object> set) {
    Map<String, Object> m = new LinkedHashMap<>(r.m);
    m.put("status", status);
    m.putAll(set);
    m.put("changedAt", iso(now()));
    r.m = m;
    r.entered = now();
  }

  static volatile boolean moving;

  /** Do what is due up to a time, in its order. */
  static void settle(long until, boolean move) {
    while (true) {
      boolean wait;
      synchronized (LOCK) {
        Model.Row first = null;
        long at = until;
        for (var res : Model.ALL) for (var r : res.rows.values()) {
          Long d = due(r);
          if (d != null && (d < at || d == at && first == null)) { at = d; first = r; }
        }
        Long try_ = nextTry();
        wait = try_ != null && try_ <= at;
        if (wait) at = try_;
        if (first == null && !wait) break;
        if (move && at > now()) offset += at - now();
        if (!wait) lapse(first);
        pump();
      }
      if (move) landed();
      else if (wait) break;
    }
  }

  static void landed() {
    for (int i = 0; i < 700; i++) {
      synchronized (LOCK) {
        if (flying == 0) return;
      }
      pause(10);
    }
  }

  static void pause(long ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  static void door(HttpExchange x) throws IOException {
    int status = 200;
    try {
      if (x.getRequestMethod().equals("POST")) {
        if (!(Json.parse(x.getRequestBody().readAllBytes()) instanceof Map<?, ?> m) || m.size() != 1) throw new IllegalArgumentException();
        long to;
        if (m.get("now") instanceof String s && Shape.instant(s) != null) to = Shape.instant(s);
        else if (m.get("advance") instanceof String s && s.startsWith("P")) {
          int t = s.indexOf('T');
          ZonedDateTime z = Instant.ofEpochMilli(now()).atZone(ZoneOffset.UTC);
          String days = t < 0 ? s : s.substring(0, t);
          if (days.length() > 1) z = z.plus(Period.parse(days));
          if (t >= 0) z = z.plus(Duration.parse("P" + s.substring(t)));
          to = z.toInstant().toEpochMilli();
        } else throw new IllegalArgumentException();
        if (to < now()) status = 422;
        else {
          moving = true;
          try {
            landed();
            settle(to, true);
            if (to > now()) offset += to - now();
            settle(now(), true);
          } finally {
            moving = false;
          }
        }
      } else if (!x.getRequestMethod().equals("GET")) status = 400;
    } catch (RuntimeException e) {
      status = 400;
    }
    send(x, new Answer(status, Map.of(), map("now", iso(now()))));
  }

  // ---- events ----

  record Event(String id, String kind, long at, Set<String> readers, Model.Resource res, Map<String, Object> row, Map<String, Object> data) {
    Map<String, Object> envelope(Caller c, String version) {
      Object p = data != null ? data : render(res, row, fault("ev-note") ? CALLERS.get(0) : c, version, false);
      return map("eventId", id, "topic", kind, "occurredAt", iso(at), "content", p);
    }
  }

  static final class Delivery {
    Event e;
    String hook, body, id;
    int tries;
    long next;
    boolean flying;
  }

  record Pin(Caller owner, String version, long[] failing) {}

  static final class Listener {
    Caller c;
    String version;
    final BlockingQueue<Event> q = new LinkedBlockingQueue<>();
  }

  static final Map<String, Pin> PINS = new HashMap<>();
  static final Map<String, ArrayDeque<Delivery>> QUEUES = new LinkedHashMap<>();
  static final List<Event> LOG = new ArrayList<>();
  static final List<Listener> LISTENERS = new ArrayList<>();
  static final long[] RETRY = {10_000, MIN, 10 * MIN, HOUR, 12 * HOUR};
  static int flying;

  static void emit(String kind, Model.Row r, Map<String, Object> data, Predicate<Caller> to) {
    Set<String> readers = new HashSet<>();
    for (Caller c : CALLERS) if (to != null ? to.test(c) : mayRead(c, r) || fault("ev-leak") && c.user.equals("tanner")) readers.add(c.key());
    Event e = new Event("evt_" + ulid(), kind, now(), readers, r.res, r.m, data);
    LOG.removeIf(o -> o.at < now() - (fault("ev-keep") ? HOUR : 6 * HOUR));
    LOG.add(e);
    for (Listener l : LISTENERS) l.q.add(e);
    for (Model.Row h : Model.HOOK.rows.values()) {
      Pin pin = PINS.get(h.id());
      if (!fault("ev-disabled") && !(boolean) h.m.get("active") || !readers.contains(pin.owner.key()) || !wants((List<?>) h.m.get("topics"), kind)) continue;
      Delivery d = new Delivery();
      d.e = e;
      d.hook = h.id();
      d.next = now();
      d.body = Json.text(e.envelope(pin.owner, fault("ve-event-version") ? "v2" : pin.version));
      QUEUES.computeIfAbsent(h.id() + "|" + r.res.name + "|" + (fault("ev-order") ? e.id : r.id()), k -> new ArrayDeque<>()).add(d);
    }
  }

  static boolean wants(List<?> topics, String kind) {
    return topics.contains("*") || topics.contains(kind) || !fault("ev-prefix") && topics.contains(kind.substring(0, kind.indexOf('.')) + ".*");
  }

  static Long nextTry() {
    Long first = null;
    for (var q : QUEUES.values()) if (!q.isEmpty() && !q.peek().flying && (first == null || q.peek().next < first)) first = q.peek().next;
    return first;
  }

  /** Set off every delivery whose time has come. */
  static void pump() {
    QUEUES.values().removeIf(ArrayDeque::isEmpty);
    for (var q : List.copyOf(QUEUES.values())) {
      Delivery d = q.peek();
      if (d.flying || d.next > now()) continue;
      Model.Row h = Model.HOOK.rows.get(d.hook);
      if (h == null || !(boolean) h.m.get("active") && !fault("ev-disabled")) { q.clear(); continue; }
      d.flying = true;
      flying++;
      String url = h.s("callbackUrl"), key = h.s("sealKey");
      POOL.execute(() -> {
        boolean good = post(url, key, d);
        synchronized (LOCK) {
          flying--;
          d.flying = false;
          d.tries++;
          long[] failing = PINS.get(d.hook).failing;
          if (good || d.tries > (fault("ev-retries") ? 1 : RETRY.length)) q.poll();
          else d.next = now() + RETRY[d.tries - 1] * (fault("ev-retry-late") ? 2 : 1);
          if (good) failing[0] = 0;
          else if (failing[0] == 0) failing[0] = now();
          else if (now() - failing[0] >= 12 * HOUR && Model.HOOK.rows.containsKey(d.hook) && !fault("ev-never-off")) {
            Model.Row row = Model.HOOK.rows.get(d.hook);
            row.m = new LinkedHashMap<>(row.m);
            row.m.put("active", false);
          }
          pump();
        }
      });
    }
  }

  static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(5)).executor(POOL).build();

  static boolean post(String url, String key, Delivery d) {
    try {
      long t = now() / (fault("ev-stamp") ? 1 : 1000);
      String body = d.body;
      if (fault("ev-new-id")) body = body.replace(d.e.id, "evt_" + ulid());
      String seal = HexFormat.of().formatHex(hmac(key.getBytes(StandardCharsets.UTF_8), fault("ev-seal") ? body : t + ":" + body));
      var r = HttpRequest.newBuilder(URI.create(url)).timeout(Duration.ofSeconds(5)).header("Content-Type", "application/json").header("Tannery-Seal", "at=" + t + ";seal=" + seal)
          .header("Tannery-Topic", fault("ev-topic") ? d.e.kind.toUpperCase() : d.e.kind).POST(HttpRequest.BodyPublishers.ofString(body)).build();
      int s = CLIENT.send(r, HttpResponse.BodyHandlers.discarding()).statusCode();
      return s >= 200 && s < 300;
    } catch (Exception e) {
      return false;
    }
  }

  static void stream(Request q) throws IOException {
    HttpExchange x = q.x;
    Listener l = new Listener();
    l.c = q.caller;
    l.version = q.version;
    String last = x.getRequestHeaders().getFirst("Last-Event-ID");
    synchronized (LOCK) {
      LOG.removeIf(o -> o.at < now() - 6 * HOUR);
      int from = 0;
      for (int i = 0; i < LOG.size(); i++) if (LOG.get(i).id.equals(last)) from = i + (fault("ev-resume") ? 0 : 1);
      if (last != null && !last.isEmpty()) l.q.addAll(LOG.subList(from, LOG.size()));
      LISTENERS.add(l);
    }
    headers(q, x.getResponseHeaders());
    x.getResponseHeaders().set("Content-Type", "text/event-stream");
    x.getResponseHeaders().set("Cache-Control", "no-store");
    x.sendResponseHeaders(200, 0);
    try (OutputStream out = x.getResponseBody()) {
      out.write(": tanhouse\n\n".getBytes());
      out.flush();
      while (true) {
        Event e = l.q.poll(10, TimeUnit.SECONDS);
        if (e == null) out.write(": still here\n\n".getBytes());
        else if (e.readers.contains(l.c.key()) || fault("ev-stream-leak"))
          out.write(("id: " + e.id + "\n" + (fault("ev-stream-kind") ? "" : "event: " + e.kind + "\n") + "data: " + Json.text(e.envelope(l.c, l.version)) + "\n\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
      }
    } catch (IOException | InterruptedException e) {
      // the listener has gone
    } finally {
      synchronized (LOCK) {
        LISTENERS.remove(l);
      }
    }
  }

  // ---- who may do what ----

  static boolean may(String op, Caller c, Model.Row r) {
    boolean any = r == null, tanner = c.user.equals("tanner"), buyer = c.user.equals("buyer"), foreman = c.user.equals("foreman");
    return switch (op) {
      case "handler estimate" -> tanner || buyer;
      case "list pit", "read pit", "create hook", "stream events" -> true;
      case "create pit", "upsert pit" -> foreman;
      case "delete pit" -> foreman && (c.scopes.contains("demolish") || fault("au-scope"));
      case "create hide", "create batch", "create reading" -> tanner;
      case "list hide" -> tanner && (any || own(r, "owner", c) || fault("au-list-leak")) || foreman || buyer && (any || r.s("status").equals("tanned"));
      case "read hide" -> tanner && (any || own(r, "owner", c)) || foreman || buyer && (any || r.s("status").equals("tanned") || fault("au-buyer-raw"));
      case "reject hide" -> tanner && (any || own(r, "owner", c)) || foreman;
      case "update hide", "replace hide", "delete hide", "salt hide", "soak hide", "tan hide" -> tanner && (any || own(r, "owner", c)) || op.equals("update hide") && foreman && fault("au-foreman-writes");
      case "list batch", "read batch", "abandon batch" -> tanner && (any || own(r, "owner", c)) || foreman;
      case "update batch", "delete batch", "start batch", "finish batch" -> tanner && (any || own(r, "owner", c));
      case "list reading" -> tanner && (any || own(Model.BATCH.rows.get(String.valueOf(r.m.get("batch"))), "owner", c)) || foreman;
      case "create order" -> buyer;
      case "list order", "read order" -> buyer && (any || own(r, "buyer", c)) || tanner && (any || own(r, "seller", c)) || foreman;
      case "update order" -> buyer && (any || own(r, "buyer", c));
      case "cancel order" -> buyer && (any || own(r, "buyer", c)) || foreman && c.scopes.contains("demolish");
      case "confirm order" -> tanner && (any || own(r, "seller", c));
      case "ship order" -> tanner && (any || own(r, "seller", c) || fault("au-any-ships"));
      case "list hook", "read hook", "update hook", "delete hook" -> any || own(r, "owner", c) || op.equals("list hook") && fault("au-hooks-shown");
      default -> false;
    };
  }

  static boolean own(Model.Row r, String field, Caller c) { return c.id.equals(r.m.get(field)); }

  static boolean mayRead(Caller c, Model.Row r) {
    String op = (r.res == Model.READING ? "list " : "read ") + r.res.name;
    return may(op, c, null) && may(op, c, r);
  }

  static Caller who(HttpExchange x) {
    Set<Caller> found = new LinkedHashSet<>();
    List<String> auth = x.getRequestHeaders().getOrDefault("Authorization", List.of());
    for (String a : auth) {
      if (!a.regionMatches(true, 0, "Basic ", 0, 6)) throw unknown();
      String[] np;
      try {
        np = new String(Base64.getDecoder().decode(a.substring(6).trim()), StandardCharsets.UTF_8).split(":", fault("au-colon") ? 0 : 2);
      } catch (IllegalArgumentException e) {
        throw unknown();
      }
      if (np.length < 2) throw unknown();
      Caller c = CALLERS.stream().filter(k -> k.id.equals(np[0]) && k.password != null && (k.password.equals(np[1]) || fault("au-password-start") && !np[1].isEmpty() && k.password.startsWith(np[1]))).findFirst().orElse(null);
      if (c == null) throw unknown();
      found.add(c);
      if (fault("au-both")) return c;
    }
    for (String line : x.getRequestHeaders().getOrDefault("Cookie", List.of())) for (String part : line.split(";")) {
      String[] kv = part.trim().split("=", 2);
      if (!kv[0].equals("tanSession")) continue;
      Caller c = CALLERS.stream().filter(k -> kv.length > 1 && (fault("au-session-case") ? kv[1].equalsIgnoreCase(k.session) : kv[1].equals(k.session))).findFirst().orElse(null);
      if (c == null) throw unknown();
      found.add(c);
      String site = x.getRequestHeaders().getFirst("Sec-Fetch-Site"), origin = x.getRequestHeaders().getFirst("Origin"), host = x.getRequestHeaders().getFirst("Host");
      boolean foreign = site != null ? site.equals("cross-site") : origin != null && !origin.replaceFirst("^https?://", "").equals(host);
      if (foreign && !Set.of("GET", "HEAD").contains(x.getRequestMethod()) && !fault("au-cross-site")) throw new Fail("notYours");
    }
    if (found.size() != 1) throw unknown();
    return found.iterator().next();
  }

  static Fail unknown() { return new Fail("whoAreYou").with("WWW-Authenticate", "Basic realm=\"tanhouse\", charset=\"UTF-8\""); }

  // ---- routes ----

  record Route(String method, String[] path, String op, Model.Resource res) {}

  static final List<Route> ROUTES = new ArrayList<>();

  static {
    String all = """
        GET /openingHours = opening hours|GET /estimates = handler estimate|GET /stream = stream events
        POST /pits = create pit|GET /pits = list pit|GET /pits/{} = read pit|PUT /pits/{} = upsert pit|DELETE /pits/{} = delete pit
        POST /hides = create hide|GET /hides = list hide|GET /hides/{} = read hide|PATCH /hides/{} = update hide|PUT /hides/{} = replace hide|DELETE /hides/{} = delete hide
        POST /hides/{}/salt = salt hide|POST /hides/{}/soak = soak hide|POST /hides/{}/tan = tan hide|POST /hides/{}/reject = reject hide
        POST /batches = create batch|GET /batches = list batch|GET /batches/{} = read batch|PATCH /batches/{} = update batch|DELETE /batches/{} = delete batch
        POST /batches/{}/start = start batch|POST /batches/{}/finish = finish batch|POST /batches/{}/abandon = abandon batch
        POST /batches/{}/readings = create reading|GET /batches/{}/readings = list reading
        POST /orders = create order|GET /orders = list order|GET /orders/{} = read order|PATCH /orders/{} = update order
        POST /orders/{}/confirm = confirm order|POST /orders/{}/ship = ship order|POST /orders/{}/cancel = cancel order
        POST /hooks = create hook|GET /hooks = list hook|GET /hooks/{} = read hook|PATCH /hooks/{} = update hook|DELETE /hooks/{} = delete hook""";
    for (String line : all.split("[|\n]")) {
      String[] a = line.trim().split(" = "), mp = a[0].split(" ");
      String noun = a[1].substring(a[1].indexOf(' ') + 1);
      ROUTES.add(new Route(mp[0], mp[1].split("/"), a[1], Model.ALL.stream().filter(r -> r.name.equals(noun)).findFirst().orElse(null)));
    }
  }

  record Par(String name, String field, String op, char type, Shape shape, boolean required) {}

  static final Shape ANY = (v, at, out) -> {};

  static Par par(String name, String field, String op, char type, Shape s) { return new Par(name, field, op, type, s, false); }

  static List<Par> params(String op, boolean old) {
    return switch (op) {
      case "handler estimate" -> List.of(new Par("species", null, "", 's', Shape.in("cow", "goat", "sheep", "deer"), true), new Par("weightKg", null, "", 'n', Shape.number(0.5, 90), true), par("rush", null, "", 'b', ANY));
      case "list pit" -> List.of(par("liquor", "liquor", "=", 's', Shape.in(old && !fault("ve-filter") ? "bark" : "oak", "chestnut", "chrome", "alum")), par("covered", "covered", "=", 'b', ANY), par("minLitres", "litres", ">=", 'i', ANY),
          par("sort", null, "sort", 's', Shape.in("litres", "-litres", "-code")), par("pageToken", null, "page", 's', ANY), par("pageSize", null, "page", 's', ANY));
      case "list hide" -> {
        Shape states = Shape.in("raw", "soaked", "tanned", "rejected");
        yield List.of(par("status", "status", "=", 's', states), par("notStatus", "status", "!=", 's', states), par(old ? "kind" : "species", "species", "=", 's', Shape.in("cow", "goat", "sheep", "deer")),
            par("owner", "owner", "=", 's', ANY), par("minWeight", "weightKg", fault("en-min") ? ">" : ">=", 'n', ANY), par("underWeight", "weightKg", fault("en-under") ? "<=" : "<", 'n', ANY),
            par("tagPrefix", "tag", fault("en-prefix") ? "contains" : "prefix", 's', ANY), par("arrivedAfter", "arrivedAt", ">", 't', ANY), par("sort", null, "sort", 's', Shape.in("weightKg", "-weightKg", "tag", "-arrivedAt")),
            par("pageToken", null, "page", 's', ANY), par("pageSize", null, "page", 's', ANY));
      }
      case "list batch" -> List.of(par("status", "status", "=", 's', Shape.in("planned", "running", "resting", "done", "abandoned")), par("pit", "pit", "=", 's', ANY), par("maxDays", "days", "<=", 'i', ANY),
          par("sort", null, "sort", 's', Shape.in("days", "-days")), par("pageToken", null, "page", 's', ANY), par("pageSize", null, "page", 's', ANY));
      case "list reading" -> List.of(par("skip", null, "page", 's', ANY), par("pageSize", null, "page", 's', ANY));
      case "list order" -> List.of(par("status", "status", "in", 'l', Shape.list(Shape.in("open", "confirmed", "shipped", "cancelled", "expired"), 99, false)), par("seller", "seller", "=", 's', ANY), par("rush", "rush", "=", 'b', ANY),
          par("placedBefore", "placedAt", "<", 't', ANY), par("pageToken", null, "page", 's', ANY), par("pageSize", null, "page", 's', ANY));
      default -> List.of();
    };
  }

  static final class Request {
    HttpExchange x;
    Route route;
    String op = "", version = "v2", rawQuery;
    List<String> ids = new ArrayList<>();
    Map<String, Object> params = new LinkedHashMap<>();
    Caller caller;
    Object body;
    Map<String, String> out = new LinkedHashMap<>();

    boolean old() { return version.equals("v1"); }
  }

  static String unescape(String s, boolean query) {
    try {
      return URLDecoder.decode(query ? s : s.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return s;
    }
  }

  static final Map<String, Long> SUNSET = Map.of("v1", Instant.parse("2028-03-01T00:00:00Z").toEpochMilli());

  static void headers(Request q, Headers h) {
    if (q.caller != null || q.route != null && !q.op.equals("opening hours")) h.set("Vary", "Authorization, Cookie");
    if (q.old() && q.route != null && !fault("ve-no-deprecation")) {
      h.set("Deprecation", "@" + Instant.parse("2026-03-01T00:00:00Z").getEpochSecond());
      h.set("Sunset", fault("ve-sunset-header") ? "2028-03-01" : "Wed, 01 Mar 2028 00:00:00 GMT");
      h.set("Link", "<https://tannery.example/moving-to-v2>; rel=\"deprecation\"");
    }
  }

  static void serve(HttpExchange x) throws IOException {
    Request q = new Request();
    q.x = x;
    Answer a;
    try {
      a = answer(q);
      if (a == null) { x.close(); return; }
    } catch (Fail f) {
      a = refusal(f);
    } catch (Exception e) {
      e.printStackTrace();
      a = refusal(new Fail("broken"));
    }
    headers(q, x.getResponseHeaders());
    q.out.forEach((k, v) -> x.getResponseHeaders().set(k, v));
    send(x, a);
  }

  static void send(HttpExchange x, Answer a) throws IOException {
    a.headers.forEach((k, v) -> x.getResponseHeaders().set(k, v));
    try (x) {
      if (a.body == null) { x.sendResponseHeaders(a.status, -1); return; }
      byte[] b = Json.text(a.body).getBytes(StandardCharsets.UTF_8);
      x.getResponseHeaders().set("Content-Type", "application/json");
      boolean head = x.getRequestMethod().equals("HEAD");
      if (head) x.getResponseHeaders().set("Content-Length", "" + b.length);
      x.sendResponseHeaders(a.status, head ? -1 : b.length);
      if (!head) x.getResponseBody().write(b);
    }
  }

  // ---- the order of refusals ----

  static Answer answer(Request q) throws Exception {
    HttpExchange x = q.x;
    URI u = x.getRequestURI();
    String path = u.getRawPath();
    q.rawQuery = u.getRawQuery() == null ? "" : u.getRawQuery();
    if (u.toString().length() > 2048) throw new Fail("tooBig");
    long size = 0;
    for (var h : x.getRequestHeaders().entrySet()) for (String v : h.getValue()) size += h.getKey().length() + v.length() + 4;
    if (size > 8192 && !fault("li-headers")) throw new Fail("tooBig");

    String base = fault("pu-base") ? "" : BASE;
    if (!path.startsWith(base + "/")) throw new Fail("noSuchPath");
    String rest = path.substring(base.length() + 1);
    int slash = rest.indexOf('/');
    if (slash < 0) throw new Fail("noSuchPath");
    String version = unescape(rest.substring(0, slash), false);
    if (fault("ve-unknown") && !version.equals("v1")) version = "v2";
    route(q, rest.substring(slash).split("/", -1), x.getRequestMethod(), version);
    if (!version.equals("v1") && !version.equals("v2")) throw new Fail("noSuchVersion");
    q.version = version;
    if (SUNSET.containsKey(version) && now() >= SUNSET.get(version) && !fault("ve-sunset")) throw new Fail("versionGone");

    boolean isPublic = q.op.equals("opening hours");
    if (!isPublic) {
      q.caller = who(x);
      if (fault("pu-buyer-out") && q.caller.user.equals("buyer")) throw unknown();
    }
    synchronized (LOCK) {
      rates(q);
    }
    if (!isPublic && !may(q.op, q.caller, null)) throw new Fail("notYours");
    if (fault("pu-readings") && q.op.equals("create reading")) return new Answer(501, Map.of(), map("error", map("name", "notBuilt", "httpStatus", 501, "text", "", "spots", List.of(), "traceId", random(16))));

    accepts(x.getRequestHeaders().get("Accept"), q.op.equals("stream events") ? "text/event-stream" : "application/json");
    if (TAKES.containsKey(q.op) || Set.of("POST", "PUT", "PATCH").contains(x.getRequestMethod()) && q.op.matches("(create|upsert|update|replace) .*")) read(q);
    parameters(q);
    if (isPublic) return new Answer(200, Map.of("Cache-Control", "public, max-age=3600"), map("timeZone", "Europe/Lisbon", "weekdays", "07-17", "saturday", "08-12"));
    if (q.op.equals("stream events")) {
      if (x.getRequestMethod().equals("HEAD")) return new Answer(200, Map.of("Content-Type", "text/event-stream"), null);
      stream(q);
      return null;
    }
    if (!moving) settle(now(), false);
    Answer a;
    synchronized (LOCK) {
      a = idempotent(q);
      pump();
    }
    return a;
  }

  static void route(Request q, String[] seg, String method, String version) {
    Set<String> methods = new TreeSet<>();
    for (Route r : ROUTES) {
      if (r.path.length != seg.length || r.op.equals("handler estimate") && version.equals("v1") && !fault("ve-estimates")) continue;
      if (r.op.equals("cancel order") && fault("pu-cancel")) continue;
      List<String> ids = new ArrayList<>();
      boolean fits = true;
      for (int i = 1; i < seg.length && fits; i++) {
        String s = unescape(seg[i], false);
        if (r.path[i].equals("{}") && !s.isEmpty()) ids.add(s);
        else fits = r.path[i].equals(s);
      }
      if (!fits) continue;
      methods.add(r.method);
      if (r.method.equals("GET")) methods.add("HEAD");
      if (r.method.equals(method) || r.method.equals("GET") && method.equals("HEAD")) {
        q.route = r;
        q.op = r.op;
        q.ids = ids;
        return;
      }
    }
    if (methods.isEmpty()) throw new Fail("noSuchPath");
    throw new Fail("wrongMethod").with("Allow", String.join(", ", methods));
  }

  static final Map<String, ArrayDeque<long[]>> CALLS = new HashMap<>();
  static final Map<String, long[]> FIXED = new HashMap<>();

  static void rates(Request q) {
    String who = q.caller == null ? "address/" + q.x.getRemoteAddress().getAddress().getHostAddress() : q.caller.key();
    long t = now(), cost = q.op.equals("list hide") && !fault("li-cost") ? 3 : 1, sum = 0;
    var calls = CALLS.computeIfAbsent(who, k -> new ArrayDeque<>());
    while (!calls.isEmpty() && calls.peek()[0] <= t - MIN) calls.poll();
    for (long[] c : calls) sum += c[1];
    if (sum + cost > 900 && !fault("li-rate")) throw new Fail("tooFast").with("Retry-After", "" + ((calls.peek()[0] + MIN - t) / 1000 + 1));
    if (q.op.equals("handler estimate")) {
      long[] f = FIXED.computeIfAbsent(fault("li-rate-shared") ? "all" : who, k -> new long[2]);
      if (f[0] != t / MIN) { f[0] = t / MIN; f[1] = 0; }
      if (f[1] >= (fault("li-rate-13") ? 13 : 12)) throw new Fail("tooFast").with("Retry-After", "" + ((f[0] + 1) * MIN - t + 999) / 1000);
      f[1]++;
    }
    calls.add(new long[] {t, cost});
  }

  static void accepts(List<String> accept, String type) {
    if (accept == null || fault("er-accept")) return;
    int best = -1;
    double q = 0;
    for (String r : String.join(",", accept).split(",")) {
      String[] p = r.trim().split("\\s*;\\s*");
      int rank = p[0].equalsIgnoreCase(type) ? 2 : p[0].equalsIgnoreCase(type.replaceAll("/.*", "/*")) ? 1 : p[0].equals("*/*") || p[0].isEmpty() ? 0 : -1;
      double w = 1;
      for (String s : p) if (s.startsWith("q=")) try { w = Double.parseDouble(s.substring(2)); } catch (NumberFormatException e) { w = 0; }
      if (rank > best) { best = rank; q = w; }
    }
    if (best < 0 || q == 0) throw new Fail("notAcceptable");
  }

  static void read(Request q) throws Exception {
    Headers h = q.x.getRequestHeaders();
    String type = h.getFirst("Content-Type");
    if (type != null) {
      String t = type.split(";")[0].trim().toLowerCase(Locale.ROOT);
      if (!t.equals("application/json") && !(t.equals("application/merge-patch+json") && q.op.startsWith("update "))) throw new Fail("wrongMedia");
    }
    long said = h.getFirst("Content-Length") == null ? -1 : Long.parseLong(h.getFirst("Content-Length"));
    int max = 16384;
    if (said > 1 << 20) throw new Fail("tooBig").with("Connection", "close");
    InputStream in = q.x.getRequestBody();
    Future<byte[]> f = POOL.submit(() -> in.readNBytes(1 << 20));
    byte[] b;
    try {
      b = f.get(fault("li-timeout") ? 12 : 5, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new Fail("tooSlow").with("Connection", "close");
    } catch (ExecutionException e) {
      throw new Fail("unreadable");
    }
    if (fault("li-body-edge") ? b.length >= max : b.length > max) throw new Fail("tooBig");
    if (b.length == 0) throw new Fail("unreadable");
    try {
      q.body = Json.parse(b);
    } catch (IllegalArgumentException e) {
      throw new Fail("unreadable");
    }
  }

  static void parameters(Request q) {
    List<Par> known = params(q.op, q.old());
    for (String part : q.rawQuery.split("&")) {
      if (part.isEmpty()) continue;
      String[] kv = part.split("=", 2);
      String name = unescape(kv[0], true), text = kv.length > 1 ? unescape(kv[1], true) : "";
      Par p = known.stream().filter(k -> k.name.equals(name)).findFirst().orElse(null);
      if (p == null) { if (fault("en-unknown-param")) continue; throw new Fail("badParameter", name, "a known parameter"); }
      if (q.params.containsKey(name)) throw new Fail("badParameter", name, "to be given once");
      Object v;
      try {
        v = switch (p.type) {
          case 'n', 'i' -> {
            if (!text.matches("-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?")) throw new IllegalArgumentException();
            Object n = Json.number(text);
            if (p.type == 'i' && !(n instanceof Long)) throw new IllegalArgumentException();
            yield n;
          }
          case 'b' -> { if (!text.equals("true") && !text.equals("false")) throw new IllegalArgumentException(); yield text.equals("true"); }
          case 't' -> { if (Shape.instant(text) == null) throw new IllegalArgumentException(); yield Shape.instant(text); }
          case 'l' -> kv.length > 1 ? Arrays.asList(kv[1].split(",", -1)).stream().map(s -> unescape(s, true)).flatMap(s -> Arrays.stream(s.split(",", -1))).toList() : List.of("");
          default -> text;
        };
      } catch (IllegalArgumentException e) {
        throw new Fail("badParameter", name, "another value");
      }
      List<Shape.Spot> out = new ArrayList<>();
      p.shape.check(v, name, out);
      if (!out.isEmpty()) throw new Fail("badParameter", name, out.get(0).expected());
      if (q.old() && name.equals("liquor") && v.equals("bark")) v = "oak";
      q.params.put(name, v);
    }
    for (Par p : known) if (p.required && !q.params.containsKey(p.name)) throw new Fail("badParameter", p.name, "a value");
    if (q.op.startsWith("list ") && !q.op.equals("list hook")) page(q);
  }

  static void page(Request q) {
    boolean reading = q.op.equals("list reading");
    long size = reading ? 20 : 10, most = reading ? 100 : 40;
    String s = (String) q.params.remove("pageSize");
    if (s != null) {
      if (!s.matches("[0-9]{1,9}") || Long.parseLong(s) < 1) throw new Fail("badPage", "pageSize", "a number from 1 to " + most);
      size = Long.parseLong(s);
      if (size > most && (reading || fault("li-clamp"))) throw new Fail("badPage", "pageSize", "a number from 1 to " + most);
      size = Math.min(size, fault("li-max") ? 100 : most);
    }
    q.params.put("", size);
    String skip = (String) q.params.get("skip");
    if (skip != null && !skip.matches("[0-9]{1,9}")) throw new Fail("badPage", "skip", "a number from 0");
    String t = (String) q.params.get("pageToken");
    if (t != null) q.params.put("pageToken", token(q, t));
  }

  static String binding(Request q) {
    Map<String, String> m = new TreeMap<>();
    for (String part : q.rawQuery.split("&")) if (!part.isEmpty() && !part.startsWith("pageToken=") && !part.startsWith("pageSize=")) m.put(part, "");
    return q.op + q.version + q.caller.key() + (fault("li-token-query") ? "" : m.keySet());
  }

  static Object token(Request q, String t) {
    try {
      String[] p = t.split("\\.");
      String text = new String(Base64.getUrlDecoder().decode(p[0]), StandardCharsets.UTF_8);
      if (p.length == 2 && MessageDigest.isEqual(Base64.getUrlDecoder().decode(p[1]), hmac(SECRET, text + binding(q)))) return Json.parse(text);
    } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
      // no token of ours
    }
    throw new Fail("badPage", "pageToken", "a token of this list");
  }

  static String token(Request q, Model.Row last, List<String> keys) {
    List<Object> l = new ArrayList<>();
    l.add(last.seq);
    for (String k : keys) l.add(last.m.get(k.replace("-", "")));
    String text = Json.text(l);
    var e = Base64.getUrlEncoder().withoutPadding();
    return e.encodeToString(text.getBytes(StandardCharsets.UTF_8)) + "." + e.encodeToString(hmac(SECRET, text + binding(q)));
  }

  record Kept(String print, Answer answer, long at) {}

  static final Map<String, Kept> KEPT = new HashMap<>();

  static Answer idempotent(Request q) {
    if (!Set.of("create hide", "create order", "ship order").contains(q.op)) return act(q);
    String key = q.x.getRequestHeaders().getFirst("X-Request-Key");
    if (key == null || key.isEmpty()) {
      if (q.op.equals("create order") && !fault("en-key-optional")) throw new Fail("badParameter", "X-Request-Key", "a value");
      return act(q);
    }
    String slot = (fault("en-key-shared") ? "" : q.caller.key()) + "|" + q.op + "|" + key;
    String print = sha(q.x.getRequestURI().getRawPath() + "?" + q.rawQuery + " " + q.version + " " + Json.text(q.body));
    Kept k = KEPT.get(slot);
    if (k != null && k.at > now() - 12 * HOUR || k != null && fault("en-key-forever")) {
      if (!k.print.equals(print) && !fault("en-key-print")) throw new Fail("keyReused");
      return k.answer;
    }
    Answer a;
    try {
      a = act(q);
    } catch (Fail f) {
      if (OWN.contains(f.code)) KEPT.put(slot, new Kept(print, refusal(f), now()));
      throw f;
    }
    if (!fault("en-key-ignored")) KEPT.put(slot, new Kept(print, a, now()));
    return a;
  }

  // ---- what is done ----

  static long seq, nr;
  static final Map<String, Long> QUOTA = new HashMap<>();
  static final Map<String, Map<String, Shape>> TAKES = Map.of("tan hide", Map.of("softness", Shape.whole(0, 10)), "reject hide", Map.of("reason", Shape.text(3, 120)),
      "finish batch", Map.of("ph", Shape.number(0, 14)), "ship order", Map.of("trackingCode", Shape.pattern("[A-Z0-9]{6,16}")));

  static Answer act(Request q) {
    String verb = q.op.substring(0, q.op.indexOf(' '));
    switch (verb) {
      case "handler": {
        String s = (String) q.params.get("species");
        long days = switch (s) { case "cow" -> 30; case "deer" -> 20; default -> 14; } + (long) (((Number) q.params.get("weightKg")).doubleValue() / 5);
        boolean rush = q.params.get("rush") == Boolean.TRUE;
        return new Answer(200, Map.of(), map("species", s, "days", rush ? days / 2 : days, "rush", rush));
      }
      case "create": return create(q);
      case "upsert": return q.route.res.rows.containsKey(q.ids.get(0)) ? write(q, false) : create(q);
      case "list": return list(q);
      case "read": {
        Model.Row r = find(q);
        Object body = envelope(q, r, false);
        Map<String, String> h = new LinkedHashMap<>();
        if (q.route.res == Model.HIDE) h.put("Cache-Control", "private, max-age=30");
        if (q.route.res == Model.HIDE || q.route.res == Model.BATCH || q.route.res == Model.ORDER) {
          h.put("ETag", etag(q, r));
          String inm = q.x.getRequestHeaders().getFirst("If-None-Match");
          if (inm != null && !fault("en-304") && (inm.trim().equals("*") || List.of(inm.replace("W/", "").split("\\s*,\\s*")).contains(h.get("ETag")))) return new Answer(304, h, null);
        }
        return new Answer(200, h, body);
      }
      case "update": return write(q, true);
      case "replace": return write(q, false);
      case "delete": return delete(q);
      default: return transition(q, verb);
    }
  }

  static Map<String, Object> render(Model.Resource res, Map<String, Object> m, Caller c, String version, boolean first) {
    Map<String, Object> out = new LinkedHashMap<>();
    for (var f : res.fields.values()) {
      if (!m.containsKey(f.name) || f.writeOnly && !fault("re-door-code") || f.once && !first && !fault("re-seal-again")) continue;
      if (f.visible != null && !f.visible.contains(c.user) && !(fault("re-note-shown") && f.name.equals("note")) && !(fault("re-shelf-shown") && f.name.equals("shelfMark"))) continue;
      Object v = m.get(f.name);
      if (fault("re-total-text") && f.name.equals("totalCents")) v = String.valueOf(v);
      if (fault("re-when-seconds") && f.name.equals("placedAt")) v = ((String) v).replaceAll("\\.\\d+", "");
      out.put(f.name, v);
    }
    return version.equals("v1") ? Model.down(res, out) : out;
  }

  static Map<String, Object> envelope(Request q, Model.Row r, boolean first) {
    return map("data", render(r.res, r.m, q.caller, q.version, first), "apiVersion", fault("ve-said") ? "v2" : q.version);
  }

  static String etag(Request q, Model.Row r) {
    return '"' + sha(fault("en-etag-stale") ? r.id() + q.version + r.m.get("status") + q.caller.user : Json.text(envelope(q, r, false))).substring(0, 24) + '"';
  }

  /** The one thing that the path names, if the caller may do this to it. */
  static Model.Row find(Request q) {
    Model.Row r = q.route.res.rows.get(q.ids.get(q.ids.size() - 1));
    if (r == null || !may(q.op, q.caller, r) && !mayRead(q.caller, r)) throw new Fail(r != null && fault("au-forbidden") ? "notYours" : "notFound");
    if (!may(q.op, q.caller, r)) throw new Fail("notYours");
    return r;
  }

  static void precondition(Request q, Model.Row r) {
    boolean must = q.op.equals("replace hide") || q.op.equals("update order") && !fault("en-428");
    if (!must && !q.op.equals("update hide") && !q.op.equals("update batch") && !q.op.equals("update order")) return;
    List<String> all = q.x.getRequestHeaders().get("If-Match");
    if (all == null) { if (must) throw new Fail("sayWhich"); return; }
    if (fault("en-if-match") && q.op.equals("update hide")) return;
    List<String> tags = List.of(String.join(",", all).trim().split("\\s*,\\s*"));
    if (!tags.contains("*") && !tags.contains(etag(q, r))) throw new Fail("changedMeanwhile");
  }

  static void invalid(List<Shape.Spot> spots) { if (!spots.isEmpty()) throw new Fail("invalid", spots); }

  @SuppressWarnings("unchecked")
  static Map<String, Object> bodyOf(Request q) {
    if (!(q.body instanceof Map)) throw new Fail("invalid", "", "an object");
    Map<String, Object> m = new LinkedHashMap<>((Map<String, Object>) q.body);
    if (q.route.res != null && !TAKES.containsKey(q.op)) for (var f : q.route.res.in(q.version).values()) if (f.readOnly) m.remove(f.name);
    return m;
  }

  /** Check a whole body in its version. */
  static void check(Request q, Map<String, Object> m, Map<String, Object> before, Set<String> sent) {
    List<Shape.Spot> out = new ArrayList<>();
    var fields = q.route.res.in(q.version);
    for (var e : m.entrySet()) {
      var f = fields.get(e.getKey());
      if (f == null) {
        if (!fault("re-extra")) out.add(new Shape.Spot("/" + e.getKey(), "no such field"));
      } else if (!f.readOnly) f.shape.check(e.getValue(), "/" + e.getKey(), out);
    }
    for (var f : fields.values()) {
      if (f.required && !f.readOnly && f.preset == null && !m.containsKey(f.name) && !(fault("re-recipe") && f.name.equals("recipe"))) out.add(new Shape.Spot("/" + f.name, "a value"));
      if (f.immutable && before != null && sent.contains(f.name) && !Objects.equals(m.get(f.name), before.get(f.name)) && !(fault("re-hide-moved") && f.name.equals("hide"))) out.add(new Shape.Spot("/" + f.name, "what it was"));
    }
    invalid(out);
  }

  /** Check what would be stored, and the things that it refers to. */
  static void whole(Request q, Map<String, Object> next) {
    Model.Resource res = q.route.res;
    List<Shape.Spot> out = new ArrayList<>();
    for (var f : res.fields.values()) if (!f.readOnly && next.containsKey(f.name)) f.shape.check(next.get(f.name), "/" + (q.old() ? Model.downName(res, f.name) : f.name), out);
    invalid(out);
    if (next.get("hide") instanceof String h) {
      Model.Row r = Model.HIDE.rows.get(h);
      if (r == null || !mayRead(q.caller, r) && !fault("au-ref-leak")) throw new Fail("danglingReference", "/hide", "a hide");
    }
    if (res == Model.BATCH && !Model.PIT.rows.containsKey(next.get("pit"))) throw new Fail("danglingReference", "/pit", "a pit");
  }

  static void ownErrors(String op, Map<String, Object> next) {
    if (op.equals("create order") && Model.HIDE.rows.get(next.get("hide")).n("askCents") == 0 && !fault("er-not-for-sale")) throw new Fail("notForSale");
    if (op.equals("create batch") || op.equals("update batch") && !fault("er-pit-update"))
      if (Model.PIT.rows.get(next.get("pit")).n("litres") < 200 + (fault("er-pit-edge") ? 1 : 0)) throw new Fail("pitTooSmall");
    if (op.equals("confirm order") && ((Number) next.get("pieces")).longValue() > 12) throw new Fail("tooManyPieces");
  }

  static void unique(Model.Resource res, Map<String, Object> next, Model.Row self) {
    Set<String> busy = Set.of("open", "confirmed");
    for (Model.Row o : res.rows.values()) {
      if (o == self) continue;
      String at = switch (res.name) {
        case "pit" -> o.m.get("code").equals(next.get("code")) ? "/code" : (fault("re-title-case") ? o.s("title").equals(next.get("title")) : o.s("title").equalsIgnoreCase((String) next.get("title"))) ? "/title" : null;
        case "hide" -> (o.m.get("owner").equals(next.get("owner")) || fault("re-tag-global")) && o.m.get("tag").equals(next.get("tag")) ? "/tag" : null;
        case "batch" -> o.m.get("pit").equals(next.get("pit")) && "running".equals(next.get("status")) && o.m.get("status").equals("running") && !fault("re-pit-shared") ? "/pit" : null;
        case "order" -> o.m.get("hide").equals(next.get("hide")) && busy.contains(next.get("status")) && (busy.contains(o.s("status")) || fault("re-order-freed") && o.s("status").equals("cancelled")) ? "/hide" : null;
        default -> null;
      };
      if (at != null) throw new Fail("taken", at, "another value");
    }
  }

  static Answer create(Request q) {
    Model.Resource res = q.route.res;
    Model.Row b = res == Model.READING ? Model.BATCH.rows.get(q.ids.get(0)) : null;
    if (res == Model.READING && (b == null || !mayRead(q.caller, b) && !fault("au-parent"))) throw new Fail("notFound");
    Map<String, Object> m = bodyOf(q);
    if (b != null) {
      if (m.containsKey("batch") && !m.get("batch").equals(b.m.get("nr"))) throw new Fail("invalid", "/batch", "what the path says");
      m.put("batch", b.m.get("nr"));
    }
    if (q.op.equals("upsert pit")) pathCode(q, m);
    check(q, m, null, Set.of());
    Map<String, Object> next = q.old() ? Model.up(res, m) : m;
    for (var f : res.fields.values()) if (f.preset != null && !next.containsKey(f.name) && !(fault("re-labels") && f.name.equals("labels"))) next.put(f.name, f.name.equals("covered") && fault("re-covered") ? (Object) true : f.preset);
    if (fault("re-labels") && res == Model.HIDE && !next.containsKey("labels")) next.put("labels", null);
    else whole(q, next);
    String t = iso(now()), me = q.caller.id;
    Model.Row r = new Model.Row();
    r.res = res;
    switch (res.name) {
      case "pit" -> next.put("changedAt", t);
      case "hide" -> next.putAll(map("id", "hid_" + ulid(), "owner", me, "shelfMark", me, "saltings", 0L, "status", "raw", "arrivedAt", t, "changedAt", t));
      case "batch" -> next.putAll(map("nr", nr + 1, "owner", me, "status", "planned", "restAt", iso(now() + (long) next.get("days") * DAY), "createdAt", t, "changedAt", t));
      case "reading" -> next.putAll(map("id", UUID.randomUUID().toString(), "takenAt", t));
      case "order" -> next.putAll(map("id", "ORD-" + random(10), "buyer", me, "seller", Model.HIDE.rows.get(next.get("hide")).s("owner"), "totalCents", total(next),
          "status", next.get("rush") == Boolean.TRUE && !fault("st-rush") ? "confirmed" : "open", "placedAt", t, "changedAt", t));
      default -> next.putAll(map("id", "hk_" + ulid(), "owner", me, "sealKey", "seal_" + random(32)));
    }
    if (fault("er-order")) unique(res, next, null);
    ownErrors(q.op, next);
    unique(res, next, null);
    if (res == Model.BATCH) nr++;
    r.m = next;
    r.seq = ++seq;
    r.entered = now();
    res.rows.put(r.id(), r);
    switch (res.name) {
      case "hide" -> emit("hide.arrived", r, null, null);
      case "reading" -> { double ph = ((Number) next.get("ph")).doubleValue(); if (fault("ev-alarm") ? ph >= 9 : ph > 9) emit("reading.alarm", r, null, null); }
      case "order" -> emit("order.placed", r, null, null);
      case "hook" -> PINS.put(r.id(), new Pin(q.caller, q.version, new long[1]));
      default -> { }
    }
    Map<String, String> h = new LinkedHashMap<>();
    if (res != Model.READING) h.put("Location", BASE + "/" + (fault("en-location") ? "" : q.version + "/") + q.route.path[1] + "/" + r.id());
    return new Answer(q.op.equals("upsert pit") && fault("en-upsert") ? 200 : 201, h, envelope(q, r, true));
  }

  static long total(Map<String, Object> order) { return ((Number) order.get("pieces")).longValue() * Model.HIDE.rows.get(order.get("hide")).n("askCents"); }

  static void pathCode(Request q, Map<String, Object> m) {
    String code = q.ids.get(0);
    if (m.containsKey("code") && !code.equals(m.get("code")) && !fault("en-put-path")) throw new Fail("invalid", "/code", "what the path says");
    m.put("code", code);
  }

  @SuppressWarnings("unchecked")
  static Object merge(Object old, Object patch, boolean top) {
    if (!(patch instanceof Map)) return patch;
    if (!top && fault("en-merge-flat")) old = null;
    Map<String, Object> m = old instanceof Map ? new LinkedHashMap<>((Map<String, Object>) old) : new LinkedHashMap<>();
    ((Map<String, Object>) patch).forEach((k, v) -> { if (v == null) m.remove(k); else m.put(k, merge(m.get(k), v, false)); });
    return m;
  }

  /** Update by a merge patch, or replace. */
  static Answer write(Request q, boolean patch) {
    Model.Resource res = q.route.res;
    Model.Row r = find(q);
    if (fault("er-412-late")) { bodyCheck(q, r, patch); precondition(q, r); } else precondition(q, r);
    Map<String, Object> next = bodyCheck(q, r, patch);
    whole(q, next);
    String state = (String) r.m.get("status");
    if (q.op.equals("update hide") && state.equals("rejected") || q.op.equals("replace hide") && !state.equals("raw")) throw new Fail("hideLocked");
    if (q.op.equals("update batch") && !state.equals("planned") || q.op.equals("update order") && !state.equals("open") && !fault("st-order-edit")) throw new Fail("wrongState");
    if (res == Model.ORDER && !fault("re-total-stale") && !next.equals(r.m)) next.put("totalCents", total(next));
    ownErrors(q.op, next);
    unique(res, next, r);
    boolean same = next.equals(r.m);
    if (!same || fault("re-noop")) {
      if (r.m.containsKey("changedAt")) next.put("changedAt", iso(now()));
      r.m = next;
      if (res == Model.HIDE) emit("hide.changed", r, null, null);
      if (res == Model.HOOK && next.get("active") == Boolean.TRUE) PINS.get(r.id()).failing[0] = 0;
    } else if (fault("ev-noop") && res == Model.HIDE) emit("hide.changed", r, null, null);
    Map<String, String> h = new LinkedHashMap<>();
    if (Set.of("update hide", "replace hide", "update order").contains(q.op)) h.put("ETag", etag(q, r));
    return new Answer(200, h, envelope(q, r, false));
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> bodyCheck(Request q, Model.Row r, boolean patch) {
    Model.Resource res = q.route.res;
    Map<String, Object> m = bodyOf(q), before = q.old() ? Model.down(res, r.m) : r.m;
    if (q.op.equals("upsert pit")) pathCode(q, m);
    Map<String, Object> next;
    if (patch) {
      List<Shape.Spot> out = new ArrayList<>();
      for (var e : m.entrySet()) {
        var f = res.in(q.version).get(e.getKey());
        if (f == null && !fault("re-extra")) out.add(new Shape.Spot("/" + e.getKey(), "no such field"));
        else if (f != null && f.required && e.getValue() == null) out.add(new Shape.Spot("/" + e.getKey(), "a value"));
      }
      invalid(out);
      Map<String, Object> merged = (Map<String, Object>) merge(before, m, true);
      check(q, merged, before, m.keySet());
      Map<String, Object> changed = new LinkedHashMap<>();
      for (String k : m.keySet()) if (res.in(q.version).containsKey(k)) changed.put(k, merged.get(k));
      if (fault("ve-kind") && q.old()) changed.remove("kind");
      if (fault("re-contact-lost")) changed.remove("contact");
      if (q.old()) changed = Model.up(res, changed);
      next = new LinkedHashMap<>(r.m);
      for (var e : changed.entrySet()) if (e.getValue() == null) next.remove(e.getKey()); else next.put(e.getKey(), e.getValue());
    } else {
      check(q, m, before, m.keySet());
      next = q.old() ? Model.up(res, m) : m;
      for (var f : res.fields.values()) {
        boolean unseen = q.old() && !res.old.containsKey(f.name) && !f.name.equals("species");
        boolean hidden = f.visible != null && !f.visible.contains(q.caller.user);
        if (r.m.containsKey(f.name) && (f.readOnly || hidden || unseen && !fault("ve-grade-lost") || fault("en-put-keeps") && !next.containsKey(f.name) && f.preset == null)) next.put(f.name, r.m.get(f.name));
        else if (f.preset != null && !next.containsKey(f.name)) next.put(f.name, f.preset);
      }
    }
    return next;
  }

  static Answer delete(Request q) {
    Model.Row r = find(q);
    Model.Resource res = r.res;
    String state = (String) r.m.get("status");
    if (res == Model.HIDE && !Set.of("raw", "rejected").contains(state)) throw new Fail("hideLocked");
    if (res == Model.BATCH && !Set.of("planned", "abandoned").contains(state)) throw new Fail("wrongState");
    boolean held = false;
    for (Model.Row b : Model.BATCH.rows.values()) held |= r.id().equals(b.m.get(res.name));
    for (Model.Row o : Model.ORDER.rows.values()) held |= res == Model.HIDE && r.id().equals(o.m.get("hide"));
    if (held && !(fault("re-pit-held") && res == Model.PIT)) throw new Fail("stillUsed");
    res.rows.remove(r.id());
    if (res == Model.BATCH) Model.READING.rows.values().removeIf(d -> d.m.get("batch").equals(r.m.get("nr")));
    if (res == Model.HIDE && !fault("ev-gone")) emit("hide.gone", r, map("id", r.id(), "tag", r.s("tag")), null);
    return new Answer(204, Map.of(), null);
  }

  static Answer transition(Request q, String verb) {
    Model.Row r = find(q);
    Map<String, Object> m = map();
    if (TAKES.containsKey(q.op)) {
      m = bodyOf(q);
      List<Shape.Spot> out = new ArrayList<>();
      for (var e : TAKES.get(q.op).entrySet()) {
        if (!m.containsKey(e.getKey())) out.add(new Shape.Spot("/" + e.getKey(), "a value"));
        else e.getValue().check(m.get(e.getKey()), "/" + e.getKey(), out);
      }
      invalid(out);
    }
    String s = r.s("status"), t = iso(now()), day = q.caller.key() + t.substring(0, 10);
    switch (verb) {
      case "salt" -> {
        from(s, "wrongState", "raw");
        if (r.n("saltings") >= (fault("st-salt-third") ? 3 : 2)) throw new Fail("tooSalty");
        long since = r.entered;
        change(r, "raw", map("saltings", r.n("saltings") + 1));
        if (fault("st-salt-clock")) r.entered = since;
      }
      case "soak" -> { from(s, "wrongState", "raw"); change(r, "soaked", map()); }
      case "tan" -> {
        from(s, "wrongState", "soaked");
        change(r, (long) m.get("softness") >= (fault("st-tan-edge") ? 6 : 5) ? "tanned" : "rejected", map("softness", m.get("softness")));
      }
      case "reject" -> {
        from(s, "tooLateToReject", fault("st-reject-tanned") ? new String[] {"raw", "soaked", "tanned"} : new String[] {"raw", "soaked"});
        change(r, "rejected", fault("re-reason") ? map() : map("rejectedBecause", m.get("reason")));
      }
      case "start" -> {
        from(s, "wrongState", "planned");
        if (!Model.HIDE.rows.get(r.s("hide")).s("status").equals("soaked") && !fault("st-start-any")) throw new Fail("wrongState");
        Map<String, Object> next = new LinkedHashMap<>(r.m);
        next.put("status", "running");
        unique(r.res, next, r);
        change(r, "running", map("startedAt", t, "restAt", fault("st-rest-planned") ? r.s("restAt") : iso(now() + r.n("days") * DAY)));
      }
      case "finish" -> {
        from(s, "wrongState", "resting");
        double ph = ((Number) m.get("ph")).doubleValue();
        if (ph < 3.2 || (fault("st-ph-edge") ? ph >= 4.5 : ph > 4.5)) throw new Fail("badPh");
        change(r, "done", map("finalPh", m.get("ph")));
        closed(r);
      }
      case "abandon" -> { from(s, "batchClosed", "planned", "running"); change(r, "abandoned", map()); if (!fault("ev-abandon")) closed(r); }
      case "confirm" -> { from(s, "wrongState", "open"); if (fault("er-pieces") ? r.n("pieces") > 20 : true) ownErrors(q.op, r.m); change(r, "confirmed", map()); }
      case "ship" -> {
        if (fault("li-quota-failed")) QUOTA.merge(day, 1L, Long::sum);
        from(s, "wrongState", fault("st-ship-open") ? new String[] {"confirmed", "open"} : new String[] {"confirmed"});
        if (QUOTA.getOrDefault(fault("li-quota-ever") ? q.caller.key() : day, 0L) >= (fault("li-quota-failed") ? 21 : 20) && !fault("li-no-quota")) throw new Fail("quotaUsed");
        if (!fault("li-quota-failed")) QUOTA.merge(fault("li-quota-ever") ? q.caller.key() : day, 1L, Long::sum);
        change(r, "shipped", map("trackingCode", m.get("trackingCode"), "closedAt", t));
        emit("order.closed", r, null, null);
      }
      default -> { from(s, "orderClosed", "open", "confirmed"); change(r, "cancelled", map("closedAt", t)); emit("order.closed", r, null, null); }
    }
    if (r.res == Model.HIDE) emit("hide.changed", r, null, null);
    return new Answer(200, Map.of(), envelope(q, r, false));
  }

  static void from(String state, String code, String... states) { if (!List.of(states).contains(state)) throw new Fail(code); }

  // ---- lists ----

  static int order(Object a, Object b, boolean text) {
    if (text || a instanceof String) return String.valueOf(a).compareTo(String.valueOf(b));
    return Double.compare(((Number) a).doubleValue(), ((Number) b).doubleValue());
  }

  static boolean passes(Par p, Object have, Object want) {
    if (have == null) return false;
    if (p.op.equals("in")) return fault("en-in-first") ? have.equals(((List<?>) want).get(0)) : ((List<?>) want).contains(have);
    if (p.type == 't') have = Shape.instant((String) have);
    return switch (p.op) {
      case "=" -> have.equals(want);
      case "!=" -> !have.equals(want);
      case "prefix" -> ((String) have).startsWith((String) want);
      case "contains" -> ((String) have).contains((String) want);
      default -> {
        int c = order(have, want, false);
        yield p.op.equals(">=") ? c >= 0 : p.op.equals("<=") ? c <= 0 : p.op.equals(">") ? c > 0 : c < 0;
      }
    };
  }

  static Answer list(Request q) {
    Model.Resource res = q.route.res;
    if (res == Model.READING) {
      Model.Row b = Model.BATCH.rows.get(q.ids.get(0));
      if (b == null || !mayRead(q.caller, b)) throw new Fail("notFound");
    }
    List<Model.Row> rows = new ArrayList<>();
    for (Model.Row r : res.rows.values()) {
      if (!may(q.op, q.caller, r) || res == Model.READING && !String.valueOf(r.m.get("batch")).equals(q.ids.get(0))) continue;
      boolean fits = true;
      for (Par p : params(q.op, q.old())) if (p.field != null && q.params.containsKey(p.name)) fits &= passes(p, r.m.get(p.field), q.params.get(p.name));
      if (fits) rows.add(r);
    }
    List<String> keys = switch (res.name) {
      case "pit" -> List.of("code");
      case "hide" -> List.of(fault("en-order") ? "arrivedAt" : "-arrivedAt");
      case "batch" -> List.of("nr");
      case "reading" -> List.of("-takenAt");
      case "order" -> fault("en-order-second") ? List.of("-totalCents", "-placedAt") : List.of("-totalCents", "placedAt");
      default -> List.of();
    };
    if (q.params.get("sort") instanceof String s) keys = List.of(s);
    final List<String> by = keys;
    Comparator<Model.Row> cmp = (a, b) -> {
      for (String k : by) {
        String f = k.replace("-", "");
        int c = order(a.m.get(f), b.m.get(f), fault("en-sort-text") && f.equals("litres"));
        if (c != 0) return k.startsWith("-") ? -c : c;
      }
      return fault("en-ties") ? Long.compare(b.seq, a.seq) : Long.compare(a.seq, b.seq);
    };
    rows.sort(cmp);
    int total = rows.size(), size = ((Number) q.params.getOrDefault("", 1 << 30L)).intValue();
    if (res == Model.READING) {
      int skip = Math.min(total, Integer.parseInt((String) q.params.getOrDefault("skip", "0")) + (fault("li-skip") && q.params.containsKey("skip") ? 1 : 0));
      rows = rows.subList(skip, total);
    }
    if (q.params.get("pageToken") instanceof List<?> l) {
      Model.Row mark = new Model.Row();
      mark.m = new LinkedHashMap<>();
      mark.seq = (long) l.get(0);
      for (int i = 0; i < by.size(); i++) mark.m.put(by.get(i).replace("-", ""), l.get(i + 1));
      rows.removeIf(r -> fault("li-token-again") ? cmp.compare(r, mark) < 0 : cmp.compare(r, mark) <= 0);
    }
    boolean more = rows.size() > size || fault("li-token-last") && rows.size() == size;
    if (rows.size() > size) rows = rows.subList(0, size);
    List<Object> items = new ArrayList<>();
    for (Model.Row r : rows) items.add(render(res, r.m, q.caller, fault("ve-list") ? "v2" : q.version, false));
    Map<String, Object> page = map("items", items);
    if (res != Model.HOOK && res != Model.READING) page.putAll(map("nextPageToken", more ? token(q, rows.get(rows.size() - 1), by) : null, "hasMore", more, "kind", "page"));
    if (res != Model.HOOK) page.put("totalItems", fault("en-total") ? items.size() : total);
    return new Answer(200, Map.of(), page);
  }

  // ---- start ----

  public static void main(String[] args) throws Exception {
    int port = 0, clock = 0;
    for (int i = 0; i + 1 < args.length; i += 2) switch (args[i]) {
      case "--port" -> port = Integer.parseInt(args[i + 1]);
      case "--clock-port" -> clock = Integer.parseInt(args[i + 1]);
      case "--fault" -> FAULT = args[i + 1];
      default -> throw new IllegalArgumentException(args[i]);
    }
    System.setProperty("sun.net.httpserver.nodelay", "true");
    System.setProperty("sun.net.httpserver.idleInterval", "60");
    RANDOM.nextBytes(SECRET);
    HttpServer s = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 200), d = HttpServer.create(new InetSocketAddress("127.0.0.1", clock), 20);
    s.createContext("/", Tannery::serve);
    d.createContext("/", Tannery::door);
    s.setExecutor(POOL);
    d.setExecutor(POOL);
    s.start();
    d.start();
    System.out.println("tanhouse at http://127.0.0.1:" + s.getAddress().getPort() + BASE + " and its clock at http://127.0.0.1:" + d.getAddress().getPort() + "/");
    System.out.flush();
    while (true) {
      pause(40);
      if (!moving) settle(now(), false);
    }
  }
}
