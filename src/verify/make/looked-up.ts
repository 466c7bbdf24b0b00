import type { Json } from '../../document/document.ts';
import type { Permission } from '../../parts/authentication.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { childNodes, type Node, type NodeOf, parseExpression } from '../../parts/expressions/node.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { isWritable } from '../../parts/payload.ts';
import { asText } from '../exchange/as-text.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { isDone, isExchange } from '../exchange/exchange.ts';
import type { Parts, TrialRow, WantedRow } from '../exchange/row.ts';
import { resolve, type Symbolic } from '../exchange/symbol.ts';
import { ifTestable } from '../exchange/untestable.ts';
import type { Model } from '../model/model.ts';
import { followedIn } from '../model/row-known.ts';
import { rowIn, rowPlace } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { bareMap, membersOf } from '../values/at-path.ts';
import { identified } from './callers-for.ts';
import { rowFrom } from './row-made.ts';

/** A look-up of a row by fields of it, each with the way to what it has to be: `caller.id`, `next.sample.flight.panel`. */
interface LookUp {
  readonly resource: string;
  readonly keys: readonly { readonly field: string; readonly way: readonly string[] }[];
}

type Make = (resource: string, wanted: WantedRow) => Promise<TrialRow>;

/**
 * Makes the rows that rules look up before they let a caller make a row, such as its membership in the panel whose flight that row belongs to:
 * without one, nobody may make it. Gives what is sent then. Nothing is made where some rule lets the caller in without, or where what is looked up cannot be told.
 */
export async function provideLookedUp(
  session: Session,
  endpoint: Endpoint,
  caller: TrialCaller | undefined,
  begun: Parts,
  make: Make,
): Promise<Parts> {
  const { model } = session;
  const operation = model.operationOf(endpoint);
  const rules = caller ? (model.access.rules(operation, caller) ?? []) : [];
  const lookUps = rules.map((rule) => lookUpsOf(rule));
  if (!caller || rules.length === 0 || lookUps.some((one) => one.length === 0)) return begun;
  const who = await identified(session, caller);
  if (who.id === undefined) return begun;
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  let parts = begun;
  for (const { resource: wanted, keys } of lookUps[0] ?? []) {
    parts = await withKeys(session, resource, parts, { keys, who, make });
    const values = keys.map(({ field, way }) => ({ field, ...valueAt(session, resource, parts, way, who) }));
    if (values.some(({ value }) => value === undefined)) return parts;
    const fixed: Record<string, Symbolic> = {};
    const parents: Record<string, TrialRow> = {};
    for (const { field, value, row } of values) {
      if (value !== undefined) fixed[field] = value;
      if (row) parents[field] = row;
    }
    const known = resolved(session, fixed);
    if (isProvided(session, wanted, known)) continue;
    const says = saying(session, endpoint, who, { wanted, known, parts }) ?? {};
    await ifTestable(make(wanted, { body: { ...says, ...fixed }, parents, ...forMaker(parents) }));
  }
  return parts;
}

interface Sending {
  readonly keys: LookUp['keys'];
  readonly who: TrialCaller;
  readonly make: Make;
}

/** With a row named where a look-up goes by a reference that need not be sent: the club for which somebody puts up a session. */
async function withKeys({ model }: Session, resource: string, begun: Parts, { keys, who, make }: Sending): Promise<Parts> {
  const stated = model.resource(resource);
  let { json, parents } = begun;
  for (const { way } of keys) {
    const [root, name = ''] = way;
    const field = root === 'next' ? entryOf(stated?.fields, name) : undefined;
    if (field?.ref === undefined || !stated || !isWritable(model.spec, stated, field)) continue;
    if (json === undefined) continue;
    const members = membersOf(json);
    if (Object.hasOwn(members, name) || Object.hasOwn(begun.path, name)) continue;
    const row = await ifTestable(make(field.ref, { for: who }));
    if (!row) continue;
    json = bareMap({ ...members, [name]: row.id });
    parents = { ...parents, [name]: row };
  }
  return { ...begun, json, parents };
}

const known = new WeakMap<Permission, readonly LookUp[]>();

/** The look-ups of a rule whose keys can be told; none where it has others. */
function lookUpsOf(rule: Permission): readonly LookUp[] {
  const found = known.get(rule) ?? (rule.if ? read(rule.if.source) : []);
  known.set(rule, found);
  return found;
}

function read(source: string): readonly LookUp[] {
  const parsed = parseExpression(source);
  if ('unparsed' in parsed) return [];
  const all = findsIn(parsed.node).map(({ resource, keys }) => ({
    resource,
    keys: keys.flatMap(({ field, value }) => {
      const way = wayOf(value);
      return way?.join('.') === 'caller.id' || way?.[0] === 'next' ? [{ field, way }] : [];
    }),
    isWhole: keys.length,
  }));
  return all.every(({ keys, isWhole }) => keys.length === isWhole) ? all : [];
}

