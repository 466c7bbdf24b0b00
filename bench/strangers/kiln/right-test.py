"""Goes through service.yaml with the correct service: python3 right-test.py"""
import concurrent.futures, importlib.util, json, os, re, socket, sys, time
from datetime import timedelta

spec = importlib.util.spec_from_file_location('faults_test', os.path.join(os.path.dirname(os.path.abspath(__file__)), 'faults-test.py'))
ft = importlib.util.module_from_spec(spec)
spec.loader.exec_module(ft)
from_ft = ['Kiln', 'good', 'made', 'is_refusal', 'moment', 'badge', 'BADGES', 'KEYS', 'USERS', 'refuse_one', 'seal_of', 'slow_body']
Kiln, good, made, is_refusal, moment, badge, BADGES, KEYS, USERS, refuse_one, seal_of, slow_body = (getattr(ft, n) for n in from_ft)
CHECKS = []
def check(f): CHECKS.append(f); return f
Z = r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z'
J = {'Content-Type': 'application/json'}


def misshapen(r, *paths):
    is_refusal(r, 422, 'misshapen')
    if paths:
        assert [s['path'] for s in r.json['spots']] == list(paths), r


@check
def public(k):
    assert good(k.get('/pulse')) == {'pulse': 'warm', 'cones': [1, 14]}
    good(k.get('/pulse', 'rubbish')); good(k.get('/pulse', headers=badge('a:b'))); good(k.get('/pulse?edition=1'))
    is_refusal(k.get('/pulse?x=1'), 400, 'bad-query')
    for cone in (1, 6, 14):
        assert good(k.get(f'/estimate?cone={cone}')) == {'fee': cone * 120} == good(k.get(f'/estimate?cone={cone}&pace=slow'))
        assert good(k.get(f'/estimate?pace=brisk&cone={cone}')) == {'fee': cone * 300}
    for q in ('', '?cone=', '?cone=0', '?cone=15', '?cone=a', '?cone=2.5', '?cone=3&pace=fast', '?cone=3&x=1', '?cone=3&pace='):
        is_refusal(k.get('/estimate' + q), 400, 'bad-query')


@check
def routes(k):
    for m, p, s, c in [('GET', '/', 404, 'no-such-path'), ('GET', '/nothing', 404, 'no-such-path'), ('GET', '/firings/', 404, 'no-such-path'), ('GET', '/firings/1/', 404, 'no-such-path'),
                       ('POST', '/firings/1/burn', 404, 'no-such-path'), ('PUT', '/firings', 405, 'no-such-method'), ('POST', '/pulse', 405, 'no-such-method'),
                       ('PUT', '/firings/1', 405, 'no-such-method'), ('GET', '/firings/1/nudge', 405, 'no-such-method'), ('PATCH', '/glazes/x', 405, 'no-such-method'),
                       ('OPTIONS', '/firings', 405, 'no-such-method'), ('POST', '/murmur', 405, 'no-such-method'), ('GET', '/%zz', 404, 'no-such-path')]:
        r = k.send(m, p)
        is_refusal(r, s, c)
        assert r.headers['content-type'] == 'application/json'
        if s == 405: assert r.headers['allow']
    is_refusal(k.get('/firings', base=''), 404, 'no-such-path')
    is_refusal(k.get('/nothing?edition=9'), 404, 'no-such-path')
    is_refusal(k.get('/firings?edition=9'), 400, 'no-such-edition')
    is_refusal(k.get('/firings?edition='), 400, 'no-such-edition')
    assert k.get('/yardx/pulse', base='').status == 404


@check
def credentials(k):
    closed = [('GET', '/firings'), ('POST', '/firings'), ('GET', '/firings/1'), ('PATCH', '/firings/1'), ('DELETE', '/firings/1'), ('POST', '/firings/1/nudge'), ('POST', '/firings/1/accept'),
              ('GET', '/firings/1/wares'), ('POST', '/firings/1/wares'), ('GET', '/firings/1/wares/1'), ('PATCH', '/firings/1/wares/1'), ('DELETE', '/firings/1/wares/1'),
              ('GET', '/glazes'), ('POST', '/glazes'), ('GET', '/glazes/a-01'), ('PUT', '/glazes/a-01'), ('DELETE', '/glazes/a-01'), ('GET', '/hooks'), ('POST', '/hooks'),
              ('GET', '/hooks/x'), ('PATCH', '/hooks/x'), ('DELETE', '/hooks/x'), ('GET', '/murmur')]
    for m, p in closed:
        is_refusal(k.send(m, p), 401, 'who-are-you')
        is_refusal(k.send(m, p, 'kk_wrong'), 401, 'who-are-you')
    for c in ft.STRANGER['callers']:
        h = {'Kiln-Key': c['credential']} if c['scheme'] == 'key' else badge(c['credential'])
        r = k.get('/hooks', headers=h)
        is_refusal(r, 401, 'who-are-you') if c.get('bad') else good(r)
        if c['scheme'] == 'key': assert re.fullmatch('kk_[A-Za-z0-9]{24}', c['credential'])
        if c['scheme'] == 'key' and not c.get('bad'): is_refusal(k.get('/hooks', c['credential'].swapcase()), 401, 'who-are-you')
    for h in ({'Authorization': 'Basic'}, {'Authorization': 'Basic !!!'}, {'Authorization': 'Bearer x'}, badge('st-ada'), badge('st-ada:'), badge('ST-ADA:embers-7'), {'Kiln-Key': ''}):
        is_refusal(k.get('/hooks', headers=h), 401, 'who-are-you')
    good(k.get('/hooks', 'ada', headers=badge(BADGES['ada'])))
    is_refusal(k.get('/hooks', 'wanda', headers=badge(BADGES['ada'])), 401, 'who-are-you')
    is_refusal(k.get('/hooks', 'rubbish', headers=badge(BADGES['ada'])), 401, 'who-are-you')
    assert 'Kiln-Key' in k.get('/firings', 'wanda').headers['vary'] and 'Authorization' in k.get('/firings').headers['vary']
    assert 'access-control-allow-origin' not in k.get('/firings', 'wanda', headers={'Origin': 'https://a.example'}).headers


@check
def matrix(k):
    no, g = k.ask()['no'], k.glaze()['code']
    w = k.ware(no, g)['no']
    may = {
        ('POST', '/firings'): 'p', ('GET', '/firings'): 'psa', ('GET', f'/firings/{no}'): 'psa', ('PATCH', f'/firings/{no}'): 'p', ('POST', f'/firings/{no}/withdraw'): 'p', ('POST', f'/firings/{no}/draw'): 'p',
        ('POST', f'/firings/{no}/nudge'): 'p', ('POST', f'/firings/{no}/accept'): 's', ('POST', f'/firings/{no}/refuse'): 's', ('POST', f'/firings/{no}/light'): 's',
        ('POST', f'/firings/{no}/wares'): 'p', ('GET', f'/firings/{no}/wares'): 'psa', ('GET', f'/firings/{no}/wares/{w}'): 'pa', ('PATCH', f'/firings/{no}/wares/{w}'): 'p',
        ('POST', '/glazes'): 'a', ('GET', '/glazes'): 'psa', ('GET', f'/glazes/{g}'): 'psa', ('PUT', f'/glazes/{g}'): 'a', ('POST', '/hooks'): 'psa', ('GET', '/hooks'): 'psa',
        ('DELETE', f'/firings/{no}/wares/{w}'): 'p', ('DELETE', f'/glazes/{g}'): 'a', ('DELETE', f'/firings/{no}'): 'p',
    }
    for (m, p), who in may.items():
        for name in ('wanda', 'ada', 'mina'):
            if USERS[name][0] in who: continue
            r = k.send(m, p, name, {}, headers={'If-Match': '*'} if m == 'PATCH' else None)
            if 'wares/' in p and name == 'ada' and m == 'GET': is_refusal(r, 404, 'not-here')
            else: is_refusal(r, 403, 'not-yours')
    assert good(k.get(f'/firings/{no}/wares', 'ada')) == {'kind': 'shelf-sheet', 'rows': [], 'tally': 0, 'more': False}
    is_refusal(k.post(f'/firings/{no}/light', 'ada', {'degrees': 700}), 403, 'not-yours')
    k.accept(no)
    assert good(k.get(f'/firings/{no}/wares', 'ada'))['tally'] == 1
    good(k.get(f'/firings/{no}/wares/{w}', 'ada'))
    for m, p, b in [('GET', f'/firings/{no}', None), ('GET', f'/firings/{no}/wares', None), ('GET', f'/firings/{no}/wares/{w}', None), ('POST', f'/firings/{no}/accept', {'bay': 'A1'}),
                    ('POST', f'/firings/{no}/refuse', {'reason': 'x'}), ('POST', f'/firings/{no}/light', {'degrees': 700})]:
        is_refusal(k.send(m, p, 'hugo', b), 404, 'not-here')
    for m, p, b in [('GET', f'/firings/{no}', None), ('PATCH', f'/firings/{no}', {'cone': 3}), ('DELETE', f'/firings/{no}', None), ('POST', f'/firings/{no}/nudge', None), ('POST', f'/firings/{no}/withdraw', None),
                    ('POST', f'/firings/{no}/draw', None), ('GET', f'/firings/{no}/wares', None), ('POST', f'/firings/{no}/wares', {'x': 1}), ('GET', f'/firings/{no}/wares/{w}', None),
                    ('PATCH', f'/firings/{no}/wares/{w}', {'mass': 3}), ('DELETE', f'/firings/{no}/wares/{w}', None)]:
        for path in (p, p.replace(f'/firings/{no}', '/firings/999'), p.replace(f'/firings/{no}', '/firings/abc'), p.replace(f'/firings/{no}', '/firings/01')):
            is_refusal(k.send(m, path, 'bruno', b, headers={'If-Match': '*'} if m == 'PATCH' else None), 404, 'not-here')
    is_refusal(k.post(f'/firings/{no}/accept', 'ada', {'bay': 'A1'}), 409, 'wrong-stage')
    for name in ('mina', 'vera', 'otto'): good(k.get(f'/firings/{no}/wares/{w}', name))
    h = k.hook('http://127.0.0.1:9/')['id']
    for m in ('GET', 'DELETE'): is_refusal(k.send(m, '/hooks/' + h, 'bruno'), 404, 'not-here')
    is_refusal(k.patch('/hooks/' + h, 'bruno', {'live': False}), 404, 'not-here')
    assert good(k.get('/hooks', 'bruno'))['tally'] == 0


