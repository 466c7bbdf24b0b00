"""One expectation for each fault: it holds on the right service and not on the faulty one.

python3 faults-test.py [ID ...] [--write]
"""
import base64, json, os, re, socket, subprocess, sys, time, http.client
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = open(os.path.join(HERE, 'shed-model.cjs')).read()
PEOPLE = []
for user, ident, scheme, cred, scopes in re.findall(r"\{ user: '(\w+)', id: '(\w+)', scheme: '(\w+)', credential: '([^']+)', scopes: \[([^\]]*)\]", SOURCE):
    PEOPLE.append(dict(user=user, id=ident, credential=cred, scheme=scheme, scopes=re.findall(r"'(\w+)'", scopes), attributes={}))
BY = {p['id']: p for p in PEOPLE}


def free():
    s = socket.socket(); s.bind(('127.0.0.1', 0)); n = s.getsockname()[1]; s.close(); return n


class Answer:
    def __init__(self, r):
        self.status = r.status; self.headers = {k.lower(): v for k, v in r.getheaders()}
        self.text = r.read().decode()
        try: self.json = json.loads(self.text)
        except ValueError: self.json = None
    def __getitem__(self, k): return self.json[k]
    def get(self, k, d=None): return self.json.get(k, d)


class Shed:
    def __init__(self, fault):
        self.port, self.clock = free(), free()
        self.p = subprocess.Popen(['node', 'service.cjs', '--port', str(self.port), '--clock-port', str(self.clock)] + (['--fault', fault] if fault else []), cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.p.stdout.readline()
        self.n = 0
    def end(self): self.p.kill(); self.p.wait(); self.p.stdout.close()
    def raw(self, method, target, who=None, body=None, h=None, type='application/json'):
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=8)
        heads = dict(h or {})
        if who:
            p = BY[who]
            heads['Authorization'] = 'Basic ' + base64.b64encode(p['credential'].encode()).decode() if p['scheme'] == 'login' else 'Bearer ' + p['credential']
        if body is not None:
            if not isinstance(body, (str, bytes)): body = json.dumps(body)
            if type: heads['Content-Type'] = type
        c.request(method, target, body, heads)
        a = Answer(c.getresponse()); c.close(); return a
    def __call__(self, method, path, who='aldo', body=None, h=None, v='v2', **k): return self.raw(method, f'/shed/{v}{path}', who, body, h, **k)
    def move(self, text):
        c = http.client.HTTPConnection('127.0.0.1', self.clock, timeout=8); c.request('POST', '/', json.dumps({'advance': text})); c.getresponse().read(); c.close()
    def pup(self, slug='judy', v='v2', who='aldo', **k):
        return self('PUT', f'/puppets/{slug}', who, {**dict(name=f'Puppet {slug}', kind='glove', height_mm=400), **k}, v=v)
    def loan(self, slug='judy', who='tumbril', h=None, **k): return self('POST', f'/puppets/{slug}/loans', who, {'stage': 'Market of Brno', **k}, h)
    def repair(self, slug='judy', who='cinda', key=None, v='v2', **k):
        self.n += 1
        return self('POST', '/repairs', who, {'puppet': slug, 'complaint': 'torn sleeve', **k}, {'Idempotency-Key': key or f'k{self.n}'}, v=v)
    def part(self, sku='WR-001', **k): return self('PUT', f'/parts/{sku}', 'aldo', {'title': 'Copper wire', 'unit': 'metre', 'price_cents': 120, **k})
    def entry(self, q, sku='WR-001', who='cinda', **k): return self('POST', f'/parts/{sku}/entries', who, {'quantity': q, **k})
    def do(self, path, who='aldo', body=None): return self('POST', path, who, body)
    def out(self, **k): self.pup(); self.loan(**k); self.do('/loans/1/grant'); return self.do('/loans/1/collect', 'tumbril')
    def drying(self, **k): self.pup(); self.repair(**k); self.do('/repairs/1/start', 'cinda'); return self.do('/repairs/1/glue', 'cinda', {'glue': 'bone'})
    def stream(self, who, run, wait=0.35, last='evt-none'):
        run()
        s = socket.create_connection(('127.0.0.1', self.port)); s.settimeout(wait)
        s.sendall(f'GET /shed/v2/stream HTTP/1.1\r\nHost: x\r\nLast-Event-ID: {last}\r\nAuthorization: Bearer {BY[who]["credential"]}\r\n\r\n'.encode())
        data = b''
        try:
            while True:
                d = s.recv(65536)
                if not d: break
                data += d
        except OSError: pass
        s.close()
        self.text = data.decode()
        return [json.loads(x) for x in re.findall(r'data: (.*)', self.text)]


FAULTS = []
def fault(part, kind, subject, ident, bug, test): FAULTS.append((ident, part, kind, subject, bug, test))
kinds_of = lambda evs: [e['kind'] for e in evs]
E, R, S, A, V, L, X, N, P = 'endpoints', 'resources', 'states', 'authentication', 'events', 'limits', 'errors', 'versioning', 'purpose'

