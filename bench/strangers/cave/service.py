"""Hollow Hill Caves: python3 service.py --port N --clock-port M [--fault ID]"""
import argparse
import calendar
import hashlib
import hmac
import http.client
import json
import random
import re
import socket
import threading
import time
from datetime import datetime, timezone
from urllib.parse import urlsplit

import shapes
from desk import CODES, Desk, Request
from hill import HOUR, Caller, Hill, Refusal, loosen_rules
from shapes import bug

PEOPLE = [
    ('dairy', 'odile', 'north', ['bring'], 'ck_Nq7vRz2LmXw9TbKc4HsYd1Ef', None),
    ('dairy', 'bruno', 'north', [], 'ck_Pf3kGt8JhVn5QyUa6WmZr0Cx', None),
    ('dairy', 'salka', 'south', ['bring'], 'ck_Be9dLs4XoKj7RvTi2NcMg5Hq', None),
    ('cellarer', 'greta', 'hill', [], 'ck_Wu1yAn6ZpEf8CxSb3LkDj7Vt', 'bdg-4f0c91d27ab35e886d12'),
    ('cellarer', 'anton', 'hill', [], 'ck_Hr5mQe2UwGc9KzIo7YbXl3Np', 'bdg-b81e6620f94dca0357e9'),
    ('taster', 'miren', 'guild', ['judge'], 'ck_Tj8sVb4DyOk1FaLx6PgRn9We', None),
    ('taster', 'yorick', 'guild', ['judge'], 'ck_Cz2hMi7NuSq5XdEv0JtBw8Lf', None)]
WAITS = [10_000, 120_000, HOUR]


# -- the door
class Slow(Exception):
    pass


class Line:
    """One connection, read with deadlines."""
    def __init__(self, sock):
        self.sock, self.buf = sock, b''

    def more(self, deadline, late=Slow):
        left = deadline - time.monotonic()
        if left <= 0:
            raise late()
        self.sock.settimeout(left)
        try:
            got = self.sock.recv(65536)
        except (TimeoutError, socket.timeout):
            raise late()
        if not got:
            raise ConnectionError()
        self.buf += got

    def until(self, mark, deadline, limit):
        while mark not in self.buf:
            if len(self.buf) > limit:
                return None
            self.more(deadline)
        head, _, self.buf = self.buf.partition(mark)
        return head

    def exact(self, n, deadline, keep):
        out = b''
        while n:
            if not self.buf:
                self.more(deadline)
            piece, self.buf = self.buf[:n], self.buf[n:]
            n -= len(piece)
            if len(out) <= keep:
                out += piece
        return out


def serve_one(sock, address, answer):
    line = Line(sock)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        idle = 40
        while True:
            if not line.buf:
                line.more(time.monotonic() + idle, ConnectionError)
            while line.buf.startswith(b'\r\n'):
                line.buf = line.buf[2:]
            deadline = time.monotonic() + (60 if bug('slow-taken') else 6)
            method, target, keep = 'GET', '/', True
            try:
                head = line.until(b'\r\n\r\n', deadline, 1 << 18)
                if head is None:
                    send(sock, *answer.refuse('fat_headers'), True, False)
                    return
                first, *rest = head.decode('latin-1').split('\r\n')
                parts = first.split(' ')
                if len(parts) != 3 or not parts[2].startswith('HTTP/1.'):
                    send(sock, *answer.refuse('garbled'), True, False)
                    return
                method, target = parts[0], parts[1]
                if target.startswith('http://'):
                    target = re.sub(r'^http://[^/?]*', '', target) or '/'
                headers = [(n.strip(), v.strip()) for n, _, v in (x.partition(':') for x in rest)]
                find = {n.lower(): v for n, v in headers}
                keep = find.get('connection', '').lower() != 'close' and parts[2] != 'HTTP/1.0'
                if find.get('expect', '').lower() == '100-continue':
                    sock.sendall(b'HTTP/1.1 100 Continue\r\n\r\n')
                most = 16384 if bug('body-16k') else 8192
                body = b''
                if 'chunked' in find.get('transfer-encoding', '').lower():
                    while True:
                        n = int(line.until(b'\r\n', deadline, 1000).split(b';')[0], 16)
                        if n == 0:
                            while line.until(b'\r\n', deadline, 1 << 16):
                                pass
                            break
                        body += line.exact(n, deadline, most)
                        line.exact(2, deadline, 2)
                        if len(body) > 16 << 20:
                            return
                else:
                    n = int(find.get('content-length') or 0)
                    if n > 16 << 20:
                        keep = False
                        body = b' ' * (most + 1)
                    else:
                        body = line.exact(n, deadline, most)
                req = Request(method, target, headers, body, address, len(body) > most,
                              sum(len(n) + len(v) + 4 for n, v in headers))
            except Slow:
                send(sock, *answer.refuse('too_slow'), True, False)
                return
            except (ValueError, AttributeError):
                send(sock, *answer.refuse('garbled'), True, False)
                return
            status, fields, doc = answer(req)
            send(sock, status, fields, doc, method != 'HEAD', keep)
            if not keep:
                return
    except (OSError, ConnectionError, Slow):
        pass
    finally:
        sock.close()


