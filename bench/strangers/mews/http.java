import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;

/** A small door for HTTP/1.1: a thread for each connection, bodies read when they are asked for. */
final class Http {
  static final class TooLarge extends RuntimeException { TooLarge() { super(null, null, false, false); } }
  static final class TooSlow extends RuntimeException { TooSlow() { super(null, null, false, false); } }
  static final class Cut extends RuntimeException { Cut() { super(null, null, false, false); } }
  static final class BadBody extends RuntimeException { BadBody() { super(null, null, false, false); } }

  interface App { Answer answer(Request q) throws Exception; }

  static final class Request {
    String method, target, path, query, address;
    final List<String[]> headers = new ArrayList<>();
    int headerBytes;
    boolean slow, broken;
    Conn conn;
    Object note;
    String header(String name) { for (String[] h : headers) if (h[0].equalsIgnoreCase(name)) return h[1]; return null; }
    List<String> all(String name) { List<String> l = new ArrayList<>(); for (String[] h : headers) if (h[0].equalsIgnoreCase(name)) l.add(h[1]); return l; }
    private byte[] body;
    boolean bodyRead;
    boolean hasBody() { String te = header("Transfer-Encoding"), cl = header("Content-Length"); return te != null || cl != null && !cl.trim().equals("0"); }
    /** The body, up to so many bytes. */
    byte[] body(int limit) {
      if (bodyRead) return body;
      bodyRead = true;
      body = conn.readBody(this, limit);
      return body;
    }
  }

  static final class Answer {
    int status = 200;
    final Map<String, String> headers = new LinkedHashMap<>();
    byte[] body;
    boolean close;
    Stream stream;
  }
  interface Stream { void run(OutputStream out) throws Exception; }