fault(P, 'base address', '', 'base-moved', 'Served below /attic.', lambda s: s('GET', '/puppets').status == 200)
fault(P, 'users', 'mender', 'bench-shut-to-menders', 'Menders are taken for troupes.', lambda s: s('GET', '/repairs', 'cinda').status == 200)
fault(P, 'functions', 'keep the puppets', 'retire-not-there', 'Nobody can retire a puppet.', lambda s: (s.pup(), s.do('/puppets/judy/retire'))[1].status == 200)

fault(R, 'identifiers', 'puppet', 'slug-any-case', 'Slugs with capitals are taken.', lambda s: s.pup('Judy').status == 422)
fault(R, 'allowed values', 'puppet.name', 'name-of-one-letter', 'A name of one letter is taken.', lambda s: s.pup(name='J').status == 422)
fault(R, 'allowed values', 'puppet.name', 'name-too-short-bound', 'Names end at 40 letters.', lambda s: s.pup(name='J' * 60).status == 201)
fault(R, 'allowed values', 'puppet.kind', 'kind-without-rod', 'No rod puppets.', lambda s: s.pup(kind='rod').status == 201)
fault(R, 'types', 'puppet.height_mm', 'height-any-type', 'A height may be text.', lambda s: s.pup(height_mm='tall').status == 422)
fault(R, 'allowed values', 'puppet.height_mm', 'height-over-bound', 'Giants are taken.', lambda s: s.pup(height_mm=2501).status == 422)
fault(R, 'required flags', 'puppet.height_mm', 'height-optional', 'The height may be left out.', lambda s: s('PUT', '/puppets/judy', 'aldo', {'name': 'Judy', 'kind': 'glove'}).status == 422)
fault(R, 'types', 'puppet.strings', 'strings-shown-as-text', 'Strings are shown as text.', lambda s: s.pup()['strings'] == 0)
fault(R, 'allowed values', 'puppet.mood', 'mood-default-wicked', 'Wicked unless said.', lambda s: s.pup()['mood'] == 'calm')
fault(R, 'required flags', 'box.depth_mm', 'box-depth-optional', 'A box without depth is taken.', lambda s: s.pup(box={'width_mm': 50}).status == 422)
fault(R, 'field names', 'box', 'box-takes-anything', 'A box takes unknown fields.', lambda s: s.pup(box={'width_mm': 50, 'depth_mm': 50, 'lid': 1}).status == 400)
fault(R, 'allowed values', 'puppet.tags', 'tags-repeat', 'Tags may repeat.', lambda s: s.pup(tags=['red', 'red']).status == 422)
fault(R, 'allowed values', 'puppet.tags', 'tags-six', 'Six tags are taken.', lambda s: s.pup(tags=['aa', 'bb', 'cc', 'dd', 'ee', 'ff']).status == 422)
fault(R, 'allowed values', 'puppet.attic_note', 'attic-note-for-all', 'Strangers see the attic note.', lambda s: (s.pup(attic_note='moth'), s('GET', '/puppets/judy', None))[1].get('attic_note') is None)
fault(R, 'allowed values', 'puppet.attic_note', 'attic-note-not-for-menders', 'Menders do not see the attic note.', lambda s: (s.pup(attic_note='moth'), s('GET', '/puppets/judy', 'cinda'))[1].get('attic_note') == 'moth')
fault(R, 'required flags', 'puppet.mends', 'mends-not-shown', 'Mends are not shown.', lambda s: s.pup().get('mends') == 0)
fault(R, 'allowed values', 'puppet.name', 'puppet-names-shared', 'Two puppets may share a name.', lambda s: (s.pup(name='Same'), s.pup('punch', name='Same'))[1].status == 409)
fault(R, 'allowed values', 'puppet.strings', 'shadows-with-strings', 'A shadow may have strings.', lambda s: s.pup(kind='shadow', strings=2).status == 422)
fault(R, 'allowed values', 'puppet.revised_at', 'revised-at-stays', 'An update does not set revised_at.', lambda s: s.pup().get('revised_at') is not None)
fault(R, 'allowed values', 'loan.days', 'days-default-fourteen', 'Fourteen days unless said.', lambda s: (s.pup(), s.loan())[1]['days'] == 7)
fault(R, 'allowed values', 'loan.days', 'days-zero', 'A loan of no days is taken.', lambda s: (s.pup(), s.loan(days=0))[1].status == 422)
fault(R, 'formats', 'loan.contact', 'contact-any-text', 'A contact may be any text.', lambda s: (s.pup(), s.loan(contact='ring twice'))[1].status == 422)
fault(R, 'allowed values', 'loan.puppet', 'two-asks-at-once', 'A troupe may ask twice for one puppet.', lambda s: (s.pup(), s.loan(), s.loan())[2].status == 409)
fault(R, 'allowed values', 'loan.puppet', 'asks-once-for-ever', 'A troupe may ask once for ever.', lambda s: (s.pup(), s.loan(), s.do('/loans/1/withdraw', 'tumbril'), s.loan())[3].status == 201)
fault(R, 'allowed values', 'loan.ticket', 'ticket-over-all', 'Tickets are counted over all puppets.', lambda s: (s.pup(), s.loan(), s.pup('punch'), s.loan('punch'))[3]['ticket'] == 1)
fault(R, 'allowed values', 'loan.puppet', 'loan-puppet-mutable', 'The puppet of a loan may change.', lambda s: (s.pup(), s.pup('punch'), s.loan(), s('PATCH', '/loans/1', 'tumbril', {'puppet': 'punch'}))[3].status == 422)
fault(R, 'allowed values', 'loan.due_at', 'due-a-day-early', 'Due a day early.', lambda s: (lambda a, t: abs(t + 7 * 86400 - time.mktime(time.strptime(a['due_at'][:19], '%Y-%m-%dT%H:%M:%S')) + time.timezone) < 60)(s.out(), time.time()))
fault(R, 'required flags', 'repair.complaint', 'complaint-optional', 'The complaint may be left out.', lambda s: (s.pup(), s('POST', '/repairs', 'cinda', {'puppet': 'judy'}, {'Idempotency-Key': 'a'}))[1].status == 422)
fault(R, 'allowed values', 'repair.mender', 'mender-not-set', 'Start does not set the mender.', lambda s: (s.pup(), s.repair(), s.do('/repairs/1/start', 'cinda'))[2].get('mender') == 'cinda')
fault(R, 'allowed values', 'repair.dry_at', 'drying-always-twelve', 'Dries for twelve hours whatever is said.', lambda s: (s.drying(drying_hours=2), s.move('PT3H'), s('GET', '/repairs/1'))[2]['status'] == 'dry')
fault(R, 'identifiers', 'part', 'sku-small-letters', 'Small letters in a sku are taken.', lambda s: s.part('wr-001').status == 422)
fault(R, 'allowed values', 'part.unit', 'unit-without-gram', 'No grams.', lambda s: s.part(unit='gram').status == 201)
fault(R, 'allowed values', 'part.price_cents', 'price-below-nothing', 'Prices below nothing are taken.', lambda s: s.part(price_cents=-1).status == 422)
fault(R, 'allowed values', 'part.stock', 'stock-counts-drafts', 'Drafts count as stock.', lambda s: (s.part(), s.entry(9), s('GET', '/parts/WR-001'))[2]['stock'] == 0)
fault(R, 'allowed values', 'part.low', 'low-at-five', 'Five is low.', lambda s: (s.part(), s.entry(5), s.do('/entries/1/post'), s('GET', '/parts/WR-001'))[3]['low'] is False)
fault(R, 'allowed values', 'entry.quantity', 'quantity-zero', 'A quantity of 0 is taken.', lambda s: (s.part(), s.entry(0))[1].status == 422)
fault(R, 'allowed values', 'entry.folio', 'folio-unpadded', 'The folio is not padded.', lambda s: (s.part(), s.entry(1))[1]['folio'] == 'SL-0001')
fault(R, 'allowed values', 'entry.booked_by', 'booked-by-user', 'booked_by is the kind of user.', lambda s: (s.part(), s.entry(1))[1]['booked_by'] == 'cinda')
fault(R, 'required flags', 'hook.secret', 'secret-always-shown', 'The secret is shown again.', lambda s: (s('POST', '/hooks', 'aldo', {'url': 'http://127.0.0.1:9/'}), s('GET', '/hooks/1'))[1].get('secret') is None)
fault(R, 'formats', 'hook.url', 'hook-url-any-text', 'An address may be any text.', lambda s: s('POST', '/hooks', 'aldo', {'url': 'my house'}).status == 422)
fault(R, 'allowed values', 'card.stopped', 'stopped-writable', 'Troupes write stopped.', lambda s: s('PATCH', '/me', 'tumbril', {'stopped': True})['stopped'] is False)
fault(R, 'resources', 'part', 'part-not-kept', 'Deleted parts are not kept.', lambda s: (s.part(), s('DELETE', '/parts/WR-001'), s('GET', '/parts/WR-001'))[2].status == 410)
fault(R, 'resources', 'part', 'part-kept-a-month', 'Deleted parts are kept for a month.', lambda s: (s.part(), s('DELETE', '/parts/WR-001'), s.move('P8D'), s('GET', '/parts/WR-001'))[3].status == 404)

