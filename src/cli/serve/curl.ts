import { randomUUID } from 'node:crypto';
import type { Json, JsonMap } from '../../document/document.ts';
import { signingKeyOf } from '../../kinds/schemes/request-keys.ts';
import { readSigner } from '../../kinds/schemes/signing.ts';
import { acceptedSets, kindOfScheme, placed, schemePrefix } from '../../parts/authentication.ts';
import type { ResourceVerb } from '../../parts/effects.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { pathParameters, requestShape } from '../../parts/payload.ts';
import { type Ground, nothing } from '../../parts/samples/sampler.ts';
import { Samples } from '../../parts/samples/samples.ts';
import { identifierType } from '../../parts/schemas.ts';
import type { Spec } from '../../parts/spec.ts';
import { acceptedSchemes } from '../../serve/callers/accepted-schemes.ts';
import type { DevelopmentCredential } from '../../serve/callers/development.ts';

/**
 * Up to three curl lines that work when they are pasted into a shell: a resource is created, read and listed, or, where
 * that cannot be, what can be asked without knowing a row, and the ledger. `base` is the address with the prefix of the endpoints.
 */
export function curlLines(spec: Spec, base: string, origin: string, made: readonly DevelopmentCredential[] = []): string[] {
  const credentials = made.length > 0 ? made : placeholders(spec);
  const endpoints = entriesOf(spec.endpoints.all).map(([, endpoint]) => endpoint);
  const wellKnown = `${curl} ${quoted(`${origin}/.well-known/ninefold`)}`;
  for (const create of endpoints) {
    const lines = verbOf(create) === 'create' ? lifeOf(spec, create, endpoints, base, credentials) : undefined;
    if (lines !== undefined) return [...lines, wellKnown].slice(0, 3);
  }
  const asked = endpoints.flatMap((endpoint) =>
    endpoint.method === 'GET' ? (request(spec, endpoint, base, credentials) ?? []) : [],
  );
  return [...asked.slice(0, 2), wellKnown];
}

// The line feed keeps the next prompt off the answer.
const curl = "curl -s -w '\\n'";

/** A create whose body can be made, the read of what it made and the list that it is in. */
function lifeOf(
  spec: Spec,
  create: Endpoint,
  endpoints: readonly Endpoint[],
  base: string,
  credentials: readonly DevelopmentCredential[],
): string[] | undefined {
  const resource = resourceOf(create);
  const finder = resource === undefined ? undefined : finderOf(spec, resource);
  const about = (verb: ResourceVerb) =>
    endpoints.find((one) => verbOf(one) === verb && resourceOf(one) === resource && isPlain(one));
  const read = about('read');
  const list = about('list');
  const one = callers(spec, credentials, [create, ...(read ? [read] : []), ...(list ? [list] : [])]);
  const made = request(spec, create, base, one);
  const isShown = create.response.standing === 'open' && read !== undefined && pathParameters(read.path).length === 1;
  // What is read of an answer can be signed by nobody who prints a line beforehand.
  const isSigned = one.some(({ signs }) => signs !== undefined);
  if (made === undefined || finder === undefined || !isShown || read?.identity || isSigned) return undefined;
  const listed = list && request(spec, list, base, one);
  const path = read.path.replace(/\{[^{}]+\}/, `$(printf '%s' "$made" | ${finder})`);
  return [
    `made=$(${made}) && printf '%s\\n' "$made"`,
    [curl, evaluated(base, `${path}${queryOf(shownFor(spec, read, one))}`), ...wordsOf(shownFor(spec, read, one))].join(' '),
    ...(listed === undefined ? [] : [listed]),
  ];
}

