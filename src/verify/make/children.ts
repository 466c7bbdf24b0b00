import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Children } from '../../parts/children.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { sentShape, takesChildren } from '../../parts/payload.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import type { Demand, TrialRow, WantedRow } from '../exchange/row.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import type { Follow } from '../model/expectation.ts';
import { NotSeen } from '../model/expressions.ts';
import type { Model } from '../model/model.ts';
import { isByRule } from '../model/promises.ts';
import type { ShownFields } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { draftedValue } from './body.ts';
import { answeringAll } from './demands.ts';
import { movedAlong, movedDemands } from './moved-along.ts';

/** The endpoint that makes a row with its children in a body that follows by rule. */
export function takingEndpoint(model: Model, { name }: Resource, field: Field): Endpoint | undefined {
  return takesChildren(field) ? model.endpointsThat('create', name).find((endpoint) => isByRule(endpoint)) : undefined;
}

/** The endpoints that change a row with its children in a body that follows by rule. */
export function changingEndpoints(model: Model, { name }: Resource, field: Field): readonly Endpoint[] {
  return (['update', 'replace'] as const).flatMap((verb) =>
    takesChildren(field, verb)
      ? model.endpointsThat(verb, name).filter((one) => isByRule(one) && !isStated(one.request) && !one.identity)
      : [],
  );
}

/** So many children as a body holds them, each with other values of what they are told apart and sorted by: the last of their order comes first. */
export async function draftChildren(
  session: Session,
  { field, children, child }: { readonly field: Field; readonly children: Children; readonly child: Resource },
  count: number,
): Promise<readonly Symbolic[]> {
  const { model } = session;
  const { items } = sentShape(model.spec, field);
  session.need(isMap(items), `what a ${child.name} takes is open`);
  const list: Symbolic[] = [];
  const makeFor = makerForChildren(session, [child.name], (target, wanted) => session.make(target, wanted));
  const make = async (resource: string) => (await makeFor(resource, {})).id;
  for (let at = 0; at < count; at++) {
    const one = await withChosen(session, child, items, await draftedValue(session, items, make), make);
    const own: Record<string, Symbolic> = {};
    for (const name of model.uniqueFields(child.name)) {
      const fresh = name === children.field ? undefined : model.freshValue(child.name, name);
      if (fresh !== undefined && hasMember(one, name)) own[name] = fresh;
    }
    const [first] = children.order;
    const value = first && placed(items, first.field, first.descending ? at : count - 1 - at);
    if (first && value !== undefined) own[first.field] = value;
    list.push(typeof one === 'object' && one !== null ? { ...(one as { readonly [key: string]: Symbolic }), ...own } : one);
  }
  return list;
}

/** Of fields of which exactly one is there, one: what was drawn, else what refers to nothing, which nothing else has to agree with. */
async function withChosen(
  session: Session,
  { choices, fields }: Resource,
  { properties }: JsonMap,
  one: Symbolic,
  make: (resource: string) => Promise<Symbolic>,
): Promise<Symbolic> {
  if (choices.length === 0 || typeof one !== 'object' || one === null || !isMap(properties)) return one;
  // What is drawn of a map of fields is one.
  const out = { ...(one as { readonly [key: string]: Symbolic }) };
  for (const { fields: names } of choices) {
    const sent = names.filter((name) => isMap(properties[name]));
    const isPlain = (name: string) => entryOf(fields, name)?.ref === undefined;
    const chosen = sent.find((name) => Object.hasOwn(out, name)) ?? sent.find(isPlain) ?? sent[0];
    for (const name of names) if (name !== chosen) delete out[name];
    const shape = chosen === undefined ? undefined : properties[chosen];
    if (chosen !== undefined && isMap(shape)) out[chosen] ??= await draftedValue(session, shape, make);
  }
  return out;
}

function hasMember(value: Symbolic, name: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name);
}

/** A whole number of a member's shape, the higher the later; nothing where it holds none. */
function placed(items: JsonMap, name: string, at: number): Json | undefined {
  const shape = isMap(items.properties) ? items.properties[name] : undefined;
  if (!isMap(shape) || (shape.type !== 'integer' && shape.type !== 'number') || shape.enum !== undefined) return undefined;
  const least = typeof shape.minimum === 'number' ? Math.ceil(shape.minimum) : 1;
  const most = typeof shape.maximum === 'number' ? shape.maximum : Number.MAX_SAFE_INTEGER;
  return least + at <= most && shape.multipleOf === undefined && shape.exclusiveMinimum === undefined ? least + at : undefined;
}

