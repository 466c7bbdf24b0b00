/**
 * Tags of things of any kind, which are called by one name each: `TagResource`, `UntagResource`, `ListTagsForResource`; `POST`, `DELETE` and `GET /tags/{resource}`.
 */

import { plainName } from '../../../document/nearest.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Reader, Row, Transaction } from '../../../store/store.ts';
import { type Exchange, type Fields, Refused, type Value } from '../../exchange/exchange.ts';
import type { Work } from '../act.ts';
import { isFields } from '../body.ts';
import { updateRow } from '../create.ts';
import type { RowModel } from '../model.ts';
import type { KeptAnswer, Rows } from '../stand-in.ts';
import { keepAt, keptAt } from './kept-answers.ts';

/** Where an operation says which thing is meant, and where it sends or shows tags, or names those that are taken away. */
interface TagAct {
  readonly does: 'tell' | 'tag' | 'untag';
  /** The parameter or member that names the thing. */
  readonly thing: string;
  /** The member that holds the tags, or the names of those that go. */
  readonly member: string;
}

/** Compiles the keeping of tags; nothing where an endpoint neither sets nor tells them, or where a document does not have both. */
export function compileKeptTags(endpoint: Endpoint, spec: Spec, samples: Samples): KeptAnswer | undefined {
  const act = tagActIn(endpoint, samples);
  if (!act) return undefined;
  const acts = entriesOf(spec.endpoints.all).map(([, one]) => tagActIn(one, samples)?.does);
  if (!acts.includes('tell') || !acts.includes('tag')) return undefined;
  const items =
    act.does === 'tell' ? pairIn(answerOf(endpoint), act.member, samples) : pairIn(requestOf(endpoint), act.member, samples);
  const isClosed = makesKnown(spec, samples);
  return {
    sent(work, exchange) {
      if (act.does !== 'tell') return {};
      const tags = tagsOf(work, nameIn(exchange, act.thing)) ?? {};
      return { [act.member]: written(tags, items) };
    },
    listed: () => undefined,
    keep(work, exchange) {
      const name = nameIn(exchange, act.thing);
      if (name === undefined) return;
      const owner = ownerOf(work, name);
      const before = tagsOf(work, name, owner);
      if (before === undefined && isClosed) throw new Refused({ when: 'resource.missing' });
      if (act.does === 'tell') return;
      const sent = isFields(exchange.request) ? exchange.request[act.member] : undefined;
      const next: Record<string, Value> = { ...before };
      if (act.does === 'tag') Object.assign(next, tagsIn(sent));
      else for (const key of keysIn(sent ?? exchange.params[act.member])) delete next[key];
      keepTags(work.rows, name, next);
      if (owner) showTags(work, owner, next, samples);
    },
  };
}

/** Keeps the tags with which a thing is made, under each name that it is called by. */
export function keepSentTags(work: Work, model: RowModel, row: Fields): void {
  const { request } = work.scope;
  if (!isFields(request)) return;
  const [, sent] = Object.entries(request).find(([name]) => isSentTags(name)) ?? [];
  const tags = tagsIn(sent);
  if (Object.keys(tags).length === 0) return;
  for (const name of namesOf(model, row)) keepTags(work.rows, name, tags);
}

/** What an operation does with tags, by its name and by what it takes and shows. */
function tagActIn(endpoint: Endpoint, samples: Samples): TagAct | undefined {
  const { does, path, operation, parameters, method } = endpoint;
  const word = plainName(`${operation} ${path.replaceAll(/\{[^{}]*\}/g, '')}`);
  if (!/tag/.test(word) || statedValue(does) !== undefined) return undefined;
  const request = requestOf(endpoint);
  const sent = request ? samples.membersOf(request) : {};
  const inPath = entriesOf(parameters).filter(([, one]) => one.in === 'path');
  const inQuery = entriesOf(parameters).filter(([, one]) => one.in === 'query');
  const scalars = Object.keys(sent).filter((name) => typeOf(sent[name], samples) === 'string');
  const things = [...inPath.map(([name]) => name), ...inQuery.map(([name]) => name), ...scalars].filter((name) =>
    isThingName(name),
  );
  const [thing] = things;
  if (thing === undefined || things.length > 1 || inPath.length > 1) return undefined;
  const tags = Object.keys(sent).find((name) => isTagsName(name) && isTags(sent[name], samples));
  const keys = [...Object.keys(sent), ...inQuery.map(([name]) => name)].find((name) => isKeysName(name));
  const shown = answerOf(endpoint);
  const told = Object.entries(shown ? samples.membersOf(shown) : {}).find(
    ([name, one]) => isTagsName(name) && isTags(one, samples),
  );
  if (tags !== undefined && method !== 'GET') return { does: 'tag', thing, member: tags };
  if (keys !== undefined && (method === 'DELETE' || /untag|remove|delete/.test(word)))
    return { does: 'untag', thing, member: keys };
  return told && !/untag|remove/.test(word) ? { does: 'tell', thing, member: told[0] } : undefined;
}

