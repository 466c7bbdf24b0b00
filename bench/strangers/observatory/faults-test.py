"""Shows each fault by plain HTTP: what a trial sees must be the stated with the right service, and differ with the fault.

python3 faults-test.py [NAME…]
"""
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True

from harness import HERE, Service, WHO, token

TRIALS = {}
J = {'Content-Type': 'application/json'}


def trial(*names):
    def kept(test):
        for name in names:
            TRIALS[name] = test
        return test
    return kept


def each(**tests):
    TRIALS.update({name.replace('_', '-'): test for name, test in tests.items()})


def big(test):
    """With a telescope in place."""
    def run(s):
        s.telescope()
        return test(s)
    return run


def of(answer, *fields):
    return [answer.fault, *[answer.body.get(field, '-') for field in fields]]


def numbers(answer, field='no'):
    return [row[field] for row in answer.body['rows']]


# ---- purpose

each(
    token_directors=lambda s: s.post('/telescopes', 'gita', {'code': 'by-token', 'name': 'By token', 'mount': 'alt_az', 'aperture': 100, 'hours': 3}).fault,
    reports_beside_base=lambda s: [s.get('/reports', 'ada').fault, s.get('/reports', 'ada', base='').fault],
    reject_broken=big(lambda s: of(s.post(f'/runs/{s.submitted()}/reject', 'dana', {'reason': 'too vague'}), 'state')),
)

# ---- resources

each(
    title_of_two=big(lambda s: [s.run(title='ab').fault, s.run(title='abc').fault]),
    hours_to_25=big(lambda s: [s.run(hours=24).fault, s.run(hours=25, title='More').fault]),
    ra_360_refused=big(lambda s: s.run(target=None, position={'ra': 360, 'dec': 0}).fault),
    zero_seconds=big(lambda s: s.frame(s.observing(), seconds=0).fault),
    tags_twice=big(lambda s: s.run(tags=['a', 'a']).fault),
    remark_in_bytes=big(lambda s: s.run(remark='é' * 200).fault),
    filter_any_case=big(lambda s: s.frame(s.observing(), filter='R').fault),
    ends_when_it_starts=big(lambda s: s.run(starts_at='2027-01-01T00:00:00Z', ends_at='2027-01-01T00:00:00Z').fault),
    rule_on_create_alone=big(lambda s: s.patch(f'/runs/{s.run().body["no"]}', 'ada', {'ends_at': '2020-01-01T00:00:00Z'}).fault),
    local_times_taken=big(lambda s: s.run(starts_at='2027-01-01T00:00:00', ends_at='2027-01-01T01:00:00Z').fault),
    target_and_position=big(lambda s: s.run(position={'ra': 1, 'dec': 1}).fault),
    target_removable=big(lambda s: s.patch(f'/runs/{s.run().body["no"]}', 'ada', {'target': None}).fault),
    hours_removable=big(lambda s: s.patch(f'/runs/{s.run().body["no"]}', 'ada', {'hours': None}).fault),
    epoch_default_missing=big(lambda s: s.run(target=None, position={'ra': 1, 'dec': 1}).body['position']),
    priority_default_two=big(lambda s: s.run().body['priority']),
    good_default_missing=big(lambda s: s.frame(s.observing()).body['good']),
    remark_stays=big(lambda s: of(s.patch(f'/runs/{s.run(remark="x").body["no"]}', 'ada', {'remark': None}), 'remark')),
    position_takes_more=big(lambda s: s.run(target=None, position={'ra': 1, 'dec': 1, 'z': 1}).fault),
    seal_shown=big(lambda s: of(s.frame(s.observing(), seal='0123abcd'), 'seal')),
    door_code_again=big(lambda s: 'door_code' in s.get(f'/runs/{s.run().body["no"]}', 'ada').body),
    note_for_all=lambda s: (s.telescope(note='dust'), 'note' in s.get('/telescopes/big', 'ada').body)[1],
    proposals_never_fall=big(lambda s: (s.delete(f'/runs/{s.run().body["no"]}', 'ada'), s.get('/telescopes/big').body['proposals'])[1]),
    longest_of_none=big(lambda s: s.get('/telescopes/big').body.get('longest', '-')),
    state_sent_counts=big(lambda s: s.run(state='booked').body['state']),
)


@trial('telescope-changes')
@big
def _(s):
    s.telescope('small')
    return s.patch(f'/runs/{s.run().body["no"]}', 'ada', {'telescope': 'small'}).fault