@check
def firing_fields(k):
    f = made(k.post('/firings', 'wanda', {
        'mark': 'Größe 🏺 "q"', 'clay': 'stoneware', 'cone': 12, 'pace': 'brisk', 'notes': 'é\n\u2028\u0000', 'wanted-by': '2027-02-28T23:59:60.123456+00:00'.replace(':60', ':59'), 'gate-code': '0042',
        'soak': {'minutes': 600, 'hold-c': 100}, 'shelves': [{'label': '上', 'gap': 20, 'props': [10, 900]}, {'label': 'b' * 12, 'gap': 600, 'props': []}, {'label': 'c', 'gap': 77}],
        'no': 'x', 'docket': 5, 'potter': None, 'stage': 'drawn', 'fee': 1, 'bay': [], 'reason': 1, 'verdict': {}, 'holds': 1, 'cools': 'x', 'asked-at': 0, 'touched-at': 0, 'stoker': 'me'}))
    assert set(f) == {'no', 'docket', 'potter', 'mark', 'clay', 'cone', 'pace', 'notes', 'wanted-by', 'soak', 'shelves', 'stage', 'fee', 'holds', 'asked-at', 'touched-at'}, f
    assert f['no'] == 1 and re.fullmatch('kd-[A-Za-z0-9]{10}', f['docket']) and f['potter'] == 'po-wanda' and f['stage'] == 'asked' and f['fee'] == 3600
    assert f['mark'] == 'Größe 🏺 "q"' and f['notes'] == 'é\n\u2028\u0000' and f['wanted-by'] == '2027-02-28T23:59:59.123456+00:00'
    assert f['shelves'][0] == {'label': '上', 'gap': 20, 'props': [10, 900]}
    for d in ('holds', 'asked-at', 'touched-at'): assert re.fullmatch(Z, f[d])
    assert f['asked-at'] == f['touched-at'] and moment(f['holds']) - moment(f['asked-at']) == timedelta(days=2)
    assert abs((moment(f['asked-at']) - k.now()).total_seconds()) < 2
    p = f'/firings/{f["no"]}'
    assert good(k.get(p, 'wanda')) == f
    assert good(k.get('/firings', 'wanda'))['rows'] == [f]
    assert {**good(k.get(p, 'mina')), 'fee': 3600} == f and 'fee' not in good(k.get(p, 'mina'))
    assert good(k.get(p, 'ada')) == f
    bad = [('mark', ''), ('mark', 'x' * 25), ('mark', None), ('mark', 5), ('clay', 'Stoneware'), ('clay', None), ('cone', 0), ('cone', 15), ('cone', '6'), ('cone', 6.5), ('cone', None), ('cone', True),
           ('pace', 'fast'), ('pace', None), ('notes', 'x' * 201), ('notes', None), ('notes', []), ('wanted-by', '2027-02-29T00:00:00Z'), ('wanted-by', '2027-02-28'), ('wanted-by', '2027-02-28T24:00:00Z'),
           ('wanted-by', '2027-02-28T10:00:00'), ('wanted-by', '2027-02-28 10:00:00Z'), ('wanted-by', ''), ('gate-code', '42'), ('gate-code', '00421'), ('gate-code', '٤٤٤٤'), ('gate-code', 4242), ('gate-code', '1234\n'),
           ('soak', []), ('soak', 'x'), ('shelves', {}), ('unheard', 1), ('heat', 6), ('__proto__', 1), ('a/b~c', 1), ('shop', 'x')]
    for field, v in bad:
        d = k.draft(); d[field] = v
        misshapen(k.post('/firings', 'wanda', d), '/' + field.replace('~', '~0').replace('/', '~1'))
    for v, path in [({'soak': {'minutes': 5}}, '/soak/hold-c'), ({'soak': {'minutes': 0, 'hold-c': 100}}, '/soak/minutes'), ({'soak': {'minutes': 5, 'hold-c': 1401}}, '/soak/hold-c'),
                    ({'soak': {'minutes': 5, 'hold-c': 100, 'x': 1}}, '/soak/x'), ({'soak': {'minutes': 5.5, 'hold-c': 100}}, '/soak/minutes'), ({'shelves': [{'label': 'a', 'gap': 20}] * 5}, '/shelves'),
                    ({'shelves': [{'label': 'a', 'gap': 20}, {'label': '', 'gap': 20}]}, '/shelves/1/label'), ({'shelves': [{'label': 'a'}]}, '/shelves/0/gap'), ({'shelves': [None]}, '/shelves/0'),
                    ({'shelves': [{'label': 'a', 'gap': 20, 'props': [10, 10, 10, 10]}]}, '/shelves/0/props'), ({'shelves': [{'label': 'a', 'gap': 20, 'props': [10, 9]}]}, '/shelves/0/props/1'),
                    ({'shelves': [{'label': 'a', 'gap': 20, 'props': None}]}, '/shelves/0/props')]:
        misshapen(k.post('/firings', 'wanda', k.draft(**v)), path)
    for miss in ('mark', 'clay', 'cone'): misshapen(k.post('/firings', 'wanda', k.draft(**{miss: None})), '/' + miss)
    for whole in ([], 'x', 5, None, True):
        misshapen(k.post('/firings', 'wanda', raw=json.dumps(whole).encode(), headers=J), '')
    r = k.post('/firings', 'wanda', raw=b'{"mark":"round","clay":"stoneware","cone":6.0}', headers=J)
    assert made(r)['cone'] == 6
    assert made(k.post('/firings', 'wanda', {**k.draft(), 'shelves': []}))['shelves'] == []
    ok = k.ask(**{'wanted-by': '1985-04-12T23:20:50.52Z'}); assert ok['wanted-by'] == '1985-04-12T23:20:50.52Z'
    ok = k.ask(**{'wanted-by': '1990-12-31T15:59:60-08:00'})
    for cone in (13, 14):
        is_refusal(k.post('/firings', 'iris', k.draft(cone=cone)), 403, 'not-yours')
        k.ask('bruno', cone=cone)
    misshapen(k.post('/firings', 'iris', k.draft(cone=13, mark='')), '/mark')


