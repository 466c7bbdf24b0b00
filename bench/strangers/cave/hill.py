"""What the hill keeps, and what happens to it: rows, states, the clock, events."""
import hashlib
import hmac
import json
import os
import sqlite3
import threading
import time
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import shapes
from shapes import FIELDS, bug, down, key_of

HOUR, DAY = 3600_000, 86400_000
B32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'


class Refusal(Exception):
    def __init__(self, code, faults=None, headers=None, own=False):
        super().__init__(code)
        self.code, self.faults, self.headers, self.own = code, faults, headers or {}, own


class Caller:
    def __init__(self, user, id, house, scopes):
        self.user, self.id, self.house, self.scopes = user, id, house, scopes


def text(v):
    return str(v).encode('utf-8', 'replace').decode()


def iso(ms):
    return datetime.fromtimestamp(ms // 1000, timezone.utc).strftime('%Y-%m-%dT%H:%M:%S') + '.%03dZ' % (ms % 1000)


# op -> (field, from, to, the error of a wrong state)
MOVES = {
    'shut cave': ('door', ['open'], 'shut', 'wrong_moment'), 'reopen cave': ('door', ['shut'], 'open', 'wrong_moment'),
    'withdraw recipe': ('shelf', ['offered'], 'withdrawn', 'wrong_moment'),
    'offer recipe': ('shelf', ['withdrawn'], 'offered', 'wrong_moment'),
    'unbin recipe': ('shelf', ['binned'], 'offered', 'wrong_moment'),
    'lay wheel': ('stage', ['resting'], 'ripening', 'wrong_moment'), 'ripen wheel': ('stage', ['ripening'], 'ripe', 'wrong_moment'),
    'claim wheel': ('stage', ['ripe'], 'claimed', 'wheel_unready'), 'unclaim wheel': ('stage', ['claimed'], 'ripe', 'wrong_moment'),
    'leave wheel': ('stage', ['claimed'], 'gone', 'wrong_moment'), 'spoil wheel': ('stage', ['ripe'], 'condemned', 'wrong_moment'),
    'condemn wheel': ('stage', ['resting', 'ripening', 'ripe'], 'condemned', 'wrong_moment'),
    'hold wheel': ('hold', ['clear'], 'held', 'wrong_moment'), 'free wheel': ('hold', ['held'], 'clear', 'nothing_held'),
    'sign tasting': ('verdict', ['draft'], 'signed', 'wrong_moment'), 'drop tasting': ('verdict', ['draft'], 'void', 'wrong_moment'),
    'lapse tasting': ('verdict', ['draft'], 'void', 'wrong_moment'),
    'prepare pickup': ('state', ['booked'], 'ready', 'wrong_moment'), 'collect pickup': ('state', ['ready'], 'collected', 'wrong_moment'),
    'cancel pickup': ('state', ['booked', 'ready'], 'cancelled', 'too_late'),
    'lapse pickup': ('state', ['booked'], 'lapsed', 'wrong_moment'),
}
OWN = {'nothing_held', 'too_late', 'wheel_held', 'wrong_pin', 'cave_full', 'too_warm', 'harsh', 'cave_shut', 'too_few', 'off_the_list', 'hands_off'}
# what the clock does some time after a state was entered
AFTER = {('tasting', 'verdict', 'draft'): ('lapse tasting', 7 * DAY), ('pickup', 'state', 'booked'): ('lapse pickup', 36 * HOUR),
         ('wheel', 'stage', 'ripe'): ('spoil wheel', 60 * DAY)}

# operations, users (None = anyone), scopes, condition, the error where it fails, fields that are shown
RULES = [
    ('list cave|read cave', shapes.ANYONE, [], None, None, None),
    ('create cave|update cave|delete cave', ['cellarer'], [], None, None, None),
    ('list recipe|read recipe', None, [], None, None, None),
    ('upsert recipe|delete recipe|withdraw recipe|offer recipe|unbin recipe', ['cellarer'], [], None, None, None),
    ('create wheel', ['dairy'], ['bring'], None, None, None),
    ('list wheel|wheels of cave|read wheel|numbered wheel', ['dairy'], [], lambda r, c: r['house'] == c.house, None, None),
    ('update wheel|delete wheel', ['dairy'], [], lambda r, c: r['maker'] == c.id, None, None),
    ('list wheel|wheels of cave|read wheel|numbered wheel|update wheel|lay wheel|hold wheel|free wheel|condemn wheel', ['cellarer'], [], None, None, None),
    ('list wheel|wheels of cave|read wheel|numbered wheel', ['taster'], [], lambda r, c: r['stage'] in ('ripening', 'ripe', 'claimed'), None, None),
    ('create tasting', ['taster'], ['judge'], None, None, None),
    ('list tasting|read tasting|update tasting|delete tasting', ['taster'], [], lambda r, c: r['taster'] == c.id, None, None),
    ('sign tasting', ['taster'], ['judge'], lambda r, c: r['taster'] == c.id, None, None),
    ('list tasting|read tasting', ['taster'], [], lambda r, c: r['verdict'] == 'signed', None, None),
    ('list tasting|read tasting', ['cellarer'], [], None, None, None),
    ('list tasting|read tasting', ['dairy'], [], lambda r, c: r['_house']() == c.house and r['verdict'] == 'signed', None, ['wheel', 'score', 'verdict']),
    ('create pickup', ['dairy'], [], None, None, None),
    ('list pickup|read pickup', ['dairy'], [], lambda r, c: r['house'] == c.house, None, None),
    ('cancel pickup', ['dairy'], [], lambda r, c: r['by'] == c.id, 'not_yours', None),
    ('list pickup|read pickup|prepare pickup|collect pickup', ['cellarer'], [], None, None, None),
    ('create hook', shapes.ANYONE, [], None, None, None),
    ('list hook|read hook|update hook|delete hook', shapes.ANYONE, [], lambda r, c: r['owner'] == c.id, None, None),
    ('list entry|read entry', ['cellarer'], [], None, None, None),
]
RULES = [(set(r[0].split('|')),) + r[1:] for r in RULES]


def loosen_rules():
    """Switches on the faults that live in the rules."""
    def swap(op, user, **change):
        for i, (ops, users, scopes, cond, other, shown) in enumerate(RULES):
            if op in ops and users and user in users:
                RULES[i] = (ops, users, change.get('scopes', scopes), change.get('cond', cond), change.get('other', other), change.get('shown', shown))
                return
    if bug('mate-updates'):
        swap('update wheel', 'dairy', cond=lambda r, c: r['house'] == c.house)
    if bug('scope-ignored'):
        swap('create wheel', 'dairy', scopes=[])
    if bug('words-shown'):
        swap('read tasting', 'dairy', shown=['wheel', 'score', 'verdict', 'words'])
    if bug('taster-sees-resting'):
        swap('read wheel', 'taster', cond=lambda r, c: r['stage'] != 'condemned')
    if bug('foreign-pickup'):
        swap('read pickup', 'dairy', cond=None)
    if bug('not-yours-plain'):
        swap('cancel pickup', 'dairy', other=None)
    if bug('other-drafts'):
        for i, r in enumerate(RULES):
            if 'read tasting' in r[0] and r[1] == ['taster'] and 'update tasting' not in r[0]:
                RULES[i] = r[:3] + (lambda row, c: row['verdict'] in ('signed', 'draft'),) + r[4:]
    if bug('hook-owner-any'):
        swap('read hook', 'dairy', cond=None)


class Hill:
    def __init__(self):
        self.lock = threading.RLock()
        self.offset = 0
        self.db = sqlite3.connect(':memory:', check_same_thread=False, isolation_level=None)
        for res in FIELDS:
            self.db.execute('create table "%s" (seq integer primary key autoincrement, id text unique, doc text, gone integer, p text, w text)' % res)
            self.db.execute('create index "%s_p" on "%s" (p)' % (res, res))
            self.db.execute('create index "%s_w" on "%s" (w)' % (res, res))
        self.db.execute('create table counter (name text primary key, n integer)')
        self.db.execute('create table timer (seq integer primary key, due integer, res text, id text, machine text, what text)')
        self.db.execute('create table once (who text, op text, key text, print text, status integer, body text, headers text, at integer, primary key (who, op, key))')
        self.db.execute('create table used (what text, who text, win text, n integer, primary key (what, who, win))')
        self.db.execute('create table post (seq integer primary key, hook text, event text, kind text, about text, body text, due integer, tries integer, state text)')
        self.last_ulid = (0, 0)
        self.callers = {}
        self.wake = threading.Event()
        self.who = None          # whoever brought about what is being done
        self.secret = os.urandom(16)

    # -- the clock
    def now(self):
        if self.frozen is not None:
            return self.frozen
        return int(time.time() * 1000) + self.offset
    frozen = None

    def run_due(self, until=None):
        """Does what has fallen due, in its order, each at its time."""
        with self.lock:
            until = self.now() if until is None else until
            while True:
                t = self.db.execute('select seq, due, res, id, machine, what from timer where due <= ? order by due, seq limit 1', (until,)).fetchone()
                if not t:
                    break
                seq, due, res, id, machine, what = t
                self.frozen = min(max(due, 0), until)
                self.who = None
                self.db.execute('begin')
                try:
                    self.db.execute('delete from timer where seq = ?', (seq,))
                    row = self.get(res, id)
                    if row is not None:
                        if what == 'wheel.soon':
                            self.emit('wheel.soon', 'wheel', row, None)
                        elif row[machine] in MOVES[what][1]:
                            self.move(what, res, row, None)
                    self.db.execute('commit')
                except Exception:
                    self.db.execute('rollback')
                    self.db.execute('delete from timer where seq = ?', (seq,))
                finally:
                    self.frozen = None
            now = until
            if not bug('log-forever'):
                self.db.execute("delete from entry where gone is not null and gone <= ?", (now,))
            if not bug('bin-forever'):
                self.db.execute("delete from recipe where gone is not null and gone <= ?", (now - 20 * DAY,))
            self.db.execute('delete from once where at <= ?', (now - (13 if bug('once-13h') else 12) * HOUR,))

    def timer(self, res, id, machine, what, due):
        self.db.execute('delete from timer where res = ? and id = ? and machine = ? and what = ?', (res, str(id), machine, what))
        self.db.execute('insert into timer (due, res, id, machine, what) values (?,?,?,?,?)', (due, res, str(id), machine, what))

    # -- rows
    def count_up(self, name):
        self.db.execute('insert into counter values (?, 1) on conflict (name) do update set n = n + 1', (name,))
        return self.db.execute('select n from counter where name = ?', (name,)).fetchone()[0]

    def ulid(self):
        ms, rnd = self.now(), int.from_bytes(os.urandom(9), 'big')
        if ms <= self.last_ulid[0]:
            ms, rnd = self.last_ulid[0], self.last_ulid[1] + 1 + rnd % 1000
        self.last_ulid = (ms, rnd)
        n, out = (ms << 80) | rnd, ''
        for _ in range(26):
            out, n = B32[n & 31] + out, n >> 5
        return out

    def load(self, res, record):
        seq, id, doc = record
        row = json.loads(doc)
        row['_seq'] = seq
        if res == 'cave':
            lying = [w['stage'] for w in self.raw('wheel', 'p', id) if w['stage'] in ('ripening', 'ripe', 'claimed')]
            row['lying'] = len(lying)
            row['room'] = row['shelves'] - (len([s for s in lying if s != 'claimed']) if bug('room-forgets-claimed') else len(lying))
        elif res == 'wheel':
            found = self.raw('tasting', 'p', id)
            row['tastings'] = len(found)
            best = [t['score'] for t in found if t['verdict'] == 'signed' or bug('best-of-all')]
            if best:
                row['best'] = max(best)
        elif res == 'pickup':
            row['weight_g'] = sum(n['grams'] for n in self.raw('line', 'p', id))
        elif res == 'tasting':
            row['_house'] = lambda: self.raw('wheel', 'id', row['wheel'])[0]['house']
        return row

    def raw(self, res, col, value):
        return [json.loads(d) for d, in self.db.execute('select doc from "%s" where %s = ? and gone is null order by seq' % (res, col), (str(value),))]

    def get(self, res, id):
        r = self.db.execute('select seq, id, doc from "%s" where id = ?%s' % (res, '' if res == 'entry' else ' and gone is null'), (text(id),)).fetchone()
        return self.load(res, r) if r else None

    def get_gone(self, res, id):
        r = self.db.execute('select seq, id, doc from "%s" where id = ? and gone is not null' % res, (text(id),)).fetchone()
        return self.load(res, r) if r else None

    def all(self, res, col=None, value=None):
        sql = 'select seq, id, doc from "%s" where %s%s order by seq' % (
            res, '1' if res == 'entry' else 'gone is null', ' and %s = ?' % col if col else '')
        return [self.load(res, r) for r in self.db.execute(sql, (str(value),) if col else ()).fetchall()]

    def store(self, res, row, gone=None):
        doc = {k: v for k, v in row.items() if k != '_seq' and k != '_house' and not FIELDS[res].get(k, {}).get('derived') and k != 'lines'}
        p = {'wheel': row.get('cave'), 'tasting': row.get('wheel'), 'line': row.get('pickup')}.get(res)
        w = {'wheel': row.get('recipe'), 'line': row.get('wheel')}.get(res)
        self.db.execute('insert into "%s" (id, doc, gone, p, w) values (?,?,?,?,?) on conflict (id) do update set doc = excluded.doc, gone = excluded.gone' % res,
                        (str(row[key_of(res)]), json.dumps(doc), gone, None if p is None else str(p), None if w is None else str(w)))
        return self.get(res, row[key_of(res)])

    def delete(self, res, row, caller):
        id = str(row[key_of(res)])
        if res == 'recipe':
            self.db.execute('update recipe set gone = ? where id = ?', (self.now(), id))
        else:
            self.db.execute('delete from "%s" where id = ?' % res, (id,))
        self.db.execute('delete from timer where res = ? and id = ?', (res, id))
        if res == 'hook':
            self.db.execute('delete from post where hook = ?', (id,))
        if res == 'wheel':
            for t in self.all('tasting', 'p', id):
                self.delete('tasting', t, caller)
        self.tell(['delete ' + res], res, row, row)

    # -- who may what
    def rules(self, op, caller):
        return [r for r in RULES if op in r[0] and (r[1] is None or caller and caller.user in r[1])]

    def may(self, op, caller, row):
        """None, or the code of the refusal."""
        rules = [r for r in self.rules(op, caller) if not r[2] or caller and set(r[2]) <= set(caller.scopes)]
        if any(r[3] is None or r[3](row, caller) for r in rules):
            return None
        return next((r[4] for r in rules if r[4]), 'not_for_you')

    def may_read(self, res, caller, row):
        return self.may('read ' + res, caller, row) is None

    def show(self, res, row, caller, edition, once=False, event=False):
        """What a caller sees of a row, in an edition's words."""
        user = caller.user if caller else None
        shown = None
        for r in self.rules('read ' + res, caller):
            if r[3] is None or r[3](row, caller):
                if r[5] is None:
                    shown = None
                    break
                shown = (shown or {key_of(res)}) | set(r[5])
        out = {}
        for name, spec in FIELDS[res].items():
            if name == 'lines':
                if not event:
                    lines = [self.show('line', n, caller, edition) for n in self.all('line', 'p', row['id'])]
                    out['lines'] = {'rows': lines, 'more': False}
                continue
            if name not in row or spec.get('wo') and not (bug('pin-shown') and not event and once) or spec.get('once') and not once and not (bug('token-again') and not event):
                continue
            if shown is not None and name not in shown:
                continue
            if 'vis' in spec and user not in spec['vis'] and not (bug('fee-shown') and name == 'fee_c'):
                continue
            out[name] = row[name]
        return down(res, out, edition)

    # -- changes
    def entered(self, res, row, field):
        """Sets what the clock does after a state was entered."""
        id = row[key_of(res)]
        self.db.execute("delete from timer where res = ? and id = ? and machine = ? and what <> 'ripen wheel' and what <> 'wheel.soon'", (res, str(id), field))
        after = AFTER.get((res, field, row[field]))
        if after and not (bug('no-spoil-again') and after[0] == 'spoil wheel' and row.get('_was') == 'claimed'):
            what, wait = after
            if bug('lapse-late') and what == 'lapse pickup':
                wait = 48 * HOUR
            self.timer(res, id, field, what, self.now() + wait)

    def move(self, op, res, row, caller, body=None, also=None, more=None, check=True):
        """A transition: the row after it, and the error that answers it all the same."""
        field, froms, to, wrong = MOVES[op]
        if bug('condemn-claimed') and op == 'condemn wheel':
            froms = froms + ['claimed']
        if bug('cancel-booked-only') and op == 'cancel pickup':
            froms = ['booked']
        if row[field] not in froms:
            if bug('held-code') and op == 'free wheel':
                wrong = 'wrong_moment'
            if bug('late-code') and op == 'cancel pickup':
                wrong = 'wrong_moment'
            raise Refusal(wrong, own=wrong in OWN)
        new, answer = dict(row), None
        new.update(also or {})
        if op == 'lay wheel':
            cave = self.get('cave', row['cave'])
            if cave['room'] <= (-1 if bug('one-too-many') else 0):
                raise Refusal('cave_full', own=True)
            if cave['door'] == 'shut' and not bug('lay-shut'):
                raise Refusal('cave_shut', own=True)
            days = self.raw('recipe', 'id', row['recipe'])[0]['days']
            new['ripe_at'] = iso(self.now() + days * DAY)
        if op == 'claim wheel' and row['hold'] != 'clear' and not bug('claim-held'):
            raise Refusal('wheel_held', own=True)
        if op == 'reopen cave' and new['temp_c'] > 14 and not (bug('reopen-warm') and row['temp_c'] <= 14):
            raise Refusal('too_warm', own=True)
        if op == 'collect pickup' and body['pin'] != row['pin'] and not bug('any-pin'):
            raise Refusal('wrong_pin', own=True)
        if op == 'sign tasting':
            if row['score'] < (6 if bug('harsh-six') else 5):
                to, answer = 'disputed', 'harsh'
            new['signed_at'] = iso(self.now())
        if op == 'condemn wheel':
            new['condemned_for'] = body['reason']
        if op == 'collect pickup' and not bug('no-collected-at'):
            new['collected_at'] = iso(self.now())
        new[field] = to
        self.stamp(res, new)
        if res == 'wheel':
            new['_was'] = row[field] if field == 'stage' else row.get('_was')
        new = self.store(res, new)
        self.entered(res, new, field)
        if op == 'lay wheel':
            due = shapes.instant(new['ripe_at'])
            self.timer('wheel', new['id'], 'stage', 'ripen wheel', due)
            self.timer('wheel', new['id'], 'stage', 'wheel.soon', due - (24 if bug('soon-late') else 48) * HOUR)
        self.tell([op] + (more or []), res, new, row)
        if op == 'condemn wheel' and not bug('drafts-stay'):
            for t in self.all('tasting', 'p', new['id']):
                if t['verdict'] == 'draft':
                    self.move('drop tasting', 'tasting', t, None)
        if op in ('collect pickup', 'cancel pickup', 'lapse pickup'):
            act = 'leave wheel' if op == 'collect pickup' else 'unclaim wheel'
            if not (bug('lapse-keeps') and op == 'lapse pickup') and not (bug('first-line-only') and op == 'collect pickup'):
                for n in self.all('line', 'p', new['id']):
                    self.move(act, 'wheel', self.get('wheel', n['wheel']), None)
            elif op == 'collect pickup':
                self.move(act, 'wheel', self.get('wheel', self.all('line', 'p', new['id'])[0]['wheel']), None)
        return self.get(res, new[key_of(res)]), answer

    def stamp(self, res, row):
        if res == 'wheel':
            row['updated_at'] = iso(self.now())
        if res == 'cave':
            row['revised_at'] = iso(self.now())

    # -- events
    def tell(self, ops, res, row, before):
        a = set(ops)
        if 'lay wheel' in a:
            self.emit('wheel.laid', res, row, before)
        if 'ripen wheel' in a and not bug('ripe-untold'):
            self.emit('wheel.ripe', res, row, before)
        if 'condemn wheel' in a or 'spoil wheel' in a and not bug('spoil-untold'):
            self.emit('wheel.lost', res, row, before)
        if 'leave wheel' in a:
            self.emit('wheel.taken', res, row, before)
        if 'update wheel' in a:
            if row['weight_g'] != before['weight_g'] or bug('reweighed-always'):
                self.emit('wheel.reweighed', res, row, before, {'wheel': row['id'], 'was': row['weight_g'] if bug('was-is') else before['weight_g'], 'is': row['weight_g']})
            fresh = [m for m in row['marks'] if m not in before['marks']]
            for m in fresh[:1] if bug('one-mark') else fresh:
                self.emit('wheel.marked', res, row, before, {'wheel': row['id'], 'mark': m})
        if 'sign tasting' in a and row['verdict'] == 'signed':
            self.emit('tasting.signed', res, row, before)
        if a & {'drop tasting', 'lapse tasting', 'delete tasting'}:
            self.emit('tasting.dropped', res, row, before)
        if 'create pickup' in a:
            self.emit('pickup.booked', res, row, before)
        if a & {'collect pickup', 'cancel pickup', 'lapse pickup'} and not (bug('cancel-untold') and 'cancel pickup' in a):
            self.emit('pickup.over', res, row, before)
        if a & {'shut cave', 'reopen cave'}:
            self.emit('cave.door', res, row, before)
        if 'delete recipe' in a:
            self.emit('recipe.binned', res, row, before)

    def emit(self, kind, res, row, before, data=None):
        id, at, about = self.ulid(), iso(self.now()), str(row[key_of(res)])
        as_ref = kind in ('wheel.taken', 'tasting.dropped', 'recipe.binned')

        def payload(reader, edition):
            if data is not None:
                return data
            return row[key_of(res)] if as_ref else self.show(res, row, reader, edition, event=True)
        keeper = Caller('cellarer', '', '', [])
        self.db.execute('insert into entry (id, doc, gone) values (?,?,?)', (id, json.dumps({
            'id': id, 'kind': kind, 'about': about, 'who': self.who.id if self.who and not bug('who-hill') else 'the hill',
            'body': {'row': payload(keeper, '2')}, 'at': at}), self.now() + 10 * DAY))
        for hook in self.all('hook'):
            topics = hook.get('topics')
            if not hook['live'] and not bug('dead-hook'):
                continue
            if topics is not None and not any(t == '*' or t == kind or t.endswith('.*') and kind.startswith(t[:-1]) for t in topics):
                if not (bug('topics-ignored') and kind.split('.')[0] in [t.split('.')[0] for t in topics]):
                    continue
            maker = Caller(**hook['_maker'])
            if kind == 'tasting.dropped':
                good = hook['owner'] == row['taster'] or maker.user == 'cellarer'
            elif kind == 'cave.door':
                good = maker.user == 'cellarer'
            else:
                good = self.may_read(res, maker, before if kind == 'recipe.binned' else row) or bug('told-to-all')
            if not good:
                continue
            envelope = {'id': id, 'kind': kind, 'at': at, 'about': payload(maker, '2' if bug('hook-newest') else hook['_edition'])}
            self.db.execute("insert into post (hook, event, kind, about, body, due, tries, state) values (?,?,?,?,?,?,0,'waits')",
                            (str(hook['id']), id, kind, res + '/' + about, json.dumps(envelope), self.now()))
        self.wake.set()
