import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap } from '../../../document/values.ts';
import type { Content, SourceOperation, SourceParameter } from './operation.ts';
import type { At, SourceReader } from './reader.ts';

/** An operation whose one parameter holds a name that spans segments, and what its identifier says of that. */
interface Spread {
  readonly operation: SourceOperation;
  readonly prefix: string;
  readonly parameter: SourceParameter;
  /** What follows the name: the collection that is listed or made in, or nothing. */
  readonly suffix: string;
  readonly action: string;
  readonly collections: readonly string[];
}

/**
 * `/v1/{parent}/topics` and `/v1/{name}`, where a name is `projects/p/topics/t`: one parameter spans segments, and one path stands for
 * things of many kinds. An operation whose identifier says the collections (`service.projects.topics.create`) is at the path that
 * spells them out, `/v1/projects/{projectsId}/topics`. Of `GET /v1/{name}` a source can say one kind alone: it does the same for
 * each other kind that is made in a collection of its own.
 */
export function withSpreadNames(operations: readonly SourceOperation[], reader: SourceReader): SourceOperation[] {
  const spread = new Map(operations.flatMap((one) => spreadIn(one) ?? []).map((one) => [one.operation, one]));
  if (spread.size === 0) return [...operations];
  const out = new Map<string, SourceOperation>();
  const add = (one: SourceOperation): void => {
    if (!out.has(one.key)) out.set(one.key, one);
  };
  for (const operation of operations) {
    const own = spread.get(operation);
    add(own ? spelledOut(own) : operation);
  }
  const all = [...spread.values()];
  const made = [...collectionsMade(all), ...collectionsListed(all, reader)];
  for (const one of all) if (one.suffix === '') for (const other of made) addOther(one, other, made, add);
  return [...out.values()];
}

/** The names of parameters that hold a name of one collection, too, as their makers call them. */
const spreading = /^(?:name|parent|resource)$/;

/** What the path and the identifier of an operation say together; nothing where they do not agree. */
function spreadIn(operation: SourceOperation): Spread | undefined {
  const [, prefix = '', name = '', suffix = '', action = ''] =
    /^((?:\/[A-Za-z]\w*){0,4})\/\{(\w+)\}((?:\/[A-Za-z]\w*)?)((?::[A-Za-z]\w*)?)$/.exec(operation.path) ?? [];
  const parameter = operation.parameters.find((one) => one.in === 'path' && one.name === name);
  const collections = (operation.id ?? '').split('.').slice(1, -1);
  const isNamed = collections.length > 0 && collections.every((one) => /^[A-Za-z]\w*$/.test(one));
  if (!parameter || !isNamed || collections.length > collectionsMost) return undefined;
  // What stands before the parameter is no collection of its name; what follows it is the one that the identifier ends with.
  if (prefix.split('/').some((segment) => segment !== '' && collections.includes(segment))) return undefined;
  if (suffix !== '' && collections.at(-1) !== suffix.slice(1))
    // `/v1/{parent}/status`, of `service.projects.jobs.getStatus`, asks something of the thing itself.
    return spreading.test(name)
      ? { operation, prefix, parameter, suffix: '', action: `${suffix}${action}`, collections }
      : undefined;
  const within = suffix === '' ? collections.length : collections.length - 1;
  // One that goes through one collection may be any parameter, unless it is called a name.
  return within > (spreading.test(name) ? 0 : 1) ? { operation, prefix, parameter, suffix, action, collections } : undefined;
}

const collectionsMost = 12;

/** A kind of things with the schema of one: what is sent where one is made, or what a list of them has. */
interface Made {
  readonly prefix: string;
  readonly collections: readonly string[];
  readonly schema: At;
  readonly isListed: boolean;
}

function collectionsMade(all: readonly Spread[]): Made[] {
  return all.flatMap(({ operation, prefix, suffix, action, collections }) => {
    const isMaking = suffix !== '' && action === '' && operation.method === 'POST';
    const schema = isMaking ? jsonSchemaOf(operation.body?.content) : undefined;
    return schema && refOf(schema) !== undefined ? [{ prefix, collections, schema, isListed: false }] : [];
  });
}

