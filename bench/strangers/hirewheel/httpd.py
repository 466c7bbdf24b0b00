"""A small HTTP/1.1 door on asyncio: keep-alive, chunks, time-outs. It knows nothing of bicycles."""
import asyncio
from http import HTTPStatus

PHRASES = {s.value: s.phrase for s in HTTPStatus}
CAP = 4 * 1024 * 1024


class Request:
    __slots__ = ("method", "target", "path", "query", "headers", "body", "address", "bad")

    def __init__(self, method, target, headers, address):
        self.method, self.target, self.headers, self.address = method, target, headers, address
        self.path, _, self.query = target.partition("?")
        self.body = b""
        self.bad = None

    def get(self, name):
        """The one value of a header, or None."""
        for n, v in self.headers:
            if n == name:
                return v
        return None

    def all(self, name):
        return [v for n, v in self.headers if n == name]


class Answer:
    __slots__ = ("status", "headers", "body")

    def __init__(self, status, headers=None, body=b""):
        self.status, self.headers, self.body = status, headers or [], body


def write(req, ans, close):
    head = ["HTTP/1.1 %d %s" % (ans.status, PHRASES.get(ans.status, "Status"))]
    for n, v in ans.headers:
        head.append("%s: %s" % (n, v))
    if ans.status not in (204, 304):
        head.append("Content-Length: %d" % len(ans.body))
    head.append("Connection: close" if close else "Connection: keep-alive")
    out = ("\r\n".join(head) + "\r\n\r\n").encode("latin-1", "replace")
    if req is not None and req.method == "HEAD" or ans.status in (204, 304):
        return out
    return out + ans.body


class Door:
    """app(req) -> Answer; late() -> Answer for what does not arrive in time; garbled() for what is no HTTP."""

    def __init__(self, app, late, garbled, request_s=10.0, idle_s=30.0):
        self.app, self.late, self.garbled = app, late, garbled
        self.request_s, self.idle_s = request_s, idle_s

    async def read_head(self, reader, first):
        data = first + await reader.readuntil(b"\r\n\r\n")
        return data

    async def read_body(self, reader, req):
        te = (req.get("transfer-encoding") or "").lower()
        if te:
            parts, size = [], 0
            while True:
                line = await reader.readline()
                n = int(line.split(b";")[0].strip() or b"x", 16)
                if n == 0:
                    while (await reader.readline()).strip():
                        pass
                    return b"".join(parts)
                size += n
                if size > CAP:
                    raise ValueError("too much")
                parts.append(await reader.readexactly(n))
                await reader.readline()
        n = int(req.get("content-length") or 0)
        if n < 0:
            raise ValueError("length")
        if n <= CAP:
            return await reader.readexactly(n) if n else b""
        left = n
        while left:
            got = await reader.read(min(left, 65536))
            if not got:
                break
            left -= len(got)
        return b"x" * CAP

    def parse(self, data, address):
        lines = data[:-4].split(b"\r\n")
        method, target, proto = lines[0].decode("latin-1").split(" ")
        if not proto.startswith("HTTP/1."):
            raise ValueError("protocol")
        headers = []
        for line in lines[1:]:
            name, sep, value = line.decode("latin-1").partition(":")
            if not sep or not name or name != name.strip():
                raise ValueError("header")
            headers.append((name.lower(), value.strip(" \t")))
        if target.startswith("http://"):
            rest = target[7:]
            target = rest[rest.find("/"):] if "/" in rest else "/"
        return Request(method, target, headers, address), proto

    async def talk(self, reader, writer):
        peer = writer.get_extra_info("peername")
        address = peer[0] if peer else "?"
        try:
            while True:
                try:
                    first = await asyncio.wait_for(reader.read(1), self.idle_s)
                except asyncio.TimeoutError:
                    return
                if not first:
                    return
                if first in b"\r\n":
                    continue
                req = None
                try:
                    async with asyncio.timeout(self.request_s):
                        data = await self.read_head(reader, first)
                        req, proto = self.parse(data, address)
                        if (req.get("expect") or "").lower() == "100-continue":
                            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                        req.body = await self.read_body(reader, req)
                except TimeoutError:
                    writer.write(write(req, self.late(), True))
                    await writer.drain()
                    return
                except (ValueError, asyncio.LimitOverrunError):
                    writer.write(write(req, self.garbled(), True))
                    await writer.drain()
                    return
                ans = self.app(req)
                if asyncio.iscoroutine(ans):
                    ans = await ans
                close = proto == "HTTP/1.0" or "close" in (req.get("connection") or "").lower()
                writer.write(write(req, ans, close))
                await writer.drain()
                if close:
                    return
        except (ConnectionError, asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()

    async def open(self, port):
        return await asyncio.start_server(self.talk, "127.0.0.1", port, limit=1024 * 1024, backlog=256)