/** `tags`, `TagList`. */
function isTagsName(name: string): boolean {
  return /^(?:resource)?tags?(?:list|set)?$/.test(plainName(name));
}

/** What a new thing is sent with may be called after it: `VaultTags`. */
function isSentTags(name: string): boolean {
  return isTagsName(name) || /[a-z]Tags$|_tags$/.test(name);
}

/** `tagKeys`, and `Keys` of what is taken away. */
function isKeysName(name: string): boolean {
  return /^tag(?:s|keys?|keylist|names)$|^keys$/.test(plainName(name));
}

/** `resourceArn`, `ResourceName`, `resource_id`: a thing of any kind. */
function isThingName(name: string): boolean {
  return /^(?:resource(?:arn|id|name|identifier|uri)?|arn|id)$/.test(plainName(name));
}

/** A map of texts, or a list of names with their values. */
function isTags(shape: unknown, samples: Samples): boolean {
  if (!isPlainMap(shape as Shape)) return false;
  const { type } = samples.whole(shape as Shape);
  return type === 'object' || pairOf(shape as Shape, samples) !== undefined;
}

interface Pair {
  readonly key: string;
  readonly value: string;
}

/** How the items of a list call the name of a tag and its value: `{ Key, Value }`. */
function pairOf(shape: Shape, samples: Samples): Pair | undefined {
  const { items } = samples.whole(shape);
  const names = isPlainMap(items) ? Object.keys(samples.membersOf(items)) : [];
  const called = (word: RegExp) => names.find((name) => word.test(plainName(name)));
  const [key, value] = [called(/^(?:tag)?(?:key|name)$/), called(/^(?:tag)?value$/)];
  return key !== undefined && value !== undefined ? { key, value } : undefined;
}

function pairIn(shape: Shape | undefined, member: string, samples: Samples): Pair | undefined {
  const inner = shape ? samples.membersOf(shape)[member] : undefined;
  return isPlainMap(inner) ? pairOf(inner, samples) : undefined;
}

function requestOf({ request }: Endpoint): Shape | undefined {
  return statedValue(request);
}

function answerOf({ response }: Endpoint): Shape | undefined {
  const answer = (statedValue(response) ?? []).find(({ status }) => /^2/.test(status));
  return answer && isStated(answer.shape) ? answer.shape.value : undefined;
}

function typeOf(shape: unknown, samples: Samples): unknown {
  return isPlainMap(shape as Shape) ? samples.whole(shape as Shape).type : undefined;
}

/** Whether every operation that takes tags of a new thing makes one that is known, so that what none of these is called is not there. */
function makesKnown({ endpoints }: Spec, samples: Samples): boolean {
  const tagging = entriesOf(endpoints.all).filter(([, one]) => {
    const request = one.method === 'GET' || tagActIn(one, samples) ? undefined : requestOf(one);
    return Object.keys(request ? samples.membersOf(request) : {}).some(isSentTags);
  });
  return tagging.length > 0 && tagging.every(([, { does }]) => statedValue(does) !== undefined);
}

/** What a request calls the thing. */
function nameIn({ params, pathParams, request }: Exchange, thing: string): string | undefined {
  const said = pathParams[thing] ?? params[thing] ?? (isFields(request) ? request[thing] : undefined);
  return typeof said === 'string' && said !== '' && said.length <= nameMost ? said : undefined;
}

const nameMost = 2048;
/** So many tags a thing has at most, and so many rows of a kind are looked at for one that is called so. */
const tagsMost = 200;
const looksMost = 2000;

