import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { caller, type ToldService, tellService } from './serving/callers.ts';
import { renamedProjects } from './values/renamed.ts';

type Fields = Readonly<Record<string, unknown>>;

const [ann, bob, eve] = [caller('member', 'ann'), caller('member', 'bob'), caller('guest', 'eve')];
const below = '/v1/teams/one/projects';

/** A team with a project that was called \`old\`, and is called \`new\`. */
async function open(body: Fields = {}) {
  const service = await tellService(renamedProjects);
  const made = async (target: string, sent: Fields) => {
    const { status, text, json } = await service.as(ann, 'POST', target, sent);
    assert.equal(status, 201, text);
    return json as Fields;
  };
  await made('/v1/teams', { name: 'one' });
  const project = await made(below, { name: 'old', ...body });
  assert.equal((await service.as(ann, 'PATCH', `${below}/old`, { name: 'new' })).status, 200);
  return { service, project, made };
}

async function told(service: ToldService, who: typeof ann | undefined, method: string, target: string, body?: unknown) {
  const { status, headers, text } = await service.as(who, method, target, body);
  return [status, headers.location, text === '' ? '' : ((JSON.parse(text) as Fields).code ?? 'row')];
}

test('who asks for a row by a name that it had is led to where it is, with what was asked besides', async () => {
  const { service, project } = await open();
  const here = `${below}/new`;
  assert.deepEqual(await told(service, ann, 'GET', `${below}/old`), [308, here, 'moved']);
  assert.deepEqual(await told(service, eve, 'GET', `${below}/old`), [308, here, 'moved']);
  assert.deepEqual(await told(service, ann, 'HEAD', `${below}/old`), [308, here, '']);
  assert.deepEqual(await told(service, ann, 'PATCH', `${below}/old`, { secret: false }), [308, here, 'moved']);
  assert.deepEqual(await told(service, ann, 'POST', `${below}/old/close`), [308, `${here}/close`, 'moved']);
  // A credential in the query is not said again.
  assert.deepEqual(await told(service, ann, 'GET', `${below}/old?key=k_secret`), [308, here, 'moved']);
  // The endpoint does not say so of itself.
  assert.deepEqual(await told(service, ann, 'DELETE', `${below}/old`), [404, undefined, 'missing']);
  assert.deepEqual(await told(service, ann, 'GET', `${below}/none`), [404, undefined, 'missing']);
  assert.deepEqual(await told(service, ann, 'GET', '/v1/teams/two/projects/old'), [404, undefined, 'missing']);
  const followed = await service.as(ann, 'GET', here);
  assert.deepEqual([followed.status, (followed.json as Fields).id], [200, project.id]);
  assert.deepEqual(service.failures, []);
  await service.close();
});

test('a row under its own name is found, whatever was called so before, and what it was called last counts', async () => {
  const { service, made } = await open();
  const { id } = await made(below, { name: 'old' });
  const own = await service.as(eve, 'GET', `${below}/old`);
  assert.deepEqual([own.status, (own.json as Fields).id], [200, id]);
  await service.as(ann, 'PATCH', `${below}/old`, { name: 'other' });
  assert.deepEqual(await told(service, eve, 'GET', `${below}/old`), [308, `${below}/other`, 'moved']);
  // Back where it was: nothing leads from a place to itself.
  await service.as(ann, 'PATCH', `${below}/other`, { name: 'old' });
  assert.equal((await service.as(eve, 'GET', `${below}/old`)).status, 200);
  assert.deepEqual(await told(service, eve, 'GET', `${below}/other`), [308, `${below}/old`, 'moved']);
  await service.as(ann, 'DELETE', `${below}/old`);
  assert.deepEqual(await told(service, eve, 'GET', `${below}/other`), [404, undefined, 'missing']);
  await service.close();
});

test('who may not read it is told what it would have been told without, whether something is at the name or not', async () => {
  const { service, made } = await open({ secret: true });
  const told404 = [404, undefined, 'missing'];
  for (const method of ['GET', 'HEAD']) assert.equal((await told(service, eve, method, `${below}/old`))[0], 404);
  assert.deepEqual(await told(service, bob, 'PATCH', `${below}/old`, { name: 'x' }), told404);
  assert.deepEqual(await told(service, ann, 'GET', `${below}/old`), [308, `${below}/new`, 'moved']);
  assert.equal((await told(service, undefined, 'GET', `${below}/old`))[0], 401);
  // What is shown is told, and goes on being told where something hidden is made at the name.
  await service.as(ann, 'PATCH', `${below}/new`, { secret: false });
  assert.deepEqual(await told(service, eve, 'GET', `${below}/old`), [308, `${below}/new`, 'moved']);
  await made(below, { name: 'old', secret: true });
  assert.deepEqual(await told(service, eve, 'GET', `${below}/old`), [308, `${below}/new`, 'moved']);
  assert.equal((await service.as(ann, 'GET', `${below}/old`)).status, 200);
  // Who may read it, and not do this, is led to where it is told so.
  assert.deepEqual(await told(service, bob, 'PATCH', `${below}/old`, { name: 'x' }), [308, `${below}/new`, 'moved']);
  assert.equal((await service.as(bob, 'PATCH', `${below}/new`, { name: 'x' })).status, 403);
  assert.deepEqual(await told(service, eve, 'PATCH', `${below}/old`, { name: 'x' }), [403, undefined, 'forbidden']);
  assert.deepEqual(service.failures, []);
  await service.close();
});

