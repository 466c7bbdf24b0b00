import { pointerOf } from '../../document/pointer.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { isWritable, requestShape } from '../../parts/payload.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Carry } from '../../parts/versions/carry.ts';
import { CannotCarry } from '../../parts/versions/change-values.ts';
import { isMembers } from '../../parts/versions/json-merge.ts';
import { compileDefaults } from '../defaults.ts';
import type { OlderRequest, Value } from '../exchange.ts';
import { describeValue, type Violation } from '../wire/violation.ts';
import { valueAt } from './value-at.ts';
import type { OlderVersion } from './versions.ts';

/** A body as its version has it, held to its version's shape, and what the newest makes of it. */
export interface RaisedBody {
  readonly older: OlderRequest;
  readonly request: Value;
}

/** Compiles the raising of an endpoint's bodies; nothing where they are the same in both versions. */
export function compileRaiseBody(
  endpoint: Endpoint,
  older: OlderVersion,
  spec: Spec,
): ((body: Value, user: string | undefined) => RaisedBody) | undefined {
  if (isStated(endpoint.request)) {
    const carry = older.carries.shape(endpoint.request.value);
    return carry && raiseWhole(carry, endpoint, older, () => new Set());
  }
  const effect = statedValue(endpoint.does);
  const writes =
    effect?.verb === 'create' || effect?.verb === 'replace' || effect?.verb === 'upsert' || effect?.verb === 'update';
  const carry = writes ? older.carries.resource(effect.resource) : undefined;
  if (!writes || !carry) return undefined;
  const known = new Map<string, ReadonlySet<string>>();
  const droppedFor = (user: string | undefined) => {
    const found =
      known.get(user ?? '') ?? new Set(unwritable(spec, effect.resource, user).map((name) => carry.newer(name)?.older ?? name));
    known.set(user ?? '', found);
    return found;
  };
  return effect.verb === 'update' ? raisePatch(carry, droppedFor) : raiseWhole(carry, endpoint, older, droppedFor);
}

/** A body that is a whole value. Step 12 refuses what is wrong with it, so that it is only found out here. */
function raiseWhole(
  carry: Carry,
  endpoint: Endpoint,
  older: OlderVersion,
  droppedFor: (user: string | undefined) => ReadonlySet<string>,
): (body: Value, user: string | undefined) => RaisedBody {
  const olderEndpoint = entryOf(older.spec.endpoints.all, endpoint.key) ?? endpoint;
  const shape = statedValue(requestShape(older.spec, olderEndpoint)) ?? {};
  const validate = older.validate(shape, 'sent');
  const fill = compileDefaults(older.spec, shape);
  return (sent, user) => {
    const dropped = droppedFor(user);
    const body = isMembers(sent) ? without(sent, dropped) : sent;
    fill?.(body);
    const violations = validate(body);
    if (violations.length > 0) return { older: { body, violations }, request: sent };
    try {
      return { older: { body, violations }, request: carry.up(body) };
    } catch (failure) {
      return { older: { body, violations: [uncarried(failure, body)] }, request: sent };
    }
  };
}

/** A merge patch is held to its version's shape once it is put onto the row: alone it is no whole value. */
function raisePatch(
  carry: Carry,
  droppedFor: (user: string | undefined) => ReadonlySet<string>,
): (body: Value, user: string | undefined) => RaisedBody {
  return (sent, user) => {
    const body = isMembers(sent) ? without(sent, droppedFor(user)) : sent;
    try {
      return { older: { body, violations: [] }, request: isMembers(body) ? carry.up(body, {}) : body };
    } catch (failure) {
      if (!(failure instanceof CannotCarry)) throw failure;
      return { older: { body, violations: [] }, request: body };
    }
  };
}

/** What is wrong with a value that fits its version and that no change can carry up. @throws whatever else it was. */
export function uncarried(failure: unknown, body: Value): Violation {
  if (!(failure instanceof CannotCarry)) throw failure;
  return {
    in: 'body',
    path: pointerOf(failure.path),
    found: describeValue(valueAt(body, failure.path)),
    expected: 'a value that the newest version can hold',
  };
}

function unwritable(spec: Spec, name: string, user: string | undefined): string[] {
  const resource = entryOf(spec.resources.all, name);
  if (!resource) return [];
  return entriesOf(resource.fields)
    .filter(
      ([, field]) =>
        !isWritable(spec, resource, field) ||
        (field.writable !== undefined && (user === undefined || !field.writable.includes(user))),
    )
    .map(([field]) => field);
}

function without(members: Readonly<Record<string, Value>>, dropped: ReadonlySet<string>): Record<string, Value> {
  const rest: Record<string, Value> = Object.create(null);
  for (const name of Object.keys(members)) if (!dropped.has(name)) rest[name] = members[name];
  return rest;
}
