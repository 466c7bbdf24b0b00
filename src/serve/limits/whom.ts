import { hash } from 'node:crypto';
import type { LimitScope } from '../../parts/limits.ts';
import { type CompileExpression, isFailed } from '../exchange/compilation.ts';
import type { Caller } from '../exchange/exchange.ts';

/** Who asks for what, and when. */
export interface WhoAsks {
  readonly caller: Caller | undefined;
  readonly operation: string;
  readonly nowMs: number;
}

/** Whom a limit counts, and apart from whom. */
export interface Whom {
  /** What is counted apart by name; nothing where it is the address. Those without a user are one. */
  readonly nameOf: (asked: WhoAsks) => string | undefined;
  /** Whether it counts a caller at all; absent where it counts each. */
  readonly counts?: (asked: WhoAsks) => boolean;
}

/** Compiles whom a limit counts. Where a condition comes to nothing it counts, and who has no value of its own is counted for itself. */
export function compileWhom({ per, by, if: condition }: LimitScope, compile: CompileExpression): Whom {
  const apart = by && compile(by);
  const holds = condition && compile(condition);
  const nameOf = ({ caller, operation, nowMs }: WhoAsks): string | undefined => {
    if (per === 'everyone') return '';
    if (per === 'user') return caller?.user ?? '';
    if (per === 'address' || !caller) return undefined;
    const value = apart?.({ caller, operation, now: nowMs });
    return value === undefined || value === null || isFailed(value) ? `${caller.user}\n${caller.id}` : named(String(value));
  };
  if (!holds) return { nameOf };
  return {
    nameOf,
    counts({ caller, operation, nowMs }) {
      const value = holds({ caller, operation, now: nowMs });
      return isFailed(value) || value === true;
    },
  };
}

/** No name that a caller has begins so; what is long is kept as its hash. */
function named(value: string): string {
  return `=\n${value.length <= namedMost ? value : hash('sha256', value, 'base64url')}`;
}

const namedMost = 64;
