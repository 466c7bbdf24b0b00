/** What was understood of a document: the nine parts as one typed model, each read with what the others say of it, and what of it is promised. */

import type { Document, Finding, Prose } from '../document/document.ts';
import { below } from '../document/pointer.ts';
import { type Authentication, readAuthentication } from './authentication.ts';
import { type Endpoint, type Endpoints, readEndpoints } from './endpoints.ts';
import { type Errors, readErrors } from './errors.ts';
import { type Events, readEvents } from './events.ts';
import { entriesOf, entryOf, isStated, statedValue } from './fact.ts';
import { type Limits, readLimits } from './limits.ts';
import type { Choosing, Parameter } from './parameters.ts';
import { type Purpose, readPurpose } from './purpose.ts';
import { type Resources, readResources } from './resources.ts';
import { isPlainMap, named, Source } from './source.ts';
import { readStates, type States } from './states.ts';
import { readVersioning, type Versioning } from './versioning.ts';

/** What was understood of a document: the nine parts as one typed model. It holds whatever could be read, sound or not. */
export interface Spec {
  readonly title: string;
  readonly purpose: Purpose;
  readonly resources: Resources;
  readonly states: States;
  readonly endpoints: Endpoints;
  readonly authentication: Authentication;
  readonly events: Events;
  readonly errors: Errors;
  readonly limits: Limits;
  readonly versioning: Versioning;
  readonly prose: readonly Prose[];
  readonly document: Document;
}

export interface ReadSpec {
  readonly spec: Spec;
  readonly findings: readonly Finding[];
}

/** Reads the nine parts out of a document's tree. It never throws; what has the wrong form is open in the model. */
export function readSpec(document: Document): Spec {
  const root = new Source({ document, inferred: inferredPointers(document) }, document.tree, '');
  const resources = readResources(root.get('resources'));
  return {
    title: document.title,
    purpose: readPurpose(root.get('purpose')),
    resources,
    states: readStates(root.get('states')),
    endpoints: filteringLists(readEndpoints(root.get('endpoints')), resources),
    authentication: readAuthentication(root.get('authentication')),
    events: readEvents(root.get('events')),
    errors: readErrors(root.get('errors')),
    limits: readLimits(root.get('limits')),
    versioning: readVersioning(root.get('versioning')),
    prose: document.prose,
    document,
  };
}

/** The facts that `evidence` says a tool read off something, by pointer. */
function inferredPointers(document: Document): Set<string> {
  const evidence = document.tree.evidence;
  if (Array.isArray(evidence)) {
    return new Set(evidence.flatMap((row) => (isPlainMap(row) && typeof row.fact === 'string' ? [row.fact] : [])));
  }
  return new Set(evidence !== undefined && isPlainMap(evidence) ? Object.keys(evidence) : []);
}

/** The endpoints, in which a filter by a field that is a list asks for rows that have the value in it, or one of the values. */
export function filteringLists(endpoints: Endpoints, resources: Resources): Endpoints {
  const { all } = endpoints;
  if (!isStated(all)) return endpoints;
  const value = Object.entries(all.value).map(([key, endpoint]) => [key, withLists(endpoint, resources)] as const);
  return { ...endpoints, all: { ...all, value: named(value) } };
}

function withLists(endpoint: Endpoint, resources: Resources): Endpoint {
  const { parameters, does } = endpoint;
  const effect = statedValue(does);
  if (effect?.verb !== 'list' || !isStated(parameters)) return endpoint;
  const resource = entryOf(resources.all, effect.resource);
  const lists = new Set(
    entriesOf(resource?.fields).flatMap(([name, { shape, children }]) => {
      const { type, items } = statedValue(shape) ?? {};
      const isOfScalars = type === 'array' && isPlainMap(items) && (scalars.has(items.type) || items.ref !== undefined);
      return isOfScalars && !children ? [name] : [];
    }),
  );
  const isByList = ({ filters, op }: Parameter) => filters !== undefined && lists.has(filters) && compared.has(op);
  if (!entriesOf(parameters).some(([, one]) => isByList(one))) return endpoint;
  const value = entriesOf(parameters).map(([name, one]) => [name, isByList(one) ? choosingBy(one) : one] as const);
  return { ...endpoint, parameters: { ...parameters, value: named(value) } };
}

const scalars: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean']);
const compared: ReadonlySet<Parameter['op']> = new Set(['=', 'in', 'contains']);

function choosingBy({ filters = '', ...parameter }: Parameter): Parameter {
  const at = parameter.name === filters ? parameter.at : below(parameter.at, 'filters');
  const chooses: Choosing = { by: 'path', path: filters, at, ignoreCase: false, isAll: false };
  return { ...parameter, chooses };
}

/** A document in which shapes of answers that a tool read off examples are open: they say what a client may see, and promise nothing. */
export function promisedOf(spec: Spec): Spec {
  const { all } = spec.endpoints;
  if (all.standing !== 'stated' && all.standing !== 'inferred') return spec;
  const endpoints = Object.entries(all.value).map(([key, endpoint]) => {
    const { response } = endpoint;
    if (response.standing !== 'stated' || !response.value.some(({ shape }) => shape.standing === 'inferred'))
      return [key, endpoint] as const;
    const value = response.value.map((answer) =>
      answer.shape.standing === 'inferred' ? { ...answer, shape: { standing: 'open' as const, at: answer.shape.at } } : answer,
    );
    return [key, { ...endpoint, response: { ...response, value } }] as const;
  });
  return { ...spec, endpoints: { ...spec.endpoints, all: { ...all, value: named(endpoints) } } };
}
