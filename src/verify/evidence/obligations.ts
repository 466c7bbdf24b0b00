import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import type { LedgerFact } from '../../parts/facts/ledger.ts';
import { namesOperation, resourceOfEffect } from '../../parts/operations.ts';
import { isDone } from '../exchange/exchange.ts';
import { missingIn } from '../make/refused-in-version.ts';
import type { Model } from '../model/model.ts';
import { rowsShown } from '../model/row-shown.ts';
import { hasWord, wordInAnyCase, wordRule } from '../trials/authentication/carriers.ts';
import { addressLooks } from '../trials/purpose/told-addresses.ts';
import { movedTold } from '../trials/resources/moved-rows.ts';
import { fromTheStart } from '../trials/resources/stated-rows.ts';
import { olderDoors, thereIn } from '../trials/versioning/there.ts';
import { looksAtBody, looksAtParameters, looksAtRoutes, looksAtSuccess } from './looks-at-endpoints.ts';
import { looksAtCodes, looksAtCondition, looksAtPayloads, looksAtStatus } from './looks-at-errors.ts';
import { looksAtDelivery, looksAtEmission, looksAtKinds, looksAtPayload } from './looks-at-events.ts';
import { looksAtPages, looksAtQuotas, looksAtRates, looksAtSizes, looksAtTimeouts, looksFor } from './looks-at-limits.ts';
import { looksAtStates, looksAtTransitions } from './looks-at-states.ts';
import { looksAtRules, looksAtSchemes, looksAtTokens, looksAtUsers } from './looks-at-users.ts';
import { looksAtNames, looksAtRequired, looksAtValues } from './looks-at-values.ts';
import { looksAtVersions } from './looks-at-versions.ts';
import type { HeldClaim, Obligation } from './obligation.ts';

/** So many looks are asked for of one fact; what is cut is told. */
export const looksMost = 240;

/** What has to have been looked at before a fact is held, as the document and the callers that were given have it. */
export function obligationsOf(model: Model, fact: LedgerFact): readonly Obligation[] {
  const looks = byKind[fact.kind]?.(model, fact) ?? [];
  return looks.length > 0 ? looks : [{ name: 'an answer that could have shown otherwise', isMetBy: () => true }];
}

type Obligations = (model: Model, fact: LedgerFact) => readonly Obligation[];

const byKind: Readonly<Record<string, Obligations>> = {
  functions: looksAtFunctions,
  users: looksAtUsers,
  'base address': looksAtBaseAddress,
  resources: looksAtResources,
  identifiers: looksAtIdentifiers,
  'field names': looksAtNames,
  types: looksAtValues,
  formats: looksAtValues,
  'allowed values': looksAtValues,
  'required flags': looksAtRequired,
  states: looksAtStates,
  transitions: looksAtTransitions,
  methods: looksAtRoutes,
  'path shapes': looksAtRoutes,
  parameters: looksAtParameters,
  'request payload shapes': looksAtBody,
  'response payload shapes': looksAtSuccess,
  schemes: looksAtSchemes,
  'header names': looksAtCarriers,
  'permission rules': looksAtRules,
  'kinds of event': looksAtKinds,
  'payload shapes': looksAtPayload,
  'emitting operations': looksAtEmission,
  'error codes': looksAtCodes,
  'status codes': looksAtStatus,
  'error payload shapes': looksAtPayloads,
  conditions: looksAtCondition,
  'delivery mechanism': looksAtDelivery,
  'token formats': looksAtTokens,
  'rate limits': looksAtRates,
  quotas: looksAtQuotas,
  'size limits': looksAtSizes,
  'time-outs': looksAtTimeouts,
  'pagination bounds': looksAtPages,
  'version identifiers': looksAtVersions,
  'deprecation rules': looksAtDeprecation,
};

/** Where a credential stands: in its own place, and not elsewhere; behind its word in any case. */
function looksAtCarriers(model: Model, { subject }: LedgerFact): Obligation[] {
  const own = model.callers.flatMap(({ credential }) => (credential?.scheme.name === subject ? [credential] : []));
  const looks: Obligation[] = [
    { name: 'an answer that could have shown otherwise', isMetBy: ({ claim }) => claim.reason !== wordInAnyCase },
  ];
  return model.isHeld(wordRule) && own.some(hasWord) ? [...looks, looksFor(wordInAnyCase)] : looks;
}

