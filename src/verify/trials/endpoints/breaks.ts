import type { JsonMap } from '../../../document/document.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import type { Model } from '../../model/model.ts';
import type { Variant } from '../../values/variant.ts';
import { breaksOf } from '../../values/variants.ts';

/** Values that a shape does not admit, where it is promised that they are refused. */
export function breaksHeld(model: Model, endpoint: Endpoint, shape: JsonMap): Variant[] {
  const isFormatHeld = model.isHeld('a format in a request', endpoint);
  return [...breaksOf(shape)].filter(({ kind }) => kind !== 'formats' || isFormatHeld);
}