@trial('changed-at-forgets-moves')
@big
def _(s):
    run = s.run().body
    time.sleep(0.01)
    return s.post(f'/runs/{run["no"]}/submit', 'ada').body['changed_at'] > run['changed_at']


@trial('idle-patch-stamps')
@big
def _(s):
    run = s.run().body
    time.sleep(0.01)
    return s.patch(f'/runs/{run["no"]}', 'ada', {'hours': run['hours']}).body['changed_at'] == run['changed_at']


@trial('granted-forgets-observing')
@big
def _(s):
    s.observing(hours=4)
    return s.get('/telescopes/big').body['granted']


@trial('exposure-of-all', 'frames-counts-good', 'report-of-good')
@big
def _(s):
    number = s.observing()
    s.frame(number, seconds=10)
    s.frame(number, seconds=5, good=False)
    run = s.post(f'/runs/{number}/close', 'ada').body
    return [run['frames'], run['exposure'], numbers(s.get('/reports', 'ada'), 'frames')]


@trial('reports-stay')
@big
def _(s):
    number = s.observing()
    s.frame(number)
    s.post(f'/runs/{number}/close', 'ada')
    return [s.delete(f'/runs/{number}', 'ada').fault, s.get('/reports', 'ada').body['count']]


# ---- states

each(
    reject_withdraws=big(lambda s: s.post(f'/runs/{s.submitted()}/reject', 'dana', {'reason': 'too vague'}).body['state']),
    submit_past=big(lambda s: s.post(f'/runs/{s.run(starts_at="2020-01-01T00:00:00Z").body["no"]}/submit', 'ada').fault),
    accept_drafted=big(lambda s: s.post(f'/runs/{s.run().body["no"]}/accept', 'dana', {'grade': 1}).fault),
    booked_stays=big(lambda s: s.post(f'/runs/{s.booked()}/withdraw', 'ada').fault),
    open_two_hours=big(lambda s: s.post(f'/runs/{s.booked(starts_at=s.at(5400))}/open', 'ada').fault),
    reopen_ready=big(lambda s: s.post('/telescopes/big/reopen', 'fred').fault),
    booked_editable=big(lambda s: s.patch(f'/runs/{s.booked()}', 'ada', {'hours': 2}).fault),
    submitted_replaceable=big(lambda s: s.put(f'/runs/{s.submitted()}', 'ada', s.run_body(hours=2)).fault),
    submitted_deletable=big(lambda s: s.delete(f'/runs/{s.submitted()}', 'ada').fault),
)


@trial('hours-oversold')
@big
def _(s):
    s.telescope('small', hours=10)
    return of(s.post(f'/runs/{s.submitted(telescope="small", hours=11)}/accept', 'dana', {'grade': 1}), 'state')


@trial('one-frame-blank')
@big
def _(s):
    number = s.observing()
    s.frame(number)
    return s.post(f'/runs/{number}/close', 'ada').body['state']


@trial('renew-in-vain')
@big
def _(s):
    number = s.submitted(starts_at=s.at(900000), ends_at=s.at(990000))
    s.clock(advance='PT60H')
    s.post(f'/runs/{number}/renew', 'ada')
    s.clock(advance='PT20H')
    return s.get(f'/runs/{number}', 'ada').body['state']


@trial('lapse-after-73h')
@big
def _(s):
    number = s.submitted(starts_at=s.at(900000), ends_at=s.at(990000))
    s.clock(advance='PT71H59M')
    before = s.get(f'/runs/{number}', 'ada').body['state']
    s.clock(advance='PT2M')
    return [before, s.get(f'/runs/{number}', 'ada').body['state']]


@trial('drafts-not-called-off')
@big
def _(s):
    number = s.run().body['no']
    s.post('/telescopes/big/retire', 'fred')
    return s.get(f'/runs/{number}', 'ada').body['state']


@trial('report-twice')
@big
def _(s):
    number = s.observing()
    s.frame(number)
    s.post(f'/runs/{number}/close', 'ada')
    return s.get('/reports', 'ada').body['count']


@trial('blank-reported')
@big
def _(s):
    s.post(f'/runs/{s.observing()}/close', 'ada')
    return s.get('/reports', 'ada').body['count']


# ---- endpoints

