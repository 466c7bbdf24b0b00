"""What fields there are and what may stand in them."""
import re
from datetime import date, datetime, timezone

FAULT = None


def bug(name):
    return FAULT == name


STAGES = ['resting', 'ripening', 'ripe', 'claimed', 'gone', 'condemned']
STAFFED = ['dairy', 'cellarer']
SMELLS = ['barn', 'nuts', 'flowers', 'ammonia']
ANYONE = ['dairy', 'cellarer', 'taster']


def f(t, **k):
    k['t'] = t
    return k


# ro: read-only (set, generated, derived, state); req: has to be sent; once/wo: shown once / never; vis, wri: users
FIELDS = {
    'cave': {
        'no': f('integer', ro=1, always=1),
        'code': f('string', pattern=r'^[A-Z]{2,4}[0-9]{0,2}$', immutable=1, req=1),
        'name': f('string', minLength=2, maxLength=40, req=1),
        'shelves': f('integer', minimum=1, maximum=200, req=1),
        'temp_c': f('number', minimum=4, maximum=18, multipleOf=0.5, default=11, always=1),
        'door': f('string', enum=['open', 'shut'], always=1, state=1),
        'notes': f('string', nullable=1, maxLength=200, vis=['cellarer'], wri=['cellarer']),
        'lying': f('integer', ro=1, always=1, derived=1), 'room': f('integer', ro=1, always=1, derived=1),
        'revised_at': f('string', format='date-time', ro=1, always=1)},
    'recipe': {
        'slug': f('string', pattern=r'^[a-z][a-z0-9-]{1,23}$', always=1),
        'title': f('string', minLength=1, maxLength=60, req=1),
        'milk': f('string', enum=['cow', 'goat', 'ewe', 'buffalo'], req=1),
        'days': f('integer', minimum=1, maximum=900, req=1),
        'washes': f('array', items=f('string', enum=['brine', 'cider', 'marc']), uniqueItems=1, maxItems=3, default=[], always=1),
        'turn_every_h': f('integer', minimum=1, maximum=240),
        'shelf': f('string', enum=['offered', 'withdrawn', 'binned'], ro=1, always=1), 'keeper': f('string', ro=1, always=1)},
    'wheel': {
        'id': f('string', ro=1, always=1), 'number': f('integer', ro=1, always=1), 'tag': f('string', ro=1, always=1),
        'cave': f('integer', ref='cave', immutable=1, always=1),
        'recipe': f('string', ref='recipe', immutable=1, req=1, pattern=r'^[a-z][a-z0-9-]{1,23}$'),
        'house': f('string', ro=1, always=1), 'maker': f('string', ro=1, always=1),
        'batch': f('string', minLength=1, maxLength=20),
        'weight_g': f('integer', minimum=200, maximum=60000, req=1),
        'made_on': f('string', format='date', req=1),
        'label': f('label'),
        'marks': f('array', items=f('string', minLength=1, maxLength=16), uniqueItems=1, maxItems=5, default=[], always=1),
        'shelf_no': f('integer', minimum=1, maximum=200, vis=STAFFED, wri=['cellarer']),
        'fee_c': f('integer', ro=1, always=1, vis=STAFFED),
        'stage': f('string', enum=STAGES, ro=1, always=1), 'hold': f('string', enum=['clear', 'held'], ro=1, always=1),
        'ripe_at': f('string', format='date-time', ro=1), 'condemned_for': f('string', ro=1),
        'tastings': f('integer', ro=1, always=1, derived=1), 'best': f('integer', ro=1, derived=1),
        'updated_at': f('string', format='date-time', ro=1, always=1)},
    'tasting': {
        'id': f('string', ro=1, always=1), 'wheel': f('string', ref='wheel', immutable=1, always=1),
        'taster': f('string', ro=1, always=1),
        'score': f('integer', minimum=0, maximum=20, req=1),
        'words': f('string', maxLength=300), 'smell': f('string', enum=SMELLS),
        'verdict': f('string', enum=['draft', 'signed', 'disputed', 'void'], ro=1, always=1),
        'signed_at': f('string', format='date-time', ro=1)},
    'pickup': {
        'id': f('integer', ro=1, always=1), 'slip': f('string', ro=1, always=1), 'house': f('string', ro=1, always=1),
        'by': f('string', ro=1, always=1),
        'day': f('string', format='date', immutable=1, req=1),
        'gate': f('string', enum=['north', 'south'], default='south', always=1),
        'pin': f('string', pattern=r'^[0-9]{4}$', wo=1, req=1),
        'token': f('string', ro=1, once=1),
        'state': f('string', enum=['booked', 'ready', 'collected', 'cancelled', 'lapsed'], ro=1, always=1),
        'weight_g': f('integer', ro=1, always=1, derived=1),
        'collected_at': f('string', format='date-time', ro=1),
        'lines': f('lines', minItems=1, maxItems=6, req=1)},
    'line': {
        'id': f('integer', ro=1, always=1), 'pickup': f('integer', ro=1, always=1),
        'wheel': f('string', ref='wheel', immutable=1, req=1),
        'grams': f('integer', ro=1, always=1), 'remark': f('string', maxLength=80)},
    'hook': {
        'id': f('integer', ro=1, always=1), 'owner': f('string', ro=1, always=1),
        'url': f('string', format='uri', maxLength=300, req=1),
        'topics': f('array', items=f('string', topic=1), minItems=1, maxItems=10),
        'live': f('boolean', default=True, always=1),
        'secret': f('string', ro=1, once=1)},
    'entry': {
        'id': f('string', ro=1), 'kind': f('string', ro=1), 'about': f('string', ro=1), 'who': f('string', ro=1),
        'body': f('object', ro=1), 'at': f('string', format='date-time', ro=1)},
}
LABEL = {'maker_name': f('string', minLength=1, maxLength=40, req=1), 'town': f('string', minLength=1, maxLength=40, req=1),
         'line': f('string', ro=1)}