/** Makes what children refer to: all that go with one row, so that they can go together. */
export type MakeForChildren = (target: string, wanted: WantedRow) => Promise<TrialRow>;

/** The resources whose rows an endpoint takes as children of the row that it makes. */
export function childrenTaken({ model }: Session, endpoint: Endpoint): readonly string[] {
  const fields = entriesOf(model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '')?.fields);
  return fields.flatMap(([, field]) => (field.children && takesChildren(field) ? [field.children.resource] : []));
}

/**
 * Makes what children refer to that are sent with one row, so that their own errors refuse none of it: each as is asked of it alone, and what
 * these errors read of it as the first of its kind has it, for what it has in common with the row shows only once that is there.
 */
export function makerForChildren(session: Session, children: readonly string[], make: MakeForChildren): MakeForChildren {
  const firsts = new Map<string, TrialRow>();
  return async (target, wanted) => {
    const moved = children.flatMap((child) =>
      referencesTo(session, child, target).flatMap((field) => movedAlong(session, child, field)),
    );
    const own = children.flatMap((child) =>
      referencesTo(session, child, target).flatMap((field) => demandsOn(session, child, field)),
    );
    const demands = [...own, ...movedDemands(session, moved)];
    if (demands.length === 0) return make(target, wanted);
    const first = firsts.get(target);
    // Where a first of its kind tells how it has to be, what is moved along has to be brought to where it may be moved all the same.
    const asks = first
      ? { ...answeringAll(session, target, wanted.caller ?? wanted.for, movedDemands(session, moved)), body: asItHas(first, own) }
      : answeringAll(session, target, wanted.caller ?? wanted.for, demands);
    const isMoved = moved.length > 0 && { isMovedAlong: true };
    const row = await make(target, { ...wanted, ...asks, ...isMoved, body: { ...asks?.body, ...wanted.body } });
    if (!first) firsts.set(target, row);
    return row;
  };
}

/** What the errors read of a row, as it has it; what it does not show is left as it is drawn. */
function asItHas({ known, fields }: TrialRow, demands: readonly Demand[]): Readonly<Record<string, Symbolic>> {
  const read = new Set(demands.flatMap(({ members }) => members));
  return Object.fromEntries(
    [...read].flatMap((name) => (known[name] !== undefined && fields?.[name] !== undefined ? [[name, known[name]]] : [])),
  );
}

function referencesTo({ model }: Session, child: string, target: string): string[] {
  return entriesOf(model.resource(child)?.fields).flatMap(([field, { ref }]) => (ref === target ? [field] : []));
}

/** The errors of the service's own that a child may be refused with whatever it is sent with, for what a field of it refers to. */
function demandsOn({ model }: Session, child: string, field: string): Demand[] {
  const operation = `create ${child}`;
  const rules = model.refusals.all().filter(({ rule }) => rule.if !== undefined && rule.on?.includes(operation) !== false);
  return rules.flatMap(({ rule }) => {
    const condition = rule.if;
    const reads = condition ? model.expressions.readsOf(condition, operation) : [];
    const isThrough = reads.every(({ root, path, follows = [] }) => root === 'next' && path.length === 1 && follows.length > 0);
    const members = new Set(reads.flatMap(({ path, follows = [] }) => (path[0] === field && follows[0] ? [follows[0]] : [])));
    if (!condition || !isThrough || members.size === 0) return [];
    // Each reference leads to a row of its own, of which one alone is imagined.
    const next = Object.fromEntries(reads.map(({ path: [name = ''] }) => [name, name]));
    const isMet = (row: ShownFields) => {
      const follow: Follow = (_resource, key) => {
        if (key !== field) throw new NotSeen('it is another row');
        return row;
      };
      const evaluated = model.expressions.evaluate(condition, operation, { context: { next, operation, follow } });
      return evaluated === 'unknown' || (typeof evaluated === 'object' && evaluated.value === false);
    };
    return [{ members: [...members], source: condition.source, isFirm: true, isMet }];
  });
}
