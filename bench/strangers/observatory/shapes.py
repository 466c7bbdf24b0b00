"""The fields of what is kept, how each edition names them, and whether what was sent fits."""
import math
import re
from datetime import datetime, timezone
from decimal import Decimal, ROUND_HALF_UP

from fault import on

BANDS = ['visual', 'infrared', 'radio']
RUN_STATES = ['drafted', 'submitted', 'booked', 'observing', 'done', 'blank', 'withdrawn', 'lapsed']
KINDS = ['run.submitted', 'run.booked', 'run.moved', 'run.over', 'frame.taken', 'frame.lost', 'report.written', 'telescope.retired']
MISSING = object()

POSITION = {
    'ra': dict(t='num', min=0, max=360, req=True),
    'dec': dict(t='num', min=-90, max=90, req=True),
    'epoch': dict(t='str', enum=['B1950', 'J2000'], default='J2000', req=True),
}
FIELDS = {
    'telescope': {
        'code': dict(t='str', pat=r'[a-z][a-z0-9-]{1,19}', req=True, fixed=True),
        'name': dict(t='str', low=2, high=60, req=True),
        'mount': dict(t='str', enum=['alt_az', 'equatorial'], req=True),
        'aperture': dict(t='int', min=50, max=10000, req=True),
        'latitude': dict(t='num', min=-90, max=90),
        'hours': dict(t='int', min=1, max=400, req=True),
        'note': dict(t='str', high=200, see='director'),
        'granted': dict(ro=True), 'hours_left': dict(ro=True), 'proposals': dict(ro=True), 'longest': dict(ro=True),
        'state': dict(ro=True), 'changed_at': dict(ro=True),
    },
    'run': {
        'no': dict(ro=True), 'astronomer': dict(ro=True),
        'telescope': dict(t='str', req=True, fixed=True),
        'title': dict(t='str', low=3, high=80, req=True),
        'target': dict(t='str', low=1, high=40),
        'position': dict(t='pos'),
        'hours': dict(t='int', min=1, max=24, req=True),
        'band': dict(t='str', enum=BANDS, default='visual', req=True),
        'priority': dict(t='int', min=1, max=5, default=3, req=True),
        'starts_at': dict(t='when', req=True),
        'ends_at': dict(t='when', req=True),
        'shared': dict(t='bool', default=False, req=True),
        'tags': dict(t='list', item=dict(t='str', low=1, high=20), most=5, unique=True, default=[], req=True),
        'remark': dict(t='str', high=200, null=True),
        'door_code': dict(ro=True, once=True),
        'grade': dict(ro=True, see='director'), 'reason': dict(ro=True),
        'frames': dict(ro=True), 'exposure': dict(ro=True), 'state': dict(ro=True), 'made_at': dict(ro=True), 'changed_at': dict(ro=True),
    },
    'frame': {
        'id': dict(ro=True),
        'run': dict(t='int', bound=True),
        'seconds': dict(t='num', above=0, max=3600, req=True),
        'filter': dict(t='str', enum=['u', 'g', 'r', 'i', 'z'], req=True),
        'good': dict(t='bool', default=True, req=True),
        'seal': dict(t='str', pat=r'[0-9a-f]{8}', wo=True),
        'note': dict(t='str', high=120),
        'taken_at': dict(ro=True),
    },
    'report': {name: dict(ro=True) for name in ['id', 'run', 'astronomer', 'frames', 'exposure', 'written_at']},
    'bell': {
        'id': dict(ro=True), 'owner': dict(ro=True),
        'url': dict(t='str', uri=True, high=300, req=True),
        'kinds': dict(t='list', item=dict(t='str'), most=10, default=['*'], req=True, kinds=True),
        'secret': dict(ro=True, once=True),
        'live': dict(t='bool', default=True, req=True),
    },
}
DERIVED = {'telescope': ['granted', 'hours_left', 'proposals', 'longest'], 'run': ['frames', 'exposure']}


def fields_of(kind, edition):
    """Each field of a resource as an edition names it: name, the newest name (None = dropped), its rule."""
    found = []
    for name, rule in FIELDS[kind].items():
        told = name
        if edition == 'e1' and kind == 'run':
            if name == 'title':
                told = 'label'
            if name == 'priority' and not on('old-priority-known'):
                continue
            if name == 'band':
                rule = {**rule, 'enum': ['optical', 'infrared', 'radio'], 'default': 'optical'}
                if on('old-band-takes-both'):
                    rule['enum'] = ['optical', *BANDS]
        if edition == 'e1' and kind == 'telescope' and name == 'aperture':
            rule = {**rule, 't': 'num', 'min': None, 'max': None}
        found.append((told, name, rule))
    if edition == 'e1' and kind == 'telescope':
        found.append(('site', None, dict(t='str', high=20)))
    return found


