import type { Json, JsonMap, Pointer } from '../document/document.ts';
import { durationMs } from '../kinds/measures.ts';
import { type Answer, readAnswers } from './answers.ts';
import { type Children, childrenShape, readChildren } from './children.ts';
import { type FollowedChange, type Following, followedChanges, readFollowing } from './effects.ts';
import type { Expression, Fact, Named, Unstated } from './fact.ts';
import { readShape, type Shape, splitField } from './shape.ts';
import { isPlainMap, named, type Source } from './source.ts';
import { type Deprecation, readDeprecation } from './versioning.ts';

/** Part 2: the things the service keeps and the values they are made of. */
export interface Resources {
  readonly at: Pointer;
  readonly all: Fact<Named<Resource>>;
  /** Present when the list is said not to be the whole. */
  readonly others?: Unstated;
}

export interface Resource {
  readonly name: string;
  readonly at: Pointer;
  /** None = a value, not a thing of its own. */
  readonly identifier: Fact<Identifier>;
  readonly fields: Fact<Named<Field>>;
  /** What a value is that is no map of fields; absent = it is one. */
  readonly shape?: Fact<Shape>;
  readonly unique: readonly Unique[];
  /** What its fields together must not be, by name. */
  readonly rules: Named<FieldRule>;
  /** Fields of which exactly one is there. */
  readonly choices: readonly Choice[];
  /** Whether fields that are not stated pass; false unless said. */
  readonly additionalProperties: boolean;
  /** What the service does because one is made, changed or deleted, in the same transaction. */
  readonly following?: Readonly<Partial<Record<FollowedChange, readonly Following[]>>>;
  /** What becomes of its rows once they are deleted; absent = they are gone. */
  readonly kept?: Kept;
  /** Rows that are there from the start, each with its identifier. */
  readonly rows?: readonly StatedRow[];
}

/** A row that is stated. */
export interface StatedRow {
  readonly at: Pointer;
  readonly fields: JsonMap;
}

/** What the fields of a row together must not be. */
export interface FieldRule {
  readonly name: string;
  readonly at: Pointer;
  /** True where it is broken. */
  readonly if: Expression;
  /** The field at which that is told; absent = the row. */
  readonly field?: string;
  readonly message?: string;
}

/** Fields of which exactly one is there. */
export interface Choice {
  readonly at: Pointer;
  readonly fields: readonly string[];
}

export interface Identifier {
  readonly field: string;
  /** `uuid`, `uuidv7`, `ulid`, `integer`, `client`, or a template such as `pcl_{ulid}`; absent = open. */
  readonly generate?: string;
}

export interface Unique {
  readonly at: Pointer;
  readonly fields: readonly string[];
  readonly while?: Expression;
}

export interface Field {
  readonly name: string;
  readonly at: Pointer;
  /** Its schema; the field words are not in it. Open = type, format and allowed values are open. */
  readonly shape: Fact<Shape>;
  readonly required: Fact<boolean>;
  readonly readOnly: boolean;
  readonly writeOnly: boolean;
  readonly immutable: boolean;
  /** Whether null is a value of it, which a patch sets. */
  readonly keepsNull: boolean;
  /** Wrapped, since null is a value. */
  readonly default?: { readonly value: Json };
  /** What sets it, by operation word: `create`, `update`, `replace`, `write`, a transition or an operation. */
  readonly set: Named<Expression>;
  /** A template, or `integer`: counted. */
  readonly generate?: string;
  /** The field for each value of which it is counted anew. */
  readonly within?: string;
  /** What it is reckoned of: the row, and the rows that refer to it. */
  readonly derive?: Expression;
  readonly reveal?: 'once';
  /** The users that see it; absent = all, an empty list = none. */
  readonly visible?: readonly string[];
  readonly writable?: readonly string[];
  /** False = checked and handed on, never kept. */
  readonly stored: boolean;
  readonly ignoreCase: boolean;
  readonly extensible: boolean;
  /** The resource that it refers to, where its shape is a `ref`. */
  readonly ref?: string;
  readonly onDelete?: 'restrict' | 'cascade' | 'clear';
  readonly show?: 'id' | 'expand' | Shape;
  /** The rows that refer to this one, which it shows. */
  readonly children?: Children;
  readonly deprecated?: Deprecation;
}

