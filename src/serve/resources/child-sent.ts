import { isSame } from '../../document/values.ts';
import type { Children } from '../../parts/children.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Operation, operationsOf } from '../../parts/operations.ts';
import { childShapes } from '../../parts/payload.ts';
import { named } from '../../parts/source.ts';
import type { ResourceCarry } from '../../parts/versions/carry.ts';
import { CannotCarry } from '../../parts/versions/change-values.ts';
import type { Exchange, Fields, Refusal, Value } from '../exchange/exchange.ts';
import type { Validate } from '../http/ajv.ts';
import { describeValue, type Violation } from '../http/violation.ts';
import type { Act, ChangedChild, Found, Models, Work } from './act.ts';
import { droppedFor, isFields, withoutKeys } from './body.ts';
import { keptFields } from './kept-row.ts';
import type { RowModel } from './model.ts';
import { readOnlyIn } from './read-only-sent.ts';
import type { ViewCompilation } from './view-compilation.ts';

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
