import type { Spec } from '../spec.ts';
import { type EvaluationContext, Failed, type Raw, type Value } from './cel-value.ts';
import { crossed, type Evaluation } from './code-path.ts';
import { Coder } from './coder.ts';
import { type Inferred, inferTypes } from './infer.ts';
import type { Node } from './node.ts';
import { outcome } from './outcome.ts';
import { parseExpression } from './parse.ts';
import { type Read, readsOf, soughtIn } from './reads.ts';
import type { Expected, Scope } from './scope.ts';
import { typeOfShape } from './shape-type.ts';

export interface CompiledExpression {
  readonly source: string;
  /** Every path that it reads of its variables. */
  readonly reads: readonly Read[];
  /** The resources whose rows it looks up. */
  readonly seeks: readonly string[];
  /** What it comes to, as JSON; or why it came to nothing. It never throws but what `follow` throws. */
  evaluate(context: EvaluationContext): Raw | Failed;
  /** What it comes to as the value that expressions handle, for what has no form in JSON. */
  value(context: EvaluationContext): Value | Failed;
}

/** Makes an expression ready to run in one scope. One that cannot be read fails at every evaluation; `checkExpression` says why. */
export function compileExpression(
  spec: Spec,
  use: { readonly source: string; readonly scope: Scope; readonly expected: Expected },
): CompiledExpression {
  const parsed = parseExpression(use.source);
  if ('unparsed' in parsed) return broken(use.source, parsed.unparsed.message);
  return compileNode(spec, use.source, parsed.node, inferTypes(spec, use.scope, use.source, parsed.node), use);
}

/** As `compileExpression`, for an expression or a part of one whose types are known already. */
export function compileNode(
  spec: Spec,
  source: string,
  node: Node,
  inferred: Inferred,
  use: { readonly scope: Scope; readonly expected: Expected },
): CompiledExpression {
  const coder = new Coder(use.scope, inferred);
  const code = coder.code(node, new Map());
  const give = outcome(code, { type: typeOfShape(spec, use.expected.shape), optional: use.expected.optional ?? false });
  return {
    source,
    reads: readsOf(node, inferred, use.scope),
    seeks: soughtIn(node),
    evaluate: attempting(give),
    value: attempting(crossed(code)),
  };
}

/** Runs it; what fails is why there is no value. */
function attempting<T>(run: Evaluation<T>): (context: EvaluationContext) => T | Failed {
  return (context) => {
    try {
      return run({ context, locals: [], steps: 0 });
    } catch (error) {
      if (error instanceof Failed) return error;
      throw error;
    }
  };
}

function broken(source: string, message: string): CompiledExpression {
  const failed = new Failed('type', message);
  return { source, reads: [], seeks: [], evaluate: () => failed, value: () => failed };
}