each(
    put_as_patch=big(lambda s: s.put('/telescopes/big', 'dana', {'hours': 7}, headers={'If-Match': '*'}).fault),
    slash_at_end=lambda s: s.get('/telescopes/').fault,
    stray_on_reports=lambda s: s.get('/reports?colour=red', 'ada').fault,
    reason_of_four=big(lambda s: s.post(f'/runs/{s.submitted()}/reject', 'dana', {'reason': 'vage'}).fault),
    any_media=big(lambda s: s.post('/runs', 'ada', s.run_body(), headers={'Content-Type': 'text/plain'}).fault),
    location_below_run=big(lambda s: s.frame(s.observing()).headers['Location'].rsplit('/', 1)[0]),
    summary_tells_name=big(lambda s: s.get(f'/runs/{s.run().body["no"]}/summary', 'ada').body['place']),
    bell_created_200=lambda s: s.bell()[1].status,
    deleted_bell_shown=lambda s: s.delete(f'/bells/{s.bell()[1].body["id"]}', 'ada').status,
)


@trial('title-any-case', 'title-prefix')
@big
def _(s):
    for title in ('About M31', 'M31 again', 'm31 small'):
        s.run(title=title)
    return numbers(s.get('/runs?title=M31', 'ada'))


@trial('hours-to-below', 'hours-as-text')
@big
def _(s):
    for hours in (2, 10, 9):
        s.run(title=f'Of {hours}', hours=hours)
    return [numbers(s.get('/runs?hours_to=9', 'ada'), 'hours'), numbers(s.get('/runs?sort=hours', 'ada'), 'hours')]


@trial('starts-as-text')
@big
def _(s):
    s.run(title='East', starts_at='2027-01-02T01:00:00%2B05:00'.replace('%2B', '+'), ends_at='2027-02-01T00:00:00Z')
    return numbers(s.get('/runs?starts_before=2027-01-01T22:00:00Z', 'ada'), 'title')


@trial('hours-left-by-hours')
@big
def _(s):
    s.booked(hours=4)
    return numbers(s.get('/telescopes?hours_left_from=28'), 'code')


@trial('good-false-ignored', 'frames-by-creation')
@big
def _(s):
    number = s.observing()
    for seconds, good in ((10, True), (30, False), (20, True)):
        s.frame(number, seconds=seconds, good=good)
    return [[frame['seconds'] for frame in s.get(f'/runs/{number}/frames{query}', 'ada').body['frames']] for query in ('', '?good=false')]


@trial('keys-of-everybody')
@big
def _(s):
    body = s.run_body()
    return [s.post('/runs', who, body, headers={'Repeat-Key': 'k1'}).body['astronomer'] for who in ('ada', 'bela')]


@trial('keys-for-an-hour')
@big
def _(s):
    body = s.run_body()
    first = s.post('/runs', 'ada', body, headers={'Repeat-Key': 'k1'})
    s.clock(advance='PT3H')
    return of(s.post('/runs', 'ada', body, headers={'Repeat-Key': 'k1'}), 'no') + [first.body['no']]


@trial('replay-shows-code')
@big
def _(s):
    body = s.run_body()
    return ['door_code' in s.post('/runs', 'ada', body, headers={'Repeat-Key': 'k1'}).body for _ in 'ab']


@trial('telescopes-by-creation')
def _(s):
    for code in ('bravo', 'alpha'):
        s.telescope(code)
    return numbers(s.get('/telescopes'), 'code')


@trial('reports-oldest-first')
@big
def _(s):
    for at in (1, 2):
        number = s.observing(title=f'Run {at}', starts_at=s.at(1000 + at))
        s.frame(number)
        s.post(f'/runs/{number}/close', 'ada')
        s.clock(advance='PT1M')
    return numbers(s.get('/reports', 'ada'), 'run')


@trial('tag-without-derived')
@big
def _(s):
    number = s.observing()
    first = s.get(f'/runs/{number}', 'ada').headers['ETag']
    s.frame(number)
    return s.get(f'/runs/{number}', 'ada').headers['ETag'] == first


@trial('replace-keeps-remark')
@big
def _(s):
    number = s.run(remark='old').body['no']
    return of(s.put(f'/runs/{number}', 'ada', s.run_body()), 'remark')


# ---- authentication

