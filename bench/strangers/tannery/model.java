import java.util.*;
import java.util.function.Function;

/** The resources and their fields, in the newest version and in v1. */
final class Model {
  static final class Field {
    final String name;
    final Shape shape;
    final boolean required, readOnly, writeOnly, immutable, once;
    final Object preset;
    Set<String> visible;

    /** flags: r required, o read-only, w write-only, i immutable, 1 shown once */
    Field(String name, Shape shape, String flags, Object preset) {
      this.name = name;
      this.shape = shape;
      this.preset = preset;
      required = flags.contains("r");
      readOnly = flags.contains("o");
      writeOnly = flags.contains("w");
      immutable = flags.contains("i");
      once = flags.contains("1");
    }
  }

  static final class Resource {
    final String name, id;
    final LinkedHashMap<String, Field> fields = new LinkedHashMap<>();
    LinkedHashMap<String, Field> old = fields;
    final LinkedHashMap<String, Row> rows = new LinkedHashMap<>();

    Resource(String name, String id) { this.name = name; this.id = id; }

    Resource f(String n, Shape s, String flags) { return f(n, s, flags, null); }

    Resource f(String n, Shape s, String flags, Object preset) {
      fields.put(n, new Field(n, s, flags, preset));
      return this;
    }

    Resource seen(String n, String... users) { fields.get(n).visible = Set.of(users); return this; }

    Map<String, Field> in(String version) { return version.equals("v1") ? old : fields; }
  }

  /** One stored thing. Its map is never changed in place, so that whoever holds it keeps what it was. */
  static final class Row {
    Resource res;
    Map<String, Object> m;
    long seq, entered;
    Object fired;

    String id() { return String.valueOf(m.get(res.id)); }
    String s(String k) { return (String) m.get(k); }
    long n(String k) { return ((Number) m.get(k)).longValue(); }
  }

  static final Shape T = Shape.text(), WHEN = Shape.time();
  static final Shape ORIGIN = Shape.object(Map.of("farm", Shape.text(1, 80), "country", Shape.country(), "lots", Shape.list(Shape.whole(1, 999999), 3, false)), Set.of("farm", "country"));
  static final Shape PLACE = Shape.object(Map.of("name", Shape.text(1, 80), "street", Shape.text(1, 120), "city", Shape.text(1, 80), "postcode", Shape.text(0, 12), "country", Shape.country()),
      new LinkedHashSet<>(List.of("name", "street", "city", "country")));

  static final Resource PIT = new Resource("pit", "code")
      .f("code", Shape.pattern("[a-z][a-z0-9-]{1,19}"), "r").f("title", Shape.text(1, 60), "r").f("litres", Shape.whole(100, 50000), "r")
      .f("liquor", Shape.in("oak", "chestnut", "chrome", "alum"), "r", "oak").f("covered", Shape.bool(), "r", false)
      .f("inspectedOn", Shape.date(), "").f("changedAt", WHEN, "ro");
  static final Resource HIDE = new Resource("hide", "id")
      .f("id", T, "ro").f("owner", T, "ro").f("tag", Shape.pattern("[A-Z]{2}-[0-9]{4}"), "r").f("species", Shape.in("cow", "goat", "sheep", "deer"), "r")
      .f("grade", Shape.in("A", "B", "C"), "r", "B").f("weightKg", Shape.number(0.5, 90), "r").f("areaDm2", Shape.whole(1, 900), "")
      .f("askCents", Shape.whole(0, 10000000), "r", 0L).f("origin", ORIGIN, "").f("labels", Shape.list(Shape.text(1, 20), 4, true), "r", List.of())
      .f("note", Shape.text(0, 200), "").f("costCents", Shape.whole(0, 100000000), "").f("certificateUrl", Shape.uri(), "").f("contact", Shape.email(), "")
      .f("shelfMark", T, "o").f("saltings", T, "ro").f("softness", T, "o").f("rejectedBecause", T, "o").f("status", T, "ro").f("arrivedAt", WHEN, "ro").f("changedAt", WHEN, "ro")
      .seen("note", "tanner", "foreman").seen("costCents", "tanner").seen("shelfMark");
  static final Resource BATCH = new Resource("batch", "nr")
      .f("nr", T, "ro").f("owner", T, "ro").f("hide", T, "ri").f("pit", T, "r").f("recipe", Shape.text(1, 100), "r").f("days", Shape.whole(1, 60), "r")
      .f("status", T, "ro").f("startedAt", WHEN, "o").f("restAt", WHEN, "ro").f("finalPh", T, "o").f("createdAt", WHEN, "ro").f("changedAt", WHEN, "ro");
  static final Resource READING = new Resource("reading", "id")
      .f("id", T, "ro").f("batch", Shape.whole(Long.MIN_VALUE, Long.MAX_VALUE), "ri").f("ph", Shape.number(0, 14), "r").f("celsius", Shape.number(-5, 60), "")
      .f("remark", Shape.maybe(Shape.text(0, 100)), "").f("takenAt", WHEN, "ro");
  static final Resource ORDER = new Resource("order", "id")
      .f("id", T, "ro").f("buyer", T, "ro").f("seller", T, "ro").f("hide", T, "ri").f("pieces", Shape.whole(1, 20), "r").f("totalCents", T, "ro")
      .f("rush", Shape.bool(), "ri", false).f("deliverTo", PLACE, "r").f("doorCode", Shape.pattern("[0-9]{4,6}"), "w").f("message", Shape.maybe(Shape.text(0, 300)), "")
      .f("deliverBy", WHEN, "").f("trackingCode", T, "o").f("status", T, "ro").f("placedAt", WHEN, "ro").f("closedAt", WHEN, "o").f("changedAt", WHEN, "ro");
  static final Resource HOOK = new Resource("hook", "id")
      .f("id", T, "ro").f("owner", T, "ro").f("callbackUrl", Shape.uri(), "r").f("topics", Shape.list(topic(), 8, false), "r", List.of("*")).f("sealKey", T, "ro1").f("active", Shape.bool(), "r", true);
  static final List<Resource> ALL = List.of(PIT, HIDE, BATCH, READING, ORDER, HOOK);