/** The look-ups in an expression. */
export function findsIn(node: Node): NodeOf<'find'>[] {
  return node.op === 'find' ? [node] : childNodes(node).flatMap(findsIn);
}

/** The names of a way through fields: `next.panel`; nothing of another expression. */
export function wayOf(node: Node): string[] | undefined {
  if (node.op === 'name') return [node.name];
  if (node.op !== 'field') return undefined;
  return wayOf(node.of)?.concat(node.name);
}

interface Reached {
  readonly value?: Symbolic | undefined;
  /** The row that it names, where it is one of the row's references. */
  readonly row?: TrialRow | undefined;
}

/** What a way leads to from the row that is to be made, as later requests can name it. */
function valueAt(
  session: Session,
  resource: string,
  { path, json, parents }: Parts,
  way: readonly string[],
  who: TrialCaller,
): Reached {
  if (way[0] === 'caller') return { value: who.id };
  let at: { readonly resource: string; readonly fields: Readonly<Record<string, Symbolic>> } = {
    resource,
    fields: { ...path, ...membersOf(json ?? null) },
  };
  let beside: Readonly<Record<string, TrialRow>> = parents;
  for (const [depth, name] of way.slice(1).entries()) {
    const value = at.fields[name];
    const target = entryOf(session.model.resource(at.resource)?.fields, name)?.ref;
    const row = target === undefined ? undefined : (beside[name] ?? rowNamed(session, target, value));
    if (depth === way.length - 2) return { value, row };
    if (!row) return {};
    at = { resource: row.resource, fields: row.known };
    beside = {};
  }
  return {};
}

/** A row that this session has shown by itself, by its identifier. */
function rowNamed(session: Session, resource: string, id: Symbolic | undefined): TrialRow | undefined {
  if (id === undefined) return undefined;
  const { model, run } = session;
  const wanted = asText(resolve(id, run));
  const field = model.identifierField(resource);
  const step = run.results.findLastIndex((one) => {
    if (!isExchange(one) || !one.endpoint || !isDone(one) || rowPlace(one.endpoint, resource, one.status) === undefined)
      return false;
    return resourceOfEffect(statedValue(one.endpoint.does)) === resource && asText(rowIn(one)?.[field]) === wanted;
  });
  const value = run.results[step];
  return isExchange(value) && value.endpoint ? rowFrom(session, resource, value.endpoint, { step, value }) : undefined;
}

function resolved({ run }: Session, values: Readonly<Record<string, Symbolic>>): Readonly<Record<string, Json>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, resolve(value, run)]));
}

const provided = new WeakMap<Session, Set<string>>();

/** Whether such a row was made in this session already, for which this is the time to say that it is. */
function isProvided(session: Session, resource: string, values: Readonly<Record<string, Json>>): boolean {
  const own = provided.get(session) ?? new Set<string>();
  provided.set(session, own);
  const key = JSON.stringify([resource, values]);
  return own.has(key) || !own.add(key);
}

/** Whoever made the row that it belongs to may make it best. */
function forMaker(parents: Readonly<Record<string, TrialRow>>): Pick<WantedRow, 'for'> {
  const [maker] = Object.values(parents).flatMap(({ caller }) => caller ?? []);
  return maker ? { for: maker } : {};
}

interface Asked {
  readonly wanted: string;
  readonly known: Readonly<Record<string, Json>>;
  readonly parts: Parts;
}

/** What such a row has to say beside for the rules to let the caller in. */
function saying(session: Session, endpoint: Endpoint, who: TrialCaller, { wanted, known: fixed, parts }: Asked) {
  const { model, run } = session;
  const seen = followedIn(
    model,
    run.results.filter((one) => isExchange(one)),
  );
  const next = { ...resolved(session, parts.path), ...bodyOf(session, parts.json) };
  return sayings(model, wanted).find((one) => {
    const follow: typeof seen = (resource, key, unique) =>
      typeof key !== 'string' && resource === wanted ? { ...fixed, ...one } : seen(resource, key, unique);
    return model.access.allows(model.operationOf(endpoint), who, { context: { next, follow } }) === 'yes';
  });
}

function bodyOf({ run }: Session, json: Symbolic | undefined): Readonly<Record<string, Json>> {
  const value = json === undefined ? {} : resolve(json, run);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, Json>>) : {};
}

/** What a row that is looked up may say: nothing in particular, or each of the values that one of its fields may have. */
export function sayings(model: Model, resource: string): Readonly<Record<string, Json>>[] {
  const stated = model.resource(resource);
  const each = (stated ? entriesOf(stated.fields) : []).flatMap(([field, one]): Readonly<Record<string, Json>>[] => {
    const shape = statedValue(one.shape);
    const values = shape?.type === 'boolean' ? [true, false] : Array.isArray(shape?.enum) ? (shape.enum as Json[]) : [];
    return stated && isWritable(model.spec, stated, one) ? values.slice(0, 8).map((value) => ({ [field]: value })) : [];
  });
  return [{}, ...each];
}
