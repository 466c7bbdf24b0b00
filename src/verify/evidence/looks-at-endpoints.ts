import { isMap, isSame } from '../../document/values.ts';
import { pageStyle } from '../../kinds/pages/all.ts';
import { derivationsOf } from '../../parts/derived/derivations.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import type { LedgerFact } from '../../parts/facts/ledger.ts';
import { actsAfter, followingName } from '../../parts/followed.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { asText } from '../exchange/as-text.ts';
import { isDone, type TrialExchange } from '../exchange/exchange.ts';
import { tagApart, tagOfChange } from '../make/look.ts';
import { paginationOf } from '../make/pages.ts';
import type { Model } from '../model/model.ts';
import { idIn, rowWith } from '../model/row-shown.ts';
import { isTagRaced, weakTag } from '../trials/endpoints/conditions.ts';
import { keyLooks } from '../trials/endpoints/idempotency.ts';
import { leadsThere, tellsLocation } from '../trials/endpoints/locations.ts';
import { hasTies, ordered, pageAfterPage, sortedBy, sortWords, tiesIn } from '../trials/endpoints/order.ts';
import { whatIsNext } from '../trials/endpoints/page-members.ts';
import { endpointsWithHead, goesWith, hasSafeMethods } from '../trials/endpoints/safe-methods.ts';
import { choiceRefused, chosenShown } from '../trials/endpoints/selected.ts';
import { foundAsItWas, membersOfFound } from '../trials/resources/found-otherwise.ts';
import { looksAtBounds, looksAtWhole } from './looks-at-changes.ts';
import { looksFor } from './looks-at-limits.ts';
import type { HeldClaim, Obligation } from './obligation.ts';

/** An answer with a status of 4xx among those of a claim. */
export function looksAtRefused(name: string, isMeant: (exchange: TrialExchange) => boolean = () => true): Obligation {
  return { name, isMetBy: ({ exchanges }) => exchanges.some((one) => one.status >= 400 && one.status < 500 && isMeant(one)) };
}

function looksAtDone(name: string, isMeant: (exchange: TrialExchange) => boolean = () => true): Obligation {
  return { name, isMetBy: ({ exchanges }) => exchanges.some((one) => isDone(one) && isMeant(one)) };
}

/** Each stated endpoint, and something that is not stated. */
export function looksAtRoutes(model: Model, { kind }: LedgerFact): Obligation[] {
  const { endpoints, spec } = model;
  // Only of what needs neither a parameter nor a body it can be told that it is the path that is not there.
  const told = endpoints.filter(({ method, path }) => kind === 'methods' || (method === 'GET' && !path.includes('{')));
  const stated = told.map(({ key }) => looksAtDone(key, ({ endpoint }) => endpoint?.key === key));
  if (spec.endpoints.others) return stated;
  const safe =
    kind === 'methods' && hasSafeMethods(model) && endpointsWithHead(model).length > 0
      ? [looksAtClaim(goesWith.head, (reason) => reason === goesWith.head)]
      : [];
  return [looksAtRefused('one that is not stated, refused', ({ endpoint }) => endpoint === undefined), ...safe, ...stated];
}

/** Each stated parameter, in a request that was accepted. */
export function looksAtParameters(model: Model, { subject }: LedgerFact): Obligation[] {
  const endpoint = endpointOf(model, subject);
  const stated = (endpoint ? entriesOf(endpoint.parameters) : []).map(([name]) =>
    looksAtDone(`${name} is taken`, ({ sent }) =>
      [sent.query, sent.path, sent.headers].some(
        (given) => Object.hasOwn(given, name) || Object.hasOwn(given, name.toLowerCase()),
      ),
    ),
  );
  if (!endpoint) return stated;
  return [...stated, ...looksAtChoice(model, endpoint), ...looksAtNarrowing(model, endpoint), ...looksAtKeys(model, endpoint)];
}

/** What comes of a key that is sent twice. */
function looksAtKeys(model: Model, endpoint: Endpoint): Obligation[] {
  return keyLooks(model, endpoint).map((name) => looksAtClaim(name, (reason) => reason === name));
}

