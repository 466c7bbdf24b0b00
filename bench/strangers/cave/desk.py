"""Answers requests: the order of refusals, and what each operation does."""
import base64
import hashlib
import hmac
import json
import re
import secrets
import string
from datetime import datetime, timedelta, timezone
from email.utils import formatdate
from urllib.parse import unquote, unquote_plus
from zoneinfo import ZoneInfo

import shapes
from hill import DAY, HOUR, OWN, Caller, Hill, Refusal, iso
from shapes import FIELDS, bug, fields, key_of, misfit
from take import fault, take

TITLE = 'Hollow Hill Caves'
CODES = {
    'no_body': (400, 'Nothing sent', 'A body is missing.'), 'garbled': (400, 'Unreadable', 'That is no JSON.'),
    'not_json': (415, 'Not JSON', 'Only JSON is read here.'), 'odd_query': (400, 'Odd query', 'A parameter will not do.'),
    'bad_page': (400, 'No such page', 'That page cannot be cut.'), 'incomplete': (422, 'Something is missing', '{name} is missing.'),
    'unheard_of': (422, 'Unknown field', '{name} is no field.'), 'sealed': (422, 'Not yours to write', '{name} is written by the hill.'),
    'unfit': (422, 'Will not do', '{name} will not do.'), 'no_way': (404, 'No such way', 'Nothing is at this address.'),
    'wrong_verb': (405, 'Not done here', 'This address takes other methods.'),
    'who_are_you': (401, 'Who is there', 'Show a key or a badge.'), 'bad_key': (401, 'No such key', 'This credential opens nothing.'),
    'lacks_scope': (403, 'Scope missing', 'The credential lacks a scope.'), 'not_for_you': (403, 'Not for you', 'That is for others to do.'),
    'not_yours': (403, 'Not yours', 'Somebody else booked it.'), 'not_there': (404, 'Not there', 'There is none.'),
    'dangling': (422, 'Leads nowhere', 'What is referred to is not there.'), 'in_the_bin': (410, 'In the bin', 'It was thrown away.'),
    'taken': (409, 'Taken', 'There is one already.'), 'leaned_on': (409, 'Still needed', 'Something refers to it.'),
    'wrong_moment': (409, 'Wrong moment', 'Its state does not allow that.'), 'wheel_unready': (409, 'Not ripe', 'A wheel is not ripe.'),
    'wheel_held': (409, 'Held back', 'A wheel is held back.'), 'nothing_held': (409, 'Not held', 'Nobody holds it back.'),
    'too_late': (409, 'Too late', 'It is over.'), 'wrong_pin': (403, 'Wrong pin', 'The pin is another one.'),
    'cave_full': (409, 'Cave full', 'No shelf is free.'), 'too_warm': (409, 'Too warm', 'Let it cool down first.'),
    'harsh': (422, 'Harsh', 'So low a score is disputed.'), 'cave_shut': (409, 'Cave shut', 'The door is shut.'),
    'too_few': (409, 'Too few shelves', 'More wheels lie there.'), 'off_the_list': (409, 'Recipe withdrawn', 'The recipe is no longer taken.'),
    'hands_off': (409, 'Hands off', 'The wheel is held back.'), 'stale': (412, 'Changed meanwhile', 'It is not what you read.'),
    'tag_please': (428, 'Tag please', 'Send If-Match.'), 'key_reused': (422, 'Key used', 'That key was for something else.'),
    'slow_down': (429, 'Slow down', 'Too many requests.'), 'enough': (429, 'Enough', 'No more of these.'),
    'too_big': (413, 'Too big', 'That is too large.'), 'long_address': (414, 'Too long', 'That address is too long.'),
    'fat_headers': (431, 'Too many headers', 'The header is too large.'), 'too_slow': (408, 'Too slow', 'It took too long.'),
    'no_edition': (400, 'No such edition', 'There is no such edition.'), 'out_of_print': (410, 'Out of print', 'That edition is over.'),
    'collapse': (500, 'Cave-in', 'Something fell down.')}

# method, path, operation, kind, resource
ROUTES = [
    ('POST', '/caves', 'create cave', 'create', 'cave'), ('GET', '/caves', 'list cave', 'list', 'cave'),
    ('GET', '/caves/{code}', 'read cave', 'read', 'cave'), ('PATCH', '/caves/{code}', 'update cave', 'update', 'cave'),
    ('DELETE', '/caves/{code}', 'delete cave', 'delete', 'cave'),
    ('POST', '/caves/{code}/wheels', 'create wheel', 'create', 'wheel'), ('GET', '/caves/{code}/wheels', 'wheels of cave', 'list', 'wheel'),
    ('GET', '/caves/{code}/wheels/{number}', 'numbered wheel', 'read', 'wheel'),
    ('GET', '/recipes', 'list recipe', 'list', 'recipe'), ('GET', '/recipes/{slug}', 'read recipe', 'read', 'recipe'),
    ('PUT', '/recipes/{slug}', 'upsert recipe', 'upsert', 'recipe'), ('DELETE', '/recipes/{slug}', 'delete recipe', 'delete', 'recipe'),
    ('POST', '/recipes/{slug}/withdraw', 'withdraw recipe', 'move', 'recipe'),
    ('POST', '/recipes/{slug}/offer', 'offer recipe', 'move', 'recipe'), ('POST', '/recipes/{slug}/unbin', 'unbin recipe', 'move', 'recipe'),
    ('GET', '/wheels', 'list wheel', 'list', 'wheel'), ('GET', '/wheels/{id}', 'read wheel', 'read', 'wheel'),
    ('PATCH', '/wheels/{id}', 'update wheel', 'update', 'wheel'), ('DELETE', '/wheels/{id}', 'delete wheel', 'delete', 'wheel'),
    ('POST', '/wheels/{id}/lay', 'lay wheel', 'move', 'wheel'), ('POST', '/wheels/{id}/hold', 'hold wheel', 'move', 'wheel'),
    ('POST', '/wheels/{id}/free', 'free wheel', 'move', 'wheel'), ('POST', '/wheels/{id}/condemn', 'condemn wheel', 'move', 'wheel'),
    ('POST', '/wheels/{wheel}/tastings', 'create tasting', 'create', 'tasting'),
    ('GET', '/tastings', 'list tasting', 'list', 'tasting'), ('GET', '/tastings/{id}', 'read tasting', 'read', 'tasting'),
    ('PATCH', '/tastings/{id}', 'update tasting', 'update', 'tasting'), ('DELETE', '/tastings/{id}', 'delete tasting', 'delete', 'tasting'),
    ('POST', '/tastings/{id}/sign', 'sign tasting', 'move', 'tasting'),
    ('POST', '/pickups', 'create pickup', 'create', 'pickup'), ('GET', '/pickups', 'list pickup', 'list', 'pickup'),
    ('GET', '/pickups/{id}', 'read pickup', 'read', 'pickup'), ('POST', '/pickups/{id}/prepare', 'prepare pickup', 'move', 'pickup'),
    ('POST', '/pickups/{id}/collect', 'collect pickup', 'move', 'pickup'), ('POST', '/pickups/{id}/cancel', 'cancel pickup', 'move', 'pickup'),
    ('POST', '/hooks', 'create hook', 'create', 'hook'), ('GET', '/hooks', 'list hook', 'list', 'hook'),
    ('GET', '/hooks/{id}', 'read hook', 'read', 'hook'), ('PATCH', '/hooks/{id}', 'update hook', 'update', 'hook'),
    ('DELETE', '/hooks/{id}', 'delete hook', 'delete', 'hook'),
    ('GET', '/entries', 'list entry', 'list', 'entry'), ('GET', '/entries/{id}', 'read entry', 'read', 'entry'),
    ('GET', '/about', 'about', 'reply', None), ('GET', '/board', 'board', 'reply', None)]
