"""Reads what is sent: which fields, in whose words, and what is wrong with them."""
from shapes import FIELDS, LABEL, bug, down_value, fields, misfit, new_name, old_name, up_value


def fault(path, expected, kind='unfit', found=None, place='body'):
    out = {'in': place, 'path': path}
    if found is not None:
        out['found'] = found
    out['expected'] = expected
    out['_kind'] = kind
    return out


def say(v):
    import json
    return json.dumps(v)[:80]


def whole(v):
    if isinstance(v, float) and v.is_integer():
        return int(v)
    return v


def read_label(v, path, before):
    """A label as it comes to be, and what is wrong with it."""
    bad, out, gone = [], dict(before or {}), set()
    for name, x in v.items():
        spec = LABEL.get(name)
        if spec is None:
            bad.append(fault(path + '.' + name, 'no such member', 'unheard_of'))
        elif spec.get('ro'):
            continue
        else:
            wrong = misfit(spec, x)
            if wrong:
                bad.append(fault(path + '.' + name, wrong[1], found=say(x)))
                gone.add(name)
            else:
                out[name] = x
    for name, spec in LABEL.items():
        if spec.get('req') and name not in out and name not in gone:
            bad.append(fault(path + '.' + name, 'something', 'incomplete'))
    if not bad:
        if not (bug('old-line') and before):
            out['line'] = out['maker_name'] + ' / ' + out['town']
    return out, bad


def take(res, body, mode, caller, edition, prefix='', bound=None, before=None, refuse=False):
    """(what is to be stored of it, what is taken away, the faults in their order)."""
    bound = bound or {}
    specs, vals, gone, bad, missing = fields(res, edition), {}, set(), [], []
    wrong_names = set()
    if not isinstance(body, dict):
        return vals, gone, [fault(prefix.rstrip('.'), 'object', found=say(body))]
    for name, v in body.items():
        new, spec, path = new_name(res, name, edition), specs.get(name), prefix + (name if not bug('old-fault-name') else new_name(res, name, edition))
        if spec is None or edition == '2' and name != new or res == 'line' and name == 'pickup':
            bad.append(fault(path, 'no such field', 'unheard_of', found=say(v)))
            continue
        if spec.get('ro') or spec.get('wri') and caller.user not in spec['wri'] and not bug('shelf-by-dairy') \
                or spec.get('state') and mode != 'update' or spec['t'] == 'lines' and mode != 'create':
            if refuse and not (bug('sealed-quiet') and mode == 'update'):
                bad.append(fault(path, 'nothing: it is written by the hill', 'sealed', found=say(v)))
            continue
        if new in bound:
            if type(whole(v)) is not type(bound[new]) or whole(v) != bound[new]:
                bad.append(fault(path, 'what the path says', found=say(v)))
            continue
        if v is None and mode == 'update' and not spec.get('nullable'):
            if spec.get('req') or spec.get('always'):
                bad.append(fault(path, spec['t'], found='null'))
                wrong_names.add(new)
            elif not spec.get('dropped'):
                if spec.get('immutable'):
                    bad.append(fault(path, 'what it was', found='null'))
                else:
                    gone.add(new)
            continue
        if spec['t'] == 'label' and isinstance(v, dict):
            out, wrongs = read_label(v, path, before.get('label') if before and mode == 'update' else None)
            missing += [w for w in wrongs if w['_kind'] == 'incomplete']
            bad += [w for w in wrongs if w['_kind'] != 'incomplete']
            vals[new] = out
            continue
        wrong = misfit(spec, v)
        if not wrong and spec['t'] == 'lines':
            if not spec['minItems'] <= len(v) <= spec['maxItems'] + (1 if bug('seven-lines') else 0):
                wrong = ('', '1 to 6 lines')
            else:
                out = []
                for i, n in enumerate(v):
                    line, _, wrongs = take('line', n, 'create', caller, edition, '%s.%d.' % (path, i))
                    missing += [w for w in wrongs if w['_kind'] == 'incomplete']
                    bad += [w for w in wrongs if w['_kind'] != 'incomplete']
                    out.append(line)
                vals[new] = out
                continue
        if wrong:
            bad.append(fault(path + wrong[0], wrong[1], found=say(v)))
            wrong_names.add(new)
            continue
        if spec.get('dropped'):
            continue
        if spec.get('immutable') and mode == 'update':
            if whole(v) != before[new] and not (bug('code-quiet') and res == 'cave'):
                bad.append(fault(path, 'what it was', found=say(v)))
            continue
        if before and new in before and v == down_value(res, new, before[new], edition):
            vals[new] = before[new]
            continue
        up = up_value(res, new, v, edition)
        if up is not None:
            wrong = misfit(FIELDS[res][new], up)
            if wrong:
                bad.append(fault(path + wrong[0], wrong[1], found=say(v)))
                wrong_names.add(new)
                continue
        vals[new] = [whole(x) for x in up] if isinstance(up, list) else whole(up) if FIELDS[res][new]['t'] == 'integer' else up
    if mode != 'update':
        for name, spec in FIELDS[res].items():
            sent = old_name(res, name, edition)
            if spec.get('req') and sent not in body and name not in bound and not spec.get('ro'):
                missing.append(fault(prefix + sent, 'something', 'incomplete'))
            if 'default' in spec and sent not in body:
                vals[name] = list(spec['default']) if isinstance(spec['default'], list) else spec['default']
        if edition == '1' and res == 'pickup':
            vals['gate'] = 'south'
        if bug('no-default-temp') and res == 'cave' and 'temp_c' not in body:
            vals['temp_c'] = 12
    # rules over fields
    nxt = dict(before or {}) if mode == 'update' else {}
    nxt.update(vals)
    for g in gone:
        nxt.pop(g, None)
    if res == 'recipe' and not wrong_names & {'turn_every_h', 'days'} and 'turn_every_h' in nxt and 'days' in nxt \
            and nxt['turn_every_h'] > nxt['days'] * 24 and not bug('turning-unruled'):
        bad.append(fault(prefix + 'turn_every_h', 'no more hours than it ripens'))
    if res == 'tasting' and not wrong_names & {'score', 'words'} and 'score' in nxt and nxt['score'] < 3 and 'words' not in nxt \
            and not (bug('words-once') and mode == 'update'):
        bad.append(fault(prefix + 'words', 'words that say why'))
    sent = [prefix + n for n in body]

    def place(b):
        return next((i for i, n in enumerate(sent) if b['path'] == n or b['path'].startswith(n + '.')), len(sent))
    return vals, gone, sorted(bad, key=place) + missing