fault(S, 'states', 'puppet', 'puppet-starts-in-mending', 'A puppet begins in mending.', lambda s: s.pup()['status'] == 'shelved')
fault(S, 'transitions', 'puppet', 'retire-while-lent', 'A lent puppet can be retired.', lambda s: (s.out(), s.do('/puppets/judy/retire'))[1].status == 409)
fault(S, 'transitions', 'loan', 'grant-what-is-away', 'What is away can be granted.', lambda s: (s.out(), s.loan(who='halfmoon'), s.do('/loans/2/grant'))[2].status == 409)
fault(S, 'transitions', 'loan', 'withdraw-only-asked', 'What is granted cannot be withdrawn.', lambda s: (s.pup(), s.loan(), s.do('/loans/1/grant'), s.do('/loans/1/withdraw', 'tumbril'))[3].status == 200)
fault(S, 'transitions', 'loan', 'withdraw-what-is-out', 'What is out can be withdrawn.', lambda s: (s.out(), s.do('/loans/1/withdraw', 'tumbril'))[1].status == 409)
fault(S, 'transitions', 'loan', 'collect-leaves-puppet', 'Collecting leaves the puppet on its shelf.', lambda s: (s.out(), s('GET', '/puppets/judy'))[1]['status'] == 'lent')
fault(S, 'transitions', 'loan', 'bring-back-leaves-puppet-lent', 'The puppet stays lent.', lambda s: (s.out(), s.do('/loans/1/bring-back', 'tumbril'), s('GET', '/puppets/judy'))[2]['status'] == 'shelved')
fault(S, 'transitions', 'loan', 'torn-is-not-told', 'What is torn is returned.', lambda s: (s.out(), s.do('/loans/1/bring-back', 'tumbril', {'torn': True}))[1]['status'] == 'damaged')
fault(S, 'transitions', 'loan', 'lapse-never', 'What is granted never lapses.', lambda s: (s.pup(), s.loan(), s.do('/loans/1/grant'), s.move('P4D'), s('GET', '/loans/1'))[4]['status'] == 'lapsed')
fault(S, 'transitions', 'loan', 'lapse-after-a-day', 'It lapses after a day.', lambda s: (s.pup(), s.loan(), s.do('/loans/1/grant'), s.move('P2D'), s('GET', '/loans/1'))[4]['status'] == 'granted')
fault(S, 'transitions', 'loan', 'overdue-never', 'Nothing is ever overdue.', lambda s: (s.out(), s.move('P8D'), s('GET', '/loans/1'))[2]['status'] == 'overdue')
fault(S, 'transitions', 'repair', 'start-leaves-puppet', 'The puppet is not taken in.', lambda s: (s.pup(), s.repair(), s.do('/repairs/1/start', 'cinda'), s('GET', '/puppets/judy'))[3]['status'] == 'in_mending')
fault(S, 'transitions', 'repair', 'sign-off-wet', 'What is wet can be signed off.', lambda s: (s.drying(), s.do('/repairs/1/sign-off', 'cinda'))[1].status == 425)
fault(S, 'transitions', 'repair', 'abandon-keeps-puppet', 'An abandoned puppet stays in mending.', lambda s: (s.pup(), s.repair(), s.do('/repairs/1/start', 'cinda'), s.do('/repairs/1/abandon'), s('GET', '/puppets/judy'))[4]['status'] == 'shelved')
fault(S, 'transitions', 'repair', 'forget-never', 'Nothing is forgotten.', lambda s: (s.pup(), s.repair(), s.move('P31D'), s('GET', '/repairs/1'))[3]['status'] == 'forgotten')
fault(S, 'transitions', 'repair', 'dry-out-never', 'Glue never dries.', lambda s: (s.drying(), s.move('PT13H'), s('GET', '/repairs/1'))[2]['status'] == 'dry')
fault(S, 'transitions', 'entry', 'drawer-below-nothing', 'A drawer falls below nothing.', lambda s: (s.part(), s.entry(-3), s.do('/entries/1/post'))[2].status == 409)
fault(S, 'transitions', 'loan', 'refuse-granted', 'What is granted can be refused.', lambda s: (s.pup(), s.loan(), s.do('/loans/1/grant'), s.do('/loans/1/refuse', 'aldo', {'reason': 'rain'}))[3].status == 409)