  static void serve(int port, App app, long requestMs, long idleMs) throws IOException {
    ServerSocket ss = new ServerSocket();
    ss.setReuseAddress(true);
    ss.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), 512);
    ExecutorService pool = Executors.newCachedThreadPool();
    Thread t = new Thread(() -> {
      while (true) {
        try { Socket s = ss.accept(); s.setTcpNoDelay(true); pool.execute(() -> new Conn(s, app, requestMs, idleMs).run()); }
        catch (IOException e) { try { Thread.sleep(10); } catch (InterruptedException x) { return; } }
      }
    });
    t.start();
  }

  static final class Conn {
    final Socket s; final App app; final long requestMs, idleMs;
    InputStream in; OutputStream out;
    final byte[] buf = new byte[8192]; int at = 0, end = 0;
    long deadline;
    Conn(Socket s, App app, long requestMs, long idleMs) { this.s = s; this.app = app; this.requestMs = requestMs; this.idleMs = idleMs; }

    int read() throws IOException {
      if (at < end) return buf[at++] & 255;
      long left = deadline - System.currentTimeMillis();
      if (left <= 0) throw new TooSlow();
      s.setSoTimeout((int) left);
      try { end = in.read(buf); } catch (SocketTimeoutException e) { throw new TooSlow(); }
      at = 0;
      if (end <= 0) { end = 0; return -1; }
      return buf[at++] & 255;
    }

    String line(int max) throws IOException {
      ByteArrayOutputStream b = new ByteArrayOutputStream(80);
      while (true) {
        int c = read();
        if (c < 0) { if (b.size() == 0) return null; throw new Cut(); }
        if (c == '\n') break;
        b.write(c);
        if (b.size() > max) throw new TooLarge();
      }
      String l = b.toString(StandardCharsets.ISO_8859_1);
      return l.endsWith("\r") ? l.substring(0, l.length() - 1) : l;
    }

    void run() {
      try (Socket sock = s) {
        in = s.getInputStream(); out = s.getOutputStream();
        while (true) {
          deadline = System.currentTimeMillis() + idleMs;
          Request q = new Request();
          q.conn = this; q.address = s.getInetAddress().getHostAddress();
          String first;
          try {
            int c = read();
            if (c < 0) return;
            at--;
            deadline = System.currentTimeMillis() + requestMs;
          } catch (TooSlow e) { return; }
          boolean close = false;
          try {
            first = line(65536);
            if (first != null && first.isEmpty()) first = line(65536);
            if (first == null) return;
            String[] p = first.split(" ");
            if (p.length != 3 || !p[2].startsWith("HTTP/1.")) { q.broken = true; close = true; q.method = "GET"; q.target = "/"; }
            else { q.method = p[0]; q.target = p[1]; if (p[2].equals("HTTP/1.0")) close = true; }
            if (!q.broken) {
              String l; int total = 0;
              while ((l = line(131072)) != null && !l.isEmpty()) {
                total += l.length() + 2;
                if (total > 131072) throw new TooLarge();
                int k = l.indexOf(':');
                if (k <= 0) { q.broken = true; close = true; continue; }
                q.headers.add(new String[] { l.substring(0, k).trim(), new String(l.substring(k + 1).trim().getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8) });
              }
              if (l == null) return;
              q.headerBytes = total;
            }
          } catch (TooLarge e) { q.headerBytes = 1 << 20; if (q.target == null) { q.method = "GET"; q.target = "/" + "x".repeat(70000); } close = true; }
          catch (TooSlow e) { q.slow = true; if (q.target == null) { q.method = "GET"; q.target = "/"; } close = true; }
          int h = q.target.indexOf('#'); if (h >= 0) q.target = q.target.substring(0, h);
          if (q.target.startsWith("http://")) { int k = q.target.indexOf('/', 7); q.target = k < 0 ? "/" : q.target.substring(k); }
          int k = q.target.indexOf('?');
          q.path = k < 0 ? q.target : q.target.substring(0, k);
          q.query = k < 0 ? null : q.target.substring(k + 1);
          String conh = q.header("Connection");
          if (conh != null && conh.toLowerCase().contains("close")) close = true;
          Answer a = app.answer(q);
          if (a == null) return;
          if (a.close) close = true;
          boolean head = q.method.equals("HEAD");
          StringBuilder b = new StringBuilder(256);
          b.append("HTTP/1.1 ").append(a.status).append(' ').append(reason(a.status)).append("\r\n");
          a.headers.forEach((n, v) -> b.append(n).append(": ").append(v).append("\r\n"));
          if (a.stream != null && !head) b.append("Transfer-Encoding: chunked\r\n");
          else if (a.status != 204 && a.status != 304) b.append("Content-Length: ").append(a.body == null ? 0 : a.body.length).append("\r\n");
          boolean rest = !q.bodyRead && q.hasBody();
          if (rest) { String cl = q.header("Content-Length"); try { if (cl == null || Long.parseLong(cl.trim()) > 262144) close = true; } catch (NumberFormatException e) { close = true; } }
          if (close) b.append("Connection: close\r\n");
          b.append("\r\n");
          byte[] hb = b.toString().getBytes(StandardCharsets.UTF_8);
          if (a.stream != null && !head) {
            out.write(hb); out.flush();
            s.setSoTimeout(0);
            a.stream.run(new OutputStream() {
              public void write(int c) throws IOException { write(new byte[] { (byte) c }, 0, 1); }
              public void write(byte[] x, int o, int n) throws IOException {
                ByteArrayOutputStream m = new ByteArrayOutputStream(n + 16);
                m.write((Integer.toHexString(n) + "\r\n").getBytes()); m.write(x, o, n); m.write("\r\n".getBytes());
                out.write(m.toByteArray()); out.flush();
              }
            });
            return;
          }
          if (a.body != null && !head && a.status != 204 && a.status != 304) {
            byte[] all = Arrays.copyOf(hb, hb.length + a.body.length);
            System.arraycopy(a.body, 0, all, hb.length, a.body.length);
            out.write(all);
          } else out.write(hb);
          out.flush();
          if (close) { linger(); return; }
          if (rest) { deadline = System.currentTimeMillis() + requestMs; readBody(q, 1 << 20); }
        }
      } catch (Cut | TooSlow | TooLarge | BadBody | IOException e) {
        // the connection is over
      } catch (Exception e) {
        e.printStackTrace();
      }
    }

    /** Lets what is still under way arrive, so that the answer is not lost with it. */
    void linger() {
      try { s.shutdownOutput(); s.setSoTimeout(300); long until = System.currentTimeMillis() + 1000; while (System.currentTimeMillis() < until && in.read(buf) > 0) { } } catch (IOException e) { }
    }

    byte[] readBody(Request q, int limit) {
      try {
        String te = q.header("Transfer-Encoding"), cl = q.header("Content-Length");
        if (te == null && cl == null) return new byte[0];
        long n = -1;
        if (te == null) {
          try { n = Long.parseLong(cl.trim()); } catch (NumberFormatException e) { throw new BadBody(); }
          if (n < 0) throw new BadBody();
          if (n > limit) { q.bodyRead = false; throw new TooLarge(); }
        }
        String ex = q.header("Expect");
        if (ex != null && ex.equalsIgnoreCase("100-continue")) { out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes()); out.flush(); }
        if (te == null) {
          byte[] b = new byte[(int) n];
          for (int i = 0; i < n; i++) { int c = read(); if (c < 0) throw new Cut(); b[i] = (byte) c; }
          return b;
        }
        ByteArrayOutputStream o = new ByteArrayOutputStream();
        while (true) {
          String l = line(256); if (l == null) throw new Cut();
          int k = l.indexOf(';'); if (k >= 0) l = l.substring(0, k);
          int size; try { size = Integer.parseInt(l.trim(), 16); } catch (NumberFormatException e) { throw new BadBody(); }
          if (size == 0) { while ((l = line(8192)) != null && !l.isEmpty()) { } break; }
          if (o.size() + size > limit) throw new TooLarge();
          for (int i = 0; i < size; i++) { int c = read(); if (c < 0) throw new Cut(); o.write(c); }
          line(8);
        }
        return o.toByteArray();
      } catch (IOException e) { throw new Cut(); }
    }
  }

  static String reason(int s) {
    switch (s) {
      case 200: return "OK"; case 201: return "Created"; case 204: return "No Content"; case 304: return "Not Modified";
      case 400: return "Bad Request"; case 401: return "Unauthorized"; case 403: return "Forbidden"; case 404: return "Not Found";
      case 405: return "Method Not Allowed"; case 406: return "Not Acceptable"; case 408: return "Request Timeout"; case 409: return "Conflict";
      case 410: return "Gone"; case 412: return "Precondition Failed"; case 413: return "Content Too Large"; case 415: return "Unsupported Media Type";
      case 422: return "Unprocessable Content"; case 425: return "Too Early"; case 428: return "Precondition Required"; case 429: return "Too Many Requests";
      case 500: return "Internal Server Error"; case 503: return "Service Unavailable"; default: return "Answer";
    }
  }
}
