import { createHash } from 'node:crypto';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { identifierParameter } from '../../../parts/payload.ts';
import type { Resource } from '../../../parts/resources.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Spec } from '../../../parts/spec.ts';
import { madeByAct } from '../../../parts/whole-paths.ts';
import type { Reader, Row, Transaction } from '../../../store/store.ts';
import type { Fields, Value } from '../../exchange/exchange.ts';
import { parseStored, toJson } from '../../http/json.ts';
import type { Work } from '../act.ts';
import { insertRow } from '../create.ts';
import { identifierValue, type RowModel } from '../model.ts';
import { madeManyOf } from './many-rows.ts';
import { rowCalled } from './rows-called.ts';
import { isMadeUp, makeRowIfFree } from './sampled-rows.ts';
import type { Sampling } from './sampling.ts';

/** Rows that no operation makes: those that are there from the start, with the names that are reckoned of their members, and those that are brought back. */

/**
 * Rows that are there although no operation of the document makes such a thing: the account that everything belongs to, the
 * countries that there are. A stand-in has every one of them that it is asked for, until it is deleted.
 */
export class UnmadeRows {
  readonly #made: ReadonlySet<string>;
  /** Those of rows that are made, and known by more of a path than its end: whoever speaks of one has made it in its place. */
  readonly #placed: ReadonlySet<string>;
  readonly #sampling: Sampling;
  readonly #restored: RestoredRows;
  readonly reckoned: ReckonedNames;

  constructor(spec: Spec, sampling: Sampling) {
    this.#sampling = sampling;
    this.#restored = new RestoredRows(spec);
    this.reckoned = new ReckonedNames(spec, sampling.shown);
    const byOne = entriesOf(spec.endpoints.all).flatMap(([, endpoint]) => {
      const effect = statedValue(endpoint.does);
      return effect?.verb === 'create' || effect?.verb === 'upsert' ? [effect.resource] : (madeByAct(spec, endpoint) ?? []);
    });
    this.#made = new Set([...byOne, ...madeManyOf(spec, sampling.samples)]);
    const placed = entriesOf(spec.endpoints.all).flatMap(([, { does, identity }]) => {
      const effect = statedValue(does);
      return effect?.verb === 'read' && (identity?.source.match(/\bparams\.\w+/g)?.length ?? 0) > 1 ? [effect.resource] : [];
    });
    this.#placed = new Set(placed.filter((resource) => this.#made.has(resource)));
  }

  /** Whether nothing makes the rows of a resource. */
  has(resource: string): boolean {
    return !this.#made.has(resource);
  }