fault(E, 'path shapes', 'POST /repairs/{id}/sign-off', 'sign-off-path', 'The path has an underscore.', lambda s: (s.drying(), s.do('/repairs/1/sign-off', 'cinda'))[1].status == 425)
fault(E, 'methods', 'POST /loans/{id}/collect', 'collect-by-put', 'Collected by PUT.', lambda s: s.out().status == 200)
fault(E, 'methods', 'DELETE /hooks/{id}', 'no-delete-hook', 'Hooks cannot be deleted.', lambda s: (s('POST', '/hooks', 'aldo', {'url': 'http://127.0.0.1:9/'}), s('DELETE', '/hooks/1'))[1].status == 204)
fault(E, 'parameters', 'GET /puppets', 'taller-includes-equal', 'taller_than includes the same height.', lambda s: (s.pup(), s('GET', '/puppets?taller_than=400'))[1].json == [])
fault(E, 'parameters', 'GET /puppets', 'name-has-any-case', 'name_has minds no case.', lambda s: (s.pup(), s('GET', '/puppets?name_has=PUPPET'))[1].json == [])
fault(E, 'parameters', 'GET /puppets', 'filter-puppet-kind-ignored', 'kind filters nothing.', lambda s: (s.pup(), s('GET', '/puppets?kind=rod'))[1].json == [])
fault(E, 'parameters', 'GET /puppets', 'split-first-only', 'Of several states the first counts.', lambda s: (s.pup(), len(s('GET', '/puppets?status=lent,shelved').json))[1] == 1)
fault(E, 'parameters', 'GET /puppets', 'unknown-parameter-ignored', 'Unknown parameters are ignored.', lambda s: s('GET', '/puppets?colour=red').status == 400)
fault(E, 'parameters', 'GET /puppets', 'sort-never-descends', 'Sorting never descends.', lambda s: (s.pup(), s.pup('punch'), s('GET', '/puppets?sort=-name'))[2].json[0]['slug'] == 'punch')
fault(E, 'response payload shapes', 'GET /puppets', 'puppets-by-age', 'Listed by age.', lambda s: (s.pup('punch'), s.pup('judy'), s('GET', '/puppets'))[2].json[0]['slug'] == 'judy')
fault(E, 'parameters', 'GET /loans', 'most-days-below', 'most_days leaves out the same number.', lambda s: (s.pup(), s.loan(), s('GET', '/loans?most_days=7'))[2]['total'] == 1)
fault(E, 'parameters', 'GET /repairs', 'bench-turned', 'bench is turned round.', lambda s: (s.pup(), s.repair(), len(s('GET', '/repairs?bench=free').json))[2] == 1)
fault(E, 'response payload shapes', 'GET /loans', 'loans-oldest-first', 'The oldest comes first.', lambda s: (s.pup(), s.loan(), s.loan(who='halfmoon'), s('GET', '/loans'))[3]['loans'][0]['id'] == 2)
fault(E, 'request payload shapes', 'PATCH /loans/{id}', 'loan-read-only-ignored', 'Read-only fields are ignored.', lambda s: (s.pup(), s.loan(), s('PATCH', '/loans/1', 'tumbril', {'ticket': 9}))[2].status == 409)
fault(E, 'request payload shapes', 'PATCH /puppets/{slug}', 'patch-without-tag', 'No tag is needed.', lambda s: (s.pup(), s('PATCH', '/puppets/judy', 'aldo', {'mood': 'weeping'}))[1].status == 428)
fault(E, 'request payload shapes', 'PATCH /puppets/{slug}', 'if-match-ignored', 'Any tag fits.', lambda s: (s.pup(), s('PATCH', '/puppets/judy', 'aldo', {'mood': 'weeping'}, {'If-Match': '"old"'}))[1].status == 412)
fault(E, 'response payload shapes', 'GET /puppets/{slug}', 'no-304', 'If-None-Match is not looked at.', lambda s: (lambda a: s('GET', '/puppets/judy', h={'If-None-Match': a.headers['etag']}))(s.pup()).status == 304)
fault(E, 'response payload shapes', 'GET /puppets/{slug}', 'no-cache-header', 'No Cache-Control.', lambda s: (s.pup(), s('GET', '/puppets/judy'))[1].headers.get('cache-control') == 'private, max-age=30')
fault(E, 'response payload shapes', 'PUT /puppets/{slug}', 'upsert-always-200', 'A new puppet is 200.', lambda s: s.pup().status == 201)
fault(E, 'request payload shapes', 'PUT /puppets/{slug}', 'put-keeps-tags', 'A PUT keeps tags that are left out.', lambda s: (s.pup(tags=['red']), s.pup())[1].get('tags') is None)
fault(E, 'response payload shapes', 'POST /puppets/{puppet}/loans', 'no-location', 'No Location.', lambda s: (s.pup(), s.loan())[1].headers.get('location') is not None)
fault(E, 'request payload shapes', 'POST /loans/{id}/refuse', 'reason-optional', 'A refusal needs no reason.', lambda s: (s.pup(), s.loan(), s.do('/loans/1/refuse', 'aldo', {}))[2].status == 422)
fault(E, 'response payload shapes', 'POST /repairs/{id}/abandon', 'abandon-was-is-now', 'was is the new state.', lambda s: (s.pup(), s.repair(), s.do('/repairs/1/abandon'))[2]['was'] == 'queued')
fault(E, 'request payload shapes', 'POST /repairs', 'key-not-required', 'No key is needed.', lambda s: (s.pup(), s('POST', '/repairs', 'cinda', {'puppet': 'judy', 'complaint': 'torn sleeve'}))[1].status == 400)
fault(E, 'request payload shapes', 'POST /puppets/{puppet}/loans', 'key-ignored', 'Keys are ignored.', lambda s: (s.pup(), s.loan(h={'Idempotency-Key': 'q'}), s.loan(h={'Idempotency-Key': 'q'}))[2].status == 201)
fault(E, 'request payload shapes', 'DELETE /puppets/{slug}', 'delete-lent-puppet', 'A puppet in mending can be deleted.', lambda s: (s.pup(), s.repair(), s.do('/repairs/1/start', 'cinda'), s('DELETE', '/puppets/judy'))[3].status == 409)

