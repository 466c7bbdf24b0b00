import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { derivationsOf } from '../../parts/derived/derivations.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import type { LedgerFact } from '../../parts/facts/ledger.ts';
import { boundByPath, isEverShown, isWritable } from '../../parts/payload.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import type { Shape } from '../../parts/shape.ts';
import { machineOn } from '../../parts/states.ts';
import { isDone, type TrialExchange } from '../exchange/exchange.ts';
import { changingEndpoints, takingEndpoint } from '../make/children.ts';
import { fieldOfRule, ruledEndpoints } from '../model/field-rules.ts';
import { isNeverNull } from '../model/fields.ts';
import type { Model } from '../model/model.ts';
import { bodyMedia } from '../model/own-body.ts';
import { rowsShown } from '../model/row-shown.ts';
import { freedLooks } from '../trials/errors/taken-again.ts';
import { countedLooks } from '../trials/resources/counted.ts';
import { derivedEdgeLooks } from '../trials/resources/derived-edges.ts';
import { choosingEndpoints, leftNone } from '../trials/resources/field-choices.ts';
import { refusedThere } from '../trials/resources/field-rules.ts';
import { closedPlaces, otherNotTaken, unstatedRefused } from '../trials/resources/fixed.ts';
import { broughtBackAsItWas, fieldsBroughtBack } from '../trials/resources/kept.ts';
import { namedWrongly, namesOf } from '../trials/resources/named-wrongly.ts';
import { firedStates, statesCounted, wordsRead } from '../trials/resources/rows-counted.ts';
import { hiddenLater, pagedLists } from '../trials/resources/shown-later.ts';
import { hiddenAt, hidingEndpoints } from '../trials/resources/shown-to.ts';
import { turningPoints } from '../trials/resources/turning.ts';
import { sentTwice } from '../trials/resources/unique.ts';
import { otherFields, otherIn } from '../trials/resources/unlike.ts';
import { saidInForms } from '../values/forms.ts';
import { breaksOf } from '../values/variants.ts';
import { looksAtBounds, looksAtChanges } from './looks-at-changes.ts';
import { looksFor } from './looks-at-limits.ts';
import type { Obligation } from './obligation.ts';

/** A value that is shown or taken, each member of an enumeration among them, and one beyond the shape that is refused. */
export function looksAtValues(model: Model, fact: LedgerFact): Obligation[] {
  const { kind, subject } = fact;
  const at = subject.lastIndexOf('.');
  const resource = model.resource(subject.slice(0, at));
  const field = resource && entryOf(resource.fields, subject.slice(at + 1));
  const shape = field && statedValue(field.shape);
  if (!resource || !field || !shape) return [];
  const looks: Obligation[] = kind === 'allowed values' ? membersOf(model, resource, field, shape) : [];
  if (kind === 'allowed values')
    looks.push(
      ...derivedLooks(model, resource, field),
      ...countedLooks(model, resource, field).map((look) => looksFor(look)),
      ...ruleLooks(model, resource, field),
      ...uniqueLooks(model, resource, field),
      ...childrenLooks(model, resource, field),
      ...broughtBackLooks(model, resource, field),
      ...looksAtChanges(model, resource, field),
      ...fixedLooks(model, resource, field),
      ...turningLooks(model, resource, field),
      ...namesOf(model, resource).flatMap((one) => (one.field === field ? [looksFor(namedWrongly(one.endpoint.key))] : [])),
    );
  if (looks.length === 0 && isEverShown(field))
    looks.push({ name: 'a value of it', isMetBy: ({ exchanges }) => exchanges.some(isDone) });
  const { ref, onDelete } = field;
  if (
    kind !== 'formats' &&
    ref !== undefined &&
    onDelete &&
    onDelete !== 'restrict' &&
    model.endpointsThat('delete', ref).length > 0
  )
    looks.push(looksFor(onDelete === 'clear' ? `cleared with its ${ref}` : `gone with its ${ref}`, onDelete));
  if (isBreakable(model, resource, field, shape, kind))
    looks.push({
      name: 'a wrong value, refused',
      isMetBy: ({ exchanges }) => exchanges.some((one) => isRefusalOf(one, field.name)),
    });
  return [...looks, ...looksAtBounds(model, fact)];
}

/** A row or a value as it is shown, and one with a member that is not stated, refused. */
export function looksAtNames(model: Model, { subject }: LedgerFact): Obligation[] {
  const isClosed = model.endpoints.some((endpoint) =>
    closedPlaces(model, endpoint).some(({ resource }) => resource.name === subject),
  );
  return isClosed ? [looksFor('a member that is not stated, refused', unstatedRefused)] : [];
}

