/** What has to hold before an operation is carried out: a row's tag, its states, and the conditions of the service's own errors. */

import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Row } from '../../store/store.ts';
import { keepShown } from '../callers/operation-access.ts';
import type { Bindings } from '../callers/rules.ts';
import { type Compilation, isFailed, type PreparedExpression, unfit } from '../exchange/compilation.ts';
import type { Exchange, Refusal, Value } from '../exchange/exchange.ts';
import { compilePrune } from '../exchange/visibility.ts';
import { contentTag, evaluateConditions } from '../http/conditions.ts';
import { toJson } from '../http/json.ts';
import type { Changing, Found, Precondition, Work } from './act.ts';
import type { RowModel } from './model.ts';
import type { ViewCompilation } from './view-compilation.ts';

/**
 * Compiles If-Match and If-None-Match of an endpoint; nothing where it takes neither. A tag is good that the caller was given, or that anybody is
 * given who is not known: what is public may be read without a credential and changed with one.
 */
export function compilePrecondition(endpoint: Endpoint, model: RowModel, compilation: ViewCompilation): Precondition | undefined {
  const { ifMatch } = endpoint;
  if (ifMatch !== 'required' && ifMatch !== 'accepted') return undefined;
  const { user } = compilation;
  const reading = compilation.access.reading(model.name, user);
  // What an endpoint says weakly stands for no bytes, and lets nobody change anything (RFC 9110 section 13.1.1).
  const tags = [...new Set([user, undefined])].map((one) => compileRowTag(model, compilation, one));

  /** Nobody finds out by guessing what stands in a row that it may not read. */
  function currentTags(work: Work, { row, fields }: Found): readonly string[] {
    if (!row) return [];
    return reading.isFree || reading.allows(work.scope, fields ?? {}) ? tags.map((tag) => tag(row, work.scope)) : [unmatched];
  }

  return (work, { call }: Exchange, found) => {
    const match = call.headers['if-match'];
    const noneMatch = call.headers['if-none-match'];
    if (match === undefined && noneMatch === undefined)
      return ifMatch === 'required' ? { when: 'precondition.required' } : undefined;
    const verdict = evaluateConditions({
      method: call.method,
      ifMatch: headerText(match),
      ifNoneMatch: headerText(noneMatch),
      current: currentTags(work, found),
    });
    return verdict === 'pass' ? undefined : { when: 'precondition.failed' };
  };
}

/** Something is there, and no tag is its. */
const unmatched = '" "';

function headerText(value: string | string[] | undefined): string | undefined {
  const text = Array.isArray(value) ? value.join(', ') : value;
  return text === undefined ? undefined : ownTagsIn(text);
}

/** Compiles `in`, the states in which an endpoint may change a row; nothing where none are stated. */
export function compileAllowed(endpoint: Endpoint, { machines }: RowModel): Changing['illegalIn'] {
  const named = endpoint.in;
  if (!named || machines.length === 0) return undefined;
  // Of several machines each is asked of which a state is named.
  const asked = machines.flatMap(({ field, states }) => {
    const own = machines.length === 1 ? named : named.filter((state) => states.has(state));
    return own.length === 0 ? [] : [{ field, allowed: new Set<Value>(own) }];
  });
  return ({ fields }) =>
    fields && asked.some(({ field, allowed }) => !allowed.has(fields[field])) ? { when: 'transition.illegal.state' } : undefined;
}

/**
 * The entity tag of a row as a user reads it in this version (RFC 9110 section 8.8): of what is shown alone, so that nothing that is not seen
 * changes it, and nothing of other rows is in it.
 */
export function compileRowTag(
  model: RowModel,
  { spec, version, access }: ViewCompilation,
  user: string | undefined,
): (row: Pick<Row, 'doc'>, scope: Bindings) => string {
  const prune = compilePrune(spec, { resource: model.name }, { user, reveals: false });
  const carry = version?.carries.resource(model.name);
  const shown = access.fieldsShown(model.name, user);
  if (!prune && !carry && !shown) return ({ doc }) => contentTag(doc);
  return (row, scope) => {
    const fields = model.parse(row);
    // Who is not known is shown what rules for anyone show.
    const seen = shown?.(user === undefined ? { ...scope, caller: undefined } : scope, fields);
    prune?.(fields);
    keepShown(fields, seen);
    return contentTag(toJson(carry ? carry.down(fields) : fields));
  };
}