export function readResources(source: Source): Resources {
  const all = source.fact((value) =>
    named(
      value
        .entries()
        .filter(([name]) => name !== 'others')
        .map(([name, resource]) => [name, readResource(name, resource)] as const),
    ),
  );
  const others = source.has('others') ? source.get('others').unstated() : undefined;
  return { at: source.at, all, ...(others && { others }) };
}

function readResource(name: string, source: Source): Resource {
  const required = source.has('required')
    ? new Set(
        source
          .get('required')
          .listed()
          .flatMap((item) => item.text() ?? []),
      )
    : undefined;
  const shape = source.has('shape') ? source.get('shape').fact((value) => readShape(value), 'tags only') : undefined;
  // What has a shape in place of fields is a value, and has no fields.
  const kept = readKept(source.get('deleted'));
  const whole = shape && !source.has('fields') ? ({ standing: 'none', at: source.get('shape').at } as const) : undefined;
  return {
    name,
    at: source.at,
    identifier: whole && !source.has('identifier') ? whole : source.get('identifier').fact(readIdentifier),
    ...(shape && { shape }),
    fields:
      whole ??
      source
        .get('fields')
        .fact((value) =>
          named(
            value.entries().map(([field, entry]) => [field, readField(field, entry, required, source.get('required'))] as const),
          ),
        ),
    unique: source.get('unique').listed().map(readUnique),
    rules: named(
      source
        .get('rules')
        .entries()
        .flatMap(([rule, entry]) => readRule(rule, entry)),
    ),
    choices: source
      .get('one_of')
      .listed()
      .map((choice) => ({ at: choice.at, fields: choice.words() })),
    additionalProperties: source.get('additionalProperties').flag() ?? false,
    ...readFollowed(source),
    ...(kept && { kept }),
    ...(source.has('rows') && { rows: source.get('rows').items().flatMap(readRow) }),
  };
}

function readRow({ at, value }: Source): StatedRow[] {
  return isPlainMap(value) ? [{ at, fields: value }] : [];
}

function readRule(name: string, source: Source): (readonly [string, FieldRule])[] {
  const condition = source.isMap ? source.get('if').expression() : source.expression();
  if (!condition) return [];
  const field = source.isMap ? source.get('field').text() : undefined;
  const message = source.isMap ? source.get('message').text() : undefined;
  return [
    [
      name,
      { name, at: source.at, if: condition, ...(field !== undefined && { field }), ...(message !== undefined && { message }) },
    ],
  ];
}

function readFollowed(source: Source): Pick<Resource, 'following'> {
  const stated = followedChanges.filter((change) => source.get(change).has('then'));
  if (stated.length === 0) return {};
  return { following: Object.fromEntries(stated.map((change) => [change, readFollowing(source.get(change).get('then'))])) };
}

function readIdentifier(source: Source): Identifier | undefined {
  const field = source.isMap ? source.get('field').text() : source.text();
  if (field === undefined) return undefined;
  const generate = source.get('generate').text();
  return { field, ...(generate !== undefined && { generate }) };
}

function readUnique(source: Source): Unique {
  const fields = source.isMap ? source.get('fields').words() : source.words();
  const condition = source.isMap ? source.get('while').expression() : undefined;
  return { at: source.at, fields, ...(condition && { while: condition }) };
}

