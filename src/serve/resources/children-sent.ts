/** The children that were sent with a row: how they are taken, of a new row and of one that is there. */

import { below } from '../../document/pointer.ts';
import { isSame } from '../../document/values.ts';
import { takenOf } from '../../parts/answers.ts';
import type { Children } from '../../parts/children.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { type Operation, operationsOf } from '../../parts/operations.ts';
import { childShapes, requestShape, sentShape, takesChildren } from '../../parts/payload.ts';
import type { Shape } from '../../parts/shape.ts';
import { named } from '../../parts/source.ts';
import type { ResourceCarry } from '../../parts/versions/carry.ts';
import { CannotCarry } from '../../parts/versions/change-values.ts';
import type { Exchange, Fields, Refusal, Value } from '../exchange/exchange.ts';
import { Bare } from '../http/json.ts';
import type { Validate } from '../http/validation.ts';
import { describeValue, type Violation } from '../http/violation.ts';
import type { Act, ChangedChild, Found, Models, SentChild, SentChildren, Work } from './act.ts';
import { compileMissingReference, droppedFor, isFields, withoutKeys } from './body.ts';
import { keptFields } from './kept-row.ts';
import type { RowModel } from './model.ts';
import { readOnlyIn } from './sent-members.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** How the children of a new row are taken from what was sent. */
export interface ChildrenTaking {
  /** What is wrong with them is told at its place in the body of their parent. */
  sent(exchange: Exchange): { readonly violations: readonly Violation[]; readonly children: SentChildren };
  /** Whether what they refer to is there, and may be read. */
  missing(work: Work, children: SentChildren): Refusal | undefined;
}

/** A field with children, and what each of them is. */
interface Held {
  readonly name: string;
  readonly model: RowModel;
  /** What is not for its caller to write: passed over, as in a body of its own. */
  readonly dropped: ReadonlySet<string>;
}

/** Compiles the taking of children for `create`; nothing where a resource takes none. */
export function compileChildrenTaking(
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  compilation: ViewCompilation,
): ChildrenTaking | undefined {
  const held = [...model.fields.values()].flatMap((field): Held[] => {
    const child = takesChildren(field) && field.children ? models.get(field.children.resource) : undefined;
    if (!child || !field.children) return [];
    return [{ name: field.name, model: child, dropped: new Set([...droppedFor(child, compilation), field.children.field]) }];
  });
  if (held.length === 0) return undefined;
  const validate = compilation.validate(childrenOnly(endpoint, held, model, compilation), 'sent');
  const missingReference = compileMissingReference(compilation);
  return {
    sent(exchange) {
      const body = takenOf(endpoint, exchange.request) as Value;
      const all: Fields = new Bare();
      const refused: Violation[] = [];
      for (const { name, dropped } of held) {
        const value = isFields(body) ? body[name] : undefined;
        if (value !== undefined) all[name] = writtenOf(value, dropped);
        if (endpoint.readOnlySent && !exchange.older) refused.push(...eachOf(name, value, (item) => readOnlyIn(item, dropped)));
      }
      const misfits = validate(all);
      const broken = held.flatMap((one) => rulesBroken(one, all[one.name], misfits.length === 0));
      const children = new Map(held.map(({ name }) => [name, { made: rowsOf(all[name]), changed: [], gone: [] }] as const));
      return { violations: [...refused, ...misfits, ...broken], children };
    },
    missing(work, children) {
      const found = held.flatMap(({ name, model: child }) =>
        missingOf(name, children.get(name)?.made ?? [], (row) => missingReference(work, child, row, undefined)?.violations ?? []),
      );
      return found.length === 0 ? undefined : { when: 'reference.missing', violations: found };
    },
  };
}

/** The shape of a body that has its children alone; they have to be there where the body follows by rule and says so. */
function childrenOnly(endpoint: Endpoint, held: readonly Held[], model: RowModel, { spec }: ViewCompilation): Shape {
  const properties = Object.fromEntries(
    held.flatMap(({ name }) => {
      const field = model.fields.get(name);
      return field ? [[name, sentShape(spec, field)]] : [];
    }),
  );
  const required = endpoint.request.standing === 'open' ? statedValue(requestShape(spec, endpoint))?.required : undefined;
  const needed = Array.isArray(required)
    ? required.filter((name) => typeof name === 'string' && Object.hasOwn(properties, name))
    : [];
  return { type: 'object', properties, required: needed };
}

function writtenOf(value: Value, dropped: ReadonlySet<string>): Value {
  return Array.isArray(value) ? value.map((item: Value) => (isFields(item) ? withoutKeys(item, dropped) : item)) : value;
}

function rowsOf(value: Value): readonly SentChild[] {
  return Array.isArray(value) ? value.filter(isFields).map((fields, index) => ({ index, fields })) : [];
}

/** What children that are made refer to and is not there, each at its place. */
export function missingOf(
  name: string,
  made: readonly SentChild[],
  find: (row: Fields) => readonly Violation[],
): readonly Violation[] {
  return made.flatMap(({ index, fields }) => find(fields).map((one) => violationOfChild(name, index, one)));
}

function rulesBroken({ name, model: { rules } }: Held, value: Value, isWhole: boolean): Violation[] {
  return rules ? eachOf(name, value, (item) => rules(item as Fields, isWhole)) : [];
}

