import { Failed } from './cel-value.ts';
import type { Coding, Evaluation, Locals } from './code-path.ts';
import type { NodeOf } from './node.ts';
import { outcome } from './outcome.ts';

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
