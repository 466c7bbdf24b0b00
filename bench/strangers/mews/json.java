import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.*;
import java.util.*;

/** Reads and writes JSON (RFC 8259). Whole numbers are Long where they fit, all others BigDecimal. */
final class Json {
  static final class Bad extends RuntimeException { Bad(String m) { super(m, null, false, false); } }

  static Object read(byte[] bytes) {
    CharBuffer cb;
    try {
      java.nio.CharBuffer b = StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)
          .onUnmappableCharacter(CodingErrorAction.REPORT).decode(ByteBuffer.wrap(bytes));
      cb = new CharBuffer(b.toString());
    } catch (CharacterCodingException e) { throw new Bad("utf-8"); }
    Object v = cb.value(0);
    cb.space();
    if (cb.i < cb.s.length()) throw new Bad("more after the value");
    return v;
  }

  private static final class CharBuffer {
    final String s; int i = 0;
    CharBuffer(String s) { this.s = s; }
    void space() { while (i < s.length() && " \t\r\n".indexOf(s.charAt(i)) >= 0) i++; }
    char peek() { if (i >= s.length()) throw new Bad("end"); return s.charAt(i); }
    Object value(int depth) {
      if (depth > 60) throw new Bad("deep");
      space();
      char c = peek();
      switch (c) {
        case '{': {
          i++; Map<String, Object> m = new LinkedHashMap<>(); space();
          if (peek() == '}') { i++; return m; }
          while (true) {
            space(); if (peek() != '"') throw new Bad("key"); String k = string(); space();
            if (peek() != ':') throw new Bad(":"); i++;
            m.put(k, value(depth + 1)); space();
            char d = peek(); i++;
            if (d == '}') return m;
            if (d != ',') throw new Bad(",");
          }
        }
        case '[': {
          i++; List<Object> l = new ArrayList<>(); space();
          if (peek() == ']') { i++; return l; }
          while (true) {
            l.add(value(depth + 1)); space();
            char d = peek(); i++;
            if (d == ']') return l;
            if (d != ',') throw new Bad(",");
          }
        }
        case '"': return string();
        case 't': word("true"); return Boolean.TRUE;
        case 'f': word("false"); return Boolean.FALSE;
        case 'n': word("null"); return null;
        default: return number();
      }
    }
    void word(String w) { if (!s.startsWith(w, i)) throw new Bad(w); i += w.length(); }
    boolean digit() { return i < s.length() && s.charAt(i) >= '0' && s.charAt(i) <= '9'; }
    Object number() {
      int b = i; boolean whole = true;
      if (peek() == '-') i++;
      if (!digit()) throw new Bad("number");
      if (s.charAt(i) == '0') i++; else while (digit()) i++;
      if (i < s.length() && s.charAt(i) == '.') { whole = false; i++; if (!digit()) throw new Bad("number"); while (digit()) i++; }
      if (i < s.length() && (s.charAt(i) == 'e' || s.charAt(i) == 'E')) {
        whole = false; i++;
        if (i < s.length() && (s.charAt(i) == '+' || s.charAt(i) == '-')) i++;
        int e = i; if (!digit()) throw new Bad("number"); while (digit()) i++;
        if (i - e > 4) throw new Bad("number");
      }
      String t = s.substring(b, i);
      if (whole && t.length() < 19) return Long.parseLong(t);
      return new BigDecimal(t);
    }
    String string() {
      i++; StringBuilder o = new StringBuilder();
      while (true) {
        char c = peek(); i++;
        if (c == '"') return o.toString();
        if (c < 0x20) throw new Bad("control");
        if (c != '\\') { o.append(c); continue; }
        c = peek(); i++;
        switch (c) {
          case '"': case '\\': case '/': o.append(c); break;
          case 'b': o.append('\b'); break;
          case 'f': o.append('\f'); break;
          case 'n': o.append('\n'); break;
          case 'r': o.append('\r'); break;
          case 't': o.append('\t'); break;
          case 'u':
            if (i + 4 > s.length()) throw new Bad("escape");
            try { o.append((char) Integer.parseInt(s.substring(i, i + 4), 16)); } catch (NumberFormatException e) { throw new Bad("escape"); }
            i += 4; break;
          default: throw new Bad("escape");
        }
      }
    }
  }

  static String write(Object v) { StringBuilder b = new StringBuilder(); write(b, v); return b.toString(); }

  static void write(StringBuilder b, Object v) {
    if (v == null) b.append("null");
    else if (v instanceof String) {
      String s = (String) v; b.append('"');
      for (int i = 0; i < s.length(); i++) {
        char c = s.charAt(i);
        if (c == '"' || c == '\\') b.append('\\').append(c);
        else if (c < 0x20 || Character.isSurrogate(c) && !paired(s, i)) b.append(String.format("\\u%04x", (int) c));
        else b.append(c);
      }
      b.append('"');
    } else if (v instanceof Map) {
      b.append('{'); boolean f = true;
      for (Map.Entry<?, ?> e : ((Map<?, ?>) v).entrySet()) { if (!f) b.append(','); f = false; write(b, e.getKey()); b.append(':'); write(b, e.getValue()); }
      b.append('}');
    } else if (v instanceof Collection) {
      b.append('['); boolean f = true;
      for (Object o : (Collection<?>) v) { if (!f) b.append(','); f = false; write(b, o); }
      b.append(']');
    } else if (v instanceof BigDecimal) b.append(((BigDecimal) v).stripTrailingZeros().toPlainString());
    else b.append(v);
  }
  private static boolean paired(String s, int i) {
    char c = s.charAt(i);
    if (Character.isHighSurrogate(c)) return i + 1 < s.length() && Character.isLowSurrogate(s.charAt(i + 1));
    return i > 0 && Character.isHighSurrogate(s.charAt(i - 1));
  }
}
