import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, isStanding, newMap } from '../../../document/values.ts';
import type { Answer } from '../../../parts/answers.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { mayBeUntold } from '../../../parts/left-out.ts';
import { type Operation, resourceOfEffect } from '../../../parts/operations.ts';
import { fitsAny } from '../../../parts/shapes/branches.ts';
import { followsKey, formKey, prefix, statedKey } from '../own/stated-schema.ts';
import type { ExampleAct } from './examples.ts';
import { answerHeaders } from './following-parameters.ts';
import { orChosen, pageExample, pageSchema, statedOrChosen } from './resources.ts';
import { statedSchema } from './stated-schema.ts';
import { type ExportWriting, phraseOf, present, statedAt } from './writing.ts';

/** The answers of success of an endpoint by status: the stated ones, or those that follow from its effect. */
export function answerResponses(operation: Operation, endpoint: Endpoint, writing: ExportWriting): Map<string, JsonMap> {
  const responses = isStated(endpoint.response)
    ? statedResponses(operation, endpoint, writing)
    : effectResponses(operation, endpoint, writing);
  const isRead = endpoint.method === 'GET' || endpoint.method === 'HEAD';
  if (endpoint.etag !== undefined && isRead && !responses.has('304'))
    responses.set('304', { description: 'It is what the request knows already.', [followsKey]: true });
  return responses;
}

function statedResponses(operation: Operation, endpoint: Endpoint, writing: ExportWriting): Map<string, JsonMap> {
  const own = statedAt(writing.spec.document.tree, 'endpoints', endpoint.key, 'response');
  const stated = own ?? statedDefault(endpoint, writing);
  const byStatus = Map.groupBy(statedValue(endpoint.response) ?? [], ({ status }) => status);
  const responses = new Map<string, JsonMap>();
  for (const [status, value] of isMap(stated) ? Object.entries(stated) : []) {
    const answers = byStatus.get(status) ?? [];
    responses.set(/^\dxx$/.test(status) ? status.toUpperCase() : status, {
      description: isSuccess(status) ? descriptionOf(endpoint, status) : phraseOf(status),
      ...withHeaders(value, operation, status, writing),
      ...statedAnswer(value, answers, endpoint, writing),
      ...(own === undefined && { [followsKey]: true }),
    });
  }
  return responses;
}

/** A response that the defaults of all endpoints state. */
function statedDefault({ method }: Endpoint, { spec }: ExportWriting): Json | undefined {
  const { tree } = spec.document;
  return (
    statedAt(tree, 'endpoints', 'defaults', method, 'response') ?? statedAt(tree, 'endpoints', 'defaults', 'all', 'response')
  );
}

function isSuccess(status: string): boolean {
  return /^[23]/.test(status);
}

function withHeaders(value: Json, operation: Operation, status: string, writing: ExportWriting): JsonMap {
  const own = newMap();
  const stated = isFull(value) ? value.headers : undefined;
  for (const [name, header] of isMap(stated) ? Object.entries(stated) : []) own[name] = headerObject(header, writing);
  const headers = isSuccess(status) ? { ...answerHeaders(operation, status, writing), ...own } : own;
  return Object.keys(headers).length > 0 ? { headers } : {};
}

/** A header by its expression, its shape, or both. */
function headerObject(stated: Json, writing: ExportWriting): JsonMap {
  if (!isMap(stated) || isStanding(stated))
    return { schema: { type: 'string' }, [`${prefix}data`]: stated, [followsKey]: ['schema'] };
  const { shape, data, required } = stated;
  const schema = shape === undefined ? { type: 'string' } : statedSchema(shape, writing, 'answer');
  return present({
    required: shape !== undefined && data === undefined && required !== false ? true : undefined,
    schema,
    [`${prefix}data`]: data,
    [`${prefix}required`]: required,
    [followsKey]: shape === undefined ? ['schema'] : undefined,
    [formKey]: 'full',
  });
}

