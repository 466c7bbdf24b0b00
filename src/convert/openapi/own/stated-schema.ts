import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { expand, fieldWords } from '../../../parts/shape.ts';
import { mapInner, unionOf, unionsOf } from '../../../parts/shapes/branches.ts';
import { holdingOf } from '../../../parts/shapes/keywords.ts';

/**
 * What OpenAPI has no word for is written at its own place, as the word of this language with this before it:
 * `x-ninefold-does` at an operation, `x-ninefold-set` at a property.
 */
export const prefix = 'x-ninefold-';

/** At the top of an export: what the parts state that belongs to no single place of it. */
export const ownKey = 'x-ninefold';

/**
 * `true`: all of this object follows from what stands elsewhere. A list: these words of it do. Reading a document back passes
 * over what follows.
 */
export const followsKey = `${prefix}follows`;

/** A schema stands for this very value, which is no schema: a standing, `true` or `false`. */
export const statedKey = `${prefix}stated`;

/** `long`: what could be written as a short name is written out. `list`: a list is written as `[string]`. */
export const formKey = `${prefix}form`;

/** The forms of a union whose first branch alone is stated: beside it stands what follows. */
export const orRefused = 'or refused';
export const orChosenForm = 'or chosen';

/** Whether of a union the first branch alone is stated. */
function isFirstStated(form: Json | undefined): boolean {
  return form === orRefused || form === orChosenForm;
}

/** The resource that a schema is of. */
export const resourceKey = `${prefix}resource`;

/** The schema of a resource is its whole shape, in place of fields. */
export const valueKey = `${prefix}value`;

/** The resource that a schema was made of for requests. */
export const originKey = `${prefix}of`;

/** Marks the component whose words are the stated payload of errors. */
export const errorPayloadKey = `${prefix}error-payload`;

/** Marks the schema of what a kind of event carries, inside its envelope. */
export const payloadKey = `${prefix}payload`;

/** Whether an object says nothing of its own. */
export function isFollowing(value: Json | undefined): boolean {
  return isMap(value) && value[followsKey] === true;
}

/** The words of an object that follow from elsewhere. */
export function followingWords(value: JsonMap): readonly string[] {
  const words = value[followsKey];
  return Array.isArray(words) ? words.filter((word: Json): word is string => typeof word === 'string') : [];
}

/** The word of this language that a key carries, if it carries one. */
export function carriedWord(key: string): string | undefined {
  return key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
}

