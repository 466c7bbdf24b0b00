import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { type JsonMap, type VerifyOptions, type VerifyReport, verify } from '../src/index.ts';
import { type Breach, hasFailed } from '../src/verify/report.ts';
import { isLong, oneOfEach } from './long.ts';
import { harbourDocument } from './verify/harbour/openapi.ts';
import { openHarbour, pass } from './verify/harbour/service.ts';

async function hold(fault: string, seed = 1, until?: VerifyOptions['until']): Promise<VerifyReport> {
  const harbour = await openHarbour(fault);
  try {
    const callers = [{ user: 'anyone', credential: pass }];
    return await verify(harbourDocument, { url: harbour.url, seed, callers, ...(until && { until }) });
  } finally {
    await harbour.close();
  }
}

type Told = Pick<Breach, 'kind' | 'subject' | 'reason' | 'seen'>;
const lineOf = ({ kind, subject, reason, seen }: Told) => `${kind} of ${subject}, ${reason}: ${seen}`;
const told = ({ breaches, crashes, unsteady }: VerifyReport) => [...breaches, ...crashes, ...unsteady].map(lineOf);

// It takes unknown query parameters, answers `Accept: image/png` with JSON, takes formats for notes, and says 404 before 401.
for (const seed of isLong ? [1, 2, 3] : [1]) {
  test(`a service that keeps its OpenAPI, and has ways of its own where that says nothing, breaks nothing (seed ${seed})`, async () => {
    const report = await hold('none', seed);
    assert.deepEqual(told(report), []);
    assert.deepEqual(report.notes, []);
    assert.ok(!hasFailed(report));
    const untested = report.facts.filter(
      ({ kind, verdict, standing }) => kind.endsWith('payload shapes') && verdict === 'not testable' && standing === 'stated',
    );
    assert.deepEqual(untested, []);
  });
}

/** Each fault, and what of the report tells it: the subject and the reason. */
const faults: readonly (readonly [fault: string, told: RegExp])[] = [
  ['a member is missing', /response payload shapes of GET \/berths\/\{berthId\}, shape/],
  ['a number as text', /response payload shapes of POST \/berths, shape/],
  ['another member', /response payload shapes of GET \/berths, shape/],
  ['a state that is not listed', /PATCH \/berths\/\{berthId\}, shape/],
  ['a time of its own form', /POST \/berths, shape/],
  ['an action answers another unit', /POST \/berths\/\{berthId\}\/measure, shape/],
  ['tides of half a centimetre', /GET \/tides, shape/],
  ['a text for a number', /POST \/convert, shape/],
  ['short tickets', /POST \/messages, shape/],
  ['load beyond its maximum', /GET \/status, shape/],
  ['a refusal of another shape', /GET \/bookings\/\{bookingId\}, shape of 404/],
  ['another status for what is invalid', /POST \/berths, 418 is not listed/],
  ['200 for 201', /POST \/berths, status/],
  ['text for JSON', /GET \/berths\/\{berthId\}, media type/],
  ['a header is missing', /GET \/status, header X-Build, its shape: none/],
  ['a header of another pattern', /GET \/status, header X-Build, its shape: latest/],
  ['an optional header of another type', /GET \/status, header X-Node, its shape: three/],
  ['unknown members are taken', /request payload shapes of POST \/berths, invalid refused/],
  ['no pattern', /NewBerth.code, invalid refused/],
  ['no maximum', /NewBerth.length, invalid refused/],
  ['zero depth', /NewBerth.depth, invalid refused/],
  ['any kind', /NewBerth.kind, invalid refused/],
  ['tags twice', /NewBerth.tags, invalid refused/],
  ['any contact', /NewBerth.contact, invalid refused/],
  ['no longest name', /NewBerth.name, invalid refused/],
  ['no required kind', /NewBerth.kind, invalid refused/],
  ['long names are refused', /(?:NewBerth.name|PATCH .berths..berthId.), edge taken/],
  ['any flag', /Signal.flags, invalid refused/],
  ['more beside a message', /POST \/messages, invalid refused/],
  ['any limit', /parameters of GET \/berths, limit refused/],
  ['any code in the query', /parameters of GET \/berths, code refused/],
  ['a query that is needed is not asked for', /parameters of GET \/tides, port missed/],
  ['a header that is needed is not asked for', /measure, X-Unit missed/],
  ['any unit', /measure, X-Unit refused/],
  ['lists are open to all', /schemes of service, nobody at GET \/berths/],
  ['changes are open to all', /schemes of service, nobody at PATCH \/berths\/\{berthId\}/],
  ['any pass', /schemes of service, a stranger at POST \/berths/],
  ['what is made is not kept', /POST \/berths, is there/],
  ['nothing is deleted', /DELETE \/berths\/\{berthId\}, deleted/],
  ['null in a name', /crash of POST \/berths/],
  ['odd notes crash', /crash of PATCH \/berths\/\{berthId\}/],
  ['unknown berth crashes', /crash of GET \/berths\/\{berthId\}/],
  ['deleting what is not there crashes', /crash of DELETE \/berths\/\{berthId\}/],
  ['measuring crashes', /crash of POST \/berths\/\{berthId\}\/measure/],
  ['tides crash', /crash of GET \/tides/],
];

