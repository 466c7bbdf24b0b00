/** How an answer that is not the thing itself tells of the thing that it is about: under names, in types and in places of its own. */

import type { Json } from '../../../document/document.ts';
import { plainName } from '../../../document/nearest.ts';
import type { Effect } from '../../../parts/effects.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Fields, Value } from '../../exchange/exchange.ts';
import { isFields, ownFields } from '../body.ts';
import { listsIn } from './lists-shown.ts';
import type { Sampling } from './sampling.ts';

type Members = Readonly<Record<string, Json>>;

/** A thing as an answer tells of it. */
interface ToldThing {
  /** Whether the answer is another than the thing, and has of it no more than `said`. */
  readonly isOther: boolean;
  /** The thing under the names, and its identifier in the type, that the answer has for them. */
  renamed(row: Fields): Fields;
  said(row: Fields): Fields;
  /** Tells what was said in a member that may be anything, whatever was made up for it; changes the answer in place. */
  tellAnything(whole: Value, said: Fields): void;
}

/** Compiles it for an answer of a shape that no `data` makes; `isPlaced`: a member of the answer holds the thing as it is. */
export function compileToldThing(shape: Shape, does: Effect | undefined, isPlaced: boolean, sampling: Sampling): ToldThing {
  const samples = sampling.shown;
  const members = samples.membersOf(shape);
  const resource = does && 'resource' in does ? does.resource : undefined;
  const identifier = resource === undefined ? undefined : sampling.identifierOf(resource);
  const called = resource === undefined ? [] : calledOtherwise(members, resource, samples);
  const naming =
    identifier !== undefined && Object.hasOwn(members, identifier)
      ? identifier
      : called.find(([, field]) => field === identifier)?.[0];
  const tells = does !== undefined && !isPlaced && does.verb !== 'list';
  const isUnsaid = tells && naming === undefined;
  const isMaking = does?.verb === 'create' || does?.verb === 'upsert';
  const within = isUnsaid && resource !== undefined ? thingWithin(members, resource, isMaking, samples, sampling) : undefined;
  // `{ id, result: { … } }` tells which thing was made beside what it has.
  const rest =
    tells && isMaking && !isUnsaid && resource !== undefined
      ? thingWithin(members, resource, false, samples, sampling, true)
      : undefined;
  const isForeign = isUnsaid && resource !== undefined && sharesNothing(shape, members, resource, samples);
  const isGone = does?.verb === 'delete';
  const isTold = isUnsaid && !within && resource !== undefined && (isMaking || isForeign || isGone);
  const word = isTold ? nameTold(members, resource, samples) : undefined;
  const names = new Map(Object.entries(members));
  const retyped = compileRetyped(isPlaced ? undefined : (naming ?? word), members, samples);
  const isOfAny = word !== undefined && isAnything(members[word], samples);
  return {
    // An answer that is no row says of it what it has besides its identifier; what does not even say which one is meant, nothing.
    isOther: within !== undefined || word !== undefined || isGone || isForeign || (tells && shape.properties !== undefined),
    renamed: (row) => retyped(called.length > 0 ? withNames(row, called) : row),
    said(row) {
      if (within) return { [within.member]: within.retyped(ownFields(within.names, row)) };
      const told = word === undefined ? {} : retyped({ [word]: row[identifier ?? ''] });
      if (isGone) return { ...remainsOf(row, members, samples), ...told };
      if (word !== undefined) return { ...ownFields(names, row), ...told };
      if (naming === undefined) return {};
      return { ...ownFields(names, row), ...(rest && { [rest.member]: ownFields(rest.names, row) }) };
    },
    tellAnything(whole, said) {
      if (isOfAny && isFields(whole) && said[word] !== undefined) whole[word] = said[word];
    },
  };
}

