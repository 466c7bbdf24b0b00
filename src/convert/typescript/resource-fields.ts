import { entriesOf, type Fact, isStated, statedValue } from '../../parts/fact.ts';
import { isSuppliedByService, isWritable, writableShape } from '../../parts/payload.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { identifierType } from '../../parts/schemas.ts';
import { isMap } from '../../parts/source.ts';
import type { Spec } from '../../parts/spec.ts';
import { machineOf } from '../../parts/states.ts';
import { valueShape } from '../../parts/value-shape.ts';
import type { Prose } from '../prose.ts';
import { unsettledLine } from '../unsettled.ts';
import { deprecationText } from './doc.ts';
import { literal } from './names.ts';
import { type ShapeReading, shapeType, type View } from './shape-type.ts';
import { anyString, type Member, objectOf, type Type, union, unknownType, word } from './syntax.ts';

/** What the fields of a resource are read with, besides its shapes. */
export interface FieldReading extends Omit<ShapeReading, 'view'> {
  readonly prose: Prose;
  /** Whether some endpoint shows what a resource refers to whole, when it is asked to. */
  readonly expandable: (resource: string) => boolean;
}

/** The type of a resource for one view: an object, or what the shape of a value says. `optional`: what the path of an endpoint says already. */
export function resourceType(resource: Resource, view: View, reading: FieldReading, optional: readonly string[] = []): Type {
  const whole = valueShape(reading.spec, resource.name);
  if (whole) return shapeType(whole, { ...reading, view });
  if (!isStated(resource.fields)) return objectOf([], unknownType);
  const sent = isSent(view) ? writableShape(reading.spec, resource, view === 'update' ? 'all' : optional) : undefined;
  const isSentField = (name: string) => isMap(sent?.properties) && Object.hasOwn(sent.properties, name);
  const isNeeded = (name: string) => Array.isArray(sent?.required) && sent.required.includes(name);
  const members = entriesOf(resource.fields).flatMap(([name, field]): Member[] => {
    if (sent ? !isSentField(name) : !isThere(field, view)) return [];
    const required = sent ? isNeeded(name) : isRequired(reading.spec, resource, field, view);
    return [memberOf(resource, field, required, view, reading)];
  });
  return objectOf(members, resource.additionalProperties ? unknownType : undefined);
}

/** The fields that a new row has to be given by the service's own code: nothing supplies them. */
export function neededFields(spec: Spec, resource: Resource): string[] {
  const needed = entriesOf(resource.fields).filter(
    ([, field]) =>
      field.stored &&
      isRequired(spec, resource, field, 'row') &&
      !isSuppliedByService(field, 'create') &&
      !isIdentifierOrState(spec, resource, field, 'generated'),
  );
  return needed.map(([name]) => name);
}

/** Whether the field is the identifier or the state; with `generated`, an identifier that callers choose is none. */
export function isIdentifierOrState(spec: Spec, resource: Resource, field: Field, which: 'any' | 'generated' = 'any'): boolean {
  if (machineOf(spec.states, resource.name)?.field === field.name) return true;
  const identifier = statedValue(resource.identifier);
  if (identifier?.field !== field.name) return false;
  return which === 'any' || (identifier.generate !== undefined && identifier.generate !== 'client');
}

function isSent(view: View): boolean {
  return view === 'create' || view === 'update';
}

function isThere(field: Field, view: View): boolean {
  if (view === 'next') return true;
  if (!field.stored) return false;
  return view === 'row' || !(field.writeOnly || field.visible?.length === 0);
}

function isRequired(spec: Spec, resource: Resource, field: Field, view: View): boolean {
  if (statedValue(field.required) !== true) return false;
  if (view === 'shown') return field.reveal === undefined && field.visible === undefined;
  const isState = machineOf(spec.states, resource.name)?.field === field.name;
  if (view === 'next') {
    if (isState || field.generate !== undefined) return true;
    return isWritable(spec, resource, field) && field.set.create === undefined && field.set.write === undefined;
  }
  return !field.readOnly || isSuppliedByService(field, 'create') || isIdentifierOrState(spec, resource, field);
}

/** Whether nothing at all is said of a fact, not even a question. */
export function isUnsaid(fact: Fact<unknown>): boolean {
  return fact.standing === 'open' && fact.question === undefined;
}

function memberOf(resource: Resource, field: Field, required: boolean, view: View, reading: FieldReading): Member {
  const deprecated = deprecationText(field.deprecated);
  const type = fieldType(resource, field, view, reading);
  const isRemovable = view === 'update' && statedValue(field.required) !== true;
  return {
    name: field.name,
    type: isRemovable ? union([type, word('null')]) : type,
    optional: !required,
    readonly: !isSent(view) && isIdentifierOrState(reading.spec, resource, field),
    doc: fieldDoc(resource, field, view, reading),
    ...(deprecated !== undefined && { deprecated }),
  };
}

function fieldType(resource: Resource, field: Field, view: View, reading: FieldReading): Type {
  const { spec } = reading;
  const machine = machineOf(spec.states, resource.name);
  const states = machine?.field === field.name ? statedValue(machine.states) : undefined;
  const inner: ShapeReading = { ...reading, view };
  if (states && states.length > 0) return union(states.map((state) => word(literal(state))));
  const shape = statedValue(field.shape);
  const identifier = statedValue(resource.identifier);
  if (!shape && identifier?.field === field.name)
    return word(identifierType(spec, resource.name) === 'integer' ? 'number' : 'string');
  if (!shape) return unknownType;
  const type = shapeType(shape, inner);
  if (view !== 'shown') return type;
  if (field.extensible) return union([type, anyString]);
  if (field.ref === undefined) return type;
  const whole = field.show === 'expand' || reading.expandable(resource.name);
  const target = whole ? reading.typeOf(field.ref, 'shown') : undefined;
  const part = typeof field.show === 'object' ? [shapeType(field.show, inner)] : [];
  return union([type, ...(target ? [target] : []), ...part]);
}

function fieldDoc(resource: Resource, field: Field, view: View, reading: FieldReading): string[] {
  const shape = statedValue(field.shape);
  const said = typeof shape?.description === 'string' ? [shape.description] : reading.prose(field.at);
  const notes: string[] = [];
  if (field.readOnly) notes.push('Read-only.');
  if (field.writeOnly) notes.push('Never shown.');
  if (field.reveal === 'once' && view === 'shown') notes.push('Shown once, in the answer that makes it.');
  if (field.immutable) notes.push('Set once.');
  if (field.visible && field.visible.length > 0) notes.push(`Shown to: ${field.visible.join(', ')}.`);
  if (field.ref !== undefined) notes.push(`Refers to ${field.ref}.`);
  if (typeof shape?.format === 'string') notes.push(`Format: ${shape.format}.`);
  const unsettled = [
    ...(isStated(field.shape) ? [] : [unsettledLine(`the type of ${resource.name}.${field.name}`, field.shape)]),
    ...(isStated(field.required) || isUnsaid(field.required)
      ? []
      : [unsettledLine(`whether ${resource.name}.${field.name} is required`, field.required)]),
  ];
  return [...said, ...(notes.length > 0 ? [notes.join(' ')] : []), ...unsettled];
}