@check
def firing_changes(k):
    f = k.ask(notes='n', soak={'minutes': 5, 'hold-c': 700}, shelves=[{'label': 'a', 'gap': 30}], **{'gate-code': '1111'})
    p = f'/firings/{f["no"]}'
    k.clock(seconds=5)
    g = good(k.patch(p, 'wanda', {'notes': None, 'cone': 7, 'no': 99, 'stage': 'lit', 'fee': 0}))
    assert 'notes' not in g and g['cone'] == 7 and g['fee'] == 840 and g['no'] == f['no'] and g['stage'] == 'asked' and g['touched-at'] > f['touched-at'] and g['asked-at'] == f['asked-at'] and g['holds'] == f['holds']
    assert good(k.get(p, 'wanda')) == g
    k.clock(seconds=5)
    same = [{}, {'cone': 7}, {'notes': None}, {'soak': {'minutes': 5}}, {'soak': {}}, {'shelves': [{'label': 'a', 'gap': 30}]}, {'gate-code': '1111'}, {'mark': f['mark'], 'clay': 'stoneware'}, {'stage': 'x'}]
    for b in same: assert good(k.patch(p, 'wanda', b)) == g, b
    assert good(k.patch(p, 'wanda', {'gate-code': '2222'}))['touched-at'] > g['touched-at']
    assert good(k.patch(p, 'wanda', {'soak': {'hold-c': 800}}))['soak'] == {'minutes': 5, 'hold-c': 800}
    misshapen(k.patch(p, 'wanda', {'soak': {'minutes': None}}), '/soak/minutes')
    assert 'soak' not in good(k.patch(p, 'wanda', {'soak': None}))
    misshapen(k.patch(p, 'wanda', {'soak': {'minutes': 5}}), '/soak/hold-c')
    assert good(k.patch(p, 'wanda', {'shelves': [{'label': 'ß', 'gap': 30}]}))['shelves'] == [{'label': 'ß', 'gap': 30}]
    for b, path in [({'mark': None}, '/mark'), ({'cone': None}, '/cone'), ({'pace': None}, '/pace'), ({'clay': None}, '/clay'), ({'clay': 'porcelain'}, '/clay'), ({'x': None}, '/x'), ({'cone': 15}, '/cone'), ({'shelves': [None]}, '/shelves/0')]:
        misshapen(k.patch(p, 'wanda', b), path)
    for raw in (b'[]', b'5', b'null'): misshapen(k.patch(p, 'wanda', raw=raw, headers=J), '')
    good(k.patch(p, 'wanda', raw=b'{"cone":4}', headers={'Content-Type': 'application/merge-patch+json'}))
    good(k.patch(p, 'wanda', raw=b'{"cone":5}', headers={'Content-Type': 'Application/JSON; charset=utf-8'}))
    is_refusal(k.patch(p, 'wanda', raw=b'{"cone":5}', headers={'Content-Type': 'text/plain'}), 415, 'wrong-media')
    is_refusal(k.post('/firings', 'wanda', raw=b'{}', headers={'Content-Type': 'application/merge-patch+json'}), 415, 'wrong-media')
    # preconditions
    is_refusal(k.patch(p, 'wanda', {'cone': 'x'}, match=None), 428, 'say-which')
    r = k.get(p, 'wanda'); tag = r.headers['etag']
    assert re.fullmatch(r'"[^"]+"', tag) and r.headers['cache-control'] == 'private, no-cache'
    for bad in ('"nope"', 'W/' + tag, tag.strip('"'), ''): is_refusal(k.patch(p, 'wanda', {'cone': 'x'}, match=bad), 412, 'stale')
    r = k.patch(p, 'wanda', {'cone': 8}, match=f'"nope", {tag}'); good(r)
    assert r.headers['etag'] == k.get(p, 'wanda').headers['etag'] != tag
    is_refusal(k.patch(p, 'wanda', {'cone': 9}, match=tag), 412, 'stale')
    one = k.get(p + '?edition=1', 'wanda').headers['etag']
    assert one != r.headers['etag'] != k.get(p, 'mina').headers['etag']
    is_refusal(k.patch(p, 'wanda', {'cone': 9}, match=one), 412, 'stale')
    good(k.patch(p + '?edition=1', 'wanda', {'heat': 9}, match=one))
    t = k.get(p, 'wanda').headers['etag']
    n = k.get(p, 'wanda', headers={'If-None-Match': t}); assert n.status == 304 and n.text == '' and n.headers['etag'] == t
    good(k.get(p, 'wanda', headers={'If-None-Match': '"x"'}))
    assert k.get(p, 'ada').headers['etag'] == t
    # unique
    a, b = k.ask(mark='A'), k.ask(mark='B')
    is_refusal(k.patch(f'/firings/{b["no"]}', 'wanda', {'mark': 'A'}), 409, 'taken')
    good(k.patch(f'/firings/{b["no"]}', 'wanda', {'mark': 'a'})); good(k.patch(f'/firings/{b["no"]}', 'wanda', {'mark': 'B'}))
    k.ask(mark='a')
    good(k.patch(f'/firings/{a["no"]}', 'wanda', {'mark': 'C'})); k.ask(mark='A')
    k.ask(mark='é'); k.ask(mark='e\u0301')
    # deleting
    assert k.delete(p, 'wanda').status == 204
    is_refusal(k.get(p, 'wanda'), 404, 'not-here'); is_refusal(k.delete(p, 'wanda'), 404, 'not-here')
    k.ask(mark=f['mark'])
    d = k.delete(f'/firings/{b["no"]}', 'wanda'); assert d.text == '' and 'content-type' not in d.headers
    assert k.ask()['no'] > b['no']


@check
def stages(k):
    def at(stage):
        no = k.ask()['no']
        if stage in ('accepted', 'lit', 'cooled', 'drawn'): k.accept(no)
        if stage in ('lit', 'cooled', 'drawn'): k.light(no)
        if stage in ('cooled', 'drawn'): k.clock(hours=6, seconds=1)
        if stage == 'drawn': good(k.post(f'/firings/{no}/draw', 'wanda', {'verdict': 'schön'}))
        if stage == 'refused': good(k.post(f'/firings/{no}/refuse', 'ada', {'reason': 'voll'}))
        if stage == 'withdrawn': good(k.post(f'/firings/{no}/withdraw', 'wanda'))
        if stage == 'lapsed': k.clock(days=2, seconds=1)
        assert k.stage(no) == stage, stage
        return no
    fine = {'asked': ['nudge', 'withdraw', 'accept', 'refuse', 'patch', 'delete'], 'accepted': ['withdraw', 'light'], 'lit': [], 'cooled': ['draw'], 'drawn': [], 'refused': ['delete'], 'withdrawn': ['delete'], 'lapsed': ['delete']}
    moves = {'nudge': ('wanda', None), 'withdraw': ('wanda', None), 'accept': ('ada', {'bay': 'A1'}), 'refuse': ('ada', {'reason': 'x'}), 'light': ('ada', {'degrees': 700}), 'draw': ('wanda', None)}
    to = {'nudge': 'asked', 'withdraw': 'withdrawn', 'accept': 'accepted', 'refuse': 'refused', 'light': 'lit', 'draw': 'drawn'}
    for stage in fine:
        for verb, (who, body) in moves.items():
            if verb == 'nudge': k.clock(seconds=61)
            no = at(stage)
            r = k.post(f'/firings/{no}/{verb}', who, body)
            if verb in fine[stage]:
                assert r.status == (202 if verb == 'light' else 200), r
                assert r.json['stage'] == to[verb] == k.stage(no)
            elif verb == 'withdraw': is_refusal(r, 409, 'too-late')
            elif who == 'ada' and stage in ('withdrawn', 'lapsed'): is_refusal(r, 404, 'not-here')
            elif stage == 'asked' and verb == 'light': is_refusal(r, 403, 'not-yours')
            else: is_refusal(r, 409, 'wrong-stage')
            if verb not in fine[stage]: assert k.stage(no) == stage
        no = at(stage)
        r = k.patch(f'/firings/{no}', 'wanda', {'cone': 7})
        good(r) if stage == 'asked' else is_refusal(r, 409, 'wrong-stage')
        if stage != 'asked': is_refusal(k.patch(f'/firings/{no}', 'wanda', {}), 409, 'wrong-stage')
        r = k.delete(f'/firings/{no}', 'wanda')
        is_refusal(r, 409, 'wrong-stage') if 'delete' not in fine[stage] else r.status == 204 or 1 / 0
        if 'delete' in fine[stage]: is_refusal(k.get(f'/firings/{no}', 'mina'), 404, 'not-here')
    # what transitions set
    no = k.ask()['no']; p = f'/firings/{no}'
    a = good(k.post(p + '/accept', 'ada', {'bay': 'Z9', 'more': 1}))
    assert a['stoker'] == 'st-ada' and a['bay'] == 'Z9' and a['fee'] == 720
    assert 'bay' not in good(k.get(p, 'wanda')) and good(k.get(p, 'mina'))['bay'] == 'Z9'
    r = k.post(p + '/light', 'ada', {'degrees': 600})
    assert good(r, 202) == {'firing': no, 'stage': 'lit'} and r.headers['kiln-docket'] == a['docket']
    l = good(k.get(p, 'wanda')); assert moment(l['cools']) - moment(l['touched-at']) == timedelta(hours=6)
    k.clock(hours=6); c = good(k.get(p, 'wanda')); assert c['stage'] == 'cooled' and c['touched-at'] > l['touched-at'] and c['holds'] == l['holds']
    assert good(k.post(p + '/draw', 'wanda'))['verdict'] == 'unsaid'
    no = at('refused'); x = good(k.get(f'/firings/{no}', 'wanda')); assert x['reason'] == 'voll' and x['stoker'] == 'st-ada'
    good(k.get(f'/firings/{no}', 'ada')); is_refusal(k.get(f'/firings/{no}', 'hugo'), 404, 'not-here')
    no = at('lapsed'); is_refusal(k.get(f'/firings/{no}', 'ada'), 404, 'not-here'); good(k.get(f'/firings/{no}', 'wanda'))
    # bodies of transitions
    no = k.ask()['no']; p = f'/firings/{no}'
    for b, path in [({}, '/bay'), ({'bay': 'b2'}, '/bay'), ({'bay': None}, '/bay'), ({'bay': 'B22'}, '/bay')]: misshapen(k.post(p + '/accept', 'ada', b), path)
    is_refusal(k.post(p + '/accept', 'ada'), 400, 'garbled')
    for b in ({}, {'reason': ''}, {'reason': 'x' * 121}, {'reason': 1}): misshapen(k.post(p + '/refuse', 'ada', b), '/reason')
    k.accept(no)
    for b in ({}, {'degrees': -1}, {'degrees': 1501}, {'degrees': 600.5}, {'degrees': '900'}): misshapen(k.post(p + '/light', 'ada', b), '/degrees')
    is_refusal(k.post(p + '/light', 'ada', {'degrees': 0}), 422, 'too-cold')
    no = at('cooled'); p = f'/firings/{no}'
    for b in ({'verdict': ''}, {'verdict': None}, {'verdict': 'x' * 61}): misshapen(k.post(p + '/draw', 'wanda', b), '/verdict')
    is_refusal(k.post(p + '/draw', 'wanda', raw=b'{', headers=J), 400, 'garbled')
    assert good(k.post(p + '/draw', 'wanda', {'verdict': '🏺' * 60, 'x': 1}))['verdict'] == '🏺' * 60
    k.clock(seconds=61)
    good(k.post(f'/firings/{k.ask()["no"]}/nudge', 'wanda', raw=b'{{{', headers={'Content-Type': 'text/plain'}))
    good(k.post(f'/firings/{k.ask()["no"]}/withdraw', 'wanda', raw=b'{{{', headers=J))


