"""Holds the right service to its document, where the trials of faults do not look: python3 document-test.py"""
import json
import socket
import sys
import time

sys.dont_write_bytecode = True

from harness import WHO, Service, token

SEEN = []


def is_so(what, found, wanted):
    SEEN.append(found == wanted)
    if found != wanted:
        print(f'{what}: {found!r}, not {wanted!r}')


def refusals(s):
    """The order of refusals, each against the next that would apply."""
    long = 'a' * 3000
    is_so('size before route', s.get('/nowhere?' + long).fault, (413, 'too_large'))
    is_so('route before version', s.get('/nowhere?edition=e9').fault, (404, 'nowhere'))
    is_so('method before version', s.put('/runs?edition=e9').fault, (405, 'no_such_way'))
    is_so('allow', s.put('/runs').headers['Allow'], 'GET, POST')
    is_so('version before caller', s.get('/runs?edition=e9').fault, (400, 'no_edition'))
    is_so('caller before permission', s.post('/telescopes', raw=b'{').fault, (401, 'who_are_you'))
    is_so('permission before media', s.post('/telescopes', 'ada', raw=b'{').fault, (403, 'not_yours'))
    is_so('accept', s.get('/runs', 'ada', headers={'Accept': 'text/html'}).fault, (406, 'not_offered'))
    is_so('media before malformed', s.post('/telescopes', 'dana', raw=b'{', headers={'Content-Type': 'text/plain'}).fault, (415, 'wrong_type'))
    is_so('malformed', s.post('/telescopes', 'dana', raw=b'{', headers={'Content-Type': 'application/json'}).fault, (400, 'garbled'))
    is_so('no body', s.post('/telescopes', 'dana').fault, (400, 'garbled'))
    is_so('malformed before parameters', s.post('/telescopes?x=1', 'dana', raw=b'{', headers={'Content-Type': 'application/json'}).spots, [])
    is_so('parameters before shape', s.post('/telescopes?x=1', 'dana', {}).spots, ['x'])
    is_so('page', s.get('/runs?take=0', 'ada').fault, (400, 'bad_page'))
    is_so('page', s.get('/runs?skip=-1', 'ada').fault, (400, 'bad_page'))
    is_so('missing before shape', s.patch('/runs/77', 'ada', {'hours': 99}).fault, (404, 'nowhere'))
    is_so('shape', s.telescope(hours=0, aperture='x', wheels=4).spots, ['/aperture', '/hours', '/wheels'])
    s.telescope()
    is_so('precondition before shape', s.patch('/telescopes/big', 'dana', {'hours': 0}).fault, (428, 'say_which'))
    is_so('shape before reference', s.run(telescope='none', hours=0).fault, (422, 'unfit'))
    is_so('reference before unique', s.run(telescope='none').fault, (422, 'nowhere'))
    number = s.observing(shared=True)
    is_so('shape before the rule over next', s.post(f'/runs/{number}/frames', 'bela', {}).fault, (422, 'unfit'))
    is_so('the rule over next', s.frame(number, 'bela').fault, (403, 'not_yours'))
    is_so('the rule over resource before shape', s.patch(f'/runs/{number}', 'bela', {'hours': 0}).fault, (403, 'not_yours'))
    is_so('shape before state', s.patch(f'/runs/{number}', 'ada', {'hours': 0}).fault, (422, 'unfit'))
    is_so('state before unique', s.patch(f'/runs/{number}', 'ada', {'hours': 2}).fault, (409, 'wrong_state'))
    is_so('none to frames of others', s.get(f'/runs/{number}/frames', 'bela').body, {'frames': [], 'more': False})
    is_so('by a director', [s.get(f'/runs/{number}', 'emil').body['grade'], s.frame(number, 'dana').fault], [4, (403, 'not_yours')])
    is_so('head', s.ask('HEAD', '/runs').status, 405)