/** What of a report tells a fault, without where that is: `refused`, of a parameter or a body. */
function sortOf(source: string): string {
  return source.startsWith('/crash') || source.startsWith('crash')
    ? 'crash'
    : (source.split(', ').at(-1)?.split(/[ :]/).at(-1) ?? '');
}

for (const [fault, meant] of oneOfEach(faults, ([, { source }]) => sortOf(source))) {
  test(`from OpenAPI alone: ${fault}`, async () => {
    const report = await hold(fault, 1, (breach) => meant.test(lineOf(breach)));
    assert.ok(
      told(report).some((line) => meant.test(line)),
      told(report).join('\n'),
    );
    assert.ok(hasFailed(report));
  });
}

test('a failure is told apart from broken promises, with the request that brought it about', async () => {
  const { breaches, crashes } = await hold('tides crash');
  assert.deepEqual(breaches, []);
  const [crash] = crashes;
  assert.match(crash?.script.join('\n') ?? '', /curl .*\/tides\?.*days=/);
  assert.equal(crash?.place.file !== undefined && crash.at, '/endpoints/GET ~1tides');
});

/** One operation, answered always alike. */
async function holdAnswer(
  responses: JsonMap,
  answer: { status: number; body: string; headers?: Record<string, string> },
  more = {},
) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const document = { openapi: '3.1.0', info: { title: 'One', version: '1' }, paths: { '/one': { get: { responses } } } };
  // The cast holds: a server that listens on a port has an address with one.
  const { port } = server.address() as AddressInfo;
  try {
    return await verify(document as unknown as JsonMap, { url: `http://127.0.0.1:${port}`, seed: 1, ...more });
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

const object = (schema: JsonMap) => ({ description: 'd', content: { 'application/json': { schema } } });

test('a status that is not listed breaks nothing where no refusal is listed, or it is one that HTTP gives', async () => {
  const ok = object({ type: 'object' });
  assert.deepEqual(told(await holdAnswer({ 200: ok }, { status: 409, body: '{}' })), []);
  assert.deepEqual(told(await holdAnswer({ 200: ok, 404: ok }, { status: 429, body: '{}' })), []);
  assert.equal(told(await holdAnswer({ 200: ok, 404: ok }, { status: 409, body: '{}' })).length, 1);
  assert.equal(told(await holdAnswer({ 200: ok }, { status: 409, body: '{}' }, { conventions: true })).length > 0, true);
});

test('an answer is held to what is listed of its own status before its range, and to that before default', async () => {
  const named = (name: string) => object({ type: 'object', required: [name] });
  const listed = { 200: named('a'), '4XX': named('b'), 404: named('c'), default: named('d') };
  assert.deepEqual(told(await holdAnswer(listed, { status: 404, body: '{"c":1}' })), []);
  assert.equal(told(await holdAnswer(listed, { status: 404, body: '{"b":1}' })).length, 1);
  assert.deepEqual(told(await holdAnswer(listed, { status: 409, body: '{"b":1}' })), []);
  assert.equal(told(await holdAnswer(listed, { status: 409, body: '{"d":1}' })).length, 1);
  assert.equal(told(await holdAnswer(listed, { status: 200, body: '{"d":1}' })).length > 0, true);
});

test('a failure that the operation lists is told all the same; one of a service behind it, where that is listed, is not', async () => {
  const ok = object({ type: 'object' });
  const crashed = await holdAnswer({ 200: ok, 500: ok }, { status: 500, body: '{}' });
  assert.deepEqual(
    crashed.crashes.map(({ subject, reason }) => [subject, reason]),
    [['GET /one', '500']],
  );
  assert.deepEqual((await holdAnswer({ 200: ok, 502: ok }, { status: 502, body: '{}' })).crashes, []);
});

test('a header that OpenAPI does not require may be missing, and has its schema where it is there', async () => {
  const listed = { 200: { ...object({ type: 'object' }), headers: { 'X-N': { schema: { type: 'integer' } } } } };
  assert.deepEqual(told(await holdAnswer(listed, { status: 200, body: '{}' })), []);
  assert.deepEqual(told(await holdAnswer(listed, { status: 200, body: '{}', headers: { 'x-n': '7' } })), []);
  assert.equal(told(await holdAnswer(listed, { status: 200, body: '{}', headers: { 'x-n': 'seven' } })).length, 1);
});

test('what an example shows promises no shape, and what is listed beside it is held', async () => {
  const example = { data: [{ id: 'a1', name: 'Ball' }], code: 0 };
  const listed = { 200: { description: 'd', content: { 'application/json': { example } } } };
  assert.deepEqual(told(await holdAnswer(listed, { status: 200, body: '{"result":"none"}' })), []);
  assert.equal(told(await holdAnswer(listed, { status: 202, body: '{}' })).length > 0, true);
  const asIs = await holdAnswer(listed, { status: 200, body: '{"result":"none"}' }, { conventions: true });
  assert.match(told(asIs).join(), /response payload shapes of GET \/one, shape/);
});