/** What a list lets through by each filter, and each order that may be asked for, over several pages where there are such. */
function looksAtNarrowing(model: Model, endpoint: Endpoint): Obligation[] {
  if (statedValue(endpoint.does)?.verb !== 'list' || endpoint.response.standing !== 'open') return [];
  const isCutSmall = paginationOf(model, endpoint)?.size !== undefined;
  return entriesOf(endpoint.parameters).flatMap(([name, stated]): Obligation[] => {
    if (stated.in !== 'query') return [];
    if (stated.sorts)
      return [...sortWords({ model }, endpoint, stated)].flatMap(([field, words]) =>
        words
          .map(sortedBy)
          .flatMap((sorted) => [
            sorted,
            ...(isCutSmall ? [sorted + pageAfterPage] : []),
            ...(hasTies(model, endpoint, field) ? [tiesIn(sorted)] : []),
          ])
          .map((reason) => looksFor(reason)),
      );
    if (stated.chooses || stated.filters === undefined) return [];
    return [`filter ${name}`, `filter ${name} shows`].map((reason) => looksAtClaim(reason, (told) => told === reason));
  });
}

/** A name that there is not, refused where fields are chosen. */
function looksAtChoice(model: Model, endpoint: Endpoint | undefined): Obligation[] {
  const effect = statedValue(endpoint?.does ?? { standing: 'open', at: '' });
  if (!endpoint?.select || (effect?.verb !== 'read' && effect?.verb !== 'list')) return [];
  if (model.resource(effect.resource)?.additionalProperties !== false) return [];
  return [looksAtClaim('a choice of what there is not, refused', (reason) => reason.startsWith(choiceRefused))];
}

function looksAtClaim(name: string, isMeant: (reason: string) => boolean): Obligation {
  return { name, isMetBy: ({ claim }) => isMeant(claim.reason) };
}

/** A body that is taken, and one that is not. */
export function looksAtBody(model: Model, fact: LedgerFact): Obligation[] {
  const { subject } = fact;
  const endpoint = endpointOf(model, subject);
  const shape = endpoint && statedValue(model.requestShape(endpoint));
  if (!shape) return [];
  const isNarrow = isMap(shape) && Object.keys(shape).length > 0;
  return [
    looksAtDone('a body that is taken'),
    ...(isNarrow ? [looksAtRefused('one that is refused')] : []),
    ...(isTagRaced(model, subject) ? [looksAtClaim('a weak tag, refused', (reason) => reason === weakTag)] : []),
    ...looksAtBounds(model, fact),
    ...looksAtWhole(model, endpoint),
    ...looksAtKeys(model, endpoint),
  ];
}

/** Each status that it may succeed with. */
export function looksAtSuccess(model: Model, { subject }: LedgerFact): Obligation[] {
  const endpoint = endpointOf(model, subject);
  const statuses =
    endpoint && isStated(endpoint.response)
      ? endpoint.response.value.map(({ status }) => status).filter((one) => /^2\d\d$/.test(one))
      : [];
  const own = [...new Set(statuses)];
  const done =
    own.length > 1
      ? own.map((status) => looksAtDone(`an answer with ${status}`, (exchange) => asText(exchange.status) === status))
      : [looksAtDone('an answer that succeeds')];
  return endpoint
    ? [
        ...done,
        ...looksAtFields(model, endpoint),
        ...looksAtFound(model, endpoint),
        ...(endpoint.select ? [looksAtClaim('fields that were chosen', (reason) => reason === chosenShown)] : []),
        ...looksAtLocation(model, endpoint),
        ...looksAtTag(model, endpoint),
        ...looksAtFollowed(model, endpoint),
        ...looksAtOrder(model, endpoint),
        ...(tellsWhatIsNext(model, endpoint) ? [looksFor(whatIsNext)] : []),
      ]
    : done;
}

/** Rows that the order of a list tells apart, and rows that it does not, where there can be such that callers make. */
function looksAtOrder(model: Model, endpoint: Endpoint): Obligation[] {
  const [first, ...others] = endpoint.order;
  if (first === undefined || statedValue(endpoint.does)?.verb !== 'list') return [];
  const isTied = others.length === 0 && hasTies(model, endpoint, first.field);
  return [looksFor(ordered), ...(isTied ? [looksFor(tiesIn('as it comes'))] : [])];
}

function tellsWhatIsNext({ spec }: Model, { does, pagination, response }: Endpoint): boolean {
  const stated = statedValue(pagination ?? spec.limits.pagination);
  const isList = statedValue(does)?.verb === 'list' && !isStated(response);
  const isTold = stated?.items !== undefined && stated.next !== undefined && stated.hasMore !== undefined;
  return isList && isTold && pageStyle(stated.style).tells === 'token';
}

