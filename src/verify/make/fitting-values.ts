import type { Json } from '../../document/document.ts';
import type { Shape } from '../../parts/shape.ts';
import { hintsIn } from '../model/expressions.ts';
import type { Session } from '../session/session.ts';
import { NoValue } from '../values/scalars.ts';
import { arbitraryValuesOf } from '../values/values.ts';
import { edgesOf } from '../values/variants.ts';

/** So many rows are imagined for one reference. */
const imaginedMost = 400;
const drawnMost = 3;

/** Values of a shape that may make a condition hold: drawn ones, what its text names, and those at the edges. */
export function valuesThatFit(session: Session, shape: Shape, source: string): readonly Json[] {
  const fits = session.model.schemas.of(shape, 'sent');
  const all = [...drawnOf(session, shape), ...hintsIn(source), ...[...edgesOf(shape)].map(({ value }) => value)];
  return all.filter((value) => fits(value).length === 0);
}

function drawnOf({ chance, model }: Session, shape: Shape): Json[] {
  try {
    // The cast holds: a shape without references has drafts without them.
    return chance.values(arbitraryValuesOf(model.spec, shape, 'full'), drawnMost) as Json[];
  } catch (error) {
    if (error instanceof NoValue) return [];
    throw error;
  }
}

/** Rows with each value of each member, up to so many. */
export function* imaginedOf(
  choices: readonly (readonly [string, readonly (Json | undefined)[]])[],
): Iterable<Record<string, Json>> {
  const count = choices.reduce((product, [, values]) => product * values.length, 1);
  for (let at = 0; at < Math.min(count, imaginedMost); at++) {
    let rest = at;
    const row: Record<string, Json> = {};
    for (const [member, values] of choices) {
      const value = values[rest % values.length];
      rest = Math.floor(rest / values.length);
      if (value !== undefined) row[member] = value;
    }
    yield row;
  }
}
