import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import type { VerifyOptions } from '../src/index.ts';
import type { Breach } from '../src/verify/report.ts';
import { isLong, oneOfEach } from './long.ts';
import { type Bent, openStand, type StandOptions } from './verify/stand.ts';
import { tools } from './verify/tools.ts';

/** What is bent or spoiled on the way, and what is served instead of the document. */
type Bending = Pick<StandOptions, 'bend' | 'spoil' | 'served'>;
type Fault = readonly [what: string, fault: Bending, fact: string, reason: RegExp];

const secret = 'a secret that nobody who lends tools has seen';
/** What the service does by its own code. */
const plan = ({ params }: { readonly params: { readonly floor: number; readonly unit: string } }) => ({
  floor: params.floor,
  unit: params.unit,
});
const hourMs = 3_600_000;
const password = 'blue Door';

interface Claims {
  readonly scope?: string;
  readonly issuer?: string;
  readonly audience?: string;
  readonly endsMs?: number;
}

/** A token as the tools' own issuer makes them, unless it is said otherwise. */
function tokenFor(id: string, role: string, { scope, issuer, audience, endsMs }: Claims = {}): Promise<string> {
  return new SignJWT({ role, ...(scope !== undefined && { scope }) })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(id)
    .setIssuer(issuer ?? 'https://id.tools.example')
    .setAudience(audience ?? 'tools')
    .setExpirationTime(Math.floor((endsMs ?? Date.now() + 1000 * hourMs) / 1000))
    .sign(new TextEncoder().encode(secret));
}

const mia = await tokenFor('mia', 'member');
const max = await tokenFor('max', 'member');
const kim = await tokenFor('kim', 'keeper', { scope: 'remove' });

async function bad(why: string, claims: Claims) {
  return { user: 'member', credential: await tokenFor('mia', 'member', claims), scheme: 'token', bad: why };
}

const callers: NonNullable<VerifyOptions['callers']> = [
  { user: 'member', credential: mia, scheme: 'token' },
  { user: 'member', credential: `max:${password}`, scheme: 'desk' },
  { user: 'keeper', credential: kim, scheme: 'token' },
  { user: 'keeper', credential: await tokenFor('kai', 'keeper'), scheme: 'token' },
  await bad('expired', { endsMs: Date.now() - 48 * hourMs }),
  await bad('of another issuer', { issuer: 'https://id.other.example' }),
  await bad('of another service', { audience: 'kitchens' }),
];

/** A request with another credential. */
function as(request: Bent, token: string): Partial<Bent> {
  return { headers: { ...request.headers, authorization: `Bearer ${token}` } };
}

/** The desk in front of the service knows one password, and shows a token for whoever has it. */
function atDesk(request: Bent, isRight: (sent: string) => boolean): Partial<Bent> {
  const [, text = ''] = /^Basic (.*)$/i.exec(String(request.headers.authorization ?? '')) ?? [];
  const [, name, sent = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(text, 'base64').toString()) ?? [];
  return name === 'max' && isRight(sent) ? as(request, max) : {};
}

/** Takes a token that is none of ours, where a test says so of what it says. */
function taking(isTaken: (header: Record<string, unknown>, claims: Record<string, unknown>) => boolean): Bending {
  return {
    bend(request) {
      const text = String(request.headers.authorization ?? '').replace(/^Bearer /, '');
      if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(text) || text === kim) return {};
      const said = saidBy(text);
      return said && isTaken(said.header, said.claims) ? as(request, mia) : {};
    },
  };
}

/** What a token says; nothing where a letter of it is another, so that it says nothing. */
function saidBy(text: string) {
  try {
    return { header: { ...decodeProtectedHeader(text) }, claims: decodeJwt(text) };
  } catch {
    return undefined;
  }
}

/** Another line of the document is served than is stated. */
function serving(stated: string, served: string): Bending {
  assert.ok(tools.includes(stated), 'the document states it');
  return { served: tools.replaceAll(stated, () => served) };
}

/** A body as it was sent; nothing in it where it is no JSON. */
function read(sent: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(sent);
  } catch {
    return {};
  }
}

const json = { 'content-type': 'application/json' };
const oneTool = /^\/v1\/tools\/[^/?]+$/;