/** A value that has to be there was left out wherever rows are made, and taken away wherever they are patched. */
export function looksAtRequired(model: Model, fact: LedgerFact): Obligation[] {
  const { subject } = fact;
  const at = subject.lastIndexOf('.');
  const resource = model.resource(subject.slice(0, at));
  const field = resource && entryOf(resource.fields, subject.slice(at + 1));
  if (!resource || !field) return [];
  const hiding = hidingEndpoints(model, resource, field);
  const paged = pagedLists(model, resource.name);
  const hidden = hiding.flatMap((endpoint) => [
    looksFor(hiddenAt(endpoint.key)),
    ...(paged.includes(endpoint) ? [looksFor(hiddenLater(endpoint.key))] : []),
  ]);
  if (!isTaken(model, resource, field)) return hidden;
  const choices = resource.choices.filter(({ fields }) => fields.includes(field.name));
  const chosen = choices.flatMap(({ fields }) => choosingEndpoints(model, resource.name, fields));
  const taken = model.endpointsThat('update', resource.name).flatMap((endpoint) =>
    isNeverNull(model.spec, endpoint, [field.name]) && isWritableIn(model, endpoint, field)
      ? [
          {
            name: `taken away, refused at ${endpoint.key}`,
            isMetBy: ({ exchanges }) =>
              exchanges.some(
                (one) => one.endpoint?.key === endpoint.key && isRefusalOf(one, field.name) && isNulled(one, field.name),
              ),
          } satisfies Obligation,
        ]
      : [],
  );
  const leftOut = looksAtBounds(model, fact);
  return [...hidden, ...taken, ...leftOut, ...chosen.map(({ key }) => looksFor(leftNone(key)))];
}

function isWritableIn(model: Model, endpoint: Endpoint, { name }: Field): boolean {
  const properties = statedValue(model.requestShape(endpoint))?.properties;
  return isMap(properties) && Object.hasOwn(properties, name);
}

function isNulled({ sent }: TrialExchange, name: string): boolean {
  return isMap(sent.json) && sent.json[name] === null;
}

/** States are looked at as such. */
function membersOf({ spec }: Model, { name }: Resource, field: Field, shape: Shape): Obligation[] {
  if (machineOn(spec.states, name, field.name)) return [];
  const items = isMap(shape.items) ? shape.items : undefined;
  const members = Array.isArray(shape.enum) ? shape.enum : Array.isArray(items?.enum) ? items.enum : [];
  return (members as readonly Json[])
    .filter((member) => member !== null)
    .map((member) => ({
      name: JSON.stringify(member),
      isMetBy: ({ exchanges }) =>
        exchanges.some((one) => isDone(one) && [one.body, one.sent.json].some((json) => hasValue(json, field.name, member, 0))),
    }));
}

/** What is derived of other rows was seen before one of them was there, with it, and without it again. */
function derivedLooks(model: Model, { name }: Resource, field: Field): Obligation[] {
  const derivation = derivationsOf(model.spec)
    .of(name)
    .find((one) => one.field.name === field.name);
  const froms = new Set(derivation?.aggregates.map(({ from }) => from));
  if (froms.size === 0) return derivedEdgeLooks(model, name, field.name).map((reason) => looksFor(reason));
  const looks = ['of none', 'made'];
  if ([...froms].some((from) => model.endpointsThat('delete', from).length > 0)) looks.push('deleted');
  // Which rows count may depend on their state: each that the expression speaks of, and each that callers bring one to, is looked at.
  const source = derivation?.field.derive?.source ?? '';
  for (const from of froms)
    for (const { machine, state } of statesCounted(model, from, new Set(derivation?.itemReads.get(from))))
      if (firedStates(model, machine).includes(state) || new RegExp(`(['"])${RegExp.escape(state)}\\1`).test(source))
        looks.push(`in ${state}`);
  // So may each value of yes or no, or word of a list.
  for (const from of froms)
    looks.push(...wordsRead(model, from, new Set(derivation?.itemReads.get(from))).map(({ says }) => says));
  return [...new Set(looks)].map((look) => ({
    name: `derived, ${look}`,
    isMetBy: ({ claim }) => claim.reason === `derived, ${look}`,
  }));
}

/** Each rule that is told at the field was broken wherever rows are made and changed. */
function ruleLooks(model: Model, resource: Resource, field: Field): Obligation[] {
  const told = Object.values(resource.rules).filter((rule) => fieldOfRule(resource, rule.field) === field.name);
  const ruled = ruledEndpoints(model, resource.name);
  const isPut = ruled.some(({ does }) => statedValue(does)?.verb === 'upsert');
  return told.flatMap((rule) => [
    ...ruled.map(
      ({ key }): Obligation => ({
        name: `${rule.name}, refused at ${key}`,
        isMetBy: ({ claim, exchanges }) =>
          claim.reason === `${rule.name}, refused` && exchanges.some(({ endpoint }) => endpoint?.key === key),
      }),
    ),
    ...(isPut ? [looksFor(refusedThere(rule))] : []),
  ]);
}

/** What is unique was sent twice, and is free again in each state in which it need not be unique. */
function uniqueLooks(model: Model, resource: Resource, field: Field): Obligation[] {
  const making = ['create', 'upsert'].flatMap((verb) => model.endpointsThat(verb, resource.name));
  if (making.every(({ exists }) => exists)) return [];
  return resource.unique
    .filter(({ fields }) => fields.at(-1) === field.name)
    .flatMap((rule) => [
      sentTwice(rule),
      ...otherFields(model, resource, rule).map((name) => otherIn(rule, name)),
      ...freedLooks(model, resource, rule),
    ])
    .map((look) => looksFor(look));
}

