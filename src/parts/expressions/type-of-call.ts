import { type CelType, dyn, typeName, unify } from './cel-type.ts';
import { functionNames, overloadsFor, overloadsNamed } from './functions.ts';
import { nearestRemedy } from './member.ts';
import type { Node, NodeOf } from './node.ts';
import { readPattern } from './read-pattern.ts';
import { type Around, known, type Seen, type Walking } from './walking.ts';

/** What a call of a function gives. */
export function typeOfCall(walking: Walking, node: NodeOf<'call'>, around: Around): Seen {
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

function pattern(walking: Walking, node: Node | undefined): void {
  if (node?.op !== 'literal' || typeof node.value !== 'string') return;
  const read = readPattern(node.value);
  if (typeof read === 'string')
    walking.report(node, 'type', `The pattern cannot be read: ${read}.`, 'Patterns are as RE2 has them.');
}

function noOverload(walking: Walking, node: NodeOf<'call'>, types: readonly CelType[]): void {
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
    : nearestRemedy(node.name, [...functionNames(dotted), 'has', 'all', 'exists', 'exists_one', 'map', 'filter']);
  walking.report(node, 'scope', `There is no function \`${node.name}\`${otherWay ? ' in this form' : ''}.`, remedy);
}