/** The tag of an answer that shows more than the row: the row's own, a point, and its own. */
export function tagWithin(own: string, body: string | Uint8Array | undefined): string {
  return `${own.slice(0, -1)}.${contentTag(body ?? '').slice(1)}`;
}

/** The tags of rows in a list of tags: `If-Match` is about the row, whatever was shown beside it. */
function ownTagsIn(header: string): string {
  return header.replaceAll(/"([^".]+)\.[^".]*"/g, '"$1"');
}

/** As an endpoint says it. */
export function tagAs(etag: 'strong' | 'weak', tag: string): string {
  return etag === 'weak' ? `W/${tag}` : tag;
}

/** The service's own errors at one operation: the first whose condition holds, in document order. */
type OwnErrors = (scope: Readonly<Record<string, Value>>) => Refusal | undefined;

/** Compiles them; nothing where the operation has none. A condition that cannot be evaluated is the fault of what it reads of the request. */
export function compileOwnErrors(
  operation: Operation,
  compilation: Compilation & { readonly standIn?: object | undefined },
  moved: readonly string[] = [],
): OwnErrors | undefined {
  const effect = operation.endpoint;
  const rules = entriesOf(compilation.spec.errors.codes).flatMap(([name, code]) =>
    code.rules.flatMap((rule): { code: string; condition: PreparedExpression }[] => {
      const isMoved = moved.some((one) => rule.on?.includes(one));
      if (!rule.if || (rule.on !== undefined && !isMoved && !isAbout(rule.on, operation))) return [];
      // What follows from a change is refused by the errors that name it.
      if (operation.follows && rule.on === undefined) return [];
      if (effect?.errors && rule.on === undefined && !effect.errors.includes(name)) return [];
      return [{ code: name, condition: compilation.prepare(rule.if, operation.name) }];
    }),
  );
  if (rules.length === 0) return undefined;
  return (scope) => {
    for (const { code, condition } of rules) {
      const value = condition.evaluate(scope);
      // A stand-in has rows that are named and not there, and callers of whom less is known: of what it cannot tell it refuses nothing.
      if (isFailed(value) && compilation.standIn) continue;
      if (isFailed(value)) {
        const evaluated = { expression: condition, operation: operation.name, names: scope };
        const message = `The condition of ${code} failed: ${value.reason}`;
        return unfit(compilation.spec, evaluated, message, `a value of which it can be told whether it is ${code}`);
      }
      if (value === true) return { code };
    }
    return undefined;
  };
}

/** The same for an update, and besides for the transition that it is. */
export function compileMovedErrors(
  operation: Operation,
  { name, machines }: Pick<RowModel, 'name' | 'machines'>,
  compilation: Compilation & { readonly standIn?: object | undefined },
):
  | ((
      scope: Readonly<Record<string, Value>>,
      moved: { readonly transitions?: readonly string[] | undefined },
    ) => Refusal | undefined)
  | undefined {
  const own = compileOwnErrors(operation, compilation);
  const moves = machines.flatMap((machine) => machine.moves(operation.name) ?? []);
  if (moves.length === 0) return own;
  const known = new Map<string, OwnErrors | undefined>();
  const moving = (transitions: readonly string[]): OwnErrors | undefined => {
    const key = transitions.join('\n');
    if (!known.has(key))
      known.set(
        key,
        compileOwnErrors(
          operation,
          compilation,
          transitions.map((one) => `${one} ${name}`),
        ),
      );
    return known.get(key);
  };
  return (scope, { transitions }) => (transitions === undefined ? own : moving(transitions))?.(scope);
}

function isAbout(on: readonly string[], operation: Operation): boolean {
  return operation.follows ? on.includes(operation.name) : namesOperation(on, operation);
}