/** Children were sent with their row, and refused with it; those that are made alone were seen in it. */
function childrenLooks(model: Model, resource: Resource, field: Field): Obligation[] {
  if (!field.children) return [];
  const isTakenAlong = takingEndpoint(model, resource, field) !== undefined;
  const isMadeAlone = model.endpointsThat('create', field.children.resource).length > 0;
  const isChanged = changingEndpoints(model, resource, field).length > 0;
  const isNamed = isChanged && statedValue(model.resource(field.children.resource)?.identifier)?.generate !== 'client';
  const looks = [
    ...(isTakenAlong ? ['sent', 'refused'] : []),
    ...(isMadeAlone ? ['shown'] : []),
    ...(isChanged ? ['changed'] : []),
    ...(isNamed ? ['others'] : []),
  ];
  return looks.map((look) => ({
    name: `children, ${look}`,
    isMetBy: ({ claim }) => claim.reason === `children, ${look}`,
  }));
}

/** What is deleted and kept was seen as it was once it is brought back. */
function broughtBackLooks(model: Model, resource: Resource, field: Field): Obligation[] {
  const { restore } = resource.kept ?? {};
  const isDeleted = model.endpointsThat('delete', resource.name).length > 0;
  const bringing = restore === undefined || !isDeleted ? undefined : model.endpointOfTransition(resource.name, restore);
  return bringing && fieldsBroughtBack(model, resource, bringing).includes(field.name) ? [looksFor(broughtBackAsItWas)] : [];
}

/** A row was made at each number at which what the field is set to turns, and beside it. */
function turningLooks(model: Model, resource: Resource, field: Field): Obligation[] {
  if (!isEverShown(field)) return [];
  return turningPoints(model, resource, field).map(({ sent, value }) => ({
    name: `set where ${sent} is ${value}`,
    isMetBy: ({ exchanges }) =>
      exchanges.some((one) => rowsShown(model, one)?.rows.some((row) => row[sent] === value && row[field.name] !== undefined)),
  }));
}

/** Another value for what is set once was sent, wherever a row is changed. */
function fixedLooks(model: Model, resource: Resource, field: Field): Obligation[] {
  if (!field.immutable || !isWritable(model.spec, resource, field) || !isEverShown(field)) return [];
  return ['update', 'replace', 'upsert']
    .flatMap((verb) => model.endpointsThat(verb, resource.name))
    .filter((endpoint) => isWritableIn(model, endpoint, field) && !boundByPath(model.spec, endpoint).includes(field.name))
    .map(({ key }) => ({
      name: `another value, not taken at ${key}`,
      isMetBy: ({ claim, exchanges }) =>
        claim.reason === otherNotTaken && exchanges.some(({ endpoint }) => endpoint?.key === key),
    }));
}

const depthMax = 6;

/** Whether a member of that name has a value, or a list with it, anywhere in JSON. */
function hasValue(json: Json | undefined, name: string, value: Json, depth: number): boolean {
  if (depth > depthMax || typeof json !== 'object' || json === null) return false;
  if (Array.isArray(json)) return json.some((item: Json) => hasValue(item, name, value, depth + 1));
  return Object.entries(json).some(([key, own]: [string, Json]) =>
    key === name && (own === value || (Array.isArray(own) && own.includes(value))) ? true : hasValue(own, name, value, depth + 1),
  );
}

/** Whether a body that its resource shapes can say a value of the field that is wrong by a kind of fact. */
function isBreakable(model: Model, resource: Resource, field: Field, shape: Shape, kind: string): boolean {
  const breaks = [...breaksOf(shape)];
  const taking = takersOf(model, resource, field);
  return taking.some((endpoint) =>
    (bodyMedia(endpoint) === 'form' ? saidInForms(shape, breaks) : breaks).some((variant) => variant.kind === kind),
  );
}

/** Whether some operation takes the field in a body that its resource shapes. */
function isTaken(model: Model, resource: Resource, field: Field): boolean {
  return takersOf(model, resource, field).length > 0;
}

function takersOf(model: Model, resource: Resource, field: Field): Endpoint[] {
  if (!isWritable(model.spec, resource, field)) return [];
  return ['create', 'upsert', 'update', 'replace']
    .flatMap((verb) => model.endpointsThat(verb, resource.name))
    .filter(
      (endpoint) =>
        endpoint.request.standing === 'open' &&
        bodyMedia(endpoint) !== undefined &&
        !boundByPath(model.spec, endpoint).includes(field.name),
    );
}

function isRefusalOf({ status, sent }: TrialExchange, name: string): boolean {
  return status >= 400 && status < 500 && isMap(sent.json) && JSON.stringify(sent.json).includes(`${JSON.stringify(name)}:`);
}