each(
    key_deletes_telescopes=big(lambda s: s.delete('/telescopes/big', 'dana').fault),
    first_credential_counts=lambda s: [s.get('/runs', 'ada', headers=WHO['cleo']).fault, s.get('/runs', 'ada', headers={'Authorization': 'Bearer x.y.z'}).fault],
    bad_key_anonymous=lambda s: s.get('/telescopes', headers={'X-Dome-Key': 'dome_nobody'}).fault,
    keys_any_case=lambda s: s.get('/runs', headers={'X-Dome-Key': 'DOME_adaADAadaadaadaadaad'}).fault,
    revoked_key_good=lambda s: s.get('/runs', headers={'X-Dome-Key': 'dome_goneGONEgoneGONEgone'}).fault,
    expired_tokens=lambda s: s.get('/runs', headers={'Authorization': 'Bearer ' + token(sub='cleo', post='astronomer', exp=1577836800)}).fault,
    audience_unchecked=lambda s: s.get('/runs', headers={'Authorization': 'Bearer ' + token(sub='cleo', post='astronomer', aud='other')}).fault,
    signature_unchecked=lambda s: s.get('/runs', headers={'Authorization': 'Bearer ' + token(sub='cleo', post='astronomer', secret=b'x')}).fault,
    reopen_without_scope=big(lambda s: (s.post('/telescopes/big/retire', 'dana'), s.post('/telescopes/big/reopen', 'emil').fault)[1]),
    state_filter_leaks=big(lambda s: (s.run(), s.get('/runs?state=drafted', 'bela').body['count'])[1]),
    bells_of_all=lambda s: (s.bell('ada'), len(s.get('/bells', 'bela').body['bells']))[1],
    withdraw_by_readers=big(lambda s: s.post(f'/runs/{s.run(shared=True).body["no"]}/withdraw', 'bela').fault),
)


@trial('shared-frames-read')
@big
def _(s):
    return s.get('/frames/' + s.frame(s.observing(shared=True)).body['id'], 'bela').fault


@trial('reports-of-all')
@big
def _(s):
    number = s.observing()
    s.frame(number)
    s.post(f'/runs/{number}/close', 'ada')
    return s.get('/reports/' + s.get('/reports', 'ada').body['rows'][0]['id'], 'bela').fault


# ---- events

def rung(test, who='ada', count=1, within=1.0, **more):
    """What a bell hears of it: kinds and things."""
    @big
    def run(s):
        told, _ = s.bell(who, **more)
        test(s)
        return [[one['what'], one['thing'].get('state', '-')] for one in s.heard(told, count, within)]
    return run


def whole_run(s):
    number = s.observing()
    s.frame(number)
    s.frame(number, good=False)
    s.post(f'/runs/{number}/close', 'ada')
    s.delete(f'/runs/{number}', 'ada')


def overbooked(s):
    s.telescope('small', hours=3)
    s.post(f'/runs/{s.submitted(telescope="small")}/accept', 'dana', {'grade': 1})


def sorted_by_kind(test):
    return lambda s: sorted(test(s))


def lapse(s):
    s.submitted(starts_at=s.at(900000), ends_at=s.at(990000))
    s.clock(advance='P4D')


TRIALS['lapse-silent'] = rung(lapse, count=2)
TRIALS['call-off-silent'] = rung(lambda s: (s.run(), s.post('/telescopes/big/retire', 'dana')), count=2)
TRIALS['moved-always'] = rung(lambda s: s.patch(f'/runs/{s.run().body["no"]}', 'ada', {'hours': 2}), within=0.3)
TRIALS['replace-moves-silently'] = rung(lambda s: s.put(f'/runs/{s.run().body["no"]}', 'ada', s.run_body(starts_at=s.at(2000))))
for one in ('bad-frames-told', 'cascade-silent', 'report-silent', 'booked-rings-twice'):
    TRIALS[one] = sorted_by_kind(rung(whole_run, count=7))
TRIALS['refused-accept-told'] = rung(overbooked, count=2)
TRIALS['over-tells-no-blank'] = rung(lambda s: s.post(f'/runs/{s.observing()}/close', 'ada'), count=3)
TRIALS['stars-unheard'] = rung(lambda s: s.submitted(), kinds=['run.*'])


@trial('events-show-grade')
@big
def _(s):
    told, _ = s.bell(kinds=['run.booked'])
    s.booked()
    return ['grade' in one['thing'] for one in s.heard(told, 1)]


@trial('envelope-seconds')
@big
def _(s):
    told, _ = s.bell()
    s.submitted()
    return [len(one['at']) for one in s.heard(told, 1)]


@trial('signature-in-hex', 'signs-body-alone', 'kind-header-missing')
@big
def _(s):
    import base64
    import hashlib
    import hmac
    told, made = s.bell()
    s.submitted()
    s.heard(told, 1)
    headers, raw = told[0]
    at = headers['Dome-Signature'].split(',')[0][2:]
    signs = f'{json.loads(raw)["no"]}|{at}|'.encode() + raw
    good = base64.b64encode(hmac.new(made.body['secret'].encode(), signs, hashlib.sha256).digest()).decode()
    return [headers['Dome-Signature'] == f't={at},s={good}', headers.get('Dome-Kind')]