/** A service on its way to which the tags of readers are lost. */
const untagged: Bending = { bend: ({ headers: { 'if-match': _tag, ...headers } }) => ({ headers }) };

const faults: readonly Fault[] = [
  [
    'a reply is another',
    serving('name: tools, floors', 'name: template, floors'),
    'response payload shapes:GET /about',
    /example/,
  ],
  [
    'what is put in place is always new',
    {
      spoil: ({ method, target, status }) =>
        method === 'PUT' && target.includes('/shelves/') && status === 200 ? { status: 201 } : {},
    },
    'response payload shapes:PUT /shelves/{code}',
    /there/,
  ],
  [
    'what is put in place is never new',
    {
      spoil: ({ method, target, status }) =>
        method === 'PUT' && target.includes('/shelves/') && status === 201 ? { status: 200 } : {},
    },
    'response payload shapes:PUT /shelves/{code}',
    /made/,
  ],
  [
    'what is put in place keeps the rest',
    {
      spoil: ({ target, text, status }) =>
        target.includes('/shelves/') && status === 200
          ? { text: JSON.stringify({ remark: 'old', ...JSON.parse(text) }), headers: json }
          : {},
    },
    'request payload shapes:PUT /shelves/{code}',
    /replaced/,
  ],
  [
    'a replacement keeps the rest',
    {
      spoil: ({ method, target, text, status }) =>
        method === 'PUT' && oneTool.test(target) && status === 200
          ? { text: JSON.stringify({ remark: 'old', ...JSON.parse(text) }) }
          : {},
    },
    'request payload shapes:PUT /tools/{id}',
    /replaced/,
  ],
  [
    'a patch replaces what it should be merged into',
    {
      spoil({ method, target, text, sent, status }) {
        const patch = method === 'PATCH' && oneTool.test(target) ? read(sent) : {};
        return status === 200 && patch.size ? { text: JSON.stringify({ ...JSON.parse(text), size: patch.size }) } : {};
      },
    },
    'request payload shapes:PATCH /tools/{id}',
    /merges size/,
  ],
  [
    'a patch of a part is refused',
    {
      spoil({ method, sent }) {
        const patch = method === 'PATCH' ? read(sent) : {};
        const isPart = typeof patch.size === 'object' && patch.size !== null && Object.keys(patch.size).length === 1;
        const body = { type: 'about:blank', title: 'Unprocessable Content', status: 422, code: 'invalid', request_id: 'x' };
        return isPart ? { status: 422, headers: { 'content-type': 'application/problem+json' }, text: JSON.stringify(body) } : {};
      },
    },
    'request payload shapes:PATCH /tools/{id}',
    /merges size/,
  ],
  [
    'a Location leads elsewhere',
    {
      spoil: ({ headers }) =>
        headers.location === undefined ? {} : { headers: { ...headers, location: String(headers.location).replace('/v1', '') } },
    },
    'response payload shapes:POST /tools',
    /Location leads/,
  ],
  [
    'a deletion does nothing',
    {
      bend: ({ method, target }) => (method === 'DELETE' ? { method: 'GET', target: `${target}?nf_deletion` } : {}),
      spoil: ({ target }) => (target.endsWith('?nf_deletion') ? { status: 204, text: '', headers: {} } : {}),
    },
    'response payload shapes:DELETE /tools/{id}',
    /deleted/,
  ],
  [
    'a path has no bound',
    serving('in: path, type: integer, minimum: -2', 'in: path, type: integer, minimum: -9'),
    'parameters:GET /floors/{floor}',
    /floor refused/,
  ],
  [
    'a path has another bound',
    serving('in: path, type: integer, minimum: -2', 'in: path, type: integer, minimum: 0'),
    'parameters:GET /floors/{floor}',
    /floor taken/,
  ],
  [
    'a header has no bound',
    serving('minimum: 1, maximum: 9 }', 'minimum: 1 }'),
    'parameters:GET /floors/{floor}',
    /X-Scale refused/,
  ],
  ['a default is another', serving('default: metre', 'default: foot'), 'parameters:GET /floors/{floor}', /unit by default/],
  [
    'a reply takes parameters that nothing states',
    { bend: ({ target }) => ({ target: target.replace(/about\?.*/, 'about') }) },
    'parameters:GET /about',
    /unstated refused/,
  ],
  [
    'one key is that of everybody',
    { bend: (request) => (request.headers['idempotency-key'] ? as(request, mia) : {}) },
    'request payload shapes:POST /tools',
    /key of one caller/,
  ],
  [
    'a key of a transition is not looked at',
    { bend: ({ headers: { 'idempotency-key': _key, ...headers } }) => ({ headers }) },
    'request payload shapes:POST /tools/{id}/lend',
    /key once/,
  ],
  ['a deletion asks for no tag', untagged, 'request payload shapes:DELETE /tools/{id}', /If-Match/],
  ['a transition asks for no tag', untagged, 'request payload shapes:POST /tools/{id}/lend', /If-Match/],
  [
    'one method goes where another one does',
    { bend: ({ method, target }) => (method === 'POST' && oneTool.test(target) ? { method: 'PATCH' } : {}) },
    'methods:service',
    /POST .* refused/,
  ],
  ['an issuer is not looked at', taking((_, { iss }) => iss === 'https://id.other.example'), 'token formats:token', /issuer/],
  ['an audience is not looked at', taking((_, { aud }) => aud === 'kitchens'), 'token formats:token', /service/],
  ['a token never ends', taking((_, { exp }) => Number(exp) < Date.now() / 1000), 'token formats:token', /expired/],
  ['a token needs no signature', taking(({ alg }) => alg === 'none'), 'token formats:token', /none/],
  ['no signature is verified', taking(({ alg }, { sub }) => alg === 'HS256' && sub !== 'mia'), 'token formats:token', /signed/],
  [
    'a token is taken behind any word',
    {
      bend: (request) => ({
        headers: {
          ...request.headers,
          ...(request.headers.authorization && {
            authorization: String(request.headers.authorization).replace(/^Token /, 'Bearer '),
          }),
        },
      }),
    },
    'header names:token',
    /under the word Token/,
  ],
  [
    'a password is compared in small letters',
    { bend: (request) => atDesk(request, (sent) => sent.toLowerCase() === password.toLowerCase()) },
    'token formats:desk',
    /other case/,
  ],
  [
    'scopes are not asked',
    serving('to: keeper, scopes: [remove] }', 'to: keeper }'),
    'permission rules:delete tool',
    /keeper without scopes/,
  ],
  [
    'nobody is told how to show who one is',
    { spoil: ({ headers: { 'www-authenticate': _challenge, ...headers } }) => ({ headers }) },
    'schemes:service',
    /challenge/,
  ],
];