KEY = {'cave': 'no', 'recipe': 'slug'}
KINDS = ['wheel.laid', 'wheel.ripe', 'wheel.lost', 'wheel.taken', 'wheel.soon', 'wheel.reweighed', 'wheel.marked',
         'tasting.signed', 'tasting.dropped', 'pickup.booked', 'pickup.over', 'cave.door', 'recipe.binned']
TOPICS = set(KINDS) | {'*'} | {k.split('.')[0] + '.*' for k in KINDS}


def key_of(res):
    return KEY.get(res, 'id')


def fields(res, edition):
    """The fields of a resource in the words of an edition."""
    own = FIELDS[res]
    if edition == '2':
        return own
    out = {}
    for name, spec in own.items():
        if res == 'wheel' and name == 'weight_g':
            out['grams'] = spec
        elif res == 'pickup' and name == 'gate':
            continue
        elif res == 'cave' and name == 'temp_c':
            out['temp_c'] = f('integer', default=11, always=1)
        elif res == 'recipe' and name == 'milk':
            out['milk'] = dict(spec, enum=['cow', 'goat', 'sheep', 'buffalo'])
        else:
            out[name] = spec
    if res == 'cave':
        out['humid'] = f('integer', minimum=0, maximum=100, dropped=1)
    return out


def old_name(res, name, edition):
    return 'grams' if edition == '1' and res == 'wheel' and name == 'weight_g' and not bug('old-fault-name') else name


def new_name(res, name, edition):
    return 'weight_g' if edition == '1' and res == 'wheel' and name == 'grams' else name


def down_value(res, name, value, edition):
    if edition == '1' and res == 'cave' and name == 'temp_c':
        return int(value * 10 + 0.5)
    if edition == '1' and res == 'recipe' and name == 'milk' and value == 'ewe' and not bug('old-milk'):
        return 'sheep'
    return value


def up_value(res, name, value, edition):
    if edition == '1' and res == 'cave' and name == 'temp_c':
        return float(value) if bug('old-temp-up') else value / 10.0
    if edition == '1' and res == 'recipe' and name == 'milk' and value == 'sheep':
        return 'ewe'
    return value


def down(res, row, edition):
    """A row, or what is shown of one, in the words of an edition."""
    if edition == '2':
        return row
    out = {}
    for name, value in row.items():
        if res == 'pickup' and name == 'gate' and not bug('old-gate'):
            continue
        out[old_name(res, name, '1') if not bug('old-fault-name') else ('grams' if res == 'wheel' and name == 'weight_g' else name)] = \
            down_value(res, name, value, edition)
    if res == 'cave':
        out['humid'] = 85
    return out


