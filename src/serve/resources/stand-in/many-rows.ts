import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Spec } from '../../../parts/spec.ts';
import { mergeJson } from '../../../parts/versions/carry.ts';
import type { Row } from '../../../store/store.ts';
import type { Fields, Value } from '../../exchange/exchange.ts';
import type { Work } from '../act.ts';
import { isFields, ownFields } from '../body.ts';
import { insertRow, updateRow } from '../create.ts';
import { identifierText, type RowModel } from '../model.ts';
import type { ChangeMany } from '../stand-in.ts';
import { compileShow, listedBoth } from './lists-shown.ts';
import { completeRow, mendRow, newIdentifier } from './sampled-rows.ts';
import { keepNames, type Sampling } from './sampling.ts';

/** So many things are made or changed by one request. */
const manyMost = 1000;

/**
 * Compiles what is done with a list of things in a body, where the answer lists the same: each is changed that names one which is there, or that the
 * path names, and every other is made. Nothing where a body or an answer is no such list.
 */
export function compileMany(
  endpoint: Endpoint,
  models: ReadonlyMap<string, RowModel>,
  named: string | undefined,
  sampling: Sampling,
): ChangeMany | undefined {
  const listed = listedBoth(endpoint, sampling.samples);
  const model = listed && models.get(listed.resource);
  if (!listed || !model) return undefined;
  const show = compileShow(endpoint, sampling.samples);
  const { field } = model.identifier;
  const isOne = named === model.name && /\}$/.test(endpoint.path);
  return (work, exchange, row) => {
    const items = itemsIn(exchange.request, listed.member);
    if (items === undefined) return undefined;
    const bound = Object.entries(exchange.pathParams).filter(([name]) => model.fields.has(name) && name !== field);
    const rows = items.map((item): Fields => {
      const sent = ownFields(model.fields, { ...item, ...Object.fromEntries(bound) });
      const id = identifierText(item[field]);
      const there = isOne ? row : id === undefined ? undefined : work.rows.get(model.name, id);
      return there ? changed(sampling, work, model, there, sent) : made(sampling, work, model, id, sent);
    });
    return show(rows, model);
  };
}

function changed(sampling: Sampling, work: Work, model: RowModel, row: Row, sent: Fields): Fields {
  const before = model.parse(row);
  const next = mergeJson(before, { ...sent, [model.identifier.field]: before[model.identifier.field] }) as Fields;
  const { whole, names } = mendRow(sampling, work, model, row.id, next, before);
  keepNames(work.rows, model.name, row.id, names);
  return updateRow(work, model, row, before, whole, 'change many').fields;
}

function made(sampling: Sampling, work: Work, model: RowModel, named: string | undefined, sent: Fields): Fields {
  const id = named ?? newIdentifier(sampling, work, model);
  if (id === undefined) return sent;
  const own = { ...sent, [model.identifier.field]: model.identifier.isInteger ? Number(id) : id };
  return insertRow(work, model, id, completeRow(sampling, work, model, id, own), 'make many').fields;
}

/** The resources of which some operation makes many at once. */
export function madeManyOf(spec: Spec, samples: Samples): readonly string[] {
  return entriesOf(spec.endpoints.all).flatMap(([, endpoint]) => listedBoth(endpoint, samples)?.resource ?? []);
}

function itemsIn(request: Value, member: string | undefined): readonly Fields[] | undefined {
  const list = member === undefined ? request : isFields(request) ? request[member] : undefined;
  if (!Array.isArray(list) || list.length > manyMost || !list.every(isFields)) return undefined;
  return list;
}