@check
def glazes(k):
    d = {'code': 'ash-01', 'title': 'Asche 灰', 'symbol': 'As', 'span': {'low': 1, 'high': 14}}
    r = k.post('/glazes', 'mina', d); g = made(r)
    assert r.headers['location'] == '/yard/glazes/ash-01'
    assert g == {**d, 'hazard': 'safe', 'shown': False, 'assayer': 'as-mina', 'revised': g['revised']} and re.fullmatch(Z, g['revised'])
    assert good(k.get('/glazes/ash-01', 'vera')) == g
    for who in ('wanda', 'ada'):
        is_refusal(k.get('/glazes/ash-01', who), 404, 'not-here'); assert good(k.get('/glazes', who))['tally'] == 0
    for f, v in [('code', 'Ash-02'), ('code', 'a-02'), ('code', 'ash-2'), ('code', None), ('title', ''), ('title', 'x' * 61), ('symbol', 'A'), ('symbol', 'Äs'), ('symbol', 'A1'), ('hazard', 'none'), ('hazard', None), ('span', None),
                 ('shown', 'true'), ('shown', None), ('remark', 'x' * 121), ('recipe', {}), ('zzz', 1)]:
        b = k.glaze_draft(); b[f] = v
        misshapen(k.post('/glazes', 'mina', b), '/' + f)
    for f in ('code', 'title', 'symbol', 'span'): misshapen(k.post('/glazes', 'mina', k.glaze_draft(**{f: None})), '/' + f)
    for v, path in [([{'oxide': 'SiO2'}], '/recipe/0/percent'), ([{'oxide': 'siO2', 'percent': 1}], '/recipe/0/oxide'), ([{'oxide': 'SiO2', 'percent': 0.49}], '/recipe/0/percent'), ([{'oxide': 'SiO2', 'percent': 100.1}], '/recipe/0/percent'),
                    ([{'oxide': 'SiO2', 'percent': '1'}], '/recipe/0/percent'), ([{'oxide': 'SiO2', 'percent': 1}] * 9, '/recipe'), ([{'oxide': 'SiO2', 'percent': 1, 'x': 1}], '/recipe/0/x')]:
        misshapen(k.post('/glazes', 'mina', k.glaze_draft(recipe=v)), path)
    misshapen(k.post('/glazes', 'mina', k.glaze_draft(span={'low': 0, 'high': 3})), '/span/low')
    is_refusal(k.post('/glazes', 'mina', k.glaze_draft(span={'low': 5, 'high': 4})), 422, 'span-backwards')
    k.glaze(span={'low': 5, 'high': 5})
    is_refusal(k.post('/glazes', 'vera', {**d, 'symbol': 'Zz'}), 409, 'taken')
    is_refusal(k.post('/glazes', 'vera', {**d, 'code': 'ash-02', 'symbol': 'aS'}), 409, 'taken')
    # replacing
    rich = {'title': 'Neu', 'symbol': 'AS', 'span': {'low': 2, 'high': 3}, 'recipe': [{'oxide': 'SiO2', 'percent': 62.5}], 'remark': 'ü', 'hazard': 'barium', 'shown': True, 'assayer': 'x', 'revised': 1}
    k.clock(seconds=3)
    r = k.put('/glazes/ash-01', 'mina', rich); n = good(r)
    assert n['assayer'] == 'as-mina' and n['revised'] > g['revised'] and n['recipe'] == rich['recipe'] and n['symbol'] == 'AS' and n['code'] == 'ash-01'
    k.clock(seconds=3)
    assert good(k.put('/glazes/ash-01', 'mina', {**rich, 'code': 'ash-01'})) == n
    assert 'recipe' not in good(k.get('/glazes/ash-01', 'wanda')) and 'recipe' not in good(k.get('/glazes', 'ada'))['rows'][0]
    misshapen(k.put('/glazes/ash-01', 'mina', {**rich, 'code': 'ash-02'}), '/code')
    misshapen(k.put('/glazes/ash-01', 'mina', {'title': 'x'}))
    is_refusal(k.put('/glazes/ash-09', 'mina', rich), 404, 'not-here')
    is_refusal(k.put('/glazes/ash-01', 'vera', rich), 403, 'not-yours')
    is_refusal(k.put('/glazes/ash-01', 'vera', {}), 403, 'not-yours')
    tag = k.get('/glazes/ash-01', 'mina').headers['etag']; assert tag == r.headers['etag']
    is_refusal(k.put('/glazes/ash-01', 'mina', {}, headers={'If-Match': '"x"'}), 412, 'stale')
    less = good(k.put('/glazes/ash-01', 'mina', d, headers={'If-Match': tag}))
    assert {**less, 'revised': 0} == {**g, 'revised': 0}
    is_refusal(k.put('/glazes/ash-01', 'mina', {**d, 'span': {'low': 3, 'high': 2}}), 422, 'span-backwards')
    other = k.glaze(symbol='Qq')
    is_refusal(k.put('/glazes/ash-01', 'mina', {**d, 'symbol': 'qQ'}), 409, 'taken')
    # lists
    for i, c in enumerate(('zinc-02', 'alum-03', 'zinc-01')): k.glaze(code=c, title=('Ölig ', 'ölig ', 'Ölfarben ')[i] + c, hazard=('lead', 'safe', 'lead')[i], symbol='X' + 'abc'[i])
    rows = [r['code'] for r in good(k.get('/glazes?take=40', 'mina'))['rows']]; assert rows == sorted(rows) and len(rows) == 6
    from urllib.parse import quote
    assert [r['code'] for r in good(k.get('/glazes?title-starts=' + quote('Öl'), 'wanda'))['rows']] == ['zinc-01', 'zinc-02']
    assert [r['code'] for r in good(k.get('/glazes?hazard=lead&title-starts=' + quote('Ölf'), 'wanda'))['rows']] == ['zinc-01']
    assert good(k.get('/glazes?title-starts=lig', 'wanda')) == {'kind': 'sheet', 'rows': [], 'tally': 0, 'more': False}
    for q in ('hazard=none', 'title-starts=', 'title-starts=' + 'x' * 61, 'symbol=As', 'hazard=', 'hazard=lead&hazard=safe', 'take=0', 'take=-1', 'take=x', 'take=1.5', 'skip=-1', 'skip=x', 'take='): is_refusal(k.get('/glazes?' + q, 'mina'), 400, 'bad-query')
    # striking
    is_refusal(k.delete('/glazes/ash-01', 'vera'), 403, 'not-yours'); is_refusal(k.delete('/glazes/no-01', 'vera'), 404, 'not-here')
    assert k.delete('/glazes/ash-01', 'mina').status == 204; is_refusal(k.get('/glazes/ash-01', 'mina'), 404, 'not-here')
    k.glaze(code='ash-01', symbol='As')


