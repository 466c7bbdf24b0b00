import type { Json, JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { readEffect } from '../../../parts/effects.ts';
import { pathParameters } from '../../../parts/payload.ts';
import type { SourceOperation } from '../read/operation.ts';
import { made } from '../read/reader.ts';
import {
  type AboutResource,
  endpointOf,
  endpointsByResource,
  type InferenceContext,
  type InferenceRule,
  placeOfEndpoint,
} from './context.ts';
import { isCalledCopy } from './memberships.ts';
import { wordsOfName } from './paths.ts';
import { documentFields } from './rows.ts';
import { wordsOf } from './shapes.ts';

/** `FriendlyName` is sent and `friendly_name` answered: one name, written in two ways. */
export const renamedMembers: InferenceRule = {
  name: 'renamed-members',
  says: 'A member of a body that no field is called like, and whose name is that of one field but for case and separators, stands for that field; so does a parameter in the path of a creation. `account_id`, of which no field is called, is the `id` in the map `account`.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const effect = typeof endpoint.does === 'string' ? readEffect(endpoint.does) : undefined;
      if (!effect || !('resource' in effect) || !written.has(effect.verb)) continue;
      const fields = documentFields(context.resources, effect.resource);
      if (effect.verb === 'create') setFromPath(context, operation, effect.resource, fields);
      if (endpoint.request === undefined || endpoint.takes !== undefined) continue;
      const members = Object.keys(context.written.propertiesOf(endpoint.request)?.all ?? {});
      const takes = [...renamedIn(members, fields), ...namedWithin(context, members, fields)];
      if (takes.length === 0) continue;
      endpoint.takes = Object.assign(newMap(), Object.fromEntries(takes));
      context.trail.infer(below(placeOfEndpoint(operation), 'takes'), renamedMembers.name, operation.map.at, 0.9);
    }
  },
};

const written: ReadonlySet<string> = new Set(['create', 'update', 'replace', 'upsert']);

/** The members that are called like one field each, but for case and separators. */
function renamedIn(members: readonly string[], fields: Readonly<Record<string, Json>>): (readonly [string, string])[] {
  const free = Object.keys(fields).filter((field) => !members.includes(field));
  return members.flatMap((member) => {
    const field = Object.hasOwn(fields, member) ? undefined : fieldAlike(member, free);
    const isAlone = members.every((other) => other === member || namePlain(other) !== namePlain(member));
    return field !== undefined && isAlone ? [[member, field] as const] : [];
  });
}

/** `account_id` is sent and `account: { id }` answered: the name of what stands there. What has to have more than its name there cannot be made of it. */
function namedWithin(
  context: InferenceContext,
  members: readonly string[],
  fields: Readonly<Record<string, Json>>,
): (readonly [string, string])[] {
  return members.flatMap((member) => {
    const own = fieldWithin(context, member, fields);
    // Several names are none of one thing.
    if (own === undefined || own.isSeveral || members.includes(own.field)) return [];
    return own.isEnough ? [[member, `${own.field}.${own.name}`] as const] : [];
  });
}

/** The name in the map that a word calls by it: `id` in `account` for `account_id`; whether it speaks of several, and whether nothing else has to be there. Nothing where a field is called so itself. */
export function fieldWithin({ written }: InferenceContext, word: string, fields: Readonly<Record<string, Json>>) {
  const words = wordsOfName(word);
  const last = words.length > 1 ? words.at(-1) : undefined;
  if ((last !== 'id' && last !== 'ids') || fieldAlike(word, Object.keys(fields)) !== undefined) return undefined;
  const field = fieldAlike(words.slice(0, -1).join('_'), Object.keys(fields));
  const inner = field === undefined ? undefined : written.propertiesOf(fields[field]);
  const name = inner && ['id', 'Id', 'ID'].find((one) => Object.hasOwn(inner.all, one));
  if (field === undefined || inner === undefined || name === undefined) return undefined;
  return {
    field,
    name,
    shape: inner.all[name] as Json,
    isSeveral: last === 'ids',
    isEnough: inner.required.every((one) => one === name),
  };
}

/** The one name among these that is another but for case and separators. */
export function fieldAlike(name: string, fields: Iterable<string>): string | undefined {
  const plain = namePlain(name);
  const alike = plain === '' ? [] : [...fields].filter((field) => namePlain(field) === plain);
  return alike.length === 1 ? alike[0] : undefined;
}

function namePlain(name: string): string {
  return wordsOfName(name).join('');
}

