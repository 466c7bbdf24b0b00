import type { Json } from '../../document/document.ts';
import { NotSeen } from './expressions.ts';
import type { ShownFields } from './row-shown.ts';

/** The row; whoever reads what was hidden from its reader is told so. */
export function watched(row: ShownFields, hidden: ReadonlySet<string>): ShownFields {
  if (hidden.size === 0) return row;
  const out: Record<string, Json> = { ...row };
  for (const name of hidden) {
    Object.defineProperty(out, name, {
      get: () => {
        throw new NotSeen(`${name} is not shown`);
      },
    });
  }
  return out;
}
