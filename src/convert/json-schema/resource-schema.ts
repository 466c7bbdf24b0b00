import type { Json, JsonMap } from '../../document/document.ts';
import { entriesOf, type Fact, isStated, statedValue } from '../../parts/fact.ts';
import { isAlwaysShown, isEverShown, isWritable, writableShape } from '../../parts/payload.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { identifierType } from '../../parts/schemas.ts';
import type { Shape } from '../../parts/shape.ts';
import { fitsAny } from '../../parts/shapes/compose.ts';
import { machineOf } from '../../parts/states.ts';
import { unsettledLine } from '../unsettled.ts';
import { nullable } from './nullable.ts';
import { extensible, namesIn, shapeSchema } from './shape-schema.ts';
import type { Writing } from './view.ts';

/** The schema of a whole resource in a view. `optional`: what the path of an endpoint says already. */
export function resourceSchema(resource: Resource, writing: Writing, optional: readonly string[] = []): JsonMap {
  const description = writing.prose(resource.at).join('\n\n');
  const described = description === '' ? {} : { description };
  const shape = resource.shape && statedValue(resource.shape);
  if (shape) return { ...described, ...shapeSchema(shape, writing) };
  if (!isStated(resource.fields)) {
    return { ...described, type: 'object', ...commented(`the fields of ${resource.name}`, resource.fields) };
  }
  const { names, required } = fieldsOf(resource, writing, optional);
  const properties: Record<string, Json> = Object.create(null);
  for (const [name, field] of entriesOf(resource.fields)) {
    if (names.has(name)) properties[name] = fieldSchema(resource, field, writing);
  }
  return {
    ...described,
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: resource.additionalProperties,
  };
}

interface Chosen {
  readonly names: ReadonlySet<string>;
  readonly required: readonly string[];
}

/** The fields that are there in a view, and those that have to be. */
function fieldsOf(resource: Resource, { spec, view }: Writing, optional: readonly string[]): Chosen {
  if (view === 'answer') {
    const shown = entriesOf(resource.fields).filter(([, field]) => isEverShown(field));
    const always = shown.filter(([, field]) => statedValue(field.required) === true && isAlwaysShown(field));
    return { names: new Set(shown.map(([name]) => name)), required: always.map(([name]) => name) };
  }
  const { properties, required }: Shape = writableShape(spec, resource, view === 'update' ? 'all' : optional);
  return { names: new Set(Object.keys(properties as JsonMap)), required: namesIn(required) };
}

function fieldSchema(resource: Resource, field: Field, writing: Writing): JsonMap {
  const { spec, view, prose } = writing;
  const description = prose(field.at).join('\n\n');
  const schema = {
    ...(description !== '' && { description }),
    ...valueSchema(resource, field, writing),
    ...(view === 'answer' && !isWritable(spec, resource, field) && { readOnly: true }),
    ...(view !== 'answer' && field.writeOnly && { writeOnly: true }),
    ...(view === 'create' && field.default && { default: field.default.value }),
    ...(field.deprecated && { deprecated: true }),
  };
  return view === 'update' && statedValue(field.required) !== true ? nullable(schema) : schema;
}

/** The schema of a field's value: its shape, the states where it holds the state, what a reference is shown as. */
function valueSchema(resource: Resource, field: Field, writing: Writing): JsonMap {
  const { spec, view } = writing;
  const machine = machineOf(spec.states, resource.name);
  const states = machine?.field === field.name ? statedValue(machine.states) : undefined;
  const shape = statedValue(field.shape);
  if (!shape && statedValue(resource.identifier)?.field === field.name) return { type: identifierType(spec, resource.name) };
  const schema = shape ? shapeSchema(shape, writing) : states ? {} : commented(`the type of ${field.name}`, field.shape);
  const stated = states && schema.enum === undefined ? { type: 'string', ...schema, enum: [...states] } : schema;
  if (view !== 'answer') return stated;
  const open = field.extensible ? extensible(stated) : stated;
  const whole = shownWhole(resource, field, writing);
  return whole.length === 0 ? open : fitsAny([open, ...whole]);
}

/** What may stand in the place of a reference's identifier. */
function shownWhole(resource: Resource, { ref, show }: Field, writing: Writing): JsonMap[] {
  if (typeof show === 'object') return [shapeSchema(show, writing)];
  if (ref === undefined || !(show === 'expand' || writing.expandable(resource.name))) return [];
  return [writing.resource(ref, 'answer')];
}

/** Says that a fact is not settled, where nothing else can. */
function commented(what: string, fact: Fact<unknown>): JsonMap {
  return isStated(fact) ? {} : { $comment: unsettledLine(what, fact) };
}
