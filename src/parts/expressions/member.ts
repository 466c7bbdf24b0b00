import { nearest } from '../../document/nearest.ts';
import { type CelMember, type CelType, dyn, type ObjectType, typeName } from './cel-type.ts';
import { bounds } from './frame.ts';
import type { ExpressionProblem, Node, NodeOf } from './node.ts';

interface Reading {
  readonly text: (node: Node) => string;
  /** Whether it is read of what is stored. */
  readonly isStored: boolean;
}

/** What a field is, read of a value of this type; or why it cannot be read. A field of a reference is one of what it refers to. */
export function typedMemberOf(
  node: NodeOf<'field'>,
  of: CelType,
  follows: number,
  reading: Reading,
): CelMember | { readonly wrong: ExpressionProblem } {
  const path = reading.text(node.of);
  switch (of.is) {
    case 'dyn':
      return { type: dyn, optional: false };
    case 'map':
      return { type: of.of, optional: true };
    case 'object':
      return memberOfObject(node, of, reading);
    case 'ref': {
      if (follows > bounds.followsMax) {
        return wrong(
          node,
          'field',
          `\`${reading.text(node)}\` follows more than ${bounds.followsMax} references.`,
          'A path follows up to three.',
        );
      }
      const target = of.target();
      return target ? memberOfObject(node, target, { ...reading, isStored: true }) : { type: dyn, optional: false };
    }
    case 'nullable':
      return wrong(node, 'absent', `\`${path}\` may be null here.`, `Write \`${path} != null && …\`.`);
    default:
      return wrong(node, 'field', `\`${path}\` is ${typeName(of)} and has no field \`${node.name}\`.`);
  }
}

function memberOfObject(
  node: NodeOf<'field'>,
  of: ObjectType,
  reading: Reading,
): CelMember | { readonly wrong: ExpressionProblem } {
  const member = of.members.get(node.name);
  if (member?.unstored && reading.isStored) {
    const remedy = `Read it of the body: \`request.${node.name}\`.`;
    return wrong(node, 'field', `\`${node.name}\` is not stored, so \`${reading.text(node.of)}\` never has it.`, remedy);
  }
  if (member) return member;
  if (of.rest) return { type: of.rest, optional: true };
  const names = [...of.members.keys()];
  const listed = names.length === 0 ? 'It has no fields.' : `It has ${names.map((name) => `\`${name}\``).join(', ')}.`;
  const message = `\`${reading.text(node.of)}\` has no field \`${node.name}\`.`;
  return wrong(node, 'field', message, nearestRemedy(node.name, names) ?? listed);
}

/** `Did you mean …?`, where something is near. */
export function nearestRemedy(word: string, candidates: readonly string[]): string | undefined {
  const near = nearest(word, candidates);
  return near === undefined ? undefined : `Did you mean \`${near}\`?`;
}

function wrong(
  node: NodeOf<'field'>,
  kind: ExpressionProblem['kind'],
  message: string,
  remedy?: string,
): { readonly wrong: ExpressionProblem } {
  return { wrong: { kind, message, ...(remedy !== undefined && { remedy }), offset: node.start, length: node.end - node.start } };
}