/** The base addresses, where they are stated as addresses: one, or a list. */
export function urlsOf(value: Json | undefined): readonly string[] | undefined {
  const list: readonly Json[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
  const urls = list.filter((url): url is string => typeof url === 'string' && url !== 'none' && url !== 'any');
  return urls.length > 0 && urls.length === list.length ? urls : undefined;
}

/** What a reader of schemas knows of the rest of the export. */
export interface SchemaReading {
  /** The resource that a `$ref` names, if it names one. */
  readonly resourceOf: (ref: string) => string | undefined;
}

/** Reads a schema of our own export back as the shape, or the field, that was stated. */
export function readStated(node: Json, reading: SchemaReading): Json {
  if (!isMap(node)) return node;
  if (node[statedKey] !== undefined && Object.keys(node).every((key) => key === statedKey || key === followsKey))
    return node[statedKey];
  const union = isFirstStated(node[formKey]) ? unionOf(node) : undefined;
  if (union) return readStated(union.branches[0] ?? {}, reading);
  const out = ownWords(node, reading);
  readDeprecated(node, out);
  readExtensible(out);
  if (out.shape === true) return wrapped(out);
  if (node[formKey] === 'list' && out.type === 'array' && out.items !== undefined && Object.keys(out).length === 2)
    return [out.items];
  return node[formKey] === 'long' ? out : shortened(out);
}

/** A field whose shape stands under `shape`, beside the words of the field. */
function wrapped(out: OpenMap): JsonMap {
  const words: readonly string[] = fieldWords;
  const field = newMap();
  const shape = newMap();
  for (const [key, value] of Object.entries(out)) {
    if (key !== 'shape') (words.includes(key) && !Array.isArray(value) ? field : shape)[key] = value;
  }
  return { shape: shortened(shape), ...field };
}

const marks: ReadonlySet<string> = new Set([followsKey, formKey, originKey, resourceKey, statedKey]);

function ownWords(node: JsonMap, reading: SchemaReading): OpenMap {
  const out = newMap();
  const follows = followingWords(node);
  for (const [key, value] of Object.entries(node)) {
    if (marks.has(key) || follows.includes(key)) continue;
    const resource = key === '$ref' && typeof value === 'string' ? reading.resourceOf(value) : undefined;
    if (resource !== undefined) out.type = resource;
    else out[carriedWord(key) ?? key] = carriedWord(key) === undefined ? keyword(key, value, reading) : value;
  }
  return out;
}

function keyword(key: string, value: Json, reading: SchemaReading): Json {
  const listed: readonly Json[] | undefined = holdingOf(key) === 'schemas' && Array.isArray(value) ? value : undefined;
  const stated = listed?.filter((branch) => !isFollowing(branch)) ?? value;
  return mapInner<Json>(key, stated, (inner) => readStated(inner, reading));
}

/** What is carried of a deprecation counts while OpenAPI's own flag stands. */
function readDeprecated(node: JsonMap, out: OpenMap): void {
  const carried = node['x-ninefold-deprecated'];
  if (carried === undefined || !isDeprecating(carried) || node.deprecated === true) return;
  delete out.deprecated;
}

/** Whether what `deprecated` says means that something is given up. */
export function isDeprecating(value: Json): boolean {
  if (isMap(value)) return !('$open' in value || '$none' in value || '$any' in value);
  return value === true || (typeof value === 'string' && value !== 'none' && value !== 'any');
}

/** A list of values to which more may come is written as two branches: the list, and its type. */
function readExtensible(out: OpenMap): void {
  const union = out.extensible === true ? unionsOf(out).find(({ isExclusive }) => !isExclusive) : undefined;
  const [listed] = union?.branches ?? [];
  if (!union || !isMap(listed) || listed.enum === undefined) return;
  delete out[union.keyword];
  Object.assign(out, listed);
}

/** The short form that people write, where the words say nothing that it does not. */
function shortened(out: OpenMap): Json {
  const { type } = out;
  if (Array.isArray(type) && type.length === 2 && type[1] === 'null' && typeof type[0] === 'string') out.type = `${type[0]}?`;
  if (out.ref !== undefined) delete out.type;
  shortenEnum(out);
  const keys = Object.keys(out);
  if (keys.length === 1 && typeof out.type === 'string') return out.type;
  const union = unionsOf(out).find(({ isExclusive }) => isExclusive);
  const nullable = nullableName(union?.branches ?? []);
  if (nullable !== undefined && keys.length === 1) return nullable;
  if (union && nullable !== undefined && type === undefined) {
    delete out[union.keyword];
    out.type = nullable;
  }
  const { items } = out;
  if (keys.length === 2 && out.type === 'array' && typeof items === 'string' && !jsonTypes.test(items)) return [items];
  return out;
}

/** An enum has the type of its values; a nullable one takes null without listing it. */
function shortenEnum(out: OpenMap): void {
  const { type, enum: values } = out;
  if (!Array.isArray(values)) return;
  if (typeof type === 'string' && type.endsWith('?')) {
    if (values.at(-1) === null) out.enum = values.slice(0, -1);
    return;
  }
  const inferred = (expand({ enum: values }) as JsonMap).type;
  if (type !== undefined && JSON.stringify(type) === JSON.stringify(inferred)) delete out.type;
}

const jsonTypes = /^(?:string|integer|number|boolean|array|object|null)\??$/;

function nullableName(branches: readonly Json[]): string | undefined {
  const [name, nothing, ...more] = branches;
  if (more.length > 0) return undefined;
  return typeof name === 'string' && !jsonTypes.test(name) && nothing === 'null' ? `${name}?` : undefined;
}