PHRASES = {**http.client.responses, 422: 'Unprocessable Content', 413: 'Content Too Large'}


def send(sock, status, fields, doc, with_body, keep):
    out = ['HTTP/1.1 %d %s' % (status, PHRASES.get(status, 'Odd')), 'Date: ' + time.strftime('%a, %d %b %Y %H:%M:%S GMT', time.gmtime())]
    out += ['%s: %s' % p for p in fields.items()]
    if status not in (204, 304):
        out.append('Content-Length: %d' % len(doc))
    out.append('Connection: ' + ('keep-alive' if keep else 'close'))
    sock.settimeout(20)
    sock.sendall(('\r\n'.join(out) + '\r\n\r\n').encode('latin-1', 'replace') + (doc if with_body else b''))


def listen(port, answer):
    door = socket.socket()
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    door.bind(('127.0.0.1', port))
    door.listen(256)

    def loop():
        while True:
            sock, address = door.accept()
            threading.Thread(target=serve_one, args=(sock, address[0], answer), daemon=True).start()
    threading.Thread(target=loop, daemon=True).start()


class Answers:
    def __init__(self, desk):
        self.desk = desk

    def __call__(self, req):
        return self.desk.answer(req)

    def refuse(self, code):
        ctx = {'edition': '2'}
        status, fields, doc = self.desk.refusal(Refusal(code), ctx)
        fields.update({'X-Cave-Request': ctx['id'], 'Content-Type': 'application/json'})
        return status, fields, json.dumps(doc).encode()


