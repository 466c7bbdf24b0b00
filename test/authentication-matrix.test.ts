import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { SignJWT } from 'jose';
import { check, readDocument, type Spec } from '../src/index.ts';
import { tokenKey } from './serving/guarded.ts';
import { type Example, examples } from './serving/matrix.ts';
import { type Tried, tryDocument } from './serving/tried.ts';

/**
 * Every operation of every example with credentials that are good, wrong, expired, revoked, rotated out and foreign, of each
 * scheme. `authorization-matrix.test.ts` says what a caller that is found may do; this says who is found.
 */
const root = join(import.meta.dirname, '..');
const running: Tried[] = [];
after(async () => {
  for (const tried of running) await tried.close();
});

type Endpoint = Extract<Spec['endpoints']['all'], { value: unknown }>['value'][string];
type Scheme = Extract<Spec['authentication']['schemes'], { value: unknown }>['value'][string];
type Shown = Readonly<Record<string, string>>;

for (const example of examples) {
  const document = await readDocument(join(root, example.document));
  const { spec } = check(document);
  const endpoints = 'value' in spec.endpoints.all ? Object.values(spec.endpoints.all.value) : [];
  const schemes = 'value' in spec.authentication.schemes ? Object.values(spec.authentication.schemes.value) : [];
  const [user = '', id = ''] = Object.entries(example.ids)[0] ?? [];

  for (const scheme of schemes.filter(({ type }) => type === 'api_key')) {
    test(`${example.document}: at every operation a key of ${scheme.name} is good or not, and nothing between`, async () => {
      const tried = await start(document, example);
      const add = async (more = {}) =>
        (await tried.service.administer('keys add', { user, id, scheme: scheme.name, scopes: [...example.scopes], ...more })) as {
          key: string;
          secret: string;
        };
      const [good, expired, revoked, rotated] = [await add(), await add({ expiresMs: 1 }), await add(), await add()];
      const fresh = (await tried.service.administer('keys rotate', { key: rotated.key, keepMs: 0 })) as { secret: string };
      await tried.service.administer('keys revoke', { key: revoked.key });
      const other = await start(document, example);
      const foreign = (await other.service.administer('keys add', { user, id, scheme: scheme.name })) as { secret: string };
      tried.clock.advance(1);
      await tryAll(tried, example, spec, endpoints, {
        good: [shown(scheme, good.secret), shown(scheme, fresh.secret)],
        bad: [
          ...[`${good.secret}x`, good.secret.slice(1), expired.secret, revoked.secret, rotated.secret, foreign.secret].map(
            (text) => shown(scheme, text),
          ),
        ],
      });
    });
  }

  for (const scheme of schemes.filter(({ secretEnv }) => secretEnv !== undefined)) {
    test(`${example.document}: at every operation a token of ${scheme.name} is good or not, and nothing between`, async () => {
      const secret = 'a secret of the matrix, of more than thirty-two bytes';
      const tried = await start(document, example, { [String(scheme.secretEnv)]: secret });
      const now = tried.clock.now() / 1000;
      const sign = (claims: object, key = secret, alg = 'HS256') =>
        new SignJWT({
          iss: scheme.issuer ?? '',
          aud: scheme.audience ?? '',
          sub: id,
          role: user,
          scope: example.scopes.join(' '),
          exp: now + 99_999,
          ...claims,
        })
          .setProtectedHeader({ alg })
          .sign(new TextEncoder().encode(key));
      const bad = await Promise.all([
        sign({ exp: now - 60 }),
        sign({ nbf: now + 600_000 }),
        sign({ iss: 'https://elsewhere.example' }),
        sign({ aud: 'elsewhere' }),
        sign({ role: 'nobody' }),
        sign({}, 'a secret of somebody else, of more than thirty-two bytes'),
        sign({}, secret, 'HS512'),
        (await tokenKey(undefined)).sign({ iss: scheme.issuer, aud: scheme.audience, sub: id, role: user }),
      ]);
      await tryAll(tried, example, spec, endpoints, {
        good: [shown(scheme, await sign({}))],
        bad: bad.map((token) => shown(scheme, token)),
      });
    });
  }
}

async function start(document: Parameters<typeof tryDocument>[0], example: Example, environment = {}): Promise<Tried> {
  const tried = await tryDocument(document, { rows: example.rows, environment });
  running.push(tried);
  return tried;
}

/** A credential where its scheme puts it. */
function shown(scheme: Scheme, text: string): Shown {
  const name = 'value' in scheme.carrier ? scheme.carrier.value : '';
  if (scheme.in === 'query') return { query: `${name}=${encodeURIComponent(text)}` };
  if (scheme.in === 'cookie') return { cookie: `${name}=${text}` };
  return { [name]: `${scheme.prefix === undefined ? '' : `${scheme.prefix} `}${text}` };
}

async function tryAll(
  tried: Tried,
  example: Example,
  spec: Spec,
  endpoints: readonly Endpoint[],
  { good, bad }: { readonly good: readonly Shown[]; readonly bad: readonly Shown[] },
): Promise<void> {
  const wrong: string[] = [];
  for (const endpoint of endpoints) {
    const isPublic = spec.authentication.public.includes(endpoint.operation);
    for (const [index, credential] of [...bad, {}].entries()) {
      const status = await send(tried, example, endpoint, credential);
      if ((status === 401) === isPublic) wrong.push(`${endpoint.operation}: bad credential ${index} is answered ${status}`);
    }
    for (const credential of good) {
      const status = await send(tried, example, endpoint, credential);
      if (status === 401) wrong.push(`${endpoint.operation}: a good credential is answered ${status}`);
    }
  }
  assert.deepEqual(wrong, []);
}

async function send(tried: Tried, example: Example, endpoint: Endpoint, { query: key, ...headers }: Shown): Promise<number> {
  // The rates of an example are not what is tried here.
  tried.clock.advance(61_000);
  const resource = 'value' in endpoint.does && 'resource' in endpoint.does.value ? endpoint.does.value.resource : '';
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_whole, name: string) =>
    encodeURIComponent((example.params[`${resource}.${name}`] ?? example.params[name])?.own ?? 'none'),
  );
  const { query = '' } = example.requests[endpoint.operation]?.('own') ?? {};
  const asked = [query, key ?? ''].filter((part) => part !== '').join('&');
  const { status } = await tried.send(endpoint.method, `${tried.service.basePath}${path}${asked && `?${asked}`}`, { headers });
  return status;
}