/** Compiles the telling of the rows of a list as its answer writes them, where that is otherwise than the rows do: `TemplateId` of `TemplateID`. */
export function compileToldRows(shape: Shape, does: Effect | undefined, sampling: Sampling): (value: Value) => Value {
  const samples = sampling.shown;
  const [list, ...others] = does?.verb === 'list' ? listsIn(shape, samples) : [];
  if (does?.verb !== 'list' || !list || others.length > 0 || list.items.resource === does.resource) return (value) => value;
  const members = samples.membersOf(list.items);
  const identifier = sampling.identifierOf(does.resource);
  const called = calledOtherwise(members, does.resource, samples);
  const naming = called.find(([, field]) => field === identifier)?.[0] ?? identifier;
  const retyped = compileRetyped(naming !== undefined && Object.hasOwn(members, naming) ? naming : undefined, members, samples);
  const told = (row: Value): Value => (isFields(row) ? retyped(called.length > 0 ? withNames(row, called) : row) : row);
  return (value) => {
    if (Array.isArray(value)) return value.map(told);
    const rows = list.name === undefined || !isFields(value) ? undefined : value[list.name];
    return list.name !== undefined && isFields(value) && Array.isArray(rows) ? { ...value, [list.name]: rows.map(told) } : value;
  };
}

/** An identifier is told in the type of its member: the number 7 as `"7"` where texts stand, the text `7` as the number. */
function compileRetyped(name: string | undefined, members: Members, samples: Samples): (row: Fields) => Fields {
  if (name === undefined) return (row) => row;
  const sampler = samples.of(members[name] as Json, name);
  return (row) => {
    const value: Value = row[name];
    if ((typeof value !== 'string' && typeof value !== 'number') || sampler.fits(value)) return row;
    const other = typeof value === 'number' ? String(value) : /^(?:0|[1-9]\d{0,14})$/.test(value) ? Number(value) : value;
    return sampler.fits(other) ? { ...row, [name]: other } : row;
  };
}

/** A member that holds what an answer says of a thing. */
interface Within {
  readonly member: string;
  readonly names: ReadonlyMap<string, Json>;
  retyped(row: Fields): Fields;
}

/**
 * The one member that says which row is meant, where the answer says it within an envelope: nothing but its identifier (`data: { id }`), or the thing written out
 * there (`badge: { … }`), or, of one that was made, what a member of no other meaning has of it (`response: { id, message }`). What holds members besides, or is a
 * thing of its own, tells of something else. `isNamedBeside`: which thing is meant is said elsewhere.
 */
function thingWithin(
  members: Members,
  resource: string,
  isMaking: boolean,
  samples: Samples,
  sampling: Sampling,
  isNamedBeside = false,
): Within | undefined {
  const identifier = sampling.identifierOf(resource);
  if (identifier === undefined) return undefined;
  const fields = samples.membersOf({ resource });
  const holding = Object.entries(members).flatMap(([member, inner]): Within[] => {
    if (!isPlainMap(inner)) return [];
    const own = samples.membersOf(inner);
    const names = new Map(Object.entries(own));
    const isThing = typeof inner.resource === 'string' && sampling.identifierOf(inner.resource) !== undefined;
    const isMeant = isWrittenOut(names, fields, samples) || (isMaking && enveloping.test(member));
    return (names.has(identifier) || isNamedBeside) && !isThing && isMeant
      ? [{ member, names, retyped: compileRetyped(identifier, own, samples) }]
      : [];
  });
  return holding.length === 1 ? holding[0] : undefined;
}

/** Members that hold what an answer is about, whatever that is. */
const enveloping = /^(?:data|response|result|payload|item|object|resource)$/i;

/** Whether members are the identifier of a thing alone, or are most of its fields, or most of them are, in the same types. */
function isWrittenOut(names: ReadonlyMap<string, Json>, fields: Members, samples: Samples): boolean {
  if (names.size === 1) return true;
  const typeOf = (one: Json | undefined) => JSON.stringify(isPlainMap(one) ? samples.whole(one).type : undefined);
  const shared = [...names].filter(([name, one]) => Object.hasOwn(fields, name) && typeOf(one) === typeOf(fields[name])).length;
  return shared >= 3 && shared * 2 > Math.min(names.size, Object.keys(fields).length);
}

