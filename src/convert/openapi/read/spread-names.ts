import type { JsonMap } from '../../../document/document.ts';
import { isMap, newMap } from '../../../document/values.ts';
import type { Content, SourceOperation, SourceParameter } from './operation.ts';
import { type At, type MapAt, refOf, type SourceReader } from './reader.ts';

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
  const made = collectionsMade(all, reader);
  for (const one of all) if (one.suffix === '') for (const other of made) addOther(one, other, made, reader, add);
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

/** A kind of things with the schema of one. */
interface Made {
  readonly prefix: string;
  readonly collections: readonly string[];
  readonly schema: At;
  /** Whether they are listed alone: nothing is known of their making, and they can be read and no more. */
  readonly isListed: boolean;
}

/** The kinds that are made or listed in collections of their own: a thing is what a list of them has, else what is sent or answered where one is made, and has a name. */
function collectionsMade(all: readonly Spread[], reader: SourceReader): Made[] {
  const kinds = new Map<string, Made>();
  const ofCollections = all.filter(({ suffix, action }) => suffix !== '' && action === '');
  for (const { operation, prefix, collections } of ofCollections) {
    const key = [prefix, ...collections].join('/');
    const known = kinds.get(key);
    const listed = operation.method === 'GET' ? itemIn(okayOf(operation), reader) : undefined;
    const made = operation.method === 'POST' ? madeBy(operation, reader) : undefined;
    const schema = listed ?? known?.schema ?? made;
    if (schema)
      kinds.set(key, { prefix, collections, schema, isListed: operation.method !== 'POST' && (known?.isListed ?? true) });
  }
  return [...kinds.values()];
}

/** What is sent where a thing is made, or what is answered: the one that has a name, and does not tell of an operation. */
function madeBy(operation: SourceOperation, reader: SourceReader): At | undefined {
  return [jsonSchemaOf(operation.body?.content), jsonSchemaOf(okayOf(operation))].find((schema) => {
    const properties = schema && refAt(schema) !== undefined ? membersOf(schema, reader)?.value : undefined;
    return properties !== undefined && Object.hasOwn(properties, 'name') && !Object.hasOwn(properties, 'done');
  });
}

/** What a list has, where the answer holds one list of things that have a name in the source. */
function itemIn(content: readonly Content[] | undefined, reader: SourceReader): At | undefined {
  const schema = jsonSchemaOf(content);
  const properties = schema && membersOf(schema, reader);
  const items = Object.keys(properties?.value ?? {}).flatMap((name) => {
    const list = properties && reader.map(properties, name);
    const item = list && Object.hasOwn(list.value, 'items') ? reader.get(list, 'items') : undefined;
    return item === undefined || refAt(item) === undefined ? [] : [item];
  });
  return items.length === 1 ? items[0] : undefined;
}

function membersOf(schema: At, reader: SourceReader): MapAt | undefined {
  const map = reader.follow(schema);
  return map && reader.map(map, 'properties');
}

/** The same operation for things of another kind, where the source says it of some kind alone. */
function addOther(
  one: Spread,
  other: Made,
  made: readonly Made[],
  reader: SourceReader,
  add: (operation: SourceOperation) => void,
): void {
  const { operation, collections, action, parameter } = one;
  if (other.prefix !== one.prefix || other.collections.join('.') === collections.join('.')) return;
  if (other.isListed && (operation.method !== 'GET' || action !== '')) return;
  // An action that is asked by `resource` is the same for whatever is named; others are of their own kind.
  if (action !== '' && parameter.name !== 'resource') return;
  const own = made.find((known) => known.collections.join('.') === collections.join('.') && known.prefix === one.prefix);
  const ownRef = refAt(own?.schema ?? madeBy(operation, reader));
  const inPlace = (content: readonly Content[]): Content[] =>
    content.map((held) => (ownRef !== undefined && refAt(held.schema) === ownRef ? { ...held, schema: other.schema } : held));
  // What another kind is changed by has to be the thing itself.
  const { body } = operation;
  if (action === '' && body !== undefined && !body.content.some(({ schema }) => refAt(schema) === ownRef)) return;
  add(
    spelledOut(
      {
        ...one,
        collections: other.collections,
        operation: {
          ...operation,
          id: undefined,
          body: action === '' && body ? { ...body, content: inPlace(body.content) } : body,
          responses:
            action === ''
              ? operation.responses.map((response) => ({ ...response, content: inPlace(response.content) }))
              : operation.responses,
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

function refAt(at: At | undefined): string | undefined {
  return isMap(at?.value) ? refOf(at.value) : undefined;
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