@check
def ware(k):
    f, f2, g, lead = k.ask()['no'], k.ask()['no'], k.glaze()['code'], k.glaze(hazard='lead')['code']
    hidden = k.glaze(shown=False)['code']
    r = k.post(f'/firings/{f}/wares', 'wanda', {'glaze': g, 'name': 'Krug ü', 'form': 'vase', 'height': 5, 'mass': 20000, 'tags': ['a', 'ß'], 'made-on': '2024-02-29', 'accent': lead, 'no': 77, 'firing': f})
    w = made(r)
    assert w == {'no': 1, 'firing': f, 'glaze': g, 'accent': lead, 'name': 'Krug ü', 'form': 'vase', 'height': 5, 'mass': 20000, 'tags': ['a', 'ß'], 'packed': False, 'made-on': '2024-02-29'}
    assert r.headers['location'] == f'/yard/firings/{f}/wares/1'
    p = f'/firings/{f}/wares'
    assert good(k.get(p + '/1', 'wanda')) == w
    for fld, v in [('firing', f2), ('firing', 999), ('firing', 'x'), ('firing', None), ('glaze', None), ('glaze', 5), ('accent', None), ('name', ''), ('name', 'x' * 81), ('form', 'cup'), ('form', None), ('height', 4), ('height', 901), ('height', 5.5), ('height', '5'),
                   ('mass', 0), ('mass', 20001), ('tags', 'x'), ('tags', ['a', 'a']), ('tags', list('abcdef')), ('packed', 0), ('packed', None), ('made-on', '2023-02-29'), ('made-on', '2023-2-01'), ('made-on', '2023-01-01T00:00:00Z'), ('zz', 1)]:
        b = k.ware_draft(g); b[fld] = v
        misshapen(k.post(p, 'wanda', b), '/' + fld)
    misshapen(k.post(p, 'wanda', k.ware_draft(g, tags=['a', ''])), '/tags/1')
    for miss in ('glaze', 'name', 'form', 'height', 'mass'): misshapen(k.post(p, 'wanda', k.ware_draft(g, **{miss: None}) if miss != 'glaze' else k.ware_draft(None)), '/' + miss)
    for ref in ('nowhere-01', hidden, ''):
        is_refusal(k.post(p, 'wanda', k.ware_draft(ref)), 422, 'no-such-ref'); is_refusal(k.post(p, 'wanda', k.ware_draft(g, accent=ref)), 422, 'no-such-ref')
        is_refusal(k.patch(p + '/1', 'wanda', {'glaze': ref}), 422, 'no-such-ref')
    is_refusal(k.post(p, 'wanda', k.ware_draft(lead, form='bowl')), 422, 'leaded-bowl')
    made(k.post(p, 'wanda', k.ware_draft(g, form='bowl', accent=lead)))
    is_refusal(k.post(p, 'wanda', k.ware_draft(g, name='Krug ü')), 409, 'taken')
    k.ware(f2, g, name='Krug ü'); k.ware(f, g, name='krug ü')
    is_refusal(k.patch(p + '/1', 'wanda', {'name': 'krug ü'}), 409, 'taken')
    assert good(k.patch(p + '/1', 'wanda', {'accent': None, 'tags': None, 'mass': 7, 'no': 5, 'firing': f, 'packed': True})) == {**{x: w[x] for x in w if x not in ('accent', 'tags')}, 'mass': 7, 'packed': True}
    misshapen(k.patch(p + '/1', 'wanda', {'firing': f2}), '/firing'); misshapen(k.patch(p + '/1', 'wanda', {'firing': None}), '/firing'); misshapen(k.patch(p + '/1', 'wanda', {'glaze': None}), '/glaze'); misshapen(k.patch(p + '/1', 'wanda', {'tags': [None]}), '/tags/0')
    is_refusal(k.get(f'/firings/{f2}/wares/1', 'wanda'), 404, 'not-here'); is_refusal(k.patch(f'/firings/{f2}/wares/1', 'wanda', {'mass': 3}), 404, 'not-here'); is_refusal(k.delete(f'/firings/{f2}/wares/1', 'wanda'), 404, 'not-here')
    is_refusal(k.get(p + '/99', 'wanda'), 404, 'not-here'); is_refusal(k.get(p + '/x', 'wanda'), 404, 'not-here'); is_refusal(k.post('/firings/99/wares', 'wanda', {}), 404, 'not-here')
    # lists
    f3 = k.ask()['no']; p = f'/firings/{f3}/wares'
    assert good(k.get(p, 'wanda')) == {'kind': 'shelf-sheet', 'rows': [], 'tally': 0, 'more': False}
    nos = [k.ware(f3, g, mass=m, form=fm, packed=pk, name=nm)['no'] for m, fm, pk, nm in [(5, 'vase', True, 'Öl a'), (9, 'bowl', False, 'öl b'), (5, 'bowl', True, 'x%y'), (1, 'tile', False, 'a+b &=c'), (9, 'vase', False, 'Öl'), (2, 'tile', True, '🏺')]]
    o = lambda q='': [nos.index(r['no']) for r in good(k.get(p + '?take=20' + q, 'wanda'))['rows']]
    assert o() == [1, 4, 0, 2, 5, 3] == o('&sort=-mass') and o('&sort=mass') == [3, 5, 0, 2, 1, 4]
    assert o('&packed=true') == [0, 2, 5] and o('&packed=false') == [1, 4, 3] and o('&form=bowl') == [1, 2] and o('&heaviest=5') == [0, 2, 5, 3] and o('&heaviest=1') == [3]
    assert o('&name-has=%C3%96l') == [4, 0] and o('&name-has=%25') == [2] and o('&name-has=%2Bb%20%26%3D') == [3] and o('&name-has=%F0%9F%8F%BA') == [5] and o('&name-has=zzz') == []
    assert o('&form=vase&packed=true&heaviest=5') == [0]
    b = good(k.get(p, 'wanda')); assert (len(b['rows']), b['tally'], b['more']) == (5, 6, True)
    b = good(k.get(p + '?skip=5', 'wanda')); assert (len(b['rows']), b['tally'], b['more']) == (1, 6, False)
    b = good(k.get(p + '?skip=6&take=1', 'wanda')); assert (b['rows'], b['tally'], b['more']) == ([], 6, False)
    b = good(k.get(p + '?skip=900000', 'wanda')); assert (b['rows'], b['tally'], b['more']) == ([], 6, False)
    for q in ('take=21', 'take=0', 'take=x', 'skip=-1', 'form=cup', 'packed=yes', 'packed=1', 'heaviest=0', 'heaviest=20001', 'heaviest=x', 'name-has=', 'sort=name', 'sort=', 'glaze=' + g, 'cursor=1', 'name-has=%FF', 'limit=3'): is_refusal(k.get(p + '?' + q, 'wanda'), 400, 'bad-query')
    # shut, held, gone
    k.accept(f3)
    is_refusal(k.post(p, 'wanda', k.ware_draft(g)), 409, 'shelves-shut'); misshapen(k.post(p, 'wanda', {}))
    good(k.patch(f'{p}/{nos[0]}', 'wanda', {'mass': 6})); assert k.delete(f'{p}/{nos[0]}', 'wanda').status == 204
    is_refusal(k.delete('/glazes/' + g, 'mina'), 409, 'still-used')
    n = k.glaze()['code']; k.ware(f2, n)
    is_refusal(k.delete('/glazes/' + n, 'mina'), 409, 'still-used')
    assert k.delete(f'/firings/{f2}', 'wanda').status == 204 and k.delete('/glazes/' + n, 'mina').status == 204
    # edition 1
    p = f'/firings/{f}/wares'
    a = made(k.post(p + '?edition=1', 'wanda', k.ware_draft(g, height=12.34))); assert a['height'] == 12.3
    assert good(k.get(f'{p}/{a["no"]}', 'wanda'))['height'] == 123
    for h in (0.4, 91, '5', 90.01): misshapen(k.post(p + '?edition=1', 'wanda', k.ware_draft(g, height=h)), '/height')
    for h, mm in ((0.5, 5), (90, 900), (8.95, 90), (7.25, 73), (33.3, 333)): assert good(k.get(f'{p}/{made(k.post(p + "?edition=1", "wanda", k.ware_draft(g, height=h)))["no"]}', 'wanda'))['height'] == mm
    assert good(k.patch(f'{p}/{a["no"]}?edition=1', 'wanda', {'height': 20}))['height'] == 20
    assert good(k.patch(f'{p}/{a["no"]}?edition=1', 'wanda', {'mass': 44}))['height'] == 20 and good(k.get(f'{p}/{a["no"]}', 'wanda'))['height'] == 200
    for h in range(5, 900, 13):
        x = k.ware(f, g, height=h)['no']
        one = good(k.get(f'{p}/{x}?edition=1', 'wanda'))['height']; assert one == h / 10
        assert good(k.patch(f'{p}/{x}?edition=1', 'wanda', {'height': one, 'mass': 33}))['height'] == one and good(k.get(f'{p}/{x}', 'wanda'))['height'] == h


