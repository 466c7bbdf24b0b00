import { below } from '../../../document/pointer.ts';
import { isMap, type OpenMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import { made, madeOrNew } from '../read/reader.ts';
import { nameOfOperation } from '../read/security.ts';
import { endpointOf, extendAnswer, type InferenceContext, type InferenceRule, placeOfEndpoint, successOf } from './context.ts';

/** A date, or a number that stands in the base path, is the version of the interface and not of its description. */
export const documentVersion: InferenceRule = {
  name: 'document-version',
  says: 'The version of a description that is a date, or that its base path names, is the current version of the interface.',
  infer({ reader, tree, trail }) {
    const info = reader.map(reader.root, 'info');
    const version = info?.value.version;
    if (info === undefined || typeof version !== 'string') return;
    const isDate = /^\d{4}-\d{2}-\d{2}/.test(version);
    if (!isDate) return;
    reader.mark(info.value, 'version');
    tree.versioning = { versions: { [version]: { current: true } } };
    trail.infer('/versioning/versions', documentVersion.name, below(info.at, 'version'), 0.8);
  },
};

/** Where single operations ask for a credential and the whole does not, the others ask for none. */
export const publicOperations: InferenceRule = {
  name: 'public-operations',
  says: 'Where the document as a whole asks for no credential, and some operations do, those that ask for none themselves are public; so is one that is called a login or a registration and takes a password.',
  infer(context) {
    const { reader, tree, trail, operations, endpoints } = context;
    const { authentication } = tree;
    if (!isMap(authentication)) return;
    const silent = operations.filter(({ map }) => !Object.hasOwn(map.value, 'security'));
    if (Array.isArray(reader.root.value.security)) {
      for (const operation of silent.filter((one) => isLogin(context, one))) addPublic(context, authentication, operation);
      return;
    }
    // Where none asks for any, the schemes that are described are there to be shown.
    if (authentication.public !== undefined || silent.length === 0 || silent.length === operations.length) return;
    made(authentication).public = silent.map((operation) => nameOfOperation(endpoints, operation));
    trail.infer('/authentication/public', publicOperations.name, '/paths', 0.6);
  },
};

function addPublic({ endpoints, trail }: InferenceContext, authentication: OpenMap, operation: SourceOperation): void {
  const known = Array.isArray(authentication.public) ? authentication.public : [];
  made(authentication).public = [...known, nameOfOperation(endpoints, operation)];
  trail.infer(below('/authentication/public', known.length), publicOperations.name, operation.map.at, 0.6);
}

/** `POST /auth/login` with a password: whoever begins a session has no credential yet. */
function isLogin(context: InferenceContext, operation: SourceOperation): boolean {
  const last = operation.path.split(/[/.]/).at(-1) ?? '';
  const sent = context.written.propertiesOf(endpointOf(context, operation).request)?.all ?? {};
  const takesPassword = Object.keys(sent).some((name) => /^pass(?:word|wd|phrase)$/i.test(name));
  return operation.method === 'POST' && takesPassword && loginWords.test(last);
}

const loginWords = /^(?:log[_-]?in|sign[_-]?(?:in|up)|register|authenticate|create(?:account|session))$/i;

/** Headers and statuses tell that there are rates, never how many. */
export const rateLimitHeaders: InferenceRule = {
  name: 'rate-limit-headers',
  says: 'Headers such as `RateLimit-Limit`, and answers with 429, tell that there is a rate; how many and how long stays a question.',
  infer({ operations, tree, trail }) {
    const header = operations
      .flatMap(({ responses }) => responses.flatMap(({ headers }) => headers))
      .find(({ name }) => isRate(name));
    const status = operations.flatMap(({ responses }) => responses).find((response) => response.status === '429');
    const from = header?.map.at ?? status?.map.at;
    if (from === undefined) return;
    const what = header === undefined ? 'Answers with 429 are stated' : `Answers carry \`${header.name}\``;
    const limits = madeOrNew(tree.limits);
    limits.rate = { $open: `${what}: how many requests may be made in which time?` };
    tree.limits = limits;
    trail.from('/limits/rate', from);
  },
};

function isRate(name: string): boolean {
  return /^(?:x-)?rate-?limit(?:-limit|-remaining|-reset|-policy)?$/i.test(name);
}

export const exampleReplies: InferenceRule = {
  name: 'example-replies',
  says: 'An operation whose answer is known by an example alone, without a schema, replies with it.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const answer = isMap(endpoint.response) ? endpoint.response[successOf(endpoint) ?? ''] : undefined;
      if (endpoint.does !== undefined || !isMap(answer) || answer.example === undefined) continue;
      endpoint.does = 'reply';
      context.trail.infer(below(placeOfEndpoint(operation), 'does'), exampleReplies.name, operation.map.at, 0.5);
    }
  },
};

/** "The `X-Total-Count` header provides total count": a header of an answer of which only words tell. */
export const toldHeaders: InferenceRule = {
  name: 'told-headers',
  says: 'A header that the words of a list name for the count of its things (`X-Total-Count`) or for what leads on (`X-Cursor-Next`) is a header of its answer, which may be missing.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const status = successOf(endpoint);
      if (typeof endpoint.does !== 'string' || !endpoint.does.startsWith('list ') || status === undefined) continue;
      const named = headersNamed(operation);
      if (named.length > 0) writeHeaders(context, operation, status, named);
    }
  },
};

function writeHeaders(context: InferenceContext, operation: SourceOperation, status: string, named: readonly string[]): void {
  const { response } = endpointOf(context, operation);
  const answer = isMap(response) ? response[status] : undefined;
  const before: OpenMap = isMap(answer) && isMap(answer.headers) ? { ...answer.headers } : {};
  const known = new Set(Object.keys(before).map((name) => name.toLowerCase()));
  const fresh = named.filter((name) => !known.has(name.toLowerCase()));
  if (fresh.length === 0) return;
  for (const name of fresh) before[name] = { shape: { type: counting.test(name) ? 'integer' : 'string' }, required: false };
  extendAnswer(context, operation, status, { headers: before });
  const at = below(below(below(placeOfEndpoint(operation), 'response'), status), 'headers');
  for (const name of fresh) context.trail.infer(below(at, name), toldHeaders.name, operation.map.at, 0.7);
}

const counting = /^X-(?:[A-Za-z]+-)?Total(?:-Count)?$/i;
const leading = /^X-(?:[A-Za-z]+-)?(?:Next-Cursor|Cursor-Next|Cursor-Prev|Prev-Cursor)$/i;

/** The names of such headers in the words of an operation and of its parameters, once each. */
function headersNamed({ map, parameters }: SourceOperation): string[] {
  const texts = [map, ...parameters.map((one) => one.map)].flatMap((one) => {
    const description = isMap(one?.value) ? one.value.description : undefined;
    return typeof description === 'string' ? [description.slice(0, lengthMost)] : [];
  });
  const words = texts.flatMap((text) => text.match(/\bX-[A-Za-z]+(?:-[A-Za-z]+){0,3}/gi) ?? []);
  return [...new Set(words.filter((word) => counting.test(word) || leading.test(word)))];
}

/** How much of a description is looked at. */
const lengthMost = 20_000;
