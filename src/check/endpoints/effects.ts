import { nearest } from '../../document/nearest.ts';
import { valueAt } from '../../document/place.ts';
import { below } from '../../document/pointer.ts';
import { type Effect, readEffect, resourceVerbs } from '../../parts/effects.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import { ownRow } from '../../parts/path-keys.ts';
import { fieldParameters } from '../../parts/payload.ts';
import { machinesOf } from '../../parts/states.ts';
import { knownTransitions } from '../subject/misspelt.ts';
import { listed, unstated } from '../subject/names.ts';
import { error, type Rule, type Subject, type Wrong } from '../subject/rule.ts';
import { wrongTaking } from './taking.ts';

/** What endpoints do. */
export const effectRules: readonly Rule[] = [
  error(
    'endpoints/does',
    'What an endpoint does cannot be read.',
    'Write a verb and a resource, a transition and a resource, `handler NAME`, or `reply`.',
    ({ endpoints, spec }) =>
      endpoints.flatMap((endpoint) => {
        const at = below(endpoint.at, 'does');
        const text = valueAt(spec.document.tree, at);
        if (typeof text !== 'string' || readEffect(text)) return [];
        return [{ message: `\`${text}\` does not say what is done to what.`, at }];
      }),
  ),
  error(
    'endpoints/unknown-resource',
    'An endpoint acts on a resource that is not stated.',
    'Write the name of a stated resource.',
    (subject) =>
      eachEffect(subject, (effect, at) => ('resource' in effect ? unstated(subject.names.resources, effect.resource, at) : [])),
  ),
  error(
    'endpoints/unknown-transition',
    'An endpoint fires a transition that its resource does not have.',
    'Write the name of a transition, or a verb: create, read, list, update, replace, upsert, delete.',
    (subject) =>
      eachEffect(subject, (effect, at) => (effect.verb === 'transition' ? unknownTransition(subject, effect, at) : [])),
  ),
  error(
    'endpoints/impossible',
    'An endpoint does what its resource cannot do.',
    'Give the resource what it lacks, or let the endpoint do something else.',
    (subject) => eachEffect(subject, (effect, at) => impossible(subject, effect, at)),
  ),
  error(
    'endpoints/no-row',
    'An endpoint acts on one thing, and nothing says which.',
    'Put its identifier into the path, or state `identity: caller.id` or the like.',
    (subject) =>
      eachEffect(subject, (effect, at, endpoint) => {
        const isOne = ['read', 'update', 'replace', 'upsert', 'delete', 'transition'].includes(effect.verb);
        if (!isOne || !('resource' in effect) || endpoint.identity || ownRow(endpoint) || fieldParameters(endpoint).length > 0)
          return [];
        if (valueAt(subject.spec.document.tree, below(endpoint.at, 'identity')) !== undefined) return [];
        return [{ message: `Nothing says which \`${effect.resource}\` is meant.`, at }];
      }),
  ),
  error(
    'endpoints/service-transition',
    'An endpoint fires a transition that the service alone fires.',
    'Take `by: service` from the transition, or the endpoint out.',
    (subject) =>
      subject.operations.flatMap(({ endpoint, transition }) =>
        endpoint && transition?.by
          ? [
              {
                message: `\`${transition.name}\` is fired by the service, never by a caller.`,
                at: below(endpoint.at, 'does'),
                also: [{ message: 'The transition stands here.', at: transition.at }],
              },
            ]
          : [],
      ),
  ),
  error(
    'endpoints/operation-twice',
    'Two endpoints have the same operation, so what speaks of it means both.',
    'Give one of them a name of its own: `as: NAME`.',
    ({ operationsByName }) =>
      [...operationsByName].flatMap(([name, operations]) => {
        const [first, ...others] = operations.flatMap(({ endpoint }) => endpoint ?? []);
        return others.map((endpoint) => ({
          message: `\`${endpoint.key}\` and \`${first?.key}\` are both \`${name}\`.`,
          at: endpoint.at,
          onKey: true,
          ...(first && { also: [{ message: 'The other one.', at: `${first.at}#` }] }),
        }));
      }),
  ),
  error(
    'endpoints/takes',
    '`takes` speaks of a body that is not stated, or of a field or member that is not there.',
    'State `request` at a create, update, replace or upsert, and name a member of it and a field of the resource.',
    (subject) => subject.endpoints.flatMap((endpoint) => (endpoint.takes ? wrongTaking(subject, endpoint, endpoint.takes) : [])),
  ),
];

function eachEffect({ endpoints }: Subject, find: (effect: Effect, at: string, endpoint: Endpoint) => readonly Wrong[]): Wrong[] {
  return endpoints.flatMap((endpoint) => {
    const effect = statedValue(endpoint.does);
    return effect ? find(effect, below(endpoint.at, 'does'), endpoint) : [];
  });
}

type Transitioning = Extract<Effect, { verb: 'transition' }>;

function unknownTransition({ spec, resources }: Subject, { transition, resource }: Transitioning, at: string): Wrong[] {
  const names = resources.has(resource) ? knownTransitions(spec, resource) : undefined;
  if (!names || names.includes(transition)) return [];
  const meant = nearest(transition, [...names, ...resourceVerbs]);
  const remedy = meant
    ? `Write \`${meant} ${resource}\`.`
    : `Write one of ${listed(names)}, or a verb: ${listed(resourceVerbs)}.`;
  if (machinesOf(spec.states, resource).length > 0)
    return [{ message: `\`${resource}\` has no transition \`${transition}\`.`, remedy, at }];
  const message = `\`${resource}\` has no states, so it has no transition \`${transition}\`.`;
  const also = isStated(spec.states.all)
    ? [{ message: 'It is said to have none here.', at: below(spec.states.at, resource) }]
    : [];
  return [{ message, remedy: meant ? remedy : `State its machine, or write a verb: ${listed(resourceVerbs)}.`, at, also }];
}

/** A value has no rows of its own that could be made, found or changed. */
function impossible({ resources }: Subject, effect: Effect, at: string): Wrong[] {
  const resource = 'resource' in effect ? resources.get(effect.resource) : undefined;
  if (resource?.identifier.standing !== 'none') return [];
  const also = [{ message: 'It is said to have no identifier here.', at: resource.identifier.at }];
  const verb = effect.verb === 'transition' ? effect.transition : effect.verb;
  return [{ message: `\`${resource.name}\` is a value without an identifier: there is none to ${verb}.`, at, also }];
}
