/** What a caller has put among things of his own. */

import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Row, Transaction } from '../../../store/store.ts';
import { type Exchange, Refused } from '../../exchange/exchange.ts';
import { toJson } from '../../http/json.ts';
import type { Work } from '../act.ts';
import type { RowModel } from '../model.ts';
import type { KeptAnswer, StandIn } from '../stand-in.ts';
import { plainPlaceOf } from './kept-answers.ts';
import { compileShow, listShown } from './lists-shown.ts';

/** So many things are kept of one list. */
const thingsMost = 1000;

/**
 * Compiles what whoever calls has put among things of his own: `PUT /me/likes/{video}`, which sends nothing, `DELETE` and `GET` there, and `GET /me/likes`,
 * which lists videos. What is put is listed, and told as there, until it is taken out. Nothing where a path is of another form.
 */
export function compileOwnThings(
  endpoint: Endpoint,
  spec: Spec,
  samples: Samples,
  given: StandIn['given'],
): KeptAnswer | undefined {
  if (statedValue(endpoint.does) !== undefined) return undefined;
  const isOne = /\/\{[^{}/]+\}$/.test(endpoint.path);
  const list = isOne ? endpoint.path.replace(/\/[^/]*$/, '') : endpoint.path;
  const at = (path: string, method: string) =>
    entriesOf(spec.endpoints.all).find(([, one]) => one.method === method && plainPlaceOf(one.path) === plainPlaceOf(path))?.[1];
  const [listing, putting, taking] = [at(list, 'GET'), at(`${list}/{}`, 'PUT'), at(`${list}/{}`, 'DELETE')];
  if (!listing || !putting || !taking || [listing, putting, taking].some(({ does }) => statedValue(does) !== undefined))
    return undefined;
  const resource = listShown(listing, samples)?.items.resource;
  if (statedValue(putting.request) !== undefined || typeof resource !== 'string') return undefined;
  const show = compileShow(listing, samples);
  const own: OwnThings = { resource, isOne, show, given };
  if (endpoint.method !== 'GET')
    return { sent: () => ({}), listed: () => undefined, keep: (work, exchange) => put(own, work, exchange) };
  if (endpoint !== listing && at(endpoint.path, 'GET') !== endpoint) return undefined;
  return {
    sent: () => ({}),
    listed: (work, exchange) => shown(own, work, exchange),
    keep: (work, exchange) => look(own, work, exchange),
  };
}

interface OwnThings {
  readonly resource: string;
  readonly isOne: boolean;
  readonly show: ReturnType<typeof compileShow>;
  readonly given: StandIn['given'];
}

function put({ isOne }: OwnThings, { rows }: Work, { call: { method, path } }: Exchange): void {
  if (!isOne) return;
  const [list, name] = parted(path);
  const left = namesAt(rows, list).filter((one) => one !== name);
  const names = method === 'PUT' ? [...left, name].slice(-thingsMost) : left;
  rows.keep(listKey(list), { fingerprint: '', body: toJson(names), expiresMs: Number.MAX_SAFE_INTEGER });
}

/** @throws {Refused} `resource.missing` where one is asked for that was not put there. */
function look({ isOne }: OwnThings, { rows }: Work, { call: { path } }: Exchange): void {
  const [list, name] = parted(path);
  if (isOne && !namesAt(rows, list).includes(name)) throw new Refused({ when: 'resource.missing' });
}

function shown(
  { resource, isOne, show, given }: OwnThings,
  work: Work,
  { call: { path } }: Exchange,
): ReturnType<KeptAnswer['listed']> {
  const model = work.models.get(resource);
  const [list, name] = isOne ? parted(path) : [path, ''];
  if (!model || (!work.rows.record(listKey(list), 0) && given.has(resource))) return undefined;
  const names = isOne ? [name] : namesAt(work.rows, list);
  const rows = names.flatMap((one) => rowOf(given, work, model, one) ?? []).map((row) => model.parse(row));
  return isOne ? rows[0] : show(rows, model);
}

function rowOf(given: StandIn['given'], work: Work, model: RowModel, name: string): Row | undefined {
  const there = work.rows.get(model.name, name) ?? given.called(work.rows, model, name);
  return there ?? (given.has(model.name) ? given.find(work, model, name, {}) : undefined);
}

/** A path without its last step, and that step as it is meant. */
function parted(path: string): readonly [string, string] {
  const end = path.lastIndexOf('/');
  const last = path.slice(end + 1);
  try {
    return [path.slice(0, end), decodeURIComponent(last)];
  } catch {
    return [path.slice(0, end), last];
  }
}

function namesAt(rows: Pick<Transaction, 'record'>, list: string): string[] {
  const body = rows.record(listKey(list), 0)?.body;
  // Nobody else writes under this key.
  return body === undefined ? [] : (JSON.parse(body) as string[]);
}

const listKey = (list: string): string => `own things\n${list}`;
