/** Lists below things that somebody made: what is put there is there, and nothing else. */

import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { RowModel } from '../model.ts';
import type { Relate } from '../stand-in.ts';
import { isListKept, plainPlaceOf } from './kept-answers.ts';
import { listShown } from './lists-shown.ts';
import { isMadeUp } from './sampled-rows.ts';

/**
 * Compiles what a list below a thing begins with, of which only its shape is known: with nothing, where somebody made the thing and the description says how something comes
 * there, or is taken out (`POST /groups/{group}/members`, `DELETE /users/{user}/credentials/{credential}`). Nothing where it is of another form.
 */
export function compileBegunList(
  endpoint: Endpoint,
  owner: RowModel,
  depth: number,
  spec: Spec,
  samples: Samples,
): Relate | undefined {
  const list = listShown(endpoint, samples);
  const place = plainPlaceOf(endpoint.path);
  const steps = place.split('/');
  if (endpoint.method !== 'GET' || !list || steps.length !== depth + 1 || steps.at(-1) === '{}') return undefined;
  const places = new Set([place, [...steps.slice(0, -1), '$links', steps.at(-1)].join('/')]);
  const isChanged = entriesOf(spec.endpoints.all).some(([, { method, path, does }]) => {
    const other = plainPlaceOf(path);
    const changes = method !== 'GET' && method !== 'HEAD' && statedValue(does) === undefined;
    return changes && (places.has(other) || places.has(other.replace(/\/\{\}$/, '')));
  });
  if (!isChanged) return undefined;
  return (work, exchange, id) => {
    if (isMadeUp(work.rows, owner.name, id) || isListKept(work.rows, exchange.call.path)) return undefined;
    return list.name === undefined ? [] : { [list.name]: [] };
  };
}