MATCH = [(m, re.compile('^' + re.sub(r'\{(\w+)\}', r'(?P<\1>[^/]+)', p) + '$'), op, kind, res) for m, p, op, kind, res in ROUTES]
REPLIES = {'about': {'hill': 'Hollow Hill', 'caves_since': 1741}, 'board': {'notice': 'The north gate is shut on Sundays.'}}
BODY_MOVES = {'condemn wheel': ('reason', shapes.f('string', minLength=3, maxLength=120)),
              'collect pickup': ('pin', shapes.f('string', pattern=r'^[0-9]{4}$'))}
ONCE_KEYS = {'create wheel': False, 'create pickup': True}
TAGGED = {'read cave', 'numbered wheel', 'read recipe', 'read wheel', 'read tasting'}
IF_MATCH = {'update cave': False, 'update wheel': True, 'update tasting': False}
INSIDE = {'update wheel': ('stage', ['resting', 'ripening']), 'delete wheel': ('stage', ['resting']),
          'update tasting': ('verdict', ['draft']), 'delete tasting': ('verdict', ['draft'])}
DEPRECATED, SUNSET = 1780272000, 1817078400     # 2026-06-01, 2027-08-01


class Request:
    def __init__(self, method, target, headers, body, address, too_big=False, header_bytes=0):
        self.method, self.target, self.headers, self.body, self.address = method, target, headers, body, address
        self.too_big, self.header_bytes = too_big, header_bytes

    def all(self, name):
        return [v for n, v in self.headers if n.lower() == name.lower()]

    def one(self, name):
        found = self.all(name)
        return found[0] if found else None


def int_param(v):
    return int(v) if re.fullmatch(r'-?\d{1,15}', v) else None


def date_param(v):
    return v if shapes.is_date(v) else None


def one_of(*values):
    return lambda v: v if v in values else None


# operation -> parameter -> (reads the value, keeps the row)
ge = lambda name: lambda row, v: name in row and row[name] >= v
FILTERS = {
    'list cave': {'door': (one_of('open', 'shut'), lambda r, v: r['door'] == v),
                  'min_shelves': (int_param, ge('shelves')), 'room': (int_param, lambda r, v: r['room'] > v if bug('room-above') else r['room'] >= v)},
    'wheels of cave': {'stage': (one_of(*shapes.STAGES), lambda r, v: r['stage'] == v), 'hold': (one_of('clear', 'held'), lambda r, v: r['hold'] == v)},
    'list recipe': {'milk': (None, lambda r, v: r['milk'] == v), 'title': (str, lambda r, v: v.lower() in r['title'].lower() if bug('title-any-case') else v in r['title']),
                    'max_days': (int_param, lambda r, v: r['days'] <= v), 'wash': (None, lambda r, v: (any if bug('wash-any') else all)(w in r['washes'] for w in v))},
    'list wheel': {
        'stage': (None, lambda r, v: r['stage'] in (v[:1] if bug('first-stage') else v)),
        'recipe': (lambda v: v if re.search(FIELDS['recipe']['slug']['pattern'], v) else None, lambda r, v: r['recipe'] == v),
        'cave_code': (lambda v: v if re.search(FIELDS['cave']['code']['pattern'], v) else None, lambda r, v: r['_cave']['code'] == v),
        'milk': (one_of('cow', 'goat', 'ewe', 'buffalo'), lambda r, v: r['_recipe']['milk'] == v),
        'town': (lambda v: v if 1 <= len(v) <= 40 else None, lambda r, v: 'label' in r and (r['label']['town'] == v if bug('town-case') else r['label']['town'].lower() == v.lower())),
        'mark': (lambda v: v if 1 <= len(v) <= 16 else None, lambda r, v: v in r['marks']),
        'min_weight': (int_param, ge('weight_g')), 'made_before': (date_param, lambda r, v: r['made_on'] < v),
        'fetchable': (lambda v: {'true': True, 'false': False}.get(v), lambda r, v: not v or r['stage'] == 'ripe' and (r['hold'] == 'clear' or bug('fetch-held'))),
        'q': (str, lambda r, v: all(w in r['tag'].lower() or w in r.get('batch', '').lower() for w in v.lower().split()))},
    'list tasting': {'wheel': (str, lambda r, v: r['wheel'] == v), 'verdict': (None, lambda r, v: r['verdict'] in v),
                     'min_score': (int_param, ge('score'))},
    'list pickup': {'state': (one_of('booked', 'ready', 'collected', 'cancelled', 'lapsed'), lambda r, v: r['state'] == v),
                    'gate': (one_of('north', 'south'), lambda r, v: r['gate'] == v), 'from_day': (date_param, ge('day')),
                    'to_day': (date_param, lambda r, v: r['day'] < v if bug('to-day-open') else r['day'] <= v)},
    'list entry': {'kind': (str, lambda r, v: r['kind'].startswith(v)), 'about': (str, lambda r, v: r['about'] == v),
                   'who': (str, lambda r, v: r['who'] != v), 'since': (shapes.instant, lambda r, v: shapes.instant(r['at']) >= v)},
}
ORDERS = {'list cave': 'code', 'wheels of cave': 'number', 'list recipe': 'slug', 'list wheel': '-made_on', 'list tasting': '-score',
          'list pickup': 'day', 'list hook': '-id', 'list entry': None}
