"""HTTP by hand: one thread to a connection, bodies with a length or in chunks, times for what does not arrive."""
import json
import re
import socket
import threading
import time

from fault import on

REQUEST_S, IDLE_S = 5, 20
BODY_S = 60
DRAIN = 1 << 20
PHRASES = {200: 'OK', 201: 'Created', 204: 'No Content', 304: 'Not Modified', 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden',
           404: 'Not Found', 405: 'Method Not Allowed', 406: 'Not Acceptable', 408: 'Request Timeout', 409: 'Conflict', 410: 'Gone',
           412: 'Precondition Failed', 413: 'Content Too Large', 415: 'Unsupported Media Type', 422: 'Unprocessable Content',
           423: 'Locked', 428: 'Precondition Required', 429: 'Too Many Requests', 500: 'Internal Server Error', 503: 'Service Unavailable'}


class Late(Exception):
    """What was announced did not come in time."""


class Garbled(Exception):
    """What came is no HTTP."""


class Long(Exception):
    """A line that is longer than anybody needs."""


class Request:
    def __init__(self, method, target, lines):
        self.method, self.target, self.lines = method, target, lines
        self.headers = {}
        for name, value in lines:
            self.headers.setdefault(name.lower(), []).append(value)
        self.header_bytes = sum(len(name.encode('latin-1')) + len(value.encode('latin-1')) + 4 for name, value in lines)
        self.body, self.too_large, self.garbled, self.peer = b'', False, False, ''

    def header(self, name):
        found = self.headers.get(name.lower())
        return found[0] if found else None


class Reader:
    def __init__(self, sock):
        self.sock, self.buffer = sock, b''
        self.deadline, self.began = None, False

    def more(self):
        if self.deadline is not None:
            left = self.deadline - time.monotonic()
            if left <= 0:
                raise Late()
            self.sock.settimeout(left)
        try:
            data = self.sock.recv(65536)
        except (TimeoutError, socket.timeout):
            raise Late() from None
        if not data:
            raise ConnectionError()
        self.buffer += data

    def line(self, most=1 << 17):
        while b'\n' not in self.buffer:
            if len(self.buffer) > most:
                raise Long()
            self.more()
        line, self.buffer = self.buffer.split(b'\n', 1)
        return line.rstrip(b'\r')

    def take(self, count):
        while len(self.buffer) < count:
            self.more()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def skip(self, count):
        while count > 0:
            if not self.buffer:
                self.more()
            gone = min(count, len(self.buffer))
            self.buffer, count = self.buffer[gone:], count - gone


def read_request(reader, sock, most_body):
    reader.deadline = time.monotonic() + IDLE_S
    while True:
        while not reader.buffer:
            reader.more()
        reader.began = True
        reader.deadline = time.monotonic() + REQUEST_S
        first = reader.line()
        if first:
            break
        reader.deadline = time.monotonic() + IDLE_S
    parts = first.decode('latin-1').split(' ')
    if len(parts) != 3 or not parts[2].startswith('HTTP/1.'):
        raise Garbled()
    lines = []
    while True:
        line = reader.line()
        if not line:
            break
        name, colon, value = line.decode('latin-1').partition(':')
        if not colon or not name or name != name.strip():
            raise Garbled()
        lines.append((name, value.strip()))
    request = Request(parts[0], parts[1], lines)
    request.old = parts[2] == 'HTTP/1.0'
    if (request.header('expect') or '').lower() == '100-continue':
        sock.sendall(b'HTTP/1.1 100 Continue\r\n\r\n')
    if on('body-waits'):
        reader.deadline = time.monotonic() + BODY_S
    request.close = 'close' in (request.header('connection') or '').lower() or request.old
    if 'chunked' in (request.header('transfer-encoding') or '').lower():
        read_chunks(reader, request, most_body)
    elif request.header('content-length') is not None:
        text = request.header('content-length')
        if not re.fullmatch(r'[0-9]+', text):
            raise Garbled()
        length = int(text)
        if length > most_body('length'):
            request.too_large = True
            if length > DRAIN:
                request.close = True
            else:
                reader.skip(length)
        else:
            request.body = reader.take(length)
    return request


def read_chunks(reader, request, most_body):
    body, total = [], 0
    while True:
        size = reader.line().split(b';')[0].strip()
        if not re.fullmatch(rb'[0-9a-fA-F]{1,8}', size):
            raise Garbled()
        length = int(size, 16)
        if length == 0:
            while reader.line():
                pass
            break
        total += length
        if total > DRAIN:
            request.too_large = request.close = True
            return
        if total > most_body('chunked'):
            request.too_large = True
            reader.skip(length)
        else:
            body.append(reader.take(length))
        if reader.line():
            raise Garbled()
    if not request.too_large:
        request.body = b''.join(body)


def answer_bytes(status, headers, body, bare=False):
    head = [f'HTTP/1.1 {status} {PHRASES.get(status, "Status")}']
    head += [f'{name}: {value}' for name, value in headers]
    if status not in (204, 304):
        head.append(f'Content-Length: {len(body)}')
    return ('\r\n'.join(head) + '\r\n\r\n').encode('latin-1') + (b'' if bare or status in (204, 304) else body)


def part(sock):
    """Closes so that what was said arrives, though the other side may still be talking."""
    sock.shutdown(socket.SHUT_WR)
    sock.settimeout(1)
    for _ in range(256):
        if not sock.recv(65536):
            return


def serve(port, handle, told_of, most_body):
    """`handle(request, sock)` gives (status, headers, body), or None where it has answered by itself."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(('127.0.0.1', port))
    listener.listen(256)

    def one(sock, peer):
        reader = Reader(sock)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while True:
                try:
                    request = read_request(reader, sock, most_body)
                except Late:
                    if reader.began:
                        sock.sendall(told_of('late'))
                    return
                except Garbled:
                    sock.sendall(told_of('garbled'))
                    part(sock)
                    return
                except Long:
                    sock.sendall(told_of('long'))
                    part(sock)
                    return
                request.peer = peer
                answer = handle(request, sock)
                if answer is None:
                    return
                status, headers, body = answer
                if request.close:
                    headers = [*headers, ('Connection', 'close')]
                sock.settimeout(30)
                sock.sendall(answer_bytes(status, headers, body, request.method == 'HEAD'))
                if request.close:
                    part(sock)
                    return
                reader.began = False
        except (ConnectionError, OSError):
            pass
        finally:
            sock.close()

    def loop():
        while True:
            sock, address = listener.accept()
            threading.Thread(target=one, args=(sock, address[0]), daemon=True).start()

    threading.Thread(target=loop, daemon=True).start()


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(',', ':')).encode()