@check
def firing_lists(k):
    assert good(k.get('/firings', 'wanda')) == {'kind': 'sheet', 'rows': [], 'tally': 0, 'more': False}
    nos = []
    for i in range(13):
        nos.append(k.ask(cone=1 + i % 12, clay=['stoneware', 'earthenware'][i % 2], pace=['slow', 'brisk'][i // 7])['no'])
        if i == 6: mid = k.clock(seconds=10)
    k.ask('bruno', cone=14)
    o = lambda q='', who='wanda': [nos.index(r['no']) for r in good(k.get('/firings?take=40' + q, who))['rows']]
    assert o('&sort=asked-at') == list(range(13))
    by = [(r['asked-at'], r['no']) for r in good(k.get('/firings?take=40', 'wanda'))['rows']]
    assert by == sorted(by, key=lambda x: (-moment(x[0]).timestamp(), x[1]))
    assert o('&sort=cone') == [0, 12] + list(range(1, 12)) and o('&sort=-cone') == list(range(11, 0, -1)) + [0, 12]
    assert o('&sort=cone&clay=earthenware') == [1, 3, 5, 7, 9, 11] and o('&sort=cone&pace=brisk') == [12, 7, 8, 9, 10, 11] and o('&sort=cone&hottest=2') == [0, 12, 1] and o('&clay=porcelain') == []
    m = mid.isoformat(timespec='milliseconds').replace('+00:00', 'Z')
    from urllib.parse import quote
    assert o('&sort=asked-at&since=' + m) == list(range(7, 13))
    shifted = (mid + timedelta(hours=2)).isoformat(timespec='milliseconds').replace('+00:00', '+02:00')
    assert o('&sort=asked-at&since=' + quote(shifted)) == list(range(7, 13))
    exact = good(k.get('/firings/8', 'wanda'))['asked-at']; assert 7 in o('&since=' + exact)
    assert 7 not in o('&since=' + (moment(exact) + timedelta(milliseconds=1)).isoformat(timespec='milliseconds').replace('+00:00', 'Z')) or True
    b = good(k.get('/firings', 'wanda')); assert (len(b['rows']), b['tally'], b['more']) == (10, 13, True)
    b = good(k.get('/firings?skip=10', 'wanda')); assert (len(b['rows']), b['tally'], b['more']) == (3, 13, False)
    b = good(k.get('/firings?skip=12&take=1', 'wanda')); assert (len(b['rows']), b['more']) == (1, False)
    b = good(k.get('/firings?skip=11&take=1', 'wanda')); assert (len(b['rows']), b['more']) == (1, True)
    assert good(k.get('/firings?take=41', 'wanda'))['tally'] == 13
    k.accept(nos[0]); good(k.post(f'/firings/{nos[1]}/withdraw', 'wanda'))
    assert o('&stage=accepted') == [0] and o('&stage=withdrawn') == [1] and o('&stage=lit') == [] and len(o('&stage=asked')) == 11
    assert good(k.get('/firings?take=40', 'hugo'))['tally'] == 12 and good(k.get('/firings?take=40', 'ada'))['tally'] == 13 and good(k.get('/firings', 'mina'))['tally'] == 14 and good(k.get('/firings', 'iris'))['tally'] == 0
    for q in ('stage=gone', 'clay=mud', 'pace=gentle', 'hottest=0', 'hottest=15', 'hottest=x', 'since=yesterday', 'since=2026-01-01', 'sort=mark', 'sort=heat', 'cone=5', 'take=0', 'skip=-1', 'page=2', 'sort=cone&sort=-cone'): is_refusal(k.get('/firings?' + q, 'wanda'), 400, 'bad-query')
    e = lambda q: [nos.index(r['no']) for r in good(k.get('/firings?edition=1&take=40' + q, 'wanda'))['rows']]
    assert e('&sort=heat') == o('&sort=cone') and e('&sort=-heat&pace=quick') == o('&sort=-cone&pace=brisk') and e('&hottest=2&pace=gentle&sort=heat') == o('&sort=cone&hottest=2&pace=slow')
    for q in ('sort=cone', 'pace=slow', 'heat=5'): is_refusal(k.get('/firings?edition=1&' + q, 'wanda'), 400, 'bad-query')


@check
def editions(k):
    r = k.post('/firings?edition=1', 'wanda', {'mark': 'v', 'clay': 'porcelain', 'heat': 6, 'shop': 'mine', 'gate-code': '9999'}); f = made(r)
    assert f['heat'] == 6 and f['pace'] == 'gentle' and f['shop'] == 'main' and 'cone' not in f and f['fee'] == 720 and r.headers['deprecation'] == '@1780272000'
    p = f'/firings/{f["no"]}'
    two = good(k.get(p + '?edition=2', 'wanda')); assert two['cone'] == 6 and two['pace'] == 'slow' and 'shop' not in two and 'heat' not in two and two == good(k.get(p, 'wanda'))
    for b, path in [({'cone': 5}, '/cone'), ({'soak': {'minutes': 5, 'hold-c': 500}}, '/soak'), ({'pace': 'slow'}, '/pace'), ({'heat': 15}, '/heat'), ({'heat': None}, '/heat')]: misshapen(k.patch(p + '?edition=1', 'wanda', b), path)
    misshapen(k.post('/firings?edition=1', 'wanda', {'mark': 'w', 'clay': 'stoneware'}), '/heat')
    is_refusal(k.patch(p + '?edition=1', 'wanda', {'heat': 5}), 422, 'porcelain-low'); is_refusal(k.post('/firings?edition=1', 'iris', {'mark': 'w', 'clay': 'stoneware', 'heat': 13}), 403, 'not-yours')
    assert good(k.patch(p + '?edition=1', 'wanda', {'heat': 7, 'pace': 'quick', 'shop': 5}))['fee'] == 2100
    good(k.patch(p, 'wanda', {'soak': {'minutes': 9, 'hold-c': 900}})); a = good(k.patch(p + '?edition=1', 'wanda', {'notes': 'x'})); assert 'soak' not in a
    two = good(k.get(p, 'wanda')); assert two['soak']['minutes'] == 9 and two['cone'] == 7 and two['pace'] == 'brisk'
    r = k.get('/nothing?edition=1'); assert r.status == 404
    for path in ('/pulse', '/glazes', '/hooks', p): assert 'sunset' in k.get(path + '?edition=1', 'wanda').headers and 'sunset' not in k.get(path, 'wanda').headers
    is_refusal(k.get('/estimate?edition=1&cone=3', 'wanda'), 404, 'no-such-path')
    assert good(k.post(p + '/nudge?edition=1', 'wanda'))['heat'] == 7 and good(k.post(p + '/accept?edition=1', 'ada', {'bay': 'A1'}))['pace'] == 'quick'
    m = k.listen('wanda', edition='1'); k.ask(mark='st'); e = m.events(1)[0][2]; m.close(); assert e['body']['heat'] == 6 and e['body']['shop'] == 'main'


@check
def idempotency(k):
    h = {'Kiln-Once': 'key-ü'.encode().decode('latin-1')}
    d = k.draft()
    a = k.post('/firings', 'wanda', d, headers=h); b = k.post('/firings', 'wanda', d, headers=h)
    assert made(a) == made(b) and a.headers['location'] == b.headers['location']
    good(k.patch(f'/firings/{a.json["no"]}', 'wanda', {'cone': 3})); assert made(k.post('/firings', 'wanda', d, headers=h)) == a.json
    is_refusal(k.post('/firings?edition=2', 'wanda', d, headers=h), 422, 'once-reused')
    is_refusal(k.post('/firings', 'wanda', {**d, 'notes': 'x'}, headers=h), 422, 'once-reused')
    misshapen(k.post('/firings', 'wanda', {'mark': ''}, headers={'Kiln-Once': 'q'})); made(k.post('/firings', 'wanda', k.draft(), headers={'Kiln-Once': 'q'}))
    low = k.draft(clay='porcelain', cone=2)
    r = k.post('/firings', 'wanda', low, headers={'Kiln-Once': 'low'}); is_refusal(r, 422, 'porcelain-low')
    assert k.post('/firings', 'wanda', low, headers={'Kiln-Once': 'low'}).json == r.json
    is_refusal(k.post('/firings', 'wanda', k.draft(), headers={'Kiln-Once': 'low'}), 422, 'once-reused')
    dup = k.draft(mark=d['mark']); is_refusal(k.post('/firings', 'wanda', dup, headers={'Kiln-Once': 'dup'}), 409, 'taken')
    good(k.post(f'/firings/{a.json["no"]}/withdraw', 'wanda')); made(k.post('/firings', 'wanda', dup, headers={'Kiln-Once': 'dup'}))
    k.clock(hours=11, minutes=59); assert made(k.post('/firings', 'wanda', d, headers=h)) == a.json
    k.clock(minutes=2); is_refusal(k.post('/firings', 'wanda', d, headers=h), 409, 'taken')
    d2 = k.draft()
    with concurrent.futures.ThreadPoolExecutor(16) as ex: rs = list(ex.map(lambda _: k.post('/firings', 'wanda', d2, headers={'Kiln-Once': 'race'}), range(24)))
    assert len({made(r)['no'] for r in rs}) == 1
    g = k.glaze_draft(); made(k.post('/glazes', 'mina', g, headers=h)); is_refusal(k.post('/glazes', 'mina', g, headers=h), 409, 'taken')


@check
def races(k):
    with concurrent.futures.ThreadPoolExecutor(16) as ex:
        d = k.draft(); rs = list(ex.map(lambda _: k.post('/firings', 'wanda', d).status, range(24))); assert sorted(rs) == [201] + [409] * 23, rs
        no = k.ask()['no']; rs = list(ex.map(lambda i: k.post(f'/firings/{no}/accept', ['ada', 'hugo'][i % 2], {'bay': 'A1'}).status, range(16))); assert rs.count(200) == 1 and set(rs) <= {200, 404, 409}, rs
        f = k.ask(); tag = k.get(f'/firings/{f["no"]}', 'wanda').headers['etag']
        rs = list(ex.map(lambda i: k.patch(f'/firings/{f["no"]}', 'wanda', {'notes': f'n{i}'}, match=tag).status, range(16))); assert rs.count(200) == 1 and rs.count(412) == 15, rs


@check
def hooks(k):
    e = k.ear()
    for b, p in [({}, '/url'), ({'url': 'ftp://x'}, '/url'), ({'url': 'http://'}, '/url'), ({'url': 'http://a b'}, '/url'), ({'url': 'http://ä.example'}, '/url'), ({'url': 'http://a/' + 'x' * 300}, '/url'), ({'url': e.url, 'kinds': ['nope']}, '/kinds/0'),
                 ({'url': e.url, 'kinds': 'x'}, '/kinds'), ({'url': e.url, 'kinds': ['*'] * 13}, '/kinds'), ({'url': e.url, 'live': 1}, '/live'), ({'url': e.url, 'x': 1}, '/x'), ({'url': e.url, 'kinds': [5]}, '/kinds/0'), ({'url': e.url, 'live': None}, '/live')]:
        misshapen(k.post('/hooks', 'wanda', b), p)
    r = k.post('/hooks', 'wanda', {'url': e.url, 'kinds': ['firing.asked', 'ware.*', 'firing.lapsed', 'glaze.struck'], 'secret': 'mine', 'owner': 'x', 'id': 'y'}); h = made(r)
    assert set(h) == {'id', 'owner', 'url', 'kinds', 'live', 'secret'} and h['owner'] == 'po-wanda' and h['live'] is True and re.fullmatch('hk-[A-Za-z0-9]{12}', h['id']) and r.headers['location'] == '/yard/hooks/' + h['id']
    bare = {x: h[x] for x in h if x != 'secret'}
    assert good(k.get('/hooks/' + h['id'], 'wanda')) == bare and good(k.get('/hooks', 'wanda')) == {'kind': 'sheet', 'rows': [bare], 'tally': 1, 'more': False}
    assert good(k.patch('/hooks/' + h['id'], 'wanda', {'secret': 'x', 'owner': 'y'})) == bare
    no, g = k.ask()['no'], k.glaze()['code']; w = k.ware(no, g)
    e.wait(2)
    by = {b['what']: b for b in e.bodies()}
    assert set(by) == {'firing.asked', 'ware.added'} and by['ware.added']['body'] == w and by['firing.asked']['body'] == good(k.get(f'/firings/{no}', 'wanda'))
    for hd, body, path in e.got:
        m = re.fullmatch(r'at=(\d+);seal=(\S+)', hd['kiln-seal']); b = json.loads(body)
        assert m.group(2) == seal_of(h['secret'], b['ref'], m.group(1), body) and hd['content-type'] == 'application/json' and hd['kiln-kind'] == b['what'] and set(b) == {'ref', 'what', 'at', 'body'} and re.fullmatch(Z, b['at']) and path == '/ear'
        assert abs(int(m.group(1)) - k.now().timestamp()) < 5
    assert len({b['ref'] for b in e.bodies()}) == 2
    good(k.patch('/hooks/' + h['id'], 'wanda', {'live': False})); k.ask(); e.quiet(); assert len(e.got) == 2
    assert 'kinds' not in good(k.patch('/hooks/' + h['id'], 'wanda', {'live': True, 'kinds': None}))
    x = k.ask()['no']; k.accept(x); e.wait(4); assert [b['what'] for b in e.bodies()[2:]] == ['firing.asked', 'firing.accepted']
    misshapen(k.patch('/hooks/' + h['id'], 'wanda', {'kinds': ['x.*']}), '/kinds/0'); misshapen(k.patch('/hooks/' + h['id'], 'wanda', {'url': None}), '/url')
    # a struck glaze is told to those who could read it
    seen, unseen = k.glaze()['code'], k.glaze(shown=False)['code']
    for c in (unseen, seen): assert k.delete('/glazes/' + c, 'mina').status == 204
    e.wait(5); e.quiet(); assert [b['body']['code'] for b in e.bodies() if b['what'] == 'glaze.struck'] == [seen] and 'recipe' not in e.bodies()[4]['body']
    assert k.delete('/hooks/' + h['id'], 'wanda').status == 204; is_refusal(k.get('/hooks/' + h['id'], 'wanda'), 404, 'not-here'); n = len(e.got); k.ask(); e.quiet(); assert len(e.got) == n
    # tries: at once, then after 10s, 2m, 30m, then given up; the next waits that long; others do not
    t = k.ear(); t.answers = [500, 404, 302, 503]; k.hook(t.url, 'iris', kinds=['firing.asked', 'firing.accepted'])
    a = k.ask('iris')['no']; t.wait(1); k.accept(a); assert len(t.quiet()) == 1
    for i, wait in enumerate(({'seconds': 9}, {'seconds': 2}, {'seconds': 118}, {'seconds': 3}, {'minutes': 29, 'seconds': 55}, {'seconds': 6})):
        k.clock(**wait); t.wait((i + 1) // 2 + 1 + (1 if i == 5 else 0), 2); assert len(t.quiet(0.3)) == [1, 2, 2, 3, 3, 5][i], (i, len(t.got))
    bs = t.bodies(); assert bs[0] == bs[1] == bs[2] == bs[3] and bs[4]['what'] == 'firing.accepted'
    stamps = [int(re.match(r'at=(\d+)', hd['kiln-seal']).group(1)) for hd, _, _ in t.got]; assert stamps == sorted(stamps) and stamps[3] - stamps[0] > 1900
    t.answers = [500]; b1 = k.ask('iris')['no']; t.wait(6); b2 = k.ask('iris')['no']; t.wait(7); assert [x['body']['no'] for x in t.bodies()[5:]] == [b1, b2]
    # who is told what
    s, z = k.ear(), k.ear(); k.hook(s.url, 'ada'); k.hook(z.url, 'hugo'); v = k.ear(); k.hook(v.url, 'mina')
    f = k.ask('bruno', cone=13)['no']; k.accept(f, 'ada', 'C3'); k.light(f); k.clock(hours=7); r2 = k.ask('bruno')['no']; good(k.post(f'/firings/{r2}/refuse', 'hugo', {'reason': 'nö'})); r3 = k.ask('bruno')['no']; k.clock(days=3)
    s.wait(6); z.wait(5); v.wait(8); time.sleep(0.4)
    kinds = lambda q: sorted((b['what'], b['body'].get('no', b['body'].get('firing'))) for b in q.bodies() if b['body'].get('no', b['body'].get('firing')) in (f, r2, r3))
    assert kinds(s) == sorted([('firing.asked', f), ('firing.fierce', f), ('firing.accepted', f), ('firing.cooled', f), ('firing.asked', r2), ('firing.asked', r3)]), kinds(s)
    assert kinds(z) == sorted([('firing.asked', f), ('firing.fierce', f), ('firing.asked', r2), ('firing.refused', r2), ('firing.asked', r3)]), kinds(z)
    assert kinds(v) == sorted([('firing.asked', f), ('firing.fierce', f), ('firing.accepted', f), ('firing.cooled', f), ('firing.asked', r2), ('firing.refused', r2), ('firing.asked', r3), ('firing.lapsed', r3)]), kinds(v)
    acc = [b for b in s.bodies() if b['what'] == 'firing.accepted'][0]['body']; assert acc['bay'] == 'C3' and acc['fee'] == 13 * 120
    acc = [b for b in v.bodies() if b['what'] == 'firing.accepted'][0]['body']; assert acc['bay'] == 'C3' and 'fee' not in acc
    assert [b['body'] for b in z.bodies() if b['what'] == 'firing.refused'] == [{'firing': r2, 'reason': 'nö'}]


@check
def stream(k):
    is_refusal(k.get('/murmur'), 401, 'who-are-you'); is_refusal(k.get('/murmur?x=1', 'wanda'), 400, 'bad-query')
    k.ask(mark='before')
    m, o, a = k.listen('wanda'), k.listen('ada'), k.listen('mina')
    assert b'content-type: text/event-stream' in m.buffer.lower()
    no = k.ask(mark='zwölf', cone=11)['no']
    k.patch(f'/firings/{no}', 'wanda', {'notes': 'x'}); k.patch(f'/firings/{no}', 'wanda', {'notes': 'x'}); k.patch(f'/firings/{no}', 'wanda', {'cone': 10})
    k.accept(no); k.light(no); k.clock(hours=7)
    want = ['firing.asked', 'firing.fierce', 'firing.fierce', 'firing.accepted', 'firing.cooled']
    for s in (m, o, a):
        ev = s.events(5); assert [x[1] for x in ev] == want, ev
        for i, kind, d in ev: assert d['ref'] == i and d['what'] == kind and set(d) == {'ref', 'what', 'at', 'body'}
    assert m.parsed()[0][2]['body']['mark'] == 'zwölf' and 'bay' not in m.parsed()[3][2]['body'] and o.parsed()[3][2]['body']['bay'] == 'B2' and 'fee' not in a.parsed()[0][2]['body']
    third = m.parsed()[2][0]
    for s in (m, o, a): s.close()
    m = k.listen('wanda', last=third); assert [x[1] for x in m.events(2)] == want[3:]; k.ask(); assert m.events(3)[2][1] == 'firing.asked'; m.close()
    b = k.listen('bruno', last=third); k.ask('bruno', mark='b'); assert [x[2]['body']['mark'] for x in b.events(1)] == ['b']; b.close()
    k.clock(hours=25); k.ask(mark='late')
    m = k.listen('wanda', last='ev-1'); time.sleep(0.2); assert [x[2]['body']['mark'] for x in m.events(1)] == ['late'], m.parsed(); m.close()


@check
def limits(k):
    big = lambda n: json.dumps(k.draft()).encode().ljust(n)
    made(k.post('/firings', 'wanda', raw=big(16384), headers=J)); is_refusal(k.post('/firings', 'wanda', raw=big(16385), headers=J), 413, 'too-big')
    is_refusal(k.post('/firings', None, raw=big(20000), headers=J), 401, 'who-are-you'); is_refusal(k.post('/firings', 'ada', raw=big(20000), headers=J), 403, 'not-yours'); is_refusal(k.post('/firings', 'wanda', raw=big(200000), headers=J), 413, 'too-big')
    is_refusal(k.post('/firings', 'wanda', raw=big(3000000), headers=J), 413, 'too-big')
    is_refusal(k.get('/glazes?title-starts=' + 'x' * 2048, 'wanda'), 413, 'too-big'); is_refusal(k.get('/' + 'x' * 3000), 413, 'too-big'); is_refusal(k.get('/pulse', headers={'X-A': 'y' * 9000}), 413, 'too-big'); is_refusal(k.get('/pulse', headers={'X-A': 'y' * 200000}), 413, 'too-big')
    good(k.get('/pulse', headers={'X-A': 'y' * 7000}))
    for ac in ('text/html', 'application/json;q=0', 'application/xml, text/*;q=0.5'): is_refusal(k.get('/firings', 'wanda', headers={'Accept': ac}), 406, 'cannot-offer')
    for ac in ('*/*', 'application/*', 'application/json', 'text/html, */*;q=0.1', 'application/json; charset=utf-8'): good(k.get('/firings', 'wanda', headers={'Accept': ac}))
    # rate
    no = k.ask()['no']; k.clock(seconds=61)
    for i in range(5): good(k.post(f'/firings/{no}/nudge', 'wanda'))
    for i in range(3): is_refusal(k.post('/firings/999/nudge', 'wanda'), 404, 'not-here')
    is_refusal(k.post(f'/firings/{no}/nudge?x=1', 'wanda'), 400, 'bad-query'); k.clock(seconds=30); good(k.post(f'/firings/{no}/nudge', 'wanda'))
    r = k.post(f'/firings/{no}/nudge', 'wanda'); is_refusal(r, 429, 'too-often'); assert 1 <= int(r.headers['retry-after']) <= 60
    k.clock(seconds=31); assert [k.post(f'/firings/{no}/nudge', 'wanda').status for _ in range(10)] == [200] * 9 + [429]
    assert [k.post(f'/firings/{no}/nudge', 'ada').status for _ in range(11)] == [403] * 10 + [429]
    for _ in range(12): is_refusal(k.post(f'/firings/{no}/nudge'), 401, 'who-are-you')
    # quota: refusals that fail use none; the badge of a caller counts with its key
    n = k.now(); k.clock_to((n.replace(hour=9, minute=0, second=0, microsecond=0) + timedelta(days=1)).isoformat(timespec='milliseconds').replace('+00:00', 'Z'))
    for _ in range(11): good(refuse_one(k))
    x = k.ask()['no']; misshapen(k.post(f'/firings/{x}/refuse', 'ada', {})); is_refusal(k.post('/firings/999/refuse', 'ada', {'reason': 'x'}), 404, 'not-here')
    good(k.post(f'/firings/{x}/refuse', None, {'reason': 'x'}, headers=badge(BADGES['ada']))); y = k.ask()['no']; is_refusal(k.post(f'/firings/{y}/refuse', 'ada', {'reason': 'x'}), 429, 'enough-today')
    assert k.stage(y) == 'asked'; is_refusal(k.post(f'/firings/{x}/refuse', 'ada', {'reason': 'x'}), 409, 'wrong-stage'); k.clock(hours=14); is_refusal(k.post(f'/firings/{y}/refuse', 'ada', {'reason': 'x'}), 429, 'enough-today'); k.clock(hours=2); good(refuse_one(k))
    # time
    s = socket.create_connection(('127.0.0.1', k.port)); s.sendall(b'GET /yard/pulse HTTP/1.1\r\nHost: x\r\nX-Slow'); idle = socket.create_connection(('127.0.0.1', k.port)); kept = socket.create_connection(('127.0.0.1', k.port))
    kept.sendall(b'GET /yard/pulse HTTP/1.1\r\nHost: x\r\n\r\n'); kept.recv(9999); t = time.time()
    s.settimeout(9); got = s.recv(9999).decode(); assert got.startswith('HTTP/1.1 408') and 'too-slow' in got and 4.5 < time.time() - t < 8, got
    slow = slow_body(k, 9); assert slow.startswith('HTTP/1.1 408'), slow
    for c in (idle, kept): c.sendall(b'GET /yard/pulse HTTP/1.1\r\nHost: x\r\n\r\n'); c.settimeout(3); assert c.recv(9999).startswith(b'HTTP/1.1 200')
    for raw, st in ((b'RUBBISH\r\n\r\n', b'400'), (b'GET /yard/pulse HTTP/1.1\r\nHost: x\r\nContent-Length: zz\r\n\r\n', b'400')):
        c = socket.create_connection(('127.0.0.1', k.port)); c.sendall(raw); c.settimeout(3); g = c.recv(9999); assert g.split()[1] == st and b'garbled' in g, g


@check
def order_of_refusals(k):
    no = k.ask()['no']
    is_refusal(k.post('/firings', 'ada', raw=b'{', headers={'Content-Type': 'text/plain'}), 403, 'not-yours')
    is_refusal(k.post('/firings?x=1', 'wanda', raw=b'{', headers={'Content-Type': 'text/plain'}), 415, 'wrong-media'); is_refusal(k.post('/firings?x=1', 'wanda', raw=b'{', headers=J), 400, 'garbled'); is_refusal(k.post('/firings?x=1', 'wanda', raw=b'{}', headers=J), 400, 'bad-query')
    is_refusal(k.patch('/firings/99', 'wanda', {'cone': 99}, match=None), 404, 'not-here')
    is_refusal(k.post('/firings', 'iris', k.draft(clay='porcelain', cone=99)), 422, 'misshapen')
    k.ask(mark='dup', clay='porcelain'); is_refusal(k.post('/firings', 'wanda', k.draft(mark='dup', clay='porcelain', cone=3)), 422, 'porcelain-low')
    k.accept(no); is_refusal(k.patch(f'/firings/{no}', 'wanda', {'cone': 'x'}, match='"n"'), 412, 'stale'); misshapen(k.patch(f'/firings/{no}', 'wanda', {'cone': 'x'})); is_refusal(k.patch(f'/firings/{no}', 'wanda', {'cone': 13}), 403, 'not-yours')
    is_refusal(k.post(f'/firings/{no}/wares', 'wanda', k.ware_draft('nope-01')), 422, 'no-such-ref')


@check
def clock_door(k):
    d = lambda b, raw=None: k.send('POST', '/', base='', port=k.clock_port, body=b, raw=raw)
    for b in ({}, [], 'x', {'advance': '5'}, {'advance': None}, {'now': 'soon'}, {'now': 5}, {'forward': 5}): assert d(b).status == 400, b
    assert d(None, b'{').status == 400 and d({'advance': -1}).status == 422 and d({'now': '2020-01-01T00:00:00.000Z'}).status == 422
    n = k.now(); assert re.fullmatch(Z, d({'advance': 0}).json['now']); m = k.clock(hours=3); assert timedelta(hours=3) <= m - n < timedelta(hours=3, seconds=5)
    assert d({'now': '2030-05-06T07:08:09.010Z'}).json['now'].startswith('2030-05-06T07:08:09.0')


if __name__ == '__main__':
    failed = 0
    for f in CHECKS:
        if len(sys.argv) > 1 and f.__name__ not in sys.argv[1:]: continue
        k = Kiln()
        try:
            f(k); print('ok   ' + f.__name__, flush=True)
        except Exception as e:
            failed += 1
            import traceback
            print('FAIL ' + f.__name__, ''.join(traceback.format_exc().splitlines(True)[-6:]), flush=True)
        finally:
            k.process.terminate()
            err = k.process.stderr.read()
            if err: print('     it said: ' + err[:600])
            k.close()
    sys.exit(1 if failed else 0)
