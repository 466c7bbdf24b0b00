/** The kinds of event of a document, compiled, and what their expressions read of a row. */

import { meansKind, toldAs } from '../../parts/event-telling.ts';
import type { EventKind, Push } from '../../parts/events.ts';
import { soughtIn } from '../../parts/expressions/compile.ts';
import { childNodes, type Node, parseExpression } from '../../parts/expressions/node.ts';
import { toldShape } from '../../parts/expressions/operation-scope.ts';
import { type Expression, entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation, operationsOf } from '../../parts/operations.ts';
import type { Shape } from '../../parts/shape.ts';
import { isPlainMap } from '../../parts/source.ts';
import { type Evaluate, getOrMake, isFailed } from '../exchange/compilation.ts';
import { type Fields, Refused, type Value } from '../exchange/exchange.ts';
import { compileUnseen, type Prune } from '../exchange/visibility.ts';
import { parseStoredValue, toJson } from '../http/json.ts';
import type { Validate } from '../http/validation.ts';
import type { StoredChange } from '../resources/act.ts';
import type { EventsSetting } from './setting.ts';

/** The kinds of event of a document, compiled: which operation emits which, when, and with what. */
export interface Kinds {
  /** Whether nothing is ever emitted. */
  readonly isEmpty: boolean;
  /** The kinds that a stored change emits. */
  emittedBy(change: StoredChange): readonly RecordedKind[];
  named(name: string): RecordedKind | undefined;
  /** Whether a word of a subscriber's list means something: a kind, `parcel.*` or `*`. */
  isKnown(word: string): boolean;
}

export interface RecordedKind {
  readonly name: string;
  /** How it is told: its name and action. */
  readonly told: ReturnType<typeof toldAs>;
  /** Whether a word of a subscriber's list means it. */
  isMeantBy(word: string): boolean;
  readonly payload: Shape;
  /** A payload that a handler gives. */
  readonly validate: Validate;
  /** For what one is emitted each, where that is stated. @throws {Refused} `internal` where that cannot be told, or there are too many. */
  readonly items: ((operation: string, scope: Scope) => readonly Value[]) | undefined;
  /** Whether it is emitted. @throws {Refused} `internal` where that cannot be told. */
  holds(operation: string, scope: Scope): boolean;
  /** What it says of the `whole` row, without what nobody may ever see. @throws {Refused} `internal` where that cannot be told. */
  make(change: StoredChange, scope: Scope, whole: Fields): Value;
  /** A payload that a handler gives, without what nobody may ever see. */
  seen(data: Value): Value;
  /** What `to` reads of the row before and after, and whether it reads parameters. */
  readonly asked: Asked;
  /** Whether what it says or when reads what the change altered, as it was. */
  readonly readsBefore: boolean;
  /** Who receives it, where the document says so. */
  readonly to: ((operation: string) => Evaluate) | undefined;
}

type Scope = Readonly<Record<string, Value>>;

