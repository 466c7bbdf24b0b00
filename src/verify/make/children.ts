import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Children } from '../../parts/children.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, isStated } from '../../parts/fact.ts';
import { sentShape, takesChildren } from '../../parts/payload.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import type { Model } from '../model/model.ts';
import { isByRule } from '../model/promises.ts';
import type { Session } from '../session/session.ts';
import { draftedValue } from './body.ts';
import { makerForChildren } from './for-children.ts';

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
    const chosen = sent.find((name) => name in out) ?? sent.find(isPlain) ?? sent[0];
    for (const name of names) if (name !== chosen) delete out[name];
    const shape = chosen === undefined ? undefined : properties[chosen];
    if (chosen !== undefined && isMap(shape)) out[chosen] ??= await draftedValue(session, shape, make);
  }
  return out;
}

function hasMember(value: Symbolic, name: string): boolean {
  return typeof value === 'object' && value !== null && name in value;
}

/** A whole number of a member's shape, the higher the later; nothing where it holds none. */
function placed(items: JsonMap, name: string, at: number): Json | undefined {
  const shape = isMap(items.properties) ? items.properties[name] : undefined;
  if (!isMap(shape) || (shape.type !== 'integer' && shape.type !== 'number') || shape.enum !== undefined) return undefined;
  const least = typeof shape.minimum === 'number' ? Math.ceil(shape.minimum) : 1;
  const most = typeof shape.maximum === 'number' ? shape.maximum : Number.MAX_SAFE_INTEGER;
  return least + at <= most && shape.multipleOf === undefined && shape.exclusiveMinimum === undefined ? least + at : undefined;
}
