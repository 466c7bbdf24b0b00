import type { EventKind, Push } from '../../parts/events.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation, operationsOf } from '../../parts/operations.ts';
import type { Shape } from '../../parts/shape.ts';
import { isPlainMap } from '../../parts/source.ts';
import { type Evaluate, isFailed } from '../exchange/compilation.ts';
import { type Fields, Refused, type Value } from '../exchange/exchange.ts';
import { compileUnseen, type Prune } from '../exchange/visibility.ts';
import type { Validate } from '../http/ajv.ts';
import { parseStored, toJson } from '../http/json.ts';
import type { StoredChange } from '../resources/act.ts';
import { keptFields } from '../resources/kept-row.ts';
import { type Asked, askedBy, nothingAsked } from './asked-fields.ts';
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
  readonly payload: Shape;
  /** A payload that a handler gives. */
  readonly validate: Validate;
  /** Whether it is emitted. @throws {Refused} `internal` where that cannot be told. */
  holds(operation: string, scope: Scope): boolean;
  /** What it says, without what nobody may ever see. @throws {Refused} `internal` where that cannot be told. */
  make(change: StoredChange, scope: Scope): Value;
  /** A payload that a handler gives, without what nobody may ever see. */
  seen(data: Value): Value;
  /** What `to` reads of the row before and after, and whether it reads parameters. */
  readonly asked: Asked;
  /** Who receives it, where the document says so. */
  readonly to: ((operation: string) => Evaluate) | undefined;
}

type Scope = Readonly<Record<string, Value>>;

/** Compiles them. Without a way to deliver them, or with their operations or payload open, there are no events. */
export function compileKinds({ compilation }: EventsSetting, isHeard: boolean): Kinds {
  const { spec } = compilation;
  const kinds = isHeard ? entriesOf(spec.events.kinds).flatMap(([, kind]) => compileKind(kind, compilation)) : [];
  const operations = new Map<string, Operation>(operationsOf(spec).map((operation) => [operation.name, operation]));
  const known = new Map<string, readonly RecordedKind[]>();
  const names = new Set(kinds.map(({ kind }) => kind.name));
  return {
    isEmpty: kinds.length === 0,
    emittedBy({ operation, transition, model, after }) {
      const key = `${operation}\n${transition ?? ''}\n${model.name}\n${after === undefined}`;
      const found = known.get(key);
      if (found) return found;
      const named = operations.get(operation) ?? { name: operation, resource: model.name };
      const emitted = kinds
        .filter(
          ({ on }) =>
            on.includes(operation) ||
            (transition && on.includes(`${transition} ${model.name}`)) ||
            (after !== undefined && namesOperation(on, named, 'event')),
        )
        .map(({ kind }) => kind);
      known.set(key, emitted);
      return emitted;
    },
    named: (name) => kinds.find(({ kind }) => kind.name === name)?.kind,
    isKnown: (word) => names.has(word) || spec.events.others !== undefined || [...names].some((name) => matches(word, name)),
  };
}

/** Whether a word of a subscriber's list means a kind. */
export function matches(word: string, kind: string): boolean {
  return word === kind || word === '*' || (word.endsWith('.*') && kind.startsWith(word.slice(0, -1)));
}

/** How events are sent to subscribers, where it is stated. */
export function pushOf({ compilation }: EventsSetting): Push | undefined {
  return statedValue(compilation.spec.events.delivery)?.push;
}

function compileKind(
  kind: EventKind,
  compilation: EventsSetting['compilation'],
): { readonly kind: RecordedKind; readonly on: readonly string[] }[] {
  const { on, payload, if: condition, to, name } = kind;
  if (!isStated(payload) || on.standing === 'open') return [];
  const shape = payload.value;
  const make = compilePayload(kind, shape, compilation);
  const seen = compileSeen(compileUnseen(compilation.spec, shape));
  const compiled: RecordedKind = {
    name,
    payload: shape,
    validate: compilation.validate(shape, 'stored'),
    holds(operation, scope) {
      if (!condition) return true;
      const value = compilation.expression(condition, operation)(scope);
      if (isFailed(value)) throw failed(`The condition of the event ${name} failed: ${value.reason}`);
      return value === true;
    },
    make: (change, scope) => seen(make(change, scope)),
    seen,
    asked: to ? askedBy(to.source) : nothingAsked,
    to: to && ((operation) => compilation.expression(to, operation)),
  };
  return [{ kind: compiled, on: statedValue(on) ?? [] }];
}

/** What is written of a payload: a copy, since the row itself goes on. */
function compileSeen(unseen: Prune | undefined): (value: Value) => Value {
  if (!unseen) return (value) => value;
  return (value) => {
    const own: Value = parseStored(toJson(value));
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
  if (!data) {
    const properties = isPlainMap(shape.properties) ? Object.keys(shape.properties) : undefined;
    return ({ model, before, after }) => {
      const whole = keptFields(model, after ?? before ?? {});
      return properties ? pick(whole, properties) : whole;
    };
  }
  if ('source' in data && typeof data.source === 'string') {
    const whole = { source: data.source, at: String(data.at) };
    return ({ operation }, scope) => demand(expression(whole, operation)(scope)) ?? null;
  }
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