# -- the post: web hooks
class Post:
    def __init__(self, hill):
        self.hill, self.under_way, self.failing = hill, set(), {}

    def due(self):
        """Starts what may be sent now."""
        hill = self.hill
        with hill.lock:
            hill.run_due()
            heads = hill.db.execute("select min(seq) from post where state = 'waits' group by hook, %s" % ('seq' if bug('out-of-order') else 'about')).fetchall()
            for (seq,) in heads:
                row = hill.db.execute('select seq, hook, event, kind, about, body, due, tries from post where seq = ?', (seq,)).fetchone()
                group = (row[1], row[4] if not bug('out-of-order') else seq)
                if row[6] > hill.now() or group in self.under_way or len(self.under_way) >= 32:
                    continue
                hook = hill.get('hook', row[1])
                if bug('dead-hook') and hook and not hook['live']:
                    continue
                if hook is None or not hook['live']:
                    hill.db.execute('delete from post where hook = ?', (row[1],))
                    continue
                self.under_way.add(group)
                threading.Thread(target=self.attempt, args=(row, hook, group), daemon=True).start()

    def attempt(self, row, hook, group):
        seq, hook_id, event, kind, about, body, due, tries = row
        status, wait = 0, 0
        try:
            stamp = str(self.hill.now() // 1000)
            if bug('seconds-ms'):
                stamp = str(self.hill.now())
            mac = hmac.new(hook['secret'].encode(), (('' if bug('sign-no-id') else event + '.') + stamp + '.' + body).encode(), hashlib.sha256).hexdigest()
            u = urlsplit(hook['url'])
            make = http.client.HTTPSConnection if u.scheme == 'https' else http.client.HTTPConnection
            c = make(u.hostname, u.port, timeout=5)
            headers = {'Content-Type': 'application/json', 'Cave-Signature': 't=%s,n=%s,s=%s' % (stamp, event, mac), 'X-Cave-Event': kind}
            if bug('no-event-header'):
                del headers['X-Cave-Event']
            c.request('POST', (u.path or '/') + ('?' + u.query if u.query else ''), body.encode(), headers)
            r = c.getresponse()
            status = r.status
            again = r.getheader('Retry-After')
            if again and again.isdigit():
                wait = min(int(again) * 1000, 86400_000)
            c.close()
        except (OSError, http.client.HTTPException, ValueError):
            pass
        hill = self.hill
        with hill.lock:
            self.under_way.discard(group)
            now = hill.now()
            if 200 <= status < 300 or bug('redirect-good') and 300 <= status < 400:
                self.failing.pop(hook_id, None)
                hill.db.execute('delete from post where seq = ?', (seq,))
                return
            since = self.failing.setdefault(hook_id, now)
            hook = hill.get('hook', hook_id)
            if status == 410 and not bug('410-retried') or now - since >= 6 * HOUR and not bug('never-disabled'):
                if hook:
                    hill.store('hook', dict(hook, live=False))
                self.failing.pop(hook_id, None)
                hill.db.execute('delete from post where hook = ?', (hook_id,))
            elif tries >= (1 if bug('one-retry') else len(WAITS)):
                hill.db.execute('delete from post where seq = ?', (seq,))
            else:
                pause = max(int(WAITS[tries] * random.uniform(0.8, 1.2)), wait)
                if bug('new-id-each-try'):
                    doc = json.loads(body)
                    doc['id'] = hill.ulid()
                    body, event = json.dumps(doc), doc['id']
                hill.db.execute('update post set tries = tries + 1, due = ?, body = ?, event = ? where seq = ?', (now + pause, body, event, seq))
        hill.wake.set()

    def loop(self):
        while True:
            self.hill.wake.wait(0.2)
            self.hill.wake.clear()
            try:
                self.due()
            except Exception as e:
                print('post:', e, flush=True)

    def settle(self, most=2.0):
        end = time.monotonic() + most
        while time.monotonic() < end:
            self.due()
            with self.hill.lock:
                if not self.under_way:
                    return
            time.sleep(0.01)


# -- the clock's door
class Clock:
    def __init__(self, hill, post):
        self.hill, self.post = hill, post

    def refuse(self, code):
        return 400, {'Content-Type': 'application/json'}, b'{}'

    def tell(self, status=200, doc=None):
        return status, {'Content-Type': 'application/json'}, json.dumps(doc or {'now': Clock_iso(self.hill.now())}).encode()

    def __call__(self, req):
        if req.method == 'GET':
            return self.tell()
        if req.method != 'POST':
            return self.tell(400, {'error': 'GET or POST'})
        try:
            doc = json.loads(req.body)
            with self.hill.lock:
                now = self.hill.now()
                if set(doc) == {'advance'}:
                    target = plus(now, doc['advance'])
                elif set(doc) == {'now'}:
                    target = shapes.instant(doc['now'])
                else:
                    target = None
                if target is None:
                    return self.tell(400, {'error': 'advance or now'})
                if target < now:
                    return self.tell(422, {'error': 'that has passed'})
                self.hill.run_due(target)
                self.hill.offset += max(0, target - self.hill.now())
                self.hill.run_due()
        except (ValueError, TypeError, KeyError):
            return self.tell(400, {'error': 'no such time'})
        self.post.settle()
        return self.tell()


def Clock_iso(ms):
    from hill import iso
    return iso(ms)


def plus(now, text):
    m = re.fullmatch(r'P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?', text)
    if not m:
        return None
    y, mo, w, d, h, mi = (int(x or 0) for x in m.groups()[:6])
    t = datetime.fromtimestamp(now // 1000, timezone.utc)
    months = t.month - 1 + mo + 12 * y
    year, month = t.year + months // 12, months % 12 + 1
    t = t.replace(year=year, month=month, day=min(t.day, calendar.monthrange(year, month)[1]))
    return int(t.timestamp()) * 1000 + now % 1000 + ((w * 7 + d) * 86400 + h * 3600 + mi * 60) * 1000 + int(float(m[7] or 0) * 1000)


def main():
    args = argparse.ArgumentParser()
    args.add_argument('--port', type=int, required=True)
    args.add_argument('--clock-port', type=int, required=True)
    args.add_argument('--fault')
    args = args.parse_args()
    shapes.FAULT = args.fault
    loosen_rules()
    hill = Hill()
    desk = Desk(hill)
    desk.credentials = {'key': {}, 'badge': {}}
    for user, id, house, scopes, key, badge in PEOPLE:
        caller = Caller(user, id, house, scopes)
        if bug('attribute-lost') and id == 'bruno':
            caller.house = 'south'
        desk.credentials['key'][key] = caller
        if badge:
            desk.credentials['badge'][badge] = caller
    post = Post(hill)
    threading.Thread(target=post.loop, daemon=True).start()
    listen(args.port, Answers(desk))
    listen(args.clock_port, Clock(hill, post))
    print('Hollow Hill Caves on 127.0.0.1:%d, clock on %d' % (args.port, args.clock_port), flush=True)
    while True:
        time.sleep(3600)


if __name__ == '__main__':
    main()
