import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.*;

/** JSON in and out: maps, lists, strings, Long for whole numbers, Double for others, Boolean, null. */
final class Json {
  private final String s;
  private int i;

  private Json(String s) { this.s = s; }

  static Object parse(byte[] bytes) {
    try {
      return parse(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("not UTF-8");
    }
  }

  static Object parse(String text) {
    Json j = new Json(text);
    Object v = j.value(0);
    j.space();
    if (j.i < text.length()) throw j.bad();
    return v;
  }

  private IllegalArgumentException bad() { return new IllegalArgumentException("at " + i); }

  private void space() { while (i < s.length() && " \t\r\n".indexOf(s.charAt(i)) >= 0) i++; }

  private boolean eat(char c) {
    space();
    if (i < s.length() && s.charAt(i) == c) { i++; return true; }
    return false;
  }

  private Object word(String w, Object v) {
    if (!s.startsWith(w, i)) throw bad();
    i += w.length();
    return v;
  }

  private Object value(int depth) {
    space();
    if (i >= s.length() || depth > 60) throw bad();
    char c = s.charAt(i);
    switch (c) {
      case '{': {
        i++;
        Map<String, Object> m = new LinkedHashMap<>();
        if (eat('}')) return m;
        do {
          space();
          if (i >= s.length() || s.charAt(i) != '"') throw bad();
          String k = string();
          if (!eat(':')) throw bad();
          m.put(k, value(depth + 1));
        } while (eat(','));
        if (!eat('}')) throw bad();
        return m;
      }
      case '[': {
        i++;
        List<Object> l = new ArrayList<>();
        if (eat(']')) return l;
        do l.add(value(depth + 1)); while (eat(','));
        if (!eat(']')) throw bad();
        return l;
      }
      case '"': return string();
      case 't': return word("true", true);
      case 'f': return word("false", false);
      case 'n': return word("null", null);
      default: {
        var m = NUMBER.matcher(s).region(i, s.length());
        if (!m.lookingAt()) throw bad();
        i = m.end();
        return number(m.group());
      }
    }
  }

  private static final java.util.regex.Pattern NUMBER = java.util.regex.Pattern.compile("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

  static Object number(String t) {
    if (!t.matches("-?[0-9]{1,18}")) {
      double d = Double.parseDouble(t);
      if (Double.isInfinite(d)) throw new IllegalArgumentException("too large");
      return d == Math.rint(d) && Math.abs(d) < 9e15 ? (Object) (long) d : (Object) d;
    }
    return Long.parseLong(t);
  }

  private String string() {
    StringBuilder b = new StringBuilder();
    for (i++; i < s.length(); i++) {
      char c = s.charAt(i);
      if (c == '"') { i++; return b.toString(); }
      if (c < 32) throw bad();
      if (c != '\\') { b.append(c); continue; }
      if (++i >= s.length()) throw bad();
      int n = "\"\\/bfnrt".indexOf(s.charAt(i));
      if (n >= 0) { b.append("\"\\/\b\f\n\r\t".charAt(n)); continue; }
      if (s.charAt(i) != 'u' || i + 5 > s.length() || !s.substring(i + 1, i + 5).matches("[0-9a-fA-F]{4}")) throw bad();
      b.append((char) Integer.parseInt(s.substring(i + 1, i + 5), 16));
      i += 4;
    }
    throw bad();
  }

  static String text(Object v) {
    StringBuilder b = new StringBuilder();
    write(v, b);
    return b.toString();
  }

  private static void write(Object v, StringBuilder b) {
    if (v instanceof Map<?, ?> m) {
      char sep = '{';
      if (m.isEmpty()) b.append('{');
      for (var e : m.entrySet()) {
        b.append(sep);
        sep = ',';
        write(e.getKey(), b);
        b.append(':');
        write(e.getValue(), b);
      }
      b.append('}');
    } else if (v instanceof Collection<?> l) {
      char sep = '[';
      if (l.isEmpty()) b.append('[');
      for (Object o : l) {
        b.append(sep);
        sep = ',';
        write(o, b);
      }
      b.append(']');
    } else if (v instanceof String s) {
      b.append('"');
      for (char c : s.toCharArray()) {
        if (c == '"' || c == '\\') b.append('\\').append(c);
        else if (c < 32) b.append(String.format("\\u%04x", (int) c));
        else b.append(c);
      }
      b.append('"');
    } else b.append(v);
  }
}