/** What is stated of one status: a shape, an answer in full, or several of which the first that holds is given. */
function statedAnswer(value: Json, answers: readonly Answer[], endpoint: Endpoint, writing: ExportWriting): JsonMap {
  if (isStanding(value) || value === 'none' || value === 'any') return { [statedKey]: value };
  const list: readonly Json[] | undefined =
    Array.isArray(value) && !(value.length === 1 && typeof value[0] === 'string') ? value : undefined;
  if (!list) return singleAnswer(value, answers[0], endpoint, writing);
  const words = list.map((item) => (isFull(item) ? besideShape(item) : null));
  const branches = list.map((item, index): JsonMap => {
    const shape = isFull(item) ? item.shape : item;
    return shape === undefined ? { [followsKey]: true } : statedOrChosen(shape, answers[index], endpoint, writing);
  });
  const example = exampleOfAnswer(
    answers.find(({ shape }) => isStated(shape)),
    writing,
  );
  return { content: contentOf(fitsAny(branches), endpoint, example, example !== undefined), [`${prefix}answers`]: words };
}

function singleAnswer(value: Json, answer: Answer | undefined, endpoint: Endpoint, writing: ExportWriting): JsonMap {
  const full = isFull(value);
  const shape = full ? value.shape : value;
  const words = full ? besideShape(value) : newMap();
  const out = newMap();
  for (const [word, inner] of Object.entries(words))
    if (word !== 'example' && word !== 'examples' && !(word === 'headers' && isMap(inner) && !isStanding(inner)))
      out[`${prefix}${word}`] = inner;
  if (full && Object.keys(words).length === 0) out[formKey] = 'full';
  const types = answer?.produces ?? endpoint.produces;
  const isBodiless = shape === undefined || isStanding(shape) || shape === 'none' || shape === 'any';
  if (isBodiless && shape !== undefined) out[`${prefix}shape`] = shape;
  const ownExample = words.example;
  const named = isMap(words.examples) ? words.examples : undefined;
  const example = ownExample ?? (named ? undefined : exampleOfAnswer(answer, writing));
  if (!isBodiless)
    out.content = contentOf(
      statedOrChosen(shape, answer, endpoint, writing),
      { produces: types },
      example,
      ownExample === undefined,
      named,
    );
  else if (ownExample !== undefined) out.content = contentOf({ [followsKey]: true }, { produces: types }, ownExample, false);
  return out;
}

/** `example` and `if` are words of JSON Schema too: alone among schema words they make no answer in full. */
function isFull(value: Json): value is JsonMap {
  if (!isMap(value) || isStanding(value)) return false;
  const keys = Object.keys(value);
  return keys.includes('shape') || keys.includes('data') || (keys.length > 0 && keys.every((key) => answerWords.has(key)));
}

const answerWords: ReadonlySet<string> = new Set(['shape', 'data', 'headers', 'produces', 'if', 'example', 'examples', 'stream']);

function besideShape(answer: JsonMap): JsonMap {
  const words = newMap();
  for (const [word, value] of Object.entries(answer)) if (word !== 'shape') words[word] = value;
  return words;
}

function exampleOfAnswer(answer: Answer | undefined, { examples }: ExportWriting): Json | undefined {
  const shape = answer && statedValue(answer.shape);
  return answer?.example ? answer.example.value : shape && examples.ofShape(shape, 'answer', 'value');
}

/** A body in each media type that the endpoint gives. */
function contentOf(
  schema: JsonMap,
  { produces }: { readonly produces?: readonly string[] | undefined },
  example: Json | undefined,
  isMade: boolean,
  named?: JsonMap,
): JsonMap {
  const examples = named && Object.fromEntries(Object.entries(named).map(([name, value]) => [name, { value }]));
  const body = present({ schema, example, examples, [followsKey]: example !== undefined && isMade ? ['example'] : undefined });
  return Object.fromEntries((produces ?? ['application/json']).map((media) => [media, body]));
}