fault(A, 'schemes', 'login', 'any-password', 'Any password is good.', lambda s: s('GET', '/repairs', None, h={'Authorization': 'Basic ' + base64.b64encode(b'aldo:no').decode()}).status == 401)
fault(A, 'header names', 'key', 'no-challenge', 'No WWW-Authenticate.', lambda s: 'www-authenticate' in s('GET', '/repairs', None).headers)
fault(A, 'permission rules', 'retire puppet', 'menders-retire', 'Menders retire puppets.', lambda s: (s.pup(), s.do('/puppets/judy/retire', 'cinda'))[1].status == 403)
fault(A, 'permission rules', 'grant loan', 'curators-do-not-grant', 'Curators cannot grant.', lambda s: (s.pup(), s.loan(), s.do('/loans/1/grant'))[2].status == 200)
fault(A, 'permission rules', 'create loan', 'borrow-without-scope', 'No scope is needed.', lambda s: (s.pup(), s.loan(who='nightjar'))[1].status == 403)
fault(A, 'permission rules', 'start repair', 'start-without-scope', 'No scope is needed.', lambda s: (s.pup(), s.repair(), s.do('/repairs/1/start', 'greta'))[2].status == 403)
fault(A, 'permission rules', 'glue repair', 'glue-on-any-bench', 'Any mender glues.', lambda s: (s.pup(), s.repair(), s.do('/repairs/1/start', 'cinda'), s.do('/repairs/1/glue', 'dolf', {'glue': 'bone'}))[3].status == 403)
fault(A, 'permission rules', 'read loan', 'menders-see-all-of-loans', 'Menders see all of a loan.', lambda s: (s.pup(), s.loan(), s('GET', '/loans/1', 'cinda'))[2].get('stage') is None)
fault(A, 'permission rules', 'read loan', 'strangers-read-loans', 'A troupe reads the loans of others.', lambda s: (s.pup(), s.loan(), s('GET', '/loans/1', 'halfmoon'))[2].status == 404)
fault(A, 'permission rules', 'list loan', 'list-shows-all-loans', 'A troupe lists the loans of others.', lambda s: (s.pup(), s.loan(), s('GET', '/loans', 'halfmoon'))[2]['total'] == 0)
fault(A, 'permission rules', 'post entry', 'post-of-others', 'Menders post what others booked.', lambda s: (s.part(), s.entry(2), s.do('/entries/1/post', 'dolf'))[2].status == 403)
fault(A, 'permission rules', 'list part', 'troupes-see-parts', 'Troupes list parts.', lambda s: s('GET', '/parts', 'tumbril').status == 403)
fault(A, 'permission rules', 'read hook', 'hooks-of-others', 'Hooks of others are read.', lambda s: (s('POST', '/hooks', 'aldo', {'url': 'http://127.0.0.1:9/'}), s('GET', '/hooks/1', 'tumbril'))[1].status == 404)
fault(A, 'permission rules', 'list puppet', 'puppets-not-for-strangers', 'Strangers see no puppets.', lambda s: s('GET', '/puppets', None).status == 200)

