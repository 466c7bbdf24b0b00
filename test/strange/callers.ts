/** Part 5 of strange documents: who calls, how it is shown, and who may do what. */
import fc from 'fast-check';
import type { Json, JsonMap } from '../../src/document/document.ts';
import { type Draw, pick } from '../serving/generated-values.ts';
import { type Draft, laid, mapAt, oneIn, operationsOf } from './layers.ts';

const claims = { id: 'claims.sub', user: 'claims.role', scopes: "has(claims.scope) ? claims.scope.split(' ') : []" };
const bearer = {
  header: 'Authorization',
  prefix: 'Bearer',
  placeholder: '{token}',
  issuer: 'https://id.strange.example',
  audience: 'strange',
};

/** Each sort of scheme, by the name it goes by in a drawn document. */
const schemes: Readonly<Record<string, JsonMap>> = {
  key: { type: 'api_key', header: 'X-Key', generate: 'k_{random:32}', placeholder: '{key}' },
  worded: { type: 'api_key', header: 'Authorization', prefix: 'Token', placeholder: '{word}' },
  asked: { type: 'api_key', query: 'the_key', generate: '{random:24}', placeholder: '{asked}' },
  session: { type: 'api_key', cookie: 'session', placeholder: '{session}' },
  login: { type: 'basic', placeholder: '{name:password}' },
  token: { type: 'jwt', ...bearer, algorithms: ['HS256'], secret_env: 'STRANGE_SECRET', caller: claims },
  signed: { type: 'jwt', ...bearer, algorithms: ['ES256'], jwks: 'https://id.strange.example/jwks.json', caller: claims },
  sign_in: {
    ...{ type: 'oauth2', ...bearer, algorithms: ['EdDSA'], jwks: 'https://id.strange.example/jwks.json', caller: claims },
    flows: { client_credentials: { token_url: 'https://id.strange.example/token' } },
    scopes: { things: 'All things.' },
  },
  parts: {
    type: 'hmac',
    header: 'X-Signature',
    value: 't={timestamp},v1={hmac-sha256:hex}',
    headers: { 'X-Signed-By': '{key_id}', 'X-Nonce': '{nonce}' },
    signs: '{method}\n{target}\n{timestamp}\n{nonce}\n{body}',
    tolerance: '2m',
    replay: 'refuse',
  },
  vendor: {
    type: 'hmac',
    header: 'Authorization',
    prefix: 'HMAC-SHA512',
    value: 'Credential={key_id}, Timestamp={timestamp:ms}, Signature={hmac-sha512:base64}',
    signs: '{method}\n{path}\n{query}\n{timestamp}\n{body-sha256:hex}',
  },
  message: { type: 'http_signature', algorithms: ['hmac-sha256'], covers: ['@method', '@target-uri', 'content-digest'] },
  paired: {
    type: 'http_signature',
    algorithms: ['ed25519'],
    covers: ['@method', '@path', '@query', 'content-digest'],
    tolerance: '2m',
  },
};

/** States schemes, none of them, or nothing; who may do what follows once all operations are known. */
export function layCallers(draw: Draw, draft: Draft): Draft {
  const sort = pick(draw, ['open', 'none', 'schemes', 'schemes', 'schemes', 'schemes']);
  if (sort === 'open') return draft;
  if (sort === 'none') return laid(draft, { authentication: 'none' }, 'authentication none');
  const names = draw(fc.shuffledSubarray<string>, Object.keys(schemes), { minLength: 1, maxLength: 2 });
  const authentication: JsonMap = {
    schemes: Object.fromEntries(names.map((name): [string, Json] => [name, schemes[name]!])),
    ...(oneIn(draw, 2) && { accept: names }),
    ...pick<JsonMap>(draw, [{}, { origins: 'none' }, { origins: ['https://app.strange.example'] }]),
  };
  return laid(draft, { authentication }, ...names.map((name) => `scheme ${name}`));
}

/** Whether callers are known in a document. */
export function knowsCallers(document: JsonMap): boolean {
  return Object.keys(mapAt(document, 'authentication', 'schemes')).length > 0;
}

