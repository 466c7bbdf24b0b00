import { entriesOf, isStated } from '../../parts/fact.ts';
import type { Change } from '../../parts/versioning.ts';
import type { Subject } from '../rule.ts';

/** A field that a change speaks of, held to the fields that its resource has in that version. */
export interface Spoken {
  readonly change: Change;
  readonly version: string;
  /** As they are after the change. */
  readonly fields: ReadonlySet<string>;
  readonly name: string;
  /** The word of the change under which the name stands. */
  readonly word: string;
  /** Whether the field must be there after the change, or must not. */
  readonly mustBe: boolean;
}

/**
 * Undoes the changes from the newest shape back, the last first, and tells what each of them speaks of. A version whose
 * changes are open ends the walk: nothing is known of what was before it.
 */
export function walkBack({ spec, resources }: Subject): Spoken[] {
  const { versions, changes, others } = spec.versioning;
  if (others || !isStated(versions) || !isStated(changes)) return [];
  const shapes = new Map<string, Set<string>>();
  for (const [name, { fields, additionalProperties }] of resources) {
    if (isStated(fields) && !additionalProperties) shapes.set(name, new Set(Object.keys(fields.value)));
  }
  const spoken: Spoken[] = [];
  for (const [version] of entriesOf(versions).toReversed()) {
    const list = changes.value[version];
    if (!list || list.standing === 'open' || list.standing === 'any') return spoken;
    for (const change of isStated(list) ? list.value.toReversed() : []) {
      const fields = 'resource' in change ? shapes.get(change.resource) : undefined;
      if (fields) spoken.push(...undo(change, version, fields));
    }
  }
  return spoken;
}

function undo(change: Change, version: string, fields: Set<string>): Spoken[] {
  if (change.kind === 'endpoint') return [];
  const name = rootOf(change.field);
  const after = new Set(fields);
  const spoken = (word: string, field: string, mustBe: boolean): Spoken => ({
    change,
    version,
    fields: after,
    name: field,
    word,
    mustBe,
  });
  if (change.kind === 'rename') {
    const to = rootOf(change.to);
    if (change.to === '' || change.field.includes('.')) return [];
    fields.delete(to);
    fields.add(name);
    return [spoken('to', to, true), spoken('rename', name, false)];
  }
  if (change.kind === 'remove') {
    if (!change.field.includes('.')) fields.add(name);
    return change.field.includes('.') ? [spoken('remove', name, true)] : [spoken('remove', name, false)];
  }
  if (change.kind === 'add' && !change.field.includes('.')) fields.delete(name);
  return [spoken(change.kind, name, true)];
}

/** A change may go into a value: `parcel.to.city`. */
function rootOf(field: string): string {
  return field.split('.')[0] as string;
}