test('a redirect comes through a socket as it is, in the version that was asked', async () => {
  const service = await tellService(
    `${renamedProjects
      .replace('authentication:\n  schemes', 'authentication: none\nunused:\n  schemes')
      .replace(/\nunused:[\s\S]*?\nerrors:/, '\nerrors:')
      .replace('set: { create: caller.id }', 'default: ann')}
versioning:
  versions: { a: {}, b: { current: true } }
  select: { path: "/{version}", default: none }
  changes: { b: none }
`,
  );
  const listening = await service.service.listen({ port: 0 });
  const send = (method: string, path: string, body?: unknown) =>
    new Promise<{ status: number | undefined; location: string | undefined }>((resolve, reject) => {
      const sent = request(
        `http://127.0.0.1:${listening.port}${path}`,
        { method, headers: { 'content-type': 'application/json' } },
        (answer) => {
          answer.resume();
          answer.on('end', () => resolve({ status: answer.statusCode, location: answer.headers.location }));
        },
      );
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const at = '/v1/a/teams/one/projects';
  assert.equal((await send('POST', '/v1/a/teams', { name: 'one' })).status, 201);
  assert.equal((await send('POST', at, { name: 'old' })).status, 201);
  assert.equal((await send('PATCH', `${at}/old`, { name: 'new' })).status, 200);
  for (const method of ['GET', 'HEAD'])
    assert.deepEqual(await send(method, `${at}/old?x=1`), { status: 400, location: undefined });
  for (const method of ['GET', 'HEAD']) assert.deepEqual(await send(method, `${at}/old`), { status: 308, location: `${at}/new` });
  await listening.close();
  await service.close();
});

const read = 'GET /teams/{of}: { does: read team }';
const findings: readonly (readonly [stated: string, instead: string, code: string, message: RegExp])[] = [
  ['status: 308, when: resource.moved', 'status: 404, when: resource.moved', 'errors/moved-status', /404, and nobody follows/],
  ['status: 308, when: resource.moved', 'status: 303, when: resource.moved', 'errors/moved-status', /303/],
  [
    '    moved: { status: 308, when: resource.moved, message: It has another name. }\n',
    '',
    'endpoints/moved-unanswered',
    /at `read project`/,
  ],
  [read, 'GET /teams/{of}: { does: read team, moved: "params.of" }', 'endpoints/moved-other-row', /is no reference/],
  [
    read,
    'GET /teams/{of}: { does: read team, moved: "has(find(project, { id: 7 })) ? 7 : null" }',
    'endpoints/moved-other-row',
    /is no reference/,
  ],
  [
    read,
    'GET /teams/{of}: { does: read team, moved: "has(find(rename, { id: 7 })) ? find(rename, { id: 7 }).project : null" }',
    'endpoints/moved-other-row',
    /refers to one `project`, and the row is one `team`/,
  ],
  [read, 'GET /teams/{of}: { does: read team, moved: resource.id }', 'expressions/not-in-scope', /resource/],
  [
    'GET /teams/{of}/projects: { does: list project }',
    'GET /teams/{of}/projects: { does: list project, moved: "null" }',
    'endpoints/moved-no-row',
    /names no row/,
  ],
];

for (const [stated, instead, code, message] of findings)
  test(`${code} where \`${instead}\` stands`, () => {
    assert.ok(renamedProjects.includes(stated));
    const { findings: found } = check(
      parseDocument(
        renamedProjects.replace(stated, () => instead),
        'renamed.yaml',
      ),
    );
    assert.ok(
      found.some((one) => one.code === code && message.test(one.message)),
      found.map((one) => `${one.code} ${one.message}`).join('; '),
    );
  });

test('an error that nothing moves for cannot arise', () => {
  const still = renamedProjects.replace(/, moved: "[^"]+"/g, '');
  const { findings: found } = check(parseDocument(still, 'still.yaml'));
  assert.ok(found.some(({ code, message }) => code === 'errors/cannot-arise' && message.includes('resource.moved')));
});

test('what has moved is read back from OpenAPI as it was stated, and is a response with its Location', () => {
  const document = parseDocument(`title: Plans\n${renamedProjects}`, 'renamed.yaml');
  assert.deepEqual(
    check(document).findings.filter(({ severity }) => severity === 'error'),
    [],
  );
  for (const to of Object.keys(editions)) {
    const openapi = exported(document, to);
    assert.deepEqual(readBack(openapi), plain(document.tree));
    const { responses } = (openapi.paths as Record<string, Record<string, { responses: Record<string, Fields> }>>)[
      '/teams/{of}/projects/{called}'
    ]?.get ?? { responses: {} };
    assert.match(JSON.stringify(responses['308']), /Location|\$ref/);
  }
});
