import type { CelType } from './cel-type.ts';
import { conversions } from './conversions.ts';
import { type Overload, slotsOf, slotTakes } from './overload.ts';
import { textFunctions } from './text-functions.ts';
import { timeFunctions } from './time-functions.ts';

/** Every function of the language. */
export const functions: readonly Overload[] = [...conversions, ...textFunctions, ...timeFunctions];

const byName = Map.groupBy(functions, ({ name, on }) => `${on ? '.' : ''}${name}`);

/** The names of the functions, those that stand alone or those that follow a dot. */
export function functionNames(dotted: boolean): string[] {
  return [...byName.keys()].filter((name) => name.startsWith('.') === dotted).map((name) => name.replace('.', ''));
}

/** The ways in which a function can be called with values of these types; what it is called on comes first. */
export function overloadsFor(name: string, dotted: boolean, types: readonly CelType[]): Overload[] {
  return overloadsNamed(name, dotted).filter((overload) => {
    const slots = slotsOf(overload);
    return slots.length === types.length && slots.every((slot, index) => slotTakes(slot, types[index] as CelType));
  });
}

export function overloadsNamed(name: string, dotted: boolean): readonly Overload[] {
  return byName.get(`${dotted ? '.' : ''}${name}`) ?? [];
}
