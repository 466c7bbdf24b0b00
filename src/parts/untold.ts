import type { Endpoint } from './endpoints.ts';
import { entriesOf, isStated, statedValue } from './fact.ts';
import { namesOperation, type Operation, resourceOfEffect } from './operations.ts';
import type { Spec } from './spec.ts';

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
