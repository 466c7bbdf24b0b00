import type { Endpoint } from '../../parts/endpoints.ts';
import type { ErrorRule } from '../../parts/errors.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { namesOperation, resourceOfEffect } from '../../parts/operations.ts';
import { boundByPath, isWritable } from '../../parts/payload.ts';
import type { Field } from '../../parts/resources.ts';
import type { Model } from '../model/model.ts';

/** So many endpoints of one rule are told apart: what arises everywhere is looked at anywhere. */
const apartMost = 12;

/** The endpoints at which a rule of an error has to be looked at, where each has code of its own for it; none where any will do. */
export function arisingAt(model: Model, { when, on, if: condition }: ErrorRule): readonly Endpoint[] {
  const among = model.endpoints.filter((endpoint) => on === undefined || namesOperation(on, model.operationOf(endpoint)));
  const found = condition
    ? on === undefined
      ? []
      : among.filter(isAboutRows)
    : among.filter(arisesAt(model, statedValue(when)));
  return found.length > apartMost ? [] : found;
}

function isAboutRows({ does }: Endpoint): boolean {
  const effect = statedValue(does);
  return effect !== undefined && 'resource' in effect && effect.verb !== 'list';
}

function arisesAt(model: Model, conditions: readonly string[] = []): (endpoint: Endpoint) => boolean {
  const [condition, ...others] = conditions;
  const arises = condition && others.length === 0 ? byCondition[condition] : undefined;
  return (endpoint) => arises?.(model, endpoint) ?? false;
}

type Arises = (model: Model, endpoint: Endpoint) => boolean;

const byCondition: Readonly<Record<string, Arises>> = {
  'precondition.failed': (_, { ifMatch }) => ifMatch !== undefined,
  'precondition.required': (_, { ifMatch }) => ifMatch === 'required',
  'idempotency.reused': (model, endpoint) =>
    endpoint.idempotency !== undefined && model.requestShape(endpoint).standing !== 'none',
  'reference.missing': (model, endpoint) => takes(model, endpoint, (_, { ref }) => ref !== undefined),
  'resource.exists': (model, endpoint) => takes(model, endpoint, (name) => isUnique(model, endpoint, name)),
  'reference.held': holdsBack,
};

const writing: ReadonlySet<string> = new Set(['create', 'upsert', 'update', 'replace']);

/** Whether a body that its resource shapes takes such a field, and another value for it. */
function takes(model: Model, endpoint: Endpoint, isMeant: (name: string, field: Field) => boolean): boolean {
  const effect = statedValue(endpoint.does);
  const resource = model.resource(resourceOfEffect(effect) ?? '');
  if (!effect || !resource || !writing.has(effect.verb) || endpoint.request.standing !== 'open') return false;
  const bound = new Set(boundByPath(model.spec, endpoint));
  const isChange = effect.verb === 'update' || effect.verb === 'replace';
  return entriesOf(resource.fields).some(
    ([name, field]) =>
      isMeant(name, field) && isWritable(model.spec, resource, field) && !bound.has(name) && !(isChange && field.immutable),
  );
}

/** Whether a field has to be unique in rows that were just made, too. */
function isUnique(model: Model, { does }: Endpoint, name: string): boolean {
  const resource = model.resource(resourceOfEffect(statedValue(does)) ?? '');
  return resource?.unique.some((rule) => rule.while === undefined && rule.fields.includes(name)) ?? false;
}

/** Whether a row that it deletes may be held by one that refers to it. */
function holdsBack(model: Model, { does }: Endpoint): boolean {
  const effect = statedValue(does);
  if (effect?.verb !== 'delete') return false;
  const holding = entriesOf(model.spec.resources.all).filter(([name]) => model.endpointsThat('create', name).length > 0);
  return holding.some(([name]) => {
    const fields = model.resource(name)?.fields;
    return (fields ? entriesOf(fields) : []).some(
      ([field, { ref }]) => ref === effect.resource && fields !== undefined && entryOf(fields, field)?.onDelete === 'restrict',
    );
  });
}