@trial('no-retries')
@big
def _(s):
    told, _ = s.bell(answers=[500, 500])
    s.submitted()
    s.heard(told, 1)
    s.clock(advance='PT21S')
    s.heard(told, 2)
    s.clock(advance='PT5M')
    return [one['what'] for one in s.heard(told, 3)]


@trial('redirect-is-success')
@big
def _(s):
    told, _ = s.bell(answers=[302])
    s.submitted()
    s.heard(told, 1)
    s.clock(advance='PT21S')
    return [one['what'] for one in s.heard(told, 2)]


@trial('stream-of-all')
@big
def _(s):
    stream = s.stream('bela')
    s.submitted()
    return len(s.streamed(stream))


@trial('stream-unnamed')
@big
def _(s):
    stream = s.stream('ada')
    s.submitted()
    return [line for line in s.streamed(stream)[0].split('\n') if line.startswith('event')]


@trial('resume-skips-one')
@big
def _(s):
    stream = s.stream('ada')
    s.observing()
    number = s.booked(title='Again', starts_at=s.at(2000))
    s.post(f'/runs/{number}/withdraw', 'ada')
    seen = s.streamed(stream)
    name = seen[0].split('\n')[0][4:]
    return [len(seen), len(s.streamed(s.stream('ada', name)))]


@trial('old-stream-is-new')
@big
def _(s):
    stream = s.stream('ada', edition='e1')
    s.submitted()
    return 'label' in json.loads(s.streamed(stream)[0].split('data: ')[1])['thing']


@trial('bells-in-newest')
@big
def _(s):
    told, _ = s.bell(edition='e1')
    s.submitted()
    return ['label' in one['thing'] for one in s.heard(told, 1)]


# ---- errors

each(
    no_trace_on_404=lambda s: sorted(s.get('/nowhere').body['fault']),
    spots_top_only=big(lambda s: s.run(target=None, position={'ra': 400, 'dec': 1}).spots),
    not_observing_409=big(lambda s: s.frame(s.booked()).fault),
    missing_reference_404=lambda s: s.run().fault,
    stale_is_409=big(lambda s: s.patch('/telescopes/big', 'dana', {'hours': 5}, headers={'If-Match': '"x"'}).fault),
    match_not_required=big(lambda s: s.patch('/telescopes/big', 'dana', {'hours': 5}).fault),
    match_ignored=big(lambda s: s.patch(f'/runs/{s.run().body["no"]}', 'ada', {'hours': 5}, headers={'If-Match': '"x"'}).fault),
    foreign_forbidden=big(lambda s: s.get(f'/runs/{s.run().body["no"]}', 'bela').fault),
    foreign_parent_empty=big(lambda s: s.get(f'/runs/{s.run().body["no"]}/frames', 'bela').fault),
    names_by_case=big(lambda s: s.telescope('small', name='THE BIG').fault),
    frames_when_booked=big(lambda s: s.frame(s.booked()).fault),
    not_booked_unnamed=big(lambda s: s.post(f'/runs/{s.submitted()}/open', 'ada').fault),
    state_before_shape=big(lambda s: s.post(f'/runs/{s.run().body["no"]}/accept', 'dana', {'grade': 9}).fault),
    retired_takes_runs=big(lambda s: (s.post('/telescopes/big/retire', 'dana'), s.run().fault)[1]),
    overgranted_unchecked=big(lambda s: (s.booked(hours=8), s.patch('/telescopes/big', 'dana', {'hours': 7}, headers={'If-Match': '*'}).fault)[1]),
)


@trial('fault-number-text')
@big
def _(s):
    number = s.observing()
    last = [s.frame(number) for _ in range(44)][-1]
    return last.body.get('fault', {}).get('number')


@trial('title-taken-by-update')
@big
def _(s):
    s.run()
    return s.patch(f'/runs/{s.run(title="Another").body["no"]}', 'ada', {'title': 'A look at M31'}).fault


@trial('slot-by-text', 'slot-taken-unnamed')
@big
def _(s):
    s.submitted(starts_at='2027-01-01T00:00:00Z', ends_at='2027-01-02T00:00:00Z')
    number = s.run('bela', starts_at='2027-01-01T02:00:00+02:00', ends_at='2027-01-02T00:00:00Z').body['no']
    return s.post(f'/runs/{number}/submit', 'bela').fault


