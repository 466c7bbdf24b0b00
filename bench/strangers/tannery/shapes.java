import java.net.URI;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.*;
import java.util.regex.Pattern;

/** What a value must be like. A shape adds a spot for each place that is not. */
interface Shape {
  record Spot(String at, String expected) {}

  void check(Object v, String at, List<Spot> out);

  static Shape of(String expected, java.util.function.Predicate<Object> good) {
    return (v, at, out) -> { if (!good.test(v)) out.add(new Spot(at, expected)); };
  }

  static Shape text() { return of("a text", v -> v instanceof String); }

  static Shape text(int min, int max) {
    return of("a text of " + min + " to " + max + " characters", v -> v instanceof String s && length(s) >= min && length(s) <= max);
  }

  private static int length(String s) { return Tannery.fault("re-length-units") ? s.length() : s.codePointCount(0, s.length()); }

  static Shape pattern(String p) {
    Pattern c = Pattern.compile(p), loose = Pattern.compile(p, Pattern.CASE_INSENSITIVE);
    return of("a text like " + p, v -> v instanceof String s && (Tannery.fault("re-tag-case") ? loose : c).matcher(s).matches());
  }

  static Shape whole(long min, long max) {
    return of("a whole number from " + min + " to " + max, v -> v instanceof Long n && n >= min && n <= max);
  }

  static Shape number(double min, double max) {
    return of("a number from " + min + " to " + max, v -> v instanceof Number n && n.doubleValue() >= min
        && (Tannery.fault("re-weight-edge") && max == 90 ? n.doubleValue() < max : n.doubleValue() <= max));
  }

  static Shape bool() { return of("true or false", v -> v instanceof Boolean); }

  static Shape in(String... names) { return of("one of " + String.join(", ", names), v -> Arrays.asList(names).contains(v)); }

  static Shape maybe(Shape s) { return (v, at, out) -> { if (v != null || Tannery.fault("re-null-message")) s.check(v, at, out); }; }

  static Shape list(Shape item, int max, boolean unique) {
    return (v, at, out) -> {
      if (!(v instanceof List<?> l)) { out.add(new Spot(at, "a list")); return; }
      if (l.size() > max) out.add(new Spot(at, "at most " + max + " items"));
      if (unique && new HashSet<>(l).size() < l.size() && !Tannery.fault("re-labels-twice")) out.add(new Spot(at, "items that differ"));
      for (int i = 0; i < l.size(); i++) item.check(l.get(i), at + "/" + i, out);
    };
  }

  static Shape object(Map<String, Shape> fields, Set<String> required) {
    return (v, at, out) -> {
      if (!(v instanceof Map<?, ?> m)) { out.add(new Spot(at, "an object")); return; }
      for (var e : m.entrySet()) {
        Shape s = fields.get(e.getKey());
        if (s != null) s.check(e.getValue(), at + "/" + e.getKey(), out);
        else if (!Tannery.fault("re-extra-nested")) out.add(new Spot(at + "/" + e.getKey(), "no such field"));
      }
      for (String r : required) if (!m.containsKey(r)) out.add(new Spot(at + "/" + r, "a value"));
    };
  }

  static Shape country() {
    Set<String> all = Set.of(Locale.getISOCountries());
    return of("a country of ISO 3166", v -> v instanceof String s && (Tannery.fault("re-country") ? s.matches("[A-Z]{2}") : all.contains(s)));
  }

  static Shape date() {
    return of("a date", v -> v instanceof String s && s.matches("\\d{4}-\\d\\d-\\d\\d") && (Tannery.fault("re-date") || quiet(() -> LocalDate.parse(s))));
  }

  static Shape time() { return of("a date and time of RFC 3339", v -> v instanceof String s && instant(s) != null); }

  static Shape uri() {
    return of("a URI", v -> v instanceof String s && s.matches("[A-Za-z][A-Za-z0-9+.-]*:[\\x21-\\x7e]+") && quiet(() -> URI.create(s)));
  }

  static Shape email() {
    return of("an e-mail address", v -> v instanceof String s && s.matches("[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*")
        && !s.contains("..") && !s.startsWith(".") && !s.contains(".@"));
  }

  static Long instant(String s) {
    if (!s.matches("(?i)\\d{4}-\\d\\d-\\d\\dt\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?(z|[+-]\\d\\d:\\d\\d)")) return null;
    try {
      return OffsetDateTime.parse(s.toUpperCase(Locale.ROOT)).toInstant().toEpochMilli();
    } catch (Exception e) {
      return null;
    }
  }

  private static boolean quiet(Runnable r) {
    try {
      r.run();
      return true;
    } catch (Exception e) {
      return false;
    }
  }
}
