import { entriesOf, type Fact, isStated, statedValue } from '../../parts/fact.ts';
import { leftOutOf } from '../../parts/left-out.ts';
import { isEverShown, isSuppliedByService, isWritable, sentShape, writableShape } from '../../parts/payload.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { identifierType } from '../../parts/schemas.ts';
import { valueShape } from '../../parts/shape-level.ts';
import { isPlainMap } from '../../parts/source.ts';
import type { Spec } from '../../parts/spec.ts';
import { machineOn } from '../../parts/states.ts';
import { expandableFields, literal, type ProseAt, proseOf, type TypeNames, unsettledLine } from '../spec/words.ts';
import { passingResources, type ShapeReading, shapeType, speakersOf, type TypeView } from './shape-type.ts';
import {
  anyString,
  deprecationText,
  type ObjectMember,
  objectOf,
  type Type,
  typeKey,
  union,
  unknownType,
  word,
} from './syntax.ts';
import { declaration } from './write.ts';

const endings: Readonly<Record<TypeView, string>> = { shown: '', row: 'Row', create: 'Create', next: 'Next', update: 'Update' };
const views: readonly TypeView[] = ['shown', 'row', 'create', 'next', 'update'];

/** The views that a view of a value may turn out to be the same as: then it has no name of its own. */
const sameAs: Readonly<Record<TypeView, readonly TypeView[]>> = {
  shown: [],
  row: ['shown'],
  create: ['shown', 'row'],
  next: ['row', 'create'],
  update: [],
};

/** The types of all resources: their names, and which of them the rest of the module speaks of. */
export interface ResourceTypes {
  readonly reading: FieldReading;
  shapes(view: TypeView): ShapeReading;
  /** The type of a resource in a view; from here on it is part of the module. */
  named(resource: string, view: TypeView): Type | undefined;
  /** Whether a resource has, at any depth, a field that is handed on and never kept. */
  passesThrough(resource: string): boolean;
  /** The declarations of what was spoken of, in the order of the document. */
  declarations(): string[];
}

export function resourceTypes(spec: Spec, names: TypeNames): ResourceTypes {
  const resources = entriesOf(spec.resources.all);
  const own = resources.map(([name, resource]) => ({ resource, plain: names.claim(name, '', 'Resource') }));
  // Resources are named before what is made of them, so that `parcel_row` is called as it is written.
  const claimed = new Map<string, Claimed>();
  for (const { resource, plain } of own) {
    for (const view of views) {
      const name = view === 'shown' ? plain : names.claim(plain, endings[view]);
      claimed.set(key(resource.name, view), { name, resource, view });
    }
  }
  const common = { spec, prose: proseOf(spec), expandable: expandableFields(spec) };
  const represents = representatives(resources, common);
  const passing = passingResources(resources.map(([, resource]) => resource));
  const wanted = new Set<Claimed>();
  const named = (name: string, view: TypeView): Type | undefined => {
    const chosen = claimed.get(key(name, represents(name, view)));
    if (chosen) wanted.add(chosen);
    return chosen && word(chosen.name);
  };
  const reading: FieldReading = { ...common, typeOf: named };
  return {
    reading,
    shapes: (view) => ({ spec, view, typeOf: named }),
    named,
    passesThrough: (name) => passing.has(name),
    declarations() {
      const made = new Map<Claimed, string>();
      // Declaring one type may speak of another.
      for (const one of wanted) {
        const type = resourceType(one.resource, one.view, reading);
        made.set(one, declaration(one.name, type, docOf(one.resource, one.view, reading)));
      }
      return [...claimed.values()].flatMap((one) => made.get(one) ?? []);
    },
  };
}

/** One view of a resource, with the name that it has where it is a type of its own. */
interface Claimed {
  readonly name: string;
  readonly resource: Resource;
  readonly view: TypeView;
}

function key(resource: string, view: TypeView): string {
  return `${view} ${resource}`;
}

/** Finds which views of each resource are one type: all that could be are taken to be, until a difference shows. */
function representatives(
  resources: readonly (readonly [string, Resource])[],
  common: Omit<FieldReading, 'typeOf'>,
): (resource: string, view: TypeView) => TypeView {
  const chosen = new Map<string, TypeView>();
  const get = (name: string, view: TypeView): TypeView => chosen.get(key(name, view)) ?? view;
  for (const [name, resource] of resources)
    for (const view of views) chosen.set(key(name, view), get(name, candidates(resource, view)[0] ?? view));
  const byName = new Map(resources);
  const speakers = speakersOf([...byName.values()]);
  const reading: FieldReading = {
    ...common,
    typeOf: (name, view) => (byName.has(name) ? word(key(name, get(name, view))) : undefined),
  };
  // A resource is looked at again when one that it speaks of turned out to have a type of its own.
  const waiting = new Set(byName.keys());
  for (const name of waiting) {
    waiting.delete(name);
    const resource = byName.get(name);
    const keys = new Map(resource && views.map((view) => [view, typeKey(resourceType(resource, view, reading))]));
    for (const view of resource ? views : []) {
      const same = resource && candidates(resource, view).find((other) => keys.get(other) === keys.get(view));
      const found = same === undefined ? view : get(name, same);
      if (found === get(name, view)) continue;
      chosen.set(key(name, view), found);
      for (const speaker of speakers.get(name) ?? []) waiting.add(speaker);
      waiting.add(name);
    }
  }
  return get;
}