/** The answers that follow by rule. */
function effectResponses(operation: Operation, endpoint: Endpoint, writing: ExportWriting): Map<string, JsonMap> {
  const effect = statedValue(endpoint.does);
  const { standing } = endpoint.response;
  const open = { description: 'What it answers is open.', [followsKey]: true };
  if (standing === 'none') return new Map([['2XX', { description: 'There is no body.', [followsKey]: true }]]);
  if (standing === 'any' || !effect || effect.verb === 'handler' || effect.verb === 'reply') return new Map([['default', open]]);
  const answer = (status: string, content?: JsonMap): [string, JsonMap] => {
    const headers = answerHeaders(operation, status, writing);
    return [
      status,
      present({
        description: descriptionOf(endpoint, status),
        headers: Object.keys(headers).length > 0 ? headers : undefined,
        content,
        [followsKey]: true,
      }),
    ];
  };
  const whole = (schema: JsonMap, example: Json | undefined) => contentOf(schema, endpoint, example, true);
  const { resource } = effect;
  const shown = orChosen(writing.schemas.resource(resource, 'answer'), endpoint, resource, writing);
  const made = () =>
    whole(
      orChosen(writing.schemas.created(resource), endpoint, resource, writing),
      writing.examples.ofResource(resource, 'answer'),
    );
  const untold = mayBeUntold(writing.spec, endpoint) ? [answer('204')] : [];
  switch (effect.verb) {
    case 'delete':
      return new Map([answer('204')]);
    case 'list':
      return new Map([answer('200', whole(pageSchema(endpoint, resource, writing), pageExample(endpoint, resource, writing)))]);
    case 'create':
      return new Map([
        ...(endpoint.exists ? [answer('200', whole(shown, writing.examples.ofResource(resource, 'answer')))] : []),
        answer('201', made()),
      ]);
    case 'read': {
      const told = toldOfDeleted(resource, writing);
      const usual = told.get('200');
      const example = writing.examples.ofResource(resource, 'answer', actOf(operation));
      const others = [...told].filter(([status]) => status !== '200');
      return new Map([
        answer('200', whole(usual ? fitsAny<Json>([shown, usual]) : shown, example)),
        ...others.map(([status, schema]) => answer(status, whole(schema, undefined))),
      ]);
    }
    case 'upsert':
      return new Map([
        answer('200', whole(shown, writing.examples.ofResource(resource, 'answer'))),
        answer('201', made()),
        ...untold,
      ]);
    default:
      return new Map([answer('200', whole(shown, writing.examples.ofResource(resource, 'answer', actOf(operation)))), ...untold]);
  }
}

/** What reading a row answers that was deleted and is kept, by status. */
function toldOfDeleted(resource: string, { spec, schemas }: ExportWriting): ReadonlyMap<string, JsonMap> {
  const answers = entryOf(spec.resources.all, resource)?.kept?.answers ?? [];
  return new Map(
    answers.flatMap(({ status, shape }) => (isStated(shape) ? [[status, schemas.shape(shape.value, 'answer')] as const] : [])),
  );
}

/** What was done with the resource that is answered. */
function actOf({ name, transition, endpoint }: Operation): ExampleAct {
  const verb = (endpoint && statedValue(endpoint.does)?.verb) ?? '';
  const [target] = transition?.to ?? [];
  return { words: [name, transition?.name ?? verb], ...(target && { state: target.state }) };
}

function descriptionOf(endpoint: Endpoint, status: string): string {
  const effect = statedValue(endpoint.does);
  const thing = (resourceOfEffect(effect) ?? '').replaceAll('_', ' ');
  if (status === '204') {
    if (effect?.verb === 'delete') return `The ${thing} is gone.`;
    return thing === '' ? phraseOf(status) : `The ${thing} is changed, and is not shown to who may not read it.`;
  }
  if (thing === '') return phraseOf(status);
  if (effect?.verb === 'list') return `A page of ${thing} rows.`;
  if (status === '201') return `The new ${thing}.`;
  if (effect?.verb === 'create') return `The ${thing} that is there already.`;
  return effect?.verb === 'read' ? `The ${thing}.` : `The ${thing} as it is now.`;
}
