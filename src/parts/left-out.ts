/** What somebody is not told: fields that are left out, and rows that they may not read. */

import type { Permission } from './authentication.ts';
import type { Endpoint } from './endpoints.ts';
import { entriesOf, isStated, statedValue } from './fact.ts';
import { namesOperation, type Operation, resourceOfEffect } from './operations.ts';
import type { Field } from './resources.ts';
import type { Spec } from './spec.ts';

/** A user, nobody who is known, or whoever it may be. */
type Who = { readonly user: string | undefined } | 'anybody';

/** The operations that show rows of a resource: those that read one, and its lists. */
export function showingOperations(spec: Spec, resource: string): Operation[] {
  return entriesOf(spec.endpoints.all).flatMap(([, endpoint]) => {
    const effect = statedValue(endpoint.does);
    const isShowing = effect?.verb === 'read' || effect?.verb === 'list';
    return isShowing && resourceOfEffect(effect) === resource ? [{ name: endpoint.operation, resource, endpoint }] : [];
  });
}

/** The rules that show rows of a resource to somebody. */
function showingRules(spec: Spec, resource: string, who: Who): Permission[] {
  const operations = showingOperations(spec, resource);
  return (statedValue(spec.authentication.permissions) ?? []).filter(
    ({ allow, to }) =>
      operations.some((operation) => namesOperation(allow, operation)) &&
      (who === 'anybody' || to === 'anyone' || (who.user !== undefined && to.includes(who.user))),
  );
}

/** The fields, of any resource, that some rule which shows rows to somebody leaves out (`fields: [id, amount]`). */
export function leftOutOf(spec: Spec, who: Who): ReadonlySet<Field> {
  return remembered(spec, who, 'some');
}

/** The fields, of any resource, that every rule which shows rows to somebody leaves out. */
export function neverShownTo(spec: Spec, who: Who): ReadonlySet<Field> {
  return remembered(spec, who, 'every');
}

function remembered(spec: Spec, who: Who, by: 'some' | 'every'): ReadonlySet<Field> {
  const known = bySpec.get(spec) ?? new Map<string, ReadonlySet<Field>>();
  bySpec.set(spec, known);
  const key = who === 'anybody' ? `${by} of all` : who.user === undefined ? `${by} of nobody` : `${by} as ${who.user}`;
  const found = known.get(key) ?? leftOut(spec, who, by);
  known.set(key, found);
  return found;
}

const bySpec = new WeakMap<Spec, Map<string, ReadonlySet<Field>>>();
const nothing: ReadonlySet<Field> = new Set();

function leftOut(spec: Spec, who: Who, by: 'some' | 'every'): ReadonlySet<Field> {
  const rules = statedValue(spec.authentication.permissions) ?? [];
  if (rules.every(({ fields }) => fields === undefined)) return nothing;
  const out = new Set<Field>();
  for (const [resource, { fields, identifier }] of entriesOf(spec.resources.all)) {
    const showing = showingRules(spec, resource, who);
    const own = statedValue(identifier)?.field;
    if (own === undefined || showing.every((rule) => rule.fields === undefined)) continue;
    // A resource that whoever asks may look at is shown whole.
    if (showingOperations(spec, resource).some((operation) => namesOperation(spec.authentication.public, operation))) continue;
    for (const [name, field] of entriesOf(fields)) {
      const leaves = ({ fields: shown }: Permission) => shown !== undefined && !shown.includes(name);
      if (name !== own && (by === 'some' ? showing.some(leaves) : showing.every(leaves))) out.add(field);
    }
  }
  return out;
}

/** Whether somebody may call an operation that changes a row, and may not read every row that it changes: it is answered 204 then. */
export function mayBeUntold(spec: Spec, endpoint: Endpoint): boolean {
  const effect = statedValue(endpoint.does);
  const resource = resourceOfEffect(effect);
  const { permissions } = spec.authentication;
  if (!effect || resource === undefined || !changes.has(effect.verb) || isStated(endpoint.response)) return false;
  const reads = operationsOf(spec, resource, 'read');
  const shows = reads.length > 0 ? reads : operationsOf(spec, resource, 'list');
  const operation: Operation = { name: endpoint.operation, resource, endpoint };
  if (!isStated(permissions) || shows.some((show) => namesOperation(spec.authentication.public, show))) return false;
  const allowing = permissions.value.filter(({ allow }) => namesOperation(allow, operation));
  const open = permissions.value.filter(
    ({ allow, scopes, if: condition }) =>
      !condition && scopes.length === 0 && shows.some((show) => !show.endpoint?.identity && namesOperation(allow, show)),
  );
  const isFree = (user: string) => open.some(({ to }) => to === 'anyone' || to.includes(user));
  if (namesOperation(spec.authentication.public, operation)) return !open.some(({ to }) => to === 'anyone');
  return allowing.some(({ to }) => (to === 'anyone' ? !open.some((one) => one.to === 'anyone') : !to.every(isFree)));
}

const changes: ReadonlySet<string> = new Set(['update', 'replace', 'upsert', 'transition']);

function operationsOf(spec: Spec, resource: string, verb: string): Operation[] {
  return entriesOf(spec.endpoints.all).flatMap(([, endpoint]) => {
    const effect = statedValue(endpoint.does);
    const isMeant = effect?.verb === verb && resourceOfEffect(effect) === resource;
    return isMeant ? [{ name: endpoint.operation, resource, endpoint }] : [];
  });
}

/** Whether `event.before` tells of a field: one that everybody sees, and that is kept rather than reckoned. */
export function altersInSight(spec: Spec, field: Field): boolean {
  const { writeOnly, reveal, visible, stored, derive } = field;
  if (leftOutOf(spec, 'anybody').has(field)) return false;
  return !writeOnly && reveal === undefined && visible === undefined && stored && derive === undefined;
}