/** Compiles them. Without a way to deliver them, or with their operations or payload open, there are no events. */
export function compileKinds({ compilation }: EventsSetting, isHeard: boolean): Kinds {
  const { spec } = compilation;
  const kinds = isHeard ? entriesOf(spec.events.kinds).flatMap(([, kind]) => compileKind(kind, compilation)) : [];
  const operations = new Map<string, Operation>(operationsOf(spec).map((operation) => [operation.name, operation]));
  const ofModels = new Map<string, Map<string, Map<string, readonly RecordedKind[]>>>();

  function foundFor({ operation, transitions, model, after }: StoredChange): readonly RecordedKind[] {
    const named = operations.get(operation) ?? { name: operation, resource: model.name };
    const isEmitted = ({ on }: { readonly on: readonly string[] }) =>
      on.includes(operation) ||
      transitions.some((transition) => on.includes(`${transition} ${model.name}`)) ||
      (after !== undefined && namesOperation(on, named, 'event'));
    return kinds.filter(isEmitted).map(({ kind }) => kind);
  }

  return {
    isEmpty: kinds.length === 0,
    emittedBy(change) {
      const { operation, transitions, model, after } = change;
      const how = transitions.length === 0 ? '' : transitions.join(' ');
      const word = after === undefined ? `deleted ${how}` : how;
      const known = ofModels.get(model.name)?.get(operation)?.get(word);
      if (known) return known;
      const ofModel = getOrMake(ofModels, model.name, () => new Map<string, Map<string, readonly RecordedKind[]>>());
      const ofOperation = getOrMake(ofModel, operation, () => new Map<string, readonly RecordedKind[]>());
      return getOrMake(ofOperation, word, () => foundFor(change));
    },
    named: (name) => kinds.find(({ kind }) => kind.name === name)?.kind,
    isKnown: (word) => spec.events.others !== undefined || kinds.some(({ kind }) => kind.isMeantBy(word)),
  };
}

/** How events are sent to subscribers, where it is stated. */
export function pushOf({ compilation }: EventsSetting): Push | undefined {
  return statedValue(compilation.spec.events.delivery)?.push;
}

function compileKind(
  kind: EventKind,
  compilation: EventsSetting['compilation'],
): { readonly kind: RecordedKind; readonly on: readonly string[] }[] {
  const { on, payload, if: condition, to, name, data, each } = kind;
  if (!isStated(payload) || on.standing === 'open') return [];
  const shape = payload.value;
  const make = compilePayload(kind, shape, compilation);
  const seen = compileSeen(compileUnseen(compilation.spec, toldShape(compilation.spec, kind) ?? shape));
  const compiled: RecordedKind = {
    name,
    told: toldAs(compilation.spec, name),
    isMeantBy: (word) => meansKind(word, kind),
    payload: shape,
    validate: compilation.validate(shape, 'stored'),
    items: each && compileItems(name, each, compilation),
    holds(operation, scope) {
      if (!condition) return true;
      const value = compilation.expression(condition, operation)(scope);
      if (isFailed(value)) throw failed(`The condition of the event ${name} failed: ${value.reason}`);
      return value === true;
    },
    make: (change, scope, whole) => seen(make(change, scope, whole)),
    seen,
    asked: to ? askedBy(to.source) : nothingAsked,
    readsBefore: [condition, each, ...writtenIn(data)].some((one) => one !== undefined && readsBefore(one.source)),
    to: to && ((operation) => compilation.expression(to, operation)),
  };
  return [{ kind: compiled, on: statedValue(on) ?? [] }];
}

/** For how many things one change emits a kind at the most. */
const itemsMost = 1000;

function compileItems(
  name: string,
  each: Expression,
  compilation: EventsSetting['compilation'],
): NonNullable<RecordedKind['items']> {
  return (operation, scope) => {
    const list = compilation.expression(each, operation)(scope);
    if (isFailed(list)) throw failed(`The list of the event ${name} failed: ${list.reason}`);
    if (!Array.isArray(list)) return [];
    if (list.length > itemsMost)
      throw failed(`The event ${name} is emitted for ${list.length} things, and for ${itemsMost} at the most.`);
    return list;
  };
}

function writtenIn(data: EventKind['data']): readonly Expression[] {
  if (!data) return [];
  return isOne(data) ? [data] : Object.values(data);
}

/** Whether one expression makes the whole. */
function isOne(data: NonNullable<EventKind['data']>): data is Expression {
  return 'source' in data && typeof data.source === 'string';
}

/** What is written of a payload: a copy, since the row itself goes on. */
function compileSeen(unseen: Prune | undefined): (value: Value) => Value {
  if (!unseen) return (value) => value;
  return (value) => {
    const own: Value = parseStoredValue(toJson(value));
    unseen(own);
    return own;
  };
}

