import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { boundByPath, isSuppliedByService, isWritable } from '../../parts/payload.ts';
import { alternativesOf, conjunctsOf } from '../../parts/shapes/branches.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { FactName } from '../exchange/claim.ts';
import type { Model } from '../model/model.ts';

/** A member that a body may have: where, of which shape, and which facts speak of it. */
export interface SentMember {
  /** The members on the way to it. */
  readonly path: readonly string[];
  readonly shape: JsonMap;
  /** Whether the body has to have it. */
  readonly isNeeded: boolean;
  readonly isImmutable: boolean;
  /** Whether it is one that the shape does not have. */
  readonly isUnknown?: boolean;
  /** The alternative that it belongs to, and where that stands: what stands there has to be one of its values. */
  readonly within?: { readonly path: readonly string[]; readonly shape: JsonMap };
  /** The fact of a kind that speaks of it; the request's own, where no resource states it. */
  fact(kind: 'types' | 'formats' | 'allowed values' | 'required flags'): FactName;
}

/** The members of an endpoint's body, those of the values in it too. */
export function membersSent(model: Model, endpoint: Endpoint, caller: TrialCaller | undefined): SentMember[] {
  const own: FactName = { kind: 'request payload shapes', subject: endpoint.key };
  if (isStated(endpoint.request))
    return ofShape(model, endpoint.request.value, { path: [], fact: () => own, caller, isUpdate: false, depth: 0 });
  const name = resourceOfEffect(statedValue(endpoint.does));
  const shape = model.requestShape(endpoint);
  if (name === undefined || !isStated(shape)) return [];
  const bound = new Set(boundByPath(model.spec, endpoint));
  const verb = statedValue(endpoint.does)?.verb;
  const members = ofResource(model, name, { path: [], caller, bound, isUpdate: verb === 'update', seen: [] });
  // What replaces a row and leaves out what was set once keeps it.
  const mayLack = ({ path, isImmutable }: SentMember) => verb === 'replace' && path.length === 1 && isImmutable;
  return members.map((member) => (mayLack(member) ? { ...member, isNeeded: false } : member));
}

interface Walk {
  readonly path: readonly string[];
  readonly caller: TrialCaller | undefined;
  readonly bound: ReadonlySet<string>;
  readonly isUpdate: boolean;
  readonly seen: readonly string[];
}

function ofResource(model: Model, name: string, walk: Walk): SentMember[] {
  const resource = model.resource(name);
  if (!resource || walk.seen.includes(name) || walk.seen.length > 3) return [];
  return entriesOf(resource.fields).flatMap(([field, stated]) => {
    const isOurs = stated.writable === undefined || (walk.caller !== undefined && stated.writable.includes(walk.caller.user));
    const shape = statedValue(stated.shape);
    if (!shape || !isOurs || walk.bound.has(field) || !isWritable(model.spec, resource, stated)) return [];
    const path = [...walk.path, field];
    const isSupplied = isSuppliedByService(stated, 'create');
    const member: SentMember = {
      path,
      shape,
      isImmutable: stated.immutable,
      isNeeded: !walk.isUpdate && statedValue(stated.required) === true && !isSupplied,
      fact: (kind) => ({ kind, subject: `${name}.${field}` }),
    };
    const inner =
      typeof shape.resource === 'string'
        ? ofResource(model, shape.resource, { ...walk, path, bound: none, seen: [...walk.seen, name] })
        : ofShape(model, shape, {
            path,
            fact: member.fact,
            caller: walk.caller,
            isUpdate: walk.isUpdate,
            depth: walk.seen.length + 1,
          });
    // What is inside of a value that stays as it was does, too.
    return [member, ...(member.isImmutable ? inner.map((one) => ({ ...one, isImmutable: true })) : inner)];
  });
}

const none: ReadonlySet<string> = new Set();

/** The members of a shape, those of what it names, of its branches and of what is in it too. */
function ofShape(model: Model, shape: JsonMap, walk: ShapeWalk): SentMember[] {
  if (walk.depth > depthMax) return [];
  const deeper = { ...walk, depth: walk.depth + 1 };
  const named = typeof shape.resource === 'string' ? model.resource(shape.resource) : undefined;
  if (named?.shape && isStated(named.shape)) return ofShape(model, named.shape.value, deeper);
  if (named) {
    const { path, within } = walk;
    const members = ofResource(model, named.name, { ...walk, bound: none, seen: [] });
    const own = within ? members.map((member) => ({ ...member, within })) : members;
    return [...own, ...closed(named.additionalProperties, path, walk)];
  }
  const branches = alternativesOf<JsonMap>(shape).flatMap((branch) =>
    ofShape(model, branch, { ...deeper, within: { path: walk.path, shape: branch } }),
  );
  const parts = conjunctsOf<JsonMap>(shape).flatMap((part) => ofShape(model, part, deeper));
  const own = isMap(shape.properties) ? Object.entries(shape.properties) : [];
  const required: readonly Json[] = Array.isArray(shape.required) ? shape.required : [];
  const members = own.flatMap(([name, inner]) => {
    if (!isMap(inner)) return [];
    const path = [...walk.path, name];
    return [memberOf(path, inner, required.includes(name), walk), ...ofShape(model, inner, { ...deeper, path })];
  });
  const { items } = shape;
  const at = [...walk.path, '0'];
  const listed = isMap(items) ? [memberOf(at, items, false, walk), ...ofShape(model, items, { ...deeper, path: at })] : [];
  return [...members, ...closed(shape.additionalProperties !== false, walk.path, walk), ...branches, ...parts, ...listed].slice(
    0,
    membersMax,
  );
}

interface ShapeWalk extends Pick<SentMember, 'fact' | 'within'> {
  readonly path: readonly string[];
  readonly caller: TrialCaller | undefined;
  readonly depth: number;
  /** Whether what is there is merged with, so that nothing has to be sent. */
  readonly isUpdate: boolean;
}

const depthMax = 5;
const membersMax = 200;

function memberOf(path: readonly string[], shape: JsonMap, isNeeded: boolean, { fact, within, isUpdate }: ShapeWalk): SentMember {
  return { path, shape, isNeeded: isNeeded && !isUpdate, isImmutable: false, fact, ...(within && { within }) };
}

/** A member that a closed shape does not have: no value of it fits. */
function closed(isOpen: boolean, path: readonly string[], walk: ShapeWalk): SentMember[] {
  return isOpen ? [] : [{ ...memberOf([...path, 'nf_not_stated'], {}, false, walk), isUnknown: true }];
}

/** Whether another row that has the value is in its way. */
export function isUniqueMember(model: Model, endpoint: Endpoint, { path }: SentMember): boolean {
  const resource = resourceOfEffect(statedValue(endpoint.does));
  return resource !== undefined && path.length === 1 && model.uniqueFields(resource).includes(path[0] ?? '');
}
