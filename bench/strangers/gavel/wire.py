"""HTTP by hand for the fish hall: one thread for each connection, one answer for each request, nothing of the trade."""
import socket
import threading
from urllib.parse import unquote

MOST = 16 << 20


class Broken(Exception):
    """A request that cannot be read at all: its connection ends."""


class Request:
    __slots__ = ("method", "target", "headers", "head_bytes", "body", "address")

    def all(self, name):
        return [v for k, v in self.headers if k == name]

    def one(self, name, default=None):
        got = self.all(name)
        return got[0] if got else default

    @property
    def path(self):
        return self.target.split("?", 1)[0]

    def query(self):
        """The pairs as they were sent; None if an escape is no UTF-8."""
        if "?" not in self.target:
            return []
        pairs = []
        for piece in self.target.split("?", 1)[1].split("&"):
            if piece:
                k, _, v = piece.partition("=")
                pairs.append((plain(k.replace("+", " ")), plain(v.replace("+", " "))))
        return pairs


def plain(text):
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return "\ufffd"


def read_request(f, address, go_on):
    line = f.readline(70000)
    while line in (b"\r\n", b"\n"):
        line = f.readline(70000)
    if not line:
        return None
    parts = line.decode("latin-1").rstrip("\r\n").split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise Broken
    r = Request()
    r.method, r.target, r.address, r.headers, r.head_bytes = parts[0], parts[1], address, [], 0
    while True:
        line = f.readline(70000)
        if not line or not line.endswith(b"\n"):
            raise Broken
        if line in (b"\r\n", b"\n"):
            break
        r.head_bytes += len(line.rstrip(b"\r\n")) + 2
        if r.head_bytes > 400000:
            raise Broken
        name, colon, value = line.decode("latin-1").partition(":")
        if not colon or not name.strip() or name != name.strip():
            raise Broken
        r.headers.append((name.lower(), value.strip()))
    if (r.one("expect") or "").lower() == "100-continue":
        go_on()
    if "chunked" in (r.one("transfer-encoding") or "").lower():
        r.body = read_chunks(f)
    else:
        length = r.one("content-length")
        if length is not None and not length.isdigit():
            raise Broken
        if length and int(length) > MOST:
            raise Broken
        r.body = f.read(int(length)) if length else b""
        if length and len(r.body) < int(length):
            raise Broken
    return r


def read_chunks(f):
    whole = b""
    while True:
        size = f.readline(100).split(b";")[0].strip()
        try:
            n = int(size, 16)
        except ValueError:
            raise Broken from None
        if n == 0:
            while f.readline(1000) not in (b"\r\n", b"\n", b""):
                pass
            return whole
        whole += f.read(n)
        f.readline(10)
        if len(whole) > MOST:
            raise Broken


PHRASES = {200: "OK", 201: "Created", 204: "No Content", 304: "Not Modified"}


def write_answer(conn, method, status, headers, body, close):
    lines = [f"HTTP/1.1 {status} {PHRASES.get(status, 'Refused')}"]
    lines += [f"{k}: {v}" for k, v in headers]
    if status not in (204, 304):
        lines.append(f"Content-Length: {len(body)}")
    if close:
        lines.append("Connection: close")
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
    conn.sendall(head + (b"" if method == "HEAD" or status in (204, 304) else body))


def talk(conn, address, answer):
    try:
        conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        conn.settimeout(60)
        with conn, conn.makefile("rb") as f:
            while True:
                try:
                    r = read_request(f, address, lambda: conn.sendall(b"HTTP/1.1 100 Continue\r\n\r\n"))
                except Broken:
                    write_answer(conn, "GET", 400, [], b"", True)
                    return
                if r is None:
                    return
                close = (r.one("connection") or "").lower() == "close"
                status, headers, body = answer(r)
                write_answer(conn, r.method, status, headers, body, close)
                if close:
                    return
    except OSError:
        pass


def listen(port, answer):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", port))
    s.listen(256)

    def accept():
        while True:
            conn, (address, _) = s.accept()
            threading.Thread(target=talk, args=(conn, address, answer), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return s.getsockname()[1]