def down(kind, name, value, edition):
    if edition == 'e1':
        if kind == 'run' and name == 'band' and value == 'visual' and not on('old-band-new-word'):
            return 'optical'
        if kind == 'telescope' and name == 'aperture':
            return value / 1000.0
    return value


def up(kind, name, value, edition):
    if edition == 'e1':
        if kind == 'run' and name == 'band' and value == 'optical':
            return 'visual'
        if kind == 'telescope' and name == 'aperture':
            if on('old-aperture-floors'):
                return math.floor(value * 1000)
            if abs(value) > 1e9:
                return int(value)
            return int(Decimal(value * 1000.0).quantize(Decimal(1), rounding=ROUND_HALF_UP))
    return value


def default_of(kind, name):
    rule = FIELDS[kind][name]
    if name == 'priority' and on('priority-default-two'):
        return 2
    if name == 'good' and on('good-default-missing'):
        return False
    return rule['default']


def same(one, other):
    """Equality of JSON: true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other or is_number(one) and is_number(other) and one == other


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


WHEN = re.compile(r'([0-9]{4})-([0-9][0-9])-([0-9][0-9])[Tt]([0-9][0-9]):([0-9][0-9]):([0-9][0-9])(\.[0-9]+)?([Zz]|[+-][0-9][0-9]:[0-9][0-9])')


def instant(text):
    """Seconds since 1970 of an RFC 3339 date-time, exactly enough; None where it is none."""
    found = WHEN.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    zone = found[8]
    offset = 0
    if zone not in 'Zz':
        hours, minutes = int(zone[1:3]), int(zone[4:6])
        if hours > 23 or minutes > 59:
            return None
        offset = (hours * 60 + minutes) * (60 if zone[0] == '+' else -60)
    leap = second == 60
    try:
        at = datetime(year, month, day, hour, minute, 59 if leap else second, tzinfo=timezone.utc).timestamp()
    except ValueError:
        return None
    if leap:
        at += 1
        if (at - offset) % 86400 != 0:
            return None
    return at - offset + float(found[7] or 0)


URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+")


def check(value, rule, path, spots, nested=False):
    """Notes at which places a value does not fit its rule."""
    kind = rule['t']
    if value is None:
        if not rule.get('null'):
            spots.append(path)
        return
    if kind in ('str', 'when'):
        if not isinstance(value, str):
            spots.append(path)
            return
        size = len(value)
        low, high = rule.get('low', 0), rule.get('high', math.inf)
        if path == '/title' and on('title-of-two'):
            low = 2
        if path == '/remark' and on('remark-in-bytes'):
            size = len(value.encode())
        if not low <= size <= high:
            spots.append(path)
        elif 'enum' in rule and value not in rule['enum'] and not (path == '/filter' and on('filter-any-case') and value.lower() in rule['enum']):
            spots.append(path)
        elif 'pat' in rule and not re.fullmatch(rule['pat'], value):
            spots.append(path)
        elif rule.get('uri') and not URI.fullmatch(value):
            spots.append(path)
        elif kind == 'when' and instant(value) is None:
            if not (on('local-times-taken') and instant(value + 'Z') is not None):
                spots.append(path)
    elif kind in ('int', 'num'):
        if not is_number(value) or (kind == 'int' and value != int(value)):
            spots.append(path)
            return
        low, high, above = rule.get('min'), rule.get('max'), rule.get('above')
        if path == '/hours' and on('hours-to-25') and high == 24:
            high = 25
        if (low is not None and value < low) or (high is not None and value > high) or (above is not None and value <= above):
            if not (path == '/seconds' and value == 0 and on('zero-seconds')):
                spots.append(path)
        elif path == '/position/ra' and value == 360 and on('ra-360-refused'):
            spots.append(path)
    elif kind == 'bool':
        if not isinstance(value, bool):
            spots.append(path)
    elif kind == 'list':
        if not isinstance(value, list):
            spots.append(path)
            return
        if len(value) > rule['most']:
            spots.append(path)
        if rule.get('unique') and not on('tags-twice') and len({str(item) for item in value}) < len(value):
            spots.append(path)
        for at, item in enumerate(value):
            before = len(spots)
            check(item, rule['item'], f'{path}/{at}', spots)
            if len(spots) == before and rule.get('kinds') and not knows_kind(item):
                spots.append(f'{path}/{at}')
    elif kind == 'pos':
        if not isinstance(value, dict):
            spots.append(path)
            return
        for name in value:
            if name not in POSITION and not on('position-takes-more'):
                spots.append(f'{path}/{name}')
        for name, inner in POSITION.items():
            if name in value:
                check(value[name], inner, f'{path}/{name}', spots)
            elif 'default' not in inner:
                spots.append(f'{path}/{name}')


def knows_kind(text):
    return text == '*' or text in KINDS or (text.endswith('.*') and any(kind.startswith(text[:-1]) for kind in KINDS))


def settle(value, rule):
    """A value that fits, as it is kept: whole numbers as such, a position with its defaults."""
    if value is None:
        return None
    if rule['t'] == 'int':
        return int(value)
    if rule['t'] == 'pos':
        kept = dict(value)
        for name, inner in POSITION.items():
            if name not in kept and 'default' in inner and not on('epoch-default-missing'):
                kept[name] = inner['default']
        return {name: kept[name] for name in [*POSITION, *kept] if name in kept}
    return value


def merged(old, patch):
    """JSON Merge Patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(old) if isinstance(old, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


def fits(kind, body, edition, mode, stored=None):
    """
    The newest values of a row that a body asks for, and the places that do not fit. `mode`: create, update, replace.
    What is not writable is dropped first.
    """
    spots, row = [], {}
    if not isinstance(body, dict):
        return {}, ['']
    known = fields_of(kind, edition)
    by_told = {told: (name, rule) for told, name, rule in known}
    for told in body:
        if told not in by_told:
            spots.append('/' + told)
    if stored is not None:
        row = dict(stored)
    for told, name, rule in known:
        path = '/' + (name if on('old-spots-newest') and name else told)
        if rule.get('ro'):
            continue
        if name is None:
            if told in body and not (mode == 'update' and body[told] is None):
                check(body[told], rule, path, spots)
            continue
        sent = body.get(told, MISSING)
        was = stored.get(name, MISSING) if stored is not None else MISSING
        if mode == 'update':
            if sent is MISSING:
                continue
            if sent is None:
                if rule.get('req'):
                    if not (name == 'hours' and on('hours-removable')):
                        spots.append(path)
                    else:
                        row.pop(name, None)
                elif not (name == 'remark' and on('remark-stays')):
                    row.pop(name, None)
                continue
            if rule['t'] == 'pos':
                sent = merged(was if was is not MISSING else {}, sent) if isinstance(sent, dict) else sent
                if was is not MISSING and isinstance(sent, dict) and 'epoch' not in sent and 'epoch' in was:
                    spots.append(path + '/epoch')
        elif sent is MISSING:
            if mode == 'replace' and (rule.get('see') or rule.get('wo')):
                continue
            if 'default' in rule:
                row[name] = default_of(kind, name)
            elif rule.get('req'):
                spots.append(path)
                row.pop(name, None)
            elif mode == 'replace' and name == 'remark' and on('replace-keeps-remark'):
                pass
            elif not rule.get('bound'):
                row.pop(name, None)
            continue
        before = len(spots)
        check(sent, rule, path, spots)
        if len(spots) > before:
            row.pop(name, None)
            continue
        value = settle(sent, rule)
        if was is not MISSING and same(value, down(kind, name, was, edition)):
            continue
        value = up(kind, name, value, edition)
        newest = FIELDS[kind][name]
        if edition == 'e1' and name == 'aperture' and not on('old-aperture-unbounded'):
            check(value, newest, path, spots)
        if rule.get('fixed') and stored is not None:
            if not (name == 'telescope' and on('telescope-changes')):
                spots.append(path)
                continue
        row[name] = value
    if edition == 'e1' and mode == 'replace' and on('old-replace-resets'):
        row.pop('priority', None)
    if edition == 'e1' and (mode == 'create' or on('old-replace-resets')) and kind == 'run':
        row.setdefault('priority', 1 if on('old-priority-one') else default_of(kind, 'priority'))
    if kind == 'run':
        both, none = 'target' in row and 'position' in row, 'target' not in row and 'position' not in row
        touched = any(spot.startswith(('/target', '/position')) for spot in spots)
        if not touched and ((both and not (on('target-and-position') and mode == 'create')) or (none and not (on('target-removable') and mode == 'update'))):
            spots.append('/target')
        ends_old = on('rule-on-create-alone') and mode != 'create'
        if not ends_old and all(name in row and isinstance(row[name], str) for name in ('starts_at', 'ends_at')):
            starts, ends = time_of(row['starts_at']), time_of(row['ends_at'])
            if ends < starts or (ends == starts and not on('ends-when-it-starts')):
                spots.append('/ends_at')
    return row, spots


def time_of(text):
    at = instant(text)
    return at if at is not None else instant(text + 'Z')