fault(V, 'emitting operations', 'puppet.kept', 'kept-not-told-of-updates', 'Updates are not told.', lambda s: kinds_of(s.stream('tumbril', lambda: (s.pup(), s('PATCH', '/puppets/judy', 'aldo', {'mood': 'weeping'}, {'If-Match': '*'})))).count('puppet.kept') == 2)
fault(V, 'payload shapes', 'puppet.retired', 'retired-payload-row', 'The whole puppet is told.', lambda s: s.stream('tumbril', lambda: (s.pup(), s.do('/puppets/judy/retire')))[-1]['body'] == 'judy')
fault(V, 'emitting operations', 'puppet.renamed', 'renamed-at-any-update', 'Told of any update.', lambda s: 'puppet.renamed' not in kinds_of(s.stream('tumbril', lambda: (s.pup(), s('PATCH', '/puppets/judy', 'aldo', {'mood': 'weeping'}, {'If-Match': '*'})))))
fault(V, 'emitting operations', 'loan.asked', 'asked-not-told', 'Nobody hears who asks.', lambda s: 'loan.asked' in kinds_of(s.stream('berta', lambda: (s.pup(), s.loan()))))
fault(V, 'emitting operations', 'loan.answered', 'answered-to-all', 'All hear the answer.', lambda s: 'loan.answered' not in kinds_of(s.stream('berta', lambda: (s.pup(), s.loan(), s.do('/loans/1/grant')))))
fault(V, 'emitting operations', 'loan.ended', 'ended-not-by-lapse', 'A lapse is not told.', lambda s: 'loan.ended' in kinds_of(s.stream('tumbril', lambda: (s.pup(), s.loan(), s.do('/loans/1/grant'), s.move('P3DT1H')))))
fault(V, 'emitting operations', 'repair.moved', 'moved-not-by-clock', 'What the clock does is not told.', lambda s: kinds_of(s.stream('berta', lambda: (s.drying(drying_hours=2), s.move('PT3H')))).count('repair.moved') == 3)
fault(V, 'payload shapes', 'repair.moved', 'moved-was-is-now', 'was is the new state.', lambda s: s.stream('berta', lambda: (s.pup(), s.repair(), s.do('/repairs/1/start', 'cinda')))[-1]['body']['was'] == 'queued')
fault(V, 'emitting operations', 'entry.drawn', 'drawn-by-deliveries-too', 'What is put in is told as drawn.', lambda s: 'entry.drawn' not in kinds_of(s.stream('berta', lambda: (s.part(), s.entry(3), s.do('/entries/1/post')))))
fault(V, 'kinds of event', 'loan.answered', 'event-named-answer', 'The kind has another name.', lambda s: 'loan.answered' in kinds_of(s.stream('tumbril', lambda: (s.pup(), s.loan(), s.do('/loans/1/grant')))))
fault(V, 'emitting operations', 'loan.due_soon', 'due-soon-never', 'Nobody is warned.', lambda s: 'loan.due_soon' in kinds_of(s.stream('tumbril', lambda: (s.out(days=1), s.move('PT13H')))))
fault(V, 'delivery mechanism', 'envelope', 'envelope-data', 'The payload stands under data.', lambda s: 'body' in s.stream('tumbril', s.pup)[0])
fault(V, 'delivery mechanism', 'stream', 'stream-without-id', 'The stream has no id.', lambda s: (s.stream('tumbril', s.pup), 'id: evt' in s.text)[1])
fault(V, 'delivery mechanism', 'stream', 'last-event-id-ignored', 'Last-Event-ID is ignored.', lambda s: len(s.stream('tumbril', s.pup)) == 1)
fault(V, 'payload shapes', 'puppet.kept', 'event-shows-attic-note', 'The attic note is told to all.', lambda s: 'attic_note' not in s.stream('tumbril', lambda: s.pup(attic_note='moth'))[0]['body'])

