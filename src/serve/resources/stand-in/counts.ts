/** What counts the things of a list at an address of its own, and lists of names alone. */

import { plainName } from '../../../document/nearest.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { CountOf, NamesOf } from '../stand-in.ts';
import { plainPlaceOf } from './kept-answers.ts';

/**
 * Compiles what an endpoint says of how many things there are whose list stands before a word for counting in its path: `GET /pets/count` beside `GET /pets`, `POST /pets/query/count` beside `POST /pets/query`.
 * It answers a whole number, or has one member that is one and is called so (`count`, `total`, `recipient_count`), and no list. Nothing where it is of another form, or something is known of what it does.
 */
export function compileCountOf(endpoint: Endpoint, spec: Spec, samples: Samples): CountOf | undefined {
  const { method, path, does, response } = endpoint;
  const [whole, above] = /^(.+)[/:][_$]?(?:total_?)?count$/i.exec(plainPlaceOf(path).replace(/\.json$/, '')) ?? [];
  if ((method !== 'GET' && method !== 'POST') || whole === undefined || statedValue(does) !== undefined) return undefined;
  const list = entriesOf(spec.endpoints.all).find(
    ([, one]) =>
      one.method === method && statedValue(one.does)?.verb === 'list' && plainPlaceOf(one.path).replace(/\.json$/, '') === above,
  )?.[1];
  const answer = (statedValue(response) ?? []).find(({ status }) => /^2/.test(status));
  const shape = answer && statedValue(answer.shape);
  if (!list || shape === undefined) return undefined;
  if (isCount(shape, samples)) return { list, said: (total) => total };
  const members = Object.entries(samples.membersOf(shape)).filter((one): one is [string, Shape] => isPlainMap(one[1]));
  // What lists things besides counts them by something.
  if (members.some(([, one]) => isPlainMap(samples.whole(one).items))) return undefined;
  const numbers = members.filter(([, one]) => isCount(one, samples)).map(([name]) => name);
  const plain = numbers.filter((name) => plainest.test(plainName(name)));
  const [member, ...others] = plain.length > 0 ? plain : numbers;
  return member === undefined || others.length > 0 || !/count|total/i.test(member)
    ? undefined
    : { list, said: (total) => ({ [member]: total }) };
}

/** Members that can count nothing but what is asked about. */
const plainest = /^(?:count|total|totalcount|counter)$/;

function isCount(shape: Shape, samples: Samples): boolean {
  const { type } = samples.whole(shape);
  return type === 'integer' || type === 'number';
}

/**
 * Compiles how an endpoint lists the names of things, each of which is read below its path, and which are made there: `GET /indexes`, which is a list of texts
 * or has one such list (`{ names: […], count }`), beside `POST /indexes` and `GET /indexes/{index}`. Nothing where it is of another form.
 */
export function compileNamesOf(endpoint: Endpoint, spec: Spec, samples: Samples): NamesOf | undefined {
  const { method, path, does, response } = endpoint;
  if (method !== 'GET' || statedValue(does) !== undefined) return undefined;
  const place = plainPlaceOf(path);
  const effectsAt = (at: string) =>
    entriesOf(spec.endpoints.all).flatMap(([, one]) => (plainPlaceOf(one.path) === at ? (statedValue(one.does) ?? []) : []));
  const below = effectsAt(`${place}/{}`);
  const read = below.find(({ verb }) => verb === 'read');
  const resource = read && 'resource' in read ? read.resource : undefined;
  const isMade = [...effectsAt(place), ...below].some(
    (one) => (one.verb === 'create' || one.verb === 'upsert') && one.resource === resource,
  );
  const answer = (statedValue(response) ?? []).find(({ status }) => /^2/.test(status));
  const shape = answer && statedValue(answer.shape);
  if (resource === undefined || !isMade || shape === undefined) return undefined;
  if (listsTexts(shape, samples)) return { resource, said: (names) => [...names] };
  const lists = Object.entries(samples.membersOf(shape)).filter(
    ([, one]) => isPlainMap(one) && isPlainMap(samples.whole(one).items),
  );
  const [[member, list] = [], ...others] = lists;
  return member !== undefined && others.length === 0 && isPlainMap(list) && listsTexts(list, samples)
    ? { resource, said: (names) => ({ [member]: [...names] }) }
    : undefined;
}

function listsTexts(shape: Shape, samples: Samples): boolean {
  const { items } = samples.whole(shape);
  return isPlainMap(items) && samples.whole(items).type === 'string';
}