/** What is sent of a thing of its own always has a name of its own. */
function candidates(resource: Resource, view: TypeView): readonly TypeView[] {
  if (!isStated(resource.identifier)) return sameAs[view];
  return view === 'create' ? [] : sameAs[view].filter((other) => other !== 'create');
}

function docOf(resource: Resource, view: TypeView, reading: FieldReading): string[] {
  const { name } = resource;
  const said: Readonly<Record<TypeView, readonly string[]>> = {
    shown: reading.prose(resource.at),
    row: [`\`${name}\` as it is kept.`],
    next: [`\`${name}\` as it would be stored, before the service sets its own fields.`],
    create: [`What is sent of \`${name}\` to make or replace it.`],
    update: [`What is sent of \`${name}\` to change it (RFC 7396): null removes a field.`],
  };
  if (view !== 'shown') return [...said[view]];
  const flags = entriesOf(resource.fields).find(([, field]) => isUnsaid(field.required))?.[1].required;
  const facts: readonly (readonly [what: string, fact: Fact<unknown> | undefined])[] = [
    [`the identifier of ${name}`, resource.identifier.standing === 'none' ? undefined : resource.identifier],
    [`the fields of ${name}`, resource.shape ? undefined : resource.fields],
    [`which fields of ${name} are required`, flags],
  ];
  const unsettled = facts.flatMap(([what, fact]) => (fact && !isStated(fact) ? [unsettledLine(what, fact)] : []));
  return [...said.shown, ...unsettled];
}

/** What the fields of a resource are read with, besides its shapes. */
interface FieldReading extends Omit<ShapeReading, 'view'> {
  readonly prose: ProseAt;
  /** Whether some endpoint shows what a resource refers to whole, when it is asked to. */
  readonly expandable: (resource: string) => boolean;
}

/** The type of a resource for one view: an object, or what the shape of a value says. `optional`: what the path of an endpoint says already. */
export function resourceType(resource: Resource, view: TypeView, reading: FieldReading, optional: readonly string[] = []): Type {
  const whole = valueShape(reading.spec, resource.name);
  if (whole) return shapeType(whole, { ...reading, view });
  if (!isStated(resource.fields)) return objectOf([], unknownType);
  const sent = isSent(view) ? writableShape(reading.spec, resource, view === 'update' ? 'all' : optional) : undefined;
  const isSentField = (name: string) => isPlainMap(sent?.properties) && Object.hasOwn(sent.properties, name);
  const isNeeded = (name: string) => Array.isArray(sent?.required) && sent.required.includes(name);
  const members = entriesOf(resource.fields).flatMap(([name, field]): ObjectMember[] => {
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
  if (machineOn(spec.states, resource.name, field.name)) return true;
  const identifier = statedValue(resource.identifier);
  if (identifier?.field !== field.name) return false;
  return which === 'any' || (identifier.generate !== undefined && identifier.generate !== 'client');
}

function isSent(view: TypeView): boolean {
  return view === 'create' || view === 'update';
}

function isThere(field: Field, view: TypeView): boolean {
  if (field.children) return view === 'shown' && isEverShown(field);
  if (view === 'next') return true;
  if (!field.stored) return false;
  return view === 'row' || !(field.writeOnly || field.visible?.length === 0);
}

function isRequired(spec: Spec, resource: Resource, field: Field, view: TypeView): boolean {
  if (statedValue(field.required) !== true) return false;
  if (view === 'shown')
    return field.reveal === undefined && field.visible === undefined && !leftOutOf(spec, 'anybody').has(field);
  const isState = machineOn(spec.states, resource.name, field.name) !== undefined;
  if (view === 'next') {
    if (isState || field.generate !== undefined) return true;
    return isWritable(spec, resource, field) && field.set.create === undefined && field.set.write === undefined;
  }
  return !field.readOnly || isSuppliedByService(field, 'create') || isIdentifierOrState(spec, resource, field);
}

/** Whether nothing at all is said of a fact, not even a question. */
function isUnsaid(fact: Fact<unknown>): boolean {
  return fact.standing === 'open' && fact.question === undefined;
}

function memberOf(resource: Resource, field: Field, required: boolean, view: TypeView, reading: FieldReading): ObjectMember {
  const deprecated = deprecationText(field.deprecated);
  const type = fieldType(resource, field, view, reading);
  const isRemovable = view === 'update' && statedValue(field.required) !== true && !field.children;
  return {
    name: field.name,
    type: isRemovable ? union([type, word('null')]) : type,
    optional: !required,
    readonly: !isSent(view) && isIdentifierOrState(reading.spec, resource, field),
    doc: fieldDoc(resource, field, view, reading),
    ...(deprecated !== undefined && { deprecated }),
  };
}

function fieldType(resource: Resource, field: Field, view: TypeView, reading: FieldReading): Type {
  const { spec } = reading;
  const states = statedValue(machineOn(spec.states, resource.name, field.name)?.states);
  const inner: ShapeReading = { ...reading, view };
  if (states && states.length > 0) return union(states.map((state) => word(literal(state))));
  const shape =
    field.children && isSent(view) ? sentShape(spec, field, view === 'update' ? 'update' : 'create') : statedValue(field.shape);
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

function fieldDoc(resource: Resource, field: Field, view: TypeView, reading: FieldReading): string[] {
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
