import type { JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { newMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { callableOperations } from '../../../parts/operations.ts';
import { identifierParameter, pathParameters } from '../../../parts/payload.ts';
import { followsKey } from '../own/words.ts';
import { titleOf } from './names.ts';
import type { Writing } from './writing.ts';

/** Where one can go on from the answer that makes a resource: every operation on it whose path the answer fills. */
export function linksOf(endpoint: Endpoint, writing: Writing): JsonMap | undefined {
  const effect = statedValue(endpoint.does);
  if ((effect?.verb !== 'create' && effect?.verb !== 'upsert') || isStated(endpoint.response)) return undefined;
  const resource = entryOf(writing.spec.resources.all, effect.resource);
  const identifier = resource && statedValue(resource.identifier);
  if (!resource || !identifier) return undefined;
  const fields = new Set(entriesOf(resource.fields).map(([name]) => name));
  const links = newMap();
  for (const operation of callableOperations(writing.spec)) {
    const { endpoint: target } = operation;
    const last = target && identifierParameter(target);
    if (!target || last === undefined || operation.resource !== effect.resource) continue;
    const parameters = newMap();
    for (const name of pathParameters(target.path)) {
      const field = name === last ? identifier.field : name;
      if (fields.has(field)) parameters[name] = `$response.body#${below('', field)}`;
    }
    if (Object.keys(parameters).length < pathParameters(target.path).length) continue;
    const operationId = writing.operationId(operation);
    links[operationId] = { operationId, parameters, description: `${titleOf(operation.name)}.`, [followsKey]: true };
  }
  return Object.keys(links).length > 0 ? links : undefined;
}
