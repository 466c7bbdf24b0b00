/** The code of what expressions look up: another row, and the address of one. */

import { bounds, charge, Failed, type Raw } from './cel-value.ts';
import type { Coding, Locals } from './code-path.ts';
import { type Code, type Evaluation, outcome } from './json-values.ts';
import type { NodeOf } from './node.ts';

/** The row that is looked up, undefined where there is none. Of a field that must have what is not there, none has it. */
export function codeFind(coding: Coding, node: NodeOf<'find'>, locals: Locals): Code {
  const type = coding.inferred.types.get(node) ?? { is: 'dyn', open: true };
  const lookup = coding.inferred.lookups.get(node);
  if (!lookup) {
    const failed = new Failed('type', `one \`${node.resource}\` cannot be looked up by this`);
    const fail: Evaluation<Raw> = () => {
      throw failed;
    };
    return { raw: true, type, run: fail };
  }
  const { resource } = node;
  const { unique, types } = lookup;
  const keys = node.keys.map(({ field, value }) => {
    // A reference is the text of an identifier, by which a row is found whatever the type of that.
    const given = coding.inferred.types.get(value);
    const isOwn = unique === undefined && given?.is === 'ref';
    const wanted = { type: isOwn ? { ...given, isInteger: false } : (types.get(field) ?? type), optional: true };
    return { field, give: outcome(coding.code(value, locals), wanted) };
  });
  return {
    raw: true,
    type,
    run(frame) {
      charge(frame, bounds.findSteps);
      const by: Record<string, Raw> = Object.create(null);
      for (const { field, give } of keys) {
        const value = give(frame);
        if (value === undefined || value === null) return undefined;
        by[field] = value;
      }
      const key = unique === undefined ? String(Object.values(by)[0]) : by;
      return frame.context.follow?.(resource, key, unique) ?? undefined;
    },
  };
}

/** The address of a row, of which every parameter has a value. @throws {Failed} where one has none. */
export function codeLink(coding: Coding, node: NodeOf<'link'>, locals: Locals): Evaluation<string> {
  const link = coding.inferred.links.get(node);
  const failed = new Failed('absent', 'a row without an address');
  if (!link) {
    return () => {
      throw failed;
    };
  }
  const pieces = link.map((piece): string | Evaluation<unknown> => {
    if (typeof piece === 'string') return piece;
    const code = coding.code(piece, locals);
    return outcome(code, { type: code.type, optional: true });
  });
  return (frame) => {
    let address = '';
    for (const piece of pieces) {
      if (typeof piece === 'string') {
        address += piece;
        continue;
      }
      const value = piece(frame);
      if (value === undefined || value === null || typeof value === 'object') throw failed;
      address += encodeURIComponent(String(value));
    }
    return address;
  };
}
