import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import { machinesOf } from '../../parts/states.ts';
import { notADuration } from '../subject/data.ts';
import { badHeaderNames, stateVocabulary, unstated } from '../subject/names.ts';
import { itemPlace } from '../subject/operation-names.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../subject/rule.ts';

/** In which states, under which preconditions and how often a change may be asked for. */
export const changeRules: readonly Rule[] = [
  error(
    'endpoints/unknown-state',
    '`in` names a state that the resource does not have.',
    'Write the name of a state.',
    (subject) =>
      eachIn(subject, (words, at, resource) => {
        const machines = machinesOf(subject.spec.states, resource).map(stateVocabulary);
        return words.flatMap((word, index) => {
          const wrong = machines.map((states) => unstated(states, word, itemPlace(subject, at, words, index)));
          return wrong.every((one) => one.length > 0) ? (wrong[0] ?? []) : [];
        });
      }),
  ),
  error(
    'endpoints/in-several',
    '`in` names a state of two machines, so it is not told which of them is meant.',
    'Give the states of the two machines different names.',
    (subject) =>
      eachIn(subject, (words, at, resource) => {
        const machines = machinesOf(subject.spec.states, resource);
        return words.flatMap((word, index) => {
          const [first, second] = machines.filter(({ states }) => statedValue(states)?.includes(word));
          if (!first || !second) return [];
          const message = `\`${word}\` is a state of \`${first.field}\` and of \`${second.field}\`.`;
          return [{ message, at: itemPlace(subject, at, words, index) }];
        });
      }),
  ),
  error(
    'endpoints/counts-no-update',
    '`counts` stands on an endpoint other than an update, replace or upsert.',
    'Take `counts` out: everything else that is done counts.',
    ({ spec, endpoints }) =>
      endpoints.flatMap(({ at, does, counts }) => {
        const { verb } = statedValue(does) ?? {};
        const place = below(at, 'counts');
        if (!counts || verb === 'update' || verb === 'replace' || verb === 'upsert') return [];
        return valueAt(spec.document.tree, place) === undefined
          ? []
          : [{ message: 'It changes no row that is there.', at: place }];
      }),
  ),
  error(
    'endpoints/in-without-states',
    '`in` names states of a resource that has none.',
    'Take `in` out, or state the machine of the resource.',
    (subject) =>
      eachIn(subject, (_words, at, resource) => {
        const { all } = subject.spec.states;
        const none =
          all.standing === 'none' ||
          (isStated(all) && all.value[resource]?.standing === 'none' && machinesOf(subject.spec.states, resource).length === 0);
        return none ? [{ message: `\`${resource}\` has no states.`, at }] : [];
      }),
  ),
  error(
    'endpoints/in-elsewhere',
    '`in` stands on an endpoint other than an update, replace, upsert or delete.',
    'Take `in` out; a transition says under `from` which states it leaves.',
    (subject) =>
      eachIn(subject, (_words, at, _resource, verb) =>
        ['update', 'replace', 'upsert', 'delete'].includes(verb)
          ? []
          : [{ message: `\`in\` says nothing about a ${verb}.`, at, onKey: true }],
      ),
  ),
  warning(
    'endpoints/if-match-without-etag',
    'An endpoint takes `If-Match`, and no answer about its resource carries an ETag to send.',
    'Add `etag: strong` to the endpoint that reads the resource.',
    ({ endpoints, endpointsByResource }) =>
      endpoints.flatMap(({ at, does, ifMatch, etag }) => {
        const effect = statedValue(does);
        const resource = effect && 'resource' in effect ? effect.resource : undefined;
        if ((ifMatch !== 'required' && ifMatch !== 'accepted') || etag || resource === undefined) return [];
        if (endpointsByResource.get(resource)?.some((endpoint) => endpoint.etag !== undefined)) return [];
        return [
          { message: `No answer about \`${resource}\` carries an ETag that could be sent here.`, at: below(at, 'if_match') },
        ];
      }),
  ),
  warning(
    'endpoints/idempotent-already',
    'An idempotency key is taken where repeating the request changes nothing anyway.',
    'Take `idempotency` out.',
    ({ endpoints, spec }) =>
      endpoints
        .filter(({ method, idempotency }) => idempotency && (method === 'GET' || method === 'HEAD'))
        .filter(({ at }) => valueAt(spec.document.tree, below(at, 'idempotency')) !== undefined)
        .map(({ method, at }) => ({ message: `A ${method} can be repeated without a key.`, at: below(at, 'idempotency') })),
  ),
  error(
    'endpoints/exists',
    'An endpoint is to answer with a row that is there already, and cannot.',
    'State `exists` at a `create` of a resource with a `unique` rule, or with an identifier that the client gives.',
    ({ endpoints, resources }) =>
      endpoints.flatMap(({ exists, does, at }) => {
        const effect = statedValue(does);
        if (!exists || !effect) return [];
        const place = below(at, 'exists');
        if (effect.verb !== 'create') return [{ message: 'Nothing is created here.', at: place, onKey: true }];
        const resource = resources.get(effect.resource);
        const isUnique = !resource || resource.unique.length > 0 || statedValue(resource.identifier)?.generate === 'client';
        return isUnique ? [] : [{ message: `Nothing of a \`${effect.resource}\` is unique.`, at: place, onKey: true }];
      }),
  ),
  error(
    'endpoints/read-only',
    'An endpoint is to say what becomes of fields that are read-only, and takes none by rule.',
    'State `read_only` where something is created, updated or replaced by the fields of its resource, or in `defaults`.',
    ({ endpoints, spec }) =>
      endpoints.flatMap(({ at, does, request, takes }) => {
        const place = below(at, 'read_only');
        const verb = statedValue(does)?.verb;
        if (valueAt(spec.document.tree, place) === undefined || verb === undefined) return [];
        if (!['create', 'update', 'replace', 'upsert'].includes(verb))
          return [{ message: 'No fields of a row are sent here.', at: place, onKey: true }];
        if (!isStated(request) && !takes) return [];
        return [
          { message: 'The stated request says what may be sent, and its own shape refuses the rest.', at: place, onKey: true },
        ];
      }),
  ),
  warning(
    'endpoints/empty-unsent',
    'An endpoint says what an empty text of a form is, and takes no form.',
    'Name `application/x-www-form-urlencoded` or `multipart/form-data` under `consumes`, or take `empty` out.',
    ({ endpoints, spec }) =>
      endpoints.flatMap(({ at, consumes = [] }) => {
        const place = below(at, 'empty');
        if (valueAt(spec.document.tree, place) === undefined || consumes.some((type) => /urlencoded|multipart/.test(type)))
          return [];
        return [{ message: 'No form comes here.', at: place, onKey: true }];
      }),
  ),
  error('endpoints/keep', 'How long idempotency keys are kept is no duration.', 'Write a number and a unit: `24h`.', (subject) =>
    subject.endpoints.flatMap(({ at }) => {
      const place = below(below(at, 'idempotency'), 'keep');
      return notADuration(subject, place);
    }),
  ),
  warning(
    'endpoints/body-on-get',
    'A GET or HEAD states a body, which clients and proxies may drop.',
    'Move it into the query, or use POST.',
    ({ endpoints }) =>
      endpoints
        .filter(({ method, request }) => isStated(request) && (method === 'GET' || method === 'HEAD'))
        .map(({ method, at }) => ({ message: `A body on a ${method} may not arrive.`, at: below(at, 'request'), onKey: true })),
  ),
  error(
    'endpoints/media-type',
    'What an endpoint consumes or produces is no media type.',
    'Write a type and a subtype: `application/json`.',
    (subject) =>
      subject.endpoints.flatMap(({ at, consumes = [], produces = [] }) =>
        [['consumes', consumes] as const, ['produces', produces] as const].flatMap(([word, types]) =>
          types.flatMap((type, index) =>
            mediaType.test(type)
              ? []
              : [{ message: `\`${type}\` is no media type.`, at: itemPlace(subject, below(at, word), types, index) }],
          ),
        ),
      ),
  ),
  error(
    'endpoints/header',
    'A header field of every answer has a name that there is not, or is one that follows from the answer.',
    'Write a name of letters, digits and hyphens, and leave out what the answer has by itself.',
    ({ endpoints }) => endpoints.flatMap(({ at, headers }) => badHeaderNames(Object.keys(headers), below(at, 'headers'))),
  ),
];

/** RFC 9110 section 8.3.1; a range may stand for a family. */
const mediaType = /^[\w!#$&^.+-]+\/(?:\*|[\w!#$&^.+-]+)\s*(?:;.*)?$/;

function eachIn(
  { endpoints }: Subject,
  find: (words: readonly string[], at: string, resource: string, verb: string) => readonly Wrong[],
): Wrong[] {
  return endpoints.flatMap(({ at, does, in: words }) => {
    const effect = statedValue(does);
    if (!words || !effect) return [];
    return find(words, below(at, 'in'), 'resource' in effect ? effect.resource : '', effect.verb);
  });
}