/** Whether a shape with a name of its own has members, and none that the thing has: `OperationResult { itemId }` of an order. */
function sharesNothing(shape: Shape, members: Members, resource: string, samples: Samples): boolean {
  if (typeof shape.resource !== 'string' || shape.resource === resource) return false;
  const fields = samples.membersOf({ resource });
  const names = Object.keys(members);
  return names.length > 0 && Object.keys(fields).length > 0 && !names.some((name) => Object.hasOwn(fields, name));
}

/**
 * The member in which the answer to a creation, or a deletion, tells what the thing is called, where it is called otherwise than the thing's own identifier, and no field of the thing
 * is called so: `{ key, status }`, `{ order_id }`.
 */
function nameTold(members: Members, resource: string, samples: Samples): string | undefined {
  const fields = new Set(Object.keys(samples.membersOf({ resource })).map(plainName));
  const words = ['id', `${plainName(resource)}id`, 'uuid', 'guid', 'uid', 'identifier', 'key', 'itemid', 'entityid', 'recordid'];
  const told = Object.entries(members).filter(([name, one]) => {
    const { type, enum: listed } = isPlainMap(one) ? samples.whole(one) : {};
    const isName = type === 'string' || type === 'integer' || type === 'number' || isAnything(one, samples);
    return isName && listed === undefined && words.includes(plainName(name)) && !fields.has(plainName(name));
  });
  const own = words.flatMap((word) => told.find(([name]) => plainName(name) === word)?.[0] ?? [])[0];
  return own ?? namedAfter(members, resource, fields);
}

/** `accountId`, where the thing is called `AccountBasicInfo`: the one member that is a name by its last word and whose other words are all the thing's. */
function namedAfter(members: Members, resource: string, fields: ReadonlySet<string>): string | undefined {
  const known = wordsIn(resource);
  const named = Object.keys(members).filter((name) => {
    const words = wordsIn(name);
    return (
      words.length > 1 &&
      words.at(-1) === 'id' &&
      words.slice(0, -1).every((word) => known.includes(word)) &&
      !fields.has(plainName(name))
    );
  });
  return named.length === 1 ? named[0] : undefined;
}

/** The words of a name, in small letters: `getAccountID` is of `get`, `account` and `id`. */
function wordsIn(name: string): string[] {
  return (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((word) => word.toLowerCase());
}

/** A map without members: generators write so what may be anything. */
function isAnything(one: Json | undefined, samples: Samples): boolean {
  if (one === undefined || !isPlainMap(one)) return false;
  const { type, items, additionalProperties } = samples.whole(one);
  const isOpen = (type === undefined || type === 'object') && items === undefined && additionalProperties === undefined;
  return isOpen && Object.keys(samples.membersOf(one)).length === 0;
}

/** Members of an answer that are fields in other letters: `TemplateId` of `TemplateID`. */
function calledOtherwise(members: Members, resource: string, samples: Samples): readonly (readonly [string, string])[] {
  const fields = Object.keys(samples.membersOf({ resource }));
  return Object.keys(members).flatMap((name) => {
    if (fields.includes(name)) return [];
    const alike = fields.filter((field) => plainName(field) === plainName(name) && !Object.hasOwn(members, field));
    return alike.length === 1 ? [[name, alike[0] as string] as const] : [];
  });
}

function withNames(row: Fields, called: readonly (readonly [string, string])[]): Fields {
  const own = called.filter(([, field]) => row[field] !== undefined);
  const kept = Object.entries(row).filter(([name]) => !own.some(([, field]) => field === name));
  return { ...Object.fromEntries(kept), ...Object.fromEntries(own.map(([name, field]) => [name, row[field]])) };
}

/** What an answer says of a row that is gone: the fields that it names, and that it is deleted. */
function remainsOf(row: Fields, members: Members, samples: Samples): Fields {
  const named = Object.entries(row).filter(([name]) => Object.hasOwn(members, name));
  const flags = Object.entries(members).flatMap(([name, shape]) =>
    /^(?:is_?)?deleted$/i.test(name) && samples.of(shape).fits(true) ? [name] : [],
  );
  return Object.fromEntries([...named, ...flags.map((name) => [name, true] as const)]);
}