/** Kinds of which a source lists things, each a schema of its own in the one list of the answer: of them one can be read. */
function collectionsListed(all: readonly Spread[], reader: SourceReader): Made[] {
  return all.flatMap(({ operation, prefix, suffix, action, collections }) => {
    if (suffix === '' || action !== '' || operation.method !== 'GET') return [];
    const answer = reader.follow(jsonSchemaOf(okayOf(operation)) ?? nowhere);
    const properties = answer && reader.map(answer, 'properties');
    const items = Object.keys(properties?.value ?? {}).flatMap((name) => {
      const list = properties && reader.map(properties, name);
      const item = list && Object.hasOwn(list.value, 'items') ? reader.get(list, 'items') : undefined;
      return refOf(item) === undefined ? [] : [item as At];
    });
    return items.length === 1 ? [{ prefix, collections, schema: items[0] as At, isListed: true }] : [];
  });
}

const nowhere: At = { value: undefined, at: '' };

/** The same operation for things of another kind, where the source says it of some kind alone. */
function addOther(one: Spread, other: Made, made: readonly Made[], add: (operation: SourceOperation) => void): void {
  const { operation, collections, action, parameter } = one;
  if (other.prefix !== one.prefix || other.collections.join('.') === collections.join('.')) return;
  if (other.isListed && (operation.method !== 'GET' || action !== '')) return;
  // An action that is asked by `resource` is the same for whatever is named; others are of their own kind.
  if (action !== '' && parameter.name !== 'resource') return;
  const own = made.find((known) => known.collections.join('.') === collections.join('.') && known.prefix === one.prefix);
  const ownRef = own ? refOf(own.schema) : refOf(jsonSchemaOf(okayOf(operation)));
  const inPlace = (content: readonly Content[]): Content[] =>
    content.map((held) => (ownRef !== undefined && refOf(held.schema) === ownRef ? { ...held, schema: other.schema } : held));
  // What another kind is changed by has to be the thing itself.
  const { body } = operation;
  if (action === '' && body !== undefined && !body.content.some(({ schema }) => refOf(schema) === ownRef)) return;
  add(
    spelledOut(
      {
        ...one,
        collections: other.collections,
        operation: {
          ...operation,
          id: undefined,
          body: action === '' && body ? { ...body, content: inPlace(body.content) } : body,
          responses: operation.responses.map((response) => ({ ...response, content: inPlace(response.content) })),
        },
      },
      true,
    ),
  );
}

function okayOf({ responses }: SourceOperation): readonly Content[] | undefined {
  return responses.find(({ status }) => status === '200')?.content;
}

function jsonSchemaOf(content: readonly Content[] | undefined): At | undefined {
  return content?.find(({ type }) => type.startsWith('application/json'))?.schema;
}

function refOf(at: At | undefined): string | undefined {
  const value: Json | undefined = at?.value;
  return isMap(value) && typeof value.$ref === 'string' ? value.$ref : undefined;
}

/** The operation at the path that spells its collections out, each with a parameter of its own. */
function spelledOut({ operation, prefix, parameter, suffix, action, collections }: Spread, isOfOther = false): SourceOperation {
  const named = suffix === '' ? collections : collections.slice(0, -1);
  const names = spelledParameters(named);
  const segments = named.flatMap((collection, at) => [collection, `{${names[at]}}`]);
  const path = `${prefix}/${segments.join('/')}${suffix}${action}`;
  const before = names.slice(0, -1).map((name): SourceParameter => {
    const value: JsonMap = Object.assign(newMap(), { required: true });
    const { at } = parameter.map;
    return { ...parameter, name, map: { value, at }, schema: { value: Object.assign(newMap(), { type: 'string' }), at } };
  });
  const last = names.at(-1);
  const parameters = operation.parameters.flatMap((one) =>
    one === parameter && last !== undefined ? [...before, { ...one, name: last }] : [one],
  );
  const spread = action === '' && suffix === '' ? { spread: { collections, isOfOther } } : {};
  return { ...operation, key: `${operation.method} ${path}`, path, parameters, ...spread };
}

/** The parameters of the collections of a name, as their makers spell them where they do: `projectsId`; one that is there twice is numbered. */
export function spelledParameters(collections: readonly string[]): string[] {
  return collections.map((one, at) => {
    const earlier = collections.slice(0, at).filter((other) => other === one).length;
    return `${one}Id${earlier === 0 ? '' : earlier + 1}`;
  });
}