def shapes(s):
    s.telescope()
    run = s.run(tags=['x'], remark=None).body
    path = f'/runs/{run["no"]}'
    is_so('merged', s.patch(path, 'ada', {'target': None, 'position': {'ra': 5, 'dec': 6, 'epoch': 'B1950'}}).body['position'], {'ra': 5, 'dec': 6, 'epoch': 'B1950'})
    is_so('merged again', s.patch(path, 'ada', {'position': {'dec': 7}}).body['position'], {'ra': 5, 'dec': 7, 'epoch': 'B1950'})
    is_so('a null inside', s.patch(path, 'ada', {'position': {'ra': None}}).spots, ['/position/ra'])
    is_so('sent back', s.put(path, 'ada', s.get(path, 'ada').body).body, s.get(path, 'ada').body)
    put = s.put(path, 'ada', s.run_body(hours=5)).body
    is_so('replaced', [put.get('position', '-'), put['tags'], put['hours'], put['made_at']], ['-', [], 5, run['made_at']])
    is_so('whole numbers', s.patch(path, 'ada', {'hours': 6.0}).body['hours'], 6)
    is_so('true is no number', s.patch(path, 'ada', {'hours': True}).spots, ['/hours'])
    is_so('a list', s.post('/runs', 'ada', [1]).fault, (422, 'unfit'))
    is_so('null remark', s.put(path, 'ada', {**s.run_body(), 'remark': None}).body['remark'], None)
    is_so('moments', [s.run(title='x' * 3, starts_at=at, ends_at='2030-01-01T00:00:00Z').status for at in (
        '2027-02-29T00:00:00Z', '2027-02-28T24:00:00Z', '2027-02-28 00:00:00Z', '2027-02-28', '2027-02-28T00:00:00.5+14:00')], [422, 422, 422, 422, 201])
    is_so('kinds', [s.post('/bells', 'ada', {'url': 'https://x.example/', 'kinds': [kind]}).status for kind in ('run.*', '*', 'run.over', 'nope.*', 'run')],
          [201, 201, 201, 422, 422])
    is_so('url', s.post('/bells', 'ada', {'url': 'no uri'}).spots, ['/url'])
    bell = s.post('/bells', 'ada', {'url': 'https://x.example/'}).body
    is_so('bell', [bell['kinds'], bell['live'], bell['id'][:5], len(bell['id']), 'secret' in s.get('/bells/' + bell['id'], 'ada').body], [['*'], True, 'bell-', 17, False])
    tag = s.get('/telescopes/big').headers['ETag']
    is_so('not modified', s.get('/telescopes/big', headers={'If-None-Match': tag}).status, 304)
    is_so('a tag of the other edition', s.get('/telescopes/big', edition='e1').headers['ETag'] == tag, False)
    is_so('removed', s.patch('/telescopes/big', 'dana', {'hours': 9, 'code': 'other'}, headers={'If-Match': tag}).spots, ['/code'])
    is_so('tag of anyone', s.patch('/telescopes/big', 'dana', {'hours': 9}, headers={'If-Match': tag}).status, 200)


def editions(s):
    s.telescope()
    body = {**s.run_body(title=None), 'label': 'Old look'}
    run = s.post('/runs', 'ada', body, edition='e1').body
    is_so('old', [run['label'], 'title' in run, 'priority' in run, run['band']], ['Old look', False, False, 'optical'])
    path = f'/runs/{run["no"]}'
    s.patch(path, 'ada', {'priority': 5})
    s.put(path, 'ada', {**body, 'label': 'Older look'}, edition='e1')
    new = s.get(path, 'ada').body
    is_so('kept what it cannot see', [new['priority'], new['title'], new['band']], [5, 'Older look', 'visual'])
    is_so('newer name', s.patch(path, 'ada', {'title': 'No'}, edition='e1').spots, ['/title'])
    is_so('search', [s.get(f'/runs?{name}=Older', 'ada', edition=edition).status for name in ('label', 'title') for edition in ('e1', 'e2')], [200, 400, 400, 200])
    is_so('filter', [s.get(f'/runs?band={band}', 'ada', edition=edition).status for band in ('optical', 'visual') for edition in ('e1', 'e2')], [200, 400, 400, 200])
    is_so('aperture', s.get('/telescopes/big', edition='e1').body['aperture'], 1.0)
    is_so('site', s.post('/telescopes', 'dana', {'code': 'low', 'name': 'Low', 'mount': 'alt_az', 'aperture': 0.2, 'hours': 5, 'site': 'x'}, edition='e1').body['site'], 'hill')
    is_so('link', s.get('/runs?take=3&edition=e1', 'ada').headers.get_all('Link'),
          ['<https://lanternhill.example/editions>; rel="deprecation"', '</dome/runs?take=3&edition=e2>; rel="successor-version"'])
    is_so('current', [s.get('/runs', 'ada').headers[name] for name in ('Deprecation', 'Sunset', 'Link')], [None, None, None])