/** What is wrong with each item of a list, at its place in the body. */
function eachOf(name: string, value: Value, find: (item: Value) => readonly Violation[]): Violation[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: Value, index) =>
    isFields(item) ? find(item).map((one) => violationOfChild(name, index, one)) : [],
  );
}

/** A violation of a child, told in the body of its parent. */
export function violationOfChild(name: string, index: number, violation: Violation): Violation {
  return { ...violation, in: 'body', path: `${below('', name)}/${index}${violation.path}` };
}

/** Makes the act of an update, for each child that is named. */
export type CompilePatch = (
  operation: Operation,
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  compilation: ViewCompilation,
) => Act;

/** A field with children that one endpoint takes. */
export interface TakingChildren {
  readonly name: string;
  readonly children: Children;
  readonly child: RowModel;
  readonly model: RowModel;
  readonly endpoint: Endpoint;
  readonly models: Models;
  readonly compilation: ViewCompilation;
}

/** Compiles the taking of one that is made. */
export function compileMade({ child, children, endpoint, compilation }: TakingChildren, carry: ResourceCarry | undefined) {
  const validate: Validate = compilation.validate(childShapes(compilation.spec, children).made ?? {}, 'sent');
  const dropped = new Set([...droppedFor(child, compilation), children.field]);
  return (
    item: Value,
    exchange: Exchange,
    isOlder: boolean,
  ): { readonly fields: Fields; readonly violations: readonly Violation[] } => {
    const raised = isOlder && carry && isFields(item) ? carriedUp(() => carry.up(item)) : item;
    if (raised instanceof CannotCarry) return { fields: {}, violations: [uncarried(item)] };
    if (!isFields(raised)) return { fields: {}, violations: validate(raised as Value) };
    const fields = withoutKeys(raised, dropped);
    const refused = endpoint.readOnlySent && !exchange.older ? readOnlyIn(raised, dropped) : [];
    const misfits = validate(fields);
    return { fields, violations: [...refused, ...misfits, ...(child.rules?.(fields, misfits.length === 0) ?? [])] };
  };
}

/** What one that is there becomes, or what is wrong with what was sent of it. */
interface ToldChange {
  readonly changed?: ChangedChild['take'];
  readonly violations?: readonly Violation[] | undefined;
  readonly missing?: readonly Violation[] | undefined;
  readonly refusal?: Refusal;
}

/** Compiles the taking of one that is there: what was sent of it is a merge patch, as an update of its own takes it. */
export function compileChanged(
  { child, children, endpoint, models, compilation }: TakingChildren,
  carry: ResourceCarry | undefined,
  compilePatch: CompilePatch,
) {
  const operation = operationNamed(`update ${child.name}`, compilation);
  const patch = compilePatch(operation, updateOf(child.name, endpoint), child, models, compilation);
  const apart = new Set([child.identifier.field, children.field]);
  const hidden = new Set([...apart, ...[...droppedFor(child, compilation)].filter((name) => !isStateOf(child, name))]);
  const olderHidden = new Set([...hidden].map((name) => carry?.newer(name)?.older ?? name));
  return (work: Work, exchange: Exchange, found: Found, item: Fields, isOlder: boolean): ToldChange => {
    const body = isOlder && carry ? withoutKeys(item, olderHidden) : withoutKeys(item, apart);
    const raised = isOlder && carry ? carriedUp(() => carry.up(body, {})) : body;
    const request = raised instanceof CannotCarry || !isFields(raised as Value) ? {} : (raised as Fields);
    const asked: Exchange = { ...exchange, request, older: isOlder && carry ? { body, violations: [] } : undefined };
    const take: ChangedChild['take'] = (at, now) => patch.take(at, asked, now);
    const taken = take(work, found);
    if (!('refusal' in taken)) {
      const isMoved = taken.transitions !== undefined && taken.transitions.length > 0;
      return isMoved || !isSame(keptFields(child, found.fields ?? {}), keptFields(child, taken.next)) ? { changed: take } : {};
    }
    const { when, violations } = taken.refusal;
    if (taken.refusal.inVersion) return { refusal: taken.refusal };
    if (when === 'request.invalid') return { violations };
    return when === 'reference.missing' ? { missing: violations } : { refusal: taken.refusal };
  };
}

function isStateOf({ machines }: RowModel, name: string): boolean {
  return machines.some(({ field }) => field === name);
}

function operationNamed(name: string, { spec }: ViewCompilation): Operation {
  return operationsOf(spec).find((one) => one.name === name) ?? { name };
}

/** The endpoint that an update of a child would have, if it were sent by itself. */
function updateOf(resource: string, { at, readOnlySent }: Endpoint): Endpoint {
  const open = { standing: 'open', at } as const;
  return {
    key: `PATCH ${resource}`,
    at,
    method: 'PATCH',
    path: '',
    operation: `update ${resource}`,
    does: { standing: 'stated', value: { verb: 'update', resource }, at },
    parameters: { standing: 'none', at },
    request: open,
    response: open,
    headers: named([]),
    order: [],
    ...(readOnlySent && { readOnlySent }),
  };
}

/** What comes of a value that is carried; what no change can carry is told. @throws whatever else it was. */
function carriedUp(carry: () => unknown): unknown {
  try {
    return carry();
  } catch (failure) {
    if (failure instanceof CannotCarry) return failure;
    throw failure;
  }
}

function uncarried(item: Value): Violation {
  return { in: 'body', path: '', found: describeValue(item), expected: 'a value that the newest version can hold' };
}
