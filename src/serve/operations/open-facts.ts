import { repliedWith } from '../../parts/answers.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { isSuppliedByService, isWritable } from '../../parts/payload.ts';
import type { Resource } from '../../parts/resources.ts';
import { machinesOf } from '../../parts/states.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { OpenFact } from '../exchange/open.ts';
import type { ViewCompilation } from '../resources/view-compilation.ts';

/** The open facts without which an endpoint can do nothing at all (section 7 of the language). */
export function doubtsAbout(endpoint: Endpoint, { spec, facts, standIn }: ViewCompilation): OpenFact[] {
  const effect = statedValue(endpoint.does);
  const key = endpoint.key;
  if (!effect)
    return [
      ...facts.about('response payload shapes', key),
      ...facts.about('request payload shapes', key),
      ...facts.about('parameters', key),
    ];
  const stated = isStated(endpoint.response) ? [] : facts.about('response payload shapes', key);
  if (effect.verb === 'handler') return [...stated, ...ownRequest(endpoint, facts.about('request payload shapes', key))];
  if (effect.verb === 'reply') {
    const hasExample = (statedValue(endpoint.response) ?? []).some(
      (answer) => repliedWith(answer).length > 0 || answer.data !== undefined,
    );
    return hasExample ? [] : facts.about('response payload shapes', key);
  }
  const resource = entryOf(spec.resources.all, effect.resource);
  if (!resource)
    return isStated(spec.resources.all)
      ? spec.resources.others
        ? facts.about('resources', 'others')
        : []
      : facts.about('resources', 'service');
  const doubts: OpenFact[] = [];
  if (!isStated(resource.identifier)) doubts.push(...facts.about('identifiers', resource.name));
  else if (resource.identifier.value.generate === undefined && effect.verb === 'create' && !standIn)
    doubts.push(...facts.about('identifiers', resource.name));
  if (!isStated(resource.fields)) doubts.push(...facts.about('field names', resource.name));
  if (effect.verb === 'transition' && machinesOf(spec.states, effect.resource).length === 0)
    doubts.push(...facts.about('transitions', effect.resource));
  return [...doubts, ...ownRequest(endpoint, facts.about('request payload shapes', key))];
}

/** A request shape that is written as open is needed by whoever sends one. */
function ownRequest(endpoint: Endpoint, open: readonly OpenFact[]): readonly OpenFact[] {
  return endpoint.request.standing === 'open' && endpoint.request.question !== undefined ? open : [];
}

/** Whether a query holds more than what pages are asked for with, which needs no naming. */
function asksMore({ call }: Exchange, paging: readonly string[]): boolean {
  return [...new URLSearchParams(call.query).keys()].some((name) => !paging.includes(name));
}

/** What a single request may put in doubt: a field whose type is open, a field that is left out and whose flag is open; and what every one does. */
export function compileDoubts(
  endpoint: Endpoint,
  compilation: ViewCompilation,
  always: readonly OpenFact[],
  paging: readonly string[],
): ((exchange: Exchange) => readonly OpenFact[]) | undefined {
  const { spec, facts } = compilation;
  const effect = statedValue(endpoint.does);
  const query =
    endpoint.parameters.standing === 'open' && endpoint.parameters.question !== undefined
      ? facts.about('parameters', endpoint.key)
      : [];
  const resource = effect && 'resource' in effect ? entryOf(spec.resources.all, effect.resource) : undefined;
  const writes =
    effect?.verb === 'create' || effect?.verb === 'update' || effect?.verb === 'replace' || effect?.verb === 'upsert';
  const fields =
    resource && writes && !isStated(endpoint.request)
      ? openFieldsOf(resource, effect.verb !== 'update', compilation)
      : { sent: [], lacking: [] };
  if (always.length + query.length + fields.sent.length + fields.lacking.length === 0) return undefined;
  return (exchange) => {
    const body =
      typeof exchange.request === 'object' && exchange.request !== null
        ? (exchange.request as Readonly<Record<string, unknown>>)
        : {};
    const doubts = [...always, ...(query.length > 0 && asksMore(exchange, paging) ? query : [])];
    for (const { name, open } of fields.sent) if (body[name] !== undefined) doubts.push(...open);
    for (const { name, open } of fields.lacking)
      if (body[name] === undefined && exchange.pathParams[name] === undefined) doubts.push(...open);
    return doubts;
  };
}

interface OpenField {
  readonly name: string;
  readonly open: readonly OpenFact[];
}

function openFieldsOf(
  resource: Resource,
  isWhole: boolean,
  { spec, facts }: ViewCompilation,
): { sent: OpenField[]; lacking: OpenField[] } {
  const writable = entriesOf(resource.fields).filter(([, field]) => isWritable(spec, resource, field));
  const sent = writable.flatMap(([name, field]): OpenField[] => {
    if (field.shape.standing !== 'open') return [];
    const subject = `${resource.name}.${name}`;
    return [{ name, open: ['types', 'formats', 'allowed values'].flatMap((kind) => facts.about(kind, subject)) }];
  });
  const lacking = writable.flatMap(([name, field]): OpenField[] => {
    if (!isWhole || field.required.standing !== 'open' || isSuppliedByService(field, 'create')) return [];
    return [{ name, open: facts.about('required flags', `${resource.name}.${name}`) }];
  });
  return { sent, lacking };
}
