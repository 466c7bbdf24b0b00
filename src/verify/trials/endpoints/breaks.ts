import type { JsonMap } from '../../../document/document.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import type { Model } from '../../model/model.ts';
import { bodyMedia } from '../../model/own-body.ts';
import { saidInForms } from '../../values/forms.ts';
import { breaksOf, edgesOf, type Variant } from '../../values/variants.ts';

/** Values that a shape does not admit, where it is promised that they are refused. */
export function breaksHeld(model: Model, endpoint: Endpoint, shape: JsonMap): Variant[] {
  const isFormatHeld = model.isHeld('a format in a request', endpoint);
  return [...breaksOf(shape)].filter(({ kind }) => kind !== 'formats' || isFormatHeld);
}

/** Those that a body of an endpoint can say: a form has no way to send a number as a text. */
export function bodyBreaks(model: Model, endpoint: Endpoint, shape: JsonMap): Variant[] {
  const breaks = breaksHeld(model, endpoint, shape);
  return bodyMedia(endpoint) === 'form' ? saidInForms(shape, breaks) : breaks;
}

/** The values at the edges of a shape that a body of an endpoint can say. */
export function bodyEdges(endpoint: Endpoint, shape: JsonMap): Variant[] {
  const edges = [...edgesOf(shape)];
  return bodyMedia(endpoint) === 'form' ? saidInForms(shape, edges) : edges;
}
