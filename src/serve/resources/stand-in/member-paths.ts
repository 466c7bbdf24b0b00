/** Members of a thing that have a path of their own. */

import { plainName } from '../../../document/nearest.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import { mergeJson } from '../../../parts/versions/carry.ts';
import type { Fields, Value } from '../../exchange/exchange.ts';
import { isFields } from '../body.ts';
import type { RowModel } from '../model.ts';
import type { MemberPath } from '../stand-in.ts';

/**
 * Compiles the reading and changing of a member below its thing: `PUT /users/{id}/settings` sends what a user shows as `settings`, and
 * `PATCH /users/{id}/status` the one word that it is called. Nothing where the path goes on otherwise, what is sent is something else, or the member is a list
 * or refers to another thing.
 */
export function compileMemberPath(endpoint: Endpoint, model: RowModel, depth: number, samples: Samples): MemberPath | undefined {
  const [step = '', verb, ...others] = endpoint.path
    .replace(/[?#].*$/, '')
    .split('/')
    .slice(depth);
  if (others.length > 0 || (verb !== undefined && !changing.test(verb))) return undefined;
  const alike = [...model.fields.values()].filter(({ name }) => plainName(name) === plainName(step));
  const [field] = alike;
  const shape = field && statedValue(field.shape);
  if (!shape || alike.length !== 1 || field.ref !== undefined || field.name === model.identifier.field) return undefined;
  const { name } = field;
  const whole = samples.whole(shape);
  if (whole.type === 'array' || whole.items !== undefined || whole.type === undefined) return undefined;
  const own = samples.membersOf(shape);
  if (endpoint.method === 'GET') return { shown: (row) => (isFields(row[name]) ? row[name] : {}), change: () => undefined };
  const sent = Object.keys(samples.membersOf(statedValue(endpoint.request) ?? {}));
  const shared = sent.filter((one) => Object.hasOwn(own, one)).length;
  const isWhole = shared > 0 && shared * 2 > sent.length;
  const isWord = Object.keys(own).length === 0 && sent.includes(name) && sent.length <= wordsMost;
  if (endpoint.method === 'DELETE' || !(isWhole || isWord)) return undefined;
  const sampler = samples.of(shape, name);
  return {
    shown: () => ({}),
    change(request, before) {
      const value = isWord ? (isFields(request) ? request[name] : undefined) : nextOf(endpoint.method, before[name], request);
      return value !== undefined && sampler.fits(value) ? { ...before, [name]: value } : undefined;
    },
  };
}

/** What a whole member is after a request: what was sent, by PUT in its place, else over what was there. */
function nextOf(method: string, before: Value, request: Value): Value {
  if (!isFields(request)) return undefined;
  return method === 'PUT' || !isFields(before) ? request : (mergeJson(before, request) as Fields);
}

/** A word behind the member that says what a method says. */
const changing = /^(?:edit|update|set|change)$/i;
/** A body that is for one word has hardly another beside it. */
const wordsMost = 2;