/** The field that says whose a row is, where a resource has one. */
export const ownerField = 'owned_by';

/** Says who may do what: everybody everything, by user, by owner, by scope, or also those whom nobody knows. */
export function layPermissions(draw: Draw, draft: Draft): Draft {
  const { document, resources } = draft;
  if (!knowsCallers(document)) return draft;
  if (oneIn(draw, 5)) return laid(draft, { authentication: { permissions: 'none' } }, 'permissions none');
  const operations = operationsOf(document);
  const told: string[] = [];
  const rules: Json[] = [];
  for (const { name } of resources) {
    const own = operations.filter(({ does }) => does.endsWith(` ${name}`));
    const isOwned = ownerField in mapAt(document, 'resources', name, 'fields');
    const policy = pick(draw, isOwned ? (['owned', 'owned', 'all'] as const) : (['all', 'by user', 'scoped', 'anyone'] as const));
    rules.push(
      ...rulesOf[policy](
        own.map((one) => one.name),
        own.filter(isReading).map((one) => one.name),
      ),
    );
    told.push(`permissions ${policy}`);
    const reading = own.filter(isReading).map((one) => one.name);
    if (policy !== 'by user' || reading.length === 0 || !oneIn(draw, 2)) continue;
    // Readers are shown some fields, and by another rule some more.
    const names = Object.keys(mapAt(document, 'resources', name, 'fields'));
    // What answers read of every row is shown.
    const some = () => names.filter((one) => ['count', 'touched', 'twice'].includes(one) || draw(fc.boolean));
    rules.pop();
    rules.push({ allow: reading, to: 'reader', fields: some() }, { allow: reading.slice(0, 1), to: 'reader', fields: some() });
    told.push('rules that show fields');
  }
  const covered = new Set(
    resources.flatMap(({ name }) => operations.filter(({ does }) => does.endsWith(` ${name}`)).map((one) => one.name)),
  );
  const rest = operations.map(({ name }) => name).filter((name) => !covered.has(name));
  const stream = 'stream' in mapAt(document, 'events', 'delivery') ? ['stream events'] : [];
  if (rest.length + stream.length > 0) rules.push({ allow: [...rest, ...stream], to: ['reader', 'writer'] });
  const open = operations.filter(({ does }) => does === 'reply' || does.startsWith('handler ')).map(({ name }) => name);
  const isPublic = open.length > 0 && oneIn(draw, 2);
  return laid(draft, { authentication: { permissions: rules, ...(isPublic && { public: open }) } }, ...new Set(told));
}

const isReading = ({ does }: { readonly does: string }): boolean => /^(read|list) /.test(does);
const everyone: Json = ['reader', 'writer'];

const rulesOf = {
  all: (all: readonly string[]): Json[] => [{ allow: all, to: everyone }],
  'by user': (all: readonly string[], reading: readonly string[]): Json[] => [
    { allow: all, to: 'writer' },
    { allow: reading, to: 'reader' },
  ],
  scoped: (all: readonly string[], reading: readonly string[]): Json[] => [
    { allow: all, to: 'writer', scopes: ['things'] },
    { allow: reading, to: everyone },
  ],
  anyone: (all: readonly string[], reading: readonly string[]): Json[] => [
    { allow: all, to: everyone },
    { allow: reading, to: 'anyone' },
  ],
  owned: (all: readonly string[]): Json[] => {
    const isMaking = (name: string): boolean => name.startsWith('create ');
    const [upserts, others] = [
      all.filter((name) => name.startsWith('upsert ')),
      all.filter((name) => !/^(create|upsert) /.test(name)),
    ];
    const isOwn = `resource.${ownerField} == caller.id`;
    return [
      { allow: all.filter(isMaking), to: everyone },
      { allow: others, to: everyone, if: isOwn },
      ...(upserts.length > 0 ? [{ allow: upserts, to: everyone, if: `!has(resource.${ownerField}) || ${isOwn}` }] : []),
    ];
  },
} as const;