@trial('slot-of-submitted')
@big
def _(s):
    s.booked(starts_at='2027-01-01T00:00:00Z', ends_at='2027-01-02T00:00:00Z')
    number = s.run('bela', starts_at='2027-01-01T00:00:00Z', ends_at='2027-01-02T00:00:00Z').body['no']
    return s.post(f'/runs/{number}/submit', 'bela').fault


@trial('held-by-live-only')
@big
def _(s):
    s.post(f'/runs/{s.run().body["no"]}/withdraw', 'ada')
    return s.delete('/telescopes/big', 'fred').fault


@trial('print-without-body')
@big
def _(s):
    s.post('/runs', 'ada', s.run_body(), headers={'Repeat-Key': 'k1'})
    return s.post('/runs', 'ada', s.run_body(title='Another'), headers={'Repeat-Key': 'k1'}).fault


@trial('print-without-path')
@big
def _(s):
    one, two = s.observing(), s.observing(title='Another', starts_at=s.at(2500))
    return [s.post(f'/runs/{number}/frames', 'ada', {'seconds': 1, 'filter': 'r'}, headers={'Repeat-Key': 'k1'}).fault for number in (one, two)]


@trial('frames-deleted-late')
@big
def _(s):
    number = s.observing()
    name = s.frame(number).body['id']
    s.post(f'/runs/{number}/close', 'ada')
    return s.delete(f'/runs/{number}/frames/{name}', 'ada').fault


# ---- limits

def asked(s, count, *who):
    """How many of so many quick requests are let through, by caller."""
    def one(name):
        return sum(1 for _ in range(count) if s.get('/reports', name).status == 200)
    return [one(name) for name in who]


each(
    rate_330=lambda s: asked(s, 310, 'ada'),
    rate_by_user=lambda s: asked(s, 200, 'ada', 'bela'),
    no_retry_after=lambda s: [s.get('/reports', 'ada').headers['Retry-After'] is not None for _ in range(302)][-1],
    body_16383=lambda s: [s.post('/runs', 'ada', raw=b'{"x":"' + b'a' * (size - 8) + b'"}', headers=J).fault for size in (16384, 16385)],
    chunks_unlimited=lambda s: s.post('/runs', 'ada', raw=b'{"x":"' + b'a' * 20000 + b'"}', headers=J, chunked=True).fault,
    long_addresses=lambda s: [s.get('/notice?' + 'a' * (size - 13)).fault for size in (2048, 2049)],
    long_headers=lambda s: s.get('/notice', headers={'X-Long': 'a' * 9000}).fault,
)


@trial('bucket-for-all')
@big
def _(s):
    one, two = s.observing(), s.observing('bela', starts_at=s.at(2500))
    for _ in range(41):
        s.frame(one)
    return s.frame(two, 'bela').fault


@trial('bucket-without-burst')
@big
def _(s):
    number = s.observing()
    return [s.frame(number).status for _ in range(38)][-1]


def submit_many(s, count, start=0):
    """So many runs that are submitted and taken back, spread over time so that no rate is met."""
    seen = []
    for at in range(start, start + count):
        number = s.run(title=f'Run {at}', starts_at='2028-01-01T00:00:00Z', ends_at='2028-01-02T00:00:00Z').body['no']
        seen.append(s.post(f'/runs/{number}/submit', 'ada').fault)
        s.post(f'/runs/{number}/withdraw', 'ada')
        if at % 50 == 49:
            s.clock(advance='PT61S')
    return seen


def at_midnight(s):
    s.clock(now=s.clock()[:10] + 'T23:59:59.999Z')
    s.clock(advance='PT2S')


@trial('quota-41')
@big
def _(s):
    at_midnight(s)
    return submit_many(s, 41)[39:]


@trial('quota-by-hour')
@big
def _(s):
    at_midnight(s)
    submit_many(s, 40)
    s.clock(advance='PT2H')
    return submit_many(s, 1, 100)


@trial('quota-counts-refused')
@big
def _(s):
    at_midnight(s)
    number = s.run(starts_at='2020-01-01T00:00:00Z').body['no']
    for _ in range(40):
        s.post(f'/runs/{number}/submit', 'ada')
    return submit_many(s, 1)


def many_runs(s, count=12):
    for at in range(count):
        s.run(title=f'Run {at}')


@trial('page-of-any-size')
@big
def _(s):
    return [s.get(f'/runs?take={size}', 'ada').fault for size in (50, 51)]


@trial('twenty-by-default', 'count-of-page')
@big
def _(s):
    many_runs(s)
    page = s.get('/runs', 'ada').body
    return [len(page['rows']), page['count'], page['more']]


