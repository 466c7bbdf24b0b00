import { type Expression, entryOf } from '../../parts/fact.ts';
import type { Resource } from '../../parts/resources.ts';

/** What a field is set to of whoever makes the row: `id` of `caller.id`. */
export function makerMember(set: Expression | undefined): string | undefined {
  return /^\s*caller\.(\w+)\s*$/.exec(set?.source ?? '')?.[1];
}

/** Whether fields say nothing but who made the row: what is unique by them there is once for each who makes one. */
export function isOfMaker({ fields }: Pick<Resource, 'fields'>, names: readonly string[]): boolean {
  return names.length > 0 && names.every((name) => makerMember(entryOf(fields, name)?.set.create) !== undefined);
}
