import { programOf } from '../patterns/pattern.ts';
import { type CelType, dyn, type Overload, slotsOf, slotTakes, typeName, unify } from './cel-type.ts';
import { conversions } from './conversions.ts';
import { type Around, known, nearestRemedy, type Typed, type TypeWalk } from './member.ts';
import type { Node, NodeOf } from './node.ts';
import { textFunctions } from './text-functions.ts';
import { timeFunctions } from './time-functions.ts';

/** What a call of a function gives; of one that nobody has, that there is none. */
export function typeOfCall(walking: TypeWalk, node: NodeOf<'call'>, around: Around): Typed {
  const parts = node.on ? [node.on, ...node.args] : node.args;
  const types = parts.map((part) => walking.walk(part, around).type);
  const overloads = overloadsFor(node.name, node.on !== undefined, types);
  walking.overloads.set(node, overloads);
  if (overloads.length === 0) {
    noOverload(walking, node, types);
    return known(dyn);
  }
  if (node.name === 'matches') pattern(walking, parts.at(-1));
  return known(overloads.map(({ result }) => result).reduce((a, b) => unify(a, b) ?? dyn));
}

function pattern(walking: TypeWalk, node: Node | undefined): void {
  if (node?.op !== 'literal' || typeof node.value !== 'string') return;
  const read = programOf(node.value, 're2');
  if (typeof read === 'string')
    walking.report(node, 'type', `The pattern cannot be read: ${read}.`, 'Patterns are as RE2 has them.');
}

function noOverload(walking: TypeWalk, node: NodeOf<'call'>, types: readonly CelType[]): void {
  const dotted = node.on !== undefined;
  if (overloadsNamed(node.name, dotted).length > 0) {
    const given = types.map(typeName).join(', ');
    walking.report(node, 'type', `\`${node.name}\` cannot be called with ${given === '' ? 'nothing' : given}.`);
    return;
  }
  const otherWay = overloadsNamed(node.name, !dotted).length > 0;
  const form = dotted ? `Write \`${node.name}(…)\`.` : `Write \`….${node.name}(…)\`.`;
  const remedy = otherWay
    ? form
    : nearestRemedy(node.name, [...functionNames(dotted), 'has', 'find', 'link', 'all', 'exists', 'exists_one', 'map', 'filter']);
  walking.report(node, 'scope', `There is no function \`${node.name}\`${otherWay ? ' in this form' : ''}.`, remedy);
}

/** Every function of the language. */
const functions: readonly Overload[] = [...conversions, ...textFunctions, ...timeFunctions];

const byName = Map.groupBy(functions, ({ name, on }) => `${on ? '.' : ''}${name}`);

/** The names of the functions, those that stand alone or those that follow a dot. */
function functionNames(dotted: boolean): string[] {
  return [...byName.keys()].filter((name) => name.startsWith('.') === dotted).map((name) => name.replace('.', ''));
}

/** The ways in which a function can be called with values of these types; what it is called on comes first. */
function overloadsFor(name: string, dotted: boolean, types: readonly CelType[]): Overload[] {
  return overloadsNamed(name, dotted).filter((overload) => {
    const slots = slotsOf(overload);
    return slots.length === types.length && slots.every((slot, index) => slotTakes(slot, types[index] as CelType));
  });
}

function overloadsNamed(name: string, dotted: boolean): readonly Overload[] {
  return byName.get(`${dotted ? '.' : ''}${name}`) ?? [];
}