@trial('more-on-full-page', 'skip-counts-pages')
@big
def _(s):
    many_runs(s, 6)
    page = s.get('/runs?take=3&skip=3', 'ada')
    return [numbers(page), page.body['more'], numbers(s.get('/runs?take=3&skip=1', 'ada'))]


@trial('past-with-itself', 'until-from-start')
@big
def _(s):
    number = s.observing()
    for seconds in range(1, 9):
        s.frame(number, seconds=seconds)

    def page(query):
        return s.get(f'/runs/{number}/frames?{query}', 'ada').body
    first = page('take=3')['frames']
    second = page('take=3&past=' + first[-1]['id'])
    third = page('take=3&past=' + second['frames'][-1]['id'])
    back = page('take=2&until=' + third['frames'][-1]['id'])
    return [[frame['seconds'] for frame in one] for one in (first, second['frames'], third['frames'], back['frames'])] + [second['more'], third['more'], back['more']]


@trial('frames-page-refused')
@big
def _(s):
    return s.get(f'/runs/{s.observing()}/frames?take=21', 'ada').fault


# ---- versioning

def old_run(s, **more):
    body = s.run_body(label='An old look', **more)
    del body['title']
    return s.post('/runs', 'ada', body, edition='e1')


def old_telescope(s, aperture):
    return s.post('/telescopes', 'dana', {'code': 'old', 'name': 'Old', 'mount': 'alt_az', 'aperture': aperture, 'hours': 3}, edition='e1')


each(
    old_summary=big(lambda s: s.get(f'/runs/{s.run().body["no"]}/summary', 'ada', edition='e1').fault),
    old_priority_known=big(lambda s: [old_run(s, priority=2).fault, 'priority' in (old_run(s).body)]),
    old_priority_one=big(lambda s: s.get(f'/runs/{old_run(s).body["no"]}', 'ada').body['priority']),
    old_band_new_word=big(lambda s: old_run(s).body['band']),
    old_band_takes_both=big(lambda s: old_run(s, band='visual').fault),
    old_band_filter=big(lambda s: (old_run(s), s.get('/runs?band=optical', 'ada', edition='e1').body.get('count'))[1]),
    old_aperture_floors=lambda s: (old_telescope(s, 1.2347), s.get('/telescopes/old').body['aperture'], old_telescope(s, 0.2999999).fault,
                                   s.patch('/telescopes/old', 'dana', {'aperture': 0.2999999}, headers={'If-Match': '*'}, edition='e1').fault,
                                   s.get('/telescopes/old').body['aperture'])[1:],
    old_aperture_unbounded=lambda s: old_telescope(s, 11.5).fault,
    old_site_missing=big(lambda s: s.get('/telescopes/big', edition='e1').body.get('site')),
    old_spots_newest=big(lambda s: s.post('/runs', 'ada', {**s.run_body(title=None), 'label': 'x'}, edition='e1').spots),
    edition_unknown_passes=lambda s: s.get('/runs', 'ada', edition='e3').fault,
    oldest_by_default=lambda s: s.get('/telescopes').headers['Deprecation'],
    refusals_not_deprecated=lambda s: s.get('/runs', edition='e1').headers['Deprecation'],
    no_sunset_header=lambda s: s.get('/runs', 'ada', edition='e1').headers['Sunset'],
    deprecation_as_date=lambda s: s.get('/runs', 'ada', edition='e1').headers['Deprecation'],
)


@trial('sunset-ignored')
def _(s):
    before = s.get('/runs', 'ada', edition='e1').fault
    s.clock(now='2027-06-01T00:00:01Z')
    return [before, s.get('/runs', 'ada', edition='e1').fault]


# ---- at the same time, and late

def at_once(*tests):
    with ThreadPoolExecutor(len(tests)) as pool:
        return sorted(pool.map(lambda test: test().status, tests))


@trial('numbers-again')
@big
def _(s):
    s.run(title='First')
    s.delete(f'/runs/{s.run(title="Second").body["no"]}', 'ada')
    return s.run(title='Third').body['no']


@trial('titles-raced')
@big
def _(s):
    body = s.run_body()
    return at_once(*[lambda: s.post('/runs', 'ada', body)] * 2)


@trial('hours-raced')
def _(s):
    s.telescope(hours=5)
    one, two = s.submitted(), s.submitted('bela', starts_at=s.at(2500))
    return at_once(*[lambda number=number: s.post(f'/runs/{number}/accept', 'dana', {'grade': 1}) for number in (one, two)])


