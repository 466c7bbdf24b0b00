import type { Document, Finding, Prose } from '../document/document.ts';
import { type Authentication, readAuthentication } from './authentication.ts';
import { type Endpoints, readEndpoints } from './endpoints.ts';
import { type Errors, readErrors } from './errors.ts';
import { type Events, readEvents } from './events.ts';
import { type Limits, readLimits } from './limits.ts';
import { filteringLists } from './list-filters.ts';
import { type Purpose, readPurpose } from './purpose.ts';
import { type Resources, readResources } from './resources.ts';
import { isPlainMap, Source } from './source.ts';
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