  /** The row of an identifier, made when it is first asked for; nothing where it was deleted, or where no row can be called so. */
  find(work: Work, model: RowModel, id: string, bound: Fields): Row | undefined {
    const there = work.rows.get(model.name, id);
    if (there || !this.has(model.name) || work.rows.record(goneKey(model.name, id), 0)) return there;
    // Whoever was shown a list of them knows which there are.
    if (!ownNames.has(id) && work.rows.record(listedKey(model.name, bound), 0)) return undefined;
    const field = model.fields.get(model.identifier.field);
    const named = identifierValue(id, model.identifier.isInteger);
    const shape = field && statedValue(field.shape);
    if (shape && !this.#sampling.samples.of(shape).fits(named)) return undefined;
    makeRowIfFree(this.#sampling, work, model, id, { ...bound, [model.identifier.field]: named });
    return work.rows.get(model.name, id);
  }

  /** The row that people call so, where its identifier is another. */
  called(rows: Reader, model: RowModel, name: string, beside?: Readonly<Record<string, string>>): Row | undefined {
    return rowCalled(rows, model, name, beside) ?? this.reckoned.called(rows, model, name);
  }

  /** Makes the rows that a list begins with, once for each parent. */
  list(work: Work, model: RowModel, bound: Fields): void {
    const key = listedKey(model.name, bound);
    if (!this.has(model.name) || work.rows.record(key, 0)) return;
    work.rows.keep(key, kept);
    if (work.rows.scan(model.name, 0, 1).length > 0) return;
    const place = JSON.stringify(bound);
    for (let at = 1; at <= listedFirst; at++) {
      const id = this.#sampling.identifier(model.name, `${model.name}\n${place}\n${at}`, work.rows.next(model.name));
      if (id === undefined || work.rows.get(model.name, String(id))) continue;
      makeRowIfFree(this.#sampling, work, model, String(id), { ...bound, [model.identifier.field]: id });
    }
  }

  /** Remembers that a row is gone, so that it does not come back when it is asked for, and what it was where something brings it back. */
  gone(rows: Transaction, model: RowModel, id: string, fields: Fields): void {
    rows.keep(goneKey(model.name, id), { ...kept, body: this.#restored.kept(model, fields) });
    rows.keep(goneKey(model.name, ''), kept);
  }

  /** Rows whose whole name begins with that of another: `projects/p/services/s/backups/b` below `projects/p/services/s`. */
  below({ rows, models }: Work, id: string): readonly { readonly model: RowModel; readonly row: Row }[] {
    if (!id.includes('/')) return [];
    return [...models.values()].flatMap((model) =>
      rows.scan(model.name, 0, belowMost).flatMap((row) => (row.id.startsWith(`${id}/`) ? [{ model, row }] : [])),
    );
  }

  /** The row that was deleted, there again. */
  back(work: Work, model: RowModel, id: string): Row | undefined {
    const key = goneKey(model.name, id);
    const row = this.#restored.back(work, model, id, work.rows.record(key, 0)?.body ?? '');
    if (row) work.rows.keep(key, { ...kept, expiresMs: 0 });
    return row;
  }

  /** Whether nobody has ever made or deleted a row of a resource; what was made up for an answer nobody has made. */
  isUntouched(rows: Reader, resource: string): boolean {
    return !this.#placed.has(resource) && hasOnlyMadeUp(rows, resource) && !rows.record(goneKey(resource, ''), 0);
  }

  /** Whether a row that is not stored may be referred to all the same: where nothing makes such rows, or nobody has yet. */
  mayBeNamed(rows: Reader, resource: string, id: string): boolean {
    const mayBeThere = this.has(resource) || (!this.#placed.has(resource) && hasOnlyMadeUp(rows, resource));
    return mayBeThere && !rows.record(goneKey(resource, id), 0);
  }
}

/** Whether all rows of a resource were made up, or there are none. Of many somebody made some. */
function hasOnlyMadeUp(rows: Reader, resource: string): boolean {
  const some = rows.scan(resource, 0, madeUpMost + 1);
  return some.length <= madeUpMost && some.every(({ id }) => isMadeUp(rows, resource, id));
}

const madeUpMost = 100;
/** So many rows of a kind are looked at for those that stand below another. */
const belowMost = 5000;

/** Names by which callers speak of what is theirs. */
const ownNames: ReadonlySet<string> = new Set(['me', 'self', 'current', 'default', 'primary', 'last-used', '~', '@me']);

/** How many rows a list begins with. */
const listedFirst = 3;

const kept = { fingerprint: '', body: '', expiresMs: Number.MAX_SAFE_INTEGER };

function listedKey(resource: string, bound: Fields): string {
  return `listed\n${resource}\n${JSON.stringify(bound)}`;
}

function goneKey(resource: string, id: string): string {
  return `gone\n${resource}\n${id}`;
}

/** What a thing is called by, where that is reckoned of one of its members: the MD5 hash of an address, the slug of a name. */
interface Reckoned {
  readonly field: string;
  readonly reckon: (value: string) => string;
}

const searchedMost = 1000;
const describedMost = 300;

/**
 * Things whose names are reckoned: where the description of an identifier, or of the parameter by which one thing is read, says that it is the hash, the slug
 * or the lower-cased form of a member that the thing has.
 */
class ReckonedNames {
  readonly #spec: Spec;
  readonly #samples: Samples;
  #found: ReadonlyMap<string, Reckoned> | undefined;

  constructor(spec: Spec, samples: Samples) {
    this.#spec = spec;
    this.#samples = samples;
  }

  /** Looked for when the first thing is looked for by a name. */
  get #byResource(): ReadonlyMap<string, Reckoned> {
    this.#found ??= reckonedNames(this.#spec, this.#samples);
    return this.#found;
  }

  /** What a thing of these members is called; nothing where that is not reckoned. */
  nameOf({ name }: RowModel, fields: Fields): string | undefined {
    const { field, reckon } = this.#byResource.get(name) ?? {};
    const value: Value = field === undefined ? undefined : fields[field];
    return typeof value === 'string' && value !== '' ? reckon?.(value) : undefined;
  }

  /** The row that is called so, among the first thousand. */
  called(rows: Reader, model: RowModel, name: string): Row | undefined {
    if (!this.#byResource.has(model.name)) return undefined;
    const plain = name.toLowerCase();
    return rows.scan(model.name, 0, searchedMost).find((row) => this.nameOf(model, model.parse(row)) === plain);
  }
}

function reckonedNames(spec: Spec, samples: Samples): ReadonlyMap<string, Reckoned> {
  const found = new Map<string, Reckoned>();
  for (const [, { does, parameters, ...endpoint }] of entriesOf(spec.endpoints.all)) {
    const effect = statedValue(does);
    const resource = effect?.verb === 'read' ? entryOf(spec.resources.all, effect.resource) : undefined;
    if (!resource || found.has(resource.name)) continue;
    const named = identifierParameter({ does, parameters, ...endpoint });
    const asked = entriesOf(parameters).find(([, { name, in: place }]) => place === 'path' && name === named)?.[1];
    const own = entryOf(resource.fields, statedValue(resource.identifier)?.field ?? '');
    const said = [own?.shape, asked?.shape].flatMap(
      (shape) => samples.whole((shape && statedValue(shape)) ?? {}).description ?? [],
    );
    const one = said.map((text) => reckonedBy(String(text).slice(0, describedMost), resource)).find((each) => each !== undefined);
    if (one) found.set(resource.name, one);
  }
  return found;
}

/** What a description says that a name is reckoned of: `The MD5 hash of the lowercase version of the e-mail address`. */
function reckonedBy(text: string, { fields, identifier }: Resource): Reckoned | undefined {
  const [, algorithm, slug, lower, rest = ''] =
    /\b(?:(md5|sha-?1|sha-?256|sha-?512)(?:[ -](?:hash|digest|checksum|sum))?|(slug)(?: form| version)?|(lower-?cased?)(?: form| version)?) of ([^.;]+)/i.exec(
      text,
    ) ?? [];
  const words = ` ${plainWords(rest)} `;
  const own = statedValue(identifier)?.field;
  const named = entriesOf(fields)
    .map(([name]) => name)
    .filter((name) => name !== own && words.includes(` ${plainWords(name)} `))
    .toSorted((one, other) => other.length - one.length);
  const [field] = named;
  if (field === undefined) return undefined;
  const isLower = lower !== undefined || /\blower-?\s?cased?\b/i.test(rest);
  const even = (value: string) => (isLower ? value.toLowerCase() : value);
  if (slug !== undefined) return { field, reckon: slugOf };
  if (algorithm === undefined) return { field, reckon: even };
  const digest = algorithm.replace('-', '').toLowerCase();
  return { field, reckon: (value) => createHash(digest).update(even(value)).digest('hex') };
}

function slugOf(value: string): string {
  const words = value
    .normalize('NFKD')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  return words.filter((word) => word !== '').join('-');
}

function plainWords(text: string): string {
  const apart = text.replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2').replaceAll(/e-mail/gi, 'email');
  return apart
    .split(/[^\p{L}\p{N}]+/u)
    .join(' ')
    .trim()
    .toLowerCase();
}

/** So long a row is kept for when it is brought back, as JSON. */
const keptLengthMost = 64 * 1024;

/** Rows that are brought back after their deletion: those of resources of which the document has an act that is called so. */
class RestoredRows {
  readonly #resources: ReadonlySet<string>;

  constructor(spec: Spec) {
    const endpoints = entriesOf(spec.endpoints.all).map(([, endpoint]) => endpoint);
    const acts = new Set(endpoints.filter(isRestoring).map(({ path }) => plain(path).replace(/\/[^/]*$/, '')));
    const resources = endpoints.flatMap(({ does, path }) => {
      const effect = statedValue(does);
      return effect?.verb === 'delete' && acts.has(plain(path)) ? [effect.resource] : [];
    });
    this.#resources = new Set(resources);
  }

  /** What is kept of a row that is gone: nothing where nothing brings it back. */
  kept({ name }: RowModel, fields: Fields): string {
    if (!this.#resources.has(name)) return '';
    const body = toJson(fields);
    return body.length > keptLengthMost ? '' : body;
  }

  /** The row that was kept so, there again. */
  back(work: Work, model: RowModel, id: string, kept: string): Row | undefined {
    if (kept === '' || !this.#resources.has(model.name)) return undefined;
    insertRow(work, model, id, parseStored(kept), `restore ${model.name}`);
    return work.rows.get(model.name, id);
  }
}

/** Whether an act brings back what was deleted: `POST /things/{id}/restore`. */
export function isRestoring({ method, path }: Pick<Endpoint, 'method' | 'path'>): boolean {
  return (
    (method === 'POST' || method === 'PUT') &&
    /\/\{[^{}/]+\}[/:](?:actions\/)?(?:restore|recover|reinstate|un-?delete|un-?trash)$/i.test(plainly(path))
  );
}

const plainly = (path: string): string => path.replace(/[?#].*$/, '');

/** A path whatever its parameters are called. */
const plain = (path: string): string =>
  plainly(path)
    .replaceAll(/\{[^{}]*\}/g, '{}')
    .replace('/actions/', '/');