fault(X, 'status codes', 'unreadable', 'unreadable-422', '422.', lambda s: s('PUT', '/puppets/judy', 'aldo', '{').status == 400)
fault(X, 'status codes', 'already_there', 'exists-422', '422.', lambda s: (s.pup(name='Same'), s.pup('punch', name='Same'))[1].status == 409)
fault(X, 'status codes', 'leads_nowhere', 'nowhere-404', '404.', lambda s: s.repair('nobody').status == 422)
fault(X, 'status codes', 'still_needed', 'still-needed-400', '400.', lambda s: (s.pup(), s.loan(), s('DELETE', '/puppets/judy'))[2].status == 409)
fault(X, 'status codes', 'still_wet', 'still-wet-409', '409.', lambda s: (s.drying(), s.do('/repairs/1/sign-off', 'cinda'))[1].status == 425)
fault(X, 'status codes', 'card_stopped', 'card-stopped-403', '403.', lambda s: (s.pup(), s('PATCH', '/cards/tumbril', 'aldo', {'stopped': True}), s.loan())[2].status == 402)
fault(X, 'conditions', 'card_stopped', 'stopped-card-borrows', 'Who is stopped borrows.', lambda s: (s.pup(), s('PATCH', '/cards/tumbril', 'aldo', {'stopped': True}), s.loan())[2].status == 402)
fault(X, 'conditions', 'long_uninsured', 'uninsured-at-forty', 'Forty days need no insurance.', lambda s: (s.pup(), s.loan(days=31))[1].status == 422)
fault(X, 'conditions', 'puppet_retired', 'retired-puppet-loan', 'A retired puppet is lent.', lambda s: (s.pup(), s.do('/puppets/judy/retire'), s.loan())[2].status == 409)
fault(X, 'error codes', 'who_are_you', 'stranger-code', 'Another code.', lambda s: s('GET', '/repairs', None)['error'] == 'who_are_you')
fault(X, 'error codes', 'scope_lacking', 'scope-code', 'Another code.', lambda s: (s.pup(), s.loan(who='nightjar'))[1]['error'] == 'scope_lacking')
fault(X, 'error codes', 'changed_since', 'precondition-code', 'Another code.', lambda s: (s.pup(), s('PATCH', '/puppets/judy', 'aldo', {'mood': 'calm'}, {'If-Match': '"x"'}))[1]['error'] == 'changed_since')
fault(X, 'conditions', 'field_unknown', 'unknown-field-ignored', 'Unknown fields are ignored.', lambda s: s.pup(colour='red').status == 400)
fault(X, 'error payload shapes', '', 'error-in-envelope', 'Errors stand in an envelope.', lambda s: 'error' in s('GET', '/repairs', None).json and isinstance(s('GET', '/repairs', None)['error'], str))
fault(X, 'error payload shapes', '', 'error-status-text', 'status is text.', lambda s: s('GET', '/repairs', None)['status'] == 401)
fault(X, 'error payload shapes', '', 'error-without-where', 'where is not told.', lambda s: s.pup(name='J').get('where') == ['/name'])
fault(X, 'error payload shapes', '', 'no-error-header', 'No X-Shed-Error.', lambda s: s('GET', '/repairs', None).headers.get('x-shed-error') == 'who_are_you')