function readField(name: string, source: Source, requiredList: ReadonlySet<string> | undefined, listSource: Source): Field {
  const { words, shapeSource } = splitField(source);
  const { shape, children } = readFieldShape(words, shapeSource);
  const required: Fact<boolean> =
    source.isMap && source.has('required') && !Array.isArray(source.get('required').value)
      ? source.get('required').fact((value) => value.flag(), 'tags only')
      : requiredList
        ? { standing: 'stated', value: requiredList.has(name), at: listSource.at }
        : { standing: 'open', at: source.at };
  const ref = shape.standing === 'stated' || shape.standing === 'inferred' ? shape.value.ref : undefined;
  const visible = words.get('visible');
  const writable = words.get('writable');
  const show = words.get('show');
  const deprecated = words.has('deprecated') ? readDeprecation(words.get('deprecated')) : undefined;
  const onDelete = words.get('onDelete').text();
  const generate = words.get('generate').text();
  const within = words.get('within').text();
  const derive = words.get('derive').expression();
  return {
    name,
    at: source.at,
    shape,
    required,
    readOnly: derive !== undefined || (words.get('readOnly').flag() ?? false),
    writeOnly: words.get('writeOnly').flag() ?? false,
    immutable: words.get('immutable').flag() ?? false,
    keepsNull: words.get('null').text() === 'kept',
    ...(words.has('default') && { default: { value: words.get('default').value as Json } }),
    set: words.get('set').expressions(),
    ...(generate !== undefined && { generate }),
    ...(within !== undefined && { within }),
    ...(derive && { derive }),
    ...(words.get('reveal').text() === 'once' && { reveal: 'once' as const }),
    ...(words.has('visible') && { visible: visible.unstated()?.standing === 'none' ? [] : visible.words() }),
    ...(words.has('writable') && { writable: writable.unstated()?.standing === 'none' ? [] : writable.words() }),
    // What refers to the row is kept where it is.
    stored: !children && (words.get('stored').flag() ?? true),
    ignoreCase: words.get('ignore_case').flag() ?? false,
    extensible: words.get('extensible').flag() ?? false,
    ...(ref !== undefined && { ref }),
    ...(isOnDelete(onDelete) && { onDelete }),
    ...(words.has('show') && { show: readShow(show) }),
    ...(children && { children }),
    ...(deprecated && { deprecated }),
  };
}

/** The shape of a field; that of one with children follows from these. */
function readFieldShape(words: Source, source: Source): { readonly shape: Fact<Shape>; readonly children?: Children } {
  const shape = source.fact((value) => readShape(value), 'tags only');
  const stated = shape.standing === 'stated' || shape.standing === 'inferred' ? shape.value : {};
  const children = readChildren(words, stated);
  if (!children) return { shape };
  return { shape: { standing: 'stated', value: childrenShape(children, stated), at: source.at }, children };
}

function isOnDelete(word: string | undefined): word is 'restrict' | 'cascade' | 'clear' {
  return word === 'restrict' || word === 'cascade' || word === 'clear';
}

function readShow(source: Source): 'id' | 'expand' | Shape {
  const word = source.text();
  if (word === 'id' || word === 'expand') return word;
  return readShape(source) ?? {};
}

/** What becomes of the rows of a resource once they are deleted. */
export interface Kept {
  readonly at: Pointer;
  /** How long they are kept; infinite = for ever. Nothing where it cannot be read. */
  readonly keepMs?: number;
  /** What reading one answers; absent = it is refused as gone. */
  readonly answers?: readonly Answer[];
  /** The transition that brings one back. */
  readonly restore?: string;
}

/** Reads `deleted: { keep: 30d, read: 410, restore: undelete }`; nothing where nothing of it is stated. */
function readKept(source: Source): Kept | undefined {
  if (!['keep', 'read', 'restore'].some((word) => source.has(word))) return undefined;
  const keep = source.get('keep').text();
  const keepMs = keep === 'forever' ? Number.POSITIVE_INFINITY : durationMs(keep ?? '');
  const read = source.get('read');
  const restore = source.get('restore').text();
  return {
    at: source.at,
    ...(keepMs !== undefined && { keepMs }),
    ...(read.isMap && { answers: readAnswers(read) }),
    ...(restore !== undefined && { restore }),
  };
}
