import type { Fields, Value } from '../exchange/exchange.ts';
import type { RowModel } from './model.ts';

/** Puts the nulls of a patch, from which it was made, back into a row, where its fields keep them. */
export type KeepingNull = (next: Fields, patch: Readonly<Record<string, Value>>) => Fields;

/** Compiles it. `calledIn` gives the name that a field has in the patch. */
export function compileKeptNulls({ fields }: RowModel, calledIn = (name: string): string => name): KeepingNull {
  const kept = [...fields.values()].flatMap(({ name, keepsNull }) => (keepsNull ? [[name, calledIn(name)] as const] : []));
  if (kept.length === 0) return (next) => next;
  return (next, patch) => {
    for (const [name, sent] of kept) if (Object.hasOwn(patch, sent) && patch[sent] === null) next[name] = null;
    return next;
  };
}