  static final List<String> KINDS = List.of("hide.arrived", "hide.changed", "hide.spoiled", "hide.gone", "batch.rested", "batch.closed", "reading.alarm", "order.placed", "order.closed");

  private static Shape topic() {
    return Shape.of("a topic", v -> v instanceof String s && (s.equals("*") || KINDS.contains(s) || s.endsWith(".*") && KINDS.stream().anyMatch(k -> k.startsWith(s.substring(0, s.length() - 1)))));
  }

  static {
    LinkedHashMap<String, Field> h = new LinkedHashMap<>();
    for (Field f : HIDE.fields.values()) {
      if (f.name.equals("grade")) continue;
      if (f.name.equals("species")) h.put("kind", new Field("kind", f.shape, "r", null));
      else if (f.name.equals("askCents")) h.put("askCents", new Field("askCents", Shape.of("a number", v -> v instanceof Number), "r", 0L));
      else h.put(f.name, f);
    }
    h.put("colour", new Field("colour", T, "", null));
    HIDE.old = h;
    PIT.old = new LinkedHashMap<>(PIT.fields);
    PIT.old.put("liquor", new Field("liquor", Shape.in("bark", "chestnut", "chrome", "alum"), "r", "bark"));
  }

  /** A body of v1 as one of v2. */
  static Map<String, Object> up(Resource r, Map<String, Object> b) {
    Map<String, Object> m = new LinkedHashMap<>(b);
    if (r == PIT && "bark".equals(m.get("liquor"))) m.put("liquor", "oak");
    if (r != HIDE) return m;
    if (m.containsKey("kind")) m.put("species", m.remove("kind"));
    m.remove("colour");
    if (m.get("askCents") instanceof Number n) {
      double d = n.doubleValue() * 100;
      m.put("askCents", Tannery.fault("ve-ask-cut") ? (long) d : (long) (Math.signum(d) * Math.floor(Math.abs(d) + 0.5)));
    }
    return m;
  }

  /** A thing of v2 as v1 shows it. */
  static Map<String, Object> down(Resource r, Map<String, Object> v2) {
    Map<String, Object> m = new LinkedHashMap<>(v2);
    if (r == PIT && "oak".equals(m.get("liquor"))) m.put("liquor", "bark");
    if (r != HIDE) return m;
    if (m.containsKey("species")) m.put("kind", m.remove("species"));
    if (!Tannery.fault("ve-grade-shown")) m.remove("grade");
    if (!Tannery.fault("ve-colour")) m.put("colour", "brown");
    if (m.get("askCents") instanceof Number n) {
      double d = n.doubleValue() / 100;
      m.put("askCents", d == Math.rint(d) ? (Object) (long) d : (Object) d);
    }
    return m;
  }

  static String downName(Resource r, String name) { return r == HIDE && name.equals("species") ? "kind" : name; }
}
