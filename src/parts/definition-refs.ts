import { fragmentStepOf, keyOfFragmentStep } from '../document/pointer.ts';

/** The definitions that a shape names, by their names there; the values are their names at the top of the schema. */
export type Names = ReadonlyMap<string, string>;
export const noNames: Names = new Map();

/** A reference into the definitions of a shape, as it is at the top; what stands deeper in one moves with it. */
export function renamed(ref: string, names: Names): string {
  const [, word, rest = ''] = /^#\/\$defs\/([^/]*)(.*)$/s.exec(ref) ?? [];
  const top = word === undefined ? undefined : names.get(keyOfFragmentStep(word));
  return top === undefined ? ref : `${definitionRef(top)}${rest}`;
}

/** How the definition of a name is referred to. */
export function definitionRef(name: string): string {
  return `#/$defs/${fragmentStepOf(name)}`;
}