@trial('match-raced')
@big
def _(s):
    tag = {'If-Match': s.get('/telescopes/big').headers['ETag']}
    return at_once(*[lambda hours=hours: s.patch('/telescopes/big', 'dana', {'hours': hours}, headers=tag) for hours in (7, 8)])


@trial('keys-raced')
@big
def _(s):
    number = s.observing()
    at_once(*[lambda: s.post(f'/runs/{number}/frames', 'ada', {'seconds': 1, 'filter': 'r'}, headers={'Repeat-Key': 'k'})] * 2)
    return s.get(f'/runs/{number}', 'ada').body['frames']


each(
    key_as_bearer=lambda s: s.get('/runs', headers={'Authorization': 'Bearer ' + WHO['ada']['X-Dome-Key']}).fault,
    missing_reference_unfit=lambda s: s.run().fault,
    accept_takes_more=big(lambda s: s.post(f'/runs/{s.submitted()}/accept', 'dana', {'grade': 1, 'smile': True}).fault),
    made_told=rung(lambda s: s.run(), within=0.3),
)


@trial('update-puts-off')
@big
def _(s):
    number = s.submitted(starts_at=s.at(900000), ends_at=s.at(990000))
    s.clock(advance='PT60H')
    s.patch(f'/runs/{number}', 'ada', {'hours': 2})
    s.clock(advance='PT13H')
    return s.get(f'/runs/{number}', 'ada').body['state']


@trial('stream-keeps-all')
@big
def _(s):
    s.submitted()
    s.clock(advance='PT7H')
    return len(s.streamed(s.stream('ada', 'evt_unknown')))


@trial('never-disabled')
@big
def _(s):
    told, made = s.bell(answers=[500] * 9)
    number = s.submitted(starts_at=s.at(900000), ends_at=s.at(990000))
    s.heard(told, 1)
    for wait in ('PT21S', 'PT301S', 'PT3601S'):
        s.clock(advance=wait)
        s.heard(told, 9, 0.3)
    s.clock(advance='P2D')
    s.post(f'/runs/{number}/withdraw', 'ada')
    return [len(s.heard(told, 5)), s.get('/bells/' + made.body['id'], 'ada').body['live']]


@trial('later-overtakes')
@big
def _(s):
    told, _ = s.bell(answers=[500])
    number = s.submitted()
    s.heard(told, 1)
    s.post(f'/runs/{number}/withdraw', 'ada')
    return [one['what'] for one in s.heard(told, 2, 0.4)]


@trial('new-id-each-try')
@big
def _(s):
    told, _ = s.bell(answers=[500])
    s.submitted()
    s.heard(told, 1)
    s.clock(advance='PT21S')
    return len({one['no'] for one in s.heard(told, 2)})


@trial('old-replace-resets')
@big
def _(s):
    number = s.run(priority=5).body['no']
    s.put(f'/runs/{number}', 'ada', {**s.run_body(title=None), 'label': 'Replaced'}, edition='e1')
    return s.get(f'/runs/{number}', 'ada').body['priority']


@trial('body-waits')
def _(s):
    import socket
    with socket.create_connection(('127.0.0.1', s.port)) as sock:
        sock.settimeout(7)
        sock.sendall(b'POST /dome/runs HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{')
        try:
            return sock.recv(100)[9:12].decode()
        except TimeoutError:
            return 'nothing'


def seen_by(name, fault):
    service = Service(fault)
    try:
        return TRIALS[name](service)
    except Exception as error:
        return f'{type(error).__name__}: {error}'
    finally:
        service.stop()


def main():
    with open(os.path.join(HERE, 'stranger.json'), encoding='utf-8') as file:
        told = {fault['id']: fault for fault in json.load(file)['faults']}
    bad = [f'{name}: no trial' for name in told if name not in TRIALS] + [f'{name}: not told of' for name in TRIALS if name not in told]
    chosen = [name for name in told if name in TRIALS and (len(sys.argv) < 2 or name in sys.argv[1:])]

    def both(name):
        return name, seen_by(name, None), seen_by(name, name)
    with ThreadPoolExecutor(3) as pool:
        for name, right, wrong in pool.map(both, chosen):
            same = json.dumps(right, default=str) == json.dumps(wrong, default=str)
            broken = isinstance(right, str) and 'Error' in right
            print(f'{"SAME" if same else "ERROR" if broken else "differs"}  {name}: {right} / {wrong}', flush=True)
            if same or broken:
                bad.append(name)
    print(f'{len(chosen)} faults, {len(bad)} not shown{": " if bad else ""}{", ".join(bad)}')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