/** Where rows are there from the start, these, and whatever shows an identifier; and who asks by a name that a row had is led to it, where that is stated. */
function looksAtIdentifiers(model: Model, { subject }: LedgerFact): Obligation[] {
  const isLed = model.endpoints.some(({ moved, does }) => moved && resourceOfEffect(statedValue(does)) === subject);
  const isThere = (model.resource(subject)?.rows ?? []).length > 0;
  return [
    ...(isThere
      ? [{ name: 'an identifier', isMetBy: ({ claim }: HeldClaim) => claim.reason !== fromTheStart }, looksFor(fromTheStart)]
      : []),
    ...(isLed ? [{ name: 'an old name, led from', isMetBy: ({ claim }: HeldClaim) => claim.reason === movedTold }] : []),
  ];
}

/** Each operation of each function was done, and is there in the older versions that have it. */
function looksAtFunctions(model: Model): Obligation[] {
  const named = entriesOf(model.spec.purpose.functions).flatMap(([, names]) => names);
  const done = model.operations
    .filter((operation) => operation.endpoint && namesOperation(named, operation))
    .map(
      ({ name, endpoint }): Obligation => ({
        name: `${name} is done`,
        isMetBy: ({ exchanges }) => exchanges.some((one) => isDone(one) && one.endpoint?.key === endpoint?.key),
      }),
    );
  const older = olderDoors(model).filter(({ isFunction }) => isFunction);
  return [...done, ...older.map(({ operation, version }) => looksFor(thereIn(operation, version)))];
}

function looksAtBaseAddress(model: Model): Obligation[] {
  const below: Obligation = { name: 'an answer below it', isMetBy: ({ claim }) => claim.reason === 'below it' };
  const beside: Obligation = { name: 'none without it', isMetBy: ({ claim }) => claim.reason === 'nowhere else' };
  return model.basePath === '' ? [below] : [below, beside, ...addressLooks(model).map((told) => looksFor(told))];
}

/** Each resource whose rows somebody can be shown. */
function looksAtResources(model: Model): Obligation[] {
  const named = entriesOf(model.spec.resources.all).map(([name]) => name);
  const shown = named.filter((name) => ['read', 'list', 'create'].some((verb) => model.endpointsThat(verb, name).length > 0));
  return shown.map((name) => ({
    name: `a ${name}`,
    isMetBy: ({ exchanges }) => exchanges.some((one) => rowsShown(model, one)?.resource === name),
  }));
}

/** What is seen so long after a day shows whether it ended with that day: later on, one that ended too late is gone too. */
const soonMs = 27 * 3_600_000;

/** That it is told while it is served, and that a version is served until its last day and refused from then on. */
function looksAtDeprecation(model: Model, { subject }: LedgerFact): Obligation[] {
  const { spec } = model;
  const stated = statedValue(entryOf(spec.versioning.versions, subject)?.deprecation);
  if (!stated) return [];
  const told = stated.deprecated === undefined ? [] : [looksFor('that it is told', 'told')];
  if (stated.deprecated !== undefined && missingIn(model, subject))
    told.push(looksFor('that refusals tell it', 'told of refusals'));
  if (stated.sunset === undefined) return told;
  if (stated.isAnnouncedOnly) return [...told, looksFor('that it is served after its end', 'sunset')];
  const overMs = Date.parse(stated.sunset);
  // What was served until a day that has gone by is nobody's to see.
  const isOver = overMs < Date.now();
  const isMeant = ({ toMs }: { readonly toMs: number }): boolean => toMs > overMs === isOver;
  const served: Obligation = {
    name: isOver ? `refused after ${stated.sunset}` : `served until ${stated.sunset}`,
    isMetBy: ({ claim, exchanges }) => claim.reason === 'sunset' && exchanges.some(isMeant),
  };
  const refused: Obligation = {
    name: `refused after ${stated.sunset}`,
    why: 'that is still to come, or long over by the time that it could be asked',
    isMetBy: ({ claim, exchanges }) =>
      (claim.reason === 'sunset' || claim.reason === 'ended') &&
      exchanges.some(({ toMs }) => toMs > overMs && toMs < overMs + soonMs),
  };
  // Of a version that is over, nothing is left that could tell of its end but the refusal.
  return isOver ? [served] : [...told, served, refused];
}
