import * as fc from 'fast-check';
import type { Json } from '../../document/document.ts';
import { formatNamed } from '../../kinds/formats/all.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import { Fresh, freshText } from '../script/symbol.ts';
import { NoValue } from './no-value.ts';
import { valuesOf } from './values.ts';

/** A value of a shape that no other row has, as far as chance can see to it; nothing where the shape is beyond us. */
export function freshOf(spec: Spec, shape: Shape): Fresh | undefined {
  const isText = shape.type === 'string' && shape.enum === undefined && shape.const === undefined && shape.pattern === undefined;
  if (isText && (shape.format === undefined || (formatNamed(shape.format)?.covers ?? shape.format) === 'email')) {
    const most = typeof shape.maxLength === 'number' ? shape.maxLength : 64;
    const least = typeof shape.minLength === 'number' ? shape.minLength : 1;
    if (shape.format !== undefined) {
      if (most >= 30) return new Fresh((draw) => `nf-${Buffer.from(draw.bytes(6)).toString('hex')}@example.com`);
    } else if (most >= 14) return freshText(`nf-${'x'.repeat(Math.max(0, least - 14))}`);
  }
  try {
    // What is drawn with a bias towards bounds comes twice before long.
    const values = fc.noBias(valuesOf(spec, shape, 'full'));
    return new Fresh((draw) => {
      const [value] = fc.sample(values, { seed: Buffer.from(draw.bytes(4)).readInt32BE(), numRuns: 1 });
      return (value ?? null) as Json;
    });
  } catch (error) {
    if (error instanceof NoValue) return undefined;
    throw error;
  }
}