def is_int(v):
    return isinstance(v, int) and not isinstance(v, bool) or isinstance(v, float) and v.is_integer()


def is_date(s):
    if not re.fullmatch(r'\d{4}-\d\d-\d\d', s):
        return False
    try:
        date.fromisoformat(s)
        return True
    except ValueError:
        return False


def instant(s):
    """An RFC 3339 date-time as milliseconds, or None."""
    m = re.fullmatch(r'(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|([+-])(\d\d):(\d\d))', s)
    if not m:
        return None
    try:
        base = datetime(int(m[1]), int(m[2]), int(m[3]), int(m[4]), int(m[5]), min(int(m[6]), 59), tzinfo=timezone.utc)
    except ValueError:
        return None
    ms = int(base.timestamp()) * 1000 + (int(float('0' + m[7]) * 1000 + 1e-6) if m[7] else 0)
    if m[9]:
        if int(m[10]) > 23 or int(m[11]) > 59:
            return None
        ms -= (1 if m[9] == '+' else -1) * (int(m[10]) * 60 + int(m[11])) * 60000
    return ms


def is_uri(s):
    return re.fullmatch(r"https?://[A-Za-z0-9._~%!$&'()*+,;=:@\[\]-]+(/[^\s<>\"{}|\\^`]*)?(\?[^\s<>\"{}|\\^`]*)?(#[^\s<>\"{}|\\^`]*)?", s) is not None


def misfit(spec, v):
    """None if the value fits, else (path below, what was expected)."""
    t = spec['t']
    if v is None:
        return None if spec.get('nullable') else ('', t)
    if t == 'integer':
        if not is_int(v):
            return '', 'integer'
    elif t == 'number':
        if not isinstance(v, (int, float)) or isinstance(v, bool):
            return '', 'number'
    elif t == 'boolean':
        if not isinstance(v, bool):
            return '', 'boolean'
    elif t == 'string':
        if not isinstance(v, str):
            return '', 'string'
    elif t in ('array', 'lines'):
        if not isinstance(v, list):
            return '', 'array'
    elif t in ('object', 'label'):
        if not isinstance(v, dict):
            return '', 'object'
    if 'enum' in spec and v not in spec['enum']:
        return '', 'one of ' + ', '.join(spec['enum'])
    if 'minimum' in spec and v < spec['minimum']:
        return '', 'at least %s' % spec['minimum']
    if 'maximum' in spec and v > spec['maximum']:
        return '', 'at most %s' % spec['maximum']
    if 'multipleOf' in spec and (v / spec['multipleOf']) % 1:
        return '', 'a multiple of %s' % spec['multipleOf']
    if 'minLength' in spec and len(v) < spec['minLength']:
        return '', 'at least %d characters' % spec['minLength']
    if 'maxLength' in spec and len(v) > spec['maxLength'] + (1 if bug('name-long') and spec['maxLength'] == 40 else 0):
        return '', 'at most %d characters' % spec['maxLength']
    if 'pattern' in spec and not (re.search(spec['pattern'], v) and not v.endswith('\n')):
        return '', spec['pattern']
    if spec.get('format') == 'date' and not is_date(v) and not (bug('made-on-loose') and re.match(r'^\d{4}-\d\d-\d\d$', v)):
        return '', 'date'
    if spec.get('format') == 'date-time' and instant(v) is None:
        return '', 'date-time'
    if spec.get('format') == 'uri' and not is_uri(v):
        return '', 'uri'
    if spec.get('topic') and v not in TOPICS:
        return '', 'a kind of event'
    if t == 'array':
        if len(v) < spec.get('minItems', 0):
            return '', 'at least %d items' % spec['minItems']
        if len(v) > spec.get('maxItems', 1 << 30):
            return '', 'at most %d items' % spec['maxItems']
        for i, item in enumerate(v):
            bad = misfit(spec['items'], item)
            if bad:
                return '.%d' % i + bad[0], bad[1]
        if spec.get('uniqueItems') and not bug('marks-twice') and len(set(v)) < len(v):
            return '', 'items that differ'
    return None