/** The curl line of an endpoint, where everything that it requires can be made without knowing a row. */
function request(
  spec: Spec,
  endpoint: Endpoint,
  base: string,
  credentials: readonly DevelopmentCredential[],
): string | undefined {
  if (!isPlain(endpoint) || pathParameters(endpoint.path).length > 0) return undefined;
  const required = entriesOf(endpoint.parameters).filter(([, parameter]) => parameter.required);
  const values = required.map(
    ([name, parameter]) => [parameter, sampleOf(spec, statedValue(parameter.shape) ?? {}, name)] as const,
  );
  if (values.some(([, value]) => value === undefined || typeof value === 'object')) return undefined;
  const query = new URLSearchParams(
    values.flatMap(([{ in: place, name }, value]) => (place === 'query' ? [[name, String(value)] as [string, string]] : [])),
  );
  const headers = values.flatMap(([{ in: place, name }, value]) => {
    if (place === 'header') return [`-H ${quoted(`${name}: ${value}`)}`];
    return place === 'cookie' ? [`-b ${quoted(`${name}=${value}`)}`] : [];
  });
  const key = endpoint.idempotency?.required ? [`-H ${evaluated(`${endpoint.idempotency.header}: `, '$(date +%s)')}`] : [];
  const body = bodyOf(spec, endpoint);
  if (body === undefined) return undefined;
  const shown = shownFor(spec, endpoint, credentials);
  for (const { in: place, name, value } of shown) if (place === 'query') query.set(name, value);
  const url = `${base}${endpoint.path}${query.size > 0 ? `?${query}` : ''}`;
  const asked = { method: endpoint.method, url, body: body.text };
  const signed = shown
    .flatMap((one) => signedHeaders(spec, one, asked))
    .map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  return [
    curl,
    ...methodOf(endpoint, body.text !== undefined),
    quoted(url),
    ...wordsOf(shown),
    ...headers,
    ...key,
    ...wordsOfBody(body.text),
    ...signed,
  ].join(' ');
}

