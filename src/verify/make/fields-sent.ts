import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { boundByPath, isSuppliedByService, isWritable } from '../../parts/payload.ts';
import type { TrialCaller } from '../model/callers.ts';
import type { FactName } from '../model/facts.ts';
import type { Model } from '../model/model.ts';

/** A member that a body may have: where, of which shape, and which facts speak of it. */
export interface SentMember {
  /** The members on the way to it. */
  readonly path: readonly string[];
  readonly shape: JsonMap;
  /** Whether the body has to have it. */
  readonly isNeeded: boolean;
  readonly isImmutable: boolean;
  /** The fact of a kind that speaks of it; the request's own, where no resource states it. */
  fact(kind: 'types' | 'formats' | 'allowed values' | 'required flags'): FactName;
}

/** The members of an endpoint's body, those of the values in it too. */
export function membersSent(model: Model, endpoint: Endpoint, caller: TrialCaller | undefined): SentMember[] {
  const own: FactName = { kind: 'request payload shapes', subject: endpoint.key };
  if (isStated(endpoint.request)) return ofShape(endpoint.request.value, [], () => own);
  const name = resourceOfEffect(statedValue(endpoint.does));
  const shape = model.requestShape(endpoint);
  if (name === undefined || !isStated(shape)) return [];
  const bound = new Set(boundByPath(model.spec, endpoint));
  const isUpdate = statedValue(endpoint.does)?.verb === 'update';
  return ofResource(model, name, { path: [], caller, bound, isUpdate, seen: [] });
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
        : [];
    return [member, ...inner];
  });
}

const none: ReadonlySet<string> = new Set();

function ofShape(shape: JsonMap, path: readonly string[], fact: SentMember['fact']): SentMember[] {
  if (!isMap(shape.properties)) return [];
  const required: readonly Json[] = Array.isArray(shape.required) ? shape.required : [];
  return Object.entries(shape.properties).flatMap(([name, inner]) =>
    isMap(inner) ? [{ path: [...path, name], shape: inner, isNeeded: required.includes(name), isImmutable: false, fact }] : [],
  );
}
