import { entriesOf, type Fact, isStated } from '../../parts/fact.ts';
import type { Resource } from '../../parts/resources.ts';
import type { Spec } from '../../parts/spec.ts';
import { expandableFields } from '../expansion.ts';
import { proseOf } from '../prose.ts';
import { unsettledLine } from '../unsettled.ts';
import { passingResources, speakersOf } from './mentions.ts';
import type { Names } from './names.ts';
import { type FieldReading, isUnsaid, resourceType } from './resource-fields.ts';
import type { ShapeReading, View } from './shape-type.ts';
import { keyOf, type Type, word } from './syntax.ts';
import { declaration } from './write.ts';

const endings: Readonly<Record<View, string>> = { shown: '', row: 'Row', create: 'Create', next: 'Next', update: 'Update' };
const views: readonly View[] = ['shown', 'row', 'create', 'next', 'update'];

/** The views that a view of a value may turn out to be the same as: then it has no name of its own. */
const sameAs: Readonly<Record<View, readonly View[]>> = {
  shown: [],
  row: ['shown'],
  create: ['shown', 'row'],
  next: ['row', 'create'],
  update: [],
};

/** The types of all resources: their names, and which of them the rest of the module speaks of. */
export interface ResourceTypes {
  readonly reading: FieldReading;
  shapes(view: View): ShapeReading;
  /** The type of a resource in a view; from here on it is part of the module. */
  named(resource: string, view: View): Type | undefined;
  /** Whether a resource has, at any depth, a field that is handed on and never kept. */
  passesThrough(resource: string): boolean;
  /** The declarations of what was spoken of, in the order of the document. */
  declarations(): string[];
}

export function resourceTypes(spec: Spec, names: Names): ResourceTypes {
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
  const named = (name: string, view: View): Type | undefined => {
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
  readonly view: View;
}

function key(resource: string, view: View): string {
  return `${view} ${resource}`;
}

/** Finds which views of each resource are one type: all that could be are taken to be, until a difference shows. */
function representatives(
  resources: readonly (readonly [string, Resource])[],
  common: Omit<FieldReading, 'typeOf'>,
): (resource: string, view: View) => View {
  const chosen = new Map<string, View>();
  const get = (name: string, view: View): View => chosen.get(key(name, view)) ?? view;
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
    const keys = new Map(resource && views.map((view) => [view, keyOf(resourceType(resource, view, reading))]));
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
function candidates(resource: Resource, view: View): readonly View[] {
  if (!isStated(resource.identifier)) return sameAs[view];
  return view === 'create' ? [] : sameAs[view].filter((other) => other !== 'create');
}

function docOf(resource: Resource, view: View, reading: FieldReading): string[] {
  const { name } = resource;
  const said: Readonly<Record<View, readonly string[]>> = {
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
