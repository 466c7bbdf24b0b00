import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { toJsonSchema } from '../../parts/schemas.ts';
import type { Session } from '../script/session.ts';
import type { Symbolic } from '../script/symbol.ts';
import { Untestable } from '../untestable.ts';
import { NoValue } from '../values/no-value.ts';
import { type Draft, Reference, valuesOf } from '../values/values.ts';
import type { Row, Wanted } from './row.ts';

export interface Drafting extends Wanted {
  /** The fields that the path binds, and the body leaves out. */
  readonly bound: ReadonlySet<string>;
  /** Makes a row of a resource; gives its identifier. */
  readonly make: (resource: string) => Promise<Symbolic>;
}

/** A valid body for an endpoint, with rows made for what it refers to; nothing where it takes none. @throws {Untestable} */
export async function draftBody(session: Session, endpoint: Endpoint, drafting: Drafting): Promise<Symbolic | undefined> {
  const { model } = session;
  const shape = model.requestShape(endpoint);
  if (shape.standing === 'none') return undefined;
  if (!isStated(shape)) throw new Untestable(`what ${endpoint.key} takes is open`);
  let draft: Draft;
  try {
    draft = session.chance.value(valuesOf(model.spec, shape.value, drafting.style ?? 'plain'));
  } catch (error) {
    if (error instanceof NoValue) throw new Untestable(`no body could be made for ${endpoint.key}: ${error.message}`);
    throw error;
  }
  const whole = isDraftMap(draft) ? withWanted(session, endpoint, draft, drafting) : draft;
  return filled(whole, drafting.make);
}

type DraftMap = { readonly [key: string]: Draft | Symbolic };

function withWanted(
  session: Session,
  endpoint: Endpoint,
  draft: DraftMap,
  { bound, body, parents, changes }: Drafting,
): DraftMap {
  const { model } = session;
  const name = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const effect = statedValue(endpoint.does);
  const out: Record<string, Draft | Symbolic> = {};
  for (const [field, value] of Object.entries(draft)) if (!bound.has(field)) out[field] = value;
  if (effect?.verb !== undefined && ['create', 'upsert', 'replace', 'update'].includes(effect.verb)) {
    for (const field of model.uniqueFields(name)) {
      const isAbsentOptional = out[field] === undefined;
      if (!isAbsentOptional && !(out[field] instanceof Reference))
        out[field] = model.freshValue(name, field) ?? out[field] ?? null;
    }
  }
  if (effect?.verb === 'update') withoutUnions(session, name, out);
  if (changes) keepImmutable(session, name, changes, out);
  const { subscribers } = statedValue(model.spec.events.delivery)?.webhook ?? {};
  if (subscribers?.resource === name && subscribers.events !== undefined && subscribers.events in out)
    out[subscribers.events] = ['*'];
  for (const [field, row] of Object.entries(parents ?? {})) if (field in out) out[field] = row.id;
  return { ...out, ...body };
}

/** A patch of one branch of a union, merged into another, fits neither. */
function withoutUnions(session: Session, name: string, out: Record<string, Draft | Symbolic>): void {
  const resource = session.model.resource(name);
  for (const [field, { shape }] of resource ? entriesOf(resource.fields) : []) {
    if (isStated(shape) && /"(?:oneOf|anyOf)":/.test(JSON.stringify(toJsonSchema(session.model.spec, shape.value, 'sent'))))
      delete out[field];
  }
}

/** What is set once is sent unchanged, or not at all. */
function keepImmutable(session: Session, name: string, row: Row, out: Record<string, Draft | Symbolic>): void {
  const resource = session.model.resource(name);
  for (const [field, { immutable }] of resource ? entriesOf(resource.fields) : []) {
    if (!immutable || !(field in out)) continue;
    const known = row.known[field];
    if (known === undefined) delete out[field];
    else out[field] = known;
  }
}

async function filled(draft: Draft | DraftMap, make: Drafting['make']): Promise<Symbolic> {
  if (draft instanceof Reference) return make(draft.resource);
  if (Array.isArray(draft)) {
    const items: Symbolic[] = [];
    for (const item of draft as readonly Draft[]) items.push(await filled(item, make));
    return items;
  }
  if (!isDraftMap(draft)) return draft as Json;
  const out: Record<string, Symbolic> = {};
  for (const [name, item] of Object.entries(draft)) out[name] = await filled(item as Draft, make);
  return out;
}

/** A map of drafts, and nothing that stands for a value of a run. */
function isDraftMap(draft: Draft | DraftMap): draft is DraftMap {
  return isMap(draft as Json) && [Object.prototype, null].includes(Object.getPrototypeOf(draft));
}