/** `/accounts/{AccountSid}/messages` makes a message whose `account_sid` that is, and `AccountSid` is no field that is shown. */
function setFromPath(
  context: InferenceContext,
  operation: SourceOperation,
  resource: string,
  fields: Readonly<Record<string, Json>>,
): void {
  const named = pathParameters(operation.path);
  // What a copy is made of is none of its own fields.
  for (const parameter of isCalledCopy(operation) ? named.slice(0, -1) : named) {
    const others = Object.keys(fields).filter((name) => name !== parameter);
    const field = Object.hasOwn(fields, ownerNamed(parameter)) ? ownerNamed(parameter) : fieldAlike(parameter, others);
    const shape = field === undefined ? undefined : fields[field];
    if (field === undefined || shape === undefined || !/^[A-Za-z_]\w*$/.test(parameter)) continue;
    const isText = isPlainText(context, shape) && textIn(context, operation, parameter);
    const whole = isMap(shape) ? shape : { type: shape };
    if (!isText || whole.set !== undefined) continue;
    const does = String(endpointOf(context, operation).as ?? endpointOf(context, operation).does);
    const known = does === `create ${resource}` ? 'create' : does;
    made(fields)[field] = { ...whole, set: { [known]: `params.${parameter}` } };
    const at = below(below(below(below('/resources', resource), 'fields'), field), 'set');
    context.trail.infer(at, renamedMembers.name, operation.map.at, 0.9);
  }
}

/** A text that is neither a word of a list nor an address. */
function isPlainText({ written: shapes }: InferenceContext, shape: Json): boolean {
  const { format } = shapes.expand(shape);
  return shapes.typeOf(shape) === 'string' && shapes.listedOf(shape) === undefined && !/^ur[il]/.test(String(format ?? ''));
}

/** `organizationId` and `organization_id` name an `organization`. */
function ownerNamed(parameter: string): string {
  return parameter.replace(/(?:_id|(?<=[a-z])I[dD])$/, '');
}

function textIn(context: InferenceContext, operation: SourceOperation, name: string): boolean {
  const { parameters } = endpointOf(context, operation);
  const stated = isMap(parameters) ? parameters[name] : undefined;
  return context.written.typeOf(isMap(stated) ? (stated.shape ?? stated) : stated) === 'string';
}

/** A status that nobody can send is moved by the service; how, the source never says. */
export const statusStates: InferenceRule = {
  name: 'status-states',
  says: 'A field `status` or `state`, or one that is called so after its thing, with listed words that no request sends holds the state of its resource; its transitions are open.',
  infer(context) {
    const { resources, tree, trail, written } = context;
    const byResource = endpointsByResource(context);
    const states: OpenMap = newMap();
    for (const [name, resource] of Object.entries(resources)) {
      if (!isMap(resource) || !isMap(resource.identifier)) continue;
      const fields = documentFields(resources, name);
      const field = stateField(name, fields);
      if (field === undefined || written.typeOf(fields[field]) !== 'string' || isSent(context, byResource.get(name) ?? [], field))
        continue;
      const listed = written.listedOf(fields[field]);
      const words = wordsOf(listed && [...listed]);
      if (words.length < 2 || listed?.includes(null)) continue;
      const at = below('/states', name);
      const from = trail.origin(below(below(below('/resources', name), 'fields'), field)) ?? '';
      states[name] = {
        field,
        states: [...new Set(words)],
        transitions: { $open: `What moves a ${name} from one state to another?` },
      };
      trail.infer(at, statusStates.name, from, 0.6);
      trail.infer(below(at, 'states'), statusStates.name, from, 0.9);
    }
    if (Object.keys(states).length > 0) tree.states = states;
  },
};

/** The field that says in which state a thing is: `status`, or what is called so after the thing, as `JobStatus` of an `ImportJob`. */
export function stateField(resource: string, fields: JsonMap): string | undefined {
  const own = ['status', 'state'].find((word) => Object.hasOwn(fields, word));
  if (own !== undefined) return own;
  const things = new Set([...wordsOfName(resource), 'lifecycle', 'current']);
  return Object.keys(fields).find((name) => {
    const words = wordsOfName(name);
    return /^stat(?:us|e)$/.test(words.at(-1) ?? '') && words.slice(0, -1).every((word) => things.has(word));
  });
}

/** Whether a request about the resource may carry the field. */
function isSent({ written }: InferenceContext, about: readonly AboutResource[], field: string): boolean {
  return about.some(({ endpoint }) =>
    Object.keys(written.propertiesOf(endpoint.request)?.all ?? {}).some((name) => name === field || fieldAlike(name, [field])),
  );
}