fault(L, 'rate limits', 'create hook', 'hook-rate-thirty', 'Thirty hooks in ten minutes.', lambda s: [s('POST', '/hooks', 'aldo', {'url': 'x'}).status for _ in range(16)][-1] == 429)
fault(L, 'rate limits', 'headers', 'no-rate-headers', 'Rates are not told.', lambda s: s('GET', '/puppets').headers.get('x-shed-limit') == '4000')
fault(L, 'rate limits', 'headers', 'no-retry-after', 'No Retry-After.', lambda s: 'retry-after' in [s('POST', '/hooks', 'aldo', {'url': 'x'}) for _ in range(16)][-1].headers)
fault(L, 'rate limits', 'mender', 'mender-list-costs-one', 'A list of repairs costs one.', lambda s: s('GET', '/repairs', 'cinda').headers.get('x-shed-left') == '396')
fault(L, 'quotas', 'create loan', 'quota-fifty', 'Fifty loans a day.', lambda s: (s.pup(), [(s.loan(), s.do(f'/loans/{i + 1}/withdraw', 'tumbril')) for i in range(40)], s.loan())[2].status == 429)
fault(L, 'quotas', 'rows of hook', 'hooks-seven', 'Seven hooks.', lambda s: [s('POST', '/hooks', 'aldo', {'url': 'http://127.0.0.1:9/'}).status for _ in range(7)][-1] == 429)
fault(L, 'size limits', 'body', 'body-16k', 'Bodies of 16 KiB.', lambda s: s('PUT', '/puppets/judy', 'aldo', ' ' * 8193).status == 413)
fault(L, 'size limits', 'url', 'url-4k', 'Addresses of 4 KiB.', lambda s: s('GET', '/puppets?name_has=' + 'a' * 2048).status == 414)
fault(L, 'size limits', 'headers', 'headers-16k', 'Header fields of 16 KiB.', lambda s: s('GET', '/puppets', h={'X-Long': 'a' * 8200}).status == 413)
fault(L, 'pagination bounds', 'list puppet', 'limit-over-max', 'More than 50 is cut down.', lambda s: s('GET', '/puppets?limit=51').status == 400)
fault(L, 'pagination bounds', 'list loan', 'per-page-refused', 'More than 20 is refused.', lambda s: s('GET', '/loans?per_page=21').status == 200)
fault(L, 'pagination bounds', 'list puppet', 'no-link', 'No Link.', lambda s: 'rel="first"' in s('GET', '/puppets').headers.get('link', ''))
fault(L, 'pagination bounds', 'list loan', 'total-of-page', 'total counts the page.', lambda s: (s.pup(), s.loan(), s.loan(who='halfmoon'), s('GET', '/loans?per_page=1'))[3]['total'] == 2)

fault(N, 'version identifiers', 'v1', 'v1-not-served', 'v1 is not served.', lambda s: s('GET', '/puppets', v='v1').status == 200)
fault(N, 'version selection', '', 'version-defaults', 'A path without version is served.', lambda s: s.raw('GET', '/shed/puppets').status == 404)
fault(N, 'version selection', '', 'any-version-serves', 'Any version is served.', lambda s: s('GET', '/puppets', v='v7').status == 404)
fault(N, 'deprecation rules', 'v1', 'no-deprecation', 'No Deprecation.', lambda s: s('GET', '/puppets', v='v1').headers.get('deprecation') == '@1777593600')
fault(N, 'deprecation rules', 'v1', 'no-sunset', 'No Sunset.', lambda s: 'sunset' in s('GET', '/puppets', v='v1').headers)
fault(N, 'deprecation rules', 'v1', 'v1-outlives-sunset', 'v1 is served after its end.', lambda s: (s.move('P1Y'), s('GET', '/puppets', v='v1'))[1].status == 410)
fault(N, 'version identifiers', 'v1', 'v1-height-not-renamed', 'height_mm keeps its new name.', lambda s: s.pup() and s('GET', '/puppets/judy', v='v1').get('tall_mm') == 400)
fault(N, 'version identifiers', 'v1', 'v1-shows-mood', 'v1 shows the mood.', lambda s: s.pup() and 'mood' not in s('GET', '/puppets/judy', v='v1').json)
fault(N, 'version identifiers', 'v1', 'v1-minutes-not-mapped', 'Hours are told as minutes.', lambda s: (s.pup(), s.repair(), s('GET', '/repairs/1', v='v1'))[2].get('drying_minutes') == 720)
fault(N, 'version identifiers', 'v1', 'v1-urgent-not-rush', 'urgent is not rush.', lambda s: (s.pup(), s.repair(urgency='urgent'), s('GET', '/repairs/1', v='v1'))[2].get('urgency') == 'rush')
fault(N, 'version identifiers', 'v1', 'v1-shows-cards', 'Cards are there in v1.', lambda s: s('GET', '/cards', v='v1').status == 404)


def holds(ident, test):
    s = Shed(ident)
    try: return bool(test(s))
    except (Exception,) as e: return e
    finally: s.end()


def prove(f):
    right = holds('', f[5])
    return f, right, None if right is not True else holds(f[0], f[5])


def write(proven):
    out = {'command': ['node', 'service.cjs'], 'document': 'service.yaml', 'callers': PEOPLE,
           'faults': [dict(id=f[0], part=f[1], kind=f[2], subject=f[3], bug=f[4]) for f in proven]}
    with open(os.path.join(HERE, 'stranger.json'), 'w') as file: json.dump(out, file, indent=1); file.write('\n')


if __name__ == '__main__':
    named = [a for a in sys.argv[1:] if not a.startswith('--')]
    chosen = [f for f in FAULTS if not named or f[0] in named]
    proven = []
    with ThreadPoolExecutor(5) as pool:
        for f, right, wrong in pool.map(prove, chosen):
            if right is True and wrong is not True:
                proven.append(f)
                if '--write' in sys.argv: write(proven)
            else: print(f'NOT PROVEN {f[0]}: right {right!r}, faulty {wrong!r}', flush=True)
    print(f'{len(proven)} of {len(chosen)} proven')