/** The header fields of every answer, in one that refuses too, where the operation refuses anything. */
function looksAtFields(model: Model, endpoint: Endpoint): Obligation[] {
  const names = Object.keys(endpoint.headers).map((name) => `header ${name}`);
  const isOpen = model.access.isPublic(model.operationOf(endpoint)) && !endpoint.path.includes('{');
  if (names.length === 0 || (isOpen && model.requestShape(endpoint).standing === 'none')) return [];
  const isOfRefusal = looksAtRefused('its header fields in a refusal', (one) => one.endpoint?.key === endpoint.key);
  return [{ ...isOfRefusal, isMetBy: (shown) => names.includes(shown.claim.reason) && isOfRefusal.isMetBy(shown) }];
}

/** What was made is where its `Location` says, where somebody may make it and read it. */
function looksAtLocation(model: Model, endpoint: Endpoint): Obligation[] {
  const reads = resourceReads(model, endpoint);
  const mayFollow = model.callers.some((caller) =>
    [[endpoint], reads].every((some) => some.some((one) => model.access.allows(model.operationOf(one), caller) !== 'no')),
  );
  return tellsLocation(model, endpoint) && (mayFollow || model.callers.length === 0)
    ? [{ name: leadsThere, isMetBy: ({ claim }) => claim.reason === leadsThere }]
    : [];
}

function resourceReads(model: Model, { does }: Endpoint): readonly Endpoint[] {
  return model.endpointsThat('read', resourceOfEffect(statedValue(does)) ?? '');
}

/** A creation that finds has found something. */
function looksAtFound(model: Model, endpoint: Endpoint): Obligation[] {
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  if (!endpoint.exists) return [];
  const found: Obligation = { name: 'a row that is there, found', isMetBy: ({ claim }) => claim.reason === 'found' };
  const rules = resource?.unique ?? [];
  const isMore = resource && rules.some(({ fields }) => membersOfFound(model, endpoint, resource, fields).length > 0);
  return isMore ? [found, looksFor(foundAsItWas)] : [found];
}

/** A strong tag is another one once its row has changed, in whatever way it does, and once what is derived of other rows has. */
function looksAtTag(model: Model, { etag, does }: Endpoint): Obligation[] {
  const effect = statedValue(does);
  if (etag === 'strong' && (effect?.verb === 'update' || effect?.verb === 'replace'))
    return [looksFor('another tag than before', tagOfChange)];
  if (etag !== 'strong' || effect?.verb !== 'read') return [];
  const { resource } = effect;
  const others = derivationsOf(model.spec)
    .of(resource)
    .filter(({ aggregates }) => aggregates.length > 0);
  const derived = new Set(
    derivationsOf(model.spec)
      .of(resource)
      .map(({ field }) => field.name),
  );
  const isChanged = ['update', 'replace', 'transition'].some((verb) => model.endpointsThat(verb, resource).length > 0);
  const isApart: Obligation['isMetBy'] = ({ claim }) => claim.reason === tagApart || claim.reason === 'ETag of a change';
  return [
    ...(isChanged ? [{ name: 'another tag once it has changed', isMetBy: isApart }] : []),
    ...(others.length === 0
      ? []
      : [
          {
            name: 'another tag once what is derived has changed',
            isMetBy: (shown: HeldClaim) => isApart(shown) && differsIn(model, shown, derived),
          },
        ]),
  ];
}

/** Whether two rows were shown that differ in these fields alone. */
function differsIn(model: Model, { exchanges }: HeldClaim, fields: ReadonlySet<string>): boolean {
  const [old, row] = exchanges.map((one) => rowWith(model, one, idIn(model, one)));
  if (!old || !row) return false;
  const names = [...new Set([...Object.keys(old), ...Object.keys(row)])];
  return names.every((name) => fields.has(name) || isSame(old[name], row[name]));
}

/** What follows from a creation or a deletion; of a transition it is the machine's. */
function looksAtFollowed({ spec }: Model, { does, operation }: Endpoint): Obligation[] {
  const effect = statedValue(does);
  if (effect?.verb !== 'create' && effect?.verb !== 'delete') return [];
  return actsAfter(spec, effect).flatMap((act): Obligation[] => {
    if (!act.does || act.children !== undefined) return [];
    const reason = `${followingName(act.does)} follows ${operation}`;
    return [{ name: reason, isMetBy: ({ claim }) => claim.reason === reason }];
  });
}

function endpointOf(model: Model, key: string): Endpoint | undefined {
  return model.endpoints.find((endpoint) => endpoint.key === key);
}
