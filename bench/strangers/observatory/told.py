"""How events reach those who listen: bells are rung by POST, streams are read."""
import base64
import hashlib
import hmac
import http.client
import json
import threading
import time
import urllib.parse
from collections import deque

from fault import on

WAITS = [20, 300, 3600]


def matches(kinds, kind):
    for one in kinds:
        if one == '*' or one == kind:
            return True
        if one.endswith('.*') and kind.startswith(one[:-1]) and not on('stars-unheard'):
            return True
    return False


class Bells:
    def __init__(self, lock, now, message, disable):
        self.lock, self.now, self.message, self.disable = lock, now, message, disable
        self.work = threading.Condition(lock)
        self.queues = {}  # (bell, kind of row, row) -> deliveries in order

    def add(self, bell, event):
        one = {'event': event, 'bell': bell, 'tries': 0, 'due': self.now(), 'busy': False}
        key = event['id'] if on('later-overtakes') else event['key']
        self.queues.setdefault((bell['id'], event['rkind'], key), deque()).append(one)
        self.work.notify_all()

    def drop(self, bell):
        for key in [key for key in self.queues if key[0] == bell['id']]:
            self.queues[key].clear()

    def poke(self):
        with self.work:
            self.work.notify_all()

    def start(self):
        threading.Thread(target=self.loop, daemon=True).start()

    def loop(self):
        while True:
            with self.work:
                for key in list(self.queues):
                    queue = self.queues[key]
                    if not queue:
                        del self.queues[key]
                        continue
                    first = queue[0]
                    if not first['busy'] and first['due'] <= self.now():
                        first['busy'] = True
                        threading.Thread(target=self.ring, args=(queue, first), daemon=True).start()
                self.work.wait(0.05)

    def ring(self, queue, one):
        bell, event = one['bell'], one['event']
        if on('new-id-each-try'):
            event = {**event, 'id': f'{event["id"]}-{one["tries"]}'}
        edition = 'e2' if on('bells-in-newest') else bell['_edition']
        body = json.dumps(self.message(event, bell['_maker'], edition), ensure_ascii=False, separators=(',', ':')).encode()
        status, wait = self.post(bell, event, body)
        with self.work:
            one['busy'] = False
            one['tries'] += 1
            good = status is not None and 200 <= status < (400 if on('redirect-is-success') else 300)
            if good:
                bell.pop('_failing', None)
            elif status == 410:
                self.disable(bell)
                self.drop(bell)
            else:
                since = bell.setdefault('_failing', self.now())
                if self.now() - since >= 2 * 86400 and not on('never-disabled'):
                    self.disable(bell)
                    self.drop(bell)
            if good or one['tries'] > (0 if on('no-retries') else len(WAITS)):
                if queue and queue[0] is one:
                    queue.popleft()
            else:
                one['due'] = self.now() + max(WAITS[one['tries'] - 1], wait)
            self.work.notify_all()

    def post(self, bell, event, body):
        at = str(int(self.now()))
        signs = f'{event["id"]}|{at}|'.encode() + body
        if on('signs-body-alone'):
            signs = body
        digest = hmac.new(bell['secret'].encode(), signs, hashlib.sha256).digest()
        sign = digest.hex() if on('signature-in-hex') else base64.b64encode(digest).decode()
        headers = {'Content-Type': 'application/json', 'Dome-Signature': f't={at},s={sign}', 'Dome-Kind': event['kind']}
        if on('kind-header-missing'):
            del headers['Dome-Kind']
        try:
            url = urllib.parse.urlsplit(bell['url'])
            if url.scheme != 'http' or url.hostname not in ('127.0.0.1', 'localhost', '::1'):
                return None, 0
            connection = http.client.HTTPConnection(url.hostname, url.port or 80, timeout=5)
            try:
                connection.request('POST', (url.path or '/') + ('?' + url.query if url.query else ''), body, headers)
                answer = connection.getresponse()
                after = answer.getheader('Retry-After') or ''
                return answer.status, min(int(after), 86400) if after.isdigit() else 0
            finally:
                connection.close()
        except Exception:
            return None, 0


class Streams:
    def __init__(self, changed, events, now):
        self.changed, self.events, self.now = changed, events, now

    def run(self, sock, call, message, receives, more):
        who, edition = call.who, call.edition
        if on('old-stream-is-new'):
            edition = 'e2'
        head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\nVary: X-Dome-Key, Authorization\r\n'
        head += ''.join(f'{name}: {value}\r\n' for name, value in more)
        last = call.request.header('last-event-id')
        with self.changed:
            waiting = []
            seen = self.events[-1] if self.events else None
            if last is not None:
                names = [event['id'] for event in self.events]
                start = names.index(last) + (2 if on('resume-skips-one') else 1) if last in names else 0
                waiting = list(self.events)[start:]
        sock.settimeout(30)
        sock.sendall((head + '\r\n: here\n\n').encode())
        quiet = time.monotonic()
        while True:
            for event in waiting:
                if (event['at'] >= self.now() - 6 * 3600 or on('stream-keeps-all')) and receives(event, who):
                    told = json.dumps(message(event, who, edition), ensure_ascii=False, separators=(',', ':'))
                    kind = f'event: {event["kind"]}\n' if not on('stream-unnamed') else ''
                    sock.sendall(f'id: {event["id"]}\n{kind}data: {told}\n\n'.encode())
            with self.changed:
                waiting = self.since(seen)
                if not waiting:
                    self.changed.wait(1)
                    waiting = self.since(seen)
                if waiting:
                    seen = waiting[-1]
            if time.monotonic() - quiet > 15:
                quiet = time.monotonic()
                if who['until'] is not None and self.now() >= who['until'] + 5:
                    return
                sock.sendall(b': still here\n\n')

    def since(self, seen):
        found = []
        for event in reversed(self.events):
            if event is seen:
                break
            found.append(event)
        return found[::-1]