function compilePayload(
  { data, name }: EventKind,
  shape: Shape,
  { expression }: EventsSetting['compilation'],
): RecordedKind['make'] {
  const demand = (value: Value): Value => {
    if (isFailed(value)) throw failed(`The payload of the event ${name} failed: ${value.reason}`);
    return value;
  };
  if (!data && typeof shape.ref === 'string')
    return ({ model, before, after }) => (after ?? before)?.[model.identifier.field] ?? null;
  if (!data) {
    const properties = isPlainMap(shape.properties) ? Object.keys(shape.properties) : undefined;
    return (_change, _scope, whole) => (properties ? pick(whole, properties) : whole);
  }
  if (isOne(data)) return ({ operation }, scope) => demand(expression(data, operation)(scope)) ?? null;
  const fields = Object.entries(data);
  return ({ operation }, scope) => {
    const out: Fields = {};
    for (const [field, entry] of fields) {
      const value = demand(expression(entry, operation)(scope));
      if (value !== undefined && value !== null) out[field] = value;
    }
    return out;
  };
}

function pick(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])));
}

function failed(message: string): Refused {
  return new Refused({ when: 'internal', message });
}

/** Which fields of a row an expression reads; `all` where that cannot be told. */
export type FieldNames = ReadonlySet<string> | 'all';

/** What an expression about an event reads of what is gone once the change is stored. */
export interface Asked {
  readonly resource: FieldNames;
  readonly next: FieldNames;
  readonly readsParams: boolean;
}

const none: ReadonlySet<string> = new Set();
const nothingAsked: Asked = { resource: none, next: none, readsParams: false };

/** What an expression reads of the row before and after, and of the parameters. */
function askedBy(source: string): Asked {
  return {
    resource: firstNames(pathsFrom('resource', source)),
    next: firstNames(pathsFrom('next', source)),
    readsParams: pathsFrom('params', source).length > 0,
  };
}

/** Whether an expression reads of an event what its change altered, as it was. */
function readsBefore(source: string): boolean {
  return pathsFrom('event', source).some(([name]) => name === undefined || name === 'before');
}

/** The paths that lead from a name through an expression, as deep as they go: `resource.parcel.merchant` and `resource["parcel"].merchant`. */
export function pathsFrom(root: string, source: string): readonly (readonly string[])[] {
  const parsed = parseExpression(source);
  return 'node' in parsed ? pathsIn(root, parsed.node) : [];
}

/** The resources whose rows an expression looks up, and the fields that it may read of them: all names of fields that it has. */
export function soughtBy(source: string): { readonly resources: readonly string[]; readonly names: readonly string[] } {
  const parsed = parseExpression(source);
  const resources = 'node' in parsed ? soughtIn(parsed.node) : [];
  return { resources, names: resources.length > 0 && 'node' in parsed ? namesIn(parsed.node) : [] };
}

function namesIn(node: Node): string[] {
  const own = node.op === 'field' ? [node.name] : node.op === 'find' ? node.keys.map(({ field }) => field) : [];
  return [...own, ...childNodes(node).flatMap(namesIn)];
}

function firstNames(paths: readonly (readonly string[])[]): FieldNames {
  const names = new Set<string>();
  for (const [name] of paths) {
    if (name === undefined) return 'all';
    names.add(name);
  }
  return names;
}

function pathsIn(root: string, node: Node): string[][] {
  const path = pathTo(root, node);
  return path ? [path] : childNodes(node).flatMap((child) => pathsIn(root, child));
}

function pathTo(root: string, node: Node): string[] | undefined {
  if (node.op === 'name') return node.name === root ? [] : undefined;
  if (node.op === 'has') return pathTo(root, node.field);
  if (node.op === 'field') return pathTo(root, node.of)?.concat(node.name);
  if (node.op !== 'index' || node.index.op !== 'literal') return undefined;
  return pathTo(root, node.of)?.concat(String(node.index.value));
}
