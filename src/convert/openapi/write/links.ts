import type { JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { newMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { callableOperations, type Operation } from '../../../parts/operations.ts';
import { identifierParameter, pathParameters } from '../../../parts/payload.ts';
import { machineOf } from '../../../parts/states.ts';
import { titleOf } from '../../operation-names.ts';
import { followsKey } from '../own/words.ts';
import type { Writing } from './writing.ts';

/** Where one can go on from the answer that makes a resource: the operations on it that its first state allows, whose path the answer fills. */
export function linksOf(endpoint: Endpoint, writing: Writing): JsonMap | undefined {
  const effect = statedValue(endpoint.does);
  if ((effect?.verb !== 'create' && effect?.verb !== 'upsert') || isStated(endpoint.response)) return undefined;
  const resource = entryOf(writing.spec.resources.all, effect.resource);
  const identifier = resource && statedValue(resource.identifier);
  if (!resource || !identifier) return undefined;
  const fields = new Set(entriesOf(resource.fields).map(([name]) => name));
  const first = machineOf(writing.spec.states, resource.name)?.initial.map(({ state }) => state) ?? [];
  const links = newMap();
  for (const operation of callableOperations(writing.spec)) {
    const { endpoint: target } = operation;
    const last = target && identifierParameter(target);
    if (!target || last === undefined || operation.resource !== effect.resource || !isOpenTo(operation, first)) continue;
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

/** Whether something may be done in one of these states; without a machine there is nothing in the way. */
function isOpenTo({ endpoint, transition }: Operation, states: readonly string[]): boolean {
  const from = transition && transition.from !== '*' ? transition.from : endpoint?.in;
  return from === undefined || states.length === 0 || from.some((state) => states.includes(state));
}
