/** Lists below things that somebody made, before anything was put there. */

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
 * there, or is taken out (`POST /groups/{group}/members`, `DELETE /users/{user}/credentials/{credential}`), until something does. Nothing where it is of another form.
 */
export function compileBegunList(
  endpoint: Endpoint,
  owner: RowModel,
  depth: number,
  spec: Spec,
  samples: Samples,
): Relate | undefined {
  const place = listOf(endpoint.path);
  const steps = place.split('/');
  if (steps.length !== depth + 1 || steps.at(-1) === '{}') return undefined;
  const below = entriesOf(spec.endpoints.all).flatMap(([, one]) => (listOf(one.path) === place ? [one] : []));
  const isChanged = below.some((one) => changes(one));
  if (changes(endpoint) && endpoint.method !== 'DELETE')
    return (work, { call }) => put(work.rows, listOf(call.path, endpoint.path));
  const list = endpoint.method === 'GET' && plainPlaceOf(endpoint.path) === place ? listShown(endpoint, samples) : undefined;
  if (!list || !isChanged) return undefined;
  return (work, { call }, id) => {
    const { rows } = work;
    if (isMadeUp(rows, owner.name, id) || isListKept(rows, call.path) || rows.record(putKey(listOf(call.path)), 0))
      return undefined;
    return list.name === undefined ? [] : { [list.name]: [] };
  };
}

function changes({ method, does }: Endpoint): boolean {
  return method !== 'GET' && method !== 'HEAD' && statedValue(does) === undefined;
}

/** The path of the list that a path is, or in which it names one; `like`: the path of its endpoint. `$links` only says that what follows is bound. */
function listOf(path: string, like = path): string {
  const plain = (one: string) => plainPlaceOf(one).replace('/$links/', '/');
  return plain(like).endsWith('/{}') ? plain(path).replace(/\/[^/]*$/, '') : plain(path);
}

function put(rows: Parameters<Relate>[0]['rows'], list: string): undefined {
  rows.keep(putKey(list), { fingerprint: '', body: '', expiresMs: Number.MAX_SAFE_INTEGER });
}

const putKey = (list: string): string => `put there\n${list}`;
