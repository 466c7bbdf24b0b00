import { Failed, type Raw } from './cel-value.ts';
import { type Code, crossed, type Evaluation } from './code-path.ts';
import { isSameForm, type ResultType, returnOf } from './json-values.ts';

/** What goes through untouched stays as it was sent; what was reckoned takes the form that is wanted. */
export function outcome(code: Code, wanted: ResultType): Evaluation<Raw> {
  if (code.raw && isSameForm(code.type, wanted.type)) {
    const { run } = code;
    return (frame) => {
      const raw = run(frame);
      if ((raw === null || raw === undefined) && !wanted.optional) throw new Failed('absent', 'nothing where a value is wanted');
      return raw ?? null;
    };
  }
  const run = crossed(code);
  const give = returnOf(wanted);
  return (frame) => give(run(frame));
}