/** Tags as a map, whether they were sent as one or as a list. */
function tagsIn(sent: Value | undefined): Readonly<Record<string, Value>> {
  if (isFields(sent)) return Object.fromEntries(Object.entries(sent).slice(0, tagsMost));
  if (!Array.isArray(sent)) return {};
  return Object.fromEntries(
    sent.slice(0, tagsMost).flatMap((one: Value): [string, Value][] => {
      if (!isFields(one)) return [];
      const called = (word: RegExp) => Object.entries(one).find(([name]) => word.test(plainName(name)))?.[1];
      const key = called(/^(?:tag)?(?:key|name)$/);
      return typeof key === 'string' ? [[key, called(/^(?:tag)?value$/) ?? '']] : [];
    }),
  );
}

function keysIn(sent: Value | undefined): readonly string[] {
  const keys: readonly Value[] = Array.isArray(sent) ? sent : [sent];
  return keys.flatMap((one) => {
    if (typeof one === 'string') return [one];
    const key = isFields(one) ? Object.entries(one).find(([name]) => /key$/i.test(name))?.[1] : undefined;
    return typeof key === 'string' ? [key] : [];
  });
}

function written(tags: Readonly<Record<string, Value>>, pair: Pair | undefined): Value {
  return pair ? Object.entries(tags).map(([key, value]): Value => ({ [pair.key]: key, [pair.value]: value })) : { ...tags };
}

function placeOf(name: string): string {
  return `/ tags of ${encodeURIComponent(name)}`;
}

function keepTags(rows: Transaction, name: string, tags: Readonly<Record<string, Value>>): void {
  keepAt(rows, placeOf(name), { fields: { ...tags }, items: [], isThere: true });
}

interface Owner {
  readonly model: RowModel;
  readonly row: Row;
}

/** The tags of a thing; nothing where no thing is called so. */
function tagsOf(
  work: Rows,
  name: string | undefined,
  owner = name === undefined ? undefined : ownerOf(work, name),
): Readonly<Record<string, Value>> | undefined {
  const kept = name === undefined ? undefined : keptAt(work.rows, placeOf(name));
  if (kept?.isThere) return kept.fields;
  const field = owner && tagsField(owner.model);
  return owner && (field === undefined ? {} : tagsIn(owner.model.parse(owner.row)[field]));
}

/** The row that is called so, by its identifier or by a name that is good everywhere. */
function ownerOf({ rows, models }: Rows, name: string): Owner | undefined {
  for (const model of models.values()) {
    const row = rows.get(model.name, name);
    if (row) return { model, row };
  }
  for (const model of models.values()) {
    if (globalFields(model).length === 0) continue;
    for (const row of rowsOf(rows, model))
      if (globalFields(model).some((field) => model.parse(row)[field] === name)) return { model, row };
  }
  return undefined;
}

function rowsOf(rows: Reader, model: RowModel): readonly Row[] {
  return rows.scan(model.name, 0, looksMost);
}

/** Fields that hold a name which no other thing of any kind has; looked for once. */
function globalFields(model: RowModel): readonly string[] {
  const known = globals.get(model) ?? [...model.fields.keys()].filter((name) => /arn$|urn$|^selflink$/.test(plainName(name)));
  globals.set(model, known);
  return known;
}

const globals = new WeakMap<RowModel, readonly string[]>();

function namesOf(model: RowModel, row: Fields): readonly string[] {
  return [model.identifier.field, ...globalFields(model)].flatMap((field) => {
    const value = row[field];
    return typeof value === 'string' && value !== '' ? [value] : [];
  });
}

function tagsField(model: RowModel): string | undefined {
  return [...model.fields.keys()].find((name) => isTagsName(name));
}

/** A thing that shows its tags shows them as they are now. */
function showTags(work: Work, { model, row }: Owner, tags: Readonly<Record<string, Value>>, samples: Samples): void {
  const field = tagsField(model);
  if (field === undefined) return;
  const shape = statedValue(model.fields.get(field)!.shape);
  const before = model.parse(row);
  updateRow(work, model, row, before, { ...before, [field]: written(tags, shape && pairOf(shape, samples)) }, 'tag');
}