LIST_WORDS = {'list wheel': {'sort', 'way'}, 'list recipe': {'sort'}, 'list tasting': {'only'}}


def turn(order, way):
    if way == 'desc':
        return order[1:] if order.startswith('-') else '-' + order
    return order


class Desk:
    def __init__(self, hill):
        self.hill = hill
        self.credentials = {}          # scheme -> credential -> Caller
        self.windows = {}              # caller -> [start, used]
        self.strangers = {}            # address -> [times]

    # -- the way of an answer
    def answer(self, req):
        """(status, header fields, body)"""
        with self.hill.lock:
            self.hill.run_due()
            ctx = {'headers': {}, 'edition': '2', 'refund': 0}
            try:
                status, headers, doc = self.handle(req, ctx)
            except Refusal as r:
                status, headers, doc = self.refusal(r, ctx)
            except Exception as e:     # a failure of our own
                import sys
                import traceback
                traceback.print_exc(file=sys.stderr)
                status, headers, doc = self.refusal(Refusal('collapse'), ctx)
            finally:
                if self.hill.db.in_transaction:
                    self.hill.db.execute('rollback')
                self.hill.who = None
            self.hill.run_due()
            if status == 304 and ctx.get('window') and not bug('304-counts'):
                ctx['window'][1] -= ctx['cost']
            if ctx.get('window'):
                w = ctx['window']
                left = max(0, 240 - w[1])
                t = -(-(w[0] + 60000 - self.hill.now()) // 1000)
                headers['RateLimit-Policy'] = '"caller-1m";q=240;w=60'
                headers['RateLimit'] = '"caller-1m";r=%d;t=%d' % (left, max(t, 1))
            elif 'times' in ctx:
                ts = ctx['times']
                t = -(-(ts[0] + 60000 - self.hill.now()) // 1000) if ts else 60
                headers['RateLimit-Policy'] = '"address-1m-anyone-list-recipe-read-recipe";q=40;w=60'
                headers['RateLimit'] = '"address-1m-anyone-list-recipe-read-recipe";r=%d;t=%d' % (max(0, 40 - len(ts)), max(t, 1))
            out = {'X-Cave-Request': ctx.setdefault('id', secrets.token_hex(8)), 'Vary': 'X-Cave-Key, Authorization'}
            if bug('no-request-id') and status >= 400:
                del out['X-Cave-Request']
            if ctx['edition'] == '1' and not bug('undeprecated'):
                out['Deprecation'] = '@%d' % DEPRECATED
                if not (bug('no-sunset') and status < 400):
                    out['Sunset'] = formatdate(SUNSET + (DAY // 1000 * 31 if bug('sunset-date') else 0), usegmt=True)
                path = req.target.split('?')[0]
                out['Link'] = '<https://hollow.example/editions>; rel="deprecation", <%s?edition=2>; rel="successor-version"' % path
            out.update(headers)
            if doc is None:
                return status, out, b''
            out['Content-Type'] = 'application/json'
            return status, out, json.dumps(doc).encode()

    def refusal(self, r, ctx):
        status, title, message = CODES[r.code]
        ctx['id'] = secrets.token_hex(8)
        doc = {'code': r.code, 'title': title, 'status': status, 'detail': message, 'instance': ctx['id']}
        if r.faults:
            doc['detail'] = message.replace('{name}', r.faults[0]['path'])
            doc['faults'] = [{k: v for k, v in x.items() if k[0] != '_'} for x in r.faults]
            if bug('first-fault'):
                doc['faults'] = doc['faults'][:1]
            if bug('pointer-paths'):
                for x in doc['faults']:
                    if '.' in x['path']:
                        x['path'] = '/' + x['path'].replace('.', '/')
        else:
            doc['detail'] = message.replace('{name}', 'it')
        if bug('no-instance') and status == 404:
            del doc['instance']
        headers = {'X-Cave-Trouble': r.code}
        if bug('trouble-lost') and status == 409:
            headers = {}
        headers.update(r.headers)
        return status, headers, doc

    # -- the order of refusals
    def handle(self, req, ctx):
        hill = self.hill
        self.req = req
        if len(req.target.encode()) > (4096 if bug('url-4k') else 2048):
            raise Refusal('long_address')
        if req.header_bytes > 12288:
            raise Refusal('fat_headers')
        path, _, query = req.target.partition('?')
        pairs = [(unquote_plus(k), unquote_plus(v)) for k, _, v in (p.partition('=') for p in query.split('&') if p)]
        editions = [v for k, v in pairs if k == 'edition']
        edition = editions[0] if editions else ('1' if bug('oldest-default') else '2')
        known = edition in ('1', '2') and len(editions) < 2
        if known:
            ctx['edition'] = edition
        base = path.startswith('/api/')
        if not base and not (bug('no-base') and path.startswith('/recipes')):
            raise Refusal('no_way')
        tail = path[4:] if base else path
        there = []
        for m, pattern, op, kind, res in MATCH:
            found = pattern.match(tail)
            if not found or known and (op == 'board' and edition == '2' and not bug('board-again') or res == 'entry' and edition == '1' and not bug('entries-old')) or '\n' in tail:
                continue
            there.append((m, op, kind, res, {k: unquote(v) for k, v in found.groupdict().items()}))
        if not there or bug('offer-lost') and there[0][1] == 'offer recipe':
            raise Refusal('no_way')
        methods = [t[0] for t in there]
        allow = ', '.join(dict.fromkeys(methods + (['HEAD'] if 'GET' in methods else []) + ['OPTIONS']))
        method = 'GET' if req.method == 'HEAD' else req.method
        if method == 'OPTIONS':
            return 204, {'Allow': allow}, None
        if method not in methods:
            raise Refusal('wrong_verb', headers={} if bug('no-allow') else {'Allow': allow})
        if not known:
            raise Refusal('odd_query' if bug('edition-code') else 'no_edition')
        if edition == '1' and hill.now() >= SUNSET * 1000 and not bug('never-sunset'):
            raise Refusal('out_of_print')
        _, op, kind, res, names = there[methods.index(method)]
        public = op in REPLIES
        caller = None if public else self.identify(req, op)
        self.rate(req, op, caller, ctx)
        if not public:
            rules = hill.rules(op, caller)
            if bug('taster-locked') and caller and caller.user == 'taster' and op == 'list cave':
                rules = []
            if not rules:
                raise Refusal('not_for_you')
            if not any(not r[2] or caller and set(r[2]) <= set(caller.scopes) for r in rules):
                raise Refusal('not_for_you' if bug('scope-code') else 'lacks_scope')
        if bug('body-first'):
            body = self.read_body(req, op, kind)
            words = self.read_query(op, pairs, edition, caller, kind)
        else:
            words = self.read_query(op, pairs, edition, caller, kind)
        key = self.once_key(req, op)
        if not bug('body-first'):
            body = self.read_body(req, op, kind)
        hill.who = caller
        hill.db.execute('begin')
        if key is None:
            out = self.act(req, op, kind, res, names, words, body, caller, edition)
        else:
            out = self.once(req, op, kind, res, names, words, body, caller, edition, key, path, query, ctx)
        hill.db.execute('commit')
        if isinstance(out, Refusal):
            raise out
        return out

    def identify(self, req, op):
        found, bad, accepted = [], False, ['badge'] if op == 'condemn wheel' and not bug('condemn-key') else ['key', 'badge']
        keys, auths = req.all('X-Cave-Key'), req.all('Authorization')
        if 'key' in accepted and keys:
            found.append(self.credentials['key'].get(keys[0]) if len(keys) == 1 else None)
        if 'badge' in accepted and auths:
            m = re.fullmatch(r'Badge +(\S+)', auths[0], 0 if bug('badge-case') else re.I)
            found.append(self.credentials['badge'].get(m[1]) if m and len(auths) == 1 else None)
        bad = any(c is None for c in found) or len({(c.user, c.id) for c in found if c}) > (2 if bug('two-callers') else 1)
        if bug('bad-key-anonymous') and bad and op in ('list recipe', 'read recipe'):
            return None
        if bad or not found and op not in ('list recipe', 'read recipe'):
            extra = ', error="invalid_key"' if bad else ''
            parts = []
            if 'key' in accepted:
                parts.append('ApiKey realm="%s", in="header", name="X-Cave-Key"%s' % (TITLE, extra))
            parts.append('Badge realm="%s"%s' % (TITLE, extra))
            raise Refusal('bad_key' if bad and not bug('bad-as-missing') else 'who_are_you', headers={'WWW-Authenticate': ', '.join(parts)})
        return found[0] if found else None

    def rate(self, req, op, caller, ctx):
        now = self.hill.now()
        if caller:
            who = (caller.user, caller.id) if not bug('rate-by-house') else caller.house
            cost = 4 if op == 'list wheel' and not bug('flat-cost') else 1
            w = self.windows.get(who)
            if not w or now - w[0] >= 60000:
                w = self.windows[who] = [now, 0]
            ctx['window'], ctx['cost'] = w, 0
            if w[1] + cost > (250 if bug('rate-250') else 240):
                raise Refusal('slow_down', headers={} if bug('no-retry-after') else {'Retry-After': str(-(-(w[0] + 60000 - now) // 1000))})
            w[1] += cost
            ctx['cost'] = cost
        elif op in ('list recipe', 'read recipe'):
            ts = self.strangers.setdefault(req.address, [])
            ts[:] = [t for t in ts if now - t < 60000]
            ctx['times'] = ts
            if len(ts) >= 40 and not bug('strangers-free'):
                raise Refusal('slow_down', headers={'Retry-After': str(max(1, -(-(ts[0] + 60000 - now) // 1000)))})
            ts.append(now)

    def read_query(self, op, pairs, edition, caller, kind):
        """What was asked for in the query; refuses what will not do."""
        words, seen = {}, set()
        filters, extra = FILTERS.get(op, {}), LIST_WORDS.get(op, set())
        odd = lambda name: Refusal('odd_query', [fault(name, 'another value', place='query')])
        page = []
        for name, v in pairs:
            if name == 'edition':
                continue
            if kind == 'list' and name in ('from', 'per'):
                page.append((name, v))
                continue
            if name not in filters and name not in extra or name == 'gate' and edition == '1':
                if bug('loose-query') and kind == 'list':
                    continue
                raise odd(name)
            if name in seen and name not in ('only', 'verdict'):
                raise odd(name)
            seen.add(name)
            if name == 'only':
                words.setdefault('only', []).extend(v.split(','))
                continue
            if name == 'sort':
                allowed = ['days', '-days'] if op == 'list recipe' else ['made', '-made', 'weight', '-weight', 'tag', '-tag']
                if v not in allowed:
                    raise odd(name)
                words['sort'] = v
            elif name == 'way':
                if v not in ('asc', 'desc'):
                    raise odd(name)
                words['way'] = v
            elif name == 'verdict':
                if v not in FIELDS['tasting']['verdict']['enum']:
                    raise odd(name)
                words.setdefault('verdict', []).append(v)
            elif name in ('stage', 'wash') and op in ('list wheel', 'list recipe'):
                values = v.split(',')
                if len(values) > 100 or any(x not in (shapes.STAGES if name == 'stage' else ['brine', 'cider', 'marc']) for x in values):
                    raise odd(name)
                words[name] = values
            elif name == 'milk' and op == 'list recipe':
                milk = fields('recipe', edition)['milk']
                if v not in milk['enum']:
                    raise odd(name)
                words[name] = shapes.up_value('recipe', 'milk', v, edition)
            else:
                value = filters[name][0](v)
                if value is None or name == 'q' and len(v.split()) > 16:
                    raise odd(name)
                words[name] = value
        if 'only' in words:
            rules = [r for r in self.hill.rules(op, caller)]
            names = set(FIELDS['tasting'])
            if all(r[5] for r in rules) and not bug('only-any'):
                names = {'id'}.union(*[r[5] for r in rules])
            if any(n not in names for n in words['only']):
                raise odd('only')
        if kind == 'list':
            size, top = (5, 20) if op == 'list pickup' else (10, 50)
            names = [n for n, _ in page]
            if len(set(names)) < len(names):
                raise odd(names[0])
            page = dict(page)
            if 'per' in page:
                if not re.fullmatch(r'[0-9]{1,400}', page['per']) or int(page['per']) < (0 if bug('per-zero') else 1):
                    raise Refusal('bad_page')
                size = int(page['per'])
                if size > top:
                    if op != 'list pickup' and not bug('clamp-all') or op == 'list pickup' and bug('refuse-clamp'):
                        raise Refusal('bad_page')
                    size = top
            elif bug('per-default') and op == 'list recipe':
                size = 20
            words['_size'], words['_mark'] = size, page.get('from')
        return words

    def once_key(self, req, op):
        if op not in ONCE_KEYS:
            return None
        keys = req.all('Once-Key')
        if len(keys) > 1 or not keys and ONCE_KEYS[op] and not bug('key-optional'):
            raise Refusal('odd_query', [fault('Once-Key', 'a key', place='header')])
        return keys[0] if keys else None

    def read_body(self, req, op, kind):
        if req.too_big:
            raise Refusal('too_big')
        if kind not in ('create', 'update', 'upsert') and op not in BODY_MOVES:
            return None
        if not req.body:
            raise Refusal('garbled' if bug('no-body-code') else 'no_body')
        media = (req.one('Content-Type') or '').split(';')[0].strip().lower()
        if media != 'application/json' and not (kind == 'update' and media == 'application/merge-patch+json' and not bug('no-merge-type')):
            raise Refusal('not_json')

        def refuse(_):
            raise ValueError
        try:
            return json.loads(req.body.decode('utf-8'), parse_constant=refuse)
        except (ValueError, RecursionError):
            raise Refusal('garbled')

    # -- keys that make a request count once
    def once(self, req, op, kind, res, names, words, body, caller, edition, key, path, query, ctx):
        db, who = self.hill.db, caller.user + ' ' + caller.id
        print_ = json.dumps([path, sorted(query.split('&')), edition, None if bug('once-no-body') else body], sort_keys=True)
        had = db.execute('select print, status, body, headers from once where who = ? and op = ? and key = ?',
                         ('' if bug('once-shared') else who, op, key)).fetchone()
        if had:
            if had[0] != print_:
                raise Refusal('key_reused')
            headers, doc = json.loads(had[3]), json.loads(had[2])
            if had[1] >= 400:
                return Refusal(doc['code'], headers=headers)
            if bug('once-token') and op == 'create pickup':
                doc['pickup']['token'] = self.hill.get('pickup', doc['pickup']['id'])['token']
            return had[1], headers, doc
        db.execute('savepoint act')
        try:
            status, headers, doc = self.act(req, op, kind, res, names, words, body, caller, edition)
            kept = json.loads(json.dumps(doc))
            if op == 'create pickup':
                kept['pickup'].pop('token', None)
            out = (status, headers, doc)
        except Refusal as r:
            if not r.own:
                raise
            db.execute('rollback to act')
            status, headers, kept, out = CODES[r.code][0], {}, {'code': r.code}, r
        db.execute('insert into once values (?,?,?,?,?,?,?,?)', ('' if bug('once-shared') else who, op, key, print_, status, json.dumps(kept), json.dumps(headers), self.hill.now()))
        return out

    # -- what is done
    def act(self, req, op, kind, res, names, words, body, caller, edition):
        hill, req = self.hill, self.req
        if kind == 'reply':
            return 200, {}, REPLIES[op]
        cave = None
        if op in ('create wheel', 'wheels of cave', 'numbered wheel') or res == 'cave' and 'code' in names:
            cave = next((c for c in hill.all('cave') if c['code'] == names['code']), None)
            if cave is None:
                raise Refusal('not_there')
        if kind == 'list':
            return self.listing(op, res, words, cave, caller, edition)
        if kind == 'create':
            return self.create(op, res, names, body, caller, edition, cave)
        # the row
        if res == 'cave':
            row = cave
        elif op == 'numbered wheel':
            row = next((w for w in hill.all('wheel', 'p', cave['no']) if str(w['number']) == names['number']), None)
        else:
            row = hill.get(res, list(names.values())[-1])
        if kind == 'upsert':
            return self.upsert(row, names['slug'], body, caller, edition)
        if row is None and res == 'recipe':
            gone = hill.get_gone('recipe', names['slug'])
            if gone is not None:
                if op != 'unbin recipe':
                    raise Refusal('not_there' if bug('bin-404') else 'in_the_bin')
                gone['shelf'] = 'binned'
                new = dict(gone, shelf='withdrawn' if bug('unbin-withdrawn') else 'offered')
                new = hill.store('recipe', new)
                hill.tell([op], 'recipe', new, gone)
                return 200, {}, {'recipe': hill.show('recipe', new, caller, edition)}
        if row is None or not hill.may_read(res, caller, row) and not (bug('draft-told') and res == 'tasting'):
            raise Refusal('not_there')
        denied = hill.may(op, caller, row)
        if denied and not (bug('mate-deletes') and op == 'delete wheel'):
            raise Refusal('not_there' if bug('403-as-404') and op == 'update wheel' else denied)
        if kind == 'read':
            doc = {res: hill.show(res, row, caller, edition)}
            if op not in TAGGED:
                return 200, {}, doc
            tag = self.tag(doc, edition)
            headers = {'ETag': tag}
            if op == 'read recipe':
                headers['Cache-Control'] = 'public, max-age=30'
            asked = req.one('If-None-Match')
            if asked and (asked.strip() == '*' or tag in [t.strip()[2 if t.strip().startswith('W/') else 0:] for t in asked.split(',')]):
                if not (bug('no-304') and op == 'numbered wheel'):
                    return 304, headers, None
            return 200, headers, doc
        if op in IF_MATCH:
            asked = req.one('If-Match')
            if asked is None:
                if IF_MATCH[op] and not bug('tag-optional'):
                    raise Refusal('tag_please')
            elif asked.strip() != '*' and not (bug('if-match-cave') and op == 'update cave'):
                mine = {self.tag({res: hill.show(res, row, c, edition)}, edition) for c in (caller, None)
                        if c or hill.may_read(res, None, row)}
                if not mine & {t.strip() for t in asked.split(',')}:
                    raise Refusal('stale')
        if kind == 'update':
            return self.update(op, res, row, body, caller, edition)
        if kind == 'delete':
            self.inside(op, row)
            held = (res == 'cave' and hill.all('wheel', 'p', row['no'])) or (res == 'recipe' and hill.all('wheel', 'w', row['slug']) and not bug('recipe-let-go')) \
                or (res == 'wheel' and hill.all('line', 'w', row['id']))
            if held:
                raise Refusal('leaned_on')
            hill.delete(res, row, caller)
            return 204, {}, None
        # transitions
        if op in BODY_MOVES:
            name, spec = BODY_MOVES[op]
            faults = []
            if not isinstance(body, dict):
                faults = [fault('', 'object')]
            else:
                for n, v in body.items():
                    if n != name:
                        faults.append(fault(n, 'no such member', 'unheard_of'))
                    else:
                        wrong = misfit(spec, v)
                        if wrong and not (bug('reason-short') and wrong[1].startswith('at least')):
                            faults.append(fault(n, wrong[1]))
                if name not in body:
                    faults.append(fault(name, 'something', 'incomplete'))
            self.blame(faults)
        new, answer = hill.move(op, res, row, caller, body)
        if answer and not bug('harsh-quiet'):
            return Refusal(answer, own=True)
        return 200, {}, {res: hill.show(res, new, caller, edition)}

    def blame(self, faults):
        if faults:
            code = faults[0]['_kind']
            if bug('missing-code') and code == 'incomplete':
                code = 'unfit'
            raise Refusal(code, faults)

    def inside(self, op, row):
        if op in INSIDE:
            field, states = INSIDE[op]
            if row[field] not in states and not (bug('update-ripe') and op == 'update wheel' and row[field] == 'ripe') and not (bug('delete-signed') and op == 'delete tasting'):
                raise Refusal('wrong_moment')

    def tag(self, doc, edition):
        if bug('tag-of-stamp') and 'wheel' in doc:
            doc = doc['wheel'].get('updated_at')
        return '"%s"' % hashlib.sha256((edition + json.dumps(doc, sort_keys=True)).encode()).hexdigest()[:24]

    def rows_limit(self, res, field, value, limit, while_=None):
        if sum(1 for r in self.hill.all(res) if r[field] == value and (while_ is None or while_(r))) >= limit:
            raise Refusal('enough')

    def quota(self, house):
        zone = ZoneInfo('UTC' if bug('quota-utc') else 'Europe/Paris')
        now = datetime.fromtimestamp(self.hill.now() / 1000, zone)
        win = now.strftime('%Y-%m-%d')
        had = self.hill.db.execute('select n from used where what = ? and who = ? and win = ?', ('wheel', house, win)).fetchone()
        if had and had[0] >= 60:
            day = datetime(now.year, now.month, now.day, tzinfo=zone) + timedelta(days=1)
            wait = day.timestamp() - self.hill.now() / 1000
            raise Refusal('enough', headers={'Retry-After': str(int(-(-wait // 1)))})
        self.hill.db.execute('insert into used values (?,?,?,1) on conflict (what, who, win) do update set n = n + 1', ('wheel', house, win))

    def create(self, op, res, names, body, caller, edition, cave):
        hill, prefix, bound = self.hill, '', {}
        wheel = None
        if res == 'wheel':
            bound = {'cave': cave['no']}
        if res == 'tasting':
            wheel = hill.get('wheel', names['wheel'])
            if wheel is None or not hill.may_read('wheel', caller, wheel):
                raise Refusal('not_there')
            bound = {'wheel': wheel['id']}
            wrong = []
            if not isinstance(body, dict):
                wrong = [fault('', 'object')]
            else:
                wrong = [fault(n, 'no such member', 'unheard_of') for n in body if n != 'tasting']
                if 'tasting' not in body:
                    wrong.append(fault('tasting', 'something', 'incomplete'))
            if 'tasting' not in (body if isinstance(body, dict) else {}):
                self.blame(wrong)
            vals, _, faults = take(res, body['tasting'], 'create', caller, edition, 'tasting.', bound)
            order = list(body)
            faults = (wrong + faults) if not wrong or order.index(wrong[0]['path']) < order.index('tasting') else \
                [x for x in faults if x['_kind'] != 'incomplete'] + wrong + [x for x in faults if x['_kind'] == 'incomplete']
            self.blame(faults)
        else:
            vals, _, faults = take(res, body, 'create', caller, edition, '', bound, refuse=res == 'cave')
            self.blame(faults)
        row = dict(vals, **bound)
        # what is referred to
        if res == 'wheel':
            recipe = hill.get('recipe', row['recipe'])
            if recipe is None:
                raise Refusal('dangling', [fault('recipe', 'one that is there')])
            if recipe['shelf'] == 'withdrawn' and not bug('withdrawn-taken'):
                raise Refusal('off_the_list', own=True)
            if 'batch' in row and any(w['house'] == caller.house and w.get('batch') == row['batch'] for w in hill.all('wheel')) and not bug('batch-twice'):
                raise Refusal('taken')
        lines = row.pop('lines', [])
        missing = []
        for i, n in enumerate(lines):
            w = hill.get('wheel', n['wheel'])
            if w is None or not (hill.may_read('wheel', caller, w) or bug('line-foreign')):
                missing.append(fault('lines.%d.wheel' % i, 'one that is there'))
        if missing:
            raise Refusal('dangling', missing)
        if res == 'tasting':
            if wheel['hold'] == 'held' and not bug('hands-on'):
                raise Refusal('hands_off', own=True)
            had = next((t for t in hill.all('tasting', 'p', wheel['id']) if t['taster'] == caller.id), None)
            if had:
                return 201 if bug('exists-201') else 200, {}, {'tasting': hill.show('tasting', had, caller, edition)}
            self.rows_limit('tasting', 'taster', caller.id, 6, lambda r: r['verdict'] == 'draft' or bug('drafts-all'))
        if res == 'cave' and any(c['code'] == row['code'] for c in hill.all('cave')):
            raise Refusal('taken')
        if res == 'pickup':
            open_ = [p for p in hill.all('pickup') if p['house'] == caller.house and p['state'] in ('booked', 'ready')]
            if any(p['day'] == row['day'] and not (bug('ready-day') and p['state'] == 'ready') for p in open_):
                raise Refusal('taken')
            self.rows_limit('pickup', 'house', caller.house, 6 if bug('six-pickups') else 5, lambda r: r['state'] in ('booked', 'ready'))
        if res == 'hook':
            self.rows_limit('hook', 'owner', caller.id, 5 if bug('five-hooks') else 4)
        if res == 'wheel' and not bug('no-quota'):
            self.quota(caller.house)
        # what is made with it
        key = key_of(res)
        if res in ('cave', 'pickup', 'hook'):
            row[key] = hill.count_up(res)
        else:
            row[key] = hill.ulid()
        if res == 'cave':
            row['door'] = 'open'
        elif res == 'wheel':
            row.update(number=hill.count_up('number' if bug('number-over-all') else 'number %d' % cave['no']), tag='HH-%04d' % hill.count_up('tag'), house=caller.house,
                       maker=caller.id, fee_c=row['weight_g'] // 10, stage='resting', hold='clear')
        elif res == 'tasting':
            row.update(taster=caller.id, verdict='draft')
        elif res == 'pickup':
            row.update(slip='PU-%05d' % hill.count_up('slip'), house=caller.house, by=caller.id, state='booked',
                       token=''.join(secrets.choice(string.ascii_uppercase + string.digits) for _ in range(10)))
        elif res == 'hook':
            row.update(owner=caller.id, secret=''.join(secrets.choice(string.ascii_letters + string.digits) for _ in range(32)),
                       _edition=edition, _maker={'user': caller.user, 'id': caller.id, 'house': caller.house, 'scopes': caller.scopes})
        hill.stamp(res, row)
        new = hill.store(res, row)
        made = []
        for n in lines:
            w = hill.get('wheel', n['wheel'])
            line = hill.store('line', dict(n, id=hill.count_up('line'), pickup=new['id'], grams=w['weight_g']))
            made.append(line)
            hill.move('claim wheel', 'wheel', w, caller)
        if res == 'tasting':
            hill.entered(res, new, 'verdict')
        if res == 'pickup':
            hill.entered(res, new, 'state')
        new = hill.get(res, new[key])
        hill.tell([op], res, new, None)
        doc = {res: hill.show(res, new, caller, edition, once=True)}
        place = {'cave': '/api/caves/%s' % new.get('code'), 'pickup': '/api/pickups/%s' % new[key]}.get(res, '/api/%ss/%s' % (res, new[key]))
        if bug('location-base') and res == 'wheel':
            place = place[4:]
        return 201, {'Location': place}, doc

    def differs(self, res, a, b):
        return any(a.get(n, '\0') != b.get(n, '\0') for n, s in FIELDS[res].items() if not s.get('derived') and n != 'lines')

    def update(self, op, res, row, body, caller, edition):
        hill = self.hill
        vals, gone, faults = take(res, body, 'update', caller, edition, '', {}, before=row, refuse=res == 'cave')
        self.blame(faults)
        new = dict(row)
        new.update(vals)
        for g in gone:
            if not (bug('label-stays') and g == 'label'):
                new.pop(g, None)
        door = vals.get('door', row.get('door')) if res == 'cave' else None
        new_door = door if res == 'cave' and door != row['door'] else None
        self.inside(op, row)
        if res == 'cave':
            if new_door:
                new['door'] = row['door']
                if new_door == 'open' and new['temp_c'] > 14 and not bug('reopen-warm'):
                    raise Refusal('too_warm', own=True)
            if new['shelves'] < row['lying'] and not bug('few-shelves'):
                raise Refusal('too_few', own=True)
        if not new_door and not self.differs(res, row, new):
            if not bug('stamp-always'):
                return 200, {}, {res: hill.show(res, row, caller, edition)}
        if res == 'wheel' and 'batch' in new and any(w['id'] != row['id'] and w['house'] == new['house'] and w.get('batch') == new['batch'] for w in hill.all('wheel')):
            raise Refusal('taken')
        if res == 'wheel' and not bug('fee-stays'):
            new['fee_c'] = new['weight_g'] // 10
        if new_door:
            also = {k: v for k, v in new.items() if k not in ('door', '_seq')}
            base = dict(row)
            stored, _ = hill.move('shut cave' if new_door == 'shut' else 'reopen cave', 'cave', base, caller, None, also, ['update cave'])
            if bug('door-only'):
                stored = hill.store('cave', dict(row, door=new_door))
        else:
            hill.stamp(res, new)
            stored = hill.store(res, new)
            hill.tell([op], res, stored, row)
        return 200, {}, {res: hill.show(res, stored, caller, edition)}

    def upsert(self, row, slug, body, caller, edition):
        hill = self.hill
        faults = []
        vals, _, faults = take('recipe', body, 'replace', caller, edition, '', {'slug': slug}, before=None)
        wrong = misfit(FIELDS['recipe']['slug'], slug)
        if wrong:
            faults.insert(0, fault('slug', wrong[1], place='path'))
        self.blame(faults)
        vals['slug'] = slug
        if row is None:
            hill.db.execute('delete from recipe where id = ?', (slug,))
            new = hill.store('recipe', dict(vals, shelf='offered', keeper=caller.id))
            return 200 if bug('put-200') else 201, {'Location': '/api/recipes/' + slug}, {'recipe': hill.show('recipe', new, caller, edition)}
        kept = {k: row[k] for k in ('slug', 'shelf', 'keeper')}
        if bug('put-keeper'):
            kept['keeper'] = caller.id
        if bug('put-shelf'):
            kept['shelf'] = 'offered'
        if bug('put-merges') and 'turn_every_h' in row:
            kept['turn_every_h'] = row['turn_every_h']
        new = dict(vals)
        for k, v in kept.items():
            new.setdefault(k, v) if k == 'turn_every_h' else new.update({k: v})
        new = hill.store('recipe', new) if self.differs('recipe', row, new) else row
        return 200, {}, {'recipe': hill.show('recipe', new, caller, edition)}

    # -- lists
    def listing(self, op, res, words, cave, caller, edition):
        hill = self.hill
        rows = hill.all(res, 'p', cave['no']) if cave else hill.all(res)
        if not (bug('house-list') and op == 'wheels of cave'):
            rows = [r for r in rows if hill.may(op, caller, r) is None]
        filters = FILTERS.get(op, {})
        asked = {n: v for n, v in words.items() if n in filters}
        if res == 'wheel' and ('cave_code' in asked or 'milk' in asked):
            for r in rows:
                r['_cave'], r['_recipe'] = hill.raw('cave', 'id', r['cave'])[0], hill.raw('recipe', 'id', r['recipe'])[0]
        for n, v in asked.items():
            rows = [r for r in rows if filters[n][1](r, v)]
        order = ORDERS[op]
        if 'sort' in words:
            sign, name = ('-', words['sort'][1:]) if words['sort'].startswith('-') else ('', words['sort'])
            order = sign + {'made': 'made_on', 'weight': 'weight_g'}.get(name, name)
        if 'way' in words and order and not (bug('way-bare') and 'sort' not in words):
            order = turn(order, words['way'])
        newest = op == 'list wheel' and not bug('ties-oldest')
        rows.sort(key=lambda r: r['_seq'], reverse=newest)
        name = order.lstrip('-') if order else None
        back = bool(order) and order.startswith('-')
        if name:
            rows.sort(key=lambda r: r[name], reverse=back)

        reads = {'wheel': caller and [caller.user, caller.house if caller.user == 'dairy' else ''], 'tasting': caller and [caller.user, caller.house if caller.user == 'dairy' else caller.id if caller.user == 'taster' else ''],
                 'pickup': caller and [caller.user, caller.house], 'hook': caller and [caller.id]}.get(res)
        query = json.dumps([op, cave and cave['no'], sorted(asked.items()) if not bug('cursor-any') else 0, order, edition, reads], default=str)
        total = len(rows)
        if words['_mark'] is not None:
            place = self.open_mark(words['_mark'], query)
            if place is None:
                if bug('bad-mark-first'):
                    place = [None, None]
                else:
                    raise Refusal('bad_page')

            def after(r):
                if name and r[name] != place[0]:
                    return r[name] < place[0] if back else r[name] > place[0]
                return r['_seq'] < place[1] if newest else r['_seq'] > place[1]
            if place[1] is not None:
                rows = [r for r in rows if after(r)]
        size = words['_size']
        page, more = rows[:size], len(rows) > size
        if bug('more-always') and len(rows) == size:
            more = True
        out = []
        for r in page:
            shown = hill.show(res, r, caller, edition)
            if 'only' in words:
                shown = {k: v for k, v in shown.items() if k in words['only'] or k == 'id' and not bug('only-id')}
            out.append(shown)
        last = page[-1] if page else None
        if bug('page-skips') and more and op == 'list recipe':
            last = rows[size]
        doc = {'rows': out, 'next_mark': self.make_mark([last[name] if name else None, last['_seq']], query) if more else None, 'more': more}
        if op == 'list pickup':
            doc['in_all'] = len(out) if bug('total-of-page') else total
            doc['of'] = 'pickup'
        return 200, {}, doc

    def make_mark(self, place, query):
        body = json.dumps(place).encode()
        sig = hmac.new(self.hill.secret, body + query.encode(), hashlib.sha256).digest()[:12]
        return base64.urlsafe_b64encode(sig + body).decode().rstrip('=')

    def open_mark(self, mark, query):
        try:
            if not re.fullmatch(r'[A-Za-z0-9_-]+', mark):
                return None
            raw = base64.urlsafe_b64decode(mark + '=' * (-len(mark) % 4))
            if not hmac.compare_digest(raw[:12], hmac.new(self.hill.secret, raw[12:] + query.encode(), hashlib.sha256).digest()[:12]):
                return None
            return json.loads(raw[12:])
        except ValueError:
            return None
