import { Failed } from './cel-value.ts';
import type { Code, Coding, Evaluation, Locals } from './code-path.ts';
import { bounds, charge, type Raw } from './frame.ts';
import type { NodeOf } from './node.ts';
import { outcome } from './outcome.ts';

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