/** The words that send a body. */
function wordsOfBody(body: string | undefined): string[] {
  return body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(body)}`];
}

/** A body as it is sent; no text for an endpoint that takes none, undefined where no body can be made. */
function bodyOf(spec: Spec, endpoint: Endpoint): { readonly text: string | undefined } | undefined {
  const shape = requestShape(spec, endpoint);
  if (shape.standing === 'none') return { text: undefined };
  if (!isStated(shape)) return undefined;
  const takesJson = endpoint.consumes === undefined || endpoint.consumes.includes('application/json');
  const body = takesJson ? sampleOf(spec, shape.value as JsonMap) : undefined;
  return body === undefined ? undefined : { text: JSON.stringify(body as Json) };
}

/** What stands for a credential in examples, where the document says it. */
function placeholders(spec: Spec): DevelopmentCredential[] {
  return acceptedSchemes(spec).flatMap(({ scheme, in: place, carrier, prefix }) => {
    const placeholder = statedValue(scheme.placeholder);
    if (placeholder === undefined) return [];
    const value = `${prefix === undefined ? '' : `${prefix} `}${placeholder}`;
    return [{ user: '', id: '', scheme: scheme.name, in: place, name: carrier, value }];
  });
}

/** The credentials of one user alone who may call all of these; of everybody where there is none. */
function callers(
  spec: Spec,
  credentials: readonly DevelopmentCredential[],
  endpoints: readonly Endpoint[],
): readonly DevelopmentCredential[] {
  const one = credentials.find((credential) => endpoints.every((endpoint) => mayCall(spec, endpoint, credential.user)));
  return one ? credentials.filter(({ user }) => user === one.user) : credentials;
}

/** The credentials that an endpoint is asked with, all of them at once: none where it is public. */
function shownFor(
  spec: Spec,
  endpoint: Endpoint,
  credentials: readonly DevelopmentCredential[],
): readonly DevelopmentCredential[] {
  if (namesOperation(spec.authentication.public, operationOf(endpoint))) return [];
  const sets = acceptedSets(spec.authentication, endpoint);
  const allowed = credentials.filter(({ user }) => mayCall(spec, endpoint, user));
  for (const one of allowed.length > 0 ? allowed : credentials.slice(0, 1)) {
    const own = credentials.filter(({ user }) => user === one.user);
    const set = sets.find((names) => names.length > 0 && names.every((name) => own.some(({ scheme }) => scheme === name)));
    if (set) return own.filter(({ scheme }) => set.includes(scheme));
  }
  return credentials.slice(0, 1);
}

function mayCall({ authentication }: Spec, endpoint: Endpoint, user: string): boolean {
  const { permissions } = authentication;
  const operation = operationOf(endpoint);
  if (!isStated(permissions) || namesOperation(authentication.public, operation)) return true;
  return permissions.value.some(({ allow, to }) => namesOperation(allow, operation) && (to === 'anyone' || to.includes(user)));
}

function operationOf(endpoint: Endpoint): Operation {
  const resource = resourceOf(endpoint);
  return { name: endpoint.operation, endpoint, ...(resource !== undefined && { resource }) };
}

/** The words that send credentials which stand in headers or cookies. */
function wordsOf(credentials: readonly DevelopmentCredential[]): string[] {
  return credentials.flatMap(({ in: place, name, value, signs }) => {
    // The secret of one that signs is never sent.
    if (signs !== undefined) return [];
    if (place === 'header') return [`-H ${quoted(`${name}: ${value}`)}`];
    return place === 'cookie' ? [`-b ${quoted(`${name}=${value}`)}`] : [];
  });
}

function queryOf(credentials: readonly DevelopmentCredential[]): string {
  const pairs = credentials.flatMap(({ in: place, name, value }) =>
    place === 'query' ? [[name, value] as [string, string]] : [],
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}

function methodOf({ method }: Endpoint, hasBody: boolean): string[] {
  if (method === 'HEAD') return ['-I'];
  return method === (hasBody ? 'POST' : 'GET') ? [] : [`-X ${quoted(method)}`];
}

function verbOf(endpoint: Endpoint): string | undefined {
  return statedValue(endpoint.does)?.verb;
}

function resourceOf(endpoint: Endpoint): string | undefined {
  const effect = statedValue(endpoint.does);
  return effect && 'resource' in effect ? effect.resource : undefined;
}

/** The commands that find a row's identifier in its JSON, which writes the fields in the order in which they are stated. */
function finderOf(spec: Spec, resource: string): string | undefined {
  const stated = entryOf(spec.resources.all, resource);
  const field = stated && statedValue(stated.identifier)?.field;
  if (stated === undefined || field === undefined) return undefined;
  const isFirstText = entriesOf(stated.fields)[0]?.[0] === field && identifierType(spec, resource) === 'string';
  if (isFirstText) return `cut -d '"' -f 4`;
  return `grep -o '"${field.replaceAll(/\W/g, '.')}":[^,}]*' | head -n 1 | cut -d : -f 2- | tr -d '"'`;
}

/** Whether the path is one that a shell and curl take as it is. */
function isPlain({ path }: Endpoint): boolean {
  return /^\/[\w\-./{}~:@+,;=]*$/.test(path);
}

/** A word of which the shell carries out the end, which is our own, and nothing of its start. */
function evaluated(start: string, end: string): string {
  return /^[\w\-./:@%+,= ]*$/.test(start) ? `"${start}${end}"` : `${quoted(start)}"${end}"`;
}

/** A word for a POSIX shell, in quotes where it needs them. */
function quoted(word: string): string {
  return /^[\w\-./:@%+,=]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * A small value of a shape as a caller may send it: required fields only, each as short as its bounds let it be. Undefined where
 * none is found by simple means, and for the identifier of a row, which has to exist first.
 */
export function sampleOf(spec: Spec, shape: JsonMap, name = 'text'): Json | undefined {
  const samples = samplesBySpec.get(spec) ?? new Samples(spec, { size: 'smallest', isSent: true });
  samplesBySpec.set(spec, samples);
  const made = samples.of(shape, name).make(ground, '');
  // What samples make is JSON, or nothing.
  return made === nothing ? undefined : (made as Json);
}

const samplesBySpec = new WeakMap<Spec, Samples>();

const ground: Ground = { seed: '', identifierOf: () => undefined, sampled: () => {} };

/** The header fields that sign a request with a key that was made for this run; they hold for as long as the tolerance of their scheme. */
function signedHeaders(
  spec: Spec,
  { scheme: name, value }: DevelopmentCredential,
  request: { readonly method: string; readonly url: string; readonly body: string | undefined },
): readonly (readonly [name: string, value: string])[] {
  const scheme = entryOf(spec.authentication.schemes, name);
  const proof = scheme && kindOfScheme(scheme)?.proof;
  const signer = readSigner(value);
  if (!scheme || proof?.by !== 'signing' || !signer) return [];
  const signing = proof.compile(placed(scheme));
  const key = signingKeyOf(signing.algorithms, signer.secret);
  if (!key) return [];
  const { origin } = new URL(request.url);
  const fields = signing.sign(
    {
      method: request.method,
      target: request.url.slice(origin.length),
      headers: request.body === undefined ? {} : { 'content-type': 'application/json' },
      body: request.body === undefined ? undefined : Buffer.from(request.body),
      origin,
    },
    { keyId: signer.keyId, key },
    { nowMs: Date.now(), nonce: randomUUID() },
  );
  const prefix = schemePrefix(scheme) ?? '';
  const carrier = placed(scheme).carriedIn?.toLowerCase();
  const whole = (text: string) => (prefix === '' ? text : `${prefix}${/\w$/.test(prefix) ? ' ' : ''}${text}`);
  return Object.entries(fields).map(([field, text]) => [field, field === carrier ? whole(text) : text]);
}