async function openTools({ bend, spoil, served }: Bending) {
  return openStand(tools, {
    ...(spoil && { spoil }),
    ...(served !== undefined && { served }),
    bend: (request) => ({ ...atDesk(request, (sent) => sent === password), ...bend?.(request) }),
    serve: {
      environment: { TOOLS_TOKEN_SECRET: secret },
      handlers: { plan },
    },
  });
}

for (const [what, fault, fact, reason] of oneOfEach(faults, ([, , fact]) => fact.split(':')[0] ?? '')) {
  test(`${fact} is said to be broken where ${what}`, async () => {
    const stand = await openTools(fault);
    try {
      const until = (one: Breach) => `${one.kind}:${one.subject}` === fact && reason.test(one.reason);
      const { breaches, facts } = await stand.verify({ callers, only: [fact], until });
      const named = breaches.map((one) => `${one.kind}:${one.subject} ${one.reason}`);
      const verdict = facts.find((one) => `${one.kind}:${one.subject}` === fact);
      assert.ok(breaches.some(until), `${verdict?.verdict} ${verdict?.why ?? ''}; ${named.join('; ')}`);
    } finally {
      await stand.close();
    }
  });
}

for (const seed of isLong ? [1, 2, 3] : [1]) {
  test(`nothing about tools is said to be broken where nothing is, seed ${seed}`, async () => {
    const stand = await openTools({});
    try {
      const { breaches, unsteady } = await stand.verify({ callers, seed });
      assert.deepEqual(breaches, []);
      assert.deepEqual(unsteady, []);
    } finally {
      await stand.close();
    }
  });
}