def bells(s):
    s.telescope()
    told, made = s.bell(answers=[500] * 4 + [204])
    number = s.submitted()
    s.post(f'/runs/{number}/withdraw', 'ada')
    is_so('in order', [one['what'] for one in s.heard(told, 1)], ['run.submitted'])
    for wait in ('PT21S', 'PT5M1S', 'PT1H1S'):
        s.clock(advance=wait)
        s.heard(told, 9, 0.3)
    is_so('given up after four', [one['what'] for one in s.heard(told, 5)], ['run.submitted'] * 4 + ['run.over'])
    is_so('one id', len({json.loads(raw)['no'] for _, raw in told}), 2)
    gone, made = s.bell('bela', answers=[410])
    s.submitted('bela', starts_at=s.at(3000))
    s.heard(gone, 1)
    is_so('gone', s.get('/bells/' + made.body['id'], 'bela').body['live'], False)
    foreign, _ = s.bell('cleo')
    heads, _ = s.bell('emil')
    is_so('others', [s.heard(foreign, 1, 0.2), s.heard(heads, 1, 0.2)], [[], []])
    s.submitted('cleo', starts_at=s.at(4000))
    is_so('who hears', [len(s.heard(one, 1, 0.5)) for one in (foreign, heads)], [1, 1])
    quiet, made = s.bell('cleo', live=False)
    s.submitted('cleo', starts_at=s.at(5000), title='Once more')
    is_so('quiet', s.heard(quiet, 1, 0.3), [])
    stream = s.stream('ada', 'evt_unknown')
    is_so('from the oldest', len(s.streamed(stream)), 2)
    s.clock(advance='PT7H')
    is_so('kept for six hours', len(s.streamed(s.stream('ada', 'evt_unknown'))), 0)


def waits(s):
    def late(text, wait=6.5):
        with socket.create_connection(('127.0.0.1', s.port)) as sock:
            sock.settimeout(wait)
            sock.sendall(text)
            began = time.monotonic()
            data = b''
            try:
                while piece := sock.recv(65536):
                    data += piece
            except TimeoutError:
                return 'open'
            return data[9:12], round(time.monotonic() - began)
    is_so('headers', late(b'GET /dome/runs HTTP/1.1\r\nHost: x\r\n'), (b'408', 5))
    is_so('body', late(b'POST /dome/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{'), (b'408', 5))
    is_so('idle', late(b'GET /dome/notice HTTP/1.1\r\nHost: x\r\n\r\n', 22), (b'200', 20))


def callers(s):
    both = {**WHO['dana'], 'Authorization': 'Bearer ' + token(sub='dana', post='director')}
    s.telescope()
    is_so('scopes of both', s.post('/telescopes/big/retire', headers=both).status, 200)
    is_so('without', s.post('/telescopes/big/reopen', 'gita').fault, (403, 'not_yours'))
    for name, claims in {'issuer': {'iss': 'https://x.example'}, 'user': {'post': 'guest'}, 'not yet': {'nbf': 4102444000}}.items():
        given = token(**{'sub': 'cleo', 'post': 'astronomer', **claims})
        is_so(name, s.get('/runs', headers={'Authorization': 'Bearer ' + given}).fault, (401, 'who_are_you'))
    is_so('list of audiences', s.get('/runs', headers={'Authorization': 'bearer ' + token(sub='cleo', post='astronomer', aud=['x', 'lantern-hill'])}).status, 200)
    is_so('basic', s.get('/runs', headers={'Authorization': 'Basic eDp5'}).fault, (401, 'who_are_you'))
    is_so('public', s.get('/notice', headers={'X-Dome-Key': 'bad'}).status, 200)
    is_so('challenge', s.get('/runs').headers.get_all('WWW-Authenticate')[0][:6], 'Bearer')


def main():
    for test in (refusals, shapes, editions, bells, callers, waits):
        service = Service()
        try:
            test(service)
        finally:
            service.stop()
    print(f'{len(SEEN)} looked at, {SEEN.count(False)} not as stated')
    return 1 if False in SEEN else 0


if __name__ == '__main__':
    sys.exit(main())
